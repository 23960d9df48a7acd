#!/usr/bin/env python3
"""Another commit and the working tree: the same bits, as fast, firmware as small?

    compare_commits.py [BASE] [--parts 'bits speed firmware'] [--seconds S]    run from the root of the repository

BASE (HEAD~1) is built in a clone, build/compare-commits/COMMIT. Both builds get the same:
  bits      vectors of the operators that both know, as they are in BASE; the digits network, the networks of
            tests/compare and of the folders that NNRT_BENCH_MODELS names, and the ONNX node tests, whose outputs are
            compared as files, byte by byte
  speed     these networks, by `nnrt bench` of the two in turn, for S seconds (3) each. Ratios are working tree by BASE
            (1.05: 5 % slower), their median and quartiles; arenas that differ are named. Functions and loops are
            aligned in both builds, as code that only lies elsewhere may be 10 % slower or faster
  firmware  bytes of the digits network on Cortex-M4 and the symbols of its core that changed; left out where the
            compiler is missing. Images run where there is qemu

Exit status: 1 when bits differ or a model runs in BASE only, 2 when something cannot be built; speed and sizes have
no part in it.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../formats"))
import test_convert  # noqa: E402

WORK = 'build/compare-commits'
ALIGNED = ['-O2', '-falign-functions=64', '-falign-loops=32']
BASE, HERE = 0, 1
GROWTH = {'cortex-m4': 32, 'cortex-m4-load': 1024}  # bytes of a core that are of no interest
JOBS = min(int(os.environ.get('JOBS', 2)), os.cpu_count() or 1)


def output(*args, **more):
    """Output of a command, and its status."""
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                          check=False, **more)
    return done.stdout.strip(), done.returncode


def must(*args, **more):
    text, status = output(*args, **more)
    if status != 0:
        print('compare-commits: %s failed with status %d\n%s' % (' '.join(args), status, text[-2000:]), file=sys.stderr)
        sys.exit(2)
    return text


def say(text):
    print(text, flush=True)


def compiled(tree, source, program):
    must(*os.environ.get('CC', 'cc').split(), '-std=c99', *ALIGNED, '-w', '-I.', '-Itests/kit', source, '-o',
         os.path.abspath(program), '-lm', '-lpthread', cwd=tree)
    return program


def checkout(base):
    """Folders of both trees."""
    commit = must('git', 'rev-parse', '--short=12', '--verify', base + '^{commit}')
    clone = os.path.join(WORK, commit)
    if not os.path.exists(os.path.join(clone, 'Makefile')):
        shutil.rmtree(clone, ignore_errors=True)
        must('git', 'clone', '-q', '--no-checkout', '.', clone)
        must('git', 'checkout', '-q', commit, cwd=clone)
    say('building %s (%s) and the working tree' % (base, commit))
    return clone, '.'


# ---- bits ----

def compare_vectors(trees, tmp):
    """(number of files, differences): each file of BASE by both programs' hash over all results."""
    programs = [compiled(trees[side], 'tests/ops/test_ops.c', os.path.join(tmp, 'ops%d' % side)) for side in (BASE, HERE)]
    folders = [os.path.join(tree, 'tests/ops/vectors') for tree in trees]
    names = sorted(n for n in set(os.listdir(folders[BASE])) & set(os.listdir(folders[HERE])) if n.endswith('.vec'))
    differences = []
    for name in names:
        said = [output(program, os.path.join(folders[BASE], name))[0].splitlines() for program in programs]
        bits = [[line for line in lines if line.startswith('bits ')] for lines in said]
        if bits[BASE] != bits[HERE] or not bits[HERE]:
            last = [lines[-1] if lines else 'nothing printed' for lines in said]
            differences.append('vectors %s: %s in the base, %s here' % (name, last[BASE], last[HERE]))
    return len(names), differences


def compare_model(nnrts, model, inputs, tmp):
    """'same', 'neither runs', 'runs here only', or the differences."""
    folder = tempfile.mkdtemp(dir=tmp)
    try:
        for given in inputs:
            args = [a for value in given for a in ('--input', value)]
            out = [os.path.join(folder, side) for side in ('base', 'here')]
            ran = [test_convert.call(nnrt, 'run', model, *args, '--device', 'reference', '--output-dir', o) for nnrt, o in zip(nnrts, out)]
            if ran[HERE][0] != 0:
                return 'neither runs' if ran[BASE][0] != 0 else 'does not run any more: ' + ran[HERE][1]
            if ran[BASE][0] != 0:
                return 'runs here only'
            wrong = test_convert.same_folders(*out)
            if wrong is not None:
                return wrong
            for o in out:
                shutil.rmtree(o)
        return 'same'
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def compare_models(nnrts, models, tmp):
    """(counts by state, differences)."""
    counts, differences = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for (name, _, _), state in zip(models, pool.map(lambda m: compare_model(nnrts, m[1], m[2], tmp), models)):
            known = state in ('same', 'neither runs', 'runs here only')
            counts[state if known else 'differ'] += 1
            if not known:
                differences.append('%s: %s' % (name, state))
    return counts, differences


def compare_bits(trees, nnrts, networks, tmp):
    """The lines of the table, and the differences."""
    count, differences = compare_vectors(trees, tmp)
    table = ['vectors    %4d same, %d differ' % (count - len(differences), len(differences))]
    tests = test_convert.find_tests(os.environ.get('NNRT_ONNX_TESTDATA', '/usr/share/libonnx-testdata/data'))
    for group, models in (('networks', networks), ('node tests', tests)):
        counts, more = compare_models(nnrts, models, tmp)
        differences += more
        table.append('%-10s %4d same, %d differ, %d run here only, %d run in neither' % (
            group, counts['same'], counts['differ'], counts['runs here only'], counts['neither runs']))
    return table, differences


# ---- speed ----

def bench(nnrt, model, reps):
    text, status = output(nnrt, 'bench', '--json', model, '--device', 'reference', '--reps', str(reps))
    return json.loads(text.splitlines()[-1]) if status == 0 else None


def compare_speed(nnrts, model, seconds):
    """({'run': ratios, 'prepare': ratios} of some rounds, remark); None where one does not run."""
    trial = [bench(nnrt, model, 1) for nnrt in nnrts]
    if None in trial:
        return None
    each = trial[HERE]['min_ms'] / 1000
    reps = max(1, min(1000, int(0.02 / max(each, 1e-6))))
    both = 2 * ((reps + 3) * each + trial[HERE]['load_ms'] / 1000 + 0.005)
    ratios = {'run': [], 'prepare': []}
    for k in range(max(3, min(41, int(seconds / both)))):
        times = [None, None]
        for side in ((BASE, HERE), (HERE, BASE))[k % 2]:
            times[side] = bench(nnrts[side], model, reps)
        ratios['run'].append(times[HERE]['min_ms'] / times[BASE]['min_ms'])
        ratios['prepare'].append(times[HERE]['prepare_ms'] / times[BASE]['prepare_ms'])
    arenas = [t['arena_bytes'] for t in trial]
    return ratios, ', arena %d, was %d' % (arenas[HERE], arenas[BASE]) if arenas[HERE] != arenas[BASE] else ''


def compare_speeds(nnrts, networks, seconds):
    """The lines of the table; prints one for each network."""
    say('speed: working tree by base%33s %24s' % ('run (quartiles)', 'prepare (quartiles)'))
    medians = {'run': [], 'prepare': []}
    for name, model, _ in networks:
        found = compare_speed(nnrts, model, seconds)
        if found is None:
            say('  %-34s does not run in both' % name)
            continue
        line = '  %-34s' % name
        for what, values in found[0].items():
            low, middle, high = statistics.quantiles(values, n=4, method='inclusive')
            medians[what].append((middle, name))
            line += ' %5.3f (%5.3f - %5.3f)   ' % (middle, low, high)
        say(line + '%d rounds%s' % (len(found[0]['run']), found[1]))
    return ['%-10s x %.3f, the median of %d; slowest: %s' % (
        what, statistics.median(middle for middle, _ in found), len(found),
        ', '.join('%s x %.3f' % (name, middle) for middle, name in sorted(found, reverse=True)[:5]))
            for what, found in medians.items() if found]


# ---- firmware ----

def core_of(tree, target):
    """{symbol: bytes} of a target's core. firmware.py lists them when an image is linked, before it runs."""
    path = os.path.join(tree, 'build', 'firmware', target + '.tsv')
    if os.path.exists(path):
        os.remove(path)
    must('make', '--no-print-directory', 'build/nnrt', cwd=tree)
    output(sys.executable, 'examples/firmware/firmware.py', target, cwd=tree)
    core = collections.Counter()
    if os.path.exists(path):
        with open(path, encoding='utf-8') as f:
            for kind, size, section, _ in (line.split('\t') for line in f):
                core[re.sub(r'(\.(constprop|isra|part))?\.\d+$', '', section)] += int(size) if kind == 'core' else 0
    return core


def compare_firmware(trees):
    if shutil.which('arm-none-eabi-gcc') is None:
        return ['firmware   arm-none-eabi-gcc is missing']
    table = []
    for target, limit in GROWTH.items():
        before, after = (core_of(tree, target) for tree in trees)
        grown = after.total() - before.total()
        table.append('%-15s core %d, was %d%s' % (target, after.total(), before.total(),
                                                  ': more than %d bytes larger' % limit if grown > limit else ''))
        changes = [(after[s] - before[s], s) for s in before.keys() | after.keys() if after[s] != before[s]]
        for change, section in sorted(changes, key=lambda c: -abs(c[0]))[:20 if grown > limit else 5]:
            say('  %-15s %+6d to %6d  %s' % (target, change, after[section], section))
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('base', nargs='?', default='HEAD~1')
    parser.add_argument('--parts', default='bits speed firmware')
    parser.add_argument('--seconds', type=float, default=3)
    args = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    trees = checkout(args.base)
    tmp = tempfile.mkdtemp(dir=WORK)
    table, differences = [], []
    try:
        nnrts = [compiled(trees[side], 'tools/nnrt.c', os.path.join(tmp, 'nnrt%d' % side)) for side in (BASE, HERE)]
        must(sys.executable, 'tests/compare/make_networks.py', os.path.join(tmp, 'networks'))
        networks = [('digits', 'examples/digits/digits.onnx', [['random:1']])]
        for folder in [os.path.join(tmp, 'networks'), *os.environ.get('NNRT_BENCH_MODELS', '').split()]:
            networks += test_convert.find_networks(nnrts[HERE], folder, tmp)
        if 'bits' in args.parts:
            table, differences = compare_bits(trees, nnrts, networks, tmp)
            say('\n'.join(['bits'] + ['  ' + line for line in table] + ['  DIFFERS ' + text for text in differences]))
        if 'speed' in args.parts:
            table += compare_speeds(nnrts, networks, args.seconds)
        if 'firmware' in args.parts:
            table += compare_firmware(trees)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
    say('\n  '.join(['\nthe working tree by ' + args.base] + table))
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main())
