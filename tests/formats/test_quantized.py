#!/usr/bin/env python3
"""ONNX's 8-bit tensors are plain integers for every consumer: each producer of one with each operator that reads it.

    test_quantized.py [--jobs N] [--only TEXT] NNRT           compares NNRT with tests/formats/quantized.txt
    test_quantized.py --check|--write --ort DIR               compares tests/formats/quantized.txt with ONNX Runtime, or writes it

tests/formats/quantized.txt has the results of ONNX Runtime for every pair: type, shape and bytes, or "-" for a model that it
refuses. NNRT runs each model twice or three times: as it comes, with --no-quantize, and every fifth from an unoptimized import
(`--no-optimize` of nnrt convert). With --no-quantize the bytes must be ONNX Runtime's. Otherwise integers that a quantized operator computed
(its arithmetic rounds twice, ONNX once) may differ by one unit, which is counted; everything else must be equal. Parameters of
quantized producers are such that no element of theirs differs, so that consumers cannot enlarge a difference. A model that
ONNX Runtime runs must run.

The last line says "N passed, N failed"; the exit status is 1 when something failed or nothing passed.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../kit'))
import commands  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, 'quantized.txt')
OPSET = 18
SHAPE = (1, 2, 4, 4)
NUMBERS = {'uint8': TensorProto.UINT8, 'int8': TensorProto.INT8, 'float32': TensorProto.FLOAT, 'int32': TensorProto.INT32,
           'int64': TensorProto.INT64, 'bool': TensorProto.BOOL}
ZERO = {'uint8': 100, 'int8': -3}
SCALE = 0.25


class Model:
    """A graph under construction: values are names."""

    def __init__(self, dtype):
        self.dtype, self.nodes, self.constants, self.count = dtype, [], [], 0

    def const(self, value, dtype):
        name = 'c%d' % len(self.constants)
        self.constants.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def node(self, op, *inputs, outputs=1, **attributes):
        names = ['t%d' % (self.count + k) for k in range(outputs)]
        self.count += outputs
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def ints(self, *values):
        return self.const(values, np.int64)

    def like(self, value):
        """A scalar of the type of the 8-bit tensor."""
        return self.const(value, self.dtype)

    def params(self, scale=SCALE, zero=None):
        return self.const(scale, np.float32), self.like(ZERO[self.dtype] if zero is None else zero)

    def quantize(self, x, *params):
        return self.node('QuantizeLinear', x, *(params or self.params()))

    def dequantize(self, q, *params):
        return self.node('DequantizeLinear', q, *(params or self.params()))

    def other(self):
        """Another 8-bit tensor of the same shape, of other parameters."""
        return self.quantize('w', *self.params(0.5, ZERO[self.dtype] + 7))

    def weight(self, *shape):
        return self.const(np.random.RandomState(3).randint(-5, 6, shape), np.int8)

    def graph(self, name, outputs):
        """A graph for If: its outputs are the results of the nodes that `outputs` adds."""
        nodes, self.nodes = self.nodes, []
        value = outputs()
        body = helper.make_graph(self.nodes, name, [], [helper.make_empty_tensor_value_info(value)])
        self.nodes = nodes
        return body


# Producers of an 8-bit tensor [1,2,4,4], called with the model: the result of QuantizeLinear, and results of later nodes.
def producers():
    def q(m):
        return m.quantize('x')

    def shaped(op, *args, **attributes):
        return lambda m: m.node(op, q(m), *[f(m) for f in args], **attributes)

    def back(name, inner):
        """inner changes the shape, Reshape restores it."""
        return name, lambda m: m.node('Reshape', inner(m), m.ints(*SHAPE))

    def conv(m):
        b = m.const([5, -9], np.int32)
        return m.node('QLinearConv', q(m), *m.params(), m.weight(2, 2, 1, 1), m.const(0.125, np.float32),
                      m.const(0, np.int8), *m.params(0.61, 4), b)

    def matmul(m):
        return m.node('QLinearMatMul', q(m), *m.params(), m.weight(4, 4), m.const(0.125, np.float32), m.const(0, np.int8),
                      *m.params(0.61, 4))

    def computed(op, *more, scale=0.61, **attributes):
        def make(m):
            return m.quantize(m.node(op, m.dequantize(q(m)), *[f(m) for f in more], **attributes), *m.params(scale, 4))
        return make

    def choice(m):
        p = q(m)
        return m.node('If', m.const(True, bool), then_branch=m.graph('a', lambda: m.node('Identity', p)),
                      else_branch=m.graph('b', lambda: m.node('Transpose', p, perm=[0, 1, 3, 2])))

    yield 'QuantizeLinear', q
    yield 'per channel', lambda m: m.node('QuantizeLinear', 'x', m.const([0.25, 0.5], np.float32),
                                          m.const([3, 9], m.dtype), axis=1)
    yield 'DynamicQuantizeLinear', lambda m: m.node('DynamicQuantizeLinear', 'x', outputs=3)[0]
    yield 'Identity', shaped('Identity')
    yield back('Reshape', shaped('Reshape', lambda m: m.ints(2, 16)))
    yield back('Flatten', shaped('Flatten'))
    yield back('Squeeze', shaped('Squeeze', lambda m: m.ints(0)))
    yield back('Unsqueeze', shaped('Unsqueeze', lambda m: m.ints(0)))
    yield 'Transpose', shaped('Transpose', perm=[0, 1, 3, 2])
    yield 'Concat', lambda m: m.node('Concat', *m.node('Split', q(m), m.ints(1, 1), outputs=2, axis=1), axis=1)
    yield 'Concat of two', lambda m: m.node('Concat', m.node('Slice', q(m), m.ints(0), m.ints(1), m.ints(1)),
                                            m.node('Slice', m.other(), m.ints(0), m.ints(1), m.ints(1)), axis=1)
    yield 'Gather', shaped('Gather', lambda m: m.ints(1, 0), axis=1)
    yield back('Tile', lambda m: m.node('Slice', m.node('Tile', q(m), m.ints(1, 1, 2, 1)), m.ints(2), m.ints(6), m.ints(2)))
    yield 'Expand', shaped('Expand', lambda m: m.ints(*SHAPE))
    yield 'Pad', lambda m: m.node('Slice', m.node('Pad', q(m), m.ints(0, 0, 1, 0, 0, 0, 1, 0)), m.ints(0), m.ints(4), m.ints(2))
    yield 'Where', lambda m: m.node('Where', m.node('Greater', 'x', 'w'), q(m), m.other())
    yield 'Max', lambda m: m.node('Max', q(m), m.other())
    yield 'Min', lambda m: m.node('Min', q(m), m.other())
    yield 'Clip', lambda m: m.node('Clip', q(m), m.like(2), m.like(110))
    yield 'MaxPool', shaped('MaxPool', kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    yield 'Resize', shaped('Resize', lambda m: '', lambda m: '', lambda m: m.ints(*SHAPE), mode='nearest')
    yield back('DepthToSpace', lambda m: m.node('SpaceToDepth', q(m), blocksize=2))
    yield 'If', choice
    yield 'QLinearConv', conv
    yield 'QLinearMatMul', matmul
    yield 'quantized Relu', computed('Relu', scale=0.29)
    yield 'quantized Add', computed('Add', lambda m: m.dequantize(m.other(), *m.params(0.5, ZERO[m.dtype] + 7)))
    yield 'quantized MaxPool', computed('MaxPool', scale=0.29, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    yield 'quantized Conv', computed('Conv', lambda m: m.dequantize(m.weight(2, 2, 1, 1), m.const(0.125, np.float32)))


# Consumers of it: the result is the output of the model.
def consumers():
    def one(op, *args, **attributes):
        return lambda m, p: m.node(op, p, *[f(m) for f in args], **attributes)

    def two(op):
        return lambda m, p: m.node(op, p, m.other())

    def first(op, *args, outputs=2, **attributes):
        return lambda m, p: m.node(op, p, *[f(m) for f in args], outputs=outputs, **attributes)[0]

    yield 'output', lambda m, p: m.node('Identity', p)
    yield 'DequantizeLinear', lambda m, p: m.dequantize(p)
    yield 'DequantizeLinear by others', lambda m, p: m.dequantize(p, *m.params(0.5, 1))
    yield 'DequantizeLinear per channel', lambda m, p: m.node('DequantizeLinear', p, m.const([0.5, 2], np.float32),
                                                              m.const([1, 5], m.dtype), axis=1)
    yield 'two DequantizeLinear', lambda m, p: m.node('Add', m.dequantize(p), m.dequantize(p))
    yield 'and back', lambda m, p: m.quantize(m.node('Relu', m.dequantize(p)), *m.params(0.5, 2))
    for dtype in ('int8', 'uint8', 'int32', 'int64', 'float32', 'bool'):
        yield 'Cast to ' + dtype, one('Cast', to=NUMBERS[dtype])
    yield 'Pad', one('Pad', lambda m: m.ints(0, 0, 1, 0, 0, 0, 0, 2))
    yield 'Pad by 5', one('Pad', lambda m: m.ints(0, 0, 1, 0, 0, 0, 0, 2), lambda m: m.like(5))
    yield 'Pad edge', one('Pad', lambda m: m.ints(0, 0, 1, 0, 0, 0, 0, 2), mode='edge')
    yield 'Pad reflect', one('Pad', lambda m: m.ints(0, 0, 1, 0, 0, 0, 0, 2), mode='reflect')
    for op in ('Less', 'LessOrEqual', 'Greater', 'GreaterOrEqual', 'Equal', 'Max', 'Min', 'Add', 'Sub', 'Mul', 'Div', 'Mod',
               'BitwiseAnd', 'BitwiseOr', 'BitwiseXor'):
        yield op, two(op)
    yield 'Concat', lambda m, p: m.node('Concat', p, m.other(), axis=1)
    yield 'Concat with itself', lambda m, p: m.node('Concat', p, p, axis=2)
    yield 'Where', lambda m, p: m.node('Where', m.node('Greater', 'x', 'w'), p, m.other())
    yield 'BitShift', lambda m, p: m.node('BitShift', p, m.like(2), direction='RIGHT')
    for op in ('BitwiseNot', 'Abs', 'Neg', 'Sign', 'Relu', 'NonZero', 'Shape', 'Identity', 'Flatten'):
        yield op, one(op)
    yield 'Clip', one('Clip', lambda m: m.like(3), lambda m: m.like(90))
    yield 'Transpose', one('Transpose', perm=[3, 2, 1, 0])
    yield 'Reshape', one('Reshape', lambda m: m.ints(4, 8))
    yield 'Reshape and DequantizeLinear', lambda m, p: m.dequantize(m.node('Reshape', p, m.ints(4, 8)))
    yield 'Transpose, Reshape and DequantizeLinear', lambda m, p: m.dequantize(
        m.node('Reshape', m.node('Transpose', p, perm=[0, 3, 2, 1]), m.ints(2, 16)))
    yield 'Concat and DequantizeLinear', lambda m, p: m.dequantize(m.node('Concat', p, m.quantize('w'), axis=1))
    yield 'Squeeze', one('Squeeze', lambda m: m.ints(0))
    yield 'Unsqueeze', one('Unsqueeze', lambda m: m.ints(1))
    yield 'Slice', one('Slice', lambda m: m.ints(3), lambda m: m.ints(-9), lambda m: m.ints(2), lambda m: m.ints(-2))
    yield 'Split', first('Split', lambda m: m.ints(3, 1), axis=3)
    yield 'Gather', one('Gather', lambda m: m.ints(3, 0, 1), axis=2)
    yield 'GatherElements', one('GatherElements', lambda m: m.const([[[[0, 3]]]], np.int64), axis=3)
    yield 'GatherND', one('GatherND', lambda m: m.ints(0, 1))
    yield 'ScatterElements', one('ScatterElements', lambda m: m.const([[[[2]]]], np.int64), lambda m: m.const([[[[77]]]], m.dtype), axis=2)
    yield 'ScatterND', one('ScatterND', lambda m: m.const([[0, 1, 2, 3]], np.int64), lambda m: m.const([77], m.dtype))
    yield 'Tile', one('Tile', lambda m: m.ints(1, 1, 2, 1))
    yield 'Expand', one('Expand', lambda m: m.ints(2, 2, 4, 4))
    yield 'MaxPool', one('MaxPool', kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 0, 0])
    yield 'Resize nearest', one('Resize', lambda m: '', lambda m: '', lambda m: m.ints(1, 2, 6, 8), mode='nearest')
    yield 'Resize linear', one('Resize', lambda m: '', lambda m: '', lambda m: m.ints(1, 2, 8, 8), mode='linear')
    yield 'SpaceToDepth', one('SpaceToDepth', blocksize=2)
    yield 'CenterCropPad', one('CenterCropPad', lambda m: m.ints(6, 2), axes=[2, 3])
    yield 'Unique', first('Unique', outputs=1)
    yield 'ReduceMax', one('ReduceMax', lambda m: m.ints(2), keepdims=0)
    yield 'ReduceMin', one('ReduceMin', lambda m: m.ints(1))
    yield 'ReduceSum', one('ReduceSum', lambda m: m.ints(1))
    yield 'ArgMax', one('ArgMax', axis=3)
    yield 'ArgMin', one('ArgMin', axis=3)
    yield 'TopK', first('TopK', lambda m: m.ints(2), axis=3)
    yield 'Compress', one('Compress', lambda m: m.const([True, False, True], bool), axis=2)
    yield 'Trilu', one('Trilu')
    yield 'ReverseSequence', one('ReverseSequence', lambda m: m.ints(2), batch_axis=0, time_axis=1)
    yield 'OneHot', lambda m, p: m.node('OneHot', m.node('Cast', p, to=TensorProto.INT64), m.ints(5), m.const([2, 9], m.dtype))
    yield 'MatMulInteger', lambda m, p: m.node('MatMulInteger', p, m.weight(4, 3), m.like(3))
    yield 'ConvInteger', lambda m, p: m.node('ConvInteger', p, m.weight(3, 2, 3, 3), m.like(3))
    yield 'QLinearMatMul', lambda m, p: m.node(
        'QLinearMatMul', p, *m.params(), m.weight(4, 3), m.const(0.125, np.float32), m.const(0, np.int8), *m.params(0.3, 4))
    yield 'QLinearConv', lambda m, p: m.node(
        'QLinearConv', p, *m.params(), m.weight(3, 2, 3, 3), m.const([0.125, 0.25, 0.5], np.float32),
        m.const([0, 0, 0], np.int8), *m.params(0.9, 4))
    yield 'quantized Conv', lambda m, p: m.quantize(
        m.node('Conv', m.dequantize(p), m.dequantize(m.weight(3, 2, 3, 3), m.const(0.125, np.float32))), *m.params(0.9, 4))
    yield 'If', lambda m, p: m.node('If', m.const(False, bool), then_branch=m.graph('a', lambda: m.node('Neg', p)),
                                    else_branch=m.graph('b', lambda: m.node('Add', p, p)))


def every(dtypes=('uint8', 'int8')):
    """(name, model as bytes) of every pair."""
    for dtype in dtypes:
        for one, produce in producers():
            if one == 'DynamicQuantizeLinear' and dtype != 'uint8':
                continue
            for other, consume in consumers():
                m = Model(dtype)
                y = consume(m, produce(m))
                inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE) for name in 'xw']
                graph = helper.make_graph(m.nodes, 'g', inputs, [helper.make_empty_tensor_value_info(y)], m.constants)
                model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', OPSET)], ir_version=8)
                yield (dtype, one, other), model.SerializeToString()


def label(name):
    return '%s: %s -> %s' % name


def inputs():
    """Multiples of 1/8 and 1/16: of a scale of 1/4 many are halves; some saturate."""
    draw = np.random.RandomState(1)
    x = draw.randint(-90, 90, SHAPE).astype(np.float32) / 8
    x[0, 0, 0] = [-60, 60, 0.125, -0.125]
    return {'x': x, 'w': draw.randint(-200, 200, SHAPE).astype(np.float32) / 16}


def line_of(value):
    return '%s %s %s' % (value.dtype, list(value.shape), value.tobytes().hex()) if value is not None else '-'


def value_of(line):
    if line == '-':
        return None
    dtype, rest = line.split(' ', 1)
    dims, data = rest.split(']')
    shape = json.loads(dims + ']')
    return np.frombuffer(bytes.fromhex(data.strip()), dtype).reshape(shape)


def read_table():
    """{(type, producer, consumer): value or None}. Lines: type | consumer | value | producers."""
    table = {}
    with open(TABLE, encoding='ascii') as f:
        for line in f:
            if not line.startswith('#'):
                dtype, consumer, value, names = line.rstrip('\n').split(' | ')
                for name in names.split('; '):
                    table[dtype, name, consumer] = value
    return table


def ask_runtime(folder, modules):
    """{name: value or None} from ONNX Runtime, without its optimizations."""
    files, jobs = {}, []
    for name, value in inputs().items():
        files[name] = os.path.join(folder, name + '.npy')
        np.save(files[name], value)
    names = []
    for k, (name, model) in enumerate(every()):
        path = os.path.join(folder, '%d.onnx' % k)
        with open(path, 'wb') as f:
            f.write(model)
        names.append(name)
        jobs.append({'model': path, 'inputs': files, 'output': os.path.join(folder, str(k))})
    with open(os.path.join(folder, 'list.json'), 'w', encoding='ascii') as f:
        json.dump(jobs, f)
    subprocess.run(['node', os.path.join(HERE, '../compare/ort.mjs'), '--modules', modules, '--list', f.name], check=True)
    results = {}
    for name, job in zip(names, jobs):
        made = [entry for entry in os.listdir(job['output']) if entry.endswith('.npy')]
        results[name] = np.load(os.path.join(job['output'], made[0])) if made else None
    return results


def write_table(results):
    lines = {}
    for (dtype, producer, consumer), value in results.items():
        lines.setdefault((dtype, consumer, line_of(value)), []).append(producer)
    with open(TABLE, 'w', encoding='ascii') as f:
        f.write('# ONNX Runtime 1.30.0, graph optimizations disabled: written by tests/formats/test_quantized.py --write\n')
        for key, producers_of in lines.items():
            f.write(' | '.join(key) + ' | ' + '; '.join(producers_of) + '\n')


WAYS = {'as it comes': [], 'no-quantize': ['--no-quantize'], 'no-optimize': None}


def run(nnrt, folder, model, way):
    """(value, None) or (None, message)."""
    tmp = tempfile.mkdtemp(dir=folder)
    path = os.path.join(tmp, 'm.onnx')
    with open(path, 'wb') as f:
        f.write(model)
    args = WAYS[way]
    if args is None:
        done = commands.run(nnrt, 'convert', '--no-optimize', path, os.path.join(tmp, 'm.nnrt'))
        if done.returncode != 0:
            return None, done.stderr.decode('utf-8', 'replace').strip()
        path, args = os.path.join(tmp, 'm.nnrt'), []
    given = [a for name in 'xw' for a in ('--input', '%s=%s' % (name, os.path.join(folder, name + '.npy')))]
    done = commands.run(nnrt, 'run', path, *given, '--device', 'reference', '--output-dir', tmp, *args)
    made = [name for name in os.listdir(tmp) if name.endswith('.npy')]
    if done.returncode != 0 or len(made) != 1:
        return None, done.stderr.decode('utf-8', 'replace').strip() or 'no result'
    return np.load(os.path.join(tmp, made[0])), None


def judge(want, got, said, way):
    """(fault or None, elements that differ by one unit)."""
    if got is None:
        return 'refused: ' + said, 0
    if got.dtype != want.dtype or got.shape != want.shape:
        return 'is %s %s, expected %s %s' % (got.dtype, list(got.shape), want.dtype, list(want.shape)), 0
    if got.tobytes() == want.tobytes():
        return None, 0
    far = np.abs(got.astype(np.float64) - want.astype(np.float64))
    at = np.unravel_index(np.argmax(far), far.shape)
    if way != 'no-quantize' and want.dtype in (np.uint8, np.int8) and far.max() == 1:
        return None, int((far == 1).sum())
    return 'element %s is %s, expected %s' % (list(map(int, at)), got[at], want[at]), 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('nnrt', nargs='?')
    parser.add_argument('--ort', metavar='DIR', help='whose node_modules has onnxruntime-node')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--only', default='', metavar='TEXT')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.write or args.check:
            results = ask_runtime(folder, args.ort)
            if args.write:
                write_table(results)
                return 0
            table = read_table()
            wrong = [name for name in results if table.get(name) != line_of(results[name])]
            for name in wrong[:20]:
                print('FAIL %s: ONNX Runtime gives %s, the table has %s' % (label(name), line_of(results[name]), table.get(name)))
            print('%d passed, %d failed' % (len(results) - len(wrong), len(wrong)))
            return 1 if wrong or not results else 0
        table, passed, failed, refused, units, counted = read_table(), 0, 0, 0, 0, 0
        for name, value in inputs().items():
            np.save(os.path.join(folder, name + '.npy'), value)
        models = [(name, model) for name, model in every() if args.only in label(name)]
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            jobs = [(name, way, pool.submit(run, args.nnrt, folder, model, way))
                    for k, (name, model) in enumerate(models) for way in WAYS if way != 'no-optimize' or k % 5 == 0]
            for name, way, job in jobs:
                if name not in table:
                    fault, unit = 'is not in %s: write it again' % os.path.basename(TABLE), 0
                else:
                    want = value_of(table[name])
                    if want is None:  # nnrt may run or refuse models that ONNX Runtime refuses
                        refused += way == 'as it comes'
                        job.result()
                        continue
                    fault, unit = judge(want, *job.result(), way)
                failed += fault is not None
                passed += fault is None
                units, counted = units + unit, counted + (unit > 0)
                if fault is not None:
                    print('FAIL %s, %s: %s' % (label(name), way, fault))
        print('%d results have elements one unit beside ONNX Runtime, %d elements' % (counted, units))
        print('%d models are refused by ONNX Runtime' % refused)
        print('%d passed, %d failed' % (passed, failed))
        return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
