"""LSTM_PEEPHOLE."""
import numpy as np
import torch

from common import f16, f32, f64, loose, name_of, rounded, some, Tensor, wide, write
from gru import applied, ELU, FUNCTIONS, HSIGMOID, LEAKY_RELU, LINEAR, SIGMOID, TANH, THRESHOLDRELU

OP = "LSTM_PEEPHOLE"
NAMES = ("x", "w", "r", "b", "sequenceLens", "initialH", "initialC", "p")


def formula(x, w, r, b=None, lens=None, h0=None, c0=None, p=None, activations=(), clip=0.0, direction=0, layout=0,
            inputForget=0, hiddenSize=0, activationAlpha=(), activationBeta=()):
    """ONNX's formulas in float64; a sequence ends with its length, as ONNX Runtime has it."""
    x, w, r = wide(x), wide(w), wide(r)
    D, H, x = w.shape[0], r.shape[2], x.transpose(1, 0, 2) if layout else x
    T, N, _ = x.shape
    b = np.zeros((D, 8 * H)) if b is None else wide(b)
    p = np.zeros((D, 3 * H)) if p is None else wide(p)
    h0, c0 = (np.zeros((D, N, H)) if s is None else wide(s).transpose(1, 0, 2) if layout else wide(s) for s in (h0, c0))
    lens = np.full(N, T) if lens is None else lens
    activations = list(activations) or [SIGMOID, TANH, TANH] * D
    y, lastH, lastC = np.zeros((T, D, N, H)), np.array(h0), np.array(c0)
    for d in range(D):
        f, g, h_ = (lambda v, k=3 * d + k: applied(activations, activationAlpha, activationBeta, k,
                                                   np.clip(v, -clip, clip) if clip > 0 else v) for k in range(3))
        P = np.split(p[d], 3)
        for n in range(N):
            h, c = h0[d, n], c0[d, n]
            for t in range(lens[n])[::-1 if direction == 1 or d == 1 else 1]:
                i, o, forget, cell = np.split(w[d] @ x[t, n] + r[d] @ h + b[d, :4 * H] + b[d, 4 * H:], 4)
                i = f(i + P[0] * c)
                forget = 1 - i if inputForget else f(forget + P[2] * c)
                c = forget * c + i * g(cell)
                h = f(o + P[1] * c) * h_(c)
                y[t, d, n] = h
            lastH[d, n], lastC[d, n] = h, c
    if layout:
        return y.transpose(2, 0, 1, 3), lastH.transpose(1, 0, 2), lastC.transpose(1, 0, 2)
    return y, lastH, lastC


def library(x, w, r, b, h0, c0, direction):
    """torch, whose blocks are i, f, g, o; neither lengths nor peepholes."""
    D, H = w.shape[0], r.shape[2]
    net = torch.nn.LSTM(x.shape[2], H, 1, bidirectional=D == 2).double()

    def blocks(a):
        i, o, f, c = np.split(wide(a), 4)
        return torch.nn.Parameter(torch.from_numpy(np.concatenate([i, f, c, o])))

    for d in range(D):
        end = "_l0" + ("_reverse" if d else "")
        for name, a in (("weight_ih", w[d]), ("weight_hh", r[d]), ("bias_ih", b[d, :4 * H]), ("bias_hh", b[d, 4 * H:])):
            setattr(net, name + end, blocks(a))
    turned = wide(x)[::-1].copy() if direction == 1 else wide(x)
    y, (h, c) = net(torch.from_numpy(turned), (torch.from_numpy(wide(h0)), torch.from_numpy(wide(c0))))
    y = y.detach().numpy().reshape(x.shape[:2] + (D, H)).transpose(0, 2, 1, 3)
    return y[::-1] if direction == 1 else y, h.detach().numpy(), c.detach().numpy()


def inputs(T, N, I, H, D=1, dtype=f32, layout=0, lens=None):
    def states():
        return some((N, D, H) if layout else (D, N, H), dtype)
    return [some((N, T, I) if layout else (T, N, I), dtype, step=0.125), some((D, 4 * H, I), dtype, step=0.0625),
            some((D, 4 * H, H), dtype, step=0.0625), some((D, 8 * H), dtype, step=0.0625), lens, states(), states(),
            some((D, 3 * H), dtype, step=0.125)]


def make(w):
    def go(name, ins, constant=True, **attrs):
        want = formula(*ins, **attrs)
        if set(attrs) <= {"direction"} and ins[4] is None and ins[7] is None and all(a is not None for a in ins[3:7:2] + ins[6:7]):
            for a, b in zip(want, library(*ins[:4], *ins[5:7], attrs.get("direction", 0))):
                assert a.shape == b.shape and np.allclose(a, b, 0, 1e-12, True), name
        given = list(ins)
        while given[-1] is None:
            given.pop()
        given = [t if t is None else Tensor(t, constant and n in (1, 2, 3, 7)) for n, t in enumerate(given)]
        dtype = ins[0].dtype
        w.case(name, OP, attrs, given, [rounded(a, dtype.type) for a in want], tol=loose(dtype.type))

    for dtype in (f32, f16):
        for direction in (0, 1, 2):
            for layout in (0, 1):
                kind = "%s direction %d layout %d" % (name_of(dtype), direction, layout)
                attrs = {"direction": direction, **({"layout": 1} if layout else {})}
                ins = inputs(4, 3, 2, 3, 2 if direction == 2 else 1, dtype, layout)
                go("all inputs " + kind, ins, **attrs)
                go("no peepholes " + kind, ins[:7] + [None], **attrs)
                go("input and forget as one " + kind, ins, inputForget=1, **attrs)
                ins[4] = np.array([4, 0, 2], np.int32)
                go("lengths " + kind, ins, **attrs)
        ins = inputs(3, 2, 3, 2, dtype=dtype)
        kind = name_of(dtype)
        go("one step " + kind, inputs(1, 1, 2, 2, dtype=dtype))
        for n in (3, 5, 6):
            go("no %s %s" % (NAMES[n], kind), ins[:n] + [None] + ins[n + 1:])
        go("weights only " + kind, ins[:3] + [None] * 5)
        go("clip " + kind, ins, clip=0.5)
        go("clip far out " + kind, ins, clip=1000.0)
        for which, what in enumerate(("gates", "cell", "state")):
            for f in FUNCTIONS:
                functions = [SIGMOID, TANH, TANH]
                functions[which] = f
                go("activation %d of the %s %s" % (f, what, kind), ins, activations=functions)
        go("others backward " + kind, inputs(3, 2, 3, 2, 2, dtype), direction=2, activations=[SIGMOID, TANH, TANH, 8, 1, 9])
    for kind in (np.int32, np.int64):
        go("lengths of " + name_of(kind), inputs(5, 3, 2, 2, 2, lens=np.array([1, 5, 3], kind)), direction=2)
    go("weights told in the run", inputs(3, 2, 3, 2), False)
    go("size said", inputs(3, 2, 5, 4), hiddenSize=4)
    go("one of everything", inputs(1, 1, 1, 1))
    go("20 features", inputs(2, 2, 9, 20))
    go("17 to 11 features, two directions", inputs(2, 1, 17, 11, 2), direction=2)
    go("40 steps", inputs(40, 1, 2, 3))
    ins = inputs(3, 1, 2, 2)
    ins[1] *= 100
    go("gates far out", ins)
    ins = inputs(3, 1, 2, 2)
    ins[0][1] = np.nan
    go("NaN in the second step", ins)

    go("HSIGMOID with parameters, clipped", inputs(3, 2, 3, 2, 2), direction=2, clip=1.5,
       activations=[HSIGMOID, TANH, HSIGMOID, SIGMOID, HSIGMOID, TANH], activationAlpha=[0.25, 0.0, 0.75, 0.0, 0.5, 0.0],
       activationBeta=[0.5, 0.0, 0.125, 0.0, 0.0, 0.0])

    go("ELU, LEAKY_RELU, THRESHOLDRELU, LINEAR and TANH with parameters", inputs(3, 2, 3, 2, 2), direction=2,
       activations=[LINEAR, LEAKY_RELU, TANH, THRESHOLDRELU, ELU, TANH], activationAlpha=[0.5, 0.25, 1.5, 0.125, 0.75, 0.0],
       activationBeta=[0.25, 0.0, 0.5, 0.0, 0.0, 0.0])

    def bad(name, code, ins, outs=3, run=False, says=None, **attrs):
        like = ins[0].dtype if ins and ins[0] is not None and not isinstance(ins[0], Tensor) else f32
        w.case("refused: " + name, OP, attrs, ins, [np.zeros((1, 1, 1), like)] * outs, says=says,
               **{"run_error" if run else "error": code})

    good = inputs(2, 2, 3, 1)
    for value in (-1, 3):
        ins = list(good)
        ins[4] = np.array([1, value], np.int64)
        bad("length %d of 2" % value, "INVALID_PARAMETER", ins, run=True,
            says="sequenceLens[1] is %d, expected 0 to 2" % value)
    for value in (-0.5, np.nan):
        bad("clip %g" % value, "INVALID_PARAMETER", good, clip=value)
    bad("negative hiddenSize", "INVALID_PARAMETER", good, hiddenSize=-1)
    bad("another hiddenSize", "INVALID_SHAPE", good, hiddenSize=2)
    bad("hiddenSize too large", "OUT_OF_MEMORY", good, hiddenSize=2**31 - 1)
    bad("layout 2", "INVALID_PARAMETER", good, layout=2)
    bad("direction 3", "INVALID_PARAMETER", good, direction=3)
    bad("two directions, weights of one", "INVALID_SHAPE", good, direction=2)
    bad("two activations", "INVALID_PARAMETER", good, activations=[SIGMOID, TANH])
    for f in (0, 3, 20):
        bad("activation %d" % f, "INVALID_PARAMETER", good, activations=[SIGMOID, TANH, f])
    full = inputs(2, 3, 2, 4, lens=np.array([1, 2, 1], np.int32))
    for n, name in enumerate(NAMES):
        for axis in range(full[n].ndim):
            if n > 0 or axis > 0:  # else more steps
                ins = list(full)
                ins[n] = np.concatenate([ins[n], ins[n].take([0], axis)], axis)
                bad("%s one more along axis %d" % (name, axis), "INVALID_SHAPE", ins)
        bad(name + " of fewer axes", "INVALID_SHAPE", full[:n] + [full[n][0]] + full[n + 1:])
        bad(name + " of float64", "INVALID_DATATYPE", full[:n] + [full[n].astype(f64)] + full[n + 1:])
        if n < 3:
            bad(name + " absent", "NULL_PTR", full[:n] + [None] + full[n + 1:])
        if n not in (0, 4):
            bad(name + " of float16 beside float32", "INVALID_DATATYPE", full[:n] + [full[n].astype(f16)] + full[n + 1:])
    bad("no steps", "INVALID_SHAPE", [full[0][:0]] + full[1:])
    bad("quantised", "UNSUPPORTED_OP", [Tensor(good[0].astype(np.int8), quant=[(8, 0, 0.5)])] + good[1:])
    bad("two inputs", "INVALID_INPUT", good[:2])
    bad("nine inputs", "INVALID_INPUT", full + [full[0]])
    bad("two results", "INVALID_OUTPUT", good, 2)
    for layout in (0, 1):
        for constant in (False, True):
            go("no two extents equal, layout %d%s" % (layout, ", constant" if constant else ""),
               inputs(6, 4, 5, 7, layout=layout), constant, **({"layout": 1} if layout else {}))
    none = np.zeros((1, 0, 2), f32)
    ones = [np.ones(s, f32) for s in ((1, 8, 2), (1, 8, 2), (1, 16))]
    w.case("a batch of 0", OP, {}, [np.zeros((3, 0, 2), f32)] + ones + [None, none, none, np.ones((1, 6), f32)],
           [np.zeros((3, 1, 0, 2), f32), none, none])



if __name__ == "__main__":
    write(make, "Expected values: ONNX's formulas in float64; torch.nn.LSTM must agree where it has them.")
