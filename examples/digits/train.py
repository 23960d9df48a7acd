#!/usr/bin/env python3
"""Trains the digits network and writes digits.onnx next to this file.

    train.py               train on all but the held-back images, write and check digits.onnx
    train.py --validate    train on less, report the accuracy on every tenth training image; writes nothing
    train.py --evaluate    measure the written digits.onnx on the held-back images; trains nothing

Needs numpy, torch and onnx, and npm to fetch missing data. The number of epochs is fixed; no decision
depends on the held-back images.
"""
import argparse
import math
import os
import time

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional

import digits_data
import onnx_numpy

SEED = 20240229
EPOCHS = 60
BATCH = 64
THREADS = 2
PEAK_RATE = 4e-3
ONNX_PATH = os.path.join(digits_data.HERE, "digits.onnx")


class Net(nn.Module):
    """Three blocks of Conv 3x3, BatchNorm, ReLU, MaxPool 2x2, then two Gemm layers; forward returns logits."""

    def __init__(self):
        super().__init__()
        widths = (1, 12, 24, 32)
        self.convs = nn.ModuleList(nn.Conv2d(i, o, 3, padding=1, bias=False) for i, o in zip(widths, widths[1:]))
        self.norms = nn.ModuleList(nn.BatchNorm2d(o) for o in widths[1:])
        self.hidden = nn.Linear(32 * 3 * 3, 32)
        self.out = nn.Linear(32, 10)

    def forward(self, x):
        for conv, norm in zip(self.convs, self.norms):
            x = functional.max_pool2d(functional.relu(norm(conv(x))), 2)
        x = functional.relu(self.hidden(torch.flatten(x, 1)))
        return self.out(functional.dropout(x, 0.1, self.training))


def as_input(images):
    """uint8 [N,28,28] as the network's input: float32 [N,1,28,28], 0..1."""
    return torch.from_numpy(images.astype(np.float32) / np.float32(255))[:, None]


def augment(x):
    """Each image of x moved by its own small affine map: rotation up to 13 degrees, scale 0.87 to 1.15 per axis,
    shear up to 0.15, shift up to 2 pixels; bilinear, black outside."""
    n = x.shape[0]

    def uniform(low, high):
        return torch.empty(n).uniform_(low, high)

    angle, shear = uniform(-0.227, 0.227), uniform(-0.15, 0.15)
    sx, sy = torch.exp(uniform(-0.14, 0.14)), torch.exp(uniform(-0.14, 0.14))
    dx, dy = uniform(-2, 2) * (2 / digits_data.SIDE), uniform(-2, 2) * (2 / digits_data.SIDE)
    cos, sin = torch.cos(angle), torch.sin(angle)
    rows = (torch.stack((cos * sx, (cos * shear - sin) * sy, dx), 1),
            torch.stack((sin * sx, (sin * shear + cos) * sy, dy), 1))
    grid = functional.affine_grid(torch.stack(rows, 1), list(x.shape), align_corners=False)
    return functional.grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False)


def learning_rate(progress):
    """The rate at 0..1 of the training: a straight rise over the first tenth, then half a cosine down to 0."""
    if progress < 0.1:
        return PEAK_RATE * progress / 0.1
    return PEAK_RATE * 0.5 * (1 + math.cos(math.pi * (progress - 0.1) / 0.9))


def train(net, images, labels, epochs):
    """Trains net in place for a fixed number of epochs; prints one line per epoch."""
    optimizer = torch.optim.AdamW(net.parameters(), lr=PEAK_RATE, weight_decay=0.02)
    batches = len(images) // BATCH
    start = time.time()
    for epoch in range(epochs):
        net.train()
        order = torch.randperm(len(images))
        total = 0.0
        for b in range(batches):
            optimizer.param_groups[0]["lr"] = learning_rate((epoch + (b + 1) / batches) / epochs)
            chosen = order[b * BATCH:(b + 1) * BATCH]
            loss = functional.cross_entropy(net(augment(images[chosen])), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print("epoch %2d/%d  loss %.4f  %.0f s" % (epoch + 1, epochs, total / batches, time.time() - start),
              flush=True)


def predict(net, images):
    """Probabilities [N,10] in eval mode, float32 numpy."""
    net.eval()
    with torch.no_grad():
        return torch.cat([torch.softmax(net(part), 1) for part in images.split(500)]).numpy()


def accuracy(probabilities, labels):
    """How often the most probable class is the label, as text: "right of all, share"."""
    right = int((probabilities.argmax(1) == np.asarray(labels)).sum())
    return "%d of %d, %.4f" % (right, len(labels), right / len(labels))


def onnx_model(net):
    """The trained net as an ONNX model: one node per layer, batch normalization kept, weights as raw float32."""
    nodes, weights = [], []

    def weight(name, tensor):
        weights.append(numpy_helper.from_array(np.ascontiguousarray(tensor.detach().numpy(), np.float32), name))
        return name

    def node(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    x = "image"
    for i, (conv, norm) in enumerate(zip(net.convs, net.norms), 1):
        x = node("Conv", [x, weight("conv%d.weight" % i, conv.weight)], "conv%d" % i, kernel_shape=[3, 3],
                 pads=[1, 1, 1, 1], strides=[1, 1])
        x = node("BatchNormalization",
                 [x, weight("bn%d.scale" % i, norm.weight), weight("bn%d.bias" % i, norm.bias),
                  weight("bn%d.mean" % i, norm.running_mean), weight("bn%d.var" % i, norm.running_var)],
                 "bn%d" % i, epsilon=norm.eps)
        x = node("Relu", [x], "relu%d" % i)
        x = node("MaxPool", [x], "pool%d" % i, kernel_shape=[2, 2], strides=[2, 2])
    x = node("Flatten", [x], "flatten", axis=1)
    x = node("Gemm", [x, weight("fc1.weight", net.hidden.weight), weight("fc1.bias", net.hidden.bias)], "fc1",
             transB=1)
    x = node("Relu", [x], "relu4")
    x = node("Gemm", [x, weight("fc2.weight", net.out.weight), weight("fc2.bias", net.out.bias)], "fc2", transB=1)
    node("Softmax", [x], "probabilities", axis=1)
    graph = helper.make_graph(nodes, "digits",
                              [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 28, 28])],
                              [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, 10])], weights)
    model = helper.make_model(graph, producer_name="nnrt examples/digits/train.py",
                              opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


def net_from_onnx(model):
    """A torch net with the weights of the written file: what --evaluate measures."""
    w = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in model.graph.initializer}
    state = {}
    for i in range(3):
        state["convs.%d.weight" % i] = w["conv%d.weight" % (i + 1)]
        for ours, theirs in (("weight", "scale"), ("bias", "bias"), ("running_mean", "mean"), ("running_var", "var")):
            state["norms.%d.%s" % (i, ours)] = w["bn%d.%s" % (i + 1, theirs)]
        state["norms.%d.num_batches_tracked" % i] = torch.tensor(0)
    for ours, theirs in (("hidden", "fc1"), ("out", "fc2")):
        state[ours + ".weight"], state[ours + ".bias"] = w[theirs + ".weight"], w[theirs + ".bias"]
    net = Net()
    net.load_state_dict(state)
    return net


def check_file(expected, images):
    """Ends the program unless the written file is valid ONNX and the numpy evaluator, given images, gets the
    probabilities torch got, within 1e-5: float32 against float64 through five layers differs by about 1e-6."""
    model = onnx.load(ONNX_PATH)
    onnx.checker.check_model(model, full_check=True)
    difference = float(np.abs(onnx_numpy.run(model, images.numpy()) - expected).max())
    print("torch against the numpy evaluation of the file: largest difference %.2g" % difference)
    if not difference < 1e-5:
        raise SystemExit("train.py: the written file does not compute what torch computes")


def validate(images, labels, epochs):
    """Trains on nine tenths of the training images and prints the accuracy on the others."""
    aside = np.arange(len(images)) % 10 == 9
    net = Net()
    train(net, images[~aside], labels[~aside], epochs)
    print("validation accuracy " + accuracy(predict(net, images[aside]), labels[aside]))


def train_and_write(images, labels, epochs):
    """Trains on all training images, writes digits.onnx, checks it, prints training accuracy and sizes."""
    net = Net()
    train(net, images, labels, epochs)
    probabilities = predict(net, images)
    onnx.save(onnx_model(net), ONNX_PATH)
    check_file(probabilities[::16], images[::16])
    print("training accuracy " + accuracy(probabilities, labels))
    trained = sum(p.numel() for p in net.parameters())
    stored = trained + sum(n.running_mean.numel() * 2 for n in net.norms)
    print("parameters: %d trained, %d stored" % (trained, stored))
    print("%s: %d bytes" % (os.path.basename(ONNX_PATH), os.path.getsize(ONNX_PATH)))


def evaluate(held_images, held_labels):
    """Prints the accuracy of the written file on the held-back images, by torch, after checking the file."""
    net = net_from_onnx(onnx.load(ONNX_PATH))
    probabilities = predict(net, held_images)
    check_file(probabilities, held_images)
    guesses = probabilities.argmax(1)
    for digit in range(10):
        mine = held_labels == digit
        print("digit %d: %d of %d" % (digit, int((guesses[mine] == digit).sum()), int(mine.sum())))
    print("held-back accuracy " + accuracy(probabilities, held_labels))


def main():
    """Reads the options, fixes seed and thread count, runs the chosen mode; only --evaluate keeps held-back images."""
    parser = argparse.ArgumentParser(description="Train the digits network and write digits.onnx.")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="number of epochs (default %(default)s)")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--validate", action="store_true", help="hold a tenth of the training images aside")
    mode.add_argument("--evaluate", action="store_true", help="measure digits.onnx on the held-back images")
    options = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True)
    (images, labels), (held_images, held_labels) = digits_data.load()
    if options.evaluate:
        evaluate(as_input(held_images), held_labels)
        return
    del held_images, held_labels
    images, labels = as_input(images), torch.from_numpy(labels.astype(np.int64))
    run = validate if options.validate else train_and_write
    run(images, labels, options.epochs)


if __name__ == "__main__":
    main()
