"""Language models with small vocabularies of their own, as GGUF and ONNX files, for the commands generate, tokenize and embed.

    bytes_keys(...), scores_keys(), words_keys()   keys of a tokenizer: BPE of bytes, SentencePiece, WordPiece
    tokenizer_json()                               the words of words_keys
    model(arch, keys)                              a random model (gguf_models.py) with this tokenizer
    chain(keys, follows)                           a model whose next token depends on the last one only: follows[id]
    encoder(table)                                 an ONNX encoder with all inputs of sentence-transformers
"""
import json
import os
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../formats'))
import gguf_models  # noqa: E402

CONTROL, USER, BYTE = 3, 4, 6
CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
WORDS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', '\u2581un', 'able', '\u2581the', '\u2581cat', 's', '\u2581sat', '\u2581.', '\u2581a',
         'ble', '\u2581caf', 'e']
MERGES = [('h', 'e'), ('l', 'l'), ('he', 'll'), ('hell', 'o'), ('\u0120', 'w'), ('o', 'r'), ('\u0120w', 'or')]


def spelled():
    """The characters that GPT-2 has for the bytes 0 to 255."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in kept]
    return [chr(b if b in kept else 256 + others.index(b)) for b in range(256)]


BYTES = spelled()
# Ids of bytes_keys: bytes, then the results of MERGES, then control tokens
IM_START, IM_END, TEXT_END = (256 + len(MERGES) + i for i in range(3))
COUNT = 256 + len(MERGES) + 3


def bytes_keys(template=CHATML, pre='qwen2', **changes):
    tokens = BYTES + [a + b for a, b in MERGES] + ['<|im_start|>', '<|im_end|>', '<|endoftext|>']
    keys = {'model': 'gpt2', 'pre': pre, 'tokens': tokens, 'token_type': np.array([1] * (COUNT - 3) + [CONTROL] * 3, 'i4'),
            'merges': ['%s %s' % pair for pair in MERGES], 'eos_token_id': TEXT_END, 'add_bos_token': False}
    keys = {'tokenizer.ggml.' + key: v for key, v in dict(keys, **changes).items() if v is not None}
    return dict(keys, **({'tokenizer.chat_template': template} if template else {}))


def scores_keys():
    """<unk> <s> </s>, 256 bytes, then pieces with their scores."""
    pieces = ['\u2581', 'a', 'b', 'c', 'ab', '\u2581ab', 'abc', '\u00e9', '\u2581\u00e9']
    tokens = ['<unk>', '<s>', '</s>'] + ['<0x%02X>' % i for i in range(256)] + pieces
    return {'tokenizer.ggml.model': 'llama', 'tokenizer.ggml.tokens': tokens,
            'tokenizer.ggml.scores': np.array([0.0] * 259 + [-float(i) for i in range(len(pieces))]),
            'tokenizer.ggml.token_type': np.array([2, 3, 3] + [BYTE] * 256 + [1] * len(pieces), 'i4')}


def words_keys():
    return {'tokenizer.ggml.model': 'bert', 'tokenizer.ggml.tokens': WORDS,
            'tokenizer.ggml.token_type': np.array([CONTROL] * 5 + [1] * (len(WORDS) - 5), 'i4'), 'tokenizer.ggml.unknown_token_id': 1,
            'tokenizer.ggml.cls_token_id': 2, 'tokenizer.ggml.seperator_token_id': 3}


def tokenizer_json():
    """WORDS as Hugging Face spells them."""
    vocabulary = {(word[1:] if word[0] == '\u2581' else word if word[0] == '[' else '##' + word): i for i, word in enumerate(WORDS)}
    special = [{'id': i, 'content': WORDS[i], 'special': True, 'normalized': False, 'single_word': False, 'lstrip': False, 'rstrip': False} for i in range(5)]
    return json.dumps({
        'added_tokens': special, 'normalizer': {'type': 'BertNormalizer', 'clean_text': True, 'handle_chinese_chars': True, 'strip_accents': None, 'lowercase': True},
        'pre_tokenizer': {'type': 'BertPreTokenizer'},
        'post_processor': {'type': 'TemplateProcessing', 'single': [{'SpecialToken': {'id': '[CLS]', 'type_id': 0}}, {'Sequence': {'id': 'A', 'type_id': 0}},
                                                                    {'SpecialToken': {'id': '[SEP]', 'type_id': 0}}], 'pair': [], 'special_tokens': {}},
        'model': {'type': 'WordPiece', 'unk_token': '[UNK]', 'continuing_subword_prefix': '##', 'max_input_chars_per_word': 100, 'vocab': vocabulary}}).encode()


def model(arch, keys, kind='F32', **changes):
    count = len(keys['tokenizer.ggml.tokens']) if keys else gguf_models.VOCABULARY
    made = gguf_models.make(arch, kind, bare=True, vocabulary=count, **changes)
    made.keys.update(keys)
    return made


def chain(keys, follows, **changes):
    """Embeddings are unit vectors, and the layer adds nothing: the logits are a column of the output matrix."""
    count = len(keys['tokenizer.ggml.tokens'])
    width = -(-count // 32) * 32
    made = model('llama', keys, width=width, layers=1, **changes)
    next_of = np.zeros((count, width), '<f4')
    for last, following in follows.items():
        next_of[following, last] = 1
    given = {'token_embd.weight': np.eye(count, width, dtype='<f4'), 'output.weight': next_of}
    for i, (name, shape, kind, raw) in enumerate(made.tensors):
        values = given.get(name)
        if name in ('blk.0.attn_output.weight', 'blk.0.ffn_down.weight'):
            values = np.zeros(shape, '<f4')
        if name == 'output_norm.weight':
            values = np.ones(shape, '<f4')
        if values is not None:
            made.tensors[i] = (name, shape, kind, values.tobytes())
    return made


def encoder(table, output='last_hidden_state'):
    """output: table[ids] + 10 * type, times the mask, of each token."""
    number, real = TensorProto.INT64, TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info(name, number, ['batch', 'tokens']) for name in ('input_ids', 'attention_mask', 'token_type_ids')]
    outputs = [helper.make_tensor_value_info(output, real, ['batch', 'tokens', table.shape[1]])]
    lists = {'table': table.astype(np.float32), 'ten': np.array(10, np.float32), 'last': np.array([2], np.int64)}
    rows = [('Gather', ['table', 'input_ids'], 'rows', {}), ('Cast', ['token_type_ids'], 'types', {'to': real}),
            ('Mul', ['types', 'ten'], 'tens', {}), ('Unsqueeze', ['tens', 'last'], 'added', {}), ('Add', ['rows', 'added'], 'sums', {}),
            ('Cast', ['attention_mask'], 'mask', {'to': real}), ('Unsqueeze', ['mask', 'last'], 'masks', {}), ('Mul', ['sums', 'masks'], output, {})]
    nodes = [helper.make_node(op, given, [result], **attributes) for op, given, result, attributes in rows]
    graph = helper.make_graph(nodes, 'encoder', inputs, outputs, [numpy_helper.from_array(v, k) for k, v in lists.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)]).SerializeToString()
