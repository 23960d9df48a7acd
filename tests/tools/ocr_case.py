#!/usr/bin/env python3
"""ocr_case.py FOLDER: writes networks, dictionaries and pictures for the test of examples/ocr.
ocr_case.py FOLDER --drawn FILE.png: compares the boxes that the program draws in lines.png.

The networks have the interfaces of PP-OCRv4, and see what the colors of a picture say:
- detector: the probability of text is blue / 255;
- classifier: the text is upside down if column 40 of 192 is red;
- recognizer: its steps are columns 4, 12, 20, ... of the middle row; word k has green 20 k. Green 30, between two words,
  has a probability of 0.4.

Folder good has all files, the others differ in one: its name.
"""
import os
import shutil
import sys

import numpy as np

import cli_models as onnx
from face_case import read_png, write_png

DICTIONARY = "ä\r\n茶\nc\nd"  # words 1 to 4; 0 is the blank, 5 a space
WORDS = 6


def constant(name, values, dtype="int64"):
    return onnx.tensor(np.array(values, dtype), name)


def slices(source, result, starts, ends, steps=(1, 1, 1, 1)):
    """A Slice of all four axes, and its constants."""
    names = [result + s for s in ("/starts", "/ends", "/axes", "/steps")]
    values = (starts, ends, (0, 1, 2, 3), steps)
    return onnx.node("Slice", [source] + names, [result]), [constant(n, v) for n, v in zip(names, values)]


def write(path, nodes, constants, result, name="x"):
    inputs, outputs = [onnx.value(name, "float32", ["n", 3, "h", "w"])], [onnx.value("y", "float32", result)]
    onnx.model(path, nodes, inputs, outputs, constants)


def write_detector(path, more=(), name="x"):
    cut, constants = slices(name, "blue", (0, 0, 0, 0), (1, 1, 9999, 9999))
    constants += [constant("scale", [0.229], "float32"), constant("offset", [0.485], "float32")]
    nodes = [cut, onnx.node("Mul", ["blue", "scale"], ["scaled"]),
             onnx.node("Add", ["scaled", "offset"], ["level" if more else "y"]), *more]
    write(path, nodes, constants, ["n", 1, "h", "w"], name)


def write_classifier(path):
    cut, constants = slices("x", "red", (0, 2, 24, 40), (1, 3, 25, 41))
    constants += [constant("shape", [1, 1]), constant("one", [1], "float32")]
    write(path, [cut, onnx.node("Reshape", ["red", "shape"], ["down"]), onnx.node("Sub", ["one", "down"], ["up"]),
                 onnx.node("Concat", ["up", "down"], ["y"], axis=1)], constants, ["n", 2])


def write_recognizer(path):
    cut, constants = slices("x", "green", (0, 1, 24, 4), (1, 2, 25, 9999), (1, 1, 1, 8))
    constants += [constant("shape", [1, -1, 1]), constant("range", [127.5 / 20], "float32"),
                  constant("one", [1], "float32"), constant("slope", [-1.2], "float32"),
                  constant("words", np.arange(WORDS), "float32")]
    nodes = [onnx.node("Reshape", ["green", "shape"], ["column"]), onnx.node("Add", ["column", "one"], ["level"]),
             onnx.node("Mul", ["level", "range"], ["word"]), onnx.node("Sub", ["word", "words"], ["difference"]),
             onnx.node("Abs", ["difference"], ["distance"]), onnx.node("Mul", ["distance", "slope"], ["decrease"]),
             onnx.node("Add", ["decrease", "one"], ["probability"]), onnx.node("Relu", ["probability"], ["y"])]
    write(path, [cut, *nodes], constants, ["n", "t", WORDS])


def write_folders(folder):
    good = folder + "/good"
    os.makedirs(good)
    write_detector(good + "/ch_PP-OCRv4_det_infer.onnx")
    write_classifier(good + "/ch_ppocr_mobile_v2.0_cls_infer.onnx")
    write_recognizer(good + "/ch_PP-OCRv4_rec_infer.onnx")
    with open(good + "/ppocr_keys_v1.txt", "w", encoding="utf-8", newline="") as f:
        f.write(DICTIONARY)
    for name in ("shape", "name", "dictionary", "empty", "long", "classifier", "file"):
        shutil.copytree(good, folder + "/" + name)
    doubled = onnx.node("Concat", ["level", "level"], ["y"], axis=1)
    write_detector(folder + "/shape/ch_PP-OCRv4_det_infer.onnx", [doubled])
    write_detector(folder + "/name/ch_PP-OCRv4_det_infer.onnx", name="image")
    write_recognizer(folder + "/classifier/ch_ppocr_mobile_v2.0_cls_infer.onnx")
    for name, text in ("dictionary", "a\nb\n"), ("empty", ""), ("long", "word\n" * 100000), ("file", DICTIONARY):
        with open(folder + "/" + name + "/ppocr_keys_v1.txt", "w", encoding="utf-8", newline="") as f:
            f.write(text)
    with open(folder + "/file/ch_PP-OCRv4_rec_infer.onnx", "wb") as f:
        f.write(b"no model")


def box(pixels, left, top, right, bottom, words=(), blue=255, down=False):
    """A rectangle of text, in which each word has the same width, or down the same height."""
    part = pixels[top:bottom, left:right]
    part[..., 2] = blue
    for word, stripe in zip(words, np.array_split(part, max(1, len(words)), axis=0 if down else 1)):
        stripe[..., 1] = 20 * word


def save(path, pixels):
    height, width = pixels.shape[:2]
    write_png(path, width, height, 8, 2, np.insert(pixels.reshape(height, 3 * width), 0, 0, axis=1).tobytes())


def write_pictures(folder):
    lines = np.zeros((256, 320, 3), "uint8")
    box(lines, 180, 36, 280, 56, (4, 0, 0, 4))  # right of the next one, and a little higher
    box(lines, 40, 40, 140, 60, (1, 2, 5, 3))
    box(lines, 20, 100, 120, 120, (2,), 140)  # a mean probability of 0.55
    box(lines, 160, 100, 162, 160, (2,))  # too thin
    box(lines, 200, 100, 300, 120, (1.5,))  # a score of 0.4
    box(lines, 200, 160, 300, 180, (0,))  # only blanks
    box(lines, 30, 150, 50, 250, (3, 0, 0, 1), down=True)
    box(lines, 100, 200, 200, 220, (1, 2, 3, 4))
    lines[195:225, 110:150, 0] = 255
    save(folder + "/lines.png", lines)
    wide = np.zeros((64, 1920, 3), "uint8")
    box(wide, 400, 16, 600, 48, (2, 2, 0, 3))
    save(folder + "/wide.png", wide)
    long = np.zeros((32, 960, 3), "uint8")
    box(long, 8, 14, 952, 18, (4,))
    save(folder + "/line.png", long)
    turned = np.zeros((192, 192, 3), "uint8")
    y, x = np.mgrid[0:192, 0:192] + 0.5 - 96
    c, s = np.cos(np.radians(42)), np.sin(np.radians(42))
    turned[(abs(x * c + y * s) < 50) & (abs(y * c - x * s) < 10)] = (0, 60, 255)
    save(folder + "/turned.png", turned)
    corners = np.zeros((96, 320, 3), "uint8")  # two texts, each of two rectangles that have only a corner in common
    for left, top in (40, 30), (90, 40), (250, 30), (200, 40):
        box(corners, left, top, left + 50, top + 10, (3,))
    save(folder + "/corners.png", corners)
    save(folder + "/none.png", np.zeros((40, 50, 3), "uint8"))
    save(folder + "/pixel.png", np.full((1, 1, 3), 255, "uint8"))
    many = np.zeros((960, 320, 3), "uint8")  # 4800 boxes; the red noise keeps the file from being small for its pixels
    inside = (np.arange(960)[:, None] % 8 < 6) & (np.arange(320) % 8 < 6)
    many[inside, 1], many[inside, 2], many[..., 0] = 60, 255, np.random.default_rng(1).integers(0, 100, (960, 320))
    save(folder + "/many.png", many)


def check_drawn(folder, path):
    """The frame of the box of "cä", 30 150 50 250 with 12.5 pixels around it, and no frame of a box without text."""
    before, after = read_png(folder + "/lines.png"), read_png(path)
    frame = (after == (0, 200, 90)).all(axis=2)
    assert frame[138:256, 17].all() and frame[138:256, 62].all() and frame[137, 18:62].all()
    assert not frame[139:255, 20:60].any() and not frame[85:135].any()
    assert ((before == after).all(axis=2) | frame).all()


if __name__ == "__main__":
    if sys.argv[2:3] == ["--drawn"]:
        check_drawn(sys.argv[1], sys.argv[3])
        sys.exit()
    write_folders(sys.argv[1])
    write_pictures(sys.argv[1])
