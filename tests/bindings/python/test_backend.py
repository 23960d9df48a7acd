"""ONNX's own tests on nnrt.backend: by the runner of the installed onnx package, and on the data of onnx 1.20, which that
runner cannot read. As many pass as in tests/formats/onnx_nodes.c, which runs them in C.

What onnx_nodes.c skips is skipped: refused operators and types, and, in onnx 1.12, the tests whose
outputs a later release replaced (REPLACED); those of 1.20 are compared with tests/formats/onnx_replaced.txt. Of the draws of
Bernoulli and of Dropout in training, which ONNX does not specify, type, shape, values and sum are checked, by the bound of
onnx_nodes.c. Tolerances are those of ONNX's runner, with 1e-6 for DFT, as there."""
import pathlib
import re
import unittest

import numpy
import onnx

numpy.object = object  # the runner of onnx 1.12 uses this name, which numpy 1.24 removed

import onnx.backend.test  # noqa: E402
from onnx import numpy_helper  # noqa: E402

import nnrt.backend  # noqa: E402
from models import ROOT, unary  # noqa: E402

REPLACED = "FLOAT_to_BFLOAT16|castlike_BFLOAT16"
UNCOMPARED = "test_loop16_seq_none"  # the runner of onnx 1.12 takes len() of a scalar in a sequence; test_newest has this test, too
INSTALLED = (1032, 40)  # passed and skipped of onnx 1.12: make test ONLY=onnx-installed
NEWEST = (1736, 57)  # of onnx 1.20: make conformance
DRAWS = "^test_bernoulli|^test_training_dropout(?!.*zero_ratio)"  # whose results are random
DATA = ROOT / "build/onnx-data/1.20/usr/share/libonnx-testdata/data"
CODES = {16: (16, False), 17: (8, False), 18: (8, False), 19: (8, False), 20: (8, False), 24: (8, False), 21: (4, False),
         22: (4, True), 23: (4, False), 25: (2, False), 26: (2, True)}  # bits and sign of types that onnx 1.12 does not read


def is_refusal(error):
    """True for a refusal, which onnx_nodes.c counts as skipped."""
    return isinstance(error, NotImplementedError) or "(ASSERT)" in str(error)


def read(path):
    """The array of a .pb file; of a type of storage its codes, as nnrt_onnx_data_type."""
    tensor = onnx.TensorProto.FromString(path.read_bytes())
    if tensor.data_type not in CODES:
        try:
            return numpy_helper.to_array(tensor)
        except ValueError as error:
            raise NotImplementedError("%s is no tensor" % path) from error
    bits, sign = CODES[tensor.data_type]
    kind = numpy.uint16 if bits == 16 else numpy.uint8
    codes = numpy.frombuffer(tensor.raw_data, kind) if tensor.raw_data else numpy.array(tensor.int32_data).astype(kind)
    if bits < 8:
        codes = numpy.stack([codes >> at & 2**bits - 1 for at in range(0, 8, bits)], 1).ravel()[:numpy.prod(tensor.dims, dtype=int)]
    return (numpy.where(codes >> bits - 1, codes.astype(numpy.int8) - 2**bits, codes).astype(numpy.int8) if sign else codes).reshape(tensor.dims)


def read_value(path, kind):
    """The value in a .pb file: an array, a list of arrays or None."""
    value = kind.WhichOneof("value")
    if value == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(path.read_bytes()))
    if value == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(path.read_bytes()))
    return read(path)


def fnv(arrays):
    """The hash of the inputs in tests/formats/onnx_replaced.txt."""
    value = 0x811c9dc5
    for byte in b"".join(a.tobytes() for a in arrays):
        value = (value ^ byte) * 0x01000193 & 0xffffffff
    return value


class Outcome(unittest.TestResult):
    """Refusals are skipped tests."""

    def addError(self, test, err):
        (super().addSkip(test, str(err[1])) if is_refusal(err[1]) else super().addError(test, err))


class Onnx(unittest.TestCase):
    def check_draws(self, got, p, expected, turned):
        self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape))
        self.assertTrue(numpy.isin(got, [0, 1]).all())
        p = 1 - p if turned else p  # these draw 1 where a random number exceeds p
        self.assertLessEqual(abs(got.sum() - p.sum()), 2.5 * numpy.sqrt((p * (1 - p)).sum()))

    def check_drops(self, got, x, ratio, expected):
        """An output of Dropout in training, or its mask."""
        self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape))
        whole = numpy.ones(got.shape) if got.dtype == bool else x / (1 - ratio)
        self.assertTrue(((got == 0) | numpy.isclose(got, whole, rtol=1e-6, atol=0)).all())
        self.assertLessEqual(abs((got != 0).mean() - 1 + ratio), 2.5 * numpy.sqrt(ratio * (1 - ratio) / got.size))

    def check_folder(self, folder, replaced):
        """Compares the outputs of all data sets of a test."""
        graph = onnx.load(folder / "model.onnx").graph
        rep = nnrt.backend.prepare((folder / "model.onnx").read_bytes())
        ends = {"input": [i for i in graph.input if i.name not in {t.name for t in graph.initializer}], "output": graph.output}
        for data in sorted(folder.glob("test_data_set_*")):
            inputs, outputs = ([read_value(data / ("%s_%d.pb" % (kind, i)), ends[kind][i].type)
                                for i in range(len(list(data.glob(kind + "_*.pb"))))] for kind in ("input", "output"))
            for k, text in replaced.get((folder.name, fnv(inputs)) if any(folder.name == r[0] for r in replaced) else None, []):
                outputs[k] = numpy.frombuffer(bytes.fromhex(text), outputs[k].dtype).reshape(outputs[k].shape)
            for got, expected in zip(rep.run(inputs), outputs, strict=True):
                if folder.name.startswith("test_bernoulli"):
                    self.check_draws(got, inputs[0], expected, "_expanded" in folder.name)
                    continue
                if re.match(DRAWS, folder.name):
                    self.check_drops(got, inputs[0], float(inputs[1]) if len(inputs) > 1 else 0.5, expected)
                    continue
                if expected is None or isinstance(expected, list):
                    self.assertEqual((type(got), len(got or [])), (type(expected), len(expected or [])))
                    for a, b in zip(got or [], expected or []):
                        self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
                        numpy.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-7)
                    continue
                self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape))
                near = {"rtol": 1e-3, "atol": 1e-6 if "_dft" in folder.name else 1e-7} if expected.dtype.kind == "f" else {"rtol": 0, "atol": 0}
                numpy.testing.assert_allclose(got, expected, **near)

    def count(self, folders, replaced):
        """(passed, skipped); fails if a test fails."""
        passed, skipped, failed = 0, 0, []
        for folder in folders:
            try:
                self.check_folder(folder, replaced)
                passed += 1
            except Exception as error:  # noqa: B902
                if is_refusal(error):
                    skipped += 1
                else:
                    failed.append("%s: %s" % (folder.name, str(error).strip()[:300]))
        self.assertEqual(failed, [])
        return passed, skipped

    def test_runner(self):
        """The runner's tests; draws are compared by test_draws."""
        tests = onnx.backend.test.BackendTest(nnrt.backend.NnrtBackend, __name__).exclude("_cuda$").exclude(DRAWS).exclude(REPLACED).exclude(UNCOMPARED)
        suites = [unittest.defaultTestLoader.loadTestsFromTestCase(c) for n, c in tests.test_cases.items() if "Real" not in n]
        outcome = Outcome()
        unittest.TestSuite(t for suite in suites for t in suite if not t.id().endswith("_cuda")).run(outcome)
        self.assertEqual([(t.id(), why.strip().splitlines()[-1]) for t, why in outcome.failures + outcome.errors], [])
        draws = sum(re.match(DRAWS, t.id().split(".")[-1]) is not None for t, _ in outcome.skipped)
        counts = outcome.testsRun - len(outcome.skipped) + draws, len(outcome.skipped) - draws
        print("onnx %s by its runner: %d passed (%d of them draws), %d skipped" % (onnx.__version__, counts[0], draws, counts[1]))
        if onnx.__version__.startswith("1.12"):
            self.assertEqual(counts, INSTALLED)

    def test_draws(self):
        folders = [f for f in pathlib.Path("/usr/share/libonnx-testdata/data/node").glob("test_*") if re.match(DRAWS, f.name)]
        self.assertEqual(self.count(folders, {}), (len(folders), 0))
        self.assertGreater(len(folders), 0)

    @unittest.skipUnless(DATA.is_dir(), "make conformance and make python-test download the data")
    def test_newest(self):
        replaced = {}
        for line in (ROOT / "tests/formats/onnx_replaced.txt").read_text().splitlines():
            if not line.startswith("#"):
                name, k, of, text = (line.split(" ") + [""])[:4]
                replaced.setdefault((name, int(of, 16)), []).append((int(k), text))
        counts = self.count(sorted(p.parent for p in DATA.glob("*/*/model.onnx")), replaced)
        print("onnx 1.20: %d passed, %d skipped" % counts)
        self.assertEqual(counts, NEWEST)

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
