"""STACK."""
import numpy as np

import requantised
from common import data, floats, odd_floats, same, TYPES, write


def make(w):

    def put(name, arrays, axis):
        y = np.stack(arrays, axis)
        same(y, np.concatenate([np.expand_dims(a, axis) for a in arrays], axis), name)
        w.ok(name, arrays, y, axis=axis)

    pair = [floats(2, 3), floats(2, 3, seed=5)]
    for axis in (0, 1, 2, -1, -2, -3):
        put("axis %d" % axis, pair, axis)
    put("one input", pair[:1], 0)
    put("one input, last axis", pair[:1], -1)
    put("three inputs", pair + [floats(2, 3, seed=9)], 1)
    put("20 inputs", [data("int32", (2,), k + 1) for k in range(20)], 0)
    put("20 inputs on the last axis", [data("uint8", (3,), k + 1) for k in range(20)], -1)
    put("scalars", [floats(), floats(seed=2), floats(seed=7)], 0)
    put("scalars, axis -1", [floats(), floats(seed=2)], -1)
    put("one scalar", [floats()], 0)
    put("rank 1", [floats(4), floats(4, seed=3)], 1)
    put("rank 7", [floats(1, 2, 1, 2, 1, 2, 1), floats(1, 2, 1, 2, 1, 2, 1, seed=4)], 4)
    put("rank 7, first axis negative", [floats(1, 2, 1, 2, 1, 2, 1), floats(1, 2, 1, 2, 1, 2, 1, seed=4)], -8)
    put("empty", [floats(2, 0), floats(2, 0)], 1)
    put("empty rank 1", [floats(0), floats(0), floats(0)], 0)
    put("NaN and infinities", [odd_floats("float32"), odd_floats("float32")[::-1].copy()], 1)
    for k, t in enumerate(TYPES):
        put("type " + t, [data(t, (2, 2), 1), data(t, (2, 2), 2), data(t, (2, 2), 3)], k % 3)
    x = pair[0]
    w.bad("no inputs", "INVALID_INPUT", [], axis=0)
    w.bad("second input absent", "NULL_PTR", [x, None], axis=0)
    w.bad("types differ", "INVALID_DATATYPE", [x, data("int32", (2, 3))], axis=0)
    w.bad("shapes differ", "INVALID_SHAPE", [x, floats(2, 4)], axis=0)
    w.bad("extents of 1 do not broadcast", "INVALID_SHAPE", [x, floats(2, 1)], axis=0)
    w.bad("ranks differ", "INVALID_SHAPE", [x, floats(3)], axis=0)
    w.bad("axis too large", "INVALID_PARAMETER", [x, x], axis=3)
    w.bad("axis too small", "INVALID_PARAMETER", [x, x], axis=-4)
    w.bad("shape before axis", "INVALID_SHAPE", [x, floats(2, 4)], axis=3)
    w.bad("type before shape", "INVALID_DATATYPE", [x, data("int32", (3,))], axis=3)
    w.bad("result of rank 9", "INVALID_SHAPE", [floats(*[1] * 8)] * 2, axis=0)


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "STACK", also=requantised.cases("STACK"))
