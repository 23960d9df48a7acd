#!/usr/bin/env python3
"""A model whose extents are left open gives what it gives with the extents written in: at other extents than its test's.

    test_extents.py [--work DIR] [--only TEXT] [--random N [--seed S]] NNRT

Of each of ONNX's own test models (NNRT_ONNX_TESTDATA, or where Debian's libonnx-testdata has them) all axes of all inputs
become open, but for integers of one axis or none: those are shapes and parameters, and decide how many axes there are.
Every extent is then exchanged for another one, equal ones for equal ones (MAPS), and the model runs three times on inputs of
these shapes: with the extents given to the import (--shape), with a session for them from a .nnrt file, and with a session
for larger ones (--max) whose run brings them. The first way is the one that other tests compare with ONNX's results; the
others must give the same bits, or refuse. What only they run is a fault, too.

The same with N random models of one node (random_models.py; 600, from seed 0), some of whose axes are open.

Sums of Gemm are made in another order where extents are open: CLOSE, relative to the largest element of an output.

What one of the others refuses is skipped for the reasons of REFUSED only, which are counted at the end. The last line says "N passed, N failed, N skipped"; the exit status is 1 when something failed or nothing
passed.
"""
import argparse
import collections
import concurrent.futures
import itertools
import os
import re
import shutil
import sys
import tempfile

import numpy
import onnx
from onnx import numpy_helper

import random_models
from test_convert import FAILED, PASSED, SKIPPED, call

MAPS = {'more': lambda n: n + 1, 'less': lambda n: max(1, n - 1), 'twice': lambda n: 2 * n}
CLOSE = 1e-5
OTHER_SUMS = ('Gemm',)
REFUSED = {
    'nothing bounds output': 'a result as large as values say that only a run tells: it wants a bound of its own',
    'comes into the body as': 'a carried value may grow with each trip: it wants a bound of its own',
    'must be a constant or follow from the shapes': 'axes decide how many axes there are',
    'there is no room for': 'the largest extents that a shape allows make terabytes',
    'give the inputs\' extents': 'the importer says which extents it has to know',
    'the last extent of indices': 'indices of GatherND say how many axes there are',
    'extents are known: give them': 'what no rule can tell with numbers in the place of extents',
    'the last window has no cell': 'ceil_mode of an open extent keeps windows that begin behind the data',
}


def test_inputs(folder, names):
    """{name: array} of the first data set; None where one is no tensor of numbers."""
    values = {}
    for i, name in enumerate(names):
        tensor = onnx.TensorProto()
        try:
            with open(os.path.join(folder, 'test_data_set_0', 'input_%d.pb' % i), 'rb') as f:
                tensor.ParseFromString(f.read())
            values[name] = numpy_helper.to_array(tensor)
        except Exception:  # a sequence, or nothing: protobuf's own errors have no common class
            return None
        if values[name].dtype.kind not in 'fiub':
            return None
    return values


def open_axes(model, values):
    """Leaves the axes of inputs open; {name: axes} of those that have such."""
    opened = {}
    for item in model.graph.input:
        array = values.get(item.name)
        if array is None or array.ndim == 0 or (array.ndim == 1 and array.dtype.kind in 'iu'):
            continue
        for k, dim in enumerate(item.type.tensor_type.shape.dim):
            dim.dim_param = '%s_%d' % (item.name, k)
        opened[item.name] = list(range(array.ndim))
    del model.graph.value_info[:]
    for item in model.graph.output:
        if item.type.HasField('tensor_type'):
            item.type.tensor_type.ClearField('shape')
    return opened


def resized(array, change, random):
    """The array with other extents: its elements again and again, floats moved a little."""
    shape = [change(n) if n > 0 else n for n in array.shape]
    count = int(numpy.prod(shape))
    flat = numpy.resize(array.reshape(-1), count) if array.size else numpy.zeros(count, array.dtype)
    if array.dtype.kind == 'f':
        flat = flat + random.randint(0, 8, count).astype(array.dtype) / 16
    return flat.astype(array.dtype).reshape(shape)


def difference(wanted, got, close):
    """None, or how the files of two folders differ."""
    names = sorted(os.listdir(wanted))
    if names != sorted(os.listdir(got)):
        return 'other outputs'
    for name in names:
        a, b = (numpy.load(os.path.join(folder, name)) for folder in (wanted, got))
        if a.dtype != b.dtype or a.shape != b.shape:
            return '%s is %s%s, not %s%s' % (name, b.dtype, list(b.shape), a.dtype, list(a.shape))
        if a.tobytes() == b.tobytes():
            continue
        if not close or not numpy.allclose(a, b, rtol=0, equal_nan=True,
                                           atol=CLOSE * (1 + float(numpy.abs(a[numpy.isfinite(a)]).max(initial=0)))):
            return 'other bits in %s' % name
    return None


def attempt(nnrt, files, values, opened, work, close):
    """(state, way, what is to be said) of each way to leave the extents open. files: the model with the extents written in,
    which may be the open one, open, and as .nnrt; opened: {name: axes}."""
    given, shapes, most = [], [], []
    for name, array in values.items():
        path = os.path.join(work, '%s.npy' % re.sub(r'\W', '_', name))
        numpy.save(path, array)
        given += ['--input', '%s=%s' % (name, path)]
        if name in opened:
            shapes += ['--shape', '%s=%s' % (name, ','.join(str(n) for n in array.shape))]
            most += ['--max', '%s=%s' % (name, ','.join(str(n + 2 if k in opened[name] else n)
                                                        for k, n in enumerate(array.shape)))]
    folders = [os.path.join(work, way) for way in ('import', 'session', 'run')]
    wanted = call(nnrt, 'run', files[0], '--device', 'reference', *given, *(shapes if files[0] == files[1] else []), '--output-dir', folders[0])
    for way, source, how, folder in (('session', files[2], shapes, folders[1]), ('run', files[1], most, folders[2])):
        status, said = call(nnrt, 'run', source, '--device', 'reference', *given, *how, '--output-dir', folder)
        why = [text for words, text in REFUSED.items() if words in said]
        if status != 0 and (why or wanted[0] != 0):
            yield SKIPPED, way, why[0] if wanted[0] == 0 else None
        elif status != 0:
            yield FAILED, way, 'is refused: ' + said
        elif wanted[0] != 0 and 'budget' not in wanted[1]:
            yield FAILED, way, 'runs, but not with the extents written in: ' + wanted[1]
        elif wanted[0] == 0:
            wrong = difference(folders[0], folder, close)
            yield (PASSED, way, '') if wrong is None else (FAILED, way, wrong)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def try_model(nnrt, path, tmp):
    """What came of all extents and ways of a model: (state, what is to be said)."""
    name = os.path.basename(os.path.dirname(path))
    work = tempfile.mkdtemp(dir=tmp)
    found = []
    try:
        model = onnx.load(path)
        constants = {item.name for item in model.graph.initializer}
        values = test_inputs(os.path.dirname(path), [i.name for i in model.graph.input if i.name not in constants])
        opened = open_axes(model, values) if values else {}
        if not opened:
            return found
        changed, converted = os.path.join(work, 'model.onnx'), os.path.join(work, 'model.nnrt')
        onnx.save(model, changed)
        if call(nnrt, 'convert', changed, converted)[0] != 0:
            return found
        close = any(node.op_type in OTHER_SUMS for node in model.graph.node)
        random = numpy.random.RandomState(1)
        for how, change in MAPS.items():
            others = {k: resized(v, change, random) if k in opened else v for k, v in values.items()}
            for state, way, said in attempt(nnrt, [changed, changed, converted], others, opened, work, close):
                found.append((state, '%s, extents %s, told in the %s: %s' % (name, how, way, said)
                              if state == FAILED else said))
        return found
    finally:
        shutil.rmtree(work, ignore_errors=True)


def try_random(nnrt, seed, tmp):
    """As try_model, with the random model of a seed."""
    case = random_models.make(seed)
    opened = random_models.open_some(case)
    values = {name: value for name, value in case.values.items() if name not in case.constants}
    work = tempfile.mkdtemp(dir=tmp)
    try:
        files = [os.path.join(work, name) for name in ('fixed.onnx', 'open.onnx', 'open.nnrt')]
        if not opened:
            return []
        onnx.save(random_models.model(case, {}), files[0])
        onnx.save(random_models.model(case, opened), files[1])
        status, said = call(nnrt, 'convert', files[1], files[2])
        if status != 0:
            why = [text for words, text in REFUSED.items() if words in said]
            fixed = call(nnrt, 'convert', files[0], files[2])[0]
            if why or fixed != 0:
                return [(SKIPPED, why[0] if why and fixed == 0 else None)]
            return [(FAILED, 'seed %d, %s %s: %s' % (seed, case.op, case.attributes, said))]
        return [(state, 'seed %d, %s %s, told in the %s: %s' % (seed, case.op, case.attributes, way, said)
                 if state == FAILED else said)
                for state, way, said in attempt(nnrt, files, values, opened, work, False)]
    finally:
        shutil.rmtree(work, ignore_errors=True)


def main():
    """Runs all; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--work', help='for temporary files')
    parser.add_argument('--only', default='', help='models whose path has this text')
    parser.add_argument('--random', type=int, default=600, metavar='N', help='random models')
    parser.add_argument('--seed', type=int, default=0, metavar='S', help='of the first random model')
    parser.add_argument('nnrt')
    args = parser.parse_args()
    root = os.environ.get('NNRT_ONNX_TESTDATA', '/usr/share/libonnx-testdata/data')
    paths = sorted(os.path.join(folder, 'model.onnx') for folder, _, files in os.walk(root) if 'model.onnx' in files)
    paths = [path for path in paths if args.only in path]
    counts, reasons = collections.Counter(), collections.Counter()
    tmp = tempfile.mkdtemp(dir=args.work)
    try:
        with concurrent.futures.ThreadPoolExecutor(min(int(os.environ.get('JOBS', 2)), os.cpu_count() or 1)) as pool:
            nnrt, seeds = os.path.abspath(args.nnrt), range(args.seed, args.seed + args.random)
            for found in itertools.chain(pool.map(lambda path: try_model(nnrt, path, tmp), paths),
                                         pool.map(lambda seed: try_random(nnrt, seed, tmp), seeds)):
                for state, said in found:
                    if state == SKIPPED and said is None:
                        continue  # nor do the extents written in: there is nothing to compare with
                    counts[state] += 1
                    if state == FAILED:
                        print('FAIL ' + said, flush=True)
                    elif state == SKIPPED:
                        reasons[said] += 1
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
    if reasons:
        print('skipped  because of')
        for text, count in reasons.most_common():
            print('%7d  %s' % (count, text))
        print()
    print('%d passed, %d failed, %d skipped' % (counts[PASSED], counts[FAILED], counts[SKIPPED]))
    return 1 if counts[FAILED] or not counts[PASSED] else 0


if __name__ == '__main__':
    sys.exit(main())
