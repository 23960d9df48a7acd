"""BERNOULLI."""
import numpy as np

from common import DATATYPE, f16, f32, f64, refuse, Tensor, TYPES, write
from random_numbers import uniform


def make(w):
    def draw(name, x, dtype=None, said=True, **attrs):
        y = (uniform(attrs.get("seed", 0), x.size).reshape(x.shape) < x).astype(dtype or x.dtype)
        if dtype and said:
            attrs["dtype"] = DATATYPE[dtype]
        w.case(name, "BERNOULLI", attrs, [x], [y], tol=(0, 0) if y.dtype.kind == "f" else None)

    p = (np.arange(24) % 5 / 4).reshape(2, 3, 4)
    for dtype in (f16, f32, f64):
        draw("bernoulli of " + np.dtype(dtype).name, p.astype(dtype))
        draw("bernoulli of %s, a seed" % np.dtype(dtype).name, p.astype(dtype), seed=7.0)
    for t in TYPES:
        draw("bernoulli gives " + t, p.astype(f32), t)
        draw("bernoulli declared " + t, p.astype(f32), t, False)
    draw("bernoulli of numbers outside", np.array([-1, 2, np.inf, -np.inf, np.nan], f32))
    draw("bernoulli, scalar", np.array(0.5, f32))
    draw("bernoulli, empty", np.zeros((0, 2), f32))
    draw("bernoulli, rank 8", p.reshape(1, 2, 1, 3, 1, 2, 1, 2).astype(f32))
    refuse(w, "bernoulli, int32", "BERNOULLI", {}, [np.ones(2, np.int32)], "INVALID_DATATYPE")
    refuse(w, "bernoulli, quantised", "BERNOULLI", {}, [Tensor(np.ones(2, np.int8), quant=[(8, 0, 0.5)])],
           "UNSUPPORTED_OP")
    refuse(w, "bernoulli, a type that does not exist", "BERNOULLI", {"dtype": 31}, [np.ones(2, f32)], "INVALID_DATATYPE")
    refuse(w, "bernoulli, two inputs", "BERNOULLI", {}, [np.ones(2, f32)] * 2, "INVALID_INPUT")


if __name__ == "__main__":
    write(make, "Expected values: the generator in Python's integers, what follows with numpy in float64.")
