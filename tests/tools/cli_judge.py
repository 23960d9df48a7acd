"""cli_judge.py FOLDER NAME...: writes the models of cli_models.py, then answers the Python expressions of
tests/tools/test_cli_*.sh: for each line of standard input a line True, False or the error of the expression in
FOLDER/asked. Before the first it prints True. One Python answers all: its packages take longer to load than an
expression to compute."""
import json
import re
import subprocess  # noqa: F401 (of expressions)
import timeit  # noqa: F401
from html.parser import HTMLParser

import cli_models
from cli_models import *  # noqa: F403


def last(folder):
    """Standard output of the last command as strict JSON on one line."""
    text = open(folder + '/out', 'rb').read().decode('utf-8', 'replace')
    def no(name):
        raise ValueError(name)
    try:
        return json.loads(text, parse_constant=no) if text.count('\n') == 1 and text.endswith('\n') else None
    except ValueError:
        return None


# ---- operations of nnrt on values, computed independently ----

def splitmix(seed, count):
    out, mask = [], (1 << 64) - 1
    for i in range(1, count + 1):
        z = (seed + i * 0x9E3779B97F4A7C15) & mask
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        out.append(z ^ z >> 31)
    return out


def resize(a, height, width):
    """Triangle filter as a matrix an axis, in float64."""
    def matrix(n, m):
        step = n / m
        reach = max(step, 1)
        c = (np.arange(m) + 0.5)[:, None] * step
        w = np.maximum(0, 1 - np.abs(np.arange(n)[None, :] + 0.5 - c) / reach)
        return w / w.sum(1, keepdims=True)
    return np.einsum('ih,hwc,jw->ijc', matrix(a.shape[0], height), a.astype(np.float64), matrix(a.shape[1], width))


class page(HTMLParser):
    """A page of nnrt report: texts of its titles, rows of its tables and figures in its drawings, by id."""
    def __init__(self, path):
        HTMLParser.__init__(self)
        self.titles, self.rows, self.rects, self.tags, self.within, self.text = [], {}, {}, set(), '', None
        self.words = {}
        self.feed(open(F + path, encoding='utf-8').read())
    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        assert not {'src', 'href'} & set(a)
        self.tags.add(tag)
        self.within = a.get('id', self.within if tag != 'table' else '')
        if tag == 'tr':
            self.rows[self.within] = self.rows.get(self.within, 0) + 1
        if tag == 'rect':
            self.rects[self.within] = self.rects.get(self.within, 0) + 1
        if tag == 'title':
            self.text = ''
    def handle_data(self, data):
        if self.text is not None:
            self.text += data
        else:
            self.words.setdefault(self.within, []).append(data)
    def handle_endtag(self, tag):
        if tag == 'title':
            self.titles.append(self.text)
            self.text = None


def rough(a):
    """What the device rough makes of sums: 10 bits behind the point."""
    return (a.view('uint32') & ~np.uint32(0x1fff)).view('float32')


def trace(name, steps):
    """Operators of the events of a trace, in order; the events have the steps' bytes, and none begins inside another one
    that does not contain it."""
    events = [e for e in json.load(open(F + name))['traceEvents'] if e['ph'] == 'X']
    known = {(s['operator'], s['name'], s['node'], s['written'] / s['calls']) for s in steps}
    assert min(e['ts'] for e in events) == 0
    for e in events:
        assert (e['name'], e['args']['name'], e['args']['node'], e['args']['written']) in known
        for o in events:
            inside = e['ts'] <= o['ts'] and o['ts'] + o['dur'] <= e['ts'] + e['dur'] + 0.002
            apart = o['ts'] >= e['ts'] + e['dur'] - 0.002 or o['ts'] + o['dur'] <= e['ts'] + 0.002
            around = o['ts'] <= e['ts'] and e['ts'] + e['dur'] <= o['ts'] + o['dur'] + 0.002
            assert inside or apart or around
    return [e['name'] for e in events]


def loops(steps):
    """The time of LOOP is its own and that of the steps inside."""
    inner = sum(s['ms'] for s in steps if s['depth'] == 1)
    loop = [s for s in steps if s['operator'] == 'LOOP'][0]
    return inner > 0 and abs(loop['own_ms'] - (loop['ms'] - inner)) < 1e-5


def exif(orientation, order):
    """A JPEG file with the orientation of a camera, a number in little-endian (<) or big-endian (>) order."""
    tag = struct.pack(order + 'HHIHH', 0x112, 3, 1, orientation, 0)
    data = b'Exif\0\0' + struct.pack(order + '2sHIH', b'II' if order == '<' else b'MM', 42, 8, 1) + tag + bytes(4)
    jpeg = open(F + 'photo.jpg', 'rb').read()
    return jpeg[:2] + b'\xff\xe1' + struct.pack('>H', len(data) + 2) + data + jpeg[2:]


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def casts(d, quantize, dequantize):
    count = d['operators'].get
    return count('MUL_FUSION') == 1 and count('QUANTIZE_LINEAR') == quantize and count('QUANT_DTYPE_CAST') == dequantize


def between(x):
    """Q, DQ, x * x, Q, DQ with scale 0.5 and zero point 3."""
    turn = lambda v: (np.clip(np.rint(v / 0.5) + 3, 0, 255) - 3) * 0.5
    return turn(np.square(turn(x.astype('float64')))).astype('float32')


def answers(expression):
    """d: standard output of the last command as JSON, None when it is not one line of it."""
    try:
        return str(bool(eval(expression, dict(globals(), d=last(sys.argv[1])))))
    except BaseException as fault:  # of the expression, which may assert or exit
        return '%s: %s' % (type(fault).__name__, str(fault).replace('\n', ' '))


if __name__ == '__main__':
    for name in ['common'] + sys.argv[2:]:
        getattr(cli_models, name)()
    print(True, flush=True)
    for _ in sys.stdin:
        with open(F + 'asked', encoding='utf-8') as f:
            print(answers(f.read()), flush=True)
