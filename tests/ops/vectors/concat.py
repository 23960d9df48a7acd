"""CONCAT."""
import numpy as np
import torch

import requantised
from common import data, floats, odd_floats, same, Tensor, TYPES, write


def make(w):

    def put(name, arrays, axis):
        y = np.concatenate(arrays, axis)
        if arrays[0].dtype.kind in "if":
            same(y, torch.cat([torch.from_numpy(a.copy()) for a in arrays], axis).numpy(), name)
        w.ok(name, arrays, y, axis=axis)

    put("rows", [floats(2, 3), floats(1, 3, seed=5)], 0)
    put("columns", [floats(2, 3), floats(2, 2, seed=5)], 1)
    put("last axis", [floats(2, 3), floats(2, 1, seed=5), floats(2, 2, seed=9)], -1)
    put("first axis negative", [floats(2, 3), floats(3, 3, seed=5)], -2)
    put("middle of rank 3", [floats(2, 1, 3), floats(2, 2, 3, seed=4)], 1)
    put("one input", [floats(2, 2, 2)], 1)
    put("one input of rank 1", [data("int16", (5,))], -1)
    put("20 inputs", [data("int32", (2, 1 + k % 2), k + 1) for k in range(20)], 1)
    put("20 inputs along axis 0", [data("uint8", (1, 3), k + 1) for k in range(20)], 0)
    put("rank 1", [data("int64", (3,)), data("int64", (1,), 2), data("int64", (2,), 3)], 0)
    put("rank 8", [floats(1, 2, 1, 2, 1, 2, 1, 2), floats(1, 2, 1, 2, 3, 2, 1, 2, seed=7)], 4)
    put("an empty part", [floats(2, 0), floats(2, 3)], 1)
    put("only empty parts", [floats(2, 0), floats(2, 0)], 1)
    put("another axis empty", [floats(0, 2), floats(0, 3)], 1)
    put("NHWC channels", [floats(1, 2, 2, 3), floats(1, 2, 2, 1, seed=8)], 3)
    put("NaN and infinities", [odd_floats("float32"), odd_floats("float32")[::-1].copy()], 0)
    for t in TYPES:
        put("type " + t, [data(t, (2, 2), 1), data(t, (2, 3), 2), data(t, (2, 1), 3)], 1)
    x, n = floats(2, 3), [np.array([[1, 2], [3, -4]], "int8"), np.array([[8, -16], [127, -128]], "int8")]
    q = [(8, 1, 0.5)]
    w.ok("quantised, equal parameters", [Tensor(a, quant=q) for a in n], Tensor(np.concatenate(n, 1), quant=q), axis=1)
    w.bad("no inputs", "INVALID_INPUT", [], axis=0)
    w.bad("second input absent", "NULL_PTR", [x, None], axis=0)
    w.bad("types differ", "INVALID_DATATYPE", [x, data("int32", (2, 3))], axis=0)
    w.bad("ranks differ", "INVALID_SHAPE", [x, floats(3)], axis=0)
    w.bad("another extent differs", "INVALID_SHAPE", [x, floats(2, 4)], axis=0)
    w.bad("axis too large", "INVALID_PARAMETER", [x, x], axis=2)
    w.bad("axis too small", "INVALID_PARAMETER", [x, x], axis=-3)
    w.bad("type before shape", "INVALID_DATATYPE", [x, data("int32", (5,))], axis=9)
    w.bad("rank before axis", "INVALID_SHAPE", [x, floats(2, 3, 1)], axis=9)
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9), floats(*[1] * 9)], axis=0)
    w.bad("two outputs", "INVALID_OUTPUT", [x, x], [floats(2, 3), floats(2, 3)], axis=0)


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "CONCAT", also=requantised.cases("CONCAT"))
