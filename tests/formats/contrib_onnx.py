"""Cases of test_contrib.py for operators of ONNX's own domains.

ONNX Runtime has no kernel for FlexAttention (ai.onnx.preview), SwiGLU, and Celu and Range of float16 and bfloat16: definitions in numpy,
which compute in float64, give the expected results; also of Conv, ConvTranspose and averages in float64, which ONNX Runtime lacks. It
gives the results of the other operators in float64 (tests/formats/contrib.txt).
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

PREVIEW = 'ai.onnx.preview'
# A result in float16 or bfloat16 is computed in float32 and rounded once: one unit in the last place beside the definition in float64.
HALF, BRAIN = 2.0**-10, 2.0**-7


class Brain:
    """An array of bfloat16: the input is the nearest bfloat16 of each element, ties to even."""

    def __init__(self, array):
        bits = np.asarray(array, np.float32).view(np.uint32)
        self.codes = np.asarray((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)

    @staticmethod
    def numbers(codes):
        return np.left_shift(codes, 16, dtype=np.uint32).view(np.float32)


def real(value):
    """The elements in float64."""
    return (Brain.numbers(value.codes) if isinstance(value, Brain) else np.asarray(value)).astype(np.float64)


def flex_attention(q, k, v, scale=None, score=None, prob=None):
    """FlexAttention by loops over heads; score and prob map [B,H,L,S]."""
    q, k, v = real(q), real(k), real(v)
    shared = q.shape[1] // k.shape[1]
    scale = 1 / np.sqrt(q.shape[3]) if scale is None else scale
    scores = np.stack([q[:, h] @ k[:, h // shared].transpose(0, 2, 1) * scale for h in range(q.shape[1])], 1)
    scores = scores if score is None else score(scores)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    probs = e / e.sum(-1, keepdims=True)
    probs = probs if prob is None else prob(probs)
    return np.stack([probs[:, h] @ v[:, h // shared] for h in range(q.shape[1])], 1)


def graph(nodes, constants=(), dtype=TensorProto.FLOAT, inputs=('s',), outputs=('t',)):
    """A modifier graph: nodes are (operator, inputs, output, attributes), constants arrays by name."""
    def values(names):
        return [helper.make_tensor_value_info(name, dtype, ['B', 'H', 'L', 'S']) for name in names]

    return helper.make_graph([helper.make_node(op, given, [out], **more) for op, given, out, more in nodes], 'modifier', values(inputs),
                             values(outputs), [numpy_helper.from_array(np.asarray(value), name) for name, value in dict(constants).items()])


# The positions of queries as rows and of keys as columns, from the shape of the scores.
PLACES = [('Shape', ['s'], 'shape', {}), ('Gather', ['shape', 'two'], 'L', {}), ('Gather', ['shape', 'three'], 'S', {}),
          ('Range', ['zero', 'L', 'one'], 'l', {}), ('Unsqueeze', ['l', 'axis'], 'row', {}), ('Range', ['zero', 'S', 'one'], 'column', {})]
NUMBERS = {'zero': np.int64(0), 'one': np.int64(1), 'two': np.int64(2), 'three': np.int64(3), 'axis': np.array([1], np.int64)}


def causal(dtype):
    return graph(PLACES + [('GreaterOrEqual', ['row', 'column'], 'seen', {}), ('Where', ['seen', 's', 'hidden'], 't', {})],
                 dict(NUMBERS, hidden=dtype(-np.inf)), TensorProto.DOUBLE if dtype is np.float64 else TensorProto.FLOAT)


def causal_definition(s):
    return np.where(np.tril(np.ones(s.shape[-2:], bool)), s, -np.inf)


def flex_cases(Case):
    draw = np.random.RandomState(41)

    def case(name, given, near=1e-5, **more):
        attributes = {key: value for key, value in more.items() if key in ('scale', 'softmax_precision', 'score_mod', 'prob_mod')}
        want = flex_attention(*given, more.get('scale'), more.get('score'), more.get('prob'))
        return Case('FlexAttention' + name, 'FlexAttention', given, domain=PREVIEW, main=26, near=near, want=[want], outer=more.get('outer'),
                    **attributes)

    def operands(dtype=np.float32, heads=3, shared=1, L=5, S=4, E=8, V=6):
        return [draw.standard_normal(shape).astype(dtype) for shape in ((2, heads, L, E), (2, heads // shared, S, E), (2, heads // shared, S, V))]

    half = {'score_mod': graph([('Mul', ['s', 'half'], 't', {})], {'half': np.float32(0.5)}), 'score': lambda s: s * 0.5}
    cap = {'score_mod': graph([('Div', ['s', 'cap'], 'a', {}), ('Tanh', ['a'], 'b', {}), ('Mul', ['b', 'cap'], 't', {})], {'cap': np.float32(2)}),
           'score': lambda s: np.tanh(s / 2) * 2}
    distance = {'score_mod': graph(PLACES + [('Sub', ['row', 'column'], 'far', {}), ('Cast', ['far'], 'f', {'to': TensorProto.FLOAT}),
                                             ('Add', ['s', 'f'], 't', {})], NUMBERS),
                'score': lambda s: s + (np.arange(s.shape[-2])[:, None] - np.arange(s.shape[-1]))}
    quarter = {'prob_mod': graph([('Mul', ['s', 'q'], 't', {})], {'q': np.float32(0.25)}), 'prob': lambda p: p * 0.25}
    same = {'score_mod': graph([], inputs=('s',), outputs=('s',))}
    mask = {'score_mod': causal(np.float32), 'score': causal_definition}
    yield case('', operands())
    yield case(' scale', operands(), scale=0.3)
    for scale in (0.0, -0.7):
        yield case(' scale %g' % scale, operands(), scale=scale)
    yield case(' grouped', operands(heads=6, shared=3))
    for name, more in (('half', half), ('cap', cap), ('distance', distance), ('causal', mask), ('identity', same), ('probabilities', quarter),
                       ('both', dict(mask, **quarter))):
        yield case(' ' + name, operands(), **more)
        yield case(' %s grouped' % name, operands(heads=6, shared=2), scale=0.4, **more)
    slopes = draw.standard_normal((6, 1, 1)).astype(np.float32)
    yield case(' a value of the enclosing graph', operands(heads=6, shared=2), outer={'slopes': slopes}, score=lambda s: s + slopes,
               score_mod=graph([('Add', ['s', 'slopes'], 't', {})]))
    yield case(' float16', operands(np.float16), near=HALF)
    yield case(' float16 causal', operands(np.float16, 6, 3), near=HALF, **mask)
    yield case(' float16, precision float16', operands(np.float16), near=8 * HALF, softmax_precision=TensorProto.FLOAT16)
    yield case(' float64', operands(np.float64), near=1e-13)
    yield case(' float64 causal', operands(np.float64, 6, 2), near=1e-13, score_mod=causal(np.float64), score=causal_definition)
    yield case(' float64, precision float32', operands(np.float64), softmax_precision=TensorProto.FLOAT, **half)
    yield case(' float32, precision float64', operands(), softmax_precision=TensorProto.DOUBLE, score_mod=causal(np.float64), score=causal_definition)
    yield case(' bfloat16', [Brain(x) for x in operands()], near=BRAIN)
    yield case(' bfloat16 causal', [Brain(x) for x in operands(heads=6, shared=2)], near=BRAIN, **mask)


def half_cases(Case):
    """SwiGLU in all types; Celu and Range in float16 and bfloat16."""
    draw = np.random.RandomState(43)

    def celu(x, alpha):
        return np.maximum(0, x) + np.minimum(0, alpha * np.expm1(x / alpha))

    for label, near, make in (('float32', 1e-6, np.float32), ('float64', 1e-14, np.float64), ('float16', HALF, np.float16), ('bfloat16', BRAIN, Brain)):
        a, b = (make(draw.standard_normal((2, 3, 5)) * 3) for _ in range(2))
        for alpha in (None, 0.5, -1.5):
            more = {} if alpha is None else {'alpha': alpha}
            swish = real(a) / (1 + np.exp(-(1 if alpha is None else alpha) * real(a)))
            yield Case('SwiGLU %s %s' % (label, alpha), 'SwiGLU', [a, b], domain='', main=28, near=near, want=[swish * real(b)], **more)
        if label == 'float64':
            continue
        for alpha in (1.0, 2.0, -0.75):
            yield Case('Celu %s %g' % (label, alpha), 'Celu', [a], domain='', main=28, near=near, want=[celu(real(a), alpha)], alpha=alpha)
    for label, make in (('float16', np.float16), ('bfloat16', Brain)):
        for start, limit, delta in ((1, 5, 2), (10, -3, -2.5), (0.5, 0.5, 1), (3, 1, 1)):
            for stash in (None, TensorProto.FLOAT, TensorProto.DOUBLE):
                more = {} if stash is None else {'stash_type': stash}
                yield Case('Range %s %g to %g by %g, %s' % (label, start, limit, delta, stash), 'Range', [make(start), make(limit), make(delta)],
                           domain='', main=27, near=0, want=[np.arange(start, limit, delta)], **more)
        # a tenth is rounded to 0.0999755859375 and 0.10009765625: 11 and 10 steps below 1.05
        step = make(0.1)
        yield Case('Range %s by a tenth' % label, 'Range', [make(0), make(1.0625), step], domain='', main=27, near=HALF if make is not Brain else BRAIN,
                   want=[np.arange(np.ceil(1.0625 / real(step))) * real(step)])


def window(array, begin, size, stride, dilation):
    """array[.., begin : begin + size * dilation : dilation] of each spatial axis, where the window `place` of stride begins."""
    return array[(slice(None), slice(None)) + tuple(slice(b * s, b * s + n * d, d) for b, n, s, d in zip(begin, size, stride, dilation))]


def padded(x, pads, value=0.0):
    axes = len(pads) // 2
    return np.pad(x, [(0, 0), (0, 0)] + list(zip(pads[:axes], pads[axes:])), constant_values=value)


def windows(x, size, strides, dilations):
    """(place, window of x) for each window inside x."""
    counts = [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], size, strides, dilations)]
    return [(place, window(x, place, size, strides, dilations)) for place in np.ndindex(*counts)], counts


def conv(x, w, bias, strides, dilations, pads, group):
    found, counts = windows(padded(x, pads), w.shape[2:], strides, dilations)
    y = np.zeros((x.shape[0], w.shape[0]) + tuple(counts))
    inputs, results = w.shape[1], w.shape[0] // group
    for place, part in found:
        for o in range(w.shape[0]):
            first = o // results * inputs
            y[(slice(None), o) + place] = (part[:, first:first + inputs] * w[o]).reshape(x.shape[0], -1).sum(1)
    return y + (0 if bias is None else bias.reshape((-1,) + (1,) * len(strides)))


def conv_transpose(x, w, bias, strides, dilations, pads, group):
    """Each element of x adds its multiple of the weights to a window of y."""
    axes, results = len(strides), w.shape[1]
    y = np.zeros((x.shape[0], results * group) + tuple((n - 1) * s + (k - 1) * d + 1 for n, k, s, d in zip(x.shape[2:], w.shape[2:], strides, dilations)))
    for place in np.ndindex(*x.shape[2:]):
        part = window(y, place, w.shape[2:], strides, dilations)
        for c in range(x.shape[1]):
            first = c // (x.shape[1] // group) * results
            part[:, first:first + results] += np.multiply.outer(x[(slice(None), c) + place], w[c])
    crop = tuple(slice(p, n - q) for p, q, n in zip(pads[:axes], pads[axes:], y.shape[2:]))
    return y[(slice(None), slice(None)) + crop] + bias.reshape((-1,) + (1,) * axes)


def average_pool(x, size, strides, pads, include):
    found, counts = windows(padded(x, pads, 0.0 if include else np.nan), size, strides, [1] * len(size))
    y = np.zeros(x.shape[:2] + tuple(counts))
    for place, part in found:
        y[(slice(None), slice(None)) + place] = np.nanmean(part, tuple(range(2, x.ndim)))
    return y


def float64_cases(Case, Constant):
    """Operators in float64: the bound is 100 roundings of the largest magnitude."""
    draw = np.random.RandomState(47)

    def numbers(*shape):
        return draw.standard_normal(shape)

    def case(op, given, name='', **more):
        return Case('float64 %s%s' % (op, name), op, given, domain='', near=2e-14, **more)

    yield case('MatMul', [numbers(2, 3, 5), numbers(5, 6)])
    yield case('MatMul', [numbers(2, 1, 3, 5), numbers(2, 5, 6)], ' broadcast')
    yield case('MatMul', [numbers(5), numbers(3, 5, 6)], ' vector')
    a, b, c = numbers(3, 5), numbers(5, 6), numbers(6)
    yield case('Gemm', [a, Constant(b), Constant(c)])
    yield case('Gemm', [a, b, c], ' weights of the run')
    yield case('Gemm', [a.T.copy(), b.T.copy(), numbers(3, 1)], ' transposed', transA=1, transB=1, alpha=0.3, beta=-2.0)
    for rank in (1, 2, 3):
        x, w, bias = numbers(2, 4, *(6, 9, 8)[:rank]), numbers(6, 2, *(3, 2, 3)[:rank]), numbers(6)
        name = ' %d axes' % rank
        strides, dilations, pads = [2, 1, 2][:rank], [1, 2, 1][:rank], [1, 0, 2][:rank] + [0, 1, 1][:rank]
        size, every, both = [3, 2, 3][:rank], tuple(range(2, 2 + rank)), [1, 0, 1][:rank] * 2
        more = {'strides': strides, 'dilations': dilations, 'pads': pads}
        yield case('Conv', [x, Constant(w), Constant(bias)], name, want=[conv(x, w, bias, group=2, **more)], group=2, **more)
        yield case('Conv', [x, w], name + ' weights of the run', want=[conv(x, w, None, group=2, **more)], group=2, **more)
        yield case('MaxPool', [x], name, outputs=2, kernel_shape=size, **more)
        yield case('MaxPool', [x], name + ' ceil', kernel_shape=size, strides=[2, 3, 2][:rank], ceil_mode=1)
        yield case('GlobalMaxPool', [x], name, want=[x.max(every, keepdims=True)])
        yield case('GlobalAveragePool', [x], name, want=[x.mean(every, keepdims=True)])
        yield case('AveragePool', [x], name, want=[average_pool(x, size, strides, both, False)], kernel_shape=size, strides=strides, pads=both)
        yield case('AveragePool', [x], name + ' paddings', want=[average_pool(x, size, [1] * rank, both, True)], kernel_shape=size,
                   count_include_pad=1, pads=both)
        w, more['pads'] = numbers(4, 3, *size), both
        yield case('ConvTranspose', [x, Constant(w), bias], name, want=[conv_transpose(x, w, bias, group=2, **more)], group=2, **more)
    x = numbers(2, 3, 5) * 4
    x[0, 0], x[1, 2] = [1000, 1001, 999, -1000, 0], [-np.inf, 1, 2, 3, 4]
    for op in ('Softmax', 'LogSoftmax'):
        for axis in (-1, 1):
            yield case(op, [x], ' axis %d' % axis, axis=axis)
        yield case(op, [numbers(2, 3, 5)], ' set 11', axis=1, main=11)
    x = numbers(2, 3, 5) * 3 + 7
    yield case('LayerNormalization', [x, Constant(numbers(5)), Constant(numbers(5))])
    yield case('LayerNormalization', [x, numbers(3, 5)], ' two axes', axis=1, epsilon=0.01, outputs=3, kept=(0,))
    yield case('BatchNormalization', [numbers(2, 3, 4, 5), numbers(3), numbers(3), numbers(3), draw.rand(3) + 0.1])
    for op in ('ReduceMean', 'ReduceSum', 'ReduceMax', 'ReduceMin', 'ReduceProd', 'ReduceSumSquare', 'ReduceL1', 'ReduceL2', 'ReduceLogSumExp'):
        yield case(op, [numbers(2, 3, 5), Constant(np.array([0, -1], np.int64))], keepdims=0)


def alone_cases(Case, Constant):
    """noop_with_empty_axes without axes: each element is reduced alone; ONNX says so from operator set 18 on."""
    draw = np.random.RandomState(53)
    alone = {'ReduceSumSquare': np.square, 'ReduceL1': np.abs, 'ReduceL2': np.abs, 'ReduceLogSum': np.log, 'ReduceLogSumExp': np.array,
             'ReduceSum': np.array, 'ReduceMean': np.array, 'ReduceMax': np.array, 'ReduceMin': np.array, 'ReduceProd': np.array}
    for kind, near in (('float32', 1e-6), ('float64', 1e-14), ('float16', HALF), ('int32', 0), ('int64', 0)):
        for op, element in alone.items():
            if kind.startswith('int') and 'Log' in op:
                continue
            x = draw.randint(-9, 10, (2, 3, 5)).astype(kind)
            x = np.abs(x) + np.array(1, kind) if 'LogSum' in op else x
            for label, given in (('', [x]), (', empty axes', [x, Constant(np.array([], np.int64))])):
                yield Case('%s alone %s%s' % (op, kind, label), op, given, domain='', near=near, want=[element(real(x))],
                           noop_with_empty_axes=1, keepdims=len(given) - 1)


def recurrent_cases(Case, Constant):
    """Activations with alpha and beta, which the activations that have one take in turn."""
    draw = np.random.RandomState(59)
    lists = {'GRU': [(['HardSigmoid', 'Softsign', 'Sigmoid', 'LeakyRelu'], [0.3, 0.2], [0.4]), (['Affine', 'ScaledTanh'], [0.25, 1.5], [0.5, 0.75]),
                     (['Elu', 'ThresholdedRelu', 'Sigmoid', 'Tanh'], [0.5, 0.25], []), (['LeakyRelu', 'Elu'], [], [])],
             'RNN': [(['Affine', 'ScaledTanh'], [0.75, 1.25], [-0.25, 0.5]), (['ThresholdedRelu'], [0.5], [])],
             'LSTM': [(['HardSigmoid', 'ScaledTanh', 'Affine'], [0.25, 0.75, 0.5], [0.5, 1.5, 0.125]),
                      (['Sigmoid', 'Elu', 'LeakyRelu', 'ThresholdedRelu', 'Tanh', 'Softsign'], [0.75, 0.125, 0.25], [])]}
    for op, choices in lists.items():
        gates, functions = {'GRU': (3, 2), 'RNN': (1, 1), 'LSTM': (4, 3)}[op]
        for n, (names, alpha, beta) in enumerate(choices):
            D, H = len(names) // functions, 4
            ins = [draw.uniform(-1.5, 1.5, (3, 2, 2)).astype(np.float32)]
            ins += [Constant(draw.uniform(-0.6, 0.6, dims).astype(np.float32)) for dims in ((D, gates * H, 2), (D, gates * H, H), (D, 2 * gates * H))]
            more = dict({'activation_alpha': alpha} if alpha else {}, **({'activation_beta': beta} if beta else {}))
            yield Case('%s of %s' % (op, ' '.join(names)), op, ins, domain='', main=14, near=1e-5, activations=names, hidden_size=H,
                       direction='bidirectional' if D == 2 else 'forward', **more)


def integer_cases(Case, Constant):
    """Integers where ONNX allows them: definitions in numpy."""
    draw = np.random.RandomState(61)
    for kind in ('int32', 'uint32', 'int64', 'uint64'):
        low = 0 if kind.startswith('u') else -9
        a, b, v = (draw.randint(low, 10, dims).astype(kind) for dims in ((2, 3, 4), (4, 5), (5,)))
        yield Case('MatMul ' + kind, 'MatMul', [a, b], domain='', main=13, near=0, want=[np.matmul(a, b)])
        yield Case('Gemm ' + kind, 'Gemm', [a[0], Constant(b), Constant(v)], domain='', main=13, near=0, want=[np.matmul(a[0], b) + v])
        yield Case('Gemm of factors ' + kind, 'Gemm', [a[0].T.copy(), b.T.copy(), v], domain='', main=13, near=0, transA=1, transB=1, alpha=2.0,
                   beta=3.0, want=[2 * np.matmul(a[0], b) + 3 * v])
        x = draw.randint(low // 3, 6, (2, 3, 4)).astype(kind)
        for op, sums in (('ReduceLogSumExp', np.exp(x.astype(np.float64)).sum(1)), ('ReduceLogSum', (np.abs(x.astype(np.float64)) + 1).sum(1))):
            given = x if op == 'ReduceLogSumExp' else (np.abs(x) + np.array(1, kind)).astype(kind)
            yield Case('%s %s' % (op, kind), op, [given, Constant(np.array([1], np.int64))], domain='', near=0, keepdims=0,
                       want=[np.log(sums).astype(kind)])
    for kind in ('int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'):
        x = np.array([[0, 1, 5], [100, 3, 2]], kind) - (0 if kind.startswith('u') else np.array(3, kind))
        yield Case('Sign ' + kind, 'Sign', [x], domain='', main=13, near=0, want=[np.sign(x)])
    for kind in ('int8', 'uint8', 'int16', 'uint16', 'int32'):
        x = draw.randint(0, 100, (1, 2, 3, 3)).astype(kind)
        # align_corners from 3 to 5: every other one is a mean of two
        rows = np.stack([x[:, :, 0], (x[:, :, 0].astype(np.float64) + x[:, :, 1]) / 2, x[:, :, 1], (x[:, :, 1].astype(np.float64) + x[:, :, 2]) / 2,
                         x[:, :, 2]], 2)
        wide = np.stack([rows[..., 0], (rows[..., 0] + rows[..., 1]) / 2, rows[..., 1], (rows[..., 1] + rows[..., 2]) / 2, rows[..., 2]], 3)
        sizes = Constant(np.array([1, 2, 5, 5], np.int64))
        yield Case('Resize ' + kind, 'Resize', [x, None, None, sizes], domain='', main=13, near=0, mode='linear',
                   coordinate_transformation_mode='align_corners', want=[np.trunc(wide).astype(kind)])
    x, at, new = np.array([0, 1, 1, 0, 1], bool), Constant(np.array([[0], [2], [3]], np.int64)), np.array([1, 0, 0], bool)
    for reduction, function in (('add', np.logical_or), ('mul', np.logical_and), ('max', np.logical_or), ('min', np.logical_and)):
        y = x.copy()
        y[[0, 2, 3]] = function(y[[0, 2, 3]], new)
        yield Case('ScatterND of bool ' + reduction, 'ScatterND', [x, at, new], domain='', main=18, near=0, reduction=reduction, want=[y])


def cases(Case, Constant):
    yield from recurrent_cases(Case, Constant)
    yield from integer_cases(Case, Constant)
    yield from alone_cases(Case, Constant)
    yield from flex_cases(Case)
    yield from half_cases(Case)
    yield from float64_cases(Case, Constant)


def refused(Case):
    """(part of the message, case)."""
    q = np.zeros((2, 6, 5, 8), np.float32)

    def flex(name, given=(q, q, q), **more):
        return Case('FlexAttention, ' + name, 'FlexAttention', list(given), domain=PREVIEW, main=26, **more)

    plus = [('Add', ['s', 's'], 't', {})]
    yield "input 0 has 3 axes, expected 4", flex('three axes', (q[0], q[0], q[0]))
    yield "expected a multiple of the 4 heads of K", flex('heads that leave a rest', (q, q[:, :4], q[:, :4]), score_mod=graph(plus))
    yield "score_mod has 2 inputs and 1 outputs", flex('two inputs of the graph', score_mod=graph(plus, inputs=('s', 'u')))
    yield "prob_mod has 1 inputs and 2 outputs", flex('two outputs of the graph', prob_mod=graph(plus, outputs=('t', 's')))
    yield "score_mod returns", flex('another shape', score_mod=graph([('ReduceMax', ['s'], 't', {})]))
    yield "score_mod returns", flex('another type', score_mod=graph([('Cast', ['s'], 't', {'to': TensorProto.DOUBLE})]))
    yield "softmax_precision is 16", flex('precision of bfloat16', softmax_precision=TensorProto.BFLOAT16)
    yield "attribute 'mask_mod' is not supported", flex('an attribute of a draft', mask_mod=graph(plus))
    yield "2 inputs and 1 outputs", flex('no value', (q, q))
    yield "NoSuch", flex('an unknown operator in the graph', score_mod=graph([('NoSuch', ['s'], 't', {})]))
    yield "stash_type is 10", Case('Range in float16', 'Range', [np.float16(1), np.float16(5), np.float16(2)], domain='', main=27, stash_type=10)
    yield "SwiGLU x1 (supported in sets 28 to 28)", Case('SwiGLU before there was one', 'SwiGLU', [q, q], domain='', main=27)
    half = q.astype(np.float16)
    yield "input 1 has another element type than input 0", Case('SwiGLU of two types', 'SwiGLU', [half, q], domain='', main=28)
    yield "input 2 has another element type than input 0", Case('Range of two types', 'Range', [half[0, 0, 0, 0], half[0, 0, 0, 0], q[0, 0, 0, 0]],
                                                                domain='', main=27)
    yield "input 2 has another element type than input 0", flex('values of another type', (q, q, half), score_mod=graph(plus))
    yield "does not broadcast", Case('SwiGLU of two shapes', 'SwiGLU', [q, q[..., :5]], domain='', main=28)
