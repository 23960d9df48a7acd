"""Models of test_reports.py, with the values of their inputs and the expected outputs.

    @case('OWNER/PROJECT/issues/NUMBER')           # the report's address, behind https://github.com/
    def relu_nan(m):
        x = np.float32([np.nan, -1, 2])
        m.want(m.op('Relu', m.x(x)), [np.nan, 0, 2])

An expected output is in the type that the model has to return; `near` is the largest difference, relative to the largest
magnitude of the output, or absolute if that is below 1; of integers, in units. Without it the elements must be equal. A model
with m.refused must be refused with this part of the message; m.options are options of `nnrt run`.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tflite'))
from writer import Model as TfliteModel  # noqa: E402

CASES = {}  # name: (address, function, extension of the file, operator set)
FLOAT32 = 2e-6  # 16 roundings of float32: the default of computed float results
TYPES = {'uint8': TensorProto.UINT8, 'int8': TensorProto.INT8, 'float32': TensorProto.FLOAT, 'int32': TensorProto.INT32,
         'int64': TensorProto.INT64, 'bool': TensorProto.BOOL, 'float16': TensorProto.FLOAT16, 'int16': TensorProto.INT16,
         'uint16': TensorProto.UINT16, 'uint32': TensorProto.UINT32, 'uint64': TensorProto.UINT64,
         'float64': TensorProto.DOUBLE}


def case(address, opset=18, kind='onnx'):
    def add(build):
        assert build.__name__ not in CASES, build.__name__
        CASES[build.__name__] = (address, build, kind, opset)
        return build
    return add


def draw(*shape, seed=0, scale=1.0):
    """Normal numbers of float32."""
    return (np.random.RandomState(seed).standard_normal(shape) * scale).astype(np.float32)


class Expected:
    """The inputs, expected outputs and refusal of a model of either format."""

    def __init__(self):
        self.feeds, self.wanted, self.refused, self.options = {}, [], None, []

    def want(self, name, value, near=0.0, dtype=np.float32):
        """The output `name`: value, an array, or a list of numbers of dtype."""
        value = value if isinstance(value, (np.ndarray, np.generic)) else np.asarray(value, dtype)
        self.wanted.append((name, np.asarray(value), near))


class Onnx(Expected):
    """A graph of ONNX, or a body (a graph of an attribute): m.body(). Names are unique in a model."""

    def __init__(self, opset, outer=None):
        super().__init__()
        self.opset, self.nodes, self.constants, self.names = opset, [], [], {} if outer is None else outer.names
        self.still = {}  # the axes of inputs that stay fixed

    def name(self, of):
        self.names[of] = self.names.get(of, -1) + 1
        return '%s_%d' % (of, self.names[of])

    def x(self, value, still=()):
        """An input. still: axes that stay fixed in the form with dynamic dimensions, such as the channels; True: all."""
        value = np.asarray(value)
        name = self.name('x')
        self.feeds[name] = value
        self.still[name] = set(range(value.ndim)) if still is True else {axis % value.ndim for axis in still}
        return name

    def c(self, value, dtype=None):
        """A constant: an initializer."""
        name = self.name('c')
        self.constants.append(numpy_helper.from_array(np.array(value, dtype, order='C'), name))
        return name

    def ints(self, *values):
        return self.c(np.array(values, np.int64))

    def op(self, kind, *inputs, outputs=1, domain='', **attributes):
        """A node; the name of its output, or of its outputs. An input that is None is absent."""
        names = [self.name(kind.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, ['' if i is None else i for i in inputs], names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def body(self):
        return Onnx(self.opset, self)

    def graph(self, inputs, outputs):
        """The graph of a body. inputs: (name, type of numpy, shape); outputs: (name, type, shape)."""
        def info(values):
            return [helper.make_tensor_value_info(name, TYPES[np.dtype(kind).name], shape) for name, kind, shape in values]
        return helper.make_graph(self.nodes, self.name('body'), info(inputs), info(outputs), self.constants)

    def bytes(self, dynamic):
        """The file. dynamic: the dimensions of inputs are names; the fixed form declares the shapes of outputs, too."""
        inputs = [helper.make_tensor_value_info(name, TYPES[value.dtype.name], [
            '%s_%d' % (name, k) if dynamic and k not in self.still[name] else n for k, n in enumerate(value.shape)])
            for name, value in self.feeds.items()]
        outputs = [onnx.ValueInfoProto(name=name) if dynamic else
                   helper.make_tensor_value_info(name, TYPES[value.dtype.name], value.shape) for name, value, _ in self.wanted]
        graph = helper.make_graph(self.nodes, 'report', inputs, outputs, self.constants)
        domains = sorted({node.domain for node in self.nodes} - {''})
        sets = [helper.make_opsetid('', self.opset)] + [helper.make_opsetid(domain, 1) for domain in domains]
        return helper.make_model(graph, opset_imports=sets, ir_version=8).SerializeToString()


class Tflite(Expected):
    """A graph of TensorFlow Lite; tensors are indices."""

    def __init__(self, _):
        super().__init__()
        self.m = TfliteModel()

    def tensor(self, name, value, **quant):
        return self.m.tensor(name, str(value.dtype), value.shape, **quant)

    def x(self, value, **quant):
        name = 'x_%d' % len(self.feeds)
        self.feeds[name] = value
        self.m.inputs.append(self.tensor(name, value, **quant))
        return self.m.inputs[-1]

    def c(self, value, dtype=None, **quant):
        return self.m.constant('c_%d' % len(self.m.tensors), np.asarray(value, dtype), **quant)

    def op(self, kind, inputs, value, near=None, version=1, quant=None, **members):
        """An operator whose result has the shape and type of value. near: the result is an output, value is expected."""
        name = 'y_%d' % len(self.m.tensors)
        at = self.tensor(name, value, **(quant or {}))
        self.m.op(kind, inputs, [at], version, **members)
        if near is not None:
            self.m.outputs.append(at)
            self.want(name, value, near)
        return at

    def bytes(self, dynamic):
        assert not dynamic
        return self.m.bytes()


def build(name):
    """(address, model, extension) of a case."""
    address, function, kind, opset = CASES[name]
    model = (Onnx if kind == 'onnx' else Tflite)(opset)
    function(model)
    assert model.wanted, name
    return address, model, kind
