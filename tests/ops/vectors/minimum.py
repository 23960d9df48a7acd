"""MINIMUM."""
import numpy as np

from common import make_exact, write
from quantised_elements import cases


if __name__ == "__main__":
    write(make_exact("MINIMUM", lambda x, y: np.where(x < y, x, y), min),
          "Expected values: numpy; integers: min of Python integers.", also=cases("MINIMUM"))
