"""DEFORMABLE_CONV_2D."""
import numpy as np
import torch
import torch.nn.functional as F

from common import (ACTIVATIONS, both_layouts, const, f16, f32, f64, fused, loose, name_of, nchw, refuse, rounded, some,
                    Tensor, tensor, wide, write)

OP = "DEFORMABLE_CONV_2D"


def deformed(x, offset, mask, weight, bias, stride=(1, 1), dilation=(1, 1), pads=(0, 0, 0, 0), group=1, dg=1, kind=0):
    """x [N,H,W,Ci] -> y [N,Ho,Wo,Co]: torch samples x for each tap, numpy sums over taps and channels."""
    t = tensor(x).permute(0, 3, 1, 2)
    n, ci, height, width = t.shape
    co, _, kh, kw = weight.shape
    ho, wo = offset.shape[2:]
    offset, weight = wide(offset), wide(weight)
    mask = np.ones((n, dg * kh * kw, ho, wo)) if mask is None else wide(mask)
    y = np.zeros((n, co, ho, wo))
    rows, columns = np.meshgrid(np.arange(ho) * stride[0] - pads[0], np.arange(wo) * stride[1] - pads[2], indexing="ij")
    inner = F.pad(t, (1, 1, 1, 1))  # so that no dimension is 1, for which align_corners maps no coordinates in grid_sample
    for d in range(dg):
        for i in range(kh):
            for j in range(kw):
                m = (d * kh + i) * kw + j
                h = rows + i * dilation[0] + offset[:, 2 * m] + 1
                v = columns + j * dilation[1] + offset[:, 2 * m + 1] + 1
                grid = np.stack([2 * v / (width + 1) - 1, 2 * h / (height + 1) - 1], -1)
                cells = F.grid_sample(inner, torch.from_numpy(grid), align_corners=True).numpy() * mask[:, m:m + 1]
                for channel in range(d * ci // dg, (d + 1) * ci // dg):
                    g, k = divmod(channel, ci // group)
                    for o in range(g * co // group, (g + 1) * co // group):
                        y[:, o] += cells[:, channel] * weight[o, k, i, j]
    y = y + (wide(bias)[:, None, None] if bias is not None else 0)
    if not offset.any() and (mask == 1).all():  # then it is a convolution
        padded = F.pad(t, (pads[2], pads[3], pads[0], pads[1]))
        again = F.conv2d(padded, torch.from_numpy(weight), None if bias is None else tensor(bias), stride, 0, dilation,
                         group)
        assert np.allclose(y, again.numpy()), "torch's convolution differs"
    return rounded(fused(y.transpose(0, 2, 3, 1), kind), x)


def extent(length, k, s, d, before, after):
    return (length + before + after - (k - 1) * d - 1) // s + 1


CASES = [  # x [N,H,W,C], channels out, kernel, stride, dilation, pads top bottom left right, group, deformableGroup
    ((1, 5, 6, 2), 3, (3, 3), (1, 1), (1, 1), (0, 0, 0, 0), 1, 1),
    ((2, 6, 5, 4), 2, (2, 3), (2, 1), (1, 2), (1, 0, 2, 1), 2, 1),
    ((1, 4, 4, 4), 4, (2, 2), (1, 1), (1, 1), (0, 0, 0, 0), 1, 2),
    ((1, 4, 5, 6), 6, (3, 2), (1, 2), (2, 1), (2, 2, 1, 1), 3, 2),
    ((2, 3, 3, 4), 8, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0), 4, 4),
    ((1, 2, 2, 2), 40, (2, 2), (1, 1), (1, 1), (0, 1, 0, 1), 2, 1),
    ((1, 1, 1, 1), 1, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), 1, 1)]


def operands(case, t, step=0.25, far=12):
    shape, co, kernel, stride, dilation, pads, group, dg = case
    ho = extent(shape[1], kernel[0], stride[0], dilation[0], *pads[:2])
    wo = extent(shape[2], kernel[1], stride[1], dilation[1], *pads[2:])
    taps = dg * kernel[0] * kernel[1]
    return (some(shape, t), some((shape[0], 2 * taps, ho, wo), t, -far, far, step), some((shape[0], taps, ho, wo), t, 0, 8),
            some((co, shape[3] // group) + kernel, t), some((co,), t))


def make(w):
    for n, case in enumerate(CASES):
        stride, dilation, pads, group, dg = case[3:]
        attrs = {"stride": stride, "dilation": dilation, "padList": pads, "group": group, "deformableGroup": dg}
        for t in (f32, f16):
            x, offset, mask, weight, bias = operands(case, t)
            for name, m, b in (("mask and bias", mask, bias), ("bias", None, bias), ("mask", mask, None), ("neither", None, None)):
                y = deformed(x, offset, m, weight, b, *case[3:])
                inputs = [x, offset, m, weight if n % 2 else const(weight)] + ([] if b is None else [b])
                if t == f32 and name == "mask and bias":
                    both_layouts(w, "%d with %s" % (n, name), OP, attrs, inputs, [y], tol=loose(t))
                elif t == f16 or n < 3:
                    w.case("%d %s with %s" % (n, name_of(t), name), OP, attrs, inputs, [y], tol=loose(t))
            x, offset, mask, weight, bias = operands(case, t, 1.0, 0)
            y = deformed(x, offset, None, weight, bias, *case[3:])
            w.case("%d %s without offsets" % (n, name_of(t)), OP, attrs, [x, offset, None, weight, bias], [y], tol=loose(t))
    case = CASES[0]
    x, offset, mask, weight, bias = operands(case, f32)
    y = deformed(x, offset, None, weight, bias)
    for shape in ((0,), (1, 0, 3, 4), (1, 9, 0, 0)):
        w.case("an empty mask %s is 1" % (shape,), OP, {}, [x, offset, np.zeros(shape, f32), weight, bias], [y],
               tol=loose(f32))
    w.case("groups of 0 are 1", OP, {"group": 0, "deformableGroup": 0, "stride": [0, 0], "dilation": [0, 0]},
           [x, offset, None, weight, bias], [y], tol=loose(f32))
    small = operands(((1, 3, 3, 1), 2, (2, 2), (1, 1), (1, 1), (0, 0, 0, 0), 1, 1), f32)
    for kind, title in enumerate(ACTIVATIONS):
        if kind not in (0, 4, 5, 14, 16):
            w.case("fused " + title, OP, {"activationType": kind}, small, [deformed(*small, kind=kind)], tol=loose(f32))
    # one tap over one row of cells: where samples end
    row = np.array([1, 2, 4, 8], f32).reshape(1, 1, 4, 1)
    places = np.array([-1.5, -1, -0.75, 0, 0.5, 2.5, 3, 3.25, 3.75, 4, 5, np.nan, np.inf, -np.inf, 1e30, 1], f32)
    cells = np.array([0, 0, 0.25, 1, 1.5, 6, 8, 6, 2, 0, 0, 0, 0, 0, 0, 2], f32)
    for sideways in (True, False):
        image = row if sideways else row.transpose(0, 2, 1, 3)
        shape = (len(places), 2, image.shape[1], image.shape[2])
        offset1, want = np.zeros(shape, f32), np.zeros((len(places),) + image.shape[1:3] + (1,), f32)
        offset1[:, 1 if sideways else 0, 0, 0] = places
        for k in range(1, 4):  # the other positions of the row stay
            want[:, 0 if sideways else k, k if sideways else 0, 0] = row[0, 0, k, 0]
        want[:, 0, 0, 0] = cells
        w.case("places along the %s" % ("width" if sideways else "height"), OP, {},
               [image.repeat(len(places), 0), offset1, None, np.ones((1, 1, 1, 1), f32)], [want], tol=(0, 0))
    x1 = np.array([np.inf, 1, np.nan, 2], f32).reshape(1, 1, 4, 1)
    w.case("a cell of weight 0 does not count", OP, {}, [x1, np.zeros((1, 2, 1, 4), f32), None, np.ones((1, 1, 1, 1), f32)],
           [x1], tol=(0, 0))

    def bad(name, code, change=None, inputs=None):
        refuse(w, name, OP, change or {}, inputs or [x, offset, mask, weight, bias], code)

    for kind in (4, 5, 14, 16, 20):
        bad("fused type %d" % kind, "INVALID_PARAMETER", {"activationType": kind})
    bad("group -1", "INVALID_PARAMETER", {"group": -1})
    bad("deformableGroup -1", "INVALID_PARAMETER", {"deformableGroup": -1})
    bad("a stride of 0", "INVALID_PARAMETER", {"stride": [0, 1]})
    bad("one stride", "INVALID_PARAMETER", {"stride": [1]})
    bad("a dilation of 0", "INVALID_PARAMETER", {"dilation": [1, 0]})
    bad("a negative pad", "INVALID_PARAMETER", {"padList": [0, -1, 0, 0]})
    bad("two pads", "INVALID_PARAMETER", {"padList": [1, 1]})
    bad("group 2 of 3 output channels", "INVALID_SHAPE", {"group": 2})
    bad("group 3 of 2 input channels", "INVALID_SHAPE", {"group": 3})
    bad("deformableGroup 3 of 2 input channels", "INVALID_SHAPE", {"deformableGroup": 3})
    bad("deformableGroup 2 with offsets of one", "INVALID_SHAPE", {"deformableGroup": 2})
    bad("a window larger than x", "INVALID_SHAPE", {"dilation": [3, 3]})
    bad("offsets of another size", "INVALID_SHAPE", {"padList": [1, 0, 0, 0]})
    bad("offsets of another width", "INVALID_SHAPE", {"padList": [0, 0, 0, 1]})
    bad("x of 3 axes", "INVALID_SHAPE", None, [x[0], offset, mask, weight, bias])
    bad("x without rows", "INVALID_SHAPE", None, [x[:, :0], offset, mask, weight, bias])
    bad("offset of 3 axes", "INVALID_SHAPE", None, [x, offset[0], mask, weight, bias])
    bad("offset without channels", "INVALID_SHAPE", None, [x, offset[:, :0], mask, weight, bias])
    bad("offset of another number of images", "INVALID_SHAPE", None, [x, offset.repeat(2, 0), mask, weight, bias])
    bad("mask of 3 axes", "INVALID_SHAPE", None, [x, offset, mask[0], weight, bias])
    bad("mask of too many channels", "INVALID_SHAPE", None, [x, offset, offset, weight, bias])
    bad("mask of another number of images", "INVALID_SHAPE", None, [x, offset, mask.repeat(2, 0), weight, bias])
    bad("weight of 3 axes", "INVALID_SHAPE", None, [x, offset, mask, weight[0], bias])
    bad("weight without rows", "INVALID_SHAPE", None, [x, offset, mask, weight[:, :, :0], bias])
    bad("weight of 3 input channels", "INVALID_SHAPE", None, [x, offset, mask, some((3, 3, 3, 3)), bias])
    bad("bias of another length", "INVALID_SHAPE", None, [x, offset, mask, weight, some((2,))])
    bad("bias of two axes", "INVALID_SHAPE", None, [x, offset, mask, weight, some((1, 3))])
    bad("offset of float16", "INVALID_DATATYPE", None, [x, offset.astype(f16), mask, weight, bias])
    bad("mask of int32", "INVALID_DATATYPE", None, [x, offset, mask.astype(np.int32), weight, bias])
    bad("weight of float64", "INVALID_DATATYPE", None, [x, offset, mask, weight.astype(f64), bias])
    bad("float64", "INVALID_DATATYPE", None, [v.astype(f64) for v in (x, offset, mask, weight, bias)])
    bad("int32", "INVALID_DATATYPE", None, [x.astype(np.int32), offset, mask, weight, bias])
    bad("quantised", "UNSUPPORTED_OP", None, [Tensor(np.ones((1, 5, 6, 2), np.int8), quant=[(8, 0, 0.5)]), offset, mask, weight])
    bad("three inputs", "INVALID_INPUT", None, [x, offset, mask])
    bad("six inputs", "INVALID_INPUT", None, [x, offset, mask, weight, bias, bias])
    bad("offset missing", "NULL_PTR", None, [x, None, mask, weight, bias])
    bad("weight missing", "NULL_PTR", None, [x, offset, mask, None, bias])
    w.case("NCHW x, offsets as ever", OP, {}, [nchw(x), offset, mask, weight, bias],
           [nchw(deformed(x, offset, mask, weight, bias))], fmt="NCHW", tol=loose(f32))
    w.case("a batch of 0", OP, {}, [x[:0], offset[:0], mask[:0], weight, bias], [y[:0]])



if __name__ == "__main__":
    write(make, "Expected values: samples from torch.nn.functional.grid_sample, sums from numpy, in float64.")
