"""Cases of test_reports.py: indices, slices, shapes, Einsum, products of integers."""
import itertools

import numpy as np

from reports_case import FLOAT32, case, draw

LEAST, MOST = -2**63, 2**63 - 1


@case('apache/tvm/issues/20217')
def gather_elements_negative(m):
    x = np.arange(12).reshape(3, 4).astype(np.float32)
    index = np.int64([[-1, -4, 0, 3], [-2, 2, -3, 1], [-1, -1, -1, -1]])
    m.want(m.op('GatherElements', m.x(x), m.x(index), axis=1), np.take_along_axis(x, index, 1))


@case('apache/tvm/issues/20217')
def gather_nd_negative(m):
    x = np.arange(12).reshape(3, 4).astype(np.float32)
    m.want(m.op('GatherND', m.x(x), m.x(np.int64([[-1, -1], [0, -2], [-3, 3]]), still=(-1,))), [11, 2, 3])


@case('apache/tvm/issues/20217')
def scatter_nd_negative(m):
    x = np.zeros((3, 4), np.float32)
    m.want(m.op('ScatterND', m.x(x), m.c([[-1], [0]], np.int64), m.c([[1, 2, 3, 4], [5, 6, 7, 8]], np.float32)),
           [[5, 6, 7, 8], [0, 0, 0, 0], [1, 2, 3, 4]])


@case('apache/tvm/issues/20217')
def one_hot_negative(m):
    index = m.x(np.int64([0, 2, 4, -1, -5, 5, -6]))  # beyond [-5, 4]: no element is on
    rows = np.array([[int(i % 5 == k and -5 <= i < 5) for k in range(5)] for i in (0, 2, 4, -1, -5, 5, -6)])
    m.want(m.op('OneHot', index, m.c(np.int64(5)), m.c([0, 1], np.float32)), rows.astype(np.float32))
    m.want(m.op('OneHot', index, m.ints(5), m.c([7, -1], np.int32), axis=0), np.where(rows, -1, 7).T.astype(np.int32))


@case('apple/coremltools/pull/2794')
def gather_nd_batch_negative(m):
    x = np.arange(30).reshape(2, 5, 3).astype(np.float32)
    index = np.int64([[[-1], [0]], [[-4], [1]]])
    want = np.stack([x[b][index[b, :, 0]] for b in range(2)])
    m.want(m.op('GatherND', m.x(x, still=(0,)), m.c(index), batch_dims=1), want)


@case('openvinotoolkit/openvino/issues/30797')
def gather_nd_batches_of_one(m):
    x = draw(2, 2, 3, 4)
    index = np.int64([[[1, 2], [0, 0]], [[0, 1], [1, 1]]])
    want = np.stack([np.stack([x[b, i, j] for i, j in index[b]]) for b in range(2)])
    m.want(m.op('GatherND', m.x(x, still=(0,)), m.c(index), batch_dims=1), want)


@case('onnx/onnx/issues/8096')
def scatter_nd_extremes_deep(m):
    x, index = np.arange(8).reshape(2, 2, 2).astype(np.float32), np.int64([[[0, 0]], [[1, 1]]])
    updates = np.float32([[[-5, 9]], [[6.5, 6.5]]])
    for reduction, function in (('max', np.maximum), ('min', np.minimum)):
        want = x.copy()
        for k in range(2):
            at = tuple(index[k, 0])
            want[at] = function(want[at], updates[k, 0])
        m.want(m.op('ScatterND', m.x(x), m.c(index), m.c(updates), reduction=reduction), want)


@case('onnx/onnx-mlir/pull/3611')
def scatter_nd_pairs(m):
    x = np.arange(20).reshape(4, 5).astype(np.float32)
    index = np.int64([[[0, 0], [1, -1]], [[-1, 2], [2, 3]], [[3, 4], [-4, 1]]])
    updates, want = draw(3, 2), x.copy()
    for a, b in itertools.product(range(3), range(2)):
        want[tuple(index[a, b])] = updates[a, b]
    m.want(m.op('ScatterND', m.x(x), m.c(index), m.c(updates)), want)
    want = x.copy()
    want[1, 3], want[2, 0] = -1, -2
    m.want(m.op('ScatterND', m.x(x), m.c([[1, 3], [2, 0]], np.int64), m.c([-1, -2], np.float32)), want)


def scattered(x, index, updates, axis, function):
    """ScatterElements, by loops."""
    want = x.copy()
    for at in np.ndindex(*index.shape):
        to = list(at)
        to[axis] = index[at]
        want[tuple(to)] = function(want[tuple(to)], updates[at])
    return want


@case('onnx/onnx-mlir/pull/3551')
def scatter_elements_add_repeated(m):
    x, index = draw(2, 5), np.int64([[1, 1, 1, -4], [0, -1, 4, 0]])
    updates = draw(2, 4, seed=1)
    m.want(m.op('ScatterElements', m.x(x), m.c(index), m.c(updates), axis=-1, reduction='add'),
           scattered(x, index, updates, 1, np.add), FLOAT32)


@case('pytorch/pytorch/issues/152419')
def scatter_elements_max_square(m):
    x, index, updates = np.int64([[3, 0], [0, 1]]), np.int64([[0, 0], [1, 1]]), np.int64([[1, 2], [4, -1]])
    for axis in (0, 1):
        m.want(m.op('ScatterElements', m.x(x), m.c(index), m.c(updates), axis=axis, reduction='max'),
               scattered(x, index, updates, axis, max))


@case('tracel-ai/burn-onnx/pull/487')
def scatter_elements_min_negative(m):
    x, index, updates = draw(3, 4), np.int64([[-1, -1, 0], [-4, 2, -2]]), draw(2, 3, seed=1)
    for reduction, function in (('min', np.minimum), ('mul', np.multiply), ('none', lambda _, new: new)):
        if reduction == 'none':
            index = np.int64([[-1, -2, 0], [-4, 2, -1]])
        m.want(m.op('ScatterElements', m.x(x), m.c(index), m.c(updates), axis=1, reduction=reduction),
               scattered(x, index, updates, 1, function), FLOAT32)


# ---- slices ----

@case('iree-org/iree/issues/24584')
def slice_backwards(m):
    x, y = np.arange(10).astype(np.float32), np.arange(12).reshape(3, 4).astype(np.float32)
    given, image = m.x(x), m.x(y)
    for start, end, step in ((9, 0, -1), (7, 0, -1), (9, 2, -1), (9, 0, -3), (-1, -9, -4)):
        m.want(m.op('Slice', given, m.ints(start), m.ints(end), m.ints(0), m.ints(step)), x[start:end:step])
    m.want(m.op('Slice', image, m.ints(2), m.ints(0), m.ints(0), m.ints(-1)), y[2:0:-1])
    m.want(m.op('Slice', image, m.ints(3), m.ints(0), m.ints(1), m.ints(-1)), y[:, 3:0:-1])


@case('tracel-ai/burn-onnx/pull/477')
def slice_to_least_integer(m):
    x = np.arange(10).reshape(2, 5).astype(np.int32)
    given = m.x(x)
    m.want(m.op('Slice', given, m.ints(0), m.ints(5), m.ints(1), m.ints(-1)), x[:, 0:0])
    m.want(m.op('Slice', given, m.ints(-1), m.ints(LEAST), m.ints(1), m.ints(-1)), x[:, ::-1])
    m.want(m.op('Slice', given, m.ints(MOST, 3), m.ints(LEAST, LEAST), m.ints(0, -1), m.ints(-1, -2)), x[::-1, 3::-2])
    m.want(m.op('Slice', given, m.ints(LEAST), m.ints(MOST), m.ints(1), m.ints(MOST)), x[:, :1])


@case('onnx/onnx/issues/7735')
def slice_of_nothing(m):
    x = np.zeros((0, 3), np.float32)
    y = m.op('Slice', m.x(x), m.ints(-1), m.ints(LEAST), m.ints(0), m.ints(-1))
    m.want(y, x)
    m.want(m.op('Concat', y, m.c(np.ones((1, 3), np.float32)), axis=0), np.ones((1, 3), np.float32))


@case('apache/tvm/issues/20263')
def slice_computed_start(m):
    x = draw(5, 3)
    given = m.x(x)
    rows = m.op('Gather', m.op('Shape', given), m.ints(0), axis=0)
    start = m.op('Sub', m.ints(3), rows)  # 3 - 5: the last two rows
    m.want(m.op('Slice', given, start, m.ints(MOST), m.ints(0)), x[-2:])
    m.want(m.op('Slice', given, m.op('Neg', m.ints(2)), rows, m.ints(0)), x[-2:])


@case('opencv/opencv/issues/29023')
def slice_past_its_end(m):
    x = draw(2, 6, 3)
    given = m.x(x)
    parts = [m.op('Slice', given, m.ints(a), m.ints(b), m.ints(1)) for a, b in ((3, 6), (4, 2), (0, 3))]
    m.want(parts[1], x[:, 0:0])
    m.want(m.op('Concat', *parts, axis=1), np.roll(x, 3, 1))


@case('inisis/OnnxSlim/issues/277')
def slice_of_slice(m):
    x = draw(4, 10, 3)
    given = m.x(x)
    a = m.op('Slice', given, m.ints(2), m.ints(-1), m.ints(1))
    m.want(m.op('Slice', a, m.ints(-3), m.ints(MOST), m.ints(1)), x[:, 2:-1][:, -3:])
    m.want(m.op('Slice', a, m.ints(1, 0), m.ints(3, -2), m.ints(0, 1), m.ints(1, 2)), x[:, 2:-1][1:3, 0:-2:2])
    b = m.op('Slice', given, m.ints(8), m.ints(1), m.ints(1), m.ints(-2))
    m.want(m.op('Slice', b, m.ints(-1), m.ints(0), m.ints(-2), m.ints(-1)), x[:, 8:1:-2][:, -1:0:-1])


@case('tracel-ai/burn-onnx/pull/150')
def split_uneven(m):
    x = draw(10, 7)
    given = m.x(x, still=True)
    for y, want in zip(m.op('Split', given, outputs=3, num_outputs=3), (x[:4], x[4:8], x[8:])):
        m.want(y, want)
    for y, want in zip(m.op('Split', given, outputs=4, axis=-1, num_outputs=4), (x[:, :2], x[:, 2:4], x[:, 4:6], x[:, 6:])):
        m.want(y, want)


@case('apache/tvm/issues/18751')
def split_uneven_then_join(m):
    x = draw(2, 5)
    parts = m.op('Split', m.x(x, still=(1,)), outputs=2, axis=1, num_outputs=2)
    m.want(m.op('Concat', parts[1], parts[0], axis=1), np.concatenate([x[:, 3:], x[:, :3]], 1))


# ---- shapes ----

@case('iree-org/iree/issues/18181', opset=15)
def shape_negative_end(m):
    x = draw(3, 4, 5, 2)
    given = m.x(x)
    m.want(m.op('Shape', given, end=-1), np.int64([3, 4, 5]))
    m.want(m.op('Shape', given, start=-3, end=-1), np.int64([4, 5]))
    m.want(m.op('Shape', given, start=3, end=1), np.zeros(0, np.int64))
    m.want(m.op('Reshape', given, m.op('Concat', m.op('Shape', given, end=-2), m.ints(-1), axis=0)), x.reshape(3, 4, 10))


@case('apache/tvm/pull/19966', opset=11)
def squeeze_axes_attribute(m):
    x = draw(1, 3, 1, 4)
    given = m.x(x, still=(0, 2))
    m.want(m.op('Transpose', m.op('Squeeze', given, axes=[2]), perm=[2, 0, 1]), x[:, :, 0].transpose(2, 0, 1))
    m.want(m.op('Squeeze', given, axes=[-4]), x[0])


@case('onnx/optimizer/issues/253')
def squeeze_twice(m):
    x = draw(1, 3, 1, 1, 4)
    given = m.x(x, still=(0, 2, 3))
    m.want(m.op('Squeeze', m.op('Squeeze', given, m.ints(-2)), m.ints(0)), x[0, :, :, 0])
    m.want(m.op('Squeeze', m.op('Squeeze', given, m.ints(0)), m.ints(1, 2)), x[0, :, 0, 0])
    m.want(m.op('Unsqueeze', m.op('Squeeze', given, m.ints(0, 2)), m.ints(-1, 0)), x[:, :, 0, :, :, None][0][None])


@case('onnx/optimizer/issues/263')
def slice_of_shape(m):
    x = draw(2, 3, 4, 5)
    given = m.x(x)
    shape = m.op('Shape', given)
    m.want(m.op('Slice', shape, m.ints(-3), m.ints(-1)), np.int64([3, 4]))
    back = m.op('Slice', shape, m.ints(-1), m.ints(LEAST), m.ints(0), m.ints(-1))
    m.want(m.op('Reshape', given, back), x.reshape(5, 4, 3, 2))
    m.want(m.op('Slice', shape, m.ints(0), m.ints(100), m.ints(-1), m.ints(2)), np.int64([2, 4]))
    m.want(m.op('Slice', shape, m.ints(5), m.ints(9)), np.zeros(0, np.int64))


@case('onnx/optimizer/issues/275')
def expand_with_less(m):
    x, y = draw(1, 5, 1, 1, 1), draw(3, 1, seed=1)
    given, column = m.x(x, still=True), m.x(y, still=(1,))
    m.want(m.op('Expand', given, m.ints(2, 5, 2, 1, 2)), np.broadcast_to(x, (2, 5, 2, 1, 2)))
    m.want(m.op('Expand', given, m.ints(1)), x)
    m.want(m.op('Expand', column, m.ints(1, 4)), np.broadcast_to(y, (3, 4)))
    m.want(m.op('Expand', column, m.ints(2, 1, 1)), np.broadcast_to(y, (2, 3, 1)))


@case('onnx/optimizer/issues/285')
def neutral_elements_that_widen(m):
    x = draw(3)
    given = m.x(x, still=True)
    m.want(m.op('Mul', given, m.c(np.ones((2, 3), np.float32))), np.stack([x, x]))
    m.want(m.op('Add', m.c(np.zeros((4, 1), np.float32)), given), np.tile(x, (4, 1)))
    m.want(m.op('Div', given, m.c(np.ones((1, 1), np.float32))), x[None])
    m.want(m.op('Sub', m.c(np.zeros(3, np.float32)), given), -x)
    m.want(m.op('Div', m.c(np.ones(3, np.float32)), given), np.float32(1) / x, FLOAT32)
    m.want(m.op('And', m.x(np.array([True, False, True]), still=True), m.c(np.ones((2, 1), bool))), [[1, 0, 1], [1, 0, 1]],
           dtype=bool)


@case('onnx/optimizer/issues/282')
def reshape_zero_and_rest(m):
    x = draw(2, 3, 4)
    given = m.x(x)
    m.want(m.op('Reshape', given, m.ints(0, 0, -1)), x)
    m.want(m.op('Reshape', given, m.ints(-1, 0, 2)), x.reshape(-1, 3, 2))
    m.want(m.op('Reshape', given, m.ints(0, -1)), x.reshape(2, 12))
    fixed = m.x(x, still=True)
    m.want(m.op('Reshape', fixed, m.ints(3, 2, 4)), x.reshape(3, 2, 4))
    m.want(m.op('Reshape', fixed, m.ints(2, 4, 3)), x.reshape(2, 4, 3))
    nothing = m.x(np.zeros((0, 3), np.float32), still=True)
    m.want(m.op('Reshape', nothing, m.ints(3, 0), allowzero=1), np.zeros((3, 0), np.float32))


@case('onnx/optimizer/issues/279')
def shape_of_another_shape(m):
    x = draw(2, 3)
    given = m.x(x)
    wide = m.op('Concat', given, given, axis=0)
    count = m.op('Cast', m.op('ReduceProd', m.op('Shape', m.op('Unsqueeze', wide, m.ints(0)), start=1), m.ints(0)), to=1)
    m.want(m.op('Div', m.op('ReduceSum', wide, m.ints(0, 1), keepdims=0), count), np.float32([x.astype(np.float64).mean()]),
           FLOAT32)


@case('onnx/optimizer/issues/254')
def like_nodes_with_other_attributes(m):
    x = draw(3, 3)
    given = m.x(x)
    e = np.exp(x.astype(np.float64))
    m.want(m.op('Softmax', given, axis=0), (e / e.sum(0)).astype(np.float32), FLOAT32)
    m.want(m.op('Softmax', given, axis=1), (e / e.sum(1, keepdims=True)).astype(np.float32), FLOAT32)
    m.want(m.op('ReduceMax', given, m.ints(0), keepdims=0), x.max(0))
    m.want(m.op('ReduceMax', given, m.ints(0), keepdims=1), x.max(0, keepdims=True))
    for largest in (0, 1):
        m.want(m.op('TopK', given, m.ints(1), outputs=2, largest=largest)[0], [x.min, x.max][largest](1, keepdims=True))
    m.want(m.op('Cast', given, to=6), np.trunc(x).astype(np.int32))
    m.want(m.op('Cast', given, to=7), np.trunc(x).astype(np.int64))


# ---- Einsum and products of integers ----

def einsum(m, equation, *arrays, still=()):
    want = np.einsum(equation, *[np.asarray(a, np.float64) for a in arrays])
    m.want(m.op('Einsum', *[m.x(a, still) for a in arrays], equation=equation), want.astype(np.float32), FLOAT32)


@case('robertknight/rten/pull/1369')
def einsum_reduced_one(m):
    einsum(m, 'ij,jk->ik', draw(2, 1), draw(3, 4, seed=1), still=True)
    einsum(m, 'bij,bj->b', draw(1, 2, 3), draw(4, 1, seed=1), still=True)


@case('robertknight/rten/pull/1369')
def einsum_reduced_none(m):
    einsum(m, 'ij,ij->i', draw(2, 1), np.zeros((2, 0), np.float32), still=True)


@case('robertknight/rten/pull/303')
def einsum_diagonal(m):
    x, y = draw(3, 3), draw(4, 4, 2, seed=1)
    einsum(m, 'ii->i', x)
    einsum(m, 'ii->', x)
    einsum(m, 'iij->ij', y)
    einsum(m, 'iij->ji', y)


@case('openvinotoolkit/openvino/pull/28151')
def einsum_ellipsis_diagonal(m):
    x = draw(2, 3, 4, 4)
    einsum(m, '...ii->...i', x)
    einsum(m, 'b...ii->...b', x)
    einsum(m, '...ij,...jk->...ik', draw(2, 1, 3, 4), draw(5, 4, 2, seed=1), still=True)


@case('onnx/onnx/issues/8207')
def einsum_ellipsis_of_scalar(m):
    einsum(m, '...,...->...', np.float32(3), draw(2, 3))


@case('sbryngelson/ANEForge/pull/119')
def einsum_two_diagonals(m):
    einsum(m, 'iijj->ij', draw(3, 3, 2, 2))
    einsum(m, 'ii,ij->j', draw(3, 3), draw(3, 4, seed=1))


@case('iree-org/iree/issues/24583')
def matmul_integer_zero_points(m):
    random = np.random.RandomState(3)
    a, b = random.randint(0, 256, (8, 16)).astype(np.uint8), random.randint(0, 256, (16, 17)).astype(np.uint8)
    given = m.x(a, still=(1,)), m.c(b)
    m.want(m.op('MatMulInteger', *given, m.c(np.uint8(128)), m.c(np.uint8(131))),
           (a.astype(np.int32) - 128) @ (b.astype(np.int32) - 131))
    columns = random.randint(0, 256, 17).astype(np.uint8)
    m.want(m.op('MatMulInteger', *given, m.c(np.uint8(255)), m.c(columns)),
           (a.astype(np.int32) - 255) @ (b.astype(np.int32) - columns))
