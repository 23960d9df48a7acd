"""IS_INF."""
import numpy as np

from common import make_class, write

WAYS = [
    ({}, np.isinf),
    ({"detectNegative": True, "detectPositive": True}, np.isinf),
    ({"detectNegative": False}, np.isposinf),
    ({"detectPositive": False}, np.isneginf),
    ({"detectNegative": False, "detectPositive": False}, lambda x: np.zeros_like(x, bool)),
]


if __name__ == "__main__":
    write(make_class("IS_INF", WAYS), "Expected values: numpy.isinf, isposinf, isneginf.")
