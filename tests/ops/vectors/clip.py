"""CLIP."""
import numpy as np

from common import const, f16, f32, f64, FLOATS, INTEGERS, name_of, NO_ATTR, NUMBERS, refuse, some, Tensor, write
from quantised_elements import cases

FLT_MAX = float(np.finfo(f32).max)


def clipped(x, lo, hi):
    """min(max(x, lo), hi); lo and hi of x's type, None without a bound."""
    y = x if lo is None else np.maximum(x, np.asarray(lo, x.dtype))
    return (y if hi is None else np.minimum(y, np.asarray(hi, x.dtype))).astype(x.dtype)


def converted(bound, dtype):
    """The float attribute as a bound of integers: toward zero, saturating."""
    info = np.iinfo(dtype)
    return int(info.max) if bound >= info.max else int(info.min) if bound <= info.min else int(bound)


def make(w):
    op, exact = "CLIP", (0, 0)

    def go(name, attrs, inputs, y, **how):
        w.case(name, op, attrs, inputs, [y], tol=exact if y.dtype.kind == "f" else None, **how)

    for dtype in FLOATS:
        info = np.finfo(dtype)
        x = np.array([0, -0.0, 1, -1, 6, 6.0625, 7, -1.5, info.tiny, info.max, info.min, np.inf, -np.inf, np.nan], dtype)
        title = name_of(dtype)
        for lo, hi in ((0.0, 6.0), (-1.0, 1.0), (2.0, 2.0), (-7.5, -0.25), (0.0, 0.0)):
            go("%g to %g %s" % (lo, hi, title), {"min": lo, "max": hi}, [x], clipped(x, lo, hi))
        go("min only %s" % title, {"min": 1.0}, [x], clipped(x, 1, None))
        go("max only %s" % title, {"max": 1.0}, [x], clipped(x, None, 1))
        go("no attributes: no bounds %s" % title, NO_ATTR, [x], x)
        go("infinite attributes: no bounds %s" % title, {"min": float("-inf"), "max": float("inf")}, [x], x)
        go("max -inf %s" % title, {"max": float("-inf")}, [x], clipped(x, None, -np.inf))
        go("min inf %s" % title, {"min": float("inf")}, [x], clipped(x, np.inf, None))
        lo, hi = np.array(-1, dtype), np.array([info.max / 2], dtype)
        go("inputs %s" % title, {"min": 5.0, "max": -5.0}, [x, lo, hi], clipped(x, lo, hi))
        go("largest number as an input is a bound %s" % title, NO_ATTR, [x, np.array(info.min, dtype), np.array(info.max, dtype)],
           clipped(x, info.min, info.max))
        go("infinite inputs %s" % title, NO_ATTR, [x, np.array(-np.inf, dtype), np.array(np.inf, dtype)], x)
        nan = np.array(np.nan, dtype)
        for where, bad in (("min", [x, nan]), ("max", [x, None, nan]), ("both", [x, nan, nan])):
            w.case("NaN as %s %s" % (where, title), op, NO_ATTR, bad, [], run_error="INVALID_PARAMETER")
            refuse(w, "constant NaN as %s %s" % (where, title), op, NO_ATTR,
                   [bad[0]] + [b if b is None else const(b) for b in bad[1:]], "INVALID_PARAMETER")
    wide = np.array([1e300, -1e300, 5], f64)
    go("float64 beyond float32", NO_ATTR, [wide], wide)
    x = np.array([0.1, 0.2, 1], f64)
    go("float64 with the float32 attribute", {"max": 0.1}, [x], clipped(x, None, f64(f32(0.1))))
    x = np.array([0.1, 0.2, 70000], f16)
    go("float16 with the attribute rounded", {"max": 0.15, "min": 0.1}, [x], clipped(x, f16(f32(0.1)), f16(f32(0.15))))
    go("float16 with a bound beyond it", {"max": 1e6}, [x], x)
    for dtype in INTEGERS:
        info, title = np.iinfo(dtype), name_of(dtype)
        x = np.array([0, 1, 2, 3, 6, 7, 100, info.max, info.max - 1, info.min, info.min + 1], dtype)
        x = np.concatenate([x, np.array([-1, -2, -100], dtype)]) if info.min < 0 else x
        for lo, hi in ((0.0, 6.0), (-2.0, 3.0), (1.9, 6.9), (-1.9, -0.5), (-5.0, -2.0), (2.5, 1e30), (-1e30, 7.0),
                       (100.0, float("inf")), (float("-inf"), 2.0), (3e38, FLT_MAX)):
            go("%g to %g %s" % (lo, hi, title), {"min": lo, "max": hi}, [x], clipped(x, converted(lo, dtype), converted(hi, dtype)))
        go("no attributes: no bounds %s" % title, NO_ATTR, [x], x)
        lo, hi = np.array([info.min + 1], dtype), np.array(info.max - 1, dtype)
        go("inputs %s" % title, {"min": 5.0, "max": -5.0}, [x, lo, hi], clipped(x, lo, hi))
        go("constant inputs %s" % title, NO_ATTR, [x, const(lo), const(hi)], clipped(x, lo, hi))
        go("extremes as inputs %s" % title, NO_ATTR, [x, np.array(info.min, dtype), np.array(info.max, dtype)], x)
        w.case("inputs out of order %s" % title, op, NO_ATTR, [x, hi, np.array(info.max - 2, dtype)], [],
               run_error="INVALID_PARAMETER")
        refuse(w, "constants out of order %s" % title, op, NO_ATTR, [x, const(hi), const(np.array(info.max - 2, dtype))],
               "INVALID_PARAMETER")
    for dtype in NUMBERS:
        for shape in ((), (1,), (2, 3, 5), (2, 0, 3), (1, 2, 1, 2, 1, 2, 1, 2)):
            x = some(shape, dtype)
            go("%s %s" % (name_of(dtype), list(shape)), {"min": 1.0, "max": 2.0}, [x], clipped(x, 1, 2))
    x = some((2, 7))
    lo, hi = np.array(-1.25, f32), np.array([1.5], f32)
    go("constants", NO_ATTR, [x, const(lo), const(hi)], clipped(x, lo, hi))
    go("min from an input, max from the attribute", {"min": 9.0, "max": 1.5}, [x, lo], clipped(x, lo, 1.5))
    go("max from an input, min from the attribute", {"min": -1.25, "max": -9.0}, [x, None, hi], clipped(x, -1.25, hi))
    go("min from a constant, max from the attribute", {"max": 1.5}, [x, const(lo)], clipped(x, lo, 1.5))
    go("max from a constant, min known in the run only", NO_ATTR, [x, lo, const(hi)], clipped(x, lo, hi))
    go("absent inputs", {"min": -1.0, "max": 1.0}, [x, None, None], clipped(x, -1, 1))
    go("attributes that inputs replace may be NaN", {"min": float("nan"), "max": float("nan")}, [x, lo, hi], clipped(x, lo, hi))
    go("bounds of eight axes", NO_ATTR, [x, lo.reshape((1,) * 8), hi.reshape((1,) * 3)], clipped(x, lo, hi))
    x = some((1, 2, 3, 2))
    go("NCHW", {"min": -1.0, "max": 1.0}, [x], clipped(x, -1, 1), fmt="NCHW")
    i = some((4,), np.int32)
    go("int32, attributes that meet toward zero", {"min": 0.2, "max": 0.9}, [i], np.zeros((4,), np.int32))
    for code, attrs in (("min above max", {"min": 1.0, "max": 0.5}), ("NaN as min", {"min": float("nan")}),
                        ("NaN as max", {"max": float("nan")}), ("largest as min", {"min": FLT_MAX, "max": 0.0})):
        refuse(w, code, op, attrs, [x], "INVALID_PARAMETER")
        refuse(w, code + " int32", op, attrs, [i], "INVALID_PARAMETER")
    refuse(w, "NaN as min beside an input", op, {"min": float("nan")}, [x, None, hi], "INVALID_PARAMETER")
    refuse(w, "constant below the attribute", op, {"min": 2.0}, [x, None, const(hi)], "INVALID_PARAMETER")
    refuse(w, "attribute below the constant", op, {"max": -2.0}, [x, const(lo)], "INVALID_PARAMETER")
    w.case("input below the attribute", op, {"min": 2.0}, [x, None, hi], [], run_error="INVALID_PARAMETER",
           says="min is 2, expected at most max: 1.5")
    w.case("attribute below the input", op, {"max": -2.0}, [x, lo], [], run_error="INVALID_PARAMETER",
           says="min is -1.25, expected at most max: -2")
    w.case("inputs out of order", op, NO_ATTR, [x, hi, lo], [], run_error="INVALID_PARAMETER",
           says="min is 1.5, expected at most max: -1.25")
    w.case("inputs out of order, constant min", op, NO_ATTR, [x, const(hi), lo], [], run_error="INVALID_PARAMETER")
    w.case("inputs out of order, no elements", op, NO_ATTR, [x[:0], hi, lo], [], run_error="INVALID_PARAMETER")
    refuse(w, "two minima", op, NO_ATTR, [x, some((2,))], "INVALID_SHAPE")
    refuse(w, "no maximum", op, NO_ATTR, [x, None, some((0,))], "INVALID_SHAPE")
    refuse(w, "min of another type", op, NO_ATTR, [x, np.array(1, f16)], "INVALID_DATATYPE")
    refuse(w, "max of another type", op, NO_ATTR, [i, None, np.array(1, np.int64)], "INVALID_DATATYPE")
    refuse(w, "bool", op, NO_ATTR, [np.array([True])], "INVALID_DATATYPE")
    for dtype in (np.int8, np.uint8):
        refuse(w, "quantised " + name_of(dtype), op, NO_ATTR, [Tensor(np.array([1, 2], dtype), quant=[(8, 3, 0.5)])],
               "INVALID_DATATYPE")
    refuse(w, "quantised bound", op, NO_ATTR, [np.array([1], np.int8), Tensor(np.array(1, np.int8), quant=[(8, 3, 0.5)])],
           "INVALID_DATATYPE")
    refuse(w, "four inputs", op, NO_ATTR, [x, lo, hi, hi], "INVALID_INPUT")
    refuse(w, "no input", op, NO_ATTR, [], "INVALID_INPUT")
    refuse(w, "absent input", op, NO_ATTR, [None, lo, hi], "NULL_PTR")
    refuse(w, "rank 9", op, NO_ATTR, [np.ones((1,) * 9, f32)], "INVALID_SHAPE")
    w.case("refused: two outputs", op, NO_ATTR, [x], [x, x], error="INVALID_OUTPUT")
    w.case("refused: a result of another type", op, NO_ATTR, [x], [x.astype(f16)], error="INVALID_DATATYPE")


if __name__ == "__main__":
    write(make, "Expected values: numpy.maximum and numpy.minimum, exact; bounds of integers by the rule that the file states.",
          also=cases("CLIP"))
