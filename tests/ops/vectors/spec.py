"""The worked cases of the specification, converted from the file of JSON that SPEC in the environment names. It is not in this
repository."""
import json
import os

import numpy as np

from common import LOOSE, Tensor, write

ROUGH = ("CONV2D_FUSION", "CONV2D_TRANSPOSE_FUSION", "RESIZE", "LAYER_NORM_FUSION")


def make(w):
    """The worked cases of the specification; every input but the first is a constant there."""
    with open(os.environ["SPEC"], encoding="utf-8") as f:
        cases = json.load(f)["cases"]

    def read(entry, constant):
        quant = [(q["numBits"], q["zeroPoint"], q["scale"]) for q in entry.get("quantParams", [])]
        return Tensor(np.array(entry["data"], entry["dtype"]).reshape(entry["shape"]), constant, quant)

    for case in cases:
        w.case(case["name"], case["op"], case["attrs"],
               [read(t, n > 0) if t else None for n, t in enumerate(case["inputs"])],
               [read(t, False) for t in case["outputs"]], tol=LOOSE if case["op"] in ROUGH else None)


if __name__ == "__main__":
    write(make, "The worked cases of the specification, wave 1, converted.")
