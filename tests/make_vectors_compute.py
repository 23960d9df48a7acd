"""Writes the test vectors of the operators that compute: usage make_vectors_compute.py [--spec vectors.json] [FOLDER].

Expected values come from torch and numpy in float64 (integers in exact Python or numpy arithmetic), rounded once to the
element type of the output; where no library has the convention, from a short formula, and then the file says so. With
--spec the worked cases of the specification are converted too. The output is the same on every run."""
import json
import math
import os
import sys
import warnings
from fractions import Fraction

import numpy as np
import torch
import torch.nn.functional as F

from vecwriter import Tensor, VecWriter, const

warnings.filterwarnings("ignore")
f16, f32, f64 = np.float16, np.float32, np.float64
FLOATS = (f32, f16, f64)
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
DATATYPE = {"bool": 30, "int8": 32, "int16": 33, "int32": 34, "int64": 35, "uint8": 37, "uint16": 38, "uint32": 39,
            "uint64": 40, "float16": 42, "float32": 43, "float64": 44}
LOOSE = (1e-4, 1e-4)   # convolution, matrix products, normalisation, Resize: the accuracy rule of the specification
LOOSE16 = (2e-3, 2e-3)  # the same in half precision, where one unit in the last place is 1e-3 of the value
EXACT64 = (1e-9, 1e-9)  # float64 through exp, log, erf and their like
random = np.random.default_rng(20)
NO_ATTR = {}


def name_of(dtype):
    return np.dtype(dtype).name


def some(shape, dtype=f32, low=-12, high=12, step=0.25):
    """Random multiples of step: exact in half precision, and short as text."""
    a = random.integers(low, high + 1, shape)
    if np.dtype(dtype).kind == "f":
        return (a * step).astype(dtype)
    return np.abs(a).astype(dtype) if np.dtype(dtype).kind == "u" else a.astype(dtype)


def rounded(value, like):
    """A float64 result stored in the element type of `like`."""
    dtype = like if isinstance(like, type) else np.asarray(like).dtype
    return np.asarray(value, f64).astype(dtype)


def wide(a):
    return np.asarray(a).astype(f64)


def nchw(a):
    return np.ascontiguousarray(np.transpose(a, (0, 3, 1, 2)))


def nhwc(a):
    return np.ascontiguousarray(np.transpose(a, (0, 2, 3, 1)))


def tensor(a):
    return torch.from_numpy(np.ascontiguousarray(wide(a)))


def both_layouts(w, name, op, attrs, inputs, outputs, tol=None, comment=None):
    """The case on [N,H,W,C], and again with input 0 and the outputs as [N,C,H,W]."""
    w.case(name, op, attrs, inputs, outputs, tol=tol, comment=comment)
    w.case(name + " NCHW", op, attrs, [nchw(inputs[0])] + list(inputs[1:]), [nchw(y) for y in outputs], fmt="NCHW",
           tol=tol)


def loose(dtype):
    return LOOSE16 if dtype == f16 else EXACT64 if dtype == f64 else LOOSE


def refuse(w, name, op, attrs, inputs, code, fmt=None):
    w.case("refused: " + name, op, attrs, inputs, [], fmt=fmt, error=code)


# ---------------------------------------------------------------- activation

ACTIVATIONS = ["none", "relu", "sigmoid", "relu6", "elu", "leaky relu", "abs", "relu1", "softsign", "softplus", "tanh",
               "selu", "hswish", "hsigmoid", "thresholded relu", "linear", "hard tanh", "sign", "swish", "gelu"]


def activation(x, kind, alpha=0.0, low=0.0, high=0.0, approximate=False):
    """float64 result of activation function `kind` by torch; x any numeric array."""
    t = tensor(x)
    table = {
        0: lambda: t, 1: lambda: F.relu(t), 2: lambda: torch.sigmoid(t), 3: lambda: F.relu6(t),
        4: lambda: F.elu(t, alpha), 5: lambda: F.leaky_relu(t, alpha), 6: lambda: torch.abs(t),
        7: lambda: F.hardtanh(t, 0.0, 1.0), 8: lambda: F.softsign(t), 9: lambda: torch.logaddexp(t, torch.zeros_like(t)),
        10: lambda: torch.tanh(t), 11: lambda: F.selu(t), 12: lambda: F.hardswish(t), 13: lambda: F.hardsigmoid(t),
        14: lambda: F.threshold(t, alpha, 0.0), 15: lambda: t, 16: lambda: F.hardtanh(t, low, high),
        17: lambda: torch.sign(t), 18: lambda: F.silu(t),
        19: lambda: F.gelu(t, approximate="tanh" if approximate else "none"),
    }
    return table[kind]().numpy()


def fused(value, kind):
    """The fused forms that need no parameter, for float results in float64 and exact integers."""
    if np.asarray(value).dtype.kind in "iu":
        return np.clip(value, 0, {0: None, 1: None, 3: 6}[kind]) if kind else value
    return activation(value, kind)


def make_activation(w):
    op = "ACTIVATION"
    x = np.array([-1000, -30, -7.5, -3, -2.5, -1, -0.5, -0.0, 0, 0.25, 0.5, 1, 2, 3, 5.75, 6, 6.5, 20, 1000], f32)
    grid = np.linspace(-6, 6, 25).astype(f16)
    settings = {4: {"alpha": 0.75}, 5: {"alpha": 0.125}, 14: {"alpha": 0.5}, 16: {"minVal": -1.5, "maxVal": 2.25}}
    for kind, title in enumerate(ACTIVATIONS):
        extra = settings.get(kind, {})
        attrs = {"activationType": kind, **extra}
        args = dict(alpha=extra.get("alpha", 0.0), low=extra.get("minVal", 0.0), high=extra.get("maxVal", 0.0))
        for dtype, values in ((f32, x), (f16, grid), (f64, grid.astype(f64))):
            tol = None
            if dtype == f64:
                tol = (1e-7, 1e-7) if kind == 11 else EXACT64
            w.case("%s %s" % (title, name_of(dtype)), op, attrs, [values],
                   [rounded(activation(values, kind, **args), dtype)],
                   tol=tol, comment="the factors of SELU have nine digits" if tol == (1e-7, 1e-7) else None)
        edges = [np.inf] if kind != 8 else [3e38, -3e38]
        edges += [-np.inf] if kind not in (8, 12, 18, 19) else []
        edges += [np.nan] if kind not in (1, 3, 7, 12, 13, 14, 16, 17) else []
        edges = np.array(edges + [1e30, -1e30, 1e-30, -1e-30, 88, -88, 104, -104], f32)
        w.case("%s at the edges" % title, op, attrs, [edges], [rounded(activation(edges, kind, **args), f32)])
    for dtype in (f32, f16, f64):
        v = x.astype(dtype) if dtype != f16 else grid
        w.case("gelu approximate %s" % name_of(dtype), op, {"activationType": 19, "approximate": True}, [v],
               [rounded(activation(v, 19, approximate=True), dtype)], tol=EXACT64 if dtype == f64 else None)
    w.case("elu alpha 0 equals relu", op, {"activationType": 4}, [x], [rounded(activation(x, 1), f32)])
    w.case("leaky relu alpha 2", op, {"activationType": 5, "alpha": 2.0}, [x], [rounded(activation(x, 5, 2.0), f32)])
    w.case("leaky relu alpha negative", op, {"activationType": 5, "alpha": -0.5}, [x],
           [rounded(activation(x, 5, -0.5), f32)])
    w.case("thresholded relu alpha -2.5", op, {"activationType": 14, "alpha": -2.5}, [x],
           [rounded(activation(x, 14, -2.5), f32)])
    i = np.array([-2147483648, -7, -1, 0, 1, 9, 2147483647], np.int32)
    w.case("relu int32", op, {"activationType": 1}, [i], [np.maximum(i, 0)])
    w.case("relu of a scalar", op, {"activationType": 1}, [np.array(-2, f32)], [np.array(0, f32)])
    deep = some((1, 2, 1, 2, 1, 2, 1, 2))
    w.case("relu rank 8", op, {"activationType": 1}, [deep], [np.maximum(deep, 0)])
    none = np.zeros((2, 0, 3), f32)
    w.case("sigmoid of nothing", op, {"activationType": 2}, [none], [none])
    refuse(w, "type 20", op, {"activationType": 20}, [x], "INVALID_PARAMETER")
    refuse(w, "type 21", op, {"activationType": 21}, [x], "INVALID_PARAMETER")
    refuse(w, "type -1", op, {"activationType": -1}, [x], "INVALID_PARAMETER")
    refuse(w, "hard tanh with equal bounds", op, {"activationType": 16, "minVal": 1.0, "maxVal": 1.0}, [x],
           "INVALID_PARAMETER")
    refuse(w, "hard tanh with bounds swapped", op, {"activationType": 16, "minVal": 2.0, "maxVal": 1.0}, [x],
           "INVALID_PARAMETER")
    refuse(w, "two inputs", op, {"activationType": 1}, [x, x], "INVALID_INPUT")
    refuse(w, "bool", op, {"activationType": 1}, [np.array([True])], "INVALID_DATATYPE")
    refuse(w, "absent input", op, {"activationType": 1}, [None], "NULL_PTR")
    refuse(w, "rank 9", op, {"activationType": 1}, [np.ones((1,) * 9, f32)], "INVALID_SHAPE")


# ---------------------------------------------------------------- elementwise arithmetic

SHAPES = [((), (2, 3)), ((2, 3), ()), ((1,), (4,)), ((4,), (1,)), ((2, 1, 3), (4, 1)), ((2, 3, 2), (1, 3, 1)),
          ((3, 1, 2, 1), (1, 2, 1, 3)), ((2, 1, 2, 1, 2), (1, 3, 1, 2, 1)), ((1, 2, 1, 2, 1, 2), (2, 1, 2, 1, 1)),
          ((2, 1, 1, 2, 1, 2, 1), (2, 1, 2, 1, 2)), ((1, 2, 1, 2, 1, 2, 1, 2), (2, 1, 2, 1, 1, 1, 1, 1)),
          ((2, 3, 2, 2), (3, 1, 2)), ((), ()), ((0,), (0,)), ((2, 0, 3), (1, 1, 3)), ((1,), (0, 2)), ((0, 1), (1, 0))]


def nonzero(a):
    return np.where(a == 0, np.asarray(3, a.dtype), a)


def wrap(exact, dtype):
    """Python integers modulo 2^n."""
    info = np.iinfo(dtype)
    span = int(info.max) - int(info.min) + 1
    flat = [(int(v) - int(info.min)) % span + int(info.min) for v in np.asarray(exact, object).reshape(-1)]
    return np.array(flat, dtype).reshape(np.shape(exact))


def toward_zero(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def integer_result(function, x, y):
    """function over Python integers with broadcasting, stored modulo 2^n."""
    bx, by = np.broadcast_arrays(x, y)
    exact = np.empty(bx.shape, object)
    for i in np.ndindex(bx.shape):
        exact[i] = function(int(bx[i]), int(by[i]))
    return wrap(exact, x.dtype)


def float_result(function, x, y):
    return rounded(function(wide(x), wide(y)), x)


ARITHMETIC = {
    "ADD_FUSION": (np.add, lambda a, b: a + b),
    "SUB_FUSION": (np.subtract, lambda a, b: a - b),
    "MUL_FUSION": (np.multiply, lambda a, b: a * b),
    "DIV_FUSION": (np.divide, toward_zero),
    "MAXIMUM": (lambda a, b: np.where(a > b, a, b), max),
    "SQUARED_DIFFERENCE": (lambda a, b: (a - b) * (a - b), lambda a, b: (a - b) * (a - b)),
}


def extremes(dtype, divide):
    i = np.iinfo(dtype)
    x = np.array([i.max, i.max, i.min, i.min, i.max, i.min, 7, 7, 100, 5, 5], object)
    y = np.array([1, i.max, 1, i.min, 2, 2, 3, 10, 3, 5, 6], object)
    if i.min < 0:
        x = np.concatenate([x, [-7, 7, -7, i.min, -1, -128, i.min, i.max]])
        y = np.concatenate([y, [2, -2, -2, i.max, i.min, 3, -1, -1]])
    return x.astype(dtype), nonzero(y.astype(dtype)) if divide else y.astype(dtype)


def binary_core(w, op, attrs, real, whole):
    """Every number type, every way to broadcast, empty tensors."""
    divide = op == "DIV_FUSION"
    for n, (a, b) in enumerate(SHAPES):
        dtype = (f32, f32, np.int32, f16, np.uint8)[n % 5]
        x, y = some(a, dtype), some(b, dtype)
        y = nonzero(y) if divide else y
        z = integer_result(whole, x, y) if x.dtype.kind in "iu" else float_result(real, x, y)
        w.case("%s %s with %s" % (name_of(dtype), list(a), list(b)), op, attrs, [x, y], [z])
    for dtype in INTEGERS:
        x, y = extremes(dtype, divide)
        w.case("%s wraps" % name_of(dtype), op, attrs, [x, y], [integer_result(whole, x, y)])
    for dtype in FLOATS:
        x, y = some((3, 7), dtype), some((7,), dtype)
        x[0, 0], x[1, 1], y[1] = -0.0, 0.0, 0.0
        y[2:] = nonzero(y[2:])
        w.case("%s with zeros" % name_of(dtype), op, attrs, [x, y], [float_result(real, x, y)])
    x = np.array([np.inf, np.inf, -np.inf, 1e38, -1e38, 1, -1, 3, 1e-30], f32)
    y = np.array([1, -2, 3, 3e38, 3e38, np.inf, -np.inf, -0.5, 2], f32)
    w.case("float32 infinite and large", op, attrs, [x, y], [float_result(real, x, y)])
    x, y = np.array([60000, -60000, 250, 2049 - 1, 1], f16), np.array([50000, 40000, 300, 1, 0.00024414], f16)
    w.case("float16 overflows and rounds", op, attrs, [x, y], [float_result(real, x, y)])
    x, y = some((2, 2)), nonzero(some((2,)))
    w.case("float32 constant second", op, attrs, [x, const(y)], [float_result(real, x, y)])
    w.case("float32 constant first", op, attrs, [const(y), nonzero(x)], [float_result(real, y, nonzero(x))])


def binary_refusals(w, op, attrs, good=f32):
    x = some((2, 3), good)
    refuse(w, "shapes [2,3] and [2]", op, attrs, [x, some((2,), good)], "INVALID_SHAPE")
    refuse(w, "shapes [0] and [2]", op, attrs, [some((0,), good), some((2,), good)], "INVALID_SHAPE")
    refuse(w, "rank 9", op, attrs, [x, np.ones((1,) * 9, good)], "INVALID_SHAPE")
    refuse(w, "one input", op, attrs, [x], "INVALID_INPUT")
    refuse(w, "three inputs", op, attrs, [x, x, x], "INVALID_INPUT")
    refuse(w, "absent input", op, attrs, [x, None], "NULL_PTR")
    refuse(w, "float32 and int32", op, attrs, [x, some((2, 3), np.int32)], "INVALID_DATATYPE")
    refuse(w, "int8 and uint8 of other shapes", op, attrs, [some((2,), np.int8), some((3,), np.uint8)],
           "INVALID_DATATYPE")


def fused_cases(w, op, real, whole):
    x, y = some((3, 8)), nonzero(some((8,)))
    for kind, title in enumerate(ACTIVATIONS):
        if kind in (4, 5, 14, 16):
            refuse(w, "fused " + title, op, {"activationType": kind}, [x, y], "INVALID_PARAMETER")
        else:
            w.case("fused " + title, op, {"activationType": kind}, [x, y],
                   [rounded(fused(real(wide(x), wide(y)), kind), f32)])
    refuse(w, "fused unknown", op, {"activationType": 20}, [x, y], "INVALID_PARAMETER")
    for kind in (1, 3):
        for dtype in (np.int32, np.int64, np.int8):
            a, b = some((2, 6), dtype), nonzero(some((6,), dtype))
            w.case("fused %s %s" % (ACTIVATIONS[kind], name_of(dtype)), op, {"activationType": kind}, [a, b],
                   [fused(integer_result(whole, a, b), kind).astype(dtype)])
        a, b = some((2, 6), f16), nonzero(some((6,), f16))
        w.case("fused %s float16" % ACTIVATIONS[kind], op, {"activationType": kind}, [a, b],
               [rounded(fused(real(wide(a), wide(b)), kind), f16)])


def make_arithmetic(op):
    def make(w):
        real, whole = ARITHMETIC[op]
        attrs = {} if op in ("MAXIMUM", "SQUARED_DIFFERENCE") else {"activationType": 0}
        binary_core(w, op, attrs, real, whole)
        binary_refusals(w, op, attrs)
        if attrs:
            fused_cases(w, op, real, whole)
        x, y = np.array([[False], [True]]), np.array([False, True])
        if op in ("ADD_FUSION", "MUL_FUSION", "SQUARED_DIFFERENCE"):
            truth = real(x.astype(int), y.astype(int)) != 0
            w.case("bool", op, attrs, [x, y], [truth], comment="computed in integers, stored as not zero")
        elif op == "DIV_FUSION":
            w.case("bool", op, attrs, [x, np.array([True, True])], [np.array([[False, False], [True, True]])])
            w.case("bool by false", op, attrs, [x, y], [], run_error="INVALID_PARAMETER")
        else:
            refuse(w, "two bools", op, attrs, [x, y], "INVALID_DATATYPE")
        if op == "DIV_FUSION":
            for dtype in INTEGERS:
                w.case("%s by zero" % name_of(dtype), op, attrs, [np.array([5, 6], dtype), np.array([2, 0], dtype)], [],
                       run_error="INVALID_PARAMETER")
            w.case("int32 by a broadcast zero", op, attrs, [some((2, 2), np.int32), np.array(0, np.int32)], [],
                   run_error="INVALID_PARAMETER")
            v = np.array([1, -1, 0, -0.0, np.inf, np.nan, 0, 5], f32)
            d = np.array([0, 0, 0, 3, np.inf, 1, np.nan, -0.0], f32)
            w.case("float32 by zero", op, attrs, [v, d], [float_result(real, v, d)])
        if op == "MAXIMUM":
            v, d = np.array([np.nan, 1, np.nan, -np.inf], f32), np.array([2, np.nan, np.nan, -5], f32)
            w.case("NaN: x > y ? x : y", op, attrs, [v, d], [np.where(v > d, v, d)])
    return make


def make_eltwise(w):
    op = "ELTWISE"
    modes = [ARITHMETIC["MUL_FUSION"], ARITHMETIC["ADD_FUSION"], ARITHMETIC["MAXIMUM"]]
    for mode, (real, whole) in enumerate(modes):
        title = ("product", "sum", "maximum")[mode]
        for dtype in NUMBERS:
            x, y = extremes(dtype, False) if dtype in INTEGERS else (some((2, 5), dtype), some((2, 5), dtype))
            z = integer_result(whole, x, y) if dtype in INTEGERS else float_result(real, x, y)
            w.case("%s %s" % (title, name_of(dtype)), op, {"mode": mode}, [x, y], [z])
        for a, b in (((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((0, 2), (1, 2))):
            x, y = some(a), some(b)
            w.case("%s %s with %s" % (title, list(a), list(b)), op, {"mode": mode}, [x, y], [float_result(real, x, y)])
    refuse(w, "mode unknown", op, {"mode": 3}, [some((2,)), some((2,))], "INVALID_PARAMETER")
    refuse(w, "mode -1", op, {"mode": -1}, [some((2,)), some((2,))], "INVALID_PARAMETER")
    refuse(w, "two bools", op, {"mode": 1}, [np.array([True]), np.array([True])], "INVALID_DATATYPE")
    refuse(w, "float32 and float16", op, {"mode": 1}, [some((2,)), some((2,), f16)], "INVALID_DATATYPE")
    refuse(w, "shapes [2] and [3]", op, {"mode": 1}, [some((2,)), some((3,))], "INVALID_SHAPE")
    refuse(w, "one input", op, {"mode": 1}, [some((2,))], "INVALID_INPUT")
    refuse(w, "absent input", op, {"mode": 1}, [None, some((2,))], "NULL_PTR")


def make_pow(w):
    op, plain = "POW_FUSION", {"scale": 1.0, "shift": 0.0}

    def float_pow(x, y, scale=1.0, shift=0.0):
        return rounded(np.power(scale * wide(x) + shift, wide(y)), x)

    def whole_pow(x, y, scale=1.0, shift=0.0):
        bx, by = np.broadcast_arrays(x, y)
        flat = [math.trunc(math.pow(scale * int(a) + shift, int(b))) for a, b in zip(bx.reshape(-1), by.reshape(-1))]
        return np.array(flat, x.dtype).reshape(bx.shape)

    for n, (a, b) in enumerate(SHAPES):
        dtype = (f32, f16, f64)[n % 3]
        x, y = np.abs(some(a, dtype)) + dtype(0.5), some(b, dtype, -4, 4, 0.5)
        w.case("%s %s with %s" % (name_of(dtype), list(a), list(b)), op, plain, [x, y], [float_pow(x, y)],
               tol=EXACT64 if dtype == f64 else None)
    for dtype in (f32, f64):
        x = np.array([0, 0, 0, -8, -8, -8, 2, 2, np.inf, -np.inf, -np.inf, np.nan, 1, 0.5, 4, -1, 0, 3], dtype)
        y = np.array([0, 2, -2, 3, 2, 1 / 3, -1, 10, -1, 3, 2, 0, np.nan, np.inf, 0.5, np.inf, np.inf, -np.inf], dtype)
        w.case("%s rules of C pow" % name_of(dtype), op, plain, [x, y], [float_pow(x, y)],
               tol=EXACT64 if dtype == f64 else None)
    x = np.array([1e10, 1e-10, 1.0000001, 0.999, 123.456, 1e38, 1e-38], f32)
    y = np.array([3, 3, 1e6, 1e4, -4.5, 2, 2], f32)
    w.case("float32 wide range", op, plain, [x, y], [float_pow(x, y)], tol=(1e-5, 1e-5))
    for dtype in FLOATS:
        x, y = some((2, 3), dtype), np.array(2, dtype)
        w.case("%s scale and shift" % name_of(dtype), op, {"scale": 0.5, "shift": -1.5}, [x, y],
               [float_pow(x, y, 0.5, -1.5)],
               tol=EXACT64 if dtype == f64 else None)
    x = some((4,))
    w.case("scale 0 is a constant base", op, {"scale": 0.0, "shift": 2.0}, [x, np.array([3], f32)],
           [float_pow(x, 3, 0.0, 2.0)])
    for dtype in INTEGERS:
        x, y = np.array([[0, 1, 2, 3, 5, 10]], dtype), np.array([[0], [1], [2]], dtype)
        w.case("%s" % name_of(dtype), op, plain, [x, y], [whole_pow(x, y)])
    x, y = np.array([-3, -2, -1, 2, 4], np.int32), np.array([3, 2, -1, -1, -2], np.int32)
    w.case("int32 negative bases and exponents", op, plain, [x, y], [whole_pow(x, y)])
    x, y = np.array([3, 4, -5], np.int32), np.array([2, 3, 1], np.int32)
    w.case("int32 scale 0.5 toward zero", op, {"scale": 0.5, "shift": 0.0}, [x, y], [whole_pow(x, y, 0.5)])
    w.case("int64 scale 2 shift 1", op, {"scale": 2.0, "shift": 1.0}, [x.astype(np.int64), y.astype(np.int64)],
           [whole_pow(x.astype(np.int64), y, 2.0, 1.0)])
    binary_refusals(w, op, plain)
    refuse(w, "two bools", op, plain, [np.array([True]), np.array([True])], "INVALID_DATATYPE")


def make_less_equal(w):
    op = "LESS_EQUAL"
    for n, (a, b) in enumerate(SHAPES):
        dtype = (f32, np.int32, f16, np.int8, np.uint64)[n % 5]
        x, y = some(a, dtype, -3, 3), some(b, dtype, -3, 3)
        w.case("%s %s with %s" % (name_of(dtype), list(a), list(b)), op, NO_ATTR, [x, y], [np.less_equal(x, y)])
    for dtype in INTEGERS:
        i = np.iinfo(dtype)
        v = np.array([i.min, i.min + 1, 0, 1, i.max - 1, i.max], dtype)
        w.case("%s extremes" % name_of(dtype), op, NO_ATTR, [v.reshape(6, 1), v], [np.less_equal(v.reshape(6, 1), v)])
    for dtype in FLOATS:
        v = np.array([-np.inf, -1, -0.0, 0.0, 1, np.inf, np.nan], dtype)
        w.case("%s infinities and NaN" % name_of(dtype), op, NO_ATTR, [v.reshape(7, 1), v],
               [np.less_equal(v.reshape(7, 1), v)])
    v = np.array([2 ** 53, 2 ** 53 + 1, -2 ** 53 - 1], np.int64)
    w.case("int64 beyond float64", op, NO_ATTR, [v.reshape(3, 1), v], [np.less_equal(v.reshape(3, 1), v)])
    w.case("bool", op, NO_ATTR, [np.array([[False], [True]]), np.array([False, True])],
           [np.array([[True, True], [False, True]])])
    w.case("scalar as [1]", op, NO_ATTR, [np.array(2, f32), np.array([2], f32)], [np.array([True])])
    binary_refusals(w, op, NO_ATTR)


def make_root(op, function):
    def make(w):
        edges = np.array([0, 1, 4, 0.25, 2, 1e-30, 1e30, 3e38, np.inf, np.nan, -1, -np.inf, -1e-30], f32)
        w.case("float32 edges", op, NO_ATTR, [edges], [rounded(function(wide(edges)), f32)])
        half = np.array([0, 1, 2, 3, 0.25, 65504, 6.103515625e-05, np.inf, np.nan, -4], f16)
        w.case("float16 edges", op, NO_ATTR, [half], [rounded(function(wide(half)), f16)])
        big = np.array([0, 2, 1e-300, 1e300, np.inf, np.nan, -2], f64)
        w.case("float64 edges", op, NO_ATTR, [big], [function(big)], tol=(0, 1e-12))
        for shape in ((), (1,), (5,), (2, 3), (2, 1, 4), (2, 0, 2), (1, 2, 1, 2, 1, 2, 1, 2)):
            for dtype in (f32, f16):
                x = np.abs(some(shape, dtype)) + dtype(0.25)
                w.case("%s %s" % (name_of(dtype), list(shape)), op, NO_ATTR, [x], [rounded(function(wide(x)), dtype)])
        x = (random.random((4, 12)) * 100).astype(f32)
        w.case("float32 random", op, NO_ATTR, [x], [rounded(function(wide(x)), f32)])
        refuse(w, "int32", op, NO_ATTR, [np.array([4], np.int32)], "INVALID_DATATYPE")
        refuse(w, "bool", op, NO_ATTR, [np.array([True])], "INVALID_DATATYPE")
        refuse(w, "two inputs", op, NO_ATTR, [x, x], "INVALID_INPUT")
        refuse(w, "absent input", op, NO_ATTR, [None], "NULL_PTR")
        refuse(w, "rank 9", op, NO_ATTR, [np.ones((1,) * 9, f32)], "INVALID_SHAPE")
    return make


def make_exp(w):
    op = "EXPFUSION"

    def go(name, x, base=-1.0, scale=1.0, shift=0.0):
        b, s, t = (float(np.float32(v)) for v in (base, scale, shift))
        with np.errstate(all="ignore"):
            y = np.power(np.e if b == -1 else b, s * wide(x) + t)
        w.case(name, op, {"base": base, "scale": scale, "shift": shift}, [x], [rounded(y, x)])

    go("e, edges", np.array([0, -0.0, 1, -1, 88.5, -87, 89, -200, np.inf, -np.inf, np.nan, 1e-30], f32))
    go("e, float16 edges", np.array([0, 1, -1, 11, 12, -20, np.inf, -np.inf, np.nan], f16))
    for shape in ((), (1,), (7,), (2, 3), (2, 0, 2), (1, 2, 1, 2, 1, 2, 1, 2)):
        for dtype in (f32, f16):
            go("%s %s" % (name_of(dtype), list(shape)), some(shape, dtype))
    for base in (2.0, 10.0, 0.5, 1.0):
        for dtype in (f32, f16):
            go("%s base %g" % (name_of(dtype), base), some((3, 4), dtype), base)
    go("scale and shift", some((3, 5)), 2.0, -0.5, 1.25)
    go("e, scale and shift", some((3, 5)), -1.0, 0.25, -2.0)
    go("shift -1 is no base", some((2, 2)), 3.0, 1.0, -1.0)
    for base in (0.0, -2.0, -0.5):
        refuse(w, "base %g" % base, op, {"base": base}, [some((2,))], "INVALID_PARAMETER")
    refuse(w, "int32", op, {}, [np.array([4], np.int32)], "INVALID_DATATYPE")
    refuse(w, "two inputs", op, {}, [some((2,)), some((2,))], "INVALID_INPUT")
    refuse(w, "absent input", op, {}, [None], "NULL_PTR")


# ---------------------------------------------------------------- conversions

def cast_one(value, target):
    """One element by the rules of CAST: saturating from floats, low bits from integers."""
    if target == np.bool_:
        return bool(value != 0)
    info = np.iinfo(target)
    if isinstance(value, (float, np.floating)):
        if value != value:
            return 0
        return int(info.max) if value >= info.max else int(info.min) if value <= info.min else int(value)
    return int(wrap(np.array([int(value)], object), target)[0])


def cast(x, target):
    if np.dtype(target).kind == "f":
        return x.astype(target)
    return np.array([cast_one(v, target) for v in x.reshape(-1)], target).reshape(x.shape)


def cast_values(source):
    if source == np.bool_:
        return np.array([True, False, True])
    if np.dtype(source).kind == "f":
        v = [0, -0.0, 1, -1, 0.5, -0.5, 1.75, -1.75, 2.5, 127, 128, -128, -129, 255, 256, 300, -300, 1000.5, 32768,
             -40000]
        v += [65504] if source == f16 else [65536, 2147483648, -2147483648, -3e9, 5e9, 1e19, -1e19, 2e19]
        return np.array(v + [np.inf, -np.inf, np.nan], source)
    i = np.iinfo(source)
    v = [v for v in (0, 1, -1, 2, 100, 127, 128, -128, 200, 255, 256, 1000, -1000, 40000, 65535, 65536, 70000, 2 ** 31,
                     2 ** 32 + 7, -2 ** 40, 2 ** 53 + 1, 2 ** 63 + 5) if i.min <= v <= i.max]
    return np.array(v + [i.min, i.max], source)


def make_cast(w):
    op = "CAST"
    every = (np.bool_,) + FLOATS + INTEGERS
    for source in every:
        for target in every:
            x = cast_values(source)
            if target == f16 and np.dtype(source).itemsize > 2:
                x = x[~(np.abs(wide(x)) > 70000) | ~np.isfinite(wide(x))]  # larger ones are infinite: one case below
            w.case("%s to %s" % (name_of(source), name_of(target)), op, NO_ATTR, [x], [cast(x, target)])
    x = np.array([1, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 1 + 2 ** -11 + 2 ** -20, 65519, 65520, 1e5, -1e9, 2 ** -24,
                  2 ** -25, 3 * 2 ** -26, 1e-10], f32)
    w.case("float32 to float16 rounds half to even", op, NO_ATTR, [x], [x.astype(f16)], tol=(0, 0))
    x = np.array([1 + 2 ** -24, 1 + 3 * 2 ** -24, 1e39, -1e39, 1e-46, 16777217], f64)
    w.case("float64 to float32 rounds half to even", op, NO_ATTR, [x], [x.astype(f32)], tol=(0, 0))
    x = np.array([16777217, 16777219, 2147483647, -2147483647], np.int32)
    w.case("int32 to float32 rounds half to even", op, NO_ATTR, [x], [x.astype(f32)], tol=(0, 0))
    x = np.array([2 ** 62 + 1, 2 ** 53 + 1, 2 ** 53 + 3, -2 ** 53 - 1], np.int64)
    w.case("int64 to float64 rounds half to even", op, NO_ATTR, [x], [x.astype(f64)], tol=(0, 0))
    x = np.array([9223371487098961920.0, 9223372036854775808.0, 18446742974197923840.0, 18446744073709551616.0, -1.5],
                 f32)
    w.case("float32 to int64 at the end of the range", op, NO_ATTR, [x], [cast(x, np.int64)])
    w.case("float32 to uint64 at the end of the range", op, NO_ATTR, [x], [cast(x, np.uint64)])
    x = np.array([2147483520.0, 2147483648.0, 4294967040.0, 4294967296.0, -0.99], f32)
    w.case("float32 to int32 at the end of the range", op, NO_ATTR, [x], [cast(x, np.int32)])
    w.case("float32 to uint32 at the end of the range", op, NO_ATTR, [x], [cast(x, np.uint32)])
    w.case("tiny float32 to bool", op, NO_ATTR, [np.array([1e-40, -1e-40, 0, np.nan], f32)],
           [np.array([True, True, False, True])])
    for target in (np.int32, f16, np.bool_):
        x = some((2, 3))
        w.case("type input %s" % name_of(target), op, NO_ATTR,
               [x, const(np.array(DATATYPE[name_of(target)], np.int32))],
               [cast(x, target)])
    w.case("type input absent", op, NO_ATTR, [some((1,)) * 0, None], [np.zeros(1, np.int8)])
    for shape in ((), (0,), (2, 0, 3), (1, 2, 1, 2, 1, 2, 1, 2)):
        x = some(shape)
        w.case("shape %s" % list(shape), op, NO_ATTR, [x], [cast(x, np.int16)])
    y = np.zeros(2, np.int32)
    w.case("refused: three inputs", op, NO_ATTR, [y, np.array(34, np.int32), y], [y], error="INVALID_INPUT")
    w.case("refused: no input", op, NO_ATTR, [], [y], error="INVALID_INPUT")
    w.case("refused: absent input", op, NO_ATTR, [None], [y], error="NULL_PTR")
    w.case("refused: float32 type input", op, NO_ATTR, [y, const(np.array(34, f32))], [y], error="INVALID_DATATYPE")
    w.case("refused: rank 9", op, NO_ATTR, [np.ones((1,) * 9, f32)], [np.ones((1,) * 9, np.int32)],
           error="INVALID_SHAPE")


LIMITS = {np.int8: (-128, 127), np.uint8: (0, 255), np.int16: (-32768, 32767), np.int32: (-2 ** 31, 2 ** 31 - 1)}


def quantise_one(real, bits, zero, scale, dtype):
    low, high = LIMITS[dtype]
    if scale == 0:
        return 0
    if real != real:
        return zero
    if math.isinf(real):
        return high if real > 0 else low
    v = real / scale + zero
    return min(max(int(math.copysign(math.floor(abs(v) + 0.5), v)), low), high)


def per_channel(function, x, quant):
    """function(element, params) with one QuantParam, or one per index of axis 0."""
    out = [function(v, quant[i[0] if len(quant) > 1 else 0]) for i, v in np.ndenumerate(x)]
    return np.array(out, f64).reshape(x.shape)


def quantise(x, quant, dtype):
    return per_channel(lambda v, q: quantise_one(float(v), *q, dtype), x, quant).astype(dtype)


def dequantise(x, quant):
    return per_channel(lambda v, q: q[2] * (int(v) - q[1]), x, quant)


def make_quant(w):
    op = "QUANT_DTYPE_CAST"

    def go(name, x, target, qx=None, qy=None, error=None):
        attrs = {"srcT": DATATYPE[name_of(x.dtype)], "dstT": DATATYPE[name_of(target)]}
        real = dequantise(x, qx) if qx and error is None else wide(x)
        if error:
            y = np.zeros(x.shape, target)
        elif x.dtype == np.int8 and target == np.uint8 or x.dtype == np.uint8 and target == np.int8:
            y = (x.astype(int) + (128 if target == np.uint8 else -128)).astype(target)
            assert (quantise(real, qy, target) == y).all()
        else:
            y = quantise(real, qy, target) if qy else rounded(real, target)
        w.case(name, op, attrs, [Tensor(x, quant=qx)], [Tensor(y, quant=qy)], error=error)

    halves = np.arange(-9, 10) * 0.25
    for source in (f32, f16):
        edges = np.concatenate([halves, [100, -100, 1000, -1000, 60000, -60000, np.inf, -np.inf,
                                         np.nan]]).astype(source)
        for target, bits in ((np.int8, 8), (np.uint8, 8), (np.int16, 16), (np.int32, 32)):
            for zero in (0, 3) if target != np.uint8 else (0, 128):
                go("%s to %s zero point %d" % (name_of(source), name_of(target), zero), edges, target,
                   qy=[(bits, zero, 0.5)])
    go("negative zero point: halves away after the sum", np.array([0.5, 1.5, 2.5, -0.5, 1, 1.75], f32), np.int8,
       qy=[(8, -2, 1.0)])
    go("scale 0.1", np.array([0, 0.32, -0.77, 1.23, 9.99, -12.84, 12.88], f32), np.int8, qy=[(8, -1, 0.1)])
    go("scale 0.003 to int16", np.array([[0.01, -0.02], [3, -98.2]], f32), np.int16, qy=[(16, 0, 0.003)])
    go("int32 saturates", np.array([1e10, -1e10, 2e9, 5], f32), np.int32, qy=[(32, 0, 0.5)])
    go("scale 0 with zero point 0", np.array([1, -1, 0, 5], f32), np.int8, qy=[(8, 0, 0.0)])
    channel = [(8, 0, 0.5), (8, 10, 0.25), (8, -5, 2.0)]
    x = some((3, 2, 2), f32, -60, 60, 0.5)
    go("per channel to int8", x, np.int8, qy=channel)
    go("per channel to uint8", x, np.uint8, qy=[(8, 128, 0.5), (8, 0, 0.25), (8, 7, 2.0)])
    go("per channel float16 to int16", x.astype(f16), np.int16, qy=[(16, 0, 0.5), (16, 1, 0.25), (16, 2, 2.0)])
    for target in (f32, f16):
        for source, bits, zero in ((np.int8, 8, -3), (np.uint8, 8, 120), (np.int16, 16, 4), (np.int32, 32, 0)):
            v = np.array([0, 1, 5, 100, 127] + ([-1, -128] if source != np.uint8 else [128, 255]), source)
            go("%s to %s" % (name_of(source), name_of(target)), v, target, qx=[(bits, zero, 0.125)])
    q = some((3, 4), np.int8, -128, 127)
    go("per channel int8 to float32", q, f32, qx=channel)
    go("per channel int32 to float32", some((3, 2), np.int32, -100000, 100000), f32,
       qx=[(32, 0, 0.5), (32, 0, 0.01), (32, 0, 1e-3)])
    go("dequantise scale 0", np.array([1, 2], np.int8), f32, qx=[(8, 0, 0.0)])
    every = np.array([-128, -127, -1, 0, 1, 64, 127], np.int8)
    go("int8 to uint8", every, np.uint8, qx=[(8, -3, 0.5)], qy=[(8, 125, 0.5)])
    go("uint8 to int8", (every.astype(int) + 128).astype(np.uint8), np.int8, qx=[(8, 128, 0.25)], qy=[(8, 0, 0.25)])
    go("requantise int8", every, np.int8, qx=[(8, 1, 0.5)], qy=[(8, -4, 0.75)])
    go("requantise int8 to a finer scale saturates", every, np.int8, qx=[(8, 0, 0.5)], qy=[(8, 0, 0.125)])
    go("requantise uint8", (every.astype(int) + 128).astype(np.uint8), np.uint8, qx=[(8, 128, 0.5)],
       qy=[(8, 100, 0.4375)])
    go("requantise int16", every.astype(np.int16) * 200, np.int16, qx=[(16, 0, 0.5)], qy=[(16, 7, 2.0)])
    go("requantise int8 with equal parameters", every, np.int8, qx=[(8, 1, 0.5)], qy=[(8, 1, 0.5)])
    go("scalar", np.array(2.5, f32), np.int8, qy=[(8, 0, 1.0)])
    go("nothing", np.zeros((0, 3), f32), np.int8, qy=[(8, 0, 1.0)])
    go("refused: output without QuantParam", np.array([1], f32), np.int8, error="INVALID_PARAMETER")
    go("refused: input without QuantParam", np.array([1], np.int8), f32, error="INVALID_PARAMETER")
    go("refused: negative scale", np.array([1], f32), np.int8, qy=[(8, 0, -0.5)], error="INVALID_PARAMETER")
    go("refused: scale 0 with zero point 3", np.array([1], f32), np.int8, qy=[(8, 3, 0.0)], error="INVALID_PARAMETER")
    go("refused: bool", np.array([True]), np.int8, qy=[(8, 0, 0.5)], error="INVALID_DATATYPE")
    go("refused: int64", np.array([1], np.int64), f32, qx=[(8, 0, 0.5)], error="INVALID_DATATYPE")
    attrs = {"srcT": 43, "dstT": 32}
    y = Tensor(np.zeros(1, np.int8), quant=[(8, 0, 0.5)])
    w.case("refused: two inputs", op, attrs, [some((1,)), some((1,))], [y], error="INVALID_INPUT")
    w.case("refused: absent input", op, attrs, [None], [y], error="NULL_PTR")


# ---------------------------------------------------------------- one value per channel

def make_prelu(w):
    op = "PRELU_FUSION"

    def expect(x, slope, axis=-1):
        t = tensor(x)
        if len(slope) == 1 or x.ndim < 2:
            return rounded(F.prelu(t, tensor(slope)), x)
        return rounded(torch.movedim(F.prelu(torch.movedim(t, axis, 1), tensor(slope)), 1, axis), x)

    for dtype in FLOATS:
        for shape in ((2, 5), (2, 3, 4), (1, 2, 2, 3), (2, 1, 3, 1, 2)):
            x, slope = some(shape, dtype), some((shape[-1],), dtype, -4, 8, 0.125)
            w.case("%s %s" % (name_of(dtype), list(shape)), op, {"channelShared": False}, [x, slope],
                   [expect(x, slope)])
            w.case("%s %s shared" % (name_of(dtype), list(shape)), op, {"channelShared": True}, [x, slope[:1]],
                   [expect(x, slope[:1])])
    for dtype in (f32, f16):
        x, slope = some((2, 3, 2, 2), dtype), some((3,), dtype, -4, 8, 0.125)
        w.case("%s NCHW" % name_of(dtype), op, {"channelShared": False}, [x, slope], [expect(x, slope, 1)], fmt="NCHW")
    x, slope = some((1, 2, 2, 2)), some((1,), f32)
    w.case("NCHW shared", op, {"channelShared": True}, [x, slope], [expect(x, slope)], fmt="NCHW")
    w.case("weight length decides, flag false", op, {"channelShared": False}, [x, slope], [expect(x, slope)])
    w.case("constant weight", op, {"channelShared": False}, [x, const(np.array([0.5, 2], f32))],
           [expect(x, np.array([0.5, 2], f32))])
    w.case("format NHWC", op, {"channelShared": False}, [x, np.array([0.5, 2], f32)],
           [expect(x, np.array([0.5, 2], f32))], fmt="NHWC")
    w.case("vector", op, {"channelShared": True}, [some((5,)) * 0 - 2, slope], [np.full(5, -2 * slope[0], f32)])
    w.case("scalar", op, {"channelShared": True}, [np.array(-4, f32), np.array([0.25], f32)], [np.array(-1, f32)])
    x = np.array([[-np.inf, np.inf, np.nan, -0.0]], f32)
    w.case("infinities and NaN", op, {"channelShared": True}, [x, np.array([0.5], f32)],
           [expect(x, np.array([0.5], f32))])
    w.case("nothing", op, {"channelShared": False}, [np.zeros((0, 3), f32), some((3,))], [np.zeros((0, 3), f32)])
    x = some((2, 3))
    refuse(w, "two slopes for three channels", op, {"channelShared": False}, [x, some((2,))], "INVALID_SHAPE")
    refuse(w, "weight of rank 2", op, {"channelShared": False}, [x, some((1, 3))], "INVALID_SHAPE")
    refuse(w, "vector with three slopes", op, {"channelShared": False}, [some((3,)), some((3,))], "INVALID_SHAPE")
    refuse(w, "int32", op, {"channelShared": False}, [some((2, 3), np.int32), some((3,), np.int32)], "INVALID_DATATYPE")
    refuse(w, "one input", op, {"channelShared": False}, [x], "INVALID_INPUT")
    refuse(w, "absent weight", op, {"channelShared": False}, [x, None], "NULL_PTR")


def make_bias_add(w):
    op = "BIAS_ADD"
    for n, shape in enumerate(((2, 3), (2, 2, 3), (1, 2, 2, 3), (2, 1, 2, 1, 3))):
        for dtype in (f32, f16, f64):
            x, bias = some(shape, dtype), some((3,), dtype)
            w.case("%s rank %d" % (name_of(dtype), len(shape)), op, NO_ATTR, [x, bias], [float_result(np.add, x, bias)])
    for dtype in INTEGERS:
        i = np.iinfo(dtype)
        x, bias = np.array([[1, i.max, i.min], [5, 6, 7]], dtype), np.array([2, 1, i.max], dtype)
        w.case("%s wraps" % name_of(dtype), op, NO_ATTR, [x, bias], [integer_result(lambda a, b: a + b, x, bias)])
    for dtype in (f32, f16, np.int32):
        x, bias = some((2, 3, 2, 2), dtype), some((3,), dtype)
        z = x.astype(f64) + bias.reshape(1, 3, 1, 1)
        w.case("%s NCHW" % name_of(dtype), op, NO_ATTR, [x, bias], [z.astype(dtype)], fmt="NCHW")
    x, bias = some((1, 2, 2, 2)), some((2,))
    w.case("format NHWC", op, NO_ATTR, [x, bias], [x + bias], fmt="NHWC")
    w.case("constant bias", op, NO_ATTR, [x, const(bias)], [x + bias])
    w.case("nothing", op, NO_ATTR, [np.zeros((0, 2), f32), bias], [np.zeros((0, 2), f32)])
    refuse(w, "rank 1", op, NO_ATTR, [some((3,)), some((3,))], "INVALID_SHAPE")
    refuse(w, "rank 6", op, NO_ATTR, [some((1, 1, 1, 1, 1, 3)), some((3,))], "INVALID_SHAPE")
    refuse(w, "bias of rank 2", op, NO_ATTR, [some((2, 3)), some((1, 3))], "INVALID_SHAPE")
    refuse(w, "bias of another length", op, NO_ATTR, [some((2, 3)), some((2,))], "INVALID_SHAPE")
    refuse(w, "bias of one value", op, NO_ATTR, [some((2, 3)), some((1,))], "INVALID_SHAPE")
    refuse(w, "NCHW bias as long as the last axis", op, NO_ATTR, [some((1, 2, 2, 3)), some((3,))], "INVALID_SHAPE",
           "NCHW")
    refuse(w, "float32 and float16", op, NO_ATTR, [some((2, 3)), some((3,), f16)], "INVALID_DATATYPE")
    refuse(w, "bool", op, NO_ATTR, [np.array([[True]]), np.array([True])], "INVALID_DATATYPE")
    refuse(w, "one input", op, NO_ATTR, [some((2, 3))], "INVALID_INPUT")
    refuse(w, "absent bias", op, NO_ATTR, [some((2, 3)), None], "NULL_PTR")


def make_scale(w):
    op = "SCALE_FUSION"

    def expect(x, scale, bias, axis, kind=0):
        axis = axis + x.ndim if axis < 0 else axis
        shape = (1,) * axis + scale.shape + (1,) * (x.ndim - axis - scale.ndim)
        z = wide(x) * wide(scale).reshape(shape) + (0 if bias is None else wide(bias).reshape(shape))
        return rounded(fused(z, kind), x)

    plans = [((2, 3), (3,), 1), ((2, 3), (2,), 0), ((2, 3), (2, 3), 0), ((2, 3, 2), (3,), 1), ((2, 3, 2), (3,), -2),
             ((2, 3, 2), (3, 2), 1), ((2, 3, 2), (2, 3), -3), ((1, 2, 2, 3), (3,), -1), ((1, 2, 2, 3), (2, 2), 1),
             ((2, 1, 2, 1, 3), (2, 1, 3), 2), ((1, 2, 1, 2, 1, 2, 1, 2), (2, 1, 2), 5), ((4,), (4,), 0),
             ((0, 3), (3,), 1)]
    for n, (shape, part, axis) in enumerate(plans):
        dtype = FLOATS[n % 3] if n > 2 else f32
        x, scale, bias = some(shape, dtype), some(part, dtype), some(part, dtype)
        title = "%s %s scale %s axis %d" % (name_of(dtype), list(shape), list(part), axis)
        w.case(title, op, {"axis": axis, "activationType": 0}, [x, scale, bias], [expect(x, scale, bias, axis)])
        w.case(title + " without bias", op, {"axis": axis, "activationType": 0}, [x, scale, *([None] if n % 2 else [])],
               [expect(x, scale, None, axis)])
    x, scale, bias = some((2, 3, 2)), some((3,)), some((3,))
    w.case("constant scale and bias", op, {"axis": 1, "activationType": 0}, [x, const(scale), const(bias)],
           [expect(x, scale, bias, 1)])
    for kind, title in enumerate(ACTIVATIONS):
        attrs = {"axis": 1, "activationType": kind}
        if kind in (4, 5, 14, 16):
            refuse(w, "fused " + title, op, attrs, [x, scale, bias], "INVALID_PARAMETER")
        elif kind:
            w.case("fused " + title, op, attrs, [x, scale, bias], [expect(x, scale, bias, 1, kind)])
    plain = {"axis": 1, "activationType": 0}
    refuse(w, "axis 3", op, {"axis": 3, "activationType": 0}, [x, scale, bias], "INVALID_PARAMETER")
    refuse(w, "axis -4", op, {"axis": -4, "activationType": 0}, [x, scale, bias], "INVALID_PARAMETER")
    refuse(w, "scale of another length", op, plain, [x, some((2,)), some((2,))], "INVALID_SHAPE")
    refuse(w, "scale past the last axis", op, {"axis": 2, "activationType": 0}, [x, some((2, 2)), some((2, 2))],
           "INVALID_SHAPE")
    refuse(w, "bias of another shape", op, plain, [x, scale, some((2,))], "INVALID_SHAPE")
    refuse(w, "int32", op, plain, [some((2, 3), np.int32), some((3,), np.int32), None], "INVALID_DATATYPE")
    refuse(w, "float16 scale", op, plain, [x, some((3,), f16), None], "INVALID_DATATYPE")
    refuse(w, "one input", op, plain, [x], "INVALID_INPUT")
    refuse(w, "absent scale", op, plain, [x, None, bias], "NULL_PTR")


def make_batch_norm(w):
    op = "FUSED_BATCH_NORM"

    def expect(x, parts, epsilon, axis=-1):
        scale, offset, mean, variance = (tensor(p) for p in parts)
        t = tensor(x).reshape(-1, 1) if x.ndim == 0 else torch.movedim(tensor(x), axis, -1)
        flat = F.batch_norm(t.reshape(-1, t.shape[-1]), mean, variance, scale, offset, False, 0.0, float(f32(epsilon)))
        return rounded(torch.movedim(flat.reshape(t.shape), -1, axis).numpy(), x)

    def parts(n, dtype=f32):
        return [some((n,), dtype), some((n,), dtype), some((n,), dtype), np.abs(some((n,), dtype)) + dtype(0.25)]

    for dtype in FLOATS:
        for n, shape in enumerate(((3,), (2, 3), (2, 2, 3), (1, 3, 2, 2), (2, 1, 2, 1, 2))):
            x, p = some(shape, dtype), parts(shape[-1], dtype)
            epsilon = (1e-4, 1e-5, 0.5)[n % 3]
            w.case("%s %s epsilon %g" % (name_of(dtype), list(shape), epsilon), op, {"epsilon": epsilon}, [x] + p,
                   [expect(x, p, epsilon)], tol=loose(dtype))
        x, p = some((2, 3, 2, 2), dtype), parts(3, dtype)
        w.case("%s NCHW" % name_of(dtype), op, {"epsilon": 1e-4}, [x] + p, [expect(x, p, 1e-4, 1)], fmt="NCHW",
               tol=loose(dtype))
    x, p = some((1, 2, 2, 2)), parts(2)
    w.case("default epsilon", op, {}, [x] + p, [expect(x, p, 1e-4)], tol=LOOSE)
    p[3] = np.array([0, 1e-4], f32)
    w.case("small variance", op, {"epsilon": 1e-4}, [x] + p, [expect(x, p, 1e-4)], tol=LOOSE)
    w.case("constant vectors", op, {"epsilon": 1e-4}, [x] + [const(v) for v in p], [expect(x, p, 1e-4)], tol=LOOSE)
    w.case("format NHWC", op, {"epsilon": 1e-4}, [x] + p, [expect(x, p, 1e-4)], fmt="NHWC", tol=LOOSE)
    w.case("nothing", op, {"epsilon": 1e-4}, [np.zeros((0, 2), f32)] + p, [np.zeros((0, 2), f32)])
    attrs = {"epsilon": 1e-4}
    refuse(w, "scale of another length", op, attrs, [x, some((3,))] + p[1:], "INVALID_SHAPE")
    refuse(w, "variance of another length", op, attrs, [x] + p[:3] + [some((1,))], "INVALID_SHAPE")
    refuse(w, "scale of rank 2", op, attrs, [x, some((1, 2))] + p[1:], "INVALID_SHAPE")
    refuse(w, "scalar x", op, attrs, [np.array(1, f32)] + parts(1), "INVALID_SHAPE")
    refuse(w, "four inputs", op, attrs, [x] + p[:3], "INVALID_INPUT")
    refuse(w, "absent mean", op, attrs, [x, p[0], p[1], None, p[3]], "NULL_PTR")
    refuse(w, "int32", op, attrs, [some((2, 2), np.int32)] + p, "INVALID_DATATYPE")


# ---------------------------------------------------------------- convolution

PAD, SAME, VALID = 0, 1, 2


def conv_pads(mode, pads, extent, kernel, stride, dilation):
    """(before, after, output extent) of one axis, for a convolution."""
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


def conv_attrs(weight, stride, dilation, mode, pads, group, channels, outputs, kind):
    return {"kernelSize": list(weight.shape[1:3]), "stride": list(stride), "dilation": list(dilation), "padMode": mode,
            "padList": list(pads), "group": group, "inChannel": channels, "outChannel": outputs, "activationType": kind}


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


def conv_refusals(w, op, x, weight, bias, attrs):
    """What both convolutions refuse; x [1,4,4,2], weight [2,3,3,2]."""
    def bad(name, code, change, inputs=None):
        refuse(w, name, op, {**attrs, **change}, inputs or [x, weight, bias], code)

    for kind in (4, 5, 14, 16, 20):
        bad("fused type %d" % kind, "INVALID_PARAMETER", {"activationType": kind})
    bad("stride 0", "INVALID_PARAMETER", {"stride": [0, 1]})
    bad("dilation 0", "INVALID_PARAMETER", {"dilation": [1, 0]})
    bad("negative pad", "INVALID_PARAMETER", {"padList": [0, -1, 0, 0]})
    bad("pads with SAME", "INVALID_PARAMETER", {"padMode": SAME, "padList": [1, 0, 0, 0]})
    bad("pads with VALID", "INVALID_PARAMETER", {"padMode": VALID, "padList": [0, 0, 0, 1]})
    bad("pad mode 3", "INVALID_PARAMETER", {"padMode": 3, "padList": []})
    bad("group 0", "INVALID_PARAMETER", {"group": 0})
    bad("weight of rank 3", "INVALID_SHAPE", {}, [x, weight[0], bias])
    bad("x of rank 3", "INVALID_SHAPE", {}, [x[0], weight, bias])
    bad("bias of another length", "INVALID_SHAPE", {}, [x, weight, some((3,))])
    bad("bias of rank 2", "INVALID_SHAPE", {}, [x, weight, some((1, 2))])
    bad("weight channels differ from x", "INVALID_SHAPE", {"inChannel": 0}, [x, some((2, 3, 3, 3)), bias])
    bad("one input", "INVALID_INPUT", {}, [x])
    bad("four inputs", "INVALID_INPUT", {}, [x, weight, bias, bias])
    bad("absent weight", "NULL_PTR", {}, [x, None, bias])
    bad("int32", "INVALID_DATATYPE", {}, [some((1, 4, 4, 2), np.int32), some((2, 3, 3, 2), np.int32)])
    bad("float16 weight", "INVALID_DATATYPE", {}, [x, weight.astype(f16), bias])


def make_conv(w):
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


def make_conv_transpose(w):
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


# ---------------------------------------------------------------- pooling

FLOOR, CEIL = 0, 1


def pool_axis(mode, ceil, pads, extent, kernel, stride):
    """(before, output extent) of one axis of a pooling window."""
    if mode == SAME:
        out = -(-extent // stride)
        return max(0, (out - 1) * stride + kernel - extent) // 2, out
    before, after = pads if mode == PAD else (0, 0)
    room = extent + before + after - kernel
    return before, (-(-room // stride) if ceil else room // stride) + 1


def pool_windows(t, kernel, stride, mode, ceil, pads, fill):
    """t [N,C,H,W] filled up so that every window lies inside; also the pads before."""
    height, width = t.shape[2:]
    top, rows = pool_axis(mode, ceil, pads[:2], height, kernel[0], stride[0])
    left, columns = pool_axis(mode, ceil, pads[2:], width, kernel[1], stride[1])
    bottom = (rows - 1) * stride[0] + kernel[0] - top - height
    right = (columns - 1) * stride[1] + kernel[1] - left - width
    return F.pad(t, (left, right, top, bottom), value=fill), top, left  # negative pads cut what no window reaches


def average_expect(x, kernel, stride, mode, ceil, pads, kind=0):
    t = tensor(x).permute(0, 3, 1, 2)
    total = F.avg_pool2d(pool_windows(t, kernel, stride, mode, ceil, pads, 0.0)[0], kernel, stride)
    cells = F.avg_pool2d(pool_windows(torch.ones_like(t), kernel, stride, mode, ceil, pads, 0.0)[0], kernel, stride)
    y = total / cells
    assert torch.isfinite(y).all()
    even = mode == PAD and not ceil and pads[0] == pads[1] and pads[2] == pads[3]
    if even and 2 * pads[0] <= kernel[0] and 2 * pads[2] <= kernel[1]:
        assert torch.allclose(y, F.avg_pool2d(t, kernel, stride, (pads[0], pads[2]), False,
                                              False))  # torch says the same
    return rounded(fused(y.permute(0, 2, 3, 1).numpy(), kind), x)


def maximum_expect(x, kernel, stride, mode, ceil, pads, kind=0):
    """Largest cell, and its position h*W+w in the plane."""
    t = tensor(x).permute(0, 3, 1, 2)
    filled, top, left = pool_windows(t, kernel, stride, mode, ceil, pads, -math.inf)
    y, at = F.max_pool2d(filled, kernel, stride, return_indices=True)
    at = (at // filled.shape[3] - top) * t.shape[3] + at % filled.shape[3] - left
    return rounded(fused(y.permute(0, 2, 3, 1).numpy(), kind), x), at.permute(0, 2, 3, 1).numpy()


POOLS = [  # title, x, kernel, stride, mode, ceil, pads top bottom left right
    ("2x2", (1, 4, 4, 2), (2, 2), (2, 2), VALID, FLOOR, (0, 0, 0, 0)),
    ("3x3 stride 1", (2, 4, 3, 1), (3, 3), (1, 1), VALID, FLOOR, (0, 0, 0, 0)),
    ("3x2 stride 2x1", (1, 5, 3, 2), (3, 2), (2, 1), VALID, FLOOR, (0, 0, 0, 0)),
    ("1x1", (1, 3, 2, 2), (1, 1), (1, 1), VALID, FLOOR, (0, 0, 0, 0)),
    ("stride larger than kernel", (1, 7, 5, 1), (2, 1), (3, 2), VALID, FLOOR, (0, 0, 0, 0)),
    ("valid ceil", (1, 6, 6, 1), (3, 3), (2, 2), VALID, CEIL, (0, 0, 0, 0)),
    ("valid ceil that fits", (1, 7, 7, 1), (3, 3), (2, 2), VALID, CEIL, (0, 0, 0, 0)),
    ("same stride 1", (1, 4, 4, 1), (3, 3), (1, 1), SAME, FLOOR, (0, 0, 0, 0)),
    ("same stride 2", (1, 5, 6, 2), (3, 3), (2, 2), SAME, FLOOR, (0, 0, 0, 0)),
    ("same even kernel", (1, 5, 5, 1), (2, 4), (2, 2), SAME, FLOOR, (0, 0, 0, 0)),
    ("same stride larger than kernel", (1, 7, 8, 1), (2, 2), (3, 3), SAME, FLOOR, (0, 0, 0, 0)),
    ("same ignores ceil", (1, 6, 5, 1), (3, 3), (2, 2), SAME, CEIL, (0, 0, 0, 0)),
    ("pads 1", (1, 4, 4, 1), (3, 3), (2, 2), PAD, FLOOR, (1, 1, 1, 1)),
    ("pads 1 two channels", (2, 3, 3, 2), (2, 2), (1, 1), PAD, FLOOR, (1, 1, 1, 1)),
    ("asymmetric pads", (1, 4, 5, 1), (3, 3), (1, 2), PAD, FLOOR, (0, 2, 1, 0)),
    ("asymmetric pads 2", (1, 3, 4, 2), (3, 2), (2, 2), PAD, FLOOR, (2, 0, 0, 1)),
    ("pads 0 ceil", (1, 6, 6, 1), (3, 3), (2, 2), PAD, CEIL, (0, 0, 0, 0)),
    ("pads 1 ceil", (1, 4, 6, 1), (3, 3), (2, 2), PAD, CEIL, (1, 1, 1, 1)),
    ("ceil beyond the padded input", (1, 5, 7, 2), (3, 2), (3, 3), PAD, CEIL, (1, 0, 0, 0)),
    ("ceil with stride 4", (1, 6, 7, 1), (3, 3), (4, 4), PAD, CEIL, (0, 1, 0, 0)),
    ("pads left only", (1, 2, 5, 1), (2, 3), (1, 2), PAD, FLOOR, (0, 0, 2, 0)),
    ("window as large as x", (2, 3, 4, 2), (3, 4), (1, 1), VALID, FLOOR, (0, 0, 0, 0)),
    ("window larger than x", (1, 2, 2, 2), (4, 4), (1, 1), PAD, FLOOR, (1, 1, 1, 1)),
]


def pool_attrs(kernel, stride, mode, ceil, pads, kind=0):
    return {"kernelSize": list(kernel), "strides": list(stride), "pad": list(pads), "padMode": mode, "roundMode": ceil,
            "global": False, "activationType": kind}


def pool_refusals(w, op):
    x, attrs = some((1, 4, 4, 1)), pool_attrs((2, 2), (2, 2), PAD, FLOOR, (0,) * 4)

    def bad(name, code, change, inputs=None):
        refuse(w, name, op, {**attrs, **change}, inputs or [x], code)

    for kind in (4, 5, 14, 16, 20):
        bad("fused type %d" % kind, "INVALID_PARAMETER", {"activationType": kind})
    bad("kernel 0", "INVALID_PARAMETER", {"kernelSize": [0, 2]})
    bad("stride 0", "INVALID_PARAMETER", {"strides": [1, 0]})
    bad("negative pad", "INVALID_PARAMETER", {"pad": [0, 0, -1, 0]})
    bad("pads with SAME", "INVALID_PARAMETER", {"padMode": SAME, "pad": [1, 1, 0, 0]})
    bad("pads with VALID", "INVALID_PARAMETER", {"padMode": VALID, "pad": [0, 0, 0, 1]})
    bad("three pads", "INVALID_PARAMETER", {"pad": [0, 0, 0]})
    bad("round mode 2", "INVALID_PARAMETER", {"roundMode": 2})
    bad("pad mode 3", "INVALID_PARAMETER", {"padMode": 3})
    bad("kernel larger than x", "INVALID_SHAPE", {"kernelSize": [5, 2]})
    bad("a window on padding only", "INVALID_SHAPE", {"kernelSize": [1, 1], "strides": [1, 1], "pad": [1, 1, 1, 1]})
    bad("a ceil window that starts after x", "INVALID_SHAPE",
        {"strides": [3, 3], "pad": [0, 2, 0, 0], "roundMode": CEIL})
    bad("rank 3", "INVALID_SHAPE", {}, [x[0]])
    bad("int32", "INVALID_DATATYPE", {}, [some((1, 4, 4, 1), np.int32)])
    bad("two inputs", "INVALID_INPUT", {}, [x, x])
    bad("absent input", "NULL_PTR", {}, [None])


def make_pool(op, expect):
    def make(w):
        for n, (title, shape, kernel, stride, mode, ceil, pads) in enumerate(POOLS):
            dtype = f16 if n % 4 == 3 else f64 if n % 9 == 8 else f32
            x = some(shape, dtype)
            y = expect(x, kernel, stride, mode, ceil, pads)
            both_layouts(w, "%s %s" % (title, name_of(dtype)), op, pool_attrs(kernel, stride, mode, ceil, pads), [x],
                         list(y)[:1])
        for dtype in (f32, f16):
            x = some((2, 3, 4, 2), dtype)
            y = expect(x, (3, 4), (1, 1), VALID, FLOOR, (0,) * 4)
            whole = {"global": True, "padMode": VALID, "roundMode": FLOOR, "activationType": 0}
            both_layouts(w, "global %s" % name_of(dtype), op, whole, [x], list(y)[:1])
            w.case("global ignores kernel and strides %s" % name_of(dtype), op,
                   {**pool_attrs((2, 2), (2, 2), VALID, FLOOR, (0,) * 4), "global": True}, [x], list(y)[:1])
        x = some((1, 4, 4, 1))
        for kind, title in enumerate(ACTIVATIONS):
            if kind not in (0, 4, 5, 14, 16):
                y = expect(x, (2, 2), (2, 2), VALID, FLOOR, (0,) * 4, kind)
                w.case("fused " + title, op, pool_attrs((2, 2), (2, 2), VALID, FLOOR, (0,) * 4, kind), [x], list(y)[:1])
        y = expect(x, (2, 2), (1, 1), SAME, FLOOR, (0,) * 4)
        for number_ in (0, 1):
            w.case("format member %d is not used" % number_, op,
                   {**pool_attrs((2, 2), (1, 1), SAME, FLOOR, (0,) * 4), "format": number_}, [x], list(y)[:1])
        pool_refusals(w, op)
        if len(y) == 2:
            max_positions(w, op)
    return make


def max_positions(w, op):
    for n, (title, shape, kernel, stride, mode, ceil, pads) in enumerate(POOLS):
        dtype, index = (f32, f16)[n % 2], (np.int32, np.int64)[n % 3 == 0]
        x = some(shape, dtype, -2, 2, 1)  # few values: many equal ones
        y, at = maximum_expect(x, kernel, stride, mode, ceil, pads)
        both_layouts(w, "positions %s %s" % (title, name_of(index)), op, pool_attrs(kernel, stride, mode, ceil, pads),
                     [x],
                     [y, at.astype(index)])
    x = some((1, 2, 3, 2), f32, -2, 2, 1)
    y, at = maximum_expect(x, (2, 3), (1, 1), VALID, FLOOR, (0,) * 4)
    w.case("positions global", op, {"global": True, "padMode": VALID}, [x], [y, at.astype(np.int32)])
    x = np.full((1, 2, 2, 1), -np.inf, f32)
    w.case("minus infinity only", op, pool_attrs((2, 2), (1, 1), VALID, FLOOR, (0,) * 4), [x],
           [np.full((1, 1, 1, 1), -np.inf, f32)])


# ---------------------------------------------------------------- matrices, normalisation

def make_full_connection(w):
    op = "FULL_CONNECTION"

    def expect(x, weight, bias, shape, kind=0):
        y = F.linear(tensor(x).reshape(-1, weight.shape[1]), tensor(weight), None if bias is None else tensor(bias))
        return rounded(fused(y.numpy().reshape(shape), kind), x)

    def attrs(bias, use=False, axis=0, kind=0):
        return {"hasBias": bias, "useAxis": use, "axis": axis, "activationType": kind}

    plans = [((2, 3), 3, 2, None, (2, 2)), ((1, 4), 4, 5, None, (1, 5)), ((6,), 6, 2, None, (1, 2)),
             ((2, 2, 3), 3, 4, None, (4, 4)),
             ((2, 2, 3), 6, 2, None, (2, 2)), ((2, 6), 3, 2, None, (4, 2)), ((1, 2, 2, 2), 8, 3, None, (1, 3)),
             ((2, 3), 3, 2, 1, (2, 2)), ((2, 2, 3), 3, 2, 2, (2, 2, 2)), ((2, 2, 3), 6, 2, 1, (2, 2)),
             ((2, 2, 3), 3, 4, -1, (2, 2, 4)),
             ((2, 2, 3), 6, 2, -2, (2, 2)), ((1, 2, 2, 2), 4, 3, 2, (1, 2, 3)), ((2, 1, 2, 1, 2), 4, 2, 2, (2, 1, 2))]
    for n, (shape, inner, outputs, axis, result) in enumerate(plans):
        for has in (True, False):
            dtype = FLOATS[(n + has) % 3]
            x, weight = some(shape, dtype), some((outputs, inner), dtype, -6, 6, 0.5)
            bias = some((outputs,), dtype) if has else None
            title = "%s %s weight %s axis %s%s" % (name_of(dtype), list(shape), list(weight.shape), axis,
                                                   " bias" if has else "")
            w.case(title, op, attrs(has, axis is not None, axis or 0), [x, weight] + ([bias] if has else []),
                   [expect(x, weight, bias, result)], tol=loose(dtype))
    x, weight, bias = some((2, 4)), some((3, 4)), some((3,))
    for kind, title in enumerate(ACTIVATIONS):
        if kind in (4, 5, 14, 16):
            refuse(w, "fused " + title, op, attrs(True, kind=kind), [x, weight, bias], "INVALID_PARAMETER")
        elif kind:
            w.case("fused " + title, op, attrs(True, kind=kind), [x, weight, bias],
                   [expect(x, weight, bias, (2, 3), kind)], tol=LOOSE)
    w.case("constant weight and bias", op, attrs(True), [x, const(weight), const(bias)],
           [expect(x, weight, bias, (2, 3))], tol=LOOSE)
    w.case("absent bias", op, attrs(False), [x, weight, None], [expect(x, weight, None, (2, 3))], tol=LOOSE)
    refuse(w, "weight of rank 1", op, attrs(False), [x, some((4,))], "INVALID_SHAPE")
    refuse(w, "total not divisible", op, attrs(False), [some((2, 5)), weight], "INVALID_SHAPE")
    refuse(w, "folded extent differs", op, attrs(False, True, 1), [some((2, 2, 3)), weight], "INVALID_SHAPE")
    refuse(w, "bias of another length", op, attrs(True), [x, weight, some((4,))], "INVALID_SHAPE")
    refuse(w, "axis 0", op, attrs(False, True, 0), [x, weight], "INVALID_PARAMETER")
    refuse(w, "axis 2 of rank 2", op, attrs(False, True, 2), [x, weight], "INVALID_PARAMETER")
    refuse(w, "float16 weight", op, attrs(False), [x, weight.astype(f16)], "INVALID_DATATYPE")
    refuse(w, "int32", op, attrs(False), [some((2, 4), np.int32), some((3, 4), np.int32)], "INVALID_DATATYPE")
    refuse(w, "one input", op, attrs(False), [x], "INVALID_INPUT")
    refuse(w, "absent weight", op, attrs(False), [x, None], "NULL_PTR")


def make_matmul(w):
    op = "MATMUL_FUSION"

    def swap(a, flag):
        return np.swapaxes(a, -1, -2) if flag and a.ndim > 1 else a

    def expect(x, y, ta, tb, bias=None, kind=0):
        z = np.matmul(wide(swap(x, ta)), wide(swap(y, tb)))
        assert np.allclose(z, torch.matmul(tensor(swap(x, ta)), tensor(swap(y, tb))).numpy())
        return rounded(fused(z if bias is None else z + wide(bias), kind), x).reshape(np.shape(z))

    def attrs(ta=False, tb=False, kind=0):
        return {"transposeA": ta, "transposeB": tb, "activationType": kind}

    plans = [((2, 3), (3, 4)), ((1, 5), (5, 1)), ((3, 1), (1, 3)), ((2, 2, 3), (2, 3, 2)), ((2, 2, 3), (3, 2)),
             ((2, 3), (2, 3, 2)),
             ((1, 2, 3), (3, 3, 2)), ((2, 1, 2, 2), (1, 3, 2, 2)), ((2, 1, 1, 2, 3), (3, 1, 3, 1)),
             ((1, 1, 2, 1, 2, 1, 2, 3), (2, 1, 1, 3, 2))]
    for n, (a, b) in enumerate(plans):
        for ta, tb in ((0, 0), (1, 0), (0, 1), (1, 1)):
            dtype = FLOATS[(n + ta + 2 * tb) % 3]
            x, y = some(a, dtype, -6, 6, 0.5), some(b, dtype, -6, 6, 0.5)
            left, right = np.ascontiguousarray(swap(x, ta)), np.ascontiguousarray(swap(y, tb))
            w.case("%s %s by %s transpose %d%d" % (name_of(dtype), list(a), list(b), ta, tb), op,
                   attrs(bool(ta), bool(tb)),
                   [left, right], [expect(left, right, ta, tb)], tol=loose(dtype))
    for n, (a, b) in enumerate((((3,), (3, 2)), ((2, 3), (3,)), ((3,), (3,)), ((3,), (2, 3, 2)), ((2, 2, 3), (3,)))):
        x, y = some(a), some(b)
        w.case("vector %s by %s" % (list(a), list(b)), op, attrs(), [x, y], [expect(x, y, 0, 0)], tol=LOOSE)
    x, y = some((3,)), some((2, 3))
    w.case("transpose of a vector has no effect", op, attrs(True, True), [x, y], [expect(x, y, 0, 1)], tol=LOOSE)
    x, y, bias = some((2, 2, 3)), some((3, 4)), some((4,))
    w.case("bias", op, attrs(), [x, y, bias], [expect(x, y, 0, 0, bias)], tol=LOOSE)
    w.case("absent bias", op, attrs(), [x, y, None], [expect(x, y, 0, 0)], tol=LOOSE)
    w.case("constant second and bias", op, attrs(), [x, const(y), const(bias)], [expect(x, y, 0, 0, bias)], tol=LOOSE)
    for kind, title in enumerate(ACTIVATIONS):
        if kind in (4, 5, 14, 16):
            refuse(w, "fused " + title, op, attrs(kind=kind), [x, y], "INVALID_PARAMETER")
        elif kind:
            w.case("fused %s with bias" % title, op, attrs(kind=kind), [x[0], y, bias],
                   [expect(x[0], y, 0, 0, bias, kind)], tol=LOOSE)
    refuse(w, "inner extents differ", op, attrs(), [some((2, 3)), some((2, 3))], "INVALID_SHAPE")
    refuse(w, "inner extents differ after transposing", op, attrs(True), [some((2, 3)), some((3, 2))], "INVALID_SHAPE")
    refuse(w, "leading extents differ", op, attrs(), [some((2, 2, 2)), some((3, 2, 2))], "INVALID_SHAPE")
    refuse(w, "scalar", op, attrs(), [np.array(1, f32), some((2, 2))], "INVALID_SHAPE")
    refuse(w, "bias of another length", op, attrs(), [x, y, some((3,))], "INVALID_SHAPE")
    refuse(w, "float32 and float16", op, attrs(), [x, y.astype(f16)], "INVALID_DATATYPE")
    refuse(w, "int32", op, attrs(), [some((2, 2), np.int32), some((2, 2), np.int32)], "INVALID_DATATYPE")
    refuse(w, "one input", op, attrs(), [x], "INVALID_INPUT")
    refuse(w, "absent input", op, attrs(), [None, y], "NULL_PTR")


def make_layer_norm(w):
    op = "LAYER_NORM_FUSION"

    def expect(x, gamma, beta, norm, epsilon, affine=True):
        y = F.layer_norm(tensor(x), x.shape[norm:], None, None, float(f32(epsilon)))
        return rounded(y * tensor(gamma) + tensor(beta) if affine else y, x)

    def attrs(norm, params, epsilon, affine=True):
        return {"beginNormAxis": norm, "epsilon": epsilon, "elementwiseAffine": affine, "beginParamsAxis": params}

    plans = [((2, 4), 1, 1), ((2, 4), -1, -1), ((3, 2, 4), 2, 2), ((3, 2, 4), 1, 1), ((3, 2, 4), 1, 2),
             ((3, 2, 4), -2, -2), ((3, 2, 4), 2, 1),
             ((2, 3), 0, 0), ((5,), 0, 0), ((1, 2, 2, 3), 3, 3), ((1, 2, 2, 3), 1, 3), ((1, 2, 2, 3), -3, -1),
             ((2, 1, 2, 1, 3), 2, 4)]
    for n, (shape, norm, params) in enumerate(plans):
        for affine in (True, False):
            dtype = FLOATS[(n + affine) % 3]
            epsilon = (1e-5, 1e-7, 0.25)[n % 3]
            x = some(shape, dtype)
            gamma, beta = some(shape[params:], dtype), some(shape[params:], dtype)
            title = "%s %s axes %d %d%s" % (name_of(dtype), list(shape), norm, params, "" if affine else " not affine")
            w.case(title, op, attrs(norm, params, epsilon, affine), [x, gamma, beta],
                   [expect(x, gamma, beta, norm, epsilon, affine)],
                   tol=loose(dtype))
    x, one, none = np.array([[10000, 10000.5, 10001], [-3000, -3000.5, -3001]], f32), np.ones(3, f32), np.zeros(3, f32)
    w.case("large mean needs two passes", op, attrs(1, 1, 1e-5), [x, one, none], [expect(x, one, none, 1, 1e-5)],
           tol=LOOSE)
    w.case("all equal", op, attrs(1, 1, 1e-5), [np.full((2, 3), 7, f32), one, none + 2], [np.full((2, 3), 2, f32)],
           tol=LOOSE)
    w.case("constant gamma and beta", op, attrs(1, 1, 1e-5), [x, const(one), const(none)],
           [expect(x, one, none, 1, 1e-5)], tol=LOOSE)
    plain = attrs(1, 1, 1e-5)
    refuse(w, "norm axis 2 of rank 2", op, attrs(2, 1, 1e-5), [x, one, none], "INVALID_PARAMETER")
    refuse(w, "norm axis -3 of rank 2", op, attrs(-3, 1, 1e-5), [x, one, none], "INVALID_PARAMETER")
    refuse(w, "params axis 2 of rank 2", op, attrs(1, 2, 1e-5), [x, one, none], "INVALID_PARAMETER")
    refuse(w, "gamma of another length", op, plain, [x, some((2,)), none], "INVALID_SHAPE")
    refuse(w, "beta of another length", op, plain, [x, one, some((4,))], "INVALID_SHAPE")
    refuse(w, "int32", op, plain, [some((2, 3), np.int32), one, none], "INVALID_DATATYPE")
    refuse(w, "absent x", op, plain, [None, one, none], "NULL_PTR")
    refuse(w, "four inputs", op, plain, [x, one, none, none], "INVALID_INPUT")


def make_softmax(w):
    op = "SOFTMAX"
    for n, shape in enumerate(((5,), (2, 4), (2, 3, 2), (1, 2, 2, 3), (2, 1, 2, 1, 2))):
        for axis in range(-len(shape), len(shape)):
            dtype = FLOATS[(n + axis) % 3]
            x = some(shape, dtype)
            w.case("%s %s axis %d" % (name_of(dtype), list(shape), axis), op, {"axis": [axis]}, [x],
                   [rounded(torch.softmax(tensor(x), axis).numpy(), dtype)], tol=EXACT64 if dtype == f64 else None)
    x = np.array([[1000, 1001, 999], [-1000, -1001, -999], [88, -88, 0], [3e38, -3e38, 0]], f32)
    w.case("large values", op, {"axis": [-1]}, [x], [rounded(torch.softmax(tensor(x), -1).numpy(), f32)])
    x = np.array([[-np.inf, 0, 1], [np.nan, 0, 1]], f32)
    w.case("minus infinity and NaN", op, {"axis": [1]}, [x], [rounded(torch.softmax(tensor(x), -1).numpy(), f32)])
    x = some((2, 3))
    w.case("empty list is the last axis", op, {"axis": []}, [x], [rounded(torch.softmax(tensor(x), -1).numpy(), f32)])
    w.case("extent 1", op, {"axis": [1]}, [some((3, 1))], [np.ones((3, 1), f32)])
    w.case("NCHW counts the axis in its own order", op, {"axis": [1]}, [x.reshape(1, 3, 2, 1)],
           [rounded(torch.softmax(tensor(x.reshape(1, 3, 2, 1)), 1).numpy(), f32)], fmt="NCHW")
    w.case("no rows", op, {"axis": [1]}, [np.zeros((0, 3), f32)], [np.zeros((0, 3), f32)])
    refuse(w, "axis 2 of rank 2", op, {"axis": [2]}, [x], "INVALID_PARAMETER")
    refuse(w, "axis -3 of rank 2", op, {"axis": [-3]}, [x], "INVALID_PARAMETER")
    refuse(w, "two axes", op, {"axis": [0, 1]}, [x], "INVALID_PARAMETER")
    refuse(w, "int32", op, {"axis": [0]}, [some((2,), np.int32)], "INVALID_DATATYPE")
    refuse(w, "absent input", op, {"axis": [0]}, [None], "NULL_PTR")
    refuse(w, "two inputs", op, {"axis": [0]}, [x, x], "INVALID_INPUT")


# ---------------------------------------------------------------- reductions

MODES = ["mean", "max", "min", "prod", "sum", "sum of squares", "asum", "all", "L2"]
MEAN, MAX, MIN, PROD, SUM, SUM_SQUARE, ASUM, ALL, L2 = range(9)


def reduce_float(x, axes, keep, mode):
    v, args = wide(x), dict(axis=axes, keepdims=keep)
    return {MEAN: lambda: np.mean(v, **args), MAX: lambda: np.max(v, **args), MIN: lambda: np.min(v, **args),
            PROD: lambda: np.prod(v, **args), SUM: lambda: np.sum(v, **args), SUM_SQUARE: lambda: np.sum(v * v, **args),
            ASUM: lambda: np.sum(np.abs(v), **args), ALL: lambda: np.all(v != 0, **args).astype(f64),
            L2: lambda: np.sqrt(np.sum(v * v, **args))}[mode]()


def reduce_whole(x, axes, keep, mode):
    """Python integers, stored modulo 2^n."""
    v, args = np.array(x.astype(object)), dict(axis=axes, keepdims=keep)
    if mode == MEAN:
        n = x.size // max(1, np.sum(v, **args).size if isinstance(np.sum(v, **args), np.ndarray) else 1)
        y = np.vectorize(lambda s: toward_zero(int(s), n), otypes=[object])(np.sum(v, **args))
    else:
        y = {MAX: np.max, MIN: np.min, PROD: np.prod, SUM: np.sum, SUM_SQUARE: lambda a, **k: np.sum(a * a, **k),
             ASUM: lambda a, **k: np.sum(np.abs(a), **k), ALL: lambda a,
             **k: np.all(a != 0, **k).astype(int)}[mode](v, **args)
    return wrap(np.asarray(y, object), x.dtype)


def reduced(x, axes, keep, mode):
    return reduce_whole(x, axes, keep, mode) if x.dtype.kind in "iu" else rounded(reduce_float(x, axes, keep, mode), x)


def make_reduce(w):
    op = "REDUCE_FUSION"

    def attrs(mode, keep=False, end=False, coeff=0.0):
        return {"keepDims": keep, "mode": mode, "reduceToEnd": end, "coeff": coeff}

    def listed(values, dtype=np.int32):
        return const(np.array(values, dtype))

    plans = [((2, 3), [1], False), ((2, 3), [0], True), ((2, 3, 2), [1], True), ((2, 3, 2), [0, 2], False),
             ((2, 3, 2), [-1, -3], True),
             ((1, 3, 2, 2), [1, 2], True), ((2, 1, 2, 1, 2), [0, 1, 4], False), ((5,), [0], False)]
    for mode, title in enumerate(MODES):
        for n, (shape, axes, keep) in enumerate(plans):
            dtype = FLOATS[(n + mode) % 3]
            x = some(shape, dtype, -8, 8, 0.25)
            w.case("%s %s %s axes %s%s" % (title, name_of(dtype), list(shape), axes, " kept" if keep else ""), op,
                   attrs(mode, keep),
                   [x, listed(axes, (np.int32, np.int64)[n % 2])], [reduced(x, tuple(axes), keep, mode)])
        x = some((2, 2, 3))
        w.case("%s without axes" % title, op, attrs(mode), [x], [reduced(x, None, False, mode)])
        w.case("%s with absent axes kept" % title, op, attrs(mode, True), [x, None], [reduced(x, None, True, mode)])
        w.case("%s to the end" % title, op, attrs(mode, False, True), [x, listed([1])],
               [reduced(x, (1, 2), False, mode)])
        if mode != L2:
            for dtype in (np.int32, ((np.int8, np.int16, np.int64) + UNSIGNED)[mode % 7]):
                x = some((3, 4), dtype, -9, 9)
                w.case("%s %s rows" % (title, name_of(dtype)), op, attrs(mode), [x, listed([1])],
                       [reduced(x, (1,), False, mode)])
    x = some((2, 3, 2))
    w.case("empty list of axes is all", op, attrs(SUM), [x, listed([])], [reduced(x, None, False, SUM)])
    w.case("axes as a scalar", op, attrs(SUM), [x, listed(-2)], [reduced(x, (1,), False, SUM)])
    w.case("to the end ignores later axes", op, attrs(SUM, True, True), [x, listed([1, 0])],
           [reduced(x, (1, 2), True, SUM)])
    w.case("to the end with factor", op, attrs(MEAN, False, True, 2.5), [x, listed([1])],
           [rounded(2.5 * reduce_float(x, (1, 2), False, MEAN), f32)])
    w.case("to the end with factor kept", op, attrs(SUM, True, True, -0.5), [x, listed([-1])],
           [rounded(-0.5 * reduce_float(x, (2,), True, SUM), f32)])
    w.case("factor of 1e-6 is none", op, attrs(SUM, False, True, 1e-6), [x, listed([1])],
           [reduced(x, (1, 2), False, SUM)])
    w.case("factor without to the end is none", op, attrs(SUM, False, False, 2.0), [x, listed([1])],
           [reduced(x, (1,), False, SUM)])
    deep = some((1, 2, 1, 2, 1, 2, 1, 2))
    w.case("rank 8", op, attrs(SUM), [deep, listed([1, 4, 7])], [reduced(deep, (1, 4, 7), False, SUM)])
    w.case("scalar", op, attrs(MAX), [np.array(3, f32)], [np.array(3, f32)])
    w.case("integer mean toward zero", op, attrs(MEAN),
           [np.array([[-7, 0], [7, 0], [-1, -2], [1, -2]], np.int32), listed([1])],
           [np.array([-3, 3, -1, 0], np.int32)])
    for dtype in INTEGERS:
        i = np.iinfo(dtype)
        v = np.array([[i.max, 1, 3], [i.min, i.max, i.max], [i.min, i.min, 5]], dtype)
        for mode in (SUM, PROD, SUM_SQUARE, ASUM):
            w.case("%s %s wraps" % (MODES[mode], name_of(dtype)), op, attrs(mode), [v, listed([1])],
                   [reduced(v, (1,), False, mode)])
    truth = np.array([[True, True], [True, False], [False, False]])
    w.case("all bool", op, attrs(ALL), [truth, listed([1])], [np.all(truth, 1)])
    w.case("all bool kept", op, attrs(ALL, True), [truth, listed([0])], [np.all(truth, 0, keepdims=True)])
    w.case("all float32 with NaN", op, attrs(ALL), [np.array([[np.nan, 1], [0, -0.0], [1e-40, 2]], f32), listed([1])],
           [np.array([1, 0, 1], f32)])
    inf = np.array([[np.inf, 1, -2], [-np.inf, 3, 0]], f32)
    for mode in (MAX, MIN, SUM, ASUM, SUM_SQUARE, L2):
        w.case("%s with infinities" % MODES[mode], op, attrs(mode), [inf, listed([1])],
               [reduced(inf, (1,), False, mode)])
    none = np.zeros((2, 0), f32)
    for mode, value in ((SUM, 0), (SUM_SQUARE, 0), (ASUM, 0), (L2, 0), (PROD, 1), (ALL, 1), (MEAN, np.nan)):
        w.case("%s of an empty set" % MODES[mode], op, attrs(mode), [none, listed([1])], [np.full(2, value, f32)])
    w.case("l2 int32 is cut", op, attrs(L2), [np.array([[3, 4], [0, 0], [1, 1], [-2, 2]], np.int32), listed([1])],
           [np.array([5, 0, 1, 2], np.int32)])
    for dtype in SIGNED:
        below = np.array([[-3, -1], [-7, -8]], dtype)
        w.case("max %s below zero" % name_of(dtype), op, attrs(MAX), [below, listed([1])],
               [reduced(below, (1,), False, MAX)])
    apart = np.array([[[1, -5], [2, 3], [4, 4]], [[7, 2], [-2, 1], [3, -6]]], np.int32)
    for mode in (SUM, MAX, MIN, PROD):
        w.case("%s int32 over axes apart" % MODES[mode], op, attrs(mode), [apart, listed([0, 2])],
               [reduced(apart, (0, 2), False, mode)])
    w.case("sum int32 of an empty set", op, attrs(SUM, True), [none.astype(np.int32), listed([1])],
           [np.zeros((2, 1), np.int32)])
    w.case("all bool of an empty set", op, attrs(ALL), [none.astype(bool), listed([1])], [np.array([True, True])])
    w.case("sum of no rows", op, attrs(SUM), [np.zeros((0, 3), f32), listed([1])], [np.zeros(0, f32)])
    for title, mode, v in (("max", MAX, none), ("min", MIN, none), ("int32 mean", MEAN, none.astype(np.int32))):
        refuse(w, title + " of an empty set", op, attrs(mode), [v, listed([1])], "INVALID_SHAPE")
    refuse(w, "axis 3 of rank 3", op, attrs(SUM), [x, listed([3])], "INVALID_PARAMETER")
    refuse(w, "axis -4 of rank 3", op, attrs(SUM), [x, listed([-4])], "INVALID_PARAMETER")
    refuse(w, "an axis twice", op, attrs(SUM), [x, listed([1, -2])], "INVALID_PARAMETER")
    refuse(w, "mode 9", op, attrs(9), [x, listed([1])], "INVALID_PARAMETER")
    refuse(w, "float32 axes", op, attrs(SUM), [x, listed([1], f32)], "INVALID_DATATYPE")
    refuse(w, "axes of rank 2", op, attrs(SUM), [x, listed([[1]])], "INVALID_SHAPE")
    refuse(w, "rank 9", op, attrs(SUM), [np.ones((1,) * 9, f32)], "INVALID_SHAPE")
    refuse(w, "three inputs", op, attrs(SUM), [x, listed([1]), listed([1])], "INVALID_INPUT")
    refuse(w, "absent input", op, attrs(SUM), [None, listed([1])], "NULL_PTR")


# ---------------------------------------------------------------- Resize

LINEAR, NEAREST, CUBIC = range(3)
ASYMMETRIC, ALIGN_CORNERS, HALF_PIXEL = range(3)
COORDINATES = ["asymmetric", "align corners", "half pixel"]
ROUNDINGS = ["half away", "half down", "half up", "floor", "ceil"]

try:  # a second implementation to compare with; its files are not needed to write the vectors
    from onnx.backend.test.case.node import resize as onnx_resize
except ImportError:
    onnx_resize = None


def source_coordinate(i, length, new, ratio, mode):
    if mode == ASYMMETRIC:
        return i * ratio
    if new == 1:
        return Fraction(0)
    if mode == ALIGN_CORNERS:
        return Fraction(i * (length - 1), new - 1)
    return (i + Fraction(1, 2)) * ratio - Fraction(1, 2)


def nearest_index(c, rounding):
    half = Fraction(1, 2)
    return {0: math.floor(c + half), 1: math.ceil(c - half), 2: math.floor(c + half), 3: math.floor(c),
            4: math.ceil(c)}[rounding]


def cubic_weight(d, a):
    d = abs(d)
    if d <= 1:
        return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1
    return a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a if d < 2 else Fraction(0)


def resize_matrix(length, new, ratio, method, mode, rounding, a, exclude):
    """Row i: the weights of the input cells in output cell i, in exact fractions."""
    m = np.zeros((new, length))
    for i in range(new):
        c = source_coordinate(i, length, new, ratio, mode)
        if method == NEAREST:
            m[i, min(max(nearest_index(max(c, Fraction(0)), rounding), 0), length - 1)] = 1
            continue
        c = max(c, Fraction(0)) if method == LINEAR else c
        first, t = math.floor(c), c - math.floor(c)
        taps = [(first, 1 - t), (first + 1, t)] if method == LINEAR else [(first + k,
                                                                           cubic_weight(t - k, a)) for k in (-1, 0, 1,
                                                                                                             2)]
        if method == CUBIC and exclude:
            taps = [(k, weight) for k, weight in taps if 0 <= k < length]
            taps = [(k, weight / sum(v for _, v in taps)) for k, weight in taps]
        for k, weight in taps:
            m[i, min(max(k, 0), length - 1)] += float(weight)
    return m


def resize_expect(x, size, method, mode, rounding=0, coefficient=0.0, exclude=0, scales=None):
    """x [N,H,W,C]; scales (height, width) as float32 numbers or None."""
    a = Fraction(float(f32(coefficient))) if coefficient else Fraction(-1, 2) if mode == HALF_PIXEL else Fraction(-3, 4)
    ratios = [1 / Fraction(float(s)) for s in scales] if scales else [Fraction(x.shape[1 + k], size[k]) for k in (0, 1)]
    rows, columns = (resize_matrix(x.shape[1 + k], size[k], ratios[k], method, mode, rounding, a,
                                   exclude) for k in (0, 1))
    y = np.einsum("ih,nhwc,jw->nijc", rows, wide(x), columns)
    if onnx_resize is not None and min(size) > 1 and scales is None and method != NEAREST:
        shape = onnx_resize.linear_coeffs if method == LINEAR else lambda t: onnx_resize.cubic_coeffs(t, float(a))
        again = onnx_resize.interpolate_nd(wide(x)[0, :, :, 0], shape, output_size=list(size),
                                           exclude_outside=bool(exclude),
                                           coordinate_transformation_mode=("asymmetric", "align_corners",
                                                                           "half_pixel")[mode])
        assert np.allclose(y[0, :, :, 0], again, atol=1e-9), (size, method, mode)
    if method == LINEAR and min(size) > 1 and mode != ASYMMETRIC and scales is None:
        again = F.interpolate(tensor(x).permute(0, 3, 1, 2), size=size, mode="bilinear",
                              align_corners=mode == ALIGN_CORNERS)
        assert np.allclose(y, again.permute(0, 2, 3, 1).numpy(), atol=1e-9)
    if method == NEAREST and min(size) > 1 and scales is None and (mode, rounding) in ((ASYMMETRIC, 3),
                                                                                       (HALF_PIXEL, 2)):
        again = F.interpolate(tensor(x).permute(0, 3, 1, 2), size=size,
                              mode="nearest" if mode == ASYMMETRIC else "nearest-exact")
        assert np.array_equal(y, again.permute(0, 2, 3, 1).numpy())
    return rounded(y, x)


def resize_attrs(size, method, mode, rounding=0, coefficient=0.0, exclude=0):
    return {"method": method, "newHeight": size[0], "newWidth": size[1], "preserveAspectRatio": False,
            "coordinateTransformMode": mode, "cubicCoeff": coefficient, "excludeOutside": exclude,
            "extrapolationValue": 0.0,
            "nearestMode": rounding}


def make_resize(w):
    op = "RESIZE"
    plans = [((1, 2, 3, 2), (4, 5)), ((1, 5, 4, 1), (3, 2)), ((2, 3, 3, 1), (3, 3)), ((1, 4, 3, 1), (1, 1)),
             ((1, 1, 1, 2), (2, 3)), ((1, 3, 5, 1), (7, 2))]
    for n, (shape, size) in enumerate(plans):
        for mode in range(3):
            for method, title in ((LINEAR, "linear"), (CUBIC, "cubic")):
                dtype = f16 if (n + mode + method) % 4 == 3 else f32
                x = some(shape, dtype)
                both_layouts(w, "%s %s %s %s to %s" % (title, COORDINATES[mode], name_of(dtype), list(shape),
                                                       list(size)), op,
                             resize_attrs(size, method, mode), [x], [resize_expect(x, size, method, mode)],
                             tol=loose(dtype))
            for rounding in range(5):
                x = some(shape, (f32, f16)[rounding % 2])
                w.case("nearest %s %s %s to %s" % (COORDINATES[mode], ROUNDINGS[rounding], list(shape), list(size)), op,
                       resize_attrs(size, NEAREST, mode, rounding), [x],
                       [resize_expect(x, size, NEAREST, mode, rounding)])
    x = some((1, 4, 4, 1))
    for mode in range(3):
        for coefficient, exclude in ((-0.5, 0), (-0.75, 0), (-0.25, 0), (-1.0, 1), (0.0, 1)):
            w.case("cubic %s coefficient %g%s" % (COORDINATES[mode], coefficient,
                                                  " excluding outside" if exclude else ""), op,
                   resize_attrs((6, 3), CUBIC, mode, 0, coefficient, exclude), [x],
                   [resize_expect(x, (6, 3), CUBIC, mode, 0, coefficient, exclude)], tol=LOOSE)
    x = some((1, 3, 3, 2), f64)
    w.case("linear float64", op, resize_attrs((5, 4), LINEAR, HALF_PIXEL), [x],
           [resize_expect(x, (5, 4), LINEAR, HALF_PIXEL)], tol=EXACT64)
    x = some((1, 2, 3, 2))
    for dtype in (np.int32, np.int64):
        w.case("size from the input %s" % name_of(dtype), op, resize_attrs((9, 9), LINEAR, ASYMMETRIC),
               [x, const(np.array([3, 2], dtype))],
               [resize_expect(x, (3, 2), LINEAR, ASYMMETRIC)], tol=LOOSE)
    w.case("size input absent", op, resize_attrs((3, 2), LINEAR, ASYMMETRIC), [x, None],
           [resize_expect(x, (3, 2), LINEAR, ASYMMETRIC)], tol=LOOSE)
    y = resize_expect(x, (3, 2), NEAREST, ASYMMETRIC, 3)
    w.case("size from the input NCHW", op, resize_attrs((9, 9), NEAREST, ASYMMETRIC, 3),
           [nchw(x), const(np.array([3, 2], np.int32))], [nchw(y)], fmt="NCHW")
    x = some((1, 3, 5, 1))
    for height, width in ((2, 2), (0.5, 1.5), (1.25, 0.75), (1, 1), (2.5, 0.4)):
        pair = (f32(height), f32(width))
        size = tuple(int(math.floor(f32(extent) * scale)) for extent, scale in zip(x.shape[1:3], pair))
        size = tuple(max(1, s) for s in size)
        for method, mode, rounding in ((LINEAR, HALF_PIXEL, 0), (LINEAR, ASYMMETRIC, 0), (CUBIC, HALF_PIXEL, 0),
                                       (LINEAR, ALIGN_CORNERS, 0), (NEAREST, ASYMMETRIC, 3)):
            if method == NEAREST and width == 0.4:
                continue  # 1/float32(0.4) lies beside an integer step
            y = resize_expect(x, size, method, mode, rounding, scales=pair)
            name = "scales %g %g %s %s" % (height, width, ("linear", "nearest", "cubic")[method], COORDINATES[mode])
            attrs = resize_attrs((9, 9), method, mode, rounding)
            w.case(name, op, attrs, [x, const(np.array([1, height, width, 1], f32))], [y], tol=LOOSE)
            if method == LINEAR and mode == HALF_PIXEL:
                w.case(name + " NCHW", op, attrs, [nchw(x), const(np.array([1, 1, height, width], f32))], [nchw(y)],
                       fmt="NCHW", tol=LOOSE)
    good = resize_attrs((2, 2), NEAREST, ASYMMETRIC)
    refuse(w, "method unknown", op, {**good, "method": -1}, [x], "INVALID_PARAMETER")
    refuse(w, "method 3", op, {**good, "method": 3}, [x], "INVALID_PARAMETER")
    refuse(w, "coordinate mode 3", op, {**good, "coordinateTransformMode": 3}, [x], "INVALID_PARAMETER")
    refuse(w, "nearest mode 5", op, {**good, "nearestMode": 5}, [x], "INVALID_PARAMETER")
    refuse(w, "height 0", op, {**good, "newHeight": 0}, [x], "INVALID_PARAMETER")
    refuse(w, "width -1", op, {**good, "newWidth": -1}, [x], "INVALID_PARAMETER")
    refuse(w, "excludeOutside 2", op, {**good, "excludeOutside": 2}, [x], "INVALID_PARAMETER")
    refuse(w, "rank 3", op, good, [x[0]], "INVALID_SHAPE")
    refuse(w, "int32", op, good, [some((1, 2, 2, 1), np.int32)], "INVALID_DATATYPE")
    refuse(w, "bool size", op, good, [x, const(np.array([True, True]))], "INVALID_DATATYPE")
    refuse(w, "three inputs", op, good, [x, None, None], "INVALID_INPUT")
    refuse(w, "absent x", op, good, [None], "NULL_PTR")
    for scale in (0.0, 0.25, -2.0, 1e9, np.nan):  # 3 rows would become less than one, or more than there are numbers
        refuse(w, "scale %g" % scale, op, good, [x, const(np.array([1, scale, 1, 1], f32))], "INVALID_PARAMETER")


# ---------------------------------------------------------------- largest elements

def order(line):
    """Positions by falling value, equal ones by rising position, NaN last."""
    return sorted(range(len(line)), key=lambda i: (line[i] != line[i], 0 if line[i] != line[i] else -line[i].item(), i))


def largest(x, axis, k, by_position=False):
    """Values and positions of the k largest along axis, which stays with extent k."""
    lines = np.moveaxis(x, axis, -1)
    at = np.zeros(lines.shape[:-1] + (k,), np.int64)
    for i in np.ndindex(lines.shape[:-1]):
        chosen = order(lines[i])[:k]
        at[i] = sorted(chosen) if by_position else chosen
    values = np.take_along_axis(lines, at, -1)
    return np.moveaxis(values, -1, axis), np.moveaxis(at, -1, axis)


def tie_values(dtype):
    if np.dtype(dtype).kind == "f":
        return np.array([[1, 3, 3, -1, 2], [np.nan, -np.inf, 0, -0.0, np.nan], [5, np.inf, np.inf, np.nan, 5],
                         [np.nan] * 5], dtype)
    i = np.iinfo(dtype)
    return np.array([[1, 3, 3, 0, 2], [i.min, i.max, i.max - 1, i.max, i.min], [i.min] * 5, [7, 6, 5, 6, 7]], dtype)


def make_argmax(w):
    op = "ARGMAX_FUSION"

    def attrs(axis, k=1, keep=False, values=False):
        return {"axis": axis, "topK": k, "keepDims": keep, "outMaxValue": values}

    def go(name, x, axis, k=1, keep=False, values=False, index=np.int32, both=False):
        v, at = largest(x, axis, k)
        if k == 1 and not np.isnan(wide(x)).any():
            assert np.array_equal(np.squeeze(at, axis), np.argmax(x, axis))
        if k == 1 and not keep:
            v, at = np.squeeze(v, axis), np.squeeze(at, axis)
        w.case(name, op, attrs(axis, k, keep, values), [x],
               [at.astype(index), v] if both else [v if values else at.astype(index)])

    for dtype in NUMBERS:
        x = tie_values(dtype)
        go("%s ties" % name_of(dtype), x, 1)
        go("%s ties top 3 values" % name_of(dtype), x, -1, 3, values=True)
    for n, shape in enumerate(((4,), (2, 3), (3, 2, 2), (1, 2, 3, 2), (2, 1, 2, 1, 3))):
        for axis in range(-len(shape), len(shape)):
            go("%s axis %d%s" % (list(shape), axis, " kept" if axis % 2 else ""), some(shape, FLOATS[n % 3], -4, 4, 1),
               axis,
               keep=bool(axis % 2), index=(np.int32, np.int64)[n % 2])
    x = some((2, 4, 3), f32, -3, 3, 1)
    for k in (2, 4):
        go("top %d of axis 1" % k, x, 1, k)
        go("top %d of axis 1 kept" % k, x, 1, k, keep=True)
        go("top %d of axis 1 int64" % k, x, 1, k, index=np.int64)
        go("top %d of axis 1 two outputs" % k, x, 1, k, both=True)
    go("values", x, 1, values=True)
    go("values kept", x, -1, keep=True, values=True)
    go("two outputs", x, 0, both=True)
    go("two outputs kept", x, 0, keep=True, both=True)
    go("two outputs int64", x, 2, both=True, index=np.int64)
    big = np.array([2 ** 53, 2 ** 53 + 1, 2 ** 53 - 1], np.int64)
    go("int64 beyond float64", big, 0)
    go("uint64 beyond float64", np.array([2 ** 64 - 2, 2 ** 64 - 1, 2 ** 64 - 3], np.uint64), 0)
    go("no rows", np.zeros((0, 3), f32), 1)
    w.case("extent 1", op, attrs(1), [some((2, 1))], [np.zeros(2, np.int32)])
    refuse(w, "topK 0", op, attrs(0, 0), [x], "INVALID_PARAMETER")
    refuse(w, "topK larger than the extent", op, attrs(1, 5), [x], "INVALID_PARAMETER")
    refuse(w, "axis 3 of rank 3", op, attrs(3), [x], "INVALID_PARAMETER")
    refuse(w, "axis -4 of rank 3", op, attrs(-4), [x], "INVALID_PARAMETER")
    refuse(w, "bool", op, attrs(0), [np.array([True, False])], "INVALID_DATATYPE")
    refuse(w, "two inputs", op, attrs(0), [x, x], "INVALID_INPUT")
    refuse(w, "absent input", op, attrs(0), [None], "NULL_PTR")


def make_topk(w):
    op = "TOPK_FUSION"

    def go(name, x, axis, k, in_order=True, index=np.int32, k_type=np.int32):
        v, at = largest(x, axis, k, not in_order)
        if in_order and k and not np.isnan(wide(x)).any():
            assert np.array_equal(wide(v), torch.topk(tensor(x), k, axis).values.numpy()) or x.dtype.itemsize == 8
        w.case(name, op, {"sorted": in_order, "axis": axis}, [x, const(np.array([k], k_type))], [v, at.astype(index)])

    for dtype in NUMBERS:
        x = tie_values(dtype)
        for k in (2, 4):
            go("%s ties %d" % (name_of(dtype), k), x, 1, k)
            go("%s ties %d by position" % (name_of(dtype), k), x, 1, k, False)
    for n, shape in enumerate(((4,), (2, 3), (3, 2, 2), (1, 2, 3, 2), (2, 1, 2, 1, 3))):
        for axis in range(-len(shape), len(shape)):
            k = max(1, shape[axis] - (axis % 2))
            go("%s axis %d k %d" % (list(shape), axis, k), some(shape, FLOATS[n % 3], -4, 4, 1), axis, k,
               (n + axis) % 3 != 0,
               (np.int32, np.int64)[n % 2], (np.int32, np.int64)[axis % 2])
    x = some((3, 4), f32, -3, 3, 1)
    w.case("default attributes", op, {}, [x, const(np.array([2], np.int32))],
           [y if n == 0 else y.astype(np.int32) for n, y in enumerate(largest(x, -1, 2))])
    go("k 0", x, 1, 0)
    go("no rows", np.zeros((0, 3), f32), 1, 2)
    go("int64 beyond float64", np.array([2 ** 53, 2 ** 53 + 1, 2 ** 53 - 1], np.int64), 0, 2)
    plain = {"sorted": True, "axis": 1}
    two = const(np.array([2], np.int32))
    refuse(w, "k larger than the extent", op, plain, [x, const(np.array([5], np.int32))], "INVALID_PARAMETER")
    refuse(w, "k negative", op, plain, [x, const(np.array([-1], np.int32))], "INVALID_PARAMETER")
    refuse(w, "axis 2 of rank 2", op, {"sorted": True, "axis": 2}, [x, two], "INVALID_PARAMETER")
    refuse(w, "axis -3 of rank 2", op, {"sorted": True, "axis": -3}, [x, two], "INVALID_PARAMETER")
    refuse(w, "float32 k", op, plain, [x, const(np.array([2], f32))], "INVALID_DATATYPE")
    refuse(w, "two values of k", op, plain, [x, const(np.array([2, 1], np.int32))], "INVALID_SHAPE")
    refuse(w, "bool", op, plain, [np.array([[True, False]]), two], "INVALID_DATATYPE")
    refuse(w, "one input", op, plain, [x], "INVALID_INPUT")
    refuse(w, "absent k", op, plain, [x, None], "NULL_PTR")


# ---------------------------------------------------------------- all files

FORMULA = "short formulas in the script, as no library has these conventions; "
FILES = {
    "ACTIVATION": (make_activation, "torch.nn.functional in float64"),
    **{op: (make_arithmetic(op), "numpy in float64; integers: Python integers modulo 2^n") for op in ARITHMETIC},
    "ELTWISE": (make_eltwise, "numpy in float64; integers: Python integers modulo 2^n"),
    "POW_FUSION": (make_pow, "numpy.power in float64; integers: math.pow toward zero"),
    "LESS_EQUAL": (make_less_equal, "numpy.less_equal"),
    "RSQRT": (make_root("RSQRT", lambda v: 1 / np.sqrt(v)), "numpy in float64"),
    "SQRT": (make_root("SQRT", np.sqrt), "numpy in float64"),
    "EXPFUSION": (make_exp, "numpy.power in float64"),
    "CAST": (make_cast, "numpy; to integers Python's int, saturating, which no library does; equal to numpy elsewhere"),
    "QUANT_DTYPE_CAST": (make_quant, FORMULA + "equal to torch.quantize_per_tensor away from halves"),
    "PRELU_FUSION": (make_prelu, "torch.nn.functional.prelu in float64"),
    "BIAS_ADD": (make_bias_add, "numpy in float64; integers: Python integers modulo 2^n"),
    "SCALE_FUSION": (make_scale, "numpy in float64"),
    "FUSED_BATCH_NORM": (make_batch_norm, "torch.nn.functional.batch_norm in float64"),
    "CONV2D_FUSION": (make_conv, "torch.nn.functional.conv2d in float64"),
    "CONV2D_TRANSPOSE_FUSION": (make_conv_transpose, "torch.nn.functional.conv_transpose2d in float64"),
    "AVGPOOL_FUSION": (make_pool("AVGPOOL_FUSION", lambda *a: (average_expect(*a),)),
                       "torch.nn.functional.avg_pool2d in float64"),
    "MAX_POOL_FUSION": (make_pool("MAX_POOL_FUSION", maximum_expect), "torch.nn.functional.max_pool2d in float64"),
    "FULL_CONNECTION": (make_full_connection, "torch.nn.functional.linear in float64"),
    "MATMUL_FUSION": (make_matmul, "numpy.matmul in float64, compared with torch.matmul"),
    "LAYER_NORM_FUSION": (make_layer_norm, "torch.nn.functional.layer_norm in float64"),
    "SOFTMAX": (make_softmax, "torch.softmax in float64"),
    "REDUCE_FUSION": (make_reduce, "numpy in float64; integers: Python integers modulo 2^n"),
    "RESIZE": (make_resize, FORMULA + "compared with onnx and torch where those have them"),
    "ARGMAX_FUSION": (make_argmax, "Python's sorted; compared with numpy.argmax"),
    "TOPK_FUSION": (make_topk, "Python's sorted; compared with torch.topk"),
}
LATER = ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH", "AVGPOOL_INCLUDE_PAD", "PAD_EDGE", "GATHER_ND", "SCATTER_ND", "LRN",
         "INSTANCE_NORM", "LSTM")
ROUGH = ("CONV2D_FUSION", "CONV2D_TRANSPOSE_FUSION", "RESIZE", "LAYER_NORM_FUSION")


def convert_spec(w, path):
    """The worked cases of the specification; every input but the first is a constant there."""
    with open(path, encoding="utf-8") as f:
        cases = json.load(f)["cases"]

    def read(entry, constant):
        quant = [(q["numBits"], q["zeroPoint"], q["scale"]) for q in entry.get("quantParams", [])]
        return Tensor(np.array(entry["data"], entry["dtype"]).reshape(entry["shape"]), constant, quant)

    for case in cases:
        if case["op"] not in LATER:
            w.case(case["name"], case["op"], case["attrs"],
                   [read(t, n > 0) if t else None for n, t in enumerate(case["inputs"])],
                   [read(t, False) for t in case["outputs"]], tol=LOOSE if case["op"] in ROUGH else None)


def main(arguments):
    spec = None
    if len(arguments) > 1 and arguments[0] == "--spec":
        spec, arguments = arguments[1], arguments[2:]
    folder = arguments[0] if arguments else os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors")
    total = np.zeros(3, int)
    jobs = [(op.lower(), make, "Expected values: " + source + ".") for op, (make, source) in FILES.items()]
    if spec:
        jobs.append(("spec", lambda w: convert_spec(w, spec),
                     "The worked cases of the specification, wave 1, converted."))
    for name, make, header in jobs:
        global random
        random = np.random.default_rng(20)  # every file by itself: a new case changes one file only
        w = VecWriter(os.path.join(folder, name + ".vec"), "Written by make_vectors_compute.py; do not edit. " + header)
        make(w)
        counts = w.close()
        total += counts
        print("%-26s %4d cases, %3d of them refusals, %7d bytes" % ((name,) + counts))
    print("%-26s %4d cases, %3d of them refusals, %7d bytes" % (("total",) + tuple(total)))


if __name__ == "__main__":
    main(sys.argv[1:])
