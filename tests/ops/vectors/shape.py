"""SHAPE."""
import numpy as np

from common import data, floats, Tensor, TYPES, write


def make(w):
    shapes = [("scalar", ()), ("rank 1", (5,)), ("rank 2", (2, 3)), ("rank 3", (4, 1, 2)), ("rank 4", (1, 2, 3, 4)),
              ("rank 5", (2, 1, 2, 1, 3)), ("rank 8", (1, 2, 1, 3, 1, 2, 2, 1)), ("empty", (0,)),
              ("empty inside", (3, 0, 2)), ("large and empty", (0, 2**31 - 1)), ("ones", (1, 1, 1))]
    for name, shape in shapes:
        x = np.zeros(shape, "float32") if 0 in shape else data("float32", shape)
        for t in ("int32", "int64"):
            w.ok("%s as %s" % (name, t), [x], np.array(shape, t),
                 error32="OUT_OF_MEMORY" if max(shape, default=0) >= 2**28 else None)
    for k, t in enumerate(TYPES):
        w.ok("x of type " + t, [data(t, (2, k % 3 + 1))], np.array([2, k % 3 + 1], ("int32", "int64")[k % 2]))
    w.ok("constant x", [Tensor(floats(2, 2), True)], np.array([2, 2], "int32"))
    w.ok("NCHW keeps the order", [floats(1, 3, 2, 2)], np.array([1, 3, 2, 2], "int32"), form="NCHW")
    x = floats(2, 3)
    w.bad("no inputs", "INVALID_INPUT", [])
    w.bad("two inputs", "INVALID_INPUT", [x, x])
    w.bad("input absent", "NULL_PTR", [None])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [np.array([2, 3], "int32")] * 2)
    w.bad("output of float32", "INVALID_DATATYPE", [x], [np.array([2, 3], "float32")])
    w.bad("output of int8", "INVALID_DATATYPE", [x], [np.array([2, 3], "int8")])
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9)])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "SHAPE")
