"""SPACE_TO_BATCH_ND."""
import itertools

import numpy as np

import requantised
from common import data, floats, same, SPACE, Tensor, to_nchw, TYPES, write


def space_to_batch(x, block, pads, fill=0):
    """By reshape and transpose, on [N,H,W,C]; checked against the formula element by element."""
    (bh, bw), (n, h, w, c) = block, x.shape
    xp = np.pad(x, [(0, 0), tuple(pads[0]), tuple(pads[1]), (0, 0)], constant_values=x.dtype.type(fill))
    hb, wb = xp.shape[1] // bh, xp.shape[2] // bw
    y = xp.reshape(n, hb, bh, wb, bw, c).transpose(2, 4, 0, 1, 3, 5).reshape(n * bh * bw, hb, wb, c)
    z = np.zeros_like(y)
    for i, j, b, p, q in itertools.product(range(bh), range(bw), range(n), range(hb), range(wb)):
        z[(i * bw + j) * n + b, p, q] = xp[b, p * bh + i, q * bw + j]
    return same(y, z, "space to batch")


def make(w):
    for name, shape, block, pads in SPACE:
        x = data("float32", shape, 2)
        y = space_to_batch(x, block, pads)
        w.ok(name, [x], y, blockShape=block, paddings=pads)
        w.ok(name + " NCHW", [to_nchw(x)], to_nchw(y), form="NCHW", blockShape=block, paddings=pads)
    x = np.zeros((1, 0, 0, 2), "float32")
    w.ok("only paddings", [x], space_to_batch(x, (2, 2), [[1, 1], [0, 2]]), blockShape=(2, 2),
         paddings=[[1, 1], [0, 2]])
    for t in TYPES:
        x = data(t, (1, 3, 2, 2), 3)
        w.ok("type " + t, [x], space_to_batch(x, (2, 2), [[0, 1], [0, 0]]), blockShape=(2, 2),
             paddings=[[0, 1], [0, 0]])
    x = data("float32", (1, 2, 2, 2))
    w.ok("format NHWC", [x], space_to_batch(x, (2, 1), [[0, 0], [0, 0]]), form="NHWC", blockShape=(2, 1),
         paddings=[[0, 0], [0, 0]])
    q = [(8, -5, 0.5)]
    x = data("int8", (1, 3, 2, 1), 5)
    y = space_to_batch(x, (2, 2), [[1, 0], [1, 1]], -5)
    w.ok("quantised: pads with the zero point", [Tensor(x, quant=q)], Tensor(y, quant=q), blockShape=(2, 2),
         paddings=[[1, 0], [1, 1]])
    none, x = [[0, 0], [0, 0]], floats(1, 4, 4, 1)
    w.bad("height not divisible", "INVALID_SHAPE", [floats(1, 3, 4, 1)], blockShape=(2, 2), paddings=none)
    w.bad("width not divisible after padding", "INVALID_SHAPE", [x], blockShape=(2, 2), paddings=[[0, 0], [1, 0]])
    w.bad("block 0", "INVALID_PARAMETER", [x], blockShape=(0, 2), paddings=none)
    w.bad("block negative", "INVALID_PARAMETER", [x], blockShape=(2, -2), paddings=none)
    w.bad("padding negative", "INVALID_PARAMETER", [x], blockShape=(2, 2), paddings=[[-2, 0], [0, 0]])
    w.bad("rank 3", "INVALID_SHAPE", [floats(4, 4, 1)], blockShape=(2, 2), paddings=none)
    w.bad("rank 3 before block 0", "INVALID_SHAPE", [floats(4, 4, 1)], blockShape=(0, 2), paddings=none)
    w.bad("two inputs", "INVALID_INPUT", [x, x], blockShape=(2, 2), paddings=none)
    w.bad("input absent", "NULL_PTR", [None], blockShape=(2, 2), paddings=none)
    w.bad("NCHW width not divisible", "INVALID_SHAPE", [floats(1, 2, 4, 3)], form="NCHW", blockShape=(2, 2), paddings=none)


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "SPACE_TO_BATCH_ND", also=requantised.cases("SPACE_TO_BATCH_ND"))
