"""LESS_EQUAL."""
import numpy as np

from common import make_predicate, write
from quantised_elements import cases


if __name__ == "__main__":
    write(make_predicate("LESS_EQUAL", np.less_equal), "Expected values: numpy.less_equal.", also=cases("LESS_EQUAL"))
