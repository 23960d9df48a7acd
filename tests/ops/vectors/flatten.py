"""FLATTEN."""
import numpy as np

import requantised
from common import Tensor, data, floats, odd_floats, TYPES, write


def flat(x, axis):
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:])))


def make(w):

    def put(name, x, axis=None, form=None):
        w.ok(name, [x], flat(x, 1 if axis is None else axis), form, **({} if axis is None else {"axis": axis}))

    x = floats(2, 3, 4, 5)
    put("default", x)
    for axis in range(-4, 5):
        put("axis %d" % axis, x, axis)
    put("scalar", floats(), 0)
    for axis in (-1, 0, 1):
        put("rank 1, axis %d" % axis, floats(5), axis)
    put("rank 2", floats(3, 4))
    for axis in (-8, -3, 1, 4, 8):
        put("rank 8, axis %d" % axis, floats(1, 2, 1, 3, 1, 2, 1, 2), axis)
    put("empty", floats(0, 3))
    put("empty behind", floats(2, 3, 0), 1)
    put("empty, folded with others", floats(2, 0, 3), 2)
    put("empty, axis 0", floats(2, 0), 0)
    put("NCHW keeps its order", x, 1, "NCHW")
    put("NHWC", x, 1, "NHWC")
    for odd in ("float16", "float32", "float64"):
        put("NaN, infinities, -0 " + odd, odd_floats(odd).reshape(2, 2, 2), 2)
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (2, 3, 2), 2), k % 4)
    one, each = [(8, 1, 0.5)], [(8, 0, 0.5), (8, 1, 0.25), (8, 2, 2.0)]
    q = data("int8", (3, 2, 2))
    w.ok("quantised", [Tensor(q, quant=one)], Tensor(flat(q, 1), quant=one))
    w.bad("one scale per place of an axis that is folded", "UNSUPPORTED_OP", [Tensor(data("int8", (2, 2, 3)), quant=each)])
    w.ok("one scale per place of an axis alone", [Tensor(data("int8", (2, 2, 3)), quant=each)],
         Tensor(data("int8", (2, 2, 3)).reshape(4, 3), quant=each), axis=2)
    w.bad("axis too large", "INVALID_PARAMETER", [x], axis=5)
    w.bad("axis too small", "INVALID_PARAMETER", [x], axis=-5)
    w.bad("scalar, default", "INVALID_PARAMETER", [floats()])
    w.bad("scalar, axis -1", "INVALID_PARAMETER", [floats()], axis=-1)
    w.bad("axis beyond int32", "INVALID_PARAMETER", [x], axis=2**32)
    w.bad("too large an extent", "OUT_OF_MEMORY", [np.zeros((2**20, 2**20, 0), "int8")], axis=2)
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9)])
    w.bad("no inputs", "INVALID_INPUT", [])
    w.bad("two inputs", "INVALID_INPUT", [x, x])
    w.bad("input absent", "NULL_PTR", [None])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [flat(x, 1)] * 2)


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "FLATTEN", also=requantised.cases("FLATTEN"))
