"""Cases of test_tflite.py: 8-bit, 4-bit and float16 weights of float32 inputs, and int16."""
import numpy as np

from tflite_builder import case


def windows_of(x, kh, kw, stride):
    """[N,P,Q,kh,kw,C]: the windows of x [N,H,W,C] without padding."""
    rows, columns = (x.shape[1] - kh) // stride + 1, (x.shape[2] - kw) // stride + 1
    return np.array([[[image[i * stride:i * stride + kh, j * stride:j * stride + kw] for j in range(columns)] for i in range(rows)]
                     for image in x])


def hybrid():
    """float32 inputs with 8-bit, 4-bit or float16 weights. TensorFlow Lite quantizes the inputs, row by row, to 255 levels between
    -max|x| and max|x| (asymmetric: between the extremes): each result differs by at most half a level times the sum of weights.
    The package runs no int4, no float16 here, and FULLY_CONNECTED and EMBEDDING_LOOKUP with the first scale only: it gets these
    weights in float32 or, beside int8 inputs, in int8."""
    def stored(b, shape, bits, channels, axis=0, runs=True):
        """A weight, and its real values."""
        scale = np.array([0.01, 0.02, 0.005, 0.03, 0.015, 0.007])[:channels] if channels else np.array([0.01])
        if bits == 16:
            w = b.draw(shape, 'float32').astype('float16')
            return b.c(w, 'float32' if b.reference else 'float16'), w.astype('float32')
        half = 1 << (bits - 1)
        w = b.random.randint(-half + 1, half, shape).astype('int8')
        scale = scale * 128 / half
        real = w * scale.astype('float32').reshape([-1 if k == axis else 1 for k in range(len(shape))])
        if b.reference and (bits == 4 or (channels and not runs)):
            return b.c(real, 'float32'), real
        return (b.constant if bits == 8 else b.int4)('w', w, scale=scale, zero=0, axis=axis), real

    def bound(x, w, axes, bits=8, runs=True):
        return float(np.max(np.abs(x)) / 254 * np.max(np.sum(np.abs(w), axes)) * 1.01) if bits == 8 and runs else None
    for bits in (8, 4, 16):
        for channels in (0, 1) if bits < 16 else (0,):
            if bits != 8 or channels:  # TensorFlow Lite has no DEPTHWISE_CONV_2D with one scale
                @case('DEPTHWISE_CONV_2D hybrid, %d bits%s' % (bits, ' per channel' if channels else ''))
                def depthwise(b, bits=bits, channels=channels):
                    t, w = stored(b, (1, 2, 3, 6), bits, 6 * channels, 3)
                    b.out('DEPTHWISE_CONV_2D', [b.x((1, 5, 6, 3)), t, b.weight((6,))], 'float32', version=6, padding='VALID', stride_h=1,
                          stride_w=1, multiplier=2)
                    y = np.einsum('npqhwc,hwcm->npqcm', windows_of(b.values[0], 2, 3, 1), w[0].reshape(2, 3, 3, 2))
                    b.define(y.reshape(1, 4, 4, 6) + np.frombuffer(b.buffers[-1], '<f4'), bound=bound(b.values[0], w[0], (0, 1), bits))

            @case('FULLY_CONNECTED hybrid, %d bits%s' % (bits, ' per channel' if channels else ''))
            def dense(b, bits=bits, channels=channels):
                t, w = stored(b, (5, 9), bits, 5 * channels, runs=False)
                bias = b.weight((5,))
                b.out('FULLY_CONNECTED', [b.x((3, 9)), t, bias], 'float32', 9, version=9)
                b.define(b.values[0] @ w.T + np.frombuffer(b.buffers[-1], '<f4'), bound=bound(b.values[0], w, 1, bits, not channels))

            @case('CONV_2D hybrid, %d bits%s' % (bits, ' per channel' if channels else ''))
            def conv(b, bits=bits, channels=channels):
                t, w = stored(b, (4, 2, 3, 3), bits, 4 * channels)
                b.out('CONV_2D', [b.x((2, 5, 6, 3)), t, b.weight((4,))], 'float32', version=3, padding='VALID', stride_h=1, stride_w=1)
                b.define(np.einsum('npqhwc,ohwc->npqo', windows_of(b.values[0], 2, 3, 1), w) + np.frombuffer(b.buffers[-1], '<f4'),
                         bound=bound(b.values[0], w, (1, 2, 3), bits))

            if bits < 16:
                @case('EMBEDDING_LOOKUP hybrid, %d bits%s' % (bits, ' per channel' if channels else ''))
                def lookup(b, bits=bits, channels=channels):
                    t, w = stored(b, (4, 6), bits, 4 * channels, runs=False)
                    b.out('EMBEDDING_LOOKUP', [b.x((3,), 'int32', value=[2, 0, 3]), t], 'float32', version=3)
                    b.define(w[[2, 0, 3]])
    for adjoint in (False, True):
        @case('BATCH_MATMUL hybrid%s' % (' adjoint' if adjoint else ''))
        def matmul(b, adjoint=adjoint):
            x, t = b.x((2, 3, 4)), b.x((2, 5, 4) if adjoint else (2, 4, 5), 'int8', 0.02, 0)
            w = b.values[1] * np.float32(0.02)
            w = w.transpose(0, 2, 1) if adjoint else w
            b.out('BATCH_MATMUL', [x, t], 'float32', version=4, adj_x=False, adj_y=adjoint)
            b.define(b.values[0] @ w, bound=bound(b.values[0], w, 1))

    @case('FULLY_CONNECTED hybrid, asymmetric inputs')
    def asymmetric(b):
        t, w = stored(b, (5, 9), 8, 0)
        b.out('FULLY_CONNECTED', [b.x((3, 9)), t, b.weight((5,))], 'float32', version=9, asymmetric=True)
        b.define(b.values[0] @ w.T + np.frombuffer(b.buffers[-1], '<f4'), bound=2 * bound(b.values[0], w, 1))

    @case('FULLY_CONNECTED hybrid, computed weight')
    def computed(b):
        x, t = b.x((3, 9)), b.x((5, 9), 'int8', 0.02, 0)
        b.out('FULLY_CONNECTED', [x, t, -1], 'float32', version=9)
        w = b.values[1] * np.float32(0.02)
        b.define(b.values[0] @ w.T, bound=bound(b.values[0], w, 1))

    @case('FULLY_CONNECTED hybrid, uint8')
    def unsigned(b):
        b.out('FULLY_CONNECTED', [b.x((3, 9)), b.weight((5, 9), 'uint8', 0.02, 128), -1], 'float32', version=9)
    for op in ('CONV_2D', 'DEPTHWISE_CONV_2D', 'FULLY_CONNECTED'):
        @case('%s%s, int4' % (op, ' per channel' if op == 'CONV_2D' else ''))
        def narrow(b, op=op):
            dense, each = op == 'FULLY_CONNECTED', op == 'DEPTHWISE_CONV_2D'
            w = b.random.randint(-8, 8, (5, 9) if dense else (1, 3, 3, 2) if each else (3, 3, 3, 2)).astype('int8')
            scale = np.array([0.1] if dense else [0.1, 0.2] if each else [0.1, 0.2, 0.05])
            t = (b.constant if b.reference else b.int4)('w', w, scale=scale, zero=0, axis=3 if each else 0)
            bias = b.c(b.random.randint(-400, 400, 5 if dense else len(scale)), 'int32', scale=scale * 0.05, zero=0)
            options = {} if dense else {'padding': 'SAME', 'stride_h': 1, 'stride_w': 1, **({'multiplier': 1} if each else {})}
            b.out(op, [b.x((2, 9) if dense else (1, 5, 4, 2), 'int8'), t, bias], 'int8', 0.3, 2, 7 if dense else 6, **options)


def wide():
    """int16 with scale: convolutions and dense layers in integers, other operators in float32."""
    for bias in (False, True):
        for channels in (False, True):
            for activation in ('NONE', 'RELU', 'RELU6'):
                for op in ('CONV_2D', 'DEPTHWISE_CONV_2D', 'FULLY_CONNECTED'):
                    if (op == 'FULLY_CONNECTED' and channels) or (op == 'CONV_2D' and not bias):  # TensorFlow Lite refuses them
                        continue

                    @case('%s int16%s%s %s' % (op, ' bias' * bias, ' per channel' * channels, activation))
                    def sums(b, op=op, bias=bias, channels=channels, activation=activation):
                        dense, each = op == 'FULLY_CONNECTED', op == 'DEPTHWISE_CONV_2D'
                        shape, axis = ((5, 24), 0) if dense else ((1, 3, 3, 4), 3) if each else ((6, 3, 3, 4), 0)
                        scale = list(b.random.uniform(0.005, 0.02, shape[axis])) if channels else 0.01
                        x = b.x16((2, 24) if dense else (1, 5, 6, 4))
                        w = b.c(b.random.randint(-127, 128, shape), 'int8', scale=scale, zero=0, axis=axis)
                        extra = [b.c(b.random.randint(-200000, 200000, shape[axis]), 'int64')] if bias else []
                        members = {} if dense else {'padding': 'SAME', 'stride_w': 1, 'stride_h': 2, **({'multiplier': 1} if each else {})}
                        b.op(op, [x, w] + extra, [b.y16(0.0006, None if bias else 1)], 4,  # without an int64 bias it multiplies by more bits
                             activation=activation, **members)
    for op in ('ADD', 'SUB', 'MUL', 'MAXIMUM', 'MINIMUM'):
        for activation in ('NONE', 'RELU') if op in ('ADD', 'SUB', 'MUL') else ('',):
            @case('%s int16 %s' % (op, activation))
            def two(b, op=op, activation=activation):
                same = not activation
                x, y = b.x16((2, 3, 4)), b.x16((3, 1) if op == 'MUL' else (2, 3, 4), 0.0005 if same else 0.0002)
                members = {} if same else {'activation': activation, **({} if op == 'MUL' else {'pot': False})}
                b.op(op, [x, y], [b.y16(0.0005 if same else 0.0007, 1)], 4, **members)
    for op, scale, units in (('RELU', 0.0005, 1), ('RELU6', 0.0005, 1), ('LEAKY_RELU', 0.0005, 1), ('LOGISTIC', 1 / 32768, 2),
                             ('TANH', 1 / 32768, 2)):
        @case('%s int16' % op)
        def one(b, op=op, scale=scale, units=units):
            b.op(op, [b.x16((3, 40))], [b.y16(scale, units)], 2, **({'alpha': 0.3} if op == 'LEAKY_RELU' else {}))
    for op in ('AVERAGE_POOL_2D', 'MAX_POOL_2D'):
        @case('%s int16' % op)
        def pool(b, op=op):
            b.op(op, [b.x16((1, 7, 8, 3))], [b.y16(units=1)], 3, padding='SAME', stride_h=2, stride_w=1, filter_h=3, filter_w=2)

    @case('SOFTMAX int16')
    def softmax(b):
        b.op('SOFTMAX', [b.x16((3, 7))], [b.y16(1 / 32768, 3)], 3, beta=1.0)

    @case('MEAN int16')
    def mean(b):
        b.op('MEAN', [b.x16((2, 5, 4)), b.c([1])], [b.y16(0.0003, 1)], 2, keep_dims=True)

    @case('BATCH_MATMUL int16')
    def matmul(b):
        b.op('BATCH_MATMUL', [b.x16((2, 3, 8)), b.x16((2, 8, 4))], [b.y16(0.002, 1)], 3, adj_x=False, adj_y=False)
    for op, shape, constants, members in (
            ('RESHAPE', (2, 6), [[3, 4]], {}), ('TRANSPOSE', (2, 6), [[1, 0]], {}), ('SQUEEZE', (1, 6), [], {'squeeze_dims': [0]}),
            ('EXPAND_DIMS', (2, 6), [1], {}), ('STRIDED_SLICE', (4, 6), [[0, 1], [4, 5], [2, 1]], {}),
            ('SLICE', (4, 6), [[1, 2], [2, 3]], {}), ('GATHER', (4, 6), [[3, 0]], {'axis': 0}), ('PAD', (2, 3), [[[1, 0], [0, 2]]], {})):
        @case('%s int16' % op)
        def moves(b, op=op, shape=shape, constants=constants, members=members):
            b.op(op, [b.x16(shape)] + [b.c(value) for value in constants], [b.y16()],
                 {'GATHER': 5, 'RESHAPE': 1, 'SQUEEZE': 1, 'EXPAND_DIMS': 1}.get(op, 4), **members)

    @case('SPLIT and PACK int16')
    def split(b):
        halves = [b.tensor('h%d' % k, 'int16', (2, 3), scale=0.0005) for k in range(2)]
        b.op('SPLIT', [b.c(1), b.x16((2, 6))], halves, 4, num_splits=2)
        b.op('PACK', halves, [b.y16()], 3, values_count=2, axis=1)

    @case('UNPACK and CONCATENATION int16')
    def unpack(b):
        rows = [b.tensor('r%d' % k, 'int16', (6,), scale=0.0005) for k in range(2)]
        b.op('UNPACK', [b.x16((2, 6))], rows, 4, num=2, axis=0)
        b.op('CONCATENATION', rows[::-1], [b.y16()], 3, axis=0)

    @case('CONCATENATION int16 of other scales')
    def other(b):
        b.op('CONCATENATION', [b.x16((2, 3)), b.x16((2, 3), 0.0007)], [b.y16()], 3, axis=0)

    @case('QUANTIZE int16 to int8')
    def narrower(b):
        b.op('QUANTIZE', [b.x16((3, 40))], [b.y('int8')], 2)

    @case('EXP int16')
    def none(b):
        b.wrong = True
        b.op('EXP', [b.x16((3, 4))], [b.y16()], 1)
