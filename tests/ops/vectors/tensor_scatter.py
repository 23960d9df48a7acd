"""TENSOR_SCATTER."""
import numpy as np

from common import data, floats, odd_floats, Tensor, TYPES, write


def scattered(x, update, starts, axis):
    y = x.copy()
    for b, start in enumerate(starts):
        for at in np.ndindex(update.shape[1:]):
            to = list(at)
            to[axis - 1] += start
            y[(b, *to)] = update[(b, *at)]
    return y


def in_pages(x, update, starts, pages, size, axis):
    y = x.copy()
    for b, start in enumerate(starts):
        for at in np.ndindex(update.shape[1:]):
            to = list(at)
            j = to[axis - 1] + start
            to[axis - 1] = pages[b][j // size] * size + j % size
            y[(b, *to)] = update[(b, *at)]
    return y


def make(w):
    def go(name, x, update, starts=None, axis=None, index="int64", constant=False, **more):
        attrs = {} if axis is None else {"axis": axis}
        count = (-2 if axis is None else axis) % x.ndim
        y = scattered(x, update, starts if starts is not None else [0] * len(x), count)
        w.ok(name, [x, update] + ([] if starts is None else [Tensor(np.array(starts, index), constant)]), y, **attrs, **more)

    for n, t in enumerate(TYPES):
        go("type " + t, data(t, (2, 5, 3)), data(t, (2, 2, 3), 3), [3, 1], index=("int32", "int64")[n % 2])
        go("type %s, axis 3" % t, data(t, (2, 2, 1, 5)), data(t, (2, 2, 1, 3), 3), [0, 2], 3, index=("int32", "int64")[n % 2])
    for shape in ((3, 4), (2, 3, 4), (2, 5, 2, 3), (2, 1, 2, 1, 2, 1, 3, 2)):
        for axis in range(1 - len(shape), len(shape)):
            if axis % len(shape) != 0:
                less = list(shape)
                less[axis] = max(shape[axis] - 1, 1)
                go("%s, axis %d" % (list(shape), axis), floats(*shape), floats(*less, seed=4),
                   [b % (shape[axis] - less[axis] + 1) for b in range(shape[0])], axis)
    for start in range(6):
        go("one row at %d of 6" % start, floats(1, 6, 3), floats(1, 1, 3, seed=2), [start])
    go("no starts", floats(2, 4, 3), floats(2, 3, 3, seed=2))
    go("all rows", floats(2, 3, 2), floats(2, 3, 2, seed=2), [0, 0])
    go("no rows, behind the last one", floats(2, 3, 2), floats(2, 0, 2), [3, 0])
    go("no batch", floats(0, 3, 2), floats(0, 2, 2), [])
    go("no elements", floats(2, 3, 0), floats(2, 1, 0), [2, 1])
    go("constant starts", floats(2, 3, 2), floats(2, 1, 2, seed=2), [1, 2], constant=True)
    go("NCHW counts the axis in its own order", floats(2, 3, 2, 2), floats(2, 1, 2, 2, seed=2), [1, 2], 1, form="NCHW")
    for t in ("float16", "float32", "float64"):
        go("odd values, " + t, odd_floats(t).reshape(1, 8), odd_floats(t)[::-1][:5].reshape(1, 5).copy(), [2], 1)
    x, u = floats(2, 4, 3), floats(2, 2, 3, seed=2)
    w.bad("start 3 of 2 rows in 4", "INVALID_PARAMETER", [x, u, np.array([0, 3])], [x], run=True,
          says="start 3, element 1 of starts, and 2 rows exceed axis 1 of x with 4 rows")
    for start in (-1, 2**31, 2**32, 2**63 - 1, -2**63):
        w.bad("start %d" % start, "INVALID_PARAMETER", [x, u, np.array([start, 0])], [x], run=True)
    for n, (R, rows, shape, starts, pages, axis) in enumerate((
            (2, 3, (1, 8, 2), [1], [[3, 0, 2, 1]], 1), (2, 4, (1, 8, 2), [4], [[3, 0, 2, 1]], 1), (1, 2, (2, 4, 3), [1, 0], [[2, 3, 0], [1, 0, 9]], 1),
            (4, 1, (1, 12, 1), [7], [[2, 1]], 1), (3, 5, (2, 2, 9), [4, 0], [[0, 2, 1], [1, 0, 99]], 2), (4, 4, (1, 4, 2), [0], [[0]], 1),
            (2, 0, (1, 4, 2), [4], [[1, 0]], 1), (3, 2, (1, 6, 2), [2], [[1, 1]], 1))):
        for t in ("float32", "int8", "float16"):
            part = list(shape)
            part[axis] = rows
            x, u, table = data(t, shape), data(t, tuple(part), 3), np.array(pages, ("int32", "int64")[n % 2])
            w.ok("pages of %d, %s, %s from %s" % (R, t, pages, starts), [x, u, np.array(starts), table], in_pages(x, u, starts, pages, R, axis), axis=axis, pageSize=R)
    x, u, table = floats(1, 8, 2), floats(1, 3, 2, seed=2), np.array([[3, 0]])
    w.ok("pages without starts", [x, u, None, table], in_pages(x, u, [0], table, 2, 1), axis=1, pageSize=2)
    w.bad("rows behind the last page", "INVALID_PARAMETER", [x, u, np.array([2]), table], [x], run=True, axis=1, pageSize=2,
          says="start 2, element 0 of starts, and 3 rows exceed axis 1 of x with 4 rows")
    for page in (-1, 4, 2**31 - 1):
        w.bad("page %d of 4" % page, "INVALID_PARAMETER", [x, u, np.array([0]), np.array([[3, page]])], [x], run=True, axis=1, pageSize=2,
              says="pages[0,1] is %d, expected 0 to 3" % page)
    for size in (3, 0, -2, 9):
        w.bad("pages of %d in 8 rows" % size, "INVALID_PARAMETER", [x, u, np.array([0]), table], axis=1, pageSize=size)
    w.bad("a size without pages", "INVALID_PARAMETER", [x, u, np.array([0])], axis=1, pageSize=2, says="pageSize is 2 without pages")
    w.bad("pages of float32", "INVALID_DATATYPE", [x, u, np.array([0]), table.astype("float32")], axis=1, pageSize=2)
    w.bad("pages of one axis", "INVALID_SHAPE", [x, u, np.array([0]), table[0]], axis=1, pageSize=2)
    w.bad("pages of another batch", "INVALID_SHAPE", [x, u, np.array([0]), np.concatenate([table, table])], axis=1, pageSize=2)
    x, u = floats(2, 4, 3), floats(2, 2, 3, seed=2)
    w.bad("axis 0", "INVALID_PARAMETER", [x, u[:, :, :], np.array([0, 0])], axis=0, says="axis is 0 of 3, the batch of starts")
    w.bad("axis -3 of rank 3", "INVALID_PARAMETER", [x, u, np.array([0, 0])], axis=-3)
    w.bad("axis 3 of rank 3", "INVALID_PARAMETER", [x, u, np.array([0, 0])], axis=3)
    w.bad("axis -2 of rank 1", "INVALID_PARAMETER", [floats(4), floats(2), np.zeros(4, "int64")])
    w.bad("more rows than x", "INVALID_SHAPE", [x, floats(2, 5, 3), np.array([0, 0])])
    w.bad("rows of another size", "INVALID_SHAPE", [x, floats(2, 2, 2), np.array([0, 0])])
    w.bad("another batch", "INVALID_SHAPE", [x, floats(1, 2, 3), np.array([0, 0])])
    w.bad("an update with fewer axes", "INVALID_SHAPE", [x, floats(2, 3), np.array([0, 0])])
    w.bad("three starts of two", "INVALID_SHAPE", [x, u, np.array([0, 0, 0])])
    w.bad("starts of two axes", "INVALID_SHAPE", [x, u, np.array([[0, 0]])])
    w.bad("starts of float32", "INVALID_DATATYPE", [x, u, floats(2)])
    w.bad("an update of another type", "INVALID_DATATYPE", [x, u.astype("float64"), np.array([0, 0])])
    w.bad("a result of another type", "INVALID_DATATYPE", [x, u, np.array([0, 0])], [x.astype("float64")])
    for k in (0, 1):
        ins = [data("int8", (2, 4, 3)), data("int8", (2, 2, 3)), np.array([0, 0])]
        ins[k] = Tensor(ins[k], quant=[(8, 3, 0.5)])
        w.bad("input %d quantized" % k, "INVALID_DATATYPE" if k else "UNSUPPORTED_OP", ins)
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("five inputs", "INVALID_INPUT", [x, u, np.array([0, 0]), None, u])
    w.bad("absent update", "NULL_PTR", [x, None])
    w.bad("rank 9", "INVALID_SHAPE", [np.ones((1,) * 9, "float32"), u])
    w.bad("two outputs", "INVALID_OUTPUT", [x, u, np.array([0, 0])], [x, x])


if __name__ == "__main__":
    write(make, "Expected values: plain loops in numpy.", "TENSOR_SCATTER")
