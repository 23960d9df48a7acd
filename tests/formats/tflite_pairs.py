#!/usr/bin/env python3
"""Draws random models of one operator and compares their results with TensorFlow Lite, by operator and element type.

    tflite_pairs.py [--number N] [--seed S] [--only TEXT] [--device NAME] --modules DIR NNRT   draws N models of each pair
    tflite_pairs.py NNRT                                  compares NNRT with tests/formats/tflite_pairs.txt: one model of each pair
    tflite_pairs.py --check|--write --modules DIR         compares tests/formats/tflite_pairs.txt with TensorFlow Lite, or writes it
    DIR is node_modules with @tensorflow/tfjs-tflite: TensorFlow Lite as WebAssembly, run by node.

Shapes, options, quantization parameters and elements of a model follow from its name: operator, type, seed, number. Floats may
differ by 1e-5 of the largest magnitude, 8-bit results by one unit for the pairs of ONE, everything else not at all. Prints a row
per pair: models that TensorFlow Lite runs, exact results, results off by one unit, models that NNRT refuses, and wrong results.
REFUSED lists models that NNRT refuses and TensorFlow Lite runs; models that TensorFlow Lite refuses are not compared. The exit
status is 1 if a result is wrong, or a model is refused that REFUSED does not list.
"""
import argparse
import collections
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import test_tflite as tflite  # noqa: E402

TABLE = os.path.join(HERE, 'tflite_pairs.txt')
QUANTIZED = ('int8', 'uint8')
NUMBERS = ('float32', 'int8', 'uint8')
WITH_INT = NUMBERS + ('int32', 'int64')
ALL = WITH_INT + ('bool',)
PAIRS = {}  # (operator, type): function that adds the operator to a Builder

# Pairs whose 8-bit results may differ by one unit, and why.
OTHER_MEAN = 'TensorFlow Lite computes the mean in other steps, some of which truncate'
ONE_ROUNDING = 'TensorFlow Lite rounds once, the bits of docs/quantization.md have two roundings'
OTHER_SUM = 'TensorFlow Lite computes the sum in float32'
ONE = {
    ('BATCH_MATMUL', 'int8'): ONE_ROUNDING,
    ('CONCATENATION', 'uint8'): 'TensorFlow Lite converts inputs with other parameters in float32',
    ('CONV_2D', 'int8'): ONE_ROUNDING,
    ('L2_NORMALIZATION', 'uint8'): 'TensorFlow Lite rounds otherwise than for int8, whose bits both types have here',
    ('MEAN', 'int8'): OTHER_MEAN,
    ('MEAN', 'uint8'): OTHER_MEAN,
    ('RESIZE_BILINEAR', 'uint8'): 'TensorFlow Lite interpolates uint8 in float32, here in integers as int8',
    ('SUM', 'int8'): OTHER_SUM,
    ('SUM', 'uint8'): OTHER_SUM,
}
# (operator, part of the message) of models that NNRT refuses and TensorFlow Lite runs: why.
REFUSED = {}


def pairs(operators, *kinds):
    def add(draw):
        for op in operators.split():
            for kind in kinds:
                assert (op, kind) not in PAIRS, (op, kind)
                PAIRS[op, kind] = lambda b, op=op, kind=kind: draw(b, b.random, op, kind)
        return draw
    return add


def size(r, low=1, high=5):
    return int(r.randint(low, high + 1))


def shape(r, low, high, largest=5):
    return tuple(size(r, 1, largest) for _ in range(size(r, low, high)))


def pick(r, *options):
    return options[r.randint(len(options))]


def flag(r):
    return bool(r.randint(2))


def quant(r, kind):
    """Random quantization parameters of an 8-bit type."""
    if kind not in QUANTIZED:
        return {}
    return {'scale': float(np.float32(r.uniform(0.01, 0.1))), 'zero': int(r.randint(-60, 61)) + 128 * (kind == 'uint8')}


def activation(r):
    return pick(r, 'NONE', 'NONE', 'RELU', 'RELU6', 'RELU_N1_TO_1')


def broadcast(r, ranks=3):
    """Two shapes that broadcast to one."""
    full = shape(r, 1, ranks)
    other = tuple(1 if r.randint(3) == 0 else n for n in full)[r.randint(len(full)) if flag(r) else 0:]
    if flag(r) and len(other) == len(full):
        full = tuple(1 if r.randint(4) == 0 and m > 1 else n for n, m in zip(full, other))
    return (full, other) if flag(r) else (other, full)


@pairs('ADD SUB MUL', 'float32', 'int8', 'uint8', 'int32', 'int64')
def arithmetic(b, r, op, kind):
    p, q = broadcast(r)
    b.out(op, [b.x(p, kind, **quant(r, kind)), b.x(q, kind, **quant(r, kind))], kind, version=2, **quant(r, kind),
          activation=activation(r))


@pairs('DIV FLOOR_DIV', 'float32', 'int32')
@pairs('DIV', 'uint8')
def divide(b, r, op, kind):
    p, q = broadcast(r)
    inputs, parameters = [b.x(p, kind, **quant(r, kind))], quant(r, kind)
    if kind == 'float32':
        value = b.draw(q, kind, low=0.2, high=3) * r.choice([-1, 1], q)
    elif kind == 'int32':
        value = r.randint(1, 20, q) * r.choice([-1, 1], q)
    else:
        away = r.randint(10, 60, q) * r.choice([-1, 1], q)
        value = np.clip(parameters['zero'] + away, 0, 255)
        value = np.where(value == parameters['zero'], parameters['zero'] + 1, value)
    b.out(op, inputs + [b.x(q, kind, value=value, **parameters)], kind, **quant(r, kind),
          **({'activation': activation(r)} if op == 'DIV' else {}))


@pairs('FLOOR_MOD', 'float32', 'int32', 'int64')
def modulo(b, r, op, kind):
    p, q = broadcast(r)
    value = b.draw(q, kind, low=0.3, high=3) * r.choice([-1, 1], q) if kind == 'float32' else r.randint(1, 9, q) * r.choice([-1, 1], q)
    b.out(op, [b.x(p, kind), b.x(q, kind, value=value)], kind)


@pairs('POW', 'float32', 'int32')
def power(b, r, op, kind):
    p, q = broadcast(r)
    if kind == 'int32':
        b.out(op, [b.x(p, kind, value=r.randint(-5, 6, p)), b.x(q, kind, value=r.randint(0, 6, q))], kind)
    else:
        b.out(op, [b.x(p, kind, low=0.1, high=3), b.x(q, kind)], kind)


@pairs('MAXIMUM MINIMUM', *WITH_INT)
@pairs('SQUARED_DIFFERENCE', 'float32', 'int32')
def extreme(b, r, op, kind):
    p, q = broadcast(r)
    parameters = quant(r, kind)
    b.out(op, [b.x(p, kind, **parameters), b.x(q, kind, **parameters)], kind, version=2 if kind in QUANTIZED else 1, **parameters)


@pairs('SQUARED_DIFFERENCE', 'int8')
def difference(b, r, op, kind):
    p, q = broadcast(r)
    b.out(op, [b.x(p, kind, **quant(r, kind)), b.x(q, kind, **quant(r, kind))], kind, version=2, scale=0.2, zero=quant(r, kind)['zero'])


@pairs('LESS LESS_EQUAL GREATER GREATER_EQUAL', *WITH_INT)
@pairs('EQUAL NOT_EQUAL', *ALL)
def comparison(b, r, op, kind):
    p, q = broadcast(r)
    parameters = quant(r, kind)
    other = parameters if flag(r) else quant(r, kind)
    if kind in QUANTIZED + ('bool',):
        x, y = b.draw(p, kind), b.draw(q, kind)
    else:
        x, y = r.randint(-2, 3, p), r.randint(-2, 3, q)
    b.out(op, [b.x(p, kind, value=x, **parameters), b.x(q, kind, value=y, **other)], 'bool', version=2)


@pairs('LOGICAL_AND LOGICAL_OR', 'bool')
def logical(b, r, op, kind):
    b.out(op, [b.x(s, kind) for s in broadcast(r)], kind)


@pairs('LOGICAL_NOT', 'bool')
@pairs('NEG', 'float32', 'int32', 'int64')
@pairs('FLOOR CEIL ROUND SIN COS EXP SQUARE ABS ELU', 'float32')
@pairs('ZEROS_LIKE', 'float32', 'int32', 'int64')
def unary(b, r, op, kind):
    b.out(op, [b.x(shape(r, 1, 4), kind)], kind)


@pairs('ABS', 'int8')
@pairs('LEAKY_RELU HARD_SWISH RELU RELU6 RELU_N1_TO_1', 'int8', 'uint8')
@pairs('ELU', 'int8')
def rescaled(b, r, op, kind):
    parameters = quant(r, kind)
    result = parameters if op.startswith('RELU') and flag(r) else quant(r, kind)
    b.out(op, [b.x(shape(r, 1, 4), kind, **parameters)], kind, version=2 if op != 'ELU' else 1, **result,
          **({'alpha': float(np.float32(r.uniform(-0.2, 1.2)))} if op == 'LEAKY_RELU' else {}))


@pairs('LEAKY_RELU HARD_SWISH RELU RELU6 RELU_N1_TO_1', 'float32')
def rectified(b, r, op, kind):
    b.out(op, [b.x(shape(r, 1, 4), kind, low=-8, high=8)], kind,
          **({'alpha': float(np.float32(r.uniform(-0.2, 1.2)))} if op == 'LEAKY_RELU' else {}))


@pairs('LOG SQRT RSQRT', 'float32')
def positive(b, r, op, kind):
    b.out(op, [b.x(shape(r, 1, 4), kind, low=0.01, high=9)], kind)


@pairs('LOGISTIC TANH', *NUMBERS)
def sigmoid(b, r, op, kind):
    scale, zero = (1 / 256, -128) if op == 'LOGISTIC' else (1 / 128, 0)
    b.out(op, [b.x(shape(r, 1, 4), kind, low=-6, high=6, **quant(r, kind))], kind, scale, zero + 128 * (kind == 'uint8'),
          2 if op == 'TANH' else 1)


@pairs('SOFTMAX LOG_SOFTMAX', *NUMBERS)
def softmax(b, r, op, kind):
    scale, zero = (1 / 256, -128) if op == 'SOFTMAX' else (16 / 256, 127)
    b.out(op, [b.x(shape(r, 1, 4, 9), kind, **quant(r, kind))], kind, scale, zero + 128 * (kind == 'uint8'), version=2,
          **({'beta': float(pick(r, 0.5, 1.0, 2.0))} if op == 'SOFTMAX' else {}))


@pairs('L2_NORMALIZATION', *NUMBERS)
def l2norm(b, r, op, kind):
    b.out(op, [b.x(shape(r, 1, 4, 9), kind, **quant(r, kind))], kind, 1 / 128, 128 * (kind == 'uint8'), version=2, activation='NONE')


@pairs('PRELU', *NUMBERS)
def prelu(b, r, op, kind):
    x = shape(r, 4, 4)
    slopes = pick(r, (1, 1, x[3]), (x[3],), (1, x[2], x[3]), x[1:], (1, 1, 1))
    b.out(op, [b.x(x, kind, **quant(r, kind)), b.weight(slopes, kind, **quant(r, kind))], kind, **quant(r, kind))


@pairs('LOCAL_RESPONSE_NORMALIZATION', 'float32')
def lrn(b, r, op, kind):
    b.out(op, [b.x(shape(r, 4, 4, 8))], kind, radius=size(r, 1, 4), bias=float(r.uniform(0.5, 2)), alpha=float(r.uniform(0.1, 1)),
          beta=float(r.uniform(0.3, 1)))


@pairs('ADD_N', 'float32', 'int32')
def add_n(b, r, op, kind):
    s = shape(r, 1, 4)
    b.out(op, [b.x(s, kind) for _ in range(size(r, 2, 4))], kind)


def filters(b, r, kind, full, channels, axis):
    """A weight: symmetric and mostly one scale per channel if it is int8. Returns its tensor and its scales."""
    if kind == 'float32':
        return b.weight(full), None
    if kind == 'uint8':
        q = quant(r, kind)
        return b.weight(full, kind, **q), np.array([q['scale']])
    scales = r.uniform(0.002, 0.02, channels if channels and r.randint(4) else 1).astype('float32')
    return b.c(r.randint(-127, 128, full), kind, scale=scales, zero=0, axis=axis), scales


def bias(b, r, count, x, scales):
    if scales is None:
        return b.weight((count,))
    products = scales * np.float32(x['scale'])
    return b.c(np.round(r.uniform(-1, 1, count) / products), 'int32', scale=products, zero=0)


def window(r, height, width, dilate):
    """Padding, strides, dilations and filter size that fit an image."""
    padding = pick(r, 'SAME', 'VALID')
    kh, kw = (size(r, 1, min(4, n)) for n in (height, width))
    dh, dw = (size(r, 1, 3) if dilate and (k - 1) * 3 < n else 1 for k, n in ((kh, height), (kw, width)))
    strides = (1, 1) if dh * dw > 1 else (size(r, 1, 3), size(r, 1, 3))
    return kh, kw, {'padding': padding, 'stride_h': strides[0], 'stride_w': strides[1]}, {'dilation_h': dh, 'dilation_w': dw}


@pairs('CONV_2D', *NUMBERS)
def conv(b, r, op, kind):
    height, width, channels, count = size(r, 1, 9), size(r, 1, 9), size(r, 1, 6), size(r, 1, 6)
    kh, kw, options, dilations = window(r, height, width, True)
    x = quant(r, kind)
    w, scales = filters(b, r, kind, (count, kh, kw, channels), count, 0)
    y = {'scale': float(np.float32(r.uniform(0.05, 0.3))), 'zero': x['zero']} if x else {}
    inputs = [b.x((size(r, 1, 2), height, width, channels), kind, **x), w, bias(b, r, count, x, scales)]
    b.out(op, inputs, kind, version=3, activation=activation(r), **options, **dilations, **y)


@pairs('DEPTHWISE_CONV_2D', *NUMBERS)
def depthwise(b, r, op, kind):
    height, width, channels, multiplier = size(r, 1, 9), size(r, 1, 9), size(r, 1, 6), size(r, 1, 3)
    kh, kw, options, dilations = window(r, height, width, True)
    options['stride_w'] = options['stride_h']
    x = quant(r, kind)
    w, scales = filters(b, r, kind, (1, kh, kw, channels * multiplier), channels * multiplier, 3)
    y = {'scale': float(np.float32(r.uniform(0.02, 0.2))), 'zero': x['zero']} if x else {}
    inputs = [b.x((size(r, 1, 2), height, width, channels), kind, **x), w, bias(b, r, channels * multiplier, x, scales)]
    b.out(op, inputs, kind, version=3, multiplier=multiplier, activation=activation(r), **options, **dilations, **y)


@pairs('TRANSPOSE_CONV', *NUMBERS)
def transposed(b, r, op, kind):
    height, width, channels, count, kh, kw, stride = (size(r, 1, n) for n in (5, 5, 4, 4, 4, 4, 3))
    padding = pick(r, 'SAME', 'VALID')
    sides = [n * stride - int(r.randint(stride)) if padding == 'SAME' else (n - 1) * stride + k + int(r.randint(stride))
             for n, k in ((height, kh), (width, kw))]
    x, batch = quant(r, kind), size(r, 1, 2)
    w, scales = filters(b, r, kind, (count, kh, kw, channels), count, 0)
    y = {'scale': float(np.float32(r.uniform(0.05, 0.3))), 'zero': x['zero']} if x else {}
    inputs = [b.c([batch] + sides + [count]), w, b.x((batch, height, width, channels), kind, **x)]
    if flag(r):
        inputs.append(bias(b, r, count, x, scales))
    b.out(op, inputs, kind, version=3, padding=padding, stride_h=stride, stride_w=stride, **y)


@pairs('AVERAGE_POOL_2D MAX_POOL_2D', *NUMBERS)
@pairs('L2_POOL_2D', 'float32')
def pool(b, r, op, kind):
    height, width = size(r, 1, 9), size(r, 1, 9)
    kh, kw, options, _ = window(r, height, width, False)
    parameters = quant(r, kind)
    b.out(op, [b.x((size(r, 1, 2), height, width, size(r, 1, 6)), kind, **parameters)], kind, version=2, filter_h=kh, filter_w=kw,
          activation=activation(r), **options, **parameters)


@pairs('CONV_3D', 'float32')
def conv3d(b, r, op, kind):
    sides, kernel = [size(r, 2, 6) for _ in range(3)], [size(r, 1, 2) for _ in range(3)]
    channels, count = size(r, 1, 3), size(r, 1, 3)
    b.out(op, [b.x((1, *sides, channels)), b.weight((*kernel, channels, count)), b.weight((count,))], kind,
          padding=pick(r, 'SAME', 'VALID'), stride_d=size(r, 1, 2), stride_h=size(r, 1, 2), stride_w=size(r, 1, 2), dilation_d=1,
          dilation_h=1, dilation_w=1, activation=activation(r))


@pairs('FULLY_CONNECTED', *NUMBERS)
def dense(b, r, op, kind):
    depth, count, x, rows = size(r, 1, 12), size(r, 1, 8), quant(r, kind), shape(r, 1, 3, 4)
    w, scales = filters(b, r, kind, (count, depth), 0, 0)
    y = {'scale': float(np.float32(r.uniform(0.05, 0.3))), 'zero': x['zero']} if x else {}
    inputs = [b.x((*rows, depth), kind, **x), w] + ([bias(b, r, count, x, scales)] if flag(r) else [-1])
    b.out(op, inputs, kind, version=6, activation=activation(r), keep_num_dims=flag(r), **y)


@pairs('BATCH_MATMUL', 'float32', 'int8')
def matmul(b, r, op, kind):
    m, k, n = size(r, 1, 6), size(r, 1, 6), size(r, 1, 6)
    p, q = broadcast(r, 2) if flag(r) else ((), ())
    first, second = flag(r), flag(r)
    y = {'scale': 0.3, 'zero': quant(r, kind)['zero']} if kind == 'int8' else {}
    b.out(op, [b.x((*p, k, m) if first else (*p, m, k), kind, **quant(r, kind)),
               b.x((*q, n, k) if second else (*q, k, n), kind, **quant(r, kind))], kind, version=2, adj_x=first, adj_y=second, **y)


@pairs('RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR', *NUMBERS)
def resize(b, r, op, kind):
    flags = pick(r, {}, {'align_corners': True}, {'half_pixel_centers': True})
    parameters = quant(r, kind)
    b.out(op, [b.x((size(r, 1, 2), size(r, 1, 7), size(r, 1, 7), size(r, 1, 4)), kind, **parameters),
               b.c([size(r, 2, 12), size(r, 2, 12)])], kind, version=3, **flags, **parameters)


def moved(b, r, op, kind, x, constants, version=2, **members):
    """An operator that moves elements: the result has the quantization parameters of the input."""
    parameters = quant(r, kind)
    b.out(op, [b.x(x, kind, **parameters)] + [b.c(c) for c in constants], kind, version=version, **members, **parameters)


@pairs('RESHAPE', *ALL)
def reshape(b, r, op, kind):
    x = shape(r, 1, 4)
    y = list(r.permutation(x + (1,) * size(r, 0, 1))) if flag(r) else [int(np.prod(x))]
    y = [int(n) for n in y]
    if flag(r):
        y[r.randint(len(y))] = -1
    moved(b, r, op, kind, x, [y], 1)


@pairs('SQUEEZE', *ALL)
def squeeze(b, r, op, kind):
    x = tuple(1 if flag(r) else n for n in shape(r, 2, 4))
    ones = [k for k, n in enumerate(x) if n == 1]
    chosen = [k - (len(x) if flag(r) else 0) for k in ones if flag(r)]
    moved(b, r, op, kind, x, [], 1, squeeze_dims=chosen)


@pairs('EXPAND_DIMS', *ALL)
def expand(b, r, op, kind):
    x = shape(r, 1, 3)
    moved(b, r, op, kind, x, [int(r.randint(-len(x) - 1, len(x) + 1))], 1)


@pairs('TRANSPOSE', *ALL)
def transpose(b, r, op, kind):
    x = shape(r, 1, 5)
    moved(b, r, op, kind, x, [r.permutation(len(x))])


@pairs('PAD', *WITH_INT)
def pad(b, r, op, kind):
    x = shape(r, 1, 4)
    moved(b, r, op, kind, x, [r.randint(0, 3, (len(x), 2))])


@pairs('PADV2', *WITH_INT)
def pad_v2(b, r, op, kind):
    x, parameters = shape(r, 1, 4), quant(r, kind)
    b.out(op, [b.x(x, kind, **parameters), b.c(r.randint(0, 3, (len(x), 2))), b.weight((), kind, **parameters)], kind, version=2,
          **parameters)


@pairs('MIRROR_PAD', *WITH_INT)
def mirror(b, r, op, kind):
    x, mode = shape(r, 1, 4), int(r.randint(2))
    moved(b, r, op, kind, x, [[[int(r.randint(0, n + mode)) for _ in range(2)] for n in x]], mode=mode)


@pairs('SLICE', *ALL)
def cut(b, r, op, kind):
    x = shape(r, 1, 4)
    begin = [int(r.randint(n)) for n in x]
    moved(b, r, op, kind, x, [begin, [-1 if r.randint(3) == 0 else size(r, 1, n - k) for n, k in zip(x, begin)]])


@pairs('STRIDED_SLICE', *ALL)
def strided(b, r, op, kind):
    while True:
        x = shape(r, 1, 4)
        begin, end = ([int(r.randint(-n - 1, n + 2)) for n in x] for _ in range(2))
        step = [int(pick(r, -2, -1, 1, 1, 2, 3)) for _ in x]
        masks = {name: int(r.randint(1 << len(x))) if flag(r) else 0 for name in ('begin_mask', 'end_mask', 'shrink_axis_mask')}
        chosen = [n for k, n in enumerate(x) if not masks['shrink_axis_mask'] >> k & 1]
        for k, n in enumerate(x):
            if masks['shrink_axis_mask'] >> k & 1:
                begin[k], step[k] = int(r.randint(-n, n)), 1
                end[k] = begin[k] + 1
                masks['begin_mask'] &= ~(1 << k)
        kept = [len(range(n)[slice(None if masks['begin_mask'] >> k & 1 else begin[k], None if masks['end_mask'] >> k & 1 else end[k],
                                   step[k])]) for k, n in enumerate(x) if not masks['shrink_axis_mask'] >> k & 1]
        if all(kept) and chosen:
            break
    moved(b, r, op, kind, x, [begin, end, step], **masks)


@pairs('GATHER', *ALL)
def gather(b, r, op, kind):
    x = shape(r, 1, 4)
    axis = int(r.randint(-len(x), len(x)))
    batches = int(r.randint(axis % len(x) + 1)) if r.randint(4) == 0 else 0
    index = x[:batches] + shape(r, 1, 2)
    moved(b, r, op, kind, x, [r.randint(0, x[axis], index)], 5 if batches else 2, axis=axis, **({'batch_dims': batches} if batches else {}))


@pairs('GATHER_ND', *WITH_INT)
def gather_nd(b, r, op, kind):
    x = shape(r, 1, 4)
    depth = size(r, 1, len(x))
    rows = shape(r, 1, 2)
    moved(b, r, op, kind, x, [np.stack([r.randint(0, n, rows) for n in x[:depth]], -1)])


@pairs('TILE', *ALL)
def tile(b, r, op, kind):
    x = shape(r, 1, 4, 3)
    moved(b, r, op, kind, x, [[size(r, 1, 3) for _ in x]], 1)


@pairs('BROADCAST_TO', *ALL)
def broadcast_to(b, r, op, kind):
    y = shape(r, 1, 4)
    moved(b, r, op, kind, tuple(1 if flag(r) else n for n in y)[r.randint(len(y)):], [y])


@pairs('REVERSE_V2', *ALL)
def reverse(b, r, op, kind):
    x = shape(r, 1, 4)
    moved(b, r, op, kind, x, [[int(r.randint(len(x)))]])


@pairs('DEPTH_TO_SPACE SPACE_TO_DEPTH', *WITH_INT)
def blocks(b, r, op, kind):
    n, h, w, c, block = size(r, 1, 2), size(r), size(r), size(r, 1, 4), size(r, 1, 3)
    x = (n, h, w, c * block * block) if op == 'DEPTH_TO_SPACE' else (n, h * block, w * block, c)
    moved(b, r, op, kind, x, [], block_size=block)


@pairs('SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND', *WITH_INT)
def batches(b, r, op, kind):
    block = [size(r, 1, 3), size(r, 1, 3)]
    sides = [n * size(r, 1, 3) for n in block]
    ends = [[int(r.randint(0, 2)), 0] if n > 2 else [0, 0] for n in sides]
    if op == 'SPACE_TO_BATCH_ND':
        x = (size(r, 1, 2), sides[0] - ends[0][0], sides[1] - ends[1][0], size(r, 1, 3))
    else:
        x = (size(r, 1, 2) * block[0] * block[1], sides[0] // block[0], sides[1] // block[1], size(r, 1, 3))
    moved(b, r, op, kind, x, [block, ends])


@pairs('REVERSE_SEQUENCE', *WITH_INT)
def reverse_sequence(b, r, op, kind):
    x = shape(r, 2, 4)
    batch, axis = (int(k) for k in r.permutation(len(x))[:2])
    moved(b, r, op, kind, x, [r.randint(1, x[axis] + 1, x[batch])], 1, seq_dim=axis, batch_dim=batch)


@pairs('CONCATENATION', *ALL)
def concat(b, r, op, kind):
    x, parameters, axis = shape(r, 1, 4), quant(r, kind), 0
    axis = int(r.randint(-len(x), len(x)))
    parts = [x[:axis % len(x)] + (size(r),) + x[axis % len(x) + 1:] for _ in range(size(r, 1, 4))]
    other = kind == 'uint8' and flag(r)
    b.out(op, [b.x(p, kind, **(quant(r, kind) if other else parameters)) for p in parts], kind, version=2, axis=axis, **parameters)


@pairs('PACK', *WITH_INT)
def pack(b, r, op, kind):
    x, parameters, count = shape(r, 1, 3), quant(r, kind), size(r, 1, 4)
    b.out(op, [b.x(x, kind, **parameters) for _ in range(count)], kind, version=2, values_count=count,
          axis=int(r.randint(-len(x) - 1, len(x) + 1)), **parameters)


@pairs('UNPACK', 'float32', 'int8', 'uint8', 'int32', 'bool')
def unpack(b, r, op, kind):
    x, parameters = shape(r, 1, 4, 4), quant(r, kind)
    axis = int(r.randint(-len(x), len(x)))
    b.op(op, [b.x(x, kind, **parameters)], [b.y(kind, **parameters) for _ in range(x[axis])], 2, num=x[axis], axis=axis)


@pairs('SPLIT', 'float32', 'int8', 'uint8', 'int32')
def split(b, r, op, kind):
    x, parameters, count = list(shape(r, 1, 4)), quant(r, kind), size(r, 1, 4)
    axis = int(r.randint(-len(x), len(x)))
    x[axis] = count * size(r, 1, 3)
    b.op(op, [b.c(axis), b.x(tuple(x), kind, **parameters)], [b.y(kind, **parameters) for _ in range(count)], 2, num_splits=count)


@pairs('SPLIT_V', *WITH_INT)
def split_v(b, r, op, kind):
    x, parameters, sizes = list(shape(r, 1, 4)), quant(r, kind), [size(r, 1, 3) for _ in range(size(r, 1, 4))]
    axis = int(r.randint(-len(x), len(x)))
    x[axis] = sum(sizes)
    if flag(r):
        sizes[r.randint(len(sizes))] = -1
    b.op(op, [b.x(tuple(x), kind, **parameters), b.c(sizes), b.c(axis)], [b.y(kind, **parameters) for _ in sizes], 2,
         num_splits=len(sizes))


@pairs('SELECT SELECT_V2', *ALL)
def select(b, r, op, kind):
    parameters = quant(r, kind)
    if op == 'SELECT':  # results have two elements or more: else TensorFlow Lite gives them the shape in the file
        condition = first = second = (size(r, 2),) + shape(r, 0, 3)
        condition = first[:1] if flag(r) else first
    else:
        first, second = broadcast(r)
        first += (size(r, 2),)
        second += first[-1:] if flag(r) else (1,)
        condition = tuple(1 if flag(r) else n for n in np.broadcast_shapes(first, second))
    b.out(op, [b.x(condition, 'bool') if flag(r) else b.c(b.draw(condition, 'bool'), 'bool'), b.x(first, kind, **parameters),
               b.x(second, kind, **parameters)], kind, **parameters)


@pairs('ARG_MAX ARG_MIN', 'float32', 'int8', 'uint8', 'int32')
def arg(b, r, op, kind):
    x, to = shape(r, 1, 4), pick(r, 'int32', 'int64')
    b.out(op, [b.x(x, kind, **quant(r, kind)), b.c(int(r.randint(-len(x), len(x))))], to, version=2, output_type=to)


@pairs('TOPK_V2', *WITH_INT)
def topk(b, r, op, kind):
    x, parameters = shape(r, 1, 3, 8), quant(r, kind)
    b.op(op, [b.x(x, kind, **parameters), b.c(size(r, 1, x[-1]))], [b.y(kind, **parameters), b.y('int32')], 2)


def axes_of(r, rank):
    chosen = [int(k) for k in r.permutation(rank)[:size(r, 1, rank)]]
    return [k - rank if r.randint(3) == 0 else k for k in chosen]


@pairs('MEAN', *NUMBERS)
@pairs('SUM', *WITH_INT)
def reduce_rescaled(b, r, op, kind):
    """TensorFlow Lite does not saturate a sum: its result has a scale that holds all sums."""
    x, parameters = shape(r, 1, 4), quant(r, kind)
    axes, result = axes_of(r, len(x)), parameters if flag(r) and op == 'MEAN' else quant(r, kind)
    if op == 'SUM' and result:
        result['scale'] = 4 * parameters['scale'] * int(np.prod([x[k] for k in axes]))
    b.out(op, [b.x(x, kind, **parameters), b.c(axes)], kind, version=2, keep_dims=flag(r), **result)


@pairs('REDUCE_MAX REDUCE_MIN', *WITH_INT)
@pairs('REDUCE_PROD', 'float32', 'int32', 'int64')
@pairs('REDUCE_ANY REDUCE_ALL', 'bool')
def reduce(b, r, op, kind):
    x, parameters = shape(r, 1, 4), quant(r, kind)
    b.out(op, [b.x(x, kind, **parameters), b.c(axes_of(r, len(x)))], kind, version=2, keep_dims=flag(r), **parameters)


@pairs('SHAPE RANK', *ALL)
def dimensions(b, r, op, kind):
    b.out(op, [b.x(shape(r, 1, 4), kind, **quant(r, kind))], 'int32', **({'out_type': 'int32'} if op == 'SHAPE' else {}))


@pairs('FILL', *ALL)
def fill(b, r, op, kind):
    parameters = quant(r, kind)
    b.out(op, [b.c(shape(r, 1, 4)), b.x((), kind, **parameters)], kind, version=2, **parameters)


@pairs('EMBEDDING_LOOKUP', *NUMBERS)
def lookup(b, r, op, kind):
    x, parameters = shape(r, 2, 4), quant(r, kind)
    index = r.randint(0, x[0], size(r))
    b.out(op, [b.x(None, 'int32', value=index), b.weight(x, kind, **parameters)], kind, version=2, **parameters)


@pairs('CUMSUM', 'float32', 'int32', 'int64')
def cumsum(b, r, op, kind):
    x = shape(r, 1, 4)
    b.out(op, [b.x(x, kind), b.c(int(r.randint(-len(x), len(x))))], kind, exclusive=flag(r), reverse=flag(r))


@pairs('SCATTER_ND', 'float32', 'int8', 'uint8', 'int32', 'int64')
def scatter(b, r, op, kind):
    y = shape(r, 1, 3)
    depth, count = size(r, 1, len(y)), size(r)
    index = np.stack([r.randint(0, n, count) for n in y[:depth]], -1)
    updates = r.randint(0, 20, (count, *y[depth:]))
    b.out(op, [b.c(index), b.x(None, kind, 0, 0, value=updates), b.c(y)], kind, 0, 0)


@pairs('SPARSE_TO_DENSE', 'float32', 'int8', 'uint8', 'int32', 'int64')
def sparse(b, r, op, kind):
    y = shape(r, 1, 4)
    places = np.sort(r.permutation(int(np.prod(y)))[:size(r)])
    index = np.stack(np.unravel_index(places, y), -1)
    b.out(op, [b.c(index), b.c(y), b.x((len(places),), kind, 0, 0), b.c(int(r.randint(3)), kind)], kind, 0, 0)


@pairs('ONE_HOT', 'float32', 'int8', 'uint8', 'int32', 'int64', 'bool')
def onehot(b, r, op, kind):
    x, depth = shape(r, 1, 3), size(r, 2, 6)
    b.out(op, [b.x(None, 'int32', value=r.randint(-1, depth + 1, x)), b.c(depth), b.c(pick(r, 1, 3) if kind != 'bool' else 1, kind),
               b.c(0, kind)], kind, 0, 0, axis=int(r.randint(-1, len(x) + 1)))


@pairs('RANGE', 'float32', 'int32')
def ranges(b, r, op, kind):
    step, count = pick(r, -3, -1, 1, 2), size(r, 1, 9)
    start = int(r.randint(-5, 6))
    b.out(op, [b.c(v, kind) for v in (start, start + step * count, step)], kind)


@pairs('CAST', 'float32', 'int32', 'int64', 'uint8', 'bool')
def cast(b, r, op, kind):
    x, to = shape(r, 1, 4), pick(r, *(k for k in ('float32', 'int32', 'int64', 'uint8', 'bool') if k != kind))
    value = r.uniform(0, 100, x) if kind == 'float32' else r.randint(0, 2 if kind == 'bool' else 100, x)
    b.out(op, [b.x(None, kind, 0, 0, value=value)], to, 0, 0, in_type=kind, out_type=to)


@pairs('QUANTIZE', *NUMBERS)
def quantize(b, r, op, kind):
    to = pick(r, *QUANTIZED)
    b.out(op, [b.x(shape(r, 1, 4, 7), kind, **quant(r, kind))], to, version=2, **quant(r, to))


@pairs('DEQUANTIZE', *QUANTIZED)
def dequantize(b, r, op, kind):
    b.out(op, [b.x(shape(r, 1, 4, 7), kind, **quant(r, kind))], 'float32', version=2)


@pairs('WHERE', 'bool')
def where(b, r, op, kind):
    b.out(op, [b.x(shape(r, 1, 4, 4), kind)], 'int64')


def models(number, seed, only=''):
    """{name of a model: function that builds it}"""
    return {'%s %s %d.%d' % (op, kind, seed, k): draw for (op, kind), draw in sorted(PAIRS.items()) for k in range(number)
            if only in '%s %s' % (op, kind)}


class Row:
    def __init__(self):
        self.ran = self.exact = self.one = self.refused = self.wrong = 0


def compare(nnrt, device, cases, expected):
    """{(operator, type): Row}; prints wrong results and refusals."""
    rows, refusals = collections.defaultdict(Row), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for k, name, b in tflite.write_models(folder, sorted(cases), cases=cases):
            want, pair = tflite.parse(expected[name]), tuple(name.split()[:2])
            row = rows[pair]
            if isinstance(want, str):
                continue
            row.ran += 1
            path = '%s/%d' % (folder, k)
            inputs = [a for i in range(len(b.values)) for a in ('--input', 'x%d=%s_%d.npy' % (i, path, i))]
            done = subprocess.run([nnrt, 'run', path + '.tflite', *inputs, '--device', device, '--output-dir', path],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                message = done.stderr.strip()
                listed = [entry for entry in REFUSED if entry[0] == pair[0] and entry[1] in message]
                refusals.update(listed)
                row.refused += 1
                if not listed:
                    print('REFUSED %s: %s' % (name, message[-300:]))
                    row.wrong += 1
                continue
            got = [np.load('%s/y%d.npy' % (path, i)) for i in range(len(b.outputs))]
            problem = tflite.compare(got, want, pair in ONE)
            if problem not in (None, 'one'):
                print('WRONG %s: %s' % (name, problem))
            row.exact += problem is None
            row.one += problem == 'one'
            row.wrong += problem not in (None, 'one')
    return rows, refusals


def print_rows(rows, refusals):
    print('%-28s %-8s %6s %6s %10s %8s %6s' % ('operator', 'type', 'models', 'exact', 'off by one', 'refused', 'wrong'))
    for (op, kind), row in sorted(rows.items()):
        print('%-28s %-8s %6d %6d %10d %8d %6d' % (op, kind, row.ran, row.exact, row.one, row.refused, row.wrong))
    for entry, count in sorted(refusals.items()):
        print('%d refused: %s, %s: %s' % (count, *entry, REFUSED[entry]))
    for pair in sorted(p for p in ONE if p in rows and rows[p].one):
        print('%d off by one: %s %s: %s' % (rows[pair].one, *pair, ONE[pair]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('nnrt', nargs='?')
    parser.add_argument('--number', type=int, default=20)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', default='')
    parser.add_argument('--device', default='reference')
    parser.add_argument('--modules')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--write', action='store_true')
    args = parser.parse_args()
    recorded = models(1, 0)
    if args.check or args.write:
        return tflite.check_table(TABLE, args.modules, recorded, args.write, 'tflite_pairs.py')
    if args.modules is None:
        cases, expected = {n: d for n, d in recorded.items() if args.only in n}, tflite.read_table(TABLE)
    else:
        cases = models(args.number, args.seed, args.only)
        expected = tflite.run_tflite(args.modules, cases)
    rows, refusals = compare(args.nnrt, args.device, cases, expected)
    if args.modules is not None:
        print_rows(rows, refusals)
    ran = [row for row in rows.values() if row.ran > 0]
    total = {name: sum(getattr(row, name) for row in ran) for name in ('ran', 'exact', 'one', 'refused', 'wrong')}
    print('%d operator-type pairs, %d models: %d exact or within 1e-5, %d off by one unit where stated, %d refused, %d wrong' % (
        len(ran), total['ran'], total['exact'], total['one'], total['refused'], total['wrong']))
    print('%d passed, %d failed, %d skipped' % (total['exact'] + total['one'], total['wrong'], total['refused']))
    return 1 if total['wrong'] > 0 or len(ran) == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
