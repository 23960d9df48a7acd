"""BOTTOM_K."""
import numpy as np

from common import const, f32, FLOATS, largest, make_top, name_of, refuse, some, Tensor, write


def make(w):
    op = "BOTTOM_K"
    make_top(op, rising=True)(w)

    def few(k):
        return const(np.array([k], np.int32))

    for dtype in FLOATS + (np.int8, np.uint16):
        x = some((3, 60), dtype, -20, 20)
        if np.dtype(dtype).kind == "f":
            x[1, ::7] = np.nan
        for k in (1, 2, 17, 60):
            for in_order in (True, False):
                v, at = largest(x, 1, k, not in_order, True)
                w.case("%d of 60 %s%s" % (k, name_of(dtype), "" if in_order else " by position"), op,
                       {"sorted": in_order, "axis": 1}, [x, few(k)], [v, at.astype(np.int32)])
    x = some((1, 2, 1, 3, 1, 2, 1, 2), f32, -3, 3, 1)
    v, at = largest(x, 3, 2, rising=True)
    w.case("rank 8", op, {"axis": 3}, [x, few(2)], [v, at.astype(np.int64)])
    w.case("values alone", op, {"axis": -5}, [x, const(np.array(2, np.int64))], [v])
    rows = np.array([[3, -128, 127], [5, 5, -1]], np.int8)
    refuse(w, "quantised", op, {"axis": 1}, [Tensor(rows, quant=[(8, 3, 0.5)]), few(2)], "UNSUPPORTED_OP")
    refuse(w, "scalar", op, {"axis": 0}, [np.array(1, f32), few(1)], "INVALID_PARAMETER")
    refuse(w, "rank 9", op, {"axis": 0}, [np.ones((1,) * 9, f32), few(1)], "INVALID_SHAPE")
    v, at = largest(rows, 1, 2, rising=True)
    w.case("refused: positions of float32", op, {"axis": 1}, [rows, few(2)], [v, at.astype(f32)], error="INVALID_DATATYPE")
    w.case("refused: three outputs", op, {"axis": 1}, [rows, few(2)], [v, at, at], error="INVALID_OUTPUT")


if __name__ == "__main__":
    write(make, "Expected values: Python's sorted; compared with torch.topk.")
