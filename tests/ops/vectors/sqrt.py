"""SQRT."""
import numpy as np

from common import make_root, write


if __name__ == "__main__":
    write(make_root("SQRT", np.sqrt), "Expected values: numpy in float64.")
