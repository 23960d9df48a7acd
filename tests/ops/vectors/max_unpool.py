"""MAX_UNPOOL."""
import numpy as np
import torch
import torch.nn.functional as F

from common import data, floats, I64_MAX, I64_MIN, known, odd_floats, random, same, Tensor, TYPES, write


def unpooled(x, indices, shape):
    y = np.zeros(int(np.prod(shape)), x.dtype)
    for v, i in zip(x.reshape(-1), indices.reshape(-1)):
        y[int(i)] = v
    return y.reshape(shape)


def extents(x, k, s, pads):
    n = len(k)
    return x.shape[:2] + tuple((x.shape[2 + i] - 1) * s[i] + k[i] - pads[i] - pads[n + i] for i in range(n))


def make(w):
    def go(name, x, k, s=None, pads=None, indices=None, index="int64", shape=None, **more):
        n = len(k)
        out = tuple(shape) if shape else extents(x, k, s or [1] * n, pads or [0] * (2 * n))
        if indices is None:
            indices = random.permutation(int(np.prod(out)))[:x.size].reshape(x.shape)
        y = unpooled(x, np.asarray(indices), out)
        attrs = {"kernelShape": k, "strides": s or [], "pads": pads or []}
        ins = [x, np.asarray(indices).astype(index)] + ([known(shape, more.pop("as_", "int64"), (len(shape),))] if shape else [])
        w.ok(name, ins, y, **attrs, **more)

    for t in TYPES:
        for index in ("int32", "int64"):
            go("x of type %s, indices of %s" % (t, index), data(t, (1, 2, 2, 3)), [2, 2], [2, 2], index=index)
    for shape, k, s in (((2, 2, 4), [3], [2]), ((2, 3, 2, 3), [2, 3], [2, 1]), ((1, 2, 2, 2, 3), [2, 1, 2], [2, 1, 3]),
                        ((1, 2, 2, 1, 2, 1, 2, 2), [2, 1, 1, 2, 1, 1], [1, 2, 1, 1, 2, 1])):
        go("rank %d" % len(shape), floats(*shape), k, s)
        go("rank %d, an output shape" % len(shape), floats(*shape), k, s, shape=list(shape[:2]) + [9] * len(k) if len(k) < 4
           else list(shape[:2]) + [3, 2, 2, 1, 3, 3])
    go("no strides", floats(1, 1, 2, 2), [2, 2])
    go("pads", floats(1, 1, 3, 3), [3, 3], [2, 2], [1, 1, 0, 1])
    go("one place twice", np.array([[[1, 2, 3]]], "float32"), [2], [2], indices=np.array([[[4, 1, 4]]]))
    go("into another channel", np.array([[[1], [2]]], "float32"), [2], [2], indices=np.array([[[3], [0]]]))
    go("NaN, infinities and -0", odd_floats("float32").reshape(1, 1, -1), [2], [2])
    go("output shape of int32", floats(1, 1, 2, 2), [2, 2], [2, 2], shape=[1, 1, 5, 5], as_="int32")
    for n in (1, 2, 3):
        x = torch.from_numpy(np.random.default_rng(n).permutation(2 * 3 * 7 ** n).reshape((2, 3) + (7,) * n).astype("float64"))
        y, i = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[n - 1](x, 2, 2, return_indices=True)
        back = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[n - 1](y, i, 2, 2, output_size=x.shape[2:]).numpy()
        whole = i.numpy() + np.arange(6).reshape((2, 3) + (1,) * n) * 7 ** n
        same(unpooled(y.numpy(), whole, x.shape), back, "max_unpool")
        if n < 3:
            go("what pooling of %d axes takes" % n, y.numpy().astype("float32"), [2] * n, [2] * n, indices=whole, shape=list(x.shape))
    five = [1, 1, 5, 5]
    p = {"kernelShape": [2, 2], "strides": [2, 2]}
    x = np.array([[[[5, 6], [7, 8]]]], "float32")
    y = np.zeros(five, "float32")
    y[0, 0, 1, [1, 3]], y[0, 0, 3, [1, 3]] = [5, 6], [7, 8]
    w.ok("ONNX's test: indices that count in the extents of the windows", [x, np.array([[[[5, 7], [13, 15]]]]), known(five, "int64", (4,))], y, **p)
    for name, i in (("that count in the output shape", [[6, 8], [16, 18]]), ("that count in the output shape, the first of each window", [[0, 2], [10, 12]]),
                    ("that fit neither", [[5, 7], [13, 4]]), ("that fit neither, one beyond the windows", [[5, 7], [13, 24]])):
        i = np.array([[i]])
        w.ok("indices " + name, [x, i, known(five, "int64", (4,))], unpooled(x, i, five), **p)
    two = np.array([[[1, 2]], [[3, 4]]], "float32").reshape(1, 2, 2)
    w.ok("channels of the windows' extents", [two, np.array([[[1, 3], [4, 7]]]), known([1, 2, 6], "int64", (3,))],
         np.array([[[0, 1, 0, 2, 0, 0], [3, 0, 0, 4, 0, 0]]], "float32"), kernelShape=[2], strides=[2])
    w.ok("an output shape below the windows' extents", [two, np.array([[[0, 1], [3, 5]]]), known([1, 2, 3], "int64", (3,))],
         np.array([[[1, 2, 0], [3, 0, 4]]], "float32"), kernelShape=[2], strides=[2])
    w.ok("pads beyond the windows' extents", [two, np.array([[[0, 1], [3, 5]]]), known([1, 2, 3], "int64", (3,))],
         np.array([[[1, 2, 0], [3, 0, 4]]], "float32"), kernelShape=[1], strides=[1], pads=[2, 0])
    more = np.array([[[1, 2, 3], [4, 5, 6]]], "float32")
    w.ok("channels of the windows' extents, with pads", [more, np.array([[[0, 2, 3], [4, 6, 7]]]), known([1, 2, 6], "int64", (3,))],
         np.array([[[1, 0, 2, 3, 0, 0], [4, 0, 5, 6, 0, 0]]], "float32"), kernelShape=[2], strides=[2], pads=[1, 1])
    x, i, a = floats(1, 1, 2, 2), np.array([[[[5, 7], [13, 15]]]]), {"kernelShape": [2, 2], "strides": [2, 2]}
    y = floats(1, 1, 4, 4)
    for v in (-1, 16, I64_MAX, I64_MIN):
        w.bad("index %d of 16" % v, "INVALID_PARAMETER", [x, np.where(i == 7, v, i)], [y], run=True,
              says="index %d lies outside the result, expected 0 to 15" % v, **a)
    for name, count in (("strides", 2), ("kernelShape", 2), ("pads", 4)):
        for what, value in (("too few", [1] * (count - 1)), ("too many", [1] * (count + 1)), ("negative", [1] * (count - 1) + [-1])):
            w.bad(what + " " + name, "INVALID_PARAMETER", [x, i], [y], **{**a, name: value})
    w.bad("no window", "INVALID_PARAMETER", [x, i], [y])
    w.bad("pads that leave nothing", "INVALID_SHAPE", [x, i], [y], **a, pads=[2, 0, 2, 0])
    w.bad("strides that are too large", "OUT_OF_MEMORY", [x, i], [y], kernelShape=[2, 2], strides=[2, 2**31 - 1])
    w.bad("indices of another shape", "INVALID_SHAPE", [x, i[..., :1]], [y], **a)
    w.bad("indices of fewer axes", "INVALID_SHAPE", [x, i[0]], [y], **a)
    w.bad("x of 2 axes", "INVALID_SHAPE", [x[0, 0], i[0, 0]], [y], **a)
    w.bad("empty indices", "INVALID_SHAPE", [x, i[:0]], [y], **a)
    w.ok("a batch of 0", [x[:0], i[:0]], y[:0], **a)
    w.bad("an output shape of 3 axes", "INVALID_SHAPE", [x, i, known([1, 4, 4], "int64", (3,))], [y], **a)
    w.bad("an output shape of other channels", "INVALID_SHAPE", [x, i, known([1, 2, 4, 4], "int64", (4,))], [y], **a)
    w.bad("an output shape of another batch", "INVALID_SHAPE", [x, i, known([2, 1, 4, 4], "int64", (4,))], [y], **a)
    w.bad("a negative output shape", "INVALID_PARAMETER", [x, i, known([1, 1, -4, 4], "int64", (4,))], [y], **a)
    w.bad("indices of float32", "INVALID_DATATYPE", [x, i.astype("float32")], [y], **a)
    w.bad("quantised", "UNSUPPORTED_OP", [Tensor(data("int8", (1, 1, 2, 2)), quant=[(8, 0, 0.5)]), i], [data("int8", (1, 1, 4, 4))], **a)
    w.bad("no indices", "INVALID_INPUT", [x], [y], **a)
    w.bad("indices absent", "NULL_PTR", [x, None], [y], **a)
    w.bad("two results", "INVALID_OUTPUT", [x, i], [y, y], **a)
    y = np.zeros(five, "float32")
    y[0, 0, [1, 1, 3, 3], [1, 3, 1, 2]] = [5, 6, 7, 8]
    w.ok("indices beyond their windows in the output shape", [np.array([[[[5, 6], [7, 8]]]], "float32"),
         np.array([[[[5, 7], [13, 14]]]]), known(five, "int64", (4,))], y, **p)


if __name__ == "__main__":
    write(make, "Expected values: numpy; torch's unpooling must agree.", "MAX_UNPOOL")
