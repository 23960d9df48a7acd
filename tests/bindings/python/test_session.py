"""InferenceSession: values by numpy's definitions, types, shapes, errors, memory, threads."""
import copy
import gc
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import threading
import tracemalloc
import types
import unittest
import unittest.mock
import warnings
import weakref

import numpy
from numpy.testing import assert_allclose, assert_array_equal

import nnrt
import nnrt as ort
from models import DIGITS, ROOT, TYPES, onnx_bytes, unary

MATMUL = onnx_bytes([("MatMul", "x w", "y")], {"x": ("float32", ["batch", 3])}, {"y": ("float32", ["batch", 2])},
                    {"w": numpy.array([[1, 2], [3, 4], [5, 6]], numpy.float32)})
WEIGHTS = numpy.array([[1, 2], [3, 4], [5, 6]], numpy.float32)


def session(model, threads=1, **members):
    """A session with options."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    for name, value in members.items():
        setattr(options, name, value)
    return ort.InferenceSession(model, options)


class Case(unittest.TestCase):
    def refuses(self, kind, text, function, *arguments, **named):
        """The call raises this kind with this text in its message."""
        with self.assertRaises(kind) as caught:
            function(*arguments, **named)
        self.assertIn(text, str(caught.exception))


class Interface(Case):
    """The members that programs for onnxruntime use."""

    def test_digits(self):
        for source in DIGITS, str(DIGITS), DIGITS.read_bytes(), bytearray(DIGITS.read_bytes()):
            s = ort.InferenceSession(source, providers=["CPUExecutionProvider"])
            self.assertEqual([(i.name, i.type, i.shape) for i in s.get_inputs()], [("image", "tensor(float)", [1, 1, 28, 28])])
            self.assertEqual([(o.name, o.type, o.shape) for o in s.get_outputs()], [("probabilities", "tensor(float)", [1, 10])])
            p = s.run(["probabilities"], {"image": numpy.zeros((1, 1, 28, 28), numpy.float32)})[0]
            self.assertAlmostEqual(float(p.sum()), 1, places=5)

    def test_outputs_by_name(self):
        s = session(onnx_bytes([("Neg", "x", "a"), ("Abs", "x", "b")], {"x": ("float32", [2])}, {"a": ("float32", [2]), "b": ("float32", [2])}))
        feeds = {"x": numpy.array([-1, 2], numpy.float32)}
        self.assertEqual([v.tolist() for v in s.run(None, feeds)], [[1, -2], [1, 2]])
        self.assertEqual([v.tolist() for v in s.run(["b", "a", "b"], feeds)], [[1, 2], [1, -2], [1, 2]])
        self.assertEqual(s.run([], feeds), [])
        self.refuses(ValueError, "output 'c' does not exist; the model has 'a', 'b'", s.run, ["c"], feeds)

    def test_metadata_and_dimensions(self):
        s = session(onnx_bytes([("Relu", "x", "y")], {"x": ("float16", ["n", None, 3])}, {"y": ("float16", ["n", None, 3])}, author="me"))
        self.assertEqual(s.get_inputs()[0].shape, ["n", None, 3])
        self.assertEqual(s.get_inputs()[0].type, "tensor(float16)")
        self.assertEqual(s.get_modelmeta().custom_metadata_map, {"author": "me"})

    def test_initialized_inputs_are_constants(self):
        s = session(onnx_bytes([("Add", "x c", "y")], {"x": ("float32", [2]), "c": ("float32", [2])}, {"y": ("float32", [2])},
                               {"c": numpy.array([1, 2], numpy.float32)}))
        self.assertEqual([i.name for i in s.get_inputs()], ["x"])
        self.assertEqual(s.run(None, {"x": numpy.zeros(2, numpy.float32)})[0].tolist(), [1, 2])

    def test_providers(self):
        self.assertIn("reference", ort.get_available_providers())
        self.assertEqual(ort.InferenceSession(MATMUL, providers=["reference"]).get_providers(), ["reference"])
        self.assertEqual(ort.InferenceSession(MATMUL, providers=[("reference", {})]).get_providers(), ["reference"])
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            s = ort.InferenceSession(MATMUL, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
        self.assertIn("there is no device 'CUDAExecutionProvider'", str(seen[0].message))
        self.assertEqual(seen[0].filename, __file__)
        self.assertEqual(s.get_providers(), [d for d in ("cpu", "reference") if d in ort.get_available_providers()])
        self.assertEqual(ort.InferenceSession(MATMUL, providers=["reference", "CPUExecutionProvider"]).get_providers()[0], "reference")
        self.assertEqual(ort.InferenceSession(MATMUL).get_providers(), ort.get_available_providers())
        self.refuses(ValueError, "there is no device 'npu7'; the devices are ", ort.InferenceSession, MATMUL, providers=["npu7"])
        self.assertEqual(ort.InferenceSession(MATMUL, providers="reference").get_providers(), ["reference"])

    def test_reference_and_cpu_agree(self):
        x = numpy.random.default_rng(1).random((1, 1, 28, 28), numpy.float32)
        got = [ort.InferenceSession(DIGITS, providers=[d]).run(None, {"image": x})[0] for d in ort.get_available_providers()]
        for g in got:
            assert_allclose(g, got[-1], rtol=1e-4, atol=1e-6)  # error bound of float32 sums in another order

    def test_unknown_option(self):
        with self.assertRaises(AttributeError):
            ort.SessionOptions().intra_op_threads = 2
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        ort.InferenceSession(MATMUL, sess_options=options).run(None, {"x": numpy.zeros((1, 3), numpy.float32)}, ort.RunOptions())

    def test_profile(self):
        with tempfile.TemporaryDirectory() as folder:
            s = session(DIGITS, enable_profiling=True, profile_file_prefix=os.path.join(folder, "p"))
            for _ in range(3):
                s.run(None, {"image": numpy.zeros((1, 1, 28, 28), numpy.float32)})
            path = s.end_profiling()
            events = json.loads(pathlib.Path(path).read_text())
        self.assertEqual(len(events), 3 * s.get_memory()["steps"])
        self.assertTrue(all(e["ph"] == "X" and e["dur"] >= 0 and e["args"]["op_name"] for e in events))


class Values(Case):
    """OrtValue and IOBinding, and the messages of run() for other inputs."""
    X = numpy.array([[1, 0, 2], [0, 1, -1]], numpy.float32)

    def test_ort_values(self):
        v = ort.OrtValue.ortvalue_from_numpy(self.X)
        self.assertEqual((v.shape(), v.data_type(), v.device_name(), v.is_tensor(), v.has_value()), ([2, 3], "tensor(float)", "cpu", True, True))
        self.assertEqual(v.data_ptr(), self.X.ctypes.data)
        got, = session(MATMUL).run_with_ort_values(["y"], {"x": v})
        assert_array_equal(got.numpy(), self.X @ WEIGHTS)
        empty = ort.OrtValue.ortvalue_from_shape_and_type([2, 2], numpy.int64)
        empty.update_inplace([[1, 2], [3, 4]])
        self.assertEqual((empty.numpy().tolist(), empty.data_type()), ([[1, 2], [3, 4]], "tensor(int64)"))
        self.refuses(ValueError, "device 'cuda'", ort.OrtValue.ortvalue_from_numpy, self.X, "cuda", 0)

    def test_binding(self):
        s = session(MATMUL)
        room = numpy.zeros((2, 2), numpy.float32)
        for way in range(4):
            b = s.io_binding()
            if way == 0:
                b.bind_cpu_input("x", self.X)
                b.bind_output("y")
            elif way == 1:
                b.bind_input("x", "cpu", 0, numpy.float32, self.X.shape, self.X.ctypes.data)
                b.bind_output("y", "cpu", 0, numpy.float32, room.shape, room.ctypes.data)
            elif way == 2:
                b.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(self.X))
                b.bind_ortvalue_output("y", ort.OrtValue.ortvalue_from_numpy(room))
            else:
                b.bind_cpu_input("x", self.X)  # no output: all
            s.run_with_iobinding(b)
            b.synchronize_outputs()
            assert_array_equal(b.copy_outputs_to_cpu()[0], self.X @ WEIGHTS)
            assert_array_equal(b.get_outputs()[0].numpy(), self.X @ WEIGHTS)
            if way in (1, 2):
                assert_array_equal(room, self.X @ WEIGHTS)
                room[:] = 0
        b.clear_binding_outputs()
        self.assertEqual(b.get_outputs(), [])
        b.bind_ortvalue_output("y", ort.OrtValue.ortvalue_from_shape_and_type([3, 2], numpy.float32))
        self.refuses(ValueError, "output 'y' is float32[2, 2], but is bound to float32[3, 2]", s.run_with_iobinding, b)
        b.clear_binding_inputs()
        self.refuses(ValueError, "input 'x' is missing", s.run_with_iobinding, b)

    def test_other_feeds(self):
        s = session(MATMUL)
        self.refuses(TypeError, "the inputs are a ndarray, expected a dictionary such as {'x': array}", s.run, None, self.X)
        self.refuses(TypeError, "the inputs are a list, expected a dictionary", s.run, None, [self.X])
        self.assertEqual(s.get_overridable_initializers(), [])

    def test_bounds_by_dimension(self):
        s = session(MATMUL, max_shapes={"batch": 5})
        for n in (5, 0, 2):
            x = numpy.arange(3 * n, dtype=numpy.float32).reshape(n, 3)
            assert_array_equal(s.run(None, {"x": x})[0], x @ WEIGHTS)
        self.assertEqual(len(s._plans), 1)
        self.refuses(ValueError, "", s.run, None, {"x": numpy.zeros((6, 3), numpy.float32)})
        self.refuses(ValueError, "max_shapes: 'rows' is no dynamic dimension; the model has 'batch'", session, MATMUL, max_shapes={"rows": 5})
        two = onnx_bytes([("Add", "x z", "y")], {"x": ("float32", ["n", "m"]), "z": ("float32", ["n", "m"])}, {"y": ("float32", ["n", "m"])})
        s = session(two, max_shapes={"n": 2, "m": 3})
        self.assertEqual(s.run(None, {"x": numpy.ones((1, 3), numpy.float32), "z": numpy.ones((1, 3), numpy.float32)})[0].tolist(), [[2, 2, 2]])
        self.assertEqual(len(s._plans), 1)


class Types(Case):
    def test_all_types_pass(self):
        for kind in TYPES:
            x = numpy.array([[0, 1, 1], [1, 0, 1]], kind)
            y, = session(unary("Identity", kind)).run(None, {"x": x})
            self.assertEqual(y.dtype, x.dtype)
            assert_array_equal(y, x)
            self.assertFalse(numpy.shares_memory(x, y))

    def test_other_types_are_refused(self):
        for kind in TYPES:
            s = session(unary("Identity", kind))
            for other in set(TYPES) - {kind}:
                self.refuses(TypeError, "input 'x' has elements of type %s, expected %s" % (other, kind), s.run, None, {"x": numpy.zeros((2, 3), other)})
        self.refuses(TypeError, "float64, expected float32", session(unary("Relu")).run, None, {"x": [[1.0, 2.0, 3.0]] * 2})
        self.refuses(TypeError, "expected float32", session(unary("Relu")).run, None, {"x": "text"})
        self.refuses(TypeError, "expected float32", session(unary("Relu")).run, None, {"x": None})

    def test_aliases_of_int64(self):
        for kind in numpy.int64, numpy.longlong, numpy.dtype("<i8"):
            self.assertEqual(session(unary("Neg", "int64", [3])).run(None, {"x": numpy.array([1, 2, 3], kind)})[0].tolist(), [-1, -2, -3])

    def test_layouts_are_copied(self):
        x = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
        forms = {"transposed": numpy.ascontiguousarray(x.T).T, "steps": numpy.repeat(x, 2, axis=2)[:, :, ::2],
                 "reversed": numpy.ascontiguousarray(x[::-1])[::-1], "big-endian": x.astype(">f4"), "fortran": numpy.asfortranarray(x),
                 "misaligned": numpy.frombuffer(b"." + x.tobytes(), numpy.uint8)[1:].view(numpy.float32).reshape(2, 3, 4),
                 "broadcast": numpy.broadcast_to(x[:, :1], x.shape), "read-only": x}
        x.flags.writeable = False
        s = session(unary("Neg", shape=(2, 3, 4)))
        for name, form in forms.items():
            assert_array_equal(s.run(None, {"x": form})[0], -numpy.asarray(form, numpy.float32), name)

    def test_subclasses_and_scalars(self):
        s = session(unary("Neg", shape=[]))
        for x in numpy.float32(2), numpy.array(2, numpy.float32):
            self.assertEqual(s.run(None, {"x": x})[0], -2)
            self.assertEqual(s.run(None, {"x": x})[0].shape, ())
        self.assertEqual(session(unary("Neg", shape=[2])).run(None, {"x": numpy.ma.array([1, 2], numpy.float32)})[0].tolist(), [-1, -2])

    def test_empty(self):
        self.assertEqual(session(unary("Relu", shape=["n", 3])).run(None, {"x": numpy.zeros((0, 3), numpy.float32)})[0].shape, (0, 3))


class Errors(Case):
    def test_names_and_shapes(self):
        s = session(onnx_bytes([("Add", "a b", "y")], {"a": ("float32", ["n", 3]), "b": ("float32", [3])}, {"y": ("float32", ["n", 3])}))
        a, b = numpy.ones((2, 3), numpy.float32), numpy.ones(3, numpy.float32)
        self.assertEqual(s.run(None, {"a": a, "b": b})[0].tolist(), [[2, 2, 2]] * 2)
        self.refuses(ValueError, "input 'b' is missing; the model has 'a', 'b'", s.run, None, {"a": a})
        self.refuses(ValueError, "input 'c' does not exist; the model has 'a', 'b'", s.run, None, {"a": a, "b": b, "c": b})
        self.refuses(ValueError, "input 'b' is missing", s.run, None, {"a": a, "c": b})
        self.refuses(ValueError, "input 'a' has the shape [2, 4], expected ['n', 3]", s.run, None, {"a": numpy.ones((2, 4), numpy.float32), "b": b})
        self.refuses(ValueError, "input 'b' has the shape [1, 3], expected [3]", s.run, None, {"a": a, "b": b.reshape(1, 3)})
        for wrong in None, 3, [a, b]:
            with self.assertRaises((TypeError, ValueError)):
                s.run(None, wrong)
        self.assertEqual(s.run(None, {"b": b, "a": a})[0].tolist(), [[2, 2, 2]] * 2)  # still usable

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            self.refuses(FileNotFoundError, "none.onnx", ort.InferenceSession, os.path.join(folder, "none.onnx"))
            self.refuses(IsADirectoryError, folder, ort.InferenceSession, folder)
            empty = pathlib.Path(folder, "empty.onnx")
            empty.touch()
            self.refuses(nnrt.InvalidModel, "empty", ort.InferenceSession, empty)

    def test_damaged(self):
        good = DIGITS.read_bytes()
        self.assertTrue(issubclass(nnrt.InvalidModel, ValueError))
        for bad in b"", b"x", good[:len(good) // 2], b"text that is no model", good[:100] + b"\xff" * 50 + good[150:]:
            self.refuses(nnrt.InvalidModel, "", ort.InferenceSession, bad)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.nnrt")
            nnrt.convert(DIGITS, path)
            data = pathlib.Path(path).read_bytes()
        for bad in data[:len(data) // 2], data[:80], data[:64] + bytes(64) + data[128:]:
            self.refuses(nnrt.InvalidModel, "", ort.InferenceSession, bad)

    def test_unsupported(self):
        self.refuses(NotImplementedError, "NoSuchOperator", ort.InferenceSession, unary("NoSuchOperator"))
        self.refuses(NotImplementedError, "TfIdfVectorizer", ort.InferenceSession, unary("TfIdfVectorizer"))

    def test_run_time(self):
        """Indices out of range: known in the run only."""
        s = session(onnx_bytes([("Gather", "x i", "y")], {"x": ("float32", [3]), "i": ("int64", [100])}, {"y": ("float32", [100])}))
        x = numpy.arange(3, dtype=numpy.float32)
        self.refuses(ValueError, "node 0 'Gather_0' (GATHER): index 7", s.run, None, {"x": x, "i": numpy.full(100, 7)})
        assert_array_equal(s.run(None, {"x": x, "i": numpy.full(100, 2)})[0], numpy.full(100, 2))

    def test_out_of_memory(self):
        big = onnx_bytes([("ConstantOfShape", "s", "a"), ("ReduceSum", "a", "y")], {"s": ("int64", [3])}, {"y": ("float32", [1, 1, 1])})
        with self.assertRaises((MemoryError, RuntimeError, ValueError, NotImplementedError)):
            ort.InferenceSession(big).run(None, {"s": numpy.array([2**15, 2**15, 2**15])})

    def test_arguments(self):
        self.assertRaises(TypeError, ort.InferenceSession, 3.5)
        self.assertRaises(TypeError, ort.InferenceSession)
        self.assertRaises(OverflowError, session, MATMUL, -1)


class Shapes(Case):
    def test_any_batch(self):
        s = session(MATMUL)
        for _ in range(2):
            for n in (1, 5, 2, 64, 0, 3, 7):  # more than the session keeps plans for
                x = numpy.random.default_rng(n).random((n, 3), numpy.float32)
                assert_allclose(s.run(None, {"x": x})[0], x @ WEIGHTS, rtol=1e-6)

    def grows(self, model, name, shapes, value, plans):
        """Runs the shapes one after the other: the values are right, and this many plans are made."""
        s = session(model)
        with unittest.mock.patch.object(nnrt.plan, "Plan", wraps=nnrt.plan.Plan) as made:
            for shape in shapes:
                x = numpy.random.default_rng(sum(shape)).random(shape, numpy.float32)
                y, = s.run(None, {name: x})
                assert_allclose(y, value(x), rtol=1e-6)
                self.assertEqual(y.shape, value(x).shape)
        self.assertEqual(made.call_count, plans, shapes)
        return s

    def test_growing_sizes(self):
        s = self.grows(MATMUL, "x", [(n, 3) for n in (*range(1, 61), 30, 0, 1, 60)], lambda x: x @ WEIGHTS, 8)
        self.assertEqual([p.limits for p in s._plans], [None, {"x": [(1, 60), (3, 3)]}])  # 1 3 6 10 16 25 39 60
        self.refuses(ValueError, "input 'x' has the shape [2, 4], expected ['batch', 3]", s.run, None, {"x": numpy.zeros((2, 4), numpy.float32)})
        self.refuses(TypeError, "float64", s.run, None, {"x": numpy.zeros((2, 3))})
        self.assertEqual(len(s._plans), 2)

    def test_only_sizes_that_differ_are_dynamic(self):
        softmax = onnx_bytes([("Softmax", "x", "y")], {"x": ("float32", ["n", "c", "w"])}, {"y": ("float32", ["n", "c", "w"])})

        def value(x):
            e = numpy.exp(x - x.max(-1, keepdims=True))
            return e / e.sum(-1, keepdims=True)
        s = self.grows(softmax, "x", [(1, 2, 10), (1, 2, 8), (1, 2, 10), (1, 2, 5)], value, 2)
        self.assertEqual(s._plans[-1].limits, {"x": [(1, 1), (2, 2), (8, 10)]})
        s = self.grows(softmax, "x", [(1, 2, 10), (1, 2, 8), (4, 2, 10), (3, 2, 9), (1, 2, 10)], value, 3)
        self.assertEqual(s._plans[-1].limits, {"x": [(1, 6), (2, 2), (8, 15)]})

    def test_a_bound_that_has_no_memory(self):
        s = session(MATMUL)
        actual = nnrt.plan.Plan

        def small(model, inputs, bounds, *others):
            if any(numpy.frombuffer(b[1], numpy.int32)[1] > 12 for b in bounds):
                raise MemoryError
            return actual(model, inputs, bounds, *others)
        with unittest.mock.patch.object(nnrt.plan, "Plan", small):
            for n in 5, 10, 12, 11, 20, 25, 12:
                x = numpy.random.default_rng(n).random((n, 3), numpy.float32)
                assert_allclose(s.run(None, {"x": x})[0], x @ WEIGHTS, rtol=1e-6)
                if n == 11:
                    self.assertEqual(s._plans[-1].limits, {"x": [(5, 12), (3, 3)]})
        self.assertEqual([p.limits for p in s._plans], [None] * 3 + [{"x": [(5, 12), (3, 3)]}])

    def test_a_run_that_needs_its_own_plan(self):
        s = session(MATMUL)
        actual = nnrt.plan.Plan.run

        def picky(made, feeds):
            if made.limits is not None and made.within(feeds):
                raise ValueError("not with dynamic dimensions")
            return actual(made, feeds)
        with unittest.mock.patch.object(nnrt.plan.Plan, "run", picky):
            for n in 5, 4, 3, 2, 5:
                x = numpy.random.default_rng(n).random((n, 3), numpy.float32)
                assert_allclose(s.run(None, {"x": x})[0], x @ WEIGHTS, rtol=1e-6)
        self.assertTrue(all(p.limits is None for p in s._plans))
        self.assertLessEqual(len(s._plans), 4)

    def test_get_memory_before_the_first_run(self):
        s = session(MATMUL)
        small, large = s.get_memory({"x": (1, 3)}), s.get_memory({"x": (1000, 3)})
        self.assertGreater(large["arena"], small["arena"])
        self.assertEqual(s.get_memory(), large)
        assert_array_equal(s.run(None, {"x": numpy.ones((7, 3), numpy.float32)})[0], numpy.ones((7, 3)) @ WEIGHTS)

    def test_bounds(self):
        s = session(MATMUL, max_shapes={"x": (8, 3)})
        memory = s.get_memory()  # before any run
        for n in range(9):
            x = numpy.random.default_rng(n).random((n, 3), numpy.float32)
            y, = s.run(None, {"x": x})
            assert_allclose(y, x @ WEIGHTS, rtol=1e-6)
            self.assertEqual(y.shape, (n, 2))
        self.assertEqual(s.get_memory(), memory)
        self.refuses(ValueError, "9", s.run, None, {"x": numpy.zeros((9, 3), numpy.float32)})
        self.refuses(ValueError, "input 0 'x': axis 1 has size 4, expected 3", s.run, None, {"x": numpy.zeros((2, 4), numpy.float32)})
        self.refuses(ValueError, "input 'x' has the shape [2, 3, 1], expected ['batch', 3]", s.run, None, {"x": numpy.zeros((2, 3, 1), numpy.float32)})
        self.assertEqual(s.run(None, {"x": numpy.zeros((8, 3), numpy.float32)})[0].shape, (8, 2))

    def test_wrong_bounds(self):
        x = {"x": numpy.zeros((1, 3), numpy.float32)}
        self.refuses(ValueError, "no tensor 'nope'", session(MATMUL, max_shapes={"nope": (1,)}).run, None, x)
        self.refuses(ValueError, "2 axes", session, MATMUL, max_shapes={"x": (4,)})
        self.refuses(ValueError, "[-5, 3]", session, MATMUL, max_shapes={"x": (-5, 3)})
        self.refuses(TypeError, "integer", session, MATMUL, max_shapes={"x": (1.5, 3)})
        self.refuses(MemoryError, "4 GiB", session, MATMUL, max_shapes={"x": (2**31 - 1, 3)})

    def test_free_dimension(self):
        options = ort.SessionOptions()
        options.add_free_dimension_override_by_name("batch", 4)
        s = ort.InferenceSession(MATMUL, options)
        self.assertEqual((s.get_inputs()[0].shape, s.get_outputs()[0].shape), ([4, 3], [4, 2]))
        self.refuses(ValueError, "has the shape [5, 3], expected [4, 3]", s.run, None, {"x": numpy.zeros((5, 3), numpy.float32)})

    def test_data_dependent(self):
        s = session(onnx_bytes([("NonZero", "x", "y")], {"x": ("float32", ["n"])}, {"y": ("int64", [1, "k"])}))
        for values in ([0, 1, 0, 1], [0, 0], [1] * 7):
            y, = s.run(None, {"x": numpy.array(values, numpy.float32)})
            assert_array_equal(y, numpy.array(numpy.nonzero(values)))
            self.assertEqual(y.dtype, numpy.int64)

    def test_large_bound(self):
        """An output whose bound exceeds the first buffer: 8 * 4 Mi elements of 8 bytes, of which few, then all are needed."""
        n = 4 << 20
        s = session(onnx_bytes([("NonZero", "x", "y")], {"x": ("bool", [n])}, {"y": ("int64", [1, "k"])}))
        x = numpy.zeros(n, bool)
        x[[5, n - 1]] = True
        y, = s.run(None, {"x": x})
        self.assertEqual(y.tolist(), [[5, n - 1]])
        self.assertLess(y.base.nbytes if y.base is not None else y.nbytes, 1000)  # does not keep the buffer
        x[:] = True
        assert_array_equal(s.run(None, {"x": x})[0], numpy.arange(n)[None])

    def test_shape_as_input(self):
        """The output has other dimensions for other values."""
        s = session(onnx_bytes([("Reshape", "x s", "y")], {"x": ("float32", [6]), "s": ("int64", [2])}, {"y": ("float32", ["a", "b"])}))
        x = numpy.arange(6, dtype=numpy.float32)
        for shape in (2, 3), (6, 1), (3, -1), (2, 3):
            assert_array_equal(s.run(None, {"x": x, "s": numpy.array(shape)})[0], x.reshape(shape))

    def test_constants(self):
        """Tile of dynamic repeats is refused: the value is compiled in. A changed array is another value."""
        s = session(onnx_bytes([("Tile", "x s", "y")], {"x": ("float32", [2, 3]), "s": ("int64", [2])}, {"y": ("float32", ["a", "b"])}))
        x, repeats = numpy.arange(6, dtype=numpy.float32).reshape(2, 3), numpy.array([2, 3])
        for _ in range(2):
            for repeats[:] in (2, 3), (1, 1), (3, 2):
                assert_array_equal(s.run(None, {"x": x, "s": repeats})[0], numpy.tile(x, repeats))
        self.refuses(TypeError, "input 's' has elements of type float32", s.run, None, {"x": x, "s": repeats.astype(numpy.float32)})

    def test_no_inputs(self):
        s = session(onnx_bytes([("Neg", "c", "y")], {}, {"y": ("float32", [2])}, {"c": numpy.array([1, 2], numpy.float32)}))
        self.assertEqual(s.run(None, {})[0].tolist(), [-1, -2])
        self.refuses(ValueError, "input 'x' does not exist; the model has no inputs", s.run, None, {"x": 1})

    def test_unused_input(self):
        s = session(onnx_bytes([("Neg", "x", "y")], {"x": ("float32", [2]), "z": ("float32", [3])}, {"y": ("float32", [2])}))
        x, z = numpy.array([1, 2], numpy.float32), numpy.zeros(3, numpy.float32)
        self.assertEqual(s.run(None, {"z": z, "x": x})[0].tolist(), [-1, -2])
        self.refuses(ValueError, "input 'z' is missing", s.run, None, {"x": x})

    def test_values_after_any_failure(self):
        """The values of small inputs become constants, whatever the first attempt failed with."""
        model = onnx_bytes([("Reshape", "x s", "y")], {"x": ("float32", [2, 3]), "s": ("int64", [2])}, {"y": ("float32", ["a", "b"])})
        real, feeds = nnrt.plan.Plan, {"x": numpy.ones((2, 3), numpy.float32), "s": numpy.array([3, 2])}
        for kind in NotImplementedError, ValueError, RuntimeError, nnrt.InvalidModel:
            def plan(loaded, inputs, *rest):
                if all(i[2] is None for i in inputs):
                    raise kind("no value")
                return real(loaded, inputs, *rest)
            with unittest.mock.patch.object(nnrt.plan, "Plan", plan):
                self.assertEqual(session(model).run(None, feeds)[0].shape, (3, 2))
        with unittest.mock.patch.object(nnrt.plan, "Plan", side_effect=ValueError("never")):
            self.refuses(ValueError, "never", session(model).run, None, feeds)

    def test_mapping(self):
        s = session(MATMUL)
        feeds = types.MappingProxyType({"x": numpy.ones((2, 3), numpy.float32)})
        for _ in range(2):
            assert_array_equal(s.run(None, feeds)[0], numpy.ones((2, 3)) @ WEIGHTS)

    def test_unbounded(self):
        s = session(onnx_bytes([("Range", "a b c", "y")], {n: ("int64", []) for n in "abc"}, {"y": ("int64", ["n"])}))
        self.assertEqual(s.run(None, {n: numpy.array(v) for n, v in zip("abc", (2, 9, 3))})[0].tolist(), [2, 5, 8])
        self.assertEqual(s.run(None, {n: numpy.array(v) for n, v in zip("abc", (0, 2, 1))})[0].tolist(), [0, 1])


class Memory(Case):
    def test_exact_before_the_run(self):
        s = session(DIGITS)
        self.assertEqual(set(s.get_memory()), {"total", "tables", "arena", "bound", "constants", "steps"})
        for shapes in None, {}, {"x": (1, 3), "y": (1,)}:
            self.refuses(ValueError, "expected the shapes of '", session(MATMUL).get_memory, shapes)
        self.refuses(TypeError, "integer", session(MATMUL).get_memory, {"x": (1.5, 3)})
        self.refuses(ValueError, "size 4 for axis 1, which the model fixes at 3", session(MATMUL).get_memory, {"x": (1, 4)})
        small, large = (session(MATMUL).get_memory({"x": (n, 3)}) for n in (1, 1000))
        self.assertLess(small["total"], large["total"] + 1)
        r = session(onnx_bytes([("Softmax", "x", "a"), ("Relu", "a", "y")], {"x": ("float32", ["n"])}, {"y": ("float32", ["n"])}))
        self.assertGreater(r.get_memory({"x": (4096,)})["arena"] + 1, r.get_memory({"x": (64,)})["arena"])

    def test_zero_copy(self):
        """A contiguous input is used in place: a run with a large input and a small output takes no memory of its size."""
        n = 8 << 20
        s = session(onnx_bytes([("ReduceMax", "x", "y", {"keepdims": 0})], {"x": ("float32", [n])}, {"y": ("float32", [])}, opset=13))
        x = numpy.zeros(n, numpy.float32)
        x[77] = 5
        tracemalloc.start()
        self.assertEqual(s.run(None, {"x": x})[0], 5)
        self.assertLess(tracemalloc.get_traced_memory()[1], 100_000)  # numpy reports its blocks to tracemalloc
        x2 = numpy.zeros(2 * n, numpy.float32)[::2]
        tracemalloc.reset_peak()
        s.run(None, {"x": x2})
        self.assertGreater(tracemalloc.get_traced_memory()[1], 4 * n)  # that would be seen
        tracemalloc.stop()

    def test_outputs_own_their_memory(self):
        s = session(MATMUL)
        x = numpy.ones((2, 3), numpy.float32)
        first = s.run(None, {"x": x})[0]
        self.assertTrue(first.flags.owndata and first.flags.writeable)
        s.run(None, {"x": 7 * x})
        del s
        gc.collect()
        assert_array_equal(first, x @ WEIGHTS)

    def test_nothing_leaks(self):
        """Reference counts and resident memory after 10,000 runs, also failed ones and sessions."""
        s, x = session(DIGITS), numpy.zeros((1, 1, 28, 28), numpy.float32)
        wrong, feeds = {"image": x.astype(numpy.float64)}, {"image": x}
        strided = {"image": numpy.zeros((1, 1, 28, 56), numpy.float32)[..., ::2]}

        def work(n):
            for i in range(n):
                s.run(None, feeds)
                if i % 10 == 0:
                    s.run(["probabilities"], strided)
                    self.assertRaises(TypeError, s.run, None, wrong)
                    session(MATMUL).run(None, {"x": numpy.zeros((2, 3), numpy.float32)})
                    self.assertRaises(nnrt.InvalidModel, ort.InferenceSession, b"damaged")
        work(1000)
        gc.collect()
        counts = [sys.getrefcount(o) for o in (x, feeds, strided["image"], x.dtype)]
        before = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
        work(10_000)
        gc.collect()
        after = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
        self.assertLess(after - before, 2 << 20)
        for now, then in zip([sys.getrefcount(o) for o in (x, feeds, strided["image"], x.dtype)], counts):
            self.assertLess(now - then, 50)

    def test_freed_session(self):
        s = session(DIGITS)
        gone = weakref.ref(s)
        gc.disable()
        try:
            del s
            self.assertIsNone(gone())  # no reference cycle keeps a network
        finally:
            gc.enable()


class Threads(Case):
    def run_all(self, function, count):
        faults = []

        def guarded(k):
            try:
                function(k)
            except BaseException as error:  # noqa: B902
                faults.append(error)
        threads = [threading.Thread(target=guarded, args=(k,)) for k in range(count)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(faults, [])

    def test_one_session(self):
        for threads in 1, 2:
            s = session(DIGITS, threads)
            inputs = [numpy.random.default_rng(k).random((1, 1, 28, 28), numpy.float32) for k in range(8)]
            expected = [s.run(None, {"image": x})[0] for x in inputs]

            def work(k):
                for _ in range(300):
                    assert_array_equal(s.run(None, {"image": inputs[k]})[0], expected[k])
            self.run_all(work, 8)

    def test_driver(self):
        """A device of a shared library, which cannot share a prepared model."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "libtable_npu.so")
            subprocess.run(["cc", "-std=c99", "-shared", "-fPIC", "-I", ROOT, "-o", path, ROOT / "tests/devices/table_npu.c", "-lm"], check=True)
            nnrt.load_driver(path)
            self.refuses(Exception, "none.so", nnrt.load_driver, os.path.join(folder, "none.so"))
        self.assertIn("table_npu", ort.get_available_providers())
        s = ort.InferenceSession(unary("Abs"), providers=["table_npu", "CPUExecutionProvider"])
        self.assertEqual(s.get_providers()[0], "table_npu")

        def work(k):
            for n in range(100):
                assert_array_equal(s.run(None, {"x": numpy.full((2, 3), -k * n, numpy.float32)})[0], numpy.full((2, 3), k * n))
        self.run_all(work, 4)

    def test_shapes_at_once(self):
        s = session(MATMUL)

        def work(k):
            for n in range(60):
                x = numpy.full((1 + (n + k) % 6, 3), k, numpy.float32)
                assert_allclose(s.run(None, {"x": x})[0], x @ WEIGHTS)
        self.run_all(work, 6)

    def test_gil_is_released(self):
        """Python code runs while a network does."""
        n = 700
        s = session(onnx_bytes([("MatMul", "x x", "a"), ("MatMul", "a x", "b"), ("MatMul", "b x", "y")],
                               {"x": ("float32", [n, n])}, {"y": ("float32", [n, n])}))
        x = numpy.zeros((n, n), numpy.float32)
        started, ended = threading.Event(), threading.Event()
        thread = threading.Thread(target=lambda: (started.set(), s.run(None, {"x": x}), ended.set()))
        before = sys.getswitchinterval()
        sys.setswitchinterval(1000)  # the thread gives the GIL away only by releasing it
        try:
            thread.start()
            started.wait()
            runs = not ended.is_set()
        finally:
            sys.setswitchinterval(before)
            thread.join()
        self.assertTrue(runs)

    def test_fork(self):
        for threads in 1, 2:
            s = session(DIGITS, threads)
            x = numpy.zeros((1, 1, 28, 28), numpy.float32)
            expected = s.run(None, {"image": x})[0]
            child = os.fork()
            if child == 0:
                got = [u.run(None, {"image": x})[0] for u in (s, session(DIGITS, threads))]
                os._exit(0 if all((g == expected).all() for g in got) else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)


class Formats(Case):
    def test_nnrt(self):
        x = numpy.random.default_rng(3).random((1, 1, 28, 28), numpy.float32)
        expected = session(DIGITS).run(None, {"image": x})[0]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "d.nnrt")
            nnrt.convert(DIGITS, path, meta=["license=MIT", "author=me"])
            for source in path, path.read_bytes():
                s = session(source)
                self.assertEqual(s.get_modelmeta().custom_metadata_map, {"license": "MIT", "author": "me"})
                assert_array_equal(s.run(None, {"image": x})[0], expected)

    def test_nnrt_dynamic(self):
        with tempfile.TemporaryDirectory() as folder:
            source, path = pathlib.Path(folder, "m.onnx"), os.path.join(folder, "m.nnrt")
            source.write_bytes(MATMUL)
            nnrt.convert(source, path)
            s = session(path)
            self.assertEqual(s.get_inputs()[0].shape, [None, 3])
            for n in 4, 1, 4:
                x = numpy.full((n, 3), n, numpy.float32)
                assert_allclose(s.run(None, {"x": x})[0], x @ WEIGHTS)

    def test_tflite(self):
        sys.path.insert(0, str(ROOT / "tests/formats/tflite"))
        import writer
        m = writer.Model()
        x, y = m.tensor("x", "float32", [2, 3]), m.tensor("y", "float32", [2, 3])
        m.op("ABS", [x], [y])
        m.inputs, m.outputs = [x], [y]
        s = session(m.bytes())
        self.assertEqual([(i.name, i.type, i.shape) for i in s.get_inputs()], [("x", "tensor(float)", [2, 3])])
        a = numpy.array([[-1, 2, -3], [4, -5, 6]], numpy.float32)
        assert_array_equal(s.run(None, {"x": a})[0], abs(a))
        x, y = m.tensor("x", "float32", [1, 3], signature=[-1, 3]), m.tensor("y", "float32", [1, 3])
        m.op("ABS", [x], [y])
        m.inputs, m.outputs = [x], [y]
        s = session(m.bytes())
        self.assertEqual([i.shape for i in s.get_inputs()], [[None, 3]])
        assert_array_equal(s.run(None, {"x": a})[0], abs(a))
        s = session(m.bytes(), max_shapes={"x": (4, 3)})
        assert_array_equal(s.run(None, {"x": a})[0], abs(a))
        self.refuses(ValueError, "axis 0 has size 5, expected 0 to 4", s.run, None, {"x": numpy.zeros((5, 3), numpy.float32)})

    def test_external_data(self):
        import onnx
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            model = onnx.load_from_string(onnx_bytes([("MatMul", "x w", "y")], {"x": ("float32", ["n", 64])}, {"y": ("float32", ["n", 64])},
                                                     {"w": numpy.eye(64, dtype=numpy.float32)}))
            onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
            x = numpy.random.default_rng(3).random((2, 64), numpy.float32)
            assert_array_equal(session(path).run(None, {"x": x})[0], x)
            self.refuses(NotImplementedError, "pass the path, not the bytes", session, pathlib.Path(path).read_bytes())

    def test_path_of_any_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "\udcff.onnx")
            pathlib.Path(path).write_bytes(MATMUL)
            self.assertEqual(session(path).run(None, {"x": numpy.zeros((1, 3), numpy.float32)})[0].shape, (1, 2))

    def test_arrays_of_other_packages(self):
        class Other:
            """An object with __array__, which changes the dictionary that holds it."""
            def __array__(self, dtype=None, copy=None):
                feeds.clear()
                return numpy.ones((2, 3), numpy.float32)
        feeds = {"x": Other()}
        assert_array_equal(session(MATMUL).run(None, feeds)[0], numpy.ones((2, 3)) @ WEIGHTS)

    def test_overwritten_file(self):
        """A session of an ONNX file does not read it again."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "m.onnx")
            path.write_bytes(MATMUL)
            s = session(path)
            path.write_bytes(b"")
            self.assertEqual(s.run(None, {"x": numpy.zeros((1, 3), numpy.float32)})[0].shape, (1, 2))

    def test_pickle(self):
        x = numpy.ones((2, 3), numpy.float32)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "m.onnx")
            path.write_bytes(MATMUL)
            for source in MATMUL, str(path):
                s = ort.InferenceSession(source, providers=["reference"])
                for other in pickle.loads(pickle.dumps(s)), copy.deepcopy(s):
                    assert_array_equal(other.run(None, {"x": x})[0], x @ WEIGHTS)
                    self.assertEqual(other.get_providers(), ["reference"])
            self.assertLess(len(pickle.dumps(ort.InferenceSession(path))), 1000)


class States(Case):
    MODEL = onnx_bytes([("Add", "x h", "y")], {"x": ("float32", [2]), "h": ("float32", [2])}, {"y": ("float32", [2])}, states="h=y")

    def test_states(self):
        model = onnx_bytes([("Add", "x h", "n"), ("Neg", "n", "y")], {"h": ("float32", [2]), "x": ("float32", [2])},
                           {"y": ("float32", [2]), "n": ("float32", [2])}, states="h=n")
        with tempfile.TemporaryDirectory() as folder:
            source, path = pathlib.Path(folder, "m.onnx"), os.path.join(folder, "m.nnrt")
            source.write_bytes(model)
            nnrt.convert(source, path)
            for s in session(model), session(path):
                self.assertEqual([i.name for i in s.get_inputs()], ["x"])
                self.assertEqual([o.name for o in s.get_outputs()], ["y"])
                x = numpy.array([1, 2], numpy.float32)
                for _ in range(2):
                    for k in 1, 2, 3:
                        assert_array_equal(s.run(None, {"x": x})[0], -k * x)
                    s.reset()
                counts = []
                threads = [threading.Thread(target=lambda: [counts.append(s.run(None, {"x": x})[0][0]) for _ in range(50)]) for _ in range(4)]
                for t in threads:
                    t.start()
                for t in threads:
                    t.join()
                self.assertEqual(sorted(counts), [-k for k in range(200, 0, -1)])  # no run is lost


if __name__ == "__main__":
    unittest.main()
