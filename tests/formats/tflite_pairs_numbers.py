"""Pairs of tflite_pairs.py whose operators compute: elementwise operators, convolutions, dense layers, pooling, resizing."""
import numpy as np

from tflite_draw import ALL, NUMBERS, QUANTIZED, WITH_INT, activation, broadcast, flag, pairs, pick, quant, shape, size


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
