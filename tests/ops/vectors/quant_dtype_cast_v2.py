"""QUANT_DTYPE_CAST_V2."""
import numpy as np

from common import DATATYPE, f16, f32, name_of, some, Tensor, write
from quant_dtype_cast import quantise, real_values, requantise


def make(w):
    op = "QUANT_DTYPE_CAST_V2"

    def go(name, x, target, axis=0, qx=None, qy=None, error=None):
        attrs = {"srcT": DATATYPE[name_of(x.dtype)], "dstT": DATATYPE[name_of(target)], "axis": axis}
        if error:
            y = np.zeros(x.shape, target)
        elif qy:
            y = requantise(x, qx, qy, target, axis) if qx else quantise(x, qy, target, axis)
        else:
            y = real_values(x, qx, target, axis)
        w.case(name, op, attrs, [Tensor(x, quant=qx)], [Tensor(y, quant=qy)], error=error)

    def params(n, bits=8, zero=0):
        return [(bits, zero + 3 * k - 4, (0.5, 0.25, 2.0, 0.1, 1.0)[k % 5]) for k in range(n)]

    x = some((2, 3, 4), f32, -60, 60, 0.5)
    for axis in range(-3, 3):
        go("float32 to int8 along axis %d" % axis, x, np.int8, axis, qy=params(x.shape[axis]))
        go("int8 to float32 along axis %d" % axis, some((2, 3, 4), np.int8, -128, 127), f32, axis,
           qx=params(x.shape[axis]))
    for target, bits, zero in ((np.int8, 8, 0), (np.uint8, 8, 128), (np.int16, 16, 0), (np.int32, 32, 0)):
        for real in (f32, f16):
            go("%s to %s" % (name_of(real), name_of(target)), x.astype(real), target, 1, qy=params(3, bits, zero))
            i = np.iinfo(target)
            q = np.array([[i.min, 0, 1], [7, 100, i.max], [i.max, i.min, 100]], target)
            if real == f32 or bits < 32:
                go("%s to %s" % (name_of(target), name_of(real)), q // (16 if real == f16 else 1), real, 1,
                   qx=params(3, bits, zero))
        go("%s to %s, one parameter" % (name_of(f32), name_of(target)), x, target, 2, qy=[(bits, zero, 0.25)])
    q = some((3, 4), np.int8, -128, 127)
    go("int8 to int8", q, np.int8, 1, qx=params(4), qy=[(8, 1, 0.75), (8, 0, 0.5), (8, -7, 1.5), (8, 3, 0.25)])
    go("int8 to int8, several parameters to one", q, np.int8, -1, qx=params(4), qy=[(8, 5, 0.75)])
    go("int8 to int8, one parameter to several", q, np.int8, -2, qx=[(8, 5, 0.75)], qy=params(3))
    go("int8 to int32", q, np.int32, 1, qx=params(4), qy=params(4, 32, 7))
    go("uint8 to int8", some((3, 4), np.uint8, 0, 255), np.int8, 0, qx=params(3, 8, 128), qy=params(3))
    odd = np.array([[np.nan, np.inf, -np.inf], [-0.0, 0.0, 1e30], [-1e30, 1e-40, 3.5]], f32)
    go("NaN and infinities", odd, np.int8, 1, qy=params(3))
    go("scale 0 of one channel", some((2, 3)), np.int8, 1, qy=[(8, 1, 0.5), (8, 0, 0.0), (8, 3, 0.25)])
    go("rank 1", some((5,)), np.int8, 0, qy=params(5))
    go("rank 8", some((1, 2, 1, 2, 1, 3, 1, 2)), np.int8, 5, qy=params(3))
    go("scalar", np.array(2.5, f32), np.int8, qy=[(8, 0, 1.0)])
    go("scalar of float16 from uint8", np.array(200, np.uint8), f16, qx=[(8, 128, 0.5)])
    go("nothing", np.zeros((0, 3), f32), np.int8, 1, qy=params(3))
    go("an axis that is not used may lie outside", some((2,)), np.int8, 7, qy=[(8, 0, 1.0)])
    worked = np.array([[-3, 0.25, 100], [0.75, -1.25, 2.5]], f32)
    wanted = np.array([[-6, 6, -28], [2, 0, -125]], np.int8)
    three = [(8, 0, 0.5), (8, 5, 0.25), (8, -128, 1.0)]
    assert (quantise(worked, three, np.int8, 1) == wanted).all()  # the worked case of the specification
    go("worked case", worked, np.int8, 1, qy=three)
    x = some((2, 3))
    go("refused: axis 2 of two", x, np.int8, 2, qy=params(3), error="INVALID_PARAMETER")
    go("refused: axis -3 of two", x, np.int8, -3, qy=params(3), error="INVALID_PARAMETER")
    go("refused: as many parameters as another axis", x, np.int8, 0, qy=params(3), error="INVALID_PARAMETER")
    go("refused: several parameters of a scalar", np.array(1, f32), np.int8, 0, qy=params(2),
       error="INVALID_PARAMETER")
    go("refused: two numbers of parameters", np.zeros((2, 3), np.int8), np.int8, 0, qx=params(2), qy=params(3),
       error="INVALID_PARAMETER")
    go("refused: output without QuantParam", x, np.int8, 1, error="INVALID_PARAMETER")
    go("refused: input without QuantParam", np.zeros((2, 3), np.int8), f32, 1, error="INVALID_PARAMETER")
    go("refused: negative scale", x, np.int8, 1, qy=[(8, 0, 1.0), (8, 0, -0.5), (8, 0, 1.0)],
       error="INVALID_PARAMETER")
    go("refused: 9 bits of int8", x, np.int8, 1, qy=[(8, 0, 1.0), (8, 0, 1.0), (9, 0, 1.0)], error="INVALID_PARAMETER")
    go("refused: bool", np.zeros(2, bool), np.int8, qy=params(2), error="INVALID_DATATYPE")
    go("refused: int64", np.zeros(2, np.int64), f32, qx=params(2), error="INVALID_DATATYPE")
    y = Tensor(np.zeros((2, 3), np.int8), quant=params(3))
    for name, attrs in (("srcT is not the type of the input", {"srcT": 42, "dstT": 32, "axis": 1}),
                        ("dstT is not the type of the output", {"srcT": 43, "dstT": 37, "axis": 1}),
                        ("dstT is no type", {"srcT": 43, "dstT": 31, "axis": 1}),
                        ("float to float", {"srcT": 43, "dstT": 42, "axis": 1})):
        w.case("refused: " + name, op, attrs, [x], [y], error="INVALID_DATATYPE")
    attrs = {"srcT": 43, "dstT": 32, "axis": 1}
    w.case("refused: two inputs", op, attrs, [x, x], [y], error="INVALID_INPUT")
    w.case("refused: absent input", op, attrs, [None], [y], error="NULL_PTR")


if __name__ == "__main__":
    write(make, "Expected values: the short formulas of quant_dtype_cast.py, and the worked case of the specification.")
