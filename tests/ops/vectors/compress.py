"""COMPRESS."""
import numpy as np

import requantised
from common import const, data, floats, odd_floats, Tensor, TYPES, write


def make(w):
    def go(name, x, condition, axis=None, constant=False, **more):
        condition = np.array(condition, bool)
        y = np.compress(condition, x, axis)
        w.ok(name, [x, Tensor(condition, constant)], y, **({} if axis is None else {"axis": [axis]}), **more)

    for n, t in enumerate(TYPES):
        go("type " + t, data(t, (3, 2)), [0, 1, 1, 0, 1], None)
        go("type %s, axis" % t, data(t, (3, 4)), [1, 0, 1], n % 2 * -2)
    for shape in ((5,), (3, 4), (2, 3, 4), (2, 3, 1, 2), (1, 2, 1, 2, 1, 2, 2, 3)):
        for axis in range(-len(shape), len(shape)):
            go("%s, axis %d" % (list(shape), axis), floats(*shape), [k % 2 == 0 for k in range(shape[axis])], axis)
        go("%s as one line" % list(shape), floats(*shape), [k % 3 != 1 for k in range(int(np.prod(shape)))])
    x = floats(3, 4)
    for constant in (False, True):
        some = ", constant" if constant else ""
        go("none" + some, x, [0, 0, 0], 0, constant)
        go("all" + some, x, [1, 1, 1], 0, constant)
        go("the first" + some, x, [1, 0, 0], 0, constant)
        go("the last" + some, x, [0, 0, 0, 1], 1, constant)
        go("shorter" + some, x, [0, 1], 1, constant)
        go("shorter, as one line" + some, x, [0, 1, 1, 0, 1, 0, 0], None, constant)
        go("of no entries" + some, x, [], 1, constant)
        go("of no entries, as one line" + some, x, [], None, constant)
    w.ok("both constant", [const(x), const(np.array([True, False, True]))], x[::2], axis=[0])
    go("no places", floats(0, 3), [], 0)
    go("nothing beside", floats(3, 0), [1, 0, 1], 0)
    go("scalar as one line", np.array(7, "float32"), [1])
    go("scalar as one line, left out", np.array(7, "float32"), [0])
    for t in ("float16", "float32", "float64"):
        go("odd values, " + t, odd_floats(t), [1, 1, 1, 1, 0, 1, 1, 1])
    go("NCHW counts the axis in its own order", floats(1, 3, 2, 2), [1, 0, 1], 1)
    q, other = [(8, 3, 0.5)], [(8, -1, 0.25)]
    m, c = data("int8", (3, 2)), np.array([True, False, True])
    w.ok("quantised", [Tensor(m, quant=q), c], Tensor(m[::2], quant=q), axis=[0])
    w.ok("quantised, as one line", [Tensor(m, quant=q), c], Tensor(m.reshape(-1)[:3:2], quant=q))
    w.ok("quantised by the other axis", [Tensor(m, quant=q + other), c], Tensor(m[::2], quant=q + other), axis=[0])
    w.bad("quantised by the axis", "UNSUPPORTED_OP", [Tensor(m, quant=q + other), c[:2]], axis=[1])
    w.bad("quantised along an axis, as one line", "UNSUPPORTED_OP", [Tensor(m, quant=q + other), c])
    w.bad("longer", "INVALID_SHAPE", [x, np.ones(4, bool)], axis=[0])
    w.bad("longer, as one line", "INVALID_SHAPE", [x, np.ones(13, bool)])
    w.bad("condition of two axes", "INVALID_SHAPE", [x, np.ones((1, 3), bool)], axis=[0])
    w.bad("condition a scalar", "INVALID_SHAPE", [x, np.array(True)], axis=[0])
    w.bad("condition int32", "INVALID_DATATYPE", [x, c.astype("int32")], axis=[0])
    w.bad("axis 2 of rank 2", "INVALID_PARAMETER", [x, c], axis=[2])
    w.bad("axis -3 of rank 2", "INVALID_PARAMETER", [x, c], axis=[-3])
    w.bad("axis of a scalar", "INVALID_PARAMETER", [np.array(1, "float32"), np.array([True])], axis=[0])
    w.bad("two axes", "INVALID_PARAMETER", [x, c], axis=[0, 1])
    w.bad("result of another type", "INVALID_DATATYPE", [x, c], [x[::2].astype("float64")], axis=[0])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("three inputs", "INVALID_INPUT", [x, c, c])
    w.bad("absent condition", "NULL_PTR", [x, None])
    w.bad("rank 9", "INVALID_SHAPE", [np.ones((1,) * 9, "float32"), c])
    w.bad("two outputs", "INVALID_OUTPUT", [x, c], [x, x], axis=[0])


if __name__ == "__main__":
    write(make, "Expected values: numpy.compress.", "COMPRESS", also=requantised.cases("COMPRESS"))
