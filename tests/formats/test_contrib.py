#!/usr/bin/env python3
"""Operators of com.microsoft, the domain of ONNX Runtime's quantizer, optimizer and exporters (contrib_microsoft.py), and of
ai.onnx.ml (contrib_ml.py); new operators of ONNX, and operators in float64 (contrib_onnx.py); packed weights of DequantizeLinear
(contrib_weights.py).

    test_contrib.py [--jobs N] [--only TEXT] NNRT [PLAIN]   compares NNRT with tests/formats/contrib.txt
    test_contrib.py --check|--write --ort DIR               compares tests/formats/contrib.txt with ONNX Runtime, or writes it

tests/formats/contrib.txt has the results of ONNX Runtime for each case: type, shape and bytes of each output. NNRT runs each model as it comes,
with --no-quantize, and from an unoptimized import whose batch and sequence are dynamic dimensions; the operators of that must be those
that `nnrt ops --onnx` lists, but for computations with dimensions. An 8-bit result may differ by one unit: quantized operators of the
runtime round twice, ONNX Runtime computes with one rounding or with a table. An average is first rounded in the scale of the input, half
of which may be more units of the result: such a case states units. A float result may differ by 1e-5 of the largest magnitude of
the result, 80 roundings of float32, or by `near` of it: in ONNX Runtime DynamicQuantizeLSTM rounds x and the state to 8 bits, and
differs from LSTM with the same weights in float32 by up to 2.2e-2 in 144 random models. NaN and Inf must be equal. Cases that ONNX
Runtime does not run state their results (`want`), from definitions in numpy. Models that must
be refused state a part of the message. A random forest and packed weights also run as C.

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
from onnx import load_from_string

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../kit'))
import commands  # noqa: E402
import contrib_microsoft  # noqa: E402
import contrib_ml  # noqa: E402
import contrib_onnx  # noqa: E402
import contrib_weights  # noqa: E402
from contrib_case import DOMAIN, Case, Constant  # noqa: E402
from test_quantized import line_of, value_of  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, 'contrib.txt')


def every():
    yield from contrib_microsoft.cases()
    yield from contrib_ml.cases(Case)
    yield from contrib_onnx.cases(Case, Constant)


def refused():
    """(part of the message, case): models that neither run nor give a wrong number."""
    yield from contrib_microsoft.refused()
    yield from contrib_ml.refused(Case)
    yield from contrib_onnx.refused(Case)


def save_inputs(folder, case):
    files = {}
    for name, value in case.feeds.items():
        files[name] = os.path.join(folder, name + '.npy')
        np.save(files[name], value)
    return files


def ask_runtime(folder, modules):
    """{(case, output): value} from ONNX Runtime, without its optimizations."""
    jobs, cases = [], [case for case in every() if case.expected == case.name and case.want is None]
    for k, case in enumerate(cases):
        place = os.path.join(folder, str(k))
        os.mkdir(place)
        path = os.path.join(place, 'm.onnx')
        with open(path, 'wb') as f:
            f.write(case.model)
        jobs.append({'model': path, 'inputs': save_inputs(place, case), 'output': os.path.join(place, 'out')})
    with open(os.path.join(folder, 'list.json'), 'w', encoding='ascii') as f:
        json.dump(jobs, f)
    subprocess.run(['node', os.path.join(HERE, '../compare/ort.mjs'), '--modules', modules, '--list', f.name], check=True)
    results = {}
    for case, job in zip(cases, jobs):
        for name in case.outputs:
            path = os.path.join(job['output'], name + '.npy')
            if not os.path.exists(path):
                with open(os.path.join(job['output'], 'error.txt'), encoding='utf-8') as f:
                    print('ONNX Runtime refuses %s: %s' % (case.name, f.read().strip()[:300]))
                break
            results[case.name, name] = np.load(path)
    return results


# Operators that compute dimensions.
SIZES = {'SHAPE', 'GATHER', 'CONCAT', 'REDUCE_FUSION', 'STRIDED_SLICE', 'ADD_FUSION', 'MUL_FUSION', 'DIV_FUSION', 'RANGE', 'RESHAPE', 'FILL',
         'BROADCAST_TO', 'CAST', 'SQUEEZE', 'UNSQUEEZE'}


def opened(model):
    """The model with a dynamic batch (2) and sequence (4 or 5)."""
    m = load_from_string(model)
    for x in m.graph.input:
        dims = x.type.tensor_type.shape.dim
        for dim, sizes in zip(dims[:1] if len(dims) < 3 else dims[:2], ((2, 7), (4, 5))):
            if dim.dim_value in sizes:
                dim.dim_param = 'n%d' % dim.dim_value
    return m.SerializeToString()


def operators_of(nnrt, path, case):
    shapes = [a for name, value in case.feeds.items() for a in ('--shape', '%s=%s' % (name, ','.join(map(str, value.shape)))) if value.ndim]
    done = commands.run(nnrt, 'info', path, '--json', *shapes, *case.bounds, check=True)
    return set(json.loads(done.stdout)['operators'])


def listed_by(nnrt):
    """{operator of com.microsoft or ONNX: names of the operators that it becomes}."""
    done = commands.run(nnrt, 'ops', '--onnx', '--json', check=True)
    return {o['name']: o['becomes'] + ' ' + o['with'] for o in json.loads(done.stdout)['operators']}


def run(nnrt, case, way, listed=None, plain=None):
    """({output: value}, None) or (None, message). plain: a program without sanitizers. With them each model is run once, as it
    comes, and imported once more, with dynamic dimensions."""
    plain = plain or nnrt
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'm.onnx')
        with open(path, 'wb') as f:
            f.write(case.model)
        given = [a for name, file in save_inputs(folder, case).items() for a in ('--input', '%s=%s' % (name, file))]
        if way == 'dynamic':
            with open(path, 'wb') as f:
                f.write(opened(case.model))
            done = commands.run(nnrt, 'convert', '--no-optimize', path, path + '.nnrt')
            if done.returncode != 0:
                return None, done.stderr.decode('utf-8', 'replace').strip()
            path += '.nnrt'
            other = listed is not None and not case.graphs and operators_of(plain, path, case) - SIZES - set(listed.get(case.op, '').split())
            if other:
                return None, 'becomes %s, which nnrt ops --onnx does not list' % ', '.join(sorted(other))
        out = os.path.join(folder, 'out')
        os.mkdir(out)
        done = commands.run(nnrt if way == 'as it comes' else plain, 'run', path, *given, '--device', 'reference', '--output-dir', out,
                            *(['--no-quantize'] if way == 'no-quantize' else case.bounds if way == 'dynamic' else []))
        if done.returncode != 0:
            return None, done.stderr.decode('utf-8', 'replace').strip()
        return {name: np.load(os.path.join(out, name + '.npy')) for name in case.outputs
                if os.path.exists(os.path.join(out, name + '.npy'))}, None


def expected(case, line, name):
    """The expected output: of ONNX Runtime, or that of the case in the type of the first input."""
    if case.want is None:
        return value_of(line)
    return case.want[case.outputs.index(name)].astype(np.float32 if case.brain else case.feeds['x0'].dtype)


def judge(case, way, want, got):
    """(fault or None, elements beside the table)."""
    if got is None:
        return 'has no such output', 0
    if case.brain and got.dtype == np.uint16:
        got = contrib_onnx.Brain.numbers(got)
    if got.dtype != want.dtype or got.shape != want.shape:
        return 'is %s %s, expected %s %s' % (got.dtype, list(got.shape), want.dtype, list(want.shape)), 0
    if got.tobytes() == want.tobytes() or want.size == 0:
        return None, 0
    if want.dtype.kind == 'f' and not np.isfinite(want).all():
        finite = np.isfinite(want)
        if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
            return 'has other NaN or Inf: %s, expected %s' % (got.tolist(), want.tolist()), 0
        got, want = np.where(finite, got, 0), np.where(finite, want, 0)
    far = np.abs(got.astype(np.float64) - want.astype(np.float64))
    bound = (case.units if way != 'no-quantize' else 1) if want.dtype in (np.uint8, np.int8) else 0
    if want.dtype.kind == 'f':
        bound = case.near * max(1.0, float(np.abs(want).max()))
    at = np.unravel_index(np.argmax(far), far.shape)
    if not far.max() <= bound:
        return 'element %s is %s, expected %s' % (list(map(int, at)), got[at], want[at]), 0
    return None, int((far > 0).sum()) if want.dtype.kind != 'f' else 0


def check_refusals(nnrt):
    passed = failed = 0
    for way, (part, case) in [('as it comes', r) for r in refused()] + [('dynamic', r) for r in contrib_microsoft.refused_in_a_run()]:
        got, said = run(nnrt, case, way)
        good = got is None and part in said and 'nnrt' in said
        passed, failed = passed + good, failed + (not good)
        if not good:
            print('FAIL %s: %s, expected a refusal with "%s"' % (case.name, 'ran' if got is not None else said, part))
    return passed, failed


PROGRAM = """
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#include "core/nnrt_plan.h"
#include "m.c"
#include <stdio.h>
int main(void)
{
    static const float x[] = {%s};
%s
    return 0;
}
"""
FOREST = """    int64_t label[7];
    float scores[21];
    if (m_run(x, label, scores) != NNRT_SUCCESS)
        return 1;
    for (int i = 0; i < 7; i++)
        printf("%d %.9g %.9g %.9g\\n", (int)label[i], (double)scores[3 * i], (double)scores[3 * i + 1], (double)scores[3 * i + 2]);"""
PRODUCT = """    float y[42];
    if (m_run(x, y) != NNRT_SUCCESS)
        return 1;
    for (int i = 0; i < 42; i++)
        printf("%.9g\\n", (double)y[i]);"""


def as_c(nnrt, case, body):
    """The numbers that a model prints as C, compiled and run, a row for each line."""
    root = os.path.dirname(os.path.dirname(HERE))
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, 'main.c'), os.path.join(folder, 'main')
        with open(os.path.join(folder, 'm.onnx'), 'wb') as f:
            f.write(case.model)
        with open(source, 'w', encoding='ascii') as f:
            f.write(PROGRAM % (', '.join('%.9gf' % v if v % 1 else '%.1ff' % v for v in case.feeds['x0'].ravel().tolist()), body))
        commands.run(nnrt, 'emit-c', os.path.join(folder, 'm.onnx'), '-o', os.path.join(folder, 'm.c'), check=True)
        subprocess.run(['tcc', '-std=c99', '-I', root, '-I', folder, '-o', program, source, '-lm'], check=True)
        lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    return np.array([line.split() for line in lines], np.float64)


def check_emitted(nnrt, table):
    """A random forest, and packed weights of 4 bits, as C: the results of ONNX Runtime."""
    passed = failed = 0
    for name, body in (('RandomForestClassifier 7 rows', FOREST), ('MatMulNBits 4 bits K 40 block 32 bias', PRODUCT)):
        case = next(case for case in every() if case.name == name)
        want = np.concatenate([value_of(table['%s | %s' % (name, output)]).reshape(7 if body == FOREST else 42, -1)
                               for output in case.outputs], axis=1)
        got = as_c(nnrt, case, body)
        good = got.shape == want.shape and np.abs(got - want).max() <= 1e-5 * max(1.0, np.abs(want).max())
        passed, failed = passed + good, failed + (not good)
        if not good:
            print('FAIL %s as C: %s' % (name, got))
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('nnrt', nargs='?')
    parser.add_argument('plain', nargs='?', metavar='PLAIN', help='the program without sanitizers')
    parser.add_argument('--ort', metavar='DIR', help='whose node_modules has onnxruntime-node')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--only', default='', metavar='TEXT')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    if args.write or args.check:
        with tempfile.TemporaryDirectory() as folder:
            lines = {'%s | %s' % key: line_of(value) for key, value in ask_runtime(folder, args.ort).items()}
        if args.write:
            with open(TABLE, 'w', encoding='ascii') as f:
                f.write('# ONNX Runtime 1.30.0, graph optimizations disabled: written by tests/formats/test_contrib.py --write\n')
                f.writelines('%s | %s\n' % item for item in lines.items())
            return 0
        with open(TABLE, encoding='ascii') as f:
            have = dict(line.rstrip('\n').rsplit(' | ', 1) for line in f if not line.startswith('#'))
        wrong = [key for key in lines if have.get(key) != lines[key]]
        print('\n'.join('FAIL %s: ONNX Runtime gives another result than the table' % key for key in wrong))
        print('%d passed, %d failed' % (len(lines) - len(wrong), len(wrong)))
        return 1 if wrong or not lines else 0
    with open(TABLE, encoding='ascii') as f:
        table = dict(line.rstrip('\n').rsplit(' | ', 1) for line in f if not line.startswith('#'))
    passed, failed = check_refusals(args.nnrt) if args.only == '' else (0, 0)
    if args.only == '':
        passed, failed = (a + b for a, b in zip((passed, failed), check_emitted(args.nnrt, table)))
        passed, failed = (a + b for a, b in zip((passed, failed), contrib_weights.test(args.nnrt)))
    units, listed = 0, listed_by(args.nnrt)
    untested = [name for name in listed if name.startswith((DOMAIN, contrib_ml.ML, contrib_onnx.PREVIEW)) and listed[name] != ' ' and name not in {case.op for case in every()}]
    print(''.join('FAIL %s has no case\n' % name for name in untested), end='')
    failed += len(untested)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = [(case, way, pool.submit(run, args.nnrt, case, way, listed, args.plain)) for case in every() if args.only in case.name
                for way in ('as it comes', 'no-quantize', 'dynamic')]
        for case, way, job in jobs:
            got, said = job.result()
            for name in case.outputs:
                line = table.get('%s | %s' % (case.expected, name))
                if case.want is None and line is None:
                    fault, unit = 'is not in contrib.txt: write it again', 0
                elif got is None:
                    fault, unit = 'refused: ' + said, 0
                else:
                    fault, unit = judge(case, way, expected(case, line, name), got.get(name))
                passed, failed, units = passed + (fault is None), failed + (fault is not None), units + unit
                if fault is not None:
                    print('FAIL %s, %s, %s: %s' % (case.name, name, way, fault))
    print('%d 8-bit elements differ from ONNX Runtime, within the bounds' % units)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
