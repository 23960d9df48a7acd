"""Pairs of tflite_pairs.py whose operators move elements, compare them along axes, or convert them."""
import numpy as np

from tflite_draw import ALL, NUMBERS, QUANTIZED, WITH_INT, broadcast, flag, pairs, pick, quant, shape, size


def moved(b, r, op, kind, x, constants, version=2, **members):
    """An operator that moves elements: the result has the quantization parameters of the input."""
    parameters = quant(r, kind)
    b.out(op, [b.x(x, kind, **parameters)] + [b.c(c) for c in constants], kind, version=version, **members, **parameters)


@pairs('RESHAPE', *ALL)
def reshape(b, r, op, kind):
    x = shape(r, 1, 4)
    y = list(r.permutation(x + (1,) * size(r, 0, 1))) if flag(r) else [int(np.prod(x))]
    y = [int(n) for n in y]
    if flag(r):
        y[r.randint(len(y))] = -1
    moved(b, r, op, kind, x, [y], 1)


@pairs('SQUEEZE', *ALL)
def squeeze(b, r, op, kind):
    x = tuple(1 if flag(r) else n for n in shape(r, 2, 4))
    ones = [k for k, n in enumerate(x) if n == 1]
    chosen = [k - (len(x) if flag(r) else 0) for k in ones if flag(r)]
    moved(b, r, op, kind, x, [], 1, squeeze_dims=chosen)


@pairs('EXPAND_DIMS', *ALL)
def expand(b, r, op, kind):
    x = shape(r, 1, 3)
    moved(b, r, op, kind, x, [int(r.randint(-len(x) - 1, len(x) + 1))], 1)


@pairs('TRANSPOSE', *ALL)
def transpose(b, r, op, kind):
    x = shape(r, 1, 5)
    moved(b, r, op, kind, x, [r.permutation(len(x))])


@pairs('PAD', *WITH_INT)
def pad(b, r, op, kind):
    x = shape(r, 1, 4)
    moved(b, r, op, kind, x, [r.randint(0, 3, (len(x), 2))])


@pairs('PADV2', *WITH_INT)
def pad_v2(b, r, op, kind):
    x, parameters = shape(r, 1, 4), quant(r, kind)
    b.out(op, [b.x(x, kind, **parameters), b.c(r.randint(0, 3, (len(x), 2))), b.weight((), kind, **parameters)], kind, version=2,
          **parameters)


@pairs('MIRROR_PAD', *WITH_INT)
def mirror(b, r, op, kind):
    x, mode = shape(r, 1, 4), int(r.randint(2))
    moved(b, r, op, kind, x, [[[int(r.randint(0, n + mode)) for _ in range(2)] for n in x]], mode=mode)


@pairs('SLICE', *ALL)
def cut(b, r, op, kind):
    x = shape(r, 1, 4)
    begin = [int(r.randint(n)) for n in x]
    moved(b, r, op, kind, x, [begin, [-1 if r.randint(3) == 0 else size(r, 1, n - k) for n, k in zip(x, begin)]])


@pairs('STRIDED_SLICE', *ALL)
def strided(b, r, op, kind):
    while True:
        x = shape(r, 1, 4)
        begin, end = ([int(r.randint(-n - 1, n + 2)) for n in x] for _ in range(2))
        step = [int(pick(r, -2, -1, 1, 1, 2, 3)) for _ in x]
        masks = {name: int(r.randint(1 << len(x))) if flag(r) else 0 for name in ('begin_mask', 'end_mask', 'shrink_axis_mask')}
        chosen = [n for k, n in enumerate(x) if not masks['shrink_axis_mask'] >> k & 1]
        for k, n in enumerate(x):
            if masks['shrink_axis_mask'] >> k & 1:
                begin[k], step[k] = int(r.randint(-n, n)), 1
                end[k] = begin[k] + 1
                masks['begin_mask'] &= ~(1 << k)
        kept = [len(range(n)[slice(None if masks['begin_mask'] >> k & 1 else begin[k], None if masks['end_mask'] >> k & 1 else end[k],
                                   step[k])]) for k, n in enumerate(x) if not masks['shrink_axis_mask'] >> k & 1]
        if all(kept) and chosen:
            break
    moved(b, r, op, kind, x, [begin, end, step], **masks)


@pairs('GATHER', *ALL)
def gather(b, r, op, kind):
    x = shape(r, 1, 4)
    axis = int(r.randint(-len(x), len(x)))
    batches = int(r.randint(axis % len(x) + 1)) if r.randint(4) == 0 else 0
    index = x[:batches] + shape(r, 1, 2)
    moved(b, r, op, kind, x, [r.randint(0, x[axis], index)], 5 if batches else 2, axis=axis, **({'batch_dims': batches} if batches else {}))


@pairs('GATHER_ND', *WITH_INT)
def gather_nd(b, r, op, kind):
    x = shape(r, 1, 4)
    depth = size(r, 1, len(x))
    rows = shape(r, 1, 2)
    moved(b, r, op, kind, x, [np.stack([r.randint(0, n, rows) for n in x[:depth]], -1)])


@pairs('TILE', *ALL)
def tile(b, r, op, kind):
    x = shape(r, 1, 4, 3)
    moved(b, r, op, kind, x, [[size(r, 1, 3) for _ in x]], 1)


@pairs('BROADCAST_TO', *ALL)
def broadcast_to(b, r, op, kind):
    y = shape(r, 1, 4)
    moved(b, r, op, kind, tuple(1 if flag(r) else n for n in y)[r.randint(len(y)):], [y])


@pairs('REVERSE_V2', *ALL)
def reverse(b, r, op, kind):
    x = shape(r, 1, 4)
    moved(b, r, op, kind, x, [[int(r.randint(len(x)))]])


@pairs('DEPTH_TO_SPACE SPACE_TO_DEPTH', *WITH_INT)
def blocks(b, r, op, kind):
    n, h, w, c, block = size(r, 1, 2), size(r), size(r), size(r, 1, 4), size(r, 1, 3)
    x = (n, h, w, c * block * block) if op == 'DEPTH_TO_SPACE' else (n, h * block, w * block, c)
    moved(b, r, op, kind, x, [], block_size=block)


@pairs('SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND', *WITH_INT)
def batches(b, r, op, kind):
    block = [size(r, 1, 3), size(r, 1, 3)]
    sides = [n * size(r, 1, 3) for n in block]
    ends = [[int(r.randint(0, 2)), 0] if n > 2 else [0, 0] for n in sides]
    if op == 'SPACE_TO_BATCH_ND':
        x = (size(r, 1, 2), sides[0] - ends[0][0], sides[1] - ends[1][0], size(r, 1, 3))
    else:
        x = (size(r, 1, 2) * block[0] * block[1], sides[0] // block[0], sides[1] // block[1], size(r, 1, 3))
    moved(b, r, op, kind, x, [block, ends])


@pairs('REVERSE_SEQUENCE', *WITH_INT)
def reverse_sequence(b, r, op, kind):
    x = shape(r, 2, 4)
    batch, axis = (int(k) for k in r.permutation(len(x))[:2])
    moved(b, r, op, kind, x, [r.randint(1, x[axis] + 1, x[batch])], 1, seq_dim=axis, batch_dim=batch)


@pairs('CONCATENATION', *ALL)
def concat(b, r, op, kind):
    x, parameters, axis = shape(r, 1, 4), quant(r, kind), 0
    axis = int(r.randint(-len(x), len(x)))
    parts = [x[:axis % len(x)] + (size(r),) + x[axis % len(x) + 1:] for _ in range(size(r, 1, 4))]
    other = kind == 'uint8' and flag(r)
    b.out(op, [b.x(p, kind, **(quant(r, kind) if other else parameters)) for p in parts], kind, version=2, axis=axis, **parameters)


@pairs('PACK', *WITH_INT)
def pack(b, r, op, kind):
    x, parameters, count = shape(r, 1, 3), quant(r, kind), size(r, 1, 4)
    b.out(op, [b.x(x, kind, **parameters) for _ in range(count)], kind, version=2, values_count=count,
          axis=int(r.randint(-len(x) - 1, len(x) + 1)), **parameters)


@pairs('UNPACK', 'float32', 'int8', 'uint8', 'int32', 'bool')
def unpack(b, r, op, kind):
    x, parameters = shape(r, 1, 4, 4), quant(r, kind)
    axis = int(r.randint(-len(x), len(x)))
    b.op(op, [b.x(x, kind, **parameters)], [b.y(kind, **parameters) for _ in range(x[axis])], 2, num=x[axis], axis=axis)


@pairs('SPLIT', 'float32', 'int8', 'uint8', 'int32')
def split(b, r, op, kind):
    x, parameters, count = list(shape(r, 1, 4)), quant(r, kind), size(r, 1, 4)
    axis = int(r.randint(-len(x), len(x)))
    x[axis] = count * size(r, 1, 3)
    b.op(op, [b.c(axis), b.x(tuple(x), kind, **parameters)], [b.y(kind, **parameters) for _ in range(count)], 2, num_splits=count)


@pairs('SPLIT_V', *WITH_INT)
def split_v(b, r, op, kind):
    x, parameters, sizes = list(shape(r, 1, 4)), quant(r, kind), [size(r, 1, 3) for _ in range(size(r, 1, 4))]
    axis = int(r.randint(-len(x), len(x)))
    x[axis] = sum(sizes)
    if flag(r):
        sizes[r.randint(len(sizes))] = -1
    b.op(op, [b.x(tuple(x), kind, **parameters), b.c(sizes), b.c(axis)], [b.y(kind, **parameters) for _ in sizes], 2,
         num_splits=len(sizes))


@pairs('SELECT SELECT_V2', *ALL)
def select(b, r, op, kind):
    parameters = quant(r, kind)
    if op == 'SELECT':  # results have two elements or more: else TensorFlow Lite gives them the shape in the file
        condition = first = second = (size(r, 2),) + shape(r, 0, 3)
        condition = first[:1] if flag(r) else first
    else:
        first, second = broadcast(r)
        first += (size(r, 2),)
        second += first[-1:] if flag(r) else (1,)
        condition = tuple(1 if flag(r) else n for n in np.broadcast_shapes(first, second))
    b.out(op, [b.x(condition, 'bool') if flag(r) else b.c(b.draw(condition, 'bool'), 'bool'), b.x(first, kind, **parameters),
               b.x(second, kind, **parameters)], kind, **parameters)


@pairs('ARG_MAX ARG_MIN', 'float32', 'int8', 'uint8', 'int32')
def arg(b, r, op, kind):
    x, to = shape(r, 1, 4), pick(r, 'int32', 'int64')
    b.out(op, [b.x(x, kind, **quant(r, kind)), b.c(int(r.randint(-len(x), len(x))))], to, version=2, output_type=to)


@pairs('TOPK_V2', *WITH_INT)
def topk(b, r, op, kind):
    x, parameters = shape(r, 1, 3, 8), quant(r, kind)
    b.op(op, [b.x(x, kind, **parameters), b.c(size(r, 1, x[-1]))], [b.y(kind, **parameters), b.y('int32')], 2)


def axes_of(r, rank):
    chosen = [int(k) for k in r.permutation(rank)[:size(r, 1, rank)]]
    return [k - rank if r.randint(3) == 0 else k for k in chosen]


@pairs('MEAN', *NUMBERS)
@pairs('SUM', *WITH_INT)
def reduce_rescaled(b, r, op, kind):
    """TensorFlow Lite does not saturate a sum: its result has a scale that holds all sums."""
    x, parameters = shape(r, 1, 4), quant(r, kind)
    axes, result = axes_of(r, len(x)), parameters if flag(r) and op == 'MEAN' else quant(r, kind)
    if op == 'SUM' and result:
        result['scale'] = 4 * parameters['scale'] * int(np.prod([x[k] for k in axes]))
    b.out(op, [b.x(x, kind, **parameters), b.c(axes)], kind, version=2, keep_dims=flag(r), **result)


@pairs('REDUCE_MAX REDUCE_MIN', *WITH_INT)
@pairs('REDUCE_PROD', 'float32', 'int32', 'int64')
@pairs('REDUCE_ANY REDUCE_ALL', 'bool')
def reduce(b, r, op, kind):
    x, parameters = shape(r, 1, 4), quant(r, kind)
    b.out(op, [b.x(x, kind, **parameters), b.c(axes_of(r, len(x)))], kind, version=2, keep_dims=flag(r), **parameters)


@pairs('SHAPE RANK', *ALL)
def dimensions(b, r, op, kind):
    b.out(op, [b.x(shape(r, 1, 4), kind, **quant(r, kind))], 'int32', **({'out_type': 'int32'} if op == 'SHAPE' else {}))


@pairs('FILL', *ALL)
def fill(b, r, op, kind):
    parameters = quant(r, kind)
    b.out(op, [b.c(shape(r, 1, 4)), b.x((), kind, **parameters)], kind, version=2, **parameters)


@pairs('EMBEDDING_LOOKUP', *NUMBERS)
def lookup(b, r, op, kind):
    x, parameters = shape(r, 2, 4), quant(r, kind)
    index = r.randint(0, x[0], size(r))
    b.out(op, [b.x(None, 'int32', value=index), b.weight(x, kind, **parameters)], kind, version=2, **parameters)


@pairs('CUMSUM', 'float32', 'int32', 'int64')
def cumsum(b, r, op, kind):
    x = shape(r, 1, 4)
    b.out(op, [b.x(x, kind), b.c(int(r.randint(-len(x), len(x))))], kind, exclusive=flag(r), reverse=flag(r))


@pairs('SCATTER_ND', 'float32', 'int8', 'uint8', 'int32', 'int64')
def scatter(b, r, op, kind):
    y = shape(r, 1, 3)
    depth, count = size(r, 1, len(y)), size(r)
    index = np.stack([r.randint(0, n, count) for n in y[:depth]], -1)
    updates = r.randint(0, 20, (count, *y[depth:]))
    b.out(op, [b.c(index), b.x(None, kind, 0, 0, value=updates), b.c(y)], kind, 0, 0)


@pairs('SPARSE_TO_DENSE', 'float32', 'int8', 'uint8', 'int32', 'int64')
def sparse(b, r, op, kind):
    y = shape(r, 1, 4)
    places = np.sort(r.permutation(int(np.prod(y)))[:size(r)])
    index = np.stack(np.unravel_index(places, y), -1)
    b.out(op, [b.c(index), b.c(y), b.x((len(places),), kind, 0, 0), b.c(int(r.randint(3)), kind)], kind, 0, 0)


@pairs('ONE_HOT', 'float32', 'int8', 'uint8', 'int32', 'int64', 'bool')
def onehot(b, r, op, kind):
    x, depth = shape(r, 1, 3), size(r, 2, 6)
    b.out(op, [b.x(None, 'int32', value=r.randint(-1, depth + 1, x)), b.c(depth), b.c(pick(r, 1, 3) if kind != 'bool' else 1, kind),
               b.c(0, kind)], kind, 0, 0, axis=int(r.randint(-1, len(x) + 1)))


@pairs('RANGE', 'float32', 'int32')
def ranges(b, r, op, kind):
    step, count = pick(r, -3, -1, 1, 2), size(r, 1, 9)
    start = int(r.randint(-5, 6))
    b.out(op, [b.c(v, kind) for v in (start, start + step * count, step)], kind)


@pairs('CAST', 'float32', 'int32', 'int64', 'uint8', 'bool')
def cast(b, r, op, kind):
    x, to = shape(r, 1, 4), pick(r, *(k for k in ('float32', 'int32', 'int64', 'uint8', 'bool') if k != kind))
    value = r.uniform(0, 100, x) if kind == 'float32' else r.randint(0, 2 if kind == 'bool' else 100, x)
    b.out(op, [b.x(None, kind, 0, 0, value=value)], to, 0, 0, in_type=kind, out_type=to)


@pairs('QUANTIZE', *NUMBERS)
def quantize(b, r, op, kind):
    to = pick(r, *QUANTIZED)
    b.out(op, [b.x(shape(r, 1, 4, 7), kind, **quant(r, kind))], to, version=2, **quant(r, to))


@pairs('DEQUANTIZE', *QUANTIZED)
def dequantize(b, r, op, kind):
    b.out(op, [b.x(shape(r, 1, 4, 7), kind, **quant(r, kind))], 'float32', version=2)


@pairs('WHERE', 'bool')
def where(b, r, op, kind):
    b.out(op, [b.x(shape(r, 1, 4, 4), kind)], 'int64')
