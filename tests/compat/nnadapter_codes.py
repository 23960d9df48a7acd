"""Paddle's operators on int8 tensors with symmetric scales, in exact integers: the second half of the judge, beside
nnadapter_numpy.py.

The arithmetic is the project's definition of quantized operators, with the names of its specification: H, D, M, R and OUT, in
numpy's int64. Real numbers are float64; f32 rounds to float32 where the definition does. Results are compared for equality.
"""
import itertools

import numpy as np

from nnadapter_bridge import bias_codes
from nnadapter_numpy import ACTIVATIONS, REAL, Inputs, broadcast, convolution, pooled, transposed

CODES = {}
TOP = 2147483647


def codes(*kinds):
    """The definition of these operators."""
    def register(function):
        CODES.update(dict.fromkeys(kinds, function))
        return function
    return register


def f32(value):
    """Rounded to float32, as float64."""
    return np.asarray(value, np.float64).astype(np.float32).astype(np.float64)


def away(value):
    """To the nearest integer, halves away from zero."""
    return np.trunc(value + np.copysign(0.5, value)).astype(np.int64)


def sat32(value):
    """Clamped to int32"""
    return np.clip(value, -TOP - 1, TOP)


def high(a, b):
    """H: the upper half of a product of int32, doubled and rounded"""
    return sat32((np.asarray(a, np.int64) * np.asarray(b, np.int64) + (1 << 30)) >> 31)


def down(x, n):
    """D: x / 2^n, halves away from zero"""
    x, n = np.broadcast_arrays(np.asarray(x, np.int64), np.asarray(n, np.int64))
    bits = np.clip(n, 1, 32)
    shifted = (x + (np.int64(1) << (bits - 1)) - (x < 0)) >> bits
    return np.where(n == 0, x, np.where(n > 32, 0, shifted))


def multiplier(d):
    """M: the mantissa in 2^31 and the exponent of a factor >= 0"""
    f, e = np.frexp(np.asarray(d, np.float64))
    m = away(f * 2.0 ** 31)
    e = np.where(m == 1 << 31, e + 1, e).astype(np.int64)
    m = np.where(m == 1 << 31, 1 << 30, m)
    gone, over = (e < -31) | (m == 0), e > 31
    return np.where(gone, 0, np.where(over, TOP, m)), np.where(gone, 0, np.where(over, 31, e))


def scaled(x, m, e):
    """R(x; m, e), x in int32"""
    return down(high(sat32(np.asarray(x, np.int64) << np.maximum(e, 0)), m), np.maximum(-np.asarray(e), 0))


def rescale(x, d):
    """R(x; d)"""
    if np.ndim(d) == 0 and d < 0:
        return -rescale(x, -d)
    return scaled(x, *multiplier(d))


def bounded(v, scale, activation=''):
    """OUT: clamped to int8, or to the range of a fused activation"""
    at = lambda r: int(np.clip(away(f32(r / scale)), -128, 127))  # noqa: E731
    low, top = {'relu': (0, 127), 'relu1': (0, at(1.0)), 'relu6': (0, at(6.0))}.get(activation, (-128, 127))
    return np.clip(v, low, top).astype(np.int8)


def to_codes(real, scale):
    """QUANTIZE of float32 values"""
    return np.clip(away(f32(f32(real) / scale)), -128, 127).astype(np.int8)


class Scaled(Inputs):
    """Inputs as int64, their scales, and that of the result."""

    def __init__(self, op, values, scope):
        super().__init__(op, values)
        self.scope = scope

    def code(self, role):
        """The stored integers"""
        return self(role).astype(np.int64)

    def scale(self, role):
        """The scale of an input"""
        return f32(self.scope.scale(self.op.input(role))[0])

    def out(self, k=0):
        """The scale of output k; without one, that of the input X"""
        names = [name for role in self.op.outputs.values() for name in role]
        scales = self.scope.scale(names[k])
        return f32(scales[0]) if scales else self.scale('X' if 'X' in self.op.inputs else next(iter(self.op.inputs)))

    def weight(self, role):
        """Scales of a weight as the bridge sees them: one, or an array"""
        scales = self.scope.weight_scale(self.op.input(role))
        return f32(scales[0]) if len(scales) == 1 else f32(scales)

    def bias(self, count, xs, ws):
        """The bias in int32"""
        products = np.broadcast_to(f32(xs * ws), (count,)).astype(np.float32)
        return bias_codes(self('Bias'), products).astype(np.int64) if self.has('Bias') else np.zeros(count, np.int64)


def unpacked(op, v, scale, name):
    """An activation without a fuse code: another operation with the same scale"""
    kind = op.attr(name, '')
    if kind == 'leaky_relu':
        return leaky(v.astype(np.int64), scale, scale, op.attr('leaky_relu_alpha'))
    return v


def products(op, x, sums, w, bias_shape):
    """Sums of products become the result: + bias, R, OUT."""
    xs, ws, ys = x.scale('Input'), x.weight('Filter'), x.out()
    acc = sums.astype(np.int64) + x.bias(w, xs, ws).reshape(bias_shape)
    d = xs * ws / ys
    activation = op.attr('act_type', '') if op.attr('with_act') else ''
    out = bounded(rescale(acc, d.reshape(bias_shape) if d.ndim else d), ys, activation)
    return [unpacked(op, out, ys, 'act_type')]


@codes('conv2d', 'depthwise_conv2d')
def conv2d(op, x):
    """CONV_2D"""
    w = x.code('Filter')
    return products(op, x, convolution(op, x.code('Input'), w), w.shape[0], (1, -1, 1, 1))


@codes('conv2d_transpose')
def conv2d_transpose(op, x):
    """CONV_2D_TRANSPOSE"""
    w = x.code('Filter')
    return products(op, x, transposed(op, x.code('Input').astype(np.float64), w.astype(np.float64)),
                    w.shape[1] * op.attr('groups', 1), (1, -1, 1, 1))


def matrix(a, b, sa, sb, ys):
    """MAT_MUL: one scale of b, or one for each column"""
    acc = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)
    return bounded(rescale(acc, f32(sa * sb) / ys if np.ndim(sb) == 0 else sa * sb / ys), ys)


@codes('fc')
def fully_connected(op, x):
    """A matrix product in int8, then the sum with the bias in float32, and the fused activation"""
    v, w = x.code('Input'), x.code('W')
    xs, ws, ys = x.scale('Input'), x.weight('W'), x.out()
    product = matrix(v.reshape(*v.shape[:op.attr('in_num_col_dims', 1)], -1), w, xs, ws, ys)
    bias = f32(x.bias(w.shape[1], xs, ws) * np.broadcast_to(f32(xs * ws), (w.shape[1],)))
    total = f32(f32(product * ys) + bias)
    return [to_codes(ACTIVATIONS[op.attr('activation_type', '')](total), ys)]


@codes('matmul_v2')
def matmul_v2(op, x):
    """With transpositions; a constant Y may have a scale for each column"""
    a, b = x.code('X'), x.code('Y')
    a, b = (np.swapaxes(v, -1, -2) if op.attr(name) else v for v, name in ((a, 'trans_x'), (b, 'trans_y')))
    return [matrix(a, b, x.scale('X'), x.weight('Y'), x.out())]


def reciprocal(a):
    """I: 1 / (1 + a), a with 31 fraction bits: Newton's iteration in integers"""
    u = (a + (1 << 31)) >> 1
    v = 1515870810 + high(u, -1010580540)
    for _ in range(3):
        v = v + sat32(4 * high(v, (1 << 29) - high(u, v)))
    return sat32(2 * v)


def bits(n):
    """The least k with n < 2^k"""
    return np.ceil(np.log2(np.asarray(n, np.float64) + 1)).astype(np.int64)


@codes('elementwise_floordiv')
def floor_divide(op, x):
    """The largest integer not above the exact quotient, in the result's scale"""
    a, b = broadcast(op, x.code('X') * x.scale('X'), x.code('Y') * x.scale('Y'))
    return [bounded(rescale(np.floor_divide(a, b).astype(np.int64), 1 / x.out()), x.out())]


def quotient(a, b, sa, sb, ys):
    """DIV"""
    a, b = np.broadcast_arrays(np.where(b < 0, -a, a), np.abs(b))
    k, h = bits(b), 31 - bits(np.where(a < 0, -1 - a, a))
    m, e = multiplier(f32(sa / f32(sb * ys)))
    return scaled(high(a << h, reciprocal((b << (32 - k)) - (1 << 31))), m, e - (k - 1) - h)


@codes(*['elementwise_' + kind for kind in 'add sub mul div max min'.split()],
       *['fusion_elementwise_%s_activation' % kind for kind in 'add sub mul div max min'.split()])
def elementwise(op, x):
    """ADD and SUB with 20 more bits, MUL of the integers, DIV, MAX and MIN after requantization"""
    kind = op.kind.replace('fusion_', '').replace('elementwise_', '').replace('_activation', '')
    (a, b), sa, sb, ys = broadcast(op, x.code('X'), x.code('Y')), x.scale('X'), x.scale('Y'), x.out()
    most = 2 * max(sa, sb)
    if kind == 'add':
        v = rescale(rescale(a << 20, sa / most) + rescale(b << 20, sb / most), most / (2.0 ** 20 * ys))
    elif kind == 'sub':
        v = rescale(rescale(a << 20, f32(sa / most)) - rescale(b << 20, f32(sb / most)), f32(most / (2.0 ** 20 * ys)))
    elif kind == 'mul':
        v = rescale(a * b, sa * sb / ys)
    elif kind == 'div':
        v = quotient(a, b, sa, sb, ys)
    else:
        sides = [np.clip(rescale(v, s / ys), -128, 127) for v, s in ((a, sa), (b, sb))]
        v = np.maximum(*sides) if kind == 'max' else np.minimum(*sides)
    return [unpacked(op, bounded(v, ys, op.attr('act_type', '')), ys, 'act_type')]


def pool_average(cells, count_all, exclusive):
    """The mean of the stored integers, halves away from zero; padding counts as 0"""
    total = cells.astype(np.int64).sum(2)
    n = cells.shape[2] if exclusive else count_all
    return np.trunc((total + np.where(total > 0, n // 2, -(n // 2))) / n).astype(np.int64)


@codes('pool2d')
def pool2d(op, x):
    """The largest code, or the mean; then other parameters of the result"""
    v, xs, ys = x.code('X'), x.scale('X'), x.out()
    exclusive = op.attr('exclusive', True) or op.attr('adaptive') or op.attr('global_pooling')
    c = pooled(op, v, (lambda cells, _: cells.max(2)) if op.attr('pooling_type') == 'max' else
               lambda cells, count: pool_average(cells, count, exclusive))
    return [bounded(c if xs == ys else rescale(c, xs / ys), ys)]


@codes('relu', 'relu6')
def rectify(op, x):
    """R with the quotient of the scales in float32, and the bounds"""
    return [bounded(rescale(x.code('X'), f32(x.scale('X') / x.out())), x.out(), op.kind)]


@codes('abs')
def absolute(_op, x):
    """The same of |q|"""
    return [bounded(rescale(np.abs(x.code('X')), f32(x.scale('X') / x.out())), x.out())]


def leaky(v, xs, ys, alpha):
    """Two factors in float32"""
    return bounded(np.where(v >= 0, rescale(v, f32(xs / ys)), rescale(v, f32(f32(xs * f32(alpha)) / ys))), ys)


@codes('leaky_relu')
def leaky_relu(op, x):
    """LEAKY_RELU"""
    return [leaky(x.code('X'), x.scale('X'), x.out(), op.attr('alpha'))]


@codes('clip')
def clip(op, x):
    """R, then the bounds in the parameters of the result"""
    low, top = (int(np.clip(away(f32(np.float32(op.attr(name)) / x.out())), -128, 127)) for name in ('min', 'max'))
    return [np.clip(rescale(x.code('X'), f32(x.scale('X') / x.out())), low, top).astype(np.int8)]


@codes('sigmoid', 'tanh', 'exp', 'log', 'sin', 'cos', 'rsqrt', 'softplus', 'swish', 'silu', 'gelu', 'hard_sigmoid', 'floor')
def table(op, x):
    """Rule T: the function of the real number, in float32"""
    real = REAL[op.kind](op, Inputs(op, {op.input('X'): f32(x.code('X') * x.scale('X'))}))[0]
    return [np.clip(away(f32(f32(real) * f32(1 / x.out()))), -128, 127).astype(np.int8)]


@codes('hard_swish')
def hard_swish(op, x):
    """Of MobileNetV3: 16-bit integers. Another threshold: rule T, then another operation multiplies by a factor in float32."""
    v, xs, ys = x.code('X'), x.scale('X'), x.out()
    threshold, factor = op.attr('threshold'), f32(np.float32(op.attr('threshold')) / np.float32(op.attr('scale')))
    if abs(factor - 1) >= 1e-5:
        inner = f32(v * xs) * np.clip((f32(v * xs) + op.attr('offset')) / threshold, 0, 1)
        inner = np.clip(away(f32(f32(inner) * f32(1 / ys))), -128, 127)
        return [to_codes(f32(f32(inner * ys) * factor), ys)]
    sat16 = lambda n: np.clip(n, -32768, 32767)  # noqa: E731
    half = lambda a, b: sat16((a * b + (1 << 14)) >> 15)  # noqa: E731
    top = lambda m: min((m + (1 << 15)) >> 16, 32767)  # noqa: E731
    w, a = f32(xs / 128), 128 * v
    (m1, e1), (m2, e2) = ([int(n) for n in multiplier(f32(d))] for d in (w / ys, w / 0.000091552734375))
    b = sat16(2 * half(sat16(a << (e2 - 1)), top(m2))) if e2 > 0 else down(half(a, top(m2)), -e2)
    b = (b + (1 << 15)) >> 1
    c = np.trunc(b * half(a, top(m1)) / 2.0 ** 15).astype(np.int64)
    return [bounded(sat16(c << e1) if e1 > 0 else down(c, -e1), ys)]


@codes('square')
def square(_op, x):
    """MUL of x with itself"""
    v = x.code('X')
    return [bounded(rescale(v * v, x.scale('X') * x.scale('X') / x.out()), x.out())]


def exponential(a, i):
    """E: exp(a), a <= 0 with i integer bits"""
    if a == 0:
        return TOP
    f = 31 - i
    g = 1 << (f - 2)
    rest = a % g - g
    v = rest * (1 << i) + (1 << 28)
    h = lambda p, q: int(high(p, q))  # noqa: E731
    x2 = h(v, v)
    x3, x4 = h(x2, v), h(x2, x2)
    r = 1895147668 + h(1895147668, v + int(down(h(int(down(x4, 2)) + x3, 715827883) + x2, 1)))
    for k, factor in zip(range(-2, i), (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)):
        if (rest - a) >> (f + k) & 1:
            r = h(r, factor)
    return r


@codes('softmax')
def softmax(op, x):
    """Exponentials with 5 integer bits, their sum with 12, a reciprocal"""
    v, xs, ys, axis = x.code('X'), x.scale('X'), x.out(), op.attr('axis', -1)
    m, e = multiplier(min(xs * 2.0 ** 26, TOP))
    out = np.zeros(v.shape, np.int8)
    rows, results = np.moveaxis(v, axis, -1), np.moveaxis(out, axis, -1)
    for at in np.ndindex(*rows.shape[:-1]):
        d = rows[at] - rows[at].max()
        least = -np.floor(31 * 2.0 ** 26 / 2.0 ** int(e))
        known = {int(q): exponential(int(scaled(q, m, e)), 5) if q >= least else 0 for q in set(d)}
        w = np.array([known[int(q)] for q in d], np.int64)
        total = int(down(w, 12).sum())
        k = total.bit_length()
        c = high(int(reciprocal((total << (32 - k)) - (1 << 31) if k <= 32 else (total >> (k - 32)) - (1 << 31))), w)
        results[at] = bounded(rescale(down(c, k - 5), 1 / (65536 * ys)), ys)
    return [out]


@codes('batch_norm', 'layer_norm', 'log_softmax', 'norm', 'pow', 'sqrt', 'elementwise_pow')
def as_float(op, x):
    """Rule F: the operator in float32 on the real numbers"""
    values = {name: f32(v * x.scope.scale(name)[0]) if v.dtype == np.int8 else v.astype(np.float64)
              for name, v in x.values.items()}
    real = REAL[op.kind](op, Inputs(op, values))[0]
    return [to_codes(real, x.out())]


def moved(op, x):
    """Selected elements, requantized with the parameters of the input from which they come"""
    roles = [role for role in ('X', 'Input', 'W', 'Y') if role in op.inputs]
    names = [name for role in roles for name in op.inputs[role]]
    outputs = [name for role in op.outputs.values() for name in role]
    first = x.scope.scale(names[0])
    results = []
    for k in range(len(outputs)):
        ys = f32((x.scope.scale(outputs[k]) or first)[0])
        values = dict(x.values)
        for name in names:
            xs = f32(x.scope.scale(name)[0])
            v = x.values[name].astype(np.int64)
            values[name] = bounded(v if xs == ys else rescale(v, xs / ys), ys)
        results.append(REAL[op.kind](op, Inputs(op, values))[k].astype(np.int8))
    return results


MOVERS = '''assign reshape reshape2 transpose transpose2 squeeze squeeze2 unsqueeze unsqueeze2 flatten flatten2
flatten_contiguous_range slice strided_slice concat stack unstack split gather lookup_table lookup_table_v2 tile expand
expand_v2 shuffle_channel roll nearest_interp nearest_interp_v2 where meshgrid'''.split()
for mover in MOVERS:
    CODES[mover] = moved


@codes('pad2d', 'pad3d')
def pad(op, x):
    """The constant in the parameters of x"""
    xs, ys, name = x.scale('X'), x.out(), 'pad_value' if op.kind == 'pad2d' else 'value'
    value = int(np.clip(away(f32(np.float32(op.attr(name, 0.0)) / xs)), -128, 127))
    v = REAL[op.kind](type(op)(op.kind, op.inputs, op.outputs, **{**op.attrs, name: value}), x)[0].astype(np.int64)
    return [bounded(v if xs == ys else rescale(v, xs / ys), ys)]


@codes('bilinear_interp', 'bilinear_interp_v2')
def bilinear(op, x):
    """Coordinates and weights with 10 fraction bits"""
    v, xs, ys = x.code('X'), x.scale('X'), x.out()
    size, taps = [op.attr('out_h'), op.attr('out_w')], []
    for k in range(2):
        n, m = v.shape[2 + k], size[k]
        i = np.arange(m)
        if op.attr('align_corners') and m > 1:
            at = i * ((1024 * (n - 1) + (m - 1) // 2) // (m - 1))
        else:
            step = (1024 * n + m // 2) // m
            at = i * step + (step // 2 - 512 if op.attr('align_mode', 1) == 0 and not op.attr('align_corners') else 0)
        low = np.clip(np.trunc(at / 1024).astype(np.int64), 0, n - 1)
        top = np.minimum(np.trunc((at + 1023) / 1024).astype(np.int64), n - 1)
        t = at - 1024 * low
        taps.append(((low, 1024 - t), (top, t)))
    total = 0
    for (rows, fr), (cols, fc) in itertools.product(*taps):
        total = total + v[:, :, rows][:, :, :, cols] * fr[:, None] * fc
    c = down(total, 20)
    return [bounded(c if xs == ys else rescale(c, xs / ys), ys)]


@codes('reduce_mean', 'reduce_sum', 'reduce_max')
def reduce(op, x):
    """Sums of the codes; the mean has the number of elements in its factor"""
    v, xs, ys, keep = x.code('X'), x.scale('X'), x.out(), op.attr('keep_dim', True)
    axes = tuple(range(v.ndim)) if op.attr('reduce_all') else tuple(op.attr('dim'))
    if op.kind == 'reduce_max':
        return [bounded(rescale(v.max(axes, keepdims=keep), xs / ys), ys)]
    total = v.sum(axes, keepdims=keep)
    if op.kind == 'reduce_sum':
        return [bounded(rescale(total, xs / ys), ys)]
    n = v.size // total.size
    m, e = (int(part) for part in multiplier(xs / ys))
    k = min(int(np.floor(np.log2(n))), 32, 31 + e)
    return [bounded(scaled(total, (m << k) // n, e - k), ys)]


def times(v, xs, factor, ys):
    """MUL with +-1 of the scale |factor|"""
    return bounded(rescale(v * (1 if factor > 0 else -1), xs * f32(abs(factor)) / ys), ys)


@codes('dropout')
def dropout(op, x):
    """A multiplication"""
    kept = op.attr('dropout_implementation') == 'upscale_in_train'
    factor = 1.0 if kept else np.float32(1) - np.float32(op.attr('dropout_prob'))
    return [times(x.code('X'), x.scale('X'), factor, x.out())]


@codes('scale')
def scale(op, x):
    """A multiplication, then a sum, each with the result's scale"""
    v, xs, ys = x.code('X'), x.scale('X'), x.out()
    factor, bias = op.attr('scale', 1.0), op.attr('bias', 0.0)
    bias = bias if op.attr('bias_after_scale', True) else float(np.float32(bias) * np.float32(factor))
    if abs(factor - 1) > 1e-5:
        v, xs = times(v, xs, factor, ys).astype(np.int64), ys
    if abs(bias) > 1e-5:
        sb = f32(abs(bias))
        most = 2 * max(xs, sb)
        b = np.int64(1 if bias > 0 else -1)
        v = bounded(rescale(rescale(v << 20, xs / most) + rescale(b << 20, sb / most), most / (2.0 ** 20 * ys)), ys)
    return [v.astype(np.int8)]


@codes('arg_max', 'arg_min', 'top_k', 'top_k_v2')
def order(op, x):
    """Of the stored integers"""
    return [v.astype(np.int8) if k == 0 and op.kind.startswith('top') else v for k, v in enumerate(REAL[op.kind](op, x))]


@codes('equal', 'not_equal', 'greater_than', 'greater_equal', 'less_than', 'less_equal')
def compare(op, x):
    """Of the real numbers, exactly: products of an int8 and a float32 are exact in float64"""
    values = {op.input(role): x.code(role) * x.scale(role) for role in ('X', 'Y')}
    return REAL[op.kind](op, Inputs(op, values))


@codes('calib')
def calib(op, x):
    """float32 or int32 to int8, or int8 to float32"""
    v, s = x('Input'), f32(op.attr('scale'))
    if v.dtype != np.int8:
        return [to_codes(v, s)]
    return [f32(v.astype(np.float64) * x.scale('Input'))]


@codes('fill_any_like', 'fill_zeros_like')
def fill(op, x):
    """A constant code"""
    return [np.full(x('X').shape, op.attr('value', 0.0)).astype(np.int8)]


def compute(ops, values, scope):
    """Adds the results of the operators. Operators without int8 inputs, except calib, are computed in float64."""
    values = dict(values)
    for op in ops:
        names = [name for role in op.outputs.values() for name in role]
        read = [values[name].dtype for role in op.inputs.values() for name in role]
        if np.int8 in read or op.kind == 'calib':
            values.update(zip(names, CODES[op.kind](op, Scaled(op, values, scope))))
        else:
            values.update(zip(names, REAL[op.kind](op, Inputs(op, values))))
    return values
