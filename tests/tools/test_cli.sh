#!/bin/sh
# test_cli.sh NNRT [SHIPPED [DEVICES]]: tests the command line, from the root of the tree: sh tests/tools/test_cli.sh build/nnrt
# SHIPPED is the same program as built for users: both are tested if the result depends on the build.
# DEVICES is the program with more devices, tests/tools/nnrt_devices.c.
# Expected results of runs come from numpy; the models are ONNX files that the Python part below writes byte by byte, so no
# other package is needed. Prints "N passed, N failed" at the end; status 1 if something failed.
set -u
nnrt=${1:?usage: sh tests/tools/test_cli.sh path/to/nnrt}
shipped=${2:-$nnrt}
devices=${3:-}
python=${PYTHON:-/usr/bin/python3}
digits=examples/digits
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0
skipped=0

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    printf 'FAIL %s\n' "$1"
    [ -s "$tmp/err" ] && head -n 5 "$tmp/err" | sed 's/^/     stderr: /'
    [ -s "$tmp/out" ] && head -n 3 "$tmp/out" | cut -c 1-200 | sed 's/^/     stdout: /'
}
skip() { # NAME REASON
    skipped=$((skipped + 1))
    printf 'skipped %s: %s\n' "$1" "$2"
}

# t STATUS NAME ARGUMENTS...: nnrt with these arguments ends with that status; output in $tmp/out and $tmp/err.
t() {
    want=$1
    name=$2
    shift 2
    "$nnrt" "$@" >"$tmp/out" 2>"$tmp/err"
    got=$?
    if [ "$got" -eq "$want" ]; then pass; else fail "$name: status $got, expected $want"; fi
}

# says NAME PATTERN, prints NAME PATTERN: a line of standard error (output) matches.
says() { if grep -Eq -e "$2" "$tmp/err"; then pass; else fail "$1: standard error lacks $2"; fi; }
prints() { if grep -Eq -e "$2" "$tmp/out"; then pass; else fail "$1: standard output lacks $2"; fi; }

# silent NAME: nothing on standard error.
silent() { if [ -s "$tmp/err" ]; then fail "$1: something on standard error"; else pass; fi; }

# refused STATUS NAME PATTERN ARGUMENTS...: ends with that status, one clear line on standard error, nothing on output.
refused() {
    status=$1
    label=$2
    pattern=$3
    shift 3
    t "$status" "$label" "$@"
    if [ "$(grep -c '^nnrt: ' "$tmp/err")" -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ]; then pass; else fail "$label: not one line of message"; fi
    if [ -s "$tmp/out" ]; then fail "$label: output beside the message"; else pass; fi
    says "$label" "$pattern"
}

# py NAME CODE: the Python expression holds. d is the last standard output as JSON (None when it is not one line of it). One
# Python answers all of them, begun below: its packages take longer to load than an expression to compute.
py() {
    printf '%s' "$2" >"$tmp/asked"
    echo >&8
    answer=none
    read -r answer <&9
    if [ "$answer" = True ]; then pass; else
        fail "$1: $2"
        echo "     python: $answer"
    fi
}

cat >"$tmp/mk.py" <<'EOF'
import json, os, re, struct, zlib
from html.parser import HTMLParser
import numpy as np

F = os.path.dirname(os.path.abspath(__file__)) + '/'
TYPES = {'float32': 1, 'uint8': 2, 'int8': 3, 'uint16': 4, 'int16': 5, 'int32': 6, 'int64': 7, 'bool': 9, 'float16': 10,
         'float64': 11, 'uint32': 12, 'uint64': 13}


def last(folder):
    """Standard output of the last command as strict JSON on one line."""
    text = open(folder + '/out', 'rb').read().decode('utf-8', 'replace')
    def no(name):
        raise ValueError(name)
    try:
        return json.loads(text, parse_constant=no) if text.count('\n') == 1 and text.endswith('\n') else None
    except ValueError:
        return None


# ---- ONNX, encoded by hand ----

def varint(v):
    out = b''
    v &= (1 << 64) - 1
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def num(field, v):
    return varint(field << 3) + varint(v)


def sub(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor(a, name=''):
    a = np.asarray(a)
    return b''.join(num(1, n) for n in a.shape) + num(2, TYPES[a.dtype.name]) + (sub(8, name) if name else b'') + sub(9, a.tobytes())


def value(name, dtype, dims):
    dim = b''.join(sub(1, sub(2, n) if isinstance(n, str) else num(1, n)) for n in dims)
    return sub(1, name) + sub(2, sub(1, num(1, TYPES[dtype]) + sub(2, dim)))


def node(op, inputs, outputs, **attr):
    out = b''.join(sub(1, i) for i in inputs) + b''.join(sub(2, o) for o in outputs) + sub(4, op)
    for k, v in attr.items():
        out += sub(5, sub(1, k) + (b''.join(num(8, i) for i in v) + num(20, 7) if isinstance(v, (list, tuple)) else
                                   sub(4, v) + num(20, 3) if isinstance(v, str) else num(3, v) + num(20, 2)))
    return out


def model(path, nodes, inputs, outputs, constants=(), props=(), opset=13, more=b''):
    graph = b''.join(sub(1, n) for n in nodes) + sub(2, 'test') + b''.join(sub(5, c) for c in constants)
    graph += b''.join(sub(11, v) for v in inputs) + b''.join(sub(12, v) for v in outputs)
    props = b''.join(sub(14, sub(1, k) + sub(2, v)) for k, v in props)
    open(path, 'wb').write(num(1, 8) + sub(7, graph) + sub(8, num(2, opset)) + props + more)


# ---- PNG, encoded by hand ----

def png(path, pixels):
    """pixels: uint8 [h, w] grey, or [h, w, 3] or [h, w, 4]."""
    h, w = pixels.shape[:2]
    kind = {2: 0, 3: 2 if pixels.shape[-1] == 3 else 6}[pixels.ndim]
    rows = b''.join(b'\0' + pixels[y].tobytes() for y in range(h))
    def chunk(tag, data):
        return struct.pack('>I', len(data)) + tag + data + struct.pack('>I', zlib.crc32(tag + data))
    open(path, 'wb').write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, 8, kind, 0, 0, 0)) +
                           chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))


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


def load(name):
    return np.load(F + name)


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
EOF

# Its names are new for each expression, as mk.py grows below. It prints True, False or the error.
cat >"$tmp/judge.py" <<'EOF'
import sys

sys.dont_write_bytecode = True

for line in sys.stdin:
    names = {}
    sys.modules.pop('mk', None)
    try:
        exec("import sys\nfrom mk import *\nd = last(%r)" % sys.argv[1], names)
        with open(sys.argv[1] + '/asked', encoding='utf-8') as f:
            said = str(bool(eval(f.read(), names)))
    except BaseException as fault:
        said = '%s: %s' % (type(fault).__name__, str(fault).replace('\n', ' '))
    print(said, flush=True)
EOF
mkfifo "$tmp/ask" "$tmp/answers"
PYTHONPATH=$tmp "$python" "$tmp/judge.py" "$tmp" <"$tmp/ask" >"$tmp/answers" &
judge=$!
exec 8>"$tmp/ask" 9<"$tmp/answers"
trap 'kill $judge 2>/dev/null; rm -rf "$tmp"' EXIT

# ---- models and data ----

cat >"$tmp/make.py" <<'EOF'
from mk import *

for t in TYPES:
    model(F + 'turn_%s.onnx' % t, [node('Transpose', ['x'], ['y'], perm=[2, 0, 1])], [value('x', t, [2, 3, 4])], [value('y', t, [4, 2, 3])])
    a = np.arange(24).reshape(2, 3, 4)
    a = (a % 3 == 1) if t == 'bool' else (a * 1.25 - 7).astype(t) if t.startswith('float') else (a * 37 % 100 - (40 if t[0] == 'i' else 0)).astype(t)
    np.save(F + 'c_%s.npy' % t, a)
    np.save(F + 'f_%s.npy' % t, np.asfortranarray(a))
    np.save(F + 'b_%s.npy' % t, a.astype(a.dtype.newbyteorder('>')))
    open(F + 'p_%s.pb' % t, 'wb').write(tensor(a, 'x'))
    for version in ((2, 0), (3, 0)):
        with open(F + 'v%d_%s.npy' % (version[0], t), 'wb') as f:
            np.lib.format.write_array(f, a, version=version)
model(F + 'open.onnx', [node('Transpose', ['x'], ['y'], perm=[1, 0])], [value('x', 'float32', ['n', 3])], [value('y', 'float32', [3, 'n'])])
model(F + 'wide.onnx', [node('Unsqueeze', ['x', 'axes'], ['y'])], [value('x', 'float32', [30, 40, 50]), value('axes', 'int64', [3])],
      [value('y', 'float32', [1, 30, 40, 1, 50, 1])])  # bounded by 60000 in each of six axes
np.save(F + 'axes.npy', np.array([0, 3, 5]))
model(F + 'many.onnx', [node('NonZero', ['x'], ['n']), node('Transpose', ['n'], ['t'], perm=[1, 0])],
      [value('x', 'float32', ['h', 1250])], [value('n', 'int64', [2, 'k']), value('t', 'int64', ['k', 2])])
np.save(F + 'many.npy', np.ones((1000, 1250), dtype='float32'))  # 20,000,000 bytes a result, twice
np.save(F + 'one.npy', np.arange(3, dtype='float32').reshape(1, 3))
body = sub(1, node('Identity', ['c'], ['c2'])) + sub(1, node('Add', ['v', 'v'], ['w'])) + sub(2, 'body')
body += sub(11, value('i', 'int64', [])) + sub(11, value('c', 'bool', [])) + sub(11, value('v', 'float32', [2]))
body += sub(12, value('c2', 'bool', [])) + sub(12, value('w', 'float32', [2]))
loop = node('Loop', ['trips', '', 'x'], ['y']) + sub(5, sub(1, 'body') + sub(6, body) + num(20, 5))
model(F + 'loop.onnx', [loop], [value('x', 'float32', [2])], [value('y', 'float32', [2])], [tensor(np.int64(5), 'trips')])
model(F + 'steps.onnx', [node('Mul', ['x', 'x'], ['p']), node('Add', ['p', 'x'], ['s']), node('Sqrt', ['s'], ['y'])],
      [value('x', 'float32', [2, 3])], [value('y', 'float32', [2, 3])])
np.save(F + 'steps.npy', np.array([[1, 2, 3], [0.1, 0.7, 1.3]], dtype='float32'))
model(F + 'html.onnx', [node('Sqrt', ['<b>&\''], ['"y"'])], [value('<b>&\'', 'float32', [2])], [value('"y"', 'float32', [2])])
model(F + 'half.onnx', [node('MatMul', ['x', 'w'], ['m']), node('Cast', ['m'], ['c'], to=10), node('Relu', ['c'], ['y'])],
      [value('x', 'float16', [1, 8])], [value('y', 'float16', [1, 4])],
      [tensor((np.arange(32) % 7 / 7 - 0.5).reshape(8, 4).astype(np.float16), 'w')])
images = np.arange(-9, 9, dtype=np.int8).reshape(2, 3, 3, 1)
for name, a in ('batch2', images), ('first', images[:1]), ('second', images[1:]):
    np.save(F + name + '.npy', a)
np.save(F + 'half.npy', np.random.default_rng(5).standard_normal((9, 8)).astype(np.float16))
np.save(F + 'rows4.npy', np.arange(-6, 6, dtype='float32').reshape(4, 1, 3))
model(F + 'signs.onnx', [node('Relu', ['<b>&\''], ['"<y>"'])], [value('<b>&\'', 'float32', [2])], [value('"<y>"', 'float32', [2])])
np.save(F + 'tenth.npy', np.full(2, 0.1, dtype='float32'))
np.save(F + 'one2.npy', np.ones(2, dtype='float32'))
model(F + 'filled.onnx', [node('ConstantOfShape', ['shape'], ['y'])], [value('shape', 'int64', [2])], [value('y', 'float32', ['a', 'b'])])
model(F + 'two.onnx', [node('Add', ['a', 'b'], ['sum/out']), node('Sub', ['a', 'b'], ['sum:out'])],
      [value('a', 'float32', [2, 2]), value('b', 'float32', [2, 2])], [value('sum/out', 'float32', [2, 2]), value('sum:out', 'float32', [2, 2])])
names = ['A', 'a', '.b', 'c d', 'A_2', 'e' * 250, 'e' * 251]
model(F + 'names.onnx', [node('Transpose', ['x'], [n], perm=[1, 0]) for n in names], [value('x', 'float32', [1, 2])],
      [value(n, 'float32', [2, 1]) for n in names])
model(F + 'quote.onnx', [node('Add', ['a"\\\u00e9\n', 'a"\\\u00e9\n'], ['out'])], [value('a"\\\u00e9\n', 'float32', [2])], [value('out', 'float32', [2])])
model(F + 'sqrt.onnx', [node('Sqrt', ['x'], ['y'])], [value('x', 'float32', [4])], [value('y', 'float32', [4])])
model(F + 'gather.onnx', [node('Gather', ['t', 'i'], ['y'], axis=0)], [value('i', 'int64', [2])], [value('y', 'float32', [2])],
      [tensor(np.array([10, 20, 30], 'float32'), 't')])
model(F + 'nchw.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 2, 3, 1])], [value('x', 'float32', [1, 3, 4, 6])], [value('y', 'float32', [1, 4, 6, 3])])
model(F + 'nhwc.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 3, 1, 2])], [value('x', 'float32', [1, 4, 6, 3])], [value('y', 'float32', [1, 3, 4, 6])])
model(F + 'last.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 3, 1, 2])], [value('x', 'float32', ['n', 'h', 'w', 3])], [value('y', 'float32', ['n', 3, 'h', 'w'])])
model(F + 'shape.onnx', [node('Reshape', ['x', 'shape'], ['y'])], [value('x', 'float32', ['n', 3]), value('shape', 'int64', [2])],
      [value('y', 'float32', ['a', 'b'])])
model(F + 'fill.onnx', [node('ConstantOfShape', ['shape'], ['y']), node('Neg', ['x'], ['n'])], [value('x', 'float32', [4]), value('shape', 'int64', [2])],
      [value('y', 'float32', ['a', 'b']), value('n', 'float32', [4])])
model(F + 'rank.onnx', [node('Neg', ['x'], ['y'])], [sub(1, 'x') + sub(2, sub(1, num(1, 1)))], [sub(1, 'y') + sub(2, sub(1, num(1, 1)))])
model(F + 'string.onnx', [node('Identity', ['x'], ['y'])], [sub(1, 'x') + sub(2, sub(1, num(1, 8) + sub(2, b'')))], [sub(1, 'y') + sub(2, sub(1, num(1, 8)))])
# softmax-like scores of 3 classes at 2 places, and a plain output; the second with metadata_props, one key of them twice
scores = [node('Transpose', ['x'], ['s'], perm=[0, 2, 1]), node('Neg', ['x'], ['n'])]
for name, props in (('scores', ()), ('props', (('labels', 'a\nb\nc'), ('author', 'somebody'), ('author', 'else'), ('', 'x'), ('input.x.mean', '1')))):
    model(F + name + '.onnx', scores, [value('x', 'float32', [1, 2, 3])], [value('s', 'float32', [1, 3, 2]), value('n', 'float32', [1, 2, 3])], props=props)
model(F + 'comma.onnx', scores, [value('x', 'float32', [1, 2, 3])], [value('s', 'float32', [1, 3, 2]), value('n', 'float32', [1, 2, 3])], props=[('labels', 'a,b,c')])
np.save(F + 'scores.npy', np.array([[[1, 5, 2], [6, 3, 4]]], 'float32'))
open(F + 'three.txt', 'wb').write('cat\r\n\x1b[1mdog\r\nfo\u00e9l\r\n'.encode())
open(F + 'four.txt', 'wb').write(b'a\n\nc\nd')
open(F + 'zero.txt', 'wb').write(b'a\0b\n')
open(F + 'none.txt', 'wb').write(b'\n\n')
model(F + 'table.onnx', [node('Gather', ['t', 'i'], ['y'], axis=0)], [value('i', 'int64', [2])], [value('y', 'float32', [2, 1024])],
      [tensor(np.zeros((4096, 1024), 'float32'), 't')])
np.save(F + 'shape.npy', np.array([3, 5]))
model(F + 'channels.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 2, 3, 1])], [value('x', 'float32', ['n', 'c', 'h', 'w'])],
      [value('y', 'float32', ['n', 'h', 'w', 'c'])])
model(F + 'gray.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 2, 1])], [value('x', 'float32', [1, 'h', 'w'])], [value('y', 'float32', [1, 'w', 'h'])])
model(F + 'rgba.onnx', [node('Transpose', ['x'], ['y'], perm=[1, 2, 0])], [value('x', 'uint8', [4, 'h', 'w'])], [value('y', 'uint8', ['h', 'w', 4])])
model(F + 'int8.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 2, 3, 1])], [value('x', 'int8', ['n', 3, 'h', 'w'])], [value('y', 'int8', ['n', 'h', 'w', 3])])
np.save(F + 'a.npy', np.array([[1, 2], [3, 4]], 'float32'))
np.save(F + 'b.npy', np.array([[10, 20], [30, 40]], 'float32'))
np.save(F + 'd.npy', np.array([[1, 2], [3, 1e300]], 'float64'))
np.save(F + 'rows.npy', np.arange(15, dtype='float32').reshape(5, 3))
np.save(F + 'flat.npy', np.arange(6, dtype='float32'))
np.save(F + 'four.npy', np.array([4, -1, np.inf, 9], 'float32'))
np.save(F + 'i32.npy', np.array([2, 0], 'int32'))
np.save(F + 'i64.npy', np.array([2, -4], 'int64'))
np.save(F + 'big.npy', np.full((2, 3, 4), 1 << 40, 'int64'))
np.save(F + 'text.npy', np.array(['a', 'b']))
np.save(F + 'empty.npy', np.zeros((0, 3), 'float32'))
np.save(F + 'deep.npy', np.zeros((1,) * 9, 'float32'))
whole = open(F + 'a.npy', 'rb').read()
open(F + 'cut.npy', 'wb').write(whole[:-1])
open(F + 'long.npy', 'wb').write(whole + b'x')
open(F + 'head.npy', 'wb').write(whole[:20])
open(F + 'junk.npy', 'wb').write(whole.replace(b"'shape'", b"'shapf'"))
usual = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
assert usual in whole
open(F + 'spaced.npy', 'wb').write(whole.replace(usual, b'{ "shape":(2,2L),"fortran_order":False,"descr":"<f4"}'.ljust(len(usual))))
open(F + 'not.onnx', 'wb').write(b'\xff' * 100)
open(F + 'junk.pb', 'wb').write(b'\xff' * 100)
open(F + 'junk.txt', 'wb').write(b'hello')
g = np.random.RandomState(1)
for name, shape in (('rgb', (4, 6, 3)), ('large', (13, 9, 3)), ('rgba', (4, 6, 4)), ('grey', (5, 7))):
    np.save(F + name + '_pixels.npy', g.randint(0, 256, shape).astype('uint8'))
    png(F + name + '.png', load(name + '_pixels.npy'))
open(F + 'photo.ppm', 'wb').write(b'P6\n6 4\n255\n' + load('rgb_pixels.npy').tobytes())
model(F + 'anysize.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 2, 3, 1])], [value('x', 'float32', [1, 3, 'h', 'w'])], [value('y', 'float32', [1, 'h', 'w', 3])])
# images out of proportion to their files: sizes, and data after them
def header(path, w, h, bits, data, colour=0, woven=0):
    def chunk(tag, data):
        return struct.pack('>I', len(data)) + tag + data + struct.pack('>I', zlib.crc32(tag + data))
    open(F + path, 'wb').write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, bits, colour, 0, 0, woven)) +
                               (chunk(b'PLTE', bytes(48)) if colour == 3 else b'') +
                               chunk(b'IDAT', zlib.compress(data, 9)) + chunk(b'IEND', b''))
header('vast.png', 20000, 20000, 8, bytes(1000))
header('wide.png', 3000, 3000, 1, bytes(3000 * (1 + 375)))
header('tall.png', 1, 300000, 8, bytes(2 * 300000))
header('colour.png', 900, 900, 8, bytes(900 * (1 + 3 * 900)), 2)
header('deeper.png', 700, 700, 16, bytes(700 * (1 + 8 * 700)), 6)
header('palette.png', 1500, 1500, 4, bytes(1500 * (1 + 750)), 3)
passes = [(8, 8, 0, 0), (8, 8, 0, 4), (8, 4, 4, 0), (4, 4, 0, 2), (4, 2, 2, 0), (2, 2, 0, 1), (2, 1, 1, 0)]
header('woven.png', 900, 900, 8, bytes(sum(-(-(900 - y) // down) * (1 + 3 * -(-(900 - x) // right)) for down, right, y, x in passes)), 2, 1)
header('deep.png', 1, 1, 8, bytes(32 << 20))
# constants in other files: below the model's folder, outside of it, by links, in pipes
os.makedirs(F + 'x/d/sub')
for name in ('x/d/w.bin', 'x/d/sub/w.bin', 'x/secret.bin'):
    np.arange(4, dtype='float32').tofile(F + name)
for name, to in (('link.bin', '../secret.bin'), ('abs.bin', F + 'x/secret.bin'), ('ldir', '..'), ('self.bin', 'w.bin'),
                 ('loop.bin', 'loop.bin'), ('dangling.bin', 'nope')):
    os.symlink(to, F + 'x/d/' + name)
os.mkfifo(F + 'x/d/fifo')
def external(name, location):
    c = num(1, 4) + num(2, 1) + sub(8, 'w') + sub(13, sub(1, 'location') + sub(2, location)) + num(14, 1)
    model(F + 'x/d/%s.onnx' % name, [node('Add', ['v', 'w'], ['y'])], [value('v', 'float32', [4])], [value('y', 'float32', [4])], [c])
for name, location in (('ok', 'w.bin'), ('dot', './w.bin'), ('sub', 'sub/w.bin'), ('selflink', 'self.bin'), ('link', 'link.bin'),
                       ('abslink', 'abs.bin'), ('dirlink', 'ldir/secret.bin'), ('loop', 'loop.bin'), ('dangling', 'dangling.bin'),
                       ('fifo', 'fifo'), ('dir', 'sub'), ('dotdot', '../secret.bin'), ('absolute', F + 'x/d/w.bin')):
    external(name, location)
# 16384 floats, doubled ten times: 64 MiB from a few hundred bytes
model(F + 'bomb.onnx', [node('ConstantOfShape', ['s'], ['c0'])] + [node('Concat', ['c%d' % i] * 2, ['c%d' % (i + 1)], axis=0) for i in range(10)] +
      [node('ReduceSum', ['c10'], ['r']), node('Add', ['x', 'r'], ['y'])], [value('x', 'float32', [1])], [value('y', 'float32', [1])],
      [tensor(np.array([16384], 'int64'), 's')])
for name, count in (('names1000', 1000), ('names4000', 4000)):
    model(F + name + '.onnx', [node('Neg', ['x0'], ['y'])], [value('x%d' % i, 'float32', ['n', 3]) for i in range(count)], [value('y', 'float32', ['n', 3])])
model(F + 'newer.onnx', [node('Relu', ['x'], ['a']), node('Neg', ['a'], ['y'])], [value('x', 'float32', [1])], [value('y', 'float32', [1])], opset=29)
model(F + 'fly.onnx', [node('SequenceMap', ['x'], ['a']) + sub(3, 'one'), node('Fly', ['x'], ['b']), node('SequenceMap', ['x'], ['c']) + sub(3, 'two'),
                       node('ZipMap', ['x'], ['y']) + sub(7, 'ai.onnx.ml')], [value('x', 'float32', [1])], [value('y', 'float32', [1])])
with open(F + 'fly.onnx', 'ab') as f:
    f.write(sub(2, 'torch') + sub(3, '2.3'))
model(F + 'units.onnx', [node('QuantizeLinear', ['x', 's', 'z'], ['q']), node('DequantizeLinear', ['q', 's', 'z'], ['d']),
                         node('Transpose', ['d'], ['t'], perm=[1, 0]), node('QuantizeLinear', ['t', 's', 'z'], ['y'])],
      [value('x', 'float32', [2, 3])], [value('y', 'int8', [3, 2])], [tensor(np.array(0.5, 'float32'), 's'), tensor(np.array(3, 'int8'), 'z')])
model(F + 'macs.onnx', [node('Conv', ['x', 'w'], ['c'], group=2), node('ConvTranspose', ['c', 't'], ['d'], strides=[2, 2]),
                        node('Reshape', ['d', 's'], ['f']), node('MatMul', ['f', 'm'], ['p']), node('Einsum', ['p', 'e'], ['q'], equation='ij,kj->ik'),
                        node('QuantizeLinear', ['q', 'one', 'zero'], ['y'])],
      [value('x', 'float32', [1, 4, 6, 6])], [value('y', 'int8', [3, 7])],
      [tensor(np.ones(shape, 'float32'), name) for name, shape in (('w', (8, 2, 3, 3)), ('t', (8, 3, 2, 2)), ('m', (64, 5)), ('e', (7, 5)), ('one', ()))] +
      [tensor(np.array([3, 64]), 's'), tensor(np.array(0, 'int8'), 'zero')], opset=13,
      more=sub(2, 'maker') + sub(3, '1.2-\x1b') + sub(8, sub(1, 'com.example') + num(2, 3)))
model(F + 'attention.onnx', [node('Attention', ['q', 'k', 'v'], ['y'])],
      [value('q', 'float32', [2, 3, 4, 8]), value('k', 'float32', [2, 3, 6, 8]), value('v', 'float32', [2, 3, 6, 5])], [value('y', 'float32', [2, 3, 4, 5])], opset=23)
model(F + 'ort.onnx', [node('Relu', ['x'], ['a']), node('MoE', ['a', 'a'], ['y']) + sub(3, 'one') + sub(7, 'com.microsoft')],
      [value('x', 'float32', [2, 2])], [value('y', 'float32', [2, 2])], opset=17, more=sub(8, sub(1, 'com.microsoft') + num(2, 1)))
w = np.array([1, 2, 3, 4], 'float32')
model(F + 'cut.onnx', [node('Relu', ['x'], ['r']) + sub(3, 'first'), node('Add', ['r', 'w'], ['a/b']), node('Neg', ['a/b'], ['n']),
                       node('Fly', ['n', 'i'], ['f']), node('Add', ['f', 'b'], ['y'])],
      [value('x', 'float32', [4]), value('i', 'float32', [4]), value('b', 'float32', [4])], [value('y', 'float32', [4])], [tensor(w, 'w'), tensor(w, 'v')])
one, zero = tensor(np.array(0.5, 'float32'), 's'), tensor(np.array(3, 'uint8'), 'z')
model(F + 'qdq.onnx', [node('QuantizeLinear', ['x', 's', 'z'], ['q']), node('DequantizeLinear', ['q', 's', 'z'], ['d']), node('Mul', ['d', 'd'], ['m']),
                       node('QuantizeLinear', ['m', 's', 'z'], ['p']), node('DequantizeLinear', ['p', 's', 'z'], ['y'])],
      [value('x', 'float32', [4])], [value('y', 'float32', [4])], [one, zero])
model(F + 'upsample.onnx', [node('Upsample', ['x', 's'], ['y'])], [value('x', 'float32', [1, 1, 2, 2])], [value('y', 'float32', [1, 1, 4, 4])],
      [tensor(np.array([1, 1, 2, 2], 'float32'), 's')], opset=10)
model(F + 'antialias.onnx', [node('Relu', ['x'], ['y'], antialias=1)], [value('x', 'float32', [1])], [value('y', 'float32', [1])])
model(F + 'channels2.onnx', [node('Conv', ['x', 'w'], ['y'])], [value('x', 'float32', [1, 3, 8, 8])], [value('y', 'float32', [1, 4, 6, 6])],
      [tensor(np.ones((4, 2, 3, 3), 'float32'), 'w')])

SOUND = np.array([0, 1, -1, 32767, -32768, 300, -2, 256], '<i2')
np.save(F + 'sound.npy', SOUND)


def sound(name, n=8, kind=1, channels=1, bits=16, align=2, riff=None, data=None, before=b'', more=b''):
    """A WAV file of n samples; riff and data: the sizes that it states."""
    fmt = struct.pack('<HHIIHH', kind, channels, 16000, 16000 * align, align, bits) + more
    body = b'WAVE' + before + b'fmt ' + struct.pack('<I', len(fmt)) + fmt
    body += b'data' + struct.pack('<I', 2 * n if data is None else data) + SOUND[:n].tobytes()
    open(F + name + '.wav', 'wb').write(b'RIFF' + struct.pack('<I', len(body) if riff is None else riff) + body)


sound('a')
sound('b', before=b'LIST\x03\0\0\0abc\0')
sound('c', kind=0xFFFE, more=struct.pack('<HHIHHIQ', 22, 16, 4, 1, 0, 0x100000, 0x719b3800aa000080))
sound('two', channels=2, align=4)
sound('wide', bits=24, align=3)
sound('float', kind=3)
sound('gaps', align=4)
sound('few', 7)
sound('none', 0)
sound('cut', riff=5000)
sound('pipe', riff=0xFFFFFFFF)
sound('long', data=5000)
sound('odd', data=15)
sound('before', before=b'LIST\xff\xff\xff\xff')
for i, shape in enumerate(([8], [1, 8], [1, 8, 1], ['b', 'n'], [2, 4], [1, 1, 1, 8], [0])):
    model(F + 'sound%d.onnx' % i, [node('Relu', ['x'], ['y'])], [value('x', 'float32', shape)], [value('y', 'float32', shape)])
open(F + 'broken.png', 'wb').write(open(F + 'rgb.png', 'rb').read()[:60])
# test data: three valid sets (10 sorts after 2; a dynamic dimension; named tensors in the other order), then wrong ones
os.makedirs(F + 'good')
for k, n in ((0, 1), (2, 4), (10, 7)):
    d = F + 'good/test_data_set_%d/' % k
    os.makedirs(d)
    x = g.randn(n, 3).astype('float32')
    x[0, 0] = np.nan if k == 2 else np.inf if k == 10 else 0
    open(d + 'input_0.pb', 'wb').write(tensor(x, 'x'))
    open(d + 'output_0.pb', 'wb').write(tensor(x.T.copy() if k else (x.T * np.float32(1.0005)), ''))
os.makedirs(F + 'swapped')
a, b = load('a.npy'), load('b.npy')
for i, (name, v) in enumerate((('b', b), ('a', a))):
    open(F + 'swapped/input_%d.pb' % i, 'wb').write(tensor(v, name))
for i, (name, v) in enumerate((('sum:out', a - b), ('sum/out', a + b))):
    open(F + 'swapped/output_%d.pb' % i, 'wb').write(tensor(v, name))
np.save(F + 'sum.npy', a + b)
os.makedirs(F + 'numpy')
np.save(F + 'numpy/input_0.npy', load('rows.npy'))
np.save(F + 'numpy/output_0.npy', load('rows.npy').T.copy())
for name, inputs, outputs in (('wrong', [np.zeros((2, 3), 'float32')], [np.array([[0, 0], [0, 2], [0, 0]], 'float32')]),
                              ('shape', [np.zeros((2, 3), 'float32')], [np.zeros((2, 3), 'float32')]),
                              ('type', [np.zeros((2, 3), 'float32')], [np.zeros((3, 2), 'float64')]),
                              ('nooutput', [np.zeros((2, 3), 'float32')], []),
                              ('noinput', [], [np.zeros((2, 3), 'float32')]),
                              ('toomany', [np.zeros((2, 3), 'float32')] * 2, [np.zeros((3, 2), 'float32')])):
    os.makedirs(F + name)
    for i, v in enumerate(inputs):
        open(F + name + '/input_%d.pb' % i, 'wb').write(tensor(v))
    for i, v in enumerate(outputs):
        open(F + name + '/output_%d.pb' % i, 'wb').write(tensor(v))
EOF
if PYTHONPATH=$tmp "$python" "$tmp/make.py"; then pass; else
    echo 'FAIL cannot make models and data (python3 with numpy is needed)'
    echo "$passed passed, 1 failed"
    exit 1
fi

# ---- the tool itself ----

t 0 '--help' --help
prints 'help names the version' '^nnrt [0-9]+\.[0-9]+\.[0-9]+ '
silent '--help'
for c in info run bench check compare accuracy batch report convert quantize dot ops devices; do
    t 0 'help names commands' --help
    prints "--help lists $c" "^  $c "
    t 0 "$c --help" $c --help
    prints "$c --help: usage" "^usage: nnrt $c"
    prints "$c --help: example" "^  nnrt $c "
    silent "$c --help"
done
t 0 '--version' --version
prints '--version' '^nnrt [0-9]+\.[0-9]+\.[0-9]+$'
refused 2 'no command' 'the command is missing'
refused 2 'unknown command' "unknown command 'fly'" fly
refused 2 'unknown option' 'unknown option --fly' run model.onnx --fly
refused 2 'option of another command' 'unknown option --golden' run model.onnx --golden 3
refused 2 'value lacks' '--threads lacks its value' run model.onnx --threads
refused 2 'value not wanted' '--json takes no value' run model.onnx --json=1
refused 2 'no model' 'the model is missing' info
refused 2 'two models' "unexpected argument 'b'" info a b
refused 2 'operand not wanted' "unexpected argument 'a'" ops a
refused 2 'no data' 'no test data' check model.onnx
for v in 0 -1 x '' 2x 99999999999999999999; do
    refused 2 "--threads '$v'" '--threads does not take' run model.onnx --threads "$v"
done
refused 2 '--mean of words' '--mean does not take' run model.onnx --mean 1,x
refused 2 '--scale of five' '--scale does not take' run model.onnx --scale 1,2,3,4,5
refused 2 '--scale by zero' '--scale does not take' run model.onnx --scale 1/0
refused 2 '--layout' '--layout does not take' run model.onnx --layout hwc
refused 2 '--rtol below zero' '--rtol does not take' check model.onnx --rtol=-1
refused 2 'unknown device' 'unknown device' bench model.onnx --device toaster
for c in info run bench dot; do
    refused 1 "$c: model not there" 'cannot open .*missing.onnx: No such file' $c "$tmp/missing.onnx"
    refused 1 "$c: not a model" 'cannot load .*not.onnx: ' $c "$tmp/not.onnx"
done
# looks NAME BYTES PATTERN: a file of these bytes and zeros is no model; the message names its probable format
looks() {
    { printf "$2" && head -c 100 /dev/zero; } >"$tmp/looks.onnx"
    refused 1 "looks like $1" "this is not an ONNX file; it looks like $3" info "$tmp/looks.onnx"
}
looks PNG '\211PNG\r\n\032\n' 'a PNG image$'
looks JPEG '\377\330\377\340' 'a JPEG image$'
looks pickle '\200\002}q' 'a Python pickle, perhaps of PyTorch'
looks PyTorch 'PK\003\004aaaaaaaaaaaaaaaaaaaaaaaaaamodel/data.pkl' 'a PyTorch file: export'
looks zip 'PK\003\004aaaa' 'a zip archive$'
looks gzip '\037\213\010' 'compressed by gzip'
looks HDF5 '\211HDF\r\n\032\n' 'an HDF5 file'
looks SafeTensors '\100\000\000\000\000\000\000\000{"a"' 'a SafeTensors file'
looks GGUF 'GGUF\003' 'a GGUF file$'
looks ELF '\177ELF\002\001\001' 'an ELF executable or library$'
looks Mach-O '\317\372\355\376\007' 'a Mach-O executable or library$'
looks PE 'MZ\220\000\003' 'a Windows executable or library$'
looks PDF '%%PDF-1.7' 'a PDF document$'
looks GIF 'GIF89a' 'a GIF image$'
looks RIFF 'RIFF\044\000\000\000WAVE' 'a RIFF file'
looks bzip2 'BZh91AY' 'compressed by bzip2'
looks xz '\3757zXZ\000' 'compressed by xz'
looks Zstandard '\050\265\057\375' 'compressed by Zstandard'
looks JSON '{"a": 1}' 'a text of JSON$'
refused 1 'looks like a program' 'it looks like an ELF executable or library$' run "$(command -v "$python")" --input random
refused 1 'looks like a text' 'this is not an ONNX file; it looks like a text$' info tests/tools/test_cli.sh
: >"$tmp/looks.onnx"
refused 1 'looks like nothing' 'this is not an ONNX file; it looks like an empty file$' info "$tmp/looks.onnx"
looks 'Git LFS' 'version https://git-lfs.github.com/spec/v1' 'a pointer of Git LFS'
refused 1 'operators that are not read' "operators that are not supported \(operator set 13, written by torch 2.3\): SequenceMap x2 'one', .. \(sequences\), Fly x1, ai.onnx.ml.ZipMap x1 \(maps; export with the option zipmap=False\)\$" info "$tmp/fly.onnx"
refused 1 'operators of ONNX Runtime' "operators that are not supported: com.microsoft.MoE x1 'one'; com.microsoft is ONNX Runtime's: save at ORT_ENABLE_BASIC, quantized as QDQ, or nnrt_op_register; nnrt_onnx_desc.outputs 'a' leaves them out; here --outputs NAME,... does\$" info "$tmp/ort.onnx"
if "$nnrt" ops >/dev/full 2>"$tmp/err"; then fail 'a full disk looks like success'; else pass; fi
says 'a full disk' 'cannot write to standard output'

# ---- tables ----

t 0 'ops --tsv' ops --tsv
prints 'ops --tsv has a row' '^CONV2D_FUSION	35	[a-z0-9,]*float32'
py 'every row of ops --tsv is name, number, types, since' 'all(len(r.split("\t")) == 4 and int(r.split("\t")[1]) > 0 and {t.lstrip("q") for t in r.split("\t")[2].split(",")} <= set(TYPES) and r.split("\t")[3] in ("10", "20", "21", "0") for r in open(F + "out").read().splitlines())'
prints 'ops --tsv has quantised types and the version' '^TRANSPOSE	162	[a-z0-9,]*,qint8[a-z0-9,]*	10$'
grep -Ec . "$tmp/out" >"$tmp/count"
t 0 'ops' ops
prints 'ops' '^CONV2D_FUSION +35  .*float32,float64  HDI 1[.]0$'
t 0 'ops --json' ops --json
py 'ops --json agrees with --tsv' 'len(d["operators"]) == int(open(F + "count").read()) >= 48 and {"name", "number", "types", "kernels", "inputs", "outputs", "since"} == set(d["operators"][0])'
t 0 'ops --onnx' ops --onnx
silent 'ops --onnx'
prints 'ops --onnx: one operator' '^Abs +1-28   ABS$'
prints 'ops --onnx: beside others' '^LRN +1-28   LRN, with RESHAPE: other than 4 axes'
prints 'ops --onnx: made of several' '^Shrink +9-28   made of LESS GREATER .*: selected by two comparisons$'
prints 'ops --onnx: nothing' '^Identity +1-28   its input under another name$'
prints 'ops --onnx: left out' '^SequenceMap +unsupported: sequences$'
t 0 'ops --onnx --tsv' ops --onnx --tsv
prints 'ops --onnx --tsv' '^DFT	17	28	DFT		$'
prints 'ops --onnx --tsv: left out' '^ai[.]onnx[.]ml[.]ZipMap	0	0			maps; export with the option zipmap=False$'
cp "$tmp/out" "$tmp/onnx.tsv"
t 0 'ops --json' ops --json
py 'ops --onnx names operators that there are' '{w for r in open(F + "onnx.tsv") for c in r.rstrip("\n").split("\t")[3:5] for w in c.split()} <= {o["name"] for o in d["operators"]}'
t 0 'ops --onnx --json' ops --onnx --json
py 'ops --onnx --json agrees with --tsv' '["\t".join([o["name"], *map(str, o["sets"]), o["becomes"], o["with"], o["why"]]) for o in d["operators"]] == open(F + "onnx.tsv").read().splitlines()'
py 'ops --onnx: each says something' 'all(o["becomes"] or o["why"] for o in d["operators"]) and all(o["why"] for o in d["operators"] if o["with"])'
t 0 'ops --tflite' ops --tflite
silent 'ops --tflite'
prints 'ops --tflite: supported' '^CONV_2D +3  1-8 +fqs +CONV2D_FUSION ACTIVATION '
prints 'ops --tflite: unsupported' '^HASHTABLE +136  unsupported$'
t 0 'ops --tflite --tsv' ops --tflite --tsv
prints 'ops --tflite --tsv' '^RELU6	21	3	fqw	ACTIVATION QUANT_DTYPE_CAST$'
t 0 'ops --tflite --json' ops --tflite --json
py 'ops --tflite --json: numbers are unique but for custom operators' 'len({o["number"] for o in d["operators"]}) == len(d["operators"]) - 4'
refused 2 'ops --tflite --copy' '--tflite lists operators of TensorFlow Lite and cannot be combined with --copy' ops --tflite --copy SOFTMAX
refused 2 'ops --tflite --onnx' '--onnx lists operators of ONNX and cannot be combined with --tflite' ops --tflite --onnx
refused 2 'ops --onnx --copy' '--onnx lists operators of ONNX and cannot be combined with --copy' ops --onnx --copy SOFTMAX
refused 2 'ops --onnx --header' '--onnx lists operators of ONNX and cannot be combined with --header' ops --onnx --header nnrt_ops.h

# .tflite files: int8 convolution, dense layer and softmax; input image, output scores. The type follows from the bytes.
tfl=$tmp/small.tflite
"$python" -B tests/formats/tflite/model.py "$tfl" && cp "$tfl" "$tmp/tflite.onnx"
t 0 'info, .tflite' info "$tfl" --device reference
prints 'info, .tflite: input' '^input +image +int8\[1,3,3,1\]$'
prints 'info, .tflite: operators' '^ +1 +FULL_CONNECTION$'
t 0 'run, .tflite with another name' run "$tmp/tflite.onnx" --input random --device reference --output-dir "$tmp/tflite"
t 0 'run, .tflite from standard input' run - --input random --device reference --output-dir "$tmp/tflite2" <"$tfl"
if cmp -s "$tmp/tflite/scores.npy" "$tmp/tflite2/scores.npy"; then pass; else fail 'run, .tflite: standard input has other results'; fi
t 0 'info, .tflite: another batch' info "$tfl" --outputs c --shape image=2,3,3,1
prints 'info, .tflite: another batch' '^input +image +int8\[2,3,3,1\]$'
for images in batch2 first second; do
    t 0 "run, .tflite: another batch, $images" run "$tfl" --outputs c --shape "image=$([ $images = batch2 ] && echo 2 || echo 1),3,3,1" --input "$tmp/$images.npy" --output-dir "$tmp/$images"
done
py 'run, .tflite: another batch has the results of both images' '(lambda a: a.shape == (2, 2, 2, 2) and bool((a == np.concatenate([np.load(F + n + "/c.npy") for n in ("first", "second")])).all()))(np.load(F + "batch2/c.npy"))'
refused 1 'info, .tflite: a batch that RESHAPE forbids' 'RESHAPE.* has 16 elements, which do not fill int8\[1,8\]' info "$tfl" --shape image=2,3,3,1
refused 2 'info, .tflite: another rank' "input 'image' is int8" info "$tfl" --shape image=3,3,1
for kind in batch fixed; do "$python" -B tests/formats/tflite/model.py "$tmp/$kind.tflite" $kind; done
t 0 'info, .tflite: a dynamic dimension' info "$tmp/batch.tflite" --max 4,1,3 --device reference
prints 'info, .tflite: a dynamic dimension' '^input +x +float32\[\?,1,3\]'
t 0 'run, .tflite: a dynamic dimension' run "$tmp/batch.tflite" --input "$tmp/rows4.npy"
prints 'run, .tflite: the input sets a dynamic dimension' '^y  float32\[4,1,3\]$'
t 0 'run, .tflite: a dynamic dimension is 1 by default' run "$tmp/batch.tflite" --input random
says 'run, .tflite: a dynamic dimension is 1 by default' "input 'x' is float32\[\?,1,3\]: dynamic dimensions taken as 1"
t 0 'run, .tflite: --max and --shape of a dynamic dimension' run "$tmp/batch.tflite" --max 4,1,3 --shape 2,1,3 --input random
prints 'run, .tflite: --max and --shape of a dynamic dimension' '^y  float32\[2,1,3\]$'
t 0 'convert, .tflite: a dynamic dimension' convert "$tmp/batch.tflite" "$tmp/batch.nnrt"
t 0 'convert, .tflite: the shape of the file' info "$tmp/batch.nnrt"
prints 'convert, .tflite: the shape of the file' '^input +x +float32\[1,1,3\]$'
t 0 'run, .tflite: RFFT2D requires the stored shape' run "$tmp/fixed.tflite" --input random
silent 'run, .tflite: RFFT2D requires the stored shape'
prints 'run, .tflite: RFFT2D requires the stored shape' '^y  float32\[1,1,3\]$'
t 0 'check, .tflite' check "$tfl" --input random --expected "scores=$tmp/tflite/scores.npy" --device auto
t 0 'report, .tflite' report "$tfl" -o "$tmp/tflite.html"
t 0 'convert, .tflite' convert "$tfl" "$tmp/tflite.nnrt"
t 0 'check, .tflite as .nnrt' check "$tmp/tflite.nnrt" --input random --expected "scores=$tmp/tflite/scores.npy"
t 0 'compile, .tflite' compile "$tfl" --device fake:cache=yes -o "$tmp/tflite2.nnrt"
t 0 'emit-c, .tflite' emit-c "$tfl" -o - --name small
prints 'emit-c, .tflite' 'small_run'
t 0 'info, .tflite --outputs' info "$tfl" --device reference --outputs d
prints 'info, .tflite --outputs' '^output +d +int8\[1,3\]$'
"$python" -B tests/formats/tflite/model.py "$tmp/signed.tflite" control
t 0 'info, .tflite --signature' info "$tmp/signed.tflite" --device reference --signature step
prints 'info, .tflite --signature' '^output +after +int32\[\]$'
t 0 'run, .tflite --signature' run "$tmp/signed.tflite" --input random --device reference --signature detect
refused 1 'info, .tflite --signature of no name' "has no signature 'nope', it has 2: 'detect' 'step'" info "$tmp/signed.tflite" --signature nope
refused 2 'info, --signature of a .nnrt file' '--signature is for .tflite files' info "$tmp/tflite.nnrt" --signature x
refused 1 'info, .tflite --outputs of no tensor' "no tensor of the file has the name 'nope'" info "$tfl" --outputs nope
# States stay between the runs of --reps, also in a .nnrt file; other commands have them as inputs and outputs.
state=$tmp/state.tflite
"$python" -B tests/formats/tflite/model.py "$state" state
t 0 'info, states' info "$state" --device reference
prints 'info, states' '^metadata +description=a test$'
for n in 1 2 3; do t 0 "run --reps $n" run "$state" --input random --device reference --reps $n --output-dir "$tmp/reps$n"; done
t 0 'run, labels of the file' run "$state" --input random --device reference
prints 'run, labels of the file' '^  [01]  .*  (cat|dog)$'
if cmp -s "$tmp/reps1/y.npy" "$tmp/reps2/y.npy" || cmp -s "$tmp/reps2/y.npy" "$tmp/reps3/y.npy"; then fail 'run --reps: the state does not change'; else pass; fi
t 0 'convert, states' convert "$state" "$tmp/state.nnrt"
t 0 'run --reps, .nnrt' run "$tmp/state.nnrt" --input random --device auto --reps 3 --output-dir "$tmp/reps4"
t 0 'compare, states' compare "$state" --device reference --device auto
t 0 'run --dump, states' run "$state" --input random --device reference --dump "$tmp/statedump"
t 0 'check, states' check "$state" --input random --expected "p=$tmp/reps1/p.npy" --device reference
t 0 'emit-c, states' emit-c "$state" -o - --name kept
prints 'emit-c, states' 'kept_state_reset\(void \*state\)'
refused 1 'convert --state of no output' 'states, line 1: expected INPUT=OUTPUT' convert "$tfl" "$tmp/loop.nnrt" --state image=nope
t 0 'convert --state of another type' convert "$tfl" "$tmp/loop.nnrt" --state image=scores
refused 1 'run --state of another type' "input 'image' and output 'scores' differ" run "$tmp/loop.nnrt" --device reference
{ printf '\034\000\000\000TFL3' && head -c 100 /dev/zero; } >"$tmp/cut.tflite"
refused 1 'info, .tflite of zeros' 'damaged file: the vtable at byte 28 has 0 bytes, its table 0' info "$tmp/cut.tflite"
head -c 1000 "$tfl" >"$tmp/cut.tflite"
refused 1 'info, .tflite cut short' 'damaged file: the offset [0-9]+ at byte [0-9]+ leads out of the 1000 bytes' info "$tmp/cut.tflite"
t 0 'devices' devices
prints 'devices lists the reference' '^reference  nnrt  CPU  AVAILABLE$'
prints 'devices: bits' '^the reference device gives the same bits here as everywhere$'
t 0 'devices --json' devices --json
py 'devices --json: bits' 'd["same_bits"] is True'
py 'devices --json' '[x for x in d["devices"] if x["name"] == "reference"][0]["status"] == "AVAILABLE"'
t 0 'devices --device fake' devices --device fake:name=npu0,vendor=acme,type=GPU --device fake:
prints 'devices lists a fake device' '^npu0  acme  GPU  AVAILABLE$'
prints 'devices lists two of them' '^fake  nnrt  ACCELERATOR  AVAILABLE$'
t 0 'run --device fake' run examples/digits/digits.onnx --input examples/digits/digit_7.png --device fake: --output-dir "$tmp/fake_out"
t 0 'run --device reference' run examples/digits/digits.onnx --input examples/digits/digit_7.png --device reference --output-dir "$tmp/reference_out"
if diff -r "$tmp/fake_out" "$tmp/reference_out" >/dev/null; then pass; else fail 'a fake device has the bits of the reference device'; fi
refused 1 'run --device fake: what it does not take' "device 'fake' does not have this operator" run examples/digits/digits.onnx --input random --device fake:not=SOFTMAX+CONV2D_FUSION
t 0 'run --float16 and the rest' run examples/digits/digits.onnx --input examples/digits/digit_7.png --device fake:float16=yes,modes=yes,priorities=yes --float16 --performance extreme --priority high --extension a=b --extension=c=
prints 'run --float16: the digit' '^  7  1$'
refused 1 'run --float16 on a device that has none' "device 'reference_nnrt_v2_0' has no float32 in float16" run examples/digits/digits.onnx --input random --device reference --float16
t 0 'run --float16 and the rest on cpu' run examples/digits/digits.onnx --input examples/digits/digit_7.png --device cpu --float16 --performance extreme --priority high --top 1
prints 'run --float16 on cpu: the digit' '^  7  0\.9999'
t 0 'hints on reference' run examples/digits/digits.onnx --input examples/digits/digit_7.png --device reference --performance high --priority low --top 1
prints 'hints on reference: the digit' '^  7  0\.99998'
refused 1 'run --float16 on auto' "has no float32 in float16" run examples/digits/digits.onnx --input random --float16
refused 1 'run --performance on a device that has none' "has no performance modes" run examples/digits/digits.onnx --input random --device fake: --performance low
refused 1 'run --priority on a device that has none' "has no priorities" run examples/digits/digits.onnx --input random --device fake: --priority low
refused 2 '--performance: no such mode' "--performance does not take 'fast'" run examples/digits/digits.onnx --performance fast
refused 2 '--priority: no such level' "--priority does not take 'extreme'" run examples/digits/digits.onnx --priority extreme
for v in '' name =value "$(printf '%064d' 0)=x"; do
    refused 2 "--extension '$v'" '--extension does not take' run examples/digits/digits.onnx --extension "$v"
done
t 0 'run --device cpu --extension' run examples/digits/digits.onnx --input examples/digits/digit_7.png --device cpu --extension nnrt.cpu.winograd=0
prints 'run --device cpu --extension: the digit' '^  7  0\.999989$'
refused 1 'run --device cpu: no such extension' "extension 'nnrt.cpu.winograd' is '3', expected 0" run examples/digits/digits.onnx --input random --device cpu --extension nnrt.cpu.winograd=3
refused 1 'run --device fake: that fails' "device 'fake' was told to fail" run examples/digits/digits.onnx --input random --device fake:fail=RunIn
t 0 'run --device fake: without the size of a workspace' run examples/digits/digits.onnx --input random --device fake:without=GetWorkspaceSize
refused 2 'run --device fake: a bad text' "ops has 'CONV', expected operator names" run examples/digits/digits.onnx --input random --device fake:ops=CONV
driver=build/test/libplain_npu.so # tests/compat/nnadapter_plain.c: ADD and CONV_2D
sum=${NNRT_ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}/node/test_add
t 0 'devices --load' devices --load $driver
prints 'devices --load: the device' '^plain_npu  tests  ACCELERATOR  AVAILABLE$'
t 0 'devices --load --json' devices --properties 'PLAIN_NPU_SPEED=9;' --load=$driver --json
py 'devices --load --json' '[x for x in d["devices"] if x["name"] == "plain_npu"][0]["unique_name"] == "plain_npu_tests_v3_0"'
refused 2 'devices --properties without a value' "--properties does not take 'fast'" devices --properties fast --load $driver
refused 2 'devices --load twice' "--load $driver: a device 'plain_npu' is registered already" devices --load $driver --load $driver
refused 2 'devices --load of nothing' "--load [^ ]*: '[^']*libnone.so' cannot be loaded" devices --load "$tmp/libnone.so"
refused 2 'devices --load of another file' "--load [^ ]*: '[^']*digits.onnx' cannot be loaded" devices --load $digits/digits.onnx
cp $driver "$tmp/plain_npu.so"
refused 2 'devices --load of another name' "the file name of '[^']*' must be lib<device>.so" devices --load "$tmp/plain_npu.so"
table=build/test/libtable_npu.so # tests/devices/table_npu.c: a device table, ABS of float32 alone
absolute=${NNRT_ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}/node/test_abs
t 0 'devices --load of a device table' devices --load $table
prints 'devices --load: the device of the table' '^table_npu  tests  ACCELERATOR  AVAILABLE$'
t 0 'check on the device of a table' check "$absolute/model.onnx" --data "$absolute" --load $table --device table_npu
refused 1 'a model that it does not take' "device 'table_npu_tests_v1_0'" run "$sum/model.onnx" --input random --load $table --device table_npu
refused 2 'devices --load of a table twice' "a device 'table_npu' of 'tests' is registered already" devices --load $table --load $table
TABLE_NPU_GONE=1
export TABLE_NPU_GONE
refused 2 'a driver without a device' 'has no device: nnrt_driver returns NULL' devices --load $table
unset TABLE_NPU_GONE
t 0 'check on a loaded device' check "$sum/model.onnx" --data "$sum" --load $driver --device plain_npu
refused 2 'a device before it is loaded' 'unknown device' check "$sum/model.onnx" --data "$sum" --device plain_npu --load $driver
refused 1 'a model that the loaded device does not take' 'no NNAdapter operation can express node 6 .FLATTEN.' bench "$digits/digits.onnx" --load $driver --device plain_npu
t 0 'info --placement' info examples/digits/digits.onnx --device fake:name=npu0,ops=CONV2D_FUSION --device fake:name=npu1,ops=MAX_POOL_FUSION --device auto:npu0,npu1 --placement
prints 'info --placement: the preferred device' '^placement       0  conv1  CONV2D_FUSION  npu0_nnrt_v1_0  part 0$'
prints 'info --placement: the second one, and why' "^                1  pool1  MAX_POOL_FUSION  npu1_nnrt_v1_0  part 1  node 1 'pool1' \\(MAX_POOL_FUSION\\): device 'npu0' does not have this operator\$"
prints 'info --placement: the rest' '^                9  probabilities  SOFTMAX  reference_nnrt_v2_0  node 9'
t 0 'info --placement --json' info examples/digits/digits.onnx --device fake:name=npu0,ops=CONV2D_FUSION --device auto:npu0 --placement --json
py 'info --placement --json' '[p.get("part") for p in d["placement"] if p["operator"] == "CONV2D_FUSION"] == [0, 1, 2] and d["placement"][1]["device"] == "reference_nnrt_v2_0" and "part" not in d["placement"][1]'
t 0 'info --placement on one device' info examples/digits/digits.onnx --device reference --placement --json
py 'info --placement on one device' 'all(p["device"] == "reference_nnrt_v2_0" and p["reason"] == "" for p in d["placement"])'
t 0 'run --device auto:' run examples/digits/digits.onnx --input examples/digits/digit_7.png --device fake:name=npu0,ops=CONV2D_FUSION+SOFTMAX --device auto:npu0 --output-dir "$tmp/auto_out"
if diff -r "$tmp/auto_out" "$tmp/reference_out" >/dev/null; then pass; else fail 'a split model has the bits of the reference device'; fi
# every command that creates a session accepts the options of auto
npu0='--device fake:name=npu0,ops=EQUAL --device auto:npu0 --strict'
refused 1 'info --strict' "strict: no device takes node 0 'conv1'" info examples/digits/digits.onnx $npu0
refused 1 'run --strict' "strict: no device takes node 0 'conv1'" run examples/digits/digits.onnx --input random $npu0
refused 1 'bench --strict' "strict: no device takes node 0 'conv1'" bench examples/digits/digits.onnx $npu0
t 1 'check --strict' check "$sum/model.onnx" --data "$sum" $npu0
says 'check --strict' 'strict: no device takes node 0 '
refused 1 'compare --strict' 'no device is registered and available' compare examples/digits/digits.onnx --input random --device auto --device reference --strict
t 0 'run --strict, all on devices' run examples/digits/digits.onnx --input examples/digits/digit_7.png --device fake:name=npu0,ops=CONV2D_FUSION+SOFTMAX --device fake:name=npu1,not=SOFTMAX --device auto:npu0,npu1 --strict
refused 1 'run, a device that fails' "part 0, on device 'npu0_nnrt_v1_0': device 'npu0' was told to fail" run examples/digits/digits.onnx --input random --device fake:name=npu0,ops=CONV2D_FUSION,fail=RunIn --device auto:npu0
t 0 'run --fallback' run examples/digits/digits.onnx --input examples/digits/digit_7.png --device fake:name=npu0,fail=RunIn --device auto:npu0 --fallback --output-dir "$tmp/fallback_out"
if diff -r "$tmp/fallback_out" "$tmp/reference_out" >/dev/null; then pass; else fail 'run --fallback has the bits of the reference device'; fi
refused 1 'run --strict --fallback' 'strict and fallback are both set' run examples/digits/digits.onnx --input random --device auto --strict --fallback
printf '# kept\r\nSOFTMAX\r\nMAX_POOL_FUSION::pool1\nTANH\n' >"$tmp/keep.txt"
t 0 'info --keep' info examples/digits/digits.onnx --device fake:name=npu0 --device auto:npu0 --keep "$tmp/keep.txt" --strict --placement --json
py 'info --keep' '[(p["name"], p["reason"]) for p in d["placement"] if p["device"] == "reference_nnrt_v2_0"] == [(n, "the partition text keeps it on the reference device") for n in ("pool1", "probabilities")]'
says 'info --keep: a record for nothing' "--keep: no node matches 'TANH'"
t 0 'info --records' info examples/digits/digits.onnx --records
prints 'info --records' '^CONV2D_FUSION:image:relu1$'
prints 'info --records' '^FULL_CONNECTION:relu4,fc2[.]weight:fc2$'
grep '^SOFTMAX' "$tmp/out" >"$tmp/record.txt"
t 0 'info --keep, of a record' info examples/digits/digits.onnx --device fake:name=npu0 --device auto:npu0 --keep "$tmp/record.txt" --strict --placement --json
py 'info --keep, of a record' '[p["name"] for p in d["placement"] if p["device"] == "reference_nnrt_v2_0"] == ["probabilities"]'
t 0 'info --smallest' info examples/digits/digits.onnx --device fake:name=npu0,not=MAX_POOL_FUSION --device auto:npu0 --smallest 2 --placement --json
py 'info --smallest' '[(p["name"], p["reason"]) for p in d["placement"] if "fewer" in p["reason"]] == [(n, "its part has fewer nodes than are wanted") for n in ("conv1", "conv2", "conv3")]'
refused 2 'info --smallest 0' "smallest" info examples/digits/digits.onnx --smallest 0
refused 1 'info --keep: no file' "cannot open $tmp/no_keep.txt" info examples/digits/digits.onnx --device auto --keep "$tmp/no_keep.txt"
printf 'SOFT\0MAX\n' >"$tmp/keep.txt"
refused 1 'compare --keep: no text' "cannot use $tmp/keep.txt: it is not a text file" compare examples/digits/digits.onnx --input random --device auto --device reference --keep "$tmp/keep.txt"
refused 1 'info --keep: no text' "cannot use $tmp/keep.txt: it is not a text file" info examples/digits/digits.onnx --device auto --keep "$tmp/keep.txt"
refused 1 'run --device auto: nobody' "there is no device at the beginning of 'nobody'" run examples/digits/digits.onnx --input random --device auto:nobody

# ---- serve ----

# serving NAME ARGUMENTS...: nnrt serve in the background, $server; it listens when this ends.
serving() {
    label=$1
    shift
    : >"$tmp/served"
    "$nnrt" serve "$@" >"$tmp/served" 2>"$tmp/served_err" &
    server=$!
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -s "$tmp/served" ] && break
        kill -0 "$server" 2>/dev/null || break
        sleep 0.2
    done
    if [ -s "$tmp/served" ]; then pass; else fail "$label: does not serve: $(cat "$tmp/served_err")"; fi
}
# served NAME SIGNAL: the server exits with 0 after the signal, and removes its socket.
served() {
    kill -s "$2" "$server"
    wait "$server"
    got=$?
    if [ "$got" -eq 0 ]; then pass; else fail "$1: status $got, expected 0"; fi
    if [ -e "$tmp/socket" ]; then fail "$1: the socket is still there"; else pass; fi
}
if [ "$(uname)" = Linux ]; then

t 0 'serve --help' serve --help
prints 'serve --help: the socket' '^  --socket PATH '
prints 'serve --help: limits' '^  --limits NAME=N'
refused 2 'serve without a socket' 'serve: --socket PATH is missing' serve
refused 2 'serve: no such device' 'unknown device' serve --socket "$tmp/socket" --device nobody
for limit in clients clients= clients=0 client=1 clients=1,, bytes=0 bytes=x bytes=9999999999999999999 time=-1; do
    refused 2 "serve --limits $limit" "--limits does not take '$limit'" serve --socket "$tmp/socket" --limits "$limit"
done
refused 2 'serve --users' "--users does not take '1,x'" serve --socket "$tmp/socket" --users 1,x
for mode in 0 8 600x 99 07777; do
    refused 2 "serve --mode $mode" "--mode does not take '$mode'" serve --socket "$tmp/socket" --mode "$mode"
done
refused 1 'serve: a message that is too short' 'expected at most 65536, and a message of 4096 to' serve --socket "$tmp/socket" --limits message=4095
refused 1 'serve: no such folder' 'cannot make the socket' serve --socket "$tmp/none/socket"
: >"$tmp/no_socket"
refused 1 'serve: in the place of a file' 'exists and is not a socket' serve --socket "$tmp/no_socket"
refused 2 'nobody serves' "no server listens at '[^']*/socket'" run "$digits/digits.onnx" --input random --device "remote:$tmp/socket"
refused 2 'a device without a path' "the path '' has 0 characters" devices --device remote:
serving 'serve' --socket "$tmp/socket" --device reference
if grep -q "^device reference at $tmp/socket\$" "$tmp/served"; then pass; else fail 'serve says what it serves'; fi
case $(ls -l "$tmp/socket") in srw-------*) pass ;; *) fail "serve: permissions $(ls -l "$tmp/socket")" ;; esac
refused 1 'serve: twice at one socket' "another process already serves a device at '[^']*/socket'" serve --socket "$tmp/socket"
t 0 'devices --device remote' devices --device "remote:$tmp/socket" --device "remote:name=npu7,time=5000,$tmp/socket"
prints 'devices lists a remote device' '^remote_reference  nnrt  CPU  AVAILABLE$'
prints 'devices lists it under its name' '^npu7  nnrt  CPU  AVAILABLE$'
t 0 'run --device remote' run "$digits/digits.onnx" --input "$digits/digit_7.png" --device "remote:$tmp/socket" --output-dir "$tmp/remote_out"
if diff -r "$tmp/remote_out" "$tmp/reference_out" >/dev/null; then pass; else fail 'a remote device has the bits of the reference device'; fi
t 0 'compare with a remote device' compare "$digits/digits.onnx" --device "remote:$tmp/socket"
t 0 'a part on a remote device' run "$digits/digits.onnx" --input "$digits/digit_7.png" --device "remote:name=npu7,$tmp/socket" --device auto:npu7 --output-dir "$tmp/remote_auto"
if diff -r "$tmp/remote_auto" "$tmp/reference_out" >/dev/null; then pass; else fail 'auto on a remote device has the bits of the reference device'; fi
t 0 'info --device auto:remote:PATH' info "$digits/digits.onnx" --device "auto:remote:$tmp/socket" --placement --json
py 'auto:remote:PATH: all nodes are there' 'all(p["device"] == "remote_reference_nnrt_v2_0" for p in d["placement"])'
t 0 'a list of devices that have options' info "$digits/digits.onnx" --device "auto:fake:name=npu0,ops=SOFTMAX,remote:name=npu7,time=5000,$tmp/socket,reference" --placement --json
py 'a list of devices that have options: who has what' '[p["device"] for p in d["placement"]] == ["npu7_nnrt_v2_0"] * 9 + ["npu0_nnrt_v1_0"]'
t 0 'compare of two lists' compare "$digits/digits.onnx" --device "auto:remote:name=a,$tmp/socket" --device "auto:remote:name=b,$tmp/socket"
refused 2 'auto:remote: of nobody' "no server listens at '[^']*/none'" devices --device "auto:remote:$tmp/none"
served 'serve ends by SIGTERM' TERM
serving 'serve again, with limits' --socket "$tmp/socket" --device fake:not=SOFTMAX --limits clients=1,models=1,bytes=65536 --mode 0660 --log debug
case $(ls -l "$tmp/socket") in srw-rw----*) pass ;; *) fail "serve --mode 0660: permissions $(ls -l "$tmp/socket")" ;; esac
refused 2 'limits of a server: clients' 'the server has reached its limit of clients' devices --device "remote:$tmp/socket" --device "remote:name=other,$tmp/socket"
refused 1 'limits of a server: bytes' 'allows a client at most 65536 bytes' run "$digits/digits.onnx" --input random --device "remote:$tmp/socket"
served 'serve ends by SIGINT' INT
if grep -q 'nnrt: warning: process [0-9]* is refused: the server has its limit of 1 clients' "$tmp/served_err"; then pass; else fail 'serve --log'; fi
serving 'serve, of another user' --socket "$tmp/socket" --users 12345
refused 2 'another user' 'the server does not admit this user id' devices --device "remote:$tmp/socket"
kill -s KILL "$server"
wait "$server" 2>/dev/null
if [ -S "$tmp/socket" ]; then pass; else fail 'a killed server leaves its socket'; fi
serving 'serve in the place of a server that was killed' --socket "$tmp/socket" --device fake:not=SOFTMAX
refused 1 'run on a remote device that refuses' "node 9 'probabilities' \\(SOFTMAX\\): device 'fake' does not have this operator" run "$digits/digits.onnx" --input random --device "remote:$tmp/socket"
served 'serve ends' TERM
else
    skip 'serve' 'only Linux has it'
fi

# ---- ops --copy: tests/ops/test_copy.py compiles and runs its output ----

if grep -q '>>kernel SOFTMAX' nnrt_ops.h; then

t 0 'ops --copy of an operator' ops --copy SOFTMAX
silent 'ops --copy of an operator'
prints 'ops --copy: both kernels' '^NNRT_ReturnCode nnrt_softmax_f16\('
prints 'ops --copy: how it is called' '^nnrt_softmax_f16\(attr, x, y, call\)$'
prints 'ops --copy: its types' '^    x +input 0, x: float16$'
prints 'ops --copy: what is resolved' '^    Resolved: axis is a list of one entry >= 0[.]$'
prints 'ops --copy: the licence' '^documentation files \(the "Software"\), to deal in the Software'
t 0 'ops --copy of a kernel' ops --copy nnrt_softmax_f32
prints 'ops --copy of a kernel' '^NNRT_ReturnCode nnrt_softmax_f32\('
if grep -q nnrt_softmax_f16 "$tmp/out"; then fail 'ops --copy of a kernel prints another'; else pass; fi
t 0 'ops --copy of the kernel of another operator' ops --copy SQUEEZE
prints 'ops --copy of the kernel of another operator' '^NNRT_ReturnCode nnrt_reshape\('
t 0 'ops --copy of three inputs, one of them optional, and a derived constant' ops --copy PAD_FUSION
prints 'ops --copy: optional' '^    value +input 2, value, may be NULL: of the type of x$'
prints 'ops --copy: derived' '^    [a-z]+ +derived constant 0, see below$'
prints 'ops --copy: the rule' '^static NNRT_ReturnCode nnrti_rule_pad_fusion[(]nnrt_resolve [*]c[)]$'
prints 'ops --copy: how a factor is made' '^static void nnrti_factor[(]double d, int32_t factor'
t 0 'ops --copy of an image operator' ops --copy CONV2D_FUSION
prints 'ops --copy of an image operator' '\[N,H,W,C\]'
t 0 'ops --copy of repeated inputs' ops --copy CONCAT
prints 'ops --copy of repeated inputs' '^    x +input 0, x, as many as there are, one behind the other: of the type of x: any type'
for c in softmax:SOFTMAX Conv:CONV2D_FUSION conv2d:CONV2D_FUSION GELU:ACTIVATION nms:NON_MAX_SUPPRESSION MatMul:MATMUL_FUSION \
    LayerNorm:LAYER_NORM_FUSION LAYER_NORM:LAYER_NORM_FUSION DepthwiseConv:CONV2D_FUSION depthwise_conv_2d:CONV2D_FUSION \
    LayerNormalization:LAYER_NORM_FUSION FULLY_CONNECTED:FULL_CONNECTION TRANSPOSE_CONV:CONV2D_TRANSPOSE_FUSION; do
    t 0 "ops --copy ${c%%:*}" ops --copy "${c%%:*}"
    says "ops --copy ${c%%:*}" "^nnrt: note: ${c%%:*} is ${c#*:}(; also .*)?\$"
    prints "ops --copy ${c%%:*}" "^${c#*:} of nnrt "
done
prints 'ops --copy: enumerators that only attributes have' 'NNRT_PAD_MODE_SAME = '
refused 1 'ops --copy: by meaning' "unknown operator or kernel 'layernom'; the nearest names are LAYER_NORM_FUSION \\(LayerNorm\\), " ops --copy layernom
refused 1 'ops --copy: several operators' 'Shrink is not an operator of nnrt: the ONNX importer uses LESS GREATER' ops --copy shrink
refused 1 'ops --copy: a kernel that is not there' 'the nearest names are nnrt_softmax_f' ops --copy nnrt_softmax_f128
refused 1 'ops --copy: a long name' 'unknown operator or kernel' ops --copy "$(printf '%0200d' 7)"
refused 2 'ops --copy of nothing' '--copy does not take' ops --copy ''
refused 2 'ops --copy --json' '--copy prints C and cannot be combined with --json' ops --copy SOFTMAX --json
refused 2 'ops --copy --tsv' '--copy prints C and cannot be combined with --tsv' ops --copy SOFTMAX --tsv
t 0 'ops --copy --type' ops --copy LSTM --type float32
if grep -q nnrt_half_to_float "$tmp/out"; then fail 'ops --copy --type float32 prints float16'; else pass; fi
t 0 'ops --copy --activation' ops --copy nnrt_conv2d_fusion_f32 --activation RELU
if grep -q 'nnrti_erff' "$tmp/out"; then fail 'ops --copy --activation RELU prints GELU'; else pass; fi
prints 'ops --copy --activation' 'case NNRT_ACTIVATION_TYPE_RELU: return'
if grep -q 'NNRT_EXAMPLE' "$tmp/out"; then fail 'ops --copy prints an example unasked'; else pass; fi
t 0 'ops --copy --example' ops --copy SOFTMAX --example
prints 'ops --copy --example' '^#ifdef NNRT_EXAMPLE'
refused 1 'ops --copy --type: no kernel' 'SOFTMAX --type bool has no kernel for bool' ops --copy SOFTMAX --type bool
refused 2 'ops --copy --type: unknown' '--type does not take' ops --copy SOFTMAX --type float31
refused 2 'ops --type' '--type requires --copy' ops --type float32
refused 2 'ops --header' '--header requires --copy' ops --header nnrt_ops.h
refused 1 'ops --copy: header not there' 'cannot open .*no.h: No such file' ops --copy SOFTMAX --header "$tmp/no.h"
refused 1 'ops --copy: another header' 'nnrt_hal.h has no function nnrt_softmax_f32: it is not nnrt_ops.h, or of another version' ops --copy SOFTMAX --header nnrt_hal.h
sed 's/nnrt_softmax_f32(const NNRT_Softmax \*attr, /&const nnrt_view *more, /' nnrt_ops.h >"$tmp/other.h"
refused 1 'ops --copy: other parameters' 'other.h is of another version: its nnrt_softmax_f32 has other parameters' ops --copy SOFTMAX --header "$tmp/other.h"
t 0 'ops --copy' ops --copy ACTIVATION
cp "$tmp/out" "$tmp/activation.c"
sed 's/$/\r/' nnrt_ops.h >"$tmp/crlf.h"
t 0 'ops --copy: lines end in CR LF' ops --copy ACTIVATION --header "$tmp/crlf.h"
if tr -d '\r' <"$tmp/out" | cmp -s - "$tmp/activation.c"; then pass; else fail 'ops --copy: lines end in CR LF: another text'; fi
# A header that is truncated, or whose macros use each other or never end: a message or partial output, and no crash.
for bytes in 0 1 700 20000 60000 100000 200000; do
    head -c "$bytes" nnrt_ops.h >"$tmp/cut.h"
    refused 1 "ops --copy: $bytes bytes of a header" 'has no function nnrt_softmax_f32' ops --copy SOFTMAX --header "$tmp/cut.h"
done
{
    printf '#define A0(x) x A1(x) x\n#define A1(x) A0(x) #x ## x ##\n#define B(x, ...) __VA_ARGS__ B(x\nA0(A1(A0(1)))\nB(B(2, 3), (4)\nB(1'
    printf '#if 1\n/* never ends'
} >"$tmp/cut.h"
refused 1 'ops --copy: macros of each other' 'has no function' ops --copy SOFTMAX --header "$tmp/cut.h"
{
    printf '#define A0(x) x x x x\n'
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf '#define A%d(x) A%d(x A%d(x) x)\n' "$i" "$((i - 1))" "$((i - 1))"; done
    printf 'A12(1)\n'
} >"$tmp/cut.h"
refused 1 'ops --copy: macros without measure' 'expand to more than' ops --copy SOFTMAX --header "$tmp/cut.h"
# Search path of the header: next to the program, in the current folder, above the program, where it is installed; the program's
# folder comes from its path, or from PATH.
mkdir -p "$tmp/there/bin" "$tmp/there/include/nnrt" "$tmp/empty"
cp "$nnrt" "$tmp/there/bin/nnrt-copy"
looks() { # NAME STATUS COMMAND...: run in an empty folder
    name=$1 want=$2
    shift 2
    (cd "$tmp/empty" && "$@" ops --copy nnrt_shape) >"$tmp/out" 2>"$tmp/err"
    got=$?
    if [ "$got" -eq "$want" ]; then pass; else fail "$name: status $got, expected $want"; fi
}
looks 'ops --copy: no header' 1 "$tmp/there/bin/nnrt-copy"
says 'ops --copy: no header' "^nnrt: nnrt_ops.h is not found at $tmp/there/bin/nnrt_ops.h, nnrt_ops.h, $tmp/there/bin/../nnrt_ops.h, $tmp/there/bin/../include/nnrt/nnrt_ops.h; set its path with --header PATH"
for place in bin include/nnrt .; do
    cp nnrt_ops.h "$tmp/there/$place/nnrt_ops.h"
    looks "ops --copy: header in $place" 0 "$tmp/there/bin/nnrt-copy"
    looks "ops --copy: header in $place, program in PATH" 0 env PATH="$tmp/empty:$tmp/there/bin:$PATH" nnrt-copy
    prints "ops --copy: header in $place" '^NNRT_ReturnCode nnrt_shape\('
    rm "$tmp/there/$place/nnrt_ops.h"
done
cp nnrt_ops.h "$tmp/empty/nnrt_ops.h"
looks 'ops --copy: header in the current folder' 0 "$tmp/there/bin/nnrt-copy"

else
    skip 'ops --copy' 'nnrt_ops.h has no text of its own beside the amalgamation'
fi

# ---- info and dot ----

t 0 'info' info $digits/digits.onnx
prints 'info: input' '^input +image  float32\[1,1,28,28\]'
prints 'info: output' '^output +probabilities  float32\[1,10\]'
prints 'info: operators' ' 3  MAX_POOL_FUSION$'
prints 'info: arena' '^arena +[0-9]+ bytes, lower bound [0-9]+$'
silent 'info'
t 0 'info --json' info $digits/digits.onnx --json
py 'info --json: inputs and outputs' 'd["inputs"][0]["shape"] == [1, 1, 28, 28] and d["outputs"][0]["name"] == "probabilities" and d["outputs"][0]["type"] == "float32"'
py 'info --json: operators add up' 'sum(d["operators"].values()) == d["nodes"] and d["operators"]["MAX_POOL_FUSION"] == 3'
# 19,258 floats: the network's weights and biases, normalization folded into them
py 'info --json: memory' '19258 * 4 <= d["weight_bytes"] < 80000 and d["session_bytes"] > d["arena_bytes"] >= d["arena_lower_bound_bytes"] >= 12 * 28 * 28 * 4'
# grouped 3x3: 8*4*4 sums of 2*3*3; transposed: 4*4 places of 8*3*2*2; [3,64] by [64,5]; [3,5] by [7,5]
t 0 'info: parameters' info "$tmp/macs.onnx"
prints 'info: producer' '^producer    maker 1[.]2-[?]$'
prints 'info: operator sets' '^opsets      ai[.]onnx 13, com[.]example 3$'
prints 'info: parameters' '^parameters  59[0-9]: .*float32 59[0-9] in 23[0-9]{2} bytes'
prints 'info: MACs' "^MACs        $((128 * 18 + 16 * 96 + 3 * 5 * 64 + 3 * 7 * 5)) in a run\$"
t 0 'info --json: parameters' info "$tmp/macs.onnx" --json
py 'info --json: producer and sets' 'd["producer"] == {"name": "maker", "version": "1.2-\x1b"} and d["opsets"] == {"ai.onnx": 13, "com.example": 3}'
py 'info --json: parameters' 'd["parameters"] == sum(w["count"] for w in d["weights"].values()) and 595 <= d["weights"]["float32"]["count"] <= 596 and all(w["bytes"] == w["count"] * {"float32": 4, "int64": 8, "int32": 4, "int8": 1}[t] for t, w in d["weights"].items()) and d["weight_bytes"] == sum(w["bytes"] for w in d["weights"].values())'
for c in lstm_defaults:$((3 * (24 + 36))) gru_defaults:$((3 * (5 * 3 * 2 + 5 * 3 * 5))) basic_convinteger:16 matmulinteger:$((4 * 2 * 3)); do
    path=${NNRT_ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}/node/test_${c%%:*}/model.onnx
    if [ ! -e "$path" ]; then
        skip "info: MACs of ${c%%:*}" 'the test data have no such model'
        continue
    fi
    t 0 "info: MACs of ${c%%:*}" info "$path"
    prints "info: MACs of ${c%%:*}" "^MACs        ${c##*:} in a run\$"
done
t 0 'info: instructions of a microcontroller' info $digits/digits.onnx
prints 'info: instructions of a microcontroller' '^cortex-m4   about [0-9.]+ million instructions in a run$'
t 0 'info --json: instructions of a microcontroller' info $digits/digits.onnx --json
py 'info --json: instructions of a microcontroller' '1 < d["cortex_m4"] / d["macs"] < 3'
t 0 'info: MACs of attention' info "$tmp/attention.onnx"
prints 'info: MACs of attention' "^MACs        $((2 * 3 * 4 * 6 * (8 + 5))) in a run\$"
t 0 'info --memory' info $digits/digits.onnx --memory
prints 'info --memory: a value' '^ +0 +37632  0 to 1 +relu1  float32\[1,28,28,12\]$'
prints 'info --memory: a step' '^ +1 +47040  #{40}  MAX_POOL_FUSION pool1$'
silent 'info --memory'
t 0 'info --memory --json' info $digits/digits.onnx --memory --json
py 'info --memory: the most is the lower bound' 'max(d["bytes_taken"]) == d["arena_lower_bound_bytes"] and len(d["bytes_taken"]) == d["steps"]'
py 'info --memory: in the arena' 'len(d["memory_map"]) == 8 and all(b["offset"] + b["bytes"] <= d["arena_bytes"] for b in d["memory_map"])'
# the first convolution makes 28 x 28 x 12 floats, of which the first pooling makes 14 x 14 x 12
py 'info --memory: steps' 'any(b["bytes"] == 28 * 28 * 12 * 4 and (b["first"], b["last"]) == (0, 1) for b in d["memory_map"]) and any(b["bytes"] == 14 * 14 * 12 * 4 and (b["first"], b["last"]) == (1, 2) for b in d["memory_map"])'
py 'info --memory: values that live at once lie apart, but for one that takes the place of its input' 'all(a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"] or a["last"] < b["first"] or b["last"] < a["first"] or a["offset"] == b["offset"] and (a["last"] <= b["first"] or b["last"] <= a["first"]) for a in d["memory_map"] for b in d["memory_map"] if a is not b)'
t 0 'info --memory --max' info "$tmp/open.onnx" --max 8,3 --memory
silent 'info --memory --max'
refused 1 'info --memory with subgraphs' "^nnrt: --memory: .* has a node 'If_0' \(IF\) with subgraphs, whose values have no memory map$" info "${NNRT_ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}/node/test_if/model.onnx" --memory
t 0 'run, a bound that no memory has' run "$tmp/wide.onnx" --input x=random --input axes="$tmp/axes.npy" --top 1
prints 'run, a bound that no memory has' '^y  float32\[1,30,40,1,50,1\]$'
t 0 'run, more than the first room' run "$tmp/many.onnx" --input "$tmp/many.npy" --output-dir "$tmp/many"
py 'run, more than the first room' "(lambda n, t, want: n.shape == (2, 1250000) and (n == want).all() and (t == want.T).all())(
    np.load(F + 'many/n.npy'), np.load(F + 'many/t.npy'), np.array(np.nonzero(np.ones((1000, 1250)))))"
t 0 'info with open extents' info "$tmp/open.onnx"
prints 'info: open extent' '^input +x  float32\[\?,3\]'
says 'info: open extent' "note: input 'x' is float32\[\?,3\]: dynamic dimensions taken as 1"
t 0 'info --shape' info "$tmp/open.onnx" --shape 5,3 --json
py 'info --json: open extents are null' 'd["inputs"][0]["shape"] == [None, 3]'
silent 'info --shape'
refused 2 'info --shape against the model' 'input .x. is float32\[\?,3\]' info "$tmp/open.onnx" --shape x=5,4
refused 2 'info --shape of no input' "^nnrt: --shape y=5,3: the model has no input 'y'; its input is 'x'$" info "$tmp/open.onnx" --shape y=5,3
refused 2 'info --shape of words' 'expected whole numbers' info "$tmp/open.onnx" --shape 5,,3
t 0 'info --max' info "$tmp/open.onnx" --max 8,3
prints 'info --max: the input' '^input +x  float32\[\?,3\]  up to float32\[8,3\]$'
prints 'info --max: the output' '^output +y  float32\[3,8\]  at most$'
silent 'info --max'
t 0 'info --max --json' info "$tmp/open.onnx" --max x=8,3 --json
py 'info --max --json' 'd["inputs"][0]["shape"] == [None, 3] and d["inputs"][0]["max"] == [8, 3] and d["outputs"][0]["shape"] == [3, 8] and d["outputs"][0]["open"] is True'
t 0 'info --max where all is fixed' info "$tmp/two.onnx" --max a=2,2 --json
py 'info --max where all is fixed' '"max" not in d["inputs"][0] and "open" not in d["outputs"][0]'
t 0 'info --max, no shape in the file' info "$tmp/rank.onnx" --max 7,4
prints 'info --max, no shape in the file' '^input +x  float32\[\?,\?\]  up to float32\[7,4\]$'
refused 2 '--max against the model' '--max x=5,4: input .x. is float32\[\?,3\]' info "$tmp/open.onnx" --max x=5,4
refused 2 '--max of other axes' '--max 5: input .x. is float32\[\?,3\]' info "$tmp/open.onnx" --max 5
refused 2 '--max of words' '--max 5,,3: expected whole numbers' info "$tmp/open.onnx" --max 5,,3
refused 2 '--max without a name' "--max 2,2: it must start with NAME=, one of the inputs 'a', 'b'" info "$tmp/two.onnx" --max 2,2
refused 2 '--max below --shape' '--max 4,3: --shape gives input .x. float32\[5,3\]' info "$tmp/open.onnx" --max 4,3 --shape 5,3
refused 2 '--max for convert' 'unknown option --max' convert "$tmp/open.onnx" "$tmp/x.nnrt" --max 5,3
t 1 '--max of nothing' info "$tmp/open.onnx" --shape 1,3 --max foo=5,3
says '--max of nothing' '--max foo=5,3: .* has no input and no result .foo.'
t 0 'info of a name with quotes' info "$tmp/quote.onnx" --json
py 'info --json: names keep their characters' 'd["inputs"][0]["name"] == "a\"\\\u00e9\n"'
t 0 'info of a name with quotes' info "$tmp/quote.onnx"
prints 'info: a line break in a name is no line break' '^input +a"\\.+\?  float32'
t 0 'dot' dot $digits/digits.onnx
prints 'dot' '^digraph'
cp "$tmp/out" "$tmp/plain.dot"
t 0 'dot -o' dot $digits/digits.onnx -o "$tmp/written.dot"
if cmp -s "$tmp/plain.dot" "$tmp/written.dot" && [ ! -s "$tmp/out" ]; then pass; else fail 'dot -o: another text, or text on standard output'; fi
t 0 'dot -o -' dot $digits/digits.onnx -o -
if cmp -s "$tmp/plain.dot" "$tmp/out"; then pass; else fail 'dot -o -: another text'; fi
refused 1 'dot -o: no folder' 'cannot write .*/no/x.dot: No such file or directory$' dot $digits/digits.onnx -o "$tmp/no/x.dot"
refused 1 'dot -o: onto the model' 'cannot write .*it is read by this command' dot "$tmp/steps.onnx" -o "$tmp/steps.onnx"
npu0='--device fake:name=npu0,not=MAX_POOL_FUSION --device auto:npu0'
t 0 'dot --device' dot $digits/digits.onnx $npu0
prints 'dot --device: a part has a box' '^  subgraph cluster_part3 [{]$'
prints 'dot --device: which says whose it is' 'label="part 3, npu0_nnrt_v1_0"'
py 'dot --device: nodes of a part are in its box' 're.search(r"cluster_part3 [{]\n.*\n((?:  n\d+;\n)+)  [}]", open(F + "out").read()).group(1) == "  n6;\n  n7;\n  n8;\n  n9;\n"'
py 'dot --device: a colour a device' 'len(set(re.findall("fillcolor=\"(0[.][0-9]{3} [^\"]*)\"", open(F + "out").read()))) == 2'
py 'dot --device: all nodes have one' 'len(re.findall("n[0-9]+ .shape=box style=\"rounded,filled\" fillcolor=", open(F + "out").read())) == 10'
t 0 'dot --device, small parts' dot $digits/digits.onnx $npu0 --smallest 2
prints 'dot --device, small parts' '^  subgraph cluster_part0 [{]$'
refused 1 'dot --strict alone' 'no device is registered and available' dot $digits/digits.onnx --strict
refused 1 'dot --strict' "strict: no device takes node 1 'pool1'" dot $digits/digits.onnx $npu0 --strict
t 0 'dot' dot $digits/digits.onnx
py 'dot: braces match, an operator is named' 'open(F + "out").read().count("{") == open(F + "out").read().count("}") > 0 and "MAX_POOL_FUSION" in open(F + "out").read()'

# ---- run: digits ----

for n in 0 1 2 3 4 5 6 7 8 9; do
    t 0 "digit $n" run $digits/digits.onnx --input $digits/digit_$n.png --top 1
    prints "digit $n" "^  $n  (1|0\.[0-9]+)\$"
done
t 0 'digit, JSON, NAME=' run $digits/digits.onnx --json --device reference --threads 2 --input image=$digits/digit_7.png
py 'digit as JSON' 'len(d["outputs"][0]["top"]) == 5 and d["outputs"][0]["top"][0]["index"] == [0, 7] and d["outputs"][0]["top"][0]["value"] > 0.7 and d["threads"] == 1 and d["run_ms"] > 0'
says 'threads that nothing uses' 'note: --threads 2: the devices use 1'
t 0 'options may stand first' run --top=2 --input=$digits/digit_3.png -- $digits/digits.onnx
prints 'options may stand first' '^  3  '
py 'top 2 prints 2 values' 'len(open(F + "out").read().splitlines()) == 3'

# ---- run: tensor files ----

for type in bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64; do
    for file in c_$type.npy f_$type.npy b_$type.npy v2_$type.npy v3_$type.npy p_$type.pb; do
        rm -rf "$tmp/o"
        t 0 "run $file" run "$tmp/turn_$type.onnx" --input "$tmp/$file" --output-dir "$tmp/o"
        py "run $file" "same(load('o/y.npy'), load('c_$type.npy').transpose(2, 0, 1).copy())"
        silent "run $file"
    done
done
t 0 'output files' run "$tmp/turn_float32.onnx" --input "$tmp/c_float32.npy" --output-dir "$tmp/o" --json
py 'output files in JSON' 'd["outputs"] == [{"name": "y", "type": "float32", "shape": [4, 2, 3], "file": F + "o/y.npy"}]'
py 'output files are aligned as numpy does' "open(F + 'o/y.npy', 'rb').read()[:128].rstrip().endswith(b', }') and os.path.getsize(F + 'o/y.npy') == 128 + 96"
t 0 'header in another order' run "$tmp/two.onnx" --input a="$tmp/spaced.npy" --input b="$tmp/b.npy" --output-dir "$tmp/two"
py 'two outputs whose names collide' "same(load('two/sum_out.npy'), load('a.npy') + load('b.npy')) and same(load('two/sum_out_2.npy'), load('a.npy') - load('b.npy'))"
t 0 'names of files' run "$tmp/names.onnx" --input random --output-dir "$tmp/names/"
py 'names of files' "sorted(os.listdir(F + 'names')) == sorted(['A.npy', 'a_2.npy', '_b.npy', 'c d.npy', 'A_2_2.npy', 'e' * 200 + '.npy', 'e' * 200 + '_2.npy'])"
t 0 'largest of a matrix' run "$tmp/two.onnx" --input b="$tmp/b.npy" --input a="$tmp/a.npy" --top 1
prints 'largest of a matrix' '^  \[1,1\]  44$'
t 0 'float64 for float32' run "$tmp/two.onnx" --input a="$tmp/d.npy" --input b="$tmp/b.npy" --output-dir "$tmp/two"
says 'float64 for float32' "note: .*d.npy holds float64, converted to the float32 of input 'a'"
py 'float64 beyond float32' "np.isinf(load('two/sum_out.npy')[1, 1]) and load('two/sum_out.npy')[0, 0] == 11"
t 0 'int32 for int64' run "$tmp/gather.onnx" --input "$tmp/i32.npy" --output-dir "$tmp/gather"
says 'int32 for int64' 'note: .*int32, converted to the int64'
py 'int32 for int64' "load('gather/y.npy').tolist() == [30, 10]"
refused 1 'the run fails' 'run failed: ' run "$tmp/gather.onnx" --input "$tmp/i64.npy"
t 0 'NaN and infinity' run "$tmp/sqrt.onnx" --input "$tmp/four.npy" --json
py 'NaN and infinity are null, NaN last' '[x["value"] for x in d["outputs"][0]["top"]] == [None, 3, 2, None] and [x["index"] for x in d["outputs"][0]["top"]] == [[2], [3], [0], [1]]'
t 0 'NaN and infinity' run "$tmp/sqrt.onnx" --input "$tmp/four.npy"
prints 'infinity is printed' '^  2  inf$'
t 0 'an open extent from a file' run "$tmp/open.onnx" --input "$tmp/rows.npy" --output-dir "$tmp/open"
py 'an open extent from a file' "same(load('open/y.npy'), load('rows.npy').T.copy())"
for rows in rows one; do
    t 0 "run --max: $rows" run "$tmp/open.onnx" --max 8,3 --input "$tmp/$rows.npy" --output-dir "$tmp/open"
    silent "run --max: $rows"
    py "run --max: $rows" "same(load('open/y.npy'), load('$rows.npy').T.copy())"
done
prints 'run --max tells the extents of the run' '^y  float32\[3,1\]'
t 0 'run --max and --shape' run "$tmp/open.onnx" --max 8,3 --shape 2,3 --input random
prints 'run --max and --shape' '^y  float32\[3,2\]$'
t 0 'run --max alone' run "$tmp/open.onnx" --max 8,3 --input random
prints 'run --max alone' '^y  float32\[3,8\]$'
silent 'run --max alone'
refused 1 'a file beyond --max' "rows.npy is float32\[5,3\], which exceeds --max for input 'x', float32\[4,3\]" run "$tmp/open.onnx" --max 4,3 --input "$tmp/rows.npy"
t 0 'a parameter told in the run' run "$tmp/shape.onnx" --max x=6,3 --input x="$tmp/rows.npy" --input shape="$tmp/shape.npy" --output-dir "$tmp/shape_max"
silent 'a parameter told in the run'
py 'a parameter told in the run' "same(load('shape_max/y.npy'), load('rows.npy').reshape(3, 5))"
t 0 'a result with --max' run "$tmp/filled.onnx" --max y=4,6 --input "$tmp/shape.npy"
prints 'a result with --max' '^y  float32\[3,5\]$'
refused 1 'a result beyond --max' 'run failed: .*above its upper bound of float32\[2,6\]' run "$tmp/filled.onnx" --max y=2,6 --input "$tmp/shape.npy"
t 0 '64-bit integers are printed exactly' run "$tmp/turn_int64.onnx" --input "$tmp/big.npy" --top 1 --json
py '64-bit integers are printed exactly' 'd["outputs"][0]["top"][0]["value"] == 1 << 40'
t 0 'a parameter as input' run "$tmp/shape.onnx" --input x="$tmp/rows.npy" --input shape="$tmp/shape.npy" --output-dir "$tmp/shape"
silent 'a parameter as input'
prints 'a parameter as input' '^y  float32\[3,5\]'
py 'a parameter as input' "same(load('shape/y.npy'), load('rows.npy').reshape(3, 5))"
refused 1 'a parameter that does not fit' "the run failed: node 0 .* input 'x' float32\[1,3\] has 3 elements, which do not fill" run "$tmp/shape.onnx" --input random --shape x=1,3
t 0 'extents that a run tells' info "$tmp/shape.onnx" --shape x=5,3
prints 'extents that a run tells' '^output +y  float32\[15,15\]  at most$'
t 0 'extents that a run tells, JSON' info "$tmp/shape.onnx" --shape x=5,3 --json
py 'extents that a run tells, JSON' 'd["outputs"][0]["open"] is True and d["outputs"][0]["shape"] == [15, 15]'
t 0 'a parameter that bounds' run "$tmp/fill.onnx" --input shape="$tmp/shape.npy" --input random --output-dir "$tmp/fill"
says 'a parameter that bounds' "note: the value of input 'shape' is a constant of the model now"
py 'a parameter that bounds' "same(load('fill/y.npy'), np.zeros((3, 5), 'float32'))"
refused 1 'a parameter that is not known' "cannot prepare .*fill.onnx: .*nothing bounds output 0 'y'" run "$tmp/fill.onnx" --input random
t 0 'no shape in the file' run "$tmp/rank.onnx" --input "$tmp/rows.npy" --output-dir "$tmp/rank"
py 'no shape in the file' "same(load('rank/y.npy'), -load('rows.npy'))"
t 0 'no shape in the file, --shape' info "$tmp/rank.onnx" --shape 2,3
prints 'no shape in the file, --shape' '^input +x  float32\[\*\]$'
refused 1 'no shape at all' "input 'x' has no shape in the file" bench "$tmp/rank.onnx"
refused 1 'strings' "input 'x' is not a tensor of a supported element type" run "$tmp/string.onnx" --input random
refused 2 'an input without value' "no value for input 'a', 'b'" run "$tmp/two.onnx"
refused 2 'one input without value' "no value for input 'b'" run "$tmp/two.onnx" --input a="$tmp/a.npy"
refused 2 'an input twice' "input 'a' already has .*a.npy" run "$tmp/two.onnx" --input a="$tmp/a.npy" --input a="$tmp/b.npy"
refused 2 'no such input' "^nnrt: --input bb=[^ ]*: the model has no input 'bb'; its inputs are 'b', 'a'$" run "$tmp/two.onnx" --input bb="$tmp/a.npy"
refused 2 'no such input of one' "^nnrt: --input foo=[^ ]*digit_7.png: the model has no input 'foo'; its input is 'image'$" run $digits/digits.onnx --input foo=$digits/digit_7.png
refused 2 'no such input, random' "the model has no input 'foo'; its input is 'image'$" run $digits/digits.onnx --input foo=random
cp $digits/digit_7.png "$tmp/eq=7.png"
t 0 'a file with = in its name' run $digits/digits.onnx --input "$tmp/eq=7.png" --top 1
refused 1 'no such file' 'cannot open .*none.npy: No such file' run "$tmp/sqrt.onnx" --input "$tmp/none.npy"
refused 1 'a folder' 'cannot read .*: Is a directory' run "$tmp/sqrt.onnx" --input "$tmp/good"
refused 1 'wrong rank' "flat.npy is float32\[6\], input 'x' takes float32\[\?,3\]" run "$tmp/open.onnx" --input "$tmp/flat.npy"
refused 1 'wrong extent' "rows.npy is float32\[5,3\], input 'a' takes float32\[2,2\]" run "$tmp/two.onnx" --input a="$tmp/rows.npy" --input b=random
refused 1 'wrong type' "holds float32, input 'x' takes int32" run "$tmp/turn_int32.onnx" --input "$tmp/c_float32.npy"
refused 1 'bool is no number' "holds bool, input 'x' takes uint8" run "$tmp/turn_uint8.onnx" --input "$tmp/c_bool.npy"
refused 1 'integers that do not fit' 'a value outside the range of int32' run "$tmp/turn_int32.onnx" --input "$tmp/big.npy"
refused 1 'text' 'its element type is not one of' run "$tmp/sqrt.onnx" --input "$tmp/text.npy"
refused 1 'nine axes' 'more than 8 axes' run "$tmp/sqrt.onnx" --input "$tmp/deep.npy"
for file in cut long; do refused 1 "$file" 'do not match its shape and type' run "$tmp/two.onnx" --input a="$tmp/$file.npy" --input b=random; done
refused 1 'header cut' 'ends inside the header' run "$tmp/two.onnx" --input a="$tmp/head.npy" --input b=random
refused 1 'header damaged' 'its header has a key' run "$tmp/two.onnx" --input a="$tmp/junk.npy" --input b=random
refused 1 'junk.pb' 'cannot use .*junk.pb: ' run "$tmp/sqrt.onnx" --input "$tmp/junk.pb"
refused 1 'junk.txt' 'expected a .npy, .png, .jpg, .wav or .pb file' run "$tmp/sqrt.onnx" --input "$tmp/junk.txt"
refused 1 'output folder is a file' 'it is not a folder' run "$tmp/two.onnx" --input random --output-dir "$tmp/a.npy"
refused 1 'output folder cannot be' 'cannot create the folder' run "$tmp/two.onnx" --input random --output-dir "$tmp/none/o"

# ---- run: the result of every node ----

t 0 'convert for --dump' convert examples/digits/digits.onnx "$tmp/plain.nnrt" --no-optimize
t 0 'run --dump' run "$tmp/plain.nnrt" --input examples/digits/digit_7.png --dump "$tmp/dump" --output-dir "$tmp/dump_out"
says 'run --dump: how many' '^nnrt: note: 17 results are in '
py 'run --dump: a file for each node, and a table' 'sorted(os.listdir(F + "dump")) == sorted(["index.tsv"] + ["%04d_%s.npy" % (i, n) for i, n in enumerate("conv1 bn1 relu1 pool1 conv2 bn2 relu2 pool2 conv3 bn3 relu3 pool3 flatten fc1 relu4 fc2 probabilities".split())])'
py 'run --dump: the table' 'open(F + "dump/index.tsv").read().splitlines()[4].split("\t") == ["0003_pool1.npy", "3", "pool1", "MAX_POOL_FUSION", "pool1", "float32[1,12,14,14]"]'
py 'run --dump: a ReLU' 'np.array_equal(np.load(F + "dump/0002_relu1.npy"), np.maximum(np.load(F + "dump/0001_bn1.npy"), 0)) and np.load(F + "dump/0001_bn1.npy").min() < 0'
py 'run --dump: a pool' 'np.array_equal(np.load(F + "dump/0003_pool1.npy"), np.load(F + "dump/0002_relu1.npy").reshape(1, 12, 14, 2, 14, 2).max((3, 5)))'
py 'run --dump: a softmax' '(lambda x, y: np.allclose(y, np.exp(x - x.max()) / np.exp(x - x.max()).sum(), 1e-5, 1e-7))(np.load(F + "dump/0015_fc2.npy"), np.load(F + "dump/0016_probabilities.npy"))'
if cmp -s "$tmp/dump/0016_probabilities.npy" "$tmp/dump_out/probabilities.npy"; then pass; else fail 'run --dump: the output is the output'; fi
t 0 'run --dump on two devices' run "$tmp/plain.nnrt" --input examples/digits/digit_7.png --device fake:name=npu0,ops=CONV2D_FUSION+SOFTMAX --device auto:npu0 --dump "$tmp/dump_auto"
if diff -r "$tmp/dump" "$tmp/dump_auto" >/dev/null; then pass; else fail 'run --dump: a split model has the bits of the reference device'; fi
refused 1 'run --dump: the folder is a file' 'it is not a folder' run "$tmp/plain.nnrt" --input random --dump "$tmp/a.npy"
refused 1 'run --dump: no such folder' 'cannot create the folder' run "$tmp/plain.nnrt" --input random --dump "$tmp/none/o"

# ---- run: random ----

t 0 'random' run "$tmp/turn_float32.onnx" --input random --output-dir "$tmp/r"
py 'random float32, seed 0' "same(load('r/y.npy'), np.array([(z >> 40) / 2**23 - 1 for z in splitmix(0, 24)], 'float32').reshape(2, 3, 4).transpose(2, 0, 1).copy())"
t 0 'random:7' run "$tmp/turn_float16.onnx" --input x=random:7 --output-dir "$tmp/r"
py 'random float16, seed 7' "same(load('r/y.npy'), np.array([(z >> 53) / 1024 - 1 for z in splitmix(7, 24)], 'float16').reshape(2, 3, 4).transpose(2, 0, 1).copy())"
t 0 'random int32' run "$tmp/turn_int32.onnx" --input random --output-dir "$tmp/r"
py 'random int32' "same(load('r/y.npy'), np.array([z >> 61 for z in splitmix(0, 24)], 'int32').reshape(2, 3, 4).transpose(2, 0, 1).copy())"
t 0 'random bool' run "$tmp/turn_bool.onnx" --input random --output-dir "$tmp/r"
py 'random bool' "same(load('r/y.npy'), np.array([z >> 63 for z in splitmix(0, 24)], 'bool').reshape(2, 3, 4).transpose(2, 0, 1).copy())"
t 0 'random for the rest' run "$tmp/two.onnx" --input a="$tmp/a.npy" --input random:3 --output-dir "$tmp/r"
py 'random for the rest, second input' "same(load('r/sum_out.npy'), load('a.npy') + np.array([(z >> 40) / 2**23 - 1 for z in splitmix(3 + (1 << 32), 4)], 'float32').reshape(2, 2))"
t 0 'random with open extents' run "$tmp/open.onnx" --input random
says 'random with open extents' 'dynamic dimensions taken as 1'
t 0 'random with --shape' run "$tmp/open.onnx" --input random --shape 6,3
prints 'random with --shape' '^y  float32\[3,6\]$'
silent 'random with --shape'
refused 2 'random twice' 'the remaining inputs already have random' run "$tmp/two.onnx" --input random --input random:2
refused 1 'random with words' 'cannot open random:x' run "$tmp/sqrt.onnx" --input random:x

# ---- run: images ----

# image NAME CODE ARGUMENTS...: the model's output equals numpy's, within the error of float32 sums of at most 100 terms.
image() {
    label=$1
    code=$2
    shift 2
    t 0 "$label" run "$@" --output-dir "$tmp/i"
    py "$label" "np.allclose(load('i/y.npy').astype('float64'), $code, rtol=1e-5, atol=2e-5) and load('i/y.npy').shape == ($code).shape"
    silent "$label"
}
rgb="load('rgb_pixels.npy')[None].astype('float64')"
image 'NCHW from the shape' "$rgb / 255" "$tmp/nchw.onnx" --input "$tmp/rgb.png"
image 'NHWC from the shape' "($rgb / 255).transpose(0, 3, 1, 2)" "$tmp/last.onnx" --input "$tmp/rgb.png"
image '--layout nhwc' "($rgb / 255).transpose(0, 3, 1, 2)" "$tmp/nhwc.onnx" --input "$tmp/rgb.png" --layout nhwc
image '--bgr' "$rgb[..., ::-1] / 255" "$tmp/nchw.onnx" --input "$tmp/rgb.png" --bgr
image '--mean and --scale' "($rgb - [1, 20, 128.5]) * [0.5, 1 / 58.395, 2]" "$tmp/nchw.onnx" --input "$tmp/rgb.png" --mean 1,20,128.5 --scale 0.5,1/58.395,2
image 'one mean, one scale' "($rgb - 127.5) / 127.5" "$tmp/nchw.onnx" --input "$tmp/rgb.png" --mean 127.5 --scale 1/127.5
image '--gray on three channels' "np.repeat(($rgb @ [77, 150, 29]) // 256, 3).reshape(1, 4, 6, 3) / 255" "$tmp/nchw.onnx" --input "$tmp/rgb.png" --gray
image 'shrinking' "resize(load('large_pixels.npy'), 4, 6)[None] / 255" "$tmp/nchw.onnx" --input "$tmp/large.png"
image 'growing' "resize(load('grey_pixels.npy')[..., None], 11, 20)[None, ..., 0].transpose(0, 2, 1) / 255" "$tmp/gray.onnx" --input "$tmp/grey.png" --layout nchw --shape 1,11,20
image 'extents from the image' "load('grey_pixels.npy').T[None] / 255" "$tmp/gray.onnx" --input "$tmp/grey.png"
image 'an open number of channels' "$rgb / 255" "$tmp/channels.onnx" --input "$tmp/rgb.png"
image 'an open number of channels, --gray' "($rgb @ [77, 150, 29])[..., None] // 256 / 255" "$tmp/channels.onnx" --input "$tmp/rgb.png" --gray
image 'four channels, uint8' "load('rgba_pixels.npy')" "$tmp/rgba.onnx" --input "$tmp/rgba.png"
image 'int8' "$rgb - 128" "$tmp/int8.onnx" --input "$tmp/rgb.png"
image 'int8 is held inside its range' "np.clip($rgb, 0, 127)" "$tmp/int8.onnx" --input "$tmp/rgb.png" --mean 0
image '--std' "($rgb - [1, 20, 128.5]) / [2, 58.395, 0.5]" "$tmp/nchw.onnx" --input "$tmp/rgb.png" --mean 1,20,128.5 --std 2,58.395,0.5
image '--invert' "(255 - $rgb) / 255" "$tmp/nchw.onnx" --input "$tmp/rgb.png" --invert
image '--invert with --mean' "(255 - $rgb - 7) / 255" "$tmp/nchw.onnx" --input "$tmp/rgb.png" --invert --mean 7
image '--invert keeps alpha' "np.concatenate((255 - load('rgba_pixels.npy')[..., :3], load('rgba_pixels.npy')[..., 3:]), -1)" "$tmp/rgba.onnx" --input "$tmp/rgba.png" --invert
refused 2 '--std of 0' '--std does not take' run "$tmp/nchw.onnx" --input "$tmp/rgb.png" --std 1,0,1
refused 1 'a broken image' 'cannot use .*broken.png' run "$tmp/nchw.onnx" --input "$tmp/broken.png"
refused 1 'an image for no image' 'input .x. has 2 axes' run "$tmp/open.onnx" --input "$tmp/rgb.png"
refused 1 'wrong layout' 'is --layout right' run "$tmp/nchw.onnx" --input "$tmp/rgb.png" --layout nhwc
refused 1 'two means' 'one number or one per channel' run "$tmp/nchw.onnx" --input "$tmp/rgb.png" --mean 1,2
refused 1 '--rgb for one channel' 'require 3 or 4 channels' run "$tmp/gray.onnx" --input "$tmp/rgb.png" --rgb

# JPEG: the pixels of djpeg, in all positions in which a camera can be held (Exif).
for form in -progressive -optimize; do
    cjpeg -quality 95 $form "$tmp/photo.ppm" >"$tmp/photo.jpg" && djpeg "$tmp/photo.jpg" >"$tmp/photo.pnm" &&
        cjpeg -grayscale "$tmp/photo.ppm" >"$tmp/gray.jpg"
    photo="np.frombuffer(open(F + 'photo.pnm', 'rb').read()[-72:], np.uint8).reshape(1, 4, 6, 3)"
    image "JPEG $form" "$photo / 255" "$tmp/nchw.onnx" --input "$tmp/photo.jpg"
    image "JPEG $form --bgr" "$photo[..., ::-1] / 255" "$tmp/nchw.onnx" --input "$tmp/photo.jpg" --bgr
    image "JPEG $form, alpha" "np.concatenate(($photo[0], np.full((4, 6, 1), 255)), -1)" "$tmp/rgba.onnx" --input "$tmp/photo.jpg"
done
at=0
for upright in '' '[:, :, ::-1]' '[:, ::-1, ::-1]' '[:, ::-1]' '.transpose(0, 2, 1, 3)' '.transpose(0, 2, 1, 3)[:, :, ::-1]' '.transpose(0, 2, 1, 3)[:, ::-1, ::-1]' '.transpose(0, 2, 1, 3)[:, ::-1]'; do
    at=$((at + 1))
    py "orientation $at" "open(F + 'exif.jpg', 'wb').write(exif($at, '<>'[$at % 2])) > 0"
    image "JPEG, orientation $at" "$photo$upright / 255" "$tmp/anysize.onnx" --input "$tmp/exif.jpg"
done
head -c 300 "$tmp/photo.jpg" >"$tmp/cut.jpg"
refused 1 'half a JPEG image' 'cannot use .*cut.jpg: ' run "$tmp/nchw.onnx" --input "$tmp/cut.jpg"
printf '\377\330\377\340' >"$tmp/cut.jpg"
refused 1 'the first bytes of a JPEG image' 'cannot use .*cut.jpg: ' run "$tmp/nchw.onnx" --input "$tmp/cut.jpg"
refused 1 'more pixels than the file justifies' 'vast.png: 20000 x 20000 pixels take more than 1[0-9]{6} bytes, the budget for [0-9]+ bytes of file; --budget [0-9]+ allows them' run "$tmp/gray.onnx" --input "$tmp/vast.png" --shape 1,8,8
# The reported budget suffices, one byte less does not; unconverted pixels count as a tensor, too.
for image in wide tall colour deeper palette woven; do
    for shape in '--shape 1,8,8' ''; do
        # shellcheck disable=SC2086  # several words, or none
        set -- run "$tmp/gray.onnx" --input "$tmp/$image.png" --layout nchw $shape
        refused 1 "$image.png $shape" "$image.png: [0-9]+ x [0-9]+ pixels .*--budget [0-9]+ allows them" "$@"
        budget=$(sed -n 's/.*--budget \([0-9]*\) allows them$/\1/p' "$tmp/err")
        t 0 "$image.png $shape --budget $budget" "$@" --budget "$budget"
        [ "$budget" -le 2 ] || refused 1 "$image.png $shape, a budget of one less" 'allows them' "$@" --budget $((budget - 1))
    done
done
refused 1 'more data than the pixels' 'cannot use .*deep.png' run "$tmp/gray.onnx" --input "$tmp/deep.png" --shape 1,8,8

# ---- cost of loading a file ----

refused 1 'a small file that asks for much' 'bomb.onnx: the import takes more than [0-9]+ bytes, the budget for [0-9]+ bytes of file \(nnrt_onnx_desc.budget 2 raises it\); here --budget N does' info "$tmp/bomb.onnx"
t 0 'a small file that may have it' dot "$tmp/bomb.onnx" --budget 200
t 0 'many inputs' info "$tmp/names4000.onnx" --json
py 'many inputs' 'len(d["inputs"]) == 4000'
py 'four times the inputs, about four times the time' "(lambda t: t(4000) < 9 * t(1000))(lambda n: min(__import__('timeit').repeat(lambda: __import__('subprocess').run([r'$nnrt', 'info', F + 'names%d.onnx' % n, '--json'], capture_output=True, check=True), number=1, repeat=3)))"
refused 1 'a fault in the order of axes that the file has' "ONNX node 0 '' \(Conv\): W 'w' is float32\[4,2,3,3\], which requires 2 channels .*X 'x' is float32\[1,3,8,8\] with 3 channels" info "$tmp/channels2.onnx"

refused 1 'a newer operator set, told once' 'newer.onnx: the file has operator set 29, the newest supported one is 28$' info "$tmp/newer.onnx"
refused 1 'an operator that is read in older sets' 'Upsample x1 \(supported in sets 1 to 9\)$' info "$tmp/upsample.onnx"
refused 1 'an attribute that is not read' "\(Relu\): attribute 'antialias' is not supported$" info "$tmp/antialias.onnx"

# ---- a model that ends before the file does ----

refused 1 'what stands before missing operators' "Fly x1; nnrt_onnx_desc.outputs 'n' leaves them out; here --outputs NAME,... does\$" info "$tmp/cut.onnx"
for c in info bench dot; do t 0 "$c --outputs" $c "$tmp/cut.onnx" --outputs n; done
t 0 'run --outputs' run "$tmp/cut.onnx" --outputs n,a/b --input "$tmp/four.npy" --output-dir "$tmp/cut"
py 'run --outputs' "same(load('cut/n.npy'), -load('cut/a_b.npy')) and same(load('cut/a_b.npy'), np.maximum(load('four.npy'), 0) + np.arange(1, 5, dtype='float32'))"
t 0 '--outputs twice' info "$tmp/cut.onnx" --outputs n --outputs=r,a/b --json
py '--outputs twice' "[o['name'] for o in d['outputs']] == ['n', 'r', 'a/b'] and [i['name'] for i in d['inputs']] == ['x'] and d['nodes'] == 3"
t 0 'convert --outputs' convert "$tmp/cut.onnx" "$tmp/cut.nnrt" --outputs n
t 0 'what convert --outputs wrote' info "$tmp/cut.nnrt" --json
py 'what convert --outputs wrote' "[o['name'] for o in d['outputs']] == ['n'] and [i['name'] for i in d['inputs']] == ['x']"
t 0 'emit-c --outputs' emit-c "$tmp/cut.onnx" --outputs n -o - --name cut
prints 'emit-c --outputs' 'cut_run'
mkdir "$tmp/cutset"
"$python" -c "
import sys
sys.path.insert(0, r'$tmp')
from mk import *
open(F + 'cutset/input_0.pb', 'wb').write(tensor(load('four.npy'), 'x'))
open(F + 'cutset/output_0.pb', 'wb').write(tensor(np.maximum(load('four.npy'), 0), 'r'))"
t 0 'check --outputs' check "$tmp/cut.onnx" --outputs r --data "$tmp/cutset"
"$nnrt" info - --outputs n <"$tmp/cut.onnx" >"$tmp/out" 2>"$tmp/err" || fail '--outputs of standard input'
prints '--outputs of standard input' '^output +n '
refused 1 '--outputs that are not there' "cut.onnx: the graph has no value 'a'; the nearest names are '.', '.', '.'\$" info "$tmp/cut.onnx" --outputs a
refused 1 '--outputs by the name of a node' "the graph has no value 'first'; the node of this name has the outputs 'r'\$" run "$tmp/cut.onnx" --outputs first --input random
refused 1 '--outputs with a comma too many' "the graph has no value ''" info "$tmp/cut.onnx" --outputs n,
refused 1 '--outputs with a name twice' "output 'n' is listed twice\$" info "$tmp/cut.onnx" --outputs n,r,n
refused 2 '--outputs of nothing' '--outputs does not take' info "$tmp/cut.onnx" --outputs ''
refused 2 '--outputs of a .nnrt file' '--outputs is for ONNX and .tflite files, .*cut.nnrt is a .nnrt file' info "$tmp/cut.nnrt" --outputs n
refused 2 'an input that is cut away' "the model has no input 'i'; its input is 'x'" info "$tmp/cut.onnx" --outputs n --shape i=4

# ---- quantized arithmetic ----

cat >>"$tmp/mk.py" <<'EOF'


def casts(d, quantize, dequantize):
    count = d['operators'].get
    return count('MUL_FUSION') == 1 and count('QUANTIZE_LINEAR') == quantize and count('QUANT_DTYPE_CAST') == dequantize


def between(x):
    """Q, DQ, x * x, Q, DQ with scale 0.5 and zero point 3."""
    turn = lambda v: (np.clip(np.rint(v / 0.5) + 3, 0, 255) - 3) * 0.5
    return turn(np.square(turn(x.astype('float64')))).astype('float32')
EOF
t 0 'between casts' info "$tmp/qdq.onnx" --json
py 'between casts' 'casts(d, 1, 1)'
for c in run bench check dot convert emit-c; do
    t 0 "$c --help" $c --help
    prints "$c --help has --no-quantize" '^  --no-quantize '
done
t 0 'info --no-quantize' info "$tmp/qdq.onnx" --no-quantize --json
py 'info --no-quantize' 'casts(d, 2, 2)'
for o in '' --no-quantize; do
    t 0 "run $o" run "$tmp/qdq.onnx" $o --input "$tmp/four.npy" --output-dir "$tmp/qdq"
    py "run $o" "same(load('qdq/y.npy'), between(load('four.npy')))"
done
t 0 'convert --no-quantize' convert "$tmp/qdq.onnx" "$tmp/qdq.nnrt" --no-quantize
t 0 'what convert --no-quantize wrote' info "$tmp/qdq.nnrt" --json
py 'what convert --no-quantize wrote' 'casts(d, 2, 2)'
t 0 'convert of that with --no-quantize' convert "$tmp/qdq.nnrt" "$tmp/qdq2.nnrt" --no-quantize
t 0 'what that wrote' info "$tmp/qdq2.nnrt" --json
py 'what that wrote' 'casts(d, 2, 2)'
refused 2 '--int8-io for run' 'unknown option --int8-io' run "$tmp/qdq.onnx" --int8-io
t 0 'convert of that' convert "$tmp/qdq.nnrt" "$tmp/qdq2.nnrt"
t 0 'what convert of that wrote' info "$tmp/qdq2.nnrt" --json
py 'what convert of that wrote' 'casts(d, 1, 1)'
refused 2 'ops --no-quantize' 'unknown option --no-quantize' ops --no-quantize

# ---- constants in other files: with this build, with the one that users have, and with README's compile line ----

"${CC:-cc}" -std=c99 -I. examples/hello.c -o "$tmp/hello" -lm 2>"$tmp/err" || fail 'hello.c, compiled as README says'
# external STATUS NAME PATTERN: all three builds end with that status within ten seconds, a failure with that message
external() {
    for build in "$nnrt run" "$shipped run" "$tmp/hello"; do
        case $build in *run) rest='--input random' ;; *) rest='' ;; esac
        # shellcheck disable=SC2086  # several words, or none
        timeout 10 $build "$tmp/x/d/$2.onnx" $rest >"$tmp/out" 2>"$tmp/err"
        got=$?
        if [ "$got" -eq "$1" ]; then pass; else fail "external data: $2: $build: status $got, expected $1"; fi
        [ "$1" -eq 0 ] || says "external data: $2: $build" "$3"
    done
}
for c in ok dot sub selflink; do external 0 $c; done
for c in link abslink dirlink loop dangling; do external 1 $c "its external file '[^']+' does not exist or is outside the model.s folder"; done
for c in fifo dir; do external 1 $c 'cannot be opened, or is not a regular file'; done
external 1 dotdot 'leaves the model.s folder'
external 1 absolute 'is an absolute path'

# ---- models from pipes ----

cat $digits/digits.onnx | "$nnrt" run - --input $digits/digit_7.png --top 1 >"$tmp/out" 2>"$tmp/err"
prints 'a model from standard input' '^  7  '
mkfifo "$tmp/pipe"
into_pipe() { timeout 20 sh -c 'cat "$1" >"$2"' sh "$1" "$tmp/pipe"; } # waits for a reader, but not for ever
into_pipe $digits/digits.onnx &
t 0 'a model from a pipe' run "$tmp/pipe" --input $digits/digit_3.png --top 1
prints 'a model from a pipe' '^  3  '
wait $!
"$nnrt" convert $digits/digits.onnx "$tmp/piped.nnrt" >/dev/null
"$nnrt" info - --json <"$tmp/piped.nnrt" >"$tmp/out" 2>"$tmp/err"
py 'a .nnrt file from standard input' 'd["inputs"][0]["name"] == "image"'
into_pipe "$tmp/open.onnx" &
t 0 'sets of data with a model from a pipe' check "$tmp/pipe" --data "$tmp/good"
prints 'sets of data with a model from a pipe' '^3 passed, 0 failed$'
wait $!
cat "$tmp/x/d/ok.onnx" | "$nnrt" run - --input random >"$tmp/out" 2>"$tmp/err"
says 'other files of a model from standard input' 'its data are in another file: set nnrt_onnx_desc.path'

# ---- files that are written ----

# kept NAME FILE COMMAND...: refused, and FILE has the bytes it had
kept() {
    label=$1
    kept=$2
    shift 2
    cp "$kept" "$tmp/before"
    refused 1 "$label" 'cannot write .*it is read by this command' "$@"
    if cmp -s "$kept" "$tmp/before"; then pass; else fail "$label: the file is another one"; fi
}
cp $digits/digits.onnx "$tmp/m.onnx"
ln "$tmp/m.onnx" "$tmp/hard.onnx"
ln -s m.onnx "$tmp/soft.onnx"
kept 'convert onto itself' "$tmp/m.onnx" convert "$tmp/m.onnx" "$tmp/m.onnx"
kept 'convert onto itself by a hard link' "$tmp/m.onnx" convert "$tmp/m.onnx" "$tmp/hard.onnx"
kept 'convert onto itself by a link' "$tmp/m.onnx" convert "$tmp/m.onnx" "$tmp/soft.onnx"
kept 'convert onto its labels' "$tmp/three.txt" convert "$tmp/scores.onnx" "$tmp/three.txt" --labels "$tmp/three.txt"
kept 'convert onto its constants' "$tmp/x/d/w.bin" convert "$tmp/x/d/ok.onnx" "$tmp/x/d/w.bin"
kept 'emit-c onto itself' "$tmp/m.onnx" emit-c "$tmp/m.onnx" -o "$tmp/m.onnx" --name m
kept 'emit-c of a .nnrt file onto itself' "$tmp/piped.nnrt" emit-c "$tmp/piped.nnrt" -o "$tmp/piped.nnrt" --name m
mkdir "$tmp/own"
cp "$tmp/four.npy" "$tmp/own/y.npy"
kept 'run onto its input' "$tmp/own/y.npy" run "$tmp/sqrt.onnx" --input "$tmp/own/y.npy" --output-dir "$tmp/own"
ln -s /dev/null "$tmp/null"
# a device of our own, so that a fault does not take away the system's
if mknod "$tmp/device" c 1 3 2>"$tmp/err"; then :; else
    skip 'convert onto a device' 'only root may make one'
    ln -s /dev/null "$tmp/device"
fi
for to in "$tmp/pipe" "$tmp/device" "$tmp/null"; do
    refused 1 "convert onto $to" 'cannot write .*it is no regular file and is not replaced' convert $digits/digits.onnx "$to"
done
if [ -p "$tmp/pipe" ] && [ -c "$tmp/device" ] && [ -L "$tmp/null" ]; then pass; else fail 'a pipe or a device was replaced'; fi
# a link stays a link, and its target is replaced: also if the target is standard output
echo old >"$tmp/named"
ln -s named "$tmp/named.link"
ln -s named.link "$tmp/named.both"
t 0 'convert onto a link to a link' convert "$tmp/m.onnx" "$tmp/named.both"
t 0 'convert onto a link to a link: what it names' info "$tmp/named" --json
t 0 'emit-c onto a link' emit-c "$tmp/m.onnx" -o "$tmp/named.link" --name m
if grep -q m_plan "$tmp/named" && [ -L "$tmp/named.link" ] && [ -L "$tmp/named.both" ]; then pass; else fail 'a link was replaced'; fi
if [ -L /dev/stdout ] && [ ! -w /dev ]; then # else a fault would take away the system's
    t 0 'emit-c onto /dev/stdout, a file' emit-c "$tmp/m.onnx" -o /dev/stdout --name m
    prints 'emit-c onto /dev/stdout, a file' '^NNRT_API const nnrt_plan \*m_plan\(void\);$'
fi
ln -s nothing "$tmp/dangling"
ln -s circle "$tmp/circle"
for link in dangling circle; do
    refused 1 "convert onto a link that is $link" 'cannot write .*: it is a link to a file that does not exist: ' convert "$tmp/m.onnx" "$tmp/$link"
    refused 1 "emit-c onto a link that is $link" 'cannot write .*: it is a link to a file that does not exist: ' emit-c "$tmp/m.onnx" -o "$tmp/$link" --name m
    if [ -L "$tmp/$link" ]; then pass; else fail "a link that is $link was replaced"; fi
done
refused 1 'convert to standard output' 'cannot write -: a .nnrt file cannot be written to standard output' convert "$tmp/m.onnx" -
t 0 'emit-c to standard output' emit-c $digits/digits.onnx -o - --name digits
prints 'emit-c to standard output' '^NNRT_API const nnrt_plan \*digits_plan\(void\);$'
cp "$tmp/out" "$tmp/straight.h"
timeout 20 cat "$tmp/pipe" >"$tmp/through.h" &
t 0 'emit-c to a pipe' emit-c $digits/digits.onnx -o "$tmp/pipe" --name digits
wait $!
if cmp -s "$tmp/straight.h" "$tmp/through.h"; then pass; else fail 'emit-c to a pipe: another text'; fi
# a disk that is full: the old file stays, nothing else does
t 0 'outputs' run "$tmp/table.onnx" --input random --output-dir "$tmp/full"
cp "$tmp/full/y.npy" "$tmp/before"
sh -c "trap '' 25; ulimit -f 4; exec '$nnrt' run '$tmp/table.onnx' --input random:1 --output-dir '$tmp/full'" >"$tmp/out" 2>"$tmp/err"
if [ $? -eq 1 ]; then pass; else fail 'a full disk: not status 1'; fi
says 'a full disk' 'cannot write all of .*y.npy: File too large$'
if cmp -s "$tmp/full/y.npy" "$tmp/before" && [ "$(ls "$tmp/full")" = y.npy ]; then pass; else fail 'a full disk: the old file is gone, or another one is there'; fi
sh -c "trap '' 25; ulimit -f 4; exec '$nnrt' convert '$tmp/table.onnx' '$tmp/full.nnrt'" >"$tmp/out" 2>"$tmp/err"
says 'convert to a full disk' 'cannot write .*full.nnrt: File too large$'
if [ -c /dev/full ]; then
    refused 1 'emit-c to a full disk' 'cannot write all of /dev/full: No space left on device$' emit-c $digits/digits.onnx -o /dev/full --name m
else
    skip 'emit-c to a full disk' 'there is no /dev/full'
fi
cp "$tmp/straight.h" "$tmp/full/m.h"
sh -c "trap '' 25; ulimit -f 4; exec '$nnrt' emit-c $digits/digits.onnx -o '$tmp/full/m.h' --name other" >"$tmp/out" 2>"$tmp/err"
if cmp -s "$tmp/full/m.h" "$tmp/straight.h"; then pass; else fail 'emit-c to a full disk: the old file is gone'; fi
# existing files of others next to it are unchanged, and nothing else remains
echo mine >"$tmp/full/m.h.0.tmp"
echo mine >"$tmp/full/y.npy.0.tmp"
t 0 'emit-c beside a file in its way' emit-c $digits/digits.onnx -o "$tmp/full/m.h" --name other
t 0 'outputs beside a file in their way' run "$tmp/table.onnx" --input random:1 --output-dir "$tmp/full"
if [ "$(cat "$tmp/full"/*.tmp)" = 'mine
mine' ] && [ "$(ls "$tmp/full" | wc -l)" -eq 4 ] && ! cmp -s "$tmp/full/m.h" "$tmp/straight.h"; then pass; else fail 'files in the way: not left alone'; fi
# two at once
for i in 1 2 3 4; do
    "$nnrt" convert "$tmp/table.onnx" "$tmp/both.nnrt" >/dev/null 2>"$tmp/err" &
    "$nnrt" convert $digits/digits.onnx "$tmp/both.nnrt" >/dev/null 2>>"$tmp/err"
    wait $!
done
t 0 'two at once' info "$tmp/both.nnrt" --json
if [ ! -s "$tmp/err" ] && [ "$(echo "$tmp"/both*)" = "$tmp/both.nnrt" ]; then pass; else fail 'two at once: a fault, or a file is left'; fi

# ---- bench and check ----

t 0 'bench with threads that nothing uses' bench $digits/digits.onnx --reps 2 --threads 4
prints 'bench with threads that nothing uses' '^device .*, 1 thread$'
t 0 'bench with threads that nothing uses, JSON' bench $digits/digits.onnx --reps 2 --threads 4 --json
py 'bench with threads that nothing uses, JSON' 'd["threads"] == 1'
t 0 'bench with threads' bench $digits/digits.onnx --reps 20 --device cpu --threads 3
prints 'bench with threads' '^device    cpu_.*, 3 threads$'
silent 'bench with threads'
t 0 'bench with threads, JSON' bench $digits/digits.onnx --reps 2 --device cpu --device auto --threads 3 --json
py 'bench with threads, JSON' 'd["threads"] == 3'
t 0 'run with threads' run $digits/digits.onnx --device cpu --threads 2 --input $digits/digit_7.png --top 1
prints 'run with threads' '^  7  '
silent 'run with threads'
t 0 'bench' bench $digits/digits.onnx --reps 3
prints 'bench' '^run +min [0-9.]+ ms, median [0-9.]+ ms, p95 [0-9.]+ ms over 3 runs$'
silent 'bench'
t 0 'bench --json' bench $digits/digits.onnx --reps 20 --json --device reference
py 'bench --json: keys' 'set(d) == {"model", "device", "threads", "reps", "load_ms", "prepare_ms", "min_ms", "median_ms", "p95_ms", "arena_bytes", "weight_bytes"}'
py 'bench --json: figures' '0 < d["min_ms"] <= d["median_ms"] <= d["p95_ms"] and d["reps"] == 20 and d["load_ms"] > 0 and d["prepare_ms"] > 0 and d["weight_bytes"] >= 19258 * 4'
t 0 'bench with open extents' bench "$tmp/open.onnx" --reps 2 --json
says 'bench with open extents' 'dynamic dimensions taken as 1'
t 0 'bench --max' bench "$tmp/open.onnx" --reps 2 --max 9,3 --shape 4,3
silent 'bench --max'
t 1 'bench of a run that fails' bench "$tmp/gather.onnx" --reps 2 --shape 2
t 0 'check' check "$tmp/open.onnx" --data "$tmp/good"
prints 'check: first set' '^test_data_set_0  y  float32\[3,1\]  max error .* ok$'
prints 'check: total' '^3 passed, 0 failed$'
py 'check: sets in the order of their numbers' '[l.split()[0] for l in open(F + "out").read().splitlines()] == ["test_data_set_0", "test_data_set_2", "test_data_set_10", "3"]'
t 1 'check with a narrow tolerance' check "$tmp/open.onnx" --data "$tmp/good" --rtol 1e-4 --json
py 'check --json' 'd["passed"] == 2 and d["failed"] == 1 and [s["ok"] for s in d["sets"]] == [False, True, True] and 3e-4 < d["sets"][0]["outputs"][0]["max_relative_error"] < 6e-4'
t 0 'check of one folder' check "$tmp/open.onnx" --data "$tmp/good/test_data_set_2/"
prints 'check of one folder' '^1 passed, 0 failed$'
t 0 'check --max' check "$tmp/open.onnx" --data "$tmp/good" --max 9,3
prints 'check --max' '^test_data_set_10  y  float32\[3,7\]  max error 0, relative 0  ok$'
t 1 'check --max, too small' check "$tmp/open.onnx" --data "$tmp/good" --max 4,3
says 'check --max, too small' "is float32\[7,3\], which exceeds --max for input 'x', float32\[4,3\]"
prints 'check --max, too small' '^2 passed, 1 failed$'
t 0 'check by names' check "$tmp/two.onnx" --data "$tmp/swapped" --rtol 0 --atol 0
t 1 'check: wrong' check "$tmp/open.onnx" --data "$tmp/wrong"
prints 'check: wrong value' '^wrong  y .* max error 2, relative 1  WRONG$'
prints 'check: wrong value, where' 'first \[1,1\]: got 0, expected 2$'
prints 'check: wrong, total' '^0 passed, 1 failed$'
for c in 'shape:is float32\[2,3\], but the output is float32\[3,2\]' 'type:is float64\[3,2\], but the output is float32' \
    'nooutput:has no output_0.pb and no output_0.npy' "noinput:no value for input 'x'" 'toomany:the model has 1 input only'; do
    t 1 "check: ${c%%:*}" check "$tmp/open.onnx" --data "$tmp/${c%%:*}"
    says "check: ${c%%:*}" "${c#*:}"
done
t 0 'check of .npy files' check "$tmp/open.onnx" --data "$tmp/numpy"
prints 'check of .npy files' '^numpy  y  float32\[3,5\]  max error 0, relative 0  ok$'
t 0 'check --expected' check "$tmp/two.onnx" --input a="$tmp/a.npy" --input b="$tmp/b.npy" --expected sum:out="$tmp/swapped/output_0.pb" --expected sum/out="$tmp/sum.npy" --rtol 0 --atol 0
prints 'check --expected: a .npy file' '^sum.npy  sum/out  float32\[2,2\]  max error 0, relative 0  ok$'
prints 'check --expected: total' '^1 passed, 0 failed$'
t 1 'check --expected: wrong' check "$tmp/open.onnx" --input "$tmp/rows.npy" --expected "$tmp/four.npy" --json
says 'check --expected: wrong' 'four.npy is float32\[4\], but the output is float32\[3,5\]'
py 'check --expected: wrong' 'd["passed"] == 0 and d["sets"] == [{"name": "", "outputs": [], "ok": False}]'
t 1 'check --expected: a value' check "$tmp/steps.onnx" --input "$tmp/steps.npy" --expected y="$tmp/steps.npy"
prints 'check --expected: a value' '^steps.npy  y  float32\[2,3\]  max error .* WRONG$'
t 1 'check --expected of no output' check "$tmp/steps.onnx" --input "$tmp/steps.npy" --expected z="$tmp/steps.npy"
says 'check --expected of no output' '--expected z=.*: it must start with NAME=, the name of an output'
refused 2 'check --expected and --data' 'no test data' check "$tmp/open.onnx" --data "$tmp/good" --expected y="$tmp/rows.npy"
refused 2 'check --input and --data' 'no test data' check "$tmp/open.onnx" --data "$tmp/good" --input "$tmp/rows.npy"
t 1 'check: JSON of a failure' check "$tmp/open.onnx" --data "$tmp/type" --json
py 'check: JSON of a failure' 'd["failed"] == 1 and d["sets"] == [{"name": "type", "outputs": [], "ok": False}]'
refused 1 'check: nothing there' 'neither input_0.pb nor input_0.npy nor a folder' check "$tmp/open.onnx" --data "$tmp/o"
refused 1 'check: no folder' 'cannot open the folder' check "$tmp/open.onnx" --data "$tmp/none"

# ---- profiles ----

t 0 'run --profile' run $digits/digits.onnx --input random --top 1 --profile
silent 'run --profile'
prints 'run --profile: total' '^profile   [0-9.]+ us in 9 steps, a run of [0-9.]+ us$'
prints 'run --profile: device' '^device    reference_nnrt_v2_0$'
prints 'run --profile: a step' '^ +[0-9]+\.[0-9]  +[0-9]+\.[0-9]%  +3616  +37632  CONV2D_FUSION +conv1$'
prints 'run --profile: an operator' '^ +[0-9]+\.[0-9]  +[0-9]+\.[0-9]%  +3  MAX_POOL_FUSION$'
t 0 'run --profile --json' run $digits/digits.onnx --input random --profile="$tmp/trace.json" --json
py 'profile: steps' '[s["operator"] for s in d["profile"]["steps"]] == ["CONV2D_FUSION", "MAX_POOL_FUSION"] * 3 + ["FULL_CONNECTION"] * 2 + ["SOFTMAX"]'
py 'profile: bytes' '[(s["read"], s["written"]) for s in d["profile"]["steps"]][:2] == [(4 * (28 * 28 + 12 * 9 + 12), 4 * 12 * 28 * 28), (4 * 12 * 28 * 28, 4 * 12 * 14 * 14)]'
py 'profile: times' 'all(s["calls"] == 1 and s["depth"] == 0 and 0 < s["ms"] == s["own_ms"] for s in d["profile"]["steps"]) and sum(s["ms"] for s in d["profile"]["steps"]) < d["profile"]["run_ms"] == d["run_ms"]'
py 'profile: sums' 'abs(sum(s["own_ms"] for s in d["profile"]["steps"]) - sum(o["own_ms"] for o in d["profile"]["operators"])) < 1e-4 and sum(o["steps"] for o in d["profile"]["operators"]) == 9 and [-o["own_ms"] for o in d["profile"]["operators"]] == sorted(-o["own_ms"] for o in d["profile"]["operators"])'
py 'profile: trace' 'trace("trace.json", d["profile"]["steps"]) == [s["operator"] for s in d["profile"]["steps"]]'
t 0 'run without a profile' run $digits/digits.onnx --input random --json
py 'run without a profile' '"profile" not in d'
t 0 'profile of a loop' run "$tmp/loop.onnx" --input "$tmp/one2.npy" --profile="$tmp/loop.json" --json
py 'profile of a loop: result' 'd["outputs"][0]["top"][0]["value"] == 32'
py 'profile of a loop: rows' '[(s["operator"], s["depth"], s["calls"]) for s in d["profile"]["steps"] if s["operator"] in ("ADD_FUSION", "LOOP")] == [("ADD_FUSION", 1, 5), ("LOOP", 0, 1)]'
py 'profile of a loop: own time' 'loops(d["profile"]["steps"])'
py 'profile of a loop: trace' 'trace("loop.json", d["profile"]["steps"]).count("ADD_FUSION") == 5'
t 0 'profile of a loop, as a table' run "$tmp/loop.onnx" --input "$tmp/one2.npy" --profile
prints 'profile of a loop, as a table' '^ +[0-9.]+ +[0-9.]+% +80 +40    ADD_FUSION +[^ ]+  5 times$'
t 0 'bench --profile' bench $digits/digits.onnx --reps 4 --profile --json
py 'bench --profile' 'd["profile"]["runs"] == 4 and len(d["profile"]["steps"]) == 9 and all(s["calls"] == 1 for s in d["profile"]["steps"]) and d["min_ms"] <= d["profile"]["run_ms"] <= d["p95_ms"]'
t 0 'bench --profile as a table' bench $digits/digits.onnx --reps 4 --profile
prints 'bench --profile as a table' '^profile .*, the mean of 4$'
refused 2 'profile without a file' "--profile does not take ''" run model.onnx --profile=
refused 1 'trace that cannot be written' 'cannot write .*/no/t.json: No such file or directory$' run $digits/digits.onnx --input random --profile="$tmp/no/t.json"
refused 2 'profile elsewhere' 'unknown option --profile' check model.onnx --profile

# ---- log ----

t 0 'run --log info' run "$tmp/steps.onnx" --input "$tmp/steps.npy" --log info
says 'run --log info: passes' '^nnrt: info: optimized: 3 nodes became 3$'
says 'run --log info: device' "^nnrt: info: device 'reference_nnrt_v2_0' has prepared the model\$"
says 'run --log info: session' "^nnrt: info: session on device 'auto_nnrt_v2_0': 3 steps, arena of [0-9]+ bytes, lower bound [0-9]+, constants 0, [0-9]+ bytes in all\$"
if grep -q 'debug: ' "$tmp/err"; then fail 'run --log info: no lines of debug'; else pass; fi
t 0 'run --log debug' run $digits/digits.onnx --input random --log debug
says 'run --log debug' "^nnrt: debug: node '[^']+' \(ACTIVATION\) is fused into the node before it\$"
t 0 'convert --log debug' convert $digits/digits.onnx "$tmp/log.nnrt" --log debug
says 'convert --log debug' "is fused into the node before it\$"
t 0 'run --log warning' run "$tmp/steps.onnx" --input "$tmp/steps.npy" --log warning
silent 'run --log warning'
refused 2 'no such level' "--log does not take 'loud'" run model.onnx --log loud

# ---- report ----

t 0 'report' report $digits/digits.onnx -o "$tmp/r.html"
prints 'report' '/r.html$'
silent 'report'
t 0 'report: the map beside it' info $digits/digits.onnx --memory --json
py 'report: nodes' 'len([t for t in page("r.html").titles if t.startswith("node ")]) == 10'
py 'report: a node' '(lambda t: "conv2 (CONV2D_FUSION)" in t and "float32[1,24,14,14]" in t and "us on reference_nnrt_v2_0" in t)([t for t in page("r.html").titles if t.startswith("node 2 ")][0])'
py 'report: a node without a step' '"no step of its own" in [t for t in page("r.html").titles if "(FLATTEN)" in t][0]'
py 'report: steps' 'page("r.html").rows["steps"] == 1 + 9'
py 'report: memory' 'page("r.html").rects["memory"] == len(d["memory_map"]) and page("r.html").rows["taken"] == 1 + len(d["bytes_taken"])'
py 'report: full names' '{"input image", "output probabilities"} <= {t.split("\n")[0] for t in page("r.html").titles}'
py 'report: axes' '(lambda w: {"step", "offset in the arena, KiB", "0", "8", "10", "40"} <= set(w) and "50" not in w)(page("r.html").words["memory"])'
py 'report: the device of the steps' '"reference_nnrt_v2_0: 9 of 9 steps" in page("r.html").words[""]'
t 0 'report: two devices' report $digits/digits.onnx --device fake:name=npu0,ops=CONV2D_FUSION --device auto:npu0 -o "$tmp/r2.html"
py 'report: two devices' '{"npu0_nnrt_v1_0: 3 of 12 steps", "auto_nnrt_v2_0: 9 of 12 steps"} <= set(page("r2.html").words[""])'
t 0 'report: a long name' report "$tmp/names.onnx" -o "$tmp/long.html"
py 'report: a long name' '"output " + "e" * 251 in {t.split("\n")[0] for t in page("long.html").titles}'
py 'report: one page' 'not page("r.html").tags & {"script", "link", "img", "iframe"}'
t 0 'report: names with signs' report "$tmp/html.onnx" -o "$tmp/signs.html"
py 'report: names with signs' 'not page("signs.html").tags & {"b"} and "&lt;b&gt;&amp;" in open(F + "signs.html").read()'
t 0 'report: a loop' report "$tmp/loop.onnx" -o -
prints 'report: a loop, no map' 'There is no memory map'
prints 'report: a loop, step' 'LOOP'
refused 2 'report: no file' 'the output file is missing' report $digits/digits.onnx
refused 1 'report: no folder' 'cannot write .*/no/r.html: No such file or directory$' report $digits/digits.onnx -o "$tmp/no/r.html"
refused 2 'report: JSON' 'unknown option --json' report $digits/digits.onnx -o "$tmp/r.html" --json

# ---- compare ----

t 0 'compare' compare $digits/digits.onnx --device reference --device auto
prints 'compare: devices' '^devices   reference_nnrt_v2_0 and auto_nnrt_v2_0$'
prints 'compare: nodes' '^nodes     10 with 10 results$'
prints 'compare: tolerance' '^tolerance float16 0.001 [+] 0.01 [*] [|]a[|], float32 1e-05 [+] 0.0001 [*] [|]a[|], float64 1e-07 [+] 1e-07 [*] [|]a[|], quantized 1, other types 0$'
prints 'compare: output' '^output    probabilities  float32\[1,10\]  ok, max error 0, relative 0$'
prints 'compare: none' '^first     no result differs$'
silent 'compare'
t 0 'compare with reference' compare "$tmp/steps.onnx" --device auto --json
py 'compare with reference' 'd["devices"] == ["reference_nnrt_v2_0", "auto_nnrt_v2_0"] and d["compared"] == 3 and d["first"] is None and d["ok"] and (d["outputs"][0]["rtol"], d["outputs"][0]["atol"]) == (1e-4, 1e-5)'
refused 2 'compare: no device' 'expected --device A --device B' compare "$tmp/steps.onnx"
refused 2 'compare: three devices' 'expected --device A --device B' compare "$tmp/steps.onnx" --device auto --device auto --device auto
refused 2 'compare: no such device' 'unknown device' compare "$tmp/steps.onnx" --device auto --device toaster
refused 2 'compare: no value' "no value for input 'b'" compare "$tmp/two.onnx" --device auto --input a=random
if [ -z "$devices" ]; then
    skip 'compare: devices that differ' 'there is no program with more devices'
else
    usual=$nnrt
    nnrt=$devices
    t 1 'compare: a sum differs' compare "$tmp/steps.onnx" --device reference --device rough --input "$tmp/steps.npy" --rtol 0 --atol 0 --json
    py 'compare: a sum differs: which' '(lambda f: (f["node_name"], f["operator"], f["value"]["name"]))(d["first"]) == ("Add_1", "ADD_FUSION", "s") and not d["ok"]'
    py 'compare: a sum differs: place and values' '(lambda s, v: (lambda w: v["wrong"] == len(w) and v["index"] == [int(i) for i in w[0]] and np.float32(v["values"][0]) == s[tuple(w[0])] and np.float32(v["values"][1]) == rough(s)[tuple(w[0])])(np.argwhere(s != rough(s))))((lambda x: x * x + x)(load("steps.npy")), d["first"]["value"])'
    py 'compare: a sum differs: largest' '(lambda s, v: abs(v["max_error"] - np.abs(s.astype(float) - rough(s)).max()) < 1e-9 and abs(v["max_relative_error"] - (np.abs(s.astype(float) - rough(s)) / s).max()) < 1e-9)((lambda x: x * x + x)(load("steps.npy")), d["first"]["value"])'
    py 'compare: a sum differs: the output' 'len(d["outputs"]) == 1 and d["outputs"][0]["name"] == "y" and not d["outputs"][0]["ok"]'
    t 1 'compare: as text' compare "$tmp/steps.onnx" --device rough --input "$tmp/steps.npy"
    prints 'compare: as text' "^first     node 1 'Add_1' \(ADD_FUSION\), 's' float32\[2,3\]\$"
    prints 'compare: as text, values' '^          [1-3] of 6 differ, first \[1,[0-2]\]: [0-9.]+ and [0-9.]+; max error [0-9.e-]+, relative [0-9.e-]+$'
    t 1 'compare: random values' compare "$tmp/steps.onnx" --device rough
    t 0 'compare: tolerance' compare "$tmp/steps.onnx" --device rough --input "$tmp/steps.npy" --rtol 0.01 --json
    py 'compare: tolerance' 'd["first"] is None and d["ok"] and d["outputs"][0]["max_error"] > 0'
    # rough keeps 10 fraction bits: an error of up to 1e-3 of each value, 1/128 of a unit here
    t 0 'compare: tolerance of one value' compare "$tmp/steps.onnx" --device rough --input "$tmp/steps.npy" --rtol 0 --atol 0.01 --json
    py 'compare: tolerance of one value' '(d["outputs"][0]["rtol"], d["outputs"][0]["atol"]) == (0, 0.01)'
    for c in '1:' '0:--rtol 1e-3' '1:--rtol 1e-3 --atol 0 --rtol 0'; do
        # shellcheck disable=SC2086  # several words, or none
        t ${c%%:*} "compare: ${c#*:}" compare "$tmp/steps.onnx" --device rough --input "$tmp/steps.npy" ${c#*:}
    done
    t 0 'compare: quantized, one unit' compare "$tmp/units.onnx" --device unit --json
    py 'compare: quantized, one unit' 'd["first"] is None and (d["outputs"][0]["type"], d["outputs"][0]["max_error"], d["outputs"][0]["atol"]) == ("int8", 1, 1)'
    t 1 'compare: quantized, exact' compare "$tmp/units.onnx" --device unit --atol 0
    t 1 'compare: integers are exact' compare "$tmp/turn_int8.onnx" --device unit --json
    py 'compare: integers are exact' '(d["outputs"][0]["wrong"], d["outputs"][0]["max_error"], d["outputs"][0]["atol"]) == (1, 1, 0)'
    t 1 'compare: inside a loop' compare "$tmp/loop.onnx" --device rough --input "$tmp/tenth.npy" --json
    py 'compare: inside a loop' 'd["first"]["operator"] == "LOOP" and d["compared"] == 1'
    t 0 'compare: .nnrt' convert "$tmp/steps.onnx" "$tmp/steps.nnrt"
    t 1 'compare: .nnrt' compare "$tmp/steps.nnrt" --device rough --input "$tmp/steps.npy" --json
    py 'compare: .nnrt' 'd["first"]["operator"] == "ADD_FUSION"'
    t 1 'compare: only where nobody looks' compare "$tmp/steps.onnx" --device shy --input "$tmp/steps.npy"
    prints 'compare: only where nobody looks' '^first     no result differs when all results are outputs, which disables fusion: a device computes'
    t 0 'compare: a device with its own kernels' compare $digits/digits.onnx --device example
    # a model with an operator of the application: examples/custom
    t 0 'an own operator: saved' snake "$tmp/snake.nnrt"
    t 0 'an own operator: info' info "$tmp/snake.nnrt"
    prints 'an own operator: info' '^ +1  com\.acme\.Snake$'
    prints 'an own operator: what it keeps' '^keep        -DNNRT_SELECT -DNNRT_KEEP_TYPES='
    t 0 'an own operator: dot' dot "$tmp/snake.nnrt"
    prints 'an own operator: dot' 'com\.acme\.Snake.*alpha=2'
    t 0 'an own operator: run' run "$tmp/snake.nnrt" --input random --profile
    prints 'an own operator: profile' 'com\.acme\.Snake'
    t 0 'an own operator: compare' compare "$tmp/snake.nnrt" --device auto --json
    py 'an own operator: compare' 'd["first"] is None and d["ok"]'
    t 0 'an own operator: placement' info "$tmp/snake.nnrt" --device auto:example --placement
    refused 1 'an own operator: emit-c' "node 0 'y' is of the application's operator com\.acme\.Snake, whose kernel exists only in this program" emit-c "$tmp/snake.nnrt" -o "$tmp/snake.h"
    if [ -e "$tmp/snake.h" ]; then fail 'an own operator: emit-c: a file'; else pass; fi
    nnrt=$usual
    refused 1 'an own operator elsewhere' "node 0 'y': its operator 'com\.acme\.Snake' is not registered" info "$tmp/snake.nnrt"
fi

# ---- .nnrt files ----

t 0 'convert' convert $digits/digits.onnx "$tmp/digits.nnrt" --meta 'names=zero one' --meta mean=3 --set 'eq=a=b'
prints 'convert' '^.*/digits\.nnrt  [0-9]+ bytes$'
silent 'convert'
t 0 'convert without optimizing' convert $digits/digits.onnx "$tmp/plain.bin" --no-optimize --json
py 'convert --json' 'd["bytes"] == os.path.getsize(F + "plain.bin") and d["file"] == F + "plain.bin" and set(d) == {"model", "file", "bytes"}'
t 0 'run of ONNX' run $digits/digits.onnx --input $digits/digit_7.png --output-dir "$tmp/onnx_out"
t 0 'run of .nnrt' run "$tmp/digits.nnrt" --input $digits/digit_7.png --output-dir "$tmp/nnrt_out"
if cmp -s "$tmp/onnx_out/probabilities.npy" "$tmp/nnrt_out/probabilities.npy"; then pass; else fail 'run of .nnrt: other bits than ONNX'; fi
t 0 'run without optimizing' run "$tmp/plain.bin" --input $digits/digit_7.png --output-dir "$tmp/plain_out"
py 'run without optimizing: folding rounds otherwise' 'np.allclose(load("plain_out/probabilities.npy"), load("onnx_out/probabilities.npy"), rtol=1e-4, atol=1e-6)'
t 0 'convert optimizes' convert "$tmp/plain.bin" "$tmp/late.nnrt"
t 0 'run of .nnrt optimized later' run "$tmp/late.nnrt" --input $digits/digit_7.png --output-dir "$tmp/late_out"
if cmp -s "$tmp/onnx_out/probabilities.npy" "$tmp/late_out/probabilities.npy"; then pass; else fail 'optimized later: other bits than ONNX'; fi
t 0 'info of .nnrt' info "$tmp/digits.nnrt"
prints 'info of .nnrt: sections' '^            weights +77120 bytes at [0-9]+$'
prints 'info of .nnrt: metadata' '^metadata    names=zero one$'
prints 'info of .nnrt: input' '^input       image  float32\[1,1,28,28\]  NCHW$'
t 0 'info of .nnrt --json' info "$tmp/digits.nnrt" --json
py 'info of .nnrt --json' 'd["metadata"] == {"names": "zero one", "mean": "3", "eq": "a=b"} and [s["kind"] for s in d["sections"]][0] == "strings" and d["sections"][-1]["bytes"] == 77120 and all(s["offset"] % 64 == 0 for s in d["sections"])'
t 0 'convert .nnrt' convert "$tmp/digits.nnrt" "$tmp/again.nnrt" --meta mean= --meta names=x
t 0 'info of converted .nnrt' info "$tmp/again.nnrt" --json
py 'metadata go along' 'd["metadata"] == {"names": "x", "eq": "a=b"}'
t 0 'convert without metadata' convert "$tmp/again.nnrt" "$tmp/none.nnrt" --meta names= --meta eq=
t 0 'bench of .nnrt' bench "$tmp/again.nnrt" --reps 2
t 0 'dot of .nnrt' dot "$tmp/again.nnrt"
t 0 'convert with open extents' convert "$tmp/open.onnx" "$tmp/open.nnrt"
t 0 'info with open extents of .nnrt' info "$tmp/open.nnrt" --shape 5,3 --json
py 'info with open extents of .nnrt' 'd["inputs"][0]["shape"] == [None, 3] and d["outputs"][0]["shape"] == [3, 5]'
t 0 'run with open extents of .nnrt' run "$tmp/open.nnrt" --input "$tmp/rows.npy" --output-dir "$tmp/open_nnrt"
t 0 'run with open extents' run "$tmp/open.onnx" --input "$tmp/rows.npy" --output-dir "$tmp/open_onnx"
if cmp -s "$tmp/open_onnx/y.npy" "$tmp/open_nnrt/y.npy"; then pass; else fail 'open extents: other bits than ONNX'; fi
t 0 'run --max of .nnrt' run "$tmp/open.nnrt" --max 8,3 --input "$tmp/rows.npy" --output-dir "$tmp/open_max"
if cmp -s "$tmp/open_onnx/y.npy" "$tmp/open_max/y.npy"; then pass; else fail '--max: other bits'; fi
t 0 'info --max of .nnrt' info "$tmp/open.nnrt" --max x=8,3
prints 'info --max of .nnrt' 'up to float32\[8,3\]$'
t 0 'check of .nnrt' check "$tmp/open.nnrt" --data "$tmp/good"
t 0 'convert with --shape' convert "$tmp/open.onnx" "$tmp/closed.nnrt" --shape 5,3
t 0 'info of a closed model' info "$tmp/closed.nnrt" --json
py 'convert with --shape' 'd["inputs"][0]["shape"] == [5, 3]'
head -c 5000 "$tmp/digits.nnrt" >"$tmp/cut.nnrt"
refused 1 'a .nnrt file cut short' 'cannot load .*cut short' run "$tmp/cut.nnrt" --input random
refused 2 'convert to nowhere' 'the output file is missing' convert "$tmp/open.onnx"
refused 1 'convert into a folder that is not there' 'cannot convert .*cannot write .*/none/x.nnrt: No such file or directory$' convert "$tmp/open.onnx" "$tmp/none/x.nnrt"
refused 2 'metadata without a key' '--meta does not take' convert "$tmp/open.onnx" "$tmp/x.nnrt" --meta =v
refused 2 '--shape for .nnrt' 'for ONNX files' convert "$tmp/open.nnrt" "$tmp/x.nnrt" --shape 5,3

# A bar on a terminal, for one large constant as well: after the first 4 MiB of 16 a quarter of it.
t 0 'convert of a large file' convert "$tmp/table.onnx" "$tmp/table.nnrt"
silent 'convert of a large file, no terminal'
if ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    skip 'progress on a terminal' 'there is no script(1), or no pseudo-terminal'
    skip 'progress on a terminal, and the result' 'there is no script(1), or no pseudo-terminal'
else
    script -qec "'$nnrt' convert '$tmp/table.onnx' '$tmp/table.nnrt'" /dev/null </dev/null >"$tmp/term" 2>&1
    tr '\r' '\n' <"$tmp/term" >"$tmp/out"
    prints 'progress on a terminal' '^convert \[#{5,6}\.{18,19}\] 4[0-9]{3}/16[0-9]{3} '
    prints 'progress on a terminal, and the result' 'table.nnrt  16[0-9]{6} bytes$'
fi

# ---- model caches ----

keeps=fake:name=npu0,cache=yes
t 0 'what a cache must give' run $digits/digits.onnx --input $digits/digit_7.png --output-dir "$tmp/cache_want"
t 0 'compile' compile $digits/digits.onnx --device $keeps -o "$tmp/compiled.nnrt" --json
py 'compile --json' 'd["file"].endswith("compiled.nnrt") and d["bytes"] == os.path.getsize(F + "compiled.nnrt")'
silent 'compile'
t 0 'info of a compiled file' info "$tmp/compiled.nnrt" --json
py 'info names the section' '[(s["kind"], s["name"]) for s in d["sections"] if s["type"] == 9] == [("device", "npu0_nnrt_v1_0")]'
t 0 'info of a compiled file' info "$tmp/compiled.nnrt"
prints 'info names the section' '^            device  .* at [0-9]+  npu0_nnrt_v1_0$'
for device in $keeps,fail=PrepareModel reference fake: fake:name=npu0,vendor=else,cache=yes fake:name=npu0,cache=refuse; do
    t 0 "a compiled file on $device" run "$tmp/compiled.nnrt" --input $digits/digit_7.png --device $device --output-dir "$tmp/cache_got"
    if cmp -s "$tmp/cache_got/probabilities.npy" "$tmp/cache_want/probabilities.npy"; then pass; else fail "a compiled file on $device: other results"; fi
done
t 0 'compile for parts' compile $digits/digits.onnx --device fake:name=npu0,ops=CONV2D_FUSION,cache=yes --device fake:name=npu1,ops=SOFTMAX,cache=yes --device auto:npu0,npu1 -o "$tmp/parts.nnrt"
t 0 'parts' run "$tmp/parts.nnrt" --input $digits/digit_7.png --device fake:name=npu0,ops=CONV2D_FUSION,cache=yes,fail=PrepareModel --device fake:name=npu1,ops=SOFTMAX,cache=yes,fail=PrepareModel --device auto:npu0,npu1 --log warning --output-dir "$tmp/cache_got"
silent 'parts: all are taken from the file'
if cmp -s "$tmp/cache_got/probabilities.npy" "$tmp/cache_want/probabilities.npy"; then pass; else fail 'parts: other results'; fi
t 0 'compile with one part' compile $digits/digits.onnx --device fake:name=npu0,ops=CONV2D_FUSION,cache=yes --device fake:name=npu1,ops=SOFTMAX,cache=count --device auto:npu0,npu1 -o "$tmp/part.nnrt"
says 'compile with one part' 'note: 1 of [0-9]+ partitions are not in the file'
t 0 'a .nnrt file with open extents' convert "$tmp/open.onnx" "$tmp/open.nnrt"
t 0 'compile a .nnrt file with open extents' compile "$tmp/open.nnrt" --shape 2,3 --device $keeps -o "$tmp/opened.nnrt"
t 0 'run it with those' run "$tmp/opened.nnrt" --shape 2,3 --input random --device $keeps,fail=PrepareModel
t 0 'run it with others' run "$tmp/opened.nnrt" --shape 4,3 --input random --device $keeps
refused 1 'compile on a device without a cache' "device 'reference_nnrt_v2_0' has no model cache; nnrt convert writes" compile $digits/digits.onnx --device reference -o "$tmp/x.nnrt"
t 0 'compile for cpu' compile $digits/digits.onnx --device cpu -o "$tmp/packed.nnrt"
t 0 'info of packed weights' info "$tmp/packed.nnrt"
prints 'info of packed weights' '^            device  .* at [0-9]+  cpu_nnrt_v1_0$'
t 0 'a file with packed weights' run "$tmp/packed.nnrt" --input $digits/digit_7.png --device cpu --output-dir "$tmp/cache_packed"
t 0 'a file without' run $digits/digits.onnx --input $digits/digit_7.png --device cpu --output-dir "$tmp/cache_plain"
if cmp -s "$tmp/cache_packed/probabilities.npy" "$tmp/cache_plain/probabilities.npy"; then pass; else fail 'packed weights: other results'; fi
refused 1 'compile on a device that gives nothing' "device 'npu0_nnrt_v1_0' has nothing to store in it" compile $digits/digits.onnx --device fake:name=npu0,cache=count -o "$tmp/x.nnrt"
refused 1 'compile to standard output' 'cannot be written to standard output' compile $digits/digits.onnx --device $keeps -o -
refused 2 'compile to nowhere' 'the output file is missing' compile $digits/digits.onnx --device $keeps
if [ -e "$tmp/x.nnrt" ]; then fail 'refused compile: a file was written'; else pass; fi

mkdir "$tmp/cache"
t 0 'run --cache' run $digits/digits.onnx --input $digits/digit_7.png --device $keeps --cache "$tmp/cache" --json
py 'run --cache: nothing was there' 'd["cache"] == {"restored": 0, "prepared": 1}'
silent 'run --cache'
for command in run bench; do
    t 0 "$command --cache" $command $digits/digits.onnx $([ $command = bench ] && echo --reps 1 || echo --input random) --device $keeps,fail=PrepareModel --cache "$tmp/cache" --json
    py "$command --cache: it is taken" 'd["cache"] == {"restored": 1, "prepared": 0}'
done
t 0 'run --cache, without --json' run $digits/digits.onnx --input $digits/digit_7.png --device $keeps,fail=PrepareModel --cache "$tmp/cache" --output-dir "$tmp/cache_got"
if cmp -s "$tmp/cache_got/probabilities.npy" "$tmp/cache_want/probabilities.npy"; then pass; else fail 'run --cache: other results'; fi
py 'one file' 'len(os.listdir(F + "cache")) == 1'
for i in 1 2; do t 0 'check --cache' check "$tmp/open.onnx" --data "$tmp/good" --device $keeps --cache "$tmp/cache"; done
py 'a file for each model' 'len(os.listdir(F + "cache")) > 1'
py 'a cache to cut' '[open(F + "cache/" + f, "r+b").truncate(100) for f in os.listdir(F + "cache")]'
t 0 'run --cache that is cut short' run $digits/digits.onnx --input $digits/digit_7.png --device $keeps --cache "$tmp/cache"
says 'run --cache that is cut short' '^nnrt: note: --cache .*is cut short'
t 0 'run --cache, written anew' run $digits/digits.onnx --input $digits/digit_7.png --device $keeps,fail=PrepareModel --cache "$tmp/cache"
silent 'run --cache, written anew'
t 0 'run --cache without a folder' run $digits/digits.onnx --input $digits/digit_7.png --device $keeps --cache "$tmp/nowhere"
says 'run --cache without a folder' '^nnrt: note: --cache .*nowhere: cannot write .*/nowhere/.*: No such file or directory$'
t 0 'run --cache on a device without one' run $digits/digits.onnx --input $digits/digit_7.png --device reference --cache "$tmp/cache"
says 'run --cache on a device without one' '^nnrt: note: --cache .*no device that runs a partition of this model has a model cache$'
t 0 'run --cache on a device that gives nothing' run $digits/digits.onnx --input $digits/digit_7.png --device fake:name=npu2,cache=count --cache "$tmp/cache"
says 'run --cache on a device that gives nothing' '^nnrt: note: --cache .*the device has nothing to store in it$'
mkdir "$tmp/cpu_cache"
for packed in 1,0 0,1; do
    t 0 'run --cache on cpu' run $digits/digits.onnx --input $digits/digit_7.png --device cpu --cache "$tmp/cpu_cache" --json
    py "run --cache on cpu: prepared and restored are $packed" "[d['cache']['prepared'], d['cache']['restored']] == [$packed]"
    silent 'run --cache on cpu'
done
t 0 'run --cache on cpu, the results' run $digits/digits.onnx --input $digits/digit_7.png --device cpu --cache "$tmp/cpu_cache" --output-dir "$tmp/cache_got"
if cmp -s "$tmp/cache_got/probabilities.npy" "$tmp/cache_plain/probabilities.npy"; then pass; else fail 'run --cache on cpu: other results'; fi
refused 2 'run --cache without a value' 'lacks its value DIR' run $digits/digits.onnx --cache
refused 1 'info of a cache' 'it is a cache' info "$(ls -dS "$tmp"/cache/* | head -n 1)"

# ---- metadata: preprocessing ----

m="$tmp/nchw.nnrt"
# convert_with NAME ARGUMENTS...: $m is the model with this metadata.
convert_with() {
    label=$1
    shift
    t 0 "$label" convert "$tmp/nchw.onnx" "$m" "$@"
}
convert_with 'mean and scale' --meta input.x.mean=1,20,128.5 --meta input.x.scale=0.5,1/58.395,2 --meta description=d
image 'metadata: mean and scale' "($rgb - [1, 20, 128.5]) * [0.5, 1 / 58.395, 2]" "$m" --input "$tmp/rgb.png"
image 'metadata: --mean above them' "($rgb - 3) * [0.5, 1 / 58.395, 2]" "$m" --input "$tmp/rgb.png" --mean 3
image 'metadata: --std above scale' "($rgb - [1, 20, 128.5]) / 4" "$m" --input "$tmp/rgb.png" --std 4
convert_with 'std' --meta input.x.std=2,58.395,0.5
image 'metadata: std' "$rgb / [2, 58.395, 0.5]" "$m" --input "$tmp/rgb.png"
convert_with 'color bgr' --meta input.x.color=bgr --meta input.x.invert=yes
image 'metadata: color and invert' "(255 - $rgb[..., ::-1]) / 255" "$m" --input "$tmp/rgb.png"
image 'metadata: --rgb and --no-invert above them' "$rgb / 255" "$m" --input "$tmp/rgb.png" --rgb --no-invert
convert_with 'color gray' --meta input.x.color=gray --meta input.x.invert=no
image 'metadata: gray' "np.repeat(($rgb @ [77, 150, 29]) // 256, 3).reshape(1, 4, 6, 3) / 255" "$m" --input "$tmp/rgb.png"
t 0 'layout' convert "$tmp/nhwc.onnx" "$m" --meta input.x.layout=nhwc
image 'metadata: layout' "($rgb / 255).transpose(0, 3, 1, 2)" "$m" --input "$tmp/rgb.png"
t 0 'again' convert "$m" "$tmp/again.nnrt"
convert_with 'wrong layout' --meta input.x.layout=nhwc
refused 1 'metadata: wrong layout' 'is --layout right, or the metadata' run "$m" --input "$tmp/rgb.png"
image 'metadata: --layout above it' "$rgb / 255" "$m" --input "$tmp/rgb.png" --layout nchw
image 'metadata go along with convert' "($rgb / 255).transpose(0, 3, 1, 2)" "$tmp/again.nnrt" --input "$tmp/rgb.png"
convert_with 'two means' --meta input.x.mean=1,2
refused 1 'metadata: two means' 'mean and scale .or std. must be one number or one per channel; input .x. has 3 channels' run "$m" --input "$tmp/rgb.png"
for c in 'mean=x:one number or one per channel' 'mean=1,2,3,4,5:one number or one per channel' 'scale=1,:one number' 'scale=inf:one number' \
    'std=0:.*none of them 0$' 'std=1,0:.*none of them 0$' 'color=red:rgb, bgr or gray$' 'layout=chw:nchw or nhwc$' \
    'invert=1:yes or no$' 'quantize=1:yes or no$' \
    'men=1:mean, scale, std, color, layout, invert or quantize after the input$'; do
    refused 1 "metadata ${c%%:*}" "^nnrt: .*nchw.onnx: metadata input.x.${c%%:*}: expected ${c#*:}" convert "$tmp/nchw.onnx" "$tmp/x.nnrt" --meta "input.x.${c%%:*}"
done
refused 1 'metadata of no input' "metadata input.y.mean=1: expected an input, one of 'x'" convert "$tmp/nchw.onnx" "$tmp/x.nnrt" --meta input.y.mean=1
refused 1 'metadata with scale and std' 'input.x.scale and input.x.std: expected one of them' convert "$tmp/nchw.onnx" "$tmp/x.nnrt" --meta input.x.scale=1 --meta input.x.std=1
if [ -e "$tmp/x.nnrt" ]; then fail 'refused metadata: a file was written'; else pass; fi
# a file that something else wrote: the value is changed in place
convert_with 'a value to spoil' --meta input.x.color=bgr
py 'a value to spoil' "open(F + 'nchw.nnrt', 'r+b') and (lambda b: open(F + 'bad.nnrt', 'wb').write(b.replace(b'\0bgr\0', b'\0bad\0')))(open(F + 'nchw.nnrt', 'rb').read())"
refused 1 'a spoilt value' '^nnrt: .*bad.nnrt: metadata input.x.color=bad: expected rgb, bgr or gray$' run "$tmp/bad.nnrt" --input "$tmp/rgb.png"
t 0 'a spoilt value does not matter without an image' run "$tmp/bad.nnrt" --input random

# ---- metadata: labels ----

t 0 'labels' convert "$tmp/scores.onnx" "$tmp/l.nnrt" --labels "$tmp/three.txt"
t 0 'run with labels' run "$tmp/l.nnrt" --input "$tmp/scores.npy" --top 2 --json
py 'labels of the axis that has as many extents' '[[(v["index"], v["label"]) for v in o["top"]] for o in d["outputs"]] == [[([0, 0, 1], "cat"), ([0, 1, 0], "\x1b[1mdog")], [([0, 0, 0], "cat"), ([0, 0, 2], "fo\u00e9l")]]'
t 0 'run with labels' run "$tmp/l.nnrt" --input "$tmp/scores.npy" --top 3
prints 'label behind the value' '^  \[0,0,1\]  6  cat$'
prints 'a label cannot steer the terminal' '^  \[0,1,0\]  5  \?\[1mdog$'
silent 'run with labels'
t 0 'info with labels' info "$tmp/l.nnrt"
prints 'info with labels' '^metadata    labels=3 lines: cat, \?\[1mdog, fo.*l$'
t 0 'info with labels' info "$tmp/l.nnrt" --json
py 'info with labels' 'd["metadata"] == {"labels": "cat\n\x1b[1mdog\nfo\u00e9l"}'
t 0 'labels of one output' convert "$tmp/scores.onnx" "$tmp/l.nnrt" --labels n="$tmp/three.txt"
t 0 'run with labels of one output' run "$tmp/l.nnrt" --input "$tmp/scores.npy" --top 1 --json
py 'labels of one output' '["label" in o["top"][0] for o in d["outputs"]] == [False, True]'
t 0 'labels of one output and of the others' convert "$tmp/l.nnrt" "$tmp/l2.nnrt" --set 'labels=p
q'
t 0 'run with two sets of labels' run "$tmp/l2.nnrt" --input "$tmp/scores.npy" --top 1 --json
py 'two sets of labels' '[o["top"][0]["label"] for o in d["outputs"]] == ["q", "cat"]'
refused 1 'labels that fit nothing' 'metadata labels=a...: expected as many lines as the size of an axis of the output, not 4' convert "$tmp/scores.onnx" "$tmp/x.nnrt" --labels "$tmp/four.txt"
refused 1 'labels that do not fit their output' 'metadata labels.s=a...: expected as many lines' convert "$tmp/scores.onnx" "$tmp/x.nnrt" --labels s="$tmp/four.txt"
refused 1 'labels of no output' "metadata labels.z=a: expected an output, one of 's', 'n'" convert "$tmp/scores.onnx" "$tmp/x.nnrt" --meta labels.z=a
refused 1 'one label' 'metadata labels=a: expected as many lines' convert "$tmp/scores.onnx" "$tmp/x.nnrt" --meta labels=a
refused 1 'labels of no file' 'cannot open .*nothing.txt' convert "$tmp/scores.onnx" "$tmp/x.nnrt" --labels "$tmp/nothing.txt"
refused 1 'labels without a line' 'has no labels; expected one label per line' convert "$tmp/scores.onnx" "$tmp/x.nnrt" --labels "$tmp/none.txt"
refused 1 'labels that are no text' 'it is not a text file' convert "$tmp/scores.onnx" "$tmp/x.nnrt" --labels "$tmp/zero.txt"
t 0 'labels where an extent is open' convert "$tmp/open.onnx" "$tmp/x.nnrt" --labels "$tmp/four.txt"
t 0 'labels of a .nnrt file' convert "$tmp/l.nnrt" "$tmp/x.nnrt"
refused 1 'labels that fit nothing in a .nnrt file' 'expected as many lines' convert "$tmp/l.nnrt" "$tmp/x.nnrt" --labels n="$tmp/four.txt"
# metadata_props of an ONNX file
t 0 'metadata_props' run "$tmp/props.onnx" --input "$tmp/scores.npy" --top 1 --json
py 'metadata_props: labels' '[o["top"][0]["label"] for o in d["outputs"]] == ["a", "a"]'
t 0 'metadata_props: info' info "$tmp/props.onnx" --json
py 'metadata_props: info' 'd["metadata"] == {"labels": "a\nb\nc", "author": "else", "input.x.mean": "1"}'
t 0 'metadata_props: convert' convert "$tmp/props.onnx" "$tmp/props.nnrt" --meta author=
t 0 'metadata_props: info of .nnrt' info "$tmp/props.nnrt" --json
py 'metadata_props go into the .nnrt file' 'd["metadata"] == {"labels": "a\nb\nc", "input.x.mean": "1"}'
t 0 'labels in another form' run "$tmp/comma.onnx" --input "$tmp/scores.npy"
says 'labels in another form are noted' 'note: .*comma.onnx: metadata labels has 1 lines, expected the size of an axis of an output'
refused 1 'labels in another form are not converted' 'comma.onnx: metadata labels=a,b,c: expected as many lines' convert "$tmp/comma.onnx" "$tmp/x.nnrt"
t 0 'labels in another form are dropped' convert "$tmp/comma.onnx" "$tmp/x.nnrt" --meta labels=

# ---- quantize ----

mkdir "$tmp/q" "$tmp/q0" "$tmp/q2" && cp "$digits"/digit_?.png "$tmp/q"
t 0 'quantize' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt"
prints 'quantize: samples' '^samples +10$'
prints 'quantize: nodes' '^nodes +10 of 10 quantized, 5 with weights$'
prints 'quantize: agreement' '^output +probabilities  [3-9][0-9]\.[0-9] dB, the same largest element in 10 of 10 samples$'
silent 'quantize'
t 0 'info of a quantized model' info "$tmp/q8.nnrt" --json
py 'info of a quantized model' "d['operators']['CONV2D_FUSION'] == 3 and d['weights']['int8']['count'] > 18000 and 'float32' not in d['weights']"
t 0 'run of a quantized model' run "$tmp/q8.nnrt" --input $digits/digit_7.png --top 1
prints 'run of a quantized model' '^  7 '
t 0 'quantize --json --int8-io' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --json --int8-io --samples 3 --without equalize,bias
if head -n 1 "$tmp/out" | grep -q '"samples":3,"nodes":10,"quantized":10,"equalized":0,"corrected":0,"rounded":0,"outputs":\[{"name":"probabilities","sqnr":'; then pass; else fail 'quantize --json'; fi
t 0 'info of --int8-io' info "$tmp/q8.nnrt" --json
py 'info of --int8-io' "d['inputs'][0]['type'] == 'int8' and d['metadata']['input.image.quantize'] == 'yes'"
printf 'SOFTMAX\n' >"$tmp/keep.txt"
t 0 'quantize --ranges --keep' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --ranges --keep "$tmp/keep.txt" --uint8
prints 'quantize --keep' '^nodes +9 of 10 quantized'
prints 'quantize --ranges' '^range +image  0 to 1, codes 0 to 1 [(](min-max|percentile|least squares)[)], scale 0.00392'
py 'samples as rows' "np.save(F + 'rows.npy', np.random.default_rng(1).random((5, 1, 28, 28), np.float32)) is None"
t 0 'quantize, rows of a file' quantize $digits/digits.onnx --data "$tmp/rows.npy" -o "$tmp/q8.nnrt"
prints 'quantize, rows of a file' '^samples +5$'
py 'samples in Fortran order, of float64' "np.save(F + 'rowsf.npy', np.asfortranarray(np.load(F + 'rows.npy'))) or np.save(F + 'rowsd.npy', np.load(F + 'rows.npy').astype('>f8')) is None"
t 0 'quantize, rows in Fortran order' quantize $digits/digits.onnx --data "$tmp/rowsf.npy" -o "$tmp/qf8.nnrt"
if cmp -s "$tmp/q8.nnrt" "$tmp/qf8.nnrt"; then pass; else fail 'quantize: rows in Fortran order give another model'; fi
t 0 'quantize, rows of float64' quantize $digits/digits.onnx --data "$tmp/rowsd.npy" -o "$tmp/qf8.nnrt"
if [ "$(grep -c 'holds float64, converted to the float32 of input' "$tmp/err")" -eq 1 ]; then pass; else fail 'quantize: one note about float64'; fi
if cmp -s "$tmp/q8.nnrt" "$tmp/qf8.nnrt"; then pass; else fail 'quantize: rows of big-endian float64 give another model'; fi
t 0 'quantize --least-squares --held-out' quantize $digits/digits.onnx --data "$tmp/rows.npy" -o "$tmp/q8.nnrt" --least-squares --held-out "$tmp/q"
prints 'quantize --least-squares' '^rounded +5 of 5 weight tensors by least squares$'
prints 'quantize: ranges' '^ranges +[0-9]+ min-max, [0-9]+ percentile, [0-9]+ least squares, 1 by operator$'
prints 'quantize --held-out: the calibration' '^samples +5$'
prints 'quantize --held-out' '^output +probabilities .* in [0-9]+ of 10 samples$'
refused 1 'quantize --held-out, an empty folder' 'q0 has no samples: expected .npy' quantize $digits/digits.onnx --data "$tmp/q" --held-out "$tmp/q0" -o "$tmp/q8.nnrt"
t 0 'quantize: a float16 model' quantize "$tmp/half.onnx" --data "$tmp/half.npy" -o "$tmp/qh.nnrt"
says 'quantize: a float16 model: the note' '^nnrt: note: .*half.onnx has float16 tensors, which become float32 first'
prints 'quantize: a float16 model: nodes' '^nodes +1 of 1 quantized, 1 with weights$'
prints 'quantize: a float16 model: agreement' '^output +y  [3-9][0-9]\.[0-9] dB'
t 0 'quantize: a float16 model: its types' info "$tmp/qh.nnrt"
prints 'quantize: a float16 model: its types' '^input +x  float32\[1,8\]$'
t 0 'quantize --weights-only: a float16 model' quantize "$tmp/half.onnx" --weights-only 8 -o "$tmp/qh.nnrt"
refused 1 'quantize: a float16 model, an ONNX file' 'the model is float16; write a .nnrt file' quantize "$tmp/half.onnx" --data "$tmp/half.npy" -o "$tmp/qh.onnx"
refused 1 'quantize: a missing folder' 'cannot write .*/none/q8.nnrt: No such file' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/none/q8.nnrt"
echo x >"$tmp/bad.npy"
refused 1 'quantize: no .npy file' 'bad.npy: it does not begin as a .npy file' quantize $digits/digits.onnx --data "$tmp/bad.npy" -o "$tmp/qb.nnrt"
t 0 'quantize --device reference' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/qr.nnrt" --device reference
t 0 'quantize --exact' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/qe.nnrt" --exact --threads 2
if cmp -s "$tmp/qe.nnrt" "$tmp/qr.nnrt"; then pass; else fail 'quantize --exact: other bytes than those of the reference device'; fi
t 0 'quantize --16x8' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q16.nnrt" --16x8
prints 'quantize --16x8: nodes' '^nodes +[6-8] of 10 quantized, 5 with weights$'
prints 'quantize --16x8: agreement' '^output +probabilities  [4-9][0-9]\.[0-9] dB, the same largest element in 10 of 10 samples$'
t 0 'run of --16x8' run "$tmp/q16.nnrt" --input $digits/digit_7.png --top 1
prints 'run of --16x8' '^  7 '
for with in --uint8 --int8-io; do
    refused 2 "quantize --16x8 $with" '--16x8 writes a .nnrt file, and goes neither with --uint8 nor with --int8-io' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q16.nnrt" --16x8 $with
done
refused 2 'quantize --16x8, an ONNX file' '--16x8 writes a .nnrt file' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q16.onnx" --16x8
for b in 4 8; do
    t 0 "quantize --weights-only $b" quantize $digits/digits.onnx --weights-only $b -o "$tmp/w$b.nnrt"
    prints "quantize --weights-only $b" '^nodes +weights of 2 of 10 quantized$'
    prints "quantize --weights-only $b: bytes" '^weights +[0-9]+ bytes were [0-9]+$'
    t 0 "run of --weights-only $b" run "$tmp/w$b.nnrt" --input $digits/digit_7.png --top 1
    prints "run of --weights-only $b" '^  7 '
done
t 0 'quantize --weights-only --block --json' quantize $digits/digits.onnx --weights-only 4 --block 128 -o "$tmp/w128.nnrt" --json
prints 'quantize --weights-only --json' '"nodes":10,"quantized":2,"weights":[[][0-9]+,[0-9]+[]]'
if [ "$(wc -c <"$tmp/w4.nnrt")" -lt "$(wc -c <"$tmp/w8.nnrt")" ]; then pass; else fail 'quantize --weights-only: sizes'; fi
refused 2 'quantize --weights-only 5' "--weights-only does not take '5'" quantize $digits/digits.onnx --weights-only 5 -o "$tmp/w.nnrt"
refused 2 'quantize --block 24' "--block does not take '24'" quantize $digits/digits.onnx --weights-only 4 --block 24 -o "$tmp/w.nnrt"
refused 2 'quantize --block alone' '--block is for --weights-only' quantize $digits/digits.onnx --data "$tmp/q" --block 32 -o "$tmp/w.nnrt"
refused 2 'quantize --weights-only --data' '--weights-only needs no samples' quantize $digits/digits.onnx --data "$tmp/q" --weights-only 4 -o "$tmp/w.nnrt"
refused 1 'quantize --weights-only to ONNX' '--weights-only writes .nnrt files' quantize $digits/digits.onnx --weights-only 4 -o "$tmp/w.onnx"
t 0 'quantize --dynamic' quantize $digits/digits.onnx --dynamic -o "$tmp/dynamic.nnrt"
prints 'quantize --dynamic' '^nodes +weights of 2 of 10 quantized$'
t 0 'run of --dynamic' run "$tmp/dynamic.nnrt" --input $digits/digit_7.png --top 1
prints 'run of --dynamic' '^  7 '
refused 2 'quantize --dynamic --data' '--dynamic needs no samples, and takes only --keep;' quantize $digits/digits.onnx --data "$tmp/q" --dynamic -o "$tmp/w.nnrt"
refused 2 'quantize --dynamic --weights-only' '--weights-only and --dynamic exclude each other' quantize $digits/digits.onnx --weights-only 8 --dynamic -o "$tmp/w.nnrt"
refused 1 'quantize --dynamic to ONNX' '--dynamic writes .nnrt files' quantize $digits/digits.onnx --dynamic -o "$tmp/w.onnx"
printf 'FULL_CONNECTION\n' >"$tmp/keep_full.txt"
refused 1 'quantize --weights-only --keep' 'none is a matrix product with constant weights that is not kept in float32' quantize $digits/digits.onnx --weights-only 4 --keep "$tmp/keep_full.txt" -o "$tmp/w.nnrt"
if ls "$tmp"/w.* >/dev/null 2>&1; then fail 'quantize --weights-only: a file was written'; else pass; fi
py 'bad samples' "np.save(F + 'q2/a.npy', np.zeros((1, 1, 28, 27), np.float32)) is None and np.save(F + 'nan.npy', np.full((1, 1, 28, 28), np.nan, np.float32)) is None"
rm -f "$tmp/q8.nnrt"
refused 2 'quantize without samples' 'quantize: --data is missing: the samples of the input' quantize $digits/digits.onnx -o "$tmp/q8.nnrt"
refused 2 'quantize without a file' 'quantize: the output file is missing' quantize $digits/digits.onnx --data "$tmp/q"
refused 2 'quantize without an unknown step' "--without does not take 'range'" quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --without range
refused 1 'quantize, an empty folder' 'q0 has no samples: expected .npy, .csv, .pb, .png, .jpg or .wav files' quantize $digits/digits.onnx --data "$tmp/q0" -o "$tmp/q8.nnrt"
refused 1 'quantize, no folder' 'cannot open .*nothing: ' quantize $digits/digits.onnx --data "$tmp/nothing" -o "$tmp/q8.nnrt"
refused 1 'quantize, another shape' 'a.npy is float32\[1,1,28,27\], input .image. takes float32\[1,1,28,28\]' quantize $digits/digits.onnx --data "$tmp/q2" -o "$tmp/q8.nnrt"
refused 1 'quantize, NaN' "cannot quantize .*: input 'image' of sample 0 has NaN or infinity" quantize $digits/digits.onnx --data "$tmp/nan.npy" -o "$tmp/q8.nnrt"
refused 1 'quantize twice' 'is quantized already: quantize the float32 model' quantize $digits/digits_int8.onnx --data "$tmp/q" -o "$tmp/q8.nnrt"
if [ -e "$tmp/q8.nnrt" ]; then fail 'quantize: a file was written'; else pass; fi

t 0 'quantize --sensitivity' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --sensitivity
prints 'quantize --sensitivity: the noisiest node' '^quantized  [0-9.]+ dB  SOFTMAX:fc2:probabilities$'
prints 'quantize --sensitivity: all quantized' '^nodes +10 of 10 quantized'
if [ "$(grep -c '^quantized ' "$tmp/out")" -eq 10 ]; then pass; else fail 'quantize --sensitivity: not ten nodes'; fi
t 0 'quantize --max-loss' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --max-loss 0.00001
prints 'quantize --max-loss: a node stays float32' '^float32    [0-9.]+ dB  SOFTMAX:fc2:probabilities$'
prints 'quantize --max-loss: others do not' '^nodes +[1-9] of 10 quantized'
prints 'quantize --max-loss: the noise' '^output +probabilities  ([5-9][0-9]|1[0-9][0-9])\.[0-9] dB'
rm -f "$tmp/q8.nnrt"
refused 2 'quantize --max-loss 0' "--max-loss does not take '0'" quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --max-loss 0
refused 1 'quantize --max-loss, too little' 'no node of .*digits.onnx can be quantized with a noise of at most that' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --max-loss 1e-13 --json
if [ -e "$tmp/q8.nnrt" ]; then fail 'quantize --max-loss: a file was written'; else pass; fi

# --classes: the loss is accuracy. Of two samples [1, 1.001] and [100, 0] 8 bits of one scale lose the class of the first.
for i in 0 1 2 3 4 5 6 7 8 9; do echo "digit_$i.png $i"; done >"$tmp/classes.txt"
t 0 'quantize --classes' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --max-loss 0.000008 --classes "$tmp/classes.txt"
prints 'quantize --classes: all nodes' '^nodes +10 of 10 quantized'
prints 'quantize --classes: accuracy' '^top 1 +100.00 % float32, 100.00 % 8 bits$'
py 'quantize --classes: a hard sample' "np.save(F + 'hard.npy', np.array([[1, 1.001], [100, 0]], np.float32)) is None and np.save(F + 'rows2.npy', np.array([[100, 0], [99, 1], [50, 0]], np.float32)) is None"
printf '1\n0\n' >"$tmp/hard.txt"
printf '2\n0\n' >"$tmp/two.txt"
t 0 'quantize --classes: half is lost' quantize "$tmp/signs.onnx" --data "$tmp/hard.npy" -o "$tmp/q8.nnrt" --max-loss 0.5 --classes "$tmp/hard.txt" --report "$tmp/q.html"
prints 'quantize --classes: half is lost' '^top 1 +100.00 % float32, 50.00 % 8 bits$'
py 'quantize --classes: the report' '{"100.00 %", "50.00 %"} <= set(page("q.html").words["summary"])'
t 0 'quantize --classes --json' quantize "$tmp/signs.onnx" --data "$tmp/hard.npy" -o "$tmp/q8.nnrt" --classes "$tmp/hard.txt" --json
if head -n 1 "$tmp/out" | grep -q '\],"top1":\[2,1\]}$'; then pass; else fail 'quantize --classes --json'; fi
t 0 'quantize --classes of held-out samples' quantize "$tmp/signs.onnx" --data "$tmp/rows2.npy" --held-out "$tmp/hard.npy" -o "$tmp/q8.nnrt" --classes "$tmp/hard.txt" --report "$tmp/q.html"
prints 'quantize --classes of held-out samples' '^top 1 +100.00 % float32, 50.00 % 8 bits$'
py 'quantize --classes of held-out samples: the report' '"3, compared with float32 on 2" in page("q.html").words["summary"] and "in 1 of 2 samples" in page("q.html").words["outputs"]'
rm -f "$tmp/q8.nnrt"
refused 2 'quantize --weights-only --report' '--weights-only needs no samples, and takes only' quantize $digits/digits.onnx --weights-only 8 -o "$tmp/q8.nnrt" --report "$tmp/q.html"
refused 1 'quantize --classes, too much is lost' 'no node of .*signs.onnx can be quantized with a loss of accuracy of at most that' quantize "$tmp/signs.onnx" --data "$tmp/hard.npy" -o "$tmp/q8.nnrt" --max-loss 0.49 --classes "$tmp/hard.txt" --json
refused 1 'quantize --classes, too few' 'hard.txt has no class from 0 to 9 for sample 2' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --classes "$tmp/hard.txt"
refused 1 'quantize --classes, no such class' "line 1 has class '2', expected 0 to 1 or a label of the model" quantize "$tmp/signs.onnx" --data "$tmp/hard.npy" -o "$tmp/q8.nnrt" --classes "$tmp/two.txt"
if [ -e "$tmp/q8.nnrt" ]; then fail 'quantize --classes: a file was written'; else pass; fi

# --report: the page has each tensor and layer, the sizes that nnrt info prints, no part in another file, and escapes names
t 0 'quantize --report' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --report "$tmp/q.html" --sensitivity --without bias
prints 'quantize --report' '^report +.*/q.html$'
silent 'quantize --report'
py 'quantize --report: bytes and instructions of both models' 'all(any(w.startswith(n) for w in page("q.html").words["summary"]) for n in ("file", "constants (flash", "arena (RAM)", "instructions of a run on a Cortex-M4"))'
t 0 'quantize --report: the tensors' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --ranges --without bias
grep '^range ' "$tmp/out" >"$tmp/ranges"
py 'quantize --report: tensors' '(lambda r: page("q.html").rows["ranges"] == 1 + len(r) == 12 and {l.split()[1] for l in r} <= set(page("q.html").words["ranges"]))(open(F + "ranges").readlines())'
py 'quantize --report: scales' 'all(re.search("zero point ([-0-9]+)", l).group(1) in page("q.html").words["ranges"] and "%.6g" % float(re.search("scale ([^,]+)", l).group(1)) in page("q.html").words["ranges"] for l in open(F + "ranges"))'
py 'quantize --report: the noisiest first' '(lambda r: r == sorted(r) and len(r) == 11)([float(x) for x in re.findall("<tr><td class=.l.>[^<]*<td>([0-9.]+)<td>", open(F + "q.html").read().split("Activations")[1])])'
py 'quantize --report: the choice of each range' '(lambda w: w.count("operator") == 1 and sum(w.count(m) for m in ("min-max", "percentile", "least squares")) == 10)(page("q.html").words["ranges"])'
py 'quantize --report: histograms' 'open(F + "q.html").read().count("<svg class=") == 11 and "0 to 1" in page("q.html").titles'
py 'quantize --report: layers' 'page("q.html").rows["layers"] == 1 + 5 and {"conv1", "108", "12", "fc2", "320"} <= set(page("q.html").words["layers"])'
py 'quantize --report: sensitivity' 'page("q.html").rows["nodes"] == 1 + 10 and page("q.html").words["nodes"].count("8 bits") == 10'
py 'quantize --report: options' 'any("without bias" in w for w in page("q.html").words["summary"]) and "10 of 10 quantized, 5 with weights" in page("q.html").words["summary"]'
py 'quantize --report: files' '{str(os.path.getsize(p)) for p in ("examples/digits/digits.onnx", F + "q8.nnrt")} <= set(page("q.html").words["summary"])'
py 'quantize --report: one page' 'not page("q.html").tags & {"script", "link", "img", "iframe"} and "://" not in open(F + "q.html").read()'
for f in $digits/digits.onnx "$tmp/q8.nnrt"; do
    t 0 "quantize --report: the arena of $f" info "$f" --device reference --json
    py "quantize --report: the arena of $f" "str(d['arena_bytes']) in page('q.html').words['summary']"
done
printf 'SOFTMAX\n' >"$tmp/<i>.txt"
t 0 'quantize --report: signs' quantize "$tmp/signs.onnx" --data "$tmp/one2.npy" -o "$tmp/q8.nnrt" --report "$tmp/q.html" --keep "$tmp/<i>.txt"
py 'quantize --report: signs' 'not page("q.html").tags & {"b", "y", "i"} and {"<b>&\x27", "\"<y>\""} <= set("".join(page("q.html").words["ranges"]).split("\n") + page("q.html").words["ranges"])'
rm -f "$tmp/q8.nnrt" "$tmp/q.html"
refused 2 'quantize --report to the model' '--report .*q8.nnrt: expected a file beside the model' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --report "$tmp/q8.nnrt"
refused 1 'quantize --report to a folder' '/q: it is no regular file and is not replaced' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --report "$tmp/q"
ln -s q8.nnrt "$tmp/linked.html"
t 1 'quantize --report to the model by a link' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt" --report "$tmp/linked.html"
says 'quantize --report to the model by a link' 'linked.html: it is a link to a file that does not exist|linked.html: it is read by this command'
rm -f "$tmp/q8.nnrt"
refused 1 'quantize --report, NaN' 'has NaN or infinity' quantize $digits/digits.onnx --data "$tmp/nan.npy" -o "$tmp/q8.nnrt" --report "$tmp/q.html"
if [ -e "$tmp/q8.nnrt" ] || [ -e "$tmp/q.html" ] || ls "$tmp"/*.tmp >/dev/null 2>&1; then fail 'quantize --report: a file was written'; else pass; fi

# WAV: samples / 32768, for run, quantize and accuracy; a file that is not exactly such a sound is refused
for i in 0 1 2 3; do
    for f in a b c; do
        t 0 "a sound, model $i, $f.wav" run "$tmp/sound$i.onnx" --input "$tmp/$f.wav" --output-dir "$tmp/sound_out"
        py "a sound, model $i, $f.wav" "(lambda y: y.shape == [(8,), (1, 8), (1, 8, 1), (1, 8)][$i] and (y.ravel() == np.maximum(np.load(F + 'sound.npy') / 32768, 0)).all())(np.load(F + 'sound_out/y.npy'))"
    done
done
refused 1 'a sound of two channels' 'two.wav: it has 2 channels, expected one: sox' run "$tmp/sound0.onnx" --input "$tmp/two.wav"
refused 1 'a sound of 24 bits' 'wide.wav: it has samples of 24 bits in format 1, expected 16 bits' run "$tmp/sound0.onnx" --input "$tmp/wide.wav"
refused 1 'a sound of floats' 'samples of 16 bits in format 3, expected' run "$tmp/sound0.onnx" --input "$tmp/float.wav"
refused 1 'a sound with gaps' 'its samples take 4 bytes each, expected 2' run "$tmp/sound0.onnx" --input "$tmp/gaps.wav"
refused 1 'a sound with few samples' "few.wav: it has 7 samples, input 'x' takes 8: sox" run "$tmp/sound1.onnx" --input "$tmp/few.wav"
refused 1 'a sound that is cut' 'cut.wav: it states 5000 bytes after its first 8 and has 52' run "$tmp/sound0.onnx" --input "$tmp/cut.wav"
refused 1 'a sound from a pipe' 'it states 4294967295 bytes' run "$tmp/sound0.onnx" --input "$tmp/pipe.wav"
refused 1 'a sound with a long chunk' "no complete chunk 'data'" run "$tmp/sound0.onnx" --input "$tmp/long.wav"
refused 1 'a sound of odd bytes' 'its samples take 15 bytes, expected an even number' run "$tmp/sound0.onnx" --input "$tmp/odd.wav"
refused 1 'a sound with a long first chunk' "no complete chunk 'fmt '" run "$tmp/sound0.onnx" --input "$tmp/before.wav"
refused 1 'a sound without samples' 'it has 0 samples' run "$tmp/sound3.onnx" --input "$tmp/none.wav"
for i in 4 5 6; do
    refused 1 "a sound for input $i" "input 'x' is .*, expected \[N\], \[1,N\] or \[1,N,1\] for a sound" run "$tmp/sound$i.onnx" --input "$tmp/a.wav"
done
mkdir "$tmp/sounds" && cp "$tmp/a.wav" "$tmp/b.wav" "$tmp/sounds"
t 0 'quantize with sounds' quantize "$tmp/sound1.onnx" --data "$tmp/sounds" -o "$tmp/q8.nnrt" --ranges
prints 'quantize with sounds: samples' '^samples +2$'
prints 'quantize with sounds: range' '^range +x  -1 to 0.999969,'
printf '3\n3\n' >"$tmp/sounds.txt"
t 0 'accuracy with sounds' accuracy "$tmp/sound1.onnx" "$tmp/q8.nnrt" --data "$tmp/sounds" --labels "$tmp/sounds.txt"
prints 'accuracy with sounds' '^agree +2 of 2$'

# as ONNX: the imported file gives the bits of the .nnrt file
t 0 'quantize to ONNX' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.onnx"
prints 'quantize to ONNX' '^.*/q8.onnx  [0-9]+ bytes$'
t 0 'quantize, for comparison' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.nnrt"
for f in onnx nnrt; do
    t 0 "run of the .$f file" run "$tmp/q8.$f" --input $digits/digit_3.png --device reference --output-dir "$tmp/q_$f"
done
if cmp -s "$tmp/q_onnx/probabilities.npy" "$tmp/q_nnrt/probabilities.npy"; then pass; else fail 'quantize to ONNX: other bits'; fi
t 0 'info of the ONNX file' info "$tmp/q8.onnx" --json
py 'info of the ONNX file' "d['operators']['CONV2D_FUSION'] == 3 and 'float32' not in d['weights']"
t 0 'info of the ONNX file, not optimized' convert "$tmp/q8.onnx" "$tmp/plain.nnrt" --no-optimize
rm -f "$tmp/q8.onnx"
t 0 'quantize to ONNX with uint8, one scale for each weight tensor, and a node in float32' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.onnx" --uint8 --without channels,bias --keep "$tmp/keep.txt"
prints 'quantize to ONNX with options' '^nodes +9 of 10'
rm -f "$tmp/q8.onnx"
refused 1 'quantize a .nnrt file to ONNX' 'an ONNX file is made of an ONNX file; write a .nnrt file' quantize "$tmp/plain.nnrt" --data "$tmp/q" -o "$tmp/q8.onnx"
t 0 'quantize to ONNX with 8-bit inputs and outputs' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.onnx" --int8-io
silent 'quantize to ONNX with 8-bit inputs and outputs'
t 0 'info of the ONNX file with 8-bit inputs and outputs' info "$tmp/q8.onnx" --json
py 'info of the ONNX file with 8-bit inputs and outputs' "d['inputs'][0]['type'] == d['outputs'][0]['type'] == 'int8' and d['metadata']['input.image.quantize'] == 'yes' and d['operators']['SOFTMAX'] == 1 and len(d['operators']) == 5"
t 0 'run of the ONNX file with 8-bit inputs, .png' run "$tmp/q8.onnx" --input $digits/digit_3.png --device reference --output-dir "$tmp/q_png"
py 'the bits of float32 inputs and outputs' "(np.load(F + 'q_png/probabilities.npy').astype(np.float32) + 128).tobytes() == (np.load(F + 'q_onnx/probabilities.npy') * 256).tobytes()"
py 'a real image' "np.save(F + 'real.npy', np.linspace(0, 1, 784, dtype=np.float32).reshape(1, 1, 28, 28)) is None and np.save(F + 'codes.npy', (np.rint(np.load(F + 'real.npy') * np.float32(255)) - 128).astype(np.int8)) is None"
for f in real codes; do t 0 "run of the ONNX file with 8-bit inputs, $f" run "$tmp/q8.onnx" --input "$tmp/$f.npy" --output-dir "$tmp/q_$f"; done
if cmp -s "$tmp/q_real/probabilities.npy" "$tmp/q_codes/probabilities.npy"; then pass; else fail 'quantize --int8-io: real values are not quantized'; fi
rm -f "$tmp/q8.onnx"
printf 'CONV2D_FUSION\nSOFTMAX\nMAX_POOL_FUSION\n' >"$tmp/ends.txt"
t 0 'quantize to ONNX, float32 at the ends' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.onnx" --int8-io --uint8 --keep "$tmp/keep.txt"
says 'an output stays float32' "note: --int8-io: output 'probabilities' stays float32: no quantized operator writes it"
rm -f "$tmp/q8.onnx"
t 1 'quantize to ONNX, no 8-bit inputs' quantize $digits/digits.onnx --data "$tmp/q" -o "$tmp/q8.onnx" --int8-io --keep "$tmp/ends.txt"
says 'quantize to ONNX, no 8-bit inputs' '^nnrt: --int8-io: all inputs and outputs of .* stay float32$'
py 'an older operator set' "open(F + 'old.onnx', 'wb').write(open('examples/digits/digits.onnx', 'rb').read().replace(b'\\x42\\x04\\x0a\\x00\\x10\\x11', b'\\x42\\x04\\x0a\\x00\\x10\\x0c')) > 0"
t 1 'quantize an older operator set to ONNX' quantize "$tmp/old.onnx" --data "$tmp/q" -o "$tmp/q8.onnx"
says 'quantize an older operator set to ONNX' 'its operator set is below 13'
if [ -e "$tmp/q8.onnx" ]; then fail 'quantize to ONNX: a file was written'; else pass; fi

# ---- accuracy ----

t 0 'accuracy' accuracy $digits/digits.onnx $digits/digits_int8.onnx --data "$tmp/q" --labels "$tmp/classes.txt"
prints 'accuracy: samples' '^samples +10 of 10 classes$'
prints 'accuracy: top 1' '^top 1 +100.00 %, 10$'
prints 'accuracy: agreement' '^agree +10 of 10$'
silent 'accuracy'
printf '%s\n' 0 1 2 3 4 5 6 7 9 9 >"$tmp/wrong.txt"
t 0 'accuracy, a wrong label' accuracy $digits/digits.onnx --data "$tmp/q" --labels "$tmp/wrong.txt"
prints 'accuracy, a wrong label' '^top 1 +90.00 %, 9$'
prints 'accuracy: confusion' '^confused +9 as 8: 1$'
py 'classes as integers' "np.save(F + 'classes.npy', np.arange(10)) is None"
t 0 'accuracy --json' accuracy $digits/digits.onnx --data "$tmp/q" --labels "$tmp/classes.npy" --json --samples 4
py 'accuracy --json' "d['samples'] == 4 and d['classes'] == 10 and d['models'][0]['top1'] == 4 and d['models'][0]['top5'] == 4"
refused 2 'accuracy without labels' 'expected --labels FILE once' accuracy $digits/digits.onnx --data "$tmp/q"
echo 'digit_1.png 10' >"$tmp/bad.txt"
refused 1 'accuracy, no such class' "line 1 has class '10', expected 0 to 9 or a label of the model" accuracy $digits/digits.onnx --data "$tmp/q" --labels "$tmp/bad.txt"
echo 'other.png 1' >"$tmp/bad.txt"
refused 1 'accuracy, no such file' "line 1 names 'other.png', which is no file in" accuracy $digits/digits.onnx --data "$tmp/q" --labels "$tmp/bad.txt"
echo 1 >"$tmp/bad.txt"
refused 1 'accuracy, too few labels' 'has no class from 0 to 9 for sample 1' accuracy $digits/digits.onnx --data "$tmp/q" --labels "$tmp/bad.txt"

# ---- batch: tests/tools/batch_test.py kills it ----

for i in 0 1 2 3 4 5 6 7 8 9; do t 0 "run of picture $i" run $digits/digits.onnx --input "$tmp/q/digit_$i.png" --output-dir "$tmp/q_run$i"; done
b() { # STATUS NAME OUTPUT ARGUMENTS...
    status=$1
    label=$2
    folder=$3
    shift 3
    t "$status" "batch, $label" batch $digits/digits.onnx --output "$tmp/$folder" "$@"
}
no() { # STATUS NAME PATTERN OUTPUT ARGUMENTS...: refused
    status=$1
    label=$2
    pattern=$3
    folder=$4
    shift 4
    refused "$status" "batch, $label" "$pattern" batch $digits/digits.onnx --output "$tmp/$folder" "$@"
}
b 0 'a folder' b_folder --input "$tmp/q"
prints 'batch: samples' '^samples +10 in 10 chunks$'
prints 'batch: outputs' 'b_folder/probabilities.npy  float32\[10,10\]$'
silent 'batch'
py 'batch: rows as those of run' "all(np.array_equal(np.load(F + 'b_folder/probabilities.npy')[i:i + 1], np.load(F + 'q_run%d/probabilities.npy' % i)) for i in range(10))"
py 'batch: names' "open(F + 'b_folder/names.txt').read() == ''.join(F + 'q/digit_%d.png\n' % i for i in range(10))"
py 'batch: no other files' "sorted(os.listdir(F + 'b_folder')) == ['batch.txt', 'names.txt', 'probabilities.npy']"
b 0 'again' b_folder --input "$tmp/q" --jobs 2
prints 'batch, again' '^computed +0 now, 10 before$'
b 0 'processes, other chunks' b_jobs --input "$tmp/q" --jobs 3 --chunk 3
if cmp -s "$tmp/b_jobs/probabilities.npy" "$tmp/b_folder/probabilities.npy"; then pass; else fail 'batch: --jobs and --chunk change the bytes'; fi
printf '%s\r\n' "$tmp/q/digit_9.png" "$tmp/q/digit_1.png" >"$tmp/list.txt"
b 0 'a list' b_list --input "$tmp/list.txt"
py 'batch: a list has an order' "np.array_equal(np.load(F + 'b_list/probabilities.npy'), np.load(F + 'b_folder/probabilities.npy')[[9, 1]])"
py 'samples as arrays and as text' "np.save(F + 'rows.npy', np.random.default_rng(1).random((7, 1, 28, 28), np.float32)) is None and np.savetxt(F + 'rows.csv', np.load(F + 'rows.npy').reshape(7, -1), '%.9g', delimiter=',', header='a,b', comments='') is None and np.savetxt(F + 'tabs.csv', np.load(F + 'rows.npy').reshape(7, -1), '%.9g', delimiter='\t') is None"
b 0 'an array' b_rows --input "$tmp/rows.npy" --chunk 2
for f in rows tabs; do
    b 0 "a table, $f" "b_$f.csv" --input "$tmp/$f.csv"
    if cmp -s "$tmp/b_$f.csv/probabilities.npy" "$tmp/b_rows/probabilities.npy"; then pass; else fail "batch: $f.csv and rows.npy give different rows"; fi
done
b 0 'some samples' b_some --input "$tmp/rows.npy" --samples 5
py 'batch --samples' "np.array_equal(np.load(F + 'b_some/probabilities.npy'), np.load(F + 'b_rows/probabilities.npy')[:5])"
t 0 'batch, real values for 8-bit inputs' batch "$tmp/q8.nnrt" --input "$tmp/q" --output "$tmp/b_int8"
t 0 'quantize, samples as text' quantize $digits/digits.onnx --data "$tmp/rows.csv" -o "$tmp/text.nnrt"
t 0 'quantize, samples as an array' quantize $digits/digits.onnx --data "$tmp/rows.npy" -o "$tmp/array.nnrt"
if cmp -s "$tmp/text.nnrt" "$tmp/array.nnrt"; then pass; else fail 'quantize: samples as text and as an array give different models'; fi
# batches: x[n,3]; y = -x is a row for each of x, the transposed x is none
py 'a dynamic batch' "model(F + 'neg.onnx', [node('Neg', ['x'], ['y'])], [value('x', 'float32', ['n', 3])], [value('y', 'float32', ['n', 3])]) is None and np.save(F + 'eleven.npy', np.arange(33, dtype='float32').reshape(11, 3)) is None"
for n in 1 4 11 20; do
    t 0 "batch --batch $n" batch "$tmp/neg.onnx" --input "$tmp/eleven.npy" --batch $n --output "$tmp/b_neg$n"
    py "batch --batch $n" "same(np.load(F + 'b_neg$n/y.npy'), -np.load(F + 'eleven.npy'))"
done
t 0 'batch, rows with another shape' batch "$tmp/open.onnx" --input "$tmp/eleven.npy" --output "$tmp/b_open"
py 'batch, rows with another shape' "same(np.load(F + 'b_open/y.npy'), np.load(F + 'eleven.npy').reshape(11, 3, 1))"
refused 1 'batch --batch, no rows' "the first dimension of output 'y' is not that of the inputs" batch "$tmp/open.onnx" --input "$tmp/eleven.npy" --batch 3 --output "$tmp/b_no"
no 1 '--batch of a fixed model' "--batch 2: input 'image' is float32\[1,1,28,28\], its first dimension is not 2" b_no --input "$tmp/q" --batch 2
refused 1 'batch, dynamic dimensions' "input 'x' is float32\[\?,\?,\?,3\]: give its dynamic dimensions .* with --shape x=D,D" batch "$tmp/last.onnx" --input "$tmp/q" --output "$tmp/b_no"
refused 1 'batch, rows of different sizes' "output 'n' is int64\[2,.*: its rows would have different sizes" batch "$tmp/many.onnx" --shape 1000,1250 --input "$tmp/many.npy" --output "$tmp/b_no"
# samples
no 2 'no samples' '--input PATH is missing' b_no
refused 2 'batch, no folder' '--output DIR is missing' batch $digits/digits.onnx --input "$tmp/q"
no 1 'a missing file' 'cannot open .*/none: No such file' b_no --input "$tmp/none"
mkdir "$tmp/no-samples"
no 1 'an empty folder' '/no-samples has no samples: expected .npy' b_no --input "$tmp/no-samples"
no 1 'a wrong shape' "eleven.npy is float32\[11,3\], input 'image' takes float32\[1,1,28,28\]" b_no --input "$tmp/eleven.npy"
refused 1 'batch, a damaged model' 'cannot load .*list.txt' batch "$tmp/list.txt" --input "$tmp/q" --output "$tmp/b_no"
printf '1,2\n1\n' >"$tmp/short.csv"
no 1 'a short line' 'short.csv: line 1 lacks a number in column 3 .* expected 784 numbers' b_no --input "$tmp/short.csv"
printf 'a,b,c\n1,2,3\n4,x,6\n' >"$tmp/word.csv"
refused 1 'batch, a word' 'word.csv: line 3 lacks a number in column 2' batch "$tmp/neg.onnx" --input "$tmp/word.csv" --output "$tmp/b_no"
printf '\357\273\277"a",b,c\n1,nan,3\n' >"$tmp/mark.csv"
t 0 'batch, a byte order mark' batch "$tmp/neg.onnx" --input "$tmp/mark.csv" --output "$tmp/b_mark"
py 'batch, a byte order mark' "np.array_equal(np.load(F + 'b_mark/y.npy'), np.array([[-1, np.nan, -3]], np.float32), equal_nan=True)"
printf ',2,3\n4,5,6\n' >"$tmp/gap.csv"
refused 1 'batch, a missing number in the first line' 'gap.csv: line 1 lacks a number in column 1' batch "$tmp/neg.onnx" --input "$tmp/gap.csv" --output "$tmp/b_no"
printf '1,2,3,4\n' >"$tmp/long.csv"
refused 1 'batch, a long line' 'long.csv: line 1 .* has more columns, expected 3 numbers' batch "$tmp/neg.onnx" --input "$tmp/long.csv" --output "$tmp/b_no"
printf '' >"$tmp/empty.csv"
refused 1 'batch, an empty table' 'empty.csv: it has 0 lines' batch "$tmp/neg.onnx" --input "$tmp/empty.csv" --output "$tmp/b_no"
py 'integers' "model(F + 'bytes.onnx', [node('Identity', ['x'], ['y'])], [value('x', 'uint8', [1, 2])], [value('y', 'uint8', [1, 2])]) is None"
printf '1,2\n3,255\n' >"$tmp/fit.csv"
t 0 'batch, integers as text' batch "$tmp/bytes.onnx" --input "$tmp/fit.csv" --output "$tmp/b_bytes"
py 'batch, integers as text' "same(np.load(F + 'b_bytes/y.npy'), np.array([[1, 2], [3, 255]], np.uint8))"
printf '1,2\n3,256\n' >"$tmp/fit.csv"
refused 1 'batch, an integer that does not fit' 'fit.csv: line 2 has 256 in column 2, which uint8 cannot hold' batch "$tmp/bytes.onnx" --input "$tmp/fit.csv" --output "$tmp/b_no"
echo "$tmp/none.png" >"$tmp/list.txt"
no 1 'a list with a missing file' "list.txt names '.*none.png', which is no .npy" b_no --input "$tmp/list.txt"
cp -R "$tmp/q" "$tmp/damaged"
head -c 60 "$tmp/q/digit_3.png" >"$tmp/damaged/digit_3.png"
no 1 'a damaged picture' 'damaged/digit_3.png: it is cut short or damaged' b_skip --input "$tmp/damaged"
b 0 'a damaged picture, skipped' b_skip --input "$tmp/damaged" --skip-bad
py 'batch --skip-bad' "np.array_equal(np.isnan(np.load(F + 'b_skip/probabilities.npy')).all(1), np.arange(10) == 3)"
py 'batch --skip-bad: the others' "np.array_equal(np.delete(np.load(F + 'b_skip/probabilities.npy'), 3, 0), np.delete(np.load(F + 'b_folder/probabilities.npy'), 3, 0))"
py 'batch --skip-bad: the list' "open(F + 'b_skip/bad.txt').read() == '3\t' + F + 'damaged/digit_3.png\n'"
# where results go
no 1 'other chunks' "the results there are of 'chunk 1', this command has 'chunk 2'; repeat that command" b_folder --input "$tmp/q" --chunk 2
no 1 'other samples' "the results there are of 'samples 10, .*', this command has 'samples 7, " b_folder --input "$tmp/rows.npy"
no 1 'other options' "the results there are of 'options', this command has 'options --invert'" b_folder --input "$tmp/q" --invert
refused 1 'batch, another model' "the results there are of 'model [0-9a-f]{16}', this command has 'model [0-9a-f]{16}'" batch $digits/digits_int8.onnx --input "$tmp/q" --output "$tmp/b_folder"
mkdir "$tmp/foreign"
cp "$tmp/rows.npy" "$tmp/foreign/probabilities.npy"
no 1 'results of others' 'foreign has results and no batch.txt' foreign --input "$tmp/q"
no 2 'results among the samples' 'the results would become samples; give another --output' q --input "$tmp/q/."
no 1 'a file for a folder' 'cannot write to .*/rows.npy: it is not a folder' rows.npy --input "$tmp/q"
no 1 'a folder that cannot be made' 'cannot create the folder .*/rows.npy/x: Not a directory' rows.npy/x --input "$tmp/q"
# shards
for shard in 3/3 -1/2 1 1/0 1/2/3 /2 1/; do no 2 "--shard $shard" "--shard $shard: " b_no --input "$tmp/q" "--shard=$shard"; done
no 2 '--shard env without' 'none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and PARALLEL_SEQ is set' b_no --input "$tmp/q" --shard env
no 2 '--shard and --merge' '--merge joins the chunks of all shards; omit --shard' b_no --input "$tmp/q" --shard 0/2 --merge
no 1 '--merge of nothing' 'has no batch.txt: nothing was computed there' b_none --input "$tmp/q" --merge
b 0 'a shard' b_shard --input "$tmp/q" --shard 1/3
prints 'batch --shard' '^computed +3 now, 0 before$'
no 1 '--merge too early' 'b_shard lacks 7 of 10 chunks' b_shard --input "$tmp/q" --merge
b 0 'the other shard' b_shard --input "$tmp/q" --shard 2/3
printf 'x' >"$tmp/b_shard/chunks/probabilities.000000.npy"
b 0 'the first shard' b_shard --input "$tmp/q" --shard 0/3
no 1 '--merge of a damaged chunk' 'probabilities.000000.npy is not the file that was written there; remove it and run' b_shard --input "$tmp/q" --merge
rm "$tmp/b_shard/chunks/probabilities.000000.npy"
b 0 'what is missing' b_shard --input "$tmp/q"
prints 'batch, what is missing' '^computed +1 now, 9 before$'
if cmp -s "$tmp/b_shard/probabilities.npy" "$tmp/b_folder/probabilities.npy"; then pass; else fail 'batch: --shard changes the bytes'; fi
# processes
no 2 '--jobs and --threads' '--jobs excludes --threads and --performance' b_no --input "$tmp/q" --jobs 2 --threads 2
no 2 '--jobs and another device' '--jobs is not for device ' b_no --input "$tmp/q" --jobs 2 --device fake:name=npu
no 1 'a damaged picture, processes' 'damaged/digit_3.png: it is cut short or damaged' b_wrong --input "$tmp/damaged" --jobs 2

echo "$passed passed, $failed failed$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")"
[ "$failed" -eq 0 ]
