"""ADAPTIVE_MAX_POOL_2D."""
import numpy as np
import torch.nn.functional as F

from adaptive_average_pool_2d import adaptive_refusals, SIZES, spread
from common import f16, f32, known, rounded, some, tensor, write
from quantised import adaptive_cases

OP = "ADAPTIVE_MAX_POOL_2D"


def largest(x, size):
    y, at = F.adaptive_max_pool2d(tensor(x).permute(0, 3, 1, 2), size, return_indices=True)
    return rounded(y.permute(0, 2, 3, 1).numpy(), x), at.permute(0, 2, 3, 1).numpy()


def make(w):
    for t in (f32, f16):
        spread(t, SIZES, lambda x, size: list(largest(x, size))[:1], w, OP)
        for index in (np.int32, np.int64):
            for shape, size in SIZES:
                x = some(shape, t, -2, 2, 1)  # few values: many equal ones
                y, at = largest(x, size)
                name = "positions %s %s %s to %s" % (t.__name__, index.__name__, list(shape), list(size))
                w.case(name, OP, {"returnIndices": True}, [x, known(size)], [y, at.astype(index)], tol=(0, 0))
                if index == np.int64:
                    w.case(name + " NCHW", OP, {"indicesType": 35}, [np.ascontiguousarray(x.transpose(0, 3, 1, 2)), known(size)],
                           [y.transpose(0, 3, 1, 2), at.astype(index).transpose(0, 3, 1, 2)], fmt="NCHW", tol=(0, 0))
    x = np.array([np.nan, 1, -np.inf, -np.inf, np.inf, 3], f32).reshape(1, 1, 6, 1)
    w.case("not finite", OP, {}, [x, known((1, 3))], [np.array([np.nan, -np.inf, np.inf], f32).reshape(1, 1, 3, 1),
                                                     np.array([0, 2, 4], np.int32).reshape(1, 1, 3, 1)])
    x = some((1, 4, 6, 2))
    y, at = largest(x, (2, 3))
    w.case("INT32", OP, {"returnIndices": True, "indicesType": 34}, [x, known((2, 3))], [y, at.astype(np.int32)])
    w.case("INT64", OP, {"returnIndices": True, "indicesType": 35}, [x, known((2, 3))], [y, at.astype(np.int64)])
    adaptive_refusals(w, OP)
    for name, code, attrs, outs in (
            ("three outputs", "INVALID_OUTPUT", {}, [y, at, at]),
            ("returnIndices with one output", "INVALID_OUTPUT", {"returnIndices": True}, [y]),
            ("positions of float32", "INVALID_DATATYPE", {}, [y, at.astype(f32)]),
            ("positions of int16", "INVALID_DATATYPE", {}, [y, at.astype(np.int16)]),
            ("indicesType of another type", "INVALID_DATATYPE", {"indicesType": 34}, [y, at]),
            ("indicesType FLOAT32", "INVALID_DATATYPE", {"indicesType": 43}, [y, at]),
            ("result of float16", "INVALID_DATATYPE", {}, [y.astype(f16)])):
        w.case("refused: " + name, OP, attrs, [x, known((2, 3))], outs, error=code)


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.adaptive_max_pool2d in float64.",
          also=lambda w: adaptive_cases(w, OP, False))
