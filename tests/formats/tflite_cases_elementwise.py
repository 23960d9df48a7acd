"""Cases of test_tflite.py: elementwise operators, casts and quantization."""
import numpy as np

from tflite_builder import NUMBERS, Q, case


def elementwise():
    for op in ('ADD', 'SUB', 'MUL', 'DIV', 'MAXIMUM', 'MINIMUM', 'SQUARED_DIFFERENCE', 'POW', 'FLOOR_DIV', 'FLOOR_MOD'):
        for kind in NUMBERS + ('int32', 'int64'):
            for shape in ((2, 3, 4), (4,), (1,)):
                @case('%s %s %s' % (op, kind, shape))
                def build(b, op=op, kind=kind, shape=shape):
                    same = op in ('MAXIMUM', 'MINIMUM')
                    positive = {'low': 0.5, 'high': 3} if op in ('POW', 'DIV', 'FLOOR_DIV', 'FLOOR_MOD') else {}
                    x = b.x((2, 3, 4), kind, **({'low': 0.5} if op == 'POW' else {}))
                    value = b.draw(shape, kind, **positive)
                    if kind in ('int32', 'int64'):
                        value = (np.abs(value) % 4 if op == 'POW' else np.where(value == 0, 7, value)).astype(kind)
                    elif kind in Q and op in ('DIV', 'FLOOR_DIV'):
                        value = np.where(np.abs(value.astype(int) - Q[kind][1]) < 40, 90 + 128 * (kind == 'uint8'), value).astype(kind)
                    y = b.x(shape, kind, None if same else 0.03, None, value)
                    b.out(op, [x, y], kind, None if same else 0.11, None if same else 4 + 120 * (kind == 'uint8'),
                          2 if op in ('MAXIMUM', 'MINIMUM', 'FLOOR_DIV', 'DIV') and kind in Q else 1)
    for op in ('ADD', 'SUB', 'MUL', 'DIV'):
        for kind in NUMBERS:
            for activation in ('RELU', 'RELU6', 'RELU_N1_TO_1'):
                @case('%s %s %s' % (op, kind, activation))
                def build(b, op=op, kind=kind, activation=activation):
                    x, y = b.x((3, 5), kind), b.x((3, 5), kind, low=0.5, high=2)
                    if op == 'DIV' and kind in Q:
                        b.values[1] = np.full((3, 5), 60 + 128 * (kind == 'uint8'), kind)
                    b.out(op, [x, y], kind, 0.08, None, 2, activation=activation)
    for op in ('LESS', 'LESS_EQUAL', 'GREATER', 'GREATER_EQUAL', 'EQUAL', 'NOT_EQUAL'):
        for kind in NUMBERS + ('int32', 'int64'):
            @case('%s %s' % (op, kind))
            def build(b, op=op, kind=kind):
                value = b.draw((4, 6), kind)
                other = np.where(b.random.randint(0, 2, (4, 6)) > 0, value, b.draw((4, 6), kind))
                b.out(op, [b.x(None, kind, value=value), b.x(None, kind, value=other)], 'bool', version=2)
    for op in ('FLOOR', 'CEIL', 'ROUND', 'SIN', 'COS', 'LOG', 'SQRT', 'RSQRT', 'SQUARE', 'EXP', 'NEG', 'ABS', 'ZEROS_LIKE', 'SIGN',
               'LOGISTIC', 'TANH', 'RELU', 'RELU6', 'RELU_N1_TO_1', 'RELU_0_TO_1', 'ELU', 'HARD_SWISH', 'LEAKY_RELU', 'GELU'):
        for kind in NUMBERS + ('int32', 'int64'):
            if op == 'SIGN' and kind != 'float32':  # TensorFlow Lite writes no result then
                continue

            @case('%s %s' % (op, kind))
            def build(b, op=op, kind=kind):
                low = {'low': 0.1} if op in ('LOG', 'SQRT', 'RSQRT') else {}
                fixed = {'LOGISTIC': 1 / 256, 'TANH': 1 / 128}.get(op)
                zero = None if fixed is None else {'LOGISTIC': 0, 'TANH': 128}[op] - 128 * (kind == 'int8')
                b.out(op, [b.x((3, 40), kind, **low)], kind, fixed or 0.04, zero, 2 if op == 'TANH' and kind in Q else 1,
                      **({'alpha': 0.3} if op == 'LEAKY_RELU' else {'approximate': True} if op == 'GELU' else {}))
    for kind in NUMBERS + ('int32', 'int64', 'bool'):
        @case('PRELU %s' % kind)
        def prelu(b, kind=kind):
            b.out('PRELU', [b.x((1, 3, 4, 5), kind), b.weight((1, 1, 5), kind, 0.01, None)], kind, 0.06)

        @case('SELECT %s' % kind)
        def select(b, kind=kind):
            b.out('SELECT', [b.c(b.draw((3, 4), 'bool'), 'bool'), b.x((3, 4), kind), b.x((3, 4), kind)], kind)

        @case('SELECT rows %s' % kind)
        def rows(b, kind=kind):
            b.out('SELECT', [b.c([1, 0, 1], 'bool'), b.x((3, 3), kind), b.x((3, 3), kind)], kind)

        @case('SELECT_V2 %s' % kind)
        def select2(b, kind=kind):
            b.out('SELECT_V2', [b.c([1, 0, 1], 'bool'), b.x((3, 3), kind), b.x((3, 3), kind)], kind)
    for op in ('LOGICAL_AND', 'LOGICAL_OR', 'LOGICAL_NOT'):
        @case(op)
        def logical(b, op=op):
            x = [b.tensor('b%d' % k, 'bool', (2, 8)) for k in range(1 if op == 'LOGICAL_NOT' else 2)]
            for t in x:
                b.op('GREATER', [b.x((2, 8)), b.c(0, 'float32')], [t])
            b.out(op, x, 'bool')

    @case('ADD_N float32')
    def add_n(b):
        b.out('ADD_N', [b.x((2, 3)), b.x((2, 3)), b.x((2, 3))], 'float32')
    for source in ('float32', 'int32', 'uint8', 'int64', 'bool'):
        for target in ('float32', 'int32', 'uint8', 'int64', 'bool'):
            @case('CAST %s %s' % (source, target))
            def cast(b, source=source, target=target):
                value = b.draw((3, 7), source, 0, 100) if source not in ('int32', 'int64') else b.random.randint(0, 100, (3, 7))
                b.out('CAST', [b.x(None, source, 0, 0, value=value)], target, 0, 0, in_type=source, out_type=target)
    for source in NUMBERS:
        for target in NUMBERS:
            @case('QUANTIZE %s %s' % (source, target))
            def quantize(b, source=source, target=target):
                op = 'QUANTIZE' if target != 'float32' else 'DEQUANTIZE'
                b.out(op, [b.x((3, 50), source)], target, 0.07, 9, 2)

    for op in ('ADD', 'SUB', 'MUL'):
        for activation in ('RELU', 'RELU6'):
            @case('%s int32 %s' % (op, activation))
            def integers(b, op=op, activation=activation):
                b.out(op, [b.x((3, 5), 'int32'), b.x((3, 5), 'int32')], 'int32', activation=activation)
    for condition, other in (((3, 1), (3, 4)), ((4,), (3, 4)), ((1, 4), (3, 1)), ((2, 3, 4), (4,)), ((), (3, 4))):
        @case('SELECT_V2 %s %s' % (condition, other))
        def select_broadcast(b, condition=condition, other=other):
            b.out('SELECT_V2', [b.c(b.draw(condition, 'bool'), 'bool'), b.x((3, 4)), b.x(other)], 'float32')

    for kind in NUMBERS:
        @case('PRELU %s of every element' % kind)
        def slopes(b, kind=kind):
            b.out('PRELU', [b.x((2, 3, 4, 5), kind), b.weight((3, 1, 5), kind, 0.01, None)], kind, 0.06)

        if kind in Q:
            @case('SOFTMAX beta %s' % kind)
            def softened(b, kind=kind):
                b.out('SOFTMAX', [b.x((3, 9), kind)], kind, 1 / 256, -128 * (kind == 'int8'), beta=0.3)
    for op in ('ADD', 'SUB', 'MUL', 'DIV'):
        @case('%s int32 RELU_N1_TO_1' % op)
        def clipped(b, op=op):
            b.out(op, [b.x((3, 5), 'int32'), b.x((3, 5), 'int32', value=b.random.randint(1, 9, (3, 5)))], 'int32', activation='RELU_N1_TO_1')

    @case('ADD_N int32')
    def add_integers(b):
        b.out('ADD_N', [b.x((2, 3), 'int32') for _ in range(3)], 'int32')
    for op in ('EQUAL', 'NOT_EQUAL'):
        @case('%s bool' % op)
        def equal_bools(b, op=op):
            b.out(op, [b.x((4, 6), 'bool'), b.x((4, 6), 'bool')], 'bool', version=3)

    @case('PRELU computed slopes')
    def computed_slopes(b):
        alpha = b.tensor('alpha', 'float32', (1, 1, 5))
        b.op('ABS', [b.x((1, 1, 5))], [alpha])
        b.out('PRELU', [b.x((1, 3, 4, 5)), alpha], 'float32')

    @case('SELECT_V2 computed condition')
    def select_computed(b):
        condition = b.tensor('b', 'bool', (4,))
        b.op('GREATER', [b.x((4,)), b.c(0, 'float32')], [condition])
        b.out('SELECT_V2', [condition, b.x((3, 4)), b.x((3, 4))], 'float32')

    @case('BITWISE_XOR int32')
    def bits(b):
        b.out('BITWISE_XOR', [b.x((3, 5), 'int32'), b.x((3, 5), 'int32')], 'int32')

    @case('ADD long names')
    def names(b):
        t = [b.tensor('layer/%s%d' % ('x' * 150, k), 'float32', (4,)) for k in range(3)]
        x = b.x((4,))
        b.op('ADD', [x, b.c(b.draw((4,), 'float32'), 'float32')], [t[0]])
        b.op('MUL', [x, t[0]], [t[1]])
        b.op('SUB', [t[0], t[1]], [t[2]])
        b.out('ADD', [t[1], t[2]], 'float32')

    @case('DEQUANTIZE float16')
    def half(b):
        w = b.tensor('w', 'float32', (4,))
        b.op('DEQUANTIZE', [b.c(b.draw((4,), 'float32'), 'float16')], [w], 3)
        b.out('ADD', [b.x((3, 4)), w], 'float32')
