#!/usr/bin/env python3
"""Writes the networks that `make models` runs through nnrt and ONNX Runtime: commonly deployed ones.

    python3 make_models.py OUTDIR [NAME ...] [--vad FOLDER]      (no NAME: all; --list: names only)

Networks for images, sounds and sequences as exporters write them, with batch normalization folded into convolutions; the same
quantized (NAME_qdq); their typical layers, alone; small networks of each kind, from make_networks.py. Weights are random. With
--vad also the speech detectors in FOLDER (examples/vad/fetch.sh puts them there), which are read in place. OUTDIR/networks.json
has the rest for compare.py, see make_networks.py.
"""
import json
import os
import sys

import make_networks
import numpy as np
from make_networks import NETWORKS, Net, attention, f32, i64
from onnx import TensorProto

MODELS = ["unet", "transformer", "detector_nms", "gru_text", "volume", "audio_stft"]  # models of make_networks.py


class Layers(Net):
    """A network of layers, each an operation and its activation (None, Relu or Relu6). Weights are such that a layer's sums
    have a variance of about 1, which fits eight bits. Only the last layer has rows that sum to zero (Net.rows): in many layers
    they would amplify every rounding error."""

    def __init__(self, name, **options):
        super().__init__(name, **options)
        self.square = {}  # by tensor: the mean of its elements' squares, about

    def start(self, dims):
        x = self.input("input", dims)
        self.square[x] = 1 / 6 if len(dims) == 4 else 1 / 3  # as compare.py draws it
        return x

    def rectified(self, y, act, square):
        if act == "Relu6":
            y = self.op("Clip", y, f32(0), f32(6))
        elif act:
            y = self.op("Relu", y)
        self.square[y] = square / 2 if act else square
        return y

    def finish(self, y, act, square):
        return self.rectified(y, act, square)

    def parameters(self, _, weights):
        """Weights and bias of a layer that takes this tensor, as inputs of its node."""
        return [weights, self.vector(weights.shape[0])]

    def layer(self, kind, x, weights, act, gain, **attributes):
        weights *= np.float32(gain / np.sqrt(2 * self.square[x]))
        return self.finish(self.op(kind, x, *self.parameters(x, weights), **attributes), act, gain * gain)

    def convolve(self, x, cin, cout, kernel, stride=1, pad=None, group=1, act="Relu", gain=1):
        """A convolution; pad None: as much as TensorFlow calls SAME."""
        kernel = [kernel, kernel] if isinstance(kernel, int) else list(kernel)
        around = {"auto_pad": "SAME_UPPER"} if pad is None else {"pads": [pad] * 4}
        inner = cin // group
        weights = self.weights((cout, inner, *kernel), inner * kernel[0] * kernel[1])
        return self.layer("Conv", x, weights, act, gain, kernel_shape=kernel, group=group, strides=[stride, stride],
                          **around)

    def connect(self, x, cin, cout, act=None, gain=1, last=False):
        weights = self.rows((cout, cin)) if last else self.weights((cout, cin), cin)
        return self.layer("Gemm", x, weights, act, gain, transB=1)

    def join(self, x, y, act=None, positive=False):
        """positive: y has nothing below zero, so that an activation takes little away."""
        square = self.square[x] + self.square[y]
        return self.finish(self.op("Add", x, y), act, 2 * square if positive else square)

    def same_steps(self, y, x):
        """y, which is made of elements of x."""
        self.square[y] = self.square[x]
        return y

    def largest(self, x, kernel, stride, pad=0):
        return self.same_steps(self.op("MaxPool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4), x)

    def flat(self, x):
        return self.same_steps(self.op("Flatten", x), x)

    def averaged(self, y):
        """Means of rectified elements. The last layer depends on their differences."""
        self.square[y] = 0.04
        return y

    def mean(self, x):
        return self.flat(self.averaged(self.op("GlobalAveragePool", x)))


class Quantised(Layers):
    """The same in 8 bits as converters write it: DequantizeLinear before and QuantizeLinear after every layer. Tensors are
    uint8, weights int8 with a step for each output channel, biases int32 in the steps that their products have."""

    def __init__(self, name, **options):
        super().__init__(name, **options)
        self.steps = {}  # by tensor: its step and zero point

    def rounded(self, x, step, zero):
        parameters = [self.constant(f32(step)), self.constant(np.array(zero, np.uint8))]
        y = self.op("DequantizeLinear", self.op("QuantizeLinear", x, *parameters), *parameters)
        self.steps[y], self.square[y] = (step, zero), self.square.get(x, 1)
        return y

    def start(self, dims):
        return self.rounded(super().start(dims), 2 / 255, 128)

    def finish(self, y, act, square):
        """After an activation no element is negative; otherwise both signs are equally likely."""
        return self.rounded(self.rectified(y, act, square), *((6 / 255, 0) if act else (12 / 255, 128)))

    def same_steps(self, y, x):
        return self.rounded(super().same_steps(y, x), *self.steps[x])

    def averaged(self, y):
        return self.rounded(super().averaged(y), 2 / 255, 0)

    def parameters(self, x, weights):
        flat = np.abs(weights.reshape(len(weights), -1))
        step = (np.maximum(flat.max(axis=1), 1e-6) / 127).astype(np.float32)
        whole = np.rint(weights / step.reshape([-1] + [1] * (weights.ndim - 1))).astype(np.int8)
        product = (step * np.float32(self.steps[x][0])).astype(np.float32)
        bias = np.rint(self.vector(len(weights)) / product).astype(np.int32)
        return [self.op("DequantizeLinear", whole, step, np.zeros(len(step), np.int8), axis=0),
                self.op("DequantizeLinear", bias, product, np.zeros(len(step), np.int32), axis=0)]


def model(name, function, *arguments, quantised=None, net=Layers, **options):
    """Registers a network; quantized: also NAME_qdq, with its two bounds (see INTEGERS below)."""
    def build(n):
        function(n, *arguments)
    NETWORKS[name] = build, dict(options, net=net)
    MODELS.append(name)
    if quantised:
        integers, floats = quantised
        NETWORKS[name + "_qdq"] = build, dict(options, net=Quantised, integers=integers, tolerance=floats)
        MODELS.append(name + "_qdq")


# Networks.

def mobilenet_v2(n):
    x, cin = n.convolve(n.start([1, 3, 224, 224]), 3, 32, 3, 2, 1, act="Relu6"), 32
    for widen, cout, repeat, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                       (6, 160, 3, 2), (6, 320, 1, 1)):
        for stride in [first] + [1] * (repeat - 1):
            wide = cin * widen
            y = x if widen == 1 else n.convolve(x, cin, wide, 1, pad=0, act="Relu6")
            y = n.convolve(y, wide, wide, 3, stride, 1, group=wide, act="Relu6")
            joined = stride == 1 and cin == cout
            y = n.convolve(y, wide, cout, 1, pad=0, act=None, gain=0.3 if joined else 1)
            x = n.join(x, y) if joined else y
            cin = cout
    x = n.convolve(x, 320, 1280, 1, pad=0, act="Relu6")
    n.classify(n.connect(n.mean(x), 1280, 1000, last=True))


def resnet(n, blocks, bottleneck):
    """Residual networks for 224 x 224; a bottleneck has its stride at the convolution of 3 x 3."""
    x, cin = n.largest(n.convolve(n.start([1, 3, 224, 224]), 3, 64, 7, 2, 3), 3, 2, 1), 64
    for stage, repeat in enumerate(blocks):
        inner = 64 << stage
        cout = 4 * inner if bottleneck else inner
        for block in range(repeat):
            stride = 2 if stage > 0 and block == 0 else 1
            if bottleneck:
                y = n.convolve(n.convolve(x, cin, inner, 1, pad=0), inner, inner, 3, stride, 1)
                y = n.convolve(y, inner, cout, 1, pad=0, act=None, gain=0.3)
            else:
                y = n.convolve(n.convolve(x, cin, inner, 3, stride, 1), inner, cout, 3, 1, 1, act=None, gain=0.3)
            straight = stride == 1 and cin == cout
            if not straight:
                x = n.convolve(x, cin, cout, 1, stride, 0, act=None)
            x, cin = n.join(y, x, act="Relu", positive=straight), cout
    n.classify(n.connect(n.mean(x), cin, 1000, last=True, gain=0.4))


def dscnn_kws(n):
    """Words in sound: 49 frames of 10 coefficients."""
    x = n.convolve(n.start([1, 1, 49, 10]), 1, 64, (10, 4), 2)
    for _ in range(4):
        x = n.convolve(n.convolve(x, 64, 64, 3, group=64), 64, 64, 1)
    n.classify(n.connect(n.mean(x), 64, 12, last=True))


def resnet8_cifar(n):
    x, cin = n.convolve(n.start([1, 3, 32, 32]), 3, 16, 3), 16
    for cout, stride in ((16, 1), (32, 2), (64, 2)):
        y = n.convolve(n.convolve(x, cin, cout, 3, stride), cout, cout, 3, act=None, gain=0.3)
        straight = stride == 1
        x = n.join(y, x if straight else n.convolve(x, cin, cout, 1, stride, act=None), act="Relu", positive=straight)
        cin = cout
    n.classify(n.connect(n.mean(x), 64, 10, last=True))


def mobilenet_v1_025_vww(n):
    """Is somebody in the picture? A quarter of MobileNet's channels."""
    x, cin = n.convolve(n.start([1, 3, 96, 96]), 3, 8, 3, 2, act="Relu6"), 8
    for cout, stride in [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2)] + [(128, 1)] * 5 + [(256, 2), (256, 1)]:
        x = n.convolve(n.convolve(x, cin, cin, 3, stride, group=cin, act="Relu6"), cin, cout, 1, act="Relu6")
        cin = cout
    n.classify(n.connect(n.mean(x), 256, 2, last=True, gain=2))


def fc_autoencoder(n):
    x, cin = n.start([1, 640]), 640
    for cout in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        x, cin = n.connect(x, cin, cout, act="Relu"), cout
    n.output(n.connect(x, 128, 640))


def lenet(n):
    x = n.largest(n.convolve(n.start([1, 1, 28, 28]), 1, 6, 5, pad=2), 2, 2)
    x = n.flat(n.largest(n.convolve(x, 6, 16, 5, pad=0), 2, 2))
    n.classify(n.connect(n.connect(n.connect(x, 400, 120, act="Relu"), 120, 84, act="Relu"), 84, 10, last=True))


def encoder(n, layers, width, heads, inner, length):
    """A transformer that normalizes after its sums, with the exact Gelu."""
    def normal(x):
        return n.op("LayerNormalization", x, np.ones(width, np.float32), np.zeros(width, np.float32), axis=-1, epsilon=1e-5)

    def gelu(x):
        half = n.op("Add", n.op("Erf", n.op("Div", x, f32(np.sqrt(2)))), f32(1))
        return n.op("Mul", n.op("Mul", x, half), f32(0.5))

    x = n.start([1, length, width])
    for _ in range(layers):
        x = normal(n.op("Add", x, attention(n, x, length, width, heads)))
        x = normal(n.op("Add", x, n.linear(gelu(n.linear(x, width, inner)), inner, width)))
    n.output(x)


def lstm(n, steps, width, hidden):
    x = n.start([steps, 1, width])
    n.output(n.op("LSTM", x, n.weights((1, 4 * hidden, width), 6 * width), n.weights((1, 4 * hidden, hidden), 6 * hidden),
                  n.vector((1, 8 * hidden)), hidden_size=hidden))


# Decoders, which give one token after the other.

def decode(n, token, place, past, present):
    """A decoder's layers for one token: past(layer, kind) has the state of earlier tokens, present(layer, kind, x) adds the
    token's x, [1, heads, 1, depth], and gives all of them with the mask that they need, or None. Returns logits."""
    width, heads, inner, words = 16, 2, 32, 20
    depth = width // heads
    x = n.op("Gather", n.vector((words, width), -1, 1), token, axis=0)
    x = n.op("Add", x, n.op("Gather", n.vector((32, width), -1, 1), place, axis=0))
    for layer in range(2):
        def split(x):
            return n.op("Transpose", n.op("Reshape", n.linear(x, width, width), i64(1, 1, heads, depth)), perm=[0, 2, 1, 3])

        y = n.op("LayerNormalization", x, n.vector(width, 0.5, 1.5), n.vector(width), axis=-1, epsilon=1e-5)
        query = split(y)
        keys, mask = present(layer, "key", past(layer, "key"), split(y))
        values, _ = present(layer, "value", past(layer, "value"), split(y))
        scores = n.op("Div", n.op("MatMul", query, n.op("Transpose", keys, perm=[0, 1, 3, 2])), f32(np.sqrt(depth)))
        if mask is not None:
            scores = n.op("Add", scores, mask)
        y = n.op("MatMul", n.op("Softmax", scores, axis=-1), values)
        y = n.linear(n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1, 3]), i64(1, 1, width)), width, width)
        x = n.op("Add", x, y)
        x = n.op("Add", x, n.linear(n.op("Relu", n.linear(x, width, inner)), inner, width))
    return n.linear(x, width, words)


def decoder_cache(n):
    """One token after `past` others, whose keys and values are inputs and, with its own, outputs."""
    token, place = n.input("token", [1, 1], 0, 20, TensorProto.INT64), n.input("place", [1, 1], 0, 32, TensorProto.INT64)
    caches = []

    def past(layer, kind):
        return n.input("past_%s_%d" % (kind, layer), [1, 2, "past", 8])

    def present(layer, kind, before, x):
        caches.append(n.op("Concat", before, x, axis=2))
        return caches[-1], None

    logits = decode(n, token, place, past, present)
    n.output(logits, n.op("Softmax", logits, axis=-1), *caches)


def decoder_loop(n):
    """Eight tokens one after the other, each the likeliest after those before. Keys and values are in loop-carried tensors,
    with room for all."""
    steps, shape = 8, [1, 2, 8, 8]
    first = n.input("token", [1, 1], 0, 20, TensorProto.INT64)
    names = [(layer, kind) for layer in range(2) for kind in ("key", "value")]

    def fill(trip, _, token, *caches):
        place = n.op("Reshape", trip, i64(1, 1))
        here = n.op("Equal", np.arange(steps, dtype=np.int64), trip)
        later = n.op("Greater", np.arange(steps, dtype=np.int64), trip)
        mask = n.op("Where", later, f32(-1e4), f32(0))
        kept = []

        def past(layer, kind):
            return caches[names.index((layer, kind))]

        def present(layer, kind, before, x):
            kept.append(n.op("Where", n.op("Reshape", here, i64(1, 1, steps, 1)), x, before))
            return kept[-1], mask

        logits = decode(n, token, place, past, present)
        best = n.op("ArgMax", logits, axis=-1, keepdims=0)
        float32, go = TensorProto.FLOAT, n.op("Identity", np.array(True))
        return [(go, [], TensorProto.BOOL), (best, [1, 1], TensorProto.INT64), *[(c, shape, float32) for c in kept],
                (n.op("Reshape", logits, i64(20)), [20], float32), (n.op("Reshape", best, i64(1)), [1], TensorProto.INT64)]

    body = n.graph([("trip", [], TensorProto.INT64), ("going", [], TensorProto.BOOL), ("last", [1, 1], TensorProto.INT64),
                    *[("%s_%d" % (kind, layer), shape, TensorProto.FLOAT) for layer, kind in names]], fill)
    zero = np.zeros(shape, np.float32)
    _, *caches, logits, tokens = n.op("Loop", np.array(steps, np.int64), np.array(True), first, zero, zero, zero, zero,
                                      outputs=7, body=body)
    n.output(logits, *caches)
    n.output(tokens, element=TensorProto.INT64)


# Layers.

def layers_qdq(n):
    """Each kind of a quantized layer, on the input."""
    x = n.start([1, 16, 28, 28])
    y = n.rounded(x, 3 / 255, 100)
    pooled = n.op("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2])
    n.output(n.convolve(x, 16, 12, 3), n.convolve(x, 16, 24, 1, pad=0, act="Relu6"), n.convolve(x, 16, 8, 5, 2, act=None),
             n.convolve(x, 16, 16, 3, group=16), n.join(x, y), n.join(x, y, act="Relu"), n.largest(x, 3, 2, 1), n.mean(x),
             n.rounded(pooled, 2 / 255, 128), n.connect(n.flat(x), 16 * 28 * 28, 10), n.rounded(n.op("Mul", x, y), 1 / 255, 120),
             n.rounded(n.op("Concat", x, y, axis=1), 3 / 255, 120), n.rounded(n.op("Sigmoid", y), 1 / 256, 0))


def one_convolution(n, extent, cin, cout, kernel, stride=1, pad=0, group=1):
    n.output(n.convolve(n.start([1, cin, extent, extent]), cin, cout, kernel, stride, pad, group, act=None))


def one_product(n, rows, inner, columns):
    n.output(n.op("MatMul", n.start([rows, inner]), n.weights((inner, columns), inner)))


# Bounds of quantized networks, relative like all others: computed in integers, and with --no-quantize.
#
# ONNX Runtime runs such a file as it stands: it widens to float32, computes, divides by the step and rounds to the nearest.
# nnrt computes the nodes between DequantizeLinear and QuantizeLinear in integers, with the bits of TensorFlow Lite Micro: the
# exact sum times the ratio of the steps, which is a multiplier of 31 bits and a shift, each of which rounds. Where the real
# value lies less than 2^-(shift + 1) below the middle between two integers, the first rounding brings it onto the middle and
# the second one up: with a ratio of about 2^-8, of 10,000 elements some 5 are one unit higher than in ONNX Runtime. layers_qdq
# has a layer of each kind, where a unit is at most 0.016 of the largest element.
# Each later layer rounds these differences again, and an element near a midpoint rounds to the other side: through many layers
# of random weights a quarter to two thirds of a tensor's elements come to differ. In the last tensor, whose unit is 12/255,
# they differ by one or two units, in mobilenet_v2 by up to four.
# With --no-quantize both programs round at the same places, and only the order of their sums differs. In the small networks
# this changes no rounding; in mobilenet_v2 and resnet18 it does, with the same effect: up to three units.

def describe():
    model("decoder_cache", decoder_cache, net=Net, cases=[{"past": 6}, {"past": 1}, {"past": 17}])
    model("decoder_loop", decoder_loop, net=Net)
    model("mobilenet_v2", mobilenet_v2, quantised=(0.09, 0.09))
    model("resnet18", resnet, (2, 2, 2, 2), False, quantised=(0.1, 0.1))
    model("resnet50", resnet, (3, 4, 6, 3), True)
    model("dscnn_kws", dscnn_kws, quantised=(0.06, 0.03))
    model("resnet8_cifar", resnet8_cifar, quantised=(0.05, 0.03))
    model("mobilenet_v1_025_vww", mobilenet_v1_025_vww, quantised=(0.1, 0.05))
    model("fc_autoencoder", fc_autoencoder, quantised=(0.1, 0.05))
    model("layers_qdq", layers_qdq, net=Quantised, integers=0.016, tolerance=0.016)
    model("lenet", lenet)
    model("transformer_4x256_s128", encoder, 4, 256, 4, 1024, 128)
    model("lstm128_t100", lstm, 100, 128, 128)
    # height and width, input and output channels, kernel, stride, padding, groups
    model("conv_3x3s1_64_64_56", one_convolution, 56, 64, 64, 3, 1, 1)
    model("conv_3x3s1_256_256_14", one_convolution, 14, 256, 256, 3, 1, 1)
    model("conv_3x3s2_3_32_224", one_convolution, 224, 3, 32, 3, 2, 1)
    model("conv_1x1_256_64_56", one_convolution, 56, 256, 64, 1)
    model("conv_1x1_96_576_14", one_convolution, 14, 96, 576, 1)
    model("dw_3x3s1_144_56", one_convolution, 56, 144, 144, 3, 1, 1, 144)
    model("dw_3x3s2_96_112", one_convolution, 112, 96, 96, 3, 2, 1, 96)
    model("conv_7x7s2_3_64_224", one_convolution, 224, 3, 64, 7, 2, 3)
    for extents in ((64,) * 3, (128,) * 3, (256,) * 3, (512,) * 3, (1024,) * 3, (1, 1024, 1024), (49, 512, 512)):
        name = "%d" % extents[0] if len(set(extents)) == 1 else "%dx%dx%d" % extents
        model("matmul_" + name, one_product, *extents)


describe()


def speech_detectors(folder, into):
    """Entries for the networks of examples/vad: one run on noise, from a state that is not zero. Each file has two
    networks; the input sr, which nnrt makes a constant, chooses, so both are run."""
    entries = {}
    for name, pieces, states in (("v5", 576, {"state": [2, 1, 128]}), ("v6", 576, {"state": [2, 1, 128]}),
                                 ("legacy", 1536, {"h": [2, 1, 64], "c": [2, 1, 64]})):
        file = os.path.join(folder, "silero_vad_%s.onnx" % name)
        for suffix, rate in (("", 16000), ("_8k", 8000)):
            entries["vad_" + name + suffix] = {
                "file": os.path.relpath(file, into), "ranges": {"sr": [rate, rate + 1]},
                "shapes": dict(states, input=[1, pieces * rate // 16000]), "cases": [{}],
                "tolerance": make_networks.TOLERANCE, "arena_limit": None, "constant": True}
    return entries


def main(arguments):
    vad = None
    if arguments == ["--list"]:
        print("\n".join(MODELS))
        return 0
    if "--vad" in arguments[:-1]:
        at = arguments.index("--vad")
        vad = arguments[at + 1]
        del arguments[at:at + 2]
    unknown = [a for a in arguments[1:] if a not in MODELS]
    if not arguments or arguments[0].startswith("-") or unknown:
        print(__doc__ if not unknown else "no such network: " + ", ".join(unknown), file=sys.stderr)
        return 2
    os.makedirs(arguments[0], exist_ok=True)
    entries = {name: make_networks.write(name, arguments[0]) for name in arguments[1:] or MODELS}
    if vad is not None:
        entries.update(speech_detectors(vad, arguments[0]))
    with open(os.path.join(arguments[0], "networks.json"), "w") as f:
        json.dump(entries, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
