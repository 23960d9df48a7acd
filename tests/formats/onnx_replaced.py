#!/usr/bin/env python3
"""Writes tests/formats/onnx_replaced.txt: outputs of tests of the onnx package whose expected values a later release replaced, by definitions
in numpy of the later text (the importer computes these). tests/formats/onnx_nodes.c compares with them in place of the package's outputs.

    onnx_replaced.py FOLDER       FOLDER has the node tests, as tests/kit/onnx_data.sh prints it

A line: test, output, FNV-1a of the bytes of all inputs (other inputs: the line does not apply), bytes of the output."""
import os
import sys

import numpy as np
from onnx import TensorProto, load, numpy_helper

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'onnx_replaced.txt')


def fnv(arrays):
    value = 0x811c9dc5
    for byte in b''.join(a.tobytes() for a in arrays):
        value = (value ^ byte) * 0x01000193 & 0xffffffff
    return value


def attention(inputs, kv_num_heads=0, q_num_heads=0, is_causal=0, qk_matmul_output_mode=0, softcap=0.0):
    """ONNX 1.23: softcap before the mask; qk_matmul_output is the product (0), then capped (1), masked (2), or the softmax (3)."""
    def heads(x, n):
        return x.reshape(x.shape[0], x.shape[1], n, -1).transpose(0, 2, 1, 3) if x.ndim == 3 else x

    q, k, v, mask = (x.astype(np.float64) for x in inputs[:4])
    three = q.ndim == 3
    q, k, v = heads(q, q_num_heads), heads(k, kv_num_heads), heads(v, kv_num_heads)
    past = 0
    if len(inputs) > 4:
        past = inputs[4].shape[2]
        k, v = np.concatenate([inputs[4], k], 2), np.concatenate([inputs[5], v], 2)
    stages = [q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[3])]
    stages.append(softcap * np.tanh(stages[0] / softcap) if softcap else stages[0])
    seen = np.arange(k.shape[2]) <= past + np.arange(q.shape[2])[:, None] if is_causal else True
    stages.append(np.where(seen, stages[1] + mask, -np.inf))
    e = np.exp(stages[2] - stages[2].max(-1, keepdims=True))
    stages.append(e / e.sum(-1, keepdims=True))
    y = stages[3] @ v
    y = y.transpose(0, 2, 1, 3).reshape(q.shape[0], q.shape[2], -1) if three else y
    return [y] + ([k, v] if len(inputs) > 4 else []) + [stages[qk_matmul_output_mode]]


def lp_norm(inputs, axis, p):
    """A line without a norm stays 0."""
    norm = (np.abs(inputs[0].astype(np.float64)) ** p).sum(axis, keepdims=True) ** (1 / p)
    return [np.where(norm == 0, 0, inputs[0] / np.where(norm == 0, 1, norm))]


def matmul(inputs):
    """The result saturates."""
    a, sa, za, b, sb, zb, sy, zy = (x.astype(np.float64) for x in inputs)
    y = np.rint((a - za) @ (b - zb) * (sa * sb / sy)) + zy
    return [np.clip(y, -128, 127)]


DEFINITIONS = {'Attention': attention, 'LpNormalization': lp_norm, 'QLinearMatMul': matmul}
TESTS = ['test_attention_3d_with_past_and_present_qk_matmul_bias', 'test_attention_3d_with_past_and_present_qk_matmul_softcap',
         'test_attention_4d_with_past_and_present_qk_matmul_bias', 'test_attention_4d_with_past_and_present_qk_matmul_bias_3d_mask',
         'test_attention_4d_with_past_and_present_qk_matmul_bias_3d_mask_causal',
         'test_attention_4d_with_past_and_present_qk_matmul_bias_4d_mask',
         'test_attention_4d_with_past_and_present_qk_matmul_bias_4d_mask_causal', 'test_attention_4d_with_qk_matmul_bias',
         'test_attention_4d_with_qk_matmul_softcap', 'test_l2normalization_axis_0', 'test_qlinearmatmul_2D_int8_float16',
         'test_qlinearmatmul_2D_int8_float32', 'test_qlinearmatmul_3D_int8_float16', 'test_qlinearmatmul_3D_int8_float32']


def tensors(folder, kind):
    """input_0.pb, input_1.pb, ... of a test, or its outputs."""
    found = []
    while os.path.exists(os.path.join(folder, '%s_%d.pb' % (kind, len(found)))):
        with open(os.path.join(folder, '%s_%d.pb' % (kind, len(found))), 'rb') as f:
            found.append(numpy_helper.to_array(TensorProto.FromString(f.read())))
    return found


def main():
    lines = []
    for name in TESTS:
        node = load(os.path.join(sys.argv[1], name, 'model.onnx')).graph.node[0]
        given, said = (tensors(os.path.join(sys.argv[1], name, 'test_data_set_0'), kind) for kind in ('input', 'output'))
        for k, (value, old) in enumerate(zip(DEFINITIONS[node.op_type](given, **{a.name: a.f if a.type == a.FLOAT else a.i for a in node.attribute}), said)):
            value = value.astype(old.dtype)
            assert value.shape == old.shape, name
            if not np.allclose(value, old, 1e-3, 1e-7, equal_nan=False):
                lines.append('%s %d %08x %s\n' % (name, k, fnv(given), value.tobytes().hex()))
    assert {line.split()[0] for line in lines} == set(TESTS)
    with open(TABLE, 'w', encoding='ascii') as f:
        f.writelines(lines)


if __name__ == '__main__':
    main()
