"""LOGICAL_OR."""
import numpy as np

from common import make_predicate, write


if __name__ == "__main__":
    write(make_predicate("LOGICAL_OR", np.logical_or, -1, 1), "Expected values: numpy.logical_or.")
