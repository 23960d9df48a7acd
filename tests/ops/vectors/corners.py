"""Cases of many operators that their own files leave out: limits at infinity, fused clamps of every integer type, float64
with two axes and with none, fill values that do not fit, NaN among the largest. Expected values come from numpy, torch
and, at infinity, from the limit of the function."""
import numpy as np

from common import EXACT64, INTEGERS, Tensor, activation, cast_one, const, f16, f32, f64, name_of, unseen, wrap, write

INF = float("inf")
NAN = float("nan")


def at_infinity(w):
    """Softsign goes to -1 and 1, Swish and both GELUs to 0 and to infinity; torch has NaN for some of these."""
    for dtype in (f32, f64):
        x = np.array([[-INF, INF]], dtype)
        for kind, approximate, low, high in ((8, 0, -1, 1), (18, 0, 0, INF), (19, 0, 0, INF), (19, 1, 0, INF)):
            w.case("activation %d %d of infinity %s" % (kind, approximate, name_of(dtype)), "ACTIVATION",
                   {"activationType": kind, "approximate": bool(approximate)}, [x], [np.array([[low, high]], dtype)])
    for kind, low, high in ((8, -1, 1), (18, 0, INF), (19, 0, INF)):
        w.case("fused %d of infinity" % kind, "ADD_FUSION", {"activationType": kind},
               [np.array([-INF, INF], f32), np.zeros(2, f32)], [np.array([low, high], f32)])


def clamps(w):
    """RELU, RELU6 and RELU1 after sums that wrap, and activations that do not change them, for every integer type and bool."""
    for dtype in INTEGERS:
        i = np.iinfo(dtype)
        x = np.array([i.min, i.max, 0, 1, 2, 5, 6, 7, 9], object)
        y = np.array([0, 0, 0, 0, 0, 0, 0, 0, i.max], object)
        if i.min < 0:
            x[3] = -1
        z = wrap(x + y, dtype).astype(object)
        for kind, top in ((1, i.max), (3, 6), (7, 1)):
            w.case("clamp %d %s" % (kind, name_of(dtype)), "ADD_FUSION", {"activationType": kind},
                   [x.astype(dtype), y.astype(dtype)], [np.clip(z, 0, top).astype(dtype)])
        w.case("linear %s" % name_of(dtype), "ADD_FUSION", {"activationType": 15}, [x.astype(dtype), y.astype(dtype)],
               [z.astype(dtype)])
    b = np.array([True, False])
    w.case("clamp of bool", "ADD_FUSION", {"activationType": 3}, [b, b], [b])
    x = np.array([[-1.5, 0.5], [4, 8]], f64)
    for kind in (1, 3, 7):
        w.case("clamp %d float64" % kind, "MUL_FUSION", {"activationType": kind}, [x, np.full(2, 2, f64)],
               [activation(x * 2, kind)])


def without_elements(w):
    """Nothing in, nothing out; and sums of nothing."""
    for dtype in (f64, np.int32):
        none = np.zeros((2, 0), dtype)
        w.case("relu of nothing %s" % name_of(dtype), "ACTIVATION", {"activationType": 1}, [none], [none])
    none, two = np.zeros((0, 2), f64), np.ones(2, f64)
    w.case("sqrt of nothing float64", "SQRT", {}, [none], [none])
    w.case("rsqrt of nothing float64", "RSQRT", {}, [none], [none])
    w.case("scale of nothing float64", "SCALE_FUSION", {"axis": 1}, [none, two], [none])
    w.case("norm of nothing float64", "FUSED_BATCH_NORM", {}, [none, two, two, two, two], [none])
    w.case("division of nothing", "DIV_FUSION", {}, [np.zeros((0, 2), np.int16), np.ones(2, np.int16)],
           [np.zeros((0, 2), np.int16)])
    w.case("softmax of no rows", "SOFTMAX", {"axis": [1]}, [np.zeros((0, 3), f32)], [np.zeros((0, 3), f32)])
    w.case("softmax of no columns", "SOFTMAX", {"axis": [1]}, [np.zeros((3, 0), f32)], [np.zeros((3, 0), f32)])
    for dtype in (f32, f64, np.int32):
        w.case("sum of nothing %s" % name_of(dtype), "REDUCE_FUSION", {"mode": 4},
               [np.zeros((2, 0), dtype), const(np.array([1], np.int32))], [np.zeros(2, dtype)])


def two_axes(w):
    """float64 and int32 in rows: kernels that iterate over more than one row."""
    x = np.array([[0.25, 1, 2.25], [4, 6.25, 9]], f64)
    w.case("sqrt rows float64", "SQRT", {}, [x], [np.sqrt(x)])
    w.case("rsqrt rows float64", "RSQRT", {}, [x], [1 / np.sqrt(x)])
    w.case("tanh rows float64", "ACTIVATION", {"activationType": 10}, [x - 4], [np.tanh(x - 4)], tol=EXACT64)
    i = np.array([[-5, 0, 7], [9, -1, 2]], np.int32)
    w.case("relu rows int32", "ACTIVATION", {"activationType": 1}, [i], [np.maximum(i, 0)])
    x = np.array([[3, NAN, -2, 5], [1, -7, 0, 2]], f64)
    for mode, function in ((1, np.max), (2, np.min)):
        w.case("extreme %d with NaN float64" % mode, "REDUCE_FUSION", {"mode": mode},
               [x, const(np.array([1], np.int32))], [function(x, axis=1)])


def fills(w):
    """PAD_FUSION with a float attribute in every type: toward zero, kept inside the type, NaN as 0."""
    for dtype in INTEGERS + (f16, f32, f64, np.bool_):
        x = np.zeros(1, dtype)
        for value in (2.75, -2.75, 1e30, -1e30, NAN):
            v = float(f32(value))
            if np.dtype(dtype).kind == "f":
                with np.errstate(over="ignore"):
                    fill = np.array(v).astype(dtype)
            else:
                fill = np.array(cast_one(v, dtype), dtype)
            y = np.array([fill, x[0], fill, fill], dtype)
            w.case("fill %s %g" % (name_of(dtype), value), "PAD_FUSION",
                   {"paddings": [[1, 2]], "paddingMode": 0, "constantValue": value}, [x], [y], tol=(0, 0))


def places(w):
    """Where the largest cell of a window is when there is a NaN in it: the first NaN counts as largest."""
    x = np.array([1, NAN, 7, 2, 3, 8, NAN, 4], f32).reshape(1, 2, 4, 1)
    w.case("largest is NaN", "MAX_POOL_FUSION", {"kernelSize": [2, 2], "strides": [2, 2], "padMode": 2}, [x],
           [np.full((1, 1, 2, 1), NAN, f32), np.array([1, 6], np.int32).reshape(1, 1, 2, 1)])
    x = np.array([1, 5, 7, 2, 3, 8, 7, 4], f16).reshape(1, 2, 4, 1)
    w.case("largest is in the second row", "MAX_POOL_FUSION", {"kernelSize": [2, 2], "strides": [2, 2], "padMode": 2},
           [x], [np.array([8, 7], f16).reshape(1, 1, 2, 1), np.array([5, 2], np.int32).reshape(1, 1, 2, 1)])


def copies(w):
    """Elements of every width taken one by one, and none at all."""
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        x = np.arange(12).reshape(3, 4).astype(dtype)
        w.case("transpose %s" % name_of(dtype), "TRANSPOSE", {}, [x, const(np.array([1, 0], np.int32))], [x.T],
               tol=(0, 0))
    x = np.array([[1.5, 2.5, -3.5]], f32)
    one = np.ones(3, f32)
    w.case("a scalar has one channel", "PRELU_FUSION", {}, [np.array(-3, f32), np.array([0.5], f32)],
           [np.array(-1.5, f32)])
    w.case("equal values have no variance", "LAYER_NORM_FUSION",
           {"beginNormAxis": 1, "beginParamsAxis": 1, "epsilon": 1e-5}, [np.full((2, 3), 16777216, f32), one, one],
           [np.ones((2, 3), f32)])
    w.case("bias of NCHW rows", "BIAS_ADD", {}, [x, np.array([1, 2, 3], f32)], [x + np.array([1, 2, 3], f32)], fmt="NCHW")
    w.case("scale by row", "SCALE_FUSION", {"axis": 1}, [x, one * 2, one], [x * 2 + 1])


def wide(w):
    """More columns than a block of sums has (16): two blocks and a rest. All values are multiples of 1/4 and small, so
    that float32 and float16 hold every sum exactly."""
    def numbers(*shape):
        count = int(np.prod(shape))
        return ((np.arange(count) * 37 % 23 - 11) / 4).reshape(shape)

    for dtype in (f32, f16):
        a, b = numbers(3, 5).astype(dtype), numbers(5, 37).astype(dtype)
        want = (a.astype(f64) @ b.astype(f64)).astype(dtype)
        for left in (False, True):
            for right in (False, True):
                w.case("matmul 37 columns %d%d %s" % (left, right, name_of(dtype)), "MATMUL_FUSION",
                       {"transposeA": left, "transposeB": right, "activationType": 0},
                       [a.T.copy() if left else a, b.T.copy() if right else b], [want], tol=(0, 0))
        bias = numbers(37).astype(dtype)
        w.case("full connection of 37 %s" % name_of(dtype), "FULL_CONNECTION", {"hasBias": True}, [a, b.T.copy(), bias],
               [(want.astype(f64) + bias).astype(dtype)], tol=(0, 0))
    x, k = numbers(1, 2, 4, 41), numbers(3, 2, 3, 3)  # NCHW, OIHW
    y = np.zeros((1, 3, 2, 39))
    for i in range(3):
        for j in range(3):
            y += np.einsum("nchw,oc->nohw", x[:, :, i:i + 2, j:j + 39], k[:, :, i, j])
    weight = k.transpose(0, 2, 3, 1).astype(f32).copy()
    attr = {"kernelSize": [3, 3], "stride": [1, 1], "dilation": [1, 1], "padMode": 2, "group": 1}
    w.case("convolution 39 wide NCHW", "CONV2D_FUSION", attr, [x.astype(f32), weight], [y.astype(f32)], tol=(0, 0),
           fmt="NCHW")
    w.case("convolution 39 wide NHWC", "CONV2D_FUSION", attr, [x.transpose(0, 2, 3, 1).astype(f32).copy(), weight],
           [y.transpose(0, 2, 3, 1).astype(f32).copy()], tol=(0, 0))


def powers(w):
    """Every pair of the numbers that C's pow has rules for. With scale 1 and shift 0 a base of -0 stays -0."""
    special = np.array([0.0, -0.0, 0.5, -0.5, 1, -1, 2, -2, 3, -3, 1.5, -1.5, INF, -INF, NAN])
    for dtype in (f16, f32, f64):
        x, y = special.astype(dtype).reshape(-1, 1), special.astype(dtype)
        with np.errstate(all="ignore"):
            z = np.power(x.astype(f64), y.astype(f64)).astype(dtype)
        w.case("pow of special numbers %s" % name_of(dtype), "POW_FUSION", {"scale": 1.0, "shift": 0.0}, [x, y], [z])


def beyond(w):
    """Steps that leave the tensor at once, and products of nothing with more columns than a block of sums has."""
    x = np.arange(12, dtype=f32).reshape(3, 4)
    most = np.iinfo(np.int32).max
    for step in (most, -most):
        first, last = ([0, 0], [3, 4]) if step > 0 else ([2, 3], [-4, -5])
        w.case("one step of %d" % step, "STRIDED_SLICE", {"beginMask": 0, "endMask": 0},
               [x] + [const(np.array(a, np.int32)) for a in (first, last, [0, 1], [step, step])],
               [x[:1, :1] if step > 0 else x[2:, 3:]])
    for dtype in (f32, f16):
        w.case("matmul of no columns %s" % name_of(dtype), "MATMUL_FUSION", {}, [np.zeros((3, 0), dtype),
               np.zeros((0, 40), dtype), np.arange(40, dtype=dtype)], [np.tile(np.arange(40, dtype=dtype), (3, 1))])


def edges(w):
    """Places where one more or less decides: windows, the odd cell of a padding, few bits, rows far away from 0."""
    x = np.array([1, 2, 3, 4], f32).reshape(1, 1, 4, 1)
    pool = {"kernelSize": [1, 2], "strides": [1, 2], "padMode": 0, "pad": [0, 0, 0, 1]}
    for op, second in (("AVGPOOL_FUSION", 3.5), ("MAX_POOL_FUSION", 4)):
        w.case("a window that begins where the row ends %s" % op, op, dict(pool, roundMode=1), [x], [],
               error="INVALID_SHAPE")
        first = 1.5 if op == "AVGPOOL_FUSION" else 2
        w.case("no window begins where the row ends %s" % op, op, dict(pool, roundMode=0), [x],
               [np.array([first, second], f32).reshape(1, 1, 2, 1)])
    a, k = np.array([1, 2], f32), np.array([1, 10, 100, 1000], f32)
    full = np.zeros(6, f32)
    for i in range(2):
        full[2 * i:2 * i + 4] += a[i] * k
    for extra, first in ((0, 1), (1, 0)):  # all but 4 + extra cells: two, one on each side; or one, the last
        w.case("transposed SAME, even kernel, output padding %d" % extra, "CONV2D_TRANSPOSE_FUSION",
               {"kernelSize": [1, 4], "stride": [1, 2], "dilation": [1, 1], "padMode": 1, "group": 1,
                "outputPaddings": [0, extra]}, [a.reshape(1, 1, 2, 1), k.reshape(1, 1, 4, 1)],
               [full[first:first + 4 + extra].reshape(1, 1, -1, 1)], tol=(0, 0))
    x = (2.0 ** 24 + np.array([[0, 2, 2, 2], [-2, 8, 4, 2]])).astype(f32)
    y = x.astype(f64) - x.astype(f64).mean(1, keepdims=True)
    y /= np.sqrt((y * y).mean(1, keepdims=True) + 1e-5)
    w.case("rows far away from 0", "LAYER_NORM_FUSION",
           {"beginNormAxis": 1, "beginParamsAxis": 1, "epsilon": 1e-5, "elementwiseAffine": False}, [x],
           [y.astype(f32)])
    x = np.array([-100, -9, -8, -1, 0.4, 6.5, 7, 8, 300], f32)
    for bits in (2, 4, 7, 8):
        least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        y = np.clip(np.trunc(x + np.copysign(0.5, x)), least, most).astype(np.int8)
        w.case("quantised to %d bits" % bits, "QUANT_DTYPE_CAST", {"srcT": 43, "dstT": 32}, [x],
               [Tensor(y, quant=[(bits, 0, 1.0)])])


def too_large(w):
    """Results, axes and counts that exceed 2^31 - 1, the largest dimension; for inputs whose values no rule reads."""
    i32, i64 = np.int32, np.int64
    most = 2 ** 31 - 1

    def bad(name, op, attrs, inputs, outputs=(), code="OUT_OF_MEMORY"):
        w.case("too large: " + name, op, attrs, inputs, list(outputs), error=code,
               error32="OUT_OF_MEMORY" if code == "INVALID_DATATYPE" else None)

    image = unseen((65536, 65536))
    bad("non zero", "NON_ZERO", {}, [image])
    bad("compress as one line", "COMPRESS", {}, [image, np.ones(1, bool)])
    bad("unique as one line", "UNIQUE", {}, [image])
    bad("roll as one line", "ROLL", {}, [image, const(np.array([1], i32))])
    bad("boxes of all images", "MULTICLASS_NMS", {}, [unseen((65536, 32768, 4)), unseen((65536, 1, 32768))],
        [np.zeros((1, 6), f32), np.zeros(65536, i32)])
    bad("boxes of all classes", "MULTICLASS_NMS", {"backgroundLabel": -1}, [unseen((1, 65536, 4)), unseen((1, 32768, 65536))],
        [np.zeros((1, 6), f32), np.zeros(1, i32)])
    bad("boxes that stay", "NON_MAX_SUPPRESSION", {},
        [unseen((1, 65536, 4)), unseen((1, 65536, 65536)), const(np.array([65536], i64))])
    bad("boxes of cells", "YOLO_BOX", {"classNum": 1, "downsampleRatio": 8},
        [unseen((1, 65536, 32768, 6)), np.ones((1, 2), i32), const(np.ones(2, i32))])
    x = unseen((1, 2, 2048, 1024, 1024))
    bad("positions of int32", "MAX_POOL_3D", {"kernelShape": [1, 1, 1]}, [x], [np.zeros(1, f32), np.zeros(1, i32)],
        "INVALID_DATATYPE")
    bad("depth", "ONE_HOT", {"axis": -1}, [np.zeros(1, i32), const(np.array([most + 1], i64)), const(np.ones(1, f32)),
                                           const(np.zeros(1, f32))])
    bad("range", "RANGE", {"start": 0, "limit": most + 1, "delta": 1}, [np.zeros(1, i32)])
    bad("samples", "MULTINOMIAL", {"sampleSize": most + 1}, [np.ones((1, 2), f32)], code="INVALID_PARAMETER")
    bad("keys", "ATTENTION", {}, [np.ones((1, 1, 1, 1), f32), unseen((1, 1, most, 1)), unseen((1, 1, most, 1)), None,
                                  np.ones((1, 1, 1, 1), f32), np.ones((1, 1, 1, 1), f32)],
        [np.zeros(1, f32)] * 3)
    bad("strides of a volume", "CONV_TRANSPOSE_3D", {"strides": [65536, 1, 1]},
        [unseen((1, 1, 65536, 1, 1)), np.ones((1, 1, 1, 1, 1), f32)])
    bad("dft", "DFT", {}, [np.ones((1, 2, 1), f32), const(np.array(most + 1, i64))])
    bad("columns of paddings", "SPACE_TO_BATCH_ND", {"blockShape": [1, 1], "paddings": [[0, 0], [most, most]]},
        [np.ones((1, 1, 2, 1), f32)])
    bad("cells of a group", "GROUP_NORM_FUSION", {"numGroups": 1, "affine": False}, [unseen((1, 65536, 65536, 1))])


def quantised_faults(w):
    """Parameters along an axis where the operator takes one for all, of the first input and of the second."""
    several, one = [(8, 0, 0.5), (8, 0, 0.25)], [(8, 0, 0.5)]
    a, b = (Tensor(np.ones((2, 2), np.int8), quant=q) for q in (several, one))
    for op in ("EQUAL", "GREATER", "MUL_FUSION", "DIV_FUSION", "FLOOR_DIV", "SUB_FUSION", "MAXIMUM", "MINIMUM",
               "SQUARED_DIFFERENCE", "ADD_FUSION", "ADD_N"):
        result = np.zeros((2, 2), bool) if op in ("EQUAL", "GREATER") else b
        for name, inputs in (("first", [a, b]), ("second", [b, a])):
            w.case("%s, several parameters, %s input" % (op, name), op, {}, inputs, [result], error="UNSUPPORTED_OP")
    line = Tensor(np.ones(2, np.int8), quant=several)
    w.case("BIAS_ADD, several parameters, first input", "BIAS_ADD", {}, [a, Tensor(np.ones(2, np.int32), quant=one)], [b],
           error="UNSUPPORTED_OP")
    for name, inputs in (("first", [a, Tensor(np.ones(2, np.int8), quant=one)]), ("second", [b, line])):
        w.case("PRELU_FUSION, several parameters, %s input" % name, "PRELU_FUSION", {}, inputs, [b], error="UNSUPPORTED_OP")
    w.case("CLIP, several parameters, first input", "CLIP", {"min": 0.0, "max": 1.0}, [a], [b], error="UNSUPPORTED_OP")
    w.case("FILL_LIKE, several parameters", "FILL_LIKE", {}, [b, Tensor(np.ones(1, np.int8), quant=several)], [],
           error="UNSUPPORTED_OP")
    for i in (2, 3):
        inputs = [np.zeros(1, np.int32), const(np.array([2], np.int32)), Tensor(np.ones(1, np.int8), quant=one),
                  Tensor(np.ones(1, np.int8), quant=one)]
        inputs[i] = Tensor(np.ones(1, np.int8), quant=several)
        w.case("ONE_HOT, several parameters, input %d" % i, "ONE_HOT", {"axis": -1}, inputs, [], error="UNSUPPORTED_OP")
        inputs = [np.zeros(1, np.int32), const(np.array([2], np.int32)), np.ones(1, f32), np.ones(1, f32)]
        inputs[i] = np.ones(2, f32)
        w.case("ONE_HOT, two elements, input %d" % i, "ONE_HOT", {"axis": -1}, inputs, [], error="INVALID_SHAPE")
    w.case("ONE_HOT, two depths", "ONE_HOT", {"axis": -1},
           [np.zeros(1, np.int32), const(np.array([2, 3], np.int32)), np.ones(1, f32), np.ones(1, f32)], [],
           error="INVALID_SHAPE")
    w.case("ONE_HOT of rank 8", "ONE_HOT", {"axis": -1},
           [np.zeros([1] * 8, np.int32), const(np.array([2], np.int32)), np.ones(1, f32), np.ones(1, f32)], [],
           error="INVALID_SHAPE")


def not_numbers(w):
    """NaN where two numbers are compared: fused clamps keep it; the smaller and the larger of two is NaN."""
    for dtype in (f16, f32, f64):
        x = np.array([NAN, -1, 0.5, 9], dtype)
        for kind, top in ((1, INF), (3, 6), (7, 1)):
            y = np.minimum(np.maximum(x, 0), top).astype(dtype)
            w.case("clamp %d of NaN %s" % (kind, name_of(dtype)), "ACTIVATION", {"activationType": kind}, [x], [y])
            w.case("fused clamp %d of NaN %s" % (kind, name_of(dtype)), "ADD_FUSION", {"activationType": kind},
                   [x, np.zeros(4, dtype)], [y])
        a, b = np.array([NAN, 1, NAN, 4, 2], dtype), np.array([1, NAN, NAN, 2, 4], dtype)
        at = np.arange(5, dtype=np.int32).reshape(5, 1)
        for reduction, function in ((3, np.minimum), (4, np.maximum)):
            w.case("scattered %s of NaN %s" % (function.__name__, name_of(dtype)), "SCATTER_ND_UPDATE",
                   {"reduction": reduction}, [a, at, b], [function(a, b)])
        for mode, function in ((1, np.max), (2, np.min)):
            for place in (0, 1, 3):
                x = np.array([[4, 1, 3, 2]], dtype)
                x[0, place] = NAN
                w.case("reduced %s, NaN at %d %s" % (function.__name__, place, name_of(dtype)), "REDUCE_FUSION",
                       {"mode": mode}, [x, const(np.array([1], np.int32))], [np.full(1, NAN, dtype)])


def without_more(w):
    """No elements in quantized tensors, in divisors and in batches; several rows where one row is usual."""
    q = [(8, 0, 1.0)]

    def q8(values, shape=None):
        a = np.array(values, np.int8)
        return Tensor(a if shape is None else a.reshape(shape), quant=q)

    none = q8([], (0, 2))
    w.case("no divisors", "DIV_FUSION", {}, [np.ones(1, np.int32), np.zeros(0, np.int32)], [np.zeros(0, np.int32)])
    w.case("floor division of nothing, quantised", "FLOOR_DIV", {}, [none, q8([1, 2])], [none])
    w.case("floor division of rows, quantised", "FLOOR_DIV", {}, [q8([[8, 9], [10, -11]]), q8([[2], [3]])],
           [q8([[4, 4], [3, -4]])])
    w.case("no matrices", "MATMUL_INTEGER", {}, [np.zeros((0, 2, 2), np.uint8), np.ones((2, 2), np.uint8)],
           [np.zeros((0, 2, 2), np.int32)])
    w.case("prelu of nothing float64", "PRELU_FUSION", {}, [np.zeros((0, 2), f64), np.ones(2, f64)], [np.zeros((0, 2), f64)])
    w.case("softmax of no rows, quantised", "SOFTMAX", {"axis": [1]}, [none],
           [Tensor(np.zeros((0, 2), np.int8), quant=[(8, -128, 1 / 256)])])
    w.case("softmax of no columns, quantised", "SOFTMAX", {"axis": [1]}, [q8([], (2, 0))],
           [Tensor(np.zeros((2, 0), np.int8), quant=[(8, -128, 1 / 256)])])
    w.case("norm of no rows, quantised", "L2_NORMALIZE_FUSION", {"axis": [1]}, [none],
           [Tensor(np.zeros((0, 2), np.int8), quant=[(8, 0, 1 / 128)])])
    w.case("sum of no rows, quantised", "REDUCE_FUSION", {"mode": 4}, [none, const(np.array([1], np.int32))], [q8([])])
    w.case("mean of nothing float64", "REDUCE_FUSION", {"mode": 0},
           [np.zeros((2, 0), f64), const(np.array([1], np.int32))], [np.full(2, NAN)])
    w.case("einsum of nothing twice", "EINSUM", {"equation": "i,j->ij"}, [np.zeros(0, f32), np.zeros(0, f32)],
           [np.zeros((0, 0), f32)])


def without_scale(w):
    """Scales of 0: quantized values are 0. Gates and functions whose result has unusual parameters: computed from the real
    values."""
    zero = Tensor(np.array([3, -7], np.int8), quant=[(8, 1, 0.0)])
    w.case("difference of scales 0", "SUB_FUSION", {}, [zero, zero], [Tensor(np.array([4, 4], np.int8), quant=[(8, 4, 0.5)])])
    x = np.array([-2, -1, 0, 1, 2], np.int8)
    for name, op, attrs, y, scale, point in (
            ("sigmoid", "ACTIVATION", {"activationType": 2}, 1 / (1 + np.exp(-x.astype(f64))), 1 / 256, -100),
            ("tanh", "ACTIVATION", {"activationType": 10}, np.tanh(x.astype(f64)), 1 / 128, 5),
            ("hard swish", "HARD_SWISH", {"alpha": 1 / 6, "beta": 0.25}, x * np.clip(x / 6 + 0.25, 0, 1), 0.25, 3)):
        z = y / scale
        assert (np.abs(z - np.floor(z) - 0.5) > 0.01).all()
        w.case("%s to other parameters" % name, op, attrs, [Tensor(x, quant=[(8, 0, 1.0)])],
               [Tensor(np.clip(np.round(z) + point, -128, 127).astype(np.int8), quant=[(8, point, scale)])])
    for name, scale, y in (("no", 0.0, [4, 4, 4]), ("a small", 1e-12, [-128, 4, 127])):
        w.case("floor to %s scale" % name, "FLOOR", {}, [Tensor(np.array([-3, 0, 3], np.int8), quant=[(8, 0, 0.5)])],
               [Tensor(np.array(y, np.int8), quant=[(8, 4, scale)])])


def refused(w):
    """Lists, axes and texts that are nearly right."""
    i32, x = np.int32, np.ones((2, 2), f32)
    for equation in ("i{,j->", "i[,j->", "ij->i->j", "ij->iii", "ij->i{", "ij->i["):
        w.case("equation %s" % equation, "EINSUM", {"equation": equation}, [x] * (1 + equation.count(",")), [],
               error="INVALID_PARAMETER")
    w.case("equation of nine axes", "EINSUM", {"equation": "abcdefgh,i->abcdefghi"},
           [np.ones([1] * 8, f32), np.ones(1, f32)], [], error="INVALID_SHAPE")
    w.case("parameters of another rank", "LAYER_NORM_FUSION",
           {"beginNormAxis": 1, "beginParamsAxis": 1, "epsilon": 1e-5, "elementwiseAffine": True}, [x, x, x], [],
           error="INVALID_SHAPE")
    w.case("sizes with two axes", "RESIZE", {"method": 0}, [np.ones((1, 2, 2, 1), f32), const(np.ones((1, 2), i32))], [],
           error="INVALID_SHAPE")
    w.case("one extent of a kernel", "CONV2D_FUSION", {"kernelSize": [1]},
           [np.ones((1, 2, 2, 1), f32), np.ones((1, 1, 1, 1), f32)], [], error="INVALID_SHAPE")
    w.case("a bias with two axes", "MATMUL_FUSION", {}, [x, x, np.ones((1, 2), f32)], [], error="INVALID_SHAPE")
    w.case("a scalar with two parameters", "QUANT_DTYPE_CAST", {"srcT": 32, "dstT": 43},
           [Tensor(np.array(1, np.int8), quant=[(8, 0, 0.5), (8, 0, 0.25)])], [], error="INVALID_PARAMETER")
    w.case("a value with two parameters", "FILL",
           {}, [Tensor(np.ones(1, np.int8), quant=[(8, 0, 0.5), (8, 0, 0.25)]), const(np.array([2], i32))], [],
           error="UNSUPPORTED_OP")
    w.case("cast to what is quantised", "CAST", {}, [np.ones(2, i32), const(np.array(32, i32))],
           [Tensor(np.ones(2, np.int8), quant=[(8, 0, 0.5)])], error="INVALID_DATATYPE")
    w.case("strides left out", "STRIDED_SLICE", {}, [np.ones(6, f32), const(np.array([1], i32)), const(np.array([4], i32)),
                                                     None], [], error="NULL_PTR")


def make(w):
    for part in (at_infinity, clamps, without_elements, two_axes, fills, places, copies, wide, powers, beyond, edges,
                 too_large, quantised_faults, not_numbers, without_more, without_scale, refused):
        part(w)


if __name__ == "__main__":
    write(make, "Expected values: numpy, torch, limits.")
