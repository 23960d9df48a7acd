"""PAD_EDGE."""
import numpy as np

import requantised
from common import I64_MAX, Tensor, data, floats, known, odd_floats, same, TYPES, write


def make(w):

    def put(name, x, pads, form=None, dtype="int32", shape=None):
        y = np.pad(x, pads, "edge") if x.size and x.ndim else np.zeros([a + n + b for (a, b), n in zip(pads, x.shape)], x.dtype)
        if x.ndim == 0:
            y = x
        at = np.ix_(*[np.clip(np.arange(n) - a, 0, m - 1) for (a, b), n, m in zip(pads, y.shape, x.shape)]) if x.size else ()
        if x.size and x.ndim:
            same(y, x[at], name)
        w.ok(name, [x, known(pads, dtype, shape or (x.ndim, 2))], y, form)

    x = floats(3, 4)
    put("all sides", x, [[2, 1], [1, 3]])
    put("as a flat list", x, [[2, 1], [1, 3]], shape=(4,))
    put("int64", x, [[2, 1], [1, 3]], dtype="int64")
    put("before", x, [[2, 0], [1, 0]])
    put("after", x, [[0, 1], [0, 3]])
    put("rows only", x, [[1, 1], [0, 0]])
    put("columns only", x, [[0, 0], [2, 2]])
    put("none", x, [[0, 0], [0, 0]])
    put("far more than x has", x, [[7, 9], [11, 5]])
    put("extents of 1", floats(1, 1), [[2, 3], [1, 2]])
    put("rank 1", floats(5), [[3, 2]])
    put("rank 3", floats(2, 3, 2), [[1, 0], [0, 2], [1, 1]])
    put("rank 8", floats(1, 2, 1, 2, 1, 3, 1, 2), [[1, 0], [0, 1], [0, 0], [1, 1], [0, 2], [0, 0], [0, 0], [0, 1]])
    put("scalar", floats(), [], shape=(0, 2))
    put("scalar, flat list", floats(), [], shape=(0,))
    put("empty, another axis", floats(0, 3), [[0, 0], [1, 2]])
    put("empty, no paddings", floats(2, 0), [[0, 0], [0, 0]])
    put("NCHW", floats(1, 2, 2, 3), [[0, 0], [0, 0], [1, 1], [2, 0]], "NCHW")
    put("NHWC", floats(1, 2, 3, 2), [[0, 0], [1, 1], [2, 0], [0, 0]], "NHWC")
    for odd in ("float16", "float32", "float64"):
        put("NaN, infinities, -0 " + odd, odd_floats(odd), [[2, 3]])
        put("edges of NaN and -0 " + odd, np.array([[np.nan], [-0.0]], odd), [[1, 1], [1, 1]])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (2, 3), 2), [[[1, 2], [0, 1]], [[0, 0], [2, 2]], [[3, 0], [1, 0]]][k % 3])
    w.ok("worked case", [np.arange(1, 10, dtype="float32").reshape(3, 3), known([[1, 0], [0, 2]])],
         np.array([[1, 2, 3, 3, 3], [1, 2, 3, 3, 3], [4, 5, 6, 6, 6], [7, 8, 9, 9, 9]], "float32"))
    one, each = [(8, 1, 0.5)], [(8, 0, 0.5), (8, 1, 0.25)]
    q, p = data("int8", (3, 2)), [[1, 2], [0, 0]]
    w.ok("quantised", [Tensor(q, quant=one), known([[1, 2], [1, 0]])],
         Tensor(np.pad(q, [[1, 2], [1, 0]], "edge"), quant=one))
    w.ok("one scale per place of an axis that stays", [Tensor(q, quant=each), known(p)],
         Tensor(np.pad(q, p, "edge"), quant=each))
    w.bad("one scale per place of an axis that grows", "UNSUPPORTED_OP", [Tensor(q, quant=each), known([[0, 0], [1, 0]])])
    w.bad("an empty axis grows", "INVALID_PARAMETER", [floats(0, 3), known([[0, 1], [0, 0]])])
    w.bad("an empty axis grows in front", "INVALID_PARAMETER", [floats(2, 0), known([[0, 1], [2, 0]])])
    w.bad("negative before", "INVALID_PARAMETER", [x, known([[-1, 0], [0, 0]])])
    w.bad("negative after", "INVALID_PARAMETER", [x, known([[0, 0], [0, -2]])])
    w.bad("too large", "OUT_OF_MEMORY", [x, known([[2**31 - 3, 0], [0, 0]])])
    w.bad("largest int64", "OUT_OF_MEMORY", [x, known([[0, 0], [0, I64_MAX]], "int64")])
    w.bad("a row too few", "INVALID_SHAPE", [x, known([[1, 1]])])
    w.bad("an entry too many", "INVALID_SHAPE", [x, known([1, 1, 1, 1, 1])])
    w.bad("[2,R]", "INVALID_SHAPE", [floats(2, 2, 2), known([[1, 1, 1], [1, 1, 1]])])
    w.bad("paddings of float32", "INVALID_DATATYPE", [x, known([[1, 1], [1, 1]], "float32")])
    w.bad("paddings not known", "UNSUPPORTED_OP", [x, np.array([[1, 1], [1, 1]], "int32")])
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9), known([[0, 0]] * 9)])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("three inputs", "INVALID_INPUT", [x, known([[1, 1], [1, 1]]), floats()])
    w.bad("paddings absent", "NULL_PTR", [x, None])
    w.bad("two outputs", "INVALID_OUTPUT", [x, known([[0, 0], [0, 0]])], [x, x])


if __name__ == "__main__":
    write(make, "Expected values: numpy, and the formula.", "PAD_EDGE", also=requantised.cases("PAD_EDGE"))
