"""The random bits of RANDOM_NORMAL, RANDOM_UNIFORM, BERNOULLI and MULTINOMIAL, and their cases."""
import struct

import numpy as np

from common import DATATYPE, f16, f32, f64, known, refuse, Tensor

MASK = 2**64 - 1


def bits(seed, count):
    """The generator, as nnrti_random's comment defines it, in Python's integers."""
    key = struct.unpack("<I", struct.pack("<f", seed))[0]
    out = []
    for i in range(count):
        z = ((i + 1) * 0x9E3779B97F4A7C15 + key * 0xD1B54A32D192ED03) & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        out.append(z ^ z >> 31)
    return out


def uniform(seed, count):
    return np.array([z >> 40 for z in bits(seed, count)], f64) / 2**24


def normal(seed, count):
    z = bits(seed, count)
    u = np.array([(v >> 40) + 1 for v in z], f64) / 2**24
    v = np.array([v >> 16 & 0xFFFFFF for v in z], f64) / 2**24
    return np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)


u, n = uniform(0, 20000), normal(0, 20000)
assert abs(u.mean() - 0.5) < 0.01 and abs(u.std() - 12**-0.5) < 0.01 and u.min() >= 0 and u.max() < 1
assert abs(n.mean()) < 0.03 and abs(n.std() - 1) < 0.03
assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 0.03 and abs(np.corrcoef(u, uniform(1, 20000))[0, 1]) < 0.03


def fill(w, op, numbers):
    def go(name, shape, value, dtype=f32, said=True, kind="int64", **attrs):
        if said:
            attrs["dtype"] = DATATYPE[np.dtype(dtype).name]
        w.case(name, op, attrs, [known(list(shape), kind, (len(shape),))],
               [np.asarray(value).reshape(shape).astype(dtype)],
               tol={f32: (2e-6, 2e-6), f16: (1e-3, 1e-3), f64: (2e-6, 2e-6)}[dtype])

    for seed in (0.0, 1.0, -2.5, 1e30):
        go("seed %g" % seed, (2, 5), numbers(seed, 10), seed=seed)
    for dtype in (f16, f32, f64):
        for said in (True, False):
            more = "%s, %s" % (np.dtype(dtype).name, "said" if said else "declared")
            go(more, (7,), numbers(3, 7), dtype, said, seed=3.0)
    if numbers == uniform:
        go("from -2 to 6", (3, 3), -2 + 8 * uniform(0, 9), low=-2.0, high=6.0)
    else:
        go("around 5", (3, 3), 5 + 0.5 * normal(0, 9), mean=5.0, scale=0.5)
    for shape in ((), (0,), (2, 0, 3), (1, 2, 1, 2, 1, 2, 1, 2)):
        go("shape %s" % list(shape), shape, numbers(0, int(np.prod(shape))), kind="int32")
    shape = known([2], "int64")
    refuse(w, "a shape of two axes", op, {}, [known([[2]], "int64")], "INVALID_SHAPE")
    refuse(w, "an extent of -1", op, {}, [known([-1], "int64")], "INVALID_PARAMETER")
    refuse(w, "told in the run", op, {}, [np.array([2])], "UNSUPPORTED_OP")
    refuse(w, "a shape of float32", op, {}, [Tensor(np.array([2], f32), True)], "INVALID_DATATYPE")
    refuse(w, "int32", op, {"dtype": DATATYPE["int32"]}, [shape], "INVALID_DATATYPE")
    w.case("refused: declared other", op, {"dtype": DATATYPE["float16"]}, [shape], [np.zeros(2, f32)],
           error="INVALID_DATATYPE")
    w.case("refused: declared quantised", op, {}, [shape],
           [Tensor(np.zeros(2, np.int8), quant=[(8, 0, 0.5)])], error="UNSUPPORTED_OP")
    refuse(w, "no input", op, {}, [], "INVALID_INPUT")
