"""The worked cases of quantized arithmetic, converted from the file of JSON that SPEC in the environment names. It is not in
this repository."""
import json
import os

import numpy as np

from common import Tensor, write

def make(w):
    """Every input but the first is a constant there."""
    with open(os.environ["SPEC"], encoding="utf-8") as f:
        cases = json.load(f)["cases"]

    def read(entry, constant):
        axis = (entry["quantAxis"],) if "quantAxis" in entry else ()
        quant = [(q["numBits"], q["zeroPoint"], q["scale"]) + axis for q in entry.get("quantParams") or []]
        return Tensor(np.array(entry["data"], entry["dtype"]).reshape(entry["shape"]), constant, quant)

    for case in cases:
        w.case(case["name"], case["op"], case["attrs"],
               [read(t, n > 0) if t else None for n, t in enumerate(case["inputs"])],
               [read(t, False) for t in case["outputs"]])


if __name__ == "__main__":
    write(make, "The worked cases of quantised arithmetic, converted.")
