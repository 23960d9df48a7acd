"""COSH."""
import math

import numpy as np

from common import f16, f32, f64, make_unary, write

POINTS = [0.0, -0.0, 1e-30, -1e-30, 1e-4, 0.1, -0.25, 0.5, 1.0, -1.5, 3.0, -11.5, 18.0, 21.9, -22.1, 87.9, 88.1, -89.0, 89.41, 89.42,
          90.0, 700.1, -709.9, 710.4, 711.0, 1e30, np.inf, -np.inf, np.nan]
TOLERANCES = {f32: (1e-45, 3e-7), f16: (6e-8, 1e-3), f64: (5e-324, 5e-16)}

cosines = np.vectorize(lambda v: math.cosh(v) if abs(v) < 710.475 else abs(v) if v != v else math.inf, otypes=[f64])


if __name__ == "__main__":
    write(make_unary("COSH", cosines, POINTS, TOLERANCES), "Expected values: Python's math.cosh, the C library's in float64.")
