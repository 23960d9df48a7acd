"""ERF."""
import math

import numpy as np

from common import NO_ATTR, Tensor, f16, f32, f64, name_of, refuse, rounded, some, wide, write

POINTS = [0.0, -0.0, 1e-30, -1e-30, 1e-8, 1e-4, 0.1, -0.25, 0.5, 0.84375, 0.921875, -0.93, 1.0, -1.5, 2.0, 2.5, -3.0, 3.9,
          3.94, -5.0, 10.0, 1e30, -1e30, np.inf, -np.inf, np.nan]


def erf(x):
    return np.array([math.erf(v) for v in x.reshape(-1)]).reshape(x.shape)


def make(w):
    for dtype, tol in ((f32, (1e-45, 3e-7)), (f16, (6e-8, 1e-3)), (f64, (0, 1e-14))):
        points = np.array(POINTS).astype(dtype)
        w.case("special points, " + name_of(dtype), "ERF", NO_ATTR, [points], [rounded(erf(wide(points)), dtype)], tol=tol)
        for shape in ((), (1,), (2, 3, 5), (1, 2, 1, 2, 1, 2, 1, 2)):
            x = some(shape, dtype, step=0.0625) * dtype(0.25)
            w.case("%s %s" % (name_of(dtype), list(shape)), "ERF", NO_ATTR, [x], [rounded(erf(wide(x)), dtype)], tol=tol)
    none = np.zeros((2, 0, 3), f32)
    w.case("no elements", "ERF", NO_ATTR, [none], [none])
    refuse(w, "int32", "ERF", NO_ATTR, [np.array([1], np.int32)], "INVALID_DATATYPE")
    quantised = Tensor(np.array([1, 2], np.int8), quant=[(8, 0, 0.5)])
    refuse(w, "quantised", "ERF", NO_ATTR, [quantised], "UNSUPPORTED_OP")
    refuse(w, "two inputs", "ERF", NO_ATTR, [none, none], "INVALID_INPUT")
    refuse(w, "absent input", "ERF", NO_ATTR, [None], "NULL_PTR")


if __name__ == "__main__":
    write(make, "Expected values: Python's math.erf, the C library's in float64.")
