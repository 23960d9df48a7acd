"""DECODE_FLOAT."""
import numpy as np

from common import f32, write
from float_formats import decode, FORMATS, width


def make(w):
    op = "DECODE_FLOAT"
    for form in FORMATS:
        name, number, bits = form[0], form[1], width(form)
        values = np.array(decode(form), f32)
        codes = np.arange(1 << bits, dtype=np.uint16 if bits == 16 else np.uint8)
        if bits == 16:  # all codes would make the file large
            pick = np.unique(np.concatenate([np.arange(0, 1 << 16, 509), [1, 127, 128, 32639, 32640, 32641, 32768, 65408]]))
            codes, values = codes[pick], values[pick]
        w.case("all of " + name if bits < 16 else "some of " + name, op, {"format": number}, [codes], [values])
    powers = np.ldexp(f32(1), np.arange(-127, 128)).astype(f32)
    w.case("all of e8m0fnu", op, {"format": 5}, [np.arange(256, dtype=np.uint8)],
           [np.concatenate([powers, [np.nan]]).astype(f32)])
    high = np.array([[0x13, 0x25], [0xf7, 0x88]], np.uint8)
    w.case("the high bits of a code of 4 bits do not count", op, {"format": 6}, [high],
           [np.array(decode(FORMATS[5]), f32)[high & 15]])
    w.case("no elements", op, {"format": 1}, [np.zeros((2, 0, 3), np.uint8)], [np.zeros((2, 0, 3), f32)])
    w.case("uint8 codes of bfloat16", op, {"format": 0}, [np.zeros(3, np.uint8)], [np.zeros(3, f32)],
           error="INVALID_DATATYPE")
    w.case("uint16 codes of float8", op, {"format": 3}, [np.zeros(3, np.uint16)], [np.zeros(3, f32)],
           error="INVALID_DATATYPE")
    w.case("an unknown format", op, {"format": 7}, [np.zeros(3, np.uint8)], [np.zeros(3, f32)],
           error="INVALID_PARAMETER")
    w.case("to float16", op, {"format": 1}, [np.zeros(3, np.uint8)], [np.zeros(3, np.float16)],
           error="INVALID_DATATYPE")


if __name__ == "__main__":
    write(make, "Expected values: the definition of each format (float_formats.py).")
