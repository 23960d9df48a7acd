"""ASSIGN."""
import numpy as np

import requantised
from common import data, floats, odd_floats, Tensor, TYPES, write


def make(w):
    for k, dtype in enumerate(TYPES):
        for shape in ((), (1,), (2, 3, 5), (2, 0, 3), (1, 2, 1, 2, 1, 2, 1, 2)):
            x = data(dtype, shape, k % 3 + 1)
            w.ok("%s %s" % (dtype, list(shape)), [x], x)
    for dtype in ("float16", "float32", "float64"):
        w.ok("odd numbers " + dtype, [odd_floats(dtype)], odd_floats(dtype))
    w.ok("constant", [Tensor(floats(2, 3), True)], floats(2, 3))
    w.ok("NCHW", [floats(1, 2, 3, 2)], floats(1, 2, 3, 2), "NCHW")
    w.ok("NHWC", [floats(1, 2, 3, 2)], floats(1, 2, 3, 2), "NHWC")
    q, other, each = [(8, 4, 0.25)], [(8, 4, 0.5)], [(8, 0, 0.25), (8, 1, 0.5), (8, -2, 2.0)]
    for dtype in ("int8", "uint8", "int16", "int32"):
        x = data(dtype, (2, 3))
        w.ok("quantised " + dtype, [Tensor(x, quant=q)], Tensor(x, quant=q))
        w.ok("result without parameters takes them " + dtype, [Tensor(x, quant=q)], x)
        w.ok("quantised for each channel " + dtype, [Tensor(x, quant=each)], Tensor(x, quant=each))
        if dtype in ("int8", "uint8"):  # those are requantized: requantised.py
            continue
        w.bad("other scale " + dtype, "UNSUPPORTED_OP", [Tensor(x, quant=q)], [Tensor(x, quant=other)])
        w.bad("other channels " + dtype, "UNSUPPORTED_OP", [Tensor(x, quant=each)], [Tensor(x, quant=each[::-1])])
    x = data("int8", (2, 3))
    w.bad("two parameters for three channels", "INVALID_PARAMETER", [Tensor(x, quant=each[:2])])
    w.bad("a result of another type", "INVALID_DATATYPE", [x], [x.astype(np.uint8)])
    w.bad("two inputs", "INVALID_INPUT", [x, x])
    w.bad("no input", "INVALID_INPUT", [])
    w.bad("absent input", "NULL_PTR", [None])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [x, x])
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9)])


if __name__ == "__main__":
    write(make, "Expected values: the input.", "ASSIGN", also=requantised.cases("ASSIGN"))
