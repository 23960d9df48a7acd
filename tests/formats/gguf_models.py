"""Small random language models as GGUF files, for each architecture and tensor type of formats/nnrt_gguf.h, and the values of their
tensors in float64. Quantized blocks are drawn, not rounded: each has random integers, and scales for which the values have the
standard deviation that the layer needs.

    make(architecture, type, seed=0, **changes)   a Model: file (bytes), values (name: array), keys
    read(data)                                    the Model of a file whose tensors are F32, Q8_0 or Q4_0
"""
import struct

import numpy as np

TYPES = {'F32': 0, 'F16': 1, 'Q4_0': 2, 'Q4_1': 3, 'Q5_0': 6, 'Q5_1': 7, 'Q8_0': 8, 'Q2_K': 10, 'Q3_K': 11, 'Q4_K': 12, 'Q5_K': 13,
         'Q6_K': 14, 'IQ4_NL': 20, 'BF16': 30}
ARCHITECTURES = ['llama', 'qwen2', 'qwen3', 'phi3', 'gemma', 'gemma2', 'gemma3', 'gpt2', 'bert', 'nomic-bert']
ENCODERS = ('bert', 'nomic-bert')
LEVELS = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113])  # of IQ4_NL
VOCABULARY = 300


def text(s):
    raw = s.encode()
    return struct.pack('<Q', len(raw)) + raw


def value(v):
    """The bytes of a key's type and value."""
    if isinstance(v, bool):
        return struct.pack('<I?', 7, v)
    if isinstance(v, int):
        return struct.pack('<II', 4, v)
    if isinstance(v, float):
        return struct.pack('<If', 6, v)
    if isinstance(v, str):
        return struct.pack('<I', 8) + text(v)
    if isinstance(v[0], str):
        return struct.pack('<IIQ', 9, 8, len(v)) + b''.join(map(text, v))
    array = np.asarray(v)
    kind = {'f': 6, 'i': 5}[array.dtype.kind]
    return struct.pack('<IIQ', 9, kind, array.size) + array.astype({6: '<f4', 5: '<i4'}[kind]).tobytes()


def halves(a):
    """float16 numbers as bytes, and their values."""
    h = np.asarray(a).astype('<f2')
    return h[..., None].view('u1'), h.astype(np.float64)


def nibbles(q):
    """Elements [..,32] of 4 bits: the first half in the low ones."""
    return (q[..., :16] | q[..., 16:] << 4).astype('u1')


def fifth_bits(q):
    return (np.sum((q >> 4 & 1).astype(np.uint64) << np.arange(32, dtype=np.uint64), axis=-1).astype('<u4')[..., None]).view('u1')


def block_32(rng, kind, n, deviation):
    """n blocks of 32 elements: bytes and values."""
    high = {'Q8_0': 256, 'Q5_0': 32, 'Q5_1': 32}.get(kind, 16)
    q = rng.integers(0, high, (n, 32)).astype(np.int64)
    spread = LEVELS.std() if kind == 'IQ4_NL' else high / 12 ** 0.5
    d, scale = halves(deviation / spread * rng.uniform(0.7, 1.3, n) * rng.choice([-1, 1], n))
    scale = scale[:, None]
    if kind in ('Q4_1', 'Q5_1'):
        m, least = halves(-scale[:, 0] * (high / 2 + rng.uniform(-1, 1, n)))
        w = scale * q + least[:, None]
    else:
        w = scale * (LEVELS[q] if kind == 'IQ4_NL' else q - high // 2)
    if kind == 'Q8_0':
        return np.concatenate([d, (q - 128).astype('i1').view('u1')], 1), w
    if kind == 'Q5_0':
        return np.concatenate([d, fifth_bits(q), nibbles(q & 15)], 1), w
    if kind == 'Q5_1':
        return np.concatenate([d, m, fifth_bits(q), nibbles(q & 15)], 1), w
    return np.concatenate([d, m, nibbles(q)] if kind == 'Q4_1' else [d, nibbles(q)], 1), w


def six_bits(scales, minima):
    """8 scales and 8 minima of 6 bits in 12 bytes, as Q4_K and Q5_K have them."""
    low = [scales[:, :4] | scales[:, 4:] >> 4 << 6, minima[:, :4] | minima[:, 4:] >> 4 << 6]
    return np.concatenate([*low, scales[:, 4:] & 15 | (minima[:, 4:] & 15) << 4], 1).astype('u1')


def block_256(rng, kind, n, deviation):
    """n blocks of 256 elements: bytes and values."""
    bits = int(kind[1])
    q = rng.integers(0, 1 << bits, (n, 256)).astype(np.int64)
    at = np.arange(256)
    spread = (1 << bits) / 12 ** 0.5
    if kind in ('Q4_K', 'Q5_K'):
        scales, minima = rng.integers(20, 64, (n, 8)), rng.integers(20, 64, (n, 8))
        scales[rng.random(scales.shape) < 0.03] = 0
        d, scale = halves(deviation / spread / 42 * rng.uniform(0.8, 1.2, n))
        m, least = halves(scale * (1 << bits) / 2)
        w = scale[:, None] * scales[:, at // 32] * q - least[:, None] * minima[:, at // 32]
        qs = np.zeros((n, 128), np.int64)
        for i in range(256):
            qs[:, i // 64 * 32 + i % 32] |= (q[:, i] & 15) << i // 32 % 2 * 4
        qh = np.zeros((n, 32), np.int64)
        for i in range(256):
            qh[:, i % 32] |= (q[:, i] >> 4) << i // 32
        parts = [d, m, six_bits(scales, minima)] + ([qh] if kind == 'Q5_K' else []) + [qs]
    elif kind == 'Q2_K':
        scales, minima = rng.integers(4, 16, (n, 16)), rng.integers(4, 16, (n, 16))
        scales[rng.random(scales.shape) < 0.03] = 0
        d, scale = halves(deviation / spread / 10 * rng.uniform(0.8, 1.2, n))
        m, least = halves(scale * 1.5)
        w = scale[:, None] * scales[:, at // 16] * q - least[:, None] * minima[:, at // 16]
        qs = np.zeros((n, 64), np.int64)
        for i in range(256):
            qs[:, i // 128 * 32 + i % 32] |= q[:, i] << i // 32 % 4 * 2
        parts = [scales | minima << 4, qs, d, m]
    elif kind == 'Q3_K':
        scales = rng.integers(0, 64, (n, 16))
        d, scale = halves(deviation / spread / 18 * rng.uniform(0.8, 1.2, n))
        w = scale[:, None] * (scales[:, at // 16] - 32) * (q - 4)
        qs, high, packed = (np.zeros((n, size), np.int64) for size in (64, 32, 12))
        for i in range(256):
            qs[:, i // 128 * 32 + i % 32] |= (q[:, i] & 3) << i // 32 % 4 * 2
            high[:, i % 32] |= (q[:, i] >> 2) << i // 32
        for i in range(16):
            packed[:, i % 8] |= (scales[:, i] & 15) << i // 8 * 4
            packed[:, 8 + i % 4] |= scales[:, i] >> 4 << i // 4 * 2
        parts = [high, qs, packed, d]
    else:
        scales = rng.integers(-128, 128, (n, 16))
        d, scale = halves(deviation / spread / 74 * rng.uniform(0.8, 1.2, n))
        w = scale[:, None] * scales[:, at // 16] * (q - 32)
        low, high = np.zeros((n, 128), np.int64), np.zeros((n, 64), np.int64)
        for i in range(256):
            low[:, i // 128 * 64 + i % 64] |= (q[:, i] & 15) << i // 64 % 2 * 4
            high[:, i // 128 * 32 + i % 32] |= (q[:, i] >> 4) << i // 32 % 4 * 2
        parts = [low, high, scales & 255, d]
    return np.concatenate([np.asarray(part).astype('u1') for part in parts], 1), w


def matrix(rng, kind, rows, columns, deviation=None):
    """Bytes and values of a random matrix."""
    deviation = columns ** -0.5 if deviation is None else deviation
    if kind in ('F32', 'F16', 'BF16'):
        w = (rng.standard_normal((rows, columns)) * deviation).astype('<f4')
        if kind == 'F32':
            return w.tobytes(), w.astype(np.float64)
        if kind == 'F16':
            return w.astype('<f2').tobytes(), w.astype('<f2').astype(np.float64)
        top = (w.view('<u4') >> 16).astype('<u2')
        return top.tobytes(), (top.astype('<u4') << 16).view('<f4').astype(np.float64)
    size = 256 if kind.endswith('_K') else 32
    raw, w = (block_256 if size == 256 else block_32)(rng, kind, rows * columns // size, deviation)
    return raw.tobytes(), w.reshape(rows, columns)


class Model:
    halves = exact = False

    def __init__(self):
        self.keys, self.values, self.tensors = {}, {}, []

    def add(self, name, kind, raw, values):
        self.values[name] = values
        self.tensors.append((name, values.shape, TYPES[kind] if isinstance(kind, str) else kind, raw))

    def vector(self, rng, name, size, mean=0.0, deviation=0.1):
        v = (mean + deviation * rng.standard_normal(size)).astype('<f4')
        self.add(name, 'F32', v.tobytes(), v.astype(np.float64))

    def weight(self, rng, name, kind, rows, columns, deviation=None):
        self.add(name, kind, *matrix(rng, kind, rows, columns, deviation))

    def bytes(self, version=3, alignment=32):
        """The file."""
        head = b'GGUF' + struct.pack('<IQQ', version, len(self.tensors), len(self.keys))
        head += b''.join(text(key) + value(v) for key, v in self.keys.items())
        data = b''
        for name, shape, kind, raw in self.tensors:
            head += text(name) + struct.pack('<I', len(shape)) + struct.pack('<%dQ' % len(shape), *shape[::-1])
            head += struct.pack('<IQ', kind, len(data))
            data += raw + b'\0' * (-len(raw) % alignment)
        return head + b'\0' * (-len(head) % alignment) + data


def make(arch, kind, seed=0, **changes):
    """changes: sizes below; keys, a dict of further keys without the prefix of the architecture; tied: no output matrix;
    factors: the tensor of rotary factors; biases; fused: queries, keys and values in one matrix; bare: no vocabulary; down:
    the type of ffn_down alone."""
    rng = np.random.default_rng([seed, ARCHITECTURES.index(arch), TYPES[kind]])
    big = kind.endswith('_K')
    s = dict(width=256 if big else 64, inner=256 if big else 96, heads=4, kv=2, size=64 if big else 16, layers=2, tied=False, keys={},
             factors=None, biases=False, fused=False, pooling=1, vocabulary=VOCABULARY, bare=False, places=128, down=None)
    if arch in ('gpt2', 'bert', 'nomic-bert'):
        s['kv'] = s['heads']
    if arch == 'gemma3':
        s['layers'] = 7 if not big else 6
    if arch in ('gemma', 'gemma2', 'gemma3'):
        s['tied'] = True
    s.update(changes)
    m = Model()
    width, inner, heads, kv, size = s['width'], s['inner'], s['heads'], s['kv'], s['size']
    layer_norm = arch in ('gpt2', 'bert', 'nomic-bert')
    own = {'block_count': s['layers'], 'context_length': s['places'], 'embedding_length': width, 'feed_forward_length': inner,
           'attention.head_count': heads, 'attention.head_count_kv': kv}
    own['attention.layer_norm_epsilon' if layer_norm else 'attention.layer_norm_rms_epsilon'] = 1e-5
    if not layer_norm:
        own.update({'attention.key_length': size, 'attention.value_length': size, 'rope.dimension_count': size,
                    'rope.freq_base': 10000.0})
    if arch == 'nomic-bert':
        own['rope.freq_base'] = 1000.0
    if arch == 'gemma2':
        own.update({'attention.sliding_window': 6, 'attn_logit_softcapping': 50.0, 'final_logit_softcapping': 30.0})
    if arch == 'gemma3':
        own.update({'attention.sliding_window': 6, 'rope.freq_base': 1000000.0})
    if arch in ENCODERS:
        own.update({'attention.causal': False, 'pooling_type': s['pooling']})
    own.update(s['keys'])
    m.keys['general.architecture'] = arch
    m.keys['general.name'] = 'random'  # llama.cpp treats vocabularies of models named phi3 in its own way
    m.keys.update({arch + '.' + key: v for key, v in own.items() if v is not None})
    if s['bare']:
        pass
    elif arch in ENCODERS:
        tokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'] + ['▁w%d' % i for i in range(VOCABULARY - 5)]
        m.keys.update({'tokenizer.ggml.model': 'bert', 'tokenizer.ggml.tokens': tokens,
                       'tokenizer.ggml.token_type': np.array([3, 2, 3, 3, 3] + [1] * (VOCABULARY - 5), 'i4'),
                       'tokenizer.ggml.unknown_token_id': 1, 'tokenizer.ggml.seperator_token_id': 3,
                       'tokenizer.ggml.padding_token_id': 0, 'tokenizer.ggml.cls_token_id': 2, 'tokenizer.ggml.mask_token_id': 4,
                       'tokenizer.ggml.bos_token_id': 2, 'tokenizer.ggml.eos_token_id': 3,
                       'tokenizer.ggml.token_type_count': 2})
    else:
        tokens = ['<unk>', '<s>', '</s>'] + ['<0x%02X>' % i for i in range(256)] + ['t%d' % i for i in range(VOCABULARY - 259)]
        m.keys.update({'tokenizer.ggml.model': 'llama', 'tokenizer.ggml.tokens': tokens,
                       'tokenizer.ggml.scores': np.zeros(VOCABULARY),
                       'tokenizer.ggml.token_type': np.array([2, 3, 3] + [6] * 256 + [1] * (VOCABULARY - 259), 'i4'),
                       'tokenizer.ggml.bos_token_id': 1, 'tokenizer.ggml.eos_token_id': 2})

    def norm(name, n=width):
        m.vector(rng, name + '.weight', n, 1.0)
        if layer_norm:
            m.vector(rng, name + '.bias', n)

    def linear(name, rows, columns, bias, type=kind):
        m.weight(rng, name + '.weight', type, rows, columns)
        if bias:
            m.vector(rng, name + '.bias', rows, 0.0, 0.2)

    m.weight(rng, 'token_embd.weight', kind, s['vocabulary'], width, 1.0 if arch not in ('gemma', 'gemma2', 'gemma3') else width ** -0.5)
    if arch in ('gpt2', 'bert'):
        m.weight(rng, 'position_embd.weight', 'F32', s['places'], width, 0.5)
    if arch in ENCODERS:
        m.weight(rng, 'token_types.weight', 'F32', 2, width, 0.5)
        norm('token_embd_norm')
    else:
        norm('output_norm')
        if not s['tied']:
            m.weight(rng, 'output.weight', kind, s['vocabulary'], width)
    if s['factors'] is not None:
        for name, list_ in s['factors'].items():
            f = np.asarray(list_, '<f4')
            m.add(name + '.weight', 'F32', f.tobytes(), f.astype(np.float64))
    biased = arch in ('gpt2', 'bert')
    for i in range(s['layers']):
        p = 'blk.%d.' % i
        if arch not in ENCODERS:
            norm(p + 'attn_norm')
        if arch in ('gpt2', 'nomic-bert', 'phi3') or s['fused']:
            linear(p + 'attn_qkv', (heads + 2 * kv) * size, width, arch == 'gpt2')
        else:
            with_bias = arch in ('qwen2', 'bert') or s['biases']
            linear(p + 'attn_q', heads * size, width, with_bias)
            linear(p + 'attn_k', kv * size, width, with_bias)
            linear(p + 'attn_v', kv * size, width, with_bias)
        if arch in ('qwen3', 'gemma3'):
            norm(p + 'attn_q_norm', size)
            norm(p + 'attn_k_norm', size)
        linear(p + 'attn_output', width, heads * size, biased)
        if arch in ('gemma2', 'gemma3'):
            norm(p + 'post_attention_norm')
        if arch in ENCODERS:
            norm(p + 'attn_output_norm')
            norm(p + 'layer_output_norm')
        else:
            norm(p + 'ffn_norm')
        if arch == 'phi3':
            linear(p + 'ffn_up', 2 * inner, width, False)
        else:
            if not biased:
                linear(p + 'ffn_gate', inner, width, False)
            linear(p + 'ffn_up', inner, width, biased)
        linear(p + 'ffn_down', width, inner, biased, s['down'] or kind)
        if arch in ('gemma2', 'gemma3'):
            norm(p + 'post_ffw_norm')
    m.arch, m.kind, m.own, m.sizes = arch, kind, own, s
    return m


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        (found,) = struct.unpack_from('<' + form, self.data, self.at)
        self.at += struct.calcsize('<' + form)
        return found

    def text(self):
        size = self.number('Q')
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def value(self, kind):
        if kind == 8:
            return self.text()
        if kind != 9:
            return self.number({4: 'I', 5: 'i', 6: 'f', 7: '?'}[kind])
        kind = self.number('I')
        return [self.value(kind) for _ in range(self.number('Q'))]


def decoded(data, kind, shape):
    """The values of a tensor at the begin of data: Q8_0 has d and 32 integers in a block, Q4_0 d and 32 integers plus 8 of 4 bits."""
    count = int(np.prod(shape))
    if kind == TYPES['F32']:
        return np.frombuffer(data, '<f4', count).astype(np.float64).reshape(shape)
    size = {TYPES['Q8_0']: 34, TYPES['Q4_0']: 18}[kind]
    blocks = np.frombuffer(data, 'u1', count // 32 * size).reshape(-1, size)
    d = blocks[:, :2].copy().view('<f2').astype(np.float64)
    q = blocks[:, 2:]
    q = q.view('i1') if kind == TYPES['Q8_0'] else np.concatenate([q & 15, q >> 4], 1).astype(int) - 8
    return (d * q).reshape(shape)


def read(data):
    r, m = Reader(data), Model()
    assert data[:4] == b'GGUF' and struct.unpack_from('<I', data, 4) == (3,)
    r.at = 8
    tensors, keys = r.number('Q'), r.number('Q')
    for _ in range(keys):
        name = r.text()
        m.keys[name] = r.value(r.number('I'))
    heads = []
    for _ in range(tensors):
        name, rank = r.text(), r.number('I')
        shape = [r.number('Q') for _ in range(rank)][::-1]
        heads.append((name, shape, r.number('I'), r.number('Q')))
    begin = -(-r.at // 32) * 32
    for name, shape, kind, at in heads:
        m.add(name, kind, None, decoded(data[begin + at:], kind, shape))
    m.arch = m.keys['general.architecture']
    m.own = {key.split('.', 1)[1]: v for key, v in m.keys.items() if key.startswith(m.arch + '.')}
    width, heads = m.own['embedding_length'], m.own['attention.head_count']
    m.sizes = dict(layers=m.own['block_count'], heads=heads, kv=m.own['attention.head_count_kv'],
                   size=m.own.get('attention.key_length', width // heads), tied='output.weight' not in m.values)
    return m
