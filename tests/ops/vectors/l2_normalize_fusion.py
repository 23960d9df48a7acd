"""L2_NORMALIZE_FUSION."""
import numpy as np
import torch

from common import (activation, ACTIVATIONS, f16, f32, f64, LOOSE, loose, name_of, refuse, rounded, some, Tensor, tensor,
                    write)
from quantised_elements import cases


def make(w):
    op = "L2_NORMALIZE_FUSION"

    def expect(x, axes, epsilon=1e-6, kind=0):
        t = tensor(x)
        norm = torch.linalg.vector_norm(t, dim=axes, keepdim=True) if t.numel() else t.sum(axes, keepdim=True)
        y = t / torch.sqrt(torch.clamp(norm * norm, min=float(f32(epsilon))))
        return rounded(activation(y.numpy(), kind), x)

    def go(name, x, axes, epsilon=1e-6, **more):
        w.case(name, op, {"axis": axes, "epsilon": epsilon}, [x], [expect(x, axes, epsilon)], tol=loose(x.dtype), **more)

    plans = [((5,), [0]), ((5,), [-1]), ((2, 4), [0]), ((2, 4), [1]), ((2, 4), [0, 1]), ((2, 4), [-1, -2]),
             ((2, 3, 4), [1]), ((2, 3, 4), [0, 2]), ((2, 3, 4), [2, 0]), ((2, 3, 4), [-1, 1]), ((2, 3, 4), [0, 1, 2]),
             ((1, 2, 3, 2), [3]), ((2, 2, 3, 2), [1, 2]), ((2, 1, 2, 1, 3), [0, 4]),
             ((1, 2, 1, 2, 1, 2, 1, 2), [1, 4, 7]), ((3, 1), [1])]
    for shape, axes in plans:
        for dtype in (f32, f16):
            for epsilon in (1e-6, 40.0):  # of which the second one bounds many sums of squares
                go("%s %s axes %s epsilon %g" % (name_of(dtype), list(shape), axes, epsilon), some(shape, dtype), axes,
                   epsilon)
    x = some((2, 3, 4))
    for name, attrs in (("default attributes", {}), ("an empty list is the last axis", {"axis": [], "epsilon": 1e-6})):
        w.case(name, op, attrs, [x], [expect(x, [2])], tol=LOOSE)
    small = np.array([[3e-4, 4e-4], [3e-3, 4e-3], [0, 0], [0, -0.0]], f32)  # about the root of epsilon
    w.case("default epsilon", op, {}, [small], [expect(small, [1])], tol=LOOSE)
    go("epsilon 1e-4", small, [1], 1e-4)
    go("epsilon below 0 bounds nothing", small[:2], [1], -1.0)
    w.case("0 by 0", op, {"epsilon": 0.0}, [small], [expect(small, [1], 0.0)], tol=LOOSE)
    for dtype in (f32, f16):
        odd = np.array([[1, np.nan, 2], [np.inf, 1, 2], [-np.inf, 1, 0], [1, 2, 2]], dtype)
        go("NaN and infinity, " + name_of(dtype), odd, [1])
    go("1000 terms", np.full((1000,), 0.1, f32), [0])
    go("NCHW counts the axes in its own order", x.reshape(1, 3, 4, 2), [1], fmt="NCHW")
    for shape, axes in (((0, 3), [1]), ((0, 3), [0]), ((2, 0), [0, 1]), ((2, 0, 3), [2])):
        go("empty %s axes %s" % (list(shape), axes), np.zeros(shape, f32), axes)
    for kind, title in enumerate(ACTIVATIONS):
        attrs = {"axis": [-1], "epsilon": 1e-6, "activationType": kind}
        if kind in (4, 5, 14, 16):
            refuse(w, "fused " + title, op, attrs, [x], "INVALID_PARAMETER")
        else:
            w.case("fused " + title, op, attrs, [x], [expect(x, [-1], kind=kind)], tol=LOOSE)
    wide = np.array([[30, -40], [1, 2]], f16)
    for kind in (1, 3):
        w.case("fused %s float16" % ACTIVATIONS[kind], op, {"epsilon": 1e-6, "activationType": kind}, [wide],
               [expect(wide, [1], kind=kind)], tol=loose(f16))
    refuse(w, "fused unknown", op, {"activationType": 20}, [x], "INVALID_PARAMETER")
    refuse(w, "no such activation", op, {"activationType": 21}, [x], "INVALID_PARAMETER")
    refuse(w, "axis 3 of rank 3", op, {"axis": [3]}, [x], "INVALID_PARAMETER")
    refuse(w, "axis -4 of rank 3", op, {"axis": [0, -4]}, [x], "INVALID_PARAMETER")
    refuse(w, "an axis twice", op, {"axis": [2, -1]}, [x], "INVALID_PARAMETER")
    refuse(w, "scalar", op, {}, [np.array(1, f32)], "INVALID_PARAMETER")
    refuse(w, "int32", op, {}, [some((2,), np.int32)], "INVALID_DATATYPE")
    refuse(w, "float64", op, {}, [some((2,), f64)], "INVALID_DATATYPE")
    refuse(w, "quantised, but not the result", op, {}, [Tensor(np.array([1, 2], np.int8), quant=[(8, 0, 0.5)])], "INVALID_DATATYPE")
    refuse(w, "rank 9", op, {}, [np.ones((1,) * 9, f32)], "INVALID_SHAPE")
    refuse(w, "absent input", op, {}, [None], "NULL_PTR")
    refuse(w, "two inputs", op, {}, [x, x], "INVALID_INPUT")
    w.case("refused: two outputs", op, {}, [x], [x, x], error="INVALID_OUTPUT")


if __name__ == "__main__":
    write(make, "Expected values: torch.linalg.vector_norm in float64, the bound applied to its square.",
          also=cases("L2_NORMALIZE_FUSION"))
