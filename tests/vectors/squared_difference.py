"""SQUARED_DIFFERENCE."""
from common import make_arithmetic, write


if __name__ == "__main__":
    write(make_arithmetic("SQUARED_DIFFERENCE"),
          "Expected values: numpy in float64; integers: Python integers modulo 2^n.")
