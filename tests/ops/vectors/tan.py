"""TAN."""
import math

import numpy as np

from common import f16, f32, f64, make_unary, write

POINTS = [0.0, -0.0, 1e-30, -1e-30, 0.000244140625, 0.0002, 0.1, 0.5, 0.7853981, 0.7853983, -1.0, 1.5707963, 1.5707964, 2.0, 3.0,
          3.1415927, -3.1415925, 4.712389, 6.2831855, 10.0, -22.0, 355.0, 1e4, -31415.926, 65504.0, 1e10, 8.5e22, 1e30, -3e38,
          1e300, np.inf, -np.inf, np.nan]
TOLERANCES = {f32: (1e-45, 4e-7), f16: (6e-8, 1e-3), f64: (5e-324, 1e-15)}

tangents = np.vectorize(lambda v: math.tan(v) if math.isfinite(v) else math.nan, otypes=[f64])


if __name__ == "__main__":
    write(make_unary("TAN", tangents, POINTS, TOLERANCES), "Expected values: Python's math.tan, the C library's in float64.")
