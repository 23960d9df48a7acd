"""The narrow floating-point formats by their definition: every code's number; the code of a number by search."""
import math

import numpy as np

IEEE, FN, FNUZ, FINITE = range(4)
# name, number in NNRT_FloatFormat, exponent bits, mantissa bits, bias, kind
FORMATS = [("bfloat16", 0, 8, 7, 127, IEEE), ("e4m3fn", 1, 4, 3, 7, FN), ("e4m3fnuz", 2, 4, 3, 8, FNUZ),
           ("e5m2", 3, 5, 2, 15, IEEE), ("e5m2fnuz", 4, 5, 2, 16, FNUZ), ("e2m1fn", 6, 2, 1, 1, FINITE)]


def width(form):
    return 1 + form[2] + form[3]


def numbers(form):
    """The number of each code that has the sign +: floats, inf, nan."""
    _, _, ebits, mbits, bias, kind = form
    found = []
    for code in range(1 << (ebits + mbits)):
        e, m = code >> mbits, code & ((1 << mbits) - 1)
        v = math.ldexp(m if e == 0 else m + (1 << mbits), max(e, 1) - bias - mbits)
        if kind == IEEE and e == (1 << ebits) - 1:
            v = math.inf if m == 0 else math.nan
        if kind == FN and code == (1 << (ebits + mbits)) - 1:
            v = math.nan
        found.append(v)
    return found


def decode(form):
    """The number of every code."""
    plus = numbers(form)
    minus = [-v for v in plus]
    if form[5] == FNUZ:
        minus[0] = math.nan
    return plus + minus


def encode(form, v, saturate):
    """The code whose number is nearest to v; of two, the even code. Numbers above the largest by half a step or more
    are too large."""
    _, _, ebits, mbits, _, kind = form
    top = 1 << (ebits + mbits)
    plus = numbers(form)
    finite = [x for x in plus if math.isfinite(x)]
    if math.isnan(v):
        return {IEEE: len(finite) + (1 << (mbits - 1)), FN: top - 1, FNUZ: top, FINITE: top}[kind]
    sign = top if math.copysign(1, v) < 0 else 0
    size = abs(v)
    step = finite[-1] - finite[-2]
    edge = finite[-1] + step / 2  # halfway to the number that would come next, whose code is even if the largest's is odd
    if size > edge or (size == edge and (len(finite) - 1) % 2 == 1):
        if kind == FINITE or saturate:
            return sign | (len(finite) - 1)
        return {IEEE: sign | len(finite), FN: sign | (top - 1), FNUZ: top}[kind]
    k = int(np.searchsorted(finite, size))
    if k == len(finite):
        k -= 1
    elif finite[k] != size:
        low, high = size - finite[k - 1], finite[k] - size
        if low < high or (low == high and (k - 1) % 2 == 0):
            k -= 1
    return 0 if kind == FNUZ and k == 0 else sign | k


def power_code(v, saturate, rounding):
    """E8M0FNU: the code of 2^(code - 127), rounded up, down or to the nearest (halfway between two powers: up)."""
    v = abs(v)
    if not math.isfinite(v):
        return 255
    if v <= 2.0 ** -127:
        return 0
    m, e = math.frexp(v)  # v = m * 2^e, 0.5 <= m < 1
    code = e - 1 + 127
    if (rounding == "up" and m > 0.5) or (rounding == "nearest" and m >= 0.75):
        code += 1
    return code if code < 255 else 254 if saturate else 255
