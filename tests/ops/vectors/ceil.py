"""CEIL."""
import numpy as np

from common import make_unary, write

POINTS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.5, -2.5, 3.5, 0.99999994, 1.0000001, -1.0000001, 0.50000006, 0.49999997,
          -0.49999997, 1e-30, -1e-30, 1023.5, -1023.5, 1024.5, 8388607.5, -8388607.5, 8388606.5, 8388608.0, -8388609.0,
          4503599627370495.5, 4503599627370494.5, -4503599627370495.5, 1e30, -1e30, np.inf, -np.inf, np.nan]



if __name__ == "__main__":
    write(make_unary("CEIL", np.ceil, POINTS),
          "Expected values: numpy, exact.")
