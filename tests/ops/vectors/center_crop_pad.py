"""CENTER_CROP_PAD."""
import numpy as np

from common import data, known, Tensor, TYPES, write


def centred(x, shape, axes=None):
    """One axis after the other: numpy cuts, or puts zeros around."""
    for axis, extent in zip(range(x.ndim) if not axes else axes, shape):
        more = x.shape[axis] - extent
        if more > 0:
            x = np.take(x, np.arange(more // 2, more // 2 + extent), axis)
        elif more < 0:
            pads = [(0, 0)] * x.ndim
            pads[axis] = (-more // 2, -more - -more // 2)
            x = np.pad(x, pads)
    return x


def make(w):
    def go(name, x, shape, axes=(), kind="int64"):
        w.ok(name, [x, known(shape, kind)], centred(x, shape, axes), **({"axes": list(axes)} if axes else {}))

    for t in TYPES:
        go("type " + t, data(t, (3, 5)), (4, 2))
    for n in range(0, 9):
        go("5 to %d" % n, data("int32", (5,)), (n,))
        go("4 to %d" % n, data("int32", (4,)), (n,), kind="int32")
    go("ONNX's example, crop", data("float32", (20, 10, 3)), (10, 7, 3))
    go("ONNX's example, pad", data("float32", (10, 7, 3)), (20, 10, 3))
    go("ONNX's example, both", data("float32", (20, 8, 3)), (10, 10, 3))
    for axes in ((0,), (1,), (-1,), (2, 0), (-3, -1), (1, 2, 0), (-1, -2, -3)):
        go("axes %s" % list(axes), data("int16", (3, 4, 5)), [5, 3, 4][:len(axes)], axes)
    go("all axes stay", data("float32", (2, 3)), (2, 3))
    go("from nothing", data("float32", (0, 2)), (2, 2))
    go("to nothing", data("float32", (3, 2)), (0, 2))
    go("scalar", np.array(7, "float32"), ())
    go("rank 8", data("int8", (2, 1, 3, 1, 2, 1, 2, 1)), (1, 2, 2, 1, 3, 1, 2, 2))
    x = data("float32", (3, 4))
    w.bad("fewer extents", "INVALID_SHAPE", [x, known([3])])
    w.bad("more extents", "INVALID_SHAPE", [x, known([3, 4, 5])])
    w.bad("more extents than axes", "INVALID_SHAPE", [x, known([3, 4])], axes=[1])
    w.bad("a shape told in the run", "UNSUPPORTED_OP", [x, np.array([3, 4])])
    w.bad("a shape of two axes", "INVALID_SHAPE", [x, known([3, 4], "int64", (1, 2))])
    w.bad("a negative extent", "INVALID_PARAMETER", [x, known([3, -1])])
    w.bad("an extent of 2^31", "OUT_OF_MEMORY", [x, known([3, 2**31], "int64")])
    for axis in (2, -3):
        w.bad("axis %d" % axis, "INVALID_PARAMETER", [x, known([3])], axes=[axis])
    w.bad("an axis twice", "INVALID_PARAMETER", [x, known([3, 3])], axes=[1, -1])
    w.bad("a shape of float32", "INVALID_DATATYPE", [x, Tensor(np.array([3, 4], "float32"), True)])
    w.bad("quantised", "UNSUPPORTED_OP", [Tensor(data("int8", (2, 2)), quant=[(8, 3, 0.5)]), known([3, 3])])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("absent shape", "NULL_PTR", [x, None])
    w.bad("two outputs", "INVALID_OUTPUT", [x, known([3, 4])], [x, x])


if __name__ == "__main__":
    write(make, "Expected values: numpy.take and numpy.pad.", "CENTER_CROP_PAD")
