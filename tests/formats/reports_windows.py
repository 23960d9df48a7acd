"""Cases of test_reports.py: convolutions, pooling, padding, resizing, sampling, boxes."""
import itertools

import numpy as np

from reports_case import FLOAT32, case, draw


def conv(x, w, bias=None, strides=None, pads=None, dilations=None, group=1, pad_value=0.0):
    """Conv in float64 (integers in int64): a sum over the taps of the filter, of shifted images."""
    axes = w.ndim - 2
    strides, dilations, pads = strides or [1] * axes, dilations or [1] * axes, pads or [0] * 2 * axes
    kind = np.int64 if x.dtype.kind in 'iu' else np.float64
    x = np.pad(x.astype(kind), [(0, 0), (0, 0)] + list(zip(pads[:axes], pads[axes:])), constant_values=pad_value)
    sizes = [(n - d * (k - 1) - 1) // s + 1 for n, k, d, s in zip(x.shape[2:], w.shape[2:], dilations, strides)]
    y = np.zeros([x.shape[0], w.shape[0]] + sizes, kind)
    each, made = w.shape[1], w.shape[0] // group
    for g in range(group):
        for tap in np.ndindex(*w.shape[2:]):
            cut = tuple(slice(t * d, t * d + s * (n - 1) + 1, s) for t, d, s, n in zip(tap, dilations, strides, sizes))
            part = x[(slice(None), slice(g * each, (g + 1) * each)) + cut]
            y[:, g * made:(g + 1) * made] += np.einsum('nc...,mc->nm...', part,
                                                       w[(slice(g * made, (g + 1) * made), slice(None)) + tap].astype(kind))
    return y if bias is None else y + bias.reshape([-1] + [1] * axes)


def conv_transpose(x, w, strides=None, pads=None, dilations=None, group=1, output_padding=None):
    """ConvTranspose in float64: each element adds the filter, then the pads are cut off. Without `pads`: the whole result."""
    axes = w.ndim - 2
    strides, dilations = strides or [1] * axes, dilations or [1] * axes
    pads, more = pads or [0] * 2 * axes, output_padding or [0] * axes
    sizes = [s * (n - 1) + d * (k - 1) + 1 + o for n, k, d, s, o in zip(x.shape[2:], w.shape[2:], dilations, strides, more)]
    each, made = x.shape[1] // group, w.shape[1]
    y = np.zeros([x.shape[0], made * group] + sizes)
    for g in range(group):
        for tap in np.ndindex(*w.shape[2:]):
            to = tuple(slice(t * d, t * d + s * (n - 1) + 1, s) for t, d, s, n in zip(tap, dilations, strides, x.shape[2:]))
            part = np.einsum('nc...,cm->nm...', x[:, g * each:(g + 1) * each].astype(np.float64),
                             w[(slice(g * each, (g + 1) * each), slice(None)) + tap].astype(np.float64))
            y[(slice(None), slice(g * made, (g + 1) * made)) + to] += part
    return y[(slice(None), slice(None)) + tuple(slice(a, n - b) for a, b, n in zip(pads[:axes], pads[axes:], sizes))]


def pool(x, kernel, strides=None, pads=None, dilations=None, ceil=0, include=0, kind='max'):
    """MaxPool or AveragePool in float64 by loops. An average counts the elements of the window inside the image, with include
    those inside the padded image. A window that begins behind the image and its first pad makes no element."""
    axes = len(kernel)
    strides, dilations, pads = strides or [1] * axes, dilations or [1] * axes, pads or [0] * 2 * axes
    sizes = []
    for n, k, s, d, a, b in zip(x.shape[2:], kernel, strides, dilations, pads[:axes], pads[axes:]):
        span = n + a + b - d * (k - 1) - 1
        size = (-(-span // s) if ceil else span // s) + 1
        sizes.append(size - (ceil and (size - 1) * s >= n + a))
    y = np.zeros(list(x.shape[:2]) + sizes)
    for at in np.ndindex(*sizes):
        rows = [[i * s + t * d - a for t in range(k)] for i, s, d, a, k in zip(at, strides, dilations, pads, kernel)]
        inside = [[r for r in row if 0 <= r < n] for row, n in zip(rows, x.shape[2:])]
        counted = [[r for r in row if -a <= r < n + b] for row, n, a, b in zip(rows, x.shape[2:], pads[:axes], pads[axes:])]
        part = x[(slice(None), slice(None)) + np.ix_(*inside)].astype(np.float64).reshape(x.shape[0], x.shape[1], -1)
        number = np.prod([len(row) for row in (counted if include else inside)])
        y[(slice(None), slice(None)) + at] = part.max(-1) if kind == 'max' else part.sum(-1) / number
    return y


def half_even_pads(total, upper):
    return (total // 2, total - total // 2) if upper else (total - total // 2, total // 2)


# ---- convolutions ----

@case('rustnn/rustnn/pull/27')
def conv_four_pads(m):
    x, w, v = draw(2, 3, 6, 5), draw(4, 3, 3, 3, seed=1), draw(3, 2, 3, 3, seed=2)
    given, pads = m.x(x, still=(1,)), [2, 0, 1, 3]
    m.want(m.op('Conv', given, m.c(w), pads=pads, strides=[2, 1]), conv(x, w, None, [2, 1], pads).astype(np.float32), FLOAT32)
    m.want(m.op('ConvTranspose', given, m.c(v), pads=pads, strides=[2, 2]),
           conv_transpose(x, v, [2, 2], pads).astype(np.float32), FLOAT32)


@case('tracel-ai/burn/pull/3542')
def conv_same_lower(m):
    x, w = draw(1, 2, 7, 8), draw(3, 2, 4, 3, seed=1)
    given = m.x(x, still=True)
    for word in ('SAME_LOWER', 'SAME_UPPER'):
        pads = [half_even_pads(max(0, (-(-n // 2) - 1) * 2 + k - n), word == 'SAME_UPPER') for n, k in ((7, 4), (8, 3))]
        want = conv(x, w, None, [2, 2], [p[0] for p in pads] + [p[1] for p in pads])
        m.want(m.op('Conv', given, m.c(w), auto_pad=word, strides=[2, 2]), want.astype(np.float32), FLOAT32)


@case('robertknight/rten/pull/333')
def conv_pads_not_set(m):
    x, w = draw(1, 2, 5, 6), draw(2, 2, 3, 3, seed=1)
    given = m.x(x, still=(1,))
    m.want(m.op('Conv', given, m.c(w), auto_pad='NOTSET', pads=[0, 1, 0, 0]),
           conv(x, w, None, None, [0, 1, 0, 0]).astype(np.float32), FLOAT32)
    m.want(m.op('MaxPool', given, auto_pad='NOTSET', kernel_shape=[3, 3]), pool(x, [3, 3]).astype(np.float32))


@case('modular/modular/issues/6129')
def conv_groups_long_kernel(m):
    x, w, b = draw(1, 16, 40), draw(8, 4, 128, seed=1, scale=0.1), draw(8, seed=2)
    y = m.op('Conv', m.x(x, still=(1,)), m.c(w), m.c(b), group=4, pads=[64, 64])
    m.want(y, conv(x, w, b, None, [64, 64], None, 4).astype(np.float32), 1e-5)  # sums of 160 products


@case('apache/tvm/issues/18601')
def conv_transpose_output_padding(m):
    x, w = draw(1, 3, 7, 7), draw(3, 2, 3, 3, seed=1)
    y = m.op('ConvTranspose', m.x(x, still=(1,)), m.c(w), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    want = conv_transpose(x, w, [2, 2], [1, 1, 1, 1], None, 1, [1, 1])
    assert want.shape == (1, 2, 14, 14)
    m.want(y, want.astype(np.float32), FLOAT32)


@case('openvinotoolkit/openvino/pull/32608')
def conv_transpose_same(m):
    x = draw(1, 2, 5, 4)
    given = m.x(x, still=True)
    for word, size, stride in (('SAME_UPPER', 3, 1), ('SAME_LOWER', 3, 2), ('SAME_UPPER', 4, 2), ('SAME_UPPER', 5, 2),
                               ('SAME_LOWER', 4, 1)):
        w = draw(2, 3, size, size, seed=size)
        pads = half_even_pads(size - stride, word == 'SAME_UPPER')
        want = conv_transpose(x, w, [stride] * 2, [pads[0], pads[0], pads[1], pads[1]])
        assert want.shape[2:] == (5 * stride, 4 * stride)
        m.want(m.op('ConvTranspose', given, m.c(w), auto_pad=word, strides=[stride] * 2), want.astype(np.float32), FLOAT32)


@case('root-project/root/pull/23088')
def conv_transpose_output_shape(m):
    x, w = draw(1, 2, 4, 3), draw(2, 3, 3, 3, seed=1)
    given = m.x(x, still=True)
    for word in ('SAME_UPPER', 'NOTSET'):
        full = [3 * 3 + 2 * 2 + 1, 3 * 2 + 2 * 2 + 1]
        pads = [half_even_pads(n - m_, word == 'SAME_UPPER') for n, m_ in zip(full, (11, 8))]
        want = conv_transpose(x, w, [3, 3], [p[0] for p in pads] + [p[1] for p in pads], [2, 2])
        y = m.op('ConvTranspose', given, m.c(w), auto_pad=word, strides=[3, 3], dilations=[2, 2], output_shape=[11, 8])
        m.want(y, want.astype(np.float32), FLOAT32)


@case('alibaba/MNN/issues/2916')
def conv_transpose_groups_then_norm(m):
    x, w = draw(2, 4, 5, 3), draw(4, 3, 3, 3, seed=1)
    scale, bias, mean, var = draw(6, seed=2), draw(6, seed=3), draw(6, seed=4), np.abs(draw(6, seed=5)) + 0.5
    y = m.op('ConvTranspose', m.x(x, still=(1,)), m.c(w), m.c(draw(6, seed=6)), strides=[2, 1], group=2)
    y = m.op('BatchNormalization', y, m.c(scale), m.c(bias), m.c(mean), m.c(var))
    shape = (1, 6, 1, 1)
    want = conv_transpose(x, w, [2, 1], None, None, 2) + draw(6, seed=6).reshape(shape)
    want = (want - mean.reshape(shape)) / np.sqrt(var.reshape(shape) + 1e-5) * scale.reshape(shape) + bias.reshape(shape)
    m.want(y, want.astype(np.float32), 1e-5)  # the scale and the sums are rounded


@case('robertknight/rten/pull/1193')
def conv_integer_zero_points_of_groups(m):
    random = np.random.RandomState(5)
    x, w = random.randint(0, 256, (1, 4, 5, 5)).astype(np.uint8), random.randint(0, 256, (6, 2, 3, 3)).astype(np.uint8)
    zeros = random.randint(0, 256, 6).astype(np.uint8)
    want = conv(x.astype(np.int32) - 7, w.astype(np.int32) - zeros.reshape(6, 1, 1, 1), group=2)
    m.want(m.op('ConvInteger', m.x(x, still=(1,)), m.c(w), m.c(np.uint8(7)), m.c(zeros), group=2), want.astype(np.int32))


@case('ROCm/AMDMIGraphX/pull/3763')
def conv_integer_zero_point_forms(m):
    random = np.random.RandomState(6)
    x, w = random.randint(0, 256, (2, 2, 4, 5)).astype(np.uint8), random.randint(-128, 128, (3, 2, 2, 2)).astype(np.int8)
    given = m.x(x, still=(1,)), m.c(w)
    for a, b in ((9, -3), (0, 5), (255, 0)):
        want = conv(x.astype(np.int32) - a, w.astype(np.int32) - b, pads=[1, 0, 0, 1]).astype(np.int32)  # pads are zero points
        m.want(m.op('ConvInteger', *given, m.c(np.uint8(a)), m.c(np.int8(b)), pads=[1, 0, 0, 1]), want)
        m.want(m.op('ConvInteger', *given, m.c(np.uint8(a)), m.c([b], np.int8), pads=[1, 0, 0, 1]), want)


@case('microsoft/onnxruntime/issues/28447')
def qlinear_conv_zero_points(m):
    x, w, zeros = np.full((1, 1, 3, 3), 130, np.uint8), np.full((2, 1, 2, 2), 100, np.uint8), np.uint8([5, 90])
    real = conv((x.astype(np.int32) - 128), w.astype(np.int32) - zeros.reshape(2, 1, 1, 1)) * (0.05 * 0.02)
    want = np.clip(np.rint(real / 0.1) + 128, 0, 255).astype(np.uint8)
    scales = m.c([0.02, 0.02], np.float32)
    y = m.op('QLinearConv', m.x(x, still=(1,)), m.c(np.float32(0.05)), m.c(np.uint8(128)), m.c(w), scales, m.c(zeros),
             m.c(np.float32(0.1)), m.c(np.uint8(128)))
    m.want(y, want)


# ---- pooling ----

@case('microsoft/onnxruntime/issues/24681', opset=19)
def average_pool_pads_after(m):
    x = np.arange(12).reshape(1, 1, 6, 2).astype(np.float32)
    y = m.op('AveragePool', m.x(x, still=True), kernel_shape=[5, 1], auto_pad='SAME_LOWER', count_include_pad=1)
    m.want(y, pool(x, [5, 1], None, [2, 0, 2, 0], None, 0, 1, 'average').astype(np.float32), FLOAT32)


@case('microsoft/onnxruntime/pull/29629', opset=11)
def average_pool_ceil_before_19(m):
    x, y = draw(1, 2, 9), draw(1, 1, 6, 7, seed=1)
    m.want(m.op('AveragePool', m.x(x, still=True), kernel_shape=[7], strides=[3], pads=[3, 3], ceil_mode=1,
                count_include_pad=1),
           pool(x, [7], [3], [3, 3], None, 1, 1, 'average').astype(np.float32), FLOAT32)
    for include in (0, 1):
        pooled = m.op('AveragePool', m.x(y, still=True), kernel_shape=[3, 3], strides=[2, 3], pads=[1, 0, 0, 1], ceil_mode=1,
                      count_include_pad=include)
        m.want(pooled, pool(y, [3, 3], [2, 3], [1, 0, 0, 1], None, 1, include, 'average').astype(np.float32), FLOAT32)


@case('microsoft/onnxruntime/pull/27375', opset=19)
def average_pool_dilated_pads(m):
    x = draw(2, 2, 7, 6)
    given = m.x(x)
    for include in (0, 1):
        y = m.op('AveragePool', given, kernel_shape=[3, 2], dilations=[2, 3], pads=[1, 2, 2, 1], strides=[1, 2],
                 count_include_pad=include)
        m.want(y, pool(x, [3, 2], [1, 2], [1, 2, 2, 1], [2, 3], 0, include, 'average').astype(np.float32), FLOAT32)


@case('openvinotoolkit/openvino/issues/20879', opset=12)
def max_pool_column_indices(m):
    x = draw(2, 3, 4, 5)
    given = m.x(x, still=True)
    for order in (0, 1):
        values, places = m.op('MaxPool', given, outputs=2, kernel_shape=[2, 3], strides=[2, 1], storage_order=order)
        want = np.zeros((2, 3, 2, 3), np.int64)
        for n, c, i, j in np.ndindex(*want.shape):
            part = x[n, c, 2 * i:2 * i + 2, j:j + 3]
            row, column = np.unravel_index(part.argmax(), part.shape)
            row, column = 2 * i + row, j + column
            want[n, c, i, j] = (n * 3 + c) * 20 + (column * 4 + row if order else row * 5 + column)
        m.want(values, pool(x, [2, 3], [2, 1]).astype(np.float32))
        m.want(places, want)


@case('Xilinx/onnx-mlir/pull/560')
def pool_ceil_then_join(m):
    x = draw(1, 2, 8, 8)
    given = m.x(x, still=True)
    a = m.op('MaxPool', given, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    b = m.op('AveragePool', given, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    want = [pool(x, [3, 3], [2, 2], None, None, 1, 0, kind) for kind in ('max', 'average')]
    assert want[0].shape == (1, 2, 4, 4)
    m.want(m.op('Concat', a, b, axis=1), np.concatenate(want, 1).astype(np.float32), FLOAT32)


# ---- padding ----

@case('onnx/onnx/issues/6735', opset=17)
def pad_reflect_wider_than_image(m):
    x = draw(2, 3, 5, 4)
    pads = [1, 0, 4, 1, 1, 1, 3, 0]
    m.want(m.op('Pad', m.x(x, still=True), m.ints(*pads), mode='reflect'), np.pad(x, list(zip(pads[:4], pads[4:])), 'reflect'))


@case('microsoft/onnxruntime/issues/20801', opset=20)
def pad_reflect_repeatedly(m):
    x = np.float32([[1.0, 1.2], [2.3, 3.4], [4.5, 5.7]])
    m.want(m.op('Pad', m.x(x, still=True), m.ints(0, 2, 0, 0), mode='reflect'), np.pad(x, ((0, 0), (2, 0)), 'reflect'))
    m.want(m.op('Pad', m.x(x, still=True), m.ints(0, 0, 5, 4), mode='reflect'), np.pad(x, ((0, 5), (0, 4)), 'reflect'))


@case('robertknight/rten/pull/1406', opset=19)
def pad_negative(m):
    x = draw(4, 6)
    given = m.x(x, still=True)
    cut = x[1:, :4]
    for mode in ('constant', 'reflect', 'edge', 'wrap'):
        y = m.op('Pad', given, m.ints(-1, 2, 2, -2), *([m.c(np.float32(7))] if mode == 'constant' else []), mode=mode)
        more = {'constant_values': 7} if mode == 'constant' else {}
        m.want(y, np.pad(cut, ((0, 2), (2, 0)), mode, **more))


@case('ROCm/AMDMIGraphX/issues/2763', opset=18)
def pad_value_of_one_element(m):
    x = draw(2, 3)
    given = m.x(x)
    m.want(m.op('Pad', given, m.ints(0, 1, 1, 0), m.c([2.5], np.float32)), np.pad(x, ((0, 1), (1, 0)), constant_values=2.5))
    m.want(m.op('Pad', given, m.ints(2, 1), None, m.ints(-1)), np.pad(x, ((0, 0), (2, 1))))


# ---- resizing and sampling ----

def cubic(d, a):
    d = np.abs(d)
    far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
    return np.where(d <= 1, (a + 2) * d**3 - (a + 3) * d**2 + 1, np.where(d < 2, far, 0))


def resize_matrix(n, scale, weight, support, edge):
    """The matrix [floor(n * scale), n] of one axis with half pixels. edge: the plain filter, elements at the edges repeated;
    None: a filter that is stretched when the image shrinks, elements outside dropped, weights normalized."""
    size = int(np.floor(n * scale))
    matrix, stretch = np.zeros((size, n)), min(scale, 1) if edge is None else 1
    for i in range(size):
        center = (i + 0.5) / scale - 0.5
        for j in range(int(np.floor(center - support / stretch)) - 1, int(np.ceil(center + support / stretch)) + 2):
            if edge is None and 0 <= j < n:
                matrix[i, j] += weight((j - center) * stretch)
            elif edge is not None:
                matrix[i, min(max(j, 0), n - 1)] += weight(j - center)
        if edge is None:
            matrix[i] /= matrix[i].sum()
    return matrix


def resized(x, scale, *how):
    rows, columns = resize_matrix(x.shape[2], scale, *how), resize_matrix(x.shape[3], scale, *how)
    return np.einsum('ij,ncjl,kl->ncik', rows, x.astype(np.float64), columns).astype(np.float32)


@case('microsoft/onnxruntime/issues/28292', opset=18)
def resize_cubic_half(m):
    x = draw(1, 1, 8, 8)
    y = m.op('Resize', m.x(x), None, m.c([1, 1, 0.5, 0.5], np.float32), mode='cubic',
             coordinate_transformation_mode='pytorch_half_pixel', cubic_coeff_a=-0.5, antialias=0)
    m.want(y, resized(x, 0.5, lambda d: cubic(d, -0.5), 2, 'edge'), FLOAT32)


@case('microsoft/onnxscript/pull/2916', opset=18)
def resize_antialias_linear(m):
    x = draw(1, 2, 9, 7)
    y = m.op('Resize', m.x(x, still=True), None, m.c([1, 1, 1 / 3, 3 / 7], np.float32), mode='linear', antialias=1,
             exclude_outside=1)
    rows, columns = (resize_matrix(n, s, lambda d: np.maximum(0, 1 - np.abs(d)), 1, None) for n,
                     s in ((9, 1 / 3 + 1e-9), (7, 3 / 7 + 1e-9)))
    m.want(y, np.einsum('ij,ncjl,kl->ncik', rows, x.astype(np.float64), columns).astype(np.float32), FLOAT32)


@case('microsoft/onnxruntime/issues/25264', opset=18)
def resize_antialias_cubic_coefficient(m):
    x = draw(1, 1, 8, 12)
    for a in (-0.5, -0.75):
        y = m.op('Resize', m.x(x), None, m.c([1, 1, 0.5, 0.5], np.float32), mode='cubic', antialias=1, exclude_outside=1,
                 cubic_coeff_a=a)
        m.want(y, resized(x, 0.5, lambda d: cubic(d, a), 2, None), FLOAT32)


@case('openvinotoolkit/openvino/issues/35893', opset=18)
def resize_antialias_matters(m):
    x = draw(1, 1, 6, 6)
    given, scales = m.x(x), m.c([1, 1, 0.5, 0.5], np.float32)
    roi = m.c(np.zeros(8, np.float32))
    for antialias, edge in ((1, None), (0, 'edge')):
        y = m.op('Resize', given, roi, scales, mode='cubic', antialias=antialias, exclude_outside=antialias)
        m.want(y, resized(x, 0.5, lambda d: cubic(d, -0.75), 2, edge), FLOAT32)


@case('apache/tvm/issues/18133', opset=18)
def resize_unused_region(m):
    x = draw(1, 2, 3, 4)
    roi = m.c([0.1, 0.2, 0.3, 0.4, 0.9, 0.8, 0.7, 0.6], np.float32)
    y = m.op('Resize', m.x(x, still=True), roi, None, m.ints(1, 2, 8, 8), mode='cubic')
    rows, columns = (resize_matrix(n, 8 / n, lambda d: cubic(d, -0.75), 2, 'edge') for n in (3, 4))
    m.want(y, np.einsum('ij,ncjl,kl->ncik', rows, x.astype(np.float64), columns).astype(np.float32), FLOAT32)


@case('microsoft/onnxruntime/issues/31986', opset=13)
def resize_channels_last(m):
    x = draw(1, 3, 4, 2)
    y = m.op('Resize', m.x(x), None, m.c([1, 2, 2, 1], np.float32), mode='linear', coordinate_transformation_mode='half_pixel')
    want = resized(x.transpose(0, 3, 1, 2), 2, lambda d: np.maximum(0, 1 - np.abs(d)), 1, 'edge').transpose(0, 2, 3, 1)
    m.want(y, want, FLOAT32)


@case('apache/tvm/pull/16622', opset=9)
def upsample_modes(m):
    x = draw(1, 1, 2, 3)
    given = m.x(x)
    m.want(m.op('Upsample', given, m.c([1, 1, 2, 3], np.float32)), x.repeat(2, 2).repeat(3, 3))
    linear = np.zeros((4, 2))
    for i in range(4):  # asymmetric: i / 2, the last element repeated
        linear[i, i // 2] += 1 - i % 2 / 2
        linear[i, min(i // 2 + 1, 1)] += i % 2 / 2
    m.want(m.op('Upsample', given, m.c([1, 1, 2, 1], np.float32), mode='linear'),
           np.einsum('ij,ncjl->ncil', linear, x.astype(np.float64)).astype(np.float32), FLOAT32)


@case('microsoft/onnxruntime/pull/28302', opset=20)
def grid_sample_far_away(m):
    x = draw(1, 2, 3, 4)
    grid = np.float32([[[[1e20, 0], [-1e20, 1e20], [-1, 1], [1e10, -1e10]]]])
    given = m.x(x, still=True), m.x(grid, still=True)
    want = np.stack([x[0, :, 1, 3], x[0, :, 2, 0], x[0, :, 2, 0], x[0, :, 0, 3]], -1)[None, :, None]
    m.want(m.op('GridSample', *given, mode='nearest', padding_mode='border', align_corners=1), want)
    m.want(m.op('GridSample', *given, mode='linear', padding_mode='border', align_corners=1), want, FLOAT32)
    outside = np.array([0, 0, 1, 0], np.float32)
    m.want(m.op('GridSample', *given, mode='linear', padding_mode='zeros', align_corners=1), want * outside, FLOAT32)


def roi_align(x, rois, batches, size, ratio, scale, half):
    """RoiAlign (average) by loops; ratio 0: ceil(size of a region / size of the result) samples for each axis."""
    y = np.zeros((len(rois), x.shape[1]) + size)

    def sample(image, r, c):
        if r < -1 or r > image.shape[1] or c < -1 or c > image.shape[2]:
            return np.zeros(image.shape[0])
        r, c = max(r, 0), max(c, 0)
        i, j = min(int(r), image.shape[1] - 1), min(int(c), image.shape[2] - 1)
        p, q = min(i + 1, image.shape[1] - 1), min(j + 1, image.shape[2] - 1)
        r, c = (0 if i == image.shape[1] - 1 else r - i), (0 if j == image.shape[2] - 1 else c - j)
        rows = [image[:, at, j] * (1 - c) + image[:, at, q] * c for at in (i, p)]
        return rows[0] * (1 - r) + rows[1] * r

    for k, (roi, batch) in enumerate(zip(rois.astype(np.float64), batches)):
        left, top, right, bottom = roi * scale - (0.5 if half else 0)
        extents = [bottom - top, right - left] if half else [max(bottom - top, 1), max(right - left, 1)]
        samples = [ratio or int(np.ceil(e / n)) for e, n in zip(extents, size)]
        for i, j in np.ndindex(*size):
            values = [sample(x[batch].astype(np.float64), top + (i + (a + 0.5) / samples[0]) * extents[0] / size[0],
                             left + (j + (b + 0.5) / samples[1]) * extents[1] / size[1])
                      for a, b in itertools.product(range(samples[0]), range(samples[1]))]
            y[k, :, i, j] = np.mean(values, 0)
    return y


ROIS, BATCHES = np.float32([[0, 0, 7.4, 5.1], [2.2, 1.1, 3, 2.7], [-1, 3, 9, 9]]), np.int64([1, 0, 1])


@case('openvinotoolkit/openvino/issues/37826', opset=16)
def roi_align_adaptive(m):
    x = draw(2, 3, 8, 9)
    given = m.x(x), m.x(ROIS, still=(1,)), m.x(BATCHES)
    for half, word in ((True, 'half_pixel'), (False, 'output_half_pixel')):
        y = m.op('RoiAlign', *given, output_height=2, output_width=3, coordinate_transformation_mode=word)
        m.want(y, roi_align(x, ROIS, BATCHES, (2, 3), 0, 1, half).astype(np.float32), FLOAT32)


@case('ROCm/AMDMIGraphX/pull/3482', opset=16)
def roi_align_half_pixel(m):
    x = draw(2, 2, 4, 5)
    y = m.op('RoiAlign', m.x(x), m.x(ROIS, still=(1,)), m.x(BATCHES), output_height=3, output_width=2, sampling_ratio=2,
             spatial_scale=0.5)
    m.want(y, roi_align(x, ROIS, BATCHES, (3, 2), 2, 0.5, True).astype(np.float32), FLOAT32)


BOXES = np.float32([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]]])
SCORES = np.float32([[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3]]])


@case('apache/tvm/pull/19547', opset=11)
def no_boxes_by_default(m):
    given = m.x(BOXES, still=True), m.x(SCORES, still=True)
    m.want(m.op('NonMaxSuppression', *given), np.zeros((0, 3), np.int64))
    m.want(m.op('NonMaxSuppression', *given, None, m.c(np.float32(0.5))), np.zeros((0, 3), np.int64))


@case('onnx/onnx/pull/6354', opset=11)
def boxes_default_thresholds(m):
    given = m.x(BOXES, still=True), m.x(SCORES, still=True)
    # the overlap of 0 by default: any overlap suppresses; no score is too low
    m.want(m.op('NonMaxSuppression', *given, m.ints(6)), [[0, 0, 3], [0, 0, 0], [0, 0, 5]], dtype=np.int64)


@case('llvm/torch-mlir/pull/3976', opset=11)
def boxes_of_centers(m):
    corners = BOXES[0]
    centers = np.stack([(corners[:, 1] + corners[:, 3]) / 2, (corners[:, 0] + corners[:, 2]) / 2, corners[:, 3] - corners[:, 1],
                        corners[:, 2] - corners[:, 0]], -1)[None].astype(np.float32)
    y = m.op('NonMaxSuppression', m.x(centers, still=True), m.x(SCORES, still=True), m.ints(3), m.c([0.5], np.float32),
             m.c([0.4], np.float32), center_point_box=1)
    m.want(y, [[0, 0, 3], [0, 0, 0]], dtype=np.int64)
