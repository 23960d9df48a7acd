"""Cases of test_tflite.py: operators that move elements, indices, reductions; axes, broadcasts and ranks."""
import numpy as np

from tflite_builder import NUMBERS, case


def shapes():
    for kind in NUMBERS + ('int32', 'int64', 'bool'):
        def one(op, shape, *constants, version=1, name=None, kind=kind, **members):
            @case('%s %s' % (name or op, kind))
            def build(b):
                b.out(op, [b.x(shape, kind)] + [b.c(v) for v in constants], kind, version=version, **members)
        one('RESHAPE', (2, 3, 4), [4, -1])
        one('RESHAPE', (2, 3, 4), name='RESHAPE option', new_shape=[6, 4])
        one('SQUEEZE', (1, 3, 1, 4), squeeze_dims=[0])
        one('SQUEEZE', (1, 3, 1, 4), name='SQUEEZE all', squeeze_dims=[])
        one('EXPAND_DIMS', (3, 4), 1)
        one('TRANSPOSE', (2, 3, 4, 5), [3, 0, 2, 1], version=2)
        one('PAD', (2, 3, 2, 1), [[0, 0], [1, 2], [0, 1], [1, 0]], version=2)
        one('MIRROR_PAD', (4, 5), [[2, 1], [1, 3]], version=2, mode=0)
        one('MIRROR_PAD', (4, 5), [[2, 1], [1, 3]], version=2, name='MIRROR_PAD symmetric', mode=1)
        one('SLICE', (4, 5, 3), [1, 0, 2], [2, -1, 1], version=2)
        one('STRIDED_SLICE', (4, 5, 6), [1, -1, 0], [4, 0, 1], [2, -2, 1], version=2, shrink_axis_mask=4, end_mask=1)
        one('STRIDED_SLICE', (4, 5, 6), [1, 0], [3, 2], [1, 1], version=2, name='STRIDED_SLICE ellipsis', ellipsis_mask=2)
        one('GATHER', (4, 5), [3, 0, 1], version=2, axis=0)
        one('GATHER', (4, 5), [[3, 0], [1, 4]], version=2, name='GATHER axis', axis=1)
        one('GATHER_ND', (4, 5), [[3, 0], [1, 4]], version=2)
        one('TILE', (2, 3), [2, 3])
        one('BROADCAST_TO', (1, 3), [4, 3], version=2)
        one('REVERSE_V2', (3, 4), [1], version=2)
        one('DEPTH_TO_SPACE', (1, 2, 3, 8), block_size=2)
        one('SPACE_TO_DEPTH', (1, 4, 6, 2), version=2, block_size=2)
        one('SPACE_TO_BATCH_ND', (1, 4, 5, 2), [2, 3], [[0, 0], [1, 0]], version=2)
        one('BATCH_TO_SPACE_ND', (6, 2, 2, 2), [2, 3], [[0, 1], [1, 0]], version=2)
        one('REVERSE_SEQUENCE', (3, 4, 2), [2, 4, 1], seq_dim=1, batch_dim=0)

        @case('CONCATENATION %s' % kind)
        def concat(b, kind=kind):
            b.out('CONCATENATION', [b.x((2, 3), kind), b.x((2, 4), kind)], kind, version=2, axis=-1)

        @case('PACK %s' % kind)
        def pack(b, kind=kind):
            b.out('PACK', [b.x((2, 3), kind), b.x((2, 3), kind)], kind, version=2, axis=1, values_count=2)

        @case('UNPACK %s' % kind)
        def unpack(b, kind=kind):
            b.op('UNPACK', [b.x((2, 3), kind)], [b.y(kind), b.y(kind), b.y(kind)], 2, num=3, axis=1)

        @case('SPLIT %s' % kind)
        def split(b, kind=kind):
            b.op('SPLIT', [b.c(1), b.x((2, 6), kind)], [b.y(kind), b.y(kind)], 2, num_splits=2)

        @case('SPLIT_V %s' % kind)
        def split_v(b, kind=kind):
            b.op('SPLIT_V', [b.x((2, 6), kind), b.c([1, -1]), b.c(1)], [b.y(kind), b.y(kind)], 2, num_splits=2)

        @case('PADV2 %s' % kind)
        def pad_v2(b, kind=kind):
            b.out('PADV2', [b.x((2, 3), kind), b.c([[1, 0], [2, 1]]), b.weight((), kind)], kind, version=2)

        for op in ('ARG_MAX', 'ARG_MIN'):
            @case('%s %s int64' % (op, kind))
            def arg64(b, op=op, kind=kind):
                b.out(op, [b.x((3, 5), kind), b.c(-1)], 'int64', version=2, output_type='int64')

        @case('TOPK_V2 %s' % kind)
        def topk(b, kind=kind):
            b.op('TOPK_V2', [b.x((3, 6), kind), b.c(3)], [b.y(kind), b.y('int32')], 2)
        for op in ('ARG_MAX', 'ARG_MIN'):
            @case('%s %s' % (op, kind))
            def arg(b, op=op, kind=kind):
                b.out(op, [b.x((3, 5), kind), b.c(1)], 'int32', version=2, output_type='int32')
        for op in ('MEAN', 'SUM', 'REDUCE_PROD', 'REDUCE_MAX', 'REDUCE_MIN'):
            for axes in ([1], [1, 2], [0, 1, 2, 3]):
                @case('%s %s %s' % (op, kind, axes))
                def reduce(b, op=op, kind=kind, axes=axes):
                    other = op in ('MEAN', 'SUM', 'REDUCE_PROD')
                    b.out(op, [b.x((2, 3, 4, 5), kind), b.c(axes)], kind, (0.9 if op == 'SUM' else 0.03) if other else None,
                          None, 2, keep_dims=len(axes) == 2)
        for op in ('SHAPE', 'RANK'):
            @case('%s %s' % (op, kind))
            def shape(b, op=op, kind=kind):
                b.out(op, [b.x((2, 3), kind)], 'int32', **({'out_type': 'int32'} if op == 'SHAPE' else {}))

        @case('FILL %s' % kind)
        def fill(b, kind=kind):
            b.out('FILL', [b.c([2, 3]), b.x((), kind)], kind, version=2)

        @case('EMBEDDING_LOOKUP %s' % kind)
        def lookup(b, kind=kind):
            b.out('EMBEDDING_LOOKUP', [b.x((3,), 'int32', value=[2, 0, 3]), b.weight((4, 5), kind)], kind, version=2)
        for op in ('SOFTMAX', 'LOG_SOFTMAX'):
            @case('%s %s' % (op, kind))
            def softmax(b, op=op, kind=kind):
                q = (1 / 256, -128 * (kind == 'int8')) if op == 'SOFTMAX' else (16 / 256, 127 + 128 * (kind == 'uint8'))
                b.out(op, [b.x((3, 9), kind)], kind, *q, version=2, **({'beta': 1.0} if op == 'SOFTMAX' else {}))
        for flags in ({}, {'exclusive': True}, {'reverse': True}):
            @case('CUMSUM %s %s' % (kind, ' '.join(flags) or 'plain'))
            def cumsum(b, kind=kind, flags=flags):
                b.out('CUMSUM', [b.x((3, 5), kind), b.c(1)], kind, **flags)

        @case('SCATTER_ND %s' % kind)
        def scatter(b, kind=kind):
            b.out('SCATTER_ND', [b.c([[1, 0], [2, 1], [1, 0]]), b.x((3,), kind, 0, 0), b.c([3, 2])], kind, 0, 0)

        @case('SPARSE_TO_DENSE %s' % kind)
        def sparse(b, kind=kind):
            b.out('SPARSE_TO_DENSE', [b.c([[0, 1], [2, 0]]), b.c([3, 2]), b.x((2,), kind, 0, 0), b.c(1, kind)], kind, 0, 0)

        @case('ONE_HOT %s' % kind)
        def onehot(b, kind=kind):
            b.out('ONE_HOT', [b.x((3,), 'int32', value=[1, 0, 5]), b.c(4), b.c(3, kind), b.c(1, kind)], kind, 0, 0, axis=-1)

        @case('RANGE %s' % kind)
        def ranges(b, kind=kind):
            b.out('RANGE', [b.c(1, kind), b.c(9, kind), b.c(2, kind)], kind, 0, 0)
    for op in ('REDUCE_ANY', 'REDUCE_ALL'):
        @case(op)
        def reduce_bool(b, op=op):
            t = b.tensor('b', 'bool', (4, 3))
            b.op('GREATER', [b.x((4, 3)), b.c(0, 'float32')], [t])
            b.out(op, [t, b.c([1])], 'bool', keep_dims=False)

    for axes in ([-1], [-2, -1], [0, 0]):
        @case('MEAN axes %s' % axes)
        def negative(b, axes=axes):
            b.out('MEAN', [b.x((2, 3, 4)), b.c(axes)], 'float32', version=2, keep_dims=False)

    @case('GATHER axis -1')
    def gather(b):
        b.out('GATHER', [b.x((4, 5)), b.c([3, 0, 1])], 'float32', version=2, axis=-1)

    for axis, batches in ((1, 1), (2, 1), (-1, -1), (2, 2)):
        @case('GATHER batches %d axis %d' % (batches, axis))
        def gather_batches(b, axis=axis, batches=batches):
            index = (2,) if batches == 1 and axis == 1 else (2, 3) if batches != 2 else (2, 4, 2)
            b.out('GATHER', [b.x((2, 4, 5)), b.x(None, 'int32', value=b.random.randint(0, 4, index))], 'float32', 5, axis=axis,
                  batch_dims=batches)

    @case('SHAPE to int64')
    def shape64(b):
        b.out('SHAPE', [b.x((2, 3))], 'int64', out_type='int64')

    @case('SPLIT other scale')
    def rescaled(b):
        b.op('SPLIT', [b.c(1), b.x((2, 6), 'int8')], [b.y('int8'), b.y('int8', 0.1)], 2, num_splits=2)

    @case('CONCATENATION uint8 other scale')
    def rescaled_concat(b):
        b.out('CONCATENATION', [b.x((2, 3), 'uint8', 0.04), b.x((2, 4), 'uint8')], 'uint8', 0.06, version=2, axis=-1)

    @case('SOFTMAX beta')
    def beta(b):
        b.out('SOFTMAX', [b.x((3, 9))], 'float32', beta=0.5)

    @case('WHERE')
    def where(b):
        t = b.tensor('b', 'bool', (4, 3))
        b.op('GREATER', [b.x((4, 3)), b.c(0, 'float32')], [t])
        b.out('WHERE', [t], 'int64')


def corners():
    """Negative axes, broadcasts, ranks and options that the cases above leave out."""
    def one(name, op, inputs, constants=(), kind='float32', version=2, order=None, **members):
        @case('%s, %s' % (op, name))
        def build(b):
            operands = [b.x(shape, kind) for shape in inputs] + [b.c(*c) if isinstance(c, tuple) else b.c(c) for c in constants]
            b.out(op, [operands[k] for k in order] if order else operands, kind, version=version, **members)
    one('broadcast of both', 'MUL', [(2, 1, 4), (1, 3, 1)])
    one('broadcast of both', 'SUB', [(2, 1, 4), (1, 3, 1)], kind='int8')
    one('broadcast of ranks', 'MAXIMUM', [(3, 1), (2, 3, 4)], kind='int32')
    one('axis -2', 'CONCATENATION', [(2, 1, 3), (2, 4, 3)], axis=-2)
    one('axis -1', 'PACK', [(2, 3), (2, 3)], axis=-1, values_count=2)
    one('axis -1', 'EXPAND_DIMS', [(3, 4)], [-1], version=1)
    one('axis -3', 'EXPAND_DIMS', [(3, 4)], [-3], version=1)
    one('axis -2', 'SQUEEZE', [(1, 3, 1, 4)], squeeze_dims=[-2])
    one('axis 0', 'ONE_HOT', [], [[1, 0, 5], 4, (3.5, 'float32'), (1.5, 'float32')], version=1, axis=0)
    one('axis 0', 'CUMSUM', [(3, 4)], [0], version=1)
    one('axis -2', 'CUMSUM', [(3, 4)], [-2], version=1, exclusive=True, reverse=True)
    one('a scalar index', 'GATHER', [(4, 5)], [2], axis=1)
    one('indices of int64', 'GATHER', [(4, 5)], [([3, 0], 'int64')], axis=0)
    one('new axes', 'STRIDED_SLICE', [(4, 5)], [[0, 1, 0], [0, 4, 0], [1, 2, 1]], new_axis_mask=1, begin_mask=4, end_mask=4)
    one('negative ends', 'STRIDED_SLICE', [(6, 5)], [[-2, -9], [-7, -1], [-2, 1]])
    one('a scalar', 'RESHAPE', [(1, 1)], [np.zeros(0, 'int32')], version=1)
    one('rank 1', 'SOFTMAX', [(7,)], beta=1.0)
    one('rank 4', 'LOG_SOFTMAX', [(2, 3, 2, 5)])
    one('rank 4', 'L2_NORMALIZATION', [(1, 2, 3, 5)], activation='NONE')
    one('slopes [5]', 'PRELU', [(1, 3, 4, 5)], [([0.1, 0.2, -0.3, 0.4, 2], 'float32')], version=1)
    one('one slope', 'PRELU', [(1, 3, 4, 5)], [([[[0.25]]], 'float32')], version=1)
    one('rank 1', 'FULLY_CONNECTED', [(8,)], [(np.arange(40).reshape(5, 8) / 40, 'float32')], version=1)
    one('no fixed rows', 'FULLY_CONNECTED', [(4, 2, 2)], [(np.arange(40).reshape(5, 8) / 40, 'float32')], version=1)
    one('broadcast batches', 'BATCH_MATMUL', [(2, 1, 3, 4), (5, 4, 2)], adj_x=False, adj_y=False)
    one('adjoint of the first', 'BATCH_MATMUL', [(2, 4, 3), (2, 4, 5)], adj_x=True, adj_y=False)
    one('both adjoint', 'BATCH_MATMUL', [(4, 3), (5, 4)], adj_x=True, adj_y=True)
    one('groups', 'CONV_2D', [(1, 5, 6, 4)], [(np.sin(np.arange(6 * 3 * 3 * 2)).reshape(6, 3, 3, 2), 'float32'), (np.arange(6), 'float32')],
        padding='SAME', stride_h=2, stride_w=1)
    one('dilated', 'DEPTHWISE_CONV_2D', [(1, 9, 8, 2)], [(np.sin(np.arange(36)).reshape(1, 3, 3, 4), 'float32'), (np.arange(4), 'float32')],
        padding='SAME', stride_h=1, stride_w=1, dilation_h=2, dilation_w=3, multiplier=2)
    one('stride above the filter', 'AVERAGE_POOL_2D', [(1, 7, 8, 3)], padding='SAME', stride_h=3, stride_w=3, filter_h=2, filter_w=2)
    one('filter above the image', 'MAX_POOL_2D', [(1, 3, 2, 3)], padding='SAME', stride_h=1, stride_w=2, filter_h=7, filter_w=5)
    for padding, size in (('SAME', (8, 11)), ('VALID', (8, 11))):
        one('filter below the stride, %s' % padding, 'TRANSPOSE_CONV', [(1, 3, 4, 2)],
            [[1, *size, 3], (np.sin(np.arange(24)).reshape(3, 2, 2, 2), 'float32'), (np.arange(3), 'float32')], version=3,
            order=[1, 2, 0, 3], padding=padding, stride_h=3, stride_w=3)
    one('no bias', 'TRANSPOSE_CONV', [(1, 3, 4, 2)], [[1, 6, 7, 3], (np.sin(np.arange(54)).reshape(3, 3, 3, 2), 'float32')], version=1,
        order=[1, 2, 0], padding='SAME', stride_h=2, stride_w=2)
    one('rank 3', 'SPACE_TO_BATCH_ND', [(2, 6, 3)], [[3], [[0, 0]]])
    one('a condition of one element', 'SELECT_V2', [(4,), (4,)], [([1], 'bool')], version=1, order=[2, 0, 1])
    one('a scalar condition', 'SELECT', [(3, 4), (3, 4)], [(0, 'bool')], version=1, order=[2, 0, 1])
    one('negative', 'MEAN', [(2, 3, 4)], [-2], keep_dims=True)
    one('a scalar axis', 'REDUCE_MAX', [(2, 3, 4)], [1], keep_dims=False)
    one('of rank 1', 'TILE', [(3,)], [([2], 'int64')])
    one('to a higher rank', 'BROADCAST_TO', [(3, 1)], [[2, 3, 4]])
    one('no stride', 'RESIZE_NEAREST_NEIGHBOR', [(1, 3, 3, 2)], [[6, 6]], kind='uint8', half_pixel_centers=True, version=3)
    for kind in ('int8', 'uint8'):
        one('a broadcast condition, %s' % kind, 'SELECT_V2', [(2, 3), (2, 3)], [([[1], [0]], 'bool')], kind=kind, version=1, order=[2, 0, 1])
