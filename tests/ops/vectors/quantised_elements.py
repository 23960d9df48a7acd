"""Quantized int8 and uint8 in operators that map, reduce and resize, for the scripts of these operators: integer arithmetic in
plain Python. They pass cases(op) to write() with their own cases.

A tensor is an array of stored integers q beside its Params: real = s * (q - z). H, D, M, R round products with a quotient of
scales as TensorFlow Lite for Microcontrollers does: twice."""
import math
import operator
from fractions import Fraction

import numpy as np
import torch

from common import Tensor, activation, const, f32

random = np.random.default_rng(31)

# ---------------------------------------------------------------- arithmetic


def saturate(x, n=32):
    return max(-(1 << n - 1), min((1 << n - 1) - 1, x))


def H(a, b):
    """a * b / 2^31, halves up."""
    return saturate((a * b + (1 << 30)) >> 31)


def D(x, n):
    """x / 2^n, halves away from zero; 0 for n > 32."""
    return x if n == 0 else 0 if n > 32 else (x + (1 << n - 1) - (1 if x < 0 else 0)) >> n


def away(v):
    """round(v), halves away from zero; infinite values are clamped to 10^9."""
    v = max(-1e9, min(1e9, float(v)))
    return int(math.floor(abs(v) + 0.5)) * (1 if v >= 0 else -1)


def M(d):
    """d = m * 2^(e - 31)."""
    d = float(d)
    if d == 0:
        return 0, 0
    if math.isinf(d):
        return 2**31 - 1, 31
    f, e = math.frexp(d)
    m = int(math.floor(f * 2**31 + 0.5))
    if m == 2**31:
        m, e = 2**30, e + 1
    return (0, 0) if e < -31 else (2**31 - 1, 31) if e > 31 else (m, e)


def rescale(x, m, e):
    while not -2**31 <= x < 2**31:
        x, e = x >> 1, e + 1
    return D(H(saturate(x * 2**max(e, 0)), m), max(-e, 0))


def R(x, d):
    return -R(x, -d) if d < 0 else rescale(x, *M(d))


def ratio(a, b):
    return a / b if b != 0 else type(a)(0)


class Params:
    """Of one tensor: type, zero point, scale, which counts as float32."""

    def __init__(self, dtype, z, s):
        self.dtype, self.z, self.f = dtype, z, f32(s)
        self.s = float(self.f)
        self.lo, self.hi = (-128, 127) if dtype == np.int8 else (0, 255)

    def __eq__(self, other):
        return (self.dtype, self.z, self.s) == (other.dtype, other.z, other.s)

    def stored(self, r):
        """The integer of a real number."""
        return max(self.lo, min(self.hi, self.z + away(ratio(f32(r), self.f))))

    def bounds(self, kind):
        """After a fused activation."""
        return (self.stored(0) if kind in (1, 3, 7) else self.lo,
                self.stored(6) if kind == 3 else self.stored(1) if kind == 7 else self.hi)

    def out(self, x, bounds=None):
        lo, hi = bounds or (self.lo, self.hi)
        return min(max(x + self.z, lo), hi)

    def tensor(self, a):
        return Tensor(np.asarray(a).astype(self.dtype), quant=[(8, self.z, self.s)])

    def some(self, shape):
        return random.integers(self.lo, self.hi + 1, shape).astype(self.dtype)


def requantised(q, a, y):
    return q if a == y else y.out(R(q - a.z, ratio(a.s, y.s)))


# ---------------------------------------------------------------- two inputs


def add(p, q, a, b, y, out):
    S = 2 * max(a.s, b.s)
    A, B = R((p - a.z) << 20, ratio(a.s, S)), R((q - b.z) << 20, ratio(b.s, S))
    return out(R(A + B, ratio(S, 2.0**20 * y.s)))


def subtract(p, q, a, b, y, out):
    """The quotients of scales are computed in float32 here."""
    S = f32(2) * max(a.f, b.f)
    A, B = R((p - a.z) << 20, ratio(a.f, S)), R((q - b.z) << 20, ratio(b.f, S))
    return out(R(A - B, ratio(S, f32(2**20) * y.f)))


def squared_difference(p, q, a, b, y, out):
    S = 2 * max(a.s, b.s)
    A, B = R((p - a.z) << 7, ratio(a.s, S)), R((q - b.z) << 7, ratio(b.s, S))
    return out(R((A - B)**2, ratio(S * S, 2.0**14 * y.s)))


def multiply(p, q, a, b, y, out):
    return out(R((p - a.z) * (q - b.z), ratio(a.s * b.s, y.s)))


def newton(a):
    """1 / (1 + a) with 29 fraction bits, of a with 31, by three steps of Newton."""
    u = (a + 2**31) >> 1
    x = 1515870810 + H(u, -1010580540)
    for _ in range(3):
        x = x + saturate(4 * H(x, 2**29 - H(u, x)))
    return x


def reciprocal(a):
    """The same with 31 fraction bits."""
    return saturate(2 * newton(a))


def divide(p, q, a, b, y, out):
    u, v = p - a.z, q - b.z
    if v == 0:
        return out(2**40 if u > 0 else -2**40 if u < 0 else 0)
    u, v = (-u, -v) if v < 0 else (u, v)
    k, h = v.bit_length(), 31 - (-1 - u if u < 0 else u).bit_length()
    m, e = M(ratio(a.f, b.f * y.f))
    return out(rescale(H(u * 2**h, reciprocal(v * 2**(32 - k) - 2**31)), m, e - (k - 1) - h))


def maximum(p, q, a, b, y, out):
    return max(requantised(p, a, y), requantised(q, b, y))


def minimum(p, q, a, b, y, out):
    return min(requantised(p, a, y), requantised(q, b, y))


def parts(s):
    """s = p * 2^t, 24 bits of p."""
    f, e = math.frexp(s)
    return (int(f * 2**24), e - 24) if s else (0, 0)


def comparable(p, q, a, b, limit=10):
    """Two integers that compare as the real values do."""
    if a == b:
        return p - a.z, q - b.z
    (pa, ta), (pb, tb) = parts(a.s), parts(b.s)
    g = max(-limit, min(limit, ta - tb))
    return (p - a.z) * pa * 2**max(g, 0), (q - b.z) * pb * 2**max(-g, 0)


def pairs(function, x, y, *given):
    x, y = np.broadcast_arrays(x, y)
    return np.array([function(int(p), int(q), *given) for p, q in zip(x.reshape(-1), y.reshape(-1))]).reshape(x.shape)


TWO = {("ADD_FUSION", None): add, ("SUB_FUSION", None): subtract, ("MUL_FUSION", None): multiply,
       ("DIV_FUSION", None): divide, ("SQUARED_DIFFERENCE", None): squared_difference, ("MAXIMUM", None): maximum,
       ("MINIMUM", None): minimum, ("ELTWISE", 0): multiply, ("ELTWISE", 1): add, ("ELTWISE", 2): maximum}
COMPARE = {"EQUAL": operator.eq, "NOT_EQUAL": operator.ne, "LESS": operator.lt, "LESS_EQUAL": operator.le,
           "GREATER": operator.gt, "GREATER_EQUAL": operator.ge}
I8, U8 = np.int8, np.uint8
# Parameters of two inputs and a result: common, equal, powers of two (ties), far apart, empty ranges, zero points at the ends.
SETS = [(I8, (-3, 0.05), (40, 0.02), (7, 0.08)), (I8, (5, 0.1), (5, 0.1), (5, 0.1)), (I8, (0, 0.5), (0, 0.25), (0, 1)),
        (U8, (100, 0.05), (0, 0.03), (255, 0.7)), (U8, (128, 0.125), (128, 0.5), (128, 2)),
        (I8, (-128, 1e-4), (127, 30), (0, 7)), (I8, (0, 0), (-3, 0.05), (2, 0.1)),
        (U8, (3, 0.05), (4, 0.05), (0, 0)), (I8, (12, 0.3), (-7, 0.011), (-128, 1e-3)),
        (U8, (0, 1e-30), (255, 1e20), (77, 1e-10)), (I8, (127, 0.007), (-128, 0.009), (-128, 1e12))]
SHAPES = [((40,), (40,)), ((2, 1, 3), (4, 1)), ((), (3,)), ((0, 2), (2,)), ((1, 2, 1, 2, 1, 2, 1, 2), (2, 1, 2, 1, 1, 1, 1, 1))]
PLAIN = {"activationType": 0}


def quant_of(kind, p):
    return Params(kind, *p)


def title(op, attrs, kind, p):
    return "quantised%s %s %s" % ("".join(" %s %s" % v for v in attrs.items()), np.dtype(kind).name,
                           " ".join("%d,%g" % v for v in p))


def two_inputs(w, only):
    for (op, mode), function in TWO.items():
        if op != only:
            continue
        fused = [0, 1, 3, 7] if op.endswith("FUSION") else [None]
        for n, (kind, *p) in enumerate(SETS):
            a, b, y = [quant_of(kind, v) for v in p]
            act = fused[n % len(fused)]
            attrs = {"activationType": act} if act is not None else {"mode": mode} if mode is not None else {}
            u, v = a.some(60), b.some(60)
            u[:6], v[:6] = [a.lo, a.lo, a.hi, a.hi, a.z, a.z], [b.lo, b.hi, b.lo, b.hi, b.z, b.hi]
            z = pairs(function, u, v, a, b, y, lambda x: y.out(x, y.bounds(act)))
            w.case(title(op, attrs, kind, p), op, attrs, [a.tensor(u), b.tensor(v)], [y.tensor(z)])
        a, b, y = [quant_of(I8, v) for v in SETS[0][1:]]
        attrs = {"mode": mode} if mode is not None else {}
        for m, n in SHAPES:
            u, v = a.some(m), b.some(n)
            z = pairs(function, u, v, a, b, y, y.out).astype(I8)
            w.case("%s %s %s with %s" % (op, mode, list(m), list(n)), op, attrs, [a.tensor(u), b.tensor(v)], [y.tensor(z)])
        for kind, t in ((1, "relu"), (3, "relu6"), (7, "relu1"), (15, "linear")) if op.endswith("FUSION") else ():
            u, v = a.some(30), b.some(30)
            z = pairs(function, u, v, a, b, y, lambda x: y.out(x, y.bounds(kind)))
            w.case("%s fused %s" % (op, t), op, {"activationType": kind}, [a.tensor(u), b.tensor(v)], [y.tensor(z)])
        if op.endswith("FUSION"):
            x = [a.tensor([1, 2]), b.tensor([3, 4])]
            for kind, code in ((2, "UNSUPPORTED_OP"), (4, "INVALID_PARAMETER"), (16, "INVALID_PARAMETER"),
                               (19, "UNSUPPORTED_OP")):
                w.case("refused: quantised, fused %d" % kind, op, {"activationType": kind}, x, [y.tensor([0, 0])], error=code)
        refused_two(w, "%s %s" % (op, mode), op, attrs, a, y)


def refused_two(w, name, op, attrs, a, y):
    x, out = a.tensor([1, 2]), [y.tensor([0, 0])] if y else []
    many = Tensor(np.array([1, 2], I8), quant=[(8, 0, 0.5), (8, 0, 0.25)])
    other = Tensor(np.array([1, 2], U8), quant=[(8, 3, 0.5)])
    for what, second, code in (
            ("two parameters", many, "UNSUPPORTED_OP"), ("int8 beside uint8", other, "INVALID_DATATYPE"),
            ("7 bits", Tensor(np.array([1, 2], I8), quant=[(7, 0, 0.5)]), "UNSUPPORTED_OP"),
            ("zero point 128", Tensor(np.array([1, 2], I8), quant=[(8, 128, 0.5)]), "INVALID_PARAMETER"),
            ("zero point -129", Tensor(np.array([1, 2], I8), quant=[(8, -129, 0.5)]), "INVALID_PARAMETER"),
            ("a negative scale", Tensor(np.array([1, 2], I8), quant=[(8, 0, -0.5)]), "INVALID_PARAMETER"),
            ("a scale that is no number", Tensor(np.array([1, 2], I8), quant=[(8, 0, math.nan)]), "INVALID_PARAMETER"),
            ("an infinite scale", Tensor(np.array([1, 2], I8), quant=[(8, 0, math.inf)]), "INVALID_PARAMETER"),
            ("plain int8", np.array([1, 2], I8), "INVALID_DATATYPE"), ("float32", np.array([1, 2], f32), "INVALID_DATATYPE")):
        w.case("refused: %s %s" % (name, what), op, attrs, [x, second], out, error=code)
    w.case("refused: %s shapes" % name, op, attrs, [a.tensor([1, 2]), a.tensor([1, 2, 3])], out, error="INVALID_SHAPE")
    w.case("refused: %s int16" % name, op, attrs, [Tensor(np.array([1], np.int16), quant=[(16, 0, 0.5)])] * 2,
           [Tensor(np.array([1], np.int16), quant=[(16, 0, 0.5)])] if y else [], error="INVALID_DATATYPE")
    if y:
        w.case("refused: %s a result of several parameters" % name, op, attrs, [x, x], [many], error="UNSUPPORTED_OP")


def comparisons(w, only):
    for op, function in COMPARE.items():
        if op != only:
            continue
        for kind, *p in SETS:
            a, b = quant_of(kind, p[0]), quant_of(kind, p[1])
            u, v = a.some(40), b.some(40)
            u[:5], v[:5] = [a.lo, a.hi, a.z, a.lo, a.z], [b.lo, b.hi, b.z, b.hi, b.lo]
            z = pairs(lambda m, n: function(*comparable(m, n, a, b)), u, v).astype(bool)
            w.case(title(op, {}, kind, p[:2]), op, {}, [a.tensor(u), b.tensor(v)], [z])
        a, b = quant_of(I8, (0, 0.2)), quant_of(I8, (10, 0.1))
        for m, n in SHAPES:
            u, v = a.some(m) // 8, b.some(n) // 8
            z = pairs(lambda s, t: function(*comparable(s, t, a, b)), u, v).astype(bool)
            w.case("%s %s with %s" % (op, list(m), list(n)), op, {}, [a.tensor(u), b.tensor(v)], [z])
        refused_two(w, op, op, {}, a, None)


# ---------------------------------------------------------------- one input

POWERS = {-2: 1672461947, -1: 1302514674, 0: 790015084, 1: 290630308, 2: 39332535, 3: 720401, 4: 242}


def exponential(a, i):
    """exp(a) with 31 fraction bits, of a <= 0 with 31 - i."""
    if a == 0:
        return 2**31 - 1
    f = 31 - i
    g = 2**(f - 2)
    rest = (a % g) - g
    x = rest * 2**i + 2**28
    x2 = H(x, x)
    r = 1895147668 + H(1895147668, x + D(H(D(H(x2, x2), 2) + H(x2, x), 715827883) + x2, 1))
    for k in range(-2, i):
        if ((rest - a) >> (f + k)) & 1:
            r = H(r, POWERS[k])
    return r


def logistic(q, a, y, tanh):
    """SIGMOID with the result's scale 1/256, TANH with 1/128."""
    m, e = M(a.s * 2**27)
    u, v = int(math.floor(15 * 2**27 / 2.0**e)), q - a.z
    if v <= -u:
        return y.lo
    if v >= u:
        return y.hi
    g = rescale(v, m, e)
    if tanh:
        c = 0 if g == 0 else saturate(4 * (newton(exponential(-abs(g), 5)) - 2**29)) * (1 if g > 0 else -1)
        return max(y.lo, min(y.hi, D(c, 24) + y.lo + 128))
    if g == 0:
        c = 2**30
    else:
        c = reciprocal(exponential(-abs(g), 4))
        c = c if g > 0 else 2**31 - 1 - c
    return max(y.lo, min(y.hi, D(c, 23) + y.lo))


def hard_swish(q, a, y):
    """x * min(max(x + 3, 0), 6) / 6 in 16 bits."""
    def product(p, r):
        return saturate((p * r + 2**14) >> 15, 16)

    def high(m):
        return min((m + 2**15) >> 16, 32767)

    unit = a.f / f32(128)
    (m1, e1), (m2, e2) = M(ratio(unit, y.f)), M(unit / f32(0.000091552734375))
    x = 128 * (q - a.z)
    if e2 > 0:
        b = saturate(2 * product(saturate(x * 2**(e2 - 1), 16), high(m2)), 16)
    else:
        b = D(product(x, high(m2)), -e2)
    t = ((b + 2**15) >> 1) * product(x, high(m1))
    c = t // 2**15 if t >= 0 else -(-t // 2**15)
    return y.out(saturate(c * 2**e1, 16) if e1 > 0 else D(c, -e1))


def linear(q, a, y, least=None, greatest=None, below=1):
    """Clamps and LEAKY_RELU: the quotient is that of float32."""
    v = q - a.z
    bounds = (y.lo if least is None else y.stored(least), y.hi if greatest is None else y.stored(greatest))
    return y.out(R(v, ratio(a.f, y.f)) if v >= 0 else R(v, ratio(a.f * f32(below), y.f)), bounds)


def square(q, a, y):
    return y.out(R((q - a.z)**2, ratio(a.s * a.s, y.s)))


def absolute(q, a, y):
    return y.out(R(abs(q - a.z), ratio(a.f, y.f)))


def by_float(function):
    """From the float function, given for float32; None where the result is so near to a half that its rounding depends on the
    exact bits."""
    def table(q, a, y):
        with np.errstate(all="ignore"):
            r = f32(function(a.f * f32(q - a.z))) * ratio(f32(1), y.f)
        if math.isnan(r):
            return y.out(0)
        if abs(abs(float(r)) % 1 - 0.5) < 1e-3 and abs(float(r)) < 300 and function not in EXACT:
            return None
        return y.out(away(r))
    return table


def by_torch(kind, **more):
    return by_float(lambda v: activation(np.array([v]), kind, **more)[0])


def softplus(v, beta, threshold):
    return torch.nn.functional.softplus(torch.tensor(float(v), dtype=torch.float64), beta, threshold).item()


EXACT = [np.floor, np.sign]
ACT = "ACTIVATION"
ONE = [(ACT, {"activationType": 0}, requantised), (ACT, {"activationType": 15}, requantised),
       (ACT, {"activationType": 1}, lambda q, a, y: linear(q, a, y, 0)),
       (ACT, {"activationType": 3}, lambda q, a, y: linear(q, a, y, 0, 6)),
       (ACT, {"activationType": 7}, lambda q, a, y: linear(q, a, y, 0, 1)),
       (ACT, {"activationType": 16, "minVal": -0.75, "maxVal": 2.5}, lambda q, a, y: linear(q, a, y, -0.75, 2.5)),
       (ACT, {"activationType": 5, "alpha": 0.3}, lambda q, a, y: linear(q, a, y, below=0.3)),
       (ACT, {"activationType": 5, "alpha": -1.75}, lambda q, a, y: linear(q, a, y, below=-1.75)),
       ("LEAKY_RELU", {"negativeSlope": 0.01}, lambda q, a, y: linear(q, a, y, below=0.01)),
       ("LEAKY_RELU", {"negativeSlope": -0.5}, lambda q, a, y: linear(q, a, y, below=-0.5)),
       ("CLIP", {"max": 3.5, "min": -1.25}, lambda q, a, y: linear(q, a, y, -1.25, 3.5)),
       ("CLIP", {"max": 3.5}, lambda q, a, y: linear(q, a, y, None, 3.5)),
       ("CLIP", {}, linear), (ACT, {"activationType": 6}, absolute), ("ABS", {}, absolute), ("SQUARE", {}, square),
       (ACT, {"activationType": 12}, hard_swish), ("HARD_SWISH", {}, hard_swish),
       ("HARD_SWISH", {"alpha": 0.25}, by_float(lambda v: v * min(max(f32(0.25) * v + f32(0.5), f32(0)), f32(1)))),
       ("HARD_SIGMOID", {}, by_float(lambda v: min(max(f32(0.2) * v + f32(0.5), f32(0)), f32(1)))),
       ("FLOOR", {}, by_float(np.floor)), (ACT, {"activationType": 17}, by_float(np.sign)),
       ("EXPFUSION", {"shift": -1.5}, by_float(lambda v: np.exp(min(float(v) - 1.5, 80)))),
       (ACT, {"activationType": 2}, by_torch(2)), (ACT, {"activationType": 10}, by_torch(10)),
       (ACT, {"activationType": 4, "alpha": 1.5}, by_torch(4, alpha=1.5)), (ACT, {"activationType": 8}, by_torch(8)),
       (ACT, {"activationType": 9}, by_torch(9)), (ACT, {"activationType": 11}, by_torch(11)),
       (ACT, {"activationType": 13}, by_torch(13)), (ACT, {"activationType": 14, "alpha": 0.7}, by_torch(14, alpha=0.7)),
       (ACT, {"activationType": 18}, by_torch(18)), (ACT, {"activationType": 19}, by_torch(19)),
       (ACT, {"activationType": 19, "approximate": True}, by_torch(19, approximate=True)),
       ("LOG", {}, by_float(lambda v: np.log(np.float64(v)))), ("RSQRT", {}, by_float(lambda v: 1 / np.sqrt(np.float64(v)))),
       ("COS", {}, by_float(lambda v: math.cos(float(v)))), ("SIN", {}, by_float(lambda v: math.sin(float(v)))),
       ("SOFTPLUS", {}, by_float(lambda v: softplus(v, 1, 20))),
       ("SOFTPLUS", {"beta": -0.5, "threshold": 0.75}, by_float(lambda v: softplus(v, -0.5, 0.75)))]
# Of an input and a result.
SINGLE = [(I8, (-3, 0.05), (7, 0.08)), (U8, (100, 0.03), (128, 0.01)), (I8, (0, 0.5), (-128, 1.0)), (I8, (9, 0.1), (9, 0.1)),
          (U8, (255, 1e-5), (0, 2e-4)), (I8, (-128, 7.5), (127, 0.3)), (I8, (0, 0), (4, 0.25)), (U8, (5, 0.25), (0, 0))]


def one_input(w, only):
    for n, (op, attrs, function) in enumerate(ONE):
        if op != only:
            continue
        for kind, *p in SINGLE:
            a, y = [quant_of(kind, v) for v in p]
            if abs(y.s) < 1e-3 and y.s and op == "EXPFUSION":
                continue
            codes = np.arange(a.lo, a.hi + 1)
            codes = codes[::2] if n < 16 else codes[::3]
            want = [(q, function(int(q), a, y)) for q in codes]
            want = [v for v in want if v[1] is not None]
            w.case(title(op, attrs, kind, p), op, attrs, [a.tensor([v[0] for v in want])], [y.tensor([v[1] for v in want])])
        for shape in ((), (2, 0), (1, 2, 1, 2, 1, 2, 1, 2)):
            a, y = quant_of(I8, (-3, 0.05)), quant_of(I8, (7, 0.08))
            x = np.full(shape, 5, I8)
            w.case("%s %s %s" % (op, attrs, list(shape)), op, attrs, [a.tensor(x)],
                   [y.tensor(np.full(shape, function(5, a, y)))])
        if op not in [v[0] for v in ONE[:n]]:
            refused_one(w, op, attrs)
    for tanh, op in ((False, 2), (True, 10)) if only == ACT else ():
        for kind, z, s in ((I8, -3, 0.05), (U8, 77, 0.02), (I8, 127, 0.7), (I8, 0, 40.0), (U8, 0, 1e-4), (I8, 5, 0),
                           (I8, 3, 1e-12)):
            a = Params(kind, z, s)
            y = Params(kind, (-128 if kind == I8 else 0) + 128 * tanh, 1 / 128 if tanh else 1 / 256)
            x = np.arange(a.lo, a.hi + 1)
            w.case("ACTIVATION in integers %s %s %d %g" % (op, np.dtype(kind).name, z, s), ACT, {"activationType": op},
                   [a.tensor(x)], [y.tensor([logistic(int(q), a, y, tanh) for q in x])])


def refused_one(w, op, attrs):
    x, name = np.array([1, 2], I8), "refused: %s " % op
    good = Tensor(x, quant=[(8, 0, 0.5)])
    for what, first, second, code in (
            ("two parameters", Tensor(x, quant=[(8, 0, 0.5), (8, 1, 0.5)]), good, "UNSUPPORTED_OP"),
            ("of the result two", good, Tensor(x, quant=[(8, 0, 0.5), (8, 1, 0.5)]), "UNSUPPORTED_OP"),
            ("5 bits", Tensor(x, quant=[(5, 0, 0.5)]), good, "UNSUPPORTED_OP"),
            ("5 bits of the result", good, Tensor(x, quant=[(5, 0, 0.5)]), "UNSUPPORTED_OP"),
            ("zero point 200", Tensor(x, quant=[(8, 200, 0.5)]), good, "INVALID_PARAMETER"),
            ("zero point 200 of the result", good, Tensor(x, quant=[(8, 200, 0.5)]), "INVALID_PARAMETER"),
            ("a plain result", good, x, "INVALID_DATATYPE"),
            ("a result uint8", good, Tensor(x.astype(U8), quant=[(8, 0, 0.5)]), "INVALID_DATATYPE"),
            ("int16", *[Tensor(x.astype(np.int16), quant=[(16, 0, 0.5)])] * 2, "INVALID_DATATYPE")):
        w.case(name + what, op, attrs, [first], [second], error=code)


# ---------------------------------------------------------------- BIAS_ADD, PRELU_FUSION, CLIP with tensors


def bias_add(w):
    for kind, p, q in SINGLE:
        a, y = quant_of(kind, p), quant_of(kind, q)
        for form, shape, ones in ((None, (2, 3, 4), (4,)), ("NCHW", (2, 3, 2, 2), (3, 1, 1)), (None, (0, 2), (2,))):
            x, b = a.some(shape), random.integers(-300, 300, ones).astype(np.int32)
            b.reshape(-1)[0] = 2**31 - 1
            z = pairs(lambda u, v: y.out(R(u - a.z + v, ratio(a.s, y.s))), x, b)
            w.case("BIAS_ADD %s %s %s %s" % (np.dtype(kind).name, list(shape), p, q), "BIAS_ADD", {},
                   [a.tensor(x), const(b.reshape(-1))], [y.tensor(z)], fmt=form)
    a, y = Params(I8, -3, 0.05), Params(I8, 7, 0.08)
    x, b = a.some((2, 3)), np.array([1, -2**31, 3], np.int32)
    z = pairs(lambda u, v: y.out(R(u - a.z + v, ratio(a.s, y.s))), x, b)
    w.case("BIAS_ADD a bias with parameters, which count for nothing", "BIAS_ADD", {},
           [a.tensor(x), Tensor(b, quant=[(32, 5, 77.0)])], [y.tensor(z)])
    w.case("BIAS_ADD refused: int64", "BIAS_ADD", {}, [a.tensor(x), b.astype(np.int64)], [y.tensor(z)],
           error="INVALID_DATATYPE")
    w.case("BIAS_ADD refused: int8", "BIAS_ADD", {}, [a.tensor(x), a.tensor(b % 100)], [y.tensor(z)], error="INVALID_DATATYPE")
    w.case("BIAS_ADD refused: a plain result", "BIAS_ADD", {}, [a.tensor(x), b], [x], error="INVALID_DATATYPE")


def prelu(w):
    op = "PRELU_FUSION"
    for kind, p, q in SINGLE:
        a, y, b = quant_of(kind, p), quant_of(kind, q), Params(kind, 20, 0.01)
        for form, shape, ones in ((None, (2, 9, 2), (2,)), ("NCHW", (2, 2, 3, 3), (2, 1, 1)), (None, (30,), (1,)),
                                  (None, (0, 2), (2,))):
            x, slope, real = a.some(shape), b.some(ones), random.normal(0, 1, ones).astype(f32)
            name = "%s %s %s %s %s" % (op, np.dtype(kind).name, list(shape), p, q)
            z = pairs(lambda u, v: y.out(R(u - a.z, ratio(a.s, y.s)) if u >= a.z else
                                         R((u - a.z) * (v - b.z), ratio(a.s * b.s, y.s))), x, slope)
            w.case(name, op, {}, [a.tensor(x), b.tensor(slope.reshape(-1))], [y.tensor(z)], fmt=form)
            for dtype in (f32, np.float16):
                r = real.astype(dtype)
                u, v = np.broadcast_arrays(x, r)
                z = np.array([y.out(R(int(i) - a.z, ratio(a.s, y.s) if i >= a.z else ratio(a.s * float(s), y.s)))
                              for i, s in zip(u.reshape(-1), v.reshape(-1))]).reshape(shape)
                w.case(name + " slopes " + np.dtype(dtype).name, op, {}, [a.tensor(x), const(r.reshape(-1))], [y.tensor(z)],
                       fmt=form)
    a = Params(I8, -3, 0.05)
    x = a.tensor([1, 2])
    w.case("refused: %s a plain result" % op, op, {}, [x, a.tensor([1])], [np.array([1, 2], I8)], error="INVALID_DATATYPE")
    w.case("refused: %s plain slopes" % op, op, {}, [x, np.array([1], I8)], [x], error="INVALID_DATATYPE")
    w.case("refused: %s float64 slopes" % op, op, {}, [x, np.array([1.0])], [x], error="INVALID_DATATYPE")
    x = a.tensor([[1, 2]])
    w.case("refused: %s slopes of two parameters" % op, op, {}, [x, Tensor(np.array([1, 2], I8), quant=[(8, 0, 0.5)] * 2)], [x],
           error="UNSUPPORTED_OP")


def clip_tensors(w):
    a, y, p, q = Params(I8, -3, 0.05), Params(I8, 7, 0.08), Params(I8, 20, 0.01), Params(I8, -60, 0.02)
    x = np.arange(-128, 128)
    for name, low, high in (("both", -100, 60), ("min", -100, None), ("max", None, 60), ("beyond", 127, None)):
        lo = y.lo if low is None else y.out(R(low - p.z, p.s / y.s))
        hi = y.hi if high is None else y.out(R(high - q.z, q.s / y.s))
        z = [y.out(R(int(v) - a.z, ratio(a.f, y.f)), (lo, hi)) for v in x]
        for fixed in (False, True):
            ins = [a.tensor(x), None if low is None else p.tensor(low), None if high is None else q.tensor([high])]
            for t in ins[1:]:
                if t is not None:
                    t.constant = fixed
            w.case("CLIP tensors: %s%s" % (name, " const" if fixed else ""), "CLIP", {}, ins, [y.tensor(z)])
    w.case("CLIP tensor and attribute", "CLIP", {"max": 1.5}, [a.tensor(x), p.tensor(-100)],
           [y.tensor([y.out(R(int(v) - a.z, ratio(a.f, y.f)), (y.out(R(-120, p.s / y.s)), y.stored(1.5))) for v in x])])
    w.case("CLIP min above max in a run", "CLIP", {}, [a.tensor(x), p.tensor(120), q.tensor(-128)], [y.tensor(x)],
           run_error="INVALID_PARAMETER",
           says="min is %d of the stored integers of the result, expected at most max: %d" %
           (y.out(R(120 - p.z, p.s / y.s)), y.out(R(-128 - q.z, q.s / y.s))))
    w.case("refused: CLIP a plain bound", "CLIP", {}, [a.tensor(x), np.array(3, I8)], [y.tensor(x)], error="INVALID_DATATYPE")
    w.case("refused: CLIP a bound of two parameters", "CLIP", {},
           [a.tensor(x), Tensor(np.array([3], I8), quant=[(8, 0, 0.5)] * 2)], [y.tensor(x)], error="UNSUPPORTED_OP")
    w.case("refused: CLIP 7 bits of a bound", "CLIP", {}, [a.tensor(x), None, Tensor(np.array([3], I8), quant=[(7, 0, 0.5)])],
           [y.tensor(x)], error="UNSUPPORTED_OP")


# ---------------------------------------------------------------- lines and sets


def along(function, x, axes):
    """function of a list of all elements along axes gives as many, or one."""
    axes = tuple(i % x.ndim for i in axes)
    y = np.moveaxis(x, axes, range(x.ndim - len(axes), x.ndim))
    shape = y.shape
    y = np.array([function([int(v) for v in row]) for row in y.reshape((-1, int(np.prod(shape[x.ndim - len(axes):]))))])
    if y.ndim == 1:
        return y.reshape(shape[:x.ndim - len(axes)])
    return np.moveaxis(y.reshape(shape), range(x.ndim - len(axes), x.ndim), axes)


def softmax(line, a, y):
    m, e = M(min(a.s * 2**26, 2.0**31 - 1))
    least = -int(math.floor(31 * 2**26 / 2.0**e))
    d = [q - max(line) for q in line]
    w = [0 if v < least else exponential(rescale(v, m, e), 5) for v in d]
    total = sum(D(v, 12) for v in w)
    k = total.bit_length()
    inverse, exact = reciprocal(total * 2**32 // 2**k - 2**31), y.s == 1 / 256 and y.z == y.lo
    c = [H(inverse, v) for v in w]
    if exact:
        return [y.out(0 if total >= 2**28 else D(v, k + 3)) for v in c]
    return [y.out(R(D(v, k - 5), ratio(1.0, 65536 * y.s))) for v in c]


def l2_normalize(line, a, y, epsilon, kind):
    v = [q - a.z for q in line]
    s = max(sum(i * i for i in v), min(away(min(ratio(float(f32(epsilon)), a.s * a.s), 1e9)), 2**62))
    x, n = 2**31 - 1, 0
    if s > 1:
        n = 11
        while s >= 2**29:
            s, n = s >> 2, n + 1
        j = (31 - s.bit_length()) // 2 - 1
        n, s = n - j, s * 4**j
        u, x = D(s >> 1, 1), 2**28
        for _ in range(5):
            x = saturate(8 * (H(402653184, x) - H(u, saturate(64 * H(H(x, x), x)))))
        x = H(x, 1518500250)
        x, n = (x * 2**-n, 0) if n < 0 else (x, n)
    return [y.out(rescale(i, x, 7 - n), y.bounds(kind)) for i in v]


def reduced(line, mode, a, y):
    v, n, d = [q - a.z for q in line], len(line), ratio(a.s, y.s)
    if mode == 0:
        m, e = M(d)
        k = min(n.bit_length() - 1, 32, 31 + e)
        return y.out(rescale(sum(v), m * 2**k // n, e - k))
    if mode in (1, 2):
        return requantised((max if mode == 1 else min)(line), a, y)
    if mode == 5:
        return y.out(R(sum(i * i for i in v), ratio(a.s * a.s, y.s)))
    if mode == 7:
        return y.out(away(ratio(f32(1), y.f)) if all(v) else 0)
    if mode in (3, 8):
        real = np.prod([a.s * i for i in v]) if mode == 3 else math.sqrt(sum((a.s * i)**2 for i in v))
        return y.out(away(ratio(real, y.s)))
    return y.out(R(sum(map(abs, v)) if mode == 6 else sum(v), d))


def by_reals(shape, a, y, f, exact=False):
    """Stored integers of this shape, and the stored integers of f of their real values, in float64: f and a float32 kernel give
    the same, as no result lies near the middle of two integers. exact: neither rounds."""
    for _ in range(2000):
        x = a.some(shape)
        v = np.asarray(f(np.float64(a.f) * (x.astype(np.float64) - a.z)))
        v = v / np.float64(y.f) if y.s > 0 else np.zeros(v.shape)
        if exact or np.all((np.abs(v - np.floor(v) - 0.5) > 2e-3) | (np.abs(v) > 600)):
            return x, np.array([y.out(away(i)) for i in v.reshape(-1)], int).reshape(v.shape)
    raise ValueError("always in the middle of two integers")


def batch_norms(w):
    op = "FUSED_BATCH_NORM"
    for n, (kind, p, q) in enumerate(SINGLE):
        a, y = quant_of(kind, p), quant_of(kind, q)
        for shape, fmt in (((2, 3), None), ((1, 3, 2, 2), "NCHW"), ((2, 2, 3), "NHWC")):
            t = np.float16 if n % 3 == 1 else f32
            parts = [(random.integers(-8, 9, 3) / 4).astype(t) for _ in range(3)] + [(random.integers(1, 9, 3) / 4).astype(t)]
            scale, offset, mean, variance = (torch.tensor(v.astype(np.float64)) for v in parts)
            axis = 1 if fmt == "NCHW" else -1

            def norm(r):
                t = torch.movedim(torch.tensor(r), axis, -1)
                y = torch.nn.functional.batch_norm(t.reshape(-1, 3), mean, variance, scale, offset, False, 0.0, float(f32(1e-4)))
                return torch.movedim(y.reshape(t.shape), -1, axis).numpy()
            x, z = by_reals(shape, a, y, norm)
            w.case("%s %s" % (title(op, {}, kind, (p, q)), list(shape)), op, {"epsilon": 1e-4}, [a.tensor(x)] + parts,
                   [y.tensor(z)], fmt=fmt)
    one = [np.ones(2, f32)] * 4
    a = Params(I8, 0, 0.5)
    for name, x, y, parts, code in (("quantised vectors", a.tensor([1, 2]), a.tensor([1, 2]), [a.tensor([1, 1])] * 4, "INVALID_DATATYPE"),
                                    ("a plain result", a.tensor([1, 2]), np.zeros(2, I8), one, "INVALID_DATATYPE"),
                                    ("two parameters", Tensor(np.zeros(2, I8), quant=[(8, 0, 0.5)] * 2), a.tensor([1, 2]), one, "UNSUPPORTED_OP"),
                                    ("7 bits of the result", a.tensor([1, 2]), Tensor(np.zeros(2, I8), quant=[(7, 0, 0.5)]), one,
                                     "UNSUPPORTED_OP")):
        w.case("refused: quantised, " + name, op, {}, [x] + parts, [y], error=code)


def layer_norms(w):
    op = "LAYER_NORM_FUSION"
    for n, (kind, p, q) in enumerate(SINGLE):
        a, y = quant_of(kind, p), quant_of(kind, q)
        for shape, first, params, affine in (((3, 7), 1, 1, True), ((2, 3, 4), 2, 1, True), ((2, 3, 4), 1, 1, False), ((4,), 0, 0, True)):
            t = np.float16 if n % 3 == 1 else f32
            gamma, beta = [(random.integers(-8, 9, shape[params:]) / 4 + 0.01).astype(t) for _ in range(2)]

            def norm(r):
                y = torch.nn.functional.layer_norm(torch.tensor(r), shape[first:], None, None, float(f32(0.01))).numpy()
                return y * gamma.astype(np.float64) + beta.astype(np.float64) if affine else y
            x, z = by_reals(shape, a, y, norm)
            w.case("%s %s %d %d%s" % (title(op, {}, kind, (p, q)), list(shape), first, params, "" if affine else " plain"), op,
                   {"beginNormAxis": first, "beginParamsAxis": params, "elementwiseAffine": affine, "epsilon": 0.01},
                   [a.tensor(x)] + ([gamma, beta] if affine else []), [y.tensor(z)])
    a, one = Params(I8, 0, 0.5), [np.ones(2, f32)] * 2
    attrs = {"beginNormAxis": 0, "beginParamsAxis": 0, "elementwiseAffine": True}
    for name, x, y, parts, code in (("gamma quantised", a.tensor([1, 2]), a.tensor([1, 2]), [a.tensor([1, 1])] * 2, "INVALID_DATATYPE"),
                                    ("gamma of another length", a.tensor([1, 2, 3]), a.tensor([1, 2, 3]), one, "INVALID_SHAPE"),
                                    ("a plain result", a.tensor([1, 2]), np.zeros(2, I8), one, "INVALID_DATATYPE"),
                                    ("two parameters", Tensor(np.zeros(2, I8), quant=[(8, 0, 0.5)] * 2), a.tensor([1, 2]), one, "UNSUPPORTED_OP"),
                                    ("zero point 200 of the result", a.tensor([1, 2]), Tensor(np.zeros(2, I8), quant=[(8, 200, 0.5)]), one,
                                     "INVALID_PARAMETER")):
        w.case("refused: quantised, " + name, op, attrs, [x] + parts, [y], error=code)


def softmax_lines(w):
    op = "SOFTMAX"
    for kind, *p in SINGLE:
        a, y = [quant_of(kind, v) for v in p]
        for shape, axis in (((3, 11), -1), ((2, 5, 3), 1), ((4, 1), 1), ((1, 700), 1), ((0, 4), 1)):
            if shape == (1, 700) and a.s not in (Params(I8, 0, 1e-5).s, Params(I8, 0, 0.05).s):
                continue
            x = a.some(shape)
            for out in (y, Params(kind, y.lo, 1 / 256)):
                z = along(lambda v: softmax(v, a, out), x, (axis,)) if x.size else x
                name = "quantised %s %s %d %s to %d,%g" % (np.dtype(kind).name, list(shape), axis, p[0], out.z, out.s)
                w.case(name, op, {"axis": [axis]}, [a.tensor(x)], [out.tensor(z)])
        a = Params(kind, p[0][0], 1e-16)  # differences of 3e-14 at most: all results are about 1/11
        x = a.some((2, 11))
        w.case("quantized %s %s to %s, scale 1e-16" % (np.dtype(kind).name, *p), op, {"axis": [1]}, [a.tensor(x)],
               [y.tensor(along(lambda v: softmax(v, a, y), x, (1,)))])
    refused_one(w, op, {})


def log_softmax_lines(w):
    op = "LOG_SOFTMAX"
    for kind, p, q in SINGLE:
        a, y = quant_of(kind, p), quant_of(kind, q)
        for shape, axis, fmt in (((3, 7), -1, None), ((2, 5, 3), 1, None), ((4, 1), 1, None), ((1, 3, 2, 2), 1, "NCHW"),
                                 ((0, 4), 1, None)):
            x, z = by_reals(shape, a, y, lambda r: torch.log_softmax(torch.tensor(r), axis).numpy())
            w.case("%s %s %d" % (title(op, {}, kind, (p, q)), list(shape), axis), op, {"axis": axis}, [a.tensor(x)],
                   [y.tensor(z)], fmt=fmt)
    refused_one(w, op, {})


def lp_lines(w):
    op = "LP_NORMALIZATION"
    for n, (kind, p, q) in enumerate(SINGLE + [(I8, (-3, 0.05), (0, 1 / 128)), (U8, (77, 0.02), (128, 1 / 128))]):
        a, y = quant_of(kind, p), quant_of(kind, q)
        for shape, axis in (((3, 7), -1), ((2, 5, 3), 1), ((4, 1), 1), ((0, 4), 1)):
            for power in (1, 2):
                epsilon = (1e-5, 0.25)[(n + power) % 2] if shape[axis] > 1 else 0.25  # 1 / s_y may be a half

                def norm(r):
                    t = torch.tensor(r)
                    return (t / (torch.linalg.vector_norm(t, power, axis, True) + float(f32(epsilon)))).numpy()
                x, z = by_reals(shape, a, y, norm)
                w.case("%s %s %d p %d" % (title(op, {}, kind, (p, q)), list(shape), axis, power), op,
                       {"axis": axis, "p": power, "epsilon": epsilon}, [a.tensor(x)], [y.tensor(z)])
    refused_one(w, op, {"axis": 0})


def running_sums(w):
    op = "CUM_SUM"
    for kind, p, q in SINGLE:
        a, y = quant_of(kind, p), quant_of(kind, q)
        for n, (exclusive, reverse) in enumerate(((False, False), (True, False), (False, True), (True, True))):
            for shape, axis in (((3, 5), 1), ((5, 2), 0), ((0, 4), 1)):
                def sums(r):
                    r = np.flip(r, axis) if reverse else r
                    z = np.cumsum(r, axis)
                    z = z - r if exclusive else z
                    return np.flip(z, axis) if reverse else z
                x, z = by_reals(shape, a, y, sums, exact=all(math.frexp(v.s)[0] in (0, 0.5) for v in (a, y)))
                given = np.array([axis - (2 if n % 2 else 0)], np.int32)
                w.case("%s %s %d%s%s" % (title(op, {}, kind, (p, q)), list(shape), axis, " exclusive" * exclusive,
                                         " reverse" * reverse), op, {"exclusive": exclusive, "reverse": reverse},
                       [a.tensor(x), const(given) if n < 2 else given], [y.tensor(z)])
    a, y = Params(I8, -3, 0.0625), Params(I8, 7, 0.125)
    w.case("quantised, axis 2 in a run", op, {}, [a.tensor([[1, 2]]), np.array([2], np.int32)], [y.tensor([[1, 2]])],
           run_error="INVALID_PARAMETER", says="axis is 2, expected -2 to 1")
    refused_one(w, op, {})


def powers(w):
    op = "POW_FUSION"

    def value(p, q, a, b, y, scale, shift):
        """None for a result so near to a half that only its bits decide."""
        base = f32(f32(scale) * (a.f * f32(p - a.z)) + f32(shift))
        with np.errstate(all="ignore"):
            r = float(f32(np.power(np.float64(base), np.float64(b.f * f32(q - b.z)))))
        if math.isnan(r) or y.s == 0:
            return y.out(0)
        v = max(-1e9, min(1e9, r / float(y.f)))
        return None if abs(abs(v) % 1 - 0.5) < 2e-3 and abs(v) < 600 and v != 0.5 else y.out(away(v))

    for n, (kind, *p) in enumerate(SETS + [(I8, (-128, 0.02), (0, 0.5), (-100, 0.05)), (U8, (0, 0.01), (128, 0.25), (3, 0.02))]):
        a, b, y = [quant_of(kind, v) for v in p]
        scale, shift = ((1, 0), (0.5, 0.25), (-1.5, 0), (1, -0.75))[n % 4]
        u, v = a.some(60), b.some(60)
        u[:6], v[:6] = [a.lo, a.lo, a.hi, a.hi, a.z, a.z], [b.lo, b.hi, b.lo, b.hi, b.z, b.hi]
        rows = [(i, j, value(int(i), int(j), a, b, y, scale, shift)) for i, j in zip(u, v)]
        u, v, z = zip(*[row for row in rows if row[2] is not None])
        w.case("%s %g %g" % (title(op, {}, kind, p), scale, shift), op, {"scale": scale, "shift": shift},
               [a.tensor(u), b.tensor(v)], [y.tensor(z)])
    a, b, y = Params(I8, -100, 0.013), Params(I8, 7, 0.03), Params(I8, -90, 0.021)
    for m, n in SHAPES:
        z = [None]
        while None in z:
            u, v = a.some(m), b.some(n)
            s, t = np.broadcast_arrays(u, v)
            z = [value(int(i), int(j), a, b, y, 1, 0) for i, j in zip(s.reshape(-1), t.reshape(-1))]
        w.case("%s %s with %s" % (op, list(m), list(n)), op, {"scale": 1.0, "shift": 0.0}, [a.tensor(u), b.tensor(v)],
               [y.tensor(np.array(z, int).reshape(s.shape))])
    refused_two(w, op, op, {"scale": 1.0, "shift": 0.0}, a, y)


def l2_sets(w):
    op = "L2_NORMALIZE_FUSION"
    for kind, p, q in SINGLE:
        a, y = quant_of(kind, p), Params(kind, quant_of(kind, q).lo + 128, 1 / 128)
        for shape, axes, epsilon, act in (((3, 7), [-1], 1e-6, 0), ((2, 3, 4), [0, 2], 1e-4, 1), ((5, 1), [], 0.0, 3),
                                          ((2, 40), [1], 10.0, 7)):
            x = a.some(shape)
            x.reshape(-1)[:shape[-1]] = a.z
            z = along(lambda v: l2_normalize(v, a, y, epsilon, act), x, axes or [-1])
            w.case("quantised %s %s %s %g" % (np.dtype(kind).name, list(shape), p, epsilon), op,
                   {"axis": axes, "epsilon": epsilon, "activationType": act}, [a.tensor(x)], [y.tensor(z)])
    refused_one(w, op, {})
    for kind, p, q in SINGLE + [(I8, (-3, 0.05), (1, 1 / 128)), (U8, (3, 0.05), (0, 1 / 128)), (I8, (-3, 0.05), (0, 1 / 256))]:
        a, y = quant_of(kind, p), quant_of(kind, q)
        for shape, axes, epsilon, act in (((3, 7), [-1], 1e-6, 0), ((2, 3, 4), [0, 2], 1e-4, 1), ((5, 2), [], 4.0, 3)):
            def norm(r):
                squares = np.maximum(np.sum(r * r, tuple(axes or [-1]), keepdims=True), np.float64(f32(epsilon)))
                return np.clip(r / np.sqrt(squares), 0 if act else -np.inf, 6 if act == 3 else np.inf)
            x, z = by_reals(shape, a, y, norm)
            w.case("%s %s by reals" % (title(op, {}, kind, (p, q)), list(shape)), op,
                   {"axis": axes, "epsilon": epsilon, "activationType": act}, [a.tensor(x)], [y.tensor(z)])
    a, y = quant_of(I8, (-3, 0.05)), Params(I8, 0, 1 / 128)
    x = (np.arange(64, dtype=np.int64) * 37 % 256 - 128).astype(I8).reshape((2, 1, 2, 2, 2, 2, 1, 2))
    z = along(lambda v: l2_normalize(v, a, y, 1e-6, 0), x, [0, 7])
    w.case("quantised int8 rank 8", op, {"axis": [0, 7]}, [a.tensor(x)], [y.tensor(z)])


def reduce_sets(w):
    op, one = "REDUCE_FUSION", const(np.array([1], np.int32))
    for kind, *p in SINGLE:
        a, y = [quant_of(kind, v) for v in p]
        for mode in (0, 1, 2, 4, 5, 6, 7):
            for shape, axes in (((3, 8), [1]), ((2, 3, 4), [0, 2]), ((5, 7), [0, 1]), ((2, 300), [1]), ((4, 1), [1])):
                if shape == (2, 300) and mode:
                    continue
                x = a.some(shape)
                row = x.reshape(-1)[:shape[-1]]
                row[row == a.z] = a.z + 1 if a.z < a.hi else a.z - 1  # a set in which all are true
                z = along(lambda v: reduced(v, mode, a, y), x, axes)
                keep = mode % 2 == 0
                z = z.reshape([1 if i in axes else n for i, n in enumerate(shape)] if keep else z.shape)
                w.case("quantised %d %s %s %s to %s" % (mode, np.dtype(kind).name, list(shape), *p), op,
                       {"mode": mode, "keepDims": keep, "coeff": 3.0}, [a.tensor(x), const(np.array(axes, np.int32))],
                       [y.tensor(z)])
    a, y = Params(I8, -3, 0.0625), Params(I8, 7, 0.125)
    for mode in (3, 8):
        x = a.some((6, 3)) // 8
        z = along(lambda v: reduced(v, mode, a, y), x, [1])
        w.case("quantised %d in float32" % mode, op, {"mode": mode}, [a.tensor(x), one], [y.tensor(z)])
    nothing = a.tensor(np.zeros((2, 0)))
    for mode, z in ((4, 7), (5, 7), (6, 7), (7, 15), (3, 15), (8, 7)):
        w.case("quantised %d of nothing" % mode, op, {"mode": mode}, [nothing, one], [y.tensor([z, z])])
    w.case("refused: quantised MEAN of nothing", op, {}, [nothing, one], [y.tensor([0, 0])], error="INVALID_SHAPE")
    refused_one(w, op, {"mode": 4, "keepDims": True})


# ---------------------------------------------------------------- RESIZE


def taps(L, m, mode, scale=None):
    """Two cells and the weight of the second of 1024, for each of m places of the result."""
    step = (1024 * L + m // 2) // m
    if mode == 1 and m > 1:
        step = (1024 * (L - 1) + (m - 1) // 2) // (m - 1)
    elif scale is not None:
        step = away(1024 / float(f32(scale)))
    for i in range(m):
        p = i * step if mode != 2 else 0 if m == 1 else i * step + step // 2 - 512
        first = max(0, min(L - 1, math.trunc(p / 1024)))
        yield first, min(math.trunc((p + 1023) / 1024), L - 1), p - 1024 * first


def nearest(L, m, mode, rounding):
    """Exact: halves, floors and ceilings of fractions."""
    for i in range(m):
        at = Fraction(i * L, m)
        if mode == 1:
            at = Fraction(i * (L - 1), m - 1) if m > 1 else Fraction(0)
        elif mode == 2:
            at = max(Fraction((2 * i + 1) * L, 2 * m) - Fraction(1, 2), Fraction(0)) if m > 1 else Fraction(0)
        half = Fraction(1, 2)
        at = [math.floor(at + half), math.ceil(at - half), math.floor(at + half), math.floor(at), math.ceil(at)][rounding]
        yield max(0, min(L - 1, at)), max(0, min(L - 1, at)), 0


def resized(x, rows, columns, a, y):
    z = np.zeros((x.shape[0], len(rows), len(columns), x.shape[3]), int)
    for n, p, q, c in np.ndindex(z.shape):
        (i, k, t), (j, l, s) = rows[p], columns[q]
        v = [int(x[n, r, o, c]) * f * g for r, f in ((i, 1024 - t), (k, t)) for o, g in ((j, 1024 - s), (l, s))]
        z[n, p, q, c] = requantised(D(sum(v), 20), a, y)
    return z


def resize(w):
    op, size = "RESIZE", lambda *v: const(np.array(v, np.int32))
    for n, (kind, p, q) in enumerate(SINGLE + [(I8, (-3, 0.05), (-3, 0.05))]):
        a, y = quant_of(kind, p), quant_of(kind, q)
        for mode in range(3):
            for h, v in ((7, 5), (1, 1), (2, 9), (6, 8), (3, 4)):
                x = a.some((1, 3, 4, 2))
                attrs = {"method": 0, "coordinateTransformMode": mode, "newHeight": h, "newWidth": v}
                z = resized(x, list(taps(3, h, mode)), list(taps(4, v, mode)), a, y)
                name = "RESIZE %s %s to %s mode %d [%d,%d]" % (np.dtype(kind).name, p, q, mode, h, v)
                w.case(name, op, attrs, [a.tensor(x)], [y.tensor(z)])
                rounding = (n + h) % 5
                z = resized(x, list(nearest(3, h, mode, rounding)), list(nearest(4, v, mode, rounding)), a, y)
                w.case(name + " nearest %d" % rounding, op, dict(attrs, method=1, nearestMode=rounding), [a.tensor(x)],
                       [y.tensor(z)])
            scale = np.array([1, 1.7, 2.25, 1], f32)
            z = resized(x, list(taps(3, 5, mode, scale[1])), list(taps(4, 9, mode, scale[2])), a, y)
            w.case("RESIZE %s %s to %s mode %d by scales" % (np.dtype(kind).name, p, q, mode), op,
                   {"method": 0, "coordinateTransformMode": mode}, [a.tensor(x), const(scale)], [y.tensor(z)])
    a, y = Params(U8, 3, 0.5), Params(U8, 100, 0.25)
    x = a.some((2, 3, 5, 3))
    z = resized(x, list(taps(3, 6, 2)), list(taps(5, 4, 2)), a, y)
    w.case("RESIZE NCHW, size an input", op, {"method": 0, "coordinateTransformMode": 2},
           [a.tensor(np.transpose(x, (0, 3, 1, 2))), size(6, 4)], [y.tensor(np.transpose(z, (0, 3, 1, 2)))], fmt="NCHW")
    attrs, good = {"method": 0, "newHeight": 6, "newWidth": 4}, [y.tensor(z)]
    w.case("refused: quantised, a plain result", op, attrs, [a.tensor(x)], [z.astype(U8)], error="INVALID_DATATYPE")
    w.case("refused: quantised, two parameters", op, attrs, [Tensor(x, quant=[(8, 3, 0.5)] * 2)], good, error="UNSUPPORTED_OP")
    w.case("refused: quantised, 7 bits of the result", op, dict(attrs, method=1), [a.tensor(x)],
           [Tensor(z.astype(U8), quant=[(7, 3, 0.5)])], error="UNSUPPORTED_OP")


# ---------------------------------------------------------------- FLOOR_DIV, SCALE_FUSION, ADD_N


def floor_divide(p, q, a, b, y, out):
    u, v = comparable(p, q, a, b, 30)
    if v == 0:
        return out(2**40 if p > a.z else -2**40 if p < a.z else 0)
    return out(R(u // v, ratio(1.0, y.s)))


def floor_divisions(w):
    op = "FLOOR_DIV"
    for kind, *p in SETS:
        a, b, y = [quant_of(kind, v) for v in p]
        u, v = a.some(60), b.some(60)
        u[:6], v[:6] = [a.lo, a.lo, a.hi, a.hi, a.z, a.z], [b.lo, b.hi, b.lo, b.z, b.z, b.hi]
        w.case(title(op, {}, kind, p), op, {}, [a.tensor(u), b.tensor(v)],
               [y.tensor(pairs(floor_divide, u, v, a, b, y, y.out))])
    refused_two(w, op, op, {}, Params(I8, -3, 0.05), Params(I8, 7, 0.08))


def scale_fusion(w):
    op = "SCALE_FUSION"
    for kind, *p in SETS:
        a, b, y = [quant_of(kind, v) for v in p]
        c = quant_of(kind, p[0])
        bias, whole = c.some(3), np.array([2**31 - 1, -2**31, 1000], np.int32)
        for act in (0, 1, 3, 7):
            x, s = a.some((2, 3, 4)), b.some(3)
            for name, more in (("no bias", []), ("bias", [c.tensor(bias)]), ("int32 bias", [const(whole)])):
                z = np.zeros(x.shape, int)
                for i in np.ndindex(x.shape):
                    acc = (int(x[i]) - a.z) * (int(s[i[1]]) - b.z)
                    if name == "bias":
                        acc += R(int(bias[i[1]]) - c.z, ratio(c.s, a.s * b.s))
                    elif more:
                        acc += int(whole[i[1]])
                    z[i] = y.out(R(acc, ratio(a.s * b.s, y.s)), y.bounds(act))
                w.case("%s %s" % (title(op, {"act": act}, kind, p), name), op, {"axis": 1, "activationType": act},
                       [a.tensor(x), b.tensor(s)] + more, [y.tensor(z)])
    x, y = Params(I8, -3, 0.05).tensor([1]), Params(I8, 7, 0.08).tensor([1])
    for name, bias, out, code in (("a float bias", np.array([1], f32), y, "INVALID_DATATYPE"),
                                  ("a plain bias", np.array([1], I8), y, "INVALID_DATATYPE"),
                                  ("a plain result", x, np.array([1], I8), "INVALID_DATATYPE"),
                                  ("a bias of 7 bits", Tensor(np.array([1], I8), quant=[(7, 0, 0.5)]), y, "UNSUPPORTED_OP")):
        w.case("refused: quantised, " + name, op, {}, [x, x, bias], [out], error=code)


def add_n(w):
    op = "ADD_N"
    for kind, *p in SETS:
        a, b, y = [quant_of(kind, v) for v in p]
        for n in (1, 2, 3, 20):
            params = ([a, b, quant_of(kind, p[0])] * 7)[:n]
            xs = [v.some((2, 5) if k % 2 == 0 else (5,)) for k, v in enumerate(params)]
            S = 2 * max(v.s for v in params)
            z = np.zeros((2, 5), int)
            for i in np.ndindex(z.shape):
                q = [int(np.broadcast_to(x, (2, 5))[i]) for x in xs]
                total = sum(R((k - v.z) << 20, ratio(v.s, S)) for k, v in zip(q, params))
                z[i] = requantised(q[0], a, y) if n == 1 else y.out(R(total, ratio(S, 2.0**20 * y.s)))
            w.case("%s of %d" % (title(op, {}, kind, p), n), op, {}, [v.tensor(x) for v, x in zip(params, xs)], [y.tensor(z)])
    refused_one(w, op, {})


WHOLE = {"BIAS_ADD": bias_add, "PRELU_FUSION": prelu, "SOFTMAX": softmax_lines, "L2_NORMALIZE_FUSION": l2_sets,
         "REDUCE_FUSION": reduce_sets, "RESIZE": resize, "FLOOR_DIV": floor_divisions, "SCALE_FUSION": scale_fusion,
         "ADD_N": add_n, "LOG_SOFTMAX": log_softmax_lines, "LP_NORMALIZATION": lp_lines, "CUM_SUM": running_sums,
         "POW_FUSION": powers, "FUSED_BATCH_NORM": batch_norms, "LAYER_NORM_FUSION": layer_norms}


def cases(op):
    """Returns a function that writes the cases of an operator."""
    def also(w):
        two_inputs(w, op)
        comparisons(w, op)
        one_input(w, op)
        if op == "CLIP":
            clip_tensors(w)
        if op in WHOLE:
            WHOLE[op](w)
    return also
