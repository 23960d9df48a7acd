"""FLOOR."""
import numpy as np

from common import NO_ATTR, Tensor, f16, f32, f64, name_of, refuse, some, write
from quantised_elements import cases

POINTS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 0.99999994, -0.99999994, 1e-30, -1e-30, 1023.5, -1023.5, 8388607.5,
          -8388607.5, 8388608.0, -8388609.0, 4503599627370495.5, -4503599627370495.5, 1e30, -1e30, np.inf, -np.inf, np.nan]


def make(w):
    for dtype in (f32, f16, f64):
        points = np.array(POINTS).astype(dtype)
        w.case("special points, " + name_of(dtype), "FLOOR", NO_ATTR, [points], [np.floor(points)], tol=(0, 0))
        for shape in ((), (1,), (3, 1, 4, 2), (1, 2, 1, 2, 1, 2, 1, 2)):
            x = some(shape, dtype)
            w.case("%s %s" % (name_of(dtype), list(shape)), "FLOOR", NO_ATTR, [x], [np.floor(x)], tol=(0, 0))
    none = np.zeros((0,), f32)
    w.case("no elements", "FLOOR", NO_ATTR, [none], [none])
    refuse(w, "int64", "FLOOR", NO_ATTR, [np.array([1], np.int64)], "INVALID_DATATYPE")
    quantised = Tensor(np.array([1, 2], np.uint8), quant=[(8, 128, 0.5)])
    refuse(w, "quantised, but not the result", "FLOOR", NO_ATTR, [quantised], "INVALID_DATATYPE")
    w.case("refused: two outputs", "FLOOR", NO_ATTR, [none], [none, none], error="INVALID_OUTPUT")


if __name__ == "__main__":
    write(make, "Expected values: numpy, exact.", also=cases("FLOOR"))
