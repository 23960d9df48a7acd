"""Text with language models: tokenizers, samplers, chat templates, generated text, embeddings. docs/text.md has the files and the
same from the command line."""
import operator
import os
import threading
import warnings
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from . import _devices, _nnrt, _pool

__all__ = ["CHATS", "Decoder", "Encoder", "Generator", "Sampler", "TextStream", "Tokenizer", "chat_format", "chat_recognize", "embed"]
CHATS: Tuple[str, ...] = tuple(_nnrt.chats())  # names of chat templates
_AFFIXES, _SPECIAL = 1, 2  # NNRT_TEXT_...
_PAGE = 32  # tokens of a page of a cache that sequences share
_POOLING = (None, "mean", "first", "last")  # LM_POOLING_...
Array = numpy.ndarray[Any, Any]
Path = Union[str, "os.PathLike[str]"]
Text = Union[str, bytes]


def _path(path: Path) -> bytes:
    os.stat(path)  # its exception names the file
    return os.fsencode(path)


def _bytes(text: Text) -> bytes:
    """Bytes that are not UTF-8 become U+FFFD, and so do surrogates."""
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)


def _count(name: str, value: Any) -> int:
    """A number of tokens or threads."""
    number = operator.index(value)
    if not 0 <= number < 2**31:
        raise ValueError("%s is %d, expected 0 to 2147483647" % (name, number))
    return number


def _flags(affixes: bool, special: bool) -> int:
    return (_AFFIXES if affixes else 0) | (_SPECIAL if special else 0)


def _device(providers: Union[str, Sequence[Any], None]) -> str:
    names = _devices(providers)
    return "auto:" + ",".join(names) if names else "auto"


class TextStream:
    """Text from tokens that come one by one."""

    def __init__(self, stream: Any):
        self._stream = stream

    def push(self, token: int) -> str:
        """The text of the next token. Bytes that begin a character wait for the token that completes it."""
        return str(_nnrt.stream_push(self._stream, token))

    def end(self) -> str:
        """Ends the text: U+FFFD for bytes that still wait, or nothing."""
        return str(_nnrt.stream_end(self._stream))


class Tokenizer:
    """The tokenizer of a file: tokenizer.json, a GGUF file, of which only the keys are read, or a safetensors model beside its
    tokenizer.json. Any number of threads may use it."""

    def __init__(self, path: Path):
        file = _path(path)
        self._tokenizer = _nnrt.tokenizer(_nnrt.tokenizer_path(file) or file)
        about = _nnrt.tokenizer_about(self._tokenizer)
        self._size: int = about[0]
        self.chat_template: Optional[str] = about[1]  # of the file, see chat_recognize

    def __len__(self) -> int:
        """The number of tokens."""
        return self._size

    def encode(self, text: Text, affixes: bool = True, special: bool = True) -> List[int]:
        """The tokens of a text. affixes: with the tokens that the model has around it. special: control tokens in the text are
        found, so texts of strangers are encoded without."""
        return list(_nnrt.encode(self._tokenizer, _bytes(text), _flags(affixes, special)))

    def decode(self, tokens: Iterable[int], special: bool = False) -> str:
        """The text of tokens; special: with control tokens."""
        stream = self.stream(special)
        return "".join([stream.push(token) for token in tokens]) + stream.end()

    def stream(self, special: bool = False) -> TextStream:
        """Begins a text whose tokens come one by one."""
        return TextStream(_nnrt.stream(self._tokenizer, _flags(False, special)))

    def find(self, text: Text) -> Optional[int]:
        """The token that is spelled so, such as "<|im_end|>"; None: there is none."""
        token: Optional[int] = _nnrt.token_find(self._tokenizer, _bytes(text))
        return token

    def piece(self, token: int) -> bytes:
        """The bytes of a token, as the vocabulary spells them."""
        if not 0 <= token < self._size:
            raise ValueError("token %d is not in the vocabulary, which has %d" % (token, self._size))
        return bytes(_nnrt.token(self._tokenizer, token)[0])

    def ends(self, token: int) -> bool:
        """True for a token that ends a text or a message."""
        return bool(0 <= token < self._size and _nnrt.token(self._tokenizer, token)[2])


class Sampler:
    """A choice of tokens with its history. temperature 0: the most likely token. top_k, top_p, min_p: leave out unlikely tokens;
    0: none. repeat_penalty, presence_penalty: of the last `window` tokens, 0: 64. The same seed, history and logits choose the
    same token on every machine. allow: the only continuations, lists of tokens. One thread at a time."""

    def __init__(self, temperature: float = 0.0, top_k: int = 0, top_p: float = 0.0, min_p: float = 0.0, repeat_penalty: float = 0.0,
                 presence_penalty: float = 0.0, window: int = 0, seed: int = 0, allow: Iterable[Iterable[int]] = ()):
        self._values = seed, temperature, top_k, top_p, min_p, repeat_penalty, presence_penalty, _count("window", window)
        self._allow = [list(tokens) for tokens in allow]
        self._history: List[int] = []  # before the first sample(), which knows the number of tokens
        self._sampler: Any = None
        self._size = 0
        _nnrt.sampler(1, *self._values)  # its exception names the value

    def sample(self, logits: Any) -> Optional[int]:
        """Chooses a token by the logits, one for each token, and adds it to the history. None: a continuation is complete."""
        array = numpy.ascontiguousarray(logits, numpy.float32)
        if self._sampler is None:
            self._size = array.size
            self._sampler = _nnrt.sampler(array.size, *self._values)
            if self._allow:
                _nnrt.allow(self._sampler, self._allow)
            for token in self._history:
                _nnrt.accept(self._sampler, token)
        if array.shape != (self._size,):
            raise ValueError("the logits have the shape %s, expected %s" % (list(array.shape), [self._size]))
        token: Optional[int] = _nnrt.sample(self._sampler, array)
        return token

    def accept(self, token: int) -> None:
        """Adds a token that was not chosen here, such as one of a prompt, to the history."""
        if self._sampler is None:
            self._history.append(token)
        else:
            _nnrt.accept(self._sampler, token)

    def reset(self) -> None:
        """Returns to the seed, with an empty history."""
        self._history = []
        if self._sampler is not None:
            _nnrt.sampler_reset(self._sampler)


def chat_recognize(template: Text) -> Optional[str]:
    """The name of a chat template by its text, one of CHATS; None: it is none of them."""
    name: Optional[str] = _nnrt.chat_recognize(_bytes(template))
    return name


def _chat(name: str) -> str:
    if name not in CHATS:
        raise ValueError("the chat template '%s' is none of %s" % (name, ", ".join(CHATS)))
    return name


def chat_format(name: str, messages: Iterable[Mapping[str, Text]], reply: bool = True) -> str:
    """Messages such as {"role": "user", "content": "Hello"} in a chat template of CHATS, as text for Tokenizer.encode. reply: the
    begin of the assistant's message follows. Control tokens in contents are found, too."""
    rows = [(str(m["role"]), _bytes(m["content"])) for m in messages]
    return str(_nnrt.chat_format(_chat(name), rows, reply), "utf-8", "replace")


class Decoder:
    """A language model with its cache: of a GGUF, safetensors, ONNX or .nnrt file. feed() takes tokens, logits() returns those of
    the next token. context: tokens that the cache holds, 0: as many as the file states, at most 2048; batch: tokens that a run
    takes at most, 0: 256; threads 0: the number of processors; float_activations: quantized matrices multiply float32 values;
    cache_type of a GGUF or safetensors file: "f16": keys and values are float16, half of the memory; "q8_0": int8 with scales, 0.27
    of it; keep: when the cache is full, the older half of the tokens behind the first `keep` is dropped, 0: a full cache is an
    error.

    sequences, of a GGUF or safetensors file: so many sequences of tokens are in one cache of `context` tokens, in pages of 32.
    select(1) continues with another one, and share(1) makes it the tokens of this one: their pages are copied when one of them
    writes. A full cache raises MemoryError before anything changes. Such a cache is neither saved nor shortened by keep."""

    def __init__(self, path: Path, context: int = 0, batch: int = 0, threads: int = 0, providers: Optional[Sequence[Any]] = None,
                 float_activations: bool = False, cache_type: str = "f32", keep: int = 0, sequences: int = 1):
        device, pool = _device(providers), _pool(_count("threads", threads))
        context, batch, self.keep = _count("context", context), _count("batch", batch), _count("keep", keep)
        self.sequences = max(_count("sequences", sequences), 1)
        page = _PAGE if self.sequences > 1 else 0
        model, _ = _nnrt.language(_path(path), context, float_activations, cache_type, page)
        context += -context % page if page else 0
        self._decoder = _nnrt.decoder((model, pool), device, context, batch, self.keep, self.sequences)
        self._lock = threading.Lock()
        self._ran = False  # since load() or select()
        self.context, self.batch = _nnrt.decoder_about(self._decoder)[:2]  # type: int, int

    @property
    def sequence(self) -> int:
        """The number of the current sequence."""
        return int(_nnrt.decoder_about(self._decoder)[4])

    @property
    def room(self) -> int:
        """The number of tokens in pages that no sequence has; with one sequence, behind the current position."""
        return int(_nnrt.decoder_about(self._decoder)[5])

    def select(self, sequence: int) -> None:
        """Continues with another sequence. There are no logits before its next feed()."""
        with self._lock:
            _nnrt.sequence(self._decoder, _count("sequence", sequence), False)
            self._ran = False

    def share(self, sequence: int) -> None:
        """Another sequence becomes the tokens of the current one, without a copy of the cache."""
        with self._lock:
            _nnrt.sequence(self._decoder, _count("sequence", sequence), True)

    @property
    def position(self) -> int:
        """The number of tokens that the cache holds."""
        return int(_nnrt.decoder_about(self._decoder)[2])

    @property
    def dropped(self) -> int:
        """The number of tokens that the cache held before, since position 0."""
        return int(_nnrt.decoder_about(self._decoder)[3])

    def feed(self, tokens: Iterable[int]) -> None:
        """Processes the next tokens, in parts of `batch`."""
        ids = numpy.ascontiguousarray(tokens if isinstance(tokens, numpy.ndarray) else list(tokens), numpy.int64).ravel()
        with self._lock:
            _nnrt.feed(self._decoder, ids)
            self._ran = self._ran or ids.size > 0

    def logits(self) -> Array:
        """The logits after the last token, float32[tokens of the vocabulary]."""
        if self.position == 0 or not self._ran:
            raise ValueError("there are no logits before the first token: call feed()")
        with self._lock:
            return numpy.asarray(_nnrt.logits(self._decoder))

    def rewind(self, position: int = 0) -> None:
        """Forgets the tokens from this position on. A model whose cache is inputs and outputs, as of some ONNX files, returns to 0
        only."""
        with self._lock:
            _nnrt.rewind(self._decoder, _count("position", position))

    def save(self, path: Path, tokens: Iterable[int]) -> None:
        """Writes the cache to a file, with all tokens: those of feed(), and perhaps one that was chosen behind them. A model whose
        cache is inputs and outputs cannot."""
        ids = numpy.array(list(tokens), numpy.int64)
        with self._lock:
            _nnrt.save_cache(self._decoder, os.fsencode(path), ids)

    def load(self, path: Path) -> List[int]:
        """Continues with a file of save() or of `nnrt generate --save-cache`, of the same model and cache_type. Returns its tokens, of
        which dropped + position are processed."""
        with open(path, "rb") as file:
            data = file.read()
        with self._lock:
            tokens: List[int] = _nnrt.load_cache(self._decoder, data)
            self._ran = False
        return tokens

    def get_memory(self) -> Mapping[str, int]:
        """Bytes: total, all that the session keeps, and cache, the keys and values."""
        total, cache = _nnrt.decoder_about(self._decoder)[6:]
        return {"total": total, "cache": cache}


class Generator:
    """Generates text with a language model; prompts, messages and replies stay in the cache, so that each call costs its own tokens
    only. tokenizer: a Tokenizer or its file, None: that of the model. template: a name of CHATS, None: that of the file. The
    other options are of Decoder. `tokens` has all tokens so far. One thread at a time. With sequences=N, fork() makes up to N - 1
    further generators that continue the tokens so far, and share their cache."""

    def __init__(self, path: Path, tokenizer: Union[Tokenizer, Path, None] = None, sampler: Optional[Sampler] = None,
                 template: Optional[str] = None, **options: Any):
        self.tokenizer = _tokenizer_of(path, tokenizer)
        self.decoder = Decoder(path, **options)
        self.sampler = sampler or Sampler()
        self.template = None if template is None else _chat(template)
        self.tokens: List[int] = []
        self._heard = 0  # tokens of the history of the sampler; one more than `tokens` has: the end of a text, too
        self._end: Optional[int] = None
        self._first = True  # no message so far
        self._sequence = 0
        self._unused = list(range(self.decoder.sequences - 1, 0, -1))  # sequences that no generator has; one list for all forks

    def fork(self, sampler: Optional[Sampler] = None) -> "Generator":
        """A generator that continues the tokens so far, of the same model and cache, whose pages both share. sampler: None: a new one."""
        if not self._unused:
            raise ValueError("all %d sequences are used: sequences=N, or close() of a fork" % self.decoder.sequences)
        other = Generator.__new__(Generator)
        other.__dict__.update(self.__dict__)
        other.sampler, other.tokens, other._heard, other._end = sampler or Sampler(), list(self.tokens), 0, None
        self._select()
        self.decoder.share(self._unused[-1])
        other._sequence = self._unused.pop()
        return other

    def close(self) -> None:
        """Gives back the sequence of a fork, and its pages."""
        if self._sequence > 0:
            self.reset()
            self._unused.append(self._sequence)
            self._sequence = -1

    def _select(self) -> None:
        if self._sequence < 0:
            raise ValueError("the generator is closed")
        if self.decoder.sequence != self._sequence:
            self.decoder.select(self._sequence)

    def _held(self) -> int:
        """The tokens that the cache needs to have for the text so far; 0: it makes room for any text."""
        return 0 if self.decoder.keep else len(self.tokens) - self.decoder.dropped

    def _add(self, ids: List[int]) -> None:
        if self._held() + len(ids) >= self.decoder.context:
            raise ValueError("the text has %d tokens, and the context %d: a larger context=N, or a shorter text"
                             % (self._held() + len(ids), self.decoder.context))
        if not self.tokens and not ids:
            raise ValueError("the prompt has no tokens")
        if self._heard > len(self.tokens) and ids[:1] != [self._end]:
            self._heard = len(self.tokens)
        self.tokens += ids

    def _next(self) -> Optional[int]:
        """The next token, which the history of the sampler has; None: none follows. Logits behind the vocabulary are padding."""
        self._select()
        if not self.decoder._ran and self.decoder.dropped + self.decoder.position == len(self.tokens):
            self.decoder.rewind(self.decoder.position - 1)  # the last token again, for its logits
        self.decoder.feed(self.tokens[self.decoder.dropped + self.decoder.position:])
        for token in self.tokens[self._heard:]:
            self.sampler.accept(token)
        token = self.sampler.sample(self.decoder.logits()[:len(self.tokenizer)])
        self._heard = len(self.tokens) + (token is not None)
        return token

    def _follow(self, most: int) -> Iterator[int]:
        """At most so many tokens, before one that ends the text. That one is not in `tokens`: a chat template has it, too."""
        for _ in range(most):
            token = self._next() if self._held() < self.decoder.context else None
            if token is None or self.tokenizer.ends(token):
                self._end = token
                return
            self.tokens.append(token)
            yield token

    def _pieces(self, stream: TextStream, most: int) -> Iterator[str]:
        for token in self._follow(most):
            if piece := stream.push(token):
                yield piece
        if piece := stream.end():
            yield piece

    def generate_tokens(self, prompt: Union[Text, Iterable[int]], tokens: int = 256) -> Iterator[int]:
        """Iterates over at most so many tokens behind a prompt, text or tokens. The prompt continues all before."""
        text = isinstance(prompt, (str, bytes))
        self._add(self.tokenizer.encode(prompt, not self.tokens) if text else [operator.index(i) for i in prompt])  # type: ignore
        return self._follow(tokens)

    def generate(self, prompt: Text, tokens: int = 256) -> Iterator[str]:
        """Iterates over the pieces of the text behind a prompt, at most so many tokens. The prompt continues all before."""
        self._add(self.tokenizer.encode(prompt, not self.tokens))
        stream = self.tokenizer.stream()
        for token in self.tokens:  # text that is dropped: the first token continues it, with its space
            stream.push(token)
        return self._pieces(stream, tokens)

    def chat(self, message: Text, system: Optional[str] = None, tokens: int = 256) -> Iterator[str]:
        """Iterates over the pieces of the reply to a message, in the chat template. system: before the first message. Control tokens
        in the message are found, too."""
        name = self.template or chat_recognize(self.tokenizer.chat_template or "")
        if name is None:
            raise ValueError("the chat template of the file is none of %s: template=NAME chooses one" % ", ".join(CHATS)
                             if self.tokenizer.chat_template else "the file has no chat template: template=NAME chooses one of %s" % ", ".join(CHATS))
        text = _nnrt.chat_next(name, self._first, system, _bytes(message))
        self._add(self.tokenizer.encode(text, self._first))
        self._first = False
        return self._pieces(self.tokenizer.stream(), tokens)

    def save(self, path: Path) -> None:
        """Writes the cache and all tokens to a file: Decoder.save."""
        self.decoder.save(path, self.tokens)

    def load(self, path: Path) -> None:
        """Continues behind the tokens of a file of save() or of `nnrt generate --save-cache`, of the same model and cache_type. The
        sampler returns to its seed; the next message of chat() is not the first one."""
        self.tokens = self.decoder.load(path)
        self.sampler.reset()
        self._heard, self._first = 0, False

    def reset(self) -> None:
        """Forgets all tokens, and returns to the seed of the sampler."""
        self._select()
        self.decoder.rewind()
        self.sampler.reset()
        self.tokens, self._heard, self._first = [], 0, True


def _tokenizer_of(path: Path, tokenizer: Union[Tokenizer, Path, None]) -> Tokenizer:
    """The given tokenizer, or that of the model."""
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    if tokenizer is None and _nnrt.tokenizer_path(_path(path)) is None:
        raise ValueError("%s has no tokenizer: tokenizer=FILE names the tokenizer.json of the model, or its GGUF file" % os.fspath(path))
    return Tokenizer(path if tokenizer is None else tokenizer)


class Encoder:
    """An embedding model: of a GGUF, safetensors, ONNX or .nnrt file. pooling: "mean", "first" or "last" of the vectors of tokens;
    None: by the model, or the mean. tokenizer: as Generator has it; threads, providers, float_activations: as Decoder."""

    def __init__(self, path: Path, tokenizer: Union[Tokenizer, Path, None] = None, pooling: Optional[str] = None, threads: int = 0,
                 providers: Optional[Sequence[Any]] = None, float_activations: bool = False):
        if pooling not in _POOLING:
            raise ValueError("pooling is '%s', expected mean, first or last" % pooling)
        self.tokenizer = _tokenizer_of(path, tokenizer)
        self._device = _device(providers)
        pool = _pool(_count("threads", threads))
        model, self.context = _nnrt.language(_path(path), 0, float_activations, "f32", 0)  # 0: the file does not state a context
        self._encoder = _nnrt.encoder((model, pool), self.context, _POOLING.index(pooling))
        self._lock = threading.Lock()

    def embed(self, texts: Union[Text, Iterable[Text]], normalize: bool = True, affixes: bool = True, special: bool = True) -> Array:
        """The vectors of texts, float32[texts, width]; of one text float32[width]. normalize: each has length 1, so that dot products
        are cosines. A text that exceeds the context is cut off there, with a warning. affixes, special: as Tokenizer.encode."""
        one = isinstance(texts, (str, bytes))
        rows = [_bytes(text) for text in ([texts] if one else texts)]  # type: ignore
        with self._lock:
            array, cut = _nnrt.embed(self._encoder, self._device, self.tokenizer._tokenizer, rows, _flags(affixes, special), normalize)
        if cut:
            warnings.warn("%d of %d texts have more than %d tokens and are cut off there" % (cut, len(rows), self.context), stacklevel=2)
        return numpy.asarray(array[0] if one else array)


def embed(model: Union[Encoder, Path], texts: Union[Text, Iterable[Text]], normalize: bool = True, **options: Any) -> Array:
    """The vectors of texts: Encoder.embed of a model; the options are of Encoder. Several calls share an Encoder."""
    return (model if isinstance(model, Encoder) else Encoder(model, **options)).embed(texts, normalize)
