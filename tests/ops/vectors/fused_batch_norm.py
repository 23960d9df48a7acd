"""FUSED_BATCH_NORM."""
import numpy as np
import torch
import torch.nn.functional as F

from common import const, f32, FLOATS, LOOSE, loose, name_of, refuse, rounded, some, tensor, write
from quantised_elements import cases


def make(w):
    op = "FUSED_BATCH_NORM"

    def expect(x, parts, epsilon, axis=-1):
        scale, offset, mean, variance = (tensor(p) for p in parts)
        t = tensor(x).reshape(-1, 1) if x.ndim == 0 else torch.movedim(tensor(x), axis, -1)
        flat = F.batch_norm(t.reshape(-1, t.shape[-1]), mean, variance, scale, offset, False, 0.0, float(f32(epsilon)))
        return rounded(torch.movedim(flat.reshape(t.shape), -1, axis).numpy(), x)

    def parts(n, dtype=f32):
        return [some((n,), dtype), some((n,), dtype), some((n,), dtype), np.abs(some((n,), dtype)) + dtype(0.25)]

    for dtype in FLOATS:
        for n, shape in enumerate(((3,), (2, 3), (4, 2, 3), (1, 3, 2, 4), (2, 1, 2, 1, 2))):
            x, p = some(shape, dtype), parts(shape[-1], dtype)
            epsilon = (1e-4, 1e-5, 0.5)[n % 3]
            w.case("%s %s epsilon %g" % (name_of(dtype), list(shape), epsilon), op, {"epsilon": epsilon}, [x] + p,
                   [expect(x, p, epsilon)], tol=loose(dtype))
        x, p = some((2, 3, 2, 2), dtype), parts(3, dtype)
        w.case("%s NCHW" % name_of(dtype), op, {"epsilon": 1e-4}, [x] + p, [expect(x, p, 1e-4, 1)], fmt="NCHW",
               tol=loose(dtype))
    x, p = some((1, 2, 2, 2)), parts(2)
    w.case("default epsilon", op, {}, [x] + p, [expect(x, p, 1e-4)], tol=LOOSE)
    p[3] = np.array([0, 1e-4], f32)
    w.case("small variance", op, {"epsilon": 1e-4}, [x] + p, [expect(x, p, 1e-4)], tol=LOOSE)
    w.case("constant vectors", op, {"epsilon": 1e-4}, [x] + [const(v) for v in p], [expect(x, p, 1e-4)], tol=LOOSE)
    w.case("format NHWC", op, {"epsilon": 1e-4}, [x] + p, [expect(x, p, 1e-4)], fmt="NHWC", tol=LOOSE)
    w.case("nothing", op, {"epsilon": 1e-4}, [np.zeros((0, 2), f32)] + p, [np.zeros((0, 2), f32)])
    attrs = {"epsilon": 1e-4}
    refuse(w, "scale of another length", op, attrs, [x, some((3,))] + p[1:], "INVALID_SHAPE")
    refuse(w, "variance of another length", op, attrs, [x] + p[:3] + [some((1,))], "INVALID_SHAPE")
    refuse(w, "scale of rank 2", op, attrs, [x, some((1, 2))] + p[1:], "INVALID_SHAPE")
    refuse(w, "scalar x", op, attrs, [np.array(1, f32)] + parts(1), "INVALID_SHAPE")
    refuse(w, "four inputs", op, attrs, [x] + p[:3], "INVALID_INPUT")
    refuse(w, "absent mean", op, attrs, [x, p[0], p[1], None, p[3]], "NULL_PTR")
    refuse(w, "int32", op, attrs, [some((2, 2), np.int32)] + p, "INVALID_DATATYPE")


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.batch_norm in float64.", also=cases("FUSED_BATCH_NORM"))
