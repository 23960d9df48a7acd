"""What random models are drawn with, for tflite_pairs.py: shapes, options, quantization parameters."""
import numpy as np

QUANTIZED = ('int8', 'uint8')
NUMBERS = ('float32', 'int8', 'uint8')
WITH_INT = NUMBERS + ('int32', 'int64')
ALL = WITH_INT + ('bool',)
PAIRS = {}  # (operator, type): function that adds the operator to a Builder


def pairs(operators, *kinds):
    def add(draw):
        for op in operators.split():
            for kind in kinds:
                assert (op, kind) not in PAIRS, (op, kind)
                PAIRS[op, kind] = lambda b, op=op, kind=kind: draw(b, b.random, op, kind)
        return draw
    return add


def size(r, low=1, high=5):
    return int(r.randint(low, high + 1))


def shape(r, low, high, largest=5):
    return tuple(size(r, 1, largest) for _ in range(size(r, low, high)))


def pick(r, *options):
    return options[r.randint(len(options))]


def flag(r):
    return bool(r.randint(2))


def quant(r, kind):
    """Random quantization parameters of an 8-bit type."""
    if kind not in QUANTIZED:
        return {}
    return {'scale': float(np.float32(r.uniform(0.01, 0.1))), 'zero': int(r.randint(-60, 61)) + 128 * (kind == 'uint8')}


def activation(r):
    return pick(r, 'NONE', 'NONE', 'RELU', 'RELU6', 'RELU_N1_TO_1')


def broadcast(r, ranks=3):
    """Two shapes that broadcast to one."""
    full = shape(r, 1, ranks)
    other = tuple(1 if r.randint(3) == 0 else n for n in full)[r.randint(len(full)) if flag(r) else 0:]
    if flag(r) and len(other) == len(full):
        full = tuple(1 if r.randint(4) == 0 and m > 1 else n for n, m in zip(full, other))
    return (full, other) if flag(r) else (other, full)
