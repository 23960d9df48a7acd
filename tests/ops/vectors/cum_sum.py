"""CUM_SUM."""
import numpy as np
import torch

from common import (const, f16, f32, f64, FLOATS, INTEGERS, name_of, NUMBERS, refuse, rounded, some, wide, wrap,
                    write)
from quantised_elements import cases


def running(x, axis, exclusive=False, reverse=False):
    """numpy.cumsum of float64, or of Python integers stored modulo 2^n."""
    v = wide(x) if x.dtype.kind == "f" else x.astype(object)
    v = np.flip(v, axis) if reverse else v
    y = np.cumsum(v, axis) if v.size else v
    if exclusive and v.size:
        y = np.concatenate([np.zeros_like(np.take(v, [0], axis)), np.delete(y, -1, axis)], axis)
    y = np.flip(y, axis) if reverse else y
    if x.dtype.kind == "f" and not exclusive and not reverse:
        assert np.allclose(y, torch.cumsum(torch.from_numpy(wide(x)), axis).numpy(), 1e-12, 0, True)
    return rounded(y, x) if x.dtype.kind == "f" else wrap(y, x.dtype)


def make(w):
    op = "CUM_SUM"

    def go(name, x, axis, exclusive=False, reverse=False, index=np.int32, late=False, **more):
        given = np.array(axis, index)
        w.case(name, op, {"exclusive": exclusive, "reverse": reverse}, [x, given if late else const(given)],
               [running(x, int(np.ravel(axis)[0]), exclusive, reverse)], **more)

    for exclusive in (False, True):
        for reverse in (False, True):
            kind = "%s%s" % (" exclusive" if exclusive else "", " reverse" if reverse else "")
            for dtype in NUMBERS:
                go(name_of(dtype) + kind, some((2, 5), dtype), [1], exclusive, reverse)
                go("no columns, %s%s" % (name_of(dtype), kind), np.zeros((2, 0), dtype), [1], exclusive, reverse)
            for n, shape in enumerate(((4,), (3, 2), (2, 3, 4), (1, 2, 3, 4), (2, 1, 4, 5, 3), (1, 2, 1, 2, 1, 2, 1, 3))):
                for axis in range(-len(shape), len(shape)):
                    dtype = (f32, np.int16, f16, np.uint8, f64)[(n + axis) % 5]
                    go("%s axis %d%s" % (list(shape), axis, kind), some(shape, dtype), [axis] if n % 2 else axis,
                       exclusive, reverse, (np.int32, np.int64)[axis % 2], late=axis % 3 == 0)
            for dtype in INTEGERS:
                i = np.iinfo(dtype)
                go("%s wraps%s" % (name_of(dtype), kind), np.array([[i.max, 1, i.max, i.max], [i.min, i.max, i.min, 3]], dtype),
                   [1], exclusive, reverse)
            for dtype in FLOATS:
                odd = np.array([[1, np.inf, 2, -np.inf, 3], [1, np.nan, 2, 3, 4], [-np.inf, 1, 2, -np.inf, 5],
                                [-0.0, -0.0, 0, 1, -1]], dtype)
                go("NaN and infinities, %s%s" % (name_of(dtype), kind), odd, [1], exclusive, reverse)
            go("half sums are rounded once" + kind, np.array([2048, 1, 1, 1, 1, 1, 1, -2048], f16), [0], exclusive, reverse,
               tol=(0, 0))
            go("large and small" + kind, np.array([16777216, 1, 1, 1, -16777216, 0.5], f32), [0], exclusive, reverse,
               tol=(0, 0))
            go("float64 sums in order" + kind, np.array([2**53, 1, 2, 4, 0.5], f64), [0], exclusive, reverse, tol=(0, 0))
            go("NCHW counts the axis in its own order" + kind, some((1, 3, 2, 2)), [1], exclusive, reverse, fmt="NCHW")
    go("1000 terms", np.full((1000,), 0.1, f32), [0], tol=(0, 1e-6))
    go("int64 beyond float64", np.array([2**53, 1, 1, 1], np.int64), [0])
    go("no rows", np.zeros((0, 3), f32), [1])
    go("extent 1", some((3, 1), np.int32), [1])
    go("extent 1 exclusive", some((3, 1), np.int32, 1), [1], True)
    x = some((2, 3))
    w.case("without an axis it is the last", op, {}, [x], [running(x, 1)])
    w.case("absent axis", op, {"exclusive": True}, [x, None], [running(x, 1, True)])
    v = np.array([0], np.int32)  # y could be in place of the axis
    w.case("x as small as the axis", op, {}, [np.array([7], np.int32), v], [np.array([7], np.int32)])
    for late in (False, True):
        for axis in (2, -3, 2**31 - 1, -2**31):
            given = np.array([axis], np.int32)
            w.case("refused: axis %d of rank 2%s" % (axis, " in a run" if late else ""), op, {},
                   [x, given if late else const(given)], [], says="axis is %d, expected -2 to 1" % axis,
                   **{"run_error" if late else "error": "INVALID_PARAMETER"})
        for axis in (2**32, -2**63):
            given = np.array([axis], np.int64)
            w.case("refused: axis %d%s" % (axis, " in a run" if late else ""), op, {},
                   [x, given if late else const(given)], [], **{"run_error" if late else "error": "INVALID_PARAMETER"})
    none = const(np.zeros(0, np.int32))
    zero = const(np.array([0], np.int32))
    refuse(w, "axis 0 of a scalar", op, {}, [np.array(1, f32), zero], "INVALID_PARAMETER")
    refuse(w, "a scalar without an axis", op, {}, [np.array(1, f32)], "INVALID_PARAMETER")
    refuse(w, "a scalar, axis in a run", op, {}, [np.array(1, f32), np.array([0], np.int32)], "INVALID_PARAMETER")
    refuse(w, "two axes", op, {}, [x, const(np.array([0, 1], np.int32))], "INVALID_SHAPE")
    refuse(w, "an empty list of axes", op, {}, [x, none], "INVALID_SHAPE")
    refuse(w, "axis of float32", op, {}, [x, const(np.array([0], f32))], "INVALID_DATATYPE")
    refuse(w, "bool", op, {}, [np.array([True, False]), zero], "INVALID_DATATYPE")
    refuse(w, "rank 9", op, {}, [np.ones((1,) * 9, f32), zero], "INVALID_SHAPE")
    refuse(w, "absent x", op, {}, [None, zero], "NULL_PTR")
    refuse(w, "three inputs", op, {}, [x, zero, zero], "INVALID_INPUT")
    w.case("refused: two outputs", op, {}, [x, zero], [x, x], error="INVALID_OUTPUT")


if __name__ == "__main__":
    write(make, "Expected values: numpy.cumsum of float64, compared with torch.cumsum; integers: of Python integers modulo 2^n.",
          also=cases("CUM_SUM"))
