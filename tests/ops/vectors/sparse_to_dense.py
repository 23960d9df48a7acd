"""SPARSE_TO_DENSE."""
import numpy as np

from common import data, floats, I64_MAX, I64_MIN, known, NUMBERS, odd_floats, random, same, Tensor, write


def dense(indices, values, shape, rest):
    """numpy's assignment, row by row; at once, where no place is named twice, it must be the same."""
    rows = indices.astype(np.int64).reshape((-1, len(shape)) if shape else (len(indices), 0))
    each = np.broadcast_to(values.reshape(-1), (len(rows),))
    y = np.full(shape, 0 if rest is None else rest.reshape(())[()], values.dtype)
    z = y.copy()
    for row, v in zip(rows, each):
        y[tuple(row)] = v
    if len({tuple(r) for r in rows}) == len(rows) > 0:
        z[tuple(rows.T)] = each
        same(y, z, "sparse to dense")
    return y


def make(w):

    def put(name, indices, values, shape, rest=None, dtype="int32", shape_type="int32", absent=False):
        i = np.array(indices, dtype)
        ins = [i, values, known(shape, shape_type, (len(shape),))]
        w.ok(name, ins + ([rest] if rest is not None or absent else []), dense(i, values, shape, rest))

    two = np.array(2.5, "float32")
    put("two axes", [[0, 1], [2, 0], [1, 3]], floats(3), [3, 4])
    put("two axes and a default", [[0, 1], [2, 0], [1, 3]], floats(3), [3, 4], two)
    put("default of shape [1]", [[0, 1], [2, 0]], floats(2), [3, 4], two.reshape(1))
    put("default absent", [[0, 1], [2, 0]], floats(2), [3, 4], absent=True)
    put("int64 indices", [[0, 1], [2, 0]], floats(2), [3, 4], two, "int64")
    put("int64 shape", [[0, 1], [2, 0]], floats(2), [3, 4], two, "int32", "int64")
    put("both int64", [[0, 1], [2, 0]], floats(2), [3, 4], None, "int64", "int64")
    put("one axis, indices [n]", [4, 0, 2], floats(3), [5], two)
    put("one axis, indices [n,1]", [[4], [0], [2]], floats(3), [5], two)
    put("one index alone", 3, two, [5])
    put("one index alone, value [1]", 3, two.reshape(1), [5], np.array(1, "float32"), "int64")
    put("one row", [[1, 2]], floats(1), [2, 3])
    put("one value for all", [[0, 1], [2, 0], [1, 3]], two, [3, 4])
    put("one value of shape [1] for all", [4, 0, 2], two.reshape(1), [5], np.array(-1, "float32"))
    put("one value of shape [1,1] for all", [4, 0, 2], two.reshape(1, 1), [5])
    put("the last row wins", [[1, 1], [0, 2], [1, 1], [0, 0], [1, 1]], floats(5), [2, 3])
    put("rows in no order", [5, 1, 3, 0], floats(4), [6])
    put("rank 3", [[0, 1, 1], [1, 2, 0]], floats(2), [2, 3, 2], two)
    put("rank 8", [[0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0]], floats(2), [1, 2, 1, 2, 1, 2, 1, 2], two)
    put("every place", [[k // 3, k % 3] for k in range(6)], floats(6), [2, 3], two)
    put("many rows", random.integers(0, 9, (40, 2)), floats(40), [9, 9], two)
    put("no rows", np.zeros((0, 2)), floats(0), [2, 3], two)
    put("no rows, one value", np.zeros((0, 2)), two, [2, 3])
    put("no indices", np.zeros((0,)), floats(0), [4])
    put("no rows into an empty axis", np.zeros((0, 2)), floats(0), [2, 0], two)
    put("a scalar result", np.zeros((2, 0)), floats(2), [], two)
    put("a scalar result without rows", np.zeros((0, 0)), floats(0), [], two)
    put("NaN, infinities and -0", list(range(8)), odd_floats("float32"), [9], np.array(-np.inf, "float32"))
    put("default -0", [1], np.array([np.nan], "float32"), [3], np.array(-0.0, "float32"))
    for t in NUMBERS:
        name = np.dtype(t).name
        put("type " + name, [[1, 0], [0, 2], [1, 2]], data(name, (3,), 2), [2, 3], data(name, (3,), 3)[2])
        put("zeros of " + name, [[1, 0]], data(name, (3,), 2)[1:2], [2, 2])
    v, shape = floats(2), known([3, 4])
    for name, values, dtype in (("one too large", [[0, 0], [3, 0]], "int32"), ("second too large", [[0, 4], [0, 0]], "int32"),
                                ("-1", [[0, 0], [0, -1]], "int32"), ("beyond int32", [[2**32, 0], [0, 0]], "int64"),
                                ("smallest int64", [[0, I64_MIN], [0, 0]], "int64"),
                                ("largest int64", [[0, 0], [I64_MAX, 0]], "int64")):
        w.bad("index " + name, "INVALID_PARAMETER", [np.array(values, dtype), v, shape], run=True)
    w.bad("one index alone too large", "INVALID_PARAMETER", [np.array(5, "int32"), two, known([5])], run=True)
    w.bad("index into an empty axis", "INVALID_PARAMETER", [np.array([0], "int32"), floats(1), known([0])], run=True)
    i = np.array([[0, 1], [2, 0]], "int32")
    w.bad("indices of rank 3", "INVALID_SHAPE", [i.reshape(1, 2, 2), v, shape])
    w.bad("rows of three entries", "INVALID_SHAPE", [np.zeros((2, 3), "int32"), v, shape])
    w.bad("rows of one entry", "INVALID_SHAPE", [i[:, :1], v, shape])
    w.bad("indices [n] of two axes", "INVALID_SHAPE", [i[0], v, shape])
    w.bad("one index alone of two axes", "INVALID_SHAPE", [np.array(1, "int32"), two, shape])
    w.bad("other number of values", "INVALID_SHAPE", [i, floats(3), shape])
    w.bad("no values", "INVALID_SHAPE", [i, floats(0), shape])
    w.bad("values of rank 2", "INVALID_SHAPE", [i, floats(2, 1), shape])
    w.bad("two values of one index alone", "INVALID_SHAPE", [np.array(1, "int32"), v, known([4])])
    w.bad("default of two elements", "INVALID_SHAPE", [i, v, shape, v])
    w.bad("shape of rank 2", "INVALID_SHAPE", [i, v, known([[3, 4]])])
    w.bad("nine extents", "INVALID_SHAPE", [np.zeros((2, 9), "int32"), v, known([1] * 9)])
    w.bad("negative extent", "INVALID_PARAMETER", [i, v, known([3, -4])])
    w.bad("extent beyond int32", "OUT_OF_MEMORY", [i, v, known([3, 2**31], "int64")])
    w.bad("more elements than int64 counts", "OUT_OF_MEMORY", [np.zeros((2, 3), "int32"), v, known([2**31 - 1] * 3)])
    w.bad("bool values", "INVALID_DATATYPE", [i, v > 0, shape])
    w.bad("default of another type", "INVALID_DATATYPE", [i, v, shape, two.astype("float16")])
    w.bad("float32 indices", "INVALID_DATATYPE", [i.astype("float32"), v, shape])
    w.bad("uint32 indices", "INVALID_DATATYPE", [i.astype("uint32"), v, shape])
    w.bad("float32 shape", "INVALID_DATATYPE", [i, v, known([3, 4], "float32")])
    scale, eight = [(8, 0, 0.5)], np.array([1, 2], "int8")
    w.bad("quantised indices", "UNSUPPORTED_OP", [Tensor(i, quant=[(32, 0, 0.5)]), v, shape])
    w.bad("quantised values", "INVALID_DATATYPE", [i, Tensor(eight, quant=scale), shape])
    w.bad("quantised default", "INVALID_DATATYPE", [i, eight, shape, Tensor(eight[0], quant=scale)])
    w.bad("another type of result", "INVALID_DATATYPE", [i, v, shape], [np.zeros((3, 4), "float16")])
    w.bad("two inputs", "INVALID_INPUT", [i, v])
    w.bad("five inputs", "INVALID_INPUT", [i, v, shape, two, two])
    w.bad("two results", "INVALID_OUTPUT", [i, v, shape], [floats(3, 4), floats(3, 4)])
    for k, name in enumerate(("indices", "values", "shape")):
        ins = [i, v, shape]
        ins[k] = None
        w.bad(name + " absent", "NULL_PTR", ins)


if __name__ == "__main__":
    write(make, "Expected values: numpy's assignments, one after the other.", "SPARSE_TO_DENSE")
