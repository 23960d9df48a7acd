#!/usr/bin/env python3
"""Imports models of one operator from .tflite files and compares their results with TensorFlow Lite.

    test_tflite.py [--only TEXT] NNRT                 compares NNRT with tests/formats/tflite.txt
    test_tflite.py --check|--write --modules DIR      compares tests/formats/tflite.txt with TensorFlow Lite, or writes it
    DIR is node_modules with @tensorflow/tfjs-tflite: TensorFlow Lite as WebAssembly, run by node.

tests/formats/tflite.txt has a line per case: its name, then type, shape and bytes of every result, or "-" and the reason for a model
that TensorFlow Lite refuses. Floats may differ by 1e-5 of the largest magnitude. 8-bit results must be equal; in the cases of
ONE they may differ by one unit, since TensorFlow Lite rounds otherwise there (tests count them). Builder.define states results
that numpy computes: of models that TensorFlow Lite's package does not run, and of hybrid operators, whose results are within a
derived bound of TensorFlow Lite's. REFUSED lists the models that
NNRT refuses and TensorFlow Lite runs; these, and the models that only NNRT runs, count as skipped. The last line says "N passed, N
failed, N skipped"; the exit status is 1 when something failed.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import zipfile
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, 'tflite'))
from writer import Model, flexbuffer, metadata, with_files  # noqa: E402

TABLE = os.path.join(HERE, 'tflite.txt')
PACKAGE = '@tensorflow/tfjs-tflite'
Q = {'int8': (0.05, -3), 'uint8': (0.05, 125)}
CASES = {}


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


# Types that TensorFlow Lite's interface for WebAssembly does not have: inputs and results are cast from and to int32.
WIDE = ('bool', 'int64')
NUMBERS = ('float32', 'int8', 'uint8')


def elementwise():
    for op in ('ADD', 'SUB', 'MUL', 'DIV', 'MAXIMUM', 'MINIMUM', 'SQUARED_DIFFERENCE', 'POW', 'FLOOR_DIV', 'FLOOR_MOD'):
        for kind in NUMBERS + ('int32', 'int64'):
            for shape in ((2, 3, 4), (4,), (1,)):
                @case('%s %s %s' % (op, kind, shape))
                def build(b, op=op, kind=kind, shape=shape):
                    same = op in ('MAXIMUM', 'MINIMUM')
                    positive = {'low': 0.5, 'high': 3} if op in ('POW', 'DIV', 'FLOOR_DIV', 'FLOOR_MOD') else {}
                    x = b.x((2, 3, 4), kind, **({'low': 0.5} if op == 'POW' else {}))
                    value = b.draw(shape, kind, **positive)
                    if kind in ('int32', 'int64'):
                        value = (np.abs(value) % 4 if op == 'POW' else np.where(value == 0, 7, value)).astype(kind)
                    elif kind in Q and op in ('DIV', 'FLOOR_DIV'):
                        value = np.where(np.abs(value.astype(int) - Q[kind][1]) < 40, 90 + 128 * (kind == 'uint8'), value).astype(kind)
                    y = b.x(shape, kind, None if same else 0.03, None, value)
                    b.out(op, [x, y], kind, None if same else 0.11, None if same else 4 + 120 * (kind == 'uint8'),
                          2 if op in ('MAXIMUM', 'MINIMUM', 'FLOOR_DIV', 'DIV') and kind in Q else 1)
    for op in ('ADD', 'SUB', 'MUL', 'DIV'):
        for kind in NUMBERS:
            for activation in ('RELU', 'RELU6', 'RELU_N1_TO_1'):
                @case('%s %s %s' % (op, kind, activation))
                def build(b, op=op, kind=kind, activation=activation):
                    x, y = b.x((3, 5), kind), b.x((3, 5), kind, low=0.5, high=2)
                    if op == 'DIV' and kind in Q:
                        b.values[1] = np.full((3, 5), 60 + 128 * (kind == 'uint8'), kind)
                    b.out(op, [x, y], kind, 0.08, None, 2, activation=activation)
    for op in ('LESS', 'LESS_EQUAL', 'GREATER', 'GREATER_EQUAL', 'EQUAL', 'NOT_EQUAL'):
        for kind in NUMBERS + ('int32', 'int64'):
            @case('%s %s' % (op, kind))
            def build(b, op=op, kind=kind):
                value = b.draw((4, 6), kind)
                other = np.where(b.random.randint(0, 2, (4, 6)) > 0, value, b.draw((4, 6), kind))
                b.out(op, [b.x(None, kind, value=value), b.x(None, kind, value=other)], 'bool', version=2)
    for op in ('FLOOR', 'CEIL', 'ROUND', 'SIN', 'COS', 'LOG', 'SQRT', 'RSQRT', 'SQUARE', 'EXP', 'NEG', 'ABS', 'ZEROS_LIKE', 'SIGN',
               'LOGISTIC', 'TANH', 'RELU', 'RELU6', 'RELU_N1_TO_1', 'RELU_0_TO_1', 'ELU', 'HARD_SWISH', 'LEAKY_RELU', 'GELU'):
        for kind in NUMBERS + ('int32', 'int64'):
            if op == 'SIGN' and kind != 'float32':  # TensorFlow Lite writes no result then
                continue

            @case('%s %s' % (op, kind))
            def build(b, op=op, kind=kind):
                low = {'low': 0.1} if op in ('LOG', 'SQRT', 'RSQRT') else {}
                fixed = {'LOGISTIC': 1 / 256, 'TANH': 1 / 128}.get(op)
                zero = None if fixed is None else {'LOGISTIC': 0, 'TANH': 128}[op] - 128 * (kind == 'int8')
                b.out(op, [b.x((3, 40), kind, **low)], kind, fixed or 0.04, zero, 2 if op == 'TANH' and kind in Q else 1,
                      **({'alpha': 0.3} if op == 'LEAKY_RELU' else {'approximate': True} if op == 'GELU' else {}))
    for kind in NUMBERS + ('int32', 'int64', 'bool'):
        @case('PRELU %s' % kind)
        def prelu(b, kind=kind):
            b.out('PRELU', [b.x((1, 3, 4, 5), kind), b.weight((1, 1, 5), kind, 0.01, None)], kind, 0.06)

        @case('SELECT %s' % kind)
        def select(b, kind=kind):
            b.out('SELECT', [b.c(b.draw((3, 4), 'bool'), 'bool'), b.x((3, 4), kind), b.x((3, 4), kind)], kind)

        @case('SELECT rows %s' % kind)
        def rows(b, kind=kind):
            b.out('SELECT', [b.c([1, 0, 1], 'bool'), b.x((3, 3), kind), b.x((3, 3), kind)], kind)

        @case('SELECT_V2 %s' % kind)
        def select2(b, kind=kind):
            b.out('SELECT_V2', [b.c([1, 0, 1], 'bool'), b.x((3, 3), kind), b.x((3, 3), kind)], kind)
    for op in ('LOGICAL_AND', 'LOGICAL_OR', 'LOGICAL_NOT'):
        @case(op)
        def logical(b, op=op):
            x = [b.tensor('b%d' % k, 'bool', (2, 8)) for k in range(1 if op == 'LOGICAL_NOT' else 2)]
            for t in x:
                b.op('GREATER', [b.x((2, 8)), b.c(0, 'float32')], [t])
            b.out(op, x, 'bool')

    @case('ADD_N float32')
    def add_n(b):
        b.out('ADD_N', [b.x((2, 3)), b.x((2, 3)), b.x((2, 3))], 'float32')
    for source in ('float32', 'int32', 'uint8', 'int64', 'bool'):
        for target in ('float32', 'int32', 'uint8', 'int64', 'bool'):
            @case('CAST %s %s' % (source, target))
            def cast(b, source=source, target=target):
                value = b.draw((3, 7), source, 0, 100) if source not in ('int32', 'int64') else b.random.randint(0, 100, (3, 7))
                b.out('CAST', [b.x(None, source, 0, 0, value=value)], target, 0, 0, in_type=source, out_type=target)
    for source in NUMBERS:
        for target in NUMBERS:
            @case('QUANTIZE %s %s' % (source, target))
            def quantize(b, source=source, target=target):
                op = 'QUANTIZE' if target != 'float32' else 'DEQUANTIZE'
                b.out(op, [b.x((3, 50), source)], target, 0.07, 9, 2)

    for op in ('ADD', 'SUB', 'MUL'):
        for activation in ('RELU', 'RELU6'):
            @case('%s int32 %s' % (op, activation))
            def integers(b, op=op, activation=activation):
                b.out(op, [b.x((3, 5), 'int32'), b.x((3, 5), 'int32')], 'int32', activation=activation)
    for condition, other in (((3, 1), (3, 4)), ((4,), (3, 4)), ((1, 4), (3, 1)), ((2, 3, 4), (4,)), ((), (3, 4))):
        @case('SELECT_V2 %s %s' % (condition, other))
        def select_broadcast(b, condition=condition, other=other):
            b.out('SELECT_V2', [b.c(b.draw(condition, 'bool'), 'bool'), b.x((3, 4)), b.x(other)], 'float32')

    for kind in NUMBERS:
        @case('PRELU %s of every element' % kind)
        def slopes(b, kind=kind):
            b.out('PRELU', [b.x((2, 3, 4, 5), kind), b.weight((3, 1, 5), kind, 0.01, None)], kind, 0.06)

        if kind in Q:
            @case('SOFTMAX beta %s' % kind)
            def softened(b, kind=kind):
                b.out('SOFTMAX', [b.x((3, 9), kind)], kind, 1 / 256, -128 * (kind == 'int8'), beta=0.3)
    for op in ('ADD', 'SUB', 'MUL', 'DIV'):
        @case('%s int32 RELU_N1_TO_1' % op)
        def clipped(b, op=op):
            b.out(op, [b.x((3, 5), 'int32'), b.x((3, 5), 'int32', value=b.random.randint(1, 9, (3, 5)))], 'int32', activation='RELU_N1_TO_1')

    @case('ADD_N int32')
    def add_integers(b):
        b.out('ADD_N', [b.x((2, 3), 'int32') for _ in range(3)], 'int32')
    for op in ('EQUAL', 'NOT_EQUAL'):
        @case('%s bool' % op)
        def equal_bools(b, op=op):
            b.out(op, [b.x((4, 6), 'bool'), b.x((4, 6), 'bool')], 'bool', version=3)

    @case('PRELU computed slopes')
    def computed_slopes(b):
        alpha = b.tensor('alpha', 'float32', (1, 1, 5))
        b.op('ABS', [b.x((1, 1, 5))], [alpha])
        b.out('PRELU', [b.x((1, 3, 4, 5)), alpha], 'float32')

    @case('SELECT_V2 computed condition')
    def select_computed(b):
        condition = b.tensor('b', 'bool', (4,))
        b.op('GREATER', [b.x((4,)), b.c(0, 'float32')], [condition])
        b.out('SELECT_V2', [condition, b.x((3, 4)), b.x((3, 4))], 'float32')

    @case('BITWISE_XOR int32')
    def bits(b):
        b.out('BITWISE_XOR', [b.x((3, 5), 'int32'), b.x((3, 5), 'int32')], 'int32')

    @case('ADD long names')
    def names(b):
        t = [b.tensor('layer/%s%d' % ('x' * 150, k), 'float32', (4,)) for k in range(3)]
        x = b.x((4,))
        b.op('ADD', [x, b.c(b.draw((4,), 'float32'), 'float32')], [t[0]])
        b.op('MUL', [x, t[0]], [t[1]])
        b.op('SUB', [t[0], t[1]], [t[2]])
        b.out('ADD', [t[1], t[2]], 'float32')

    @case('DEQUANTIZE float16')
    def half(b):
        w = b.tensor('w', 'float32', (4,))
        b.op('DEQUANTIZE', [b.c(b.draw((4,), 'float32'), 'float16')], [w], 3)
        b.out('ADD', [b.x((3, 4)), w], 'float32')


elementwise()


def windows():
    for kind in NUMBERS:
        limits = {'int8': {'scale': 0.01, 'zero': 0}, 'uint8': {'scale': 0.01, 'zero': 120}}.get(kind, {})

        def bias(b, count, kind=kind):
            return b.weight((count,)) if kind == 'float32' else b.c(b.random.randint(-400, 400, count), 'int32', scale=0.0005, zero=0)
        for padding in ('SAME', 'VALID'):
            for stride in (1, 2):
                @case('CONV_2D %s %s %d' % (kind, padding, stride))
                def conv(b, kind=kind, padding=padding, stride=stride, limits=limits, bias=bias):
                    b.out('CONV_2D', [b.x((2, 6, 7, 3), kind), b.weight((4, 3, 2, 3), kind, **limits), bias(b, 4)], kind, 0.12, None,
                          1, padding=padding, stride_h=stride, stride_w=stride, activation='RELU6' if stride == 2 else 'NONE')

                @case('DEPTHWISE_CONV_2D %s %s %d' % (kind, padding, stride))
                def depthwise(b, kind=kind, padding=padding, stride=stride, limits=limits, bias=bias):
                    b.out('DEPTHWISE_CONV_2D', [b.x((1, 6, 7, 3), kind), b.weight((1, 3, 3, 6), kind, **limits), bias(b, 6)], kind,
                          0.08, None, 1, padding=padding, stride_h=stride, stride_w=stride, multiplier=2)

                @case('TRANSPOSE_CONV %s %s %d' % (kind, padding, stride))
                def transposed(b, kind=kind, padding=padding, stride=stride, limits=limits):
                    sides = [(n if padding == 'SAME' else n + 2) if stride == 1 else 2 * n - 1 if padding == 'SAME' else 2 * n + 1
                             for n in (4, 5)]
                    b.out('TRANSPOSE_CONV', [b.c([1] + sides + [4]), b.weight((4, 3, 3, 2), kind, **limits), b.x((1, 4, 5, 2), kind)],
                          kind, 0.1, None, 1, padding=padding, stride_h=stride, stride_w=stride)
                for op in ('AVERAGE_POOL_2D', 'MAX_POOL_2D', 'L2_POOL_2D'):
                    @case('%s %s %s %d' % (op, kind, padding, stride))
                    def pool(b, op=op, kind=kind, padding=padding, stride=stride):
                        b.out(op, [b.x((1, 7, 8, 5), kind)], kind, padding=padding, stride_h=stride, stride_w=stride, filter_h=3,
                              filter_w=2, activation='RELU' if stride == 2 else 'NONE')

        @case('CONV_2D %s dilated, no bias' % kind)
        def dilated(b, kind=kind, limits=limits):
            b.out('CONV_2D', [b.x((1, 9, 9, 2), kind), b.weight((3, 3, 3, 2), kind, **limits)] + [bias(b, 3)] * (kind != 'float32'), kind,
                  0.12, None, 2, padding='SAME', stride_h=1, stride_w=1, dilation_h=2, dilation_w=2, activation='RELU_N1_TO_1')
        for op in ('RESIZE_BILINEAR', 'RESIZE_NEAREST_NEIGHBOR'):
            for flags in ({}, {'align_corners': True}, {'half_pixel_centers': True}):
                for size in ((7, 3), (2, 11)):
                    @case('%s %s %s %s' % (op, kind, ' '.join(flags) or 'plain', size))
                    def resize(b, op=op, kind=kind, flags=flags, size=size):
                        b.out(op, [b.x((1, 4, 5, 3), kind), b.c(size)], kind, version=3 if flags else 1, **flags)

        @case('L2_NORMALIZATION %s' % kind)
        def l2norm(b, kind=kind):
            b.out('L2_NORMALIZATION', [b.x((3, 5), kind)], kind, 1 / 128, 128 - 128 * (kind == 'int8'), activation='NONE')
        for keep in (False, True):
            @case('FULLY_CONNECTED %s %s' % (kind, 'keep' if keep else 'rows'))
            def dense(b, kind=kind, keep=keep, limits=limits, bias=bias):
                b.out('FULLY_CONNECTED', [b.x((2, 3, 8), kind), b.weight((5, 8), kind, **limits), bias(b, 5)], kind, 0.2, None,
                      5 if keep else 1, keep_num_dims=keep, activation='RELU')
        for adjoint in (False, True):
            @case('BATCH_MATMUL %s %s' % (kind, adjoint))
            def matmul(b, kind=kind, adjoint=adjoint):
                b.out('BATCH_MATMUL', [b.x((2, 3, 4), kind), b.x((2, 5, 4) if adjoint else (2, 4, 5), kind)], kind, 0.3, None, 1,
                      adj_x=False, adj_y=adjoint)
    for op in ('CONV_2D', 'DEPTHWISE_CONV_2D'):
        @case('%s per channel' % op)
        def channels(b, op=op):
            scales = [0.004, 0.01, 0.02, 0.007]
            w = b.c(b.draw((4, 3, 3, 2) if op == 'CONV_2D' else (1, 3, 3, 4), 'int8'), 'int8', scale=scales, zero=0,
                    axis=0 if op == 'CONV_2D' else 3)
            bias = b.c([100, -50, 3, 7], 'int32', scale=[s * 0.05 for s in scales], zero=0)
            b.out(op, [b.x((1, 5, 5, 2), 'int8'), w, bias], 'int8', 0.15, 5, 3, padding='SAME', stride_h=1, stride_w=1,
                  **({} if op == 'CONV_2D' else {'multiplier': 2}))

    for op in ('RESIZE_BILINEAR', 'RESIZE_NEAREST_NEIGHBOR'):
        for flags in ({}, {'align_corners': True}, {'half_pixel_centers': True}):
            for size in ((1, 1), (3, 3), (4, 10), (5, 7), (6, 9), (13, 8), (16, 20)):
                @case('%s to %s %s' % (op, size, ' '.join(flags) or 'plain'))
                def sizes(b, op=op, flags=flags, size=size):
                    b.out(op, [b.x((1, 4, 5, 2)), b.c(size)], 'float32', version=3 if flags else 1, **flags)
    for padding in ('SAME', 'VALID'):
        for stride, dilation in ((1, 1), (2, 1), (1, 2)):
            @case('CONV_3D %s %d %d' % (padding, stride, dilation))
            def conv3d(b, padding=padding, stride=stride, dilation=dilation):
                b.out('CONV_3D', [b.x((1, 5, 6, 7, 2)), b.weight((2, 3, 2, 2, 3)), b.weight((3,))], 'float32', padding=padding,
                      stride_d=stride, stride_h=stride, stride_w=1, dilation_d=dilation, dilation_h=dilation, dilation_w=1,
                      activation='RELU')
        for stride in (1, 2):
            @case('Convolution2DTransposeBias %s %d' % (padding, stride))
            def transposed_bias(b, padding=padding, stride=stride):
                x, w, bias = b.x((1, 3, 4, 2)), b.weight((3, 2, 2, 2)), b.weight((3,))
                if b.reference:  # the same with the size of the result
                    more = 0 if padding == 'SAME' else 2 - stride
                    shape = b.c([1, 3 * stride + more, 4 * stride + more, 3])
                    b.out('TRANSPOSE_CONV', [shape, w, x, bias], 'float32', version=3, padding=padding, stride_h=stride, stride_w=stride)
                else:
                    b.op('CUSTOM', [x, w, bias], [b.y()], 1, 'Convolution2DTransposeBias',
                         np.array([1 if padding == 'SAME' else 2, stride, stride], '<i4').tobytes())
    for kind in ('float32', 'float16', 'int8'):
        for block in (1, 4):
            @case('DENSIFY %s %d' % (kind, block))
            def densify(b, kind=kind, block=block):
                blocks = b.random.randint(0, 2, (3, 8 // block))
                indices = np.nonzero(blocks)[1]
                stored = b.draw((len(indices), block), 'float32' if kind == 'float16' else kind).astype(kind)
                segments = np.concatenate([[0], np.cumsum(np.sum(blocks, 1))])
                levels = [{1: ('i32', 3)}, {0: ('i8', 1), 2: ('u8', 1), 3: ('table', {0: ('[i32]', segments)}), 4: ('u8', 3),
                                            5: ('table', {0: ('bytes', indices.astype('u1'))})}]
                levels += [{1: ('i32', block)}] * (block > 1)
                sparsity = {0: ('[i32]', list(range(len(levels)))), 1: ('[i32]', [1] * (block > 1)), 2: ('[table]', levels)}
                quant = {'scale': 0.02, 'zero': 0} if kind == 'int8' else {}
                t = b.tensor('dense', kind, (3, 8), **quant)
                b.op('DENSIFY', [b.tensor('sparse', kind, (3, 8), data=stored.tobytes(), sparsity=sparsity, **quant)], [t])
                if kind != 'float32':
                    w = b.tensor('w', 'float32', (3, 8))
                    b.op('DEQUANTIZE', [t], [w], 3 if kind == 'float16' else 2)
                    t = w
                b.out('ADD', [b.x((3, 8)), t], 'float32')

    for op in ('AVERAGE_POOL_2D', 'MAX_POOL_2D'):
        @case('%s then an activation' % op)
        def pool_activation(b, op=op):
            b.out(op, [b.x((1, 7, 8, 5))], 'float32', padding='SAME', stride_h=1, stride_w=1, filter_h=3, filter_w=2,
                  activation='RELU_N1_TO_1')

    @case('FULLY_CONNECTED then an activation')
    def dense_activation(b):
        b.out('FULLY_CONNECTED', [b.x((3, 8)), b.weight((5, 8)), b.weight((5,))], 'float32', activation='RELU_N1_TO_1')

    @case('DEPTHWISE_CONV_2D computed weight')
    def depthwise_computed(b):
        w = b.tensor('w', 'float32', (1, 3, 3, 6))
        b.op('ABS', [b.x((1, 3, 3, 6))], [w])
        b.out('DEPTHWISE_CONV_2D', [b.x((1, 6, 7, 3)), w, b.weight((6,))], 'float32', padding='SAME', stride_h=1, stride_w=1, multiplier=2,
              activation='RELU_N1_TO_1')

    @case('LOCAL_RESPONSE_NORMALIZATION')
    def lrn(b):
        b.out('LOCAL_RESPONSE_NORMALIZATION', [b.x((1, 3, 3, 7))], 'float32', radius=2, bias=1.0, alpha=0.3, beta=0.6)


def shapes():
    for kind in NUMBERS + ('int32', 'int64', 'bool'):
        def one(op, shape, *constants, version=1, name=None, kind=kind, **members):
            @case('%s %s' % (name or op, kind))
            def build(b):
                b.out(op, [b.x(shape, kind)] + [b.c(v) for v in constants], kind, version=version, **members)
        one('RESHAPE', (2, 3, 4), [4, -1])
        one('RESHAPE', (2, 3, 4), name='RESHAPE option', new_shape=[6, 4])
        one('SQUEEZE', (1, 3, 1, 4), squeeze_dims=[0])
        one('SQUEEZE', (1, 3, 1, 4), name='SQUEEZE all', squeeze_dims=[])
        one('EXPAND_DIMS', (3, 4), 1)
        one('TRANSPOSE', (2, 3, 4, 5), [3, 0, 2, 1], version=2)
        one('PAD', (2, 3, 2, 1), [[0, 0], [1, 2], [0, 1], [1, 0]], version=2)
        one('MIRROR_PAD', (4, 5), [[2, 1], [1, 3]], version=2, mode=0)
        one('MIRROR_PAD', (4, 5), [[2, 1], [1, 3]], version=2, name='MIRROR_PAD symmetric', mode=1)
        one('SLICE', (4, 5, 3), [1, 0, 2], [2, -1, 1], version=2)
        one('STRIDED_SLICE', (4, 5, 6), [1, -1, 0], [4, 0, 1], [2, -2, 1], version=2, shrink_axis_mask=4, end_mask=1)
        one('STRIDED_SLICE', (4, 5, 6), [1, 0], [3, 2], [1, 1], version=2, name='STRIDED_SLICE ellipsis', ellipsis_mask=2)
        one('GATHER', (4, 5), [3, 0, 1], version=2, axis=0)
        one('GATHER', (4, 5), [[3, 0], [1, 4]], version=2, name='GATHER axis', axis=1)
        one('GATHER_ND', (4, 5), [[3, 0], [1, 4]], version=2)
        one('TILE', (2, 3), [2, 3])
        one('BROADCAST_TO', (1, 3), [4, 3], version=2)
        one('REVERSE_V2', (3, 4), [1], version=2)
        one('DEPTH_TO_SPACE', (1, 2, 3, 8), block_size=2)
        one('SPACE_TO_DEPTH', (1, 4, 6, 2), version=2, block_size=2)
        one('SPACE_TO_BATCH_ND', (1, 4, 5, 2), [2, 3], [[0, 0], [1, 0]], version=2)
        one('BATCH_TO_SPACE_ND', (6, 2, 2, 2), [2, 3], [[0, 1], [1, 0]], version=2)
        one('REVERSE_SEQUENCE', (3, 4, 2), [2, 4, 1], seq_dim=1, batch_dim=0)

        @case('CONCATENATION %s' % kind)
        def concat(b, kind=kind):
            b.out('CONCATENATION', [b.x((2, 3), kind), b.x((2, 4), kind)], kind, version=2, axis=-1)

        @case('PACK %s' % kind)
        def pack(b, kind=kind):
            b.out('PACK', [b.x((2, 3), kind), b.x((2, 3), kind)], kind, version=2, axis=1, values_count=2)

        @case('UNPACK %s' % kind)
        def unpack(b, kind=kind):
            b.op('UNPACK', [b.x((2, 3), kind)], [b.y(kind), b.y(kind), b.y(kind)], 2, num=3, axis=1)

        @case('SPLIT %s' % kind)
        def split(b, kind=kind):
            b.op('SPLIT', [b.c(1), b.x((2, 6), kind)], [b.y(kind), b.y(kind)], 2, num_splits=2)

        @case('SPLIT_V %s' % kind)
        def split_v(b, kind=kind):
            b.op('SPLIT_V', [b.x((2, 6), kind), b.c([1, -1]), b.c(1)], [b.y(kind), b.y(kind)], 2, num_splits=2)

        @case('PADV2 %s' % kind)
        def pad_v2(b, kind=kind):
            b.out('PADV2', [b.x((2, 3), kind), b.c([[1, 0], [2, 1]]), b.weight((), kind)], kind, version=2)

        for op in ('ARG_MAX', 'ARG_MIN'):
            @case('%s %s int64' % (op, kind))
            def arg64(b, op=op, kind=kind):
                b.out(op, [b.x((3, 5), kind), b.c(-1)], 'int64', version=2, output_type='int64')

        @case('TOPK_V2 %s' % kind)
        def topk(b, kind=kind):
            b.op('TOPK_V2', [b.x((3, 6), kind), b.c(3)], [b.y(kind), b.y('int32')], 2)
        for op in ('ARG_MAX', 'ARG_MIN'):
            @case('%s %s' % (op, kind))
            def arg(b, op=op, kind=kind):
                b.out(op, [b.x((3, 5), kind), b.c(1)], 'int32', version=2, output_type='int32')
        for op in ('MEAN', 'SUM', 'REDUCE_PROD', 'REDUCE_MAX', 'REDUCE_MIN'):
            for axes in ([1], [1, 2], [0, 1, 2, 3]):
                @case('%s %s %s' % (op, kind, axes))
                def reduce(b, op=op, kind=kind, axes=axes):
                    other = op in ('MEAN', 'SUM', 'REDUCE_PROD')
                    b.out(op, [b.x((2, 3, 4, 5), kind), b.c(axes)], kind, (0.9 if op == 'SUM' else 0.03) if other else None,
                          None, 2, keep_dims=len(axes) == 2)
        for op in ('SHAPE', 'RANK'):
            @case('%s %s' % (op, kind))
            def shape(b, op=op, kind=kind):
                b.out(op, [b.x((2, 3), kind)], 'int32', **({'out_type': 'int32'} if op == 'SHAPE' else {}))

        @case('FILL %s' % kind)
        def fill(b, kind=kind):
            b.out('FILL', [b.c([2, 3]), b.x((), kind)], kind, version=2)

        @case('EMBEDDING_LOOKUP %s' % kind)
        def lookup(b, kind=kind):
            b.out('EMBEDDING_LOOKUP', [b.x((3,), 'int32', value=[2, 0, 3]), b.weight((4, 5), kind)], kind, version=2)
        for op in ('SOFTMAX', 'LOG_SOFTMAX'):
            @case('%s %s' % (op, kind))
            def softmax(b, op=op, kind=kind):
                q = (1 / 256, -128 * (kind == 'int8')) if op == 'SOFTMAX' else (16 / 256, 127 + 128 * (kind == 'uint8'))
                b.out(op, [b.x((3, 9), kind)], kind, *q, version=2, **({'beta': 1.0} if op == 'SOFTMAX' else {}))
        for flags in ({}, {'exclusive': True}, {'reverse': True}):
            @case('CUMSUM %s %s' % (kind, ' '.join(flags) or 'plain'))
            def cumsum(b, kind=kind, flags=flags):
                b.out('CUMSUM', [b.x((3, 5), kind), b.c(1)], kind, **flags)

        @case('SCATTER_ND %s' % kind)
        def scatter(b, kind=kind):
            b.out('SCATTER_ND', [b.c([[1, 0], [2, 1], [1, 0]]), b.x((3,), kind, 0, 0), b.c([3, 2])], kind, 0, 0)

        @case('SPARSE_TO_DENSE %s' % kind)
        def sparse(b, kind=kind):
            b.out('SPARSE_TO_DENSE', [b.c([[0, 1], [2, 0]]), b.c([3, 2]), b.x((2,), kind, 0, 0), b.c(1, kind)], kind, 0, 0)

        @case('ONE_HOT %s' % kind)
        def onehot(b, kind=kind):
            b.out('ONE_HOT', [b.x((3,), 'int32', value=[1, 0, 5]), b.c(4), b.c(3, kind), b.c(1, kind)], kind, 0, 0, axis=-1)

        @case('RANGE %s' % kind)
        def ranges(b, kind=kind):
            b.out('RANGE', [b.c(1, kind), b.c(9, kind), b.c(2, kind)], kind, 0, 0)
    for op in ('REDUCE_ANY', 'REDUCE_ALL'):
        @case(op)
        def reduce_bool(b, op=op):
            t = b.tensor('b', 'bool', (4, 3))
            b.op('GREATER', [b.x((4, 3)), b.c(0, 'float32')], [t])
            b.out(op, [t, b.c([1])], 'bool', keep_dims=False)

    for axes in ([-1], [-2, -1], [0, 0]):
        @case('MEAN axes %s' % axes)
        def negative(b, axes=axes):
            b.out('MEAN', [b.x((2, 3, 4)), b.c(axes)], 'float32', version=2, keep_dims=False)

    @case('GATHER axis -1')
    def gather(b):
        b.out('GATHER', [b.x((4, 5)), b.c([3, 0, 1])], 'float32', version=2, axis=-1)

    for axis, batches in ((1, 1), (2, 1), (-1, -1), (2, 2)):
        @case('GATHER batches %d axis %d' % (batches, axis))
        def gather_batches(b, axis=axis, batches=batches):
            index = (2,) if batches == 1 and axis == 1 else (2, 3) if batches != 2 else (2, 4, 2)
            b.out('GATHER', [b.x((2, 4, 5)), b.x(None, 'int32', value=b.random.randint(0, 4, index))], 'float32', 5, axis=axis,
                  batch_dims=batches)

    @case('SHAPE to int64')
    def shape64(b):
        b.out('SHAPE', [b.x((2, 3))], 'int64', out_type='int64')

    @case('SPLIT other scale')
    def rescaled(b):
        b.op('SPLIT', [b.c(1), b.x((2, 6), 'int8')], [b.y('int8'), b.y('int8', 0.1)], 2, num_splits=2)

    @case('CONCATENATION uint8 other scale')
    def rescaled_concat(b):
        b.out('CONCATENATION', [b.x((2, 3), 'uint8', 0.04), b.x((2, 4), 'uint8')], 'uint8', 0.06, version=2, axis=-1)

    @case('SOFTMAX beta')
    def beta(b):
        b.out('SOFTMAX', [b.x((3, 9))], 'float32', beta=0.5)

    @case('WHERE')
    def where(b):
        t = b.tensor('b', 'bool', (4, 3))
        b.op('GREATER', [b.x((4, 3)), b.c(0, 'float32')], [t])
        b.out('WHERE', [t], 'int64')


def windows_of(x, kh, kw, stride):
    """[N,P,Q,kh,kw,C]: the windows of x [N,H,W,C] without padding."""
    rows, columns = (x.shape[1] - kh) // stride + 1, (x.shape[2] - kw) // stride + 1
    return np.array([[[image[i * stride:i * stride + kh, j * stride:j * stride + kw] for j in range(columns)] for i in range(rows)]
                     for image in x])


def hybrid():
    """float32 inputs with 8-bit, 4-bit or float16 weights. TensorFlow Lite quantizes the inputs, row by row, to 255 levels between
    -max|x| and max|x| (asymmetric: between the extremes): each result differs by at most half a level times the sum of weights.
    The package runs no int4, no float16 here, and FULLY_CONNECTED and EMBEDDING_LOOKUP with the first scale only: it gets these
    weights in float32 or, beside int8 inputs, in int8."""
    def stored(b, shape, bits, channels, axis=0, runs=True):
        """A weight, and its real values."""
        scale = np.array([0.01, 0.02, 0.005, 0.03, 0.015, 0.007])[:channels] if channels else np.array([0.01])
        if bits == 16:
            w = b.draw(shape, 'float32').astype('float16')
            return b.c(w, 'float32' if b.reference else 'float16'), w.astype('float32')
        half = 1 << (bits - 1)
        w = b.random.randint(-half + 1, half, shape).astype('int8')
        scale = scale * 128 / half
        real = w * scale.astype('float32').reshape([-1 if k == axis else 1 for k in range(len(shape))])
        if b.reference and (bits == 4 or (channels and not runs)):
            return b.c(real, 'float32'), real
        return (b.constant if bits == 8 else b.int4)('w', w, scale=scale, zero=0, axis=axis), real

    def bound(x, w, axes, bits=8, runs=True):
        return float(np.max(np.abs(x)) / 254 * np.max(np.sum(np.abs(w), axes)) * 1.01) if bits == 8 and runs else None
    for bits in (8, 4, 16):
        for channels in (0, 1) if bits < 16 else (0,):
            if bits != 8 or channels:  # TensorFlow Lite has no DEPTHWISE_CONV_2D with one scale
                @case('DEPTHWISE_CONV_2D hybrid, %d bits%s' % (bits, ' per channel' if channels else ''))
                def depthwise(b, bits=bits, channels=channels):
                    t, w = stored(b, (1, 2, 3, 6), bits, 6 * channels, 3)
                    b.out('DEPTHWISE_CONV_2D', [b.x((1, 5, 6, 3)), t, b.weight((6,))], 'float32', version=6, padding='VALID', stride_h=1,
                          stride_w=1, multiplier=2)
                    y = np.einsum('npqhwc,hwcm->npqcm', windows_of(b.values[0], 2, 3, 1), w[0].reshape(2, 3, 3, 2))
                    b.define(y.reshape(1, 4, 4, 6) + np.frombuffer(b.buffers[-1], '<f4'), bound=bound(b.values[0], w[0], (0, 1), bits))

            @case('FULLY_CONNECTED hybrid, %d bits%s' % (bits, ' per channel' if channels else ''))
            def dense(b, bits=bits, channels=channels):
                t, w = stored(b, (5, 9), bits, 5 * channels, runs=False)
                bias = b.weight((5,))
                b.out('FULLY_CONNECTED', [b.x((3, 9)), t, bias], 'float32', 9, version=9)
                b.define(b.values[0] @ w.T + np.frombuffer(b.buffers[-1], '<f4'), bound=bound(b.values[0], w, 1, bits, not channels))

            @case('CONV_2D hybrid, %d bits%s' % (bits, ' per channel' if channels else ''))
            def conv(b, bits=bits, channels=channels):
                t, w = stored(b, (4, 2, 3, 3), bits, 4 * channels)
                b.out('CONV_2D', [b.x((2, 5, 6, 3)), t, b.weight((4,))], 'float32', version=3, padding='VALID', stride_h=1, stride_w=1)
                b.define(np.einsum('npqhwc,ohwc->npqo', windows_of(b.values[0], 2, 3, 1), w) + np.frombuffer(b.buffers[-1], '<f4'),
                         bound=bound(b.values[0], w, (1, 2, 3), bits))

            if bits < 16:
                @case('EMBEDDING_LOOKUP hybrid, %d bits%s' % (bits, ' per channel' if channels else ''))
                def lookup(b, bits=bits, channels=channels):
                    t, w = stored(b, (4, 6), bits, 4 * channels, runs=False)
                    b.out('EMBEDDING_LOOKUP', [b.x((3,), 'int32', value=[2, 0, 3]), t], 'float32', version=3)
                    b.define(w[[2, 0, 3]])
    for adjoint in (False, True):
        @case('BATCH_MATMUL hybrid%s' % (' adjoint' if adjoint else ''))
        def matmul(b, adjoint=adjoint):
            x, t = b.x((2, 3, 4)), b.x((2, 5, 4) if adjoint else (2, 4, 5), 'int8', 0.02, 0)
            w = b.values[1] * np.float32(0.02)
            w = w.transpose(0, 2, 1) if adjoint else w
            b.out('BATCH_MATMUL', [x, t], 'float32', version=4, adj_x=False, adj_y=adjoint)
            b.define(b.values[0] @ w, bound=bound(b.values[0], w, 1))

    @case('FULLY_CONNECTED hybrid, asymmetric inputs')
    def asymmetric(b):
        t, w = stored(b, (5, 9), 8, 0)
        b.out('FULLY_CONNECTED', [b.x((3, 9)), t, b.weight((5,))], 'float32', version=9, asymmetric=True)
        b.define(b.values[0] @ w.T + np.frombuffer(b.buffers[-1], '<f4'), bound=2 * bound(b.values[0], w, 1))

    @case('FULLY_CONNECTED hybrid, computed weight')
    def computed(b):
        x, t = b.x((3, 9)), b.x((5, 9), 'int8', 0.02, 0)
        b.out('FULLY_CONNECTED', [x, t, -1], 'float32', version=9)
        w = b.values[1] * np.float32(0.02)
        b.define(b.values[0] @ w.T, bound=bound(b.values[0], w, 1))

    @case('FULLY_CONNECTED hybrid, uint8')
    def unsigned(b):
        b.out('FULLY_CONNECTED', [b.x((3, 9)), b.weight((5, 9), 'uint8', 0.02, 128), -1], 'float32', version=9)
    for op in ('CONV_2D', 'DEPTHWISE_CONV_2D', 'FULLY_CONNECTED'):
        @case('%s%s, int4' % (op, ' per channel' if op == 'CONV_2D' else ''))
        def narrow(b, op=op):
            dense, each = op == 'FULLY_CONNECTED', op == 'DEPTHWISE_CONV_2D'
            w = b.random.randint(-8, 8, (5, 9) if dense else (1, 3, 3, 2) if each else (3, 3, 3, 2)).astype('int8')
            scale = np.array([0.1] if dense else [0.1, 0.2] if each else [0.1, 0.2, 0.05])
            t = (b.constant if b.reference else b.int4)('w', w, scale=scale, zero=0, axis=3 if each else 0)
            bias = b.c(b.random.randint(-400, 400, 5 if dense else len(scale)), 'int32', scale=scale * 0.05, zero=0)
            options = {} if dense else {'padding': 'SAME', 'stride_h': 1, 'stride_w': 1, **({'multiplier': 1} if each else {})}
            b.out(op, [b.x((2, 9) if dense else (1, 5, 4, 2), 'int8'), t, bias], 'int8', 0.3, 2, 7 if dense else 6, **options)


def control():
    """Models with several subgraphs."""
    def graph(b, kinds, **quant):
        """A subgraph with inputs of (type, shape), and its index."""
        g = b.subgraph()
        g.inputs = [g.tensor('i%d' % k, kind, shape, **quant) for k, (kind, shape) in enumerate(kinds)]
        return g, len(b.graphs) - 1

    def ends(g, op, inputs, kind, shape, **members):
        """An operator, whose result is an output of the graph."""
        quant = members.pop('quant', {})
        t = g.tensor('t%d' % len(g.tensors), kind, shape, **quant)
        g.op(op, inputs, [t], **members)
        g.outputs.append(t)
        return t

    def condition(b, value):
        t = b.tensor('cond', 'bool', ())
        b.op('CAST', [b.x((), 'int32', value=value)], [t], in_type='int32', out_type='bool')
        return t
    for value in (0, 1):
        for kind in ('float32', 'int8', 'int32'):
            quant = {'scale': 0.05, 'zero': -3} if kind == 'int8' else {}

            @case('IF %s %d' % (kind, value))
            def branches(b, value=value, kind=kind, quant=quant):
                cond, x, y = condition(b, value), b.x((2, 3), kind), b.x((2, 3), kind)
                g, first = graph(b, [(kind, (2, 3))] * 2, **quant)
                ends(g, 'ADD', g.inputs, kind, (2, 3), quant=quant)
                ends(g, 'MAXIMUM', g.inputs, kind, (2, 3), quant=quant)
                h, second = graph(b, [(kind, (2, 3))] * 2, **quant)
                ends(h, 'MUL', h.inputs, kind, (2, 3), quant=quant)
                h.outputs.append(h.inputs[1])
                b.op('IF', [cond, x, y], [b.y(kind), b.y(kind)], then=first, otherwise=second)

        @case('IF in IF %d' % value)
        def nested(b, value=value):
            cond, other, x = condition(b, value), b.tensor('other', 'bool', ()), b.x((4,))
            b.op('LOGICAL_NOT', [cond], [other])
            g, inner = graph(b, [('float32', (4,))])
            ends(g, 'EXP', g.inputs, 'float32', (4,))
            h, outer = graph(b, [('bool', ()), ('float32', (4,))])
            h.outputs = [h.tensor('r', 'float32', (4,))]
            last, neg = graph(b, [('float32', (4,))])
            ends(last, 'NEG', last.inputs, 'float32', (4,))
            h.op('IF', h.inputs, h.outputs, then=neg, otherwise=inner)
            k, plain = graph(b, [('bool', ()), ('float32', (4,))])
            ends(k, 'ADD', [k.inputs[1], k.constant('one', np.float32([1, 2, 3, 4]))], 'float32', (4,))
            b.op('IF', [cond, other, x], [b.y()], then=outer, otherwise=plain)

    @case('IF of a constant')
    def known(b):
        x = b.x((2, 3))
        g, first = graph(b, [('float32', (2, 3))])
        ends(g, 'ABS', g.inputs, 'float32', (2, 3))
        h, second = graph(b, [('float32', (2, 3))])
        ends(h, 'NEG', h.inputs, 'float32', (2, 3))
        t = b.tensor('t', 'float32', (2, 3))
        b.op('IF', [b.c(1, 'bool'), x], [t], then=first, otherwise=second)
        b.out('IF', [b.c(0, 'bool'), t], 'float32', then=first, otherwise=second)

    for value in (0, 1):
        @case('IF of two shapes %d' % value)
        def shapes_differ(b, value=value):
            cond, x = condition(b, value), b.x((2, 3))
            g, first = graph(b, [('float32', (2, 3))])
            ends(g, 'CONCATENATION', [g.inputs[0], g.inputs[0]], 'float32', (4, 3), axis=0)
            h, second = graph(b, [('float32', (2, 3))])
            ends(h, 'NEG', h.inputs, 'float32', (2, 3))
            b.op('IF', [cond, x], [b.y()], then=first, otherwise=second)

    @case('IF with the same subgraph twice')
    def same(b):
        cond, x = condition(b, 1), b.x((2, 3))
        g, first = graph(b, [('float32', (2, 3))])
        ends(g, 'SIN', [ends(g, 'ADD', [g.inputs[0], g.constant('c', np.float32([[1], [2]]))], 'float32', (2, 3))], 'float32', (2, 3))
        b.op('IF', [cond, x], [b.y(), b.y()], then=first, otherwise=first)

    @case('IF with the same subgraph twice, equal names left over')
    def left_over(b):
        cond, x = condition(b, 1), b.x((2, 3))
        g, first = graph(b, [('float32', (2, 3))])
        ends(g, 'CAST', [ends(g, 'ADD', [g.inputs[0], g.constant('c', np.float32([[1], [2]]))], 'float32', (2, 3))], 'float32', (2, 3),
             in_type='float32', out_type='float32')
        g.outputs = g.outputs[1:] * 2
        b.op('IF', [cond, x], [b.y(), b.y()], then=first, otherwise=first)

    @case('IF of constants with the same subgraph')
    def twice(b):
        x, t = b.x((2, 3)), b.tensor('t', 'float32', (2, 3))
        g, first = graph(b, [('float32', (2, 3))])
        ends(g, 'SIN', [ends(g, 'ADD', [g.inputs[0], g.constant('c', np.float32([[1], [2]]))], 'float32', (2, 3))], 'float32', (2, 3))
        g.outputs = g.outputs[1:]
        b.op('IF', [b.c(1, 'bool'), x], [t], then=first, otherwise=first)
        b.out('IF', [b.c(0, 'bool'), t], 'float32', then=first, otherwise=first)

    def counted(b, kind, shape, trips, op, quant={}, **members):
        """WHILE i < limit: i += 1, x = op(x, c)."""
        i, limit, x = b.x((), 'int32', value=0), b.x((), 'int32', value=trips), b.x(shape, kind, **members)
        kinds = [('int32', ()), ('int32', ()), (kind, shape)]
        g, cond = graph(b, kinds)
        ends(g, 'LESS', g.inputs[:2], 'bool', ())
        h, body = graph(b, kinds)
        for k, (number, entry) in enumerate(((cond, g), (body, h))):
            if quant:
                entry.tensors[2][4] = ('table', {2: ('[f32]', [quant['scale']]), 3: ('[i64]', [quant['zero']])})
        ends(h, 'ADD', [h.inputs[0], h.constant('one', np.int32(1))], 'int32', ())
        h.outputs.append(h.inputs[1])
        op(h, h.inputs[2])
        b.op('WHILE', [i, limit, x], [b.y('int32'), b.y('int32'), b.y(kind)], cond=cond, body=body)
    for trips in (0, 1, 5):
        @case('WHILE %d' % trips)
        def loop(b, trips=trips):
            counted(b, 'float32', (2, 3), trips, lambda g, x: ends(g, 'MUL', [x, g.constant('c', np.float32([1, 2, -0.5]))], 'float32',
                                                                   (2, 3)))

        @case('WHILE int8 %d' % trips)
        def quantized(b, trips=trips):
            quant = {'scale': 0.05, 'zero': -3}
            counted(b, 'int8', (2, 3), trips, lambda g, x: ends(g, 'ADD', [x, x], 'int8', (2, 3), quant=quant), quant)

        @case('WHILE of growing shape %d' % trips)
        def growing(b, trips=trips):
            counted(b, 'float32', (1, 3), trips, lambda g, x: ends(
                g, 'CONCATENATION', [x, g.constant('c', np.float32([[1, 2, 3]]))], 'float32', (1, 3), axis=0))
            b.most = ['y2=9,3']

    @case('WHILE of another rank')
    def deeper(b):
        b.wrong = True
        counted(b, 'float32', (2, 3), 2, lambda g, x: ends(g, 'EXPAND_DIMS', [x, g.constant('a', np.int32(0))], 'float32', (1, 2, 3)))

    @case('WHILE of another type')
    def narrower(b):
        b.wrong = True
        counted(b, 'float32', (2, 3), 2, lambda g, x: ends(g, 'CAST', [x], 'int32', (2, 3), in_type='float32', out_type='int32'))

    @case('IF of other quantization parameters')
    def rescaled(b):
        b.wrong = True
        cond, x = condition(b, 1), b.x((2, 3), 'int8')
        g, first = graph(b, [('int8', (2, 3))], scale=0.05, zero=7)
        ends(g, 'RELU', g.inputs, 'int8', (2, 3), quant={'scale': 0.05, 'zero': -3})
        b.op('IF', [cond, x], [b.y('int8')], then=first, otherwise=first)

    @case('WHILE in WHILE')
    def loops(b):
        i, x = b.x((), 'int32', value=0), b.x((3,))
        kinds = [('int32', ()), ('float32', (3,))]
        g, cond = graph(b, kinds)
        ends(g, 'LESS', [g.inputs[0], g.constant('three', np.int32(3))], 'bool', ())
        k, cond2 = graph(b, kinds)
        ends(k, 'LESS', [k.inputs[0], k.constant('three', np.int32(3))], 'bool', ())
        inner, body2 = graph(b, kinds)
        ends(inner, 'ADD', [inner.inputs[0], inner.constant('one', np.int32(1))], 'int32', ())
        ends(inner, 'COS', [inner.inputs[1]], 'float32', (3,))
        h, body = graph(b, kinds)
        ends(h, 'ADD', [h.inputs[0], h.constant('one', np.int32(1))], 'int32', ())
        h.outputs.append(h.tensor('x', 'float32', (3,)))
        h.op('WHILE', h.inputs, [h.tensor('k', 'int32', ()), h.outputs[1]], cond=cond2, body=body2)
        b.op('WHILE', [i, x], [b.y('int32'), b.y()], cond=cond, body=body)

    @case('WHILE then CALL_ONCE')
    def once(b):
        g, nothing = graph(b, [])
        b.op('CALL_ONCE', [], [], init=nothing)
        counted(b, 'float32', (3,), 2, lambda g, x: ends(g, 'ABS', [x], 'float32', (3,)))

    for regular in (False, True):
        for background in (0, 1):
            for classes, least in ((1, 0.3), (2, 0.3), (1, 0.9)):
                @case('TFLite_Detection_PostProcess%s%s %d %g' % (' regular' * regular, ' background' * background, classes, least))
                def detection(b, regular=regular, background=background, classes=classes, least=least):
                    anchors = np.array([[y, x, 1, 1] for y in (0.5, 1, 3) for x in (0.5, 1, 3)], 'float32')
                    x, scores = b.x((1, 9, 4), low=-1, high=1), b.x((1, 9, 3 + background), low=0, high=1)
                    options = {'max_detections': 4, 'max_classes_per_detection': classes, 'nms_score_threshold': least,
                               'nms_iou_threshold': 0.4, 'num_classes': 3, 'y_scale': 10.0, 'x_scale': 10.0, 'h_scale': 5.0,
                               'w_scale': 5.0, 'use_regular_nms': regular, 'detections_per_class': 2}
                    b.op('CUSTOM', [x, scores, b.c(anchors, 'float32')], [b.y() for _ in range(4)], 1, 'TFLite_Detection_PostProcess',
                         flexbuffer(options, 8 if background else 4, least == 0.9))


def recurrent():
    for major in (False, True):
        for activation in ('TANH', 'RELU', 'NONE'):
            @case('UNIDIRECTIONAL_SEQUENCE_RNN %s%s' % (activation, ' time major' * major))
            def rnn(b, major=major, activation=activation):
                state = b.tensor('h', 'float32', (2, 4), variable=True)
                b.out('UNIDIRECTIONAL_SEQUENCE_RNN', [b.x((5, 2, 3) if major else (2, 5, 3)), b.weight((4, 3), low=-1, high=1),
                                                      b.weight((4, 4), low=-0.5, high=0.5), b.weight((4,)), state], 'float32',
                      time_major=major, activation=activation)
        for merge in (False, True):
            if merge or not major:  # TensorFlow Lite exchanges time and batch in the shape of result 1
                @case('BIDIRECTIONAL_SEQUENCE_RNN%s%s' % (' time major' * major, ' merged' * merge))
                def rnns(b, major=major, merge=merge):
                    inputs = [b.x((5, 2, 3) if major else (2, 5, 3))]
                    for k, hidden in enumerate((4, 2)):
                        inputs += [b.weight((hidden, 3), low=-1, high=1), b.weight((hidden, hidden), low=-0.5, high=0.5),
                                   b.weight((hidden,)), b.tensor('h%d' % k, 'float32', (2, hidden), variable=True)]
                    b.op('BIDIRECTIONAL_SEQUENCE_RNN', inputs + [-1] * 3, [b.y() for _ in range(2 - merge)], time_major=major,
                         merge=merge, activation='TANH')

            @case('BIDIRECTIONAL_SEQUENCE_LSTM%s%s' % (' time major' * major, ' merged' * merge))
            def lstms(b, major=major, merge=merge):
                batch = 1 if merge and not major else 2  # the state of the first one reaches the second one in TensorFlow Lite
                inputs = [b.x((5, batch, 3) if major else (batch, 5, 3))]
                for size in (4, 4):
                    inputs += [b.weight((size, 3)) for _ in range(4)] + [b.weight((size, size), low=-1, high=1) for _ in range(4)]
                    inputs += [-1] * 3 + [b.weight((size,)) for _ in range(4)] + [-1, -1]
                inputs += [b.tensor('s%d' % k, 'float32', (batch, size), variable=True) for k in range(4)]
                b.op('BIDIRECTIONAL_SEQUENCE_LSTM', inputs + [-1] * 9, [b.y() for _ in range(2 - merge)], time_major=major, merge=merge,
                     activation='TANH', cell_clip=0.5)
    @case('UNIDIRECTIONAL_SEQUENCE_RNN, a recurrent weight of one row')
    def one_row(b):
        b.wrong = True
        b.out('UNIDIRECTIONAL_SEQUENCE_RNN', [b.x((2, 5, 3)), b.weight((4, 3)), b.weight((1, 4)), b.weight((4,)),
                                              b.tensor('h', 'float32', (2, 4), variable=True)], 'float32', activation='TANH')

    @case('UNIDIRECTIONAL_SEQUENCE_RNN, a state that is an input')
    def no_variable(b):
        b.wrong = True
        b.out('UNIDIRECTIONAL_SEQUENCE_RNN', [b.x((2, 5, 3)), b.weight((4, 3)), b.weight((4, 4)), b.weight((4,)), b.x((2, 4))], 'float32')

    for at, size in ((10, 1), (13, 1), (3, 1)):
        @case('UNIDIRECTIONAL_SEQUENCE_LSTM, input %d of size %d' % (at, size))
        def odd(b, at=at, size=size):
            b.wrong = True
            inputs = [b.x((2, 5, 3))] + [b.weight((size if k == at else 4, 3)) for k in range(1, 5)]
            inputs += [b.weight((4, 4)) for _ in range(4)] + [b.weight((size if k == at else 4,)) for k in range(9, 16)] + [-1, -1]
            inputs += [b.tensor('s%d' % k, 'float32', (2, 4), variable=True) for k in range(2)] + [-1] * 4
            b.out('UNIDIRECTIONAL_SEQUENCE_LSTM', inputs, 'float32', activation='TANH')
    kinds = {'': {}, ' clipped': {'cell_clip': 0.7}, ' coupled': {}, ' peepholes': {}, ' projection': {'proj_clip': 0.4},
             ' coupled peepholes': {'cell_clip': 1.5}, ' relu': {'activation': 'RELU'}, ' time major': {'time_major': True},
             ' hybrid': {}}
    for kind, options in kinds.items():
        @case('UNIDIRECTIONAL_SEQUENCE_LSTM' + kind)
        def lstm(b, kind=kind, options=options):
            coupled, projection, hidden = 'coupled' in kind, 'projection' in kind, 5
            size = 4 if projection else hidden

            def weights(*shape):
                if 'hybrid' in kind and len(shape) == 2:
                    w = b.random.randint(-127, 128, shape).astype('int8')
                    return b.c(w * np.float32(0.01), 'float32') if b.reference else b.c(w, 'int8', scale=0.01, zero=0)
                return b.weight(shape, low=-1.2, high=1.2)
            gates = [-1 if coupled and k == 0 else 0 for k in range(4)]
            inputs = [b.x((7, 2, 3) if 'major' in kind else (2, 7, 3))]
            inputs += [k or weights(hidden, 3) for k in gates] + [k or weights(hidden, size) for k in gates]
            inputs += [k or weights(hidden) if 'peepholes' in kind else -1 for k in gates[:3]] + [k or weights(hidden) for k in gates]
            inputs += [weights(size, hidden), weights(size)] if projection else [-1, -1]
            inputs += [b.tensor('h', 'float32', (2, size), variable=True), b.tensor('s', 'float32', (2, hidden), variable=True)]
            inputs += [-1] * 4
            b.out('UNIDIRECTIONAL_SEQUENCE_LSTM', inputs, 'float32', **{'activation': 'TANH', **options})

    def state(b, size):
        return b.tensor('state', 'float32', (2, size), variable=True)
    for rank in (1, 2):
        for memory in (1, 4):
            for bias in (False, True):
                @case('SVDF rank %d memory %d%s' % (rank, memory, ' bias' * bias))
                def svdf(b, rank=rank, memory=memory, bias=bias):
                    inputs = [b.x((2, 3)), b.weight((6, 3)), b.weight((6, memory))] + [b.weight((6 // rank,)) if bias else -1]
                    b.out('SVDF', inputs + [state(b, 6 * memory)], 'float32', rank=rank, activation='RELU' if bias else 'NONE')

    @case('SVDF hybrid')
    def hybrid_svdf(b):
        w = [b.random.randint(-127, 128, shape).astype('int8') for shape in ((6, 3), (6, 4))]
        inputs = [b.c(v * np.float32(0.01), 'float32') if b.reference else b.c(v, 'int8', scale=0.01, zero=0) for v in w]
        b.out('SVDF', [b.x((2, 3))] + inputs + [b.weight((3,)), state(b, 24)], 'float32', rank=2, activation='NONE')
    for rank, size, kind in ((4, 24, 'float32'), (0, 24, 'float32'), (2, 20, 'float32'), (2, 24, 'int8')):
        @case('SVDF of rank %d with a state of %d, %s' % (rank, size, kind))
        def wrong_svdf(b, rank=rank, size=size, kind=kind):
            b.wrong = True
            quant = {} if kind == 'float32' else {'scale': 0.1}
            inputs = [b.x((2, 3), kind), b.weight((6, 3), kind), b.weight((6, 4), kind), -1]
            b.out('SVDF', inputs + [b.tensor('state', kind, (2, size), variable=True, **quant)], kind, rank=rank)
    for name in [n for n in CASES if n.startswith(('UNI', 'BI', 'SVDF')) and not n.startswith('SVDF of') and ', ' not in n]:
        @case(name + ', 3 runs')
        def again(b, build=CASES[name]):
            b.runs = 3
            build(b)


def wide():
    """int16 with scale: convolutions and dense layers in integers, other operators in float32."""
    for bias in (False, True):
        for channels in (False, True):
            for activation in ('NONE', 'RELU', 'RELU6'):
                for op in ('CONV_2D', 'DEPTHWISE_CONV_2D', 'FULLY_CONNECTED'):
                    if (op == 'FULLY_CONNECTED' and channels) or (op == 'CONV_2D' and not bias):  # TensorFlow Lite refuses them
                        continue

                    @case('%s int16%s%s %s' % (op, ' bias' * bias, ' per channel' * channels, activation))
                    def sums(b, op=op, bias=bias, channels=channels, activation=activation):
                        dense, each = op == 'FULLY_CONNECTED', op == 'DEPTHWISE_CONV_2D'
                        shape, axis = ((5, 24), 0) if dense else ((1, 3, 3, 4), 3) if each else ((6, 3, 3, 4), 0)
                        scale = list(b.random.uniform(0.005, 0.02, shape[axis])) if channels else 0.01
                        x = b.x16((2, 24) if dense else (1, 5, 6, 4))
                        w = b.c(b.random.randint(-127, 128, shape), 'int8', scale=scale, zero=0, axis=axis)
                        extra = [b.c(b.random.randint(-200000, 200000, shape[axis]), 'int64')] if bias else []
                        members = {} if dense else {'padding': 'SAME', 'stride_w': 1, 'stride_h': 2, **({'multiplier': 1} if each else {})}
                        b.op(op, [x, w] + extra, [b.y16(0.0006, None if bias else 1)], 4,  # without an int64 bias it multiplies by more bits
                             activation=activation, **members)
    for op in ('ADD', 'SUB', 'MUL', 'MAXIMUM', 'MINIMUM'):
        for activation in ('NONE', 'RELU') if op in ('ADD', 'SUB', 'MUL') else ('',):
            @case('%s int16 %s' % (op, activation))
            def two(b, op=op, activation=activation):
                same = not activation
                x, y = b.x16((2, 3, 4)), b.x16((3, 1) if op == 'MUL' else (2, 3, 4), 0.0005 if same else 0.0002)
                members = {} if same else {'activation': activation, **({} if op == 'MUL' else {'pot': False})}
                b.op(op, [x, y], [b.y16(0.0005 if same else 0.0007, 1)], 4, **members)
    for op, scale, units in (('RELU', 0.0005, 1), ('RELU6', 0.0005, 1), ('LEAKY_RELU', 0.0005, 1), ('LOGISTIC', 1 / 32768, 2),
                             ('TANH', 1 / 32768, 2)):
        @case('%s int16' % op)
        def one(b, op=op, scale=scale, units=units):
            b.op(op, [b.x16((3, 40))], [b.y16(scale, units)], 2, **({'alpha': 0.3} if op == 'LEAKY_RELU' else {}))
    for op in ('AVERAGE_POOL_2D', 'MAX_POOL_2D'):
        @case('%s int16' % op)
        def pool(b, op=op):
            b.op(op, [b.x16((1, 7, 8, 3))], [b.y16(units=1)], 3, padding='SAME', stride_h=2, stride_w=1, filter_h=3, filter_w=2)

    @case('SOFTMAX int16')
    def softmax(b):
        b.op('SOFTMAX', [b.x16((3, 7))], [b.y16(1 / 32768, 3)], 3, beta=1.0)

    @case('MEAN int16')
    def mean(b):
        b.op('MEAN', [b.x16((2, 5, 4)), b.c([1])], [b.y16(0.0003, 1)], 2, keep_dims=True)

    @case('BATCH_MATMUL int16')
    def matmul(b):
        b.op('BATCH_MATMUL', [b.x16((2, 3, 8)), b.x16((2, 8, 4))], [b.y16(0.002, 1)], 3, adj_x=False, adj_y=False)
    for op, shape, constants, members in (
            ('RESHAPE', (2, 6), [[3, 4]], {}), ('TRANSPOSE', (2, 6), [[1, 0]], {}), ('SQUEEZE', (1, 6), [], {'squeeze_dims': [0]}),
            ('EXPAND_DIMS', (2, 6), [1], {}), ('STRIDED_SLICE', (4, 6), [[0, 1], [4, 5], [2, 1]], {}),
            ('SLICE', (4, 6), [[1, 2], [2, 3]], {}), ('GATHER', (4, 6), [[3, 0]], {'axis': 0}), ('PAD', (2, 3), [[[1, 0], [0, 2]]], {})):
        @case('%s int16' % op)
        def moves(b, op=op, shape=shape, constants=constants, members=members):
            b.op(op, [b.x16(shape)] + [b.c(value) for value in constants], [b.y16()],
                 {'GATHER': 5, 'RESHAPE': 1, 'SQUEEZE': 1, 'EXPAND_DIMS': 1}.get(op, 4), **members)

    @case('SPLIT and PACK int16')
    def split(b):
        halves = [b.tensor('h%d' % k, 'int16', (2, 3), scale=0.0005) for k in range(2)]
        b.op('SPLIT', [b.c(1), b.x16((2, 6))], halves, 4, num_splits=2)
        b.op('PACK', halves, [b.y16()], 3, values_count=2, axis=1)

    @case('UNPACK and CONCATENATION int16')
    def unpack(b):
        rows = [b.tensor('r%d' % k, 'int16', (6,), scale=0.0005) for k in range(2)]
        b.op('UNPACK', [b.x16((2, 6))], rows, 4, num=2, axis=0)
        b.op('CONCATENATION', rows[::-1], [b.y16()], 3, axis=0)

    @case('CONCATENATION int16 of other scales')
    def other(b):
        b.op('CONCATENATION', [b.x16((2, 3)), b.x16((2, 3), 0.0007)], [b.y16()], 3, axis=0)

    @case('QUANTIZE int16 to int8')
    def narrower(b):
        b.op('QUANTIZE', [b.x16((3, 40))], [b.y('int8')], 2)

    @case('EXP int16')
    def none(b):
        b.wrong = True
        b.op('EXP', [b.x16((3, 4))], [b.y16()], 1)


def variables():
    """Variables: VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, with initial values of CALL_ONCE."""
    def handle(g, name):
        t = g.tensor(name, 'resource', ())
        g.op('VAR_HANDLE', [], [t], shared_name=name)
        return t

    def initial(b, values, **quant):
        g = b.subgraph()
        for name, value in values.items():
            g.op('ASSIGN_VARIABLE', [handle(g, name), g.constant('initial ' + name, value, **quant)], [])
        b.op('CALL_ONCE', [], [], init=len(b.graphs) - 1)

    def read(b, h, kind, shape, **quant):
        t = b.tensor('t%d' % len(b.tensors), kind, shape, **quant)
        b.op('READ_VARIABLE', [h], [t])
        return t

    def sum_of(b, runs, kind, value, **quant):
        """The result is the sum of the inputs so far."""
        b.runs = runs
        initial(b, {'total': np.broadcast_to(np.asarray(value, kind), (2, 3)).copy()}, **quant)
        h, x = handle(b, 'total'), b.x((2, 3), kind)
        y = b.y(kind, quant.get('scale'), quant.get('zero'))
        b.op('ADD', [read(b, h, kind, (2, 3), **quant), x], [y], version=2)
        b.op('ASSIGN_VARIABLE', [h, y], [])
    for runs in (1, 2, 3):
        for value in (0, 5):
            for kind, quant in (('float32', {}), ('int32', {}), ('int8', {'scale': 0.05, 'zero': -3})):
                @case('ASSIGN_VARIABLE sum, %s from %d, %d runs' % (kind, value, runs))
                def total(b, runs=runs, value=value, kind=kind, quant=quant):
                    sum_of(b, runs, kind, value, **quant)

    @case('ASSIGN_VARIABLE from the zero point, 3 runs')
    def zero_point(b):
        sum_of(b, 3, 'int8', -3, scale=0.05, zero=-3)

    @case('READ_VARIABLE that nothing assigns')
    def constant(b):
        b.runs = 2
        initial(b, {'w': b.draw((4, 3), 'float32')})
        b.out('FULLY_CONNECTED', [b.x((2, 3)), read(b, handle(b, 'w'), 'float32', (4, 3)), -1], 'float32')

    @case('READ_VARIABLE of two, before and after, 3 runs')
    def two(b):
        b.runs = 3
        initial(b, {'a': np.float32([1, 2]), 'b': np.float32([0, 0])})
        x, first, second = b.x((2,)), handle(b, 'a'), handle(b, 'b')
        old = read(b, first, 'float32', (2,))
        b.op('ASSIGN_VARIABLE', [second, old], [])  # b: the last a
        new = b.tensor('new', 'float32', (2,))
        b.op('MUL', [old, x], [new])
        b.op('ASSIGN_VARIABLE', [handle(b, 'a'), new], [])
        b.out('SUB', [read(b, first, 'float32', (2,)), read(b, second, 'float32', (2,))], 'float32')
        b.out('ADD', [read(b, second, 'float32', (2,)), old], 'float32')

    @case('ASSIGN_VARIABLE in a ring, 4 runs')
    def ring(b):
        b.runs = 4
        initial(b, {n: np.float32([k, k]) for k, n in enumerate('abc')})
        h = {n: handle(b, n) for n in 'abc'}
        t = {n: read(b, h[n], 'float32', (2,)) for n in 'abc'}
        for n, m in zip('abc', 'bca'):
            b.op('ASSIGN_VARIABLE', [h[n], t[m]], [])
        b.out('ADD', [t['a'], b.x((2,))], 'float32')

    @case('ASSIGN_VARIABLE without an initial value')
    def late(b):
        h, x = handle(b, 'a'), b.x((2,))
        b.op('ASSIGN_VARIABLE', [h, x], [])
        b.out('ADD', [read(b, h, 'float32', (2,)), x], 'float32')

    @case('READ_VARIABLE without an initial value')
    def early(b):
        b.wrong = True
        h, x = handle(b, 'a'), b.x((2,))
        b.out('ADD', [read(b, h, 'float32', (2,)), x], 'float32')
        b.op('ASSIGN_VARIABLE', [h, x], [])

    @case('ASSIGN_VARIABLE of another shape')
    def resized(b):
        b.wrong = True
        initial(b, {'a': np.float32([1, 2])})
        h, x = handle(b, 'a'), b.x((3,))
        b.out('ABS', [read(b, h, 'float32', (2,))], 'float32')
        b.op('ASSIGN_VARIABLE', [h, x], [])

    @case('ASSIGN_VARIABLE in IF')
    def inside(b):
        initial(b, {'a': np.float32([1, 2])})
        x, y, cond = b.x((2,)), b.x((2,)), b.tensor('cond', 'bool', ())
        low = b.tensor('low', 'float32', ())
        b.op('MEAN', [x, b.c([0])], [low], keep_dims=False)
        b.op('GREATER', [low, b.c(-9, 'float32')], [cond])
        g = b.subgraph()
        g.inputs = [g.tensor('u', 'float32', (2,))]
        g.op('ASSIGN_VARIABLE', [handle(g, 'a'), g.inputs[0]], [])
        g.outputs = [g.tensor('v', 'float32', (2,))]
        g.op('NEG', g.inputs, g.outputs)
        b.out('IF', [cond, y], 'float32', then=len(b.graphs) - 1, otherwise=len(b.graphs) - 1)
        b.out('ABS', [read(b, handle(b, 'a'), 'float32', (2,))], 'float32')


def spectra():
    """RFFT2D, and the operators that read complex values."""
    for shape, size in (((4, 8), (4, 8)), ((2, 3, 1, 16), (1, 16)), ((3, 5), (4, 8)), ((2, 8, 9), (4, 8)), ((2, 1, 6), (2, 4))):
        for op in ('COMPLEX_ABS', 'REAL', 'IMAG'):
            @case('RFFT2D %s to %s %s' % (shape, size, op))
            def spectrum(b, shape=shape, size=size, op=op):
                t = b.tensor('spectrum', 'complex64', shape[:-2] + (size[0], size[1] // 2 + 1))
                b.op('RFFT2D', [b.x(shape), b.c(size)], [t])
                b.out(op, [t], 'float32')
    for op, members in (('RESHAPE', {}), ('SQUEEZE', {'squeeze_dims': [-2]}), ('SQUEEZE', {'squeeze_dims': [1, 0]}), ('SQUEEZE', {})):
        @case('RFFT2D and %s %s' % (op, members.get('squeeze_dims', '')))
        def squeezed(b, op=op, members=members):
            t, u = b.tensor('t', 'complex64', (1, 1, 9)), b.tensor('u', 'complex64', (1, 9))
            b.op('RFFT2D', [b.x((1, 1, 16)), b.c([1, 16])], [t])
            b.op(op, [t] + ([b.c([3, -1])] if op == 'RESHAPE' else []), [u], **members)
            b.out('COMPLEX_ABS', [u], 'float32')

    @case('RFFT2D as an output')
    def output(b):
        b.wrong = True
        b.outputs.append(b.tensor('y0', 'complex64', (4, 5)))
        b.op('RFFT2D', [b.x((4, 8)), b.c([4, 8])], [b.outputs[-1]])

    @case('RFFT2D and TRANSPOSE')
    def moved(b):
        b.wrong = True
        t, u = b.tensor('t', 'complex64', (4, 5)), b.tensor('u', 'complex64', (5, 4))
        b.op('RFFT2D', [b.x((4, 8)), b.c([4, 8])], [t])
        b.op('TRANSPOSE', [t, b.c([1, 0])], [u])
        b.out('REAL', [u], 'float32')


def mediapipe():
    """Custom operators of MediaPipe, as numpy computes them."""
    def options(padding, stride, kernel, activation=0):
        return np.int32([1 + (padding == 'VALID'), stride[1], stride[0], kernel[1], kernel[0], activation, 0, 0, 0, 0]).tobytes()
    for padding in ('SAME', 'VALID'):
        for stride, kernel in (((2, 2), (2, 2)), ((1, 2), (3, 2)), ((3, 2), (2, 5))):
            @case('MaxPoolingWithArgmax2D %s %s %s' % (padding, stride, kernel))
            def pool(b, padding=padding, stride=stride, kernel=kernel):
                x = b.x((2, 7, 8, 3))
                b.op('CUSTOM', [x], [b.y(), b.y()], 1, 'MaxPoolingWithArgmax2D', options(padding, stride, kernel, 1))
                value, same = b.values[0], padding == 'SAME'
                size = [-(-n // s) if same else (n - k + s) // s for n, s, k in zip((7, 8), stride, kernel)]
                pads = [max((o - 1) * s + k - n, 0) // 2 * same for o, s, k, n in zip(size, stride, kernel, (7, 8))]
                padded = np.full((2, 40, 40, 3), -np.inf, 'float32')
                padded[:, pads[0]:pads[0] + 7, pads[1]:pads[1] + 8] = value
                y, at = np.zeros((2, *size, 3), 'float32'), np.zeros((2, *size, 3), 'float32')
                for p in range(size[0]):
                    for q in range(size[1]):
                        window = padded[:, p * stride[0]:p * stride[0] + kernel[0], q * stride[1]:q * stride[1] + kernel[1]]
                        window = window.reshape(2, -1, 3)
                        y[:, p, q], at[:, p, q] = np.maximum(window.max(1), 0), window.argmax(1) + np.float32(0.1)
                b.define(y, at)
    for stride, kernel in (((2, 2), (2, 2)), ((3, 2), (3, 2)), ((1, 2), (2, 3))):
        @case('MaxUnpooling2D %s %s' % (stride, kernel))
        def unpool(b, stride=stride, kernel=kernel):
            x, places = b.x((2, 3, 4, 5)), b.random.randint(0, kernel[0] * kernel[1], (2, 3, 4, 5))
            at = b.x(None, value=(places + 0.1).astype('float32'))
            b.op('CUSTOM', [x, at], [b.y()], 1, 'MaxUnpooling2D', options('SAME', stride, kernel))
            y = np.zeros((2, 3 * kernel[0], 4 * kernel[1], 5), 'float32')
            for n, p, q, c in np.ndindex(2, 3, 4, 5):
                y[n, p * stride[0] + places[n, p, q, c] // kernel[1], q * stride[1] + places[n, p, q, c] % kernel[1], c] = b.values[0][n, p, q, c]
            b.define(y)
    for name, stride, kernel in (('MaxUnpooling2D', (3, 2), (2, 2)), ('MaxPoolingWithArgmax2D', (0, 1), (2, 2))):
        @case('%s %s above %s' % (name, stride, kernel))
        def refused(b, name=name, stride=stride, kernel=kernel):
            b.wrong = True
            inputs = [b.x((1, 4, 4, 1)) for _ in range(2 if name == 'MaxUnpooling2D' else 1)]
            b.op('CUSTOM', inputs, [b.y() for _ in range(3 - len(inputs))], 1, name, options('SAME', stride, kernel))


def corners():
    """Negative axes, broadcasts, ranks and options that the cases above leave out."""
    def one(name, op, inputs, constants=(), kind='float32', version=2, order=None, **members):
        @case('%s, %s' % (op, name))
        def build(b):
            operands = [b.x(shape, kind) for shape in inputs] + [b.c(*c) if isinstance(c, tuple) else b.c(c) for c in constants]
            b.out(op, [operands[k] for k in order] if order else operands, kind, version=version, **members)
    one('broadcast of both', 'MUL', [(2, 1, 4), (1, 3, 1)])
    one('broadcast of both', 'SUB', [(2, 1, 4), (1, 3, 1)], kind='int8')
    one('broadcast of ranks', 'MAXIMUM', [(3, 1), (2, 3, 4)], kind='int32')
    one('axis -2', 'CONCATENATION', [(2, 1, 3), (2, 4, 3)], axis=-2)
    one('axis -1', 'PACK', [(2, 3), (2, 3)], axis=-1, values_count=2)
    one('axis -1', 'EXPAND_DIMS', [(3, 4)], [-1], version=1)
    one('axis -3', 'EXPAND_DIMS', [(3, 4)], [-3], version=1)
    one('axis -2', 'SQUEEZE', [(1, 3, 1, 4)], squeeze_dims=[-2])
    one('axis 0', 'ONE_HOT', [], [[1, 0, 5], 4, (3.5, 'float32'), (1.5, 'float32')], version=1, axis=0)
    one('axis 0', 'CUMSUM', [(3, 4)], [0], version=1)
    one('axis -2', 'CUMSUM', [(3, 4)], [-2], version=1, exclusive=True, reverse=True)
    one('a scalar index', 'GATHER', [(4, 5)], [2], axis=1)
    one('indices of int64', 'GATHER', [(4, 5)], [([3, 0], 'int64')], axis=0)
    one('new axes', 'STRIDED_SLICE', [(4, 5)], [[0, 1, 0], [0, 4, 0], [1, 2, 1]], new_axis_mask=1, begin_mask=4, end_mask=4)
    one('negative ends', 'STRIDED_SLICE', [(6, 5)], [[-2, -9], [-7, -1], [-2, 1]])
    one('a scalar', 'RESHAPE', [(1, 1)], [np.zeros(0, 'int32')], version=1)
    one('rank 1', 'SOFTMAX', [(7,)], beta=1.0)
    one('rank 4', 'LOG_SOFTMAX', [(2, 3, 2, 5)])
    one('rank 4', 'L2_NORMALIZATION', [(1, 2, 3, 5)], activation='NONE')
    one('slopes [5]', 'PRELU', [(1, 3, 4, 5)], [([0.1, 0.2, -0.3, 0.4, 2], 'float32')], version=1)
    one('one slope', 'PRELU', [(1, 3, 4, 5)], [([[[0.25]]], 'float32')], version=1)
    one('rank 1', 'FULLY_CONNECTED', [(8,)], [(np.arange(40).reshape(5, 8) / 40, 'float32')], version=1)
    one('no fixed rows', 'FULLY_CONNECTED', [(4, 2, 2)], [(np.arange(40).reshape(5, 8) / 40, 'float32')], version=1)
    one('broadcast batches', 'BATCH_MATMUL', [(2, 1, 3, 4), (5, 4, 2)], adj_x=False, adj_y=False)
    one('adjoint of the first', 'BATCH_MATMUL', [(2, 4, 3), (2, 4, 5)], adj_x=True, adj_y=False)
    one('both adjoint', 'BATCH_MATMUL', [(4, 3), (5, 4)], adj_x=True, adj_y=True)
    one('groups', 'CONV_2D', [(1, 5, 6, 4)], [(np.sin(np.arange(6 * 3 * 3 * 2)).reshape(6, 3, 3, 2), 'float32'), (np.arange(6), 'float32')],
        padding='SAME', stride_h=2, stride_w=1)
    one('dilated', 'DEPTHWISE_CONV_2D', [(1, 9, 8, 2)], [(np.sin(np.arange(36)).reshape(1, 3, 3, 4), 'float32'), (np.arange(4), 'float32')],
        padding='SAME', stride_h=1, stride_w=1, dilation_h=2, dilation_w=3, multiplier=2)
    one('stride above the filter', 'AVERAGE_POOL_2D', [(1, 7, 8, 3)], padding='SAME', stride_h=3, stride_w=3, filter_h=2, filter_w=2)
    one('filter above the image', 'MAX_POOL_2D', [(1, 3, 2, 3)], padding='SAME', stride_h=1, stride_w=2, filter_h=7, filter_w=5)
    for padding, size in (('SAME', (8, 11)), ('VALID', (8, 11))):
        one('filter below the stride, %s' % padding, 'TRANSPOSE_CONV', [(1, 3, 4, 2)],
            [[1, *size, 3], (np.sin(np.arange(24)).reshape(3, 2, 2, 2), 'float32'), (np.arange(3), 'float32')], version=3,
            order=[1, 2, 0, 3], padding=padding, stride_h=3, stride_w=3)
    one('no bias', 'TRANSPOSE_CONV', [(1, 3, 4, 2)], [[1, 6, 7, 3], (np.sin(np.arange(54)).reshape(3, 3, 3, 2), 'float32')], version=1,
        order=[1, 2, 0], padding='SAME', stride_h=2, stride_w=2)
    one('rank 3', 'SPACE_TO_BATCH_ND', [(2, 6, 3)], [[3], [[0, 0]]])
    one('a condition of one element', 'SELECT_V2', [(4,), (4,)], [([1], 'bool')], version=1, order=[2, 0, 1])
    one('a scalar condition', 'SELECT', [(3, 4), (3, 4)], [(0, 'bool')], version=1, order=[2, 0, 1])
    one('negative', 'MEAN', [(2, 3, 4)], [-2], keep_dims=True)
    one('a scalar axis', 'REDUCE_MAX', [(2, 3, 4)], [1], keep_dims=False)
    one('of rank 1', 'TILE', [(3,)], [([2], 'int64')])
    one('to a higher rank', 'BROADCAST_TO', [(3, 1)], [[2, 3, 4]])
    one('no stride', 'RESIZE_NEAREST_NEIGHBOR', [(1, 3, 3, 2)], [[6, 6]], kind='uint8', half_pixel_centers=True, version=3)
    for kind in ('int8', 'uint8'):
        one('a broadcast condition, %s' % kind, 'SELECT_V2', [(2, 3), (2, 3)], [([[1], [0]], 'bool')], kind=kind, version=1, order=[2, 0, 1])


windows()
shapes()
hybrid()
control()
recurrent()
wide()
variables()
spectra()
mediapipe()
corners()

# Cases, by the beginning of their names, in which 8-bit results may differ from TensorFlow Lite by one unit, and why. One case
# of each must differ.
ONE = {
    'CONV_2D per channel': 'TensorFlow Lite rounds the product of scales once, the bits of docs/quantization.md have two roundings',
    'DIV uint8 RELU': 'TensorFlow Lite shifts the dividend 0 right by 32 bits, in 32 bits, which gives 1; here 0 / x is 0',
    'MEAN uint8': 'TensorFlow Lite has another form of the mean of uint8',
    'SUM uint8': 'TensorFlow Lite has another form of the sum of uint8',
    'RESIZE_BILINEAR uint8': 'TensorFlow Lite interpolates uint8 in float32, here in integers as int8',
}
# Models that NNRT refuses and TensorFlow Lite runs, by the beginning of their names, and why.
REFUSED = {
    'MEAN axes [0, 0]': 'an axis is named twice',
    'RESIZE_BILINEAR to (1, 1) half_pixel': 'RESIZE takes the first element where the size is 1',
    'RESIZE_NEAREST_NEIGHBOR to (1, 1) half_pixel': 'RESIZE takes the first element where the size is 1',
    'MEAN int32': 'REDUCE_FUSION has no mean of integers',
    'MEAN int64': 'REDUCE_FUSION has no mean of integers',
    'REDUCE_PROD int8': 'TensorFlow Lite rounds after each factor, the runtime once: other results',
    'ARG_MAX bool': 'ARGMAX_FUSION has no bool',
    'ARG_MIN bool': 'ARGMIN_FUSION has no bool',
    'SCATTER_ND bool': 'SCATTER_ND has no sum of bools',
    'SPACE_TO_BATCH_ND, rank 3': 'SPACE_TO_BATCH_ND has 4 axes',
    'FULLY_CONNECTED hybrid, uint8': 'TensorFlow Lite reads the bytes as int8 and ignores the zero point, for files of 2018',
    'IF of other quantization': 'TensorFlow Lite copies the integers, so that the real values change',
    'WHILE of another rank': 'the values of LOOP have one rank',
    'SPLIT other scale': 'TensorFlow Lite copies the integers, so that the real values change',
    'CONCATENATION int16 of other scales': 'TensorFlow Lite copies the integers, so that the real values change',
    'ASSIGN_VARIABLE in IF': 'a state is an output of the main graph',
    'ASSIGN_VARIABLE of another shape': 'a state has one shape',
}
# Nodes that no imported model of these tests has, and why.
WIDENED = {'CAST', 'QUANT_DTYPE_CAST', 'QUANT_DTYPE_CAST_V2'}
SIZES = {'SHAPE', 'CONCAT'}
UNSEEN = {
    'CONV_2D': (WIDENED - {'QUANT_DTYPE_CAST'}, 'of constants, which constant folding computes'),
    'DEPTHWISE_CONV_2D': (WIDENED - {'QUANT_DTYPE_CAST'}, 'of constants, which constant folding computes'),
    'FULLY_CONNECTED': (WIDENED - {'QUANT_DTYPE_CAST'}, 'of constants, which constant folding computes'),
    'BATCH_MATMUL': (WIDENED - {'QUANT_DTYPE_CAST'}, 'of constants, which constant folding computes'),
    'EMBEDDING_LOOKUP': ({'QUANT_DTYPE_CAST_V2'}, 'of constants, which constant folding computes'),
    'BIDIRECTIONAL_SEQUENCE_RNN': (WIDENED | SIZES - {'CONCAT'}, 'of constants, and of static shapes'),
    'BIDIRECTIONAL_SEQUENCE_LSTM': (WIDENED | SIZES - {'CONCAT'} | {'SUB_FUSION'}, 'of constants, and of static shapes'),
    'UNIDIRECTIONAL_SEQUENCE_RNN': (WIDENED | SIZES, 'of constants, and of static shapes'),
    'UNIDIRECTIONAL_SEQUENCE_LSTM': (WIDENED | SIZES, 'of constants, and of static shapes'),
    'SVDF': (WIDENED, 'of constants, which constant folding computes'),
    'MaxUnpooling2D': ({'FILL'}, 'of constants, which constant folding computes'),
    'DEQUANTIZE': ({'CAST', 'QUANT_DTYPE_CAST_V2'}, 'of constants, which constant folding computes'),
    'QUANTIZE': ({'QUANT_DTYPE_CAST_V2'}, 'of constants, which constant folding computes'),
    'SHAPE': ({'SHAPE'}, 'constant folding computes it'),
    'RANK': ({'RANK'}, 'constant folding computes it'),
    'RANGE': ({'RANGE'}, 'of constants, which constant folding computes'),
    'CONCATENATION': ({'ACTIVATION'}, 'TensorFlow Lite refuses activations'),
    'TRANSPOSE_CONV': ({'ACTIVATION'}, 'newer than the package that the tests compare with'),
}
TYPES = {'float32': '<f4', 'int32': '<i4', 'int8': 'i1', 'uint8': 'u1'}


def model(name, reference=False, cases=CASES):
    """The model of a case, a Builder."""
    b = Builder(name, reference)
    cases[name](b)
    b.finish()
    return b


def write_models(folder, names, dynamic=False, cases=CASES):
    """Writes models and inputs. dynamic: with one more operator, whose result has a dynamic shape: TensorFlow Lite then
    computes all of the model with its own kernels, not with XNNPACK's, which round differently."""
    for k, name in enumerate(names):
        b = model(name, dynamic, cases)
        if dynamic:
            b.op('RESHAPE', [b.x((4,)), b.x((2,), 'int32', value=[2, 2])], [b.y()])
        with open(os.path.join(folder, '%d.tflite' % k), 'wb') as f:
            f.write(b.bytes())
        for i, value in enumerate(b.values):
            value.tofile(os.path.join(folder, '%d_%d.bin' % (k, i)))
            np.save(os.path.join(folder, '%d_%d.npy' % (k, i)), value)
        yield k, name, b


def parse(text):
    """[(type, shape, array)] of a line's results, or the reason of a refusal."""
    if text.startswith('-'):
        return text
    results = []
    for part in text.split('; '):
        kind, shape, data = part.split(' ')
        shape = [int(n) for n in shape.split(',')] if shape != '-' else []
        results.append(np.frombuffer(bytes.fromhex('' if data == '-' else data), TYPES[kind]).reshape(shape))
    return results


def run_tflite(modules, cases=CASES):
    """{name: line of a table}: the results of TensorFlow Lite."""
    names = sorted(cases)
    with tempfile.TemporaryDirectory() as folder:
        lines = [' '.join(['%d*%s/%d.tflite' % (b.runs, folder, k)] + ['%s/%d_%d.bin' % (folder, k, i) for i in range(len(b.values))])
                 for k, _, b in write_models(folder, names, True, cases)]
        with open(os.path.join(folder, 'list'), 'w') as f:
            f.write('\n'.join(lines) + '\n')
        done = subprocess.run(['node', os.path.join(HERE, '../compare/tflite.cjs'), modules, f.name], check=True, capture_output=True,
                              text=True)
    results = done.stdout.strip('\n').split('\n')
    assert len(results) == len(names), (len(results), len(names), done.stderr)
    results = [r.strip() if r.startswith('-') else r.rsplit('; ', 1)[0] for r in results]
    return dict(zip(names, results))


def compare(got, expected, allowed=False, bound=None):
    """None, or the difference; 'one' if 8-bit elements differ by one unit and that is allowed. bound: of differences of floats."""
    one = False
    if len(got) != len(expected):
        return '%d results, expected %d' % (len(got), len(expected))
    for y, want in zip(got, expected):
        if y.dtype != want.dtype or y.shape != want.shape:
            return '%s%s, expected %s%s' % (y.dtype, list(y.shape), want.dtype, list(want.shape))
        if y.size == 0:
            continue
        if y.dtype == np.float32:
            worst = np.max(np.abs(y.astype(float) - want))
            if not worst <= (1e-5 * np.max(np.abs(want)) if bound is None else bound):
                return 'differs by %g, largest magnitude %g' % (worst, np.max(np.abs(want)))
            continue
        worst = np.max(np.abs(y.astype(np.int64) - want))
        if worst > (1 if y.itemsize == 1 and allowed else 0):
            return 'differs by %d in %d of %d elements' % (worst, np.sum(y != want), y.size)
        one = one or worst == 1
    return 'one' if one else None


def read_table(path):
    """{name: results} of a file of --write."""
    with open(path) as f:
        return dict(line.rstrip('\n').split('\t') for line in f if not line.startswith('#'))


def check_table(path, modules, cases, write, program):
    """Compares a table with TensorFlow Lite, or writes it. Returns the exit status."""
    with open(os.path.join(modules, PACKAGE, 'package.json')) as f:
        version = f.read().split('"version": "')[1].split('"')[0]
    results = run_tflite(modules, cases)
    text = '# results of TensorFlow Lite (npm %s %s, WebAssembly), written by %s --write\n' % (PACKAGE, version, program)
    text += ''.join('%s\t%s\n' % (name, results[name].strip()) for name in sorted(results))
    if write:
        with open(path, 'w') as f:
            f.write(text)
    with open(path) as f:
        same = f.read() == text
    print('%d passed, %d failed' % ((len(results), 0) if same else (0, 1)))
    return 0 if same else 1


class Becomes:
    """The column of the operators that each operator of TensorFlow Lite becomes (nnrt ops --tflite) and the imported models."""

    def __init__(self, nnrt):
        self.nnrt, self.seen = nnrt, collections.defaultdict(set)
        done = subprocess.run([nnrt, 'ops', '--tflite', '--json'], check=True, capture_output=True, text=True)
        self.column = {(o['number'], o['name'] if o['number'] == 32 else None): (o['name'], set(o['becomes'].split()))
                       for o in json.loads(done.stdout)['operators'] if o['versions']}

    def check(self, path, b):
        """None, or the nodes of the model that no operator of it may become."""
        out = path + '.nnrt'
        subprocess.run([self.nnrt, 'convert', path, out, '--no-optimize'], check=True, capture_output=True)
        bounds = [a for most in b.most for a in ('--max', most)]
        done = subprocess.run([self.nnrt, 'info', out, '--device', 'reference', '--json', *bounds], check=True, capture_output=True,
                              text=True)
        nodes = set(json.loads(done.stdout)['operators'])
        allowed = set().union(*(self.column.get((code, custom), ('', set()))[1] for code, _, custom in b.codes))
        for code, _, custom in b.codes:
            self.seen[code, custom] |= nodes
        extra = nodes - allowed - {'ASSIGN'}  # of an output that is a constant or an input
        return 'has nodes %s, the table has %s' % (' '.join(sorted(extra)), ' '.join(sorted(allowed))) if extra else None

    def unseen(self):
        """Entries of the table without a model."""
        left = {name: becomes - self.seen[code] - {'NONE'} for code, (name, becomes) in self.column.items()}
        return {name: names for name, names in left.items() if names != UNSEEN.get(name, (set(),))[0]}


def hostile(nnrt):
    """None, or why a file of 15 subgraphs that each run the next one twice, 32768 operators in all, is not refused at once."""
    m = Model()
    m.inputs = [m.tensor('cond', 'bool', ()), m.tensor('x', 'float32', (2,))]
    graphs = [m] + [m.subgraph() for _ in range(14)]
    for k, g in enumerate(graphs):
        g.inputs = g.inputs or [g.tensor('cond', 'bool', ()), g.tensor('x', 'float32', (2,))]
        g.outputs = [g.tensor('y', 'float32', (2,))]
        if k == 14:
            g.op('ABS', g.inputs[1:], g.outputs)
        else:
            g.op('IF', g.inputs[:1] + g.inputs, g.outputs, then=k + 1, otherwise=k + 1)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'x.tflite'), 'wb') as f:
            f.write(m.bytes())
        done = subprocess.run([nnrt, 'info', f.name, '--device', 'reference'], capture_output=True, text=True, timeout=60)
    return None if done.returncode == 1 and 'limit' in done.stderr else done.stderr[-300:] or 'it was read'


def described(nnrt):
    """None, or which metadata of a quantized model are wrong. Compressed labels, and a divisor 0, are left out."""
    wrong = []
    for method, std in ((zipfile.ZIP_STORED, [2, 2.5, 0.125]), (zipfile.ZIP_DEFLATED, [0])):
        m = Model()
        m.inputs, m.outputs = [m.tensor('x', 'int8', (1, 2, 2, 3), scale=0.1)], [m.tensor('y', 'int8', (1, 2, 2, 3), scale=0.1)]
        m.op('RELU', m.inputs, m.outputs)
        m.describe(metadata([{'mean': [1, 127.5, 3], 'std': std, 'color': 2}], [{'labels': 'l.txt'}]))
        want = {'input.x.color': 'gray'}
        if method == zipfile.ZIP_STORED:
            want.update({'input.x.mean': '1,127.5,3', 'input.x.std': '2,2.5,0.125', 'input.x.quantize': 'yes', 'labels.y': 'a\nb\nc'})
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'x.tflite'), 'wb') as f:
                f.write(with_files(m.bytes(), {'l.txt': 'a\r\nb\nc\n', 'other.txt': 'z'}, method))
            done = subprocess.run([nnrt, 'info', f.name, '--json', '--device', 'reference'], check=True, capture_output=True, text=True)
        got = json.loads(done.stdout)['metadata']
        wrong += [] if got == want else ['%s, expected %s' % (got, want)]
    return '; '.join(wrong)


def test(nnrt, only, shipped=None):
    """shipped: NNRT without sanitizers, for questions whose answers do not depend on them."""
    counts = {'exact or within 1e-5': 0, 'within one unit': 0, 'refused as TensorFlow Lite': 0, 'refused': 0, 'more than TensorFlow Lite': 0}
    failed = 0
    expected = read_table(TABLE)
    if sorted(expected) != sorted(CASES):
        print('FAIL tests/formats/tflite.txt has other cases: write it again')
        failed += 1
    names = [name for name in sorted(CASES) if only in name and name in expected]
    becomes, differs = Becomes(shipped or nnrt), set()
    with tempfile.TemporaryDirectory() as folder:
        for k, name, b in write_models(folder, names):
            inputs = [a for i in range(len(b.values)) for a in ('--input', 'x%d=%s/%d_%d.npy' % (i, folder, k, i))]
            inputs += [a for most in b.most for a in ('--max', most)]
            done = subprocess.run([nnrt, 'run', '%s/%d.tflite' % (folder, k), *inputs, '--device', 'reference', '--reps', str(b.runs), '--output-dir',
                                   '%s/%d' % (folder, k)], capture_output=True, text=True)
            want = parse(expected[name])
            if done.returncode != 0:
                if isinstance(want, str) or name.startswith(tuple(REFUSED)):
                    counts['refused as TensorFlow Lite' if isinstance(want, str) else 'refused'] += 1
                    continue
                problem = done.stderr.strip()[-300:]
            elif name.startswith(tuple(REFUSED)) and not isinstance(want, str):
                problem = 'is not refused: remove it from REFUSED'
            elif b.wrong:
                problem = 'is not refused'
            elif isinstance(want, str) and b.defined is None:
                problem = becomes.check('%s/%d.tflite' % (folder, k), b)
                if problem is None:
                    counts['more than TensorFlow Lite'] += 1
                    continue
            else:
                got = [np.load('%s/%d/y%d.npy' % (folder, k, i)) for i in range(len(b.outputs))]
                allowed = name.startswith(tuple(ONE))
                problem = None if isinstance(want, str) else compare(got, want, allowed, b.bound)
                if b.defined is not None and problem is None:
                    problem = compare(got, [y.astype(z.dtype) for y, z in zip(b.defined, got)], allowed)
                differs |= {entry for entry in ONE if problem == 'one' and name.startswith(entry)}
                if problem in (None, 'one'):
                    problem = becomes.check('%s/%d.tflite' % (folder, k), b) or problem
            if problem is None or problem == 'one':
                counts['within one unit' if problem else 'exact or within 1e-5'] += 1
                continue
            print('FAIL %s: %s' % (name, problem))
            failed += 1
    for what, wrong in (('never differ by one unit', set(ONE) - differs), ('nested subgraphs', hostile(nnrt)), ('metadata', described(nnrt)),
                        ('the nodes that no model has are not those of UNSEEN', becomes.unseen())):
        if wrong and only == '':
            print('FAIL %s: %s' % (what, wrong))
            failed += 1
    print(', '.join('%d %s' % (n, what) for what, n in counts.items()))
    skipped = counts['refused'] + counts['more than TensorFlow Lite']
    return sum(counts.values()) - skipped, failed, skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('nnrt', nargs='?')
    parser.add_argument('shipped', nargs='?')
    parser.add_argument('--only', default='')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--modules')
    args = parser.parse_args()
    if args.check or args.write:
        return check_table(TABLE, args.modules, CASES, args.write, 'test_tflite.py')
    passed, failed, skipped = test(args.nnrt, args.only, args.shipped)
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed > 0 or passed == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
