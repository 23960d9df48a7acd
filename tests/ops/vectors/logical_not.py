"""LOGICAL_NOT."""
import numpy as np

from common import name_of, NO_ATTR, NUMBERS, refuse, Tensor, write


def make(w):
    op = "LOGICAL_NOT"
    random = np.random.default_rng(82)
    for dtype in NUMBERS + (np.bool_,):
        if np.dtype(dtype).kind == "f":
            info = np.finfo(dtype)
            x = np.array([0, -0.0, 1, -1, np.nan, np.inf, -np.inf, info.tiny, -info.tiny, info.max,
                          np.nextafter(dtype(0), dtype(1)), np.nextafter(dtype(0), dtype(-1))], dtype)
        elif dtype == np.bool_:
            x = np.array([False, True])
        else:
            info = np.iinfo(dtype)
            x = np.array([0, 1, info.min, info.max, 1 << (info.bits - 2), 0, 16], dtype)
        w.case("special values, " + name_of(dtype), op, NO_ATTR, [x], [np.logical_not(x)])
        for shape in ((), (1,), (2, 3, 5), (2, 0, 3), (1, 2, 1, 2, 1, 2, 1, 2)):
            x = (random.integers(0, 2, shape) * random.integers(1, 100, shape)).astype(dtype)
            w.case("%s %s" % (name_of(dtype), list(shape)), op, NO_ATTR, [x], [np.logical_not(x)])
    x = random.integers(0, 2, (1, 2, 3, 2)).astype(np.float32)
    w.case("NCHW", op, NO_ATTR, [x], [np.logical_not(x)], fmt="NCHW")
    for dtype in (np.int8, np.uint8):
        refuse(w, "quantised " + name_of(dtype), op, NO_ATTR, [Tensor(np.array([1, 2], dtype), quant=[(8, 3, 0.5)])],
               "UNSUPPORTED_OP")
    refuse(w, "two inputs", op, NO_ATTR, [x, x], "INVALID_INPUT")
    refuse(w, "no input", op, NO_ATTR, [], "INVALID_INPUT")
    refuse(w, "absent input", op, NO_ATTR, [None], "NULL_PTR")
    refuse(w, "rank 9", op, NO_ATTR, [np.ones((1,) * 9, bool)], "INVALID_SHAPE")
    w.case("refused: two outputs", op, NO_ATTR, [x], [x == 0, x == 0], error="INVALID_OUTPUT")
    w.case("refused: a result of another type", op, NO_ATTR, [x], [x], error="INVALID_DATATYPE")


if __name__ == "__main__":
    write(make, "Expected values: numpy.logical_not.")
