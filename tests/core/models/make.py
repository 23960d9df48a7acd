#!/usr/bin/env python3
"""Writes the models that tests/core/test_acceptance.c runs, NAME.onnx, and the results of ONNX Runtime, NAME.vec (its format:
tests/ops/vectors/README.md; cases have no operator).

    python3 make.py [--check] [--work DIR] [NAME...]      run from the repository's root

DIR (build/compare) is where tests/compare/run.sh has put ONNX Runtime. Each model has a second definition here in numpy,
float64, which must agree, or nothing is written. With --check nothing is written either: the results of ONNX Runtime must equal
the stored ones (`make compare`). Needs numpy and onnx.

The models are dynamic where exported ones are: dimensions computed from dimensions, values that grow in a Loop, trip counts,
indices of nonzero elements. Cases: the least dimensions (0 or 1), odd ones, and the largest that the test allows. Inputs are
small multiples of 1/4: without divisions and long sums, results are exact, and the tolerance is 0.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.dont_write_bytecode = True
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
MODELS = {}

# Convolutions of 27 and 36 products between -1 and 1 are added in another order by each program: n * 2^-24 * sum|a*b|, 36 *
# 6e-8 * 12 = 2.6e-5 at the very most; the measured error is a hundredth of it. Softmax of at most 8, and products of 8.
LOOSE = (2e-5, 2e-5)
EXACT = (0, 0)


def f32(value):
    return np.array(value, np.float32)


def i64(*values):
    return np.array(values, np.int64)


def number(value):
    return np.array(value, np.int64)


def quarters(*shape, seed=1):
    """-1 .. 1 by quarters."""
    return (np.random.RandomState(seed).randint(-4, 5, shape) / 4).astype(np.float32)


class Graph:
    """A graph under construction: values are names, arrays become constants of it."""

    def __init__(self, name):
        self.name, self.nodes, self.constants, self.inputs, self.outputs = name, [], [], [], []
        self.opset = 14

    def value(self, x):
        if isinstance(x, str):
            return x
        if x is None:
            return ""
        name = "%s_c%d" % (self.name, len(self.constants))
        self.constants.append(numpy_helper.from_array(np.asarray(x), name))
        return name

    def op(self, kind, *inputs, out=None, **attributes):
        """A node; returns its result, or the results of the list out."""
        names = [out] if isinstance(out, str) else out or ["%s_%s%d" % (self.name, kind.lower(), len(self.nodes))]
        self.nodes.append(helper.make_node(kind, [self.value(x) for x in inputs], names,
                                           name="%s/%s%d" % (self.name, kind, len(self.nodes)), **attributes))
        return names if isinstance(out, list) else names[0]

    def input(self, name, element, dims):
        self.inputs.append(helper.make_tensor_value_info(name, element, dims))
        return name

    def output(self, name, element, dims):
        self.outputs.append(helper.make_tensor_value_info(name, element, dims))

    def body(self):
        """Inputs and first output of a Loop's body; the condition is unchanged."""
        self.input(self.name + "_i", INT64, [])
        self.input(self.name + "_go", BOOL, [])
        return self.name + "_i", self.name + "_go"

    def extents(self, x, *axes):
        """Shape -> Gather for each axis: values of one element."""
        shape = self.op("Shape", x)
        return [self.op("Gather", shape, i64(axis), axis=0) for axis in axes]

    def proto(self):
        return helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.constants)


def model(cases, tolerance=EXACT):
    """Registers a function that fills a graph and returns its second definition: inputs to outputs, in numpy."""
    def register(function):
        MODELS[function.__name__] = (function, cases, tolerance)
        return function
    return register


# ---- second definitions of operators that numpy lacks, in float64 ----

def convolve(x, w, bias, stride):
    """[N,C,H,W] with pads of 1."""
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    rows, columns = (x.shape[2] - 3) // stride + 1, (x.shape[3] - 3) // stride + 1
    y = np.zeros((x.shape[0], w.shape[0], rows, columns))
    for r in range(rows):
        for c in range(columns):
            part = x[:, :, r * stride:r * stride + 3, c * stride:c * stride + 3]
            y[:, :, r, c] = np.tensordot(part, w, ([1, 2, 3], [1, 2, 3])) + bias
    return y


def stretch(x, axis, extent):
    """Linear, pytorch_half_pixel."""
    have = x.shape[axis]
    at = np.clip((np.arange(extent) + 0.5) * have / extent - 0.5, 0, have - 1) * (extent > 1)
    low = np.floor(at).astype(int)
    high, part = np.minimum(low + 1, have - 1), at - low
    part = part.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# ---- the models ----

def images(*extents):
    return [("%dx%dx%d" % e, [quarters(e[0], 3, e[1], e[2], seed=sum(e))]) for e in extents]


@model(images((1, 1, 1), (1, 2, 9), (2, 7, 5), (1, 8, 8), (2, 11, 13)), LOOSE)
def image(g):
    """A network over images of any size: Shape -> Gather -> Concat -> Reshape, Resize to sizes that are computed, Pad to
    a multiple of 8."""
    w1, b1, w2, mix = quarters(4, 3, 3, 3), quarters(4, seed=2), quarters(2, 4, 3, 3, seed=3), quarters(4, 4, seed=4)
    x = g.input("x", FLOAT, ["n", 3, "h", "w"])
    small = g.op("Relu", g.op("Conv", x, w1, b1, pads=[1] * 4, strides=[2, 2], kernel_shape=[3, 3]))
    n, h, w = g.extents(small, 0, 2, 3)
    flat = g.op("Reshape", small, g.op("Concat", n, i64(4), i64(-1), axis=0))
    mixed = g.op("Reshape", g.op("MatMul", mix, flat), g.op("Concat", n, i64(4), h, w, axis=0))
    n, h, w = g.extents(x, 0, 2, 3)
    large = g.op("Resize", mixed, None, None, g.op("Concat", n, i64(4), h, w, axis=0), mode="linear",
                 coordinate_transformation_mode="pytorch_half_pixel")
    sides = g.op("Slice", g.op("Shape", x), i64(2), i64(4))
    more = g.op("Sub", g.op("Mul", g.op("Div", g.op("Add", sides, i64(7)), i64(8)), i64(8)), sides)
    padded = g.op("Pad", large, g.op("Concat", i64(0, 0, 0, 0, 0, 0), more, axis=0), f32(0.5), out="padded")
    g.op("Conv", padded, w2, pads=[1] * 4, kernel_shape=[3, 3], out="y")
    g.output("y", FLOAT, ["n", 2, "h8", "w8"])

    def second(x):
        y = np.maximum(convolve(x, w1, b1, 2), 0)
        y = np.einsum("ij,njhw->nihw", mix, y)
        y = stretch(stretch(y, 2, x.shape[2]), 3, x.shape[3])
        y = np.pad(y, ((0, 0), (0, 0), (0, -x.shape[2] % 8), (0, -x.shape[3] % 8)), constant_values=0.5)
        return [convolve(y, w2, 0, 1)]
    return second


def frames(*extents):
    return [("%dx%d" % e, [quarters(e[0], e[1], 2, seed=e[1])]) for e in extents]


@model(frames((1, 1), (1, 3), (3, 2), (2, 5), (4, 5)))
def frame(g):
    """Pads computed from dimensions: of listed axes, not in their order, and of all, mirrored."""
    g.opset = 18
    x = g.input("x", FLOAT, ["n", "m", 2])
    n, m = g.extents(x, 0, 1)
    g.op("Pad", x, g.op("Concat", n, i64(1), i64(0), m, axis=0), f32(-7), i64(1, -3), out="listed")
    less = [g.op("Sub", e, i64(1)) for e in (n, m)]
    g.op("Pad", x, g.op("Concat", less[0], i64(0, 1), i64(0), less[1], i64(0), axis=0), mode="reflect", out="mirrored")
    g.output("listed", FLOAT, ["a", "b", 2])
    g.output("mirrored", FLOAT, ["c", "d", 3])

    def second(x):
        n, m, _ = x.shape
        return [np.pad(x, ((1, m), (n, 0), (0, 0)), constant_values=-7), np.pad(x, ((n - 1, 0), (0, m - 1), (1, 0)), "reflect")]
    return second


def caches(*extents):
    return [("%d at first, %d trips" % e, [number(e[1]), quarters(e[0], 4, seed=e[0]), quarters(1, 4, seed=9)])
            for e in extents]


@model(caches((0, 0), (1, 0), (0, 1), (1, 3), (0, 3), (5, 2), (4, 4), (5, 3)), LOOSE)
def cache(g):
    """Attention over a cache that each trip makes one row longer."""
    w = quarters(4, 4, seed=5)
    trips, first, x = g.input("trips", INT64, []), g.input("first", FLOAT, ["k", 4]), g.input("x", FLOAT, [1, 4])
    b = Graph("step")
    b.body()
    rows, at = b.input("rows", FLOAT, ["k", 4]), b.input("at", FLOAT, [1, 4])
    b.op("Identity", "step_go", out="go_on")
    row = b.op("MatMul", at, w)
    b.op("Concat", rows, row, axis=0, out="longer")
    scores = b.op("Softmax", b.op("MatMul", row, b.op("Transpose", "longer", perm=[1, 0])), axis=-1)
    b.op("MatMul", scores, "longer", out="next")
    b.op("Shape", "longer", out="length")
    b.output("go_on", BOOL, [])
    b.output("longer", FLOAT, ["k1", 4])
    b.output("next", FLOAT, [1, 4])
    b.output("length", INT64, [2])
    b.output("next", FLOAT, [1, 4])
    g.op("Loop", trips, None, first, x, body=b.proto(), out=["kept", "last", "lengths", "all"])
    g.output("kept", FLOAT, ["l", 4])
    g.output("last", FLOAT, [1, 4])
    g.output("lengths", INT64, ["t", 2])
    g.output("all", FLOAT, ["t", 1, 4])

    def second(trips, first, x):
        lengths, every = np.zeros((0, 2), np.int64), np.zeros((0, 1, 4))
        for _ in range(int(trips)):
            row = x @ w
            first = np.concatenate([first, row])
            x = softmax(row @ first.T) @ first
            lengths, every = np.concatenate([lengths, [first.shape]]), np.concatenate([every, x[None]])
        return [first, x, lengths, every]
    return second


def nests(*extents):
    return [("%s, %d trips, %d" % (("else", "then")[flag], trips, n),
             [np.array(flag == 1), number(trips), quarters(n, seed=n + trips), f32(limit)]) for flag, trips, n, limit in extents]


@model(nests((0, 0, 0, 1), (1, 0, 0, 1), (1, 0, 1, 1), (1, 1, 1, 0), (0, 3, 3, 1), (1, 3, 3, 1), (1, 6, 5, 2), (1, 5, 7, -1),
             (0, 6, 7, 0), (1, 6, 7, 1.5)))
def nested(g):
    """An If in a Loop in an If. The results of both branches have the same names; the branches use values from all enclosing
    graphs."""
    flag, trips = g.input("flag", BOOL, []), g.input("trips", INT64, [])
    x, limit = g.input("x", FLOAT, ["n"]), g.input("limit", FLOAT, [])
    double = g.op("Add", x, x, out="double")
    yes, no = Graph("yes"), Graph("no")
    step = yes.op("Abs", double, out="inside")           # of the branch, which the graphs in it take
    b = Graph("trip")
    b.body()
    v = b.input("v", FLOAT, ["n"])
    b.op("Identity", "trip_go", out="go_on")
    b.op("ReduceSum", v, i64(0), keepdims=0, out="sum")
    high, low = Graph("high"), Graph("low")
    high.op("Sub", v, double, out="t")
    high.op("Add", "t", x, out="r")
    low.op("Add", v, step, out="t")
    low.op("Mul", "t", low.op("Cast", "trip_i", to=FLOAT), out="r")
    for branch in (high, low):
        branch.output("r", FLOAT, ["n"])
    b.op("If", b.op("Greater", "sum", limit), then_branch=high.proto(), else_branch=low.proto(), out="changed")
    b.output("go_on", BOOL, [])
    b.output("changed", FLOAT, ["n"])
    b.output("sum", FLOAT, [])
    yes.op("Loop", trips, None, x, body=b.proto(), out=["r", "s"])
    no.op("Neg", double, out="t")
    no.op("Mul", "t", x, out="r")
    no.op("Identity", f32([0.5, 0.25]), out="s")
    for branch in (yes, no):
        branch.output("r", FLOAT, ["n"])
        branch.output("s", FLOAT, ["m"])
    g.op("If", flag, then_branch=yes.proto(), else_branch=no.proto(), out=["y", "sums"])
    g.output("y", FLOAT, ["n"])
    g.output("sums", FLOAT, ["m"])

    def second(flag, trips, x, limit):
        if not flag:
            return [-2 * x * x, f32([0.5, 0.25])]
        v, sums = x, []
        for i in range(int(trips)):
            sums.append(v.sum())
            v = v - x if v.sum() > limit else (v + abs(2 * x)) * i
        return [v, np.array(sums)]
    return second


def pairs(*extents):
    return [("%d trips, %d" % e, [number(e[0]), quarters(e[1], 2, seed=1), quarters(e[1], 2, seed=2)]) for e in extents]


@model(pairs((0, 0), (1, 0), (0, 1), (1, 1), (2, 3), (3, 3), (0, 5), (5, 5)))
def swap(g):
    """A body that returns its two values in the other order and does nothing else; it scans one as it came."""
    trips = g.input("trips", INT64, [])
    a, b = g.input("a", FLOAT, ["n", 2]), g.input("b", FLOAT, ["n", 2])
    t = Graph("trip")
    _, go = t.body()
    t.input("p", FLOAT, ["n", 2])
    t.input("q", FLOAT, ["n", 2])
    t.output(go, BOOL, [])
    for name in ("q", "p", "p"):
        t.output(name, FLOAT, ["n", 2])
    g.op("Loop", trips, None, a, b, body=t.proto(), out=["a2", "b2", "firsts"])
    g.output("a2", FLOAT, ["n", 2])
    g.output("b2", FLOAT, ["n", 2])
    g.output("firsts", FLOAT, ["t", "n", 2])

    def second(trips, a, b):
        both = [a, b]
        firsts = np.array([both[i % 2] for i in range(int(trips))]).reshape((int(trips),) + a.shape)
        return [both[int(trips) % 2], both[1 - int(trips) % 2], firsts]
    return second


def gates(*extents):
    return [("%s, %d trips, %d" % (("not", "once and on")[go], trips, n), [number(trips), np.array(go == 1), quarters(n, 3, seed=n)])
            for go, trips, n in extents]


@model(gates((0, 0, 0), (0, 3, 1), (1, 0, 3), (1, 1, 0), (1, 1, 1), (1, 3, 3), (0, 5, 4), (1, 5, 4)))
def same(g):
    """A body that returns its inputs, including the condition; it scans its input, the trip and a value from outside."""
    trips, go = g.input("trips", INT64, []), g.input("go", BOOL, [])
    x = g.input("x", FLOAT, ["n", 3])
    sums = g.op("ReduceSum", x, i64(1), keepdims=0)
    t = Graph("trip")
    i, on = t.body()
    t.input("v", FLOAT, ["n", 3])
    t.op("Identity", i, out="number")
    t.op("Identity", sums, out="taken")
    t.output(on, BOOL, [])
    t.output("v", FLOAT, ["n", 3])
    t.output("v", FLOAT, ["n", 3])
    t.output("number", INT64, [])
    t.output("taken", FLOAT, ["n"])
    g.op("Loop", trips, go, x, body=t.proto(), out=["y", "copies", "numbers", "sums"])
    g.output("y", FLOAT, ["n", 3])
    g.output("copies", FLOAT, ["t", "n", 3])
    g.output("numbers", INT64, ["t"])
    g.output("sums", FLOAT, ["t", "n"])

    def second(trips, go, x):
        count = int(trips) if go else 0
        return [x, np.array([x] * count).reshape((count,) + x.shape), np.arange(count),
                np.array([x.sum(1)] * count).reshape(count, x.shape[0])]
    return second


def whiles(*extents):
    return [("up to %g, %d" % (limit, n), [f32(limit), np.abs(quarters(n, seed=n)) + 1]) for limit, n in extents]


@model(whiles((0, 1), (-1, 3), (1, 1), (3, 3), (7, 2), (11, 4)))
def until(g):
    """No trip count: a Loop ends by a computed condition, and the first condition is computed, too. An inner Loop takes the
    growing value."""
    limit, x = g.input("limit", FLOAT, []), g.input("x", FLOAT, ["n"])
    t = Graph("trip")
    i, _ = t.body()
    t.input("total", FLOAT, [])
    t.input("seen", FLOAT, ["m"])
    inner = Graph("part")
    inner.body()
    inner.input("sum", FLOAT, [])
    inner.op("Identity", "part_go", out="part_on")
    inner.op("Add", "sum", inner.op("Gather", x, "part_i", axis=0), out="sum2")
    inner.op("Mul", "sum2", f32(0.5), out="half")
    inner.output("part_on", BOOL, [])
    inner.output("sum2", FLOAT, [])
    inner.output("half", FLOAT, [])
    count = t.op("Squeeze", t.op("Shape", x), i64(0))
    t.op("Loop", count, None, "total", body=inner.proto(), out=["total2", "halves"])
    t.op("Concat", "seen", "halves", axis=0, out="seen2")
    t.op("Less", "total2", limit, out="more")
    t.output("more", BOOL, [])
    t.output("total2", FLOAT, [])
    t.output("seen2", FLOAT, ["m2"])
    t.output("total2", FLOAT, [])
    zero = g.op("Mul", limit, f32(0))
    g.op("Loop", None, g.op("Less", zero, limit), zero, f32([7]), body=t.proto(), out=["last", "kept", "totals"])
    g.output("last", FLOAT, [])
    g.output("kept", FLOAT, ["k"])
    g.output("totals", FLOAT, ["t"])

    def second(limit, x):
        total, kept, totals = 0.0, [7.0], []
        while total < limit:
            for value in x:
                total += value
                kept.append(total / 2)
            totals.append(total)
        return [np.array(total), np.array(kept), np.array(totals)]
    return second


def tables(*masks):
    return [("%d rows, mask %s" % (len(m), m or "empty"), [quarters(len(m), 3, seed=len(m)), np.array([c == "1" for c in m], bool)])
            for m in masks]


@model(tables("", "0", "1", "01001", "00000", "11111", "00000001", "11111111", "10110100"))
def places(g):
    """NonZero -> Gather, and NonZero -> Transpose -> GatherND."""
    x, mask = g.input("x", FLOAT, ["r", 3]), g.input("mask", BOOL, ["r"])
    g.op("Squeeze", g.op("NonZero", mask), i64(0), out="at")
    rows = g.op("Gather", x, "at", axis=0, out="rows")
    g.op("ReduceSum", rows, i64(0), keepdims=0, out="sums")
    positive = g.op("NonZero", g.op("Greater", x, f32(0)))
    g.op("GatherND", x, g.op("Transpose", positive, perm=[1, 0]), out="positive")
    g.op("Shape", "positive", out="count")
    g.output("at", INT64, ["k"])
    g.output("rows", FLOAT, ["k", 3])
    g.output("sums", FLOAT, [3])
    g.output("positive", FLOAT, ["p"])
    g.output("count", INT64, [1])

    def second(x, mask):
        at, = np.nonzero(mask)
        return [at, x[at], x[at].sum(0), x[x > 0], np.array([(x > 0).sum()])]
    return second


def scans(*extents):
    return [("%d times %d trips, %d" % e, [number(e[0]), number(e[1]), quarters(e[2], seed=e[2])]) for e in extents]


@model(scans((0, 0, 0), (1, 1, 1), (3, 2, 3), (2, 3, 1), (1, 0, 1), (3, 0, 2), (4, 3, 5)))
def grid(g):
    """Scans of scans: an element of the outer one is a scan, of no elements where its Loop makes no trips."""
    outer, inner, x = g.input("outer", INT64, []), g.input("inner", INT64, []), g.input("x", FLOAT, ["n"])
    t, u = Graph("row"), Graph("cell")
    i, go = t.body()
    k, on = u.body()
    t.op("Identity", go, out="row_on")
    u.op("Identity", on, out="cell_on")
    u.op("Add", u.op("Cast", i, to=FLOAT), u.op("Mul", u.op("Cast", k, to=FLOAT), f32(0.25)), out="cell")
    u.output("cell_on", BOOL, [])
    u.output("cell", FLOAT, [])
    t.op("Loop", inner, None, body=u.proto(), out=["cells"])
    t.op("ReduceSum", "cells", i64(0), keepdims=1, out="sum")
    t.op("Mul", x, "sum", out="scaled")
    t.output("row_on", BOOL, [])
    t.output("cells", FLOAT, ["u"])
    t.output("scaled", FLOAT, ["n"])
    g.op("Loop", outer, None, body=t.proto(), out=["table", "scales"])
    g.output("table", FLOAT, ["t", "u"])
    g.output("scales", FLOAT, ["t", "n"])

    def second(outer, inner, x):
        table = np.arange(int(outer))[:, None] + 0.25 * np.arange(int(inner))[None]
        return [table, table.sum(1)[:, None] * x[None]]
    return second


# ---- results of ONNX Runtime ----

def onnx_runtime(path, inputs, work):
    """{output: array}"""
    with tempfile.TemporaryDirectory() as folder:
        command = ["node", os.path.join(ROOT, "tests", "compare", "ort.mjs"), "--modules", work, path, "--output-dir", folder]
        for i, (name, value) in enumerate(inputs):
            file = os.path.join(folder, "in%d.npy" % i)
            np.save(file, value)
            command += ["--input", "%s=%s" % (name, file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit("%s: %s" % (path, done.stderr.strip()))
        return {f[:-4]: np.load(os.path.join(folder, f)) for f in os.listdir(folder) if not f.startswith("in")}


def number_text(value, dtype):
    return "%.9g" % float(value) if dtype == np.float32 else "%d" % int(value)


def tensor_text(word, a):
    return " ".join([word, a.dtype.name, "[" + ",".join(str(d) for d in a.shape) + "]"] +
                    [number_text(v, a.dtype) for v in a.reshape(-1)])


def agree(name, case, output, theirs, ours, tolerance):
    """Both definitions give the same result; for a scan of no trips, ONNX Runtime reports unknown dimensions after the first as
    0."""
    ours = np.asarray(ours)
    shapes = theirs.shape == ours.shape or (theirs.size == ours.size == 0 and theirs.ndim == ours.ndim)
    if not shapes or (theirs.size > 0 and not (np.abs(theirs.astype(float) - ours) <= tolerance[0] + tolerance[1] * np.abs(ours)).all()):
        raise SystemExit("%s, %s: %s is %s\n%s\nexpected %s\n%s" % (name, case, output, theirs.shape, theirs, ours.shape, ours))


def make(name, folder, work):
    """Writes one model and its cases into a folder."""
    fill, cases, tolerance = MODELS[name]
    g = Graph(name)
    second = fill(g)
    path = os.path.join(folder, name + ".onnx")
    proto = helper.make_model(g.proto(), opset_imports=[helper.make_opsetid("", g.opset)], ir_version=8)
    with open(path, "wb") as f:
        f.write(proto.SerializeToString())
    lines = ["# Written by make.py; do not edit. What ONNX Runtime computes of %s.onnx." % name]
    for title, inputs in cases:
        theirs = onnx_runtime(path, list(zip([i.name for i in g.inputs], inputs)), work)
        wide = [x.astype(np.float64) if x.dtype == np.float32 else x for x in inputs]
        for output, ours in zip(g.outputs, second(*wide)):
            agree(name, title, output.name, theirs[output.name], ours, tolerance)
        lines += ["", "case " + title] + [tensor_text("in", x) for x in inputs]
        lines += [tensor_text("out", theirs[o.name]) for o in g.outputs] + ["tol %g %g" % tolerance, "end"]
    with open(os.path.join(folder, name + ".vec"), "w", encoding="ascii", newline="\n") as f:
        f.write("\n".join(lines) + "\n")
    return len(cases)


def close(a, b, tolerance):
    """Two lines of a .vec file say the same; results as near as the tolerance allows, as processors differ."""
    x, y = a.split(), b.split()
    if a == b or x[:1] != ["out"] or x[:3] != y[:3] or len(x) != len(y):
        return a == b
    return all(abs(float(i) - float(j)) <= tolerance[0] + tolerance[1] * abs(float(j)) for i, j in zip(x[3:], y[3:]))


def differences(name, folder):
    """Names of the model's files in a folder that differ from the stored ones."""
    with open(os.path.join(folder, name + ".onnx"), "rb") as a, open(os.path.join(HERE, name + ".onnx"), "rb") as b:
        other = [] if a.read() == b.read() else [name + ".onnx"]
    with open(os.path.join(folder, name + ".vec"), encoding="ascii") as a, \
            open(os.path.join(HERE, name + ".vec"), encoding="ascii") as b:
        a, b = a.read().splitlines(), b.read().splitlines()
    return other + ([] if len(a) == len(b) and all(close(x, y, MODELS[name][2]) for x, y in zip(a, b)) else [name + ".vec"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing: what lies here must be what comes out")
    parser.add_argument("--work", default="build/compare", help="folder with ONNX Runtime (%(default)s)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of " + " ".join(MODELS))
    options = parser.parse_args()
    differ = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = scratch if options.check else HERE
        for name in options.names or MODELS:
            count = make(name, folder, options.work)
            other = differences(name, folder) if options.check else []
            print("%-8s %2d cases%s" % (name, count, "; not what lies in tests/core/models: " + " ".join(other) if other else ""), flush=True)
            differ += len(other)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
