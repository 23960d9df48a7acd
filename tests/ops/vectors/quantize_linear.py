"""QUANTIZE_LINEAR."""
import math

import numpy as np

from common import DATATYPE, f16, f32, f64, name_of, some, Tensor, write
from quant_dtype_cast import LIMITS, per_channel, quantise


def quantize_one(real, zero, scale, dtype):
    """ONNX's formula: saturate(round(x / scale) + zero_point), halves to even; real and scale are float32."""
    low, high = LIMITS[dtype]
    if scale == 0:
        return 0
    with np.errstate(over="ignore"):
        v = real / scale
    if v != v:
        return zero
    if math.isinf(v):
        return high if v > 0 else low
    return min(max(round(float(v)) + zero, low), high)


def quantize(x, quant, dtype, axis=0):
    return per_channel(lambda v, b, z, s: quantize_one(f32(v), z, s, dtype), x, quant, axis).astype(dtype)


def make(w):
    op = "QUANTIZE_LINEAR"

    def go(name, x, target, quant, axis=0, error=None, dst=None):
        attrs = {"dstT": DATATYPE[name_of(target)] if dst is None else dst, "axis": axis}
        y = np.zeros(x.shape, target) if error else quantize(x, quant, target, axis)
        w.case(name, op, attrs, [x], [Tensor(y, quant=quant)], error=error)

    halves = np.arange(-9, 10) * 0.25
    for source in (f32, f16):
        edges = np.concatenate([halves, [100, -100, 1000, -1000, 60000, -60000, np.inf, -np.inf,
                                         np.nan, 0.0, -0.0]]).astype(source)
        for target, bits in ((np.int8, 8), (np.uint8, 8), (np.int16, 16), (np.int32, 32)):
            for zero in (0, 3) if target != np.uint8 else (0, 128):
                go("%s to %s zero point %d" % (name_of(source), name_of(target), zero), edges, target,
                   [(bits, zero, 0.5)])
    odd = np.array([0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5, 126.5, 127.5, -128.5], f32)
    assert (quantize(odd, [(8, 0, 1.0)], np.int8) == [0, 2, 2, 4, 0, -2, -2, 126, 127, -128]).all()
    assert (quantize(odd, [(8, 0, 1.0)], np.int8) != quantise(odd, [(8, 0, 1.0)], np.int8)).any()
    go("halves to even, odd zero point", odd, np.int8, [(8, -1, 1.0)])
    ties = np.arange(-120, 121).astype(f32) * f32(0.05)
    go("quotient in float32", ties, np.int8, [(8, 3, 0.1)])
    go("int32 saturates", np.array([1e10, -1e10, 2e9, 5], f32), np.int32, [(32, 0, 0.5)])
    go("scale 0 with zero point 0", np.array([1, -1, 0, 5], f32), np.int8, [(8, 0, 0.0)])
    go("the largest and the least scale", np.array([3e38, -3e38, 1e-45, 0], f32), np.uint8, [(8, 9, 3e38)])
    go("a subnormal scale", np.array([3e38, -3e38, 1e-45, 0, -3e-45], f32), np.int8, [(8, 9, 1e-45)])
    three = [(8, 0, 0.5), (8, 10, 0.25), (8, -5, 2.0)]
    x = some((2, 3, 4), f32, -60, 60, 0.5)
    for axis in (1, -2):
        go("along axis %d" % axis, x, np.int8, three, axis)
    go("along axis 0", x.transpose(1, 0, 2).copy(), np.int8, three)
    go("along the last axis, float16 to int16", x.transpose(0, 2, 1).astype(f16), np.int16,
       [(16, 0, 0.5), (16, 1, 0.25), (16, 2, 2.0)], 2)
    go("scalar", np.array(2.5, f32), np.int8, [(8, 0, 1.0)])
    go("nothing", np.zeros((0, 3), f32), np.int8, [(8, 0, 1.0)])
    go("type as declared", x, np.uint8, [(8, 128, 0.25)], dst=0)
    one = [(8, 0, 0.5)]
    go("refused: output without QuantParam", x, np.int8, None, error="INVALID_PARAMETER")
    go("refused: negative scale", x, np.int8, [(8, 0, -0.5)], error="INVALID_PARAMETER")
    go("refused: as many parameters as another axis", x, np.int8, three, 2, error="INVALID_PARAMETER")
    go("refused: axis 3 of three", x, np.int8, three, 3, error="INVALID_PARAMETER")
    go("refused: to float16", x, f16, None, error="INVALID_DATATYPE")
    go("refused: to int64", x, np.int64, one, error="INVALID_DATATYPE")
    go("refused: dstT is not the type of the output", x, np.int8, one, error="INVALID_DATATYPE",
       dst=DATATYPE["uint8"])
    go("refused: of int32", x.astype(np.int32), np.int8, one, error="INVALID_DATATYPE")
    go("refused: of float64", x.astype(f64), np.int8, one, error="INVALID_DATATYPE")
    y = Tensor(np.zeros((2, 3, 4), np.int8), quant=one)
    w.case("refused: quantized input", op, {}, [Tensor(np.zeros((2, 3, 4), np.int8), quant=one)], [y],
           error="UNSUPPORTED_OP")
    w.case("refused: two inputs", op, {}, [x, x], [y], error="INVALID_INPUT")
    w.case("refused: absent input", op, {}, [None], [y], error="NULL_PTR")


if __name__ == "__main__":
    write(make, "Expected values: ONNX's formula, element by element in the script.")
