"""Random ONNX models of one node, for tests that compare two ways to run a model: shapes, attributes and operands are drawn so
that most are valid, and corner cases are frequent (dimensions of 1, windows larger than the data, negative axes).

make(seed) gives a Case. Its inputs are arrays; those kept as constants go into the model. model(case, open) is the model with
some axes of the inputs dynamic, the same ones every time, or with none."""
import random

import numpy
from onnx import ValueInfoProto, helper, numpy_helper


class Case:
    """One node: its definition, and the values of its inputs; the inputs in `constants` belong to the model."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.op, self.opset, self.attributes = '', 17, {}
        self.inputs, self.outputs, self.values, self.constants = [], ['y'], {}, set()

    def floats(self, *shape):
        """Multiples of 1/8 up to 2.5."""
        count = int(numpy.prod(shape))
        return (numpy.array([self.draw.randint(-20, 20) for _ in range(count)], numpy.float32) / 8).reshape(shape)

    def input(self, name, array):
        """Adds a run-time input."""
        self.inputs.append(name)
        self.values[name] = array

    def constant(self, name, array):
        """Adds one that is part of the model."""
        self.input(name, numpy.asarray(array))
        self.constants.add(name)

    def either(self, name, array):
        """Adds one of the two."""
        (self.constant if self.draw.random() < 0.5 else self.input)(name, array)

    def shape(self, most_axes, most=4, least_axes=1):
        """A shape of few axes."""
        return [self.draw.randint(1, most) for _ in range(self.draw.randint(least_axes, most_axes))]

    def axis(self, rank):
        """An axis, from the end perhaps."""
        return self.draw.randint(-rank, rank - 1)

    def image(self):
        """[N,C,H,W]."""
        d = self.draw
        return [d.choice([1, 2]), d.choice([2, 4, 6]), d.randint(1, 9), d.randint(1, 9)]

    def window(self):
        """Draws kernel_shape, strides, pads or auto_pad; returns the kernel shape."""
        d, kernel = self.draw, [self.draw.randint(1, 3), self.draw.randint(1, 3)]
        self.attributes['kernel_shape'] = kernel
        if d.random() < 0.7:
            self.attributes['strides'] = [d.randint(1, 3), d.randint(1, 3)]
        kind = d.random()
        if kind < 0.4:
            self.attributes['pads'] = [d.randint(0, kernel[i % 2] - 1) for i in range(4)]
        elif kind < 0.7:
            self.attributes['auto_pad'] = d.choice(['SAME_UPPER', 'SAME_LOWER', 'VALID'])
        return kernel


def conv(c):
    """Conv"""
    d, x, kernel = c.draw, c.image(), c.window()
    group = d.choice([1, 1, 2, x[1]])
    c.attributes['group'] = group
    c.input('x', c.floats(*x))
    c.either('w', c.floats(group * d.randint(1, 3), x[1] // group, *kernel))
    if d.random() < 0.5:
        c.either('b', c.floats(c.values['w'].shape[0]))
    if d.random() < 0.3 and 'auto_pad' not in c.attributes:
        c.attributes['dilations'] = [d.randint(1, 2), d.randint(1, 2)]
    if d.random() < 0.4:
        del c.attributes['kernel_shape']


def conv_transpose(c):
    """ConvTranspose"""
    d, x, kernel = c.draw, c.image(), c.window()
    group, strides, kind = d.choice([1, 1, 2]), c.attributes.get('strides', [1, 1]), d.random()
    c.attributes['group'] = group
    if kind < 0.3:
        c.attributes['output_padding'] = [d.randint(0, s - 1) for s in strides]
    elif kind < 0.5:
        c.attributes.pop('pads', None)
        c.attributes['output_shape'] = [(x[2 + i] - 1) * strides[i] + kernel[i] - d.randint(0, 1) for i in range(2)]
    c.input('x', c.floats(*x))
    c.either('w', c.floats(x[1], d.randint(1, 3), *kernel))
    if d.random() < 0.4:
        c.constant('b', c.floats(c.values['w'].shape[1] * group))


def average_pool(c):
    """AveragePool"""
    c.window()
    c.attributes.update(ceil_mode=c.draw.randint(0, 1), count_include_pad=c.draw.randint(0, 1))
    c.input('x', c.floats(*c.image()))


def max_pool(c):
    """MaxPool"""
    c.window()
    c.attributes['ceil_mode'] = c.draw.randint(0, 1)
    c.input('x', c.floats(*c.image()))
    if c.draw.random() < 0.3:
        c.outputs = ['y', 'places']
        c.attributes['storage_order'] = c.draw.randint(0, 1)


def global_pool(c):
    """GlobalAveragePool GlobalMaxPool"""
    c.input('x', c.floats(*c.image()))


def resize(c):
    """Resize"""
    d, x = c.draw, c.image()
    mode = d.choice(['nearest', 'linear', 'cubic'])
    c.attributes.update(mode=mode, coordinate_transformation_mode=d.choice(
        ['half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric', 'tf_half_pixel_for_nn']))
    if mode == 'nearest':
        c.attributes['nearest_mode'] = d.choice(['round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil'])
    if mode == 'cubic':
        c.attributes.update(cubic_coeff_a=d.choice([-0.75, -0.5]), exclude_outside=d.randint(0, 1))
    c.input('x', c.floats(*x))
    c.inputs.append('')
    if d.random() < 0.5:
        c.constant('scales', numpy.array([1, 1, d.choice([0.5, 0.6, 1, 1.5, 2]), d.choice([0.5, 1, 1.3, 2])], numpy.float32))
    else:
        c.inputs.append('')
        c.constant('sizes', numpy.array([x[0], x[1], d.randint(1, 9), d.randint(1, 9)], numpy.int64))


def pad(c):
    """Pad"""
    d, shape = c.draw, c.shape(4, 6)
    mode = d.choice(['constant', 'reflect', 'edge'])
    c.attributes['mode'] = mode
    c.input('x', c.floats(*shape))
    least = -1 if mode == 'constant' else 0
    c.constant('pads', numpy.array([d.randint(least, 2) for _ in range(2 * len(shape))], numpy.int64))


def slice_(c):
    """Slice"""
    d, shape = c.draw, c.shape(3, 7)
    axes = d.sample(range(len(shape)), d.randint(1, len(shape)))
    c.input('x', c.floats(*shape))
    ends = [d.choice([d.randint(-8, 8), 2**31 - 1, -2**31]) for _ in axes]
    for name, values in (('starts', [d.randint(-8, 8) for _ in axes]), ('ends', ends),
                         ('axes', [a - len(shape) if d.random() < 0.3 else a for a in axes]),
                         ('steps', [d.choice([1, 1, 2, 3, -1, -2]) for _ in axes])):
        c.constant(name, numpy.array(values, numpy.int64))


def gather(c):
    """Gather"""
    shape, places = c.shape(3, 5), c.shape(2, 3, 0)
    axis = c.axis(len(shape))
    c.attributes['axis'] = axis
    c.input('x', c.floats(*shape))
    c.either('i', indices(c, shape[axis], places))


def gather_elements(c):
    """GatherElements"""
    shape = c.shape(3, 5)
    axis = c.axis(len(shape))
    places = [c.draw.randint(1, n) for n in shape]
    places[axis] = c.draw.randint(1, 6)
    c.attributes['axis'] = axis
    c.input('x', c.floats(*shape))
    c.input('i', indices(c, shape[axis], places))


def gather_nd(c):
    """GatherND"""
    shape = c.shape(4, 4, 2)
    width = c.draw.randint(1, len(shape))
    count = c.draw.randint(1, 3)
    c.input('x', c.floats(*shape))
    c.input('i', numpy.stack([indices(c, shape[k], [count]) for k in range(width)], -1))


def indices(c, extent, shape):
    """Places along an axis, from the end perhaps."""
    count = int(numpy.prod(shape))
    return numpy.array([c.draw.randint(-extent, extent - 1) for _ in range(count)], numpy.int64).reshape(shape)


def concat(c):
    """Concat"""
    shape = c.shape(3)
    axis = c.axis(len(shape))
    c.attributes['axis'] = axis
    for k in range(c.draw.randint(1, 3)):
        shape[axis] = c.draw.randint(1, 4)
        (c.input if k == 0 else c.either)('x%d' % k, c.floats(*shape))


def split(c):
    """Split"""
    d, shape, count = c.draw, c.shape(3), c.draw.randint(1, 3)
    axis = c.axis(len(shape))
    parts = [d.randint(1, 3) for _ in range(count)]
    c.opset, c.outputs, c.attributes['axis'] = 13, ['y%d' % k for k in range(count)], axis
    even = d.random() < 0.5
    shape[axis] = count * d.randint(1, 3) if even else sum(parts)
    c.input('x', c.floats(*shape))
    if not even:
        c.constant('parts', numpy.array(parts, numpy.int64))


def expand(c):
    """Expand"""
    shape = [c.draw.choice([1, n]) for n in c.shape(3)]
    wanted = [n if n > 1 else c.draw.choice([1, 3]) for n in shape]
    c.input('x', c.floats(*shape))
    c.constant('shape', numpy.array(([2] if c.draw.random() < 0.4 else []) + wanted, numpy.int64))


def tile(c):
    """Tile"""
    shape = c.shape(3)
    c.input('x', c.floats(*shape))
    c.constant('repeats', numpy.array([c.draw.randint(1, 3) for _ in shape], numpy.int64))


def one_hot(c):
    """OneHot"""
    shape = c.shape(2)
    c.attributes['axis'] = c.draw.randint(-len(shape) - 1, len(shape))
    c.input('x', indices(c, 5, shape).astype(numpy.float32))
    c.constant('depth', numpy.array(4, numpy.int64))
    c.constant('values', numpy.array([0, 3], numpy.float32))


def top_k(c):
    """TopK"""
    shape = c.shape(3, 5)
    axis = c.axis(len(shape))
    c.outputs = ['y', 'i']
    c.attributes.update(axis=axis, largest=c.draw.randint(0, 1))
    c.input('x', c.floats(*shape))
    c.constant('k', numpy.array([c.draw.randint(1, shape[axis])], numpy.int64))


def arg(c):
    """ArgMax ArgMin"""
    shape = c.shape(3)
    c.attributes.update(axis=c.axis(len(shape)), keepdims=c.draw.randint(0, 1), select_last_index=c.draw.randint(0, 1))
    c.input('x', c.floats(*shape))


def reduce(c):
    """ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare
    ReduceLogSum ReduceLogSumExp"""
    shape = c.shape(4)
    c.opset = 12
    c.attributes['keepdims'] = c.draw.randint(0, 1)
    if c.draw.random() < 0.8:
        c.attributes['axes'] = c.draw.sample(range(-len(shape), 0), c.draw.randint(1, len(shape)))
    c.input('x', c.floats(*shape))


def softmax(c):
    """Softmax LogSoftmax Hardmax Flatten"""
    shape = c.shape(4)
    c.opset = c.draw.choice([11, 13])
    c.attributes['axis'] = c.axis(len(shape))
    c.input('x', c.floats(*shape))


def unsqueeze(c):
    """Unsqueeze"""
    shape = c.shape(3)
    c.input('x', c.floats(*shape))
    c.constant('axes', numpy.array(c.draw.sample(range(len(shape) + 1), c.draw.randint(1, 2)), numpy.int64))


def reshape(c):
    """Reshape"""
    shape = c.shape(3, 4, 3)
    c.input('x', c.floats(*shape))
    c.constant('shape', numpy.array(c.draw.choice(
        [[0, -1], [-1], [0, 0, -1], [-1, shape[2]], [0, -1, 1], [-1, 0]]), numpy.int64))


def transpose(c):
    """Transpose"""
    shape = c.shape(4)
    c.attributes['perm'] = c.draw.sample(range(len(shape)), len(shape))
    c.input('x', c.floats(*shape))


def matmul(c):
    """MatMul"""
    d, (m, k, n) = c.draw, c.shape(3, 4, 3)
    outer = c.shape(2, 3, 0)
    kind = d.random()
    c.input('x', c.floats(*([k] if kind < 0.15 else [a if d.random() < 0.7 else 1 for a in outer] + [m, k])))
    c.either('w', c.floats(*([k] if kind > 0.85 else (outer if d.random() < 0.6 else []) + [k, n])))


def layer_norm(c):
    """LayerNormalization"""
    shape = c.shape(3)
    axis = c.axis(len(shape))
    c.attributes['axis'] = axis
    c.input('x', c.floats(*shape))
    c.constant('scale', c.floats(*shape[axis:]))
    if c.draw.random() < 0.5:
        c.constant('bias', c.floats(*shape[axis:]))


def lrn(c):
    """LRN"""
    c.attributes.update(size=c.draw.choice([1, 3, 5]), alpha=0.01, beta=0.5)
    c.input('x', c.floats(*c.image()))


def blocks(c):
    """DepthToSpace SpaceToDepth"""
    n, k, h, w = c.image()
    c.attributes['blocksize'] = 2
    if c.op == 'DepthToSpace':
        c.attributes['mode'] = c.draw.choice(['DCR', 'CRD'])
        c.input('x', c.floats(n, 4 * c.draw.randint(1, 2), h, w))
    else:
        c.input('x', c.floats(n, k, 2 * h, 2 * w))


def binary(c):
    """Add Sub Mul Div Max Min Pow Less Greater Equal LessOrEqual"""
    shape = c.shape(3)
    for name, add in (('x', c.input), ('z', c.either)):
        cut = c.draw.choice([0, 0, min(1, len(shape) - 1)])
        add(name, numpy.abs(c.floats(*[n if c.draw.random() < 0.7 else 1 for n in shape[cut:]])) + 1)


def where(c):
    """Where"""
    shape = c.shape(3)
    c.input('c', c.floats(*shape) > 0)
    c.input('x', c.floats(*[n if c.draw.random() < 0.7 else 1 for n in shape]))
    c.either('z', c.floats(*[n if c.draw.random() < 0.7 else 1 for n in shape]))


def shape_of(c):
    """Shape"""
    c.opset = 15
    if c.draw.random() < 0.6:
        c.attributes.update(start=c.draw.randint(-5, 5), end=c.draw.randint(-5, 5))
    c.input('x', c.floats(*c.image()))


def grid_sample(c):
    """GridSample"""
    d, x = c.draw, c.image()
    c.attributes.update(align_corners=d.randint(0, 1), mode=d.choice(['bilinear', 'nearest']),
                        padding_mode=d.choice(['zeros', 'border', 'reflection']))
    c.input('x', c.floats(*x))
    c.input('grid', c.floats(x[0], *c.shape(2, 4, 2), 2) * numpy.float32(0.83))  # no place half way between two cells


def roi_align(c):
    """RoiAlign"""
    d, x, regions = c.draw, c.image(), c.draw.randint(1, 3)
    c.opset = d.choice([10, 16])
    c.attributes.update(output_height=d.randint(1, 3), output_width=d.randint(1, 3), sampling_ratio=d.randint(0, 2),
                        spatial_scale=d.choice([0.5, 1.0]))
    if c.opset == 16:
        c.attributes['coordinate_transformation_mode'] = d.choice(['half_pixel', 'output_half_pixel'])
    corner = c.floats(regions, 2)
    c.input('x', c.floats(*x))
    c.input('rois', numpy.concatenate([corner, corner + numpy.abs(c.floats(regions, 2)) * 4], 1))
    c.input('batch', numpy.array([d.randint(0, x[0] - 1) for _ in range(regions)], numpy.int64))


def lstm(c):
    """LSTM"""
    d, (t, n, i, h) = c.draw, c.shape(4, 3, 4)
    direction = d.choice(['forward', 'reverse', 'bidirectional'])
    both = 2 if direction == 'bidirectional' else 1
    c.attributes.update(direction=direction, hidden_size=h)
    c.outputs = ['y', 'h', 'c']
    c.input('x', c.floats(t, n, i))
    c.constant('w', c.floats(both, 4 * h, i))
    c.constant('r', c.floats(both, 4 * h, h))
    if d.random() < 0.7:
        c.constant('b', c.floats(both, 8 * h))
        if d.random() < 0.5:
            c.inputs.append('')
            c.input('h0', c.floats(both, n, h))
            c.input('c0', c.floats(both, n, h))


def cum_sum(c):
    """CumSum"""
    shape = c.shape(3)
    c.attributes.update(exclusive=c.draw.randint(0, 1), reverse=c.draw.randint(0, 1))
    c.input('x', c.floats(*shape))
    c.either('axis', numpy.array(c.axis(len(shape)), numpy.int64))


def normalization(c):
    """InstanceNormalization LpNormalization"""
    shape = c.shape(4, 4, 3)
    c.input('x', c.floats(*shape))
    if c.op == 'LpNormalization':
        c.attributes.update(axis=c.axis(len(shape)), p=c.draw.randint(1, 2))
    else:
        c.either('scale', c.floats(shape[1]))
        c.either('bias', c.floats(shape[1]))


KINDS = [conv, conv_transpose, average_pool, max_pool, global_pool, resize, pad, slice_, gather, gather_elements, gather_nd,
         concat, split, expand, tile, one_hot, top_k, arg, reduce, softmax, unsqueeze, reshape, transpose, matmul, layer_norm,
         lrn, blocks, binary, where, shape_of, grid_sample,
         roi_align, lstm, cum_sum, normalization]


def make(seed):
    """The case of a seed."""
    c = Case(seed)
    kind = c.draw.choice(KINDS)
    c.op = c.draw.choice(kind.__doc__.split())
    kind(c)
    return c


def model(c, opened):
    """The case as a model. opened: {name: axes} of the inputs that are left open there."""
    given = [name for name in c.inputs if name in c.values and name not in c.constants]
    inputs = [helper.make_tensor_value_info(
        name, numpy_helper.from_array(c.values[name]).data_type,
        ['%s_%d' % (name, k) if k in opened.get(name, ()) else n for k, n in enumerate(c.values[name].shape)])
              for name in given]
    constants = [numpy_helper.from_array(c.values[name], name) for name in sorted(c.constants)]
    node = helper.make_node(c.op, c.inputs, c.outputs, **c.attributes)
    graph = helper.make_graph([node], 'random', inputs, [ValueInfoProto(name=name) for name in c.outputs], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', c.opset)], ir_version=8)


def open_some(c):
    """{name: axes} of inputs: some axes, but not the lengths of lists of integers."""
    part = c.draw.choice([0.3, 0.7, 1])
    return {name: axes for name, axes in
            ((name, [k for k in range(c.values[name].ndim) if c.draw.random() < part])
             for name in c.inputs if name in c.values and name not in c.constants) if axes}
