"""MUL_FUSION."""
from common import make_arithmetic, write
from quantised_elements import cases


if __name__ == "__main__":
    write(make_arithmetic("MUL_FUSION"),
          "Expected values: numpy in float64; integers: Python integers modulo 2^n.", also=cases("MUL_FUSION"))
