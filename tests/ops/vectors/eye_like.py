"""EYE_LIKE."""
import numpy as np

from common import data, DATATYPE, Tensor, TYPES, write


def make(w):
    def go(name, x, k=0, dtype=0, declared=None, **more):
        t = next((n for n, v in DATATYPE.items() if v == dtype), declared or x.dtype.name)
        w.ok(name, [x], np.eye(*x.shape, k, t), **({"k": k} if k else {}), **({"dtype": dtype} if dtype else {}), **more)

    for t in TYPES:
        go("type of x, " + t, data(t, (2, 3)))
        go("as dtype says, " + t, data(TYPES[(TYPES.index(t) + 5) % 12], (3, 2)), 1, DATATYPE[t])
        go("as declared, " + t, data(TYPES[(TYPES.index(t) + 7) % 12], (3, 3)), -1, 0, t)
    for k in (-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 2**31 - 1, -2**31):
        go("[4,5], k %d" % k, data("float32", (4, 5)), k)
    for shape in ((1, 1), (1, 4), (4, 1), (0, 3), (3, 0), (0, 0), (40, 40)):
        go("shape %s" % list(shape), data("int32", shape))
        go("shape %s, k 1" % list(shape), data("int32", shape), 1)
    go("values do not matter", np.array([[np.nan, np.inf], [-np.inf, -0.0]], "float32"))
    w.ok("constant x", [Tensor(data("int8", (2, 2)), True)], np.eye(2, dtype="int8"))
    x = data("float32", (3, 3))
    w.bad("scalar", "INVALID_SHAPE", [np.array(1, "float32")])
    w.bad("one axis", "INVALID_SHAPE", [data("float32", (3,))])
    w.bad("three axes", "INVALID_SHAPE", [data("float32", (1, 3, 3))])
    w.bad("declared other than dtype", "INVALID_DATATYPE", [x], [np.eye(3, dtype="int8")], dtype=DATATYPE["int16"])
    w.bad("dtype that does not exist", "INVALID_DATATYPE", [x], dtype=31)
    w.bad("k beyond int32", "INVALID_PARAMETER", [x], k=2**31)
    w.bad("quantised", "UNSUPPORTED_OP", [Tensor(data("int8", (2, 2)), quant=[(8, 3, 0.5)])])
    w.bad("quantised result", "UNSUPPORTED_OP", [x], [Tensor(np.eye(3, dtype="int8"), quant=[(8, 3, 0.5)])])
    w.bad("no input", "INVALID_INPUT", [])
    w.bad("two inputs", "INVALID_INPUT", [x, x])
    w.bad("absent input", "NULL_PTR", [None])
    w.bad("rank 9", "INVALID_SHAPE", [np.ones((1,) * 9, "float32")])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [x, x])


if __name__ == "__main__":
    write(make, "Expected values: numpy.eye.", "EYE_LIKE")
