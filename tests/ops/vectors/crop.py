"""CROP."""
import numpy as np

import requantised
from common import I64_MAX, Tensor, data, floats, known, odd_floats, TYPES, write


def make(w):

    def put(name, x, shape, offset=None, axis=None, form=None, dtype="int32"):
        a = (0 if axis is None else axis) % x.ndim
        offsets = offset or [0]
        full = [0] * a + (list(offsets) * (x.ndim - a) if len(offsets) == 1 else list(offsets))
        y = x[tuple(slice(o, o + n) for o, n in zip(full, shape))]
        assert list(y.shape) == list(shape), name
        given = {k: v for k, v in (("axis", axis), ("offset", offset)) if v is not None}
        w.ok(name, [x, known(shape, dtype, (len(shape),))], y, form, **given)

    x = floats(2, 3, 4, 5)
    put("two axes, an offset each", x, [2, 3, 2, 3], [1, 2], 2)
    put("two axes, one offset", x, [2, 3, 2, 3], [1], 2)
    put("negative axis", x, [2, 3, 2, 3], [1, 2], -2)
    put("all axes, one offset", x, [1, 2, 3, 4], [1])
    put("all axes, an offset each", x, [1, 2, 1, 4], [0, 1, 3, 1], 0)
    put("last axis", x, [2, 3, 4, 1], [4], 3)
    put("last axis, -1", x, [2, 3, 4, 2], [0], -1)
    put("no offsets", x, [1, 1, 2, 2], None, 0)
    put("nothing said", x, [2, 1, 2, 5])
    put("everything", x, [2, 3, 4, 5], [0], 1)
    put("int64", x, [2, 2, 2, 3], [1, 1, 2], 1, None, "int64")
    put("nothing left", x, [2, 0, 4, 5], [3, 0, 0], 1)
    put("nothing left, from 0", x, [0, 0, 0, 0])
    put("empty x", floats(0, 3), [0, 2], [1], 1)
    put("no two extents equal", floats(4, 3, 5), (2, 1, 3), [1, 2, 1])
    put("rank 1", floats(6), [3], [2])
    put("rank 8", floats(1, 2, 1, 3, 1, 2, 1, 2), [1, 2, 1, 2, 1, 1, 1, 1], [1, 0, 1, 0, 1], 3)
    put("rank 8, all", floats(1, 2, 1, 3, 1, 2, 1, 2), [1, 1, 1, 2, 1, 1, 1, 2], [0, 1, 0, 1, 0, 1, 0, 0])
    put("NCHW", x, [2, 3, 3, 3], [1, 0], 2, "NCHW")
    put("NHWC", x, [2, 2, 3, 5], [1, 1, 0], 1, "NHWC")
    for odd in ("float16", "float32", "float64"):
        put("NaN, infinities, -0 " + odd, odd_floats(odd), [7], [1])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (3, 3, 2), 2), [(1, 2, 2), (3, 1, 1), (2, 2, 2)][k % 3], [[1, 1, 0], [0, 2, 1], [1, 0, 0]][k % 3])
    one, each = [(8, 1, 0.5)], [(8, 0, 0.5), (8, 1, 0.25)]
    q = data("int8", (3, 2))
    w.ok("quantised", [Tensor(q, quant=one), known([2, 1])], Tensor(q[1:, 1:], quant=one), offset=[1])
    w.ok("one scale per place of an axis that stays", [Tensor(q, quant=each), known([2, 2])],
         Tensor(q[1:], quant=each), offset=[1, 0])
    w.bad("one scale per place of an axis that is cut", "UNSUPPORTED_OP", [Tensor(q, quant=each), known([3, 1])])
    s = known([2, 3, 2, 3])
    w.bad("an axis before axis is cut", "INVALID_SHAPE", [x, known([1, 3, 4, 5])], axis=1, offset=[0])
    w.bad("an axis before axis grows", "INVALID_SHAPE", [x, known([2, 4, 4, 5])], axis=2, offset=[0])
    w.bad("beyond the end", "INVALID_PARAMETER", [x, s], axis=2, offset=[3, 2])
    w.bad("beyond the end by one, last axis", "INVALID_PARAMETER", [x, s], axis=2, offset=[2, 3])
    w.bad("offset beyond the end, nothing taken", "INVALID_PARAMETER", [x, known([2, 3, 0, 5])], axis=2, offset=[5, 0])
    w.bad("larger than x", "INVALID_PARAMETER", [x, known([2, 3, 5, 5])], axis=2)
    w.bad("negative offset", "INVALID_PARAMETER", [x, s], axis=2, offset=[-1, 2])
    w.bad("negative extent", "INVALID_PARAMETER", [x, known([2, 3, -1, 3])], axis=2)
    w.bad("negative extent before axis", "INVALID_PARAMETER", [x, known([-2, 3, 1, 3])], axis=2)
    w.bad("largest int64", "INVALID_PARAMETER", [x, known([2, 3, 2, I64_MAX], "int64")], axis=2)
    w.bad("an offset too few", "INVALID_PARAMETER", [x, s], axis=1, offset=[0, 0])
    w.bad("an offset too many", "INVALID_PARAMETER", [x, s], axis=2, offset=[0, 0, 0])
    w.bad("axis too large", "INVALID_PARAMETER", [x, s], axis=4)
    w.bad("axis too small", "INVALID_PARAMETER", [x, s], axis=-5)
    w.bad("scalar", "INVALID_PARAMETER", [floats(), known([], "int32", (0,))])
    w.bad("an extent too few", "INVALID_SHAPE", [x, known([3, 2, 3])], axis=2)
    w.bad("shape of rank 2", "INVALID_SHAPE", [x, known([[2, 3, 2, 3]])], axis=2)
    w.bad("shape of float32", "INVALID_DATATYPE", [x, known([2, 3, 2, 3], "float32")], axis=2)
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9), known([1] * 9)])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("three inputs", "INVALID_INPUT", [x, s, s], axis=2)
    w.bad("shape absent", "NULL_PTR", [x, None])
    w.bad("two outputs", "INVALID_OUTPUT", [x, s], [x, x], axis=2)


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "CROP", also=requantised.cases("CROP"))
