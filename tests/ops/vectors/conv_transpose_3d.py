"""CONV_TRANSPOSE_3D."""
import numpy as np
import torch.nn.functional as F

from common import const, empty_batch, f16, f32, f64, loose, name_of, refuse, rounded, some, tensor, Tensor, write
from conv_3d import lists, LOWER, NOTSET, UPPER, VALID


def make(w):
    op = "CONV_TRANSPOSE_3D"

    def go(name, x, weight, bias=None, strides=(1, 1, 1), dilations=(1, 1, 1), pads=(0,) * 6, mode=0, group=1, extra=(0, 0, 0),
           shape=None, constant=True, **more):
        """The full result by torch, with zeros after it; ONNX's paddings cut off both ends."""
        full = F.conv_transpose3d(tensor(x), tensor(weight), None, strides, 0, 0, group, dilations).numpy()
        begin, size = [], []
        for i in range(3):
            reach = full.shape[2 + i] + extra[i]
            out = shape[i] if shape else x.shape[2 + i] * strides[i] if mode in (UPPER, LOWER) else None
            total = max(0, reach - out) if out else 0
            first = (total // 2 if mode == UPPER else total - total // 2) if out else pads[i]
            begin.append(first)
            size.append(out if out else reach - pads[i] - pads[3 + i])
        room = np.zeros(full.shape[:2] + tuple(b + s + 8 for b, s in zip(begin, size)))
        cut = full[:, :, :room.shape[2], :room.shape[3], :room.shape[4]]
        room[:, :, :cut.shape[2], :cut.shape[3], :cut.shape[4]] = cut
        y = room[(slice(None), slice(None)) + tuple(slice(b, b + s) for b, s in zip(begin, size))]
        if not shape and mode in (NOTSET, VALID) and pads[:3] == pads[3:] and all(e < max(s, d) for e, s, d in zip(extra, strides, dilations)):
            z = F.conv_transpose3d(tensor(x), tensor(weight), None, strides, pads[:3], extra, group, dilations).numpy()
            assert z.shape == y.shape and np.allclose(y, z), name
        y = y + (0 if bias is None else bias.astype(f64).reshape(1, -1, 1, 1, 1))
        attrs = lists(strides, dilations, pads, mode, **more)
        attrs.update({"group": group} if group != 1 else {})
        attrs.update({"outputPadding": list(extra)} if any(extra) else {})
        attrs.update({"outputShape": list(shape)} if shape else {})
        ins = [x] + [Tensor(t, constant) for t in (weight, bias) if t is not None]
        w.case(name, op, attrs, ins, [rounded(y, x.dtype.type)], tol=loose(x.dtype.type))

    for dtype in (f32, f16):
        kind = " " + name_of(dtype)
        x = some((2, 2, 2, 3, 3), dtype, -4, 4)
        v, b = some((2, 3, 2, 3, 2), dtype, -4, 4), some((3,), dtype, -4, 4)
        go("plain" + kind, x, v)
        go("no two extents equal" + kind, some((1, 2, 4, 3, 5), dtype, -4, 4), some((2, 3, 1, 4, 5), dtype, -4, 4), strides=(2, 1, 3))
        go("bias" + kind, x, v, b)
        go("weights told in the run" + kind, x, v, b, constant=False)
        go("strides" + kind, x, v, b, (2, 1, 3))
        go("dilations" + kind, x, v, b, dilations=(3, 2, 4))
        go("pads" + kind, x, v, b, pads=(1, 0, 1, 0, 2, 1))
        go("equal pads" + kind, x, v, b, (2, 2, 2), pads=(1, 2, 1, 1, 2, 1))
        go("output padding" + kind, x, v, b, (2, 3, 2), extra=(1, 2, 0))
        go("more output padding than a stride" + kind, x, v, b, (2, 1, 2), extra=(3, 2, 0))
        go("all of it" + kind, x, v, b, (2, 3, 1), (1, 2, 3), (1, 2, 0, 2, 1, 3), extra=(1, 0, 2))
        for mode in (UPPER, LOWER, VALID):
            go("autoPad %d%s" % (mode, kind), x, v, b, mode=mode)
            go("autoPad %d, strides and dilations%s" % (mode, kind), x, v, b, (3, 2, 2), (2, 1, 3), mode=mode, extra=(0, 1, 0))
            go("shape, autoPad %d%s" % (mode, kind), x, v, b, (2, 2, 3), mode=mode, shape=(3, 6, 9))
        go("shape" + kind, x, v, b, (2, 2, 3), shape=(3, 6, 9))
        go("a larger shape" + kind, x, v, b, (2, 2, 3), shape=(7, 8, 16))
        go("shape, pads are not used" + kind, x, v, b, (2, 2, 3), pads=(1, 1, 1, 1, 1, 1), shape=(4, 5, 10))
        x = some((1, 4, 2, 2, 3), dtype, -4, 4)
        for group in (1, 2, 4):
            go("%d groups%s" % (group, kind), x, some((4, 2, 2, 2, 2), dtype, -4, 4), some((2 * group,), dtype), group=group)
    x, v, b = some((1, 2, 3, 3, 3), f32, -4, 4), some((2, 3, 2, 2, 2), f32, -4, 4), some((3,))
    go("kernelShape said", x, v, b, kernelShape=[2, 2, 2])
    go("shape of zeros says nothing", x, v, b, outputShape=[0, 0, 0])
    for name, count in (("strides", 3), ("dilations", 3), ("outputPadding", 3), ("outputShape", 3), ("pads", 6)):
        refuse(w, "too few " + name, op, {name: [1] * (count - 1)}, [x, v, b], "INVALID_PARAMETER")
        refuse(w, "too many " + name, op, {name: [1] * (count + 1)}, [x, v, b], "INVALID_PARAMETER")
        refuse(w, "negative " + name, op, {name: [1] * (count - 1) + [-1]}, [x, v, b], "INVALID_PARAMETER")
    refuse(w, "pads that leave nothing", op, {"pads": [2, 0, 0, 2, 0, 0]}, [x, v, b], "INVALID_SHAPE")
    refuse(w, "a stride that is too large", op, {"strides": [1, 2**31 - 1, 1]}, [x, v, b], "OUT_OF_MEMORY")
    refuse(w, "a dilation that is too large", op, {"dilations": [1, 2**31 - 1, 1]}, [x, v, b], "OUT_OF_MEMORY")
    refuse(w, "pads beside SAME_LOWER", op, {"pads": [1, 0, 0, 0, 0, 0], "autoPad": LOWER}, [x, v, b], "INVALID_PARAMETER")
    refuse(w, "another kernelShape", op, {"kernelShape": [2, 2, 3]}, [x, v, b], "INVALID_SHAPE")
    refuse(w, "group -1", op, {"group": -1}, [x, v, b], "INVALID_PARAMETER")
    refuse(w, "group that does not divide the channels", op, {"group": 2}, [some((1, 3, 3, 3, 3)), some((3, 3, 2, 2, 2))], "INVALID_SHAPE")
    refuse(w, "other channels", op, {}, [x, some((3, 3, 2, 2, 2)), b], "INVALID_SHAPE")
    refuse(w, "bias of another length", op, {}, [x, v, some((2,))], "INVALID_SHAPE")
    refuse(w, "x of 4 axes", op, {}, [x[0], v, b], "INVALID_SHAPE")
    refuse(w, "weight of 4 axes", op, {}, [x, v[0], b], "INVALID_SHAPE")
    empty_batch(w, "an empty batch", op, {}, [x[:0], v, b], (0, 3, 4, 4, 4))
    wide = [some(shape, f64, -4, 4) / 3 for shape in ((2, 4, 2, 3, 3), (4, 3, 2, 3, 2), (6,))]
    go("float64", *wide, strides=(2, 1, 3), dilations=(1, 2, 1), pads=(1, 0, 1, 0, 2, 1), extra=(1, 0, 2), group=2)
    go("float64, no bias", *wide[:2], group=2)
    refuse(w, "quantised", op, {}, [Tensor(x.astype(np.int8), quant=[(8, 0, 0.5)]), const(v.astype(np.int8), [(8, 0, 0.5)])],
           "UNSUPPORTED_OP")
    refuse(w, "no weight", op, {}, [x, None, b], "NULL_PTR")
    refuse(w, "one input", op, {}, [x], "INVALID_INPUT")


if __name__ == "__main__":
    write(make, "Expected values: torch in float64; ONNX's paddings cut off what it computes without any.")
