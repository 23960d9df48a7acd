"""Writes small models: model.h for tests/formats/test_tflite_reader.c, or one of them to a file.

    python3 tests/formats/tflite/model.py > tests/formats/tflite/model.h
    python3 tests/formats/tflite/model.py FILE [control|state|batch|fixed|rows|large]
"""
import sys

import numpy as np

from writer import Model, flexbuffer, metadata, with_files


def small():
    """A convolution, a reshape, a dense layer and a softmax in int8, with a signature."""
    m = Model()
    r = np.random.RandomState(1)
    x = m.tensor('x', 'int8', [1, 3, 3, 1], scale=0.1, zero=3)
    w = m.constant('w', r.randint(-99, 99, (2, 2, 2, 1)).astype('int8'), scale=[0.01, 0.02], zero=0)
    b = m.constant('b', np.array([10, -20], 'int32'), scale=[0.001, 0.002], zero=0)
    c = m.tensor('c', 'int8', [1, 2, 2, 2], scale=0.1, zero=-4)
    f = m.tensor('f', 'int8', [1, 8], scale=0.1, zero=-4)
    d = m.tensor('d', 'int8', [1, 3], scale=0.2, zero=1)
    y = m.tensor('y', 'int8', [1, 3], scale=1 / 256, zero=-128)
    m.op('CONV_2D', [x, w, b], [c], 3, padding='VALID', stride_h=1, stride_w=1, activation='RELU')
    m.op('RESHAPE', [c, m.constant('s', np.array([1, 8], 'int32'))], [f])
    m.op('FULLY_CONNECTED', [f, m.constant('v', r.randint(-99, 99, (3, 8)).astype('int8'), scale=0.01, zero=0), -1], [d], 4)
    m.op('SOFTMAX', [d], [y], 2, beta=1.0)
    m.inputs, m.outputs = [x], [y]
    m.signature = [('image', x)], [('scores', y)]
    return m


def large():
    """A classifier of 14 MB in float32 with the layers of MobileNet: a convolution, 13 depthwise and pointwise pairs, a dense layer."""
    m, r, side = Model(), np.random.RandomState(2), 112

    def layer(op, x, shape, out, stride, **options):
        w = m.constant('%s_w' % out, r.uniform(-0.1, 0.1, shape).astype('float32'))
        channels = shape[3] if op == 'DEPTHWISE_CONV_2D' else shape[0]
        y = m.tensor(out, 'float32', [1, side, side, channels])
        m.op(op, [x, w, m.constant('%s_b' % out, np.zeros(channels, 'float32'))], [y], 1, padding='SAME', stride_h=stride, stride_w=stride,
             activation='RELU6', **options)
        return y
    first = m.tensor('image', 'float32', [1, 224, 224, 3])
    x, channels = layer('CONV_2D', first, (32, 3, 3, 3), 'conv', 2), 32
    for k, (count, stride) in enumerate([(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]):
        side //= stride
        x = layer('DEPTHWISE_CONV_2D', x, (1, 3, 3, channels), 'dw%d' % k, stride, multiplier=1)
        x = layer('CONV_2D', x, (count, 1, 1, channels), 'pw%d' % k, 1)
        channels = count
    pooled, scores, y = (m.tensor(name, 'float32', [1, n]) for name, n in (('pooled', channels), ('scores', 280), ('y', 280)))
    m.op('MEAN', [x, m.constant('axes', np.array([1, 2], 'int32'))], [pooled], keep_dims=False)
    m.op('FULLY_CONNECTED', [pooled, m.constant('v', r.uniform(-0.1, 0.1, (280, channels)).astype('float32')), -1], [scores])
    m.op('SOFTMAX', [scores], [y], beta=1.0)
    m.inputs, m.outputs = [first], [y]
    return m


def control():
    """n becomes 1 more until it is 3, x is negated if it is greater than n at first; boxes x are decoded. Two signatures."""
    m = Model()
    x, n = m.tensor('x', 'float32', [1, 2, 4]), m.tensor('n', 'int32', [])
    graphs = []
    for kinds in ([('int32', [])], [('int32', [])], [('float32', [1, 2, 4])], [('float32', [1, 2, 4])]):
        g = m.subgraph()
        g.inputs = [g.tensor('i', kind, shape) for kind, shape in kinds]
        g.outputs = [g.tensor('o', 'bool' if not graphs else kinds[0][0], kinds[0][1])]
        graphs.append(g)
    graphs[0].op('LESS', [graphs[0].inputs[0], graphs[0].constant('3', np.int32(3))], graphs[0].outputs)
    graphs[1].op('ADD', [graphs[1].inputs[0], graphs[1].constant('1', np.int32(1))], graphs[1].outputs)
    graphs[2].op('NEG', graphs[2].inputs, graphs[2].outputs)
    graphs[3].op('ABS', graphs[3].inputs, graphs[3].outputs)
    more, boxes = m.tensor('more', 'bool', []), m.tensor('b', 'float32', [1, 2, 4])
    m.op('GREATER', [n, m.constant('0', np.int32(0))], [more])
    m.op('IF', [more, x], [boxes], then=3, otherwise=4)
    m.outputs = [m.tensor('m', 'int32', [])] + [m.tensor('y%d' % k, 'float32', []) for k in range(4)]
    m.op('WHILE', [n], m.outputs[:1], cond=1, body=2)
    options = {'max_detections': 1, 'max_classes_per_detection': 2, 'nms_score_threshold': 0.3, 'nms_iou_threshold': 0.4,
               'num_classes': 2, 'y_scale': 10.0, 'x_scale': 10.0, 'h_scale': 5.0, 'w_scale': 5.0}
    scores = m.constant('s', np.array([[[0.5, 0.2], [0.1, 0.9]]], 'float32'))
    anchors = m.constant('a', np.array([[0, 0, 1, 1], [1, 1, 1, 1]], 'float32'))
    m.op('CUSTOM', [boxes, scores, anchors], m.outputs[1:], 1, 'TFLite_Detection_PostProcess', flexbuffer(options))
    m.inputs = [x, n]
    m.signatures = [('detect', 0, [('boxes', x), ('start', n)], [('count', m.outputs[0])]),
                    ('step', 2, [('before', 0)], [('after', 1)])]
    return m


class Described(Model):
    """A model with an archive after it."""
    def bytes(self):
        return with_files(super().bytes(), {'notes.txt': 'nothing', 'labels.txt': 'cat\r\ndog\n'})


def state():
    """The sum of all x, from 1 on, whose magnitudes of a spectrum pass SVDF; an int16 sum; pooling with indices. Metadata."""
    m = Described()
    x = m.tensor('x', 'float32', [1, 4])

    def handle(g):
        h = g.tensor('sum', 'resource', [])
        g.op('VAR_HANDLE', [], [h], shared_name='sum')
        return h
    g = m.subgraph()
    g.op('ASSIGN_VARIABLE', [handle(g), g.constant('start', np.ones((1, 4), 'float32'))], [])
    m.op('CALL_ONCE', [], [], init=1)
    h, old, new = handle(m), m.tensor('old', 'float32', [1, 4]), m.tensor('new', 'float32', [1, 4])
    m.op('READ_VARIABLE', [h], [old])
    m.op('ADD', [old, x], [new])
    m.op('ASSIGN_VARIABLE', [h, new], [])
    spectrum, size = m.tensor('spectrum', 'complex64', [1, 3]), m.tensor('size', 'float32', [1, 3])
    m.op('RFFT2D', [new, m.constant('n', np.array([1, 4], 'int32'))], [spectrum])
    m.op('COMPLEX_ABS', [spectrum], [size])
    m.outputs = [m.tensor('y', 'float32', [1, 2]), m.tensor('q', 'int16', [1, 4], scale=0.01), m.tensor('p', 'float32', [1, 1, 2, 1]),
                 m.tensor('i', 'float32', [1, 1, 2, 1])]
    w = [m.constant('w', np.arange(6).reshape(2, 3).astype('float32')), m.constant('t', np.ones((2, 2), 'float32'))]
    m.op('SVDF', [size, *w, -1, m.tensor('s', 'float32', [1, 4], variable=True)], m.outputs[:1], rank=1, activation='NONE')
    short, image = m.tensor('short', 'int16', [1, 4], scale=0.01), m.tensor('image', 'float32', [1, 1, 4, 1])
    m.op('QUANTIZE', [x], [short], 2)
    m.op('ADD', [short, short], m.outputs[1:2], 4, pot=False)
    m.op('RESHAPE', [x, m.constant('r', np.array([1, 1, 4, 1], 'int32'))], [image])
    m.op('CUSTOM', [image], m.outputs[2:], 1, 'MaxPoolingWithArgmax2D', np.array([1, 2, 1, 2, 1, 0], 'int32').tobytes())
    m.inputs = [x]
    m.describe(metadata([{'mean': [127.5], 'std': [127.5], 'color': 1}], [{'labels': 'labels.txt'}], description='a test', license='none'))
    return m


def batch(fixed=False):
    """|x|, whose first dimension the file leaves open; fixed: |spectrum of x|, which is imported for fixed shapes only."""
    m = Model()
    x, y = m.tensor('x', 'float32', [1, 1, 3 + fixed], signature=[-1, 1, 3 + fixed]), m.tensor('y', 'float32', [1, 1, 3])
    m.inputs, m.outputs = [x], [y]
    if fixed:
        spectrum = m.tensor('spectrum', 'complex64', [1, 1, 3])
        m.op('RFFT2D', [x, m.constant('n', np.array([1, 4], 'int32'))], [spectrum])
    m.op(*(('COMPLEX_ABS', [spectrum]) if fixed else ('ABS', [x])), [y])
    return m


def rows():
    """The elements of x by rows of four; the size that the file stores, 1, does not fill one."""
    m = Model()
    x, y = m.tensor('x', 'float32', [1, 1], signature=[1, -1]), m.tensor('y', 'float32', [1, 4], signature=[-1, 4])
    m.inputs, m.outputs = [x], [y]
    m.op('RESHAPE', [x, m.constant('shape', np.array([-1, 4], 'int32'))], [y])
    return m


MODELS = {'model': small, 'control': control, 'state': state, 'batch': batch}
if len(sys.argv) > 1:
    with open(sys.argv[1], 'wb') as file:
        file.write({'large': large, 'fixed': lambda: batch(True), 'rows': rows, **MODELS}[(sys.argv[2:] + ['model'])[0]]().bytes())
    sys.exit()
print('/* Written by tests/formats/tflite/model.py. */')
for name, model in MODELS.items():
    data = model().bytes()
    print('static const uint8_t tflite_%s[%d] = {' % (name, len(data)))
    for i in range(0, len(data), 24):
        print('    ' + ' '.join('%d,' % v for v in data[i:i + 24]))
    print('};')
