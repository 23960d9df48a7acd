"""Evaluates .tflite models in float64 with numpy: the yardstick for float32 runtimes, which round after each operation.

    outputs = Model64("model.tflite").run([input, ...])       list of arrays in the model's order
    values = Model64("model.tflite").values([input, ...])     {index of a tensor: array}, for comparisons layer by layer
    Model64("model.tflite", "float32") rounds after each operation, as a runtime does

The operators of MediaPipe's networks in float32 and float16, dense and sparse; another operator raises Unsupported. Reads the
file with the standard library and numpy alone. Each operator follows its definition in the documentation of TensorFlow Lite.
"""
import struct

import numpy as np

from writer import ACTIVATIONS, OPERATORS, OPTIONS

NAMES = {code: name for name, (code, _) in OPERATORS.items()}
MEMBERS = {name: OPTIONS[options][1] if options else {} for name, (_, options) in OPERATORS.items()}
TYPES = {0: "<f4", 1: "<f2", 2: "<i4", 3: "u1", 4: "<i8", 6: "?", 9: "i1"}
SCALARS = {"i8": "b", "bool": "?", "i32": "i", "f32": "f"}
NO_ACTIVATION, RELU, RELU6 = ACTIVATIONS["NONE"], ACTIVATIONS["RELU"], ACTIVATIONS["RELU6"]


class Unsupported(Exception):
    pass


class Table:
    """A table of a flatbuffer. Fields have the numbers of TensorFlow Lite's schema."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from("<i", data, at)[0]
        self.bytes = struct.unpack_from("<H", data, self.fields)[0]

    def place(self, number):
        slot = 4 + 2 * number
        offset = struct.unpack_from("<H", self.data, self.fields + slot)[0] if slot < self.bytes else 0
        return self.at + offset if offset else None

    def scalar(self, number, kind="i", default=0):
        at = self.place(number)
        return default if at is None else struct.unpack_from("<" + kind, self.data, at)[0]

    def target(self, at):
        return at + struct.unpack_from("<I", self.data, at)[0]

    def table(self, number):
        at = self.place(number)
        return None if at is None else Table(self.data, self.target(at))

    def vector(self, number, kind="<i4"):
        at = self.place(number)
        if at is None:
            return np.zeros(0, kind)
        at = self.target(at)
        return np.frombuffer(self.data, kind, struct.unpack_from("<I", self.data, at)[0], at + 4)

    def tables(self, number):
        at = self.place(number)
        if at is None:
            return []
        at = self.target(at)
        return [Table(self.data, self.target(at + 4 + 4 * i)) for i in range(struct.unpack_from("<I", self.data, at)[0])]

    def string(self, number):
        return self.vector(number, "u1").tobytes().decode()


def dense(stored, shape, sparsity):
    """The elements of a sparse constant. Each level of its tree is an axis of the array or of the blocks; a dense level has all
    positions, a sparse one the positions in its segments and indices."""
    order, blocks = sparsity.vector(0), sparsity.vector(1)
    position, coordinates = np.zeros(1, int), []
    for level in sparsity.tables(2):
        if level.scalar(0, "b") == 0:
            size = level.scalar(1)
            parent, index = np.repeat(np.arange(len(position)), size), np.tile(np.arange(size), len(position))
            position = position[parent] * size + index
        else:
            kinds = {1: "<i4", 2: "<u2", 3: "u1"}
            segments = level.table(3).vector(0, kinds[level.scalar(2, "B")]).astype(int)
            indices = level.table(5).vector(0, kinds[level.scalar(4, "B")]).astype(int)
            counts = segments[position + 1] - segments[position]
            parent = np.repeat(np.arange(len(position)), counts)
            first = np.cumsum(counts) - counts
            position = segments[position][parent] + np.arange(len(parent)) - first[parent]
            index = indices[position]
        coordinates = [c[parent] for c in coordinates] + [index]
    axis = {int(o): c for o, c in zip(order, coordinates)}
    widths = {int(b): axis[len(shape) + i].max() + 1 for i, b in enumerate(blocks)}
    numbers = {int(b): axis[len(shape) + i] for i, b in enumerate(blocks)}
    result = np.zeros(shape, stored.dtype)
    result[tuple(axis[d] * widths.get(d, 1) + numbers.get(d, 0) for d in range(len(shape)))] = stored[position]
    return result


def activate(x, kind):
    if kind not in (NO_ACTIVATION, RELU, RELU6):
        raise Unsupported("activation %d" % kind)
    return x if kind == NO_ACTIVATION else np.clip(x, 0, np.inf if kind == RELU else 6)


def windows(x, kernel, stride, dilation, same, fill):
    """Views of x[N,H,W,C], one for each tap of the kernel: the elements that the tap reads."""
    sizes, pads = [], [(0, 0)]
    for n, k, s, d in zip(x.shape[1:3], kernel, stride, dilation):
        reach = (k - 1) * d + 1
        sizes.append(-(-n // s) if same else (n - reach) // s + 1)
        more = max(0, (sizes[-1] - 1) * s + reach - n) if same else 0
        pads.append((more // 2, more - more // 2))
    x = np.pad(x, pads + [(0, 0)], constant_values=fill)
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            top, left = i * dilation[0], j * dilation[1]
            yield i, j, x[:, top:top + (sizes[0] - 1) * stride[0] + 1:stride[0], left:left + (sizes[1] - 1) * stride[1] + 1:stride[1]]


def convolve(x, weight, bias, o, depthwise):
    stride, dilation = (o["stride_h"], o["stride_w"]), (o["dilation_h"] or 1, o["dilation_w"] or 1)
    y = 0
    for i, j, part in windows(x, weight.shape[1:3], stride, dilation, o["padding"] == 0, 0):
        if depthwise:
            y = y + np.repeat(part, weight.shape[3] // x.shape[3], axis=3) * weight[0, i, j]
        else:
            y = y + part @ weight[:, i, j].T
    return activate(y + (0 if bias is None else bias), o["activation"])


def pool(x, o, largest):
    parts = windows(x, (o["filter_h"], o["filter_w"]), (o["stride_h"], o["stride_w"]), (1, 1), o["padding"] == 0,
                    -np.inf if largest else np.nan)
    parts = np.stack([part for _, _, part in parts])
    return activate(parts.max(0) if largest else np.nanmean(parts, axis=0), o["activation"])


def resize(x, size, o):
    """Bilinear, axis by axis: the weights of the two neighbors of each position."""
    for axis, m in ((1, int(size[0])), (2, int(size[1]))):
        n = x.shape[axis]
        at = np.arange(m) * ((n - 1) / (m - 1) if o["align_corners"] and m > 1 else n / m)
        if o["half_pixel_centers"]:
            at = (np.arange(m) + 0.5) * n / m - 0.5
        at = np.clip(at, 0, n - 1)
        low = np.floor(at).astype(int)
        part = (at - low).reshape([-1 if a == axis else 1 for a in range(4)])
        x = np.take(x, low, axis) * (1 - part) + np.take(x, np.minimum(low + 1, n - 1), axis) * part
    return x


def transposed_with_bias(x, weight, bias, custom):
    """MediaPipe's Convolution2DTransposeBias with a kernel as large as the stride: no outputs overlap."""
    out, rows, columns, _ = weight.shape
    if struct.unpack("<iii", custom[:12])[1:] != (columns, rows):
        raise Unsupported("Convolution2DTransposeBias with a kernel that is not the stride")
    y = np.einsum("nhwi,okli->nhkwlo", x, weight)
    return y.reshape(x.shape[0], x.shape[1] * rows, x.shape[2] * columns, out) + bias


def depth_to_space(x, b):
    n, h, w, c = x.shape
    return x.reshape(n, h, w, b, b, c // b // b).transpose(0, 1, 3, 2, 4, 5).reshape(n, h * b, w * b, c // b // b)


def strided(x, begin, end, step, o):
    if o["ellipsis_mask"] or o["new_axis_mask"] or o["shrink_axis_mask"]:
        raise Unsupported("STRIDED_SLICE with masks")
    return x[tuple(slice(None if o["begin_mask"] >> k & 1 else int(b), None if o["end_mask"] >> k & 1 else int(e), int(s))
                   for k, (b, e, s) in enumerate(zip(begin, end, step)))]


# name: function of the operands, the options, the shape of the result in the file
FUNCTIONS = {
    "DEQUANTIZE": lambda x, o, s: x[0],
    "DENSIFY": lambda x, o, s: x[0],
    "CONV_2D": lambda x, o, s: convolve(x[0], x[1], x[2], o, False),
    "DEPTHWISE_CONV_2D": lambda x, o, s: convolve(x[0], x[1], x[2], o, True),
    "FULLY_CONNECTED": lambda x, o, s: activate((x[0].reshape(-1, x[1].shape[1]) @ x[1].T + x[2]).reshape(s), o["activation"]),
    "ADD": lambda x, o, s: activate(x[0] + x[1], o["activation"]),
    "MUL": lambda x, o, s: activate(x[0] * x[1], o["activation"]),
    "RELU": lambda x, o, s: np.maximum(x[0], 0),
    "PRELU": lambda x, o, s: np.where(x[0] < 0, x[0] * x[1], x[0]),
    "HARD_SWISH": lambda x, o, s: x[0] * np.clip(x[0] + 3, 0, 6) / 6,
    "LOGISTIC": lambda x, o, s: 1 / (1 + np.exp(-x[0])),
    "MAX_POOL_2D": lambda x, o, s: pool(x[0], o, True),
    "AVERAGE_POOL_2D": lambda x, o, s: pool(x[0], o, False),
    "MEAN": lambda x, o, s: x[0].mean(tuple(int(a) for a in np.atleast_1d(x[1]))).reshape(s),
    "PAD": lambda x, o, s: np.pad(x[0], [tuple(int(p) for p in pair) for pair in x[1]]),
    "RESIZE_BILINEAR": lambda x, o, s: resize(x[0], x[1], o),
    "RESHAPE": lambda x, o, s: x[0].reshape(s),
    "CONCATENATION": lambda x, o, s: activate(np.concatenate(x, o["axis"]), o["activation"]),
    "DEPTH_TO_SPACE": lambda x, o, s: depth_to_space(x[0], o["block_size"]),
    "STRIDED_SLICE": lambda x, o, s: strided(*x, o),
    "Convolution2DTransposeBias": lambda x, o, s: transposed_with_bias(*x, o["custom"]),
}


class Model64:
    def __init__(self, path, kind="float64"):
        self.kind = kind
        with open(path, "rb") as f:
            data = f.read()
        model = Table(data, struct.unpack_from("<I", data)[0])
        self.codes = [(max(c.scalar(0, "b"), c.scalar(3)), c.string(1)) for c in model.tables(1)]
        self.buffers, graph = model.tables(4), model.tables(2)[0]
        self.tensors, self.operators = graph.tables(0), graph.tables(3)
        self.inputs, self.outputs = graph.vector(1), graph.vector(2)

    def shape(self, t):
        return tuple(int(n) for n in self.tensors[t].vector(0))

    def name(self, op):
        code, custom = self.codes[op.scalar(0, "I")]
        return custom if code == OPERATORS["CUSTOM"][0] else NAMES.get(code, "operator %d" % code)

    def constant(self, t):
        """The value of a constant, of the model's kind if it is a float; None for other tensors."""
        tensor = self.tensors[t]
        stored = self.buffers[tensor.scalar(2, "I")].vector(0, "u1")
        if len(stored) == 0:
            return None
        stored, sparsity = stored.view(TYPES[tensor.scalar(1, "b")]), tensor.table(6)
        value = dense(stored, self.shape(t), sparsity) if sparsity else stored.reshape(self.shape(t))
        return value.astype(self.kind) if value.dtype.kind == "f" else value

    def values(self, inputs):
        known = {int(t): np.asarray(x, self.kind) for t, x in zip(self.inputs, inputs)}
        known[-1] = None
        for op in self.operators:
            name, options = self.name(op), op.table(4)
            if name not in FUNCTIONS:
                raise Unsupported(name)
            o = {m: options.scalar(f, SCALARS[k]) if options else 0 for m, (f, k) in MEMBERS.get(name, {}).items() if k in SCALARS}
            o["custom"] = op.vector(5, "u1").tobytes()
            operands = [int(t) for t in op.vector(1)]
            known.update({t: self.constant(t) for t in operands if t not in known})
            result = int(op.vector(2)[0])
            known[result] = FUNCTIONS[name]([known[t] for t in operands], o, self.shape(result)).astype(self.kind)
            if known[result].shape != self.shape(result):
                raise Unsupported("%s of shape %s, the file states %s" % (name, known[result].shape, self.shape(result)))
        return known

    def run(self, inputs):
        known = self.values(inputs)
        return [known[int(t)] for t in self.outputs]
