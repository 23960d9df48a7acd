"""SPACE_TO_DEPTH."""
import itertools

import numpy as np

import requantised
from common import BLOCKS, Tensor, data, floats, odd_floats, same, to_nchw, TYPES, write


def space_to_depth(x, b):
    """By reshape and transpose, on [N,H,W,C]; checked against the printed formula element by element."""
    n, h, w, c = x.shape
    h, w = h // b, w // b
    y = x.reshape(n, h, b, w, b, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h, w, b * b * c)
    z = np.zeros_like(y)
    for i, j, p, q, k in itertools.product(range(b), range(b), range(h), range(w), range(c)):
        z[:, p, q, (i * b + j) * c + k] = x[:, p * b + i, q * b + j, k]
    return same(y, z, "space to depth")


def make(w):
    for name, (n, h, wd, c), b in BLOCKS:
        x = data("float32", (n, h * b, wd * b, c), 2)
        y = space_to_depth(x, b)
        w.ok(name, [x], y, blockSize=b)
        w.ok(name + " NCHW", [to_nchw(x)], to_nchw(y), form="NCHW", blockSize=b)
    for t in TYPES:
        x = data(t, (1, 2, 4, 2), 3)
        w.ok("type " + t, [x], space_to_depth(x, 2), blockSize=2)
    for odd in ("float16", "float32", "float64"):
        x = odd_floats(odd).reshape(1, 2, 4, 1)
        w.ok("NaN, infinities, -0 " + odd, [x], space_to_depth(x, 2), blockSize=2)
    x = np.arange(1, 17, dtype="float32").reshape(1, 2, 4, 2)
    w.ok("worked case", [x], np.array([1, 2, 3, 4, 9, 10, 11, 12, 5, 6, 7, 8, 13, 14, 15, 16], "float32")
         .reshape(1, 1, 2, 8), blockSize=2, format=1)
    for number in (-1, 0, 1):
        w.ok("format member %d is not used" % number, [x], space_to_depth(x, 2), blockSize=2, format=number)
    w.ok("format NHWC", [x], space_to_depth(x, 2), form="NHWC", blockSize=2)
    one, each = [(8, 1, 0.5)], [(8, k, 0.5) for k in range(2)]
    q = data("int8", (1, 2, 2, 2))
    w.ok("quantised", [Tensor(q, quant=one)], Tensor(space_to_depth(q, 2), quant=one), blockSize=2)
    w.ok("one scale per channel, block 1", [Tensor(q, quant=each)], Tensor(q, quant=each), blockSize=1)
    w.bad("one scale per channel", "UNSUPPORTED_OP", [Tensor(q, quant=each)], blockSize=2)
    w.bad("no blockSize", "INVALID_PARAMETER", [x])
    w.bad("blockSize 0", "INVALID_PARAMETER", [x], blockSize=0)
    w.bad("blockSize -2", "INVALID_PARAMETER", [x], blockSize=-2)
    w.bad("format 5", "INVALID_PARAMETER", [x], blockSize=2, format=5)
    w.bad("height not divisible", "INVALID_SHAPE", [floats(1, 3, 4, 1)], blockSize=2)
    w.bad("width not divisible", "INVALID_SHAPE", [floats(1, 4, 3, 1)], blockSize=2)
    w.bad("width not divisible NCHW", "INVALID_SHAPE", [floats(1, 4, 4, 3)], form="NCHW", blockSize=2)
    w.bad("blockSize beyond the image", "INVALID_SHAPE", [x], blockSize=2**31 - 1)
    w.bad("too many channels", "OUT_OF_MEMORY", [floats(1, 0, 0, 2)], blockSize=2**31 - 1)
    w.bad("rank 3", "INVALID_SHAPE", [x[0]], blockSize=2)
    w.bad("rank 5", "INVALID_SHAPE", [floats(1, 1, 2, 2, 4)], blockSize=2)
    w.bad("no inputs", "INVALID_INPUT", [], blockSize=2)
    w.bad("two inputs", "INVALID_INPUT", [x, x], blockSize=2)
    w.bad("input absent", "NULL_PTR", [None], blockSize=2)
    w.bad("two outputs", "INVALID_OUTPUT", [x], [x, x], blockSize=2)


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "SPACE_TO_DEPTH", also=requantised.cases("SPACE_TO_DEPTH"))
