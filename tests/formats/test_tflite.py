#!/usr/bin/env python3
"""Imports models of one operator from .tflite files and compares their results with TensorFlow Lite.

    test_tflite.py [--only TEXT] NNRT                 compares NNRT with tests/formats/tflite.txt
    test_tflite.py --check|--write --modules DIR      compares tests/formats/tflite.txt with TensorFlow Lite, or writes it
    DIR is node_modules with @tensorflow/tfjs-tflite: TensorFlow Lite as WebAssembly, run by node.

tests/formats/tflite.txt has a line per case: its name, then type, shape and bytes of every result, or "-" and the reason for a model
that TensorFlow Lite refuses. Floats may differ by 1e-5 of the largest magnitude. 8-bit results must be equal; in the cases of
ONE they may differ by one unit, since TensorFlow Lite rounds otherwise there (tests count them). Builder.define states results
that numpy computes: of models that TensorFlow Lite's package does not run, and of hybrid operators, whose results are within a
derived bound of TensorFlow Lite's. REFUSED lists the models that
NNRT refuses and TensorFlow Lite runs; these, and the models that only NNRT runs, count as skipped. The last line says "N passed, N
failed, N skipped"; the exit status is 1 when something failed.
"""
import argparse
import collections
import json
import os
import sys
import tempfile
import zipfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../kit'))
import commands  # noqa: E402
from tflite_builder import CASES  # noqa: E402
from tflite_cases_control import control, variables  # noqa: E402
from tflite_cases_elementwise import elementwise  # noqa: E402
from tflite_cases_recurrent import recurrent  # noqa: E402
from tflite_cases_shapes import corners, shapes  # noqa: E402
from tflite_cases_types import hybrid, wide  # noqa: E402
from tflite_cases_windows import mediapipe, spectra, windows  # noqa: E402
from tflite_table import check_table, compare, parse, read_table, write_models  # noqa: E402
from writer import Model, metadata, with_files  # noqa: E402

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tflite.txt')

for family in elementwise, windows, shapes, hybrid, control, recurrent, wide, variables, spectra, mediapipe, corners:
    family()

# Cases, by the beginning of their names, in which 8-bit results may differ from TensorFlow Lite by one unit, and why. One case
# of each must differ.
ONE = {
    'CONV_2D per channel': 'TensorFlow Lite rounds the product of scales once, the bits of docs/quantization.md have two roundings',
    'DIV uint8 RELU': 'TensorFlow Lite shifts the dividend 0 right by 32 bits, in 32 bits, which gives 1; here 0 / x is 0',
    'MEAN uint8': 'TensorFlow Lite has another form of the mean of uint8',
    'SUM uint8': 'TensorFlow Lite has another form of the sum of uint8',
    'RESIZE_BILINEAR uint8': 'TensorFlow Lite interpolates uint8 in float32, here in integers as int8',
}
# Models that NNRT refuses and TensorFlow Lite runs, by the beginning of their names, and why.
REFUSED = {
    'MEAN axes [0, 0]': 'an axis is named twice',
    'RESIZE_BILINEAR to (1, 1) half_pixel': 'RESIZE takes the first element where the size is 1',
    'RESIZE_NEAREST_NEIGHBOR to (1, 1) half_pixel': 'RESIZE takes the first element where the size is 1',
    'MEAN int32': 'REDUCE_FUSION has no mean of integers',
    'MEAN int64': 'REDUCE_FUSION has no mean of integers',
    'REDUCE_PROD int8': 'TensorFlow Lite rounds after each factor, the runtime once: other results',
    'ARG_MAX bool': 'ARGMAX_FUSION has no bool',
    'ARG_MIN bool': 'ARGMIN_FUSION has no bool',
    'SCATTER_ND bool': 'SCATTER_ND has no sum of bools',
    'SPACE_TO_BATCH_ND, rank 3': 'SPACE_TO_BATCH_ND has 4 axes',
    'FULLY_CONNECTED hybrid, uint8': 'TensorFlow Lite reads the bytes as int8 and ignores the zero point, for files of 2018',
    'IF of other quantization': 'TensorFlow Lite copies the integers, so that the real values change',
    'WHILE of another rank': 'the values of LOOP have one rank',
    'SPLIT other scale': 'TensorFlow Lite copies the integers, so that the real values change',
    'CONCATENATION int16 of other scales': 'TensorFlow Lite copies the integers, so that the real values change',
    'ASSIGN_VARIABLE in IF': 'a state is an output of the main graph',
    'ASSIGN_VARIABLE of another shape': 'a state has one shape',
}
# Nodes that no imported model of these tests has, and why.
WIDENED = {'CAST', 'QUANT_DTYPE_CAST', 'QUANT_DTYPE_CAST_V2'}
SIZES = {'SHAPE', 'CONCAT'}
UNSEEN = {
    'CONV_2D': (WIDENED - {'QUANT_DTYPE_CAST'}, 'of constants, which constant folding computes'),
    'DEPTHWISE_CONV_2D': (WIDENED - {'QUANT_DTYPE_CAST'}, 'of constants, which constant folding computes'),
    'FULLY_CONNECTED': (WIDENED - {'QUANT_DTYPE_CAST'}, 'of constants, which constant folding computes'),
    'BATCH_MATMUL': (WIDENED - {'QUANT_DTYPE_CAST'}, 'of constants, which constant folding computes'),
    'EMBEDDING_LOOKUP': ({'QUANT_DTYPE_CAST_V2'}, 'of constants, which constant folding computes'),
    'BIDIRECTIONAL_SEQUENCE_RNN': (WIDENED | SIZES - {'CONCAT'}, 'of constants, and of static shapes'),
    'BIDIRECTIONAL_SEQUENCE_LSTM': (WIDENED | SIZES - {'CONCAT'} | {'SUB_FUSION'}, 'of constants, and of static shapes'),
    'UNIDIRECTIONAL_SEQUENCE_RNN': (WIDENED | SIZES, 'of constants, and of static shapes'),
    'UNIDIRECTIONAL_SEQUENCE_LSTM': (WIDENED | SIZES, 'of constants, and of static shapes'),
    'SVDF': (WIDENED, 'of constants, which constant folding computes'),
    'MaxUnpooling2D': ({'FILL'}, 'of constants, which constant folding computes'),
    'DEQUANTIZE': ({'CAST', 'QUANT_DTYPE_CAST_V2'}, 'of constants, which constant folding computes'),
    'QUANTIZE': ({'QUANT_DTYPE_CAST_V2'}, 'of constants, which constant folding computes'),
    'SHAPE': ({'SHAPE'}, 'constant folding computes it'),
    'RANK': ({'RANK'}, 'constant folding computes it'),
    'RANGE': ({'RANGE'}, 'of constants, which constant folding computes'),
    'CONCATENATION': ({'ACTIVATION'}, 'TensorFlow Lite refuses activations'),
    'TRANSPOSE_CONV': ({'ACTIVATION'}, 'newer than the package that the tests compare with'),
}


class Becomes:
    """The column of the operators that each operator of TensorFlow Lite becomes (nnrt ops --tflite) and the imported models."""

    def __init__(self, nnrt):
        self.nnrt, self.seen = nnrt, collections.defaultdict(set)
        done = commands.run(nnrt, 'ops', '--tflite', '--json', check=True)
        self.column = {(o['number'], o['name'] if o['number'] == 32 else None): (o['name'], set(o['becomes'].split()))
                       for o in json.loads(done.stdout)['operators'] if o['versions']}

    def check(self, path, b):
        """None, or the nodes of the model that no operator of it may become."""
        out = path + '.nnrt'
        commands.run(self.nnrt, 'convert', path, out, '--no-optimize', check=True)
        bounds = [a for most in b.most for a in ('--max', most)]
        done = commands.run(self.nnrt, 'info', out, '--device', 'reference', '--json', *bounds, check=True)
        nodes = set(json.loads(done.stdout)['operators'])
        allowed = set().union(*(self.column.get((code, custom), ('', set()))[1] for code, _, custom in b.codes))
        for code, _, custom in b.codes:
            self.seen[code, custom] |= nodes
        extra = nodes - allowed - {'ASSIGN'}  # of an output that is a constant or an input
        return 'has nodes %s, the table has %s' % (' '.join(sorted(extra)), ' '.join(sorted(allowed))) if extra else None

    def unseen(self):
        """Entries of the table without a model."""
        left = {name: becomes - self.seen[code] - {'NONE'} for code, (name, becomes) in self.column.items()}
        return {name: names for name, names in left.items() if names != UNSEEN.get(name, (set(),))[0]}


def hostile(nnrt):
    """None, or why a file of 15 subgraphs that each run the next one twice, 32768 operators in all, is not refused at once."""
    m = Model()
    m.inputs = [m.tensor('cond', 'bool', ()), m.tensor('x', 'float32', (2,))]
    graphs = [m] + [m.subgraph() for _ in range(14)]
    for k, g in enumerate(graphs):
        g.inputs = g.inputs or [g.tensor('cond', 'bool', ()), g.tensor('x', 'float32', (2,))]
        g.outputs = [g.tensor('y', 'float32', (2,))]
        if k == 14:
            g.op('ABS', g.inputs[1:], g.outputs)
        else:
            g.op('IF', g.inputs[:1] + g.inputs, g.outputs, then=k + 1, otherwise=k + 1)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'x.tflite'), 'wb') as f:
            f.write(m.bytes())
        done = commands.run(nnrt, 'info', f.name, '--device', 'reference', text=True)
    return None if done.returncode == 1 and 'limit' in done.stderr else done.stderr[-300:] or 'it was read'


def described(nnrt):
    """None, or which metadata of a quantized model are wrong. Compressed labels, and a divisor 0, are left out."""
    wrong = []
    for method, std in ((zipfile.ZIP_STORED, [2, 2.5, 0.125]), (zipfile.ZIP_DEFLATED, [0])):
        m = Model()
        m.inputs, m.outputs = [m.tensor('x', 'int8', (1, 2, 2, 3), scale=0.1)], [m.tensor('y', 'int8', (1, 2, 2, 3), scale=0.1)]
        m.op('RELU', m.inputs, m.outputs)
        m.describe(metadata([{'mean': [1, 127.5, 3], 'std': std, 'color': 2}], [{'labels': 'l.txt'}]))
        want = {'input.x.color': 'gray'}
        if method == zipfile.ZIP_STORED:
            want.update({'input.x.mean': '1,127.5,3', 'input.x.std': '2,2.5,0.125', 'input.x.quantize': 'yes', 'labels.y': 'a\nb\nc'})
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'x.tflite'), 'wb') as f:
                f.write(with_files(m.bytes(), {'l.txt': 'a\r\nb\nc\n', 'other.txt': 'z'}, method))
            done = commands.run(nnrt, 'info', f.name, '--json', '--device', 'reference', check=True)
        got = json.loads(done.stdout)['metadata']
        wrong += [] if got == want else ['%s, expected %s' % (got, want)]
    return '; '.join(wrong)


def unsupported(nnrt):
    """None, or the lines that `nnrt info` lacks for a file with an unsupported operator."""
    m = Model()
    m.inputs, m.outputs = [m.tensor('x', 'int32', (2, 3))], [m.tensor('y', 'int32', (2, 3))]
    t = [m.tensor('t%d' % i, 'int32', (2, 3)) for i in range(2)]
    m.op('ADD', [m.inputs[0], m.constant('c', np.ones(3, 'int32'))], t[:1])
    m.op('RIGHT_SHIFT', [t[0], t[0]], t[1:])
    m.op('RIGHT_SHIFT', [t[1], t[0]], m.outputs)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'x.tflite'), 'wb') as f:
            f.write(m.bytes())
        done = [commands.run(nnrt, command, f.name, *more, text=True) for command, *more in (('info',), ('info', '--json'), ('run', '--input', 'random'))]
    lines = [' '.join(line.split()) for line in done[0].stdout.split('\n')]
    want = ['input x int32[2,3]', 'output y int32[2,3]', 'nodes 3', '1 ADD', '2 RIGHT_SHIFT (number 161) (not supported)',
            'parameters 3: int32 3 in 12 bytes']
    about = json.loads(done[1].stdout) if done[1].returncode == 0 else {}
    wrong = [line for line in want if line not in lines]
    wrong += [] if about.get('operators') == {'ADD': 1, 'RIGHT_SHIFT (number 161)': 2} and 'RIGHT_SHIFT' in about['no_session'] else [done[1].stdout]
    wrong += [] if [d.returncode for d in done] == [0, 0, 1] and 'RIGHT_SHIFT' in done[2].stderr else ['%d' % d.returncode for d in done]
    return '; '.join(wrong)


def half_weights(nnrt):
    """None, or which float16 weights do not stay float16 in a session on `cpu`, or what it computes with them: the bits of a file with
    float32 weights. Large weights of CONV_2D and FULLY_CONNECTED stay, unless another operator reads them, too, or a size is open."""
    random, wrong, shapes = np.random.RandomState(3), [], {'conv': (200, 1, 1, 96), 'dense': (180, 200), 'small': (8, 180), 'read': (180, 180)}
    weights = {name: random.uniform(-1, 1, shape).astype('float16') for name, shape in shapes.items()}
    x = random.uniform(-1, 1, (1, 3, 2, 96)).astype('float32')
    for opened in False, True:
        with tempfile.TemporaryDirectory() as folder:
            for kind in 'float16', 'float32':
                m, w = Model(), {}
                m.inputs = [m.tensor('x', 'float32', x.shape, **({'signature': (-1,) + x.shape[1:]} if opened else {}))]
                for name, value in weights.items():
                    w[name] = stored = m.constant(name, value.astype(kind))
                    if kind == 'float16':
                        w[name] = m.tensor(name + '32', 'float32', value.shape)
                        m.op('DEQUANTIZE', [stored], [w[name]], 3)
                t = [m.tensor('t%d' % i, 'float32', ()) for i in range(4)]
                m.op('CONV_2D', [m.inputs[0], w['conv'], -1], [t[0]], padding='VALID', stride_w=1, stride_h=1, dilation_w=1, dilation_h=1)
                m.op('FULLY_CONNECTED', [t[0], w['dense'], -1], [t[1]], keep_num_dims=True)
                m.op('FULLY_CONNECTED', [t[1], w['small'], -1], [t[2]], keep_num_dims=True)
                m.op('FULLY_CONNECTED', [t[1], w['read'], -1], [t[3]], keep_num_dims=True)
                m.outputs = [t[2], t[3], m.tensor('y', 'float32', ())]
                m.op('ABS', [w['read']], m.outputs[2:])
                with open(os.path.join(folder, kind + '.tflite'), 'wb') as f:
                    f.write(m.bytes())
            np.save(os.path.join(folder, 'x.npy'), x)
            for device, more in ('cpu', []), ('cpu', ['--extension', 'nnrt.cpu.memory=smallest']), ('reference', []):
                given = ['--device', device, '--max' if opened else '--shape', 'x=1,3,2,96', *more]
                for kind in 'float16', 'float32':
                    commands.run(nnrt, 'run', os.path.join(folder, kind + '.tflite'), '--input', 'x=%s/x.npy' % folder, *given, '--output-dir',
                                 os.path.join(folder, kind), check=True)
                for name in sorted(os.listdir(os.path.join(folder, 'float32'))):
                    one, two = (np.load(os.path.join(folder, kind, name)) for kind in ('float16', 'float32'))
                    wrong += [] if one.tobytes() == two.tobytes() else ['%s of %s' % (name, given)]
                done = commands.run(nnrt, 'info', os.path.join(folder, 'float16.tflite'), '--json', *given, check=True)
                about = json.loads(done.stdout)
                kept = about['weights'].get('float16', {'count': 0})['count']
                want = weights['conv'].size + weights['dense'].size if device == 'cpu' and not opened else 0
                wrong += [] if kept == want else ['%d float16 weights with %s, expected %d' % (kept, given, want)]
                wrong += ['CAST in %s' % about['keep']] if 'CAST' in about['keep'] else []
    return '; '.join(wrong)


def test(nnrt, only, shipped=None):
    """shipped: NNRT without sanitizers, for questions whose answers do not depend on them."""
    counts = {'exact or within 1e-5': 0, 'within one unit': 0, 'refused as TensorFlow Lite': 0, 'refused': 0, 'more than TensorFlow Lite': 0}
    failed = 0
    expected = read_table(TABLE)
    if sorted(expected) != sorted(CASES):
        print('FAIL tests/formats/tflite.txt has other cases: write it again')
        failed += 1
    names = [name for name in sorted(CASES) if only in name and name in expected]
    becomes, differs = Becomes(shipped or nnrt), set()
    with tempfile.TemporaryDirectory() as folder:
        for k, name, b in write_models(folder, names):
            inputs = [a for i in range(len(b.values)) for a in ('--input', 'x%d=%s/%d_%d.npy' % (i, folder, k, i))]
            inputs += [a for most in b.most for a in ('--max', most)]
            done = commands.run(nnrt, 'run', '%s/%d.tflite' % (folder, k), *inputs, '--device', 'reference', '--reps', b.runs, '--output-dir',
                                '%s/%d' % (folder, k), text=True)
            want = parse(expected[name])
            if done.returncode != 0:
                if isinstance(want, str) or name.startswith(tuple(REFUSED)):
                    counts['refused as TensorFlow Lite' if isinstance(want, str) else 'refused'] += 1
                    continue
                problem = done.stderr.strip()[-300:]
            elif name.startswith(tuple(REFUSED)) and not isinstance(want, str):
                problem = 'is not refused: remove it from REFUSED'
            elif b.wrong:
                problem = 'is not refused'
            elif isinstance(want, str) and b.defined is None:
                problem = becomes.check('%s/%d.tflite' % (folder, k), b)
                if problem is None:
                    counts['more than TensorFlow Lite'] += 1
                    continue
            else:
                got = [np.load('%s/%d/y%d.npy' % (folder, k, i)) for i in range(len(b.outputs))]
                allowed = name.startswith(tuple(ONE))
                problem = None if isinstance(want, str) else compare(got, want, allowed, b.bound)
                if b.defined is not None and problem is None:
                    problem = compare(got, [y.astype(z.dtype) for y, z in zip(b.defined, got)], allowed)
                differs |= {entry for entry in ONE if problem == 'one' and name.startswith(entry)}
                if problem in (None, 'one'):
                    problem = becomes.check('%s/%d.tflite' % (folder, k), b) or problem
            if problem is None or problem == 'one':
                counts['within one unit' if problem else 'exact or within 1e-5'] += 1
                continue
            print('FAIL %s: %s' % (name, problem))
            failed += 1
    for what, wrong in (('never differ by one unit', set(ONE) - differs), ('nested subgraphs', hostile(nnrt)), ('metadata', described(nnrt)),
                        ('float16 weights', half_weights(nnrt)), ('unsupported operators', unsupported(nnrt)),
                        ('the nodes that no model has are not those of UNSEEN', becomes.unseen())):
        if wrong and only == '':
            print('FAIL %s: %s' % (what, wrong))
            failed += 1
    print(', '.join('%d %s' % (n, what) for what, n in counts.items()))
    skipped = counts['refused'] + counts['more than TensorFlow Lite']
    return sum(counts.values()) - skipped, failed, skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('nnrt', nargs='?')
    parser.add_argument('shipped', nargs='?')
    parser.add_argument('--only', default='')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--modules')
    args = parser.parse_args()
    if args.check or args.write:
        return check_table(TABLE, args.modules, CASES, args.write, 'test_tflite.py')
    passed, failed, skipped = test(args.nnrt, args.only, args.shipped)
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed > 0 or passed == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
