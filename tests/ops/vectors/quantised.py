"""Quantized arithmetic, and its cases for the scripts of operators. Expected values: exact integers of Python, by the formulas
of TensorFlow Lite for Microcontrollers (two roundings a product), implemented independently here; no available library has
them."""
import itertools
import math
import random

import numpy as np

from common import as_tensor, const, f32, Tensor, to_nchw

RANGE = {"int8": (-128, 127), "uint8": (0, 255)}
NONE, RELU, RELU6, RELU1, LINEAR = 0, 1, 3, 7, 15
dice = random.Random(11)


# ---------------------------------------------------------------- the arithmetic

def away(v):
    """A real number rounded to an integer, halves away from zero."""
    return int(math.floor(v + 0.5)) if v >= 0 else -int(math.floor(0.5 - v))


def factor(d):
    """d >= 0 as (m, e): m * 2^(e - 31)."""
    if d == 0:
        return 0, 0
    if math.isinf(d):
        return 2 ** 31 - 1, 31
    f, e = math.frexp(d)
    m = away(f * 2 ** 31)
    m, e = (2 ** 30, e + 1) if m == 2 ** 31 else (m, e)
    return (0, 0) if e < -31 else (2 ** 31 - 1, 31) if e > 31 else (m, e)


def sat32(x):
    return min(max(x, -2 ** 31), 2 ** 31 - 1)


def high(a, b):
    return sat32((a * b + 2 ** 30) >> 31)


def shifted(x, n):
    return x if n == 0 else 0 if n > 32 else (x + 2 ** (n - 1) - (1 if x < 0 else 0)) >> n


def rescale(x, me):
    m, e = me
    while not -2 ** 31 <= x < 2 ** 31:
        x, e = x >> 1, e + 1
    return shifted(high(sat32(x * 2 ** max(e, 0)), m), max(-e, 0))


def scale(q):
    return float(f32(q[2]))


def ratio(a, b):
    return 0.0 if b == 0 else a / b


def result(x, quant, kind, dtype):
    """clamp(x + z) to the range of the type and of a fused activation."""
    low, top = RANGE[dtype]

    def bound(r):
        s = f32(quant[2])
        return min(max(quant[1] + away(float(f32(r) / s) if s else 0.0), low), top)

    lo = low if kind in (NONE, LINEAR) else bound(0)
    hi = bound({RELU6: 6, RELU1: 1}[kind]) if kind in (RELU6, RELU1) else top
    return min(max(x + quant[1], lo), hi)


def of_products(total, qx, qw, many, qy, kind, dtype, narrow):
    """The result of an exact sum; narrow: where one scale is for all, the product of the scales is rounded."""
    product = scale(qx) * scale(qw)
    d = ratio(float(f32(product)) if narrow and not many else product, scale(qy))
    return result(rescale(total, factor(d)), qy, kind, dtype)


def of_value(q, qx, qy, kind, dtype):
    if (qx[1], scale(qx)) == (qy[1], scale(qy)):
        return min(max(q, result(-10 ** 6, qy, kind, dtype)), result(10 ** 6, qy, kind, dtype))
    return result(rescale(q - qx[1], factor(ratio(scale(qx), scale(qy)))), qy, kind, dtype)


def dice_of(shape, dtype, low=None, high=None):
    a, b = RANGE.get(dtype, (low, high))
    a, b = a if low is None else low, b if high is None else high
    return np.array([dice.randint(a, b) for _ in range(int(np.prod(shape)))], dtype).reshape(shape)


def per(quants, k):
    return quants[k] if len(quants) > 1 else quants[0]


# ---------------------------------------------------------------- products

def dense(x, w, b, qx, qw, qy, kind):
    """x [M,K], w [N,K] -> [M,N]."""
    y = np.zeros((x.shape[0], w.shape[0]), x.dtype)
    for m, n in np.ndindex(*y.shape):
        q = per(qw, n)
        total = sum((int(p) - qx[1]) * (int(r) - q[1]) for p, r in zip(x[m], w[n])) + (0 if b is None else int(b[n]))
        y[m, n] = of_products(total, qx, q, len(qw) > 1, qy, kind, x.dtype.name, True)
    return y


def taps(size, kernel, stride, dilation, pads, out, transposed):
    """Of each place of an axis of the result: (tap, place of the input)."""
    pairs = [[] for _ in range(out)]
    for p, i in itertools.product(range(size if transposed else out), range(kernel)):
        other = p * stride - pads[0] + i * dilation
        if transposed and 0 <= other < out:
            pairs[other].append((i, p))
        if not transposed and 0 <= other < size:
            pairs[p].append((i, other))
    return pairs


def convolution(x, w, b, qx, qw, qy, kind, strides, dilations, pads, group, transposed, more=(0, 0)):
    def extent(n):
        window = (w.shape[1 + n] - 1) * dilations[n] + 1
        if transposed:
            return (x.shape[1 + n] - 1) * strides[n] + window - sum(pads[2 * n:2 * n + 2]) + more[n]
        return (x.shape[1 + n] + sum(pads[2 * n:2 * n + 2]) - window) // strides[n] + 1

    y = np.zeros((x.shape[0], extent(0), extent(1), w.shape[0]), x.dtype)
    lists = [taps(x.shape[1 + n], w.shape[1 + n], strides[n], dilations[n], pads[2 * n:], y.shape[1 + n], transposed)
             for n in range(2)]
    inner = w.shape[3]
    for n, p, q, o in np.ndindex(*y.shape):
        first, quant = o // (w.shape[0] // group) * inner, per(qw, o)
        total = 0 if b is None else int(b[o])
        for (i, row), (j, column), k in itertools.product(lists[0][p], lists[1][q], range(inner)):
            total += (int(x[n, row, column, first + k]) - qx[1]) * (int(w[o, i, j, k]) - quant[1])
        y[n, p, q, o] = of_products(total, qx, quant, len(qw) > 1, qy, kind, x.dtype.name, False)
    return y


def with_axis(quants, axis):
    return [tuple(q) + (axis,) for q in quants]


def dense_cases(w):
    op = "FULL_CONNECTION"

    def attrs(bias, kind=NONE):
        return {"hasBias": bias is not None, "activationType": kind}

    def go(name, x, weight, bias, qx, qw, qy, kind=NONE, fixed=True, bias_quant=None):
        hold = const if fixed else Tensor
        inputs = [Tensor(x, quant=[qx]), hold(weight, quant=qw)] + ([] if bias is None else [hold(bias, quant=bias_quant)])
        w.case("quantised " + name, op, attrs(bias, kind), inputs,
               [Tensor(dense(x, weight, bias, qx, qw, qy, kind), quant=[qy])])

    for x_type, w_type in (("int8", "int8"), ("uint8", "uint8"), ("uint8", "int8")):
        zx, zw = {"int8": -7, "uint8": 130}[x_type], {"int8": 3, "uint8": 120}[w_type]
        x, weight, bias = dice_of((3, 9), x_type), dice_of((18, 9), w_type), dice_of((18,), "int32", -3000, 3000)
        types = "%s, weight %s" % (x_type, w_type)
        go(types, x, weight, bias, (8, zx, 0.03), [(8, zw, 0.02)], (8, zx + 2, 0.31))
        go(types + ", no bias, run time", x, weight, None, (8, zx, 0.03), [(8, zw, 0.02)], (8, zx - 9, 0.31), fixed=False)
        many = [(8, zw + n % 5 - 2, 0.01 + 0.003 * n) for n in range(18)]
        go(types + ", per row", x, weight, bias, (8, zx, 0.03), many, (8, zx, 0.4))
        for kind, title in ((RELU, "relu"), (RELU6, "relu6"), (RELU1, "relu1"), (LINEAR, "linear")):
            go("%s, %s" % (types, title), x, weight, bias, (8, zx, 0.03), [(8, zw, 0.02)], (8, zx + 2, 0.0651), kind)
    x = np.array([[127, -128], [-128, -128], [1, 0]], "int8")
    weight = np.array([[127, 127], [-128, -128], [-128, 127]], "int8")
    top = np.array([2 ** 31 - 1, -2 ** 31, 0], "int32")
    go("sums beyond int32 are halved", x, weight, top, (8, -128, 1e-4), [(8, 127, 1e-4)], (8, 0, 0.171))
    go("sums beyond int32, zero points that make products large", x, weight, -top - 1, (8, 127, 1e-4), [(8, -128, 1e-4)],
       (8, 4, 0.23))
    small = np.array([[3, -2, 0]], "int8"), np.array([[5, 1, 2], [-4, 2, 7]], "int8")
    for name, a, b, c in (("below 2^-32", 1e-9, 1e-9, 4.0), ("just above 2^-32", 2.0 ** -16, 2.0 ** -16, 0.75),
                          ("above 2^31", 1e9, 1e9, 1e-3), ("infinite", 1e38, 1e38, 1e-38),
                          ("rounded up to a power of two", 0.99999994, 1.0, 0.99999988), ("1", 1.0, 1.0, 1.0),
                          ("2", 1.0, 1.0, 0.5), ("half: ties", 0.5, 1.0, 1.0), ("quarter", 0.25, 1.0, 1.0),
                          ("scale of x 0", 0.0, 0.5, 1.0), ("scale of weight 0", 0.5, 0.0, 1.0),
                          ("scale of y 0", 0.5, 0.5, 0.0)):
        go("factor " + name, *small, None, (8, 0, a), [(8, 0, b)], (8, 0 if c == 0 else -3, c))
    go("bounds of relu6 saturate", *small, None, (8, 0, 1.0), [(8, 0, 1.0)], (8, 100, 0.01), RELU6)
    go("relu6 of scale 0", *small, None, (8, 0, 1.0), [(8, 0, 1.0)], (8, 0, 0.0), RELU6)
    go("relu1, halves of its bound", *small, None, (8, 0, 1.0), [(8, 0, 1.0)], (8, -5, 2.0), RELU1)
    go("a bias with QuantParams", *small, np.array([7, -9], "int32"), (8, 1, 0.5), [(8, 2, 0.5)], (8, 3, 0.5),
       bias_quant=[(32, 5, 3.0)])

    plain, quant = np.zeros((2, 3), "int8"), [(8, 3, 0.5)]
    x, two = Tensor(plain, quant=quant), [(8, 0, 0.5), (8, 0, 0.25)]

    def bad(name, code, inputs, out=None, kind=NONE):
        out = Tensor(np.zeros((2, 2), as_tensor(inputs[0]).array.dtype), quant=quant) if out is None else out
        w.case("refused: quantised " + name, op, attrs(inputs[2] if len(inputs) > 2 else None, kind), inputs, [out], error=code)

    for name, code, change in (("7 bits", "UNSUPPORTED_OP", [(7, 0, 0.5)]), ("16 bits", "UNSUPPORTED_OP", [(16, 0, 0.5)]),
                               ("zero point 128", "INVALID_PARAMETER", [(8, 128, 0.5)]),
                               ("zero point -129", "INVALID_PARAMETER", [(8, -129, 0.5)]),
                               ("scale -1", "INVALID_PARAMETER", [(8, 0, -1.0)]),
                               ("scale infinite", "INVALID_PARAMETER", [(8, 0, math.inf)]),
                               ("scale nan", "INVALID_PARAMETER", [(8, 0, math.nan)])):
        changed = Tensor(plain, quant=change)
        bad(name + " of x", code, [changed, x])
        bad(name + " of weight", code, [x, changed])
        bad(name + " of y", code, [x, x], Tensor(plain[:, :2], quant=change))
    bad("uint8 zero point -1", "INVALID_PARAMETER", [Tensor(plain.astype("uint8"), quant=[(8, -1, 0.5)]), x])
    bad("uint8 zero point 256", "INVALID_PARAMETER", [Tensor(plain.astype("uint8"), quant=[(8, 256, 0.5)]), x])
    bad("x per channel", "UNSUPPORTED_OP", [Tensor(plain, quant=two), x])
    bad("y per channel", "UNSUPPORTED_OP", [x, x], Tensor(plain[:, :2], quant=two))
    bad("3 parameters of 2 rows", "INVALID_PARAMETER", [x, Tensor(plain, quant=two + quant)])
    bad("parameters along columns", "UNSUPPORTED_OP", [x, Tensor(plain, quant=with_axis(two + quant, 2))])
    bad("quantAxis 3", "INVALID_PARAMETER", [x, Tensor(plain, quant=with_axis(two, 3))])
    bad("quantAxis -1", "INVALID_PARAMETER", [x, Tensor(plain, quant=with_axis(two, -1))])
    bad("weight plain", "INVALID_DATATYPE", [x, plain])
    bad("x plain", "INVALID_DATATYPE", [plain, x])
    bad("x plain, both int8", "INVALID_DATATYPE", [plain, plain])
    bad("y plain", "INVALID_DATATYPE", [x, x], plain[:, :2])
    bad("x float32", "INVALID_DATATYPE", [plain.astype(f32), x])
    bad("x int8, weight uint8", "INVALID_DATATYPE", [x, Tensor(plain.astype("uint8"), quant=quant)])
    bad("x int16 of 8 bits", "UNSUPPORTED_OP", [Tensor(plain.astype("int16"), quant=quant), x])
    bad("weight int16", "INVALID_DATATYPE", [x, Tensor(plain.astype("int16"), quant=quant)])
    bad("bias float32", "INVALID_DATATYPE", [x, x, np.zeros(2, f32)])
    bad("bias int8", "INVALID_DATATYPE", [x, x, Tensor(plain[0, :2], quant=quant)])
    bad("bias int64", "INVALID_DATATYPE", [x, x, np.zeros(2, "int64")])
    bad("bias of 3", "INVALID_SHAPE", [x, x, np.zeros(3, "int32")])
    for kind, code in ((2, "UNSUPPORTED_OP"), (6, "UNSUPPORTED_OP"), (10, "UNSUPPORTED_OP"), (4, "INVALID_PARAMETER"),
                       (16, "INVALID_PARAMETER"), (20, "INVALID_PARAMETER")):
        bad("activation %d" % kind, code, [x, x], kind=kind)


def matmul_cases(w):
    op = "MATMUL_FUSION"

    def go(name, x, y, bias, qx, qw, qy, ta=False, tb=False, kind=NONE, axis=None):
        a, b = (np.swapaxes(x, -1, -2) if ta else x), (np.swapaxes(y, -1, -2) if tb else y)
        a2, b2 = (a[None, :] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
        lead = np.broadcast_shapes(a2.shape[:-2], b2.shape[:-2])
        aa = np.broadcast_to(a2, lead + a2.shape[-2:]).reshape((math.prod(lead),) + a2.shape[-2:])
        bb = np.broadcast_to(b2, lead + b2.shape[-2:]).reshape((math.prod(lead),) + b2.shape[-2:])
        z = [dense(p, r.T, bias, qx, qw, qy, kind) for p, r in zip(aa, bb)]
        z = np.array(z, x.dtype).reshape(lead + (a2.shape[-2], b2.shape[-1]))
        z = z[..., 0, :] if a.ndim == 1 else z
        z = z[..., 0] if b.ndim == 1 else z
        w.case("quantised " + name, op, {"transposeA": ta, "transposeB": tb, "activationType": kind},
               [Tensor(x, quant=[qx]), Tensor(y, quant=qw if axis is None else with_axis(qw, axis))] +
               ([] if bias is None else [bias]), [Tensor(z, quant=[qy])])

    qx, one, qy = (8, -4, 0.05), [(8, 9, 0.04)], (8, 2, 0.4)
    many = [(8, n - 8, 0.01 + 0.002 * n) for n in range(18)]
    for ta, tb in itertools.product((False, True), repeat=2):
        x, y = dice_of((2, 6, 3) if ta else (2, 3, 6), "int8"), dice_of((18, 6) if tb else (6, 18), "int8")
        title = "%s%s" % ("A' " if ta else "A ", "B'" if tb else "B")
        go(title, x, y, None, qx, one, qy, ta, tb)
        go(title + " bias, relu6", x, y, dice_of((18,), "int32", -2000, 2000), qx, one, (8, -20, 0.06), ta, tb, RELU6)
        go(title + " per column", x, y, dice_of((18,), "int32", -2000, 2000), qx, many, qy, ta, tb, axis=1 if tb else 2)
    go("per column without quantAxis", dice_of((2, 4), "int8"), dice_of((4, 18), "int8"), None, qx, many, qy)
    go("uint8 and int8", dice_of((2, 4), "uint8"), dice_of((4, 5), "int8"), None, (8, 100, 0.05), one, (8, 120, 0.3))
    go("vectors", dice_of((5,), "int8"), dice_of((5,), "int8"), None, qx, one, qy)
    go("vector and matrix", dice_of((5,), "int8"), dice_of((5, 3), "int8"), None, qx, one, qy)
    go("matrix and vector", dice_of((3, 5), "int8"), dice_of((5,), "int8"), None, qx, one, qy)
    go("broadcast both", dice_of((2, 1, 2, 3), "int8"), dice_of((3, 3, 2), "int8"), None, qx, one, qy)
    go("no columns and rows that meet", np.zeros((2, 0), "int8"), np.zeros((0, 3), "int8"),
       np.array([100, -300, 5], "int32"), qx, one, qy)
    go("no rows", np.zeros((0, 2), "int8"), np.zeros((2, 3), "int8"), None, qx, one, qy)
    x, y = Tensor(np.zeros((2, 3), "int8"), quant=[qx]), np.zeros((3, 2), "int8")
    out = Tensor(np.zeros((2, 2), "int8"), quant=[qy])
    for name, code, tb, quant in (("per row", "UNSUPPORTED_OP", False, with_axis(many[:3], 1)),
                                  ("per column 3 of 2", "INVALID_PARAMETER", False, with_axis(many[:3], 2)),
                                  ("transposed, per row without quantAxis", "UNSUPPORTED_OP", True, many[:3]),
                                  ("quantAxis 3", "INVALID_PARAMETER", False, with_axis(many[:2], 3))):
        w.case("refused: quantised " + name, op, {"transposeB": tb}, [x, Tensor(y.T if tb else y, quant=quant)], [out],
               error=code)
    w.case("refused: quantised vector with several parameters", op, {}, [x, Tensor(np.zeros(3, "int8"), quant=many[:3])],
           [Tensor(np.zeros(2, "int8"), quant=[qy])], error="UNSUPPORTED_OP")


def convolution_cases(w, transposed=False):
    op = "CONV2D_TRANSPOSE_FUSION" if transposed else "CONV2D_FUSION"
    word = "quantised "

    def go(name, shape, weight, group=1, strides=(1, 1), dilations=(1, 1), pads=(0, 0, 0, 0), many=False, kind=NONE,
           x_type="int8", w_type="int8", bias=True, more=(0, 0), mode=0):
        zx, zw = {"int8": -7, "uint8": 130}[x_type], {"int8": 3, "uint8": 120}[w_type]
        qx, qy = (8, zx, 0.03), (8, zx + 5, 0.5)
        qw = [(8, zw + n % 7 - 3, 0.01 + 0.003 * n) for n in range(weight[0] if many else 1)]
        x, ws = dice_of(shape, x_type), dice_of(weight, w_type)
        b = dice_of(weight[:1], "int32", -5000, 5000) if bias else None
        y = convolution(x, ws, b, qx, qw, qy, kind, strides, dilations, pads, group, transposed, more)
        attrs = {"stride": strides, "dilation": dilations, "padMode": mode, "group": group, "activationType": kind}
        attrs.update({"padList": pads} if mode == 0 else {})
        attrs.update({"outputPaddings": more} if transposed else {})
        for form in (None, "NCHW"):
            turn = to_nchw if form else np.array
            w.case(word + name + (" NCHW" if form else ""), op, attrs, [Tensor(turn(x), quant=[qx]), const(ws, quant=qw)] +
                   ([const(b)] if bias else []), [Tensor(turn(y), quant=[qy])], fmt=form)

    go("per channel", (1, 4, 5, 3), (5, 2, 3, 3), many=True)
    go("wide rows, many channels", (1, 2, 19, 17), (3, 2, 2, 17), pads=(1, 0, 1, 1))
    go("depthwise", (1, 5, 4, 3), (3, 3, 3, 1), group=3, many=True, pads=(1, 1, 1, 1))
    go("depthwise, two results a channel", (1, 4, 4, 3), (6, 2, 2, 1), group=3, many=True, strides=(2, 1))
    go("groups", (2, 4, 4, 4), (6, 2, 2, 2), group=2, many=True)
    go("stride and dilation", (1, 7, 6, 2), (2, 2, 3, 2), strides=(3, 2), dilations=(2, 1), pads=(2, 1, 1, 2))
    go("uint8, weight int8", (1, 4, 4, 2), (3, 3, 2, 2), x_type="uint8", pads=(1, 1, 0, 1))
    go("uint8, weight uint8 per channel", (1, 4, 4, 2), (3, 3, 2, 2), x_type="uint8", w_type="uint8", many=True, bias=False)
    for kind, title in ((RELU, "relu"), (RELU6, "relu6"), (RELU1, "relu1"), (LINEAR, "linear")):
        go(title, (1, 3, 3, 2), (2, 2, 2, 2), kind=kind)
    if transposed:
        go("output paddings", (1, 3, 2, 2), (2, 2, 3, 2), strides=(3, 2), more=(2, 1), many=True)
        go("stride beyond the window", (1, 3, 3, 2), (2, 1, 2, 2), strides=(3, 3))
    else:
        go("window beyond x", (1, 2, 2, 2), (2, 3, 3, 2), pads=(2, 2, 2, 2), strides=(1, 2))
        go("SAME", (1, 4, 6, 2), (2, 3, 3, 2), pads=(1, 1, 1, 1), mode=1)
        go("SAME, stride 2", (1, 4, 6, 2), (2, 3, 3, 2), strides=(2, 2), pads=(0, 1, 0, 1), mode=1)
    x, quant = Tensor(np.zeros((1, 3, 3, 2), "int8"), quant=[(8, 0, 0.5)]), [(8, 0, 0.5), (8, 0, 0.25)]
    y = Tensor(np.zeros((1, 3, 3, 2), "int8"), quant=[(8, 0, 0.5)])
    plain = np.zeros((2, 1, 1, 2), "int8")
    for name, code, weight, kind in (("parameters along input channels", "UNSUPPORTED_OP",
                                      Tensor(plain, quant=with_axis(quant, 4)), 0),
                                     ("quantAxis 5", "INVALID_PARAMETER", Tensor(plain, quant=with_axis(quant, 5)), 0),
                                     ("3 parameters", "INVALID_PARAMETER", Tensor(plain, quant=quant + quant[:1]), 0),
                                     ("weight plain", "INVALID_DATATYPE", plain, 0),
                                     ("weight uint8", "INVALID_DATATYPE", Tensor(plain.astype("uint8"), quant=quant), 0),
                                     ("sigmoid", "UNSUPPORTED_OP", Tensor(plain, quant=quant), 2)):
        w.case("refused: " + word + name, op, {"stride": (1, 1), "dilation": (1, 1), "activationType": kind},
               [x, weight], [y], error=code)


# ---------------------------------------------------------------- windows

def windows(size, kernel, stride, pads, ceil):
    """Of each window of an axis: its elements, and their number inside the padded input."""
    rest = size + sum(pads) - kernel
    n = (-(-rest // stride) if ceil else rest // stride) + 1
    out = []
    for p in range(n):
        first = p * stride - pads[0]
        end = min(first + kernel, size + pads[1])
        out.append((range(max(first, 0), min(end, size)), end - first))
    return out


def adaptive(size, n):
    cells = [range(p * size // n, -(-(p + 1) * size // n)) for p in range(n)]
    return [(c, len(c)) for c in cells]


def pooled(x, rows, columns, qx, qy, kind, mean, padded=False):
    y = np.zeros((x.shape[0], len(rows), len(columns), x.shape[3]), x.dtype)
    at = np.zeros(y.shape, "int32")
    for n, p, q, c in np.ndindex(*y.shape):
        cells = [(int(x[n, h, v, c]), h * x.shape[2] + v) for h in rows[p][0] for v in columns[q][0]]
        if mean:
            number = rows[p][1] * columns[q][1] if padded else len(cells)
            total = sum(v for v, _ in cells) + (number - len(cells)) * qx[1]
            value = abs(abs(total) + number // 2) // number * (1 if total > 0 else -1)
        else:
            value = max(v for v, _ in cells)
            at[n, p, q, c] = next(i for v, i in cells if v == value)
        y[n, p, q, c] = of_value(value, qx, qy, kind, x.dtype.name)
    return y, at


POOLS = {"AVGPOOL_FUSION": (True, False), "AVGPOOL_INCLUDE_PAD": (True, True), "MAX_POOL_FUSION": (False, False)}
PARAMETERS = (("equal", "int8", (8, -3, 0.05), (8, -3, 0.05)), ("other", "int8", (8, -3, 0.05), (8, 7, 0.0371)),
              ("finer", "int8", (8, 20, 0.05), (8, -7, 0.02)), ("uint8", "uint8", (8, 120, 0.05), (8, 130, 0.06)),
              ("uint8 equal", "uint8", (8, 120, 0.05), (8, 120, 0.05)), ("scales 0", "int8", (8, 0, 0.0), (8, 0, 0.0)),
              ("scale of y 0", "int8", (8, 5, 0.5), (8, 0, 0.0)))


def pool_cases(w, op):
    mean, padded = POOLS[op]
    word = "quantised "

    def go(name, x, kernel, strides, pads, qx, qy, kind=NONE, ceil=False, mode=0, whole=False, forms=(None,), indices=False):
        size = x.shape[1:3]
        rows, columns = [windows(size[n], size[n] if whole else kernel[n], 1 if whole else strides[n],
                                 (0, 0) if whole else pads[2 * n:2 * n + 2], ceil) for n in range(2)]
        y, at = pooled(x, rows, columns, qx, qy, kind, mean, padded)
        attrs = {"kernelSize": kernel, "strides": strides, "padMode": mode, "roundMode": int(ceil), "global": whole,
                 "activationType": kind}
        attrs.update({"pad": pads} if mode == 0 else {})
        for form in forms:
            turn = to_nchw if form else np.array
            w.case(word + name + (" NCHW" if form else ""), op, attrs, [Tensor(turn(x), quant=[qx])],
                   [Tensor(turn(y), quant=[qy])] + ([turn(at)] if indices else []), fmt=form)

    for title, dtype, qx, qy in PARAMETERS:
        x = dice_of((1, 4, 5, 2), dtype)
        go(title, x, (2, 3), (2, 2), (1, 0, 1, 1), qx, qy, forms=(None, "NCHW"))
        for kind, name in ((RELU, "relu"), (RELU6, "relu6"), (RELU1, "relu1"), (LINEAR, "linear")):
            go("%s, %s" % (title, name), x, (2, 2), (1, 2), (0, 0, 0, 0), qx, qy, kind)
    qx, qy = (8, -3, 0.05), (8, 7, 0.0371)
    go("many channels", dice_of((2, 3, 3, 18), "int8"), (2, 2), (1, 1), (1, 1, 1, 1), qx, qy)
    go("global", dice_of((2, 5, 3, 3), "int8"), (1, 1), (1, 1), (0, 0, 0, 0), qx, qy, whole=True)
    go("ceil", dice_of((1, 6, 6, 1), "int8"), (3, 3), (2, 2), (1, 0, 0, 1), qx, qy, ceil=True)
    go("SAME", dice_of((1, 4, 6, 2), "int8"), (3, 3), (1, 1), (1, 1, 1, 1), qx, qy, mode=1)
    # pairs and quadruples whose means are halves of either sign
    halves = np.array([-5, -4, -1, 0, 0, 1, 4, 5, -128, -127, 126, 127, -2, 1, -1, -1], "int8").reshape(1, 1, 16, 1)
    go("halves", halves, (1, 2), (1, 2), (0, 0, 0, 0), qx, qx)
    go("halves, other parameters", halves, (1, 2), (1, 1), (0, 0, 1, 1), (8, 3, 0.5), (8, 0, 1.0))
    go("quarters", np.array([-1, -1, 0, 0, 1, 1, 0, 0, 2, 0, 0, 0, -2, 0, 0, 0], "int8").reshape(1, 1, 16, 1), (1, 4),
       (1, 4), (0, 0, 0, 0), qx, qx)
    if not mean:
        same = np.array([3, -128, -128, 3, 5, 5, 5, 4, -128], "int8").reshape(1, 3, 3, 1)
        go("indices", same, (2, 2), (1, 1), (1, 1, 1, 1), qx, qy, indices=True, forms=(None, "NCHW"))
        go("indices, uint8", dice_of((2, 4, 4, 3), "uint8"), (2, 3), (1, 2), (0, 0, 0, 0), (8, 9, 0.1), (8, 0, 0.2),
           indices=True)
    refuse_values(w, word, op, {"kernelSize": (1, 1), "strides": (1, 1)}, [])
    x = Tensor(np.zeros((1, 2, 2, 2), "int8"), quant=[qx])
    for kind, code in ((2, "UNSUPPORTED_OP"), (4, "INVALID_PARAMETER")):
        w.case("refused: %sactivation %d" % (word, kind), op,
               {"kernelSize": (1, 1), "strides": (1, 1), "activationType": kind}, [x], [x], error=code)


def refuse_values(w, word, op, attrs, more):
    """Invalid parameters of x and y, if values of x become values of y."""
    plain, quant = np.zeros((1, 2, 2, 2), "int8"), [(8, 0, 0.5)]
    good = Tensor(plain, quant=quant)

    def bad(name, code, x, y):
        w.case("refused: " + word + name, op, attrs, [x] + more, [y], error=code)

    for name, code, change in (("7 bits", "UNSUPPORTED_OP", [(7, 0, 0.5)]), ("per channel", "UNSUPPORTED_OP", quant * 2),
                               ("zero point 128", "INVALID_PARAMETER", [(8, 128, 0.5)]),
                               ("scale -1", "INVALID_PARAMETER", [(8, 0, -1.0)])):
        bad(name + " of x", code, Tensor(plain, quant=change), good)
        bad(name + " of y", code, good, Tensor(plain, quant=change))
    bad("y plain", "INVALID_DATATYPE", good, plain)
    bad("x plain", "INVALID_DATATYPE", plain, good)
    bad("int16", "INVALID_DATATYPE", Tensor(plain.astype("int16"), quant=quant), Tensor(plain.astype("int16"), quant=quant))


def adaptive_cases(w, op, mean):
    word = "quantised "
    for n, (title, dtype, qx, qy) in enumerate(PARAMETERS):
        x, size = dice_of((2, 5, 7, 3 + 15 * (n % 2)), dtype), ((3, 3), (1, 1), (5, 7), (6, 2))[n % 4]
        y, at = pooled(x, adaptive(5, size[0]), adaptive(7, size[1]), qx, qy, NONE, mean)
        for form in (None, "NCHW"):
            turn = to_nchw if form else np.array
            outs = [Tensor(turn(y), quant=[qy])] + ([turn(at)] if not mean and n % 2 else [])
            w.case(word + title + (" NCHW" if form else ""), op, {"returnIndices": len(outs) > 1},
                   [Tensor(turn(x), quant=[qx]), const(np.array(size, "int32"))], outs, fmt=form)
    refuse_values(w, word, op, {}, [const(np.array([2, 2], "int32"))])
