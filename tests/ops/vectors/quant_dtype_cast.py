"""QUANT_DTYPE_CAST."""
import math

import numpy as np

from common import DATATYPE, f16, f32, f64, name_of, some, Tensor, write

LIMITS = {np.int8: (-128, 127), np.uint8: (0, 255), np.int16: (-32768, 32767), np.int32: (-2 ** 31, 2 ** 31 - 1)}


def quantise_one(real, bits, zero, scale, dtype):
    """real and scale of one type, in which they are divided."""
    low, high = LIMITS[dtype]
    if scale == 0:
        return 0
    v = real / scale
    if v != v:
        return zero
    if math.isinf(v):
        return high if v > 0 else low
    return min(max(int(math.copysign(math.floor(abs(v) + 0.5), v)) + zero, low), high)


def per_channel(function, x, quant, axis=0):
    """function(element, numBits, zeroPoint, scale as float32) with one QuantParam, or one per index of the axis."""
    out = []
    for i, v in np.ndenumerate(x):
        bits, zero, scale = quant[i[axis] if len(quant) > 1 else 0]
        out.append(function(v, bits, zero, f32(scale)))
    return np.array(out, f64).reshape(x.shape)


def quantise(x, quant, dtype, axis=0):
    """x float32 or float16: the quotient is float32. float64: that of real numbers, to compare with."""
    kind = f64 if x.dtype == f64 else f32
    return per_channel(lambda v, b, z, s: quantise_one(kind(v), b, z, kind(s), dtype), x, quant, axis).astype(dtype)


def dequantise(x, quant, axis=0):
    return per_channel(lambda v, b, z, s: float(s) * (int(v) - z), x, quant, axis)


def scaled(v, factor):
    """v * factor as integer arithmetic has it: the factor with 31 bits, rounded twice."""
    m, e = math.frexp(factor)
    m = int(math.floor(m * 2 ** 31 + 0.5))
    m, e = (2 ** 30, e + 1) if m == 2 ** 31 else (m, e)
    if m == 0 or e < -31:
        return 0
    if e > 31:
        m, e = 2 ** 31 - 1, 31
    k = 0
    while not -2 ** 31 <= v >> k < 2 ** 31:
        k += 1
    v, e = v >> k, e + k
    v = (min(max(v << max(e, 0), -2 ** 31), 2 ** 31 - 1) * m + 2 ** 30) >> 31
    return v if e >= 0 else (v + (1 << (-e - 1)) - (v < 0)) >> -e


def requantise(x, qx, qy, dtype, axis=0):
    low, high = LIMITS[dtype]
    out = []
    for i, v in np.ndenumerate(x):
        a, b = qx[i[axis] if len(qx) > 1 else 0], qy[i[axis] if len(qy) > 1 else 0]
        factor = float(f32(a[2])) / float(f32(b[2])) if b[2] else 0.0
        y = min(max(scaled(int(v) - a[1], factor) + b[1], low), high)
        out.append(int(v) if a == b and x.dtype == dtype else y)
    return np.array(out, dtype).reshape(x.shape)


def real_values(x, quant, dtype, axis=0):
    """The difference and the product are rounded to float32."""
    return per_channel(lambda v, b, z, s: s * f32(int(v) - z), x, quant, axis).astype(dtype)


def make(w):
    op = "QUANT_DTYPE_CAST"

    def go(name, x, target, qx=None, qy=None, error=None):
        attrs = {"srcT": DATATYPE[name_of(x.dtype)], "dstT": DATATYPE[name_of(target)]}
        if error:
            y = np.zeros(x.shape, target)
        elif qx and qy:
            y = requantise(x, qx, qy, target)
            far = np.abs(y.astype(f64) - quantise(dequantise(x, qx), qy, target))
            assert far.max() <= (1 if target != np.int32 else 2 ** 31), name  # two roundings instead of one
        else:
            y = quantise(x, qy, target) if qy else real_values(x, qx, target)
        w.case(name, op, attrs, [Tensor(x, quant=qx)], [Tensor(y, quant=qy)], error=error)

    halves = np.arange(-9, 10) * 0.25
    for source in (f32, f16):
        edges = np.concatenate([halves, [100, -100, 1000, -1000, 60000, -60000, np.inf, -np.inf,
                                         np.nan]]).astype(source)
        for target, bits in ((np.int8, 8), (np.uint8, 8), (np.int16, 16), (np.int32, 32)):
            for zero in (0, 3) if target != np.uint8 else (0, 128):
                go("%s to %s zero point %d" % (name_of(source), name_of(target), zero), edges, target,
                   qy=[(bits, zero, 0.5)])
    go("negative zero point: halves away before the sum", np.array([0.5, 1.5, 2.5, -0.5, 1, 1.75], f32), np.int8,
       qy=[(8, -2, 1.0)])
    ties = np.arange(-120, 121).astype(f32) * f32(0.05)
    go("quotient in float32", ties, np.int8, qy=[(8, 3, 0.1)])
    assert (quantise(ties, [(8, 3, 0.1)], np.int8) != quantise(ties.astype(f64), [(8, 3, 0.1)], np.int8)).any()
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
    go("int32 beyond 24 bits", np.array([-2 ** 31, -16777217, 0, 16777217, 16777219, 2 ** 31 - 1], np.int32), f32,
       qx=[(32, 1, 0.1)])
    go("requantise int8, halves beside a zero point", np.array([-5, -3, -1, 1, 3, 5], np.int8), np.int8,
       qx=[(8, 0, 0.5)], qy=[(8, -3, 1.0)])
    go("dequantise scale 0", np.array([1, 2], np.int8), f32, qx=[(8, 0, 0.0)])
    every = np.array([-128, -127, -1, 0, 1, 64, 127], np.int8)
    go("int8 to uint8", every, np.uint8, qx=[(8, -3, 0.5)], qy=[(8, 125, 0.5)])
    assert (requantise(every, [(8, -3, 0.5)], [(8, 125, 0.5)], np.uint8) == every.astype(int) + 128).all()
    go("int8 to uint8, other parameters", every, np.uint8, qx=[(8, -3, 0.5)], qy=[(8, 100, 0.75)])
    go("uint8 to int8, other parameters", (every.astype(int) + 128).astype(np.uint8), np.int8, qx=[(8, 7, 0.5)],
       qy=[(8, -4, 0.3)])
    whole = np.arange(-128, 128).astype(np.int8)
    for a, b in ((0.5, 1.0), (0.3, 0.7), (1.0, 0.25), (0.05, 1.9)):
        go("requantise every int8, %g to %g" % (a, b), whole, np.int8, qx=[(8, 3, a)], qy=[(8, -6, b)])
    wide16 = np.array([-32768, -32767, -1001, -3, -1, 0, 1, 2, 500, 32767], np.int16)
    wide32 = np.array([-2 ** 31, -2 ** 31 + 1, -70001, -5, -1, 0, 1, 3, 70001, 2 ** 31 - 1], np.int32)
    go("int16 to int8", wide16, np.int8, qx=[(16, 0, 0.01)], qy=[(8, -3, 0.5)])
    go("int16 to int32", wide16, np.int32, qx=[(16, 5, 0.01)], qy=[(32, -3, 0.0003)])
    go("int32 to int8", wide32, np.int8, qx=[(32, 0, 0.0001)], qy=[(8, 3, 0.5)])
    go("int32 to int16", wide32, np.int16, qx=[(32, 9, 0.0001)], qy=[(16, 0, 0.125)])
    go("int8 to int16", every, np.int16, qx=[(8, -3, 0.5)], qy=[(16, 0, 0.0625)])
    go("int32 to int32, a difference outside int32", wide32, np.int32, qx=[(32, 1000, 0.5)], qy=[(32, -7, 0.75)])
    go("int32 to int32, finer: saturates", wide32, np.int32, qx=[(32, -2 ** 31, 2.0)], qy=[(32, 0, 0.001)])
    go("int32 to int32, equal parameters", wide32, np.int32, qx=[(32, 9, 0.3)], qy=[(32, 9, 0.3)])
    go("a factor below 2^-32", wide32, np.int32, qx=[(32, 0, 1e-12)], qy=[(32, 4, 1.0)])
    go("a factor above 2^31", every, np.int32, qx=[(8, 0, 1e12)], qy=[(32, 0, 1.0)])
    go("a factor that rounds up to a power of two", wide32 // 4, np.int32, qx=[(32, 0, 0.99999994)],
       qy=[(32, 0, 0.99999988)])
    go("requantise from scale 0", every, np.int8, qx=[(8, 0, 0.0)], qy=[(8, 5, 0.5)])
    go("requantise to scale 0", every, np.int8, qx=[(8, 3, 0.5)], qy=[(8, 0, 0.0)])
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
    go("refused: int8 to uint8 without QuantParam", np.array([1], np.int8), np.uint8, error="INVALID_PARAMETER")
    go("refused: float32 to float16", np.array([1], f32), f16, error="INVALID_DATATYPE")
    go("refused: bool", np.array([True]), np.int8, qy=[(8, 0, 0.5)], error="INVALID_DATATYPE")
    go("refused: int64", np.array([1], np.int64), f32, qx=[(8, 0, 0.5)], error="INVALID_DATATYPE")
    attrs = {"srcT": 43, "dstT": 32}
    y = Tensor(np.zeros(1, np.int8), quant=[(8, 0, 0.5)])
    w.case("refused: two inputs", op, attrs, [some((1,)), some((1,))], [y], error="INVALID_INPUT")
    w.case("refused: absent input", op, attrs, [None], [y], error="NULL_PTR")


if __name__ == "__main__":
    write(make,
          "Expected values: short formulas in the script, as no library has these conventions; "
          "equal to torch.quantize_per_tensor away from halves.")
