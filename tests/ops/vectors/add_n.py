"""ADD_N: any number of inputs."""
import numpy as np

from common import (any_floats, as_float32, const, f16, f32, f64, FLOATS, INTEGERS, name_of, NO_ATTR,
                    NUMBERS, odd_floats, refuse, refuse_quantised, some, wrap, write)
from quantised_elements import cases

SUMS = [((2, 3), (2, 3), (2, 3)), ((2, 3), (3,), (2, 1)), ((3,), (2, 3), ()), ((), (2, 1), (1, 3)), ((), (), ()),
        ((1, 2, 1, 2, 1, 2, 1, 2), (2, 1, 2, 1, 1, 1, 1, 1), (2, 1, 2, 1, 1)), ((1,), (4,), (1,), (4,)),
        ((2, 1, 3), (4, 1), (1, 1, 3), (2, 4, 1)), ((0,), (1,), (0,)), ((2, 0, 3), (1, 1, 3), ()), ((1,), (0, 2), (2,)),
        ((1, 1), (1, 1), (1, 1)), ((2, 70), (70,), (2, 1)), ((3, 1), (3, 1), (1, 130)), ((2, 2, 64), (2, 1, 64))]


def total(arrays):
    """From left to right: float32 and float64 round every sum, float16 the last of those in float32; integers wrap."""
    with np.errstate(all="ignore"):
        if arrays[0].dtype.kind in "iu":
            z = sum((a.astype(object) for a in arrays[1:]), arrays[0].astype(object))
            return wrap(z, arrays[0].dtype)
        z = as_float32(arrays[0])
        for a in arrays[1:]:
            z = z + as_float32(a)
        return np.asarray(z).astype(arrays[0].dtype)


def make(w):
    op = "ADD_N"
    w.exact = True

    def ok(name, arrays, **more):
        w.case(name, op, NO_ATTR, arrays, [total(arrays)], **more)

    mixed = (f32, f16, np.int32, f64, np.uint8)
    for n, shapes in enumerate(SUMS):
        for dtype in dict.fromkeys((f32, f16, mixed[n % 5])):
            ok("%s %s" % (name_of(dtype), " ".join(str(list(s)) for s in shapes)), [some(s, dtype) for s in shapes])
    for dtype in NUMBERS:
        ok("one input %s" % name_of(dtype), [some((2, 3), dtype)])
        ok("two inputs %s" % name_of(dtype), [some((2, 3), dtype), some((3,), dtype)])
        ok("20 inputs %s" % name_of(dtype), [some((2, 1 + k % 2), dtype) for k in range(20)])
    for dtype in INTEGERS:
        i = np.iinfo(dtype)
        v = np.array([i.min, i.max, 0, 1], dtype)
        ok("%s wraps" % name_of(dtype), [v.reshape(4, 1), v, v[::-1].copy(), np.array(i.max, dtype)])
    for dtype in FLOATS:
        v = odd_floats(dtype)
        ok("%s odd numbers" % name_of(dtype), [v.reshape(8, 1), v, v[::-1].copy()])
        ok("%s odd numbers alone" % name_of(dtype), [v])
        ok("%s random bits" % name_of(dtype), [any_floats(s, dtype) for s in ((4, 1), (10,), (4, 10), (1,))])
        ok("%s random" % name_of(dtype), [(v * 100 - 50).astype(dtype)
                                          for v in np.random.default_rng(5).random((6, 40))])
    one, big = np.array([1, -1], f32), np.array([2 ** 24, -2 ** 24], f32)
    ok("float32 from left to right", [big, one, one, -big])
    ok("float16 is rounded once", [np.array([2048, -2048], f16)] + [np.array([1, -1], f16)] * 3)
    ok("float16 goes beyond its largest number and back", [np.array([v], f16) for v in (60000, 60000, -60000)])
    ok("negative zeros", [np.array([-0.0, 0.0], f32), np.array([-0.0, -0.0], f32)])
    x, y = some((1, 2, 2, 3)), some((2, 1))
    ok("NCHW", [x, y, some((1, 2, 2, 3))], fmt="NCHW")
    w.case("constants", op, NO_ATTR, [x, const(y), const(y)], [total([x, y, y])])
    w.case("constants alone", op, NO_ATTR, [const(y), const(y)], [total([y, y])])

    refuse(w, "no inputs", op, NO_ATTR, [], "INVALID_INPUT")
    refuse(w, "third input absent", op, NO_ATTR, [x, y, None], "NULL_PTR")
    refuse(w, "third input of another type", op, NO_ATTR, [x, y, some((3,), np.int32)], "INVALID_DATATYPE")
    refuse(w, "float16 and float32", op, NO_ATTR, [some((2,), f16), some((2,))], "INVALID_DATATYPE")
    refuse(w, "third input does not broadcast", op, NO_ATTR, [some((2, 1)), some((1, 3)), some((2,))], "INVALID_SHAPE")
    refuse(w, "second input does not broadcast", op, NO_ATTR, [some((2,)), some((3,)), some((1,))], "INVALID_SHAPE")
    refuse(w, "rank 9", op, NO_ATTR, [x, np.ones((1,) * 9, f32)], "INVALID_SHAPE")
    refuse(w, "bool", op, NO_ATTR, [np.array([True]), np.array([True])], "INVALID_DATATYPE")
    w.case("refused: a result declared int32", op, NO_ATTR, [y, y], [np.zeros((2, 1), np.int32)],
           error="INVALID_DATATYPE")
    w.case("refused: two outputs", op, NO_ATTR, [y, y], [y, y], error="INVALID_OUTPUT")
    refuse_quantised(w, op, NO_ATTR, 3)


if __name__ == "__main__":
    write(make, "Expected values: numpy; integers: Python integers modulo 2^n.", also=cases("ADD_N"))
