"""COL2IM."""
import itertools

import numpy as np
import torch

from common import f16, f32, f64, known, refuse, rounded, some, Tensor, wide, write


def fold(x, image, block, dilations, pads, strides):
    """The printed formula as plain loops; torch must agree where it supports the case."""
    n, axes = len(image), range(len(image))
    C = x.shape[1] // int(np.prod(block))
    counts = [(image[i] + pads[i] + pads[n + i] - (block[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in axes]
    v = wide(x).reshape([x.shape[0], C] + list(block) + counts)
    y = np.zeros([x.shape[0], C] + list(image))
    for k in itertools.product(*map(range, block)):
        for l in itertools.product(*map(range, counts)):
            p = [l[i] * strides[i] + k[i] * dilations[i] - pads[i] for i in axes]
            if all(0 <= p[i] < image[i] for i in axes):
                y[(slice(None), slice(None)) + tuple(p)] += v[(slice(None), slice(None)) + k + l]
    if n == 2 and pads[:2] == pads[2:]:
        z = torch.nn.functional.fold(torch.from_numpy(wide(x)), image, block, dilations, pads[:2], strides)
        assert np.allclose(y, z.numpy())
    return y


def make(w):
    def blocks(image, block, dilations, pads, strides):
        n = len(image)
        return int(np.prod([(image[i] + pads[i] + pads[n + i] - (block[i] - 1) * dilations[i] - 1) // strides[i] + 1
                            for i in range(n)]))

    def go(name, image, block, dilations=None, pads=None, strides=None, N=1, C=1, dtype=f32, kind="int64"):
        attrs = {k: v for k, v in (("dilations", dilations), ("pads", pads), ("strides", strides)) if v}
        ones = [1] * len(image)
        d, p, s = dilations or ones, pads or [0] * (2 * len(image)), strides or ones
        x = some((N, C * int(np.prod(block)), blocks(image, block, d, p, s)), dtype)
        w.case(name, "COL2IM", attrs, [x, known(image, kind), known(block, kind)],
               [rounded(fold(x, image, block, d, p, s), x)])

    go("ONNX's example", [5, 5], [1, 5])
    go("strides", [5, 5], [3, 3], strides=[2, 2], pads=[0, 0, 0, 0])
    go("pads", [5, 5], [1, 5], pads=[0, 1, 0, 1])
    go("dilations", [6, 6], [2, 2], dilations=[1, 5])
    go("three axes", [4, 3, 5], [1, 2, 3], N=2, C=2)
    go("one axis", [7], [3], strides=[2])
    go("pads that differ", [4, 5], [2, 3], pads=[1, 0, 0, 2])
    go("everything", [6, 5], [2, 3], [2, 1], [1, 2, 0, 1], [2, 3], 2, 3)
    go("everything of three axes", [4, 5, 3], [2, 2, 2], [1, 2, 1], [1, 0, 1, 0, 2, 1], [2, 1, 2], 1, 2)
    go("no overlap", [6, 6], [2, 2], strides=[2, 2], C=2)
    go("gaps", [7, 7], [1, 2], strides=[3, 3])
    go("blocks of one element", [3, 4], [1, 1], C=3)
    go("rank 8", [2, 1, 2, 1, 3, 2], [1, 1, 2, 1, 2, 2])
    for dtype in (f32, f16):
        go("a batch " + np.dtype(dtype).name, [5, 4], [3, 2], N=3, C=2, dtype=dtype)
    go("int32", [5, 4], [3, 2], kind="int32")
    x = some((1, 4, 9))
    image, block = known([4, 4], "int64"), known([2, 2], "int64")
    w.case("no batch", "COL2IM", {}, [x[:0], image, block], [np.zeros((0, 1, 4, 4), f32)])
    w.case("no channels", "COL2IM", {}, [x[:, :0], image, block], [np.zeros((1, 0, 4, 4), f32)])
    w.case("an image of no rows", "COL2IM", {"pads": [1, 0, 1, 0]}, [x[:, :, :3], known([0, 4], "int64"), block],
           [np.zeros((1, 1, 0, 4), f32)])

    def bad(name, code, *ins, says=None, **attrs):
        refuse(w, name, "COL2IM", attrs, list(ins), code, says=says)

    bad("blocks too many", "INVALID_SHAPE", some((1, 4, 10)), image, block)
    bad("channels that are no multiple", "INVALID_SHAPE", some((1, 5, 9)), image, block)
    bad("two axes", "INVALID_SHAPE", x[0], image, block)
    bad("a block larger than the image", "INVALID_SHAPE", x, image, known([5, 2], "int64"),
        says="axis 0 of the image is 4 with its paddings, expected at least the block: 5")
    bad("a block of 0", "INVALID_PARAMETER", x, image, known([0, 2], "int64"))
    bad("a block of one axis", "INVALID_SHAPE", x, image, known([2], "int64"))
    bad("an image of no axis", "INVALID_SHAPE", x, known([], "int64"), known([], "int64"))
    bad("an image of 7 axes", "INVALID_SHAPE", x, known([1] * 7, "int64"), known([1] * 7, "int64"))
    bad("a negative image", "INVALID_PARAMETER", x, known([-4, 4], "int64"), block)
    bad("block told in the run", "UNSUPPORTED_OP", x, image, np.array([2, 2]))
    bad("a stride of -1", "INVALID_PARAMETER", x, image, block, strides=[-1, 1])
    bad("three strides", "INVALID_PARAMETER", x, image, block, strides=[1, 1, 1])
    bad("a dilation of -1", "INVALID_PARAMETER", x, image, block, dilations=[-1, 1])
    bad("a pad of -1", "INVALID_PARAMETER", x, image, block, pads=[-1, 0, 1, 0])
    bad("two pads", "INVALID_PARAMETER", x, image, block, pads=[1, 1])
    bad("no blocks", "INVALID_SHAPE", x[:, :, :0], image, block)
    bad("an image told in the run", "UNSUPPORTED_OP", x, np.array([4, 4]), block)
    bad("float64", "INVALID_DATATYPE", x.astype(f64), image, block)
    bad("int32", "INVALID_DATATYPE", x.astype(np.int32), image, block)
    bad("an image of float32", "INVALID_DATATYPE", x, Tensor(np.array([4, 4], f32), True), block)
    bad("quantised", "UNSUPPORTED_OP", Tensor(x.astype(np.int8), quant=[(8, 0, 0.5)]), image, block)
    bad("two inputs", "INVALID_INPUT", x, image)
    bad("absent", "NULL_PTR", x, image, None)


if __name__ == "__main__":
    write(make, "Expected values: ONNX's formula as plain loops, with which torch's fold must agree.")
