"""CONV_3D."""
import numpy as np
import torch.nn.functional as F

from common import const, empty_batch, f16, f32, f64, loose, name_of, refuse, rounded, some, tensor, Tensor, write

NOTSET, UPPER, LOWER, VALID = range(4)


def paddings(mode, L, k, s, d, pads):
    """[before, after] of each axis."""
    out = []
    for i in range(len(L)):
        total = max(0, (-(-L[i] // s[i]) - 1) * s[i] + (k[i] - 1) * d[i] + 1 - L[i]) if mode in (UPPER, LOWER) else 0
        less = total // 2
        out.append({NOTSET: (pads[i], pads[len(L) + i]), VALID: (0, 0), UPPER: (less, total - less),
                    LOWER: (total - less, less)}[mode])
    return out


def padded(x, pads, value=0.0):
    """x by torch with paddings of its last three axes."""
    return F.pad(tensor(x), [n for axis in pads[::-1] for n in axis], value=value)


def lists(strides=(1, 1, 1), dilations=(1, 1, 1), pads=(0,) * 6, mode=0, **more):
    attrs = {"autoPad": mode} if mode else {}
    attrs.update({k: list(v) for k, v in (("strides", strides), ("dilations", dilations), ("pads", pads))
                  if any(n != (0 if k == "pads" else 1) for n in v)})
    return {**attrs, **more}


def make(w):
    def go(name, x, weight, bias=None, strides=(1, 1, 1), dilations=(1, 1, 1), pads=(0,) * 6, mode=0, group=1, constant=True,
           **more):
        p = paddings(mode, x.shape[2:], weight.shape[2:], strides, dilations, pads)
        y = F.conv3d(padded(x, p), tensor(weight), None if bias is None else tensor(bias), strides, 0, dilations, group)
        attrs = lists(strides, dilations, pads, mode, **more)
        if group != 1:
            attrs["group"] = group
        ins = [x] + [Tensor(t, constant) for t in (weight, bias) if t is not None]
        w.case(name, "CONV_3D", attrs, ins, [rounded(y.numpy(), x.dtype.type)], tol=loose(x.dtype.type))

    for dtype in (f32, f16):
        kind = " " + name_of(dtype)
        x = some((2, 3, 4, 5, 6), dtype, -4, 4)
        v, b = some((4, 3, 2, 3, 2), dtype, -4, 4), some((4,), dtype, -4, 4)
        go("plain" + kind, x, v)
        go("bias" + kind, x, v, b)
        go("weights told in the run" + kind, x, v, b, constant=False)
        go("strides" + kind, x, v, b, (2, 1, 3))
        go("dilations" + kind, x, v, b, dilations=(3, 2, 4))
        go("pads" + kind, x, v, b, pads=(1, 0, 2, 0, 3, 1))
        go("all of it" + kind, x, v, b, (2, 3, 1), (1, 2, 3), (1, 2, 0, 2, 1, 3))
        for mode in (UPPER, LOWER, VALID):
            go("autoPad %d%s" % (mode, kind), x, v, b, mode=mode)
            go("autoPad %d, strides and dilations%s" % (mode, kind), x, v, b, (3, 2, 2), (2, 1, 3), mode=mode)
        go("a point" + kind, x, some((2, 3, 1, 1, 1), dtype, -4, 4), b[:2])
        go("window of the volume" + kind, x, some((2, 3, 4, 5, 6), dtype, -2, 2), b[:2])
        x = some((1, 4, 3, 3, 3), dtype, -4, 4)
        for group in (1, 2, 4):
            go("%d groups%s" % (group, kind), x, some((8, 4 // group, 2, 2, 2), dtype, -4, 4), some((8,), dtype), group=group)
    x, v, b = some((1, 2, 3, 3, 3), f32, -4, 4), some((2, 2, 2, 2, 2), f32, -4, 4), some((2,))
    go("kernelShape said", x, v, b, kernelShape=[2, 2, 2])
    go("kernelShape of zeros, group 0", x, v, b, kernelShape=[0, 0, 0])
    go("windows without a cell", x, v, b, (1, 1, 1), pads=(3, 0, 0, 4, 0, 0))
    go("a dilation larger than the volume", x, v, b, dilations=(5, 1, 1), pads=(3, 0, 0, 3, 0, 0))
    go("NaN and infinities", np.where(np.arange(54).reshape(1, 2, 3, 3, 3) % 20 == 3, np.nan, np.where(
        np.arange(54).reshape(1, 2, 3, 3, 3) == 50, np.inf, x)).astype(f32), v, b)
    op = "CONV_3D"
    for name, shape in (("strides", 3), ("dilations", 3), ("kernelShape", 3), ("pads", 6)):
        refuse(w, "too few " + name, op, {name: [1] * (shape - 1)}, [x, v, b], "INVALID_PARAMETER" if name != "kernelShape" else "INVALID_SHAPE")
        refuse(w, "too many " + name, op, {name: [1] * (shape + 1)}, [x, v, b], "INVALID_PARAMETER" if name != "kernelShape" else "INVALID_SHAPE")
        refuse(w, "negative " + name, op, {name: [1] * (shape - 1) + [-1]}, [x, v, b], "INVALID_PARAMETER" if name != "kernelShape" else "INVALID_SHAPE")
    refuse(w, "a stride of 0", op, {"strides": [1, 0, 1]}, [x, v, b], "INVALID_PARAMETER")
    refuse(w, "another kernelShape", op, {"kernelShape": [2, 2, 3]}, [x, v, b], "INVALID_SHAPE")
    refuse(w, "pads beside VALID", op, {"pads": [0, 0, 0, 0, 0, 1], "autoPad": VALID}, [x, v, b], "INVALID_PARAMETER")
    refuse(w, "pads beside SAME_UPPER", op, {"pads": [1, 0, 0, 0, 0, 0], "autoPad": UPPER}, [x, v, b], "INVALID_PARAMETER")
    for mode in (-1, 4):
        refuse(w, "autoPad %d" % mode, op, {"autoPad": mode}, [x, v, b], "INVALID_PARAMETER")
    refuse(w, "group -1", op, {"group": -1}, [x, v, b], "INVALID_PARAMETER")
    refuse(w, "group 2 of other weights", op, {"group": 2}, [x, v, b], "INVALID_SHAPE")
    refuse(w, "group that does not divide the results", op, {"group": 2}, [x, some((3, 1, 2, 2, 2)), some((3,))], "INVALID_SHAPE")
    refuse(w, "other channels", op, {}, [x, some((2, 3, 2, 2, 2)), b], "INVALID_SHAPE")
    refuse(w, "a window larger than the volume", op, {}, [x, some((2, 2, 2, 4, 2)), b], "INVALID_SHAPE")
    refuse(w, "a dilated window larger than the volume", op, {"dilations": [1, 1, 3]}, [x, v, b], "INVALID_SHAPE")
    refuse(w, "bias of another length", op, {}, [x, v, some((3,))], "INVALID_SHAPE")
    refuse(w, "bias of 2 axes", op, {}, [x, v, some((1, 2))], "INVALID_SHAPE")
    refuse(w, "x of 4 axes", op, {}, [x[0], v, b], "INVALID_SHAPE")
    refuse(w, "weight of 4 axes", op, {}, [x, v[0], b], "INVALID_SHAPE")
    empty_batch(w, "an empty batch", op, {}, [x[:0], v, b], (0, 2, 2, 2, 2))
    refuse(w, "weight of float16 beside float32", op, {}, [x, v.astype(f16), b], "INVALID_DATATYPE")
    wide = [some(shape, f64, -4, 4) / 3 for shape in ((2, 4, 3, 4, 5), (6, 2, 2, 3, 2), (6,))]
    go("float64", *wide, strides=(2, 1, 3), dilations=(1, 2, 1), pads=(1, 0, 2, 0, 3, 1), group=2)
    go("float64, no bias", *wide[:2], group=2)
    refuse(w, "weight of float32 beside float64", op, {}, [x.astype(f64), v, b.astype(f64)], "INVALID_DATATYPE")
    refuse(w, "int32", op, {}, [x.astype(np.int32), v.astype(np.int32)], "INVALID_DATATYPE")
    refuse(w, "quantised", op, {}, [Tensor(x.astype(np.int8), quant=[(8, 0, 0.5)]), const(v.astype(np.int8), [(8, 0, 0.5)])],
           "UNSUPPORTED_OP")
    refuse(w, "no weight", op, {}, [x, None, b], "NULL_PTR")
    refuse(w, "one input", op, {}, [x], "INVALID_INPUT")
    refuse(w, "four inputs", op, {}, [x, v, b, b], "INVALID_INPUT")


if __name__ == "__main__":
    write(make, "Expected values: torch in float64.")
