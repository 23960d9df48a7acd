"""MAX_POOL_3D and, by its cases, AVERAGE_POOL_3D."""
import numpy as np
import torch.nn.functional as F

from common import empty_batch, f16, f32, f64, loose, name_of, refuse, rounded, some, tensor, Tensor, wide, write
from conv_3d import lists, LOWER, NOTSET, paddings, UPPER, VALID


def windows(x, k, strides, dilations, pads, mode, ceil):
    """For each axis after the channels and each window: its elements in x, and their number in x with its paddings."""
    p = paddings(mode, x.shape[2:], k, strides, dilations, pads)
    axes = []
    for i in range(len(k)):
        L, (p0, p1), reach = x.shape[2 + i], p[i], (k[i] - 1) * dilations[i] + 1
        n = (L + p0 + p1 - reach + (strides[i] - 1 if ceil else 0)) // strides[i] + 1
        while ceil and mode in (NOTSET, VALID) and (n - 1) * strides[i] >= L + p0:
            n -= 1
        if mode in (UPPER, LOWER):
            n = -(-L // strides[i])
        cells = [[o * strides[i] - p0 + t * dilations[i] for t in range(k[i])] for o in range(n)]
        axes.append([([c for c in row if 0 <= c < L], sum(-p0 <= c < L + p1 for c in row)) for row in cells])
    return axes


def pooled(x, k, strides, dilations, pads, mode, ceil, average, include):
    axes = windows(x, k, strides, dilations, pads, mode, ceil)
    v = wide(x)
    y = np.zeros(x.shape[:2] + tuple(map(len, axes)))
    at = np.zeros(y.shape, np.int64)
    number = np.arange(x.size).reshape(x.shape)
    for o in np.ndindex(y.shape[2:]):
        cells = [axes[i][o[i]] for i in range(len(k))]
        part = v[(slice(None), slice(None)) + np.ix_(*[c[0] for c in cells])].reshape(x.shape[:2] + (-1,))
        count = np.prod([c[1] for c in cells]) if include else part.shape[2]
        y[(slice(None), slice(None)) + o] = part.sum(2) / count if average else part.max(2)
        places = number[(slice(None), slice(None)) + np.ix_(*[c[0] for c in cells])].reshape(part.shape)
        first = np.argmax(np.where(np.isnan(part), np.inf, part) if np.isnan(part).any() else part, 2)
        at[(slice(None), slice(None)) + o] = np.take_along_axis(places, first[..., None], 2)[..., 0]
    return y, at


def cases(w, average):
    op = "AVERAGE_POOL_3D" if average else "MAX_POOL_3D"

    def go(name, x, k, strides=(1, 1, 1), dilations=(1, 1, 1), pads=(0,) * 6, mode=0, ceil=0, include=0, index=None, **more):
        axes = len(k)
        strides, dilations = strides[:axes], dilations[:axes]
        pads = (0,) * 2 * axes if not any(pads) else pads
        y, at = pooled(x, k, strides, dilations, pads, mode, ceil, average, include)
        if mode == NOTSET and axes <= 3 and pads[:axes] == pads[axes:] and all(2 * p <= n for p, n in zip(pads, k)) and not np.isnan(x).any():
            if average and set(dilations) == {1} and all(n <= L for n, L in zip(k, x.shape[2:])):
                pool = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[axes - 1]
                z = pool(tensor(x), k, strides, pads[:axes], bool(ceil), bool(include)).numpy()
                assert z.shape == y.shape and np.allclose(y, z, equal_nan=True), name
            if not average:
                pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[axes - 1]
                z, n = pool(tensor(x), k, strides, pads[:axes], dilations, bool(ceil), True)
                assert np.array_equal(z.numpy(), y), name
                plane = np.arange(x.shape[0] * x.shape[1]).reshape(x.shape[:2] + (1,) * axes) * np.prod(x.shape[2:])
                assert np.array_equal(n.numpy() + plane, at), name
        attrs = {"kernelShape": list(k), **lists(strides, dilations, pads, mode, **more)}
        attrs.update({"ceilMode": ceil} if ceil else {})
        attrs.update({"countIncludePad": include} if include else {})
        outs = [rounded(y, x.dtype.type)] + ([] if index is None else [at.astype(index)])
        w.case(name, op, attrs, [x], outs, tol=loose(x.dtype.type) if average else (0, 0))

    for dtype in (f32, f16):
        for index in ((None, np.int32, np.int64) if not average else (None,)):
            for include in ((0, 1) if average else (0,)):
                kind = " %s%s%s" % (name_of(dtype), "" if index is None else ", " + name_of(index), ", paddings" if include else "")
                both = {"include": include, "index": index}
                x = some((2, 2, 4, 5, 5), dtype)
                go("plain" + kind, x, (2, 3, 2), **both)
                go("strides" + kind, x, (2, 3, 2), (2, 1, 3), **both)
                go("dilations" + kind, x, (2, 3, 2), (1, 1, 2), (3, 2, 4), **both)
                go("pads" + kind, x, (3, 2, 4), pads=(1, 0, 2, 0, 1, 3), **both)
                go("equal pads" + kind, x, (3, 2, 4), (2, 2, 2), pads=(1, 1, 2, 1, 1, 2), **both)
                go("ceil" + kind, x, (2, 2, 3), (3, 3, 2), ceil=1, **both)
                go("ceil and pads" + kind, x, (3, 2, 4), (2, 3, 3), pads=(1, 1, 2, 1, 1, 2), ceil=1, **both)
                go("ceil drops the last window" + kind, x, (1, 1, 1), (3, 2, 2), pads=(0,) * 6, ceil=1, **both)
                go("ceil, a window beyond the paddings" + kind, x, (3, 3, 3), (2, 3, 4), ceil=1, pads=(0, 0, 1, 0, 1, 1), **both)
                go("all of it" + kind, x, (2, 2, 3), (2, 3, 1), (2, 1, 2), (1, 1, 2, 2, 0, 1), ceil=1, **both)
                go("ceil that is floor" + kind, x, (2, 3, 2), (2, 2, 2), ceil=1, **both)
                go("a window larger than the volume, ceil" + kind, x, (5, 2, 2), (2, 1, 1), ceil=1, **both)
                for mode in (UPPER, LOWER, VALID):
                    go("autoPad %d%s" % (mode, kind), x, (2, 3, 4), (2, 2, 3), mode=mode, **both)
                    go("autoPad %d, dilations%s" % (mode, kind), x, (2, 3, 2), (3, 1, 2), (2, 2, 3), mode=mode, **both)
                go("the whole volume" + kind, x, (4, 5, 5), **both)
                go("a point" + kind, x, (1, 1, 1), **both)
                plane, line, four = some((2, 3, 9, 8), dtype), some((2, 2, 20), dtype), some((1, 2, 3, 4, 3, 4), dtype)
                go("two axes" + kind, plane, (2, 3), (2, 1), (3, 2), **both)
                go("two axes, pads" + kind, plane, (3, 2), (2, 3), (2, 2), pads=(2, 1, 2, 1), **both)
                go("two axes, pads, ceil" + kind, plane, (3, 3), (4, 3), (2, 2), pads=(1, 0, 0, 1), ceil=1, **both)
                go("two axes, autoPad" + kind, plane, (3, 2), (2, 2), (2, 3), mode=LOWER, **both)
                go("one axis" + kind, line, (3,), (2,), (5,), **both)
                go("one axis, pads" + kind, line, (3,), (2,), (5,), pads=(1, 1), **both)
                go("four axes" + kind, four, (2, 1, 2, 3), (1, 2, 1, 1), (2, 1, 1, 1) if average else (1, 3, 2, 1), pads=(1, 0, 0, 1, 1, 0, 0, 0), **both)
                odd = x.copy()
                odd[0, 0, 1, 1, 1], odd[0, 1, 2, 2, 2], odd[1, 1, 0, 0, 0] = np.nan, np.inf, -np.inf
                go("NaN and infinities" + kind, odd, (2, 2, 2), **both)
                go("negative numbers" + kind, -np.abs(x) - dtype(1), (3, 3, 3), pads=(1,) * 6, **both)
    for shape, k in (((2, 3, 4, 6, 5), (2, 3, 2)), ((2, 3, 20), (3,)), ((2, 3, 6, 5), (3, 2))):
        for include in ((0, 1) if average else (0,)):
            go("no two extents equal, rank %d%s" % (len(shape), ", paddings" if include else ""), some(shape), k, (2, 1, 3),
               pads=(1, 0, 1)[:len(k)] + (1, 1, 0)[:len(k)], include=include, index=None if average else np.int64)
    for include in ((0, 1) if average else (0,)):
        go("a dilation larger than the volume%s" % (", paddings" if include else ""), some((1, 2, 2, 3, 3)), (2, 1, 2), (1, 1, 1), (3, 1, 1),
           pads=(0, 0, 0, 2, 0, 0), include=include)
    x = some((1, 2, 3, 3, 3))
    for name, count in (("strides", 3), ("dilations", 3), ("kernelShape", 3), ("pads", 6)):
        for what, value in (("too few", [1] * (count - 1)), ("too many", [1] * (count + 1)), ("negative", [1] * (count - 1) + [-1])):
            refuse(w, what + " " + name, op, {"kernelShape": [2, 2, 2], name: value}, [x], "INVALID_PARAMETER")
    refuse(w, "no window", op, {}, [x], "INVALID_PARAMETER")
    refuse(w, "a window of 0", op, {"kernelShape": [2, 0, 2]}, [x], "INVALID_PARAMETER")
    refuse(w, "pads beside VALID", op, {"kernelShape": [2, 2, 2], "pads": [1, 0, 0, 0, 0, 0], "autoPad": VALID}, [x], "INVALID_PARAMETER")
    refuse(w, "autoPad 4", op, {"kernelShape": [2, 2, 2], "autoPad": 4}, [x], "INVALID_PARAMETER")
    refuse(w, "a window larger than the volume", op, {"kernelShape": [2, 4, 2]}, [x], "INVALID_SHAPE")
    refuse(w, "a first window without a cell", op, {"kernelShape": [2, 2, 2], "pads": [2, 0, 0, 0, 0, 0]}, [x], "INVALID_SHAPE")
    refuse(w, "a last window without a cell", op, {"kernelShape": [2, 2, 2], "pads": [0, 0, 0, 0, 2, 0]}, [x], "INVALID_SHAPE")
    refuse(w, "a window whose cells lie around the volume", op,
           {"kernelShape": [2, 2, 2], "dilations": [5, 1, 1], "pads": [1, 0, 0, 4, 0, 0]}, [x], "INVALID_SHAPE")
    refuse(w, "x of 4 axes", op, {"kernelShape": [2, 2, 2]}, [x[0]], "INVALID_PARAMETER")
    refuse(w, "x of 2 axes", op, {"kernelShape": [2]}, [x[0, 0, 0]], "INVALID_SHAPE")
    refuse(w, "a scalar", op, {"kernelShape": [2]}, [x[0, 0, 0, 0, 0]], "INVALID_SHAPE")
    empty_batch(w, "an empty batch", op, {"kernelShape": [2, 2, 2]}, [x[:0]], (0, 2, 2, 2, 2))
    exact = some((2, 3, 4, 6, 5), f64, -40, 40) / 7
    exact[0, 0, 1, 1, 1], exact[0, 1, 2, 2, 2], exact[1, 1, 0, 0, 0] = np.nan, np.inf, -np.inf
    for include in ((0, 1) if average else (0,)):
        more = {"include": include, "index": None if average else np.int64}
        kind = "float64" + (", paddings" if include else "")
        go(kind, exact, (2, 3, 2), (2, 1, 3), (1, 2, 1), pads=(1, 0, 1, 1, 1, 0), ceil=1, **more)
        go(kind + ", two axes", exact[0], (2, 3), (2, 1), **more)
        go(kind + ", one axis", exact[0, 0], (3,), (2,), pads=(1, 1), **more)
    refuse(w, "int32", op, {"kernelShape": [2, 2, 2]}, [x.astype(np.int32)], "INVALID_DATATYPE")
    refuse(w, "quantised", op, {"kernelShape": [2, 2, 2]}, [Tensor(x.astype(np.int8), quant=[(8, 0, 0.5)])], "UNSUPPORTED_OP")
    refuse(w, "absent", op, {"kernelShape": [2, 2, 2]}, [None], "NULL_PTR")
    refuse(w, "two inputs", op, {"kernelShape": [2, 2, 2]}, [x, x], "INVALID_INPUT")
    if not average:
        w.case("refused: indices of float32", op, {"kernelShape": [2, 2, 2]}, [x], [x, x], error="INVALID_DATATYPE")
        w.case("refused: three results", op, {"kernelShape": [2, 2, 2]}, [x], [x, x, x], error="INVALID_OUTPUT")
    else:
        w.case("refused: two results", op, {"kernelShape": [2, 2, 2]}, [x], [x, x], error="INVALID_OUTPUT")


if __name__ == "__main__":
    write(lambda w: cases(w, False), "Expected values: loops over windows in float64; torch must agree where it has them.")
