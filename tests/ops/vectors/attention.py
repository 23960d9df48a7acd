"""ATTENTION."""
import numpy as np

from common import f16, f32, f64, loose, refuse, rounded, some, Tensor, wide, write


def heads_of(x, heads):
    v = wide(x)
    return v if x.ndim == 4 else v.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)


def scaled(x, scale, heads):
    """int8 with scales of equal parts of each row of a head."""
    v = heads_of(x, heads)
    if scale is None:
        return v
    s = heads_of(scale, heads)
    return v * np.repeat(s, v.shape[3] // s.shape[3], 3)


def attention(q, k, v, mask=None, pastKey=None, pastValue=None, keyLengths=None, keyScale=None, valueScale=None, pages=None, isCausal=0, kvNumHeads=0, qNumHeads=0,
              qkMatmulOutputMode=0, scale=0, softcap=0, leftWindowSize=-1, rightWindowSize=-1, pageSize=0):
    """ONNX's definition, one head after the other: y, present keys and values, weights."""
    x, key, value = heads_of(q, qNumHeads), scaled(k, keyScale, kvNumHeads), scaled(v, valueScale, kvNumHeads)
    if pages is not None:
        rows = pages[:, :, None] * pageSize + np.arange(pageSize)
        rows = np.clip(rows.reshape(len(pages), -1), 0, key.shape[2] - 1)  # pages behind the key lengths are not read
        key, value = (np.stack([part[b][:, r] for b, r in enumerate(rows)]) for part in (key, value))
    past = 0 if pastKey is None else pastKey.shape[2]
    if past or pastKey is not None:
        key, value = np.concatenate([wide(pastKey), key], 2), np.concatenate([wide(pastValue), value], 2)
    B, H, S, D = x.shape
    T = key.shape[2]
    bias = np.zeros((B, H, S, T))
    if mask is not None:
        m = np.where(mask, 0, -np.inf) if mask.dtype == bool else wide(mask)
        m = np.concatenate([m, np.full(m.shape[:-1] + (T - m.shape[-1],), -np.inf)], -1)
        bias = bias + m
    for b in range(B):
        valid = T if keyLengths is None else min(max(int(keyLengths[b]), 0), T)
        for s in range(S):
            i = s + (valid - S if pastKey is None and keyLengths is not None else past)
            for j in range(T):
                if (j >= valid or (isCausal and j > i) or (leftWindowSize >= 0 and j < i - leftWindowSize)
                        or (rightWindowSize >= 0 and j > i + rightWindowSize)):
                    bias[b, :, s, j] = -np.inf
    stages, y = [np.zeros((B, H, S, T)) for _ in range(4)], np.zeros((B, H, S, value.shape[3]))
    for b in range(B):
        for h in range(H):
            g = h // (H // key.shape[1])
            p = x[b, h] @ key[b, g].T * (scale or 1 / np.sqrt(D))
            c = softcap * np.tanh(p / softcap) if softcap else p
            m = c + bias[b, h]
            w = np.zeros((S, T))
            for s in range(S):
                if T and not np.all(m[s] == -np.inf):
                    e = np.exp(m[s] - m[s].max())
                    w[s] = e / e.sum()
            y[b, h] = w @ value[b, g]
            for stage, part in zip(stages, (p, c, m, w)):
                stage[b, h] = part
    if q.ndim == 3:
        y = y.transpose(0, 2, 1, 3).reshape(B, S, -1)
    return y, key, value, stages[qkMatmulOutputMode]


def make(w):
    def go(name, q, k, v, *more, outs=1, **attrs):
        ins = [q, k, v] + list(more)
        y = attention(*ins, **attrs)
        types = (q, k, v, q)  # present keys and values have the type of k and v
        w.case(name, "ATTENTION", attrs, ins, [rounded(t, types[i]) for i, t in enumerate(y[:outs])], tol=loose(q.dtype.type))

    def three(B=2, H=4, K=4, S=3, T=5, D=2, V=3, dtype=f32, last=False):
        if last:
            return some((B, S, H * D), dtype), some((B, T, K * D), dtype), some((B, T, K * V), dtype)
        return some((B, H, S, D), dtype), some((B, K, T, D), dtype), some((B, K, T, V), dtype)

    both = {"qNumHeads": 4, "kvNumHeads": 4}
    for dtype in (f32, f16):
        kind = ", " + np.dtype(dtype).name
        for outs in (1, 3, 4):
            go("heads first, %d results%s" % (outs, kind), *three(dtype=dtype), outs=outs)
            go("heads last, %d results%s" % (outs, kind), *three(dtype=dtype, last=True), outs=outs, **both)
        for K in (1, 2):
            go("%d heads of keys%s" % (K, kind), *three(K=K, dtype=dtype))
            go("%d heads of keys, last%s" % (K, kind), *three(K=K, dtype=dtype, last=True), qNumHeads=4, kvNumHeads=K)
        for shape in ((3, 5), (1, 5), (4, 3, 5), (1, 3, 5), (2, 4, 3, 5), (2, 1, 1, 5), (5,), (3, 4), (2, 1, 3, 2)):
            go("a mask of bools %s%s" % (list(shape), kind), *three(dtype=dtype),
               np.arange(int(np.prod(shape))).reshape(shape) % 3 != 1)
            go("a mask of numbers %s%s" % (list(shape), kind), *three(dtype=dtype), some(shape, dtype))
        past = [some((2, 4, 2, 2), dtype), some((2, 4, 2, 3), dtype)]
        for causal in (0, 1):
            more = {"isCausal": causal} if causal else {}
            go("causal %d%s" % (causal, kind), *three(dtype=dtype), outs=4, **more)
            go("causal %d, more queries%s" % (causal, kind), *three(S=6, T=3, dtype=dtype), **more)
            go("past keys, causal %d%s" % (causal, kind), *three(T=3, dtype=dtype), None, *past, outs=4, **more)
            go("past keys, heads last, causal %d%s" % (causal, kind), *three(T=3, dtype=dtype, last=True), None, *past,
               outs=3, **both, **more)
            go("past keys, a mask, causal %d%s" % (causal, kind), *three(T=3, dtype=dtype), some((3, 5), dtype), *past,
               outs=4, **more)
        go("the weights%s" % kind, *three(dtype=dtype), outs=4, qkMatmulOutputMode=3)
        go("the products before cap and mask%s" % kind, *three(dtype=dtype), some((3, 5), dtype), outs=4, softcap=2.0)
        go("a scale%s" % kind, *three(dtype=dtype), scale=0.25)
        go("capped%s" % kind, *three(dtype=dtype), np.array([[True, False, True, True, False]]), softcap=1.5)
    go("no past keys yet", *three(T=3), None, some((2, 4, 0, 2)), some((2, 4, 0, 3)), outs=3, isCausal=1)
    go("a query that sees nothing", *three(S=2), np.array([[False] * 5, [True] * 5]))
    go("no keys", *three(T=0))
    go("no queries", *three(S=0), outs=3)
    go("no batch", *three(B=0))
    go("one of each", *three(1, 1, 1, 1, 1, 1, 1))
    go("large products", *(t * f32(50) for t in three()))
    q, k, v = three()
    t = v.copy()
    t[0, 0, 0, 0] = np.nan
    go("NaN among the values", q, k, t)
    t = k.copy()
    t[0, 0, 2, 0] = np.nan
    go("NaN among the keys", q, t, v)
    q3, k3, v3 = three(last=True)
    past = [some((2, 4, 2, 2)), some((2, 4, 2, 3))]

    def bad(name, code, *ins, **attrs):
        refuse(w, name, "ATTENTION", attrs, list(ins), code)

    bad("two axes", "INVALID_SHAPE", q[0, 0], k[0, 0], v[0, 0])
    bad("keys of three axes", "INVALID_SHAPE", q, k3, v)
    bad("no heads told", "INVALID_PARAMETER", q3, k3, v3)
    bad("no heads of keys told", "INVALID_PARAMETER", q3, k3, v3, qNumHeads=4)
    bad("heads that do not divide", "INVALID_PARAMETER", q3, k3, v3, qNumHeads=3, kvNumHeads=4)
    bad("heads of q that are no multiple", "INVALID_SHAPE", q[:, :3], k[:, :2], v[:, :2])
    bad("other heads of v", "INVALID_SHAPE", q, k, v[:, :2])
    bad("another batch", "INVALID_SHAPE", q, k[:1], v)
    bad("keys of other heads", "INVALID_SHAPE", q, k[..., :1], v)
    bad("fewer values", "INVALID_SHAPE", q, k, v[:, :, :4])
    bad("heads without elements", "INVALID_PARAMETER", q[..., :0], k[..., :0], v)
    bad("past keys alone", "NULL_PTR", q, k, v, None, past[0])
    bad("past values alone", "NULL_PTR", q, k, v, None, None, past[1])
    bad("past keys of other heads", "INVALID_SHAPE", q, k, v, None, past[0][:, :2], past[1])
    bad("past keys of other elements", "INVALID_SHAPE", q, k, v, None, past[0][..., :1], past[1])
    bad("past values of other steps", "INVALID_SHAPE", q, k, v, None, past[0], past[1][:, :, :1])
    bad("past keys of another batch", "INVALID_SHAPE", q, k, v, None, past[0][:1], past[1][:1])
    bad("past keys of three axes", "INVALID_SHAPE", q, k, v, None, past[0][0], past[1][0])
    for shape in ((), (3, 6), (2, 5), (3, 1), (3, 4, 3, 5), (1, 2, 4, 3, 5)):
        bad("a mask %s" % list(shape), "INVALID_SHAPE", q, k, v, some(shape))
    bad("a mask of int32", "INVALID_DATATYPE", q, k, v, some((3, 5), np.int32))
    bad("a mask of float16 beside float32", "INVALID_DATATYPE", q, k, v, some((3, 5), f16))
    bad("keys of float16 beside float32", "INVALID_DATATYPE", q, k.astype(f16), v)
    bad("values of float16 beside float32", "INVALID_DATATYPE", q, k, v.astype(f16))
    bad("keys and values of float32 beside queries of float16", "INVALID_DATATYPE", q.astype(f16), k, v)
    bad("past of float32 beside keys of float16", "INVALID_DATATYPE", q, k.astype(f16), v.astype(f16), None, past[0], past[1])
    bad("keys and values of float64 beside float32", "INVALID_DATATYPE", q, k.astype(f64), v.astype(f64))
    for mode in (4, -1):
        bad("mode %d" % mode, "INVALID_PARAMETER", q, k, v, qkMatmulOutputMode=mode)
    bad("a cap of -1", "INVALID_PARAMETER", q, k, v, softcap=-1.0)
    bad("a scale of -1", "INVALID_PARAMETER", q, k, v, scale=-1.0)
    bad("float64", "INVALID_DATATYPE", *(t.astype(f64) for t in (q, k, v)))
    bad("int32", "INVALID_DATATYPE", *(t.astype(np.int32) for t in (q, k, v)))
    bad("quantised", "UNSUPPORTED_OP", *(Tensor(t.astype(np.int8), quant=[(8, 0, 0.5)]) for t in (q, k, v)))
    bad("two inputs", "INVALID_INPUT", q, k)
    bad("absent", "NULL_PTR", q, None, v)
    for outs in (1, 3, 4):
        past = [some((1, 2, 9, 5)), some((1, 2, 9, 7))]
        q, k, v = three(1, 6, 2, 3, 8, 5, 7)
        go("no two extents equal, %d results" % outs, q, k, v, None, *past, outs=outs)
        go("no two extents equal, a mask, %d results" % outs, q, k, v, some((3, 17)), *past, outs=outs)
        q, k, v = three(1, 6, 2, 3, 8, 5, 7, last=True)
        go("no two extents equal, heads last, %d results" % outs, q, k, v, None, *past, outs=outs, qNumHeads=6,
           kvNumHeads=2)

    def lengths(*n, dtype=np.int64):
        return np.array(n, dtype)

    past = [some((2, 4, 2, 2)), some((2, 4, 2, 3))]
    mask = np.array([[False] * 5, [True, False, True, True, False], [True] * 5])
    numbers = np.where(mask, np.linspace(-1, 1, 15).reshape(3, 5), -np.inf).astype(f32)
    for mode in (0, 1, 2, 3):
        named = {"qkMatmulOutputMode": mode} if mode else {}
        for name, m in (("bools", mask), ("numbers", numbers)):
            go("weights %d, a query that sees nothing, %s" % (mode, name), *three(), m, outs=4, **named)
            go("weights %d, capped, causal, %s" % (mode, name), *three(), m, outs=4, softcap=1.5, isCausal=1, **named)
        go("weights %d, key lengths" % mode, *three(), None, None, None, lengths(3, 0), outs=4, **named)
        go("weights %d, a window" % mode, *three(), outs=4, leftWindowSize=1, rightWindowSize=0, **named)
    for dtype in (f32, f16):
        kind = ", " + np.dtype(dtype).name
        for causal in (0, 1):
            named = {"isCausal": 1} if causal else {}
            go("key lengths, causal %d%s" % (causal, kind), *three(dtype=dtype), None, None, None, lengths(4, 2), **named)
            go("key lengths, more queries, causal %d%s" % (causal, kind), *three(S=6, dtype=dtype), None, None, None,
               lengths(5, 3), **named)
            go("key lengths and past keys, causal %d%s" % (causal, kind), *three(T=3, dtype=dtype), None,
               *(t.astype(dtype) for t in past), lengths(4, 5, dtype=np.int32), **named)
            for left, right in ((0, -1), (-1, 0), (1, 2), (2, 9)) if dtype == f32 else ((1, 1),):
                where = "a window of %d and %d, causal %d%s" % (left, right, causal, kind)
                sizes = {"leftWindowSize": left, "rightWindowSize": right, **named}
                go(where, *three(S=5, dtype=dtype), **sizes)
                go(where + ", past keys", *three(T=3, dtype=dtype), None, *(t.astype(dtype) for t in past), **sizes)
                go(where + ", key lengths", *three(dtype=dtype), None, None, None, lengths(3, 5), **sizes)
    # keys and values of float16, queries and results of float32; more keys than are widened at a time, and parts of a vector
    def halves(*ins):
        return ins[0], ins[1].astype(f16), ins[2].astype(f16)

    for outs in (1, 3, 4):
        go("float16 keys, %d results" % outs, *halves(*three()), outs=outs)
        go("float16 keys, heads last, %d results" % outs, *halves(*three(last=True)), outs=outs, **both)
        go("float16 keys, past ones, %d results" % outs, *halves(*three(T=3)), None, *(t.astype(f16) for t in past), outs=outs, isCausal=1)
    for T, S, D, V in ((31, 1, 16, 16), (33, 1, 24, 40), (70, 5, 20, 9), (36, 4, 64, 64), (65, 4, 7, 18)):
        sizes = "%d keys of %d, values of %d, %d queries" % (T, D, V, S)
        go("float16 keys, " + sizes, *halves(*three(1, 4, 2, S, T, D, V)), isCausal=1)
        go("float16 keys, one head of them, " + sizes, *halves(*three(2, 4, 1, S, T, D, V, last=True)), None, None, None, lengths(T, T - 7),
           isCausal=1, qNumHeads=4, kvNumHeads=1)
        go("float16 keys, a window, " + sizes, *halves(*three(1, 2, 2, S, T, D, V)), None, None, None, lengths(T - 3), isCausal=1,
           leftWindowSize=9, softcap=1.5)
    go("float16 keys, a mask of numbers", *halves(*three()), some((3, 5)))
    go("float16 keys, a mask of bools", *halves(*three()), np.arange(15).reshape(3, 5) % 3 != 1)
    go("float16 keys, none", *halves(*three(T=0)))
    # keys and values of int8 with scales, n of each row of a head
    def eights(q, k, v, n=(1, 1), kind=f16, heads=1):
        heads = heads if q.ndim == 3 else 1
        random = np.random.default_rng(3)
        parts = [random.integers(-127, 128, t.shape).astype(np.int8) for t in (k, v)]
        scales = [(random.integers(1, 64, t.shape[:-1] + (heads * m,)) / 1024).astype(kind) for t, m in zip((k, v), n)]
        return (q, *parts), scales

    def go8(name, ins, *more, n=(1, 1), kind=f16, heads=1, **named):
        ins, scales = eights(*ins, n=n, kind=kind, heads=heads)
        more = list(more) + [None] * (4 - len(more))
        go("int8 keys, " + name, *ins, *more, *scales, **named)

    for kind in (f16, f32):
        go8("scales of %s" % np.dtype(kind).name, three(), kind=kind)
        go8("heads last, scales of %s" % np.dtype(kind).name, three(last=True), kind=kind, heads=4, **both)
    for T, S, D, V, n in ((31, 1, 16, 16, (1, 2)), (33, 1, 24, 40, (3, 5)), (40, 3, 20, 9, (4, 3)), (17, 2, 64, 64, (2, 2)),
                          (66, 1, 7, 18, (7, 1)), (17, 1, 96, 32, (3, 1))):
        sizes = "%d keys of %d, values of %d, %d queries, %d and %d scales" % (T, D, V, S, *n)
        go8(sizes, three(1, 4, 2, S, T, D, V), n=n, isCausal=1)
        go8("one head of them, " + sizes, three(2, 4, 1, S, T, D, V, last=True), None, None, None, lengths(T, T - 7), n=n,
            isCausal=1, qNumHeads=4, kvNumHeads=1)
        go8("two heads of them, " + sizes, three(1, 2, 2, S, T, D, V, last=True), None, None, None, lengths(T - 2), n=n, heads=2,
            isCausal=1, qNumHeads=2, kvNumHeads=2)
        go8("a window, " + sizes, three(1, 2, 2, S, T, D, V), None, None, None, lengths(T - 3), n=n, isCausal=1, leftWindowSize=9,
            softcap=1.5)
    go8("a mask of numbers", three(), some((3, 5)))
    go8("a mask of bools", three(), np.arange(15).reshape(3, 5) % 3 != 1)
    go8("none", three(T=0))
    (q, k, v), (ks, vs) = eights(*three())
    for mode in (0, 3):
        named = {"qkMatmulOutputMode": mode} if mode else {}
        stages = attention(q, k, v, keyScale=ks, valueScale=vs, **named)
        w.case("int8 keys, weights %d" % mode, "ATTENTION", named, [q, k, v, None, None, None, None, ks, vs],
               [rounded(stages[0], q), k, v, rounded(stages[3], q)], tol=loose(f32))
    inf = vs.copy()
    inf[0, 0, 2] = np.inf
    zero = v.copy()
    zero[0, 0, 2] = 0
    go("int8 values, 0 times Inf", q, k, zero, None, None, None, None, ks, inf)
    none = [None] * 4
    bad("int8 keys without scales", "NULL_PTR", q, k, v)
    bad("int8 keys with scales of keys alone", "NULL_PTR", q, k, v, *none, ks)
    bad("int8 keys with scales of values alone", "NULL_PTR", q, k, v, *none, None, vs)
    bad("float32 keys with scales", "INVALID_DATATYPE", *three(), *none, ks, vs)
    bad("float32 keys with scales of keys alone", "INVALID_DATATYPE", *three(), *none, ks)
    bad("float16 keys with scales", "INVALID_DATATYPE", *halves(*three()), *none, ks, vs)
    bad("uint8 keys with scales", "INVALID_DATATYPE", q, k.astype(np.uint8), v.astype(np.uint8), *none, ks, vs)
    bad("int8 keys beside values of float32", "INVALID_DATATYPE", q, k, v.astype(f32), *none, ks, vs)
    bad("int8 keys beside queries of float16", "INVALID_DATATYPE", q.astype(f16), k, v, *none, ks, vs)
    bad("scales of float64", "INVALID_DATATYPE", q, k, v, *none, ks.astype(f64), vs.astype(f64))
    bad("scales of int8", "INVALID_DATATYPE", q, k, v, *none, k[..., :1], v[..., :1])
    go("int8 keys, scales of two types", q, k, v, *none, ks, vs.astype(f32))
    bad("scales of fewer keys", "INVALID_SHAPE", q, k, v, *none, ks[:, :, :4], vs)
    bad("scales of fewer values", "INVALID_SHAPE", q, k, v, *none, ks, vs[:, :, :4])
    bad("scales of fewer heads", "INVALID_SHAPE", q, k, v, *none, ks[:, :2], vs)
    bad("scales of another batch", "INVALID_SHAPE", q, k, v, *none, ks[:1], vs)
    bad("scales of three axes", "INVALID_SHAPE", q, k, v, *none, ks[0], vs)
    bad("two scales of three elements", "INVALID_SHAPE", q, k, v, *none, ks, np.concatenate([vs, vs], 3))
    bad("no scales", "INVALID_SHAPE", q, k, v, *none, ks[..., :0], vs)
    (q3, k3, v3), (ks3, vs3) = eights(*three(last=True), heads=4)
    refuse(w, "three scales of four heads", "ATTENTION", both, [q3, k3, v3, *none, ks3[..., :3], vs3], "INVALID_SHAPE",
           says="expected for each of 4 heads a divisor of its 2 elements")
    bad("int8 keys and past ones", "UNSUPPORTED_OP", q, k, v, None, some((2, 4, 2, 2), np.int8), some((2, 4, 2, 3), np.int8), None, ks, vs)
    refuse(w, "quantized keys with scales", "ATTENTION", {}, [q, Tensor(k, quant=[(8, 0, 0.5)]), Tensor(v, quant=[(8, 0, 0.5)]), *none, ks, vs],
           "INVALID_DATATYPE")
    # pages of keys: R rows each, P of them in a table, in a pool of U rows; used ones are in any order, and shared by batches
    def paged(name, ins, R, table, length, scales=(None, None), index=np.int64, **named):
        go("pages of %d, %s" % (R, name), *ins, None, None, None, lengths(*length), *scales, np.array(table, index), isCausal=1, pageSize=R,
           **named)

    for kind in (f32, f16, np.int8):
        for R, B, S, U, D, V, table, length in ((1, 1, 1, 5, 2, 3, [[4, 0, 3]], [3]), (3, 2, 2, 12, 5, 7, [[3, 1, 0], [3, 2, 9]], [8, 5]),
                                                (4, 1, 4, 24, 8, 16, [[5, 5, 0, 4, 3]], [18]), (32, 1, 1, 64, 8, 12, [[1, 0]], [50]),
                                                (33, 1, 3, 66, 8, 9, [[1, 0, -1]], [66]), (2, 1, 6, 16, 4, 4, [[7, 6, 2, 1, 3, 0]], [11]),
                                                (8, 1, 5, 8, 4, 4, [[0]], [0])):
            name = "%s, %d queries, %s of %d rows" % (np.dtype(kind).name, S, str(length), U)
            for last in (False, True):
                heads = {"qNumHeads": 4, "kvNumHeads": 2} if last else {}
                q, k, v = three(B, 4, 2, 1, U, D, V, last=last)
                q = some((B, S, 4 * D) if last else (B, 4, S, D))
                scales = (None, None)
                if kind == np.int8:
                    (q, k, v), scales = eights(q, k, v, heads=2)
                else:
                    k, v = k.astype(kind), v.astype(kind)
                paged(name + (", heads last" if last else ""), (q, k, v), R, table, length, scales, index=np.int32 if last else np.int64,
                      **heads)
    q, k, v = three(1, 4, 4, 2, 12, 2, 3)
    paged("a window", (q, k, v), 3, [[2, 0, 3]], [9], leftWindowSize=3)
    go("pages, a mask", q, k, v, some((2, 9)), None, None, lengths(8), None, None, np.array([[2, 0, 3]]), pageSize=3)
    for name, code, table, more in (("one below 0", "run", [[0, -1]], {}), ("one behind the last", "run", [[4, 1]], {}),
                                    ("2**40", "run", [[1 << 40, 1]], {}), ("pages that divide not", "INVALID_PARAMETER", [[0, 1]], {"pageSize": 5}),
                                    ("a size of 0", "INVALID_PARAMETER", [[0, 1]], {"pageSize": 0}),
                                    ("a size of -1", "INVALID_PARAMETER", [[0, 1]], {"pageSize": -1}),
                                    ("a table of three axes", "INVALID_SHAPE", [[[0, 1]]], {}), ("a table of two batches", "INVALID_SHAPE", [[0, 1]] * 2, {})):
        attrs = {"pageSize": 3, **more}
        ins = [q, k, v, None, None, None, lengths(5), None, None, np.array(table)]
        w.case("refused: pages, " + name, "ATTENTION", attrs, ins, [rounded(np.zeros((1, 4, 2, 3)), q)] if code == "run" else [],
               **({"run_error": "INVALID_PARAMETER"} if code == "run" else {"error": code}))
    table = np.array([[0, 1]])
    bad("pages without key lengths", "UNSUPPORTED_OP", q, k, v, None, None, None, None, None, None, table, pageSize=3)
    bad("pages and past keys", "UNSUPPORTED_OP", q, k, v, None, some((1, 4, 2, 2)), some((1, 4, 2, 3)), lengths(5), None, None, table, pageSize=3)
    bad("pages of float32", "INVALID_DATATYPE", q, k, v, None, None, None, lengths(5), None, None, table.astype(f32), pageSize=3)
    bad("a size without pages", "INVALID_PARAMETER", q, k, v, pageSize=3)
    w.case("refused: pages and weights", "ATTENTION", {"pageSize": 3}, [q, k, v, None, None, None, lengths(5), None, None, table],
           [rounded(np.zeros((1, 4, 2, 3)), q), k, v, rounded(np.zeros((1, 4, 2, 6)), q)], error="UNSUPPORTED_OP")
    q, k, v = three()
    go("heads last, key lengths, a window", *three(last=True), None, None, None, lengths(2, 4), leftWindowSize=1, **both)
    go("key lengths of more than the keys and below 0", *three(), None, None, None, lengths(9, -3))
    go("key lengths without queries", *three(S=0), None, None, None, lengths(3, 4))
    go("large windows", *three(), leftWindowSize=2 ** 31 - 2, rightWindowSize=2 ** 31 - 1)
    q, k, v = three()
    t = v.copy()
    t[0, :, 4:] = np.nan
    w.case("no value behind the key lengths is read", "ATTENTION", {}, [q, k, t, None, None, None, lengths(4, 5)],
           [rounded(attention(q, k, v, keyLengths=lengths(4, 5))[0], q)], tol=loose(f32))
    bad("key lengths of two axes", "INVALID_SHAPE", q, k, v, None, None, None, lengths(3, 4)[None])
    bad("key lengths of another batch", "INVALID_SHAPE", q, k, v, None, None, None, lengths(3))
    bad("key lengths of float32", "INVALID_DATATYPE", q, k, v, None, None, None, lengths(3, 4, dtype=f32))
    bad("a left window of -2", "INVALID_PARAMETER", q, k, v, leftWindowSize=-2)
    bad("a right window of -2", "INVALID_PARAMETER", q, k, v, rightWindowSize=-2)


if __name__ == "__main__":
    write(make, "Expected values: ONNX's definition with numpy in float64.")
