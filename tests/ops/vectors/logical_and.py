"""LOGICAL_AND."""
import numpy as np

from common import make_predicate, write


if __name__ == "__main__":
    write(make_predicate("LOGICAL_AND", np.logical_and, -1, 1), "Expected values: numpy.logical_and.")
