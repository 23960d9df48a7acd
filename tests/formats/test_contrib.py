#!/usr/bin/env python3
"""Operators of com.microsoft, the domain of ONNX Runtime's quantizer, optimizer and exporters, and of ai.onnx.ml (contrib_ml.py); new
operators of ONNX, and operators in float64 (contrib_onnx.py); packed weights of DequantizeLinear (contrib_weights.py).

    test_contrib.py [--jobs N] [--only TEXT] NNRT           compares NNRT with tests/formats/contrib.txt
    test_contrib.py --check|--write --ort DIR               compares tests/formats/contrib.txt with ONNX Runtime, or writes it

tests/formats/contrib.txt has the results of ONNX Runtime for each case: type, shape and bytes of each output. NNRT runs each model as it comes,
with --no-quantize, and from an unoptimized import whose batch and sequence are dynamic dimensions; the operators of that must be those
that `nnrt ops --onnx` lists, but for computations with dimensions. An 8-bit result may differ by one unit: quantized operators of the
runtime round twice, ONNX Runtime computes with one rounding or with a table. An average is first rounded in the scale of the input, half
of which may be more units of the result: such a case states units. A float result may differ by 1e-5 of the largest magnitude of
the result, 80 roundings of float32, or by `near` of it: in ONNX Runtime DynamicQuantizeLSTM rounds x and the state to 8 bits, and
differs from LSTM with the same weights in float32 by up to 2.2e-2 in 144 random models. NaN and Inf must be equal. Cases that ONNX
Runtime does not run state their results (`want`), from definitions in numpy. Models that must
be refused state a part of the message. A random forest and packed weights also run as C.

The last line says "N passed, N failed"; the exit status is 1 when something failed or nothing passed.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, load_from_string, numpy_helper

import contrib_ml
import contrib_onnx
import contrib_weights
from test_quantized import line_of, value_of

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, 'contrib.txt')
DOMAIN = 'com.microsoft'
NUMBERS = {'uint8': TensorProto.UINT8, 'int8': TensorProto.INT8, 'float32': TensorProto.FLOAT, 'int32': TensorProto.INT32,
           'int64': TensorProto.INT64, 'bool': TensorProto.BOOL, 'float16': TensorProto.FLOAT16, 'int16': TensorProto.INT16,
           'uint16': TensorProto.UINT16, 'float64': TensorProto.DOUBLE}


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


def quantized_cases():
    for dtype in ('uint8', 'int8'):
        draw = np.random.RandomState(7)
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        zero = {'uint8': 120, 'int8': -3}[dtype]

        def integers(*shape):
            return draw.randint(low, high + 1, shape).astype(dtype)

        def scale(value):
            return Constant(np.float32(value))

        def point(value):
            return Constant(np.array(value, dtype))

        x, y, image = integers(2, 3, 5), integers(2, 3, 5), integers(1, 3, 7, 6)
        for op in ('QLinearAdd', 'QLinearMul'):
            yield Case('%s %s' % (op, dtype), op, [x, scale(0.04), point(zero), y, scale(0.03), point(zero - 5), scale(0.07), point(zero + 4)])
            yield Case('%s %s broadcast' % (op, dtype), op, [x, scale(0.04), point(zero), integers(5), scale(0.03), point(zero - 5),
                                                             scale(0.06), point(zero + 4)])
            yield Case('%s %s saturates' % (op, dtype), op, [x, scale(0.04), point(zero), y, scale(0.03), point(zero), scale(0.002), point(zero)])
        yield Case('QLinearSigmoid ' + dtype, 'QLinearSigmoid', [x, scale(0.05), point(zero), scale(1 / 256), point(low)])
        yield Case('QLinearSigmoid %s other scale' % dtype, 'QLinearSigmoid', [x, scale(0.05), point(zero), scale(0.01), point(zero)])
        yield Case('QLinearLeakyRelu ' + dtype, 'QLinearLeakyRelu', [x, scale(0.05), point(zero), scale(0.03), point(zero)], alpha=0.2)
        for axis in (-1, 1):
            yield Case('QLinearSoftmax %s %d' % (dtype, axis), 'QLinearSoftmax',
                       [x, scale(0.05), point(zero), scale(1 / 256), point(low)], axis=axis, opset=13)
        yield Case('QLinearSoftmax %s set 11' % dtype, 'QLinearSoftmax', [x, scale(0.05), point(zero), scale(1 / 256), point(low)],
                   axis=1, opset=11)
        yield Case('QLinearConcat ' + dtype, 'QLinearConcat', [scale(0.05), point(zero), x, scale(0.04), point(zero), y, scale(0.05),
                                                              point(zero)], axis=1)
        yield Case('QLinearConcat %s three' % dtype, 'QLinearConcat',
                   [scale(0.05), point(zero), x, scale(0.04), point(zero), y, scale(0.05), point(zero), integers(2, 3, 2),
                    scale(0.02), point(zero + 1)], axis=-1)
        yield Case('QLinearWhere ' + dtype, 'QLinearWhere', [draw.rand(2, 3, 5) < 0.5, x, scale(0.04), point(zero), y, scale(0.05),
                                                            point(zero - 1), scale(0.045), point(zero)])
        for last in (0, 1):
            shape = image if last == 0 else np.ascontiguousarray(image.transpose(0, 2, 3, 1))
            yield Case('QLinearAveragePool %s channels_last %d' % (dtype, last), 'QLinearAveragePool',
                       [shape, scale(0.04), point(zero), scale(0.05), point(zero + 3)], kernel_shape=[3, 2], strides=[2, 1],
                       pads=[1, 0, 1, 1], channels_last=last)
            yield Case('QLinearGlobalAveragePool %s channels_last %d' % (dtype, last), 'QLinearGlobalAveragePool',
                       [shape, scale(0.04), point(zero), scale(0.01), point(zero)], units=2, channels_last=last)
        yield Case('QLinearAveragePool %s counts padding' % dtype, 'QLinearAveragePool',
                   [image, scale(0.04), point(zero), scale(0.05), point(zero)], kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                   count_include_pad=1)
        a, b = integers(4, 6), integers(6, 3)
        bias = Constant(draw.randint(-200, 200, 3).astype(np.int32))
        yield Case('QGemm ' + dtype, 'QGemm', [a, scale(0.04), point(zero), Constant(b), scale(0.03), point(zero), bias, scale(0.3),
                                              point(zero)])
        yield Case('QGemm %s float result' % dtype, 'QGemm', [a, scale(0.04), point(zero), Constant(b), scale(0.03), point(zero), bias])
        yield Case('QGemm %s transposed' % dtype, 'QGemm', [a, scale(0.04), point(zero), Constant(np.ascontiguousarray(b.T)), scale(0.03),
                                                           point(zero), None, scale(0.3), point(zero)], transB=1)
        yield Case('QGemm %s per channel' % dtype, 'QGemm',
                   [a, scale(0.04), point(zero), Constant(b), Constant(np.array([0.03, 0.01, 0.02], np.float32)),
                    Constant(np.array([zero] * 3, dtype)), bias, scale(0.3), point(zero)])
        yield Case('QuantizeLinear ' + dtype, 'QuantizeLinear', [floats(draw, 2, 3, 4, scale=4), scale(0.05), point(zero)])
        yield Case('QuantizeLinear %s per channel' % dtype, 'QuantizeLinear',
                   [floats(draw, 2, 3, 4, scale=4), Constant(np.array([0.05, 0.1, 0.02], np.float32)),
                    Constant(np.array([zero, zero + 1, zero + 2], dtype))], axis=1)
        yield Case('DequantizeLinear ' + dtype, 'DequantizeLinear', [x, scale(0.05), point(zero)])
        yield Case('NhwcMaxPool ' + dtype, 'NhwcMaxPool', [np.ascontiguousarray(image.transpose(0, 2, 3, 1))], kernel_shape=[3, 3],
                   strides=[2, 2], pads=[1, 1, 1, 1])


def matrix_cases():
    draw = np.random.RandomState(11)
    a, w = floats(draw, 2, 4, 6), seven_bits(draw, 6, 5)
    bias = floats(draw, 5)
    yield Case('DynamicQuantizeMatMul', 'DynamicQuantizeMatMul', [a, Constant(w), Constant(np.float32([0.02])), Constant(np.int8([3])), Constant(bias)])
    yield Case('DynamicQuantizeMatMul without zero point', 'DynamicQuantizeMatMul', [a, Constant(w), Constant(np.float32([0.02]))])
    yield Case('DynamicQuantizeMatMul per column', 'DynamicQuantizeMatMul',
               [a, Constant(w), Constant(np.float32([0.02, 0.01, 0.03, 0.04, 0.05])), Constant(np.int8([1, 2, 3, 0, -1]))])
    u = draw.randint(0, 256, (2, 4, 6)).astype(np.uint8)
    yield Case('MatMulIntegerToFloat', 'MatMulIntegerToFloat',
               [u, Constant(w), Constant(np.float32([0.05])), Constant(np.float32([0.02])), Constant(np.uint8([120])), Constant(np.int8([3])),
                Constant(bias)])
    yield Case('MatMulIntegerToFloat without zero points', 'MatMulIntegerToFloat',
               [u, Constant(w), Constant(np.float32([0.05])), Constant(np.float32([0.02, 0.01, 0.03, 0.04, 0.05]))])
    for ta in (0, 1):
        for tb in (0, 1):
            x = floats(draw, 2, 3, *((4, 5) if ta == 0 else (5, 4)))
            y = floats(draw, 2, 3, *((5, 6) if tb == 0 else (6, 5)))
            yield Case('FusedMatMul %d%d' % (ta, tb), 'FusedMatMul', [x, y], transA=ta, transB=tb, alpha=0.25)
    yield Case('FusedMatMul batches', 'FusedMatMul', [floats(draw, 4, 2, 5), floats(draw, 5, 2, 6)], transBatchA=1, transBatchB=1)
    yield Case('FusedMatMul batches transposed', 'FusedMatMul', [floats(draw, 5, 2, 4), floats(draw, 2, 5, 6)], transBatchA=1, transA=1)
    for activation, parameters in (('Relu', {}), ('Sigmoid', {}), ('LeakyRelu', {'activation_alpha': 0.2}), ('Tanh', {})):
        yield Case('FusedGemm ' + activation, 'FusedGemm', [floats(draw, 3, 4), Constant(floats(draw, 5, 4)), Constant(floats(draw, 5))],
                   transB=1, activation=activation, **parameters)
    for bits in (4, 8):
        for K, block in ((48, 16), (40, 32)):
            blocks = -(-K // block)
            data = draw.randint(0, 256, (7, blocks, block * bits // 8)).astype(np.uint8)
            scales = (draw.rand(7 * blocks) * 0.1 + 0.01).astype(np.float32)
            zeros = draw.randint(0, 256, 7 * -(-blocks * bits // 8)).astype(np.uint8)
            label, given = 'MatMulNBits %d bits K %d block %d' % (bits, K, block), [floats(draw, 2, 3, K), Constant(data), Constant(scales)]
            attributes = {'K': K, 'N': 7, 'bits': bits, 'block_size': block}
            yield Case(label, 'MatMulNBits', given, **attributes)
            yield Case(label + ' zero points', 'MatMulNBits', given + [Constant(zeros)], **attributes)
            yield Case(label + ' bias', 'MatMulNBits', given + [Constant(zeros), None, Constant(floats(draw, 7))], **attributes)
            digits = np.unpackbits(zeros.reshape(7, -1), axis=1, bitorder='little').reshape(7, -1, bits)
            reals = (digits @ 2.0 ** np.arange(bits))[:, :blocks].astype(np.float32)
            axes = given[:2] + [Constant(scales.reshape(7, blocks))]
            for way, zero in (('of two axes', zeros.reshape(7, -1)), ('of float32', reals), ('of float32, one axis', reals.ravel())):
                yield Case('%s zero points %s' % (label, way), 'MatMulNBits', axes + [Constant(zero)], like=label + ' zero points', **attributes)
    for bits in (4, 8):
        data = draw.randint(0, 256, (9, 32 * bits // 8)).astype(np.uint8)
        given = [Constant(data), draw.randint(0, 9, (2, 3)).astype(np.int64), Constant((draw.rand(9, 2) * 0.1).astype(np.float32))]
        yield Case('GatherBlockQuantized %d bits' % bits, 'GatherBlockQuantized', given, bits=bits, block_size=16, quantize_axis=1)
        yield Case('GatherBlockQuantized %d bits zero points' % bits, 'GatherBlockQuantized',
                   given + [Constant(draw.randint(0, 256, (9, bits // 4)).astype(np.uint8))], bits=bits, block_size=16, quantize_axis=1)


def float_cases():
    draw = np.random.RandomState(13)
    x = floats(draw, 2, 5, 8, scale=2)
    yield Case('Gelu', 'Gelu', [x])
    yield Case('FastGelu', 'FastGelu', [x])
    yield Case('FastGelu bias', 'FastGelu', [x, Constant(floats(draw, 8))])
    yield Case('BiasGelu', 'BiasGelu', [x, Constant(floats(draw, 8))])
    yield Case('QuickGelu', 'QuickGelu', [x])
    yield Case('QuickGelu alpha', 'QuickGelu', [x], alpha=1.2)
    image, weight, bias = floats(draw, 1, 3, 6, 5), Constant(floats(draw, 4, 3, 3, 3)), Constant(floats(draw, 4))
    for activation, parameters in (('Relu', None), ('Sigmoid', None), ('Tanh', None), ('LeakyRelu', [0.1]), ('Clip', [-0.5, 1.0]),
                                   ('HardSigmoid', [0.2, 0.4])):
        more = {'activation_params': parameters} if parameters else {}
        yield Case('FusedConv ' + activation, 'FusedConv', [image, weight, bias], kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                   activation=activation, **more)
    yield Case('FusedConv sum', 'FusedConv', [image, weight, bias, floats(draw, 1, 4, 6, 5)], kernel_shape=[3, 3], pads=[1, 1, 1, 1],
               activation='Relu')
    gamma, beta, more = Constant(floats(draw, 8)), Constant(floats(draw, 8)), Constant(floats(draw, 8))
    for label, given in (('', [gamma, beta]), (' bias', [gamma, beta, more]), (' without beta', [gamma])):
        yield Case('SkipLayerNormalization' + label, 'SkipLayerNormalization', [x, floats(draw, 2, 5, 8)] + given, epsilon=1e-5)
    yield Case('SkipLayerNormalization sum', 'SkipLayerNormalization', [x, floats(draw, 2, 5, 8), gamma, beta, more], outputs=4,
               kept=(0, 3), epsilon=1e-5)
    for label, given in (('', [gamma]), (' bias', [gamma, more])):
        yield Case('SkipSimplifiedLayerNormalization' + label, 'SkipSimplifiedLayerNormalization', [x, floats(draw, 2, 5, 8)] + given,
                   outputs=4, kept=(0, 3), epsilon=1e-5)
    sound, taps, state = floats(draw, 2, 3, 6), floats(draw, 3, 1, 4), floats(draw, 2, 3, 3)
    for label, given, more in (('', [], {}), (' bias', [floats(draw, 3)], {}), (' state', [None, state], {'activation': 'none'}),
                               (' SiLU', [floats(draw, 3), state], {'activation': 'silu'})):
        yield Case('CausalConvWithState' + label, 'CausalConvWithState', [sound, taps] + given, outputs=2, **more)
    yield Case('CausalConvWithState one column', 'CausalConvWithState', [sound[:, :, :1].copy(), taps, None, state], outputs=2,
               activation='swish')
    yield Case('CausalConvWithState constant weights', 'CausalConvWithState', [sound, Constant(taps), Constant(floats(draw, 3)), state],
               outputs=2)
    for axis in (0, -1):
        for exclusive, reverse in ((0, 0), (1, 0), (0, 1), (1, 1)):
            yield Case('CumProd %d %d %d' % (axis, exclusive, reverse), 'CumProd', [floats(draw, 3, 5), Constant(np.int64(axis))], domain='',
                       main=26, exclusive=exclusive, reverse=reverse)
    yield Case('CumProd int32', 'CumProd', [np.arange(1, 9, dtype=np.int32).reshape(2, 4), Constant(np.int32(1))], domain='', main=26)
    yield Case('BitCast to int32', 'BitCast', [floats(draw, 2, 3)], domain='', main=26, to=TensorProto.INT32)
    yield Case('BitCast to float', 'BitCast', [np.array([0x3f800000, 0x40490fdb], np.int32)], domain='', main=26, to=TensorProto.FLOAT)
    yield Case('BitCast to uint8', 'BitCast', [np.array([-1, 5, -128], np.int8)], domain='', main=26, to=TensorProto.UINT8)
    yield Case('BitCast to the same type', 'BitCast', [np.array([-1, 5], np.int8)], domain='', main=26, to=TensorProto.INT8)
    yield Case('SimplifiedLayerNormalization', 'SimplifiedLayerNormalization', [x, gamma], outputs=2, domain='', axis=-1, epsilon=1e-5)
    ids, segments = draw.randint(0, 11, (2, 5)).astype(np.int32), draw.randint(0, 2, (2, 5)).astype(np.int32)
    tables = [Constant(floats(draw, 11, 8)), Constant(floats(draw, 6, 8)), Constant(floats(draw, 2, 8)), gamma, beta]
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    yield Case('EmbedLayerNormalization', 'EmbedLayerNormalization', [ids, segments] + tables + [mask], outputs=2)
    yield Case('EmbedLayerNormalization without mask', 'EmbedLayerNormalization', [ids, segments] + tables, outputs=2)
    yield Case('EmbedLayerNormalization without segments', 'EmbedLayerNormalization', [ids, None] + tables[:2] + [None] + tables[3:] + [mask],
               outputs=2)


def attention_cases():
    draw = np.random.RandomState(17)
    B, S, N, D = 2, 4, 2, 16
    H = N * D
    x, w, b = floats(draw, B, S, H), Constant(floats(draw, H, 3 * H, scale=0.5)), Constant(floats(draw, 3 * H))
    raw = np.array([[1, 1, 1, 0], [1, 1, 1, 1]], np.int32)
    past = floats(draw, 2, B, N, 3, D)
    yield Case('Attention', 'Attention', [x, w, b], num_heads=N)
    yield Case('Attention raw mask', 'Attention', [x, w, b, raw], num_heads=N)
    yield Case('Attention lengths', 'Attention', [x, w, b, np.array([3, 4], np.int32)], num_heads=N)
    yield Case('Attention causal', 'Attention', [x, w, b], num_heads=N, unidirectional=1)
    yield Case('Attention past', 'Attention', [x, w, b, None, past], outputs=2, num_heads=N, unidirectional=1)
    yield Case('Attention past and mask', 'Attention', [x, w, b, np.concatenate([np.ones((B, 3), np.int32), raw], 1), past], outputs=2,
               num_heads=N)
    yield Case('Attention bias of scores', 'Attention', [x, w, b, None, None, floats(draw, B, N, S, S)], num_heads=N)
    yield Case('Attention mask of pairs', 'Attention', [x, w, b, draw.randint(0, 2, (B, S, S)).astype(np.int32)], num_heads=N)
    yield Case('Attention sizes', 'Attention', [x, Constant(floats(draw, H, 2 * H + 12, scale=0.5)), Constant(floats(draw, 2 * H + 12))],
               num_heads=N, qkv_hidden_sizes=[H, H, 12])
    yield Case('Attention scale', 'Attention', [x, w, b], num_heads=N, scale=0.3)
    u, q = draw.randint(0, 256, (B, S, H)).astype(np.uint8), Constant(seven_bits(draw, H, 3 * H))
    given = [u, q, b, Constant(np.float32(0.01)), Constant(np.float32(0.01))]
    yield Case('QAttention', 'QAttention', given + [None, Constant(np.uint8(120)), Constant(np.int8(2))], num_heads=N)
    yield Case('QAttention mask', 'QAttention', given + [raw, Constant(np.uint8(120)), Constant(np.int8(2))], num_heads=N)
    k, v = floats(draw, B, 5, H), floats(draw, B, 5, H)
    keys = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    yield Case('MultiHeadAttention', 'MultiHeadAttention', [x, k, v], num_heads=N)
    yield Case('MultiHeadAttention bias', 'MultiHeadAttention', [x, k, v, b], num_heads=N)
    yield Case('MultiHeadAttention mask', 'MultiHeadAttention', [x, k, v, None, keys], num_heads=N)
    yield Case('MultiHeadAttention bias of scores', 'MultiHeadAttention', [x, k, v, None, None, floats(draw, 1, N, S, 5)], num_heads=N)
    yield Case('MultiHeadAttention mask and bias of scores', 'MultiHeadAttention', [x, k, v, None, keys, floats(draw, B, N, S, 5)],
               num_heads=N)
    yield Case('MultiHeadAttention past', 'MultiHeadAttention', [x, floats(draw, B, S, H), floats(draw, B, S, H), None, None, None,
                                                               floats(draw, B, N, 3, D), floats(draw, B, N, 3, D)],
               outputs=3, num_heads=N)
    yield Case('MultiHeadAttention cross', 'MultiHeadAttention', [x, floats(draw, B, N, 5, D), floats(draw, B, N, 5, D)], num_heads=N)
    yield Case('MultiHeadAttention causal', 'MultiHeadAttention', [x, floats(draw, B, S, H), floats(draw, B, S, H)], num_heads=N,
               unidirectional=1)
    angles = draw.rand(16, D // 2).astype(np.float32) * 3
    tables = [Constant(np.cos(angles)), Constant(np.sin(angles))]
    for interleaved in (0, 1):
        yield Case('RotaryEmbedding %d' % interleaved, 'RotaryEmbedding', [x, np.array([[0, 1, 2, 3], [4, 5, 6, 7]], np.int64)] + tables,
                   interleaved=interleaved)
    yield Case('RotaryEmbedding offset', 'RotaryEmbedding', [x, np.array([5], np.int64)] + tables)
    yield Case('RotaryEmbedding four axes', 'RotaryEmbedding', [floats(draw, B, N, S, D), np.array([5], np.int64)] + tables)
    for rotary in (0, 1):
        more = tables if rotary else []
        kv = 1
        small = [floats(draw, B, S, kv * D), floats(draw, B, S, kv * D)]
        total = Constant(np.array(S, np.int32))
        yield Case('GroupQueryAttention prompt rotary %d' % rotary, 'GroupQueryAttention',
                   [x] + small + [None, None, np.full(B, S - 1, np.int32), total] + more, outputs=3, num_heads=N, kv_num_heads=kv,
                   do_rotary=rotary)
        one = [floats(draw, B, 1, H), floats(draw, B, 1, kv * D), floats(draw, B, 1, kv * D)]
        yield Case('GroupQueryAttention step rotary %d' % rotary, 'GroupQueryAttention',
                   one + [floats(draw, B, kv, 6, D), floats(draw, B, kv, 6, D), np.full(B, 6, np.int32), Constant(np.array(7, np.int32))] + more,
                   outputs=3, num_heads=N, kv_num_heads=kv, do_rotary=rotary)
    yield Case('GroupQueryAttention packed', 'GroupQueryAttention',
               [floats(draw, B, S, (N + 2) * D), None, None, None, None, np.full(B, S - 1, np.int32), Constant(np.array(S, np.int32))] + tables,
               outputs=3, num_heads=N, kv_num_heads=1, do_rotary=1, rotary_interleaved=1)
    yield Case('GroupQueryAttention window and cap', 'GroupQueryAttention',
               [x, floats(draw, B, S, D), floats(draw, B, S, D), None, None, np.full(B, S - 1, np.int32), Constant(np.array(S, np.int32))],
               outputs=3, num_heads=N, kv_num_heads=1, local_window_size=2, softcap=5.0)


def channels_last_cases():
    draw = np.random.RandomState(23)
    for name, x, weight, attributes in (
            ('a kernel', floats(draw, 2, 7, 5, 3), floats(draw, 4, 3, 2, 3), {'kernel_shape': [2, 3], 'strides': [2, 1], 'pads': [1, 0, 0, 1]}),
            ('as many channels as rows', floats(draw, 1, 6, 6, 3), floats(draw, 5, 3, 3, 3), {'pads': [1, 1, 1, 1]}),
            ('groups', floats(draw, 2, 4, 5, 6), floats(draw, 4, 3, 1, 3), {'group': 2, 'dilations': [1, 2], 'strides': [2, 1]}),
            ('depthwise', floats(draw, 1, 5, 5, 4), floats(draw, 4, 1, 3, 3), {'group': 4, 'auto_pad': 'VALID'})):
        bias = Constant(floats(draw, weight.shape[0]))
        yield Case('Conv ' + name, 'Conv', [x, Constant(weight), bias], domain='', moved=True, **attributes)
        given = [x, Constant(np.ascontiguousarray(weight.transpose(0, 2, 3, 1))), bias]
        yield Case('NhwcConv ' + name, 'NhwcConv', given, like='Conv ' + name, **attributes)


def inverse_cases():
    draw = np.random.RandomState(29)
    for dtype in (np.float32, np.float16, np.float64):
        near = {np.float32: 1e-5, np.float16: 2e-3, np.float64: 1e-12}[dtype]
        label = 'Inverse ' + np.dtype(dtype).name
        yield Case(label, 'Inverse', [(floats(draw, 2, 4, 5, 5) + 4 * np.eye(5)).astype(dtype)], near=near)
        yield Case(label + ' of zeros', 'Inverse', [np.zeros((2, 2), dtype)])
    yield Case('Inverse 1 x 1', 'Inverse', [np.array([[[4]], [[-0.5]]], np.float32)])
    yield Case('Inverse of rows in another order', 'Inverse', [np.array([[0, 0, 2], [0, 4, 1], [8, 1, 1]], np.float32)])
    yield Case('Inverse of singular matrices', 'Inverse', [np.array([[[1, 2], [2, 4]], [[0, 0], [1, 0]], [[1, 0], [0, 1]]], np.float32)])
    yield Case('Inverse singular behind the first column', 'Inverse', [np.array([[1, 2, 3], [2, 4, 6], [1, 0, 1]], np.float32)])
    yield Case('Inverse NaN', 'Inverse', [np.array([[np.nan, 1], [1, 1]], np.float32)])


def lstm_cases():
    draw = np.random.RandomState(31)
    for name, dtype, directions, columns, more in (
            ('', np.int8, 1, False, {}), (' uint8', np.uint8, 1, False, {}), (' columns', np.int8, 1, True, {}),
            (' uint8 columns', np.uint8, 1, True, {}), (' reverse', np.int8, 1, False, {'direction': 'reverse'}),
            (' bidirectional', np.int8, 2, True, {'direction': 'bidirectional'}), (' states', np.uint8, 2, False, {'direction': 'bidirectional'}),
            (' peepholes', np.int8, 1, False, {}), (' lengths', np.int8, 1, False, {}),
            (' activations', np.int8, 1, False, {'activations': ['HardSigmoid', 'Softsign', 'Tanh'], 'activation_alpha': [0.3], 'input_forget': 1})):
        T, N, I, H = 5, 2, 6, 4
        weights, real, zero = [], [], 0 if dtype == np.int8 else 128
        for K in (I, H):
            w = seven_bits(draw, directions, K, 4 * H)
            scale = ((draw.rand(directions, 4 * H) if columns else draw.rand(directions)) * 0.01 + 0.005).astype(np.float32)
            weights += [Constant((w + zero).astype(dtype)), Constant(scale), Constant(np.full(scale.shape, zero, dtype))]
            real.append(Constant(np.ascontiguousarray((w * scale.reshape(directions, 1, -1)).transpose(0, 2, 1))))
        states = [floats(draw, directions, N, H, scale=0.5) for _ in range(2)] if name == ' states' else [None, None]
        lengths = np.array([5, 3], np.int32) if name == ' lengths' else None
        peepholes = Constant(floats(draw, directions, 3 * H, scale=0.3)) if name == ' peepholes' else None
        x, rest = floats(draw, T, N, I), [Constant(floats(draw, directions, 8 * H, scale=0.2)), lengths] + states + [peepholes]
        more = dict(more, hidden_size=H, outputs=3)
        given = [x, weights[0], weights[3]] + rest + [weights[1], weights[2], weights[4], weights[5]]
        yield Case('LSTM%s' % name, 'LSTM', [x] + real + rest, domain='', **more)
        yield Case('DynamicQuantizeLSTM%s in float32' % name, 'DynamicQuantizeLSTM', given, like='LSTM%s' % name, **more)
        yield Case('DynamicQuantizeLSTM%s' % name, 'DynamicQuantizeLSTM', given, near=3e-2, **more)


def linear_attention_cases():
    draw = np.random.RandomState(37)
    B, T, K, V = 2, 5, 4, 3
    for rule in ('linear', 'gated', 'delta', 'gated_delta'):
        for name, queries, heads, keys, wide in (('', 2, 2, 2, False), (' grouped queries', 4, 2, 2, True), (' shared keys', 1, 6, 3, True)):
            gates = [floats(draw, B, T, heads * K if wide else heads, scale=0.3) - 0.5 if 'gated' in rule else None,
                     draw.rand(B, T, 1 if name == ' shared keys' else heads).astype(np.float32) if 'delta' in rule else None]
            given = [floats(draw, B, T, queries * K), floats(draw, B, T, keys * K, scale=0.5), floats(draw, B, T, heads * V),
                     floats(draw, B, heads, K, V) if wide else None] + gates
            more = {'outputs': 2, 'q_num_heads': queries, 'kv_num_heads': heads, 'update_rule': rule}
            if queries == 4:
                more.update(scale=0.7, chunk_size=2)
            label = 'LinearAttention %s%s' % (rule, name)
            yield Case(label, 'LinearAttention', given, **more)
            if keys == heads:
                yield Case('ONNX ' + label, 'LinearAttention', given, domain='', main=27, like=label, **more)
    # With a key of one channel the erase gate e of that channel is all that matters: beta*(v - S*(e*k)) = beta*e*(v/e - S*k).
    heads, channel = 2, draw.randint(0, K, (B, T, 2, 1))
    key = np.where(np.arange(K) == channel, floats(draw, B, T, heads, 1), 0).astype(np.float32)
    erase = (draw.rand(B, T, heads, K) * 0.5 + 0.5).astype(np.float32)
    one, value, beta = np.take_along_axis(erase, channel, 3), floats(draw, B, T, heads, V), draw.rand(B, T, heads).astype(np.float32)
    given = [floats(draw, B, T, heads * K), key.reshape(B, T, -1), None, floats(draw, B, heads, K, V)]
    more = {'outputs': 2, 'q_num_heads': heads, 'kv_num_heads': heads, 'update_rule': 'delta'}
    given[2] = (value / one).reshape(B, T, -1)
    yield Case('LinearAttention one channel', 'LinearAttention', given + [None, beta * one[..., 0]], **more)
    given[2] = value.reshape(B, T, -1)
    yield Case('ONNX LinearAttention erase gate', 'LinearAttention', given + [None, beta, erase.reshape(B, T, -1)], domain='', main=27,
               like='LinearAttention one channel', **more)
    yield Case('LinearAttention one step', 'LinearAttention', [floats(draw, 1, 1, 8), floats(draw, 1, 1, 8), floats(draw, 1, 1, 6)],
               outputs=2, q_num_heads=2, kv_num_heads=2, update_rule='linear')


def every():
    yield from channels_last_cases()
    yield from inverse_cases()
    yield from lstm_cases()
    yield from linear_attention_cases()
    yield from quantized_cases()
    yield from matrix_cases()
    yield from float_cases()
    yield from attention_cases()
    yield from contrib_ml.cases(Case)
    yield from contrib_onnx.cases(Case, Constant)


def refused():
    """(part of the message, case): models that neither run nor give a wrong number."""
    x, scale, zero = np.zeros((2, 3), np.uint8), Constant(np.float32(0.1)), Constant(np.uint8(3))
    yield "input 3 is missing", Case('no second operand', 'QLinearAdd', [x, scale, zero])
    yield "input 6 is missing", Case('no scale of the result', 'QLinearAdd', [x, scale, zero, x, scale, zero])
    yield "expected int8 or uint8", Case('result of 16 bits', 'QLinearAdd', [x, scale, zero, x, scale, zero, scale, Constant(np.int16(0))])
    yield "attribute 'beta' is not supported", Case('an unknown attribute', 'QLinearSigmoid', [x, scale, zero, scale, zero], beta=1.0)
    yield "attribute 'axis' is missing", Case('no axis', 'QLinearConcat', [scale, zero, x, scale, zero])
    yield "attribute 'activation' is 'Foo'", Case('an unknown activation', 'FusedGemm', [np.zeros((2, 3), np.float32), np.zeros((3, 2), np.float32)],
                                                  activation='Foo')
    f = np.zeros((2, 32), np.float32)
    data, scales = Constant(np.zeros((4, 2, 8), np.uint8)), Constant(np.zeros(8, np.float32))
    yield "bits is 2, expected 4 or 8", Case('2 bits', 'MatMulNBits', [f, data, scales], K=32, N=4, bits=2, block_size=16)
    yield "expected a constant of 128 elements", Case('too few bytes', 'MatMulNBits', [f, data, scales], K=32, N=8, bits=4, block_size=16)
    yield "expected a constant of 64 elements", Case('weights that are inputs', 'MatMulNBits', [f, np.zeros((4, 2, 8), np.uint8), scales], K=32, N=4,
                                                    bits=4, block_size=16)
    yield "group index of each column, is not supported", Case('a group index', 'MatMulNBits',
                                                               [f, data, scales, None, Constant(np.zeros(32, np.int32))], K=32, N=4, bits=4, block_size=16)
    yield "K is 32, expected 31", Case('another K than x has', 'MatMulNBits', [f, data, scales], K=31, N=4, bits=4, block_size=16)
    yield "block_size is 0", Case('blocks of 0', 'MatMulNBits', [f, data, scales], K=32, N=4, bits=4, block_size=0)
    yield "have -1 rows (N)", Case('negative N', 'MatMulNBits', [f, data, scales], K=32, N=-1, bits=4, block_size=16)
    yield "have 0 rows (N)", Case('no rows', 'GatherBlockQuantized', [Constant(np.zeros((0, 8), np.uint8)), np.zeros(2, np.int64),
                                                                     Constant(np.zeros((0, 1), np.float32))], bits=4, block_size=16)
    q = np.zeros((1, 2, 8), np.float32)
    w = Constant(np.zeros((8, 24), np.float32))
    for sizes in ([2**62, 2**62, 8], [-1, 8, 8], [8, 0, 8], [8, 8, 4], [8, 8], [8, 16, 8]):
        yield "expected 3 entries of sum 24", Case('sizes %s' % sizes, 'Attention', [q, w, Constant(np.zeros(24, np.float32))], num_heads=2,
                                                   qkv_hidden_sizes=sizes)
    yield "expected heads that divide the last axis", Case('very many heads', 'GroupQueryAttention',
                                                         [q, None, None, None, None, np.zeros(1, np.int32), np.int32(2)],
                                                         num_heads=2**62, kv_num_heads=2**62)
    yield "expected 3 entries of sum 22", Case('a width not of three', 'Attention', [q, Constant(np.zeros((8, 22), np.float32)),
                                                                                     Constant(np.zeros(22, np.float32))], num_heads=1)
    yield "expected heads that divide", Case('packed heads that leave a rest', 'GroupQueryAttention',
                                             [np.zeros((1, 2, 34), np.float32), None, None, None, None, np.zeros(1, np.int32), np.int32(2)],
                                             num_heads=2, kv_num_heads=1)
    conv = [np.zeros((1, 1, 3, 3), np.float32), Constant(np.zeros((1, 1, 1, 1), np.float32))]
    yield "has 0 parameters, expected 1", Case('LeakyRelu without slope', 'FusedConv', conv, activation='LeakyRelu')
    yield "has 1 parameters, expected 2", Case('Clip without maximum', 'FusedConv', conv, activation='Clip', activation_params=[0.0])
    yield "has 0 parameters, expected 1", Case('Gemm, LeakyRelu without slope', 'FusedGemm', [f, Constant(np.zeros((32, 2), np.float32))],
                                               activation='LeakyRelu')
    yield "number of heads is 0", Case('no heads', 'MultiHeadAttention', [q, q, q])
    yield "expected one length", Case('a mask of begins and ends', 'MultiHeadAttention', [q, q, q, None, np.zeros(5, np.int32)], num_heads=2)
    yield "num_heads is 0", Case('no heads of queries', 'GroupQueryAttention', [q, q, q, None, None, np.zeros(1, np.int32), np.int32(2)],
                                 kv_num_heads=1)
    yield "(ASSERT)", Case('a batch of different lengths', 'GroupQueryAttention',
                   [np.zeros((2, 2, 8), np.float32), np.zeros((2, 2, 8), np.float32), np.zeros((2, 2, 8), np.float32), None, None,
                    np.array([1, 0], np.int32), Constant(np.array(2, np.int32))], num_heads=2, kv_num_heads=2)
    yield "com.microsoft.MoE", Case('an unsupported operator', 'MoE', [q])
    yield from refused_lately()
    yield from contrib_ml.refused(Case)
    yield from contrib_onnx.refused(Case)


def refused_lately():
    image, flat = np.zeros((1, 5, 5, 2), np.float32), np.zeros((2, 4, 6), np.float32)
    yield "expected W [O,R,S,C/group]", Case('weights with channels second', 'NhwcConv', [image, Constant(np.zeros((4, 2, 3, 3), np.float32))])
    yield "for X [N,H,W,C]", Case('one axis', 'NhwcConv', [np.zeros(4, np.float32), Constant(np.zeros((4, 3, 3, 2), np.float32))])
    yield "is float32[2,3]", Case('a matrix that is not square', 'Inverse', [np.zeros((2, 3), np.float32)])
    yield "expected one of float16,float32,float64", Case('integers', 'Inverse', [np.zeros((2, 2), np.int32)])
    w, scale, zero = np.zeros((1, 6, 16), np.int8), Constant(np.ones(1, np.float32)), Constant(np.zeros(1, np.int8))
    given = [flat, Constant(w), Constant(w[:, :4]), None, None, None, None, None, scale, zero, scale, zero]

    def lstm(name, at, value, **more):
        inputs = given[:at] + [value] + given[at + 1:]
        return Case(name, 'DynamicQuantizeLSTM', inputs, outputs=3, hidden_size=4, **more)

    yield "input 8 is", lstm('a scale of no direction', 8, Constant(np.float32(1)))
    yield "input 10 is", lstm('scales of other columns', 10, Constant(np.ones((1, 4), np.float32)))
    yield "input 9 is missing", lstm('no zero point', 9, None)
    yield "expected int8 or uint8, the type of input 11", lstm('a zero point of another type', 11, Constant(np.zeros(1, np.uint8)))
    yield "attribute 'layout' is not supported", lstm('batch first', 0, flat, layout=1)

    def linear(name, more=(), key=flat, value=flat, **attributes):
        heads = dict({'q_num_heads': 2, 'kv_num_heads': 2}, **attributes)
        return Case(name, 'LinearAttention', [flat, key, value] + list(more), outputs=2, **heads)

    gate = np.zeros((2, 4, 2), np.float32)
    yield "input 4 is missing", linear('no decay')
    yield "input 5 is missing", linear('no beta', [None, gate])
    yield "expected 2 or 1 entries", linear('a beta of three', [None, gate, np.zeros((2, 4, 3), np.float32)])
    yield "expected 2 or 6 entries", linear('a decay of three', [None, np.zeros((2, 4, 3), np.float32), gate])
    yield "expected the same size of axis 1", linear('steps of the key', key=flat[:, :3], update_rule='linear')
    yield "expected the same size of axis 0", linear('batch of the value', value=flat[:1], update_rule='linear')
    yield "expected 3 axes", linear('a matrix', value=flat[0], update_rule='linear')
    yield "the past state", linear('another state', [np.zeros((2, 2, 3, 4), np.float32)], update_rule='linear')
    for queries, heads in ((0, 2), (2, 0), (4, 2), (2, 4), (2, 2**40), (-2, 2)):
        yield "whose numbers divide one another", linear('%d queries, %d heads' % (queries, heads), update_rule='linear', q_num_heads=queries,
                                                         kv_num_heads=heads)
    yield "state_window is 2", linear('states of several steps', update_rule='linear', state_window=2)
    yield "expected one of", linear('another rule', update_rule='cubic')


def save_inputs(folder, case):
    files = {}
    for name, value in case.feeds.items():
        files[name] = os.path.join(folder, name + '.npy')
        np.save(files[name], value)
    return files


def ask_runtime(folder, modules):
    """{(case, output): value} from ONNX Runtime, without its optimizations."""
    jobs, cases = [], [case for case in every() if case.expected == case.name and case.want is None]
    for k, case in enumerate(cases):
        place = os.path.join(folder, str(k))
        os.mkdir(place)
        path = os.path.join(place, 'm.onnx')
        with open(path, 'wb') as f:
            f.write(case.model)
        jobs.append({'model': path, 'inputs': save_inputs(place, case), 'output': os.path.join(place, 'out')})
    with open(os.path.join(folder, 'list.json'), 'w', encoding='ascii') as f:
        json.dump(jobs, f)
    subprocess.run(['node', os.path.join(HERE, '../compare/ort.mjs'), '--modules', modules, '--list', f.name], check=True)
    results = {}
    for case, job in zip(cases, jobs):
        for name in case.outputs:
            path = os.path.join(job['output'], name + '.npy')
            if not os.path.exists(path):
                with open(os.path.join(job['output'], 'error.txt'), encoding='utf-8') as f:
                    print('ONNX Runtime refuses %s: %s' % (case.name, f.read().strip()[:300]))
                break
            results[case.name, name] = np.load(path)
    return results


# Operators that compute dimensions.
SIZES = {'SHAPE', 'GATHER', 'CONCAT', 'REDUCE_FUSION', 'STRIDED_SLICE', 'ADD_FUSION', 'MUL_FUSION', 'DIV_FUSION', 'RANGE', 'RESHAPE', 'FILL',
         'BROADCAST_TO', 'CAST', 'SQUEEZE', 'UNSQUEEZE'}


def opened(model):
    """The model with a dynamic batch (2) and sequence (4 or 5)."""
    m = load_from_string(model)
    for x in m.graph.input:
        dims = x.type.tensor_type.shape.dim
        for dim, sizes in zip(dims[:1] if len(dims) < 3 else dims[:2], ((2, 7), (4, 5))):
            if dim.dim_value in sizes:
                dim.dim_param = 'n%d' % dim.dim_value
    return m.SerializeToString()


def operators_of(nnrt, path, case):
    shapes = [a for name, value in case.feeds.items() for a in ('--shape', '%s=%s' % (name, ','.join(map(str, value.shape)))) if value.ndim]
    done = subprocess.run([nnrt, 'info', path, '--json', *shapes, *case.bounds], capture_output=True, check=True)
    return set(json.loads(done.stdout)['operators'])


def listed_by(nnrt):
    """{operator of com.microsoft or ONNX: names of the operators that it becomes}."""
    done = subprocess.run([nnrt, 'ops', '--onnx', '--json'], capture_output=True, check=True)
    return {o['name']: o['becomes'] + ' ' + o['with'] for o in json.loads(done.stdout)['operators']}


def run(nnrt, case, way, listed=None):
    """({output: value}, None) or (None, message)."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'm.onnx')
        with open(path, 'wb') as f:
            f.write(case.model)
        given = [a for name, file in save_inputs(folder, case).items() for a in ('--input', '%s=%s' % (name, file))]
        if way == 'dynamic':
            with open(path, 'wb') as f:
                f.write(opened(case.model))
            done = subprocess.run([nnrt, 'convert', '--no-optimize', path, path + '.nnrt'], capture_output=True, check=False)
            if done.returncode != 0:
                return None, done.stderr.decode('utf-8', 'replace').strip()
            path += '.nnrt'
            other = listed is not None and not case.graphs and operators_of(nnrt, path, case) - SIZES - set(listed.get(case.op, '').split())
            if other:
                return None, 'becomes %s, which nnrt ops --onnx does not list' % ', '.join(sorted(other))
        out = os.path.join(folder, 'out')
        os.mkdir(out)
        done = subprocess.run([nnrt, 'run', path, *given, '--device', 'reference', '--output-dir', out] +
                              (['--no-quantize'] if way == 'no-quantize' else case.bounds if way == 'dynamic' else []), capture_output=True, check=False)
        if done.returncode != 0:
            return None, done.stderr.decode('utf-8', 'replace').strip()
        return {name: np.load(os.path.join(out, name + '.npy')) for name in case.outputs
                if os.path.exists(os.path.join(out, name + '.npy'))}, None


def expected(case, line, name):
    """The expected output: of ONNX Runtime, or that of the case in the type of the first input."""
    if case.want is None:
        return value_of(line)
    return case.want[case.outputs.index(name)].astype(np.float32 if case.brain else case.feeds['x0'].dtype)


def judge(case, way, want, got):
    """(fault or None, elements beside the table)."""
    if got is None:
        return 'has no such output', 0
    if case.brain and got.dtype == np.uint16:
        got = contrib_onnx.Brain.numbers(got)
    if got.dtype != want.dtype or got.shape != want.shape:
        return 'is %s %s, expected %s %s' % (got.dtype, list(got.shape), want.dtype, list(want.shape)), 0
    if got.tobytes() == want.tobytes() or want.size == 0:
        return None, 0
    if want.dtype.kind == 'f' and not np.isfinite(want).all():
        finite = np.isfinite(want)
        if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
            return 'has other NaN or Inf: %s, expected %s' % (got.tolist(), want.tolist()), 0
        got, want = np.where(finite, got, 0), np.where(finite, want, 0)
    far = np.abs(got.astype(np.float64) - want.astype(np.float64))
    bound = (case.units if way != 'no-quantize' else 1) if want.dtype in (np.uint8, np.int8) else 0
    if want.dtype.kind == 'f':
        bound = case.near * max(1.0, float(np.abs(want).max()))
    at = np.unravel_index(np.argmax(far), far.shape)
    if not far.max() <= bound:
        return 'element %s is %s, expected %s' % (list(map(int, at)), got[at], want[at]), 0
    return None, int((far > 0).sum()) if want.dtype.kind != 'f' else 0


def refused_in_a_run():
    """The same for models whose dimensions only the run knows."""
    q, more = np.zeros((2, 4, 6), np.float32), {'outputs': 2, 'q_num_heads': 2, 'kv_num_heads': 2, 'update_rule': 'linear'}
    yield "(ASSERT)", Case('a run with other steps of the key', 'LinearAttention', [q, np.zeros((2, 5, 6), np.float32), q], **more)
    yield "does not broadcast", Case('a run with another batch of the state', 'LinearAttention', [q, q, q, np.zeros((7, 2, 3, 3), np.float32)], **more)


def check_refusals(nnrt):
    passed = failed = 0
    for way, (part, case) in [('as it comes', r) for r in refused()] + [('dynamic', r) for r in refused_in_a_run()]:
        got, said = run(nnrt, case, way)
        good = got is None and part in said and 'nnrt' in said
        passed, failed = passed + good, failed + (not good)
        if not good:
            print('FAIL %s: %s, expected a refusal with "%s"' % (case.name, 'ran' if got is not None else said, part))
    return passed, failed


PROGRAM = """
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#include "core/nnrt_plan.h"
#include "m.c"
#include <stdio.h>
int main(void)
{
    static const float x[] = {%s};
%s
    return 0;
}
"""
FOREST = """    int64_t label[7];
    float scores[21];
    if (m_run(x, label, scores) != NNRT_SUCCESS)
        return 1;
    for (int i = 0; i < 7; i++)
        printf("%d %.9g %.9g %.9g\\n", (int)label[i], (double)scores[3 * i], (double)scores[3 * i + 1], (double)scores[3 * i + 2]);"""
PRODUCT = """    float y[42];
    if (m_run(x, y) != NNRT_SUCCESS)
        return 1;
    for (int i = 0; i < 42; i++)
        printf("%.9g\\n", (double)y[i]);"""


def as_c(nnrt, case, body):
    """The numbers that a model prints as C, compiled and run, a row for each line."""
    root = os.path.dirname(os.path.dirname(HERE))
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, 'main.c'), os.path.join(folder, 'main')
        with open(os.path.join(folder, 'm.onnx'), 'wb') as f:
            f.write(case.model)
        with open(source, 'w', encoding='ascii') as f:
            f.write(PROGRAM % (', '.join('%.9gf' % v if v % 1 else '%.1ff' % v for v in case.feeds['x0'].ravel().tolist()), body))
        subprocess.run([nnrt, 'emit-c', os.path.join(folder, 'm.onnx'), '-o', os.path.join(folder, 'm.c')], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run(['cc', '-std=c99', '-I', root, '-I', folder, '-ffunction-sections', '-o', program, source, '-lm'], check=True)
        lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    return np.array([line.split() for line in lines], np.float64)


def check_emitted(nnrt, table):
    """A random forest, and packed weights of 4 bits, as C: the results of ONNX Runtime."""
    passed = failed = 0
    for name, body in (('RandomForestClassifier 7 rows', FOREST), ('MatMulNBits 4 bits K 40 block 32 bias', PRODUCT)):
        case = next(case for case in every() if case.name == name)
        want = np.concatenate([value_of(table['%s | %s' % (name, output)]).reshape(7 if body == FOREST else 42, -1)
                               for output in case.outputs], axis=1)
        got = as_c(nnrt, case, body)
        good = got.shape == want.shape and np.abs(got - want).max() <= 1e-5 * max(1.0, np.abs(want).max())
        passed, failed = passed + good, failed + (not good)
        if not good:
            print('FAIL %s as C: %s' % (name, got))
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('nnrt', nargs='?')
    parser.add_argument('--ort', metavar='DIR', help='whose node_modules has onnxruntime-node')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--only', default='', metavar='TEXT')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    if args.write or args.check:
        with tempfile.TemporaryDirectory() as folder:
            lines = {'%s | %s' % key: line_of(value) for key, value in ask_runtime(folder, args.ort).items()}
        if args.write:
            with open(TABLE, 'w', encoding='ascii') as f:
                f.write('# ONNX Runtime 1.30.0, graph optimizations disabled: written by tests/formats/test_contrib.py --write\n')
                f.writelines('%s | %s\n' % item for item in lines.items())
            return 0
        with open(TABLE, encoding='ascii') as f:
            have = dict(line.rstrip('\n').rsplit(' | ', 1) for line in f if not line.startswith('#'))
        wrong = [key for key in lines if have.get(key) != lines[key]]
        print('\n'.join('FAIL %s: ONNX Runtime gives another result than the table' % key for key in wrong))
        print('%d passed, %d failed' % (len(lines) - len(wrong), len(wrong)))
        return 1 if wrong or not lines else 0
    with open(TABLE, encoding='ascii') as f:
        table = dict(line.rstrip('\n').rsplit(' | ', 1) for line in f if not line.startswith('#'))
    passed, failed = check_refusals(args.nnrt) if args.only == '' else (0, 0)
    if args.only == '':
        passed, failed = (a + b for a, b in zip((passed, failed), check_emitted(args.nnrt, table)))
        passed, failed = (a + b for a, b in zip((passed, failed), contrib_weights.test(args.nnrt)))
    units, listed = 0, listed_by(args.nnrt)
    untested = [name for name in listed if name.startswith((DOMAIN, contrib_ml.ML, contrib_onnx.PREVIEW)) and listed[name] != ' ' and name not in {case.op for case in every()}]
    print(''.join('FAIL %s has no case\n' % name for name in untested), end='')
    failed += len(untested)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = [(case, way, pool.submit(run, args.nnrt, case, way, listed)) for case in every() if args.only in case.name
                for way in ('as it comes', 'no-quantize', 'dynamic')]
        for case, way, job in jobs:
            got, said = job.result()
            for name in case.outputs:
                line = table.get('%s | %s' % (case.expected, name))
                if case.want is None and line is None:
                    fault, unit = 'is not in contrib.txt: write it again', 0
                elif got is None:
                    fault, unit = 'refused: ' + said, 0
                else:
                    fault, unit = judge(case, way, expected(case, line, name), got.get(name))
                passed, failed, units = passed + (fault is None), failed + (fault is not None), units + unit
                if fault is not None:
                    print('FAIL %s, %s, %s: %s' % (case.name, name, way, fault))
    print('%d 8-bit elements differ from ONNX Runtime, within the bounds' % units)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
