"""FILL_LIKE."""
import numpy as np

import requantised
from common import Tensor, const, data, floats, TYPES, write


def make(w):

    def put(name, x, value, form=None):
        y = np.full(x.shape, np.asarray(value).reshape(()), np.asarray(value).dtype)
        w.ok(name, [x, value], y, form)
        w.ok(name + ", constant", [x, const(value)], y, form)

    v, x = np.array([-2.5], "float32"), floats(2, 3)
    put("value [1]", x, v)
    put("value []", x, v.reshape(()))
    put("value [1,1,1]", x, v.reshape(1, 1, 1))
    put("x []", floats(), v)
    put("x [], value []", floats(), v.reshape(()))
    put("x [1]", floats(1), v)
    put("rank 8", floats(1, 2, 1, 2, 1, 2, 1, 2), v)
    put("rank 8, value of rank 8", floats(1, 2, 1, 2, 1, 2, 1, 2), v.reshape((1,) * 8))
    put("empty", floats(0), v)
    put("empty inside", floats(2, 0, 3), v)
    put("NCHW", floats(1, 2, 2, 3), v, "NCHW")
    put("NHWC", floats(1, 2, 2, 3), v, "NHWC")
    put("NaN", x, np.array([np.nan], "float32"))
    put("minus infinity", x, np.array([-np.inf], "float16"))
    put("minus zero", x, np.array([-0.0], "float64"))
    put("33 bytes", floats(33), np.array([-7], "int8"))
    put("false", x, np.array([False]))
    for k, t in enumerate(TYPES):
        put("%s of %s" % (TYPES[(k * 5 + 3) % 12], t), data(t, (3, 2)), data(TYPES[(k * 5 + 3) % 12], (3,), 2)[1:2])
        put("%s of %s itself" % (t, t), data(t, (3, 2)), data(t, (3,), 2)[2:])
    scale = [(8, 3, 0.25)]
    q = Tensor(np.array([5], "int8"), quant=scale)
    w.ok("quantised value", [x, q], Tensor(np.full((2, 3), 5, "int8"), quant=scale))
    w.ok("quantised x", [Tensor(data("int8", (2, 2)), quant=[(8, 1, 0.5)]), v], np.full((2, 2), -2.5, "float32"))
    w.bad("two elements", "INVALID_SHAPE", [x, floats(2)])
    w.bad("no elements", "INVALID_SHAPE", [x, floats(0)])
    w.bad("result of the type of x", "INVALID_DATATYPE", [x, np.array([1], "int32")], [x])
    w.bad("x of rank 9", "INVALID_SHAPE", [floats(*[1] * 9), v])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("three inputs", "INVALID_INPUT", [x, v, v])
    w.bad("value absent", "NULL_PTR", [x, None])
    w.bad("x absent", "NULL_PTR", [None, v])
    w.bad("two outputs", "INVALID_OUTPUT", [x, v], [x, x])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "FILL_LIKE", also=requantised.cases("FILL_LIKE"))
