"""QUANT_DTYPE_CAST."""
import math

import numpy as np

from common import DATATYPE, f16, f32, f64, name_of, rounded, some, Tensor, wide, write

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


def make(w):
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


if __name__ == "__main__":
    write(make,
          "Expected values: short formulas in the script, as no library has these conventions; "
          "equal to torch.quantize_per_tensor away from halves.")
