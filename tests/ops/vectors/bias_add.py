"""BIAS_ADD."""
import numpy as np

from common import const, f16, f32, f64, float_result, integer_result, INTEGERS, name_of, NO_ATTR, refuse, some, write
from quantised_elements import cases


def make(w):
    op = "BIAS_ADD"
    for n, shape in enumerate(((2, 3), (2, 2, 3), (1, 2, 2, 3), (2, 1, 2, 1, 3))):
        for dtype in (f32, f16, f64):
            x, bias = some(shape, dtype), some((3,), dtype)
            w.case("%s rank %d" % (name_of(dtype), len(shape)), op, NO_ATTR, [x, bias], [float_result(np.add, x, bias)])
    for dtype in INTEGERS:
        i = np.iinfo(dtype)
        x, bias = np.array([[1, i.max, i.min], [5, 6, 7]], dtype), np.array([2, 1, i.max], dtype)
        w.case("%s wraps" % name_of(dtype), op, NO_ATTR, [x, bias], [integer_result(lambda a, b: a + b, x, bias)])
    for dtype in (f32, f16, np.int32):
        x, bias = some((2, 3, 2, 2), dtype), some((3,), dtype)
        z = x.astype(f64) + bias.reshape(1, 3, 1, 1)
        w.case("%s NCHW" % name_of(dtype), op, NO_ATTR, [x, bias], [z.astype(dtype)], fmt="NCHW")
    x, bias = some((1, 2, 2, 2)), some((2,))
    w.case("format NHWC", op, NO_ATTR, [x, bias], [x + bias], fmt="NHWC")
    w.case("constant bias", op, NO_ATTR, [x, const(bias)], [x + bias])
    w.case("nothing", op, NO_ATTR, [np.zeros((0, 2), f32), bias], [np.zeros((0, 2), f32)])
    refuse(w, "rank 1", op, NO_ATTR, [some((3,)), some((3,))], "INVALID_SHAPE")
    refuse(w, "rank 6", op, NO_ATTR, [some((1, 1, 1, 1, 1, 3)), some((3,))], "INVALID_SHAPE")
    refuse(w, "bias of rank 2", op, NO_ATTR, [some((2, 3)), some((1, 3))], "INVALID_SHAPE")
    refuse(w, "bias of another length", op, NO_ATTR, [some((2, 3)), some((2,))], "INVALID_SHAPE")
    refuse(w, "bias of one value", op, NO_ATTR, [some((2, 3)), some((1,))], "INVALID_SHAPE")
    refuse(w, "NCHW bias as long as the last axis", op, NO_ATTR, [some((1, 2, 2, 3)), some((3,))], "INVALID_SHAPE",
           "NCHW")
    refuse(w, "float32 and float16", op, NO_ATTR, [some((2, 3)), some((3,), f16)], "INVALID_DATATYPE")
    refuse(w, "bool", op, NO_ATTR, [np.array([[True]]), np.array([True])], "INVALID_DATATYPE")
    refuse(w, "one input", op, NO_ATTR, [some((2, 3))], "INVALID_INPUT")
    refuse(w, "absent bias", op, NO_ATTR, [some((2, 3)), None], "NULL_PTR")


if __name__ == "__main__":
    write(make, "Expected values: numpy in float64; integers: Python integers modulo 2^n.", also=cases("BIAS_ADD"))
