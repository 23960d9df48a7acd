"""Quantized int16 activations with int8 weights ("16x8") in CONV2D_FUSION and FULL_CONNECTION. Expected values: exact integers of
Python by the formula of TensorFlow Lite for an int64 bias, whose WebAssembly build (@tensorflow/tfjs-tflite of the npm
registry) gave the same integers for 200 random layers: convolutions, depthwise convolutions, fully connected layers."""
import itertools

import numpy as np

from common import const, f32, Tensor, to_nchw, write
from quantised import (away, dice_of, factor, LINEAR, NONE, per, ratio, RELU, RELU1, RELU6, scale, taps, with_axis)

LEAST, MOST, TOP = -2 ** 15, 2 ** 15 - 1, 2 ** 47


def rescaled(x, d):
    """x * d, rounded once, halves up, by a multiplier of 15 bits."""
    m, e = factor(d)
    r = (m + 2 ** 15) >> 16 if m < 0x7fff0000 else 0x7fff
    x = min(max(x, -TOP), TOP - 1) * r
    return (x + (1 << 14 - e)) >> 15 - e if e < 15 else x << e - 15


def result(total, d, sy, kind):
    def bound(r):
        return min(max(away(float(f32(r) / f32(sy)) if f32(sy) else 0.0), LEAST), MOST)

    lo = LEAST if kind in (NONE, LINEAR) else bound(0)
    hi = bound({RELU6: 6, RELU1: 1}[kind]) if kind in (RELU6, RELU1) else MOST
    return min(max(rescaled(total, d), lo), hi)


def start(b, o):
    return 0 if b is None else min(max(int(b[o]), -TOP), TOP - 1)


def convolution(x, w, b, sx, sw, sy, kind, strides, dilations, pads, group):
    def extent(n):
        return (x.shape[1 + n] + sum(pads[2 * n:2 * n + 2]) - (w.shape[1 + n] - 1) * dilations[n] - 1) // strides[n] + 1

    y = np.zeros((x.shape[0], extent(0), extent(1), w.shape[0]), np.int16)
    lists = [taps(x.shape[1 + n], w.shape[1 + n], strides[n], dilations[n], pads[2 * n:], y.shape[1 + n], False)
             for n in range(2)]
    for n, p, q, o in np.ndindex(*y.shape):
        first = o // (w.shape[0] // group) * w.shape[3]
        total = start(b, o)
        for (i, row), (j, column), k in itertools.product(lists[0][p], lists[1][q], range(w.shape[3])):
            total += int(x[n, row, column, first + k]) * int(w[o, i, j, k])
        y[n, p, q, o] = result(total, ratio(f64(sx) * f64(per(sw, o)), f64(sy)), sy, kind)
    return y


def f64(s):
    return scale((0, 0, s))


def dense(x, w, b, sx, sw, sy, kind):
    y = np.zeros((x.shape[0], w.shape[0]), np.int16)
    for m, o in np.ndindex(*y.shape):
        product = f64(sx) * f64(per(sw, o))
        d = ratio(product if len(sw) > 1 else float(f32(product)), f64(sy))
        y[m, o] = result(sum(int(p) * int(r) for p, r in zip(x[m], w[o])) + start(b, o), d, sy, kind)
    return y


def wide(a, s):
    return Tensor(a, quant=[(16, 0, s)])


def bias_of(n, dtype, limit):
    return None if dtype is None else dice_of((n,), dtype, -limit, limit)


def convolutions(w):
    def go(name, shape, weight, group=1, strides=(1, 1), dilations=(1, 1), pads=(0, 0, 0, 0), many=True, kind=NONE,
           bias="int64", mode=0, sy=0.02):
        sx, sw = 0.0001, [0.01 + 0.003 * n for n in range(weight[0] if many else 1)]
        x, ws = dice_of(shape, "int16", LEAST, MOST), dice_of(weight, "int8")
        b = bias_of(weight[0], bias, 2 ** 22)
        y = convolution(x, ws, b, sx, sw, sy, kind, strides, dilations, pads, group)
        attrs = {"stride": strides, "dilation": dilations, "padMode": mode, "group": group, "activationType": kind}
        attrs.update({"padList": pads} if mode == 0 else {})
        for form in (None, "NCHW"):
            turn = to_nchw if form else np.array
            w.case("convolution, " + name + (" NCHW" if form else ""), "CONV2D_FUSION", attrs,
                   [wide(turn(x), sx), const(ws, quant=[(8, 0, s) for s in sw])] + ([] if b is None else [const(b)]),
                   [wide(turn(y), sy)], fmt=form)

    go("per channel", (1, 4, 5, 3), (5, 2, 3, 3))
    go("one scale", (1, 4, 5, 3), (5, 2, 3, 3), many=False)
    go("int32 bias", (1, 4, 5, 3), (5, 2, 3, 3), bias="int32")
    go("no bias", (1, 4, 5, 3), (5, 2, 3, 3), bias=None)
    go("wide rows, many channels", (1, 2, 19, 17), (3, 2, 2, 17), pads=(1, 0, 1, 1))
    go("1x1", (2, 3, 3, 6), (7, 1, 1, 6))
    go("depthwise", (1, 5, 4, 3), (3, 3, 3, 1), group=3, pads=(1, 1, 1, 1))
    go("depthwise, two results a channel", (1, 4, 4, 3), (6, 2, 2, 1), group=3, strides=(2, 1), bias="int32")
    go("groups", (2, 4, 4, 4), (6, 2, 2, 2), group=2)
    go("stride and dilation", (1, 7, 6, 2), (2, 2, 3, 2), strides=(3, 2), dilations=(2, 1), pads=(2, 1, 1, 2))
    go("window beyond x", (1, 2, 2, 2), (2, 3, 3, 2), pads=(2, 2, 2, 2), strides=(1, 2))
    go("SAME, stride 2", (1, 4, 6, 2), (2, 3, 3, 2), strides=(2, 2), pads=(0, 1, 0, 1), mode=1)
    go("saturated", (1, 3, 3, 2), (2, 2, 2, 2), sy=1e-5)
    for kind, title in ((RELU, "relu"), (RELU6, "relu6"), (RELU1, "relu1"), (LINEAR, "linear")):
        go(title, (1, 3, 3, 2), (2, 2, 2, 2), kind=kind, sy=0.001)


def products(w):
    def go(name, x, weight, bias, sx, sw, sy, kind=NONE, hold=const):
        w.case("fully connected, " + name, "FULL_CONNECTION", {"hasBias": bias is not None, "activationType": kind},
               [wide(x, sx), hold(weight, quant=[(8, 0, s) for s in sw])] + ([] if bias is None else [hold(bias)]),
               [wide(dense(x, weight, bias, sx, sw, sy, kind), sy)])

    x, weight = dice_of((6, 9), "int16", LEAST, MOST), dice_of((18, 9), "int8")
    many = [0.01 + 0.003 * n for n in range(18)]
    for dtype in ("int64", "int32", None):
        b = bias_of(18, dtype, 10 ** 6)
        go("%s bias" % (dtype or "no"), x, weight, b, 0.0003, [0.02], 0.0031)
        go("%s bias, per row" % (dtype or "no"), x, weight, b, 0.0003, many, 0.004)
        go("%s bias, run time" % (dtype or "no"), x, weight, b, 0.0003, [0.02], 0.0031, hold=Tensor)
    for kind, title in ((RELU, "relu"), (RELU6, "relu6"), (RELU1, "relu1"), (LINEAR, "linear")):
        go(title, x, weight, bias_of(18, "int64", 10 ** 6), 0.0003, [0.02], 0.000651, kind)
    ends = np.array([[LEAST] * 600, [MOST] * 600, [LEAST, MOST] * 300], "int16")
    go("sums beyond int32", ends, np.array([[-128] * 600, [127] * 600, [127, -128] * 300], "int8"),
       np.array([0, 2 ** 31, -2 ** 40], "int64"), 1e-4, [1e-3], 0.013)
    small = np.array([[3, -2, 0], [1, 0, 0]], "int16"), np.array([[5, 1, 2], [-4, 2, 7]], "int8")
    for name, a, b, c in (("below 2^-32", 1e-9, 1e-9, 4.0), ("just above 2^-32", 2.0 ** -16, 2.0 ** -16, 0.75),
                          ("above 2^31", 1e9, 1e9, 1e-3), ("infinite", 1e38, 1e38, 1e-38),
                          ("rounded up to a power of two", 0.99999994, 1.0, 0.99999988), ("1", 1.0, 1.0, 1.0),
                          ("just below 1", 0.99999, 1.0, 1.0), ("2", 1.0, 1.0, 0.5), ("half: ties", 0.5, 1.0, 1.0),
                          ("quarter", 0.25, 1.0, 1.0), ("2^14", 2.0 ** 14, 1.0, 1.0), ("2^15", 2.0 ** 15, 1.0, 1.0),
                          ("2^16", 2.0 ** 16, 1.0, 1.0), ("scale of x 0", 0.0, 0.5, 1.0), ("scale of y 0", 0.5, 0.5, 0.0)):
        go("factor " + name, *small, None, a, [b], c)
    ends = np.array([2 ** 47 - 1, -2 ** 47, 2 ** 47, -2 ** 47 - 1, 2 ** 63 - 1, -2 ** 63], "int64")
    six = np.array([[1, 2], [-1, -2], [3, 1], [-3, 2], [5, 5], [-5, -5]], "int8")
    go("sums and biases of 2^47", np.array([[1, 1], [-1, -1]], "int16"), six, ends, 1.0, [1.0], 2.0 ** 33)
    go("the same, scale of y 1", np.array([[1, 1], [-1, -1]], "int16"), six, ends, 1.0, [1.0], 1.0)
    go("bounds of relu6 saturate", *small, None, 1.0, [1.0], 1e-5, RELU6)
    go("relu6 of scale 0", *small, None, 1.0, [1.0], 0.0, RELU6)
    go("relu1, halves of its bound", *small, None, 1.0, [1.0], 2.0, RELU1)


def refused(w):
    x, weight, y = np.zeros((2, 3), "int16"), np.zeros((2, 3), "int8"), np.zeros((2, 2), "int16")
    good, eight = [(16, 0, 0.5)], [(8, 0, 0.5)]

    def bad(name, code, says, xq=good, wq=eight, yq=good, weight=weight, y=y, bias=None, kind=NONE):
        inputs = [Tensor(x, quant=xq), Tensor(weight, quant=wq)] + ([] if bias is None else [bias])
        w.case("refused: " + name, "FULL_CONNECTION", {"hasBias": bias is not None, "activationType": kind}, inputs,
               [Tensor(y, quant=yq)], error=code, says=says)

    bad("8 bits of x", "UNSUPPORTED_OP", "numBits 8, expected 16", xq=eight)
    bad("8 bits of y", "UNSUPPORTED_OP", "numBits 8, expected 16", yq=eight)
    bad("16 bits of weight", "UNSUPPORTED_OP", "numBits 16, expected 8", wq=good)
    bad("zero point of x", "INVALID_PARAMETER", "zeroPoint 1, expected 0", xq=[(16, 1, 0.5)])
    bad("zero point of y", "INVALID_PARAMETER", "zeroPoint -1, expected 0", yq=[(16, -1, 0.5)])
    bad("zero point of weight", "INVALID_PARAMETER", "zeroPoint 3, expected 0", wq=[(8, 3, 0.5)])
    bad("second zero point of weight", "INVALID_PARAMETER", "QuantParam 1", wq=[(8, 0, 0.5), (8, -1, 0.5)])
    bad("scale of x", "INVALID_PARAMETER", "scale", xq=[(16, 0, -1.0)])
    bad("x per channel", "UNSUPPORTED_OP", "2 QuantParams", xq=good * 2)
    bad("parameters along columns", "UNSUPPORTED_OP", "axis 1", wq=with_axis(eight * 3, 2))
    bad("weight uint8", "INVALID_DATATYPE", "expected int8", weight=weight.astype("uint8"))
    bad("weight int16", "INVALID_DATATYPE", "expected one of", weight=x, wq=good)
    bad("weight plain", "INVALID_DATATYPE", "expected one of", wq=[])
    bad("y plain", "INVALID_DATATYPE", "without QuantParam", yq=[])
    bad("y int8", "INVALID_DATATYPE", "declared int8", y=y.astype("int8"), yq=eight)
    bad("bias int16", "INVALID_DATATYPE", "expected one of", bias=Tensor(y[0], quant=good))
    bad("bias float32", "INVALID_DATATYPE", "expected one of", bias=y[0].astype(f32))
    bad("sigmoid", "UNSUPPORTED_OP", None, kind=2)
    image, filters = wide(np.zeros((1, 3, 3, 2), "int16"), 0.5), Tensor(np.zeros((2, 1, 1, 2), "int8"), quant=eight)
    attrs = {"stride": (1, 1), "dilation": (1, 1)}
    w.case("refused: convolution, zero point of weight", "CONV2D_FUSION", attrs,
           [image, Tensor(np.zeros((2, 1, 1, 2), "int8"), quant=[(8, -4, 0.5)])], [image], error="INVALID_PARAMETER")
    w.case("refused: transposed convolution", "CONV2D_TRANSPOSE_FUSION", attrs, [image, filters], [image],
           error="INVALID_DATATYPE")
    w.case("refused: matrices", "MATMUL_FUSION", {}, [wide(x, 0.5), Tensor(weight.T, quant=eight)], [wide(y, 0.5)],
           error="INVALID_DATATYPE")
    w.case("refused: sum", "ADD_FUSION", {}, [wide(x, 0.5), wide(x, 0.5)], [wide(x, 0.5)], error="INVALID_DATATYPE")
    w.case("refused: average", "AVGPOOL_FUSION", {"kernelSize": (3, 3), "strides": (1, 1)}, [image],
           [wide(np.zeros((1, 1, 1, 2), "int16"), 0.5)], error="INVALID_DATATYPE")


def make(w):
    convolutions(w)
    products(w)
    refused(w)


if __name__ == "__main__":
    write(make, "Expected values: exact integers.")
