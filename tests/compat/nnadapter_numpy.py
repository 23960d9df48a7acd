"""Paddle's operators in numpy, by their definitions: the judge of the suite nnadapter-bridge.

REAL[kind](op, x) computes an operator on float64, int and bool arrays: x(role) is an input, x.all(role) all inputs of a role.
It returns the outputs in the order of their roles in the operator. Nothing here depends on nnrt or on the bridge.
"""
import itertools
import math

import numpy as np

REAL = {}


def real(*kinds):
    """The definition of these operators."""
    def register(function):
        REAL.update(dict.fromkeys(kinds, function))
        return function
    return register


class Inputs:
    """The input values of an operator."""

    def __init__(self, op, values):
        self.op, self.values = op, values

    def __call__(self, role):
        return self.values[self.op.inputs[role][0]]

    def all(self, role):
        """All values of a role."""
        return [self.values[name] for name in self.op.inputs[role]]

    def has(self, role):
        """Whether the operator has that input."""
        return bool(self.op.inputs.get(role))

    def get(self, role, default):
        """An optional input."""
        return self(role) if self.has(role) else default


def sigmoid(v):
    """1 / (1 + exp(-v))"""
    return 1 / (1 + np.exp(-v))


def erf(v):
    """The error function."""
    return np.vectorize(math.erf, otypes=[np.float64])(v)


ACTIVATIONS = {'': lambda v: v, 'relu': lambda v: np.maximum(v, 0), 'relu1': lambda v: np.clip(v, 0, 1),
               'relu6': lambda v: np.clip(v, 0, 6), 'sigmoid': sigmoid, 'tanh': np.tanh, 'abs': np.abs, 'exp': np.exp,
               'log': np.log,
               'floor': np.floor, 'square': lambda v: v * v, 'sin': np.sin, 'cos': np.cos, 'rsqrt': lambda v: 1 / np.sqrt(v),
               'swish': lambda v: v * sigmoid(v), 'silu': lambda v: v * sigmoid(v)}


def activate(op, v, name='act_type'):
    """The fused activation of an operator."""
    kind = op.attr(name, '')
    if kind == 'leaky_relu':
        return np.where(v >= 0, v, v * np.float32(op.attr('leaky_relu_alpha')))
    if kind == 'hard_swish':
        return v * np.clip(v + op.attr('hard_swish_offset'), 0, op.attr('hard_swish_threshold')) / op.attr('hard_swish_scale')
    return ACTIVATIONS[kind](v)


def pads_of(op, size, kernel, strides, name='paddings'):
    """Paddings as pairs, dilations: by padding_algorithm. SAME sets the dilations to 1."""
    p, dilations = list(op.attr(name)), list(op.attr('dilations', [1, 1]))
    pairs = [(p[0], p[0]), (p[1], p[1])] if len(p) == 2 else [(p[0], p[1]), (p[2], p[3])]
    if op.attr('padding_algorithm', '') == 'VALID':
        pairs = [(0, 0), (0, 0)]
    if op.attr('padding_algorithm', '') == 'SAME':
        dilations = [1, 1]
        total = [max((-(-n // s) - 1) * s + k - n, 0) for n, k, s in zip(size, kernel, strides)]
        pairs = [(t // 2, t - t // 2) for t in total]
    return pairs, dilations


def columns(x, kernel, strides, pairs, dilations):
    """im2col: [N, C, kernel height * width, Ho * Wo], and the output's height and width."""
    padded = np.pad(x, ((0, 0), (0, 0)) + tuple(pairs))
    out = [(padded.shape[2 + k] - ((kernel[k] - 1) * dilations[k] + 1)) // strides[k] + 1 for k in range(2)]
    taps = [padded[:, :, i * dilations[0]:i * dilations[0] + (out[0] - 1) * strides[0] + 1:strides[0],
                   j * dilations[1]:j * dilations[1] + (out[1] - 1) * strides[1] + 1:strides[1]]
            for i in range(kernel[0]) for j in range(kernel[1])]
    return np.stack([tap.reshape(*x.shape[:2], -1) for tap in taps], 2), out


def convolution(op, x, w):
    """The sums of products [N, Cout, Ho, Wo]; exact for integers below 2^53."""
    groups, kernel, strides = op.attr('groups', 1), w.shape[2:], op.attr('strides')
    pairs, dilations = pads_of(op, x.shape[2:], kernel, strides)
    cols, out = columns(x.astype(np.float64), kernel, strides, pairs, dilations)
    n, channels, taps, cells = cols.shape
    left = w.reshape(groups, w.shape[0] // groups, -1).astype(np.float64)
    right = cols.reshape(n, groups, channels // groups * taps, cells)
    if left.shape[1] == 1 and channels == groups:
        sums = np.einsum('gk,ngkp->ngp', left[:, 0], right)
    else:
        sums = np.matmul(left[None], right)
    return sums.reshape(n, w.shape[0], *out)


@real('conv2d', 'depthwise_conv2d')
def conv2d(op, x):
    """sum of x * w + bias, then the activation"""
    sums = convolution(op, x('Input'), x('Filter'))
    return [activate(op, sums + np.reshape(x.get('Bias', 0.0), (1, -1, 1, 1)))]


def transposed(op, x, w):
    """The sums of a transposed convolution with the filter [Cin, Cout / groups, kH, kW]: every input cell adds a window."""
    groups, strides = op.attr('groups', 1), op.attr('strides')
    n, channels, height, width = x.shape
    kernel, each = w.shape[2:], w.shape[1]
    p, d, extra = op.attr('paddings'), op.attr('dilations', [1, 1]), op.attr('output_padding', []) or [0, 0]
    full = [(size - 1) * s + (k - 1) * t + 1 for size, s, k, t in zip((height, width), strides, kernel, d)]
    wanted = op.attr('output_size', []) or [size - 2 * q + e for size, q, e in zip(full, p, extra)]
    room = np.zeros((n, each * groups, *[max(size, want + 2 * q) for size, want, q in zip(full, wanted, p)]))
    for g, i, j in itertools.product(range(groups), range(kernel[0]), range(kernel[1])):
        part = slice(g * channels // groups, (g + 1) * channels // groups)
        rows = slice(i * d[0], i * d[0] + (height - 1) * strides[0] + 1, strides[0])
        cols = slice(j * d[1], j * d[1] + (width - 1) * strides[1] + 1, strides[1])
        room[:, g * each:(g + 1) * each, rows, cols] += np.einsum('nchw,co->nohw', x[:, part], w[part, :, i, j])
    return room[:, :, p[0]:p[0] + wanted[0], p[1]:p[1] + wanted[1]]


@real('conv2d_transpose')
def conv2d_transpose(op, x):
    """the sums + bias, then the activation"""
    return [activate(op, transposed(op, x('Input'), x('Filter')) + np.reshape(x.get('Bias', 0.0), (1, -1, 1, 1)))]


def bilinear(plane, y, x):
    """Linear interpolation in [H,W]; cells outside are 0."""
    top, left = math.floor(y), math.floor(x)
    total = 0.0
    for i, j in itertools.product((0, 1), (0, 1)):
        if 0 <= top + i < plane.shape[0] and 0 <= left + j < plane.shape[1]:
            total += plane[top + i, left + j] * (1 - abs(y - top - i)) * (1 - abs(x - left - j))
    return total


@real('deformable_conv')
def deformable_conv(op, x):
    """Each tap of a window is moved by an offset and multiplied by a mask."""
    image, offset, mask, w = x('Input'), x('Offset'), x('Mask'), x('Filter')
    (ph, pw), (sh, sw), (dh, dw) = op.attr('paddings'), op.attr('strides'), op.attr('dilations', [1, 1])
    groups, sets, (_, kh, kw) = op.attr('groups', 1), op.attr('deformable_groups', 1), w.shape[1:]
    n, channels, (ho, wo) = image.shape[0], image.shape[1], offset.shape[2:]
    cols = np.zeros((n, channels, kh * kw, ho, wo))
    for b, ch, tap, p, q in itertools.product(range(n), range(channels), range(kh * kw), range(ho), range(wo)):
        at = ch // (channels // sets) * kh * kw + tap
        y = p * sh - ph + tap // kw * dh + offset[b, 2 * at, p, q]
        z = q * sw - pw + tap % kw * dw + offset[b, 2 * at + 1, p, q]
        if -1 < y < image.shape[2] and -1 < z < image.shape[3]:
            cols[b, ch, tap, p, q] = bilinear(image[b, ch], y, z) * mask[b, at, p, q]
    parts = [np.einsum('oct,nctpq->nopq', part.reshape(*part.shape[:2], -1),
                       cols[:, g * channels // groups:(g + 1) * channels // groups])
             for g, part in enumerate(np.split(w, groups))]
    return [activate(op, np.concatenate(parts, 1) + np.reshape(x.get('Bias', 0.0), (1, -1, 1, 1)))]


@real('fc')
def fully_connected(op, x):
    """x as a matrix, times W, + bias"""
    v, kept = x('Input'), op.attr('in_num_col_dims', 1)
    out = v.reshape(*v.shape[:kept], -1) @ x('W')
    return [activate(op, out + np.reshape(x.get('Bias', 0.0), -1), 'activation_type')]


@real('mul')
def mul(op, x):
    """Both as matrices; the result has the outer dimensions."""
    a, b = x('X'), x('Y')
    m, n = a.shape[:op.attr('x_num_col_dims', 1)], b.shape[op.attr('y_num_col_dims', 1):]
    return [(a.reshape(int(np.prod(m)), -1) @ b.reshape(-1, int(np.prod(n)))).reshape(m + n)]


@real('matmul', 'matmul_v2', 'bmm')
def matmul(op, x):
    """Matrix products with a transposition of the last two axes."""
    a, b = x('X'), x('Y')
    a = np.swapaxes(a, -1, -2) if op.attr('transpose_X') or op.attr('trans_x') else a
    b = np.swapaxes(b, -1, -2) if op.attr('transpose_Y') or op.attr('trans_y') else b
    return [a @ b * np.float32(op.attr('alpha', 1.0))]


def windows(op, x):
    """The windows of a pool, for both axes: first and last cell of x, and the number of cells with padding"""
    size, kernel, adaptive = x.shape[2:], list(op.attr('ksize')), op.attr('adaptive', False)
    if op.attr('global_pooling', False):
        kernel, adaptive = [1, 1], True
    axes = []
    if adaptive:
        for n, m in zip(size, kernel):
            axes.append([(i * n // m, -(-(i + 1) * n // m), -(-(i + 1) * n // m) - i * n // m) for i in range(m)])
        return axes
    strides = op.attr('strides')
    pairs, _ = pads_of(op, size, kernel, strides)
    for n, k, s, (first, last) in zip(size, kernel, strides, pairs):
        room = n + first + last - k
        count = (-(-room // s) if op.attr('ceil_mode', False) else room // s) + 1
        axes.append([(max(i * s - first, 0), min(i * s - first + k, n), min(i * s - first + k, n + last) - (i * s - first))
                     for i in range(count)])
    return axes


def pooled(op, x, reduce):
    """reduce(cells [N,C,count], count of cells with padding) for each window."""
    rows, cols = windows(op, x)
    out = np.zeros((*x.shape[:2], len(rows), len(cols)), x.dtype)
    for (i, (top, bottom, high)), (j, (left, right, wide)) in itertools.product(enumerate(rows), enumerate(cols)):
        out[:, :, i, j] = reduce(x[:, :, top:bottom, left:right].reshape(*x.shape[:2], -1), high * wide)
    return out


@real('pool2d')
def pool2d(op, x):
    """The largest cell, or the average: exclusive leaves the padding out."""
    if op.attr('pooling_type') == 'max':
        return [pooled(op, x('X'), lambda cells, _: cells.max(2))]
    exclusive = op.attr('exclusive', True) or op.attr('adaptive') or op.attr('global_pooling')
    return [pooled(op, x('X'), lambda cells, all_of: cells.sum(2) / (cells.shape[2] if exclusive else all_of))]


BINARY = {'add': np.add, 'sub': np.subtract, 'mul': np.multiply, 'div': np.divide, 'max': np.maximum, 'min': np.minimum,
          'pow': np.power,
          'floordiv': np.floor_divide, 'equal': np.equal, 'not_equal': np.not_equal, 'greater_than': np.greater,
          'greater_equal': np.greater_equal, 'less_than': np.less, 'less_equal': np.less_equal}


def broadcast(op, a, b):
    """The smaller operand has the dimensions of the other from the attribute axis on."""
    axis, rank = op.attr('axis', -1), abs(a.ndim - b.ndim)
    axis = rank if axis < 0 else axis
    if a.ndim > b.ndim:
        return a, b.reshape((1,) * axis + b.shape + (1,) * (rank - axis))
    return (a.reshape((1,) * axis + a.shape + (1,) * (rank - axis)), b) if a.ndim < b.ndim else (a, b)


@real(*['elementwise_' + kind for kind in list(BINARY)[:8]],
      *['fusion_elementwise_%s_activation' % kind for kind in list(BINARY)[:8]],
      *list(BINARY)[8:])
def elementwise(op, x):
    """Arithmetic and comparisons; then the activation"""
    kind = op.kind.replace('fusion_', '').replace('elementwise_', '').replace('_activation', '')
    out = BINARY[kind](*broadcast(op, x('X'), x('Y')))
    return [activate(op, out) if op.attr('act_type') else out]


@real(*[kind for kind in ACTIVATIONS if kind not in ('', 'relu1')])
def unary(op, x):
    """Functions of one value."""
    return [ACTIVATIONS[op.kind](x('X'))]


def normalized(v, axes, epsilon):
    """(v - mean) / sqrt(variance + epsilon)"""
    return (v - v.mean(axes, keepdims=True)) / np.sqrt(v.var(axes, keepdims=True) + np.float32(epsilon))


def channels(v, rank):
    """A vector of the channels for an operand of that rank."""
    return np.reshape(v, (1, -1) + (1,) * (rank - 2))


@real('batch_norm')
def batch_norm(op, x):
    """scale * (x - mean) / sqrt(variance + epsilon) + bias"""
    v = x('X')
    s, b, m, q = (channels(x(role), v.ndim) for role in ('Scale', 'Bias', 'Mean', 'Variance'))
    return [s * (v - m) / np.sqrt(q + np.float32(op.attr('epsilon'))) + b]


@real('instance_norm', 'group_norm')
def group_norm(op, x):
    """Each group of channels of an image is normalized; without the attribute a channel is a group."""
    v = x('X')
    out = normalized(v.reshape(v.shape[0], op.attr('groups', v.shape[1]), -1), 2, op.attr('epsilon')).reshape(v.shape)
    return [out * channels(x.get('Scale', 1.0), v.ndim) + channels(x.get('Bias', 0.0), v.ndim)]


@real('layer_norm')
def layer_norm(op, x):
    """The axes from begin_norm_axis on are normalized."""
    v, axis = x('X'), op.attr('begin_norm_axis')
    shape = v.shape[axis:]
    out = normalized(v, tuple(range(v.ndim))[axis:], op.attr('epsilon'))
    return [out * np.broadcast_to(x.get('Scale', 1.0), (int(np.prod(shape)),)).reshape(shape) +
            np.broadcast_to(x.get('Bias', 0.0), (int(np.prod(shape)),)).reshape(shape)]


@real('softmax', 'log_softmax')
def softmax(op, x):
    """exp(x) / sum of exp(x)"""
    v, axis = x('X'), op.attr('axis', -1)
    v = v - v.max(axis, keepdims=True)
    log = v - np.log(np.exp(v).sum(axis, keepdims=True))
    return [log if op.kind == 'log_softmax' else np.exp(log)]


def simple(kind, function):
    """An operator of one operand and its attributes."""
    REAL[kind] = lambda op, x: [function(x('X'), op.attr)]


simple('leaky_relu', lambda v, a: np.where(v >= 0, v, v * np.float32(a('alpha'))))
simple('hard_sigmoid', lambda v, a: np.clip(v * np.float32(a('slope')) + a('offset'), 0, 1))
simple('hard_swish', lambda v, a: v * np.clip(v + a('offset'), 0, a('threshold')) / a('scale'))
simple('gelu', lambda v, a: 0.5 * v * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ** 3))) if a('approximate')
       else 0.5 * v * (1 + erf(v / math.sqrt(2))))
simple('softplus', lambda v, a: np.where(v * a('beta') > a('threshold'), v, np.log1p(np.exp(v * a('beta'))) / a('beta')))
simple('pow', lambda v, a: v ** a('factor'))
simple('sqrt', lambda v, a: np.sqrt(v))
simple('norm', lambda v, a: v / np.sqrt((v * v).sum(a('axis'), keepdims=True) + np.float32(a('epsilon'))))
simple('dropout', lambda v, a: v * (
    1.0 if a('dropout_implementation') == 'upscale_in_train' else 1 - np.float32(a('dropout_prob'))))
simple('reduce_mean', lambda v, a: v.mean(None if a('reduce_all') else tuple(a('dim')), keepdims=a('keep_dim', True)))
simple('reduce_max', lambda v, a: v.max(None if a('reduce_all') else tuple(a('dim')), keepdims=a('keep_dim', True)))
simple('reduce_sum', lambda v, a: v.sum(None if a('reduce_all') else tuple(a('dim')), keepdims=a('keep_dim', True)))
simple('shuffle_channel', lambda v, a: v.reshape(v.shape[0], a('group'), -1, *v.shape[2:]).swapaxes(1, 2).reshape(v.shape))
simple('transpose', lambda v, a: v.transpose(a('axis')))
simple('transpose2', lambda v, a: v.transpose(a('axis')))
simple('assign', lambda v, a: v)
simple('logical_not', lambda v, a: ~v)
simple('unsqueeze', lambda v, a: np.expand_dims(v, tuple(a('axes'))))
simple('unsqueeze2', lambda v, a: np.expand_dims(v, tuple(a('axes'))))
simple('squeeze', lambda v, a: np.squeeze(v, tuple(a('axes')) if a('axes') else None))
simple('squeeze2', lambda v, a: np.squeeze(v, tuple(a('axes')) if a('axes') else None))
simple('flatten', lambda v, a: v.reshape(int(np.prod(v.shape[:a('axis')])), -1))
simple('flatten2', lambda v, a: v.reshape(int(np.prod(v.shape[:a('axis')])), -1))
FLUID_TYPES = {0: np.bool_, 2: np.int32, 3: np.int64, 5: np.float64, 21: np.int8}
simple('cast', lambda v, a: (np.trunc(v) if v.dtype.kind == 'f' and a('out_dtype') in (2, 3) else v).astype(
    FLUID_TYPES[a('out_dtype')]))
simple('fill_zeros_like', lambda v, a: np.zeros_like(v))


@real('prelu')
def prelu(op, x):
    """A slope for negative values: one, or one for each channel"""
    v, slope = x('X'), x('Alpha')
    return [np.where(v >= 0, v, v * (slope.reshape(-1)[0] if op.attr('mode') == 'all' else channels(slope, v.ndim)))]


@real('clip')
def clip(op, x):
    """Between two bounds."""
    low, high = x.get('Min', op.attr('min')), x.get('Max', op.attr('max'))
    return [np.clip(x('X'), np.float64(np.float32(low)), np.float64(np.float32(high)))]


@real('scale')
def scale(op, x):
    """x * scale + bias, or (x + bias) * scale"""
    v, s, b = x('X'), np.float32(op.attr('scale', 1.0)), np.float32(op.attr('bias', 0.0))
    out = v * s + b if op.attr('bias_after_scale', True) else (v + b) * s
    return [out.astype(v.dtype)]


@real('lrn')
def lrn(op, x):
    """x / (k + alpha * sum of squares over n channels / n) ^ beta: NNAdapter divides by n, Paddle does not."""
    v, n = x('X'), op.attr('n', 5)
    padded = np.pad(v * v, ((0, 0), (n // 2, n // 2), (0, 0), (0, 0)))
    sums = sum(padded[:, k:k + v.shape[1]] for k in range(n))
    return [v / (np.float32(op.attr('k', 1.0)) + np.float32(op.attr('alpha', 1e-4)) / n * sums) ** op.attr('beta', 0.75)]


@real('cumsum')
def cumsum(op, x):
    """Running sums, also from the end, also without the own element"""
    v, axis = x('X'), op.attr('axis')
    v = np.flip(v, axis) if op.attr('reverse') else v
    out = np.cumsum(v, axis) - (v if op.attr('exclusive') else 0)
    return [np.flip(out, axis) if op.attr('reverse') else out]


@real('arg_max', 'arg_min')
def arg_min_max(op, x):
    """The first one wins."""
    function = np.argmax if op.kind == 'arg_max' else np.argmin
    kind = op.attr('dtype', -1)
    return [function(x('X'), op.attr('axis'), keepdims=op.attr('keepdims', False)).astype(FLUID_TYPES[3 if kind < 0 else kind])]


@real('top_k', 'top_k_v2')
def top_k(op, x):
    """The largest or smallest values, sorted, and their places; of equal ones the first"""
    v, axis = x('X'), op.attr('axis', -1)
    k = int(x('K')[0]) if x.has('K') else op.attr('k')
    at = np.argsort(-v if op.attr('largest', True) else v, axis, kind='stable').take(range(k), axis)
    return [np.take_along_axis(v, at, axis), at.astype(np.int64)]


# ---- shapes and movement ----

def integers(x, lists, one, default):
    """A list of integers: several tensors, a tensor, or an attribute."""
    if lists and x.has(lists):
        return [int(v[0]) for v in x.all(lists)]
    return [int(v) for v in x(one)] if one and x.has(one) else default


@real('reshape', 'reshape2')
def reshape(op, x):
    """0 keeps a dimension, -1 is the rest."""
    v, shape = x('X'), integers(x, 'ShapeTensor', 'Shape', op.attr('shape'))
    return [v.reshape([v.shape[k] if size == 0 else size for k, size in enumerate(shape)])]


@real('expand')
def expand(op, x):
    """Repetitions along each axis"""
    return [np.tile(x('X'), integers(x, 'expand_times_tensor', 'ExpandTimes', op.attr('expand_times')))]


@real('tile')
def tile(op, x):
    """The same"""
    return [np.tile(x('X'), integers(x, 'repeat_times_tensor', 'RepeatTimes', op.attr('repeat_times')))]


@real('expand_v2')
def expand_v2(op, x):
    """Broadcast to a shape; -1 keeps the dimension."""
    v, shape = x('X'), integers(x, 'expand_shapes_tensor', 'Shape', op.attr('shape'))
    own = (1,) * (len(shape) - v.ndim) + v.shape
    return [np.broadcast_to(v, [own[k] if size == -1 else size for k, size in enumerate(shape)])]


@real('flatten_contiguous_range')
def flatten_contiguous_range(op, x):
    """These axes and those between become one."""
    v = x('X')
    start, stop = op.attr('start_axis') % v.ndim, op.attr('stop_axis') % v.ndim
    return [v.reshape(*v.shape[:start], -1, *v.shape[stop + 1:])]


@real('slice', 'strided_slice')
def slice_(op, x):
    """Python's slices; then the axes of decrease_axis are removed."""
    v = x('Input')
    lists = [integers(x, role + 'TensorList', role + 'Tensor', op.attr(name, [1] * len(op.attr('axes'))))
             for role, name in (('Starts', 'starts'), ('Ends', 'ends'), ('Strides', 'strides'))]
    at = [slice(None)] * v.ndim
    for axis, *bounds in zip(op.attr('axes'), *lists):
        at[axis] = slice(*bounds)
    out, less = v[tuple(at)], op.attr('decrease_axis', [])
    return [out.reshape(1) if less and len(less) == v.ndim else np.squeeze(out, tuple(less)) if less else out]


@real('concat')
def concat(op, x):
    """Along an axis"""
    return [np.concatenate(x.all('X'), op.attr('axis'))]


@real('stack')
def stack(op, x):
    """Along a new axis"""
    return [np.stack(x.all('X'), op.attr('axis'))]


@real('unstack')
def unstack(op, x):
    """The reverse"""
    return list(np.moveaxis(x('X'), op.attr('axis'), 0))


@real('split')
def split(op, x):
    """Equal parts, or sizes"""
    axis = int(x('AxisTensor')[0]) if x.has('AxisTensor') else op.attr('axis')
    parts = op.attr('num', 0) or np.cumsum(op.attr('sections'))[:-1]
    return np.split(x('X'), parts, axis)


@real('gather')
def gather(op, x):
    """Slices along an axis"""
    return [np.take(x('X'), x('Index'), int(x('Axis')[0]) if x.has('Axis') else op.attr('axis', 0))]


@real('lookup_table', 'lookup_table_v2')
def lookup_table(op, x):
    """Rows of a table; the first form has indices with a last axis of 1."""
    ids = x('Ids')
    return [x('W')[ids[..., 0] if op.kind == 'lookup_table' else ids]]


@real('shape')
def shape_(_op, x):
    """The dimensions"""
    return [np.array(x('Input').shape, np.int32)]


@real('range')
def range_(_op, x):
    """From Start to End, without End"""
    return [np.arange(x('Start')[0], x('End')[0], x('Step')[0], x('Start').dtype)]


@real('roll')
def roll(op, x):
    """Cyclic shifts"""
    return [np.roll(x('X'), integers(x, None, 'ShiftsTensor', op.attr('shifts')), op.attr('axis'))]


@real('meshgrid')
def meshgrid(_op, x):
    """The first input varies along the first axis."""
    return np.meshgrid(*x.all('X'), indexing='ij')


@real('sum')
def sum_(_op, x):
    """Of all inputs"""
    return [sum(x.all('X'))]


@real('fill_constant')
def fill_constant(op, x):
    """A shape and a value"""
    value = x('ValueTensor') if x.has('ValueTensor') else np.array([op.attr('value')], FLUID_TYPES[op.attr('dtype')])
    return [np.full(integers(x, None, 'ShapeTensor', op.attr('shape')), value[0])]


@real('fill_any_like')
def fill_any_like(op, x):
    """The shape of x; its type, or another one"""
    kind = op.attr('dtype', -1)
    return [np.full(x('X').shape, op.attr('value')).astype(x('X').dtype if kind == -1 else FLUID_TYPES[kind])]


@real('fill_constant_batch_size_like')
def fill_constant_batch_size_like(op, x):
    """A shape, of which one dimension is one of the input's"""
    shape = list(op.attr('shape'))
    shape[op.attr('output_dim_idx', 0)] = x('Input').shape[op.attr('input_dim_idx', 0)]
    return [np.full(shape, op.attr('value', 0.0)).astype(FLUID_TYPES[op.attr('dtype')])]


@real('logical_and')
def logical_and(_op, x):
    """Both"""
    return [x('X') & x('Y')]


@real('where')
def where(_op, x):
    """X where the condition holds, otherwise Y; the smaller one has the other's first dimensions."""
    a, b = x('X'), x('Y')
    rank = max(a.ndim, b.ndim)
    return [np.where(x('Condition'), *(v.reshape(v.shape + (1,) * (rank - v.ndim)) for v in (a, b)))]


@real('pad2d', 'pad3d')
def pad(op, x):
    """Height and width; of pad3d width, height and depth"""
    p, modes = op.attr('paddings'), {'constant': 'constant', 'reflect': 'reflect', 'replicate': 'edge', 'edge': 'edge'}
    pairs = [(p[0], p[1]), (p[2], p[3])] if op.kind == 'pad2d' else [(p[4], p[5]), (p[2], p[3]), (p[0], p[1])]
    pairs = [(0, 0)] + pairs + [(0, 0)] if op.attr('data_format').endswith('C') else [(0, 0), (0, 0)] + pairs
    mode = modes[op.attr('mode')]
    more = {'constant_values': op.attr('pad_value', op.attr('value', 0.0))} if mode == 'constant' else {}
    return [np.pad(x('X'), pairs, mode, **more)]


def places(op, before, after, linear, factor):
    """The source coordinates of one axis."""
    at = np.arange(after)
    if op.attr('align_corners'):
        return at * ((before - 1) / (after - 1) if after > 1 else 0.0)
    ratio = 1 / factor if factor else before / after
    return np.maximum(ratio * (at + 0.5) - 0.5, 0) if linear and op.attr('align_mode', 1) == 0 else at * ratio


@real('nearest_interp', 'nearest_interp_v2', 'bilinear_interp', 'bilinear_interp_v2')
def interpolate(op, x):
    """A size or scales; a scale above 0 takes precedence over the attributes out_h and out_w."""
    v, linear = x('X'), op.kind.startswith('bilinear')
    factors = x('Scale') if x.has('Scale') else np.atleast_1d(op.attr('scale', 0.0) or 0.0)
    factors = [float(factors[0]), float(factors[-1])]
    size = integers(x, 'SizeTensor', 'OutSize', [op.attr('out_h', 0), op.attr('out_w', 0)])
    if factors[0] > 0 and not x.has('SizeTensor') and not x.has('OutSize'):
        size = [int(v.shape[2 + k] * factors[k]) for k in range(2)]
    else:
        factors = [0, 0]
    for k in range(2):
        at, before = places(op, v.shape[2 + k], size[k], linear, factors[k]), v.shape[2 + k]
        if linear:
            low = np.minimum(np.floor(at).astype(int), before - 1)
            high, part = np.minimum(low + 1, before - 1), (at - low).reshape([-1, 1] if k == 0 else [-1])
            v = v.take(low, 2 + k) * (1 - part) + v.take(high, 2 + k) * part
        else:
            v = v.take(np.minimum(np.floor(at + 0.5 if op.attr('align_corners') else at).astype(int), before - 1), 2 + k)
    return [v]


# ---- detection ----

@real('prior_box')
def prior_box(op, x):
    """Boxes around each cell of a feature map, in fractions of the image"""
    (height, width), (ih, iw) = x('Input').shape[2:], x('Image').shape[2:]
    step_w, step_h = op.attr('step_w') or iw / width, op.attr('step_h') or ih / height
    ratios = [1.0]
    for ratio in op.attr('aspect_ratios'):
        if all(abs(ratio - known) > 1e-6 for known in ratios):
            ratios += [ratio, 1 / ratio] if op.attr('flip') else [ratio]
    sizes = []
    for k, low in enumerate(op.attr('min_sizes')):
        boxes = [(low * math.sqrt(r), low / math.sqrt(r)) for r in ratios]
        square = [(math.sqrt(low * op.attr('max_sizes')[k]),) * 2] if op.attr('max_sizes', []) else []
        sizes += boxes[:1] + square + boxes[1:] if op.attr('min_max_aspect_ratios_order', False) else boxes + square
    out = np.zeros((height, width, len(sizes), 4))
    for h, w, (k, (bw, bh)) in itertools.product(range(height), range(width), enumerate(sizes)):
        cx, cy = (w + op.attr('offset')) * step_w, (h + op.attr('offset')) * step_h
        out[h, w, k] = [(cx - bw / 2) / iw, (cy - bh / 2) / ih, (cx + bw / 2) / iw, (cy + bh / 2) / ih]
    out = np.clip(out, 0, 1) if op.attr('clip') else out
    return [out, np.broadcast_to(op.attr('variances'), out.shape)]


@real('yolo_box')
def yolo_box(op, x):
    """Boxes and scores of a grid with anchors; those below the threshold are 0."""
    v, image, anchors, classes = x('X'), x('ImgSize'), op.attr('anchors'), op.attr('class_num')
    n, _, height, width = v.shape
    count, s, factor = len(anchors) // 2, op.attr('scale_x_y', 1.0), np.float32(op.attr('iou_aware_factor', 0.5))
    lead = count if op.attr('iou_aware', False) else 0
    boxes, scores = np.zeros((n, count, height, width, 4)), np.zeros((n, count, height, width, classes))
    for b, a, k, col in itertools.product(range(n), range(count), range(height), range(width)):
        cell = v[b, lead + a * (5 + classes):lead + (a + 1) * (5 + classes), k, col]
        conf = sigmoid(cell[4])
        if lead:
            conf = conf ** (1 - factor) * sigmoid(v[b, a, k, col]) ** factor
        if conf < op.attr('conf_thresh'):
            continue
        ih, iw = image[b]
        cx = (col + sigmoid(cell[0]) * s - 0.5 * (s - 1)) * iw / width
        cy = (k + sigmoid(cell[1]) * s - 0.5 * (s - 1)) * ih / height
        w = math.exp(cell[2]) * anchors[2 * a] * iw / (op.attr('downsample_ratio') * width)
        h = math.exp(cell[3]) * anchors[2 * a + 1] * ih / (op.attr('downsample_ratio') * height)
        box = [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2]
        if op.attr('clip_bbox', True):
            box = [max(box[0], 0), max(box[1], 0), min(box[2], iw - 1), min(box[3], ih - 1)]
        boxes[b, a, k, col], scores[b, a, k, col] = box, conf * sigmoid(cell[5:])
    return [boxes.reshape(n, -1, 4), scores.reshape(n, -1, classes)]


def overlap(a, b, more):
    """Intersection over union; more: 1 for pixel boxes"""
    left, top, right, bottom = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    if left > right or top > bottom:
        return 0.0
    inner = (right - left + more) * (bottom - top + more)
    return inner / (sum((c[2] - c[0] + more) * (c[3] - c[1] + more) for c in (a, b)) - inner)


@real('multiclass_nms3')
def multiclass_nms(op, x):
    """Per class the best boxes that do not overlap; then the best of all classes, in the order of the classes"""
    boxes, scores, rows, counts, places_ = x('BBoxes'), x('Scores'), [], [], []
    for n in range(boxes.shape[0]):
        found = []
        for c in range(scores.shape[1]):
            if c == op.attr('background_label'):
                continue
            order = [m for m in np.argsort(-scores[n, c], kind='stable') if scores[n, c, m] > op.attr('score_threshold')]
            kept, limit = [], op.attr('nms_threshold')
            for m in order[:op.attr('nms_top_k')] if op.attr('nms_top_k') >= 0 else order:
                if all(overlap(boxes[n, m], boxes[n, k], 0 if op.attr('normalized') else 1) <= limit for k in kept):
                    kept.append(m)
                    limit *= op.attr('nms_eta') if op.attr('nms_eta') < 1 and limit > 0.5 else 1
            found += [(c, scores[n, c, m], m) for m in kept]
        if 0 <= op.attr('keep_top_k') < len(found):
            found = sorted(sorted(found, key=lambda f: -f[1])[:op.attr('keep_top_k')], key=lambda f: (f[0], -f[1]))
        rows += [[c, s, *boxes[n, m]] for c, s, m in found]
        places_ += [n * boxes.shape[1] + m for _, _, m in found]
        counts.append(len(found))
    return [np.array(rows), np.array(counts, np.int32), np.array(places_, np.int32)]


@real('roi_align')
def roi_align(op, x):
    """Averages of samples in the bins of regions; RoisNum has the index of the image of each region, as NNAdapter defines
    it."""
    image, rois, (oh, ow), ratio = x('X'), x('ROIs'), (op.attr('pooled_height'),
                                                       op.attr('pooled_width')), op.attr('sampling_ratio')
    out = np.zeros((len(rois), image.shape[1], oh, ow))
    for r, roi in enumerate(rois * np.float32(op.attr('spatial_scale'))):
        high, wide = max(roi[3] - roi[1], 1) / oh, max(roi[2] - roi[0], 1) / ow
        ny, nx = (ratio, ratio) if ratio > 0 else (math.ceil(high), math.ceil(wide))
        for c, i, j in itertools.product(range(image.shape[1]), range(oh), range(ow)):
            total = 0.0
            for a, b in itertools.product(range(ny), range(nx)):
                y, z = roi[1] + (i + (a + 0.5) / ny) * high, roi[0] + (j + (b + 0.5) / nx) * wide
                if -1 <= y <= image.shape[2] and -1 <= z <= image.shape[3]:
                    y, z = min(max(y, 0), image.shape[2] - 1), min(max(z, 0), image.shape[3] - 1)
                    total += bilinear(image[x('RoisNum')[r], c], y, z)
            out[r, c, i, j] = total / (ny * nx)
    return [out]


@real('grid_sample')
def grid_sample(op, x):
    """Samples at the coordinates of a grid in -1 .. 1"""
    image, grid = x('X'), x('Grid')
    out = np.zeros((image.shape[0], image.shape[1], *grid.shape[1:3]))
    for n, c, i, j in np.ndindex(*out.shape):
        at = []
        for k, size in ((1, image.shape[2]), (0, image.shape[3])):
            v = grid[n, i, j, k]
            v = (v + 1) / 2 * (size - 1) if op.attr('align_corners', True) else ((v + 1) * size - 1) / 2
            at.append(min(max(v, 0), size - 1) if op.attr('padding_mode', 'zeros') == 'border' else v)
        if op.attr('mode', 'bilinear') == 'nearest':
            at = [float(np.rint(v)) for v in at]
        out[n, c, i, j] = bilinear(image[n, c], *at)
    return [out]


def compute(ops, values):
    """Adds the results of the operators to a dictionary of arrays; float32 becomes float64."""
    values = {name: v.astype(np.float64) if v.dtype == np.float32 else v for name, v in values.items()}
    for op in ops:
        names = [name for role in op.outputs.values() for name in role]
        values.update(zip(names, REAL[op.kind](op, Inputs(op, values))))
    return values
