"""WINDOW."""
import numpy as np
import torch

from common import DATATYPE, f16, f32, f64, known, Tensor, write

KINDS = ("hann", "hamming", "blackman")


def window(kind, size, periodic):
    N = size if periodic else size - 1
    if N < 1:
        return np.ones(size)
    a = 2 * np.pi * np.arange(size) / N
    y = {"hann": 0.5 - 0.5 * np.cos(a), "hamming": 25 / 46 - 21 / 46 * np.cos(a),
         "blackman": 0.42 - 0.5 * np.cos(a) + 0.08 * np.cos(2 * a)}[kind]
    if kind == "hamming":
        z = torch.hamming_window(size, bool(periodic), 25 / 46, 21 / 46, dtype=torch.float64)
    else:
        z = getattr(torch, kind + "_window")(size, bool(periodic), dtype=torch.float64)
    assert size == 1 or np.allclose(y, z.numpy(), 0, 1e-14), kind  # of one value torch always says 1
    return y


def make(w):
    def go(name, kind, size, periodic=1, kind_of="int64", dtype=f32, said=True, shape=()):
        attrs = {"kind": KINDS.index(kind), "periodic": periodic}
        attrs.update({"outputDatatype": DATATYPE[np.dtype(dtype).name]} if said else {})
        w.case(name, "WINDOW", attrs, [known([size], kind_of, shape)], [window(kind, size, periodic).astype(dtype)],
               tol={f32: (1e-7, 1e-6), f16: (1e-4, 1e-3), f64: (1e-15, 1e-14)}[dtype])

    for kind in KINDS:
        for periodic in (0, 1):
            for size in (0, 1, 2, 3, 10, 11, 400):
                go("%s of %d, periodic %d" % (kind, size, periodic), kind, size, periodic)
            for dtype in (f16, f64):
                go("%s of 9, periodic %d, %s" % (kind, periodic, np.dtype(dtype)), kind, 9, periodic, dtype=dtype)
            go("%s of int32, periodic %d" % (kind, periodic), kind, 5, periodic, "int32", shape=(1,))
        for dtype in (f16, f32, f64):
            go("%s, declared %s" % (kind, np.dtype(dtype)), kind, 4, dtype=dtype, said=False)
    w.case("no attributes", "WINDOW", {}, [known([4], "int64", ())], [window("hann", 4, 1).astype(f32)])
    y = np.zeros(4, f32)

    def bad(name, code, ins, outs=(y,), **attrs):
        w.case("refused: " + name, "WINDOW", attrs, ins, list(outs), error=code)

    four = known([4], "int64", ())
    bad("a size of -1", "INVALID_PARAMETER", [known([-1], "int64", ())])
    bad("a size of 2^31", "OUT_OF_MEMORY", [known([2**31], "int64", ())])
    bad("two sizes", "INVALID_SHAPE", [known([4, 4], "int64", (2,))])
    bad("a size told in the run", "UNSUPPORTED_OP", [np.array(4)])
    bad("a size of float32", "INVALID_DATATYPE", [Tensor(np.array(4, f32), True)])
    bad("a size of int8", "INVALID_DATATYPE", [Tensor(np.array(4, np.int8), True)])
    for kind in (-1, 3):
        bad("kind %d" % kind, "INVALID_PARAMETER", [four], kind=kind)
    bad("int32", "INVALID_DATATYPE", [four], [y.astype(np.int32)], outputDatatype=DATATYPE["int32"])
    bad("another type than declared", "INVALID_DATATYPE", [four], outputDatatype=DATATYPE["float16"])
    bad("absent", "NULL_PTR", [None])
    bad("two inputs", "INVALID_INPUT", [four, four])
    bad("two results", "INVALID_OUTPUT", [four], [y, y])
    bad("quantised", "UNSUPPORTED_OP", [Tensor(np.array(4, np.int32), True, [(8, 0, 0.5)])])


if __name__ == "__main__":
    write(make, "Expected values: ONNX's formulas in float64, with which torch must agree.")
