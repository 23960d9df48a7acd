"""GROUP_NORM_FUSION."""
import numpy as np
import torch.nn.functional as F

from common import (both_layouts, const, f16, f32, f64, LOOSE, loose, name_of, refuse, rounded, some, Tensor, tensor,
                    write)


def make(w):
    op = "GROUP_NORM_FUSION"

    def expect(x, scale, bias, groups, epsilon, axis=-1):
        y = F.group_norm(tensor(np.moveaxis(x, axis, 1)), groups, None if scale is None else tensor(scale),
                         None if bias is None else tensor(bias), float(f32(epsilon)))
        return rounded(np.moveaxis(y.numpy(), 1, axis), x)

    def attrs(groups, epsilon=1e-5, affine=True):
        return {"numGroups": groups, "epsilon": epsilon, "affine": affine}

    for dtype in (f32, f16):
        for n, shape in enumerate(((3, 6), (2, 5, 6), (2, 2, 3, 6), (1, 2, 1, 2, 6), (1, 2, 1, 2, 1, 2, 1, 6))):
            for groups in (1, 2, 3, 6):
                epsilon = (1e-5, 1e-3, 0.25)[n % 3]
                for form, axis in ((None, -1), ("NCHW", 1)):
                    x = some(shape if form is None else shape[:1] + shape[-1:] + shape[1:-1], dtype)
                    p = [some((6,), dtype), some((6,), dtype)]
                    w.case("%s %s %d groups %s" % (name_of(dtype), list(x.shape), groups, form or "NONE"), op,
                           attrs(groups, epsilon), [x] + p, [expect(x, *p, groups, epsilon, axis)], fmt=form,
                           tol=loose(dtype))
        x = some((2, 3, 4), dtype)
        w.case("%s not affine" % name_of(dtype), op, attrs(2, 1e-5, False), [x], [expect(x, None, None, 2, 1e-5)],
               tol=loose(dtype))
        w.case("%s not affine, beside scale and bias" % name_of(dtype), op, attrs(2, 1e-5, False),
               [x, some((4,), dtype), some((3,), dtype)], [expect(x, None, None, 2, 1e-5)], tol=loose(dtype))
        w.case("%s not affine, absent scale and bias" % name_of(dtype), op, attrs(4, 1e-5, False), [x, None, None],
               [expect(x, None, None, 4, 1e-5)], tol=loose(dtype))
    x, p = some((2, 3, 2, 4)), [some((4,)), some((4,))]
    both_layouts(w, "the same values", op, attrs(2), [x] + p, [expect(x, *p, 2, 1e-5)], tol=LOOSE)
    w.case("NHWC", op, attrs(2), [x] + p, [expect(x, *p, 2, 1e-5)], fmt="NHWC", tol=LOOSE)
    w.case("constant scale and bias", op, attrs(2), [x] + [const(v) for v in p], [expect(x, *p, 2, 1e-5)], tol=LOOSE)
    w.case("default attributes", op, {}, [x] + p, [expect(x, *p, 1, 1e-5)], tol=LOOSE)
    w.case("numGroups 0 is 1", op, attrs(0), [x] + p, [expect(x, *p, 1, 1e-5)], tol=LOOSE)
    thin = np.array([0.01, -0.01, 0.002, 0.004], f32).reshape(1, 2, 2)  # variance and epsilon of one size
    for epsilon in (0.0, 1e-5, 1e-4):
        w.case("epsilon %g" % epsilon, op, attrs(2, epsilon), [thin] + [v[:2] for v in p],
               [expect(thin, p[0][:2], p[1][:2], 2, epsilon)], tol=LOOSE)
    half = some((2, 3, 4), f16)
    w.case("float16 with parameters of float32", op, attrs(2), [half] + p, [expect(half, *p, 2, 1e-5)], tol=loose(f16))
    far = np.array([[1000000, 1000000.25, 1000001], [-30000, -30000.5, -30000.625]], f32)
    one = [np.ones(3, f32), np.zeros(3, f32)]
    w.case("far away from 0", op, attrs(1), [far] + one, [expect(far, *one, 1, 1e-5)], tol=LOOSE)
    odd = np.array([[1, np.nan, 2, 4], [np.inf, 1, 5, 3]], f32)
    y = np.full((2, 4), np.nan, f32)
    y[:, 2:] = expect(odd[:, 2:], None, None, 1, 1e-5)
    w.case("NaN and infinity stay in their group", op, attrs(2, 1e-5, False), [odd], [y], tol=LOOSE)
    for shape in ((0, 3, 4), (2, 0, 4), (2, 3, 0)):
        none = np.zeros(shape, f32)
        w.case("empty %s" % list(shape), op, attrs(2), [none] + [np.ones(shape[2], f32)] * 2, [none])
    x, one = some((2, 3, 4)), np.ones(4, f32)
    refuse(w, "3 groups of 4 channels", op, attrs(3), [x, one, one], "INVALID_PARAMETER")
    refuse(w, "8 groups of 4 channels", op, attrs(8), [x, one, one], "INVALID_PARAMETER")
    refuse(w, "numGroups -1", op, attrs(-1), [x, one, one], "INVALID_PARAMETER")
    refuse(w, "epsilon below 0", op, attrs(2, -1e-5), [x, one, one], "INVALID_PARAMETER")
    refuse(w, "epsilon NaN", op, attrs(2, float("nan")), [x, one, one], "INVALID_PARAMETER")
    refuse(w, "rank 1", op, attrs(2), [x[0, 0], one, one], "INVALID_SHAPE")
    refuse(w, "scalar", op, attrs(1), [np.array(1, f32), one[:1], one[:1]], "INVALID_SHAPE")
    refuse(w, "rank 9", op, attrs(1), [np.ones((1,) * 9, f32), one[:1], one[:1]], "INVALID_SHAPE")
    refuse(w, "scale of another length", op, attrs(2), [x, np.ones(2, f32), one], "INVALID_SHAPE")
    refuse(w, "bias of another length", op, attrs(2), [x, one, np.ones(1, f32)], "INVALID_SHAPE")
    refuse(w, "bias of rank 2", op, attrs(2), [x, one, np.ones((1, 4), f32)], "INVALID_SHAPE")
    refuse(w, "channels first, scale for the last axis", op, attrs(1), [x, one, one], "INVALID_SHAPE", fmt="NCHW")
    refuse(w, "int32", op, attrs(2), [some((2, 3, 4), np.int32), one, one], "INVALID_DATATYPE")
    refuse(w, "float64", op, attrs(2), [x.astype(f64), one.astype(f64), one.astype(f64)], "INVALID_DATATYPE")
    refuse(w, "scale of float16 beside float32", op, attrs(2), [x, one.astype(f16), one], "INVALID_DATATYPE")
    refuse(w, "quantised", op, attrs(2), [Tensor(some((2, 3, 4), np.int8), quant=[(8, 0, 0.5)]), one, one],
           "UNSUPPORTED_OP")
    refuse(w, "absent x", op, attrs(2), [None, one, one], "NULL_PTR")
    refuse(w, "affine without scale", op, attrs(2), [x, None, one], "NULL_PTR")
    refuse(w, "affine without bias", op, attrs(2), [x, one], "NULL_PTR")
    refuse(w, "four inputs", op, attrs(2), [x, one, one, one], "INVALID_INPUT")
    w.case("refused: two outputs", op, attrs(2), [x, one, one], [x, x], error="INVALID_OUTPUT")


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.group_norm in float64.")
