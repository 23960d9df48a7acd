#!/usr/bin/env python3
"""Line and branch coverage of the headers, over all programs that include them.

usage: coverage.py [--floor PERCENT] [--reasons FILE] [--html FOLDER] [--uncovered FILE] [--root FOLDER] BIN HEADER...

BIN holds programs that were compiled with gcc --coverage and have run (NAME.gcno, NAME.gcda). A HEADER is measured; one written
HEADER? is only shown, without a floor. Prints a table "file lines branches", excused branches by reason, and last one line
"coverage: HEADER lines branches, ..." ("branches" is without excuses). Status 1 when a header has fewer than PERCENT of its
branches covered (90), when a reason is wrong, or when nothing was measured.

A header is compiled into many programs, and each has a copy of its static functions, used or not. A branch is named by (file,
function, line, number of the branch on the line) and is covered when it is covered in one of them, so copies that a program
does not use do not count. A function that a macro makes ten of counts ten times, on the same line. Functions that are inlined
at all costs have no name of their own in gcov's answer, and other branches in each caller: compile with
-Dalways_inline=noinline. gcov gives the numbers; gcovr only draws the data merged here as HTML.

FILE of reasons has lines "file:function  number  reason" ('#' begins a comment): so many branches of that function are known
not to be covered, for that reason. A reason is wrong if its function does not exist, or if it excuses more branches than are
uncovered: tests reach them now, so the line has to go. Lines with the same reason are counted together.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
from collections import defaultdict


class Function:
    """The merged counts of all copies of a function."""

    def __init__(self):
        self.lines = defaultdict(int)  # line -> times it ran
        self.branches = {}  # line -> times each branch was taken
        self.start = 0
        self.calls = 0

    def uncovered(self):
        return sum(counts.count(0) for counts in self.branches.values())

    def add_branches(self, line, counts):
        """Adds one copy's branches. Copies differ only where options change the source: the fuller one stays."""
        have = self.branches.get(line)
        if have is None or len(have) < len(counts):
            self.branches[line] = counts
        elif len(have) == len(counts):
            self.branches[line] = [a + b for a, b in zip(have, counts)]


def gcov(program):
    out = subprocess.run([os.environ.get('GCOV', 'gcov'), '-j', '-t', '-b', program], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True).stdout
    return json.loads(out)


def collect(folder, headers):
    """{header: {name of function: Function}} over all programs of folder."""
    files = {header: defaultdict(Function) for header in headers}
    for program in sorted(glob.glob(os.path.join(folder, '*.gcno'))):
        for file in gcov(program)['files']:
            functions = files.get(os.path.relpath(file['file']) if os.path.isabs(file['file'])
                                  else os.path.normpath(file['file']))
            if functions is not None:
                add_file(functions, file)
    return files


def add_file(functions, file):
    for given in file['functions']:
        function = functions[given['name']]
        function.start = given['start_line']
        function.calls += given['execution_count']
    for line in file['lines']:
        if 'function_name' not in line:
            sys.exit('%s:%d belongs to no function: -Dalways_inline=noinline?' % (file['file'], line['line_number']))
        function = functions[line['function_name']]
        function.lines[line['line_number']] += line['count']
        if line['branches']:
            function.add_branches(line['line_number'], [branch['count'] for branch in line['branches']])


def percent(part, whole):
    return 100.0 * part / whole if whole > 0 else 100.0


def totals(functions):
    """lines covered, lines, branches covered, branches"""
    lines = [count for f in functions.values() for count in f.lines.values()]
    branches = [count for f in functions.values() for counts in f.branches.values() for count in counts]
    return len(lines) - lines.count(0), len(lines), len(branches) - branches.count(0), len(branches)


def read_reasons(path, files):
    """[(file, function, number, reason)], and the number of wrong lines."""
    reasons, wrong = [], 0
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        words = line.split('#')[0].split(None, 2)
        if not words:
            continue
        fault = None
        file, _, name = words[0].partition(':')
        if len(words) < 3 or not words[1].isdigit() or int(words[1]) == 0:
            fault = 'not "file:function  number  reason"'
        elif file not in files or name not in files[file]:
            fault = '%s is not there' % words[0]
        elif files[file][name].uncovered() < int(words[1]):
            fault = '%s has only %d branches uncovered, not %s' % (words[0], files[file][name].uncovered(), words[1])
        elif (file, name) in [r[:2] for r in reasons]:
            fault = '%s stands there twice' % words[0]
        else:
            reasons.append((file, name, int(words[1]), words[2].strip()))
        if fault:
            wrong += 1
            print('%s:%d: %s' % (path, number, fault))
    return reasons, wrong


def print_table(files, reasons):
    print('%-22s %15s %17s %9s %12s' % ('file', 'lines', 'branches', 'excused', 'then'))
    for header, functions in files.items():
        ran, lines, taken, branches = totals(functions)
        excused = sum(number for file, _, number, _ in reasons if file == header)
        print('%-22s %6d %6.1f %% %8d %6.1f %% %9d %10.1f %%' % (header, lines, percent(ran, lines), branches,
                                                              percent(taken, branches), excused,
                                                              percent(taken, branches - excused)))


def print_reasons(reasons):
    together = defaultdict(int)
    for _, _, number, reason in reasons:
        together[reason] += number
    if together:
        print('\nbranches not covered, for a reason:')
    for reason, number in sorted(together.items(), key=lambda item: -item[1]):
        print('%6d  %s' % (number, reason))


def write_uncovered(path, files, reasons):
    """Every function with branches that no test takes: the line, which of its branches, the text."""
    excused = {(file, name): number for file, name, number, _ in reasons}
    with open(path, 'w', encoding='utf-8') as out:
        for header, functions in files.items():
            text = open(header, encoding='utf-8').read().splitlines()
            for name, function in sorted(functions.items(), key=lambda item: item[1].start):
                if function.uncovered() == 0:
                    continue
                out.write('%s:%s  %d (%d excused)%s\n' % (header, name, function.uncovered(),
                                                         excused.get((header, name), 0),
                                                         '' if function.calls else '  never called'))
                for line, counts in sorted(function.branches.items()):
                    if 0 in counts:
                        out.write('%7d %-20s %s\n' % (line, ''.join('+' if c else '-' for c in counts),
                                                      text[line - 1].strip()))


def write_trace(path, files):
    """The merged counts, in the form that gcovr reads."""
    trace = []
    for header, functions in files.items():
        lines, branches = defaultdict(int), defaultdict(list)
        for function in functions.values():
            for line, count in function.lines.items():
                lines[line] += count
            for line, counts in function.branches.items():
                branches[line] += [{'count': c, 'fallthrough': False, 'throw': False} for c in counts]
        trace.append({'file': header,
                      'functions': [{'name': name, 'lineno': f.start, 'execution_count': f.calls}
                                    for name, f in functions.items()],
                      'lines': [{'line_number': n, 'count': c, 'branches': branches[n],
                                 'gcovr/noncode': False, 'gcovr/excluded': False}
                                for n, c in sorted(lines.items())]})
    with open(path, 'w', encoding='utf-8') as out:
        json.dump({'gcovr/format_version': '0.3', 'files': trace}, out)


def draw(folder, files):
    os.makedirs(folder, exist_ok=True)
    trace = os.path.join(folder, 'coverage.json')
    write_trace(trace, files)
    for old in glob.glob(os.path.join(folder, '*.html')):
        os.remove(old)
    subprocess.run(['gcovr', '--root', '.', '--add-tracefile', trace, '--html-title', 'nnrt: coverage',
                    '--html-details', os.path.join(folder, 'index.html')], check=True)


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split('\n')[2].replace('usage: ', ''))
    parser.add_argument('--floor', type=float, default=90)
    for option in ('--reasons', '--html', '--uncovered'):
        parser.add_argument(option)
    parser.add_argument('--root', default='.')
    parser.add_argument('bin')
    parser.add_argument('headers', nargs='+')
    return parser.parse_args()


def main():
    options = arguments()
    os.chdir(options.root)
    shown = [header.rstrip('?') for header in options.headers]
    files = collect(options.bin, shown)
    reasons, faults = read_reasons(options.reasons, files) if options.reasons else ([], 0)
    print_table(files, reasons)
    print_reasons(reasons)
    if options.uncovered:
        write_uncovered(options.uncovered, files, reasons)
    if options.html:
        draw(options.html, files)
    parts = []
    for header in [h for h in options.headers if not h.endswith('?')]:
        ran, lines, taken, branches = totals(files[header])
        parts.append('%s %.1f %% lines %.1f %% branches' % (header, percent(ran, lines), percent(taken, branches)))
        if lines == 0:
            print('%s: nothing was measured' % header)
            faults += 1
        elif percent(taken, branches) < options.floor:
            print('%s: fewer than %g %% of its branches are covered' % (header, options.floor))
            faults += 1
    print('coverage: ' + ', '.join(parts))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
