"""QUANTIZE_BLOCKS."""
import numpy as np

from common import data, f16, f32, floats, Tensor, write


def quantized(x, size):
    """Blocks of `size` elements of the last axis: int8 and float16 scales, in float32 as the operator defines it."""
    v = x.astype(f32).reshape(x.shape[:-1] + (x.shape[-1] // size, size))
    with np.errstate(all="ignore"):
        scale = (np.abs(v).max(-1) / f32(127)).astype(f16)
        s = scale.astype(f32)[..., None]
        q = np.where((s > 0) & np.isfinite(s), np.clip(np.rint(v / s), -127, 127), 0)
        return np.nan_to_num(q).astype(np.int8).reshape(x.shape), scale


def make(w):
    def go(name, x, size=None):
        attrs = {} if size is None else {"blockSize": size}
        w.case(name, "QUANTIZE_BLOCKS", attrs, [x], list(quantized(x, size or 32)))

    def bad(name, code, ins, says=None, outs=(), **attrs):
        w.bad(name, code, ins, outs, says=says, **attrs)

    random = np.random.default_rng(7)
    for t in (f32, f16):
        kind = ", " + np.dtype(t).name
        go("blocks of 32" + kind, random.normal(size=(2, 3, 64)).astype(t))
        go("blocks of 0 are of 32" + kind, random.normal(size=(1, 32)).astype(t), 0)
        for size, shape in ((1, (2, 5)), (2, (3, 4)), (3, (2, 2, 6)), (7, (1, 21)), (8, (2, 1, 3, 16)), (9, (9,)), (16, (4, 48)),
                            (17, (3, 34)), (20, (2, 2, 20)), (33, (66,)), (64, (2, 128)), (80, (1, 2, 160)), (96, (3, 96))):
            go("blocks of %d in %s%s" % (size, list(shape), kind), (random.normal(size=shape) * 10).astype(t), size)
    go("halves are rounded to even", np.concatenate([np.arange(-15, 16) / 2, [127]]).astype(f32))
    go("one large element in each block", np.where(np.arange(96) % 32 == 5, 1000, np.linspace(-4, 4, 96)).astype(f32))
    go("zeros", np.zeros((2, 64), f32))
    go("a block of zeros beside others", np.concatenate([np.zeros(32), np.arange(32)]).astype(f32))
    tiny = (np.arange(32) - 16).astype(f32)
    for power in (1e-3, 1e-4, 1e-5, 1e-6, 3e-7, 1e-7, 1e-8, 1e-30, 1e-42):
        go("elements of %g: the scale is subnormal or 0" % power, tiny * f32(power))
    go("the largest scale", np.concatenate([[8.3e6, -8.3e6, 65504.0 * 127], np.arange(29)]).astype(f32))
    for name, value in (("more than the largest scale", 8.4e6), ("more, below 0", -3e38), ("Inf", np.inf), ("-Inf", -np.inf), ("NaN", np.nan)):
        for place in (0, 13, 31):
            x = np.arange(64).astype(f32)
            x[place] = value
            go("%s at %d" % (name, place), x)
    x = np.arange(32).astype(f32)
    x[3], x[9], x[20] = np.inf, np.nan, -np.inf
    go("Inf, NaN and -Inf in one block", x)
    go("-0 and 0", np.array([-0.0, 0.0] * 16, f32))
    go("no lines", np.zeros((0, 64), f32))
    go("no elements", np.zeros((2, 0), f32))
    go("many lines", random.normal(size=(5, 7, 64)).astype(f32))
    x = floats(2, 64)
    for size in (5, 128, -1, 2**31, 2**62):
        says = "expected a divisor of the last axis of x, 64" if abs(size) < 2**31 else "which lies outside int32"
        bad("blocks of %d in 64" % size, "INVALID_PARAMETER", [x], blockSize=size, says="blockSize is %d, %s" % (size, says))
    bad("blocks of 32 in 40", "INVALID_PARAMETER", [floats(2, 40)])
    bad("a scalar", "INVALID_SHAPE", [np.array(1.0, f32)])
    for t in ("float64", "int32", "int8", "bool"):
        bad("type " + t, "INVALID_DATATYPE", [data(t, (2, 32))])
    bad("quantized", "UNSUPPORTED_OP", [Tensor(data("int8", (2, 32)), quant=[(8, 3, 0.5)])])
    q, scale = quantized(x, 32)
    bad("a result of uint8", "INVALID_DATATYPE", [x], outs=[q.astype(np.uint8), scale], says="expected int8")
    bad("a quantized result", "INVALID_DATATYPE", [x], outs=[Tensor(q, quant=[(8, 3, 0.5)]), scale])
    bad("scales of float32", "INVALID_DATATYPE", [x], outs=[q, scale.astype(f32)], says="expected float16")
    bad("two inputs", "INVALID_INPUT", [x, x])
    bad("no input", "INVALID_INPUT", [])
    bad("absent", "NULL_PTR", [None])
    bad("three outputs", "INVALID_OUTPUT", [x], outs=[q, scale, scale])


if __name__ == "__main__":
    write(make, "Expected values: the definition with numpy in float32.", "QUANTIZE_BLOCKS")
