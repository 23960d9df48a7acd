"""TOPK_FUSION."""
import numpy as np
import torch

from common import const, f32, FLOATS, largest, name_of, NUMBERS, refuse, some, tensor, tie_values, wide, write


def make(w):
    op = "TOPK_FUSION"

    def go(name, x, axis, k, in_order=True, index=np.int32, k_type=np.int32):
        v, at = largest(x, axis, k, not in_order)
        if in_order and k and not np.isnan(wide(x)).any():
            assert np.array_equal(wide(v), torch.topk(tensor(x), k, axis).values.numpy()) or x.dtype.itemsize == 8
        w.case(name, op, {"sorted": in_order, "axis": axis}, [x, const(np.array([k], k_type))], [v, at.astype(index)])

    for dtype in NUMBERS:
        x = tie_values(dtype)
        for k in (2, 4):
            go("%s ties %d" % (name_of(dtype), k), x, 1, k)
            go("%s ties %d by position" % (name_of(dtype), k), x, 1, k, False)
    for n, shape in enumerate(((4,), (2, 3), (3, 2, 2), (1, 2, 3, 2), (2, 1, 2, 1, 3))):
        for axis in range(-len(shape), len(shape)):
            k = max(1, shape[axis] - (axis % 2))
            go("%s axis %d k %d" % (list(shape), axis, k), some(shape, FLOATS[n % 3], -4, 4, 1), axis, k,
               (n + axis) % 3 != 0,
               (np.int32, np.int64)[n % 2], (np.int32, np.int64)[axis % 2])
    x = some((3, 4), f32, -3, 3, 1)
    w.case("default attributes", op, {}, [x, const(np.array([2], np.int32))],
           [y if n == 0 else y.astype(np.int32) for n, y in enumerate(largest(x, -1, 2))])
    go("k 0", x, 1, 0)
    go("no rows", np.zeros((0, 3), f32), 1, 2)
    go("int64 beyond float64", np.array([2 ** 53, 2 ** 53 + 1, 2 ** 53 - 1], np.int64), 0, 2)
    plain = {"sorted": True, "axis": 1}
    two = const(np.array([2], np.int32))
    refuse(w, "k larger than the extent", op, plain, [x, const(np.array([5], np.int32))], "INVALID_PARAMETER")
    refuse(w, "k negative", op, plain, [x, const(np.array([-1], np.int32))], "INVALID_PARAMETER")
    refuse(w, "axis 2 of rank 2", op, {"sorted": True, "axis": 2}, [x, two], "INVALID_PARAMETER")
    refuse(w, "axis -3 of rank 2", op, {"sorted": True, "axis": -3}, [x, two], "INVALID_PARAMETER")
    refuse(w, "float32 k", op, plain, [x, const(np.array([2], f32))], "INVALID_DATATYPE")
    refuse(w, "two values of k", op, plain, [x, const(np.array([2, 1], np.int32))], "INVALID_SHAPE")
    refuse(w, "bool", op, plain, [np.array([[True, False]]), two], "INVALID_DATATYPE")
    refuse(w, "one input", op, plain, [x], "INVALID_INPUT")
    refuse(w, "absent k", op, plain, [x, None], "NULL_PTR")


if __name__ == "__main__":
    write(make, "Expected values: Python's sorted; compared with torch.topk.")
