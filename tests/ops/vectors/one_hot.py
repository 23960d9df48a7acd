"""ONE_HOT."""
import numpy as np

from common import data, I64_MAX, I64_MIN, known, same, Tensor, TYPES, write


def make(w):

    def put(name, indices, depth, on, off, axis=-1, dtype="int32", depth_type="int32", form=None):
        i = np.array(indices, dtype=dtype)
        on, off = np.asarray(on), np.asarray(off)
        hit = i.astype("int64")[..., None] == np.arange(depth)
        y = np.moveaxis(np.where(hit, on, off), -1, axis).copy()
        z = np.moveaxis(np.full(i.shape + (depth,), off), -1, axis).copy()
        for at in np.ndindex(*i.shape):
            if 0 <= int(i[at]) < depth:
                to = list(at)
                to.insert(axis if axis >= 0 else i.ndim, int(i[at]))
                z[tuple(to)] = on
        same(y, z, name)
        w.ok(name, [i, known(depth, depth_type), Tensor(on, True), Tensor(off, True)], y, axis=axis)

    one, zero = np.float32(1), np.float32(0)
    put("rank 1", [0, 2, 1], 3, one, zero)
    put("rank 1 axis 0", [0, 2, 1], 4, one, zero, 0)
    put("rank 1 axis 1", [0, 2, 1], 4, one, zero, 1)
    put("rank 2", [[0, 2], [1, 3]], 4, one, zero)
    put("rank 2 axis 0", [[0, 2, 1], [1, 3, 3]], 4, one, zero, 0)
    put("rank 2 axis 1", [[0, 2, 1], [1, 3, 3]], 4, one, zero, 1)
    put("rank 2 axis 2", [[0, 2, 1], [1, 3, 3]], 4, one, zero, 2)
    put("rank 3 axis 1", [[[0, 1]], [[2, 0]]], 3, one, zero, 1)
    put("scalar index", 2, 4, one, zero)
    put("scalar index axis 0", 2, 4, one, zero, 0)
    put("scalar index outside", 4, 4, one, zero)
    put("int64 indices", [3, 0], 4, one, zero, dtype="int64")
    put("int64 depth", [3, 0], 4, one, zero, depth_type="int64")
    put("both int64", [[3], [0]], 4, one, zero, 1, "int64", "int64")
    put("other values", [1, 0, 1], 2, np.float32(-3.5), np.float32(0.25))
    put("NaN and infinity", [1, 0], 3, np.float32(np.inf), np.float32(np.nan))
    put("index outside", [0, 3, -1, 2, -3, 100], 3, one, zero)
    put("index outside axis 0", [[5, 0], [-1, 1]], 3, one, zero, 0)
    put("int64 index outside", [2**32, 1, -2**32, I64_MAX, I64_MIN, 0], 2, one, zero, dtype="int64")
    put("depth 1", [0, 1, 0], 1, one, zero)
    put("no indices", np.zeros((0,), "int32"), 3, one, zero)
    put("no indices axis 0", np.zeros((2, 0), "int32"), 3, one, zero, 0)
    put("rank 7", np.arange(4).reshape(1, 2, 1, 1, 2, 1, 1), 3, one, zero, 3)
    put("on equals off", [0, 1], 2, one, one)
    for k, t in enumerate(TYPES):
        v = data(t, (3,), 2)
        on, off = (np.bool_(k % 2 == 0), np.bool_(k % 2)) if t == "bool" else (v[1], v[2])
        put("type " + t, [1, 0, 2], 3, on, off, k % 2)
    put("bool inverted", [1, 0, 5], 3, np.bool_(False), np.bool_(True))
    i, d, on, off = np.array([0, 1], "int32"), known(3), Tensor(one, True), Tensor(zero, True)
    w.bad("depth 0", "INVALID_PARAMETER", [i, known(0), on, off])
    w.bad("depth negative", "INVALID_PARAMETER", [i, known(-3, "int64"), on, off])
    w.bad("axis too large", "INVALID_PARAMETER", [i, d, on, off], axis=2)
    w.bad("axis too small", "INVALID_PARAMETER", [i, d, on, off], axis=-2)
    w.bad("on and off of two types", "INVALID_DATATYPE", [i, d, on, known(0)])
    w.bad("indices of float32", "INVALID_DATATYPE", [i.astype("float32"), d, on, off])
    w.bad("depth of float32", "INVALID_DATATYPE", [i, known(3, "float32"), on, off])
    w.bad("type before axis", "INVALID_DATATYPE", [i, d, on, known(0)], axis=7)
    w.bad("result of rank 9", "INVALID_SHAPE", [np.zeros((1,) * 8, "int32"), d, on, off])
    w.bad("three inputs", "INVALID_INPUT", [i, d, on])
    w.bad("off value absent", "NULL_PTR", [i, d, on, None])
    w.bad("depth absent", "NULL_PTR", [i, None, on, off])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "ONE_HOT")
