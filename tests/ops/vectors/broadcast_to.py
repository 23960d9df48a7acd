"""BROADCAST_TO."""
import numpy as np

import requantised
from common import I64_MAX, Tensor, data, floats, known, odd_floats, TYPES, write


def make(w):

    def put(name, x, shape, form=None, dtype="int32"):
        """By the attribute, and by input 1; numpy has no -1 and rejects 1 for a larger dimension of x."""
        lead = len(shape) - x.ndim
        full = [x.shape[k - lead] if d == -1 or (d == 1 and k >= lead) else d for k, d in enumerate(shape)]
        y = np.broadcast_to(x, full)
        w.ok(name, [x], y, form, shape=shape)
        w.ok(name + ", input 1", [x, known(shape, dtype, (len(shape),))], y, form)

    x, c = floats(2, 3), floats(2, 1, 3)
    put("the shape itself", x, [2, 3])
    put("a leading axis", x, [4, 2, 3])
    put("a leading axis of 1", x, [1, 2, 3])
    put("a leading axis of 0", x, [0, 2, 3])
    put("an extent of 1 repeated", c, [2, 4, 3])
    put("first axis", floats(1, 3), [5, 3])
    put("last axis", floats(2, 1), [2, 7])
    put("both", floats(1, 1), [2, 3], None, "int64")
    put("-1 keeps", c, [-1, 4, -1])
    put("-1 keeps an extent of 1", c, [2, -1, 3], None, "int64")
    put("1 keeps", c, [1, 4, 1])
    put("1 and -1 and a leading axis", c, [2, 1, 5, -1])
    put("all -1", x, [-1, -1])
    put("scalar to scalar", floats(), [])
    put("scalar to rank 1", floats(), [3])
    put("scalar to rank 3", floats(), [2, 1, 3])
    put("scalar to rank 8", floats(), [1, 2, 1, 2, 1, 1, 3, 1])
    put("rank 8", floats(1, 2, 1, 2, 1, 1, 3, 1), [2, 2, -1, 2, 2, 1, 3, 2])
    put("rank 2 to rank 8", floats(2, 1), [1, 2, 1, 1, 2, 1, 2, 3])
    put("0 for 1", floats(1, 3), [0, 3])
    put("empty x", floats(0, 1), [0, 4])
    put("empty x, 1 and -1", floats(0, 3, 0), [1, 3, -1])
    put("NCHW", floats(1, 3, 1, 1), [2, 3, 2, 2], "NCHW")
    put("NHWC", floats(1, 1, 1, 3), [2, 2, 1, 3], "NHWC")
    for odd in ("float16", "float32", "float64"):
        put("NaN, infinities, -0 " + odd, odd_floats(odd), [2, 8])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (2, 1, 2), 2), [(2, 3, 2), (-1, 2, -1), (3, 2, 2, 2)][k % 3])
    w.ok("input 1 comes before the attribute", [x, known([2, 2, 3])], np.broadcast_to(x, (2, 2, 3)), shape=[5, 5])
    w.ok("input 1 absent", [floats(1, 3), None], np.broadcast_to(floats(1, 3), (2, 3)), shape=[2, 3])
    scale = [(8, 3, 0.5)]
    q = Tensor(data("int8", (2, 1)), quant=scale)
    w.ok("quantised", [q], Tensor(np.broadcast_to(q.array, (2, 3)), quant=scale), shape=[2, 3])
    for how, ins, attrs in (("attribute", lambda s: [], lambda s: {"shape": s}),
                            ("input 1", lambda s: [known(s, "int64")], lambda s: {})):
        for name, code, s in (("another extent", "INVALID_SHAPE", [2, 4]), ("0 for 3", "INVALID_SHAPE", [2, 0]),
                              ("fewer axes", "INVALID_SHAPE", [3]), ("-1 for a new axis", "INVALID_SHAPE", [-1, 2, 3]),
                              ("entry -2", "INVALID_PARAMETER", [2, -2]), ("rank 9", "INVALID_SHAPE", [1] * 7 + [2, 3]),
                              ("more elements than int64 counts", "OUT_OF_MEMORY", [2**31 - 1] * 3 + [2, 3])):
            w.bad("%s, %s" % (name, how), code, [x] + ins(s), **attrs(s))
    w.bad("nothing said", "INVALID_SHAPE", [x])
    w.bad("entry beyond int32, attribute", "INVALID_PARAMETER", [floats(1)], shape=[2**31])
    w.bad("entry beyond int32, input 1", "OUT_OF_MEMORY", [floats(1), known([2**31], "int64")])
    w.bad("largest int64", "OUT_OF_MEMORY", [floats(1), known([I64_MAX], "int64")])
    w.bad("shape of float32", "INVALID_DATATYPE", [x, known([2, 3], "float32")])
    w.bad("shape of rank 2", "INVALID_SHAPE", [x, known([[2, 3]])])
    w.bad("no inputs", "INVALID_INPUT", [], shape=[2, 3])
    w.bad("three inputs", "INVALID_INPUT", [x, known([2, 3]), known([2, 3])])
    w.bad("input absent", "NULL_PTR", [None], shape=[2, 3])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [x, x], shape=[2, 3])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "BROADCAST_TO", also=requantised.cases("BROADCAST_TO"))
