"""MESHGRID."""
import numpy as np
import torch

import requantised
from common import Tensor, const, data, floats, odd_floats, same, TYPES, write


def make(w):

    def put(name, *xs):
        ys = np.meshgrid(*xs, indexing="ij")
        if xs[0].dtype == np.float32 and all(x.size for x in xs):
            for y, z in zip(ys, torch.meshgrid(*[torch.from_numpy(x) for x in xs], indexing="ij")):
                same(y, z.numpy(), name)
        w.ok(name, list(xs), [y.copy() for y in ys])

    a, b, c = floats(3), floats(2, seed=2), floats(4, seed=3)
    put("two", a, b)
    put("two, the longer second", b, a)
    put("one", a)
    put("one of one", floats(1))
    put("three", a, b, c)
    put("extents of 1", floats(1), b, floats(1))
    put("all of 1", floats(1), floats(1), floats(1))
    put("eight", *[floats(1 + k % 2, seed=k + 1) for k in range(8)])
    put("an empty one", a, floats(0), b)
    put("all empty", floats(0), floats(0))
    w.ok("constants", [const(a), b], [y.copy() for y in np.meshgrid(a, b, indexing="ij")])
    for odd in ("float16", "float32", "float64"):
        put("NaN, infinities, -0 " + odd, odd_floats(odd), odd_floats(odd)[::-1].copy())
    for t in TYPES:
        put("type " + t, data(t, (3,)), data(t, (2,), 2))
    one, two, each = [(8, 1, 0.5)], [(8, 0, 0.25)], [(8, 0, 0.5), (8, 1, 0.25)]
    p, q = data("int8", (3,)), data("int8", (2,), 2)
    y, z = (v.copy() for v in np.meshgrid(p, q, indexing="ij"))
    w.ok("quantised, each its own scale", [Tensor(p, quant=one), Tensor(q, quant=two)],
         [Tensor(y, quant=one), Tensor(z, quant=two)])
    w.ok("quantised and one not", [Tensor(p, quant=one), q], [Tensor(y, quant=one), z])
    w.ok("one scale per place", [Tensor(p, quant=one), Tensor(q, quant=each)],
         [Tensor(y, quant=one), Tensor(z, quant=each)])
    w.bad("an output too few", "INVALID_OUTPUT", [a, b], [floats(3, 2)])
    w.bad("an output too many", "INVALID_OUTPUT", [a, b], [floats(3, 2)] * 3)
    w.bad("nine", "INVALID_SHAPE", [floats(1)] * 9, [floats(*[1] * 9)] * 9)
    w.bad("a scalar", "INVALID_SHAPE", [a, floats()], [floats(3, 1)] * 2)
    w.bad("a matrix", "INVALID_SHAPE", [floats(3, 2), b], [floats(3, 2)] * 2)
    w.bad("two types", "INVALID_DATATYPE", [a, data("int32", (2,))], [floats(3, 2)] * 2)
    w.bad("result of another type", "INVALID_DATATYPE", [a, b], [floats(3, 2), data("int32", (3, 2))])
    w.bad("no inputs", "INVALID_INPUT", [], [a])
    w.bad("input absent", "NULL_PTR", [a, None], [floats(3, 2)] * 2)


if __name__ == "__main__":
    write(make, "Expected values: numpy, and torch.", "MESHGRID", also=requantised.cases("MESHGRID"))
