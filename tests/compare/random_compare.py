#!/usr/bin/env python3
"""Random models of one node (tests/kit/random_models.py) give the results of ONNX Runtime.

    random_compare.py --work DIR [--number N] [--seed S] [--nnrt FILE]

DIR/node_modules has onnxruntime-node (run.sh fetches it). Shapes and types must be equal; elements may differ by RELATIVE of
their size and ABSOLUTE, as the order of sums differs. Models that only one of the two supports are counted, as are the cases of
KNOWN, in which nnrt follows the specification of ONNX. Exit status 1: something else differs.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys

import numpy
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../kit"), os.path.join(HERE, "../formats")]
import random_models  # noqa: E402
from test_convert import call  # noqa: E402

RELATIVE, ABSOLUTE = 1e-4, 1e-5


def backward_to_the_end(case):
    """An end of INT_MAX in a backward slice: no element is selected; ONNX Runtime takes all down to the first element."""
    return case.op == 'Slice' and any(end == 2**31 - 1 and step < 0 for end, step in
                                      zip(case.values['ends'], case.values['steps']))


def below_the_stride(case):
    """auto_pad SAME with a kernel below the stride: a result of L * stride, or ceil(L / stride) windows from the first
    element on; ONNX Runtime makes the first smaller, and pads the second by less than nothing."""
    kernel = case.values['w'].shape[2:] if 'w' in case.values else case.attributes.get('kernel_shape', [1, 1])
    return (case.attributes.get('auto_pad', '').startswith('SAME') and
            any(k < s for k, s in zip(kernel, case.attributes.get('strides', [1, 1]))))


def tie(case):
    """Resize to the nearest element: ONNX Runtime computes coordinates in float32, where some become ties that exactly are
    not."""
    if case.op != 'Resize' or case.attributes['mode'] != 'nearest' or 'scales' not in case.values:
        return False
    shift = 0 if case.attributes['coordinate_transformation_mode'] == 'asymmetric' else 0.5
    places = [(i + shift) / float(scale) - shift for extent, scale in zip(case.values['x'].shape, case.values['scales'])
              for i in range(int(extent * scale)) if scale != 1]
    return any(abs(2 * place - round(2 * place)) < 1e-5 for place in places)


KNOWN = [backward_to_the_end, below_the_stride, tie]


def prepare(folder, seed):
    """Writes the model of a seed and its inputs; (case, task for both programs)."""
    case = random_models.make(seed)
    here = os.path.join(folder, str(seed))
    os.makedirs(here)
    onnx.save(random_models.model(case, {}), os.path.join(here, 'model.onnx'))
    inputs = {}
    for name, value in case.values.items():
        if name not in case.constants:
            inputs[name] = os.path.join(here, name + '.npy')
            numpy.save(inputs[name], value)
    return case, {'model': os.path.join(here, 'model.onnx'), 'inputs': inputs, 'output': os.path.join(here, 'ort')}


def outcome(nnrt, case, task):
    """The result of one model."""
    ours = os.path.join(os.path.dirname(task['model']), 'nnrt')
    given = [word for name, path in task['inputs'].items() for word in ('--input', '%s=%s' % (name, path))]
    status, _ = call(nnrt, 'run', task['model'], *given, '--output-dir', ours)
    theirs = not os.path.exists(os.path.join(task['output'], 'error.txt'))
    if status != 0 or not theirs:
        return 'taken by neither' if status != 0 and not theirs else 'taken by ONNX Runtime only' if theirs else 'taken by nnrt only'
    for name in sorted(os.listdir(task['output'])):
        a, b = (numpy.load(os.path.join(folder, name)) for folder in (task['output'], ours))
        if a.dtype == b.dtype and a.shape == b.shape and numpy.allclose(a, b, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True):
            continue
        for known in KNOWN:
            if known(case):
                return 'other by the specification: ' + known.__name__.replace('_', ' ')
        return 'DIFFERENT in %s: %s%s there, %s%s here' % (name, a.dtype, list(a.shape), b.dtype, list(b.shape))
    return 'equal'


def main():
    """Runs all; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--work', required=True)
    parser.add_argument('--number', type=int, default=1000, metavar='N')
    parser.add_argument('--seed', type=int, default=0, metavar='S', help='of the first model')
    parser.add_argument('--nnrt', default='build/nnrt')
    args = parser.parse_args()
    folder = os.path.abspath(os.path.join(args.work, 'random'))
    shutil.rmtree(folder, ignore_errors=True)
    made = [prepare(folder, seed) for seed in range(args.seed, args.seed + args.number)]
    tasks = os.path.join(folder, 'list.json')
    with open(tasks, 'w', encoding='utf-8') as f:
        json.dump([task for _, task in made], f)
    subprocess.run(['node', os.path.join(HERE, 'ort.mjs'), '--modules', args.work, '--list', tasks], check=True,
                   stderr=subprocess.DEVNULL)
    counts = collections.Counter()
    for seed, (case, task) in enumerate(made, args.seed):
        found = outcome(args.nnrt, case, task)
        counts[found.split(' in ')[0]] += 1
        if found.startswith('DIFFERENT'):
            print('seed %d, %s %s: %s' % (seed, case.op, case.attributes, found))
    for found, count in counts.most_common():
        print('%7d  %s' % (count, found))
    return 1 if counts['DIFFERENT'] or not counts['equal'] else 0


if __name__ == '__main__':
    sys.exit(main())
