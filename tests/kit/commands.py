"""Runs commands of the command line in one process (tests/kit/commands.c): thousands of them in the time that some hundred programs
with sanitizers need to start.

    from commands import run
    done = run(program, 'info', path, '--json', text=True)    # as subprocess.run([nnrt, 'info', ...], capture_output=True, text=True)

Each thread has a process of its own. A process that ends within a command, by a report of a sanitizer or a signal, raises
RuntimeError with its output: no command may do that, whatever is expected of it. Leaks of all commands are
reported when Python ends, whose exit status then is 1. A command that leaves a file open also raises it.
"""
import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import threading

_here = threading.local()
_all = []


class _Process:
    def __init__(self, program):
        self.program, self.folder = program, tempfile.mkdtemp()
        self.files = [os.path.join(self.folder, name) for name in ('out', 'err')]
        self.process = subprocess.Popen([program, *self.files], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        _all.append(self)

    def printed(self):
        """The standard output and the standard error of the last command."""
        return [open(path, 'rb').read() for path in self.files]

    def ask(self, args):
        words = [os.path.join(os.path.dirname(self.program), 'nnrt'), *map(str, args)]
        self.process.stdin.write(b'%d\n' % len(words) + b''.join(os.fsencode(word) + b'\0' for word in words))
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def end(self):
        """Ends the process; None, or its report."""
        self.process.stdin.close()
        self.process.stdout.close()
        status = self.process.wait()
        fault = None if status == 0 else 'status %d: %s' % (status, self.printed()[1].decode('utf-8', 'replace'))
        shutil.rmtree(self.folder, ignore_errors=True)
        return fault


def run(program, *args, text=False, check=False):
    """As subprocess.run, with the output captured. A program with another name than `commands` is started for this command alone."""
    if os.path.basename(program) != 'commands':
        return subprocess.run([program, *args], capture_output=True, text=text, check=check)
    processes = _here.__dict__
    if program not in processes:
        processes[program] = _Process(program)
    process = processes[program]
    answer = process.ask(args)
    if not answer.strip().isdigit():
        del processes[program]
        _all.remove(process)
        raise RuntimeError('nnrt %s: %s' % (' '.join(map(str, args)), process.end() or 'leaves a file open'))
    out, err = [part.decode('utf-8', 'replace') if text else part for part in process.printed()]
    done = subprocess.CompletedProcess(['nnrt', *args], int(answer), out, err)
    if check:
        done.check_returncode()
    return done


@atexit.register
def _end():
    faults = [fault for fault in [process.end() for process in _all] if fault]
    if faults:
        print('\n'.join(faults), file=sys.stderr)
        sys.stderr.flush()
        sys.stdout.flush()
        os._exit(1)
