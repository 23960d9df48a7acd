"""Weights of DequantizeLinear in 4 or 8 bits before MatMul and Gemm: results of numpy in float64, and the operators of the model.

A constant that only such nodes read as their weight stays packed, as MATMUL_NBITS; else it becomes a float32 constant, or a cast in
the run. float32 results may differ by 1e-5 of the largest magnitude (300 terms of a sum, each rounded to 2^-24, and cancellation),
float16 ones by 2e-3 (two roundings to 2^-11 and the rounding of inputs).
"""
import json
import os
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import commands

CODES = {'int4': 22, 'uint4': 21}  # element types that the installed onnx package does not know


def tensor(name, q, kind):
    if kind not in CODES:
        return numpy_helper.from_array(q.astype(kind), name)
    flat = (q.ravel() & 15).astype('uint8')
    flat = np.append(flat, [0] * (flat.size % 2)).astype('uint8')
    t = TensorProto(name=name, data_type=CODES[kind], raw_data=(flat[::2] | flat[1::2] << 4).astype('uint8').tobytes())
    t.dims.extend(q.shape)
    return t


class Weight:
    """A product with a weight of K terms and N results. block 0: a scale per result. transposed: the weight is [N,K]."""

    def __init__(self, kind, op, K, N, block, zero, transposed=False, real='float32', bias=None, alpha=1.0, beta=1.0, extra=None):
        r, self.extra, self.real = np.random.RandomState(K + N + block), extra, real
        self.name = ' '.join(str(v) for v in (kind, op, K, N, block, zero, transposed, real, bias, alpha, beta, extra))
        info = (-8, 8) if kind == 'int4' else (0, 16) if kind == 'uint4' else (np.iinfo(kind).min, np.iinfo(kind).max + 1)
        along, blocks = int(transposed), -(-K // block) if block else 0
        shape = (N, K) if transposed else (K, N)
        few = ((N, blocks) if transposed else (blocks, N)) if block else (N,)
        q, zeros, scale = r.randint(*info, shape), r.randint(*info, few) * zero, (r.rand(*few) * 0.1 + 0.01).astype(real)

        def full(v):
            v = np.repeat(v, block, along) if block else np.expand_dims(v, along)
            return v[:, :K] if transposed else v[:K]
        w = (q - full(zeros)) * full(scale.astype(float))
        self.x = r.standard_normal((3, K) if op == 'Gemm' else (2, 3, K)).astype(real)
        self.y = alpha * (self.x.astype(float) @ (w.T if transposed else w))
        constants = [tensor('q', q, kind), numpy_helper.from_array(scale, 's')] + [tensor('z', zeros, kind)] * zero
        nodes = [helper.make_node('DequantizeLinear', ['q', 's'] + ['z'] * zero, ['w'], axis=along if block else 1 - along,
                                  **({'block_size': block} if block else {}))]
        inputs = ['x', 'w']
        if bias is not None:
            b = r.standard_normal(bias).astype(real)
            constants.append(numpy_helper.from_array(b, 'b'))
            inputs.append('b')
            self.y = self.y + beta * b
        options = {'alpha': alpha, 'beta': beta, 'transB': along} if op == 'Gemm' else {}
        nodes.append(helper.make_node(op, inputs, ['y'], **options))
        element = {'float32': TensorProto.FLOAT, 'float16': TensorProto.FLOAT16}[real]
        outputs = [helper.make_tensor_value_info('y', element, None)]
        outputs += [helper.make_tensor_value_info('w', element, None)] * (extra == 'output')
        if extra == 'read':
            nodes.append(helper.make_node('Relu', ['w'], ['r']))
            outputs.append(helper.make_tensor_value_info('r', element, None))
        graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', element, self.x.shape)], outputs, constants)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21)], ir_version=10)
        self.packed = extra is None and block in (0, 16, 32)

    def problem(self, nnrt):
        """None, or the fault."""
        with tempfile.TemporaryDirectory() as folder:
            path, x = os.path.join(folder, 'm.onnx'), os.path.join(folder, 'x.npy')
            with open(path, 'wb') as f:
                f.write(self.model.SerializeToString())
            np.save(x, self.x)
            done = commands.run(nnrt, 'run', path, '--input', 'x=' + x, '--device', 'reference', '--output-dir', folder, text=True)
            if done.returncode != 0:
                return done.stderr[-300:]
            y = np.load(os.path.join(folder, 'y.npy')).astype(float)
            done = commands.run(nnrt, 'info', path, '--device', 'reference', '--json', text=True, check=True)
            operators = json.loads(done.stdout)['operators']
        if ('MATMUL_NBITS' in operators) != self.packed:
            return 'has the operators %s' % ' '.join(operators)
        worst = np.max(np.abs(y - self.y)) / np.max(np.abs(self.y)) if y.shape == self.y.shape else np.inf
        return None if worst <= (1e-5 if self.real == 'float32' else 2e-3) else '%s differs by %g' % (list(y.shape), worst)


def every():
    for kind in ('int4', 'uint4', 'int8', 'uint8'):
        for zero in (0, 1):
            for block in (0, 16, 32, 24):
                yield Weight(kind, 'MatMul', 80, 7, block, zero)
            for K in (5, 300):
                yield Weight(kind, 'MatMul', K, 3, 0, zero)
            for transposed in (False, True):
                yield Weight(kind, 'Gemm', 80, 7, 32, zero, transposed, bias=(7,))
                yield Weight(kind, 'Gemm', 80, 7, 0, zero, transposed, bias=(3, 7), alpha=0.5, beta=2.0)
                yield Weight(kind, 'Gemm', 41, 7, 16, zero, transposed)
        yield Weight(kind, 'MatMul', 80, 7, 16, 1, real='float16')
        for extra in ('output', 'read'):
            yield Weight(kind, 'MatMul', 80, 7, 16, 1, extra=extra)


def test(nnrt):
    """(passed, failed)"""
    passed = failed = 0
    for weight in every():
        problem = weight.problem(nnrt)
        passed, failed = passed + (problem is None), failed + (problem is not None)
        if problem is not None:
            print('FAIL weight %s: %s' % (weight.name, problem))
    return passed, failed
