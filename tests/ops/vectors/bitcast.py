"""BITCAST."""
import numpy as np

from common import DATATYPE, data, floats, odd_floats, Tensor, TYPES, write


def make(w):
    for k, dtype in enumerate(TYPES):
        for shape in ((), (1,), (2, 3, 5), (2, 0, 3), (1, 2, 1, 2, 1, 2, 1, 2)):
            x = data(dtype, shape, k % 3 + 1)
            w.ok("%s %s" % (dtype, list(shape)), [x], x)
    sizes = {dtype: np.dtype(dtype).itemsize for dtype in TYPES}
    for one in TYPES:
        for other in TYPES:
            if one == other:
                continue
            x = odd_floats(one) if one.startswith("float") else data(one, (2, 3), 2)
            if sizes[one] == sizes[other] and other != "bool":
                w.case("%s as %s" % (one, other), "BITCAST", {"type": DATATYPE[other]}, [x], [x.view(other)])
            elif sizes[one] != sizes[other]:
                w.case("refused: %s as %s" % (one, other), "BITCAST", {"type": DATATYPE[other]}, [x],
                       [np.zeros(x.shape, other)], error="INVALID_DATATYPE")
    w.case("the declared type", "BITCAST", {}, [data("int8", (2, 3))], [data("int8", (2, 3)).view("uint8")])
    w.ok("constant", [Tensor(floats(2, 3), True)], floats(2, 3))
    w.ok("NCHW", [floats(1, 2, 3, 2)], floats(1, 2, 3, 2), "NCHW")
    w.ok("NHWC", [floats(1, 2, 3, 2)], floats(1, 2, 3, 2), "NHWC")
    q, other, each = [(8, 4, 0.25)], [(8, 3, 0.5)], [(8, 0, 0.25), (8, 1, 0.5), (8, -2, 2.0)]
    for dtype in ("int8", "uint8"):
        x = data(dtype, (2, 3))
        w.ok("quantized to plain " + dtype, [Tensor(x, quant=q)], x)
        w.ok("plain to quantized " + dtype, [x], Tensor(x, quant=q))
        w.ok("other parameters, nothing is requantized " + dtype, [Tensor(x, quant=q)], Tensor(x, quant=other))
        w.ok("one parameter to several " + dtype, [Tensor(x, quant=q)], Tensor(x, quant=each))
        w.ok("several parameters to plain " + dtype, [Tensor(x, quant=each)], x)
    w.case("quantized int8 to uint8", "BITCAST", {}, [Tensor(data("int8", (2, 3)), quant=q)],
           [Tensor(data("int8", (2, 3)).view("uint8"), quant=q)])
    x = data("int8", (2, 3))
    w.bad("uint8 to bool", "INVALID_DATATYPE", [data("uint8", (2, 3))], [np.zeros((2, 3), bool)])
    w.case("refused: type is not the declared one", "BITCAST", {"type": DATATYPE["uint8"]}, [x], [x],
           error="INVALID_DATATYPE")
    w.bad("two inputs", "INVALID_INPUT", [x, x])
    w.bad("no input", "INVALID_INPUT", [])
    w.bad("absent input", "NULL_PTR", [None])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [x, x])
    w.bad("rank 9", "INVALID_SHAPE", [floats(*[1] * 9)])


if __name__ == "__main__":
    write(make, "Expected values: the bytes of the input, read by numpy as the other type.", "BITCAST")
