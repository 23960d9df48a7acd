"""NEGATIVE_LOG_LIKELIHOOD_LOSS."""
import numpy as np
import torch

from common import f16, f32, f64, name_of, refuse, rounded, Tensor, tensor, wide, write

MEAN, SUM, NONE = range(3)
NAMES = ["mean", "sum", "none"]


def make(w):
    op = "NEGATIVE_LOG_LIKELIHOOD_LOSS"
    random = np.random.default_rng(1135)

    def go(name, x, target, weight=None, ignore=None, reduction=None, **more):
        attrs = {**({} if ignore is None else {"ignoreIndex": [ignore]}), **({} if reduction is None else {"reduction": reduction})}
        y = torch.nn.functional.nll_loss(
            tensor(x), torch.from_numpy(np.array(target, "int64")), None if weight is None else tensor(weight),
            ignore_index=-10**6 if ignore is None else ignore, reduction=NAMES[reduction or 0])
        w.case(name, op, attrs, [x, target] + ([] if weight is None else [weight]), [rounded(y.numpy(), x)], **more)

    def case(shape, dtype=f32, index="int64"):
        x = (-random.integers(0, 64, shape) / 8).astype(dtype)
        return x, random.integers(0, shape[1], (shape[0],) + shape[2:]).astype(index)

    for dtype in (f32, f16):
        for reduction in (MEAN, SUM, NONE):
            for n, shape in enumerate(((3, 5), (1, 1), (4, 2), (2, 5, 3), (3, 5, 2, 4), (4, 3, 1, 2, 5), (1, 2, 1, 2, 1, 2, 1, 3))):
                x, target = case(shape, dtype, ("int32", "int64")[n % 2])
                weight = (random.integers(1, 8, shape[1]) / 4).astype(dtype)
                title = "%s, %s %s" % (NAMES[reduction], name_of(dtype), list(shape))
                go(title, x, target, reduction=reduction)
                go(title + ", weight", x, target, weight, reduction=reduction)
                go(title + ", ignored", x, target, None, int(target.flat[0]) if shape[0] > 1 else 0, reduction)
                go(title + ", ignored, weight", x, target, weight, int(target.flat[-1]), reduction)
                away = target.copy()
                away.flat[::2] = -5 if n % 2 else 100  # outside, but ignored
                if away.size > 1:
                    go(title + ", ignored outside", x, away, weight, -5 if n % 2 else 100, reduction)
            x, target = case((3, 4), dtype)
            w.case("%s, weight 0 of class 1, %s" % (NAMES[reduction], name_of(dtype)), op, {"reduction": reduction},
                   [x, np.array([1, 2, 1]), np.array([1, 0, 2, 1], dtype)],
                   [rounded({MEAN: -wide(x[1, 2]), SUM: -2 * wide(x[1, 2]), NONE: [0, -2 * wide(x[1, 2]), 0]}[reduction], x)])
    x, target = case((4, 3))
    go("default", x, target)
    go("all ignored, mean", x, np.full(4, 2), None, 2)
    go("all ignored, sum", x, np.full(4, 2), None, 2, SUM)
    go("all ignored, none", x, np.full(4, 2), None, 2, NONE)
    none = np.zeros((0, 3), f32)
    for reduction, y in ((MEAN, np.array(np.nan, f32)), (SUM, np.array(0, f32)), (NONE, np.zeros(0, f32))):
        w.case("no samples, " + NAMES[reduction], op, {"reduction": reduction}, [none, np.zeros(0, "int64")], [y])
    odd = np.array([[np.nan, -np.inf, -1], [-2, np.inf, np.nan]], f32)
    for reduction in (MEAN, SUM, NONE):
        for pair in ((0, 0), (1, 0), (2, 1), (2, 2), (1, 1)):
            go("odd values %d %d, %s" % (*pair, NAMES[reduction]), odd, np.array(pair), None, None, reduction)
    go("NaN of what is ignored", odd, np.array([0, 0]), None, 0, NONE)
    go("NaN of what is not asked for", odd, np.array([2, 0]))
    x, target = case((1000, 3))
    x = (x * f32(1.1)).astype(f32)
    go("1000 terms", x, target, np.array([0.1, 1.3, 7.7], f32), tol=(0, 2e-7))
    go("1000 terms, sum", x, target, None, None, SUM, tol=(0, 1e-7))
    x, target = case((2, 3, 2))
    w.case("constants", op, {}, [x, Tensor(target, True)], [rounded(torch.nn.functional.nll_loss(tensor(x), torch.from_numpy(target)).numpy(), x)])
    w.case("weight left out by name", op, {"reduction": SUM}, [x, target, None],
           [rounded(torch.nn.functional.nll_loss(tensor(x), torch.from_numpy(target), reduction="sum").numpy(), x)])
    for bad in (3, -1, 2**32):
        for reduction in (MEAN, SUM, NONE):
            wrong = target.copy()
            wrong[1, 0] = bad
            w.case("class %d of 3, %s" % (bad, NAMES[reduction]), op, {"reduction": reduction, "ignoreIndex": [7]}, [x, wrong], [],
                   run_error="INVALID_PARAMETER",
                   says="class %d, element 2 of target, lies outside axis 1 of x, expected 0 to 2" % bad)
    weight = np.ones(3, f32)
    refuse(w, "target of another extent", op, {}, [x, target[:, :1]], "INVALID_SHAPE")
    refuse(w, "target with fewer axes", op, {}, [x, target[:, 0]], "INVALID_SHAPE")
    refuse(w, "target with the axis of classes", op, {}, [x, np.zeros((2, 1, 2), "int64")], "INVALID_SHAPE")
    refuse(w, "one axis", op, {}, [x[0, :, 0], np.array(1)], "INVALID_SHAPE")
    refuse(w, "scalar", op, {}, [np.array(1, f32), np.array(1)], "INVALID_SHAPE")
    refuse(w, "weight of another extent", op, {}, [x, target, weight[:2]], "INVALID_SHAPE")
    refuse(w, "weight of two axes", op, {}, [x, target, weight.reshape(1, 3)], "INVALID_SHAPE")
    refuse(w, "two classes ignored", op, {"ignoreIndex": [1, 2]}, [x, target], "INVALID_PARAMETER")
    refuse(w, "reduction 3", op, {"reduction": 3}, [x, target], "INVALID_PARAMETER")
    refuse(w, "reduction -1", op, {"reduction": -1}, [x, target], "INVALID_PARAMETER")
    refuse(w, "target of float32", op, {}, [x, x[:, 0]], "INVALID_DATATYPE")
    refuse(w, "weight of float16", op, {}, [x, target, weight.astype(f16)], "INVALID_DATATYPE")
    refuse(w, "float64", op, {}, [x.astype(f64), target], "INVALID_DATATYPE")
    refuse(w, "int32", op, {}, [x.astype("int32"), target], "INVALID_DATATYPE")
    refuse(w, "quantised", op, {}, [Tensor(x.astype("int8"), quant=[(8, 0, 0.5)]), target], "UNSUPPORTED_OP")
    refuse(w, "one input", op, {}, [x], "INVALID_INPUT")
    refuse(w, "four inputs", op, {}, [x, target, weight, weight], "INVALID_INPUT")
    refuse(w, "absent target", op, {}, [x, None], "NULL_PTR")
    refuse(w, "rank 9", op, {}, [np.ones((1,) * 9, f32), target], "INVALID_SHAPE")
    w.case("refused: two outputs", op, {}, [x, target], [x, x], error="INVALID_OUTPUT")


if __name__ == "__main__":
    write(make, "Expected values: torch's nll_loss in float64.")
