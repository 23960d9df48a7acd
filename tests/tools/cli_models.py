"""Models and data of the suites of the command line, tests/tools/test_cli_*.sh: ONNX, PNG and WAV files, written byte by byte,
so that no package but numpy is needed. cli_judge.py calls the functions that a script names, after common."""
import os
import struct
import sys
import zlib

import numpy as np

F = os.path.join(sys.argv[1], '')
TYPES = {'float32': 1, 'uint8': 2, 'int8': 3, 'uint16': 4, 'int16': 5, 'int32': 6, 'int64': 7, 'bool': 9, 'float16': 10,
         'float64': 11, 'uint32': 12, 'uint64': 13}


def load(name):
    return np.load(F + name)


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


def real(field, v):
    return varint(field << 3 | 5) + struct.pack('<f', v)


def tensor(a, name=''):
    a = np.asarray(a)
    return b''.join(num(1, n) for n in a.shape) + num(2, TYPES[a.dtype.name]) + (sub(8, name) if name else b'') + sub(9, a.tobytes())


def value(name, dtype, dims):
    dim = b''.join(sub(1, b'' if n is None else sub(2, n) if isinstance(n, str) else num(1, n)) for n in dims)
    return sub(1, name) + sub(2, sub(1, num(1, TYPES[dtype]) + sub(2, dim)))


def around(kind, what):
    """A value whose type is a sequence (kind 4) or an optional value (9) of this one's."""
    name, end = 2 + what[1], what[2 + what[1]:]
    return what[:name] + sub(2, sub(kind, sub(1, end[2:])))


def node(op, inputs, outputs, **attr):
    out = b''.join(sub(1, i) for i in inputs) + b''.join(sub(2, o) for o in outputs) + sub(4, op)
    for k, v in attr.items():
        out += sub(5, sub(1, k) + (real(2, v) + num(20, 1) if isinstance(v, float) else
                                   b''.join(real(7, f) for f in v) + num(20, 6) if isinstance(v, list) and isinstance(v[0], float) else
                                   b''.join(num(8, i) for i in v) + num(20, 7) if isinstance(v, (list, tuple)) else
                                   sub(4, v) + num(20, 3) if isinstance(v, str) else num(3, v) + num(20, 2)))
    return out


def model(path, nodes, inputs, outputs, constants=(), props=(), opset=13, more=b'', ir=8):
    graph = b''.join(sub(1, n) for n in nodes) + sub(2, 'test') + b''.join(sub(5, c) for c in constants)
    graph += b''.join(sub(11, v) for v in inputs) + b''.join(sub(12, v) for v in outputs)
    props = b''.join(sub(14, sub(1, k) + sub(2, v)) for k, v in props)
    open(path, 'wb').write(num(1, ir) + sub(7, graph) + sub(8, num(2, opset)) + props + more)


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


# ---- the files ----


def common():
    """Small models, and arrays for them."""
    model(F + 'open.onnx', [node('Transpose', ['x'], ['y'], perm=[1, 0])], [value('x', 'float32', ['n', 3])], [value('y', 'float32', [3, 'n'])])
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
    model(F + 'signs.onnx', [node('Relu', ['<b>&\''], ['"<y>"'])], [value('<b>&\'', 'float32', [2])], [value('"<y>"', 'float32', [2])])
    model(F + 'filled.onnx', [node('ConstantOfShape', ['shape'], ['y'])], [value('shape', 'int64', [2])], [value('y', 'float32', ['a', 'b'])])
    model(F + 'two.onnx', [node('Add', ['a', 'b'], ['sum/out']), node('Sub', ['a', 'b'], ['sum:out'])],
          [value('a', 'float32', [2, 2]), value('b', 'float32', [2, 2])], [value('sum/out', 'float32', [2, 2]), value('sum:out', 'float32', [2, 2])])
    names = ['A', 'a', '.b', "{c}, 'd'", 'e\u00e9', 'A_2', 'e' * 250, 'e' * 251]
    model(F + 'names.onnx', [node('Transpose', ['x'], [n], perm=[1, 0]) for n in names], [value('x', 'float32', [1, 2])],
          [value(n, 'float32', [2, 1]) for n in names])
    model(F + 'quote.onnx', [node('Add', ['a"\\\u00e9\n', 'a"\\\u00e9\n'], ['out'])], [value('a"\\\u00e9\n', 'float32', [2])], [value('out', 'float32', [2])])
    model(F + 'divide.onnx', [node('Div', ['a', 'b'], ['y'])], [value('a', 'int32', [64]), value('b', 'int32', [64])], [value('y', 'int32', [64])])
    model(F + 'sqrt.onnx', [node('Sqrt', ['x'], ['y'])], [value('x', 'float32', [4])], [value('y', 'float32', [4])])
    model(F + 'gather.onnx', [node('Gather', ['t', 'i'], ['y'], axis=0)], [value('i', 'int64', [2])], [value('y', 'float32', [2])],
          [tensor(np.array([10, 20, 30], 'float32'), 't')])
    model(F + 'shape.onnx', [node('Reshape', ['x', 'shape'], ['y'])], [value('x', 'float32', ['n', 3]), value('shape', 'int64', [2])],
          [value('y', 'float32', ['a', 'b'])])
    model(F + 'fill.onnx', [node('ConstantOfShape', ['shape'], ['y']), node('Neg', ['x'], ['n'])], [value('x', 'float32', [4]), value('shape', 'int64', [2])],
          [value('y', 'float32', ['a', 'b']), value('n', 'float32', [4])])
    model(F + 'rank.onnx', [node('Neg', ['x'], ['y'])], [sub(1, 'x') + sub(2, sub(1, num(1, 1)))], [sub(1, 'y') + sub(2, sub(1, num(1, 1)))])
    model(F + 'string.onnx', [node('Identity', ['x'], ['y'])], [sub(1, 'x') + sub(2, sub(1, num(1, 8) + sub(2, b'')))], [sub(1, 'y') + sub(2, sub(1, num(1, 8)))])
    model(F + 'units.onnx', [node('QuantizeLinear', ['x', 's', 'z'], ['q']), node('DequantizeLinear', ['q', 's', 'z'], ['d']),
                             node('Transpose', ['d'], ['t'], perm=[1, 0]), node('QuantizeLinear', ['t', 's', 'z'], ['y'])],
          [value('x', 'float32', [2, 3])], [value('y', 'int8', [3, 2])], [tensor(np.array(0.5, 'float32'), 's'), tensor(np.array(3, 'int8'), 'z')])
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
    np.save(F + 'deep.npy', np.zeros((1,) * 9, 'float32'))
    np.save(F + 'shape.npy', np.array([3, 5]))
    np.save(F + 'tenth.npy', np.full(2, 0.1, dtype='float32'))
    np.save(F + 'one2.npy', np.ones(2, dtype='float32'))
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


def turns():
    """A model for each element type, and an array for it in each kind of file."""
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


def tflite():
    """Arrays for tests/formats/tflite/model.py."""
    images = np.arange(-9, 9, dtype=np.int8).reshape(2, 3, 3, 1)
    for name, a in ('batch2', images), ('first', images[:1]), ('second', images[1:]):
        np.save(F + name + '.npy', a)
    np.save(F + 'rows4.npy', np.arange(-6, 6, dtype='float32').reshape(4, 1, 3))


def large():
    """Results of 20,000,000 bytes, 16 MiB of constants, bounds that no memory has."""
    model(F + 'wide.onnx', [node('Unsqueeze', ['x', 'axes'], ['y'])], [value('x', 'float32', [30, 40, 50]), value('axes', 'int64', [3])],
          [value('y', 'float32', [1, 30, 40, 1, 50, 1])])  # bounded by 60000 in each of six axes
    np.save(F + 'axes.npy', np.array([0, 3, 5]))
    model(F + 'many.onnx', [node('NonZero', ['x'], ['n']), node('Transpose', ['n'], ['t'], perm=[1, 0])],
          [value('x', 'float32', ['h', 1250])], [value('n', 'int64', [2, 'k']), value('t', 'int64', ['k', 2])])
    np.save(F + 'many.npy', np.ones((1000, 1250), dtype='float32'))  # 20,000,000 bytes a result, twice
    model(F + 'table.onnx', [node('Gather', ['t', 'i'], ['y'], axis=0)], [value('i', 'int64', [2])], [value('y', 'float32', [2, 1024])],
          [tensor(np.zeros((4096, 1024), 'float32'), 't')])


def labels():
    """Scores of 3 classes at 2 places, and a plain output; the second with metadata_props, one key of them twice."""
    scores = [node('Transpose', ['x'], ['s'], perm=[0, 2, 1]), node('Neg', ['x'], ['n'])]
    for name, props in (('scores', ()), ('props', (('labels', 'a\nb\nc'), ('author', 'somebody'), ('author', 'else'), ('', 'x'), ('input.x.mean', '1')))):
        model(F + name + '.onnx', scores, [value('x', 'float32', [1, 2, 3])], [value('s', 'float32', [1, 3, 2]), value('n', 'float32', [1, 2, 3])], props=props)
    model(F + 'comma.onnx', scores, [value('x', 'float32', [1, 2, 3])], [value('s', 'float32', [1, 3, 2]), value('n', 'float32', [1, 2, 3])], props=[('labels', 'a,b,c')])
    np.save(F + 'scores.npy', np.array([[[1, 5, 2], [6, 3, 4]]], 'float32'))
    open(F + 'three.txt', 'wb').write('cat\r\n\x1b[1mdog\r\nfo\u00e9l\r\n'.encode())
    open(F + 'four.txt', 'wb').write(b'a\n\nc\nd')
    open(F + 'zero.txt', 'wb').write(b'a\0b\n')
    open(F + 'none.txt', 'wb').write(b'\n\n')


def images():
    """Pixels as PNG files and arrays, and models that transpose them."""
    model(F + 'nchw.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 2, 3, 1])], [value('x', 'float32', [1, 3, 4, 6])], [value('y', 'float32', [1, 4, 6, 3])])
    model(F + 'nhwc.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 3, 1, 2])], [value('x', 'float32', [1, 4, 6, 3])], [value('y', 'float32', [1, 3, 4, 6])])
    model(F + 'last.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 3, 1, 2])], [value('x', 'float32', ['n', 'h', 'w', 3])], [value('y', 'float32', ['n', 3, 'h', 'w'])])
    model(F + 'channels.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 2, 3, 1])], [value('x', 'float32', ['n', 'c', 'h', 'w'])],
          [value('y', 'float32', ['n', 'h', 'w', 'c'])])
    model(F + 'gray.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 2, 1])], [value('x', 'float32', [1, 'h', 'w'])], [value('y', 'float32', [1, 'w', 'h'])])
    model(F + 'rgba.onnx', [node('Transpose', ['x'], ['y'], perm=[1, 2, 0])], [value('x', 'uint8', [4, 'h', 'w'])], [value('y', 'uint8', ['h', 'w', 4])])
    model(F + 'int8.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 2, 3, 1])], [value('x', 'int8', ['n', 3, 'h', 'w'])], [value('y', 'int8', ['n', 'h', 'w', 3])])
    g = np.random.RandomState(1)
    for name, shape in (('rgb', (4, 6, 3)), ('large', (13, 9, 3)), ('rgba', (4, 6, 4)), ('grey', (5, 7))):
        np.save(F + name + '_pixels.npy', g.randint(0, 256, shape).astype('uint8'))
        png(F + name + '.png', load(name + '_pixels.npy'))
    open(F + 'photo.ppm', 'wb').write(b'P6\n6 4\n255\n' + load('rgb_pixels.npy').tobytes())
    model(F + 'anysize.onnx', [node('Transpose', ['x'], ['y'], perm=[0, 2, 3, 1])], [value('x', 'float32', [1, 3, 'h', 'w'])], [value('y', 'float32', [1, 'h', 'w', 3])])
    open(F + 'broken.png', 'wb').write(open(F + 'rgb.png', 'rb').read()[:60])


def vast():
    """PNG files that are small, and their pixels are not."""
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


def external():
    """Constants in other files: below the model's folder, outside of it, by links, in pipes."""
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


def shapes():
    """Models with dynamic dimensions, with and without names, and an IF whose branches need different sizes."""
    def filled(name, *shape):
        return tensor(np.ones(shape, 'float32'), name)
    def branch(name, body, out):
        return sub(5, sub(1, name) + sub(6, sub(1, body) + sub(2, name) + sub(12, value(out, 'float32', [1, None]))) + num(20, 5))
    model(F + 'image.onnx', [node('Conv', ['x', 'w'], ['y'])], [value('x', 'float32', ['batch', 3, 'height', 'width'])],
          [value('y', 'float32', ['batch', 4, 'h', 'w'])], [filled('w', 4, 3, 3, 3)])
    model(F + 'wave.onnx', [node('MatMul', ['x', 'w'], ['y'])], [value('x', 'float32', ['N', 'samples'])], [value('y', 'float32', ['N', 2])], [filled('w', 512, 2)])
    model(F + 'named.onnx', [node('Relu', ['x'], ['y'])], [value('x', 'float32', [2, "it's; $h"])], [value('y', 'float32', [2, None])])
    model(F + 'tensors.onnx', [node('ConcatFromSequence', ['x'], ['c'], axis=0), node('OptionalHasElement', ['o'], ['h']), node('Identity', ['x'], ['y'])],
          [around(4, value('x', 'float32', ['n'])), around(9, value('o', 'float32', [2]))],
          [value('c', 'float32', ['m']), value('h', 'bool', []), around(4, value('y', 'float32', ['n']))], opset=17)
    model(F + 'plain.onnx', [node('Add', ['a b', 'c'], ['y'])], [value('a b', 'float32', [2, None]), value('c', 'float32', [2, None])], [value('y', 'float32', [2, None])])
    model(F + 'pair.onnx', [node('Add', ['a', 'b'], ['y'])], [value('a', 'float32', [3, 't']), value('b', 'float32', [3, 't'])], [value('y', 'float32', [3, 't'])])
    model(F + 'seven.onnx', [node('MatMul', ['x', 'w'], ['y'])], [value('x', 'float32', ['N', 'k'])], [value('y', 'float32', ['N', 2])], [filled('w', 7, 2)])
    model(F + 'parts.onnx', [node('SplitToSequence', ['x'], ['s'], axis=2), node('ConcatFromSequence', ['s'], ['y'], axis=2)],
          [value('x', 'float32', ['N', 1, 't'])], [value('y', 'float32', ['N', 1, None])])
    model(F + 'list.onnx', [node('Neg', ['x'], ['y'])], [value('x', 'float32', ['length'])], [value('y', 'float32', ['length'])])
    model(F + 'types.onnx', [node('Identity', [n], [n + '_out']) for n in 'bius'],
          [value(n, t, [2]) for n, t in (('b', 'bool'), ('i', 'int8'), ('u', 'uint64'), ('s', 'float16'))],
          [value(n + '_out', t, [2]) for n, t in (('b', 'bool'), ('i', 'int8'), ('u', 'uint64'), ('s', 'float16'))])
    for name, first, second in (('branch', ['x'], ['x', 'w']), ('branch2', ['x', 'w'], ['x'])):
        bodies = [node('Relu' if len(i) == 1 else 'MatMul', i, [o]) for i, o in ((first, 't'), (second, 'e'))]
        model(F + name + '.onnx', [node('Equal', ['sr', 'rate'], ['c']), node('If', ['c'], ['y']) + branch('then_branch', bodies[0], 't') + branch('else_branch', bodies[1], 'e')],
              [value('x', 'float32', [1, 'n']), value('sr', 'int64', [])], [value('y', 'float32', [1, None])], [tensor(np.int64(16000), 'rate'), filled('w', 4, 2)])
    np.save(F + 'eight.npy', np.arange(-3, 5, dtype='float32').reshape(1, 8))
    np.save(F + 'quad.npy', np.arange(4, dtype='float32').reshape(1, 4))


def imports():
    """What the importer counts, cuts, changes or refuses."""
    # 16384 floats, doubled ten times: 64 MiB from a few hundred bytes
    model(F + 'bomb.onnx', [node('ConstantOfShape', ['s'], ['c0'])] + [node('Concat', ['c%d' % i] * 2, ['c%d' % (i + 1)], axis=0) for i in range(10)] +
          [node('ReduceSum', ['c10'], ['r']), node('Add', ['x', 'r'], ['y'])], [value('x', 'float32', [1])], [value('y', 'float32', [1])],
          [tensor(np.array([16384], 'int64'), 's')])
    for name, count in (('names1000', 1000), ('names4000', 4000)):
        model(F + name + '.onnx', [node('Neg', ['x0'], ['y'])], [value('x%d' % i, 'float32', ['n', 3]) for i in range(count)], [value('y', 'float32', ['n', 3])])
    model(F + 'newer.onnx', [node('Relu', ['x'], ['a']), node('Neg', ['a'], ['y'])], [value('x', 'float32', [1])], [value('y', 'float32', [1])], opset=29)
    model(F + 'fly.onnx', [node('StringConcat', ['x'], ['a']) + sub(3, 'one'), node('Fly', ['x'], ['b']), node('StringConcat', ['x'], ['c']) + sub(3, 'two'),
                           node('ZipMap', ['x'], ['y']) + sub(7, 'ai.onnx.ml')], [value('x', 'float32', [1])], [value('y', 'float32', [1])])
    with open(F + 'fly.onnx', 'ab') as f:
        f.write(sub(2, 'torch') + sub(3, '2.3'))
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
    os.makedirs(F + 'cutset')
    open(F + 'cutset/input_0.pb', 'wb').write(tensor(load('four.npy'), 'x'))
    open(F + 'cutset/output_0.pb', 'wb').write(tensor(np.maximum(load('four.npy'), 0), 'r'))
    one, zero = tensor(np.array(0.5, 'float32'), 's'), tensor(np.array(3, 'uint8'), 'z')
    model(F + 'qdq.onnx', [node('QuantizeLinear', ['x', 's', 'z'], ['q']), node('DequantizeLinear', ['q', 's', 'z'], ['d']), node('Mul', ['d', 'd'], ['m']),
                           node('QuantizeLinear', ['m', 's', 'z'], ['p']), node('DequantizeLinear', ['p', 's', 'z'], ['y'])],
          [value('x', 'float32', [4])], [value('y', 'float32', [4])], [one, zero])
    model(F + 'upsample.onnx', [node('Upsample', ['x', 's'], ['y'])], [value('x', 'float32', [1, 1, 2, 2])], [value('y', 'float32', [1, 1, 4, 4])],
          [tensor(np.array([1, 1, 2, 2], 'float32'), 's')], opset=10)
    model(F + 'antialias.onnx', [node('Relu', ['x'], ['y'], antialias=1)], [value('x', 'float32', [1])], [value('y', 'float32', [1])])
    model(F + 'channels2.onnx', [node('Conv', ['x', 'w'], ['y'])], [value('x', 'float32', [1, 3, 8, 8])], [value('y', 'float32', [1, 4, 6, 6])],
          [tensor(np.ones((4, 2, 3, 3), 'float32'), 'w')])


def sounds():
    """WAV files of eight samples, and models for them."""
    samples = np.array([0, 1, -1, 32767, -32768, 300, -2, 256], '<i2')
    np.save(F + 'sound.npy', samples)

    def sound(name, n=8, kind=1, channels=1, bits=16, align=2, riff=None, data=None, before=b'', more=b''):
        """A WAV file of n samples; riff and data: the sizes that it states."""
        fmt = struct.pack('<HHIIHH', kind, channels, 16000, 16000 * align, align, bits) + more
        body = b'WAVE' + before + b'fmt ' + struct.pack('<I', len(fmt)) + fmt
        body += b'data' + struct.pack('<I', 2 * n if data is None else data) + samples[:n].tobytes()
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


def sets():
    """Test data: three valid sets (10 sorts after 2; a dynamic dimension), named tensors in the other order, then wrong ones."""
    os.makedirs(F + 'good')
    g = np.random.RandomState(2)
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


def batch():
    """Samples as rows: y = -x has a row for each of x."""
    model(F + 'neg.onnx', [node('Neg', ['x'], ['y'])], [value('x', 'float32', ['n', 3])], [value('y', 'float32', ['n', 3])])
    model(F + 'bytes.onnx', [node('Identity', ['x'], ['y'])], [value('x', 'uint8', [1, 2])], [value('y', 'uint8', [1, 2])])
    np.save(F + 'eleven.npy', np.arange(33, dtype='float32').reshape(11, 3))


def shared():
    """Constants and weights that several nodes read; a channel that is its bias alone."""
    rng = np.random.default_rng(1)
    x, y = value('x', 'float32', [1, 3, 8, 8]), value('y', 'float32', [1, 3, 8, 8])
    conv = lambda i, o, w: node('Conv', [i, w], [o], pads=[1] * 4)
    model(F + 'slope.onnx', [conv('x', 'a', 'w'), node('Mul', ['a', 'slope'], ['b']), conv('b', 'c', 'v'), node('Mul', ['c', 'slope'], ['y'])], [x], [y],
          [tensor(rng.standard_normal((3, 3, 3, 3)).astype('float32'), n) for n in 'wv'] + [tensor(np.array([[[0.5]], [[-1.25]], [[2]]], 'float32'), 'slope')])
    model(F + 'twins.onnx', [conv('x', 'a', 'w'), node('Relu', ['a'], ['b']), conv('b', 'y', 'w')], [x], [y],
          [tensor(rng.standard_normal((3, 3, 3, 3)).astype('float32'), 'w')])
    weights = rng.standard_normal((3, 3, 3, 3)).astype('float32') * np.array([1, 1e-30, 1], 'float32').reshape(3, 1, 1, 1)
    model(F + 'faint.onnx', [node('Conv', ['x', 'w', 'b'], ['y'], pads=[1] * 4)], [x], [y],
          [tensor(weights, 'w'), tensor(np.array([0.25, 1, -0.5], 'float32'), 'b')])
    np.save(F + 'eights.npy', rng.standard_normal((6, 3, 8, 8)).astype('float32'))


def old():
    """A model of operator sets 7, 9, 10 and 12: attributes that became inputs, and operators with another name or meaning."""
    rng = np.random.default_rng(7)
    noise = lambda *dims: rng.standard_normal(dims).astype('float32')
    data = {'w': noise(4, 3, 3, 3), 'v': noise(4, 4, 1, 1), 'scale': noise(4), 'bias': noise(4), 'mean': noise(4), 'var': np.abs(noise(4)) + 1,
            'lo': np.float32(0.0), 'hi': np.float32(6.0), 'pads': np.array([0, 0, 1, 1, 0, 0, 1, 1]), 'pad': np.float32(0.5), 'starts': np.array([1, 1]),
            'ends': np.array([9, 9]), 'axes': np.array([2, 3]), 'scales': np.array([1, 1, 2, 2], 'float32'), 'k': np.array([2]),
            'at': np.array([[[1], [0], [2]]]), 'new': noise(1, 3, 1)}
    x, y = [value('x', 'float32', [1, 3, 8, 8])], [value('y', 'float32', [1, 3, 2]), value('part', 'float32', [1, 1, 8, 8])]
    for s in 7, 9, 10, 12:
        nodes = [node('Conv', ['x', 'w'], ['a'], pads=[1] * 4),
                 node('BatchNormalization', ['a', 'scale', 'bias', 'mean', 'var'], ['b'], **({'spatial': 1} if s < 9 else {})),
                 node('Clip', ['b'], ['c'], min=0.0, max=6.0) if s < 11 else node('Clip', ['b', 'lo', 'hi'], ['c']),
                 node('Pad', ['c'], ['d'], pads=data['pads'].tolist(), value=0.5) if s < 11 else node('Pad', ['c', 'pads', 'pad'], ['d']),
                 node('Slice', ['d'], ['e'], starts=[1, 1], ends=[9, 9], axes=[2, 3]) if s < 10 else node('Slice', ['d', 'starts', 'ends', 'axes'], ['e']),
                 node('Upsample', ['e'], ['f'], scales=[1.0, 1.0, 2.0, 2.0]) if s < 9 else
                 node('Upsample' if s < 10 else 'Resize', ['e', 'scales'], ['f']) if s < 11 else node('Resize', ['e', '', 'scales'], ['f']),
                 node('MaxPool', ['f'], ['g'], kernel_shape=[2, 2], strides=[2, 2]), node('LogSoftmax', ['g'], ['h']), node('Conv', ['h', 'v'], ['i']),
                 node('Split', ['i'], ['part', 'j'], axis=1, split=[1, 3]), node('ReduceSum', ['j'], ['l'], axes=[3], keepdims=0),
                 node('Unsqueeze', ['l'], ['m'], axes=[3]), node('Squeeze', ['m'], ['n'], axes=[3]),
                 node('Dropout', ['n'], ['o'], ratio=0.25) if s < 12 else node('Dropout', ['n'], ['o']),
                 node('Identity', ['o'], ['q']) if s < 9 else node('Scatter' if s < 11 else 'ScatterElements', ['o', 'at', 'new'], ['q'], axis=2),
                 node('TopK', ['q'], ['y', 'which'], k=2, axis=2) if s < 10 else node('TopK', ['q', 'k'], ['y', 'which'], axis=2)]
        held = [tensor(a, n) for n, a in data.items()]
        old = [value(n, a.dtype.name, a.shape) for n, a in data.items()] if s < 9 else []  # IR version 3: initializers are inputs
        model(F + 'old%d.onnx' % s, nodes, x + old, y, held, opset=s, ir=3 if s < 9 else 6)
    constants = [sub(1, 'value') + sub(5, tensor(data[n])) + num(20, 4) for n in 'wv']
    model(F + 'old11.onnx', [sub(2, n) + sub(4, 'Constant') + sub(5, c) for n, c in zip('wv', constants)] +
          [node('Conv', ['x', 'w'], ['a'], pads=[1] * 4), node('Conv', ['a', 'v'], ['y'])], [value('x', 'float32', ['n', 3, 'h', 8])],
          [value('y', 'float32', ['n', 4, 'h', 8])], opset=11)
    model(F + 'old6.onnx', [node('Conv', ['x', 'w'], ['y'])], x, [value('y', 'float32', [1, 4, 6, 6])], [tensor(data['w'], 'w')], opset=6)


def sensitive():
    """A network with one layer that 8 bits spoil: each row of its weights has one of 200 beside some of 0.1, for a channel that is
    always 0. sensitive_y.npy: its results for sensitive_x.npy, by the definition of a convolution."""
    rng = np.random.default_rng(3)
    side, channels = 8, 96
    weights = [rng.standard_normal(shape).astype('float32') / np.float32(scale) for shape, scale in
               (((channels, 8, 3, 3), 6), ((channels, channels, 3, 3), 30), ((8, channels, 1, 1), 10), ((8, 8, 3, 3), 8))]
    weights[2][:, 0] = 200
    bias = np.zeros(channels, 'float32')
    bias[0] = -60
    conv = lambda ins, out, pad: node('Conv', ins, [out], pads=[pad] * 4)
    model(F + 'sensitive.onnx', [conv(['x', 'w0'], 'a', 1), node('Relu', ['a'], ['b']), conv(['b', 'w1', 'bias'], 'c', 1),
                                 node('Sigmoid', ['c'], ['d']), conv(['d', 'w2'], 'e', 0), node('Relu', ['e'], ['f']), conv(['f', 'w3'], 'y', 1)],
          [value('x', 'float32', [1, 8, side, side])], [value('y', 'float32', [1, 8, side, side])],
          [tensor(w, 'w%d' % i) for i, w in enumerate(weights)] + [tensor(bias, 'bias')])

    def convolve(x, w):
        size = w.shape[2]
        x = np.pad(x, ((0, 0), (size // 2, size // 2), (size // 2, size // 2)))
        return sum(np.einsum('oc,chw->ohw', w[:, :, i, j].astype(np.float64), x[:, i:i + side, j:j + side]) for i in range(size) for j in range(size))

    samples, results = rng.standard_normal((4, 8, side, side)).astype('float32'), []
    for i, x in enumerate(samples):
        hidden = convolve(np.maximum(convolve(x.astype(np.float64), weights[0]), 0), weights[1]) + bias.reshape(-1, 1, 1)
        results.append(convolve(np.maximum(convolve(1 / (1 + np.exp(-hidden)), weights[2]), 0), weights[3]))
        np.save(F + 'sensitive_%d.npy' % i, x[None])
    np.save(F + 'sensitive_x.npy', samples)
    np.save(F + 'sensitive_y.npy', np.stack(results))


def half():
    """A float16 model."""
    model(F + 'half.onnx', [node('MatMul', ['x', 'w'], ['m']), node('Cast', ['m'], ['c'], to=10), node('Relu', ['c'], ['y'])],
          [value('x', 'float16', [1, 8])], [value('y', 'float16', [1, 4])],
          [tensor((np.arange(32) % 7 / 7 - 0.5).reshape(8, 4).astype(np.float16), 'w')])
    np.save(F + 'half.npy', np.random.default_rng(5).standard_normal((9, 8)).astype(np.float16))
