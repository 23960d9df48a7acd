"""REAL_DIV. Of integers the result is float32."""
import numpy as np

from common import f32, FLOATS, make_exact, NO_ATTR, write


def make(w):
    def result(dtype):
        return f32 if np.dtype(dtype).kind == "i" else dtype

    def divide(x, y):  # of integers numpy computes in float64
        return np.true_divide(x, y)

    make_exact("REAL_DIV", divide, None, types=FLOATS + (np.int32, np.int64), result=result)(w)
    for dtype in (np.int32, np.int64):
        x, y = np.array([3, -3, 0, 7], dtype), np.array([0, 0, 0, -2], dtype)
        w.case("%s by zero" % np.dtype(dtype).name, "REAL_DIV", NO_ATTR, [x, y],
               [np.array([np.inf, -np.inf, np.nan, -3.5], f32)])
        w.case("refused: the result of %s declared so" % np.dtype(dtype).name, "REAL_DIV", NO_ATTR, [x, y],
               [np.zeros(4, dtype)], error="INVALID_DATATYPE")
    w.case("refused: the result of float32 declared float64", "REAL_DIV", NO_ATTR, [np.ones(2, f32), np.ones(2, f32)],
           [np.ones(2)], error="INVALID_DATATYPE")


if __name__ == "__main__":
    write(make, "Expected values: numpy.true_divide.")
