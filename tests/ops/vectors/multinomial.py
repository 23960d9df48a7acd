"""MULTINOMIAL."""
import numpy as np

from common import DATATYPE, empty_batch, f16, f32, f64, refuse, write
from random_numbers import uniform


def make(w):
    def choose(name, x, size=1, dtype="int32", said=True, **attrs):
        e = np.exp(x.astype(f64) - x.astype(f64).max(1, keepdims=True))
        limit = uniform(attrs.get("seed", 0), len(x) * size).reshape(len(x), size) * e.sum(1, keepdims=True)
        cumulated = np.cumsum(e, 1)
        assert np.abs(cumulated[:, None] - limit[:, :, None]).min() > 1e-5 or x.shape[1] == 1, name  # no rounding decides
        y = np.minimum((cumulated[:, None] <= limit[:, :, None]).sum(2), x.shape[1] - 1)
        attrs.update({"sampleSize": size}, **({"dtype": DATATYPE[dtype]} if said else {}))
        w.case(name, "MULTINOMIAL", attrs, [x], [y.astype(dtype)])

    x = np.log(np.array([[1, 2, 3, 4], [4, 1, 1, 2], [1, 1, 1, 1]], f32))
    for dtype in ("int32", "int64"):
        choose("multinomial, " + dtype, x, 20, dtype)
        choose("multinomial, declared " + dtype, x, 5, dtype, False)
    choose("multinomial, float16", np.array([[0, 1, 2], [2, 1, 0]], f16), 20)
    choose("multinomial, a seed", x, 20, seed=5.0)
    choose("multinomial, one of each", x)
    choose("multinomial, one class", np.zeros((2, 1), f32), 3)
    choose("multinomial, classes that cannot be", np.array([[-np.inf, 0, -np.inf, 0]], f32), 20)
    choose("multinomial, far from 0", x + f32(1000), 20)
    for name, attrs, ins, code in (("no samples", {"sampleSize": 0}, [x], "INVALID_PARAMETER"),
                                   ("2^31 samples", {"sampleSize": 2**31}, [x], "INVALID_PARAMETER"),
                                   ("one axis", {}, [x[0]], "INVALID_SHAPE"), ("empty", {}, [x[:0]], None),
                                   ("no classes", {}, [x[:, :0]], "INVALID_SHAPE"),
                                   ("gives float32", {"dtype": DATATYPE["float32"]}, [x], "INVALID_DATATYPE"),
                                   ("float64", {}, [x.astype(f64)], "INVALID_DATATYPE"),
                                   ("int32", {}, [x.astype(np.int32)], "INVALID_DATATYPE"),
                                   ("two inputs", {}, [x, x], "INVALID_INPUT"), ("absent", {}, [None], "NULL_PTR")):
        if code is None:
            empty_batch(w, "multinomial, " + name, "MULTINOMIAL", attrs, ins, (0, 1), np.int32)
        else:
            refuse(w, "multinomial, " + name, "MULTINOMIAL", attrs, ins, code)


if __name__ == "__main__":
    write(make, "Expected values: the generator in Python's integers, what follows with numpy in float64.")
