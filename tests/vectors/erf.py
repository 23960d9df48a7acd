#!/usr/bin/env python3
"""Writes erf.vec: expected values from Python's math.erf, which is the C library's in float64, rounded once."""
import math
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from vecwriter import Tensor, VecWriter  # noqa: E402

POINTS = [0.0, -0.0, 1e-30, -1e-30, 1e-8, 1e-4, 0.1, -0.25, 0.5, 0.84375, 0.921875, -0.93, 1.0, -1.5, 2.0, 2.5, -3.0, 3.9,
          3.94, -5.0, 10.0, 1e30, -1e30, np.inf, -np.inf, np.nan]


def erf(x):
    with np.errstate(over="ignore"):
        return np.array([math.erf(float(v)) for v in x.reshape(-1)]).reshape(x.shape).astype(x.dtype)


def main():
    rng = np.random.default_rng(178)
    with VecWriter(HERE / "erf.vec", "ERF: expected values from Python's math.erf") as w:
        for name, tolerance in (("float32", (1e-45, 3e-7)), ("float16", (6e-8, 1e-3)), ("float64", (0, 1e-14))):
            with np.errstate(over="ignore"):
                points = np.array(POINTS).astype(name)
            w.case("special points, " + name, "ERF", {}, [points], [erf(points)], tol=tolerance)
            x = rng.normal(0, 1.5, (2, 3, 5)).astype(name)
            w.case("three axes, " + name, "ERF", {}, [x], [erf(x)], tol=tolerance)
        x = np.float32(0.75).reshape(())
        w.case("a scalar", "ERF", {}, [x], [erf(x)], tol=(0, 3e-7))
        x = np.zeros((2, 0, 3), np.float32)
        w.case("no elements", "ERF", {}, [x], [x])
        w.case("refused: int32", "ERF", {}, [np.array([1], np.int32)], [], error="INVALID_DATATYPE")
        q = Tensor(np.array([1, 2], np.int8), quant=[(8, 0, 0.5)])
        w.case("refused: quantised", "ERF", {}, [q], [], error="UNSUPPORTED_OP")
        w.case("refused: two inputs", "ERF", {}, [x, x], [], error="INVALID_INPUT")


main()
