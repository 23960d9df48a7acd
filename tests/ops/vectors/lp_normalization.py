"""LP_NORMALIZATION."""
import numpy as np
import torch

from common import f16, f32, f64, LOOSE, loose, name_of, refuse, rounded, some, tensor, write
from quantised_elements import cases


def make(w):
    op = "LP_NORMALIZATION"

    def expect(x, axis, p, epsilon=1e-5):
        t = tensor(x)
        return rounded((t / (torch.linalg.vector_norm(t, p, axis, True) + float(f32(epsilon)))).numpy(), x)

    def go(name, x, axis, p, epsilon=1e-5, **more):
        w.case(name, op, {"axis": axis, "p": p, "epsilon": epsilon}, [x], [expect(x, axis, p, epsilon)],
               tol=loose(x.dtype), **more)

    for n, shape in enumerate(((5,), (2, 4), (2, 3, 4), (4, 2, 1, 3), (2, 1, 3, 5, 4), (1, 2, 1, 2, 1, 2, 1, 3))):
        for axis in range(-len(shape), len(shape)):
            for p in (1, 2):
                dtype, epsilon = (f32, f16)[(n + axis + p) % 2], (1e-5, 0.0, 2.0)[(n + axis) % 3]
                x = some(shape, dtype)
                x = np.where(x == 0, dtype(0.75), x) if epsilon == 0 else x
                go("%s %s axis %d p %d epsilon %g" % (name_of(dtype), list(shape), axis, p, epsilon), x, axis, p, epsilon)
    x = some((3, 4))
    w.case("default attributes", op, {}, [x], [expect(x, 1, 2)], tol=LOOSE)
    w.case("p 0 is 2", op, {"p": 0}, [x], [expect(x, 1, 2)], tol=LOOSE)
    small = np.array([[1e-5, -2e-5], [1e-4, 0], [0, -0.0]], f32)
    for p in (1, 2):
        w.case("default epsilon, p %d" % p, op, {"p": p}, [small], [expect(small, 1, p)], tol=LOOSE)
        w.case("0 by 0, p %d" % p, op, {"p": p, "epsilon": 0.0}, [small], [expect(small, 1, p, 0.0)], tol=LOOSE)
        go("epsilon below 0, p %d" % p, x, 1, p, -0.5)
        for dtype in (f32, f16):
            odd = np.array([[1, np.nan, 2], [np.inf, 1, 2], [-np.inf, 1, 0], [1, -2, 2]], dtype)
            go("NaN and infinity, p %d, %s" % (p, name_of(dtype)), odd, 1, p)
        go("1000 terms, p %d" % p, np.full((1000,), 0.1, f32), 0, p)
        go("extent 1, p %d" % p, some((3, 1), f32, 1), 1, p)
        go("no rows, p %d" % p, np.zeros((0, 3), f32), 1, p)
    w.case("no columns", op, {}, [np.zeros((3, 0), f32)], [np.zeros((3, 0), f32)])
    go("NCHW counts the axis in its own order", x.reshape(1, 3, 2, 2), 1, 1, fmt="NCHW")
    for p in (-1, 3, 2 ** 31 - 1):
        refuse(w, "p %d" % p, op, {"p": p}, [x], "INVALID_PARAMETER")
    refuse(w, "axis 2 of rank 2", op, {"axis": 2}, [x], "INVALID_PARAMETER")
    refuse(w, "axis -3 of rank 2", op, {"axis": -3}, [x], "INVALID_PARAMETER")
    refuse(w, "the default axis of rank 1", op, {}, [x[0]], "INVALID_PARAMETER")
    refuse(w, "scalar", op, {"axis": 0}, [np.array(1, f32)], "INVALID_PARAMETER")
    refuse(w, "int32", op, {}, [some((2, 2), np.int32)], "INVALID_DATATYPE")
    refuse(w, "float64", op, {}, [some((2, 2), f64)], "INVALID_DATATYPE")
    refuse(w, "rank 9", op, {}, [np.ones((1,) * 9, f32)], "INVALID_SHAPE")
    refuse(w, "absent input", op, {}, [None], "NULL_PTR")
    refuse(w, "two inputs", op, {}, [x, x], "INVALID_INPUT")
    w.case("refused: two outputs", op, {}, [x], [x, x], error="INVALID_OUTPUT")


if __name__ == "__main__":
    write(make, "Expected values: torch.linalg.vector_norm in float64.", also=cases("LP_NORMALIZATION"))
