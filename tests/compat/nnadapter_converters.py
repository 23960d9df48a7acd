"""The operations of NNAdapter that Paddle-Lite's converters emit for each operator (lite/kernels/nnadapter/converter).

A function for each converter, with its operands in its order: constants of one element have the shape [1], booleans are BOOL8
except where the converter says int8, operands that it leaves out are None. Where the converter reads a shape or an axis from a
tensor of the program, or else from an attribute, so does the function.
"""
import numpy as np

from nnadapter_bridge import bias_codes, converts

FUSED = {'relu': 1, 'relu1': 2, 'relu6': 3}
AUTO_PAD = {'': 0, 'EXPLICIT': 0, 'SAME': 1, 'VALID': 2}
PAD_MODE = {'constant': 1, 'zeros': 1, 'reflect': 2, 'replicate': 3, 'edge': 4, 'border': 4}
FLUID = {0: 0, 1: 3, 2: 5, 3: 7, 4: 9, 5: 10, 6: 11, 20: 2, 21: 1}  # Paddle's data type -> precision
FLUID_TYPES = {0: np.bool_, 2: np.int32, 3: np.int64, 5: np.float32, 21: np.int8}
UNARY = {kind: kind.upper() for kind in 'sigmoid relu relu6 tanh abs exp log floor square sin cos rsqrt swish'.split()}
UNARY['silu'] = 'SWISH'


def four_pads(values):
    """Paddle's paddings of height and width as top, bottom, left, right."""
    return [values[0], values[0], values[1], values[1]] if len(values) == 2 else list(values)


def unpack(c, op, operand, activation, name):
    """The operations of an activation that has no fuse code."""
    if activation == 'leaky_relu':
        c.add('LEAKY_RELU', [operand, c.constant(float(op.attr('leaky_relu_alpha')))], c.output(name))
    elif activation == 'hard_swish':
        hard_swish_of(c, operand, name, op.attr('hard_swish_threshold'), op.attr('hard_swish_scale'),
                      op.attr('hard_swish_offset'))
    elif activation:
        c.add(UNARY[activation], [operand], c.output(name))


def hard_swish_of(c, operand, name, threshold, scale, offset):
    """x * relu6(x + offset) / scale: the operation divides by the threshold."""
    threshold, scale, offset = (np.float32(v) for v in (threshold, scale, offset))
    alpha, beta, factor = np.float32(1) / threshold, offset / threshold, threshold / scale
    result = c.add('HARD_SWISH', [operand, c.constant(float(alpha)), c.constant(float(beta))], c.output(name))
    if abs(factor - 1) >= 1e-5:
        c.add('MUL', [result, c.constant(float(factor)), c.constant(0)], c.output(name))


def activation_of(op, switch='with_act', name='act_type'):
    """The fuse code, and the activation that needs an operation."""
    kind = op.attr(name, '') if switch is None or op.attr(switch) else ''
    return (FUSED[kind], '') if kind in FUSED else (0, kind)


def bias_of(c, op, x, channels, weight_scales):
    """A bias in the precision of the input, or int32 with the product of the scales. Without one, zeros."""
    scales = [float(np.float32(c.scope.scale(x)[0]) * np.float32(s)) for s in weight_scales]
    if op.inputs.get('Bias'):
        values = c.scope.weights[op.input('Bias')]
        if not scales:
            return c.constant(values, (), [channels], False)
        return c.constant(bias_codes(values, scales), scales, [channels])
    return c.constant(np.zeros(channels, np.int32 if scales else np.float32), scales)


def is_codes(c, name):
    """Whether a weight is quantized."""
    return c.scope.weights[name].dtype == np.int8


@converts('conv2d', 'depthwise_conv2d')
def conv2d(c, op):
    """SAME and VALID by name; activations as fuse code, or behind it."""
    x, w, name = op.input('Input'), op.input('Filter'), op.output('Output')
    scales = c.scope.weight_scale(w) if is_codes(c, w) else []
    fuse, more = activation_of(op)
    operand = c.add('CONV_2D', [
        c.input(x), c.weight(w, None, scales), bias_of(c, op, x, c.scope.weights[w].shape[0], scales),
        c.constant(AUTO_PAD[op.attr('padding_algorithm', '')]), c.constant(four_pads(op.attr('paddings'))),
        c.constant(op.attr('strides')), c.constant(op.attr('groups', 1)), c.constant(op.attr('dilations', [1, 1])),
        c.constant(fuse)], c.output(name))
    unpack(c, op, operand, more, name)


@converts('conv2d_transpose')
def conv2d_transpose(c, op):
    """The converter passes axis 0 with the scales of the filter, though the output channels have axis 1."""
    x, w, name = op.input('Input'), op.input('Filter'), op.output('Output')
    groups = op.attr('groups', 1)
    scales = c.scope.weight_scale(w) if is_codes(c, w) else []
    fuse, more = activation_of(op)
    size = op.attr('output_size', [])
    operand = c.add('CONV_2D_TRANSPOSE', [
        c.input(x), c.weight(w, None, scales), bias_of(c, op, x, c.scope.weights[w].shape[1] * groups, scales),
        c.constant(AUTO_PAD[op.attr('padding_algorithm', '')]), c.constant(four_pads(op.attr('paddings'))),
        c.constant(op.attr('strides')), c.constant(groups), c.constant(op.attr('dilations', [1, 1])),
        c.constant(op.attr('output_padding', []) or [0, 0]), c.constant(size) if size else None, c.constant(fuse)],
        c.output(name))
    unpack(c, op, operand, more, name)


@converts('deformable_conv')
def deformable_conv(c, op):
    """Only float32."""
    w, name = op.input('Filter'), op.output('Output')
    fuse, more = activation_of(op)
    bias = c.optional(op, 'Bias') or c.constant(np.zeros(c.scope.weights[w].shape[0], np.float32))
    operand = c.add('DEFORMABLE_CONV_2D', [
        c.input(op.input('Input')), c.input(op.input('Offset')), c.input(op.input('Mask')), c.weight(w), bias,
        c.constant(four_pads(op.attr('paddings'))), c.constant(op.attr('strides')), c.constant(op.attr('groups', 1)),
        c.constant(op.attr('deformable_groups', 1)), c.constant(op.attr('dilations', [1, 1])), c.constant(fuse)],
        c.output(name))
    unpack(c, op, operand, more, name)


@converts('fc')
def fully_connected(c, op):
    """A reshape, a matrix product and a sum. All three results have the name and the scale of the operator's result."""
    x, w, name = op.input('Input'), op.input('W'), op.output()
    scales = c.scope.weight_scale(w) if is_codes(c, w) else []
    k, n = c.scope.weights[w].shape
    fuse, more = activation_of(op, None, 'activation_type')
    operand = c.add('RESHAPE', [c.input(x), c.constant([0] * op.attr('in_num_col_dims', 1) + [k])],
                    c.output(name, c.scope.scale(x)))
    operand = c.add('MAT_MUL', [operand, c.weight(w, None, scales), c.constant(False), c.constant(False)], c.output(name))
    operand = c.add('ADD', [operand, bias_of(c, op, x, n, scales), c.constant(fuse)], c.output(name))
    unpack(c, op, operand, more, name)


@converts('mul')
def mul(c, op):
    """Both sides become matrices: constants by their shape, others by a reshape. The result has no scale."""
    sides = []
    for role, attr in (('X', 'x_num_col_dims'), ('Y', 'y_num_col_dims')):
        name, kept = op.input(role), op.attr(attr, 1)
        if name not in c.named:
            shape = c.scope.weights[name].shape
            sides.append(c.weight(name, list(shape[:kept]) + [int(np.prod(shape[kept:]))]))
        elif len(c.shape(c.named[name])) != kept + 1:
            matrix = c.output(name + '_reshaped', c.scope.scale(name))
            sides.append(c.add('RESHAPE', [c.named[name], c.constant([0] * kept + [-1])], matrix))
        else:
            sides.append(c.named[name])
    c.add('MAT_MUL', sides + [c.constant(False), c.constant(False)], c.output(op.output(), []))


@converts('matmul')
def matmul(c, op):
    """alpha is a multiplication. The result has no scale."""
    name = op.output()
    operand = c.add('MAT_MUL', [c.input(op.input('X')), c.input(op.input('Y')), c.constant(op.attr('transpose_X')),
                                c.constant(op.attr('transpose_Y'))], c.output(name, []))
    if abs(op.attr('alpha', 1.0) - 1) > 1e-5:
        c.add('MUL', [operand, c.constant(op.attr('alpha')), c.constant(0)], c.output(name, []))


@converts('matmul_v2')
def matmul_v2(c, op):
    """Constants may be quantized per channel."""
    y = op.input('Y')
    right = c.named[y] if y in c.named else c.weight(y, None, c.scope.weight_scale(y))
    c.add('MAT_MUL', [c.input(op.input('X')), right, c.constant(op.attr('trans_x')), c.constant(op.attr('trans_y'))],
          c.output(op.output()))


@converts('bmm')
def bmm(c, op):
    """A batch of matrix products."""
    c.add('MAT_MUL', [c.input(op.input('X')), c.input(op.input('Y')), c.constant(False), c.constant(False)],
          c.output(op.output(), []))


@converts('pool2d')
def pool2d(c, op):
    """An adaptive pool to 1x1, and a global one, has the image as its window. The indices of a maximum are left out."""
    x, name, kind = c.input(op.input('X')), op.output(), op.attr('pooling_type')
    adaptive, size = op.attr('adaptive', False), list(op.attr('ksize'))
    whole = op.attr('global_pooling', False)
    pads = c.constant([0] * 4 if whole else four_pads(op.attr('paddings')))
    if whole or (adaptive and size == [1, 1]):
        size, adaptive = c.shape(x)[2:], adaptive and size != [1, 1]
    auto_pad, kernel = c.constant(AUTO_PAD[op.attr('padding_algorithm', '')]), c.constant(size)
    strides, ceil, counted = c.constant(op.attr('strides')), c.constant(op.attr('ceil_mode', False)), c.constant(
        not op.attr('exclusive', True))
    indices, precision, fuse = c.constant(False), c.constant(5), c.constant(0)
    out = c.output(name)
    if adaptive and kind == 'avg':
        c.add('ADAPTIVE_AVERAGE_POOL_2D', [x, kernel], out)
    elif adaptive:
        c.add('ADAPTIVE_MAX_POOL_2D', [x, kernel, indices, precision], [out, None])
    elif kind == 'avg':
        c.add('AVERAGE_POOL_2D', [x, auto_pad, pads, kernel, strides, ceil, counted, fuse], out)
    else:
        c.add('MAX_POOL_2D', [x, auto_pad, pads, kernel, strides, ceil, indices, precision, fuse], [out, None])


def aligned(c, op):
    """X and Y with the same rank: the smaller one begins at the attribute axis of the other. A constant gets another shape, a
    tensor an UNSQUEEZE."""
    names = [op.input('X'), op.input('Y')]
    sides = [c.input(name) for name in names]
    ranks = [len(c.shape(side)) for side in sides]
    small, most = int(ranks[1] < ranks[0]), max(ranks)
    if ranks[0] == ranks[1]:
        return sides
    axis = op.attr('axis', -1)
    axis = most - min(ranks) if axis < 0 else axis
    name, behind = names[small], most - min(ranks) - axis
    if name in c.scope.weights:
        sides[small] = c.weight(name, [1] * axis + list(c.scope.weights[name].shape) + [1] * behind)
    else:
        axes = list(range(axis)) + [most - behind + k for k in range(behind)]
        sides[small] = c.add('UNSQUEEZE', [sides[small], c.constant(axes)], c.output(None, []))
    return sides


ELEMENTWISE = {'add': 'ADD', 'sub': 'SUB', 'mul': 'MUL', 'div': 'DIV', 'max': 'MAX', 'min': 'MIN', 'pow': 'POW',
               'floordiv': 'FLOOR_DIV'}


@converts(*['elementwise_' + kind for kind in ELEMENTWISE],
          *['fusion_elementwise_%s_activation' % kind for kind in ELEMENTWISE])
def elementwise(c, op):
    """Two operands of the same rank, and the fuse code."""
    sides, (fuse, more) = aligned(c, op), activation_of(op, None)
    kind = op.kind.split('_')[2 if op.kind.startswith('fusion') else 1]
    operand = c.add(ELEMENTWISE[kind], sides + [c.constant(fuse)], c.output(op.output()))
    unpack(c, op, operand, more, op.output())


COMPARISONS = {'equal': 'EQUAL', 'not_equal': 'NOT_EQUAL', 'greater_than': 'GREATER', 'greater_equal': 'GREATER_EQUAL',
               'less_than': 'LESS', 'less_equal': 'LESS_EQUAL'}


@converts(*COMPARISONS)
def comparison(c, op):
    """The same without a fuse code."""
    c.add(COMPARISONS[op.kind], aligned(c, op), c.output(op.output()))


@converts(*UNARY)
def unary(c, op):
    """Operators of one operand; silu and swish with a beta of 1 are one operation."""
    c.add(UNARY[op.kind], [c.input(op.input('X'))], c.output(op.output()))


def with_constants(operation, *attrs):
    """A converter that passes X and attributes as constants; (name, default) if the operator may lack one."""
    def convert(c, op):
        values = [op.attr(*attr) if isinstance(attr, tuple) else op.attr(attr) for attr in attrs]
        c.add(operation, [c.input(op.input('X'))] + [c.constant(value) for value in values], c.output(op.output()))
    convert.__doc__ = operation
    return convert


converts('leaky_relu')(with_constants('LEAKY_RELU', 'alpha'))
converts('gelu')(with_constants('GELU', 'approximate'))
converts('hard_sigmoid')(with_constants('HARD_SIGMOID', 'slope', 'offset'))
converts('softmax')(with_constants('SOFTMAX', ('axis', -1)))
converts('log_softmax')(with_constants('LOG_SOFTMAX', ('axis', -1)))
converts('softplus')(with_constants('SOFTPLUS', 'beta', 'threshold'))
converts('lrn')(with_constants('LRN', ('n', 5), ('k', 1.0), ('alpha', 1e-4), ('beta', 0.75)))
converts('shuffle_channel')(with_constants('CHANNEL_SHUFFLE', 'group'))
converts('transpose', 'transpose2')(with_constants('TRANSPOSE', 'axis'))


@converts('hard_swish')
def hard_swish(c, op):
    """threshold and scale of 6: one operation."""
    hard_swish_of(c, c.input(op.input('X')), op.output(), op.attr('threshold'), op.attr('scale'), op.attr('offset'))


@converts('pow', 'sqrt')
def power(c, op):
    """The exponent is a constant of [1]."""
    factor = 0.5 if op.kind == 'sqrt' else op.attr('factor')
    c.add('POW', [c.input(op.input('X')), c.constant(factor), c.constant(0)], c.output(op.output()))


@converts('norm')
def norm(c, op):
    """The L2 norm: p is 2."""
    c.add('LP_NORMALIZATION', [c.input(op.input('X')), c.constant(op.attr('axis')), c.constant(2),
                               c.constant(op.attr('epsilon'))],
          c.output(op.output()))


@converts('cumsum')
def cumsum(c, op):
    """The result has no scale."""
    c.add('CUM_SUM', [c.input(op.input('X')), c.constant(op.attr('axis')), c.constant(op.attr('exclusive', False)),
                      c.constant(op.attr('reverse', False))], c.output(op.output(), []))


@converts('prelu')
def prelu(c, op):
    """A slope for all, or one for each channel; the mode "element" is not converted."""
    slope = op.input('Alpha')
    c.add('PRELU', [c.input(op.input('X')), c.weight(slope, [c.scope.weights[slope].size])], c.output(op.output(), []))


@converts('batch_norm')
def batch_norm(c, op):
    """Four vectors of the channels."""
    c.add('BATCH_NORMALIZATION', [c.input(op.input(role)) for role in ('X', 'Scale', 'Bias', 'Mean', 'Variance')] +
          [c.constant(op.attr('epsilon'))], c.output(op.output('Y')))


def affine(c, op, count, shape=None):
    """Scale and bias, ones and zeros if the operator lacks them."""
    return [c.weight(op.input(role), shape) if op.inputs.get(role) else c.constant(np.full(count, value, np.float32), (), shape)
            for role, value in (('Scale', 1), ('Bias', 0))]


@converts('instance_norm')
def instance_norm(c, op):
    """Vectors of the channels."""
    x = c.input(op.input('X'))
    c.add('INSTANCE_NORMALIZATION', [x] + affine(c, op, c.shape(x)[1]) + [c.constant(op.attr('epsilon'))],
          c.output(op.output('Y'), []))


@converts('group_norm')
def group_norm(c, op):
    """Vectors of the channels."""
    x = c.input(op.input('X'))
    c.add('GROUP_NORMALIZATION',
          [x] + affine(c, op, c.shape(x)[1]) + [c.constant(op.attr('epsilon')), c.constant(op.attr('groups'))],
          c.output(op.output('Y'), []))


@converts('layer_norm')
def layer_norm(c, op):
    """Scale and bias have the shape of the last axes."""
    x, axis = c.input(op.input('X')), op.attr('begin_norm_axis')
    shape = c.shape(x)[axis:]
    c.add('LAYER_NORMALIZATION',
          [x] + affine(c, op, int(np.prod(shape)), shape) + [c.constant(axis), c.constant(op.attr('epsilon'))],
          c.output(op.output('Y')))


@converts('clip')
def clip(c, op):
    """Bounds from tensors, or else from attributes."""
    bounds = [c.optional(op, role) or c.constant(float(op.attr(role.lower(), 0.0))) for role in ('Min', 'Max')]
    c.add('CLIP', [c.input(op.input('X'))] + bounds, c.output(op.output()))


@converts('cast')
def cast(c, op):
    """To a data type of Paddle."""
    c.add('CAST', [c.input(op.input('X')), c.constant(FLUID[op.attr('out_dtype')])], c.output(op.output()))


@converts('calib')
def calib(c, op):
    """To int8, or from it; the result has the scale in both directions."""
    x, scale = c.input(op.input('Input')), op.attr('scale')
    axis, factor, zero, out = c.constant(1), c.constant(scale), c.constant(0), c.output(op.output(), [scale])
    if c.type(x).precision < 24:
        c.add('QUANTIZE', [x, axis, factor, zero], out)
    else:
        c.add('DEQUANTIZE', [x], out)


def factor_of(c, value, like):
    """A factor or summand in the type of x: +-1 with a scale beside int8."""
    if c.scope.scale(like):
        return c.constant(np.array([1 if value > 0 else -1], np.int8), [abs(value)])
    kind = (c.scope.feeds.get(like) if like in c.scope.feeds else np.float32(0)).dtype
    return c.constant(np.array([value], kind))


@converts('dropout')
def dropout(c, op):
    """At inference a multiplication."""
    factor = 1.0 if op.attr('dropout_implementation') == 'upscale_in_train' else float(np.float32(1) - np.float32(
        op.attr('dropout_prob')))
    c.add('MUL', [c.input(op.input('X')), factor_of(c, factor, op.input('X')), c.constant(0)], c.output(op.output()))


@converts('scale')
def scale_and_bias(c, op):
    """A multiplication, a sum, both or neither."""
    name, scale, bias = op.input('X'), op.attr('scale', 1.0), op.attr('bias', 0.0)
    operand = c.input(name)
    if not op.attr('bias_after_scale', True):
        bias = float(np.float32(bias) * np.float32(scale))
    for operation, value, used in (('MUL', scale, abs(scale - 1) > 1e-5), ('ADD', bias, abs(bias) > 1e-5)):
        if used:
            operand = c.add(operation, [operand, factor_of(c, value, name), c.constant(0)], c.output(op.output()))
    c.named[op.output()] = operand


@converts('arg_max', 'arg_min')
def arg_min_max(c, op):
    """keepdims is an int8."""
    kind = op.attr('dtype', -1)
    c.add(op.kind.upper(), [c.input(op.input('X')), c.constant(op.attr('axis')),
                            c.constant(np.array([op.attr('keepdims', False)], np.int8)),
                            c.constant(FLUID[3 if kind < 0 else kind])], c.output(op.output()))


@converts('top_k', 'top_k_v2')
def top_k(c, op):
    """largest and sorted are int8; k may be a tensor."""
    k = c.optional(op, 'K') or c.constant(op.attr('k'))
    flags = [c.constant(np.array([op.attr(name, True)], np.int8)) for name in ('largest', 'sorted')]
    c.add('TOP_K', [c.input(op.input('X')), k, c.constant(op.attr('axis', -1))] + flags + [c.constant(7)],
          [c.output(op.output(), []), c.output(op.output('Indices'), [])])


@converts('reduce_mean', 'reduce_max', 'reduce_sum')
def reduce(c, op):
    """reduce_all lists all axes."""
    x = c.input(op.input('X'))
    axes = list(range(len(c.shape(x)))) if op.attr('reduce_all') else op.attr('dim')
    c.add(op.kind.upper(), [x, c.constant(axes), c.constant(op.attr('keep_dim', True))], c.output(op.output()))


# ---- shapes and movement ----

def assembled(c, op, lists, one, attr):
    """A list of integers: tensors of one element each, a tensor, or an attribute."""
    if op.inputs.get(lists):
        parts = [c.input(name) for name in op.inputs[lists]]
        return c.add('CONCAT', parts + [c.constant(0)], c.output(op.output() + '/concat', []))
    return c.optional(op, one) or c.constant(op.attr(attr))


@converts('reshape', 'reshape2')
def reshape(c, op):
    """ShapeTensor, Shape or shape."""
    x = c.input(op.input('X'))
    c.add('RESHAPE', [x, assembled(c, op, 'ShapeTensor', 'Shape', 'shape')], c.output(op.output()))


@converts('expand')
def expand(c, op):
    """Repetitions: TILE."""
    x, out = c.input(op.input('X')), c.output(op.output())
    repeats = c.optional(op, 'ExpandTimes') or assembled(c, op, 'expand_times_tensor', '', 'expand_times')
    c.named[op.output()] = c.add('TILE', [x, repeats], out)


@converts('tile')
def tile(c, op):
    """The same; the result has no scale."""
    x, out = c.input(op.input('X')), c.output(op.output(), [])
    repeats = c.optional(op, 'RepeatTimes') or assembled(c, op, 'repeat_times_tensor', '', 'repeat_times')
    c.named[op.output()] = c.add('TILE', [x, repeats], out)


@converts('expand_v2')
def expand_v2(c, op):
    """A shape; -1 keeps a dimension. The result has no scale."""
    x, out = c.input(op.input('X')), c.output(op.output(), [])
    shape = c.optional(op, 'Shape') or assembled(c, op, 'expand_shapes_tensor', '', 'shape')
    c.named[op.output()] = c.add('EXPAND', [x, shape], out)


@converts('unsqueeze', 'unsqueeze2')
def unsqueeze(c, op):
    """The result has no scale."""
    c.add('UNSQUEEZE', [c.input(op.input('X')), c.constant(op.attr('axes'))], c.output(op.output(), []))


@converts('squeeze', 'squeeze2')
def squeeze(c, op):
    """Without axes the operand is left out."""
    axes = op.attr('axes', [])
    c.add('SQUEEZE', [c.input(op.input('X')), c.constant(axes) if axes else None], c.output(op.output()))


@converts('flatten', 'flatten2')
def flatten(c, op):
    """To a matrix: a reshape, or one or two FLATTEN. A range of one axis is left out."""
    x, name, axis = c.input(op.input('X')), op.output(), op.attr('axis')
    rank = len(c.shape(x))
    axis = axis + rank if axis < 0 else axis
    if axis == 0:
        c.add('RESHAPE', [x, c.constant([1, -1])], c.output(name, []))
        return
    ranges = [(0, axis - 1)] if axis == rank - 1 else [(0, axis - 1), (axis if axis == 1 else axis - 1, -1)]
    for start, end in ranges:
        if start != end:
            x = c.add('FLATTEN', [x, c.constant(start), c.constant(end)], c.output(name, []))


@converts('flatten_contiguous_range')
def flatten_contiguous_range(c, op):
    """The result has no scale."""
    c.add('FLATTEN', [c.input(op.input('X')), c.constant(op.attr('start_axis')), c.constant(op.attr('stop_axis'))],
          c.output(op.output(), []))


def reduced(c, op, operand, rank, scales):
    """decrease_axis: the axes of size 1 that the result lacks."""
    axes = op.attr('decrease_axis', [])
    if axes and len(axes) != rank:
        c.add('SQUEEZE', [operand, c.constant(axes)], c.output(op.output(), scales))
    elif len(axes) > 1:
        c.add('RESHAPE', [operand, c.constant([1])], c.output(op.output(), scales))


@converts('slice')
def slice_(c, op):
    """Ends are cut to the dimensions; steps are 1. The result has no scale."""
    x, axes = c.input(op.input('Input')), op.attr('axes')
    shape = c.shape(x)
    ends = [min(end, shape[axis]) for axis, end in zip(axes, op.attr('ends'))]
    operand = c.add('SLICE', [x, c.constant(axes), c.constant(op.attr('starts')), c.constant(ends),
                              c.constant([1] * len(axes))],
                    c.output(op.output(), []))
    reduced(c, op, operand, len(shape), [])


@converts('strided_slice')
def strided_slice(c, op):
    """Starts, ends and strides from a tensor, several, or attributes."""
    x = c.input(op.input('Input'))
    lists = []
    for role, attr in (('Starts', 'starts'), ('Ends', 'ends'), ('Strides', 'strides')):
        names = op.inputs.get(role + 'TensorList', [])
        if op.inputs.get(role + 'Tensor'):
            lists.append(c.input(op.input(role + 'Tensor')))
        elif len(names) > 1:
            lists.append(c.add('CONCAT', [c.input(name) for name in names] + [c.constant(0)], c.output(None, [])))
        else:
            lists.append(c.input(names[0]) if names else c.constant(op.attr(attr)))
    operand = c.add('SLICE', [x, c.constant(op.attr('axes'))] + lists, c.output(op.output()))
    reduced(c, op, operand, len(c.shape(x)), c.scope.scale(op.output()))


@converts('concat')
def concat(c, op):
    """Any number of inputs, and the axis."""
    c.add('CONCAT', [c.input(name) for name in op.inputs['X']] + [c.constant(op.attr('axis'))], c.output(op.output()))


@converts('stack')
def stack(c, op):
    """The same along a new axis."""
    c.add('STACK', [c.input(name) for name in op.inputs['X']] + [c.constant(op.attr('axis'))], c.output(op.output('Y')))


@converts('unstack')
def unstack(c, op):
    """The number of outputs is an operand."""
    outputs = [c.output(name) for name in op.outputs['Y']]
    c.add('UNSTACK', [c.input(op.input('X')), c.constant(op.attr('axis')), c.constant(op.attr('num'))], outputs)


@converts('split')
def split(c, op):
    """Equal parts, or sizes."""
    x = c.input(op.input('X'))
    axis = c.optional(op, 'AxisTensor') or c.constant(op.attr('axis'))
    number = op.attr('num', 0)
    at = int(c.scope.weights[op.input('AxisTensor')][0]) if op.inputs.get('AxisTensor') else op.attr('axis')
    sizes = [c.shape(x)[at] // number] * number if number > 0 else op.attr('sections')
    c.add('SPLIT', [x, axis, c.constant(sizes)], [c.output(name) for name in op.outputs['Out']])


@converts('gather')
def gather(c, op):
    """The axis from a tensor, an attribute, or 0. The result has no scale."""
    axis = c.optional(op, 'Axis') or c.constant(op.attr('axis', 0))
    c.add('GATHER', [c.input(op.input('X')), c.input(op.input('Index')), axis], c.output(op.output(), []))


@converts('lookup_table_v2')
def lookup_table_v2(c, op):
    """Rows of a table."""
    c.add('GATHER', [c.input(op.input('W')), c.input(op.input('Ids')), c.constant(0)], c.output(op.output(), []))


@converts('lookup_table')
def lookup_table(c, op):
    """The same; the indices have a last axis of 1."""
    table, ids, name = c.input(op.input('W')), c.input(op.input('Ids')), op.output()
    ids = c.add('SQUEEZE', [ids, c.constant([-1])], c.output(name, c.scope.scale(op.input('Ids'))))
    c.add('GATHER', [table, ids, c.constant(0)], c.output(name))


@converts('assign')
def assign(c, op):
    """The result has no scale."""
    c.add('ASSIGN', [c.input(op.input('X'))], c.output(op.output(), []))


@converts('shape')
def shape_(c, op):
    """int32."""
    c.add('SHAPE', [c.input(op.input('Input')), c.constant(5)], c.output(op.output(), []))


@converts('range')
def range_(c, op):
    """Three tensors of one element."""
    c.add('RANGE', [c.input(op.input(role)) for role in ('Start', 'End', 'Step')], c.output(op.output(), []))


@converts('roll')
def roll(c, op):
    """The attributes are int64, the operands int32."""
    c.add('ROLL', [c.input(op.input('X')), c.optional(op, 'ShiftsTensor') or c.constant(op.attr('shifts')),
                   c.constant(op.attr('axis'))],
          c.output(op.output()))


@converts('meshgrid')
def meshgrid(c, op):
    """As many outputs as inputs."""
    c.add('MESHGRID', [c.input(name) for name in op.inputs['X']], [c.output(name) for name in op.outputs['Out']])


@converts('sum')
def sum_(c, op):
    """The result has no scale."""
    c.add('SUM', [c.input(name) for name in op.inputs['X']], c.output(op.output(), []))


@converts('fill_constant')
def fill_constant(c, op):
    """The attribute's shape is int64."""
    shape = c.optional(op, 'ShapeTensor') or c.constant(np.array(op.attr('shape'), np.int64))
    value = c.optional(op, 'ValueTensor') or c.constant(np.array([op.attr('value')], FLUID_TYPES[op.attr('dtype')]))
    c.add('FILL', [shape, value], c.output(op.output(), []))


@converts('fill_any_like', 'fill_zeros_like')
def fill_like(c, op):
    """The value has the type of x, or another one; only int8 has a scale."""
    x = c.input(op.input('X'))
    kind = op.attr('dtype', -1)
    kind = c.scope.feeds[op.input('X')].dtype if kind == -1 else np.dtype(FLUID_TYPES[kind])
    scales = c.scope.scale(op.input('X')) if kind == np.int8 else []
    c.add('FILL_LIKE', [x, c.constant(np.array([op.attr('value', 0.0)]).astype(kind), scales)], c.output(op.output()))


@converts('fill_constant_batch_size_like')
def fill_constant_batch_size_like(c, op):
    """Zeros like the input are sliced to the axis, reshaped, and added to a constant, so that a dynamic dimension is kept."""
    x, name, kind = c.input(op.input('Input')), op.output(), np.dtype(FLUID_TYPES[op.attr('dtype')])
    from_axis, to_axis, shape = op.attr('input_dim_idx', 0), op.attr('output_dim_idx', 0), list(op.attr('shape'))
    axes = [axis for axis in range(len(c.shape(x))) if axis != from_axis]
    shape[to_axis] = 1
    zero, value = c.constant(np.zeros(1, kind)), c.constant(np.full(shape, op.attr('value', 0.0)).astype(kind))
    operand = c.add('FILL_LIKE', [x, zero], c.output(name))
    operand = c.add('SLICE', [operand, c.constant(axes)] + [c.constant([k] * len(axes)) for k in (0, 1, 1)], c.output(name))
    operand = c.add('RESHAPE', [operand, c.constant([-1 if axis == to_axis else 1 for axis in range(len(shape))])],
                    c.output(name))
    c.add('ADD', [operand, value, c.constant(0)], c.output(name))


@converts('logical_and')
def logical_and(c, op):
    """Two booleans."""
    c.add('AND', [c.input(op.input('X')), c.input(op.input('Y'))], c.output(op.output(), []))


@converts('logical_not')
def logical_not(c, op):
    """A boolean."""
    c.add('NOT', [c.input(op.input('X'))], c.output(op.output(), []))


@converts('where')
def where(c, op):
    """The smaller one of X and Y gets further axes of size 1 behind."""
    names = [op.input('X'), op.input('Y')]
    condition, sides = c.input(op.input('Condition')), [c.input(name) for name in names]
    ranks = [len(c.shape(side)) for side in sides]
    small, more = int(ranks[1] < ranks[0]), abs(ranks[0] - ranks[1])
    if more and names[small] in c.scope.weights:
        sides[small] = c.weight(names[small], list(c.scope.weights[names[small]].shape) + [1] * more)
    elif more:
        sides[small] = c.add('UNSQUEEZE', [sides[small], c.constant([min(ranks) + k for k in range(more)])], c.output(None, []))
    c.add('WHERE', [condition] + sides, c.output(op.output()))


@converts('pad2d', 'pad3d')
def pad(c, op):
    """Paddings of height and width, or of width, height and depth; NHWC and NDHWC place them at other axes."""
    p, layout = op.attr('paddings'), op.attr('data_format')
    inner = p if op.kind == 'pad2d' else p[4:6] + p[2:4] + p[0:2]
    pads = [0, 0] + inner + [0, 0] if layout.endswith('C') else [0] * 4 + inner
    value = op.attr('pad_value' if op.kind == 'pad2d' else 'value', 0.0)
    c.add('PAD', [c.input(op.input('X')), c.constant(pads), c.constant(PAD_MODE[op.attr('mode')]), c.constant(value)],
          c.output(op.output()))


@converts('nearest_interp', 'nearest_interp_v2', 'bilinear_interp', 'bilinear_interp_v2')
def interpolate(c, op):
    """A shape, scales or both; the first version has one scale for both axes, and passes 0 for none."""
    single, linear = not op.kind.endswith('_v2'), op.kind.startswith('bilinear')
    x, shape, scales = c.input(op.input('X')), None, None
    if op.inputs.get('SizeTensor'):
        shape = c.add('CONCAT', [c.input(name) for name in op.inputs['SizeTensor']] + [c.constant(0)], c.output(None, []))
    elif op.inputs.get('OutSize'):
        shape = c.input(op.input('OutSize'))
    elif op.attr('out_h', -1) > 0 and op.attr('out_w', -1) > 0:
        shape = c.constant([op.attr('out_h'), op.attr('out_w')])
    if op.inputs.get('Scale'):
        values = c.scope.weights[op.input('Scale')]
        scales = c.constant([float(v) for v in (values if values.size == 2 else values.repeat(2))])
    elif single and 'scale' in op.attrs:
        scales = c.constant([float(op.attr('scale'))] * 2)
    elif op.attr('scale'):
        scales = c.constant([float(v) for v in op.attr('scale')])
    corners, mode = op.attr('align_corners'), op.attr('align_mode', 1)
    operands = [x, shape, scales, c.constant(corners)]
    if linear:
        operands.append(c.constant(1 if corners else mode))
    c.add('RESIZE_LINEAR' if linear else 'RESIZE_NEAREST', operands, c.output(op.output()))


# ---- detection ----

@converts('prior_box')
def prior_box(c, op):
    """max_sizes may be left out."""
    x, image = c.input(op.input('Input')), c.input(op.input('Image'))
    outputs = [c.output(op.output(role)) for role in ('Boxes', 'Variances')]
    most = op.attr('max_sizes', [])
    c.add('PRIOR_BOX', [x, image, c.constant(op.attr('min_sizes')), c.constant(most) if most else None] + [
        c.constant(op.attr(name, default)) for name, default in (
            ('aspect_ratios', None), ('variances', None), ('flip', None), ('clip', None), ('step_w', None), ('step_h', None),
            ('offset', None), ('min_max_aspect_ratios_order', False))], outputs)


@converts('yolo_box')
def yolo_box(c, op):
    """All attributes are operands."""
    c.add('YOLO_BOX', [c.input(op.input('X')), c.input(op.input('ImgSize'))] + [
        c.constant(op.attr(name, default)) for name, default in (
            ('anchors', None), ('class_num', None), ('conf_thresh', None), ('downsample_ratio', None), ('clip_bbox', True),
            ('scale_x_y', 1.0), ('iou_aware', False), ('iou_aware_factor', 0.5))],
        [c.output(op.output('Boxes'), []), c.output(op.output('Scores'), [])])


@converts('multiclass_nms3')
def multiclass_nms(c, op):
    """The index is returned if the operator has that output."""
    names = [op.outputs[role][0] for role in ('Out', 'NmsRoisNum', 'Index') if op.outputs.get(role)]
    c.add('NON_MAX_SUPPRESSION', [c.input(op.input('BBoxes')), c.input(op.input('Scores')), c.optional(op, 'RoisNum')] + [
        c.constant(op.attr(name)) for name in ('background_label', 'score_threshold', 'nms_top_k', 'nms_threshold', 'nms_eta',
                                               'keep_top_k', 'normalized')] + [c.constant('Index' in op.outputs)],
        [c.output(name, []) for name in names])


@converts('roi_align')
def roi_align(c, op):
    """The tensor RoisNum is passed as the indices of the images."""
    c.add('ROI_ALIGN', [c.input(op.input(role)) for role in ('X', 'ROIs', 'RoisNum')] + [
        c.constant(op.attr(name)) for name in ('pooled_height', 'pooled_width', 'sampling_ratio', 'spatial_scale')] +
        [c.constant(False)], c.output(op.output(), []))


@converts('grid_sample')
def grid_sample(c, op):
    """The modes as codes."""
    c.add('GRID_SAMPLE', [c.input(op.input('X')), c.input(op.input('Grid')), c.constant(op.attr('align_corners', True)),
                          c.constant({'bilinear': 1, 'nearest': 2}[op.attr('mode', 'bilinear')]),
                          c.constant(PAD_MODE[op.attr('padding_mode', 'zeros')])], c.output(op.output('Output'), []))
