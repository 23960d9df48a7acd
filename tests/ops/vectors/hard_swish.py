"""HARD_SWISH."""
import numpy as np
import torch.nn.functional as F

from common import f16, f32, f64, FLOATS, make_unary, name_of, rounded, some, tensor, wide, write
from quantised_elements import cases

POINTS = [0.0, -0.0, 1.0, -1.0, 0.3, -0.3, 2.9999998, 3.0, 3.0000002, -2.9999998, -3.0, -3.0000002, 5.0, -5.0, 1e-30, -1e-30,
          1e30, -1e30, np.inf, -np.inf, np.nan]
TOLERANCES = {f32: (6e-7, 2e-7), f16: (1e-3, 1e-3), f64: (2e-15, 1e-15)}


def expect(x, alpha=1 / 6, beta=0.5):
    """x * clamp(alpha*x + beta, 0, 1), the attributes float32; 0 where the gate is 0, as for -infinity."""
    gate = np.clip(float(f32(alpha)) * x + float(f32(beta)), 0, 1)
    return np.where(gate == 0, 0, x * gate)


def make(w):
    op = "HARD_SWISH"
    make_unary(op, expect, POINTS, TOLERANCES)(w)
    for alpha, beta in ((0.25, 0.5), (0.5, 0.25), (-0.25, 0.5), (1.0, -1.0), (0.0, 0.75), (100.0, 0.0)):
        for dtype in FLOATS:
            x = np.concatenate([some((3, 7), dtype).reshape(-1), np.array([3, -3, 3.0625, -3.0625], dtype)])
            w.case("alpha %g beta %g %s" % (alpha, beta, name_of(dtype)), op, {"alpha": alpha, "beta": beta}, [x],
                   [rounded(expect(wide(x), alpha, beta), dtype)], tol=TOLERANCES[dtype])
    x = some((4, 9), f32, -40, 40, 0.125)
    w.case("as torch has it", op, {}, [x], [rounded(F.hardswish(tensor(x)).numpy(), f32)], tol=(1e-6, 1e-6))
    x = np.array([-np.inf, np.inf, np.nan], f32)
    w.case("alpha -1 of infinities", op, {"alpha": -1.0}, [x], [np.array([-np.inf, 0, np.nan], f32)], tol=(0, 0))
    w.case("alpha 0 of infinities", op, {"alpha": 0.0}, [x], [np.array([np.nan] * 3, f32)])


if __name__ == "__main__":
    write(make, "Expected values: the formula of the specification by numpy in float64; torch.nn.functional.hardswish.",
          also=cases("HARD_SWISH"))
