"""Cases of test_tflite.py: subgraphs and variables."""
import numpy as np

from tflite_builder import case
from writer import flexbuffer


def control():
    """Models with several subgraphs."""
    def graph(b, kinds, **quant):
        """A subgraph with inputs of (type, shape), and its index."""
        g = b.subgraph()
        g.inputs = [g.tensor('i%d' % k, kind, shape, **quant) for k, (kind, shape) in enumerate(kinds)]
        return g, len(b.graphs) - 1

    def ends(g, op, inputs, kind, shape, **members):
        """An operator, whose result is an output of the graph."""
        quant = members.pop('quant', {})
        t = g.tensor('t%d' % len(g.tensors), kind, shape, **quant)
        g.op(op, inputs, [t], **members)
        g.outputs.append(t)
        return t

    def condition(b, value):
        t = b.tensor('cond', 'bool', ())
        b.op('CAST', [b.x((), 'int32', value=value)], [t], in_type='int32', out_type='bool')
        return t
    for value in (0, 1):
        for kind in ('float32', 'int8', 'int32'):
            quant = {'scale': 0.05, 'zero': -3} if kind == 'int8' else {}

            @case('IF %s %d' % (kind, value))
            def branches(b, value=value, kind=kind, quant=quant):
                cond, x, y = condition(b, value), b.x((2, 3), kind), b.x((2, 3), kind)
                g, first = graph(b, [(kind, (2, 3))] * 2, **quant)
                ends(g, 'ADD', g.inputs, kind, (2, 3), quant=quant)
                ends(g, 'MAXIMUM', g.inputs, kind, (2, 3), quant=quant)
                h, second = graph(b, [(kind, (2, 3))] * 2, **quant)
                ends(h, 'MUL', h.inputs, kind, (2, 3), quant=quant)
                h.outputs.append(h.inputs[1])
                b.op('IF', [cond, x, y], [b.y(kind), b.y(kind)], then=first, otherwise=second)

        @case('IF in IF %d' % value)
        def nested(b, value=value):
            cond, other, x = condition(b, value), b.tensor('other', 'bool', ()), b.x((4,))
            b.op('LOGICAL_NOT', [cond], [other])
            g, inner = graph(b, [('float32', (4,))])
            ends(g, 'EXP', g.inputs, 'float32', (4,))
            h, outer = graph(b, [('bool', ()), ('float32', (4,))])
            h.outputs = [h.tensor('r', 'float32', (4,))]
            last, neg = graph(b, [('float32', (4,))])
            ends(last, 'NEG', last.inputs, 'float32', (4,))
            h.op('IF', h.inputs, h.outputs, then=neg, otherwise=inner)
            k, plain = graph(b, [('bool', ()), ('float32', (4,))])
            ends(k, 'ADD', [k.inputs[1], k.constant('one', np.float32([1, 2, 3, 4]))], 'float32', (4,))
            b.op('IF', [cond, other, x], [b.y()], then=outer, otherwise=plain)

    @case('IF of a constant')
    def known(b):
        x = b.x((2, 3))
        g, first = graph(b, [('float32', (2, 3))])
        ends(g, 'ABS', g.inputs, 'float32', (2, 3))
        h, second = graph(b, [('float32', (2, 3))])
        ends(h, 'NEG', h.inputs, 'float32', (2, 3))
        t = b.tensor('t', 'float32', (2, 3))
        b.op('IF', [b.c(1, 'bool'), x], [t], then=first, otherwise=second)
        b.out('IF', [b.c(0, 'bool'), t], 'float32', then=first, otherwise=second)

    for value in (0, 1):
        @case('IF of two shapes %d' % value)
        def shapes_differ(b, value=value):
            cond, x = condition(b, value), b.x((2, 3))
            g, first = graph(b, [('float32', (2, 3))])
            ends(g, 'CONCATENATION', [g.inputs[0], g.inputs[0]], 'float32', (4, 3), axis=0)
            h, second = graph(b, [('float32', (2, 3))])
            ends(h, 'NEG', h.inputs, 'float32', (2, 3))
            b.op('IF', [cond, x], [b.y()], then=first, otherwise=second)

    @case('IF with the same subgraph twice')
    def same(b):
        cond, x = condition(b, 1), b.x((2, 3))
        g, first = graph(b, [('float32', (2, 3))])
        ends(g, 'SIN', [ends(g, 'ADD', [g.inputs[0], g.constant('c', np.float32([[1], [2]]))], 'float32', (2, 3))], 'float32', (2, 3))
        b.op('IF', [cond, x], [b.y(), b.y()], then=first, otherwise=first)

    @case('IF with the same subgraph twice, equal names left over')
    def left_over(b):
        cond, x = condition(b, 1), b.x((2, 3))
        g, first = graph(b, [('float32', (2, 3))])
        ends(g, 'CAST', [ends(g, 'ADD', [g.inputs[0], g.constant('c', np.float32([[1], [2]]))], 'float32', (2, 3))], 'float32', (2, 3),
             in_type='float32', out_type='float32')
        g.outputs = g.outputs[1:] * 2
        b.op('IF', [cond, x], [b.y(), b.y()], then=first, otherwise=first)

    @case('IF of constants with the same subgraph')
    def twice(b):
        x, t = b.x((2, 3)), b.tensor('t', 'float32', (2, 3))
        g, first = graph(b, [('float32', (2, 3))])
        ends(g, 'SIN', [ends(g, 'ADD', [g.inputs[0], g.constant('c', np.float32([[1], [2]]))], 'float32', (2, 3))], 'float32', (2, 3))
        g.outputs = g.outputs[1:]
        b.op('IF', [b.c(1, 'bool'), x], [t], then=first, otherwise=first)
        b.out('IF', [b.c(0, 'bool'), t], 'float32', then=first, otherwise=first)

    def counted(b, kind, shape, trips, op, quant={}, **members):
        """WHILE i < limit: i += 1, x = op(x, c)."""
        i, limit, x = b.x((), 'int32', value=0), b.x((), 'int32', value=trips), b.x(shape, kind, **members)
        kinds = [('int32', ()), ('int32', ()), (kind, shape)]
        g, cond = graph(b, kinds)
        ends(g, 'LESS', g.inputs[:2], 'bool', ())
        h, body = graph(b, kinds)
        for k, (number, entry) in enumerate(((cond, g), (body, h))):
            if quant:
                entry.tensors[2][4] = ('table', {2: ('[f32]', [quant['scale']]), 3: ('[i64]', [quant['zero']])})
        ends(h, 'ADD', [h.inputs[0], h.constant('one', np.int32(1))], 'int32', ())
        h.outputs.append(h.inputs[1])
        op(h, h.inputs[2])
        b.op('WHILE', [i, limit, x], [b.y('int32'), b.y('int32'), b.y(kind)], cond=cond, body=body)
    for trips in (0, 1, 5):
        @case('WHILE %d' % trips)
        def loop(b, trips=trips):
            counted(b, 'float32', (2, 3), trips, lambda g, x: ends(g, 'MUL', [x, g.constant('c', np.float32([1, 2, -0.5]))], 'float32',
                                                                   (2, 3)))

        @case('WHILE int8 %d' % trips)
        def quantized(b, trips=trips):
            quant = {'scale': 0.05, 'zero': -3}
            counted(b, 'int8', (2, 3), trips, lambda g, x: ends(g, 'ADD', [x, x], 'int8', (2, 3), quant=quant), quant)

        @case('WHILE of growing shape %d' % trips)
        def growing(b, trips=trips):
            counted(b, 'float32', (1, 3), trips, lambda g, x: ends(
                g, 'CONCATENATION', [x, g.constant('c', np.float32([[1, 2, 3]]))], 'float32', (1, 3), axis=0))
            b.most = ['y2=9,3']

    @case('WHILE of another rank')
    def deeper(b):
        b.wrong = True
        counted(b, 'float32', (2, 3), 2, lambda g, x: ends(g, 'EXPAND_DIMS', [x, g.constant('a', np.int32(0))], 'float32', (1, 2, 3)))

    @case('WHILE of another type')
    def narrower(b):
        b.wrong = True
        counted(b, 'float32', (2, 3), 2, lambda g, x: ends(g, 'CAST', [x], 'int32', (2, 3), in_type='float32', out_type='int32'))

    @case('IF of other quantization parameters')
    def rescaled(b):
        b.wrong = True
        cond, x = condition(b, 1), b.x((2, 3), 'int8')
        g, first = graph(b, [('int8', (2, 3))], scale=0.05, zero=7)
        ends(g, 'RELU', g.inputs, 'int8', (2, 3), quant={'scale': 0.05, 'zero': -3})
        b.op('IF', [cond, x], [b.y('int8')], then=first, otherwise=first)

    @case('WHILE in WHILE')
    def loops(b):
        i, x = b.x((), 'int32', value=0), b.x((3,))
        kinds = [('int32', ()), ('float32', (3,))]
        g, cond = graph(b, kinds)
        ends(g, 'LESS', [g.inputs[0], g.constant('three', np.int32(3))], 'bool', ())
        k, cond2 = graph(b, kinds)
        ends(k, 'LESS', [k.inputs[0], k.constant('three', np.int32(3))], 'bool', ())
        inner, body2 = graph(b, kinds)
        ends(inner, 'ADD', [inner.inputs[0], inner.constant('one', np.int32(1))], 'int32', ())
        ends(inner, 'COS', [inner.inputs[1]], 'float32', (3,))
        h, body = graph(b, kinds)
        ends(h, 'ADD', [h.inputs[0], h.constant('one', np.int32(1))], 'int32', ())
        h.outputs.append(h.tensor('x', 'float32', (3,)))
        h.op('WHILE', h.inputs, [h.tensor('k', 'int32', ()), h.outputs[1]], cond=cond2, body=body2)
        b.op('WHILE', [i, x], [b.y('int32'), b.y()], cond=cond, body=body)

    @case('WHILE then CALL_ONCE')
    def once(b):
        g, nothing = graph(b, [])
        b.op('CALL_ONCE', [], [], init=nothing)
        counted(b, 'float32', (3,), 2, lambda g, x: ends(g, 'ABS', [x], 'float32', (3,)))

    for regular in (False, True):
        for background in (0, 1):
            for classes, least in ((1, 0.3), (2, 0.3), (1, 0.9)):
                @case('TFLite_Detection_PostProcess%s%s %d %g' % (' regular' * regular, ' background' * background, classes, least))
                def detection(b, regular=regular, background=background, classes=classes, least=least):
                    anchors = np.array([[y, x, 1, 1] for y in (0.5, 1, 3) for x in (0.5, 1, 3)], 'float32')
                    x, scores = b.x((1, 9, 4), low=-1, high=1), b.x((1, 9, 3 + background), low=0, high=1)
                    options = {'max_detections': 4, 'max_classes_per_detection': classes, 'nms_score_threshold': least,
                               'nms_iou_threshold': 0.4, 'num_classes': 3, 'y_scale': 10.0, 'x_scale': 10.0, 'h_scale': 5.0,
                               'w_scale': 5.0, 'use_regular_nms': regular, 'detections_per_class': 2}
                    b.op('CUSTOM', [x, scores, b.c(anchors, 'float32')], [b.y() for _ in range(4)], 1, 'TFLite_Detection_PostProcess',
                         flexbuffer(options, 8 if background else 4, least == 0.9))


def variables():
    """Variables: VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, with initial values of CALL_ONCE."""
    def handle(g, name):
        t = g.tensor(name, 'resource', ())
        g.op('VAR_HANDLE', [], [t], shared_name=name)
        return t

    def initial(b, values, **quant):
        g = b.subgraph()
        for name, value in values.items():
            g.op('ASSIGN_VARIABLE', [handle(g, name), g.constant('initial ' + name, value, **quant)], [])
        b.op('CALL_ONCE', [], [], init=len(b.graphs) - 1)

    def read(b, h, kind, shape, **quant):
        t = b.tensor('t%d' % len(b.tensors), kind, shape, **quant)
        b.op('READ_VARIABLE', [h], [t])
        return t

    def sum_of(b, runs, kind, value, **quant):
        """The result is the sum of the inputs so far."""
        b.runs = runs
        initial(b, {'total': np.broadcast_to(np.asarray(value, kind), (2, 3)).copy()}, **quant)
        h, x = handle(b, 'total'), b.x((2, 3), kind)
        y = b.y(kind, quant.get('scale'), quant.get('zero'))
        b.op('ADD', [read(b, h, kind, (2, 3), **quant), x], [y], version=2)
        b.op('ASSIGN_VARIABLE', [h, y], [])
    for runs in (1, 2, 3):
        for value in (0, 5):
            for kind, quant in (('float32', {}), ('int32', {}), ('int8', {'scale': 0.05, 'zero': -3})):
                @case('ASSIGN_VARIABLE sum, %s from %d, %d runs' % (kind, value, runs))
                def total(b, runs=runs, value=value, kind=kind, quant=quant):
                    sum_of(b, runs, kind, value, **quant)

    @case('ASSIGN_VARIABLE from the zero point, 3 runs')
    def zero_point(b):
        sum_of(b, 3, 'int8', -3, scale=0.05, zero=-3)

    @case('READ_VARIABLE that nothing assigns')
    def constant(b):
        b.runs = 2
        initial(b, {'w': b.draw((4, 3), 'float32')})
        b.out('FULLY_CONNECTED', [b.x((2, 3)), read(b, handle(b, 'w'), 'float32', (4, 3)), -1], 'float32')

    @case('READ_VARIABLE of two, before and after, 3 runs')
    def two(b):
        b.runs = 3
        initial(b, {'a': np.float32([1, 2]), 'b': np.float32([0, 0])})
        x, first, second = b.x((2,)), handle(b, 'a'), handle(b, 'b')
        old = read(b, first, 'float32', (2,))
        b.op('ASSIGN_VARIABLE', [second, old], [])  # b: the last a
        new = b.tensor('new', 'float32', (2,))
        b.op('MUL', [old, x], [new])
        b.op('ASSIGN_VARIABLE', [handle(b, 'a'), new], [])
        b.out('SUB', [read(b, first, 'float32', (2,)), read(b, second, 'float32', (2,))], 'float32')
        b.out('ADD', [read(b, second, 'float32', (2,)), old], 'float32')

    @case('ASSIGN_VARIABLE in a ring, 4 runs')
    def ring(b):
        b.runs = 4
        initial(b, {n: np.float32([k, k]) for k, n in enumerate('abc')})
        h = {n: handle(b, n) for n in 'abc'}
        t = {n: read(b, h[n], 'float32', (2,)) for n in 'abc'}
        for n, m in zip('abc', 'bca'):
            b.op('ASSIGN_VARIABLE', [h[n], t[m]], [])
        b.out('ADD', [t['a'], b.x((2,))], 'float32')

    @case('ASSIGN_VARIABLE without an initial value')
    def late(b):
        h, x = handle(b, 'a'), b.x((2,))
        b.op('ASSIGN_VARIABLE', [h, x], [])
        b.out('ADD', [read(b, h, 'float32', (2,)), x], 'float32')

    @case('READ_VARIABLE without an initial value')
    def early(b):
        b.wrong = True
        h, x = handle(b, 'a'), b.x((2,))
        b.out('ADD', [read(b, h, 'float32', (2,)), x], 'float32')
        b.op('ASSIGN_VARIABLE', [h, x], [])

    @case('ASSIGN_VARIABLE of another shape')
    def resized(b):
        b.wrong = True
        initial(b, {'a': np.float32([1, 2])})
        h, x = handle(b, 'a'), b.x((3,))
        b.out('ABS', [read(b, h, 'float32', (2,))], 'float32')
        b.op('ASSIGN_VARIABLE', [h, x], [])

    @case('ASSIGN_VARIABLE in IF')
    def inside(b):
        initial(b, {'a': np.float32([1, 2])})
        x, y, cond = b.x((2,)), b.x((2,)), b.tensor('cond', 'bool', ())
        low = b.tensor('low', 'float32', ())
        b.op('MEAN', [x, b.c([0])], [low], keep_dims=False)
        b.op('GREATER', [low, b.c(-9, 'float32')], [cond])
        g = b.subgraph()
        g.inputs = [g.tensor('u', 'float32', (2,))]
        g.op('ASSIGN_VARIABLE', [handle(g, 'a'), g.inputs[0]], [])
        g.outputs = [g.tensor('v', 'float32', (2,))]
        g.op('NEG', g.inputs, g.outputs)
        b.out('IF', [cond, y], 'float32', then=len(b.graphs) - 1, otherwise=len(b.graphs) - 1)
        b.out('ABS', [read(b, handle(b, 'a'), 'float32', (2,))], 'float32')
