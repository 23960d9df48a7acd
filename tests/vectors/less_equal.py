"""LESS_EQUAL."""
import numpy as np

from common import binary_refusals, f16, f32, FLOATS, INTEGERS, name_of, NO_ATTR, SHAPES, some, write


def make(w):
    op = "LESS_EQUAL"
    for n, (a, b) in enumerate(SHAPES):
        dtype = (f32, np.int32, f16, np.int8, np.uint64)[n % 5]
        x, y = some(a, dtype, -3, 3), some(b, dtype, -3, 3)
        w.case("%s %s with %s" % (name_of(dtype), list(a), list(b)), op, NO_ATTR, [x, y], [np.less_equal(x, y)])
    for dtype in INTEGERS:
        i = np.iinfo(dtype)
        v = np.array([i.min, i.min + 1, 0, 1, i.max - 1, i.max], dtype)
        w.case("%s extremes" % name_of(dtype), op, NO_ATTR, [v.reshape(6, 1), v], [np.less_equal(v.reshape(6, 1), v)])
    for dtype in FLOATS:
        v = np.array([-np.inf, -1, -0.0, 0.0, 1, np.inf, np.nan], dtype)
        w.case("%s infinities and NaN" % name_of(dtype), op, NO_ATTR, [v.reshape(7, 1), v],
               [np.less_equal(v.reshape(7, 1), v)])
    v = np.array([2 ** 53, 2 ** 53 + 1, -2 ** 53 - 1], np.int64)
    w.case("int64 beyond float64", op, NO_ATTR, [v.reshape(3, 1), v], [np.less_equal(v.reshape(3, 1), v)])
    w.case("bool", op, NO_ATTR, [np.array([[False], [True]]), np.array([False, True])],
           [np.array([[True, True], [False, True]])])
    w.case("scalar as [1]", op, NO_ATTR, [np.array(2, f32), np.array([2], f32)], [np.array([True])])
    binary_refusals(w, op, NO_ATTR)


if __name__ == "__main__":
    write(make, "Expected values: numpy.less_equal.")
