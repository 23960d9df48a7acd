"""STRIDED_SLICE."""
import numpy as np

import requantised
from common import data, floats, I64_MAX, I64_MIN, known, odd_floats, same, TYPES, write


def strided_by_walk(x, begin, end, strides, masks):
    """STRIDED_SLICE by a walk over its entries, axis by axis."""
    def bit(mask, i):
        return masks.get(mask, 0) >> i & 1

    m, a, shape = len(begin), 0, []
    takers = sum(not bit("ellipsisMask", i) and not bit("newAxisMask", i) for i in range(m))
    y = x
    for i in range(m):
        if bit("ellipsisMask", i):
            shape += x.shape[a:a + x.ndim - takers]
            a += x.ndim - takers
            continue
        if bit("newAxisMask", i):
            shape.append(1)
            continue
        n, b, e, s = x.shape[a], begin[i], end[i], strides[i]
        if bit("shrinkAxisMask", i):
            y = np.take(y, [b + n if b < 0 else b], a)
            a += 1
            continue
        b, e = b + n if b < 0 else b, e + n if e < 0 else e
        b = (0 if s > 0 else n - 1) if bit("beginMask", i) else b
        e = (n if s > 0 else -1) if bit("endMask", i) else e
        low, high = (0, n) if s > 0 else (-1, n - 1)
        b, e = min(max(b, low), high), min(max(e, low), high)
        picks = [b + k * s for k in range(max(0, -((b - e) // s)))]
        y = np.take(y, np.array(picks, "int64"), a)
        shape.append(len(picks))
        a += 1
    return y.reshape(shape + list(x.shape[a:]))


def strided_by_numpy(x, begin, end, strides, masks):
    """The same as a Python index expression."""
    index = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides)):
        bits = {k: v >> i & 1 for k, v in masks.items()}
        if bits.get("ellipsisMask"):
            index.append(Ellipsis)
        elif bits.get("newAxisMask"):
            index.append(None)
        elif bits.get("shrinkAxisMask"):
            index.append(b)
        else:
            index.append(slice(None if bits.get("beginMask") else b, None if bits.get("endMask") else e, s))
    return np.asarray(x[tuple(index)])


def strided_put(w, name, x, begin, end, strides, dtype="int32", **masks):
    y = same(strided_by_numpy(x, begin, end, strides, masks), strided_by_walk(x, begin, end, strides, masks), name)
    w.ok(name, [x] + [known(v, dtype, (len(v),)) for v in (begin, end, strides)], y, **masks)


def strided_put5(w, name, x, begin, end, axes, strides, dtype="int32"):
    """x, begin, end, axes, strides; with a negative stride a begin below -L still takes element 0."""
    picks = [slice(None)] * x.ndim
    y = x
    for k, (b, e, s) in enumerate(zip(begin, end, strides)):
        axis = axes[k] if axes is not None else k
        n = x.shape[axis]
        b, e = b + n if b < 0 else b, e + n if e < 0 else e
        low, high = (0, n) if s > 0 else (-1, n - 1)
        b = min(max(b, 0), high) if s < 0 else min(max(b, low), high)
        e = min(max(e, low), high)
        chosen = list(range(b, e, s))
        y = np.take(y, np.array(chosen, "int64"), axis)
        picks[axis] = slice(b, None if e < 0 else e, s) if n else slice(0, 0)
    same(y, x[tuple(picks)], name)
    m = (len(begin),)
    w.ok(name, [x, known(begin, dtype, m), known(end, dtype, m), None if axes is None else known(axes, dtype, m),
                known(strides, dtype, m)], y)


def make(w):
    strided_plain(w)
    strided_masks(w)
    strided_five(w)
    strided_errors(w)


def strided_plain(w):
    x, v = floats(4, 5), data("int32", (6,), 3)
    strided_put(w, "example of the specification", x, [1, 0], [3, 5], [1, 2])
    strided_put(w, "int64", x, [1, 0], [3, 5], [1, 2], "int64")
    strided_put(w, "negative begin and end", x, [-3, -4], [-1, -1], [1, 2])
    strided_put(w, "begin below 0 and end beyond the extent", x, [-9, -7], [9, 7], [1, 3])
    strided_put(w, "fewer entries than axes", x, [1], [3], [1])
    strided_put(w, "no entries", x, [], [], [])
    strided_put(w, "scalar without entries", floats(), [], [], [])
    strided_put(w, "stride beyond the extent", x, [0, 1], [4, 5], [9, 7])
    strided_put(w, "stride -1", x, [3, 4], [0, 1], [-1, -1])
    strided_put(w, "stride -1, end below -L", v, [5], [-7], [-1])
    strided_put(w, "stride -2 over an even extent", v, [5], [-10], [-2])
    strided_put(w, "stride -3, begin beyond the end", v, [100], [0], [-3])
    strided_put(w, "stride -1, begin below -L is empty", v, [-7], [-100], [-1])
    strided_put(w, "stride -1, end -1 is the last element", v, [5], [-1], [-1])
    strided_put(w, "stride 1, begin beyond the end is empty", v, [6], [9], [1])
    strided_put(w, "empty because the end comes first", x, [3, 1], [1, 4], [1, 1])
    strided_put(w, "empty with a negative stride", x, [1, 4], [3, 0], [-1, -1])
    strided_put(w, "empty axis", floats(0, 3), [0, 0], [5, 3], [1, 2])
    strided_put(w, "empty axis backwards", floats(0, 3), [5, 2], [-5, -9], [-1, -1])
    strided_put(w, "largest end", v, [2], [I64_MAX], [1], "int64")
    strided_put(w, "smallest begin, largest end", v, [I64_MIN], [I64_MAX], [2], "int64")
    strided_put(w, "largest begin, smallest end, backwards", v, [I64_MAX], [I64_MIN], [-1], "int64")
    strided_put(w, "largest stride", v, [1], [6], [I64_MAX], "int64")
    strided_put(w, "smallest stride", v, [4], [I64_MIN], [I64_MIN], "int64")
    strided_put(w, "all extreme", v, [I64_MIN], [I64_MAX], [I64_MAX], "int64")
    strided_put(w, "extremes of int32", v, [-2**31], [2**31 - 1], [2**31 - 1])
    strided_put(w, "extremes of int32 backwards", v, [2**31 - 1], [-2**31], [-2**31])
    strided_put(w, "rank 4", floats(1, 4, 4, 2), [0, 1, 3, 0], [1, 4, 0, 2], [1, 2, -2, 1])
    strided_put(w, "rank 8", floats(1, 2, 1, 3, 1, 2, 2, 1), [0, 0, 0, 2, 0, 1, 0, 0], [1, 2, 1, 0, 1, -3, 2, 1],
                [1, 1, 1, -1, 1, -1, 1, 1])
    strided_put(w, "NaN and infinities", odd_floats("float32"), [7], [-9], [-2])
    for k, t in enumerate(TYPES):
        strided_put(w, "type " + t, data(t, (3, 4), 2), [0, 3], [3, -9], [2, -1], ("int32", "int64")[k % 2])


def strided_masks(w):
    x, c = floats(4, 5), floats(2, 3, 4)
    strided_put(w, "beginMask of the specification", x, [1, 0], [3, 5], [1, 2], beginMask=1)
    strided_put(w, "shrinkAxisMask of the specification", x, [1, 0], [3, 5], [1, 2], shrinkAxisMask=1)
    strided_put(w, "newAxisMask of the specification", x, [0, 1], [1, 3], [1, 1], newAxisMask=1)
    strided_put(w, "endMask", x, [1, 1], [2, 2], [1, 2], endMask=2)
    strided_put(w, "both begin and end masks", x, [9, 9], [-9, -9], [1, 1], "int64", beginMask=3, endMask=3)
    strided_put(w, "beginMask backwards", x, [0, 1], [0, 0], [-1, -1], beginMask=3)
    strided_put(w, "endMask backwards", x, [2, 4], [2, 4], [-1, -2], endMask=3)
    strided_put(w, "both masks backwards", x, [0, 0], [0, 0], [-1, -2], beginMask=3, endMask=3)
    strided_put(w, "masks over an empty axis backwards", floats(0, 2), [0, 0], [0, 2], [-1, 1], beginMask=1, endMask=1)
    strided_put(w, "mask bits beyond the entries", x, [1], [3], [1], beginMask=6, endMask=6)
    strided_put(w, "ellipsis first", c, [0, 1], [0, 3], [1, 1], ellipsisMask=1)
    strided_put(w, "ellipsis in the middle", c, [1, 0, 1], [2, 0, 4], [1, 1, 2], ellipsisMask=2)
    strided_put(w, "ellipsis last", c, [1, 7], [2, -7], [1, 3], ellipsisMask=2)
    strided_put(w, "ellipsis alone", c, [0], [0], [1], ellipsisMask=1)
    strided_put(w, "ellipsis for no axis", x, [1, 0, 2], [3, 0, 4], [1, 1, 1], ellipsisMask=2)
    strided_put(w, "ellipsis of a scalar", floats(), [0], [0], [1], ellipsisMask=1)
    strided_put(w, "ellipsis in rank 8", floats(1, 2, 1, 3, 1, 2, 2, 1), [1, 0, 1], [2, 0, 0], [1, 1, -1], ellipsisMask=2,
                beginMask=1, endMask=4, shrinkAxisMask=0)
    strided_put(w, "new axis first, in the middle and last", x, [0, 1, 0, 0, 0], [0, 3, 0, 9, 0], [1] * 5,
                newAxisMask=21)
    strided_put(w, "new axis of a scalar", floats(), [0, 0], [0, 0], [1, 1], newAxisMask=3)
    strided_put(w, "new axis after the last entry", x, [0, 0, 0], [4, 5, 0], [2, 1, 1], newAxisMask=4)
    strided_put(w, "rank 7 with a new axis", floats(1, 2, 1, 3, 1, 2, 1), [0, 0], [1, 0], [1, 1], newAxisMask=2)
    strided_put(w, "shrink to rank 1", c, [1, 2], [2, 3], [1, 1], shrinkAxisMask=3)
    strided_put(w, "shrink to a scalar", x, [2, 3], [3, 4], [1, 1], shrinkAxisMask=3)
    strided_put(w, "shrink with a negative begin", c, [-2, -1, -4], [0, 0, 0], [1, 1, 1], shrinkAxisMask=7)
    strided_put(w, "shrink ignores the end", x, [3, 1], [-100, 1], [2, 1], shrinkAxisMask=3)
    strided_put(w, "shrink ignores beginMask", x, [2, 1], [0, 4], [1, 1], beginMask=1, endMask=1, shrinkAxisMask=1)
    strided_put(w, "shrink the middle axis", c, [0, 1, 3], [2, 2, 0], [1, 1, -2], shrinkAxisMask=2)
    strided_put(w, "ellipsis wins over new axis and shrink", c, [0, 1], [0, 3], [1, 1], ellipsisMask=1, newAxisMask=1,
                shrinkAxisMask=1)
    strided_put(w, "new axis wins over shrink", x, [0, 1], [0, 3], [1, 1], newAxisMask=1, shrinkAxisMask=1)
    strided_put(w, "new axis, ellipsis and shrink", c, [0, 0, 2], [0, 0, 3], [1, 1, 1], newAxisMask=1, ellipsisMask=2,
                shrinkAxisMask=4)
    strided_put(w, "shrink, new axis, ellipsis, backwards", c, [1, 0, 0, 3], [2, 0, 0, 0], [1, 1, 1, -1],
                shrinkAxisMask=1, newAxisMask=2, ellipsisMask=4, endMask=8)
    strided_put(w, "every mask", floats(2, 3, 2, 4), [9, 0, 5, 1, 0], [2, 0, 0, 0, 9], [1, 1, 1, 1, 2], "int64",
                beginMask=1, newAxisMask=2, ellipsisMask=4, shrinkAxisMask=8, endMask=16)
    strided_put(w, "shrink of an otherwise empty tensor", floats(3, 0), [1], [2], [1], shrinkAxisMask=1)


def strided_five(w):
    x, v, c = floats(4, 5), data("int32", (6,), 3), floats(2, 3, 4)
    strided_put5(w, "five: axes 1", x, [1], [4], [1], [2])
    strided_put5(w, "five: axes 1 0", x, [1, 0], [4, 3], [1, 0], [1, 2])
    strided_put5(w, "five: axes absent", x, [1, 0], [3, 5], None, [1, 2])
    strided_put5(w, "five: axes absent, one entry", x, [1], [3], None, [1], "int64")
    strided_put5(w, "five: negative axes", c, [0, 1], [2, 3], [-1, -2], [1, 1], "int64")
    strided_put5(w, "five: middle axis backwards", c, [2], [-9], [1], [-1])
    strided_put5(w, "five: starts and ends outside", x, [-9, 2], [9, 100], [0, 1], [1, 1])
    strided_put5(w, "five: begin below -L backwards takes element 0", v, [-7], [-100], [0], [-1])
    strided_put5(w, "five: begin far below -L backwards", v, [I64_MIN], [I64_MIN], [0], [-2], "int64")
    strided_put5(w, "five: begin at -L backwards", v, [-6], [-100], [0], [-1])
    strided_put5(w, "five: begin below -L backwards, end 0 is empty", v, [-9], [0], [0], [-1])
    strided_put5(w, "five: reversed", v, [I64_MAX], [I64_MIN], [0], [-1], "int64")
    strided_put5(w, "five: end of INT32_MAX backwards is empty", v, [5], [2**31 - 1], [0], [-1])
    strided_put5(w, "five: end of INT64_MAX", v, [1], [I64_MAX], [0], [2], "int64")
    strided_put5(w, "five: largest stride", v, [2], [6], [0], [I64_MAX], "int64")
    strided_put5(w, "five: smallest stride", v, [2], [-100], [0], [I64_MIN], "int64")
    strided_put5(w, "five: empty axis backwards", floats(0, 2), [0], [-9], [0], [-1])
    strided_put5(w, "five: begin beyond the end is empty", x, [7], [9], [0], [1])
    strided_put5(w, "five: no entries", x, [], [], [], [])
    strided_put5(w, "five: rank 8", floats(1, 2, 1, 3, 1, 2, 2, 1), [2, 1], [-4, 2], [3, -3], [-2, 1])
    strided_put5(w, "five: type float16", data("float16", (3, 4)), [3], [0], [1], [-2])
    strided_put5(w, "five: type int8", data("int8", (3, 4)), [-2], [3], [0], [1], "int64")


def strided_errors(w):
    x, b, e, s = floats(4, 5), known([1, 0]), known([3, 5]), known([1, 1])
    ins, three = [x, b, e, s], [known([0, 0, 0]), known([1, 1, 1]), known([1, 1, 1])]
    w.bad("stride 0", "INVALID_PARAMETER", [x, b, e, known([1, 0])])
    w.bad("stride 0 of the five-input form", "INVALID_PARAMETER", [x, b, e, known([0, 1]), known([0, 1])])
    w.bad("two ellipses", "INVALID_PARAMETER", ins, ellipsisMask=3)
    w.bad("too many entries", "INVALID_PARAMETER", [x] + three)
    w.bad("too many entries beside an ellipsis", "INVALID_PARAMETER",
          [x, known([0] * 4), known([1] * 4), known([1] * 4)], ellipsisMask=1)
    w.bad("shrink beyond the end", "INVALID_PARAMETER", [x, known([4, 0]), e, s], shrinkAxisMask=1)
    w.bad("shrink below -L", "INVALID_PARAMETER", [x, known([1, -6]), e, s], shrinkAxisMask=2)
    w.bad("shrink of an empty axis", "INVALID_PARAMETER", [floats(0, 5), known([0, 0]), e, s], shrinkAxisMask=1)
    w.bad("shrink with a negative stride", "INVALID_PARAMETER", [x, b, e, known([-1, 1])], shrinkAxisMask=1)
    w.bad("axis too large", "INVALID_PARAMETER", [x, b, e, known([0, 2]), s])
    w.bad("axis too small", "INVALID_PARAMETER", [x, b, e, known([0, -3]), s])
    w.bad("axis twice", "INVALID_PARAMETER", [x, b, e, known([1, -1]), s])
    w.bad("begin of float32", "INVALID_DATATYPE", [x, known([1, 0], "float32"), e, s])
    w.bad("strides of uint8", "INVALID_DATATYPE", [x, b, e, known([1, 1], "uint8")])
    w.bad("lengths differ", "INVALID_SHAPE", [x, b, known([3]), s])
    w.bad("length of strides differs", "INVALID_SHAPE", [x, b, e, known([1])])
    w.bad("begin of rank 2", "INVALID_SHAPE", [x, known([[1, 0]]), e, s])
    w.bad("type before stride 0", "INVALID_DATATYPE", [x, known([1, 0], "float32"), e, known([0, 0])])
    for mask in ("beginMask", "endMask", "ellipsisMask", "newAxisMask", "shrinkAxisMask"):
        w.bad(mask + " beside axes", "INVALID_PARAMETER", [x, b, e, known([0, 1]), s], **{mask: 1})
    w.bad("three inputs", "INVALID_INPUT", [x, b, e])
    w.bad("six inputs", "INVALID_INPUT", [x, b, e, known([0, 1]), s, s])
    w.bad("end absent", "NULL_PTR", [x, b, None, s])
    w.bad("result of rank 9", "INVALID_SHAPE", [floats(*[1] * 8), known([0]), known([0]), known([1])], newAxisMask=1)


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "STRIDED_SLICE", also=requantised.cases("STRIDED_SLICE"))
