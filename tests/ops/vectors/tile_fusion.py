"""TILE_FUSION."""
import numpy as np

import requantised
from common import data, floats, known, odd_floats, same, TYPES, write


def make(w):

    def put(name, x, multiples, dims=None, dtype="int32"):
        if dims is None:
            y = np.tile(x, multiples) if multiples else x.copy()
            z = x.reshape((1,) * max(0, len(multiples) - x.ndim) + x.shape)
            full = [1] * (z.ndim - len(multiples)) + list(multiples)
        else:
            z, full = x, [1] * x.ndim
            for axis, count in zip(dims, multiples):
                full[axis] = count
            y = np.tile(x, full)
        for axis, count in enumerate(full):
            z = np.concatenate([z] * count, axis) if count else np.take(z, [], axis)
        same(y, z, name)
        w.ok(name, [x, known(multiples, dtype, (len(multiples),))], y, **({"dims": dims} if dims is not None else {}))

    x, c = floats(2, 3), floats(2, 1, 3)
    put("both axes", x, [2, 3])
    put("rows", x, [3, 1])
    put("columns", x, [1, 2])
    put("all ones", x, [1, 1])
    put("int64", x, [2, 2], None, "int64")
    put("fewer counts than axes", c, [2])
    put("two counts for three axes", c, [3, 2])
    put("more counts than axes", x, [2, 1, 2])
    put("more counts than axes, ones", x, [1, 1, 1, 2])
    put("more counts, int64", floats(3), [2, 2], None, "int64")
    put("scalar, no counts", floats(), [])
    put("scalar to rank 1", floats(), [3])
    put("scalar to rank 2", floats(), [2, 3])
    put("no counts", x, [])
    put("dims 0", x, [3], [0])
    put("dims 1", c, [4], [1])
    put("dims 2 0", c, [2, 3], [2, 0])
    put("dims 0 1 in full", x, [2, 2], [0, 1])
    put("dims negative", c, [2, 3], [-1, -3], "int64")
    put("dims with a count of 0", c, [0], [1])
    put("count 0", x, [0, 2])
    put("all counts 0", x, [0, 0])
    put("count 0 in front", x, [0, 1, 1])
    put("empty x", floats(0, 2), [3, 2])
    put("empty x, count 0", floats(2, 0), [0, 4], None, "int64")
    put("rank 1", data("int16", (5,)), [4])
    put("rank 4", floats(1, 2, 2, 2), [2, 1, 2, 3])
    put("rank 8", floats(1, 2, 1, 2, 1, 2, 1, 1), [2, 1, 1, 2, 1, 1, 3, 1])
    put("rank 2 to rank 8", x, [1, 2, 1, 1, 2, 1, 1, 2])
    put("rank 8, last axes", floats(1, 2, 1, 2, 1, 2, 1, 2), [2, 2])
    put("NaN and infinities", odd_floats("float32"), [2])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (2, 2), 2), [(2, 1), (1, 3), (3, 2)][k % 3])
    w.bad("negative count", "INVALID_PARAMETER", [x, known([2, -1])])
    w.bad("dims too large", "INVALID_PARAMETER", [x, known([2])], dims=[2])
    w.bad("dims too small", "INVALID_PARAMETER", [x, known([2])], dims=[-3])
    w.bad("dims twice", "INVALID_PARAMETER", [x, known([2, 3])], dims=[0, 0])
    w.bad("counts of float32", "INVALID_DATATYPE", [x, known([2, 2], "float32")])
    w.bad("counts of rank 2", "INVALID_SHAPE", [x, known([[2, 2]])])
    w.bad("result of rank 9", "INVALID_SHAPE", [x, known([1] * 9)])
    w.bad("type before dims", "INVALID_DATATYPE", [x, known([2], "float32")], dims=[5])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("counts absent", "NULL_PTR", [x, None])
    w.bad("more elements than int64 counts", "OUT_OF_MEMORY", [floats(1, 1, 1), known([2**31 - 1] * 3)])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "TILE_FUSION", also=requantised.cases("TILE_FUSION"))
