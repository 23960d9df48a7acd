#!/usr/bin/env python3
"""How long nnrt takes to compile, and the machine code by part, which determines the compile time.

    compile_time.py                   `make compile-time`: time and memory of one translation unit (nnrt.c) by variant; then
                                      time and machine code by part
    compile_time.py short             the first line of it, in CI
    compile_time.py size OBJECT       the suite `code-size`: no part of OBJECT (build/implementation.o) has grown by more than
                                      5 % over tests/source/code_size.tsv
    compile_time.py size OBJECT --write REASON
                                      writes tests/source/code_size.tsv again; REASON is noted at each part that grew or is new

A part is a header, except that nnrt_ops.h has one part per element type of its kernels, and nnrt_cpu_kernels.h one per
instruction set. Functions belong to the part whose source line the debug information names. The bytes hold for one
compiler (COMPILER below, x86-64, -O2): with another one the suite compares nothing and says so.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / 'tests/source/code_size.tsv'
COMPILER = 'gcc 12'
GROWTH = 1.05
SMALL = 2048  # bytes: growth of a part below this is of no interest
KERNEL = re.compile(r'nnrt_(?!op_|attr_|view|type_|resolve)\w+')
ISA = re.compile(r'_(avx512vnni|avx512|avx2pairs|avx2|i8mm|fp16|dotprod|neon|simd128|vector)$')
TYPES = [('float16', r'_f16$'), ('float64', r'_f64$'), ('quantized', r'_q8|_q16|_q8_real$'), ('float32', r'_f32$')]
HEAD = """# Machine code of nnrt by part, %s -O2 on x86-64: functions and bytes. The suite `code-size` (tests/source/compile_time.py) fails when a
# part has more than 5 %% more of either, because compile time grows with them. Written by
#     tests/source/compile_time.py size build/implementation.o --write 'why it grew'
# part, functions, bytes, reason of the last growth
"""


def part_of(name, path):
    """The part of the function `name`, defined in the file `path`."""
    file = pathlib.Path(path).name
    if file == 'nnrt_cpu_kernels.h':
        isa = ISA.search(name)
        return '%s %s' % (file, isa.group(1) if isa else 'other')
    if file != 'nnrt_ops.h':
        return file
    if name.startswith('nnrti_rule_'):
        return file + ' shape rules'
    if KERNEL.match(name):
        return '%s kernels %s' % (file, next((t for t, mark in TYPES if re.search(mark, name)), 'of several types'))
    return file + ' helpers'


def functions(obj):
    """{function: (part, bytes)} of an object with debug information. gcc's clones and cold halves count as the function."""
    text = subprocess.run(['nm', '-S', '-l', '-t', 'd', obj], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in text.split('\n'):
        m = re.match(r'\d+ (\d+) [tT] (\S+)\t(.*):\d+$', line)
        if m:
            name = m.group(2).split('.')[0]
            part, size = found.get(name, (part_of(name, m.group(3)), 0))
            found[name] = part, size + int(m.group(1))
    return found


def by_part(found):
    """{part: [functions, bytes]}"""
    parts = collections.defaultdict(lambda: [0, 0])
    for part, size in found.values():
        parts[part][0] += 1
        parts[part][1] += size
    return parts


def compiler():
    """Name and major version of CC, such as "gcc 12"."""
    cc = os.environ.get('CC') or 'gcc'
    macros = subprocess.run([*cc.split(), '-dM', '-E', '-x', 'c', '/dev/null'], capture_output=True, text=True,
                            check=True).stdout
    values = dict(re.findall(r'#define (\w+) (\S+)', macros))
    name = 'clang ' + values['__clang_major__'] if '__clang__' in values else 'gcc ' + values.get('__GNUC__', '?')
    return name if '__x86_64__' in values else name + ' of another processor'


def read_list():
    rows = [line.split('\t') for line in LIST.read_text(encoding='utf-8').split('\n') if line and line[0] != '#']
    return {r[0]: (int(r[1]), int(r[2]), r[3]) for r in rows}


def write_list(parts, reason):
    old = read_list() if LIST.exists() else {}
    with LIST.open('w', encoding='utf-8') as f:
        f.write(HEAD % COMPILER)
        for part, (count, size) in sorted(parts.items()):
            grew = part not in old or size > old[part][1] or count > old[part][0]
            f.write('%s\t%d\t%d\t%s\n' % (part, count, size, reason if grew else old[part][2]))


def check_size(parts):
    """Compares with the list; returns passed and failed."""
    listed, passed, failed = read_list(), 0, 0
    for part, (count, size) in sorted(parts.items()):
        functions_listed, bytes_listed, _ = listed.get(part, (0, 0, ''))
        fine = size <= SMALL or (size <= bytes_listed * GROWTH and count <= functions_listed * GROWTH + 1)
        passed, failed = passed + fine, failed + (not fine)
        if not fine:
            print('code-size: %s has %d functions of %d bytes, more than %.0f %% above the %d of %d bytes in '
                  'tests/source/code_size.tsv: make it smaller, or write the list again with the reason '
                  '(tests/source/compile_time.py --help)'
                  % (part, count, size, GROWTH * 100 - 100, functions_listed, bytes_listed))
    for part in listed.keys() - parts.keys():
        failed += 1
        print('code-size: %s is in tests/source/code_size.tsv, but has no function: write the list again' % part)
    return passed, failed


def compiled(arguments):
    """Seconds of the processor and peak memory in MB of a compilation; the clock would count other programs, too."""
    # a process of its own, whose only child is the compiler driver: ru_maxrss is the maximum over all children
    code = ('import resource, subprocess, sys\ndone = subprocess.run(sys.argv[1:])\n'
            'u = resource.getrusage(resource.RUSAGE_CHILDREN)\nprint(u.ru_utime + u.ru_stime, u.ru_maxrss)\n'
            'sys.exit(done.returncode)')
    done = subprocess.run([sys.executable, '-c', code, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit('compile-time: %s failed\n%s' % (' '.join(arguments), done.stderr[-2000:]))
    seconds, kilobytes = done.stdout.split()
    return float(seconds), int(kilobytes) / 1024


def traced(arguments, obj):
    """{function: seconds of the optimizer} of clang -ftime-trace; the code generator has no time by function."""
    compiled([*arguments, '-ftime-trace', '-ftime-trace-granularity=0', '-o', obj])
    seconds = collections.Counter()
    for event in json.loads(pathlib.Path(obj).with_suffix('.json').read_text(encoding='utf-8'))['traceEvents']:
        if event['name'] == 'OptFunction':
            seconds[event['args']['detail'].split('.')[0]] += event['dur'] / 1e6
    return seconds


def short(cc):
    with tempfile.TemporaryDirectory() as folder:
        print('nnrt.c by %s -O2: %.1f s of the processor, %.0f MB'
              % ((cc,) + compiled([cc, '-O2', '-std=c99', '-w', '-I.', '-c', 'packaging/nnrt.c', '-o', os.path.join(folder, 'nnrt.o')])))
    return 0


def table(cc):
    common = ['-std=c99', '-w', '-I.', '-c', 'packaging/nnrt.c']
    with tempfile.TemporaryDirectory() as folder:
        obj = os.path.join(folder, 'nnrt.o')
        print('one translation unit, nnrt.c: seconds of the processor, peak memory')
        for name in (cc, 'clang'):
            for label, flags in (('-O2', ['-O2']), ('-O2, without cpu', ['-O2', '-DNNRT_CPU=0']), ('-O0', ['-O0'])):
                print('  %-8s %-18s %6.1f s %6.0f MB' % ((name, label) + compiled([name, *flags, *common, '-o', obj])),
                      flush=True)
        compiled([cc, '-O2', '-g1', *common, '-o', obj])
        parts = by_part(functions(obj))
        compiled(['clang', '-O2', '-g1', '-gdwarf-4', *common, '-o', obj]) # nm reads no lines of version 5
        where = functions(obj)
        spent = collections.Counter()
        for name, seconds in traced(['clang', '-O2', *common], obj).items():
            spent[where[name][0] if name in where else 'inlined everywhere'] += seconds
    whole = sum(spent.values())
    print('\nby part: functions and bytes of machine code (%s -O2), share of the optimizer\'s time (clang -O2)' % cc)
    for part, (count, size) in sorted(parts.items(), key=lambda p: -p[1][1]):
        print('  %-38s %5d %9d  %4.1f %%' % (part, count, size, 100 * spent.pop(part, 0) / whole))
    for part, seconds in spent.most_common():
        print('  %-38s %15s  %4.1f %%' % (part, '', 100 * seconds / whole))
    print('  %-38s %5d %9d' % ('all', sum(p[0] for p in parts.values()), sum(p[1] for p in parts.values())))
    return 0


def main():
    args = sys.argv[1:]
    if args in ([], ['short']):
        return (short if args else table)((os.environ.get('CC') or 'gcc').split()[0])
    if len(args) not in (2, 4) or args[0] != 'size' or (len(args) == 4 and args[2] != '--write'):
        print(__doc__)
        return 0 if args in (['--help'], ['-h']) else 2
    parts = by_part(functions(args[1]))
    if len(args) == 4:
        write_list(parts, args[3])
        return 0
    if compiler() != COMPILER:
        print('code-size: tests/source/code_size.tsv is of %s on x86-64, this is %s: nothing to compare' % (COMPILER, compiler()))
        print('1 passed, 0 failed, %d skipped' % len(parts))
        return 0
    passed, failed = check_size(parts)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or passed < 20 else 0


if __name__ == '__main__':
    sys.exit(main())
