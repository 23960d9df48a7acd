#!/usr/bin/env python3
"""Models that other implementations computed wrongly, crashed on or refused, after public bug reports of 2024 to 2026.

    test_reports.py [--only TEXT] [--list] NNRT     runs all; --list prints names and addresses instead

tests/reports.md names the source of each case and says what went wrong there. The cases (reports_*.py) are written anew from
the kind of the fault; the expected outputs are the operators' definitions in numpy, never results of a runtime. Each model runs
on the devices reference, cpu and auto with fixed dimensions; an ONNX model also with dynamic dimensions, with shapes set at the
import (--shape) and with upper bounds (--max) above the shapes. Tolerances are those of the cases (reports_case.py).

The names and addresses in tests/reports.md and here must be the same, and no project has more than LIMIT of them. The last line
says "N passed, N failed"; the exit status is 1 when something failed or nothing passed.
"""
import argparse
import collections
import os
import re
import shutil
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../kit'))
import commands  # noqa: E402
import reports_elementwise  # noqa: E402,F401
import reports_graphs  # noqa: E402,F401
import reports_indices  # noqa: E402,F401
import reports_tflite  # noqa: E402,F401
import reports_windows  # noqa: E402,F401
from reports_case import CASES, build  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
DEVICES = ('reference', 'cpu', 'auto')
LIMIT = 25
LINE = re.compile(r'\| `(\w+)` \| \[[^]]+\]\(https://github\.com/([^)]+)\) \| [^|]+ \| (right|mended)[^|]* \|$')


def wrong(found, want, near):
    """None, or how an output differs from the expected one."""
    if found.dtype != want.dtype or found.shape != want.shape:
        return 'is %s %s, expected %s %s' % (found.dtype, list(found.shape), want.dtype, list(want.shape))
    if want.dtype.kind == 'f':
        finite = np.isfinite(want)
        if not np.array_equal(found[~finite], want[~finite], equal_nan=True):
            return 'has other NaN or Inf: %s, expected %s' % (found.tolist(), want.tolist())
        found, want = np.where(finite, found, 0).astype(np.float64), np.where(finite, want, 0).astype(np.float64)
    far = np.abs(found.astype(np.float64) - want.astype(np.float64)) if want.dtype.kind != 'b' else found != want
    bound = near * max(1.0, float(np.abs(want).max(initial=0))) if want.dtype.kind == 'f' else near
    if far.size and not far.max() <= bound:
        at = np.unravel_index(np.argmax(far), far.shape)
        return 'element %s is %s, expected %s, bound %g' % (list(map(int, at)), found[at], want[at], bound)
    return None


class Run:
    """The runs of one case in a folder."""

    def __init__(self, nnrt, model, kind, folder):
        self.nnrt, self.model, self.kind, self.folder = nnrt, model, kind, folder
        self.given = list(model.options)
        for name, value in model.feeds.items():
            path = os.path.join(folder, name + '.npy')
            np.save(path, value)
            self.given += ['--input', '%s=%s' % (name, path)]

    def file(self, dynamic):
        path = os.path.join(self.folder, '%s.%s' % ('dynamic' if dynamic else 'fixed', self.kind))
        with open(path, 'wb') as f:
            f.write(self.model.bytes(dynamic))
        return path

    def run(self, path, device, more=()):
        """None, or the fault."""
        out = os.path.join(self.folder, 'out')
        shutil.rmtree(out, ignore_errors=True)
        done = commands.run(self.nnrt, 'run', path, *self.given, '--device', device, '--output-dir', out, *more, text=True)
        if done.returncode != 0:
            return 'is refused: ' + done.stderr.strip()
        for name, want, near in self.model.wanted:
            path = os.path.join(out, name + '.npy')
            fault = wrong(np.load(path), want, near) if os.path.exists(path) else 'is missing'
            if fault is not None:
                return '%s %s' % (name, fault)
        return None

    def refusal(self, path, device, part):
        """None, or the fault of a run that must be refused with this part of the message."""
        fault = self.run(path, device)
        good = fault is not None and fault.startswith('is refused: nnrt') and part in fault
        return None if good else '%s, expected a refusal with "%s"' % (fault or 'runs', part)

    def option(self, word, names, more):
        """The shapes of inputs, dynamic dimensions larger by `more`."""
        return [a for name in names for a in (word, '%s=%s' % (name, ','.join(
            str(n if k in self.model.still[name] else n + more) for k, n in enumerate(self.model.feeds[name].shape))))]

    def every(self):
        """(way, fault or None) of each run."""
        for device in DEVICES:
            path = self.file(False)
            yield device, (self.run(path, device) if self.model.refused is None else self.refusal(path, device,
                                                                                                  self.model.refused))
        if self.kind != 'onnx' or self.model.refused is not None:
            return
        path, opened = self.file(True), [name for name,
                                         value in self.model.feeds.items() if len(self.model.still[name]) < value.ndim]
        if not opened:
            return
        yield 'shapes at the import', self.run(path, 'reference', self.option('--shape', opened, 0))
        for device in DEVICES:
            way, more = 'upper bounds, ' + device, self.option('--max', opened, 2)
            yield way, self.run(path, device, more)


def listed():
    """(way, fault or None): tests/reports.md and the cases list the same names and addresses."""
    with open(os.path.join(HERE, '../reports.md'), encoding='utf-8') as f:
        rows = [line.rstrip('\n') for line in f if line.startswith('| `')]
    found = {}
    for row in rows:
        match = LINE.match(row)
        yield 'a line of tests/reports.md', None if match and match[1] not in found else 'is no line of a case, or its second: ' + row
        if match:
            found[match[1]] = match[2]
    for name in sorted(set(found) | set(CASES)):
        here, there = CASES[name][0] if name in CASES else None, found.get(name)
        yield name, None if here == there else 'is %s in tests/reports.md and %s in the cases' % (there, here)
    for project, count in collections.Counter('/'.join(value[0].split('/')[:2]) for value in CASES.values()).items():
        yield project, None if count <= LIMIT else 'has %d cases' % count


def main():
    """Runs all; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', default='', help='cases whose name has this text')
    parser.add_argument('--list', action='store_true', help='print names and addresses')
    parser.add_argument('nnrt', nargs='?')
    args = parser.parse_args()
    names = [name for name in CASES if args.only in name]
    if args.list:
        for name in names:
            print(name, 'https://github.com/' + CASES[name][0])
        return 0
    passed = failed = 0
    for name in names:
        folder = tempfile.mkdtemp()
        try:
            _, model, kind = build(name)
            for way, fault in Run(os.path.abspath(args.nnrt), model, kind, folder).every():
                passed, failed = passed + (fault is None), failed + (fault is not None)
                if fault is not None:
                    print('FAIL %s, %s: %s' % (name, way, fault), flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    for name, fault in listed() if not args.only else ():
        passed, failed = passed + (fault is None), failed + (fault is not None)
        if fault is not None:
            print('FAIL %s %s' % (name, fault))
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
