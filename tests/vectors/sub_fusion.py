"""SUB_FUSION."""
from common import make_arithmetic, write


if __name__ == "__main__":
    write(make_arithmetic("SUB_FUSION"),
          "Expected values: numpy in float64; integers: Python integers modulo 2^n.")
