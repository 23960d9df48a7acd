"""RMS_NORMALIZATION."""
import numpy as np

from common import f16, f32, f64, loose, refuse, rounded, some, Tensor, wide, write


def rms(x, scale, axis=-1, epsilon=1e-5):
    v = wide(x)
    m = np.mean(v * v, tuple(range(axis % x.ndim, x.ndim)), keepdims=True)
    return v / np.sqrt(m + f32(epsilon)) * wide(scale)


def make(w):
    def go(name, x, scale, axis=None, epsilon=None):
        attrs = {k: v for k, v in (("axis", axis), ("epsilon", epsilon)) if v is not None}
        w.case(name, "RMS_NORMALIZATION", attrs, [x, scale], [rounded(rms(x, scale, **attrs), x)],
               tol=loose(x.dtype.type))

    for dtype in (f32, f16):
        kind = ", " + np.dtype(dtype).name
        for axis in range(-4, 4):
            x = some((2, 3, 4, 5), dtype)
            go("axis %d%s" % (axis, kind), x, some(x.shape[axis % 4:], dtype), axis)
        go("no attributes" + kind, some((3, 8), dtype), some((8,), dtype))
    for shape in ((), (1,), (5,), (4, 1), (3, 1, 1), (3, 4, 5), (2, 1, 1, 5), (1, 1, 1, 1), (2, 3, 4, 5)):
        go("a scale %s" % list(shape), some((2, 3, 4, 5)), some(shape))
        go("a scale %s, axis 1" % list(shape), some((2, 3, 4, 5)), some(shape), 1)
    for epsilon in (0.0, 1e-3, 2.0):
        go("epsilon %g" % epsilon, some((2, 6)) + f32(0.5), some((6,)), epsilon=epsilon)
    go("rank 8, a scale of rank 8", some((2, 1, 2, 1, 2, 1, 2, 3)), some((2, 1, 2, 1, 2, 1, 2, 3)), 0)
    go("zeros", np.zeros((2, 4), f32), some((4,)))
    go("one element", np.array([[3]], f32), np.array([2], f32))
    go("rank 8", some((2, 1, 2, 1, 2, 1, 2, 3)), some((2, 1, 2, 3)), 4)
    go("empty", some((0, 4)), some((4,)))
    go("a row of 1000", some((2, 1000)), some((1000,)))
    x = np.array([[1, np.nan], [2, 1]], f32)
    go("NaN", x, np.ones(2, f32))
    x, scale = some((2, 3, 4)), some((4,))

    def bad(name, code, *ins, **attrs):
        refuse(w, name, "RMS_NORMALIZATION", attrs, list(ins), code)

    for axis in (3, -4):
        bad("axis %d" % axis, "INVALID_PARAMETER", x, scale, axis=axis)
    bad("a scalar", "INVALID_PARAMETER", np.array(1, f32), np.array(1, f32))
    bad("a scale of another extent", "INVALID_SHAPE", x, some((3,)))
    bad("a scale of more axes", "INVALID_SHAPE", x, some((1, 2, 3, 4)))
    bad("an x that would grow", "INVALID_SHAPE", some((2, 1, 4)), some((3, 4)))
    bad("a scale of another type", "INVALID_DATATYPE", x, scale.astype(f16))
    bad("float64", "INVALID_DATATYPE", x.astype(f64), scale.astype(f64))
    bad("int32", "INVALID_DATATYPE", x.astype(np.int32), scale.astype(np.int32))
    bad("quantised", "UNSUPPORTED_OP", Tensor(x.astype(np.int8), quant=[(8, 0, 0.5)]), scale.astype(np.int8))
    bad("one input", "INVALID_INPUT", x)
    bad("absent", "NULL_PTR", x, None)


if __name__ == "__main__":
    write(make, "Expected values: ONNX's definition with numpy in float64.")
