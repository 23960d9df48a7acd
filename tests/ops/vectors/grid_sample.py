"""GRID_SAMPLE."""
import numpy as np
import torch.nn.functional as F

from common import (both_layouts, f16, f32, f64, loose, name_of, random, refuse, rounded, some, tensor, Tensor, write)

OP = "GRID_SAMPLE"
LINEAR, NEAREST, CUBIC = 0, 1, 2
MODES, PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


def sample(x, grid, align, method, padding):
    y = F.grid_sample(tensor(x).permute(0, 3, 1, 2), tensor(grid), MODES[method], PADDINGS[padding], bool(align))
    return rounded(y.permute(0, 2, 3, 1).numpy(), x)


def volume(x, grid, align, method, padding):
    y = F.grid_sample(tensor(x).permute(0, 4, 1, 2, 3), tensor(grid), MODES[method], PADDINGS[padding], bool(align))
    return rounded(y.permute(0, 2, 3, 4, 1).numpy(), x)


def attrs(align, method, padding):
    return {"alignCorners": bool(align), "method": method, "paddingMode": padding}


def make(w):
    def good(name, x, grid, align, method, padding, tol=None):
        both_layouts(w, "%s, %s %s%s" % (name, MODES[method], PADDINGS[padding], " aligned" if align else ""), OP,
                     attrs(align, method, padding), [x, grid], [sample(x, grid, align, method, padding)],
                     tol=tol or loose(x.dtype))

    for method in (LINEAR, NEAREST, CUBIC):
        for padding in range(3):
            for align in (0, 1):
                for t in (f32, f16):
                    # multiples of 1/64 on dimensions 4 and 8 (aligned: 5 and 9): coordinates are exact, halves are met
                    x = some((2, 5, 9, 3) if align else (2, 4, 8, 3), t)
                    grid = some((2, 4, 5, 2), t, -160, 160, 1 / 64)
                    good("%s with exact places" % name_of(t), x, grid, align, method, padding)
                x = some((1, 3, 2, 1))
                steps = np.arange(-3, 3.01, 0.25)
                grid = np.stack(np.meshgrid(steps, steps[::3]), -1)[None].astype(f32)
                if method != NEAREST or not align:
                    w.case("all around, %s %s %d" % (MODES[method], PADDINGS[padding], align), OP,
                           attrs(align, method, padding), [x, grid], [sample(x, grid, align, method, padding)],
                           tol=loose(f32))
                x = some((1, 1, 1, 2))
                good("one cell", x, some((1, 3, 4, 2)), align, method, padding)
    for padding in range(3):
        x, grid = some((2, 7, 6, 2)), (random.random((2, 5, 4, 2)) * 3 - 1.5).astype(f32)
        good("random", x, grid, padding % 2, LINEAR, padding)
        good("random", x, grid, padding % 2, CUBIC, padding)
        good("random, the other way", x, grid, 1 - padding % 2, CUBIC, padding)
        good("random far away", x, (grid * 7).astype(f32), padding % 2, CUBIC, padding, tol=(1e-4, 1e-4))
        w.case("float16 with a grid of float32, %s" % PADDINGS[padding], OP, attrs(0, LINEAR, padding),
               [x.astype(f16), grid], [sample(x.astype(f16), grid, 0, LINEAR, padding)], tol=loose(f16))
    x = some((1, 1, 4, 2))
    for padding, values in ((0, [0, 0, 0, 0, 0]), (1, [0, 3, 0, 3, 0])):
        places = np.zeros((1, 1, 5, 2), f32)
        places[0, 0, :, 0] = [-np.inf, np.inf, np.nan, 1e30, -1e30]
        y = np.zeros((1, 1, 5, 2), f32) if padding == 0 else x[:, :, values]
        w.case("not finite, " + PADDINGS[padding], OP, attrs(1, LINEAR, padding), [x, places], [y], tol=(0, 0),
               comment="NaN: torch has no rule; no cell of zeros, else the first one")
    places = np.array([np.nan, 0, 0, np.nan, np.nan, np.nan, np.inf, 0, 0, -np.inf], f32).reshape(1, 5, 1, 2)
    y = np.zeros((1, 5, 1, 2), f32)
    w.case("not finite, zeros, either axis", OP, attrs(0, NEAREST, 0), [some((1, 3, 3, 2)), places], [y], tol=(0, 0))
    one = some((1, 1, 4, 2))
    for padding, values in ((0, None), (1, [0, 3, 0, 3, 0]), (2, [0, 0, 0])):
        places = np.zeros((1, 1, 5 if padding < 2 else 3, 2), f32)
        places[0, 0, :, 0] = [-np.inf, np.inf, np.nan, 1e30, -1e30][:places.shape[2]]
        y = np.zeros((1, 1, 5, 2), f32) if padding == 0 else one[:, :, values]
        w.case("not finite, bicubic " + PADDINGS[padding], OP, attrs(1, CUBIC, padding), [one, places], [y], tol=(0, 0),
               comment="no cell of zeros, else the first one; of the border the one that is next")
    inf = np.array([1, np.inf, np.nan, 2], f32).reshape(1, 1, 4, 1)
    places = np.zeros((1, 1, 3, 2), f32)
    places[0, 0, :, 0] = [-1, 1, -1 / 3]
    w.case("a cell of weight 0 does not count", OP, attrs(1, NEAREST, 0), [inf, places],
           [np.array([1, 2, np.inf], f32).reshape(1, 1, 3, 1)], tol=(0, 0))
    w.case("a cell of weight 0 does not count, bicubic", OP, attrs(1, CUBIC, 0), [inf, places],
           [np.array([1, 2, np.inf], f32).reshape(1, 1, 3, 1)], tol=(1e-6, 0))
    w.case("a cell of weight 0 does not count, bilinear", OP, attrs(1, LINEAR, 0), [inf, places[:, :, :2]],
           [np.array([1, 2], f32).reshape(1, 1, 2, 1)], tol=(0, 0))
    x, grid = some((2, 3, 4, 2)), some((2, 3, 2, 2))
    y = sample(x, grid, 0, LINEAR, 0)
    w.case("defaults", OP, {}, [x, grid], [y], tol=loose(f32))
    x40 = some((1, 2, 3, 40))
    w.case("many channels", OP, {}, [x40, grid[:1]], [sample(x40, grid[:1], 0, LINEAR, 0)], tol=loose(f32))

    for method in (LINEAR, NEAREST):
        for padding in range(3):
            for align in (0, 1):
                for t in (f32, f16):
                    v = some((1, 3, 5, 9, 2) if align else (1, 2, 4, 8, 3), t)
                    places = some((1, 3, 2, 4, 3), t, -160, 160, 1 / 64)
                    if method == NEAREST:  # no place halfway between two cells, where torch rounds volumes away from 0
                        places = (places + 1 / 128).astype(t)
                    y = volume(v, places, align, method, padding)
                    name = "volume, %s %s %s%s" % (name_of(t), MODES[method], PADDINGS[padding], " aligned" if align else "")
                    w.case(name, OP, attrs(align, method, padding), [v, places], [y], tol=loose(t))
                    w.case(name + ", channels first", OP, attrs(align, method, padding), [v.transpose(0, 4, 1, 2, 3), places],
                           [y.transpose(0, 4, 1, 2, 3)], fmt="NCHW", tol=loose(t))
    v, places = some((2, 6, 2, 4, 3)), np.zeros((2, 5, 1, 7, 3), f32)
    places[:, :, :, :, 2] = np.array([-np.inf, np.inf, np.nan, 1e30, -1e30]).reshape(1, 5, 1, 1)
    w.case("volume, depth not finite", OP, attrs(1, LINEAR, 0), [v, places], [np.zeros((2, 5, 1, 7, 3), f32)], tol=(0, 0))

    def bad(name, code, change=None, inputs=None):
        refuse(w, name, OP, change or {}, inputs or [x, grid], code)

    bad("method UNKNOWN", "INVALID_PARAMETER", {"method": -1})
    bad("method 3", "INVALID_PARAMETER", {"method": 3})
    bad("paddingMode 3", "INVALID_PARAMETER", {"paddingMode": 3})
    bad("paddingMode -1", "INVALID_PARAMETER", {"paddingMode": -1})
    bad("x of 3 axes", "INVALID_SHAPE", None, [x[0], grid])
    bad("x of 5 axes", "INVALID_SHAPE", None, [x[None], grid])
    bad("volume, cubic", "INVALID_PARAMETER", {"method": CUBIC}, [v, places])
    bad("volume, a grid of two numbers", "INVALID_SHAPE", None, [v, places[..., :2]])
    bad("volume, a grid of 4 axes", "INVALID_SHAPE", None, [v, grid])
    bad("x of 6 axes", "INVALID_SHAPE", None, [v[None], places[None]])
    bad("grid of 3 axes", "INVALID_SHAPE", None, [x, grid[0]])
    bad("grid of three numbers", "INVALID_SHAPE", None, [x, some((2, 3, 2, 3))])
    bad("grid of one number", "INVALID_SHAPE", None, [x, some((2, 3, 2, 1))])
    bad("grid of another number of images", "INVALID_SHAPE", None, [x, some((1, 3, 2, 2))])
    bad("grid without rows", "INVALID_SHAPE", None, [x, grid[:, :0]])
    bad("x without rows", "INVALID_SHAPE", None, [x[:, :0], grid])
    bad("grid of float16 beside float32", "INVALID_DATATYPE", None, [x, grid.astype(f16)])
    bad("grid of int32", "INVALID_DATATYPE", None, [x, grid.astype(np.int32)])
    bad("float64", "INVALID_DATATYPE", None, [x.astype(f64), grid.astype(f64)])
    bad("int32", "INVALID_DATATYPE", None, [x.astype(np.int32), grid])
    bad("quantised", "UNSUPPORTED_OP", None, [Tensor(np.ones((2, 3, 4, 2), np.int8), quant=[(8, 0, 0.5)]), grid])
    bad("one input", "INVALID_INPUT", None, [x])
    bad("three inputs", "INVALID_INPUT", None, [x, grid, grid])
    bad("x missing", "NULL_PTR", None, [None, grid])
    bad("grid missing", "NULL_PTR", None, [x, None])
    w.case("refused: two outputs", OP, {}, [x, grid], [y, y], error="INVALID_OUTPUT")
    w.case("a batch of 0", OP, {}, [np.zeros((0, 3, 4, 2), f32), np.zeros((0, 2, 5, 2), f32)], [np.zeros((0, 2, 5, 2), f32)])
    w.case("refused: a batch of 0 of the grid alone", OP, {}, [np.ones((2, 3, 4, 2), f32), np.zeros((0, 2, 5, 2), f32)],
           [np.zeros((2, 2, 5, 2), f32)], error="INVALID_SHAPE")



if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional.grid_sample in float64.")
