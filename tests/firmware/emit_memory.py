"""emit_memory.py NNRT OBJECT FOLDER: memory regions, sections and states of nnrt emit-c. Part of tests/firmware/test_emit_memory.sh.

Random networks are emitted with one to three regions whose sizes follow from the arena, compiled with the sanitizers, and
run: in blocks of exactly the bytes that the header states, and between guards. Each last region of N bytes works, of N - 1
is refused. Networks with states run 20 steps beside a session that is given its own outputs back; the session is that of OBJECT, the
implementation with sanitizers, which takes longer to compile than everything here. Prints a line for each fault, then "N passed, M
failed". $CLANG compiles."""
import os
import random
import re
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../kit'))
import commands  # noqa: E402

NNRT, OBJECT, FOLDER = sys.argv[1:4]
CLANG = os.environ.get('CLANG', 'clang').split()
FLAGS = ['-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Wshadow', '-Werror', '-I.', '-I' + FOLDER, '-O0',
         '-DNNRT_CPU=0', '-fsanitize=address,undefined', '-fno-sanitize-recover=all']
FIRMWARE = ['-DNNRT_IMPLEMENTATION', '-DNNRT_STATIC', '-DNNRT_FIRMWARE']  # the functions that models do not call are not compiled
NETWORKS = 24
passed = failed = 0


def check(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print('FAIL ' + what)


def nnrt(*arguments):
    """The exit status, and the output of both streams."""
    done = commands.run(NNRT, *arguments, text=True)
    return done.returncode, done.stdout + done.stderr


class Network:
    """A network of random nodes, whose values are [1,C,H,W]."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.numbers = numpy.random.default_rng(seed)
        self.nodes, self.constants, self.values = [], [], [('x', (1, 3, 8, 8))]
        for _ in range(self.draw.randint(4, 14)):
            getattr(self, self.draw.choice(['conv', 'conv', 'unary', 'binary', 'binary', 'concat', 'pool', 'turn', 'view', 'lstm',
                                            'top']))()
        outputs = [self.values[-1]] + self.draw.sample(self.values[1:-1], min(self.draw.randint(0, 2), len(self.values) - 2))
        self.outputs = list(dict.fromkeys(outputs))

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(array, 'c%d' % len(self.constants)))
        return self.constants[-1].name

    def floats(self, *shape):
        return self.constant(self.numbers.standard_normal(shape, numpy.float32))

    def node(self, op, inputs, shape, **attributes):
        name = 'v%d' % len(self.values)
        outputs = {'LSTM': [name], 'TopK': [name, '']}.get(op, [name])
        self.nodes.append(helper.make_node(op, inputs, outputs, 'n%d' % len(self.nodes), **attributes))
        self.values.append((name, tuple(shape)))

    def pick(self):
        return self.values[-1] if self.draw.random() < 0.5 else self.draw.choice(self.values)

    def conv(self):
        name, (_, c, h, w) = self.pick()
        o, k = self.draw.randint(1, 8), self.draw.choice([1, 3])
        self.node('Conv', [name, self.floats(o, c, k, k), self.floats(o)], (1, o, h, w), pads=[k // 2] * 4)

    def unary(self):
        name, shape = self.pick()
        self.node(self.draw.choice(['Relu', 'Tanh', 'Neg', 'Softmax']), [name], shape)

    def binary(self):
        name, shape = self.pick()
        same = [n for n, s in self.values if s == shape]
        self.node(self.draw.choice(['Add', 'Mul', 'Sub']), [name, self.draw.choice(same)], shape)

    def concat(self):
        name, (_, c, h, w) = self.pick()
        other, s = self.draw.choice([v for v in self.values if v[1][2:] == (h, w)])
        if c + s[1] <= 32:
            self.node('Concat', [name, other], (1, c + s[1], h, w), axis=1)

    def pool(self):
        name, (_, c, h, w) = self.pick()
        if h % 2 == w % 2 == 0:
            self.node('MaxPool', [name], (1, c, h // 2, w // 2), kernel_shape=[2, 2], strides=[2, 2])

    def turn(self):
        name, (_, c, h, w) = self.pick()
        self.node('Transpose', [name], (1, c, w, h), perm=[0, 1, 3, 2])

    def view(self):
        name, (_, c, h, w) = self.pick()
        self.node('Reshape', [name, self.constant(numpy.array([1, c, h * w, 1], numpy.int64))], (1, c, h * w, 1))

    def lstm(self):
        name, (_, c, h, w) = self.pick()
        if h * w <= 64:
            self.node('Reshape', [name, self.constant(numpy.array([c, 1, h * w], numpy.int64))], (c, 1, h * w))
            sequence = self.values.pop()[0]
            self.nodes[-1].output[0] = sequence = sequence + '_sequence'
            self.node('LSTM', [sequence, self.floats(1, 16, h * w), self.floats(1, 16, 4)], (c, 1, 1, 4), hidden_size=4)
            steps = self.values.pop()[0]
            self.nodes[-1].output[0] = steps = steps + '_steps'
            self.node('Reshape', [steps, self.constant(numpy.array([1, c, 1, 4], numpy.int64))], (1, c, 1, 4))

    def top(self):
        name, (_, c, h, w) = self.pick()
        self.node('TopK', [name, self.constant(numpy.array([w], numpy.int64))], (1, c, h, w))

    def save(self, path):
        info = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, 'random', [info('x', TensorProto.FLOAT, [1, 3, 8, 8])],
                                  [info(n, TensorProto.FLOAT, s) for n, s in self.outputs], self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)


def macro(text, name):
    return int(re.search(r'#define \w+_%s_BYTES (\d+)' % name, text).group(1))


def plan_of(text):
    """Arguments and steps, whose names differ only by that of the model."""
    return re.findall(r'^    \{.*NNRT_PLACE.*$|^    \{nnrti?_.*$', text, re.M)


def emit(model, name, *options):
    path = '%s/%s.h' % (FOLDER, name)
    status, text = nnrt('emit-c', model, '-o', path, '--name', name, *options)
    return open(path).read() if status == 0 else None, text


def regions(model, name, sizes, options, headers):
    """Emits with regions of these sizes; the last is as large as it must be: None."""
    names = ['fast', 'middle', 'slow'][:len(sizes) - 1] + ['last']
    given = ['--region=%s=%d' % z for z in zip(names, sizes[:-1])]
    text, told = emit(model, name, *options, *given, '--region=last=100000000')
    if text is None:
        return check(False, '%s: regions %s: %s' % (name, sizes, told))
    need = [macro(text, n.upper()) for n in names]
    exact, told = emit(model, name, *options, *given, '--region=last=%d' % max(need[-1], 1))
    check(exact is not None and plan_of(exact) == plan_of(text), '%s: %d bytes of the last region: %s' % (name, need[-1], told))
    check(all(n <= s for n, s in zip(need, sizes[:-1])), '%s: %s bytes in regions of %s' % (name, need, sizes))
    if need[-1] > 1:
        none, told = emit(model, name + '_less', *options, *given, '--region=last=%d' % (need[-1] - 1))
        check(none is None and "memory region 'last' requires %d bytes and has %d: raise it" % (need[-1], need[-1] - 1) in told,
              '%s: a byte less: %s' % (name, told))
    headers.append((name, names))
    return exact


def c_main(headers):
    """A program that runs each self-test in blocks of exactly its bytes, and between guards."""
    out = ['#define NNRT_REGIONS', '#include "nnrt.h"', '#include <stdio.h>', '#include <stdlib.h>'] + ['#include "%s.h"' % n for n, _ in headers]
    out.append('''
static int faults;
static int kept(const uint64_t *guard, const uint64_t *end)
{
    while (guard < end && *guard == UINT64_C(0x5A5A5A5A5A5A5A5A))
        guard++;
    return guard == end;
}
int main(void)
{''')
    for name, memories in headers:
        out.append('    {')
        for m in memories:
            bytes_ = '%s_%s_BYTES' % (name.upper(), m.upper())
            out.append('        static struct { uint64_t before[8], data[%s_%s_WORDS], after[8]; } %s;' % (name.upper(), m.upper(), m))
            out.append('        void *exact_%s = malloc(%s > 0 ? %s : 1);' % (m, bytes_, bytes_))
        for m in memories:
            out.append('        memset(&%s, 0x5A, sizeof(%s));' % (m, m))
        out.append('        if (%s_selftest(%s) != NNRT_SUCCESS)' % (name, ', '.join('exact_' + m for m in memories)))
        out.append('            faults += printf("FAIL %s: other bits\\n") > 0;' % name)
        out.append('        if (%s_selftest(%s) != NNRT_SUCCESS)' % (name, ', '.join(m + '.data' for m in memories)))
        out.append('            faults += printf("FAIL %s: other bits between guards\\n") > 0;' % name)
        for m in memories:
            out.append('        if (!kept(%s.before, %s.before + 8) || !kept(%s.after, %s.after + 8))' % (m, m, m, m))
            out.append('            faults += printf("FAIL %s: writes beside %s\\n") > 0;' % (name, m))
            out.append('        free(exact_%s);' % m)
        out.append('    }')
    return '\n'.join(out + ['    return faults > 0;', '}', ''])


def compiled(name, text, *options):
    """Compiles FOLDER/NAME.c; whether that succeeds."""
    path = '%s/%s' % (FOLDER, name)
    open(path + '.c', 'w').write(text)
    done = subprocess.run(CLANG + FLAGS + [path + '.c', *options], capture_output=True, text=True)
    check(done.returncode == 0, '%s does not compile:\n%s' % (name, done.stderr[:2000]))
    return done.returncode == 0


def run(name, text, *options):
    """Compiles a program and runs it."""
    path = '%s/%s' % (FOLDER, name)
    if compiled(name, text, *FIRMWARE, *options, '-o', path, '-lm'):
        done = subprocess.run([path], capture_output=True, text=True)
        check(done.returncode == 0, '%s:\n%s' % (name, (done.stdout + done.stderr)[:3000]))


def with_regions(model, name, options, plain, draw, headers):
    """Emits a model with one to three regions; the number of plans that are divided."""
    arena, split = macro(plain, 'ARENA'), 0
    same = [line.replace(name + '_plain', name) for line in plan_of(plain)]
    if arena == 0:
        return 0
    one = regions(model, name + '_a', [None], options, headers)
    check(one is not None and [line.replace(name + '_a', name) for line in plan_of(one)] == same and macro(one, 'LAST') == arena,
          '%s: one region is another plan than the arena' % name)
    fits, told = emit(model, name + '_b', *options, '--region=fast=%d' % arena, '--region=slow=1')
    check(fits is not None and [line.replace(name + '_b', name) for line in plan_of(fits)] == same and
          macro(fits, 'FAST') == arena and macro(fits, 'SLOW') == 0, '%s: what fits the first region is another plan' % name)
    headers.append((name + '_b', ['fast', 'slow']))
    for k, sizes in enumerate(([draw.randint(8, max(8, arena - 1)), None],
                               [draw.randint(16, max(16, arena // 2)), draw.randint(8, max(8, arena // 2)), None])):
        text = regions(model, name + '_' + 'cd'[k], sizes, options, headers)
        split += text is not None and 'NNRT_REGION(1)' in text
    return split


def random_networks():
    headers, split, scratch = [], 0, 0
    for seed in range(NETWORKS):
        model, name = '%s/random%d.onnx' % (FOLDER, seed), 'r%d' % seed
        Network(seed).save(model)
        draw = random.Random(seed)
        options = ['--no-optimize'] if seed % 3 == 0 else []
        plain, told = emit(model, name + '_plain', *options)
        if plain is None:
            check(False, '%s: %s' % (name, told))
            continue
        scratch += bool(re.search(r', [1-9]\d*\}[,;]?$', '\n'.join(plan_of(plain)), re.M))
        split += with_regions(model, name, options, plain, draw, headers)
    for name in 'nested', 'swap', 'sums', 'until', 'shared', 'fault':  # of emit_subgraphs.c, with IF and LOOP
        model = '%s/%s.nnrt' % (FOLDER, name)
        plain, told = emit(model, name + '_plain')
        check(plain is not None and with_regions(model, name, [], plain, random.Random(name), headers) > 0, name + ' with regions' + told)
    check(split >= NETWORKS, 'only %d plans have several regions' % split)
    check(scratch >= 3, 'only %d plans have scratch' % scratch)
    run('regions', c_main(headers))


def state_network(path):
    """States of every kind: `acc` is added to in place; `h`, read by a product before it is written; `late`, of which the old
    value is read afterwards; `a` and `b`, which change places; `hidden` and `cell` of an LSTM."""
    numbers = numpy.random.default_rng(7)
    n = lambda name, *shape: numpy_helper.from_array((numbers.standard_normal(shape) / 2).astype(numpy.float32), name)
    node, info = helper.make_node, helper.make_tensor_value_info
    shapes = {'x': [1, 6], 'acc': [1, 6], 'h': [1, 5], 'late': [1, 6], 'a': [3], 'b': [3], 'hidden': [1, 1, 4], 'cell': [1, 1, 4]}
    out = {'acc2': [1, 6], 'h2': [1, 5], 'late2': [1, 6], 'a2': [3], 'b2': [3], 'hidden2': [1, 1, 4], 'cell2': [1, 1, 4],
           'y': [1, 6], 'z': [1, 1, 1, 4]}
    nodes = [node('Add', ['acc', 'x'], ['acc2']), node('MatMul', ['h', 'wh'], ['q']), node('MatMul', ['x', 'wx'], ['p']),
             node('Add', ['p', 'q'], ['s']), node('Tanh', ['s'], ['h2']), node('Mul', ['late', 'x'], ['late2']),
             node('Sub', ['late2', 'late'], ['y']), node('Identity', ['b'], ['a2']), node('Identity', ['a'], ['b2']),
             node('Reshape', ['x', 'three'], ['sequence']),
             node('LSTM', ['sequence', 'w', 'r', 'bias', '', 'hidden', 'cell'], ['z', 'hidden2', 'cell2'], hidden_size=4)]
    constants = [n('wx', 6, 5), n('wh', 5, 5), n('w', 1, 16, 6), n('r', 1, 16, 4), n('bias', 1, 32),
                 numpy_helper.from_array(numpy.array([1, 1, 6], numpy.int64), 'three')]
    graph = helper.make_graph(nodes, 'states', [info(k, TensorProto.FLOAT, v) for k, v in shapes.items()],
                              [info(k, TensorProto.FLOAT, v) for k, v in out.items()], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)
    return [(k, k + '2') for k in shapes if k != 'x'], shapes, out


SESSION = '''
#include "nnrt.h"

int session_open(const char *path);
int session_run(float (*buffers)[64], const int *counts, int inputs, int outputs);
void session_close(void);

static NNRT_Model *model;
static nnrt_session *session;

int session_open(const char *path)
{
    nnrt_session_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.device = "reference";
    return nnrt_model_load(&model, path, NULL, NULL) == NNRT_SUCCESS &&
           nnrt_session_create(&session, model, &desc, NULL) == NNRT_SUCCESS;
}

int session_run(float (*buffers)[64], const int *counts, int inputs, int outputs)
{
    nnrt_io io[32];
    for (int i = 0; i < inputs + outputs; i++)
        io[i] = nnrt_io_make(buffers[i], (size_t)counts[i] * sizeof(float));
    return nnrt_run(session, io, (uint32_t)inputs, io + inputs, (uint32_t)outputs) == NNRT_SUCCESS;
}

void session_close(void)
{
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
}
'''
STATES_MAIN = '''
#define NNRT_REGIONS
#include "nnrt.h"
#include <stdio.h>
#include "states.h"
#include "flat.h"
#include "r0_plain.h"
#include "r1_plain.h"

enum { INPUTS = %(inputs)d, OUTPUTS = %(outputs)d };
static const int counts[INPUTS + OUTPUTS] = {%(counts)s};
static const int next[INPUTS] = {%(next)s}; /* per input: the output that is its next value; -1: none */
static float buffers[INPUTS + OUTPUTS][64];
static int faults;
#define EXPECT(condition, ...) ((condition) ? (void)0 : (void)(faults++, printf(__VA_ARGS__)))

int session_open(const char *path);
int session_run(float (*buffers)[64], const int *counts, int inputs, int outputs);
void session_close(void);

static void run_states(void)
{
    struct { uint64_t before[8], data[STATES_STATE_WORDS], after[8]; } state;
    static uint64_t fast[STATES_FAST_WORDS], slow[STATES_SLOW_WORDS], flat[FLAT_ARENA_WORDS], flatState[FLAT_STATE_WORDS];
    memset(&state, 0x5A, sizeof(state));
    states_state_reset(state.data);
    flat_state_reset(flatState);
    states_state_of_a(state.data)[1] = flat_state_of_a(flatState)[1] = buffers[%(a)d][1] = 2.5f; /* not all begin with 0 */
    states_state_of_acc(state.data)[2] = flat_state_of_acc(flatState)[2] = buffers[%(acc)d][2] = -1;
    for (int step = 0; step < 20; step++) {
        float y[6], z[4], y2[6], z2[4];
        for (int k = 0; k < 6; k++)
            buffers[0][k] = (float)((step * 7 + k * 3) %% 11 - 5) / 4;
        memset(fast, step, sizeof(fast));
        memset(flat, step, sizeof(flat));
        EXPECT(session_run(buffers, counts, INPUTS, OUTPUTS), "FAIL session, step %%d\\n", step);
        EXPECT(states_run_in(fast, slow, state.data, buffers[0], y, z) == NNRT_SUCCESS, "FAIL states, step %%d\\n", step);
        EXPECT(flat_run_in(flat, flatState, buffers[0], y2, z2) == NNRT_SUCCESS, "FAIL flat, step %%d\\n", step);
        EXPECT(memcmp(y, buffers[%(y)d], sizeof(y)) == 0 && memcmp(z, buffers[%(z)d], sizeof(z)) == 0 &&
                   memcmp(y2, y, sizeof(y)) == 0 && memcmp(z2, z, sizeof(z)) == 0,
               "FAIL other bits in step %%d\\n", step);
        for (int i = 1; i < INPUTS; i++)
            memcpy(buffers[i], buffers[INPUTS + next[i]], (size_t)counts[i] * sizeof(float));
%(same)s
    }
    for (int k = 0; k < 8; k++)
        EXPECT(state.before[k] == UINT64_C(0x5A5A5A5A5A5A5A5A) && state.after[k] == state.before[k], "FAIL beside the state\\n");
    states_state_reset(state.data);
    for (int k = 0; k < STATES_STATE_WORDS; k++)
        EXPECT(state.data[k] == 0, "FAIL reset leaves word %%d\\n", k);
}

/* Two models take turns in one arena, which has the larger of their sizes. */
static void run_shared(void)
{
#define SHARED_WORDS (R0_PLAIN_ARENA_WORDS > R1_PLAIN_ARENA_WORDS ? R0_PLAIN_ARENA_WORDS : R1_PLAIN_ARENA_WORDS)
    static uint64_t arena[SHARED_WORDS];
    for (int i = 0; i < 3; i++)
        EXPECT(r0_plain_selftest(arena) == NNRT_SUCCESS && r1_plain_selftest(arena) == NNRT_SUCCESS,
               "FAIL two models in one arena, time %%d\\n", i);
}

int main(void)
{
    if (!session_open("%(path)s"))
        return printf("FAIL no session\\n");
    run_states();
    run_shared();
    {
        static uint64_t fast[STATES_FAST_WORDS], slow[STATES_SLOW_WORDS], flat[FLAT_ARENA_WORDS];
        const char *node;
        EXPECT(states_selftest(fast, slow) == NNRT_SUCCESS && flat_selftest_node(flat, &node) == NNRT_SUCCESS,
               "FAIL the self-test of a model with states\\n");
    }
    session_close();
    return faults > 0;
}
'''


def states():
    model = FOLDER + '/states.onnx'
    pairs, shapes, out = state_network(model)
    given = ['--state=%s=%s' % p for p in pairs]
    plain, _ = emit(model, 'flat')
    arena = macro(plain, 'ARENA')
    text, told = emit(model, 'states', *given, '--region=fast=%d' % (arena * 2 // 3), '--region=slow=10000')
    check(text is not None and 'NNRT_REGION(1)' in text, 'states with regions: ' + told)
    flat, told = emit(model, 'flat', *given, '--golden', 'random:3')
    check(flat is not None, 'states: ' + told)
    status, told = nnrt('convert', model, FOLDER + '/states.nnrt')
    check(status == 0, told)
    if text is None or flat is None:
        return
    kinds = dict(re.findall(r'^   state    (\w+) = \w+, (in place|two buffers)$', text, re.M))
    want = {'acc': 'in place', 'h': 'in place', 'late': 'two buffers', 'a': 'two buffers', 'b': 'in place', 'hidden': 'two buffers',
            'cell': 'two buffers'}
    check(kinds == want, 'states are %s' % kinds)
    check(re.search(r'states_run_in\(void \*fast, void \*slow, void \*state, const float x\[6\], float y\[6\], float z\[4\]\);', text),
          'parameters of a model with states')
    names, results = list(shapes), list(out)
    elements = lambda shape: int(numpy.prod(shape))
    text = STATES_MAIN % {
        'inputs': len(names), 'outputs': len(results), 'path': FOLDER + '/states.nnrt',
        'counts': ', '.join(str(elements(s)) for s in list(shapes.values()) + list(out.values())),
        'next': ', '.join(str(results.index(n + '2')) if n != 'x' else '-1' for n in names),
        'a': names.index('a'), 'acc': names.index('acc'), 'y': len(names) + results.index('y'), 'z': len(names) + results.index('z'),
        'same': '\n'.join('        EXPECT(memcmp(%s_state_of_%s(%s), buffers[%d], %d) == 0, "FAIL state %s, step %%d\\n", step);' %
                          (m, n, 'state.data' if m == 'states' else 'flatState', i, 4 * elements(shapes[n]), n)
                          for m in ('states', 'flat') for i, n in enumerate(names) if n != 'x')}
    if compiled('session', SESSION, '-c', '-o', FOLDER + '/session.o'):
        run('states', text, FOLDER + '/session.o', OBJECT, '-lpthread')


def quantized_state():
    """A state in int8 begins with its zero point; each run adds b, which is 2 b in units of the scale."""
    model = FOLDER + '/zero.onnx'
    values = {'s': numpy.float32(0.5), 'z': numpy.int8(-3), 'b': numpy.arange(1, 7, dtype=numpy.float32).reshape(1, 6)}
    node, info = helper.make_node, helper.make_tensor_value_info
    graph = helper.make_graph([node('DequantizeLinear', ['x', 's', 'z'], ['f']), node('Add', ['f', 'b'], ['g']),
                               node('QuantizeLinear', ['g', 's', 'z'], ['y'])], 'zero', [info('x', TensorProto.INT8, [1, 6])],
                              [info('y', TensorProto.INT8, [1, 6])],
                              [numpy_helper.from_array(numpy.asarray(v), k) for k, v in values.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), model)
    text, told = emit(model, 'zero', '--state=x=y')
    check(text is not None, told)
    run('zero', '''
#include "nnrt.h"
#include <stdio.h>
#include "zero.h"
int main(void)
{
    static uint64_t arena[ZERO_ARENA_WORDS], state[ZERO_STATE_WORDS];
    zero_state_reset(state);
    for (int step = 0; step < 5; step++) {
        for (int k = 0; k < 6; k++)
            if (zero_state_of_x(state)[k] != 2 * step * (k + 1) - 3)
                return printf("FAIL step %d, element %d is %d\\n", step, k, (int)zero_state_of_x(state)[k]);
        if ((step % 2 == 0 ? zero_run_in(arena, state) : zero_run(state)) != NNRT_SUCCESS)
            return printf("FAIL step %d\\n", step);
    }
    return 0;
}
''')


def refused():
    """Arguments and models that emit-c refuses, and the words."""
    digits, states_ = 'examples/digits/digits.onnx', FOLDER + '/states.onnx'
    for model, options, status, words in (
            (states_, ['--state=acc=late2', '--state=acc=acc2'], 1, 'the input is in another state'),
            (states_, ['--state=acc=acc2', '--state=late=acc2'], 1, 'the output is in another state'),
            (states_, ['--state=acc=h2'], 1, 'the input is float32[1,6], the output float32[1,5]; a state has one type and shape'),
            (states_, ['--state=acc2=acc'], 2, 'IN an input of the model'),
            (states_, ['--state=acc'], 2, 'expected IN=OUT'),
            (states_, ['--state=acc=acc3'], 2, "the model has no output 'acc3'"),
            (digits, ['--region=a'], 2, 'expected NAME=BYTES'), (digits, ['--region=a=0'], 2, 'expected NAME=BYTES'),
            (digits, ['--region=7=100'], 2, 'expected NAME=BYTES'), (digits, ['--region=int=100'], 2, 'expected NAME=BYTES'),
            (digits, ['--region=state=100'], 2, 'expected NAME=BYTES'),
            (digits, ['--region=a=268435456'], 2, 'expected NAME=BYTES'),
            (digits, ['--region=a=100000', '--region=A=100000'], 2, "there is a region 'a'"),
            (digits, ['--region=r%d=1000000' % i for i in range(9)], 2, 'at most 8 regions'),
            (digits, ['--region=a=47039'], 1, "memory region 'a' requires 47040 bytes and has 47039"),
            (digits, ['--region=a=8', '--region=b=20000', '--region=c=90000'], 1,
             "memory region 'a' requires 16 bytes and has 8: it begins with the addresses of the others"),
            (digits, ['--section=a'], 2, 'expected NAME=PATTERN'), (digits, ['--section=a='], 2, 'expected NAME=PATTERN'),
            (digits, ['--section=a=nothing*'], 1, 'it fits no constant'), (digits, ['--section=a=>40000'], 1, 'it fits no constant')):
        got, told = nnrt('emit-c', model, '-o', FOLDER + '/x.h', *options)
        check(got == status and words in told, '%s: status %d: %s' % (' '.join(options), got, told))
    check(not os.path.exists(FOLDER + '/x.h'), 'a refused call left a file')


def sections():
    """Constants in sections: by the name of a node, by the name of a tensor, by size; the first that fits."""
    weights = [numpy_helper.from_array(numpy.ones(s, numpy.float32), n) for n, s in (('first.weight', (6, 50)), ('second.weight', (50, 4)))]
    node, info = helper.make_node, helper.make_tensor_value_info
    graph = helper.make_graph([node('MatMul', ['x', 'first.weight'], ['t'], 'first'), node('MatMul', ['t', 'second.weight'], ['y'], 'second')],
                              'two', [info('x', TensorProto.FLOAT, [1, 6])], [info('y', TensorProto.FLOAT, [1, 4])], weights)
    model = FOLDER + '/two.onnx'
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), model)
    for options, want in ((['flash2=first'], {300: '_flash2', 200: ''}), (['q=*d.weight', 'big=>100'], {300: '_big', 200: '_q'}),
                          (['big=>800'], {300: '_big', 200: ''}), (['big=>799'], {300: '_big', 200: '_big'}),
                          (['a=f?rst', 'a=s*'], {300: '_a', 200: '_a'}), (['a=*'], {300: '_a', 200: '_a'})):
        text, told = emit(model, 'two', '--no-optimize', *['--section=' + o for o in options])
        found = {int(n): s for s, n in re.findall(r'^static const TWO_DATA(\w*) float two_c\d+\[(\d+)\]', text or '', re.M)}
        check({n: found.get(n) for n in want} == want, 'sections %s: %s %s' % (options, found, told))
    emit(model, 'two', '--section=flash2=first')
    run('sections', '''
#include <stdio.h>
#define TWO_DATA_flash2 __attribute__((section("nn_flash2")))
#include "nnrt.h"
#include "two.h"
extern const char __start_nn_flash2[], __stop_nn_flash2[]; /* by the linker */
int main(void)
{
    static uint64_t arena[TWO_ARENA_WORDS];
    if (two_selftest(arena) != NNRT_SUCCESS)
        return printf("FAIL other bits\\n");
    return __stop_nn_flash2 - __start_nn_flash2 < 1200 || __stop_nn_flash2 - __start_nn_flash2 > 1600;
}
''', '-fno-sanitize=address')


random_networks()
states()
quantized_state()
refused()
sections()
print('%d passed, %d failed' % (passed, failed))
sys.exit(failed > 0)
