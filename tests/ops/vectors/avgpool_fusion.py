"""AVGPOOL_FUSION."""
import torch
import torch.nn.functional as F

from common import fused, make_pool, PAD, pool_windows, rounded, tensor, write
from quantised import pool_cases


def average_expect(x, kernel, stride, mode, ceil, pads, kind=0):
    t = tensor(x).permute(0, 3, 1, 2)
    total = F.avg_pool2d(pool_windows(t, kernel, stride, mode, ceil, pads, 0.0)[0], kernel, stride)
    cells = F.avg_pool2d(pool_windows(torch.ones_like(t), kernel, stride, mode, ceil, pads, 0.0)[0], kernel, stride)
    y = total / cells
    assert torch.isfinite(y).all()
    even = mode == PAD and not ceil and pads[0] == pads[1] and pads[2] == pads[3]
    if even and 2 * pads[0] <= kernel[0] and 2 * pads[2] <= kernel[1]:
        assert torch.allclose(y, F.avg_pool2d(t, kernel, stride, (pads[0], pads[2]), False,
                                              False))  # torch says the same
    return rounded(fused(y.permute(0, 2, 3, 1).numpy(), kind), x)


if __name__ == "__main__":
    write(make_pool("AVGPOOL_FUSION", lambda *a: (average_expect(*a),)),
          "Expected values: torch.nn.functional.avg_pool2d in float64.",
          also=lambda w: pool_cases(w, "AVGPOOL_FUSION"))
