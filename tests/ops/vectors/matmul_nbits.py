"""MATMUL_NBITS."""
import os
import sys

import numpy as np

from common import const, f16, f32, f64, random, refuse, rounded, some, Tensor, wide, write

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../formats"))
import gguf_models  # noqa: E402  blocks and their values

OP = "MATMUL_NBITS"


def entries(packed, bits, count):
    """The first `count` entries of each row of bytes, the first one in the low bits, as their binary digits."""
    digits = np.unpackbits(packed, axis=-1, bitorder="little").reshape(*packed.shape[:-1], packed.shape[-1] * 8 // bits, bits)
    return (digits.astype(f64) @ 2.0 ** np.arange(bits))[..., :count]


def expected(x, weight, scale, zero, bias, K, bits):
    """Blocks of x by blocks of numbers, which numpy expands in float64; then times scale, and the sum over blocks."""
    N, B, size = weight.shape[0], weight.shape[1], weight.shape[2] * 8 // bits
    if zero is None:
        z = np.full((N, B), 2.0 ** (bits - 1))
    else:
        z = entries(zero, bits, B) if zero.dtype == np.uint8 else wide(zero)
    blocks = np.zeros(x.shape[:-1] + (B * size,))
    blocks[..., :K] = wide(x)
    sums = np.einsum("...bk,nbk->...nb", blocks.reshape(x.shape[:-1] + (B, size)), entries(weight, bits, size) - z[..., None])
    y = (sums * wide(scale)).sum(-1)
    return rounded(y if bias is None else y + wide(bias), x)


def expected_int8(x, weight, scale, zero, bias, K, bits):
    """accuracyLevel 4: blocks of x as float32 scales and integers, of which sums of products are exact in float64."""
    N, B, size = weight.shape[0], weight.shape[1], weight.shape[2] * 8 // bits
    blocks = np.zeros(x.shape[:-1] + (B * size,), f32)
    blocks[..., :K] = x
    blocks = blocks.reshape(x.shape[:-1] + (B, size))
    most = np.abs(blocks).max(-1)  # NaN if an element is
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        some = (most >= f32(2.0**-119)) & np.isfinite(most)
        inverse = np.where(some, f32(127) / most, f32(0)).astype(f32)
        q = np.where(some[..., None], np.rint(blocks * inverse[..., None]), 0).astype(f64)
        d = np.where(some, most / f32(127), np.where(np.isfinite(most), f32(0), f32(np.nan))).astype(f32)
    assert (blocks * inverse[..., None]).dtype == f32 and np.abs(q).max(initial=0) <= 127
    z = np.full((N, B), 2.0 ** (bits - 1)) if zero is None else entries(zero, bits, B) if zero.dtype == np.uint8 else wide(zero)
    sums = np.einsum("...bk,nbk->...nb", q, entries(weight, bits, size)) - z * q.sum(-1)[..., None, :]
    y = (sums * wide(d)[..., None, :] * wide(scale)).sum(-1)
    return rounded(y if bias is None else y + wide(bias), x)


def products(x, values, level):
    """x by values [N,B,size] in float64; level 4: blocks of x rounded to int8."""
    N, B, size = values.shape
    blocks = wide(x).reshape(x.shape[:-1] + (B, size))
    if level:
        most = np.abs(x.reshape(blocks.shape)).max(-1).astype(f32)
        blocks = np.rint(x.reshape(blocks.shape) * (f32(127) / most)[..., None]).astype(f64) * wide(most / f32(127))[..., None]
    return rounded(np.einsum("...bk,nbk->...n", blocks, values), x)


def make(w):
    def given(shape, N, bits, size, dtype=f32, zeros="none", bias=False):
        """Inputs: entries after the last column are random, too."""
        K = shape[-1]
        B = -(-K // size)
        x, scale = some(shape, dtype, -8, 8), some((N, B), dtype, -16, 16, 1 / 64)
        weight = random.integers(0, 256, (N, B, size * bits // 8)).astype(np.uint8)
        zero = {"none": lambda: None, "real": lambda: some((N, B), dtype, 0, 4 * 2**bits),
                "packed": lambda: random.integers(0, 256, (N, -(-B * bits // 8))).astype(np.uint8)}[zeros]()
        return x, weight, scale, zero, some((N,), dtype) if bias else None

    def attrs_of(K, bits, size):
        return {"columns": K, "bits": bits, "blockSize": size}

    def go(name, inputs, bits, size, constant=True, level=0):
        K = inputs[0].shape[-1]
        ins = [inputs[0]] + [const(v) if constant and v is not None else v for v in inputs[1:]]
        while ins[-1] is None:
            ins.pop()
        attrs = attrs_of(K, bits, size)
        if level:
            attrs["accuracyLevel"] = level
        w.case(name, OP, attrs, ins, [(expected_int8 if level else expected)(*inputs, K, bits)])

    def blocks(kind, x, rows, level, constant=True):
        """Weights in blocks of GGUF files, whose values tests/formats/gguf_models.py states in float64. Zero points of types with minima
        are rounded to float32: at level 4 the values are scale * (q - zero) of integers that fit the file's values."""
        size, K = (16 if kind in ("Q2_K", "Q3_K", "Q6_K") else 32), x.shape[-1]
        attrs = {"columns": K, "bits": 4 if kind in ("Q4_0", "Q4_1", "Q2_K", "Q3_K", "Q4_K") else 8, "blockSize": size,
                 "blockType": gguf_models.TYPES[kind]}
        raw, values = gguf_models.matrix(random, kind, rows, K, 1.0)
        elements = 256 if kind.endswith("_K") else 32
        weight = np.frombuffer(raw, np.uint8).reshape(rows, K // elements, -1)
        if level:
            attrs["accuracyLevel"] = level
        w.case("blocks of %s, %s, level %d, %d x %d%s" % (kind, np.dtype(x.dtype).name, level, len(x), K, "" if constant else ", not constant"), OP,
               attrs, [x, const(weight) if constant else weight], [products(x, values.reshape(rows, -1, size), level)])

    for bits in (4, 8, 2):
        for dtype in (f32, f16):
            for zeros in ("none", "packed", "real"):
                name = "%d bits, %s, zero points %s, " % (bits, np.dtype(dtype).name, zeros)
                go(name + "two blocks", given((3, 32), 5, bits, 16, dtype, zeros), bits, 16)
                go(name + "a part of a block", given((2, 21), 3, bits, 16, dtype, zeros, True), bits, 16)
        go("%d bits, a matrix of inputs" % bits, given((2, 3, 40), 7, bits, 32, f32, "packed", True), bits, 32, constant=False)
        go("%d bits, a vector" % bits, given((33,), 4, bits, 16, f32, "packed"), bits, 16)
        go("%d bits, one column" % bits, given((2, 1), 3, bits, 16), bits, 16)
        go("%d bits, one block of 64" % bits, given((1, 50), 2, bits, 64, f32, "packed"), bits, 64)
        go("%d bits, blocks of 128" % bits, given((4, 129), 2, bits, 128, f32, "real", True), bits, 128)
        go("%d bits, four axes" % bits, given((2, 1, 2, 16), 2, bits, 16), bits, 16)
        go("%d bits, no rows" % bits, given((0, 16), 2, bits, 16), bits, 16)
        go("%d bits, no results" % bits, given((2, 16), 0, bits, 16), bits, 16)
        go("%d bits, a tile and more" % bits, given((9, 70), 35, bits, 32, f32, "packed", True), bits, 32)
        x, weight, scale, zero, bias = given((4, 32), 3, bits, 16)
        x[0, 3], x[1, 20], x[2, 0], x[2, 31] = np.nan, np.inf, -0.0, -np.inf
        weight[0, 1, :] = {2: 0xaa, 4: 0x88, 8: 0x80}[bits]  # the zero point: Inf * 0
        with np.errstate(invalid="ignore"):
            go("%d bits, NaN and Inf in x" % bits, (x, weight, scale, zero, bias), bits, 16)
            scale = scale.copy()
            scale[0, 0], scale[1, 1] = np.nan, np.inf
            go("%d bits, NaN and Inf in scale" % bits, (np.abs(x[3:]) + 1, weight, scale, zero, bias), bits, 16)
    for bits in (4, 8, 2):
        for zeros in ("none", "packed", "real"):
            name = "int8, %d bits, zero points %s, " % (bits, zeros)
            for dtype in (f32, f16):
                go(name + "two blocks of " + np.dtype(dtype).name, given((3, 32), 5, bits, 16, dtype, zeros), bits, 16, level=4)
            go(name + "a part of a block", given((2, 21), 3, bits, 16, f32, zeros, True), bits, 16, level=4)
            go(name + "one row, panels", given((1, 96), 131, bits, 32, f32, zeros, True), bits, 32, level=4)
            go(name + "tiles and panels", given((13, 70), 67, bits, 32, f32, zeros), bits, 32, level=4)
            go(name + "blocks of 128", given((5, 300), 9, bits, 128, f32, zeros, True), bits, 128, level=4)
        go("int8, %d bits, a matrix of inputs" % bits, given((2, 3, 40), 7, bits, 32, f32, "packed", True), bits, 32, constant=False, level=4)
        go("int8, %d bits, no rows" % bits, given((0, 16), 2, bits, 16), bits, 16, level=4)
        x, weight, scale, zero, bias = given((2, 64), 70, bits, 32)
        weight[:] = 255
        x[0], x[1] = np.where(np.arange(64) < 32, 127, -127), 127
        go("int8, %d bits, the largest sums" % bits, (x, weight, scale, zero, bias), bits, 32, level=4)
        x, weight, scale, zero, bias = given((8, 48), 3, bits, 16)
        x[0, :16], x[1, 16:32], x[2], x[3, 5], x[4, 47], x[5, 0] = 0, f32(2.0**-120), f32(2.0**-119), np.nan, np.inf, -np.inf
        x[6, 0], x[6, 1:15] = 127, np.arange(-7, 7) + 0.5  # halves
        go("int8, %d bits, zeros, small numbers, halves, NaN and Inf" % bits, (x, weight, scale, zero, bias), bits, 16, level=4)
    inputs = given((2, 32), 4, 4, 32, bias=True)
    w.case("bits and blockSize 0 are 4 and 32", OP, {"columns": 32, "bits": 0, "blockSize": 0},
           list(inputs[:3]) + [None, inputs[4]], [expected(*inputs, 32, 4)])

    x, weight, scale, zero, bias = given((2, 32), 4, 4, 16, f32, "packed", True)
    good = attrs_of(32, 4, 16)

    def bad(name, code, *inputs, says=None, **other):
        refuse(w, name, OP, {**good, **other}, list(inputs), code, says=says)

    bad("no columns", "INVALID_PARAMETER", x, weight, scale, columns=0, says="columns is 0")
    bad("other columns than x", "INVALID_SHAPE", x, weight, scale, columns=31)
    bad("accuracy level 1", "INVALID_PARAMETER", x, weight, scale, accuracyLevel=1, says="accuracyLevel is 1, expected 0 or 4")
    bad("3 bits", "UNSUPPORTED_OP", x, weight, scale, bits=3, says="bits is 3, expected 2, 4 or 8")
    bad("-4 bits", "UNSUPPORTED_OP", x, weight, scale, bits=-4)
    for size in (8, 24, 131072, -16):
        bad("blocks of %d" % size, "INVALID_PARAMETER", x, weight, scale, blockSize=size,
            says="blockSize is %d, expected a power of 2 of 16 to 65536" % size)
    bad("too few blocks", "INVALID_SHAPE", x, weight[:, :1], scale[:, :1])
    bad("too many blocks", "INVALID_SHAPE", x, np.tile(weight, (1, 2, 1)), np.tile(scale, (1, 2)))
    bad("blocks of other bytes", "INVALID_SHAPE", x, weight[..., :7], scale)
    bad("bytes of 8 bits", "INVALID_SHAPE", x, weight, scale, bits=8)
    bad("weights of two axes", "INVALID_SHAPE", x, weight.reshape(4, 16), scale)
    bad("scales of other rows", "INVALID_SHAPE", x, weight, scale[:3])
    bad("scales of other blocks", "INVALID_SHAPE", x, weight, scale[:, :1])
    bad("scales of one axis", "INVALID_SHAPE", x, weight, scale.reshape(-1))
    bad("zero points of other rows", "INVALID_SHAPE", x, weight, scale, zero[:3])
    bad("zero points of too many bytes", "INVALID_SHAPE", x, weight, scale, np.tile(zero, (1, 2)))
    bad("zero points of other blocks", "INVALID_SHAPE", x, weight, scale, scale[:, :1])
    bad("bias of other rows", "INVALID_SHAPE", x, weight, scale, zero, bias[:3])
    bad("bias of two axes", "INVALID_SHAPE", x, weight, scale, zero, bias[None])
    bad("a scalar", "INVALID_SHAPE", x[0, 0], weight, scale)
    bad("weights of int8", "INVALID_DATATYPE", x, weight.astype(np.int8), scale, says="expected uint8")
    bad("weights of float32", "INVALID_DATATYPE", x, weight.astype(f32), scale)
    bad("quantised weights", "INVALID_DATATYPE", x, Tensor(weight, quant=[(8, 1, 0.5)]), scale)
    bad("scales of float16", "INVALID_DATATYPE", x, weight, scale.astype(f16))
    bad("zero points of int8", "INVALID_DATATYPE", x, weight, scale, zero.astype(np.int8), says="expected uint8 or float32")
    bad("zero points of float16", "INVALID_DATATYPE", x, weight, scale, scale.astype(f16))
    bad("bias of float16", "INVALID_DATATYPE", x, weight, scale, zero, bias.astype(f16))
    bad("float64", "INVALID_DATATYPE", x.astype(f64), weight, scale.astype(f64))
    bad("x of uint8", "INVALID_DATATYPE", x.astype(np.uint8), weight, scale)
    bad("two inputs", "INVALID_INPUT", x, weight)
    bad("absent scales", "NULL_PTR", x, weight, None, zero)

    for kind in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL"):
        for dtype, level, shape, rows in ((f32, 0, (2, 512), 2), (f16, 0, (2, 256), 1), (f32, 4, (1, 512), 3)):
            blocks(kind, some(shape, dtype, -8, 8), rows, level)
    blocks("Q4_K", some((9, 256), f32, -8, 8), 35, 4)
    blocks("Q6_K", some((2, 256), f32, -8, 8), 4, 4, constant=False)
    blocks("Q5_0", some((2, 96), f32, -8, 8), 5, 4)
    nine = np.zeros((4, 1, 34), np.uint8)
    bad("a block type of GGUF without scales", "UNSUPPORTED_OP", x, nine, blockType=9, says="blockType is 9")
    bad("bits of another block type", "INVALID_PARAMETER", x, nine, blockType=8, blockSize=32, says="bits 4, blockSize 32")
    bad("scales beside blocks", "INVALID_PARAMETER", x, nine, scale[:, :1], blockType=8, bits=8, blockSize=32, says="inputs 2 and 3")
    bad("blocks of other bytes than the type", "INVALID_SHAPE", x, nine[..., :33], blockType=8, bits=8, blockSize=32)
    bad("a part of a block of the type", "INVALID_PARAMETER", np.ones((2, 48), f32), nine, blockType=8, bits=8, blockSize=32, columns=48, says="a multiple of 32")


if __name__ == "__main__":
    write(make, "Expected values: binary digits of the bytes, numpy.einsum in float64.")
