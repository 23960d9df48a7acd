"""EQUAL."""
import numpy as np

from common import make_predicate, write
from quantised_elements import cases


if __name__ == "__main__":
    write(make_predicate("EQUAL", np.equal), "Expected values: numpy.equal.", also=cases("EQUAL"))
