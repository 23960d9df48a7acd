"""SLICE_FUSION."""
import numpy as np

import requantised
from common import data, floats, I64_MAX, known, odd_floats, same, TYPES, write


def make(w):

    def put(name, x, begin, size, axes=None, dtype="int32"):
        at = [slice(None)] * x.ndim
        z = x
        for k, (b, s) in enumerate(zip(begin, size)):
            axis = axes[k] if axes is not None else k
            b = b + x.shape[axis] if b < 0 else b
            at[axis] = slice(b, x.shape[axis] if s == -1 else b + s)
            z = np.take(z, np.arange(b, x.shape[axis] if s == -1 else b + s, dtype="int64"), axis)
        y = same(x[tuple(at)], z, name)
        n, attrs = (len(begin),), {} if axes is None else {"axes": axes}
        w.ok(name, [x, known(begin, dtype, n), known(size, dtype, n)], y, **attrs)

    x = floats(4, 5)
    put("inside", x, [1, 2], [2, 3])
    put("int64", x, [1, 2], [2, 3], None, "int64")
    put("whole", x, [0, 0], [4, 5])
    put("one element", x, [3, 4], [1, 1])
    put("to the end", x, [1, 2], [-1, -1])
    put("one size -1", x, [2, 1], [-1, 2])
    put("int64 size -1", x, [0, 3], [2, -1], None, "int64")
    put("negative begin", x, [-3, -2], [2, 2])
    put("negative begin to the end", x, [-1, -5], [-1, -1], None, "int64")
    put("size 0", x, [1, 2], [0, 3])
    put("size 0 at the end", x, [4, 5], [0, 0])
    put("size -1 at the end", x, [4, 0], [-1, 2])
    put("axes 1", x, [2], [2], [1])
    put("axes 1 0", x, [2, 1], [3, 2], [1, 0])
    put("negative axes", x, [1, 3], [2, 1], [-2, -1])
    put("one negative axis", floats(2, 3, 4), [1], [-1], [-2], "int64")
    put("axes 0 and 2", floats(3, 2, 4), [1, -3], [1, 2], [0, 2])
    put("axes in full", x, [1, 1], [3, 3], [0, 1])
    put("first axis only", floats(3, 2, 2), [1], [2], [0])
    put("rank 1", floats(6), [2], [3])
    put("rank 1 negative", floats(6), [-6], [1])
    put("rank 4 NHWC", floats(1, 3, 4, 2), [0, 1, 0, 1], [1, 2, 3, 1])
    put("rank 8", floats(1, 2, 1, 3, 1, 2, 2, 1), [0, 1, 0, 1, 0, 0, 1, 0], [1, 1, -1, 2, 1, 2, 1, -1])
    put("rank 8, one axis", floats(1, 2, 1, 3, 1, 2, 2, 1), [1], [2], [3])
    put("empty x", floats(0, 3), [0, 1], [0, 2])
    put("empty x to the end", floats(0, 3), [0, 1], [-1, 1])
    put("scalar", floats(), [], [])
    put("NaN and infinities", odd_floats("float32"), [0], [5])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (3, 4), 2), [k % 3, -3], [1, 2], None, ("int32", "int64")[k % 2])
    b, s = known([1, 2]), known([2, 3])
    for name, begin, size in [("begin beyond the end", [5, 0], [0, 1]), ("begin too small", [-5, 0], [1, 1]),
                              ("size beyond the end", [2, 0], [3, 5]), ("size -2", [0, 0], [-2, 1])]:
        w.bad(name, "INVALID_PARAMETER", [x, known(begin), known(size)])
    w.bad("begin and size overflow together", "INVALID_PARAMETER",
          [x, known([1, 0], "int64"), known([I64_MAX, 1], "int64")])
    w.bad("axis too large", "INVALID_PARAMETER", [x, b, s], axes=[0, 2])
    w.bad("axis too small", "INVALID_PARAMETER", [x, b, s], axes=[-3, 1])
    w.bad("axis twice", "INVALID_PARAMETER", [x, b, s], axes=[1, -1])
    w.bad("begin of float32", "INVALID_DATATYPE", [x, known([1, 2], "float32"), s])
    w.bad("size of int16", "INVALID_DATATYPE", [x, b, known([2, 3], "int16")])
    w.bad("begin and size of two lengths", "INVALID_SHAPE", [x, known([1]), s])
    w.bad("begin of rank 2", "INVALID_SHAPE", [x, known([[1, 2]]), s])
    w.bad("two inputs", "INVALID_INPUT", [x, b])
    w.bad("size absent", "NULL_PTR", [x, b, None])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "SLICE_FUSION", also=requantised.cases("SLICE_FUSION"))
