"""ADAPTIVE_AVERAGE_POOL_2D; invalid cases of both adaptive poolings."""
import numpy as np
import torch.nn.functional as F

from common import const, empty_batch, f16, f32, f64, known, name_of, nchw, random, refuse, rounded, some, Tensor, tensor, write
from quantised import adaptive_cases

OP = "ADAPTIVE_AVERAGE_POOL_2D"
SIZES = [  # x [N,H,W,C], size
    ((1, 4, 4, 1), (2, 2)), ((2, 5, 7, 3), (3, 2)), ((1, 3, 3, 2), (3, 3)), ((1, 2, 3, 2), (5, 4)), ((2, 6, 5, 1), (1, 1)),
    ((1, 7, 1, 2), (2, 3)), ((1, 1, 1, 1), (2, 2)), ((1, 10, 3, 17), (7, 2)), ((1, 3, 5, 40), (2, 3))]


def spread(t, sizes, expect, w, op):
    """Every size in both layouts, expect(x [N,H,W,C], size) -> results in that order."""
    for n, (shape, size) in enumerate(sizes):
        x = some(shape, t)
        results, index = expect(x, size), ("int32", "int64")[n % 2]
        name = "%s %s to %s" % (name_of(t), list(shape), list(size))
        w.case(name, op, {}, [x, known(size, index)], results)
        w.case(name + " NCHW", op, {}, [nchw(x), known(size, index)], [nchw(y) for y in results], fmt="NCHW")
        w.case(name + " NHWC", op, {}, [x, known(size, index)], results, fmt="NHWC")


def adaptive_refusals(w, op):
    x, size = some((1, 4, 4, 1)), known((2, 2))
    for name, code, inputs in (
            ("x of 3 axes", "INVALID_SHAPE", [x[0], size]),
            ("x of 5 axes", "INVALID_SHAPE", [x[None], size]),
            ("x without rows", "INVALID_SHAPE", [x[:, :0], size]),
            ("no images", None, [x[:0], size]),
            ("three extents", "INVALID_SHAPE", [x, known((2, 2, 2))]),
            ("one extent", "INVALID_SHAPE", [x, known((2,))]),
            ("extents in two axes", "INVALID_SHAPE", [x, known((2, 2), shape=(1, 2))]),
            ("a height of 0", "INVALID_PARAMETER", [x, known((0, 2))]),
            ("a width of -1", "INVALID_PARAMETER", [x, known((2, -1), "int64")]),
            ("more than int32", "OUT_OF_MEMORY", [x, known((2, 2**31), "int64")]),
            ("an unknown size", "UNSUPPORTED_OP", [x, np.array((2, 2), np.int32)]),
            ("size of float32", "INVALID_DATATYPE", [x, const(np.array((2, 2), f32))]),
            ("int32", "INVALID_DATATYPE", [some((1, 4, 4, 1), np.int32), size]),
            ("float64", "INVALID_DATATYPE", [some((1, 4, 4, 1), f64), size]),
            ("bool", "INVALID_DATATYPE", [np.ones((1, 2, 2, 1), bool), size]),
            ("quantised, result without QuantParam", "INVALID_DATATYPE",
             [Tensor(np.ones((1, 2, 2, 1), np.int8), quant=[(8, 0, 0.5)]), size]),
            ("one input", "INVALID_INPUT", [x]),
            ("three inputs", "INVALID_INPUT", [x, size, size]),
            ("x missing", "NULL_PTR", [None, size]),
            ("size missing", "NULL_PTR", [x, None])):
        if code is None:
            empty_batch(w, name, op, {}, inputs, (0, 2, 2, 1))
        else:
            refuse(w, name, op, {}, inputs, code)


def average(x, size):
    return [rounded(F.adaptive_avg_pool2d(tensor(x).permute(0, 3, 1, 2), size).permute(0, 2, 3, 1).numpy(), x)]


def make(w):
    for t in (f32, f16):
        spread(t, SIZES, average, w, OP)
    x = (random.random((2, 9, 11, 3)) - 0.5).astype(f32)
    w.case("random", OP, {}, [x, known((4, 5))], average(x, (4, 5)))
    x = np.array([np.nan, 1, np.inf, 2, -np.inf, 3], f32).reshape(1, 1, 6, 1)
    w.case("not finite", OP, {}, [x, known((1, 4))], [np.array([np.nan, np.inf, -np.inf, -np.inf], f32).reshape(1, 1, 4, 1)])
    x = some((1, 4, 6, 2))
    w.case("the members are not used", OP, {"returnIndices": True, "indicesType": 35}, [x, known((2, 3))], average(x, (2, 3)))
    adaptive_refusals(w, OP)
    refuse(w, "indicesType that is no type", OP, {"indicesType": 31}, [x, known((2, 3))], "INVALID_DATATYPE")
    w.case("refused: two outputs", OP, {}, [x, known((2, 3))], average(x, (2, 3)) * 2, error="INVALID_OUTPUT")


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.adaptive_avg_pool2d in float64.",
          also=lambda w: adaptive_cases(w, OP, True))
