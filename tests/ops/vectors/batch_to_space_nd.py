"""BATCH_TO_SPACE_ND."""
import itertools

import numpy as np

import requantised
from common import data, floats, same, SPACE, to_nchw, TYPES, write


def batch_to_space(x, block, crops):
    """By reshape and transpose, on [N,H,W,C]; checked against the formula element by element."""
    (bh, bw), (n, h, w, c) = block, x.shape
    n2 = n // (bh * bw)
    u = x.reshape(bh, bw, n2, h, w, c).transpose(2, 3, 0, 4, 1, 5).reshape(n2, h * bh, w * bw, c)
    v = np.zeros_like(u)
    for i, j, b, p, q in itertools.product(range(bh), range(bw), range(n2), range(h), range(w)):
        v[b, p * bh + i, q * bw + j] = x[(i * bw + j) * n2 + b, p, q]
    same(u, v, "batch to space")
    (top, bottom), (left, right) = crops
    return u[:, top:h * bh - bottom, left:w * bw - right, :]


def make(w):
    for name, shape, block, crops in SPACE:
        (top, bottom), (left, right) = crops
        n, h, wd, c = shape  # the shape after the crops
        h, wd = h + top + bottom, wd + left + right
        x = data("float32", (n * block[0] * block[1], h // block[0], wd // block[1], c), 2)
        y = batch_to_space(x, block, crops)
        w.ok(name, [x], y, blockShape=block, crops=crops)
        w.ok(name + " NCHW", [to_nchw(x)], to_nchw(y), form="NCHW", blockShape=block, crops=crops)
    x = floats(4, 1, 2, 1)
    w.ok("crops leave nothing", [x], batch_to_space(x, (2, 2), [[1, 1], [0, 0]]), blockShape=(2, 2),
         crops=[[1, 1], [0, 0]])
    for t in TYPES:
        x = data(t, (4, 1, 2, 2), 3)
        w.ok("type " + t, [x], batch_to_space(x, (2, 2), [[0, 0], [1, 0]]), blockShape=(2, 2), crops=[[0, 0], [1, 0]])
    x = floats(2, 2, 2, 1)
    w.ok("format NHWC", [x], batch_to_space(x, (1, 2), [[0, 1], [0, 0]]), form="NHWC", blockShape=(1, 2),
         crops=[[0, 1], [0, 0]])
    none, x = [[0, 0], [0, 0]], floats(4, 2, 2, 1)
    w.bad("images not divisible", "INVALID_SHAPE", [floats(3, 2, 2, 1)], blockShape=(2, 2), crops=none)
    w.bad("crop larger than the height", "INVALID_SHAPE", [x], blockShape=(2, 2), crops=[[3, 2], [0, 0]])
    w.bad("crop larger than the width", "INVALID_SHAPE", [x], blockShape=(2, 2), crops=[[0, 0], [0, 5]])
    w.bad("block 0", "INVALID_PARAMETER", [x], blockShape=(2, 0), crops=none)
    w.bad("block negative", "INVALID_PARAMETER", [x], blockShape=(-2, -2), crops=none)
    w.bad("crop negative", "INVALID_PARAMETER", [x], blockShape=(2, 2), crops=[[0, 0], [-1, 0]])
    w.bad("rank 5", "INVALID_SHAPE", [floats(4, 2, 2, 1, 1)], blockShape=(2, 2), crops=none)
    w.bad("no inputs", "INVALID_INPUT", [], blockShape=(2, 2), crops=none)
    w.bad("input absent", "NULL_PTR", [None], blockShape=(2, 2), crops=none)


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "BATCH_TO_SPACE_ND", also=requantised.cases("BATCH_TO_SPACE_ND"))
