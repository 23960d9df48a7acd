"""The architectures of formats/nnrt_gguf.h in numpy, float64, after their papers: Llama (RMSNorm, rotary embeddings, SwiGLU), Qwen 2
(biases) and 3 (norms of queries and keys), Phi-3 (fused matrices, long factors), Gemma 1 to 3 (scaled embeddings, GeGLU, norms after the
blocks, soft caps, windows), GPT-2, BERT and Nomic BERT. All tokens at once, without a cache.

    logits(model, ids)      float64[tokens, vocabulary] of a gguf_models.Model
    embedding(model, ids)   float64[width], pooled; float64[tokens, width] without pooling
With int8=True, operands of quantized matrices are rounded to int8 with a scale per block (MATMUL_NBITS, accuracyLevel 4). cache 'f16':
keys, after their rotation, and values are rounded to float16, as in a cache of that type; 'q8_0': to int8 with a float16 scale for 32
elements of a row of a head, or for all of them, if their number is no multiple of 32.

model.halves: rotary pairs are half of the dimensions apart in llama, too. model.exact: GELU by the error function.
"""
import math

import numpy as np

import gguf_models


def gelu(x, exact=False):
    if exact:
        return 0.5 * x * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def silu(x):
    return x / (1 + np.exp(-x))


def rms(x, weight, epsilon):
    return x / np.sqrt((x ** 2).mean(-1, keepdims=True) + epsilon) * weight


def layer_norm(x, weight, bias, epsilon):
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered ** 2).mean(-1, keepdims=True) + epsilon) * weight + bias


def frequencies(model, local):
    """The angles of the pairs per position, and the factor of cosines and sines."""
    own, n = model.own, model.own.get('rope.dimension_count', model.sizes['size'])
    base = own.get('rope.freq_base_swa', 10000.0) if local else own.get('rope.freq_base', 10000.0)
    pair = np.arange(n // 2)
    f = base ** (-2.0 * pair / n)
    kind = own.get('rope.scaling.type', 'none')
    factor = own.get('rope.scaling.factor', 1.0)
    for name in ('rope_freqs.weight', 'rope_factors_long.weight', 'rope_factors_short.weight'):
        if name in model.values and (name == 'rope_freqs.weight' or
                                     ('long' in name) == (own['context_length'] > own['rope.scaling.original_context_length'])):
            f = f / model.values[name]
    by = own.get('rope.scaling.attn_factor', 1.0)
    if local:
        return f, 1.0
    if kind == 'linear':
        return f / factor, by
    if kind == 'yarn':  # "YaRN", section 3.2: pairs with r turns in the original context
        turns = own['rope.scaling.original_context_length'] * base ** (-2.0 * pair / n) / (2 * np.pi)
        fast, slow = 32.0, 1.0
        at = [n * np.log(own['rope.scaling.original_context_length'] / (t * 2 * np.pi)) / (2 * np.log(base)) for t in (fast, slow)]
        low, high = max(np.floor(at[0]), 0), min(np.ceil(at[1]), n - 1)
        ramp = np.clip((pair - low) / max(high - low, 0.001), 0, 1)
        assert turns.shape == ramp.shape
        return f * (1 - ramp) + f / factor * ramp, by * (1 + 0.1 * np.log(factor))
    return f, by


def rotate(x, angles, by, adjacent):
    """x [tokens, heads, n]; angles [tokens, pairs]."""
    n = 2 * angles.shape[1]
    cos, sin = by * np.cos(angles)[:, None], by * np.sin(angles)[:, None]
    first, second = (slice(0, n, 2), slice(1, n, 2)) if adjacent else (slice(0, n // 2), slice(n // 2, n))
    y = x.copy()
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def rounded(x, block):
    """x as integers of -127 to 127 times a float32 scale for each block of a row."""
    parts = x.astype(np.float32).reshape(len(x), -1, block)
    most = np.abs(parts).max(-1, keepdims=True)
    some = most >= np.float32(2.0 ** -119)
    q = np.rint(parts * np.where(some, np.float32(127) / np.where(some, most, 1), 0).astype(np.float32))
    return (q.astype(np.float64) * (most / np.float32(127)) * some).reshape(x.shape)


def cached(x, kind):
    """x [tokens, heads, size] as a cache of this type has it."""
    if kind == 'f16':
        return x.astype(np.float16).astype(np.float64)
    blocks = x.reshape(*x.shape[:2], -1, 32 if x.shape[2] % 32 == 0 else x.shape[2])
    scale = (np.abs(blocks).max(-1, keepdims=True) / 127).astype(np.float16).astype(np.float64)
    return (np.rint(blocks / np.where(scale > 0, scale, 1)) * scale).reshape(x.shape)


class Network:
    def __init__(self, model, int8=False, cache=None):
        names = {number: name for name, number in gguf_models.TYPES.items()}
        kinds = {tensor[0]: names.get(tensor[2], 'F32') for tensor in model.tensors}
        self.blocks = {name: 16 if kind in ('Q2_K', 'Q3_K', 'Q6_K') else 32 for name, kind in kinds.items()
                       if int8 and kind not in ('F32', 'F16', 'BF16')}
        self.m, self.v, self.own, self.s, self.arch = model, model.values, model.own, model.sizes, model.arch
        self.encoder = self.arch in ('bert', 'nomic-bert')
        self.cache = cache
        self.layered = self.arch in ('gpt2', 'bert', 'nomic-bert')

    def product(self, x, name):
        return (rounded(x, self.blocks[name]) if name in self.blocks else x) @ self.v[name].T

    def linear(self, x, name):
        y = self.product(x, name + '.weight')
        return y + self.v[name + '.bias'] if name + '.bias' in self.v else y

    def norm(self, x, name):
        if self.layered:
            return layer_norm(x, self.v[name + '.weight'], self.v[name + '.bias'], 1e-5)
        return rms(x, self.v[name + '.weight'], 1e-5)

    def windowed(self, layer):
        if 'attention.sliding_window' not in self.own:
            return False
        return {'gemma2': layer % 2 == 0, 'gemma3': layer % 6 != 5}.get(self.arch, True)

    def attention(self, x, p, layer):
        heads, kv, size, n = self.s['heads'], self.s['kv'], self.s['size'], len(x)
        if p + 'attn_qkv.weight' in self.v:
            q, k, v = np.split(self.linear(x, p + 'attn_qkv'), [heads * size, (heads + kv) * size], axis=1)
        else:
            q, k, v = (self.linear(x, p + name) for name in ('attn_q', 'attn_k', 'attn_v'))
        q, k, v = q.reshape(n, heads, size), k.reshape(n, kv, size), v.reshape(n, kv, size)
        if p + 'attn_q_norm.weight' in self.v:
            q, k = self.norm(q, p + 'attn_q_norm'), self.norm(k, p + 'attn_k_norm')
        if self.arch not in ('gpt2', 'bert'):
            f, by = frequencies(self.m, self.arch == 'gemma3' and self.windowed(layer))
            angles = np.arange(n)[:, None] * f[None]
            q, k = (rotate(part, angles, by, self.arch == 'llama' and not self.m.halves) for part in (q, k))
        if self.cache:
            k, v = cached(k, self.cache), cached(v, self.cache)
        k, v = np.repeat(k, heads // kv, axis=1), np.repeat(v, heads // kv, axis=1)
        scores = np.einsum('ihd,jhd->hij', q, k) / np.sqrt(size)
        cap = self.own.get('attn_logit_softcapping')
        scores = cap * np.tanh(scores / cap) if cap else scores
        i, j = np.arange(n)[:, None], np.arange(n)[None]
        seen = np.ones((n, n), bool) if self.encoder else j <= i
        if self.windowed(layer):
            seen = seen & (i - j < self.own['attention.sliding_window'])
        w = softmax(np.where(seen, scores, -np.inf))
        return self.linear(np.einsum('hij,jhd->ihd', w, v).reshape(n, heads * size), p + 'attn_output')

    def feed(self, x, p):
        if self.arch in ('gpt2', 'bert'):
            return self.linear(gelu(self.linear(x, p + 'ffn_up'), self.m.exact), p + 'ffn_down')
        if self.arch == 'phi3':
            gate, up = np.split(self.linear(x, p + 'ffn_up'), 2, axis=1)
        else:
            gate, up = self.linear(x, p + 'ffn_gate'), self.linear(x, p + 'ffn_up')
        return self.linear((gelu if self.arch.startswith('gemma') else silu)(gate) * up, p + 'ffn_down')

    def layer(self, x, i):
        p = 'blk.%d.' % i
        if self.encoder:
            x = self.norm(x + self.attention(x, p, i), p + 'attn_output_norm')
            return self.norm(x + self.feed(x, p), p + 'layer_output_norm')
        y = self.attention(self.norm(x, p + 'attn_norm'), p, i)
        x = x + (self.norm(y, p + 'post_attention_norm') if p + 'post_attention_norm.weight' in self.v else y)
        y = self.feed(self.norm(x, p + 'ffn_norm'), p)
        return x + (self.norm(y, p + 'post_ffw_norm') if p + 'post_ffw_norm.weight' in self.v else y)

    def hidden(self, ids):
        x = self.v['token_embd.weight'][ids]
        if self.arch.startswith('gemma'):
            x = x * np.sqrt(x.shape[1])
        if 'token_types.weight' in self.v:
            x = x + self.v['token_types.weight'][0]
        if 'position_embd.weight' in self.v:
            x = x + self.v['position_embd.weight'][:len(ids)]
        if self.encoder:
            x = self.norm(x, 'token_embd_norm')
        for i in range(self.s['layers']):
            x = self.layer(x, i)
        return x


def logits(model, ids, int8=False, cache=None):
    net = Network(model, int8, cache)
    x = net.norm(net.hidden(ids), 'output_norm')
    y = net.product(x, 'token_embd.weight' if model.sizes['tied'] else 'output.weight')
    cap = model.own.get('final_logit_softcapping')
    return cap * np.tanh(y / cap) if cap else y


def embedding(model, ids, int8=False):
    x = Network(model, int8).hidden(ids)
    return {0: x, 1: x.mean(0), 2: x[0], 3: x[-1]}[model.sizes['pooling']]
