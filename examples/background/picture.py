#!/usr/bin/env python3
"""picture.py FILE.png: draws a person in a room, without a photograph, in the picture that `make background` reads.
picture.py --iou CUT.png: compares the alpha channel that the program made of that picture with the drawn person.
Prints the intersection over union of the pixels with an alpha of at least 128 and those that the person covers by at
least half, and the mean absolute error of alpha, from 0 to 1. Status 1 if the first is below 0.9.

The head is a head of ../face/picture.py. What the person covers is computed from drawings with two different rooms.
"""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../face"), os.path.join(HERE, "../../tests/tools")]
import face_case  # noqa: E402
from picture import SAMPLES, Canvas, draw_eyes, draw_head, draw_nose_and_mouth, png, shade  # noqa: E402

PERSON = (232, 128, 62, 0.05, (214, 160, 126), (54, 34, 24), (40, 96, 92))
BOOKS = ((150, 60, 50), (60, 90, 130), (200, 170, 90), (80, 120, 80), (120, 80, 130))


def rectangle(canvas, left, top, right, bottom, color):
    canvas.color[(canvas.x >= left) & (canvas.x < right) & (canvas.y >= top) & (canvas.y < bottom)] = color


def draw_room(canvas):
    rectangle(canvas, 24, 24, 142, 156, (120, 96, 74))  # window
    rectangle(canvas, 32, 32, 134, 148, (190, 216, 236))
    rectangle(canvas, 80, 32, 86, 148, (120, 96, 74))
    rectangle(canvas, 12, 262, 118, 320, (104, 76, 56))  # sideboard, and a lamp on it
    rectangle(canvas, 60, 210, 66, 262, (70, 64, 60))
    rectangle(canvas, 38, 176, 88, 212, (232, 206, 150))
    for shelf in (96, 186, 276):
        for i in range(9):  # books
            x, height = 336 + 14 * i, 40 + 7 * (i * (i + shelf // 30) % 5)
            rectangle(canvas, x, shelf - height, x + 12, shelf, BOOKS[(i * 3 + shelf) % 5])
        rectangle(canvas, 326, shelf, 472, shelf + 7, (128, 98, 70))


def draw_person(canvas):
    skin, _, clothes = PERSON[4:]
    for side in (-1, 1):  # arms
        canvas.ellipse(PERSON, (1.28 * side, 2.7), (0.44, 1.3), shade(clothes, 0.86), 0.1)
    canvas.ellipse(PERSON, (0, 2.9), (1.2, 1.9), clothes, 0.05)
    draw_head(canvas, PERSON)
    draw_eyes(canvas, PERSON)
    draw_nose_and_mouth(canvas, PERSON)


def draw(room=None):
    """The picture; room: one brightness instead of the room."""
    canvas = Canvas(SAMPLES)
    if room is None:
        draw_room(canvas)
    else:
        canvas.color[:] = room
    draw_person(canvas)
    return canvas.pixels()


def iou(path):
    alpha = face_case.read_png(path)[..., 3] / 255
    covered = 1 - (draw(255).astype(float) - draw(0)).mean(axis=2) / 255
    found, drawn = alpha >= 128 / 255, covered >= 0.5
    result = (found & drawn).sum() / (found | drawn).sum()
    print("intersection over union %.4f, mean absolute error of alpha %.4f" % (result, np.abs(alpha - covered).mean()))
    return int(result < 0.9)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--iou":
        sys.exit(iou(sys.argv[2]))
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    with open(sys.argv[1], "wb") as file:
        file.write(png(draw()))


if __name__ == "__main__":
    main()
