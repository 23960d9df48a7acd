"""PAD_FUSION."""
import numpy as np

import requantised
from common import data, floats, known, odd_floats, same, Tensor, TYPES, write

MODES = {"constant": 0, "reflect": 1, "symmetric": 2, "reserved": 3}


def pad_by_index(x, pads, mode, value):
    """PAD_FUSION by source indices, axis by axis."""
    for axis, (before, after) in enumerate(pads):
        n = x.shape[axis]
        parts = []
        for o in range(before + n + after):
            j = o - before
            inside = 0 <= j < n
            if mode == "reflect":
                j = -j if j < 0 else 2 * n - 2 - j if j >= n else j
            elif mode == "symmetric":
                j = -j - 1 if j < 0 else 2 * n - 1 - j if j >= n else j
            if mode == "constant" and not inside:
                parts.append(np.full(x.shape[:axis] + x.shape[axis + 1:], value, x.dtype))
            else:
                parts.append(np.take(x, j, axis))
        if parts:
            x = np.stack(parts, axis)
    return x


def make(w):

    def put(name, x, pads, mode="constant", how="attribute", dtype="int32", value=None, constant=None):
        """how: attribute, rows (input of [R,2]) or flat (input of [2R]); value: input 2; constant: attribute."""
        fill = value if value is not None else constant if constant is not None else 0
        fill = np.asarray(np.float32(fill) if value is None else fill).astype(x.dtype)
        more = {"constant_values": fill} if mode == "constant" else {}
        y = np.pad(x, pads, mode=mode, **more) if x.ndim else x.copy()
        same(y, pad_by_index(x, pads, mode, fill), name)
        attrs = {"paddings": pads} if how == "attribute" else {}
        ins = [x]
        if how != "attribute":
            ins.append(known(pads, dtype, (x.ndim, 2) if how == "rows" else (2 * x.ndim,)))
        if value is not None:
            ins += [None] * (2 - len(ins)) + [Tensor(np.asarray(value, x.dtype), True)]
        attrs["paddingMode"] = MODES[mode]
        if constant is not None:
            attrs["constantValue"] = float(constant)
        w.ok(name, ins, y, **attrs)

    x, m = floats(2, 3), np.arange(1, 10, dtype="float32").reshape(3, 3)
    for mode in ("constant", "reflect", "symmetric"):
        put(mode + " of the specification", m, [[2, 2], [2, 2]], mode)
        put(mode + " [R,2] input", x, [[1, 0], [0, 2]], mode, "rows")
        put(mode + " flat input", x, [[0, 1], [2, 1]], mode, "flat")
        put(mode + " int64 flat input", x, [[1, 1], [1, 0]], mode, "flat", "int64")
        put(mode + " rank 4", floats(1, 2, 3, 2), [[0, 0], [1, 1], [2, 0], [1, 0]], mode)
        put(mode + " rank 1", floats(5), [[3, 4]], mode, "rows", "int64")
        put(mode + " nothing to add", x, [[0, 0], [0, 0]], mode)
    put("reflect rank 4 NHWC", floats(1, 3, 3, 2), [[0, 0], [2, 1], [1, 2], [0, 1]], "reflect", "rows")
    put("reflect over an axis of extent 1", floats(1, 3), [[0, 0], [2, 2]], "reflect")
    put("reflect as far as it goes", floats(4), [[3, 3]], "reflect")
    put("symmetric as far as it goes", floats(4), [[4, 4]], "symmetric")
    put("symmetric over an axis of extent 1", floats(1, 2), [[1, 1], [2, 2]], "symmetric")
    put("symmetric of an empty axis", floats(0, 2), [[0, 0], [1, 1]], "symmetric")
    put("constant of an empty axis", floats(0, 2), [[2, 1], [0, 1]], constant=3)
    put("empty stays empty", floats(0, 2), [[0, 0], [1, 0]], how="rows")
    put("scalar x", floats(), [], how="rows")
    put("rank 8", floats(1, 2, 1, 1, 2, 1, 1, 2), [[0, 0], [0, 1], [1, 0], [0, 0], [0, 0], [0, 0], [0, 1], [1, 0]],
        how="flat")
    put("rank 8 reflect", floats(1, 2, 1, 1, 2, 1, 1, 2), [[0, 0], [0, 1], [0, 0], [0, 0], [1, 0], [0, 0], [0, 0], [1, 1]],
        "reflect")
    put("more than the extent", floats(1, 2), [[3, 0], [0, 5]], constant=-1.5)
    put("constant attribute", x, [[1, 1], [0, 1]], constant=0.1)
    put("constant attribute with an input of paddings", x, [[1, 1], [0, 1]], how="rows", constant=-7)
    put("value input", x, [[1, 0], [1, 1]], how="rows", value=2.5)
    put("value input wins over the attribute", x, [[1, 0], [1, 1]], how="flat", value=2.5, constant=9)
    put("value input with paddings of the attribute", x, [[1, 0], [1, 1]], value=-0.25)
    put("value input of NaN", x, [[0, 1], [0, 0]], how="rows", value=np.nan)
    put("infinite constant", x, [[0, 0], [1, 0]], constant=float("-inf"))
    put("NaN and infinities reflected", odd_floats("float32"), [[3, 2]], "reflect")
    w.ok("paddings input wins over the attribute", [x, known([[0, 1], [1, 0]])], np.pad(x, [[0, 1], [1, 0]]),
         paddings=[[2, 2], [2, 2]])
    for k, t in enumerate(TYPES):
        x = data(t, (2, 2), 3)
        put("constant of type " + t, x, [[1, 0], [0, 1]], constant=1 if t == "bool" else 7 + k)
        put("value input of type " + t, x, [[0, 1], [1, 0]], how="rows", value=data(t, (3,), 2)[1])
        put(("reflect", "symmetric")[k % 2] + " type " + t, x, [[1, 0], [1, 1]], ("reflect", "symmetric")[k % 2])
    put("half constant rounded", data("float16", (2,)), [[1, 1]], constant=0.1)
    put("negative constant for int8", data("int8", (3,)), [[1, 0]], constant=-100)
    put("fraction of the constant is cut for int32", data("int32", (2,)), [[1, 0]], constant=2.75)
    put("large constant for int64", data("int64", (2,)), [[1, 1]], constant=float(2**40))
    q, x = [(8, -5, 0.5)], data("int8", (2, 2), 5)
    for name, real, stored, attrs in [("zero point", 0, -5, {}), ("constant", 3, 1, {"constantValue": 3.0})]:
        y = np.pad(x, [[1, 0], [0, 1]], constant_values=stored)
        w.ok("quantised: " + name, [Tensor(x, quant=q)], Tensor(y, quant=q), paddings=[[1, 0], [0, 1]], **attrs)
    pad_errors(w)


def pad_errors(w):
    x, p, rows = floats(2, 3), known([[1, 1], [1, 1]]), [[1, 1], [1, 1]]
    w.bad("negative padding", "INVALID_PARAMETER", [x], paddings=[[1, -1], [0, 0]])
    w.bad("negative padding in the input", "INVALID_PARAMETER", [x, known([[1, 1], [-1, 1]])])
    w.bad("reflect further than extent - 1 before", "INVALID_PARAMETER", [x], paddings=[[2, 0], [0, 0]], paddingMode=1)
    w.bad("reflect further than extent - 1 after", "INVALID_PARAMETER", [x], paddings=[[0, 0], [0, 3]], paddingMode=1)
    w.bad("symmetric further than the extent", "INVALID_PARAMETER", [x], paddings=[[0, 3], [0, 0]], paddingMode=2)
    w.bad("reserved mode", "INVALID_PARAMETER", [x, p], paddingMode=MODES["reserved"])
    w.bad("unknown mode", "INVALID_PARAMETER", [x], paddings=rows, paddingMode=17)
    w.bad("paddings of float32", "INVALID_DATATYPE", [x, known(rows, "float32")])
    w.bad("value of another type", "INVALID_DATATYPE", [x, p, known(1, "int32")])
    w.bad("two values", "INVALID_SHAPE", [x, p, known([1, 2], "float32")])
    w.bad("paddings of three rows", "INVALID_SHAPE", [x, known([[1, 1]] * 3)])
    w.bad("three flat paddings", "INVALID_SHAPE", [x, known([1, 1, 1])])
    w.bad("paddings of rank 3", "INVALID_SHAPE", [x, known([[[1, 1], [1, 1]]])])
    w.bad("type before mode", "INVALID_DATATYPE", [x, known(rows, "float32")], paddingMode=MODES["reserved"])
    w.bad("no inputs", "INVALID_INPUT", [], paddings=rows)
    w.bad("four inputs", "INVALID_INPUT", [x, p, known(1, "float32"), p])
    w.bad("x absent", "NULL_PTR", [None, p])
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9), known([[0, 0]] * 9)])


if __name__ == "__main__":
    write(make, "Expected values: numpy.", "PAD_FUSION", also=requantised.cases("PAD_FUSION"))
