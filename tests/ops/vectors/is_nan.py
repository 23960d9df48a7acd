"""IS_NAN."""
import numpy as np

from common import make_class, write


if __name__ == "__main__":
    write(make_class("IS_NAN", [({}, np.isnan)]), "Expected values: numpy.isnan.")
