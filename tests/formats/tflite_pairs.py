#!/usr/bin/env python3
"""Draws random models of one operator and compares their results with TensorFlow Lite, by operator and element type.

    tflite_pairs.py [--number N] [--seed S] [--only TEXT] [--device NAME] --modules DIR NNRT   draws N models of each pair
    tflite_pairs.py NNRT                                  compares NNRT with tests/formats/tflite_pairs.txt: one model of each pair
    tflite_pairs.py --check|--write --modules DIR         compares tests/formats/tflite_pairs.txt with TensorFlow Lite, or writes it
    DIR is node_modules with @tensorflow/tfjs-tflite: TensorFlow Lite as WebAssembly, run by node.

Shapes, options, quantization parameters and elements of a model follow from its name: operator, type, seed, number. Floats may
differ by 1e-5 of the largest magnitude, 8-bit results by one unit for the pairs of ONE, everything else not at all. Prints a row
per pair: models that TensorFlow Lite runs, exact results, results off by one unit, models that NNRT refuses, and wrong results.
REFUSED lists models that NNRT refuses and TensorFlow Lite runs; models that TensorFlow Lite refuses are not compared. The exit
status is 1 if a result is wrong, or a model is refused that REFUSED does not list.
"""
import argparse
import collections
import os
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../kit'))
import commands  # noqa: E402
import tflite_pairs_numbers  # noqa: E402, F401 (they fill PAIRS)
import tflite_pairs_shapes  # noqa: E402, F401
import tflite_table as tflite  # noqa: E402
from tflite_draw import PAIRS  # noqa: E402

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tflite_pairs.txt')
# Pairs whose 8-bit results may differ by one unit, and why.
OTHER_MEAN = 'TensorFlow Lite computes the mean in other steps, some of which truncate'
ONE_ROUNDING = 'TensorFlow Lite rounds once, the bits of docs/quantization.md have two roundings'
OTHER_SUM = 'TensorFlow Lite computes the sum in float32'
ONE = {
    ('BATCH_MATMUL', 'int8'): ONE_ROUNDING,
    ('CONCATENATION', 'uint8'): 'TensorFlow Lite converts inputs with other parameters in float32',
    ('CONV_2D', 'int8'): ONE_ROUNDING,
    ('L2_NORMALIZATION', 'uint8'): 'TensorFlow Lite rounds otherwise than for int8, whose bits both types have here',
    ('MEAN', 'int8'): OTHER_MEAN,
    ('MEAN', 'uint8'): OTHER_MEAN,
    ('RESIZE_BILINEAR', 'uint8'): 'TensorFlow Lite interpolates uint8 in float32, here in integers as int8',
    ('SUM', 'int8'): OTHER_SUM,
    ('SUM', 'uint8'): OTHER_SUM,
}
# (operator, part of the message) of models that NNRT refuses and TensorFlow Lite runs: why.
REFUSED = {}


def models(number, seed, only=''):
    """{name of a model: function that builds it}"""
    return {'%s %s %d.%d' % (op, kind, seed, k): draw for (op, kind), draw in sorted(PAIRS.items()) for k in range(number)
            if only in '%s %s' % (op, kind)}


class Row:
    def __init__(self):
        self.ran = self.exact = self.one = self.refused = self.wrong = 0


def compare(nnrt, device, cases, expected):
    """{(operator, type): Row}; prints wrong results and refusals."""
    rows, refusals = collections.defaultdict(Row), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for k, name, b in tflite.write_models(folder, sorted(cases), cases=cases):
            want, pair = tflite.parse(expected[name]), tuple(name.split()[:2])
            row = rows[pair]
            if isinstance(want, str):
                continue
            row.ran += 1
            path = '%s/%d' % (folder, k)
            inputs = [a for i in range(len(b.values)) for a in ('--input', 'x%d=%s_%d.npy' % (i, path, i))]
            done = commands.run(nnrt, 'run', path + '.tflite', *inputs, '--device', device, '--output-dir', path, text=True)
            if done.returncode != 0:
                message = done.stderr.strip()
                listed = [entry for entry in REFUSED if entry[0] == pair[0] and entry[1] in message]
                refusals.update(listed)
                row.refused += 1
                if not listed:
                    print('REFUSED %s: %s' % (name, message[-300:]))
                    row.wrong += 1
                continue
            got = [np.load('%s/y%d.npy' % (path, i)) for i in range(len(b.outputs))]
            problem = tflite.compare(got, want, pair in ONE)
            if problem not in (None, 'one'):
                print('WRONG %s: %s' % (name, problem))
            row.exact += problem is None
            row.one += problem == 'one'
            row.wrong += problem not in (None, 'one')
    return rows, refusals


def print_rows(rows, refusals):
    print('%-28s %-8s %6s %6s %10s %8s %6s' % ('operator', 'type', 'models', 'exact', 'off by one', 'refused', 'wrong'))
    for (op, kind), row in sorted(rows.items()):
        print('%-28s %-8s %6d %6d %10d %8d %6d' % (op, kind, row.ran, row.exact, row.one, row.refused, row.wrong))
    for entry, count in sorted(refusals.items()):
        print('%d refused: %s, %s: %s' % (count, *entry, REFUSED[entry]))
    for pair in sorted(p for p in ONE if p in rows and rows[p].one):
        print('%d off by one: %s %s: %s' % (rows[pair].one, *pair, ONE[pair]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('nnrt', nargs='?')
    parser.add_argument('--number', type=int, default=20)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', default='')
    parser.add_argument('--device', default='reference')
    parser.add_argument('--modules')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--write', action='store_true')
    args = parser.parse_args()
    recorded = models(1, 0)
    if args.check or args.write:
        return tflite.check_table(TABLE, args.modules, recorded, args.write, 'tflite_pairs.py')
    if args.modules is None:
        cases, expected = {n: d for n, d in recorded.items() if args.only in n}, tflite.read_table(TABLE)
    else:
        cases = models(args.number, args.seed, args.only)
        expected = tflite.run_tflite(args.modules, cases)
    rows, refusals = compare(args.nnrt, args.device, cases, expected)
    if args.modules is not None:
        print_rows(rows, refusals)
    ran = [row for row in rows.values() if row.ran > 0]
    total = {name: sum(getattr(row, name) for row in ran) for name in ('ran', 'exact', 'one', 'refused', 'wrong')}
    print('%d operator-type pairs, %d models: %d exact or within 1e-5, %d off by one unit where stated, %d refused, %d wrong' % (
        len(ran), total['ran'], total['exact'], total['one'], total['refused'], total['wrong']))
    print('%d passed, %d failed, %d skipped' % (total['exact'] + total['one'], total['wrong'], total['refused']))
    return 1 if total['wrong'] > 0 or len(ran) == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
