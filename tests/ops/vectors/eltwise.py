"""ELTWISE."""
import numpy as np

from common import (ARITHMETIC, extremes, f16, float_result, integer_result, INTEGERS, name_of, NUMBERS, refuse, some,
                    write)
from quantised_elements import cases


def make(w):
    op = "ELTWISE"
    modes = [ARITHMETIC["MUL_FUSION"], ARITHMETIC["ADD_FUSION"], ARITHMETIC["MAXIMUM"]]
    for mode, (real, whole) in enumerate(modes):
        title = ("product", "sum", "maximum")[mode]
        for dtype in NUMBERS:
            x, y = extremes(dtype, False) if dtype in INTEGERS else (some((2, 5), dtype), some((2, 5), dtype))
            z = integer_result(whole, x, y) if dtype in INTEGERS else float_result(real, x, y)
            w.case("%s %s" % (title, name_of(dtype)), op, {"mode": mode}, [x, y], [z])
        for a, b in (((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((0, 2), (1, 2))):
            x, y = some(a), some(b)
            w.case("%s %s with %s" % (title, list(a), list(b)), op, {"mode": mode}, [x, y], [float_result(real, x, y)])
    refuse(w, "mode unknown", op, {"mode": 3}, [some((2,)), some((2,))], "INVALID_PARAMETER")
    refuse(w, "mode -1", op, {"mode": -1}, [some((2,)), some((2,))], "INVALID_PARAMETER")
    refuse(w, "two bools", op, {"mode": 1}, [np.array([True]), np.array([True])], "INVALID_DATATYPE")
    refuse(w, "float32 and float16", op, {"mode": 1}, [some((2,)), some((2,), f16)], "INVALID_DATATYPE")
    refuse(w, "shapes [2] and [3]", op, {"mode": 1}, [some((2,)), some((3,))], "INVALID_SHAPE")
    refuse(w, "one input", op, {"mode": 1}, [some((2,))], "INVALID_INPUT")
    refuse(w, "absent input", op, {"mode": 1}, [None, some((2,))], "NULL_PTR")


if __name__ == "__main__":
    write(make, "Expected values: numpy in float64; integers: Python integers modulo 2^n.", also=cases("ELTWISE"))
