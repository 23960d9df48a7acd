"""ACTIVATION."""
import numpy as np

from common import activation, ACTIVATIONS, EXACT64, f16, f32, f64, name_of, refuse, rounded, some, write
from quantised_elements import cases


def make(w):
    op = "ACTIVATION"
    x = np.array([-1000, -30, -7.5, -3, -2.5, -1, -0.5, -0.0, 0, 0.25, 0.5, 1, 2, 3, 5.75, 6, 6.5, 20, 1000], f32)
    grid = np.linspace(-6, 6, 25).astype(f16)
    settings = {4: {"alpha": 0.75}, 5: {"alpha": 0.125}, 14: {"alpha": 0.5}, 16: {"minVal": -1.5, "maxVal": 2.25}}
    for kind, title in enumerate(ACTIVATIONS):
        extra = settings.get(kind, {})
        attrs = {"activationType": kind, **extra}
        args = dict(alpha=extra.get("alpha", 0.0), low=extra.get("minVal", 0.0), high=extra.get("maxVal", 0.0))
        for dtype, values in ((f32, x), (f16, grid), (f64, grid.astype(f64))):
            tol = None
            if dtype == f64:
                tol = (1e-7, 1e-7) if kind == 11 else EXACT64
            w.case("%s %s" % (title, name_of(dtype)), op, attrs, [values],
                   [rounded(activation(values, kind, **args), dtype)],
                   tol=tol, comment="the factors of SELU have nine digits" if tol == (1e-7, 1e-7) else None)
        edges = [np.inf] if kind != 8 else [3e38, -3e38]
        edges += [-np.inf] if kind not in (8, 12, 18, 19) else []
        edges += [np.nan] if kind not in (1, 3, 7, 12, 13, 14, 16, 17) else []
        edges = np.array(edges + [1e30, -1e30, 1e-30, -1e-30, 88, -88, 104, -104], f32)
        w.case("%s at the edges" % title, op, attrs, [edges], [rounded(activation(edges, kind, **args), f32)])
    for dtype in (f32, f16, f64):
        v = x.astype(dtype) if dtype != f16 else grid
        w.case("gelu approximate %s" % name_of(dtype), op, {"activationType": 19, "approximate": True}, [v],
               [rounded(activation(v, 19, approximate=True), dtype)], tol=EXACT64 if dtype == f64 else None)
    w.case("elu alpha 0 equals relu", op, {"activationType": 4}, [x], [rounded(activation(x, 1), f32)])
    w.case("leaky relu alpha 2", op, {"activationType": 5, "alpha": 2.0}, [x], [rounded(activation(x, 5, 2.0), f32)])
    w.case("leaky relu alpha negative", op, {"activationType": 5, "alpha": -0.5}, [x],
           [rounded(activation(x, 5, -0.5), f32)])
    w.case("thresholded relu alpha -2.5", op, {"activationType": 14, "alpha": -2.5}, [x],
           [rounded(activation(x, 14, -2.5), f32)])
    i = np.array([-2147483648, -7, -1, 0, 1, 9, 2147483647], np.int32)
    w.case("relu int32", op, {"activationType": 1}, [i], [np.maximum(i, 0)])
    w.case("relu of a scalar", op, {"activationType": 1}, [np.array(-2, f32)], [np.array(0, f32)])
    deep = some((1, 2, 1, 2, 1, 2, 1, 2))
    w.case("relu rank 8", op, {"activationType": 1}, [deep], [np.maximum(deep, 0)])
    none = np.zeros((2, 0, 3), f32)
    w.case("sigmoid of nothing", op, {"activationType": 2}, [none], [none])
    refuse(w, "type 20", op, {"activationType": 20}, [x], "INVALID_PARAMETER")
    refuse(w, "type 21", op, {"activationType": 21}, [x], "INVALID_PARAMETER")
    refuse(w, "type -1", op, {"activationType": -1}, [x], "INVALID_PARAMETER")
    refuse(w, "hard tanh with equal bounds", op, {"activationType": 16, "minVal": 1.0, "maxVal": 1.0}, [x],
           "INVALID_PARAMETER")
    refuse(w, "hard tanh with bounds swapped", op, {"activationType": 16, "minVal": 2.0, "maxVal": 1.0}, [x],
           "INVALID_PARAMETER")
    refuse(w, "two inputs", op, {"activationType": 1}, [x, x], "INVALID_INPUT")
    refuse(w, "bool", op, {"activationType": 1}, [np.array([True])], "INVALID_DATATYPE")
    refuse(w, "absent input", op, {"activationType": 1}, [None], "NULL_PTR")
    refuse(w, "rank 9", op, {"activationType": 1}, [np.ones((1,) * 9, f32)], "INVALID_SHAPE")


if __name__ == "__main__":
    write(make, "Expected values: torch.nn.functional in float64.", also=cases("ACTIVATION"))
