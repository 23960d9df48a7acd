"""ENCODE_FLOAT."""
import numpy as np

from common import f16, f32, f64, write
from float_formats import decode, encode, FORMATS, power_code, width


def samples(form):
    """Every number of a format of up to 8 bits, the halves between them, both neighbors of these, and large ones."""
    numbers = np.array([v for v in decode(form) if np.isfinite(v)], f64)
    if len(numbers) > 256:
        numbers = numbers[::1009]
    numbers = np.sort(np.unique(numbers))
    halves = (numbers[1:] + numbers[:-1]) / 2
    top = numbers[-1] + (numbers[-1] - numbers[-2]) / 2 * np.array([0.5, 1, 1.5, 4])
    exact = np.concatenate([numbers, halves, top, -top, [0.0, -0.0, np.inf, -np.inf, np.nan]])
    near = halves.astype(f32)
    return exact, np.concatenate([np.nextafter(near, f32(np.inf)), np.nextafter(near, f32(-np.inf))])


def make(w):
    op = "ENCODE_FLOAT"

    def go(name, form, x, saturate):
        codes = [encode(form, float(v), saturate) for v in x.reshape(-1)]
        y = np.array(codes, np.uint16 if width(form) == 16 else np.uint8).reshape(x.shape)
        w.case(name, op, {"format": form[1], "saturate": saturate}, [x], [y])

    for form in FORMATS:
        exact, near = samples(form)
        with np.errstate(over="ignore"):
            for saturate in (True, False):
                mark = form[0] + (", saturated" if saturate else ", not saturated")
                go(mark, form, exact.astype(f32), saturate)
                go(mark + ", float16", form, exact[::3].astype(f16), saturate)
            go(form[0] + " beside halves", form, near, True)
            wide = np.concatenate([exact, [1e300, -1e300, 1e-310, 5e-324, 0.1, 1 / 3, 2.0 ** -150]])
            go(form[0] + " of float64", form, wide, False)
        # between float32 and float64 a value above a half becomes the half: rounding once matters
        half = exact[(len(exact) - 13) // 2 + 5]
        go(form[0] + " of float64 rounds once", form, np.nextafter([half, -half], [np.inf, -np.inf]), True)
    tiny = 2.0 ** -149
    x = np.array([0, -0.0, 1, -1, 1.5, 1.49, 1.51, 0.75, 3e38, 3.4e38, 1.7e38, -2.6e38, 2.0 ** -127, 2.0 ** -127 + tiny,
                  2.0 ** -126, 2.0 ** -126 - tiny, tiny, 1e-40, 0.124, np.inf, -np.inf, np.nan], f32)
    for number, rounding in enumerate(("up", "down", "nearest")):
        for saturate in (True, False):
            y = np.array([power_code(float(v), saturate, rounding) for v in x], np.uint8)
            w.case("e8m0fnu %s%s" % (rounding, ", saturated" if saturate else ""), op,
                   {"format": 5, "saturate": saturate, "rounding": number}, [x], [y])
    wide = np.array([1e300, 1e-300, 0.5, 0.3, 5e-324, 1.25], f64)
    w.case("e8m0fnu of float64", op, {"format": 5}, [wide], [np.array([power_code(v, True, "up") for v in wide], np.uint8)])
    wide = np.array([1.5, 1e-7, 65504, 0.3], f16)
    w.case("e8m0fnu of float16", op, {"format": 5}, [wide],
           [np.array([power_code(float(v), True, "up") for v in wide], np.uint8)])
    w.case("two axes", op, {"format": 1}, [np.array([[1, 2], [3, 4]], f32)], [np.array([[56, 64], [68, 72]], np.uint8)])
    w.case("no elements", op, {"format": 3}, [np.zeros((0, 2), f32)], [np.zeros((0, 2), np.uint8)])
    w.case("bfloat16 to uint8", op, {"format": 0}, [np.zeros(3, f32)], [np.zeros(3, np.uint8)], error="INVALID_DATATYPE")
    w.case("float8 to uint16", op, {"format": 2}, [np.zeros(3, f32)], [np.zeros(3, np.uint16)], error="INVALID_DATATYPE")
    w.case("an unknown format", op, {"format": -1}, [np.zeros(3, f32)], [np.zeros(3, np.uint8)],
           error="INVALID_PARAMETER")
    w.case("integers", op, {"format": 1}, [np.zeros(3, np.int32)], [np.zeros(3, np.uint8)], error="INVALID_DATATYPE")


if __name__ == "__main__":
    write(make, "Expected values: search among the numbers of each format (float_formats.py).")
