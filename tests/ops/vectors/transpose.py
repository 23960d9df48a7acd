"""TRANSPOSE."""
import itertools

import numpy as np

import requantised
from common import data, floats, known, odd_floats, same, Tensor, TYPES, write


def make(w):

    def put(name, x, perm, dtype="int32"):
        y = np.ascontiguousarray(np.transpose(x, perm)).reshape([x.shape[p] for p in perm])
        if x.size <= 200:
            z = np.zeros(y.shape, x.dtype)
            for i in np.ndindex(*y.shape):
                j = [0] * x.ndim
                for k, p in enumerate(perm):
                    j[p] = i[k]
                z[i] = x[tuple(j)]
            same(y, z, name)
        w.ok(name, [x, known(perm, dtype, (len(perm),))], y)

    put("matrix", floats(2, 3), [1, 0])
    put("identity", floats(2, 3), [0, 1])
    put("int64 perm", floats(3, 4), [1, 0], "int64")
    put("negative entries", floats(2, 3, 4), [-1, 0, -2])
    put("negative int64 entries", floats(2, 3), [-1, -2], "int64")
    for p in itertools.permutations(range(3)):
        put("rank 3 perm %d%d%d" % p, floats(2, 3, 4), list(p))
    put("NHWC to NCHW", floats(2, 3, 4, 2), [0, 3, 1, 2])
    put("NCHW to NHWC", floats(2, 3, 2, 4), [0, 2, 3, 1])
    put("reversed rank 4", floats(1, 2, 3, 4), [3, 2, 1, 0])
    put("swap of the inner axes", floats(2, 2, 3, 4), [0, 1, 3, 2])
    put("swap of the outer axes", floats(2, 3, 2, 2), [1, 0, 2, 3])
    put("rank 1", floats(4), [0])
    put("rank 1, -1", floats(4), [-1])
    put("scalar", floats(), [])
    put("rank 5", floats(2, 1, 3, 2, 2), [4, 2, 0, 1, 3])
    put("rank 6", floats(2, 1, 2, 3, 1, 2), [5, 3, 1, 4, 2, 0])
    put("rank 8", floats(1, 2, 1, 3, 2, 1, 2, 2), [7, 3, 0, 4, 1, 6, 5, 2])
    put("rank 8 reversed", floats(2, 1, 2, 1, 3, 1, 2, 1), [7, 6, 5, 4, 3, 2, 1, 0])
    put("extents of 1", floats(1, 5, 1), [2, 1, 0])
    put("empty", floats(0, 3), [1, 0])
    put("empty in the middle", floats(2, 0, 3), [2, 0, 1])
    put("9 by 11", floats(9, 11), [1, 0])
    put("NaN and infinities", odd_floats("float32").reshape(2, 4), [1, 0])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (2, 3, 2), 2), [(2, 1, 0), (0, 2, 1), (1, 2, 0)][k % 3])
    q, n = [(8, 4, 0.25)], data("int8", (2, 3), 3)
    w.ok("quantised", [Tensor(n, quant=q), known([1, 0])], Tensor(n.T.copy(), quant=q))
    x = floats(2, 3)
    for name, perm in [("entry too large", [0, 2]), ("entry too small", [0, -3]), ("entry twice", [1, 1]),
                       ("entry twice, once negative", [1, -1])]:
        w.bad(name, "INVALID_PARAMETER", [x, known(perm)])
    w.bad("perm too short", "INVALID_SHAPE", [x, known([0])])
    w.bad("perm too long", "INVALID_SHAPE", [x, known([0, 1, 2])])
    w.bad("perm of rank 2", "INVALID_SHAPE", [x, known([[1, 0]])])
    w.bad("perm of float32", "INVALID_DATATYPE", [x, known([1, 0], "float32")])
    w.bad("type before length", "INVALID_DATATYPE", [x, known([0, 0, 0], "float32")])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("three inputs", "INVALID_INPUT", [x, known([1, 0]), known([1, 0])])
    w.bad("perm absent", "NULL_PTR", [x, None])
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9), known(list(range(9)))])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "TRANSPOSE", also=requantised.cases("TRANSPOSE"))
