"""MATMUL_INTEGER."""
import numpy as np

from common import const, Tensor, write
from quantised import dice_of

OP = "MATMUL_INTEGER"


def make(w):
    def expected(a, b, za, zb):
        a, b = a.astype("int64"), b.astype("int64")
        if za is not None:
            a = a - (np.reshape(za, (-1, 1)) if np.size(za) > 1 else int(np.reshape(za, ())))
        if zb is not None:
            b = b - (np.reshape(zb, -1) if np.size(zb) > 1 else int(np.reshape(zb, ())))
        return ((np.matmul(a, b) + 2 ** 31) % 2 ** 32 - 2 ** 31).astype("int32")

    def go(name, a, b, za=None, zb=None, constant=False):
        inputs = [a, const(b) if constant else b]
        zeros = [None if za is None else np.array(za, a.dtype), None if zb is None else np.array(zb, b.dtype)]
        while zeros and zeros[-1] is None:
            zeros.pop()
        w.case(name, OP, {}, inputs + [const(z) if constant and z is not None else z for z in zeros],
               [expected(a, b, za, zb)])

    def bad(name, code, inputs, outputs=()):
        w.case(name, OP, {}, inputs, outputs, error=code)

    for ta in ("int8", "uint8"):
        for tb in ("int8", "uint8"):
            a, b = dice_of((3, 5), ta), dice_of((5, 4), tb)
            za, zb = {"int8": -128, "uint8": 255}[ta], {"int8": 127, "uint8": 3}[tb]
            names = "%s times %s, " % (ta, tb)
            go(names + "no zero points", a, b)
            go(names + "one each", a, b, za, zb)
            go(names + "one each, constant", a, b, [za], [zb], constant=True)
            go(names + "of a only", a, b, [za])
            go(names + "of b only", a, b, None, zb)
            go(names + "per row", a, b, [za, 1, 2])
            go(names + "per column", a, b, None, [0, 1, zb, 5])
            go(names + "per row and per column", a, b, [0, za, 7], [9, zb, 4, 3], constant=True)
    a, b = dice_of((2, 3, 4, 6), "uint8"), dice_of((6, 21), "int8")
    go("stack by a matrix", a, b, 12, list(range(21)))
    go("stack by a stack", a, dice_of((2, 3, 6, 2), "int8"), [9, 8, 7, 6], 5)
    go("stacks broadcast", dice_of((2, 1, 2, 3), "int8"), dice_of((4, 3, 2), "uint8"), -3, [1, 200])
    go("matrix by a stack, 7 axes", dice_of((2, 2), "int8"), dice_of((2, 1, 2, 1, 1, 2, 3), "int8"), [1, 2], [3, 4, 5])
    go("vector by a matrix", dice_of((5,), "uint8"), dice_of((5, 3), "uint8"), 3, [1, 2, 3])
    go("matrix by a vector", dice_of((3, 5), "uint8"), dice_of((5,), "int8"), [4, 5, 6], [7])
    go("vector by a vector", dice_of((5,), "int8"), dice_of((5,), "int8"), 1, 2)
    go("no sum", np.zeros((2, 0), "int8"), np.zeros((0, 3), "int8"), 1, 2)
    go("no rows", np.zeros((0, 2), "int8"), np.zeros((2, 3), "uint8"), 1, 2)
    go("one by one", np.array([[200]], "uint8"), np.array([[100]], "uint8"), [3], [5])
    K = 33100  # 255 * 255 * K passes 2^31
    go("sums beyond int32 wrap", np.full((1, K), 0, "uint8"), np.full((K, 1), 0, "uint8"), [255], [255])

    a, b = dice_of((3, 5), "uint8"), dice_of((5, 4), "int8")
    u, i = np.array([1], "uint8"), np.array([1], "int8")
    y = np.zeros((3, 4), "int32")
    bad("columns meet other rows", "INVALID_SHAPE", [a, b[:4]])
    bad("scalar", "INVALID_SHAPE", [np.array(1, "int8"), b])
    bad("stacks do not broadcast", "INVALID_SHAPE", [dice_of((2, 2, 2), "int8"), dice_of((3, 2, 2), "int8")])
    bad("zero points of 2 rows", "INVALID_SHAPE", [a, b, np.array([1, 2], "uint8"), i])
    bad("zero points of 3 columns", "INVALID_SHAPE", [a, b, u, np.array([1, 2, 3], "int8")])
    bad("zero points of a stack", "INVALID_SHAPE", [a, b, np.ones((3, 1), "uint8"), i])
    bad("a vector with zero points", "INVALID_SHAPE", [a[0], b, np.array([1, 2], "uint8")])
    bad("by a vector with zero points", "INVALID_SHAPE", [a, b[:, 0], u, np.array([1, 2], "int8")])
    bad("zero point of a of b's type", "INVALID_DATATYPE", [a, b, i])
    bad("zero point of b of a's type", "INVALID_DATATYPE", [a, b, u, u])
    bad("int16", "INVALID_DATATYPE", [a.astype("int16"), b])
    bad("by int32", "INVALID_DATATYPE", [a, b.astype("int32")])
    bad("by float32", "INVALID_DATATYPE", [a, b.astype("float32")])
    bad("quantised", "UNSUPPORTED_OP", [Tensor(a, quant=[(8, 1, 0.5)]), b])
    bad("by quantised", "INVALID_DATATYPE", [a, Tensor(b, quant=[(8, 1, 0.5)])])
    bad("result int64", "INVALID_DATATYPE", [a, b], [y.astype("int64")])
    bad("result quantised", "INVALID_DATATYPE", [a, b], [Tensor(y, quant=[(32, 0, 0.5)])])
    bad("one input", "INVALID_INPUT", [a])
    bad("five inputs", "INVALID_INPUT", [a, b, u, i, i])
    bad("absent b", "NULL_PTR", [a, None])


if __name__ == "__main__":
    write(make, "Expected values: numpy.matmul in int64, modulo 2^32.")
