"""LESS."""
import numpy as np

from common import make_predicate, write
from quantised_elements import cases


if __name__ == "__main__":
    write(make_predicate("LESS", np.less), "Expected values: numpy.less.", also=cases("LESS"))
