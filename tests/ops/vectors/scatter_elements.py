"""SCATTER_ELEMENTS."""
import numpy as np

from common import data, f32, floats, FLOATS, INTEGERS, name_of, odd_floats, some, Tensor, TYPES, wrap, write

NONE, ADD, MUL, MIN, MAX = range(5)
NAMES = ["none", "add", "mul", "min", "max"]


def combine(reduction, a, b, dtype):
    """One update in the arithmetic of the type: float16 in float32, rounded once."""
    if dtype.kind == "b":
        return [b, a or b, a and b, a and b, a or b][reduction]
    if dtype.kind in "iu":
        a, b = int(a), int(b)
        return wrap([b, a + b, a * b, min(a, b), max(a, b)][reduction], dtype)[()]
    wide = np.float64 if dtype == np.float64 else f32
    a, b = wide(a), wide(b)
    with np.errstate(all="ignore"):
        return dtype.type([b, a + b, a * b, a if a < b else b, a if a > b else b][reduction])


def scatter(x, indices, updates, axis, reduction):
    y = x.copy()
    for at in np.ndindex(indices.shape):
        to = list(at)
        to[axis] = indices[at]
        y[tuple(to)] = combine(reduction, y[tuple(to)], updates[at], x.dtype)
    return y


def make(w):
    random = np.random.default_rng(1132)

    def go(name, x, indices, updates, axis=None, reduction=NONE, index="int64", constant=False, **more):
        indices = np.array(indices, index)
        attrs = {**({} if axis is None else {"axis": axis}), **({"reduction": reduction} if reduction else {})}
        y = scatter(x, indices, updates, axis or 0, reduction)
        w.ok(name, [x, Tensor(indices, constant), updates], y, **attrs, **more)

    for reduction in range(5):
        for n, t in enumerate(TYPES):
            index = ("int32", "int64")[n % 2]
            go("%s, type %s" % (NAMES[reduction], t), data(t, (3, 4)), random.integers(-3, 3, (5, 4)), data(t, (5, 4), 3), None,
               reduction, index)
            small = some((2, 3), t) if t != "bool" else data("bool", (2, 3))
            go("%s, type %s, axis 1" % (NAMES[reduction], t), small, random.integers(-3, 3, (2, 6)),
               some((2, 6), t) if t != "bool" else data("bool", (2, 6), 2), 1, reduction, index)
        for dtype in FLOATS:
            odd = odd_floats(dtype)
            with np.errstate(all="ignore"):
                go("%s, odd values, %s" % (NAMES[reduction], name_of(dtype)), np.repeat(odd, 8),
                   np.arange(64), np.tile(odd, 8), None, reduction)
        for dtype in INTEGERS:
            i = np.iinfo(dtype)
            x = np.array([i.max, i.min, i.max, i.min, 7], dtype)
            go("%s, extremes of %s" % (NAMES[reduction], name_of(dtype)), x, [0, 1, 2, 3, 4, 4, 4],
               np.array([1, i.max, i.max, i.min, 3, 5, i.max], dtype), None, reduction)
        go("%s, one place many times" % NAMES[reduction], floats(3), [1] * 7, floats(7, seed=2), None, reduction)
        go("%s, float16 rounds each time" % NAMES[reduction], np.array([2048], "float16"), [0] * 4, np.ones(4, "float16"), None, reduction)
    for shape in ((5,), (3, 4), (2, 3, 4), (1, 2, 1, 2, 1, 2, 2, 3)):
        for axis in range(-len(shape), len(shape)):
            places = list(shape)
            places[axis] += 2
            go("%s, 2 more, axis %d" % (list(shape), axis), floats(*shape), random.integers(-shape[axis], shape[axis], places),
               floats(*places, seed=4), axis)
            places = [max(k - 1, 1) for k in shape]
            go("fewer than %s, axis %d" % (list(shape), axis), floats(*shape),
               random.integers(-shape[axis], shape[axis], places), floats(*places, seed=4), axis)
    go("no updates", floats(3, 2), np.zeros((0, 2)), floats(0, 2))
    go("nothing", floats(0, 2), np.zeros((0, 2)), floats(0, 2))
    go("constant indices", floats(3, 2), [[0, 1]], floats(1, 2, seed=3), constant=True)
    go("NCHW counts the axis in its own order", floats(1, 3, 2, 2), random.integers(0, 3, (1, 4, 2, 2)), floats(1, 4, 2, 2, seed=2), 1,
       form="NCHW")
    x, at, u = floats(3, 2), np.array([[0, 1], [2, -1]]), floats(2, 2, seed=3)
    for bad in (3, -4, 2**31 + 1, -2**63):
        w.bad("index %d of 3" % bad, "INVALID_PARAMETER", [x, np.array([[0, bad]]), u[:1]], [x], run=True)
    w.bad("an index of no places", "INVALID_PARAMETER", [floats(0, 2), np.array([[0, 0]]), u[:1]], [floats(0, 2)], run=True)
    w.bad("indices larger along another axis", "INVALID_SHAPE", [x, np.zeros((2, 3), "int64"), floats(2, 3)])
    w.bad("indices with fewer axes", "INVALID_SHAPE", [x, np.array([0, 1]), floats(2)])
    w.bad("updates of another shape", "INVALID_SHAPE", [x, at, floats(2, 1)])
    w.bad("updates with more axes", "INVALID_SHAPE", [x, at, floats(1, 2, 2)])
    w.bad("scalars", "INVALID_PARAMETER", [np.array(1, f32), np.array(0), np.array(1, f32)])
    w.bad("axis 2 of rank 2", "INVALID_PARAMETER", [x, at, u], axis=2)
    w.bad("axis -3 of rank 2", "INVALID_PARAMETER", [x, at, u], axis=-3)
    w.bad("reduction 5", "INVALID_PARAMETER", [x, at, u], reduction=5)
    w.bad("reduction -1", "INVALID_PARAMETER", [x, at, u], reduction=-1)
    w.bad("indices of float32", "INVALID_DATATYPE", [x, u, u])
    w.bad("updates of another type", "INVALID_DATATYPE", [x, at, u.astype("float64")])
    w.bad("result of another type", "INVALID_DATATYPE", [x, at, u], [x.astype("float64")])
    for k in (0, 2):
        ins = [data("int8", (3, 2)), at, data("int8", (2, 2))]
        ins[k] = Tensor(ins[k], quant=[(8, 3, 0.5)])
        w.bad("input %d quantised" % k, "INVALID_DATATYPE" if k else "UNSUPPORTED_OP", ins)
    w.bad("two inputs", "INVALID_INPUT", [x, at])
    w.bad("four inputs", "INVALID_INPUT", [x, at, u, u])
    w.bad("absent updates", "NULL_PTR", [x, at, None])
    w.bad("rank 9", "INVALID_SHAPE", [np.ones((1,) * 9, f32), at, u])
    w.bad("two outputs", "INVALID_OUTPUT", [x, at, u], [x, x])


if __name__ == "__main__":
    write(make, "Expected values: plain loops in Python integers, numpy float64, and float32 (rounded once for float16).",
          "SCATTER_ELEMENTS")
