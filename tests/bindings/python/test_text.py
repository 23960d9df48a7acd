"""nnrt.text: tokens by hand and by a definition of BPE in Python, logits and vectors of the definitions in gguf_numpy.py, samplers by
counts. Models are random, or have a next token that is known (text_models.py)."""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import numpy
from numpy.testing import assert_allclose, assert_array_equal

from models import ROOT

sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("formats", "core", "tools", "kit")]
import gguf_models  # noqa: E402
import gguf_numpy  # noqa: E402
import onnx_decoders  # noqa: E402
import test_gguf  # noqa: E402
import test_safetensors  # noqa: E402
import test_tokenizer_peers as definitions  # noqa: E402
import text_models  # noqa: E402
from text_models import COUNT, IM_END, IM_START, WORDS  # noqa: E402

from nnrt import text  # noqa: E402

HELLO, WOR = 256 + 3, 256 + 6  # results of text_models.MERGES
CHAR = list("é".encode())


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, data):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.bytes())
        return path

    def bytes_model(self, **changes):
        """A random decoder whose tokens are bytes and the results of MERGES."""
        model = text_models.model("qwen2", text_models.bytes_keys(), **changes)
        return model, self.file("random.gguf", model)

    def refuses(self, kind, message, function, *arguments, **named):
        with self.assertRaises(kind) as caught:
            function(*arguments, **named)
        self.assertIn(message, str(caught.exception))


class Tokenizers(Case):
    def test_by_hand(self):
        t = text.Tokenizer(self.bytes_model()[1])
        self.assertEqual(len(t), COUNT)
        self.assertEqual(t.encode("hello world"), [HELLO, WOR, ord("l"), ord("d")])
        self.assertEqual(t.encode("é"), CHAR)
        self.assertEqual(t.encode("a<|im_end|>"), [97, IM_END])
        self.assertEqual(t.encode("<|im_end|>", special=False), list(b"<|im_end|>"))
        self.assertEqual(t.encode(b"a\xff("), t.encode("a\ufffd("))
        self.assertEqual(t.encode("\ud800"), t.encode("\ufffd" * 3))  # three bytes that no valid text has
        self.assertEqual(t.encode(""), [])
        self.assertEqual((t.find("<|im_end|>"), t.find("hell"), t.find("never")), (IM_END, 258, None))
        self.assertEqual((t.piece(HELLO), t.piece(0xC3), t.piece(IM_START)), (b"hello", b"\xc3", b"<|im_start|>"))
        self.assertEqual([i for i in range(COUNT) if t.ends(i)], [IM_END, COUNT - 1])
        self.assertEqual(t.chat_template, text_models.CHATML)
        self.refuses(ValueError, "token %d is not in the vocabulary, which has %d" % (COUNT, COUNT), t.piece, COUNT)
        self.refuses(ValueError, "is not in the vocabulary", t.decode, [COUNT])
        self.assertFalse(t.ends(COUNT))
        words = text.Tokenizer(self.file("tokenizer.json", text_models.tokenizer_json()))
        self.assertEqual(words.encode("Unable the CATS."), [2, 5, 6, 7, 8, 9, 11, 3])
        self.assertEqual(words.encode("cats", affixes=False), [8, 9])
        self.assertIsNone(words.chat_template)

    def test_definition_of_bpe(self):
        """Words of letters: the merge of the least rank first."""
        t = text.Tokenizer(self.bytes_model()[1])
        ranks = {pair: i for i, pair in enumerate(text_models.MERGES)}
        ids = {piece: 256 + i for i, piece in enumerate(a + b for a, b in text_models.MERGES)}
        draw = random.Random(1)
        merged = 0
        for _ in range(300):
            word = "".join(draw.choices("helowr", k=draw.randint(1, 30)))
            want = [ids.get(piece) or ord(piece) for piece in definitions.bpe(list(word), ranks)]
            self.assertEqual(t.encode(word), want)
            merged += len(want) < len(word)
        self.assertGreater(merged, 100)

    def test_definitions(self):
        """The strings, vocabularies and definitions of tests/core/test_tokenizer_peers.py. NNRT_TEXT_MODULES, a folder with the npm
        packages of `make tokenizer-peers`: also the tokenizers of Hugging Face."""
        def run(_program, file, texts, flags=0):
            t = text.Tokenizer(file)
            rows = [t.encode(s, affixes=bool(flags & 1), special=bool(flags & 2)) for s in texts]
            return [(ids, t.decode(ids, special=bool(flags & 2)).encode()) for ids in rows]
        texts = definitions.strings(4, 200)
        with unittest.mock.patch.object(definitions, "run", run), unittest.mock.patch.dict(definitions.COUNT, passed=0, failed=0):
            for check in definitions.check_bytes, definitions.check_unigram, definitions.check_wordpiece:
                check(None, self.folder, texts)
            if "NNRT_TEXT_MODULES" in os.environ:
                definitions.check_packages(None, pathlib.Path(os.environ["NNRT_TEXT_MODULES"]), 500)
            self.assertEqual(definitions.COUNT["failed"], 0)
            self.assertGreaterEqual(definitions.COUNT["passed"], 12)

    def test_streams(self):
        t = text.Tokenizer(self.bytes_model()[1])
        stream = t.stream()
        self.assertEqual([stream.push(i) for i in [97, *"中".encode(), 0xC3]], ["a", "", "", "中", ""])
        self.assertEqual((stream.end(), stream.end()), ("\ufffd", ""))
        self.assertEqual(t.decode([0xC3, 97, IM_END, HELLO]), "\ufffdahello")
        self.assertEqual(t.decode([97, IM_END], special=True), "a<|im_end|>")
        draw = random.Random(2)
        for _ in range(100):
            s = "".join(draw.choice("ab c\u00e9\u4e2d\U0001f600\n\t<|>e\0") for _ in range(draw.randrange(1, 40)))
            self.assertEqual(t.decode(t.encode(s)), s)

    def test_files(self):
        self.refuses(FileNotFoundError, "absent", text.Tokenizer, self.folder / "absent")
        self.refuses(ValueError, "no JSON object", text.Tokenizer, self.file("no.txt", b"abc"))
        self.refuses(NotImplementedError, "pre-tokenizer 'tekken' is not supported", text.Tokenizer,
                     self.file("other.gguf", text_models.model("qwen2", text_models.bytes_keys(pre="tekken"))))


class Samplers(Case):
    def test_chances(self):
        """Counts of 20,000 draws are within five standard deviations of the probabilities. top_p and min_p are of those without
        temperature: 0.084, 0.624, 0.230, 0.011, 0.051."""
        logits = numpy.array([1.0, 3.0, 2.0, -1.0, 0.5], numpy.float32)
        p = numpy.exp(logits / 0.8) / numpy.exp(logits / 0.8).sum()
        cases = {(): range(5), (("top_k", 2),): [1, 2], (("top_p", 0.6),): [1], (("top_p", 0.8),): [1, 2], (("min_p", 0.2),): [1, 2]}
        for options, kept in cases.items():
            s = text.Sampler(temperature=0.8, seed=3, window=1, **dict(options))
            counts = numpy.bincount([s.sample(logits) for _ in range(20000)], minlength=5)
            want = numpy.where(numpy.isin(numpy.arange(5), kept), p, 0)
            want = 20000 * want / want.sum()
            self.assertTrue((abs(counts - want) <= 5 * numpy.sqrt(want * (1 - want / 20000))).all(), (options, counts, want))

    def test_seeds(self):
        logits = numpy.random.default_rng(1).standard_normal((50, 200)).astype(numpy.float32)

        def drawn(sampler):
            return [sampler.sample(row) for row in logits]
        s = text.Sampler(temperature=2, seed=5, repeat_penalty=1.1)
        first = drawn(s)
        self.assertNotEqual(drawn(s), first)
        s.reset()
        self.assertEqual(drawn(s), first)
        self.assertNotEqual(drawn(text.Sampler(temperature=2, seed=6, repeat_penalty=1.1)), first)
        self.assertEqual(drawn(text.Sampler()), logits.argmax(1).tolist())

    def test_penalties(self):
        """Repetition: logits above 0 are divided, others multiplied; presence: subtracted."""
        s = text.Sampler(repeat_penalty=2, presence_penalty=0.5)
        s.accept(1)  # before the number of tokens is known
        self.assertEqual(s.sample([0.9, 2.8, 0.8]), 0)  # 2.8 / 2 - 0.5 = 0.9: of equal ones the first
        self.assertEqual(s.sample([2.8, 2.9, 0.96]), 2)
        s = text.Sampler(repeat_penalty=2)
        s.accept(0)
        self.assertEqual(s.sample([-1, -1.9]), 1)
        s = text.Sampler(presence_penalty=9, window=1)
        self.assertEqual([s.sample([2, 1]) for _ in range(4)], [0, 1, 0, 1])

    def test_allow(self):
        s = text.Sampler(allow=[[2, 3], [4]])
        self.assertEqual([s.sample([9, 9, 2, 1, 1]), s.sample([9, 9, 9, 1, 9]), s.sample([0] * 5)], [2, 3, None])

    def test_refused(self):
        for name, value in {"temperature": -1, "top_k": -1, "top_p": 2, "min_p": -1, "repeat_penalty": -1, "window": -1}.items():
            self.refuses(ValueError, "", text.Sampler, **{name: value})
        s = text.Sampler()
        self.refuses(ValueError, "no logit is a number", s.sample, [numpy.nan, -numpy.inf])
        self.refuses(ValueError, "the logits have the shape [3], expected [2]", s.sample, [1, 2, 3])
        self.refuses(ValueError, "not in the vocabulary", text.Sampler(allow=[[7]]).sample, [1, 2])


class Chats(Case):
    def test_forms(self):
        talk = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": b"Yes"}]
        self.assertEqual(text.chat_format("chatml", talk), "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
                         "<|im_start|>assistant\nYes<|im_end|>\n<|im_start|>assistant\n")
        self.assertEqual(text.chat_format("mistral", talk, reply=False), "[INST] Be brief.\n\nHi [/INST]Yes</s> ")
        self.assertEqual(text.chat_recognize(text_models.CHATML), "chatml")
        self.assertIsNone(text.chat_recognize("{{ x }}"))
        self.assertIn("llama3", text.CHATS)
        self.refuses(ValueError, "message 0 has the role 'tool'", text.chat_format, "chatml", [{"role": "tool", "content": ""}])
        self.refuses(ValueError, "'x' is none of llama2, ", text.chat_format, "x", talk)


class Decoders(Case):
    IDS = [5, 250, 17, 17, 99, 3, 140, 77, 21]

    def test_logits(self):
        """Each architecture of decoders, fed in parts and again from an earlier position."""
        for arch in gguf_models.ARCHITECTURES:
            if arch in gguf_models.ENCODERS:
                continue
            model = gguf_models.make(arch, "F32")
            want = gguf_numpy.logits(model, self.IDS)
            d = text.Decoder(self.file(arch + ".gguf", model), context=32, batch=4, threads=1)
            self.assertEqual((d.context, d.batch, d.position), (32, 4, 0))
            for _ in range(2):
                d.feed(self.IDS[:3])
                self.compare(arch, d.logits(), want[2])
                d.feed(numpy.array(self.IDS[3:]))
                self.compare(arch, d.logits(), want[8])
                d.rewind(6)
                d.feed([self.IDS[6]])
                self.compare(arch, d.logits(), want[6])
                self.assertEqual(d.position, 7)
                d.rewind()

    def compare(self, name, got, want):
        self.assertEqual((got.dtype, got.shape), (numpy.float32, want.shape))
        self.assertLessEqual(abs(got - want).max(), 2e-5 * max(1, abs(want).max()), name)

    def test_memory(self):
        """The cache has keys and values of each layer and token."""
        model = gguf_models.make("llama", "Q8_0")
        d = text.Decoder(self.file("m.gguf", model), context=48)
        s = model.sizes
        self.assertEqual(d.get_memory()["cache"], 2 * 4 * 48 * s["layers"] * s["kv"] * s["size"])
        self.assertGreater(d.get_memory()["total"], d.get_memory()["cache"])
        self.assertEqual(text.Decoder(self.folder / "m.gguf").context, 128)  # of the file

    def test_onnx(self):
        """All inputs of Optimum's, the mask and positions; the cache becomes a state."""
        table = numpy.random.default_rng(1).integers(-40, 40, (9, 9)).astype(numpy.float32)
        d = text.Decoder(self.file("d.onnx", test_gguf.onnx_decoder(table)), context=20, batch=2)
        ids = [1, 5, 7, 2, 2]
        want = [table[ids[i]] + i * table[0] + sum(ids[:i + 1]) * table[1] for i in range(5)]
        d.feed(ids[:3])
        assert_array_equal(d.logits(), want[2])
        d.feed(ids[3:])
        assert_array_equal(d.logits(), want[4])
        for position in 2, 0:
            d.rewind(position)
            d.feed(ids[position:position + 1])
            assert_array_equal(d.logits(), want[position])
        self.assertEqual(text.Decoder(self.folder / "d.onnx").context, 2048)

    def test_onnx_attention(self):
        """Forms of attention whose cache is a state, and one whose cache is inputs and outputs: twice the memory, position 0 only."""
        ids = [1, 5, 7, 9, 2, 11]
        for kind, mask in ("gqa", True), ("attention", True), ("attention", False), ("concat", True), ("concat", False):
            states = (kind, mask) != ("concat", False)
            model = onnx_decoders.make(kind, mask=mask)
            d = text.Decoder(self.file("attention.onnx", model.file), context=30, batch=4, threads=1)
            want = model.logits(ids)
            for begin in 0, 2, 5:
                if states:
                    d.rewind(begin)
                    d.feed(ids[begin:])
                else:
                    d.rewind()
                    d.feed(ids)
                self.compare(kind, d.logits(), want[5])
            row = 2 * 4 * onnx_decoders.LAYERS * onnx_decoders.KV * onnx_decoders.SIZE
            self.assertEqual(d.get_memory()["cache"], (1 if states else 2) * 30 * row)
            cache = self.folder / ("%s %s.cache" % (kind, mask))
            if states:
                d.save(cache, ids)
                d.feed([3, 4])
                self.assertEqual((d.load(cache), d.position), (ids, 6))
                self.refuses(ValueError, "no logits before the first token", d.logits)
                d.feed([3])
                self.compare(kind, d.logits(), model.logits(ids + [3])[6])
            else:
                self.refuses(NotImplementedError, "returns to position 0 only", d.rewind, 2)
                self.refuses(NotImplementedError, "are inputs and outputs, not a cache of fixed size", d.save, cache, ids)
                self.assertFalse(cache.exists())

    def test_cache_types(self):
        """The distance to a definition that rounds keys and values to float16 or int8, and to one that does not; the memory."""
        for arch, cache in ("llama", "f16"), ("gemma3", "f16"), ("llama", "q8_0"), ("gemma3", "q8_0"):
            model = gguf_models.make(arch, "F32", size=64)
            file = self.file(arch + ".gguf", model)
            d, full = text.Decoder(file, context=64, cache_type=cache), text.Decoder(file, context=64)
            self.assertEqual((64 if cache == "f16" else 34) * full.get_memory()["cache"], 128 * d.get_memory()["cache"])
            rounded, plain = gguf_numpy.logits(model, self.IDS, cache=cache), gguf_numpy.logits(model, self.IDS)
            for part in self.IDS[:4], self.IDS[4:]:
                d.feed(part)
            near, far = (numpy.sqrt(((d.logits() - rows[-1]) ** 2).mean()) for rows in (rounded, plain))
            self.assertLessEqual(near, test_gguf.LIKE_ROUNDED * far, (arch, cache))
        self.refuses(ValueError, "cache_type is 'q8', expected f32, f16 or q8_0", text.Decoder, file, cache_type="q8")
        onnx = self.file("d.onnx", test_gguf.onnx_decoder(numpy.zeros((9, 9), numpy.float32)))
        for cache in "f16", "q8_0":
            self.refuses(ValueError, "cache_type is for GGUF and safetensors files", text.Decoder, onnx, cache_type=cache)

    def test_sequences(self):
        """A prompt of 40 tokens in four sequences, which go on in turns: logits of the definition, in pages for 160 tokens, where four
        caches would hold 240. A full cache changes nothing."""
        prompt = [(7 * i + 3) % 300 for i in range(40)]
        for arch, cache in ("llama", "f32"), ("gemma3", "f32"), ("llama", "f16"), ("llama", "q8_0"):
            model = gguf_models.make(arch, "F32")
            file = self.file("s.gguf", model)
            rounded = None if cache == "f32" else cache
            d = text.Decoder(file, context=160, batch=16, sequences=4, cache_type=cache)
            plain = text.Decoder(file, context=160, batch=16, cache_type=cache)
            self.assertEqual((d.context, d.room, d.sequence), (160, 160, 0))
            self.assertEqual(d.get_memory()["cache"], plain.get_memory()["cache"])
            d.feed(prompt)
            self.assertEqual(d.room, 160 - 64)
            for i in 1, 2, 3:
                d.share(i)
            self.assertEqual(d.room, 160 - 64)  # nothing is copied
            tokens = [list(prompt) for _ in range(4)]
            for step in range(6):
                for i in (2, 0, 3, 1):
                    new = [(11 * i + 5 * step + k) % 300 for k in range(1 + (i + step) % 3)]
                    d.select(i)
                    self.assertEqual(d.position, len(tokens[i]))
                    tokens[i] += new
                    d.feed(new)
                    want = gguf_numpy.logits(model, tokens[i], cache=rounded)[-1]
                    self.assertLessEqual(numpy.abs(d.logits() - want).max(), (2e-5 if rounded is None else 0.05) * max(1, numpy.abs(want).max()))
            self.assertEqual(d.room, 0)  # the page of the prompt, and one of each sequence
            if rounded is not None:  # the same bits as in a cache without pages
                plain.feed(prompt)
                plain.feed(tokens[1][40:])
                d.rewind(40)
                d.feed(tokens[1][40:])
                assert_array_equal(d.logits(), plain.logits())
            position = d.position
            self.refuses(MemoryError, "and 0 of the 5 pages of the cache are free: end another sequence", d.feed, [5] * 20)
            self.assertEqual(d.position, position)
            d.select(3)
            d.rewind()
            self.assertEqual(d.room, 32)
            d.select(1)
            d.feed([5] * 20)
            self.assertEqual((d.position, d.room), (position + 20, 0))
        self.refuses(ValueError, "sequence 4, and the decoder has 4", d.select, 4)
        self.refuses(ValueError, "no logits before", d.logits) if d.select(0) is None else None
        self.refuses(NotImplementedError, "metadata pages", d.save, self.folder / "x", tokens[0])
        self.refuses(NotImplementedError, "metadata pages", text.Decoder, file, context=64, sequences=2, keep=1)
        self.refuses(NotImplementedError, "expected a cache of pages", text.Decoder(file).share, 1)
        onnx = self.file("d.onnx", test_gguf.onnx_decoder(numpy.zeros((9, 9), numpy.float32)))
        self.refuses(ValueError, "sequences are for GGUF and safetensors files", text.Decoder, onnx, sequences=2)

    def test_fork(self):
        """Generators that continue one prompt in turns give the tokens of generators that each began with it."""
        file = self.bytes_model()[1]
        first = text.Generator(file, context=200, sequences=3)
        begin = list(first.generate_tokens("hello there", 9))
        forks = [first.fork(text.Sampler(temperature=1.5, seed=seed)) for seed in (1, 2)]
        self.refuses(ValueError, "all 3 sequences are used", first.fork)
        turns = [first.generate_tokens("", 20), forks[0].generate_tokens(" and", 20), forks[1].generate_tokens([], 20)]
        said: list = [[], [], []]
        for _ in range(20):
            for i, turn in enumerate(turns):
                said[i] += [token] if (token := next(turn, None)) is not None else []
        for i, (prompt, sampler) in enumerate((("", None), (" and", text.Sampler(temperature=1.5, seed=1)), ([], text.Sampler(temperature=1.5, seed=2)))):
            own = text.Generator(file, context=200)
            self.assertEqual(list(own.generate_tokens("hello there", 9)), begin)
            own.sampler = sampler or text.Sampler()
            own._heard = 0
            self.assertEqual(list(own.generate_tokens(prompt, 20)), said[i])
            self.assertGreater(len(said[i]), 1)
        room = first.decoder.room
        forks[0].close()
        self.assertGreaterEqual(first.decoder.room, room)
        self.refuses(ValueError, "the generator is closed", next, forks[0].generate_tokens("x", 1))
        again = first.fork()
        self.assertEqual(again.tokens, first.tokens)
        self.assertEqual(len(list(again.generate_tokens([], 3))), 3)

    def test_keep(self):
        """With one layer, whose keys and values depend on their own tokens only, the logits equal the ones behind a prompt of the
        tokens in the cache."""
        model = gguf_models.make("qwen2", "F32", layers=1)
        file = self.file("one.gguf", model)
        ids = [int(i) for i in numpy.random.default_rng(5).integers(0, 300, 40)]
        for context, keep, batch, parts in ((16, 3, 1, 1), (16, 1, 4, 4), (8, 6, 8, 8)):
            d = text.Decoder(file, context=context, batch=batch, keep=keep)
            cache, dropped = [], 0
            for at in range(0, 40, parts):
                d.feed(ids[at:at + parts])
                step = min(batch, context - keep)
                for i in range(at, at + parts, step):
                    new = ids[i:min(i + step, at + parts)]
                    if len(cache) + len(new) > context:
                        drop = max((len(cache) - keep) // 2, len(cache) + len(new) - context)
                        cache, dropped = cache[:keep] + cache[keep + drop:], dropped + drop
                    cache += new
                self.assertEqual((d.position, d.dropped), (len(cache), dropped))
                want = gguf_numpy.logits(model, cache)[-1]
                self.assertLessEqual(abs(d.logits() - want).max(), 1e-4 * abs(want).max())
            self.assertGreater(dropped, 16)
            d.rewind()
            self.assertEqual((d.position, d.dropped), (0, 0))
        self.refuses(ValueError, "8 tokens do not fit a context of 8 behind the first 8", self.overfull, text.Decoder(file, context=8, keep=8))
        learned = self.file("learned.gguf", gguf_models.make("gpt2", "F32"))
        self.refuses(NotImplementedError, "metadata rotary", text.Decoder, learned, context=8, keep=1)

    def overfull(self, d):
        d.feed(range(8))
        d.feed(range(8))

    def test_safetensors(self):
        model = gguf_models.make("llama", "F32")
        model.halves = True
        folder = test_safetensors.Safe.write(self, model, {})
        d = text.Decoder(folder, context=32)
        d.feed(self.IDS)
        self.compare("safetensors", d.logits(), gguf_numpy.logits(model, self.IDS)[-1])
        self.refuses(ValueError, "has no tokenizer: tokenizer=FILE", text.Generator, folder)

    def path(self, name):  # for Safe.write
        return str(self.folder / name)

    def test_refused(self):
        file = self.file("m.gguf", gguf_models.make("llama", "F32"))
        d = text.Decoder(file, context=8)
        self.refuses(ValueError, "no logits before the first token", d.logits)
        self.refuses(ValueError, "9 tokens after 0 exceed the context of 8 tokens", d.feed, self.IDS)
        self.refuses(ValueError, "index 300", d.feed, [300])
        self.refuses(ValueError, "the position is 3, and the cache holds 0 tokens", d.rewind, 3)
        self.refuses(ValueError, "context is -1", text.Decoder, file, context=-1)
        self.refuses(FileNotFoundError, "absent", text.Decoder, self.folder / "absent.gguf")
        self.refuses(ValueError, "", text.Decoder, self.file("cut.gguf", file.read_bytes()[:-5]))
        self.refuses(NotImplementedError, "the model is no decoder", text.Decoder, self.file("e.gguf", gguf_models.make("bert", "F32")))
        self.refuses(NotImplementedError, "input 'image' is none of a decoder", text.Decoder, ROOT / "examples/digits/digits.onnx")
        self.refuses(ValueError, "there is no device 'npu7'", text.Decoder, file, providers=["npu7"])


class Generators(Case):
    def test_known_text(self):
        links = {ord("a"): HELLO, HELLO: ord("o"), ord("o"): ord("k"), ord("k"): CHAR[0], CHAR[0]: CHAR[1], CHAR[1]: IM_END}
        g = text.Generator(self.file("chain.gguf", text_models.chain(text_models.bytes_keys(), links)))
        self.assertEqual(list(g.generate("a")), ["hello", "o", "k", "é"])
        g.reset()
        self.assertEqual(list(g.generate_tokens("a")), [HELLO, ord("o"), ord("k"), *CHAR])
        self.assertEqual(g.tokens, [ord("a"), HELLO, ord("o"), ord("k"), *CHAR])
        self.assertEqual("".join(g.generate("xo", tokens=2)), "k\ufffd")  # goes on; the text ends within a character
        g.reset()
        self.assertEqual("".join(g.generate("é")), "")
        g.reset()
        self.refuses(ValueError, "the prompt has no tokens", g.generate, "")
        self.refuses(ValueError, "the text has 128 tokens, and the context 128", g.generate, "a" * 128)
        self.assertEqual(list(g.generate_tokens([ord("a")], 1)), [HELLO])
        pieces = g.generate("o")
        self.assertEqual(next(pieces), "k")
        self.assertEqual("".join(pieces), "é")

    def test_random_model(self):
        """Greedy tokens have the largest logits of the definition; a further prompt costs its own tokens only."""
        model, file = self.bytes_model()
        g = text.Generator(file, context=64, batch=8, threads=1)
        prompt = g.tokenizer.encode("hello world, hello")
        ids, limit = list(prompt), 0
        got = list(g.generate_tokens(prompt, 20))
        self.assertGreater(len(got), 0)
        for token in got:
            row = gguf_numpy.logits(model, ids)[-1]
            limit += row.argmax() == token
            self.assertLessEqual(row.max() - row[token], 1e-4)
            ids.append(token)
        self.assertGreaterEqual(limit, len(got) - 1)
        fed = []
        feed, g.decoder.feed = g.decoder.feed, lambda ids: (fed.extend(ids), feed(ids))
        list(g.generate_tokens([1, 2], 3))
        self.assertLessEqual(len(fed), 2 + 3)  # the last token of the text before, the prompt, and two of three new ones
        self.assertEqual(len(g.tokens[:g.decoder.position]), g.decoder.position)

    def test_keep(self):
        """Each token has the largest logit of the definition behind the tokens in the cache: see Decoders.test_keep."""
        model, file = self.bytes_model(layers=1)
        g = text.Generator(file, context=16, keep=3)
        cache, dropped = g.tokenizer.encode("hello world"), 0
        for token in g.generate_tokens("hello world", 40):
            row = gguf_numpy.logits(model, cache)[-1]
            self.assertLessEqual(row.max() - row[token], 1e-4 * abs(row).max())
            if len(cache) == 16:
                cache, dropped = cache[:3] + cache[3 + 6:], dropped + 6
            cache.append(token)
        self.assertEqual((len(g.tokens), g.decoder.dropped), (44, dropped))
        self.assertGreater(dropped, 16)
        self.refuses(ValueError, "the text has 16 tokens, and the context 16", g.generate, "x" * 16)

    def test_save(self):
        """A text continues from a file as without a break, also one that the command line wrote; files that are damaged or of another
        model change nothing."""
        file, cache = self.bytes_model()[1], self.folder / "cache"
        for options in {}, {"cache_type": "f16"}, {"cache_type": "q8_0"}, {"keep": 2, "context": 16}:
            options = {"context": 64, **options}
            whole = text.Generator(file, **options)
            want = list(whole.generate_tokens("hello", 30))
            self.assertEqual((len(want), whole.decoder.dropped > 0), (30, "keep" in options))
            for count in 1, 8:
                first, rest = text.Generator(file, **options), text.Generator(file, **options)
                begin = list(first.generate_tokens("hello", count))
                first.save(cache)
                rest.load(cache)
                self.assertEqual(rest.tokens, first.tokens)
                self.assertEqual(begin + list(rest.generate_tokens([], 30 - count)), want)
            first = text.Generator(file, **options)
            prompt = first.tokenizer.encode("hello there")
            self.refuses(ValueError, "0 tokens behind 0 dropped ones is not saved with 0", first.save, self.folder / "empty")
            first.decoder.feed(prompt)
            first.decoder.save(cache, prompt)  # all tokens are processed: the last one again, for its logits
            self.refuses(ValueError, "is not saved with 1 tokens", first.decoder.save, self.folder / "few", prompt[:1])
            rest.load(cache)
            again = text.Generator(file, **options)
            self.assertEqual(list(rest.generate_tokens([], 9)), list(again.generate_tokens(prompt, 9)))
        half = ["--cache-type", "f16", "--float-activations"]
        command = [sys.executable, "-m", "nnrt", "generate", str(file), "--prompt", "hello", "--tokens", "5", "--save-cache", str(cache)] + half
        subprocess.run(command, check=True, capture_output=True)
        g = text.Generator(file, context=64, cache_type="f16", float_activations=True)
        again = text.Generator(file, context=64, cache_type="f16", float_activations=True)
        g.load(cache)
        list(again.generate_tokens("hello", 5))
        self.assertEqual(g.tokens, again.tokens)
        self.assertEqual(list(g.generate_tokens([], 10)), list(again.generate_tokens([], 10)))
        data, before = cache.read_bytes(), (list(g.tokens), g.decoder.position)
        for name, raw, message in (("short", data[:-1], "say that they have"), ("changed", data[:200] + bytes([data[200] ^ 1]) + data[201:], "checksum"),
                                   ("none", b"text", "no saved states")):
            self.refuses(ValueError, message, g.load, self.file(name, raw))
        other = self.file("other.gguf", text_models.model("qwen2", text_models.bytes_keys(), seed=4))
        self.refuses(ValueError, "saved with another model", text.Generator(other, cache_type="f16").load, cache)
        self.refuses(FileNotFoundError, "absent", g.load, self.folder / "absent")
        self.assertEqual((g.tokens, g.decoder.position), before)

    def test_samplers(self):
        _, file = self.bytes_model()
        said = [list(text.Generator(file, sampler=text.Sampler(temperature=1.5, seed=seed), threads=threads).generate_tokens("hello", 20))
                for seed, threads in ((1, 1), (1, 2), (2, 1))]
        self.assertEqual(said[0], said[1])
        self.assertNotEqual(said[0], said[2])
        g = text.Generator(file, sampler=text.Sampler(presence_penalty=100))
        tokens = list(g.generate_tokens("a", 30))
        self.assertEqual(len(set(tokens + [97])), len(tokens) + 1)  # no token twice, and none of the prompt

    def test_history(self):
        """The sampler has each token once, also the end of a text that the next one begins with."""
        heard = []

        class Spy(text.Sampler):
            def accept(self, token):
                heard.append(token)
                super().accept(token)

            def sample(self, logits):
                heard.append(super().sample(logits))
                return heard[-1]
        links = {ord("a"): ord("o"), ord("o"): IM_END}
        g = text.Generator(self.file("chain.gguf", text_models.chain(text_models.bytes_keys(), links)), sampler=Spy())
        for prompt, more in (("a", [97, 111, IM_END]), ("xa", [120, 97, 111, IM_END]), ("<|im_end|>a", [97, 111, IM_END])):
            heard.clear()
            self.assertEqual("".join(g.generate(prompt)), "o")
            self.assertEqual(heard, more)

    def test_chat(self):
        """The reply to a message is that to the whole conversation as a prompt."""
        links = {ord("\n"): ord("o"), ord("o"): ord("k"), ord("k"): IM_END}
        g = text.Generator(self.file("chat.gguf", text_models.chain(text_models.bytes_keys(), links)))
        for message in "hi", "you":
            self.assertEqual("".join(g.chat(message)), "ok")
        t = g.tokenizer
        talk = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nok<|im_end|>\n<|im_start|>user\nyou<|im_end|>\n<|im_start|>assistant\nok"
        self.assertEqual(g.tokens, t.encode(talk))
        self.assertEqual(g.decoder.position, len(g.tokens))
        _, file = self.bytes_model(seed=3)
        for form, first, second in (("chatml", "<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n", "<|im_end|>\n<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n"),
                                    ("llama2", "[INST] %s [/INST]", " </s><s>[INST] %s [/INST]")):
            g, whole = text.Generator(file, template=form), text.Generator(file)
            list(g.chat("hi", tokens=1))
            reply = g.tokens[len(t.encode(first % "hi")):]
            whole_ids = t.encode(first % "hi") + reply + t.encode(second % "you")
            got = list(g.chat("you", tokens=8))
            list(whole.generate_tokens(whole_ids, 8))
            self.assertEqual(g.tokens, whole.tokens, form)
            self.assertEqual("".join(got), t.decode(whole.tokens[len(whole_ids):]))
        g = text.Generator(self.folder / "chat.gguf")
        self.assertEqual("".join(g.chat("hi", system="Be brief.")), "ok")
        self.assertEqual(g.tokens[:4], t.encode("<|im_start|>sys"))
        for _ in range(3):
            g.reset()
            self.assertEqual("".join(g.chat("hi")), "ok")

    def test_refused(self):
        keys = text_models.bytes_keys(template=None)
        g = text.Generator(self.file("bare.gguf", text_models.chain(keys, {})))
        self.refuses(ValueError, "the file has no chat template: template=NAME chooses one of llama2", g.chat, "hi")
        g = text.Generator(self.file("other.gguf", text_models.chain(text_models.bytes_keys(template="{{ x }}"), {})))
        self.refuses(ValueError, "is none of llama2, ", g.chat, "hi")
        self.refuses(ValueError, "the chat template 'x' is none of", text.Generator, self.folder / "bare.gguf", template="x")
        onnx = self.file("d.onnx", test_gguf.onnx_decoder(numpy.zeros((9, 9), numpy.float32)))
        self.refuses(ValueError, "d.onnx has no tokenizer: tokenizer=FILE", text.Generator, onnx)

    def test_onnx(self):
        """The tokenizer of another file; logits behind its vocabulary are padding."""
        table = numpy.zeros((20, 20), numpy.float32)
        table[7:, 19], table[7, 8], table[8, 9] = 9, 5, 5
        onnx = self.file("d.onnx", test_gguf.onnx_decoder(table))
        g = text.Generator(onnx, tokenizer=self.file("tokenizer.json", text_models.tokenizer_json()))
        self.assertEqual(list(g.generate_tokens([7], 2)), [8, 9])


class Encoders(Case):
    def test_definition(self):
        texts = ["Unable", "the cats sat.", "", "a " * 70]
        ids = [[2, 5, 6, 3], [2, 7, 8, 9, 10, 11, 3], [2, 3], [2] + [12] * 70 + [3]]
        for arch in gguf_models.ENCODERS:
            model = text_models.model(arch, text_models.words_keys())
            e = text.Encoder(self.file(arch + ".gguf", model), threads=1)
            want = numpy.array([gguf_numpy.embedding(model, row) for row in ids]).reshape(4, -1)
            unit = want / numpy.linalg.norm(want, axis=1, keepdims=True)
            self.compare(e.embed(texts[:3], normalize=False), want[:3])
            self.compare(e.embed(texts), unit)  # the last one has more than 64 tokens
            self.compare(e.embed(texts[1]), unit[1])
            self.compare(text.embed(self.folder / (arch + ".gguf"), texts[:2]), unit[:2])
            self.compare(text.embed(e, (t for t in texts[:2]), normalize=False), want[:2])
            self.assertEqual(e.embed([]).shape, (0, want.shape[1]))
        with self.assertWarnsRegex(UserWarning, "1 of 2 texts have more than 128 tokens"):
            got = e.embed(["a " * 200, "Unable"], normalize=False)
        self.compare(got[0], gguf_numpy.embedding(model, [2] + [12] * 126 + [3]).ravel())
        self.assertEqual(e.context, 128)

    def compare(self, got, want):
        self.assertEqual((got.dtype, got.shape), (numpy.float32, want.shape))
        assert_allclose(got, want, rtol=0, atol=1e-5 * max(1, abs(want).max()))

    def test_onnx(self):
        table = numpy.random.default_rng(2).standard_normal((len(WORDS), 6))
        file, words = self.file("e.onnx", text_models.encoder(table)), self.file("words.json", text_models.tokenizer_json())
        ids = [[2, 8, 9, 3], [2, 7, 3]]
        for pooling, rows in ((None, [table[i].mean(0) for i in ids]), ("mean", [table[i].mean(0) for i in ids]),
                              ("first", [table[2]] * 2), ("last", [table[3]] * 2)):
            e = text.Encoder(file, tokenizer=words, pooling=pooling)
            self.compare(e.embed(["cats", "the"], normalize=False), numpy.array(rows))
        self.compare(e.embed(["cats", "the"], normalize=False, affixes=False), table[[9, 7]])
        self.refuses(ValueError, "text 1 has no tokens", e.embed, ["cats", ""], affixes=False)
        self.refuses(ValueError, "has no tokenizer", text.Encoder, file)
        self.refuses(ValueError, "pooling is 'max', expected mean, first or last", text.Encoder, file, words, "max")
        vector = self.file("v.gguf", text_models.model("bert", text_models.words_keys()))
        self.refuses(NotImplementedError, "no encoder with a vector for each token", text.embed, vector, ["a"], pooling="mean")
        self.refuses(NotImplementedError, "none of an encoder", text.embed, self.bytes_model()[1], ["a"])

    def test_threads(self):
        """Several threads share an encoder."""
        model = text_models.model("bert", text_models.words_keys())
        e = text.Encoder(self.file("e.gguf", model))
        want = e.embed(["Unable", "the cats sat."])
        wrong = []

        def work():
            for _ in range(20):
                if not numpy.array_equal(e.embed(["Unable", "the cats sat."]), want):
                    wrong.append(1)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])
