"""Damages of hunt.py: changes of bytes, of fields of protobuf messages, and the checksums of .nnrt files that hide them."""
import re
import struct

EXTREMES = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 32, 1 << 62, (1 << 63) - 1,
            1 << 63, (1 << 64) - 1]
DECIMALS = [b'0', b'-1', b'1', b'2147483648', b'4294967296', b'9223372036854775807', b'18446744073709551616', b'1e309',
            b'-1e-400', b'nan', b'0x1p2000']
MASK = (1 << 64) - 1


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def fields(data):
    """The fields of a protobuf message: [tag, bytes of the value without a length]; None: it is none."""
    out, at = [], 0
    def number():
        nonlocal at
        value = shift = 0
        while shift < 64:
            byte, at = data[at], at + 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise IndexError
    try:
        while at < len(data):
            tag, start = number(), at
            size = {1: 8, 5: 4}.get(tag & 7)
            if tag & 7 == 2:
                size = number()
                start = at
            elif tag & 7 == 0:
                number()
                size = at - start
            if size is None or start + size > len(data) or tag >> 3 == 0:
                return None
            out.append([tag, data[start:start + size]])
            at = start + size
    except IndexError:
        return None
    return out


def message_damaged(draw, data, other):
    """A protobuf message with one change of a field in it or below, whose lengths are right."""
    parts = fields(data)
    if not parts:
        return damaged(draw, data, other)
    i, what = draw.randrange(len(parts)), draw.randrange(12)
    tag, value = parts[i]
    if what == 0:
        del parts[i]
    elif what == 1:
        parts.insert(draw.randrange(len(parts)), parts[i])
    elif what == 2 and tag & 7 == 2:
        parts[i] = [tag, draw.choice(fields(other) or parts)[1]]
    elif tag & 7 == 0:
        parts[i] = [tag, varint(draw.choice([*EXTREMES, *range(20)]))]
    elif tag & 7 == 2 and fields(value) and draw.random() < 0.9:
        parts[i] = [tag, message_damaged(draw, value, other)]
    elif tag & 7 == 2:
        parts[i] = [tag, damaged(draw, value, other)]
    else:
        parts[i] = [tag, damaged(draw, value, other)[:len(value)].ljust(len(value), b'\0')]
    return b''.join(varint(tag) + (varint(len(value)) if tag & 7 == 2 else b'') + value for tag, value in parts)


def damaged(draw, data, other, kinds=range(11)):
    """data with one change; other: bytes of the same format, for splices."""
    kind, n = draw.choice(kinds), len(data)
    at = draw.randrange(n + 1)
    to = min(n, at + draw.choice([1, 2, 4, 8, 16, draw.randrange(n + 1)]))
    if kind == 0:
        return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1:] if at < n else data
    if kind == 1:
        return data[:at] + bytes([draw.randrange(256)]) + data[at + 1:]
    if kind == 2:
        return data[:at]
    if kind == 3:
        return data[:at] + data[to:]
    if kind == 4:
        return data[:to] + data[at:to] * draw.choice([1, 2, 3, min(1000, 65536 // (to - at + 1))]) + data[to:]
    if kind == 5:
        size = draw.choice([1, 2, 4, 8])
        at = at // size * size if draw.random() < 0.7 else at
        number = draw.choice(EXTREMES) % (1 << 8 * size)
        return data[:at] + number.to_bytes(size, draw.choice(['little', 'little', 'big'])) + data[at + size:]
    if kind == 6:  # a length or number of protobuf
        end = at
        while end < n and data[end] & 128:
            end += 1
        return data[:at] + varint(draw.choice([*EXTREMES, n, n - at])) + data[end + 1:]
    if kind == 7:
        return data[:at] + other[draw.randrange(len(other) + 1):]
    if kind == 8:
        start = draw.randrange(n + 1)
        return data[:at] + data[start:start + to - at] + data[to:]
    numbers = [m.span() for m in re.finditer(rb'[0-9]+', data[:4096])]
    if kind == 9 and numbers:
        at, to = draw.choice(numbers)
        return data[:at] + draw.choice(DECIMALS) + data[to:]
    return data[:at] + bytes(draw.randrange(256) for _ in range(draw.randrange(1, 9))) + data[at:]


def fnv(data, value=14695981039346656037):
    for byte in data:
        value = (value ^ byte) * 1099511628211 & MASK
    return value


def digest(data, value=14695981039346656037):
    """Of a device section: four sums of words, then FNV-1a-64 of them and of the rest."""
    sums, whole = [value ^ k for k in range(4)], len(data) // 32 * 32
    for i, word in enumerate(struct.unpack('<%dQ' % (whole // 8), data[:whole])):
        mixed = (sums[i % 4] ^ word) * 0x9E3779B97F4A7C15 & MASK
        sums[i % 4] = mixed ^ mixed >> 29
    return fnv(data[whole:], fnv(struct.pack('<4Q', *sums), value))


def sealed(data):
    """A .nnrt file with the length and the checksums that docs/FORMAT.md describes, so that a damage is not detected by them."""
    if len(data) < 128 or len(data) > 65536 or not data.startswith(b'\x89NNRT'):
        return data
    data = bytearray(data)
    struct.pack_into('<QQ', data, 16, len(data), 0)
    count, size = struct.unpack_from('<II', data, 32)
    rows = [struct.unpack_from('<IIQQ', data, 64 + i * size) for i in range(min(count, 16)) if 64 + i * size + 24 <= len(data)]
    sections = [(at, at + length) for kind, _, at, length in rows if kind == 9 and length >= 96 and at + length <= len(data)]
    for at, end in sections:
        offset, length = struct.unpack_from('<QQ', data, at + 64)
        packed = struct.unpack_from('<I', data, at + 36)[0] & 2
        stop = at + offset + length if packed and at + offset + length <= end else end
        struct.pack_into('<Q', data, at, digest(bytes(data[at + 8:stop])))
    total, done = fnv(data[:0]), 0
    for at, end in sorted(sections) if struct.unpack_from('<I', data, 40)[0] == 1 else []:
        if at >= done:
            total, done = digest(bytes(data[at:end]), fnv(data[done:at], total)), end
    struct.pack_into('<Q', data, 24, fnv(data[done:], total))
    return bytes(data)
