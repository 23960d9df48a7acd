"""ARGMIN_FUSION."""
import numpy as np

import requantised
from common import f32, f64, FLOATS, largest, make_arg, name_of, refuse, some, Tensor, write


def make(w):
    op = "ARGMIN_FUSION"
    make_arg(op, rising=True)(w)
    for dtype in FLOATS + (np.int8, np.uint16):
        x = some((3, 60), dtype, -20, 20)
        if np.dtype(dtype).kind == "f":
            x[1, ::7] = np.nan
        for k in (1, 2, 17, 60):
            v, at = largest(x, 1, k, rising=True)
            w.case("%d of 60 %s" % (k, name_of(dtype)), op, {"axis": 1, "topK": k, "keepDims": True}, [x],
                   [at.astype(np.int32), v])
    x = some((1, 2, 1, 3, 1, 2, 1, 2), f32, -3, 3, 1)
    for axis in (1, 3, -1):
        w.case("rank 8 axis %d" % axis, op, {"axis": axis}, [x], [np.argmin(x, axis).astype(np.int32)])
    w.case("default attributes", op, {}, [x], [np.argmin(x, -1).astype(np.int32)])
    w.case("topK 0 is 1", op, {"topK": 0}, [x], [np.argmin(x, -1).astype(np.int32)])
    w.case("-0 is 0", op, {"axis": 0}, [np.array([0.0, -0.0, 1], f64)], [np.array(0, np.int32)])
    w.case("-0 and its position", op, {"axis": 0}, [np.array([1, -0.0, 0.0], f64)], [np.array(1, np.int32)])
    rows, scale = np.array([[3, -128, 127], [5, 5, -1]], np.int8), [(8, 3, 0.5)]
    w.case("positions of a quantised tensor", op, {"axis": 1}, [Tensor(rows, quant=scale)], [np.array([1, 2], np.int32)])
    w.case("values of a quantised tensor", op, {"axis": 1, "outMaxValue": True}, [Tensor(rows, quant=scale)],
           [Tensor(np.array([-128, -1], np.int8), quant=scale)])
    w.case("refused: positions of float32", op, {"axis": 1}, [rows], [np.zeros(2, f32)], error="INVALID_DATATYPE")
    w.case("refused: positions of int8", op, {"axis": 1}, [rows], [np.zeros(2, np.int8)], error="INVALID_DATATYPE")
    w.case("refused: values of int32", op, {"axis": 1, "outMaxValue": True}, [rows], [np.zeros(2, np.int32)],
           error="INVALID_DATATYPE")
    refuse(w, "scalar", op, {"axis": 0}, [np.array(1, f32)], "INVALID_PARAMETER")
    refuse(w, "nothing to choose from", op, {"axis": 1}, [np.zeros((2, 0), f32)], "INVALID_PARAMETER")
    refuse(w, "rank 9", op, {"axis": 0}, [np.ones((1,) * 9, f32)], "INVALID_SHAPE")
    w.case("refused: three outputs", op, {"axis": 1}, [rows], [np.zeros(2, np.int32)] * 3, error="INVALID_OUTPUT")


if __name__ == "__main__":
    write(make, "Expected values: Python's sorted; compared with numpy.argmin.", also=requantised.cases("ARGMIN_FUSION"))
