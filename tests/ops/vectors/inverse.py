"""INVERSE."""
import numpy as np

from common import empty_batch, f16, f32, f64, refuse, rounded, some, Tensor, wide, write


def make(w):
    def go(name, x, tol):
        y = np.linalg.inv(wide(x))
        w.case(name, "INVERSE", {}, [x], [rounded(y, x.dtype.type)], tol=tol)

    for dtype, tol in ((f32, (0, 2e-7)), (f16, (0, 1e-3)), (f64, (1e-13, 1e-13))):
        kind = " " + np.dtype(dtype).name
        for n in range(1, 7):
            go("%d x %d%s" % (n, n, kind), (some((n, n), dtype, -3, 3, 0.5) + dtype(2 * n) * np.eye(n, dtype=dtype)).astype(dtype), tol)
        go("stacks" + kind, (some((2, 1, 3, 2, 2), dtype, -3, 3, 0.5) + 7 * np.eye(2, dtype=dtype)).astype(dtype), tol)
        go("rows in another order" + kind, np.array([[0, 0, 2], [0, 4, 1], [8, 1, 1]], dtype), tol)
        go("the identity" + kind, np.eye(5, dtype=dtype), (0, 0))
        go("a small pivot" + kind, np.array([[2**-14, 1], [1, 1]], dtype), tol)
        go("a triangular matrix" + kind, np.array([[1, 2, 3], [0, 4, 5], [0, 0, 8]], dtype), tol)
        # By the definition: U = [2 4; 0 0] and L^-1*P = [0 1; 1 -1/2].
        infinite = np.array([[-np.inf, np.inf], [np.inf, -np.inf]], dtype)
        w.case("singular" + kind, "INVERSE", {}, [np.array([[1, 2], [2, 4]], dtype)], [infinite])
        w.case("0" + kind, "INVERSE", {}, [np.zeros((2, 1, 1), dtype)], [np.full((2, 1, 1), np.inf, dtype)])
    go("20 x 20", (some((20, 20), f32, -4, 4) + 9 * np.eye(20, dtype=f32)) / f32(4), (1e-7, 1e-6))
    go("rank 8", (some((1, 2, 1, 1, 2, 1, 2, 2), f32, -3, 3) + 7 * np.eye(2, dtype=f32)).astype(f32), (0, 2e-7))
    w.case("one singular matrix of two", "INVERSE", {}, [np.array([[[0, 0], [0, 0]], [[2, 0], [0, 4]]], f32)],
           [np.array([[[np.nan, np.nan], [np.nan, np.inf]], [[0.5, 0], [0, 0.25]]], f32)])
    w.case("NaN", "INVERSE", {}, [np.array([[np.nan, 1], [1, 1]], f32)], [np.full((2, 2), np.nan, f32)])
    x = some((2, 3, 3))
    refuse(w, "not square", "INVERSE", {}, [x[:, :2]], "INVALID_SHAPE")
    refuse(w, "one axis", "INVERSE", {}, [x[0, 0]], "INVALID_SHAPE")
    empty_batch(w, "empty", "INVERSE", {}, [x[:0]], (0, 3, 3))
    refuse(w, "empty matrices", "INVERSE", {}, [x[:, :0, :0]], "INVALID_SHAPE")
    refuse(w, "int32", "INVERSE", {}, [x.astype(np.int32)], "INVALID_DATATYPE")
    refuse(w, "quantized", "INVERSE", {}, [Tensor(x.astype(np.int8), quant=[(8, 0, 0.5)])], "UNSUPPORTED_OP")
    refuse(w, "absent", "INVERSE", {}, [None], "NULL_PTR")
    refuse(w, "two inputs", "INVERSE", {}, [x, x], "INVALID_INPUT")


if __name__ == "__main__":
    write(make, "Expected values: numpy.linalg.inv in float64; with a pivot of 0 the quotients of back substitution.")
