"""LOGICAL_XOR."""
import numpy as np

from common import make_predicate, write


if __name__ == "__main__":
    write(make_predicate("LOGICAL_XOR", np.logical_xor, -1, 1, ()), "Expected values: numpy.logical_xor.")
