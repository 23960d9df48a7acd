#!/usr/bin/env python3
"""Trains the language model of this folder, with its vocabulary: writes model.gguf and heldout.txt next to this file.

    train.py NOVELS [--steps N] [--output FOLDER]

NOVELS is Rdata.rdb of Debian's package r-cran-janeaustenr: the six novels of Jane Austen (1775 to 1817), in the public domain. The
last pages of Persuasion are held out. Needs numpy and torch, one thread; no decision depends on the held-out text, whose perplexity
is printed. OpenBLAS (libopenblas0-serial) is faster than Debian's default BLAS.

The model is a llama of 722,048 parameters: 4 layers of width 128, 4 heads with 2 of keys and values, vocabulary of 1,024. In the last
third of the steps the forward pass rounds matrices as the file stores them, and gradients pass the rounding unchanged: Q4_0 in the
feed-forward layers, which have half of the weights, and Q8_0 in the other matrices.
"""
import argparse
import collections
import os
import re
import sys
import time
import zlib

import numpy as np
import torch
from torch.nn import functional

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../../tests/formats'))
import gguf_models  # noqa: E402

SEED, STEPS, TOKENS_PER_STEP, MATRIX_RATE, EMBEDDING_RATE = 1811, 978, 1024, 0.02, 3e-3
VOCABULARY, WIDTH, INNER, LAYERS, HEADS, KV, SIZE, CONTEXT = 1024, 128, 256, 4, 4, 2, 32, 256
EPSILON, BASE = 1e-5, 10000.0
HELD_OUT = 12000  # characters
END = '<|endoftext|>'  # between chapters; token 0

# ---- the text ----


def novels(path):
    """The novels, a paragraph on each line, with END before a chapter. The file has an R vector of lines for each: zlib behind the
    size, and each string behind 4 bytes of flags and its length (R Internals, "Serialization Formats")."""
    with open(path, 'rb') as f:
        rest = f.read()
    texts = []
    while rest:
        unpack = zlib.decompressobj()
        data = unpack.decompress(rest[4:]) + unpack.flush()
        rest = unpack.unused_data
        lines, at = [], data.index(b'\0\0\0\x10') + 8  # the vector: its type, and its length
        while at + 8 <= len(data):
            size = int.from_bytes(data[at + 4:at + 8], 'big')
            lines.append(data[at + 8:at + 8 + size].decode())
            at += 8 + size
        paragraphs = '\n'.join(lines).replace('_', '').split('\n\n')
        text = '\n'.join(' '.join(p.split()) for p in paragraphs if p.strip())
        text = re.sub(r'(?im)^(the end|finis|(volume|chapter) [0-9IVXL]+)\.?$\n?', END, text)
        texts.append(re.sub('(%s)+' % re.escape(END), END, text))
    return texts


# ---- the vocabulary ----

# Words of GPT-2's pre-tokenizer, tokenizer.ggml.pre = gpt-2
WORD = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def spelled():
    """The characters that GPT-2 has for the bytes 0 to 255."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in kept]
    return [chr(b if b in kept else 256 + others.index(b)) for b in range(256)]


def train_vocabulary(text):
    """Merges of byte-pair encoding: each joins the most frequent pair, the first in the order of the alphabet of equally many."""
    letters = spelled()
    counts = collections.Counter(word for part in text.split(END) for word in WORD.findall(part))
    words = [[letters[b] for b in word.encode()] for word in counts]
    often = list(counts.values())
    pairs, where = collections.Counter(), collections.defaultdict(set)

    def count(i, sign):
        for pair in zip(words[i], words[i][1:]):
            pairs[pair] += sign * often[i]
            where[pair].add(i)

    for i in range(len(words)):
        count(i, 1)
    merges = []
    while len(merges) < VOCABULARY - 257:
        pair = min(pairs, key=lambda p: (-pairs[p], p))
        merges.append(pair)
        for i in sorted(where.pop(pair)):
            count(i, -1)
            words[i] = joined(words[i], pair)
            count(i, 1)
        pairs.pop(pair)
    return [END] + letters + [a + b for a, b in merges], merges, dict(zip(counts, words))


def joined(word, pair):
    out = []
    for part in word:
        if out and (out[-1], part) == pair:
            out[-1] += part
        else:
            out.append(part)
    return out


def encode(text, tokens, merges, known):
    """Token ids; known: words that were encoded before."""
    ids, rank, letters = {token: i for i, token in enumerate(tokens)}, {pair: i for i, pair in enumerate(merges)}, spelled()
    out = []
    for k, part in enumerate(text.split(END)):
        out += [0] if k else []
        for word in WORD.findall(part):
            if word not in known:
                parts = [letters[b] for b in word.encode()]
                while True:
                    pair = min(zip(parts, parts[1:]), key=lambda p: rank.get(p, len(rank)), default=None)
                    if pair not in rank:
                        break
                    parts = joined(parts, pair)
                known[word] = parts
            out += [ids[p] for p in known[word]]
    return np.array(out)


# ---- the network ----


def shapes():
    """Name, shape and type in the file of each weight."""
    yield 'token_embd', (VOCABULARY, WIDTH), 'Q8_0'
    yield 'output_norm', (WIDTH,), 'F32'
    for i in range(LAYERS):
        p = 'blk.%d.' % i
        yield p + 'attn_norm', (WIDTH,), 'F32'
        yield p + 'attn_q', (HEADS * SIZE, WIDTH), 'Q8_0'
        yield p + 'attn_k', (KV * SIZE, WIDTH), 'Q8_0'
        yield p + 'attn_v', (KV * SIZE, WIDTH), 'Q8_0'
        yield p + 'attn_output', (WIDTH, HEADS * SIZE), 'Q8_0'
        yield p + 'ffn_norm', (WIDTH,), 'F32'
        yield p + 'ffn_gate', (INNER, WIDTH), 'Q4_0'
        yield p + 'ffn_up', (INNER, WIDTH), 'Q4_0'
        yield p + 'ffn_down', (WIDTH, INNER), 'Q4_0'


KINDS = {name: kind for name, _, kind in shapes()}


def blocks(w, kind):
    """Integers [blocks,32] and scales [blocks,1], float16 values, of a matrix. Q8_0: -127 to 127. Q4_0: -8 to 7, and the element with
    the largest magnitude is -8."""
    w = w.reshape(-1, 32)
    if kind == 'Q8_0':
        scale = w.abs().amax(1, keepdim=True) / 127
    else:
        scale = w.gather(1, w.abs().argmax(1, keepdim=True)) / -8
    scale = scale.half().float()
    q = torch.round(w / torch.where(scale == 0, torch.ones_like(scale), scale))
    return (q.clamp(-127, 127) if kind == 'Q8_0' else q.clamp(-8, 7)), scale


def rounded(w, kind):
    """The values that the file stores; the gradient is that of w."""
    if kind == 'F32':
        return w
    q, scale = blocks(w.detach(), kind)
    return w + ((q * scale).reshape(w.shape) - w).detach()


def packed(w, kind):
    if kind == 'F32':
        return w.numpy().astype('<f4').tobytes()
    q, scale = (part.numpy() for part in blocks(w, kind))
    d = scale.astype('<f2').view('u1')
    return np.concatenate([d, q.astype('i1').view('u1') if kind == 'Q8_0' else gguf_models.nibbles(q.astype(int) + 8)], 1).tobytes()


def norm(x, weight):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * weight


def rotate(x, cos, sin):
    """Rotary embeddings of adjacent elements. x [batch,heads,tokens,SIZE]"""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


def logits(weights, ids):
    """[batch,tokens] to [batch,tokens,VOCABULARY]."""
    batch, n = ids.shape
    angles = torch.arange(n)[:, None] * BASE ** (-torch.arange(0, SIZE, 2) / SIZE)
    cos, sin = angles.cos(), angles.sin()
    later = torch.full((n, n), float('-inf')).triu(1)
    x = functional.embedding(ids, weights['token_embd'])
    for i in range(LAYERS):
        w = {name: weights['blk.%d.%s' % (i, name)] for name in ('attn_norm', 'attn_q', 'attn_k', 'attn_v', 'attn_output', 'ffn_norm',
                                                                'ffn_gate', 'ffn_up', 'ffn_down')}
        y = norm(x, w['attn_norm'])
        q, k, v = ((y @ w['attn_' + name].T).view(batch, n, -1, SIZE).transpose(1, 2) for name in 'qkv')
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        q = q.reshape(batch, KV, HEADS // KV * n, SIZE)  # the heads that share keys
        scores = (q @ k.transpose(2, 3) / SIZE ** 0.5).view(batch, HEADS, n, n) + later
        y = (scores.softmax(-1).view(batch, KV, -1, n) @ v).view(batch, HEADS, n, SIZE)
        x = x + y.transpose(1, 2).reshape(batch, n, -1) @ w['attn_output'].T
        y = norm(x, w['ffn_norm'])
        x = x + (functional.silu(y @ w['ffn_gate'].T) * (y @ w['ffn_up'].T)) @ w['ffn_down'].T
    return norm(x, weights['output_norm']) @ weights['token_embd'].T


def loss(weights, windows):
    """Mean negative logarithm of the probability of each token after the first."""
    y = logits(weights, windows[:, :-1])
    return functional.cross_entropy(y.reshape(-1, VOCABULARY), windows[:, 1:].reshape(-1))


def held_out_loss(weights, ids):
    """In windows of CONTEXT + 1 tokens, which overlap by one."""
    with torch.no_grad():
        parts = [torch.from_numpy(ids[at:at + CONTEXT + 1])[None] for at in range(0, len(ids) - 1, CONTEXT)]
        return sum(loss(weights, part).item() * (part.shape[1] - 1) for part in parts) / (len(ids) - 1)


def orthogonal(g):
    """About the nearest matrix to g whose singular values are 1: Newton and Schulz's iteration with the coefficients of Muon
    (K. Jordan, 2024)."""
    x = g.T if g.shape[0] > g.shape[1] else g
    x = x / (x.norm() + 1e-7)
    for _ in range(5):
        a = x @ x.T
        x = 3.4445 * x + (2.0315 * a @ a - 4.7750 * a) @ x
    return x.T if g.shape[0] > g.shape[1] else x


class Optimizer:
    """Muon for the matrices of the layers, Adam for the embedding and the norms."""

    def __init__(self, weights):
        self.matrices = {w: torch.zeros_like(w) for name, w in weights.items() if w.dim() == 2 and name != 'token_embd'}
        self.adam = torch.optim.Adam([w for w in weights.values() if w not in self.matrices], betas=(0.9, 0.95))

    def step(self, share):
        """share: of the highest rates."""
        self.adam.param_groups[0]['lr'] = EMBEDDING_RATE * share
        self.adam.step()
        with torch.no_grad():
            for w, momentum in self.matrices.items():
                momentum.mul_(0.95).add_(w.grad)
                w -= MATRIX_RATE * share * max(1, w.shape[0] / w.shape[1]) ** 0.5 * orthogonal(w.grad + 0.95 * momentum)


def train(ids, held_out, steps):
    """The first two thirds of the steps have windows of half the context and constant rates. The last third has whole windows, rates
    that fall to zero, and rounded weights."""
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    weights = {}
    for name, shape, _ in shapes():
        deviation = 0.02 if name == 'token_embd' else shape[-1] ** -0.5
        if name.endswith(('attn_output', 'ffn_down')):
            deviation /= (2 * LAYERS) ** 0.5
        weights[name] = (torch.ones(shape) if len(shape) == 1 else deviation * torch.randn(shape)).requires_grad_()
    optimizer = Optimizer(weights)
    begun = time.time()
    for step in range(steps):
        last = step >= steps * 2 // 3
        length = CONTEXT if last else CONTEXT // 2
        starts = rng.integers(0, len(ids) - length, TOKENS_PER_STEP // length)
        windows = torch.from_numpy(np.stack([ids[s:s + length + 1] for s in starts]))
        used = {name: rounded(w, KINDS[name]) for name, w in weights.items()} if last else weights
        value = loss(used, windows)
        for w in weights.values():
            w.grad = None
        value.backward()
        optimizer.step(min(1, (step + 1) / 50, 3 * (steps - step) / steps))
        if step % 100 == 99:
            print('step %d: loss %.3f, held out %.3f, %.0f s' %
                  (step + 1, value.item(), held_out_loss(used, held_out), time.time() - begun), flush=True)
    return {name: w.detach() for name, w in weights.items()}


# ---- the file ----


def model_file(weights, tokens, merges):
    model = gguf_models.Model()
    own = {'block_count': LAYERS, 'context_length': CONTEXT, 'embedding_length': WIDTH, 'feed_forward_length': INNER,
           'attention.head_count': HEADS, 'attention.head_count_kv': KV, 'attention.layer_norm_rms_epsilon': EPSILON,
           'rope.dimension_count': SIZE, 'rope.freq_base': BASE, 'vocab_size': VOCABULARY}
    model.keys = {'general.architecture': 'llama', 'general.name': 'nnrt novels', 'general.license': 'mit',
                  'general.description': 'trained on the novels of Jane Austen by examples/text/train.py'}
    model.keys.update({'llama.' + key: value for key, value in own.items()})
    model.keys.update({'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.pre': 'gpt-2', 'tokenizer.ggml.tokens': tokens,
                       'tokenizer.ggml.token_type': np.array([3] + [1] * (VOCABULARY - 1), 'i4'),
                       'tokenizer.ggml.merges': [a + ' ' + b for a, b in merges],
                       'tokenizer.ggml.bos_token_id': 0, 'tokenizer.ggml.eos_token_id': 0, 'tokenizer.ggml.add_bos_token': False})
    for name, w in weights.items():
        model.add(name + '.weight', KINDS[name], packed(w, KINDS[name]), w)
    return model.bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('novels', metavar='NOVELS')
    parser.add_argument('--steps', type=int, default=STEPS, metavar='N')
    parser.add_argument('--output', default=HERE, metavar='FOLDER')
    args = parser.parse_args()
    torch.set_num_threads(1)
    texts = novels(args.novels)
    begin = [i for i, text in enumerate(texts) if 'Anne Elliot' in text][0]
    cut = texts[begin].rindex('\n', 0, -HELD_OUT) + 1
    held_out, texts[begin] = texts[begin][cut:].replace(END, '').strip() + '\n', texts[begin][:cut]
    tokens, merges, known = train_vocabulary(END.join(texts))
    ids, other = (encode(text, tokens, merges, known) for text in (END.join(texts), held_out))
    print('%d tokens, %d held out; %.2f bytes each' % (len(ids), len(other), len(held_out.encode()) / len(other)), flush=True)
    weights = train(ids, other, args.steps)
    value = held_out_loss({name: rounded(w, KINDS[name]) for name, w in weights.items()}, other)
    print('held out: perplexity %.2f, %.3f bits a byte' % (np.exp(value), value * len(other) / len(held_out.encode()) / np.log(2)))
    with open(os.path.join(args.output, 'model.gguf'), 'wb') as f:
        f.write(model_file(weights, tokens, merges))
    with open(os.path.join(args.output, 'heldout.txt'), 'w', encoding='utf-8') as f:
        f.write(held_out)


if __name__ == '__main__':
    main()
