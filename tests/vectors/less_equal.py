"""LESS_EQUAL."""
import numpy as np

from common import make_predicate, write


if __name__ == "__main__":
    write(make_predicate("LESS_EQUAL", np.less_equal), "Expected values: numpy.less_equal.")
