"""NEG."""
import operator

import numpy as np

from common import FLOATS, make_unary, SIGNED, write

POINTS = [0.0, -0.0, 1.0, -1.0, 0.3, -0.3, 1e-30, -1e-30, 1e30, -1e30, np.inf, -np.inf, np.nan]


if __name__ == "__main__":
    write(make_unary("NEG", np.negative, POINTS, whole=operator.neg, types=FLOATS + SIGNED),
          "Expected values: numpy and Python integers, exact.")
