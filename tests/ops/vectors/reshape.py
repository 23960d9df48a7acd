"""RESHAPE."""
import requantised
from common import data, floats, known, odd_floats, TYPES, write


def make(w):

    def put(name, x, shape, dtype="int32"):
        full = [x.shape[k] if d == 0 and x.size else d for k, d in enumerate(shape)]
        w.ok(name, [x, known(shape, dtype, (len(shape),))], x.reshape(full))

    x = floats(2, 6)
    put("2x6 to 3x4", x, [3, 4])
    put("int64 shape", x, [4, 3], "int64")
    put("to rank 1", x, [12])
    put("-1 first", x, [-1, 4])
    put("-1 last", x, [3, -1])
    put("-1 in the middle", x, [2, -1, 3])
    put("-1 alone", x, [-1])
    put("-1 becomes 1", x, [2, 6, -1])
    put("int64 -1", x, [-1, 2], "int64")
    put("0 copies", x, [0, 3, 2])
    put("0 copies the second extent", floats(2, 3, 2), [2, 0, 2])
    put("0 and -1", floats(2, 3, 2), [0, -1])
    put("two 0", floats(2, 3, 2), [0, 0, 1, 2])
    put("-1 before 0", floats(4, 3, 2), [-1, 0, 1], "int64")
    put("same shape", x, [2, 6])
    put("scalar to rank 1", floats(), [1])
    put("scalar to rank 4", floats(), [1, 1, 1, 1])
    put("scalar to -1", floats(), [-1])
    put("one element to scalar", floats(1, 1), [])
    put("scalar to scalar", floats(), [], "int64")
    put("to rank 8", floats(2, 3, 4), [1, 2, 1, 3, 1, 2, 2, 1])
    put("from rank 8", floats(1, 2, 1, 3, 1, 2, 2, 1), [6, -1])
    put("empty, literal 0", floats(0, 3), [3, 0])
    put("empty to rank 1", floats(2, 0, 3), [0])
    put("empty to rank 8", floats(0), [1, 2, 3, 0, 1, 1, 1, 5], "int64")
    put("empty with -1", floats(0, 4), [-1, 4])
    put("NaN and infinities", odd_floats("float32"), [2, -1, 2])
    for t in TYPES:
        put("type " + t, data(t, (2, 3), 2), [3, -1])
    for name, shape in [("product too large", [2, 7]), ("product too small", [2, 5]), ("-1 does not divide", [5, -1]),
                        ("scalar from 12", []), ("copied extent makes too many", [0, 6, 2])]:
        w.bad(name, "INVALID_SHAPE", [x, known(shape, "int32", (len(shape),))])
    w.bad("empty to one element", "INVALID_SHAPE", [floats(0, 3), known([1])])
    w.bad("two -1", "INVALID_PARAMETER", [x, known([-1, -1])])
    w.bad("two -1 of int64", "INVALID_PARAMETER", [x, known([-1, 2, -1], "int64")])
    w.bad("shape of float32", "INVALID_DATATYPE", [x, known([3, 4], "float32")])
    w.bad("shape of rank 2", "INVALID_SHAPE", [x, known([[3, 4]])])
    w.bad("rank 9", "INVALID_SHAPE", [floats(1), known([1] * 9)])
    w.bad("type before shape", "INVALID_DATATYPE", [x, known([[3, 5]], "float32")])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("three inputs", "INVALID_INPUT", [x, known([12]), known([12])])
    w.bad("shape absent", "NULL_PTR", [x, None])
    w.bad("two outputs", "INVALID_OUTPUT", [x, known([12])], [floats(12), floats(12)])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "RESHAPE", also=requantised.cases("RESHAPE"))
