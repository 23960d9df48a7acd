#!/usr/bin/env python3
"""Random language models as folders in Hugging Face's layout (model.safetensors, config.json, 1_Pooling/config.json), of each
architecture and type of formats/nnrt_safetensors.h, compared with the definitions of gguf_numpy.py; damaged and unsupported ones.

    test_safetensors.py [--only TEXT] NNRT

Logits after each token of a prompt are within 2e-5 of the largest logit, embeddings within 1e-5. `nnrt generate` and `nnrt convert`
take the folder, too. The last line says "N passed, N failed"; the exit status is 1 when something failed or nothing passed.
"""
import argparse
import json
import os
import struct
import sys
import tempfile

import numpy as np

for place in ('../kit', '../tools'):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), place))
import commands  # noqa: E402
import gguf_models  # noqa: E402
import gguf_numpy  # noqa: E402
import text_models  # noqa: E402
from test_gguf import IDS, Runner  # noqa: E402

TYPES = {0: 'F32', 1: 'F16', 30: 'BF16'}
LLAMA = {'token_embd': 'model.embed_tokens', 'output_norm': 'model.norm', 'output': 'lm_head', 'attn_q': 'self_attn.q_proj',
         'attn_k': 'self_attn.k_proj', 'attn_v': 'self_attn.v_proj', 'attn_qkv': 'self_attn.qkv_proj', 'attn_output': 'self_attn.o_proj',
         'attn_q_norm': 'self_attn.q_norm', 'attn_k_norm': 'self_attn.k_norm', 'attn_norm': 'input_layernorm',
         'ffn_norm': 'post_attention_layernorm', 'ffn_gate': 'mlp.gate_proj', 'ffn_up': 'mlp.up_proj', 'ffn_down': 'mlp.down_proj'}
GEMMA2 = dict(LLAMA, ffn_norm='pre_feedforward_layernorm', post_attention_norm='post_attention_layernorm',
              post_ffw_norm='post_feedforward_layernorm')
BERT = {'token_embd': 'embeddings.word_embeddings', 'position_embd': 'embeddings.position_embeddings',
        'token_types': 'embeddings.token_type_embeddings', 'token_embd_norm': 'embeddings.LayerNorm', 'attn_q': 'attention.self.query',
        'attn_k': 'attention.self.key', 'attn_v': 'attention.self.value', 'attn_output': 'attention.output.dense',
        'attn_output_norm': 'attention.output.LayerNorm', 'ffn_up': 'intermediate.dense', 'ffn_down': 'output.dense',
        'layer_output_norm': 'output.LayerNorm'}
NAMES = {  # per architecture: prefix of a layer, names
    'llama': ('model.layers.', LLAMA), 'phi3': ('model.layers.', dict(LLAMA, ffn_up='mlp.gate_up_proj')), 'gemma2': ('model.layers.', GEMMA2),
    'gpt2': ('h.', {'token_embd': 'wte', 'position_embd': 'wpe', 'output_norm': 'ln_f', 'output': 'lm_head', 'attn_norm': 'ln_1',
                    'ffn_norm': 'ln_2', 'attn_qkv': 'attn.c_attn', 'attn_output': 'attn.c_proj', 'ffn_up': 'mlp.c_fc',
                    'ffn_down': 'mlp.c_proj'}),
    'bert': ('encoder.layer.', BERT),
    'nomic-bert': ('encoder.layers.', dict(BERT, token_embd_norm='emb_ln', attn_qkv='attn.Wqkv', attn_output='attn.out_proj',
                                           attn_output_norm='norm1', layer_output_norm='norm2', ffn_up='mlp.fc11', ffn_gate='mlp.fc12',
                                           ffn_down='mlp.fc2'))}
NAMES.update({'qwen2': NAMES['llama'], 'qwen3': NAMES['llama'], 'gemma': NAMES['llama'], 'gemma3': NAMES['gemma2']})
KINDS = {'gemma3': 'gemma3_text', 'nomic-bert': 'nomic_bert'}


def config_of(model):
    """config.json of a model."""
    s, own, arch = model.sizes, model.own, model.arch
    c = {'model_type': KINDS.get(arch, arch)}
    if arch in ('gpt2', 'nomic-bert'):
        c.update(n_layer=s['layers'], n_embd=s['width'], n_inner=s['inner'] if s['inner'] != 4 * s['width'] else None, n_head=s['heads'],
                 n_positions=s['places'], layer_norm_epsilon=1e-5, activation_function='gelu_new' if arch == 'gpt2' else 'swiglu')
        if arch == 'nomic-bert':
            c.update(rotary_emb_base=1000, rotary_emb_fraction=1.0, prenorm=False)
        return c
    c.update(num_hidden_layers=s['layers'], hidden_size=s['width'], intermediate_size=s['inner'], num_attention_heads=s['heads'],
             max_position_embeddings=s['places'], tie_word_embeddings=s['tied'])
    if arch == 'bert':
        c.update(layer_norm_eps=1e-5, hidden_act='gelu', is_decoder=False)
        return c
    c.update(num_key_value_heads=s['kv'], head_dim=s['size'], rms_norm_eps=1e-5, rope_theta=own['rope.freq_base'],
             hidden_act='gelu_pytorch_tanh' if arch.startswith('gemma') else 'silu')
    if 'attention.sliding_window' in own:
        c['sliding_window'] = own['attention.sliding_window']
    if arch == 'gemma2':
        c.update(attn_logit_softcapping=50.0, final_logit_softcapping=30.0, query_pre_attn_scalar=s['size'])
    if arch == 'gemma3':
        c.update(rope_local_base_freq=10000, layer_types=['full_attention' if i % 6 == 5 else 'sliding_attention' for i in range(s['layers'])])
    return c


def named(model, name):
    """The name of a tensor in a file of transformers."""
    prefix, names = NAMES[model.arch]
    words = name.split('.')
    if words[0] == 'blk':
        return '%s%s.%s.%s' % (prefix, words[1], names[words[2]], words[3])
    return names[words[0]] + '.' + words[1]


def tensors_of(model):
    """(name, type, shape, bytes); the values of the model become those that these bytes give."""
    for name, shape, kind, raw in model.tensors:
        if name.startswith('rope_'):
            continue
        dtype, values = TYPES[kind], model.values[name]
        if model.arch.startswith('gemma') and name.endswith('norm.weight'):
            stored = (values - 1).astype('<f4')
            model.values[name], raw = (stored + np.float32(1)).astype(np.float64), stored.tobytes()
        if model.arch == 'gpt2' and name.startswith('blk.') and len(shape) == 2:
            size = {'F32': 'f4', 'F16': 'u2', 'BF16': 'u2'}[dtype]
            raw, shape = np.frombuffer(raw, size).reshape(shape).T.tobytes(), shape[::-1]
        yield named(model, name), dtype, shape, raw


def safetensors(tensors, lead=''):
    """The bytes of a file; lead: spaces that make the data begin at another place."""
    head, data = {'__metadata__': {'format': 'pt'}}, b''
    for name, dtype, shape, raw in tensors:
        head[name] = {'dtype': dtype, 'shape': list(shape), 'data_offsets': [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode() + lead.encode()
    return struct.pack('<Q', len(text)) + text + data


def llama3(n, base, rope):
    """1 / the change of the frequencies of n / 2 pairs, after the text in "The Llama 3 Herd of Models" and transformers."""
    out = []
    for k in range(n // 2):
        wave = 2 * np.pi * base ** (2.0 * k / n)
        context = rope['original_max_position_embeddings']
        if wave < context / rope['high_freq_factor']:
            out.append(1.0)
        elif wave > context / rope['low_freq_factor']:
            out.append(rope['factor'])
        else:
            smooth = (context / wave - rope['low_freq_factor']) / (rope['high_freq_factor'] - rope['low_freq_factor'])
            out.append(1 / ((1 - smooth) / rope['factor'] + smooth))
    return np.array(out)


LLAMA3 = {'rope_type': 'llama3', 'factor': 8.0, 'low_freq_factor': 1.0, 'high_freq_factor': 4.0, 'original_max_position_embeddings': 64}
LONG = {'long_factor': [1, 1.1, 2, 3, 4, 6, 8, 8], 'short_factor': [1, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]}


def cases():
    """(name, architecture, type, changes of the model, changes of config.json, values of the definition)"""
    for arch in gguf_models.ARCHITECTURES:
        for kind in ('F32', 'F16', 'BF16'):
            yield '%s %s' % (arch, kind), arch, kind, {}, {}, {}
    yield 'mistral', 'llama', 'F32', {'keys': {'attention.sliding_window': 4}}, {'model_type': 'mistral', 'sliding_window': 4}, {}
    yield 'tied', 'qwen2', 'BF16', {'tied': True}, {}, {}
    yield 'a window that is not used', 'qwen2', 'F32', {}, {'sliding_window': 3, 'use_sliding_window': False}, {}
    yield 'no head_dim', 'llama', 'F32', {}, {'head_dim': None}, {}
    yield 'part of a head is rotated', 'phi3', 'F32', {'keys': {'rope.dimension_count': 8}}, {'partial_rotary_factor': 0.5}, {}
    yield 'llama3', 'llama', 'F32', {'keys': {'rope.freq_base': 500.0}}, {'rope_scaling': LLAMA3}, {'rope_freqs.weight': llama3(16, 500.0, LLAMA3)}
    yield 'rope_parameters', 'llama', 'F32', {'keys': {'rope.freq_base': 700.0}}, {'rope_theta': None, 'rope_parameters': {
        'rope_type': 'default', 'rope_theta': 700.0}}, {}
    yield 'parameters of each kind of layers', 'gemma3', 'F32', {'keys': {'rope.freq_base': 700.0, 'rope.freq_base_swa': 90.0}}, {
        'rope_theta': None, 'rope_local_base_freq': None, 'rope_parameters': {
            'full_attention': {'rope_type': 'default', 'rope_theta': 700.0}, 'sliding_attention': {'rope_type': 'default', 'rope_theta': 90}}}, {}
    yield 'linear', 'llama', 'F32', {'keys': {'rope.scaling.type': 'linear', 'rope.scaling.factor': 4.0}}, {
        'rope_scaling': {'type': 'linear', 'factor': 4.0}}, {}
    yield 'yarn', 'qwen2', 'F32', {'keys': {'rope.scaling.type': 'yarn', 'rope.scaling.factor': 4.0, 'rope.scaling.original_context_length': 32}}, {
        'rope_scaling': {'rope_type': 'yarn', 'factor': 4.0, 'original_max_position_embeddings': 32}}, {}
    for context in (32, 128):
        by = np.sqrt(1 + np.log(128 / context) / np.log(context))
        yield 'longrope %d' % context, 'phi3', 'F32', {
            'keys': {'rope.scaling.type': 'longrope', 'rope.scaling.original_context_length': context, 'rope.scaling.attn_factor': by},
            'factors': {'rope_factors_long': LONG['long_factor'], 'rope_factors_short': LONG['short_factor']}}, {
                'original_max_position_embeddings': context, 'rope_scaling': dict(LONG, type='longrope')}, {}
    for pooling in (0, 2, 3):
        yield 'pooling %d' % pooling, 'bert', 'F32', {'pooling': pooling}, {}, {}


POOLING = {1: 'pooling_mode_mean_tokens', 2: 'pooling_mode_cls_token', 3: 'pooling_mode_lasttoken'}


class Safe(Runner):
    def write(self, model, changes, tensors=None, name='model', lead=''):
        """A folder with the model."""
        folder = self.path(name)
        os.makedirs(os.path.join(folder, '1_Pooling'), exist_ok=True)
        with open(os.path.join(folder, 'model.safetensors'), 'wb') as f:
            f.write(safetensors(list(tensors_of(model)) if tensors is None else tensors, lead))
        config = {key: v for key, v in dict(config_of(model), **changes).items() if v is not None}
        with open(os.path.join(folder, 'config.json'), 'w', encoding='ascii') as f:
            json.dump(config, f)
        pooled = os.path.join(folder, '1_Pooling', 'config.json')
        if model.sizes['pooling'] != 0:
            with open(pooled, 'w', encoding='ascii') as f:
                json.dump({mode: pooling == model.sizes['pooling'] for pooling, mode in POOLING.items()}, f)
        elif os.path.exists(pooled):
            os.remove(pooled)
        return folder

    def safe_case(self, name, arch, kind, changes, config, values):
        model = gguf_models.make(arch, kind, **changes)
        model.halves, model.exact = True, arch == 'bert'
        folder = self.write(model, config)
        model.values.update(values)
        try:
            if arch in gguf_models.ENCODERS:
                self.encoder(name, model, folder)
                return
            want = gguf_numpy.logits(model, IDS)
            self.all_logits(name, model, folder, want)
            self.tokens(name, model, self.generate(name, folder, 12))
        except (RuntimeError, KeyError) as fault:
            self.verdict(False, name, fault)

    def all_logits(self, name, model, file, want):
        np.save(self.path('ids.npy'), np.array([IDS], np.int64))
        words = ['run', file, '--all-logits', '--input', 'input_ids=' + self.path('ids.npy'), '--output-dir', self.path('out')]
        for i in range(model.sizes['layers']):
            for part in ('key', 'value'):
                np.save(self.path('empty.npy'), np.zeros((1, model.sizes['kv'], 0, model.sizes['size']), np.float32))
                words += ['--input', 'past_key_values.%d.%s=%s' % (i, part, self.path('empty.npy'))]
        done = commands.run(self.nnrt, *words, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        self.compare(name, np.load(os.path.join(self.path('out'), 'logits.npy'))[0], want)

    def refused(self, name, folder, message):
        done = commands.run(self.nnrt, 'info', folder, text=True)
        self.verdict(done.returncode not in (0, -6, -11) and message in done.stderr, name, '%d %s' % (done.returncode, done.stderr))

    def files(self):
        """The file itself, unaligned data, convert, tensors that are left out."""
        model = gguf_models.make('llama', 'F32')
        model.halves = True
        tensors = list(tensors_of(model)) + [('model.layers.0.self_attn.rotary_emb.inv_freq', 'F32', (8,), b'\0' * 32)]
        want = gguf_numpy.logits(model, IDS)
        for lead in ('', ' ', '  ', '   '):
            folder = self.write(model, {}, tensors, lead=lead)
            self.all_logits('data moved by %d bytes' % len(lead), model, os.path.join(folder, 'model.safetensors'), want)
        other = os.path.join(folder, 'weights.bin')
        os.link(os.path.join(folder, 'model.safetensors'), other)
        self.all_logits('a file of another name', model, other, want)
        parts = self.write(model, {}, name='parts')
        os.remove(os.path.join(parts, 'model.safetensors'))
        index = {}
        for i in range(3):
            with open(os.path.join(parts, 'model-0000%d-of-00003.safetensors' % (i + 1)), 'wb') as f:
                f.write(safetensors(tensors[i::3]))
            index.update({t[0]: os.path.basename(f.name) for t in tensors[i::3]})
        for name, files, message in (('three files', index, None), ('a missing file', dict(index, x='no.safetensors'), "parts/no.safetensors'"),
                                     ('a file elsewhere', dict(index, x='../model/model.safetensors'), 'none of the folder'),
                                     ('a missing part', {key: v for key, v in index.items() if '-00002-' not in v}, 'is missing'),
                                     ('many files', {str(i): 'model-00001-of-00003.safetensors' + '0' * i for i in range(3)}, '00001-of-00003.safetensors0'),
                                     ('no files', {}, 'no weight_map')):
            with open(os.path.join(parts, 'model.safetensors.index.json'), 'w', encoding='ascii') as f:
                json.dump({'metadata': {}, 'weight_map': files}, f)
            if message is None:
                self.all_logits(name, model, parts, want)
            else:
                self.refused(name, parts, message)
        stored = self.path('stored.nnrt')
        done = commands.run(self.nnrt, 'convert', folder, stored, text=True)
        self.verdict(done.returncode == 0, 'convert', done.stderr)
        before, after = self.generate('folder', folder, 12), self.generate('converted', stored, 12)
        self.verdict(len(before) == 12 and before == after, 'tokens after convert', '%s, before %s' % (after, before))

    def text(self):
        """tokenizer.json beside the weights: tokenize, and generate with text as with the tokens of that text."""
        model = gguf_models.make('llama', 'F32', vocabulary=text_models.COUNT, bare=True)
        folder = self.write(model, {}, name='text')
        self.refused_text('no tokenizer', 'generate', folder, '--prompt', 'hello', message='has no tokenizer')
        tokens = text_models.BYTES + [a + b for a, b in text_models.MERGES]
        numerals = [{'type': 'Digits', 'individual_digits': True}, {'type': 'ByteLevel', 'add_prefix_space': False, 'use_regex': True}]
        with open(os.path.join(folder, 'tokenizer.json'), 'w', encoding='ascii') as f:
            json.dump({'added_tokens': [{'id': len(tokens), 'content': '<|endoftext|>', 'special': True}],
                       'pre_tokenizer': {'type': 'Sequence', 'pretokenizers': numerals},
                       'model': {'type': 'BPE', 'vocab': {t: i for i, t in enumerate(tokens)}, 'merges': [list(p) for p in text_models.MERGES]}}, f)
        ids = [tokens.index(t) for t in ('hello', '\u0120wor', 'l', 'd', '\u0120', '1', '2')]
        for path in (folder, os.path.join(folder, 'model.safetensors')):
            done = commands.run(self.nnrt, 'tokenize', path, '--text', 'hello world 12', text=True)
            self.verdict(done.stdout.strip() == ','.join(map(str, ids)), 'tokenize', done.stdout + done.stderr)
            said = [json.loads(commands.run(self.nnrt, 'generate', path, *words, '--tokens', '6', '--json', text=True).stdout)['tokens']
                    for words in (('--prompt', 'hello world 12'), ('--ids', ','.join(map(str, ids))))]
            self.verdict(len(said[0]) > 0 and said[0] == said[1], 'a prompt as text and as tokens', said)

    def refused_text(self, name, *words, message):
        done = commands.run(self.nnrt, *words, text=True)
        self.verdict(done.returncode not in (0, -6, -11) and message in done.stderr, name, done.stderr)

    def faults(self):
        """Messages for what is missing, different or not supported."""
        model = gguf_models.make('llama', 'F32')
        tensors = list(tensors_of(model))
        rows = [('model type', {'model_type': 'mamba'}, "model_type 'mamba'"), ('no model type', {'model_type': None}, "model_type ''"),
                ('activation', {'hidden_act': 'relu'}, "activation 'relu'"), ('no epsilon', {'rms_norm_eps': None}, 'no rms_norm_eps'),
                ('experts', {'num_local_experts': 8}, 'mixture of experts'), ('scaling', {'rope_scaling': {'type': 'dynamic'}}, "'dynamic'"),
                ('quantization', {'quantization_config': {'bits': 4}}, 'quantization_config'),
                ('layers', {'layer_types': ['sliding_attention'] * 2}, 'layer_types: 2 layers'),
                ('heads', {'num_attention_heads': 3}, 'is [64,64], expected'), ('a text', {'hidden_size': '64'}, 'hidden_size of config.json'),
                ('base', {'rope_theta': 0}, 'base 0'), ('many layers', {'num_hidden_layers': 90000}, 'block_count is 90000')]
        for name, config, message in rows:
            self.refused('refused: ' + name, self.write(model, config), message)
        plain = {t[0]: t for t in tensors}
        key = 'model.layers.1.self_attn.k_proj.weight'
        without = [t for t in tensors if t[0] != key]
        self.refused('a tensor is missing', self.write(model, {}, without), "'layers.1.self_attn.k_proj.weight' is missing")
        self.refused('no lm_head', self.write(model, {}, [t for t in tensors if t[0] != 'lm_head.weight']), "'lm_head.weight' is missing")
        self.refused('an unknown tensor', self.write(model, {}, tensors + [('model.extra.weight', 'F32', (1,), b'\0' * 4)]), "'model.extra.weight'")
        for dtype, raw in (('I32', plain[key][3]), ('F8_E4M3', b'\0' * (len(plain[key][3]) // 4))):
            self.refused('type ' + dtype, self.write(model, {}, without + [(key, dtype, plain[key][2], raw)]), key)
        self.refused('an unknown type', self.write(model, {}, without + [(key, 'Q9', plain[key][2], plain[key][3])]), "unknown type 'Q9'")
        self.refused('a shape', self.write(model, {}, without + [(key, 'F32', plain[key][2][::-1], plain[key][3])]), key)
        self.refused('a size', self.write(model, {}, without + [(key, 'F32', (3, 3), plain[key][3])]), 'do not fit its type and shape')
        self.refused('two of a name', self.write(model, {}, tensors + [('layers.1.self_attn.k_proj.weight', *plain[key][1:])]), 'two tensors')
        folder = self.write(model, {})
        file = os.path.join(folder, 'model.safetensors')
        with open(file, 'rb') as f:
            whole = f.read()
        head = struct.unpack('<Q', whole[:8])[0]
        step = max(1, head // 60)
        for cut in list(range(9, head + 8, step)) + [head + 8, len(whole) - 1]:
            with open(file, 'wb') as f:
                f.write(whole[:cut])
            self.refused('cut to %d bytes' % cut, folder, 'safetensors')
        os.remove(os.path.join(folder, 'config.json'))
        with open(file, 'wb') as f:
            f.write(whole)
        self.refused('no config.json', folder, 'config.json')
        with open(os.path.join(folder, 'config.json'), 'w', encoding='ascii') as f:
            f.write('{"model_type": ')
        self.refused('config.json is cut', folder, 'config.json is no JSON object')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('nnrt')
    parser.add_argument('--only', default='', metavar='TEXT')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runner = Safe(args.nnrt, folder)
        for case in cases():
            if args.only in case[0]:
                runner.safe_case(*case)
        if args.only == '':
            runner.files()
            runner.text()
            runner.faults()
    print('%d passed, %d failed' % (runner.passed, runner.failed))
    return 1 if runner.failed or not runner.passed else 0


if __name__ == '__main__':
    sys.exit(main())
