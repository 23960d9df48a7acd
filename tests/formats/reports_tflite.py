"""Cases of test_reports.py: files of TensorFlow Lite."""
import numpy as np

from reports_case import FLOAT32, case, draw
from reports_windows import conv


def conv_same(x, w, bias, strides):
    """CONV_2D with padding SAME, channels last: ceil(size / stride) elements, the smaller half of the pads before the image."""
    pads = []
    for n, k, s in zip(x.shape[1:3], w.shape[1:3], strides):
        total = max(0, (-(-n // s) - 1) * s + k - n)
        pads.append((total // 2, total - total // 2))
    y = conv(x.transpose(0, 3, 1, 2), w.transpose(0, 3, 1, 2), bias, list(strides), [p[0] for p in pads] + [p[1] for p in pads])
    return y.transpose(0, 2, 3, 1).astype(np.float32)


@case('google-ai-edge/LiteRT/issues/4847', kind='tflite')
def tflite_conv_stride_beyond_filter(m):
    x, w, bias = draw(1, 17, 18, 7), draw(16, 3, 3, 7, seed=1, scale=0.2), draw(16, seed=2)
    want = conv_same(x, w, bias, (10, 10))
    assert want.shape == (1, 2, 2, 16)
    m.op('CONV_2D', [m.x(x), m.c(w), m.c(bias)], want, FLOAT32, padding='SAME', stride_h=10, stride_w=10, dilation_h=1,
         dilation_w=1)


@case('google-ai-edge/LiteRT/issues/9256', kind='tflite')
def tflite_conv_uneven_strides(m):
    x, w, bias = draw(1, 12, 12, 3), draw(4, 3, 3, 3, seed=1), draw(4, seed=2)
    given = [m.x(x), m.c(w), m.c(bias)]
    for strides in ((3, 4), (4, 3), (5, 1)):
        m.op('CONV_2D', given, conv_same(x, w, bias, strides), FLOAT32, padding='SAME', stride_h=strides[0],
             stride_w=strides[1], dilation_h=1,
             dilation_w=1)


@case('onnxsim/onnxsim/issues/1436', kind='tflite')
def tflite_transpose_then_product(m):
    x = draw(1, 4, 4, 3)
    given = m.x(x)
    first = m.op('TRANSPOSE', [given, m.c([0, 3, 1, 2], np.int32)], x.transpose(0, 3, 1, 2).copy())
    want = x.transpose(0, 3, 1, 2) @ x.transpose(0, 3, 1, 2)
    product = m.op('BATCH_MATMUL', [first, first], want, FLOAT32, 1, adj_x=False, adj_y=False)
    m.op('TRANSPOSE', [product, m.c([0, 2, 3, 1], np.int32)], want.transpose(0, 2, 3, 1).copy(), FLOAT32)
    m.op('BATCH_MATMUL', [first, first], x.transpose(0, 3, 1, 2) @ x.transpose(0, 3, 2, 1), FLOAT32, 1, adj_x=False, adj_y=True)


@case('tensorflow/tensorflow/issues/99072', kind='tflite')
def tflite_conv_int8_rounding(m):
    random = np.random.RandomState(7)
    x, w = random.randint(-128, 128, (1, 6, 6, 4)).astype(np.int8), random.randint(-127, 128, (8, 3, 3, 4)).astype(np.int8)
    scales, bias = np.float32(0.002 + 0.001 * np.arange(8)), random.randint(-5000, 5000, 8).astype(np.int32)
    first, last = (0, 3, 1, 2), (0, 2, 3, 1)
    sums = conv((x.astype(np.int64) + 12).transpose(first), w.astype(np.int64).transpose(first)).transpose(last) + bias
    exact = sums * (np.float64(np.float32(0.05)) * scales.astype(np.float64) / np.float64(np.float32(0.3)))
    want = np.clip(np.rint(exact) - 7, -128, 127).astype(np.int8)
    weight = m.c(w, scale=list(map(float, scales)), zero=[0] * 8, axis=0)
    biases = m.c(bias, scale=[float(np.float32(0.05) * s) for s in scales], zero=[0] * 8, axis=0)
    # a unit: one rounding or two, by 31 bits and by a shift, are both conformant
    m.op('CONV_2D', [m.x(x, scale=0.05, zero=-12), weight, biases], want, 1, 3, quant={'scale': 0.3, 'zero': -7},
         padding='VALID', stride_h=1,
         stride_w=1, dilation_h=1, dilation_w=1)


@case('tensorflow/tensorflow/issues/66358', kind='tflite')
def tflite_fully_connected_int8(m):
    random = np.random.RandomState(8)
    x, w = random.randint(-128, 128, (3, 20)).astype(np.int8), random.randint(-127, 128, (5, 20)).astype(np.int8)
    bias, (sx, sw, sy) = np.int32([900, -77, 0, 5, -4000]), np.float32([0.04, 0.015, 0.2]).astype(np.float64)
    sums = (x.astype(np.int64) - 9) @ w.astype(np.int64).T + bias
    want = np.clip(np.rint(sums * (sx * sw / sy)) + 3, -128, 127).astype(np.int8)
    given = [m.x(x, scale=sx, zero=9), m.c(w, scale=sw, zero=0), m.c(bias, scale=sx * sw)]
    m.op('FULLY_CONNECTED', given, want, 1, 4, quant={'scale': sy, 'zero': 3})  # a unit, as for CONV_2D


@case('tensorflow/tensorflow/pull/126600', kind='tflite')
def tflite_constant_of_more_bytes(m):
    x = draw(2, 3)
    longer = m.m.tensor('longer', 'float32', [2, 3], data=np.concatenate([x.ravel(), np.ones(1000, np.float32)]).tobytes())
    first = m.op('RESHAPE', [longer, m.c([3, 2], np.int32)], x.reshape(3, 2), new_shape=[3, 2])
    m.op('ADD', [first, m.x(np.zeros((3, 2), np.float32))], x.reshape(3, 2), 0.0)
    m.refused = "constant 'longer' has 4024 bytes, its shape and type float32 require 24"


@case('tensorflow/tensorflow/issues/111637', kind='tflite')
def tflite_tile_beyond_32_bits(m):
    x = np.zeros(65537, np.float32)
    m.op('TILE', [m.x(x), m.c([65536], np.int32)], np.zeros(65536, np.float32), 0.0)
    m.refused = 'axis 0 of size 65537, repeated 65536 times: too large'


@case('tensorflow/tensorflow/issues/111458', kind='tflite')
def tflite_dimension_of_most(m):
    x = np.zeros(4, np.float32)
    m.feeds['x_0'] = x
    m.m.inputs.append(m.m.tensor('x_0', 'float32', [2**31 - 1, 2**31 - 1, 2**31 - 1]))
    m.op('ADD', [m.m.inputs[0], m.c(x)], x, 0.0)
    m.refused = 'float32[2147483647,2147483647,2147483647]: its size does not fit in size_t'
