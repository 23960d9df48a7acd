"""CONV2D_FUSION."""
import torch
import torch.nn.functional as F

from common import (ACTIVATIONS, both_layouts, const, conv_attrs, conv_refusals, f16, f32, f64, fused, LOOSE, loose,
                    name_of, PAD, refuse, rounded, SAME, some, tensor, uneven, VALID, write)
from quantised import convolution_cases


def conv_pads(mode, pads, extent, kernel, stride, dilation):
    """(before, after, output size) of one axis, for a convolution."""
    reach = (kernel - 1) * dilation + 1
    if mode == SAME:
        out = -(-extent // stride)
        total = max(0, (out - 1) * stride + reach - extent)
        return total // 2, total - total // 2, out
    before, after = pads if mode == PAD else (0, 0)
    return before, after, (extent + before + after - reach) // stride + 1


def conv_expect(x, weight, bias, stride, dilation, mode, pads, group, kind=0):
    """x [N,H,W,C], weight [Co,kH,kW,Ci/group]: torch.conv2d in float64 after padding by hand."""
    t = tensor(x).permute(0, 3, 1, 2)
    top, bottom, rows = conv_pads(mode, pads[:2], x.shape[1], weight.shape[1], stride[0], dilation[0])
    left, right, columns = conv_pads(mode, pads[2:], x.shape[2], weight.shape[2], stride[1], dilation[1])
    y = F.conv2d(F.pad(t, (left, right, top, bottom)), tensor(weight).permute(0, 3, 1, 2),
                 None if bias is None else tensor(bias), stride, 0, dilation, group)
    assert tuple(y.shape[2:]) == (rows, columns)
    if (top, left) == (bottom, right):  # torch's own padding says the same
        assert torch.equal(y, F.conv2d(t, tensor(weight).permute(0, 3, 1, 2), None if bias is None else tensor(bias),
                                       stride,
                                       (top, left), dilation, group))
    return rounded(fused(y.permute(0, 2, 3, 1).numpy(), kind), x)


CONVOLUTIONS = [  # title, x, kernel, outputs, stride, dilation, mode, pads top bottom left right, group
    ("plain 3x3", (1, 4, 4, 2), (3, 3), 2, (1, 1), (1, 1), PAD, (1, 1, 1, 1), 1),
    ("1x1", (2, 2, 3, 3), (1, 1), 4, (1, 1), (1, 1), VALID, (0, 0, 0, 0), 1),
    ("1x1 stride 2", (1, 5, 5, 1), (1, 1), 2, (2, 2), (1, 1), VALID, (0, 0, 0, 0), 1),
    ("same stride 1", (1, 4, 5, 1), (3, 3), 2, (1, 1), (1, 1), SAME, (0, 0, 0, 0), 1),
    ("same stride 2 odd pad last", (1, 6, 6, 1), (3, 3), 2, (2, 2), (1, 1), SAME, (0, 0, 0, 0), 1),
    ("same even kernel", (1, 5, 5, 1), (2, 4), 2, (1, 1), (1, 1), SAME, (0, 0, 0, 0), 1),
    ("same stride larger than kernel", (1, 7, 6, 1), (1, 2), 2, (3, 3), (1, 1), SAME, (0, 0, 0, 0), 1),
    ("same dilation 2", (1, 5, 6, 1), (3, 3), 1, (1, 1), (2, 2), SAME, (0, 0, 0, 0), 1),
    ("valid stride 2", (1, 7, 5, 1), (3, 3), 2, (2, 2), (1, 1), VALID, (0, 0, 0, 0), 1),
    ("valid dilation 2", (1, 4, 5, 2), (2, 2), 2, (1, 1), (2, 2), VALID, (0, 0, 0, 0), 1),
    ("asymmetric pads", (1, 4, 3, 2), (3, 2), 2, (1, 1), (1, 1), PAD, (0, 2, 1, 0), 1),
    ("asymmetric pads stride 2x3", (1, 5, 7, 1), (3, 3), 2, (2, 3), (1, 1), PAD, (2, 0, 1, 3), 1),
    ("pads larger than the kernel", (1, 2, 2, 1), (2, 2), 1, (1, 1), (1, 1), PAD, (3, 2, 0, 3), 1),
    ("dilation 2x1", (1, 6, 4, 1), (3, 2), 2, (1, 1), (2, 1), PAD, (1, 1, 1, 0), 1),
    ("stride and dilation", (1, 7, 7, 1), (2, 3), 2, (2, 1), (3, 2), PAD, (1, 0, 0, 1), 1),
    ("kernel as large as x", (2, 3, 4, 1), (3, 4), 2, (1, 1), (1, 1), VALID, (0, 0, 0, 0), 1),
    ("kernel 1x3", (1, 3, 5, 2), (1, 3), 2, (1, 1), (1, 1), PAD, (0, 0, 1, 1), 1),
    ("two groups", (1, 4, 3, 4), (2, 2), 4, (1, 1), (1, 1), PAD, (0, 1, 0, 1), 2),
    ("three groups", (1, 3, 3, 6), (2, 2), 3, (1, 1), (1, 1), VALID, (0, 0, 0, 0), 3),
    ("depthwise", (1, 4, 4, 3), (3, 3), 3, (1, 1), (1, 1), SAME, (0, 0, 0, 0), 3),
    ("depthwise stride 2", (1, 5, 5, 2), (3, 3), 2, (2, 2), (1, 1), PAD, (1, 1, 1, 1), 2),
    ("depthwise multiplier 2", (1, 3, 4, 2), (2, 2), 4, (1, 1), (1, 1), SAME, (0, 0, 0, 0), 2),
    ("depthwise multiplier 3 dilation 2", (1, 5, 4, 2), (2, 2), 6, (1, 1), (2, 2), VALID, (0, 0, 0, 0), 2),
    ("batch of 3", (3, 3, 2, 2), (2, 2), 2, (1, 1), (1, 1), PAD, (1, 0, 0, 1), 1),
]


def make(w):
    op = "CONV2D_FUSION"
    for n, (title, shape, kernel, outputs, stride, dilation, mode, pads, group) in enumerate(CONVOLUTIONS):
        dtype = f16 if n % 5 == 4 else f64 if n % 11 == 10 else f32
        x, weight = some(shape, dtype), some((outputs, *kernel, shape[3] // group), dtype, -6, 6, 0.5)
        bias = some((outputs,), dtype) if n % 3 else None
        attrs = conv_attrs(weight, stride, dilation, mode, pads, group, shape[3], outputs, 0)
        y = conv_expect(x, weight, bias, stride, dilation, mode, pads, group)
        both_layouts(w, "%s %s" % (title, name_of(dtype)), op, attrs,
                     [x, weight if n % 2 else const(weight)] + ([bias] if bias is not None else []), [y],
                     tol=loose(dtype))
    x, weight, bias = some((1, 4, 4, 2)), some((2, 3, 3, 2), f32, -4, 4, 0.125), some((2,))
    pads = (1, 1, 1, 1)
    for kind, title in enumerate(ACTIVATIONS):
        if kind not in (0, 4, 5, 14, 16):
            w.case("fused " + title, op, conv_attrs(weight, (1, 1), (1, 1), PAD, pads, 1, 2, 2, kind),
                   [x, weight, bias],
                   [conv_expect(x, weight, bias, (1, 1), (1, 1), PAD, pads, 1, kind)], tol=LOOSE)
    attrs = conv_attrs(weight, (1, 1), (1, 1), PAD, pads, 1, 2, 2, 0)
    y = conv_expect(x, weight, bias, (1, 1), (1, 1), PAD, pads, 1)
    w.case("sizes from the tensors", op, {**attrs, "kernelSize": [], "inChannel": 0, "outChannel": 0},
           [x, weight, bias], [y], tol=LOOSE)
    w.case("absent bias", op, attrs, [x, weight, None], [conv_expect(x, weight, None, (1, 1), (1, 1), PAD, pads, 1)],
           tol=LOOSE)
    w.case("format NHWC", op, attrs, [x, weight, bias], [y], fmt="NHWC", tol=LOOSE)
    x4, w4 = some((1, 2, 2, 4)), some((2, 1, 1, 2))
    w.case("inChannel holds the channels of a group", op, conv_attrs(w4, (1, 1), (1, 1), VALID, (0,) * 4, 2, 2, 2, 0),
           [x4, w4],
           [conv_expect(x4, w4, None, (1, 1), (1, 1), VALID, (0,) * 4, 2)], tol=LOOSE)
    conv_refusals(w, op, x, weight, bias, attrs)
    refuse(w, "kernel larger than x", op, conv_attrs(weight, (1, 1), (2, 2), VALID, (0,) * 4, 1, 2, 2, 0),
           [x, weight, bias], "INVALID_SHAPE")
    x, weight, bias, pads = uneven(2, 5, 7, 4), uneven(6, 2, 3, 2), uneven(6), (1, 0, 2, 1)
    for kind in (0, 2):
        w.case("float64, uneven numbers, activation %d" % kind, op, conv_attrs(weight, (2, 1), (1, 2), PAD, pads, 2, 4, 6, kind),
               [x, weight, bias], [conv_expect(x, weight, bias, (2, 1), (1, 2), PAD, pads, 2, kind)], tol=loose(x.dtype))


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.conv2d in float64.",
          also=convolution_cases)
