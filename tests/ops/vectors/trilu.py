"""TRILU."""
import numpy as np

from common import data, floats, I64_MAX, I64_MIN, odd_floats, same, Tensor, TYPES, write


def loops(x, k, upper):
    y = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        if at[-1] >= at[-2] + k if upper else at[-1] <= at[-2] + k:
            y[at] = x[at]
    return y


def make(w):
    def go(name, x, k=None, upper=True, index="int64", shape=(), constant=False, **more):
        y = same((np.triu if upper else np.tril)(x, max(min(k or 0, 100), -100)), loops(x, k or 0, upper), "plain loops")
        attrs = {} if upper and len(name) % 2 else {"upper": upper}
        w.ok(name, [x] + ([] if k is None else [Tensor(np.full(shape, k, index), constant)]), y, **attrs, **more)

    for upper in (True, False):
        side = "upper" if upper else "lower"
        for n, t in enumerate(TYPES):
            go("%s, %s" % (t, side), data(t, (3, 4)), upper=upper)
            go("%s, %s, k 1" % (t, side), data(t, (4, 3)), n % 3 - 1, upper)
        for k in (-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 1000, -1000, I64_MAX, I64_MIN, 2**31, -2**31 - 1):
            go("%s of [4,5], k %d" % (side, k), floats(4, 5), k, upper)
        for k in (-2**31, 2**31 - 1, 1):
            go("%s, k %d of int32" % (side, k), floats(2, 3, 3), k, upper, "int32", shape=(1,))
        for shape in ((1, 1), (1, 4), (4, 1), (2, 4, 3), (2, 1, 2, 3), (1, 2, 1, 2, 1, 2, 2, 3), (2, 0, 3), (2, 3, 0), (0, 3, 3), (0, 0)):
            go("%s of %s" % (side, list(shape)), floats(*shape), upper=upper)
            go("%s of %s, k -1" % (side, list(shape)), floats(*shape), -1, upper)
        for t in ("float16", "float32", "float64"):
            go("odd values, %s, %s" % (t, side), odd_floats(t).reshape(2, 4), 0, upper)
        go("constant k, %s" % side, floats(3, 3), 1, upper, constant=True)
        go("NCHW, %s" % side, floats(1, 2, 3, 4), upper=upper, form="NCHW")
    w.ok("k left out by name", [floats(2, 2), None], np.triu(floats(2, 2)))
    x, k = floats(3, 3), np.array(1, "int64")
    w.bad("scalar", "INVALID_SHAPE", [np.array(1, "float32")])
    w.bad("one axis", "INVALID_SHAPE", [floats(3)])
    w.bad("k of two elements", "INVALID_SHAPE", [x, np.array([0, 1], "int64")])
    w.bad("k of none", "INVALID_SHAPE", [x, np.array([], "int64")])
    w.bad("k of float32", "INVALID_DATATYPE", [x, np.array(1, "float32")])
    w.bad("quantised", "UNSUPPORTED_OP", [Tensor(data("int8", (2, 2)), quant=[(8, 3, 0.5)])])
    w.bad("result of another type", "INVALID_DATATYPE", [x], [x.astype("float64")])
    w.bad("no input", "INVALID_INPUT", [])
    w.bad("three inputs", "INVALID_INPUT", [x, k, k])
    w.bad("absent input", "NULL_PTR", [None, k])
    w.bad("rank 9", "INVALID_SHAPE", [np.ones((1,) * 9, "float32")])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [x, x])


if __name__ == "__main__":
    write(make, "Expected values: numpy.triu and tril, and plain loops.", "TRILU")
