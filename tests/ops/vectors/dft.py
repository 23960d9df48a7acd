"""DFT."""
import numpy as np
import torch

from common import empty_batch, f16, f32, f64, known, refuse, rounded, some, Tensor, wide, write


def transform(x, axis, n=None, inverse=0, onesided=0):
    v = wide(x)
    v = v[..., 0] + (1j * v[..., 1] if v.shape[-1] == 2 else 0)
    axis = axis + x.ndim if axis < 0 else axis
    if inverse and onesided:
        y = np.fft.irfft(v, n, axis)
        assert np.allclose(y, torch.fft.irfft(torch.from_numpy(np.array(v, complex)), n, axis).numpy())
        return y[..., None]
    y = (np.fft.ifft if inverse else np.fft.fft)(v, n, axis)
    z = (torch.fft.ifft if inverse else torch.fft.fft)(torch.from_numpy(np.array(v, complex)), n, axis).numpy()
    assert np.allclose(y, z)
    if onesided:
        y = y.take(range(y.shape[axis] // 2 + 1), axis)
    return np.stack([y.real, y.imag], -1)


def make(w):
    def go(name, x, axis=None, n=None, index="int64", **attrs):
        y = transform(x, -2 if axis is None else axis, n, **attrs)
        given = {**({} if axis is None else {"axis": axis}), **attrs}
        w.case(name, "DFT", given, [x] + ([] if n is None else [known([n], index, ())]), [rounded(y, x.dtype.type)],
               tol=(2e-4, 1e-4) if x.dtype == f32 else (2e-2, 2e-3))

    for dtype in (f32, f16):
        kind = " " + np.dtype(dtype).name
        for last in (1, 2):
            what = " of %s numbers%s" % ("real" if last == 1 else "complex", kind)
            for L in (1, 2, 3, 5, 8, 13, 16):
                go("%d%s" % (L, what), some((2, L, last), dtype, -4, 4))
            x = some((2, 4, 5, 3, last), dtype, -4, 4)
            for axis in (0, 1, 2, 3, -2, -3, -5):
                go("axis %d%s" % (axis, what), x, axis)
                go("inverse, axis %d%s" % (axis, what), x, axis, inverse=1)
            go("longer" + what, x, 1, 7)
            go("shorter" + what, x, 1, 2)
            go("inverse, longer" + what, x, 3, 6, inverse=1)
            if last == 1:
                for n in (4, 5, 7, 1):
                    go("onesided, %d%s" % (n, what), x, 3, n, onesided=1)
                go("onesided" + what, x, 1, onesided=1)
            else:
                for n in (None, 4, 5, 7, 1):
                    go("onesided and inverse, %s%s" % (n, what), x, 2, n, onesided=1, inverse=1)
                go("onesided and inverse, axis -5" + what, x, -5, 3, onesided=1, inverse=1)
    go("length of int32", some((1, 6, 1)), 1, 5, "int32")
    go("no axis before", some((6, 1)))
    go("rank 8", some((1, 2, 1, 3, 1, 2, 1, 2)), 3)
    go("100 values", some((1, 100, 1), f32, -2, 2), 1)
    x = some((2, 4, 3, 1))
    four = known([4], "int64", ())
    for axis in (3, -1):
        refuse(w, "axis %d" % axis, "DFT", {"axis": axis}, [x], "INVALID_PARAMETER")
    for axis in (4, -5):
        refuse(w, "axis %d" % axis, "DFT", {"axis": axis}, [x], "INVALID_PARAMETER")
    refuse(w, "one axis", "DFT", {}, [x[0, 0, :, 0]], "INVALID_SHAPE")
    refuse(w, "three parts", "DFT", {}, [some((2, 4, 3))], "INVALID_SHAPE")
    refuse(w, "onesided of complex numbers", "DFT", {"onesided": 1}, [some((2, 4, 2))], "INVALID_SHAPE")
    refuse(w, "onesided and inverse of real numbers", "DFT", {"onesided": 1, "inverse": 1}, [x], "INVALID_SHAPE")
    refuse(w, "onesided and inverse of one frequency", "DFT", {"onesided": 1, "inverse": 1}, [some((2, 1, 2))],
           "INVALID_PARAMETER")
    refuse(w, "length 0", "DFT", {}, [x, known([0], "int64", ())], "INVALID_PARAMETER")
    refuse(w, "length -1", "DFT", {}, [x, known([-1], "int64", ())], "INVALID_PARAMETER")
    refuse(w, "length 2^31", "DFT", {}, [x, known([2**31], "int64", ())], "OUT_OF_MEMORY")
    refuse(w, "two lengths", "DFT", {}, [x, known([4, 4], "int64", (2,))], "INVALID_SHAPE")
    refuse(w, "a length told in the run", "DFT", {}, [x, np.array(4)], "UNSUPPORTED_OP")
    refuse(w, "a length of float32", "DFT", {}, [x, Tensor(np.array(4, f32), True)], "INVALID_DATATYPE")
    empty_batch(w, "empty", "DFT", {}, [x[:0]], (0, 4, 3, 2))
    refuse(w, "float64", "DFT", {}, [x.astype(f64)], "INVALID_DATATYPE")
    refuse(w, "int32", "DFT", {}, [x.astype(np.int32)], "INVALID_DATATYPE")
    refuse(w, "quantised", "DFT", {}, [Tensor(x.astype(np.int8), quant=[(8, 0, 0.5)])], "UNSUPPORTED_OP")
    refuse(w, "absent", "DFT", {}, [None, four], "NULL_PTR")
    refuse(w, "three inputs", "DFT", {}, [x, four, four], "INVALID_INPUT")
    for n in (20, 21, 31, 37, 60, 74):
        for last in (1, 2):
            go("%d values of %s numbers" % (n, "real" if last == 1 else "complex"), some((3, n, 2, last)), 1)
        go("inverse, %d values" % n, some((3, n, 2, 2)), 1, inverse=1)
        go("onesided and inverse, %d values" % n, some((3, n // 2 + 1, 2, 2)), 1, n, onesided=1, inverse=1)
    go("20 values of float16", some((3, 20, 2, 2), f16, -2, 2), 1)


if __name__ == "__main__":
    write(make, "Expected values: numpy in float64, with which torch must agree.")
