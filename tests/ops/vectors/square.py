"""SQUARE."""
import numpy as np

from common import make_unary, NUMBERS, write
from quantised_elements import cases

POINTS = [0.0, -0.0, 1.0, -1.0, 0.3, -0.3, 1.1, 255.9, 256.0, 1e-30, 1e-22, 1e20, -1e30, np.inf, -np.inf, np.nan]



if __name__ == "__main__":
    write(make_unary("SQUARE", np.square, POINTS, whole=lambda v: v * v, types=NUMBERS),
          "Expected values: numpy in float64 and Python integers, exact.", also=cases("SQUARE"))
