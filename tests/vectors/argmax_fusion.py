"""ARGMAX_FUSION."""
import numpy as np

from common import f32, FLOATS, largest, name_of, NUMBERS, refuse, some, tie_values, wide, write


def make(w):
    op = "ARGMAX_FUSION"

    def attrs(axis, k=1, keep=False, values=False):
        return {"axis": axis, "topK": k, "keepDims": keep, "outMaxValue": values}

    def go(name, x, axis, k=1, keep=False, values=False, index=np.int32, both=False):
        v, at = largest(x, axis, k)
        if k == 1 and not np.isnan(wide(x)).any():
            assert np.array_equal(np.squeeze(at, axis), np.argmax(x, axis))
        if k == 1 and not keep:
            v, at = np.squeeze(v, axis), np.squeeze(at, axis)
        w.case(name, op, attrs(axis, k, keep, values), [x],
               [at.astype(index), v] if both else [v if values else at.astype(index)])

    for dtype in NUMBERS:
        x = tie_values(dtype)
        go("%s ties" % name_of(dtype), x, 1)
        go("%s ties top 3 values" % name_of(dtype), x, -1, 3, values=True)
    for n, shape in enumerate(((4,), (2, 3), (3, 2, 2), (1, 2, 3, 2), (2, 1, 2, 1, 3))):
        for axis in range(-len(shape), len(shape)):
            go("%s axis %d%s" % (list(shape), axis, " kept" if axis % 2 else ""), some(shape, FLOATS[n % 3], -4, 4, 1),
               axis,
               keep=bool(axis % 2), index=(np.int32, np.int64)[n % 2])
    x = some((2, 4, 3), f32, -3, 3, 1)
    for k in (2, 4):
        go("top %d of axis 1" % k, x, 1, k)
        go("top %d of axis 1 kept" % k, x, 1, k, keep=True)
        go("top %d of axis 1 int64" % k, x, 1, k, index=np.int64)
        go("top %d of axis 1 two outputs" % k, x, 1, k, both=True)
    go("values", x, 1, values=True)
    go("values kept", x, -1, keep=True, values=True)
    go("two outputs", x, 0, both=True)
    go("two outputs kept", x, 0, keep=True, both=True)
    go("two outputs int64", x, 2, both=True, index=np.int64)
    big = np.array([2 ** 53, 2 ** 53 + 1, 2 ** 53 - 1], np.int64)
    go("int64 beyond float64", big, 0)
    go("uint64 beyond float64", np.array([2 ** 64 - 2, 2 ** 64 - 1, 2 ** 64 - 3], np.uint64), 0)
    go("no rows", np.zeros((0, 3), f32), 1)
    w.case("extent 1", op, attrs(1), [some((2, 1))], [np.zeros(2, np.int32)])
    refuse(w, "topK -1", op, attrs(0, -1), [x], "INVALID_PARAMETER")
    refuse(w, "topK larger than the extent", op, attrs(1, 5), [x], "INVALID_PARAMETER")
    refuse(w, "axis 3 of rank 3", op, attrs(3), [x], "INVALID_PARAMETER")
    refuse(w, "axis -4 of rank 3", op, attrs(-4), [x], "INVALID_PARAMETER")
    refuse(w, "bool", op, attrs(0), [np.array([True, False])], "INVALID_DATATYPE")
    refuse(w, "two inputs", op, attrs(0), [x, x], "INVALID_INPUT")
    refuse(w, "absent input", op, attrs(0), [None], "NULL_PTR")


if __name__ == "__main__":
    write(make, "Expected values: Python's sorted; compared with numpy.argmax.")
