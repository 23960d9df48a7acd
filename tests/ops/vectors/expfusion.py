"""EXPFUSION."""
import numpy as np

from common import f16, f32, name_of, refuse, rounded, some, wide, write
from quantised_elements import cases


def make(w):
    op = "EXPFUSION"

    def go(name, x, base=-1.0, scale=1.0, shift=0.0):
        b, s, t = (float(np.float32(v)) for v in (base, scale, shift))
        with np.errstate(all="ignore"):
            y = np.power(np.e if b == -1 else b, s * wide(x) + t)
        w.case(name, op, {"base": base, "scale": scale, "shift": shift}, [x], [rounded(y, x)])

    go("e, edges", np.array([0, -0.0, 1, -1, 88.5, -87, 89, -200, np.inf, -np.inf, np.nan, 1e-30], f32))
    go("e, float16 edges", np.array([0, 1, -1, 11, 12, -20, np.inf, -np.inf, np.nan], f16))
    for shape in ((), (1,), (7,), (2, 3), (2, 0, 2), (1, 2, 1, 2, 1, 2, 1, 2)):
        for dtype in (f32, f16):
            go("%s %s" % (name_of(dtype), list(shape)), some(shape, dtype))
    for base in (2.0, 10.0, 0.5, 1.0):
        for dtype in (f32, f16):
            go("%s base %g" % (name_of(dtype), base), some((3, 4), dtype), base)
    go("scale and shift", some((3, 5)), 2.0, -0.5, 1.25)
    go("e, scale and shift", some((3, 5)), -1.0, 0.25, -2.0)
    go("shift -1 is no base", some((2, 2)), 3.0, 1.0, -1.0)
    for base in (0.0, -2.0, -0.5):
        refuse(w, "base %g" % base, op, {"base": base}, [some((2,))], "INVALID_PARAMETER")
    refuse(w, "int32", op, {}, [np.array([4], np.int32)], "INVALID_DATATYPE")
    refuse(w, "two inputs", op, {}, [some((2,)), some((2,))], "INVALID_INPUT")
    refuse(w, "absent input", op, {}, [None], "NULL_PTR")


if __name__ == "__main__":
    write(make, "Expected values: numpy.power in float64.", also=cases("EXPFUSION"))
