#!/usr/bin/env python3
"""Writes the ONNX networks that `make compare` runs through nnrt and ONNX Runtime.

    python3 make_networks.py OUTDIR [NAME ...]      (no NAME: all; --list: names only)

Needs numpy and onnx. Weights are random with a seed made from the network's name, so two runs write the same numbers. Each
network is one function below; it exercises a shape of graph (residuals, branches, decoder, attention) or a family of operator
forms (pooling, resizing, the attribute and input forms of an opset). Beside OUTDIR/NAME.onnx it writes OUTDIR/networks.json,
with the cases for compare.py and their limits:
{NAME: {file, nodes, ranges: {input: [low, high]}, cases: [{dimension: extent}], tolerance, arena_limit}}; integers is
the tolerance where the network is computed in integers, tolerance the one with --no-quantize then.
"""
import hashlib
import json
import os
import sys

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save_model, shape_inference

TOLERANCE = 1e-4
CHECKED_OPSET = 17  # the newest opset that the checker of Debian 12's python3-onnx knows
ELEMENT = {np.dtype("float32"): TensorProto.FLOAT, np.dtype("float16"): TensorProto.FLOAT16}
NETWORKS = {}


def network(**options):
    """Registers a function that fills a Net. Options: opset, ir, tolerance, integers, cases, arena (live bytes), external,
    net (another class)."""
    def register(function):
        NETWORKS[function.__name__] = (function, options)
        return function
    return register


def i64(*values):
    return np.array(values, np.int64)


def f32(value):
    return np.array(value, np.float32)


class Net:
    """A graph under construction. Tensors are names; a numpy array given as an input becomes an initializer."""

    def __init__(self, name, opset=17, ir=8, typed_data=False, slashes=False, dtype=np.float32):
        self.name, self.opset, self.ir, self.dtype = name, opset, ir, np.dtype(dtype)
        self.typed_data, self.slashes = typed_data, slashes
        self.random = np.random.RandomState(int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little"))
        self.nodes, self.constants, self.inputs, self.outputs, self.ranges = [], [], [], [], {}
        self.count = 0

    def fresh(self, stem):
        self.count += 1
        return "/%s/%s_%d" % (self.name, stem, self.count) if self.slashes else "%s_%d" % (stem.lower(), self.count)

    def input(self, name, dims, low=-1.0, high=1.0, element=None):
        """A graph input; compare.py draws its values from [low, high)."""
        self.inputs.append(helper.make_tensor_value_info(name, element or ELEMENT[self.dtype], dims))
        self.ranges[name] = [low, high]
        return name

    def constant(self, array):
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        name = self.fresh("c")
        if self.typed_data and array.dtype == np.float32:
            self.constants.append(helper.make_tensor(name, TensorProto.FLOAT, array.shape, array.ravel().tolist()))
        else:
            self.constants.append(numpy_helper.from_array(array, name))
        return name

    def op(self, kind, *inputs, outputs=1, **attributes):
        """Adds a node. inputs: names, arrays, or None for one left out. Returns its output, or a list of outputs."""
        names = []
        for x in inputs:
            names.append("" if x is None else x if isinstance(x, str) else self.constant(x))
        results = [self.fresh(kind) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, names, results, name=self.fresh("n"), **attributes))
        return results[0] if outputs == 1 else results

    def graph(self, inputs, fill):
        """A graph for a node to run. inputs: (name, dims, element) of each; fill(*names) adds its nodes, which see all
        names of this one, and returns the names of its results."""
        outer, self.nodes = self.nodes, []
        results = fill(*(name for name, _, _ in inputs))
        made = helper.make_graph(self.nodes, self.fresh("graph"),
                                 [helper.make_tensor_value_info(name, element, dims) for name, dims, element in inputs],
                                 [helper.make_tensor_value_info(name, element, dims) for name, dims, element in results])
        self.nodes = outer
        return made

    def output(self, *names, element=None):
        for name in names:
            self.outputs.append(helper.make_tensor_value_info(name, element or ELEMENT[self.dtype], None))

    def weights(self, shape, fan_in):
        """Normal with variance 2 / fan_in, which keeps the size of activations through a layer with Relu."""
        return (self.random.standard_normal(shape) * np.sqrt(2.0 / fan_in)).astype(self.dtype)

    def rows(self, shape):
        """Weights of a layer, output channel first. Where an output mixes many channels its weights sum to zero:
        otherwise the mean that Relu leaves grows from layer to layer and deep networks forget their input."""
        w = self.weights(shape, int(np.prod(shape[1:])))
        return w - w.mean(axis=tuple(range(1, w.ndim)), keepdims=True) if shape[1] >= 8 else w

    def vector(self, n, low=-0.1, high=0.1):
        return self.random.uniform(low, high, n).astype(self.dtype)

    def conv(self, x, cin, cout, kernel, stride=1, pad=0, group=1, dilation=1, bias=True, relu=False, auto=None):
        kh, kw = (kernel, kernel) if isinstance(kernel, int) else kernel
        attributes = {"kernel_shape": [kh, kw]}
        attributes["strides"] = [stride, stride] if isinstance(stride, int) else list(stride)
        if dilation != 1:
            attributes["dilations"] = [dilation, dilation]
        if group != 1:
            attributes["group"] = group
        if auto:
            attributes["auto_pad"] = auto
        else:
            attributes["pads"] = [pad] * 4 if isinstance(pad, int) else list(pad)
        arguments = [x, self.rows((cout, cin // group, kh, kw))]
        if bias:
            arguments.append(self.vector(cout))
        y = self.op("Conv", *arguments, **attributes)
        return self.op("Relu", y) if relu else y

    def conv_transpose(self, x, cin, cout, kernel, stride, group=1, bias=True, **attributes):
        arguments = [x, self.weights((cin, cout // group, kernel, kernel), cin // group * kernel)]
        if bias:
            arguments.append(self.vector(cout))
        return self.op("ConvTranspose", *arguments, kernel_shape=[kernel, kernel], strides=[stride, stride],
                       group=group, **attributes)

    def dense(self, x, cin, cout, gain=1):
        return self.op("Gemm", x, self.rows((cout, cin)) * self.dtype.type(gain), self.vector(cout), transB=1)

    def linear(self, x, cin, cout):
        return self.op("Add", self.op("MatMul", x, self.weights((cin, cout), cin)), self.vector(cout))

    def batch_norm(self, x, channels):
        return self.op("BatchNormalization", x, self.vector(channels, 0.5, 1.5), self.vector(channels),
                       self.vector(channels), self.vector(channels, 0.5, 1.5), epsilon=1e-3)

    def classify(self, x):
        """Logits and probabilities are both outputs: a softmax alone can hide differences."""
        self.output(x, self.op("Softmax", x, axis=1))

    def save(self, path, external):
        inputs = list(self.inputs)
        if self.ir < 4:  # before version 4 every initializer is also an input
            inputs += [helper.make_tensor_value_info(c.name, c.data_type, list(c.dims)) for c in self.constants]
        graph = helper.make_graph(self.nodes, self.name, inputs, self.outputs, self.constants)
        opset = helper.make_opsetid("", self.opset)
        model = helper.make_model(graph, producer_name="nnrt-compare", opset_imports=[opset])
        model.ir_version = self.ir
        if self.opset <= CHECKED_OPSET:
            # Outputs get the shapes that can be inferred. The checker wants a shape; files may do without.
            inferred = shape_inference.infer_shapes(model)
            del model.graph.output[:]
            model.graph.output.extend(inferred.graph.output)
            for output in inferred.graph.output:
                output.type.tensor_type.shape.SetInParent()
            checker.check_model(inferred)
        if external:
            data = os.path.basename(path) + ".data"
            if os.path.exists(os.path.join(os.path.dirname(path), data)):
                os.remove(os.path.join(os.path.dirname(path), data))
            save_model(model, path, save_as_external_data=True, location=data, size_threshold=64)
        else:
            save_model(model, path)


# Classic networks. Their live bytes follow by hand from the two or three largest tensors alive at once; graph inputs
# and outputs lie in the caller's memory and do not count.

@network(arena=6 * 28 * 28 * 4 + 6 * 14 * 14 * 4)  # first convolution and its pooled result
def lenet(n):
    x = n.input("image", [1, 1, 28, 28])
    x = n.op("MaxPool", n.conv(x, 1, 6, 5, pad=2, relu=True), kernel_shape=[2, 2], strides=[2, 2])
    x = n.op("MaxPool", n.conv(x, 6, 16, 5, relu=True), kernel_shape=[2, 2], strides=[2, 2])
    x = n.op("Relu", n.dense(n.op("Flatten", x), 400, 120))
    n.classify(n.dense(n.op("Relu", n.dense(x, 120, 84)), 84, 10))


@network(arena=3 * 16 * 32 * 32 * 4)  # the shortcut, one convolution's input and its output
def resnet8(n):
    x = n.conv(n.input("image", [1, 3, 32, 32]), 3, 16, 3, pad=1, relu=True)
    cin = 16
    for cout, stride in ((16, 1), (32, 2), (64, 2)):
        y = n.conv(x, cin, cout, 3, stride, pad=1, relu=True)
        y = n.conv(y, cout, cout, 3, pad=1)
        x = n.op("Relu", n.op("Add", y, x if stride == 1 else n.conv(x, cin, cout, 1, stride)))
        cin = cout
    n.classify(n.dense(n.op("Flatten", n.op("GlobalAveragePool", x)), 64, 10))


@network(arena=(8 + 16) * 48 * 48 * 4)  # the first pointwise convolution: 8 channels in, 16 out
def mobilenet_v1_025(n):
    def block(x, cin, cout, kernel, stride, group=1):
        y = n.conv(x, cin, cout, kernel, stride, group=group, auto="SAME_UPPER")
        return n.op("Clip", y, f32(0), f32(6))

    x = block(n.input("image", [1, 3, 96, 96]), 3, 8, 3, 2)
    cin = 8
    for cout, stride in [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2)] + [(128, 1)] * 5 + [(256, 2), (256, 1)]:
        x = block(block(x, cin, cin, 3, stride, cin), cin, cout, 1, 1)
        cin = cout
    n.classify(n.dense(n.op("Flatten", n.op("GlobalAveragePool", x)), 256, 2, gain=8))


@network(arena=64 * 112 * 112 * 4 + 64 * 56 * 56 * 4)  # the stem and its pooled result
def resnet18(n):
    x = n.conv(n.input("image", [1, 3, 224, 224]), 3, 64, 7, 2, pad=3, relu=True)
    x = n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    cin = 64
    for cout in (64, 128, 256, 512):
        for block in range(2):
            stride = 2 if block == 0 and cout != 64 else 1
            y = n.conv(n.conv(x, cin, cout, 3, stride, pad=1, relu=True), cout, cout, 3, pad=1)
            x = n.op("Relu", n.op("Add", y, x if stride == 1 else n.conv(x, cin, cout, 1, stride)))
            cin = cout
    n.classify(n.dense(n.op("Flatten", n.op("GlobalAveragePool", x)), 512, 1000, gain=0.1))


@network()
def unet(n):
    def twice(x, cin, cout):
        return n.conv(n.conv(x, cin, cout, 3, pad=1, relu=True), cout, cout, 3, pad=1, relu=True)

    def half(x):
        return n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])

    fine = twice(n.input("image", [1, 1, 48, 48]), 1, 8)
    middle = twice(half(fine), 8, 16)
    coarse = twice(half(middle), 16, 32)
    x = twice(n.op("Concat", n.conv_transpose(coarse, 32, 16, 2, 2), middle, axis=1), 32, 16)
    x = n.op("Resize", x, None, f32([1, 1, 2, 2]), mode="linear", coordinate_transformation_mode="half_pixel")
    x = twice(n.op("Concat", x, fine, axis=1), 24, 8)
    shadow = n.op("Resize", n.conv(coarse, 32, 8, 1), None, f32([1, 1, 4, 4]), mode="nearest",
                  coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    x = n.conv(n.op("Add", x, shadow), 8, 1, 1)
    n.output(x, n.op("Sigmoid", x))


@network(slashes=True)
def inception(n):
    def block(x, cin, a, b, c, d):
        one = n.conv(x, cin, a, 1, relu=True)
        three = n.conv(n.conv(x, cin, b // 2, 1, relu=True), b // 2, b, 3, pad=1, relu=True)
        five = n.conv(n.conv(x, cin, c, 1, relu=True), c, c, (1, 5), pad=(0, 2, 0, 2), relu=True)
        five = n.conv(five, c, c, (5, 1), pad=(2, 0, 2, 0), relu=True)
        pool = n.op("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
        return n.op("Concat", one, three, five, n.conv(pool, cin, d, 1, relu=True), axis=1)

    x = n.conv(n.input("input:0", [1, 3, 56, 56]), 3, 16, 3, 2, pad=1, relu=True)
    x = block(x, 16, 8, 16, 4, 4)
    x = n.op("MaxPool", block(x, 32, 12, 24, 6, 6), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    x = block(x, 48, 16, 24, 8, 16)
    n.classify(n.dense(n.op("Flatten", n.op("GlobalAveragePool", x)), 64, 20))


@network(opset=13)
def densenet(n):
    x, channels = n.conv(n.input("image", [1, 3, 32, 32]), 3, 8, 3, 2, pad=1, bias=False), 8
    for _ in range(2):
        parts = [x]
        for _ in range(3):
            y = n.op("Relu", n.batch_norm(parts[0] if len(parts) == 1 else n.op("Concat", *parts, axis=1), channels))
            parts.append(n.conv(y, channels, 6, 3, pad=1, bias=False))
            channels += 6
        x = n.op("Relu", n.batch_norm(n.op("Concat", *parts, axis=1), channels))
        x = n.conv(x, channels, channels // 2, 1, bias=False)
        x = n.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
        channels //= 2
    x = n.op("ReduceMean", x, axes=[2, 3], keepdims=0)
    n.classify(n.dense(x, channels, 7))


@network(opset=14)
def squeeze_excite(n):
    x = n.op("HardSwish", n.conv(n.input("image", [1, 3, 40, 40]), 3, 16, 3, 2, pad=1))
    for stride in (1, 2):
        y = n.op("HardSwish", n.conv(x, 16, 32, 1))
        y = n.conv(y, 32, 32, 5, stride, pad=2, group=32)
        gate = n.conv(n.op("GlobalAveragePool", y), 32, 8, 1, relu=True)
        y = n.op("Mul", y, n.op("HardSigmoid", n.conv(gate, 8, 32, 1), alpha=1.0 / 6.0, beta=0.5))
        y = n.conv(y, 32, 16, 1)
        x = n.op("Add", x, y) if stride == 1 else y
    n.classify(n.dense(n.op("Flatten", n.op("GlobalMaxPool", x)), 16, 9))


@network()
def shuffle(n):
    x = n.conv(n.input("image", [1, 3, 32, 32]), 3, 24, 3, 2, pad=1, relu=True)
    for _ in range(2):
        a, b = n.op("Split", x, i64(12, 12), outputs=2, axis=1)
        b = n.conv(n.conv(b, 12, 12, 1, relu=True), 12, 12, 3, pad=1, group=12)
        x = n.op("Concat", a, n.conv(b, 12, 12, 1, relu=True), axis=1)
        x = n.op("Transpose", n.op("Reshape", x, i64(1, 2, 12, 16, 16)), perm=[0, 2, 1, 3, 4])
        x = n.op("Reshape", x, i64(1, -1, 16, 16))
    n.classify(n.dense(n.op("Flatten", n.op("GlobalAveragePool", x)), 24, 10))


@network(opset=11)
def super_resolution(n):
    x = n.conv(n.input("image", [1, 1, 20, 24]), 1, 16, 5, pad=2, relu=True)
    x = n.conv(n.conv(x, 16, 16, 3, pad=1, relu=True), 16, 9, 3, pad=1)
    x = n.op("Transpose", n.op("Reshape", x, i64(1, 1, 3, 3, 20, 24)), perm=[0, 1, 4, 2, 5, 3])
    n.output(n.op("Reshape", x, i64(1, 1, 60, 72)))


@network()
def channels_last(n):
    """Image and result have channels last, as converters from TensorFlow write it."""
    x = n.op("Transpose", n.input("image", [1, 30, 26, 3]), perm=[0, 3, 1, 2])
    x = n.op("Clip", n.conv(x, 3, 8, 3, 2, auto="SAME_UPPER"), f32(0), f32(6))
    x = n.op("Transpose", x, perm=[0, 2, 3, 1])
    x = n.op("Add", n.op("Mul", x, n.vector(8, 0.5, 1.5)), n.vector(8))
    x = n.op("Transpose", x, perm=[0, 3, 1, 2])
    x = n.conv(x, 8, 6, 3, auto="SAME_LOWER", stride=2, relu=True)
    n.output(n.op("Transpose", x, perm=[0, 2, 3, 1]))


@network()
def detector(n):
    """Two heads at two scales, joined into boxes and scores."""
    x = n.conv(n.input("image", [1, 3, 48, 64]), 3, 12, 3, 2, pad=1, relu=True)
    boxes, scores = [], []
    for _ in range(2):
        x = n.conv(x, 12, 12, 3, 2, pad=1, relu=True)
        for heads, width in ((boxes, 4), (scores, 5)):
            y = n.op("Transpose", n.conv(x, 12, 3 * width, 3, pad=1), perm=[0, 2, 3, 1])
            heads.append(n.op("Reshape", y, i64(0, -1, width)))
    n.output(n.op("Concat", *boxes, axis=1), n.op("Softmax", n.op("Concat", *scores, axis=1), axis=-1))


@network(opset=13)
def detector_nms(n):
    """Boxes around centres of a grid, of which the ones that overlap no better one are kept: their number is data-dependent."""
    side, classes = 8, 3
    x = n.conv(n.conv(n.input("image", [1, 3, 32, 32]), 3, 12, 3, 2, pad=1, relu=True), 12, 12, 3, 2, pad=1, relu=True)
    across, down = np.meshgrid(np.arange(side) + 0.5, np.arange(side) + 0.5)
    centres = f32(np.stack([down, across], axis=-1)).reshape(1, side * side, 2)

    def head(width):
        y = n.op("Transpose", n.conv(x, 12, width, 1), perm=[0, 2, 3, 1])
        return n.op("Reshape", y, i64(1, side * side, width))

    half = n.op("Exp", head(2))
    boxes = n.op("Concat", n.op("Sub", centres, half), n.op("Add", centres, half), axis=2)
    scores = n.op("Transpose", n.op("Sigmoid", head(classes)), perm=[0, 2, 1])
    chosen = n.op("NonMaxSuppression", boxes, scores, i64(5), f32([0.4]), f32([0.3]))
    which = n.op("Gather", chosen, i64(2), axis=1)
    n.output(n.op("GatherND", scores, chosen), n.op("Gather", n.op("Squeeze", boxes, i64(0)), n.op("Squeeze", which, i64(1))),
             boxes)
    n.output(chosen, element=TensorProto.INT64)


@network()
def volume(n):
    """Convolutions and pooling over three axes."""
    x = n.input("scan", [1, 1, 12, 16, 14])
    x = n.op("Relu", n.op("Conv", x, n.weights((6, 1, 3, 3, 3), 27), n.vector(6), kernel_shape=[3] * 3, pads=[1] * 6))
    x = n.op("MaxPool", n.batch_norm(x, 6), kernel_shape=[2] * 3, strides=[2] * 3)
    y = n.op("Relu", n.op("Conv", x, n.rows((12, 6, 3, 3, 3)), n.vector(12), kernel_shape=[3] * 3, strides=[1, 2, 2],
                          pads=[1] * 6))
    n.output(n.op("ConvTranspose", y, n.weights((12, 2, 1, 2, 2), 12), n.vector(2), kernel_shape=[1, 2, 2],
                  strides=[1, 2, 2]))
    y = n.op("AveragePool", y, kernel_shape=[2] * 3, strides=[2] * 3)
    n.classify(n.dense(n.op("Flatten", y), 12 * 3 * 2 * 2, 4))


# Dense networks and sequences.

@network()
def mlp(n):
    x = n.input("x", [4, 24])
    x = n.op("Tanh", n.op("Gemm", x, n.weights((24, 32), 24), n.vector(32)))
    x = n.op("Elu", n.op("Gemm", x, n.weights((32, 32), 32), n.vector(32), transB=1, alpha=0.5, beta=2.0), alpha=0.7)
    x = n.op("LeakyRelu", n.linear(x, 32, 40), alpha=0.2)
    x = n.op("Selu", n.op("Gemm", x, n.weights((40, 16), 40)))
    x = n.op("PRelu", n.linear(x, 16, 16), n.vector(1, 0.1, 0.3))
    x = n.op("Softplus", n.linear(x, 16, 16))
    x = n.op("Softsign", n.dense(x, 16, 16))
    n.classify(n.dense(n.op("Sigmoid", n.linear(x, 16, 16)), 16, 6))


def attention(n, x, length, width, heads, mask=None):
    """Multi-head attention over [1, length, width], with an additive mask or without."""
    depth = width // heads

    def project(perm):
        y = n.op("Reshape", n.linear(x, width, width), i64(1, length, heads, depth))
        return n.op("Transpose", y, perm=perm)

    scores = n.op("MatMul", project([0, 2, 1, 3]), project([0, 2, 3, 1]))
    scores = n.op("Div", scores, f32(np.sqrt(depth)))
    if mask is not None:
        scores = n.op("Add", scores, mask)
    y = n.op("MatMul", n.op("Softmax", scores, axis=-1), project([0, 2, 1, 3]))
    y = n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1, 3]), i64(1, length, width))
    return n.linear(y, width, width)


def gelu_tanh(n, x):
    """The tanh form of Gelu, written out as exporters of older opsets do."""
    cube = n.op("Mul", n.op("Pow", x, f32(3)), f32(0.044715))
    inner = n.op("Tanh", n.op("Mul", n.op("Add", x, cube), f32(0.7978845608)))
    return n.op("Mul", n.op("Mul", x, f32(0.5)), n.op("Add", inner, f32(1)))


@network()
def transformer(n):
    length, width = 16, 32
    x = n.op("Gather", n.random.standard_normal((50, width)).astype(np.float32),
             n.input("tokens", [1, length], 0, 50, TensorProto.INT64), axis=0)
    x = n.op("Add", x, n.vector((1, length, width), -1, 1))
    mask = f32(np.triu(np.full((length, length), -1e4), 1))

    def norm(x):
        return n.op("LayerNormalization", x, n.vector(width, 0.5, 1.5), n.vector(width), axis=-1, epsilon=1e-5)

    for _ in range(2):
        x = n.op("Add", x, attention(n, norm(x), length, width, 4, mask))
        x = n.op("Add", x, n.linear(gelu_tanh(n, n.linear(norm(x), width, 64)), 64, width))
    x = norm(x)
    n.output(x)
    n.classify(n.dense(n.op("ReduceMean", x, axes=[1], keepdims=0), width, 5))


@network(opset=14)
def gru_text(n):
    """Classification of a text: words, a GRU in both directions, its largest values."""
    length, width, hidden = 24, 12, 16
    x = n.op("Gather", n.vector((60, width), -1, 1), n.input("words", [length, 1], 0, 60, TensorProto.INT64), axis=0)
    y, last = n.op("GRU", x, n.weights((2, 3 * hidden, width), width), n.weights((2, 3 * hidden, hidden), hidden),
                   n.vector((2, 6 * hidden)), outputs=2, hidden_size=hidden, direction="bidirectional",
                   linear_before_reset=1)
    y = n.op("Reshape", n.op("Transpose", y, perm=[2, 1, 3, 0]), i64(1, 2 * hidden, length))
    most = n.op("ReduceMax", y, axes=[2], keepdims=0)
    last = n.op("Reshape", n.op("Transpose", last, perm=[1, 0, 2]), i64(1, -1))
    n.classify(n.dense(n.op("Concat", most, last, axis=1), 4 * hidden, 5, gain=2))


@network(opset=17)
def audio_stft(n):
    """A class for a sound: frames of a spectrum, its energy in mel bands, a convolution along time."""
    frame, hop, bands, classes = 64, 32, 20, 6
    x = n.op("Unsqueeze", n.input("sound", [1, 800]), i64(2))
    spectrum = n.op("STFT", x, np.array(hop, np.int64), n.op("HannWindow", np.array(frame, np.int64)),
                    np.array(frame, np.int64), onesided=1)
    power = n.op("ReduceSum", n.op("Mul", spectrum, spectrum), i64(3), keepdims=0)
    mel = n.op("MelWeightMatrix", *(np.array(v, np.int64) for v in (bands, frame, 16000)), f32(100), f32(8000))
    level = n.op("Log", n.op("Add", n.op("MatMul", power, mel), f32(1e-3)))
    y = n.op("Conv", n.op("Transpose", level, perm=[0, 2, 1]), n.rows((16, bands, 3)), n.vector(16), kernel_shape=[3],
             pads=[1, 1])
    y = n.op("GlobalMaxPool", n.op("Relu", y))
    n.output(level)
    n.classify(n.dense(n.op("Flatten", y), 16, classes))


@network(opset=11)
def layer_norm_parts(n):
    """Layer normalization spelled out with ReduceMean, Sub, Pow, Sqrt and Div, after each layer."""
    x = n.input("x", [2, 10, 24])
    for _ in range(2):
        x = n.op("Add", x, n.op("Relu", n.linear(x, 24, 24)))
        centred = n.op("Sub", x, n.op("ReduceMean", x, axes=[-1]))
        variance = n.op("ReduceMean", n.op("Pow", centred, f32(2)), axes=[-1])
        x = n.op("Div", centred, n.op("Sqrt", n.op("Add", variance, f32(1e-5))))
        x = n.op("Add", n.op("Mul", x, n.vector(24, 0.5, 1.5)), n.vector(24))
    n.output(x)


@network(opset=13)
def rnn_unrolled(n):
    x, state = n.input("x", [1, 6, 8]), n.input("state", [1, 12])
    wx, wh, b = n.constant(n.weights((8, 12), 16)), n.constant(n.weights((12, 12), 16)), n.constant(n.vector(12))
    steps = []
    for part in n.op("Split", x, outputs=6, axis=1):
        step = n.op("MatMul", n.op("Squeeze", part, i64(1)), wx)
        state = n.op("Tanh", n.op("Add", n.op("Add", step, n.op("MatMul", state, wh)), b))
        steps.append(n.op("Unsqueeze", state, i64(1)))
    n.output(n.op("Concat", *steps, axis=1), state)


@network(opset=13)
def siamese(n):
    """Two inputs through the same weights; their distance and whether it is at most one."""
    w1, w2, b = n.constant(n.weights((6, 3, 3, 3), 27)), n.constant(n.weights((96, 10), 96)), n.constant(n.vector(10))

    def embed(x):
        x = n.op("Relu", n.op("Conv", x, w1, strides=[2, 2]))
        x = n.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
        return n.op("Tanh", n.op("Gemm", n.op("Flatten", x), w2, b))

    a, b2 = embed(n.input("left", [2, 3, 18, 18])), embed(n.input("right", [2, 3, 18, 18]))
    difference = n.op("Sub", a, b2)
    distance = n.op("Sqrt", n.op("ReduceSum", n.op("Mul", difference, difference), i64(1), keepdims=0))
    n.output(a, distance)
    n.output(n.op("LessOrEqual", distance, f32(1)), element=TensorProto.BOOL)


# Shapes that are known only when the network runs.

@network(cases=[{"batch": 1}, {"batch": 3}])
def dynamic_batch(n):
    """The batch is free, and the flattening computes its shape at run time as PyTorch's exporter writes it."""
    x = n.conv(n.input("image", ["batch", 2, 16, 16]), 2, 8, 3, pad=1, relu=True)
    x = n.op("MaxPool", x, kernel_shape=[4, 4], strides=[4, 4])
    batch = n.op("Unsqueeze", n.op("Gather", n.op("Shape", x), np.array(0, np.int64), axis=0), i64(0))
    x = n.op("Reshape", x, n.op("Concat", batch, i64(-1), axis=0))
    n.classify(n.dense(n.op("Relu", n.dense(x, 128, 20)), 20, 5))


@network(cases=[{"height": 32, "width": 32}, {"height": 20, "width": 28}])
def dynamic_size(n):
    x = n.conv(n.input("image", [1, 3, "height", "width"]), 3, 8, 3, 2, pad=1, relu=True)
    up = n.op("Resize", n.conv(x, 8, 8, 3, 2, pad=1), None, f32([1, 1, 2, 2]), mode="nearest")
    x = n.op("Relu", n.op("Add", x, up))
    n.output(n.conv(x, 8, 2, 1))
    n.classify(n.dense(n.op("Flatten", n.op("GlobalAveragePool", x)), 8, 4))


# Families of operator forms.

@network()
def pooling(n):
    x = n.input("x", [2, 3, 15, 17])
    forms = [
        ("MaxPool", dict(kernel_shape=[3, 3], strides=[2, 2])),
        ("MaxPool", dict(kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)),
        ("MaxPool", dict(kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 0, 1])),
        ("MaxPool", dict(kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")),
        ("MaxPool", dict(kernel_shape=[2, 2], strides=[1, 1], auto_pad="SAME_LOWER")),
        ("MaxPool", dict(kernel_shape=[4, 4], strides=[3, 3], auto_pad="VALID")),
        ("AveragePool", dict(kernel_shape=[3, 3], strides=[2, 2])),
        ("AveragePool", dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])),
        ("AveragePool", dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1)),
        ("AveragePool", dict(kernel_shape=[2, 4], strides=[2, 1], pads=[0, 2, 1, 1])),
        ("AveragePool", dict(kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")),
        ("AveragePool", dict(kernel_shape=[2, 3], strides=[3, 3], ceil_mode=1)),
        ("GlobalAveragePool", {}),
        ("GlobalMaxPool", {}),
    ]
    for kind, attributes in forms:
        n.output(n.op(kind, n.op("Mul", x, n.vector((1, 3, 1, 1), 1, 2)), **attributes))


@network()
def batch_norm(n):
    """Batch normalization in its trained form: where it can be folded into its producer, and where it cannot."""
    x = n.batch_norm(n.input("image", [2, 3, 16, 16]), 3)
    x = n.op("Relu", n.batch_norm(n.conv(x, 3, 8, 3, pad=1, bias=False), 8))
    y = n.batch_norm(n.conv(x, 8, 8, 3, pad=1), 8)
    shared = n.op("Add", x, y)
    x = n.op("Relu", n.batch_norm(shared, 8))
    x = n.batch_norm(n.conv(x, 8, 8, 3, pad=1, group=8), 8)
    x = n.op("Add", n.op("Dropout", n.op("Identity", x)), shared)
    x = n.op("LeakyRelu", n.batch_norm(n.conv_transpose(x, 8, 4, 3, 2), 4), alpha=0.1)
    n.output(x)
    x = n.op("Flatten", n.op("AveragePool", x, kernel_shape=[11, 11], strides=[11, 11]))
    n.classify(n.batch_norm(n.dense(x, 36, 6), 6))


@network()
def convolutions(n):
    x = n.input("x", [2, 8, 17, 14])
    results = [
        n.conv(x, 8, 12, 3, pad=1, group=4),
        n.conv(x, 8, 6, 3, pad=2, dilation=2),
        n.conv(x, 8, 16, 3, pad=1, group=8),
        n.conv(x, 8, 8, 3, (2, 1), pad=(0, 1, 2, 1), group=8, dilation=2, bias=False),
        n.conv(x, 8, 5, (5, 3), (2, 3), pad=(1, 0, 2, 1)),
        n.conv(x, 8, 5, (1, 4), (3, 1), auto="SAME_LOWER"),
        n.conv(x, 8, 4, 4, 2, auto="SAME_UPPER", bias=False),
        n.conv(x, 8, 4, 3, 2, auto="VALID"),
        n.conv_transpose(x, 8, 6, 3, 2, pads=[1, 1, 1, 1], output_padding=[1, 1]),
        n.conv_transpose(x, 8, 4, 3, 2, group=2),
        n.conv_transpose(x, 8, 8, 2, 2, group=8, bias=False),
        n.conv_transpose(x, 8, 3, 3, 1, dilations=[2, 2], pads=[2, 2, 2, 2]),
        n.conv_transpose(x, 8, 3, 4, 2, auto_pad="SAME_UPPER"),
    ]
    n.output(*results)


@network(opset=13)
def resizing(n):
    x = n.input("x", [1, 2, 9, 7])

    def scaled(sh, sw, **attributes):
        n.output(n.op("Resize", x, None, f32([1, 1, sh, sw]), **attributes))

    def sized(h, w, **attributes):
        n.output(n.op("Resize", x, None, None, i64(1, 2, h, w), **attributes))

    scaled(2, 3, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    scaled(2, 2, mode="nearest", coordinate_transformation_mode="half_pixel", nearest_mode="round_prefer_floor")
    sized(4, 5, mode="nearest", coordinate_transformation_mode="half_pixel", nearest_mode="ceil")
    sized(20, 11, mode="nearest", coordinate_transformation_mode="align_corners", nearest_mode="round_prefer_ceil")
    scaled(2, 2, mode="linear", coordinate_transformation_mode="half_pixel")
    sized(13, 17, mode="linear", coordinate_transformation_mode="align_corners")
    scaled(3, 2, mode="linear", coordinate_transformation_mode="asymmetric")
    sized(5, 4, mode="linear", coordinate_transformation_mode="half_pixel")
    sized(14, 16, mode="linear", coordinate_transformation_mode="pytorch_half_pixel")
    scaled(2, 2, mode="cubic", coordinate_transformation_mode="half_pixel", cubic_coeff_a=-0.75)
    sized(15, 12, mode="cubic", coordinate_transformation_mode="align_corners", cubic_coeff_a=-0.5)
    scaled(2, 3, mode="cubic", coordinate_transformation_mode="asymmetric", exclude_outside=1)


@network(opset=13)
def reductions(n):
    x = n.input("x", [3, 4, 5, 6], 0.5, 1.5)
    for kind in ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare", "ReduceL1", "ReduceL2"):
        n.output(n.op(kind, x, axes=[1]), n.op(kind, x, axes=[-1, 0], keepdims=0))
    n.output(n.op("ReduceSum", x, i64(2, 3)), n.op("ReduceSum", x, i64(-2), keepdims=0), n.op("ReduceMean", x))
    n.output(n.op("ArgMax", x, axis=2), n.op("ArgMax", x, axis=-1, keepdims=0), element=TensorProto.INT64)


@network(opset=13)
def arithmetic(n):
    """Broadcasting in both directions, operators with many inputs, integers, and the activations on their own."""
    x, y = n.input("x", [2, 3, 4, 5]), n.input("y", [4, 1], 0.5, 2.0)
    k = n.input("k", [3, 1, 5], -9, 10, TensorProto.INT32)
    n.output(n.op("Add", x, y), n.op("Sub", y, x), n.op("Mul", x, n.vector((3, 1, 1))), n.op("Div", x, y))
    n.output(n.op("Pow", y, x), n.op("Sqrt", y), n.op("Reciprocal", n.op("Sqrt", y)))
    n.output(n.op("Max", x, y, f32(0.25)), n.op("Sum", x, y, n.vector((5,)), f32(1)))
    n.output(n.op("Add", k, np.array([[7], [1]], np.int32)), n.op("Mul", k, k), element=TensorProto.INT32)
    n.output(n.op("Cast", n.op("LessOrEqual", x, f32(0.1)), to=TensorProto.FLOAT))
    n.output(n.op("Cast", k, to=TensorProto.FLOAT))
    n.output(n.op("Cast", n.op("Mul", x, f32(100)), to=TensorProto.INT64), element=TensorProto.INT64)
    big = n.op("Mul", x, f32(5))
    for kind in ("Relu", "Sigmoid", "Tanh", "Elu", "Selu", "Softplus", "Softsign", "HardSigmoid", "LeakyRelu"):
        n.output(n.op(kind, big))
    n.output(n.op("PRelu", big, n.vector((3, 1, 1), 0.1, 0.4)))
    n.output(n.op("Clip", big, f32(-1), f32(2)), n.op("Softmax", big, axis=1))


@network(opset=13)
def movement(n):
    x = n.input("x", [2, 6, 5, 4])
    table = n.random.standard_normal((7, 3)).astype(np.float32)
    index = n.input("index", [2, 3], 0, 7, TensorProto.INT64)
    n.output(n.op("Transpose", x), n.op("Transpose", x, perm=[2, 0, 3, 1]))
    n.output(n.op("Slice", x, i64(1, -3), i64(6, -1), i64(1, 2), i64(2, 1)))
    n.output(n.op("Slice", x, i64(-1), i64(-100), i64(1), i64(-2)))
    n.output(n.op("Tile", x, i64(1, 2, 1, 3)), n.op("Concat", x, x, n.op("Relu", x), axis=-2))
    pads = i64(0, 0, 1, 2, 0, 1, 2, 1)
    n.output(n.op("Pad", x, pads, f32(1.5)), n.op("Pad", x, i64(0, 0, 1, 2, 0, 0, 2, 1), mode="reflect"),
             n.op("Pad", x, pads, mode="edge"))
    n.output(*n.op("Split", x, i64(1, 3, 2), outputs=3, axis=1))
    n.output(n.op("Gather", table, index, axis=0), n.op("Gather", x, i64(-1, 0), axis=3))
    n.output(n.op("Gather", x, np.array(2, np.int64), axis=1))
    n.output(n.op("OneHot", index, i64(7), f32([0.25, 2]), axis=-1), n.op("OneHot", index, i64(7), f32([0, 1]), axis=0))
    values, places = n.op("TopK", x, i64(2), outputs=2, axis=1)
    n.output(values)
    n.output(places, n.op("Shape", x), element=TensorProto.INT64)
    flat = n.op("Reshape", x, i64(0, -1))
    n.output(flat, n.op("Squeeze", n.op("Unsqueeze", x, i64(0, -1)), i64(0)), n.op("Flatten", x, axis=2))
    n.output(n.op("MatMul", flat, n.weights((120, 3), 120)), n.op("MatMul", x, n.weights((4, 2), 4)),
             n.op("MatMul", n.weights((6, 3, 5), 5), x))


@network(opset=13)
def quantised_weights(n):
    """int8 weights, one scale a channel, widened in the graph; and a tensor quantized and dequantized."""
    x = n.input("x", [1, 4, 12, 12])
    scale, zero = n.vector(8, 0.01, 0.02), np.zeros(8, np.int8)
    w = n.op("DequantizeLinear", n.random.randint(-127, 128, (8, 4, 3, 3)).astype(np.int8), scale, zero, axis=0)
    y = n.op("Relu", n.op("Conv", x, w, n.vector(8), kernel_shape=[3, 3]))
    step, centre = n.constant(f32(1 / 64)), n.constant(np.array(-3, np.int8))
    q = n.op("QuantizeLinear", x, step, centre)
    n.output(y, n.op("DequantizeLinear", q, step, centre))
    n.output(q, element=TensorProto.INT8)


# A float16 result carries 11 bits: rounding alone is 2^-11 = 4.9e-4 of a value after every operator, and the two
# programs round at different places. Eight operators in a row stay well within 5e-3 of the largest value.
@network(opset=13, dtype=np.float16, tolerance=5e-3)
def half(n):
    x = n.conv(n.input("image", [1, 3, 16, 16]), 3, 8, 3, 2, pad=1, relu=True)
    x = n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = n.op("Add", x, n.conv(x, 8, 8, 3, pad=1))
    n.classify(n.dense(n.op("Flatten", n.op("GlobalAveragePool", x)), 8, 5))


# The same operators in the forms that each opset gives them.

@network(opset=9, ir=3, typed_data=True)
def opset9(n):
    x = n.input("x", [2, 4, 9, 8])
    whole = n.conv(n.op("Pad", x, pads=[0, 0, 1, 1, 0, 0, 1, 1], value=0.5), 4, 6, 3)
    x = n.op("Dropout", n.batch_norm(n.op("Clip", whole, min=-0.5, max=0.75), 6), ratio=0.4)
    n.output(n.op("Upsample", x, f32([1, 1, 2, 2]), mode="nearest"))
    n.output(n.op("Upsample", x, f32([1, 1, 2, 3]), mode="linear"))
    a, b = n.op("Split", n.op("Slice", x, starts=[0, 2], ends=[9, -1], axes=[1, 2]), outputs=2, axis=1, split=[2, 4])
    n.output(n.op("Concat", a, b, axis=1), n.op("Softmax", b, axis=1), n.op("ReduceSum", a, axes=[2], keepdims=0))
    n.output(n.op("Squeeze", n.op("Unsqueeze", a, axes=[0, 3]), axes=[0]))
    values, places = n.op("TopK", n.op("Flatten", whole), outputs=2, k=5)
    n.output(values)
    n.output(places, n.op("ArgMax", x, axis=1), element=TensorProto.INT64)
    half = n.op("Constant", value=numpy_helper.from_array(f32([0.5])))
    n.output(n.op("Gemm", values, n.weights((5, 3), 5), half, alpha=2.0), n.op("Sum", values, half, values))


@network(opset=10)
def opset10(n):
    x = n.input("x", [1, 3, 10, 12])
    y = n.op("Slice", x, i64(1, 0), i64(9, 1000), i64(2, 3), i64(2, 1))
    n.output(n.op("Resize", y, f32([1, 1, 2, 2]), mode="nearest"), n.op("Resize", y, f32([1, 1, 2, 2]), mode="linear"))
    values, places = n.op("TopK", y, i64(3), outputs=2, axis=-1)
    n.output(values, n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1), n.op("Dropout", y))
    n.output(places, element=TensorProto.INT64)


@network(opset=11)
def opset11(n):
    x = n.input("x", [2, 4, 10, 10])
    x = n.op("Pad", x, i64(0, 0, 2, 1, 0, 0, 1, 2), f32(0), mode="constant")
    x = n.op("Clip", n.conv(x, 4, 6, 3, 2), None, f32(1))
    n.output(n.op("Softmax", x, axis=2), n.op("Unsqueeze", x, axes=[-1, 1]), n.op("ReduceSum", x, axes=[-1, -2]))
    parts = n.op("Split", x, outputs=3, axis=1)
    n.output(n.op("Concat", parts[2], parts[0], axis=1), n.op("Gather", x, i64(-1, 2, -2), axis=1))
    values, places = n.op("TopK", x, i64(2), outputs=2, axis=2, largest=1, sorted=1)
    n.output(values, n.op("Resize", x, f32([]), f32([1, 1, 2, 2]), mode="linear",
                          coordinate_transformation_mode="align_corners"))
    n.output(places, element=TensorProto.INT64)
    n.output(n.op("Flatten", x))


@network(opset=13)
def opset13(n):
    x = n.input("x", [2, 4, 10, 10])
    y = n.op("Clip", n.conv(x, 4, 6, 3, pad=1, bias=False), f32(-1))
    n.output(n.op("Softmax", y), n.op("Softmax", y, axis=1), n.op("Unsqueeze", y, i64(2)))
    n.output(n.op("ReduceSum", y, i64(1, 3)))
    first, second = n.op("Split", y, i64(2, 4), outputs=2, axis=1)
    n.output(n.op("Squeeze", n.op("ReduceMean", first, axes=[1]), i64(1)), n.op("Pow", second, np.array(2, np.int64)))
    n.output(n.op("Cast", n.op("Cast", x, to=TensorProto.FLOAT16), to=TensorProto.FLOAT))
    n.output(n.op("Reshape", second, n.op("Constant", value_ints=[2, -1])))


@network(opset=17)
def opset17(n):
    x = n.input("x", [2, 6, 8])
    y = n.op("LayerNormalization", x, n.vector((6, 8), 0.5, 1.5), n.vector((6, 8)), axis=1, epsilon=1e-3)
    y = n.op("HardSwish", n.op("LayerNormalization", y, n.vector(8, 0.5, 1.5)))
    n.output(y, n.op("Relu", y))
    n.output(n.op("Shape", x, start=1, end=3), element=TensorProto.INT64)
    n.output(n.op("Pad", y, i64(1, 0, 0, 0, 2, 1), n.op("Constant", value_float=0.5)))


@network(opset=18)
def opset18(n):
    x = n.input("x", [1, 5, 8, 8])
    y = n.op("Pad", x, i64(1, 2), f32(0), i64(2))
    n.output(n.op("ReduceMean", y, i64(2, 3), keepdims=0), n.op("ReduceMax", y, i64(1)), n.op("ReduceL2", y, i64(-1)))
    parts = n.op("Split", y, outputs=2, axis=1, num_outputs=2)
    n.output(*parts)
    n.output(n.op("Resize", y, None, f32([1, 1, 2, 2]), mode="linear"))


@network(opset=18)
def resize_axes(n):
    """Scales and sizes for the listed axes only, as opset 18 allows."""
    x = n.input("x", [1, 3, 8, 6])
    n.output(n.op("Resize", x, None, f32([2, 3]), axes=[2, 3], mode="linear"))
    n.output(n.op("Resize", x, None, None, i64(9, 12), axes=[3, 2], mode="nearest"))


@network(external=True)
def external_data(n):
    """Weights in a file beside the model."""
    x = n.conv(n.input("x", [1, 3, 12, 12]), 3, 8, 3, relu=True)
    n.classify(n.dense(n.op("Flatten", n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])), 200, 10))


def write(name, folder):
    """Writes one network and returns its entry for networks.json."""
    function, options = NETWORKS[name]
    build = {k: options[k] for k in ("opset", "ir", "typed_data", "slashes", "dtype") if k in options}
    n = options.get("net", Net)(name, **build)
    function(n)
    n.save(os.path.join(folder, name + ".onnx"), options.get("external", False))
    return {"file": name + ".onnx", "nodes": len(n.nodes), "ranges": n.ranges, "cases": options.get("cases", [{}]),
            "tolerance": options.get("tolerance", TOLERANCE), "integers": options.get("integers"),
            "arena_limit": int(1.05 * options["arena"]) if "arena" in options else None}


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(NETWORKS))
        return 0
    unknown = [a for a in arguments[1:] if a not in NETWORKS]
    if not arguments or arguments[0].startswith("-") or unknown:
        print(__doc__ if not unknown else "no such network: " + ", ".join(unknown), file=sys.stderr)
        return 2
    folder = arguments[0]
    os.makedirs(folder, exist_ok=True)
    entries = {name: write(name, folder) for name in arguments[1:] or NETWORKS}
    with open(os.path.join(folder, "networks.json"), "w") as f:
        json.dump(entries, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
