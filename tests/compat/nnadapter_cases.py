"""Cases of the suite nnadapter-bridge: attribute sets that are typical of each operator of Paddle, with random tensors.

real_cases and code_cases return (operator, text, ops, scope, results, units). units: the bound of float32 results in units of
2^-24 of the largest expected value, 0 for equality.
"""
import zlib

import numpy as np

from nnadapter_bridge import Op, Scope

# Roundings of 2^-24 that a float32 result may have, relative to the largest result: 0 for selected and moved elements.
MOVED = 0
ARITHMETIC = 3     # at most two operations, and the rounding of a constant
FUNCTION = 8       # exp, log, tanh, pow and compositions of them
SUM = 32           # sums of at most 240 terms, means, interpolation


class Draw:
    """Random tensors of one case, the same in every run."""

    def __init__(self, text):
        self.rng = np.random.default_rng(zlib.crc32(text.encode()))

    def __call__(self, *shape):
        """Normal"""
        return self.rng.standard_normal(shape).astype(np.float32)

    def positive(self, *shape):
        """In 0.5 .. 2"""
        return self.rng.uniform(0.5, 2, shape).astype(np.float32)

    def ints(self, low, high, *shape, kind=np.int32):
        """Integers below high"""
        return self.rng.integers(low, high, shape).astype(kind)

    def bools(self, *shape):
        """Booleans"""
        return self.rng.integers(0, 2, shape).astype(np.bool_)

    def scores(self, *shape):
        """Different values in 0 .. 1"""
        count = int(np.prod(shape))
        return ((self.rng.permutation(count) + 0.5) / count).reshape(shape).astype(np.float32)


class Cases:
    """A list of cases."""

    def __init__(self):
        self.list = []

    def add(self, kind, text, tensors, attrs, weights=(), units=MOVED, outputs=None, scales=None):
        """A case of one operator. tensors: role -> function(draw), an array or a list of them. Roles in weights are
        persistable."""
        draw, inputs, values = Draw('%s %s' % (kind, text)), {}, {}
        for role, value in tensors.items():
            several = value if isinstance(value, list) else [value]
            inputs[role] = ['%s%s' % (role.lower(), k or '') for k in range(len(several))]
            for name, v in zip(inputs[role], several):
                values[name] = v(draw) if callable(v) else v
        outputs = outputs or {'Out': ['out']}
        persistable = [name for role in weights for name in inputs[role]]
        scope = Scope({n: v for n, v in values.items() if n not in persistable}, {n: values[n] for n in persistable}, scales)
        self.list.append((kind, text, [Op(kind, inputs, outputs, **attrs)], scope, [n for r in outputs.values() for n in r],
                          units))


def floats(*shape):
    """Normal values"""
    return lambda draw: draw(*shape)


def positives(*shape):
    """0.5 .. 2"""
    return lambda draw: draw.positive(*shape)


def whole(low, high, *shape, kind=np.int32):
    """Integers"""
    return lambda draw: draw.ints(low, high, *shape, kind=kind)


def scalar(*values, kind=np.int32):
    """A list"""
    return np.array(values, kind)


def activations(cases):
    """Functions of one operand."""
    for kind in 'sigmoid relu relu6 tanh abs exp floor square sin cos swish silu'.split():
        cases.add(kind, '4 axes', {'X': lambda d: d(2, 3, 4, 5) * 4}, {'beta': 1.0} if kind == 'swish' else {},
                  units=MOVED if kind in ('relu', 'relu6', 'abs', 'floor') else FUNCTION)
    for kind in 'log rsqrt sqrt'.split():
        cases.add(kind, 'positive', {'X': positives(3, 17)}, {}, units=FUNCTION)
    x = {'X': lambda d: d(2, 3, 5, 7) * 4}
    cases.add('leaky_relu', 'alpha 0.02', x, {'alpha': 0.02}, units=ARITHMETIC)
    cases.add('gelu', 'erf', x, {'approximate': False}, units=FUNCTION)
    cases.add('gelu', 'tanh', x, {'approximate': True}, units=FUNCTION)
    cases.add('hard_sigmoid', 'slope 0.2', x, {'slope': 0.2, 'offset': 0.5}, units=ARITHMETIC)
    for name, t, s, o in (('of MobileNetV3', 6.0, 6.0, 3.0), ('another threshold', 5.0, 4.0, 2.0)):
        cases.add('hard_swish', name, x, {'threshold': t, 'scale': s, 'offset': o}, units=ARITHMETIC)
    cases.add('softplus', 'threshold 2', x, {'beta': 1.5, 'threshold': 2.0}, units=FUNCTION)
    cases.add('pow', 'square', x, {'factor': 2.0}, units=FUNCTION)
    cases.add('pow', 'broken exponent', {'X': positives(2, 9)}, {'factor': 1.5}, units=FUNCTION)
    cases.add('prelu', 'channels', {**x, 'Alpha': floats(1, 3, 1, 1)}, {'mode': 'channel'}, ['Alpha'], ARITHMETIC)
    cases.add('prelu', 'one slope', {**x, 'Alpha': floats(1)}, {'mode': 'all'}, ['Alpha'], ARITHMETIC)
    cases.add('clip', 'attributes', x, {'min': -1.5, 'max': 2.5})
    cases.add('clip', 'tensors', {**x, 'Min': scalar(-1, kind=np.float32), 'Max': scalar(3, kind=np.float32)}, {},
              ['Min', 'Max'])
    for kind in ('softmax', 'log_softmax'):
        cases.add(kind, 'last axis', x, {}, units=FUNCTION)
        cases.add(kind, 'channels', x, {'axis': 1}, units=FUNCTION)
    cases.add('dropout', 'upscale_in_train', x, {'dropout_implementation': 'upscale_in_train', 'dropout_prob': 0.3})
    cases.add('dropout', 'downgrade_in_infer', x, {'dropout_implementation': 'downgrade_in_infer', 'dropout_prob': 0.3},
              units=ARITHMETIC)
    cases.add('cumsum', 'last axis', x, {'axis': -1}, units=SUM)
    cases.add('cumsum', 'exclusive, reverse', x, {'axis': 1, 'exclusive': True, 'reverse': True}, units=SUM)
    for text, scale, bias, after in (('both', 2.5, -0.75, True), ('bias first', 0.5, 3.0, False), ('scale', -3.0, 0.0, True),
                                     ('bias', 1.0, 4.0, True)):
        cases.add('scale', text, x, {'scale': scale, 'bias': bias, 'bias_after_scale': after}, units=ARITHMETIC)
    for kind in (np.int32, np.int64):
        cases.add('scale', kind.__name__, {'X': whole(-9, 9, 3, 4, kind=kind)},
                  {'scale': 3.0, 'bias': -2.0, 'bias_after_scale': True})


def arithmetic(cases):
    """Two operands: broadcasts, constants, fused activations."""
    units = {'max': MOVED, 'min': MOVED, 'floordiv': MOVED, 'pow': FUNCTION}
    for kind in 'add sub mul div max min pow floordiv'.split():
        whole_numbers = kind == 'floordiv'
        make = (lambda *s: whole(1, 50, *s)) if whole_numbers else positives if kind in ('pow', 'div') else floats
        unit = units.get(kind, ARITHMETIC)
        name, fused = 'elementwise_' + kind, 'fusion_elementwise_%s_activation' % kind
        cases.add(name, 'equal shapes', {'X': make(2, 3, 4, 5), 'Y': make(2, 3, 4, 5)}, {'axis': -1}, units=unit)
        cases.add(name, 'channels, a constant', {'X': make(2, 3, 4, 5), 'Y': make(3)}, {'axis': 1}, ['Y'], unit)
        cases.add(name, 'channels, a tensor', {'X': make(2, 3, 4, 5), 'Y': make(3)}, {'axis': 1}, units=unit)
        cases.add(name, 'the first operand is smaller', {'X': make(4, 5), 'Y': make(2, 3, 4, 5)}, {'axis': -1}, ['X'], unit)
        fused_too = {'add': ['relu', 'relu6', 'relu1', 'leaky_relu', 'tanh'], 'floordiv': ['relu']}
        for activation in fused_too.get(kind, ['relu', 'relu6']):
            cases.add(fused, activation, {'X': make(2, 3, 4), 'Y': make(2, 3, 4)}, {
                'axis': -1, 'act_type': activation, 'leaky_relu_alpha': 0.1},
                units=max(unit, FUNCTION if activation == 'tanh' else 0))
    for kind in 'equal not_equal greater_than greater_equal less_than less_equal'.split():
        cases.add(kind, 'channels', {'X': whole(0, 4, 2, 3, 4), 'Y': whole(0, 4, 3)}, {'axis': 1})
        cases.add(kind, 'floats', {'X': lambda d: np.round(d(5, 6)), 'Y': lambda d: np.round(d(5, 6))}, {'axis': -1})
    cases.add('logical_and', '', {'X': lambda d: d.bools(3, 5), 'Y': lambda d: d.bools(3, 5)}, {})
    cases.add('logical_not', '', {'X': lambda d: d.bools(3, 5)}, {})
    cases.add('sum', 'three', {'X': [floats(2, 3, 4)] * 3}, {}, units=ARITHMETIC)
    condition = {'Condition': lambda d: d.bools(2, 3, 4)}
    cases.add('where', 'equal shapes', {**condition, 'X': floats(2, 3, 4), 'Y': floats(2, 3, 4)}, {})
    cases.add('where', 'a smaller constant', {**condition, 'X': floats(2, 3, 4), 'Y': floats(2, 3)}, {}, ['Y'])
    cases.add('where', 'a smaller tensor', {**condition, 'X': floats(2), 'Y': floats(2, 3, 4)}, {})
    for kind, to in (('float32 to int32', 2), ('float32 to int64', 3)):
        cases.add('cast', kind, {'X': lambda d: d(3, 5) * 100}, {'out_dtype': to})
    cases.add('cast', 'int64 to float32', {'X': whole(-99, 99, 7, kind=np.int64)}, {'out_dtype': 5})
    cases.add('cast', 'bool to float32', {'X': lambda d: d.bools(7)}, {'out_dtype': 5})
    cases.add('assign', '', {'X': floats(2, 3)}, {})


def convolutions(cases):
    """Convolutions, pools, matrix products, normalizations."""
    plain = {'strides': [1, 1], 'paddings': [1, 1], 'groups': 1, 'dilations': [1, 1]}
    out = {'Output': ['out']}

    def conv(kind, text, x, w, bias=True, **attrs):
        outputs = w[1] * attrs.get('groups', 1) if kind == 'conv2d_transpose' else w[0]
        tensors = {'Input': floats(*x), 'Filter': floats(*w), **({'Bias': floats(outputs)} if bias else {})}
        cases.add(kind, text, tensors, {**plain, **attrs}, ['Filter', 'Bias'] if bias else ['Filter'], SUM, out)

    conv('conv2d', '3x3', (2, 5, 9, 8), (7, 5, 3, 3))
    conv('conv2d', 'without bias', (1, 5, 9, 8), (7, 5, 3, 3), False)
    conv('conv2d', 'stride 2, four paddings', (1, 5, 10, 9), (4, 5, 3, 2), strides=[2, 1], paddings=[0, 1, 2, 1])
    conv('conv2d', 'dilated, groups', (1, 6, 11, 12), (8, 3, 3, 3), groups=2, dilations=[2, 3], paddings=[2, 3])
    conv('conv2d', 'SAME', (1, 3, 10, 9), (4, 3, 3, 4), strides=[2, 2], padding_algorithm='SAME')
    conv('conv2d', 'VALID', (1, 3, 10, 9), (4, 3, 3, 4), padding_algorithm='VALID')
    for act in ('relu', 'relu6', 'relu1', 'leaky_relu', 'hard_swish', 'sigmoid'):
        conv('conv2d', act, (1, 4, 8, 8), (6, 4, 1, 1), paddings=[0, 0], with_act=True, act_type=act, leaky_relu_alpha=0.1,
             hard_swish_threshold=6.0, hard_swish_scale=6.0, hard_swish_offset=3.0)
    conv('depthwise_conv2d', '3x3', (2, 6, 9, 8), (6, 1, 3, 3), groups=6)
    conv('depthwise_conv2d', 'multiplier 2, stride 2', (1, 4, 9, 9), (8, 1, 5, 5), groups=4, strides=[2, 2], paddings=[2, 2])
    conv('conv2d_transpose', 'stride 2', (1, 4, 5, 6), (4, 3, 4, 4), strides=[2, 2])
    conv('conv2d_transpose', 'groups, output_padding', (2, 4, 5, 4), (4, 3, 3, 3), strides=[2, 2], groups=2,
         output_padding=[1, 1])
    conv('conv2d_transpose', 'output_size', (1, 2, 5, 6), (2, 3, 3, 3), strides=[2, 2], output_size=[10, 11])
    conv('conv2d_transpose', 'relu, without bias', (1, 2, 4, 4), (2, 3, 2, 2), False, strides=[2, 2], paddings=[0, 0],
         with_act=True, act_type='relu')
    for text, groups, sets in (('one set of offsets', 1, 1), ('two sets, groups', 2, 2)):
        cases.add('deformable_conv', text, {
            'Input': floats(2, 4, 6, 7), 'Offset': floats(2, 18 * sets, 6, 7), 'Mask': floats(2, 9 * sets, 6, 7),
            'Filter': floats(6, 4 // groups, 3, 3), 'Bias': floats(6)}, {**plain, 'groups': groups, 'deformable_groups': sets},
            ['Filter', 'Bias'], SUM, out)
    for text, attrs in (('', {}), ('relu', {'activation_type': 'relu'}), ('relu6', {'activation_type': 'relu6'})):
        cases.add('fc', 'of an image ' + text, {'Input': floats(2, 5, 4, 3), 'W': floats(60, 7), 'Bias': floats(7)},
                  {'in_num_col_dims': 1, **attrs}, ['W', 'Bias'], SUM)
    cases.add('fc', 'of a sequence, without bias', {'Input': floats(2, 5, 6), 'W': floats(6, 7)}, {'in_num_col_dims': 2},
              ['W'], SUM)
    cases.add('mul', 'a weight', {'X': floats(2, 3, 4), 'Y': floats(12, 5)}, {'x_num_col_dims': 1, 'y_num_col_dims': 1},
              ['Y'], SUM)
    cases.add('mul', 'two tensors', {'X': floats(3, 2, 2), 'Y': floats(4, 5)}, {'x_num_col_dims': 1, 'y_num_col_dims': 1}, (),
              SUM)
    cases.add('mul', 'of a sequence', {'X': floats(3, 2, 4), 'Y': floats(4, 5)}, {'x_num_col_dims': 2, 'y_num_col_dims': 1},
              ['Y'], SUM)
    for tx, ty in ((False, False), (True, False), (False, True)):
        tensors = {'X': floats(*((2, 4, 3) if tx else (2, 3, 4))), 'Y': floats(*((2, 5, 4) if ty else (2, 4, 5)))}
        cases.add('matmul', '%d %d' % (tx, ty), tensors, {'transpose_X': tx, 'transpose_Y': ty,
                                                          'alpha': 0.125 if tx else 1.0}, (), SUM)
        cases.add('matmul_v2', '%d %d' % (tx, ty), tensors, {'trans_x': tx, 'trans_y': ty}, ['Y'], SUM)
    cases.add('matmul_v2', 'broadcast', {'X': floats(3, 2, 3, 4), 'Y': floats(4, 5)}, {'trans_x': False, 'trans_y': False},
              (), SUM)
    cases.add('bmm', '', {'X': floats(3, 4, 5), 'Y': floats(3, 5, 2)}, {}, (), SUM)

    base = {'ksize': [3, 3], 'strides': [2, 2], 'paddings': [1, 1], 'global_pooling': False, 'exclusive': True,
            'adaptive': False,
            'ceil_mode': False, 'padding_algorithm': 'EXPLICIT'}
    for kind in ('max', 'avg'):
        for text, attrs in (('3x3', {}), ('ceil', {'ceil_mode': True, 'paddings': [0, 0]}),
                            ('global', {'global_pooling': True}),
                            ('adaptive 1x1', {'adaptive': True, 'ksize': [1, 1], 'paddings': [0, 0], 'strides': [1, 1]}),
                            ('adaptive', {'adaptive': True, 'ksize': [3, 2]}),
                            ('SAME', {'padding_algorithm': 'SAME'}), ('four paddings', {'paddings': [0, 1, 1, 0]}),
                            ('padding counts', {'exclusive': False})):
            cases.add('pool2d', '%s %s' % (kind, text), {'X': floats(2, 3, 8, 10)}, {**base, 'pooling_type': kind, **attrs}, (),
                      MOVED if kind == 'max' else SUM)
    x, vectors = {'X': floats(2, 6, 5, 4)}, {'Scale': floats(6), 'Bias': floats(6)}
    cases.add('batch_norm', '', {**x, **vectors, 'Mean': floats(6), 'Variance': positives(6)}, {'epsilon': 1e-5},
              ['Scale', 'Bias', 'Mean', 'Variance'], FUNCTION, {'Y': ['out']})
    for kind, attrs in (('instance_norm', {'epsilon': 1e-5}), ('group_norm', {'epsilon': 1e-5, 'groups': 3})):
        cases.add(kind, 'scale and bias', {**x, **vectors}, attrs, ['Scale', 'Bias'], SUM, {'Y': ['out']})
        cases.add(kind, 'neither', x, attrs, (), SUM, {'Y': ['out']})
    cases.add('layer_norm', 'last axis', {'X': floats(2, 5, 8), 'Scale': floats(8), 'Bias': floats(8)},
              {'begin_norm_axis': 2, 'epsilon': 1e-5}, ['Scale', 'Bias'], SUM, {'Y': ['out']})
    cases.add('layer_norm', 'two axes, neither', {'X': floats(2, 5, 8)}, {'begin_norm_axis': 1, 'epsilon': 1e-5}, (), SUM,
              {'Y': ['out']})
    cases.add('norm', 'channels', x, {'axis': 1, 'epsilon': 1e-10}, (), SUM)
    cases.add('lrn', 'n 5', x, {'n': 5, 'k': 1.0, 'alpha': 0.01, 'beta': 0.75}, (), FUNCTION)
    for kind, unit in (('reduce_mean', SUM), ('reduce_sum', SUM), ('reduce_max', MOVED)):
        cases.add(kind, 'image', x, {'dim': [2, 3], 'keep_dim': True, 'reduce_all': False}, (), unit)
        cases.add(kind, 'last axis', x, {'dim': [-1], 'keep_dim': False}, (), unit)
        cases.add(kind, 'all', x, {'dim': [0], 'keep_dim': True, 'reduce_all': True}, (), unit)


def movement(cases):
    """Shapes and movement of elements."""
    x = {'X': floats(2, 3, 4, 5)}
    for kind in ('reshape', 'reshape2'):
        cases.add(kind, 'attribute', x, {'shape': [0, -1, 10]})
        cases.add(kind, 'a tensor', {**x, 'Shape': scalar(4, 30)}, {'shape': [1]}, ['Shape'])
    cases.add('reshape2', 'three tensors', {**x, 'ShapeTensor': [scalar(6), scalar(-1), scalar(2)]}, {}, ['ShapeTensor'])
    for kind in ('unsqueeze', 'unsqueeze2'):
        cases.add(kind, 'two axes', {'X': floats(3, 4)}, {'axes': [0, 2]})
    for kind in ('squeeze', 'squeeze2'):
        cases.add(kind, 'an axis', {'X': floats(1, 3, 1, 4)}, {'axes': [2]})
        cases.add(kind, 'all', {'X': floats(1, 3, 1, 4)}, {})
    for kind in ('flatten', 'flatten2'):
        for axis in range(4):
            cases.add(kind, 'axis %d' % axis, x, {'axis': axis})
    cases.add('flatten_contiguous_range', 'behind the batch', x, {'start_axis': 1, 'stop_axis': -1})
    cases.add('flatten_contiguous_range', 'the middle', x, {'start_axis': 1, 'stop_axis': 2})
    for kind in ('transpose', 'transpose2'):
        cases.add(kind, 'to channels last', x, {'axis': [0, 2, 3, 1]})
    cases.add('tile', 'attribute', {'X': floats(2, 3)}, {'repeat_times': [2, 3]})
    cases.add('tile', 'a tensor', {'X': floats(2, 3), 'RepeatTimes': scalar(1, 2)}, {}, ['RepeatTimes'])
    cases.add('tile', 'two tensors', {'X': floats(2, 3), 'repeat_times_tensor': [scalar(2), scalar(1)]}, {},
              ['repeat_times_tensor'])
    cases.add('expand', 'attribute', {'X': floats(2, 1)}, {'expand_times': [1, 4]})
    cases.add('expand', 'tensors', {'X': floats(2, 1), 'expand_times_tensor': [scalar(2), scalar(3)]}, {},
              ['expand_times_tensor'])
    cases.add('expand_v2', 'attribute', {'X': floats(3, 1)}, {'shape': [2, 3, 4]})
    cases.add('expand_v2', 'kept dimensions', {'X': floats(3, 1, 5)}, {'shape': [2, -1, 4, -1]})
    cases.add('expand_v2', 'tensors', {'X': floats(1, 3), 'expand_shapes_tensor': [scalar(4), scalar(3)]}, {},
              ['expand_shapes_tensor'])
    cases.add('expand_v2', 'an input', {'X': floats(1, 3), 'Shape': scalar(4, 3)}, {})
    x = {'Input': floats(2, 5, 6)}
    cases.add('slice', 'two axes, an end behind the axis', x, {'axes': [1, 2], 'starts': [1, -4], 'ends': [99, -1]})
    cases.add('slice', 'decrease_axis', x, {'axes': [1], 'starts': [2], 'ends': [3], 'decrease_axis': [1]})
    cases.add('slice', 'all axes', x, {'axes': [0, 1, 2], 'starts': [1, 2, 3], 'ends': [2, 3, 4], 'decrease_axis': [0, 1, 2]})
    cases.add('strided_slice', 'steps', x, {'axes': [1, 2], 'starts': [0, 5], 'ends': [5, 0], 'strides': [2, -2]})
    cases.add('strided_slice', 'tensors', {**x, 'StartsTensor': scalar(1), 'EndsTensorList': [scalar(4)],
                                           'StridesTensor': scalar(2)},
              {'axes': [2]}, ['StartsTensor', 'EndsTensorList', 'StridesTensor'])
    cases.add('strided_slice', 'lists of tensors, decrease_axis', {
        **x, 'StartsTensorList': [scalar(1), scalar(2)], 'EndsTensorList': [scalar(2), scalar(6)]},
        {'axes': [0, 2], 'strides': [1, 3], 'decrease_axis': [0]}, ['StartsTensorList', 'EndsTensorList'])
    cases.add('concat', 'channels', {'X': [floats(2, 3, 4), floats(2, 1, 4), floats(2, 2, 4)]}, {'axis': 1})
    cases.add('concat', 'last axis, a constant', {'X': [floats(2, 3), floats(2, 4)]}, {'axis': -1})
    cases.add('stack', 'axis 1', {'X': [floats(2, 3), floats(2, 3)]}, {'axis': 1}, outputs={'Y': ['out']})
    cases.add('unstack', 'axis 1', {'X': floats(2, 3, 4)}, {'axis': 1, 'num': 3}, outputs={'Y': ['a', 'b', 'c']})
    cases.add('split', 'equal parts', {'X': floats(2, 6, 4)}, {'axis': 1, 'num': 3}, outputs={'Out': ['a', 'b', 'c']})
    cases.add('split', 'sizes', {'X': floats(2, 6, 4)}, {'axis': -2, 'num': 0, 'sections': [1, 5]}, outputs={'Out': ['a', 'b']})
    cases.add('split', 'an axis of a tensor', {'X': floats(2, 6, 4), 'AxisTensor': scalar(2)}, {'num': 2}, ['AxisTensor'],
              outputs={'Out': ['a', 'b']})
    cases.add('gather', 'axis 1', {'X': floats(3, 5, 2), 'Index': whole(0, 5, 4)}, {'axis': 1})
    cases.add('gather', 'int64, an axis of a tensor', {'X': floats(3, 5), 'Index': whole(0, 5, 7, kind=np.int64),
                                                       'Axis': scalar(1)}, {},
              ['Axis'])
    cases.add('gather', 'without axis', {'X': floats(3, 5), 'Index': whole(0, 3, 4)}, {})
    cases.add('lookup_table', '', {'W': floats(9, 5), 'Ids': whole(0, 9, 2, 4, 1, kind=np.int64)}, {'padding_idx': -1}, ['W'])
    cases.add('lookup_table_v2', '', {'W': floats(9, 5), 'Ids': whole(0, 9, 2, 4, kind=np.int64)}, {'padding_idx': -1}, ['W'])
    cases.add('shape', '', {'Input': floats(2, 3, 4)}, {})
    for kind in (np.int32, np.float32, np.int64):
        three = {'Start': scalar(1, kind=kind), 'End': scalar(9, kind=kind), 'Step': scalar(2, kind=kind)}
        cases.add('range', kind.__name__ + ' inputs', three, {})
        cases.add('range', kind.__name__ + ', only End is one', three, {}, ['Start', 'Step'])
    cases.add('roll', 'two axes', {'X': floats(4, 5)}, {'shifts': [1, -2], 'axis': [0, 1]})
    cases.add('roll', 'a tensor', {'X': floats(4, 5), 'ShiftsTensor': scalar(3)}, {'axis': [1]}, ['ShiftsTensor'])
    cases.add('meshgrid', 'three', {'X': [floats(2), floats(3), floats(4)]}, {}, outputs={'Out': ['a', 'b', 'c']})
    cases.add('shuffle_channel', 'two groups', {'X': floats(2, 6, 3, 4)}, {'group': 2})
    for text, kind in (('float32', 5), ('int32', 2), ('int64', 3), ('bool', 0)):
        cases.add('fill_constant', text, {'ShapeTensor': scalar(2, 3, kind=np.int64)}, {'value': 1.0, 'dtype': kind})
        cases.add('fill_constant_batch_size_like', text, {'Input': floats(2, 5, 4, 3)}, {
            'shape': [7, 9, -1, 2], 'dtype': kind, 'value': 1.0 if kind == 0 else 2.0, 'input_dim_idx': 1, 'output_dim_idx': 2})
    cases.add('fill_constant', 'a value of a tensor', {'ShapeTensor': scalar(2, 3),
                                                       'ValueTensor': scalar(7, kind=np.float32)}, {})
    cases.add('fill_any_like', 'the type of x', {'X': floats(2, 3)}, {'value': 2.5, 'dtype': -1})
    cases.add('fill_any_like', 'int64', {'X': floats(2, 3)}, {'value': 3.0, 'dtype': 3})
    for kind in (np.float32, np.int32, np.int64):
        cases.add('fill_zeros_like', kind.__name__, {'X': whole(1, 9, 2, 3, kind=kind)}, {})
    for mode in ('constant', 'reflect', 'edge'):
        for layout in ('NCHW', 'NHWC'):
            cases.add('pad2d', '%s %s' % (mode, layout), {'X': floats(2, 4, 5, 4)}, {
                'paddings': [1, 2, 0, 3], 'mode': mode, 'pad_value': 1.5, 'data_format': layout})
    for mode in ('constant', 'reflect', 'replicate'):
        cases.add('pad3d', mode, {'X': floats(1, 2, 4, 5, 4)}, {
            'paddings': [1, 2, 0, 3, 1, 0], 'mode': mode, 'value': 0.5, 'data_format': 'NCDHW'})
    cases.add('pad3d', 'NDHWC', {'X': floats(1, 4, 5, 4, 2)}, {
        'paddings': [1, 2, 0, 3, 1, 0], 'mode': 'constant', 'value': 0.5, 'data_format': 'NDHWC'})


def selection(cases):
    """Places and order, resizing, detection."""
    x = {'X': lambda d: d.scores(3, 4, 6)}
    for kind in ('arg_max', 'arg_min'):
        cases.add(kind, 'int64', x, {'axis': 1})
        cases.add(kind, 'int32, keepdims', x, {'axis': -1, 'keepdims': True, 'dtype': 2})
        cases.add(kind, 'equal values', {'X': lambda d: np.round(d(4, 9))}, {'axis': 1, 'dtype': -1})
    two = {'Out': ['out'], 'Indices': ['indices']}
    for kind in ('top_k', 'top_k_v2'):
        cases.add(kind, 'last axis', x, {'k': 3}, outputs=two)
    cases.add('top_k', 'k of a tensor', {**x, 'K': scalar(2)}, {}, ['K'], outputs=two)
    cases.add('top_k_v2', 'the smallest of axis 1', x, {'k': 2, 'axis': 1, 'largest': False, 'sorted': True}, outputs=two)
    x = {'X': floats(2, 3, 5, 6)}
    for version in ('', '_v2'):
        none, double = ({'scale': 0.0}, {'scale': 2.0}) if not version else ({'scale': []}, {'scale': [2.0, 3.0]})
        for kind, unit in (('nearest_interp' + version, MOVED), ('bilinear_interp' + version, SUM)):
            for corners, mode in ((True, 1), (False, 1), (False, 0)):
                if kind.startswith('nearest') and mode == 0:
                    continue
                attrs = {'align_corners': corners, 'align_mode': mode}
                text = ' align_corners' if corners else ' align_mode %d' % mode
                cases.add(kind, 'a size' + text, x, {**attrs, **none, 'out_h': 8, 'out_w': 9}, (), unit)
                cases.add(kind, 'a scale' + text, x, {**attrs, **double, 'out_h': -1, 'out_w': -1}, (), unit)
            attrs = {'align_corners': False, 'align_mode': 1}
            cases.add(kind, 'a scale before a size', x, {**attrs, **double, 'out_h': 7, 'out_w': 11}, (), unit)
            cases.add(kind, 'OutSize', {**x, 'OutSize': scalar(7, 11)}, {**attrs, **none}, ['OutSize'], unit)
            cases.add(kind, 'OutSize of an input', {**x, 'OutSize': scalar(7, 11)}, {**attrs, **none}, (), unit)
            cases.add(kind, 'SizeTensor', {**x, 'SizeTensor': [scalar(7), scalar(11)]}, {**attrs, **none}, ['SizeTensor'], unit)
            cases.add(kind, 'Scale', {**x, 'Scale': scalar(2, kind=np.float32)}, {**attrs, **none}, ['Scale'], unit)
    for text, most, flip, clip, step, order in (('ratios first', [], True, False, 0.0, False),
                                                ('SSD', [60.0, 110.0], True, True, 0.0, True),
                                                ('steps', [60.0, 110.0], False, False, 16.0, False)):
        cases.add('prior_box', text, {'Input': floats(1, 2, 4, 5), 'Image': floats(1, 3, 64, 80)}, {
            'min_sizes': [30.0, 60.0], 'max_sizes': most, 'aspect_ratios': [1.0, 2.0, 3.0], 'variances': [0.1, 0.1, 0.2, 0.2],
            'flip': flip, 'clip': clip, 'step_w': step, 'step_h': step, 'offset': 0.5, 'min_max_aspect_ratios_order': order},
            (), ARITHMETIC,
            {'Boxes': ['boxes'], 'Variances': ['variances']})
    for text, channels, attrs in (('YOLOv3', 24, {}), ('scale_x_y, not clipped', 24, {'scale_x_y': 1.05, 'clip_bbox': False}),
                                  ('iou_aware', 27, {'iou_aware': True, 'iou_aware_factor': 0.4})):
        cases.add('yolo_box', text, {'X': floats(2, channels, 4, 5), 'ImgSize': np.array([[120, 150], [64, 200]], np.int32)}, {
            'anchors': [10, 13, 16, 30, 33, 23], 'class_num': 3, 'conf_thresh': 0.4, 'downsample_ratio': 32, **attrs}, (),
            FUNCTION,
            {'Boxes': ['boxes'], 'Scores': ['scores']})

    def boxes(draw):
        corner = draw.rng.uniform(0, 40, (2, 12, 2))
        return np.concatenate([corner, corner + draw.rng.uniform(5, 30, (2, 12, 2))], 2).astype(np.float32)
    for text, attrs in (('normalized', {}), ('pixels, at most 6', {'normalized': False, 'keep_top_k': 6, 'nms_top_k': 5}),
                        ('nms_eta', {'nms_eta': 0.9, 'nms_threshold': 0.7})):
        cases.add('multiclass_nms3', text, {'BBoxes': boxes, 'Scores': lambda d: d.scores(2, 4, 12)}, {
            'background_label': 0, 'score_threshold': 0.2, 'nms_top_k': -1, 'nms_threshold': 0.3, 'nms_eta': 1.0,
            'keep_top_k': -1,
            'normalized': True, **attrs}, outputs={'Out': ['out'], 'NmsRoisNum': ['rois'], 'Index': ['zindex']})
    for ratio in (2, -1):
        cases.add('roi_align', 'sampling_ratio %d' % ratio, {
            'X': floats(2, 3, 8, 9), 'ROIs': np.array([[1, 2, 13, 11], [0, 0, 6, 15], [4, 3, 4, 3]], np.float32),
            'RoisNum': scalar(0, 1, 1)}, {'pooled_height': 3, 'pooled_width': 2, 'sampling_ratio': ratio,
                                          'spatial_scale': 0.5}, (), SUM)
    for mode, padding, corners in (('bilinear', 'zeros', True), ('bilinear', 'border', False), ('nearest', 'zeros', False)):
        cases.add('grid_sample', '%s %s' % (mode, padding), {'X': floats(2, 3, 5, 6), 'Grid': lambda d: d(2, 4, 7, 2)}, {
            'mode': mode, 'padding_mode': padding, 'align_corners': corners}, (), SUM, {'Output': ['out']})


def real_cases():
    """All cases in float32 and plain integers."""
    cases = Cases()
    for family in (activations, arithmetic, convolutions, movement, selection):
        family(cases)
    return cases.list


# ---- int8 ----

def eights(*shape):
    """int8 of the symmetric type"""
    return lambda draw: draw.ints(-127, 128, *shape, kind=np.int8)


def channel_scales(text, count):
    """Scales of a weight that differ by more than 1e-5"""
    return [float(v) for v in Draw('scales ' + text).rng.uniform(0.004, 0.012, count).astype(np.float32)]


def single(value):
    """A scale of a tensor as float32"""
    return [float(np.float32(value))]


def code_products(cases):
    """Convolutions and matrix products."""
    plain = {'strides': [1, 1], 'paddings': [1, 1], 'groups': 1, 'dilations': [1, 1]}
    out = {'Output': ['out']}

    def conv(kind, text, x, w, each=True, bias=True, size=0.25, **attrs):
        count = w[1] * attrs.get('groups', 1) if kind == 'conv2d_transpose' else w[0]
        tensors = {'Input': eights(*x), 'Filter': eights(*w), **({'Bias': lambda d: d(count) * 3} if bias else {})}
        scales = channel_scales(text, count) if each else single(0.0078)
        cases.add(kind, 'int8 ' + text, tensors, {**plain, **attrs}, ['Filter', 'Bias'] if bias else ['Filter'], MOVED, out,
                  {'input': single(0.037), 'filter': scales, 'out': single(size)})

    conv('conv2d', '3x3', (2, 5, 9, 8), (7, 5, 3, 3))
    conv('conv2d', 'one scale', (1, 5, 9, 8), (7, 5, 3, 3), False)
    conv('conv2d', 'without bias', (1, 5, 9, 8), (7, 5, 3, 3), True, False)
    conv('conv2d', 'without bias, one scale', (1, 5, 9, 8), (7, 5, 3, 3), False, False)
    conv('conv2d', 'dilated, groups', (1, 6, 11, 12), (8, 3, 3, 3), groups=2, dilations=[2, 3], paddings=[2, 3])
    conv('conv2d', 'SAME, stride 2', (1, 3, 10, 9), (4, 3, 3, 3), strides=[2, 2], padding_algorithm='SAME')
    for act in ('relu', 'relu6', 'relu1', 'leaky_relu'):
        conv('conv2d', act, (1, 8, 8, 8), (6, 8, 1, 1), size=0.0625, paddings=[0, 0], with_act=True, act_type=act,
             leaky_relu_alpha=0.1)
    conv('depthwise_conv2d', '3x3', (2, 6, 9, 8), (6, 1, 3, 3), groups=6)
    conv('depthwise_conv2d', 'multiplier 2, stride 2', (1, 4, 9, 9), (8, 1, 5, 5), groups=4, strides=[2, 2], paddings=[2, 2])
    conv('conv2d_transpose', 'as many channels', (1, 4, 5, 6), (4, 4, 4, 4), strides=[2, 2])
    conv('conv2d_transpose', 'fewer channels', (1, 5, 5, 6), (5, 3, 4, 4), strides=[2, 2])
    conv('conv2d_transpose', 'one scale, groups', (2, 4, 5, 4), (4, 3, 3, 3), False, strides=[2, 2], groups=2)
    for act in ('', 'relu', 'relu6'):
        for each in (True, False):
            text = 'int8 %s %s' % (act or 'plain', 'each' if each else 'one scale')
            cases.add('fc', text, {'Input': eights(2, 5, 4, 3), 'W': eights(60, 7), 'Bias': lambda d: d(7) * 3}, {
                'in_num_col_dims': 1, 'activation_type': act}, ['W', 'Bias'], scales={
                    'input': single(0.037), 'w': channel_scales(text, 7) if each else single(0.0078), 'out': single(0.125)})
    cases.add('fc', 'int8 without bias', {'Input': eights(3, 6), 'W': eights(6, 7)}, {'in_num_col_dims': 1}, ['W'], scales={
        'input': single(0.037), 'w': channel_scales('fc', 7), 'out': single(0.0625)})
    for tx, ty in ((False, False), (True, False), (False, True)):
        cases.add('matmul_v2', 'int8 %d %d' % (tx, ty), {'X': eights(*((2, 4, 3) if tx else (2, 3, 4))), 'Y': eights(
            *((2, 5, 4) if ty else (2, 4, 5)))}, {'trans_x': tx, 'trans_y': ty}, scales={
                'x': single(0.03), 'y': single(0.02), 'out': single(0.0625)})
    cases.add('matmul_v2', 'int8 a weight', {'X': eights(2, 3, 4), 'Y': eights(4, 5)}, {'trans_x': False, 'trans_y': False},
              ['Y'],
              scales={'x': single(0.03), 'y': channel_scales('matmul', 5), 'out': single(0.0625)})
    base = {'ksize': [3, 3], 'strides': [2, 2], 'paddings': [1, 1], 'global_pooling': False, 'exclusive': True}
    for kind in ('max', 'avg'):
        for text, attrs in (('3x3', {}), ('global', {'global_pooling': True}),
                            ('ceil', {'ceil_mode': True, 'paddings': [0, 0]}),
                            ('padding counts', {'exclusive': False}),
                            ('adaptive', {'adaptive': True, 'ksize': [3, 2], 'paddings': [0, 0]})):
            for own in (0.05, 0.06):
                cases.add('pool2d', 'int8 %s %s %g' % (kind, text, own), {'X': eights(2, 3, 8, 10)}, {
                    **base, 'pooling_type': kind, **attrs}, scales={'x': single(0.05), 'out': single(own)})


def code_elementwise(cases):
    """Functions and arithmetic."""
    both = {'x': single(0.05), 'out': single(0.04)}
    x = {'X': eights(2, 3, 5, 7)}
    for kind in 'relu relu6 abs sigmoid tanh exp square floor swish silu'.split():
        cases.add(kind, 'int8', x, {'beta': 1.0} if kind == 'swish' else {}, scales={
            'x': single(0.05), 'out': single({'sigmoid': 1 / 127, 'tanh': 1 / 127, 'exp': 3.0, 'square': 0.3}.get(kind, 0.04))})
    cases.add('leaky_relu', 'int8', x, {'alpha': 0.1}, scales=both)
    cases.add('gelu', 'int8', x, {'approximate': False}, scales=both)
    cases.add('hard_sigmoid', 'int8', x, {'slope': 0.2, 'offset': 0.5}, scales={'x': single(0.05), 'out': single(1 / 127)})
    cases.add('clip', 'int8', x, {'min': -1.5, 'max': 2.5}, scales=both)
    above = {'X': lambda d: d.ints(1, 128, 2, 3, 5, 7, kind=np.int8)}
    for kind in 'log sin cos rsqrt sqrt'.split():
        cases.add(kind, 'int8', above if kind in ('log', 'rsqrt', 'sqrt') else x, {}, scales={
            'x': single(0.05), 'out': single({'log': 0.03, 'rsqrt': 0.04, 'sqrt': 0.02}.get(kind, 1 / 127))})
    cases.add('pow', 'int8', x, {'factor': 2.0}, scales={'x': single(0.05), 'out': single(0.3)})
    cases.add('softplus', 'int8', x, {'beta': 1.5, 'threshold': 2.0}, scales=both)
    cases.add('log_softmax', 'int8', x, {'axis': 1}, scales={'x': single(0.05), 'out': single(0.1)})
    cases.add('norm', 'int8', x, {'axis': 1, 'epsilon': 1e-10}, scales={'x': single(0.05), 'out': single(1 / 127)})
    cases.add('hard_swish', 'int8 of MobileNetV3', x, {'threshold': 6.0, 'scale': 6.0, 'offset': 3.0}, scales=both)
    cases.add('hard_swish', 'int8 another threshold', x, {'threshold': 5.0, 'scale': 4.0, 'offset': 2.0}, scales=both)
    cases.add('elementwise_pow', 'int8', {**above, 'Y': eights(2, 3, 5, 7)}, {'axis': -1}, scales={
        'x': single(0.02), 'y': single(0.02), 'out': single(0.05)})
    cases.add('elementwise_floordiv', 'int8', {'X': eights(4, 9), 'Y': lambda d: d.ints(1, 128, 4, 9, kind=np.int8)},
              {'axis': -1}, scales={
        'x': single(0.5), 'y': single(0.03), 'out': single(0.7)})
    cases.add('softmax', 'int8 last axis', {'X': eights(3, 40)}, {}, scales={'x': single(0.05), 'out': single(1 / 127)})
    cases.add('softmax', 'int8 channels', x, {'axis': 1}, scales={'x': single(0.03), 'out': single(1 / 127)})
    for kind in 'add sub mul div max min'.split():
        size = {'mul': 0.08, 'div': 0.4}.get(kind, 0.06)
        scales = {'x': single(0.03), 'y': single(0.02), 'out': single(size)}
        for text, tensors, weights in (('equal shapes', {'X': eights(2, 3, 4, 5), 'Y': eights(2, 3, 4, 5)}, ()),
                                       ('channels, a constant', {'X': eights(2, 3, 4, 5), 'Y': eights(3)}, ['Y']),
                                       ('channels, a tensor', {'X': eights(2, 3, 4, 5), 'Y': eights(3)}, ())):
            if kind == 'div':
                tensors = {**tensors, 'Y': lambda d, y=tensors['Y']: np.where(y(d) == 0, 1, y(d)).astype(np.int8)}
            cases.add('elementwise_' + kind, 'int8 ' + text, tensors, {'axis': 1 if 'channels' in text else -1}, weights,
                      scales=scales)
        for act in ('relu', 'relu6', 'leaky_relu'):
            cases.add('fusion_elementwise_%s_activation' % kind, 'int8 ' + act, {'X': eights(2, 3, 4), 'Y': lambda d: d.ints(
                1, 128, 2, 3, 4, kind=np.int8)}, {'axis': -1, 'act_type': act, 'leaky_relu_alpha': 0.1}, scales=scales)
    cases.add('dropout', 'int8', x, {'dropout_implementation': 'downgrade_in_infer', 'dropout_prob': 0.3}, scales=both)
    for text, scale, bias, after in (('both', 1.5, -0.75, True), ('bias first', 0.5, 3.0, False), ('scale', -0.7, 0.0, True),
                                     ('bias', 1.0, 0.5, True)):
        cases.add('scale', 'int8 ' + text, x, {'scale': scale, 'bias': bias, 'bias_after_scale': after}, scales=both)
    vectors = {'Scale': floats(3), 'Bias': floats(3), 'Mean': floats(3), 'Variance': positives(3)}
    cases.add('batch_norm', 'int8', {**x, **vectors}, {'epsilon': 1e-5}, list(vectors), outputs={'Y': ['out']}, scales=both)
    cases.add('layer_norm', 'int8', {**x, 'Scale': floats(7), 'Bias': floats(7)}, {'begin_norm_axis': 3, 'epsilon': 1e-5},
              ['Scale', 'Bias'],
              outputs={'Y': ['out']}, scales=both)
    cases.add('calib', 'float32 to int8', {'Input': floats(3, 40)}, {'scale': single(0.02)[0]}, scales={'out': single(0.02)})
    cases.add('calib', 'int32 to int8', {'Input': whole(-200, 200, 3, 40)}, {'scale': 1.5}, scales={'out': single(1.5)})
    cases.add('calib', 'int8 to float32', {'Input': eights(3, 40)}, {'scale': single(0.02)[0]}, scales={'input': single(0.02)})
    for kind in ('equal', 'less_than', 'greater_equal'):
        cases.add(kind, 'int8', {'X': eights(4, 9), 'Y': eights(4, 9)}, {'axis': -1},
                  scales={'x': single(0.5), 'y': single(0.25)})
    for kind in ('reduce_mean', 'reduce_sum', 'reduce_max'):
        cases.add(kind, 'int8 image', x, {'dim': [2, 3], 'keep_dim': True}, scales=both)
        cases.add(kind, 'int8 last axis', x, {'dim': [3], 'keep_dim': False}, scales=both)


def code_movement(cases):
    """Moved elements; results without a scale have that of the input."""
    x, own = {'X': eights(2, 6, 4, 5)}, {'x': single(0.05)}
    other = {'x': single(0.05), 'out': single(0.03)}
    for kind, attrs in (('assign', {}), ('unsqueeze', {'axes': [0]}), ('unsqueeze2', {'axes': [4]}), ('flatten', {'axis': 1}),
                        ('flatten2', {'axis': 2}), ('flatten_contiguous_range', {'start_axis': 1, 'stop_axis': -1}),
                        ('tile', {'repeat_times': [1, 2, 1, 1]}), ('expand_v2', {'shape': [3, 2, 6, 4, 5]})):
        cases.add(kind, 'int8', x, attrs, scales=own)
    for kind, attrs in (('reshape', {'shape': [0, -1]}), ('reshape2', {'shape': [0, 2, -1]}),
                        ('transpose', {'axis': [0, 2, 3, 1]}),
                        ('transpose2', {'axis': [1, 0, 3, 2]}), ('shuffle_channel', {'group': 3}),
                        ('expand', {'expand_times': [2, 1, 1, 1]}),
                        ('roll', {'shifts': [2], 'axis': [1]})):
        for text, scales in (('the same scale', {**own, 'out': own['x']}), ('another scale', other)):
            cases.add(kind, 'int8 ' + text, x, attrs, scales=scales)
    for kind in ('squeeze', 'squeeze2'):
        cases.add(kind, 'int8', {'X': eights(2, 1, 3)}, {'axes': [1]}, scales={**own, 'out': own['x']})
    cases.add('slice', 'int8', {'Input': eights(2, 5, 6)}, {'axes': [1], 'starts': [1], 'ends': [4]},
              scales={'input': single(0.05)})
    cases.add('strided_slice', 'int8', {'Input': eights(2, 5, 6)}, {'axes': [1], 'starts': [0], 'ends': [5], 'strides': [2]},
              scales={'input': single(0.05), 'out': single(0.05)})
    three = {'x': single(0.05), 'x1': single(0.03), 'x2': single(0.07), 'out': single(0.04)}
    cases.add('concat', 'int8', {'X': [eights(2, 3, 4), eights(2, 1, 4), eights(2, 2, 4)]}, {'axis': 1}, scales=three)
    cases.add('stack', 'int8', {'X': [eights(2, 3)] * 3}, {'axis': 1}, outputs={'Y': ['out']}, scales=three)
    cases.add('unstack', 'int8', {'X': eights(2, 3, 4)}, {'axis': 1, 'num': 3}, outputs={'Y': ['a', 'b', 'c']},
              scales={**own, 'a': single(0.05), 'b': single(0.05), 'c': single(0.05)})
    cases.add('split', 'int8', {'X': eights(2, 6, 4)}, {'axis': 1, 'num': 0, 'sections': [2, 4]}, outputs={'Out': ['a', 'b']},
              scales={**own, 'a': single(0.05), 'b': single(0.03)})
    cases.add('gather', 'int8', {'X': eights(3, 5, 2), 'Index': whole(0, 5, 4)}, {'axis': 1}, scales=own)
    cases.add('lookup_table_v2', 'int8', {'W': eights(9, 5), 'Ids': whole(0, 9, 2, 4, kind=np.int64)}, {'padding_idx': -1},
              ['W'],
              scales={'w': single(0.05)})
    cases.add('arg_max', 'int8', {'X': eights(3, 40)}, {'axis': 1}, scales={'x': single(0.05)})
    cases.add('top_k_v2', 'int8', {'X': lambda d: (d.rng.permutation(255) - 127).reshape(5, 51).astype(np.int8)},
              {'k': 3}, outputs={'Out': ['out'], 'Indices': ['indices']}, scales=own)
    cases.add('where', 'int8', {'Condition': lambda d: d.bools(2, 9), 'X': eights(2, 9), 'Y': eights(2, 9)}, {},
              scales={**own, 'y': single(0.03), 'out': single(0.04)})
    cases.add('meshgrid', 'int8', {'X': [eights(2), eights(3)]}, {}, outputs={'Out': ['a', 'b']},
              scales={**own, 'x1': single(0.03), 'a': own['x'], 'b': single(0.04)})
    cases.add('fill_any_like', 'int8', {'X': eights(2, 3)}, {'value': 3.0, 'dtype': 21}, scales={**own, 'out': own['x']})
    cases.add('fill_zeros_like', 'int8 without scales', {'X': eights(2, 3)}, {})
    cases.add('pad3d', 'int8', {'X': eights(1, 2, 3, 4, 4)}, {'paddings': [1, 0, 2, 1, 0, 1], 'mode': 'constant', 'value': 0.0,
                                                              'data_format': 'NCDHW'}, scales={**own, 'out': own['x']})
    for mode in ('constant', 'reflect', 'edge'):
        cases.add('pad2d', 'int8 ' + mode, x, {'paddings': [1, 2, 0, 3], 'mode': mode, 'pad_value': 0.0, 'data_format': 'NCHW'},
                  scales={**own, 'out': own['x']})
    cases.add('pad2d', 'int8 a value', x, {'paddings': [1, 2, 0, 3], 'mode': 'constant', 'pad_value': 1.5,
                                           'data_format': 'NCHW'},
              scales=other)
    for version, none in (('', 0.0), ('_v2', [])):
        for corners, mode in ((True, 1), (False, 1), (False, 0)):
            attrs = {'out_h': 8, 'out_w': 9, 'scale': none, 'align_corners': corners, 'align_mode': mode}
            cases.add('bilinear_interp' + version, 'int8 %d %d' % (corners, mode), x, attrs, scales=other)
            if mode:
                cases.add('nearest_interp' + version, 'int8 %d' % corners, x, attrs, scales={**own, 'out': own['x']})


def code_cases():
    """All cases in int8."""
    cases = Cases()
    for family in (code_products, code_elementwise, code_movement):
        family(cases)
    return cases.list
