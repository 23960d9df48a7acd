#!/usr/bin/env python3
"""Random damaged files through every command of the command line, with sanitizers and limits of time and memory.

    hunt.py COMMANDS NNRT [--seconds N | --number N] [--seed N] [--jobs N] [--only COMMAND,...]

COMMANDS is build/test/commands (tests/kit/commands.c), NNRT the command line with sanitizers. A finding is a command that
crashes, leaks, hangs, takes too much memory, fails without a message, ends with a status other than 0, 1 and 2, leaves a part of
a file, changes a file that it reads, writes a model that nnrt info refuses, or prints control characters, or no JSON for --json.
Its files and its command line are in build/hunt/N. The status is 1 if there are findings. The cases are those of hunt_cases.py.
"""
import argparse
import atexit
import collections
import fcntl
import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import hunt_cases
import hunt_seeds

SECONDS, MEMORY = 30, 1 << 30  # limits of a command
SLOW = {'header': 10}          # formats for which it is longer: the copy of a damaged header can be all of the header
BLOCK = 100                    # commands in a process, which then reports leaks
# a larger block is refused as if there were no memory: a model that states such an input is allowed to want it
ASAN = 'allocator_may_return_null=1:max_allocation_size_mb=128:quarantine_size_mb=16:detect_leaks=1:abort_on_error=0'


class Process:
    """A process that runs many commands (tests/kit/commands.c)."""
    alive, stopped = set(), False

    def __init__(self, program, folder):
        os.makedirs(folder + '/tmp', exist_ok=True)
        self.paths = [folder + '/out', folder + '/err']
        env = dict(os.environ, ASAN_OPTIONS=ASAN, UBSAN_OPTIONS='print_stacktrace=1', TMPDIR=os.path.abspath(folder + '/tmp'))
        self.process = subprocess.Popen([program, *self.paths], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env,
                                        start_new_session=True)
        self.proc = '/proc/%d/' % self.process.pid
        self.alive.add(self)

    def status_of(self, name):
        """A number of /proc/PID/status, in bytes."""
        try:
            with open(self.proc + 'status') as f:
                return 1024 * int(re.search(name + r':\s+(\d+)', f.read())[1])
        except (OSError, TypeError):  # it has ended
            return 0

    def run(self, words, seconds, memory):
        """The answer, and the peak of the memory: a status, 'open', 'hang', 'memory', or '' for a process that has ended."""
        try:
            with open(self.proc + 'clear_refs', 'w') as f:
                f.write('5')  # VmHWM begins anew
        except OSError:
            pass
        words = ['nnrt', *words]
        try:
            self.process.stdin.write(b'%d\n' % len(words) + b''.join(os.fsencode(word) + b'\0' for word in words))
            self.process.stdin.flush()
        except BrokenPipeError:
            return '', 0
        end, answer = time.monotonic() + seconds, None
        while answer is None:
            if select.select([self.process.stdout], [], [], 0.1)[0]:
                answer = self.process.stdout.readline().decode().strip()
            elif time.monotonic() > end:
                answer = 'hang'
            elif self.status_of('VmRSS') > memory:
                answer = 'memory'
        most = self.status_of('VmHWM')
        return ('memory' if answer.isdigit() and most > memory else answer), most

    def printed(self):
        return [hunt_seeds.read(path) for path in self.paths]

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return self.end(1)

    def end(self, seconds):
        """Ends the process; its status."""
        self.alive.discard(self)
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return self.kill()
        finally:
            self.process.stdout.close()


def whole(path):
    """False: a part of an array, of the trace of --profile, or of the page of --report."""
    try:
        if path.endswith('.npy'):
            np.load(path)
        elif path.endswith('.trace'):
            json.loads(hunt_seeds.read(path))
    except ValueError:
        return False
    return not path.endswith('.page') or hunt_seeds.read(path).rstrip().endswith(b'</html>')


def judge(case, folder, before, answer, out, err):
    """The fault of a command that ended: (kind, detail), or None."""
    if answer == '':
        why = re.findall(rb'(?:SUMMARY|ERROR|runtime error)[^\n]*', err) or [b'it ended the process']
        return 'crash', why[-1].decode('utf-8', 'replace')
    if not answer.isdigit():
        return answer, {'open': 'it leaves a file open', 'hang': 'longer than the limit', 'memory': 'more than the limit'}[answer]
    status = int(answer)
    if status not in (0, 1, 2):
        return 'status', 'it ends with status %d' % status
    after = listed(folder)
    new = sorted(name for name in after if name not in before)
    inside = lambda name: any(name.startswith(part + '/') for part in case.folders)
    changed = [name for name, state in before.items() if after.get(name) != state and not inside(name)]
    if status != 0 and not err.strip() and not (case.command in ('check', 'compare') and out.strip()):
        return 'silent', 'it fails without a message'
    for name in new:  # a process of nnrt batch --jobs that ends because of another leaves a part of a chunk, which the next run removes
        if (name.endswith('.tmp') and '/chunks/' not in name) or (status != 0 and not inside(name) and not name.endswith(('.trace', '.page'))):
            return 'left', 'it leaves %s' % name
        if not whole(os.path.join(folder, name)):
            return 'left', 'it leaves a part of %s' % name
    if changed:
        return 'changed', 'it changes %s' % changed[0]
    missing = [name for name in case.outputs if name not in after and '--help' not in case.words]
    if status == 0 and missing:
        return 'missing', 'it succeeds without %s' % missing[0]
    # ops prints parts of a header; the text of tokens is any text, and safe on a terminal only (tools/common/tokens.h)
    text = case.command in ('generate', 'tokenize') and not {'--json', '--pieces'} & set(case.words)
    printed = b'' if case.command == 'ops' or text else out
    printed = printed.replace(b'\x7f', b'') if '--json' in case.words else printed
    control = re.search(rb'[\x00-\x08\x0b-\x1f\x7f]', err + printed)
    if control:
        return 'control', 'it prints the byte %d' % control[0][0]
    if status == 0 and '--json' in case.words:
        try:
            json.loads(out.decode(), parse_constant=lambda text: (_ for _ in ()).throw(ValueError(text)))
        except ValueError as error:
            return 'json', str(error)
    return None


def listed(folder):
    """Files below a folder -> the bytes, or where a link leads."""
    out = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            out[os.path.relpath(path, folder)] = os.readlink(path) if os.path.islink(path) else hunt_seeds.read(path)
    return out


class Hunt:
    """Runs cases and keeps findings in `folder`/1, 2, ..."""

    def __init__(self, program, nnrt, folder, seconds=SECONDS, memory=MEMORY):
        self.program, self.nnrt, self.folder, self.seconds, self.memory = program, nnrt, folder, seconds, memory
        self.lock, self.findings, self.counts = threading.Lock(), [], collections.Counter()
        self.slowest, self.largest, self.faults = (0, ''), (0, ''), []
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)

    def found(self, case, kind, detail, report=b''):
        if Process.stopped:  # it was killed
            return
        with self.lock:
            self.findings.append(kind)
            folder = '%s/%d' % (self.folder, len(self.findings))
            line = 'ASAN_OPTIONS=%s %s\n' % (ASAN, ' '.join(map(shlex.quote, [self.nnrt, *case.write(folder)])))
            for name, data in (('command', os.fsencode(line)), ('report', report)):
                with open(folder + '/' + name, 'wb') as f:
                    f.write(data)
            self.say('\r\033[K' * sys.stdout.isatty() + '%s (%s): sh %s/command' % (kind, ' '.join(detail.split())[:100], folder))

    @staticmethod
    def say(text):
        print(text.encode('utf-8', 'backslashreplace').decode(), flush=True)

    def one(self, process, case, work):
        """Runs a case. True: the process can run more."""
        shutil.rmtree(work, ignore_errors=True)
        words = case.write(work)
        before, began = listed(work), time.monotonic()
        answer, most = process.run(words, self.seconds * SLOW.get(case.form, 1), self.memory)
        took = time.monotonic() - began
        out, err = process.printed()
        wrong = judge(case, work, before, answer, out, err)
        # convert --state stores any pair, sessions refuse those of another shape
        models = [name for name in case.outputs if name.endswith(('.nnrt', '.onnx')) and '--state' not in case.words]
        if answer == '0' and not wrong and models:
            answer, _ = process.run(['info', work + '/' + models[0]], self.seconds, self.memory)
            wrong = None if answer == '0' else ('unreadable', 'info refuses %s' % models[0])
            out, err = process.printed()
        temporary = os.path.dirname(process.paths[0]) + '/tmp'
        if os.listdir(temporary):
            wrong = wrong or ('left', 'it leaves %s in TMPDIR' % os.listdir(temporary)[0])
            shutil.rmtree(temporary)
            os.makedirs(temporary)
        with self.lock:
            self.counts[case.form, case.command, answer == '0'] += 1
            label = '%s: %s' % (case.command, ' '.join(case.words[1:])[:150])
            self.slowest, self.largest = max(self.slowest, (took, label)), max(self.largest, (most, label))
        if wrong:
            self.found(case, *wrong, err + out)
        if not answer.isdigit():
            process.kill()
        return answer.isdigit()

    def leaks(self, cases, place, report):
        """Finds the commands of a process that leaked: each in a process of its own."""
        blamed = 0
        for case in cases:
            process = Process(self.program, place)
            shutil.rmtree(place + '/case', ignore_errors=True)
            process.run(case.write(place + '/case'), self.seconds, self.memory)
            if process.end(60) != 0:
                blamed += 1
                self.found(case, 'leak', 'at the end of the process', process.printed()[1])
        if not blamed:
            self.found(cases[-1], 'leak', 'of the last of %d commands together, or of one before' % len(cases), report)

    def work(self, numbers, make):
        """Runs the cases of an iterator of numbers that threads share, until it ends."""
        place = '%s/work-%d' % (self.folder, threading.get_ident())
        more = True
        while more:
            process, cases, runs = Process(self.program, place), [], True
            while runs and len(cases) < BLOCK:
                with self.lock:
                    i = next(numbers, None)
                more = i is not None
                if not more:
                    break
                cases.append(make(i))
                runs = self.one(process, cases[-1], place + '/case')
            if runs and process.end(60) != 0:
                self.leaks(cases, place, process.printed()[1])
        shutil.rmtree(place, ignore_errors=True)

    def run(self, make, number=None, seconds=None, jobs=2):
        """make(i) is case i. Runs `number` cases, or for so many seconds."""
        began = time.monotonic()
        def numbers():
            i = 0
            while i != number and (seconds is None or time.monotonic() < began + seconds):
                yield i
                i += 1
        shared = numbers()
        def work():
            try:
                self.work(shared, make)
            except BaseException as fault:
                self.faults.append(fault)
        threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            threads[0].join(1) if threads[0].is_alive() else threads[-1].join(1)
            if sys.stdout.isatty():
                now = '%d s%s' % (time.monotonic() - began, '' if seconds is None else ' of %d' % seconds)
                now += ': %d commands, %d findings' % (sum(self.counts.values()), len(self.findings))
                print('\r\033[K' + now, end='', flush=True)
        if self.faults:
            raise self.faults[0]

    def table(self):
        """Commands by format of the damaged file: how many, and how many were refused and accepted."""
        commands = sorted({command for _, command, _ in self.counts})
        count = lambda form, command=None, good=None: sum(n for (f, c, g), n in self.counts.items() if form in (f, None) and
                                                          command in (c, None) and good in (g, None))
        heads = ''.join('%7s' % command.replace('emit-', 'e-')[:6] for command in commands)
        self.say('\r\033[K' * sys.stdout.isatty() + '%-9s%s%9s%9s' % ('', heads, 'refused', 'accepted'))
        for form in [*dict.fromkeys(sorted(f for f, _, _ in self.counts)), None]:
            self.say('%-9s' % (form or 'all') + ''.join('%7s' % (count(form, c) or '') for c in commands) +
                     '%9d%9d' % (count(form, good=False), count(form, good=True)))
        self.say('longest: %.1f s, %s\nlargest: %d MB, %s' % (*self.slowest, self.largest[0] >> 20, self.largest[1]))


def stop():
    Process.stopped = True
    for process in list(Process.alive):
        process.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('commands')
    parser.add_argument('nnrt')
    parser.add_argument('--seconds', type=int)
    parser.add_argument('--number', type=int)
    parser.add_argument('--seed', type=int, default=int(time.time()))
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--only', default='', help='these commands of the command line, separated by commas')
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    atexit.register(stop)
    os.makedirs('build', exist_ok=True)
    with open('build/hunt.lock', 'w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.exit('another hunt runs here')
        return run(args)


def run(args):
    print('seed %d' % args.seed, flush=True)
    hunt = Hunt(args.commands, args.nnrt, 'build/hunt')
    cases = hunt_cases.Cases(args.commands, args.nnrt, args.seed)
    if args.only:
        cases.commands = {name: cases.commands[name] for name in args.only.split(',')}
    hunt.run(cases.case, args.number, args.seconds if args.seconds or args.number else 60, args.jobs)
    hunt.table()
    print('%d findings' % len(hunt.findings))
    return 1 if hunt.findings else 0


if __name__ == '__main__':
    sys.exit(main())
