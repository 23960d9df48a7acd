"""POW_FUSION."""
import math

import numpy as np

from common import (binary_refusals, EXACT64, f16, f32, f64, FLOATS, INTEGERS, name_of, refuse, rounded, SHAPES, some,
                    wide, write)
from quantised_elements import cases


def make(w):
    op, plain = "POW_FUSION", {"scale": 1.0, "shift": 0.0}

    def float_pow(x, y, scale=1.0, shift=0.0):
        return rounded(np.power(scale * wide(x) + shift, wide(y)), x)

    def whole_pow(x, y, scale=1.0, shift=0.0):
        bx, by = np.broadcast_arrays(x, y)
        flat = [math.trunc(math.pow(scale * int(a) + shift, int(b))) for a, b in zip(bx.reshape(-1), by.reshape(-1))]
        return np.array(flat, x.dtype).reshape(bx.shape)

    for n, (a, b) in enumerate(SHAPES):
        dtype = (f32, f16, f64)[n % 3]
        x, y = np.abs(some(a, dtype)) + dtype(0.5), some(b, dtype, -4, 4, 0.5)
        w.case("%s %s with %s" % (name_of(dtype), list(a), list(b)), op, plain, [x, y], [float_pow(x, y)],
               tol=EXACT64 if dtype == f64 else None)
    for dtype in (f32, f64):
        x = np.array([0, 0, 0, -8, -8, -8, 2, 2, np.inf, -np.inf, -np.inf, np.nan, 1, 0.5, 4, -1, 0, 3], dtype)
        y = np.array([0, 2, -2, 3, 2, 1 / 3, -1, 10, -1, 3, 2, 0, np.nan, np.inf, 0.5, np.inf, np.inf, -np.inf], dtype)
        w.case("%s rules of C pow" % name_of(dtype), op, plain, [x, y], [float_pow(x, y)],
               tol=EXACT64 if dtype == f64 else None)
    x = np.array([1e10, 1e-10, 1.0000001, 0.999, 123.456, 1e38, 1e-38], f32)
    y = np.array([3, 3, 1e6, 1e4, -4.5, 2, 2], f32)
    w.case("float32 wide range", op, plain, [x, y], [float_pow(x, y)], tol=(1e-5, 1e-5))
    for dtype in FLOATS:
        x, y = some((2, 3), dtype), np.array(2, dtype)
        w.case("%s scale and shift" % name_of(dtype), op, {"scale": 0.5, "shift": -1.5}, [x, y],
               [float_pow(x, y, 0.5, -1.5)],
               tol=EXACT64 if dtype == f64 else None)
    x = some((4,))
    w.case("scale 0 is a constant base", op, {"scale": 0.0, "shift": 2.0}, [x, np.array([3], f32)],
           [float_pow(x, 3, 0.0, 2.0)])
    for dtype in INTEGERS:
        x, y = np.array([[0, 1, 2, 3, 5, 10]], dtype), np.array([[0], [1], [2]], dtype)
        w.case("%s" % name_of(dtype), op, plain, [x, y], [whole_pow(x, y)])
    x, y = np.array([-3, -2, -1, 2, 4], np.int32), np.array([3, 2, -1, -1, -2], np.int32)
    w.case("int32 negative bases and exponents", op, plain, [x, y], [whole_pow(x, y)])
    x, y = np.array([3, 4, -5], np.int32), np.array([2, 3, 1], np.int32)
    w.case("int32 scale 0.5 toward zero", op, {"scale": 0.5, "shift": 0.0}, [x, y], [whole_pow(x, y, 0.5)])
    w.case("int64 scale 2 shift 1", op, {"scale": 2.0, "shift": 1.0}, [x.astype(np.int64), y.astype(np.int64)],
           [whole_pow(x.astype(np.int64), y, 2.0, 1.0)])
    binary_refusals(w, op, plain)
    refuse(w, "two bools", op, plain, [np.array([True]), np.array([True])], "INVALID_DATATYPE")


if __name__ == "__main__":
    write(make, "Expected values: numpy.power in float64; integers: math.pow toward zero.", also=cases("POW_FUSION"))
