"""Quantized int8 and uint8 in operators that only move elements, between tensors of different parameters, for the scripts of
these operators: they pass cases(op) to write() with their own cases. numpy moves the indices of the elements; then plain Python
requantizes each element from the parameters of its source tensor to the parameters of its destination tensor."""
import numpy as np

from common import Tensor, const
from quantised_elements import Params, away, ratio, requantised

I8, U8 = np.int8, np.uint8
A, B, C = Params(I8, -3, 0.05), Params(I8, 40, 0.02), Params(I8, 0, 0.03)
U, V = Params(U8, 0, 0.5), Params(U8, 255, 0.25)
NARROW, EMPTY, LARGE = Params(I8, 5, 1e-3), Params(I8, 0, 0.0), Params(I8, -128, 3e38)
EACH = [Params(I8, 1, 0.5), Params(I8, -2, 0.25), Params(I8, 3, 0.125)]
OTHERS = [Params(I8, 0, 0.25), Params(I8, -2, 0.25), Params(I8, -100, 0.5)]
PAIRS = (("int8", A, C), ("uint8", U, V), ("saturated", A, NARROW), ("from an empty range", EMPTY, B),
         ("to an empty range", B, EMPTY), ("to a large range", B, LARGE), ("equal", A, A))


def at(p, index):
    """The parameters of an element: of one tensor, or of a place of an axis: (list, axis)."""
    return p[0][index[p[1]]] if isinstance(p, tuple) else p


def tensor(a, p, constant=False):
    if not isinstance(p, tuple):
        return Tensor(a, constant, [(8, p.z, p.s)])
    return Tensor(a, constant, [(8, q.z, q.s, p[1] + 1) for q in p[0]])


def type_of(p):
    return (p[0][0] if isinstance(p, tuple) else p).dtype


def stored(p, shape, seed):
    """Every stored integer if the shape has room for them, and the limits first."""
    dtype = type_of(p)
    lo = np.iinfo(dtype).min
    a = (np.arange(int(np.prod(shape))) * (37 + 2 * seed) + 11 * seed) % 256 + lo
    a[:2] = (lo, lo + 255)[:len(a)]
    return a.astype(dtype).reshape(shape)


def go(w, name, op, attrs, shapes, params, move, results, inputs=lambda t: t, fmt=None):
    """Inputs of these shapes and parameters; move(number arrays) gives arrays of the numbers of the elements of each result,
    which has parameters; inputs(tensors) puts other operands beside them."""
    xs = [stored(p, shape, k) for k, (shape, p) in enumerate(zip(shapes, params))]
    numbers, every = [], []
    for x, p in zip(xs, params):
        numbers.append(np.arange(x.size).reshape(x.shape) + len(every))
        every += [(int(x[i]), at(p, i)) for i in np.ndindex(x.shape)]
    outs = []
    for moved, p in zip(move(*numbers), results):
        y = np.zeros(np.shape(moved), int)
        for i in np.ndindex(y.shape):
            q, a = every[int(np.asarray(moved)[i])]
            y[i] = requantised(q, a, at(p, i))
        outs.append(tensor(y.astype(type_of(p)), p))
    name, k = "%s: %s" % (op, name), 2
    while name + ", %d" % k in w.names:
        k += 1
    w.case(name + (", %d" % k if name in w.names else ""), op, attrs, inputs([tensor(x, p) for x, p in zip(xs, params)]), outs,
           fmt=fmt)


def simple(w, op, attrs, shape, move, inputs=lambda t: t, carried=None):
    """One input, one result. carried: (axis of the input, axis of the result, both of size 3) whose indices stay."""
    for name, a, y in PAIRS:
        go(w, name, op, attrs, [shape], [a], lambda n: [move(n)], [y], inputs)
    if carried is not None:
        i, k = carried
        assert shape[i] == 3
        go(w, "by channel", op, attrs, [shape], [(EACH, i)], lambda n: [move(n)], [(OTHERS, k)], inputs)
        go(w, "from channels to one", op, attrs, [shape], [(EACH, i)], lambda n: [move(n)], [B], inputs)
        go(w, "from one to channels", op, attrs, [shape], [A], lambda n: [move(n)], [(OTHERS, k)], inputs)


def beside(*more):
    return lambda t: [t[0]] + [m if m is None or isinstance(m, Tensor) else const(np.array(m, np.int32)) for m in more]


def blocks(n):
    """SPACE_TO_DEPTH of a block of 2: elements of a block one after the other, then channels."""
    b, h, v, c = n.shape
    return n.reshape(b, h // 2, 2, v // 2, 2, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, h // 2, v // 2, 4 * c)


def shapes(w):
    simple(w, "RESHAPE", {}, (2, 3, 4), lambda n: n.reshape(4, 2, 3), beside([4, 2, 3]))
    simple(w, "RESHAPE", {}, (2, 3, 5), lambda n: n.reshape(2, 3, 1, 5), beside([2, 3, 1, 5]), (1, 1))
    simple(w, "EXPAND_DIMS", {}, (2, 3), lambda n: n[None], beside(0), (1, 2))
    simple(w, "FLATTEN", {"axis": 1}, (3, 2, 2), lambda n: n.reshape(3, 4), carried=(0, 0))
    simple(w, "FLATTEN_RANGE", {"startAxis": 1, "endAxis": 2}, (3, 2, 2), lambda n: n.reshape(3, 4), carried=(0, 0))
    simple(w, "SQUEEZE", {"axis": [0]}, (1, 3, 4), lambda n: n[0], carried=(1, 0))
    simple(w, "UNSQUEEZE", {"axis": [1]}, (3, 4), lambda n: n[:, None], carried=(0, 0))
    simple(w, "ASSIGN", {}, (2, 3), lambda n: n, carried=(1, 1))


def movers(w):
    simple(w, "TRANSPOSE", {}, (2, 3, 4), lambda n: n.transpose(1, 2, 0), beside([1, 2, 0]), (1, 0))
    simple(w, "SLICE_FUSION", {"axes": [0]}, (4, 3), lambda n: n[1:3], beside([1], [2]), (1, 1))
    simple(w, "STRIDED_SLICE", {}, (4, 3), lambda n: n[3:0:-2], beside([3, 0], [0, 3], [-2, 1]), (1, 1))
    simple(w, "STRIDED_SLICE", {"shrinkAxisMask": 1}, (4, 3), lambda n: n[1], beside([1, 0], [2, 3], [1, 1]), (1, 0))
    simple(w, "CROP", {"axis": 0, "offset": [1, 0]}, (4, 3), lambda n: n[1:3], beside([2, 3]), (1, 1))
    simple(w, "TILE_FUSION", {}, (2, 3), lambda n: np.tile(n, (3, 1)), beside([3, 1]), (1, 1))
    simple(w, "BROADCAST_TO", {"shape": [2, 3]}, (1, 3), lambda n: np.broadcast_to(n, (2, 3)), carried=(1, 1))
    simple(w, "FILL", {}, (), lambda n: np.broadcast_to(n, (2, 3)), beside([2, 3]))
    simple(w, "GATHER", {}, (4, 3), lambda n: n[[2, -1, 2]], beside([2, -1, 2]), (1, 1))
    simple(w, "GATHER_ND", {}, (4, 2, 3), lambda n: n[[2, -1], [1, 0]], beside([[2, 1], [-1, 0]]), (2, 1))
    simple(w, "GATHER_ELEMENTS", {"axis": 0}, (4, 3), lambda n: np.take_along_axis(n, np.array([[3, 0, 1]]), 0),
           beside([[3, 0, 1]]), (1, 1))
    simple(w, "REVERSE_SEQUENCE", {"batchAxis": 1, "timeAxis": 0}, (4, 3),
           lambda n: np.stack([n[::-1, 0], np.r_[n[1::-1, 1], n[2:, 1]], n[:, 2]], 1), beside([4, 2, 1]), (1, 1))
    simple(w, "COMPRESS", {"axis": [0]}, (4, 3), lambda n: n[[0, 2]], beside(const(np.array([True, False, True]))), (1, 1))
    simple(w, "ROLL", {}, (4, 3), lambda n: np.roll(n, 1, 0), beside([1], [0]), (1, 1))
    simple(w, "ROLL", {}, (4, 3), lambda n: np.roll(n, 5), beside([5]))
    simple(w, "PAD_EDGE", {}, (2, 3), lambda n: np.pad(n, ((1, 2), (0, 0)), "edge"), beside([[1, 2], [0, 0]]), (1, 1))
    simple(w, "PAD_FUSION", {"paddingMode": 2, "paddings": [[1, 1], [0, 0]]}, (4, 3),
           lambda n: np.pad(n, ((1, 1), (0, 0)), "symmetric"), carried=(1, 1))
    simple(w, "PAD_FUSION", {"paddingMode": 1}, (3, 3), lambda n: np.pad(n, ((1, 2), (2, 1)), "reflect"),
           beside([[1, 2], [2, 1]]))
    image = (2, 2, 4, 3)
    simple(w, "CHANNEL_SHUFFLE", {"group": 2}, (1, 2, 2, 4),
           lambda n: n.reshape(1, 2, 2, 2, 2).transpose(0, 1, 2, 4, 3).reshape(1, 2, 2, 4))
    simple(w, "SPACE_TO_DEPTH", {"blockSize": 2}, image, blocks)
    simple(w, "DEPTH_TO_SPACE", {"blockSize": 2}, (1, 1, 2, 8),
           lambda n: n.reshape(1, 1, 2, 2, 2, 2).transpose(0, 1, 3, 2, 4, 5).reshape(1, 2, 4, 2))
    simple(w, "BATCH_TO_SPACE_ND", {"blockShape": [1, 2], "crops": [[0, 0], [0, 0]]}, image,
           lambda n: n.reshape(2, 1, 2, 4, 3).transpose(1, 2, 3, 0, 4).reshape(1, 2, 8, 3), carried=(3, 3))
    simple(w, "SPACE_TO_BATCH_ND", {"blockShape": [1, 2], "paddings": [[0, 0], [0, 0]]}, image,
           lambda n: n.reshape(2, 2, 2, 2, 3).transpose(3, 0, 1, 2, 4).reshape(4, 2, 2, 3))
    go(w, "by channel, NCHW", "BATCH_TO_SPACE_ND", {"blockShape": [1, 2], "crops": [[0, 0], [0, 0]]}, [(2, 3, 2, 4)], [(EACH, 1)],
       lambda n: [n.reshape(2, 1, 3, 2, 4).transpose(1, 2, 3, 4, 0).reshape(1, 3, 2, 8)], [(OTHERS, 1)], fmt="NCHW")
    go(w, "places of rows, NCHW", "CHANNEL_SHUFFLE", {"group": 2}, [(1, 4, 3, 2)], [(EACH, 2)],
       lambda n: [n.reshape(1, 2, 2, 3, 2).transpose(0, 2, 1, 3, 4).reshape(1, 4, 3, 2)], [(OTHERS, 2)], fmt="NCHW")


def several(w):
    for name, p, y in (("int8", (A, B, C), A), ("uint8", (U, V, U), V), ("the first differs", (B, A, A), A),
                       ("the last differs", (A, A, B), A), ("equal", (A, A, A), A)):
        go(w, name, "CONCAT", {"axis": 1}, [(2, 5), (2, 0), (2, 4)], p, lambda *n: [np.concatenate(n, 1)], [y])
        go(w, name, "STACK", {"axis": 1}, [(2, 5)] * 3, p, lambda *n: [np.stack(n, 1)], [y])
        go(w, name, "SPLIT", {"axis": 0, "outputNum": 3, "sizeSplits": [1, 3, 2]}, [(6, 4)], [y],
           lambda n: np.split(n, [1, 4]), p)
        go(w, name, "UNSTACK", {"axis": 1}, [(4, 3)], [y], lambda n: [n[:, k] for k in range(3)], p)
        go(w, name, "MESHGRID", {}, [(4,), (2,), (3,)], p, lambda *n: np.meshgrid(*n, indexing="ij"), [y] * 3)
    go(w, "by channel", "CONCAT", {"axis": 0}, [(2, 3), (1, 3)], [(EACH, 1), B], lambda *n: [np.concatenate(n)], [(OTHERS, 1)])
    go(w, "from channels to one", "CONCAT", {"axis": 0}, [(2, 3), (1, 3)], [(EACH, 1), B], lambda *n: [np.concatenate(n)], [A])
    go(w, "by channel", "STACK", {"axis": 0}, [(2, 3)] * 2, [(EACH, 1), (OTHERS, 1)], lambda *n: [np.stack(n)], [(EACH, 2)])
    go(w, "by channel", "SPLIT", {"axis": 0, "outputNum": 2}, [(2, 3)], [(EACH, 1)], lambda n: [n[:1], n[1:]],
       [(OTHERS, 1), A])
    go(w, "by channel", "UNSTACK", {"axis": 0}, [(2, 3)], [(EACH, 1)], lambda n: [n[0], n[1]], [(OTHERS, 0), (EACH, 0)])
    go(w, "by place", "MESHGRID", {}, [(2,), (3,)], [A, (EACH, 0)], lambda *n: np.meshgrid(*n, indexing="ij"),
       [B, (OTHERS, 1)])


def chosen(w):
    flags = np.array([[True, False, True, True], [False, False, True, False], [True, True, False, True]])
    for op in ("WHERE", "SELECT"):
        def with_flags(c):
            return lambda t: [c] + t
        for name, p, y in (("three parameters", (A, B), C), ("uint8", (U, V), V), ("x differs", (B, A), A),
                           ("y differs", (A, B), A)):
            go(w, name, op, {}, [(3, 4), (3, 4)], p, lambda a, b: [np.where(flags, a, b)], [y], with_flags(flags))
            go(w, name + ", broadcast", op, {}, [(4,), (3, 1)], p, lambda a, b: [np.where(flags[0], a, b)], [y],
               with_flags(flags[0]))
        go(w, "rows", op, {}, [(3, 4), (3, 4)], (A, B), lambda a, b: [np.where(flags[:, :1], a, b)], [C],
           with_flags(flags[:, 0]))
        three = flags.T
        for name, p, y in (("x by channel", ((EACH, 1), B), (OTHERS, 1)), ("both by channel", ((EACH, 1), (OTHERS, 1)), A),
                           ("the result by channel", (A, B), (EACH, 1)), ("channels that nothing changes", ((EACH, 1), B), (EACH, 1))):
            go(w, name, op, {}, [(4, 3), (4, 3)], p, lambda a, b: [np.where(three, a, b)], [y], with_flags(three))
            go(w, name + ", one flag a row", op, {}, [(4, 3), (4, 3)], p, lambda a, b: [np.where(three[:, 1:2], a, b)], [y],
               with_flags(three[:, 1:2]))
            go(w, name + ", one flag a column", op, {}, [(4, 3), (4, 3)], p, lambda a, b: [np.where(three[1], a, b)], [y],
               with_flags(three[1][None]))
            go(w, name + ", one flag", op, {}, [(4, 3), (4, 3)], p, lambda a, b: [np.where(True, a, b)], [y],
               with_flags(np.array(True)))


def ordered(w):
    """The stored integers are ordered, the values requantized; parameters along the axis that is ordered are refused."""
    for name, a, y in PAIRS:
        x = stored(a, (2, 5), 1)
        falling, rising = [np.argsort(s * x.astype(int), 1, kind="stable") for s in (-1, 1)]
        for op, order in (("TOPK_FUSION", falling), ("ARGMAX_FUSION", falling), ("ARGMIN_FUSION", rising)):
            places = order[:, :2].astype(np.int32)
            values = np.take_along_axis(x, places, 1)
            given = tensor(np.vectorize(lambda q: requantised(int(q), a, y))(values).astype(a.dtype), y)
            named = "%s: %s" % (op, name)
            if op == "TOPK_FUSION":
                w.case(named, op, {"axis": 1, "sorted": True}, [tensor(x, a), const(np.array([2], np.int32))], [given, places])
                continue
            attrs = {"axis": 1, "topK": 2}
            w.case(named, op, attrs, [tensor(x, a)], [places, given])
            w.case(named + ", values only", op, dict(attrs, outMaxValue=True), [tensor(x, a)], [given])
            w.case(named + ", places only", op, attrs, [tensor(x, a)], [places])
    go(w, "by channel", "TOPK_FUSION", {"axis": 0, "sorted": True}, [(1, 3)], [(EACH, 1)], lambda n: [n], [(OTHERS, 1)],
       beside([1]))
    go(w, "by channel", "ARGMAX_FUSION", {"axis": 0, "outMaxValue": True}, [(1, 3)], [(EACH, 1)], lambda n: [n[0]], [(OTHERS, 0)])
    for op, place in (("ARGMAX_FUSION", np.argmax), ("ARGMIN_FUSION", np.argmin)):
        x = stored(A, (3, 3), 0)
        w.case(op + ": places only, by channel", op, {"axis": 0}, [tensor(x, (EACH, 1))], [place(x, 0).astype(np.int32)])
        w.case("refused: %s: places only, channels of the axis" % op, op, {"axis": 1}, [tensor(x, (EACH, 1))],
               [place(x, 1).astype(np.int32)], error="UNSUPPORTED_OP")


def padded(w):
    """A constant attribute is stored with the parameters of x first; a value that is an input has its own."""
    x = stored(A, (2, 3), 0)
    for dtype, a, y in ((I8, A, C), (I8, A, A), (U8, U, V)):
        x = stored(a, (2, 3), 0)
        for value in (0.0, 1.625, -0.03, 1e9, -1e9, float("inf"), float("-inf"), float("nan")):
            c = max(a.lo, min(a.hi, a.z + (0 if value != value else away(ratio(np.float32(value), a.f)))))
            z = np.pad(x.astype(int), ((1, 0), (0, 2)), constant_values=c)
            z = np.vectorize(lambda q: requantised(int(q), a, y))(z).astype(dtype)
            w.case("PAD_FUSION: %g, %s" % (value, "equal" if a == y else dtype.__name__), "PAD_FUSION", {"constantValue": value},
                   [tensor(x, a), const(np.array([[1, 0], [0, 2]], np.int32))], [tensor(z, y)])
    for name, p, y in (("three parameters", (A, B), C), ("the value's", (A, B), B), ("those of x", (A, B), A), ("equal", (A, A), A),
                       ("x by channel", ((EACH, 1), B), (OTHERS, 1)), ("x by channel, equal", ((EACH, 1), B), (EACH, 1))):
        go(w, "a value, " + name, "PAD_FUSION", {}, [(2, 3), (1,)], p,
           lambda n, v: [np.concatenate([np.broadcast_to(v, (1, 3)), n])], [y],
           lambda t: [t[0], const(np.array([[1, 0], [0, 0]], np.int32)), t[1]])
    for name, p, y in (("int8", B, C), ("uint8", V, U)):
        go(w, name, "FILL_LIKE", {}, [(1,)], [p], lambda v: [np.broadcast_to(v, (2, 3))], [y],
           lambda t: [np.zeros((2, 3), np.float32), t[0]])


def refused(w):
    q = stored(A, (2, 3), 0)

    def no(name, op, attrs, inputs, outputs, code):
        w.case("refused: %s: %s" % (op, name), op, attrs, inputs, outputs, error=code)
    for dtype in (np.int16, np.int32):
        x = q.astype(dtype)
        no("%s, which is not requantised" % dtype.__name__, "ASSIGN", {}, [Tensor(x, quant=[(8, 3, 0.5)])],
           [Tensor(x, quant=[(8, 3, 0.25)])], "UNSUPPORTED_OP")
        no("%s, which is not requantised" % dtype.__name__, "WHERE", {},
           [np.ones((2, 3), bool), Tensor(x, quant=[(8, 3, 0.5)]), Tensor(x, quant=[(8, 3, 0.25)])], [], "UNSUPPORTED_OP")
    for op, attrs, bad in (("GATHER", {}, [2]), ("GATHER_ND", {}, [[2]]), ("GATHER_ELEMENTS", {"axis": 0}, [[0, 2, 0]]),
                           ("REVERSE_SEQUENCE", {"batchAxis": 0, "timeAxis": 1}, [1, 4])):
        w.case("refused: %s: beyond the end" % op, op, attrs, [tensor(q, A), np.array(bad, np.int32)],
               [tensor({"GATHER": q[:1], "GATHER_ND": q[:1], "GATHER_ELEMENTS": q[:1], "REVERSE_SEQUENCE": q}[op], B)],
               run_error="INVALID_PARAMETER")
    b, two = q[::-1], const(np.array([[1, 0], [0, 0]], np.int32))
    for op, inputs in (("CONCAT", [tensor(q, A), tensor(b, B)]), ("STACK", [tensor(q, A), tensor(b, A), tensor(b, B)]),
                       ("WHERE", [np.ones((2, 3), bool), tensor(q, A), tensor(b, B)]),
                       ("SELECT", [np.ones((2, 3), bool), tensor(q, (EACH, 1)), tensor(b, B)]),
                       ("PAD_FUSION", [tensor(q, A), two, tensor(b[0, :1], B)])):
        no("different parameters, and the result has none", op, {}, inputs, [], "UNSUPPORTED_OP")
    for name, a, y, code in (("7 bits of x", (7, 0, 0.5), (8, 0, 0.25), "UNSUPPORTED_OP"),
                             ("16 bits of the result", (8, 0, 0.5), (16, 0, 0.25), "UNSUPPORTED_OP"),
                             ("a zero point of x", (8, 128, 0.5), (8, 0, 0.25), "INVALID_PARAMETER"),
                             ("a zero point of the result", (8, 0, 0.5), (8, -129, 0.25), "INVALID_PARAMETER"),
                             ("a scale of x", (8, 0, -0.5), (8, 0, 0.25), "INVALID_PARAMETER"),
                             ("a scale of the result", (8, 0, 0.5), (8, 0, float("nan")), "INVALID_PARAMETER")):
        no(name, "TRANSPOSE", {}, [Tensor(q, quant=[a]), const(np.array([1, 0]))], [Tensor(q.T, quant=[y])], code)
    no("channels of another axis", "TRANSPOSE", {}, [tensor(stored(A, (3, 3), 0), (EACH, 1)), const(np.array([1, 0]))],
       [tensor(stored(A, (3, 3), 0), (EACH, 1))], "UNSUPPORTED_OP")
    no("two parameters for three channels", "TRANSPOSE", {}, [tensor(q, A), const(np.array([1, 0]))],
       [tensor(q.T, (EACH[:2], 0))], "INVALID_PARAMETER")
    no("an axis beyond the result's", "TRANSPOSE", {}, [tensor(q, A), const(np.array([1, 0]))],
       [tensor(q.T, (EACH, 2))], "INVALID_PARAMETER")
    no("channels that are cut", "CONCAT", {"axis": 1}, [tensor(q, (EACH, 1))], [tensor(q, A)], "UNSUPPORTED_OP")
    no("channels of folded axes", "FLATTEN", {"axis": 1}, [tensor(stored(A, (2, 3, 2), 0), A)],
       [tensor(stored(A, (2, 6), 0), (EACH + OTHERS, 1))], "UNSUPPORTED_OP")
    no("channels of the axis that is searched", "TOPK_FUSION", {"axis": 1}, [tensor(q, A), const(np.array([3]))],
       [tensor(q, (EACH, 1))], "UNSUPPORTED_OP")
    no("channels of the axis that is joined", "CONCAT", {"axis": 1}, [tensor(q[:, :2], A), tensor(q[:, :1], A)], [tensor(q, (EACH, 1))],
       "UNSUPPORTED_OP")
    no("channels of the axis that is new", "STACK", {"axis": 1}, [tensor(q[:, k], A) for k in range(3)], [tensor(q, (EACH, 1))],
       "UNSUPPORTED_OP")
    no("channels of an axis that others have", "MESHGRID", {}, [tensor(q[0], A), tensor(q[0], A)],
       [tensor(stored(A, (3, 3), 0), (EACH, k)) for k in (0, 0)], "UNSUPPORTED_OP")
    no("channels of what is one line", "ROLL", {}, [tensor(q, A), const(np.array([1]))], [tensor(q, (EACH, 1))], "UNSUPPORTED_OP")


class Only:
    """Takes the cases of one operator for a writer, under names of their own."""

    def __init__(self, w, op):
        self.w, self.op, self.names = w, op, set()

    def case(self, name, op, *given, **more):
        self.names.add(name)
        if op == self.op:
            self.w.case("requantised, " + name.replace(op + ": ", ""), op, *given, **more)


def cases(op):
    """Returns a function that writes the cases of an operator."""
    def also(w):
        for part in (shapes, movers, several, chosen, ordered, padded, refused):
            part(Only(w, op))
    return also
