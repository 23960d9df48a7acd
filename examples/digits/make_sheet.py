#!/usr/bin/env python3
"""Writes sheet.png and digit_0.png .. digit_9.png next to this file: held-back digits as 8-bit grey PNG files.

sheet.png is 280 x 280: row r holds ten samples of digit r, held-back images number 0, 20, 40, ... 180 of that digit.
digit_d.png is 28 x 28: held-back image number 10 of digit d, which is not on the sheet.
The positions are fixed; nothing is chosen by what the network makes of an image. Needs numpy.
"""
import os
import struct
import zlib

import numpy as np

import digits_data

SHEET_STEP = 20
SINGLE = 10


def chunk(kind, body):
    """One PNG chunk: length, kind, body, CRC-32 of kind and body."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(image):
    """image, uint8 [height, width], as an 8-bit greyscale PNG file, not interlaced, no row filter."""
    height, width = image.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = np.concatenate((np.zeros((height, 1), np.uint8), image), axis=1).tobytes()
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9))
            + chunk(b"IEND", b""))


def write(name, image):
    """Writes image as the PNG file `name` next to this script and prints its size."""
    path = os.path.join(digits_data.HERE, name)
    with open(path, "wb") as file:
        file.write(png(image))
    print("%s: %d x %d, %d bytes" % (name, image.shape[1], image.shape[0], os.path.getsize(path)))


def main():
    """Writes the sheet and the ten single digits."""
    _, (images, labels) = digits_data.load()
    by_digit = [images[labels == digit] for digit in range(10)]
    write("sheet.png", np.vstack([np.hstack(list(held[::SHEET_STEP])) for held in by_digit]))
    for digit, held in enumerate(by_digit):
        write("digit_%d.png" % digit, held[SINGLE])


if __name__ == "__main__":
    main()
