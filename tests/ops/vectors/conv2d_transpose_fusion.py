"""CONV2D_TRANSPOSE_FUSION."""
import torch
import torch.nn.functional as F

from common import (ACTIVATIONS, both_layouts, const, conv_attrs, conv_refusals, f16, f32, f64, fused, LOOSE, loose,
                    name_of, PAD, refuse, rounded, SAME, some, tensor, uneven, VALID, write)
from quantised import convolution_cases


def transpose_expect(x, weight, bias, stride, dilation, mode, pads, extra, group, kind=0):
    """x [N,H,W,C], weight [Co,kH,kW,Ci/group]: torch.conv_transpose2d in float64, cut or extended by hand."""
    outputs, kh, kw, per = weight.shape
    t = tensor(x).permute(0, 3, 1, 2)
    v = tensor(weight).reshape(group, outputs // group, kh, kw, per).permute(0, 4, 1, 2,
                                                                             3)  # g, ci, co, kh, kw after this
    v = v.reshape(group * per, outputs // group, kh, kw)
    y = F.conv_transpose2d(t, v, None, stride, 0, 0, group, dilation)
    for axis, kernel in ((0, kh), (1, kw)):
        extent, reach = x.shape[1 + axis], (kernel - 1) * dilation[axis] + 1
        full = (extent - 1) * stride[axis] + reach
        before, after = pads[2 * axis: 2 * axis + 2] if mode == PAD else (0, 0)
        out = full - before - after + extra[axis]
        if mode == SAME:
            out = extent * stride[axis] + extra[axis]
            before = max(0, full - out) // 2
        room = max(0, before + out - full)
        y = F.pad(y, (0, 0, 0, room) if axis == 0 else (0, room, 0, 0)).narrow(2 + axis, before, out)
    y = y if bias is None else y + tensor(bias).reshape(1, -1, 1, 1)
    if mode == PAD and pads[0] == pads[1] and pads[2] == pads[3]:  # torch's own padding says the same
        again = F.conv_transpose2d(t, v, None if bias is None else tensor(bias), stride, (pads[0], pads[2]), extra,
                                   group, dilation)
        assert torch.allclose(y, again)
    return rounded(fused(y.permute(0, 2, 3, 1).numpy(), kind), x)


TRANSPOSED = [  # title, x, kernel, outputs, stride, dilation, mode, pads, outputPaddings, group
    ("plain 3x3", (1, 3, 3, 2), (3, 3), 2, (1, 1), (1, 1), PAD, (1, 1, 1, 1), (0, 0), 1),
    ("stride 2", (1, 2, 3, 2), (3, 3), 2, (2, 2), (1, 1), PAD, (1, 1, 1, 1), (0, 0), 1),
    ("stride 2 output padding 1", (1, 2, 2, 2), (3, 3), 2, (2, 2), (1, 1), PAD, (1, 1, 1, 1), (1, 1), 1),
    ("stride 3 output padding 2x1", (1, 2, 2, 1), (2, 2), 2, (3, 3), (1, 1), PAD, (0, 0, 0, 0), (2, 1), 1),
    ("no pads", (2, 2, 2, 2), (2, 3), 3, (1, 1), (1, 1), PAD, (0, 0, 0, 0), (0, 0), 1),
    ("asymmetric pads", (1, 3, 3, 1), (3, 3), 2, (2, 2), (1, 1), PAD, (0, 2, 1, 0), (0, 0), 1),
    ("asymmetric pads and output padding", (1, 3, 2, 1), (3, 4), 2, (2, 2), (1, 1), PAD, (2, 0, 1, 2), (0, 1), 1),
    ("output padding beyond the kernel", (1, 2, 2, 1), (1, 1), 1, (3, 3), (1, 1), PAD, (0, 0, 0, 0), (2, 2), 1),
    ("same stride 2", (1, 3, 2, 2), (3, 3), 1, (2, 2), (1, 1), SAME, (0, 0, 0, 0), (0, 0), 1),
    ("same stride 2 even kernel", (1, 2, 3, 1), (4, 2), 2, (2, 2), (1, 1), SAME, (0, 0, 0, 0), (0, 0), 1),
    ("same stride 1", (1, 3, 3, 1), (3, 2), 2, (1, 1), (1, 1), SAME, (0, 0, 0, 0), (0, 0), 1),
    ("same stride larger than kernel", (1, 2, 2, 1), (2, 1), 2, (3, 3), (1, 1), SAME, (0, 0, 0, 0), (0, 0), 1),
    ("same output padding", (1, 2, 2, 1), (3, 3), 1, (2, 2), (1, 1), SAME, (0, 0, 0, 0), (1, 0), 1),
    ("valid stride 2", (1, 2, 3, 2), (3, 2), 2, (2, 2), (1, 1), VALID, (0, 0, 0, 0), (0, 0), 1),
    ("valid dilation 2", (1, 2, 2, 1), (2, 3), 2, (1, 1), (2, 2), VALID, (0, 0, 0, 0), (0, 0), 1),
    ("valid output padding", (1, 2, 2, 1), (2, 2), 1, (2, 2), (1, 1), VALID, (0, 0, 0, 0), (1, 1), 1),
    ("dilation 2 stride 2", (1, 2, 2, 2), (2, 2), 1, (2, 2), (2, 2), PAD, (1, 1, 0, 1), (0, 0), 1),
    ("output padding below the dilation", (1, 2, 2, 1), (2, 2), 1, (1, 1), (2, 2), PAD, (1, 1, 1, 1), (1, 1), 1),
    ("two groups", (1, 2, 2, 4), (2, 2), 6, (2, 2), (1, 1), PAD, (0, 0, 0, 0), (0, 0), 2),
    ("two groups two outputs", (1, 2, 2, 6), (2, 2), 2, (1, 1), (1, 1), PAD, (0, 0, 0, 0), (0, 0), 2),
    ("depthwise", (1, 2, 3, 3), (3, 3), 3, (2, 2), (1, 1), PAD, (1, 1, 1, 1), (1, 1), 3),
    ("depthwise multiplier 2", (1, 2, 2, 2), (2, 2), 4, (1, 1), (1, 1), VALID, (0, 0, 0, 0), (0, 0), 2),
]


def make(w):
    op = "CONV2D_TRANSPOSE_FUSION"
    for n, (title, shape, kernel, outputs, stride, dilation, mode, pads, extra, group) in enumerate(TRANSPOSED):
        dtype = f16 if n % 5 == 4 else f64 if n % 11 == 10 else f32
        x, weight = some(shape, dtype), some((outputs, *kernel, shape[3] // group), dtype, -6, 6, 0.5)
        bias = some((outputs,), dtype) if n % 3 else None
        attrs = conv_attrs(weight, stride, dilation, mode, pads, group, shape[3], outputs, 0)
        attrs["outputPaddings"] = list(extra)
        y = transpose_expect(x, weight, bias, stride, dilation, mode, pads, extra, group)
        both_layouts(w, "%s %s" % (title, name_of(dtype)), op, attrs,
                     [x, weight if n % 2 else const(weight)] + ([bias] if bias is not None else []), [y],
                     tol=loose(dtype))
    x, weight, bias = some((1, 4, 4, 2)), some((2, 3, 3, 2), f32, -4, 4, 0.125), some((2,))
    for kind in (1, 3, 7, 10, 12, 19):
        attrs = conv_attrs(weight, (1, 1), (1, 1), PAD, (1,) * 4, 1, 2, 2, kind)
        w.case("fused " + ACTIVATIONS[kind], op, attrs, [x, weight, bias],
               [transpose_expect(x, weight, bias, (1, 1), (1, 1), PAD, (1,) * 4, (0, 0), 1, kind)], tol=LOOSE)
    attrs = conv_attrs(weight, (1, 1), (1, 1), PAD, (1,) * 4, 1, 2, 2, 0)
    w.case("sizes from the tensors", op, {**attrs, "kernelSize": [], "inChannel": 0, "outChannel": 0},
           [x, weight, bias],
           [transpose_expect(x, weight, bias, (1, 1), (1, 1), PAD, (1,) * 4, (0, 0), 1)], tol=LOOSE)
    conv_refusals(w, op, x, weight, bias, attrs)
    refuse(w, "output padding 2 with stride 2", op, {**attrs, "stride": [2, 2], "outputPaddings": [2, 0]},
           [x, weight, bias], "INVALID_PARAMETER")
    refuse(w, "negative output padding", op, {**attrs, "outputPaddings": [0, -1]}, [x, weight, bias],
           "INVALID_PARAMETER")
    refuse(w, "weight in the order of another system", op, {**attrs, "inChannel": 2, "outChannel": 3},
           [x, some((2, 3, 3, 3)), None], "INVALID_SHAPE")
    refuse(w, "pads remove everything", op, {**attrs, "padList": [3, 3, 0, 0]}, [x, weight, bias], "INVALID_SHAPE")
    x, weight, bias, pads = uneven(2, 3, 4, 4), uneven(6, 2, 3, 2), uneven(6), (1, 0, 2, 1)
    for kind in (0, 2):
        w.case("float64, uneven numbers, activation %d" % kind, op,
               {**conv_attrs(weight, (2, 1), (1, 2), PAD, pads, 2, 4, 6, kind), "outputPaddings": [1, 0]}, [x, weight, bias],
               [transpose_expect(x, weight, bias, (2, 1), (1, 2), PAD, pads, (1, 0), 2, kind)], tol=loose(x.dtype))


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.conv_transpose2d in float64.",
          also=lambda w: convolution_cases(w, True))
