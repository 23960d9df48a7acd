"""Results of TensorFlow Lite, for test_tflite.py and tflite_pairs.py: the files of --write, and comparisons."""
import os
import subprocess
import tempfile

import numpy as np

from tflite_builder import CASES, Builder

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = '@tensorflow/tfjs-tflite'
TYPES = {'float32': '<f4', 'int32': '<i4', 'int8': 'i1', 'uint8': 'u1'}


def model(name, reference=False, cases=CASES):
    """The model of a case, a Builder."""
    b = Builder(name, reference)
    cases[name](b)
    b.finish()
    return b


def write_models(folder, names, dynamic=False, cases=CASES):
    """Writes models and inputs. dynamic: with one more operator, whose result has a dynamic shape: TensorFlow Lite then
    computes all of the model with its own kernels, not with XNNPACK's, which round differently."""
    for k, name in enumerate(names):
        b = model(name, dynamic, cases)
        if dynamic:
            b.op('RESHAPE', [b.x((4,)), b.x((2,), 'int32', value=[2, 2])], [b.y()])
        with open(os.path.join(folder, '%d.tflite' % k), 'wb') as f:
            f.write(b.bytes())
        for i, value in enumerate(b.values):
            value.tofile(os.path.join(folder, '%d_%d.bin' % (k, i)))
            np.save(os.path.join(folder, '%d_%d.npy' % (k, i)), value)
        yield k, name, b


def parse(text):
    """[(type, shape, array)] of a line's results, or the reason of a refusal."""
    if text.startswith('-'):
        return text
    results = []
    for part in text.split('; '):
        kind, shape, data = part.split(' ')
        shape = [int(n) for n in shape.split(',')] if shape != '-' else []
        results.append(np.frombuffer(bytes.fromhex('' if data == '-' else data), TYPES[kind]).reshape(shape))
    return results


def run_tflite(modules, cases=CASES):
    """{name: line of a table}: the results of TensorFlow Lite."""
    names = sorted(cases)
    with tempfile.TemporaryDirectory() as folder:
        lines = [' '.join(['%d*%s/%d.tflite' % (b.runs, folder, k)] + ['%s/%d_%d.bin' % (folder, k, i) for i in range(len(b.values))])
                 for k, _, b in write_models(folder, names, True, cases)]
        with open(os.path.join(folder, 'list'), 'w') as f:
            f.write('\n'.join(lines) + '\n')
        done = subprocess.run(['node', os.path.join(HERE, '../compare/tflite.cjs'), modules, f.name], check=True, capture_output=True,
                              text=True)
    results = done.stdout.strip('\n').split('\n')
    assert len(results) == len(names), (len(results), len(names), done.stderr)
    results = [r.strip() if r.startswith('-') else r.rsplit('; ', 1)[0] for r in results]
    return dict(zip(names, results))


def compare(got, expected, allowed=False, bound=None):
    """None, or the difference; 'one' if 8-bit elements differ by one unit and that is allowed. bound: of differences of floats."""
    one = False
    if len(got) != len(expected):
        return '%d results, expected %d' % (len(got), len(expected))
    for y, want in zip(got, expected):
        if y.dtype != want.dtype or y.shape != want.shape:
            return '%s%s, expected %s%s' % (y.dtype, list(y.shape), want.dtype, list(want.shape))
        if y.size == 0:
            continue
        if y.dtype == np.float32:
            worst = np.max(np.abs(y.astype(float) - want))
            if not worst <= (1e-5 * np.max(np.abs(want)) if bound is None else bound):
                return 'differs by %g, largest magnitude %g' % (worst, np.max(np.abs(want)))
            continue
        worst = np.max(np.abs(y.astype(np.int64) - want))
        if worst > (1 if y.itemsize == 1 and allowed else 0):
            return 'differs by %d in %d of %d elements' % (worst, np.sum(y != want), y.size)
        one = one or worst == 1
    return 'one' if one else None


def read_table(path):
    """{name: results} of a file of --write."""
    with open(path) as f:
        return dict(line.rstrip('\n').split('\t') for line in f if not line.startswith('#'))


def check_table(path, modules, cases, write, program):
    """Compares a table with TensorFlow Lite, or writes it. Returns the exit status."""
    with open(os.path.join(modules, PACKAGE, 'package.json')) as f:
        version = f.read().split('"version": "')[1].split('"')[0]
    results = run_tflite(modules, cases)
    text = '# results of TensorFlow Lite (npm %s %s, WebAssembly), written by %s --write\n' % (PACKAGE, version, program)
    text += ''.join('%s\t%s\n' % (name, results[name].strip()) for name in sorted(results))
    if write:
        with open(path, 'w') as f:
            f.write(text)
    with open(path) as f:
        same = f.read() == text
    print('%d passed, %d failed' % ((len(results), 0) if same else (0, 1)))
    return 0 if same else 1
