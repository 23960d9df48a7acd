"""Cases of test_contrib.py for operators of com.microsoft, and LinearAttention of ONNX, which is made of one of them."""
import numpy as np
from onnx import TensorProto

from contrib_case import Case, Constant, floats, seven_bits


def product_of_int8(x, data, scales, zeros, bits):
    """MatMulNBits by integers: x is rounded to int8 block by block, with the scale largest magnitude / 127."""
    def entries(packed, count):
        digits = np.unpackbits(packed, axis=-1, bitorder='little').reshape(*packed.shape[:-1], -1, bits)
        return (digits @ 2 ** np.arange(bits))[..., :count]

    rows, blocks, _ = data.shape
    weights = entries(data, None) - entries(zeros.reshape(rows, -1), blocks)[..., None]
    blocked = np.zeros((*x.shape[:-1], blocks, weights.shape[-1]), np.float32)
    blocked.reshape(*x.shape[:-1], -1)[..., :x.shape[-1]] = x
    largest = np.abs(blocked).max(-1, keepdims=True)
    rounded = np.rint(blocked * (np.float32(127) / largest))
    sums = np.einsum('abtk,ntk->abnt', rounded.astype(np.float64), weights)
    return np.einsum('abnt,abt,nt->abn', sums, largest[..., 0].astype(np.float64) / 127, scales.astype(np.float64))


def quantized_cases():
    for dtype in ('uint8', 'int8'):
        draw = np.random.RandomState(7)
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        zero = {'uint8': 120, 'int8': -3}[dtype]

        def integers(*shape):
            return draw.randint(low, high + 1, shape).astype(dtype)

        def scale(value):
            return Constant(np.float32(value))

        def point(value):
            return Constant(np.array(value, dtype))

        x, y, image = integers(2, 3, 5), integers(2, 3, 5), integers(1, 3, 7, 6)
        for op in ('QLinearAdd', 'QLinearMul'):
            yield Case('%s %s' % (op, dtype), op, [x, scale(0.04), point(zero), y, scale(0.03), point(zero - 5), scale(0.07), point(zero + 4)])
            yield Case('%s %s broadcast' % (op, dtype), op, [x, scale(0.04), point(zero), integers(5), scale(0.03), point(zero - 5),
                                                             scale(0.06), point(zero + 4)])
            yield Case('%s %s saturates' % (op, dtype), op, [x, scale(0.04), point(zero), y, scale(0.03), point(zero), scale(0.002), point(zero)])
        yield Case('QLinearSigmoid ' + dtype, 'QLinearSigmoid', [x, scale(0.05), point(zero), scale(1 / 256), point(low)])
        yield Case('QLinearSigmoid %s other scale' % dtype, 'QLinearSigmoid', [x, scale(0.05), point(zero), scale(0.01), point(zero)])
        yield Case('QLinearLeakyRelu ' + dtype, 'QLinearLeakyRelu', [x, scale(0.05), point(zero), scale(0.03), point(zero)], alpha=0.2)
        for axis in (-1, 1):
            yield Case('QLinearSoftmax %s %d' % (dtype, axis), 'QLinearSoftmax',
                       [x, scale(0.05), point(zero), scale(1 / 256), point(low)], axis=axis, opset=13)
        yield Case('QLinearSoftmax %s set 11' % dtype, 'QLinearSoftmax', [x, scale(0.05), point(zero), scale(1 / 256), point(low)],
                   axis=1, opset=11)
        yield Case('QLinearConcat ' + dtype, 'QLinearConcat', [scale(0.05), point(zero), x, scale(0.04), point(zero), y, scale(0.05),
                                                              point(zero)], axis=1)
        yield Case('QLinearConcat %s three' % dtype, 'QLinearConcat',
                   [scale(0.05), point(zero), x, scale(0.04), point(zero), y, scale(0.05), point(zero), integers(2, 3, 2),
                    scale(0.02), point(zero + 1)], axis=-1)
        yield Case('QLinearWhere ' + dtype, 'QLinearWhere', [draw.rand(2, 3, 5) < 0.5, x, scale(0.04), point(zero), y, scale(0.05),
                                                            point(zero - 1), scale(0.045), point(zero)])
        for last in (0, 1):
            shape = image if last == 0 else np.ascontiguousarray(image.transpose(0, 2, 3, 1))
            yield Case('QLinearAveragePool %s channels_last %d' % (dtype, last), 'QLinearAveragePool',
                       [shape, scale(0.04), point(zero), scale(0.05), point(zero + 3)], kernel_shape=[3, 2], strides=[2, 1],
                       pads=[1, 0, 1, 1], channels_last=last)
            yield Case('QLinearGlobalAveragePool %s channels_last %d' % (dtype, last), 'QLinearGlobalAveragePool',
                       [shape, scale(0.04), point(zero), scale(0.01), point(zero)], units=2, channels_last=last)
        yield Case('QLinearAveragePool %s counts padding' % dtype, 'QLinearAveragePool',
                   [image, scale(0.04), point(zero), scale(0.05), point(zero)], kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                   count_include_pad=1)
        a, b = integers(4, 6), integers(6, 3)
        bias = Constant(draw.randint(-200, 200, 3).astype(np.int32))
        yield Case('QGemm ' + dtype, 'QGemm', [a, scale(0.04), point(zero), Constant(b), scale(0.03), point(zero), bias, scale(0.3),
                                              point(zero)])
        yield Case('QGemm %s float result' % dtype, 'QGemm', [a, scale(0.04), point(zero), Constant(b), scale(0.03), point(zero), bias])
        yield Case('QGemm %s transposed' % dtype, 'QGemm', [a, scale(0.04), point(zero), Constant(np.ascontiguousarray(b.T)), scale(0.03),
                                                           point(zero), None, scale(0.3), point(zero)], transB=1)
        yield Case('QGemm %s per channel' % dtype, 'QGemm',
                   [a, scale(0.04), point(zero), Constant(b), Constant(np.array([0.03, 0.01, 0.02], np.float32)),
                    Constant(np.array([zero] * 3, dtype)), bias, scale(0.3), point(zero)])
        yield Case('QuantizeLinear ' + dtype, 'QuantizeLinear', [floats(draw, 2, 3, 4, scale=4), scale(0.05), point(zero)])
        yield Case('QuantizeLinear %s per channel' % dtype, 'QuantizeLinear',
                   [floats(draw, 2, 3, 4, scale=4), Constant(np.array([0.05, 0.1, 0.02], np.float32)),
                    Constant(np.array([zero, zero + 1, zero + 2], dtype))], axis=1)
        yield Case('DequantizeLinear ' + dtype, 'DequantizeLinear', [x, scale(0.05), point(zero)])
        yield Case('NhwcMaxPool ' + dtype, 'NhwcMaxPool', [np.ascontiguousarray(image.transpose(0, 2, 3, 1))], kernel_shape=[3, 3],
                   strides=[2, 2], pads=[1, 1, 1, 1])


def matrix_cases():
    draw = np.random.RandomState(11)
    a, w = floats(draw, 2, 4, 6), seven_bits(draw, 6, 5)
    bias = floats(draw, 5)
    yield Case('DynamicQuantizeMatMul', 'DynamicQuantizeMatMul', [a, Constant(w), Constant(np.float32([0.02])), Constant(np.int8([3])), Constant(bias)])
    yield Case('DynamicQuantizeMatMul without zero point', 'DynamicQuantizeMatMul', [a, Constant(w), Constant(np.float32([0.02]))])
    yield Case('DynamicQuantizeMatMul per column', 'DynamicQuantizeMatMul',
               [a, Constant(w), Constant(np.float32([0.02, 0.01, 0.03, 0.04, 0.05])), Constant(np.int8([1, 2, 3, 0, -1]))])
    u = draw.randint(0, 256, (2, 4, 6)).astype(np.uint8)
    yield Case('MatMulIntegerToFloat', 'MatMulIntegerToFloat',
               [u, Constant(w), Constant(np.float32([0.05])), Constant(np.float32([0.02])), Constant(np.uint8([120])), Constant(np.int8([3])),
                Constant(bias)])
    yield Case('MatMulIntegerToFloat without zero points', 'MatMulIntegerToFloat',
               [u, Constant(w), Constant(np.float32([0.05])), Constant(np.float32([0.02, 0.01, 0.03, 0.04, 0.05]))])
    for ta in (0, 1):
        for tb in (0, 1):
            x = floats(draw, 2, 3, *((4, 5) if ta == 0 else (5, 4)))
            y = floats(draw, 2, 3, *((5, 6) if tb == 0 else (6, 5)))
            yield Case('FusedMatMul %d%d' % (ta, tb), 'FusedMatMul', [x, y], transA=ta, transB=tb, alpha=0.25)
    yield Case('FusedMatMul batches', 'FusedMatMul', [floats(draw, 4, 2, 5), floats(draw, 5, 2, 6)], transBatchA=1, transBatchB=1)
    yield Case('FusedMatMul batches transposed', 'FusedMatMul', [floats(draw, 5, 2, 4), floats(draw, 2, 5, 6)], transBatchA=1, transA=1)
    for activation, parameters in (('Relu', {}), ('Sigmoid', {}), ('LeakyRelu', {'activation_alpha': 0.2}), ('Tanh', {})):
        yield Case('FusedGemm ' + activation, 'FusedGemm', [floats(draw, 3, 4), Constant(floats(draw, 5, 4)), Constant(floats(draw, 5))],
                   transB=1, activation=activation, **parameters)
    for bits in (4, 8):
        for K, block in ((48, 16), (40, 32)):
            blocks = -(-K // block)
            data = draw.randint(0, 256, (7, blocks, block * bits // 8)).astype(np.uint8)
            scales = (draw.rand(7 * blocks) * 0.1 + 0.01).astype(np.float32)
            zeros = draw.randint(0, 256, 7 * -(-blocks * bits // 8)).astype(np.uint8)
            label, given = 'MatMulNBits %d bits K %d block %d' % (bits, K, block), [floats(draw, 2, 3, K), Constant(data), Constant(scales)]
            attributes = {'K': K, 'N': 7, 'bits': bits, 'block_size': block}
            yield Case(label, 'MatMulNBits', given, **attributes)
            yield Case(label + ' zero points', 'MatMulNBits', given + [Constant(zeros)], **attributes)
            yield Case(label + ' bias', 'MatMulNBits', given + [Constant(zeros), None, Constant(floats(draw, 7))], **attributes)
            yield Case(label + ' accuracy_level 4', 'MatMulNBits', given + [Constant(zeros)], accuracy_level=4,
                       want=[product_of_int8(given[0], data, scales.reshape(7, -1), zeros, bits)], **attributes)
            yield Case(label + ' accuracy_level 1', 'MatMulNBits', given + [Constant(zeros)], like=label + ' zero points', accuracy_level=1,
                       **attributes)
            digits = np.unpackbits(zeros.reshape(7, -1), axis=1, bitorder='little').reshape(7, -1, bits)
            reals = (digits @ 2.0 ** np.arange(bits))[:, :blocks].astype(np.float32)
            axes = given[:2] + [Constant(scales.reshape(7, blocks))]
            for way, zero in (('of two axes', zeros.reshape(7, -1)), ('of float32', reals), ('of float32, one axis', reals.ravel())):
                yield Case('%s zero points %s' % (label, way), 'MatMulNBits', axes + [Constant(zero)], like=label + ' zero points', **attributes)
    for bits in (4, 8):
        data = draw.randint(0, 256, (9, 32 * bits // 8)).astype(np.uint8)
        given = [Constant(data), draw.randint(0, 9, (2, 3)).astype(np.int64), Constant((draw.rand(9, 2) * 0.1).astype(np.float32))]
        yield Case('GatherBlockQuantized %d bits' % bits, 'GatherBlockQuantized', given, bits=bits, block_size=16, quantize_axis=1)
        yield Case('GatherBlockQuantized %d bits zero points' % bits, 'GatherBlockQuantized',
                   given + [Constant(draw.randint(0, 256, (9, bits // 4)).astype(np.uint8))], bits=bits, block_size=16, quantize_axis=1)


def float_cases():
    draw = np.random.RandomState(13)
    x = floats(draw, 2, 5, 8, scale=2)
    yield Case('Gelu', 'Gelu', [x])
    yield Case('FastGelu', 'FastGelu', [x])
    yield Case('FastGelu bias', 'FastGelu', [x, Constant(floats(draw, 8))])
    yield Case('BiasGelu', 'BiasGelu', [x, Constant(floats(draw, 8))])
    yield Case('QuickGelu', 'QuickGelu', [x])
    yield Case('QuickGelu alpha', 'QuickGelu', [x], alpha=1.2)
    image, weight, bias = floats(draw, 1, 3, 6, 5), Constant(floats(draw, 4, 3, 3, 3)), Constant(floats(draw, 4))
    for activation, parameters in (('Relu', None), ('Sigmoid', None), ('Tanh', None), ('LeakyRelu', [0.1]), ('Clip', [-0.5, 1.0]),
                                   ('HardSigmoid', [0.2, 0.4])):
        more = {'activation_params': parameters} if parameters else {}
        yield Case('FusedConv ' + activation, 'FusedConv', [image, weight, bias], kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                   activation=activation, **more)
    yield Case('FusedConv sum', 'FusedConv', [image, weight, bias, floats(draw, 1, 4, 6, 5)], kernel_shape=[3, 3], pads=[1, 1, 1, 1],
               activation='Relu')
    gamma, beta, more = Constant(floats(draw, 8)), Constant(floats(draw, 8)), Constant(floats(draw, 8))
    for label, given in (('', [gamma, beta]), (' bias', [gamma, beta, more]), (' without beta', [gamma])):
        yield Case('SkipLayerNormalization' + label, 'SkipLayerNormalization', [x, floats(draw, 2, 5, 8)] + given, epsilon=1e-5)
    yield Case('SkipLayerNormalization sum', 'SkipLayerNormalization', [x, floats(draw, 2, 5, 8), gamma, beta, more], outputs=4,
               kept=(0, 3), epsilon=1e-5)
    for label, given in (('', [gamma]), (' bias', [gamma, more])):
        yield Case('SkipSimplifiedLayerNormalization' + label, 'SkipSimplifiedLayerNormalization', [x, floats(draw, 2, 5, 8)] + given,
                   outputs=4, kept=(0, 3), epsilon=1e-5)
    sound, taps, state = floats(draw, 2, 3, 6), floats(draw, 3, 1, 4), floats(draw, 2, 3, 3)
    for label, given, more in (('', [], {}), (' bias', [floats(draw, 3)], {}), (' state', [None, state], {'activation': 'none'}),
                               (' SiLU', [floats(draw, 3), state], {'activation': 'silu'})):
        yield Case('CausalConvWithState' + label, 'CausalConvWithState', [sound, taps] + given, outputs=2, **more)
    yield Case('CausalConvWithState one column', 'CausalConvWithState', [sound[:, :, :1].copy(), taps, None, state], outputs=2,
               activation='swish')
    yield Case('CausalConvWithState constant weights', 'CausalConvWithState', [sound, Constant(taps), Constant(floats(draw, 3)), state],
               outputs=2)
    for axis in (0, -1):
        for exclusive, reverse in ((0, 0), (1, 0), (0, 1), (1, 1)):
            yield Case('CumProd %d %d %d' % (axis, exclusive, reverse), 'CumProd', [floats(draw, 3, 5), Constant(np.int64(axis))], domain='',
                       main=26, exclusive=exclusive, reverse=reverse)
    yield Case('CumProd int32', 'CumProd', [np.arange(1, 9, dtype=np.int32).reshape(2, 4), Constant(np.int32(1))], domain='', main=26)
    yield Case('BitCast to int32', 'BitCast', [floats(draw, 2, 3)], domain='', main=26, to=TensorProto.INT32)
    yield Case('BitCast to float', 'BitCast', [np.array([0x3f800000, 0x40490fdb], np.int32)], domain='', main=26, to=TensorProto.FLOAT)
    yield Case('BitCast to uint8', 'BitCast', [np.array([-1, 5, -128], np.int8)], domain='', main=26, to=TensorProto.UINT8)
    yield Case('BitCast to the same type', 'BitCast', [np.array([-1, 5], np.int8)], domain='', main=26, to=TensorProto.INT8)
    yield Case('SimplifiedLayerNormalization', 'SimplifiedLayerNormalization', [x, gamma], outputs=2, domain='', axis=-1, epsilon=1e-5)
    ids, segments = draw.randint(0, 11, (2, 5)).astype(np.int32), draw.randint(0, 2, (2, 5)).astype(np.int32)
    tables = [Constant(floats(draw, 11, 8)), Constant(floats(draw, 6, 8)), Constant(floats(draw, 2, 8)), gamma, beta]
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    yield Case('EmbedLayerNormalization', 'EmbedLayerNormalization', [ids, segments] + tables + [mask], outputs=2)
    yield Case('EmbedLayerNormalization without mask', 'EmbedLayerNormalization', [ids, segments] + tables, outputs=2)
    yield Case('EmbedLayerNormalization without segments', 'EmbedLayerNormalization', [ids, None] + tables[:2] + [None] + tables[3:] + [mask],
               outputs=2)


def attention_cases():
    draw = np.random.RandomState(17)
    B, S, N, D = 2, 4, 2, 16
    H = N * D
    x, w, b = floats(draw, B, S, H), Constant(floats(draw, H, 3 * H, scale=0.5)), Constant(floats(draw, 3 * H))
    raw = np.array([[1, 1, 1, 0], [1, 1, 1, 1]], np.int32)
    past = floats(draw, 2, B, N, 3, D)
    yield Case('Attention', 'Attention', [x, w, b], num_heads=N)
    yield Case('Attention raw mask', 'Attention', [x, w, b, raw], num_heads=N)
    yield Case('Attention lengths', 'Attention', [x, w, b, np.array([3, 4], np.int32)], num_heads=N)
    yield Case('Attention causal', 'Attention', [x, w, b], num_heads=N, unidirectional=1)
    yield Case('Attention past', 'Attention', [x, w, b, None, past], outputs=2, num_heads=N, unidirectional=1)
    yield Case('Attention past and mask', 'Attention', [x, w, b, np.concatenate([np.ones((B, 3), np.int32), raw], 1), past], outputs=2,
               num_heads=N)
    yield Case('Attention bias of scores', 'Attention', [x, w, b, None, None, floats(draw, B, N, S, S)], num_heads=N)
    yield Case('Attention mask of pairs', 'Attention', [x, w, b, draw.randint(0, 2, (B, S, S)).astype(np.int32)], num_heads=N)
    yield Case('Attention sizes', 'Attention', [x, Constant(floats(draw, H, 2 * H + 12, scale=0.5)), Constant(floats(draw, 2 * H + 12))],
               num_heads=N, qkv_hidden_sizes=[H, H, 12])
    yield Case('Attention scale', 'Attention', [x, w, b], num_heads=N, scale=0.3)
    u, q = draw.randint(0, 256, (B, S, H)).astype(np.uint8), Constant(seven_bits(draw, H, 3 * H))
    given = [u, q, b, Constant(np.float32(0.01)), Constant(np.float32(0.01))]
    yield Case('QAttention', 'QAttention', given + [None, Constant(np.uint8(120)), Constant(np.int8(2))], num_heads=N)
    yield Case('QAttention mask', 'QAttention', given + [raw, Constant(np.uint8(120)), Constant(np.int8(2))], num_heads=N)
    k, v = floats(draw, B, 5, H), floats(draw, B, 5, H)
    keys = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    yield Case('MultiHeadAttention', 'MultiHeadAttention', [x, k, v], num_heads=N)
    yield Case('MultiHeadAttention bias', 'MultiHeadAttention', [x, k, v, b], num_heads=N)
    yield Case('MultiHeadAttention mask', 'MultiHeadAttention', [x, k, v, None, keys], num_heads=N)
    yield Case('MultiHeadAttention bias of scores', 'MultiHeadAttention', [x, k, v, None, None, floats(draw, 1, N, S, 5)], num_heads=N)
    yield Case('MultiHeadAttention mask and bias of scores', 'MultiHeadAttention', [x, k, v, None, keys, floats(draw, B, N, S, 5)],
               num_heads=N)
    yield Case('MultiHeadAttention past', 'MultiHeadAttention', [x, floats(draw, B, S, H), floats(draw, B, S, H), None, None, None,
                                                               floats(draw, B, N, 3, D), floats(draw, B, N, 3, D)],
               outputs=3, num_heads=N)
    yield Case('MultiHeadAttention cross', 'MultiHeadAttention', [x, floats(draw, B, N, 5, D), floats(draw, B, N, 5, D)], num_heads=N)
    yield Case('MultiHeadAttention causal', 'MultiHeadAttention', [x, floats(draw, B, S, H), floats(draw, B, S, H)], num_heads=N,
               unidirectional=1)
    angles = draw.rand(16, D // 2).astype(np.float32) * 3
    tables = [Constant(np.cos(angles)), Constant(np.sin(angles))]
    for interleaved in (0, 1):
        yield Case('RotaryEmbedding %d' % interleaved, 'RotaryEmbedding', [x, np.array([[0, 1, 2, 3], [4, 5, 6, 7]], np.int64)] + tables,
                   interleaved=interleaved)
    yield Case('RotaryEmbedding offset', 'RotaryEmbedding', [x, np.array([5], np.int64)] + tables)
    yield Case('RotaryEmbedding four axes', 'RotaryEmbedding', [floats(draw, B, N, S, D), np.array([5], np.int64)] + tables)
    for rotary in (0, 1):
        more = tables if rotary else []
        kv = 1
        small = [floats(draw, B, S, kv * D), floats(draw, B, S, kv * D)]
        total = Constant(np.array(S, np.int32))
        yield Case('GroupQueryAttention prompt rotary %d' % rotary, 'GroupQueryAttention',
                   [x] + small + [None, None, np.full(B, S - 1, np.int32), total] + more, outputs=3, num_heads=N, kv_num_heads=kv,
                   do_rotary=rotary)
        one = [floats(draw, B, 1, H), floats(draw, B, 1, kv * D), floats(draw, B, 1, kv * D)]
        yield Case('GroupQueryAttention step rotary %d' % rotary, 'GroupQueryAttention',
                   one + [floats(draw, B, kv, 6, D), floats(draw, B, kv, 6, D), np.full(B, 6, np.int32), Constant(np.array(7, np.int32))] + more,
                   outputs=3, num_heads=N, kv_num_heads=kv, do_rotary=rotary)
    yield Case('GroupQueryAttention packed', 'GroupQueryAttention',
               [floats(draw, B, S, (N + 2) * D), None, None, None, None, np.full(B, S - 1, np.int32), Constant(np.array(S, np.int32))] + tables,
               outputs=3, num_heads=N, kv_num_heads=1, do_rotary=1, rotary_interleaved=1)
    yield Case('GroupQueryAttention window and cap', 'GroupQueryAttention',
               [x, floats(draw, B, S, D), floats(draw, B, S, D), None, None, np.full(B, S - 1, np.int32), Constant(np.array(S, np.int32))],
               outputs=3, num_heads=N, kv_num_heads=1, local_window_size=2, softcap=5.0)


def channels_last_cases():
    draw = np.random.RandomState(23)
    for name, x, weight, attributes in (
            ('a kernel', floats(draw, 2, 7, 5, 3), floats(draw, 4, 3, 2, 3), {'kernel_shape': [2, 3], 'strides': [2, 1], 'pads': [1, 0, 0, 1]}),
            ('as many channels as rows', floats(draw, 1, 6, 6, 3), floats(draw, 5, 3, 3, 3), {'pads': [1, 1, 1, 1]}),
            ('groups', floats(draw, 2, 4, 5, 6), floats(draw, 4, 3, 1, 3), {'group': 2, 'dilations': [1, 2], 'strides': [2, 1]}),
            ('depthwise', floats(draw, 1, 5, 5, 4), floats(draw, 4, 1, 3, 3), {'group': 4, 'auto_pad': 'VALID'})):
        bias = Constant(floats(draw, weight.shape[0]))
        yield Case('Conv ' + name, 'Conv', [x, Constant(weight), bias], domain='', moved=True, **attributes)
        given = [x, Constant(np.ascontiguousarray(weight.transpose(0, 2, 3, 1))), bias]
        yield Case('NhwcConv ' + name, 'NhwcConv', given, like='Conv ' + name, **attributes)


def inverse_cases():
    draw = np.random.RandomState(29)
    for dtype in (np.float32, np.float16, np.float64):
        near = {np.float32: 1e-5, np.float16: 2e-3, np.float64: 1e-12}[dtype]
        label = 'Inverse ' + np.dtype(dtype).name
        yield Case(label, 'Inverse', [(floats(draw, 2, 4, 5, 5) + 4 * np.eye(5)).astype(dtype)], near=near)
        yield Case(label + ' of zeros', 'Inverse', [np.zeros((2, 2), dtype)])
    yield Case('Inverse 1 x 1', 'Inverse', [np.array([[[4]], [[-0.5]]], np.float32)])
    yield Case('Inverse of rows in another order', 'Inverse', [np.array([[0, 0, 2], [0, 4, 1], [8, 1, 1]], np.float32)])
    yield Case('Inverse of singular matrices', 'Inverse', [np.array([[[1, 2], [2, 4]], [[0, 0], [1, 0]], [[1, 0], [0, 1]]], np.float32)])
    yield Case('Inverse singular behind the first column', 'Inverse', [np.array([[1, 2, 3], [2, 4, 6], [1, 0, 1]], np.float32)])
    yield Case('Inverse NaN', 'Inverse', [np.array([[np.nan, 1], [1, 1]], np.float32)])


def lstm_cases():
    draw = np.random.RandomState(31)
    for name, dtype, directions, columns, more in (
            ('', np.int8, 1, False, {}), (' uint8', np.uint8, 1, False, {}), (' columns', np.int8, 1, True, {}),
            (' uint8 columns', np.uint8, 1, True, {}), (' reverse', np.int8, 1, False, {'direction': 'reverse'}),
            (' bidirectional', np.int8, 2, True, {'direction': 'bidirectional'}), (' states', np.uint8, 2, False, {'direction': 'bidirectional'}),
            (' peepholes', np.int8, 1, False, {}), (' lengths', np.int8, 1, False, {}),
            (' activations', np.int8, 1, False, {'activations': ['HardSigmoid', 'Softsign', 'Tanh'], 'activation_alpha': [0.3], 'input_forget': 1})):
        T, N, I, H = 5, 2, 6, 4
        weights, real, zero = [], [], 0 if dtype == np.int8 else 128
        for K in (I, H):
            w = seven_bits(draw, directions, K, 4 * H)
            scale = ((draw.rand(directions, 4 * H) if columns else draw.rand(directions)) * 0.01 + 0.005).astype(np.float32)
            weights += [Constant((w + zero).astype(dtype)), Constant(scale), Constant(np.full(scale.shape, zero, dtype))]
            real.append(Constant(np.ascontiguousarray((w * scale.reshape(directions, 1, -1)).transpose(0, 2, 1))))
        states = [floats(draw, directions, N, H, scale=0.5) for _ in range(2)] if name == ' states' else [None, None]
        lengths = np.array([5, 3], np.int32) if name == ' lengths' else None
        peepholes = Constant(floats(draw, directions, 3 * H, scale=0.3)) if name == ' peepholes' else None
        x, rest = floats(draw, T, N, I), [Constant(floats(draw, directions, 8 * H, scale=0.2)), lengths] + states + [peepholes]
        more = dict(more, hidden_size=H, outputs=3)
        given = [x, weights[0], weights[3]] + rest + [weights[1], weights[2], weights[4], weights[5]]
        yield Case('LSTM%s' % name, 'LSTM', [x] + real + rest, domain='', **more)
        yield Case('DynamicQuantizeLSTM%s in float32' % name, 'DynamicQuantizeLSTM', given, like='LSTM%s' % name, **more)
        yield Case('DynamicQuantizeLSTM%s' % name, 'DynamicQuantizeLSTM', given, near=3e-2, **more)


def linear_attention_cases():
    draw = np.random.RandomState(37)
    B, T, K, V = 2, 5, 4, 3
    for rule in ('linear', 'gated', 'delta', 'gated_delta'):
        for name, queries, heads, keys, wide in (('', 2, 2, 2, False), (' grouped queries', 4, 2, 2, True), (' shared keys', 1, 6, 3, True)):
            gates = [floats(draw, B, T, heads * K if wide else heads, scale=0.3) - 0.5 if 'gated' in rule else None,
                     draw.rand(B, T, 1 if name == ' shared keys' else heads).astype(np.float32) if 'delta' in rule else None]
            given = [floats(draw, B, T, queries * K), floats(draw, B, T, keys * K, scale=0.5), floats(draw, B, T, heads * V),
                     floats(draw, B, heads, K, V) if wide else None] + gates
            more = {'outputs': 2, 'q_num_heads': queries, 'kv_num_heads': heads, 'update_rule': rule}
            if queries == 4:
                more.update(scale=0.7, chunk_size=2)
            label = 'LinearAttention %s%s' % (rule, name)
            yield Case(label, 'LinearAttention', given, **more)
            if keys == heads:
                yield Case('ONNX ' + label, 'LinearAttention', given, domain='', main=27, like=label, **more)
    # With a key of one channel the erase gate e of that channel is all that matters: beta*(v - S*(e*k)) = beta*e*(v/e - S*k).
    heads, channel = 2, draw.randint(0, K, (B, T, 2, 1))
    key = np.where(np.arange(K) == channel, floats(draw, B, T, heads, 1), 0).astype(np.float32)
    erase = (draw.rand(B, T, heads, K) * 0.5 + 0.5).astype(np.float32)
    one, value, beta = np.take_along_axis(erase, channel, 3), floats(draw, B, T, heads, V), draw.rand(B, T, heads).astype(np.float32)
    given = [floats(draw, B, T, heads * K), key.reshape(B, T, -1), None, floats(draw, B, heads, K, V)]
    more = {'outputs': 2, 'q_num_heads': heads, 'kv_num_heads': heads, 'update_rule': 'delta'}
    given[2] = (value / one).reshape(B, T, -1)
    yield Case('LinearAttention one channel', 'LinearAttention', given + [None, beta * one[..., 0]], **more)
    given[2] = value.reshape(B, T, -1)
    yield Case('ONNX LinearAttention erase gate', 'LinearAttention', given + [None, beta, erase.reshape(B, T, -1)], domain='', main=27,
               like='LinearAttention one channel', **more)
    yield Case('LinearAttention one step', 'LinearAttention', [floats(draw, 1, 1, 8), floats(draw, 1, 1, 8), floats(draw, 1, 1, 6)],
               outputs=2, q_num_heads=2, kv_num_heads=2, update_rule='linear')


def cases():
    yield from channels_last_cases()
    yield from inverse_cases()
    yield from lstm_cases()
    yield from linear_attention_cases()
    yield from quantized_cases()
    yield from matrix_cases()
    yield from float_cases()
    yield from attention_cases()


def refused():
    """(part of the message, case): models that neither run nor give a wrong number."""
    x, scale, zero = np.zeros((2, 3), np.uint8), Constant(np.float32(0.1)), Constant(np.uint8(3))
    yield "input 3 is missing", Case('no second operand', 'QLinearAdd', [x, scale, zero])
    yield "input 6 is missing", Case('no scale of the result', 'QLinearAdd', [x, scale, zero, x, scale, zero])
    yield "expected int8 or uint8", Case('result of 16 bits', 'QLinearAdd', [x, scale, zero, x, scale, zero, scale, Constant(np.int16(0))])
    yield "attribute 'beta' is not supported", Case('an unknown attribute', 'QLinearSigmoid', [x, scale, zero, scale, zero], beta=1.0)
    yield "attribute 'axis' is missing", Case('no axis', 'QLinearConcat', [scale, zero, x, scale, zero])
    yield "attribute 'activation' is 'Foo'", Case('an unknown activation', 'FusedGemm', [np.zeros((2, 3), np.float32), np.zeros((3, 2), np.float32)],
                                                  activation='Foo')
    f = np.zeros((2, 32), np.float32)
    data, scales = Constant(np.zeros((4, 2, 8), np.uint8)), Constant(np.zeros(8, np.float32))
    yield "bits is 3, expected 2, 4 or 8", Case('3 bits', 'MatMulNBits', [f, data, scales], K=32, N=4, bits=3, block_size=16)
    yield "expected a constant of 128 elements", Case('too few bytes', 'MatMulNBits', [f, data, scales], K=32, N=8, bits=4, block_size=16)
    yield "expected a constant of 64 elements", Case('weights that are inputs', 'MatMulNBits', [f, np.zeros((4, 2, 8), np.uint8), scales], K=32, N=4,
                                                    bits=4, block_size=16)
    yield "group index of each column, is not supported", Case('a group index', 'MatMulNBits',
                                                               [f, data, scales, None, Constant(np.zeros(32, np.int32))], K=32, N=4, bits=4, block_size=16)
    yield "K is 32, expected 31", Case('another K than x has', 'MatMulNBits', [f, data, scales], K=31, N=4, bits=4, block_size=16)
    yield "block_size is 0", Case('blocks of 0', 'MatMulNBits', [f, data, scales], K=32, N=4, bits=4, block_size=0)
    yield "have -1 rows (N)", Case('negative N', 'MatMulNBits', [f, data, scales], K=32, N=-1, bits=4, block_size=16)
    yield "have 0 rows (N)", Case('no rows', 'GatherBlockQuantized', [Constant(np.zeros((0, 8), np.uint8)), np.zeros(2, np.int64),
                                                                     Constant(np.zeros((0, 1), np.float32))], bits=4, block_size=16)
    q = np.zeros((1, 2, 8), np.float32)
    w = Constant(np.zeros((8, 24), np.float32))
    for sizes in ([2**62, 2**62, 8], [-1, 8, 8], [8, 0, 8], [8, 8, 4], [8, 8], [8, 16, 8]):
        yield "expected 3 entries of sum 24", Case('sizes %s' % sizes, 'Attention', [q, w, Constant(np.zeros(24, np.float32))], num_heads=2,
                                                   qkv_hidden_sizes=sizes)
    yield "expected heads that divide the last axis", Case('very many heads', 'GroupQueryAttention',
                                                         [q, None, None, None, None, np.zeros(1, np.int32), np.int32(2)],
                                                         num_heads=2**62, kv_num_heads=2**62)
    yield "expected 3 entries of sum 22", Case('a width not of three', 'Attention', [q, Constant(np.zeros((8, 22), np.float32)),
                                                                                     Constant(np.zeros(22, np.float32))], num_heads=1)
    yield "expected heads that divide", Case('packed heads that leave a rest', 'GroupQueryAttention',
                                             [np.zeros((1, 2, 34), np.float32), None, None, None, None, np.zeros(1, np.int32), np.int32(2)],
                                             num_heads=2, kv_num_heads=1)
    conv = [np.zeros((1, 1, 3, 3), np.float32), Constant(np.zeros((1, 1, 1, 1), np.float32))]
    yield "has 0 parameters, expected 1", Case('LeakyRelu without slope', 'FusedConv', conv, activation='LeakyRelu')
    yield "has 1 parameters, expected 2", Case('Clip without maximum', 'FusedConv', conv, activation='Clip', activation_params=[0.0])
    yield "has 0 parameters, expected 1", Case('Gemm, LeakyRelu without slope', 'FusedGemm', [f, Constant(np.zeros((32, 2), np.float32))],
                                               activation='LeakyRelu')
    yield "number of heads is 0", Case('no heads', 'MultiHeadAttention', [q, q, q])
    yield "expected one length", Case('a mask of begins and ends', 'MultiHeadAttention', [q, q, q, None, np.zeros(5, np.int32)], num_heads=2)
    yield "num_heads is 0", Case('no heads of queries', 'GroupQueryAttention', [q, q, q, None, None, np.zeros(1, np.int32), np.int32(2)],
                                 kv_num_heads=1)
    yield "(ASSERT)", Case('a batch of different lengths', 'GroupQueryAttention',
                   [np.zeros((2, 2, 8), np.float32), np.zeros((2, 2, 8), np.float32), np.zeros((2, 2, 8), np.float32), None, None,
                    np.array([1, 0], np.int32), Constant(np.array(2, np.int32))], num_heads=2, kv_num_heads=2)
    yield "com.microsoft.MoE", Case('an unsupported operator', 'MoE', [q])
    yield from refused_lately()


def refused_lately():
    image, flat = np.zeros((1, 5, 5, 2), np.float32), np.zeros((2, 4, 6), np.float32)
    yield "expected W [O,R,S,C/group]", Case('weights with channels second', 'NhwcConv', [image, Constant(np.zeros((4, 2, 3, 3), np.float32))])
    yield "for X [N,H,W,C]", Case('one axis', 'NhwcConv', [np.zeros(4, np.float32), Constant(np.zeros((4, 3, 3, 2), np.float32))])
    yield "is float32[2,3]", Case('a matrix that is not square', 'Inverse', [np.zeros((2, 3), np.float32)])
    yield "expected one of float16,float32,float64", Case('integers', 'Inverse', [np.zeros((2, 2), np.int32)])
    w, scale, zero = np.zeros((1, 6, 16), np.int8), Constant(np.ones(1, np.float32)), Constant(np.zeros(1, np.int8))
    given = [flat, Constant(w), Constant(w[:, :4]), None, None, None, None, None, scale, zero, scale, zero]

    def lstm(name, at, value, **more):
        inputs = given[:at] + [value] + given[at + 1:]
        return Case(name, 'DynamicQuantizeLSTM', inputs, outputs=3, hidden_size=4, **more)

    yield "input 8 is", lstm('a scale of no direction', 8, Constant(np.float32(1)))
    yield "input 10 is", lstm('scales of other columns', 10, Constant(np.ones((1, 4), np.float32)))
    yield "input 9 is missing", lstm('no zero point', 9, None)
    yield "expected int8 or uint8, the type of input 11", lstm('a zero point of another type', 11, Constant(np.zeros(1, np.uint8)))
    yield "attribute 'layout' is not supported", lstm('batch first', 0, flat, layout=1)

    def linear(name, more=(), key=flat, value=flat, **attributes):
        heads = dict({'q_num_heads': 2, 'kv_num_heads': 2}, **attributes)
        return Case(name, 'LinearAttention', [flat, key, value] + list(more), outputs=2, **heads)

    gate = np.zeros((2, 4, 2), np.float32)
    yield "input 4 is missing", linear('no decay')
    yield "input 5 is missing", linear('no beta', [None, gate])
    yield "expected 2 or 1 entries", linear('a beta of three', [None, gate, np.zeros((2, 4, 3), np.float32)])
    yield "expected 2 or 6 entries", linear('a decay of three', [None, np.zeros((2, 4, 3), np.float32), gate])
    yield "expected the same size of axis 1", linear('steps of the key', key=flat[:, :3], update_rule='linear')
    yield "expected the same size of axis 0", linear('batch of the value', value=flat[:1], update_rule='linear')
    yield "expected 3 axes", linear('a matrix', value=flat[0], update_rule='linear')
    yield "the past state", linear('another state', [np.zeros((2, 2, 3, 4), np.float32)], update_rule='linear')
    for queries, heads in ((0, 2), (2, 0), (4, 2), (2, 4), (2, 2**40), (-2, 2)):
        yield "whose numbers divide one another", linear('%d queries, %d heads' % (queries, heads), update_rule='linear', q_num_heads=queries,
                                                         kv_num_heads=heads)
    yield "state_window is 2", linear('states of several steps', update_rule='linear', state_window=2)
    yield "expected one of", linear('another rule', update_rule='cubic')


def refused_in_a_run():
    """The same for models whose dimensions only the run knows."""
    q, more = np.zeros((2, 4, 6), np.float32), {'outputs': 2, 'q_num_heads': 2, 'kv_num_heads': 2, 'update_rule': 'linear'}
    yield "(ASSERT)", Case('a run with other steps of the key', 'LinearAttention', [q, np.zeros((2, 5, 6), np.float32), q], **more)
    yield "does not broadcast", Case('a run with another batch of the state', 'LinearAttention', [q, q, q, np.zeros((7, 2, 3, 3), np.float32)], **more)
