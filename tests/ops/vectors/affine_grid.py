"""AFFINE_GRID."""
import numpy as np
import torch

from common import f16, f32, f64, known, refuse, rounded, some, Tensor, wide, write


def make(w):
    def go(name, theta, size, align, kind="int64"):
        y = torch.nn.functional.affine_grid(torch.from_numpy(wide(theta)), size, bool(align)).numpy()
        w.case(name, "AFFINE_GRID", {"alignCorners": align} if align else {}, [theta, known(size, kind)],
               [rounded(y, theta)])

    for align in (0, 1):
        for dtype in (f32, f16):
            kind = ", align %d, %s" % (align, np.dtype(dtype).name)
            go("images" + kind, some((2, 2, 3), dtype), [2, 3, 5, 6], align)
            go("volumes" + kind, some((2, 3, 4), dtype), [2, 3, 4, 5, 6], align)
            go("extents of 1" + kind, some((1, 2, 3), dtype), [1, 1, 1, 1], align)
            go("one row" + kind, some((1, 2, 3), dtype), [1, 7, 1, 4], align)
            go("one cell" + kind, some((2, 3, 4), dtype), [2, 1, 1, 1, 1], align)
        go("the identity, align %d" % align, np.eye(2, 3, dtype=f32)[None], [1, 1, 4, 3], align)
        go("int32, align %d" % align, some((3, 2, 3)), [3, 1, 2, 2], align, "int32")
    theta, size = some((2, 2, 3)), known([2, 1, 3, 4], "int64")
    w.case("any alignCorners but 0", "AFFINE_GRID", {"alignCorners": -3}, [theta, size],
           [rounded(torch.nn.functional.affine_grid(torch.from_numpy(wide(theta)), [2, 1, 3, 4], True).numpy(), theta)])

    for name, theta0, sizes in (("no batch", theta[:0], [0, 1, 3, 4]), ("no rows", theta, [2, 1, 0, 4])):
        w.case(name, "AFFINE_GRID", {}, [theta0, known(sizes, "int64")], [np.zeros((sizes[0], sizes[2], 4, 2), f32)])

    def bad(name, code, *ins):
        refuse(w, name, "AFFINE_GRID", {}, list(ins), code)

    for entries in (0, 3, 6):
        bad("a size of %d entries" % entries, "INVALID_SHAPE", theta, known([2] * entries, "int64"))
    bad("a size for volumes", "INVALID_SHAPE", theta, known([2, 1, 3, 4, 5], "int64"))
    bad("another batch", "INVALID_SHAPE", theta, known([3, 1, 3, 4], "int64"))
    bad("two axes", "INVALID_SHAPE", theta[0], size)
    bad("a square", "INVALID_SHAPE", some((2, 3, 3)), size)
    bad("a negative extent", "INVALID_PARAMETER", theta, known([2, 1, -3, 4], "int64"))
    bad("a size told in the run", "UNSUPPORTED_OP", theta, np.array([2, 1, 3, 4]))
    bad("a size of float32", "INVALID_DATATYPE", theta, Tensor(np.array([2, 1, 3, 4], f32), True))
    bad("float64", "INVALID_DATATYPE", theta.astype(f64), size)
    bad("int32", "INVALID_DATATYPE", theta.astype(np.int32), size)
    bad("quantised", "UNSUPPORTED_OP", Tensor(theta.astype(np.int8), quant=[(8, 0, 0.5)]), size)
    bad("one input", "INVALID_INPUT", theta)
    bad("absent", "NULL_PTR", theta, None)


if __name__ == "__main__":
    write(make, "Expected values: torch in float64.")
