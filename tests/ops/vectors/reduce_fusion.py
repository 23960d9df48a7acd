"""REDUCE_FUSION."""
import numpy as np

from common import (const, f32, f64, FLOATS, INTEGERS, name_of, refuse, rounded, SIGNED, some, toward_zero, UNSIGNED,
                    wide, wrap, write)
from quantised_elements import cases

MODES = ["mean", "max", "min", "prod", "sum", "sum of squares", "asum", "all", "L2"]
MEAN, MAX, MIN, PROD, SUM, SUM_SQUARE, ASUM, ALL, L2 = range(9)


def reduce_float(x, axes, keep, mode):
    v, args = wide(x), dict(axis=axes, keepdims=keep)
    return {MEAN: lambda: np.mean(v, **args), MAX: lambda: np.max(v, **args), MIN: lambda: np.min(v, **args),
            PROD: lambda: np.prod(v, **args), SUM: lambda: np.sum(v, **args), SUM_SQUARE: lambda: np.sum(v * v, **args),
            ASUM: lambda: np.sum(np.abs(v), **args), ALL: lambda: np.all(v != 0, **args).astype(f64),
            L2: lambda: np.sqrt(np.sum(v * v, **args))}[mode]()


def reduce_whole(x, axes, keep, mode):
    """Python integers, stored modulo 2^n."""
    v, args = np.array(x.astype(object)), dict(axis=axes, keepdims=keep)
    if mode == MEAN:
        n = x.size // max(1, np.sum(v, **args).size if isinstance(np.sum(v, **args), np.ndarray) else 1)
        y = np.vectorize(lambda s: toward_zero(int(s), n), otypes=[object])(np.sum(v, **args))
    else:
        y = {MAX: np.max, MIN: np.min, PROD: np.prod, SUM: np.sum, SUM_SQUARE: lambda a, **k: np.sum(a * a, **k),
             ASUM: lambda a, **k: np.sum(np.abs(a), **k), ALL: lambda a,
             **k: np.all(a != 0, **k).astype(int)}[mode](v, **args)
    return wrap(np.asarray(y, object), x.dtype)


def reduced(x, axes, keep, mode):
    return reduce_whole(x, axes, keep, mode) if x.dtype.kind in "iu" else rounded(reduce_float(x, axes, keep, mode), x)


def make(w):
    op = "REDUCE_FUSION"

    def attrs(mode, keep=False, end=False, coeff=0.0):
        return {"keepDims": keep, "mode": mode, "reduceToEnd": end, "coeff": coeff}

    def listed(values, dtype=np.int32):
        return const(np.array(values, dtype))

    plans = [((2, 3), [1], False), ((2, 3), [0], True), ((2, 3, 2), [1], True), ((2, 3, 2), [0, 2], False),
             ((2, 3, 2), [-1, -3], True),
             ((1, 3, 2, 4), [1, 2], True), ((2, 1, 3, 5, 4), [0, 1, 4], False), ((5,), [0], False)]
    for mode, title in enumerate(MODES):
        for n, (shape, axes, keep) in enumerate(plans):
            dtype = FLOATS[(n + mode) % 3]
            x = some(shape, dtype, -8, 8, 0.25)
            w.case("%s %s %s axes %s%s" % (title, name_of(dtype), list(shape), axes, " kept" if keep else ""), op,
                   attrs(mode, keep),
                   [x, listed(axes, (np.int32, np.int64)[n % 2])], [reduced(x, tuple(axes), keep, mode)])
        x = some((2, 2, 3))
        w.case("%s without axes" % title, op, attrs(mode), [x], [reduced(x, None, False, mode)])
        w.case("%s with absent axes kept" % title, op, attrs(mode, True), [x, None], [reduced(x, None, True, mode)])
        w.case("%s to the end" % title, op, attrs(mode, False, True), [x, listed([1])],
               [reduced(x, (1, 2), False, mode)])
        if mode != L2:
            for dtype in (np.int32, ((np.int8, np.int16, np.int64) + UNSIGNED)[mode % 7]):
                x = some((3, 4), dtype, -9, 9)
                w.case("%s %s rows" % (title, name_of(dtype)), op, attrs(mode), [x, listed([1])],
                       [reduced(x, (1,), False, mode)])
    x = some((2, 3, 2))
    w.case("empty list of axes is all", op, attrs(SUM), [x, listed([])], [reduced(x, None, False, SUM)])
    w.case("axes as a scalar", op, attrs(SUM), [x, listed(-2)], [reduced(x, (1,), False, SUM)])
    w.case("to the end ignores later axes", op, attrs(SUM, True, True), [x, listed([1, 0])],
           [reduced(x, (1, 2), True, SUM)])
    w.case("to the end with factor", op, attrs(MEAN, False, True, 2.5), [x, listed([1])],
           [rounded(2.5 * reduce_float(x, (1, 2), False, MEAN), f32)])
    w.case("to the end with factor kept", op, attrs(SUM, True, True, -0.5), [x, listed([-1])],
           [rounded(-0.5 * reduce_float(x, (2,), True, SUM), f32)])
    w.case("factor of 1e-6 is none", op, attrs(SUM, False, True, 1e-6), [x, listed([1])],
           [reduced(x, (1, 2), False, SUM)])
    w.case("factor without to the end is none", op, attrs(SUM, False, False, 2.0), [x, listed([1])],
           [reduced(x, (1,), False, SUM)])
    deep = some((1, 2, 1, 2, 1, 2, 1, 2))
    w.case("rank 8", op, attrs(SUM), [deep, listed([1, 4, 7])], [reduced(deep, (1, 4, 7), False, SUM)])
    w.case("scalar", op, attrs(MAX), [np.array(3, f32)], [np.array(3, f32)])
    w.case("integer mean toward zero", op, attrs(MEAN),
           [np.array([[-7, 0], [7, 0], [-1, -2], [1, -2]], np.int32), listed([1])],
           [np.array([-3, 3, -1, 0], np.int32)])
    for dtype in INTEGERS:
        i = np.iinfo(dtype)
        v = np.array([[i.max, 1, 3], [i.min, i.max, i.max], [i.min, i.min, 5]], dtype)
        for mode in (SUM, PROD, SUM_SQUARE, ASUM):
            w.case("%s %s wraps" % (MODES[mode], name_of(dtype)), op, attrs(mode), [v, listed([1])],
                   [reduced(v, (1,), False, mode)])
    truth = np.array([[True, True], [True, False], [False, False]])
    w.case("all bool", op, attrs(ALL), [truth, listed([1])], [np.all(truth, 1)])
    w.case("all bool kept", op, attrs(ALL, True), [truth, listed([0])], [np.all(truth, 0, keepdims=True)])
    w.case("all float32 with NaN", op, attrs(ALL), [np.array([[np.nan, 1], [0, -0.0], [1e-40, 2]], f32), listed([1])],
           [np.array([1, 0, 1], f32)])
    inf = np.array([[np.inf, 1, -2], [-np.inf, 3, 0]], f32)
    for mode in (MAX, MIN, SUM, ASUM, SUM_SQUARE, L2):
        w.case("%s with infinities" % MODES[mode], op, attrs(mode), [inf, listed([1])],
               [reduced(inf, (1,), False, mode)])
    none = np.zeros((2, 0), f32)
    for mode, value in ((SUM, 0), (SUM_SQUARE, 0), (ASUM, 0), (L2, 0), (PROD, 1), (ALL, 1), (MEAN, np.nan), (MAX, -np.inf), (MIN, np.inf)):
        w.case("%s of an empty set" % MODES[mode], op, attrs(mode), [none, listed([1])], [np.full(2, value, f32)])
    w.case("l2 int32 is cut", op, attrs(L2), [np.array([[3, 4], [0, 0], [1, 1], [-2, 2]], np.int32), listed([1])],
           [np.array([5, 0, 1, 2], np.int32)])
    for dtype in SIGNED:
        below = np.array([[-3, -1], [-7, -8]], dtype)
        w.case("max %s below zero" % name_of(dtype), op, attrs(MAX), [below, listed([1])],
               [reduced(below, (1,), False, MAX)])
    apart = np.array([[[1, -5], [2, 3], [4, 4]], [[7, 2], [-2, 1], [3, -6]]], np.int32)
    for mode in (SUM, MAX, MIN, PROD):
        w.case("%s int32 over axes apart" % MODES[mode], op, attrs(mode), [apart, listed([0, 2])],
               [reduced(apart, (0, 2), False, mode)])
    w.case("sum int32 of an empty set", op, attrs(SUM, True), [none.astype(np.int32), listed([1])],
           [np.zeros((2, 1), np.int32)])
    w.case("all bool of an empty set", op, attrs(ALL), [none.astype(bool), listed([1])], [np.array([True, True])])
    w.case("sum of no rows", op, attrs(SUM), [np.zeros((0, 3), f32), listed([1])], [np.zeros(0, f32)])
    for dtype in INTEGERS:
        i = np.iinfo(dtype)
        for mode, value in ((MAX, i.min), (MIN, i.max)):
            w.case("%s %s of an empty set" % (MODES[mode], name_of(dtype)), op, attrs(mode, True), [none.astype(dtype), listed([1])],
                   [np.full((2, 1), value, dtype)])
    for mode, value in ((MAX, False), (MIN, True)):
        w.case("%s bool of an empty set" % MODES[mode], op, attrs(mode), [none.astype(bool), listed([1])], [np.array([value, value])])
    refuse(w, "int32 mean of an empty set", op, attrs(MEAN), [none.astype(np.int32), listed([1])], "INVALID_SHAPE")
    refuse(w, "axis 3 of rank 3", op, attrs(SUM), [x, listed([3])], "INVALID_PARAMETER")
    refuse(w, "axis -4 of rank 3", op, attrs(SUM), [x, listed([-4])], "INVALID_PARAMETER")
    refuse(w, "an axis twice", op, attrs(SUM), [x, listed([1, -2])], "INVALID_PARAMETER")
    refuse(w, "mode 9", op, attrs(9), [x, listed([1])], "INVALID_PARAMETER")
    refuse(w, "float32 axes", op, attrs(SUM), [x, listed([1], f32)], "INVALID_DATATYPE")
    refuse(w, "axes of rank 2", op, attrs(SUM), [x, listed([[1]])], "INVALID_SHAPE")
    refuse(w, "rank 9", op, attrs(SUM), [np.ones((1,) * 9, f32)], "INVALID_SHAPE")
    refuse(w, "three inputs", op, attrs(SUM), [x, listed([1]), listed([1])], "INVALID_INPUT")
    refuse(w, "absent input", op, attrs(SUM), [None, listed([1])], "NULL_PTR")


if __name__ == "__main__":
    write(make, "Expected values: numpy in float64; integers: Python integers modulo 2^n.", also=cases("REDUCE_FUSION"))
