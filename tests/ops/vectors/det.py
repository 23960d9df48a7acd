"""DET."""
import numpy as np

from common import empty_batch, f16, f32, f64, refuse, rounded, some, Tensor, wide, write


def make(w):
    def go(name, x, tol=(1e-4, 1e-4)):
        with np.errstate(all="ignore"):
            y = np.linalg.det(wide(x))
        w.case(name, "DET", {}, [x], [rounded(y, x.dtype.type)], tol=tol)

    for dtype, tol in ((f32, (1e-6, 2e-7)), (f16, (1e-2, 1e-3)), (f64, (1e-12, 1e-13))):
        kind = " " + np.dtype(dtype).name
        for n in range(1, 7):
            go("%d x %d%s" % (n, n, kind), some((n, n), dtype, -3, 3, 0.5), tol)
        go("a stack" + kind, some((4, 3, 3), dtype, -3, 3, 0.5), tol)
        go("stacks" + kind, some((2, 1, 3, 2, 2), dtype, -3, 3, 0.5), tol)
        go("a first row of 0" + kind, np.array([[0, 1, 2], [3, 0, 1], [1, 1, 0]], dtype), tol)
        go("two rows that change places" + kind, np.array([[0, 1], [1, 0]], dtype), (0, 0))
        go("three rows that change places" + kind, np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype), (0, 0))
        go("singular" + kind, np.array([[1, 2, 3], [2, 4, 6], [1, 0, 1]], dtype), (0, 0))
        go("zeros" + kind, np.zeros((3, 3), dtype), (0, 0))
        go("the identity" + kind, np.eye(7, dtype=dtype), (0, 0))
    go("ONNX's example", np.array([[[1, 2], [3, 4]], [[1, 2], [2, 1]], [[1, 3], [3, 1]]], f32))
    go("a small pivot", np.array([[1e-7, 1], [1, 1]], f32))
    go("20 x 20", (some((20, 20), f32, -4, 4) + 6 * np.eye(20, dtype=f32)) / f32(4), (1, 1e-4))
    go("of equal pivots the first, or all of it is rounded away", np.array([[2, 0, 0], [2, 2**56, 2**56], [1, 1, 2]], f64), (0, 1e-14))
    go("rank 8", some((1, 2, 1, 1, 2, 1, 2, 2), f32, -3, 3))
    go("0 on the diagonal behind the first column", np.array([[1, 2, 9], [1, 2, 3], [1, 5, 4]], f32))
    w.case("NaN", "DET", {}, [np.array([[np.nan, 1], [1, 1]], f32)], [np.array(np.nan, f32)])
    x = some((2, 3, 3))
    refuse(w, "not square", "DET", {}, [x[:, :2]], "INVALID_SHAPE")
    refuse(w, "one axis", "DET", {}, [x[0, 0]], "INVALID_SHAPE")
    empty_batch(w, "empty", "DET", {}, [x[:0]], (0,))
    refuse(w, "empty matrices", "DET", {}, [x[:, :0, :0]], "INVALID_SHAPE")
    refuse(w, "int32", "DET", {}, [x.astype(np.int32)], "INVALID_DATATYPE")
    refuse(w, "quantised", "DET", {}, [Tensor(x.astype(np.int8), quant=[(8, 0, 0.5)])], "UNSUPPORTED_OP")
    refuse(w, "absent", "DET", {}, [None], "NULL_PTR")
    refuse(w, "two inputs", "DET", {}, [x, x], "INVALID_INPUT")


if __name__ == "__main__":
    write(make, "Expected values: numpy in float64.")
