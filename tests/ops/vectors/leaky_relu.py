"""LEAKY_RELU."""
import numpy as np
import torch.nn.functional as F

from common import f16, f32, FLOATS, make_unary, name_of, NO_ATTR, rounded, some, tensor, write
from quantised_elements import cases

POINTS = [0.0, -0.0, 1.0, -1.0, 0.3, -0.3, 1e-30, -1e-30, 1e30, -1e30, 1e-40, -1e-40, -3.0, -65504.0, np.inf, -np.inf, np.nan]


def expect(x, slope):
    return F.leaky_relu(tensor(x), float(f32(slope))).numpy().reshape(x.shape)  # tensor() makes [1] of a scalar


def make(w):
    op = "LEAKY_RELU"
    make_unary(op, lambda x: expect(x, 0.125), POINTS, attrs={"negativeSlope": 0.125})(w)
    for slope in (0.01, 0.0, 1.0, 3.0, -0.5, 1e-30):
        for dtype in FLOATS:
            x = some((3, 7), dtype)
            w.case("slope %g %s" % (slope, name_of(dtype)), op, {"negativeSlope": slope}, [x], [rounded(expect(x, slope), dtype)],
                   tol=None if dtype == f16 else (0, 0))
    x = np.array([-np.inf, -2.0, np.inf], f32)
    w.case("slope 0 of infinity", op, {"negativeSlope": 0.0}, [x], [np.array([np.nan, 0, np.inf], f32)])
    w.case("default slope", op, NO_ATTR, [x[1:]], [np.array([0, np.inf], f32)], tol=(0, 0))
    w.case("slope infinite", op, {"negativeSlope": float("inf")}, [x[1:]], [np.array([-np.inf, np.inf], f32)])


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.leaky_relu in float64.", also=cases("LEAKY_RELU"))
