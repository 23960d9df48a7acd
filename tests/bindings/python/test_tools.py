"""convert, quantize, emit_c, compare, and the program nnrt."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy

import nnrt
from models import DIGITS


class Tools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_quantize(self):
        path = self.folder / "q.nnrt"
        images = numpy.random.default_rng(1).random((32, 1, 28, 28), numpy.float32)
        nnrt.quantize(DIGITS, path, images, processor="vnni")  # others may be faster in float32
        x = {"image": images[:1]}
        got, expected = (nnrt.InferenceSession(m).run(None, x)[0] for m in (path, DIGITS))
        self.assertEqual(got.argmax(), expected.argmax())
        self.assertFalse(numpy.array_equal(got, expected))
        self.assertLess(abs(got - expected).max(), 0.1)  # of probabilities

    def test_emit_c(self):
        path = self.folder / "digits.h"
        nnrt.emit_c(DIGITS, path, name="digits", shape=["image=1,1,28,28"])
        self.assertIn("digits_run", path.read_text())

    def test_compare(self):
        report = nnrt.compare(DIGITS)
        self.assertTrue(report["ok"])
        self.assertEqual(len(report["devices"]), 2)

    def test_errors(self):
        with self.assertRaises(RuntimeError) as caught:
            nnrt.convert(self.folder / "none.onnx", self.folder / "x.nnrt")
        self.assertIn("none.onnx", str(caught.exception))
        with self.assertRaises(ValueError) as caught:
            nnrt.convert(DIGITS, self.folder / "x.nnrt", no_such_option=True)
        self.assertIn("--no-such-option", str(caught.exception))

    def test_program(self):
        run = subprocess.run([sys.executable, "-m", "nnrt", "run", str(DIGITS), "--input", "random", "--json"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn('"probabilities"', run.stdout)
        self.assertEqual(subprocess.run([sys.executable, "-m", "nnrt"], capture_output=True).returncode, 2)
        script = pathlib.Path(nnrt.__file__).parents[1] / "bin" / "nnrt"
        if script.exists():
            version = subprocess.run([sys.executable, script, "--version"], capture_output=True, text=True).stdout
            self.assertEqual(version.strip(), "nnrt " + nnrt.__version__)
