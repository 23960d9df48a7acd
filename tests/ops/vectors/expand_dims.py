"""EXPAND_DIMS."""
import numpy as np

import requantised
from common import data, floats, I64_MIN, known, odd_floats, same, TYPES, write


def make(w):

    def put(name, x, axis, dtype="int32"):
        y = np.expand_dims(x, axis)
        shape = list(x.shape)
        shape.insert(axis if axis >= 0 else axis + x.ndim + 1, 1)
        w.ok(name, [x, known(axis, dtype)], same(y, x.reshape(shape), name))

    put("front", floats(2, 3), 0)
    put("middle", floats(2, 3), 1)
    put("end", floats(2, 3), 2)
    put("end negative", floats(2, 3), -1)
    put("middle negative", floats(2, 3), -2)
    put("front negative", floats(2, 3), -3)
    put("int64 axis", floats(2, 3), -2, "int64")
    put("scalar", floats(), 0)
    put("scalar negative", floats(), -1)
    put("rank 1", floats(4), 1)
    put("rank 7", floats(1, 2, 1, 2, 1, 2, 2), 4)
    put("rank 7 negative", floats(1, 2, 1, 2, 1, 2, 2), -8)
    put("empty", floats(0, 3), 1)
    put("NaN and infinities", odd_floats("float32"), 0)
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (3, 2), 2), k % 3)
    x = floats(2, 3)
    w.bad("axis too large", "INVALID_PARAMETER", [x, known(3)])
    w.bad("axis too small", "INVALID_PARAMETER", [x, known(-4)])
    w.bad("axis at the end of int64", "INVALID_PARAMETER", [x, known(I64_MIN, "int64")])
    w.bad("axis of float32", "INVALID_DATATYPE", [x, known(1, "float32")])
    w.bad("result of rank 9", "INVALID_SHAPE", [floats(*[1] * 8), known(0)])
    w.bad("rank before axis", "INVALID_SHAPE", [floats(*[1] * 8), known(99)])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("three inputs", "INVALID_INPUT", [x, known(0), known(0)])
    w.bad("axis absent", "NULL_PTR", [x, None])
    w.bad("x absent", "NULL_PTR", [None, known(0)])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "EXPAND_DIMS", also=requantised.cases("EXPAND_DIMS"))
