"""RANK."""
import numpy as np

from common import Tensor, data, floats, known, TYPES, write


def make(w):
    for shape in ((), (1,), (5,), (2, 3), (1, 2, 3), (2, 1, 2, 1), (1,) * 5, (1, 2) * 3, (1,) * 7, (1, 2) * 4):
        x = floats(*shape)
        w.ok("rank %d, %s" % (x.ndim, list(shape)), [x], np.array(x.ndim, "int32"))
        w.ok("rank %d, %s, int64" % (x.ndim, list(shape)), [x], np.array(x.ndim, "int64"))
    for shape in ((0,), (2, 0), (0, 0, 0)):
        w.ok("empty %s" % list(shape), [floats(*shape)], np.array(len(shape), "int32"))
    for k, t in enumerate(TYPES):
        x = data(t, (2,) * (k % 4))
        w.ok("type " + t, [x], np.array(x.ndim, "int32"))
    for form in ("NHWC", "NCHW"):
        w.ok("format " + form, [floats(1, 2, 2, 3)], np.array(4, "int32"), form)
    w.ok("constant", [known([[1, 2]])], np.array(2, "int32"))
    w.ok("quantised", [Tensor(data("int8", (2, 3)), quant=[(8, 1, 0.5)])], np.array(2, "int32"))
    x = floats(2, 3)
    w.bad("float32 result", "INVALID_DATATYPE", [x], [np.array(2, "float32")])
    w.bad("int8 result", "INVALID_DATATYPE", [x], [np.array(2, "int8")])
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9)])
    w.bad("no inputs", "INVALID_INPUT", [])
    w.bad("two inputs", "INVALID_INPUT", [x, x])
    w.bad("input absent", "NULL_PTR", [None])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [np.array(2, "int32")] * 2)


if __name__ == "__main__":
    write(make, "Expected values: the rank, by numpy.", "RANK")
