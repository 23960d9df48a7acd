"""GRU."""
import numpy as np
import torch

from common import f16, f32, f64, loose, name_of, rounded, some, Tensor, wide, write

SIGMOID, TANH, HSIGMOID = 2, 10, 13
ELU, LEAKY_RELU, THRESHOLDRELU, LINEAR = 4, 5, 14, 15
FUNCTIONS = {1: lambda v: np.where(v > 0, v, 0), SIGMOID: lambda v: 1 / (1 + np.exp(-v)), 8: lambda v: v / (1 + np.abs(v)),
             9: lambda v: np.logaddexp(v, 0), TANH: np.tanh, HSIGMOID: lambda v: np.clip(v / 6 + 0.5, 0, 1)}


def applied(activations, alpha, beta, which, v):
    """Activation number `which` of v, with its parameters: ONNX's definitions of RNN (ScaledTanh is TANH, Affine LINEAR)."""
    f = activations[which]
    a = float(f32(alpha[which] if len(alpha) else {HSIGMOID: 1 / 6, LEAKY_RELU: 0.01, TANH: 0}.get(f, 1)))
    b = float(f32(beta[which] if len(beta) else {HSIGMOID: 0.5, TANH: 1}.get(f, 0)))
    if f == HSIGMOID and len(alpha) + len(beta) > 0:
        return np.clip(a * v + b, 0, 1)
    if f == TANH and a != 0:
        return a * np.tanh(b * v)
    return {LEAKY_RELU: lambda: np.where(v >= 0, v, a * v), ELU: lambda: np.where(v >= 0, v, a * np.expm1(v)),
            THRESHOLDRELU: lambda: np.where(v >= a, v, 0), LINEAR: lambda: a * v + b}.get(f, lambda: FUNCTIONS[f](v))()


def formula(gates, x, w, r, b=None, lens=None, h0=None, activations=(), clip=0.0, direction=0, layout=0,
            linearBeforeReset=0, hiddenSize=0, activationAlpha=(), activationBeta=()):
    """ONNX's formulas of GRU (gates 3) and RNN (1) in float64; a sequence ends with its length, as ONNX Runtime has it."""
    x, w, r = wide(x), wide(w), wide(r)
    D, H, x = w.shape[0], r.shape[2], x.transpose(1, 0, 2) if layout else x
    T, N, _ = x.shape
    b = np.zeros((D, 2 * gates * H)) if b is None else wide(b)
    h0 = np.zeros((D, N, H)) if h0 is None else wide(h0).transpose(1, 0, 2) if layout else wide(h0)
    lens = np.full(N, T) if lens is None else lens
    activations = list(activations) or ([SIGMOID, TANH] if gates == 3 else [TANH]) * D
    y, last = np.zeros((T, D, N, H)), np.array(h0)

    def act(which, v):
        return applied(activations, activationAlpha, activationBeta, which, np.clip(v, -clip, clip) if clip > 0 else v)

    for d in range(D):
        back, per = direction == 1 or d == 1, len(activations) // D
        W, R = np.split(w[d], gates), np.split(r[d], gates)
        B, C = np.split(b[d, :gates * H], gates), np.split(b[d, gates * H:], gates)
        for n in range(N):
            h = h0[d, n]
            for t in range(lens[n])[::-1 if back else 1]:
                a = x[t, n]
                if gates == 1:
                    h = act(d * per, W[0] @ a + R[0] @ h + B[0] + C[0])
                else:
                    z, s = (act(d * per, W[k] @ a + R[k] @ h + B[k] + C[k]) for k in (0, 1))
                    if linearBeforeReset:
                        m = act(d * per + 1, W[2] @ a + s * (R[2] @ h + C[2]) + B[2])
                    else:
                        m = act(d * per + 1, W[2] @ a + R[2] @ (s * h) + C[2] + B[2])
                    h = (1 - z) * m + z * h
                y[t, d, n] = h
            last[d, n] = h
    return (y.transpose(2, 0, 1, 3), last.transpose(1, 0, 2)) if layout else (y, last)


def library(gates, x, w, r, b, h0, direction, nonlinearity="tanh"):
    """torch, whose blocks are r, z, n and whose GRU is linear before the reset; no lengths."""
    D, H = w.shape[0], r.shape[2]
    more = {} if gates == 3 else {"nonlinearity": nonlinearity}
    net = (torch.nn.GRU if gates == 3 else torch.nn.RNN)(x.shape[2], H, 1, bidirectional=D == 2, **more).double()

    def blocks(a):
        parts = np.split(wide(a), gates)
        return torch.nn.Parameter(torch.from_numpy(np.concatenate([parts[1], parts[0], parts[2]] if gates == 3 else parts)))

    for d in range(D):
        end = "_l0" + ("_reverse" if d else "")
        for name, a in (("weight_ih", w[d]), ("weight_hh", r[d]), ("bias_ih", b[d, :gates * H]), ("bias_hh", b[d, gates * H:])):
            setattr(net, name + end, blocks(a))
    with torch.no_grad():
        y, h = net(torch.from_numpy(wide(x)[::-1 if direction == 1 else 1].copy()), torch.from_numpy(wide(h0)))
    y = y.numpy()[::-1 if direction == 1 else 1]
    return y.reshape(y.shape[0], y.shape[1], D, H).transpose(0, 2, 1, 3), h.numpy()


def inputs(gates, T, N, I, H, D=1, dtype=f32, layout=0):
    """x, w, r, b, sequenceLens, initialH."""
    shapes = [(T, N, I), (D, gates * H, I), (D, gates * H, H), (D, 2 * gates * H), (D, N, H)]
    x, w, r, b, h0 = (some(s, dtype, -4, 4) for s in shapes)
    if layout:
        x, h0 = x.transpose(1, 0, 2).copy(), h0.transpose(1, 0, 2).copy()
    return [x, w, r, b, None, h0]


def cases(w, op, gates):
    def go(name, ins, constant=True, **attrs):
        want = formula(gates, *ins, **attrs)
        plain = not attrs.get("clip") and not attrs.get("layout") and ins[4] is None and ins[5] is not None
        if plain and ins[3] is not None and not attrs.get("activations") and (gates == 1 or attrs.get("linearBeforeReset")):
            for a, b in zip(want, library(gates, *ins[:4], ins[5], attrs.get("direction", 0))):
                assert a.shape == b.shape and np.allclose(a, b, 0, 1e-12, True), name
        given = list(ins)
        while given[-1] is None:
            given.pop()
        given = [t if t is None else Tensor(t, constant and n in (1, 2, 3)) for n, t in enumerate(given)]
        dtype = ins[0].dtype
        w.case(name, op, attrs, given, [rounded(a, dtype.type) for a in want], tol=loose(dtype.type))

    linear = ({}, {"linearBeforeReset": 1}) if gates == 3 else ({},)
    for dtype in (f32, f16):
        for more in linear:
            for direction in (0, 1, 2):
                for layout in (0, 1):
                    kind = "%s direction %d layout %d%s" % (name_of(dtype), direction, layout, " linear" if more else "")
                    attrs = {"direction": direction, "layout": layout, **more}
                    D = 2 if direction == 2 else 1
                    ins = inputs(gates, 4, 3, 2, 3, D, dtype, layout)
                    go("all inputs " + kind, ins, **attrs)
                    ins[4] = np.array([4, 0, 2], np.int32)
                    go("lengths " + kind, ins, **attrs)
            ins = inputs(gates, 3, 2, 3, 2, dtype=dtype)
            kind = "%s%s" % (name_of(dtype), " linear" if more else "")
            go("one step " + kind, inputs(gates, 1, 1, 2, 2, dtype=dtype), **more)
            go("no bias " + kind, ins[:3] + [None, None, ins[5]], **more)
            go("no state " + kind, ins[:4] + [None, None], **more)
            go("weights only " + kind, ins[:3] + [None] * 3, **more)
            go("clip " + kind, ins, clip=0.5, **more)
            go("clip far out " + kind, ins, clip=1000.0, **more)
            for f in FUNCTIONS:
                if gates == 3:
                    go("gates' activation %d %s" % (f, kind), ins, activations=[f, TANH], **more)
                    go("state's activation %d %s" % (f, kind), ins, activations=[SIGMOID, f], **more)
                else:
                    go("activation %d %s" % (f, kind), ins, activations=[f])
            both = inputs(gates, 3, 2, 3, 2, 2, dtype)
            go("another activation backward " + kind, both, direction=2,
               activations=[SIGMOID, TANH, SIGMOID, 8] if gates == 3 else [8, TANH], **more)
    n = 2 if gates == 3 else 1
    for name, more in (("alpha", {"activationAlpha": [0.25, 0.75][:n]}), ("beta", {"activationBeta": [0.25, 0.0][:n]}),
                       ("both, clipped", {"activationAlpha": [0.2, 1.0][:n], "activationBeta": [0.5, 0.125][:n], "clip": 0.75})):
        go("HSIGMOID with " + name, inputs(gates, 3, 2, 3, 2), activations=[HSIGMOID] * n, **more)
    ins = inputs(gates, 5, 3, 2, 2, 2)
    for kind in (np.int32, np.int64):
        ins[4] = np.array([1, 5, 3], kind)
        go("lengths of " + name_of(kind), ins, direction=2)
    go("weights told in the run", inputs(gates, 3, 2, 3, 2), False)
    go("size said", inputs(gates, 3, 2, 5, 4), hiddenSize=4)
    go("one of everything", inputs(gates, 1, 1, 1, 1))
    go("20 features", inputs(gates, 2, 2, 9, 20))
    go("17 to 11 features, two directions", inputs(gates, 2, 1, 17, 11, 2), direction=2)
    go("40 steps", inputs(gates, 40, 1, 2, 3))
    ins = inputs(gates, 3, 1, 2, 2)
    ins[1] *= 100
    go("gates far out", ins)
    ins = inputs(gates, 3, 1, 2, 2)
    ins[0][1] = np.nan
    go("NaN in the second step", ins)
    go("NaN in the second step, clipped", ins, clip=1.0)
    for name, f, alpha, beta in (("ELU", ELU, 0.75, 0), ("LEAKY_RELU", LEAKY_RELU, 0.25, 0), ("THRESHOLDRELU", THRESHOLDRELU, 0.125, 0),
                                 ("LINEAR", LINEAR, 0.5, -0.25), ("TANH", TANH, 1.5, 0.75)):
        go(name + " of alpha and beta", inputs(gates, 3, 2, 3, 2), activations=[f] * n, activationAlpha=[alpha] * n, activationBeta=[beta] * n)
        go(name + " of alpha", inputs(gates, 3, 2, 3, 2), activations=[f] * n, activationAlpha=[alpha] * n)
        go(name + " of defaults", inputs(gates, 3, 2, 3, 2), activations=[f] * n)
        go(name + " backward", inputs(gates, 3, 2, 3, 2, 2), direction=2, activations=[TANH] * n + [f] * n,
           activationAlpha=[0.0] * n + [alpha] * n, activationBeta=[0.0] * n + [beta] * n)

    def bad(name, code, ins, outs=2, run=False, says=None, **attrs):
        like = ins[0].dtype if ins and ins[0] is not None and not isinstance(ins[0], Tensor) else f32
        w.case("refused: " + name, op, attrs, ins, [np.zeros((1, 1, 1), like)] * outs, says=says,
               **{"run_error" if run else "error": code})

    good = inputs(gates, 2, 2, 3, 1)
    for value in (-1, 3, 2):
        ins = list(good)
        ins[4] = np.array([1, value], np.int64)
        if value == 2:
            go("a length of all steps", ins)
        else:
            bad("length %d of 2" % value, "INVALID_PARAMETER", ins, run=True,
                says="sequenceLens[1] is %d, expected 0 to 2" % value)
    for value in (-0.5, np.nan):
        bad("clip %g" % value, "INVALID_PARAMETER", good, clip=value)
    bad("negative hiddenSize", "INVALID_PARAMETER", good, hiddenSize=-1)
    bad("another hiddenSize", "INVALID_SHAPE", good, hiddenSize=2)
    bad("hiddenSize too large", "OUT_OF_MEMORY", good, hiddenSize=2**31 - 1)
    bad("layout 2", "INVALID_PARAMETER", good, layout=2)
    bad("layout -1", "INVALID_PARAMETER", good, layout=-1)
    bad("direction 3", "INVALID_PARAMETER", good, direction=3)
    bad("two directions, weights of one", "INVALID_SHAPE", good, direction=2)
    bad("one direction, weights of two", "INVALID_SHAPE", inputs(gates, 2, 2, 3, 1, 2))
    bad("too few activations", "INVALID_PARAMETER", inputs(gates, 2, 2, 3, 1, 2), direction=2, activations=[TANH])
    bad("too many activations", "INVALID_PARAMETER", good, activations=[TANH] * 4)
    bad("too few parameters", "INVALID_PARAMETER", inputs(gates, 2, 2, 3, 1, 2), direction=2, activationAlpha=[0.5])
    bad("too many parameters", "INVALID_PARAMETER", good, activationBeta=[0.5] * 3)
    for f in (0, 3, 6, 11, 16, 20, -1):
        bad("activation %d" % f, "INVALID_PARAMETER", good, activations=[TANH] * (gates // 2) + [f])
    names = ("x", "w", "r", "b", "sequenceLens", "initialH")
    full = inputs(gates, 2, 3, 2, 4)
    full[4] = np.array([1, 2, 1], np.int32)
    for n, name in enumerate(names):
        for axis in range(full[n].ndim):
            if n == 0 and axis == 0:
                continue  # more steps
            ins = list(full)
            ins[n] = np.concatenate([ins[n], ins[n].take([0], axis)], axis)
            bad("%s one more along axis %d" % (name, axis), "INVALID_SHAPE", ins)
        ins = list(full)
        ins[n] = ins[n][0]
        bad(name + " of fewer axes", "INVALID_SHAPE", ins, says=", expected [" if name in "xr" else None)
        ins = list(full)
        ins[n] = ins[n].astype(f64)
        bad(name + " of float64", "INVALID_DATATYPE", ins)
        if n < 3:
            ins = list(full)
            ins[n] = None
            bad(name + " absent", "NULL_PTR", ins)
        if n not in (0, 4):
            ins = list(full)
            ins[n] = ins[n].astype(f16)
            bad(name + " of float16 beside float32", "INVALID_DATATYPE", ins)
    bad("no steps", "INVALID_SHAPE", [full[0][:0]] + full[1:])
    bad("int32", "INVALID_DATATYPE", [a if a is None else a.astype(np.int32) for a in good])
    bad("quantised", "UNSUPPORTED_OP", [Tensor(good[0].astype(np.int8), quant=[(8, 0, 0.5)])] + good[1:])
    bad("two inputs", "INVALID_INPUT", good[:2])
    bad("seven inputs", "INVALID_INPUT", full + [full[0]])
    bad("one result", "INVALID_OUTPUT", good, 1)
    bad("three results", "INVALID_OUTPUT", good, 3)
    for layout in (0, 1):
        for constant in (False, True):
            go("no two extents equal, layout %d%s" % (layout, ", constant" if constant else ""),
               inputs(gates, 6, 4, 5, 7, layout=layout), constant, layout=layout)
    x, r, b, h0 = np.zeros((3, 0, 2), f32), np.ones((1, gates * 2, 2), f32), np.ones((1, gates * 4), f32), np.zeros((1, 0, 2), f32)
    results = [np.zeros((3, 1, 0, 2), f32), h0]
    w.case("a batch of 0", op, {}, [x, r, r, b, np.zeros(0, np.int32), h0], results)
    w.case("a batch of 0, batch first", op, {"layout": 1}, [x.transpose(1, 0, 2), r, r, b, None, h0.transpose(1, 0, 2)],
           [np.zeros((0, 3, 1, 2), f32), h0.transpose(1, 0, 2)])


if __name__ == "__main__":
    write(lambda w: cases(w, "GRU", 3), "Expected values: ONNX's formulas in float64; torch.nn.GRU must agree where it has them.")
