"""ASIN."""
import math

import numpy as np

from common import f16, f32, f64, make_unary, write

POINTS = [0.0, -0.0, 1e-30, -1e-30, 1e-8, 0.1, -0.25, 0.4, 0.38268343, -0.5, 0.7, 0.70710678, 0.9, 0.92387953, -0.99, 0.9999999, 1.0,
          -1.0, 1.0000001, -1.5, 1e30, np.inf, -np.inf, np.nan]
TOLERANCES = {f32: (1e-45, 3e-7), f16: (6e-8, 1e-3), f64: (5e-324, 7e-16)}

angles = np.vectorize(lambda v: math.asin(v) if abs(v) <= 1 else math.nan, otypes=[f64])


if __name__ == "__main__":
    write(make_unary("ASIN", angles, POINTS, TOLERANCES, step=0.0625), "Expected values: Python's math.asin, the C library's in float64.")
