"""FILL."""
import numpy as np

import requantised
from common import data, floats, known, TYPES, write


def make(w):

    def put(name, value, shape, dtype="int32"):
        w.ok(name, [value, known(shape, dtype, (len(shape),))], np.full(shape, value, dtype=value.dtype))

    half = np.array(-2.5, "float32")
    put("2x3", half, [2, 3])
    put("int64 shape", half, [2, 3], "int64")
    put("rank 1", half, [5])
    put("one element", half, [1])
    put("scalar result", half, [])
    put("scalar result, int64 shape", half, [], "int64")
    put("empty", half, [0])
    put("empty inside", half, [2, 0, 3])
    put("rank 4", half, [1, 2, 3, 2])
    put("rank 8", half, [1, 2, 1, 2, 1, 2, 1, 2])
    put("NaN", np.array(np.nan, "float32"), [3])
    put("minus infinity", np.array(-np.inf, "float32"), [2, 2])
    put("minus zero", np.array(-0.0, "float32"), [2])
    put("false", np.array(False), [2])
    put("zero", np.array(0, "int32"), [4])
    put("17 bytes", np.array(-7, "int8"), [17])
    put("33 halves", np.array(0.5, "float16"), [33])
    for t in TYPES:
        put("type " + t, data(t, (3,), 2)[2 if t == "bool" else 1], [3, 2])
    shape = known([2, 3])
    w.bad("one input", "INVALID_INPUT", [half])
    w.bad("three inputs", "INVALID_INPUT", [half, shape, shape])
    w.bad("shape absent", "NULL_PTR", [half, None])
    w.bad("value absent", "NULL_PTR", [None, shape])
    w.bad("shape of float32", "INVALID_DATATYPE", [half, known([2, 3], "float32")])
    w.bad("shape of int16", "INVALID_DATATYPE", [half, known([2, 3], "int16")])
    w.bad("shape of rank 2", "INVALID_SHAPE", [half, known([[2, 3]])])
    w.bad("value of two elements", "INVALID_SHAPE", [floats(2), shape])
    w.bad("rank 9", "INVALID_SHAPE", [half, known([1] * 9)])
    w.bad("type before shape", "INVALID_DATATYPE", [half, known([[2, 3]], "float32")])
    w.bad("more elements than int64 counts", "OUT_OF_MEMORY", [half, known([2**31 - 1] * 3)])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "FILL", also=requantised.cases("FILL"))
