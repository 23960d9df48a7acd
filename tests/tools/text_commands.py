#!/usr/bin/env python3
"""The commands tokenize, generate and embed on models with small vocabularies (text_models.py).

    text_commands.py NNRT [PROGRAM]     NNRT: build/test/commands or a program; PROGRAM: a program, for commands with standard input

Tokens follow from the vocabularies by hand. Texts are those of chains, models whose next token is known; random models generate from
--prompt as from --ids. Embeddings are those of definitions in numpy (gguf_numpy.py). The last line says "N passed, N failed".
"""
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../kit'))
import commands  # noqa: E402
import text_models  # noqa: E402
from text_models import IM_END, IM_START, TEXT_END, WORDS  # noqa: E402

import gguf_numpy  # noqa: E402  text_models.py has added its folder

HELLO, WOR = 256 + 3, 256 + 6  # results of MERGES
REPLACED = '\ufffd'.encode()


class Runner:
    def __init__(self, nnrt, program, folder):
        self.nnrt, self.program, self.folder, self.passed, self.failed = nnrt, program, folder, 0, 0

    def verdict(self, good, name, detail=''):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print('FAIL %s: %s' % (name, detail))

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, data):
        with open(self.path(name), 'wb') as f:
            f.write(data if isinstance(data, bytes) else data.bytes())
        return self.path(name)

    def expect(self, name, want, *words, error=b''):
        """Standard output, exactly, and a part of standard error."""
        done = commands.run(self.nnrt, *words)
        self.verdict(done.returncode == 0 and done.stdout == want and error in done.stderr, name, '%s, expected %s' % (done, want))

    def fed(self, name, given, want, *words, error=b''):
        done = subprocess.run([self.program, *words], input=given, capture_output=True)
        self.verdict(done.returncode == 0 and done.stdout == want and error in done.stderr, name, '%s, expected %s' % (done, want))

    def refused(self, name, status, message, *words, given=None):
        if given is None:
            done = commands.run(self.nnrt, *words)
        else:
            done = subprocess.run([self.program, *words], input=given, capture_output=True)
        lines = done.stderr.decode().splitlines()
        self.verdict(done.returncode == status and len(lines) == 1 and message in lines[0] and lines[0].startswith('nnrt: '), name, done)

    def tokens(self, model, text, *words):
        done = commands.run(self.nnrt, 'tokenize', model, '--text', text, '--json', *words, text=True)
        return json.loads(done.stdout)['tokens'][0]

    def said(self, *words):
        done = commands.run(self.nnrt, 'generate', *words, '--json', text=True)
        self.verdict(done.returncode == 0, 'generate %s' % (words,), done.stderr)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    # ---- tokenize ----

    def bytes_of(self):
        """BPE of bytes, by hand: words of the pre-tokenizer, merges in their order."""
        model = self.file('bytes.gguf', text_models.model('qwen2', text_models.bytes_keys(), 'Q8_0'))
        self.expect('a word', b'%d\n' % HELLO, 'tokenize', model, '--text', 'hello')
        self.expect('a word behind a space', b'%d,%d,%d,%d\n' % (HELLO, WOR, ord('l'), ord('d')), 'tokenize', model, '--text', 'hello world')
        self.expect('merges in their order', b'256,256\n', 'tokenize', model, '--text', 'hehe')
        self.expect('bytes of a character', b'%d,%d\n' % (0xC3, 0xA9), 'tokenize', model, '--text', 'é')
        self.expect('a control token', b'%d,%d\n' % (ord('a'), IM_END), 'tokenize', model, '--text', 'a<|im_end|>')
        plain = ','.join(str(b) for b in b'<|im_end|>').encode() + b'\n'
        self.expect('--plain', plain, 'tokenize', model, '--text', '<|im_end|>', '--plain')
        self.expect('two texts', b'%d\n\n97\n' % HELLO, 'tokenize', model, '--text', 'hello', '--text', '', '--text', 'a')
        self.verdict(self.tokens(model, 'hé') == [ord('h'), 0xC3, 0xA9], '--json')
        self.expect('--pieces', b'     97  "a"\n     10  "\\x0A"\n    195  "\\xC3"\n    169  "\\xA9"\n     34  "\\""\n    264  "<|im_end|>"  control\n',
                    'tokenize', model, '--text', 'a\né"<|im_end|>', '--pieces')
        self.expect('--decode --pieces', b'    259  "hello"\n', 'tokenize', model, '--decode', '259', '--pieces')
        self.expect('--decode', 'helloé\n'.encode(), 'tokenize', model, '--decode', '%d,%d,195,169' % (HELLO, IM_END))
        self.expect('half a character', b'a' + REPLACED + b'\n', 'tokenize', model, '--decode', '97,195')
        self.expect('half a character and another', REPLACED + b'a\n', 'tokenize', model, '--decode', '195,97')
        done = commands.run(self.nnrt, 'tokenize', model, '--decode', '97,0,10', '--json', text=True)
        self.verdict(json.loads(done.stdout)['text'] == 'a\0\n', '--decode --json', done)
        text = self.file('broken.txt', b'a\xff\xc3(\xe2\x82')
        done = commands.run(self.nnrt, 'tokenize', model, text, text=True)
        self.expect('bytes that are no UTF-8', b'a' + REPLACED * 2 + b'(' + REPLACED + b'\n', 'tokenize', model, '--decode', done.stdout.strip())
        self.fed('standard input', b'hello\n', b'%d,10\n' % HELLO, 'tokenize', model)
        self.fed('standard input as -', b'hello', b'%d\n' % HELLO, 'tokenize', model, '-')
        json_file = self.file('tokenizer.json', text_models.tokenizer_json())
        self.expect('tokenizer.json', b'2,8,9,3\n', 'tokenize', json_file, '--text', 'cats')
        self.expect('--no-affixes', b'8,9\n', 'tokenize', json_file, '--text', 'Cats', '--no-affixes')

    def round_trips(self):
        """Decoding restores a text."""
        draw = random.Random(1)
        letters = 'ab c\u00e9\u4e2d\U0001f600\n\t<|>e'
        texts = [''.join(draw.choice(letters) for _ in range(draw.randrange(1, 40))) for _ in range(30)]
        for name, keys in (('bytes', text_models.bytes_keys()), ('scores', text_models.scores_keys())):
            model = self.file('trip.gguf', text_models.model('llama', keys, 'Q8_0'))
            for text in texts:
                ids = self.tokens(model, text)
                self.expect('round trip of %s, %r' % (name, text), text.encode() + b'\n', 'tokenize', model, '--decode', ','.join(map(str, ids)))
        model = self.file('scores.gguf', text_models.model('llama', text_models.scores_keys(), 'Q8_0'))
        self.verdict(self.tokens(model, 'ab') == [1, 264], 'scores: a word', self.tokens(model, 'ab'))
        self.verdict(self.tokens(model, 'aabc', '--no-affixes') == [259, 260, 265], 'scores: the highest score first')
        self.verdict(self.tokens(model, '</s>') == [1, 2], 'scores: a control token', self.tokens(model, '</s>'))
        self.verdict(self.tokens(model, 'z') == [1, 259, 3 + ord('z')], 'scores: a byte')
        model = self.file('words.gguf', text_models.model('bert', text_models.words_keys()))
        self.verdict(self.tokens(model, 'Unable the CATS.') == [2, 5, 6, 7, 8, 9, 11, 3], 'WordPiece', self.tokens(model, 'Unable the CATS.'))
        self.verdict(self.tokens(model, 'dog') == [2, 1, 3], 'WordPiece: unknown')
        self.expect('WordPiece: decoding', b'unable the cats .\n', 'tokenize', model, '--decode', '2,5,6,7,8,9,11,3')

    def vocabularies(self):
        """Keys that are missing or wrong; files that are cut off."""
        def made(**changes):
            return self.file('keys.gguf', text_models.model('qwen2', text_models.bytes_keys(**changes), 'Q8_0'))

        self.refused('no tokenizer', 1, 'the GGUF file has no tokenizer', 'tokenize', self.file('bare.gguf', text_models.model('qwen2', {}, 'Q8_0')), '--text', 'a')
        self.refused('a pre-tokenizer', 1, "pre-tokenizer 'tekken' is not supported", 'tokenize', made(pre='tekken'), '--text', 'a')
        self.refused('a tokenizer', 1, "tokenizer 'rwkv' is not supported", 'tokenize', made(model='rwkv'), '--text', 'a')
        self.refused('types of another number', 1, 'tokenizer.ggml.tokens', 'tokenize', made(token_type=np.array([1, 1], 'i4')), '--text', 'a')
        self.refused('no merges', 1, 'tokenizer.ggml.merges', 'tokenize', made(merges=None), '--text', 'a')
        self.refused('a merge of one part', 1, 'tokenizer.ggml.merges', 'tokenize', made(merges=['abc']), '--text', 'a')
        self.refused('a file of no kind', 1, 'no JSON object', 'tokenize', self.file('no.txt', b'abc'), '--text', 'a')
        self.refused('no file', 1, 'cannot be opened', 'tokenize', self.path('absent'), '--text', 'a')
        self.verdict(self.tokens(made(add_bos_token=True, bos_token_id=TEXT_END, add_eos_token=True), 'a') == [TEXT_END, 97, TEXT_END], 'affixes')
        self.verdict(self.tokens(made(pre='llama-bpe', bos_token_id=IM_START, add_bos_token=None), 'a') == [IM_START, 97], 'Llama 3 has a first token')
        self.verdict(self.tokens(made(bos_token_id=9999, add_bos_token=True), 'a') == [97], 'a first token that is none')
        whole = text_models.model('qwen2', text_models.bytes_keys(), 'Q8_0').bytes()
        end = whole.index(b'token_embd')
        for bytes_ in [*range(0, 40, 3), *range(50, end - 8, 997)]:
            self.refused('a file of %d bytes' % bytes_, 1, 'cut short' if bytes_ >= 4 else 'no JSON object', 'tokenize',
                         self.file('cut.gguf', whole[:bytes_]), '--text', 'a')
        self.verdict(self.tokens(self.file('cut.gguf', whole[:end - 8]), 'a') == [97], 'keys without tensors')
        many = whole[:16] + struct.pack('<Q', 1 << 60) + whole[24:]
        self.refused('2^60 keys', 1, 'GGUF file', 'tokenize', self.file('cut.gguf', many), '--text', 'a')
        for words, message in ((['--decode', '1,,2'], "'' is no token"), (['--decode', '1,x'], "'x' is no token"),
                               (['--decode', '1', '--text', 'a'], 'exclude each other'), (['absent', '--text', 'a'], 'exclude each other')):
            self.refused('tokenize %s' % words, 2, message, 'tokenize', self.path('bytes.gguf'), *words)
        done = commands.run(self.nnrt, 'tokenize', self.path('bytes.gguf'), '--decode', '97,266', text=True)
        self.verdict(done.returncode == 1 and 'token 266 is not in the vocabulary, which has 266' in done.stderr, 'a token out of range', done)

    # ---- generate ----

    def texts(self):
        """Chains: the text is known."""
        word, char = [ord(c) for c in 'ok'], list('é中'.encode())
        keys = text_models.bytes_keys()
        links = {ord('a'): HELLO, HELLO: word[0], word[0]: word[1], word[1]: char[0], IM_START: IM_START}
        links.update(dict(zip(char, char[1:] + [IM_END])))
        model = self.file('chain.gguf', text_models.chain(keys, links))
        self.expect('a text', 'hellooké中\n'.encode(), 'generate', model, '--prompt', 'a', error=b'nnrt: 1 tokens of the prompt in ')
        self.expect('--quiet', 'hellooké中\n'.encode(), 'generate', model, '--prompt', 'a', '--quiet')
        said = self.said(model, '--prompt', 'a')
        self.verdict(said.get('text') == 'hellooké中' and said.get('end') == 'token' and said.get('prompt_tokens') == 1 and
                     said.get('tokens') == [HELLO, *word, *char, IM_END] and said['first_ms'] > 0 and said['step_ms'] > 0, 'a text as JSON', said)
        said = self.said(model, '--prompt', 'a', '--tokens', '4')
        self.verdict(said.get('text') == 'hellook\ufffd' and said.get('end') == 'length', 'a text cut within a character', said)
        self.expect('a character behind the prompt', '中\n'.encode(), 'generate', model, '--prompt', 'é')
        self.expect('--prompt-file', 'hellooké中\n'.encode(), 'generate', model, '--prompt-file', self.file('prompt.txt', b'xa'))
        self.fed('--prompt-file -', b'xa', 'hellooké中\n'.encode(), 'generate', model, '--prompt-file', '-')
        done = commands.run(self.nnrt, 'generate', model, '--prompt', 'a', '--quiet', text=True)
        self.verdict(done.stderr == '', '--quiet: standard error', done)
        ids = self.said(model, '--ids', '97', '--tokens', '12')
        self.verdict(ids.get('tokens', [])[:9] == [HELLO, *word, *char, IM_END] and len(ids['tokens']) == 12 and 'text' not in ids, '--ids goes on', ids)
        stored = self.path('chain.nnrt')
        commands.run(self.nnrt, 'convert', model, stored, check=True)
        self.refused('.nnrt without a tokenizer', 1, '--tokenizer FILE', 'generate', stored, '--prompt', 'a')
        self.expect('.nnrt with --tokenizer', 'hellooké中\n'.encode(), 'generate', stored, '--prompt', 'a', '--tokenizer', model)
        self.refused('an empty prompt', 1, 'the prompt has no tokens', 'generate', model, '--prompt', '')
        first = self.file('first.gguf', text_models.chain(text_models.bytes_keys(add_bos_token=True, bos_token_id=IM_START), {IM_START: ord('k'), ord('k'): IM_END}))
        self.expect('an empty prompt with a first token', b'k\n', 'generate', first, '--prompt', '')
        self.expect('a prompt that is no UTF-8', b'\n', 'generate', model, '--prompt-file', self.file('prompt.txt', b'\xff\xc3\xa9\xe4\xb8\xad'))
        self.streams(self.file('endless.gguf', text_models.chain(keys, {ord('a'): ord('b'), ord('b'): ord('b')}, places=200000)))

    def streams(self, model):
        """Text comes while the program runs; Ctrl-C keeps it, and a program that waits for a message ends."""
        words = ['generate', model, '--prompt', 'a', '--tokens', '100000']
        process = subprocess.Popen([self.program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        begin = process.stdout.read(3)
        process.send_signal(signal.SIGINT)
        rest, error = process.communicate(timeout=120)
        self.verdict(begin == b'bbb' and set(rest[:-1]) <= {ord('b')} and rest.endswith(b'\n') and process.returncode == 0 and len(rest) < 100000 and
                     b'tokens/s' in error, 'Ctrl-C', '%s %s %s' % (begin, process.returncode, error))
        process = subprocess.Popen([self.program, *words[:2], '--chat', '--raw', '--tokens', '2'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(b'a\n')
        process.stdin.flush()
        begin = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, error = process.communicate(timeout=120)
        self.verdict(begin == b'bb\n' and rest == b'' and process.returncode == 0, 'Ctrl-C while a chat waits', '%s %s' % (process.returncode, error))

    def choices(self):
        """Random models: a prompt is its tokens; seeds, threads, penalties."""
        model = self.path('bytes.gguf')
        for text in ('hello world', 'a', 'é', '<|im_start|>user\nhi'):
            ids = ','.join(map(str, self.tokens(model, text)))
            one, other = self.said(model, '--prompt', text, '--tokens', '20'), self.said(model, '--ids', ids, '--tokens', '20')
            n = len(one.get('tokens', []))
            self.verdict(n > 0 and one['tokens'] == other['tokens'][:n], 'a prompt as its tokens, %r' % text, '%s %s' % (one, other))
            chance = ['--tokens', '20', '--temperature', '1.5', '--top-k', '50', '--top-p', '0.9', '--min-p', '0.01', '--seed', '7']
            again = [self.said(model, '--ids', ids, *chance, *more)['tokens'] for more in ([], [], ['--threads', '2'], ['--seed', '8'])]
            self.verdict(again[0] == again[1] == again[2] and again[0] != again[3] and again[0] != other['tokens'], 'seeds, %r' % text, again)
            texted = self.said(model, '--prompt', text, *chance)['tokens']
            self.verdict(texted == again[0][:len(texted)], 'seeds of a text, %r' % text, '%s %s' % (texted, again[0]))
        same = self.said(model, '--ids', '97', '--tokens', '20', '--temperature', '1', '--top-k', '1')['tokens']
        self.verdict(same == self.said(model, '--ids', '97', '--tokens', '20')['tokens'], '--top-k 1', same)
        loop = self.file('loop.gguf', text_models.chain(text_models.bytes_keys(), {97: 98, 98: 98}))
        tokens = self.said(loop, '--ids', '97', '--tokens', '10', '--presence-penalty', '100')['tokens']
        self.verdict(tokens[0] == 98 and len(set(tokens)) == 10, '--presence-penalty: no token twice', tokens)
        tokens = self.said(loop, '--ids', '97', '--tokens', '10', '--repeat-penalty', '2')['tokens']
        self.verdict(tokens == [98] * 10, '--repeat-penalty: half of a logit is still the largest', tokens)

    def chats(self):
        """The reply to a message is that to the whole conversation as a prompt."""
        ok = {ord('\n'): ord('o'), ord('o'): ord('k'), ord('k'): IM_END}
        model = self.file('chat.gguf', text_models.chain(text_models.bytes_keys(), ok))
        self.fed('a chat', b'hi\n\nyou\r\nlast', b'ok\nok\nok\n', 'generate', model, '--chat', error=b'generated')
        self.fed('a chat with a system', b'hi\n', b'ok\n', 'generate', model, '--chat', '--system', 'be brief')
        self.fed('a first message', b'you\n', b'ok\nok\n', 'generate', model, '--chat', '--prompt', 'hi')
        self.fed('no message', b'', b'', 'generate', model, '--chat')
        self.fed('a reply that is cut off', b'hi\nyou\n', b'o\no\n', 'generate', model, '--chat', '--tokens', '1')
        self.fed('--raw', b'o\nxo\n', b'k\nk\n', 'generate', model, '--chat', '--raw', '--tokens', '2')
        self.whole('chatml', '<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n%s', '<|im_end|>\n<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n')
        self.whole('gemma', '<start_of_turn>user\n%s<end_of_turn>\n<start_of_turn>model\n%s', '<end_of_turn>\n<start_of_turn>user\n%s<end_of_turn>\n<start_of_turn>model\n')
        self.whole('llama2', '[INST] %s [/INST] %s', ' </s><s>[INST] %s [/INST]')
        self.whole('mistral', '[INST] %s [/INST]%s', '</s> [INST] %s [/INST]')
        other = self.file('other.gguf', text_models.chain(text_models.bytes_keys(template="{{ bos }}{% for m in messages %}..."), ok))
        self.refused('an unknown template', 1, "the chat template '{{ bos }}{% for m in messages %}...' is none of llama2, ", 'generate', other, '--chat', given=b'hi\n')
        self.fed('an unknown template, --template', b'hi\n', b'ok\n', 'generate', other, '--chat', '--template', 'chatml')
        self.fed('an unknown template, --raw', b'o\n', b'k\n', 'generate', other, '--chat', '--raw')
        bare = self.file('other.gguf', text_models.chain(text_models.bytes_keys(template=None), ok))
        self.refused('no template', 1, 'no chat template: --template NAME', 'generate', bare, '--chat', given=b'hi\n')
        json_file = self.file('tokenizer.json', text_models.tokenizer_json())
        self.refused('no template beside tokenizer.json', 1, 'no chat template: --template NAME', 'generate', bare, '--tokenizer', json_file, '--chat', given=b'hi\n')
        self.file('tokenizer_config.json', b'{"chat_template": "{{ bos }}..."}')
        self.refused('the template of tokenizer_config.json', 1, "the chat template '{{ bos }}...' is none of llama2, ", 'generate', bare, '--tokenizer', json_file,
                     '--chat', given=b'hi\n')
        os.remove(self.path('tokenizer_config.json'))
        small = ['generate', model, '--chat', '--context', '60']
        done = subprocess.run([self.program, *small], input=b'hi\n' * 9, capture_output=True)
        self.verdict(done.returncode == 1 and b'ok\n' in done.stdout and b'and the context 60; --context N' in done.stderr, 'a long chat', done)

    def kept(self):
        """--save-cache and --load-cache with text: a chat goes on as if it had not ended, and a text as its whole prompt."""
        saved = self.path('talk.cache')
        for more in ([], ['--cache-type', 'f16'], ['--cache-type', 'q8_0']):
            model = self.file('random.gguf', text_models.model('qwen2', text_models.bytes_keys(), 'Q8_0', seed=3))
            words = [self.program, 'generate', model, '--chat', '--quiet', '--tokens', '5', *more]
            whole = subprocess.run(words, input=b'hi\nyou\nand me', capture_output=True).stdout
            parts = b''
            for i, line in enumerate((b'hi', b'you', b'and me')):
                done = subprocess.run(words + ['--save-cache', saved] + (['--load-cache', saved] if i > 0 else []), input=line, capture_output=True)
                self.verdict(done.returncode == 0, 'a chat in parts, %s' % line, done)
                parts += done.stdout
            self.verdict(len(whole) > 9 and parts == whole, 'a chat in parts, %s' % more, '%r, expected %r' % (parts, whole))
            done = subprocess.run(words + ['--load-cache', saved, '--prompt', 'more'], input=b'', capture_output=True)
            all_ = subprocess.run(words, input=b'hi\nyou\nand me\nmore', capture_output=True).stdout
            self.verdict(whole + done.stdout == all_, 'a first message behind a chat', '%r, expected %r' % (done.stdout, all_))
            commands.run(self.nnrt, 'generate', model, '--prompt', 'hello w', '--tokens', '0', '--save-cache', saved, *more, check=True)
            said = self.said(model, '--load-cache', saved, '--prompt', 'ab', '--tokens', '8', *more)
            ids = self.tokens(model, 'hello w') + self.tokens(model, 'ab')
            want = self.said(model, '--ids', ','.join(map(str, ids)), '--tokens', '8', *more)
            self.verdict(len(said['tokens']) > 0 and said['tokens'] == want['tokens'][:len(said['tokens'])] and said['prompt_tokens'] == len(ids),
                         'a prompt behind a text', '%s, expected %s' % (said, want))
            self.refused('--system behind a chat', 2, '--system begins a conversation', 'generate', model, '--chat', '--load-cache', saved,
                         '--system', 'x', given=b'')
        chain = self.file('chain.gguf', text_models.chain(text_models.bytes_keys(), {97: 98, 98: 99, 99: 97}))
        self.expect('a text to continue', b'bcab\n', 'generate', chain, '--prompt', 'a', '--tokens', '4', '--save-cache', saved, '--quiet')
        self.expect('a text continued', b'cab\n', 'generate', chain, '--tokens', '3', '--load-cache', saved, '--quiet')
        self.expect('a text with another prompt', b'bc\n', 'generate', chain, '--tokens', '2', '--load-cache', saved, '--prompt', 'a', '--quiet')
        long = ['generate', chain, '--chat', '--raw', '--tokens', '30', '--context', '16', '--quiet']
        self.fed('--context-shift in a chat', b'a\nb\n', b'bca' * 10 + b'\n' + b'cab' * 10 + b'\n', *long, '--context-shift')
        done = subprocess.run([self.program, *long], input=b'a\nb\n', capture_output=True)
        self.verdict(done.returncode == 1 and b'and the context 16; --context N' in done.stderr, 'a chat without --context-shift', done)
        self.refused('a message that exceeds the context', 1, 'and the context 16; --context N', *long, '--context-shift', given=b'a' * 40 + b'\n')

    def whole(self, template, first, second):
        """A chat of two messages with a random model, whose first reply is one token that can be printed."""
        words = ['--chat', '--template', template, '--quiet', '--tokens', '1']
        for seed in range(40):
            model = self.file('random.gguf', text_models.model('qwen2', text_models.bytes_keys(), 'Q8_0', seed=seed))
            reply = subprocess.run([self.program, 'generate', model, *words], input=b'hi', capture_output=True).stdout
            if len(reply) == 2 and 33 <= reply[0] < 127:
                break
        both = subprocess.run([self.program, 'generate', model, *words], input=b'hi\nyou\n', capture_output=True).stdout
        text = (first + second) % ('hi', reply[:1].decode('ascii'), 'you')
        said = commands.run(self.nnrt, 'generate', model, '--prompt', text, '--tokens', '1', '--quiet').stdout
        self.verdict(len(reply) == 2 and both == reply + said, 'a chat as its text, %s' % template, '%s %s, %r' % (both, said, text))

    def refusals(self):
        model = self.path('bytes.gguf')
        self.refused('a long prompt', 1, 'the prompt has 200 tokens, and the context 128: shorten it, or reserve more by --context N', 'generate', model,
                     '--prompt', 'a' * 200)
        self.verdict(len(self.said(model, '--prompt', 'a' * 200, '--context', '300', '--tokens', '5').get('tokens', [])) == 5, '--context')
        done = commands.run(self.nnrt, 'generate', model, '--ids', ','.join(['1'] * 8), '--context', '10', '--tokens', '5', '--json', text=True)
        self.verdict(len(json.loads(done.stdout)['tokens']) == 2 and 'the context of 10 tokens ends after 2' in done.stderr, '--context of --ids', done)
        self.refused('no tokenizer', 1, 'has no tokenizer', 'generate', self.path('bare.gguf'), '--prompt', 'a')
        for words, message in (([], '--prompt or --ids is missing'), (['--ids', '1', '--prompt', 'a'], 'exclude each other'),
                               (['--prompt', 'a', '--prompt-file', 'b'], 'exclude each other'), (['--prompt', 'a', '--system', 'b'], '--system is for --chat'),
                               (['--prompt', 'a', '--raw'], '--raw is for --chat'), (['--chat', '--json'], 'without --json'), (['--ids', '1', '--chat'], 'exclude each other'),
                               (['--ids', '1', '--tokenizer', 'x'], '--tokenizer is for'), (['--prompt', 'a', '--top-k', '4'], '--top-k has no effect without --temperature'),
                               (['--prompt', 'a', '--seed', '4'], '--seed has no effect'), (['--prompt', 'a', '--temperature', '-1'], '--temperature does not take'),
                               (['--prompt', 'a', '--top-p', '1.5'], '--top-p does not take'), (['--chat', '--template', 'x'], "'x' is none of llama2")):
            self.refused('generate %s' % words, 2, message, 'generate', model, *words)

    # ---- embed ----

    def embeddings(self):
        for arch in ('bert', 'nomic-bert'):
            model = text_models.model(arch, text_models.words_keys())
            file = self.file('encoder.gguf', model)
            texts = ['Unable', 'the cats sat.', '', 'a ' * 40]
            lines = self.file('lines.txt', '\n'.join(texts).encode() + b'\r\n')
            rows = self.embed(file, lines, '--no-normalize')
            ids = [[2, 5, 6, 3], [2, 7, 8, 9, 10, 11, 3], [2, 3], [2] + [12] * 40 + [3]]
            want = np.array([gguf_numpy.embedding(model, row) for row in ids])
            want = want.reshape(len(texts), -1)
            self.close('embed %s' % arch, rows, want)
            unit = want / np.linalg.norm(want, axis=1, keepdims=True)
            self.close('embed %s, normalized' % arch, self.embed(file, lines), unit)
            self.close('embed %s, --text' % arch, self.embed(file, '--text', 'Unable', '--text', 'the cats sat.'), unit[:2])
        # a text of more tokens than the context is cut off before its last token
        done = commands.run(self.nnrt, 'embed', file, '--text', 'a ' * 200, '-o', self.path('v.npy'), '--no-normalize', '--json', text=True)
        self.verdict('1 of 1 texts have more than 128 tokens' in done.stderr and json.loads(done.stdout)['cut'] == 1, 'a long text', done)
        self.close('a long text', np.load(self.path('v.npy')), gguf_numpy.embedding(model, [2] + [12] * 126 + [3]).reshape(1, -1))
        table = np.random.default_rng(2).standard_normal((len(WORDS), 6))
        file, tokenizer = self.file('encoder.onnx', text_models.encoder(table)), self.file('words.json', text_models.tokenizer_json())
        ids = [[2, 8, 9, 3], [2, 7, 3]]
        words = [file, '--tokenizer', tokenizer, '--text', 'cats', '--text', 'the', '--no-normalize']
        self.close('an ONNX encoder', self.embed(*words), np.array([table[row].mean(0) for row in ids]))
        self.close('--pooling first', self.embed(*words, '--pooling', 'first'), np.array([table[2]] * 2))
        self.close('--pooling last', self.embed(*words, '--pooling', 'last'), np.array([table[3]] * 2))
        self.close('--no-affixes', self.embed(*words, '--no-affixes'), np.array([table[row[1:-1]].mean(0) for row in ids]))
        self.refused('embed without tokenizer', 1, 'has no tokenizer: --tokenizer FILE', 'embed', file, '--text', 'a', '-o', self.path('v.npy'))
        self.refused('embed with a decoder', 1, "input 'past_key_values", 'embed', self.path('bytes.gguf'), '--text', 'a', '-o', self.path('v.npy'))
        self.refused('embed without output', 2, 'the output file is missing', 'embed', file, '--text', 'a')
        self.refused('embed with file and --text', 2, 'exclude each other', 'embed', file, 'x', '--text', 'a', '-o', 'x')
        self.refused('embed of nothing', 1, 'has 0 lines', 'embed', file, self.file('none.txt', b''), '--tokenizer', tokenizer, '-o', self.path('v.npy'))
        self.refused('embed without tokens', 1, 'text 1 has no tokens', 'embed', file, '--tokenizer', tokenizer, '--text', '', '--no-affixes', '-o', self.path('v.npy'))
        self.refused('--pooling of another kind', 2, '--pooling does not take', 'embed', file, '--pooling', 'max', '--text', 'a', '-o', 'x')

    def embed(self, *words):
        done = commands.run(self.nnrt, 'embed', *words, '-o', self.path('v.npy'), text=True)
        self.verdict(done.returncode == 0 and 'v.npy  float32[' in done.stdout, 'embed %s' % (words,), done)
        return np.load(self.path('v.npy'))

    def close(self, name, got, want):
        off = np.abs(got - want).max() if got.shape == want.shape else np.inf
        self.verdict(got.dtype == np.float32 and off <= 1e-5 * max(1, np.abs(want).max()), name, 'differs by %g, %s %s' % (off, got.shape, want.shape))


def main():
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else sys.argv[1], folder)
        for part in (runner.bytes_of, runner.round_trips, runner.vocabularies, runner.texts, runner.choices, runner.chats, runner.kept, runner.refusals, runner.embeddings):
            part()
    print('%d passed, %d failed' % (runner.passed, runner.failed))
    return 1 if runner.failed or not runner.passed else 0


if __name__ == '__main__':
    sys.exit(main())
