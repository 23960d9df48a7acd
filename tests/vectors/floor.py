#!/usr/bin/env python3
"""Writes floor.vec: expected values from numpy, exact."""
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from vecwriter import Tensor, VecWriter  # noqa: E402

POINTS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 0.99999994, -0.99999994, 1e-30, -1e-30, 1023.5, -1023.5, 8388607.5,
          -8388607.5, 8388608.0, -8388609.0, 4503599627370495.5, -4503599627370495.5, 1e30, -1e30, np.inf, -np.inf, np.nan]


def main():
    rng = np.random.default_rng(63)
    with VecWriter(HERE / "floor.vec", "FLOOR: expected values from numpy, exact") as w:
        for name in ("float32", "float16", "float64"):
            with np.errstate(over="ignore"):
                points = np.array(POINTS).astype(name)
            w.case("special points, " + name, "FLOOR", {}, [points], [np.floor(points)], tol=(0, 0))
            x = rng.normal(0, 50, (3, 1, 4, 2)).astype(name)
            w.case("four axes, " + name, "FLOOR", {}, [x], [np.floor(x)], tol=(0, 0))
        x = np.float32(-2.25).reshape(())
        w.case("a scalar", "FLOOR", {}, [x], [np.floor(x)], tol=(0, 0))
        x = np.zeros((0,), np.float32)
        w.case("no elements", "FLOOR", {}, [x], [x])
        w.case("refused: int64", "FLOOR", {}, [np.array([1], np.int64)], [], error="INVALID_DATATYPE")
        q = Tensor(np.array([1, 2], np.uint8), quant=[(8, 128, 0.5)])
        w.case("refused: quantised", "FLOOR", {}, [q], [], error="UNSUPPORTED_OP")
        w.case("refused: two outputs", "FLOOR", {}, [x], [x, x], error="INVALID_OUTPUT")


main()
