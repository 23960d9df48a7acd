#!/usr/bin/env python3
"""Writes build/digits-data/heldback.bin: the 2,000 held-back images and labels, for a C program to measure with.

Layout, integers little-endian: the four bytes "NNDG"; uint32 count, height, width; count * height * width pixels,
one byte each, 0 black to 255 ink, row by row; then count labels, one byte each, 0 to 9. Digit 0 comes first, then
digit 1 and so on, each in the package's order. Needs numpy.
"""
import os
import struct

import digits_data


def main():
    """Writes the file and prints what it holds."""
    _, (images, labels) = digits_data.load()
    path = os.path.join(digits_data.DATA_DIR, "heldback.bin")
    with open(path, "wb") as file:
        file.write(b"NNDG" + struct.pack("<III", *images.shape) + images.tobytes() + labels.tobytes())
    print("%s: %d images of %d x %d, %d bytes" % ((os.path.relpath(path),) + images.shape + (os.path.getsize(path),)))


if __name__ == "__main__":
    main()
