#!/usr/bin/env python3
"""Quantizes digits.onnx to 8 bits and writes digits_int8.onnx next to this file.

    quantize.py              calibrate on the training images, write and check digits_int8.onnx
    quantize.py --evaluate   accuracy of the written digits_int8.onnx on the held-back images; writes nothing

Folds batch normalization into the convolution before it. Weights are int8 with a scale for each output channel, biases
int32, activations int8 quantized per tensor by their range over the training images, or 0 to 1 for the image and the
probabilities. The file is in ONNX's QDQ form, and its input and output are int8: a pixel is p - 128, a probability
(q + 128) / 256. Nothing is trained; held-back images are not read. Needs numpy and onnx, and npm to fetch missing data.
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import digits_data
import onnx_numpy

FLOAT_PATH = os.path.join(digits_data.HERE, "digits.onnx")
INT8_PATH = os.path.join(digits_data.HERE, "digits_int8.onnx")
BATCH = 500


def pixels(images):
    """uint8 [N,28,28] as the float network's input, float64 [N,1,28,28]."""
    return (images.astype(np.float32) / np.float32(255))[:, None].astype(np.float64)


def stored(images):
    """uint8 [N,28,28] as the quantized network's input, int8 [N,1,28,28]."""
    return (images.astype(np.int16) - 128).astype(np.int8)[:, None]


def folded(model, weights, layer):
    """Weight and bias of convolution `layer` with the folded batch normalization, float64."""
    node = next(n for n in model.graph.node if n.name == "bn%d" % layer)
    epsilon = next(a.f for a in node.attribute if a.name == "epsilon")
    w, scale, bias, mean, variance = (numpy_helper.to_array(weights[name % layer]).astype(np.float64) for name in
                                      ("conv%d.weight", "bn%d.scale", "bn%d.bias", "bn%d.mean", "bn%d.var"))
    factor = scale / np.sqrt(variance + epsilon)
    return w * factor[:, None, None, None], bias - mean * factor


def ranges(model, images):
    """{tensor name: (minimum, maximum)} over the images; the range includes 0."""
    found = {}
    for start in range(0, len(images), BATCH):
        for name, value in onnx_numpy.values(model, pixels(images[start:start + BATCH])).items():
            least, greatest = found.get(name, (0.0, 0.0))
            found[name] = (min(least, float(value.min())), max(greatest, float(value.max())))
    return found


class Writer:
    """Nodes and constants of the model in QDQ form; scale[name] and zero[name] of each quantized tensor."""

    def __init__(self):
        self.nodes, self.weights, self.scale = [], [], {}

    def constant(self, name, value):
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def params(self, name, least, greatest):
        """Scale and zero point of int8 for this range."""
        scale = np.float32((greatest - least) / 255)
        zero = np.int8(np.clip(np.round(-128 - least / float(scale)), -128, 127))
        self.scale[name] = float(scale)
        return [self.constant(name + ".scale", scale), self.constant(name + ".zero", zero)]

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def real(self, quantised, params, name, **attributes):
        return self.node("DequantizeLinear", [quantised] + params, name, **attributes)

    def between(self, value, params, name):
        """Adds QuantizeLinear and DequantizeLinear; returns the name of the dequantized tensor."""
        return self.real(self.node("QuantizeLinear", [value] + params, name), params, name + ".real")

    def weight(self, name, w, b, x):
        """Quantizes weights per channel of axis 0, and the bias with scale x * weight; returns the dequantized names."""
        scale = (np.abs(w).reshape(len(w), -1).max(axis=1) / 127).astype(np.float32)
        shape = (-1,) + (1,) * (w.ndim - 1)
        q = np.clip(np.round(w / scale.reshape(shape).astype(np.float64)), -127, 127).astype(np.int8)
        product = (np.float32(self.scale[x]) * scale).astype(np.float32)
        bias = np.round(b / product.astype(np.float64)).astype(np.int32)
        params = [self.constant(name + ".weight.scale", scale), self.constant(name + ".weight.zero", np.zeros(len(w), np.int8))]
        return [self.real(self.constant(name + ".weight", q), params, name + ".weight.real", axis=0),
                self.real(self.constant(name + ".bias", bias), [self.constant(name + ".bias.scale", product)],
                          name + ".bias.real", axis=0)]


def quantised(model, found):
    """The model in QDQ form, from the float model and the ranges of its tensors."""
    weights = {t.name: t for t in model.graph.initializer}
    to = Writer()
    params = to.params("image", 0.0, 1.0)
    x, scaled = to.real("image", params, "image.real"), "image"
    for i in (1, 2, 3):
        w, b = folded(model, weights, i)
        params = to.params("relu%d" % i, *found["relu%d" % i])
        y = to.node("Conv", [x] + to.weight("conv%d" % i, w, b, scaled), "conv%d.real" % i, kernel_shape=[3, 3],
                    pads=[1, 1, 1, 1], strides=[1, 1])
        x = to.between(to.node("Relu", [y], "relu%d.real.before" % i), params, "relu%d" % i)
        x = to.node("MaxPool", [x], "pool%d.real.before" % i, kernel_shape=[2, 2], strides=[2, 2])
        x, scaled = to.between(x, params, "pool%d" % i), "relu%d" % i
    x = to.between(to.node("Flatten", [x], "flatten.real.before", axis=1), params, "flatten")
    for name, result in (("fc1", "relu4"), ("fc2", "fc2")):
        w, b = (numpy_helper.to_array(weights[name + end]).astype(np.float64) for end in (".weight", ".bias"))
        params = to.params(result, *found[result])
        y = to.node("Gemm", [x] + to.weight(name, w, b, scaled), name + ".real.before", transB=1)
        if result != name:
            y = to.node("Relu", [y], result + ".real.before")
        x, scaled = to.between(y, params, result), result
    y = to.node("Softmax", [x], "probabilities.real", axis=1)
    to.node("QuantizeLinear", [y, to.constant("probabilities.scale", np.float32(1 / 256)),
                               to.constant("probabilities.zero", np.int8(-128))], "probabilities")
    graph = helper.make_graph(to.nodes, "digits_int8",
                              [helper.make_tensor_value_info("image", TensorProto.INT8, [1, 1, 28, 28])],
                              [helper.make_tensor_value_info("probabilities", TensorProto.INT8, [1, 10])], to.weights)
    made = helper.make_model(graph, producer_name="nnrt examples/digits/quantize.py",
                             opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    return made


def predict(model, images):
    """int8 [N,10] by the numpy evaluation."""
    return np.concatenate([onnx_numpy.run(model, stored(images[start:start + BATCH]))
                           for start in range(0, len(images), BATCH)])


def accuracy(scores, labels):
    """Accuracy: how often the label has the largest score (the first one of equal scores)."""
    right = int((scores.argmax(1) == labels).sum())
    return "%d of %d, %.4f" % (right, len(labels), right / len(labels))


def main():
    """Writes and checks the file, or measures it; only --evaluate reads held-back images."""
    parser = argparse.ArgumentParser(description="Quantise digits.onnx to 8 bits and write digits_int8.onnx.")
    parser.add_argument("--evaluate", action="store_true", help="measure digits_int8.onnx on the held-back images")
    options = parser.parse_args()
    (images, labels), (held_images, held_labels) = digits_data.load()
    if options.evaluate:
        print("held-back accuracy " + accuracy(predict(onnx.load(INT8_PATH), held_images), held_labels))
        return
    del held_images, held_labels
    model = onnx.load(FLOAT_PATH)
    onnx.save(quantised(model, ranges(model, images)), INT8_PATH)
    onnx.checker.check_model(onnx.load(INT8_PATH), full_check=True)
    print("training accuracy " + accuracy(predict(onnx.load(INT8_PATH), images), labels))
    print("%s: %d bytes" % (os.path.basename(INT8_PATH), os.path.getsize(INT8_PATH)))


if __name__ == "__main__":
    main()
