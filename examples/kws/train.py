#!/usr/bin/env python3
"""Trains the keyword spotter on the features that sounds.py wrote, and writes kws.onnx next to this file.

    train.py               train on all training voices, write and check kws.onnx
    train.py --validate    train without every sixth voice, report the accuracy on these; writes nothing

The network is written in numpy: a convolution of five rows, four depthwise separable convolutions along time, each with batch
normalization and ReLU, the mean over time, and a fully connected layer. The seed and the number of epochs are fixed. Needs
numpy and onnx. It takes ten minutes of one core, three if OpenBLAS replaces the reference BLAS.
"""
import argparse
import math
import os
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import sounds

sys.path.insert(0, os.path.join(sounds.HERE, "..", "digits"))
import onnx_numpy  # noqa: E402  the evaluator of examples/digits

SEED = 20261126
EPOCHS = 24
BATCH = 64
PEAK_RATE = 6e-3
DECAY = 0.02  # of matrices, in AdamW
WIDTH, BLOCKS = 64, 4
KERNEL, STRIDE = 5, 2  # rows of the first convolution
TAPS = 7  # of a depthwise convolution
EPSILON = 1e-5  # of batch normalization
MOMENTUM = 0.05  # of its running means
SMOOTHING = 0.05  # share of the labels that all classes get
ONNX_PATH = os.path.join(sounds.HERE, "kws.onnx")


class Layer:
    """Base of a layer: backward uses values that forward stored, returns the gradient of the input and sets those of the
    parameters."""

    def __init__(self):
        self.parameters, self.gradients = [], []


class Dense(Layer):
    """x [M,I] @ w [I,O] + b: also a 1x1 convolution, of all positions of all sounds."""

    def __init__(self, random, inputs, outputs, bias):
        super().__init__()
        self.parameters = [(random.standard_normal((inputs, outputs)) * math.sqrt(2 / inputs)).astype(np.float32)]
        if bias:
            self.parameters.append(np.zeros(outputs, np.float32))

    def forward(self, x, training):
        """The product."""
        self.x = x
        y = x.reshape(-1, x.shape[-1]) @ self.parameters[0]
        y = y + self.parameters[1] if len(self.parameters) > 1 else y
        return y.reshape(x.shape[:-1] + (-1,))

    def backward(self, dy):
        """Gradients of both factors."""
        flat = dy.reshape(-1, dy.shape[-1])
        self.gradients = [self.x.reshape(-1, self.x.shape[-1]).T @ flat, flat.sum(0)][:len(self.parameters)]
        return (flat @ self.parameters[0].T).reshape(self.x.shape)


class Depthwise(Layer):
    """Convolution of each channel of x [N,T,C] along time, with zeros at both ends: w [TAPS,C]."""

    def __init__(self, random, channels):
        super().__init__()
        self.parameters = [(random.standard_normal((TAPS, channels)) * math.sqrt(2 / TAPS)).astype(np.float32)]

    def forward(self, x, training):
        """The sum over the taps."""
        self.x = np.pad(x, ((0, 0), (TAPS // 2, TAPS // 2), (0, 0)))
        return sum(self.x[:, i:i + x.shape[1]] * w for i, w in enumerate(self.parameters[0]))

    def backward(self, dy):
        """The same taps, backward."""
        steps, dx = dy.shape[1], np.zeros_like(self.x)
        self.gradients = [np.stack([np.einsum("ntc,ntc->c", self.x[:, i:i + steps], dy) for i in range(TAPS)])]
        for i, w in enumerate(self.parameters[0]):
            dx[:, i:i + steps] += dy * w
        return dx[:, TAPS // 2:-(TAPS // 2)]


class NormRelu(Layer):
    """Batch normalization over all axes but the last one, then ReLU."""

    def __init__(self, channels):
        super().__init__()
        self.parameters = [np.ones(channels, np.float32), np.zeros(channels, np.float32)]
        self.mean, self.variance = np.zeros(channels, np.float32), np.ones(channels, np.float32)

    def forward(self, x, training):
        """With the statistics of the batch in training, with running ones otherwise."""
        flat = x.reshape(-1, x.shape[-1])
        mean, variance = self.mean, self.variance
        if training:
            mean, variance = flat.mean(0), flat.var(0)
            self.mean += MOMENTUM * (mean - self.mean)
            self.variance += MOMENTUM * (variance - self.variance)
        self.inverse = 1 / np.sqrt(variance + EPSILON)
        self.normal = (flat - mean) * self.inverse
        self.y = np.maximum(self.normal * self.parameters[0] + self.parameters[1], 0)
        return self.y.reshape(x.shape)

    def backward(self, dy):
        """Through ReLU and the statistics of the batch."""
        flat = dy.reshape(self.y.shape) * (self.y > 0)
        dscale, dshift = np.einsum("mc,mc->c", flat, self.normal), flat.sum(0)
        self.gradients = [dscale, dshift]
        n = np.float32(len(flat))
        dx = (self.parameters[0] * self.inverse) * (flat - dshift / n - self.normal * (dscale / n))
        return dx.reshape(dy.shape)


class Mean(Layer):
    """The mean over time: [N,T,C] to [N,C]."""

    def forward(self, x, training):
        """The mean."""
        self.shape = x.shape
        return x.mean(1)

    def backward(self, dy):
        """Each step has the same share."""
        return np.broadcast_to(dy[:, None] / np.float32(self.shape[1]), self.shape)


class Net:
    """The layers, and the mean and deviation of each feature, which become a part of the first convolution."""

    def __init__(self, random, features):
        self.center = features.mean((0, 1, 2)).astype(np.float32)
        self.spread = features.std((0, 1, 2)).astype(np.float32)
        self.layers = [Dense(random, KERNEL * sounds.FEATURES, WIDTH, False), NormRelu(WIDTH)]
        for _ in range(BLOCKS):
            self.layers += [Depthwise(random, WIDTH), NormRelu(WIDTH), Dense(random, WIDTH, WIDTH, False), NormRelu(WIDTH)]
        self.layers += [Mean(), Dense(random, WIDTH, len(sounds.CLASSES), True)]

    def columns(self, x):
        """im2col of the first convolution, without padding: x [N,49,10] becomes [N,T,5*10]."""
        view = np.lib.stride_tricks.sliding_window_view((x - self.center) / self.spread, KERNEL, axis=1)[:, ::STRIDE]
        return view.transpose(0, 1, 3, 2).reshape(len(x), view.shape[1], -1)

    def logits(self, x, training=False):
        """Scores of sounds before softmax."""
        y = self.columns(x)
        for layer in self.layers:
            y = layer.forward(y, training)
        return y

    def step(self, x, target):
        """Gradients of the cross-entropy with a target [N,K]; returns the loss."""
        p = softmax(self.logits(x, True))
        dy = (p - target) / np.float32(len(x))
        for layer in reversed(self.layers):
            dy = layer.backward(dy)
        return float(-(target * np.log(p + 1e-9)).sum() / len(x))

    def predict(self, features):
        """Probabilities of features [N,1,49,10]."""
        return np.concatenate([softmax(self.logits(features[i:i + 500, 0])) for i in range(0, len(features), 500)])


def softmax(x):
    """Softmax over the last axis."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Adam:
    """AdamW without decay of vectors."""

    def __init__(self, layers):
        self.layers, self.steps = layers, 0
        self.moments = [[(np.zeros_like(p), np.zeros_like(p)) for p in layer.parameters] for layer in layers]

    def step(self, rate):
        """Changes all parameters in place."""
        self.steps += 1
        first, second = 1 - 0.9 ** self.steps, 1 - 0.999 ** self.steps
        for layer, moments in zip(self.layers, self.moments):
            for p, g, (m, v) in zip(layer.parameters, layer.gradients, moments):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                decay = np.float32(DECAY if p.ndim > 1 else 0)
                change = m / np.float32(first) / (np.sqrt(v / np.float32(second)) + np.float32(1e-8))
                p -= np.float32(rate) * (change + decay * p)


def augment(random, x):
    """Features [N,49,10] with up to eight rows set to the mean of the sound, another level, and noise."""
    x = x.copy()
    for sound in x:
        length, at = random.integers(9), random.integers(sounds.ROWS)
        sound[at:at + length] = sound.mean(0)
    x[:, :, 0] += random.uniform(-6, 6, (len(x), 1))
    return x + random.normal(0, 0.3, x.shape).astype(np.float32)


def learning_rate(progress):
    """A straight rise over the first tenth of the training, then half a cosine down to 0."""
    if progress < 0.1:
        return PEAK_RATE * progress / 0.1
    return PEAK_RATE * 0.5 * (1 + math.cos(math.pi * (progress - 0.1) / 0.9))


def train(features, labels, epochs):
    """A trained net; prints a line for each epoch."""
    random = np.random.default_rng(SEED)
    net = Net(random, features)
    adam = Adam(net.layers)
    count = len(sounds.CLASSES)
    targets = (np.eye(count, dtype=np.float32) * (1 - SMOOTHING) + SMOOTHING / count).astype(np.float32)
    batches = len(features) // BATCH
    start = time.time()
    for epoch in range(epochs):
        order = random.permutation(len(features))
        total = 0.0
        for b in range(batches):
            chosen = order[b * BATCH:(b + 1) * BATCH]
            total += net.step(augment(random, features[chosen, 0]), targets[labels[chosen]])
            adam.step(learning_rate((epoch + (b + 1) / batches) / epochs))
        print("epoch %2d/%d  loss %.4f  %.0f s" % (epoch + 1, epochs, total / batches, time.time() - start), flush=True)
    return net


def accuracy(probabilities, labels):
    """How often the most probable class is the label, as text: "right of all, share"."""
    right = int((probabilities.argmax(1) == labels).sum())
    return "%d of %d, %.4f" % (right, len(labels), right / len(labels))


def folded(dense, norm):
    """Weights [I,O] and bias [O] of a layer and its batch normalization."""
    factor = norm.parameters[0] / np.sqrt(norm.variance + EPSILON)
    return dense.parameters[0] * factor, norm.parameters[1] - norm.mean * factor


class Writer:
    """Nodes in a row, each with the name of its result, and their weights."""

    def __init__(self, name):
        self.nodes, self.weights, self.last = [], [], name

    def node(self, op, name, *parameters, **attributes):
        """Adds a node, whose first input is the result of the one before it."""
        names = ["%s.%s" % (name, kind) for kind, _ in zip(("weight", "bias"), parameters)]
        self.weights += [numpy_helper.from_array(np.ascontiguousarray(p, np.float32), n) for p, n in zip(parameters, names)]
        self.nodes.append(helper.make_node(op, [self.last] + names, [name], name=name, **attributes))
        self.last = name


def onnx_model(net):
    """The network as an ONNX model, with all normalizations in the weights of its convolutions."""
    w = Writer("features")
    layers = iter(net.layers)
    weight, bias = folded(next(layers), next(layers))
    weight = weight.reshape(KERNEL, sounds.FEATURES, WIDTH) / net.spread[:, None]
    bias = bias - np.einsum("kfo,f->o", weight, net.center)
    w.node("Conv", "conv0", weight.transpose(2, 0, 1)[:, None], bias, kernel_shape=[KERNEL, sounds.FEATURES],
           strides=[STRIDE, 1], pads=[0, 0, 0, 0])
    w.node("Relu", "relu0")
    for i in range(1, BLOCKS + 1):
        weight, bias = folded(next(layers), next(layers))
        w.node("Conv", "depthwise%d" % i, weight.T[:, None, :, None], bias, kernel_shape=[TAPS, 1], strides=[1, 1],
               pads=[TAPS // 2, 0, TAPS // 2, 0], group=WIDTH)
        w.node("Relu", "relu%da" % i)
        weight, bias = folded(next(layers), next(layers))
        w.node("Conv", "pointwise%d" % i, weight.T[:, :, None, None], bias, kernel_shape=[1, 1], strides=[1, 1],
               pads=[0, 0, 0, 0])
        w.node("Relu", "relu%db" % i)
    w.node("GlobalAveragePool", "mean")
    w.node("Flatten", "flatten", axis=1)
    weight, bias = net.layers[-1].parameters
    w.node("Gemm", "scores", weight.T, bias, transB=1)
    w.node("Softmax", "probabilities", axis=1)
    info, real = helper.make_tensor_value_info, TensorProto.FLOAT
    graph = helper.make_graph(w.nodes, "kws", [info("features", real, [1, 1, sounds.ROWS, sounds.FEATURES])],
                              [info("probabilities", real, [1, len(sounds.CLASSES)])], w.weights)
    model = helper.make_model(graph, producer_name="nnrt examples/kws/train.py", opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


def check_file(expected, features):
    """Ends the program unless the evaluator of examples/digits, in float64, gets the same probabilities from the file within
    1e-4: float32 differs by about 1e-5 after ten layers."""
    model = onnx.load(ONNX_PATH)
    onnx.checker.check_model(model, full_check=True)
    difference = float(np.abs(onnx_numpy.run(model, features) - expected).max())
    print("trained net against the evaluation of the file: largest difference %.2g" % difference)
    if not difference < 1e-4:
        raise SystemExit("train.py: the written file differs from the trained net")


def load(name):
    """An array that sounds.py wrote."""
    return np.load(os.path.join(sounds.DATA_DIR, name + ".npy"))


def validate(features, labels, epochs):
    """Trains without every sixth voice, and prints the accuracy on these."""
    aside = load("training-voices") % 6 == 5
    net = train(features[~aside], labels[~aside], epochs)
    print("training accuracy " + accuracy(net.predict(features[~aside]), labels[~aside]))
    probabilities = net.predict(features[aside])
    for c, name in enumerate(sounds.CLASSES):
        mine = labels[aside] == c
        print("%-8s %s" % (name, accuracy(probabilities[mine], labels[aside][mine])))
    print("validation accuracy " + accuracy(probabilities, labels[aside]))


def train_and_write(features, labels, epochs):
    """Trains on all voices, writes kws.onnx, checks it, prints training accuracy and size."""
    net = train(features, labels, epochs)
    onnx.save(onnx_model(net), ONNX_PATH)
    check_file(net.predict(features[::64]), features[::64])
    print("training accuracy " + accuracy(net.predict(features), labels))
    print("%s: %d bytes" % (os.path.basename(ONNX_PATH), os.path.getsize(ONNX_PATH)))


def main():
    """Reads the options and runs the chosen mode."""
    parser = argparse.ArgumentParser(description="Train the keyword spotter and write kws.onnx.")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="number of epochs (default %(default)s)")
    parser.add_argument("--validate", action="store_true", help="keep every sixth voice aside")
    options = parser.parse_args()
    run = validate if options.validate else train_and_write
    run(load("training"), load("training-labels"), options.epochs)


if __name__ == "__main__":
    main()
