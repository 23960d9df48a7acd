#!/usr/bin/env python3
"""picture.py [--keypoints | --samples N FILE.npy | FILE.png]: draws three faces, without a photograph, in the picture that
`make face` reads.

A face is a stack of soft ellipses: neck, ears, hair, head, eyes, brows, nose, mouth. Its center and its scale are in FACES.
--keypoints prints instead where the keypoints of the detector are: one line per face, from left to right, "x y" of the
right eye (left in the picture), the left eye, the tip of the nose and the center of the mouth, in pixels. --samples draws N
pictures of one to three other faces as inputs of the network, float32 [N,128,128,3] from -1 to 1, to quantize it with
(`make face-int8`).
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
    def __init__(self, samples):
        self.samples = samples
        self.y, self.x = (np.mgrid[0:HEIGHT * samples, 0:WIDTH * samples] + 0.5) / samples
        wall = 0.75 + 0.25 * np.cos((self.x - 150) / 300) * np.cos(self.y / 400)
        self.color = wall[..., None] * np.array((176.0, 190.0, 200.0))

    def around(self, face, center, radii):
        """The rows and columns of samples that an ellipse can reach."""
        reach = face[2] * max(radii)
        return tuple(slice(max(0, int((c - reach) * self.samples)), max(0, int((c + reach) * self.samples) + 2))
                     for c in reversed(place(face, center)))

    def local(self, face, part):
        """Coordinates of the samples, in halves of the head's height from the center of the head."""
        x, y, size, tilt = face[:4]
        dx, dy = (self.x[part] - x) / size, (self.y[part] - y) / size
        return dx * np.cos(tilt) + dy * np.sin(tilt), dy * np.cos(tilt) - dx * np.sin(tilt)

    def ellipse(self, face, center, radii, color, soft=0.06, strength=1.0, turn=0.0):
        """Blends color into the ellipse; soft: width of its edge as a fraction of the radius."""
        part = self.around(face, center, radii)
        u, v = self.local(face, part)
        u, v = u - center[0], v - center[1]
        u, v = u * np.cos(turn) + v * np.sin(turn), v * np.cos(turn) - u * np.sin(turn)
        inside = np.clip((1 - np.hypot(u / radii[0], v / radii[1])) / soft, 0, 1)
        inside = inside * inside * (3 - 2 * inside) * strength
        self.color[part] += inside[..., None] * (np.array(color, float) - self.color[part])

    def pixels(self):
        color = self.color.reshape(HEIGHT, self.samples, WIDTH, self.samples, 3).mean(axis=(1, 3))
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


def draw(faces, samples):
    canvas = Canvas(samples)
    for face in faces:
        draw_head(canvas, face)
        draw_eyes(canvas, face)
        draw_nose_and_mouth(canvas, face)
    return canvas.pixels()


def random_face(rng, x):
    """A face around column x: place, size, tilt, and colors of skin, hair and clothes."""
    size = rng.uniform(40, 90)
    skin = np.array((235, 185, 155)) * rng.uniform(0.4, 1.05)
    return (x + rng.uniform(-30, 30), rng.uniform(110, 210), size, rng.uniform(-0.3, 0.3), tuple(skin),
            tuple(rng.uniform(10, 160) * np.array((1, 0.7, 0.5))), tuple(rng.uniform(20, 220, 3)))


def overlaps(first, count, size, step):
    """[count, size]: share of source pixel j in the mean of destination pixel i, which begins at (i - first) * step."""
    begin = (np.arange(count)[:, None] - first) * step
    source = np.arange(size)[None]
    return np.clip(np.minimum(begin + step, source + 1) - np.maximum(begin, source), 0, 1) / step


def letterbox(pixels):
    """The input of the network: each of 128 x 128 pixels is the mean of the pixels it covers, the margins are black."""
    step = WIDTH / 128
    rows, columns = overlaps((128 - HEIGHT / step) / 2, 128, HEIGHT, step), overlaps(0, 128, WIDTH, step)
    return (np.einsum("yi,ijc,xj->yxc", rows, pixels, columns, optimize=True) / 127.5 - 1).astype(np.float32)


def samples(count):
    rng = np.random.default_rng(1)
    return np.stack([letterbox(draw([random_face(rng, x) for x in rng.permutation((90, 240, 390))[:rng.integers(1, 4)]], 1))
                     for _ in range(count)])


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
    if len(sys.argv) == 4 and sys.argv[1] == "--samples" and sys.argv[2].isdigit() and int(sys.argv[2]) > 0:
        np.save(sys.argv[3], samples(int(sys.argv[2])))
        return
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    with open(sys.argv[1], "wb") as file:
        file.write(png(draw(FACES, SAMPLES)))


if __name__ == "__main__":
    main()
