"""Seeds of hunt.py: small valid files of each format that the command line reads, from make_seeds.py, the corpus of the fuzz
targets, the node tests of ONNX, this file, and the program itself.
"""
import io
import os
import struct
import subprocess
import sys
import tempfile
import wave

import numpy as np

for room in ('../kit', '../tools'):
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), room))
import make_seeds
import text_models
from commands import run

ROOT = os.path.relpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))
NODE_TESTS = os.environ.get('NNRT_ONNX_TESTDATA', '/usr/share/libonnx-testdata/data') + '/node'
MODELS, VALUES = 'onnx external tflite nnrt packed gguf safetensors'.split(), 'npy pb png jpg wav'.split()
SAMPLES = VALUES + ['csv', 'list', 'folder']
TEXTS = {  # formats of words of a command line
    'design': ['rate=16000,window=640,hop=320,fft=1024,mels=40,lower=20,upper=4000,dct=10,output=int8,scale=0.5',
               'rate=8000,window=256,hop=128,fft=256,output=float32,windowKind=hann,log=db,arithmetic=float32,melScale=slaney',
               'rate=100,window=7,hop=9,fft=8,output=int16,scale=1,symmetric=yes,offset=1e30'],
    'name': ['SOFTMAX', 'nnrt_conv2d_f32', 'Conv', 'NMS', 'nnrt_add_fusion_f32'],
    'device': ['fake:name=a,dims=1..64,without=RunIn', 'auto:cpu,fake:ops=ADD_FUSION+RELU', 'mcu:cortex-m4', 'cpu-avx2',
               'fake:fail=Run:2,code=TIME_OUT'],
    'limits': ['clients=4,bytes=1000000', 'models=64,buffers=256,message=262144,time=10000']}


def jpg(width, height, components, value):
    """A baseline JPEG of one color: of each block only the first coefficient is not 0. It has Huffman tables of few codes."""
    def part(kind, data):
        return struct.pack('>BBH', 255, kind, len(data) + 2) + data
    blocks = ((width + 7) // 8) * ((height + 7) // 8) * components
    bits = '01110' + '100' * (blocks - 1) if value else '100' * blocks  # the difference 7, or none, then the end of the block
    bits += '1' * (-len(bits) % 8)
    dc = part(0xC4, b'\x00' + bytes([1, 1] + [0] * 14) + b'\x03\x00')  # code 0: 3 bits follow; code 10: no difference
    ac = part(0xC4, b'\x10' + bytes([1] + [0] * 15) + b'\x00')         # code 0: the end of the block
    frame = struct.pack('>BHHB', 8, height, width, components) + b''.join(bytes([i + 1, 0x11, 0]) for i in range(components))
    scan = bytes([components]) + b''.join(bytes([i + 1, 0]) for i in range(components)) + b'\0\x3f\0'
    return (b'\xff\xd8' + part(0xDB, b'\0' + bytes([16] * 64)) + part(0xC0, frame) + dc + ac + part(0xDA, scan) +
            int(bits, 2).to_bytes(len(bits) // 8, 'big').replace(b'\xff', b'\xff\0') + b'\xff\xd9')


def wav(samples, rate=16000):
    out = io.BytesIO()
    with wave.open(out, 'wb') as w:
        w.setparams((1, 2, rate, 0, 'NONE', ''))
        w.writeframes(np.int16(np.arange(samples) * 37 % 20000 - 10000).tobytes())
    return out.getvalue()


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def tree(folder):
    """The files below a folder: relative path -> bytes."""
    paths = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in sorted(names)]
    return {os.path.relpath(path, folder): read(path) for path in sorted(paths)}


def hosts():
    """Models with the input x: rows of 3 (a classifier), an image, a sound."""
    from onnx import TensorProto, helper, numpy_helper
    def model(shape, out, nodes, **constants):
        inputs = [helper.make_tensor_value_info('x', TensorProto.FLOAT, shape)]
        outputs = [helper.make_tensor_value_info('y', TensorProto.FLOAT, out)]
        weights = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
        graph = helper.make_graph(nodes, 'g', inputs, outputs, weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    f, node = make_seeds.f32, helper.make_node
    rows = [node('MatMul', ['x', 'w'], ['h']), node('Relu', ['h'], ['r']), node('Add', ['r', 'b'], ['y'])]
    image = [node('Conv', ['x', 'w'], ['c']), node('GlobalAveragePool', ['c'], ['p']), node('Flatten', ['p'], ['y'])]
    return {'rows': model(['n', 3], ['n', 4], rows, w=f(3, 4), b=f(4)),
            'image': model([1, 3, 4, 5], [1, 2], image, w=f(2, 3, 3, 3)),
            'sound': model([1, 160], [1, 4], [node('MatMul', ['x', 'w'], ['y'])], w=f(160, 4))}


def seeds(program):
    """Format -> a list of seeds: the name of the file or folder that a command reads, and its files."""
    others = ['gguf', 'tokenizer', 'plan', 'set', 'labels', 'keep', 'cache', 'results', 'header', 'driver', *TEXTS]
    out = {form: [] for form in MODELS + SAMPLES + others}
    add = lambda form, name, data: out[form].append((name, {name: data} if isinstance(data, bytes) else data))
    ends = {'onnx': '.onnx', 'tflite': '.tflite', 'gguf': '.gguf', 'npy': '.npy', 'pb': '.pb', 'png': '.png', 'labels': '.txt'}
    with tempfile.TemporaryDirectory() as folder:
        make_seeds.main(folder)
        for form, end in ends.items():
            for name, data in tree(os.path.join(folder, form)).items():
                add(form, 'seed' + end, data[1:] if form in ('png', 'labels') else data)  # the fuzz targets read a number first
        for data in tree(os.path.join(folder, 'safetensors')).values():
            config, weights = data.split(b'\0', 1)
            add('safetensors', 'seed', {'seed/config.json': config, 'seed/model.safetensors': weights})
    for form in ('onnx', 'tflite', 'nnrt'):
        packed = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'corpus', form + '.tar')
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(['tar', 'xf', packed, '-C', folder], check=True)
            for data in tree(folder).values():
                add(form, 'seed.' + form, data)
    for name in sorted(os.listdir(NODE_TESTS))[::5] if os.path.isdir(NODE_TESTS) else []:
        path = os.path.join(NODE_TESTS, name, 'model.onnx')
        if os.path.isfile(path) and os.path.getsize(path) < 8192:
            add('onnx', 'seed.onnx', read(path))
    models = hosts()
    shapes = {'rows': (6, 3), 'image': (2, 3, 4, 5), 'sound': (2, 160)}
    inputs = {name: make_seeds.npy(make_seeds.f32(*shape), (1, 0)) for name, shape in shapes.items()}
    rows = inputs['rows']
    for name, model in models.items():
        add('onnx', 'seed.onnx', model.SerializeToString())
        offset, weights = 0, b''
        for tensor in model.graph.initializer:
            raw = tensor.raw_data
            tensor.ClearField('raw_data')
            tensor.data_location = 1  # EXTERNAL
            for key, value in (('location', 'weights.bin'), ('offset', str(offset)), ('length', str(len(raw)))):
                entry = tensor.external_data.add()
                entry.key, entry.value = key, value
            weights, offset = weights + raw, offset + len(raw)
        add('external', 'seed.onnx', {'seed.onnx': model.SerializeToString(), 'weights.bin': weights})
    models = {name: model[1]['seed.onnx'] for name, model in zip(models, out['onnx'][-3:])}
    add('npy', 'seed.npy', rows)
    for shape in ((1, 3), (1, 3, 4, 5), (1, 160)):
        add('npy', 'seed.npy', make_seeds.npy(make_seeds.f32(*shape), (1, 0)))
    for size in ((5, 4), (16, 16), (1, 1)):
        for components in (1, 3, 4):
            add('jpg', 'seed.jpg', jpg(*size, components, components != 4))
        add('png', 'seed.png', make_seeds.png(2, 8, 0, bytes((3 * size[0] + 1) * size[1]), *size))
    for samples in (160, 0, 1000):
        add('wav', 'seed.wav', wav(samples))
    for text in (b'1,2,3\n4,5,6\n', b'a;b;c\n1;2;3\n', b'\xef\xbb\xbf1\t2\t3\r\n', b'1e40,nan,-inf\n', b'', b'1,2\n\n'):
        add('csv', 'seed.csv', text)
    text = b'@/a.npy\n@/b.npy\n'
    add('list', 'seed.txt', {'seed.txt': text, 'a.npy': rows, 'b.npy': rows})
    add('list', 'seed.txt', {'seed.txt': text + b'@/no.npy\n\n', 'a.npy': rows})
    add('folder', 'seed', {'seed/1.npy': rows, 'seed/2.csv': b'1,2,3\n', 'seed/notes': b'x', 'seed/10.npy': rows})
    add('folder', 'seed', {'seed/1/input_0.npy': make_seeds.npy(make_seeds.f32(1, 3), (1, 0)), 'seed/2/input_0.npy': rows})
    add('folder', 'seed', {'seed/1.png': make_seeds.png(2, 8, 0, bytes(16 * 4), 5, 4), 'seed/2.jpg': jpg(5, 4, 3, True)})
    y = make_seeds.npy(np.maximum(make_seeds.f32(6, 3) @ make_seeds.f32(3, 4), 0) + make_seeds.f32(4), (1, 0))
    add('set', 'seed', {'seed/test_data_set_0/input_0.npy': rows, 'seed/test_data_set_0/output_0.npy': y})
    add('set', 'seed', {'seed/input_0.npy': rows, 'seed/output_0.npy': y})
    add('labels', 'seed.txt', b'0\n1\n2\n3\n0\n1\n')
    add('labels', 'seed.txt', b'a.npy 1\nb.npy b\n')
    for text in (b'RELU\n', b'ADD_FUSION:x:y\nMATMUL_FUSION\n', b'MATMUL_FUSION:x,w:h\r\n\n', b'RELU:x:y\nx:y:z\n', b':\n'):
        add('keep', 'seed.txt', text)
    small = {'width': 32, 'inner': 32, 'heads': 2, 'kv': 1, 'layers': 1}
    for arch, keys in (('llama', text_models.scores_keys()), ('qwen2', text_models.bytes_keys())):
        add('gguf', 'seed.gguf', text_models.model(arch, keys, 'Q8_0', **small).bytes())
    add('gguf', 'seed.gguf', text_models.model('bert', text_models.words_keys(), **dict(small, kv=2)).bytes())
    add('tokenizer', 'seed.json', text_models.tokenizer_json())
    add('driver', 'seed.so', b'#!/bin/sh\n')
    add('driver', 'seed.so', b'')
    add('header', 'nnrt_ops.h', read(ROOT + '/nnrt_ops.h'))
    for form, words in TEXTS.items():
        for word in words:
            add(form, None, {'': word.encode()})
    fits = {'onnx': [out['onnx'][-3]], 'external': [out['external'][0]]}
    made(program, out, fits, models, rows)
    return out, fits, models, inputs


def made(program, out, fits, models, rows):
    """Adds seeds that the program itself writes; fits: seeds with an input for ROWS."""
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        others = [seed[1]['seed.onnx'] for seed in out['onnx'][:200:7]] + [read(ROOT + '/examples/digits/digits_int8.onnx')]
        for name, data in [*models.items(), *(('%d' % i, data) for i, data in enumerate(others))]:
            with open(at(name + '.onnx'), 'wb') as f:
                f.write(data)
            for form, words in (('nnrt', 'convert'), ('packed', 'compile --device cpu'),
                                ('packed', 'compile --device auto:fake:cache=yes,cpu'),
                                ('plan', 'compile --device mcu:cortex-m4')):
                if run(program, *words.split(), at(name + '.onnx'), '-o', at('out')).returncode == 0:
                    out[form].append(('seed.nnrt', {'seed.nnrt': read(at('out'))}))
                    fits.setdefault(form, []).extend(out[form][-1:] if name == 'rows' else [])
        with open(at('rows.npy'), 'wb') as f:
            f.write(rows)
        os.mkdir(at('cache'))
        given = [at('rows.onnx'), '--input', at('rows.npy')]
        for device in ('cpu', 'fake:cache=yes'):
            run(program, 'run', *given, '--device', device, '--cache', at('cache'), check=True)
        run(program, 'batch', *given, '--chunk', '1', '--shard', '0/2', '--output', at('results'), check=True)
        for form in ('cache', 'results'):
            out[form].append(('seed', {'seed/' + name: data for name, data in tree(at(form)).items()}))
