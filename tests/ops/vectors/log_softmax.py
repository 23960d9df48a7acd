"""LOG_SOFTMAX."""
import numpy as np
import torch

from common import EXACT64, f16, f32, f64, name_of, refuse, rounded, some, tensor, write
from quantised_elements import cases


def make(w):
    op = "LOG_SOFTMAX"

    def go(name, x, axis, **more):
        w.case(name, op, {"axis": axis}, [x], [rounded(torch.log_softmax(tensor(x), axis).numpy(), x)], **more)

    for shape in ((5,), (2, 4), (2, 3, 4), (4, 2, 1, 3), (2, 1, 3, 5, 4), (1, 2, 1, 2, 1, 2, 1, 3)):
        for axis in range(-len(shape), len(shape)):
            for dtype in (f32, f16):
                go("%s %s axis %d" % (name_of(dtype), list(shape), axis), some(shape, dtype), axis)
    large = [[1000, 1001, 999], [-1000, -1001, -999], [88, -88, 0], [60000, -60000, 0], [100, 100, 100]]
    odd = [[-np.inf, 0, 1], [np.nan, 0, 1], [0, 1, np.nan], [np.inf, 0, 1], [0, np.inf, np.inf], [-np.inf] * 3, [0, -0.0, 0]]
    for dtype in (f32, f16):
        go("large values, " + name_of(dtype), np.array(large, dtype), 1)
        go("infinities and NaN, " + name_of(dtype), np.array(odd, dtype), 1)
        go("extent 1, " + name_of(dtype), some((3, 1), dtype), 1)
        go("no rows, " + name_of(dtype), np.zeros((0, 3), dtype), 1)
        go("no columns, " + name_of(dtype), np.zeros((3, 0), dtype), 1)
    go("the largest floats", np.array([[3e38, -3e38, 3.2e38], [-3e38, -3.1e38, -3e38]], f32), 1)
    near = np.concatenate([np.zeros((1, 4)), np.full((1, 4), -30.0)], 0)  # log(1 + 1e-13): nothing may be lost of x - max
    go("far below the largest", near.astype(f32), 0)
    go("1024 terms", (np.arange(1024) % 7 - 3).astype(f32), 0)
    x = some((2, 3))
    w.case("default axis", op, {}, [x], [rounded(torch.log_softmax(tensor(x), 0).numpy(), x)])
    go("NCHW counts the axis in its own order", x.reshape(1, 3, 2, 1), 1, fmt="NCHW")
    refuse(w, "axis 2 of rank 2", op, {"axis": 2}, [x], "INVALID_PARAMETER")
    refuse(w, "axis -3 of rank 2", op, {"axis": -3}, [x], "INVALID_PARAMETER")
    refuse(w, "scalar", op, {"axis": 0}, [np.array(1, f32)], "INVALID_PARAMETER")
    refuse(w, "axis beyond int32", op, {"axis": 2 ** 32}, [x], "INVALID_PARAMETER")
    refuse(w, "int32", op, {"axis": 0}, [some((2,), np.int32)], "INVALID_DATATYPE")
    for axis in (0, 1, -1):
        go("float64 axis %d" % axis, some((3, 5), f64), axis, tol=EXACT64)
    go("large values, float64", np.array(large, f64), 1, tol=EXACT64)
    go("infinities and NaN, float64", np.array(odd, f64), 1, tol=EXACT64)
    go("more digits than float32, float64", np.array([1 / 3, 0.3333333, 2 / 7], f64), 0, tol=(1e-15, 1e-14))
    refuse(w, "rank 9", op, {"axis": 0}, [np.ones((1,) * 9, f32)], "INVALID_SHAPE")
    refuse(w, "absent input", op, {"axis": 0}, [None], "NULL_PTR")
    refuse(w, "two inputs", op, {"axis": 0}, [x, x], "INVALID_INPUT")
    w.case("refused: two outputs", op, {}, [x], [x, x], error="INVALID_OUTPUT")
    w.case("refused: a result of float16", op, {}, [x], [x.astype(f16)], error="INVALID_DATATYPE")


if __name__ == "__main__":
    write(make, "Expected values: torch.log_softmax in float64.", also=cases("LOG_SOFTMAX"))
