"""background_case.py FOLDER: writes models with the shapes of the selfie segmentation, and pictures, for the test of
examples/background.
background_case.py --check BEFORE.png AFTER.png: compares the colors and the alpha channel that the program made.

red.tflite returns the red of its input, scaled and shifted: 1.25 * red - 0.125, so that some alphas are clipped.
other.tflite has 128 x 128 pixels. large.png, small.png and one.png have random colors and 520 x 300, 24 x 40 and 1 x 1
pixels; vast.png declares 20000 x 20000. The expected alpha is computed with matrices: means over rows and columns, then
linear interpolation of rows and columns.
"""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../formats/tflite"), os.path.join(HERE, "../../examples/face")]
from face_case import read_png, write_png  # noqa: E402
from picture import overlaps  # noqa: E402
from writer import Model  # noqa: E402


def write_model(path, side):
    m = Model()
    x = m.tensor("x", "float32", [1, side, side, 3])
    red, scaled, y = (m.tensor(name, "float32", [1, side, side, 1]) for name in ("red", "scaled", "y"))
    size = m.constant("size", np.array([1, side, side, 1], "int32"))
    m.op("SLICE", [x, m.constant("at", np.zeros(4, "int32")), size], [red])
    m.op("MUL", [red, m.constant("factor", np.float32(1.25))], [scaled])
    m.op("SUB", [scaled, m.constant("offset", np.float32(0.125))], [y])
    m.inputs, m.outputs = [x], [y]
    with open(path, "wb") as f:
        f.write(m.bytes())


def write_picture(path, width, height):
    pixels = np.random.default_rng(1).integers(0, 256, (height, 3 * width), dtype="uint8")
    write_png(path, width, height, 8, 2, np.insert(pixels, 0, 0, axis=1).tobytes())


def interpolation(size):
    """[size, 256]: weight of mask pixel j at the center of pixel i of the picture, between their centers."""
    at = np.clip((np.arange(size) + 0.5) * 256 / size - 0.5, 0, 255)
    return np.clip(1 - np.abs(at[:, None] - np.arange(256)), 0, None)


def check(before, after):
    picture, cut = read_png(before), read_png(after)
    height, width = picture.shape[:2]
    assert cut.shape == (height, width, 4) and (cut[..., :3] == picture).all(), "the colors differ"
    mean = overlaps(0, 256, height, height / 256) @ (picture[..., 0] / 255) @ overlaps(0, 256, width, width / 256).T
    alpha = interpolation(height) @ (1.25 * mean - 0.125) @ interpolation(width).T
    most = np.abs(np.clip(alpha, 0, 1) * 255 - cut[..., 3]).max()
    print("alpha from %d to %d, largest difference %.3f" % (cut[..., 3].min(), cut[..., 3].max(), most))
    assert most < 0.51, "alpha differs by %.2f" % most


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        check(*sys.argv[2:])
        sys.exit()
    folder = sys.argv[1]
    write_model(folder + "/red.tflite", 256)
    write_model(folder + "/other.tflite", 128)
    write_picture(folder + "/large.png", 520, 300)
    write_picture(folder + "/small.png", 24, 40)
    write_picture(folder + "/one.png", 1, 1)
    write_png(folder + "/vast.png", 20000, 20000, 1, 0, bytes(20000 * 2501))
