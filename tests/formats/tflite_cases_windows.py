"""Cases of test_tflite.py: convolutions, pooling, resizing, dense layers, spectra, and MediaPipe's custom operators."""
import numpy as np

from tflite_builder import NUMBERS, case


def windows():
    for kind in NUMBERS:
        limits = {'int8': {'scale': 0.01, 'zero': 0}, 'uint8': {'scale': 0.01, 'zero': 120}}.get(kind, {})

        def bias(b, count, kind=kind):
            return b.weight((count,)) if kind == 'float32' else b.c(b.random.randint(-400, 400, count), 'int32', scale=0.0005, zero=0)
        for padding in ('SAME', 'VALID'):
            for stride in (1, 2):
                @case('CONV_2D %s %s %d' % (kind, padding, stride))
                def conv(b, kind=kind, padding=padding, stride=stride, limits=limits, bias=bias):
                    b.out('CONV_2D', [b.x((2, 6, 7, 3), kind), b.weight((4, 3, 2, 3), kind, **limits), bias(b, 4)], kind, 0.12, None,
                          1, padding=padding, stride_h=stride, stride_w=stride, activation='RELU6' if stride == 2 else 'NONE')

                @case('DEPTHWISE_CONV_2D %s %s %d' % (kind, padding, stride))
                def depthwise(b, kind=kind, padding=padding, stride=stride, limits=limits, bias=bias):
                    b.out('DEPTHWISE_CONV_2D', [b.x((1, 6, 7, 3), kind), b.weight((1, 3, 3, 6), kind, **limits), bias(b, 6)], kind,
                          0.08, None, 1, padding=padding, stride_h=stride, stride_w=stride, multiplier=2)

                @case('TRANSPOSE_CONV %s %s %d' % (kind, padding, stride))
                def transposed(b, kind=kind, padding=padding, stride=stride, limits=limits):
                    sides = [(n if padding == 'SAME' else n + 2) if stride == 1 else 2 * n - 1 if padding == 'SAME' else 2 * n + 1
                             for n in (4, 5)]
                    b.out('TRANSPOSE_CONV', [b.c([1] + sides + [4]), b.weight((4, 3, 3, 2), kind, **limits), b.x((1, 4, 5, 2), kind)],
                          kind, 0.1, None, 1, padding=padding, stride_h=stride, stride_w=stride)
                for op in ('AVERAGE_POOL_2D', 'MAX_POOL_2D', 'L2_POOL_2D'):
                    @case('%s %s %s %d' % (op, kind, padding, stride))
                    def pool(b, op=op, kind=kind, padding=padding, stride=stride):
                        b.out(op, [b.x((1, 7, 8, 5), kind)], kind, padding=padding, stride_h=stride, stride_w=stride, filter_h=3,
                              filter_w=2, activation='RELU' if stride == 2 else 'NONE')

        @case('CONV_2D %s dilated, no bias' % kind)
        def dilated(b, kind=kind, limits=limits):
            b.out('CONV_2D', [b.x((1, 9, 9, 2), kind), b.weight((3, 3, 3, 2), kind, **limits)] + [bias(b, 3)] * (kind != 'float32'), kind,
                  0.12, None, 2, padding='SAME', stride_h=1, stride_w=1, dilation_h=2, dilation_w=2, activation='RELU_N1_TO_1')
        for op in ('RESIZE_BILINEAR', 'RESIZE_NEAREST_NEIGHBOR'):
            for flags in ({}, {'align_corners': True}, {'half_pixel_centers': True}):
                for size in ((7, 3), (2, 11)):
                    @case('%s %s %s %s' % (op, kind, ' '.join(flags) or 'plain', size))
                    def resize(b, op=op, kind=kind, flags=flags, size=size):
                        b.out(op, [b.x((1, 4, 5, 3), kind), b.c(size)], kind, version=3 if flags else 1, **flags)

        @case('L2_NORMALIZATION %s' % kind)
        def l2norm(b, kind=kind):
            b.out('L2_NORMALIZATION', [b.x((3, 5), kind)], kind, 1 / 128, 128 - 128 * (kind == 'int8'), activation='NONE')
        for keep in (False, True):
            @case('FULLY_CONNECTED %s %s' % (kind, 'keep' if keep else 'rows'))
            def dense(b, kind=kind, keep=keep, limits=limits, bias=bias):
                b.out('FULLY_CONNECTED', [b.x((2, 3, 8), kind), b.weight((5, 8), kind, **limits), bias(b, 5)], kind, 0.2, None,
                      5 if keep else 1, keep_num_dims=keep, activation='RELU')
        for adjoint in (False, True):
            @case('BATCH_MATMUL %s %s' % (kind, adjoint))
            def matmul(b, kind=kind, adjoint=adjoint):
                b.out('BATCH_MATMUL', [b.x((2, 3, 4), kind), b.x((2, 5, 4) if adjoint else (2, 4, 5), kind)], kind, 0.3, None, 1,
                      adj_x=False, adj_y=adjoint)
    for op in ('CONV_2D', 'DEPTHWISE_CONV_2D'):
        @case('%s per channel' % op)
        def channels(b, op=op):
            scales = [0.004, 0.01, 0.02, 0.007]
            w = b.c(b.draw((4, 3, 3, 2) if op == 'CONV_2D' else (1, 3, 3, 4), 'int8'), 'int8', scale=scales, zero=0,
                    axis=0 if op == 'CONV_2D' else 3)
            bias = b.c([100, -50, 3, 7], 'int32', scale=[s * 0.05 for s in scales], zero=0)
            b.out(op, [b.x((1, 5, 5, 2), 'int8'), w, bias], 'int8', 0.15, 5, 3, padding='SAME', stride_h=1, stride_w=1,
                  **({} if op == 'CONV_2D' else {'multiplier': 2}))

    for op in ('RESIZE_BILINEAR', 'RESIZE_NEAREST_NEIGHBOR'):
        for flags in ({}, {'align_corners': True}, {'half_pixel_centers': True}):
            for size in ((1, 1), (3, 3), (4, 10), (5, 7), (6, 9), (13, 8), (16, 20)):
                @case('%s to %s %s' % (op, size, ' '.join(flags) or 'plain'))
                def sizes(b, op=op, flags=flags, size=size):
                    b.out(op, [b.x((1, 4, 5, 2)), b.c(size)], 'float32', version=3 if flags else 1, **flags)
    for padding in ('SAME', 'VALID'):
        for stride, dilation in ((1, 1), (2, 1), (1, 2)):
            @case('CONV_3D %s %d %d' % (padding, stride, dilation))
            def conv3d(b, padding=padding, stride=stride, dilation=dilation):
                b.out('CONV_3D', [b.x((1, 5, 6, 7, 2)), b.weight((2, 3, 2, 2, 3)), b.weight((3,))], 'float32', padding=padding,
                      stride_d=stride, stride_h=stride, stride_w=1, dilation_d=dilation, dilation_h=dilation, dilation_w=1,
                      activation='RELU')
        for stride in (1, 2):
            @case('Convolution2DTransposeBias %s %d' % (padding, stride))
            def transposed_bias(b, padding=padding, stride=stride):
                x, w, bias = b.x((1, 3, 4, 2)), b.weight((3, 2, 2, 2)), b.weight((3,))
                if b.reference:  # the same with the size of the result
                    more = 0 if padding == 'SAME' else 2 - stride
                    shape = b.c([1, 3 * stride + more, 4 * stride + more, 3])
                    b.out('TRANSPOSE_CONV', [shape, w, x, bias], 'float32', version=3, padding=padding, stride_h=stride, stride_w=stride)
                else:
                    b.op('CUSTOM', [x, w, bias], [b.y()], 1, 'Convolution2DTransposeBias',
                         np.array([1 if padding == 'SAME' else 2, stride, stride], '<i4').tobytes())
    for kind in ('float32', 'float16', 'int8'):
        for block in (1, 4):
            @case('DENSIFY %s %d' % (kind, block))
            def densify(b, kind=kind, block=block):
                blocks = b.random.randint(0, 2, (3, 8 // block))
                indices = np.nonzero(blocks)[1]
                stored = b.draw((len(indices), block), 'float32' if kind == 'float16' else kind).astype(kind)
                segments = np.concatenate([[0], np.cumsum(np.sum(blocks, 1))])
                levels = [{1: ('i32', 3)}, {0: ('i8', 1), 2: ('u8', 1), 3: ('table', {0: ('[i32]', segments)}), 4: ('u8', 3),
                                            5: ('table', {0: ('bytes', indices.astype('u1'))})}]
                levels += [{1: ('i32', block)}] * (block > 1)
                sparsity = {0: ('[i32]', list(range(len(levels)))), 1: ('[i32]', [1] * (block > 1)), 2: ('[table]', levels)}
                quant = {'scale': 0.02, 'zero': 0} if kind == 'int8' else {}
                t = b.tensor('dense', kind, (3, 8), **quant)
                b.op('DENSIFY', [b.tensor('sparse', kind, (3, 8), data=stored.tobytes(), sparsity=sparsity, **quant)], [t])
                if kind != 'float32':
                    w = b.tensor('w', 'float32', (3, 8))
                    b.op('DEQUANTIZE', [t], [w], 3 if kind == 'float16' else 2)
                    t = w
                b.out('ADD', [b.x((3, 8)), t], 'float32')

    for op in ('AVERAGE_POOL_2D', 'MAX_POOL_2D'):
        @case('%s then an activation' % op)
        def pool_activation(b, op=op):
            b.out(op, [b.x((1, 7, 8, 5))], 'float32', padding='SAME', stride_h=1, stride_w=1, filter_h=3, filter_w=2,
                  activation='RELU_N1_TO_1')

    @case('FULLY_CONNECTED then an activation')
    def dense_activation(b):
        b.out('FULLY_CONNECTED', [b.x((3, 8)), b.weight((5, 8)), b.weight((5,))], 'float32', activation='RELU_N1_TO_1')

    @case('DEPTHWISE_CONV_2D computed weight')
    def depthwise_computed(b):
        w = b.tensor('w', 'float32', (1, 3, 3, 6))
        b.op('ABS', [b.x((1, 3, 3, 6))], [w])
        b.out('DEPTHWISE_CONV_2D', [b.x((1, 6, 7, 3)), w, b.weight((6,))], 'float32', padding='SAME', stride_h=1, stride_w=1, multiplier=2,
              activation='RELU_N1_TO_1')

    @case('LOCAL_RESPONSE_NORMALIZATION')
    def lrn(b):
        b.out('LOCAL_RESPONSE_NORMALIZATION', [b.x((1, 3, 3, 7))], 'float32', radius=2, bias=1.0, alpha=0.3, beta=0.6)


def spectra():
    """RFFT2D, and the operators that read complex values."""
    for shape, size in (((4, 8), (4, 8)), ((2, 3, 1, 16), (1, 16)), ((3, 5), (4, 8)), ((2, 8, 9), (4, 8)), ((2, 1, 6), (2, 4))):
        for op in ('COMPLEX_ABS', 'REAL', 'IMAG'):
            @case('RFFT2D %s to %s %s' % (shape, size, op))
            def spectrum(b, shape=shape, size=size, op=op):
                t = b.tensor('spectrum', 'complex64', shape[:-2] + (size[0], size[1] // 2 + 1))
                b.op('RFFT2D', [b.x(shape), b.c(size)], [t])
                b.out(op, [t], 'float32')
    for op, members in (('RESHAPE', {}), ('SQUEEZE', {'squeeze_dims': [-2]}), ('SQUEEZE', {'squeeze_dims': [1, 0]}), ('SQUEEZE', {})):
        @case('RFFT2D and %s %s' % (op, members.get('squeeze_dims', '')))
        def squeezed(b, op=op, members=members):
            t, u = b.tensor('t', 'complex64', (1, 1, 9)), b.tensor('u', 'complex64', (1, 9))
            b.op('RFFT2D', [b.x((1, 1, 16)), b.c([1, 16])], [t])
            b.op(op, [t] + ([b.c([3, -1])] if op == 'RESHAPE' else []), [u], **members)
            b.out('COMPLEX_ABS', [u], 'float32')

    @case('RFFT2D as an output')
    def output(b):
        b.wrong = True
        b.outputs.append(b.tensor('y0', 'complex64', (4, 5)))
        b.op('RFFT2D', [b.x((4, 8)), b.c([4, 8])], [b.outputs[-1]])

    @case('RFFT2D and TRANSPOSE')
    def moved(b):
        b.wrong = True
        t, u = b.tensor('t', 'complex64', (4, 5)), b.tensor('u', 'complex64', (5, 4))
        b.op('RFFT2D', [b.x((4, 8)), b.c([4, 8])], [t])
        b.op('TRANSPOSE', [t, b.c([1, 0])], [u])
        b.out('REAL', [u], 'float32')


def mediapipe():
    """Custom operators of MediaPipe, as numpy computes them."""
    def options(padding, stride, kernel, activation=0):
        return np.int32([1 + (padding == 'VALID'), stride[1], stride[0], kernel[1], kernel[0], activation, 0, 0, 0, 0]).tobytes()
    for padding in ('SAME', 'VALID'):
        for stride, kernel in (((2, 2), (2, 2)), ((1, 2), (3, 2)), ((3, 2), (2, 5))):
            @case('MaxPoolingWithArgmax2D %s %s %s' % (padding, stride, kernel))
            def pool(b, padding=padding, stride=stride, kernel=kernel):
                x = b.x((2, 7, 8, 3))
                b.op('CUSTOM', [x], [b.y(), b.y()], 1, 'MaxPoolingWithArgmax2D', options(padding, stride, kernel, 1))
                value, same = b.values[0], padding == 'SAME'
                size = [-(-n // s) if same else (n - k + s) // s for n, s, k in zip((7, 8), stride, kernel)]
                pads = [max((o - 1) * s + k - n, 0) // 2 * same for o, s, k, n in zip(size, stride, kernel, (7, 8))]
                padded = np.full((2, 40, 40, 3), -np.inf, 'float32')
                padded[:, pads[0]:pads[0] + 7, pads[1]:pads[1] + 8] = value
                y, at = np.zeros((2, *size, 3), 'float32'), np.zeros((2, *size, 3), 'float32')
                for p in range(size[0]):
                    for q in range(size[1]):
                        window = padded[:, p * stride[0]:p * stride[0] + kernel[0], q * stride[1]:q * stride[1] + kernel[1]]
                        window = window.reshape(2, -1, 3)
                        y[:, p, q], at[:, p, q] = np.maximum(window.max(1), 0), window.argmax(1) + np.float32(0.1)
                b.define(y, at)
    for stride, kernel in (((2, 2), (2, 2)), ((3, 2), (3, 2)), ((1, 2), (2, 3))):
        @case('MaxUnpooling2D %s %s' % (stride, kernel))
        def unpool(b, stride=stride, kernel=kernel):
            x, places = b.x((2, 3, 4, 5)), b.random.randint(0, kernel[0] * kernel[1], (2, 3, 4, 5))
            at = b.x(None, value=(places + 0.1).astype('float32'))
            b.op('CUSTOM', [x, at], [b.y()], 1, 'MaxUnpooling2D', options('SAME', stride, kernel))
            y = np.zeros((2, 3 * kernel[0], 4 * kernel[1], 5), 'float32')
            for n, p, q, c in np.ndindex(2, 3, 4, 5):
                y[n, p * stride[0] + places[n, p, q, c] // kernel[1], q * stride[1] + places[n, p, q, c] % kernel[1], c] = b.values[0][n, p, q, c]
            b.define(y)
    for name, stride, kernel in (('MaxUnpooling2D', (3, 2), (2, 2)), ('MaxPoolingWithArgmax2D', (0, 1), (2, 2))):
        @case('%s %s above %s' % (name, stride, kernel))
        def refused(b, name=name, stride=stride, kernel=kernel):
            b.wrong = True
            inputs = [b.x((1, 4, 4, 1)) for _ in range(2 if name == 'MaxUnpooling2D' else 1)]
            b.op('CUSTOM', inputs, [b.y() for _ in range(3 - len(inputs))], 1, name, options('SAME', stride, kernel))
