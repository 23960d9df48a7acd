"""RSQRT."""
import numpy as np

from common import make_root, write
from quantised_elements import cases


if __name__ == "__main__":
    write(make_root("RSQRT", lambda v: 1 / np.sqrt(v)), "Expected values: numpy in float64.", also=cases("RSQRT"))
