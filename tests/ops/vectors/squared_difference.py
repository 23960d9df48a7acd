"""SQUARED_DIFFERENCE."""
from common import make_arithmetic, write
from quantised_elements import cases


if __name__ == "__main__":
    write(make_arithmetic("SQUARED_DIFFERENCE"),
          "Expected values: numpy in float64; integers: Python integers modulo 2^n.", also=cases("SQUARED_DIFFERENCE"))
