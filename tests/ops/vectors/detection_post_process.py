"""DETECTION_POST_PROCESS."""
import math

import numpy as np

from common import f16, f32, f64, loose, name_of, random, refuse, some, Tensor, wide, write

OP = "DETECTION_POST_PROCESS"
SCALE = [10.0, 10.0, 5.0, 5.0]



def overlap(a, b):
    areas = [(v[2] - v[0]) * (v[3] - v[1]) for v in (a, b)]
    if min(areas) <= 0:
        return 0.0
    both = max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    return both / (sum(areas) - both)


def suppress(boxes, scores, limit, score_threshold, threshold):
    kept = []
    for i in sorted(range(len(scores)), key=lambda i: (-scores[i], i)):
        if len(kept) == limit or not scores[i] >= score_threshold:
            break
        overlaps = [overlap(boxes[i], boxes[k]) for k in kept]
        assert all(abs(v - threshold) > 1e-5 or v in (0, 1) for v in overlaps), "too close to call"
        if all(v <= threshold for v in overlaps):
            kept.append(i)
    return kept


def detect(bbox, scores, anchors, scale=SCALE, nmsIoUThreshold=0.5, nmsScoreThreshold=0.0, maxDetections=3,
           detectionsPerClass=2, maxClassesPerDetection=1, numClasses=2, useRegularNms=False, **unused):
    t, a = wide(bbox)[0], wide(anchors)
    centre = t[:, :2] / scale[:2] * a[:, 2:] + a[:, :2]
    half = np.exp(t[:, 2:] / scale[2:]) * a[:, 2:] / 2
    boxes = np.concatenate([centre - half, centre + half], 1)
    table = wide(scores)[0][:, scores.shape[2] - numClasses:]
    limit = (float(f32(nmsScoreThreshold)), float(f32(nmsIoUThreshold)))
    found = []  # score, class, box
    if useRegularNms:
        for label in range(numClasses):
            kept = suppress(boxes, table[:, label], detectionsPerClass, *limit)
            found = sorted(found + [(table[i, label], label, i) for i in kept], key=lambda v: -v[0])[:maxDetections]
    else:
        for i in suppress(boxes, table.max(1), maxDetections, *limit):
            best = sorted(range(numClasses), key=lambda k: (-table[i, k], k))[:maxClassesPerDetection]
            found += [(table[i, k], k, i) for k in best]
    m = maxDetections * maxClassesPerDetection
    out = [np.zeros((1, m, 4), f32), np.zeros((1, m), f32), np.zeros((1, m), f32), np.array([len(found)], f32)]
    for slot, (score, label, i) in enumerate(found):
        out[0][0, slot], out[1][0, slot], out[2][0, slot] = boxes[i], label, score
    return out


def scene(n, classes, t=f32, background=1, levels=0):
    """Boxes of a few neighbourhoods; levels: scores of so many values, so that there are equal ones."""
    def steps(shape, step, low, high):  # short as text, exact in half precision
        return random.integers(low, high, shape) * step

    anchors = np.concatenate([random.integers(0, 2, (n, 2)) + steps((n, 2), 1 / 64, 0, 20), steps((n, 2), 1 / 64, 32, 96)], 1)
    bbox = steps((1, n, 4), 1 / 16, -32, 33)
    scores = steps((1, n, classes + background), 1 / (levels or 512), 0, levels or 512)
    return bbox.astype(t), scores.astype(t), anchors.astype(t)


def make(w):
    def attrs_of(**change):
        return {"scale": SCALE, "nmsIoUThreshold": 0.5, "nmsScoreThreshold": 0.0, "maxDetections": 3,
                "detectionsPerClass": 2, "maxClassesPerDetection": 1, "numClasses": 2, "useRegularNms": False, **change}

    def good(name, inputs, tol=None, **change):
        a = attrs_of(**change)
        w.case(name, OP, a, inputs, detect(*inputs, **a), tol=tol or loose(inputs[0].dtype))

    for t in (f32, f16):
        for regular in (False, True):
            for background in (0, 1):
                for n, classes, most, each, told, threshold in (
                        (12, 2, 4, 3, 1, 0.0), (20, 3, 6, 2, 2, 0.4), (9, 4, 30, 20, 7, 0.1), (30, 1, 5, 10, 1, 0.5),
                        (1, 5, 1, 1, 3, 0.0), (25, 6, 8, 100, 6, 0.7)):
                    good("%s %s, %d boxes, %d classes%s" % (name_of(t), "regular" if regular else "fast", n, classes,
                                                           " and background" if background else ""),
                         scene(n, classes, t, background), numClasses=classes, maxDetections=most, detectionsPerClass=each,
                         maxClassesPerDetection=told, nmsScoreThreshold=threshold, useRegularNms=regular)
    for regular in (False, True):
        name = "regular" if regular else "fast"
        more = {"useRegularNms": regular}
        for iou in (0.0, 0.25, 0.9, 1.0):
            good("%s, overlap %g" % (name, iou), scene(25, 2), nmsIoUThreshold=iou, maxDetections=10, detectionsPerClass=8, **more)
        for most in (1, 4, 9, 40):
            good("%s, equal scores, %d" % (name, most), scene(24, 3, levels=3), numClasses=3, maxDetections=most,
                 detectionsPerClass=5, maxClassesPerDetection=2, nmsScoreThreshold=0.3, **more)
        good("%s, every score below the threshold" % name, scene(6, 2), nmsScoreThreshold=2.0, **more)
        good("%s, a score at the threshold" % name, scene(8, 2, levels=4), nmsScoreThreshold=0.5, maxDetections=20, **more)
        good("%s, negative scores" % name, [v if k != 1 else v - 2 for k, v in enumerate(scene(8, 2))],
             nmsScoreThreshold=-1.5, maxDetections=20, **more)
        good("%s, other scales" % name, scene(8, 2), scale=[1.0, 2.0, 4.0, 8.0], **more)
        good("%s, members without effect" % name, scene(8, 2), format=0, inputSize=300, outQuantized=True, **more)
        bbox, scores, anchors = scene(6, 2)
        anchors[::2, 2] = 0  # no area: overlaps nothing
        anchors[1::2, 3] *= -1
        good("%s, boxes without area" % name, [bbox * 0, scores, anchors], nmsIoUThreshold=0.0, maxDetections=12,
             detectionsPerClass=6, **more)
        one = np.ones((1, 5, 1), f32)
        good("%s, five times the same" % name, [np.zeros((1, 5, 4), f32), one, np.array([[1, 2, 3, 4]] * 5, f32)],
             numClasses=1, nmsIoUThreshold=1.0, maxDetections=4, detectionsPerClass=9, **more)
        bbox, scores, anchors = scene(5, 2)
        scores[0, :, :] = np.array([[0, np.nan, 0.5], [0, np.nan, np.nan], [0, 0.75, np.nan], [0, -np.inf, 0.25],
                                    [0, 0.5, 0.5]], f32)
        known = [2, 4, 0, 3] if not regular else None
        if known:  # a score that is NaN is no score
            want = detect(bbox, np.nan_to_num(scores, nan=-1e30, neginf=-1e30), anchors, maxDetections=9, nmsIoUThreshold=1.0)
            w.case("fast, NaN among the scores", OP, attrs_of(maxDetections=9, nmsIoUThreshold=1.0), [bbox, scores, anchors],
                   want, tol=loose(f32))
        else:
            want = detect(bbox, np.nan_to_num(scores, nan=-1e30, neginf=-1e30), anchors, maxDetections=9, detectionsPerClass=5,
                          nmsIoUThreshold=1.0, useRegularNms=True)
            w.case("regular, NaN among the scores", OP,
                   attrs_of(maxDetections=9, detectionsPerClass=5, nmsIoUThreshold=1.0, useRegularNms=True),
                   [bbox, scores, anchors], want, tol=loose(f32))
    bbox, scores, anchors = scene(6, 2)
    good("fast mode needs no detectionsPerClass", [bbox, scores, anchors], detectionsPerClass=0)
    a = attrs_of()
    outs = detect(bbox, scores, anchors, **a)

    def bad(name, code, change=None, inputs=None, results=()):
        w.case("refused: " + name, OP, {**a, **(change or {})}, inputs or [bbox, scores, anchors], list(results) or outs,
               error=code)

    for kind, params in ((np.int8, ((8, 3, 0.0625), (8, -128, 1 / 256), (8, 5, 0.015625))),
                         (np.uint8, ((8, 128, 0.05), (8, 0, 0.004), (8, 1, 0.01))), (np.int8, ((8, 0, 0), (8, -128, 0.004), (8, 5, 0.02))),
                         (np.uint8, ((8, 128, 0.05), (8, 0, 0.0), (8, 1, 0.01)))):
        for regular in (False, True):
            for n, classes, background in ((20, 3, 1), (7, 2, 0)):
                def some_of(shape):
                    return random.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)
                stored = [some_of((1, n, 4)), some_of((1, n, classes + background)), some_of((n, 4))]
                reals = [f32(s) * (q.astype(f32) - f32(z)) for q, (_, z, s) in zip(stored, params)]
                change = attrs_of(numClasses=classes, maxDetections=6, useRegularNms=regular, detectionsPerClass=4,
                                  maxClassesPerDetection=2, nmsScoreThreshold=0.1)
                w.case("quantised %s %s %s %d" % (name_of(kind), params, "regular" if regular else "fast", n), OP, change,
                       [Tensor(q, quant=[p]) for q, p in zip(stored, params)], detect(*reals, **change), tol=loose(f32))

    def quantised(*kinds):
        given = [np.zeros((1, 6, 4)), np.zeros((1, 6, 3)), np.zeros((6, 4))]
        return [Tensor(v.astype(k), quant=[q] if q else None) for v, (k, q) in zip(given, kinds)]

    q = (8, 0, 0.5)
    bad("scores that are not quantised", "INVALID_DATATYPE", None, quantised((np.int8, q), (f32, None), (np.int8, q)))
    bad("scores uint8 beside int8", "INVALID_DATATYPE", None, quantised((np.int8, q), (np.uint8, q), (np.int8, q)))
    bad("anchors that are not quantised", "INVALID_DATATYPE", None, quantised((np.int8, q), (np.int8, q), (f32, None)))
    bad("anchors of 7 bits", "UNSUPPORTED_OP", None, quantised((np.int8, q), (np.int8, q), (np.int8, (7, 0, 0.5))))
    for n in range(3):
        ins = quantised(*[(np.int8, q)] * 3)
        ins[n] = Tensor(ins[n].array, quant=[(8, 0, 0.5 + i, 2) for i in range(ins[n].array.shape[1])])
        bad("input %d with parameters along axis 1" % n, "UNSUPPORTED_OP", None, ins)
    bad("no scale", "INVALID_PARAMETER", {"scale": []})
    bad("three scales", "INVALID_PARAMETER", {"scale": SCALE[:3]})
    bad("a scale of 0", "INVALID_PARAMETER", {"scale": [1.0, 0.0, 1.0, 1.0]})
    bad("a negative scale", "INVALID_PARAMETER", {"scale": [1.0, 1.0, 1.0, -1.0]})
    bad("a scale that is NaN", "INVALID_PARAMETER", {"scale": [math.nan, 1.0, 1.0, 1.0]})
    bad("overlap below 0", "INVALID_PARAMETER", {"nmsIoUThreshold": -0.1})
    bad("overlap above 1", "INVALID_PARAMETER", {"nmsIoUThreshold": 1.1})
    bad("overlap NaN", "INVALID_PARAMETER", {"nmsIoUThreshold": math.nan})
    bad("maxDetections 0", "INVALID_PARAMETER", {"maxDetections": 0})
    bad("maxClassesPerDetection 0", "INVALID_PARAMETER", {"maxClassesPerDetection": 0})
    bad("detectionsPerClass 0", "INVALID_PARAMETER", {"detectionsPerClass": 0, "useRegularNms": True})
    bad("numClasses 0", "INVALID_PARAMETER", {"numClasses": 0})
    bad("format 2", "INVALID_PARAMETER", {"format": 2})
    bad("too many slots", "OUT_OF_MEMORY", {"maxDetections": 2**30, "maxClassesPerDetection": 4})
    bad("four classes for two", "INVALID_SHAPE", None, [bbox, some((1, 6, 4)), anchors])
    bad("one class for two", "INVALID_SHAPE", None, [bbox, some((1, 6, 1)), anchors])
    bad("bbox of 2 axes", "INVALID_SHAPE", None, [bbox[0], scores, anchors])
    bad("bbox of two images", "INVALID_SHAPE", None, [bbox.repeat(2, 0), scores, anchors])
    bad("bbox of five numbers", "INVALID_SHAPE", None, [some((1, 6, 5)), scores, anchors])
    bad("scores of 2 axes", "INVALID_SHAPE", None, [bbox, scores[0], anchors])
    bad("scores of two images", "INVALID_SHAPE", None, [bbox, scores.repeat(2, 0), anchors])
    bad("fewer scores", "INVALID_SHAPE", None, [bbox, scores[:, :5], anchors])
    bad("anchors of 3 axes", "INVALID_SHAPE", None, [bbox, scores, anchors[None]])
    bad("fewer anchors", "INVALID_SHAPE", None, [bbox, scores, anchors[:5]])
    bad("anchors of three numbers", "INVALID_SHAPE", None, [bbox, scores, anchors[:, :3]])
    bad("no boxes", "INVALID_SHAPE", None, [bbox[:, :0], scores[:, :0], anchors[:0]])
    bad("scores of float16", "INVALID_DATATYPE", None, [bbox, scores.astype(f16), anchors])
    bad("anchors of float16", "INVALID_DATATYPE", None, [bbox, scores, anchors.astype(f16)])
    bad("float64", "INVALID_DATATYPE", None, [v.astype(f64) for v in (bbox, scores, anchors)])
    bad("int32", "INVALID_DATATYPE", None, [v.astype(np.int32) for v in (bbox, scores, anchors)])
    bad("two inputs", "INVALID_INPUT", None, [bbox, scores])
    bad("four inputs", "INVALID_INPUT", None, [bbox, scores, anchors, anchors])
    bad("anchors missing", "NULL_PTR", None, [bbox, scores, None])
    bad("three outputs", "INVALID_OUTPUT", None, None, outs[:3])
    bad("five outputs", "INVALID_OUTPUT", None, None, outs + outs[3:])
    for k, name in enumerate(("boxes", "classes", "scores", "num")):
        for t in (np.int32, np.uint8, f16):
            bad("output %s of %s" % (name, name_of(t)), "INVALID_DATATYPE", None, None,
                [v.astype(t) if n == k else v for n, v in enumerate(outs)])


if __name__ == "__main__":
    write(make, "Expected values: the specification's rule in plain Python, in float64: no library here has it.")
