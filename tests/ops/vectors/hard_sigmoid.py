"""HARD_SIGMOID."""
import numpy as np

from common import f16, f32, f64, FLOATS, make_unary, name_of, rounded, some, wide, write
from quantised_elements import cases

POINTS = [0.0, -0.0, 1.0, -1.0, 0.3, -0.3, 2.4999998, 2.5, 2.5000002, -2.4999998, -2.5, -2.5000002, 3.0, -3.0, 1e-30, -1e-30,
          1e30, -1e30, np.inf, -np.inf, np.nan]
TOLERANCES = {f32: (2e-7, 0), f16: (5e-4, 0), f64: (1e-15, 0)}


def expect(x, alpha=0.2, beta=0.5):
    """clamp(alpha*x + beta, 0, 1); the attributes are float32."""
    return np.clip(float(f32(alpha)) * x + float(f32(beta)), 0, 1)


def make(w):
    op = "HARD_SIGMOID"
    make_unary(op, expect, POINTS, TOLERANCES)(w)
    for alpha, beta in ((1 / 6, 0.5), (0.5, 0.25), (-0.25, 0.5), (1.0, -1.0), (0.0, 0.75), (100.0, 0.0)):
        for dtype in FLOATS:
            x = np.concatenate([some((3, 7), dtype).reshape(-1), np.array([3, -3, 3.0625, -3.0625], dtype)])
            w.case("alpha %g beta %g %s" % (alpha, beta, name_of(dtype)), op, {"alpha": alpha, "beta": beta}, [x],
                   [rounded(expect(wide(x), alpha, beta), dtype)], tol=TOLERANCES[dtype])
    x = np.array([-np.inf, np.inf, np.nan], f32)
    w.case("alpha -1 of infinities", op, {"alpha": -1.0}, [x], [np.array([1, 0, np.nan], f32)], tol=(0, 0))
    w.case("alpha 0 of infinities", op, {"alpha": 0.0}, [x], [np.array([np.nan] * 3, f32)])
    w.case("the bounds are reached", op, {"alpha": 0.5, "beta": 0.5}, [np.array([-1, 1, -1.0000001, 1.0000001], f32)],
           [np.array([0, 1, 0, 1], f32)], tol=(0, 0))


if __name__ == "__main__":
    write(make, "Expected values: the formula of the specification by numpy in float64.", also=cases("HARD_SIGMOID"))
