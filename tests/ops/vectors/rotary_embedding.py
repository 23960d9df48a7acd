"""ROTARY_EMBEDDING."""
import numpy as np

from common import f16, f32, f64, refuse, rounded, some, Tensor, wide, write


def rotary(x, cosine, sine, ids, heads=0, interleaved=0, rotated=0):
    """Pairs as complex numbers, turned by cos + i*sin."""
    v = wide(x)
    if x.ndim == 3:
        v = v.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)
    turn = wide(cosine) + 1j * wide(sine)
    turn = (turn if ids is None else turn[ids])[:, None]
    R = rotated or v.shape[3]
    y = v.copy()
    if interleaved:
        z = (v[..., 0:R:2] + 1j * v[..., 1:R:2]) * turn
        y[..., 0:R:2], y[..., 1:R:2] = z.real, z.imag
    else:
        z = (v[..., :R // 2] + 1j * v[..., R // 2:R]) * turn
        y[..., :R // 2], y[..., R // 2:R] = z.real, z.imag
    return y.transpose(0, 2, 1, 3).reshape(x.shape) if x.ndim == 3 else y


def make(w):
    def go(name, shape, R, positions=None, dtype=f32, kind=np.int64, **attrs):
        x = some(shape, dtype)
        B, S = shape[0], shape[-2]
        where = (B, S) if positions is None else (positions,)
        cosine, sine = some(where + (R // 2,), dtype, -4, 4), some(where + (R // 2,), dtype, -4, 4)
        ids = None if positions is None else np.random.default_rng(S).integers(0, positions, (B, S)).astype(kind)
        y = rotary(x, cosine, sine, ids, attrs.get("numHeads", 0), attrs.get("interleaved", 0),
                   attrs.get("rotaryEmbeddingDim", 0))
        w.case(name, "ROTARY_EMBEDDING", attrs, [x, cosine, sine] + ([ids] if ids is not None else []), [rounded(y, x)])

    for dtype in (f32, f16):
        for positions in (None, 9):
            for more in ({}, {"interleaved": 1}):
                kind = "%s, positions %s, %s" % (np.dtype(dtype).name, positions, more or "halves")
                go("heads first, " + kind, (2, 3, 4, 8), 8, positions, dtype, **more)
                go("heads last, " + kind, (2, 4, 24), 8, positions, dtype, numHeads=3, **more)
                go("heads first, a part, " + kind, (2, 3, 4, 8), 4, positions, dtype, rotaryEmbeddingDim=4, **more)
                go("heads last, a part, " + kind, (2, 4, 24), 6, positions, dtype, numHeads=3, rotaryEmbeddingDim=6,
                   **more)
    go("int32", (1, 2, 3, 4), 4, 5, kind=np.int32)
    go("one pair", (1, 1, 1, 2), 2, 1)
    go("an odd head", (1, 2, 3, 5), 4, rotaryEmbeddingDim=4)
    go("all said", (1, 2, 3, 6), 6, rotaryEmbeddingDim=6, numHeads=77)
    go("no steps", (2, 3, 0, 4), 4)
    x, cosine, ids = some((2, 3, 4, 8)), some((9, 4)), np.zeros((2, 4), np.int64)
    for row in (9, -1, 2**40):
        other = ids.copy()
        other[1, 2] = row
        w.case("position %d" % row, "ROTARY_EMBEDDING", {}, [x, cosine, cosine, other], [], run_error="INVALID_PARAMETER",
               says="positionIds[1,2] is %d, expected 0 to 8: the rows of cosCache" % row)

    def bad(name, code, *ins, **attrs):
        refuse(w, name, "ROTARY_EMBEDDING", attrs, list(ins), code)

    bad("two axes", "INVALID_SHAPE", x[0, 0], cosine, cosine, ids)
    bad("five axes", "INVALID_SHAPE", x[None], cosine, cosine, ids)
    bad("three axes without heads", "INVALID_PARAMETER", x[0], cosine, cosine, np.zeros((3, 4), np.int64))
    bad("heads that do not divide", "INVALID_PARAMETER", x[0], cosine, cosine, np.zeros((3, 4), np.int64), numHeads=3)
    bad("an odd part", "INVALID_PARAMETER", x, cosine, cosine, ids, rotaryEmbeddingDim=7)
    bad("a part beyond the head", "INVALID_PARAMETER", x, cosine, cosine, ids, rotaryEmbeddingDim=10)
    bad("a part of -2", "INVALID_PARAMETER", x, cosine, cosine, ids, rotaryEmbeddingDim=-2)
    bad("an odd head", "INVALID_PARAMETER", x[..., :7], cosine, cosine, ids)
    bad("a cache of another width", "INVALID_SHAPE", x, cosine[:, :3], cosine, ids)
    bad("a second cache of another width", "INVALID_SHAPE", x, cosine, cosine[:, :3], ids)
    bad("caches of different lengths", "INVALID_SHAPE", x, cosine, cosine[:8], ids)
    bad("a cache of two axes without positions", "INVALID_SHAPE", x, cosine, cosine)
    bad("a cache of three axes with positions", "INVALID_SHAPE", x, some((2, 4, 4)), some((2, 4, 4)), ids)
    bad("a cache of another batch", "INVALID_SHAPE", x, some((3, 4, 4)), some((3, 4, 4)))
    bad("positions of one axis", "INVALID_SHAPE", x, cosine, cosine, ids[0])
    bad("positions of other steps", "INVALID_SHAPE", x, cosine, cosine, ids[:, :3])
    bad("positions of float32", "INVALID_DATATYPE", x, cosine, cosine, ids.astype(f32))
    bad("caches of another type", "INVALID_DATATYPE", x, cosine.astype(f16), cosine.astype(f16), ids)
    bad("float64", "INVALID_DATATYPE", x.astype(f64), cosine.astype(f64), cosine.astype(f64), ids)
    bad("int32", "INVALID_DATATYPE", x.astype(np.int32), cosine.astype(np.int32), cosine.astype(np.int32), ids)
    bad("quantised", "UNSUPPORTED_OP", Tensor(x.astype(np.int8), quant=[(8, 0, 0.5)]), cosine.astype(np.int8),
        cosine.astype(np.int8), ids)
    bad("two inputs", "INVALID_INPUT", x, cosine)
    bad("absent", "NULL_PTR", x, None, cosine)


if __name__ == "__main__":
    write(make, "Expected values: rotations of complex numbers with numpy in float64.")
