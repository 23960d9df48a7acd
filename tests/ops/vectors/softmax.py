"""SOFTMAX."""
import numpy as np
import torch

from common import EXACT64, f32, f64, FLOATS, name_of, refuse, rounded, some, tensor, write
from quantised_elements import cases


def make(w):
    op = "SOFTMAX"
    for n, shape in enumerate(((5,), (2, 4), (2, 3, 2), (1, 2, 2, 3), (2, 1, 3, 5, 4))):
        for axis in range(-len(shape), len(shape)):
            dtype = FLOATS[(n + axis) % 3]
            x = some(shape, dtype)
            w.case("%s %s axis %d" % (name_of(dtype), list(shape), axis), op, {"axis": [axis]}, [x],
                   [rounded(torch.softmax(tensor(x), axis).numpy(), dtype)], tol=EXACT64 if dtype == f64 else None)
    x = np.array([[1000, 1001, 999], [-1000, -1001, -999], [88, -88, 0], [3e38, -3e38, 0]], f32)
    w.case("large values", op, {"axis": [-1]}, [x], [rounded(torch.softmax(tensor(x), -1).numpy(), f32)])
    x = np.array([[-np.inf, 0, 1], [np.nan, 0, 1]], f32)
    w.case("minus infinity and NaN", op, {"axis": [1]}, [x], [rounded(torch.softmax(tensor(x), -1).numpy(), f32)])
    x = some((2, 3))
    w.case("empty list is the last axis", op, {"axis": []}, [x], [rounded(torch.softmax(tensor(x), -1).numpy(), f32)])
    w.case("extent 1", op, {"axis": [1]}, [some((3, 1))], [np.ones((3, 1), f32)])
    w.case("NCHW counts the axis in its own order", op, {"axis": [1]}, [x.reshape(1, 3, 2, 1)],
           [rounded(torch.softmax(tensor(x.reshape(1, 3, 2, 1)), 1).numpy(), f32)], fmt="NCHW")
    w.case("no rows", op, {"axis": [1]}, [np.zeros((0, 3), f32)], [np.zeros((0, 3), f32)])
    refuse(w, "axis 2 of rank 2", op, {"axis": [2]}, [x], "INVALID_PARAMETER")
    refuse(w, "axis -3 of rank 2", op, {"axis": [-3]}, [x], "INVALID_PARAMETER")
    refuse(w, "two axes", op, {"axis": [0, 1]}, [x], "INVALID_PARAMETER")
    refuse(w, "int32", op, {"axis": [0]}, [some((2,), np.int32)], "INVALID_DATATYPE")
    refuse(w, "absent input", op, {"axis": [0]}, [None], "NULL_PTR")
    refuse(w, "two inputs", op, {"axis": [0]}, [x, x], "INVALID_INPUT")


if __name__ == "__main__":
    write(make, "Expected values: torch.softmax in float64.", also=cases("SOFTMAX"))
