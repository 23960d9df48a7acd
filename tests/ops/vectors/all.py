"""ALL."""
import numpy as np

from common import const, f16, f32, f64, name_of, refuse, some, Tensor, TYPES, write


def make(w):
    op = "ALL"

    def go(name, x, axes=None, keep=0, index=np.int32, late=False):
        axis = [] if axes is None else [np.array(axes, index) if late else const(np.array(axes, index))]
        over = tuple(np.atleast_1d(axes).astype(int)) if axes is not None and np.size(axes) else None
        w.case(name, op, {"keepDims": keep}, [x] + axis, [np.all(x != 0, axis=over, keepdims=keep != 0)])

    rows = np.array([[1, 2, 3], [4, 0, 6], [0, 0, 0], [1, 1, 1]])
    for n, t in enumerate(TYPES):
        x = rows.astype(t)
        for axes in ([0], [1], [-1], [0, 1], None):
            go("%s axes %s" % (t, axes), x, axes, n % 2, (np.int32, np.int64)[n % 2])
    for t in ("int16", "int32", "int64", "uint16", "uint32", "uint64"):
        go("a high bit, " + t, np.array([1, 1 << (np.iinfo(t).bits - 2)], t))
    for t in ("int8", "int16", "int32", "int64"):
        go("below zero, " + t, np.array([[-1, np.iinfo(t).min], [0, -1]], t), [1])
    for t in (f16, f32, f64):
        tiny = np.finfo(t).smallest_subnormal
        odd = np.array([[np.nan, 1], [0, np.nan], [-0.0, 1], [np.inf, -np.inf], [tiny, -tiny]], t)
        go("odd values, " + name_of(t), odd, [1])
        go("odd values kept, " + name_of(t), odd, [0], 1)
    for shape, axes in (((5,), [0]), ((2, 3, 2), [1]), ((2, 3, 2), [0, 2]), ((2, 3, 2), [2, 0]), ((3, 2, 2), [-1, -3]),
                        ((1, 3, 2, 2), [1, 2]), ((2, 1, 2, 1, 2), [0, 1, 4]), ((1, 2, 1, 2, 1, 2, 1, 2), [1, 4, 7])):
        for keep in (0, 1):
            x = some(shape, np.int32, 0, 5)
            go("%s axes %s%s" % (list(shape), axes, " kept" if keep else ""), x, axes, keep)
            go("%s axes %s%s, no 0" % (list(shape), axes, " kept" if keep else ""), np.abs(x) + 1, axes, keep)
    x = np.arange(40).reshape(2, 20)  # more rows than a kernel takes at once, one 0
    for axes in ([0], [1]):
        go("long, axes %s" % axes, x.astype(f32), axes)
    truth = np.array([[True, True], [True, False], [False, False]])
    for keep in (-1, 2, 2 ** 31 - 1):
        go("keepDims %d" % keep, truth, [1], keep)
    go("an axis as a scalar", truth, -2)
    go("an empty list is all axes", truth, [])
    go("an empty list is all axes, no 0", truth[:1], [], 1)
    w.case("absent axis", op, {"keepDims": 1}, [truth, None], [np.array([[False]])])
    w.case("default attributes", op, {}, [truth, const(np.array([0], np.int64))], [np.array([False, False])])
    w.case("NCHW keeps the order", op, {"keepDims": 1}, [some((1, 3, 2, 2), f32, 1, 3), const(np.array([1], np.int32))],
           [np.ones((1, 1, 2, 2), bool)], fmt="NCHW")
    for value in (0, 1):
        go("scalar %d" % value, np.array(value, f32))
    for t in ("bool", "float32", "int64"):
        go("an empty set is true, " + t, np.zeros((2, 0), t), [1])
        go("no sets, " + t, np.zeros((0, 3), t), [1], 1)
        go("nothing at all, " + t, np.zeros((0, 3), t))
    one = const(np.array([1], np.int32))
    refuse(w, "axis 2 of rank 2", op, {}, [truth, const(np.array([2], np.int32))], "INVALID_PARAMETER")
    refuse(w, "axis -3 of rank 2", op, {}, [truth, const(np.array([-3], np.int32))], "INVALID_PARAMETER")
    refuse(w, "axis 0 of a scalar", op, {}, [np.array(True), const(np.array([0], np.int32))], "INVALID_PARAMETER")
    refuse(w, "an axis twice", op, {}, [truth, const(np.array([1, -1], np.int32))], "INVALID_PARAMETER")
    refuse(w, "keepDims beyond int32", op, {"keepDims": 2 ** 31}, [truth, one], "INVALID_PARAMETER")
    refuse(w, "axis of float32", op, {}, [truth, const(np.array([1], f32))], "INVALID_DATATYPE")
    refuse(w, "axis of rank 2", op, {}, [truth, const(np.array([[1]], np.int32))], "INVALID_SHAPE")
    refuse(w, "axis told in a run", op, {}, [truth, np.array([1], np.int32)], "UNSUPPORTED_OP")
    refuse(w, "rank 9", op, {}, [np.ones((1,) * 9, bool)], "INVALID_SHAPE")
    refuse(w, "quantised", op, {}, [Tensor(np.array([[1, 2]], np.int8), quant=[(8, 1, 0.5)]), one], "UNSUPPORTED_OP")
    refuse(w, "three inputs", op, {}, [truth, one, one], "INVALID_INPUT")
    refuse(w, "absent x", op, {}, [None, one], "NULL_PTR")
    w.case("refused: two outputs", op, {}, [truth, one], [truth, truth], error="INVALID_OUTPUT")
    w.case("refused: a result of int8", op, {}, [truth, one], [np.zeros(3, np.int8)], error="INVALID_DATATYPE")


if __name__ == "__main__":
    write(make, "Expected values: numpy.")
