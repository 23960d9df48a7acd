"""UNIQUE."""
import numpy as np

from common import data, Tensor, TYPES, write


def unique(x, axis, rising):
    """By a dictionary of slices; equal NaN are one, and last. numpy must agree where it has the same definition."""
    slices = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    rows = [tuple((1, 0) if v != v else (0, v) for v in s.reshape(-1).tolist()) for s in slices]
    first = {}
    for i, row in enumerate(rows):
        first.setdefault(row, i)
    keys = sorted(first) if rising else list(first)
    y = slices[[first[k] for k in keys]] if keys else slices[:0]
    y = np.ascontiguousarray(y if axis is None else np.moveaxis(y, 0, axis))
    inverse = [keys.index(row) for row in rows]
    results = [y] + [np.array(v, "int64") for v in ([first[k] for k in keys], inverse, [rows.count(k) for k in keys])]
    if rising and x.size and (axis is None or x.dtype.kind != "f" or not np.isnan(x).any()):
        for mine, theirs in zip(results, np.unique(x, True, True, True, axis)):
            if not np.array_equal(mine, theirs.reshape(mine.shape), x.dtype.kind == "f" and mine.dtype.kind == "f"):
                raise SystemExit("numpy.unique differs")
    return results


def make(w):
    random = np.random.default_rng(1134)

    def go(name, x, axis=None, rising=True, index="int64", outs=4, constant=False, **more):
        ys = unique(x, axis, rising)
        ys = [ys[0]] + [v.astype(index) for v in ys[1:outs]]
        attrs = {**({} if axis is None else {"axis": [axis]}), **({} if rising else {"sorted": False})}
        w.ok(name, [Tensor(x, constant)], ys, **attrs, **more)

    for rising in (True, False):
        side = "rising" if rising else "as they come"
        for n, t in enumerate(TYPES):
            pick = data(t, (5,))
            go("type %s, %s" % (t, side), random.choice(pick, (3, 4)), None, rising, ("int32", "int64")[n % 2])
            go("type %s, axis 0, %s" % (t, side), random.choice(pick[:2], (6, 2)), 0, rising, ("int64", "int32")[n % 2])
            go("type %s, axis 1, %s" % (t, side), random.choice(pick[1:3], (2, 7)), 1, rising)
        for shape in ((7,), (1,), (4, 3), (2, 3, 4), (3, 1, 2, 4), (1, 2, 1, 2, 1, 2, 2, 3)):
            x = random.integers(0, 2, shape).astype("int16")
            for axis in [None] + list(range(-len(shape), len(shape))):
                go("%s, axis %s, %s" % (list(shape), axis, side), x, axis, rising)
        for t in ("float16", "float32", "float64"):
            odd = np.array([np.nan, 1, -np.inf, 0.0, -0.0, np.inf, np.nan, 1, -1.5, np.inf, np.finfo(t).max, np.finfo(t).tiny], t)
            go("odd values, %s, %s" % (t, side), odd, None, rising)
            go("odd values back, %s, %s" % (t, side), odd[::-1].copy(), None, rising)
            pairs = np.array([[np.nan, 1], [1, np.nan], [np.nan, 1], [0.0, 2], [-0.0, 2], [np.nan, np.nan], [np.inf, 0]], t)
            go("odd rows, %s, %s" % (t, side), pairs, 0, rising)
        for outs in (1, 2, 3, 4):
            go("%d results, %s" % (outs, side), np.array([2, 1, 1, 3, 4, 3], "float32"), None, rising, outs=outs)
        go("all equal, " + side, np.full((3, 3), 5, "int32"), None, rising)
        go("all different, " + side, random.permutation(50).astype("uint8"), None, rising)
        go("falling, " + side, np.arange(33, dtype="int8")[::-1].copy(), None, rising)
        go("200 of 20, " + side, random.integers(-10, 10, 200).astype("int64"), None, rising)
        go("100 rows, " + side, random.integers(0, 3, (100, 3)).astype("float32"), 0, rising)
        go("nothing, " + side, np.zeros(0, "float32"), None, rising)
        go("no places, " + side, np.zeros((0, 3), "float32"), 0, rising)
        go("places of nothing, " + side, np.zeros((3, 0), "float32"), 0, rising)
        go("scalar, " + side, np.array(7, "float32"), None, rising)
        go("constant, " + side, np.array([2, 1, 2], "int32"), None, rising, constant=True)
    go("int64 beyond float64", np.array([2**53 + 1, 2**53, 2**53 + 1, -2**63, 2**63 - 1], "int64"))
    go("uint64 beyond int64", np.array([2**64 - 1, 0, 2**63, 2**64 - 1], "uint64"))
    x = np.array([[2, 1], [2, 1]], "float32")
    ys = unique(x, None, True)
    w.bad("axis 2 of rank 2", "INVALID_PARAMETER", [x], axis=[2])
    w.bad("axis -3 of rank 2", "INVALID_PARAMETER", [x], axis=[-3])
    w.bad("axis of a scalar", "INVALID_PARAMETER", [np.array(1, "float32")], axis=[0])
    w.bad("two axes", "INVALID_PARAMETER", [x], axis=[0, 1])
    w.bad("indices of float32", "INVALID_DATATYPE", [x], [ys[0], ys[1].astype("float32")])
    w.bad("counts of int8", "INVALID_DATATYPE", [x], ys[:3] + [ys[3].astype("int8")])
    w.bad("result of another type", "INVALID_DATATYPE", [x], [ys[0].astype("float64")])
    w.bad("five results", "INVALID_OUTPUT", [x], ys + [ys[1]])
    w.bad("quantised", "UNSUPPORTED_OP", [Tensor(data("int8", (2, 2)), quant=[(8, 3, 0.5)])])
    w.bad("no input", "INVALID_INPUT", [])
    w.bad("two inputs", "INVALID_INPUT", [x, x])
    w.bad("absent input", "NULL_PTR", [None])
    w.bad("rank 9", "INVALID_SHAPE", [np.ones((1,) * 9, "float32")])


if __name__ == "__main__":
    write(make, "Expected values: a dictionary of slices, and numpy.unique where it has the same definition.", "UNIQUE")
