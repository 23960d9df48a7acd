"""RESIZE."""
import math
from fractions import Fraction

import numpy as np
import torch.nn.functional as F

from common import (both_layouts, const, EXACT64, f16, f32, f64, LOOSE, loose, name_of, nchw, refuse, rounded, some,
                    tensor, wide, write)
from quantised_elements import SINGLE, by_reals, cases, quant_of, title

LINEAR, NEAREST, CUBIC = range(3)
ASYMMETRIC, ALIGN_CORNERS, HALF_PIXEL = range(3)
COORDINATES = ["asymmetric", "align corners", "half pixel"]
ROUNDINGS = ["half away", "half down", "half up", "floor", "ceil"]
try:  # a second implementation to compare with; its files are not needed to write the vectors
    from onnx.backend.test.case.node import resize as onnx_resize
except ImportError:
    onnx_resize = None


def source_coordinate(i, length, new, ratio, mode):
    if mode == ASYMMETRIC:
        return i * ratio
    if new == 1:
        return Fraction(0)
    if mode == ALIGN_CORNERS:
        return Fraction(i * (length - 1), new - 1)
    return (i + Fraction(1, 2)) * ratio - Fraction(1, 2)


def nearest_index(c, rounding):
    half = Fraction(1, 2)
    return {0: math.floor(c + half), 1: math.ceil(c - half), 2: math.floor(c + half), 3: math.floor(c),
            4: math.ceil(c)}[rounding]


def cubic_weight(d, a):
    d = abs(d)
    if d <= 1:
        return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1
    return a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a if d < 2 else Fraction(0)


def resize_matrix(length, new, ratio, method, mode, rounding, a, exclude):
    """Row i: the weights of the input cells in output cell i, in exact fractions."""
    m = np.zeros((new, length))
    for i in range(new):
        c = source_coordinate(i, length, new, ratio, mode)
        if method == NEAREST:
            m[i, min(max(nearest_index(max(c, Fraction(0)), rounding), 0), length - 1)] = 1
            continue
        c = max(c, Fraction(0)) if method == LINEAR else c
        first, t = math.floor(c), c - math.floor(c)
        taps = [(first, 1 - t), (first + 1, t)] if method == LINEAR else [(first + k,
                                                                           cubic_weight(t - k, a)) for k in (-1, 0, 1,
                                                                                                             2)]
        if method == CUBIC and exclude:
            taps = [(k, weight) for k, weight in taps if 0 <= k < length]
            taps = [(k, weight / sum(v for _, v in taps)) for k, weight in taps]
        for k, weight in taps:
            m[i, min(max(k, 0), length - 1)] += float(weight)
    return m


def resize_expect(x, size, method, mode, rounding=0, coefficient=0.0, exclude=0, scales=None):
    """x [N,H,W,C]; scales (height, width) as float32 numbers or None."""
    a = Fraction(float(f32(coefficient))) if coefficient else Fraction(-1, 2) if mode == HALF_PIXEL else Fraction(-3, 4)
    ratios = [1 / Fraction(float(s)) for s in scales] if scales else [Fraction(x.shape[1 + k], size[k]) for k in (0, 1)]
    rows, columns = (resize_matrix(x.shape[1 + k], size[k], ratios[k], method, mode, rounding, a,
                                   exclude) for k in (0, 1))
    y = np.einsum("ih,nhwc,jw->nijc", rows, wide(x), columns)
    if onnx_resize is not None and min(size) > 1 and scales is None and method != NEAREST:
        shape = onnx_resize.linear_coeffs if method == LINEAR else lambda t: onnx_resize.cubic_coeffs(t, float(a))
        again = onnx_resize.interpolate_nd(wide(x)[0, :, :, 0], shape, output_size=list(size),
                                           exclude_outside=bool(exclude),
                                           coordinate_transformation_mode=("asymmetric", "align_corners",
                                                                           "half_pixel")[mode])
        assert np.allclose(y[0, :, :, 0], again, atol=1e-9), (size, method, mode)
    if method == LINEAR and min(size) > 1 and mode != ASYMMETRIC and scales is None:
        again = F.interpolate(tensor(x).permute(0, 3, 1, 2), size=size, mode="bilinear",
                              align_corners=mode == ALIGN_CORNERS)
        assert np.allclose(y, again.permute(0, 2, 3, 1).numpy(), atol=1e-9)
    if method == NEAREST and min(size) > 1 and scales is None and (mode, rounding) in ((ASYMMETRIC, 3),
                                                                                       (HALF_PIXEL, 2)):
        again = F.interpolate(tensor(x).permute(0, 3, 1, 2), size=size,
                              mode="nearest" if mode == ASYMMETRIC else "nearest-exact")
        assert np.array_equal(y, again.permute(0, 2, 3, 1).numpy())
    return rounded(y, x)


def resize_attrs(size, method, mode, rounding=0, coefficient=0.0, exclude=0):
    return {"method": method, "newHeight": size[0], "newWidth": size[1], "preserveAspectRatio": False,
            "coordinateTransformMode": mode, "cubicCoeff": coefficient, "excludeOutside": exclude,
            "extrapolationValue": 0.0,
            "nearestMode": rounding}


def make(w):
    op = "RESIZE"
    plans = [((1, 2, 3, 2), (4, 5)), ((1, 5, 4, 1), (3, 2)), ((2, 3, 3, 1), (3, 3)), ((1, 4, 3, 1), (1, 1)),
             ((1, 1, 1, 2), (2, 3)), ((1, 3, 5, 1), (7, 2))]
    for n, (shape, size) in enumerate(plans):
        for mode in range(3):
            for method, title in ((LINEAR, "linear"), (CUBIC, "cubic")):
                dtype = f16 if (n + mode + method) % 4 == 3 else f32
                x = some(shape, dtype)
                both_layouts(w, "%s %s %s %s to %s" % (title, COORDINATES[mode], name_of(dtype), list(shape),
                                                       list(size)), op,
                             resize_attrs(size, method, mode), [x], [resize_expect(x, size, method, mode)],
                             tol=loose(dtype))
            for rounding in range(5):
                x = some(shape, (f32, f16)[rounding % 2])
                w.case("nearest %s %s %s to %s" % (COORDINATES[mode], ROUNDINGS[rounding], list(shape), list(size)), op,
                       resize_attrs(size, NEAREST, mode, rounding), [x],
                       [resize_expect(x, size, NEAREST, mode, rounding)])
    x = some((1, 4, 4, 1))
    for mode in range(3):
        for coefficient, exclude in ((-0.5, 0), (-0.75, 0), (-0.25, 0), (-1.0, 1), (0.0, 1)):
            w.case("cubic %s coefficient %g%s" % (COORDINATES[mode], coefficient,
                                                  " excluding outside" if exclude else ""), op,
                   resize_attrs((6, 3), CUBIC, mode, 0, coefficient, exclude), [x],
                   [resize_expect(x, (6, 3), CUBIC, mode, 0, coefficient, exclude)], tol=LOOSE)
    x = some((1, 3, 3, 2), f64)
    w.case("linear float64", op, resize_attrs((5, 4), LINEAR, HALF_PIXEL), [x],
           [resize_expect(x, (5, 4), LINEAR, HALF_PIXEL)], tol=EXACT64)
    x = some((1, 2, 3, 2))
    for dtype in (np.int32, np.int64):
        w.case("size from the input %s" % name_of(dtype), op, resize_attrs((9, 9), LINEAR, ASYMMETRIC),
               [x, const(np.array([3, 2], dtype))],
               [resize_expect(x, (3, 2), LINEAR, ASYMMETRIC)], tol=LOOSE)
    w.case("size input absent", op, resize_attrs((3, 2), LINEAR, ASYMMETRIC), [x, None],
           [resize_expect(x, (3, 2), LINEAR, ASYMMETRIC)], tol=LOOSE)
    y = resize_expect(x, (3, 2), NEAREST, ASYMMETRIC, 3)
    w.case("size from the input NCHW", op, resize_attrs((9, 9), NEAREST, ASYMMETRIC, 3),
           [nchw(x), const(np.array([3, 2], np.int32))], [nchw(y)], fmt="NCHW")
    x = some((1, 3, 5, 1))
    for height, width in ((2, 2), (0.5, 1.5), (1.25, 0.75), (1, 1), (2.5, 0.4)):
        pair = (f32(height), f32(width))
        size = tuple(int(math.floor(f32(extent) * scale)) for extent, scale in zip(x.shape[1:3], pair))
        size = tuple(max(1, s) for s in size)
        for method, mode, rounding in ((LINEAR, HALF_PIXEL, 0), (LINEAR, ASYMMETRIC, 0), (CUBIC, HALF_PIXEL, 0),
                                       (LINEAR, ALIGN_CORNERS, 0), (NEAREST, ASYMMETRIC, 3)):
            if method == NEAREST and width == 0.4:
                continue  # 1/float32(0.4) is close to an integer step
            y = resize_expect(x, size, method, mode, rounding, scales=pair)
            name = "scales %g %g %s %s" % (height, width, ("linear", "nearest", "cubic")[method], COORDINATES[mode])
            attrs = resize_attrs((9, 9), method, mode, rounding)
            w.case(name, op, attrs, [x, const(np.array([1, height, width, 1], f32))], [y], tol=LOOSE)
            if method == LINEAR and mode == HALF_PIXEL:
                w.case(name + " NCHW", op, attrs, [nchw(x), const(np.array([1, 1, height, width], f32))], [nchw(y)],
                       fmt="NCHW", tol=LOOSE)
    good = resize_attrs((2, 2), NEAREST, ASYMMETRIC)
    refuse(w, "method unknown", op, {**good, "method": -1}, [x], "INVALID_PARAMETER")
    refuse(w, "method 3", op, {**good, "method": 3}, [x], "INVALID_PARAMETER")
    refuse(w, "coordinate mode 3", op, {**good, "coordinateTransformMode": 3}, [x], "INVALID_PARAMETER")
    refuse(w, "nearest mode 5", op, {**good, "nearestMode": 5}, [x], "INVALID_PARAMETER")
    refuse(w, "height 0", op, {**good, "newHeight": 0}, [x], "INVALID_PARAMETER")
    refuse(w, "width -1", op, {**good, "newWidth": -1}, [x], "INVALID_PARAMETER")
    refuse(w, "excludeOutside 2", op, {**good, "excludeOutside": 2}, [x], "INVALID_PARAMETER")
    refuse(w, "rank 3", op, good, [x[0]], "INVALID_SHAPE")
    refuse(w, "int32", op, good, [some((1, 2, 2, 1), np.int32)], "INVALID_DATATYPE")
    refuse(w, "bool size", op, good, [x, const(np.array([True, True]))], "INVALID_DATATYPE")
    refuse(w, "three inputs", op, good, [x, None, None], "INVALID_INPUT")
    refuse(w, "absent x", op, good, [None], "NULL_PTR")
    for scale in (0.0, 0.25, -2.0, 1e9, np.nan):  # 3 rows would become less than one, or more than there are numbers
        refuse(w, "scale %g" % scale, op, good, [x, const(np.array([1, scale, 1, 1], f32))], "INVALID_PARAMETER")


def also(w):
    """Quantized: linear and nearest in integers, cubic in real numbers."""
    cases("RESIZE")(w)
    for n, (kind, p, q) in enumerate(SINGLE):
        a, y = quant_of(kind, p), quant_of(kind, q)
        for mode, size, exclude, fmt in ((0, (5, 3), 0, None), (1, (4, 7), 0, None), (2, (3, 5), 1, None), (2, (2, 6), 0, "NCHW")):
            x, z = by_reals((1, 3, 4, 1 + n % 2), a, y, lambda r: resize_expect(r, size, CUBIC, mode, exclude=exclude))
            x, z = (nchw(x), nchw(z)) if fmt else (x, z)
            w.case("%s cubic %s %s" % (title("RESIZE", {}, kind, (p, q)), COORDINATES[mode], fmt or exclude), "RESIZE",
                   resize_attrs(size, CUBIC, mode, exclude=exclude), [a.tensor(x)], [y.tensor(z)], fmt=fmt)


if __name__ == "__main__":
    write(make,
          "Expected values: short formulas in the script, as no library has these conventions; "
          "compared with onnx and torch where those have them.", also=also)
