"""LOG."""
import numpy as np

from common import f16, f32, f64, make_unary, write
from quantised_elements import cases

POINTS = [0.0, -0.0, 1.0, 0.99999994, 1.0000001, 0.5, 2.0, 1.5, 0.7071, 0.70710677, 1.4142135, 2.7182817, 10.0, 1e-30,
          1e-40, 6e-8, 3e38, 1e30, 65504.0, -1.0, -1e-30, np.inf, -np.inf, np.nan]

# the accuracy of nnrt_logf and nnrti_log is below one unit in the last place; numpy rounds once more
TOLERANCES = {f32: (0, 2e-7), f16: (6e-8, 1e-3), f64: (0, 3e-16)}


if __name__ == "__main__":
    write(make_unary("LOG", np.log, POINTS, TOLERANCES),
          "Expected values: numpy.log in float64.", also=cases("LOG"))
