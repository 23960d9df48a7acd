"""Cases of test_reports.py: elementwise operators, rounding, NaN and Inf, reductions, normalizations."""
import numpy as np

from reports_case import FLOAT32, case, draw

NAN, INF = np.nan, np.inf


@case('openvinotoolkit/openvino/issues/35649')
def relu_nan(m):
    m.want(m.op('Relu', m.x(np.float32([NAN, -1, -0.0, 1, INF, -INF, NAN]))), [NAN, 0, 0, 1, INF, 0, NAN])


@case('apache/tvm/issues/19572')
def sign_nan(m):
    m.want(m.op('Sign', m.x(np.float32([NAN, -3, 0, 2, -INF]))), [NAN, -1, 0, 1, -1])


@case('apache/tvm/issues/19572')
def reduce_extremes_nan(m):
    x = np.float32([[NAN, 1, 2], [2, NAN, 1], [1, 2, NAN], [1, 3, 2]])
    given = m.x(x)
    for kind, value in (('ReduceMax', 3), ('ReduceMin', 1)):
        m.want(m.op(kind, given, m.ints(1), keepdims=0), [NAN, NAN, NAN, value])


@case('openvinotoolkit/openvino/issues/35839')
def extremes_nan_either_side(m):
    a, b = np.float32([NAN, 7, NAN, -2.5, 1]), np.float32([10, NAN, NAN, 9, -INF])
    given = m.x(a), m.x(b)
    m.want(m.op('Min', *given), np.minimum(a, b))
    m.want(m.op('Max', *given), np.maximum(a, b))


@case('onnx/onnx/issues/6003', opset=17)
def clip_nan(m):
    x = np.float32([NAN, -20, 0.5, 20, -INF, NAN])
    m.want(m.op('Clip', m.x(x), m.c(np.float32(-10)), m.c(np.float32(10))), [NAN, -10, 0.5, 10, -10, NAN])


@case('apache/tvm/pull/18242')
def softplus_large(m):
    x = np.float32([-1000, -200, -88, -1, 0, 1, 88.8, 100, 1000])
    m.want(m.op('Softplus', m.x(x)), np.logaddexp(0, x.astype(np.float64)).astype(np.float32), FLOAT32)


@case('openvinotoolkit/openvino/issues/32839', opset=12)
def reduce_log_sum_exp_large(m):
    x = np.float32([[89, 89], [1000, 999], [-1000, -1000], [12, -INF]])
    top = x.max(1, keepdims=True).astype(np.float64)
    want = top + np.log(np.exp(x - top).sum(1, keepdims=True))
    m.want(m.op('ReduceLogSumExp', m.x(x), axes=[1]), want.astype(np.float32), FLOAT32)


@case('PINTO0309/onnx2tf/pull/603')
def celu_large(m):
    x = np.float32([97.723495, 1e4, -97, -0.25, 0])
    want = np.maximum(x, 0) + np.minimum(0, 0.5 * np.expm1(np.minimum(x, 0).astype(np.float64) / 0.5))
    m.want(m.op('Celu', m.x(x), alpha=0.5), want.astype(np.float32), 1e-9)  # of 1e4: 1e-5, a rounding of the numbers below 97


@case('onnx/onnx/pull/6973')
def mod_signs(m):
    a, b = np.int32([7, -7, 7, -7, 6, -6, 0]), np.int32([3, 3, -3, -3, 3, -3, -5])
    given = m.x(a, still=True), m.x(b, still=True)
    m.want(m.op('Mod', *given), np.mod(a, b))
    m.want(m.op('Mod', *given, fmod=1), np.fmod(a, b))
    p, q = np.float32([3, 3, -3, -3, -0.0, 5, 5, -5.5]), np.float32([2, -2, 2, -2, 2, INF, -INF, 1.25])
    m.want(m.op('Mod', m.x(p), m.x(q), fmod=1), np.fmod(p, q))


@case('microsoft/onnxruntime/pull/32369')
def mod_least_integer(m):
    for kind in (np.int8, np.int32, np.int64):
        low = np.iinfo(kind).min
        x = np.array([low, low, low, 7], kind)
        for fmod in (0, 1):
            m.want(m.op('Mod', m.x(x, still=True), m.c([-1, 1, low, -1], kind), fmod=fmod), [0, 0, 0, 0], dtype=kind)


@case('Quantco/ndonnx/pull/235')
def empty_arithmetic(m):
    a, b = np.zeros((0, 3), np.float32), np.ones((1, 3), np.float32)
    given = m.x(a), m.x(b)
    for kind in ('Add', 'Sub', 'Mul', 'Div'):
        m.want(m.op(kind, *given), np.zeros((0, 3), np.float32))
    ints = m.x(np.zeros(0, np.int64)), m.c(np.int64(2))
    m.want(m.op('Mul', *ints), np.zeros(0, np.int64))
    m.want(m.op('Less', *ints), np.zeros(0, bool))


@case('apache/tvm/issues/18598')
def prelu_slopes(m):
    x = draw(2, 4, 4, 4)
    given = m.x(x, still=(1, 2, 3))
    for slope in (draw(4, 1, 1, seed=1), draw(4, seed=2), draw(1, 4, seed=3), draw(4, 4, seed=4)):
        m.want(m.op('PRelu', given, m.c(slope)), np.where(x < 0, x * slope, x).astype(np.float32), FLOAT32)


@case('apache/tvm/issues/17991')
def bitwise_not_of_cast(m):
    x = np.float32([[0, 1, -2.75], [7.9, -128, 100]])
    m.want(m.op('BitwiseNot', m.op('Cast', m.x(x), to=6)), ~np.trunc(x).astype(np.int32))


@case('apache/tvm/issues/20117')
def least_of_constants(m):
    x = draw(3, 2)
    least = m.op('Min', m.c([1.0, 4.0], np.float32), m.c([3.0, 2.0], np.float32))
    y = m.op('ReduceSum', m.op('Mul', m.x(x), least), m.ints(1), keepdims=0)
    m.want(y, (x * np.float32([1, 2])).sum(1), FLOAT32)


@case('iree-org/iree/issues/20803', opset=17)
def difference_of_sum(m):
    x = m.x(np.float32([3, -7, 0.5]))
    m.want(m.op('Sub', x, m.op('Add', x, m.c(np.float32(1)))), [-1, -1, -1])


@case('llvm/torch-mlir/pull/3603')
def shrink_integers(m):
    x = np.arange(-4, 5).astype(np.int32)
    m.want(m.op('Shrink', m.x(x, still=True), lambd=1.0, bias=1.0),
           np.where(x < -1, x + 1, np.where(x > 1, x - 1, 0)).astype(np.int32))
    f = np.float32([-1.5, -1.4, 1.5, 1.6, NAN])
    m.want(m.op('Shrink', m.x(f), lambd=1.5, bias=-0.25), [0, 0, 0, 1.85, 0], FLOAT32)


@case('sonos/tract/pull/2850', opset=13)
def quantize_ties(m):
    x = np.float32([0.25, 0.75, 1.25, 1.75, -0.25, -0.75, -1.25, -1.75, 63.75, 64.25, -64.25, 1000])
    given = m.x(x)
    for kind, zero in ((np.uint8, 0), (np.uint8, 3), (np.int8, 0), (np.int8, -3)):
        info = np.iinfo(kind)
        want = np.clip(np.rint(x / np.float32(0.5)) + zero, info.min, info.max).astype(kind)
        m.want(m.op('QuantizeLinear', given, m.c(np.float32(0.5)), m.c(zero, kind)), want)


@case('sonos/tract/pull/2672')
def dynamic_quantize_ties(m):
    for x in (np.float32([-127, 128, 0.5]), np.float32([-253, 257, 1, 3])):
        scale = np.float32((max(x.max(), 0) - min(x.min(), 0)) / np.float32(255))
        zero = np.clip(np.rint(np.float32(-min(x.min(), 0) / scale)), 0, 255)
        y = m.op('DynamicQuantizeLinear', m.x(x), outputs=3)
        m.want(y[0], np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.uint8))
        m.want(y[1], np.float32(scale))
        m.want(y[2], np.uint8(zero))


@case('microsoft/onnxruntime/pull/32452', opset=19)
def quantize_half(m):
    scale = np.float16(0.0999755859375)
    x = np.float16([0.050018310546875, -0.050018310546875, 0.06, -0.06, 1.27, -1.29, 30, -30])
    want = np.clip(np.rint(x.astype(np.float64) / float(scale)), -128, 127).astype(np.int8)
    m.want(m.op('QuantizeLinear', m.x(x), m.c(scale), m.c(0, np.int8)), want)


@case('onnx/onnx/pull/6593')
def top_k_ties(m):
    x = np.uint8([[5, 0, 5, 255, 0], [0, 0, 0, 0, 0], [255, 1, 255, 1, 2]])
    given = m.x(x)
    for largest in (1, 0):
        order = np.argsort(-x.astype(int) if largest else x.astype(int), 1, kind='stable')[:, :4]
        y = m.op('TopK', given, m.ints(4), outputs=2, largest=largest)
        m.want(y[0], np.take_along_axis(x, order, 1))
        m.want(y[1], order.astype(np.int64))


@case('apache/tvm/issues/19692', opset=14)
def cum_sum_exclusive(m):
    x = np.arange(24).reshape(2, 3, 4).astype(np.int64) ** 2
    given = m.x(x)
    for axis in (-1, 0, -2):
        before = np.cumsum(x, axis) - x
        m.want(m.op('CumSum', given, m.c(np.int64(axis)), exclusive=1), before)
        m.want(m.op('CumSum', given, m.c(np.int32(axis)), exclusive=1, reverse=1),
               np.flip(np.cumsum(np.flip(x, axis), axis), axis) - x)


@case('apache/tvm/issues/18135', opset=14)
def cum_sum_reverse_of_one(m):
    x = draw(1, 5)
    given = m.x(x)
    m.want(m.op('CumSum', given, m.c(np.int64(0)), reverse=1, exclusive=1), np.zeros_like(x))
    m.want(m.op('CumSum', given, m.c(np.int64(1)), reverse=1), np.cumsum(x[:, ::-1], 1)[:, ::-1], FLOAT32)


# ---- reductions ----

@case('tracel-ai/burn-onnx/issues/459')
def reduce_computed_axes(m):
    x = draw(2, 3, 4)
    given = m.x(x)
    rank = m.op('Size', m.op('Shape', given))
    axes = m.op('Range', m.c(np.int64(1)), rank, m.c(np.int64(1)))
    m.want(m.op('ReduceMean', given, axes), x.mean((1, 2), keepdims=True), FLOAT32)
    m.want(m.op('ReduceMax', given, axes, keepdims=0), x.max((1, 2)))


@case('openvinotoolkit/openvino/issues/38238', opset=13)
def reduce_axes_attribute(m):
    x = np.arange(24).reshape(2, 3, 4).astype(np.float32) + 1
    given = m.x(x)
    for kind, want in (('ReduceL1', np.abs(x).sum(1, keepdims=True)), ('ReduceLogSum', np.log(x.sum(1, keepdims=True))),
                       ('ReduceLogSumExp', np.log(np.exp(x.astype(np.float64)).sum(1, keepdims=True)))):
        m.want(m.op(kind, given, axes=[1]), want.astype(np.float32), FLOAT32)


@case('openvinotoolkit/openvino/issues/25169')
def reduce_mean_axes_input(m):
    x = draw(2, 3, 4, 5)
    given = m.x(x)
    m.want(m.op('ReduceMean', given, m.ints(2, 3)), x.mean((2, 3), keepdims=True), FLOAT32)
    m.want(m.op('ReduceMean', given, m.ints(-1, 0), keepdims=0), x.mean((0, 3)), FLOAT32)


@case('robertknight/rten/pull/1204', opset=20)
def reduce_nothing(m):
    x = np.zeros((2, 0, 3), np.float32)
    given = m.x(x)
    for kind, value in (('Sum', 0), ('Prod', 1), ('Max', -INF), ('Min', INF), ('L1', 0), ('L2', 0), ('SumSquare', 0),
                        ('LogSum', -INF),
                        ('LogSumExp', -INF)):
        m.want(m.op('Reduce' + kind, given, m.ints(1), keepdims=0), np.full((2, 3), value, np.float32))
    for kind in (np.int32, np.uint8):
        ints = m.x(np.zeros((2, 0), kind))
        m.want(m.op('ReduceMax', ints, m.ints(-1)), np.full((2, 1), np.iinfo(kind).min, kind))
        m.want(m.op('ReduceMin', ints, m.ints(-1)), np.full((2, 1), np.iinfo(kind).max, kind))


@case('microsoft/onnxruntime/pull/28353')
def reduce_empty_past(m):
    x = np.zeros((1, 0), np.int64)
    given = m.x(x)
    m.want(m.op('ReduceSum', given, m.ints(1), keepdims=0), np.zeros(1, np.int64))
    m.want(m.op('ReduceSum', given, m.ints(0), keepdims=1), np.zeros((1, 0), np.int64))


# ---- normalizations ----

def normalized(x, axis, epsilon):
    """(x - mean) / sqrt(variance + epsilon) in float64."""
    x = x.astype(np.float64)
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + epsilon)


@case('microsoft/onnxruntime/issues/28463', opset=17)
def layer_norm_large_mean(m):
    x = np.float32([[v + k for k in range(4)] for v in (40000, 80000, 2.0**22)])
    y = m.op('LayerNormalization', m.x(x), m.c(np.ones(4, np.float32)), m.c(np.zeros(4, np.float32)), epsilon=1e-5)
    m.want(y, normalized(x, -1, 1e-5).astype(np.float32), 1e-6)


@case('apache/tvm/issues/19592', opset=17)
def layer_norm_large_mean_of_many(m):
    x = np.float32(80000 + draw(3, 4, 64))
    scale = draw(4, 64, seed=1)
    y = m.op('LayerNormalization', m.x(x, still=(1, 2)), m.c(scale), axis=-2, epsilon=1e-5)
    want = normalized(x.reshape(3, -1), -1, 1e-5).reshape(x.shape) * scale
    m.want(y, want.astype(np.float32), 1e-4)  # the mean of float32 numbers near 80000, in float32: 2^-8 at most beside it


@case('microsoft/onnxruntime/issues/21935', opset=17)
def layer_norm_of_equals(m):
    x = np.full((2, 256), 1234, np.float32)
    bias = draw(256)
    m.want(m.op('LayerNormalization', m.x(x), m.c(np.ones(256, np.float32)), m.c(bias)), np.stack([bias, bias]))


@case('llvm/torch-mlir/pull/4474', opset=23)
def rms_norm_half(m):
    x = (np.arange(64).reshape(1, 64) * 100 - 3000).astype(np.float16)  # the sum of squares is beyond float16
    real = x.astype(np.float64)
    want = real / np.sqrt((real ** 2).mean(-1, keepdims=True) + 1e-5)
    m.want(m.op('RMSNormalization', m.x(x, still=(-1,)), m.c(np.ones(64, np.float16))), want.astype(np.float16), 2.0**-10)


@case('microsoft/onnxruntime/issues/29034')
def skip_rms_norm_half(m):
    x, skip = (draw(2, 3, 32, scale=9000).clip(-30000, 30000)).astype(np.float16), draw(2, 3, 32, seed=1,
                                                                                        scale=500).astype(np.float16)
    total = x.astype(np.float64) + skip
    want = total / np.sqrt((total ** 2).mean(-1, keepdims=True) + 1e-5)
    y = m.op('SkipSimplifiedLayerNormalization', m.x(x, still=(-1,)), m.x(skip, still=(-1,)), m.c(np.ones(32, np.float16)),
             domain='com.microsoft', epsilon=1e-5)
    m.want(y, want.astype(np.float16), 2.0**-9)  # of the sum in float16, and of the result


@case('openvinotoolkit/openvino/issues/30665')
def skip_layer_norm_epsilon(m):
    x, skip, gamma, beta = draw(2, 3, 8), draw(2, 3, 8, seed=1), draw(8, seed=2), draw(8, seed=3)
    y = m.op('SkipLayerNormalization', m.x(x, still=(-1,)), m.x(skip, still=(-1,)), m.c(gamma), m.c(beta),
             domain='com.microsoft', epsilon=0.5)
    m.want(y, (normalized(x + skip, -1, 0.5) * gamma + beta).astype(np.float32), FLOAT32)


@case('tracel-ai/burn-onnx/issues/289')
def lrn_batch_unlike_channels(m):
    x = draw(5, 3, 2, 2)
    given = m.x(x)
    for size in (3, 5):
        total = np.zeros(x.shape)
        for c in range(3):
            total[:, c] = (x[:, max(0, c - (size - 1) // 2):min(2, c + -(-(size - 1) // 2)) + 1].astype(np.float64) ** 2).sum(1)
        want = x / (1.5 + 0.3 / size * total) ** 0.75
        m.want(m.op('LRN', given, size=size, alpha=0.3, beta=0.75, bias=1.5), want.astype(np.float32), FLOAT32)


@case('microsoft/onnxruntime/pull/27886')
def lrn_huge_size(m):
    x, size = draw(2, 3, 4), 2**31 - 1
    total = (x.astype(np.float64) ** 2).sum(1, keepdims=True)
    want = x / (1 + 1e9 / size * total) ** 0.75
    m.want(m.op('LRN', m.x(x), size=size, alpha=1e9, beta=0.75, bias=1.0), want.astype(np.float32), FLOAT32)


@case('apache/tvm/pull/18704', opset=15)
def batch_norm_inference(m):
    x, scale, bias, mean, var = draw(2, 3, 4), draw(3, seed=1), draw(3, seed=2), draw(3, seed=3), np.abs(draw(3, seed=4)) + 0.1
    want = (x - mean[:, None]) / np.sqrt(var[:, None] + 0.01) * scale[:, None] + bias[:, None]
    y = m.op('BatchNormalization', m.x(x, still=(1,)), m.c(scale), m.c(bias), m.c(mean), m.c(var), epsilon=0.01, momentum=0.5,
             training_mode=0)
    m.want(y, want.astype(np.float32), FLOAT32)


@case('apache/tvm/issues/20183', opset=11)
def softmax_before_13(m):
    x = draw(2, 3, 4)
    given = m.x(x)
    for axes, more in (((1, 2), {'axis': 1}), ((1, 2), {}), ((2,), {'axis': 2}), ((0, 1, 2), {'axis': 0})):
        e = np.exp(x.astype(np.float64) - x.max(axes, keepdims=True))
        want = e / e.sum(axes, keepdims=True)
        m.want(m.op('Softmax', given, **more), want.astype(np.float32), FLOAT32)
        m.want(m.op('LogSoftmax', given, **more), np.log(want).astype(np.float32), FLOAT32)
