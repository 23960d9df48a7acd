"""PRIOR_BOX."""
import math

import numpy as np

from common import f16, f32, f64, nchw, some, Tensor, write

OP = "PRIOR_BOX"
VARIANCES = [0.1, 0.1, 0.2, 0.25]


def priors(height, width, image, minSizes, maxSizes=(), aspectRatios=(), variances=VARIANCES, flip=False, clip=False, stepW=0.0,
           stepH=0.0, offset=0.5, minMaxAspectRatiosOrder=False):
    """As the specification says it; image = (height, width)."""
    ratios = [1.0]
    for a in aspectRatios:
        if all(abs(a - b) > 1e-6 for b in ratios):
            ratios += [a, 1 / a] if flip else [a]
    if stepW == 0 or stepH == 0:
        stepW, stepH = image[1] / width, image[0] / height
    sizes = []
    for n, s in enumerate(minSizes):
        middle = [(math.sqrt(s * maxSizes[n]) / 2,) * 2] if len(maxSizes) else []
        shapes = [(s * math.sqrt(a) / 2, s / math.sqrt(a) / 2) for a in ratios]
        sizes += shapes[:1] + middle + shapes[1:] if minMaxAspectRatiosOrder else shapes + middle
    y = np.zeros((height, width, len(sizes), 4))
    for h, w, p in np.ndindex(*y.shape[:3]):
        cx, cy, (hw, hh) = (w + offset) * stepW, (h + offset) * stepH, sizes[p]
        y[h, w, p] = [(cx - hw) / image[1], (cy - hh) / image[0], (cx + hw) / image[1], (cy + hh) / image[0]]
    y = np.clip(y, 0, 1) if clip else y
    return [y.astype(f32), np.broadcast_to(np.array(variances, f32), y.shape)]


def make(w):
    def good(name, height, width, image, t=f32, **attrs):
        a = {"variances": VARIANCES, **attrs}
        outs = priors(height, width, image, **a)
        x, picture = some((1, height, width, 1), t), np.zeros((1,) + image + (1,), t)
        w.case(name, OP, a, [x, picture], outs)
        w.case(name + ", NHWC", OP, a, [x, picture], outs, fmt="NHWC")
        w.case(name + ", NCHW", OP, a, [nchw(x), nchw(picture)], outs, fmt="NCHW")

    good("one size", 2, 3, (12, 15), minSizes=[4.0])
    good("float16", 3, 2, (6, 10), f16, minSizes=[4.0, 7.5])
    for order in (False, True):
        name = "min, max, ratios" if order else "ratios, max"
        good(name, 2, 2, (9, 7), minSizes=[3.0, 5.0], maxSizes=[5.0, 11.0], aspectRatios=[2.0, 3.0], flip=True,
             minMaxAspectRatiosOrder=order)
        good(name + ", no max", 2, 1, (9, 7), minSizes=[3.0, 5.0], aspectRatios=[2.0, 0.75], minMaxAspectRatiosOrder=order)
        good(name + ", no ratios", 1, 2, (9, 7), minSizes=[3.0, 5.0], maxSizes=[4.0, 8.0], minMaxAspectRatiosOrder=order)
        good(name + ", clip", 2, 2, (8, 8), minSizes=[6.0], maxSizes=[9.0], aspectRatios=[2.0], clip=True,
             minMaxAspectRatiosOrder=order)
    good("ratios that are there already", 1, 1, (4, 4), minSizes=[2.0], aspectRatios=[1.0, 2.0, 0.5, 2.0, 3.0, 2.00001], flip=True)
    good("ratios that are there already, no flip", 1, 1, (4, 4), minSizes=[2.0], aspectRatios=[2.0, 0.5, 1.0000005, 2.0, 0.5])
    good("a max below min", 1, 1, (4, 4), minSizes=[4.0], maxSizes=[1.0])
    good("steps", 2, 3, (10, 20), minSizes=[4.0], stepW=3.0, stepH=2.5)
    good("one step is none, width", 2, 3, (10, 20), minSizes=[4.0], stepW=3.0)
    good("one step is none, height", 2, 3, (10, 20), minSizes=[4.0], stepH=3.0)
    good("offset 0", 2, 2, (10, 20), minSizes=[4.0], offset=0.0)
    good("offset 0.25", 2, 2, (10, 20), minSizes=[4.0], offset=0.25)
    good("other variances", 1, 2, (5, 3), minSizes=[2.0], variances=[1.0, -2.0, 0.0, 1e10])
    good("an image smaller than the feature", 3, 4, (1, 2), minSizes=[0.5])
    a = {"minSizes": [2.0], "variances": VARIANCES}
    outs = priors(2, 3, (4, 6), **a)
    x, image = some((2, 2, 3, 5)), np.zeros((7, 4, 6, 3), f16)
    w.case("extents alone matter", OP, a, [x, image], outs)

    def bad(name, code, change=None, inputs=None, results=None):
        w.case("refused: " + name, OP, {**a, **(change or {})}, inputs or [x, image], results or outs, error=code)

    bad("no sizes", "INVALID_PARAMETER", {"minSizes": []})
    bad("a size of 0", "INVALID_PARAMETER", {"minSizes": [2.0, 0.0]})
    bad("a negative size", "INVALID_PARAMETER", {"minSizes": [-2.0]})
    bad("a size that is NaN", "INVALID_PARAMETER", {"minSizes": [math.nan]})
    bad("fewer maxima than minima", "INVALID_PARAMETER", {"minSizes": [2.0, 3.0], "maxSizes": [4.0]})
    bad("more maxima than minima", "INVALID_PARAMETER", {"maxSizes": [4.0, 5.0]})
    bad("a maximum of 0", "INVALID_PARAMETER", {"maxSizes": [0.0]})
    bad("a ratio of 0", "INVALID_PARAMETER", {"aspectRatios": [2.0, 0.0]})
    bad("a negative ratio", "INVALID_PARAMETER", {"aspectRatios": [-1.0]})
    bad("no variances", "INVALID_PARAMETER", {"variances": []})
    bad("three variances", "INVALID_PARAMETER", {"variances": VARIANCES[:3]})
    bad("a negative step", "INVALID_PARAMETER", {"stepW": -1.0, "stepH": 1.0})
    bad("a step that is NaN", "INVALID_PARAMETER", {"stepW": 1.0, "stepH": math.nan})
    bad("feature of 3 axes", "INVALID_SHAPE", None, [x[0], image])
    bad("image of 3 axes", "INVALID_SHAPE", None, [x, image[0]])
    bad("feature without rows", "INVALID_SHAPE", None, [x[:, :0], image])
    bad("image without rows", "INVALID_SHAPE", None, [x, image[:, :0]])
    bad("float64", "INVALID_DATATYPE", None, [x.astype(f64), image])
    bad("image of float64", "INVALID_DATATYPE", None, [x, image.astype(f64)])
    bad("int32", "INVALID_DATATYPE", None, [x.astype(np.int32), image])
    bad("quantised", "UNSUPPORTED_OP", None, [Tensor(np.ones((1, 2, 3, 1), np.int8), quant=[(8, 0, 0.5)]), image])
    bad("one input", "INVALID_INPUT", None, [x])
    bad("three inputs", "INVALID_INPUT", None, [x, image, image])
    bad("image missing", "NULL_PTR", None, [x, None])
    bad("one output", "INVALID_OUTPUT", None, None, outs[:1])
    bad("three outputs", "INVALID_OUTPUT", None, None, outs + outs[1:])
    bad("boxes of float16", "INVALID_DATATYPE", None, None, [outs[0].astype(f16), outs[1]])
    bad("variances of int32", "INVALID_DATATYPE", None, None, [outs[0], outs[1].astype(np.int32)])


if __name__ == "__main__":
    write(make, "Expected values: the specification's formula in plain Python, in float64: no library here has it.")
