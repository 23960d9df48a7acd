"""FLATTEN_RANGE."""
import numpy as np
import torch

import requantised
from common import Tensor, data, floats, odd_floats, same, TYPES, write


def make(w):

    def put(name, x, start=None, end=None, form=None):
        given = {k: v for k, v in (("startAxis", start), ("endAxis", end)) if v is not None}
        first, last = 0 if start is None else start % x.ndim, x.ndim - 1 if end is None else end % x.ndim
        y = x.reshape(x.shape[:first] + (int(np.prod(x.shape[first:last + 1])),) + x.shape[last + 1:])
        if x.dtype == np.float32:
            same(y, torch.from_numpy(x).flatten(first, last).numpy(), name)
        w.ok(name, [x], y, form, **given)

    x = floats(2, 3, 4, 5)
    put("default: all", x)
    for start in range(4):
        put("from %d on" % start, x, start)
        for end in range(start, 4):
            put("%d to %d" % (start, end), x, start, end)
            put("%d to %d, negative" % (start, end), x, start - 4, end - 4)
    put("rank 1", floats(5))
    put("rank 8, inside", floats(1, 2, 1, 3, 1, 2, 1, 2), 2, 5)
    put("rank 8, all", floats(1, 2, 1, 3, 1, 2, 1, 2))
    put("rank 8, one axis", floats(1, 2, 1, 3, 1, 2, 1, 2), 7, 7)
    put("empty", floats(0, 3), 0, 1)
    put("empty in front", floats(0, 3, 2), 1, 2)
    put("empty inside", floats(2, 3, 0, 2), 1, 2)
    put("NCHW keeps its order", x, 1, 3, "NCHW")
    put("NHWC", x, 1, 2, "NHWC")
    for odd in ("float16", "float32", "float64"):
        put("NaN, infinities, -0 " + odd, odd_floats(odd).reshape(2, 2, 2), 1, 2)
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (2, 3, 2), 2), k % 2, 1 + k % 2)
    one, each = [(8, 1, 0.5)], [(8, 0, 0.5), (8, 1, 0.25), (8, 2, 2.0)]
    q = data("int8", (2, 2, 3))
    w.ok("quantised", [Tensor(q, quant=one)], Tensor(q.reshape(4, 3), quant=one), startAxis=0, endAxis=1)
    w.ok("one scale per place of an axis behind", [Tensor(q, quant=each)], Tensor(q.reshape(4, 3), quant=each), startAxis=0,
         endAxis=1)
    w.bad("one scale per place of an axis that is folded", "UNSUPPORTED_OP", [Tensor(q, quant=each)], startAxis=1)
    w.bad("start too large", "INVALID_PARAMETER", [x], startAxis=4)
    w.bad("start too small", "INVALID_PARAMETER", [x], startAxis=-5)
    w.bad("end too large", "INVALID_PARAMETER", [x], endAxis=4)
    w.bad("end too small", "INVALID_PARAMETER", [x], endAxis=-5)
    w.bad("end before start", "INVALID_PARAMETER", [x], startAxis=2, endAxis=1)
    w.bad("end before start, negative", "INVALID_PARAMETER", [x], startAxis=3, endAxis=-2)
    w.bad("scalar", "INVALID_PARAMETER", [floats()])
    w.bad("too large an extent", "OUT_OF_MEMORY", [np.zeros((0, 2**20, 2**20), "int8")], startAxis=1)
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9)])
    w.bad("no inputs", "INVALID_INPUT", [])
    w.bad("two inputs", "INVALID_INPUT", [x, x])
    w.bad("input absent", "NULL_PTR", [None])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [x, x])


if __name__ == "__main__":
    write(make, "Expected values: numpy, and torch.", "FLATTEN_RANGE", also=requantised.cases("FLATTEN_RANGE"))
