"""CAST."""
import numpy as np

from common import cast_one, const, DATATYPE, f16, f32, f64, FLOATS, INTEGERS, name_of, NO_ATTR, some, wide, write


def cast(x, target):
    if np.dtype(target).kind == "f":
        return x.astype(target)
    return np.array([cast_one(v, target) for v in x.reshape(-1)], target).reshape(x.shape)


def cast_values(source):
    if source == np.bool_:
        return np.array([True, False, True])
    if np.dtype(source).kind == "f":
        v = [0, -0.0, 1, -1, 0.5, -0.5, 1.75, -1.75, 2.5, 127, 128, -128, -129, 255, 256, 300, -300, 1000.5, 32768,
             -40000]
        v += [65504] if source == f16 else [65536, 2147483648, -2147483648, -3e9, 5e9, 1e19, -1e19, 2e19]
        return np.array(v + [np.inf, -np.inf, np.nan], source)
    i = np.iinfo(source)
    v = [v for v in (0, 1, -1, 2, 100, 127, 128, -128, 200, 255, 256, 1000, -1000, 40000, 65535, 65536, 70000, 2 ** 31,
                     2 ** 32 + 7, -2 ** 40, 2 ** 53 + 1, 2 ** 63 + 5) if i.min <= v <= i.max]
    return np.array(v + [i.min, i.max], source)


def make(w):
    op = "CAST"
    every = (np.bool_,) + FLOATS + INTEGERS
    for source in every:
        for target in every:
            x = cast_values(source)
            if target == f16 and np.dtype(source).itemsize > 2:
                x = x[~(np.abs(wide(x)) > 70000) | ~np.isfinite(wide(x))]  # larger ones are infinite: one case below
            w.case("%s to %s" % (name_of(source), name_of(target)), op, NO_ATTR, [x], [cast(x, target)])
    x = np.array([1, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 1 + 2 ** -11 + 2 ** -20, 65519, 65520, 1e5, -1e9, 2 ** -24,
                  2 ** -25, 3 * 2 ** -26, 1e-10], f32)
    w.case("float32 to float16 rounds half to even", op, NO_ATTR, [x], [x.astype(f16)], tol=(0, 0))
    x = np.array([1 + 2 ** -24, 1 + 3 * 2 ** -24, 1e39, -1e39, 1e-46, 16777217], f64)
    w.case("float64 to float32 rounds half to even", op, NO_ATTR, [x], [x.astype(f32)], tol=(0, 0))
    x = np.array([16777217, 16777219, 2147483647, -2147483647], np.int32)
    w.case("int32 to float32 rounds half to even", op, NO_ATTR, [x], [x.astype(f32)], tol=(0, 0))
    x = np.array([2 ** 62 + 1, 2 ** 53 + 1, 2 ** 53 + 3, -2 ** 53 - 1], np.int64)
    w.case("int64 to float64 rounds half to even", op, NO_ATTR, [x], [x.astype(f64)], tol=(0, 0))
    x = np.array([9223371487098961920.0, 9223372036854775808.0, 18446742974197923840.0, 18446744073709551616.0, -1.5],
                 f32)
    w.case("float32 to int64 at the end of the range", op, NO_ATTR, [x], [cast(x, np.int64)])
    w.case("float32 to uint64 at the end of the range", op, NO_ATTR, [x], [cast(x, np.uint64)])
    x = np.array([2147483520.0, 2147483648.0, 4294967040.0, 4294967296.0, -0.99], f32)
    w.case("float32 to int32 at the end of the range", op, NO_ATTR, [x], [cast(x, np.int32)])
    w.case("float32 to uint32 at the end of the range", op, NO_ATTR, [x], [cast(x, np.uint32)])
    w.case("tiny float32 to bool", op, NO_ATTR, [np.array([1e-40, -1e-40, 0, np.nan], f32)],
           [np.array([True, True, False, True])])
    for target in (np.int32, f16, np.bool_):
        x = some((2, 3))
        w.case("type input %s" % name_of(target), op, NO_ATTR,
               [x, const(np.array(DATATYPE[name_of(target)], np.int32))],
               [cast(x, target)])
    w.case("type input absent", op, NO_ATTR, [some((1,)) * 0, None], [np.zeros(1, np.int8)])
    for shape in ((), (0,), (2, 0, 3), (1, 2, 1, 2, 1, 2, 1, 2)):
        x = some(shape)
        w.case("shape %s" % list(shape), op, NO_ATTR, [x], [cast(x, np.int16)])
    y = np.zeros(2, np.int32)
    w.case("refused: three inputs", op, NO_ATTR, [y, np.array(34, np.int32), y], [y], error="INVALID_INPUT")
    w.case("refused: no input", op, NO_ATTR, [], [y], error="INVALID_INPUT")
    w.case("refused: absent input", op, NO_ATTR, [None], [y], error="NULL_PTR")
    w.case("refused: float32 type input", op, NO_ATTR, [y, const(np.array(34, f32))], [y], error="INVALID_DATATYPE")
    w.case("refused: rank 9", op, NO_ATTR, [np.ones((1,) * 9, f32)], [np.ones((1,) * 9, np.int32)],
           error="INVALID_SHAPE")


if __name__ == "__main__":
    write(make,
          "Expected values: numpy; to integers Python's int, saturating, which no library does; "
          "equal to numpy elsewhere.")
