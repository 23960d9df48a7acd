"""The int16 arithmetic of core/nnrt_frontend.h, after the text of the header, for test_spectra.py."""
import math

import numpy

INT8 = 32


def fits(x):
    assert -2 ** 31 <= x < 2 ** 31, "%d does not fit int32" % x
    return x


def half_up(x, s, check=fits):
    return check(x) if s == 0 else check(check(x) + (1 << (s - 1))) >> s


def scale_of(peak, g):
    return next(s for s in range(-12, 32) if peak * g <= 32767 * 4096 * 2.0 ** s)


def odd_primes(n):
    """The odd prime factors of n, in rising order."""
    found, r = [], 3
    while n % 2 == 0:
        n //= 2
    while n > 1:
        while n % r:
            r += 2
        found.append(r)
        n //= r
    return found


def in_time(values, radices):
    """Decimation in time: the values of the sub-transforms before the stages, the last stage of which has radix radices[-1]."""
    if radices:
        return [x for k in range(radices[-1]) for x in in_time(values[k::radices[-1]], radices[:-1])]
    return values if len(values) < 2 else in_time(values[::2], []) + in_time(values[1::2], [])


def transform(z, peak):
    """Step 2: the FFT of a list of pairs, and its exponent."""
    cosines, count = transform.cosines, len(z)
    twos = count & -count
    z, q, exponent = in_time(z, odd_primes(count)), 1, 0
    n = len(cosines)

    def stage(radix, g, combine):
        nonlocal z, exponent, peak
        s = scale_of(peak, g)
        exponent += s
        out = list(z)
        for block in range(0, count, radix * q):
            for j in range(q):
                places = [block + j + r * q for r in range(radix)]
                for place, (re, im) in zip(places, combine([z[p] for p in places], j)):
                    check = fits if radix in (2, 4) else int
                    out[place] = (half_up(re, 13 + s, check), half_up(im, 13 + s, check))
                    assert max(map(abs, out[place])) <= 32767
        z, peak = out, max(max(abs(re), abs(im)) for re, im in out)

    def times(value, index, j):
        if j == 0:
            return fits(value[0] << 13), fits(value[1] << 13)
        wr, wi = cosines[index], cosines[(index + n // 4) % n]
        return fits(value[0] * wr - value[1] * wi) >> 2, fits(value[0] * wi + value[1] * wr) >> 2

    def two(v, _):
        a, b = times(v[0], 0, 0), times(v[1], 0, 0)
        return (a[0] + b[0], a[1] + b[1]), (a[0] - b[0], a[1] - b[1])

    def four(v, j):
        step = n // (4 * q)
        a, b2, b1, b3 = times(v[0], 0, 0), times(v[1], 2 * j * step, j), times(v[2], j * step, j), times(v[3], 3 * j * step, j)
        return [combine4(a, b1, b2, b3, r) for r in range(4)]

    def odd(v, j):
        r, size = len(v), len(v) * q
        out = []
        for m in range(j, size, q):
            parts = [(v[0][0] << 13, v[0][1] << 13)] + [times(v[k], k * m % size * (n // size), 1) for k in range(1, r)]
            out.append(tuple(map(sum, zip(*parts))))
        return out

    if (twos.bit_length() - 1) % 2:
        stage(2, 8192, two)
        q = 2
    while q < twos:
        stage(4, 16384 if q == 1 else 21480, four)
        q *= 4
    for r in odd_primes(count):
        stage(r, 4096 + 5794 * (r - 1), odd)
        q *= r
    return z, exponent


def combine4(a, b1, b2, b3, r):
    """a + (-i)^r b1 + (-1)^r b2 + i^r b3."""
    def turned(b, quarter):  # times (-i)^quarter
        return [b, (b[1], -b[0]), (-b[0], -b[1]), (-b[1], b[0])][quarter % 4]
    parts = [a, turned(b1, r), turned(b2, 2 * r), turned(b3, 3 * r)]
    return fits(sum(p[0] for p in parts)), fits(sum(p[1] for p in parts))


def root_of(p):
    if p == 0:
        return 0
    t = (32 - p.bit_length()) // 2
    low = math.isqrt(p * 4 ** t)
    return low << (8 - t) if t <= 8 else low >> (t - 8)


def powers(z, n, magnitude):
    """Step 3: P[k], and the exponent."""
    cosines, m = transform.cosines, n // 2
    step = len(cosines) // n
    s = scale_of(max(max(abs(re), abs(im)) for re, im in z), 8196)
    out = [0] * (m + 1)

    def power(re, im):
        re, im = half_up(re, 14 + s), half_up(im, 14 + s)
        assert max(abs(re), abs(im)) <= 32768
        return root_of(re * re + im * im) if magnitude else re * re + im * im

    if n % 2:
        return [root_of(re * re + im * im) if magnitude else re * re + im * im for re, im in z[:m + 1]], 0
    out[0], out[m] = power((z[0][0] + z[0][1]) << 14, 0), power((z[0][0] - z[0][1]) << 14, 0)
    for k in range(1, m // 2 + 1):
        (a, b), (c, d) = z[k], z[m - k]
        er, ei, orr, oi = a + c, b - d, a - c, b + d
        wr, wi = cosines[k * step], cosines[k * step + len(cosines) // 4]
        tr, ti = (fits(wr * oi) >> 2) + (fits(wi * orr) >> 2), (fits(wi * oi) >> 2) - (fits(wr * orr) >> 2)
        out[k] = power((er << 13) + tr, (ei << 13) + ti)
        out[m - k] = power((er << 13) - tr, (ei << 13) - ti)
    return out, s


def normal(x, e):
    """A mantissa of 32 bits, rounded down."""
    n = x.bit_length() - 32
    return (x >> n if n >= 0 else x << -n, e + n) if x else (0, 0)


def rescaled(x, m, e):
    """nnrt_rescale, by its comment; m >= 0."""
    while not -2 ** 31 <= x < 2 ** 31:
        x, e = x >> 1, e + 1
    if e > 0:
        x = max(-2 ** 31, min(2 ** 31 - 1, x << min(e, 31)))
    y = (x * m + 2 ** 30) >> 31
    if e < 0:
        y = 0 if -e > 32 else (y + (1 << (-e - 1)) - (y < 0)) >> -e
    return y


LOG = [int(numpy.floor(65536 * numpy.log2(1 + i / 64) + 0.5)) for i in range(65)]


def log2_of(x):
    i, r = (x[0] >> 25) & 63, (x[0] >> 9) & 0xffff
    return (x[1] + 31) * 65536 + LOG[i] + (((LOG[i + 1] - LOG[i]) * r + 32768) >> 16)


def in_integers(instance, frame):
    d, f = instance.desc, instance.frontend
    half = [int(x) for x in instance.table("windowTable", numpy.int16, f.mirror // 2 + 1)] if f.windowTable else None
    w = [half[min(n, f.mirror - n)] if half else 32767 for n in range(d.window)]
    mean = int(sum(map(int, frame)) / d.window) if d.removeMean else 0
    p = [fits((int(x) - mean) * y) for x, y in zip(frame, w)]
    shift = next(s for s in range(18) if half_up(max(map(abs, p)), s) <= 32767)
    v = [half_up(x, shift) for x in p] + [0] * (d.fft - d.window)
    transform.cosines = [int(x) for x in instance.table("cosines", numpy.int16, f.circle)]
    z, exponent = transform(list(zip(v[::2], v[1::2])) if d.fft % 2 == 0 else [(x, 0) for x in v], half_up(max(map(abs, p)), shift))
    spectrum, last = powers(z, d.fft, d.spectrum)
    exponent += shift + last
    exponent = exponent - 38 if d.spectrum else 2 * exponent - 60
    spectrum = spectrum[f.first:f.first + f.bins]
    if d.mels:
        edges = instance.table("edges", numpy.uint16, d.mels + 2)
        t = [int(x) for x in instance.table("weights", numpy.uint16, f.bins)]
        energies = [sum(t[k] * spectrum[k] for k in range(edges[m], edges[m + 1])) +
                    sum((32768 - t[k]) * spectrum[k] for k in range(edges[m + 1], edges[m + 2])) for m in range(d.mels)]
        exponent -= 15
    else:
        energies = spectrum
    logs = []
    for m, energy in enumerate(energies):
        x = normal(energy, exponent)
        if d.melArea and d.mels:
            gain = int(instance.table("gains", numpy.uint32, d.mels)[m])
            x = normal(x[0] * gain, x[1] + f.gainExponent)
        both = sorted([y for y in (x, (f.offset, f.offsetExponent)) if y[0]], key=lambda y: -y[1])
        if both:
            x = normal(both[0][0] + (both[1][0] >> (both[0][1] - both[1][1]) if len(both) > 1 else 0), both[0][1])
        if d.log == 3:
            at = -(x[1] + f.unitExponent)
            logs.append(x[0] * f.unit << -at if at <= 0 else (x[0] * f.unit + (1 << (at - 1))) >> at)
        else:
            logs.append((max(log2_of(x), f.floor) if x[0] else f.floor) + f.bias)
    if d.dct:
        table = [int(x) for x in instance.table("dctCosines", numpy.int16, 4 * f.values)]
        sums = [sum(x * table[j * (2 * m + 1) % (4 * f.values)] for m, x in enumerate(logs)) for j in range(d.dct)]
        stored = [rescaled(x, *f.factors[2:] if j else f.factors[:2]) for j, x in enumerate(sums)]
    else:
        stored = logs if d.log == 3 else [rescaled(x, *f.factors[:2]) for x in logs]
    top = 127 if d.output == INT8 else 32767
    return [max(-top - 1, min(top, x + d.zeroPoint)) for x in stored]
