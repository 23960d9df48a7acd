#!/usr/bin/env python3
"""A model with dynamic dimensions gives the same results as with fixed ones, for other shapes than its test's.

    test_extents.py [--work DIR] [--only TEXT] [--random N [--seed S]] NNRT

Of each of ONNX's own test models (NNRT_ONNX_TESTDATA, or where Debian's libonnx-testdata has them) all axes of all inputs
become dynamic, except integers of rank 1 or less: these are shapes and parameters, which determine ranks. Every dimension is
then replaced by another one, equal ones by equal ones (MAPS), and the model runs three times on inputs of these shapes: with
the shapes set at the import (--shape), with a session for them from a .nnrt file, and with a session for upper bounds (--max)
where the run sets the shapes. Other tests compare the first way with ONNX's results; the others must give the same bits, or
refuse. A model that only they can run is a fault, too.

The same with N random models of one node (random_models.py; 250, NNRT_LONG=1: 600, from seed 0), some of whose axes are dynamic.

Sums of Gemm have another order with dynamic dimensions: CLOSE, relative to the largest element of an output.

A model that one of the others refuses is skipped only for a reason in REFUSED; these are counted at the end. The last line says
"N passed, N failed, N skipped"; the exit status is 1 when something failed or nothing passed.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import re
import shutil
import sys
import tempfile

import numpy
import onnx
from onnx import helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../kit"))
import commands  # noqa: E402
import random_models  # noqa: E402
from test_convert import FAILED, PASSED, SKIPPED, call

MAPS = {'more': lambda n: n + 1, 'less': lambda n: max(1, n - 1), 'twice': lambda n: 2 * n}
CLOSE = 1e-5
OTHER_SUMS = ('Gemm',)
REFUSED = {
    'nothing bounds output': 'a result as large as values say that only a run tells: it wants a bound of its own',
    'comes into the body as': 'a carried value may grow with each trip: it wants a bound of its own',
    'must be a constant or follow from the shapes': 'axes decide how many axes there are',
    'there is no room for': 'the largest extents that a shape allows make terabytes',
    'requires a fixed size of axis': 'the importer says which extents it has to know',
    'but REFLECT of axis': 'a pad of at least the size of its axis is a GATHER, which the importer makes for a size that it knows',
    'the last dimension of indices': 'indices of GatherND say how many axes there are',
    'is unknown while dimensions are dynamic': 'what no rule can tell with numbers in the place of extents',
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
    """Makes the axes of inputs dynamic; {name: axes} of the inputs with dynamic axes."""
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
    """The array with another shape: its elements repeated, floats slightly changed."""
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
    """(state, way, text) of each way to have dynamic dimensions. files: the model with fixed dimensions, which may be the
    dynamic one, dynamic, and as .nnrt; opened: {name: axes}."""
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
    """Results of all shapes and ways of a model: (state, text)."""
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


# Sizes that are computed from the shape of x [P,T], with the bounds P <= 10 and T <= 6: nodes 'Op inputs > result', which may
# read p and t (int64[1]), x, and constants written as numbers or lists (int64; with a point float32; b: bool). A result n
# becomes the size of y. Then the upper bound of y's shape that follows, worked by hand, and y's shape for any P and T.
LIMITS = (10, 6)
SIZES = ((10, 6), (1, 1), (3, 4), (7, 2), (0, 5))
ARITHMETIC = [
    ('Add p t > n', [16], lambda p, t: p + t),
    ('Add p t > s; Sub s t > n', [10], lambda p, t: p),
    ('Sub 12 p > n', [12], lambda p, t: 12 - p),
    ('Neg p > m; Add m 10 > n', [10], lambda p, t: 10 - p),
    ('Mul p t > n', [60], lambda p, t: p * t),
    ('Sub p 10 > m; Mul m -2 > n', [20], lambda p, t: (p - 10) * -2),
    ('Div p 3 > n', [3], lambda p, t: p // 3),
    ('Mul p 4 > m; Div m 2 > n', [20], lambda p, t: 2 * p),
    ('Add t 1 > d; Div 60 d > n', [60], lambda p, t: 60 // (t + 1)),
    ('Add p 7 > a; Div a 8 > b; Mul b 8 > c; Sub c p > n', [7], lambda p, t: -p % 8),
    ('Add p 7 > a; Div a 8 > b; Mul b 8 > c; Sub c p > d; Add d p > n', [16], lambda p, t: (p + 7) // 8 * 8),
    ('Mod p 4 > n', [3], lambda p, t: p % 4),
    ('Mod(fmod=1) p 4 > n', [3], lambda p, t: p % 4),
    ('Mod p 4 > r; Sub 4 r > s; Mod s 4 > n', [3], lambda p, t: -p % 4),
    ('Sub p t > d; Abs d > n', [10], lambda p, t: abs(p - t)),
    ('Min p t > n', [6], min),
    ('Max p t > n', [10], max),
    ('Sub p 2 > d; Max d 1 > n', [8], lambda p, t: max(p - 2, 1)),
    ('Sub p 3 > d; Clip d 1s 5s > n', [5], lambda p, t: min(max(p - 3, 1), 5)),
    ('Concat(axis=0) p t > s; ReduceProd s > n', [60], lambda p, t: p * t),
    ('Concat(axis=0) p t > s; ReduceSum s > n', [16], lambda p, t: p + t),
    ('Concat(axis=0) p t > s; ReduceMax s > n', [10], max),
    ('Concat(axis=0) p t > s; ReduceMin s > n', [6], min),
    ('Cast(to=1) p > f; Div f 4.0 > q; Ceil q > c; Cast(to=7) c > n', [3], lambda p, t: -(-p // 4)),
    ('Cast(to=1) p > f; Mul f 0.5 > q; Floor q > c; Cast(to=7) c > n', [5], lambda p, t: p // 2),
    ('Cast(to=1) p > f; Mul f 0.3 > q; Cast(to=7) q > n', [3], lambda p, t: int(numpy.float32(p) * numpy.float32(.3))),
    ('Cast(to=6) p > f; Cast(to=7) f > n', [10], lambda p, t: p),
    ('Equal p -1 > e; Where e 100 p > n', [10], lambda p, t: p),
    ('Less p t > e; Add t 3 > u; Where e p u > n', [10], lambda p, t: p if p < t else t + 3),
    ('Less p 100 > a; Equal p -1 > b; Not b > c; And a c > e; Where e p 1000 > n', [10], lambda p, t: p),
    ('Greater p 100 > a; GreaterOrEqual t 7 > b; Or a b > e; Where e 1000 t > n', [6], lambda p, t: t),
    ('LessOrEqual p 10 > e; Where e t 1000 > n', [6], lambda p, t: t),
    ('Min p 2 > i; Gather [2,9,4] i > n', [9], lambda p, t: [2, 9, 4][min(p, 2)]),
    ('Concat(axis=0) t p 77 > s; Slice s [1] [2] > n', [10], lambda p, t: p),
    ('Unsqueeze p [1] > a; Expand a [2,1] > b; Reshape b [2] > c; Gather c [1] > n', [10], lambda p, t: p),
    # an image that is scaled so that its larger side has 8: 8 / max(P, T) * P is 8 at most
    ('Max p t > m; Max m 1 > l; Cast(to=1) l > f; Reciprocal f > r; Mul r 8.0 > s; Cast(to=1) p > g; Mul g s > h; '
     'Floor h > k; Cast(to=7) k > n', [8],
     lambda p, t: int(numpy.float32(p) * (numpy.float32(1) / numpy.float32(max(p, t, 1)) * numpy.float32(8)))),
    # operators that take a size from a value
    ('Squeeze p > a; Add p t > b; Squeeze b > c; Range a c 1s > y', [6], lambda p, t: [t]),
    ('Squeeze p > a; Range a -2s -2s > y', [6], lambda p, t: [(p + 3) // 2]),
    ('Mul p 3 > a; Squeeze a > b; Range 0s b 2s > y', [15], lambda p, t: [(3 * p + 1) // 2]),
    ('Sub p 1 > b; Max b 0 > c; Slice x c p [0] > y', [10, 6], lambda p, t: [min(p, 1), t]),
    ('Slice [[1,2,3,4,5,6,7,8,9,10,11,12]] [0] t [1] > y', [1, 6], lambda p, t: [1, t]),
    ('Add p 1 > e; Slice [1,2,3,4,5,6,7,8,9,10,11,12] p e [0] > y', [1], lambda p, t: [1]),
    ('Concat(axis=0) p p t > s; Equal s [-1,5,-1] > e; Where e s s > w; Unsqueeze x [0] > z; Expand z w > y', [10, 10, 6],
     lambda p, t: [p, p, t]),
    ('Sub 10 p > a; Concat(axis=0) 0 0 a 0 > q; Pad x q > y', [10, 6], lambda p, t: [10, t]),
    ('Sub 10 p > a; Concat(axis=0) a 1 > m; Tile [[5]] m > y', [10, 1], lambda p, t: [10 - p, 1]),
    ('Sub p 1 > a; Max a 0 > b; Concat(axis=0) b t > m; Expand [[5]] m > y', [9, 6], lambda p, t: [max(p - 1, 0), t]),
    ('Concat(axis=0) x [[1.0,2.0,3.0,4.0,5.0,6.0]] > z; Shape z > s; Slice s [0] [1] > a; Sub a p > n', [1],
     lambda p, t: 1),
    ('Sub p 3 > a; Max a 1 > b; Max t 1 > d; Concat(axis=0) 1 1 b d > c; Resize [[[[5.0]]]] _ _ c > y', [1, 1, 7, 6],
     lambda p, t: [1, 1, max(p - 3, 1), max(t, 1)]),
    ('Sub p 9 > a; Abs a > k; TopK(axis=0) [7,5,3,1,2,4,6,8,9,0] k > y i', [9], lambda p, t: [abs(p - 9)]),
    ('Sub 12 p > d; OneHot [1,2] d [0,1] > y', [2, 12], lambda p, t: [2, 12 - p]),
]
# Nothing bounds these: the message names the tensor, wholly, and the option.
LONG_NAME = '/encoder/encoder.layers/encoder.layers.11/encoder.layers.11.attention/attention.self/Expand_1_output_0'
UNBOUNDED = [
    'Cast(to=1) p > f; Exp f > g; Cast(to=7) g > n; ConstantOfShape n > ' + LONG_NAME,
    'NonZero x > z; Cast(to=7) x > v; ReduceSum v > w; Unsqueeze w [0] > u; Reshape u [1] > n; ConstantOfShape n > ' +
    LONG_NAME,
]
# A bound for u propagates: y has one more.
GIVEN = 'Cast(to=1) p > f; Exp f > g; Cast(to=7) g > v; ConstantOfShape v > u; Shape u > s; Add s 1 > n'


def truncated(a, b):
    """a / b as ONNX's Div has it of integers."""
    return int(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


def random_arithmetic(seed):
    """A row of ARITHMETIC without its bound: the same operators in any order, of a size that is 0 to 50 at the end."""
    random = numpy.random.RandomState(seed)
    values, text = [('p', lambda p, t: p), ('t', lambda p, t: t)], []
    compare = {'Less': lambda a, b: a < b, 'LessOrEqual': lambda a, b: a <= b, 'Greater': lambda a, b: a > b,
               'GreaterOrEqual': lambda a, b: a >= b, 'Equal': lambda a, b: a == b}
    binary = {'Add': lambda a, b: a + b, 'Sub': lambda a, b: a - b, 'Mul': lambda a, b: a * b, 'Min': min, 'Max': max,
              'Concat': None, 'Where': None}

    def add(line, function):
        name = 'v%d' % len(values)
        text.append('%s > %s' % (line, name))
        values.append((name, function))
        return name

    for step in range(random.randint(2, 9)):
        (a, f), (b, g) = (values[random.randint(len(values))] for _ in range(2))
        number = int(random.choice([1, 2, 3, 4, 7, 8]))
        kind = random.choice(list(binary) + ['Constant'] * 3 + ['Divide'] * 3 + ['Ceil', 'Floor', 'Mod', 'Neg', 'Abs'])
        if kind == 'Concat':
            how = str(random.choice(['ReduceSum', 'ReduceMax', 'ReduceMin', 'ReduceProd']))
            text.append('Concat(axis=0) %s %s > c%d' % (a, b, step))
            fold = {'ReduceSum': binary['Add'], 'ReduceMax': max, 'ReduceMin': min, 'ReduceProd': binary['Mul']}[how]
            add('%s c%d' % (how, step), lambda p, t, f=f, g=g, fold=fold: fold(f(p, t), g(p, t)))
        elif kind == 'Where':
            how = str(random.choice(list(compare)))
            (c, h), is_so = values[random.randint(len(values))], compare[how]
            text.append('%s %s %s > e%d' % (how, a, c, step))
            add('Where e%d %s %s' % (step, a, b),
                lambda p, t, f=f, g=g, h=h, is_so=is_so: f(p, t) if is_so(f(p, t), h(p, t)) else g(p, t))
        elif kind in binary:
            add('%s %s %s' % (kind, a, b), lambda p, t, f=f, g=g, o=binary[kind]: o(f(p, t), g(p, t)))
        elif kind == 'Constant':
            how = str(random.choice(['Add', 'Sub', 'Mul', 'Min', 'Max']))
            add('%s %s %d' % (how, a, number), lambda p, t, f=f, o=binary[how], n=number: o(f(p, t), n))
        elif kind == 'Divide':
            add('Div %s %d' % (a, number), lambda p, t, f=f, n=number: truncated(f(p, t), n))
        elif kind == 'Mod':
            add('Mod %s %d' % (a, number), lambda p, t, f=f, n=number: f(p, t) % n)
        elif kind in ('Neg', 'Abs'):
            add('%s %s' % (kind, a), lambda p, t, f=f, o=abs if kind == 'Abs' else lambda v: -v: o(f(p, t)))
        else:
            text.append('Clip %s -9999s 9999s > k%d; Cast(to=1) k%d > f%d; Div f%d %d.0 > q%d; %s q%d > r%d' % (
                a, step, step, step, step, number, step, kind, step, step))
            sign = -1 if kind == 'Ceil' else 1
            add('Cast(to=7) r%d' % step,
                lambda p, t, f=f, n=number, s=sign: s * (s * min(max(f(p, t), -9999), 9999) // n))
    name, function = values[-1]
    return '; '.join(text) + '; Clip %s 0s 50s > n' % name, lambda p, t: min(max(function(p, t), 0), 50)


def arithmetic_constant(text):
    """The constant that a word of ARITHMETIC states: 3, 3s (no axes), 0.5, [1,2]."""
    scalar = text.endswith('s')
    value = json.loads(text.rstrip('s'))
    value = value if isinstance(value, list) or scalar else [value]
    array = numpy.array(value)
    return array.astype('float32' if array.dtype.kind == 'f' else 'int64')


def arithmetic_model(text):
    """The model of a row of ARITHMETIC or UNBOUNDED."""
    constants = {'zero': numpy.array([0]), 'one': numpy.array([1])}
    nodes = [helper.make_node('Shape', ['x'], ['shape']), helper.make_node('Gather', ['shape', 'zero'], ['p']),
             helper.make_node('Gather', ['shape', 'one'], ['t'])]
    for item in text.split('; '):
        left, right = item.split(' > ')
        op, *inputs = left.split()
        kind, _, attributes = op.rstrip(')').partition('(')
        for word in inputs:
            if re.match(r'[-\d\[]', word):
                constants[word] = arithmetic_constant(word)
        extra = {'keepdims': 1} if kind.startswith('Reduce') else {}
        for pair in filter(None, attributes.split(',')):
            extra[pair.split('=')[0]] = int(pair.split('=')[1])
        nodes.append(helper.make_node(kind, ['' if i == '_' else i for i in inputs], right.split(), **extra))
    last = nodes[-1].output[0]
    if last == 'n':
        nodes.append(helper.make_node('ConstantOfShape', ['n'], ['y']))
        last = 'y'
    model = helper.make_model(helper.make_graph(
        nodes, 'arithmetic', [helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, ['P', 'T'])],
        [onnx.ValueInfoProto(name=last)], [numpy_helper.from_array(v, k) for k, v in constants.items()]),
        opset_imports=[helper.make_opsetid('', 13)])
    model.ir_version = 7
    return model


def try_arithmetic(nnrt, tmp, seeds):
    """As try_model: upper bounds of shapes that are computed from shapes. Of random ones: that there is a bound, and that
    it is large enough."""
    path, given, folder = (os.path.join(tmp, name) for name in ('arithmetic.onnx', 'arithmetic.npy', 'arithmetic'))
    limit = ['--max', 'x=%d,%d' % LIMITS]
    rows = ARITHMETIC + [(text, None, shape) for text, shape in map(random_arithmetic, seeds)]
    for text, bound, shape in rows:
        onnx.save(arithmetic_model(text), path)
        done = commands.run(nnrt, 'info', path, '--json', *limit, text=True)
        found = json.loads(done.stdout)['outputs'][0]['shape'] if done.returncode == 0 else done.stderr.strip()
        good = found == bound or (bound is None and isinstance(found, list) and found[0] <= 50)
        yield ((PASSED, '') if good else
               (FAILED, '%s: the bound is %s, expected %s' % (text, found, bound)))
        for p, t in SIZES:
            numpy.save(given, numpy.ones((p, t), 'float32'))
            status, said = call(nnrt, 'run', path, '--input', given, '--output-dir', folder, *limit)
            want = shape(p, t)
            want = want if isinstance(want, list) else [want]
            found = list(numpy.load(os.path.join(folder, 'y.npy')).shape) if status == 0 else None
            yield ((PASSED, '') if found == want else
                   (FAILED, '%s, P=%d, T=%d: %s, expected %s' % (text, p, t, found if status == 0 else said, want)))
            shutil.rmtree(folder, ignore_errors=True)
    onnx.save(arithmetic_model(GIVEN), path)
    done = commands.run(nnrt, 'info', path, '--json', *limit, '--max', 'u=30', text=True)
    found = json.loads(done.stdout)['outputs'][0]['shape'] if done.returncode == 0 else done.stderr.strip()
    yield (PASSED, '') if found == [31] else (FAILED, '%s, u given: the bound is %s, expected [31]' % (GIVEN, found))
    for text in UNBOUNDED:
        onnx.save(arithmetic_model(text), path)
        done = commands.run(nnrt, 'info', path, *limit, text=True)
        said = done.stdout + done.stderr
        good = done.returncode == 0 and "'%s': its shape depends" % LONG_NAME in said and "--max '%s=D" % LONG_NAME in said
        yield (PASSED, '') if good else (FAILED, '%s: %s' % (text, said))


def main():
    """Runs all; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--work', help='for temporary files')
    parser.add_argument('--only', default='', help='models whose path has this text')
    parser.add_argument('--random', type=int, default=600 if os.environ.get('NNRT_LONG') else 250, metavar='N', help='random models')
    parser.add_argument('--seed', type=int, default=0, metavar='S', help='of the first random model')
    parser.add_argument('--arithmetic', action='store_true', help='only shapes that are computed from shapes')
    parser.add_argument('nnrt')
    args = parser.parse_args()
    root = os.environ.get('NNRT_ONNX_TESTDATA', '/usr/share/libonnx-testdata/data')
    paths = sorted(os.path.join(folder, 'model.onnx') for folder, _, files in os.walk(root) if 'model.onnx' in files)
    paths = [path for path in paths if args.only in path and not args.arithmetic]
    counts, reasons = collections.Counter(), collections.Counter()
    tmp = tempfile.mkdtemp(dir=args.work)
    try:
        with concurrent.futures.ThreadPoolExecutor(min(int(os.environ.get('JOBS', 2)), os.cpu_count() or 1)) as pool:
            nnrt, seeds = os.path.abspath(args.nnrt), range(args.seed, args.seed + args.random)
            for found in itertools.chain([try_arithmetic(nnrt, tmp, seeds if args.arithmetic else seeds[:80])],
                                         pool.map(lambda path: try_model(nnrt, path, tmp), paths),
                                         pool.map(lambda seed: try_random(nnrt, seed, tmp),
                                                  [] if args.arithmetic else seeds)):
                for state, said in found:
                    if state == SKIPPED and said is None:
                        continue  # fixed dimensions do not run either: there is nothing to compare with
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
