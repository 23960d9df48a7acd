"""MEL_WEIGHT_MATRIX."""
import numpy as np

from common import DATATYPE, f16, f32, f64, known, Tensor, write


def mel(bands, length, rate, lower, upper):
    """ONNX's definition, in float64."""
    at = 2595 * np.log10(1 + np.array([lower, upper], f64) / 700)
    e = np.arange(bands + 2) * ((at[1] - at[0]) / (bands + 2)) + at[0]
    e = (((length + 1) * 700 * (10 ** (e / 2595) - 1)) // rate).astype(int)
    e = np.maximum(e, 0)
    y = np.zeros((length // 2 + 1, bands))
    for i in range(bands):
        left, centre, right = e[i:i + 3]
        if left == centre:
            y[centre, i] = 1
        for j in range(left, centre + 1):
            if left < centre:
                y[j, i] = (j - left) / (centre - left)
        for j in range(centre, right):
            y[j, i] = (right - j) / (right - centre)
    return y


def make(w):
    def ins(bands, length, rate, lower, upper, kind="int64", floats=f32, shape=()):
        return [known([v], kind, shape) for v in (bands, length, rate)] + [
            np.full(shape, lower, floats), np.full(shape, upper, floats)]

    def go(name, *values, dtype=f32, said=True, **more):
        attrs = {"outputDatatype": DATATYPE[np.dtype(dtype).name]} if said else {}
        w.case(name, "MEL_WEIGHT_MATRIX", attrs, ins(*values, **more), [mel(*values).astype(dtype)])

    for values in ((8, 16, 8192, 0, 4096), (20, 256, 16000, 0, 8000), (10, 64, 16000, 125, 7500), (1, 2, 8000, 0, 1000),
                   (3, 1, 8000, 0, 1000), (40, 400, 16000, 20, 8000), (5, 17, 44100, 300.5, 9000.25),
                   (13, 8, 8000, 0, 4000), (4, 512, 8000, 700, 700), (6, 30, 1, 0, 0)):
        go("%d bands of %d at %d, %g to %g" % values, *values)
    for dtype in (f16, f64):
        go("gives " + np.dtype(dtype).name, 8, 32, 8000, 100, 4000, dtype=dtype)
        go("declared " + np.dtype(dtype).name, 8, 32, 8000, 100, 4000, dtype=dtype, said=False)
    go("int32", 8, 32, 8000, 100, 4000, kind="int32")
    go("edges of float16", 8, 32, 8000, 100, 4000, floats=f16)
    go("extents of 1", 8, 32, 8000, 100, 4000, shape=(1,))
    y = np.zeros((9, 8), f32)

    def bad(name, code, inputs, outs=(y,), run=False, says=None, **attrs):
        w.case("refused: " + name, "MEL_WEIGHT_MATRIX", attrs, inputs, list(outs), says=says,
               **{"run_error" if run else "error": code})

    good = (8, 16, 8192, 0, 4096)
    for i, name in enumerate(("bands", "length", "rate")):
        for value in (0, -1, 2**31 - 1):
            bad("a %s of %d" % (name, value), "INVALID_PARAMETER", ins(*good[:i], value, *good[i + 1:]))
        if i < 2:  # it determines a dimension
            bad("a %s told in the run" % name, "UNSUPPORTED_OP", ins(*good)[:i] + [np.array(8)] + ins(*good)[i + 1:])
        bad("two of %s" % name, "INVALID_SHAPE", ins(*good)[:i] + [known([8, 8], "int64", (2,))] + ins(*good)[i + 1:])
    for values in ((8, 16, 8192, -1, 4096), (8, 16, 8192, 4096, 100), (8, 16, 8192, np.nan, 4096), (8, 16, 8192, 0, np.nan),
                   (8, 16, 8192, 0, np.inf), (8, 16, 8192, 0, 40000)):
        bad("edges %g and %g" % values[3:], "INVALID_PARAMETER", ins(*values), run=True,
            says="lowerEdgeHertz is %g and upperEdgeHertz %g," % values[3:] if values[4] != 40000 else "the spectrum has 9")
    bad("two edges", "INVALID_SHAPE", ins(*good)[:4] + [np.zeros(2, f32)])
    bad("an edge of float64", "INVALID_DATATYPE", ins(*good, floats=f64))
    bad("bands of float32", "INVALID_DATATYPE", [Tensor(np.array(8, f32), True)] + ins(*good)[1:])
    bad("gives int32", "INVALID_DATATYPE", ins(*good), outputDatatype=DATATYPE["int32"], outs=[y.astype(np.int32)])
    bad("another type than declared", "INVALID_DATATYPE", ins(*good), outputDatatype=DATATYPE["float16"])
    bad("four inputs", "INVALID_INPUT", ins(*good)[:4])
    bad("absent", "NULL_PTR", ins(*good)[:4] + [None])
    bad("two results", "INVALID_OUTPUT", ins(*good), outs=[y, y])
    bad("quantised", "UNSUPPORTED_OP", [Tensor(np.array(8, np.int32), True, [(8, 0, 0.5)])] + ins(*good)[1:])


if __name__ == "__main__":
    write(make, "Expected values: ONNX's definition in float64.")
