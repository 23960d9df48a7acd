"""ASINH."""
import math

import numpy as np

from common import f16, f32, f64, make_unary, write

POINTS = [0.0, -0.0, 1e-30, -1e-30, 1e-8, 1e-4, 0.1, -0.25, 0.5, 1.0, -2.0, 30.0, -1000.0, 16384.0, 16385.0, 65504.0, -1e6, 2.6843545e8,
          2.7e8, 1e20, -1e30, 3e38, 1e300, np.inf, -np.inf, np.nan]
TOLERANCES = {f32: (1e-45, 3e-7), f16: (6e-8, 1e-3), f64: (5e-324, 5e-16)}

logarithms = np.vectorize(lambda v: math.asinh(v), otypes=[f64])


if __name__ == "__main__":
    write(make_unary("ASINH", logarithms, POINTS, TOLERANCES), "Expected values: Python's math.asinh, the C library's in float64.")
