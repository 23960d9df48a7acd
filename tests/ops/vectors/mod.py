"""MOD."""
import numpy as np

from common import make_exact, toward_zero, write


if __name__ == "__main__":
    write(make_exact("MOD", np.fmod, lambda a, b: a - b * toward_zero(a, b), divide=True),
          "Expected values: numpy.fmod; integers: Python integers modulo 2^n.")
