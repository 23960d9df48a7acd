"""REVERSE_SEQUENCE."""
import numpy as np

import requantised
from common import data, floats, odd_floats, Tensor, TYPES, write


def reversed_(x, lengths, batch, time):
    y = np.moveaxis(x.copy(), (batch, time), (0, 1))  # a view of the copy
    for b, n in enumerate(lengths):
        y[b, :n] = y[b, :n][::-1].copy()
    return np.ascontiguousarray(np.moveaxis(y, (0, 1), (batch, time)))


def make(w):
    def go(name, x, lengths, batch=None, time=None, index="int64", constant=False, **more):
        attrs = {**({} if batch is None else {"batchAxis": batch}), **({} if time is None else {"timeAxis": time})}
        y = reversed_(x, lengths, 1 if batch is None else batch, 0 if time is None else time)
        w.ok(name, [x, Tensor(np.array(lengths, index), constant)], y, **attrs, **more)

    for n, t in enumerate(TYPES):
        go("type " + t, data(t, (4, 3)), [4, 2, 3], index=("int32", "int64")[n % 2])
        go("type %s, batch first" % t, data(t, (3, 4, 2)), [0, 1, 4], 0, 1, index=("int32", "int64")[n % 2])
    for batch in range(-4, 4):
        for time in range(-4, 4):
            if batch % 4 != time % 4:
                shape = (2, 3, 4, 5)
                lengths = [(3 * b + 2) % (shape[time] + 1) for b in range(shape[batch])]
                go("batch %d, time %d" % (batch, time), floats(*shape), lengths, batch, time)
    go("defaults", floats(5, 2), [5, 4])
    w.ok("both axes 0: the defaults", [floats(3, 2), np.array([3, 2])], reversed_(floats(3, 2), [3, 2], 1, 0), batchAxis=0, timeAxis=0)
    for length in range(6):
        go("length %d of 5" % length, floats(5, 1), [length])
    go("rank 8", floats(2, 1, 2, 1, 3, 1, 2, 1), [3, 2], 2, 4)
    go("one step", floats(1, 3), [1, 0, 1])
    go("no time", floats(0, 3), [0, 0, 0])
    go("no sequences", floats(3, 0), [])
    go("no elements", floats(3, 2, 0), [3, 2])
    go("constants", floats(3, 2), [2, 3], constant=True)
    go("NCHW counts axes in its own order", floats(2, 3, 2, 2), [2, 3], 0, 1, form="NCHW")
    for t in ("float16", "float32", "float64"):
        go("odd values, " + t, odd_floats(t).reshape(8, 1), [7])
    q, other = [(8, 3, 0.5)], [(8, -1, 0.25)]
    x = data("int8", (3, 2))
    y = reversed_(x, [3, 2], 1, 0)
    w.ok("quantised", [Tensor(x, quant=q), np.array([3, 2])], Tensor(y, quant=q))
    w.ok("quantised by sequence", [Tensor(x, quant=q + other), np.array([3, 2])], Tensor(y, quant=q + other))
    w.bad("quantised by time", "UNSUPPORTED_OP", [Tensor(x, quant=q + other), np.array([3, 2, 1])], batchAxis=0, timeAxis=1)
    w.bad("length 4 of 3", "INVALID_PARAMETER", [x, np.array([3, 4])], [x], run=True,
          says="length 4, element 1 of lengths, lies outside axis 0 of x, expected 0 to 3")
    w.bad("length -1", "INVALID_PARAMETER", [x, np.array([-1, 3])], [x], run=True)
    w.bad("a length beyond int32", "INVALID_PARAMETER", [x, np.array([2**32 + 1, 3])], [x], run=True)
    w.bad("a length of no time", "INVALID_PARAMETER", [floats(0, 2), np.array([0, 1])], [floats(0, 2)], run=True)
    w.bad("axes equal", "INVALID_PARAMETER", [x, np.array([3, 2])], batchAxis=1, timeAxis=1)
    w.bad("axes equal from the end", "INVALID_PARAMETER", [x, np.array([3, 2])], batchAxis=1, timeAxis=-1)
    w.bad("batchAxis 2 of rank 2", "INVALID_PARAMETER", [x, np.array([3, 2])], batchAxis=2)
    w.bad("timeAxis -3 of rank 2", "INVALID_PARAMETER", [x, np.array([3, 2])], timeAxis=-3)
    w.bad("three lengths of two sequences", "INVALID_SHAPE", [x, np.array([3, 2, 1])])
    w.bad("lengths of two axes", "INVALID_SHAPE", [x, np.array([[3, 2]])])
    w.bad("lengths a scalar", "INVALID_SHAPE", [x, np.array(3)])
    w.bad("one axis", "INVALID_SHAPE", [floats(3), np.array([3])])
    w.bad("lengths of float32", "INVALID_DATATYPE", [x, floats(2)])
    w.bad("result of another type", "INVALID_DATATYPE", [x, np.array([3, 2])], [y.astype("int16")])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("three inputs", "INVALID_INPUT", [x, np.array([3, 2]), np.array([3, 2])])
    w.bad("absent lengths", "NULL_PTR", [x, None])
    w.bad("rank 9", "INVALID_SHAPE", [np.ones((1,) * 9, "float32"), np.array([1])])
    w.bad("two outputs", "INVALID_OUTPUT", [x, np.array([3, 2])], [y, y])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "REVERSE_SEQUENCE", also=requantised.cases("REVERSE_SEQUENCE"))
