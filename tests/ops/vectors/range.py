"""RANGE."""
import numpy as np

from common import DATATYPE, I64_MAX, I64_MIN, INTEGERS, Tensor, floats, known, NUMBERS, name_of, write


def whole(start, limit, delta, dtype):
    """In Python's integers, stored modulo 2^n."""
    info = np.iinfo(dtype)
    span = int(info.max) - int(info.min) + 1
    return np.array([(v - int(info.min)) % span + int(info.min) for v in range(start, limit, delta)], dtype)


def real(start, limit, delta, dtype):
    """In float64, rounded once."""
    start, limit, delta = (np.float64(v) for v in (start, limit, delta))
    n = int(max(0, np.ceil((limit - start) / delta)))
    with np.errstate(over="ignore"):
        return (start + np.arange(n, dtype="float64") * delta).astype(dtype)


def make(w):

    def put(name, start, limit, delta=None, dtype="int32", x=None, **more):
        attrs = {"start": start, "limit": limit, **({} if delta is None else {"delta": delta}), **more}
        f = real if np.dtype(dtype).kind == "f" else whole
        w.ok(name, [np.zeros((2,), dtype) if x is None else x], f(start, limit, 1 if delta is None else delta, dtype),
             **attrs)

    def three(name, start, limit, delta, dtype="int32", shapes=((), (), ())):
        v = [np.array(t, dtype) for t in (start, limit, delta)]
        f = real if np.dtype(dtype).kind == "f" else whole
        y = f(*[t.item() for t in v], dtype)
        w.ok(name, [known(t, dtype, s) for t, s in zip(v, shapes)], y)

    put("0 to 5", 0, 5)
    put("step 2", 1, 10, 2)
    put("step 2, one fewer", 1, 9, 2)
    put("step 2, one more", 1, 8, 2)
    put("downwards", 5, 0, -1)
    put("downwards by 3", 5, -5, -3)
    put("negative", -7, -2, 2)
    put("nothing", 3, 3)
    put("nothing upwards", 5, 0)
    put("nothing downwards", 0, 5, -1)
    put("step beyond the limit", 0, 3, 100)
    put("one, largest step", 0, 3, I64_MAX)
    put("one, smallest step", 3, 0, I64_MIN)
    put("int64 to its end", I64_MAX - 3, I64_MAX, 1, "int64")
    put("int64 from its end", I64_MIN, I64_MIN + 7, 3, "int64")
    put("int64 through all", I64_MIN, I64_MAX, 2**62, "int64")
    put("int64 through all downwards", I64_MAX, I64_MIN, -2**62, "int64")
    put("int64 largest steps", I64_MIN, I64_MAX, I64_MAX, "int64")
    put("int8 wraps", 120, 140, 3, "int8")
    put("uint8 wraps", 250, 260, 2, "uint8")
    put("uint8 from -2", -2, 3, 1, "uint8")
    put("uint64 from -2", -2, 3, 1, "uint64")
    put("int16 wraps downwards", -32760, -32776, -5, "int16")
    put("float16 beyond 2048", 2044, 2060, 3, "float16")
    put("float16 to infinity", 65000, 66000, 100, "float16")
    put("float32 beyond 2^24", 2**24 - 3, 2**24 + 9, 2, "float32")
    put("float32 of large", -2**62, 2**62, 2**60, "float32")
    put("float64 of large", I64_MIN, I64_MAX, 2**61, "float64")
    for k, dtype in enumerate(NUMBERS):
        put("type " + name_of(dtype), 2, 30, (3, 5, 7)[k % 3], dtype)
        put("type %s downwards" % name_of(dtype), 40, 1, -(k + 2), dtype)
    put("x of rank 0", 0, 3, None, "float32", floats())
    put("x of rank 8", 0, 3, None, "float32", floats(*[1] * 8))
    put("x empty", 0, 3, None, "float32", floats(0, 2))
    put("x constant", 0, 3, None, "int32", known([7, 9]))
    put("dataType is not used", 0, 3, None, "int32", None, dataType=DATATYPE["float32"])
    three("three: 0 to 5", 0, 5, 1)
    three("three: step 2", 1, 10, 2)
    three("three: downwards", 10, 1, -4)
    three("three: nothing", 5, 0, 1)
    three("three: vectors of one", 1, 7, 3, "int32", ((1,), (1,), (1,)))
    three("three: [1], [], [1,1]", 1, 7, 3, "int64", ((1,), (), (1, 1)))
    three("three: int64", I64_MIN, I64_MAX, 2**62, "int64")
    three("three: uint64", 2**64 - 9, 2**64 - 1, 3, "uint64")
    three("three: uint64 through all", 0, 2**64 - 1, 2**62 + 5, "uint64")
    three("three: uint64 step beyond int64", 5, 2**64 - 1, 2**63 + 1, "uint64")
    three("three: uint8", 250, 255, 2, "uint8")
    three("three: int8", -128, 127, 100, "int8")
    three("three: int8 downwards", 127, -128, -100, "int8")
    for dtype in INTEGERS:
        three("three: type " + name_of(dtype), 3, 20, 4, dtype)
    for dtype in ("float16", "float32", "float64"):
        three("three: type " + dtype, 1, 5, 0.5, dtype)
        three("three: %s, tenths" % dtype, 0, 1, 0.1, dtype)
        three("three: %s, tenths beyond the end" % dtype, 0, 1.0001, 0.1, dtype)
        three("three: %s downwards" % dtype, 1, -2, -0.75, dtype)
        three("three: %s, nothing" % dtype, 1, 1, 0.5, dtype)
        three("three: %s, from -0" % dtype, -0.0, 2, 1, dtype)
    three("three: float32, steps that do not add up", 0, 3, 0.3, "float32")
    three("three: float32, infinite step", 0, 3, np.inf, "float32")
    three("three: float32, to minus infinity upwards", 0, -np.inf, 1, "float32")
    x = np.zeros((2,), "int32")

    def refused(name, code, values, dtype="int32"):
        w.bad("three: " + name, code, [known(v, dtype) for v in values])

    w.bad("delta 0", "INVALID_PARAMETER", [x], start=0, limit=3, delta=0)
    w.bad("delta 0, nothing to count", "INVALID_PARAMETER", [x], start=3, limit=3, delta=0)
    w.bad("delta 0 of floats", "INVALID_PARAMETER", [floats(1)], start=0, limit=3, delta=0)
    refused("delta 0", "INVALID_PARAMETER", (0, 3, 0))
    for dtype in ("float16", "float32", "float64"):
        refused("delta 0 " + dtype, "INVALID_PARAMETER", (0, 3, 0), dtype)
        refused("delta -0 " + dtype, "INVALID_PARAMETER", (0, 3, -0.0), dtype)
        for i in range(3):
            refused("NaN as %d %s" % (i, dtype), "INVALID_PARAMETER", [np.nan if k == i else k + 1 for k in range(3)], dtype)
        refused("infinite limit " + dtype, "OUT_OF_MEMORY", (0, np.inf, 1), dtype)
        refused("start minus infinity " + dtype, "OUT_OF_MEMORY", (-np.inf, 0, 1), dtype)
        refused("infinity to infinity " + dtype, "INVALID_PARAMETER", (np.inf, np.inf, 1), dtype)
    w.bad("too many", "OUT_OF_MEMORY", [x], start=0, limit=2**31)
    w.bad("too many, all of int64", "OUT_OF_MEMORY", [x], start=I64_MIN, limit=I64_MAX)
    w.bad("too many floats", "OUT_OF_MEMORY", [floats(1)], start=0, limit=2**31)
    refused("too many", "OUT_OF_MEMORY", (0, 2**40, 1), "int64")
    w.bad("start not known", "UNSUPPORTED_OP", [np.array(0, "int32"), known(3), known(1)])
    w.bad("limit not known", "UNSUPPORTED_OP", [known(0), np.array(3, "int32"), known(1)])
    w.bad("delta not known", "UNSUPPORTED_OP", [known(0), known(3), np.array(1, "int32")])
    w.bad("bool", "INVALID_DATATYPE", [np.array([True])], limit=3)
    w.bad("quantised", "UNSUPPORTED_OP", [Tensor(np.array([1], "int8"), quant=[(8, 0, 0.5)])], limit=3)
    w.bad("limit of another type", "INVALID_DATATYPE", [known(0), known(3, "int64"), known(1)])
    w.bad("delta of another type", "INVALID_DATATYPE", [known(0), known(3), known(1, "float32")])
    for i, what in enumerate(("start", "limit", "delta")):
        w.bad("%s of two elements" % what, "INVALID_SHAPE", [known([1, 2] if k == i else k + 1) for k in range(3)])
    w.bad("dataType that is none", "INVALID_DATATYPE", [x], limit=3, dataType=36)
    w.bad("result of another type", "INVALID_DATATYPE", [x], [np.arange(3, dtype="int64")], limit=3)
    w.bad("rank 9", "INVALID_SHAPE", [np.zeros((1,) * 9, "int32")], limit=3)
    w.bad("no inputs", "INVALID_INPUT", [], limit=3)
    w.bad("two inputs", "INVALID_INPUT", [known(0), known(3)])
    w.bad("four inputs", "INVALID_INPUT", [known(0), known(3), known(1), known(1)])
    w.bad("start absent", "NULL_PTR", [None, known(3), known(1)])
    w.bad("limit absent", "NULL_PTR", [known(0), None, known(1)])
    w.bad("delta absent", "NULL_PTR", [known(0), known(3), None])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [np.arange(3, dtype="int32")] * 2, limit=3)


if __name__ == "__main__":
    write(make, "Expected values: Python's range; of floats numpy in float64, rounded once.", "RANGE")
