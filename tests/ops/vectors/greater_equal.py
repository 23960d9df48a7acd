"""GREATER_EQUAL."""
import numpy as np

from common import make_predicate, write
from quantised_elements import cases


if __name__ == "__main__":
    write(make_predicate("GREATER_EQUAL", np.greater_equal), "Expected values: numpy.greater_equal.",
          also=cases("GREATER_EQUAL"))
