"""STFT."""
import numpy as np
import torch

from common import f16, f32, f64, known, refuse, rounded, some, Tensor, wide, write
from dft import transform


def frames(x, step, window, n, onesided):
    n = n or len(window)
    count = (x.shape[1] - n) // step + 1
    cut = np.stack([wide(x)[:, f * step:f * step + n] for f in range(count)], 1)
    cut = cut * (1 if window is None else wide(window).reshape(1, 1, -1, 1))
    y = transform(cut, 2, onesided=onesided)
    if x.shape[2] == 1:
        z = torch.stft(torch.from_numpy(wide(x)[..., 0].copy()), n, step, n, None if window is None else torch.from_numpy(wide(window)),
                       center=False, onesided=bool(onesided), return_complex=True).numpy().transpose(0, 2, 1)
        assert np.allclose(y, np.stack([z.real, z.imag], -1))
    return y


def make(w):
    def go(name, x, step, window=None, n=None, index="int64", constant=True, **attrs):
        y = frames(x, step, window, n, attrs.get("onesided", 1))
        ins = [x, known([step], index, ()), None if window is None else Tensor(window, constant)]
        ins += [] if n is None else [known([n], index, ())]
        w.case(name, "STFT", attrs, ins, [rounded(y, x.dtype.type)], tol=(2e-4, 1e-4) if x.dtype == f32 else (2e-2, 2e-3))

    for dtype in (f32, f16):
        for onesided in (0, 1):
            kind = " onesided %d %s" % (onesided, np.dtype(dtype))
            x, v = some((2, 13, 1), dtype, -4, 4), np.abs(some((5,), dtype, -4, 4))
            for step in (1, 2, 3, 13):
                go("step %d%s" % (step, kind), x, step, v, onesided=onesided)
            go("a length only" + kind, x, 3, None, 6, onesided=onesided)
            go("a window and its length" + kind, x, 3, v, 5, onesided=onesided)
            go("one frame" + kind, x, 3, None, 13, onesided=onesided)
            go("frames of one value" + kind, x, 4, None, 1, onesided=onesided)
        go("complex numbers %s" % np.dtype(dtype), some((2, 9, 2), dtype, -4, 4), 2, some((4,), dtype, -4, 4), onesided=0)
        go("complex numbers, no window %s" % np.dtype(dtype), some((2, 9, 2), dtype, -4, 4), 2, None, 4, onesided=0)
    go("onesided is the default", some((1, 9, 1)), 2, some((4,)))
    go("numbers of int32", some((1, 9, 1)), 2, None, 4, "int32")
    go("a window told in the run", some((1, 9, 1)), 2, some((4,)), constant=False)
    x, v, two, four = some((1, 9, 1)), some((4,)), known([2], "int64", ()), known([4], "int64", ())
    refuse(w, "neither window nor length", "STFT", {}, [x, two], "NULL_PTR")
    refuse(w, "a window of another length", "STFT", {}, [x, two, v, known([5], "int64", ())], "INVALID_SHAPE")
    refuse(w, "a window of 2 axes", "STFT", {}, [x, two, some((1, 4))], "INVALID_SHAPE")
    refuse(w, "a frame longer than the signal", "STFT", {}, [x, two, None, known([10], "int64", ())], "INVALID_SHAPE")
    for step in (0, -1):
        refuse(w, "step %d" % step, "STFT", {}, [x, known([step], "int64", ()), v], "INVALID_PARAMETER")
        refuse(w, "length %d" % step, "STFT", {}, [x, two, None, known([step], "int64", ())], "INVALID_PARAMETER")
    refuse(w, "onesided of complex numbers", "STFT", {}, [some((1, 9, 2)), two, v], "INVALID_SHAPE")
    refuse(w, "three parts", "STFT", {"onesided": 0}, [some((1, 9, 3)), two, v], "INVALID_SHAPE")
    refuse(w, "2 axes", "STFT", {}, [x[0], two, v], "INVALID_SHAPE")
    refuse(w, "a window of float16 beside float32", "STFT", {}, [x, two, v.astype(f16)], "INVALID_DATATYPE")
    refuse(w, "float64", "STFT", {}, [x.astype(f64), two, v.astype(f64)], "INVALID_DATATYPE")
    refuse(w, "quantised", "STFT", {}, [Tensor(x.astype(np.int8), quant=[(8, 0, 0.5)]), two, v], "UNSUPPORTED_OP")
    refuse(w, "no step", "STFT", {}, [x, None, v], "NULL_PTR")
    refuse(w, "one input", "STFT", {}, [x], "INVALID_INPUT")
    refuse(w, "five inputs", "STFT", {}, [x, two, v, four, four], "INVALID_INPUT")
    for n in (20, 31, 37, 74):
        go("frames of %d" % n, some((2, 150, 1), f32, -2, 2), 25, some((n,)))


if __name__ == "__main__":
    write(make, "Expected values: numpy's transform of frames in float64; torch.stft must agree where it has them.")
