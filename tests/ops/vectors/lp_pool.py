"""LP_POOL."""
import numpy as np
import torch.nn.functional as F

from common import empty_batch, f16, f32, f64, loose, name_of, refuse, rounded, some, tensor, Tensor, wide, write


def pooled(x, k, s, d, pads, mode, ceil, p):
    """ONNX's definition in loops: the norm of the cells inside x."""
    axes = []
    for i, L in enumerate(x.shape[2:]):
        reach, p0, p1 = (k[i] - 1) * d[i] + 1, pads[i], pads[len(k) + i]
        if mode in (1, 2):
            n = -(-L // s[i])
            total = max(0, (n - 1) * s[i] + reach - L)
            p0 = total // 2 if mode == 1 else total - total // 2
        else:
            n = (L + p0 + p1 - reach + (s[i] - 1 if ceil else 0)) // s[i] + 1
            while ceil and (n - 1) * s[i] >= L + p0:
                n -= 1
        axes.append([[c for c in (o * s[i] - p0 + t * d[i] for t in range(k[i])) if 0 <= c < L] for o in range(n)])
    y = np.zeros(x.shape[:2] + tuple(map(len, axes)))
    for o in np.ndindex(y.shape[2:]):
        part = np.abs(wide(x)[(slice(None), slice(None)) + np.ix_(*[np.array(axes[i][o[i]], int) for i in range(len(k))])])
        y[(slice(None), slice(None)) + o] = (part ** p).reshape(x.shape[:2] + (-1,)).sum(2) ** (1 / p)
    return y


def make(w):
    op = "LP_POOL"

    def go(name, x, k, s=None, d=None, pads=None, mode=0, ceil=0, p=2, **more):
        n = len(k)
        full = (s or [1] * n, d or [1] * n, pads or [0] * (2 * n))
        y = pooled(x, k, *full, mode, ceil, p)
        if n < 3 and not (d or pads or mode or ceil) and np.isfinite(x).all():
            z = (F.lp_pool1d if n == 1 else F.lp_pool2d)(tensor(np.abs(wide(x))), p, k[0] if n == 1 else tuple(k),
                                                         full[0][0] if n == 1 else tuple(full[0])).numpy()
            assert np.allclose(y, z), name
        attrs = {"kernelShape": k, "strides": s or [], "dilations": d or [], "pads": pads or []}
        attrs.update({"autoPad": mode} if mode else {})
        attrs.update({"ceilMode": ceil} if ceil else {})
        attrs.update({"p": p} if p != 2 else {})
        w.case(name, op, {**attrs, **more}, [x], [rounded(y, x.dtype.type)], tol=loose(x.dtype.type))

    for dtype in (f32, f16):
        for p in (1, 2, 3, 4):
            kind = " p %d %s" % (p, name_of(dtype))
            line, plane = some((2, 3, 9), dtype, -8, 8), some((2, 3, 5, 6), dtype, -8, 8)
            volume = some((1, 2, 3, 4, 5), dtype, -8, 8)
            go("one axis" + kind, line, [3], [2], p=p)
            go("two axes" + kind, plane, [2, 3], [2, 1], p=p)
            go("three axes" + kind, volume, [2, 1, 3], [1, 2, 2], p=p)
            go("four axes" + kind, some((1, 2, 2, 3, 2, 3), dtype, -8, 8), [2, 2, 1, 3], p=p)
            go("pads" + kind, plane, [3, 2], pads=[1, 0, 2, 1], p=p)
            go("dilations" + kind, plane, [2, 3], d=[3, 2], p=p)
            go("ceil" + kind, plane, [2, 2], [3, 4], ceil=1, p=p)
            for mode in (1, 2, 3):
                go("autoPad %d%s" % (mode, kind), plane, [2, 3], [2, 2], mode=mode, p=p)
            go("all of it" + kind, plane, [2, 2], [2, 3], [2, 3], [1, 2, 0, 3], ceil=1, p=p)
    x = some((1, 2, 4, 4))
    go("windows of paddings are 0", x, [2, 2], pads=[3, 0, 0, 4])
    go("zeros", np.zeros((1, 1, 3), f32), [2])
    go("zeros, p 3", np.zeros((1, 1, 3), f32), [2], p=3)
    go("NaN and infinities", np.array([[[1, np.nan, 2, 3, np.inf, 1, -np.inf, 2]]], f32), [2])
    go("rank 8", some((1, 1, 2, 1, 2, 1, 2, 2)), [2, 1, 1, 1, 2, 1])
    w.case("p 0", op, {"kernelShape": [2, 2], "p": 0}, [x], [rounded(pooled(x, [2, 2], [1, 1], [1, 1], [0] * 4, 0, 0, 2), f32)])
    for name, count in (("strides", 2), ("dilations", 2), ("kernelShape", 2), ("pads", 4)):
        for what, value in (("too few", [1] * (count - 1)), ("too many", [1] * (count + 1)), ("negative", [1] * (count - 1) + [-1])):
            refuse(w, what + " " + name, op, {"kernelShape": [2, 2], name: value}, [x], "INVALID_PARAMETER")
    refuse(w, "p -1", op, {"kernelShape": [2, 2], "p": -1}, [x], "INVALID_PARAMETER")
    refuse(w, "no window", op, {}, [x], "INVALID_PARAMETER")
    refuse(w, "pads beside VALID", op, {"kernelShape": [2, 2], "pads": [1, 0, 0, 0], "autoPad": 3}, [x], "INVALID_PARAMETER")
    refuse(w, "autoPad 4", op, {"kernelShape": [2, 2], "autoPad": 4}, [x], "INVALID_PARAMETER")
    refuse(w, "a window larger than the plane", op, {"kernelShape": [2, 5]}, [x], "INVALID_SHAPE")
    refuse(w, "x of 2 axes", op, {"kernelShape": [2, 2]}, [x[0, 0]], "INVALID_SHAPE")
    empty_batch(w, "an empty batch", op, {"kernelShape": [2, 2]}, [x[:0]], (0, 2, 3, 3))
    refuse(w, "float64", op, {"kernelShape": [2, 2]}, [x.astype(f64)], "INVALID_DATATYPE")
    refuse(w, "int32", op, {"kernelShape": [2, 2]}, [x.astype(np.int32)], "INVALID_DATATYPE")
    refuse(w, "quantised", op, {"kernelShape": [2, 2]}, [Tensor(x.astype(np.int8), quant=[(8, 0, 0.5)])], "UNSUPPORTED_OP")
    refuse(w, "two inputs", op, {"kernelShape": [2, 2]}, [x, x], "INVALID_INPUT")


if __name__ == "__main__":
    write(make, "Expected values: loops over windows in float64; torch must agree where it has them.")
