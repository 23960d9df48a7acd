"""INSTANCE_NORM."""
import numpy as np
import torch.nn.functional as F

from common import (both_layouts, const, f16, f32, f64, LOOSE, loose, name_of, refuse, rounded, some, Tensor, tensor,
                    write)


def make(w):
    op = "INSTANCE_NORM"

    def expect(x, scale, bias, epsilon, axis=-1):
        t = tensor(np.moveaxis(x, axis, 1))
        y = F.instance_norm(t.reshape(t.shape[0], t.shape[1], -1), eps=float(f32(epsilon)))
        y = y * tensor(scale).reshape(-1, 1) + tensor(bias).reshape(-1, 1)
        return rounded(np.moveaxis(y.reshape(t.shape).numpy(), 1, axis), x)

    def go(name, x, epsilon, scale=None, bias=None, form=None, axis=-1, dtype=None, attrs=None):
        scale = some((x.shape[axis],), dtype or x.dtype) if scale is None else scale
        bias = some((x.shape[axis],), dtype or x.dtype) if bias is None else bias
        w.case(name, op, attrs or {"epsilon": epsilon}, [x, scale, bias], [expect(x, scale, bias, epsilon, axis)],
               fmt=form, tol=loose(x.dtype))

    shapes = (2, 5, 3), (1, 4, 1), (2, 3, 4, 3), (1, 2, 2, 2, 2), (2, 1, 2, 1, 2, 2), (1, 2, 1, 2, 1, 2, 1, 3)
    for dtype in (f32, f16):
        for n, shape in enumerate(shapes):
            for form, axis in ((None, -1), ("NHWC", -1), ("NCHW", 1)):
                x = some(shape if form != "NCHW" else shape[:1] + shape[-1:] + shape[1:-1], dtype)
                go("%s %s %s" % (name_of(dtype), list(x.shape), form), x, (1e-5, 1e-3, 0.25)[n % 3], form=form, axis=axis)
    x = some((2, 3, 2, 4))
    parts = [some((4,)), some((4,))]
    both_layouts(w, "the same values", op, {"epsilon": 1e-3}, [x] + parts, [expect(x, *parts, 1e-3)], tol=LOOSE)
    w.case("constant scale and bias", op, {"epsilon": 1e-3}, [x] + [const(p) for p in parts], [expect(x, *parts, 1e-3)],
           tol=LOOSE)
    thin = np.array([0.01, -0.01, 0.002, 0.004], f32).reshape(1, 4, 1)  # variance and epsilon of one size
    w.case("no attributes", op, {}, [thin] + [p[:1] for p in parts], [expect(thin, *[p[:1] for p in parts], 1e-5)],
           tol=LOOSE)
    go("epsilon 0 is 1e-5", thin, 1e-5, attrs={"epsilon": 0.0})
    go("epsilon 1e-12 is itself", thin, 1e-12)
    go("float16 with parameters of float32", some((2, 3, 2, 2), f16), 1e-5, dtype=f32)
    w.case("float16, scale of float32, bias of float16", op, {"epsilon": 0.5},
           [thin.astype(f16), np.array([1.001], f32), np.array([0.5], f16)],
           [expect(thin.astype(f16), np.array([1.001]), np.array([0.5]), 0.5)], tol=loose(f16))
    far = np.array([[1000000, 1000000.25, 1000001], [-30000, -30000.5, -30000.625]], f32).reshape(2, 3, 1)
    go("far away from 0", far, 1e-5, np.ones(1, f32), np.zeros(1, f32))
    long = np.full((1, 1000, 1), 0.1, f32)
    long[0, ::2] = 0.3
    go("1000 cells", long, 1e-5, np.ones(1, f32), np.zeros(1, f32))
    w.case("all equal", op, {"epsilon": 1e-5}, [np.full((1, 3, 2), 7, f32), np.ones(2, f32), np.array([2, -1], f32)],
           [np.array([[[2, -1]] * 3], f32)], tol=LOOSE)
    w.case("one cell", op, {"epsilon": 1e-5}, [some((2, 1, 3)), np.ones(3, f32), np.array([4, 5, 6], f32)],
           [np.array([[[4, 5, 6]]] * 2, f32)], tol=LOOSE)
    odd = np.array([[1, 2], [np.inf, 3], [2, np.nan], [5, 5]], f32).reshape(1, 4, 2)
    odd = np.concatenate([odd, np.array([1, 2, 3, 4], f32).reshape(1, 4, 1)], 2)
    y = np.full((1, 4, 3), np.nan, f32)
    y[..., 2:] = expect(odd[..., 2:], np.ones(1), np.zeros(1), 1e-5)
    w.case("NaN and infinity stay in their channel", op, {"epsilon": 1e-5}, [odd, np.ones(3, f32), np.zeros(3, f32)], [y],
           tol=LOOSE)
    for shape in ((0, 3, 2), (2, 0, 2), (2, 3, 0)):
        none = np.zeros(shape, f32)
        w.case("empty %s" % list(shape), op, {"epsilon": 1e-5}, [none] + [np.ones(shape[2], f32)] * 2, [none])
    # the worked case of the specification
    x = np.array([1, 2, -3, 4, 0.5, -1, 2, 0], f32).reshape(1, 1, 2, 4)
    y = np.array([0.9920947, 2.9995557, -1.49996, -0.499875, -0.9920947, -0.9995557, -0.50004, 1.499875], f32)
    w.case("of the specification", op, {"epsilon": 0.001},
           [x, const(np.array([1, 2, 0.5, -1], f32)), const(np.array([0, 1, -1, 0.5], f32))], [y.reshape(x.shape)])
    attrs, x, one = {"epsilon": 1e-5}, some((2, 3, 2)), np.ones(2, f32)
    refuse(w, "rank 2", op, attrs, [x[0], one, one], "INVALID_SHAPE")
    refuse(w, "rank 1", op, attrs, [x[0, 0], one, one], "INVALID_SHAPE")
    refuse(w, "scalar", op, attrs, [np.array(1, f32), one, one], "INVALID_SHAPE")
    refuse(w, "rank 9", op, attrs, [np.ones((1,) * 9, f32), one[:1], one[:1]], "INVALID_SHAPE")
    refuse(w, "scale of another length", op, attrs, [x, np.ones(3, f32), one], "INVALID_SHAPE")
    refuse(w, "bias of another length", op, attrs, [x, one, np.ones(1, f32)], "INVALID_SHAPE")
    refuse(w, "scale of rank 2", op, attrs, [x, np.ones((1, 2), f32), one], "INVALID_SHAPE")
    refuse(w, "bias of rank 0", op, attrs, [x, one, np.array(1, f32)], "INVALID_SHAPE")
    refuse(w, "channels first, scale for the last axis", op, attrs, [x, one, one], "INVALID_SHAPE", fmt="NCHW")
    refuse(w, "epsilon below 0", op, {"epsilon": -1e-3}, [x, one, one], "INVALID_PARAMETER")
    refuse(w, "epsilon NaN", op, {"epsilon": float("nan")}, [x, one, one], "INVALID_PARAMETER")
    refuse(w, "int32", op, attrs, [some((2, 3, 2), np.int32), one, one], "INVALID_DATATYPE")
    refuse(w, "float64", op, attrs, [some((2, 3, 2), f64), one.astype(f64), one.astype(f64)], "INVALID_DATATYPE")
    refuse(w, "scale of float16 beside float32", op, attrs, [x, one.astype(f16), one], "INVALID_DATATYPE")
    refuse(w, "quantised", op, attrs, [Tensor(some((2, 3, 2), np.int8), quant=[(8, 0, 0.5)]), one, one], "UNSUPPORTED_OP")
    refuse(w, "two inputs", op, attrs, [x, one], "INVALID_INPUT")
    refuse(w, "four inputs", op, attrs, [x, one, one, one], "INVALID_INPUT")
    refuse(w, "absent x", op, attrs, [None, one, one], "NULL_PTR")
    refuse(w, "absent scale", op, attrs, [x, None, one], "NULL_PTR")
    refuse(w, "absent bias", op, attrs, [x, one, None], "NULL_PTR")
    w.case("refused: two outputs", op, attrs, [x, one, one], [x, x], error="INVALID_OUTPUT")


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.instance_norm in float64.")
