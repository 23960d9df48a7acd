"""MATMUL_FUSION."""
import numpy as np
import torch

from common import (ACTIVATIONS, const, f16, f32, FLOATS, fused, LOOSE, loose, name_of, refuse, rounded, some, tensor,
                    uneven, wide, write)
from quantised import matmul_cases


def make(w):
    op = "MATMUL_FUSION"

    def swap(a, flag):
        return np.swapaxes(a, -1, -2) if flag and a.ndim > 1 else a

    def expect(x, y, ta, tb, bias=None, kind=0):
        z = np.matmul(wide(swap(x, ta)), wide(swap(y, tb)))
        assert np.allclose(z, torch.matmul(tensor(swap(x, ta)), tensor(swap(y, tb))).numpy())
        return rounded(fused(z if bias is None else z + wide(bias), kind), x).reshape(np.shape(z))

    def attrs(ta=False, tb=False, kind=0):
        return {"transposeA": ta, "transposeB": tb, "activationType": kind}

    plans = [((2, 3), (3, 4)), ((1, 5), (5, 1)), ((3, 1), (1, 3)), ((2, 2, 3), (2, 3, 2)), ((2, 2, 3), (3, 2)),
             ((2, 3), (2, 3, 2)),
             ((1, 2, 3), (3, 3, 2)), ((2, 1, 2, 2), (1, 3, 2, 2)), ((2, 1, 1, 2, 3), (3, 1, 3, 1)),
             ((1, 1, 2, 1, 2, 1, 2, 3), (2, 1, 1, 3, 2))]
    for n, (a, b) in enumerate(plans):
        for ta, tb in ((0, 0), (1, 0), (0, 1), (1, 1)):
            dtype = FLOATS[(n + ta + 2 * tb) % 3]
            x, y = some(a, dtype, -6, 6, 0.5), some(b, dtype, -6, 6, 0.5)
            left, right = np.ascontiguousarray(swap(x, ta)), np.ascontiguousarray(swap(y, tb))
            w.case("%s %s by %s transpose %d%d" % (name_of(dtype), list(a), list(b), ta, tb), op,
                   attrs(bool(ta), bool(tb)),
                   [left, right], [expect(left, right, ta, tb)], tol=loose(dtype))
    for n, (a, b) in enumerate((((3,), (3, 2)), ((2, 3), (3,)), ((3,), (3,)), ((3,), (2, 3, 2)), ((2, 2, 3), (3,)))):
        x, y = some(a), some(b)
        w.case("vector %s by %s" % (list(a), list(b)), op, attrs(), [x, y], [expect(x, y, 0, 0)], tol=LOOSE)
    x, y = some((3,)), some((2, 3))
    w.case("transpose of a vector has no effect", op, attrs(True, True), [x, y], [expect(x, y, 0, 1)], tol=LOOSE)
    x, y, bias = some((2, 2, 3)), some((3, 4)), some((4,))
    w.case("bias", op, attrs(), [x, y, bias], [expect(x, y, 0, 0, bias)], tol=LOOSE)
    w.case("absent bias", op, attrs(), [x, y, None], [expect(x, y, 0, 0)], tol=LOOSE)
    w.case("constant second and bias", op, attrs(), [x, const(y), const(bias)], [expect(x, y, 0, 0, bias)], tol=LOOSE)
    for kind, title in enumerate(ACTIVATIONS):
        if kind in (4, 5, 14, 16):
            refuse(w, "fused " + title, op, attrs(kind=kind), [x, y], "INVALID_PARAMETER")
        elif kind:
            w.case("fused %s with bias" % title, op, attrs(kind=kind), [x[0], y, bias],
                   [expect(x[0], y, 0, 0, bias, kind)], tol=LOOSE)
    refuse(w, "inner extents differ", op, attrs(), [some((2, 3)), some((2, 3))], "INVALID_SHAPE")
    refuse(w, "inner extents differ after transposing", op, attrs(True), [some((2, 3)), some((3, 2))], "INVALID_SHAPE")
    refuse(w, "leading extents differ", op, attrs(), [some((2, 2, 2)), some((3, 2, 2))], "INVALID_SHAPE")
    refuse(w, "scalar", op, attrs(), [np.array(1, f32), some((2, 2))], "INVALID_SHAPE")
    refuse(w, "bias of another length", op, attrs(), [x, y, some((3,))], "INVALID_SHAPE")
    refuse(w, "float32 and float16", op, attrs(), [x, y.astype(f16)], "INVALID_DATATYPE")
    refuse(w, "int16", op, attrs(), [some((2, 2), np.int16), some((2, 2), np.int16)], "INVALID_DATATYPE")
    refuse(w, "one input", op, attrs(), [x], "INVALID_INPUT")
    refuse(w, "absent input", op, attrs(), [None, y], "NULL_PTR")
    for n, dtype in enumerate((np.int32, np.int64, np.uint32, np.uint64)):
        x, y, bias = some((2, 3, 4), dtype), some((4, 5), dtype), some((5,), dtype)
        wide_x = (x * np.array(0x3456789ab % 2**(8 * x.itemsize - 1), dtype)).astype(dtype)  # sums wrap modulo 2^n
        for ta, tb in ((0, 0), (1, 1)):
            left, right = np.ascontiguousarray(swap(x, ta)), np.ascontiguousarray(swap(y, tb))
            w.case("%s transpose %d%d" % (name_of(dtype), ta, tb), op, attrs(bool(ta), bool(tb)), [left, right], [np.matmul(x, y)])
        w.case("%s, sums that wrap, and a bias" % name_of(dtype), op, attrs(), [wide_x, y, bias], [np.matmul(wide_x, y) + bias])
        w.case("%s, one vector" % name_of(dtype), op, attrs(), [x[0, 0], y], [np.matmul(x[0, 0], y)])
        for kind, least, most in ((1, 0, None), (3, 0, 6), (7, 0, 1)):
            w.case("%s, fused %s" % (name_of(dtype), ACTIVATIONS[kind]), op, attrs(kind=kind), [x, y], [np.clip(np.matmul(x, y), least, most)])
        refuse(w, "%s, fused SIGMOID" % name_of(dtype), op, attrs(kind=2), [x, y], "INVALID_PARAMETER")
    x, y, bias = uneven(3, 5), uneven(5, 6), uneven(6)
    for kind in (0, 2):
        w.case("float64, uneven numbers, activation %d" % kind, op, attrs(kind=kind), [x, y, bias], [expect(x, y, 0, 0, bias, kind)],
               tol=loose(x.dtype))
    x, y, bias = uneven(13, 20), uneven(20, 37), uneven(37)
    w.case("float64, constants", op, attrs(), [x, const(y), const(bias)], [expect(x, y, 0, 0, bias)], tol=loose(x.dtype))


if __name__ == "__main__":
    write(make, "Expected values: numpy.matmul in float64, compared with torch.matmul.",
          also=matmul_cases)
