"""DEPTH_TO_SPACE."""
import itertools

import numpy as np
import torch
import torch.nn.functional as F

import requantised
from common import BLOCKS, Tensor, data, floats, odd_floats, same, to_nchw, TYPES, write


def depth_to_space(x, b, mode="DCR"):
    """By reshape and transpose, on [N,H,W,C]; checked against the printed formula element by element."""
    n, h, w, c = x.shape
    c //= b * b
    if mode == "DCR":
        y = x.reshape(n, h, w, b, b, c).transpose(0, 1, 3, 2, 4, 5)
    else:
        y = x.reshape(n, h, w, c, b, b).transpose(0, 1, 4, 2, 5, 3)
    y = y.reshape(n, h * b, w * b, c)
    z = np.zeros_like(y)
    for i, j, p, q, k in itertools.product(range(b), range(b), range(h), range(w), range(c)):
        z[:, p * b + i, q * b + j, k] = x[:, p, q, (i * b + j) * c + k if mode == "DCR" else k * b * b + i * b + j]
    return same(y, z, mode)


def make(w):
    for name, (n, h, wd, c), b in BLOCKS:
        x = data("float32", (n, h, wd, c * b * b), 2)
        for mode in ("DCR", "CRD"):
            y = depth_to_space(x, b, mode)
            if mode == "CRD" and x.size:
                same(to_nchw(y), F.pixel_shuffle(torch.from_numpy(to_nchw(x)), b).numpy(), name)
            w.ok("%s %s" % (name, mode), [x], y, blockSize=b, mode=mode)
            w.ok("%s %s NCHW" % (name, mode), [to_nchw(x)], to_nchw(y), form="NCHW", blockSize=b, mode=mode)
    for k, t in enumerate(TYPES):
        x, mode = data(t, (1, 2, 1, 8), 3), ("DCR", "CRD")[k % 2]
        w.ok("type " + t, [x], depth_to_space(x, 2, mode), blockSize=2, mode=mode)
    for odd in ("float16", "float32", "float64"):
        x = odd_floats(odd).reshape(1, 1, 2, 4)
        w.ok("NaN, infinities, -0 " + odd, [x], depth_to_space(x, 2), blockSize=2)
    x = np.arange(1, 17, dtype="float32").reshape(1, 1, 2, 8)
    w.ok("worked case DCR", [x], np.array([1, 2, 3, 4, 9, 10, 11, 12, 5, 6, 7, 8, 13, 14, 15, 16], "float32")
         .reshape(1, 2, 4, 2), blockSize=2, format=1, mode="DCR")
    w.ok("worked case CRD", [x], np.array([1, 5, 2, 6, 9, 13, 10, 14, 3, 7, 4, 8, 11, 15, 12, 16], "float32")
         .reshape(1, 2, 4, 2), blockSize=2, format=1, mode="CRD")
    x = floats(1, 1, 2, 4)
    for number in (-1, 0, 1):
        w.ok("format member %d is not used" % number, [x], depth_to_space(x, 2), blockSize=2, format=number)
    w.ok("mode left out", [x], depth_to_space(x, 2), blockSize=2)
    w.ok("format NHWC", [x], depth_to_space(x, 2), form="NHWC", blockSize=2)
    one, each = [(8, 1, 0.5)], [(8, k, 0.5) for k in range(4)]
    q = data("int8", (1, 1, 2, 4))
    w.ok("quantised", [Tensor(q, quant=one)], Tensor(depth_to_space(q, 2), quant=one), blockSize=2)
    w.ok("one scale per channel, block 1", [Tensor(q, quant=each)], Tensor(q, quant=each), blockSize=1)
    w.bad("one scale per channel", "UNSUPPORTED_OP", [Tensor(q, quant=each)], blockSize=2)
    w.bad("no blockSize", "INVALID_PARAMETER", [x])
    w.bad("blockSize 0", "INVALID_PARAMETER", [x], blockSize=0)
    w.bad("blockSize -2", "INVALID_PARAMETER", [x], blockSize=-2)
    w.bad("another mode", "INVALID_PARAMETER", [x], blockSize=2, mode="dcr")
    w.bad("mode DCRD", "INVALID_PARAMETER", [x], blockSize=2, mode="DCRD")
    w.bad("format 5", "INVALID_PARAMETER", [x], blockSize=2, format=5)
    w.bad("channels not divisible", "INVALID_SHAPE", [floats(1, 2, 2, 6)], blockSize=2)
    w.bad("channels not divisible NCHW", "INVALID_SHAPE", [floats(1, 6, 4, 4)], form="NCHW", blockSize=2)
    w.bad("blockSize beyond the channels", "INVALID_SHAPE", [x], blockSize=2**31 - 1)
    w.bad("too large a height", "OUT_OF_MEMORY", [floats(1, 2, 0, 0)], blockSize=2**30)
    w.bad("rank 3", "INVALID_SHAPE", [x[0]], blockSize=2)
    w.bad("rank 5", "INVALID_SHAPE", [floats(1, 1, 1, 1, 4)], blockSize=2)
    w.bad("no inputs", "INVALID_INPUT", [], blockSize=2)
    w.bad("two inputs", "INVALID_INPUT", [x, x], blockSize=2)
    w.bad("input absent", "NULL_PTR", [None], blockSize=2)
    w.bad("two outputs", "INVALID_OUTPUT", [x], [x, x], blockSize=2)


if __name__ == "__main__":
    write(make, "Expected values: numpy, and torch for CRD.", "DEPTH_TO_SPACE", also=requantised.cases("DEPTH_TO_SPACE"))
