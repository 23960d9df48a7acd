"""SCATTER_ND_UPDATE."""
import numpy as np
import torch

from common import data, floats, I64_MAX, I64_MIN, NUMBERS, odd_floats, random, same, Tensor, write

NAMES = ("none", "add", "mul", "min", "max")
FUNCTIONS = {"none": lambda a, b: b, "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def scatter(x, indices, updates, reduction):
    """ONNX's loop over indices, with numpy's functions; torch's must agree where it has the type and no index occurs twice."""
    i, k = indices.astype(np.int64), indices.shape[-1]
    y = np.array(x)
    rows = i.reshape(-1, k) if k else np.zeros((int(np.prod(i.shape[:-1])), 0), np.int64)
    slices = updates.reshape((len(rows),) + x.shape[k:])
    with np.errstate(all="ignore"):
        for at, u in zip(rows, slices):
            y[tuple(at)] = FUNCTIONS[reduction](y[tuple(at)], u)
    places = [tuple(r % np.array(x.shape[:k], np.int64)) for r in rows] if k else []
    if reduction == "none" and k and len(rows) and len(set(places)) == len(places) and x.dtype.name in ("float32", "int64"):
        z = torch.from_numpy(np.array(x))
        z[tuple(torch.from_numpy(rows[:, j].copy()) for j in range(k))] = torch.from_numpy(slices.copy())
        same(y, z.numpy(), "scatter")
    return y


def make(w):

    def put(name, x, indices, updates, reduction="none", dtype="int64", **more):
        i = np.array(indices, dtype)
        w.ok(name, [x, i, updates], scatter(x, i, updates, reduction), reduction=NAMES.index(reduction), **more)

    for r in NAMES:
        put("rows, " + r, floats(4, 2), [[1], [3]], floats(2, 2), r)
        put("elements, " + r, floats(4, 2), [[0, 1], [3, 0], [2, 1]], floats(3), r)
        put("int32 indices, " + r, floats(4, 2), [[0, 1], [3, 0]], floats(2), r, "int32")
        put("a place twice, " + r, floats(4, 2), [[1], [3], [1]], floats(3, 2), r)
        put("negative indices, " + r, floats(4, 2), [[-1], [-4], [2]], floats(3, 2), r)
        put("no index: all of it, " + r, floats(2, 2), np.zeros((3, 0)), floats(3, 2, 2), r)
        put("one place, indices of rank 1, " + r, floats(3, 2), [2], floats(2), r)
        put("one element, indices of rank 1, " + r, floats(3, 2), [2, -1], floats(), r)
        put("a scalar, " + r, floats(), np.zeros((2, 0)), floats(2), r)
        put("no rows, " + r, floats(3, 2), np.zeros((0, 1)), floats(0, 2), r)
        put("NaN, infinities and -0 over numbers, " + r, floats(9), [[k] for k in range(8)], odd_floats("float32"), r)
        put("numbers over NaN, infinities and -0, " + r, odd_floats("float32"), [[k] for k in range(8)], floats(8), r)
        put("NaN over NaN, " + r, np.array([np.nan, 1, np.nan], "float32"), [[0], [1], [2]],
            np.array([np.nan, np.nan, 1], "float32"), r)
        for t in NUMBERS:
            t = np.dtype(t).name
            put("x of type %s, %s" % (t, r), data(t, (3, 2)), [[2], [0], [2]], data(t, (3, 2))[::-1].copy(), r)
            if np.dtype(t).kind in "iu":
                e = np.iinfo(t)
                put("extremes of %s, %s" % (t, r), np.array([e.min, e.max, e.min, e.max], t), [[0], [1], [2], [3]],
                    np.array([e.min, e.max, e.max, e.min], t), r)
    put("x of type bool", data("bool", (3, 2)), [[2], [0]], data("bool", (2, 2)))
    put("the last of two, none", np.zeros(1, "float32"), [[0], [-1]], np.array([1, 2], "float32"))
    put("the sums of float16 are rounded one by one", np.array([2048], "float16"), [[0]] * 3, np.ones(3, "float16"), "add")
    put("the sums of float32 in their order", np.array([1e8], "float32"), [[0]] * 3, np.array([1, 1, -1e8], "float32"), "add")
    put("indices of rank 3", floats(3, 3), [[[0, 1], [2, 2]], [[1, 0], [0, 0]]], floats(2, 2))
    put("indices of rank 3, slices", floats(3, 2, 2), [[[0], [2]]], floats(1, 2, 2, 2), "add")
    put("x of rank 8", floats(1, 2, 1, 2, 1, 2, 1, 2), [[0, 1, 0], [0, 0, 0]], floats(2, 2, 1, 2, 1, 2))
    put("x of rank 8, elements", floats(1, 2, 1, 2, 1, 2, 1, 2), [[0, 1, 0, 1, 0, 1, 0, 1]], floats(1), "mul")
    put("updates of rank 8", floats(3, 1, 2, 1, 1, 1, 2), [[[0], [2]]], floats(1, 2, 1, 2, 1, 1, 1, 2))
    put("empty slices", floats(3, 0), [[1], [0]], floats(2, 0))
    put("no rows into an empty axis", floats(0, 2), np.zeros((0, 1)), floats(0, 2))
    put("NCHW keeps the order", floats(1, 2, 2, 3), [[0, 1]], floats(1, 2, 3), form="NCHW")
    put("many rows", floats(60, 7), random.integers(0, 60, (90, 1)), floats(90, 7), "add")
    for r in NAMES:
        put("bool, " + r, data("bool", (4, 3)), [[1], [3], [1]], data("bool", (3, 3)), r)

    x, i, u = floats(4, 2), np.array([[1], [3]]), floats(2, 2)
    for v in (4, -5, I64_MAX, I64_MIN):
        w.bad("index %d" % v, "INVALID_PARAMETER", [x, np.array([[1], [v]]), u], [x], run=True)
    w.bad("an index into empty slices", "INVALID_PARAMETER", [floats(3, 0), np.array([[3]]), floats(1, 0)], [floats(3, 0)], run=True)
    w.bad("indices without axes", "INVALID_SHAPE", [x, np.array(1), u], [x])
    w.bad("three indices of two axes", "INVALID_SHAPE", [x, np.zeros((2, 3), "int64"), floats(2)], [x])
    w.bad("updates of other rows", "INVALID_SHAPE", [x, i, floats(3, 2)], [x])
    w.bad("updates of other slices", "INVALID_SHAPE", [x, i, floats(2, 3)], [x])
    w.bad("updates of one axis more", "INVALID_SHAPE", [x, i, floats(2, 2, 2)], [x])
    w.bad("updates of one axis less", "INVALID_SHAPE", [x, i, floats(2)], [x])
    w.bad("updates of another type", "INVALID_DATATYPE", [x, i, data("int32", (2, 2))], [x])
    w.bad("indices of int8", "INVALID_DATATYPE", [x, i.astype("int8"), u], [x])
    w.bad("indices of float32", "INVALID_DATATYPE", [x, i.astype("float32"), u], [x])
    for r in (-1, 5):
        w.bad("reduction %d" % r, "INVALID_PARAMETER", [x, i, u], [x], reduction=r)
    w.bad("quantised", "UNSUPPORTED_OP", [Tensor(data("int8", (4, 2)), quant=[(8, 0, 0.5)]), i, data("int8", (2, 2))],
          [data("int8", (4, 2))])
    w.bad("no updates", "NULL_PTR", [x, i, None], [x])
    w.bad("two inputs", "INVALID_INPUT", [x, i], [x])
    w.bad("four inputs", "INVALID_INPUT", [x, i, u, u], [x])
    w.bad("two results", "INVALID_OUTPUT", [x, i, u], [x, x])
    w.bad("rank 9", "INVALID_SHAPE", [data("float32", (1,) * 9), i, u], [x])


if __name__ == "__main__":
    write(make, "Expected values: numpy, and torch for the types that it has.", "SCATTER_ND_UPDATE")
