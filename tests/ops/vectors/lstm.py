"""LSTM."""
import numpy as np
import torch

from common import f16, f32, f64, loose, name_of, rounded, some, Tensor, wide, write

ATTRS = {"bidirectional": False, "hasBias": True, "inputSize": 0, "hiddenSize": 0, "numLayers": 1, "numDirections": 0,
         "dropout": 0.0, "zoneoutCell": 0.0, "zoneoutHidden": 0.0, "projSize": 0}


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def formula(attrs, x, w, u, b, h0, c0, p=None):
    """The formulas of the specification in float64."""
    x, w, u, b, h0, c0 = (wide(a) for a in (x, w, u, b, h0, c0))
    layers, directions = max(attrs["numLayers"], 1), 2 if attrs["bidirectional"] else 1
    zc, zh = attrs["zoneoutCell"], attrs["zoneoutHidden"]
    hidden = c0.shape[2]
    hy, cy = np.zeros_like(h0), np.zeros_like(c0)
    for layer in range(layers):
        results = []
        for d in range(directions):
            row = layer * directions + d
            h, c, out = h0[row], c0[row], [None] * len(x)
            for t in range(len(x))[::-1 if d else 1]:
                s = x[t] @ w[row].T + h @ u[row].T
                if attrs["hasBias"]:
                    s = s + b[row, :4 * hidden] + b[row, 4 * hidden:]
                i, o, f, g = np.split(s, 4, 1)
                new = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                out[t] = sigmoid(o) * np.tanh(new)
                if p is not None:
                    out[t] = out[t] @ wide(p)[row].T
                c, h = zc * c + (1 - zc) * new, zh * h + (1 - zh) * out[t]
            results.append(np.stack(out))
            hy[row], cy[row] = h, c
        x = np.concatenate(results, 2)
    return x, hy, cy


def library(attrs, x, w, u, b, h0, c0, p=None):
    """torch, whose blocks are i, f, g, o."""
    layers, directions, hidden = max(attrs["numLayers"], 1), 2 if attrs["bidirectional"] else 1, c0.shape[2]
    net = torch.nn.LSTM(x.shape[2], hidden, layers, bias=attrs["hasBias"], bidirectional=directions == 2,
                        proj_size=attrs["projSize"]).double()

    def blocks(a):
        i, o, f, g = np.split(wide(a), 4)
        return torch.nn.Parameter(torch.from_numpy(np.concatenate([i, f, g, o])))

    for row in range(layers * directions):
        end = "_l%d%s" % (row // directions, "_reverse" if row % directions else "")
        setattr(net, "weight_ih" + end, blocks(w[row]))
        setattr(net, "weight_hh" + end, blocks(u[row]))
        if attrs["hasBias"]:
            setattr(net, "bias_ih" + end, blocks(b[row, :4 * hidden]))
            setattr(net, "bias_hh" + end, blocks(b[row, 4 * hidden:]))
        if p is not None:
            setattr(net, "weight_hr" + end, torch.nn.Parameter(torch.from_numpy(wide(p[row]))))
    with torch.no_grad():
        y, (h, c) = net(torch.from_numpy(wide(x)), (torch.from_numpy(wide(h0)), torch.from_numpy(wide(c0))))
    return y.numpy(), h.numpy(), c.numpy()


def inputs(T, N, I, H, R=0, layers=1, directions=1, dtype=f32):
    """x, wIh, wHh, bias, hx, cx and, for R > 0, wProj."""
    rows, out = layers * directions, R or H
    shapes = [(T, N, I), (rows, 4 * H, I), (rows, 4 * H, out), (rows, 8 * H), (rows, N, out), (rows, N, H)]
    return [some(s, dtype, -4, 4) for s in shapes + ([(rows, R, H)] if R else [])]


WORKED = [  # the worked case of the specification
    ((3, 1, 2), [-0.59, -0.99, 0.8, -0.15, 0.64, -0.19]),
    ((2, 8, 2), [0.77, -0.08, -0.67, -0.97, 0.1, 0.28, 0.82, -0.82, 0.24, -0.26, 0.01, -0.71, -0.43, 0.04, 0.85, -0.78,
                 -0.02, 0.61, 0.93, -0.61, -0.75, 0.89, 0.95, -0.03, -0.89, 0.85, -0.22, 0.81, 0.24, 0.65, -0.68, 0.57]),
    ((2, 8, 2), [-0.56, -0.19, 0.69, 0.66, -0.63, -0.56, -0.2, 0.04, -0.23, -0.75, -0.51, 0.45, 0.79, -0.92, 0.12, 0.51,
                 -0.92, 0.68, -0.76, 0.2, 0.1, 0.25, -0.39, -0.16, 0.17, -0.15, 0.32, -0.11, -0.12, -0.95, 0.24, -0.02]),
    ((2, 16), [-0.53, 0.53, 0.56, -0.08, -0.64, -0.05, -0.79, -0.74, -0.14, -0.82, -0.12, 0.02, -0.92, 0.27, -0.84,
               0.47, 0.56, 0.02, -0.89, 0.01, -0.24, 0.9, -0.73, 0.71, 0.99, 0.46, 0.63, -0.61, 0.96, -0.02, 0.91, 0.83]),
    ((2, 1, 2), [-0.67, 0.58, 0.86, -0.87]),
    ((2, 1, 2), [-0.3, 0.51, -0.68, 0.79]),
    ((3, 1, 4), [-0.1876111, 0.313175, -0.2015697, 0.1967666, -0.3051716, 0.3531219, -0.0173994, 0.4468795, -0.316807,
                 0.3443646, -0.0030682, 0.3581271]),
    ((2, 1, 2), [-0.316807, 0.3443646, -0.2015697, 0.1967666]),
    ((2, 1, 2), [-0.5760132, 0.5710061, -0.6397034, 1.2459045]),
]


def make(w):
    op = "LSTM"

    def go(name, ins, constant=True, **change):
        """Weights are constants, or inputs of the run."""
        attrs = {**ATTRS, **change}
        want = formula(attrs, *ins)
        if attrs["zoneoutCell"] == 0 and attrs["zoneoutHidden"] == 0 and attrs["projSize"] < ins[5].shape[2]:
            for a, b in zip(want, library(attrs, *ins)):
                assert a.shape == b.shape and np.abs(a - b).max() < 1e-12, name
        given = [Tensor(t, constant and n in (1, 2, 3, 6)) for n, t in enumerate(ins)]
        dtype = ins[0].dtype
        w.case(name, op, attrs, given, [rounded(a, dtype.type) for a in want], tol=loose(dtype.type))

    for dtype in (f32, f16):
        kind = name_of(dtype)
        go("one step " + kind, inputs(1, 1, 2, 2, dtype=dtype))
        go("five steps " + kind, inputs(5, 1, 3, 2, dtype=dtype))
        go("a batch of 3 " + kind, inputs(4, 3, 2, 3, dtype=dtype))
        go("two directions " + kind, inputs(4, 2, 3, 2, directions=2, dtype=dtype), bidirectional=True, numDirections=2)
        go("two layers " + kind, inputs(3, 2, 4, 4, layers=2, dtype=dtype), numLayers=2)
        go("three layers, two directions " + kind, inputs(3, 2, 4, 2, layers=3, directions=2, dtype=dtype), numLayers=3,
           bidirectional=True, numDirections=2)
        go("projected " + kind, inputs(4, 2, 3, 4, 2, dtype=dtype), projSize=2)
        go("projected, two layers, two directions " + kind,
           inputs(3, 2, 4, 5, 2, layers=2, directions=2, dtype=dtype), projSize=2, numLayers=2, bidirectional=True)
        go("no bias " + kind, inputs(3, 2, 3, 2, dtype=dtype), hasBias=False)
        for zc, zh in ((0.25, 0.0), (0.0, 0.5), (0.125, 0.75), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)):
            go("zoneout %g %g %s" % (zc, zh, kind), inputs(4, 2, 3, 2, dtype=dtype), zoneoutCell=zc, zoneoutHidden=zh)
        go("zoneout, projected, two layers, two directions " + kind,
           inputs(4, 2, 4, 3, 2, layers=2, directions=2, dtype=dtype), zoneoutCell=0.25, zoneoutHidden=0.125, projSize=2,
           numLayers=2, bidirectional=True)
    go("weights told in the run", inputs(3, 2, 3, 2), False)
    go("weights told in the run, projected", inputs(3, 2, 3, 4, 2), False, projSize=2)
    go("sizes said", inputs(3, 2, 5, 4), inputSize=5, hiddenSize=4, numDirections=1)
    go("sizes said, projected", inputs(3, 2, 5, 4, 3), inputSize=5, hiddenSize=4, numDirections=1, projSize=3)
    go("0 layers are one", inputs(3, 2, 3, 2), numLayers=0)
    go("dropout is not used", inputs(3, 2, 4, 4, layers=2), numLayers=2, dropout=0.5)
    go("projected to more", inputs(3, 1, 2, 2, 5), projSize=5)
    go("one of everything", inputs(1, 1, 1, 1))
    go("five layers", inputs(3, 1, 2, 2, layers=5), numLayers=5)
    go("20 cells", inputs(2, 2, 9, 20))
    go("11 cells, two directions, projected", inputs(2, 1, 17, 11, 9, directions=2), bidirectional=True, projSize=9)
    go("60 steps", inputs(60, 1, 2, 3))
    big = inputs(3, 1, 2, 2)
    big[1] *= 100
    go("gates far out", big)
    # the bias exists, but has no effect and any shape
    ins = inputs(3, 2, 3, 2)
    attrs = {**ATTRS, "hasBias": False}
    w.case("no bias, which has another shape", op, attrs, ins[:3] + [some((3,))] + ins[4:],
           [rounded(a, f32) for a in formula(attrs, *ins)], tol=loose(f32))
    t = [np.array(v, f32).reshape(s) for s, v in WORKED]
    attrs = {**ATTRS, "bidirectional": True, "inputSize": 2, "hiddenSize": 2, "numDirections": 2}
    for a, b in zip(formula(attrs, *t[:6]), t[6:]):
        assert np.abs(a - b).max() < 1e-6
    w.case("the worked case", op, attrs, t[:6], t[6:])
    # an infinite state stays one, without a zoneout of 0 times it
    ins = [np.zeros_like(a) for a in inputs(2, 1, 1, 1)]
    ins[5][:] = np.inf
    ins[3][0, 2] = 100  # forgets nothing
    w.case("an infinite cell", op, ATTRS, ins, [np.full((2, 1, 1), 0.5, f32), np.full((1, 1, 1), 0.5, f32), ins[5]])
    ins = inputs(2, 1, 1, 1)
    ins[0][1] = np.nan
    want = formula(ATTRS, *ins)
    assert np.isnan(want[0][1]).all() and not np.isnan(want[0][0]).any()
    w.case("NaN in the second step", op, ATTRS, ins, [rounded(a, f32) for a in want], tol=loose(f32))

    def bad(name, code, ins, outs=3, says=None, **change):
        like = ins[0].dtype if ins and ins[0] is not None and not isinstance(ins[0], Tensor) else f32
        w.case("refused: " + name, op, {**ATTRS, **change}, ins, [np.zeros((1, 1, 1), like)] * outs, error=code,
               says=says)

    good = inputs(2, 2, 3, 1)
    for name in ("inputSize", "hiddenSize", "numLayers", "projSize", "numDirections"):
        bad("negative " + name, "INVALID_PARAMETER", good, **{name: -1})
    for name in ("zoneoutCell", "zoneoutHidden"):
        for value in (-0.25, 1.5, np.nan, np.inf):
            bad("%s %g" % (name, value), "INVALID_PARAMETER", good, **{name: value})
    bad("two directions, not bidirectional", "INVALID_PARAMETER", good, numDirections=2)
    bad("one direction, bidirectional", "INVALID_PARAMETER", good, numDirections=1, bidirectional=True)
    bad("three directions", "INVALID_PARAMETER", good, numDirections=3, bidirectional=True)
    bad("another inputSize", "INVALID_SHAPE", good, inputSize=4)
    bad("another hiddenSize", "INVALID_SHAPE", good, hiddenSize=3)
    bad("bidirectional, weights of one", "INVALID_SHAPE", good, bidirectional=True)
    bad("two layers, weights of one", "INVALID_SHAPE", inputs(3, 2, 2, 2), numLayers=2)
    bad("two layers, a result of another extent than x", "INVALID_SHAPE", inputs(3, 2, 3, 2, layers=2), numLayers=2)
    bad("projSize, but no weights", "NULL_PTR", good, projSize=2)
    bad("projection weights, but no projSize", "INVALID_PARAMETER", inputs(3, 2, 3, 2, 2))
    bad("another projSize", "INVALID_SHAPE", inputs(3, 2, 3, 2, 2), projSize=3)
    bad("more layers than an axis counts", "OUT_OF_MEMORY", good, numLayers=2**31 - 1, numDirections=2, bidirectional=True)
    bad("more cells than an axis counts", "OUT_OF_MEMORY", good, hiddenSize=2**31 - 1)
    names = ("x", "wIh", "wHh", "bias", "hx", "cx", "wProj")
    seven = inputs(2, 2, 2, 3, 1)
    for n, name in enumerate(names):
        for axis in range(seven[n].ndim):
            if n == 0 and axis < 2:
                continue  # the states decide
            ins = list(seven)
            ins[n] = np.concatenate([ins[n], ins[n].take([0], axis)], axis)
            bad("%s one more along axis %d" % (name, axis), "INVALID_SHAPE", ins, projSize=1)
        ins = list(seven)
        ins[n] = ins[n][0]
        bad(name + " of fewer axes", "INVALID_SHAPE", ins, says=("expected [T,N,I]", "expected [D,G,I]")[n] if n < 2 else None, projSize=1)
        ins = list(seven)
        ins[n] = None
        bad(name + " absent", "NULL_PTR", ins, projSize=1)
        if n > 0:
            ins = list(seven)
            ins[n] = ins[n].astype(f16)
            bad(name + " of float16 beside float32", "INVALID_DATATYPE", ins, projSize=1)
    bad("another batch", "INVALID_SHAPE", [seven[0][:, :1]] + seven[1:], projSize=1)
    bad("no steps", "INVALID_SHAPE", [seven[0][:0]] + seven[1:], projSize=1)
    bad("float64", "INVALID_DATATYPE", [a.astype(f64) for a in good])
    bad("int32", "INVALID_DATATYPE", [a.astype(np.int32) for a in good])
    bad("quantised", "UNSUPPORTED_OP", [Tensor(good[0].astype(np.int8), quant=[(8, 0, 0.5)])] + good[1:])
    bad("five inputs", "INVALID_INPUT", good[:5])
    bad("eight inputs", "INVALID_INPUT", seven + [seven[0]], projSize=1)
    bad("two results", "INVALID_OUTPUT", good, 2)
    bad("four results", "INVALID_OUTPUT", good, 4)
    for constant in (False, True):
        kind = ", constant weights" if constant else ""
        go("no two extents equal" + kind, inputs(6, 4, 5, 7), constant)
        go("no two extents equal, projected" + kind, inputs(6, 4, 5, 7, 3), constant, projSize=3)
    none = np.zeros((1, 0, 2), f32)
    w.case("a batch of 0", op, ATTRS, [np.zeros((3, 0, 2), f32)] + [np.ones(s, f32) for s in ((1, 8, 2), (1, 8, 2), (1, 16))] + [none, none],
           [np.zeros((3, 0, 2), f32), none, none])



if __name__ == "__main__":
    write(make, "Expected values: the formulas of the specification in float64; torch.nn.LSTM must agree where it has them.")
