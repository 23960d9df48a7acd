"""AVGPOOL_INCLUDE_PAD."""
import numpy as np
import torch
import torch.nn.functional as F

from common import (empty_batch, fused, make_pool, PAD, pool_attrs, pool_windows, refuse, rounded, SAME, some, tensor, Tensor,
                    write)
from quantised import pool_cases

OP = "AVGPOOL_INCLUDE_PAD"


def include_pad_expect(x, kernel, stride, mode, ceil, pads, kind=0):
    """Sums over windows filled with 0, divided by the number of window elements inside the padded input."""
    t = tensor(x).permute(0, 3, 1, 2)
    filled, top, left = pool_windows(t, kernel, stride, mode, ceil, pads, 0.0)
    area = kernel[0] * kernel[1]
    total = F.avg_pool2d(filled, kernel, stride) * area
    if mode == PAD:
        inside = F.pad(torch.ones_like(t), (pads[2], pads[3], pads[0], pads[1]), value=1.0)
        more = (0, filled.shape[3] - inside.shape[3], 0, filled.shape[2] - inside.shape[2])  # padding that CEIL adds
        cells = F.avg_pool2d(F.pad(inside, more), kernel, stride) * area
    elif mode == SAME:
        cells = torch.full_like(total, area)
    else:  # only CEIL exceeds the padding
        cells = F.avg_pool2d(pool_windows(torch.ones_like(t), kernel, stride, mode, ceil, pads, 0.0)[0], kernel,
                             stride) * area
    y = total / cells
    assert torch.isfinite(y).all()
    if mode == PAD and pads[0] == pads[1] and pads[2] == pads[3] and 2 * pads[0] <= kernel[0] and 2 * pads[2] <= kernel[1]:
        again = F.avg_pool2d(t, kernel, stride, (pads[0], pads[2]), bool(ceil), True)
        if again.shape == y.shape:  # torch omits a window that starts after the input
            assert torch.allclose(y, again)
    return rounded(fused(y.permute(0, 2, 3, 1).numpy(), kind), x)


def make(w):
    make_pool(OP, lambda *a: (include_pad_expect(*a),))(w)
    x = np.array([0, 1, 2, 2, -4, 1, -1, 2, 2], np.float32).reshape(1, 3, 3, 1)
    w.case("the worked case of the specification", OP, pool_attrs((2, 2), (2, 2), 0, 0, (1, 0, 1, 0)), [x],
           [np.array([0, 0.75, 0.25, 0.25], np.float32).reshape(1, 2, 2, 1)])
    x = np.array([np.nan, 1, np.inf, -np.inf], np.float32).reshape(1, 2, 2, 1)
    w.case("not finite", OP, pool_attrs((1, 2), (1, 1), 0, 0, (0, 0, 1, 0)), [x],
           [np.array([np.nan, np.nan, np.inf, np.nan], np.float32).reshape(1, 2, 2, 1)])
    x = some((1, 2, 3, 40))
    w.case("many channels", OP, pool_attrs((2, 2), (1, 1), 0, 0, (1, 1, 1, 1)), [x],
           [include_pad_expect(x, (2, 2), (1, 1), 0, 0, (1, 1, 1, 1))])
    refuse(w, "quantised, result without QuantParam", OP, pool_attrs((1, 1), (1, 1), 0, 0, (0,) * 4),
           [Tensor(np.ones((1, 2, 2, 1), np.int8), quant=[(8, 0, 0.5)])], "INVALID_DATATYPE")
    empty_batch(w, "no images", OP, pool_attrs((1, 1), (1, 1), 0, 0, (0,) * 4), [np.ones((0, 2, 2, 1), np.float32)], (0, 2, 2, 1))


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.avg_pool2d in float64.",
          also=lambda w: pool_cases(w, OP))
