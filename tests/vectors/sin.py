"""SIN."""
import numpy as np

from common import f16, f32, make_unary, write

POINTS = [0.0, -0.0, 1e-30, -1e-30, 0.000244140625, 0.0002, 0.1, 0.5, 0.7853981, 0.7853983, -1.0, 1.5707963, 1.5707964, 2.0, 3.0,
          3.1415927, -3.1415925, 4.712389, 6.2831855, 10.0, -22.0, 100.0, 355.0, 1e4, -31415.926, 65504.0, 1e6, 1e10, 8.5e22,
          1e30, -3e38, np.inf, -np.inf, np.nan]
TOLERANCES = {f32: (0, 2e-7), f16: (6e-8, 1e-3)}  # relative: close to multiples of pi/2 the result is small, and still right


if __name__ == "__main__":
    write(make_unary("SIN", np.sin, POINTS, TOLERANCES, types=(f32, f16)), "Expected values: numpy.sin in float64.")
