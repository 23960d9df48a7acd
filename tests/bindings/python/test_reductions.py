"""ONNX's ten reductions against their definitions in numpy: every element type of the operator set, axes as an attribute, as a
constant and as an input of the run, no axes with and without noop_with_empty_axes, dimensions of 0, fixed and dynamic shapes."""
import itertools
import unittest

import numpy
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

import nnrt

NUMBERS = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "float64": TensorProto.DOUBLE, "int32": TensorProto.INT32,
           "int64": TensorProto.INT64, "uint32": TensorProto.UINT32, "uint64": TensorProto.UINT64}
MORE = {"int8": (TensorProto.INT8, 12), "uint8": (TensorProto.UINT8, 12), "bool": (TensorProto.BOOL, 20)}  # of ReduceMax and ReduceMin, from a set on
ROUNDED = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-5}  # relative and absolute: 4 roundings of float16, many of the others
SHAPES = (2, 3), (2, 0, 3), ()
AXES = None, [], [1], [-1, 0]
SETS = 11, 13, 18, 20


def least(dtype):
    return -numpy.inf if dtype.kind == "f" else False if dtype == bool else numpy.iinfo(dtype).min


def most(dtype):
    return numpy.inf if dtype.kind == "f" else True if dtype == bool else numpy.iinfo(dtype).max


def reduce_to(op, x, axes, keepdims):
    """The definition: in float64, or in integers of 64 bits that wrap; a maximum of nothing is the least value."""
    wide = x if x.dtype == bool else x.astype({"f": numpy.float64, "i": numpy.int64, "u": numpy.uint64}[x.dtype.kind])
    how = {"axis": axes, "keepdims": keepdims}
    count = int(numpy.prod([x.shape[a] for a in axes], dtype=int))
    with numpy.errstate(all="ignore"):
        if op in ("ReduceMax", "ReduceMin"):
            end = {"initial": least(x.dtype) if op == "ReduceMax" else most(x.dtype)} if count == 0 else {}
            return (wide.max if op == "ReduceMax" else wide.min)(**how, **end)
        if op == "ReduceSum":
            return wide.sum(**how)
        if op == "ReduceProd":
            return wide.prod(**how)
        if op == "ReduceMean":
            return wide.sum(**how) / count if x.dtype.kind == "f" else wide.sum(**how) // count  # the inputs are positive
        if op == "ReduceL1":
            return abs(wide).sum(**how)
        if op in ("ReduceSumSquare", "ReduceL2"):
            squares = (wide * wide).sum(**how)
            return numpy.sqrt(squares.astype(float)) if op == "ReduceL2" else squares
        sums = (numpy.exp(wide.astype(float)) if op == "ReduceLogSumExp" else wide).sum(**how)
        return numpy.log(sums.astype(float)) + (1e-9 if x.dtype.kind != "f" else 0)  # log(exp(1)) is not below 1


class Reductions(unittest.TestCase):
    def check(self, op, opset, kind, number, x, axes, given, noop, keepdims, dynamic, device):
        """given: axes are an 'attribute', a 'constant' or an 'input'."""
        chosen = tuple(a % x.ndim for a in axes) if axes else () if noop else tuple(range(x.ndim))
        expected = numpy.asarray(reduce_to(op, x, chosen, keepdims)).astype(kind)
        attributes, inputs, constants, feeds = {"keepdims": int(keepdims)}, ["x"], [], {"x": x}
        values = [helper.make_tensor_value_info("x", number, ["d%d" % i for i in range(x.ndim)] if dynamic else x.shape)]
        if given != "attribute":
            attributes["noop_with_empty_axes"] = int(noop)
            inputs += ["axes"] if axes is not None else []
        if given == "attribute" and axes:
            attributes["axes"] = axes
        elif given == "constant" and axes is not None:
            constants = [numpy_helper.from_array(numpy.array(axes, numpy.int64), "axes")]
        elif given == "input" and axes is not None:
            values.append(helper.make_tensor_value_info("axes", TensorProto.INT64, [len(axes)]))
            feeds["axes"] = numpy.array(axes, numpy.int64)
        graph = helper.make_graph([helper.make_node(op, inputs, ["y"], **attributes)], "g", values, [ValueInfoProto(name="y")], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        got = nnrt.InferenceSession(model.SerializeToString(), providers=[device]).run(None, feeds)[0]
        case = (op, opset, kind, x.tolist(), axes, given, noop, keepdims, dynamic, device, got)
        self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape), case)
        near = ROUNDED.get(kind, 0)
        self.assertTrue(numpy.allclose(got, expected, near, near, equal_nan=True), case)

    def test_reductions(self):
        random, count = numpy.random.default_rng(1), 0
        ops = ("ReduceSum", "ReduceProd", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
               "ReduceLogSum", "ReduceLogSumExp")
        for op, opset, shape, axes in itertools.product(ops, SETS, SHAPES, AXES):
            tensor = opset >= 18 or (op == "ReduceSum" and opset >= 13)  # axes are an input of the node
            more = {k: n for k, (n, least_set) in MORE.items() if opset >= least_set and op in ("ReduceMax", "ReduceMin")}
            for kind, number in {**NUMBERS, **more}.items():
                whole = kind.startswith(("int", "uint"))
                if any(not -len(shape) <= a < len(shape) for a in axes or []) or (axes == [] and not tensor):
                    continue
                if 0 in shape and whole and op in ("ReduceMean", "ReduceLogSum", "ReduceLogSumExp"):
                    continue  # 0 / 0 and log 0 are no integers
                x = random.integers(0, 2, shape) if kind == "bool" else random.integers(1, 4, shape) if whole else random.random(shape) * 3 + 0.5
                for given, noop, dynamic in itertools.product(("constant", "input") if tensor else ("attribute",), range(1 + tensor), range(2)):
                    count += 1
                    self.check(op, opset, kind, number, numpy.asarray(x).astype(kind), axes, given, noop, count // 2 % 2 == 0, dynamic,
                               ("reference", "cpu")[count // 4 % 2])
        self.assertGreater(count, 8000)


if __name__ == "__main__":
    unittest.main()
