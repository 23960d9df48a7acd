"""GATHER_NBITS."""
import numpy as np

from common import const, f16, f32, f64, random, refuse, rounded, some, Tensor, wide, write
from matmul_nbits import entries, gguf_models

OP = "GATHER_NBITS"


def expected(indices, weight, scale, zero, K, bits):
    """Rows of the whole matrix, expanded in float64."""
    N, B, size = weight.shape[0], weight.shape[1], weight.shape[2] * 8 // bits
    z = np.full((N, B), 2.0 ** (bits - 1)) if zero is None else entries(zero, bits, B) if zero.dtype == np.uint8 else wide(zero)
    values = (entries(weight, bits, size) - z[..., None]) * wide(scale)[..., None]
    return rounded(values.reshape(N, -1)[indices, :K], scale)


def make(w):
    def given(K, N, bits, size, dtype=f32, zeros="none"):
        B = -(-K // size)
        weight, scale = random.integers(0, 256, (N, B, size * bits // 8)).astype(np.uint8), some((N, B), dtype, -16, 16, 1 / 64)
        return weight, scale, {"none": lambda: None, "real": lambda: some((N, B), dtype, 0, 4 * 2**bits),
                               "packed": lambda: random.integers(0, 256, (N, -(-B * bits // 8))).astype(np.uint8)}[zeros]()

    def go(name, indices, inputs, K, bits, size, constant=True):
        ins = [indices] + [const(v) if constant and v is not None else v for v in inputs]
        w.case(name, OP, {"columns": K, "bits": bits, "blockSize": size}, ins if inputs[2] is not None else ins[:3],
               [expected(indices, *inputs, K, bits)])

    for bits in (2, 4, 8):
        for dtype in (f32, f16):
            for zeros in ("none", "packed", "real"):
                go("%d bits, %s, zero points %s" % (bits, np.dtype(dtype).name, zeros), random.integers(0, 7, (1, 3)).astype(np.int64),
                   given(32, 7, bits, 16, dtype, zeros), 32, bits, 16)
        go("%d bits, a part of a block" % bits, np.array([4, 0, -1, -5], np.int32), given(21, 5, bits, 16, f32, "packed"), 21, bits, 16)
        go("%d bits, blocks of 128, not constant" % bits, np.array([[[1]], [[0]]], np.int32), given(130, 2, bits, 128), 130, bits, 128, False)
        go("%d bits, a scalar index" % bits, np.array(2, np.int32), given(33, 3, bits, 32), 33, bits, 32)
        go("%d bits, one column" % bits, np.array([0, 0], np.int64), given(1, 1, bits, 16), 1, bits, 16)
        go("%d bits, no indices" % bits, np.zeros((0,), np.int32), given(16, 2, bits, 16), 16, bits, 16)
        weight, scale, zero = given(32, 3, bits, 16)
        scale[0, 0], scale[1, 1] = np.nan, np.inf
        with np.errstate(invalid="ignore"):
            go("%d bits, NaN and Inf in scale" % bits, np.array([0, 1, 2], np.int32), (weight, scale, zero), 32, bits, 16)
    for kind in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL"):
        K, size, elements = 256 if kind.endswith("_K") else 64, 16 if kind in ("Q2_K", "Q3_K", "Q6_K") else 32, 256 if kind.endswith("_K") else 32
        raw, values = gguf_models.matrix(random, kind, 4, K, 1.0)
        weight, indices = np.frombuffer(raw, np.uint8).reshape(4, K // elements, -1), np.array([[3, -3, 0]], np.int32)
        for constant in (True, False):
            w.case("blocks of %s%s" % (kind, "" if constant else ", not constant"), OP,
                   {"columns": K, "bits": 4 if kind in ("Q4_0", "Q4_1", "Q2_K", "Q3_K", "Q4_K") else 8, "blockSize": size,
                    "blockType": gguf_models.TYPES[kind]}, [indices, const(weight) if constant else weight], [values[indices].astype(f32)])

    weight, scale, zero = given(32, 4, 4, 16, f32, "packed")
    good, some_rows = {"columns": 32, "bits": 4, "blockSize": 16}, np.array([0, 3], np.int32)

    def bad(name, code, *inputs, says=None, **other):
        refuse(w, name, OP, {**good, **other}, list(inputs), code, says=says)

    def outside(name, indices, says):
        w.case("refused: " + name, OP, good, [indices, weight, scale], [], run_error="INVALID_PARAMETER", says=says)

    for index in (4, -5, 2**31 - 1, -2**31):
        outside("index %d" % index, np.array([1, index], np.int32), "index %d, element 1 of indices, lies outside axis 0 of weight, expected -4 to 3" % index)
    outside("index 2^32", np.array([2**32], np.int64), "index 4294967296, element 0")
    bad("no columns", "INVALID_PARAMETER", some_rows, weight, scale, columns=0, says="columns is 0")
    bad("columns of fewer blocks", "INVALID_SHAPE", some_rows, weight, scale, columns=16)
    bad("3 bits", "UNSUPPORTED_OP", some_rows, weight, scale, bits=3, says="bits is 3, expected 2, 4 or 8")
    bad("blocks of 24", "INVALID_PARAMETER", some_rows, weight, scale, blockSize=24, says="blockSize is 24")
    bad("a block type of GGUF without scales", "UNSUPPORTED_OP", some_rows, weight, blockType=9, says="blockType is 9")
    bad("scales beside blocks", "INVALID_PARAMETER", some_rows, np.zeros((4, 1, 34), np.uint8), scale[:, :1], blockType=8, bits=8, blockSize=32,
        says="inputs 2 and 3")
    bad("scales of other rows", "INVALID_SHAPE", some_rows, weight, scale[:3])
    bad("zero points of other rows", "INVALID_SHAPE", some_rows, weight, scale, zero[:3])
    bad("zero points of float16", "INVALID_DATATYPE", some_rows, weight, scale, scale.astype(f16), says="expected uint8 or float32")
    bad("scales of float64", "INVALID_DATATYPE", some_rows, weight, scale.astype(f64))
    bad("weights of int8", "INVALID_DATATYPE", some_rows, weight.astype(np.int8), scale, says="uint8")
    bad("indices of float32", "INVALID_DATATYPE", some_rows.astype(f32), weight, scale)
    bad("quantized weights", "INVALID_DATATYPE", some_rows, Tensor(weight, quant=[(8, 1, 0.5)]), scale)
    bad("absent scales", "NULL_PTR", some_rows, weight, None, zero)


if __name__ == "__main__":
    write(make, "Expected values: binary digits of the bytes, in float64; rows of GGUF files as tests/formats/gguf_models.py states them.")
