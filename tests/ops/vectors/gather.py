"""GATHER."""
import numpy as np

import requantised
from common import data, floats, I64_MAX, I64_MIN, known, odd_floats, same, TYPES, write


def make(w):

    def put(name, x, indices, axis=0, dtype="int32", axis_type="int32", given=True):
        i = np.array(indices, dtype=dtype)
        y = np.take(x, i.astype("int64"), axis=axis)
        a = axis + x.ndim if axis < 0 else axis
        z = np.zeros(x.shape[:a] + i.shape + x.shape[a + 1:], x.dtype)
        for at in np.ndindex(*i.shape):
            z[(slice(None),) * a + at] = x[(slice(None),) * a + (int(i[at]),)]
        same(y, z, name)
        w.ok(name, [x, i] + ([known([axis], axis_type)] if given else []), y)

    x = floats(4, 3)
    put("rows", x, [2, 0])
    put("axis input left out", x, [3, 3, 1], given=False)
    w.ok("axis input absent", [x, np.array([1, 2], "int32"), None], np.take(x, [1, 2], 0))
    put("columns", x, [2, 0, 0, 1], 1)
    put("last axis", x, [1], -1)
    put("first axis negative", x, [1, 2], -2)
    put("int64 indices", x, [3, 0], 0, "int64")
    put("int64 axis", x, [2, 1], 1, "int32", "int64")
    put("both int64", x, [2, 1], -1, "int64", "int64")
    put("negative indices", x, [-1, -4, 3, -2])
    put("negative int64 indices", x, [-3, 2, -1], 1, "int64")
    put("scalar index", x, 2)
    put("scalar index on the last axis", x, -1, -1, "int64")
    put("indices of rank 2", x, [[0, 1], [2, 3], [1, 0]])
    put("indices of rank 3 in the middle", floats(2, 3, 2), [[[0], [2]]], 1)
    put("x of rank 1", data("int32", (5,)), [[4, 0], [1, 1]])
    put("x of rank 1, scalar index", data("int64", (5,)), 3)
    put("x of rank 8", floats(1, 2, 1, 2, 1, 3, 1, 2), [2, 0], 5)
    put("result of rank 8", floats(2, 2, 2), np.arange(4).reshape(1, 2, 1, 1, 2, 1) % 2, 1)
    put("x of rank 8, scalar index", floats(1, 2, 1, 2, 1, 3, 1, 2), 1, -3)
    put("no indices", x, np.zeros((0,), "int32"))
    put("no indices of rank 2", x, np.zeros((2, 0), "int32"), 1)
    put("another axis empty", floats(3, 0), [2, 0])
    w.ok("no indices into an empty axis", [floats(0, 2), np.zeros((0,), "int32"), known([0])], floats(0, 2))
    put("NaN and infinities", odd_floats("float32"), [7, 0, 1, 2, 3])
    put("more indices than rows", floats(2, 2), [0, 1, 1, 0, 1, 0, 0])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (3, 3, 2), 2), [2, 0, 0, -2], (0, 1, -3)[k % 3])
    i = np.array([0, 1], "int32")
    outside = [("index one too large", [0, 4], 0, "int32"), ("index one too small", [-5], 0, "int32"),
               ("int64 index beyond int32", [2**32], 0, "int64"), ("smallest int64", [I64_MIN], 1, "int64"),
               ("largest int64", [0, I64_MAX], 1, "int64"), ("smallest int32", [-2**31], 1, "int32"),
               ("column too large", [2, 3], -1, "int32")]
    for name, values, axis, dtype in outside:
        w.bad(name, "INVALID_PARAMETER", [x, np.array(values, dtype), known([axis])], run=True)
    w.bad("index into an empty axis", "INVALID_PARAMETER", [floats(0, 2), np.array([0], "int32"), known([0])], run=True)
    w.bad("axis too large", "INVALID_PARAMETER", [x, i, known([2])])
    w.bad("axis too small", "INVALID_PARAMETER", [x, i, known([-3])])
    w.bad("indices of float32", "INVALID_DATATYPE", [x, i.astype("float32"), known([0])])
    w.bad("indices of int8", "INVALID_DATATYPE", [x, i.astype("int8"), known([0])])
    w.bad("axis of float32", "INVALID_DATATYPE", [x, i, known([0], "float32")])
    w.bad("result of rank 9", "INVALID_SHAPE", [floats(*[1] * 8), np.zeros((1, 1), "int32"), known([0])])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("four inputs", "INVALID_INPUT", [x, i, known([0]), known([0])])
    w.bad("indices absent", "NULL_PTR", [x, None, known([0])])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "GATHER", also=requantised.cases("GATHER"))
