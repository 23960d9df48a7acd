#!/usr/bin/env python3
"""A model gives the same bits from its ONNX file and from the .nnrt file that `nnrt convert` makes of it.

    test_convert.py [--work DIR] NNRT [FOLDER...]

Always: examples/digits on its images, and ONNX's own test models (NNRT_ONNX_TESTDATA, or where Debian's libonnx-testdata has them),
each on the inputs of its first data set. Every .onnx file in a FOLDER: twice, on random inputs of two seeds, integers
being 0 and 1 in turn, so that they can be indices. Each model is also converted a second time, from the .nnrt file, which must give the same file again. Outputs are compared as files,
byte by byte.

A line for each network, and for each test model that fails. Models are skipped if `nnrt run` cannot run the ONNX file either,
or if parameters (axes, sizes) are inputs, known only in a run: their files cannot be planned. The last line says "N passed, N
failed, N skipped"; the exit status is 1 when something failed or nothing passed.
"""
import argparse
import collections
import concurrent.futures
import filecmp
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../kit'))
import commands  # noqa: E402

PASSED, FAILED, SKIPPED = 'PASS', 'FAIL', 'SKIP'
PARAMETER = 'is a constant of the model now'


def call(nnrt, *args):
    """Status of a call of nnrt, and its standard error."""
    done = commands.run(nnrt, *args)
    return done.returncode, done.stderr.decode('utf-8', 'replace').strip()


def same_folders(a, b):
    """None, or the difference between the files of two folders."""
    names = sorted(os.listdir(a))
    if names != sorted(os.listdir(b)):
        return 'other outputs: %s and %s' % (names, sorted(os.listdir(b)))
    if not names:
        return 'no outputs'
    for name in names:
        if not filecmp.cmp(os.path.join(a, name), os.path.join(b, name), shallow=False):
            return 'other bits in %s' % name
    return None


def convert_twice(nnrt, model, tmp):
    """Makes tmp/one.nnrt; returns the fault, or None."""
    one, two = os.path.join(tmp, 'one.nnrt'), os.path.join(tmp, 'two.nnrt')
    status, said = call(nnrt, 'convert', model, one)
    if status != 0:
        return 'convert: ' + said
    status, said = call(nnrt, 'convert', one, two)
    if status != 0:
        return 'convert of the .nnrt file: ' + said
    if not filecmp.cmp(one, two, shallow=False):
        return 'converting the .nnrt file gives another file'
    return None


def compare(nnrt, model, inputs, work):
    """Runs the model from both files on each list of inputs: (state, reason)."""
    tmp = tempfile.mkdtemp(dir=work)
    try:
        for k, given in enumerate(inputs):
            args = [a for value in given for a in ('--input', value)]
            a, b = os.path.join(tmp, 'onnx%d' % k), os.path.join(tmp, 'nnrt%d' % k)
            status, said = call(nnrt, 'run', model, *args, '--output-dir', a)
            if status != 0:
                return SKIPPED, 'does not run: ' + said.split(': ', 2)[-1]
            if PARAMETER in said:
                return SKIPPED, 'takes parameters at run time'
            wrong = convert_twice(nnrt, model, tmp) if k == 0 else None
            if wrong is None:
                status, said = call(nnrt, 'run', os.path.join(tmp, 'one.nnrt'), *args, '--output-dir', b)
                wrong = 'run of the .nnrt file: ' + said if status != 0 else same_folders(a, b)
            if wrong is not None:
                return FAILED, wrong
        return PASSED, ''
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def tensor_name(path):
    """Field 8 of a TensorProto."""
    with open(path, 'rb') as f:
        data = f.read()
    at, name = 0, ''
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            _, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            if key >> 3 == 8:
                name = data[at:at + size].decode()
            at += size
        else:
            at += {1: 8, 5: 4}[key & 7]
    return name


def test_data(folder):
    """--input values of the first data set next to a model."""
    values = []
    while os.path.exists(path := os.path.join(folder, 'test_data_set_0', 'input_%d.pb' % len(values))):
        try:
            name = tensor_name(path)
        except (KeyError, IndexError, UnicodeDecodeError):
            name = ''
        values.append(name + '=' + path if name else path)
    return values


def find_tests(root):
    """(name, model, inputs) of each ONNX test below root."""
    found = []
    for folder, _, files in sorted(os.walk(root)):
        if 'model.onnx' in files:
            found.append((os.path.relpath(folder, root), os.path.join(folder, 'model.onnx'), [test_data(folder)]))
    return found


NPY = {'int8': 'i1', 'uint8': 'u1', 'int16': 'i2', 'uint16': 'u2', 'int32': 'i4', 'uint32': 'u4', 'int64': 'i8',
       'uint64': 'u8'}


def write_npy(path, kind, shape):
    """A .npy file of 0, 1, 0, 1, ..."""
    count = 1
    for n in shape:
        count *= n
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': (%s), }" % (kind, ''.join('%d,' % n for n in shape))
    head += ' ' * (63 - (10 + len(head)) % 64) + '\n'
    with open(path, 'wb') as f:
        f.write(b'\x93NUMPY\1\0' + len(head).to_bytes(2, 'little') + head.encode())
        f.write(b''.join((i % 2).to_bytes(int(kind[1]), 'little') for i in range(count)))


def network_inputs(nnrt, model, work):
    """Random inputs of two seeds, with files for integer inputs."""
    done = commands.run(nnrt, 'info', '--json', model)
    values = []
    for item in json.loads(done.stdout)['inputs'] if done.returncode == 0 else []:
        if item['type'] in NPY:
            path = os.path.join(work, '%s_%d.npy' % (os.path.basename(model), len(values)))
            write_npy(path, NPY[item['type']], [1 if n is None else n for n in item['shape']])
            values.append('%s=%s' % (item['name'], path))
    random = not values or len(values) < len(json.loads(done.stdout)['inputs'])
    return [values + ['random:%d' % seed] for seed in (1, 2)] if random else [values]


def find_networks(nnrt, folder, work):
    """(name, model, inputs) of each network in a folder."""
    return [(os.path.splitext(name)[0], os.path.join(folder, name),
             network_inputs(nnrt, os.path.join(folder, name), work))
            for name in sorted(os.listdir(folder)) if name.endswith('.onnx')]


def run_all(nnrt, models, work, jobs, each):
    """Compares all models; a line for each that fails, and where each is true for all. Counts by (state, reason)."""
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = pool.map(lambda m: compare(nnrt, m[1], m[2], work), models)
        for (name, _, _), (state, reason) in zip(models, results):
            counts[state, reason.split(':')[0] if state == SKIPPED else ''] += 1
            if each or state == FAILED:
                print('%s %s%s' % (state, name, ': ' + reason if reason else ''), flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('nnrt')
    parser.add_argument('folders', nargs='*')
    parser.add_argument('--work', default='build/convert', help='where files are made')
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    work = tempfile.mkdtemp(dir=args.work)
    digits = 'examples/digits'
    tests = os.environ.get('NNRT_ONNX_TESTDATA', '/usr/share/libonnx-testdata/data')
    images = sorted(os.path.join(digits, f) for f in os.listdir(digits) if f.startswith('digit_'))
    groups = [('digits', [('digits', digits + '/digits.onnx', [[i] for i in images] + [['random:1']])], True)]
    groups += [(folder, find_networks(args.nnrt, folder, work), True) for folder in args.folders]
    groups += [('ONNX tests', find_tests(tests), False)]
    total = collections.Counter()
    try:
        for name, models, each in groups:
            counts = run_all(args.nnrt, models, work, min(int(os.environ.get('JOBS', 2)), os.cpu_count() or 1), each)
            print('%s: %s' % (name, ', '.join('%d %s%s' % (n, state, ' (%s)' % why if why else '')
                                              for (state, why), n in sorted(counts.items())) or 'nothing there'))
            if counts[PASSED, ''] == 0:
                print('FAIL %s: none passed' % name)
                counts[FAILED, ''] += 1
            total += counts
    finally:
        shutil.rmtree(work, ignore_errors=True)
    skipped = sum(n for (state, _), n in total.items() if state == SKIPPED)
    print('%d passed, %d failed, %d skipped' % (total[PASSED, ''], total[FAILED, ''], skipped))
    return 1 if total[FAILED, ''] or not total[PASSED, ''] else 0


if __name__ == '__main__':
    sys.exit(main())
