#!/usr/bin/env python3
"""Writes the images for `nnrt quantize` and `nnrt accuracy` into build/digits-data.

training.npy: the 8,000 training images; heldback.npy: the 2,000 held-back images, both float32 [N,1,28,28] from 0 (black) to
1 (ink), as the network takes them; heldback-labels.npy: the held-back digits, int64 [2000]. Needs numpy.
"""
import os

import numpy as np

import digits_data


def write(name, array):
    """Writes a file and prints its shape."""
    path = os.path.join(digits_data.DATA_DIR, name)
    np.save(path, array)
    print("%s: %s %s" % (os.path.relpath(path), array.dtype, list(array.shape)))


def real(images):
    """uint8 [N,28,28] as the network's input."""
    return (images.astype(np.float32) / np.float32(255))[:, None]


def main():
    """Writes the three files."""
    (training, _), (heldback, labels) = digits_data.load()
    write("training.npy", real(training))
    write("heldback.npy", real(heldback))
    write("heldback-labels.npy", labels.astype(np.int64))


if __name__ == "__main__":
    main()
