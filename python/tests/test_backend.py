"""ONNX's own tests (onnx.backend.test) on nnrt.backend: as many pass as in tests/onnx_nodes.c, which runs them in C.

What onnx_nodes.c skips, is skipped: refused operators and types, and the tests whose outputs a later release replaced
(REPLACED). Of the six draws of Bernoulli, which ONNX does not specify, shape, type, values and sum are checked, by the bound of
onnx_nodes.c."""
import glob
import os
import pathlib
import unittest

import numpy
import onnx

numpy.object = object  # the runner of onnx 1.12 uses this name, which numpy 1.24 removed

import onnx.backend.test  # noqa: E402
from onnx import numpy_helper  # noqa: E402

import nnrt  # noqa: E402
import nnrt.backend  # noqa: E402
from models import unary  # noqa: E402

REPLACED = "FLOAT_to_BFLOAT16|castlike_BFLOAT16"
PASSED, SKIPPED = 1005, 67  # of onnx 1.12: make test ONLY=onnx-installed


class Outcome(unittest.TestResult):
    """Refusals are skipped tests."""

    def addError(self, test, err):
        refused = isinstance(err[1], NotImplementedError) or "(ASSERT)" in str(err[1])
        (super().addSkip(test, str(err[1])) if refused else super().addError(test, err))


class Onnx(unittest.TestCase):
    def test_runner(self):
        tests = onnx.backend.test.BackendTest(nnrt.backend.NnrtBackend, __name__).exclude("_cuda$").exclude("^test_bernoulli").exclude(REPLACED)
        suites = [unittest.defaultTestLoader.loadTestsFromTestCase(c) for n, c in tests.test_cases.items() if "Real" not in n]
        cpu = unittest.TestSuite(t for suite in suites for t in suite if not t.id().endswith("_cuda"))
        outcome = Outcome()
        cpu.run(outcome)
        for test, why in outcome.failures + outcome.errors:
            print("FAIL", test.id(), why.strip().splitlines()[-1])
        self.assertEqual(outcome.failures + outcome.errors, [])
        draws = [t for t, why in outcome.skipped if "bernoulli" in t.id()]
        passed = outcome.testsRun - len(outcome.skipped) + len(draws)
        print("onnx %s: %d passed (%d of them draws), %d skipped" % (onnx.__version__, passed, len(draws), len(outcome.skipped) - len(draws)))
        if onnx.__version__.startswith("1.12"):
            self.assertEqual((passed, len(outcome.skipped) - len(draws)), (PASSED, SKIPPED))

    def test_draws(self):
        folders = glob.glob("/usr/share/libonnx-testdata/data/node/test_bernoulli*") or self.skipTest("no data")
        for folder in folders:
            def read(name):
                return numpy_helper.to_array(onnx.TensorProto.FromString(pathlib.Path(folder, "test_data_set_0", name).read_bytes()))
            p, expected = read("input_0.pb"), read("output_0.pb")
            got, = nnrt.backend.run_model(onnx.load(os.path.join(folder, "model.onnx")), [p])
            self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape))
            self.assertTrue(numpy.isin(got, [0, 1]).all())
            p = 1 - p if "_expanded" in folder else p  # these draw 1 where a random number exceeds p
            self.assertLessEqual(abs(got.sum() - p.sum()), 2.5 * numpy.sqrt((p * (1 - p)).sum()))

    def test_interface(self):
        model = onnx.load_from_string(unary("Neg"))
        x = numpy.ones((2, 3), numpy.float32)
        rep = nnrt.backend.prepare(model)
        for outputs in rep.run([x]), rep.run({"x": x}), nnrt.backend.run_model(model, [x]):
            self.assertEqual(outputs.y.tolist(), [[-1] * 3] * 2)
            self.assertEqual(outputs["y"].tolist(), outputs[0].tolist())
        self.assertEqual([nnrt.backend.supports_device(d) for d in ("CPU", "CUDA")], [True, False])
        with self.assertRaises(NotImplementedError):
            nnrt.backend.prepare(unary("NoSuchOperator"))
