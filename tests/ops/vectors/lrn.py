"""LRN."""
import numpy as np
import torch.nn.functional as F

from common import (both_layouts, f16, f32, f64, LOOSE, loose, name_of, nchw, refuse, rounded, some, Tensor, tensor, wide,
                    write)


def make(w):
    op = "LRN"

    def attrs(r, bias, alpha, beta):
        return {"depthRadius": r, "bias": bias, "alpha": alpha, "beta": beta}

    def expect(x, r, bias=1.0, alpha=1.0, beta=0.5):
        """torch divides alpha by the size of the window."""
        bias, alpha, beta = (float(f32(v)) for v in (bias, alpha, beta))
        y = F.local_response_norm(tensor(nchw(x)), 2 * r + 1, alpha * (2 * r + 1), beta, bias)
        return rounded(y.numpy().transpose(0, 2, 3, 1), x)

    for dtype in (f32, f16):
        for n, shape in enumerate(((1, 1, 2, 4), (2, 3, 2, 5), (1, 2, 2, 1), (2, 1, 1, 9))):
            for r in (0, 1, 2, 7):
                bias, alpha, beta = ((1.0, 1.0, 0.5), (2.0, 0.5, 0.75), (1.0, 1e-4, 0.75), (0.5, 0.25, 1.0))[(n + r) % 4]
                x = some(shape, dtype)
                both_layouts(w, "%s %s radius %d" % (name_of(dtype), list(shape), r), op, attrs(r, bias, alpha, beta),
                             [x], [expect(x, r, bias, alpha, beta)], tol=loose(dtype))
    x = some((1, 2, 3, 4))
    w.case("default attributes", op, {}, [x], [expect(x, 0)], tol=LOOSE)
    w.case("default bias, alpha and beta", op, {"depthRadius": 1}, [x], [expect(x, 1)], tol=LOOSE)
    for region in ("ACROSS_CHANNELS", ""):
        w.case("normRegion '%s'" % region, op, {"depthRadius": 1, "normRegion": region}, [x], [expect(x, 1)], tol=LOOSE)
    w.case("NHWC", op, {"depthRadius": 1}, [x], [expect(x, 1)], fmt="NHWC", tol=LOOSE)
    w.case("beta 0", op, attrs(1, 1.0, 1.0, 0.0), [x], [x], tol=(0, 0))
    w.case("beta below 0", op, attrs(1, 1.0, 1.0, -0.5), [x], [expect(x, 1, 1.0, 1.0, -0.5)], tol=LOOSE)
    w.case("alpha below 0", op, attrs(1, 500.0, -1.0, 2.0), [x], [expect(x, 1, 500.0, -1.0, 2.0)], tol=LOOSE)
    everything = wide(x) / np.sqrt(1 + np.sum(wide(x) ** 2, -1, keepdims=True))
    for r in (3, 4, 2 ** 31 - 1):
        w.case("radius %d, every channel" % r, op, {"depthRadius": r}, [x], [rounded(everything, x)], tol=LOOSE)
    zero = np.array([0, -0.0, 1, 0], f32).reshape(1, 1, 1, 4)
    w.case("0 times infinity", op, attrs(0, 0.0, 1.0, 0.5), [zero], [expect(zero, 0, 0.0)])
    odd = np.array([1, np.nan, 2, 3, np.inf, 4, 5, -np.inf, 6, 1e30, 7, 8], f32).reshape(1, 1, 1, 12)
    with np.errstate(all="ignore"):
        squares = np.pad((odd * odd).reshape(-1), 1)
        y = odd / np.sqrt(1 + (squares[:-2] + squares[1:-1] + squares[2:]).astype(f64)).astype(f32)
    w.case("NaN, infinity and what overflows", op, {"depthRadius": 1}, [odd], [y], tol=LOOSE)
    for shape in ((0, 1, 2, 3), (1, 0, 2, 3), (1, 1, 2, 0)):
        w.case("empty %s" % list(shape), op, {"depthRadius": 1}, [np.zeros(shape, f32)], [np.zeros(shape, f32)])
    # the worked case of the specification
    v = np.array([1, 2, -3, 4, 0.5, -1, 2, 0], f32).reshape(1, 1, 2, 4)
    y = np.array([0.3236612, 0.3849002, -0.3664446, 0.5383119, 0.2424505, -0.3170781, 0.6473224, 0], f32)
    w.case("of the specification", op, attrs(1, 2.0, 0.5, 0.75), [v], [y.reshape(v.shape)])
    refuse(w, "depthRadius -1", op, {"depthRadius": -1}, [x], "INVALID_PARAMETER")
    refuse(w, "depthRadius beyond int32", op, {"depthRadius": 2 ** 31}, [x], "INVALID_PARAMETER")
    for region in ("WITHIN_CHANNEL", "across_channels", "ACROSS_CHANNEL", "0"):
        refuse(w, "normRegion " + region, op, {"normRegion": region}, [x], "INVALID_PARAMETER")
    for rank in (0, 1, 2, 3, 5, 9):
        refuse(w, "rank %d" % rank, op, {}, [np.ones((1,) * rank, f32)], "INVALID_SHAPE")
    refuse(w, "int32", op, {}, [some((1, 1, 1, 2), np.int32)], "INVALID_DATATYPE")
    refuse(w, "float64", op, {}, [some((1, 1, 1, 2), f64)], "INVALID_DATATYPE")
    refuse(w, "quantised", op, {}, [Tensor(some((1, 1, 1, 2), np.int8), quant=[(8, 0, 0.5)])], "UNSUPPORTED_OP")
    refuse(w, "absent input", op, {}, [None], "NULL_PTR")
    refuse(w, "two inputs", op, {}, [x, x], "INVALID_INPUT")
    w.case("refused: two outputs", op, {}, [x], [x, x], error="INVALID_OUTPUT")


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.local_response_norm in float64.")
