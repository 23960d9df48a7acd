"""MULTICLASS_NMS."""
import math

import numpy as np

from common import f16, f32, f64, loose, name_of, random, some, Tensor, wide, write

OP = "MULTICLASS_NMS"


def overlap(a, b, more):
    if a[0] > b[2] or a[2] < b[0] or a[1] > b[3] or a[3] < b[1]:
        return 0.0
    edges = [min(a[k + 2], b[k + 2]) - max(a[k], b[k]) + more for k in (0, 1)]
    areas = sum((v[2] - v[0] + more) * (v[3] - v[1] + more) for v in (a, b))
    both = edges[0] * edges[1]
    return both / (areas - both) if areas > both else 0.0


def nms(boxes, scores, roisNum=None, backgroundLabel=-1, scoreThreshold=0.0, nmsTopK=-1, nmsThreshold=0.0, nmsEta=1.0,
        keepTopK=-1, normalized=True, returnIndex=False, index=np.int32):
    """The three results, of all images by falling score first, then cut to keepTopK and put in their order."""
    limit, eta, start = (float(f32(v)) for v in (scoreThreshold, nmsEta or 1.0, nmsThreshold))
    single = roisNum is not None
    rows, numbers, counts, first = [], [], [], 0
    for n in range(len(roisNum) if single else len(boxes)):
        length = roisNum[n] if single else boxes.shape[1]
        found = []  # score, class, position
        for label in range(scores.shape[1]):
            table = wide(scores[first:first + length, label] if single else scores[n, label])
            at = wide(boxes[first:first + length, label] if single else boxes[n])
            if label == backgroundLabel:
                continue
            order = [i for i in sorted(range(length), key=lambda i: (-table[i], i)) if table[i] > limit]
            kept, threshold = [], start
            for i in order if nmsTopK < 0 else order[:nmsTopK]:
                overlaps = [overlap(at[i], at[k], 0 if normalized else 1) for k in kept]
                assert all(abs(v - threshold) > 1e-6 or v in (0, 1) for v in overlaps), "too close to call"
                if all(v <= threshold for v in overlaps):
                    kept.append(i)
                    threshold *= eta if eta < 1 and threshold > 0.5 else 1
            found += [(table[i], label, i) for i in kept]
        if keepTopK >= 0:
            found = sorted(found, key=lambda v: -v[0])[:keepTopK]
        for score, label, i in sorted(found, key=lambda v: (v[1], v[2]) if single else (v[1], -v[0], v[2])):
            rows.append([label, score] + list(boxes[first + i, label] if single else boxes[n, i]))
            numbers.append((first + i) * scores.shape[1] + label if single else n * length + i)
        counts.append(len(found))
        first += length
    out = np.array(rows, f64).reshape(-1, 6).astype(boxes.dtype)
    return [out, np.array(counts, index), np.array(numbers, index)]


def scene(shape, t, low):
    """Boxes around a few places; steps that half precision has."""
    at = random.integers(0, 3, shape + (2,)) * 4 + random.integers(0, 12, shape + (2,)) / 8 + low
    return np.concatenate([at, at + random.integers(4, 24, shape + (2,)) / 8], -1).astype(t)


def points(shape, t, levels=0):
    return (random.integers(0, levels or 256, shape) / (levels or 256)).astype(t)


def make(w):
    def good(name, inputs, index=None, **attrs):
        outs = nms(*inputs, **attrs, **({"index": index} if index else {}))
        w.case(name, OP, attrs, inputs, outs if attrs.get("returnIndex") or index else outs[:2], tol=(0, 0))

    base = {"nmsThreshold": 0.3127, "returnIndex": True}
    for t in (f32, f16):
        for form in (1, 2):
            def operands(images, m, classes, levels=0, form=form, t=t):
                if form == 1:
                    return [scene((images, m), t, 0), points((images, classes, m), t, levels)]
                cuts = np.sort(random.integers(0, m + 1, images - 1))
                num = np.diff(np.concatenate([[0], cuts, [m]]))
                return [scene((m, classes), t, 0), points((m, classes), t, levels), num.astype(np.int32)]
            name = "%s form %d, " % (name_of(t), form)
            good(name + "all", operands(2, 12, 3), **base)
            good(name + "one image", operands(1, 9, 2), **base)
            good(name + "background", operands(2, 10, 3), backgroundLabel=1, **base)
            good(name + "first class is the background", operands(2, 10, 3), backgroundLabel=0, **base)
            good(name + "background that is no class", operands(2, 8, 2), backgroundLabel=5, **base)
            for k in (0, 1, 3, 100):
                good(name + "looks at %d" % k, operands(2, 12, 2), nmsTopK=k, **base)
                good(name + "keeps %d" % k, operands(2, 12, 3), keepTopK=k, **base)
            good(name + "keeps 5, looks at 4", operands(3, 14, 3), keepTopK=5, nmsTopK=4, **base)
            good(name + "equal scores", operands(2, 14, 3, 4), keepTopK=7, **base)
            good(name + "equal scores, nothing overlaps too much", operands(2, 14, 3, 3), keepTopK=9, nmsThreshold=1.0,
                 returnIndex=True)
            good(name + "a threshold of scores", operands(2, 12, 2), scoreThreshold=0.5, **base)
            good(name + "a score at the threshold", operands(2, 12, 2, 4), scoreThreshold=0.5, **base)
            good(name + "no score above the threshold", operands(2, 12, 2), scoreThreshold=2.0, **base)
            good(name + "pixels", operands(2, 12, 2), normalized=False, **base)
            for eta in (0.9, 0.5, 0.0, 1.5):
                good(name + "eta %g" % eta, operands(2, 14, 2), nmsThreshold=0.8313, nmsEta=eta, returnIndex=True)
            good(name + "eta does nothing below a threshold of 0.5", operands(1, 14, 2), nmsThreshold=0.4713, nmsEta=0.1)
            good(name + "two results", operands(2, 10, 2), nmsThreshold=0.3127)
            good(name + "index that nobody asked for", operands(2, 10, 2), index=np.int32, nmsThreshold=0.3127)
            good(name + "int64", operands(2, 10, 2), index=np.int64, nmsThreshold=0.3127)
            good(name + "negative scores", [v - 1 if k == 1 else v for k, v in enumerate(operands(2, 10, 2))],
                 scoreThreshold=-0.75, **base)
            good(name + "defaults", operands(2, 10, 2))
            none = operands(2, 1, 2)
            none = [v[:, :0] if k == 0 else v[:, :, :0] for k, v in enumerate(none)] if form == 1 else [
                none[0][:0], none[1][:0], none[2] * 0]
            good(name + "no boxes", none, **base)
    boxes, scores = scene((2, 6), f32, 0), points((2, 3, 6), f32)
    good("no images", [boxes[:0], scores[:0]], **base)
    good("no classes", [boxes, scores[:, :0]], **base)
    single, table = scene((7, 3), f32, 0), points((7, 3), f32)
    for num in ([7], [0, 7], [7, 0], [3, 0, 4], [0, 0, 0], [2, 3]):
        good("rows of images %s" % num, [single, table, np.array(num, np.int64)], **base)
    good("no images, form 2", [single, table, np.zeros(0, np.int32)], **base)
    touching = np.array([[[0, 0, 2, 2], [2, 0, 4, 2], [2.5, 0, 4, 2], [3, 0, 5, 2], [6, 6, 6, 6], [6, 6, 6, 6]]], f32)
    falling = np.array([[[0.9, 0.8, 0.7, 0.6, 0.5, 0.4]]], f32)
    for normalized in (False, True):
        good("edges that meet, gaps, points, %s" % ("parts" if normalized else "pixels"), [touching, falling],
             normalized=normalized, nmsThreshold=0.1013, returnIndex=True)
    good("pixels that touch overlap", [touching[:, :2], falling[:, :, :2]], normalized=False, nmsThreshold=0.1913, returnIndex=True)
    odd = np.array([[[np.nan, 0.5, np.inf, -np.inf, np.nan, 0.25]]], f32)
    outs = nms(touching, np.nan_to_num(odd, nan=-1, posinf=np.inf), nmsThreshold=0.1013)
    assert len(outs[0]) == 2
    w.case("a score that is NaN is none", OP, {**base, "nmsThreshold": 0.1013}, [touching, odd], outs, tol=(0, 0))
    many = np.zeros((1, 3000, 1), f16)
    many[0, 2999], many[0, 2053] = 1, 0.5
    w.case("float16, classes beyond 2048", OP, base, [np.array([[[0, 0, 1, 1]]], f16), many],
           [np.array([[2052, 0.5, 0, 0, 1, 1], [3000, 1, 0, 0, 1, 1]], f16), np.array([2], np.int32), np.zeros(2, np.int32)], tol=(0, 0),
           comment="the numbers of the classes are rounded, but each keeps its own")
    for num in ([8], [4, 4], [-1, 3], [7, 1], [2**31 - 1, 2]):
        at = 0 if num[0] < 0 or num[0] > 7 else 1
        w.case("rows of images %s of 7" % num, OP, base, [single, table, np.array(num, np.int32)], outs,
               run_error="INVALID_PARAMETER",
               says="roisNum[%d] is %d, but of 7 boxes only %d remain" % (at, num[at], 7 - sum(num[:at])))
    w.case("rows of an image, 2^32", OP, base, [single, table, np.array([2**32], np.int64)], outs, run_error="INVALID_PARAMETER")
    outs = nms(boxes, scores, nmsThreshold=0.3127)
    num = np.array([7], np.int32)

    def bad(name, code, change=None, inputs=None, results=None):
        w.case("refused: " + name, OP, {**base, **(change or {})}, inputs or [boxes, scores], results or outs, error=code)

    bad("nmsTopK -2", "INVALID_PARAMETER", {"nmsTopK": -2})
    bad("keepTopK -2", "INVALID_PARAMETER", {"keepTopK": -2})
    bad("backgroundLabel -2", "INVALID_PARAMETER", {"backgroundLabel": -2})
    bad("nmsEta -1", "INVALID_PARAMETER", {"nmsEta": -1.0})
    bad("nmsEta NaN", "INVALID_PARAMETER", {"nmsEta": math.nan})
    for n in (8, 16, 24, 32):
        bad("polygons of %d" % n, "UNSUPPORTED_OP", None, [some((2, 6, n)), scores])
    for n in (3, 5, 40, 0):
        bad("boxes of %d numbers" % n, "INVALID_SHAPE", None, [some((2, 6, n)), scores])
    bad("boxes of 2 axes", "INVALID_SHAPE", None, [boxes[0], scores])
    bad("scores of 4 axes", "INVALID_SHAPE", None, [boxes, scores[None]])
    bad("scores of 1 axis", "INVALID_SHAPE", None, [boxes, scores[0, 0]])
    bad("scores of one image", "INVALID_SHAPE", None, [boxes, scores[:1]])
    bad("scores of fewer boxes", "INVALID_SHAPE", None, [boxes, scores[:, :, :5]])
    bad("form 2, scores of fewer boxes", "INVALID_SHAPE", None, [single, table[:6], num])
    bad("form 2, scores of fewer classes", "INVALID_SHAPE", None, [single, table[:, :2], num])
    bad("form 2, images in two axes", "INVALID_SHAPE", None, [single, table, num[None]])
    bad("form 2 without roisNum", "INVALID_INPUT", None, [single, table])
    bad("form 2 with roisNum left out", "INVALID_INPUT", None, [single, table, None])
    bad("form 1 with roisNum", "INVALID_INPUT", None, [boxes, scores, num])
    bad("roisNum of float32", "INVALID_DATATYPE", None, [single, table, num.astype(f32)])
    bad("scores of float16", "INVALID_DATATYPE", None, [boxes, scores.astype(f16)])
    bad("float64", "INVALID_DATATYPE", None, [boxes.astype(f64), scores.astype(f64)])
    bad("int32", "INVALID_DATATYPE", None, [boxes.astype(np.int32), scores.astype(np.int32)])
    bad("quantised", "UNSUPPORTED_OP", None, [Tensor(np.ones((2, 6, 4), np.int8), quant=[(8, 0, 0.5)]), scores])
    bad("one input", "INVALID_INPUT", None, [boxes])
    bad("four inputs", "INVALID_INPUT", None, [single, table, num, num])
    bad("scores missing", "NULL_PTR", None, [boxes, None])
    bad("one output", "INVALID_OUTPUT", None, None, outs[:1])
    bad("four outputs", "INVALID_OUTPUT", None, None, outs + outs[2:])
    bad("returnIndex with two outputs", "INVALID_OUTPUT", None, None, outs[:2])
    bad("out of float16", "INVALID_DATATYPE", None, None, [outs[0].astype(f16)] + outs[1:])
    bad("outRoisNum of float32", "INVALID_DATATYPE", None, None, [outs[0], outs[1].astype(f32), outs[2]])
    bad("index of int16", "INVALID_DATATYPE", None, None, outs[:2] + [outs[2].astype(np.int16)])


if __name__ == "__main__":
    write(make, "Expected values: the specification's rule in plain Python, in float64: no library here has it.")
