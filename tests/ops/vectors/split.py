"""SPLIT."""
import numpy as np
import torch

import requantised
from common import data, floats, odd_floats, same, TYPES, write


def make(w):

    def put(name, x, parts, axis=0, sizes=None):
        if sizes is None:
            outs = np.split(x, parts, axis)
        else:
            full = [x.shape[axis] - sum(s for s in sizes if s >= 0) if s == -1 else s for s in sizes]
            outs = np.split(x, np.cumsum(full)[:-1], axis)
            if x.dtype.kind == "f":
                for a, t in zip(outs, torch.split(torch.from_numpy(x.copy()), full, axis)):
                    same(a, t.numpy(), name)
        if len(outs) != parts:
            raise SystemExit("wrong number of parts: " + name)
        same(np.concatenate(outs, axis), x, name)
        w.ok(name, [x], list(outs), outputNum=parts, axis=axis, **({"sizeSplits": sizes} if sizes is not None else {}))

    x = floats(4, 6)
    put("two rows parts", x, 2)
    put("three column parts", x, 3, 1)
    put("negative axis", x, 2, -1)
    put("first axis negative", x, 4, -2)
    put("one part", x, 1)
    put("one part with its size", x, 1, 1, [6])
    put("one part of the rest", x, 1, 1, [-1])
    put("sizes", x, 3, 1, [1, 2, 3])
    put("sizes along rows", x, 2, 0, [1, 3])
    put("rest first", x, 3, 1, [-1, 2, 1])
    put("rest last", x, 3, -1, [2, 1, -1])
    put("rest in the middle", x, 3, -1, [2, -1, 3])
    put("rest is empty", x, 3, 1, [4, 2, -1])
    put("size 0 first", x, 3, 1, [0, 2, 4])
    put("size 0 last", x, 2, 0, [4, 0])
    put("all sizes 0 but one", x, 4, 1, [0, 6, 0, 0])
    put("20 parts", data("int32", (20, 2)), 20)
    put("20 parts with sizes", data("int16", (2, 21)), 20, 1, [1] * 19 + [2])
    put("rank 1", floats(6), 3)
    put("middle axis", floats(2, 4, 3), 2, 1)
    put("NHWC channels", floats(1, 2, 2, 4), 2, 3)
    put("rank 8", floats(1, 2, 1, 4, 1, 2, 2, 1), 2, 3)
    put("rank 8 sizes", floats(1, 2, 1, 4, 1, 2, 2, 1), 2, -5, [1, 3])
    put("empty axis in equal parts", floats(0, 2), 3)
    put("empty axis with sizes", floats(2, 0), 2, 1, [0, 0])
    put("another axis empty", floats(0, 4), 2, 1)
    put("NaN and infinities", odd_floats("float32"), 2, 0, [3, 5])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (3, 4), 2), 2, 1, None if k % 2 else [3, 1])
    two = [floats(2, 6), floats(2, 6)]
    w.bad("not divisible", "INVALID_SHAPE", [floats(5, 2)], two, outputNum=2, axis=0)
    w.bad("axis too large", "INVALID_PARAMETER", [x], two, outputNum=2, axis=2)
    w.bad("axis too small", "INVALID_PARAMETER", [x], two, outputNum=2, axis=-3)
    w.bad("two rests", "INVALID_PARAMETER", [x], two, outputNum=2, axis=0, sizeSplits=[-1, -1])
    w.bad("size -2", "INVALID_PARAMETER", [x], two, outputNum=2, axis=0, sizeSplits=[-2, 6])
    w.bad("fewer sizes than outputs", "INVALID_PARAMETER", [x], two, outputNum=2, axis=0, sizeSplits=[4])
    w.bad("more sizes than outputs", "INVALID_PARAMETER", [x], two, outputNum=2, axis=0, sizeSplits=[1, 1, 2])
    w.bad("fewer outputs than outputNum", "INVALID_OUTPUT", [floats(6, 2)], two, outputNum=3, axis=0)
    w.bad("more outputs than outputNum", "INVALID_OUTPUT", [x], two, outputNum=1, axis=0)
    w.bad("two inputs", "INVALID_INPUT", [x, x], two, outputNum=2, axis=0)
    w.bad("input absent", "NULL_PTR", [None], two, outputNum=2, axis=0)
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9)], [floats(*[1] * 9)], outputNum=1, axis=0)


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "SPLIT", also=requantised.cases("SPLIT"))
