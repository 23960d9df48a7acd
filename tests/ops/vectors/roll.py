"""ROLL."""
import numpy as np
import torch

import requantised
from common import I64_MAX, I64_MIN, Tensor, data, floats, known, odd_floats, same, TYPES, write


def make(w):

    def put(name, x, shifts, axes=None, form=None, dtype="int32"):
        """numpy wants shifts within the range of its own integers: Python takes the remainder of larger ones."""
        if axes is None:
            y = np.roll(x, shifts[0] % max(x.size, 1))
        else:
            y = np.roll(x, [s % max(x.shape[a], 1) for s, a in zip(shifts, axes)], axes) if axes else x.copy()
        if x.dtype == np.float32 and x.size and x.ndim and abs(max(shifts, default=0, key=abs)) < 2**31:
            z = torch.roll(torch.from_numpy(x), shifts, axes) if axes is None or axes else torch.from_numpy(x)
            same(y, z.numpy(), name)
        ins = [x, known(shifts, dtype, (len(shifts),))]
        w.ok(name, ins + ([] if axes is None else [known(axes, dtype, (len(axes),))]), y, form)

    x, c = floats(3, 4), floats(2, 3, 4)
    put("rows", x, [1], [0])
    put("rows back", x, [-1], [0])
    put("columns", x, [1], [1])
    put("columns, axis -1", x, [3], [-1])
    put("both", x, [1, 2], [0, 1])
    put("both, other order", x, [1, 2], [1, 0])
    put("negative axes", c, [1, -2], [-3, -1])
    put("all three", c, [1, 2, 3], [0, 1, 2], None, "int64")
    put("the middle one", c, [2], [1])
    put("0", x, [0], [1])
    put("the extent", x, [3], [0])
    put("twice the extent and 1", x, [9], [1])
    put("far back", x, [-1000001], [0])
    put("largest int32", x, [2**31 - 1, -2**31], [0, 1])
    put("largest int64", x, [I64_MAX, I64_MIN], [0, 1], None, "int64")
    put("an extent of 1, smallest int64", floats(1, 3), [I64_MIN, -1], [0, 1], None, "int64")
    put("no axes listed", x, [], [])
    put("flat", x, [1])
    put("flat, back", x, [-5])
    put("flat, more than there are", c, [100])
    put("flat, 0", x, [0])
    put("flat, smallest int64", x, [I64_MIN], None, None, "int64")
    put("flat rank 1", floats(5), [2])
    put("flat scalar", floats(), [3])
    put("flat scalar, smallest int64", floats(), [I64_MIN], None, None, "int64")
    put("flat empty", floats(2, 0), [3])
    put("flat rank 8", floats(1, 2, 1, 2, 1, 3, 1, 2), [7])
    put("scalar, no axes listed", floats(), [], [])
    put("empty", floats(0, 3), [1, 1], [0, 1])
    put("rank 8, all", floats(1, 2, 1, 2, 1, 3, 1, 2), [1, 1, 0, 3, -1, 2, 5, -1], [0, 1, 2, 3, 4, 5, 6, 7])
    put("rank 8, two", floats(2, 2, 1, 2, 1, 3, 1, 2), [1, -2], [-3, 0])
    put("NCHW", floats(1, 2, 2, 3), [1, 2], [2, 3], "NCHW")
    put("NHWC", floats(1, 2, 2, 3), [1], None, "NHWC")
    w.ok("axes absent", [x, known([5]), None], np.roll(x, 5))
    w.ok("int32 and int64", [x, known([1]), known([1], "int64")], np.roll(x, 1, 1))
    for odd in ("float16", "float32", "float64"):
        put("NaN, infinities, -0 " + odd, odd_floats(odd), [3], [0])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (3, 2, 2), 2), *[([1], [0]), ([5], None), ([2, 1], [0, 2])][k % 3])
    one, each = [(8, 1, 0.5)], [(8, 0, 0.5), (8, 1, 0.25)]
    q = data("int8", (3, 2))
    w.ok("quantised", [Tensor(q, quant=one), known([1])], Tensor(np.roll(q, 1), quant=one))
    w.ok("one scale per place of an axis that stays", [Tensor(q, quant=each), known([1]), known([0])],
         Tensor(np.roll(q, 1, 0), quant=each))
    w.bad("one scale per place of an axis that moves", "UNSUPPORTED_OP", [Tensor(q, quant=each), known([1]), known([1])])
    w.bad("one scale per place, flat", "UNSUPPORTED_OP", [Tensor(q, quant=each), known([1])])
    w.bad("axis too large", "INVALID_PARAMETER", [x, known([1]), known([2])])
    w.bad("axis too small", "INVALID_PARAMETER", [x, known([1]), known([-3])])
    w.bad("axis beyond int32", "INVALID_PARAMETER", [x, known([1]), known([2**32], "int64")])
    w.bad("axis twice", "INVALID_PARAMETER", [x, known([1, 1]), known([1, 1])])
    w.bad("axis twice, once negative", "INVALID_PARAMETER", [x, known([1, 1]), known([1, -1])])
    w.bad("more shifts than axes", "INVALID_SHAPE", [x, known([1, 1]), known([0])])
    w.bad("fewer shifts than axes", "INVALID_SHAPE", [x, known([1]), known([0, 1])])
    w.bad("more axes than x has", "INVALID_SHAPE", [x, known([1, 1, 1]), known([0, 1, 0])])
    w.bad("two shifts, flat", "INVALID_SHAPE", [x, known([1, 1])])
    w.bad("no shifts, flat", "INVALID_SHAPE", [x, known([], "int32", (0,))])
    w.bad("shifts of rank 0", "INVALID_SHAPE", [x, known(1)])
    w.bad("axes of rank 2", "INVALID_SHAPE", [x, known([1]), known([[0]])])
    w.bad("shifts of float32", "INVALID_DATATYPE", [x, known([1], "float32"), known([0])])
    w.bad("axes of int8", "INVALID_DATATYPE", [x, known([1]), known([0], "int8")])
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9), known([1])])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("four inputs", "INVALID_INPUT", [x, known([1]), known([0]), known([0])])
    w.bad("shifts absent", "NULL_PTR", [x, None, known([0])])
    w.bad("two outputs", "INVALID_OUTPUT", [x, known([1])], [x, x])


if __name__ == "__main__":
    write(make, "Expected values: numpy, and torch.", "ROLL", also=requantised.cases("ROLL"))
