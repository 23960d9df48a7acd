"""Models of one operator, or of a few, with the values of their inputs, for test_tflite.py and tflite_pairs.py."""
import os
import sys
import zlib

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tflite'))
from writer import Model  # noqa: E402

Q = {'int8': (0.05, -3), 'uint8': (0.05, 125)}
CASES = {}  # name: function that adds the operators to a Builder
# Types that TensorFlow Lite's interface for WebAssembly does not have: inputs and results are cast from and to int32.
WIDE = ('bool', 'int64')
NUMBERS = ('float32', 'int8', 'uint8')


def case(name):
    def add(build):
        assert name not in CASES, name
        CASES[name] = build
        return build
    return add


class Builder(Model):
    """A model with the values of its inputs."""

    def __init__(self, name, reference):
        super().__init__()
        self.reference = reference  # for TensorFlow Lite, which lacks the custom operators
        self.random, self.values, self.casts = np.random.RandomState(zlib.crc32(name.encode())), [], []
        self.defined, self.bound = None, None  # Builder.define
        self.narrow = []  # Builder.y16
        self.wrong = False  # NNRT must refuse the model
        self.most = []  # upper bounds of results with a dynamic shape, for NNRT
        self.runs = 1  # states and variables stay between runs; the results are those of the last one

    def draw(self, shape, kind, low=-3.0, high=3.0):
        if kind == 'float32':
            return self.random.uniform(low, high, shape).astype(kind)
        if kind == 'bool':
            return self.random.randint(0, 2, shape).astype(kind)
        info = np.iinfo(kind)
        return self.random.randint(info.min if info.bits == 8 else -20, (info.max if info.bits == 8 else 20) + 1, shape).astype(kind)

    def quant(self, kind, scale, zero):
        if kind not in Q or scale == 0:
            return {}
        return {'scale': Q[kind][0] if scale is None else scale, 'zero': Q[kind][1] if zero is None else zero}

    def x(self, shape, kind='float32', scale=None, zero=None, value=None, **limits):
        value = self.draw(shape, kind, **limits) if value is None else np.asarray(value, kind)
        if kind in WIDE:
            t = self.tensor('wide%d' % len(self.tensors), kind, value.shape)
            self.op('CAST', [self.x(None, 'int32', value=value.astype('int32'))], [t], in_type='int32', out_type=kind)
            return t
        self.values.append(value)
        self.inputs.append(self.tensor('x%d' % len(self.inputs), kind, value.shape, **self.quant(kind, scale, zero)))
        return self.inputs[-1]

    def x16(self, shape, scale=0.0005, **limits):
        """An int16 tensor, quantized from a float32 input: TensorFlow Lite's interface for WebAssembly has no int16."""
        t = self.tensor('q%d' % len(self.tensors), 'int16', shape, scale=scale)
        self.op('QUANTIZE', [self.x(shape, **limits)], [t], 2)
        return t

    def y16(self, scale=0.0005, units=None):
        """An int16 result, dequantized to an output. units: that TensorFlow Lite's integers may differ from it."""
        t = self.tensor('q%d' % len(self.tensors), 'int16', (), scale=scale)
        self.narrow.append(t)
        self.bound = self.bound if units is None else 1.01 * units * scale
        return t

    def c(self, value, kind='int32', **quant):
        return self.constant('c%d' % len(self.tensors), np.asarray(value, kind), **quant)

    def weight(self, shape, kind='float32', scale=None, zero=None, **limits):
        return self.c(self.draw(shape, kind, **limits), kind, **self.quant(kind, scale, zero))

    def y(self, kind='float32', scale=None, zero=None, shape=()):
        if kind in WIDE:
            self.casts.append((self.tensor('t%d' % len(self.tensors), kind, shape), kind))
            return self.casts[-1][0]
        self.outputs.append(self.tensor('y%d' % len(self.outputs), kind, shape, **self.quant(kind, scale, zero)))
        return self.outputs[-1]

    def out(self, op, inputs, kind, scale=None, zero=None, version=1, **members):
        """One operator with one result."""
        self.op(op, inputs, [self.y(kind, scale, zero)], version, **members)

    def define(self, *results, bound=None):
        """The results as numpy computes them; bound: of the difference from TensorFlow Lite."""
        self.defined, self.bound = [np.asarray(r) for r in results], bound

    def finish(self):
        for t in self.narrow:
            self.op('DEQUANTIZE', [t], [self.y()], 2)
        for t, kind in self.casts:
            self.op('CAST', [t], [self.y('int32')], in_type=kind, out_type='int32')
