"""CONV_INTEGER."""
import numpy as np

from common import const, conv_attrs, PAD, SAME, Tensor, to_nchw, VALID, write
from conv2d_fusion import conv_expect, CONVOLUTIONS
from quantised import dice_of

OP = "CONV_INTEGER"


def make(w):
    def go(name, x, weight, zx=None, zw=None, bias=None, stride=(1, 1), dilation=(1, 1), mode=PAD, pads=(0,) * 4,
           group=1, constant=True):
        wide = weight.astype("float64") - (0 if zw is None else np.reshape(zw, (-1, 1, 1, 1)))
        y = conv_expect(x.astype("float64") - (0 if zx is None else float(np.reshape(zx, ()))), wide,
                        None if bias is None else np.array(bias, "float64"), stride, dilation, mode, pads, group)
        assert np.all(y == np.round(y)) and np.abs(y).max(initial=0) < 2 ** 40
        y = ((y.astype("int64") + 2 ** 31) % 2 ** 32 - 2 ** 31).astype("int32")
        more = [None if bias is None else np.array(bias, "int32"), None if zx is None else np.array(zx, x.dtype),
                None if zw is None else np.array(zw, weight.dtype)]
        while more and more[-1] is None:
            more.pop()
        if constant:
            weight, more = const(weight), [m if m is None else const(m) for m in more]
        attrs = {"stride": stride, "dilation": dilation, "padMode": mode, "group": group}
        attrs.update({"padList": pads} if mode == PAD else {})
        for form in (None, "NCHW"):
            turn = to_nchw if form else np.array
            w.case(name + (" NCHW" if form else ""), OP, attrs, [turn(x), weight] + more, [turn(y)], fmt=form)

    types = [(a, b) for a in ("uint8", "int8") for b in ("uint8", "int8")]
    for n, (title, shape, kernel, outputs, stride, dilation, mode, pads, group) in enumerate(CONVOLUTIONS):
        tx, tw = types[n % 4]
        x, weight = dice_of(shape, tx), dice_of((outputs, *kernel, shape[3] // group), tw)
        zx, zw = {"uint8": 255, "int8": -128}[tx], {"uint8": 7, "int8": 127}[tw]
        go(title, x, weight, [zx, None, [zx]][n % 3], [None, zw, list(range(zw - outputs, zw))][n // 2 % 3],
           None if n % 2 else list(range(-3, outputs - 3)), stride, dilation, mode, pads, group, constant=n % 5 < 3)
    for tx, tw in types:
        x, weight = dice_of((1, 4, 5, 3), tx), dice_of((4, 2, 3, 3), tw)
        names = "%s by %s, " % (tx, tw)
        go(names + "no zero points", x, weight, pads=(1, 1, 1, 1))
        go(names + "one each", x, weight, 5, 9, pads=(1, 1, 1, 1))
        go(names + "one a channel", x, weight, [100], [1, 2, 3, 4], [5, -6, 7, -8], pads=(0, 1, 1, 0), constant=False)
    go("wide rows, many channels", dice_of((1, 2, 37, 19), "uint8"), dice_of((3, 2, 2, 19), "int8"), 128, [1, -2, 3])
    x, weight = dice_of((1, 2, 3, 4), "uint8"), dice_of((2, 1, 1, 4), "uint8")
    go("sums beyond int32 wrap", x, weight, bias=[2 ** 31 - 1, 2 ** 31 - 2])
    go("sums below int32 wrap", x, weight, 255, bias=[-2 ** 31, 1 - 2 ** 31])

    x, weight, bias = dice_of((1, 4, 4, 2), "uint8"), dice_of((2, 3, 3, 2), "int8"), np.array([1, 2], "int32")
    u, i, y = np.array([1], "uint8"), np.array([1], "int8"), np.zeros((1, 2, 2, 2), "int32")
    good = conv_attrs(weight, (1, 1), (1, 1), VALID, (0,) * 4, 1, 2, 2, 0)

    def bad(name, code, inputs=None, outputs=(), **change):
        w.case(name, OP, {**good, **change}, inputs or [x, weight, bias, u, i], outputs, error=code)

    for kind in (1, 3, 6, 7, 15):
        bad("activation %d" % kind, "INVALID_PARAMETER", activationType=kind)
    bad("stride 0", "INVALID_PARAMETER", stride=[0, 1])
    bad("pads with SAME", "INVALID_PARAMETER", padMode=SAME, padList=[1, 0, 0, 0])
    bad("kernelSize is not the weight's", "INVALID_SHAPE", kernelSize=[2, 3])
    bad("x of rank 3", "INVALID_SHAPE", [x[0], weight])
    bad("weight of rank 3", "INVALID_SHAPE", [x, weight[0]])
    bad("weight channels differ from x", "INVALID_SHAPE", [x, weight[..., :1]])
    bad("bias of another length", "INVALID_SHAPE", [x, weight, bias[:1]])
    bad("zero points of x", "INVALID_SHAPE", [x, weight, bias, np.array([1, 2], "uint8")])
    bad("3 zero points of the weight", "INVALID_SHAPE", [x, weight, bias, u, np.array([1, 2, 3], "int8")])
    bad("zero points of two axes", "INVALID_SHAPE", [x, weight, bias, u, np.array([[1, 2]], "int8")])
    bad("zero point of x of the weight's type", "INVALID_DATATYPE", [x, weight, bias, i])
    bad("zero point of the weight of x's type", "INVALID_DATATYPE", [x, weight, bias, u, u])
    bad("bias float32", "INVALID_DATATYPE", [x, weight, bias.astype("float32")])
    bad("int32", "INVALID_DATATYPE", [x.astype("int32"), weight])
    bad("weight float32", "INVALID_DATATYPE", [x, weight.astype("float32")])
    bad("quantised", "UNSUPPORTED_OP", [Tensor(x, quant=[(8, 1, 0.5)]), weight])
    bad("weight quantised", "INVALID_DATATYPE", [x, Tensor(weight, quant=[(8, 1, 0.5)])])
    bad("result int64", "INVALID_DATATYPE", [x, weight], [y.astype("int64")])
    bad("result uint8", "INVALID_DATATYPE", [x, weight], [y.astype("uint8")])
    bad("result quantised", "INVALID_DATATYPE", [x, weight], [Tensor(y, quant=[(32, 0, 0.5)])])
    bad("one input", "INVALID_INPUT", [x])
    bad("six inputs", "INVALID_INPUT", [x, weight, bias, u, i, i])
    bad("absent weight", "NULL_PTR", [x, None])


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.conv2d of integers in float64, modulo 2^32.")
