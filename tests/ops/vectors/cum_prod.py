"""CUM_PROD."""
import numpy as np

from common import const, f16, f32, f64, FLOATS, INTEGERS, name_of, NUMBERS, refuse, rounded, some, wide, wrap, write


def running(x, axis, exclusive=False, reverse=False):
    """numpy.cumprod of float64, or of Python integers stored modulo 2^n."""
    v = wide(x) if x.dtype.kind == "f" else x.astype(object)
    v = np.flip(v, axis) if reverse else v
    with np.errstate(all="ignore"):
        y = np.cumprod(v, axis) if v.size else v
    if exclusive and v.size:
        y = np.concatenate([np.ones_like(np.take(v, [0], axis)), np.delete(y, -1, axis)], axis)
    y = np.flip(y, axis) if reverse else y
    return rounded(y, x) if x.dtype.kind == "f" else wrap(y, x.dtype)


def make(w):
    op = "CUM_PROD"

    def go(name, x, axis, exclusive=False, reverse=False, index=np.int32, late=False, **more):
        given = np.array(axis, index)
        w.case(name, op, {"exclusive": exclusive, "reverse": reverse}, [x, given if late else const(given)],
               [running(x, int(np.ravel(axis)[0]), exclusive, reverse)], **more)

    for exclusive in (False, True):
        for reverse in (False, True):
            kind = "%s%s" % (" exclusive" if exclusive else "", " reverse" if reverse else "")
            for dtype in NUMBERS:
                go(name_of(dtype) + kind, some((2, 5), dtype, 1, 6), [1], exclusive, reverse)
                go("no columns, %s%s" % (name_of(dtype), kind), np.zeros((2, 0), dtype), [1], exclusive, reverse)
            for n, shape in enumerate(((4,), (3, 2), (2, 3, 4), (2, 1, 4, 5, 3))):
                for axis in range(-len(shape), len(shape)):
                    dtype = (f32, np.int16, f16, np.uint8, f64)[(n + axis) % 5]
                    go("%s axis %d%s" % (list(shape), axis, kind), some(shape, dtype, 1, 4), [axis] if n % 2 else axis,
                       exclusive, reverse, (np.int32, np.int64)[axis % 2], late=axis % 3 == 0)
            for dtype in INTEGERS:
                i = np.iinfo(dtype)
                go("%s wraps%s" % (name_of(dtype), kind), np.array([[i.max, 3, i.max, i.max], [i.min, i.max, i.min, 3]], dtype),
                   [1], exclusive, reverse)
            for dtype in FLOATS:
                odd = np.array([[1, np.inf, 2, -np.inf, 3], [1, np.nan, 2, 3, 4], [0, 1, 2, -np.inf, 5],
                                [-0.0, -1, 1, 1, -1]], dtype)
                go("NaN and infinities, %s%s" % (name_of(dtype), kind), odd, [1], exclusive, reverse)
            go("half products are rounded once" + kind, np.array([2049, 0.5, 3, 0.25, 2, 1.5, 0.125], f32).astype(f16), [0],
               exclusive, reverse, tol=(0, 0))
            go("NCHW counts the axis in its own order" + kind, some((1, 3, 2, 2), f32, 1, 4), [1], exclusive, reverse,
               fmt="NCHW")
    go("100 factors", np.linspace(0.9, 1.1, 100).astype(f32), [0], tol=(0, 1e-5))
    go("no rows", np.zeros((0, 3), f32), [1])
    x = some((2, 3), f32, 1, 5)
    w.case("without an axis it is the last", op, {}, [x], [running(x, 1)])
    for late in (False, True):
        for axis in (2, -3):
            given = np.array([axis], np.int32)
            w.case("refused: axis %d of rank 2%s" % (axis, " in a run" if late else ""), op, {},
                   [x, given if late else const(given)], [], says="axis is %d, expected -2 to 1" % axis,
                   **{"run_error" if late else "error": "INVALID_PARAMETER"})
    zero = const(np.array([0], np.int32))
    refuse(w, "axis 0 of a scalar", op, {}, [np.array(1, f32), zero], "INVALID_PARAMETER")
    refuse(w, "two axes", op, {}, [x, const(np.array([0, 1], np.int32))], "INVALID_SHAPE")
    refuse(w, "bool", op, {}, [np.array([True, False]), zero], "INVALID_DATATYPE")
    refuse(w, "absent x", op, {}, [None, zero], "NULL_PTR")


if __name__ == "__main__":
    write(make, "Expected values: numpy.cumprod of float64; integers: of Python integers modulo 2^n.")
