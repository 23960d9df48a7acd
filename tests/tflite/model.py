"""Writes a small int8 model: model.h for tests/test_tflite_reader.c, or the file that is named.

    python3 tests/tflite/model.py > tests/tflite/model.h
    python3 tests/tflite/model.py FILE
"""
import sys

import numpy as np

from writer import Model

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
data = m.bytes()
if len(sys.argv) > 1:
    with open(sys.argv[1], 'wb') as f:
        f.write(data)
    sys.exit()
print('/* Written by tests/tflite/model.py. */')
print('static const uint8_t tflite_model[%d] = {' % len(data))
for i in range(0, len(data), 24):
    print('    ' + ' '.join('%d,' % v for v in data[i:i + 24]))
print('};')
