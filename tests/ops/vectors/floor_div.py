"""FLOOR_DIV."""
import numpy as np

from common import make_exact, write
from quantised_elements import cases


if __name__ == "__main__":
    write(make_exact("FLOOR_DIV", lambda x, y: np.floor(x / y), lambda a, b: a // b, divide=True),
          "Expected values: numpy.floor of the rounded quotient; integers: // of Python integers modulo 2^n.",
          also=cases("FLOOR_DIV"))
