#!/usr/bin/env python3
"""nnrt_frontend.h against numpy and against its own text.

- Features of random front ends and signals, in both arithmetics, against numpy's FFT and the formulas of the header in double.
- The int16 arithmetic, written a second time after the text of the header in integers of unlimited size, which check that each
  sum fits int32: every bit must be equal, also for signals that are as loud as possible.
- Tables against numpy: each entry is the rounded value of its formula.
- Samples that come in pieces of any size have the rows of samples that come at once.

Bounds of the int16 arithmetic: a stage rounds each component to an integer, with a variance of 1/12, while the data of a
stage have a norm of at least 32767 / 2 / 5.25 * growth (the header, step 2). So a stage adds a noise per bin below
sqrt(1/6) / 3120 of the norm of the spectrum divided by sqrt(number of bins), and for the worst signal, whose norm is one value,
sqrt(1/6) / 6240 of it: for the at most 9 roundings of a frame 2e-4, -74 dB. NOISE is that; one bin of one frame stays below
6 times it. With a radix r above 4 the bound is (1 + (r - 1) sqrt(2)) / 5.24 times as large. A filter sums powers: sqrt(E) is a norm, whose error is at most that of its parts.

usage: test_spectra.py      run from anywhere; ends with "N passed, N failed"
"""
import contextlib
import ctypes
import io
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy

from spectra_integers import INT8, in_integers, odd_primes

ROOT = pathlib.Path(__file__).resolve().parents[2]
INT16, FLOAT32 = 33, 43
NOISE = 2e-4
COUNT = {"passed": 0, "failed": 0}
i32, f32, flag, pointer = ctypes.c_int32, ctypes.c_float, ctypes.c_bool, ctypes.c_void_p


WRAPPED = [("size", "int32_t", ["const nnrt_frontend_desc *", "size_t *", "size_t *", "nnrt_error *"]),
           ("init", "int32_t", ["nnrt_frontend *", "const nnrt_frontend_desc *", "void *", "size_t", "nnrt_error *"]),
           ("start", "int32_t", ["nnrt_frontend_stream *", "const nnrt_frontend *", "void *", "size_t"]),
           ("push", "size_t", ["nnrt_frontend_stream *", "const int16_t *", "size_t", "void *", "bool *"])]


class Desc(ctypes.Structure):
    _fields_ = [(name, i32) for name in "arithmetic output rate window hop fft windowKind".split()] + [
        ("symmetric", flag), ("removeMean", flag), ("fullScale", f32), ("spectrum", i32), ("mels", i32), ("melScale", i32),
        ("melTriangles", flag), ("melArea", flag), ("lower", f32), ("upper", f32), ("log", i32), ("offset", f32), ("floor", f32),
        ("dct", i32), ("dctEqual", flag), ("scale", f32), ("zeroPoint", i32)]


class Frontend(ctypes.Structure):
    _fields_ = [("kernel", pointer), ("odd", pointer)] + [(name, i32) for name in "output window hop fft circle mirror first bins values features work dct log "
                                        "zeroPoint".split()] + [
        ("removeMean", flag), ("magnitude", flag), ("offset", ctypes.c_uint32), ("unit", ctypes.c_uint32)] + [
        (name, i32) for name in "offsetExponent unitExponent gainExponent floor bias".split()] + [
        ("factors", i32 * 4), ("real", f32 * 7)] + [
        (name, pointer) for name in "windowTable cosines edges weights gains dctCosines".split()]


class Stream(ctypes.Structure):
    _fields_ = [("frontend", pointer), ("work", pointer), ("samples", pointer), ("filled", i32), ("skip", i32)]


def verdict(good, what):
    COUNT["passed" if good else "failed"] += 1
    if not good:
        print("FAIL " + what)
    return good


def build(folder, change=("", "")):
    """The functions of the header, with a change of its text, as a library. Static and without operators, it takes seconds to compile."""
    text = "".join("#define %s\n" % name for name in "NNRT_FIRMWARE NNRT_STATIC NNRT_SELECT NNRT_IMPLEMENTATION".split())
    text += "#define NNRT_KEEP_SOFTMAX 1\n"
    text += '#include "core/nnrt_frontend.h"\n'
    for name, result, types in WRAPPED:
        arguments = ["%s a%d" % pair for pair in zip(types, range(9))]
        text += "%s %s(%s)\n{\n    return nnrt_frontend_%s(%s);\n}\n" % (
            result, name, ", ".join(arguments), name, ", ".join("a%d" % i for i in range(len(types))))
    header = (ROOT / "core/nnrt_frontend.h").read_text()
    assert change[0] in header, "nnrt_frontend.h has no %s to change" % change[0]
    (folder / "core").mkdir(exist_ok=True)
    (folder / "core/nnrt_frontend.h").write_text(header.replace(*change).replace("../nnrt_ops.h", "nnrt_ops.h"))
    source, library = folder / "library.c", folder / "library.so"
    source.write_text(text)
    subprocess.run([os.environ.get("CC", "cc"), "-std=c99", "-O1", "-w", "-shared", "-fPIC", "-I", str(folder), "-I", str(ROOT),
                    "-o", str(library), str(source), "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.push.restype = ctypes.c_size_t
    return loaded


class Instance:
    """A front end with its memory, and a stream."""

    def __init__(self, library, desc):
        self.library, self.desc, self.frontend = library, desc, Frontend()
        tables, stream = ctypes.c_size_t(), ctypes.c_size_t()
        code = library.size(ctypes.byref(desc), ctypes.byref(tables), ctypes.byref(stream), None)
        assert code == 0, "nnrt_frontend_size returns %d" % code
        self.tables, self.memory = (ctypes.create_string_buffer(n.value) for n in (tables, stream))
        code = library.init(ctypes.byref(self.frontend), ctypes.byref(desc), self.tables, tables, None)
        assert code == 0, "nnrt_frontend_init returns %d" % code

    def rows(self, samples, sizes=None):
        stream, ready, found, at = Stream(), flag(), [], 0
        code = self.library.start(ctypes.byref(stream), ctypes.byref(self.frontend), self.memory,
                                                ctypes.c_size_t(len(self.memory)))
        assert code == 0, "nnrt_frontend_start returns %d" % code
        kind = {INT8: numpy.int8, INT16: numpy.int16, FLOAT32: numpy.float32}[self.desc.output]
        while at < len(samples):
            row = numpy.zeros(self.frontend.features, kind)
            count = min(len(samples) - at, sizes() if sizes else len(samples))
            at += self.library.push(ctypes.byref(stream), pointer(samples.ctypes.data + 2 * at),
                                                  ctypes.c_size_t(count), pointer(row.ctypes.data), ctypes.byref(ready))
            if ready.value:
                found.append(row)
        return found

    def table(self, name, kind, count):
        return numpy.frombuffer(ctypes.string_at(getattr(self.frontend, name), count * numpy.dtype(kind).itemsize), kind)


# ---- the formulas, in double, by numpy ----


def mel_of(d, hz):
    hz = numpy.asarray(hz, float)
    if d.melScale == 0:
        return numpy.log(1 + hz / 700)
    return numpy.where(hz < 1000, 3 * hz / 200, 15 + 27 * numpy.log(numpy.maximum(hz, 1) / 1000) / numpy.log(6.4))


def hz_of(d, mel):
    if d.melScale == 0:
        return 700 * (numpy.exp(mel) - 1)
    return numpy.where(mel < 15, 200 * mel / 3, 1000 * numpy.exp((mel - 15) * numpy.log(6.4) / 27))


def window_of(d):
    if d.windowKind == 2:
        return numpy.ones(d.window)
    a, period = (0.5, 0.54)[d.windowKind], d.window - bool(d.symmetric)
    return a - (1 - a) * numpy.cos(2 * numpy.pi * numpy.arange(d.window) / period) if period else numpy.ones(1)


def filters_of(d):
    """The matrix of the filters, or that of the bins."""
    upper, bins = d.upper or d.rate / 2, numpy.arange(d.fft // 2 + 1)
    hz = bins * d.rate / d.fft
    if d.mels == 0:
        return numpy.eye(len(bins))[(bins * d.rate >= d.lower * d.fft) & (bins * d.rate <= upper * d.fft)]
    mel = numpy.linspace(mel_of(d, d.lower), mel_of(d, upper), d.mels + 2)
    edges = hz_of(d, mel)
    x, c = (mel_of(d, hz), mel) if d.melTriangles else (hz, edges)
    matrix = numpy.array([numpy.clip(numpy.minimum((x - c[i]) / (c[i + 1] - c[i]), (c[i + 2] - x) / (c[i + 2] - c[i + 1])), 0, 1)
                          for i in range(d.mels)])
    return matrix * (2 / (edges[2:] - edges[:-2]))[:, None] if d.melArea else matrix


def log_of(d, energy):
    """A feature without DCT: monotone in the energy, which may be negative."""
    energy = energy + d.offset
    if d.log == 3:
        return energy
    natural = numpy.log(numpy.maximum(energy, d.floor or 1e-10))
    return natural * (1, 1 / numpy.log(10), (20 if d.spectrum else 10) / numpy.log(10))[d.log]


def dct_of(d, values):
    matrix = numpy.cos(numpy.pi * numpy.outer(numpy.arange(d.dct), numpy.arange(values) + 0.5) / values) * numpy.sqrt(2 / values)
    if not d.dctEqual:
        matrix[0] *= numpy.sqrt(0.5)
    return matrix


def in_double(d, frame, noise):
    """The features of a frame, and a bound of their error for an arithmetic with this noise."""
    frame = frame.astype(float)
    if d.removeMean:
        frame = frame - int(frame.sum() / d.window)
    spectrum = numpy.abs(numpy.fft.rfft(frame / 32768 * (d.fullScale or 1) * window_of(d), d.fft))
    loud = 6 * noise * numpy.sqrt((spectrum ** 2).sum())
    filters = filters_of(d)
    if d.spectrum:
        energy, error = filters @ spectrum, filters @ (loud + 0.0002 * spectrum)
        low, high = energy - error, energy + error
    else:
        energy = filters @ spectrum ** 2
        error = numpy.sqrt(filters.sum(1)) * loud
        low, high = numpy.maximum(numpy.sqrt(energy) - error, 0) ** 2, (numpy.sqrt(energy) + error) ** 2
        low, high = low * 0.9998, high * 1.0002  # rounded weights, twiddles and windows: 2^-15 of amplitude each
    feature = log_of(d, energy)
    bound = numpy.maximum(log_of(d, high) - feature, feature - log_of(d, low)) + 1e-4
    if d.log == 3:
        bound = bound + 1e-6 * energy
    if d.dct:
        matrix = dct_of(d, len(feature))
        size = numpy.abs(feature).sum()  # rounded cosines: 2^-16 each
        return matrix @ feature, numpy.abs(matrix) @ bound + size * 2.0 ** -15 * numpy.abs(matrix).max()
    return feature, bound


# ---- signals and front ends ----


def signal_of(random_numbers, kind, count):
    n = numpy.arange(count)
    level = 10 ** random_numbers.uniform(0.5, 4.5)
    if kind == "silence":
        x = 0 * n
    elif kind == "noise":
        x = random_numbers.normal(size=count) * level
    elif kind == "chirp":
        x = level * numpy.sin(n * random_numbers.uniform(0, 0.5) + n * n * random_numbers.uniform(0, 1e-3))
    elif kind == "square":
        x = numpy.where(numpy.sin(n * random_numbers.uniform(0.001, 3)) >= 0, 32767, -32768)
    elif kind == "lowest":
        x = 0 * n - 32768
    elif kind == "loud":
        x = numpy.where(random_numbers.uniform(size=count) < 0.5, 32767, -32768)
    elif kind == "tone":  # a bin of the FFT: the growth of a stage is the largest
        x = 32767 * numpy.sign(numpy.cos(2 * numpy.pi * n * random_numbers.integers(0, 17) / 32 + random_numbers.uniform(0, 6)))
    else:
        x = numpy.where(n % random_numbers.integers(2, 300) == 0, level, 0)
    return numpy.clip(numpy.round(x), -32768, 32767).astype(numpy.int16)


SIGNALS = "silence noise chirp square lowest loud tone impulse".split()


def random_desc(r):
    d = Desc()
    d.fft = r.choice([2 ** r.randint(3, 11), r.choice([10, 12, 24, 50, 60, 225, 240, 400, 480, 1200]), r.randint(8, 300)])
    d.window = r.choice([d.fft, r.randint(1, d.fft), max(1, d.fft * 5 // 8)])
    d.hop = r.choice([max(1, d.window // 2), r.randint(1, 2 * d.window)])
    d.rate = r.choice([16000, 8000, 44100, 50, 1])
    d.windowKind, d.symmetric, d.removeMean = r.randint(0, 2), r.random() < 0.3, r.random() < 0.3
    d.fullScale = r.choice([0, 0, 1, 32768, 9.81])
    d.spectrum, d.log = r.randint(0, 1), r.choice([0, 0, 1, 2, 3])
    if r.random() < 0.6 and d.rate >= 8000:
        d.mels, d.melScale, d.melTriangles, d.melArea = r.randint(1, d.fft // 2), r.randint(0, 1), r.random() < 0.5, r.random() < 0.5
        d.mels = min(d.mels, 80)
        d.lower, d.upper = r.choice([(0, 0), (20, 4000), (300, d.rate / 2)])
    elif r.random() < 0.3:
        d.upper = d.rate / 3
    d.offset, d.floor = r.choice([0, 0, 1e-6, 1]), r.choice([0, 0, 1e-3, 1e-20])
    if d.log != 3 and r.random() < 0.5:
        d.dct = r.randint(1, min(d.mels or 3, 40)) if d.mels or d.upper == 0 else 1
        d.dctEqual = r.random() < 0.5
    return d


def check_tables(instance):
    d, f = instance.desc, instance.frontend
    real = d.arithmetic == FLOAT32

    def equal(name, count, values, unit):
        if real:
            return numpy.abs(instance.table(name, numpy.float32, count) - values).max() <= 1e-7 * max(1, numpy.abs(values).max())
        kind = numpy.uint16 if unit == 32768 else numpy.int16
        wanted = numpy.sign(values) * numpy.floor(numpy.abs(values) * unit + 0.5)
        off = instance.table(name, kind, count) != wanted  # of a tie within 1e-9 either is right
        return not numpy.any(off & (numpy.abs(numpy.abs(values) * unit % 1 - 0.5) > 1e-9))

    circle = numpy.lcm(d.fft, 4)
    good = f.circle == circle and equal("cosines", circle, numpy.cos(2 * numpy.pi * numpy.arange(circle) / circle), 32767)
    if f.windowTable:
        count = f.mirror // 2 + 1
        w = window_of(d)[numpy.minimum(numpy.arange(count), d.window - 1)]
        if f.mirror > 0:
            good &= equal("windowTable", count, w * (f.real[0] if real else 1), 32767)
    if f.dctCosines:
        good &= equal("dctCosines", 4 * f.values, numpy.cos(2 * numpy.pi * numpy.arange(4 * f.values) / (4 * f.values)), 32767)
    if d.mels:
        rising, plain = numpy.zeros(f.bins), Desc.from_buffer_copy(d)
        plain.melArea = False
        filters = filters_of(plain)[:, f.first:f.first + f.bins]
        edges = instance.table("edges", numpy.uint16, d.mels + 2)
        for m in range(d.mels + 1):
            part = slice(edges[m], edges[m + 1])
            rising[part] = filters[m][part] if m < d.mels else 1 - filters[m - 1][part]
        good &= equal("weights", f.bins, rising, 32768)
    return good


def check(library, desc, r, numbers):
    instance = Instance(library, desc)
    what = ", ".join("%s=%s" % (name, getattr(desc, name)) for name, _ in Desc._fields_ if getattr(desc, name))
    verdict(check_tables(instance), "tables: " + what)
    real = desc.arithmetic == FLOAT32
    rough = max([1] + [(1 + (radix - 1) * 2 ** 0.5) / 5.24 for radix in odd_primes(desc.fft)])
    for kind in r.sample(SIGNALS, 3) if desc.fft > 64 else SIGNALS:
        samples = signal_of(numbers, kind, desc.window + 2 * desc.hop)
        rows = instance.rows(samples)
        pieces = instance.rows(samples, lambda: r.choice([1, 1, 7, 1000]))
        if not verdict(len(rows) == 3 and all(numpy.array_equal(a, b, equal_nan=real) for a, b in zip(rows, pieces)),
                       "samples in pieces: " + what):
            continue
        for i, row in enumerate(rows[:1 if desc.fft > 256 else 3]):
            frame = samples[i * desc.hop:i * desc.hop + desc.window]
            feature, bound = in_double(desc, frame, 3e-8 * rough * numpy.log2(desc.fft) if real else NOISE * rough)
            low, high = feature - bound, feature + bound
            if desc.output != FLOAT32:
                top = 127 if desc.output == INT8 else 32767
                low, high = (numpy.clip(x / desc.scale + desc.zeroPoint, -top - 1, top) for x in (low, high))
                bound = bound / desc.scale
                low, high = low - 0.51, high + 0.51
            bad = numpy.nonzero((row < low) | (row > high))[0]
            verdict(len(bad) == 0, "%s, frame %d, feature %s: %s, expected %s, bound %s: %s" %
                    (kind, i, bad[:3], row[bad[:3]], feature[bad[:3]], bound[bad[:3]], what))
            if not real:
                try:
                    wanted = in_integers(instance, frame)
                    verdict(list(row) == wanted, "%s, frame %d, bits: %s, expected %s: %s" % (kind, i, list(row)[:8], wanted[:8], what))
                except AssertionError as error:
                    verdict(False, "%s, frame %d: %s: %s" % (kind, i, error, what))


def check_that_it_fails(folder):
    """Each of these changes of the header must be seen: of bits, of values."""
    changes = [("nnrti_frontend_down(re + t->half", "nnrti_frontend_down(re"), ("(sum << 15)", "(sum << 14)"),
               ("bit /= 2)", "bit /= 4)"), ("4096 + 5794 * (r - 1)", "4096 + 2897 * (r - 1)"), ("x += t->half", "x += 0"),
               ("block %= blocks", "block %= r")]
    for number, change in enumerate(changes):
        place = folder / str(number)
        place.mkdir(parents=True)
        before, r = dict(COUNT), random.Random(1)
        library = build(place, change)
        for fft in (64, 90):
            desc = Desc(rate=16000, window=fft, hop=fft, fft=fft, mels=8, output=INT16, scale=0.001)
            with contextlib.redirect_stdout(io.StringIO()):
                check(library, desc, r, numpy.random.default_rng(1))
        seen = COUNT["failed"] > before["failed"]
        COUNT.update(before)
        verdict(seen, "the change of %s to %s is not seen" % change)


def main():
    r, numbers = random.Random(1), numpy.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        library = build(pathlib.Path(name))
        for number in range(160):
            desc = random_desc(r)
            desc.arithmetic, desc.output = r.choice([(INT16, INT8), (INT16, INT16), (0, INT16), (FLOAT32, FLOAT32), (FLOAT32, INT8)])
            if desc.output != FLOAT32:
                desc.scale, desc.zeroPoint = r.choice([0.5, 0.01, 1e-4]), r.choice([0, 83, -128])
            check(library, desc, r, numbers)
        check_that_it_fails(pathlib.Path(name) / "changed")
    print("%d passed, %d failed" % (COUNT["passed"], COUNT["failed"]))
    return 1 if COUNT["failed"] or COUNT["passed"] < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
