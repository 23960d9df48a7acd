"""ATAN."""
import math

import numpy as np

from common import f16, f32, f64, make_unary, write

POINTS = [0.0, -0.0, 1e-30, -1e-30, 1e-8, 0.1, -0.25, 0.4142135, -0.4142136, 0.5, 0.9999999, 1.0, -1.0, 1.0000001, 2.4142134, 2.4142137,
          -3.0, 10.0, 1e4, -1e10, 1e30, np.inf, -np.inf, np.nan]
TOLERANCES = {f32: (1e-45, 3e-7), f16: (6e-8, 1e-3), f64: (5e-324, 4e-16)}

angles = np.vectorize(lambda v: math.atan(v), otypes=[f64])


if __name__ == "__main__":
    write(make_unary("ATAN", angles, POINTS, TOLERANCES), "Expected values: Python's math.atan, the C library's in float64.")
