"""Small models for the tests of the Python package."""
import pathlib

import numpy
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[3]
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "float64": TensorProto.DOUBLE, "bool": TensorProto.BOOL,
         "int8": TensorProto.INT8, "int16": TensorProto.INT16, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
         "uint8": TensorProto.UINT8, "uint16": TensorProto.UINT16, "uint32": TensorProto.UINT32, "uint64": TensorProto.UINT64}


def onnx_bytes(nodes, inputs, outputs, constants=None, opset=17, **metadata):
    """A model. nodes: (operator, inputs, outputs[, attributes]), texts separated by spaces; inputs, outputs: name=(type, shape)."""
    def info(tensors):
        return [helper.make_tensor_value_info(name, TYPES[kind], shape) for name, (kind, shape) in tensors.items()]
    graph = helper.make_graph([helper.make_node(n[0], n[1].split(), n[2].split(), **(n[3] if len(n) > 3 else {})) for n in nodes],
                              "g", info(inputs), info(outputs),
                              [numpy_helper.from_array(numpy.asarray(a), name) for name, a in (constants or {}).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    helper.set_model_props(model, metadata)
    return model.SerializeToString()


def unary(operator, kind="float32", shape=(2, 3), out=None):
    """A model of one node, x to y."""
    return onnx_bytes([(operator, "x", "y")], {"x": (kind, shape)}, {"y": (out or kind, shape)})
