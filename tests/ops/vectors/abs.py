"""ABS."""
import numpy as np

from common import make_unary, NUMBERS, write
from quantised_elements import cases

POINTS = [0.0, -0.0, 1.0, -1.0, 0.3, -0.3, 1e-30, -1e-30, 1e30, -1e30, np.inf, -np.inf, np.nan]


if __name__ == "__main__":
    write(make_unary("ABS", np.abs, POINTS, whole=abs, types=NUMBERS), "Expected values: numpy and Python integers, exact.",
          also=cases("ABS"))
