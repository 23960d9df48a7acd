"""SCALE_FUSION."""
import numpy as np

from common import ACTIVATIONS, const, f16, f32, FLOATS, fused, name_of, refuse, rounded, some, wide, write
from quantised_elements import cases


def make(w):
    op = "SCALE_FUSION"

    def expect(x, scale, bias, axis, kind=0):
        axis = axis + x.ndim if axis < 0 else axis
        shape = (1,) * axis + scale.shape + (1,) * (x.ndim - axis - scale.ndim)
        z = wide(x) * wide(scale).reshape(shape) + (0 if bias is None else wide(bias).reshape(shape))
        return rounded(fused(z, kind), x)

    plans = [((2, 3), (3,), 1), ((2, 3), (2,), 0), ((2, 3), (2, 3), 0), ((2, 3, 2), (3,), 1), ((2, 3, 2), (3,), -2),
             ((2, 3, 2), (3, 2), 1), ((2, 3, 2), (2, 3), -3), ((1, 2, 2, 3), (3,), -1), ((1, 2, 2, 3), (2, 2), 1),
             ((2, 1, 2, 1, 3), (2, 1, 3), 2), ((1, 2, 1, 2, 1, 2, 1, 2), (2, 1, 2), 5), ((4,), (4,), 0),
             ((0, 3), (3,), 1)]
    for n, (shape, part, axis) in enumerate(plans):
        dtype = FLOATS[n % 3] if n > 2 else f32
        x, scale, bias = some(shape, dtype), some(part, dtype), some(part, dtype)
        title = "%s %s scale %s axis %d" % (name_of(dtype), list(shape), list(part), axis)
        w.case(title, op, {"axis": axis, "activationType": 0}, [x, scale, bias], [expect(x, scale, bias, axis)])
        w.case(title + " without bias", op, {"axis": axis, "activationType": 0}, [x, scale, *([None] if n % 2 else [])],
               [expect(x, scale, None, axis)])
    x, scale, bias = some((2, 3, 2)), some((3,)), some((3,))
    w.case("constant scale and bias", op, {"axis": 1, "activationType": 0}, [x, const(scale), const(bias)],
           [expect(x, scale, bias, 1)])
    for kind, title in enumerate(ACTIVATIONS):
        attrs = {"axis": 1, "activationType": kind}
        if kind in (4, 5, 14, 16):
            refuse(w, "fused " + title, op, attrs, [x, scale, bias], "INVALID_PARAMETER")
        elif kind:
            w.case("fused " + title, op, attrs, [x, scale, bias], [expect(x, scale, bias, 1, kind)])
    plain = {"axis": 1, "activationType": 0}
    refuse(w, "axis 3", op, {"axis": 3, "activationType": 0}, [x, scale, bias], "INVALID_PARAMETER")
    refuse(w, "axis -4", op, {"axis": -4, "activationType": 0}, [x, scale, bias], "INVALID_PARAMETER")
    refuse(w, "scale of another length", op, plain, [x, some((2,)), some((2,))], "INVALID_SHAPE")
    refuse(w, "scale past the last axis", op, {"axis": 2, "activationType": 0}, [x, some((2, 2)), some((2, 2))],
           "INVALID_SHAPE")
    refuse(w, "bias of another shape", op, plain, [x, scale, some((2,))], "INVALID_SHAPE")
    refuse(w, "int32", op, plain, [some((2, 3), np.int32), some((3,), np.int32), None], "INVALID_DATATYPE")
    refuse(w, "float16 scale", op, plain, [x, some((3,), f16), None], "INVALID_DATATYPE")
    refuse(w, "one input", op, plain, [x], "INVALID_INPUT")
    refuse(w, "absent scale", op, plain, [x, None, bias], "NULL_PTR")


if __name__ == "__main__":
    write(make, "Expected values: numpy in float64.", also=cases("SCALE_FUSION"))
