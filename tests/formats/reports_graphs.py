"""Cases of test_reports.py: operators that an optimizer merges, quantized graphs, control flow, attention,
recurrent and signal operators."""
import itertools

import numpy as np

from reports_case import FLOAT32, case, draw
from reports_windows import conv

NAN, INF = np.nan, np.inf


# ---- products and what follows them ----

@case('microsoft/onnxruntime/issues/32228', opset=17)
def identity_transpose_then_product(m):
    b, bias = draw(4, 3, seed=1), draw(3, seed=2)
    for a in (draw(4, 4, seed=3), draw(5, 4, seed=4)):
        given = m.x(a, still=(1,))
        y = m.op('Add', m.op('MatMul', m.op('Transpose', given, perm=[0, 1]), m.c(b)), m.c(bias))
        m.want(y, a @ b + bias, FLOAT32)
    square = draw(4, 4, seed=5)
    y = m.op('Gemm', m.op('Transpose', m.x(square, still=True), perm=[1, 0]), m.op('Transpose', m.c(b), perm=[0, 1]),
             m.c(bias), transA=1)
    m.want(y, square @ b + bias, FLOAT32)


@case('openxla/xla/issues/46897')
def square_product_and_bias(m):
    a, b, bias = draw(4, 4), draw(4, 4, seed=1), draw(4, seed=2)
    product = m.op('MatMul', m.x(a, still=True), m.c(b))
    m.want(m.op('Add', product, m.c(bias[:, None])), a @ b + bias[:, None], FLOAT32)
    m.want(m.op('Add', m.c(bias), product), a @ b + bias, FLOAT32)
    m.want(m.op('Mul', product, m.c(bias[:, None])), (a @ b) * bias[:, None], FLOAT32)


@case('onnxruntime/onnxruntime-qnn/pull/741')
def gemm_bias_of_columns(m):
    a, b = draw(3, 4), draw(4, 5, seed=1)
    given = m.x(a, still=True)
    for bias in (draw(3, 1, seed=2), draw(1, 1, seed=3), draw(1, 5, seed=4), draw(3, 5, seed=5), np.float32(0.5)):
        m.want(m.op('Gemm', given, m.c(b), m.c(bias), beta=0.5, alpha=2.0), 2 * (a @ b) + bias / 2, FLOAT32)
    m.want(m.op('Add', m.op('MatMul', given, m.c(b)), m.c(draw(3, 1, seed=6))), a @ b + draw(3, 1, seed=6), FLOAT32)


@case('inisis/OnnxSlim/issues/210')
def gemm_bias_then_wider_addition(m):
    a, b, bias, more = draw(6, 4), draw(4, 5, seed=1), draw(5, seed=2), draw(1, 6, 5, seed=3)
    y = m.op('Gemm', m.x(a, still=True), m.c(b), m.c(bias))
    m.want(m.op('Add', y, m.c(more)), (a @ b + bias) + more, FLOAT32)
    m.want(m.op('Add', m.op('Reshape', y, m.ints(2, 3, 5)), m.c(more.reshape(2, 3, 5))),
           (a @ b + bias).reshape(2, 3, 5) + more.reshape(2, 3, 5),
           FLOAT32)


@case('inisis/OnnxSlim/issues/323')
def product_and_bias_of_five_axes(m):
    a, b, bias = draw(3, 4), draw(4, 5, seed=1), draw(2, 1, 2, 3, 5, seed=2)
    m.want(m.op('Add', m.op('MatMul', m.x(a, still=True), m.c(b)), m.c(bias)), a @ b + bias, FLOAT32)
    m.want(m.op('Add', m.op('MatMul', m.x(a, still=(1,)), m.c(b)), m.c(bias[:1, :, :1, :1])), a @ b + bias[:1, :, :1, :1],
           FLOAT32)


def norm(y, parameters, axis=1):
    shape = [1] * y.ndim
    shape[axis] = -1
    scale, bias, mean, var = (p.astype(np.float64).reshape(shape) for p in parameters)
    return (y - mean) / np.sqrt(var + 1e-5) * scale + bias


def norm_parameters(count):
    return draw(count, seed=11), draw(count, seed=12), draw(count, seed=13), np.abs(draw(count, seed=14)) + 0.3


@case('microsoft/onnxruntime/pull/22762')
def product_then_norm_of_other_axis(m):
    a, b = draw(2, 3, 4), draw(4, 5, seed=1)
    y = m.op('MatMul', m.x(a, still=(1, 2)), m.c(b))
    p = norm_parameters(3)
    m.want(m.op('BatchNormalization', y, *map(m.c, p)), norm(a.astype(np.float64) @ b, p).astype(np.float32), 1e-5)


@case('microsoft/onnxscript/pull/3027')
def gemm_beta_then_norm(m):
    a, b, bias, p = draw(4, 3), draw(3, 5, seed=1), draw(5, seed=2), norm_parameters(5)
    given = m.x(a, still=(1,))
    for alpha, beta in ((1.0, 2.0), (0.5, 0.5), (2.0, 0.0)):
        y = m.op('Gemm', given, m.c(b), m.c(bias), alpha=alpha, beta=beta)
        m.want(m.op('BatchNormalization', y, *map(m.c, p)),
               norm(alpha * (a.astype(np.float64) @ b) + beta * bias, p).astype(np.float32), 1e-5)


@case('onnx/optimizer/issues/255')
def norm_of_one_of_two_readers(m):
    x, w, p, q = draw(1, 2, 5, 5), draw(3, 2, 3, 3, seed=1), norm_parameters(3), norm_parameters(4)[::-1]
    given, weight = m.x(x, still=(1,)), m.c(w)
    y, z = m.op('Conv', given, weight), m.op('Conv', given, weight, pads=[1, 1, 1, 1])  # one weight, one reader with a norm
    m.want(m.op('BatchNormalization', y, *map(m.c, p)), norm(conv(x, w), p).astype(np.float32), 1e-5)
    m.want(z, conv(x, w, None, None, [1, 1, 1, 1]).astype(np.float32), FLOAT32)
    v = draw(4, 1, 2, 2, seed=2)
    seen = m.op('Conv', given, m.c(v), group=2)  # the convolution's own result is an output, too
    q = [np.abs(part) + 0.1 for part in q]
    m.want(seen, conv(x, v, group=2).astype(np.float32), FLOAT32)
    m.want(m.op('BatchNormalization', seen, *map(m.c, q)), norm(conv(x, v, group=2), q).astype(np.float32), 1e-5)


@case('inisis/OnnxSlim/pull/214')
def pads_that_are_no_zeros(m):
    x, w = draw(1, 2, 5, 5), draw(3, 2, 3, 3, seed=1)
    given = m.x(x, still=(1,))
    padded = m.op('Pad', given, m.ints(0, 0, 1, 0, 0, 0, 0, 2), m.c(np.float32(-1.5)))
    want = conv(x, w, None, None, [1, 0, 0, 2], pad_value=-1.5)
    m.want(m.op('Conv', padded, m.c(w)), want.astype(np.float32), FLOAT32)
    zeros = m.op('Pad', given, m.ints(0, 0, 1, 0, 0, 0, 0, 2))
    m.want(m.op('Conv', zeros, m.c(w)), conv(x, w, None, None, [1, 0, 0, 2]).astype(np.float32), FLOAT32)
    edge = m.op('Pad', given, m.ints(0, 0, 1, 1, 0, 0, 1, 1), mode='edge')
    m.want(m.op('Conv', edge, m.c(w)), conv(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), 'edge'), w).astype(np.float32), FLOAT32)


@case('inisis/OnnxSlim/pull/212')
def pads_before_pads(m):
    x, w = draw(1, 2, 5, 6), draw(3, 3, 3, 3, seed=1)
    given = m.x(x, still=True)
    more = np.pad(x, ((0, 0), (0, 1), (1, 0), (0, 1)))
    channels = m.op('Pad', given, m.ints(0, 0, 1, 0, 0, 1, 0, 1))  # a channel, too
    m.want(m.op('Conv', channels, m.c(w), pads=[1, 2, 0, 0]), conv(more, w, None, None, [1, 2, 0, 0]).astype(np.float32),
           FLOAT32)
    crop = m.op('Pad', given, m.ints(0, 0, -1, 2, 0, 0, 1, -2))
    cut = np.pad(x[:, :, 1:, :4], ((0, 0), (0, 0), (0, 1), (2, 0)))
    m.want(m.op('Conv', crop, m.c(w[:, :2]), pads=[1, 1, 1, 1]),
           conv(cut, w[:, :2], None, None, [1, 1, 1, 1]).astype(np.float32), FLOAT32)


@case('onnx/optimizer/pull/251')
def pads_before_same(m):
    x, w = draw(1, 2, 6, 6), draw(3, 2, 3, 3, seed=1)
    padded = m.op('Pad', m.x(x, still=True), m.ints(0, 0, 1, 1, 0, 0, 1, 1))
    wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    # of 8 elements with stride 2: 4, which take 9; one pad, at the end
    m.want(m.op('Conv', padded, m.c(w), auto_pad='SAME_UPPER', strides=[2, 2]),
           conv(wide, w, None, [2, 2], [0, 0, 1, 1]).astype(np.float32), FLOAT32)
    m.want(m.op('Conv', padded, m.c(w), auto_pad='VALID'), conv(wide, w).astype(np.float32), FLOAT32)


@case('microsoft/onnxruntime/issues/32416')
def cast_to_own_type(m):
    x = draw(2, 3)
    given = m.x(x, still=True)
    m.want(m.op('Mul', m.op('Cast', given, to=1), m.c(np.float32(1))), x)
    one = m.op('Div', m.c(np.float32(1)), m.c(np.float32(1)))
    m.want(m.op('Mul', one, m.op('Cast', given, to=1)), x)
    half = m.op('Cast', m.op('Cast', given, to=10), to=1)  # two casts that are not neutral
    m.want(m.op('Mul', half, m.c(np.float32(1))), x.astype(np.float16).astype(np.float32))


@case('apache/tvm/pull/16604', opset=10)
def attributes_before_11(m):
    x = draw(2, 3, scale=3)
    given = m.x(x)
    m.want(m.op('Clip', given, min=-1.0), np.maximum(x, -1))
    m.want(m.op('Clip', given, max=0.5), np.minimum(x, np.float32(0.5)))
    m.want(m.op('Unsqueeze', given, axes=[0, 3]), x[None, :, :, None])
    m.want(m.op('Slice', given, m.ints(-2), m.ints(100), m.ints(1)), x[:, -2:])


# ---- quantized graphs ----

def quantized(x, scale, zero, kind):
    info = np.iinfo(kind)
    return np.clip(np.rint(np.asarray(x, np.float64) / scale) + zero, info.min, info.max).astype(kind)


def real(q, scale, zero):
    return (q.astype(np.float64) - zero) * scale


@case('microsoft/onnxruntime/issues/24711', opset=13)
def quantized_bias_of_another_scale(m):
    x = draw(1, 2, 5, 5)
    w, bias = np.random.RandomState(1).randint(-127, 128, (3, 2, 3, 3)).astype(np.int8), np.int32([4000, -2500, 123])
    sx, sw, sb, sy = (np.float32(s) for s in (0.03, 0.01, 0.0007, 0.05))  # sb is not sx * sw
    q = m.op('QuantizeLinear', m.x(x, still=(1,)), m.c(sx), m.c(np.uint8(120)))
    parts = [m.op('DequantizeLinear', q, m.c(sx), m.c(np.uint8(120))),
             m.op('DequantizeLinear', m.c(w), m.c(sw), m.c(np.int8(0))),
             m.op('DequantizeLinear', m.c(bias), m.c(sb))]
    y = m.op('QuantizeLinear', m.op('Conv', *parts), m.c(sy), m.c(np.uint8(100)))
    exact = conv(real(quantized(x, sx, 120, np.uint8), sx, 120), real(w, sw, 0), bias * np.float64(sb))
    m.want(y, quantized(exact, sy, 100, np.uint8), 1)  # a unit: the bias may be rounded to the scale of the products
    m.want(m.op('DequantizeLinear', y, m.c(sy), m.c(np.uint8(100))),
           real(quantized(exact, sy, 100, np.uint8), sy, 100).astype(np.float32), 0.0501)


@case('microsoft/onnxruntime/issues/21176', opset=13)
def quantized_pool_of_negative_scale(m):
    q = np.random.RandomState(2).randint(-128, 128, (1, 2, 4, 6)).astype(np.int8)
    scale = np.float32(-0.25)
    x = m.op('DequantizeLinear', m.x(q, still=True), m.c(scale), m.c(np.int8(3)))
    y = m.op('MaxPool', x, kernel_shape=[2, 2], strides=[2, 2])
    best = real(q, -0.25, 3).reshape(1, 2, 2, 2, 3, 2).max((3, 5))
    m.want(m.op('QuantizeLinear', y, m.c(scale), m.c(np.int8(3))), quantized(best, -0.25, 3, np.int8))


@case('microsoft/onnxruntime/pull/20187', opset=21)
def quantized_relu_of_16_bits(m):
    x = draw(2, 9, scale=4)
    given = m.op('Relu', m.x(x))
    for kind, zero in ((np.uint16, 100), (np.int16, -100), (np.int16, -32768), (np.uint16, 0)):
        y = m.op('QuantizeLinear', given, m.c(np.float32(0.001)), m.c(zero, kind))
        m.want(y, quantized(np.maximum(x, 0), np.float64(np.float32(0.001)), zero, kind), 1)  # the division is in float32


def resize_between_quantizations(m, near):
    q = np.random.RandomState(3).randint(0, 256, (1, 1, 3, 4)).astype(np.uint8)
    x = m.op('DequantizeLinear', m.x(q, still=True), m.c(np.float32(0.5)), m.c(np.uint8(7)))
    y = m.op('Resize', x, None, m.c([1, 1, 2, 2], np.float32), mode='linear', coordinate_transformation_mode='asymmetric')
    wide = np.pad(real(q, 0.5, 7)[0, 0], ((0, 1), (0, 1)), 'edge')
    want = np.zeros((6, 8))
    for i, j in np.ndindex(6, 8):
        want[i, j] = (wide[i // 2:i // 2 + 1 + i % 2, j // 2:j // 2 + 1 + j % 2]).mean()
    m.want(m.op('QuantizeLinear', y, m.c(np.float32(0.5)), m.c(np.uint8(7))), quantized(want, 0.5, 7, np.uint8)[None, None],
           near)


@case('microsoft/onnxruntime/pull/22476', opset=13)
def quantized_resize(m):
    resize_between_quantizations(m, 1)  # a unit: in 8 bits, ties are rounded to an even code, with the zero point


@case('microsoft/onnxruntime/pull/22476', opset=13)
def quantized_resize_as_floats(m):
    resize_between_quantizations(m, 0)
    m.options = ['--no-quantize']


@case('microsoft/onnxruntime/issues/25948', opset=13)
def quantized_resize_channels_last(m):
    q = np.random.RandomState(4).randint(0, 256, (1, 3, 2, 3)).astype(np.uint8)
    x = m.op('DequantizeLinear', m.x(q), m.c(np.float32(0.02)), m.c(np.uint8(128)))
    x = m.op('Transpose', x, perm=[0, 3, 1, 2])
    y = m.op('Resize', x, None, m.c([1, 1, 2, 2], np.float32), mode='nearest', coordinate_transformation_mode='asymmetric',
             nearest_mode='floor')
    y = m.op('Transpose', y, perm=[0, 2, 3, 1])
    m.want(m.op('QuantizeLinear', y, m.c(np.float32(0.02)), m.c(np.uint8(128))), q.repeat(2, 1).repeat(2, 2))


# ---- control flow ----

@case('promptfoo/modelaudit/pull/1848', opset=17)
def loop_that_ends_early(m):
    x = draw(4)
    given, body = m.x(x, still=True), m.body()
    trip, go, carried = body.name('trip'), body.name('go'), body.name('carried')
    stop = body.op('Identity', body.c(np.array(False)))
    twice = body.op('Add', carried, carried)
    out = body.op('Mul', twice, given)  # of the outer graph
    graph = body.graph([(trip, np.int64, []), (go, bool, []), (carried, np.float32, [4])],
                       [(stop, bool, []), (twice, np.float32, [4]), (out, np.float32, [4])])
    y = m.op('Loop', m.c(np.int64(5)), m.c(np.array(True)), given, outputs=2, body=graph)
    m.want(y[0], x + x)
    m.want(y[1], ((x + x) * x)[None])


@case('onnx/onnx/pull/8135', opset=17)
def loop_of_no_trips(m):
    x = draw(4)
    given = m.x(x, still=True)
    for trips, go in ((0, True), (3, False), (2, True)):
        body = m.body()
        trip, again, carried = body.name('trip'), body.name('go'), body.name('carried')
        graph = body.graph([(trip, np.int64, []), (again, bool, []), (carried, np.float32, [4])],
                           [(body.op('Identity', again), bool, []), (body.op('Neg', carried), np.float32, [4]),
                            (body.op('Add', carried, body.op('Cast', trip, to=1)), np.float32, [4])])
        y = m.op('Loop', m.c(np.int64(trips)), m.c(np.array(go)), given, outputs=2, body=graph)
        rows = [x, 1 - x] if trips == 2 else np.zeros((0, 4))
        m.want(y[0], x)
        m.want(y[1], np.float32(rows))


@case('onnx/onnx/pull/7843', opset=17)
def scan_with_more_outputs(m):
    x = draw(3, 2)
    body = m.body()
    total, last, row = body.name('total'), body.name('last'), body.name('row')
    more = body.op('Add', total, row)
    graph = body.graph([(total, np.float32, [2]), (last, np.float32, [2]), (row, np.float32, [2])],
                       [(more, np.float32, [2]), (body.op('Identity', row), np.float32, [2]),
                        (body.op('Sub', row, last), np.float32, [2]),
                        (body.op('ReduceSum', more, body.ints(0), keepdims=0), np.float32, [])])
    zero, one = np.zeros(2, np.float32), np.ones(2, np.float32)
    y = m.op('Scan', m.c(zero), m.c(one), m.x(x, still=True), outputs=4, body=graph, num_scan_inputs=1,
             scan_input_directions=[1],
             scan_output_directions=[0, 1])
    back, totals = x[::-1], np.cumsum(x[::-1], 0)
    m.want(y[0], totals[-1], FLOAT32)
    m.want(y[1], x[0])
    m.want(y[2], back - np.concatenate([one[None], back[:-1]]), FLOAT32)
    m.want(y[3], totals.sum(1)[::-1], FLOAT32)


@case('enpasos/jax2onnx/issues/37', opset=17)
def scan_of_a_counter(m):
    body = m.body()
    count, step = body.name('count'), body.name('step')
    graph = body.graph([(count, np.int64, []), (step, np.float32, [])],
                       [(body.op('Add', count, body.c(np.int64(1))), np.int64, []),
                        (body.op('Mul', count, body.c(np.int64(2))), np.int64, [])])
    y = m.op('Scan', m.c(np.int64(0)), m.x(np.zeros(10, np.float32), still=True), outputs=2, body=graph, num_scan_inputs=1)
    m.want(y[0], np.int64(10))
    m.want(y[1], np.arange(10) * 2)


@case('llvm/torch-mlir/pull/3749', opset=17)
def if_of_other_ranks(m):
    x = draw(1, 3, 4)
    given = m.x(x, still=(0, 1))
    size = m.op('Gather', m.op('Shape', given), m.c(np.int64(0)))
    for number, want in ((1, x[0]), (2, x)):
        yes, no = m.body(), m.body()
        one = m.op('Equal', size, m.c(np.int64(number)))
        graphs = [yes.graph([], [(yes.op('Squeeze', given, yes.ints(0)), np.float32, None)]),
                  no.graph([], [(no.op('Identity', given), np.float32, None)])]
        m.want(m.op('If', one, then_branch=graphs[0], else_branch=graphs[1]), want)


# ---- attention ----

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(q, k, v, mask=None, softcap=0.0, allowed=None):
    """[B,H,L,E]: softmax(softcap(q k^T / sqrt(E)) + mask) v; softcap before the mask."""
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    scores = softcap * np.tanh(scores / softcap) if softcap else scores
    scores = scores if mask is None else scores + mask
    return (softmax(scores if allowed is None else np.where(allowed, scores, -INF)) @ v).astype(np.float32)


def heads(length, keys, seed=0):
    return draw(2, 3, length, 8, seed=seed), draw(2, 3, keys, 8, seed=seed + 1), draw(2, 3, keys, 6, seed=seed + 2)


@case('onnx/onnx/issues/7865', opset=24)
def attention_softcap_before_mask(m):
    q, k, v = heads(4, 5)
    v[:, :, 3:] = 1e4  # masked: a leak is large
    mask = np.float32([[0, -0.5, 0.25, -INF, -INF]] * 4)
    given = m.x(q, still=True), m.x(k, still=True), m.x(v, still=True)
    m.want(m.op('Attention', *given, m.c(mask), softcap=2.0), attention(q, k, v, mask, 2.0), 1e-5)


@case('onnx/onnx/pull/7297', opset=23)
def attention_causal_after_past(m):
    q, k, v = heads(3, 3, seed=9)
    past_k, past_v = draw(2, 3, 4, 8, seed=20), draw(2, 3, 4, 6, seed=21)
    y = m.op('Attention', m.x(q, still=True), m.x(k, still=True), m.x(v, still=True), None, m.x(past_k, still=True),
             m.x(past_v, still=True),
             outputs=3, is_causal=1)
    keys, values = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2)
    allowed = np.arange(7)[None] <= np.arange(3)[:, None] + 4  # the past is seen by all
    m.want(y[0], attention(q, keys, values, None, 0.0, allowed), 1e-5)
    m.want(y[1], keys)
    m.want(y[2], values)


@case('openvinotoolkit/openvino/pull/28362')
def fused_matmul_defaults(m):
    a, b = draw(2, 3, 4), draw(2, 4, 5, seed=1)
    m.want(m.op('FusedMatMul', m.x(a, still=(0, 2)), m.x(b, still=(0, 1)), domain='com.microsoft'), a @ b, FLOAT32)
    y = m.op('FusedMatMul', m.x(b, still=True), m.x(a, still=True), domain='com.microsoft', transA=1, transB=1, alpha=-0.5)
    m.want(y, -0.5 * (b.swapaxes(1, 2) @ a.swapaxes(1, 2)), FLOAT32)


# ---- recurrent and signal operators ----

def gru(x, w, r, b, h, linear, lengths, backwards=False):
    """One direction of GRU: (Y [T,B,H], Y_h [B,H]); steps behind a sequence's length leave its state and are 0 in Y."""
    T, B, H = x.shape[0], x.shape[1], r.shape[-1]
    wz, wr, wh = w.reshape(3, H, -1).astype(np.float64)
    rz, rr, rh = r.reshape(3, H, H).astype(np.float64)
    bz, br, bh, cz, cr, ch = b.reshape(6, H).astype(np.float64)
    y, h = np.zeros((T, B, H)), h.astype(np.float64).copy()
    for n in range(B):
        for t in (range(lengths[n] - 1, -1, -1) if backwards else range(lengths[n])):
            z = 1 / (1 + np.exp(-(wz @ x[t, n] + rz @ h[n] + bz + cz)))
            g = 1 / (1 + np.exp(-(wr @ x[t, n] + rr @ h[n] + br + cr)))
            inner = g * (rh @ h[n] + ch) if linear else rh @ (g * h[n]) + ch
            h[n] = (1 - z) * np.tanh(wh @ x[t, n] + inner + bh) + z * h[n]
            y[t, n] = h[n]
    return y, h


@case('microsoft/onnxscript/issues/2852', opset=14)
def gru_reset_before_and_after(m):
    T, B, size, H = 5, 3, 2, 4
    x, w, r, b = draw(T, B, size), draw(2, 3 * H, size, seed=1), draw(2, 3 * H, H, seed=2), draw(2, 6 * H, seed=3)
    h, lengths = draw(2, B, H, seed=4), np.int32([5, 2, 4])
    given = m.x(x, still=True), m.c(w), m.c(r), m.c(b), m.c(lengths), m.c(h)
    for linear in (0, 1):
        y = m.op('GRU', *given, outputs=2, hidden_size=H, direction='bidirectional', linear_before_reset=linear)
        want = [gru(x, w[d], r[d], b[d], h[d], linear, lengths, d == 1) for d in range(2)]
        m.want(y[0], np.stack([part[0] for part in want], 1).astype(np.float32), FLOAT32)
        m.want(y[1], np.stack([part[1] for part in want]).astype(np.float32), FLOAT32)


@case('iree-org/iree/issues/18441', opset=14)
def lstm_of_one_in_a_batch(m):
    T, size, H = 7, 3, 4
    x, w, r, b = draw(T, 1, size), draw(1, 4 * H, size, seed=1), draw(1, 4 * H, H, seed=2), draw(1, 8 * H, seed=3)
    h, c = draw(1, 1, H, seed=4), draw(1, 1, H, seed=5)
    y = m.op('LSTM', m.x(x, still=(1, 2)), m.c(w), m.c(r), m.c(b), None, m.c(h), m.c(c), outputs=3, hidden_size=H)
    state, cell, rows = h[0, 0].astype(np.float64), c[0, 0].astype(np.float64), []
    for t in range(T):
        i, o, f, g = (w[0] @ x[t, 0] + r[0] @ state + b[0, :4 * H] + b[0, 4 * H:]).reshape(4, H)
        i, o, f = (1 / (1 + np.exp(-gate)) for gate in (i, o, f))
        cell = f * cell + i * np.tanh(g)
        state = o * np.tanh(cell)
        rows.append(state)
    m.want(y[0], np.stack(rows).reshape(T, 1, 1, H).astype(np.float32), FLOAT32)
    m.want(y[1], rows[-1].reshape(1, 1, H).astype(np.float32), FLOAT32)
    m.want(y[2], cell.reshape(1, 1, H).astype(np.float32), FLOAT32)


@case('apache/tvm/pull/16659', opset=17)
def dft_defaults(m):
    x = draw(2, 10, 3, 1)
    want = np.fft.fft(x[..., 0].astype(np.float64), axis=1)
    m.want(m.op('DFT', m.x(x, still=True)), np.stack([want.real, want.imag], -1).astype(np.float32), 1e-5)
    m.want(m.op('DFT', m.x(x, still=True), axis=2, onesided=1),
           np.stack([f(np.fft.rfft(x[..., 0], axis=2)) for f in (np.real, np.imag)], -1).astype(np.float32), 1e-5)
