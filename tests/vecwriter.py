"""Writer of tests/vectors/*.vec, the text format of operator test cases (see tests/vectors/README.md).

    with VecWriter("vectors/relu.vec", "what the expected values come from") as w:
        w.case("plain", "ACTIVATION", {"activationType": 1}, [x], [y])

Inputs and outputs are numpy arrays, Tensor objects (constant, quantised) or None for an absent optional input."""
import numpy as np

TYPES = ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64").split()


class Tensor:
    """A numpy array that is a constant of the model, or has QuantParams: a list of (numBits, zeroPoint, scale)."""

    def __init__(self, array, const=False, quant=None):
        self.array = np.asarray(array)
        self.const = const
        self.quant = [] if quant is None else quant


def const(array, quant=None):
    return Tensor(array, True, quant)


def number(value, dtype):
    """One element as text that reads back as exactly the same element."""
    if dtype in (np.float16, np.float64):
        return "%.17g" % float(value)
    if dtype == np.float32:
        return "%.9g" % float(value)
    return "%d" % int(value)


def tensor_text(word, tensor):
    if tensor is None:
        return [word + " -"]
    if not isinstance(tensor, Tensor):
        tensor = Tensor(tensor)
    a = tensor.array
    if a.dtype.name not in TYPES:
        raise ValueError("no such element type: " + a.dtype.name)
    words = [word, a.dtype.name, "[" + ",".join(str(d) for d in a.shape) + "]"]
    words += ["const"] if tensor.const else []
    words += [number(v, a.dtype) for v in a.reshape(-1)]
    return [" ".join(words)] + ["quant %d %d %.17g" % tuple(q) for q in tensor.quant]


def attr_text(name, value):
    """A member of the attribute struct; an empty list is left out, as it is the default everywhere."""
    if isinstance(value, (list, tuple)):
        if len(value) == 0:
            return []
        if isinstance(value[0], (list, tuple)):
            return ["attr %s %s" % (name, " ; ".join(" ".join(str(int(v)) for v in row) for row in value))]
        return ["attr %s %s" % (name, " ".join(str(int(v)) for v in value))]
    if isinstance(value, (bool, np.bool_)):
        return ["attr %s %d" % (name, value)]
    if isinstance(value, (float, np.floating)):
        return ["attr %s %.9g" % (name, value)]
    return ["attr %s %d" % (name, value)]


# Operators that compute in float16 and float32 only: a float64 case must be refused, one such case is enough.
NO_FLOAT64 = ("AVGPOOL_FUSION CONV2D_FUSION CONV2D_TRANSPOSE_FUSION FULL_CONNECTION LAYER_NORM_FUSION MATMUL_FUSION "
              "MAX_POOL_FUSION RESIZE SOFTMAX").split()


class VecWriter:
    """One file. Case names are unique within it; a repeated one is an error of the script that writes it."""

    def __init__(self, path, *header):
        self.path, self.names, self.errors, self.lines = path, set(), 0, []
        self.refused_float64 = False
        for text in header:
            self.lines += ["# " + line for line in text.splitlines()]

    def case(self, name, op, attrs, inputs, outputs, fmt=None, tol=None, error=None, run_error=None, comment=None):
        if name in self.names or len(name) > 100 or not name.isascii():
            raise ValueError("case name used twice, too long or not ASCII: " + name)
        self.names.add(name)
        first = inputs[0].array if inputs and isinstance(inputs[0], Tensor) else inputs[0] if inputs else None
        if op in NO_FLOAT64 and first is not None and np.asarray(first).dtype == np.float64 and not (error or run_error):
            if self.refused_float64:
                return
            self.refused_float64 = True
            outputs, tol, error = [], None, "INVALID_DATATYPE"
        refused = error is not None or run_error is not None
        if not refused and not outputs:
            raise ValueError("a case without expectation: " + name)
        self.errors += refused
        lines = ["", *(["# " + comment] if comment else []), "case " + name, "op " + op]
        for key, value in attrs.items():
            lines += attr_text(key, value)
        lines += ["format " + fmt] if fmt else []
        for tensor in inputs:
            lines += tensor_text("in", tensor)
        for tensor in outputs:
            lines += tensor_text("out", tensor)
        lines += ["tol %g %g" % tol] if tol else []
        lines += ["error " + error] if error else []
        lines += ["run_error " + run_error] if run_error else []
        self.lines += lines + ["end"]

    def close(self):
        text = "\n".join(self.lines) + "\n"
        with open(self.path, "w", encoding="ascii", newline="\n") as f:
            f.write(text)
        return len(self.names), self.errors, len(text)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.close()
        return False
