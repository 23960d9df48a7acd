#!/usr/bin/env python3
"""The trained language model of examples/text, model.gguf, and the text that it was not trained on, heldout.txt.

    text_novels.py NNRT PROGRAM                 NNRT: build/test/commands or a program; PROGRAM: a program, for firmware
    text_novels.py --peer --modules DIR NNRT    beside llama.cpp: DIR/node_modules has node-llama-cpp

Tokens of the held-out text are those of byte-pair encoding by its definition. Logits and chosen tokens are those of gguf_numpy.py. The
perplexity of WINDOWS contexts of the held-out text is at most PERPLEXITY; a model of noise has one near 1,024. Words
of a generated text occur in the held-out text or are tokens. firmware.c on this machine writes the tokens of `nnrt generate`.
llama.cpp has the same tokens of text, and the logits and chosen tokens of numpy. The last line says "N passed, N failed".
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
for place in ('../kit', '../formats'):
    sys.path.insert(0, os.path.join(HERE, place))
import commands  # noqa: E402
import gguf_models  # noqa: E402
import gguf_numpy  # noqa: E402
import test_gguf  # noqa: E402

FOLDER = os.path.join(HERE, '../../examples/text')
MODEL, TEXT = os.path.join(FOLDER, 'model.gguf'), os.path.join(FOLDER, 'heldout.txt')
MOST_BYTES, MOST_PARAMETERS = 2500000, 4000000
WINDOWS, PERPLEXITY = 3, 27.0
PROMPT = 'It is a truth'
# GPT-2's pre-tokenizer, for text without letters and digits beside ASCII's
WORD = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")


def encoded(keys, text):
    """Byte-pair encoding: in each word the pair whose merge is the earliest, until none is left."""
    rank = {tuple(pair.split(' ')): i for i, pair in enumerate(keys['tokenizer.ggml.merges'])}
    ids = {token: i for i, token in enumerate(keys['tokenizer.ggml.tokens'])}
    out = []
    for word in WORD.findall(text):
        parts = list(word.replace(' ', '\u0120').replace('\n', '\u010a'))
        while True:
            ranks = [rank.get(pair, len(rank)) for pair in zip(parts, parts[1:])]
            if min(ranks, default=len(rank)) == len(rank):
                break
            i = ranks.index(min(ranks))
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
        out += [ids[part] for part in parts]
    return out


def log_softmax(rows):
    rows = rows - rows.max(-1, keepdims=True)
    return rows - np.log(np.exp(rows).sum(-1, keepdims=True))


class Runner(test_gguf.Runner):
    def __init__(self, nnrt, folder):
        super().__init__(nnrt, folder)
        with open(MODEL, 'rb') as f:
            self.model = gguf_models.read(f.read())
        with open(TEXT, encoding='ascii') as f:
            self.text = f.read()
        self.ids = encoded(self.model.keys, self.text)
        self.context = self.model.own['context_length']

    def sizes(self):
        parameters = sum(values.size for values in self.model.values.values())
        self.verdict(os.path.getsize(MODEL) <= MOST_BYTES, 'bytes of the file', os.path.getsize(MODEL))
        self.verdict(500000 < parameters <= MOST_PARAMETERS, 'parameters', parameters)

    def vocabulary(self):
        said = json.loads(commands.run(self.nnrt, 'tokenize', MODEL, TEXT, '--json', text=True).stdout)['tokens'][0]
        self.verdict(said == self.ids, 'tokens of the held-out text')
        for begin in range(0, len(self.ids), 500):
            part = ','.join(map(str, self.ids[begin:begin + 500]))
            done = json.loads(commands.run(self.nnrt, 'tokenize', MODEL, '--decode', part, '--json', text=True).stdout)['text']
            self.verdict(done != '' and done in self.text, 'decoded from token %d' % begin, done)

    def logits(self, count, int8):
        return self.run(MODEL, self.ids[:count], model=self.model, int8=int8)['logits'][0]

    def against_numpy(self):
        count = 64
        want, rounded = (gguf_numpy.logits(self.model, self.ids[:count], int8=int8) for int8 in (False, True))
        self.compare('logits', self.logits(count, False), want)
        self.compare_int8('logits', self.logits(count, True), want, rounded)
        prompt = self.ids[:8]
        tokens = self.generate_ids('tokens', MODEL, prompt, 64)
        rows = gguf_numpy.logits(self.model, prompt + tokens[:-1])[len(prompt) - 1:]
        lost = [row.max() - row[token] for row, token in zip(rows, tokens)]
        self.verdict(len(tokens) == 64 and max(lost) <= 2 * test_gguf.CLOSE * np.abs(rows).max(), 'chosen tokens', lost)

    def perplexity(self):
        """Each window predicts all its tokens but the first, which is the last one of the window before."""
        total, end = 0.0, WINDOWS * self.context
        for begin in range(0, end, self.context):
            window = self.ids[begin:begin + self.context + 1]
            rows = log_softmax(self.run(MODEL, window[:-1], model=self.model, int8=True)['logits'][0].astype(np.float64))
            total -= rows[np.arange(len(rows)), window[1:]].sum()
        found = np.exp(total / end)
        print('perplexity of %d tokens of the held-out text: %.2f' % (end, found))
        self.verdict(found <= PERPLEXITY, 'perplexity of the held-out text', found)

    def writes(self):
        words = ['generate', MODEL, '--prompt', PROMPT, '--tokens', '200', '--temperature', '0.8', '--top-k', '40', '--json']
        text = json.loads(commands.run(self.nnrt, *words, text=True).stdout)['text']
        known = {word.lower() for word in re.findall('[A-Za-z]+', self.text)}
        known |= {token[1:].lower() for token in self.model.keys['tokenizer.ggml.tokens'] if token.startswith('\u0120')}
        found = re.findall('[A-Za-z]+', text)[1:-1]
        share = sum(word.lower() in known for word in found) / max(len(found), 1)
        self.verdict(len(found) > 60 and share >= 0.8, 'words of a generated text', '%.2f of %d: %s' % (share, len(found), text))

    def firmware(self, program):
        script = os.path.join(FOLDER, 'qemu.py')
        done = subprocess.run([sys.executable, '-B', script, '--host', '--nnrt', program, '--out', self.path('firmware'), '--tokens', '24',
                               '--prompt', PROMPT], capture_output=True, text=True)
        self.verdict(done.returncode == 0 and 'the same 24 tokens as nnrt generate' in done.stdout, 'firmware', done.stdout + done.stderr)


TOKENS = """
import { getLlama } from 'node-llama-cpp';
import { readFileSync } from 'node:fs';
const llama = await getLlama({ gpu: false, build: 'never', logLevel: 'error' });
const model = await llama.loadModel({ modelPath: process.argv[2], useMmap: false });
console.log(JSON.stringify(model.tokenize(readFileSync(process.argv[3], 'utf8'))));
process.exit(0);
"""


def peer(runner, modules):
    """llama.cpp: tokens of the text; log-probabilities and chosen tokens of the file with float32 weights, within 1e-4 of numpy, and of the
    file itself, for which llama.cpp rounds activations to 8 bits, within 0.3."""
    def node(script, *words):
        path = os.path.join(modules, 'nnrt_text_peer.mjs')
        with open(path, 'w', encoding='ascii') as f:
            f.write(script)
        with open(runner.path('said'), 'w+', encoding='utf-8') as out:  # a pipe may lose the last lines when node exits
            done = subprocess.run(['node', path, *words], stdout=out, stderr=subprocess.PIPE, text=True)
            os.remove(path)
            if done.returncode != 0:
                sys.exit(done.stderr)
            out.seek(0)
            return [json.loads(line) for line in out]

    runner.verdict(node(TOKENS, MODEL, TEXT)[0] == runner.ids, 'tokens of llama.cpp')
    model = runner.model
    plain = gguf_models.Model()
    plain.keys = dict(model.keys, **{'tokenizer.ggml.token_type': np.array(model.keys['tokenizer.ggml.token_type'], 'i4')})
    for name, values in model.values.items():
        plain.add(name, 'F32', values.astype('<f4').tobytes(), values)
    with open(runner.path('plain.gguf'), 'wb') as f:
        f.write(plain.bytes())
    prompt = runner.ids[:32]
    for bound, said in zip((1e-4, 0.3), node(test_gguf.PEER, json.dumps(prompt), '64', runner.path('plain.gguf'), os.path.abspath(MODEL))):
        ids, off, lost = list(prompt), 0.0, 0.0
        for token, probabilities in said:
            row = log_softmax(gguf_numpy.logits(model, ids)[-1])
            p = np.array([value for _, value in sorted(probabilities)])
            seen = p > 1e-6
            off, lost = max(off, np.abs(np.log(p[seen]) - row[seen]).max()), max(lost, row.max() - row[token])
            ids.append(token)
        print('llama.cpp: log-probabilities differ by %.1e, chosen tokens by %.1e' % (off, lost))
        runner.verdict(len(said) == 64 and off <= bound and lost <= 2 * bound, 'llama.cpp', '%g %g' % (off, lost))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('nnrt')
    parser.add_argument('program', nargs='?')
    parser.add_argument('--peer', action='store_true')
    parser.add_argument('--modules', metavar='DIR')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(args.nnrt, folder)
        if args.peer:
            peer(runner, args.modules)
        else:
            runner.sizes()
            runner.vocabulary()
            runner.against_numpy()
            runner.perplexity()
            runner.writes()
            runner.firmware(args.program)
    print('%d passed, %d failed' % (runner.passed, runner.failed))
    return 1 if runner.failed or not runner.passed else 0


if __name__ == '__main__':
    sys.exit(main())
