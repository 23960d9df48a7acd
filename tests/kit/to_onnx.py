"""Converts nodes of this library to ONNX, and compares their results with ONNX Runtime: for differential.py.

Each operator is a function below, named as its node type, that writes a node as ONNX nodes of operator set 23, from resolved
attributes; NoEquivalent says why there is none. Results are compared exactly unless the function's decorator states a bound; u
is the distance from 1 to the next number of the result's type (float16 2^-10, float32 2^-23, float64 2^-52):

    near(n)    n u |y|: elementwise, a function that both approximate, or some roundings
    part(n)    n u times the largest |y| of the result and |x| of the operands: each element is made of several of them
        sums(n)    n u times ONNX's result for the operands' absolute values, and one u for each term: sums of
               products in another order. No element can be off by more, whatever cancels.

Each node is judged on operands that both have alike, so that bounds do not add up along a graph."""
import base64
import collections
import json
import os
import re
import struct
import subprocess
import tempfile

import numpy
from onnx import ValueInfoProto, helper, numpy_helper

SET = 23
TYPES = {'bool': 9, 'int8': 3, 'int16': 5, 'int32': 6, 'int64': 7, 'uint8': 2, 'uint16': 4, 'uint32': 12, 'uint64': 13,
         'float16': 10, 'float32': 1, 'float64': 11}
ORDER = ['bool', 'uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32', 'uint64', 'int64', 'float16', 'float32', 'float64']
UNITS = {'float16': 2.0**-10, 'float32': 2.0**-23, 'float64': 2.0**-52}
LEAST = {'float16': 2.0**-24, 'float32': 2.0**-126, 'float64': 2.0**-1022}
HERE = os.path.dirname(os.path.abspath(__file__))


class NoEquivalent(Exception):
    """ONNX cannot say this node."""


class Bad(Exception):
    """ONNX Runtime does not take a model."""


# Operators without a result for some numbers (the logarithm of a negative one): the quantized result of NaN is its zero point,
# while ONNX does not specify QuantizeLinear of NaN.
MAYBE_NAN = ('LOG', 'POW_FUSION', 'RSQRT', 'SQRT')


class Real:
    """The real values of a quantized tensor, as a tensor of float32."""

    def __init__(self, t, scales, zeros, axis):
        self.number, self.format, self.shape, self.dtype, self.quant = t.number, t.format, t.shape, 'float32', ()
        self.scales, self.zeros, self.axis = numpy.array(scales, numpy.float32), numpy.array(zeros), axis
        shape = [-1 if k == axis and len(scales) > 1 else 1 for k in range(len(t.shape))]
        by = [v.reshape(shape) if len(scales) > 1 else v[0] for v in (self.scales, self.zeros)]
        self.value = ((t.value.astype(numpy.int64) - by[1]).astype(numpy.float32) * by[0]).astype(numpy.float32).reshape(t.shape)
        self.stored = t.dtype


class Writer:
    """Writes a node as ONNX: x names of operands ('' left out), t their tensors, v their values, a attributes, y tensors
    of results."""

    def __init__(self, graph, node):
        self.nodes, self.constants, self.prefix = [], [], 'n%s_' % (node.outs + [0])[0]
        self.x = ['' if n is None else 't%d' % n for n in node.ins]
        self.t = [None if n is None else graph.tensors[n] for n in node.ins]
        self.v = [None if t is None else t.value for t in self.t]
        self.y = [None if n is None else graph.tensors[n] for n in node.outs]
        self.a, self.given, self.op, self.count = node.resolved, node.attrs, node.op, 0
        self.stored = list(self.y)
        self.quantised = any(is_quantised(t) for t in self.t + self.y if t is not None)
        if self.quantised:
            self.dequantise()

    def dequantise(self):
        """Quantized operands become real numbers, and the node computes with them."""
        for k, t in enumerate(self.t):
            real = None
            if t is not None and t.dtype == 'int32' and self.op in BIASED and k == len(BIASED[self.op]):
                x, by = self.t[0], self.t[1] if len(BIASED[self.op]) > 1 else None
                real = Real(t, [x.scales[0] * s for s in by.scales] if by is not None else [x.scales[0]], [0], 0)
                if len(real.scales) > 1:
                    real.zeros = numpy.zeros(len(real.scales), numpy.int64)
            elif t is not None and is_quantised(t):
                real = self.real(k, t)
            if real is not None:
                self.t[k], self.v[k] = real, real.value
                self.x[k] = self.quantise('DequantizeLinear', self.x[k], real)
        for k, t in enumerate(self.y):
            if t is not None and is_quantised(t):
                self.y[k] = self.real(-1, t)

    def real(self, k, t):
        """A quantized tensor as real numbers."""
        scales, zeros = [float(q[2]) for q in t.quant], [int(q[1]) for q in t.quant]
        axis = t.axis - 1
        if axis < 0 and len(scales) > 1:
            if self.op in ('QUANT_DTYPE_CAST_V2', 'QUANTIZE_LINEAR') and 'axis' in self.a:
                axis = self.a['axis']
            elif self.op == 'QUANT_DTYPE_CAST':
                axis = 0
            elif k == 1 and self.op in BIASED:
                axis = len(t.shape) - 1 if self.op == 'MATMUL_FUSION' else 0
            else:
                axis = 1 if t.format == 'NCHW' and len(t.shape) > 1 else len(t.shape) - 1
        axis += len(t.shape) if axis < 0 else 0
        if t.value.dtype == numpy.int32 and (numpy.abs(t.value.astype(float)) > 2**30).any():
            raise NoEquivalent('stored integers whose difference to the zero point is none')
        if any(int(q[0]) != 8 * t.value.dtype.itemsize for q in t.quant):
            raise NoEquivalent('stored integers of fewer bits')
        if not all(1e-12 < s < 1e12 for s in scales) or (len(scales) > 1 and t.shape[axis] != len(scales)):
            raise NoEquivalent('parameters that ONNX does not have')
        return Real(t, scales, zeros, axis)

    def quantise(self, op, name, real):
        """From or to stored integers."""
        several = len(real.scales) > 1
        if op == 'QuantizeLinear' and self.op in MAYBE_NAN:
            name = self.node('Where', self.node('IsNaN', name), self.const(0, numpy.float32), name)
        scale = self.const(real.scales if several else real.scales[0], numpy.float32)
        zero = self.const(real.zeros if several else real.zeros[0], real.stored)
        return self.node(op, name, scale, zero, **({'axis': real.axis} if several else {}))

    def name(self):
        """A new name."""
        self.count += 1
        return '%s%d' % (self.prefix, self.count)

    def node(self, op, *inputs, outputs=1, **attributes):
        """Adds a node; the name of its result, or names."""
        names = [self.name() for _ in range(outputs)]
        inputs = list(inputs)
        while inputs and inputs[-1] == '':
            inputs.pop()
        self.nodes.append(helper.make_node(op, inputs, names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def const(self, values, dtype=numpy.int64):
        """A constant."""
        name = self.name()
        with numpy.errstate(all='ignore'):
            self.constants.append(numpy_helper.from_array(numpy.asarray(values, dtype), name))
        return name

    def cast(self, name, dtype):
        """The value as another type."""
        return self.node('Cast', name, to=TYPES[dtype])

    def like(self, value):
        """A constant of the type of the result."""
        return self.const(value, self.y[0].value.dtype)

    def reshape(self, name, shape):
        """The same elements in another shape."""
        return self.node('Reshape', name, self.const(list(shape)), allowzero=1)

    def gather(self, name, places, axis):
        """Places along an axis."""
        return self.node('Gather', name, self.const(places), axis=axis)

    def slice(self, name, axes, starts, ends, steps):
        """A slice."""
        return self.node('Slice', name, self.const(starts), self.const(ends), self.const(axes), self.const(steps))

    def channel(self, k=0):
        """The axis of the channels of input k."""
        t = self.t[k]
        return len(t.shape) - 1 if t.format != 'NCHW' or len(t.shape) == 1 else 1

    def to_nchw(self, k=0):
        """Input k with its channels after the batch."""
        rank = len(self.t[k].shape)
        if self.t[k].format == 'NCHW' or rank < 3:
            return self.x[k]
        return self.node('Transpose', self.x[k], perm=[0, rank - 1] + list(range(1, rank - 1)))

    def from_nchw(self, name, k=0):
        """A result with its channels on the channel axis of input k."""
        rank = len(self.t[k].shape)
        if self.t[k].format == 'NCHW' or rank < 3:
            return name
        return self.node('Transpose', name, perm=[0] + list(range(2, rank)) + [1])

    def along(self, k, axis, name=None):
        """Input k, a vector, lying along an axis of input 0."""
        shape = [1] * len(self.t[0].shape)
        shape[axis] = -1
        return self.reshape(name or self.x[k], shape)

    def activated(self, name, kind=None):
        """The activation of the attributes."""
        a, kind = self.a, kind or self.a.get('activationType', 'NO_ACTIVATION')
        plain = {'RELU': 'Relu', 'SIGMOID': 'Sigmoid', 'ABS': 'Abs', 'SOFTPLUS': 'Softplus',
                 'TANH': 'Tanh',
                 'HSWISH': 'HardSwish'}
        if kind in ('NO_ACTIVATION', 'LINEAR'):
            return name
        if kind in plain:
            return self.node(plain[kind], name)
        if kind == 'SIGN':  # of NaN it is NaN, where ONNX Runtime has 0
            return self.node('Where', self.node('IsNaN', name), name, self.node('Sign', name))
        if kind == 'SOFTSIGN':  # of infinity it is 1, where ONNX Runtime has NaN
            return self.node('Where', self.node('IsInf', name), self.node('Sign', name), self.node('Softsign', name))
        if kind in ('ELU', 'LEAKY_RELU', 'THRESHOLDRELU'):
            return self.node({'ELU': 'Elu', 'LEAKY_RELU': 'LeakyRelu', 'THRESHOLDRELU': 'ThresholdedRelu'}[kind], name,
                             alpha=float(a['alpha']))
        if kind in ('RELU6', 'RELU1', 'HARD_TANH'):
            low, high = (a['minVal'], a['maxVal']) if kind == 'HARD_TANH' else (0, 6 if kind == 'RELU6' else 1)
            return self.node('Clip', name, self.like(low), self.like(high))
        if kind == 'SELU':
            return self.node('Selu', name)
        if kind == 'HSIGMOID' and self.y[0].dtype == 'float64':  # alpha is a float32
            return self.node('Div', self.node('Clip', self.node('Add', name, self.like(3)), self.like(0), self.like(6)),
                             self.like(6))
        if kind == 'HSIGMOID':
            return self.node('HardSigmoid', name, alpha=1 / 6, beta=0.5)
        if kind == 'SWISH':
            return self.node('Mul', name, self.node('Sigmoid', name))
        if kind == 'GELU':
            return self.node('Gelu', name, approximate='tanh' if a.get('approximate') else 'none')
        raise NoEquivalent('activation ' + kind)


def is_quantised(t):
    """Integers with parameters."""
    return bool(t.quant) and t.dtype not in UNITS


# Operands before a bias of integers, which has the product of their scales.
BIASED = {'CONV2D_FUSION': 'xw', 'CONV2D_TRANSPOSE_FUSION': 'xw', 'FULL_CONNECTION': 'xw', 'MATMUL_FUSION': 'xw',
          'BIAS_ADD': 'x'}


# ---- bounds ----

def exact(_):
    """The same values."""
    return None


def near(n):
    """See above."""
    return lambda j: n * j.unit * (numpy.abs(j.ours) + LEAST[j.dtype])


def part(n):
    """See above."""
    def bound(j):
        sizes = [largest(j.ours)] + [largest(v) for v in j.values if v is not None and v.dtype.kind == 'f']
        return n * j.unit * (max(sizes) + LEAST[j.dtype])
    return bound


def sums(n):
    """See above."""
    def bound(j):
        terms = max([v.size for v in j.values if v is not None] + [1])
        scale = 2 if j.writer.a.get('activationType', 'NO_ACTIVATION') != 'NO_ACTIVATION' else 1
        return scale * j.unit * ((n + (terms if j.dtype != 'float16' else 2)) * j.magnitude() + n * numpy.abs(j.ours) + LEAST[j.dtype])
    return bound


def largest(array):
    """The largest finite absolute value."""
    known = numpy.abs(array[numpy.isfinite(array)].astype(numpy.float64))
    return float(known.max()) if known.size else 0.0


OPERATORS, BOUNDS = {}, {}


def operator(*names, bound=exact):
    """Registers a function for some operators."""
    def add(function):
        for name in names or [function.__name__.upper()]:
            OPERATORS[name], BOUNDS[name] = function, bound
        return function
    return add


# ---- elementwise ----

UNARY = {'ABS': 'Abs', 'CEIL': 'Ceil', 'FLOOR': 'Floor', 'NEG': 'Neg', 'ROUND': 'Round', 'IS_NAN': 'IsNaN',
         'BITWISE_NOT': 'BitwiseNot',
         'ASSIGN': 'Identity', 'SQRT': 'Sqrt', 'RECIPROCAL': 'Reciprocal'}
CURVES = {'COS': 'Cos', 'SIN': 'Sin', 'TAN': 'Tan', 'ACOS': 'Acos', 'ASIN': 'Asin', 'ATAN': 'Atan', 'COSH': 'Cosh',
          'SINH': 'Sinh',
          'ACOSH': 'Acosh', 'ASINH': 'Asinh', 'ATANH': 'Atanh', 'ERF': 'Erf', 'LOG': 'Log', 'MISH': 'Mish'}


@operator(*UNARY)
def unary(w):
    """One operator of ONNX."""
    return w.node(UNARY[w.op], w.x[0])


# ONNX Runtime's sine of float64 is good to a unit of 1, not of the result.
@operator(*CURVES, bound=lambda j: 16 * j.unit * (numpy.abs(j.ours) + LEAST[j.dtype] / j.unit + (j.writer.op in ('SIN', 'COS', 'TAN'))))
def curve(w):
    """The same; both approximate."""
    return w.node(CURVES[w.op], w.x[0])


@operator(bound=near(2))
def rsqrt(w):
    """RSQRT"""
    return w.node('Reciprocal', w.node('Sqrt', w.x[0]))


@operator()
def square(w):
    """SQUARE"""
    return narrow(w, 'Mul', w.x[0], w.x[0])


# exp and tanh of ONNX Runtime are polynomials, absolute 1e-7 or so; the constants of GELU's tanh form are float32.
@operator(bound=lambda j: 16 * (2.0**-23 if j.writer.a.get('approximate') else j.unit) * (numpy.abs(j.ours) + 1))
def activation(w):
    """ACTIVATION"""
    if w.t[0].dtype.startswith('int'):
        raise NoEquivalent('activations of integers')
    if w.quantised and w.a['activationType'] in ('SIGMOID', 'TANH') and w.t[0].scales[0] >= 8:
        raise NoEquivalent('quantised steps of 8 and more, which are an end of SIGMOID and TANH, 0 too, by definition')
    return w.activated(w.x[0])


def common(w):
    """Operands in the larger of their types."""
    dtype = max((t.dtype for t in w.t), key=ORDER.index)
    return dtype, [x if t.dtype == dtype else w.cast(x, dtype) for x, t in zip(w.x, w.t)]


def narrow(w, op, *names, dtype=None):
    """An operation on integers that ONNX Runtime has for 32 and 64 bits only."""
    dtype = dtype or w.y[0].dtype
    wide = {'int8': 'int32', 'uint8': 'int32', 'int16': 'int32', 'uint16': 'int32', 'uint32': 'int64',
            'uint64': 'int64'}.get(dtype)
    if wide is None or (dtype == 'uint64' and op not in ('Add', 'Sub', 'Mul')):
        return w.node(op, *names)
    return w.cast(w.node(op, *[w.cast(name, wide) for name in names]), dtype)


def small(j):
    """Elementwise, plus the error of a fused activation."""
    if j.writer.a.get('activationType', 'NO_ACTIVATION') in ('NO_ACTIVATION', 'RELU', 'RELU6', 'RELU1', 'ABS', 'LINEAR',
                                                             'SIGN') and j.dtype != 'float16':
        return None
    return 16 * j.unit * (numpy.abs(j.ours) + (0 if 'activationType' not in j.writer.a else 1))


@operator('ADD_FUSION', 'SUB_FUSION', 'MUL_FUSION', 'DIV_FUSION', bound=small)
def arithmetic(w):
    """Sums and products."""
    op = {'A': 'Add', 'S': 'Sub', 'M': 'Mul', 'D': 'Div'}[w.op[0]]
    dtype, names = common(w)
    if dtype == 'bool':
        names = [w.cast(name, 'int32') for name in names]
        return w.cast(w.node(op, *names), 'bool')
    if w.quantised and op == 'Div' and not w.v[1].all():
        raise NoEquivalent('quantised quotients by zero')
    if dtype not in UNITS and w.a['activationType'] != 'NO_ACTIVATION':
        raise NoEquivalent('activations of integers')
    return w.activated(narrow(w, op, *names))


@operator()
def eltwise(w):
    """ELTWISE"""
    dtype, names = common(w)
    if w.a['mode'] == 'MAXIMUM':
        return extreme(w)
    return narrow(w, {'PROD': 'Mul', 'SUM': 'Add'}[w.a['mode']], *names, dtype=dtype)


@operator('MAXIMUM', 'MINIMUM')
def extreme(w):
    """The larger or smaller one."""
    if any(t.dtype in UNITS and numpy.isnan(t.value).any() for t in w.t):
        raise NoEquivalent('NaN: the other operand; in ONNX it comes through')
    return w.node('Min' if w.op == 'MINIMUM' else 'Max', *common(w)[1])


@operator('EQUAL', 'NOT_EQUAL', 'LESS', 'LESS_EQUAL', 'GREATER', 'GREATER_EQUAL')
def comparison(w):
    """Comparisons."""
    dtype, names = common(w)
    if dtype in ('int8', 'uint8', 'int16', 'uint16', 'uint32') or (dtype == 'bool' and
                                                                   'EQUAL' != w.op[-5:]) or (dtype == 'bool' and
                                                                                             '_' in w.op and
                                                                                             w.op != 'NOT_EQUAL'):
        names = [w.cast(name, 'int64') for name in names]
    op = {'EQUAL': 'Equal', 'NOT_EQUAL': 'Equal', 'LESS': 'Less', 'LESS_EQUAL': 'LessOrEqual', 'GREATER': 'Greater',
          'GREATER_EQUAL': 'GreaterOrEqual'}[w.op]
    y = w.node(op, *names)
    return w.node('Not', y) if w.op == 'NOT_EQUAL' else y


@operator('LOGICAL_AND', 'LOGICAL_OR', 'LOGICAL_XOR', 'LOGICAL_NOT')
def logic(w):
    """Of elements that are not zero."""
    names = [x if t.dtype == 'bool' else w.cast(x, 'bool') for x, t in zip(w.x, w.t)]
    return w.node({'D': 'And', 'R': 'Or', 'T': 'Not'}[w.op[-1]] if w.op != 'LOGICAL_XOR' else 'Xor', *names)


@operator('BITWISE_AND', 'BITWISE_OR', 'BITWISE_XOR')
def bits(w):
    """Of bits."""
    return w.node({'D': 'BitwiseAnd', 'R': 'BitwiseOr'}[w.op[-1]] if w.op != 'BITWISE_XOR' else 'BitwiseXor', *common(w)[1])


@operator()
def bit_shift(w):
    """BIT_SHIFT"""
    width = w.t[0].value.dtype.itemsize * 8
    if (w.v[1] >= width).any():
        raise NoEquivalent('shifts by more bits than there are')
    return w.node('BitShift', *common(w)[1], direction=w.a['direction'])


@operator()
def mod(w):
    """MOD"""
    dtype, names = common(w)
    if dtype.startswith('uint'):
        return w.node('Mod', *names)
    if dtype == 'int64' and any((numpy.abs(v.astype(float)) > 2**53).any() for v in w.v):
        raise NoEquivalent('remainders of large integers, which ONNX Runtime takes as float64')
    return w.node('Mod', *names, fmod=1)


@operator()
def floor_div(w):
    """FLOOR_DIV"""
    dtype, names = common(w)
    if dtype not in UNITS:
        raise NoEquivalent('division of integers toward minus infinity')
    if w.quantised and not w.v[1].all():
        raise NoEquivalent('quantised quotients by zero')
    if w.quantised:
        quotient = w.v[0].astype(float) / w.v[1]
        if (numpy.abs(quotient - numpy.round(quotient)) < 1e-4 * numpy.maximum(1, numpy.abs(quotient))).any():
            raise NoEquivalent('a quantised quotient that float32 may round to a whole number')
    if dtype == 'float16':
        raise NoEquivalent('a quotient that float16 rounds before it is rounded down')
    return w.node('Floor', w.node('Div', *names))


@operator(bound=near(2))
def real_div(w):
    """REAL_DIV"""
    dtype, names = common(w)
    return w.node('Div', *[name if dtype in UNITS else w.cast(name, 'float32') for name in names])


@operator(bound=near(16))
def pow_fusion(w):
    """POW_FUSION"""
    dtype, names = common(w)
    if dtype not in UNITS:
        raise NoEquivalent('powers of integers, computed in float64')
    x = names[0]
    if w.a['scale'] != 1 or w.a['shift'] != 0:
        raise NoEquivalent('a base of three roundings')
    return w.node('Pow', x, names[1])


@operator(bound=near(2))
def squared_difference(w):
    """SQUARED_DIFFERENCE"""
    dtype, names = common(w)
    if dtype == 'bool':
        raise NoEquivalent('differences of bools')
    y = narrow(w, 'Sub', *names)
    return narrow(w, 'Mul', y, y)


@operator(bound=sums(4))
def add_n(w):
    """ADD_N"""
    y = w.x[0]
    for x in w.x[1:]:
        y = narrow(w, 'Add', y, x)
    return y


@operator()
def bias_add(w):
    """BIAS_ADD"""
    return narrow(w, 'Add', w.x[0], w.along(1, w.channel()))


def scaled(j):
    """Devices may round a product and a sum once, together: the product is at most as large as the result plus the addend."""
    bound = small(j)
    if bound is None and os.environ.get('NNRT_TEST_DEVICE') and len(j.values) > 2 and j.dtype in ('float32', 'float16'):
        return 2 * j.unit * (numpy.abs(j.ours) + largest(j.values[2]))
    return bound


@operator(bound=scaled)
def scale_fusion(w):
    """SCALE_FUSION"""
    axis = w.a['axis'] + (len(w.t[0].shape) if w.a['axis'] < 0 else 0)
    shape = [1] * axis + list(w.t[1].shape)
    shape += [1] * (len(w.t[0].shape) - len(shape))
    if w.quantised and len(w.x) > 2 and w.x[2] and largest(w.v[2]) > 2**30 * float(w.t[0].scales[0]) * float(w.t[1].scales[0]):
        raise NoEquivalent('a bias that is beyond int32 in the scale of the product')
    y = w.node('Mul', w.x[0], w.reshape(w.x[1], shape))
    if len(w.x) > 2 and w.x[2]:
        y = w.node('Add', y, w.reshape(w.x[2], shape))
    return w.activated(y)


@operator()
def clip(w):
    """CLIP"""
    if w.t[0].dtype in UNITS and any(v is not None and numpy.isnan(v).any() for v in w.v):
        raise NoEquivalent('NaN')
    given = [x for x in w.x + ['', '']]
    low, high = given[1], given[2]
    kind = w.v[0].dtype
    if (not low or not high) and kind.kind != 'f':
        raise NoEquivalent('bounds of integers given as floats')
    if (not low and w.a['min'] > 3.402823e38) or (not high and w.a['max'] < -3.402823e38):
        raise NoEquivalent('bounds beyond all numbers')
    with numpy.errstate(all='ignore'):
        # none given: ONNX Runtime takes the largest finite numbers
        low = w.reshape(low, []) if low else w.like(w.a['min'] if w.a['min'] > -3.402823e38 else -numpy.inf)
        high = w.reshape(high, []) if high else w.like(w.a['max'] if w.a['max'] < 3.402823e38 else numpy.inf)
    return w.node('Clip', w.x[0], low, high)


@operator(bound=near(2))
def leaky_relu(w):
    """LEAKY_RELU"""
    return w.node('LeakyRelu', w.x[0], alpha=float(w.a['negativeSlope']))


@operator()
def prelu_fusion(w):
    """PRELU_FUSION"""
    return w.node('PRelu', w.x[0], w.reshape(w.x[1], [1] * w.v[0].ndim) if w.v[1].size == 1 else w.along(1, w.channel()))


@operator(bound=lambda j: 4 * j.unit * (1 + abs(j.writer.a['beta'])))
def hard_sigmoid(w):
    """HARD_SIGMOID"""
    return w.node('HardSigmoid', w.x[0], alpha=float(w.a['alpha']), beta=float(w.a['beta']))


@operator(bound=lambda j: 4 * j.unit * (1 + abs(j.writer.a['beta'])) * numpy.abs(j.values[0]))
def hard_swish(w):
    """HARD_SWISH"""
    return w.node('Mul', w.x[0], w.node('HardSigmoid', w.x[0], alpha=float(w.a['alpha']), beta=float(w.a['beta'])))


@operator(bound=lambda j: 16 * j.unit * (numpy.abs(j.ours) + 1))
def softplus(w):
    """SOFTPLUS"""
    if w.a['beta'] != 1 or w.a['threshold'] < (37 if w.t[0].dtype == 'float64' else 17):
        raise NoEquivalent('beta or threshold of softplus')
    return w.node('Softplus', w.x[0])


@operator(bound=lambda j: 16 * j.unit * numpy.abs(j.ours) * (1 + numpy.abs(j.values[0])))
def expfusion(w):
    """EXPFUSION"""
    if w.a['base'] != -1 or w.a['scale'] != 1 or w.a['shift'] != 0:
        raise NoEquivalent('base, scale or shift of exp')
    return w.node('Exp', w.x[0])


@operator()
def is_inf(w):
    """IS_INF"""
    return w.node('IsInf', w.x[0], detect_negative=int(w.a['detectNegative']), detect_positive=int(w.a['detectPositive']))


@operator()
def cast(w):
    """CAST"""
    to, value = w.y[0].dtype, w.v[0]
    if w.t[0].dtype in UNITS and to not in UNITS and to != 'bool':
        info = numpy.iinfo(to)
        with numpy.errstate(all='ignore'):
            if not numpy.all((value.astype(float) > info.min) & (value.astype(float) < info.max)):
                raise NoEquivalent('floats beyond the integers, which ONNX leaves open')
    if (w.t[0].dtype, to) == ('float64', 'float16'):
        with numpy.errstate(all='ignore'):
            if not numpy.array_equal(value.astype(numpy.float16), value.astype(numpy.float32).astype(numpy.float16), equal_nan=True):
                raise NoEquivalent('float64 that ONNX Runtime rounds to float32, then to float16')
    return w.cast(w.x[0], to)


@operator('QUANT_DTYPE_CAST', 'QUANT_DTYPE_CAST_V2', 'QUANTIZE_LINEAR')
def quant_dtype_cast(w):
    """Floats and stored integers: errors of a quantized operand or result."""
    if not numpy.isfinite(w.v[0]).all() or largest(w.v[0]) > 1e9:
        raise NoEquivalent('what is no number, or beyond int32, quantised')
    if w.y[0].dtype == w.t[0].dtype:
        return w.x[0]
    return w.cast(w.x[0], w.y[0].dtype)


@operator('BITCAST')
def bitcast(w):
    """ONNX has it from operator set 26 on: here the case that changes no type."""
    if w.y[0].dtype != w.t[0].dtype or w.quantised:
        raise NoEquivalent('bytes of another type')
    return w.node('Identity', w.x[0])


@operator('WHERE', 'SELECT')
def where(w):
    """Choice."""
    c = w.x[0]
    if len(w.t[0].shape) == 1 and len(w.t[1].shape) > 1 and w.t[0].shape == w.t[1].shape[:1]:
        c = w.reshape(c, [-1] + [1] * (len(w.t[1].shape) - 1))
    return w.node('Where', c, w.x[1], w.x[2])


# ---- movers ----

def numbers(w, k):
    """Values of input k as a list."""
    return [int(n) for n in w.v[k].reshape(-1)]


@operator('RESHAPE', 'FLATTEN_RANGE')
def reshape(w):
    """To the shape of the result."""
    return w.reshape(w.x[0], w.y[0].shape)


@operator()
def flatten(w):
    """FLATTEN"""
    return w.node('Flatten', w.x[0], axis=w.a['axis'])


@operator()
def transpose(w):
    """TRANSPOSE"""
    perm = [n + (len(w.t[0].shape) if n < 0 else 0) for n in numbers(w, 1)]
    return w.node('Transpose', w.x[0], perm=perm) if perm else w.node('Identity', w.x[0])


@operator()
def concat(w):
    """CONCAT"""
    return w.node('Concat', *w.x, axis=w.a['axis'])


@operator()
def split(w):
    """SPLIT"""
    axis = w.a['axis']
    y = w.node('Split', w.x[0], w.const([y.shape[axis] for y in w.y]), outputs=len(w.y), axis=axis)
    return [y] if len(w.y) == 1 else y


@operator()
def stack(w):
    """STACK"""
    axis = w.a['axis'] + (len(w.y[0].shape) if w.a['axis'] < 0 else 0)
    return w.node('Concat', *[w.node('Unsqueeze', x, w.const([axis])) for x in w.x], axis=axis)


@operator()
def unstack(w):
    """UNSTACK"""
    axis = w.a['axis']
    names = w.node('Split', w.x[0], w.const([1] * len(w.y)), outputs=len(w.y), axis=axis)
    return [w.node('Squeeze', y, w.const([axis])) for y in ([names] if len(w.y) == 1 else names)]


@operator()
def squeeze(w):
    """SQUEEZE"""
    axes = w.a['axis']
    return w.node('Squeeze', w.x[0], w.const(axes)) if axes else w.node('Identity', w.x[0])


@operator()
def unsqueeze(w):
    """UNSQUEEZE"""
    return w.node('Unsqueeze', w.x[0], w.const(w.a['axis']))


@operator()
def expand_dims(w):
    """EXPAND_DIMS"""
    return w.node('Unsqueeze', w.x[0], w.const(numbers(w, 1)))


@operator()
def broadcast_to(w):
    """BROADCAST_TO"""
    return w.node('Expand', w.x[0], w.const(list(w.y[0].shape)))


@operator()
def tile_fusion(w):
    """TILE_FUSION"""
    rank_, times = len(w.y[0].shape), numbers(w, 1)
    repeats = [1] * rank_
    dims = [int(n) for n in w.given.get('dims', '').split()] or list(range(rank_ - len(times), rank_))
    for k, n in zip(dims, times):
        repeats[k] = n
    x = w.x[0] if len(w.t[0].shape) == rank_ else w.reshape(w.x[0], [1] * (rank_ - len(w.t[0].shape)) + list(w.t[0].shape))
    return w.node('Tile', x, w.const(repeats))


@operator()
def gather(w):
    """GATHER"""
    return w.node('Gather', w.x[0], w.x[1], axis=numbers(w, 2)[0] if len(w.x) > 2 and w.x[2] else 0)


@operator()
def gather_nd(w):
    """GATHER_ND"""
    return w.node('GatherND', w.x[0], w.cast(w.x[1], 'int64'))


@operator()
def gather_elements(w):
    """GATHER_ELEMENTS"""
    return w.node('GatherElements', w.x[0], w.x[1], axis=w.a['axis'])


@operator(bound=lambda j: None if j.writer.a['reduction'] in ('NONE', 'MIN', 'MAX') else part(j.values[1].size)(j))
def scatter_elements(w):
    """SCATTER_ELEMENTS"""
    if w.a['reduction'] in ('MIN', 'MAX') and any(v.dtype.kind == 'f' and numpy.isnan(v).any() for v in w.v):
        raise NoEquivalent('NaN in the smallest and largest')
    return w.node('ScatterElements', *w.x, axis=w.a['axis'], reduction=w.a['reduction'].lower())


@operator(bound=lambda j: None if j.writer.a['reduction'] in ('NONE', 'MIN', 'MAX') else part(j.values[1].size)(j))
def scatter_nd_update(w):
    """SCATTER_ND_UPDATE"""
    if w.a['reduction'] in ('MIN', 'MAX') and any(v.dtype.kind == 'f' and numpy.isnan(v).any() for v in w.v):
        raise NoEquivalent('NaN in the smallest and largest')
    return w.node('ScatterND', w.x[0], w.cast(w.x[1], 'int64'), w.x[2], reduction=w.a['reduction'].lower())


@operator()
def tensor_scatter(w):
    """TENSOR_SCATTER"""
    starts = [w.cast(x, 'int64') for x in w.x[2:]]
    return w.node('TensorScatter', *w.x[:2], *starts, axis=w.a['axis'])


@operator(bound=lambda j: part(j.values[0].size)(j) if j.dtype in UNITS else None)
def scatter_nd(w):
    """SCATTER_ND"""
    return w.node('ScatterND', w.const(numpy.zeros(w.y[0].shape), w.v[1].dtype), w.cast(w.x[0], 'int64'), w.x[1],
                  reduction='add')


@operator()
def strided_slice(w):
    """STRIDED_SLICE"""
    given = w.x + [''] * 5  # the form with five inputs has axes after the ends, and no masks
    masks = {name: int(w.given.get(name, 0)) if not given[4] else 0 for name in ('beginMask', 'endMask', 'ellipsisMask',
                                                                                 'newAxisMask', 'shrinkAxisMask')}
    if masks['ellipsisMask'] or masks['newAxisMask'] or masks['shrinkAxisMask']:
        raise NoEquivalent('masks of slices that add and drop axes')
    count = w.v[1].size
    axes = numbers(w, 3) if given[4] and given[3] else list(range(count))
    steps = numbers(w, 4 if given[4] else 3) if given[3] or given[4] else [1] * count
    starts, ends = numbers(w, 1), numbers(w, 2)
    for k in range(count):
        if masks['beginMask'] >> k & 1:
            starts[k] = 0 if steps[k] > 0 else 2**40
        if masks['endMask'] >> k & 1:
            ends[k] = 2**40 if steps[k] > 0 else -2**40
        if steps[k] < 0 and not given[4] and starts[k] < -w.t[0].shape[axes[k]]:
            raise NoEquivalent('backward from before the first element, which is nothing in the form with masks')
        if steps[k] < 0 and ends[k] in (2**31 - 1, 2**63 - 1):
            raise NoEquivalent('backward to the largest number: ONNX Runtime takes all down to the first element')
    return w.slice(w.x[0], axes, starts, ends, steps)


@operator()
def slice_fusion(w):
    """SLICE_FUSION"""
    begins, sizes = numbers(w, 1), numbers(w, 2)
    axes = [int(n) for n in w.given.get('axes', '').split()] or list(range(len(begins)))
    begins = [b + (w.t[0].shape[k] if b < 0 else 0) for b, k in zip(begins, axes)]
    ends = [2**40 if n < 0 else b + n for b, n in zip(begins, sizes)]
    return w.slice(w.x[0], axes, begins, ends, [1] * len(axes))


@operator()
def crop(w):
    """CROP"""
    axis = w.a['axis']
    axes = list(range(axis, len(w.t[0].shape)))
    offsets = w.a['offset'] or [0]
    offsets = offsets * len(axes) if len(offsets) == 1 else offsets
    return w.slice(w.x[0], axes, offsets, [o + w.y[0].shape[k] for o, k in zip(offsets, axes)], [1] * len(axes))


@operator('PAD_FUSION', 'PAD_EDGE')
def pad(w):
    """Paddings."""
    given = w.v[1].reshape(-1, 2) if len(w.x) > 1 and w.x[1] else numpy.array(w.a['paddings']).reshape(-1, 2)
    pads = [int(n) for n in given[:, 0]] + [int(n) for n in given[:, 1]]
    if w.op == 'PAD_EDGE':
        return w.node('Pad', w.x[0], w.const(pads), mode='edge')
    mode = w.a['paddingMode']
    if mode == 'SYMMETRIC':
        raise NoEquivalent('paddings that repeat the edge')
    if mode == 'REFLECT':
        return w.node('Pad', w.x[0], w.const(pads), mode='reflect')
    if len(w.x) > 2 and w.x[2]:
        return w.node('Pad', w.x[0], w.const(pads), w.reshape(w.x[2], []))
    if w.quantised and w.a['constantValue'] != 0:
        raise NoEquivalent('paddings in the parameters of the operand')
    if w.a['constantValue'] != 0 and w.v[0].dtype.kind != 'f':
        raise NoEquivalent('paddings of integers by a float')
    return w.node('Pad', w.x[0], w.const(pads), w.like(w.a['constantValue']))


@operator()
def roll(w):
    """ROLL"""
    shape, shifts = w.t[0].shape, numbers(w, 1)
    if len(w.x) < 3 or not w.x[2]:
        y, lengths, axes = w.reshape(w.x[0], [-1]), [w.v[0].size], [0] * len(shifts)
    else:
        y, lengths, axes = w.x[0], shape, numbers(w, 2)
    for shift, axis in zip(shifts, axes):
        n = lengths[axis]
        y = w.gather(y, [(i - shift) % n for i in range(n)], axis)
    return w.reshape(y, shape)


@operator()
def trilu(w):
    """TRILU"""
    k = w.const(int(w.v[1].reshape(-1)[0])) if len(w.x) > 1 and w.x[1] else ''
    return w.node('Trilu', w.x[0], k, upper=int(w.a['upper']))


@operator('DEPTH_TO_SPACE', 'SPACE_TO_DEPTH')
def blocks(w):
    """Blocks of cells and channels."""
    if w.op == 'DEPTH_TO_SPACE':
        y = w.node('DepthToSpace', w.to_nchw(), blocksize=w.a['blockSize'], mode=w.a['mode'] or 'DCR')
    else:
        y = w.node('SpaceToDepth', w.to_nchw(), blocksize=w.a['blockSize'])
    return w.from_nchw(y)


@operator()
def channel_shuffle(w):
    """CHANNEL_SHUFFLE"""
    axis, shape = w.channel(), list(w.t[0].shape)
    group = w.a['group']
    apart = shape[:axis] + [group, shape[axis] // group] + shape[axis + 1:]
    perm = list(range(len(apart)))
    perm[axis], perm[axis + 1] = axis + 1, axis
    return w.reshape(w.node('Transpose', w.reshape(w.x[0], apart), perm=perm), shape)


@operator()
def reverse_sequence(w):
    """REVERSE_SEQUENCE"""
    batch, time = w.a['batchAxis'], w.a['timeAxis']
    if {batch, time} != {0, 1}:
        raise NoEquivalent('sequences along other axes than the first two')
    return w.node('ReverseSequence', w.x[0], w.cast(w.x[1], 'int64'), batch_axis=batch, time_axis=time)


@operator()
def fill(w):
    """FILL"""
    return w.node('Expand', w.reshape(w.x[0], []), w.const(list(w.y[0].shape)))


@operator()
def fill_like(w):
    """FILL_LIKE"""
    return w.node('Expand', w.reshape(w.x[1], []), w.node('Shape', w.x[0]))


@operator()
def constant_of_shape(w):
    """CONSTANT_OF_SHAPE"""
    value = numpy.asarray((w.a['value'] or [0])[:1], numpy.float64)
    if not numpy.all(numpy.isfinite(value)):
        raise NoEquivalent('what is no number')
    with numpy.errstate(all='ignore'):
        made = value.astype(w.y[0].value.dtype)
    if w.y[0].dtype not in UNITS and (made.astype(float) != numpy.trunc(value)).any():
        raise NoEquivalent('a value that the type cannot hold')
    return w.node('ConstantOfShape', w.const(numbers(w, 0)), value=numpy_helper.from_array(made))


@operator()
def one_hot(w):
    """ONE_HOT"""
    if (w.v[0] < 0).any():
        raise NoEquivalent('negative places, which count from the end in ONNX')
    values = w.node('Concat', w.reshape(w.x[3] if len(w.x) > 3 and w.x[3] else w.const(0, w.v[2].dtype), [1]),
                    w.reshape(w.x[2], [1]), axis=0)
    return w.node('OneHot', w.cast(w.x[0], 'int64'), w.const(numbers(w, 1)[0]), values, axis=w.a['axis'])


@operator(bound=part(4))
def range_(w):
    """RANGE"""
    if len(w.x) < 3 or not w.x[2]:
        raise NoEquivalent('a range of attributes')
    if w.t[0].dtype == 'int64' and max(abs(int(v)) for x in w.v[:3] for v in x.ravel()) > 2**53:
        raise NoEquivalent('a range whose elements ONNX Runtime counts in float64')
    return w.node('Range', *[w.reshape(x, []) for x in w.x])


@operator()
def shape(w):
    """SHAPE"""
    return w.cast(w.node('Shape', w.x[0]), w.y[0].dtype)


@operator()
def rank(w):
    """RANK"""
    return w.cast(w.node('Size', w.node('Shape', w.x[0])), w.y[0].dtype)


@operator()
def eye_like(w):
    """EYE_LIKE"""
    return w.node('EyeLike', w.x[0], dtype=TYPES[w.y[0].dtype], k=w.a['k'])


@operator()
def compress(w):
    """COMPRESS"""
    return w.node('Compress', w.x[0], w.x[1], **({'axis': w.a['axis'][0]} if w.given.get('axis') else {}))


@operator()
def non_zero(w):
    """NON_ZERO"""
    if w.v[0].ndim == 0:
        raise NoEquivalent('places without axes')
    return w.cast(w.node('NonZero', w.x[0]), w.y[0].dtype)


@operator()
def unique(w):
    """UNIQUE"""
    if w.v[0].dtype.kind == 'f' and numpy.isnan(w.v[0]).any():
        raise NoEquivalent('NaN, which equals none')
    names = w.node('Unique', w.x[0], outputs=4, sorted=int(w.a['sorted']),
                   **({'axis': w.a['axis'][0]} if w.given.get('axis') else {}))
    return [None if y is None else name if k == 0 else w.cast(name, y.dtype) for k, (name, y) in enumerate(zip(names, w.y))]


@operator()
def meshgrid(w):
    """MESHGRID"""
    found = []
    for k, x in enumerate(w.x):
        form = [1] * len(w.x)
        form[k] = -1
        found.append(w.node('Expand', w.reshape(x, form), w.const(list(w.y[0].shape))))
    return found


@operator('SPACE_TO_BATCH_ND', 'BATCH_TO_SPACE_ND')
def batches(w):
    """Blocks of cells and batches."""
    n, c, h, v = [w.t[0].shape[k] for k in ((0, 1, 2, 3) if w.t[0].format == 'NCHW' else (0, 3, 1, 2))]
    x, (p, q) = w.to_nchw(), w.a['blockShape']
    if w.op == 'BATCH_TO_SPACE_ND':
        (top, bottom), (left, right) = w.a['crops'] or [[0, 0], [0, 0]]
        y = w.node('Transpose', w.reshape(x, [p, q, n // (p * q), c, h, v]), perm=[2, 3, 4, 0, 5, 1])
        y = w.reshape(y, [n // (p * q), c, h * p, v * q])
        return w.from_nchw(w.slice(y, [2, 3], [top, left], [h * p - bottom, v * q - right], [1, 1]))
    (top, bottom), (left, right) = w.a['paddings'] or [[0, 0], [0, 0]]
    y = w.node('Pad', x, w.const([0, 0, top, left, 0, 0, bottom, right]))
    h, v = h + top + bottom, v + left + right
    y = w.node('Transpose', w.reshape(y, [n, c, h // p, p, v // q, q]), perm=[3, 5, 0, 1, 2, 4])
    return w.from_nchw(w.reshape(y, [n * p * q, c, h // p, v // q]))


@operator()
def center_crop_pad(w):
    """CENTER_CROP_PAD"""
    axes = w.a['axes']
    return w.node('CenterCropPad', w.x[0], w.cast(w.x[1], 'int64'), **({'axes': axes} if axes else {}))


# ---- reductions and searches ----

@operator(bound=lambda j: None if j.writer.a['mode'] in ('MAX', 'MIN', 'ALL') else sums(4)(j))
def reduce_fusion(w):
    """REDUCE_FUSION"""
    mode, rank_, to_end = w.a['mode'], len(w.t[0].shape), int(w.given.get('reduceToEnd', 0))
    coeff = float(w.given.get('coeff', 0))
    axes = [n + (rank_ if n < 0 else 0) for n in numbers(w, 1)] if len(w.x) > 1 and w.x[1] else []
    axes = axes or list(range(rank_))
    if to_end:
        axes = list(range(axes[0], rank_)) if axes else axes
    op = {'MEAN': 'ReduceMean', 'MAX': 'ReduceMax', 'MIN': 'ReduceMin', 'PROD': 'ReduceProd', 'SUM': 'ReduceSum',
          'SUM_SQUARE': 'ReduceSumSquare',
          'ASUM': 'ReduceL1', 'L2': 'ReduceL2', 'ALL': 'ReduceMin'}[mode]
    dtype = w.t[0].dtype
    if w.v[0].size == 0:
        raise NoEquivalent('a reduction of nothing')
    if dtype not in UNITS and mode in ('MEAN', 'L2', 'ASUM'):
        raise NoEquivalent('means and norms of integers')
    if dtype not in UNITS and mode in ('SUM', 'PROD', 'SUM_SQUARE') and w.v[0].size * numpy.log2(
            2 + numpy.abs(w.v[0].astype(float)).max()) > 62 and not (mode == 'SUM' and
                                                                     numpy.abs(w.v[0].astype(float)).sum() < 2**53):
        raise NoEquivalent('sums beyond int64, which ONNX Runtime does not wrap')
    if mode in ('MAX', 'MIN') and dtype in UNITS and numpy.isnan(w.v[0]).any():
        raise NoEquivalent('NaN in the smallest and largest')
    x = w.x[0]
    if mode == 'ALL' and dtype != 'bool':
        x = w.cast(w.cast(x, 'bool'), 'uint8')
    if not axes:
        y = {'SUM_SQUARE': lambda: narrow(w, 'Mul', x, x), 'ASUM': lambda: w.node('Abs', x),
             'L2': lambda: w.node('Abs', x)}.get(mode, lambda: x)()
    elif dtype in ('int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32') and mode != 'ALL':
        y = w.cast(w.node(op, w.cast(x, 'int64'), w.const(axes), keepdims=int(w.a['keepDims'])), dtype)
    else:
        y = w.node(op, x, w.const(axes), keepdims=int(w.a['keepDims']))
    if mode == 'ALL' and dtype != 'bool':
        y = w.cast(y, dtype)
    if to_end and abs(coeff) > 1e-5 and dtype in UNITS and not w.quantised:
        y = w.node('Mul', y, w.like(coeff))
    return y


@operator()
def all_(w):
    """ALL"""
    rank_ = len(w.t[0].shape)
    axes = numbers(w, 1) if len(w.x) > 1 and w.x[1] else []
    axes = axes or list(range(rank_))
    if w.v[0].size == 0:
        raise NoEquivalent('all of nothing')
    x = w.cast(w.cast(w.x[0], 'bool'), 'uint8')
    return w.cast(w.node('ReduceMin', x, w.const(axes), keepdims=int(w.a['keepDims'] != 0)) if axes else x, 'bool')


@operator('ARGMAX_FUSION', 'ARGMIN_FUSION')
def arg(w):
    """Places of the largest or smallest."""
    if w.v[0].dtype.kind == 'f' and numpy.isnan(w.v[0]).any():
        raise NoEquivalent('NaN counts as smallest here')
    if w.a['topK'] > 1:
        raise NoEquivalent('several places')
    axis, keep = w.a['axis'], int(w.a['keepDims'])
    places = w.node('ArgMax' if w.op == 'ARGMAX_FUSION' else 'ArgMin', w.x[0], axis=axis, keepdims=1)
    values = w.node('GatherElements', w.x[0], places, axis=axis)
    if not keep:
        places, values = [w.node('Squeeze', n, w.const([axis])) for n in (places, values)]
    if w.a['outMaxValue'] and len(w.y) == 1:
        return values
    return [w.cast(places, w.y[0].dtype)] + ([values] if len(w.y) > 1 else [])


@operator('TOPK_FUSION', 'BOTTOM_K')
def top_k(w):
    """The largest or smallest."""
    if w.v[0].dtype.kind == 'f' and numpy.isnan(w.v[0]).any():
        raise NoEquivalent('NaN counts as smallest here')
    if not w.a['sorted']:
        raise NoEquivalent('in the order of their places')
    x, dtype = w.x[0], w.t[0].dtype
    narrow_ = dtype in ('int8', 'uint8', 'int16', 'uint16', 'uint32')
    values, places = w.node('TopK', w.cast(x, 'int64') if narrow_ else x, w.const(numbers(w, 1)[:1]), outputs=2,
                            axis=w.a['axis'],
                            largest=int(w.op == 'TOPK_FUSION'), sorted=1)
    values = w.cast(values, dtype) if narrow_ else values
    return [values] + ([w.cast(places, w.y[1].dtype)] if len(w.y) > 1 else [])


@operator(bound=sums(4))
def cum_sum(w):
    """CUM_SUM"""
    if w.t[0].dtype in ('float32', 'float64', 'int32', 'int64', 'float16'):
        x = w.x[0]
    else:
        x = w.cast(w.x[0], 'int64')
    y = w.node('CumSum', x, w.const(numbers(w, 1)[0] if len(w.x) > 1 and w.x[1] else -1), exclusive=int(w.a['exclusive']),
               reverse=int(w.a['reverse']))
    return y if x == w.x[0] else w.cast(y, w.t[0].dtype)


def axis_of(w):
    """The attribute, which may be a list of one."""
    axis = w.a['axis']
    return axis[0] if isinstance(axis, list) else axis


# An element is off by as much as the exponent that it is made from, whose terms are as large as the largest operand.
@operator(bound=lambda j: j.unit * (16 + 2 * largest(j.values[0]) + j.values[0].size) * (numpy.abs(j.ours) + j.unit))
def softmax(w):
    """SOFTMAX"""
    return w.node('Softmax', w.x[0], axis=axis_of(w))


@operator(bound=lambda j: j.unit * (16 + 2 * largest(j.values[0]) + j.values[0].size + numpy.abs(j.ours)))
def log_softmax(w):
    """LOG_SOFTMAX"""
    if w.t[0].dtype == 'float64' and numpy.isnan(w.v[0]).any():
        raise NoEquivalent('NaN, which ONNX Runtime loses in float64')
    return w.node('LogSoftmax', w.x[0], axis=axis_of(w))


@operator()
def hardmax(w):
    """HARDMAX"""
    if numpy.isnan(w.v[0]).any():
        raise NoEquivalent('NaN counts as smallest here')
    return w.node('Hardmax', w.x[0], axis=axis_of(w))


# ---- normalization: relative to the deviation, |x| / sqrt(epsilon) at most ----

def normal(axes):
    """A bound from the least deviation: the mean has an error of n u |x|, and so has the dividend."""
    def bound(j):
        x = j.values[0].astype(numpy.float64)
        over = axes(j.writer, x)
        with numpy.errstate(all='ignore'):
            variance = x.var(axis=over, keepdims=True)
            size = numpy.abs(x).max(axis=over, keepdims=True, initial=0)
            epsilon = float(j.writer.a.get('epsilon', 0))
            scale = max([1.0] + [largest(v) for v in j.values[1:] if v is not None])
            return 8 * j.unit * (size / numpy.sqrt(variance + epsilon + 1e-300) + numpy.abs(x - x.mean(axis=over, keepdims=True)) * size * size /
                                 numpy.maximum(variance + epsilon, 1e-300)**1.5 + 2) * scale * numpy.sqrt(x.size)
    return bound


@operator(bound=normal(lambda w, x: tuple(range(w.a['beginNormAxis'], x.ndim))))
def layer_norm_fusion(w):
    """LAYER_NORM_FUSION"""
    begin, epsilon = w.a['beginNormAxis'], float(w.a['epsilon'])
    shape_ = w.t[0].shape[begin:]
    kind = w.v[0].dtype
    if not w.a['elementwiseAffine']:
        return w.node('LayerNormalization', w.x[0], w.const(numpy.ones(shape_), kind), axis=begin, epsilon=epsilon)
    if w.a['beginParamsAxis'] != begin:
        raise NoEquivalent('scales along other axes than are normalised')
    return w.node('LayerNormalization', w.x[0], w.x[1], w.x[2], axis=begin, epsilon=epsilon)


@operator(bound=normal(lambda w, x: tuple(range(2, x.ndim)) if w.t[0].format == 'NCHW' or
                       x.ndim < 3 else tuple(range(1, x.ndim - 1))))
def instance_norm(w):
    """INSTANCE_NORM"""
    if len(w.t[0].shape) < 3:
        raise NoEquivalent('no cells')
    return w.from_nchw(w.node('InstanceNormalization', w.to_nchw(), w.x[1], w.x[2], epsilon=float(w.a['epsilon'])))


def group_bound(j):
    """normal, for each group by itself."""
    x = j.values[0].astype(numpy.float64)
    channels = j.writer.channel()
    moved = numpy.moveaxis(x, channels, 1)
    groups = moved.reshape(moved.shape[0], j.writer.a['numGroups'], -1)
    with numpy.errstate(all='ignore'):
        least = (groups.var(axis=2) + float(j.writer.a['epsilon'])).min(initial=numpy.inf)
        size = largest(x)
        scale = max([1.0] + [largest(v) for v in j.values[1:] if v is not None])
        return 16 * j.unit * (size / least**0.5 + size**3 / least**1.5 + 2) * scale * x.size**0.5


@operator(bound=group_bound)
def group_norm_fusion(w):
    """GROUP_NORM_FUSION"""
    if len(w.t[0].shape) < 3:
        raise NoEquivalent('no cells')
    c = w.t[0].shape[w.channel()]
    kind = w.v[0].dtype
    given = w.x + ['', '']
    if w.a['affine'] and (not given[1] or not given[2]):
        raise NoEquivalent('half of the affine parameters')
    scale, bias = (given[1], given[2]) if w.a['affine'] else (w.const(numpy.ones(c), kind), w.const(numpy.zeros(c), kind))
    return w.from_nchw(w.node('GroupNormalization', w.to_nchw(), scale, bias, num_groups=w.a['numGroups'],
                              epsilon=float(w.a['epsilon'])))


def batch_bound(j):
    """(x - mean) * scale / deviation + offset: the differences cancel, the errors of their operands do not."""
    x, scale, offset, mean, variance = [largest(v) for v in j.values]
    with numpy.errstate(all='ignore'):
        least = float(j.values[4].astype(numpy.float64).min(initial=numpy.inf)) + float(j.writer.a['epsilon'])
        return 16 * j.unit * ((x + mean) * scale / max(least, 1e-300)**0.5 + offset + 0 * variance)


@operator(bound=batch_bound)
def fused_batch_norm(w):
    """FUSED_BATCH_NORM"""
    if (w.v[4].astype(float) + w.a['epsilon'] <= 0).any():
        raise NoEquivalent('no deviation')
    if len(w.t[0].shape) < 2:
        raise NoEquivalent('a vector')
    return w.from_nchw(w.node('BatchNormalization', w.to_nchw(), *w.x[1:], epsilon=float(w.a['epsilon'])))


@operator(bound=lambda j: j.unit * (32 + j.values[0].size) * (numpy.abs(j.ours) + LEAST[j.dtype]))
def rms_normalization(w):
    """RMS_NORMALIZATION"""
    if largest(w.v[0]) > 1e15:
        raise NoEquivalent('squares that overflow')
    return w.node('RMSNormalization', w.x[0], w.x[1], axis=w.a['axis'], epsilon=float(w.a['epsilon']))


def normalised(w, norm):
    """Input 0 by norm(input 0, a way to make constants of its type). A sum of squares between two nodes of ONNX would be
    float16 where the input is, which cannot hold it: there the nodes have float32."""
    if w.t[0].dtype != 'float16':
        return w.node('Div', w.x[0], norm(w.x[0], w.like))
    x = w.cast(w.x[0], 'float32')
    return w.cast(w.node('Div', x, norm(x, lambda value: w.const(value, numpy.float32))), 'float16')


@operator(bound=lambda j: j.unit * (32 + j.values[0].size) * (numpy.abs(j.ours) + LEAST[j.dtype]))
def lp_normalization(w):
    """LP_NORMALIZATION"""
    if w.a['epsilon'] < 0:
        raise NoEquivalent('a norm of which epsilon may leave nothing but its rounding')

    def norm(x, like):
        total = w.node('ReduceL1' if w.a['p'] == 1 else 'ReduceL2', x, w.const([w.a['axis']]), keepdims=1)
        return w.node('Add', total, like(w.a['epsilon'])) if w.a['epsilon'] else total
    return normalised(w, norm)


@operator(bound=lambda j: j.unit * (32 + j.values[0].size) * (numpy.abs(j.ours) + 1))
def l2_normalize_fusion(w):
    """L2_NORMALIZE_FUSION"""
    if w.quantised and w.a['epsilon'] <= 0:
        raise NoEquivalent('nothing by nothing, quantised')
    return w.activated(normalised(w, lambda x, like: w.node('Sqrt', w.node(
        'Max', w.node('ReduceSumSquare', x, w.const(w.a['axis']), keepdims=1), like(w.a['epsilon'])))))


@operator(bound=lambda j: 64 * j.unit * (numpy.abs(j.ours) + LEAST[j.dtype]))
def lrn(w):
    """LRN"""
    if largest(w.v[0]) > 1e15:
        raise NoEquivalent('squares that overflow')
    size = 2 * w.a['depthRadius'] + 1
    if size > 2**30:
        raise NoEquivalent('a window of more channels than there can be')
    if w.v[0].size and w.a['bias'] < 1e-3 * abs(w.a['alpha']) * largest(w.v[0])**2:
        raise NoEquivalent('sums of squares from which ONNX Runtime takes away what leaves the window')
    return w.from_nchw(w.node('LRN', w.to_nchw(), size=size, alpha=float(w.a['alpha']) * size, beta=float(w.a['beta']),
                              bias=float(w.a['bias'])))


# ---- windows and products ----

def is_empty(w):
    """No element."""
    return any(v is not None and v.size == 0 for v in w.v)


def onnx_pads(pads):
    """[top, bottom, left, right] as [top, left, bottom, right]."""
    return [pads[0], pads[2], pads[1], pads[3]]


@operator('AVGPOOL_FUSION', 'AVGPOOL_INCLUDE_PAD', bound=sums(4))
def average_pool(w):
    """Means of windows."""
    x = w.to_nchw()
    if w.a['global']:
        return w.from_nchw(w.activated(w.node('GlobalAveragePool', x)))
    return w.from_nchw(w.activated(w.node('AveragePool', x, **plane(w), count_include_pad=int(w.op == 'AVGPOOL_INCLUDE_PAD'))))


def plane(w):
    """Attributes of windows along height and width."""
    where_ = (2, 3) if w.t[0].format == 'NCHW' else (1, 2)
    pads, kernel, strides = w.a['pad'], w.a['kernelSize'], w.a['strides']
    ceil = 0
    for k, axis in enumerate(where_):
        n, count = w.t[0].shape[axis] + pads[2 * k] + pads[2 * k + 1], w.y[0].shape[axis]
        if count != (n - kernel[k]) // strides[k] + 1:
            ceil = 1
    for k, axis in enumerate(where_):
        n, count = w.t[0].shape[axis] + pads[2 * k], w.y[0].shape[axis]
        last = -(-(n + pads[2 * k + 1] - kernel[k]) // strides[k]) + 1
        if ceil and ((count - 1) * strides[k] >= n or count != last - ((last - 1) * strides[k] >= n)):
            raise NoEquivalent('a last window that begins behind the data')
    return {'kernel_shape': kernel, 'strides': strides, 'pads': onnx_pads(pads), 'ceil_mode': ceil}


@operator(bound=small)
def max_pool_fusion(w):
    """MAX_POOL_FUSION"""
    if numpy.isnan(w.v[0]).any():
        raise NoEquivalent('NaN in the largest')
    if numpy.isneginf(w.v[0]).any():
        raise NoEquivalent('the largest of negative infinities, for which ONNX Runtime has the least number')
    if len(w.y) > 1 and w.y[1] is not None:
        raise NoEquivalent('places within a plane')
    x = w.to_nchw()
    if w.a['global']:
        return w.from_nchw(w.activated(w.node('GlobalMaxPool', x)))
    return w.from_nchw(w.activated(w.node('MaxPool', x, **plane(w))))


def window(w, **more):
    """Attributes of windows along any axes."""
    named = {'kernel_shape': w.a['kernelShape'], 'strides': w.a['strides'], 'pads': w.a['pads']}
    if w.a.get('dilations'):
        named['dilations'] = w.a['dilations']
    if w.a.get('autoPad', 'NOTSET') != 'NOTSET':
        raise NoEquivalent('autoPad is resolved')
    return {**named, **more}


@operator(bound=sums(4))
def average_pool_3d(w):
    """AVERAGE_POOL_3D"""
    return w.node('AveragePool', w.x[0], **window(w, ceil_mode=int(w.a['ceilMode'] != 0),
                                                  count_include_pad=int(w.a['countIncludePad'] != 0)))


@operator()
def max_pool_3d(w):
    """MAX_POOL_3D"""
    if numpy.isnan(w.v[0]).any():
        raise NoEquivalent('NaN in the largest')
    if numpy.isneginf(w.v[0]).any():
        raise NoEquivalent('the largest of negative infinities, for which ONNX Runtime has the least number')
    y = w.node('MaxPool', w.x[0], outputs=2, **window(w, ceil_mode=int(w.a['ceilMode'] != 0)))
    return y[:1] if len(w.y) == 1 else [y[0], w.cast(y[1], w.y[1].dtype)]


@operator(bound=lambda j: 64 * j.unit * (numpy.abs(j.ours) + largest(j.values[0]) * 2))
def lp_pool(w):
    """LP_POOL"""
    return w.node('LpPool', w.x[0], p=w.a['p'], **window(w, ceil_mode=int(w.a['ceilMode'] != 0)))


@operator()
def max_unpool(w):
    """MAX_UNPOOL"""
    usual = [(n - 1) * t + k - p - q for n, t, k, p, q in zip(w.t[0].shape[2:], w.a['strides'], w.a['kernelShape'], w.a['pads'],
                                                              w.a['pads'][len(w.a['strides']):])]
    if tuple(usual) != w.y[0].shape[2:]:
        raise NoEquivalent('places in a shape that is not the one asked for, which ONNX Runtime takes for one')
    return w.node('MaxUnpool', w.x[0], w.cast(w.x[1], 'int64'),
                  **{k: v for k, v in window(w).items() if k != 'dilations'})


@operator(bound=sums(8))
def conv2d_fusion(w):
    """CONV2D_FUSION"""
    weight = w.node('Transpose', w.x[1], perm=[0, 3, 1, 2])
    return w.from_nchw(w.activated(w.node('Conv', w.to_nchw(), weight, *w.x[2:3], strides=w.a['stride'],
                                          dilations=w.a['dilation'],
                                          pads=onnx_pads(w.a['padList']), group=w.a['group'], kernel_shape=w.a['kernelSize'])))


@operator(bound=sums(8))
def conv2d_transpose_fusion(w):
    """CONV2D_TRANSPOSE_FUSION"""
    group, (o, h, v, c) = w.a['group'], w.t[1].shape
    places = (2, 3) if w.t[0].format == 'NCHW' else (1, 2)
    pads, more = w.a['padList'], []
    for k in range(2):
        n, size = w.t[0].shape[places[k]], (w.a['kernelSize'][k] - 1) * w.a['dilation'][k] + 1
        more.append(w.y[0].shape[places[k]] - ((n - 1) * w.a['stride'][k] + size - pads[2 * k] - pads[2 * k + 1]))
    if any(not 0 <= n < max(s, d) for n, s, d in zip(more, w.a['stride'], w.a['dilation'])):
        raise NoEquivalent('a result larger than output_padding makes it')
    weight = w.node('Transpose', w.reshape(w.x[1], [group, o // group, h, v, c]), perm=[0, 4, 1, 2, 3])
    weight = w.reshape(weight, [group * c, o // group, h, v])
    return w.from_nchw(w.activated(w.node('ConvTranspose', w.to_nchw(), weight, *w.x[2:3], strides=w.a['stride'],
                                          dilations=w.a['dilation'],
                                          pads=onnx_pads(w.a['padList']), group=group, kernel_shape=w.a['kernelSize'],
                                          output_padding=more)))


@operator(bound=sums(8))
def conv_3d(w):
    """CONV_3D"""
    return w.node('Conv', *w.x, **window(w, group=w.a['group']))


@operator(bound=sums(8))
def conv_transpose_3d(w):
    """CONV_TRANSPOSE_3D"""
    more = []
    for k in range(3):
        n, size = w.t[0].shape[2 + k], (w.t[1].shape[2 + k] - 1) * w.a['dilations'][k] + 1
        more.append(w.y[0].shape[2 + k] - ((n - 1) * w.a['strides'][k] + size - w.a['pads'][k] - w.a['pads'][3 + k]))
    if any(not 0 <= n < max(s, d) for n, s, d in zip(more, w.a['strides'], w.a['dilations'])):
        raise NoEquivalent('a result larger than output_padding makes it')
    return w.node('ConvTranspose', *w.x, **window(w, group=w.a['group'], output_padding=more))


def sampled(j):
    """The coordinates are rounded: no interpolated element exceeds the largest."""
    x, _, mask, weight, bias = [largest(v) if v is not None and v.size else 0 for v in (list(j.values) + [None])[:5]]
    terms = j.values[3][0].size
    return 64 * j.unit * (x * max(1, mask) * weight * terms + bias)


@operator(bound=sampled)
def deformable_conv_2d(w):
    """DEFORMABLE_CONV_2D"""
    if w.t[0].format != 'NCHW':
        planes = [w.node('Transpose', x, perm=[0, 3, 1, 2]) if x else '' for x in (w.x[0],)]
    else:
        planes = [w.x[0]]
    given = w.x + ['', '']
    mask, bias = given[2], given[4]
    if mask and w.v[2].size == 0:
        mask = ''
    y = w.node('DeformConv', planes[0], w.x[3], w.x[1], bias, mask, strides=w.a['stride'], dilations=w.a['dilation'],
               pads=onnx_pads(w.a['padList']), group=w.a['group'], offset_group=w.a['deformableGroup'],
               kernel_shape=list(w.t[3].shape[2:]))
    return w.from_nchw(w.activated(y))


def saturates():
    """Whether ONNX Runtime adds the products of two bytes in 16 bits, saturated: where x86 has no VNNI."""
    try:
        with open('/proc/cpuinfo') as file:
            flags = re.search(r'^flags\s*:(.*)$', file.read(), re.MULTILINE)
    except OSError:
        return False
    return flags is not None and not {'avx512_vnni', 'avx_vnni'} & set(flags.group(1).split())


SATURATES = saturates()


def less_zero(w, name, zero, shape):
    """An operand in float32, less its zero points, input `zero`, of that shape."""
    y = w.cast(name, 'float32')
    return w.node('Sub', y, w.reshape(w.cast(w.x[zero], 'float32'), shape)) if len(w.x) > zero and w.x[zero] else y


def integer_sums(w, terms):
    """Checks that float32 has the sums of so many products: all integers up to 2^24."""
    if terms * 255 * 255 > 2**24:
        raise NoEquivalent('sums beyond float32, where ONNX Runtime saturates products of bytes')


@operator()
def conv_integer(w):
    """CONV_INTEGER"""
    if len(w.x) > 2 and w.x[2]:
        raise NoEquivalent('a bias of integers')
    a = {'strides': w.a['stride'], 'dilations': w.a['dilation'], 'pads': onnx_pads(w.a['padList']), 'group': w.a['group'],
         'kernel_shape': w.a['kernelSize']}
    weight = w.node('Transpose', w.x[1], perm=[0, 3, 1, 2])
    if SATURATES:
        integer_sums(w, w.v[1][:1].size)
        x, weight = less_zero(w, w.to_nchw(), 3, [1]), less_zero(w, weight, 4, [-1, 1, 1, 1])
        return w.cast(w.from_nchw(w.node('Conv', x, weight, **a)), 'int32')
    zero = w.reshape(w.x[3], []) if len(w.x) > 3 and w.x[3] else ''
    other = (w.x[4] if w.v[4].size > 1 else w.reshape(w.x[4], [])) if len(w.x) > 4 and w.x[4] else ''
    return w.from_nchw(w.node('ConvInteger', w.to_nchw(), weight, zero, other, **a))


@operator()
def matmul_integer(w):
    """MATMUL_INTEGER"""
    if w.v[0].ndim < 2 or w.v[1].ndim < 2:
        raise NoEquivalent('products of vectors of integers')
    if is_empty(w):
        raise NoEquivalent('sums of nothing, which ONNX Runtime leaves unset')
    if SATURATES:
        integer_sums(w, w.t[0].shape[-1])
        return w.cast(w.node('MatMul', less_zero(w, w.x[0], 2, [-1, 1]), less_zero(w, w.x[1], 3, [-1])), 'int32')
    return w.node('MatMulInteger', *w.x)


@operator(bound=sums(8))
def matmul_fusion(w):
    """MATMUL_FUSION"""
    if is_empty(w):
        raise NoEquivalent('sums of nothing, which ONNX Runtime leaves unset')
    names = []
    for k, flag in ((0, 'transposeA'), (1, 'transposeB')):
        rank_ = len(w.t[k].shape)
        perm = list(range(rank_ - 2)) + [rank_ - 1, rank_ - 2]
        names.append(w.node('Transpose', w.x[k], perm=perm) if w.a[flag] and rank_ > 1 else w.x[k])
    y = w.node('MatMul', *names)
    if len(w.x) > 2 and w.x[2]:
        y = w.node('Add', y, w.x[2])
        if len(w.t[1].shape) == 1:
            raise NoEquivalent('a bias behind a vector')
    return w.activated(y)


@operator(bound=sums(8))
def full_connection(w):
    """FULL_CONNECTION"""
    y = w.node('Gemm', w.reshape(w.x[0], [-1 if w.v[0].size else 0, w.t[1].shape[1]]), w.x[1], *w.x[2:3], transB=1)
    return w.activated(w.reshape(y, w.y[0].shape))


@operator(bound=sums(8))
def einsum(w):
    """EINSUM"""
    if w.t[0].dtype not in UNITS and any(v.size and numpy.abs(v.astype(float)).max() > 2**15 for v in w.v):
        raise NoEquivalent('sums of products of integers that overflow')
    return w.node('Einsum', *w.x, equation=w.a['equation'])


@operator(bound=lambda j: 64 * j.unit * (largest(j.values[0]) + 1)**j.values[0].shape[-1] * j.values[0].shape[-1]**2)
def det(w):
    """DET"""
    return w.node('Det', w.x[0])


@operator()
def inverse(w):
    """INVERSE"""
    raise NoEquivalent('an operator of com.microsoft, which test_contrib.py compares')


# ---- images, sequences, signals ----

def rounded(scale):
    """Whether a coordinate divided by the scale may be inexact in float32 where it is exactly between two elements."""
    return scale * 4096 != round(scale * 4096)


@operator(bound=part(64))
def resize(w):
    """RESIZE"""
    mode, way = w.a['method'], w.a['coordinateTransformMode']
    channels = w.t[0].format == 'NCHW'
    where_ = (2, 3) if channels else (1, 2)
    given, wanted = [w.t[0].shape[k] for k in where_], [w.y[0].shape[k] for k in where_]
    scales = None
    if len(w.x) > 1 and w.x[1] and w.v[1].dtype.kind == 'f' and way != 'ALIGN_CORNERS':  # ONNX's takes n * scale for m
        scales = [float(w.v[1].reshape(-1)[k]) for k in where_]
    if mode == 'NEAREST' or mode == 'CUBIC':
        for n, m, r in zip(given, wanted, scales or [m / n for n, m in zip(given, wanted)]):
            for i in range(m):
                c = place(i, n, m, r, way, None)
                if abs(2 * c - round(2 * c)) < 1e-4 and rounded(r):
                    raise NoEquivalent('a place on a tie, which float32 shifts')
    more = {}
    if mode == 'NEAREST':
        more['nearest_mode'] = {'NORMAL': 'round_prefer_ceil', 'ROUND_HALF_DOWN': 'round_prefer_floor',
                                'ROUND_HALF_UP': 'round_prefer_ceil',
                                'FLOOR': 'floor', 'CEIL': 'ceil'}[w.a['nearestMode']]
    if mode == 'CUBIC':
        more.update(cubic_coeff_a=float(w.a['cubicCoeff']), exclude_outside=int(w.a['excludeOutside']))
    sizes = [w.t[0].shape[0], w.t[0].shape[1 if channels else 3]] + wanted
    y = w.node('Resize', w.to_nchw(), '', w.const([1, 1] + scales, numpy.float32) if scales else '',
               '' if scales else w.const(sizes),
               mode={'LINEAR': 'linear', 'NEAREST': 'nearest', 'CUBIC': 'cubic'}[mode],
               coordinate_transformation_mode={'ASYMMETRIC': 'asymmetric', 'ALIGN_CORNERS': 'align_corners',
                                               'HALF_PIXEL': 'pytorch_half_pixel'}[way],
               **more)
    return w.from_nchw(y)


def place(i, n, m, r, way, roi):
    """Source coordinate of output index i of m on an axis of n elements, scaled by r."""
    if way == 'TF_CROP_AND_RESIZE':
        start, end = roi
        return start * (n - 1) + i * (end - start) * (n - 1) / (m - 1) if m > 1 else (start + end) * (n - 1) / 2
    if way == 'ALIGN_CORNERS':
        return i * (n - 1) / (n * r - 1) if n * r > 1 else 0
    if r == 1 or way == 'PYTORCH_HALF_PIXEL' and m == 1:
        return i
    by = {'ASYMMETRIC': 0, 'TF_HALF_PIXEL_FOR_NN': 0, 'HALF_PIXEL_SYMMETRIC': n / 2 * (1 - m / (n * r)) - 0.5}
    return (i + (way != 'ASYMMETRIC') / 2) / r + by.get(way, -0.5)


@operator(bound=part(64))
def resize_nd(w):
    """RESIZE_ND"""
    mode, way, x = w.a['mode'], w.a['coordinateTransformationMode'], w.t[0]
    axes = [a % len(x.shape) for a in w.a['axes'] or range(len(x.shape))]
    crop, policy = way == 'TF_CROP_AND_RESIZE', w.a['keepAspectRatioPolicy']
    scales, sizes = (w.v[k].reshape(-1) if len(w.x) > k and w.x[k] else None for k in (2, 3))
    roi = w.v[1].reshape(-1).astype(float) if crop else [0, 1] * len(axes)
    given, wanted = [x.shape[a] for a in axes], [w.y[0].shape[a] for a in axes]
    if sizes is None:
        ratios = [float(s) for s in scales]
    else:
        ratios = [m / n for m, n in zip(sizes, given)]
        if policy != 'STRETCH':
            ratios = [(min if policy == 'NOT_LARGER' else max)(ratios)] * len(axes)
    if given == wanted and any(r != 1 for r in ratios):
        raise NoEquivalent('scales that leave every length, where ONNX Runtime copies')
    if crop and 1 in ratios:
        raise NoEquivalent('an axis as long as before, which ONNX Runtime does not crop')
    for k, (n, m, r) in enumerate(zip(given, wanted, ratios)):
        if way == 'ALIGN_CORNERS' and abs(n * r - m) > 1e-4:
            raise NoEquivalent('corners of a length with a fraction, which ONNX Runtime leaves out')
        for i in range(m):
            c = place(i, n, m, r, way, (roi[k], roi[k + len(axes)]))
            if mode != 'LINEAR' and abs(2 * c - round(2 * c)) < 1e-4 and (way == 'HALF_PIXEL_SYMMETRIC' or rounded(r)):
                raise NoEquivalent('a place on a tie, which float32 shifts')
            if crop and min(abs(c), abs(c - n + 1)) < 1e-4 and n > 1 and c not in (0, n - 1):
                raise NoEquivalent('a place on the edge of the crop, which float32 shifts')
    return w.node('Resize', w.x[0], w.cast(w.x[1], 'float32') if crop else '',
                  w.cast(w.x[2], 'float32') if sizes is None else '', '' if sizes is None else w.cast(w.x[3], 'int64'),
                  mode=mode.lower(), coordinate_transformation_mode=way.lower(),
                  nearest_mode={'NORMAL': 'round_prefer_ceil', 'ROUND_HALF_DOWN': 'round_prefer_floor',
                                'ROUND_HALF_UP': 'round_prefer_ceil', 'FLOOR': 'floor', 'CEIL': 'ceil'}[w.a['nearestMode']],
                  cubic_coeff_a=float(w.a['cubicCoeffA']), exclude_outside=int(w.a['excludeOutside'] != 0),
                  extrapolation_value=float(w.a['extrapolationValue']), antialias=int(w.a['antialias'] != 0),
                  keep_aspect_ratio_policy=policy.lower(), **({'axes': axes} if w.a['axes'] else {}))


@operator(bound=lambda j: 1e-4 * largest(j.values[0]) if j.dtype == 'float32' else part(64)(j))
def grid_sample(w):
    """GRID_SAMPLE"""
    if w.a['method'] == 'NEAREST':
        raise NoEquivalent('a place on a tie, which float32 shifts')
    if w.t[0].format != 'NCHW':
        raise NoEquivalent('channels last')
    return w.node('GridSample', w.x[0], w.x[1], align_corners=int(w.a['alignCorners']),
                  mode='linear' if w.a['method'] == 'LINEAR' else 'cubic',
                  padding_mode=['zeros', 'border', 'reflection'][w.a['paddingMode']])


@operator(bound=lambda j: 1e-4 * largest(j.values[0]) if j.dtype == 'float32' else part(64)(j))
def roi_align(w):
    """ROI_ALIGN"""
    if w.t[0].format != 'NCHW':
        raise NoEquivalent('channels last')
    return w.node('RoiAlign', w.x[0], w.x[1], w.cast(w.x[2], 'int64'), output_height=w.a['outputHeight'],
                  output_width=w.a['outputWidth'],
                  mode='max' if w.a['max'] else 'avg', sampling_ratio=max(0, w.a['samplingRatio']), spatial_scale=float(w.a['spatialScale']),
                  coordinate_transformation_mode='half_pixel' if w.a['aligned'] else 'output_half_pixel')


@operator(bound=part(16))
def affine_grid(w):
    """AFFINE_GRID"""
    if w.a['alignCorners'] and 1 in w.y[0].shape[1:-1]:
        raise NoEquivalent('the only cell between two corners: ONNX Runtime takes the last one')
    return w.node('AffineGrid', w.x[0], w.cast(w.x[1], 'int64'), align_corners=int(w.a['alignCorners'] != 0))


@operator(bound=sums(16))
def col2im(w):
    """COL2IM"""
    if w.v[1].size > 2 and len(set(w.a['dilations'])) > 1:
        raise NoEquivalent('several dilations, which ONNX Runtime mixes up beyond images')
    return w.node('Col2Im', w.x[0], w.cast(w.x[1], 'int64'), w.cast(w.x[2], 'int64'), dilations=w.a['dilations'],
                  pads=w.a['pads'], strides=w.a['strides'])


@operator(bound=lambda j: 64 * j.unit * largest(j.values[0]) * max(1, j.values[0].size))
def dft(w):
    """DFT"""
    length = w.const(numbers(w, 1)[0]) if len(w.x) > 1 and w.x[1] else ''
    if w.a['inverse'] and w.a['onesided'] and w.t[0].shape[w.a['axis']] != w.y[0].shape[w.a['axis']] // 2 + 1:
        raise NoEquivalent('an inverse of more or fewer frequencies than its length has')
    return w.node('DFT', w.x[0], length, w.const(w.a['axis']), inverse=int(w.a['inverse'] != 0),
                  onesided=int(w.a['onesided'] != 0))


@operator(bound=lambda j: 64 * j.unit * largest(j.values[0]) * max(1, j.values[0].size))
def stft(w):
    """STFT"""
    given = w.x + ['', '']
    if w.t[0].shape[-1] == 2:
        raise NoEquivalent('signals of complex numbers, whose parts ONNX Runtime mixes up')
    return w.node('STFT', w.x[0], w.const(numbers(w, 1)[0]), given[2], w.const(numbers(w, 3)[0]) if given[3] else '',
                  onesided=int(w.a['onesided'] != 0))


# The coefficients of ONNX Runtime are float32, whatever comes out.
@operator(bound=lambda j: 16 * max(j.unit, 2.0**-23))
def window_(w):
    """WINDOW"""
    if w.v[0].reshape(-1)[0] == 1 and not w.a['periodic']:
        raise NoEquivalent('a window of one element, which ONNX Runtime divides by zero')
    return w.node({'HANN': 'HannWindow', 'HAMMING': 'HammingWindow', 'BLACKMAN': 'BlackmanWindow'}[w.a['kind']],
                  w.reshape(w.x[0], []),
                  output_datatype=TYPES[w.y[0].dtype], periodic=int(w.a['periodic'] != 0))


@operator(bound=lambda j: 64 * j.unit)
def mel_weight_matrix(w):
    """MEL_WEIGHT_MATRIX"""
    return w.node('MelWeightMatrix', *[w.reshape(x, []) for x in w.x], output_datatype=TYPES[w.y[0].dtype])


# States go through sigmoid and tanh, whose slopes are at most 1, once a step; sums of |w| multiply the error that a step
# inherits.
def states(j):
    """A bound for recurrent operators."""
    steps = j.values[0].shape[0] + 1
    widest = max(1.0, *[largest(v) * v.shape[-1] for v in j.values[1:3]])
    return j.unit * 64 * min(steps * widest**2, 1e4) * (1 + largest(j.ours))


def no_nan(w):
    """NaN and infinities go through sigmoid and tanh of ONNX Runtime as the largest numbers."""
    if any(v is not None and not numpy.isfinite(v).all() for v in w.v):
        raise NoEquivalent('NaN in a recurrent operator')


@operator(bound=states)
def lstm(w):
    """LSTM"""
    a = w.a
    no_nan(w)
    if a['numLayers'] > 1 or a['projSize'] or a['zoneoutCell'] or a['zoneoutHidden']:
        raise NoEquivalent('layers, projection and zoneout of LSTM')
    both = a['numDirections'] == 2
    bias = w.x[3] if a['hasBias'] else w.const(numpy.zeros((a['numDirections'], 8 * a['hiddenSize'])), w.v[0].dtype)
    y, h, c = w.node('LSTM', w.x[0], w.x[1], w.x[2], bias, '', w.x[4], w.x[5], outputs=3,
                     direction='bidirectional' if both else 'forward', hidden_size=a['hiddenSize'])
    return [w.reshape(w.node('Transpose', y, perm=[0, 2, 1, 3]), w.y[0].shape), h, c][:len(w.y)]


# Softplus of ONNX Runtime's recurrent operators overflows.
ACTIVATIONS = {1: 'Relu', 2: 'Sigmoid', 10: 'Tanh', 8: 'Softsign'}
# With the alpha and the beta of an empty list; beta None: it has none.
PARAMETERS = {4: ('Elu', 1, None), 5: ('LeakyRelu', 0.01, None), 10: ('ScaledTanh', 0, 1), 13: ('HardSigmoid', 1 / 6, 0.5),
              14: ('ThresholdedRelu', 1, None), 15: ('Affine', 1, 0)}


def recurrent_activations(a):
    """The attributes of ONNX for the activations: an activation with parameters takes the next entries of their lists."""
    names, alphas, betas = [], [], []
    for i, number in enumerate(a['activations']):
        name, alpha, beta = PARAMETERS.get(number, ('', 0, None))
        alpha = a['activationAlpha'][i] if a['activationAlpha'] else alpha
        if number not in PARAMETERS or (number == 10 and alpha == 0):
            if number not in ACTIVATIONS:
                raise NoEquivalent('activations of recurrent operators')
            names.append(ACTIVATIONS[number])
            continue
        names.append(name)
        alphas.append(float(alpha))
        if beta is not None:
            betas.append(float(a['activationBeta'][i] if a['activationBeta'] else beta))
    return {key: value for key, value in (('activations', names), ('activation_alpha', alphas), ('activation_beta', betas)) if value}


@operator('GRU', 'RNN', 'LSTM_PEEPHOLE', bound=states)
def recurrent(w):
    """GRU, RNN, and LSTM as ONNX has it"""
    a, named = w.a, recurrent_activations(w.a)
    no_nan(w)
    if a['clip']:
        named['clip'] = float(a['clip'])
    if w.op == 'GRU':
        named['linear_before_reset'] = int(a['linearBeforeReset'] != 0)
    if a['layout']:
        raise NoEquivalent('batch first, which ONNX Runtime does not have')
    given = w.x + [''] * 8
    if given[4] and (w.v[4] == 0).any():
        raise NoEquivalent('a sequence of no steps, whose state ONNX leaves open')
    lengths = w.cast(given[4], 'int32') if given[4] else ''
    if w.op == 'LSTM_PEEPHOLE' and a['clip']:
        raise NoEquivalent('clip of LSTM, which ONNX Runtime does not apply to the cell')
    if w.op == 'LSTM_PEEPHOLE':
        named['input_forget'] = int(a['inputForget'] != 0)
    y = w.node(w.op.partition('_')[0], *given[:4], lengths, *given[5:8], outputs=3 if w.op == 'LSTM_PEEPHOLE' else 2,
               direction=a['direction'].lower(), hidden_size=a['hiddenSize'], **named)
    return y[:len(w.y)]


@operator()
def non_max_suppression(w):
    """NON_MAX_SUPPRESSION"""
    given = w.x + [''] * 5
    if w.t[0].dtype != 'float32':
        raise NoEquivalent('boxes of another type than float32')
    if numpy.isnan(w.v[0]).any() or numpy.isnan(w.v[1]).any():
        raise NoEquivalent('NaN among boxes and scores')
    rest = [w.cast(given[2], 'int64') if given[2] else ''] + [w.cast(given[k], 'float32') if given[k] else '' for k in (3, 4)]
    rest = [w.reshape(x, [1]) if x else '' for x in rest]
    return w.cast(w.node('NonMaxSuppression', w.x[0], w.x[1], *rest, center_point_box=int(w.a['centerPointBox'] != 0)),
                  w.y[0].dtype)


@operator(bound=sums(8))
def negative_log_likelihood_loss(w):
    """NEGATIVE_LOG_LIKELIHOOD_LOSS"""
    if is_empty(w):
        raise NoEquivalent('a mean of nothing')
    if w.a['reduction'] == 'MEAN' and len(w.x) > 2 and w.x[2] and w.v[2].min() < 0 < w.v[2].max():
        raise NoEquivalent('a mean with weights of both signs, whose sum may be near 0')
    ignored = {'ignore_index': w.a['ignoreIndex'][0]} if w.a['ignoreIndex'] else {}
    return w.node('NegativeLogLikelihoodLoss', w.x[0], w.x[1], *w.x[2:3], reduction=w.a['reduction'].lower(), **ignored)


@operator(bound=part(8))
def rotary_embedding(w):
    """ROTARY_EMBEDDING"""
    given = w.x + ['']
    return w.node('RotaryEmbedding', *w.x[:3], w.cast(given[3], 'int64') if given[3] else '',
                  interleaved=int(w.a['interleaved'] != 0),
                  num_heads=w.a['numHeads'] if len(w.t[0].shape) == 3 else 0, rotary_embedding_dim=w.a['rotaryEmbeddingDim'])


def attention_bound(j):
    """Products have the error of their terms, and the softmax the same; then the weighted sum."""
    q, k = j.values[0], j.values[1]
    products = largest(q) * largest(k) * q.shape[-1] * abs(float(j.writer.a['scale'] or 1))
    values = max([largest(v) for v in j.values if v is not None and v.dtype.kind == 'f' and largest(v) < 1e4] + [1.0])
    return j.unit * (64 + 8 * products) * (values + numpy.abs(j.ours))


@operator(bound=attention_bound)
def attention(w):
    """ATTENTION"""
    a, named = w.a, {}
    given = w.x + [''] * 7
    if a['leftWindowSize'] >= 0 or a['rightWindowSize'] >= 0:
        raise NoEquivalent('windows, which operator set 26 does not have')
    if a['isCausal'] and given[4] and w.v[0].shape[-2] == 1 and w.v[1].shape[-2] > 1:
        raise NoEquivalent('one causal query before the last key, of which ONNX Runtime sees all keys')
    if any(numpy.isinf(t.value).any() for t in w.y):
        raise NoEquivalent('infinite weights, where ONNX Runtime has the least float')
    if w.t[0].dtype == 'float16' and largest(w.v[0]) * largest(w.v[1]) * w.t[0].shape[-1] > 6e4:
        raise NoEquivalent('products that float16 cannot hold')
    if len(w.t[0].shape) == 3:
        named.update(q_num_heads=a['qNumHeads'], kv_num_heads=a['kvNumHeads'])
    if given[6]:
        given[6] = w.cast(given[6], 'int64')
    y = w.node('Attention', *given[:7], outputs=len(w.y), is_causal=int(a['isCausal'] != 0), scale=float(a['scale']),
               softcap=float(a['softcap']),
               qk_matmul_output_mode=a['qkMatmulOutputMode'], **named)
    return [y] if len(w.y) == 1 else y


OPERATORS['RANGE'], BOUNDS['RANGE'] = OPERATORS.pop('RANGE_'), BOUNDS.pop('RANGE_')
OPERATORS['ALL'], BOUNDS['ALL'] = OPERATORS.pop('ALL_'), BOUNDS.pop('ALL_')
OPERATORS['WINDOW'], BOUNDS['WINDOW'] = OPERATORS.pop('WINDOW_'), BOUNDS.pop('WINDOW_')

# Operators that ONNX has nothing for.
WITHOUT = {
    'ADAPTIVE_AVERAGE_POOL_2D': 'windows of several extents', 'ADAPTIVE_MAX_POOL_2D': 'windows of several extents',
    'ASSERT': 'gives nothing', 'DETECTION_POST_PROCESS': 'a detector of its own', 'MULTICLASS_NMS': 'a detector of its own',
    'PRIOR_BOX': 'a detector of its own', 'YOLO_BOX': 'a detector of its own',
           'SPARSE_TO_DENSE': 'later rows win, which ONNX leaves open',
    'RANDOM_NORMAL': 'ONNX leaves the numbers open', 'RANDOM_UNIFORM': 'ONNX leaves the numbers open',
    'BERNOULLI': 'ONNX leaves the numbers open', 'MULTINOMIAL': 'ONNX leaves the numbers open',
}


# The least operator set in which a node has the same meaning as in the newest.
OLDEST = {'ATTENTION': 24, 'TENSOR_SCATTER': 24, 'RMS_NORMALIZATION': 23, 'ROTARY_EMBEDDING': 23, 'AFFINE_GRID': 20, 'DEFORMABLE_CONV_2D': 21,
          'GROUP_NORM_FUSION': 21,
          'REDUCE_FUSION': 18, 'ALL': 18, 'GRID_SAMPLE': 20, 'DFT': 20, 'CENTER_CROP_PAD': 18, 'COL2IM': 18,
          'BITWISE_AND': 18, 'BITWISE_OR': 18,
          'BITWISE_XOR': 18, 'BITWISE_NOT': 18, 'MISH': 18, 'SPLIT': 18, 'LP_NORMALIZATION': 18,
          'L2_NORMALIZE_FUSION': 18, 'SCATTER_ELEMENTS': 18,
          'SCATTER_ND_UPDATE': 18, 'ACTIVATION': 20}


# ---- judging ----

class Runtime:
    """ONNX Runtime in a process of its own: tests/compare/ort.mjs --stream."""

    def __init__(self, modules):
        self.modules, self.process = modules, None

    def run(self, model):
        """{name: array} of a model without inputs. Raises Bad."""
        if self.process is None:
            self.process = subprocess.Popen(['node', os.path.join(HERE, '../compare/ort.mjs'), '--modules', self.modules,
                                             '--stream'],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        data = model.SerializeToString()
        try:
            self.process.stdin.write(struct.pack('<I', len(data)) + data)
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = b''
        if not line:
            self.process.kill()
            self.process.wait()
            self.process = None
            raise Bad('ONNX Runtime ended')
        said = json.loads(line)
        if 'error' in said:
            raise Bad(said['error'])
        kinds = {name: helper_type(name) for name in TYPES}
        return {name: numpy.frombuffer(base64.b64decode(data), kinds[kind]).reshape(dims)
                for name, (kind, dims, data) in said.items()}


def helper_type(name):
    """The numpy type of a name."""
    return numpy.bool_ if name == 'bool' else numpy.dtype(name)


class Judged:
    """A result and the data for its bound."""

    def __init__(self, runtime, writer, ours, k):
        self.runtime, self.writer, self.ours, self.index = runtime, writer, ours.astype(numpy.float64), k
        self.values, self.dtype = writer.v, ours.dtype.name
        self.unit = UNITS.get(self.dtype, 0)

    def magnitude(self):
        """The node's result for absolute values, without its activation; infinite if it cannot be computed. ONNX Runtime has no
        convolutions of float64: then in float32."""
        for double in (numpy.float64, numpy.float32):
            writer = Writer.__new__(Writer)
            writer.__dict__.update(self.writer.__dict__, nodes=[], constants=[], count=0)
            writer.a = dict(self.writer.a, activationType='NO_ACTIVATION')
            values = {x: numpy.abs(v).astype(double if v.dtype == numpy.float64 else v.dtype) if v.dtype.kind == 'f' else v
                      for x, v in zip(writer.x, writer.v) if x}
            writer.stored = writer.y
            try:
                found = self.runtime.run(model_of([writer], values)[0])
                return numpy.abs(found['t%d' % self.writer.y[self.index].number].astype(numpy.float64))
            except (Bad, NoEquivalent, AttributeError):
                pass
        return numpy.inf if self.runtime is None else 0.0


def write(writer):
    """Lets the operator's function write its nodes, and gives results their names."""
    names = OPERATORS[writer.op](writer)
    for name, y in zip(names if isinstance(names, list) else [names], writer.y):
        if y is not None and name is not None:
            if isinstance(y, Real):
                name = writer.quantise('QuantizeLinear', name, y)
            writer.nodes.append(helper.make_node('Identity', [name], ['t%d' % y.number]))


def model_of(writers, constants, inputs=()):
    """A model of some nodes; constants {name: array}, inputs tensors. (model, names of outputs)"""
    nodes, initializers, outputs = [], [], []
    for writer in writers:
        write(writer)
        nodes += writer.nodes
        initializers += writer.constants
        outputs += ['t%d' % y.number for y in writer.y if y is not None]
    initializers += [numpy_helper.from_array(numpy.array(v, order='C'), name) for name, v in constants.items()]
    given = [helper.make_tensor_value_info('t%d' % t.number, TYPES[t.dtype], list(t.shape)) for t in inputs]
    graph = helper.make_graph(nodes, 'graph', given, [ValueInfoProto(name=name) for name in outputs], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', SET)], ir_version=10), outputs


def same_parameters(w):
    """Operators without integer results order real numbers; distinct exact values may round to the same float32."""
    if len({(tuple(t.scales), tuple(t.zeros)) for t in w.t if isinstance(t, Real)}) > 1:
        raise NoEquivalent('comparisons of different parameters')


def steps(w, k):
    """How far a stored integer may be off: by one, as integer arithmetic rounds twice and halves go away from zero; where a
    mean or an interpolated value is rounded to a stored integer before it is requantized, also by one of the new units. Sums
    are made of operands that were rounded to 2^-20 of twice the largest scale, squares of differences to 2^-7 of it; the addend
    of SCALE_FUSION was rounded to the unit of the product. RESIZE goes from cell to cell in steps of whole 1024ths: each may be
    off by half of one. ONNX Runtime adds products in float32, which is off by 2^-24 of all of them for each."""
    x, y = w.t[0], w.y[k]
    if w.op in ('AVGPOOL_FUSION', 'AVGPOOL_INCLUDE_PAD', 'ADAPTIVE_AVERAGE_POOL_2D', 'RESIZE') and isinstance(x, Real):
        cells = sum(y.shape[1:]) / 2048 + 1 / 256 if w.op == 'RESIZE' and x.value.size else 0
        more = 1 + cells * float(numpy.ptp(x.value)) / float(x.scales[0])
        return 1 + more * float(x.scales[0]) / float(y.scales[0])
    if w.op == 'SCALE_FUSION' and isinstance(y, Real) and all(isinstance(t, Real) for t in w.t[:2]):
        return 1 + max(x.scales) * max(w.t[1].scales) / (2 * float(y.scales[0]))
    if w.op in ('ADD_FUSION', 'SUB_FUSION', 'ADD_N', 'ELTWISE', 'SQUARED_DIFFERENCE') and isinstance(y, Real):
        operands = [t for t in w.t if isinstance(t, Real)]
        scale, unit = 2 * max(float(t.scales[0]) for t in operands), float(y.scales[0])
        if w.op != 'SQUARED_DIFFERENCE':
            return 1 + len(operands) / 2 * scale / 2**20 / unit
        far = sum(largest(t.value) for t in operands) if w.t[0].value.size else 0
        return 1 + (2 * far * scale / 2**7 + (scale / 2**7)**2) / unit
    if w.op in ('CONV2D_FUSION', 'CONV2D_TRANSPOSE_FUSION', 'FULL_CONNECTION', 'MATMUL_FUSION') and isinstance(y, Real):
        shape = w.t[1].shape
        terms = max(shape[-2:]) if w.op == 'MATMUL_FUSION' else w.t[1].value.size / max(1, min(shape[0], shape[-1]))
        return 1 + terms**2 * largest(x.value) * largest(w.t[1].value) / 2**24 / float(y.scales[0])
    return 1


def reason_of(text):
    """The reason of a refusal, without names."""
    for word, reason in (('NOT_IMPLEMENTED', 'no kernel for the type'),
                         ('Could not find an implementation', 'no kernel for the type'),
                         ('Failed to find kernel', 'no kernel for the type'),
                         ('Type Error', 'type not allowed'), ('ended', 'ended')):
        if word in text:
            return reason
    return text.replace('\n', ' ')[:100]


class Judge:
    """Compares the nodes of graphs with ONNX Runtime, and graphs with their imported ONNX form."""

    def __init__(self, driver, modules, read_output):
        self.driver, self.read_output = driver, read_output
        self.runtime = Runtime(modules) if modules else None

    def judge(self, graph, counts):
        """[(kind, text)] of the differences."""
        faults, writers, given = [], [], {}
        for node in graph.nodes:
            tensors = [graph.tensors[n] for n in node.ins + node.outs if n is not None]
            try:
                if node.op in WITHOUT or node.op not in OPERATORS:
                    raise NoEquivalent(WITHOUT.get(node.op, 'no function in to_onnx.py'))
                writer = Writer(graph, node)
                if writer.quantised and all(y is None or not isinstance(y,
                                                                        Real) for y in writer.y) and not node.op.startswith('QUANT'):
                    same_parameters(writer)
                values = {'t%d' % n: graph.tensors[n].value for n in node.ins if n is not None}
                model = model_of([writer], values)[0]
            except NoEquivalent as why:
                counts['without %s: %s' % (node.op, why)] += 1
                given.update({n: graph.tensors[n] for n in node.outs if n is not None})
                continue
            except (ArithmeticError, LookupError, TypeError, ValueError) as wrong:
                faults.append(('export ' + node.op, '%s is not written as ONNX: %r; %s' % (node.op, wrong, node.resolved)))
                continue
            writers.append(Writer(graph, node))
            counts['quantised'] += writer.quantised
            if self.runtime is not None:
                self.compare(model, writer, counts, faults)
        if writers and not any(t.told for t in graph.tensors.values()):
            self.compare_import(graph, writers, given, counts, faults)
        return faults

    def compare(self, model, writer, counts, faults):
        """One node."""
        try:
            found = self.run(model, writer)
        except Bad as why:
            counts['refused by ONNX Runtime %s: %s' % (writer.op, reason_of(str(why)))] += 1
            return
        for k, y in enumerate(writer.y):
            theirs = found.get('t%d' % y.number) if y is not None else None
            if theirs is None:
                continue
            wrong = self.differs(writer, k, writer.stored[k].value, theirs)
            if wrong:
                faults.append(('ort ' + writer.op, '%s, ONNX Runtime: %s; %s' % (writer.op, wrong, writer.a)))
                return
        counts['ort ' + writer.op] += 1

    def run(self, model, writer):
        """The newest operator set first; where ONNX Runtime has no kernel for it, older ones, which say the same."""
        for older in (21, 17, 0):
            try:
                return self.runtime.run(model)
            except Bad as why:
                if older == 0 or reason_of(str(why)) != 'no kernel for the type' or older < OLDEST.get(writer.op, 17):
                    raise
            model.opset_import[0].version = older
        raise Bad('')

    def differs(self, writer, k, ours, theirs):
        """None, or how two results differ."""
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
            return 'result %d is %s%s here, %s%s there' % (k, ours.dtype, list(ours.shape), theirs.dtype, list(theirs.shape))
        if ours.dtype.kind != 'f':
            equal = ours == theirs
        else:
            equal = (ours == theirs) | (numpy.isnan(ours) & numpy.isnan(theirs))
        if numpy.all(equal):
            return None
        worst = 0.0
        if isinstance(writer.y[k], Real):
            off = numpy.abs(ours.astype(numpy.int64) - theirs.astype(numpy.int64))
            equal, worst = off <= steps(writer, k), float(off.max())
        if ours.dtype.kind == 'f':
            with numpy.errstate(all='ignore'):
                bound = BOUNDS[writer.op](Judged(self.runtime, writer, ours, k))
                if bound is not None:
                    equal = equal | ~(numpy.isfinite(ours) | numpy.isfinite(theirs))  # one may overflow first
                    if (writer.a.get('activationType') in ('SWISH', 'GELU', 'HSWISH') or
                        # infinity times 0, its limit, or nothing
                            any(v is not None and v.dtype.kind == 'f' and not numpy.isfinite(v).all() for v in writer.v)):
                        equal = equal | ~numpy.isfinite(theirs)
                    off = numpy.abs(ours.astype(numpy.float64) - theirs.astype(numpy.float64))
                    equal = equal | (off <= bound)
                    worst = float(numpy.nanmax(numpy.where(numpy.isfinite(off), off, 0), initial=0))
        if numpy.all(equal):
            return None
        at = tuple(int(n) for n in numpy.argwhere(~equal)[0])
        return 'result %d, element %s is %r here, %r there (%d of %d differ, at most by %.3g)' % (
            k, list(at), ours[at].item(), theirs[at].item(), int((~equal).sum()), ours.size, worst)

    def compare_import(self, graph, writers, given, counts, faults):
        """All nodes as one ONNX model, through the importer."""
        inputs = [t for t in graph.tensors.values() if t.kind == 'input'] + list(given.values())
        constants = {'t%d' % t.number: t.value for t in graph.tensors.values() if t.kind == 'constant'}
        used = {'t%d' % t.number for writer in writers for t in writer.t if t is not None}
        inputs = [t for t in inputs if 't%d' % t.number in used]
        constants = {name: v for name, v in constants.items() if name in used}
        model, _ = model_of(writers, constants, inputs)
        if any(w.quantised for w in writers) and max(OLDEST.get(w.op, 17) for w in writers) <= 18:
            model.opset_import[0].version = 18  # the importer takes no QuantizeLinear of newer sets
        try:
            with tempfile.NamedTemporaryFile(suffix='.onnx') as f:
                f.write(model.SerializeToString())
                f.flush()
                said = self.driver.ask(graph.text() + ['onnx ' + f.name])
        except EOFError as crash:  # the driver ended
            faults.append(('import crash', 'the importer: %s' % crash))
            return
        if not said or said[0].startswith('error'):
            counts['refused by the importer: ' + (re.sub(r"ONNX node \d+ '\w*' ", '',
                                                         said[0][6:])[:80] if said else 'nothing')] += 1
            if not any(word in said[0] for word in ('UNSUPPORTED_OP', 'NOT_SUPPORT', 'INVALID_DATATYPE')):
                faults.append(('import refused', 'the importer: ' + said[0]))
            return
        found = {number: array for number, _, _, _, array in map(self.read_output, said)}
        other = {n for n, array in found.items() if n in graph.tensors and array.tobytes() != graph.tensors[n].value.tobytes()}
        for writer in writers:
            if any(t is not None and t.number in other for t in writer.t):
                continue  # rounding differences of an operand are no fault of this node
            for k, y in enumerate(writer.y):
                wrong = self.differs(writer, k, writer.stored[k].value,
                                     found[y.number]) if y is not None and y.number in found else None
                if wrong:
                    faults.append(('import ' + writer.op, '%s, through the importer: %s; %s' % (writer.op, wrong, writer.a)))
                    return
        counts['imported'] += 1
        counts['imported, all bits'] += not other


def print_counts(counts, names, compared):
    """Numbers of compared nodes, and of others with reasons."""
    nodes = sum(count for name, count in counts.items() if name.startswith('ort '))
    if compared:
        print('%8d  nodes as in ONNX Runtime, of %d operators; %d nodes were quantised' % (nodes, len(compared),
                                                                                           counts['quantised']))
        print('  without an equivalent in ONNX: %s' % ', '.join('%s (%s)' % item for item in sorted(WITHOUT.items())))
        for op in sorted(set(names) - compared - set(WITHOUT) - {'IF', 'LOOP'}):
            reasons = [name.partition(': ')[2] for name in counts if name.startswith(('without %s:' % op,
                                                                                      'refused by ONNX Runtime %s:' % op))]
            if counts['op ' + op]:
                print('  never compared: %s (%s)' % (op, '; '.join(reasons)))
        print_reasons(counts, 'refused by ONNX Runtime ', 'nodes that ONNX Runtime refuses')
        print_reasons(counts, 'without ', 'nodes that ONNX cannot say')
    print('%8d  graphs the same through the importer, %d of them bit for bit' % (counts['imported'],
                                                                                 counts['imported, all bits']))
    print_reasons(counts, 'refused by the importer', 'graphs that the importer refuses')


def print_reasons(counts, prefix, title):
    """How often, and the most frequent reasons."""
    reasons = collections.Counter()
    for name, count in counts.items():
        if name.startswith(prefix):
            reasons[name.partition(': ')[2]] += count
    print('%8d  %s' % (sum(reasons.values()), title))
    for reason, count in reasons.most_common(12):
        print('%12d  %s' % (count, reason))
