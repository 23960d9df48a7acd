"""RECIPROCAL."""
import numpy as np

from common import make_unary, write

POINTS = [0.0, -0.0, 1.0, -1.0, 3.0, -7.0, 0.1, 49.0, 1e-30, -1e-30, 1e-39, 3e38, 6.5e4, 1e30, np.inf, -np.inf, np.nan]



if __name__ == "__main__":
    write(make_unary("RECIPROCAL", np.reciprocal, POINTS),
          "Expected values: numpy in float64, rounded once, exact.")
