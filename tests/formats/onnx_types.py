#!/usr/bin/env python3
"""Which element types of ONNX's operators run: docs/ONNX_TYPES.md.

    onnx_types.py [--write] NNRT

Each operator's first node test (NNRT_ONNX_TESTDATA, or where Debian's libonnx-testdata has them) is the template. For each type
variable of an input, every type that the definition of the installed onnx package allows takes the place of the test's: the inputs
are the test's, converted, and the model runs on the device `reference`. A value must be right, too: outputs are equal to those of
the test's own type, converted, where the inputs are small whole numbers that all types hold and the operator is exact (EXACT).
Without --write the page must be as it would be written. The last line says "N passed, N failed".
"""
import argparse
import collections
import glob
import os
import re
import shutil
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../kit'))
import commands  # noqa: E402

PAGE = 'docs/ONNX_TYPES.md'
DTYPES = {'float': 'float32', 'double': 'float64', 'bfloat16': 'uint16'}  # numpy's names where they differ; bfloat16: its codes
ORDER = ['float', 'float16', 'double', 'bfloat16', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'bool']
# operators whose results for small whole numbers are whole numbers, or do not depend on the type of the variable
EXACT = set('''Abs Add And ArgMax ArgMin BitShift Ceil Clip Compress Concat CumSum DepthToSpace Equal Expand EyeLike Flatten Floor Gather
    GatherElements GatherND Greater GreaterOrEqual Identity Less LessOrEqual MatMul Max MaxPool Min Mod Mul Neg NonZero Not OneHot Or Pad
    ReduceL1 ReduceMax ReduceMin ReduceSum ReduceSumSquare Relu Reshape ReverseSequence Round Scatter ScatterElements ScatterND
    Shape Sign Size Slice SpaceToDepth Split Squeeze Sum Tile TopK Transpose Trilu Unique Unsqueeze Where Xor'''.split())


def tests_of(folder):
    """{operator: (folder of its first test whose data are tensors of numbers, the model, {name: array})}"""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, 'node', '*', 'model.onnx'))):
        model = onnx.load(path)
        node = model.graph.node[0]
        if len(model.graph.node) > 1 or node.domain or node.op_type in found or any(a.type == onnx.AttributeProto.GRAPH for a in node.attribute):
            continue
        values = {}
        for i, item in enumerate(model.graph.input):
            try:
                with open(os.path.join(os.path.dirname(path), 'test_data_set_0', 'input_%d.pb' % i), 'rb') as f:
                    values[item.name] = numpy_helper.to_array(TensorProto.FromString(f.read()))
            except Exception:  # a sequence: protobuf's own errors have no common class
                values = None
                break
        if values is not None and all(v.dtype.kind in 'fiub' for v in values.values()):
            found[node.op_type] = model, values
    return found


def variables(schema, names):
    """{type variable: (indices of the inputs in names that have it, its tensor types)} of variables with two types or more."""
    found = {}
    for i, name in enumerate(names):
        formal = schema.inputs[min(i, len(schema.inputs) - 1)]
        types = [re.fullmatch(r'tensor\((\w+)\)', t) for t in formal.types]
        types = [t.group(1) for t in types if t]
        if name and len(types) > 1:
            found.setdefault(formal.typeStr, ([], types))[0].append(i)
    return found


def outputs_of(schema, variable, names):
    return [name for i, name in enumerate(names) if schema.outputs[min(i, len(schema.outputs) - 1)].typeStr == variable]


def converted(array, kind):
    """The elements as this type; small whole numbers that every type holds do not change."""
    if kind == 'bfloat16':
        return (array.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)
    dtype = numpy.dtype(DTYPES.get(kind, kind))
    if dtype.kind in 'ui' and array.dtype.kind == 'f':
        array = numpy.round(array)
    return (abs(array) if dtype.kind == 'u' else array).astype(dtype)


def number(kind):
    return getattr(TensorProto, kind.upper())


class Runner:
    def __init__(self, nnrt, folder):
        self.nnrt, self.folder, self.count = nnrt, folder, 0

    def run(self, model, values):
        """(the outputs by name, None), or (None, the reason)."""
        self.count += 1
        place = os.path.join(self.folder, str(self.count))
        os.mkdir(place)
        path = os.path.join(place, 'm.onnx')
        with open(path, 'wb') as f:
            f.write(model.SerializeToString())
        args = ['run', path, '--device', 'reference', '--output-dir', os.path.join(place, 'out')]
        for i, (name, array) in enumerate(values.items()):
            numpy.save(os.path.join(place, '%d.npy' % i), array)
            args += ['--input', '%s=%s' % (name, os.path.join(place, '%d.npy' % i))]
        done = commands.run(self.nnrt, *args, text=True)
        outputs = None
        if done.returncode == 0:
            outputs = [numpy.load(p) for p in sorted(glob.glob(os.path.join(place, 'out', '*.npy')))]
        shutil.rmtree(place)
        if outputs is not None:
            return outputs, None
        return None, reason_of(done.stderr)


def reason_of(text):
    """The last line of the refusal, without the node and numbers of one test."""
    line = text.strip().splitlines()[-1] if text.strip() else 'no message'
    line = re.sub(r'^nnrt: (cannot load \S+: |the run failed: )?', '', line)
    line = re.sub(r'^(ONNX )?node \d+ \'[^\']*\' \(\w+\): ', '', line)
    return line


def tried(runner, model, values, schema, variable, places, kind):
    """(outputs, reason) with this type for the variable."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    node, own = changed.graph.node[0], dict(values)
    names = {node.input[i] for i in places if node.input[i]}
    for item in [*changed.graph.input, *changed.graph.output]:
        if item.name in names or (item.name in outputs_of(schema, variable, node.output)):
            item.type.tensor_type.elem_type = number(kind)
    for name in names & set(own):
        own[name] = converted(own[name], kind)
    for item in changed.graph.input:  # in onnx 1.12 some data have another shape than the model says
        del item.type.tensor_type.shape.dim[:]
        for n in own[item.name].shape:
            item.type.tensor_type.shape.dim.add().dim_value = n
    return runner.run(changed, own)


def right(op, outputs, base, kind):
    """Equal values, whatever the type."""
    if op not in EXACT or base is None:
        return True
    return len(outputs) == len(base) and all(
        a.shape == b.shape and numpy.array_equal(numbers(a, b, kind), b.astype(float)) for a, b in zip(outputs, base))


def numbers(array, base, kind):
    """The elements; codes of bfloat16 decoded, where the base is not whole numbers of its own."""
    if kind == 'bfloat16' and array.dtype == numpy.uint16 and base.dtype.kind == 'f':
        array = (array.astype(numpy.uint32) << 16).view(numpy.float32)
    return array.astype(float)


def rows_of(runner, folder):
    """(operator, variable, [types that run], {reason: [types]}, [types with wrong values]) of each variable, and the operators without a test."""
    found, rows, left = tests_of(folder), [], []
    for schema in sorted((s for s in onnx.defs.get_all_schemas() if not s.domain and not s.deprecated), key=lambda s: s.name):
        if schema.name not in found:
            left.append(schema.name)
            continue
        model, values = found[schema.name]
        for variable, (places, types) in variables(schema, model.graph.node[0].input).items():
            if not any(model.graph.node[0].input[i] in values for i in places):
                continue
            names = {model.graph.node[0].input[i] for i in places}
            small = {n: numpy.clip(numpy.round(abs(v.astype(float))), 0, 3).astype(v.dtype) if n in names and schema.name in EXACT else v
                     for n, v in values.items()}
            base, _ = tried(runner, model, small, schema, variable, places, 'float' if 'float' in types else 'int32' if 'int32' in types else types[0])
            runs, refused, wrong = [], collections.OrderedDict(), []
            for kind in [k for k in ORDER if k in types]:
                outputs, reason = tried(runner, model, small, schema, variable, places, kind)
                if outputs is None:
                    refused.setdefault(reason, []).append(kind)
                    continue
                runs.append(kind)
                if kind != 'bool' and not right(schema.name, outputs, base, kind):
                    wrong.append(kind)
            for kind in sorted(set(types) - set(ORDER)):
                refused.setdefault('strings' if kind == 'string' else 'complex numbers', []).append(kind)
            rows.append((schema.name, variable, runs, refused, wrong))
    return rows, left


def page_of(rows, left):
    pairs, run = sum(len(r[2]) + sum(map(len, r[3].values())) for r in rows), sum(len(r[2]) for r in rows)
    lines = ['# Element types of ONNX operators', '',
             'Every operator of the domain `ai.onnx` in the definitions of onnx %s (operator set %d), with each type that its inputs' % (
                 onnx.__version__, onnx.defs.onnx_opset_version()),
             'may have: **%d of %d run** on the device `reference`; the others are refused with a message. A row is a type variable of the' % (run, pairs),
             'definition, in the place of the type of the operator\'s first node test. Of operators that are exact for small whole numbers all',
             'types give the same values. `tests/formats/onnx_types.py --write` writes this page; `make test` compares it.', '',
             '| Operator | Variable | Types that run | Refused |', '|---|---|---|---|']
    for op, variable, runs, refused, _ in rows:
        why = '; '.join('%s: %s' % (', '.join(kinds), reason.replace('|', '\\|')) for reason, kinds in refused.items())
        lines.append('| %s | %s | %s | %s |' % (op, variable, ', '.join(runs), why))
    lines += ['', 'Without a test of one node whose inputs are tensors of numbers, or without a choice of types: %s.' % ', '.join(left), '']
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--write', action='store_true')
    parser.add_argument('nnrt')
    args = parser.parse_args()
    data = os.environ.get('NNRT_ONNX_TESTDATA', '/usr/share/libonnx-testdata/data')
    with tempfile.TemporaryDirectory() as folder:
        rows, left = rows_of(Runner(args.nnrt, folder), data)
    page, failed = page_of(rows, left), 0
    for op, variable, _, _, wrong in rows:
        if wrong:
            failed += 1
            print('FAIL %s %s: other values with %s' % (op, variable, ', '.join(wrong)))
    if args.write:
        with open(PAGE, 'w', encoding='utf-8') as f:
            f.write(page)
    elif not os.path.exists(PAGE) or open(PAGE, encoding='utf-8').read() != page:
        failed += 1
        print('FAIL %s: it is not what tests/formats/onnx_types.py --write would write' % PAGE)
    print('%d passed, %d failed' % (sum(len(r[2]) for r in rows) - failed, failed))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
