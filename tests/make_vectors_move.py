#!/usr/bin/env python3
"""Writes the test vectors of the data movement operators: tests/vectors/<operator>.vec, one file per operator.

Expected values come from numpy (pad, take, tile, stack, split, concatenate, transpose, basic indexing); where it is
cheap a second way (torch, or the printed formula as plain loops) must agree, or the script stops. The format of the
files is in tests/vectors/README.md. Every run writes the same bytes.

usage: python3 make_vectors_move.py [FOLDER]      default: vectors beside this script; prints a table of counts.
"""
import itertools
import os
import sys

import numpy as np
import torch

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "float32", "float64"]
I64_MAX, I64_MIN = 2**63 - 1, -2**63


class Tensor:
    """An operand: an array, whether it is constant, and its QuantParams as (numBits, zeroPoint, scale)."""

    def __init__(self, array, constant=False, quant=()):
        self.array, self.constant, self.quant = np.asarray(array), constant, quant

    def lines(self, word):
        a = self.array
        head = "%s %s [%s]" % (word, a.dtype.name, ",".join(str(d) for d in a.shape))
        yield " ".join([head] + ["const"] * self.constant + [number(v) for v in a.ravel()])
        for bits, zero, scale in self.quant:
            yield "quant %d %d %.17g" % (bits, zero, scale)


def number(v):
    if v.dtype == np.bool_:
        return str(int(v))
    if v.dtype.kind in "iu":
        return str(int(v))
    return ("%.9g" if v.dtype == np.float32 else "%.17g") % float(v)


def const(values, dtype="int32", shape=None):
    """A constant index, shape or parameter tensor; a plain number gives a scalar."""
    a = np.array(values, dtype=dtype)
    return Tensor(a if shape is None else a.reshape(shape), constant=True)


def data(dtype, shape, seed=1):
    """Values that tell every element apart where the type is wide enough; the extremes of the type come first."""
    n = int(np.prod(shape, dtype=np.int64))
    k = np.arange(n)
    if dtype == "bool":
        return ((k * (2 * seed + 3) // 3 + seed) % 2 == 0).reshape(shape)
    if dtype == "float16":
        return ((k - n // 3) * 0.125 + seed).astype(np.float16).reshape(shape)
    if dtype.startswith("float"):
        return ((k - n // 3) * 0.37 + seed / 3.0).astype(dtype).reshape(shape)
    info = np.iinfo(dtype)
    span = int(info.max) - int(info.min) + 1
    step = 7 if span <= 256 else span // 251 * 2 + 1
    values = [(int(info.min) + (i * step * seed if i else 0)) for i in range(n)]
    values = [(v - int(info.min)) % span + int(info.min) for v in values]
    if n > 1:
        values[1] = int(info.max)
    return np.array(values, dtype=dtype).reshape(shape)


def f32(*shape, seed=1):
    return data("float32", shape, seed)


class Writer:
    """The cases of one operator."""

    def __init__(self, op):
        self.op, self.cases, self.names, self.errors, self.types = op, [], set(), 0, set()

    def _put(self, name, attrs, form, ins, tail):
        if name in self.names:
            raise SystemExit("%s: two cases are called '%s'" % (self.op, name))
        self.names.add(name)
        lines = ["case " + name, "op " + self.op]
        for key, value in attrs.items():
            if isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)):
                text = " ; ".join(" ".join(str(v) for v in row) for row in value)
            elif isinstance(value, (list, tuple)):
                text = " ".join(str(v) for v in value)
            else:
                text = "%.9g" % value if isinstance(value, float) else str(int(value))
            lines.append("attr %s %s" % (key, text))
        if form:
            lines.append("format " + form)
        for t in ins:
            lines += ["in -"] if t is None else as_tensor(t).lines("in")
        self.cases.append(lines + tail + ["end"])

    def ok(self, name, ins, outs, form=None, error32=None, **attrs):
        """A case that must give outs (one array or a list); movement is bit exact, so floats get tolerance 0. error32:
        the code of machines with 32-bit addresses, on which its strides do not fit."""
        outs = [as_tensor(t) for t in (outs if isinstance(outs, list) else [outs])]
        tail = [line for t in outs for line in t.lines("out")]
        if any(t.array.dtype.kind == "f" for t in outs):
            tail.append("tol 0 0")
        if error32:
            tail.append("error32 " + error32)
        self.types.add(outs[0].array.dtype.name)
        self._put(name, attrs, form, ins, tail)

    def bad(self, name, code, ins, outs=(), form=None, run=False, **attrs):
        """A case that must be refused with code; outs are given where their number or type is what matters."""
        tail = [line for t in outs for line in as_tensor(t).lines("out")]
        self.errors += 1
        self._put(name, attrs, form, ins, tail + [("run_error " if run else "error ") + code])

    def save(self, folder):
        path = os.path.join(folder, self.op.lower() + ".vec")
        with open(path, "w", encoding="ascii", newline="\n") as f:
            f.write("# %s: written by make_vectors_move.py; do not edit\n" % self.op)
            for case in self.cases:
                f.write("\n" + "\n".join(case) + "\n")
        return "%-20s %4d cases %3d refused %3d types" % (self.op, len(self.cases), self.errors, len(self.types))


def as_tensor(t):
    return t if isinstance(t, Tensor) else Tensor(t)


def same(a, b, what):
    """Stops unless two independent results are the same bits."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype or a.tobytes() != b.tobytes():
        raise SystemExit("two ways differ: %s %s %s" % (what, a.shape, b.shape))
    return a


def odd_floats(dtype):
    return np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, np.finfo(dtype).max, np.finfo(dtype).tiny, -1.5], dtype=dtype)


def space_to_batch(x, block, pads, fill=0):
    """By reshape and transpose, on [N,H,W,C]; checked against the formula element by element."""
    (bh, bw), (n, h, w, c) = block, x.shape
    xp = np.pad(x, [(0, 0), tuple(pads[0]), tuple(pads[1]), (0, 0)], constant_values=x.dtype.type(fill))
    hb, wb = xp.shape[1] // bh, xp.shape[2] // bw
    y = xp.reshape(n, hb, bh, wb, bw, c).transpose(2, 4, 0, 1, 3, 5).reshape(n * bh * bw, hb, wb, c)
    z = np.zeros_like(y)
    for i, j, b, p, q in itertools.product(range(bh), range(bw), range(n), range(hb), range(wb)):
        z[(i * bw + j) * n + b, p, q] = xp[b, p * bh + i, q * bw + j]
    return same(y, z, "space to batch")


def batch_to_space(x, block, crops):
    """By reshape and transpose, on [N,H,W,C]; checked against the formula element by element."""
    (bh, bw), (n, h, w, c) = block, x.shape
    n2 = n // (bh * bw)
    u = x.reshape(bh, bw, n2, h, w, c).transpose(2, 3, 0, 4, 1, 5).reshape(n2, h * bh, w * bw, c)
    v = np.zeros_like(u)
    for i, j, b, p, q in itertools.product(range(bh), range(bw), range(n2), range(h), range(w)):
        v[b, p * bh + i, q * bw + j] = x[(i * bw + j) * n2 + b, p, q]
    same(u, v, "batch to space")
    (top, bottom), (left, right) = crops
    return u[:, top:h * bh - bottom, left:w * bw - right, :]


def to_nchw(x):
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2))


SPACE = [  # [N,H,W,C] of the unfolded side, block, paddings or crops
    ("no paddings", (1, 4, 4, 1), (2, 2), [[0, 0], [0, 0]]),
    ("two images", (2, 2, 4, 3), (2, 2), [[0, 0], [0, 0]]),
    ("rectangular block", (1, 4, 6, 2), (2, 3), [[0, 0], [0, 0]]),
    ("block 1x1", (2, 3, 2, 2), (1, 1), [[0, 0], [0, 0]]),
    ("block 1x2", (1, 3, 4, 2), (1, 2), [[0, 0], [0, 0]]),
    ("block 3x1", (1, 6, 2, 1), (3, 1), [[0, 0], [0, 0]]),
    ("top", (1, 3, 4, 1), (2, 2), [[1, 0], [0, 0]]),
    ("bottom and right", (1, 3, 5, 2), (2, 2), [[0, 1], [0, 1]]),
    ("all sides", (2, 2, 3, 1), (2, 2), [[1, 1], [2, 1]]),
    ("left only", (1, 2, 1, 4), (2, 3), [[0, 0], [2, 0]]),
    ("whole blocks", (1, 2, 2, 1), (2, 2), [[2, 0], [0, 2]]),
    ("block as large as the image", (1, 3, 3, 2), (3, 3), [[0, 0], [0, 0]]),
    ("no images", (0, 2, 2, 1), (2, 2), [[0, 0], [0, 0]]),
    ("no channels", (1, 2, 2, 0), (2, 2), [[0, 0], [0, 0]]),
    ("no rows", (1, 0, 4, 2), (2, 2), [[0, 0], [0, 0]]),
]


def make_space_to_batch():
    w = Writer("SPACE_TO_BATCH_ND")
    for name, shape, block, pads in SPACE:
        x = data("float32", shape, 2)
        y = space_to_batch(x, block, pads)
        w.ok(name, [x], y, blockShape=block, paddings=pads)
        w.ok(name + " NCHW", [to_nchw(x)], to_nchw(y), form="NCHW", blockShape=block, paddings=pads)
    x = np.zeros((1, 0, 0, 2), "float32")
    w.ok("only paddings", [x], space_to_batch(x, (2, 2), [[1, 1], [0, 2]]), blockShape=(2, 2),
         paddings=[[1, 1], [0, 2]])
    for t in TYPES:
        x = data(t, (1, 3, 2, 2), 3)
        w.ok("type " + t, [x], space_to_batch(x, (2, 2), [[0, 1], [0, 0]]), blockShape=(2, 2),
             paddings=[[0, 1], [0, 0]])
    x = data("float32", (1, 2, 2, 2))
    w.ok("format NHWC", [x], space_to_batch(x, (2, 1), [[0, 0], [0, 0]]), form="NHWC", blockShape=(2, 1),
         paddings=[[0, 0], [0, 0]])
    q = [(8, -5, 0.5)]
    x = data("int8", (1, 3, 2, 1), 5)
    y = space_to_batch(x, (2, 2), [[1, 0], [1, 1]], -5)
    w.ok("quantised: pads with the zero point", [Tensor(x, quant=q)], Tensor(y, quant=q), blockShape=(2, 2),
         paddings=[[1, 0], [1, 1]])
    none, x = [[0, 0], [0, 0]], f32(1, 4, 4, 1)
    w.bad("height not divisible", "INVALID_SHAPE", [f32(1, 3, 4, 1)], blockShape=(2, 2), paddings=none)
    w.bad("width not divisible after padding", "INVALID_SHAPE", [x], blockShape=(2, 2), paddings=[[0, 0], [1, 0]])
    w.bad("block 0", "INVALID_PARAMETER", [x], blockShape=(0, 2), paddings=none)
    w.bad("block negative", "INVALID_PARAMETER", [x], blockShape=(2, -2), paddings=none)
    w.bad("padding negative", "INVALID_PARAMETER", [x], blockShape=(2, 2), paddings=[[-2, 0], [0, 0]])
    w.bad("rank 3", "INVALID_SHAPE", [f32(4, 4, 1)], blockShape=(2, 2), paddings=none)
    w.bad("rank 3 before block 0", "INVALID_SHAPE", [f32(4, 4, 1)], blockShape=(0, 2), paddings=none)
    w.bad("two inputs", "INVALID_INPUT", [x, x], blockShape=(2, 2), paddings=none)
    w.bad("input absent", "NULL_PTR", [None], blockShape=(2, 2), paddings=none)
    w.bad("NCHW width not divisible", "INVALID_SHAPE", [f32(1, 2, 4, 3)], form="NCHW", blockShape=(2, 2), paddings=none)
    return w


def make_batch_to_space():
    w = Writer("BATCH_TO_SPACE_ND")
    for name, shape, block, crops in SPACE:
        (top, bottom), (left, right) = crops
        n, h, wd, c = shape  # the extents after the crops
        h, wd = h + top + bottom, wd + left + right
        x = data("float32", (n * block[0] * block[1], h // block[0], wd // block[1], c), 2)
        y = batch_to_space(x, block, crops)
        w.ok(name, [x], y, blockShape=block, crops=crops)
        w.ok(name + " NCHW", [to_nchw(x)], to_nchw(y), form="NCHW", blockShape=block, crops=crops)
    x = f32(4, 1, 2, 1)
    w.ok("crops leave nothing", [x], batch_to_space(x, (2, 2), [[1, 1], [0, 0]]), blockShape=(2, 2),
         crops=[[1, 1], [0, 0]])
    for t in TYPES:
        x = data(t, (4, 1, 2, 2), 3)
        w.ok("type " + t, [x], batch_to_space(x, (2, 2), [[0, 0], [1, 0]]), blockShape=(2, 2), crops=[[0, 0], [1, 0]])
    x = f32(2, 2, 2, 1)
    w.ok("format NHWC", [x], batch_to_space(x, (1, 2), [[0, 1], [0, 0]]), form="NHWC", blockShape=(1, 2),
         crops=[[0, 1], [0, 0]])
    none, x = [[0, 0], [0, 0]], f32(4, 2, 2, 1)
    w.bad("images not divisible", "INVALID_SHAPE", [f32(3, 2, 2, 1)], blockShape=(2, 2), crops=none)
    w.bad("crop larger than the height", "INVALID_SHAPE", [x], blockShape=(2, 2), crops=[[3, 2], [0, 0]])
    w.bad("crop larger than the width", "INVALID_SHAPE", [x], blockShape=(2, 2), crops=[[0, 0], [0, 5]])
    w.bad("block 0", "INVALID_PARAMETER", [x], blockShape=(2, 0), crops=none)
    w.bad("block negative", "INVALID_PARAMETER", [x], blockShape=(-2, -2), crops=none)
    w.bad("crop negative", "INVALID_PARAMETER", [x], blockShape=(2, 2), crops=[[0, 0], [-1, 0]])
    w.bad("rank 5", "INVALID_SHAPE", [f32(4, 2, 2, 1, 1)], blockShape=(2, 2), crops=none)
    w.bad("no inputs", "INVALID_INPUT", [], blockShape=(2, 2), crops=none)
    w.bad("input absent", "NULL_PTR", [None], blockShape=(2, 2), crops=none)
    return w


def make_concat():
    w = Writer("CONCAT")

    def put(name, arrays, axis):
        y = np.concatenate(arrays, axis)
        if arrays[0].dtype.kind in "if":
            same(y, torch.cat([torch.from_numpy(a.copy()) for a in arrays], axis).numpy(), name)
        w.ok(name, arrays, y, axis=axis)

    put("rows", [f32(2, 3), f32(1, 3, seed=5)], 0)
    put("columns", [f32(2, 3), f32(2, 2, seed=5)], 1)
    put("last axis", [f32(2, 3), f32(2, 1, seed=5), f32(2, 2, seed=9)], -1)
    put("first axis negative", [f32(2, 3), f32(3, 3, seed=5)], -2)
    put("middle of rank 3", [f32(2, 1, 3), f32(2, 2, 3, seed=4)], 1)
    put("one input", [f32(2, 2, 2)], 1)
    put("one input of rank 1", [data("int16", (5,))], -1)
    put("20 inputs", [data("int32", (2, 1 + k % 2), k + 1) for k in range(20)], 1)
    put("20 inputs along axis 0", [data("uint8", (1, 3), k + 1) for k in range(20)], 0)
    put("rank 1", [data("int64", (3,)), data("int64", (1,), 2), data("int64", (2,), 3)], 0)
    put("rank 8", [f32(1, 2, 1, 2, 1, 2, 1, 2), f32(1, 2, 1, 2, 3, 2, 1, 2, seed=7)], 4)
    put("an empty part", [f32(2, 0), f32(2, 3)], 1)
    put("only empty parts", [f32(2, 0), f32(2, 0)], 1)
    put("another axis empty", [f32(0, 2), f32(0, 3)], 1)
    put("NHWC channels", [f32(1, 2, 2, 3), f32(1, 2, 2, 1, seed=8)], 3)
    put("NaN and infinities", [odd_floats("float32"), odd_floats("float32")[::-1].copy()], 0)
    for t in TYPES:
        put("type " + t, [data(t, (2, 2), 1), data(t, (2, 3), 2), data(t, (2, 1), 3)], 1)
    x, n = f32(2, 3), [np.array([[1, 2], [3, -4]], "int8"), np.array([[8, -16], [127, -128]], "int8")]
    q = [(8, 1, 0.5)]
    w.ok("quantised, equal parameters", [Tensor(a, quant=q) for a in n], Tensor(np.concatenate(n, 1), quant=q), axis=1)
    w.bad("quantised, second input with other parameters", "UNSUPPORTED_OP",
          [Tensor(n[0], quant=q), Tensor(n[1], quant=[(8, -3, 0.125)])], outs=[Tensor(np.concatenate([n[0], n[0]], 1), quant=q)], axis=1)
    w.bad("no inputs", "INVALID_INPUT", [], axis=0)
    w.bad("second input absent", "NULL_PTR", [x, None], axis=0)
    w.bad("types differ", "INVALID_DATATYPE", [x, data("int32", (2, 3))], axis=0)
    w.bad("ranks differ", "INVALID_SHAPE", [x, f32(3)], axis=0)
    w.bad("another extent differs", "INVALID_SHAPE", [x, f32(2, 4)], axis=0)
    w.bad("axis too large", "INVALID_PARAMETER", [x, x], axis=2)
    w.bad("axis too small", "INVALID_PARAMETER", [x, x], axis=-3)
    w.bad("type before shape", "INVALID_DATATYPE", [x, data("int32", (5,))], axis=9)
    w.bad("rank before axis", "INVALID_SHAPE", [x, f32(2, 3, 1)], axis=9)
    w.bad("rank 9", "INVALID_SHAPE", [f32(*[1] * 9), f32(*[1] * 9)], axis=0)
    w.bad("two outputs", "INVALID_OUTPUT", [x, x], [f32(2, 3), f32(2, 3)], axis=0)
    return w


def make_expand_dims():
    w = Writer("EXPAND_DIMS")

    def put(name, x, axis, dtype="int32"):
        y = np.expand_dims(x, axis)
        shape = list(x.shape)
        shape.insert(axis if axis >= 0 else axis + x.ndim + 1, 1)
        w.ok(name, [x, const(axis, dtype)], same(y, x.reshape(shape), name))

    put("front", f32(2, 3), 0)
    put("middle", f32(2, 3), 1)
    put("end", f32(2, 3), 2)
    put("end negative", f32(2, 3), -1)
    put("middle negative", f32(2, 3), -2)
    put("front negative", f32(2, 3), -3)
    put("int64 axis", f32(2, 3), -2, "int64")
    put("scalar", f32(), 0)
    put("scalar negative", f32(), -1)
    put("rank 1", f32(4), 1)
    put("rank 7", f32(1, 2, 1, 2, 1, 2, 2), 4)
    put("rank 7 negative", f32(1, 2, 1, 2, 1, 2, 2), -8)
    put("empty", f32(0, 3), 1)
    put("NaN and infinities", odd_floats("float32"), 0)
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (3, 2), 2), k % 3)
    x = f32(2, 3)
    w.bad("axis too large", "INVALID_PARAMETER", [x, const(3)])
    w.bad("axis too small", "INVALID_PARAMETER", [x, const(-4)])
    w.bad("axis at the end of int64", "INVALID_PARAMETER", [x, const(I64_MIN, "int64")])
    w.bad("axis of float32", "INVALID_DATATYPE", [x, const(1, "float32")])
    w.bad("result of rank 9", "INVALID_SHAPE", [f32(*[1] * 8), const(0)])
    w.bad("rank before axis", "INVALID_SHAPE", [f32(*[1] * 8), const(99)])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("three inputs", "INVALID_INPUT", [x, const(0), const(0)])
    w.bad("axis absent", "NULL_PTR", [x, None])
    w.bad("x absent", "NULL_PTR", [None, const(0)])
    return w


def make_fill():
    w = Writer("FILL")

    def put(name, value, shape, dtype="int32"):
        w.ok(name, [value, const(shape, dtype, (len(shape),))], np.full(shape, value, dtype=value.dtype))

    half = np.array(-2.5, "float32")
    put("2x3", half, [2, 3])
    put("int64 shape", half, [2, 3], "int64")
    put("rank 1", half, [5])
    put("one element", half, [1])
    put("scalar result", half, [])
    put("scalar result, int64 shape", half, [], "int64")
    put("empty", half, [0])
    put("empty inside", half, [2, 0, 3])
    put("rank 4", half, [1, 2, 3, 2])
    put("rank 8", half, [1, 2, 1, 2, 1, 2, 1, 2])
    put("NaN", np.array(np.nan, "float32"), [3])
    put("minus infinity", np.array(-np.inf, "float32"), [2, 2])
    put("minus zero", np.array(-0.0, "float32"), [2])
    put("false", np.array(False), [2])
    put("zero", np.array(0, "int32"), [4])
    put("17 bytes", np.array(-7, "int8"), [17])
    put("33 halves", np.array(0.5, "float16"), [33])
    for t in TYPES:
        put("type " + t, data(t, (3,), 2)[2 if t == "bool" else 1], [3, 2])
    shape = const([2, 3])
    w.bad("one input", "INVALID_INPUT", [half])
    w.bad("three inputs", "INVALID_INPUT", [half, shape, shape])
    w.bad("shape absent", "NULL_PTR", [half, None])
    w.bad("value absent", "NULL_PTR", [None, shape])
    w.bad("shape of float32", "INVALID_DATATYPE", [half, const([2, 3], "float32")])
    w.bad("shape of int16", "INVALID_DATATYPE", [half, const([2, 3], "int16")])
    w.bad("shape of rank 2", "INVALID_SHAPE", [half, const([[2, 3]])])
    w.bad("value of two elements", "INVALID_SHAPE", [f32(2), shape])
    w.bad("rank 9", "INVALID_SHAPE", [half, const([1] * 9)])
    w.bad("type before shape", "INVALID_DATATYPE", [half, const([[2, 3]], "float32")])
    w.bad("more elements than int64 counts", "OUT_OF_MEMORY", [half, const([2**31 - 1] * 3)])
    return w


def make_gather():
    w = Writer("GATHER")

    def put(name, x, indices, axis=0, dtype="int32", axis_type="int32", given=True):
        i = np.array(indices, dtype=dtype)
        y = np.take(x, i.astype("int64"), axis=axis)
        a = axis + x.ndim if axis < 0 else axis
        z = np.zeros(x.shape[:a] + i.shape + x.shape[a + 1:], x.dtype)
        for at in np.ndindex(*i.shape):
            z[(slice(None),) * a + at] = x[(slice(None),) * a + (int(i[at]),)]
        same(y, z, name)
        w.ok(name, [x, i] + ([const([axis], axis_type)] if given else []), y)

    x = f32(4, 3)
    put("rows", x, [2, 0])
    put("axis input left out", x, [3, 3, 1], given=False)
    w.ok("axis input absent", [x, np.array([1, 2], "int32"), None], np.take(x, [1, 2], 0))
    put("columns", x, [2, 0, 0, 1], 1)
    put("last axis", x, [1], -1)
    put("first axis negative", x, [1, 2], -2)
    put("int64 indices", x, [3, 0], 0, "int64")
    put("int64 axis", x, [2, 1], 1, "int32", "int64")
    put("both int64", x, [2, 1], -1, "int64", "int64")
    put("negative indices", x, [-1, -4, 3, -2])
    put("negative int64 indices", x, [-3, 2, -1], 1, "int64")
    put("scalar index", x, 2)
    put("scalar index on the last axis", x, -1, -1, "int64")
    put("indices of rank 2", x, [[0, 1], [2, 3], [1, 0]])
    put("indices of rank 3 in the middle", f32(2, 3, 2), [[[0], [2]]], 1)
    put("x of rank 1", data("int32", (5,)), [[4, 0], [1, 1]])
    put("x of rank 1, scalar index", data("int64", (5,)), 3)
    put("x of rank 8", f32(1, 2, 1, 2, 1, 3, 1, 2), [2, 0], 5)
    put("result of rank 8", f32(2, 2, 2), np.arange(4).reshape(1, 2, 1, 1, 2, 1) % 2, 1)
    put("x of rank 8, scalar index", f32(1, 2, 1, 2, 1, 3, 1, 2), 1, -3)
    put("no indices", x, np.zeros((0,), "int32"))
    put("no indices of rank 2", x, np.zeros((2, 0), "int32"), 1)
    put("another axis empty", f32(3, 0), [2, 0])
    w.ok("no indices into an empty axis", [f32(0, 2), np.zeros((0,), "int32"), const([0])], f32(0, 2))
    put("NaN and infinities", odd_floats("float32"), [7, 0, 1, 2, 3])
    put("more indices than rows", f32(2, 2), [0, 1, 1, 0, 1, 0, 0])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (3, 3, 2), 2), [2, 0, 0, -2], (0, 1, -3)[k % 3])
    i = np.array([0, 1], "int32")
    outside = [("index one too large", [0, 4], 0, "int32"), ("index one too small", [-5], 0, "int32"),
               ("int64 index beyond int32", [2**32], 0, "int64"), ("smallest int64", [I64_MIN], 1, "int64"),
               ("largest int64", [0, I64_MAX], 1, "int64"), ("smallest int32", [-2**31], 1, "int32"),
               ("column too large", [2, 3], -1, "int32")]
    for name, values, axis, dtype in outside:
        w.bad(name, "INVALID_PARAMETER", [x, np.array(values, dtype), const([axis])], run=True)
    w.bad("index into an empty axis", "INVALID_PARAMETER", [f32(0, 2), np.array([0], "int32"), const([0])], run=True)
    w.bad("axis too large", "INVALID_PARAMETER", [x, i, const([2])])
    w.bad("axis too small", "INVALID_PARAMETER", [x, i, const([-3])])
    w.bad("indices of float32", "INVALID_DATATYPE", [x, i.astype("float32"), const([0])])
    w.bad("indices of int8", "INVALID_DATATYPE", [x, i.astype("int8"), const([0])])
    w.bad("axis of float32", "INVALID_DATATYPE", [x, i, const([0], "float32")])
    w.bad("result of rank 9", "INVALID_SHAPE", [f32(*[1] * 8), np.zeros((1, 1), "int32"), const([0])])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("four inputs", "INVALID_INPUT", [x, i, const([0]), const([0])])
    w.bad("indices absent", "NULL_PTR", [x, None, const([0])])
    return w


def make_one_hot():
    w = Writer("ONE_HOT")

    def put(name, indices, depth, on, off, axis=-1, dtype="int32", depth_type="int32", form=None):
        i = np.array(indices, dtype=dtype)
        on, off = np.asarray(on), np.asarray(off)
        hit = i.astype("int64")[..., None] == np.arange(depth)
        y = np.moveaxis(np.where(hit, on, off), -1, axis).copy()
        z = np.moveaxis(np.full(i.shape + (depth,), off), -1, axis).copy()
        for at in np.ndindex(*i.shape):
            if 0 <= int(i[at]) < depth:
                to = list(at)
                to.insert(axis if axis >= 0 else i.ndim, int(i[at]))
                z[tuple(to)] = on
        same(y, z, name)
        w.ok(name, [i, const(depth, depth_type), Tensor(on, True), Tensor(off, True)], y, axis=axis)

    one, zero = np.float32(1), np.float32(0)
    put("rank 1", [0, 2, 1], 3, one, zero)
    put("rank 1 axis 0", [0, 2, 1], 4, one, zero, 0)
    put("rank 1 axis 1", [0, 2, 1], 4, one, zero, 1)
    put("rank 2", [[0, 2], [1, 3]], 4, one, zero)
    put("rank 2 axis 0", [[0, 2, 1], [1, 3, 3]], 4, one, zero, 0)
    put("rank 2 axis 1", [[0, 2, 1], [1, 3, 3]], 4, one, zero, 1)
    put("rank 2 axis 2", [[0, 2, 1], [1, 3, 3]], 4, one, zero, 2)
    put("rank 3 axis 1", [[[0, 1]], [[2, 0]]], 3, one, zero, 1)
    put("scalar index", 2, 4, one, zero)
    put("scalar index axis 0", 2, 4, one, zero, 0)
    put("scalar index outside", 4, 4, one, zero)
    put("int64 indices", [3, 0], 4, one, zero, dtype="int64")
    put("int64 depth", [3, 0], 4, one, zero, depth_type="int64")
    put("both int64", [[3], [0]], 4, one, zero, 1, "int64", "int64")
    put("other values", [1, 0, 1], 2, np.float32(-3.5), np.float32(0.25))
    put("NaN and infinity", [1, 0], 3, np.float32(np.inf), np.float32(np.nan))
    put("index outside", [0, 3, -1, 2, -3, 100], 3, one, zero)
    put("index outside axis 0", [[5, 0], [-1, 1]], 3, one, zero, 0)
    put("int64 index outside", [2**32, 1, -2**32, I64_MAX, I64_MIN, 0], 2, one, zero, dtype="int64")
    put("depth 1", [0, 1, 0], 1, one, zero)
    put("no indices", np.zeros((0,), "int32"), 3, one, zero)
    put("no indices axis 0", np.zeros((2, 0), "int32"), 3, one, zero, 0)
    put("rank 7", np.arange(4).reshape(1, 2, 1, 1, 2, 1, 1), 3, one, zero, 3)
    put("on equals off", [0, 1], 2, one, one)
    for k, t in enumerate(TYPES):
        v = data(t, (3,), 2)
        on, off = (np.bool_(k % 2 == 0), np.bool_(k % 2)) if t == "bool" else (v[1], v[2])
        put("type " + t, [1, 0, 2], 3, on, off, k % 2)
    put("bool inverted", [1, 0, 5], 3, np.bool_(False), np.bool_(True))
    i, d, on, off = np.array([0, 1], "int32"), const(3), Tensor(one, True), Tensor(zero, True)
    w.bad("depth 0", "INVALID_PARAMETER", [i, const(0), on, off])
    w.bad("depth negative", "INVALID_PARAMETER", [i, const(-3, "int64"), on, off])
    w.bad("axis too large", "INVALID_PARAMETER", [i, d, on, off], axis=2)
    w.bad("axis too small", "INVALID_PARAMETER", [i, d, on, off], axis=-2)
    w.bad("on and off of two types", "INVALID_DATATYPE", [i, d, on, const(0)])
    w.bad("indices of float32", "INVALID_DATATYPE", [i.astype("float32"), d, on, off])
    w.bad("depth of float32", "INVALID_DATATYPE", [i, const(3, "float32"), on, off])
    w.bad("type before axis", "INVALID_DATATYPE", [i, d, on, const(0)], axis=7)
    w.bad("result of rank 9", "INVALID_SHAPE", [np.zeros((1,) * 8, "int32"), d, on, off])
    w.bad("three inputs", "INVALID_INPUT", [i, d, on])
    w.bad("off value absent", "NULL_PTR", [i, d, on, None])
    w.bad("depth absent", "NULL_PTR", [i, None, on, off])
    return w


MODES = {"constant": 0, "reflect": 1, "symmetric": 2, "reserved": 3}


def pad_by_index(x, pads, mode, value):
    """PAD_FUSION as the table of source indices of OPS.md A14, axis by axis."""
    for axis, (before, after) in enumerate(pads):
        n = x.shape[axis]
        parts = []
        for o in range(before + n + after):
            j = o - before
            inside = 0 <= j < n
            if mode == "reflect":
                j = -j if j < 0 else 2 * n - 2 - j if j >= n else j
            elif mode == "symmetric":
                j = -j - 1 if j < 0 else 2 * n - 1 - j if j >= n else j
            if mode == "constant" and not inside:
                parts.append(np.full(x.shape[:axis] + x.shape[axis + 1:], value, x.dtype))
            else:
                parts.append(np.take(x, j, axis))
        if parts:
            x = np.stack(parts, axis)
    return x


def make_pad():
    w = Writer("PAD_FUSION")

    def put(name, x, pads, mode="constant", how="attribute", dtype="int32", value=None, constant=None):
        """how: attribute, rows (input of [R,2]) or flat (input of [2R]); value: input 2; constant: attribute."""
        fill = value if value is not None else constant if constant is not None else 0
        fill = np.asarray(np.float32(fill) if value is None else fill).astype(x.dtype)
        more = {"constant_values": fill} if mode == "constant" else {}
        y = np.pad(x, pads, mode=mode, **more) if x.ndim else x.copy()
        same(y, pad_by_index(x, pads, mode, fill), name)
        attrs = {"paddings": pads} if how == "attribute" else {}
        ins = [x]
        if how != "attribute":
            ins.append(const(pads, dtype, (x.ndim, 2) if how == "rows" else (2 * x.ndim,)))
        if value is not None:
            ins += [None] * (2 - len(ins)) + [Tensor(np.asarray(value, x.dtype), True)]
        attrs["paddingMode"] = MODES[mode]
        if constant is not None:
            attrs["constantValue"] = float(constant)
        w.ok(name, ins, y, **attrs)

    x, m = f32(2, 3), np.arange(1, 10, dtype="float32").reshape(3, 3)
    for mode in ("constant", "reflect", "symmetric"):
        put(mode + " of the specification", m, [[2, 2], [2, 2]], mode)
        put(mode + " [R,2] input", x, [[1, 0], [0, 2]], mode, "rows")
        put(mode + " flat input", x, [[0, 1], [2, 1]], mode, "flat")
        put(mode + " int64 flat input", x, [[1, 1], [1, 0]], mode, "flat", "int64")
        put(mode + " rank 4", f32(1, 2, 3, 2), [[0, 0], [1, 1], [2, 0], [1, 0]], mode)
        put(mode + " rank 1", f32(5), [[3, 4]], mode, "rows", "int64")
        put(mode + " nothing to add", x, [[0, 0], [0, 0]], mode)
    put("reflect rank 4 NHWC", f32(1, 3, 3, 2), [[0, 0], [2, 1], [1, 2], [0, 1]], "reflect", "rows")
    put("reflect over an axis of extent 1", f32(1, 3), [[0, 0], [2, 2]], "reflect")
    put("reflect as far as it goes", f32(4), [[3, 3]], "reflect")
    put("symmetric as far as it goes", f32(4), [[4, 4]], "symmetric")
    put("symmetric over an axis of extent 1", f32(1, 2), [[1, 1], [2, 2]], "symmetric")
    put("symmetric of an empty axis", f32(0, 2), [[0, 0], [1, 1]], "symmetric")
    put("constant of an empty axis", f32(0, 2), [[2, 1], [0, 1]], constant=3)
    put("empty stays empty", f32(0, 2), [[0, 0], [1, 0]], how="rows")
    put("scalar x", f32(), [], how="rows")
    put("rank 8", f32(1, 2, 1, 1, 2, 1, 1, 2), [[0, 0], [0, 1], [1, 0], [0, 0], [0, 0], [0, 0], [0, 1], [1, 0]],
        how="flat")
    put("rank 8 reflect", f32(1, 2, 1, 1, 2, 1, 1, 2), [[0, 0], [0, 1], [0, 0], [0, 0], [1, 0], [0, 0], [0, 0], [1, 1]],
        "reflect")
    put("more than the extent", f32(1, 2), [[3, 0], [0, 5]], constant=-1.5)
    put("constant attribute", x, [[1, 1], [0, 1]], constant=0.1)
    put("constant attribute with an input of paddings", x, [[1, 1], [0, 1]], how="rows", constant=-7)
    put("value input", x, [[1, 0], [1, 1]], how="rows", value=2.5)
    put("value input wins over the attribute", x, [[1, 0], [1, 1]], how="flat", value=2.5, constant=9)
    put("value input with paddings of the attribute", x, [[1, 0], [1, 1]], value=-0.25)
    put("value input of NaN", x, [[0, 1], [0, 0]], how="rows", value=np.nan)
    put("infinite constant", x, [[0, 0], [1, 0]], constant=float("-inf"))
    put("NaN and infinities reflected", odd_floats("float32"), [[3, 2]], "reflect")
    w.ok("paddings input wins over the attribute", [x, const([[0, 1], [1, 0]])], np.pad(x, [[0, 1], [1, 0]]),
         paddings=[[2, 2], [2, 2]])
    for k, t in enumerate(TYPES):
        x = data(t, (2, 2), 3)
        put("constant of type " + t, x, [[1, 0], [0, 1]], constant=1 if t == "bool" else 7 + k)
        put("value input of type " + t, x, [[0, 1], [1, 0]], how="rows", value=data(t, (3,), 2)[1])
        put(("reflect", "symmetric")[k % 2] + " type " + t, x, [[1, 0], [1, 1]], ("reflect", "symmetric")[k % 2])
    put("half constant rounded", data("float16", (2,)), [[1, 1]], constant=0.1)
    put("negative constant for int8", data("int8", (3,)), [[1, 0]], constant=-100)
    put("fraction of the constant is cut for int32", data("int32", (2,)), [[1, 0]], constant=2.75)
    put("large constant for int64", data("int64", (2,)), [[1, 1]], constant=float(2**40))
    q, x = [(8, -5, 0.5)], data("int8", (2, 2), 5)
    for name, real, stored, attrs in [("zero point", 0, -5, {}), ("constant", 3, 1, {"constantValue": 3.0})]:
        y = np.pad(x, [[1, 0], [0, 1]], constant_values=stored)
        w.ok("quantised: " + name, [Tensor(x, quant=q)], Tensor(y, quant=q), paddings=[[1, 0], [0, 1]], **attrs)
    pad_errors(w)
    return w


def pad_errors(w):
    x, p, rows = f32(2, 3), const([[1, 1], [1, 1]]), [[1, 1], [1, 1]]
    w.bad("negative padding", "INVALID_PARAMETER", [x], paddings=[[1, -1], [0, 0]])
    w.bad("negative padding in the input", "INVALID_PARAMETER", [x, const([[1, 1], [-1, 1]])])
    w.bad("reflect further than extent - 1 before", "INVALID_PARAMETER", [x], paddings=[[2, 0], [0, 0]], paddingMode=1)
    w.bad("reflect further than extent - 1 after", "INVALID_PARAMETER", [x], paddings=[[0, 0], [0, 3]], paddingMode=1)
    w.bad("symmetric further than the extent", "INVALID_PARAMETER", [x], paddings=[[0, 3], [0, 0]], paddingMode=2)
    w.bad("reserved mode", "INVALID_PARAMETER", [x, p], paddingMode=MODES["reserved"])
    w.bad("unknown mode", "INVALID_PARAMETER", [x], paddings=rows, paddingMode=17)
    w.bad("paddings of float32", "INVALID_DATATYPE", [x, const(rows, "float32")])
    w.bad("value of another type", "INVALID_DATATYPE", [x, p, const(1, "int32")])
    w.bad("two values", "INVALID_SHAPE", [x, p, const([1, 2], "float32")])
    w.bad("paddings of three rows", "INVALID_SHAPE", [x, const([[1, 1]] * 3)])
    w.bad("three flat paddings", "INVALID_SHAPE", [x, const([1, 1, 1])])
    w.bad("paddings of rank 3", "INVALID_SHAPE", [x, const([[[1, 1], [1, 1]]])])
    w.bad("type before mode", "INVALID_DATATYPE", [x, const(rows, "float32")], paddingMode=MODES["reserved"])
    w.bad("no inputs", "INVALID_INPUT", [], paddings=rows)
    w.bad("four inputs", "INVALID_INPUT", [x, p, const(1, "float32"), p])
    w.bad("x absent", "NULL_PTR", [None, p])
    w.bad("rank 9", "INVALID_SHAPE", [f32(*[1] * 9), const([[0, 0]] * 9)])


def make_reshape():
    w = Writer("RESHAPE")

    def put(name, x, shape, dtype="int32"):
        full = [x.shape[k] if d == 0 and x.size else d for k, d in enumerate(shape)]
        w.ok(name, [x, const(shape, dtype, (len(shape),))], x.reshape(full))

    x = f32(2, 6)
    put("2x6 to 3x4", x, [3, 4])
    put("int64 shape", x, [4, 3], "int64")
    put("to rank 1", x, [12])
    put("-1 first", x, [-1, 4])
    put("-1 last", x, [3, -1])
    put("-1 in the middle", x, [2, -1, 3])
    put("-1 alone", x, [-1])
    put("-1 becomes 1", x, [2, 6, -1])
    put("int64 -1", x, [-1, 2], "int64")
    put("0 copies", x, [0, 3, 2])
    put("0 copies the second extent", f32(2, 3, 2), [2, 0, 2])
    put("0 and -1", f32(2, 3, 2), [0, -1])
    put("two 0", f32(2, 3, 2), [0, 0, 1, 2])
    put("-1 before 0", f32(4, 3, 2), [-1, 0, 1], "int64")
    put("same shape", x, [2, 6])
    put("scalar to rank 1", f32(), [1])
    put("scalar to rank 4", f32(), [1, 1, 1, 1])
    put("scalar to -1", f32(), [-1])
    put("one element to scalar", f32(1, 1), [])
    put("scalar to scalar", f32(), [], "int64")
    put("to rank 8", f32(2, 3, 4), [1, 2, 1, 3, 1, 2, 2, 1])
    put("from rank 8", f32(1, 2, 1, 3, 1, 2, 2, 1), [6, -1])
    put("empty, literal 0", f32(0, 3), [3, 0])
    put("empty to rank 1", f32(2, 0, 3), [0])
    put("empty to rank 8", f32(0), [1, 2, 3, 0, 1, 1, 1, 5], "int64")
    put("empty with -1", f32(0, 4), [-1, 4])
    put("NaN and infinities", odd_floats("float32"), [2, -1, 2])
    for t in TYPES:
        put("type " + t, data(t, (2, 3), 2), [3, -1])
    for name, shape in [("product too large", [2, 7]), ("product too small", [2, 5]), ("-1 does not divide", [5, -1]),
                        ("scalar from 12", []), ("copied extent makes too many", [0, 6, 2])]:
        w.bad(name, "INVALID_SHAPE", [x, const(shape, "int32", (len(shape),))])
    w.bad("empty to one element", "INVALID_SHAPE", [f32(0, 3), const([1])])
    w.bad("two -1", "INVALID_PARAMETER", [x, const([-1, -1])])
    w.bad("two -1 of int64", "INVALID_PARAMETER", [x, const([-1, 2, -1], "int64")])
    w.bad("shape of float32", "INVALID_DATATYPE", [x, const([3, 4], "float32")])
    w.bad("shape of rank 2", "INVALID_SHAPE", [x, const([[3, 4]])])
    w.bad("rank 9", "INVALID_SHAPE", [f32(1), const([1] * 9)])
    w.bad("type before shape", "INVALID_DATATYPE", [x, const([[3, 5]], "float32")])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("three inputs", "INVALID_INPUT", [x, const([12]), const([12])])
    w.bad("shape absent", "NULL_PTR", [x, None])
    w.bad("two outputs", "INVALID_OUTPUT", [x, const([12])], [f32(12), f32(12)])
    return w


def make_shape():
    w = Writer("SHAPE")
    shapes = [("scalar", ()), ("rank 1", (5,)), ("rank 2", (2, 3)), ("rank 3", (4, 1, 2)), ("rank 4", (1, 2, 3, 4)),
              ("rank 5", (2, 1, 2, 1, 3)), ("rank 8", (1, 2, 1, 3, 1, 2, 2, 1)), ("empty", (0,)),
              ("empty inside", (3, 0, 2)), ("large and empty", (0, 2**31 - 1)), ("ones", (1, 1, 1))]
    for name, shape in shapes:
        x = np.zeros(shape, "float32") if 0 in shape else data("float32", shape)
        for t in ("int32", "int64"):
            w.ok("%s as %s" % (name, t), [x], np.array(shape, t),
                 error32="OUT_OF_MEMORY" if max(shape, default=0) >= 2**28 else None)
    for k, t in enumerate(TYPES):
        w.ok("x of type " + t, [data(t, (2, k % 3 + 1))], np.array([2, k % 3 + 1], ("int32", "int64")[k % 2]))
    w.ok("constant x", [Tensor(f32(2, 2), True)], np.array([2, 2], "int32"))
    w.ok("NCHW keeps the order", [f32(1, 3, 2, 2)], np.array([1, 3, 2, 2], "int32"), form="NCHW")
    x = f32(2, 3)
    w.bad("no inputs", "INVALID_INPUT", [])
    w.bad("two inputs", "INVALID_INPUT", [x, x])
    w.bad("input absent", "NULL_PTR", [None])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [np.array([2, 3], "int32")] * 2)
    w.bad("output of float32", "INVALID_DATATYPE", [x], [np.array([2, 3], "float32")])
    w.bad("output of int8", "INVALID_DATATYPE", [x], [np.array([2, 3], "int8")])
    w.bad("rank 9", "INVALID_SHAPE", [f32(*[1] * 9)])
    return w


def make_slice():
    w = Writer("SLICE_FUSION")

    def put(name, x, begin, size, axes=None, dtype="int32"):
        at = [slice(None)] * x.ndim
        z = x
        for k, (b, s) in enumerate(zip(begin, size)):
            axis = axes[k] if axes is not None else k
            b = b + x.shape[axis] if b < 0 else b
            at[axis] = slice(b, x.shape[axis] if s == -1 else b + s)
            z = np.take(z, np.arange(b, x.shape[axis] if s == -1 else b + s, dtype="int64"), axis)
        y = same(x[tuple(at)], z, name)
        n, attrs = (len(begin),), {} if axes is None else {"axes": axes}
        w.ok(name, [x, const(begin, dtype, n), const(size, dtype, n)], y, **attrs)

    x = f32(4, 5)
    put("inside", x, [1, 2], [2, 3])
    put("int64", x, [1, 2], [2, 3], None, "int64")
    put("whole", x, [0, 0], [4, 5])
    put("one element", x, [3, 4], [1, 1])
    put("to the end", x, [1, 2], [-1, -1])
    put("one size -1", x, [2, 1], [-1, 2])
    put("int64 size -1", x, [0, 3], [2, -1], None, "int64")
    put("negative begin", x, [-3, -2], [2, 2])
    put("negative begin to the end", x, [-1, -5], [-1, -1], None, "int64")
    put("size 0", x, [1, 2], [0, 3])
    put("size 0 at the end", x, [4, 5], [0, 0])
    put("size -1 at the end", x, [4, 0], [-1, 2])
    put("axes 1", x, [2], [2], [1])
    put("axes 1 0", x, [2, 1], [3, 2], [1, 0])
    put("negative axes", x, [1, 3], [2, 1], [-2, -1])
    put("one negative axis", f32(2, 3, 4), [1], [-1], [-2], "int64")
    put("axes 0 and 2", f32(3, 2, 4), [1, -3], [1, 2], [0, 2])
    put("axes in full", x, [1, 1], [3, 3], [0, 1])
    put("first axis only", f32(3, 2, 2), [1], [2], [0])
    put("rank 1", f32(6), [2], [3])
    put("rank 1 negative", f32(6), [-6], [1])
    put("rank 4 NHWC", f32(1, 3, 4, 2), [0, 1, 0, 1], [1, 2, 3, 1])
    put("rank 8", f32(1, 2, 1, 3, 1, 2, 2, 1), [0, 1, 0, 1, 0, 0, 1, 0], [1, 1, -1, 2, 1, 2, 1, -1])
    put("rank 8, one axis", f32(1, 2, 1, 3, 1, 2, 2, 1), [1], [2], [3])
    put("empty x", f32(0, 3), [0, 1], [0, 2])
    put("empty x to the end", f32(0, 3), [0, 1], [-1, 1])
    put("scalar", f32(), [], [])
    put("NaN and infinities", odd_floats("float32"), [0], [5])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (3, 4), 2), [k % 3, -3], [1, 2], None, ("int32", "int64")[k % 2])
    b, s = const([1, 2]), const([2, 3])
    for name, begin, size in [("begin beyond the end", [5, 0], [0, 1]), ("begin too small", [-5, 0], [1, 1]),
                              ("size beyond the end", [2, 0], [3, 5]), ("size -2", [0, 0], [-2, 1])]:
        w.bad(name, "INVALID_PARAMETER", [x, const(begin), const(size)])
    w.bad("begin and size overflow together", "INVALID_PARAMETER",
          [x, const([1, 0], "int64"), const([I64_MAX, 1], "int64")])
    w.bad("axis too large", "INVALID_PARAMETER", [x, b, s], axes=[0, 2])
    w.bad("axis too small", "INVALID_PARAMETER", [x, b, s], axes=[-3, 1])
    w.bad("axis twice", "INVALID_PARAMETER", [x, b, s], axes=[1, -1])
    w.bad("begin of float32", "INVALID_DATATYPE", [x, const([1, 2], "float32"), s])
    w.bad("size of int16", "INVALID_DATATYPE", [x, b, const([2, 3], "int16")])
    w.bad("begin and size of two lengths", "INVALID_SHAPE", [x, const([1]), s])
    w.bad("begin of rank 2", "INVALID_SHAPE", [x, const([[1, 2]]), s])
    w.bad("two inputs", "INVALID_INPUT", [x, b])
    w.bad("size absent", "NULL_PTR", [x, b, None])
    return w


def make_split():
    w = Writer("SPLIT")

    def put(name, x, parts, axis=0, sizes=None):
        if sizes is None:
            outs = np.split(x, parts, axis)
        else:
            full = [x.shape[axis] - sum(s for s in sizes if s >= 0) if s == -1 else s for s in sizes]
            outs = np.split(x, np.cumsum(full)[:-1], axis)
            if x.dtype.kind == "f":
                for a, t in zip(outs, torch.split(torch.from_numpy(x.copy()), full, axis)):
                    same(a, t.numpy(), name)
        if len(outs) != parts:
            raise SystemExit("wrong number of parts: " + name)
        same(np.concatenate(outs, axis), x, name)
        w.ok(name, [x], list(outs), outputNum=parts, axis=axis, **({"sizeSplits": sizes} if sizes is not None else {}))

    x = f32(4, 6)
    put("two rows parts", x, 2)
    put("three column parts", x, 3, 1)
    put("negative axis", x, 2, -1)
    put("first axis negative", x, 4, -2)
    put("one part", x, 1)
    put("one part with its size", x, 1, 1, [6])
    put("one part of the rest", x, 1, 1, [-1])
    put("sizes", x, 3, 1, [1, 2, 3])
    put("sizes along rows", x, 2, 0, [1, 3])
    put("rest first", x, 3, 1, [-1, 2, 1])
    put("rest last", x, 3, -1, [2, 1, -1])
    put("rest in the middle", x, 3, -1, [2, -1, 3])
    put("rest is empty", x, 3, 1, [4, 2, -1])
    put("size 0 first", x, 3, 1, [0, 2, 4])
    put("size 0 last", x, 2, 0, [4, 0])
    put("all sizes 0 but one", x, 4, 1, [0, 6, 0, 0])
    put("20 parts", data("int32", (20, 2)), 20)
    put("20 parts with sizes", data("int16", (2, 21)), 20, 1, [1] * 19 + [2])
    put("rank 1", f32(6), 3)
    put("middle axis", f32(2, 4, 3), 2, 1)
    put("NHWC channels", f32(1, 2, 2, 4), 2, 3)
    put("rank 8", f32(1, 2, 1, 4, 1, 2, 2, 1), 2, 3)
    put("rank 8 sizes", f32(1, 2, 1, 4, 1, 2, 2, 1), 2, -5, [1, 3])
    put("empty axis in equal parts", f32(0, 2), 3)
    put("empty axis with sizes", f32(2, 0), 2, 1, [0, 0])
    put("another axis empty", f32(0, 4), 2, 1)
    put("NaN and infinities", odd_floats("float32"), 2, 0, [3, 5])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (3, 4), 2), 2, 1, None if k % 2 else [3, 1])
    two = [f32(2, 6), f32(2, 6)]
    w.bad("not divisible", "INVALID_SHAPE", [f32(5, 2)], two, outputNum=2, axis=0)
    w.bad("axis too large", "INVALID_PARAMETER", [x], two, outputNum=2, axis=2)
    w.bad("axis too small", "INVALID_PARAMETER", [x], two, outputNum=2, axis=-3)
    w.bad("two rests", "INVALID_PARAMETER", [x], two, outputNum=2, axis=0, sizeSplits=[-1, -1])
    w.bad("size -2", "INVALID_PARAMETER", [x], two, outputNum=2, axis=0, sizeSplits=[-2, 6])
    w.bad("fewer sizes than outputs", "INVALID_PARAMETER", [x], two, outputNum=2, axis=0, sizeSplits=[4])
    w.bad("more sizes than outputs", "INVALID_PARAMETER", [x], two, outputNum=2, axis=0, sizeSplits=[1, 1, 2])
    w.bad("fewer outputs than outputNum", "INVALID_OUTPUT", [f32(6, 2)], two, outputNum=3, axis=0)
    w.bad("more outputs than outputNum", "INVALID_OUTPUT", [x], two, outputNum=1, axis=0)
    w.bad("two inputs", "INVALID_INPUT", [x, x], two, outputNum=2, axis=0)
    w.bad("input absent", "NULL_PTR", [None], two, outputNum=2, axis=0)
    w.bad("rank 9", "INVALID_SHAPE", [f32(*[1] * 9)], [f32(*[1] * 9)], outputNum=1, axis=0)
    return w


def make_squeeze():
    w = Writer("SQUEEZE")

    def put(name, x, axes=None):
        drop = [k for k in range(x.ndim) if x.shape[k] == 1]
        if axes is not None:
            drop = [k for k in drop if k in [a + x.ndim if a < 0 else a for a in axes]]
        y = np.squeeze(x, tuple(drop))
        same(y, x.reshape([d for k, d in enumerate(x.shape) if k not in drop]), name)
        w.ok(name, [x], y, **({"axis": axes} if axes is not None else {}))

    put("all of extent 1", f32(1, 2, 1, 3, 1))
    put("all, none to drop", f32(2, 3))
    put("all to a scalar", f32(1, 1, 1))
    put("one element of rank 1", f32(1))
    put("one axis", f32(1, 2, 1, 3), [0])
    put("another axis", f32(1, 2, 1, 3), [2])
    put("two axes", f32(1, 2, 1, 3), [0, 2])
    put("two axes out of order", f32(1, 2, 1, 3), [2, 0])
    put("negative axis", f32(1, 2, 1, 3), [-2])
    put("negative and positive", f32(1, 2, 1, 3, 1), [-1, 0])
    put("last axis", f32(3, 1), [-1])
    put("to a scalar by list", f32(1, 1), [0, 1])
    put("example of the specification", f32(2, 1, 1, 2, 2), [0, 1])
    put("listed axis of extent 2 stays", f32(2, 1, 3), [0])
    put("listed axes all stay", f32(2, 3), [0, 1])
    put("listed empty axis stays", f32(0, 1, 2), [0, 1])
    put("scalar", f32())
    put("rank 8", f32(1, 2, 1, 3, 1, 2, 1, 2))
    put("rank 8 by list", f32(1, 2, 1, 3, 1, 2, 1, 2), [6, -4, 0])
    put("empty", f32(1, 0, 1))
    put("NaN and infinities", odd_floats("float32").reshape(1, 8), [0])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (2, 1, 3), 2), ([1], [-2], None)[k % 3])
    q = [(8, 4, 0.25)]
    x = data("int8", (1, 4), 3)
    w.ok("quantised", [Tensor(x, quant=q)], Tensor(x.reshape(4), quant=q), axis=[0])
    x = f32(1, 2, 1)
    w.bad("axis too large", "INVALID_PARAMETER", [x], axis=[3])
    w.bad("axis too small", "INVALID_PARAMETER", [x], axis=[-4])
    w.bad("second axis too large", "INVALID_PARAMETER", [x], axis=[0, 7])
    w.bad("axis twice", "INVALID_PARAMETER", [x], axis=[0, 0])
    w.bad("axis twice, once negative", "INVALID_PARAMETER", [x], axis=[2, -1])
    w.bad("axis of a scalar", "INVALID_PARAMETER", [f32()], axis=[0])
    w.bad("two inputs", "INVALID_INPUT", [x, x])
    w.bad("input absent", "NULL_PTR", [None], axis=[0])
    w.bad("rank 9", "INVALID_SHAPE", [f32(*[1] * 9)])
    w.bad("rank before axis", "INVALID_SHAPE", [f32(*[1] * 9)], axis=[20])
    return w


def make_stack():
    w = Writer("STACK")

    def put(name, arrays, axis):
        y = np.stack(arrays, axis)
        same(y, np.concatenate([np.expand_dims(a, axis) for a in arrays], axis), name)
        w.ok(name, arrays, y, axis=axis)

    pair = [f32(2, 3), f32(2, 3, seed=5)]
    for axis in (0, 1, 2, -1, -2, -3):
        put("axis %d" % axis, pair, axis)
    put("one input", pair[:1], 0)
    put("one input, last axis", pair[:1], -1)
    put("three inputs", pair + [f32(2, 3, seed=9)], 1)
    put("20 inputs", [data("int32", (2,), k + 1) for k in range(20)], 0)
    put("20 inputs on the last axis", [data("uint8", (3,), k + 1) for k in range(20)], -1)
    put("scalars", [f32(), f32(seed=2), f32(seed=7)], 0)
    put("scalars, axis -1", [f32(), f32(seed=2)], -1)
    put("one scalar", [f32()], 0)
    put("rank 1", [f32(4), f32(4, seed=3)], 1)
    put("rank 7", [f32(1, 2, 1, 2, 1, 2, 1), f32(1, 2, 1, 2, 1, 2, 1, seed=4)], 4)
    put("rank 7, first axis negative", [f32(1, 2, 1, 2, 1, 2, 1), f32(1, 2, 1, 2, 1, 2, 1, seed=4)], -8)
    put("empty", [f32(2, 0), f32(2, 0)], 1)
    put("empty rank 1", [f32(0), f32(0), f32(0)], 0)
    put("NaN and infinities", [odd_floats("float32"), odd_floats("float32")[::-1].copy()], 1)
    for k, t in enumerate(TYPES):
        put("type " + t, [data(t, (2, 2), 1), data(t, (2, 2), 2), data(t, (2, 2), 3)], k % 3)
    x = pair[0]
    w.bad("no inputs", "INVALID_INPUT", [], axis=0)
    w.bad("second input absent", "NULL_PTR", [x, None], axis=0)
    w.bad("types differ", "INVALID_DATATYPE", [x, data("int32", (2, 3))], axis=0)
    w.bad("shapes differ", "INVALID_SHAPE", [x, f32(2, 4)], axis=0)
    w.bad("extents of 1 do not broadcast", "INVALID_SHAPE", [x, f32(2, 1)], axis=0)
    w.bad("ranks differ", "INVALID_SHAPE", [x, f32(3)], axis=0)
    w.bad("axis too large", "INVALID_PARAMETER", [x, x], axis=3)
    w.bad("axis too small", "INVALID_PARAMETER", [x, x], axis=-4)
    w.bad("shape before axis", "INVALID_SHAPE", [x, f32(2, 4)], axis=3)
    w.bad("type before shape", "INVALID_DATATYPE", [x, data("int32", (3,))], axis=3)
    w.bad("result of rank 9", "INVALID_SHAPE", [f32(*[1] * 8)] * 2, axis=0)
    return w


def strided_by_walk(x, begin, end, strides, masks):
    """STRIDED_SLICE as OPS.md A16 tells it, entry by entry."""
    def bit(mask, i):
        return masks.get(mask, 0) >> i & 1

    m, a, shape = len(begin), 0, []
    takers = sum(not bit("ellipsisMask", i) and not bit("newAxisMask", i) for i in range(m))
    y = x
    for i in range(m):
        if bit("ellipsisMask", i):
            shape += x.shape[a:a + x.ndim - takers]
            a += x.ndim - takers
            continue
        if bit("newAxisMask", i):
            shape.append(1)
            continue
        n, b, e, s = x.shape[a], begin[i], end[i], strides[i]
        if bit("shrinkAxisMask", i):
            y = np.take(y, [b + n if b < 0 else b], a)
            a += 1
            continue
        b, e = b + n if b < 0 else b, e + n if e < 0 else e
        b = (0 if s > 0 else n - 1) if bit("beginMask", i) else b
        e = (n if s > 0 else -1) if bit("endMask", i) else e
        low, high = (0, n) if s > 0 else (-1, n - 1)
        b, e = min(max(b, low), high), min(max(e, low), high)
        picks = [b + k * s for k in range(max(0, -((b - e) // s)))]
        y = np.take(y, np.array(picks, "int64"), a)
        shape.append(len(picks))
        a += 1
    return y.reshape(shape + list(x.shape[a:]))


def strided_by_numpy(x, begin, end, strides, masks):
    """The same as a Python index expression."""
    index = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides)):
        bits = {k: v >> i & 1 for k, v in masks.items()}
        if bits.get("ellipsisMask"):
            index.append(Ellipsis)
        elif bits.get("newAxisMask"):
            index.append(None)
        elif bits.get("shrinkAxisMask"):
            index.append(b)
        else:
            index.append(slice(None if bits.get("beginMask") else b, None if bits.get("endMask") else e, s))
    return np.asarray(x[tuple(index)])


def strided_put(w, name, x, begin, end, strides, dtype="int32", **masks):
    y = same(strided_by_numpy(x, begin, end, strides, masks), strided_by_walk(x, begin, end, strides, masks), name)
    w.ok(name, [x] + [const(v, dtype, (len(v),)) for v in (begin, end, strides)], y, **masks)


def strided_put5(w, name, x, begin, end, axes, strides, dtype="int32"):
    """x, begin, end, axes, strides; with a negative stride a begin below -L still takes element 0."""
    picks = [slice(None)] * x.ndim
    y = x
    for k, (b, e, s) in enumerate(zip(begin, end, strides)):
        axis = axes[k] if axes is not None else k
        n = x.shape[axis]
        b, e = b + n if b < 0 else b, e + n if e < 0 else e
        low, high = (0, n) if s > 0 else (-1, n - 1)
        b = min(max(b, 0), high) if s < 0 else min(max(b, low), high)
        e = min(max(e, low), high)
        chosen = list(range(b, e, s))
        y = np.take(y, np.array(chosen, "int64"), axis)
        picks[axis] = slice(b, None if e < 0 else e, s) if n else slice(0, 0)
    same(y, x[tuple(picks)], name)
    m = (len(begin),)
    w.ok(name, [x, const(begin, dtype, m), const(end, dtype, m), None if axes is None else const(axes, dtype, m),
                const(strides, dtype, m)], y)


def make_strided_slice():
    w = Writer("STRIDED_SLICE")
    strided_plain(w)
    strided_masks(w)
    strided_five(w)
    strided_errors(w)
    return w


def strided_plain(w):
    x, v = f32(4, 5), data("int32", (6,), 3)
    strided_put(w, "example of the specification", x, [1, 0], [3, 5], [1, 2])
    strided_put(w, "int64", x, [1, 0], [3, 5], [1, 2], "int64")
    strided_put(w, "negative begin and end", x, [-3, -4], [-1, -1], [1, 2])
    strided_put(w, "begin below 0 and end beyond the extent", x, [-9, -7], [9, 7], [1, 3])
    strided_put(w, "fewer entries than axes", x, [1], [3], [1])
    strided_put(w, "no entries", x, [], [], [])
    strided_put(w, "scalar without entries", f32(), [], [], [])
    strided_put(w, "stride beyond the extent", x, [0, 1], [4, 5], [9, 7])
    strided_put(w, "stride -1", x, [3, 4], [0, 1], [-1, -1])
    strided_put(w, "stride -1, end below -L", v, [5], [-7], [-1])
    strided_put(w, "stride -2 over an even extent", v, [5], [-10], [-2])
    strided_put(w, "stride -3, begin beyond the end", v, [100], [0], [-3])
    strided_put(w, "stride -1, begin below -L is empty", v, [-7], [-100], [-1])
    strided_put(w, "stride -1, end -1 is the last element", v, [5], [-1], [-1])
    strided_put(w, "stride 1, begin beyond the end is empty", v, [6], [9], [1])
    strided_put(w, "empty because the end comes first", x, [3, 1], [1, 4], [1, 1])
    strided_put(w, "empty with a negative stride", x, [1, 4], [3, 0], [-1, -1])
    strided_put(w, "empty axis", f32(0, 3), [0, 0], [5, 3], [1, 2])
    strided_put(w, "empty axis backwards", f32(0, 3), [5, 2], [-5, -9], [-1, -1])
    strided_put(w, "largest end", v, [2], [I64_MAX], [1], "int64")
    strided_put(w, "smallest begin, largest end", v, [I64_MIN], [I64_MAX], [2], "int64")
    strided_put(w, "largest begin, smallest end, backwards", v, [I64_MAX], [I64_MIN], [-1], "int64")
    strided_put(w, "largest stride", v, [1], [6], [I64_MAX], "int64")
    strided_put(w, "smallest stride", v, [4], [I64_MIN], [I64_MIN], "int64")
    strided_put(w, "all extreme", v, [I64_MIN], [I64_MAX], [I64_MAX], "int64")
    strided_put(w, "extremes of int32", v, [-2**31], [2**31 - 1], [2**31 - 1])
    strided_put(w, "extremes of int32 backwards", v, [2**31 - 1], [-2**31], [-2**31])
    strided_put(w, "rank 4", f32(1, 4, 4, 2), [0, 1, 3, 0], [1, 4, 0, 2], [1, 2, -2, 1])
    strided_put(w, "rank 8", f32(1, 2, 1, 3, 1, 2, 2, 1), [0, 0, 0, 2, 0, 1, 0, 0], [1, 2, 1, 0, 1, -3, 2, 1],
                [1, 1, 1, -1, 1, -1, 1, 1])
    strided_put(w, "NaN and infinities", odd_floats("float32"), [7], [-9], [-2])
    for k, t in enumerate(TYPES):
        strided_put(w, "type " + t, data(t, (3, 4), 2), [0, 3], [3, -9], [2, -1], ("int32", "int64")[k % 2])


def strided_masks(w):
    x, c = f32(4, 5), f32(2, 3, 4)
    strided_put(w, "beginMask of the specification", x, [1, 0], [3, 5], [1, 2], beginMask=1)
    strided_put(w, "shrinkAxisMask of the specification", x, [1, 0], [3, 5], [1, 2], shrinkAxisMask=1)
    strided_put(w, "newAxisMask of the specification", x, [0, 1], [1, 3], [1, 1], newAxisMask=1)
    strided_put(w, "endMask", x, [1, 1], [2, 2], [1, 2], endMask=2)
    strided_put(w, "both begin and end masks", x, [9, 9], [-9, -9], [1, 1], "int64", beginMask=3, endMask=3)
    strided_put(w, "beginMask backwards", x, [0, 1], [0, 0], [-1, -1], beginMask=3)
    strided_put(w, "endMask backwards", x, [2, 4], [2, 4], [-1, -2], endMask=3)
    strided_put(w, "both masks backwards", x, [0, 0], [0, 0], [-1, -2], beginMask=3, endMask=3)
    strided_put(w, "masks over an empty axis backwards", f32(0, 2), [0, 0], [0, 2], [-1, 1], beginMask=1, endMask=1)
    strided_put(w, "mask bits beyond the entries", x, [1], [3], [1], beginMask=6, endMask=6)
    strided_put(w, "ellipsis first", c, [0, 1], [0, 3], [1, 1], ellipsisMask=1)
    strided_put(w, "ellipsis in the middle", c, [1, 0, 1], [2, 0, 4], [1, 1, 2], ellipsisMask=2)
    strided_put(w, "ellipsis last", c, [1, 7], [2, -7], [1, 3], ellipsisMask=2)
    strided_put(w, "ellipsis alone", c, [0], [0], [1], ellipsisMask=1)
    strided_put(w, "ellipsis for no axis", x, [1, 0, 2], [3, 0, 4], [1, 1, 1], ellipsisMask=2)
    strided_put(w, "ellipsis of a scalar", f32(), [0], [0], [1], ellipsisMask=1)
    strided_put(w, "ellipsis in rank 8", f32(1, 2, 1, 3, 1, 2, 2, 1), [1, 0, 1], [2, 0, 0], [1, 1, -1], ellipsisMask=2,
                beginMask=1, endMask=4, shrinkAxisMask=0)
    strided_put(w, "new axis first, in the middle and last", x, [0, 1, 0, 0, 0], [0, 3, 0, 9, 0], [1] * 5,
                newAxisMask=21)
    strided_put(w, "new axis of a scalar", f32(), [0, 0], [0, 0], [1, 1], newAxisMask=3)
    strided_put(w, "new axis after the last entry", x, [0, 0, 0], [4, 5, 0], [2, 1, 1], newAxisMask=4)
    strided_put(w, "rank 7 with a new axis", f32(1, 2, 1, 3, 1, 2, 1), [0, 0], [1, 0], [1, 1], newAxisMask=2)
    strided_put(w, "shrink to rank 1", c, [1, 2], [2, 3], [1, 1], shrinkAxisMask=3)
    strided_put(w, "shrink to a scalar", x, [2, 3], [3, 4], [1, 1], shrinkAxisMask=3)
    strided_put(w, "shrink with a negative begin", c, [-2, -1, -4], [0, 0, 0], [1, 1, 1], shrinkAxisMask=7)
    strided_put(w, "shrink ignores the end", x, [3, 1], [-100, 1], [2, 1], shrinkAxisMask=3)
    strided_put(w, "shrink ignores beginMask", x, [2, 1], [0, 4], [1, 1], beginMask=1, endMask=1, shrinkAxisMask=1)
    strided_put(w, "shrink the middle axis", c, [0, 1, 3], [2, 2, 0], [1, 1, -2], shrinkAxisMask=2)
    strided_put(w, "ellipsis wins over new axis and shrink", c, [0, 1], [0, 3], [1, 1], ellipsisMask=1, newAxisMask=1,
                shrinkAxisMask=1)
    strided_put(w, "new axis wins over shrink", x, [0, 1], [0, 3], [1, 1], newAxisMask=1, shrinkAxisMask=1)
    strided_put(w, "new axis, ellipsis and shrink", c, [0, 0, 2], [0, 0, 3], [1, 1, 1], newAxisMask=1, ellipsisMask=2,
                shrinkAxisMask=4)
    strided_put(w, "shrink, new axis, ellipsis, backwards", c, [1, 0, 0, 3], [2, 0, 0, 0], [1, 1, 1, -1],
                shrinkAxisMask=1, newAxisMask=2, ellipsisMask=4, endMask=8)
    strided_put(w, "every mask", f32(2, 3, 2, 4), [9, 0, 5, 1, 0], [2, 0, 0, 0, 9], [1, 1, 1, 1, 2], "int64",
                beginMask=1, newAxisMask=2, ellipsisMask=4, shrinkAxisMask=8, endMask=16)
    strided_put(w, "shrink of an otherwise empty tensor", f32(3, 0), [1], [2], [1], shrinkAxisMask=1)


def strided_five(w):
    x, v, c = f32(4, 5), data("int32", (6,), 3), f32(2, 3, 4)
    strided_put5(w, "five: axes 1", x, [1], [4], [1], [2])
    strided_put5(w, "five: axes 1 0", x, [1, 0], [4, 3], [1, 0], [1, 2])
    strided_put5(w, "five: axes absent", x, [1, 0], [3, 5], None, [1, 2])
    strided_put5(w, "five: axes absent, one entry", x, [1], [3], None, [1], "int64")
    strided_put5(w, "five: negative axes", c, [0, 1], [2, 3], [-1, -2], [1, 1], "int64")
    strided_put5(w, "five: middle axis backwards", c, [2], [-9], [1], [-1])
    strided_put5(w, "five: starts and ends outside", x, [-9, 2], [9, 100], [0, 1], [1, 1])
    strided_put5(w, "five: begin below -L backwards takes element 0", v, [-7], [-100], [0], [-1])
    strided_put5(w, "five: begin far below -L backwards", v, [I64_MIN], [I64_MIN], [0], [-2], "int64")
    strided_put5(w, "five: begin at -L backwards", v, [-6], [-100], [0], [-1])
    strided_put5(w, "five: begin below -L backwards, end 0 is empty", v, [-9], [0], [0], [-1])
    strided_put5(w, "five: reversed", v, [I64_MAX], [I64_MIN], [0], [-1], "int64")
    strided_put5(w, "five: end of INT32_MAX backwards is empty", v, [5], [2**31 - 1], [0], [-1])
    strided_put5(w, "five: end of INT64_MAX", v, [1], [I64_MAX], [0], [2], "int64")
    strided_put5(w, "five: largest stride", v, [2], [6], [0], [I64_MAX], "int64")
    strided_put5(w, "five: smallest stride", v, [2], [-100], [0], [I64_MIN], "int64")
    strided_put5(w, "five: empty axis backwards", f32(0, 2), [0], [-9], [0], [-1])
    strided_put5(w, "five: begin beyond the end is empty", x, [7], [9], [0], [1])
    strided_put5(w, "five: no entries", x, [], [], [], [])
    strided_put5(w, "five: rank 8", f32(1, 2, 1, 3, 1, 2, 2, 1), [2, 1], [-4, 2], [3, -3], [-2, 1])
    strided_put5(w, "five: type float16", data("float16", (3, 4)), [3], [0], [1], [-2])
    strided_put5(w, "five: type int8", data("int8", (3, 4)), [-2], [3], [0], [1], "int64")


def strided_errors(w):
    x, b, e, s = f32(4, 5), const([1, 0]), const([3, 5]), const([1, 1])
    ins, three = [x, b, e, s], [const([0, 0, 0]), const([1, 1, 1]), const([1, 1, 1])]
    w.bad("stride 0", "INVALID_PARAMETER", [x, b, e, const([1, 0])])
    w.bad("stride 0 of the five-input form", "INVALID_PARAMETER", [x, b, e, const([0, 1]), const([0, 1])])
    w.bad("two ellipses", "INVALID_PARAMETER", ins, ellipsisMask=3)
    w.bad("too many entries", "INVALID_PARAMETER", [x] + three)
    w.bad("too many entries beside an ellipsis", "INVALID_PARAMETER",
          [x, const([0] * 4), const([1] * 4), const([1] * 4)], ellipsisMask=1)
    w.bad("shrink beyond the end", "INVALID_PARAMETER", [x, const([4, 0]), e, s], shrinkAxisMask=1)
    w.bad("shrink below -L", "INVALID_PARAMETER", [x, const([1, -6]), e, s], shrinkAxisMask=2)
    w.bad("shrink of an empty axis", "INVALID_PARAMETER", [f32(0, 5), const([0, 0]), e, s], shrinkAxisMask=1)
    w.bad("shrink with a negative stride", "INVALID_PARAMETER", [x, b, e, const([-1, 1])], shrinkAxisMask=1)
    w.bad("axis too large", "INVALID_PARAMETER", [x, b, e, const([0, 2]), s])
    w.bad("axis too small", "INVALID_PARAMETER", [x, b, e, const([0, -3]), s])
    w.bad("axis twice", "INVALID_PARAMETER", [x, b, e, const([1, -1]), s])
    w.bad("begin of float32", "INVALID_DATATYPE", [x, const([1, 0], "float32"), e, s])
    w.bad("strides of uint8", "INVALID_DATATYPE", [x, b, e, const([1, 1], "uint8")])
    w.bad("lengths differ", "INVALID_SHAPE", [x, b, const([3]), s])
    w.bad("length of strides differs", "INVALID_SHAPE", [x, b, e, const([1])])
    w.bad("begin of rank 2", "INVALID_SHAPE", [x, const([[1, 0]]), e, s])
    w.bad("type before stride 0", "INVALID_DATATYPE", [x, const([1, 0], "float32"), e, const([0, 0])])
    w.bad("three inputs", "INVALID_INPUT", [x, b, e])
    w.bad("six inputs", "INVALID_INPUT", [x, b, e, const([0, 1]), s, s])
    w.bad("end absent", "NULL_PTR", [x, b, None, s])
    w.bad("result of rank 9", "INVALID_SHAPE", [f32(*[1] * 8), const([0]), const([0]), const([1])], newAxisMask=1)


def make_tile():
    w = Writer("TILE_FUSION")

    def put(name, x, multiples, dims=None, dtype="int32"):
        if dims is None:
            y = np.tile(x, multiples) if multiples else x.copy()
            z = x.reshape((1,) * max(0, len(multiples) - x.ndim) + x.shape)
            full = [1] * (z.ndim - len(multiples)) + list(multiples)
        else:
            z, full = x, [1] * x.ndim
            for axis, count in zip(dims, multiples):
                full[axis] = count
            y = np.tile(x, full)
        for axis, count in enumerate(full):
            z = np.concatenate([z] * count, axis) if count else np.take(z, [], axis)
        same(y, z, name)
        w.ok(name, [x, const(multiples, dtype, (len(multiples),))], y, **({"dims": dims} if dims is not None else {}))

    x, c = f32(2, 3), f32(2, 1, 3)
    put("both axes", x, [2, 3])
    put("rows", x, [3, 1])
    put("columns", x, [1, 2])
    put("all ones", x, [1, 1])
    put("int64", x, [2, 2], None, "int64")
    put("fewer counts than axes", c, [2])
    put("two counts for three axes", c, [3, 2])
    put("more counts than axes", x, [2, 1, 2])
    put("more counts than axes, ones", x, [1, 1, 1, 2])
    put("more counts, int64", f32(3), [2, 2], None, "int64")
    put("scalar, no counts", f32(), [])
    put("scalar to rank 1", f32(), [3])
    put("scalar to rank 2", f32(), [2, 3])
    put("no counts", x, [])
    put("dims 0", x, [3], [0])
    put("dims 1", c, [4], [1])
    put("dims 2 0", c, [2, 3], [2, 0])
    put("dims 0 1 in full", x, [2, 2], [0, 1])
    put("dims negative", c, [2, 3], [-1, -3], "int64")
    put("dims with a count of 0", c, [0], [1])
    put("count 0", x, [0, 2])
    put("all counts 0", x, [0, 0])
    put("count 0 in front", x, [0, 1, 1])
    put("empty x", f32(0, 2), [3, 2])
    put("empty x, count 0", f32(2, 0), [0, 4], None, "int64")
    put("rank 1", data("int16", (5,)), [4])
    put("rank 4", f32(1, 2, 2, 2), [2, 1, 2, 3])
    put("rank 8", f32(1, 2, 1, 2, 1, 2, 1, 1), [2, 1, 1, 2, 1, 1, 3, 1])
    put("rank 2 to rank 8", x, [1, 2, 1, 1, 2, 1, 1, 2])
    put("rank 8, last axes", f32(1, 2, 1, 2, 1, 2, 1, 2), [2, 2])
    put("NaN and infinities", odd_floats("float32"), [2])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (2, 2), 2), [(2, 1), (1, 3), (3, 2)][k % 3])
    w.bad("negative count", "INVALID_PARAMETER", [x, const([2, -1])])
    w.bad("dims too large", "INVALID_PARAMETER", [x, const([2])], dims=[2])
    w.bad("dims too small", "INVALID_PARAMETER", [x, const([2])], dims=[-3])
    w.bad("dims twice", "INVALID_PARAMETER", [x, const([2, 3])], dims=[0, 0])
    w.bad("counts of float32", "INVALID_DATATYPE", [x, const([2, 2], "float32")])
    w.bad("counts of rank 2", "INVALID_SHAPE", [x, const([[2, 2]])])
    w.bad("result of rank 9", "INVALID_SHAPE", [x, const([1] * 9)])
    w.bad("type before dims", "INVALID_DATATYPE", [x, const([2], "float32")], dims=[5])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("counts absent", "NULL_PTR", [x, None])
    w.bad("more elements than int64 counts", "OUT_OF_MEMORY", [f32(1, 1, 1), const([2**31 - 1] * 3)])
    return w


def make_transpose():
    w = Writer("TRANSPOSE")

    def put(name, x, perm, dtype="int32"):
        y = np.ascontiguousarray(np.transpose(x, perm)).reshape([x.shape[p] for p in perm])
        if x.size <= 200:
            z = np.zeros(y.shape, x.dtype)
            for i in np.ndindex(*y.shape):
                j = [0] * x.ndim
                for k, p in enumerate(perm):
                    j[p] = i[k]
                z[i] = x[tuple(j)]
            same(y, z, name)
        w.ok(name, [x, const(perm, dtype, (len(perm),))], y)

    put("matrix", f32(2, 3), [1, 0])
    put("identity", f32(2, 3), [0, 1])
    put("int64 perm", f32(3, 4), [1, 0], "int64")
    put("negative entries", f32(2, 3, 4), [-1, 0, -2])
    put("negative int64 entries", f32(2, 3), [-1, -2], "int64")
    for p in itertools.permutations(range(3)):
        put("rank 3 perm %d%d%d" % p, f32(2, 3, 4), list(p))
    put("NHWC to NCHW", f32(2, 3, 4, 2), [0, 3, 1, 2])
    put("NCHW to NHWC", f32(2, 3, 2, 4), [0, 2, 3, 1])
    put("reversed rank 4", f32(1, 2, 3, 4), [3, 2, 1, 0])
    put("swap of the inner axes", f32(2, 2, 3, 4), [0, 1, 3, 2])
    put("swap of the outer axes", f32(2, 3, 2, 2), [1, 0, 2, 3])
    put("rank 1", f32(4), [0])
    put("rank 1, -1", f32(4), [-1])
    put("scalar", f32(), [])
    put("rank 5", f32(2, 1, 3, 2, 2), [4, 2, 0, 1, 3])
    put("rank 6", f32(2, 1, 2, 3, 1, 2), [5, 3, 1, 4, 2, 0])
    put("rank 8", f32(1, 2, 1, 3, 2, 1, 2, 2), [7, 3, 0, 4, 1, 6, 5, 2])
    put("rank 8 reversed", f32(2, 1, 2, 1, 3, 1, 2, 1), [7, 6, 5, 4, 3, 2, 1, 0])
    put("extents of 1", f32(1, 5, 1), [2, 1, 0])
    put("empty", f32(0, 3), [1, 0])
    put("empty in the middle", f32(2, 0, 3), [2, 0, 1])
    put("9 by 11", f32(9, 11), [1, 0])
    put("NaN and infinities", odd_floats("float32").reshape(2, 4), [1, 0])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (2, 3, 2), 2), [(2, 1, 0), (0, 2, 1), (1, 2, 0)][k % 3])
    q, n = [(8, 4, 0.25)], data("int8", (2, 3), 3)
    w.ok("quantised", [Tensor(n, quant=q), const([1, 0])], Tensor(n.T.copy(), quant=q))
    x = f32(2, 3)
    for name, perm in [("entry too large", [0, 2]), ("entry too small", [0, -3]), ("entry twice", [1, 1]),
                       ("entry twice, once negative", [1, -1])]:
        w.bad(name, "INVALID_PARAMETER", [x, const(perm)])
    w.bad("perm too short", "INVALID_SHAPE", [x, const([0])])
    w.bad("perm too long", "INVALID_SHAPE", [x, const([0, 1, 2])])
    w.bad("perm of rank 2", "INVALID_SHAPE", [x, const([[1, 0]])])
    w.bad("perm of float32", "INVALID_DATATYPE", [x, const([1, 0], "float32")])
    w.bad("type before length", "INVALID_DATATYPE", [x, const([0, 0, 0], "float32")])
    w.bad("one input", "INVALID_INPUT", [x])
    w.bad("three inputs", "INVALID_INPUT", [x, const([1, 0]), const([1, 0])])
    w.bad("perm absent", "NULL_PTR", [x, None])
    w.bad("rank 9", "INVALID_SHAPE", [f32(*[1] * 9), const(list(range(9)))])
    return w


def make_unsqueeze():
    w = Writer("UNSQUEEZE")

    def put(name, x, axes):
        n = x.ndim + len(axes)
        new = sorted(a + n if a < 0 else a for a in axes)
        rest = iter(x.shape)
        shape = [1 if k in new else next(rest) for k in range(n)]
        y = x
        for k in new:
            y = np.expand_dims(y, k)
        w.ok(name, [x], same(y, x.reshape(shape), name), axis=axes)

    put("front", f32(2, 3), [0])
    put("middle", f32(2, 3), [1])
    put("end", f32(2, 3), [2])
    put("end negative", f32(2, 3), [-1])
    put("front negative", f32(2, 3), [-3])
    put("two at the front", f32(2, 3), [0, 1])
    put("two in any order", f32(2, 3), [3, 0])
    put("around", f32(2, 3), [0, 3])
    put("two apart, falling", f32(2, 3), [2, 0])
    put("two apart, rising", f32(2, 3), [0, 2])
    put("negative and positive", f32(2, 3), [-1, 1])
    put("both negative", f32(2, 3), [-4, -2])
    put("last positions", f32(2, 3), [3, 2])
    put("three", f32(2, 3), [4, 0, 2])
    put("scalar", f32(), [0])
    put("scalar negative", f32(), [-1])
    put("scalar, three", f32(), [2, 0, 1])
    put("rank 1", f32(4), [1])
    put("rank 7", f32(1, 2, 1, 2, 1, 2, 2), [7])
    put("rank 2 to rank 8", f32(3, 2), [7, 0, 2, -2, 3, 5])
    put("scalar to rank 8", f32(), [7, 6, 5, 4, 3, 2, 1, 0])
    put("extents of 1", f32(1, 1), [1])
    put("empty", f32(0, 3), [1])
    put("NaN and infinities", odd_floats("float32"), [0, -1])
    for k, t in enumerate(TYPES):
        put("type " + t, data(t, (3, 2), 2), ([0], [-1], [1, 2])[k % 3])
    x = f32(2, 3)
    w.bad("position too large", "INVALID_PARAMETER", [x], axis=[3])
    w.bad("position too small", "INVALID_PARAMETER", [x], axis=[-4])
    w.bad("one of two too large", "INVALID_PARAMETER", [x], axis=[0, 4])
    w.bad("position twice", "INVALID_PARAMETER", [x], axis=[1, 1])
    w.bad("position twice, once negative", "INVALID_PARAMETER", [x], axis=[3, -1])
    w.bad("result of rank 9", "INVALID_SHAPE", [f32(*[1] * 8)], axis=[0])
    w.bad("result of rank 9 from rank 7", "INVALID_SHAPE", [f32(*[1] * 7)], axis=[0, 1])
    w.bad("two inputs", "INVALID_INPUT", [x, x], axis=[0])
    w.bad("input absent", "NULL_PTR", [None], axis=[0])
    w.bad("two outputs", "INVALID_OUTPUT", [x], [f32(1, 2, 3), f32(1, 2, 3)], axis=[0])
    return w


MAKERS = [make_batch_to_space, make_space_to_batch, make_concat, make_expand_dims, make_fill, make_gather, make_one_hot,
          make_pad, make_reshape, make_shape, make_slice, make_split, make_squeeze, make_stack, make_strided_slice,
          make_tile, make_transpose, make_unsqueeze]


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors")
    os.makedirs(folder, exist_ok=True)
    writers = [make() for make in MAKERS]
    for w in writers:
        print(w.save(folder))
    print("%-20s %4d cases %3d refused" % ("total", sum(len(w.cases) for w in writers), sum(w.errors for w in writers)))


if __name__ == "__main__":
    main()
