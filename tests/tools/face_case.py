#!/usr/bin/env python3
"""face_case.py FOLDER: writes models with the shapes of the face detector, and pictures, for the test of examples/face.
face_case.py --drawn BEFORE.png AFTER.png: compares the boxes and keypoints that the program draws in wide.png.

detector.tflite has known scores and positions at some anchors. To every anchor it adds the color of one pixel of its input
(row 40, column 80) and the red of another one (row 10, column 80): red and green to the right eye, blue and the other red to
the left eye, each times 127.5. none.tflite has the same outputs with scores below 0.5, other.tflite has other shapes.

wide.png has 256 x 128 pixels, tall.png 128 x 256, small.png 32 x 16: red is the column, green the row, blue 51. Scaled to
128 x 128, wide.png and small.png have margins above and below, tall.png left and right. vast.png has 20000 x 20000 black
pixels in a small file, deep.png more data than its pixels.
"""
import os
import struct
import sys
import zlib

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../formats/tflite"))
from writer import Model  # noqa: E402

ANCHORS = 896
FINE = 2 * (5 * 16 + 7)  # two anchors of the cell in column 7, row 5 of 16 x 16, whose center is (60, 44)
COARSE = 512 + 6 * (4 * 8 + 6)  # six anchors of the cell in column 6, row 4 of 8 x 8, whose center is (104, 72)
# anchor: score before the sigmoid, center of the box relative to the anchor, its size, nose relative to the anchor
FOUND = {
    FINE: (2.0, 4, 0, 40, 20, 1, 2),
    FINE + 1: (1.0, 8, 0, 40, 20, 1, 2),  # intersection over union with the first 36/44: the same face
    FINE + 2: (1.5, 18, 0, 40, 20, 1, 2),  # the anchor (68, 44); 18/62 with the first: another face
    COARSE + 5: (0.5, 0, 0, 20, 20, 1, 2),
    COARSE + 4: (-0.1, 0, 0, 90, 90, 1, 2),  # below the least score
    100: (5.0, 0, 0, -20, 20, 1, 2),  # a box without an area
    101: (9.0, 0, 0, np.inf, 20, 1, 2),
    102: (np.nan, 0, 0, 20, 20, 1, 2),
}


def write_detector(path, offset, anchors=ANCHORS):
    scores, values = np.full((1, anchors, 1), -9, "float32"), np.zeros((1, anchors, 16), "float32")
    for anchor, found in FOUND.items():
        if anchor < anchors:
            scores[0, anchor] = found[0] + offset
            values[0, anchor, :4] = found[1:5]
            values[0, anchor, 8:10] = found[5:]
    m = Model()
    x = m.tensor("input", "float32", [1, 128, 128, 3])

    def constant(name, value, kind="int32"):
        return m.constant(name, np.array(value, kind))

    def step(operator, name, shape, inputs, **options):
        result = m.tensor(name, "float32", shape)
        m.op(operator, inputs, [result], **options)
        return result

    color = step("SLICE", "color", [1, 1, 1, 3], [x, constant("at", [0, 40, 80, 0]), constant("size", [1, 1, 1, 3])])
    other = step("SLICE", "other", [1, 1, 1, 1], [x, constant("at2", [0, 10, 80, 0]), constant("size2", [1, 1, 1, 1])])
    both = step("CONCATENATION", "both", [1, 1, 1, 4], [color, other], axis=3)
    both = step("RESHAPE", "flat", [1, 1, 4], [both, constant("shape", [1, 1, 4])], new_shape=[1, 1, 4])
    both = step("MUL", "levels", [1, 1, 4], [both, constant("factor", 127.5, "float32")])
    both = step("PAD", "padded", [1, 1, 16], [both, constant("pads", [[0, 0], [0, 0], [4, 8]])])
    boxes = step("ADD", "regressors", values.shape, [both, m.constant("values", values)])
    zero = step("RESHAPE", "one", [1, 1, 1], [other, constant("ones", [1, 1, 1])], new_shape=[1, 1, 1])
    zero = step("MUL", "zero", [1, 1, 1], [zero, constant("none", 0, "float32")])
    classes = step("ADD", "classificators", scores.shape, [zero, m.constant("scores", scores)])
    m.inputs, m.outputs = [x], [boxes, classes]
    with open(path, "wb") as f:
        f.write(m.bytes())


def write_png(path, width, height, bits, kind, rows):
    def chunk(tag, body):
        return struct.pack(">I", len(body)) + tag + body + struct.pack(">I", zlib.crc32(tag + body))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_picture(path, width, height):
    pixels = np.zeros((height, width, 3), "uint8")
    pixels[..., 0], pixels[..., 1], pixels[..., 2] = np.arange(width), np.arange(height)[:, None], 51
    write_png(path, width, height, 8, 2, np.insert(pixels.reshape(height, 3 * width), 0, 0, axis=1).tobytes())


def read_png(path):
    """Pixels of a PNG file of 8-bit RGB or RGBA, whose rows are filtered as stb_image_write does: each of the five filters."""
    with open(path, "rb") as f:
        data = f.read()
    at, body = 8, b""
    width, height = struct.unpack(">II", data[16:24])
    n = {2: 3, 6: 4}[data[25]]
    while at < len(data):
        length = struct.unpack(">I", data[at:at + 4])[0]
        body += data[at + 8:at + 8 + length] if data[at + 4:at + 8] == b"IDAT" else b""
        at += 12 + length
    rows = np.zeros((height + 1, n * width + n), int)  # a row above and a pixel to the left are 0
    for y, line in enumerate(np.frombuffer(zlib.decompress(body), "uint8").reshape(height, 1 + n * width).astype(int), 1):
        for i in range(n, n * width + n):
            left, above, corner = rows[y, i - n], rows[y - 1, i], rows[y - 1, i - n]
            paeth = min((abs(above - corner), 0, left), (abs(left - corner), 1, above), (abs(left + above - 2 * corner), 2, corner))[2]
            rows[y, i] = (line[i - n + 1] + (0, left, above, (left + above) // 2, paeth)[line[0]]) % 256
    return rows[1:, n:].reshape(height, width, n)


def check_drawn(before, after):
    """The frame of the box 188 60 228 100 is outside of it, two pixels wide; a keypoint is a square around 210 84."""
    before, after = read_png(before), read_png(after)
    assert before.shape == after.shape
    changed = (before != after).any(axis=2)
    assert changed[58:60, 186:230].all() and changed[100:102, 186:230].all()
    assert changed[58:102, 186:188].all() and changed[58:102, 228:230].all() and changed[82:86, 208:212].all()
    assert changed[60:100, 188:228].sum() < 40 and not changed[103:].any()


def distance(one, other):
    """Compares the boxes in two outputs of the program face, from left to right; status 1 if a side is over one pixel off."""
    boxes = [sorted([float(v) for v in line.split()[3:7]] for line in open(path) if line.startswith("face ")) for path in (one, other)]
    if len(boxes[0]) != len(boxes[1]):
        sys.exit("%d faces, expected %d" % (len(boxes[1]), len(boxes[0])))
    most = float(np.abs(np.array(boxes[0]) - np.array(boxes[1])).max())
    print("largest distance between the sides of the boxes: %.2f pixels" % most)
    sys.exit(most > 1)


if __name__ == "__main__":
    if sys.argv[1] == "--distance":
        distance(*sys.argv[2:])
    if sys.argv[1] == "--drawn":
        check_drawn(*sys.argv[2:])
        sys.exit()
    folder = sys.argv[1]
    write_detector(folder + "/detector.tflite", 0)
    write_detector(folder + "/none.tflite", -20)
    write_detector(folder + "/other.tflite", 0, 600)
    write_picture(folder + "/wide.png", 256, 128)
    write_picture(folder + "/tall.png", 128, 256)
    write_picture(folder + "/small.png", 32, 16)
    write_png(folder + "/vast.png", 20000, 20000, 1, 0, bytes(20000 * 2501))
    write_png(folder + "/deep.png", 28, 28, 8, 0, bytes(32 << 20))
