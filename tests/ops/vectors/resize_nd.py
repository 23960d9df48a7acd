"""RESIZE_ND."""
import math
from fractions import Fraction

import numpy as np
import torch.nn.functional as F

from common import (const, f16, f32, f64, LOOSE, loose, name_of, refuse, rounded, some, tensor, Tensor, TYPES, wide, write)

OP = "RESIZE_ND"
LINEAR, NEAREST, CUBIC = range(3)
HALF, SYMMETRIC, PYTORCH, ALIGN, ASYMMETRIC, TF_HALF, CROP = range(7)
METHODS = ["linear", "nearest", "cubic"]
MODES = ["half pixel", "symmetric half pixel", "pytorch half pixel", "align corners", "asymmetric", "tf half pixel", "crop"]
AWAY, DOWN, UP, FLOOR, CEIL = range(5)
STRETCH, NOT_LARGER, NOT_SMALLER = range(3)
HALVES = Fraction(1, 2)
try:  # a second implementation to compare with; its files are not needed to write the vectors
    from onnx.backend.test.case.node import resize as onnx_resize
except ImportError:
    onnx_resize = None


def place(i, L, M, scale, mode, roi):
    """Coordinate of output index i of M in an axis of size L, as an exact fraction."""
    wide_ = L * scale
    if mode == CROP:
        start, end = roi
        return start * (L - 1) + i * (end - start) * (L - 1) / (M - 1) if M > 1 else HALVES * (start + end) * (L - 1)
    if mode == ALIGN:
        return Fraction(i * (L - 1)) / (wide_ - 1) if wide_ > 1 else Fraction(0)
    if mode == ASYMMETRIC:
        return i / scale
    if mode == TF_HALF:
        return (i + HALVES) / scale if scale != 1 else Fraction(i)  # axes that stay stay, as where axes leaves them out
    if mode == PYTORCH and M == 1:
        return Fraction(0)
    shift = Fraction(L, 2) * (1 - M / wide_) if mode == SYMMETRIC else 0
    return shift + (i + HALVES) / scale - HALVES


def shape(d, method, a):
    d = abs(d)
    if method == LINEAR:
        return max(1 - d, Fraction(0))
    if d <= 1:
        return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1
    return a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a if d < 2 else Fraction(0)


def nearest(c, rounding):
    return {AWAY: math.floor(c + HALVES) if c >= 0 else math.ceil(c - HALVES), DOWN: math.ceil(c - HALVES), UP: math.floor(c + HALVES),
            FLOOR: math.floor(c), CEIL: math.ceil(c)}[rounding]


def matrix(L, M, scale, method, mode, rounding=DOWN, a=Fraction(-3, 4), exclude=0, antialias=0, roi=(Fraction(0), Fraction(1))):
    """Row i: the weights of the elements of x for output i; NaN outside of a crop."""
    m = np.zeros((M, L))
    for i in range(M):
        c = place(i, L, M, scale, mode, roi)
        if mode == CROP and not 0 <= c <= L - 1:
            m[i] = np.nan
            continue
        if method == NEAREST:
            m[i, min(max(nearest(c, rounding), 0), L - 1)] = 1
            continue
        s = min(scale, Fraction(1)) if antialias else Fraction(1)
        reach = math.ceil((1 if method == LINEAR else 2) / s) + 1
        taps = [(k, shape((k - c) * s, method, a)) for k in range(math.floor(c) - reach, math.floor(c) + reach + 1)]
        taps = [(k, w) for k, w in taps if not exclude or 0 <= k < L]
        total = sum(w for _, w in taps) if exclude or s < 1 else 1
        for k, w in taps:
            m[i, min(max(k, 0), L - 1)] += float(w / total)
    return m


def resized(x, new, scales, method, mode, roi=None, extrapolation=0.0, **more):
    y = wide(x)
    outside = np.zeros(y.shape, bool)
    for k in range(x.ndim):
        m = matrix(x.shape[k], new[k], scales[k], method, mode, roi=roi[k] if roi else (Fraction(0), Fraction(1)), **more)
        gone = np.isnan(m).any(1)
        y = np.moveaxis(np.tensordot(np.nan_to_num(m), y, (1, k)), 0, k)
        outside = np.take(outside, np.zeros(new[k], int), k) | gone.reshape((-1,) + (1,) * (x.ndim - 1 - k))
    return rounded(np.where(outside, extrapolation, y), x)


def again(x, y, new, scales, sized, method, mode, roi, rounding, a, exclude, extrapolation):
    """The result of onnx's own formula, where it applies."""
    if onnx_resize is None or mode in (SYMMETRIC, TF_HALF) or (mode in (ALIGN, PYTORCH) and 1 in new) or rounding == AWAY or (exclude and method != CUBIC):
        return
    rule = {LINEAR: onnx_resize.linear_coeffs, CUBIC: lambda t: onnx_resize.cubic_coeffs(t, float(a)),
            NEAREST: lambda t: onnx_resize.nearest_coeffs(t, ("", "round_prefer_floor", "round_prefer_ceil", "floor",
                                                              "ceil")[rounding])}[method]
    how = {"output_size": list(new)} if sized else {"scale_factors": [float(s) for s in scales]}
    if roi:
        how["roi"] = np.array([float(r[0]) for r in roi] + [float(r[1]) for r in roi])
    name = {HALF: "half_pixel", PYTORCH: "pytorch_half_pixel", ALIGN: "align_corners", ASYMMETRIC: "asymmetric", CROP: "tf_crop_and_resize"}
    z = onnx_resize.interpolate_nd(wide(x), rule, exclude_outside=bool(exclude), extrapolation_value=extrapolation,
                                   coordinate_transformation_mode=name[mode], **how)
    assert np.allclose(y.astype(f64), z, atol=1e-2 if x.dtype == f16 else 1e-5), (x.shape, new, method, mode)


def make(w):
    def go(name, x, new=None, scales=None, method=NEAREST, mode=HALF, axes=(), roi=None, rounding=DOWN, a=None, exclude=0,
           extrapolation=0.0, policy=STRETCH, antialias=0, exact=False, index=np.int64, real=f32):
        which = list(axes) or list(range(x.ndim))
        which = [k % x.ndim for k in which]
        sized, out, factors = new is not None, list(x.shape), [Fraction(1)] * x.ndim
        ends = [(Fraction(0), Fraction(1))] * x.ndim
        given = [Fraction(n, x.shape[k]) for n, k in zip(new, which)] if sized else [Fraction(float(real(s))) for s in scales]
        if policy != STRETCH:
            given = [(min if policy == NOT_LARGER else max)(given)] * len(given)
        for n, k in enumerate(which):
            factors[k] = given[n]
            out[k] = math.floor(x.shape[k] * given[n] + (HALVES if policy != STRETCH else 0)) if policy != STRETCH or not sized else new[n]
            if roi:
                ends[k] = tuple(Fraction(float(real(roi[n + e * len(which)]))) for e in (0, 1))
        coefficient = Fraction(float(f32(-0.75 if a is None else a)))
        y = resized(x, out, factors, method, mode, ends, extrapolation, rounding=rounding, a=coefficient, exclude=exclude,
                    antialias=antialias)
        if not antialias and len(which) == x.ndim and policy == STRETCH and x.dtype.kind == "f":
            again(x, y, out, factors, sized, method, mode, ends if roi else None, rounding, coefficient, exclude, extrapolation)
        attrs = {"axes": list(axes), "mode": method, "coordinateTransformationMode": mode, "nearestMode": rounding}
        attrs.update({"cubicCoeffA": float(a)} if a is not None else {})
        attrs.update({"excludeOutside": exclude} if exclude else {})
        attrs.update({"extrapolationValue": extrapolation} if extrapolation else {})
        attrs.update({"keepAspectRatioPolicy": policy} if policy else {})
        attrs.update({"antialias": antialias} if antialias else {})
        ins = [x, const(np.array(roi, real)) if roi else None, None if sized else const(np.array(scales, real))]
        ins += [const(np.array(new, index))] if sized else []
        w.case(name, OP, attrs, ins, [y], tol=(0, 0) if method == NEAREST or exact else loose(x.dtype.type))

    shapes = (((3, 4), (5, 2)), ((2, 5), (1, 8)), ((7,), (3,)), ((1, 2, 4, 3), (1, 2, 2, 5)), ((2, 3, 1, 4, 5), (2, 1, 3, 2, 4)))
    for shape_, new in shapes:
        for mode in range(6):
            for method in range(3):
                t = f16 if (len(shape_) + mode + method) % 4 == 0 else f32
                x = some(shape_, t)
                kind = "%s, %s, %s to %s" % (METHODS[method], MODES[mode], list(shape_), list(new))
                for rounding in (range(5) if method == NEAREST else (DOWN,)):
                    go("%s %d %s" % (kind, rounding, name_of(t)), x, new, method=method, mode=mode, rounding=rounding)
                if method != NEAREST and max(new) > 1:
                    go(kind + ", antialias", x, new, method=method, mode=mode, antialias=1)
                    go(kind + ", nothing outside", x, new, method=method, mode=mode, exclude=1)
                    go(kind + ", nothing outside, antialias", x, new, method=method, mode=mode, exclude=1, antialias=1)
    x = some((1, 1, 4, 4))
    for mode in range(6):
        for scales in ((1, 1, 0.6, 0.6), (1, 1, 2.375, 0.8125), (1, 1, 0.25, 1.5)):
            for method in (LINEAR, CUBIC):
                go("scales %g %g, %s, %s" % (scales[2:] + (METHODS[method], MODES[mode])), x, scales=scales, method=method, mode=mode)
                go("scales %g %g, %s, %s, antialias" % (scales[2:] + (METHODS[method], MODES[mode])), x, scales=scales, method=method,
                   mode=mode, antialias=1)
        go("scales of float16, %s" % MODES[mode], x, scales=(1, 1, 0.75, 1.25), method=LINEAR, mode=mode, real=f16)
    for a in (-0.5, -0.25, 0.0):
        go("cubic of coefficient %g" % a, x, (1, 1, 7, 3), method=CUBIC, a=a)
        go("cubic of coefficient %g, nothing outside" % a, x, (1, 1, 7, 3), method=CUBIC, a=a, exclude=1)
    for t in TYPES:
        x = some((2, 3, 2), t) if t != "bool" else some((2, 3, 2)) > 0
        go("nearest of " + t, x, (3, 2, 5))
        go("nearest of %s, sizes of int32" % t, x, (1, 4, 2), mode=ASYMMETRIC, rounding=FLOOR, index=np.int32)
    odd = np.array([[1, np.nan, 2], [np.inf, -0.0, -np.inf]], f32)
    w.case("nearest of what is not finite", OP, {"coordinateTransformationMode": ASYMMETRIC, "nearestMode": FLOOR},
           [odd, None, None, const(np.array([4, 6]))], [odd.repeat(2, 0).repeat(2, 1)], tol=(0, 0))
    y = np.array([[1, np.nan, 2], [np.inf, 0, -np.inf]], f32)
    w.case("linear where all places are cells", OP, {"mode": LINEAR}, [odd, None, const(np.array([1, 1], f32))], [y], tol=(0, 0))
    x = some((2, 3, 4))
    for axes, new in (([2], [7]), ([-1, 0], [2, 5]), ([1, -1], [6, 2])):
        go("axes %s" % axes, x, new, axes=axes, method=LINEAR)
        go("axes %s by scales" % axes, x, scales=[1.5] * len(new), axes=axes, method=CUBIC, mode=ASYMMETRIC)
        for policy in (NOT_LARGER, NOT_SMALLER):
            go("axes %s, policy %d" % (axes, policy), x, new, axes=axes, method=LINEAR, policy=policy)
            go("axes %s, policy %d, align corners" % (axes, policy), x, new, axes=axes, method=LINEAR, policy=policy, mode=ALIGN)
    go("policy that rounds a half up", some((2, 5)), (3, 100), policy=NOT_LARGER, mode=ASYMMETRIC, rounding=FLOOR)
    go("policy that leaves one cell", some((2, 5)), (1, 2), policy=NOT_LARGER, mode=ASYMMETRIC, rounding=FLOOR)
    x = some((1, 1, 4, 5))
    rois = ([0, 0, 0.5, 0.25, 1, 1, 0.75, 0.875], [0, 0, -0.5, 0.5, 1, 1, 1.5, 2], [0, 0, 1, 0.75, 1, 1, 0, 0.25],
            [0, 0, 0.5, 0.5, 1, 1, 0.5, 0.5], [0, 0, 2, 2, 1, 1, 3, 3])
    for n, roi in enumerate(rois):
        for method in range(3):
            for new in ((1, 1, 3, 4), (1, 1, 1, 6), (1, 1, 1, 1)):
                go("crop %d, %s to %s" % (n, METHODS[method], list(new)), x, new, method=method, mode=CROP, roi=roi, extrapolation=9.5)
    go("crop of two axes, float16", x.astype(f16), (3, 3), axes=(2, 3), method=LINEAR, mode=CROP, roi=[0.25, 0.5, 0.75, 1.5], real=f16)
    nan = [0, 0, np.nan, 0.5, 1, 1, 1, 0.5]
    w.case("a crop that is no number", OP, {"mode": LINEAR, "coordinateTransformationMode": CROP, "extrapolationValue": 3.0},
           [x, const(np.array(nan, f32)), None, const(np.array([1, 1, 2, 1]))], [np.full((1, 1, 2, 1), 3, f32)], tol=(0, 0))
    go("a roi beside other coordinates", x, (1, 1, 3, 4), method=LINEAR, roi=[0, 0, 0, 0, 1, 1, 1, 1])
    for new in ((7, 6), (2, 3)):  # torch has these three
        for method, align in ((LINEAR, 0), (LINEAR, 1), (CUBIC, 0), (CUBIC, 1)):
            x = some((1, 2, 4, 5))
            y = F.interpolate(tensor(x), size=new, mode=("bilinear", "", "bicubic")[method], align_corners=bool(align)).numpy()
            mine = resized(x, (1, 2) + new, [Fraction(1), Fraction(1), Fraction(new[0], 4), Fraction(new[1], 5)], method, ALIGN if align else HALF)
            assert np.allclose(y, mine, atol=1e-6)
            if method == LINEAR and not align:
                y = F.interpolate(tensor(x), size=new, mode="bilinear", align_corners=False, antialias=True).numpy()
                mine = resized(x, (1, 2) + new, [Fraction(1), Fraction(1), Fraction(new[0], 4), Fraction(new[1], 5)], LINEAR, HALF,
                               antialias=1, exclude=1)
                assert np.allclose(y, mine, atol=1e-6)
    x, s, n = some((2, 3)), const(np.array([2, 2], f32)), const(np.array([4, 6]))

    def bad(name, code, attrs, ins):
        refuse(w, name, OP, attrs, ins, code)

    bad("neither scales nor sizes", "INVALID_PARAMETER", {}, [x])
    bad("both scales and sizes", "INVALID_PARAMETER", {}, [x, None, s, n])
    bad("scales that are empty", "INVALID_SHAPE", {}, [x, None, const(np.zeros(0, f32)), n])
    bad("three scales", "INVALID_SHAPE", {}, [x, None, const(np.ones(3, f32))])
    bad("scales of two axes", "INVALID_SHAPE", {}, [x, None, const(np.ones((2, 2), f32))])
    bad("one size", "INVALID_SHAPE", {}, [x, None, None, const(np.array([4]))])
    bad("two scales of one axis", "INVALID_SHAPE", {"axes": [1]}, [x, None, s])
    bad("an axis twice", "INVALID_PARAMETER", {"axes": [1, -1]}, [x, None, s])
    bad("an axis beyond the last", "INVALID_PARAMETER", {"axes": [0, 2]}, [x, None, s])
    bad("too many axes", "INVALID_PARAMETER", {"axes": [0, 1, 0]}, [x, None, s])
    for v in (0, -1, 0.25, np.nan, np.inf, 1e10):
        bad("a scale of %g" % v, "INVALID_PARAMETER", {}, [x, None, const(np.array([1, v], f32))])
    for v in (0, -3):
        bad("a size of %d" % v, "INVALID_PARAMETER", {}, [x, None, None, const(np.array([1, v]))])
    bad("a huge size", "OUT_OF_MEMORY", {}, [x, None, None, const(np.array([1, 2**40]))])
    bad("mode UNKNOWN", "INVALID_PARAMETER", {"mode": -1}, [x, None, s])
    bad("mode 3", "INVALID_PARAMETER", {"mode": 3}, [x, None, s])
    bad("coordinates 7", "INVALID_PARAMETER", {"coordinateTransformationMode": 7}, [x, None, s])
    bad("a policy 3", "INVALID_PARAMETER", {"keepAspectRatioPolicy": 3}, [x, None, s])
    bad("a policy that leaves no cell", "INVALID_PARAMETER", {"keepAspectRatioPolicy": 1},
        [some((2, 5)), None, None, const(np.array([1, 1]))])
    bad("a policy beside scales", "INVALID_PARAMETER", {"keepAspectRatioPolicy": 1}, [x, None, s])
    bad("a crop by scales", "INVALID_PARAMETER", {"coordinateTransformationMode": CROP}, [x, const(np.array([0, 0, 1, 1], f32)), s])
    bad("a crop without roi", "NULL_PTR", {"coordinateTransformationMode": CROP}, [x, None, None, n])
    bad("a crop with a short roi", "INVALID_SHAPE", {"coordinateTransformationMode": CROP}, [x, const(np.array([0, 1], f32)), None, n])
    bad("a crop of int32", "INVALID_DATATYPE", {"coordinateTransformationMode": CROP},
        [x.astype(np.int32), const(np.array([0, 0, 1, 1], f32)), None, n])
    for t in (np.int8, np.int32, f64):
        bad("linear of %s" % name_of(t), "INVALID_DATATYPE", {"mode": LINEAR}, [x.astype(t), None, s])
    bad("scales of float64", "INVALID_DATATYPE", {}, [x, None, const(np.ones(2))])
    bad("sizes of int16", "INVALID_DATATYPE", {}, [x, None, None, const(np.array([4, 6], np.int16))])
    bad("an empty x", "INVALID_SHAPE", {}, [x[:0], None, None, n])
    bad("quantised", "UNSUPPORTED_OP", {}, [Tensor(np.ones((2, 3), np.int8), quant=[(8, 0, 0.5)]), None, s])
    bad("x missing", "NULL_PTR", {}, [None, None, s])
    w.case("refused: two outputs", OP, {}, [x, None, None, const(np.array([2, 3]))], [x, x], error="INVALID_OUTPUT")


if __name__ == "__main__":
    write(make, "Expected values: weights of cells as exact fractions, by the formulas of ONNX; onnx's and torch's own must agree.")
