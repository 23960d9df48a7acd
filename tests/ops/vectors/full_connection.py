"""FULL_CONNECTION."""
import numpy as np
import torch.nn.functional as F

from common import ACTIVATIONS, const, f16, FLOATS, fused, LOOSE, loose, name_of, refuse, rounded, some, tensor, uneven, write
from quantised import dense_cases


def make(w):
    op = "FULL_CONNECTION"

    def expect(x, weight, bias, shape, kind=0):
        y = F.linear(tensor(x).reshape(-1, weight.shape[1]), tensor(weight), None if bias is None else tensor(bias))
        return rounded(fused(y.numpy().reshape(shape), kind), x)

    def attrs(bias, use=False, axis=0, kind=0):
        return {"hasBias": bias, "useAxis": use, "axis": axis, "activationType": kind}

    plans = [((2, 3), 3, 2, None, (2, 2)), ((1, 4), 4, 5, None, (1, 5)), ((6,), 6, 2, None, (1, 2)),
             ((2, 2, 3), 3, 4, None, (4, 4)),
             ((2, 2, 3), 6, 2, None, (2, 2)), ((2, 6), 3, 2, None, (4, 2)), ((1, 2, 2, 2), 8, 3, None, (1, 3)),
             ((2, 3), 3, 2, 1, (2, 2)), ((2, 2, 3), 3, 2, 2, (2, 2, 2)), ((2, 2, 3), 6, 2, 1, (2, 2)),
             ((4, 2, 3), 3, 4, -1, (4, 2, 4)),
             ((2, 2, 3), 6, 2, -2, (2, 2)), ((1, 2, 2, 2), 4, 3, 2, (1, 2, 3)), ((2, 1, 2, 1, 2), 4, 2, 2, (2, 1, 2))]
    for n, (shape, inner, outputs, axis, result) in enumerate(plans):
        for has in (True, False):
            dtype = FLOATS[(n + has) % 3]
            x, weight = some(shape, dtype), some((outputs, inner), dtype, -6, 6, 0.5)
            bias = some((outputs,), dtype) if has else None
            title = "%s %s weight %s axis %s%s" % (name_of(dtype), list(shape), list(weight.shape), axis,
                                                   " bias" if has else "")
            w.case(title, op, attrs(has, axis is not None, axis or 0), [x, weight] + ([bias] if has else []),
                   [expect(x, weight, bias, result)], tol=loose(dtype))
    x, weight, bias = some((2, 4)), some((3, 4)), some((3,))
    for kind, title in enumerate(ACTIVATIONS):
        if kind in (4, 5, 14, 16):
            refuse(w, "fused " + title, op, attrs(True, kind=kind), [x, weight, bias], "INVALID_PARAMETER")
        elif kind:
            w.case("fused " + title, op, attrs(True, kind=kind), [x, weight, bias],
                   [expect(x, weight, bias, (2, 3), kind)], tol=LOOSE)
    w.case("constant weight and bias", op, attrs(True), [x, const(weight), const(bias)],
           [expect(x, weight, bias, (2, 3))], tol=LOOSE)
    w.case("absent bias", op, attrs(False), [x, weight, None], [expect(x, weight, None, (2, 3))], tol=LOOSE)
    refuse(w, "weight of rank 1", op, attrs(False), [x, some((4,))], "INVALID_SHAPE")
    refuse(w, "total not divisible", op, attrs(False), [some((2, 5)), weight], "INVALID_SHAPE")
    refuse(w, "folded extent differs", op, attrs(False, True, 1), [some((2, 2, 3)), weight], "INVALID_SHAPE")
    refuse(w, "bias of another length", op, attrs(True), [x, weight, some((4,))], "INVALID_SHAPE")
    refuse(w, "axis 0", op, attrs(False, True, 0), [x, weight], "INVALID_PARAMETER")
    refuse(w, "axis 2 of rank 2", op, attrs(False, True, 2), [x, weight], "INVALID_PARAMETER")
    refuse(w, "float16 weight", op, attrs(False), [x, weight.astype(f16)], "INVALID_DATATYPE")
    refuse(w, "int32", op, attrs(False), [some((2, 4), np.int32), some((3, 4), np.int32)], "INVALID_DATATYPE")
    refuse(w, "one input", op, attrs(False), [x], "INVALID_INPUT")
    refuse(w, "absent weight", op, attrs(False), [x, None], "NULL_PTR")
    x, weight, bias = uneven(3, 5), uneven(6, 5), uneven(6)
    for kind in (0, 2):
        w.case("float64, uneven numbers, activation %d" % kind, op, attrs(True, kind=kind), [x, weight, bias],
               [expect(x, weight, bias, (3, 6), kind)], tol=loose(x.dtype))
    x, weight, bias = uneven(13, 20), uneven(37, 20), uneven(37)
    w.case("float64, constants", op, attrs(True), [x, const(weight), const(bias)], [expect(x, weight, bias, (13, 37))],
           tol=loose(x.dtype))


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.linear in float64.",
          also=dense_cases)
