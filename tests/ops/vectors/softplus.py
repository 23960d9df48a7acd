"""SOFTPLUS."""
import numpy as np
import torch.nn.functional as F

from common import f16, f32, f64, FLOATS, make_unary, name_of, NO_ATTR, refuse, rounded, some, tensor, wide, write
from quantised_elements import cases

POINTS = [0.0, -0.0, 1.0, -1.0, 0.3, -0.3, 1e-30, -1e-30, 5.0, -5.0, 16.0, 19.999998, 20.0, 20.000002, -20.0, 21.0, -40.0,
          88.0, -80.0, -100.0, -110.0, 1e30, -1e30, np.inf, -np.inf, np.nan]
TOLERANCES = {f32: (1e-45, 4e-7), f16: (6e-8, 1e-3), f64: (1e-323, 2e-15)}


def expect(x, beta=1.0, threshold=20.0):
    return F.softplus(tensor(x), float(f32(beta)), float(f32(threshold))).numpy().reshape(x.shape)


def make(w):
    op = "SOFTPLUS"
    make_unary(op, expect, POINTS, TOLERANCES)(w)
    for beta, threshold in ((2.0, 20.0), (0.5, 20.0), (-1.0, 20.0), (1.0, 1.0), (1.0, 0.0), (1.0, -2.0), (4.0, 1000.0),
                            (-0.25, 0.5)):
        for dtype in FLOATS:
            x = some((3, 7), dtype)
            w.case("beta %g threshold %g %s" % (beta, threshold, name_of(dtype)), op, {"beta": beta, "threshold": threshold}, [x],
                   [rounded(expect(wide(x), beta, threshold), dtype)], tol=TOLERANCES[dtype])
    for dtype in FLOATS:
        x = some((3, 7), dtype)
        w.case("beta 0.3 %s" % name_of(dtype), op, {"beta": 0.3}, [x], [rounded(expect(wide(x), 0.3), dtype)])
    x = np.array([19, 21, 100, 1e30, np.inf], f32)
    w.case("no threshold", op, {"threshold": float("inf")}, [x], [x], tol=(0, 1e-7))
    w.case("at the threshold the formula holds", op, {"threshold": 1.0}, [np.array([1, 1.0000001], f32)],
           [np.array([np.log1p(np.exp(1.0)), 1.0000001], f32)], tol=(0, 2e-7))
    w.case("beta -2 of infinities", op, {"beta": -2.0}, [np.array([np.inf, -np.inf], f32)], [np.array([0, -np.inf], f32)],
           tol=(0, 0))
    for beta in (0.0, float("nan")):
        refuse(w, "beta %g" % beta, op, {"beta": beta}, [x], "INVALID_PARAMETER")
    w.case("default attributes", op, NO_ATTR, [x], [x], tol=(0, 1e-7))


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.softplus in float64.", also=cases("SOFTPLUS"))
