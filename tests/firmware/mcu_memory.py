"""mcu_memory.py NNRT MCU_LAYERS FOLDER TARGET...: memory of plans of mcu:TARGET as C. Part of tests/firmware/test_mcu_emit.sh.

Random networks and layers are emitted with an arena and with two regions. The stated N bytes are enough, N - 1 are refused.
The programs run in blocks of exactly these bytes, which the address sanitizer guards, and between guard bytes: arena,
regions, inputs, outputs, and an arena that all models share. Results are the expected ones, and inputs stay. With the
number of a kind of block a program makes these blocks shorter, and the test must notice it. Convolutions overwrite their
inputs (NNRT_STEP_OVERLAP) in some plans of every target. Prints faults, then "N passed, M failed". $CLANG compiles."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../kit'))
import commands  # noqa: E402

NNRT, LAYERS, FOLDER = sys.argv[1:4]
CLANG = os.environ.get('CLANG', 'clang').split()
FLAGS = ['-std=c99', '-Wall', '-Wextra', '-Wconversion', '-Wshadow', '-Werror', '-I.', '-I' + FOLDER, '-O0', '-DNNRT_FIRMWARE',
         '-DNNRT_STATIC', '-DNNRT_REGIONS', '-fno-sanitize-recover=all']
OVERLAPPING = [26, 29, 74, 78]  # seeds of networks in which an overlap makes the arena smaller
MODELS = ['graph:%d' % seed for seed in [*range(1, 13), *OVERLAPPING]]
MODELS += ['conv 3x3 16x16x16', 'depthwise 3x3 6x6x128', 'full 64 to 10']
passed = failed = 0


def check(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print('FAIL ' + what)


def emit(name, target, *options):
    """The emitted text, None if refused; and the output."""
    path = '%s/%s.h' % (FOLDER, name)
    model = '%s/memory%s.nnrt' % (FOLDER, re.match(r'm(\d+)', name).group(1))
    done = commands.run(NNRT, 'emit-c', model, '--device', 'mcu:' + target, '-o', path, '--name', name, *options, text=True)
    return (open(path).read() if done.returncode == 0 else None), done.stdout + done.stderr


def macro(text, name):
    return int(re.search(r'#define \w+_%s_BYTES (\d+)' % name, text).group(1))


def overlaps(text):
    """Number of convolutions whose result begins at the address of their input in the arena."""
    args = re.findall(r'(NNRT_PLACE_\w+, [^,]+)(?:, [^,]+)?\}[,;}]', text)
    count = 0
    for first, n_in, n_derived in re.findall(r'"nnrt_mcu_(?:conv|depthwise)\w+"\), .*, \d+, (\d+), (\d+), (\d+), 1, [^,]+(?: \+ \d+)?, \d+ N',
                                             text):
        x, y = args[int(first)], args[int(first) + int(n_in) + int(n_derived)]
        count += x == y and 'ARENA' in x
    return count


def emitted(name, target, text):
    """Emits a model, whose text with an arena is known, with two regions: names, memories and texts. Both sizes are exact."""
    arena, made = macro(text, 'ARENA'), [(name, ['ARENA'], text)]
    if arena > 0:
        exact, told = emit(name + 'e', target, '--arena', str(arena))
        check(exact is not None, '%s for %s in %d bytes: %s' % (name, target, arena, told))
    if arena > 1:
        less, told = emit(name + 'e', target, '--arena', str(arena - 1))
        check(less is None and str(arena) in told, '%s for %s in %d bytes: %s' % (name, target, arena - 1, told))
    if arena >= 64:
        given = ['--region=fast=%d' % (arena // 2)]
        text, told = emit(name + 'r', target, *given, '--region=slow=100000000')
        check(text is not None, '%s for %s with regions: %s' % (name, target, told))
        if text is not None:
            need = macro(text, 'SLOW')
            exact, told = emit(name + 'r', target, *given, '--region=slow=%d' % max(need, 1))
            check(exact is not None and macro(exact, 'SLOW') == need and macro(exact, 'FAST') <= arena // 2,
                  '%s for %s: %d bytes of slow: %s' % (name, target, need, told))
            if need > 1:
                less, told = emit(name + 's', target, *given, '--region=slow=%d' % (need - 1))
                check(less is None and "'slow' requires %d bytes and has %d" % (need, need - 1) in told,
                      '%s for %s: %d bytes of slow: %s' % (name, target, need - 1, told))
            if exact is not None:
                made.append((name + 'r', ['FAST', 'SLOW'], exact))
    return made


PROGRAM = '''
#define NNRT_IMPLEMENTATION
#include "nnrt.h"
#include "devices/nnrt_mcu.h"
#include <stdio.h>
#include <stdlib.h>
%(includes)s
enum { NONE, ARENA, REGION, INPUT, OUTPUT, SHARED };
static int less; /* the kind of blocks that are too short: by a byte, or by two words, of which a plan may use only one byte */
static int faults;

/* A block of exactly `bytes`, or with 64 guard bytes before and behind it. */
typedef struct block {
    uint8_t *raw, *at;
    size_t bytes;
    const char *name;
} block;

static void *block_make(block *b, size_t bytes, int kind, int guards, const char *name)
{
    b->name = name;
    b->bytes = kind != less ? bytes : kind == INPUT || kind == OUTPUT ? bytes - 1 : bytes - (bytes < 16 ? bytes : 16);
    b->raw = (uint8_t *)malloc(guards ? bytes + 128 : b->bytes + (b->bytes == 0));
    b->at = b->raw + (guards ? 64 : 0);
    memset(b->raw, 0x5A, guards ? bytes + 128 : b->bytes);
    return b->at;
}

static void block_end(const block *b, int guards, const char *model)
{
    for (size_t i = 0; i < 64 && guards; i++)
        if (b->raw[i] != 0x5A || b->at[b->bytes + i] != 0x5A) {
            faults += printf("FAIL %%s writes beside %%s\\n", model, b->name) > 0;
            break;
        }
    free(b->raw);
}
%(functions)s
int main(int argc, char **argv)
{
    less = argc > 1 ? atoi(argv[1]) : NONE;
    for (int guards = argc > 2 ? atoi(argv[2]) : 0; guards < 2; guards++) {
        block shared;
%(calls)s
    }
    return faults > 0;
}
'''


def function(name, memories, text):
    """A function that runs the model in blocks of its own, or, if shared is not NULL, in that arena."""
    values = re.findall(r'^static const (?:\w+_DATA )?(\w+) %s_([xy])(\d+)\[(\d+)\] = ' % name, text, re.M)
    values.sort(key=lambda v: (v[1], int(v[2])))
    out = ['static void run_%s(int guards, void *shared)\n{\n    block m[%d], v[%d];' % (name, len(memories), len(values))]
    arguments = []
    for i, m in enumerate(memories):
        kind = 'ARENA' if m == 'ARENA' else 'REGION'
        out.append('    void *m%d = block_make(&m[%d], %s_%s_BYTES, %s, guards, "%s");' % (i, i, name.upper(), m, kind, m.lower()))
        arguments.append('shared != NULL ? shared : m%d' % i if m == 'ARENA' else 'm%d' % i)
    for i, (kind, role, number, _) in enumerate(values):
        out.append('    void *v%d = block_make(&v[%d], sizeof(%s_%s%s), %s, guards, "%s%s");' %
                   (i, i, name, role, number, 'INPUT' if role == 'x' else 'OUTPUT', role, number))
        arguments.append('(%s%s *)v%d' % ('const ' if role == 'x' else '', kind, i))
    for i, (_, role, number, _) in enumerate(values):
        if role == 'x':
            out.append('    memcpy(v%d, %s_x%s, v[%d].bytes);' % (i, name, number, i))
    if 'ARENA' not in memories:
        out.append('    (void)shared;')
    out.append('    if (%s_run_in(%s) != NNRT_SUCCESS)\n        faults += printf("FAIL %s: no success\\n") > 0;' %
               (name, ', '.join(arguments), name))
    for i, (_, role, number, _) in enumerate(values):
        out.append('    if (less == NONE && memcmp(v%d, %s_%s%s, v[%d].bytes) != 0)\n        faults += printf("FAIL %s: other %s%s\\n") > 0;' %
                   (i, name, role, number, i, name, role, number))
        out.append('    block_end(&v[%d], guards, "%s");' % (i, name))
    for i in range(len(memories)):
        out.append('    block_end(&m[%d], guards, "%s");' % (i, name))
    return '\n'.join(out + ['}'])


def programs(target, made, sanitize):
    """Compiles and runs the program of a target."""
    calls = ['        run_%s(guards, NULL);' % name for name, _, _ in made]
    largest = max((macro(text, 'ARENA'), name) for name, memories, text in made if memories == ['ARENA'])[1]
    calls.append('        (void)block_make(&shared, %s_ARENA_BYTES, SHARED, guards, "the shared arena");' % largest.upper())
    for name, memories, _ in made[::-1] + made:
        if memories == ['ARENA']:
            calls.append('        run_%s(guards, shared.at);' % name)
    calls.append('        block_end(&shared, guards, "the last of all models");')
    path = FOLDER + '/memory'
    open(path + '.c', 'w').write(PROGRAM % {
        'includes': '\n'.join('#include "%s.h"' % name for name, _, _ in made),
        'functions': '\n'.join(function(*m) for m in made), 'calls': '\n'.join(calls)})
    done = subprocess.run(CLANG + FLAGS + ['-fsanitize=' + sanitize, '-o', path, path + '.c', '-lm'], capture_output=True, text=True)
    check(done.returncode == 0, 'memory for %s does not compile:\n%s' % (target, done.stderr[:2000]))
    if done.returncode != 0:
        return
    done = subprocess.run([path], capture_output=True, text=True)
    check(done.returncode == 0, 'memory for %s:\n%s' % (target, (done.stdout + done.stderr)[:2000]))
    for kind, what in enumerate(('the arena', 'a region', 'inputs', 'outputs', 'the shared arena'), 1):
        for guards in 0, 1:
            if what == 'inputs' and guards == 1:  # nothing writes them: only the sanitizer sees it
                continue
            done = subprocess.run([path, str(kind), str(guards)], capture_output=True, text=True, env={'ASAN_OPTIONS': 'symbolize=0'})
            seen = 'writes beside' in done.stdout if guards else 'heap-buffer-overflow' in done.stderr
            check(done.returncode != 0 and seen, '%s: nothing notices that %s is too short (guards: %d)' %
                  (target, what, guards))


def main():
    done = {}
    for i, model in enumerate(MODELS):
        subprocess.run([LAYERS, model, '%s/memory%d.nnrt' % (FOLDER, i)], check=True, stdout=subprocess.DEVNULL)
    for target in sys.argv[4:]:
        texts = [emit('m%d' % i, target) for i in range(len(MODELS))]
        if not all(text for text, _ in texts):
            check(False, '%s: %s' % (target, [told for text, told in texts if not text]))
            continue
        key = re.sub(r'mcu:[\w-]+', '', ''.join(text for text, _ in texts))
        if key in done:
            print('%s has the plans and kernels of %s' % (target, done[key]))
            continue
        done[key] = target
        made = [m for i, (text, _) in enumerate(texts) for m in emitted('m%d' % i, target, text)]
        check(sum('REGION(1)' in text for _, _, text in made) >= 4, '%s: few plans have two regions' % target)
        overlapping = sum(overlaps(text) for text, _ in texts)
        check(overlapping >= 4, '%s: only %d convolutions overwrite their input' % (target, overlapping))
        # undefined behavior, whose checks take as long to compile as all else: of one target
        programs(target, made, 'address' if len(done) > 1 else 'address,undefined')


main()
print('%d passed, %d failed' % (passed, failed))
sys.exit(failed > 0)
