"""PRELU_FUSION."""
import numpy as np
import torch
import torch.nn.functional as F

from common import const, f16, f32, FLOATS, name_of, refuse, rounded, some, tensor, write
from quantised_elements import cases


def make(w):
    op = "PRELU_FUSION"

    def expect(x, slope, axis=-1):
        t = tensor(x)
        if len(slope) == 1 or x.ndim < 2:
            return rounded(F.prelu(t, tensor(slope)), x)
        return rounded(torch.movedim(F.prelu(torch.movedim(t, axis, 1), tensor(slope)), 1, axis), x)

    for dtype in FLOATS:
        for shape in ((2, 5), (2, 3, 4), (1, 2, 2, 3), (2, 1, 3, 1, 2)):
            x, slope = some(shape, dtype), some((shape[-1],), dtype, -4, 8, 0.125)
            w.case("%s %s" % (name_of(dtype), list(shape)), op, {"channelShared": False}, [x, slope],
                   [expect(x, slope)])
            w.case("%s %s shared" % (name_of(dtype), list(shape)), op, {"channelShared": True}, [x, slope[:1]],
                   [expect(x, slope[:1])])
    for dtype in (f32, f16):
        x, slope = some((2, 3, 2, 2), dtype), some((3,), dtype, -4, 8, 0.125)
        w.case("%s NCHW" % name_of(dtype), op, {"channelShared": False}, [x, slope], [expect(x, slope, 1)], fmt="NCHW")
    x, slope = some((1, 2, 2, 2)), some((1,), f32)
    w.case("NCHW shared", op, {"channelShared": True}, [x, slope], [expect(x, slope)], fmt="NCHW")
    w.case("weight length decides, flag false", op, {"channelShared": False}, [x, slope], [expect(x, slope)])
    w.case("constant weight", op, {"channelShared": False}, [x, const(np.array([0.5, 2], f32))],
           [expect(x, np.array([0.5, 2], f32))])
    w.case("format NHWC", op, {"channelShared": False}, [x, np.array([0.5, 2], f32)],
           [expect(x, np.array([0.5, 2], f32))], fmt="NHWC")
    w.case("vector", op, {"channelShared": True}, [some((5,)) * 0 - 2, slope], [np.full(5, -2 * slope[0], f32)])
    w.case("scalar", op, {"channelShared": True}, [np.array(-4, f32), np.array([0.25], f32)], [np.array(-1, f32)])
    x = np.array([[-np.inf, np.inf, np.nan, -0.0]], f32)
    w.case("infinities and NaN", op, {"channelShared": True}, [x, np.array([0.5], f32)],
           [expect(x, np.array([0.5], f32))])
    w.case("nothing", op, {"channelShared": False}, [np.zeros((0, 3), f32), some((3,))], [np.zeros((0, 3), f32)])
    x = some((2, 3))
    refuse(w, "two slopes for three channels", op, {"channelShared": False}, [x, some((2,))], "INVALID_SHAPE")
    refuse(w, "weight of rank 2", op, {"channelShared": False}, [x, some((1, 3))], "INVALID_SHAPE")
    refuse(w, "vector with three slopes", op, {"channelShared": False}, [some((3,)), some((3,))], "INVALID_SHAPE")
    refuse(w, "int32", op, {"channelShared": False}, [some((2, 3), np.int32), some((3,), np.int32)], "INVALID_DATATYPE")
    refuse(w, "one input", op, {"channelShared": False}, [x], "INVALID_INPUT")
    refuse(w, "absent weight", op, {"channelShared": False}, [x, None], "NULL_PTR")


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.prelu in float64.", also=cases("PRELU_FUSION"))
