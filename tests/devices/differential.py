#!/usr/bin/env python3
"""Random graphs of 1 to 30 nodes, drawn from the table of operators, give the same in every way to run them.

    differential.py [--number N] [--seed S] [--only OPERATORS] [--ort DIR] [--emit K --nnrt NNRT] DRIVER
    differential.py [--ort DIR] --model FILE DRIVER

DRIVER is tests/devices/differential.c. A node is a case of tests/ops/vectors, whose files have attributes, types and shapes of every
operator, changed at random: other dimensions, types, attributes and values, and operands that are results of earlier nodes. The
operator's shape rule decides which nodes are valid; invalid ones are drawn again. Graph i of a seed is the same wherever it is
drawn, and begins with operator i of the table.

A graph must give the same bits as its nodes one by one: with and without passes (nodes between casts of quantized tensors are
not computed in integers), with all inputs constant, as .nnrt, in exactly the reported memory and not in a byte less, with
dynamic dimensions set in the session or in the run, as the branch of an IF and the body of a LOOP (differential.c lists the
ways). Folding an affine node into the weights of the one before rounds anew: the results before such a node are made outputs,
which keeps the passes from it, and the folded graph is compared with a bound (FOLDED). Every K-th graph is written by nnrt
emit-c, compiled and runs its self-test.

With --ort, where node_modules has onnxruntime-node, every node that ONNX has an equivalent of (to_onnx.py) runs in ONNX Runtime
on the operands that it has here: so each is judged by itself, and earlier rounding differences do not count. The whole graph is
also imported as ONNX, and must give the same bits, or agree within the bound of a node. Nodes that ONNX Runtime does not
support are counted with the reason.

A graph that differs is made smaller: nodes, then dimensions, as long as it still differs. It is written to build/differential
with the line that runs it again. The last line says "N passed, N failed": graphs.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join('build', 'differential')
TYPES = {'bool': numpy.bool_, 'int8': numpy.int8, 'int16': numpy.int16, 'int32': numpy.int32, 'int64': numpy.int64,
         'uint8': numpy.uint8, 'uint16': numpy.uint16, 'uint32': numpy.uint32, 'uint64': numpy.uint64,
         'float16': numpy.float16, 'float32': numpy.float32, 'float64': numpy.float64}
NUMBERS = {'float16': 42, 'float32': 43, 'float64': 44, 'bool': 30, 'int8': 32, 'int16': 33, 'int32': 34, 'int64': 35,
           'uint8': 37, 'uint16': 38, 'uint32': 39, 'uint64': 40}
FLOATS = ('float16', 'float32', 'float64')
BOOL, INT, FLOAT, ENUM, INTS, INTS2, INT64 = range(1, 8)  # kinds of attributes, NNRT_ATTR_KIND_
MOST_ELEMENTS, MOST_NODES = 2048, 30
# Reasons to keep dimensions fixed, as in test_extents.py; for dimensions set in the run, also the last ones.
REFUSED = (
    'nothing bounds output', 'comes into the body as', 'must be a constant or follow from the shapes', 'there is no room for',
    'the last dimension of indices', 'is unknown while dimensions are dynamic', 'the last window covers no input element', '(bounds)',
)
AFFINE = ('FUSED_BATCH_NORM', 'BIAS_ADD', 'SCALE_FUSION', 'ADD_FUSION', 'SUB_FUSION', 'MUL_FUSION', 'HARD_SIGMOID')
SUMS = ('CONV2D_FUSION', 'CONV2D_TRANSPOSE_FUSION', 'FULL_CONNECTION')
# Weights and biases with a later node folded into them are computed in double and rounded once: each product and the bias may
# be off by half a unit, which is far below this part of the largest sum of |products| + |shift|.
FOLDED = 1e-5


class Tensor:
    """A tensor of a graph and its value."""

    def __init__(self, number, kind, dtype, shape, value, form='NONE', quant=(), axis=0):
        self.number, self.kind, self.dtype, self.shape, self.value = number, kind, dtype, tuple(shape or ()), value
        self.format, self.quant, self.axis, self.open, self.told = form, tuple(quant), axis, 0, False

    def text(self, kind=None, known=True):
        """The driver's lines."""
        kind = kind or self.kind
        if known:
            dims, data = '[%s]' % ','.join(map(str, self.shape)), self.value.tobytes().hex() or '-'
        else:
            dims, data = '?', '-'
        lines = ['tensor %d %s %s %s %s %s' % (self.number, kind, self.dtype, self.format, dims, data)]
        lines += ['quant %d %d %s' % q for q in self.quant]
        if self.axis:
            lines.append('axis %d' % self.axis)
        if self.open and kind == 'input':
            lines.append('open %d' % self.open)
        return lines

    def is_wild(self):
        """Values that make most of what is computed from them infinite, or nothing."""
        return self.dtype in FLOATS and not numpy.all(numpy.abs(self.value) < 1e4)


class Node:
    """A node: attributes as texts, numbers of its operands, None where one is left out; resolved: attributes as rules
    leave them."""

    def __init__(self, op, attrs, ins, outs):
        self.op, self.attrs, self.ins, self.outs, self.resolved = op, dict(attrs), list(ins), list(outs), {}

    def text(self):
        """The driver's lines."""
        numbers = [' '.join('-' if n is None else str(n) for n in names) for names in (self.ins, self.outs)]
        return (['node ' + self.op] + ['attr %s %s' % item for item in self.attrs.items()] +
                ['in ' + numbers[0], 'out ' + numbers[1]])


class Graph:
    """Tensors by number, and nodes in their order."""

    def __init__(self, name):
        self.name, self.tensors, self.nodes, self.next = name, {}, [], 0

    def add(self, kind, dtype, shape, value, *rest):
        """A new tensor."""
        t = Tensor(self.next, kind, dtype, shape, value, *rest)
        self.tensors[self.next] = t
        self.next += 1
        return t

    def cut(self, tensors, nodes):
        """Removes the tensors and nodes after the first so many."""
        del self.nodes[nodes:]
        for n in range(tensors, self.next):
            del self.tensors[n]
        self.next = tensors

    def users(self):
        """{number: nodes that read it}"""
        users = collections.defaultdict(list)
        for node in self.nodes:
            for n in node.ins:
                if n is not None:
                    users[n].append(node)
        return users

    def folds(self):
        """[(sum, affine node after it)]: pairs that a pass fuses."""
        users, pairs = self.users(), []
        for node in self.nodes:
            y = node.outs[0]
            if node.op in SUMS and len(users[y]) == 1 and users[y][0].op in AFFINE and self.tensors[y].dtype == 'float32':
                pairs.append((node, users[y][0]))
        return pairs

    def outputs(self, folding=False):
        """Results that no node reads and results before a fold; with folding only the results of folds."""
        if folding:
            return [node.outs[0] for _, node in self.folds()]
        users = self.users()
        kept = {node.outs[0] for node, _ in self.folds()}
        return [n for node in self.nodes for n in node.outs if n is not None and (not users[n] or n in kept)]

    def text(self, outputs=None):
        """The driver's lines."""
        lines = ['graph ' + self.name]
        for t in self.tensors.values():
            lines += t.text()
        for node in self.nodes:
            lines += node.text()
        return lines + ['output ' + ' '.join(map(str, self.outputs() if outputs is None else outputs))]


class Crash(EOFError):
    """The driver ended."""


class Driver:
    """tests/devices/differential.c, running."""

    def __init__(self, path):
        self.path, self.process = path, None

    def ask(self, lines):
        """Sends lines of which one is a command; the answer's lines."""
        if self.process is None:
            self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE, text=True, bufsize=1 << 16)
        said = []
        try:
            self.process.stdin.write('\n'.join(lines) + '\n')
            self.process.stdin.flush()
            for line in self.process.stdout:
                if line == 'done\n':
                    return said
                said.append(line.rstrip('\n'))
        except BrokenPipeError:
            pass
        errors = self.process.stderr.read()
        self.process.kill()
        self.process.wait()
        self.process = None
        raise Crash(next((line for line in errors.split('\n') if 'ERROR' in line or 'error:' in line), errors[-200:]))


def array_of(dtype, shape, data):
    """The array of bytes in hexadecimal."""
    return numpy.frombuffer(bytes.fromhex('' if data == '-' else data), TYPES[dtype]).reshape(shape)


def read_output(line):
    """(number, dtype, format, dynamic, array)"""
    _, number, dtype, form, told, dims, data = line.split(' ')
    shape = [int(n) for n in dims[1:-1].split(',') if n]
    return int(number) if number.isdigit() else number, dtype, form, told == '1', array_of(dtype, shape, data)


def value_of(text):
    """An attribute as it is printed."""
    if text.startswith('['):
        return [value_of(part) for part in re.findall(r'\[[^\]]*\]|[^,\[\]]+', text[1:-1])]
    if text in ('true', 'false'):
        return text == 'true'
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(numpy.float32(text))
    except ValueError:
        return text.strip("'\"")


# ---- cases of tests/ops/vectors ----

class Operand:
    """An operand of a case."""

    def __init__(self, text):
        words = text.split(' ')
        self.dtype, self.shape, self.quant, self.axis = words[0], None, [], 0
        if self.dtype == '-':
            return
        self.shape = tuple(int(n) for n in words[1][1:-1].split(',') if n)
        self.constant = len(words) > 2 and words[2] == 'const'
        self.words = words[3 if self.constant else 2:]

    def values(self):
        """Its elements, in a line."""
        if self.dtype in FLOATS:
            return numpy.array([float(w) for w in self.words], numpy.float64).astype(TYPES[self.dtype])
        return numpy.array([int(w) for w in self.words],
                           object if '64' in self.dtype else numpy.int64).astype(TYPES[self.dtype])


class Case:
    """A case of a file: the text, read when it is drawn."""

    def __init__(self, lines):
        self.lines = lines

    def read(self):
        """(attributes, format, inputs, outputs)"""
        attrs, form, ins, outs, last = {}, 'NONE', [], [], None
        for line in self.lines:
            word, _, rest = line.partition(' ')
            if word == 'attr':
                name, _, value = rest.partition(' ')
                attrs[name] = value
            elif word == 'format':
                form = rest
            elif word in ('in', 'out'):
                last = Operand(rest)
                (ins if word == 'in' else outs).append(last)
            elif word == 'quant':
                numbers = rest.split()
                last.quant.append((int(numbers[0]), int(numbers[1]), numbers[2]))
                last.axis = int(numbers[3]) if len(numbers) > 3 else last.axis
        return attrs, form, ins, outs


def read_cases(folder):
    """{operator: cases that must run}, without large ones."""
    cases = collections.defaultdict(list)
    for name in sorted(os.listdir(folder)):
        if not name.endswith('.vec'):
            continue
        lines, op, good = [], None, True
        with open(os.path.join(folder, name), encoding='utf-8') as f:
            for line in f:
                line = line.rstrip('\n')
                word = line.partition(' ')[0]
                if word == 'case':
                    lines, op, good = [], None, True
                elif word == 'op':
                    op = line[3:]
                elif word in ('error', 'run_error', 'error32') or len(line) > 12000:
                    good = False
                elif word == 'end':
                    if good and any(text.startswith('out ') for text in lines):
                        cases[op].append(Case(lines))
                elif word in ('attr', 'format', 'in', 'out', 'quant'):
                    lines.append(line)
    return cases


class Operators:
    """The table as the driver prints it."""

    def __init__(self, driver):
        self.names, self.members, self.inputs, self.tells = [], {}, {}, set()
        for line in driver.ask(['operators']):
            words = line.split(' ')
            if words[0] == 'op':
                op = words[1]
                self.names.append(op)
                self.members[op] = []
                self.inputs[op] = line.split('|')[1].split()
                if words[2] == 'tells':
                    self.tells.add(op)
            else:
                self.members[op].append((words[1], int(words[2]), [int(w.rpartition('=')[2]) for w in words[3:]]))

    def is_parameter(self, op, k):
        """Is input k a parameter: integers that control the operation?"""
        names = self.inputs[op]
        return k < len(names) and names[k].endswith(':i')


# ---- drawing ----

class Drawer:
    """Draws graphs."""

    def __init__(self, driver, only=()):
        self.driver, self.operators = driver, Operators(driver)
        self.cases = read_cases(os.path.join(HERE, '../ops/vectors'))
        self.names = [op for op in self.operators.names if op in self.cases and (not only or op in only)]

    def draw(self, seed, index):
        """Graph `index` of a seed."""
        d = random.Random('%d/%d' % (seed, index))
        graph = Graph('%d/%d' % (seed, index))
        count = 1 + int(MOST_NODES * d.random() ** 2.5)
        self.add_node(graph, d, self.names[index % len(self.names)])
        while len(graph.nodes) < count:
            self.add_node(graph, d, d.choice(self.names))
        self.open_inputs(graph, d)
        return graph

    @staticmethod
    def open_inputs(graph, d):
        """Some axes of inputs are open: all, some or one."""
        axes = [(t, k) for t in graph.tensors.values() if t.kind == 'input' for k in range(len(t.shape))
                if not (t.dtype.startswith('int') and len(t.shape) == 1)]
        if not axes:
            return
        part = d.choice([0, 0.3, 0.7, 1])
        for t, k in [a for a in axes if d.random() < part] or [d.choice(axes)]:
            t.open |= 1 << k

    def add_node(self, graph, d, op):
        """Adds a node of an operator: changed at random where its rule takes that, or as a case has it."""
        case = d.choice(self.cases[op]).read()
        for attempt in range(7):
            if self.try_node(graph, d, op, case, max(0.0, 0.8 - 0.15 * attempt) if attempt < 6 else 0):
                return True
        return False

    def try_node(self, graph, d, op, case, much):
        """One attempt. much: how probable changes are."""
        attrs, form, ins, outs = case
        before, attrs, nodes = graph.next, dict(attrs), len(graph.nodes)
        types = self.other_types(d, ins, much)
        if d.random() < much * 0.4:
            self.change_attribute(d, op, attrs)
        extents = self.other_extents(d, ins, much)
        bound, numbers = {}, []
        for k, x in enumerate(ins):
            if x.shape is None:
                numbers.append(None)
                continue
            numbers.append(self.operand(graph, d, op, k, x, form if k == 0 else 'NONE', types, extents, bound, much))
        results = []
        for y in outs:
            if y.shape is None:
                results.append(None)
                continue
            results.append(graph.add('result', types.get(y.dtype, y.dtype), None, None, form, y.quant, y.axis).number)
        node = Node(op, attrs, numbers, results)
        if self.evaluate(graph, node):
            graph.nodes.append(node)
            if not any(graph.tensors[n].told for n in numbers if n is not None) or self.is_whole(graph):
                return True
        graph.cut(before, nodes)
        return False

    def is_whole(self, graph):
        """Some nodes do not support values that only a run determines."""
        return not any(line.startswith('error') for line in self.driver.ask(graph.text() + ['run plain']))

    @staticmethod
    def other_types(d, ins, much):
        """{type of the case: another one}"""
        first = ins[0].dtype if ins else '-'
        if first == '-' or any(x.quant for x in ins if x.shape is not None) or d.random() > much * 0.4:
            return {}
        return {first: d.choice(FLOATS if first in FLOATS and d.random() < 0.8 else list(TYPES))}

    def change_attribute(self, d, op, attrs):
        """Another value of one member."""
        members = [m for m in self.operators.members[op] if m[1] in (BOOL, INT, FLOAT, ENUM, INTS, INT64)]
        if not members:
            return
        name, kind, values = d.choice(members)
        if kind == BOOL:
            attrs[name] = str(d.randint(0, 1))
        elif kind in (INT, INT64):
            attrs[name] = str(d.randint(-3, 4))
        elif kind == ENUM:
            attrs[name] = str(d.choice(values))
        elif kind == FLOAT:
            attrs[name] = str(d.choice([0, 0.125, 0.25, 0.5, 1, 1.5, 2, -1, 3]))
        elif attrs.get(name):
            numbers = attrs[name].split()
            k = d.randrange(len(numbers))
            numbers[k] = str(int(numbers[k]) + d.choice([-1, 1, 1, 2]))
            attrs[name] = ' '.join(numbers)

    @staticmethod
    def other_extents(d, ins, much):
        """{dimension of the case: another one}; equal ones stay equal."""
        if d.random() > much:
            return {}
        extents = sorted({n for x in ins if x.shape for n in x.shape if n > 0})
        return {n: max(1, n + d.choice([-1, 0, 0, 1, 2, 5])) for n in extents if n > 1 or d.random() < 0.1}

    def operand(self, graph, d, op, k, x, form, types, extents, bound, much):
        """The number of a tensor for input k: one that there is, or a new one."""
        dtype = types.get(x.dtype, x.dtype)
        parameter = self.operators.is_parameter(op, k)
        if not (parameter and x.constant) and d.random() < (much + 0.15 if k == 0 else much * 0.6) and much > 0:
            t = self.choose(graph, d, dtype, x, form, extents, bound)
            if t is not None:
                for old, new in zip(x.shape, t.shape):
                    bound.setdefault(old, new)
                    extents[old] = bound[old]
                return t.number
            if dtype in FLOATS and not x.quant and d.random() < 0.5:
                t = self.adapted(graph, d, dtype, [extents.get(n, n) for n in x.shape])
                if t is not None and form == 'NONE':
                    return t.number
        shape = x.shape if parameter and len(x.shape) <= 1 else tuple(extents.get(n, n) for n in x.shape)
        if numpy.prod(shape, dtype=numpy.int64) > MOST_ELEMENTS:
            shape = x.shape
        value = self.values(d, x, dtype, shape, parameter, much)
        constant = x.constant if d.random() < 0.85 else not x.constant
        return graph.add('constant' if constant else 'input', dtype, shape, value, form, x.quant, x.axis).number

    @staticmethod
    def choose(graph, d, dtype, x, form, extents, bound):
        """A tensor of the graph of that type, best of that shape."""
        wanted = tuple(bound.get(n, extents.get(n, n)) for n in x.shape)
        found = []
        for t in graph.tensors.values():
            if t.value is None or t.dtype != dtype or bool(t.quant) != bool(x.quant) or t.value.size > MOST_ELEMENTS // 4:
                continue
            if (t.format == 'NCHW') != (form == 'NCHW') or (t.is_wild() and d.random() < 0.9) or (t.told and d.random() < 0.7):
                continue
            if t.shape == wanted:
                found += [t, t, t]
            elif len(t.shape) == len(x.shape) and all(a == bound.get(b, a) for a, b in zip(t.shape, x.shape)):
                found += [t, t]
            elif d.random() < 0.1:
                found.append(t)
        return d.choice(found) if found else None

    def adapted(self, graph, d, dtype, shape):
        """A tensor of that type and shape made from one that there is: cast, flattened, gathered."""
        found = [t for t in graph.tensors.values() if t.kind == 'result' and t.value is not None and t.dtype in FLOATS and
                 not t.quant and t.format == 'NONE' and t.value.size and not t.is_wild() and not t.told]
        if not found:
            return None
        count = int(numpy.prod(shape, dtype=numpy.int64))
        if count > MOST_ELEMENTS:
            return None
        t = d.choice(found)
        steps = [('CAST', dtype, None)] if t.dtype != dtype else []
        if count == t.value.size:
            steps += [('RESHAPE', dtype, shape)]
        else:
            steps += [('RESHAPE', dtype, [-1]), ('GATHER', dtype, None)]
        before, nodes = graph.next, len(graph.nodes)
        for op, to, lengths in steps:
            ins = [t.number]
            if op == 'RESHAPE':
                ins.append(graph.add('constant', 'int32', [len(lengths)], numpy.array(lengths, numpy.int32)).number)
            elif op == 'GATHER':
                places = numpy.array([d.randrange(t.value.size) for _ in range(count)], numpy.int32).reshape(shape)
                ins.append(graph.add('constant', 'int32', shape, places).number)
            y = graph.add('result', to, None, None)
            node = Node(op, {}, ins, [y.number])
            if not self.evaluate(graph, node):
                graph.cut(before, nodes)
                return None
            graph.nodes.append(node)
            t = y
        return t

    @staticmethod
    def values(d, x, dtype, shape, parameter, much):
        """Values for an operand: the case's, in another order, or similar ones."""
        base = x.values()
        count = int(numpy.prod(shape, dtype=numpy.int64))
        if dtype != x.dtype:
            with numpy.errstate(all='ignore'):
                base = numpy.nan_to_num(base.astype(numpy.float64), nan=1, posinf=2, neginf=-2).clip(-100, 100)
                base = (base if dtype in FLOATS else base.clip(0, 100)).astype(TYPES[dtype])
        if base.size == 0:
            return numpy.zeros(count, TYPES[dtype]).reshape(shape)
        if d.random() > much or (parameter and d.random() < 0.8):
            return numpy.resize(base, count).reshape(shape)
        if dtype in FLOATS:
            known = base[numpy.isfinite(base)].astype(numpy.float64)
            low, high = numpy.clip([known.min(), known.max()], -8, 8) if known.size else (-1, 1)
            if d.random() < 0.6:  # multiples of 1/8
                made = [d.randint(int(numpy.ceil(low * 8)), max(int(numpy.ceil(low * 8)),
                                                                int(high * 8))) / 8 for _ in range(count)]
            else:
                made = [d.uniform(low, max(low, high)) for _ in range(count)]
            return numpy.array(made, TYPES[dtype]).reshape(shape)
        if parameter and base.ndim == 1 and count == base.size and count:
            changed = base.copy()
            with numpy.errstate(all='ignore'):
                changed[d.randrange(count)] += TYPES[dtype](d.choice([1, 1, 2]))
            return changed.reshape(shape)
        return numpy.array([base[d.randrange(base.size)] for _ in range(count)], TYPES[dtype]).reshape(shape)

    def evaluate(self, graph, node):
        """Runs a node alone on its operands: its results become known. False: it is refused, or too large."""
        tensors = {n: graph.tensors[n] for n in node.ins if n is not None}
        lines = ['graph node']
        for t in tensors.values():
            lines += t.text('constant' if t.kind == 'constant' else 'input')
        for n in node.outs:
            if n is not None:
                lines += graph.tensors[n].text('result', known=False)
        said = self.driver.ask(lines + node.text() + ['output ' + ' '.join(str(n) for n in node.outs if n is not None), 'attr'])
        if said and said[0].startswith('error'):
            return False
        results = []
        for line in said:
            word, _, rest = line.partition(' ')
            if word == 'attr':
                node.resolved = {name: value_of(value) for name, _, value in
                                 (part.partition('=') for part in re.findall(r'\w+=(?:\'[^\']*\'|\S+)', rest))}
            elif word == 'result':
                results.append(rest.split(' '))
        answers = self.driver.ask(['run all'])
        if not answers or answers[0].startswith('error'):
            return False
        for line in answers:
            number, dtype, _, told, array = read_output(line)
            if array.size > MOST_ELEMENTS:
                return False
            t, known = graph.tensors[number], results[node.outs.index(number)]
            t.dtype, t.shape, t.value, t.told = dtype, array.shape, array, told
            t.format = known[0]
            t.axis = int(known[1])
            if not t.quant and len(known) > 2:
                t.quant = tuple((int(a), int(b), c) for a, b, c in zip(known[2::3], known[3::3], known[4::3]))
        for n in node.ins:
            if n is not None and graph.tensors[n].told:
                for y in node.outs:
                    if y is not None:
                        graph.tensors[y].told = True
        return True


# ---- judging ----

class Fault:
    """A fault of a graph: two faults with equal kind are the same."""

    def __init__(self, kind, text):
        self.kind, self.text = kind, text


def is_told(graph):
    """Does this graph have dimensions that only a run determines?"""
    return any(t.told for t in graph.tensors.values())


def ask_ways(driver, graph, which):
    """The driver's answers to some ways: (passed ways, [(way, text)] refused, faults)."""
    passed, refused, faults = [], [], []
    try:
        said = driver.ask(graph.text() + ['check ' + which])
    except Crash as crash:
        return passed, refused, [Fault('crash', 'the driver ended: %s' % crash)]
    for line in said:
        word, _, rest = line.partition(' ')
        way, _, text = rest.partition(': ')
        if word == 'pass':
            passed.append(way)
        elif word == 'refused':
            refused.append((way, text))
        else:
            faults.append(Fault(way, '%s: %s' % (way, text)))
    return passed, refused, faults


def check_ways(driver, graph, counts):
    """The driver's ways; a list of faults. Where dynamic dimensions are unsupported, fewer are dynamic."""
    passed, refused, faults = ask_ways(driver, graph, 'fixed')
    for way, text in refused:
        if is_told(graph) and any(r in text for r in REFUSED):
            counts['open extents that a run tells: ' + next(r for r in REFUSED if r in text)] += 1
        else:
            faults.append(Fault(way, '%s: %s' % (way, text)))
    counts.update('way ' + way for way in passed)
    if not passed and not faults:
        faults.append(Fault('nothing', 'the driver says nothing'))
    d = random.Random(graph.name)
    kept = {t.number: t.open for t in graph.tensors.values()}
    while not faults and any(t.open for t in graph.tensors.values()):
        passed, refused, faults = ask_ways(driver, graph, 'open')
        if passed or faults:
            counts.update('way ' + way for way in passed)
            counts['open extents, in one of the ways to tell them'] += bool(refused)
            break
        counts['open extents of all inputs, so that fewer were tried'] += 1
        axes = [(t, k) for t in graph.tensors.values() for k in range(8) if t.open >> k & 1]
        for t, k in d.sample(axes, (len(axes) + 1) // 2):
            t.open &= ~(1 << k)
    if not faults:
        for t in graph.tensors.values():
            t.open = kept[t.number]
    return faults


def check_folds(driver, graph, counts):
    """Affine nodes that a pass folds into weights, with a bound."""
    faults = []
    outputs = graph.outputs(folding=True)
    if not outputs:
        return faults
    bounds = {}
    for node, behind in graph.folds():
        w = graph.tensors[node.ins[1]].value
        x, sizes = graph.tensors[node.ins[0]].value, [float(numpy.abs(graph.tensors[n].value).max(initial=0))
                                                      for n in behind.ins if n is not None and n != node.outs[0]]
        terms = w.size / max(1, w.shape[0]) * numpy.abs(w).max(initial=0) * numpy.abs(x).max(initial=0)
        factor = max(sizes + [1.0]) if behind.op != 'FUSED_BATCH_NORM' else sizes[0] * 400  # 1 / sqrt(epsilon) at most
        bounds[behind.outs[0]] = FOLDED * (terms + 1) * (factor + 1)
    try:
        said = driver.ask(graph.text(outputs) + ['run passes'])
    except Crash as crash:
        return [Fault('crash', 'folding: %s' % crash)]
    for line in said:
        if line.startswith('error'):
            if not is_told(graph):
                faults.append(Fault('folding', 'folding: ' + line))
            continue
        number, _, _, _, array = read_output(line)
        wanted = graph.tensors[number].value
        with numpy.errstate(all='ignore'):
            good = wanted.shape == array.shape and numpy.all((wanted == array) | (numpy.isnan(wanted) & numpy.isnan(array)) |
                                                             (numpy.abs(wanted - array) <= bounds[number]))
        if good:
            counts['folded'] += 1
        else:
            faults.append(Fault('folding', 'folding changes tensor %d by more than its bound' % number))
    return faults


# ---- making smaller ----

def without(graph, dropped):
    """The graph without a node: its results that others read become inputs."""
    small = Graph(graph.name)
    small.nodes = [node for node in graph.nodes if node is not dropped]
    used = {n for node in small.nodes for n in node.ins + node.outs if n is not None}
    for number, t in graph.tensors.items():
        if number not in used:
            continue
        copy = Tensor(number, 'input' if number in dropped.outs else t.kind, t.dtype, t.shape, t.value, t.format, t.quant,
                      t.axis)
        copy.open, copy.told = t.open, t.told and copy.kind == 'result'
        small.tensors[number] = copy
    return small


def with_extent(drawer, graph, old, new):
    """The graph with one dimension replaced, everything computed anew; None: it is not valid."""
    small = Graph(graph.name)
    for number, t in graph.tensors.items():
        keep = t.kind == 'result' or (drawer is not None and t.dtype.startswith('int') and len(t.shape) <= 1)
        shape = t.shape if keep else tuple(new if n == old else n for n in t.shape)
        value = t.value if shape == t.shape else numpy.resize(t.value, shape)
        small.tensors[number] = Tensor(number, t.kind, t.dtype, shape, value, t.format, t.quant, t.axis)
        small.tensors[number].open = t.open
    for node in graph.nodes:
        copy = Node(node.op, node.attrs, node.ins, node.outs)
        if not drawer.evaluate(small, copy):
            return None
        small.nodes.append(copy)
    return small


def shrink(drawer, graph, fails):
    """The smallest graph found that still fails."""
    changed = True
    while changed:
        changed = False
        for node in reversed(list(graph.nodes)):
            small = without(graph, node)
            if small.nodes and fails(small):
                graph, changed = small, True
    for t in graph.tensors.values():
        if t.open:
            kept, t.open = t.open, 0
            if not fails(graph):
                t.open = kept
    extents = sorted({n for t in graph.tensors.values() for n in t.shape if n > 1}, reverse=True)
    for old in extents:
        for new in (1, 2, 3):
            small = with_extent(drawer, graph, old, new) if new < old else None
            if small is not None and fails(small):
                graph = small
                break
    return graph


# ---- all of it ----

class Worker:
    """Draws and judges; one a process."""

    def __init__(self, args):
        self.args = args
        self.driver = Driver(os.path.abspath(args.driver))
        self.drawer = Drawer(self.driver, args.only.split() if args.only else ())
        self.onnx = None
        if args.ort or args.onnx:
            import to_onnx  # needs python3-onnx
            self.onnx = to_onnx.Judge(self.driver, args.ort, read_output)

    def judge(self, graph, counts):
        """All faults of a graph."""
        faults = check_ways(self.driver, graph, counts) + check_folds(self.driver, graph, counts)
        if self.onnx is not None:
            faults += [Fault(*fault) for fault in self.onnx.judge(graph, counts)]
        return faults

    def one(self, index):
        """(counts, operators, text of the fault) of a graph."""
        counts = collections.Counter()
        graph = self.drawer.draw(self.args.seed, index)
        counts.update('op ' + node.op for node in graph.nodes)
        counts['nodes'] += len(graph.nodes)
        faults = self.judge(graph, counts)
        if not faults and self.args.emit and index % self.args.emit == 0:
            self.save(graph, index)
        return counts, self.report(graph, index, faults) if faults else ''

    def report(self, graph, index, faults):
        """Makes it smaller and writes it."""
        kind = faults[0].kind

        def fails(small):
            return any(fault.kind == kind for fault in self.judge(small, collections.Counter()))

        small = shrink(self.drawer, graph, fails)
        path = os.path.join(FOLDER, '%d-%d.txt' % (self.args.seed, index))
        last = next((f.text for f in self.judge(small, collections.Counter()) if f.kind == kind), faults[0].text)
        with open(path, 'w', encoding='utf-8') as f:
            f.write('# %s\n# %d nodes of %d; again: python3 tests/devices/differential.py --model %s%s %s\n' %
                    (last.replace('\n', ' '), len(small.nodes), len(graph.nodes), path,
                     ' --ort ' + self.args.ort if self.args.ort else '', self.args.driver))
            f.write('\n'.join(small.text()) + '\ncheck\n')
        return 'FAIL graph %d of seed %d (%s): %s\n' % (index, self.args.seed, path, last)

    def save(self, graph, index):
        """Writes a graph and its inputs for emit-c."""
        folder = os.path.join(FOLDER, 'emit', 'g%d' % index)
        os.makedirs(folder, exist_ok=True)
        self.driver.ask(graph.text() + ['save ' + os.path.join(folder, 'model.nnrt')])
        for t in graph.tensors.values():
            if t.kind == 'input':
                numpy.save(os.path.join(folder, 't%d.npy' % t.number), t.value)


def self_test(args):
    """One wrong bit is seen in every way, and shrinks to the node that has it: (passed, failed)."""
    worker = Worker(args)
    index, graph = next((i, g) for i, g in ((i, worker.drawer.draw(args.seed, i)) for i in range(1000))
                        if len(g.nodes) > 9 and not ask_ways(worker.driver, g, '')[1])
    t = graph.tensors[next(n for n in graph.outputs() if graph.tensors[n].value.size)]
    bits = bytearray(t.value.tobytes())
    bits[0] ^= 1
    t.value = numpy.frombuffer(bytes(bits), t.value.dtype).reshape(t.shape)
    passed, refused, faults = ask_ways(worker.driver, graph, '')
    wrong = {fault.kind for fault in faults}
    results = [not refused, {'all results', 'plain', 'passes', 'folded', 'file', 'memory'} <= wrong, not passed]

    def fails(small):
        return any(fault.kind == 'plain' for fault in ask_ways(worker.driver, small, 'fixed')[2])

    results.append(len(shrink(worker.drawer, graph, fails).nodes) == 1)
    for good, what in zip(results, ('a way refuses', 'a way does not see a wrong bit', 'a way passes with a wrong bit',
                                    'it does not shrink')):
        if not good:
            print('FAIL self-test, graph %d: %s' % (index, what))
    return sum(results), len(results) - sum(results)


def read_model(drawer, path):
    """A graph as report wrote it."""
    graph = Graph('model')
    with open(path, encoding='utf-8') as f:
        for line in f:
            word, _, rest = line.rstrip('\n').partition(' ')
            words = rest.split(' ')
            if word == 'tensor':
                shape = [int(n) for n in words[4][1:-1].split(',') if n]
                last = Tensor(int(words[0]), words[1], words[2], shape, array_of(words[2], shape, words[5]), words[3])
                graph.tensors[last.number] = last
            elif word == 'quant':
                last.quant += ((int(words[0]), int(words[1]), words[2]),)
            elif word == 'axis':
                last.axis = int(rest)
            elif word == 'open':
                last.open = int(rest)
            elif word == 'node':
                graph.nodes.append(Node(rest, {}, [], []))
            elif word == 'attr':
                graph.nodes[-1].attrs[words[0]] = ' '.join(words[1:])
            elif word in ('in', 'out'):
                numbers = [None if n == '-' else int(n) for n in words if n]
                setattr(graph.nodes[-1], 'ins' if word == 'in' else 'outs', numbers)
    for node in graph.nodes:
        drawer.evaluate(graph, node)
    return graph


WORKER = None


def start(args):
    """In each process."""
    global WORKER
    WORKER = Worker(args)


def work(indices):
    """Some graphs."""
    return [WORKER.one(index) for index in indices]


def emit_all(args):
    """The saved files as C: (passed, failed, reasons why emit-c rejects files)."""
    folder = os.path.join(FOLDER, 'emit')
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    made, reasons, passed, failed = [], collections.Counter(), 0, 0
    for name in names:
        here = os.path.join(folder, name)
        given = []
        for file in sorted(os.listdir(here)):
            if file.endswith('.npy'):
                given += ['--input', '%s=%s' % (file[:-4], os.path.join(here, file))]
        done = subprocess.run([args.nnrt, 'emit-c', os.path.join(here, 'model.nnrt'), '-o', os.path.join(folder, name + '.h'),
                               '--name', name] + given, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            made.append(name)
        else:
            reasons[done.stderr.strip().partition('): ')[2][:70] or done.stderr.strip()[:100]] += 1
    for first in range(0, len(made), 100):
        some = made[first:first + 100]
        path = os.path.join(folder, 'program%d.c' % first)
        with open(path, 'w', encoding='utf-8') as f:
            f.write('#define NNRT_IMPLEMENTATION\n#define NNRT_STATIC\n#define NNRT_FIRMWARE\n#include "nnrt.h"\n#include <stdio.h>\n')
            f.write(''.join('#include "%s.h"\n' % name for name in some))
            f.write('static uint64_t arena[1 << 21];\nint main(void)\n{\n')
            for name in some:
                f.write('    puts(%s_ARENA_BYTES <= sizeof(arena) && %s_selftest(arena) == NNRT_SUCCESS ? "ok" : "%s");\n' %
                        (name.upper(), name, name))
            f.write('    return 0;\n}\n')
        program = path[:-2]
        done = subprocess.run([os.environ.get('CC') or 'cc', '-std=c99', '-O1', '-fsanitize=address,undefined', '-I.',
                               '-I' + folder, '-o', program,
                               path, '-lm'], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print('FAIL emit-c: %s does not compile: %s' % (path, done.stderr[:500]))
            failed += len(some)
            continue
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        wrong = [line for line in done.stdout.split('\n') if line not in ('ok', '')]
        good = done.stdout.split('\n').count('ok')
        for name in wrong:
            print('FAIL emit-c: graph %s of seed %d gives other bits' % (name[1:], args.seed))
        if good + len(wrong) != len(some):
            print('FAIL emit-c: %s ended after %d: %s' % (program, good, done.stderr[:500]))
        passed, failed = passed + good, failed + len(some) - good
    return passed, failed, reasons


def print_counts(args, drawer, counts):
    """A summary of the results."""
    names = set(drawer.operators.names)
    drawn = {name[3:] for name in counts if name.startswith('op ')}
    compared = {name[4:] for name in counts if name.startswith('ort ')}
    print('%d nodes; operators drawn: %d of %d' % (counts['nodes'], len(drawn | {'IF',
                                                                                 'LOOP'} if not args.only else drawn),
                                                   len(names)))
    for op in sorted(names - drawn):
        if op in ('IF', 'LOOP'):
            print('  %s: all nodes of every graph run in one (the ways branch and body)' % op)
        elif not args.only:
            print('  %s: %s' % (op, 'no case in tests/ops/vectors' if op not in drawer.cases else 'not drawn in so few graphs'))
    for way in sorted(name for name in counts if name.startswith('way ')):
        print('%8d  the same bits: %s' % (counts[way], way[4:]))
    if counts['folded']:
        print('%8d  within the bound: affine nodes folded into weights' % counts['folded'])
    for reason, count in counts.most_common():
        if reason.startswith('open '):
            print('%8d  refused, %s' % (count, reason))
    if args.ort or args.onnx:
        import to_onnx
        to_onnx.print_counts(counts, names, compared)


def main():
    """Runs all; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--number', type=int, default=1000, metavar='N', help='graphs')
    parser.add_argument('--seed', type=int, default=1, metavar='S')
    parser.add_argument('--first', type=int, default=0, metavar='I', help='number of the first graph')
    parser.add_argument('--only', default='', metavar='OPERATORS', help='draw these operators only')
    parser.add_argument('--jobs', type=int, default=1, metavar='N', help='processes')
    parser.add_argument('--ort', default='', metavar='DIR', help='where node_modules has onnxruntime-node')
    parser.add_argument('--onnx', action='store_true', help='through the importer as well, without ONNX Runtime')
    parser.add_argument('--emit', type=int, default=0, metavar='K', help='every K-th graph through nnrt emit-c')
    parser.add_argument('--nnrt', default='build/nnrt')
    parser.add_argument('--self-test', action='store_true', help='a wrong bit must be seen in every way')
    parser.add_argument('--model', metavar='FILE', help='a graph that was written')
    parser.add_argument('driver')
    args = parser.parse_args()
    sys.path.insert(0, os.path.join(HERE, "../kit"))
    os.makedirs(FOLDER, exist_ok=True)
    if args.model:
        worker = Worker(args)
        faults = worker.judge(read_model(worker.drawer, args.model), collections.Counter())
        for fault in faults:
            print('FAIL ' + fault.text)
        print('%d passed, %d failed' % (0 if faults else 1, 1 if faults else 0))
        return 1 if faults else 0
    if args.emit:
        shutil.rmtree(os.path.join(FOLDER, 'emit'), ignore_errors=True)
    counts, passed, failed = collections.Counter(), 0, 0
    if args.self_test:
        passed, failed = self_test(args)
    indices = list(range(args.first, args.first + args.number))
    chunks = [indices[k:k + 5] for k in range(0, len(indices), 5)]
    with concurrent.futures.ProcessPoolExecutor(args.jobs, initializer=start, initargs=(args,)) as pool:
        for found in pool.map(work, chunks):
            for seen, text in found:
                counts.update(seen)
                passed, failed = passed + (not text), failed + bool(text)
                if text:
                    print(text, end='', flush=True)
            if sys.stderr.isatty():
                print('\r%d of %d, %d failed' % (passed + failed, args.number, failed), end='', file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print('\r\033[K', end='', file=sys.stderr, flush=True)
    driver = Driver(os.path.abspath(args.driver))
    print_counts(args, Drawer(driver, args.only.split() if args.only else ()), counts)
    if args.emit:
        good, wrong, reasons = emit_all(args)
        print('%8d  the same bits: emit-c' % good)
        for text, count in reasons.most_common():
            print('%8d  emit-c refuses: %s' % (count, text))
        failed += wrong
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
