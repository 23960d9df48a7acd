"""YOLO_BOX."""
import numpy as np
import torch

from common import const, f16, f32, f64, name_of, nchw, some, Tensor, wide, write

OP = "YOLO_BOX"
ANCHORS = [10, 13, 16, 30, 33, 23]


def yolo(x, size, anchors, classNum, downsampleRatio, confThresh=0.0, clipBbox=True, scaleXY=1.0, iouAware=False,
         iouAwareFactor=0.5):
    """x [N,H,W,C]; as the specification says it, in float64, with torch's sigmoid."""
    n, height, width, _ = x.shape
    pairs = np.array(anchors, f64).reshape(-1, 2)
    count = len(pairs)
    sigmoid = lambda v: torch.sigmoid(torch.from_numpy(np.ascontiguousarray(v))).numpy()
    v = wide(x)
    lead = count if iouAware else 0
    t = v[..., lead:].reshape(n, height, width, count, 5 + classNum).transpose(0, 3, 1, 2, 4)  # [N,A,H,W,..]
    scale, factor, least = (float(f32(k)) for k in (scaleXY, iouAwareFactor, confThresh))
    confidence = sigmoid(t[..., 4])
    if iouAware:
        confidence = confidence ** (1 - factor) * sigmoid(v[..., :lead].transpose(0, 3, 1, 2)) ** factor
    ih, iw = (wide(size)[:, k].reshape(n, 1, 1, 1) for k in (0, 1))
    cx = (np.arange(width) + sigmoid(t[..., 0]) * scale - 0.5 * (scale - 1)) * iw / width
    cy = (np.arange(height)[:, None] + sigmoid(t[..., 1]) * scale - 0.5 * (scale - 1)) * ih / height
    w = np.exp(t[..., 2]) * pairs[:, 0].reshape(1, -1, 1, 1) * iw / (downsampleRatio * width)
    h = np.exp(t[..., 3]) * pairs[:, 1].reshape(1, -1, 1, 1) * ih / (downsampleRatio * height)
    box = [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2]
    if clipBbox:
        box = [np.maximum(box[0], 0), np.maximum(box[1], 0), np.minimum(box[2], iw - 1), np.minimum(box[3], ih - 1)]
    assert np.all(np.abs(confidence - least) > 1e-6), "too close to call"
    keep = (confidence >= least)[..., None]
    boxes = np.stack(box, -1) * keep
    scores = confidence[..., None] * sigmoid(t[..., 5:]) * keep
    return [boxes.reshape(n, -1, 4).astype(f32), scores.reshape(n, -1, classNum).astype(f32)]


def make(w):
    def good(name, shape, size, anchors, classes, t=f32, index=np.int32, constant=True, ratio=8, low=-12, high=12, **attrs):
        channels = len(anchors) // 2 * (5 + classes + (1 if attrs.get("iouAware") else 0))
        x = some(shape + (channels,), t, low, high)
        size, pairs = np.array(size, index), np.array(anchors, index)
        a = {"classNum": classes, "downsampleRatio": ratio, **attrs}
        outs = yolo(x, size, anchors, classes, ratio, **attrs)
        pairs = const(pairs) if constant else pairs
        tol = (1e-4, 1e-5)  # of pixels
        w.case(name, OP, a, [x, size, pairs], outs, tol=tol)
        w.case(name + ", NHWC", OP, a, [x, size, pairs], outs, tol=tol, fmt="NHWC")
        w.case(name + ", NCHW", OP, a, [nchw(x), size, pairs], outs, tol=tol, fmt="NCHW")

    for t in (f32, f16):
        for index in (np.int32, np.int64):
            good("%s %s" % (name_of(t), name_of(index)), (1, 2, 3), [[24, 40]], ANCHORS, 2, t, index)
        good("%s, two images" % name_of(t), (2, 3, 2), [[24, 40], [60, 31]], ANCHORS[:4], 1, t, confThresh=0.3)
        good("%s, anchors told in the run" % name_of(t), (2, 1, 2), [[24, 40], [60, 31]], ANCHORS[:4], 3, t, constant=False)
        good("%s, overlap" % name_of(t), (2, 2, 2), [[24, 40], [60, 31]], ANCHORS[:4], 2, t, iouAware=True, confThresh=0.4)
    for clip in (False, True):
        good("clip %d" % clip, (1, 3, 3), [[20, 25]], ANCHORS, 1, clipBbox=clip, low=0)
    for scale in (1.0, 1.05, 2.0):
        good("scale %g" % scale, (1, 2, 2), [[64, 48]], ANCHORS[:2], 1, scaleXY=scale, clipBbox=False)
    for factor in (0.0, 0.25, 1.0):
        good("overlap weighs %g" % factor, (1, 2, 2), [[64, 48]], ANCHORS[:4], 1, iouAware=True, iouAwareFactor=factor)
    for threshold in (0.45, 0.9, 2.0, -1.0):
        good("confidence %g" % threshold, (1, 3, 3), [[64, 48]], ANCHORS[:2], 2, confThresh=threshold)
    good("ratio 32", (1, 2, 2), [[416, 416]], [116, 90, 156, 198], 3, ratio=32)
    good("one cell", (1, 1, 1), [[10, 10]], [4, 6], 1)
    x, size, pairs = some((1, 2, 3, 12)), np.array([[20, 30]], np.int32), np.array([4, 6, 8, 2], np.int32)
    a = {"classNum": 1, "downsampleRatio": 8}
    outs = yolo(x, size, pairs, 1, 8)
    w.case("scaleXY 0 is 1", OP, {**a, "scaleXY": 0.0}, [x, size, pairs], outs, tol=(1e-4, 1e-5))
    odd = np.zeros((1, 1, 4, 6), f32)
    odd[0, 0, :, 4] = [np.inf, -np.inf, np.nan, 0]
    odd[0, 0, 0, 2] = np.inf
    odd[0, 0, 3, :2] = [np.inf, -np.inf]
    want = yolo(np.nan_to_num(odd, posinf=80, neginf=-80), np.array([[20, 30]]), [4, 6], 1, 8, confThresh=0.1)
    want[0][0, 0, 0], want[0][0, 0, 2] = 0, 29
    want[1][0, 2] = np.nan
    want[0][0, 2] = yolo(np.zeros((1, 1, 4, 6), f32), np.array([[20, 30]]), [4, 6], 1, 8)[0][0, 2]
    w.case("not finite", OP, {**a, "confThresh": 0.1}, [odd, size, pairs[:2]], want, tol=(1e-4, 1e-5),
           comment="a confidence that is NaN is not below the threshold")

    def bad(name, code, change=None, inputs=None, results=None):
        w.case("refused: " + name, OP, {**a, **(change or {})}, inputs or [x, size, pairs], results or outs, error=code)

    bad("classNum 0", "INVALID_PARAMETER", {"classNum": 0})
    bad("downsampleRatio 0", "INVALID_PARAMETER", {"downsampleRatio": 0})
    bad("two classes for one", "INVALID_SHAPE", {"classNum": 2})
    bad("overlap channels that are not there", "INVALID_SHAPE", {"iouAware": True})
    bad("three anchors for two", "INVALID_SHAPE", None, [x, size, np.array(ANCHORS, np.int32)])
    bad("half an anchor", "INVALID_SHAPE", None, [x, size, np.array([1, 2, 3], np.int32)])
    bad("anchors in two axes", "INVALID_SHAPE", None, [x, size, pairs.reshape(2, 2)])
    bad("no anchors", "INVALID_SHAPE", None, [x, size, pairs[:0]])
    bad("x of 3 axes", "INVALID_SHAPE", None, [x[0], size, pairs])
    bad("x without rows", "INVALID_SHAPE", None, [x[:, :0], size, pairs])
    bad("sizes of two images", "INVALID_SHAPE", None, [x, size.repeat(2, 0), pairs])
    bad("a size of three numbers", "INVALID_SHAPE", None, [x, np.ones((1, 3), np.int32), pairs])
    bad("a size of one axis", "INVALID_SHAPE", None, [x, size[0], pairs])
    bad("size of float32", "INVALID_DATATYPE", None, [x, size.astype(f32), pairs])
    bad("anchors of float32", "INVALID_DATATYPE", None, [x, size, pairs.astype(f32)])
    bad("float64", "INVALID_DATATYPE", None, [x.astype(f64), size, pairs])
    bad("int32", "INVALID_DATATYPE", None, [x.astype(np.int32), size, pairs])
    bad("quantised", "UNSUPPORTED_OP", None, [Tensor(np.ones((1, 2, 3, 12), np.int8), quant=[(8, 0, 0.5)]), size, pairs])
    bad("two inputs", "INVALID_INPUT", None, [x, size])
    bad("four inputs", "INVALID_INPUT", None, [x, size, pairs, pairs])
    bad("anchors missing", "NULL_PTR", None, [x, size, None])
    bad("one output", "INVALID_OUTPUT", None, None, outs[:1])
    bad("three outputs", "INVALID_OUTPUT", None, None, outs + outs[1:])
    bad("boxes of float16", "INVALID_DATATYPE", None, None, [outs[0].astype(f16), outs[1]])
    bad("scores of int32", "INVALID_DATATYPE", None, None, [outs[0], outs[1].astype(np.int32)])


if __name__ == "__main__":
    write(make, "Expected values: the specification's formula in numpy, in float64: no library here has it.")
