"""UNSTACK."""
import numpy as np
import torch

import requantised
from common import Tensor, data, floats, odd_floats, same, TYPES, write


def unstack(x, axis):
    return [np.take(x, k, axis) for k in range(x.shape[axis])]


def make(w):

    def put(name, x, axis=None, form=None):
        ys = unstack(x, axis or 0)
        if x.dtype == np.float32:
            for y, z in zip(ys, torch.unbind(torch.from_numpy(x), axis or 0)):
                same(y, z.numpy(), name)
        w.ok(name, [x], ys, form, **({} if axis is None else {"axis": axis}))

    x = floats(2, 3, 4)
    put("default", x)
    for axis in range(-3, 3):
        put("axis %d" % axis, x, axis)
    put("rank 1: scalars", floats(5))
    put("one output", floats(1, 3))
    put("one scalar", floats(1), -1)
    put("rank 8", floats(1, 2, 1, 3, 1, 2, 1, 2), 3)
    put("rank 8, last axis", floats(1, 2, 1, 3, 1, 2, 1, 2), -1)
    put("33 outputs", floats(33, 2))
    put("empty parts", floats(2, 0))
    put("empty parts, axis in the middle", floats(0, 3, 2), 1)
    put("NCHW", floats(1, 2, 2, 3), 1, "NCHW")
    put("NHWC", floats(1, 2, 2, 3), 3, "NHWC")
    for odd in ("float16", "float32", "float64"):
        put("NaN, infinities, -0 " + odd, odd_floats(odd).reshape(4, 2), 1)
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (2, 3, 2), 2), k % 3)
    one, each = [(8, 1, 0.5)], [(8, 0, 0.5), (8, 1, 0.25)]
    q = data("int8", (3, 2))
    w.ok("quantised", [Tensor(q, quant=one)], [Tensor(y, quant=one) for y in unstack(q, 0)])
    w.ok("one scale per place of an axis that stays", [Tensor(q, quant=each)], [Tensor(y, quant=each) for y in unstack(q, 0)])
    w.bad("one scale per place of the axis", "UNSUPPORTED_OP", [Tensor(q, quant=each)], unstack(q, 1), axis=1)
    w.bad("an output too few", "INVALID_OUTPUT", [x], unstack(x, 1)[:2], axis=1)
    w.bad("an output too many", "INVALID_OUTPUT", [x], unstack(x, 1) * 2, axis=1)
    w.bad("nothing to take apart", "INVALID_OUTPUT", [floats(0, 2)], [floats(2)])
    w.bad("axis too large", "INVALID_PARAMETER", [x], unstack(x, 0), axis=3)
    w.bad("axis too small", "INVALID_PARAMETER", [x], unstack(x, 0), axis=-4)
    w.bad("scalar", "INVALID_PARAMETER", [floats()], [floats()])
    w.bad("another type", "INVALID_DATATYPE", [x], [y.astype("int32") for y in unstack(x, 0)])
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9)])
    w.bad("no inputs", "INVALID_INPUT", [])
    w.bad("two inputs", "INVALID_INPUT", [x, x], unstack(x, 0))
    w.bad("input absent", "NULL_PTR", [None])


if __name__ == "__main__":
    write(make, "Expected values: numpy, and torch.", "UNSTACK", also=requantised.cases("UNSTACK"))
