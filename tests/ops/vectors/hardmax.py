"""HARDMAX."""
import numpy as np

from common import data, FLOATS, name_of, Tensor, write


def hardmax(x, axis):
    """1 at numpy.argmax, where NaN counts as the lowest value."""
    lowest = np.where(np.isnan(x), -np.inf, x.astype("float64"))
    best = np.argmax(lowest, axis)
    tie = np.isneginf(lowest).all(axis)  # -inf and NaN only: the first that is a number, or the first
    best = np.where(tie, np.argmax(~np.isnan(x), axis), best)
    y = np.zeros_like(x)
    np.put_along_axis(y, np.expand_dims(best, axis), 1, axis)
    return y


def make(w):
    random = np.random.default_rng(1129)

    def go(name, x, axis=None, **more):
        y = hardmax(x, -1 if axis is None else axis) if x.size else x
        w.ok(name, [x], y, **({} if axis is None else {"axis": axis}), **more)

    for shape in ((5,), (2, 4), (2, 3, 4), (4, 2, 1, 3), (1, 2, 1, 2, 1, 2, 1, 3)):
        for axis in list(range(-len(shape), len(shape))) + [None]:
            for dtype in FLOATS:
                go("%s %s axis %s" % (name_of(dtype), list(shape), axis), random.integers(-3, 4, shape).astype(dtype), axis)
    for dtype in FLOATS:
        nan, inf = np.nan, np.inf
        odd = [[nan, 1, 2], [1, nan, 0], [nan] * 3, [-inf, nan, -inf], [nan, -inf, nan], [-inf] * 3, [inf, 1, inf], [-0.0, 0, -0.0],
               [0, -0.0, 0], [-1, -2, -0.5]]
        go("odd values, " + name_of(dtype), np.array(odd, dtype))
        go("extremes, " + name_of(dtype), np.array([[np.finfo(dtype).min, np.finfo(dtype).tiny, np.finfo(dtype).max]], dtype), 1)
        go("extent 1, " + name_of(dtype), np.array([[5], [-5]], dtype), 1)
        go("no rows, " + name_of(dtype), np.zeros((0, 3), dtype), 1)
        go("no columns, " + name_of(dtype), np.zeros((3, 0), dtype), 1)
    go("NCHW counts the axis in its own order", data("float32", (1, 3, 2, 1)), 1, form="NCHW")
    go("long", random.random((2, 1000)).astype("float32"), 1)
    x = data("float32", (2, 3))
    w.bad("axis 2 of rank 2", "INVALID_PARAMETER", [x], axis=2)
    w.bad("axis -3 of rank 2", "INVALID_PARAMETER", [x], axis=-3)
    w.bad("axis beyond int32", "INVALID_PARAMETER", [x], axis=2**32)
    w.bad("scalar", "INVALID_PARAMETER", [np.array(1, "float32")])
    for t in ("int32", "uint8", "int64", "bool"):
        w.bad(t, "INVALID_DATATYPE", [data(t, (2, 2))])
    w.bad("quantised", "UNSUPPORTED_OP", [Tensor(data("int8", (2, 2)), quant=[(8, 3, 0.5)])])
    w.bad("no input", "INVALID_INPUT", [])
    w.bad("two inputs", "INVALID_INPUT", [x, x])
    w.bad("absent input", "NULL_PTR", [None])
    w.bad("rank 9", "INVALID_SHAPE", [np.ones((1,) * 9, "float32")])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [x, x])
    w.bad("result of another type", "INVALID_DATATYPE", [x], [x.astype("float64")])


if __name__ == "__main__":
    write(make, "Expected values: numpy.argmax, NaN counted as smallest.", "HARDMAX")
