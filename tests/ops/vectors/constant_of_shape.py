"""CONSTANT_OF_SHAPE."""
import numpy as np

from common import DATATYPE, I64_MAX, Tensor, f32, known, TYPES, write


def converted(value, t):
    """A float32 number as CAST makes it: toward zero and saturating, NaN is 0; bool is not zero."""
    if t == "bool":
        return np.array(value != 0)
    if t.startswith("float"):
        with np.errstate(over="ignore"):
            return np.array(value, f32).astype(t)
    info = np.iinfo(t)
    whole = 0 if np.isnan(value) else info.max if value == np.inf else info.min if value == -np.inf else int(value)
    return np.array(min(max(whole, info.min), info.max), t)


def make(w):

    def put(name, shape, value=None, t="float32", index="int32", **attrs):
        given = {} if value is None else {"value": [float(value)]}
        if not attrs:
            attrs = {"dataType": DATATYPE[t]}
        y = np.full(shape, converted(f32(0 if value is None else value), t))
        w.ok(name, [known(shape, index, (len(shape),))], y, **given, **attrs)

    put("2x3", [2, 3], 1.5)
    put("int64 shape", [2, 3], 1.5, "float32", "int64")
    put("no value is 0", [2, 3])
    put("no value is 0, int8", [3], None, "int8")
    put("no value is false", [3], None, "bool")
    put("scalar result", [], 2)
    put("scalar result, int64 shape", [], -2, "int32", "int64")
    put("one element", [1], 7, "uint8")
    put("empty", [0], 1)
    put("empty inside", [2, 0, 3], 1, "int64")
    put("rank 8", [1, 2, 1, 2, 1, 2, 1, 2], 0.25)
    put("17 bytes", [17], -7, "int8")
    put("type from the output", [2], 3, "int16", dataType=0)
    for t in TYPES:
        for value in (1.0, -2.75, 300.5, 3e38, np.inf, -np.inf, np.nan, -0.0):
            put("%s %g" % (t, value), [2, 2], value, t)
    put("float16 rounds to even", [2], 2049, "float16")
    put("float16 rounds to infinity", [2], 65520, "float16")
    put("int32 from 2^31 - 128", [2], 2147483520, "int32")
    put("int32 from 2^31", [2], 2147483648, "int32")
    put("uint64 from 2^63", [2], 9223372036854775808.0, "uint64")

    def bad(name, code, ins, outs=(), **attrs):
        w.bad(name, code, ins, outs, **{"dataType": DATATYPE["float32"], **attrs})

    s = known([2, 3])
    bad("negative extent", "INVALID_PARAMETER", [known([2, -1])])
    bad("two values", "INVALID_PARAMETER", [s], value=[1.0, 2.0])
    bad("rank 9", "INVALID_SHAPE", [known([1] * 9)])
    bad("shape of rank 2", "INVALID_SHAPE", [known([[2, 3]])])
    bad("shape of rank 0", "INVALID_SHAPE", [known(2)])
    bad("shape of float32", "INVALID_DATATYPE", [known([2, 3], "float32")])
    bad("shape of uint32", "INVALID_DATATYPE", [known([2, 3], "uint32")])
    bad("extent beyond int32", "OUT_OF_MEMORY", [known([I64_MAX], "int64")])
    bad("more elements than int64 counts", "OUT_OF_MEMORY", [known([2**31 - 1] * 3)])
    bad("no type", "INVALID_DATATYPE", [s], dataType=0)
    bad("a number that is no type", "INVALID_DATATYPE", [s], dataType=36)
    bad("another type than declared", "INVALID_DATATYPE", [s], [np.zeros((2, 3), "int32")])
    bad("quantised shape", "UNSUPPORTED_OP", [Tensor(np.array([2, 3], "int32"), True, [(32, 0, 1.0)])])
    bad("quantised result", "UNSUPPORTED_OP", [s], [Tensor(np.zeros((2, 3), "int8"), quant=[(8, 0, 1.0)])],
        dataType=DATATYPE["int8"])
    bad("no inputs", "INVALID_INPUT", [])
    bad("two inputs", "INVALID_INPUT", [s, s])
    bad("shape absent", "NULL_PTR", [None])
    bad("two outputs", "INVALID_OUTPUT", [s], [np.zeros((2, 3), f32)] * 2)


if __name__ == "__main__":
    write(make, "Expected values: numpy; what CAST makes of a float, by its printed rule.", "CONSTANT_OF_SHAPE")
