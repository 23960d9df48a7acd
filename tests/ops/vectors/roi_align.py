"""ROI_ALIGN."""
import math

import numpy as np

from common import both_layouts, f16, f32, f64, loose, name_of, nchw, random, refuse, rounded, some, Tensor, wide, write

try:  # a second source of results; its files are not needed to write the vectors
    from onnx.backend.test.case.node import roialign as onnx_roi
except ImportError:
    onnx_roi = None

OP = "ROI_ALIGN"


def corners(image, h, w):
    """The four weighted cells of image [H,W,C] at row h, column w by the rules of the operator."""
    height, width = image.shape[:2]
    if not (-1 <= h <= height and -1 <= w <= width):
        return np.zeros((4, image.shape[2]))
    h, w = min(max(h, 0), height - 1), min(max(w, 0), width - 1)
    top, left = int(math.floor(h)), int(math.floor(w))
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    dh, dw = h - top, w - left
    return np.stack([(1 - dh) * (1 - dw) * image[top, left], (1 - dh) * dw * image[top, right],
                     dh * (1 - dw) * image[bottom, left], dh * dw * image[bottom, right]])


def align(x, rois, batch, size, ratio=0, scale=1.0, aligned=False, largest=False):
    """x [N,H,W,C] -> [R,oh,ow,C] in float64, as the formula has it. largest: of the weighted cells of all samples."""
    y = np.zeros((len(rois),) + tuple(size) + x.shape[3:])
    shift = 0.5 if aligned else 0
    for r, roi in enumerate(wide(rois)):
        x1, y1, x2, y2 = roi * float(f32(scale)) - shift
        start, extent = (y1, x1), [y2 - y1, x2 - x1]
        extent = extent if aligned else [max(e, 1) for e in extent]
        bins = [extent[k] / size[k] for k in (0, 1)]
        g = [ratio if ratio > 0 else max(math.ceil(b), 0) for b in bins]
        for p in np.ndindex(*size):
            found = []
            for i in np.ndindex(*g):
                place = [start[k] + p[k] * bins[k] + (i[k] + 0.5) * bins[k] / g[k] for k in (0, 1)]
                found.append(corners(wide(x[batch[r]]), *place))
            if found:
                y[(r,) + p] = np.max(found, (0, 1)) if largest else np.sum(found, (0, 1)) / (g[0] * g[1])
    return rounded(y, x)


def compare_with_onnx():
    found = []
    onnx_roi.expect = lambda node, inputs, outputs, name: found.append((name, inputs, outputs))
    for name in dir(onnx_roi.RoiAlign):
        if name.startswith("export"):
            getattr(onnx_roi.RoiAlign, name)()
    for name, (x, rois, batch), (want,) in found:
        y = align(x.transpose(0, 2, 3, 1), rois, batch, (5, 5), 2, 1.0, "false" not in name,
                  "max" in name).transpose(0, 3, 1, 2)
        assert np.allclose(y, want, atol=2e-4), name  # they are written with four digits
    assert len(found) >= 2


def attrs(size, ratio, scale, aligned):
    return {"outputHeight": size[0], "outputWidth": size[1], "samplingRatio": ratio, "spatialScale": float(scale),
            "aligned": bool(aligned)}


ROIS = np.array([[0, 0, 4, 4], [1.5, 2.25, 6.5, 4.5], [-3, -2, 2, 1], [5, 4, 12, 9], [2, 2, 2.25, 2.5], [3, 3, 3, 3],
                 [0.5, 0.5, 9, 0.75], [4, 4, 2, 1], [-20, -20, -10, -10], [20, 1, 30, 2]], f32)


def make(w):
    if onnx_roi is not None:
        compare_with_onnx()
    for t in (f32, f16):
        for index in (np.int32, np.int64)[:2 if t == f32 else 1]:
            x = some((3, 6, 8, 1 if t == f16 else 2), t)
            batch = (np.arange(len(ROIS)) * 2 % 3).astype(index)
            for size, ratio, scale in (((2, 2), 0, 1), ((3, 2), 2, 0.5), ((1, 1), -1, 0.25), ((2, 4), 4, 2)):
                for aligned in (0, 1):
                    rois = ROIS.astype(t)
                    both_layouts(w, "%s %s %s ratio %d scale %g%s" % (name_of(t), name_of(index), size, ratio, scale,
                                                                     " aligned" if aligned else ""), OP,
                                 attrs(size, ratio, scale, aligned), [x, rois, batch],
                                 [align(x, rois, batch, size, ratio, scale, aligned)], tol=loose(t))
    x = random.random((2, 12, 9, 3)).astype(f32)
    rois = np.concatenate([random.random((6, 2)) * 60 - 10, random.random((6, 2)) * 60 + 30], 1).astype(f32)
    batch = np.array([0, 1, 1, 0, 1, 0], np.int32)
    w.case("random", OP, attrs((4, 3), 0, 0.125, 0), [x, rois, batch], [align(x, rois, batch, (4, 3), 0, 0.125)],
           tol=loose(f32))
    h = x.astype(f16)
    w.case("float16 with regions of float32", OP, attrs((4, 3), 0, 0.125, 1), [h, rois, batch],
           [align(h, rois, batch, (4, 3), 0, 0.125, True)], tol=loose(f16))
    x40 = some((1, 4, 4, 40))
    w.case("many channels", OP, attrs((2, 2), 2, 1, 0), [x40, rois[:1] / 8, batch[:1]],
           [align(x40, rois[:1] / 8, batch, (2, 2), 2)], tol=loose(f32))
    x = some((1, 5, 4, 2))
    zeros = np.zeros((1, 2, 2, 2), f32)
    one = np.zeros(1, np.int32)
    for name, roi, ratio in (("NaN", [np.nan, 0, 2, 2], 0), ("NaN, two samples", [0, np.nan, 2, 2], 2),
                             ("infinite", [0, -np.inf, 2, np.inf], 0), ("from infinity on", [np.inf, 0, np.inf, 2], 2),
                             ("less than nothing, aligned", [3, 3, 1, 1], 0)):
        w.case("not a region: " + name, OP, attrs((2, 2), ratio, 1, 1), [x, np.array([roi], f32), one], [zeros], tol=(0, 0))
    backward = np.array([[6, 7, 1, 0.5], [7.5, 8.5, -0.5, 0.5], [-3, 1, -0.25, 9], [2, 8, 4, -3]], f32)
    w.case("regions that run backward, aligned", OP, attrs((2, 2), 4, 1, 1), [x, backward, one.repeat(4)],
           [align(x, backward, one.repeat(4), (2, 2), 4, 1, True)], tol=loose(f32))
    # samples at -1 and at the size, the last valid ones
    edges = np.array([[-1.5, 0.5, -0.5, 1.5], [0.5, -1.5, 1.5, -0.5], [3.5, 0.5, 4.5, 1.5], [0.5, 4.5, 1.5, 5.5]], f32)
    w.case("samples one cell outside", OP, attrs((1, 1), 1, 1, 0), [x, edges, one.repeat(4)],
           [align(x, edges, one.repeat(4), (1, 1), 1)], tol=loose(f32))
    x = np.ones((1, 4, 4, 1), f32)
    y = np.zeros((1, 2, 2, 1))
    y[0, 0, 0, 0] = 25 / (1e6 * 1e6)  # at 0.5, 1.5, .. the samples up to 4 are valid, and one at -0.5
    w.case("a region of 2 million cells square", OP, attrs((2, 2), 0, 1, 0), [x, np.array([[-1, -1, 2e6 - 1, 2e6 - 1]], f32), one],
           [y.astype(f32)], tol=(1e-15, 1e-3), comment="5 of the 10^6 rows of samples of the first bin lie within a cell of x")
    w.case("no regions", OP, attrs((2, 3), 0, 1, 0), [x, np.zeros((0, 4), f32), np.zeros(0, np.int32)],
           [np.zeros((0, 2, 3, 1), f32)])
    w.case("no regions NCHW", OP, attrs((2, 3), 0, 1, 0), [nchw(x), np.zeros((0, 4), f32), np.zeros(0, np.int32)],
           [np.zeros((0, 1, 2, 3), f32)], fmt="NCHW")
    x, rois, batch = some((2, 5, 4, 2)), ROIS[:3], np.array([1, 0, 1], np.int32)
    w.case("defaults", OP, {"outputHeight": 2, "outputWidth": 2}, [x, rois, batch], [align(x, rois, batch, (2, 2))],
           tol=loose(f32))
    w.case("spatialScale 0 is 1", OP, attrs((2, 2), 0, 0, 0), [x, rois, batch], [align(x, rois, batch, (2, 2))],
           tol=loose(f32))
    base = attrs((2, 2), 0, 1, 0)

    def bad(name, code, change=None, inputs=None):
        refuse(w, name, OP, {**base, **(change or {})}, inputs or [x, rois, batch], code)

    for index in (2, -1, 2**31 - 1):
        w.case("image %d of 2" % index, OP, base, [x, rois, np.array([0, index, 1], np.int32)], [],
               run_error="INVALID_PARAMETER", says="batchIndices[1] is %d, but x has 2 images: expected 0 to 1" % index)
    w.case("image 2^32 of 2", OP, base, [x, rois, np.array([0, 1, 2**32], np.int64)], [], run_error="INVALID_PARAMETER")
    bad("outputHeight 0", "INVALID_PARAMETER", {"outputHeight": 0})
    bad("outputWidth -1", "INVALID_PARAMETER", {"outputWidth": -1})
    bad("no attributes", "INVALID_PARAMETER", {"outputHeight": 0, "outputWidth": 0})
    bad("spatialScale -0.5", "INVALID_PARAMETER", {"spatialScale": -0.5})
    bad("spatialScale -1", "INVALID_PARAMETER", {"spatialScale": -1.0})
    bad("spatialScale NaN", "INVALID_PARAMETER", {"spatialScale": float("nan")})
    bad("spatialScale infinite", "INVALID_PARAMETER", {"spatialScale": float("inf")})
    for t in (f32, f16):
        below = some((3, 6, 8, 18), t, -4, -0.5)
        for what, x3 in (("", some((3, 6, 8, 2), t)), (" of numbers below 0", below)):
            index = (np.arange(len(ROIS)) % 3).astype(np.int32)
            for size, ratio, aligned in (((2, 2), 0, 1), ((3, 2), 2, 0), ((1, 1), 1, 1)):
                w.case("the largest%s, %s, %s ratio %d aligned %d" % (what, name_of(t), size, ratio, aligned), OP,
                       {**attrs(size, ratio, 0.75, aligned), "max": True}, [x3, ROIS.astype(t), index],
                       [align(x3, ROIS.astype(t), index, size, ratio, 0.75, aligned, True)], tol=loose(t))
    bad("x of 3 axes", "INVALID_SHAPE", None, [x[0], rois, batch])
    bad("x without rows", "INVALID_SHAPE", None, [x[:, :0], rois, batch])
    bad("x without images", "INVALID_SHAPE", None, [x[:0], rois, batch])
    bad("rois of 3 axes", "INVALID_SHAPE", None, [x, rois[None], batch])
    bad("rois of five numbers", "INVALID_SHAPE", None, [x, some((3, 5)), batch])
    bad("rois of three numbers", "INVALID_SHAPE", None, [x, some((3, 3)), batch])
    bad("fewer images than regions", "INVALID_SHAPE", None, [x, rois, batch[:2]])
    bad("images in two axes", "INVALID_SHAPE", None, [x, rois, batch[None]])
    bad("images of float32", "INVALID_DATATYPE", None, [x, rois, batch.astype(f32)])
    bad("regions of float16 beside float32", "INVALID_DATATYPE", None, [x, rois.astype(f16), batch])
    bad("float64", "INVALID_DATATYPE", None, [x.astype(f64), rois.astype(f64), batch])
    bad("int32", "INVALID_DATATYPE", None, [x.astype(np.int32), rois, batch])
    bad("quantised", "UNSUPPORTED_OP", None, [Tensor(np.ones((2, 5, 4, 2), np.int8), quant=[(8, 0, 0.5)]), rois, batch])
    bad("two inputs", "INVALID_INPUT", None, [x, rois])
    bad("four inputs", "INVALID_INPUT", None, [x, rois, batch, batch])
    bad("rois missing", "NULL_PTR", None, [x, None, batch])
    bad("batchIndices missing", "NULL_PTR", None, [x, rois, None])


if __name__ == "__main__":
    write(make, "Expected values: the formula in float64, which gives the results of ONNX's own two cases.")
