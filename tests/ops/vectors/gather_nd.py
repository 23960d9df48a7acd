"""GATHER_ND."""
import numpy as np

import requantised
from common import I64_MAX, I64_MIN, Tensor, data, floats, odd_floats, same, TYPES, write


def gather_nd(x, i):
    y = x[tuple(np.moveaxis(i.astype("int64"), -1, 0))]
    z = np.zeros(i.shape[:-1] + x.shape[i.shape[-1]:], x.dtype)
    for at in np.ndindex(*i.shape[:-1]):
        z[at] = x[tuple(int(v) for v in i[at])]
    return same(y, z, "gather nd")


def make(w):

    def put(name, x, indices, dtype="int32"):
        i = np.array(indices, dtype)
        w.ok(name, [x, i], gather_nd(x, i))

    x = floats(3, 4, 2)
    put("rows", x, [[2], [0]])
    put("places of two axes", x, [[0, 1], [2, 3], [1, 0]])
    put("elements", x, [[0, 1, 1], [2, 3, 0]])
    put("int64", x, [[1, 2], [0, 0]], "int64")
    put("negative", x, [[-1, -4], [-3, 3], [2, -1]])
    put("negative int64", x, [[-1, -4, -2], [2, 3, 1]], "int64")
    put("one row of indices, rank 1", x, [1, 2])
    put("one element, rank 1", x, [1, 2, -1])
    put("one place of the first axis", x, [2])
    put("indices of rank 3", x, [[[0, 0], [1, 1]], [[2, 2], [0, 3]], [[1, 0], [2, 1]]])
    put("indices of rank 3, elements", x, np.arange(12).reshape(2, 2, 3) % 2)
    put("the same twice", x, [[1, 1], [1, 1]])
    put("x of rank 1", data("int32", (5,)), [[4], [0], [-2]])
    put("x of rank 1, scalar result", data("int64", (5,)), [3])
    x8 = floats(1, 2, 1, 2, 1, 3, 1, 2)
    put("x of rank 8, elements", x8, [[0, 1, 0, 1, 0, 2, 0, 1], [0, 0, 0, -1, 0, 0, -1, 0]])
    put("x of rank 8, one axis", x8, [0])
    put("x of rank 8, rows", x8, [[0], [-1]])
    put("result of rank 8", floats(2, 3, 2), np.arange(8).reshape(1, 2, 1, 2, 1, 2, 1) % 2)
    put("indices of rank 8", floats(2, 3), np.arange(8).reshape(1, 2, 1, 2, 1, 1, 1, 2) % 2)
    w.ok("no rows", [x, np.zeros((0, 2), "int32")], np.zeros((0, 2), "float32"))
    w.ok("no rows of rank 3", [x, np.zeros((2, 0, 1), "int64")], np.zeros((2, 0, 4, 2), "float32"))
    w.ok("no rows of an empty axis", [floats(0, 3), np.zeros((0, 1), "int32")], np.zeros((0, 3), "float32"))
    w.ok("rows of nothing", [floats(3, 0), np.array([[2], [-3]], "int32")], np.zeros((2, 0), "float32"))
    for odd in ("float16", "float32", "float64"):
        put("NaN, infinities, -0 " + odd, odd_floats(odd), [[7], [0], [1], [2], [3]])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (3, 3, 2), 2), [[[2], [0]], [[1, -2], [2, 0]], [[0, 1, 1], [-1, -1, -1]]][k % 3],
            ("int32", "int64")[k % 2])
    w.ok("worked case", [np.arange(1, 13, dtype="float32").reshape(2, 3, 2), np.array([[0, 1], [1, 2]], "int32")],
         np.array([[3, 4], [11, 12]], "float32"))
    one, each = [(8, 1, 0.5)], [(8, 0, 0.5), (8, 1, 0.25)]
    q, i = data("int8", (3, 2)), np.array([[2], [0], [1], [1]], "int32")
    w.ok("quantised", [Tensor(q, quant=one), i], Tensor(gather_nd(q, i), quant=one))
    w.ok("one scale per place of an axis that stays", [Tensor(q, quant=each), i], Tensor(gather_nd(q, i), quant=each))
    w.bad("one scale per place of an axis that is chosen from", "UNSUPPORTED_OP",
          [Tensor(q, quant=each), np.array([[0, 1]], "int32")])
    for name, values, dtype in (("one too large", [[0, 4]], "int32"), ("one too small", [[-4, 0]], "int32"),
                                ("last axis", [[0, 1, 0], [0, 1, 2]], "int32"), ("smallest int32", [[-2**31]], "int32"),
                                ("beyond int32", [[2**32, 0]], "int64"), ("smallest int64", [[0, I64_MIN]], "int64"),
                                ("largest int64", [[I64_MAX]], "int64")):
        rows = np.array(values, dtype)
        n, axis = next((n, n % rows.shape[1]) for n, i in enumerate(rows.ravel()) if not -x.shape[n % rows.shape[1]] <= i < x.shape[n % rows.shape[1]])
        w.bad("index " + name, "INVALID_PARAMETER", [x, rows], run=True,
              says="index %d, element %d of indices, lies outside axis %d of x, expected %d to %d" %
              (rows.flat[n], n, axis, -x.shape[axis], x.shape[axis] - 1))
    w.bad("index into an empty axis", "INVALID_PARAMETER", [floats(0, 2), np.array([[0]], "int32")], run=True)
    w.bad("index for nothing, outside", "INVALID_PARAMETER", [floats(3, 0), np.array([[3]], "int32")], run=True)
    i = np.array([[0, 1]], "int32")
    w.bad("no entries in a row", "INVALID_SHAPE", [x, np.zeros((2, 0), "int32")])
    w.bad("more entries than axes", "INVALID_SHAPE", [x, np.zeros((2, 4), "int32")])
    w.bad("indices of rank 0", "INVALID_SHAPE", [x, np.array(1, "int32")])
    w.bad("x of rank 0", "INVALID_SHAPE", [floats(), np.array([0], "int32")])
    w.bad("result of rank 9", "INVALID_SHAPE", [x8, np.zeros((1, 1, 1), "int32")])
    w.bad("indices of float32", "INVALID_DATATYPE", [x, i.astype("float32")])
    w.bad("indices of uint32", "INVALID_DATATYPE", [x, i.astype("uint32")])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("three inputs", "INVALID_INPUT", [x, i, i])
    w.bad("indices absent", "NULL_PTR", [x, None])
    w.bad("two outputs", "INVALID_OUTPUT", [x, i], [x, x])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "GATHER_ND", also=requantised.cases("GATHER_ND"))
