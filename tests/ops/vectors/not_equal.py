"""NOT_EQUAL."""
import numpy as np

from common import make_predicate, write
from quantised_elements import cases


if __name__ == "__main__":
    write(make_predicate("NOT_EQUAL", np.not_equal), "Expected values: numpy.not_equal.", also=cases("NOT_EQUAL"))
