"""One case of test_contrib.py: a model of one node."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

import contrib_ml
import contrib_onnx

DOMAIN = 'com.microsoft'
NUMBERS = {'uint8': TensorProto.UINT8, 'int8': TensorProto.INT8, 'float32': TensorProto.FLOAT, 'int32': TensorProto.INT32,
           'int64': TensorProto.INT64, 'bool': TensorProto.BOOL, 'float16': TensorProto.FLOAT16, 'int16': TensorProto.INT16,
           'uint16': TensorProto.UINT16, 'uint32': TensorProto.UINT32, 'uint64': TensorProto.UINT64, 'float64': TensorProto.DOUBLE}


class Case:
    """One node. inputs: a list of arrays that the model reads, of Constant(array), or of None for absent inputs. like: the name of a case
    whose results this one must have, too; ONNX Runtime does not run it. moved: the node has channels first, and Transposes around it.
    want: the expected outputs in float64, in place of ONNX Runtime's. outer: inputs of the model that the node's graphs read."""

    def __init__(self, name, op, inputs, outputs=1, units=1, domain=DOMAIN, kept=None, ml=0, like=None, near=1e-5, main=18, moved=False,
                 want=None, outer=None, **attributes):
        self.name, self.expected, self.units, self.op = name, like or name, units, '.'.join(filter(None, (domain, op)))
        self.graphs = any(hasattr(value, 'node') for value in attributes.values())  # whose operators are not those of the node
        self.bounds = ['--max', 'Range_0/RANGE=16'] if op == 'Range' else []
        self.near, self.want, self.brain = near, want, any(isinstance(value, contrib_onnx.Brain) for value in inputs)
        self.feeds, constants, names = {}, [], []
        for k, value in enumerate(inputs):
            if value is None:
                names.append('')
            elif isinstance(value, Constant):
                names.append('c%d' % k)
                constants.append(numpy_helper.from_array(value.array, names[-1]))
            else:
                names.append('x%d' % k)
                self.feeds[names[-1]] = value.codes if isinstance(value, contrib_onnx.Brain) else value
        while names and names[-1] == '':
            names.pop()
        results = ['y%d' % k if kept is None or k in kept else '' for k in range(outputs)]
        node = helper.make_node(op, names, results, domain=domain, **attributes)
        self.feeds.update(outer or {})
        given = [helper.make_tensor_value_info(name, TensorProto.BFLOAT16 if self.brain else NUMBERS[str(value.dtype)], value.shape)
                 for name, value in self.feeds.items()]
        nodes = [node]
        if moved:
            axes = list(range(1, inputs[0].ndim - 1))
            nodes = [helper.make_node('Transpose', ['x0'], ['first'], perm=[0, len(axes) + 1] + axes), node,
                     helper.make_node('Transpose', ['last'], ['y0'], perm=[0] + [a + 1 for a in axes] + [1])]
            node.input[0], node.output[0] = 'first', 'last'
        graph = helper.make_graph(nodes, 'g', given, [helper.make_empty_tensor_value_info(r) for r in results if r], constants)
        self.outputs = [r for r in results if r]
        sets = [helper.make_opsetid('', main), helper.make_opsetid(DOMAIN, 1), helper.make_opsetid(contrib_onnx.PREVIEW, 1)] + ([helper.make_opsetid(contrib_ml.ML, ml)] if ml else [])
        self.model = helper.make_model(graph, opset_imports=sets, ir_version=8).SerializeToString()


class Constant:
    def __init__(self, array):
        self.array = np.asarray(array)


def floats(draw, *shape, scale=1.0):
    return (draw.standard_normal(shape) * scale).astype(np.float32)


def seven_bits(draw, *shape):
    """int8 weights of 7 bits: on processors without VNNI ONNX Runtime adds products of uint8 and int8 with saturation to 16 bits."""
    return draw.randint(-64, 64, shape).astype(np.int8)
