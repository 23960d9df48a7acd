"""CHANNEL_SHUFFLE."""
import numpy as np
import torch

import requantised
from common import Tensor, data, floats, odd_floats, same, to_nchw, TYPES, write


def shuffle(x, group):
    """On [N,H,W,C], by the formula."""
    y, size = np.empty_like(x), x.shape[3] // group
    for g in range(group):
        for k in range(size):
            y[..., k * group + g] = x[..., g * size + k]
    return y


def make(w):

    def put(name, x, group):
        y = shuffle(x, group)
        if x.dtype == np.float32 and x.size:
            z = torch.nn.functional.channel_shuffle(torch.from_numpy(to_nchw(x)), group).numpy()
            same(to_nchw(y), z, name)
        w.ok(name, [x], y, group=group)
        w.ok(name + " NCHW", [to_nchw(x)], to_nchw(y), form="NCHW", group=group)

    x = floats(1, 2, 3, 6)
    for group in (1, 2, 3, 6):
        put("6 channels, %d groups" % group, x, group)
    put("two images", floats(2, 1, 2, 4), 2)
    put("12 channels", floats(1, 1, 2, 12), 4)
    put("one channel", floats(1, 2, 2, 1), 1)
    put("no images", floats(0, 2, 2, 4), 2)
    put("no rows", floats(1, 0, 2, 4), 2)
    put("no columns", floats(1, 2, 0, 4), 4)
    put("no channels", floats(1, 2, 2, 0), 3)
    put("no channels, largest group", floats(1, 2, 2, 0), 2**31 - 1)
    w.ok("group left out", [x], x)
    w.ok("group 0 is 1", [x], x, group=0)
    w.ok("format NHWC", [x], shuffle(x, 2), form="NHWC", group=2)
    for odd in ("float16", "float32", "float64"):
        put("NaN, infinities, -0 " + odd, odd_floats(odd).reshape(1, 1, 1, 8), 2)
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (1, 2, 1, 6), 3), (2, 3)[k % 2])
    one, each = [(8, 1, 0.5)], [(8, k, 0.5) for k in range(4)]
    q = data("int8", (1, 1, 2, 4))
    w.ok("quantised", [Tensor(q, quant=one)], Tensor(shuffle(q, 2), quant=one), group=2)
    w.ok("one scale per channel, one group", [Tensor(q, quant=each)], Tensor(q, quant=each), group=1)
    w.bad("one scale per channel", "UNSUPPORTED_OP", [Tensor(q, quant=each)], group=2)
    w.bad("group does not divide", "INVALID_PARAMETER", [x], group=4)
    w.bad("group does not divide NCHW", "INVALID_PARAMETER", [floats(1, 4, 6, 6)], form="NCHW", group=3)
    w.bad("more groups than channels", "INVALID_PARAMETER", [x], group=12)
    w.bad("negative group", "INVALID_PARAMETER", [x], group=-2)
    w.bad("rank 3", "INVALID_SHAPE", [x[0]], group=2)
    w.bad("rank 5", "INVALID_SHAPE", [floats(1, 1, 1, 1, 4)], group=2)
    w.bad("no inputs", "INVALID_INPUT", [], group=2)
    w.bad("two inputs", "INVALID_INPUT", [x, x], group=2)
    w.bad("input absent", "NULL_PTR", [None], group=2)
    w.bad("two outputs", "INVALID_OUTPUT", [x], [x, x], group=2)


if __name__ == "__main__":
    write(make, "Expected values: the formula, and torch.", "CHANNEL_SHUFFLE", also=requantised.cases("CHANNEL_SHUFFLE"))
