"""EINSUM."""
import numpy as np
import torch

from common import data, f16, f32, f64, INTEGERS, loose, rounded, some, Tensor, wide, write


def make(w):
    def go(name, equation, *x, tol=None, **more):
        kind = x[0].dtype
        if kind.kind == "f":
            with np.errstate(all="ignore"):
                want = np.einsum(equation, *map(wide, x))
            plain = equation.replace(" ", "")
            if not any(t for t in x if 0 in t.shape) and not any(np.isnan(t).any() for t in x):
                z = torch.einsum(plain, *[torch.from_numpy(np.ascontiguousarray(wide(t)).reshape(t.shape)) for t in x]).numpy()
                assert z.shape == want.shape and np.allclose(z, want), name
            want = rounded(want, kind.type)
        else:
            want = np.einsum(equation, *[t.astype(np.uint64) for t in x]).astype(kind)  # modulo 2^64, then 2^n
        w.case(name, "EINSUM", {"equation": equation}, list(x), [want], tol=tol or (loose(kind.type) if kind.kind == "f" else None))

    for dtype in (f32, f16, f64):
        kind = ", " + np.dtype(dtype).name
        go("product of matrices" + kind, "ij,jk->ik", some((3, 4), dtype, -4, 4), some((4, 2), dtype, -4, 4))
        go("of stacks" + kind, "bij,bjk->bik", some((2, 3, 4), dtype, -4, 4), some((2, 4, 2), dtype, -4, 4))
        go("ellipsis" + kind, "...ij,...jk->...ik", some((2, 2, 3, 4), dtype, -4, 4), some((2, 4, 2), dtype, -4, 4))
        go("ellipsis that broadcasts" + kind, "...ij,...jk->...ik", some((2, 1, 3, 4), dtype, -4, 4), some((3, 4, 2), dtype, -4, 4))
        go("three inputs" + kind, "ij,jk,kl->il", some((2, 3), dtype, -4, 4), some((3, 2), dtype, -4, 4), some((2, 4), dtype, -4, 4))
        go("transposed" + kind, "ij->ji", some((3, 4), dtype), tol=(0, 0))
        go("sum of rows" + kind, "ij->i", some((3, 4), dtype))
        go("sum of all" + kind, "ij->", some((3, 4), dtype))
        go("diagonal" + kind, "ii->i", some((4, 4), dtype), tol=(0, 0))
        go("diagonals of a stack" + kind, "...ii->...i", some((2, 3, 3), dtype), tol=(0, 0))
        go("trace" + kind, "ii", some((4, 4), dtype))
        go("inner product" + kind, "i,i", some((5,), dtype, -4, 4), some((5,), dtype, -4, 4))
        go("outer product" + kind, "i,j->ij", some((3,), dtype), some((4,), dtype))
        go("attention" + kind, "bhid,bhjd->bhij", some((1, 2, 3, 4), dtype, -4, 4), some((1, 2, 2, 4), dtype, -4, 4))
    x, y = some((3, 4), f32, -4, 4), some((4, 2), f32, -4, 4)
    go("no arrow", "ij,jk", x, y)
    go("no arrow, order of the letters", "ba", x)
    go("no arrow, upper case before lower", "aB", x)
    go("no arrow, the first and the last letter", "zA", x)
    go("no arrow, ellipsis in front", "b...a", some((2, 3, 4, 5)))
    go("no arrow, all that stands twice is summed", "ab,ba", x, some((4, 3)))
    go("spaces", " i j , j k -> i k ", x, y)
    go("upper case", "IJ,JK->IK", x, y)
    go("an ellipsis of no axes", "...ij,jk...->...ik", x, y)
    go("an ellipsis of no axes, not in the result", "...ij->ij", x, tol=(0, 0))
    go("ellipsis alone", "...->...", some((2, 3)), tol=(0, 0))
    go("ellipsis in the middle", "i...j->j...i", some((2, 3, 4, 5)), tol=(0, 0))
    go("two ellipses, multiplied", "...,...->...", some((2, 3)), some((3,)))
    go("an extent of 1 is repeated", "ij,ij->ij", some((3, 1)), some((3, 4)))
    go("an extent of 1 is repeated in a sum", "ij,jk->ik", some((3, 1)), some((4, 2)))
    go("extents of 1", "ij,jk->ik", some((1, 1)), some((1, 1)))
    go("a scalar", "->", some(()), tol=(0, 0))
    go("a scalar and a matrix", ",ij->ij", some(()), x)
    go("scalars", ",->", some(()), some(()))
    go("one input, rank 8", "abcdefgh->hgfedcba", some((1, 2, 1, 3, 2, 1, 2, 1)), tol=(0, 0))
    go("14 labels", "abcdefgh,ghijklmn->ab", some((2, 1, 2, 1, 1, 2, 1, 2)), some((1, 2, 1, 2, 1, 1, 2, 1)))
    go("five inputs", "a,b,c,d,e->edcba", *[some((n,), f32, 1, 4, 1) for n in (2, 1, 3, 2, 2)])
    go("an empty sum", "ij,jk->ik", np.zeros((3, 0), f32), np.zeros((0, 2), f32))
    go("an empty result", "ij,jk->ik", np.zeros((0, 4), f32), y)
    go("an empty extent beside 1", "ij,jk->ik", np.zeros((3, 0), f32), some((1, 2)))
    go("NaN and infinities", "ij,j->i", np.array([[np.nan, 1], [np.inf, 1], [np.inf, -np.inf], [-0.0, 0.0]], f32), np.ones(2, f32))
    go("-0 that only moves", "ij->ji", np.array([[-0.0, 1.0]], f32), tol=(0, 0))
    for dtype in INTEGERS:
        e = np.iinfo(dtype)
        go("wraps, %s" % np.dtype(dtype), "ij,jk->ik", np.array([[e.max, e.min, 3], [e.max, 7, e.min]], dtype),
           np.array([[e.max, 2], [e.min, 3], [5, e.max]], dtype))
    w.case("float16 adds in float32", "EINSUM", {"equation": "i->"}, [np.array([2048] + [1] * 8, f16)], [np.array(2056, f16)], tol=(0, 0))

    def bad(name, code, equation, ins, outs=1):
        like = f32 if ins[0] is None or isinstance(ins[0], Tensor) else ins[0].dtype
        w.case("refused: " + name, "EINSUM", {} if equation is None else {"equation": equation}, ins, [np.zeros((1, 1), like)] * outs,
               error=code)

    bad("no equation", "INVALID_PARAMETER", None, [x, y])
    bad("one term of two", "INVALID_PARAMETER", "ij->ij", [x, y])
    bad("three terms of two", "INVALID_PARAMETER", "ij,jk,kl->il", [x, y])
    bad("a digit", "INVALID_PARAMETER", "i1,jk->ik", [x, y])
    bad("two dots", "INVALID_PARAMETER", "..ij,jk->ik", [x, y])
    bad("four dots", "INVALID_PARAMETER", "....ij,jk->ik", [x, y])
    bad("two ellipses of one term", "INVALID_PARAMETER", "...i...,jk->ik", [x, y])
    bad("half an arrow", "INVALID_PARAMETER", "ij,jk-ik", [x, y])
    bad("two arrows", "INVALID_PARAMETER", "ij,jk->i->k", [x, y])
    bad("two terms of a result", "INVALID_PARAMETER", "ij,jk->i,k", [x, y])
    bad("a result of a letter that no input has", "INVALID_PARAMETER", "ij,jk->iz", [x, y])
    bad("a result of one letter twice", "INVALID_PARAMETER", "ij,jk->ii", [x, y])
    bad("an ellipsis that the result lacks", "INVALID_PARAMETER", "...j,jk->k", [x, y])
    bad("too few letters", "INVALID_SHAPE", "i,jk->ik", [x, y])
    bad("too many letters", "INVALID_SHAPE", "ijl,jk->ik", [x, y])
    bad("too many letters beside an ellipsis", "INVALID_SHAPE", "...ijl,jk->ik", [x, y])
    bad("extents that differ", "INVALID_SHAPE", "ij,jk->ik", [x, some((3, 2))])
    bad("a diagonal that is none", "INVALID_SHAPE", "ii->i", [x])
    bad("a diagonal of 1 and 4", "INVALID_SHAPE", "ii->i", [some((1, 4))])
    bad("ellipses that do not broadcast", "INVALID_SHAPE", "...i,...i->...", [some((2, 3)), some((3, 3))])
    bad("a result of 9 axes", "INVALID_SHAPE", "abcde,fghi->abcdefghi", [some((1,) * 5), some((1,) * 4)])
    bad("33 labels", "UNSUPPORTED_OP", "abcdefgh,ijklmnop,qrstuvwx,yzABCDEF,G->", [some((1,) * 8)] * 4 + [some((1,))])
    bad("bool", "INVALID_DATATYPE", "ij->ji", [data("bool", (2, 2))])
    bad("two types", "INVALID_DATATYPE", "ij,jk->ik", [x, y.astype(f16)])
    bad("quantised", "UNSUPPORTED_OP", "ij->ji", [Tensor(data("int8", (2, 2)), quant=[(8, 0, 0.5)])])
    bad("absent", "NULL_PTR", "ij,jk->ik", [None, y])
    bad("two results", "INVALID_OUTPUT", "ij,jk->ik", [x, y], 2)
    for name, dots in (("first", "i..j"), ("middle", ".i.j"), ("last", "..ij")):
        bad("a letter as the %s of three dots" % name, "INVALID_PARAMETER", dots + ",jk->...k", [x, y])


if __name__ == "__main__":
    write(make, "Expected values: numpy in float64 or exact integers; torch must agree.")
