"""NON_ZERO."""
import numpy as np
import torch

from common import data, odd_floats, same, Tensor, TYPES, write

INDEX = ("int32", "int64")


def places(x, index):
    """[rank of x, N]; a scalar has no axis and still one column, or none, as ONNX and torch have it."""
    y = np.array(np.nonzero(np.atleast_1d(x)), index)
    y = y[:0] if np.ndim(x) == 0 else y
    if x.dtype.name not in ("uint16", "uint32", "uint64"):  # which torch lacks
        same(y, torch.nonzero(torch.from_numpy(np.ascontiguousarray(x).reshape(x.shape))).numpy().T.astype(index), "NonZero")
    return y


def holes(dtype, shape, step=3):
    """data() with a 0 at every step-th place."""
    x = data(dtype, shape).reshape(-1)
    x[::step] = 0
    return x.reshape(shape)


def make(w):
    def found(name, x, index="int64", **more):
        w.ok(name, [Tensor(x, more.pop("constant", False))], places(x, index), **more)

    for k, t in enumerate(TYPES):
        for index in INDEX:
            found("x of type %s as %s" % (t, index), holes(t, (2, 3, k % 3 + 1)), index)
        found("nothing but 0, " + t, np.zeros((2, 2), t), INDEX[k % 2])
        found("no 0, " + t, np.ones((2, 2), t), INDEX[k % 2])
    for t in ("int16", "int32", "int64", "uint16", "uint32", "uint64"):
        high = np.zeros(3, t)
        high[1] = 1 << (np.iinfo(t).bits - 2)  # whose lower bytes are 0
        found("a high bit, " + t, high)
    for t in ("float16", "float32", "float64"):
        found("odd values, " + t, odd_floats(t))
        found("-0 is 0, " + t, np.array([[0.0, -0.0], [-0.0, 1.0]], t))
        found("the smallest values, " + t, np.array([np.finfo(t).smallest_subnormal, 0, -np.finfo(t).smallest_subnormal], t))
    for name, shape in (("rank 1", (7,)), ("rank 2", (3, 4)), ("rank 4", (2, 1, 3, 2)), ("rank 5", (2, 1, 2, 1, 3)),
                        ("rank 8", (1, 2, 1, 3, 1, 2, 2, 1)), ("ones", (1, 1, 1)), ("long", (1, 300))):
        for index in INDEX:
            found("%s as %s" % (name, index), holes("float32", shape, 2), index)
    for t in ("float32", "bool"):
        found("scalar, " + t, np.array(2, t))
        found("scalar 0, " + t, np.array(0, t))
    found("empty", np.zeros(0, "int32"))
    found("empty inside", np.zeros((3, 0, 2), "float32"), "int32")
    found("empty in front", np.zeros((0, 5), "bool"))
    found("the first one only", np.array([[1, 0], [0, 0]], "int8"))
    found("the last one only", np.array([[0, 0], [0, 1]], "int8"))
    found("constant x", holes("float32", (2, 3)), constant=True)
    found("constant x, as int32", holes("int64", (5,)), "int32", constant=True)
    found("NCHW keeps the order", holes("float32", (1, 3, 2, 2)), form="NCHW")
    x = holes("float32", (2, 3))
    y = places(x, "int64")
    w.bad("no inputs", "INVALID_INPUT", [])
    w.bad("two inputs", "INVALID_INPUT", [x, x])
    w.bad("input absent", "NULL_PTR", [None])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [y, y])
    w.bad("output of float32", "INVALID_DATATYPE", [x], [y.astype("float32")])
    w.bad("output of int8", "INVALID_DATATYPE", [x], [y.astype("int8")])
    w.bad("rank 9", "INVALID_SHAPE", [data("float32", (1,) * 9)])


if __name__ == "__main__":
    write(make, "Expected values: numpy, and torch for the types that it has.", "NON_ZERO")
