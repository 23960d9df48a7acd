"""Shared by the generators of the test vectors: NAME.py writes NAME.vec, in its own folder or in the given one, with the same
bytes on every run (README.md here has the format).

Expected values come from torch and numpy in float64 (integers in exact Python or numpy arithmetic), rounded once to the element
type of the output; where no library has the convention, from a short formula, and then the file says so. Operators that only
move data use numpy; where it is cheap a second way (torch, or the printed formula as plain loops) must agree, or the generator
stops."""
import math
import os
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F

# ---------------------------------------------------------------- the file

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "float32", "float64"]


class Tensor:
    """A numpy array that is a constant of the model, or has QuantParams: a list of (numBits, zeroPoint, scale), or of
    (numBits, zeroPoint, scale, quantAxis)."""

    def __init__(self, array, constant=False, quant=None):
        self.array, self.constant, self.quant = np.asarray(array), constant, quant or ()


def const(array, quant=None):
    return Tensor(array, True, quant)


def unseen(shape, dtype=np.float32):
    """An input without values, of a case that is refused when it is prepared; no memory is taken, however large it is."""
    t = Tensor(np.broadcast_to(np.zeros((), dtype), shape))
    t.unseen = True
    return t


def number(value, dtype):
    """One element as text that reads back as exactly the same element."""
    if dtype in (np.float16, np.float64):
        return "%.17g" % float(value)
    if dtype == np.float32:
        return "%.9g" % float(value)
    return "%d" % int(value)


def as_tensor(t):
    return t if isinstance(t, Tensor) else Tensor(t)


def tensor_text(word, t):
    if t is None:
        return [word + " -"]
    t = as_tensor(t)
    a = t.array
    if a.dtype.name not in TYPES:
        raise ValueError("no such element type: " + a.dtype.name)
    words = [word, a.dtype.name, "[" + ",".join(str(d) for d in a.shape) + "]"]
    words += ["const"] if t.constant else []
    words += ["unseen"] if getattr(t, "unseen", False) else [number(v, a.dtype) for v in a.reshape(-1)]
    return [" ".join(words)] + ["quant %d %d %.17g" % tuple(q[:3]) + " %d" * len(q[3:]) % tuple(q[3:]) for q in t.quant]


def attr_text(name, value):
    """A member of the attribute struct; an empty list is left out, as it is the default everywhere."""
    if isinstance(value, str):
        return ["attr %s %s" % (name, value)]
    if isinstance(value, (list, tuple)):
        if len(value) == 0:
            return []
        if isinstance(value[0], float):
            return ["attr %s %s" % (name, " ".join("%.9g" % v for v in value))]
        if isinstance(value[0], (list, tuple)):
            return ["attr %s %s" % (name, " ; ".join(" ".join(str(int(v)) for v in row) for row in value))]
        words = ["%.9g" % v if isinstance(v, (float, np.floating)) else str(int(v)) for v in value]
        return ["attr %s %s" % (name, " ".join(words))]
    if isinstance(value, str):
        return ["attr %s %s" % (name, value)]
    if isinstance(value, (bool, np.bool_)):
        return ["attr %s %d" % (name, value)]
    if isinstance(value, (float, np.floating)):
        return ["attr %s %.9g" % (name, value)]
    return ["attr %s %d" % (name, value)]


# Operators that compute in float16 and float32 only: a float64 case must be refused, one such case is enough.
NO_FLOAT64 = "AVGPOOL_FUSION AVGPOOL_INCLUDE_PAD MAX_POOL_FUSION RESIZE".split()


class VecWriter:
    """One file. Case names are unique within it; a repeated one is an error of the script that writes it. Inputs and
    outputs are numpy arrays, Tensor objects or None for an absent optional input."""

    exact = False  # float results have tolerance 0 where a case gives none

    def __init__(self, path, *header):
        self.path, self.names, self.errors, self.lines = path, set(), 0, []
        self.refused_float64 = False
        for text in header:
            self.lines += ["# " + line for line in text.splitlines()]

    def case(self, name, op, attrs, inputs, outputs, fmt=None, tol=None, error=None, run_error=None, error32=None,
             comment=None, says=None):
        if name in self.names or len(name) > 100 or not name.isascii():
            raise ValueError("case name used twice, too long or not ASCII: " + name)
        self.names.add(name)
        first = inputs[0].array if inputs and isinstance(inputs[0], Tensor) else inputs[0] if inputs else None
        if op in NO_FLOAT64 and first is not None and np.asarray(first).dtype == np.float64 and not (error or run_error):
            if self.refused_float64:
                return
            self.refused_float64 = True
            outputs, tol, error = [], None, "INVALID_DATATYPE"
        refused = error is not None or run_error is not None
        if self.exact and not refused and any(as_tensor(t).array.dtype.kind == "f" for t in outputs):
            tol = tol or (0, 0)
        if not refused and not outputs:
            raise ValueError("a case without expectation: " + name)
        self.errors += refused
        lines = ["", *(["# " + comment] if comment else []), "case " + name, "op " + op]
        for key, value in attrs.items():
            lines += attr_text(key, value)
        lines += ["format " + fmt] if fmt else []
        for t in inputs:
            lines += tensor_text("in", t)
        for t in outputs:
            lines += tensor_text("out", t)
        lines += ["tol %g %g" % tol] if tol else []
        lines += ["error " + error] if error else []
        lines += ["error32 " + error32] if error32 else []
        lines += ["run_error " + run_error] if run_error else []
        lines += ["says " + says] if says else []
        self.lines += lines + ["end"]

    def close(self):
        text = "\n".join(self.lines) + "\n"
        with open(self.path, "w", encoding="ascii", newline="\n") as f:
            f.write(text)
        return len(self.names), self.errors, len(text)


class MoveWriter(VecWriter):
    """The cases of one operator that moves data."""

    op = None

    def ok(self, name, ins, outs, form=None, error32=None, **attrs):
        """A case that must give outs (one array or a list); movement is bit exact, so floats get tolerance 0. error32:
        the code of machines with 32-bit addresses, on which its strides do not fit."""
        outs = [as_tensor(t) for t in (outs if isinstance(outs, list) else [outs])]
        exact = (0, 0) if any(t.array.dtype.kind == "f" for t in outs) else None
        self.case(name, self.op, attrs, ins, outs, fmt=form, tol=exact, error32=error32)

    def bad(self, name, code, ins, outs=(), form=None, run=False, says=None, **attrs):
        """A case that must be refused with code, and a message that contains this text; outs are given where their number or
        type matters."""
        self.case(name, self.op, attrs, ins, outs, fmt=form, says=says, **{"run_error" if run else "error": code})


def write(make, source, moves=None, also=None):
    """Writes the .vec file of the generator that runs, make(writer) its cases and also(writer) more of them; moves: an
    operator that moves data."""
    here, script = os.path.split(os.path.abspath(sys.argv[0]))
    name = os.path.splitext(script)[0]
    w = (MoveWriter if moves else VecWriter)(os.path.join(sys.argv[1] if len(sys.argv) > 1 else here, name + ".vec"),
                                             "Written by %s; do not edit. %s" % (script, source))
    w.op = moves
    make(w)
    if also:
        also(w)
    print("%-26s %4d cases, %3d of them refusals, %7d bytes" % ((name,) + w.close()))


# ---------------------------------------------------------------- arithmetic operators

warnings.filterwarnings("ignore")
f16, f32, f64 = np.float16, np.float32, np.float64
FLOATS = (f32, f16, f64)
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
DATATYPE = {"bool": 30, "int8": 32, "int16": 33, "int32": 34, "int64": 35, "uint8": 37, "uint16": 38, "uint32": 39,
            "uint64": 40, "float16": 42, "float32": 43, "float64": 44}
LOOSE = (1e-4, 1e-4)   # convolution, matrix products, normalization, Resize: the accuracy rule of the specification
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


def uneven(*shape):
    """float64 numbers that float32 rounds, without a random draw."""
    return np.sin(1.0 + np.arange(np.prod(shape))).reshape(shape)


def rounded(value, like):
    """A float64 result stored in the element type of `like`."""
    dtype = like if isinstance(like, type) else np.asarray(like).dtype
    return np.asarray(value, f64).astype(dtype)


def wide(a):
    return np.asarray(a).astype(f64)


def nchw(a):
    return np.ascontiguousarray(np.transpose(a, (0, 3, 1, 2)))


def tensor(a):
    return torch.from_numpy(np.ascontiguousarray(wide(a)))


def both_layouts(w, name, op, attrs, inputs, outputs, tol=None, comment=None):
    """The case on [N,H,W,C], and again with input 0 and the outputs as [N,C,H,W]."""
    w.case(name, op, attrs, inputs, outputs, tol=tol, comment=comment)
    w.case(name + " NCHW", op, attrs, [nchw(inputs[0])] + list(inputs[1:]), [nchw(y) for y in outputs], fmt="NCHW",
           tol=tol)


def loose(dtype):
    return LOOSE16 if dtype == f16 else EXACT64 if dtype == f64 else LOOSE


def refuse(w, name, op, attrs, inputs, code, fmt=None, says=None):
    w.case("refused: " + name, op, attrs, inputs, [], fmt=fmt, error=code, says=says)


def empty_batch(w, name, op, attrs, inputs, shape, dtype="float32"):
    """A batch of 0: nothing is computed."""
    w.case(name, op, attrs, inputs, [np.zeros(shape, dtype)])


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
    refuse(w, name_of(good) + " and int32", op, attrs, [x, some((2, 3), np.int32)], "INVALID_DATATYPE")
    refuse(w, "int8 and uint8 of other shapes", op, attrs, [some((2,), np.int8), some((3,), np.uint8)],
           "INVALID_DATATYPE")


# Operators that compute with quantized int8 and uint8; quantised_elements.py has their cases.
QUANTISED = ("ADD_FUSION SUB_FUSION MUL_FUSION DIV_FUSION SQUARED_DIFFERENCE MAXIMUM MINIMUM ELTWISE EQUAL NOT_EQUAL LESS "
             "LESS_EQUAL GREATER GREATER_EQUAL ABS SQUARE LEAKY_RELU HARD_SIGMOID HARD_SWISH ADD_N FLOOR_DIV LOG COS SIN "
             "SOFTPLUS").split()


def refuse_quantised(w, op, attrs, count=2):
    """Inputs with QuantParams, all of them and each alone: arithmetic on them requires a result with QuantParams, too."""
    plain, quant = np.array([1, 2], np.int8), Tensor(np.array([1, 2], np.int8), quant=[(8, 0, 0.5)])
    code = "INVALID_DATATYPE" if op in QUANTISED else "UNSUPPORTED_OP"
    if "EQUAL" not in op and op not in ("LESS", "GREATER"):
        refuse(w, "quantised", op, attrs, [quant] * count, code)
    if count > 1 or op not in QUANTISED:
        refuse(w, "first input quantised", op, attrs, [quant] + [plain] * (count - 1), code)
    if count > 1:
        refuse(w, "last input quantised", op, attrs, [plain] * (count - 1) + [quant], "INVALID_DATATYPE")


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


def make_predicate(op, function, low=-3, high=3, types=NUMBERS):
    """Two elements of one type, true or false; bools always."""
    def make(w):
        for n, (a, b) in enumerate(SHAPES):
            dtype = [t for t in (f32, np.int32, f16, np.int8, np.uint64) if t in types][n % 5] if types else np.bool_
            x, y = some(a, dtype, low, high), some(b, dtype, low, high)
            w.case("%s %s with %s" % (name_of(dtype), list(a), list(b)), op, NO_ATTR, [x, y], [function(x, y)])
        for dtype in [t for t in INTEGERS if t in types]:
            i = np.iinfo(dtype)
            v = np.array([i.min, i.min + 1, 0, 1, i.max - 1, i.max], dtype)
            w.case("%s extremes" % name_of(dtype), op, NO_ATTR, [v.reshape(6, 1), v], [function(v.reshape(6, 1), v)])
        for dtype in [t for t in FLOATS if t in types]:
            v = np.array([-np.inf, -1, -0.0, 0.0, 1, np.inf, np.nan], dtype)
            w.case("%s infinities and NaN" % name_of(dtype), op, NO_ATTR, [v.reshape(7, 1), v],
                   [function(v.reshape(7, 1), v)])
        if types:
            v = np.array([2 ** 53, 2 ** 53 + 1, -2 ** 53 - 1], np.int64)
            w.case("int64 beyond float64", op, NO_ATTR, [v.reshape(3, 1), v], [function(v.reshape(3, 1), v)])
        v = np.array([False, True])
        w.case("bool", op, NO_ATTR, [v.reshape(2, 1), v], [function(v.reshape(2, 1), v)])
        good = f32 if types else np.bool_
        x, y = np.array(2, good), np.array([2], good)
        w.case("scalar as [1]", op, NO_ATTR, [x, y], [function(x, y)])
        x, y = some((1, 2, 2, 3), good, low, high), some((2, 1), good, low, high)
        w.case("NCHW", op, NO_ATTR, [x, y], [function(x, y)], fmt="NCHW")
        w.case("constants", op, NO_ATTR, [x, const(y)], [function(x, y)])
        binary_refusals(w, op, NO_ATTR, good)
        w.case("refused: a result declared int8", op, NO_ATTR, [x, y], [np.zeros((1, 2, 2, 3), np.int8)],
               error="INVALID_DATATYPE")
        refuse_quantised(w, op, NO_ATTR)
        for dtype in [t for t in NUMBERS if t not in types]:
            refuse(w, name_of(dtype), op, NO_ATTR, [np.ones(2, dtype), np.ones(2, dtype)], "INVALID_DATATYPE")
    return make


def as_float32(x):
    """The type in which a kernel computes: float16 is widened."""
    return x.astype(f32) if x.dtype == f16 else x


def odd_pairs(dtype):
    """Every pair of the numbers at which division and comparison change their ways, as two arrays that broadcast."""
    i = np.finfo(dtype)
    v = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 0.5, -3, 7, i.max, -i.max, i.tiny, i.smallest_subnormal,
                  -5 * i.smallest_subnormal, i.max * (1 - i.eps)], dtype)
    return v.reshape(-1, 1), v


def any_floats(shape, dtype):
    """Random bits: every exponent, subnormal numbers, NaN and infinities now and then."""
    bits = {f16: np.uint16, f32: np.uint32, f64: np.uint64}[dtype]
    return random.integers(0, np.iinfo(bits).max, shape, bits, endpoint=True).view(dtype)


def make_exact(op, real, whole, divide=False, types=NUMBERS, result=None):
    """Two numbers of one of the types, a result that is exact, or rounded once: real(x, y) of floats, whole(a, b) of
    integers, result(dtype) the type of the result. divide: a divisor 0 of integers ends the run."""
    result = result or (lambda dtype: dtype)

    def expect(x, y):
        with np.errstate(all="ignore"):
            if x.dtype.kind in "iu" and result(x.dtype) == x.dtype:
                return integer_result(whole, x, y)
            z = real(as_float32(x), as_float32(y))
            return np.asarray(z).astype(result(x.dtype))

    def make(w):
        def ok(name, x, y, **more):
            w.case(name, op, NO_ATTR, [x, y], [expect(as_tensor(x).array, as_tensor(y).array)], **more)

        w.exact = True
        mixed = [t for t in (f32, np.int32, f16, np.int8, f64, np.uint64) if t in types]
        for n, (a, b) in enumerate(SHAPES):
            x, y = some(a, mixed[n % len(mixed)]), some(b, mixed[n % len(mixed)])
            ok("%s %s with %s" % (name_of(x.dtype), list(a), list(b)), x, nonzero(y) if divide else y)
        for dtype in [t for t in INTEGERS if t in types]:
            ok("%s extremes" % name_of(dtype), *extremes(dtype, divide))
            v = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (2, 20), dtype, endpoint=True)
            ok("%s random" % name_of(dtype), v[0], nonzero(v[1] >> random.integers(0, 8, 20, dtype)))
        for dtype in [t for t in FLOATS if t in types]:
            ok("%s odd numbers" % name_of(dtype), *odd_pairs(dtype))
            ok("%s random bits" % name_of(dtype), any_floats((8, 1), dtype), any_floats((2, 1, 8), dtype))
            x = (random.random(40) * 1000 - 500).astype(dtype)
            ok("%s random" % name_of(dtype), x, (random.random(40) * 20 - 10).astype(dtype))
        x, y = some((1, 2, 2, 3), mixed[1]), nonzero(some((2, 1), mixed[1]))
        ok("NCHW", x, y, fmt="NCHW")
        ok("constant second", x, const(y))
        ok("constant first", const(y), nonzero(x))
        good = f32 if f32 in types else np.int16
        ok("scalar as [1]", np.array(7, good), np.array([2], good))
        binary_refusals(w, op, NO_ATTR, good)
        w.case("refused: a result declared int8", op, NO_ATTR, [some((2,), good), some((2,), good)], [np.zeros(2, np.int8)],
               error="INVALID_DATATYPE")
        for dtype in [t for t in NUMBERS + (np.bool_,) if t not in types]:
            refuse(w, name_of(dtype), op, NO_ATTR, [np.ones(2, dtype), np.ones(2, dtype)], "INVALID_DATATYPE")
        refuse_quantised(w, op, NO_ATTR)
        for dtype in [t for t in INTEGERS if divide and t in types]:
            w.case("%s by zero" % name_of(dtype), op, NO_ATTR, [np.array([5, 6], dtype), np.array([2, 0], dtype)], [],
                   run_error="INVALID_PARAMETER")
        if divide:
            none, zero = np.zeros((0, 2), np.int32), np.zeros(2, np.int32)
            w.case("nothing by zero", op, NO_ATTR, [none, zero], [none])
            w.case("int32 by a broadcast zero", op, NO_ATTR, [some((2, 2), np.int32), np.array(0, np.int32)], [],
                   run_error="INVALID_PARAMETER")
    return make


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


def make_class(op, ways):
    """An operator that says yes or no of a float: ways are pairs of attributes and the function of numpy."""
    def make(w):
        for k, (attrs, function) in enumerate(ways):
            for dtype in FLOATS:
                info = np.finfo(dtype)
                x = np.concatenate([odd_floats(dtype), np.array([info.min, -info.tiny, info.smallest_subnormal, 1], dtype)])
                bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[info.bits // 8]
                inf = int(np.array(np.inf, dtype).view(bits))
                sign = 1 << (info.bits - 1)
                nans = np.array([inf + 1, inf - 1, sign + inf + 1, sign + inf - 1, 2 * sign - 1, sign - 1], bits).view(dtype)
                w.case("way %d, special values, %s" % (k, name_of(dtype)), op, attrs, [x], [function(x)])
                w.case("way %d, next to infinity, %s" % (k, name_of(dtype)), op, attrs, [nans], [function(nans)])
                for shape in ((), (1,), (2, 3, 5), (2, 0, 3), (1, 2, 1, 2, 1, 2, 1, 2)):
                    x = np.asarray(random.choice(np.array([1, np.nan, np.inf, -np.inf], dtype), shape), dtype)
                    w.case("way %d, %s %s" % (k, name_of(dtype), list(shape)), op, attrs, [x], [np.asarray(function(x))])
        x = np.array([[np.nan, 1], [np.inf, -np.inf]], f32)
        w.case("NCHW", op, {}, [x.reshape(1, 2, 2, 1)], [ways[0][1](x).reshape(1, 2, 2, 1)], fmt="NCHW")
        w.case("constant", op, {}, [const(x)], [ways[0][1](x)])
        for dtype in INTEGERS + (np.bool_,):
            refuse(w, name_of(dtype), op, {}, [np.ones((2,), dtype)], "INVALID_DATATYPE")
        refuse(w, "quantised", op, {}, [Tensor(np.array([1, 2], np.int8), quant=[(8, 3, 0.5)])], "UNSUPPORTED_OP")
        refuse(w, "two inputs", op, {}, [x, x], "INVALID_INPUT")
        refuse(w, "no input", op, {}, [], "INVALID_INPUT")
        refuse(w, "absent input", op, {}, [None], "NULL_PTR")
        refuse(w, "rank 9", op, {}, [np.ones((1,) * 9, f32)], "INVALID_SHAPE")
        w.case("refused: two outputs", op, {}, [x], [x == 0, x == 0], error="INVALID_OUTPUT")
        w.case("refused: a result of another type", op, {}, [x], [x], error="INVALID_DATATYPE")
    return make


def make_unary(op, function, points, tols=None, attrs=NO_ATTR, whole=None, types=FLOATS, step=0.25):
    """An operator that is a function of one number: function over float64, rounded once; whole over Python integers, stored
    modulo 2^n. tols: tolerances of float32, float16 and float64; None: exact. Other types than `types` must be refused."""
    def make(w):
        with np.errstate(all="ignore"):
            for dtype in types:
                tol = (tols or {}).get(dtype, (0, 0)) if np.dtype(dtype).kind == "f" else None

                def go(title, x, fmt=None):
                    y = wrap(np.array([whole(int(v)) for v in x.reshape(-1)], object).reshape(x.shape), dtype) \
                        if x.dtype.kind in "iu" else rounded(function(wide(x)), dtype)
                    w.case("%s %s" % (title, name_of(dtype)), op, attrs, [x], [y], fmt=fmt, tol=tol)

                if np.dtype(dtype).kind == "f":
                    info = np.finfo(dtype)
                    extremes_ = [info.max, info.min, info.tiny, -info.tiny, info.tiny / 4]
                    go("special points", np.array(list(points) + extremes_).astype(dtype))
                else:
                    info = np.iinfo(dtype)
                    special = [0, 1, 2, 7, info.max, info.max - 1, info.max // 2 + 1, info.min, info.min + 1]
                    go("special points", np.array(special + ([-1, -2, -7] if info.min < 0 else []), dtype))
                for shape in ((), (1,), (2, 3, 5), (2, 0, 3), (1, 2, 1, 2, 1, 2, 1, 2)):
                    go(str(list(shape)), some(shape, dtype, step=step))
            go("NCHW", some((1, 2, 3, 2), dtype, step=step), fmt="NCHW")
        x = some((2, 3), types[0])
        for dtype in NUMBERS + (np.bool_,):
            if dtype not in types:
                refuse(w, name_of(dtype), op, attrs, [np.ones((2,), dtype)], "INVALID_DATATYPE")
        for dtype in (np.int8, np.uint8):
            refuse(w, "quantised " + name_of(dtype), op, attrs, [Tensor(np.array([1, 2], dtype), quant=[(8, 3, 0.5)])],
                   "INVALID_DATATYPE" if op in QUANTISED else "UNSUPPORTED_OP")
        refuse(w, "two inputs", op, attrs, [x, x], "INVALID_INPUT")
        refuse(w, "no input", op, attrs, [], "INVALID_INPUT")
        refuse(w, "absent input", op, attrs, [None], "NULL_PTR")
        refuse(w, "rank 9", op, attrs, [np.ones((1,) * 9, types[0])], "INVALID_SHAPE")
        w.case("refused: two outputs", op, attrs, [x], [x, x], error="INVALID_OUTPUT")
        w.case("refused: a result of another type", op, attrs, [x], [x.astype(np.uint16)], error="INVALID_DATATYPE")
    return make


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


PAD, SAME, VALID = 0, 1, 2


def conv_attrs(weight, stride, dilation, mode, pads, group, channels, outputs, kind):
    return {"kernelSize": list(weight.shape[1:3]), "stride": list(stride), "dilation": list(dilation), "padMode": mode,
            "padList": list(pads), "group": group, "inChannel": channels, "outChannel": outputs, "activationType": kind}


def conv_refusals(w, op, x, weight, bias, attrs):
    """Invalid cases of both convolutions; x [1,4,4,2], weight [2,3,3,2]."""
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
    bad("group -1", "INVALID_PARAMETER", {"group": -1})
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


FLOOR, CEIL = 0, 1


def pool_axis(mode, ceil, pads, extent, kernel, stride):
    """(before, output size) of one axis of a pooling window."""
    if mode == SAME:
        out = -(-extent // stride)
        return max(0, (out - 1) * stride + kernel - extent) // 2, out
    before, after = pads if mode == PAD else (0, 0)
    room = extent + before + after - kernel
    return before, (-(-room // stride) if ceil else room // stride) + 1


def pool_windows(t, kernel, stride, mode, ceil, pads, fill):
    """t [N,C,H,W] padded so that every window is inside; also the pads before."""
    height, width = t.shape[2:]
    top, rows = pool_axis(mode, ceil, pads[:2], height, kernel[0], stride[0])
    left, columns = pool_axis(mode, ceil, pads[2:], width, kernel[1], stride[1])
    bottom = (rows - 1) * stride[0] + kernel[0] - top - height
    right = (columns - 1) * stride[1] + kernel[1] - left - width
    return F.pad(t, (left, right, top, bottom), value=fill), top, left  # negative pads cut elements that no window reaches


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


def order(line, rising=False):
    """Positions by falling (rising) value, equal ones by rising position, NaN last."""
    sign = 1 if rising else -1
    return sorted(range(len(line)),
                  key=lambda i: (line[i] != line[i], 0 if line[i] != line[i] else sign * line[i].item(), i))


def largest(x, axis, k, by_position=False, rising=False):
    """Values and positions of the k largest (smallest) along axis, which stays with size k."""
    lines = np.moveaxis(x, axis, -1)
    at = np.zeros(lines.shape[:-1] + (k,), np.int64)
    for i in np.ndindex(lines.shape[:-1]):
        chosen = order(lines[i], rising)[:k]
        at[i] = sorted(chosen) if by_position else chosen
    values = np.take_along_axis(lines, at, -1)
    return np.moveaxis(values, -1, axis), np.moveaxis(at, -1, axis)


def tie_values(dtype):
    if np.dtype(dtype).kind == "f":
        return np.array([[1, 3, 3, -1, 2], [np.nan, -np.inf, 0, -0.0, np.nan], [5, np.inf, np.inf, np.nan, 5],
                         [np.nan] * 5], dtype)
    i = np.iinfo(dtype)
    return np.array([[1, 3, 3, 0, 2], [i.min, i.max, i.max - 1, i.max, i.min], [i.min] * 5, [7, 6, 5, 6, 7]], dtype)


def make_arg(op, rising=False):
    """ARGMAX_FUSION; rising: ARGMIN_FUSION."""
    def make(w):
        def attrs(axis, k=1, keep=False, values=False):
            return {"axis": axis, "topK": k, "keepDims": keep, "outMaxValue": values}

        def go(name, x, axis, k=1, keep=False, values=False, index=np.int32, both=False):
            v, at = largest(x, axis, k, rising=rising)
            if k == 1 and not np.isnan(wide(x)).any():
                assert np.array_equal(np.squeeze(at, axis), (np.argmin if rising else np.argmax)(x, axis))
            if k == 1 and not keep:
                v, at = np.squeeze(v, axis), np.squeeze(at, axis)
            w.case(name, op, attrs(axis, k, keep, values), [x],
                   [at.astype(index), v] if both else [v if values else at.astype(index)])

        for dtype in NUMBERS:
            x = tie_values(dtype)
            go("%s ties" % name_of(dtype), x, 1)
            go("%s ties top 3 values" % name_of(dtype), x, -1, 3, values=True)
        for n, shape in enumerate(((4,), (2, 3), (3, 2, 2), (1, 2, 3, 4), (2, 1, 4, 5, 3))):
            for axis in range(-len(shape), len(shape)):
                go("%s axis %d%s" % (list(shape), axis, " kept" if axis % 2 else ""), some(shape, FLOATS[n % 3], -4, 4, 1),
                   axis, keep=bool(axis % 2), index=(np.int32, np.int64)[n % 2])
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
        refuse(w, "topK -1", op, attrs(0, -1), [x], "INVALID_PARAMETER")
        refuse(w, "topK larger than the extent", op, attrs(1, 5), [x], "INVALID_PARAMETER")
        refuse(w, "axis 3 of rank 3", op, attrs(3), [x], "INVALID_PARAMETER")
        refuse(w, "axis -4 of rank 3", op, attrs(-4), [x], "INVALID_PARAMETER")
        refuse(w, "bool", op, attrs(0), [np.array([True, False])], "INVALID_DATATYPE")
        refuse(w, "two inputs", op, attrs(0), [x, x], "INVALID_INPUT")
        refuse(w, "absent input", op, attrs(0), [None], "NULL_PTR")
    return make


def make_top(op, rising=False):
    """TOPK_FUSION; rising: BOTTOM_K."""
    def make(w):
        def go(name, x, axis, k, in_order=True, index=np.int32, k_type=np.int32):
            v, at = largest(x, axis, k, not in_order, rising)
            if in_order and k and not np.isnan(wide(x)).any():
                equal = np.array_equal(wide(v), torch.topk(tensor(x), k, axis, not rising).values.numpy())
                assert equal or x.dtype.itemsize == 8
            w.case(name, op, {"sorted": in_order, "axis": axis}, [x, const(np.array([k], k_type))], [v, at.astype(index)])

        for dtype in NUMBERS:
            x = tie_values(dtype)
            for k in (2, 4):
                go("%s ties %d" % (name_of(dtype), k), x, 1, k)
                go("%s ties %d by position" % (name_of(dtype), k), x, 1, k, False)
        for n, shape in enumerate(((4,), (2, 3), (3, 2, 2), (1, 2, 3, 4), (2, 1, 4, 5, 3))):
            for axis in range(-len(shape), len(shape)):
                k = max(1, shape[axis] - (axis % 2))
                go("%s axis %d k %d" % (list(shape), axis, k), some(shape, FLOATS[n % 3], -4, 4, 1), axis, k,
                   (n + axis) % 3 != 0, (np.int32, np.int64)[n % 2], (np.int32, np.int64)[axis % 2])
        x = some((3, 4), f32, -3, 3, 1)
        w.case("default attributes", op, {}, [x, const(np.array([2], np.int32))],
               [y if n == 0 else y.astype(np.int32) for n, y in enumerate(largest(x, -1, 2, rising=rising))])
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
    return make


# ---------------------------------------------------------------- data movement

I64_MAX, I64_MIN = 2**63 - 1, -2**63


def known(values, dtype="int32", shape=None):
    """A constant index, shape or parameter tensor; a plain number gives a scalar."""
    a = np.array(values, dtype=dtype)
    return Tensor(a if shape is None else a.reshape(shape), True)


def data(dtype, shape, seed=1):
    """Values that tell every element apart where the type is wide enough; the extremes of the type come first."""
    n = int(np.prod(shape, dtype=np.int64))
    k = np.arange(n)
    if dtype == "bool":
        return ((k * (2 * seed + 3) // 3 + seed) % 2 == 0).reshape(shape)
    if dtype == "float16":
        return ((k - n // 3) * 0.125 + seed).astype(np.float16).reshape(shape)
    if dtype.startswith("float"):
        return ((k - n // 3) * 0.37 + seed / 3.0).astype(dtype).reshape(shape)
    info = np.iinfo(dtype)
    span = int(info.max) - int(info.min) + 1
    step = 7 if span <= 256 else span // 251 * 2 + 1
    values = [(int(info.min) + (i * step * seed if i else 0)) for i in range(n)]
    values = [(v - int(info.min)) % span + int(info.min) for v in values]
    if n > 1:
        values[1] = int(info.max)
    return np.array(values, dtype=dtype).reshape(shape)


def floats(*shape, seed=1):
    return data("float32", shape, seed)


def same(a, b, what):
    """Stops unless two independent results are the same bits."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype or a.tobytes() != b.tobytes():
        raise SystemExit("two ways differ: %s %s %s" % (what, a.shape, b.shape))
    return a


def odd_floats(dtype):
    return np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, np.finfo(dtype).max, np.finfo(dtype).tiny, -1.5], dtype=dtype)


def to_nchw(x):
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2))


SPACE = [  # [N,H,W,C] of the unfolded side, block, paddings or crops
    ("no paddings", (1, 4, 4, 1), (2, 2), [[0, 0], [0, 0]]),
    ("two images", (2, 2, 4, 3), (2, 2), [[0, 0], [0, 0]]),
    ("rectangular block", (1, 4, 6, 2), (2, 3), [[0, 0], [0, 0]]),
    ("block 1x1", (2, 3, 2, 2), (1, 1), [[0, 0], [0, 0]]),
    ("block 1x2", (1, 3, 4, 2), (1, 2), [[0, 0], [0, 0]]),
    ("block 3x1", (1, 6, 2, 1), (3, 1), [[0, 0], [0, 0]]),
    ("top", (1, 3, 4, 1), (2, 2), [[1, 0], [0, 0]]),
    ("bottom and right", (1, 3, 5, 2), (2, 2), [[0, 1], [0, 1]]),
    ("all sides", (2, 2, 3, 1), (2, 2), [[1, 1], [2, 1]]),
    ("left only", (1, 2, 1, 4), (2, 3), [[0, 0], [2, 0]]),
    ("whole blocks", (1, 2, 2, 1), (2, 2), [[2, 0], [0, 2]]),
    ("block as large as the image", (1, 3, 3, 2), (3, 3), [[0, 0], [0, 0]]),
    ("no images", (0, 2, 2, 1), (2, 2), [[0, 0], [0, 0]]),
    ("no channels", (1, 2, 2, 0), (2, 2), [[0, 0], [0, 0]]),
    ("no rows", (1, 0, 4, 2), (2, 2), [[0, 0], [0, 0]]),
]


def choose(condition, x, y):
    """condition ? x : y. A condition of one axis as long as the first of several of x chooses rows."""
    if condition.ndim == 1 and x.ndim > 1 and len(condition) == len(x):
        condition = condition.reshape((-1,) + (1,) * (x.ndim - 1))
    z = np.where(condition, x, y)
    if x.dtype.kind in "if":
        same(z, torch.where(*[torch.from_numpy(np.array(a)) for a in (condition, x, y)]).numpy(), "torch.where")
    return z


def make_choice(w):
    """A condition and two tensors of one type: WHERE and SELECT."""
    def bools(*shape):
        return random.integers(0, 2, shape).astype(bool)

    def put(name, condition, x, y, **more):
        w.ok(name, [condition, x, y], choose(np.asarray(condition), x, y), **more)

    for t in TYPES:
        put("type " + t, bools(2, 3), data(t, (2, 3), 1), data(t, (2, 3), 5))
        put("type %s, broadcast" % t, bools(3, 1, 4), data(t, (2, 1), 1), data(t, (3, 1, 1), 5))
    a, b = floats(2, 3), floats(2, 3, seed=5)
    for value in (False, True):
        put("scalar %d" % value, np.array(value), a, b)
        put("all %d" % value, np.full((2, 3), value), a, b)
        put("scalars only %d" % value, np.array(value), np.array(2, f32), np.array(3, f32))
    put("column", bools(2, 1), a, b)
    put("one axis that is not that of the rows", np.array([True, False, True]), a, b)
    put("one axis, vectors", np.array([True, False, True]), floats(3), floats(3, seed=5))
    put("one axis, x a vector, y square", np.array([True, False, True]), floats(3), floats(3, 3, seed=5))
    put("one axis, x a scalar, y square", np.array([True, False, True]), np.array(7, f32), floats(3, 3, seed=5))
    put("one axis of 1", np.array([True]), a, b)
    put("rows", np.array([True, False]), a, b)
    put("rows of a square", np.array([True, False, False]), floats(3, 3), floats(3, 3, seed=5))
    put("rows of three axes", np.array([False, True]), floats(2, 3, 2), floats(2, 3, 2, seed=5))
    put("rows, the last extent is equal", np.array([False, True]), floats(2, 3, 2), floats(1, 1, 2, seed=5))
    put("rows, x is broadcast", np.array([True, False, True]), floats(3, 1), floats(3, 4, seed=5))
    put("rows, y is a scalar", np.array([True, False, True]), floats(3, 2), np.array(9, f32))
    put("rows, y has more axes", np.array([True, False, True]), floats(3, 2), floats(2, 3, 2, seed=5))
    put("rows, one", np.array([True]), floats(1, 3), floats(2, 3, seed=5))
    put("rows, none", bools(0), floats(0, 3), floats(1, 3))
    put("rows of rank 8", np.array([True, False]), floats(2, 1, 2, 1, 2, 1, 2, 1), floats(2, 3, 1, 1, 2, 1, 1, 2, seed=5))
    put("rank 8", bools(1, 2, 1, 2, 1, 2, 1, 2), floats(2, 1, 1, 2, 1, 2, 1, 1), floats(2, 1, 1, 2, 1, seed=5))
    put("condition has more axes", bools(2, 2, 3), floats(3), floats(2, 1, seed=5))
    put("x has more axes", bools(3), floats(2, 2, 3), floats(2, 1, seed=5))
    put("condition alone is large", bools(2, 3), np.array([7], f32), np.array(9, f32))
    put("x and y of 1 and 0", np.array(True), floats(1, 3), floats(0, 3))
    put("no elements", bools(2, 0, 1), floats(2, 1, 3), floats(1, 3))
    w.ok("condition constant", [const(np.array([[True], [False]])), a, const(b)], np.stack([a[0], b[1]]))
    for dtype in FLOATS:
        v = odd_floats(dtype)
        put("NaN and infinities " + name_of(dtype), np.arange(8) % 2 == 0, v, v[::-1].copy())
    put("NCHW", bools(1, 2, 2, 3), floats(1, 2, 2, 3), floats(2, 1, 1, seed=5), form="NCHW")
    put("long rows", bools(2, 100), floats(2, 100), floats(100, seed=5))

    c = np.array([[True, False], [False, True]])
    m, n = np.array([[1, 2], [3, -4]], "int8"), np.array([[8, -16], [127, -128]], "int8")
    q, other = [(8, 1, 0.5)], [(8, -3, 0.125)]
    z = np.where(c, m, n)
    w.ok("quantised, equal parameters", [c, Tensor(m, quant=q), Tensor(n, quant=q)], Tensor(z, quant=q))
    w.ok("quantised by channel", [c, Tensor(m, quant=q + other), Tensor(n[1], quant=q + other)],
         Tensor(np.where(c, m, n[1]), quant=q + other))
    for name, quants in (("x alone", (q, None, q)), ("y alone", (None, q, q))):
        x, y, out = [Tensor(t, quant=quant) for t, quant in zip((m, n, z), quants)]
        w.bad("quantised, " + name, "UNSUPPORTED_OP", [c, x, y], [out])
    w.bad("condition quantised", "UNSUPPORTED_OP", [Tensor(m, quant=q), m, n])
    w.bad("condition int32", "INVALID_DATATYPE", [c.astype("int32"), m, n])
    w.bad("condition float32", "INVALID_DATATYPE", [c.astype(f32), m, n])
    w.bad("types differ", "INVALID_DATATYPE", [c, m, n.astype("int16")])
    w.bad("result declared float32", "INVALID_DATATYPE", [c, m, n], [z.astype(f32)])
    w.bad("x and y do not broadcast", "INVALID_SHAPE", [c, m, np.zeros((2, 3), "int8")])
    w.bad("condition does not broadcast", "INVALID_SHAPE", [np.ones((3, 2), bool), m, n])
    w.bad("condition of one axis does not broadcast", "INVALID_SHAPE", [np.ones(3, bool), m, n])
    w.bad("condition of one axis, x a vector", "INVALID_SHAPE", [np.ones(3, bool), m[0], n[0]])
    w.bad("rows that do not broadcast", "INVALID_SHAPE", [np.ones(2, bool), m, np.zeros((3, 2), "int8")])
    w.bad("type before shape", "INVALID_DATATYPE", [np.ones(3, bool), m, a])
    w.bad("two inputs", "INVALID_INPUT", [c, m])
    w.bad("four inputs", "INVALID_INPUT", [c, m, n, n])
    w.bad("condition alone", "INVALID_INPUT", [c])
    w.bad("absent condition", "NULL_PTR", [None, m, n])
    w.bad("absent y", "NULL_PTR", [c, m, None])
    w.bad("rank 9", "INVALID_SHAPE", [c, floats(*[1] * 9), floats(2)])
    w.bad("two outputs", "INVALID_OUTPUT", [c, m, n], [z, z])


BLOCKS = [  # [N,H,W,C] of cells (H rows and W columns of blocks), edge of a block
    ("one block", (1, 1, 1, 1), 2),
    ("blocks of 2", (1, 2, 3, 2), 2),
    ("blocks of 3, two images", (2, 2, 1, 3), 3),
    ("blocks of 4", (1, 1, 2, 1), 4),
    ("blocks of 1", (2, 2, 3, 4), 1),
    ("no images", (0, 2, 1, 2), 2),
    ("no rows", (1, 0, 2, 2), 2),
    ("no columns", (1, 2, 0, 1), 3),
    ("no channels", (1, 2, 2, 0), 2),
]
