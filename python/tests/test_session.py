"""InferenceSession: results, shapes, types, errors, memory, threads."""
import pathlib
import unittest

import numpy

import nnrt

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"


class Digits(unittest.TestCase):
    def test_run(self):
        session = nnrt.InferenceSession(DIGITS)
        image = numpy.zeros(session.get_inputs()[0].shape, numpy.float32)
        probabilities, = session.run(None, {"image": image})
        self.assertEqual(probabilities.shape, (1, 10))
        self.assertAlmostEqual(float(probabilities.sum()), 1, places=5)
