"""GATHER_ELEMENTS."""
import numpy as np
import torch

import requantised
from common import data, floats, odd_floats, same, Tensor, TYPES, write


def gather(x, indices, axis):
    y = np.zeros(indices.shape, x.dtype)
    for at in np.ndindex(indices.shape):
        from_ = list(at)
        from_[axis] = indices[at]
        y[at] = x[tuple(from_)]
    if x.dtype.name not in ("uint16", "uint32", "uint64"):  # which torch lacks
        at = np.where(indices < 0, indices.astype("int64") + x.shape[axis], indices.astype("int64"))
        same(y, torch.gather(torch.from_numpy(x.copy()), axis, torch.from_numpy(at)).numpy(), "torch.gather")
    return y


def make(w):
    random = np.random.default_rng(1131)

    def go(name, x, indices, axis=None, index="int64", constant=False, **more):
        indices = np.array(indices, index)
        attrs = {} if axis is None else {"axis": axis}
        w.ok(name, [x, Tensor(indices, constant)], gather(x, indices, axis or 0), **attrs, **more)

    for n, t in enumerate(TYPES):
        for index in ("int32", "int64"):
            go("type %s by %s" % (t, index), data(t, (3, 4)), random.integers(-3, 3, (2, 4)), index=index)
            go("type %s by %s, axis 1" % (t, index), data(t, (3, 4)), random.integers(-4, 4, (3, 7)), 1, index)
    for shape in ((5,), (3, 4), (2, 3, 4), (2, 3, 1, 2), (1, 2, 1, 2, 1, 2, 2, 3)):
        for axis in range(-len(shape), len(shape)):
            for more in (0, 2):
                places = list(shape)
                places[axis] += more
                go("%s, %d more, axis %d" % (list(shape), more, axis), floats(*shape),
                   random.integers(-shape[axis], shape[axis], places), axis)
            places = [max(k - 1, 1) for k in shape]
            go("fewer than %s, axis %d" % (list(shape), axis), floats(*shape), random.integers(-shape[axis], shape[axis], places), axis)
    go("every index", floats(5), [0, 1, 2, 3, 4, -1, -2, -3, -4, -5])
    go("no indices", floats(3, 2), np.zeros((0, 2)))
    go("no indices of an axis without places", floats(0, 2), np.zeros((0, 2)))
    go("nothing beside", floats(3, 0), np.zeros((5, 0)))
    go("constant indices", floats(3, 2), [[0, 1]], constant=True)
    go("NCHW counts the axis in its own order", floats(1, 3, 2, 2), random.integers(0, 3, (1, 4, 2, 2)), 1, form="NCHW")
    for t in ("float16", "float32", "float64"):
        go("odd values, " + t, odd_floats(t), [7, 6, 5, 4, 3, 2, 1, 0])
    x = data("int8", (3, 2))
    at = np.array([[0, 1], [2, -1], [1, 1]])
    y = gather(x, at, 0)
    q, other = [(8, 3, 0.5)], [(8, -1, 0.25)]
    w.ok("quantised", [Tensor(x, quant=q), at], Tensor(y, quant=q))
    w.ok("quantised by the other axis", [Tensor(x, quant=q + other), at], Tensor(y, quant=q + other))
    w.bad("quantised by the other axis, of which a part", "UNSUPPORTED_OP", [Tensor(x, quant=q + other), at[:, :1]])
    w.bad("quantised by the axis", "UNSUPPORTED_OP", [Tensor(x, quant=q + other), at], axis=1)
    for bad in (3, -4, 2**31 + 1, -2**63):
        w.bad("index %d of 3" % bad, "INVALID_PARAMETER", [x, np.array([[0, bad]])], [x[:1]], run=True)
    w.bad("an index of no places", "INVALID_PARAMETER", [floats(0, 2), np.array([[0, 0]])], [floats(1, 2)], run=True)
    w.bad("indices larger along another axis", "INVALID_SHAPE", [x, np.zeros((3, 3), "int64")])
    w.bad("indices with fewer axes", "INVALID_SHAPE", [x, np.array([0, 1])])
    w.bad("indices with more axes", "INVALID_SHAPE", [x, np.array([[[0, 1]]])])
    w.bad("scalars", "INVALID_PARAMETER", [np.array(1, "float32"), np.array(0)])
    w.bad("axis 2 of rank 2", "INVALID_PARAMETER", [x, at], axis=2)
    w.bad("axis -3 of rank 2", "INVALID_PARAMETER", [x, at], axis=-3)
    w.bad("axis beyond int32", "INVALID_PARAMETER", [x, at], axis=2**32)
    w.bad("indices of float32", "INVALID_DATATYPE", [x, floats(3, 2)])
    w.bad("indices of int16", "INVALID_DATATYPE", [x, at.astype("int16")])
    w.bad("result of another type", "INVALID_DATATYPE", [x, at], [y.astype("int16")])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("three inputs", "INVALID_INPUT", [x, at, at])
    w.bad("absent indices", "NULL_PTR", [x, None])
    w.bad("rank 9", "INVALID_SHAPE", [np.ones((1,) * 9, "float32"), at])
    w.bad("two outputs", "INVALID_OUTPUT", [x, at], [y, y])


if __name__ == "__main__":
    write(make, "Expected values: plain loops, and torch.gather for the types that it has.", "GATHER_ELEMENTS",
          also=requantised.cases("GATHER_ELEMENTS"))
