#!/usr/bin/env python3
"""picture.py [--keypoints | FILE.png]: draws three faces, without a photograph, in the picture that `make face` reads.

A face is a stack of soft ellipses: neck, ears, hair, head, eyes, brows, nose, mouth. Its center and its scale are in FACES.
--keypoints prints instead where the keypoints of the detector are: one line per face, from left to right, "x y" of the
right eye (left in the picture), the left eye, the tip of the nose and the center of the mouth, in pixels.
"""
import struct
import sys
import zlib

import numpy as np

WIDTH, HEIGHT = 480, 320
SAMPLES = 2  # per pixel and axis

# center of the head, half its height, tilt in radians; colors of skin, hair and clothes
FACES = (
    (98, 168, 66, -0.08, (224, 172, 140), (70, 42, 26), (52, 84, 120)),
    (240, 146, 72, 0.03, (150, 98, 68), (24, 20, 20), (170, 140, 60)),
    (384, 174, 64, 0.10, (240, 196, 170), (150, 104, 50), (120, 48, 62)),
)

# in halves of a head's height, from its center: right eye, left eye, tip of the nose, center of the mouth
KEYPOINTS = ((-0.31, -0.10), (0.31, -0.10), (0.0, 0.16), (0.0, 0.48))


def place(face, point):
    """The position in the picture of a point of the face."""
    x, y, size, tilt = face[:4]
    return (x + size * (point[0] * np.cos(tilt) - point[1] * np.sin(tilt)),
            y + size * (point[0] * np.sin(tilt) + point[1] * np.cos(tilt)))


class Canvas:
    def __init__(self):
        self.y, self.x = (np.mgrid[0:HEIGHT * SAMPLES, 0:WIDTH * SAMPLES] + 0.5) / SAMPLES
        wall = 0.75 + 0.25 * np.cos((self.x - 150) / 300) * np.cos(self.y / 400)
        self.color = wall[..., None] * np.array((176.0, 190.0, 200.0))

    def local(self, face):
        """Coordinates of every sample, in halves of the head's height from the center of the head."""
        x, y, size, tilt = face[:4]
        dx, dy = (self.x - x) / size, (self.y - y) / size
        return dx * np.cos(tilt) + dy * np.sin(tilt), dy * np.cos(tilt) - dx * np.sin(tilt)

    def ellipse(self, face, center, radii, color, soft=0.06, strength=1.0, turn=0.0):
        """Blends color into the ellipse; soft: width of its edge as a fraction of the radius."""
        u, v = self.local(face)
        u, v = u - center[0], v - center[1]
        u, v = u * np.cos(turn) + v * np.sin(turn), v * np.cos(turn) - u * np.sin(turn)
        inside = np.clip((1 - np.hypot(u / radii[0], v / radii[1])) / soft, 0, 1)
        inside = inside * inside * (3 - 2 * inside) * strength
        self.color += inside[..., None] * (np.array(color, float) - self.color)

    def pixels(self):
        color = self.color.reshape(HEIGHT, SAMPLES, WIDTH, SAMPLES, 3).mean(axis=(1, 3))
        return np.clip(color + 0.5, 0, 255).astype(np.uint8)


def shade(color, factor):
    return tuple(min(255.0, factor * c) for c in color)


def draw_head(canvas, face):
    skin, hair, clothes = face[4:]
    canvas.ellipse(face, (0, 2.05), (1.45, 1.05), clothes)
    canvas.ellipse(face, (0, 0.95), (0.36, 0.55), shade(skin, 0.72), 0.2)
    canvas.ellipse(face, (0, -0.22), (0.86, 0.98), hair, 0.08)
    for side in (-1, 1):
        canvas.ellipse(face, (0.76 * side, 0.06), (0.11, 0.20), shade(skin, 0.8), 0.3)
    canvas.ellipse(face, (0, 0.08), (0.74, 0.94), shade(skin, 0.74), 0.06)
    canvas.ellipse(face, (0, 0.06), (0.72, 0.92), skin, 0.7)
    canvas.ellipse(face, (0, -0.42), (0.42, 0.22), shade(skin, 1.12), 1.4, 0.6)  # light on the forehead
    canvas.ellipse(face, (0, -0.90), (0.66, 0.28), hair, 0.3)
    for side in (-1, 1):
        canvas.ellipse(face, (0.40 * side, 0.26), (0.20, 0.16), shade(skin, 1.08), 1.2, 0.6)  # cheek


def draw_eyes(canvas, face):
    skin, hair = face[4:6]
    for side in (-1, 1):
        x, y = 0.31 * side, -0.10
        canvas.ellipse(face, (x, y - 0.02), (0.22, 0.15), shade(skin, 0.62), 0.9, 0.8)  # socket
        canvas.ellipse(face, (x, y), (0.145, 0.075), (236, 232, 228), 0.2)
        canvas.ellipse(face, (x, y), (0.072, 0.072), (62, 44, 34), 0.2)
        canvas.ellipse(face, (x, y), (0.036, 0.036), (8, 8, 8), 0.3)
        canvas.ellipse(face, (x + 0.02, y - 0.025), (0.016, 0.016), (250, 250, 250), 0.4)
        canvas.ellipse(face, (x, y - 0.066), (0.165, 0.026), (28, 20, 18), 0.5)  # upper lid
        canvas.ellipse(face, (x, y - 0.235), (0.20, 0.042), shade(hair, 0.8), 0.5, 0.9, -0.08 * side)  # brow


def draw_nose_and_mouth(canvas, face):
    skin = face[4]
    canvas.ellipse(face, (0, 0.00), (0.05, 0.22), shade(skin, 1.15), 1.2, 0.7)  # bridge
    canvas.ellipse(face, (0.075, 0.02), (0.04, 0.22), shade(skin, 0.66), 1.2, 0.5)
    canvas.ellipse(face, (0, 0.21), (0.15, 0.06), shade(skin, 0.60), 0.8, 0.8)
    canvas.ellipse(face, (0, 0.16), (0.10, 0.08), shade(skin, 1.10), 0.9, 0.8)  # tip
    for side in (-1, 1):
        canvas.ellipse(face, (0.065 * side, 0.225), (0.035, 0.022), shade(skin, 0.28), 0.6, 0.9)  # nostril
    canvas.ellipse(face, (0, 0.445), (0.24, 0.055), (164, 74, 70), 0.4)
    canvas.ellipse(face, (0, 0.515), (0.20, 0.065), (190, 92, 86), 0.5)
    canvas.ellipse(face, (0, 0.48), (0.25, 0.018), (88, 34, 34), 0.6)
    canvas.ellipse(face, (0, 0.64), (0.20, 0.05), shade(skin, 0.66), 1.2, 0.6)  # below the lip


def png(pixels):
    """Bytes of a PNG file of 8-bit RGB pixels, each row as its difference to the row above."""
    def chunk(tag, body):
        return struct.pack(">I", len(body)) + tag + body + struct.pack(">I", zlib.crc32(tag + body))
    height, width = pixels.shape[:2]
    rows = np.diff(pixels.reshape(height, 3 * width), axis=0, prepend=np.zeros((1, 3 * width), np.uint8))
    filtered = np.insert(rows, 0, 2, axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(filtered.tobytes(), 9))
            + chunk(b"IEND", b""))


def main():
    if sys.argv[1:] == ["--keypoints"]:
        for face in FACES:
            print(" ".join("%.1f %.1f" % place(face, point) for point in KEYPOINTS))
        return
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    canvas = Canvas()
    for face in FACES:
        draw_head(canvas, face)
        draw_eyes(canvas, face)
        draw_nose_and_mouth(canvas, face)
    with open(sys.argv[1], "wb") as file:
        file.write(png(canvas.pixels()))


if __name__ == "__main__":
    main()
