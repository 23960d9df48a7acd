"""Suite: hunt.py finds faults of every kind in a stand-in of the command line (hunt_standin.c), and none in NUMBER damaged files.

    test_hunt.py COMMANDS NNRT STANDIN STANDIN_NNRT
"""
import contextlib
import io
import os
import re
import shutil
import sys

import hunt
import hunt_cases
import hunt_seeds

passed = failed = 0
NUMBER, SEED = 1000, 1
DAMAGED, PLANTED = 'build/hunt-suite', 'build/hunt-standin'
# fault of hunt_standin.c: the finding, more words
FAULTS = {'abort': ('crash',), 'overflow': ('crash',), 'undefined': ('crash',), 'leak': ('leak',), 'hang': ('hang',),
          'memory': ('memory',), 'slow-memory': ('memory',), 'open': ('open',), 'part': ('left',), 'temporary': ('left',),
          'tmpdir': ('left',), 'array': ('left', '@/model/'), 'changes': ('changed',), 'none': ('missing', '-o', '@/OUT.h'),
          'trace': ('left', '@/OUT.trace'), 'garbage': ('unreadable', '-o', '@/OUT.nnrt'), 'control': ('control',),
          'json': ('json', '--json'), 'silent': ('silent',), 'status': ('status',)}


def check(name, good, detail=''):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print('FAIL %s: %s' % (name, detail))


def case(fault, *more):
    return hunt_cases.Case(fault, 'onnx', [fault, '@/model', *more], {'model': None if fault == 'array' else b'bytes'})


def hunted(program, nnrt, cases):
    """The hunt with these cases, and its output."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        found = hunt.Hunt(program, nnrt, PLANTED, seconds=5, memory=256 << 20)
        found.run(lambda i: cases[i], len(cases), jobs=1)
    return found, out.getvalue()


def planted(program, nnrt):
    """Each fault between two commands without one."""
    good, bad = case('good', 'more'), case('refused')
    for name, (kind, *more) in FAULTS.items():
        fault = case(name, *more)
        found, printed = hunted(program, nnrt, [good, fault, bad])
        check(name, found.findings == [kind], '%s, expected %s' % (found.findings, kind))
        again = ' %s %s %s/1/model' % (nnrt, name, PLANTED)
        check('%s: repeated' % name, re.fullmatch(kind + r' \(.*\): sh %s/1/command\n' % PLANTED, printed) and
              hunt_seeds.read(PLANTED + '/1/command').decode().find(again) > 0 and
              (os.path.isdir if name == 'array' else os.path.isfile)(PLANTED + '/1/model'), printed)
    found, printed = hunted(program, nnrt, [good, bad, good])
    check('nothing is found in good commands', not found.findings and not printed, printed)
    check('good commands are counted', found.counts == {('onnx', 'good', True): 2, ('onnx', 'refused', False): 1}, found.counts)
    shutil.rmtree(PLANTED)


def unknown(name, call, text):
    """A command or an option that hunt_cases.py does not know."""
    try:
        call()
        check(name, False, 'no error')
    except LookupError as error:
        check(name, text in str(error), error)


def main(program, nnrt, standin, standin_nnrt):
    planted(standin, standin_nnrt)
    unknown('command', lambda: hunt_cases.commands_of(standin_nnrt), 'no words for the command unheard-of')
    unknown('option', lambda: hunt_cases.options_of(standin_nnrt, 'info'), 'no values for --unheard-of of the command info')
    cases = hunt_cases.Cases(program, nnrt, SEED, without=['header'])  # whose commands take seconds
    first, second = cases.case(5), cases.case(5)
    check('a case is the same each time', (first.words, first.files) == (second.words, second.files), first.words)
    found = hunt.Hunt(program, nnrt, DAMAGED, seconds=120)
    found.run(cases.case, NUMBER, jobs=1)
    found.table()
    check('damaged files', not found.findings, found.findings)
    check('every command ran', {command for _, command, _ in found.counts} == set(cases.commands), found.counts)
    accepted = sum(number for (_, _, accepted), number in found.counts.items() if accepted)
    check('a tenth is accepted, and most is not', NUMBER // 10 < accepted < NUMBER // 2, accepted)
    print('%d passed, %d failed' % (passed + sum(found.counts.values()) - len(found.findings), failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
