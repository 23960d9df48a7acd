#!/usr/bin/env python3
"""mutate.py [--seed S] [--number N] [--jobs J] [--header H] [--ops NAMES] [--again] [--out FOLDER]    (make mutate)

Do the tests notice when the library is wrong? Changes one thing in one of the headers, runs the tests that can see it until one
fails, and does so N times. A change that no test notices is a survivor: a hole in the tests, or no change of the library's
behavior.

Changes: comparisons, arithmetic and bit operators, && || !, whole numbers and true/false (one up or down), conditions of if and
while (negated), statements (removed); in bodies of functions, where this machine's compiler compiles them. Macros, tables,
declarations, strings and comments are left alone. The kinds are drawn
equally often, the headers in proportion to their lines of code. A change that does not compile without warnings proves nothing
about the tests: another one is drawn instead.

Results: noticed (a test failed, crashed or was stopped by the address sanitizer), time (it took ten times the processor time
that the tests take, which counts as noticed), survived, equivalent: gcc -O1 makes the same object of it, or
tests/kit/mutate_equivalent.txt says why it cannot matter. The figure leaves the equivalent ones out. The status is 0 when it is at
least 85 % (--enough; of a few mutants the figure says little).

NAMES: only code under ">>op NAME" and ">>kernel NAME" of these operators, in small or capital letters; "new" selects operators
that HDI 1.0 lacks.

FOLDER (build/mutate) gets results.tsv, a line a mutant, and survivors.txt. The same seed gives the same mutants as long
as the headers are the same.

All mutants are compiled at once: a function body becomes `if (nnrti_mutant == 17) {changed} else {as it was}`, and the
number comes from the environment. So a mutant costs what the tests take to run, and no compilation."""

import argparse
import concurrent.futures
import difflib
import glob
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADERS = ['nnrt_ops.h', 'core/nnrt_model.h', 'core/nnrt_plan.h', 'nnrt_hal.h', 'core/nnrt_graph.h', 'nnrt.h']
ENOUGH = 85.0  # per cent that must be noticed, unless --enough says otherwise
WARNINGS = ['-Wall', '-Wextra', '-Wshadow', '-Wno-parentheses', '-Wno-logical-op-parentheses',
            '-Wno-bitwise-op-parentheses']
EXACT = '-DNNRT_CPU=0'  # the headers contain the reference device, and tests expect its bits
ONE_SET = ['-DNNRT_CPU_AVX512=0']  # the fast device is not changed: one set of instructions will do, with float16
ADDRESS = ['-fsanitize=address', '-fno-omit-frame-pointer']
PLAIN = ['hostile', 'file', 'threads', 'math', 'planner', 'corners']  # without it, for their speed
WALL = 300  # seconds, for programs that wait without processor time

TOKEN = re.compile(r'''(?P<space>[ \t\n]+|\\\n|/\*.*?\*/|//[^\n]*)
    |(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<number>(?:0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)?|\.?\d(?:[eE][+-]|[0-9.eE])*)[uUlLfF]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<op>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|\.\.\.|.)''', re.S | re.X)

COMPARE = {'<': ['<=', '>'], '>': ['>=', '<'], '<=': ['<', '>='], '>=': ['>', '<='], '==': ['!='], '!=': ['==']}
ARITHMETIC = {'+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '&': '|', '|': '&', '^': '|', '<<': '>>', '>>': '<<',
              '+=': '-=', '-=': '+=', '*=': '/=', '/=': '*=', '%=': '*=', '|=': '&=', '&=': '|=', '^=': '|=',
              '<<=': '>>=', '>>=': '<<=', '++': '--', '--': '++'}
LOGICAL = {'&&': '||', '||': '&&'}
KINDS = ['comparison', 'arithmetic', 'logical', 'constant', 'negated', 'removed']
NO_STATEMENT = set('return if for while do switch case default goto else typedef static const struct sizeof'.split())


class Token:
    __slots__ = ('kind', 'text', 'start', 'end')

    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)


class Mutant:
    """Text [start, end) of a header becomes `new`, in the function body that is text [body[0], body[1])."""

    def __init__(self, header, kind, start, end, new):
        self.header, self.kind, self.start, self.end, self.new = header, kind, start, end, new
        self.body, self.number, self.status, self.by, self.seconds = None, 0, 'new', '', 0.0


def tokens_of(text, start, end):
    """Tokens of text[start:end] without space and comments."""
    found = []
    at = start
    while at < end:
        m = TOKEN.match(text, at, end)
        if m.lastgroup != 'space':
            found.append(Token(m.lastgroup, m.group(), m.start()))
        at = m.end()
    return found


def without_directives(text):
    """The text with preprocessor lines and their continuations blanked."""
    rest = list(text)
    for m in re.finditer(r'^[ \t]*#(?:[^\n\\]|\\\n|\\.)*', text, re.M):
        for i in range(*m.span()):
            if rest[i] != '\n':
                rest[i] = ' '
    return ''.join(rest)


def bodies_of(text):
    """Lists of tokens, braces included, one for each body of a function."""
    rest = without_directives(text)
    bodies, body, depth, stack, before = [], [], 0, [], None
    for t in tokens_of(rest, 0, len(rest)):
        if t.text == '{':
            stack.append('function' if depth == 0 and before.text == ')' else
                         'none' if before.kind == 'string' else 'other')
            depth += stack[-1] != 'none'
        if 'function' in stack:
            body.append(t)
        if t.text == '}' and stack:
            depth -= stack[-1] != 'none'
            if stack.pop() == 'function':
                bodies.append(body)
                body = []
        before = t
    return bodies


# ---- possible changes ----

def is_operand_end(t):
    return t.kind in ('name', 'number', 'string') and t.text not in ('return', 'case') or t.text in (')', ']')


def operator_mutants(header, body, i):
    """Changes of the operator body[i]."""
    t, before, behind = body[i], body[i - 1], body[i + 1] if i + 1 < len(body) else body[i]
    binary = is_operand_end(before) and behind.text not in (')', ',', ';')
    if t.text in COMPARE:
        return [Mutant(header, 'comparison', t.start, t.end, new) for new in COMPARE[t.text]]
    if t.text in LOGICAL:
        return [Mutant(header, 'logical', t.start, t.end, LOGICAL[t.text])]
    if t.text == '!':
        return [Mutant(header, 'logical', t.start, t.end, '')]
    if t.text == '-' and not binary:
        return [Mutant(header, 'arithmetic', t.start, t.end, '')]
    if t.text in ARITHMETIC and (binary or t.text in ('++', '--')):
        new = ARITHMETIC[t.text]
        comment = new == '/' and behind.start == t.end and behind.text == '*'
        return [Mutant(header, 'arithmetic', t.start, t.end, '/ ' if comment else new)]
    return []


def constant_mutants(header, t):
    if t.text in ('true', 'false'):
        return [Mutant(header, 'constant', t.start, t.end, 'false' if t.text == 'true' else 'true')]
    if t.kind != 'number':
        return []
    return [Mutant(header, 'constant', t.start, t.end, '(%s %s 1)' % (t.text, sign)) for sign in '+-']


def closing(body, i):
    """Index of the parenthesis that closes body[i], or None."""
    depth = 0
    for k in range(i, len(body)):
        depth += {'(': 1, ')': -1}.get(body[k].text, 0)
        if depth == 0:
            return k
    return None


def condition_mutants(header, text, body, i):
    """if (x) and while (x), negated."""
    if body[i].text not in ('if', 'while') or i + 1 >= len(body) or body[i + 1].text != '(':
        return []
    end = closing(body, i + 1)
    if end is None:
        return []
    a, b = body[i + 1].end, body[end].start
    return [Mutant(header, 'negated', a, b, '!(' + text[a:b] + ')')]


def statement_starts(body):
    """Indices where a statement can begin."""
    starts, heads = set(), []
    for i, t in enumerate(body):
        if t.text == '(':
            heads.append(i > 0 and body[i - 1].text in ('if', 'for', 'while'))
        if t.text == ')' and heads and heads.pop() or t.text in ('{', '}', 'else', 'do') or t.text == ';' and not heads:
            starts.add(i + 1)
    return starts


def statement_mutants(header, body, i):
    """An expression statement, break or continue, removed. Declarations are not statements."""
    first = body[i]
    if first.text in NO_STATEMENT or first.kind not in ('name', 'op') or first.text in ('{', '}', ';', ')'):
        return []
    following = [t.text for t in body[i + 1:i + 4]]
    if first.kind == 'name' and i + 1 < len(body) and body[i + 1].kind == 'name':
        return []
    if len(following) == 3 and first.kind == 'name' and following[0] == '*' and following[2] in '=;,[':
        return []
    for k in range(i, len(body)):
        if body[k].text in ('{', '}'):
            return []
        if body[k].text == ';':
            return [Mutant(header, 'removed', first.start, body[k].end, '{}')]
    return []


def compiled_lines(header):
    """Numbers of the lines that the preprocessor leaves, macros included."""
    unit = '#define NNRT_IMPLEMENTATION\n#include "%s"\n' % header
    out = subprocess.run(['clang', '-std=c99', EXACT, '-E', '-dD', '-I', ROOT, '-x', 'c', '-'], input=unit,
                         capture_output=True, text=True, check=True).stdout
    lines, name, number = set(), '', 0
    for line in out.splitlines():
        m = re.match(r'# (\d+) "(.*?)"', line)
        if m:
            number, name = int(m.group(1)) - 1, os.path.relpath(m.group(2), ROOT)
            continue
        number += 1
        if name == header and line.strip():
            lines.add(number)
    return lines


def operators():
    """{operator: version of HDI that has it first, times ten; 0: none}, from the table."""
    unit = '#include "nnrt_ops.h"\n#define KERNEL(...)\n' \
           '#define ROW(name, number, s, o, r, in, out, f, k, since, ...) @ name since\nNNRT_OPS(ROW, KERNEL)\n'
    out = subprocess.run(['clang', '-std=c99', EXACT, '-E', '-P', '-I', ROOT, '-x', 'c', '-'], input=unit,
                         capture_output=True, text=True, check=True).stdout
    return {name: int(since) for name, since in re.findall(r'@\s+(\w+)\s+(\d+)', out)}


def chosen_operators(names):
    """The operators that --ops names; None: it names none."""
    known, found = operators(), set()
    for name in names.upper().replace(',', ' ').split():
        if name != 'NEW' and name not in known:
            sys.exit('no operator %s' % name)
        found |= {o for o, since in known.items() if since != 10} if name == 'NEW' else {name}
    return found or None


def mutants_of(header, text, ops=None):
    """All changes of a header, by kind, and its lines of code; ops: only changes of these operators."""
    compiled = compiled_lines(header)
    every, lines = {kind: [] for kind in KINDS}, set()
    for body in bodies_of(text):
        if ops is not None and section_of(text, body[0].start)[1].upper() not in ops:
            continue
        starts = statement_starts(body)
        for i, t in enumerate(body):
            line = text.count('\n', 0, t.start) + 1 if (i == 0 or '\n' in text[body[i - 1].start:t.start]) else line
            first = line if i == 0 else first
            if line not in compiled and first not in compiled:
                continue
            lines.add(line)
            found = condition_mutants(header, text, body, i) + constant_mutants(header, t)
            if i > 0 and t.kind == 'op':
                found += operator_mutants(header, body, i)
            if i in starts:
                found += statement_mutants(header, body, i)
            for m in found:
                m.body = body[0].start, body[-1].end
                every[m.kind].append(m)
    return every, len(lines)


def shuffled(every, rng):
    """All changes in an order of chance in which each kind is as likely as any other."""
    lists = {kind: rng.sample(found, len(found)) for kind, found in every.items()}
    order = []
    while any(lists.values()):
        kind = rng.choice(KINDS)
        if lists[kind]:
            order.append(lists[kind].pop())
    return order


# ---- which tests can see it ----

SUITES = ['ops', 'rows', 'device_vectors', 'text', 'hal', 'session', 'builder', 'passes', 'onnx_nodes', 'hostile', 'file',
          'threads', 'math', 'planner', 'draft', 'control', 'open', 'corners', 'effect', 'intervals', 'cache', 'states', 'custom',
          'memory', 'log', 'hdi', 'auto', 'remote', 'attr', 'onnx_import', 'quantize', 'cpu', 'cpu_chain',
          'packs', 'budget', 'acceptance', 'ohnn', 'nnadapter']
SECTION_FIRST = {'builder': ['builder'], 'models': ['passes'], 'passes': ['passes'], 'file': ['file'],
                 'sessions': ['session', 'threads'], 'math': ['math'],
                 'planner': ['planner'], 'plan': ['draft', 'control'], 'text': ['text', 'hal'], 'engine': ['ops', 'hal'],
                 'intervals': ['intervals', 'open']}
SEES = {  # suites that include the header, the most thorough first; math, planner and threads test only their part
    'nnrt_ops.h': ['ops', 'rows', 'effect', 'device_vectors', 'text', 'hal', 'session', 'passes', 'builder', 'onnx_nodes',
                   'corners', 'custom', 'attr', 'onnx_import', 'cpu'],
    'core/nnrt_model.h': ['hal', 'file', 'hostile', 'session', 'control', 'builder', 'passes', 'onnx_nodes', 'states', 'cache',
                          'corners', 'attr', 'hdi', 'packs', 'budget', 'ohnn', 'nnadapter'],
    'core/nnrt_plan.h': ['hal', 'intervals', 'session', 'control', 'open', 'builder', 'passes', 'onnx_nodes', 'hostile', 'file',
                         'draft', 'planner', 'states', 'memory', 'custom', 'corners', 'cpu_chain', 'cpu', 'packs', 'budget',
                         'acceptance', 'auto'],
    'nnrt_hal.h': ['hal', 'session', 'control', 'open', 'builder', 'passes', 'onnx_nodes', 'hostile', 'file', 'hdi', 'remote',
                   'auto', 'cache', 'packs', 'custom', 'budget', 'nnadapter'],
    'core/nnrt_graph.h': ['builder', 'passes', 'session', 'open', 'control', 'onnx_nodes', 'hostile', 'file', 'onnx_import',
                          'quantize', 'states', 'log', 'budget', 'acceptance'],
    'nnrt.h': ['session', 'open', 'control', 'onnx_nodes', 'hostile', 'file', 'cache', 'packs', 'states', 'memory', 'remote',
               'budget', 'acceptance', 'corners', 'auto', 'hdi', 'nnadapter'],
}


WITH_VECTORS = {'ops': [], 'device_vectors': ['--open', 'reference']}  # and their first arguments


def source_of(suite):
    name = suite if suite in ('onnx_nodes', 'device_vectors') else 'test_' + suite
    return os.path.relpath(glob.glob(os.path.join(ROOT, 'tests/*/%s.c' % name))[0], ROOT)


def section_of(text, at):
    """(tag, operator) of the section that contains `at`: ('op', 'softmax'), ('planner', '')."""
    found = ('', '')
    for m in re.finditer(r'^/\* >>(\w+) ?(\w*)', text[:at], re.M):
        tag, name = m.groups()
        found = ('op', name.lower()) if tag in ('op', 'kernel') else (tag, '')
    return found


def vectors():
    return ['tests/ops/vectors/' + f for f in sorted(os.listdir(os.path.join(ROOT, 'tests/ops/vectors'))) if f.endswith('.vec')]


def plan_of(mutant, text):
    """[(suite, arguments)] in the order to try."""
    tag, operator = section_of(text, mutant.start)
    suites = SECTION_FIRST.get(tag, []) + SEES[mutant.header]
    steps = []
    for suite in dict.fromkeys(suites):
        if suite in WITH_VECTORS:
            own = 'tests/ops/vectors/%s.vec' % operator
            steps += [(suite, WITH_VECTORS[suite] + [own])] if own in vectors() else []
            steps.append((suite, WITH_VECTORS[suite] + vectors()))
        else:
            steps.append((suite, []))
    return steps


# ---- compiling them ----

SWITCH = """#ifndef NNRT_MUTANTS
#define NNRT_MUTANTS
#include <stdlib.h>
static int nnrti_mutant __attribute__((unused));
__attribute__((constructor)) static void nnrti_mutant_set(void)
{
    const char *number = getenv("NNRT_MUTANT");
    nnrti_mutant = number != NULL ? atoi(number) : 0;
}
#endif
"""


def with_mutants(text, mutants):
    """(header in which each mutant can be switched on, {line: mutant})"""
    by_body, out, at, line, lines = {}, [], 0, 1, {}
    for m in mutants:
        by_body.setdefault(m.body, []).append(m)

    def put(part):
        nonlocal line
        out.append(part)
        line += part.count('\n')

    for (start, end), group in sorted(by_body.items()):
        put(text[at:start] + '{')
        for m in group:
            put('\nif (nnrti_mutant == %d)\n' % m.number)
            first = line
            put(text[start:m.start] + m.new + text[m.end:end])
            lines.update((n, m) for n in range(first, line + 1))
            put('\nelse')
        put('\n' + text[start:end] + '\n}')
        at = end
    put(text[at:])
    return ''.join(out), lines


class Workplace:
    """A copy of the compiled sources, with changed headers."""

    def __init__(self, folder):
        self.folder, self.objects, self.lock = os.path.abspath(folder), {}, threading.Lock()
        os.makedirs(folder, exist_ok=True)
        for header in HEADERS + ['core/nnrt_frontend.h', 'core/nnrt_text.h']:  # which are not mutated
            os.makedirs(os.path.dirname(os.path.join(folder, header)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, header), os.path.join(folder, header))
        for part in ('compat', 'devices', 'examples', 'formats', 'tests', 'tools'):
            for base, _, files in os.walk(os.path.join(ROOT, part)):
                for name in files:
                    if name.endswith(('.c', '.h')):
                        to = os.path.join(folder, os.path.relpath(base, ROOT))
                        os.makedirs(to, exist_ok=True)
                        shutil.copy(os.path.join(base, name), to)

    def write(self, header, text):
        if header == 'nnrt_ops.h':
            text = SWITCH + text
        with open(os.path.join(self.folder, header), 'w', encoding='ascii') as f:
            f.write(text)

    def complaints(self, header):
        """[(header, line, text)] of clang's errors and warnings."""
        unit = '#define NNRT_IMPLEMENTATION\n#include "%s"\n' % header
        said = subprocess.run(['clang', '-std=c99', EXACT, '-fsyntax-only', '-ferror-limit=0', '-I', '.',
                               '-x', 'c', '-'] + WARNINGS, input=unit, capture_output=True, text=True, errors='replace',
                              cwd=self.folder).stderr
        return [(os.path.normpath(m.group(1)), int(m.group(2)), m.group(3)) for m in
                re.finditer(r'^([^\s:]+):(\d+):\d+: ((?:fatal )?(?:error|warning): .*)', said, re.M)]

    def clang(self, source, result, address, *more):
        done = subprocess.run(['clang', '-std=c99', EXACT, '-O0', '-w'] + (ADDRESS if address else []) +
                              ['-I', self.folder, '-I', self.folder + '/tests/kit', '-o', result,
                               os.path.join(self.folder, source), *more],
                              capture_output=True, text=True, errors='replace')
        if done.returncode != 0:
            raise RuntimeError('%s does not compile:\n%s' % (source, done.stderr[:2000]))
        return result

    def implementation(self, address):
        """The object that all tests share that do not define NNRT_IMPLEMENTATION, with the address sanitizer or without."""
        with self.lock:
            if address not in self.objects:
                path = os.path.join(self.folder, 'address.o' if address else 'plain.o')
                self.objects[address] = self.clang('tests/kit/nnrt.c', path, address, '-c', *ONE_SET)
            return self.objects[address]

    def compile(self, suite):
        source, address = source_of(suite), suite not in PLAIN
        with open(os.path.join(self.folder, source), encoding='utf-8') as f:
            alone = re.search('^#define NNRT_IMPLEMENTATION', f.read(), re.M)
        return self.clang(source, os.path.join(self.folder, 'test_' + suite), address,
                          *([] if alone else [self.implementation(address)]), '-lcmocka', '-lm', '-lpthread')

    def object(self, header):
        """Bytes of the object that gcc -O1 makes from a header's implementation."""
        unit = '#define NNRT_IMPLEMENTATION\n#include "%s"\n' % header
        path = os.path.join(self.folder, 'whole.o')
        subprocess.run(['gcc', '-std=c99', EXACT, '-O1', '-w', '-I', '.', '-x', 'c', '-c', '-o', path, '-'], input=unit,
                       text=True, check=True, cwd=self.folder)
        with open(path, 'rb') as f:
            return f.read()


def choose(slots, texts, place):
    """A mutant of each slot that compiles without a warning, and how many were passed over. place gets the headers."""
    at, passed = [0] * len(slots), 0
    while True:
        chosen = [slot[k] for slot, k in zip(slots, at)]
        where = {}
        for number, m in enumerate(chosen):
            m.number = number + 1
        for header in HEADERS:
            text, where[header] = with_mutants(texts[header], [m for m in chosen if m.header == header])
            place.write(header, text)
        bad = set()
        for header, line, said in place.complaints('nnrt.h'):
            m = where[header].get(line - (SWITCH.count('\n') if header == 'nnrt_ops.h' else 0))
            if m is None:
                raise RuntimeError('%s:%d: %s' % (header, line, said))
            bad.add(m.number - 1)
        if not bad:
            return chosen, passed
        for k in bad:
            at[k] += 1
        passed += len(bad)


def run(program, arguments, limit, number, log):
    """('pass' | 'fail' | 'time', processor seconds, output) of a test with a mutant; limit in such seconds."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    environment = dict(os.environ, ASAN_OPTIONS='hard_rss_limit_mb=3000', NNRT_MUTANT=str(number))
    with open(log, 'w+b') as log:
        p = subprocess.Popen([program] + arguments, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                             preexec_fn=limits, env=environment, start_new_session=True)
        late = threading.Timer(WALL, os.killpg, (p.pid, signal.SIGKILL))
        late.start()
        _, status, used = os.wait4(p.pid, 0)
        late.cancel()
        p.returncode = status
        log.seek(0)
        said = log.read().decode('ascii', 'replace')
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    how = 'time' if ended_by in (signal.SIGXCPU, signal.SIGKILL) else 'pass' if status == 0 else 'fail'
    return how, used.ru_utime + used.ru_stime, said


def first_complaint(said):
    """The line that says most, of a failed test's output."""
    for pattern in (r'^FAIL .*', r'^\[  FAILED  \] [a-z]\w+.*', r'^SUMMARY: .*'):
        m = re.search(pattern, said, re.M)
        if m:
            return ' '.join(m.group().split())[:100]
    m = re.findall(r'^\[ RUN      \] (\w+)', said, re.M)
    return m[-1] if m else ''


class Trial:
    """Shared by all workers: programs that contain every mutant, built on first use."""

    def __init__(self, folder, texts, place):
        self.folder, self.texts, self.place = folder, texts, place
        self.programs, self.objects = {}, {}
        self.lock, self.compiling = threading.Lock(), {suite: threading.Lock() for suite in SUITES}
        self.equivalent = read_equivalent(os.path.join(ROOT, 'tests/kit/mutate_equivalent.txt'))

    def program(self, suite):
        """(program, processor seconds that it may take: ten times those it takes, and passes in, without a mutant)"""
        with self.compiling[suite]:
            if suite not in self.programs:
                program = self.place.compile(suite)
                files = WITH_VECTORS[suite] + vectors() if suite in WITH_VECTORS else []
                how, used, said = run(program, files, 600, 0, program + '.log')
                if how != 'pass':
                    raise RuntimeError('%s fails as things are:\n%s' % (source_of(suite), said[-2000:]))
                self.programs[suite] = program, 3 + int(10 * used)
            return self.programs[suite]

    def same_object(self, mutant, place):
        text = self.texts[mutant.header]
        with self.lock:
            if mutant.header not in self.objects:
                self.objects[mutant.header] = place.object(mutant.header)
        with open(os.path.join(place.folder, mutant.header), 'w', encoding='ascii') as f:
            f.write(text[:mutant.start] + mutant.new + text[mutant.end:])
        same = place.object(mutant.header) == self.objects[mutant.header]
        shutil.copy(os.path.join(ROOT, mutant.header), place.folder)
        return same

    def attempt(self, mutant, place):
        """Sets the mutant's status."""
        text, before = self.texts[mutant.header], time.monotonic()
        mutant.status, mutant.by = 'survived', ''
        for suite, arguments in plan_of(mutant, text):
            program, limit = self.program(suite)
            how, _, said = run(program, arguments, limit, mutant.number, place.folder + '/log')
            if how != 'pass':
                mutant.status = 'noticed' if how == 'fail' else 'time'
                mutant.by = suite + ('' if how == 'time' else ': ' + first_complaint(said))
                break
        if mutant.status == 'survived':
            reason = self.equivalent.get(key_of(mutant, text))
            if reason is None and self.same_object(mutant, place):
                reason = 'the same object'
            if reason is not None:
                mutant.status, mutant.by = 'equivalent', reason
        mutant.seconds = time.monotonic() - before


# ---- reports ----

def changed_lines(mutant, text):
    """(number of the first line, old lines, new lines)"""
    start = text.rfind('\n', 0, mutant.start) + 1
    end = text.find('\n', mutant.end)
    return (text.count('\n', 0, start) + 1, text[start:end].split('\n'),
            (text[start:mutant.start] + mutant.new + text[mutant.end:end]).split('\n'))


def key_of(mutant, text):
    """The key of a change, independent of its line number: header, old and new text with single spaces."""
    _, old, new = changed_lines(mutant, text)
    return mutant.header, ' '.join(' '.join(old).split()), ' '.join(' '.join(new).split())


def read_equivalent(path):
    """{key: reason} of entries of three lines: 'HEADER: reason', '- old', '+ new'; # begins a comment."""
    found = {}
    with open(path, encoding='ascii') as f:
        lines = [line.rstrip('\n') for line in f if line.strip() and not line.startswith('#')]
    for head, old, new in zip(lines[0::3], lines[1::3], lines[2::3]):
        header, _, reason = head.partition(': ')
        if header not in HEADERS or not reason or old[:2] != '- ' or new[:2] != '+ ':
            sys.exit('%s: not an entry: %s' % (path, head))
        found[header, ' '.join(old[2:].split()), ' '.join(new[2:].split())] = reason
    return found


def diff_of(mutant, text):
    line, old, new = changed_lines(mutant, text)
    return '%s:%d (%s)\n%s' % (mutant.header, line, mutant.kind, ''.join(
        d + '\n' for d in list(difflib.ndiff(old, new)) if d[0] in '-+'))


def read_results(folder):
    """{key: (status, by)} of the last results."""
    with open(os.path.join(folder, 'results.tsv'), encoding='ascii') as f:
        rows = [line.rstrip('\n').split('\t') for line in f][1:]
    return {(r[0], r[6], r[7]): (r[3], r[4]) for r in rows}


class Progress:
    """A progress bar on a terminal."""

    def __init__(self, total):
        self.total, self.done, self.survived = total, 0, 0
        self.start, self.on = time.monotonic(), sys.stderr.isatty()

    def step(self, mutant):
        self.done += 1
        self.survived += mutant.status == 'survived'
        if self.on:
            full = 30 * self.done // self.total
            left = (time.monotonic() - self.start) * (self.total - self.done) / self.done
            sys.stderr.write('\r[%s%s] %d of %d, %d survived, %d min left ' % (
                '#' * full, '.' * (30 - full), self.done, self.total, self.survived, (left + 59) // 60))
            sys.stderr.write('\n' if self.done == self.total else '')
            sys.stderr.flush()


def report(mutants, stillborn, seed, seconds, folder, texts, enough):
    """Prints the figures, writes the files; the percentage."""
    count = {s: sum(m.status == s for m in mutants) for s in ('noticed', 'time', 'survived', 'equivalent')}
    by = {}
    for m in mutants:
        if m.status == 'noticed':
            suite = m.by.partition(':')[0]
            by[suite] = by.get(suite, 0) + 1
    with open(os.path.join(folder, 'results.tsv'), 'w', encoding='ascii') as f:
        f.write('header\tline\tkind\tstatus\tby\tseconds\told\tnew\n')
        for m in mutants:
            key = key_of(m, texts[m.header])
            f.write('%s\t%d\t%s\t%s\t%s\t%.1f\t%s\t%s\n' % (
                m.header, changed_lines(m, texts[m.header])[0], m.kind, m.status, m.by, m.seconds, key[1], key[2]))
    survivors = ''.join(diff_of(m, texts[m.header]) + '\n' for m in mutants if m.status == 'survived')
    sys.stdout.write(survivors)
    for header in HEADERS:
        own = [m for m in mutants if m.header == header]
        if own:
            print('%-11s %3d mutants, %3d survived' % (header, len(own), sum(m.status == 'survived' for m in own)))
    for kind in KINDS:
        own = [m for m in mutants if m.kind == kind]
        if own:
            print('%-11s %3d mutants, %3d survived' % (kind, len(own), sum(m.status == 'survived' for m in own)))
    print('noticed by', ', '.join('%s %d' % (s, by[s]) for s in SUITES + ['no compilation'] if s in by))
    print('seed %s, %d mutants in %d s: %d noticed, %d by the time they took, %d survived, %d equivalent (of these %d by '
          'their object); %d drawn anew' % (seed, len(mutants), seconds, count['noticed'], count['time'],
                                            count['survived'], count['equivalent'],
                                            sum(m.by == 'the same object' for m in mutants), stillborn))
    good, all_of_them = count['noticed'] + count['time'], len(mutants) - count['equivalent']
    percent = 100.0 * good / max(all_of_them, 1)
    print('mutants noticed: %d of %d, %.1f %%; with the equivalent ones %.1f %%; at least %d %% wanted' % (
        good, all_of_them, percent, 100.0 * good / max(len(mutants), 1), enough))
    return percent


def shares(lines, number):
    """How many mutants each header gets, in proportion to its lines."""
    total = sum(lines.values())
    exact = {h: number * n / total for h, n in lines.items()}
    share = {h: int(x) for h, x in exact.items()}
    for h in sorted(exact, key=lambda h: share[h] - exact[h])[:number - sum(share.values())]:
        share[h] += 1
    return share


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--seed', default='1')
    p.add_argument('--number', type=int, default=300)
    p.add_argument('--jobs', type=int, default=2)
    p.add_argument('--enough', type=float, default=ENOUGH)
    p.add_argument('--header', choices=[''] + HEADERS, default='')
    p.add_argument('--ops', default='', help='only these operators; new: those that HDI 1.0 lacks')
    p.add_argument('--again', action='store_true', help='only those that survived the last time')
    p.add_argument('--out', default=os.path.join(ROOT, 'build/mutate'))
    o = p.parse_args()
    ops = chosen_operators(o.ops)
    headers = ['nnrt_ops.h'] if ops else [o.header] if o.header else HEADERS
    begin, texts, every, lines = time.monotonic(), {}, {}, {}
    for h in HEADERS:
        with open(os.path.join(ROOT, h), encoding='ascii') as f:
            texts[h] = f.read()
    for h in headers:
        found, lines[h] = mutants_of(h, texts[h], ops)
        every[h] = shuffled(found, random.Random('%s %s' % (o.seed, h)))
    share = shares(lines, o.number)
    # Place k of a header tries mutants k, k + share, ... until one compiles: the same ones with any number of workers.
    place = Workplace(os.path.join(o.out, 'all'))
    chosen, passed = choose([every[h][k::share[h]] for h in headers for k in range(share[h])], texts, place)
    trial = Trial(o.out, texts, place)
    before = read_results(o.out) if o.again else {}
    progress, places = Progress(len(chosen)), [Workplace(os.path.join(o.out, 'work%d' % i)) for i in range(o.jobs)]

    def work(mutant):
        mutant.status, mutant.by = before.get(key_of(mutant, texts[mutant.header]), ('survived', ''))
        if mutant.status == 'survived':
            with trial.lock:
                own = places.pop()
            trial.attempt(mutant, own)
            with trial.lock:
                places.append(own)
        with trial.lock:
            progress.step(mutant)
            if mutant.status == 'survived':
                survivors.write(diff_of(mutant, texts[mutant.header]) + '\n')
                survivors.flush()

    with open(os.path.join(o.out, 'survivors.txt'), 'w', encoding='ascii') as survivors, \
            concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        list(pool.map(work, chosen))
    percent = report(chosen, passed, o.seed, time.monotonic() - begin, o.out, texts, o.enough)
    return 0 if percent >= o.enough else 1


if __name__ == '__main__':
    sys.exit(main())
