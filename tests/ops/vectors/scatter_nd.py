"""SCATTER_ND."""
import numpy as np
import torch

from common import data, floats, I64_MAX, I64_MIN, known, NUMBERS, odd_floats, random, same, Tensor, write


def scatter(indices, updates, shape):
    """numpy's addition at indices, one after the other; torch's must agree where it has the type and no index occurs twice."""
    i, k = indices.astype(np.int64), indices.shape[-1]
    y = np.zeros(shape, updates.dtype)
    rows = i.reshape(-1, k) if k else np.zeros((int(np.prod(i.shape[:-1])), 0), np.int64)
    slices = updates.reshape((len(rows),) + tuple(shape)[k:])
    with np.errstate(all="ignore"):
        for at, u in zip(rows, slices):
            y[tuple(at)] += u
    places = [tuple(r % np.array(shape[:k], np.int64)) for r in rows] if k else []
    if k and len(rows) and len(set(places)) == len(places) and updates.dtype.name in ("float32", "int64", "int8"):
        z = torch.zeros(tuple(shape), dtype=getattr(torch, updates.dtype.name))
        z[tuple(torch.from_numpy(rows[:, j].copy()) for j in range(k))] = torch.from_numpy(slices.copy())
        same(y, z.numpy() + np.zeros((), updates.dtype), "scatter")
    return y


def make(w):

    def put(name, indices, updates, shape, dtype="int32", shape_type="int32"):
        i = np.array(indices, dtype)
        w.ok(name, [i, updates, known(shape, shape_type, (len(shape),))], scatter(i, updates, shape))

    put("rows", [[1], [3]], floats(2, 2), [4, 2])
    put("elements", [[0, 1], [3, 0], [2, 1]], floats(3), [4, 2])
    put("int64 indices", [[0, 1], [3, 0]], floats(2), [4, 2], "int64")
    put("int64 shape", [[0, 1], [3, 0]], floats(2), [4, 2], "int32", "int64")
    put("both int64", [[2], [0]], floats(2, 3), [3, 3], "int64", "int64")
    put("a place twice", [[1], [3], [1]], np.array([[1, 2], [3, 4], [5, 6]], "float32"), [4, 2])
    same(scatter(np.array([[1], [3], [1]]), np.array([[1, 2], [3, 4], [5, 6]], "float32"), [4, 2]),
         np.array([[0, 0], [6, 8], [0, 0], [3, 4]], "float32"), "the worked case of the specification")
    put("the sums of float32 in their order", [[0]] * 4, np.array([1e8, 1, 1, -1e8], "float32"), [1])
    put("the sums of float16 are rounded one by one", [[0]] * 4, np.array([2048, 1, 1, 1], "float16"), [1])
    put("negative indices", [[-1], [-4], [2]], floats(3, 2), [4, 2])
    put("negative indices of two axes", [[-1, 0], [1, -3], [-2, 1]], floats(3), [2, 3], "int64")
    put("one place by both names", [[-1], [2]], floats(2, 2), [3, 2])
    put("indices of rank 3", [[[0, 1], [2, 2]], [[1, 0], [0, 0]]], floats(2, 2), [3, 3])
    put("indices of rank 3, slices", [[[0], [2]]], floats(1, 2, 2, 2), [3, 2, 2])
    put("indices of rank 5", np.arange(8).reshape(1, 2, 2, 2, 1) % 5, floats(1, 2, 2, 2), [5])
    put("result of rank 1", [[4], [0]], floats(2), [5])
    put("result of rank 8", [[0, 1, 0], [0, 0, 0]], floats(2, 2, 1, 2, 1, 2), [1, 2, 1, 2, 1, 2, 1, 2])
    put("result of rank 8, elements", [[0, 1, 0, 1, 0, 1, 0, 1]], floats(1), [1, 2, 1, 2, 1, 2, 1, 2])
    put("updates of rank 8", [[[0], [2]]], floats(1, 2, 1, 2, 1, 1, 1, 2), [3, 1, 2, 1, 1, 1, 2])
    put("no index: all of it adds up", np.zeros((3, 0)), floats(3, 2, 2), [2, 2])
    put("a scalar", np.zeros((3, 0)), floats(3), [])
    put("no rows", np.zeros((0, 1)), floats(0, 2), [3, 2])
    put("no rows of rank 3", np.zeros((2, 0, 2)), floats(2, 0), [3, 2])
    put("empty slices", [[1], [0]], floats(2, 0), [3, 0])
    put("no rows into an empty axis", np.zeros((0, 1)), floats(0, 2), [0, 2])
    put("NaN, infinities and -0", [[k] for k in range(8)], odd_floats("float32"), [9])
    put("infinity and its opposite", [[0], [0], [1]], np.array([np.inf, -np.inf, -0.0], "float32"), [2])
    i = random.permutation(60)[:24].reshape(24, 1)
    put("many rows", i, floats(24, 7), [60, 7])
    put("many rows, many of them twice", i % 10, floats(24, 7), [10, 7])
    for t in NUMBERS:
        name = np.dtype(t).name
        put("type " + name, [[2, 1], [0, 0], [2, 1], [1, 1]], data(name, (4, 3), 2), [3, 2, 3])
        if np.dtype(t).kind in "iu":
            big = np.array([np.iinfo(t).max, 1, np.iinfo(t).min, np.iinfo(t).max], t)
            put("integers wrap: " + name, [[0], [0], [1], [1]], big, [2])
    u, shape = floats(2, 2), known([4, 2])
    for name, values, dtype in (("one too large", [[0], [4]], "int32"), ("one too small", [[-5], [0]], "int32"),
                                ("beyond int32", [[2**32], [0]], "int64"), ("smallest int64", [[0], [I64_MIN]], "int64"),
                                ("largest int64", [[I64_MAX], [0]], "int64")):
        n, bad = next((n, v[0]) for n, v in enumerate(values) if not -4 <= v[0] < 4)
        w.bad("index " + name, "INVALID_PARAMETER", [np.array(values, dtype), u, shape], run=True,
              says="index %d, element %d of indices, lies outside axis 0 of the result, expected -4 to 3" % (bad, n))
    w.bad("second index too large", "INVALID_PARAMETER", [np.array([[0, 1], [1, 2]], "int32"), floats(2), shape], run=True)
    w.bad("index into an empty axis", "INVALID_PARAMETER", [np.array([[0]], "int32"), floats(1, 2), known([0, 2])],
          run=True)
    w.bad("index outside, slices empty", "INVALID_PARAMETER", [np.array([[3]], "int32"), floats(1, 0), known([3, 0])],
          run=True)
    i = np.array([[0], [1]], "int32")
    w.bad("indices of rank 1", "INVALID_SHAPE", [np.array([0, 1], "int32"), u, shape])
    w.bad("indices of rank 0", "INVALID_SHAPE", [np.array(0, "int32"), u, shape])
    w.bad("more indices than extents", "INVALID_SHAPE", [np.zeros((2, 3), "int32"), floats(2), shape])
    w.bad("other rows of updates", "INVALID_SHAPE", [i, floats(3, 2), shape])
    w.bad("other slices of updates", "INVALID_SHAPE", [i, floats(2, 3), shape])
    w.bad("updates of too few axes", "INVALID_SHAPE", [i, floats(2), shape])
    w.bad("updates of too many axes", "INVALID_SHAPE", [i, floats(2, 2, 1), shape])
    w.bad("scalar updates", "INVALID_SHAPE", [i, np.array(1, "float32"), shape])
    w.bad("updates do not broadcast", "INVALID_SHAPE", [i, floats(1, 2), shape])
    w.bad("shape of rank 2", "INVALID_SHAPE", [i, u, known([[4, 2]])])
    w.bad("nine extents", "INVALID_SHAPE", [i, u, known([4, 2] + [1] * 7)])
    w.bad("negative extent", "INVALID_PARAMETER", [i, u, known([-4, 2])])
    w.bad("extent beyond int32", "OUT_OF_MEMORY", [i, u, known([2**31, 2], "int64")])
    w.bad("more elements than int64 counts", "OUT_OF_MEMORY", [np.zeros((1, 3), "int32"), floats(1), known([2**31 - 1] * 3)])
    w.bad("bool updates", "INVALID_DATATYPE", [i, u > 0, shape])
    w.bad("float32 indices", "INVALID_DATATYPE", [i.astype("float32"), u, shape])
    w.bad("int16 indices", "INVALID_DATATYPE", [i.astype("int16"), u, shape])
    w.bad("float32 shape", "INVALID_DATATYPE", [i, u, known([4, 2], "float32")])
    scale = [(32, 0, 0.5)]
    w.bad("quantised indices", "UNSUPPORTED_OP", [Tensor(i, quant=scale), u, shape])
    w.bad("quantised updates", "INVALID_DATATYPE", [i, Tensor(u.astype("int32"), quant=scale), shape])
    w.bad("another type of result", "INVALID_DATATYPE", [i, u, shape], [np.zeros((4, 2), "float16")])
    w.bad("two inputs", "INVALID_INPUT", [i, u])
    w.bad("four inputs", "INVALID_INPUT", [i, u, shape, shape])
    w.bad("two results", "INVALID_OUTPUT", [i, u, shape], [floats(4, 2), floats(4, 2)])
    for k, name in enumerate(("indices", "updates", "shape")):
        ins = [i, u, shape]
        ins[k] = None
        w.bad(name + " absent", "NULL_PTR", ins)


if __name__ == "__main__":
    write(make, "Expected values: numpy's additions one after the other, and torch's assignment where no place is named twice.",
          "SCATTER_ND")
