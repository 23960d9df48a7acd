"""MobileNetV1 and ResNet-18 as Paddle's programs of one image, with batch normalization folded into the convolutions.

NETWORKS[name]() returns operators and Scope in float32; in_codes converts them to int8: weights with a scale for each output
channel, activations with one scale, which is the largest magnitude of a run in float64 divided by 127.
"""
import numpy as np

import nnadapter_codes
import nnadapter_numpy
from nnadapter_bridge import Op, Scope

RESULTS = ['features', 'logits', 'probabilities']


class Builder:
    """Operators and weights under construction."""

    def __init__(self, seed, size):
        self.rng = np.random.default_rng(seed)
        self.ops, self.weights, self.count = [], {}, 0
        self.image = self.rng.standard_normal((1, 3, size, size)).astype(np.float32)

    def weight(self, name, gain, *shape):
        """Random weights that keep the variance behind a RELU (gain 2)."""
        fan_in = shape[0] if len(shape) == 2 else int(np.prod(shape[1:]))
        self.weights[name] = (self.rng.standard_normal(shape) * np.sqrt(gain / fan_in)).astype(np.float32)

    def bias(self, name, count):
        """Small biases"""
        self.weights[name] = (self.rng.standard_normal(count) * 0.1).astype(np.float32)

    def conv(self, x, channels, out, kernel, stride, depthwise=False, relu=True):
        """A convolution with its activation; returns its result"""
        self.count += 1
        name = 'conv%d' % self.count
        self.weight(name + '_w', 2 if relu else 1, out, 1 if depthwise else channels, kernel, kernel)
        self.bias(name + '_b', out)
        self.ops.append(Op('depthwise_conv2d' if depthwise else 'conv2d',
                           {'Input': x, 'Filter': name + '_w', 'Bias': name + '_b'},
                           {'Output': name}, strides=[stride] * 2, paddings=[kernel // 2] * 2,
                           groups=channels if depthwise else 1,
                           dilations=[1, 1], padding_algorithm='EXPLICIT', with_act=relu, act_type='relu' if relu else ''))
        return name

    def classifier(self, x, channels, **pool):
        """The mean of the image, 1000 classes, softmax"""
        self.ops.append(Op('pool2d', {'X': x}, {'Out': 'features'}, pooling_type='avg', ksize=[1, 1], strides=[1, 1],
                           paddings=[0, 0],
                           exclusive=True, ceil_mode=False, **pool))
        self.weight('fc_w', 8, channels, 1000)
        self.bias('fc_b', 1000)
        self.ops.append(Op('fc', {'Input': 'features', 'W': 'fc_w', 'Bias': 'fc_b'}, {'Out': 'logits'}, in_num_col_dims=1))
        self.ops.append(Op('softmax', {'X': 'logits'}, {'Out': 'probabilities'}, axis=-1))
        return self.ops, Scope({'image': self.image}, self.weights)


def mobilenet_v1(size=96):
    """27 convolutions and a fully connected layer"""
    b = Builder(1, size)
    x, channels = b.conv('image', 3, 32, 3, 2), 32
    for out, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5, (1024, 2), (1024, 1)):
        x = b.conv(b.conv(x, channels, channels, 3, stride, True), channels, out, 1, 1)
        channels = out
    return b.classifier(x, channels, global_pooling=True, adaptive=False)


def resnet18(size=96):
    """20 convolutions and a fully connected layer; sums with RELU"""
    b = Builder(2, size)
    x, channels = b.conv('image', 3, 64, 7, 2), 64
    b.ops.append(Op('pool2d', {'X': x}, {'Out': 'pool'}, pooling_type='max', ksize=[3, 3], strides=[2, 2], paddings=[1, 1],
                    global_pooling=False, exclusive=True, adaptive=False, ceil_mode=False))
    x = 'pool'
    for k, (out, stride) in enumerate(((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1))):
        inner = b.conv(b.conv(x, channels, out, 3, stride), out, out, 3, 1, False, False)
        beside = b.conv(x, channels, out, 1, stride, False, False) if stride == 2 else x
        x, channels = 'sum%d' % k, out
        b.ops.append(Op('fusion_elementwise_add_activation', {'X': inner, 'Y': beside}, {'Out': x}, axis=-1, act_type='relu'))
    return b.classifier(x, channels, global_pooling=False, adaptive=True)


NETWORKS = {'MobileNetV1': mobilenet_v1, 'ResNet-18': resnet18}


def scales_of(weight, axis):
    """The largest magnitude of each channel / 127"""
    rest = tuple(k for k in range(weight.ndim) if k != axis)
    return (np.abs(weight).max(rest) / np.float32(127)).astype(np.float32)


def in_codes(ops, scope, values, real_softmax):
    """The int8 form. values: all tensors of a run in float64. real_softmax: a calib before a softmax in float32; otherwise the
    softmax is int8, and the image is float32 before a calib."""
    scales = {name: [float(np.float32(np.abs(v).max() / 127))] for name, v in values.items() if name not in scope.weights}
    weights = dict(scope.weights)
    for op in ops:
        name = op.inputs.get('Filter', op.inputs.get('W', ['']))[0]
        if name:
            axis = 0 if 'Filter' in op.inputs else 1
            scales[name] = [float(s) for s in scales_of(weights[name], axis)]
            per = np.reshape(scales[name], [-1 if k == axis else 1 for k in range(weights[name].ndim)])
            weights[name] = np.clip(nnadapter_codes.away(weights[name] / per), -127, 127).astype(np.int8)
    image, ops = scope.feeds['image'], list(ops)
    if real_softmax:
        del scales['probabilities']
        feeds = {'image': nnadapter_codes.to_codes(image, scales['image'][0])}
        ops[-1:] = [Op('calib', {'Input': 'logits'}, {'Out': 'real'}, scale=scales['logits'][0]),
                    Op('softmax', {'X': 'real'}, {'Out': 'probabilities'}, axis=-1)]
    else:
        feeds = {'image': image}
        ops[:1] = [Op('calib', {'Input': 'image'}, {'Out': 'codes'}, scale=scales['image'][0]),
                   Op(ops[0].kind, {**ops[0].inputs, 'Input': 'codes'}, ops[0].outputs, **ops[0].attrs)]
        scales['codes'] = scales.pop('image')
    return ops, Scope(feeds, weights, scales)


def forms(name):
    """(form, operators, scope, expected tensors) in float32 and int8."""
    ops, scope = NETWORKS[name]()
    values = nnadapter_numpy.compute(ops, {**scope.feeds, **scope.weights})
    yield 'float32', ops, scope, values
    ops, scope = in_codes(ops, scope, values, name == 'ResNet-18')
    yield 'int8', ops, scope, nnadapter_codes.compute(ops, {**scope.feeds, **scope.weights}, scope)
