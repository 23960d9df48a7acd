"""A small evaluator in numpy only: the second opinion that train.py here and in examples/kws checks its file against.

It follows the ONNX operator definitions for the eight operators that digits.onnx and kws.onnx use, and for no other.
"""
import numpy as np
from onnx import helper, numpy_helper


def windows(x, kernel, strides):
    """All kernel-sized windows of x [N,C,H,W] as a view [N,C,OH,OW,KH,KW]; incomplete ones at the end are dropped."""
    view = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(2, 3))
    return view[:, :, ::strides[0], ::strides[1]]


def conv(x, w, bias, attributes):
    """Conv, dilation 1: w [M,C/group,KH,KW], bias [M] or 0, pads [top, left, bottom, right]."""
    top, left, bottom, right = attributes["pads"]
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    view = windows(x, attributes["kernel_shape"], attributes["strides"])
    n, c, oh, ow, kh, kw = view.shape
    group = attributes.get("group", 1)
    columns = view.reshape(n, group, c // group, oh, ow, kh, kw).transpose(1, 0, 3, 4, 2, 5, 6)
    y = columns.reshape(group, n * oh * ow, -1) @ w.reshape(group, w.shape[0] // group, -1).transpose(0, 2, 1)
    return (y.transpose(1, 0, 2).reshape(n, oh, ow, -1) + bias).transpose(0, 3, 1, 2)


def batch_norm(x, scale, bias, mean, variance, epsilon):
    """(x - mean) / sqrt(variance + epsilon) * scale + bias, per channel of x [N,C,H,W]."""
    factor = scale / np.sqrt(variance + epsilon)
    return x * factor[:, None, None] + (bias - mean * factor)[:, None, None]


def softmax(x):
    """Softmax over the last axis of x [N,K]."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def run_node(op, x, attributes):
    """One node's output; x is the list of its inputs."""
    if op == "Conv":
        return conv(x[0], x[1], x[2] if len(x) > 2 else 0, attributes)
    if op == "BatchNormalization":
        return batch_norm(*x, attributes["epsilon"])
    if op == "Relu":
        return np.maximum(x[0], 0)
    if op == "MaxPool":
        return windows(x[0], attributes["kernel_shape"], attributes["strides"]).max(axis=(4, 5))
    if op == "GlobalAveragePool":
        return x[0].mean(axis=(2, 3), keepdims=True)
    if op == "Flatten":
        return x[0].reshape(x[0].shape[0], -1)
    if op == "Gemm":
        return x[0] @ x[1].T + x[2]
    if op == "Softmax":
        return softmax(x[0])
    raise ValueError("operator %s is not one this file uses" % op)


def values(model, images):
    """{name: array} of all values for images [N,1,28,28], computed in float64; any N, although the file declares 1."""
    found = {t.name: numpy_helper.to_array(t).astype(np.float64) for t in model.graph.initializer}
    found[model.graph.input[0].name] = images.astype(np.float64)
    for node in model.graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        found[node.output[0]] = run_node(node.op_type, [found[name] for name in node.input], attributes)
    return found


def run(model, images):
    """The model's output for images [N,1,28,28]."""
    return values(model, images)[model.graph.output[0].name]
