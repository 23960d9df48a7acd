"""BIT_SHIFT."""
import numpy as np

from common import (binary_refusals, const, f32, integer_result, name_of, NO_ATTR, NUMBERS, refuse, refuse_quantised, SHAPES,
                    UNSIGNED, write)

LEFT, RIGHT = 0, 1


def make(w):
    op = "BIT_SHIFT"
    random = np.random.default_rng(1126)

    def go(name, direction, x, y, **more):
        z = integer_result(lambda a, b: a << b if direction == LEFT else a >> b, x, np.minimum(y, 64))
        attr = {"direction": direction} if direction or len(name) % 2 else NO_ATTR  # LEFT is the default
        w.case("%s, %s" % (name, ("left", "right")[direction]), op, attr, [x, y], [z], **more)

    for direction in (LEFT, RIGHT):
        for n, (a, b) in enumerate(SHAPES):
            dtype = UNSIGNED[n % 4]
            x = random.integers(0, np.iinfo(dtype).max, a, dtype, endpoint=True)
            go("%s %s with %s" % (name_of(dtype), list(a), list(b)), direction, np.asarray(x, dtype),
               np.asarray(random.integers(0, np.iinfo(dtype).bits, b), dtype))
        for dtype in UNSIGNED:
            bits, top = np.iinfo(dtype).bits, np.iinfo(dtype).max
            places = [0, 1, 2, bits // 2, bits - 1, bits, bits + 1, top // 2 + 1, top]
            for value in (1, top, top // 2 + 1, 0, top // 3 * 2):
                go("%d by each number of places, %s" % (value, name_of(dtype)), direction, np.array(value, dtype),
                   np.array(places, dtype))
        go("NCHW", direction, np.arange(12, dtype=np.uint8).reshape(1, 2, 3, 2), np.array([[1], [2], [3]], np.uint8), fmt="NCHW")
    x, y = np.array([16, 4, 1], np.uint8), np.array([1, 2, 3], np.uint8)
    w.case("constants", op, {"direction": LEFT}, [const(x), const(y)], [x << y])
    binary_refusals(w, op, NO_ATTR, np.uint8)
    for dtype in [t for t in NUMBERS + (np.bool_,) if t not in UNSIGNED]:
        refuse(w, name_of(dtype), op, NO_ATTR, [np.ones(2, dtype), np.ones(2, dtype)], "INVALID_DATATYPE")
    refuse(w, "direction 2", op, {"direction": 2}, [x, y], "INVALID_PARAMETER")
    refuse(w, "direction -1", op, {"direction": -1}, [x, y], "INVALID_PARAMETER")
    refuse_quantised(w, op, NO_ATTR)
    w.case("refused: a result declared float32", op, NO_ATTR, [x, y], [x.astype(f32)], error="INVALID_DATATYPE")


if __name__ == "__main__":
    write(make, "Expected values: Python integers modulo 2^n.")
