"""wake_case.py FOLDER: writes models with the shapes of openWakeWord's, and sounds, for the test of examples/wake.

melspectrogram.onnx: value b of mel frame j is sample 160 * j + b of its 1760. embedding_model.onnx: the first three of
its 76 mel frames. first.onnx: the first value of 16 embeddings; last.onnx: the last value of 34; both turned back to
samples / 32768. So at step k, whose new samples begin at 1280 * k, first sees the sample 1280 * (k - 15) - 11360, and
last 1280 * k - 11009.

pulses.wav has 4 s of silence, and single samples for first: 0.75 at 160 (step 24, 2.00 s), 0.875 at 10400 (step 32:
0.64 s later, too early to be found again) and 0.625 at 34720 (step 51, 4.16 s); for last: 0.5 at 511 (step 9, 0.80 s),
0.4375 at 1791. rate8.wav has 8000 samples per second. Models of other shapes: wide.onnx (41 embeddings), odd.onnx (95
values), two.onnx (two scores), whole.onnx (int32); the folder other has an embedding_model.onnx of 80 frames.
"""
import os
import shutil
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_models import model, node, tensor, value  # noqa: E402

folder = sys.argv[1] + "/"


def numbers(**arrays):
    return [tensor(np.array(a, "float32" if name in ("unit", "two") else "int64"), name) for name, a in arrays.items()]


def mel():
    nodes = [node("Slice", ["input", "zero", "end", "axis"], ["new"]), node("Reshape", ["new", "shape"], ["cut"]),
             node("Slice", ["cut", "zero", "bands", "last"], ["output"])]
    model(folder + "melspectrogram.onnx", nodes, [value("input", "float32", ["batch", "samples"])],
          [value("output", "float32", ["time", 1, None, 32])],
          numbers(zero=[0], end=[1280], axis=[1], shape=[1, 1, 8, 160], bands=[32], last=[3]))


def embedding(path, frames):
    nodes = [node("Slice", ["input_1", "zero", "end", "axis"], ["oldest"]),
             node("Reshape", ["oldest", "shape"], ["output"])]
    model(path, nodes, [value("input_1", "float32", ["n", frames, 32, 1])],
          [value("output", "float32", ["n", 1, 1, 96])], numbers(zero=[0], end=[3], axis=[1], shape=[-1, 1, 1, 96]))


def word(name, embeddings, at, values=96, scores=1):
    """Scores: the value at this place, (x / 10 + 2) for a sample x, turned back."""
    nodes = [node("Reshape", ["x", "all"], ["flat"]), node("Slice", ["flat", "from", "to", "axis"], ["picked"]),
             node("Sub", ["picked", "two"], ["tenth"]), node("Mul", ["tenth", "unit"], ["score"])]
    model(folder + name + ".onnx", nodes, [value("x", "float32", [1, embeddings, values])],
          [value("score", "float32", [1, scores])], [tensor(np.array([at], "int64"), "from")] +
          numbers(all=[1, -1], to=[at + scores], axis=[1], two=2, unit=10 / 32768))


def sound(name, rate, pulses):
    samples = np.zeros(4 * rate + 5000, "<i2")  # the last step is not full
    for at, peak in pulses.items():
        samples[at] = 32768 * peak
    data = samples.tobytes()
    with open(folder + name + ".wav", "wb") as f:
        f.write(b"RIFF" + struct.pack("<I4s4sIHHIIHH4sI", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16,
                                      b"data", len(data)) + data)


mel()
embedding(folder + "embedding_model.onnx", 76)
os.makedirs(folder + "other", exist_ok=True)
embedding(folder + "other/embedding_model.onnx", 80)
shutil.copy(folder + "melspectrogram.onnx", folder + "other")
word("first", 16, 0)
word("last", 34, 34 * 96 - 1)
word("wide", 41, 0)
word("odd", 1, 0, 95)
word("two", 16, 0, 96, 2)
model(folder + "whole.onnx", [node("Slice", ["x", "zero", "one", "axis"], ["y"])], [value("x", "int32", [1, 96])],
      [value("y", "int32", [1, 1])], numbers(zero=[0], one=[1], axis=[1]))
sound("pulses", 16000, {160: 0.75, 10400: 0.875, 34720: 0.625, 511: 0.5, 1791: 0.4375})
sound("rate8", 8000, {})
