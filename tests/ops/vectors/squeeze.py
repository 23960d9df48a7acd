"""SQUEEZE."""
import numpy as np

import requantised
from common import data, floats, odd_floats, same, Tensor, TYPES, write


def make(w):

    def put(name, x, axes=None):
        drop = [k for k in range(x.ndim) if x.shape[k] == 1]
        if axes is not None:
            drop = [k for k in drop if k in [a + x.ndim if a < 0 else a for a in axes]]
        y = np.squeeze(x, tuple(drop))
        same(y, x.reshape([d for k, d in enumerate(x.shape) if k not in drop]), name)
        w.ok(name, [x], y, **({"axis": axes} if axes is not None else {}))

    put("all of extent 1", floats(1, 2, 1, 3, 1))
    put("all, none to drop", floats(2, 3))
    put("all to a scalar", floats(1, 1, 1))
    put("one element of rank 1", floats(1))
    put("one axis", floats(1, 2, 1, 3), [0])
    put("another axis", floats(1, 2, 1, 3), [2])
    put("two axes", floats(1, 2, 1, 3), [0, 2])
    put("two axes out of order", floats(1, 2, 1, 3), [2, 0])
    put("negative axis", floats(1, 2, 1, 3), [-2])
    put("negative and positive", floats(1, 2, 1, 3, 1), [-1, 0])
    put("last axis", floats(3, 1), [-1])
    put("to a scalar by list", floats(1, 1), [0, 1])
    put("example of the specification", floats(2, 1, 1, 2, 2), [0, 1])
    put("listed axis of extent 2 stays", floats(2, 1, 3), [0])
    put("listed axes all stay", floats(2, 3), [0, 1])
    put("listed empty axis stays", floats(0, 1, 2), [0, 1])
    put("scalar", floats())
    put("rank 8", floats(1, 2, 1, 3, 1, 2, 1, 2))
    put("rank 8 by list", floats(1, 2, 1, 3, 1, 2, 1, 2), [6, -4, 0])
    put("empty", floats(1, 0, 1))
    put("NaN and infinities", odd_floats("float32").reshape(1, 8), [0])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (2, 1, 3), 2), ([1], [-2], None)[k % 3])
    q = [(8, 4, 0.25)]
    x = data("int8", (1, 4), 3)
    w.ok("quantised", [Tensor(x, quant=q)], Tensor(x.reshape(4), quant=q), axis=[0])
    x = floats(1, 2, 1)
    w.bad("axis too large", "INVALID_PARAMETER", [x], axis=[3])
    w.bad("axis too small", "INVALID_PARAMETER", [x], axis=[-4])
    w.bad("second axis too large", "INVALID_PARAMETER", [x], axis=[0, 7])
    w.bad("axis twice", "INVALID_PARAMETER", [x], axis=[0, 0])
    w.bad("axis twice, once negative", "INVALID_PARAMETER", [x], axis=[2, -1])
    w.bad("axis of a scalar", "INVALID_PARAMETER", [floats()], axis=[0])
    w.bad("two inputs", "INVALID_INPUT", [x, x])
    w.bad("input absent", "NULL_PTR", [None], axis=[0])
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9)])
    w.bad("rank before axis", "INVALID_SHAPE", [floats(*[1] * 9)], axis=[20])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "SQUEEZE", also=requantised.cases("SQUEEZE"))
