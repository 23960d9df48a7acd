#!/usr/bin/env python3
"""Random language models as GGUF files (gguf_models.py), of each architecture and tensor type, compared with definitions in numpy
(gguf_numpy.py).

    test_gguf.py [--only TEXT] NNRT                 compares NNRT with numpy
    test_gguf.py --peer --modules DIR [--only TEXT]  compares numpy with llama.cpp: DIR/node_modules has node-llama-cpp

With --float-activations, logits after each token of a prompt are within 2e-5 of the largest logit, in one run and in two, of which
the second has the keys and values of the first, from a model that `nnrt convert` made, and from one with a cache (`--context`). `nnrt
generate` chooses the token with the largest logit of numpy, unless two are closer than that: the same tokens for every --batch, with
any --context, on the devices auto and reference, and from past and present keys and values. Embeddings are within 1e-5.
With --cache-type f16 and q8_0 they are those of numpy with keys and values rounded likewise, also where a value rounds to its other
neighbor because it differs in its last bits. A text continues from a file of --save-cache, and behind tokens of --context-shift, as from the
whole prompt, or from what is left of it. Decoders in ONNX (onnx_decoders.py) generate the tokens of numpy, with a cache that is a state
where their attention has past and present.
With activations rounded to int8, the default, logits and embeddings are those of numpy with the same rounding; where an activation
differs in its last bits it may round to another integer, so that their distance is at most 0.6 of that to numpy without rounding.

The last line says "N passed, N failed"; the exit status is 1 when something failed or nothing passed.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../kit'))
import commands  # noqa: E402
import gguf_models  # noqa: E402
import gguf_numpy  # noqa: E402
import onnx_decoders  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
IDS = [1, 17, 299, 4, 55, 100, 7, 8, 9, 42]
CLOSE, LIKE_INT8, LIKE_ROUNDED = 2e-5, 0.6, 0.6
# --cache-type: how far a chosen token may be below the largest logit, of that: plain, and after --context-shift, which rounds keys again
ROUNDED = {'f16': (1e-3, 4e-3), 'q8_0': (1e-2, 4e-2)}
QUANTIZED = [kind for kind in gguf_models.TYPES if kind not in ('F32', 'F16', 'BF16')]
LONG_FACTORS = {'rope_factors_long': [1, 1.1, 2, 3, 4, 6, 8, 8], 'rope_factors_short': [1, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]}
LONGROPE = {'rope.scaling.type': 'longrope', 'rope.scaling.attn_factor': 1.19}


def cases():
    """(name, architecture, type, changes): the types in llama, the architectures in three types, and variants."""
    for kind in gguf_models.TYPES:
        yield 'llama ' + kind, 'llama', kind, {}
    for arch in gguf_models.ARCHITECTURES[1:]:
        for kind in ('F32', 'Q4_1', 'Q6_K'):
            yield arch + ' ' + kind, arch, kind, {}
    yield 'tied, 4 bits', 'qwen2', 'Q4_0', {'tied': True}
    yield 'tied, minima', 'llama', 'Q5_K', {'tied': True}
    yield 'biases', 'llama', 'Q8_0', {'biases': True}
    yield 'fused queries, keys and values', 'qwen2', 'F32', {'fused': True}
    yield 'one head of keys', 'llama', 'F32', {'kv': 1}
    yield 'heads wider than the width', 'qwen3', 'F32', {'size': 32}
    yield 'part of a head is rotated', 'phi3', 'F32', {'keys': {'rope.dimension_count': 8}}
    yield 'rotary base', 'llama', 'F32', {'keys': {'rope.freq_base': 500000.0}}
    yield 'rotary factors', 'llama', 'F32', {'factors': {'rope_freqs': [1, 1, 2, 3, 4, 6, 8, 8]}}
    yield 'linear', 'qwen2', 'F32', {'keys': {'rope.scaling.type': 'linear', 'rope.scaling.factor': 4.0}}
    yield 'linear, with windows', 'gemma3', 'F32', {'keys': {'rope.scaling.type': 'linear', 'rope.scaling.factor': 8.0}}
    yield 'yarn', 'qwen2', 'F32', {'keys': {'rope.scaling.type': 'yarn', 'rope.scaling.factor': 4.0,
                                            'rope.scaling.original_context_length': 32}}
    yield 'longrope, long', 'phi3', 'F32', {'keys': dict(LONGROPE, **{'rope.scaling.original_context_length': 32}), 'factors': LONG_FACTORS}
    yield 'longrope, short', 'phi3', 'F32', {'keys': dict(LONGROPE, **{'rope.scaling.original_context_length': 128}), 'factors': LONG_FACTORS}
    yield 'window in all layers', 'llama', 'F32', {'keys': {'attention.sliding_window': 4}}
    yield 'cap of logits only', 'llama', 'F32', {'keys': {'final_logit_softcapping': 2.0}}
    for pooling in (0, 2, 3):
        yield 'pooling %d' % pooling, 'bert', 'F32', {'pooling': pooling}
    yield 'pooling 2', 'nomic-bert', 'Q8_0', {'pooling': 2}


class Runner:
    def __init__(self, nnrt, folder):
        self.nnrt, self.folder, self.passed, self.failed = nnrt, folder, 0, 0

    def verdict(self, good, name, detail=''):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print('FAIL %s: %s' % (name, detail))

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, file, ids, past=None, model=None, int8=False, context=None, cache=None, device=()):
        """All outputs of a run by name; past: keys and values by name, or None for an empty cache of that model; context: of a cache in the
        session, and the run is at position 0."""
        np.save(self.path('ids.npy'), np.array([ids], np.int64))
        words = ['run', file, '--input', 'input_ids=' + self.path('ids.npy'), '--output-dir', self.path('out'), *device]
        if file.endswith('.gguf'):
            words += ['--all-logits'] + ([] if int8 else ['--float-activations'])
        if context is not None:
            np.save(self.path('position.npy'), np.zeros(1, np.int64))
            words += ['--context', str(context), '--input', 'position=' + self.path('position.npy')]
            words += ['--cache-type', cache] if cache else []
        elif model is not None and model.arch not in gguf_models.ENCODERS:
            for i in range(model.sizes['layers']):
                for part in ('key', 'value'):
                    name = 'past_key_values.%d.%s' % (i, part)
                    empty = np.zeros((1, model.sizes['kv'], 0, model.sizes['size']), np.float32)
                    np.save(self.path(name + '.npy'), empty if past is None else past[name.replace('past_key_values', 'present')])
                    words += ['--input', '%s=%s' % (name, self.path(name + '.npy'))]
        shutil.rmtree(self.path('out'), ignore_errors=True)
        done = commands.run(self.nnrt, *words, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return {name[:-4]: np.load(os.path.join(self.path('out'), name)) for name in os.listdir(self.path('out'))}

    def compare_int8(self, name, got, plain, rounded, like=LIKE_INT8):
        """Root of the mean square of the differences: to numpy with rounding, and to numpy without."""
        def distance(a):
            return np.sqrt(((a - rounded) ** 2).mean())
        good = got.shape == rounded.shape and 0 < distance(plain) and distance(got) <= like * distance(plain)
        self.verdict(good, name + ', rounded', 'differs by %g from rounded values, float32 by %g' % (distance(got), distance(plain)))

    def compare(self, name, got, want):
        bound = CLOSE * max(1.0, np.abs(want).max())
        off = np.abs(got - want).max() if got.shape == want.shape else np.inf
        self.verdict(off <= bound, name, 'differs by %g, at most %g' % (off, bound))

    def encoder(self, name, model, file):
        out = self.run(file, IDS, model=model)
        result = 'hidden' if model.sizes['pooling'] == 0 else 'embedding'
        self.compare(name, out[result][0], gguf_numpy.embedding(model, IDS))
        if model.kind in QUANTIZED:
            out = self.run(file, IDS, model=model, int8=True)
            self.compare_int8(name, out[result][0], gguf_numpy.embedding(model, IDS), gguf_numpy.embedding(model, IDS, int8=True))

    def decoder(self, name, model, file):
        want = gguf_numpy.logits(model, IDS)
        self.compare(name, self.run(file, IDS, model=model)['logits'][0], want)
        first = self.run(file, IDS[:7], model=model)
        self.compare(name + ', second run', self.run(file, IDS[7:], past=first, model=model)['logits'][0], want[7:])
        if model.kind in QUANTIZED:
            rounded = gguf_numpy.logits(model, IDS, int8=True)
            self.compare_int8(name, self.run(file, IDS, model=model, int8=True)['logits'][0], want, rounded)
        chooses = name.startswith('longrope')  # --context chooses the list of rotary factors
        for context in (128,) if chooses else (len(IDS), 50):
            out = self.run(file, IDS, context=context)
            self.verdict(sorted(out) == ['logits'], name + ', outputs with a cache', sorted(out))
            self.compare(name + ', context %d' % context, out['logits'][0], want)
        tokens = self.generate(name, file, 12)
        self.tokens(name, model, tokens)
        for page, more in (('1', []), ('8', ['--batch', '3'])) if model.kind == 'F32' else ():
            again = self.generate(name + ', pages', file, 12, '--cache-page', page, *more)
            self.verdict(again == tokens, '%s, tokens with pages of %s' % (name, page), '%s, without %s' % (again, tokens))
        if model.kind == 'F32':
            for cache in ROUNDED:
                self.rounded(name + ', ' + cache, model, file, want, '128' if chooses else '50', cache)
        contexts = ['128', '128'] if chooses else ['22', '300']
        for words in (['--batch', '1'], ['--batch', '3', '--context', contexts[0]], ['--batch', '7', '--context', contexts[1]],
                      ['--device', 'reference']):
            again = self.generate('%s, %s' % (name, ' '.join(words)), file, 12, *words)
            self.verdict(again == tokens, '%s, tokens with %s' % (name, ' '.join(words)), '%s, without %s' % (again, tokens))
        if name == model.arch + ' F32' or model.arch == 'llama':
            stored = self.path('past.nnrt')
            done = commands.run(self.nnrt, 'convert', file, stored, '--float-activations', text=True)
            again = self.generate(name + ', past and present', stored, 12)
            self.verdict(done.returncode == 0 and again == tokens, name + ', tokens of past and present', '%s, with a cache %s' % (again, tokens))
        if model.arch in ('llama', 'gemma3'):
            stored = self.path('model.nnrt')
            done = commands.run(self.nnrt, 'convert', file, stored, '--float-activations', text=True)
            self.verdict(done.returncode == 0, name + ', convert', done.stderr)
            self.compare(name + ', converted', self.run(stored, IDS, model=model)['logits'][0], want[-1:])
            again = self.generate(name + ', converted', stored, 12)
            self.verdict(tokens == again, name + ', tokens after convert', '%s, before %s' % (again, tokens))
            done = commands.run(self.nnrt, 'convert', file, stored, '--context', '40', '--float-activations', text=True)
            again = self.generate(name + ', converted with a cache', stored, 12, '--batch', '4')
            self.verdict(done.returncode == 0 and tokens == again, name + ', tokens after convert with a cache', '%s, before %s' % (again, tokens))

    def rounded(self, name, model, file, want, context, cache):
        """A cache of rounded keys and values: logits, and the tokens of each form."""
        rounded = gguf_numpy.logits(model, IDS, cache=cache)
        for device in ([], ['--device', 'reference']):
            out = self.run(file, IDS, context=int(context), cache=cache, device=device)
            self.compare_int8(name, out['logits'][0], want, rounded, LIKE_ROUNDED)
        words = ['--cache-type', cache, '--context', context]
        tokens = self.generate(name, file, 12, *words)
        rows = gguf_numpy.logits(model, IDS + tokens[:-1], cache=cache)[len(IDS) - 1:]
        lost = max(row.max() - row[token] for row, token in zip(rows, tokens))
        self.verdict(len(tokens) == 12 and lost <= ROUNDED[cache][0] * np.abs(rows).max(), name + ', tokens', '%s, %s' % (tokens, lost))
        for more in (['--batch', '1'], ['--batch', '4'], ['--device', 'reference'], ['--threads', '2'], ['--cache-page', '2', '--batch', '3']):
            again = self.generate(name, file, 12, *words, *more)
            self.verdict(again == tokens, '%s, tokens with %s' % (name, more), '%s, without %s' % (again, tokens))
        stored = self.path('rounded.nnrt')
        commands.run(self.nnrt, 'convert', file, stored, '--float-activations', *words, check=True)
        again = self.generate(name + ', converted', stored, 12)
        self.verdict(again == tokens, name + ', converted', '%s, before %s' % (again, tokens))

    def generate(self, name, file, count, *words):
        return self.generate_ids(name, file, IDS, count, *words)

    def generate_ids(self, name, file, ids, count, *words):
        words = [*words, '--float-activations'] if file.endswith('.gguf') else words
        done = commands.run(self.nnrt, 'generate', file, '--ids', ','.join(map(str, ids)), '--tokens', str(count), '--json', *words, text=True)
        said = json.loads(done.stdout) if done.returncode == 0 else {}
        self.verdict(said.get('first_ms', 0) > 0 and said.get('step_ms', 0) > 0, name + ', generate', done.stderr + done.stdout)
        return said.get('tokens', [])

    def tokens(self, name, model, tokens):
        """Each token has the largest logit, or is within the bound of it."""
        ids = IDS + tokens[:-1]
        rows = gguf_numpy.logits(model, ids)[len(IDS) - 1:]
        lost = [row.max() - row[token] for row, token in zip(rows, tokens)]
        self.verdict(len(tokens) == 12 and max(lost) <= 2 * CLOSE * max(1.0, np.abs(rows).max()), name + ', tokens', '%s, %s' % (tokens, lost))

    def case(self, name, arch, kind, changes):
        model = gguf_models.make(arch, kind, **changes)
        file = self.path('model.gguf')
        with open(file, 'wb') as f:
            f.write(model.bytes())
        try:
            (self.encoder if arch in gguf_models.ENCODERS else self.decoder)(name, model, file)
        except (RuntimeError, KeyError) as fault:
            self.verdict(False, name, fault)

    def memory(self, file, model):
        """info prints the memory of generate, which depends on --context and --batch alone; the cache has one buffer for each state."""
        said = {}
        for context, batch in ((256, 16), (256, 64), (700, 64)):
            limits = ['--context', str(context), '--batch', str(batch), '--json']
            info = json.loads(commands.run(self.nnrt, 'info', file, *limits, text=True).stdout)
            cache = model.sizes['layers'] * 2 * context * model.sizes['kv'] * model.sizes['size'] * 4
            self.verdict(info['state_bytes'] == cache, 'info, state_bytes', '%d, expected %d' % (info['state_bytes'], cache))
            self.verdict(info['buffer_bytes'] >= info['session_bytes'] >= info['state_bytes'] + info['arena_bytes'], 'info, sizes', info)
            for count in (1, 200):
                done = commands.run(self.nnrt, 'generate', file, '--ids', ','.join(['7'] * count), '--tokens', '2', *limits, text=True)
                got = json.loads(done.stdout) if done.returncode == 0 else {}
                same = got.get('session_bytes') == info['session_bytes'] and got.get('cache_bytes') == cache
                self.verdict(same, 'memory for %d tokens, context %d, batch %d' % (count, context, batch), '%s %s' % (done.stderr, got))
            said[context, batch] = info
        self.verdict(said[256, 16]['arena_bytes'] < said[256, 64]['arena_bytes'], 'the arena grows with --batch', said)

    def halves(self, file, model):
        """A cache of float16 takes half of the memory, exactly, one of int8 its bytes and scales; the types that are refused."""
        wide = self.path('wide.gguf')
        with open(wide, 'wb') as f:
            f.write(gguf_models.make('qwen3', 'F32', size=64).bytes())
        for context, kind, name in ((256, 'f16', file), (700, 'f16', file), (256, 'q8_0', file), (700, 'q8_0', file), (300, 'q8_0', wide)):
            limits, type_ = ['--context', str(context), '--batch', '16', '--json'], ['--cache-type', kind]
            size = model.sizes['size'] if name == file else 64
            block = 32 if size % 32 == 0 else size
            info = json.loads(commands.run(self.nnrt, 'info', name, *limits, *type_, text=True).stdout)
            parts = [2 * size] if kind == 'f16' else [size, size // block * 2]  # each state is aligned to 64 bytes
            cache = model.sizes['layers'] * 2 * sum(-(-context * model.sizes['kv'] * part // 64) * 64 for part in parts)
            self.verdict(info['state_bytes'] == cache, '%s, state_bytes' % kind, '%s, expected %d' % (info, cache))
            done = commands.run(self.nnrt, 'generate', name, '--ids', '7', '--tokens', '2', *type_, *limits, text=True)
            got = json.loads(done.stdout) if done.returncode == 0 else {}
            self.verdict(got.get('cache_bytes') == cache and got.get('session_bytes') == info['session_bytes'], kind + ', memory', '%s %s' % (done, info))
        stored = self.path('half.nnrt')
        commands.run(self.nnrt, 'convert', file, stored, '--context', '30', check=True)
        for words, message in ((['info', file, '--cache-type', 'f16'], '--context N states its tokens'),
                               (['info', file, '--cache-type', 'q8_0'], '--context N states its tokens'),
                               (['generate', stored, '--ids', '1', '--cache-type', 'f16'], 'has the type of its cache'),
                               (['generate', stored, '--ids', '1', '--cache-type', 'q8_0'], 'has the type of its cache'),
                               (['generate', stored, '--ids', '1', '--cache-page', '8'], 'has its cache'),
                               (['info', file, '--cache-page', '8'], '--context N states its tokens'),
                               (['info', file, '--context', '30', '--cache-page', '8'], 'cachePage is 8 with cache 30, expected a divisor of it'),
                               (['generate', file, '--ids', '1', '--cache-page', '8', '--save-cache', stored + 'x'], '(metadata pages)'),
                               (['generate', file, '--ids', '1', '--cache-page', '8', '--context', '16', '--context-shift'], '(metadata pages)'),
                               (['info', file, '--cache-type', 'q8'], "--cache-type does not take 'q8'")):
            done = commands.run(self.nnrt, *words, text=True)
            self.verdict(done.returncode != 0 and message in done.stderr, ' '.join(words), done.stderr)

    def continued(self):
        """--save-cache and --load-cache: the tokens of one generation without a break."""
        for arch, more in (('llama', ['--cache-type', 'q8_0']), ('llama', []), ('gemma3', ['--cache-type', 'f16']), ('gpt2', [])):
            model, file, saved = gguf_models.make(arch, 'F32'), self.path('saved.gguf'), self.path('saved.cache')
            with open(file, 'wb') as f:
                f.write(model.bytes())
            whole = self.generate(arch + ', whole', file, 20, *more)
            for count in (1, 8):
                words = ['--save-cache', saved, *more]
                first = self.first(arch + ', saved', file, IDS, count, *words)
                rest = self.first(arch + ', loaded', file, [], 20 - count, '--load-cache', saved, '--context', '64', *more)
                self.verdict(first['tokens'] + rest['tokens'] == whole and rest['loaded_tokens'] == len(IDS) + count - 1 and len(whole) == 20,
                             '%s, continued after %d' % (arch, count), '%s %s, %s' % (first, rest, whole))
            self.first(arch + ', the prompt alone', file, IDS[:4], 0, '--save-cache', saved, *more)
            size = os.path.getsize(saved)
            head = model.sizes['size'] * 4 if not more else model.sizes['size'] * 2 if 'f16' in more else model.sizes['size'] + 2
            row, records = 2 * model.sizes['layers'] * model.sizes['kv'] * head, (4 if 'q8_0' in more else 2) * model.sizes['layers']
            self.verdict(4 * row < size < 4 * row + 56 + 48 * records + 64, arch + ', bytes of the file', size)
            for ids in ([], IDS[4:5], IDS[4:]):
                rest = self.first(arch + ', behind the prompt', file, ids, 10, '--load-cache', saved, '--batch', '2', *more)
                again = self.first(arch + ', as a prompt', file, IDS[:4] + ids, 10, *more)
                self.verdict(rest['tokens'] == again['tokens'] and rest['loaded_tokens'] == 4, '%s, %d behind the prompt' % (arch, len(ids)), rest)
        self.damaged(file, saved)

    def first(self, name, file, ids, count, *words):
        words = [*words, '--float-activations'] if file.endswith('.gguf') else words
        done = commands.run(self.nnrt, 'generate', file, '--ids', ','.join(map(str, ids)), '--tokens', str(count), '--json', *words, text=True)
        self.verdict(done.returncode == 0, name, done.stderr)
        return json.loads(done.stdout) if done.returncode == 0 else {'tokens': [], 'loaded_tokens': -1}

    def damaged(self, file, saved):
        """Files of --save-cache that are cut off, changed, or of another model; options that do not fit."""
        with open(saved, 'rb') as f:
            data = f.read()
        other, bad = self.path('other.gguf'), self.path('bad.cache')
        with open(other, 'wb') as f:
            f.write(gguf_models.make('gpt2', 'F32', seed=1).bytes())
        changes = [(data[:n], 'cut short' if 8 <= n < 56 else 'say that they have' if n >= 56 else 'no saved states')
                   for n in (3, 7, 8, 55, 56, 100, len(data) - 1)]
        changes += [(data + b'\0', 'say that they have'), (data[:200] + bytes([data[200] ^ 1]) + data[201:], 'their checksum differs')]
        for raw, message in changes:
            with open(bad, 'wb') as f:
                f.write(raw)
            self.fails('a cache of %d bytes' % len(raw), message, file, '--ids', '1', '--load-cache', bad)
        self.fails('a cache of another model', 'saved with another model', other, '--ids', '1', '--load-cache', saved)
        self.fails('a cache of another type', 'expected float16[1,4,', file, '--ids', '1', '--load-cache', saved, '--cache-type', 'f16')
        self.fails('a cache of int8', '4 states are saved, the session has 8', file, '--ids', '1', '--load-cache', saved, '--cache-type', 'q8_0')
        self.fails('a cache that is no file', 'absent', file, '--ids', '1', '--load-cache', self.path('absent'))
        self.fails('a cache in a folder that is none', 'cannot write', file, '--ids', '1', '--save-cache', self.path('none/x'))
        self.fails('a small context', 'the prompt has 4 tokens, and the context 4', file, '--ids', '', '--load-cache', saved, '--context', '4')
        self.fails('--tokens 0', '--tokens 0 is for --save-cache', file, '--ids', '1', '--tokens', '0')
        self.fails('--keep-tokens', '--keep-tokens is for --context-shift', file, '--ids', '1', '--keep-tokens', '2')
        self.fails('no tokens', "'' is no token", file, '--ids', '')
        self.fails('--context-shift of learned positions', 'metadata rotary', file, '--ids', '1,2', '--context', '8', '--context-shift')

    def fails(self, name, message, *words):
        done = commands.run(self.nnrt, 'generate', *words, text=True)
        self.verdict(done.returncode != 0 and done.stdout == '' and message in done.stderr, name, done)

    def shifted(self):
        """--context-shift with one layer, whose keys and values depend on their own tokens only: the rest of the tokens as a prompt."""
        for arch, changes in (('llama', {}), ('qwen2', {}), ('qwen3', {}), ('phi3', {'keys': {'rope.dimension_count': 8}}), ('gemma3', {}),
                              ('qwen2', {'keys': {'rope.scaling.type': 'yarn', 'rope.scaling.factor': 4.0, 'rope.scaling.original_context_length': 32}})):
            model, file = gguf_models.make(arch, 'F32', layers=1, **changes), self.path('shift.gguf')
            with open(file, 'wb') as f:
                f.write(model.bytes())
            for cache in (None, *ROUNDED):
                for keep, batch in ((1, 8), (3, 2)):
                    words = ['--context', '16', '--context-shift', '--keep-tokens', str(keep), '--batch', str(batch)] + (['--cache-type', cache] if cache else [])
                    said = self.first(arch + ', shifted', file, IDS, 40, *words)
                    self.shift_of('%s %s, shifted, %s, %d stay' % (arch, changes, cache, keep), model, said, keep, cache)

    def shift_of(self, name, model, said, keep, kind):
        """Each token has the largest logit behind the tokens in the cache, or nearly."""
        cache, dropped, lost, bound = list(IDS), 0, 0, 0
        for token in said['tokens']:
            row = gguf_numpy.logits(model, cache, cache=kind)[-1]
            lost, bound = max(lost, row.max() - row[token]), max(bound, np.abs(row).max())
            if len(cache) == 16:
                drop = (16 - keep) // 2
                cache, dropped = cache[:keep] + cache[keep + drop:], dropped + drop
            cache.append(token)
        good = len(said['tokens']) == 40 and dropped > 16 and lost <= (ROUNDED[kind][1] if kind else 1e-4) * bound
        self.verdict(good and said['dropped_tokens'] == dropped, name, 'lost %g of %g, dropped %d, %s' % (lost, bound, dropped, said))

    def onnx(self):
        """ONNX decoders: tokens of numpy, a cache of states of one size, continued from a file. Concat without a mask has two buffers."""
        for kind, mask in (('gqa', True), ('attention', True), ('attention', False), ('concat', True), ('concat', False)):
            states = (kind, mask) != ('concat', False)
            model, file, ids = onnx_decoders.make(kind, mask=mask), self.path('decoder.onnx'), [1, 5, 7, 9, 2]
            name = 'ONNX %s%s' % (kind, '' if mask else ' without a mask')
            with open(file, 'wb') as f:
                f.write(model.file)
            want = list(ids)
            for _ in range(12):
                row = np.sort(model.logits(want)[-1])
                self.verdict(row[-1] - row[-2] > 1e-4, name + ', margin', row[-2:])
                want.append(int(model.logits(want)[-1].argmax()))
            for words in ([], ['--batch', '1'], ['--batch', '2', '--context', '30'], ['--device', 'reference']):
                said = self.first(name, file, ids, 12, *words)
                rows = 30 if '--context' in words else 17
                bytes_ = 2 * onnx_decoders.LAYERS * rows * onnx_decoders.KV * onnx_decoders.SIZE * (4 if states else 8)
                self.verdict(said['tokens'] == want[5:] and said.get('cache_bytes') == bytes_, '%s, %s' % (name, words), '%s, expected %s' % (said, want[5:]))
            saved = self.path('onnx.cache')
            if not states:
                self.fails('a cache of inputs and outputs', 'not a cache of fixed size', file, '--ids', '1', '--save-cache', saved)
                continue
            first = self.first(name, file, ids, 5, '--save-cache', saved)
            rest = self.first(name, file, [], 7, '--load-cache', saved)
            self.verdict(first['tokens'] + rest['tokens'] == want[5:], name + ', continued', '%s %s' % (first, rest))
            self.fails(name + ', --context-shift', 'metadata rotary', file, '--ids', '1', '--context', '8', '--context-shift')

    def others(self):
        """Versions, threads, the message of a model without logits, and of a token outside the vocabulary."""
        model = gguf_models.make('llama', 'Q8_0')
        file = self.path('model.gguf')
        with open(file, 'wb') as f:
            f.write(model.bytes(version=2))
        want = gguf_numpy.logits(model, IDS)
        self.compare('version 2', self.run(file, IDS, model=model)['logits'][0], want)
        plain = self.generate('one thread', file, 40)
        done = commands.run(self.nnrt, 'generate', file, '--ids', ','.join(map(str, IDS)), '--tokens', '40', '--threads', '2',
                            '--float-activations', '--json', text=True)
        self.verdict(done.returncode == 0 and json.loads(done.stdout)['tokens'] == plain, 'two threads', done.stderr + done.stdout)
        done = commands.run(self.nnrt, 'generate', file, '--ids', ','.join(map(str, IDS * 60)), '--tokens', '3', '--float-activations',
                            '--json', text=True)
        self.verdict(done.returncode == 0, 'a prompt in three parts', done.stderr)
        rows = gguf_numpy.logits(model, IDS * 60 + json.loads(done.stdout)['tokens'][:2])[599:]
        self.verdict([int(row.argmax()) for row in rows] == json.loads(done.stdout)['tokens'], 'a prompt in three parts, tokens', done.stdout)
        self.memory(file, model)
        self.halves(file, model)
        self.continued()
        self.shifted()
        self.onnx()
        for words, message in ((['--ids', '1,300'], 'index 300'), (['--ids', '1,,2'], "'' is no token"), ([], '--ids is missing'),
                               (['--ids', '1,2', '--context', '2'], 'the prompt has 2 tokens, and the context 2')):
            done = commands.run(self.nnrt, 'generate', file, *words, text=True)
            self.verdict(done.returncode != 0 and message in done.stderr, 'generate %s' % words, done.stderr)
        table = np.random.default_rng(1).integers(-40, 40, (9, 9)).astype(np.float32)
        decoder, ids = self.path('decoder.onnx'), [1, 5, 7]
        with open(decoder, 'wb') as f:
            f.write(onnx_decoder(table))
        tokens = self.generate_ids('an ONNX decoder', decoder, ids, 12)
        for i in range(12):
            ids.append(int((table[ids[-1]] + (len(ids) - 1) * table[0] + sum(ids) * table[1]).argmax()))
        self.verdict(tokens == ids[3:], 'an ONNX decoder, tokens', '%s, expected %s' % (tokens, ids[3:]))
        with open(file, 'wb') as f:
            f.write(gguf_models.make('bert', 'F32').bytes())
        done = commands.run(self.nnrt, 'generate', file, '--ids', '1', text=True)
        self.verdict(done.returncode != 0 and 'is no decoder' in done.stderr, 'generate with an encoder', done.stderr)
        done = commands.run(self.nnrt, 'info', file, '--json', text=True)
        self.verdict(done.returncode == 0 and 'input_ids' in done.stdout, 'info', done.stderr)


def onnx_decoder(table):
    """A decoder with all inputs of Optimum's: logits = table[ids] + position * table[0] + sum of the cached tokens * table[1], where the
    length of the mask selects the tokens that count."""
    number, real = TensorProto.INT64, TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info('input_ids', number, ['batch', 'steps']),
              helper.make_tensor_value_info('attention_mask', number, ['batch', 'total']),
              helper.make_tensor_value_info('position_ids', number, ['batch', 'steps']),
              helper.make_tensor_value_info('past_key_values.0.key', real, ['batch', 1, 'past', 1])]
    outputs = [helper.make_tensor_value_info('logits', real, ['batch', 'steps', table.shape[1]]),
               helper.make_tensor_value_info('present.0.key', real, ['batch', 1, 'total', 1])]
    lists = {'table': table, 'first': table[0], 'second': table[1], 'one': np.array([1], np.int64), 'last': np.array([2], np.int64),
             'column': np.array([1, 1, -1, 1], np.int64), 'row': np.array([1, -1], np.int64)}
    rows = [('Gather', ['table', 'input_ids'], 'rows', {}), ('Cast', ['position_ids'], 'at', {'to': real}),
            ('Unsqueeze', ['at', 'last'], 'places', {}), ('Mul', ['places', 'first'], 'moved', {}),
            ('Cast', ['input_ids'], 'ids', {'to': real}), ('Reshape', ['ids', 'column'], 'new', {}),
            ('Concat', ['past_key_values.0.key', 'new'], 'present.0.key', {'axis': 2}), ('Reshape', ['present.0.key', 'row'], 'all', {}),
            ('Cast', ['attention_mask'], 'mask', {'to': real}), ('Mul', ['all', 'mask'], 'seen', {}),
            ('ReduceSum', ['seen', 'one'], 'sum', {'keepdims': 1}), ('Mul', ['sum', 'second'], 'cached', {}),
            ('Add', ['rows', 'moved'], 'both', {}), ('Add', ['both', 'cached'], 'logits', {})]
    nodes = [helper.make_node(op, given, [result], **attributes) for op, given, result, attributes in rows]
    graph = helper.make_graph(nodes, 'decoder', inputs, outputs, [numpy_helper.from_array(v, k) for k, v in lists.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)]).SerializeToString()


PEER = """
import { getLlama } from 'node-llama-cpp';
const llama = await getLlama({ gpu: false, build: 'never', logLevel: 'error' });
const ids = JSON.parse(process.argv[2]), steps = +process.argv[3];
for (const path of process.argv.slice(4)) {
    const model = await llama.loadModel({ modelPath: path, useMmap: false, defaultContextFlashAttention: false });
    let said;
    if (path.includes('bert')) {
        const context = await model.createEmbeddingContext({ contextSize: 128, threads: 1 });
        said = (await context.getEmbeddingFor(ids)).vector;
        await context.dispose();
    } else {
        const context = await model.createContext({ contextSize: 128, threads: 1, batchSize: 64, flashAttention: false,
            experimentalKvCacheKeyType: 'F32', experimentalKvCacheValueType: 'F32' });
        said = [];
        const next = context.getSequence().evaluateWithMetadata(ids, { probabilities: true }, { temperature: 0, yieldEogToken: true });
        while (said.length < steps) {
            const one = await next.next();
            said.push([one.value.token, [...one.value.probabilities]]);
        }
        await context.dispose();
    }
    await new Promise((done) => process.stdout.write(JSON.stringify(said) + '\\n', done)); /* before exit */
    await model.dispose();
}
process.exit(0);
"""
# llama.cpp rounds the operands of GELU to float16, those of F16 and BF16 products too, and those of quantized products to 8 bits
PEER_BOUNDS = {'F32': 1e-5, 'F16': 5e-3, 'BF16': 5e-2}
PEER_GELU, PEER_OTHER, PEER_STEPS = 3e-3, 0.7, 64


def check_peer(folder, modules, only):
    """Log-probabilities and tokens of llama.cpp, and its embeddings, beside numpy's."""
    chosen = [case for case in cases() if only in case[0] and case[3].get('pooling') != 0]
    models = [gguf_models.make(arch, kind, **changes) for _, arch, kind, changes in chosen]
    files = []
    for i, model in enumerate(models):
        files.append(os.path.join(folder, '%d.%s.gguf' % (i, model.arch)))
        with open(files[-1], 'wb') as f:
            f.write(model.bytes())
    script = os.path.join(modules, 'nnrt_gguf_peer.mjs')
    with open(script, 'w', encoding='ascii') as f:
        f.write(PEER)
    lines = subprocess.run(['node', script, json.dumps(IDS), str(PEER_STEPS), *files], check=True, capture_output=True, text=True).stdout.splitlines()
    passed = 0
    for case, model, line in zip(chosen, models, lines):
        name, arch, kind, said = case[0], case[1], case[2], json.loads(line)
        bound = PEER_BOUNDS.get(kind, PEER_OTHER)
        if arch in gguf_models.ENCODERS:  # node-llama-cpp adds the tokens of begin and end
            want = gguf_numpy.embedding(model, [2] + IDS + [3])
            off = np.abs(np.array(said) / np.linalg.norm(said) - want / np.linalg.norm(want)).max()
            good, text = off <= (5e-3 if kind != 'F32' else 1e-4 if model.sizes['pooling'] == 1 else 2e-4), 'normalized embeddings differ by %.1e' % off
        else:
            bound = max(bound, PEER_GELU) if arch.startswith(('gemma', 'gpt2')) else bound
            ids, off, lost = list(IDS), 0, 0
            for token, probabilities in said:
                row = gguf_numpy.logits(model, ids)[-1]
                row = row - row.max() - np.log(np.exp(row - row.max()).sum())
                p = np.array([value for _, value in sorted(probabilities)])
                seen = p > 1e-6
                off, lost = max(off, np.abs(np.log(p[seen]) - row[seen]).max()), max(lost, row.max() - row[token])
                ids.append(token)
            good = len(said) == PEER_STEPS and off <= bound and lost <= 2 * bound
            text = 'logits differ by %.1e, chosen tokens by %.1e' % (off, lost)
        passed += good
        print('%s %s: %s' % ('ok' if good else 'FAIL', name, text))
    print('%d passed, %d failed' % (passed, len(chosen) - passed))
    return 1 if passed != len(chosen) or not chosen else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('nnrt', nargs='?')
    parser.add_argument('--only', default='', metavar='TEXT')
    parser.add_argument('--peer', action='store_true')
    parser.add_argument('--modules', metavar='DIR')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.peer:
            return check_peer(folder, args.modules, args.only)
        runner = Runner(args.nnrt, folder)
        for case in cases():
            if args.only in case[0]:
                runner.case(*case)
        if args.only == '':
            runner.others()
    print('%d passed, %d failed' % (runner.passed, runner.failed))
    return 1 if runner.failed or not runner.passed else 0


if __name__ == '__main__':
    sys.exit(main())
