"""UNSQUEEZE."""
import numpy as np

import requantised
from common import data, floats, odd_floats, same, TYPES, write


def make(w):

    def put(name, x, axes):
        n = x.ndim + len(axes)
        new = sorted(a + n if a < 0 else a for a in axes)
        rest = iter(x.shape)
        shape = [1 if k in new else next(rest) for k in range(n)]
        y = x
        for k in new:
            y = np.expand_dims(y, k)
        w.ok(name, [x], same(y, x.reshape(shape), name), axis=axes)

    put("front", floats(2, 3), [0])
    put("middle", floats(2, 3), [1])
    put("end", floats(2, 3), [2])
    put("end negative", floats(2, 3), [-1])
    put("front negative", floats(2, 3), [-3])
    put("two at the front", floats(2, 3), [0, 1])
    put("two in any order", floats(2, 3), [3, 0])
    put("around", floats(2, 3), [0, 3])
    put("two apart, falling", floats(2, 3), [2, 0])
    put("two apart, rising", floats(2, 3), [0, 2])
    put("negative and positive", floats(2, 3), [-1, 1])
    put("both negative", floats(2, 3), [-4, -2])
    put("last positions", floats(2, 3), [3, 2])
    put("three", floats(2, 3), [4, 0, 2])
    put("scalar", floats(), [0])
    put("scalar negative", floats(), [-1])
    put("scalar, three", floats(), [2, 0, 1])
    put("rank 1", floats(4), [1])
    put("rank 7", floats(1, 2, 1, 2, 1, 2, 2), [7])
    put("rank 2 to rank 8", floats(3, 2), [7, 0, 2, -2, 3, 5])
    put("scalar to rank 8", floats(), [7, 6, 5, 4, 3, 2, 1, 0])
    put("extents of 1", floats(1, 1), [1])
    put("empty", floats(0, 3), [1])
    put("NaN and infinities", odd_floats("float32"), [0, -1])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (3, 2), 2), ([0], [-1], [1, 2])[k % 3])
    x = floats(2, 3)
    w.bad("position too large", "INVALID_PARAMETER", [x], axis=[3])
    w.bad("position too small", "INVALID_PARAMETER", [x], axis=[-4])
    w.bad("one of two too large", "INVALID_PARAMETER", [x], axis=[0, 4])
    w.bad("position twice", "INVALID_PARAMETER", [x], axis=[1, 1])
    w.bad("position twice, once negative", "INVALID_PARAMETER", [x], axis=[3, -1])
    w.bad("result of rank 9", "INVALID_SHAPE", [floats(*[1] * 8)], axis=[0])
    w.bad("result of rank 9 from rank 7", "INVALID_SHAPE", [floats(*[1] * 7)], axis=[0, 1])
    w.bad("two inputs", "INVALID_INPUT", [x, x], axis=[0])
    w.bad("input absent", "NULL_PTR", [None], axis=[0])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [floats(1, 2, 3), floats(1, 2, 3)], axis=[0])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "UNSQUEEZE", also=requantised.cases("UNSQUEEZE"))
