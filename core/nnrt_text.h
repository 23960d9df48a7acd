/*
nnrt_text.h - tokenizers, samplers, chat templates, and the pages of a cache that several sequences share.

PURPOSE
    A tokenizer is built from a file (nnrt_tokenizer_load): from the keys of a GGUF file or from a tokenizer.json; from the bytes
    of either; or from plain data (nnrt_tokenizer_desc). It encodes text by byte-level BPE (GPT-2, Llama 3, Qwen), by BPE with scores or merges
    over SentencePiece's pieces (Llama 2, Gemma, Mistral), by a unigram model (T5, XLM-R), or by WordPiece (BERT). A sampler
    chooses a token by the logits of a model. Seven chat templates write messages as text.
    The header needs nnrt_ops.h and core/nnrt_model.h beside it, for errors, the allocator and arenas. It knows no model and
    no device; no other header includes it, so that a program without text has none of its code.

    #define NNRT_IMPLEMENTATION              // in one C or C++ file of the program
    #include "core/nnrt_text.h"

    nnrt_tokenizer *t = NULL;
    nnrt_tokenizer_load(&t, "model.gguf", NULL, &error);
    nnrt_tokenize(t, text, strlen(text), NNRT_TEXT_AFFIXES, ids, 4096, &count);
    nnrt_detokenizer_start(&d, t, 0);
    for (size_t i = 0; i < count; i++) {
        nnrt_detokenize(&d, ids[i], piece, sizeof(piece), &bytes);
        fwrite(piece, 1, bytes, stdout);
    }

SECTIONS (search for the tag)
    >>text_desc       the description of a tokenizer
    >>text_api        tokenizers, encoding, decoding in a stream
    >>text_sampler    samplers: temperature, top-k, top-p, min-p, penalties, allowed continuations
    >>text_chat       chat templates
    >>text_pages      sequences of tokens that share the cache of a model
    -- implementation --
    >>text_unicode    UTF-8, classes of characters, tables
    >>text_normalize  NFC, BERT's normalization, the character map of SentencePiece, spaces
    >>text_split      pre-tokenizers
    >>text_tables     vocabulary: hash tables of texts and merges, trie
    >>text_bpe        BPE by merges and by scores
    >>text_unigram    Viterbi
    >>text_wordpiece  longest match
    >>text_encode     added tokens, fragments, words
    >>text_decode     text of tokens
    >>text_json       tokenizer.json
    >>text_gguf       the keys of a GGUF file; tokenizers of files
    >>text_samplers   candidates, penalties, the draw
    >>text_chats      recognition and texts of chat templates
    >>text_tables_of_pages  owners of pages, copies on write

TEXT
    Text is UTF-8. Before anything else, each maximal invalid part becomes U+FFFD (Unicode 14, section 3.9). White space is
    Unicode's property White_Space, as in the regular expressions of Rust; JavaScript's \s differs in U+0085 and U+FEFF.
    Added tokens (below) split a text into fragments. Each fragment is normalized and split into words by the pre-tokenizer,
    and each word becomes tokens by the model.
    Added tokens: tokens of type CONTROL (with NNRT_TEXT_SPECIAL) and USER are found in the text before normalization, at
    each place the longest one, from left to right.

RULES AND THEIR SOURCES
    BPE         Sennrich et al. 2016: of all adjacent pairs of tokens, the merge with the least rank is applied, of equal
                ranks the leftmost, until none applies. A heap of pairs makes it O(n log n) for a word of n bytes.
    bytes       GPT-2 (encoder.py, bytes_to_unicode): bytes 33-126, 161-172 and 174-255 are spelled as the characters of
                these numbers, the other 68 in their order as U+0100 and up.
    scores      SentencePiece (bpe_model.cc): the pair whose text is the token of the highest score is merged, of equal
                scores the leftmost. Parts that are no token become their bytes, <0x00> to <0xFF>, or the unknown token.
    unigram     Kudo 2018, SentencePiece (unigram_model.cc): the sequence of tokens with the largest sum of scores. A
                character that is no token scores 10 below the least score; adjacent ones are one unknown token.
    WordPiece   BERT (tokenization.py): the longest token that begins the rest of the word; continuing pieces begin with
                ##. A word of more than 100 characters, or with a rest that has no token, is the unknown token.
    pre-tokenizers  the regular expressions of GPT-2 (encoder.py), of tokenizer.json of Llama 3 and Qwen 2, and of o200k of
                tiktoken, matched by hand-written code: >>text_split has each expression.
    (?i:'s)     matches ASCII letters only, not U+017F (which folds to s): llama.cpp and JavaScript agree.
    GGUF        keys and their defaults by llama.cpp (llama-vocab.cpp): NNRTI_TEXT_KEYS. Tokens that end a text: eos, eot and eom
                of the file, and control tokens with the texts of nnrti_text_ends.
    Unicode     tables of one version (tools/text/unicode.py, NNRTI_TEXT_UNICODE). Libraries with tables of another version
                split a text with newer characters otherwise.
    llama.cpp   differs in: GPT4O (its expression has no \p{M}), WordPiece (it removes all marks, and keeps Hangul syllables).

OPTIONS
    NNRT_NO_STDIO   no file I/O: without nnrt_tokenizer_load

LIMITS
    Texts have less than 2^30 bytes, files and vocabularies less than 2^31. tokenizer.json: parts that are not supported are
    refused by name, with NNRT_UNSUPPORTED_OP. Reading takes memory and time in proportion to the file. Encoding takes memory in
    proportion to the text, and time n log n; for unigram, the bytes of the text times the bytes of the longest token.

MIT license, see LICENSE.
*/
#ifndef NNRT_TEXT_H
#define NNRT_TEXT_H

#include "nnrt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_desc */

/* Bytes that belong to someone else, without a terminating 0. */
typedef struct nnrt_piece {
    const char *data;
    size_t bytes;
} nnrt_piece;

typedef struct nnrt_merge {
    nnrt_piece left, right;
} nnrt_merge;

/* The model: BPE by merges, BPE by scores, unigram, WordPiece. */
enum { NNRT_TOKENIZER_BPE, NNRT_TOKENIZER_SCORES, NNRT_TOKENIZER_UNIGRAM, NNRT_TOKENIZER_WORDPIECE };
/* The pre-tokenizer, see >>text_split. MARK: a word begins at each U+2581. SMOLLM: GPT2, and each numeral is a word. */
enum {
    NNRT_SPLIT_NONE,
    NNRT_SPLIT_GPT2,
    NNRT_SPLIT_LLAMA3,
    NNRT_SPLIT_QWEN2,
    NNRT_SPLIT_GPT4O,
    NNRT_SPLIT_BERT,
    NNRT_SPLIT_MARK,
    NNRT_SPLIT_SMOLLM,
    NNRT_SPLIT_END
};
/* A space before a fragment: none, always, unless it begins with one, the same only at the begin of the text. */
enum { NNRT_PREFIX_NONE, NNRT_PREFIX_ALWAYS, NNRT_PREFIX_MISSING, NNRT_PREFIX_FIRST, NNRT_PREFIX_END };
/* Bits of normalization, in the order in which they are applied. CHARSMAP: nnrt_tokenizer_desc.charsmap. CLEAN: control
   characters are removed, white space becomes a space. CHINESE: spaces around CJK ideographs. ACCENTS: NFD without
   nonspacing marks. BLANKS: white space becomes a space. SPACES: no space at the ends, and one instead of several. */
enum {
    NNRT_NORMALIZE_CHARSMAP = 1,
    NNRT_NORMALIZE_CLEAN = 2,
    NNRT_NORMALIZE_CHINESE = 4,
    NNRT_NORMALIZE_ACCENTS = 8,
    NNRT_NORMALIZE_LOWERCASE = 16,
    NNRT_NORMALIZE_NFC = 32,
    NNRT_NORMALIZE_SPACES = 64,
    NNRT_NORMALIZE_BLANKS = 128
};
/* Types of tokens, with the numbers of GGUF; 0 is NORMAL, too. The bits above are of added tokens: LEFT and RIGHT remove
   the white space on that side, WHOLE only matches between characters that are no letters, digits or _. */
enum {
    NNRT_TOKEN_NORMAL = 1,
    NNRT_TOKEN_UNKNOWN = 2,
    NNRT_TOKEN_CONTROL = 3,
    NNRT_TOKEN_USER = 4,
    NNRT_TOKEN_UNUSED = 5,
    NNRT_TOKEN_BYTE = 6,
    NNRT_TOKEN_LEFT = 16,
    NNRT_TOKEN_RIGHT = 32,
    NNRT_TOKEN_WHOLE = 64
};

#define NNRT_NO_TOKEN 0xFFFFFFFFu
#define NNRT_TEXT_MAX_AFFIXES 4

/* A tokenizer as plain data. Tokens and merges are spelled as in the file: with bytes as characters (byteLevel), or with
   U+2581 for a space. */
typedef struct nnrt_tokenizer_desc {
    int32_t kind;       /* NNRT_TOKENIZER_BPE, ... */
    int32_t split;      /* NNRT_SPLIT_NONE, ... */
    int32_t prefix;     /* NNRT_PREFIX_NONE, ... */
    uint32_t normalize; /* NNRT_NORMALIZE_... */
    bool byteLevel;     /* BPE: tokens of type NORMAL are spelled in GPT-2's characters for bytes */
    bool byteFallback;  /* a character without token becomes the tokens <0x00> to <0xFF> */
    bool ignoreMerges;  /* BPE: a word that is a token is this token, whatever its merges (Llama 3) */
    bool fuseUnknown;   /* BPE: adjacent unknown characters are one unknown token */
    bool spaces;        /* a space stays a space; false, and not byteLevel nor WORDPIECE: it becomes U+2581 */
    uint32_t unknown;   /* the unknown token; NNRT_NO_TOKEN: text without token is dropped */
    const nnrt_piece *tokens;
    const float *scores;      /* SCORES, UNIGRAM: of each token */
    const uint8_t *types;     /* of each token; NULL: all are NORMAL */
    uint32_t count;           /* of tokens, scores and types */
    const nnrt_merge *merges; /* BPE: by rank; a merge whose parts or result are no tokens is invalid */
    uint32_t mergeCount;
    nnrt_piece
        continuation;    /* WORDPIECE: begin of a piece within a word, "##"; empty: other pieces begin with U+2581 */
    nnrt_piece charsmap; /* precompiled_charsmap of SentencePiece */
    uint32_t before[NNRT_TEXT_MAX_AFFIXES], after[NNRT_TEXT_MAX_AFFIXES]; /* ids around a text: NNRT_TEXT_AFFIXES */
    uint32_t beforeCount, afterCount;
    uint32_t ends[NNRT_TEXT_MAX_AFFIXES]; /* ids that end a text or a message; nnrt_tokenizer_ends also knows some texts */
    uint32_t endCount;
    nnrt_piece chatTemplate; /* for nnrt_tokenizer_template */
} nnrt_tokenizer_desc;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_api */

/* A tokenizer: constant after creation, and shared by any number of threads. */
typedef struct nnrt_tokenizer nnrt_tokenizer;

/* AFFIXES: encoding adds the tokens before and after the text. SPECIAL: encoding finds control tokens in the text, so text
   of users must not be encoded with it; decoding writes them. */
enum { NNRT_TEXT_AFFIXES = 1, NNRT_TEXT_SPECIAL = 2 };

/* Builds a tokenizer from plain data, which it copies. allocator NULL: malloc. INVALID_PARAMETER: the error names the
   token, the merge or the member. */
NNRT_API NNRT_ReturnCode nnrt_tokenizer_create(nnrt_tokenizer **tokenizer, const nnrt_tokenizer_desc *desc,
                                               const nnrt_allocator *allocator, nnrt_error *error);
/* Begins a description by two texts of GGUF metadata, tokenizer.ggml.model and tokenizer.ggml.pre (NULL: none): kind, split,
   prefix, normalize, byteLevel, byteFallback, ignoreMerges; all else is 0, unknown is NNRT_NO_TOKEN. A reader then sets from
   tokenizer.ggml.: tokens, scores, token_type and merges; prefix to NONE if add_space_prefix is false; NORMALIZE_SPACES if
   remove_extra_whitespaces; charsmap with NORMALIZE_CHARSMAP; unknown, before and after. UNSUPPORTED_OP: the error names the
   text. */
NNRT_API NNRT_ReturnCode nnrt_tokenizer_gguf(nnrt_tokenizer_desc *desc, const char *model, const char *pre,
                                             nnrt_error *error);
/* Builds a tokenizer from a tokenizer.json (Hugging Face tokenizers). INVALID_MODEL: the file is damaged.
   UNSUPPORTED_OP: the error names the part that is not supported. */
NNRT_API NNRT_ReturnCode nnrt_tokenizer_load_json(nnrt_tokenizer **tokenizer, const void *data, size_t bytes,
                                                  const nnrt_allocator *allocator, nnrt_error *error);
/* Builds a tokenizer from the begin of a GGUF file, version 2 or 3, which must have all its keys; the tensors are not read.
   INSUFFICIENT_BUFFER: the keys go on behind `bytes`. INVALID_MODEL: the file is damaged, or has no tokenizer.
   UNSUPPORTED_OP: the error names the tokenizer or pre-tokenizer. */
NNRT_API NNRT_ReturnCode nnrt_tokenizer_load_gguf(nnrt_tokenizer **tokenizer, const void *data, size_t bytes,
                                                  const nnrt_allocator *allocator, nnrt_error *error);
#if !defined(NNRT_NO_STDIO) && !defined(NNRT_FIRMWARE)
/* Builds a tokenizer from a file: of GGUF, of which only the keys are read, or else tokenizer.json. Beside a file of that name
   tokenizer_config.json, if it exists, has the token that ends a text, and that file or chat_template.jinja the chat
   template. The files may be closed, changed or removed afterwards. INVALID_FILE: one cannot be read. */
NNRT_API NNRT_ReturnCode nnrt_tokenizer_load(nnrt_tokenizer **tokenizer, const char *path,
                                             const nnrt_allocator *allocator, nnrt_error *error);
#endif
/* Whether a token ends a text or a message, where a program stops generating: nnrt_tokenizer_desc.ends, or a control token
   of a known text such as "<|im_end|>". */
NNRT_API bool nnrt_tokenizer_ends(const nnrt_tokenizer *tokenizer, uint32_t id);
/* The chat template of the file, for nnrt_chat_recognize; it lives as long as the tokenizer. {NULL, 0}: none, as in
   tokenizer.json alone. */
NNRT_API nnrt_piece nnrt_tokenizer_template(const nnrt_tokenizer *tokenizer);
/* Frees a tokenizer; NULL is fine. */
NNRT_API void nnrt_tokenizer_destroy(nnrt_tokenizer *tokenizer);
/* The number of tokens: ids are below it. */
NNRT_API uint32_t nnrt_tokenizer_count(const nnrt_tokenizer *tokenizer);
/* The token of a text, as nnrt_token_text spells it, such as "<|eot_id|>"; NNRT_NO_TOKEN: none. */
NNRT_API uint32_t nnrt_tokenizer_find(const nnrt_tokenizer *tokenizer, const char *text, size_t bytes);
/* The bytes of a token: raw bytes with byteLevel, otherwise as in the file. {NULL, 0}: no such id. */
NNRT_API nnrt_piece nnrt_token_text(const nnrt_tokenizer *tokenizer, uint32_t id);
/* The type of a token without the bits of added tokens, NNRT_TOKEN_NORMAL, ...; 0: no such id. */
NNRT_API int32_t nnrt_token_type(const nnrt_tokenizer *tokenizer, uint32_t id);
/* Encodes a text. *count = the number of tokens, also if it exceeds the capacity of ids: INSUFFICIENT_BUFFER, and the
   first capacity ids are written. flags: NNRT_TEXT_... */
NNRT_API NNRT_ReturnCode nnrt_tokenize(const nnrt_tokenizer *tokenizer, const char *text, size_t bytes, uint32_t flags,
                                       uint32_t *ids, size_t capacity, size_t *count);

/* A text on its way from tokens: opaque. */
typedef struct nnrt_detokenizer {
    const nnrt_tokenizer *tokenizer;
    uint32_t flags, held; /* held: bytes that begin a character */
    char bytes[4];
    bool begun;
} nnrt_detokenizer;

/* Begins decoding. flags: NNRT_TEXT_SPECIAL. */
NNRT_API void nnrt_detokenizer_start(nnrt_detokenizer *d, const nnrt_tokenizer *tokenizer, uint32_t flags);
/* Bytes of text that one call of nnrt_detokenize writes at most. */
NNRT_API size_t nnrt_detokenizer_bytes(const nnrt_tokenizer *tokenizer);
/* Decodes one token. out receives whole characters: bytes that begin a character wait for the next token, and invalid
   ones become U+FFFD. INVALID_PARAMETER: no such id. INSUFFICIENT_BUFFER: nothing is decoded; nnrt_detokenizer_bytes
   suffice. */
NNRT_API NNRT_ReturnCode nnrt_detokenize(nnrt_detokenizer *d, uint32_t id, char *out, size_t capacity, size_t *bytes);
/* Ends a text: bytes that still wait become U+FFFD. Returns the number of bytes written to out, 0 or 3. */
NNRT_API size_t nnrt_detokenizer_end(nnrt_detokenizer *d, char out[3]);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_sampler */

/* All zero: the token of the largest logit. */
typedef struct nnrt_sampler_desc {
    uint64_t seed;
    float temperature;     /* logits are divided by it; 0: the largest logit is chosen, of equal ones the lowest id */
    int32_t topK;          /* of the largest logits; 0 = all */
    float topP;            /* the fewest tokens whose probabilities have at least this sum; 0 = all */
    float minP;            /* tokens with at least this part of the largest probability; 0 = all */
    float repeatPenalty;   /* of tokens in the window: logits above 0 are divided by it, others multiplied; 0 = 1 */
    float presencePenalty; /* subtracted from the logits of tokens in the window */
    uint32_t window;       /* the last tokens that penalties look at; 0 = 64 */
} nnrt_sampler_desc;

/* A choice of tokens with its history: opaque; one thread at a time. */
typedef struct nnrt_sampler nnrt_sampler;

/* Creates a sampler for `count` tokens. INVALID_PARAMETER: the error names the member. */
NNRT_API NNRT_ReturnCode nnrt_sampler_create(nnrt_sampler **sampler, const nnrt_sampler_desc *desc, uint32_t count,
                                             const nnrt_allocator *allocator, nnrt_error *error);
/* Restricts the choice to a list of continuations, each of which is ids; count 0: every token again. A continuation that
   begins another one should end with the token that ends a text, which otherwise is never chosen. */
NNRT_API NNRT_ReturnCode nnrt_sampler_allow(nnrt_sampler *sampler, const uint32_t *const *ids, const uint32_t *lengths,
                                            uint32_t count);
/* Chooses a token by the logits, one for each token, and adds it to the history. NaN and -Inf are never chosen. *id =
   NNRT_NO_TOKEN: the continuation is complete. INVALID_PARAMETER: no logit is left. The same seed, history and logits
   choose the same token on every machine. */
NNRT_API NNRT_ReturnCode nnrt_sample(nnrt_sampler *sampler, const float *logits, uint32_t *id);
/* Adds a token that was not chosen here, such as one of a prompt, to the history of the penalties. */
NNRT_API void nnrt_sampler_accept(nnrt_sampler *sampler, uint32_t id);
/* Returns to the state after creation; the list of continuations stays. */
NNRT_API void nnrt_sampler_reset(nnrt_sampler *sampler);
/* Frees a sampler; NULL is fine. */
NNRT_API void nnrt_sampler_destroy(nnrt_sampler *sampler);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_chat */

/* Chat templates: X(name, text). A file's template is recognized by texts in it, see >>text_chats. */
#define NNRT_CHATS(X)                                                                                                  \
    X(LLAMA2, "llama2")                                                                                                \
    X(LLAMA3, "llama3")                                                                                                \
    X(CHATML, "chatml")                                                                                                \
    X(GEMMA, "gemma")                                                                                                  \
    X(PHI3, "phi3")                                                                                                    \
    X(MISTRAL, "mistral")                                                                                              \
    X(ZEPHYR, "zephyr")
#define NNRTI_CHAT_VALUE(name, text) NNRT_CHAT_##name,
enum { NNRT_CHAT_NONE, NNRT_CHATS(NNRTI_CHAT_VALUE) NNRT_CHAT_END };

typedef struct nnrt_chat_message {
    const char *role; /* "system", "user" or "assistant" */
    nnrt_piece content;
} nnrt_chat_message;

/* Recognizes a chat template by its text (tokenizer.chat_template of GGUF, chat_template of tokenizer_config.json);
   NNRT_CHAT_NONE: it is none of the table. */
NNRT_API int32_t nnrt_chat_recognize(const char *text, size_t bytes);
/* The name of a chat template; NULL: none. */
NNRT_API const char *nnrt_chat_name(int32_t chat);
/* Writes messages as text, which is encoded with NNRT_TEXT_AFFIXES | NNRT_TEXT_SPECIAL; control tokens in contents are
   therefore found, too: a program removes them from texts of strangers. reply: the begin of the assistant's message
   follows. *bytes = the length, also if it exceeds capacity: INSUFFICIENT_BUFFER. INVALID_PARAMETER: the error names the
   role. */
NNRT_API NNRT_ReturnCode nnrt_chat_format(int32_t chat, const nnrt_chat_message *messages, uint32_t count, bool reply,
                                          char *out, size_t capacity, size_t *bytes, nnrt_error *error);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_pages */

/* Sequences of tokens in one cache, whose rows are pages (metadata "pages" of a model, nnrt_gguf_desc.cachePage): sequences that
   begin with the same tokens share their pages, and a page is copied when one of them writes it. All memory is allocated when
   the pages are created; the states of the session are the pool. A program writes a prompt once, and several sequences continue
   it:
       nnrt_pages_write(pages, 0, 0, prompt, &copy, &error), and a run with nnrt_pages_table(pages, 0)
       nnrt_pages_share(pages, 0, 1, prompt, &error)
       nnrt_pages_write(pages, 1, prompt, 1, &copy, &error), the copy, and a run with nnrt_pages_table(pages, 1)
   One thread at a time. */
typedef struct nnrt_pages nnrt_pages;

/* Rows of the states to copy, in each state: `rows` rows from row `from` on to row `to`; rows 0: none. */
typedef struct nnrt_page_copy {
    uint32_t from, to, rows;
} nnrt_page_copy;

/* Creates `count` pages of `rows` rows, and sequences without rows. */
NNRT_API NNRT_ReturnCode nnrt_pages_create(nnrt_pages **pages, uint32_t count, uint32_t rows, uint32_t sequences,
                                           const nnrt_allocator *allocator, nnrt_error *error);
/* Makes the rows first to first + count - 1 of a sequence writable, before the run that writes them: their pages are its own
   from then on, and the rows behind them are forgotten. *copy: the rows that the caller copies before that run.
   OUT_OF_MEMORY: too few pages are free; INVALID_PARAMETER: first is behind the rows of the sequence, or the rows exceed all
   pages. Then nothing has changed. */
NNRT_API NNRT_ReturnCode nnrt_pages_write(nnrt_pages *pages, uint32_t sequence, uint32_t first, uint32_t count,
                                          nnrt_page_copy *copy, nnrt_error *error);
/* Sequence `to` becomes the first `rows` rows of `from`, without a copy; rows 0: it becomes empty. */
NNRT_API NNRT_ReturnCode nnrt_pages_share(nnrt_pages *pages, uint32_t from, uint32_t to, uint32_t rows, nnrt_error *error);
/* The pages of a sequence, the input "pages" of the model: `count` numbers, of which those behind its rows are 0. NULL: there is no
   such sequence. Valid until the pages are destroyed; the next write or share changes it. */
NNRT_API const int32_t *nnrt_pages_table(const nnrt_pages *pages, uint32_t sequence);
/* The number of pages that no sequence has; the rows of a page. */
NNRT_API uint32_t nnrt_pages_available(const nnrt_pages *pages);
NNRT_API uint32_t nnrt_pages_rows(const nnrt_pages *pages);
/* Frees the pages; NULL is fine. */
NNRT_API void nnrt_pages_destroy(nnrt_pages *pages);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_TEXT_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_TEXT_IMPLEMENTED)
#define NNRT_TEXT_IMPLEMENTED

#include "nnrt_model.h" /* its implementation, if only its declarations were included so far */

#if !defined(NNRT_NO_STDIO) && !defined(NNRT_FIRMWARE)
#include <stdio.h>
#endif
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_unicode Characters. A tokenizer that needs a table unpacks it once: the packed rows take a quarter of the bytes
   of sorted arrays. */

/* Classes of characters: the general categories as far as pre-tokenizers need them. Other: unassigned. */
enum {
    NNRTI_TEXT_OTHER,
    NNRTI_TEXT_UPPER,  /* Lu, Lt */
    NNRTI_TEXT_LOWER,  /* Ll */
    NNRTI_TEXT_LETTER, /* Lm, Lo */
    NNRTI_TEXT_MARK,   /* Mn */
    NNRTI_TEXT_MARKS,  /* Mc, Me */
    NNRTI_TEXT_NUMBER,
    NNRTI_TEXT_PUNCTUATION,
    NNRTI_TEXT_SYMBOL,
    NNRTI_TEXT_SPACE,   /* White_Space */
    NNRTI_TEXT_CONTROL, /* Cc, Cf, Co, Cs that is no white space */
    NNRTI_TEXT_END      /* behind the text */
};

/* written by tools/text/unicode.py: begin */
#define NNRTI_TEXT_UNICODE "14.0.0"
static const char *const nnrti_text_classes_rows[] = {
    "b,a*R1A_)@O+@O*N-O)`)O)I5_)@}@J5}@}@R+AR5A}`*}P);}@BP*N)@:O)@>;}^)}Y3@Y+J4@J,9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9",
    ":9:9:9:9:9:9:9:9:9:9J)9:9:9:9:9:9:9:9J)9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:I):9:9Z)I):9:I):Y)J)I*:I):",
    "Y)Z)I):I):9:9:I):9J)9:I):Y):9:I)J);9Z)K*I):I):I):9:9:9:9:9:9:9:9J)9:9:9:9:9:9:9:9:9J)I):9:Y):9:9:9:9:9:9:9:9:9:9",
    ":9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9Z+I):I)J)9:I*:9:9:9:9ZJ);Z5K1P*K.P/[*`+;@;`0L`)9:9:;@9:H);Z)}9H*P)9}Y)898",
    "I):Y08Y,Z99J)Y)Z)9:9:9:9:9:9:9:9:9:9:9:9Z*9:@9:I)J)YAJ@9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:@~*M)9:9:9:9:9:9:9:9:9:",
    "9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:I):9:9:9:9:9:9J)9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:",
    "9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:8I;H);O+Z<O)H)`)8~>}<}L)}L)}<H,[5H*K*O)X-R+`)O)@O)P)~-}B_)[=~2N-O*K)<[Y)};~+",
    "B@L+K)L)@L*K)N-[)P);O/8B;<K7~5H)[T)~-;H/N-[8~,K)@_);H)<P)K3L*;~,;~);~*H)_/8[4~)H)}8[-X*K4@K+8R)H+L,K=L4BL8=KC<=<",
    ";])L,M*<M);~+K-L)O)N-}K0<M)8K,H)K)H)K38[+8;X)K*H)<;])L*H)M)H)M)<;H,=H*K)8[)L)H)N-K)P)N+P);}<H)L)=8K+H*K)H)K38[+8",
    "K)8K)8K)H)<8])L)H*L)H)~)X)<X+K*8;X+N-L)[)<}H-L)=8[,8[)8K38[+8K)8[*H)<;])~*8L)=8M)<H);X/K)L)H)N-}@X+;L+8<M)8K,H)",
    "K)H)K38[+8K)8[*H)<;=<=L*H)M)H)M)<X+L)=H*K)8[)L)H)N-@;N+H-<;8K+X)[)8K*X)K)8;8K)X)K)X)[)X)K.H*M)<M)X)])8])<H);H+=",
    "H/^.P,X*<])<K,8[)8[38K0H)<;~)M*8~)8L*X+L)8[)H);H)K)L)H)N-X+}^+@;<M)}K,8[)8[38K-8[*H)<;=<]*8<M)8M)L)X+M)H+K)8K)L)",
    "H)N-8K)X.L)M)[,8[)8[<L);])L*8])8])<;@H*[)=^+[)L)H)^1@K+8<M)8K1X)K48[,8;H)[+X)<H*])~)8<8M,H+N-H)M)}H.K@<K)~+H*@[+",
    "L,}N-O)X:K)8;8[*8K48;8K-<K)~,;H)[*8;8L+H)N-H)K*H8;`)_/@}`)L)P+N2@<@<@<O*M)K,8K:H*L/=~*}L)[*~-8L:8P,<P+8P)_*P*O)",
    "X:[=M)L*=L+=L)M)L);N-O+K+M)L)K*~);])K)]+[)L*[.<M)L)M+<;=N-])<P)I;89X*9H)Z=};Z)[L-8K*H)[+8;8K*H)[<8K*H)[88K*H)[+8",
    ";8K*H)[/8[D8K*H)[I)H)~)_,N2X)K0P-H+IS)H)J+H)}K^1@}[0AK5O)X)[M)_)^)K,X+K1~)=X,[1L)=O)X,K1L)H.[.8[)8L)H.KBL)=~+M,<",
    "M)~-_);_)@;<H)N-H+N-H+_-~)B<N-H+[T)X+[*L)K9<;X*KK)H-[78~)M*L)])H*M)<M+~)H*@X)O)N-K7H)[*X-K>H*K5H+^-X)P9[3L)M)<H)",
    "O)[B=<=~+8<=<M)L,M+L-H)<N-H+N-H+_+;O+H)L/=L0X@L*=[}<=~*=<]*<M)K,X)N-_+P-~,`,O)8L)=K7=L*M)L)=~)K)N-K><=L)])<=~)M)",
    "H,O*K:M,L,M)L)X)_*N-X)[)N-K:O)Z,X+Y=H)Y)O,H,~)}~.=~+K*<K+<K)=L);X*J>[GZ.;J9[:LH)9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:",
    "9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:",
    "9:9:9Z,9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9Z,I,J+H)",
    "I+H)J,I,J,I,J+H)I+H)J,89898989J,I,J/H)J,I,J,I,J,I,Z*8J)Y*@:`)Z)8J)Y*`)J*H)J)I*8`)J,Y*`)H)Z)8J)Y*P)8a-b*O4Q)b*AO2",
    "@_.@O.Ab*8R->;H)N+`)O);N-`)O)8[.X)`8X/~.M*<])L.X/P)9P*9P):Y)J)Y):@9`)Y*P+9@9@9@I*@:I*:K*:P)J)I)`*9J*P*:@^A9:^*P)",
    "H*Pd-O*`6O)Pf+X4`-X2NFPO)N3P~1O/N7`@O)`7O-`Q.O3`GO*P8O)Pc-H)P88`~)I@J@9:Y)J)9:9:9:I*:9J)9J+K)Y):9:9:9:9:9:9:9:9:",
    "9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9J)P+9:9:~)9:X*O*>O)J;8:X*:H)KD",
    "X+;}H/<[3X,[+8[+8[+8[+8[+8[+8[+8[+8L8_};O8P)O.H9P58`T)H.PS+H5P.H*A_)@K)>O-P)O.@^,L*M)}[*P)^)K)}P)8KS)H)L)P)[)}",
    "KU)}K*X*[=8KW)8P)N*P-K8P:H.K0`78N-P7N,@^/P8N-`;^/PH-KHO+PH)[Nb2X)`CX,K}O)[N,_)K0N-K)H29:9:9:9:9:9:9:9:9:9:9:9:9:",
    "9:9:9:9:9:9:9:9:9:9:;<])}L-};9:9:9:9:9:9:9:9:9:9:9:9:9:9:K)L)KK)N-L)O+H,`3[,P)9:9:9:9:9:9:9Z)9:9:9:9:9:9:9:9:9:9",
    ":9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:9:;J,9:9:I):9:9:9:9:;P)9:9:;9:9Z)9:9:9:9:9:9:9:9:9:9:Y*:Y*:9:9:9:9:9:9:",
    "9:I*:9:X*9:8:8:9:9:H4[)9:[):[+<[)<K*<[3M)L)=P*<X)N+P*H+KBO*H,M)KAM0L)H,O)N-H+L1K+_);}K)<N-K6L,O)[3~-M)X-}[6X)~)=",
    "[}<M)L*M)L)])_.8;N-H*O)[*<K-N-[*8[<L+M)L)M)L)X,[)<K,<=H)N-H)O*[3`);=<=KA<;~)K)L)[*L);<;H4[)O)[-=L)M)O)[)=<H-K+H)",
    "K+H)K+X,[+8[+8Z=@K*Z,;P)H*JP)[9M)<M)<M)}=<H)N-H+KZV-H.[3H*[@H*RHL,K_-H)K])H;Z+H.Z*X*;<K-@[.8[*8;8K)8K)8K^)`0H0",
    "[]-O)P0KH)H)KCX+@H8K.P*L0O-H+L0_98O/@}`)8}@O)H*[*8[K*H)B8_)@O+@O*N-O)`)O)I5_)@}@J5}@}@_+[T)X)K+H)K+H)K+H)[)X)`+8",
    "`+H-b)P)H)K.8K58[18K)8[/H)K/H9[e)X*_)H*^>X)`,^D`0N)`)8`.X)@X}`><HI*[6X)[@X/<^5H*K8N*X,K2>K,>X*K;~*X*K78}K:H*K,}",
    "^*H=I<J<KO)H)N-H+I:H*J:H*K<H,KBX-}Y-8Y/8Y+8I)8Z-8Z/8Z+8J)XI)[c,X,K3H-K,H4K+8K=8[,XJ)K+H);8K>8K)X);H)[38}N,[3P)^+",
    "[7H,^,H@[18K)X*^*K3N+X)}K5X*}HH)KDH*N)K)N0H)N};~)8L)X*L*K*8[)8[6H)~)H*<^,X+_,X+[6N)}[6^)H8K,@K6L)H*^*_+X,KCX)_+",
    "K3H)N,[1X*N,K1X+O*H.^+HP)[L)XCYAX.ZAX+N+K:L*H,N-H[,^78K=8L)}H)K)HO)[6N-;H,K3~-N*_*H3K1L*O*H;[2^+H2[3X,=<=[B~/_+",
    "H*N7<K)L);X,~)=[>])L*M)L)O)BO*<H-BH)[4X+N-H+~)K:~*=L,8N-O*;M);H,[9<O);X,L)=K@])~,M)K*O*L*}=<N-;};_)8N2X-K18[4])",
    "~)M)<=L)O+<XH)[+8;8K*8[/8K-}H+[}<])L,X*N-H+L)M)8K,H)K)H)K38[+8K)8[*8L);M)<M*H)M)H)])H);H+=X*[*M)H)~+X)~*XM*[B])",
    "L,M)~)=<K*_*N-O)8}<[)H7K@])L+=<M*L)=L)K)};H,N-H[*[}])L*H)M*L)=L)_3K*L)H9K@])L,M)<=L)_);X-N-H+_.X1[=<=<M)L+=<;}H+",
    "N-HC[5H)~)M)L*=~*H*N._)@[+Xd*K>])~,=L)}HZ)I8J8^1H.K,H);H)K,8K)8K4M+8M)H)L)=<;=;=<_)X,N-HK)K,H)[;])L*H)L)M*<;};=",
    "X5;L-K<L+=;L*O,<H,;L+M)~)K}~.=L)_);_*X.[L)XK,[,8[:=~+8L+=<;_*H-^6X)O)K7H)L38=~+=L)=L)XL)[+8K)8K;L+X)<8L)8~+;<H,",
    "N-H+K+8K)8K8]*8L)8M)<=<;X+N-Hc,[1L)M)O)Xc*;X/^2`6X.}KU6H[)^_)8_*X-KJ+HNQ)[X)O)X.[_88b,XKg)[K1XdN,[d0X+[78N-H*O)",
    "[O)8N-H+K7H)~*}H-K@~+_*P*K*}@H-N-8^+8[2X*[1H`2I8J8^3O*XZ)[M)H*<;]CX+L*[.HH)K)};<X-M)H/Kdg*H,KS;H=[,X[S,K*8[+8K)8",
    "[Y,X>[)X0K*H,KN.HJL)[])X*[.X)[,X+K-H)@L)}R*HVQ*L}H)~3X,Pb)HFPc+H-`;H)PFM)~)`)M+R,L,P)~+P7L*`FX2PI)~)@HU*N2H.`S)",
    "X,^4XK*I5J5I5Z+8J1I5J598I)H)9H)I)H)I*8I,J*8:8Z+8Z-I5J5I)8I*H)I,8Y+8J5I)8I*8Y*89X)Y+8J5I5J5I5J5I5J5I5J5I5J5I5J6H)",
    "Y4@Z4@J+Y4@Z4@J+Y4@Z4@J+Y4@Z4@J+Y4@Z4@J+9:H)NAPH0~CP*LAP,<P/<P)_*X/~*8~/HP9J-;J2XX+~+8~0H)~+8L)8~*XR+[>X)~+[+H)",
    "N-H*;@HH-K7<X0K>L*N-X*@HX;[+8K*8K)8[/8[J+H)^,~+X<I9J9~+;H*N-H*O)XP4^E@^)@N*HN)^>@^/HI+K*8[58K)8;H);8K-8K*8;8;H+;",
    "H*;8;8;8[)8K)8;H);8;8;8;8;8K)8;H)K*8[+8K*8K*8;8K-8[0X*[)8[*8[0HBP)HO,P>H*PZ)H.`/H)`/8`/8`:H-^.`X*HD`6X.P>H*`,X+",
    "P)H/P+HU*PT7X*P0X)`.X)Pb)H.`T)X+P.H*@X/P.H*PDH,P-H+P<H,P7H)P)HO)PR-H.P/H)`*X)`*X)`+X,`6X)`-X*P+H-P-H+P,H,`+X,`Q*",
    "8`CX:N-HK8KXc<H8[dH*X+KW+H)KIb*H/[`~+XWX)KW0HY}[MU*HcZe2BH7RX)HH*L`+HP`GRggGH)RggGH)",
    NULL};
static const char *const nnrti_text_lower_rows[] = {
    "I*H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*N+H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)",
    "H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H**H*)H*)H*)H*)H*)H*)H*J)***********************************************,***",
    "**+***************+**********************************************[/)*****,L5)****d4)**b4)b4)*+f,)~4)^4)**b4)f4*",
    "N5)J5)*,N5)R5*T5)******~5)**~5+**~5)**Z5)Z5)****^5)*,*0,)**,)**,)*****************+*****************+,)****K.)Y+",
    ")****************************************M0******************0^J=)**O2)XJ=+**O4)R,)V,)*********J1***,*1P//T**R*)",
    "R*)R**H,*f+)f+*H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H**H*)H*)H*)H*)H*)H*)H*)H*)H*L)81****************",
    "*******.a++**7)*+M0)M0)M0)H-)H-)H-)H-)H-)H-)H-)H-)H-)H-)H-)H-)H-)H-)H-)H-)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*",
    ")H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*Y)*********************************2*******************",
    "***********************************F)*************+*************************************************************",
    "**********************************+H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+",
    ")H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+Rb*HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)",
    "HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6)HN6*HN6.HN6[>HeS*)HeS*)HeS*)HeS*)",
    "HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)",
    "HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)",
    "HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)",
    "HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)HeS*)8)8)8)8)8)8cL*Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)",
    "Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)Id-)",
    "Id-)Id-)Id-+Id-)Id-)Id-I2***************************************************************************************",
    "**************************************************************2gc6**********************************************",
    "**************************************************29)9)9)9)9)9)9)919)9)9)9)9)939)9)9)9)9)9)9)919)9)9)9)9)9)9)919",
    ")9)9)9)9)949*9*9*919)9)9)9)9)9)9)9A9)9)9)9)9)9)9)919)9)9)9)9)9)9)919)9)9)9)9)9)9)919)9)],)],);4U-)U-)U-)U-);49)9",
    ")Q.)Q.59)9)I/)I/)74I0)I0)e/)e/);R1c]6,gS8)UL8/`)V)H))H))H))H))H))H))H))H))H))H))H))H))H))H))H))H)<*[A~))~))~))~)",
    ")~))~))~))~))~))~))~))~))~))~))~))~))~))~))~))~))~))~))~))~))~))~)Ya)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)",
    "H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+)H+Y)**Wg<)UV/",
    ")Wf<+******aI=)cg<)gI=)eI=**+*1gK=)gK=)*************************************************************************",
    "**************************1***-*VRF*********************************************<***************************P,**",
    "***********,*************************************************************3****QHM*)*********-**YZZ*+***,********",
    "************Q~Z*)g~Z*)_~Z*)K~Z*)Q~Z**MYZ*)]ZZ*)SYZ*)Hb))****************I+)O~Z*)YKM*)***/*.***E*Ta=H*)H*)H*)H*)",
    "H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*NN)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*",
    ")X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*Q,X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*",
    ")X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*)X*e,V*)V*)V*)V*)V*)V*)V*)V*)V*)V*)V**V*)V*",
    ")V*)V*)V*)V*)V*)V*)V*)V*)V*)V*)V*)V*)V**V*)V*)V*)V*)V*)V*)V**V*)V*S_)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)",
    "H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,)H,",
    "Vg*H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*IT=H*)H*)H*)H*",
    ")H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*)H*I]FL*)L*)L*)L*)L*)L*)L*)L*)",
    "L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*)L*",
    NULL};
static const char *const nnrti_text_marks_rows[] = {
    "IX)=N/(P/),d.(P/(`.)-d.)*R.),d.)*R.)3d.)-)),d.)0N/(X/(N/)+d.)+N/)*d.++N/),d.(N/(P/)*d.(N/(Q/)*R/(Q/)*R/(Q/)5N/O9",
    "-N/Z8d.),N/(d.)+N/(f.(d.).N/).d.)*N/(d.)*N/(f.(L/(N/(2(3(4(5(6(7(8(9(:)*;(<(=(>*}*@(A*N/(d.*:Y,0N/(F(G(H)H+C(D(E",
    "(F(G(H)(I)(J))*N/)*d.)-N/(d.)*N/(d.H)K)S./N/-,N/(d.(N/-*N/*d.)*N/(d.N*L)d)N/(d.)*N/(d.)*N/)+d.(N/)*d.(N/(d.)+N/(",
    "d.(N/(d.(N/(d.(N/(d.)*N/I2/N/(d.(N/:d.Y),N/+1N/++N/+-N/_*+d.`+N/)+d.),N/]*-N/)-d.)6N/*d.)*N/(d.)*N/(d.)+N/)+d.(C",
    "(D(E)+N/(d.)*N/)*d.)-N/`+/H)1.N/(d.)*N/V./H)1H+N/b+/H)1d./H)1d./H)1f/1d./H)16~*(c*R./H)1c.*1H)1`/1c.*O+(1C,S+a.*",
    "^+(1C,b+a,*d.^)d.*d.*`.V+I,(J,*L,3,J,,J,+*N/(1+*N/d+d.H//+*1L-d.gT)+N/Qc)*1d)1b11<N/^4L/f0f.(N/(d.^5N/(d.V,1Q)0",
    "N/,d.I+-N/).d.)*N/(d.+*d.)*N/)*d.)-N/(d.),N/R./F1T*N/(d.)/N/U+*1~+/}*1N,/Y1+N/*))-d.)*N/),d.(N/+/)0d.4N//*N/U4*",
    "N/(d.)/N/(d.)*N/(R/(^.(d.(R.)M)N/(P/)*L/(d.(b.(N/(Q/(d.(N/(d.IU)*N/)*)),N/)+))*N/0N//*)(N/(d.(N/)*)),d.(N/eg-+N/",
    "b01I.H)N/~J)b.(L/(P/(f.)*H/[.*0Peb)N/12N/I**N/I-*N/P91R*1V11_):N/[++d.R*1f-/@1f6N/+*N/(d.-*N/3*N/*N/P+1T71H[O)B",
    "KX)/N/)/d.)*N/bd)d.L6d.S1-N/LQ+d.*N/X*N/()(d.01R2N/(d.cK),N/O@*N/[1*d.)+N/(d.(N/),d.J+N/(d.(N/(d.H41Z*1D1Z+1(/S,",
    "+N/I+*1d+/`,1:/~.1(/L3/(1I-*/H)1Y)/N//-N/b41./V)N/N.1(/^71(/d/1T/1(/N/1b81(/M8*10/`11N-1L)1J-1RB1L8/+*1J-1Y]N)-)",
    "_+/N/[S**.`RN))UT2*`.)+).J/)-`.90d.--N/)*d.e),N/Q1+N/_c./N/+9N/-/N/+*N/+-N/S8/N/V}N/c+,N/If*/d.c..N/(/",
    NULL};
static const char *const nnrti_text_parts_rows[] = {
    "I@I*H@-I*I@-I*J@-I*K@-I*P@-I*R@1K*OA-M*H@-M*I@-M*J@-M*P@-Q*H@-Q*I@-Q*J@-Q*P@1V*K@-W*H@-W*I@-W*J@-W*K@-W*P@5]*H@-",
    "]*I@-]*J@-]*P@-a*I@5I+H@-I+I@-I+J@-I+K@-I+P@-I+R@1K+OA-M+H@-M+I@-M+J@-M+P@-Q+H@-Q+I@-Q+J@-Q+P@1V+K@-W+H@-W+I@-W+",
    "J@-W+K@-W+P@5]+H@-]+I@-]+J@-]+P@-a+I@1a+P@-I*L@-I+L@-I*N@-I+N@-I*PA-I+PA-K*I@-K+I@-K*J@-K+J@-K*O@-K+O@-K*T@-K+T@",
    "-L*T@-L+T@5M*L@-M+L@-M*N@-M+N@-M*O@-M+O@-M*PA-M+PA-M*T@-M+T@-O*J@-O+J@-O*N@-O+N@-O*O@-O+O@-O*OA-O+OA-P*J@-P+J@5",
    "Q*K@-Q+K@-Q*L@-Q+L@-Q*N@-Q+N@-Q*PA-Q+PA-Q*O@9R*J@-R+J@-S*OA-S+OA1T*I@-T+I@-T*OA-T+OA-T*T@-T+T@=V*I@-V+I@-V*OA-V+",
    "OA-V*T@-V+T@9W*L@-W+L@-W*N@-W+N@-W*S@-W+S@5Z*I@-Z+I@-Z*OA-Z+OA-Z*T@-Z+T@-[*I@-[+I@-[*J@-[+J@-[*OA-[+OA-[*T@-[+T@",
    "-~*OA-~+OA-~*T@-~+T@5]*K@-]+K@-]*L@-]+L@-]*N@-]+N@-]*R@-]+R@-]*S@-]+S@-]*PA-]+PA-_*J@-_+J@-a*J@-a+J@-a*P@-b*I@-",
    "b+I@-b*O@-b+O@-b*T@-b+T@Q,W*c@-W+c@a)]*c@-]+c@]+I*T@-I+T@-Q*T@-Q+T@-W*T@-W+T@-]*T@-]+T@-d.L@-d/L@-d.I@-d/I@-d.T@",
    "-d/T@-d.H@-d/H@1L.L@-L/L@-N9L@-O9L@-N.L@-N/L@5O*T@-O+T@-S*T@-S+T@-W*PA-W+PA-R7L@-S7L@-_5T@-Z<T@-R+T@9O*I@-O+I@5",
    "V*H@-V+H@-M.I@-M/I@-N.I@-N/I@-`.I@-`/I@-I*W@-I+W@-I*Y@-I+Y@-M*W@-M+W@-M*Y@-M+Y@-Q*W@-Q+W@-Q*Y@-Q+Y@-W*W@-W+W@-W*",
    "Y@-W+Y@-Z*W@-Z+W@-Z*Y@-Z+Y@-]*W@-]+W@-]*Y@-]+Y@-[*NA-[+NA-~*NA-~+NA5P*T@-P+T@EI*O@-I+O@-M*OA-M+OA-^.L@-^/L@-].L@",
    "-]/L@-W*O@-W+O@-V9L@-W9L@-a*L@-a+L@^I)H@.I@2[@/P@I@J.a=R)c)EP-I@-YDI@._--]DI@-_DI@-aDI@1gDI@1MEI@-QEI@-RFI@Q+aD",
    "P@-MEP@-YEI@-]EI@-_EI@-aEI@-SFI@Q+aEP@-MFP@-gEI@-MFI@-QFI@=ZFI@-ZFP@Y-]H)H@-]H)P@1[H)I@9NH)P@=bH)I@-`H)H@-KI)N@",
    "U)`H)N@I,`I)N@e*]I)H@-]I)P@1[I)I@9^J)P@=bI)I@-`I)H@-KJ)N@I+~K)W@-]K)W@Q1^H)N@-^I)N@a)XH)N@-XI)N@-XH)P@-XI)P@5]H)",
    "N@-]I)N@5`N)P@-aN)P@-^H)P@-^I)P@-_H)P@-_I)P@5`H)L@-`I)L@-`H)P@-`I)P@-fH)P@-fI)P@5PO)P@-QO)P@-UI)P@-UJ)P@-KI)L@-",
    "KJ)L@-KI)P@-KJ)P@-KI)S@-KJ)S@-OI)P@-OJ)P@5SI)P@-SJ)P@MM)OY)[Z)-OY)~Z)-PZ)~Z)-OY)]Z)-RZ)~Z)Q;]^)~Z)1I^)~Z)M*Z^)",
    "~Z)aR*PQ*dQ*I)XQ*dQ*5[Q*dQ*[,]P*dQ*/^P*dQ*/_P*dQ*/dP*dQ*/IQ*dQ*/JQ*dQ*/SQ*dQ*/WQ*dQ*Y5OV*fU*-OV*_V*K*IU*dU*/JU*",
    "dU*3WU*dU*[2ZY*dY*7`Y*dY*W,^X*dY*/_X*dY*/dX*dY*7SY*dY*QEOb*^b*5Ob*fa*-Ob*_b*K*Ia*da*/Ja*da*e.Zd*_f*a.Nf*fe*-Of*",
    "fe*-Nf*_f*Y7NJ+^J+I7gM+]N+ENN+]N+-NN+^N+1NN+JN+-RN+]N+e7NR+fQ+-OR+fQ+-NR+_R+a9aV+RV+1aV+WV+-dV+RV+-aV+gV+_T)Jb+",
    "_e+S)Tb+_e+}Yb+_e+}^b+_e+}cb+_e+_)Hb+]e+S)Yc+Zc+3Yc+~c+/Ze+Hd+3[e+Hd+O)Yc+Hd+S*Zd+_e+S)dd+_e+}Ie+_e+}Ne+_e+}Se+",
    "_e+_)Xd+]e+]5MI,VI,Id2M`.]a.1O`.]a.1Q`.]a.1S`.]a.1U`.]a.9Y`.]a.M-ba.]a.1da.]a.5fa.]a.-ga.]a.1Jb.]a.]_*I*MA-I+MA-",
    "J*O@-J+O@-J*KA-J+KA-J*YA-J+YA-O.I@-O/I@-L*O@-L+O@-L*KA-L+KA-L*YA-L+YA-L*OA-L+OA-L*UA-L+UA-Z0H@-[0H@-Z0I@-[0I@-M*",
    "UA-M+UA-M*XA-M+XA-P9N@-Q9N@-N*O@-N+O@-O*L@-O+L@-P*O@-P+O@-P*KA-P+KA-P*P@-P+P@-P*OA-P+OA-P*VA-P+VA-Q*XA-Q+XA-W.I@",
    "-W/I@-S*I@-S+I@-S*KA-S+KA-S*YA-S+YA-T*KA-T+KA-^Y/L@-_Y/L@-T*YA-T+YA-T*UA-T+UA-U*I@-U+I@-U*O@-U+O@-U*KA-U+KA-V*O@",
    "-V+O@-V*KA-V+KA-V*YA-V+YA-V*UA-V+UA-].I@-]/I@-].P@-]/P@-T2H@-U2H@-T2I@-U2I@-X*I@-X+I@-X*O@-X+O@-Z*O@-Z+O@-Z*KA-",
    "Z+KA-bZ/L@-cZ/L@-Z*YA-Z+YA-[*O@-[+O@-[*KA-[+KA-b2O@-c2O@-H3O@-I3O@-J[/O@-K[/O@-~*O@-~+O@-~*KA-~+KA-~*YA-~+YA-~*",
    "UA-~+UA-]*LA-]+LA-]*XA-]+XA-]*UA-]+UA-P3I@-Q3I@-R3P@-S3P@-^*K@-^+K@-^*KA-^+KA-_*H@-_+H@-_*I@-_+I@-_*P@-_+P@-_*O@",
    "-_+O@-_*KA-_+KA-`*O@-`+O@-`*P@-`+P@-a*O@-a+O@-b*J@-b+J@-b*KA-b+KA-b*YA-b+YA-P+YA-~+P@-_+R@-a+R@1g3O@=I*KA-I+KA-",
    "I*Q@-I+Q@-J.I@-J/I@-J.H@-J/H@-J.Q@-J/Q@-J.K@-J/K@-H]/J@-I]/J@-J0I@-K0I@-J0H@-K0H@-J0Q@-K0Q@-J0K@-K0K@-H]/N@-I]/",
    "N@-M*KA-M+KA-M*Q@-M+Q@-M*K@-M+K@-R.I@-R/I@-R.H@-R/H@-R.Q@-R/Q@-R.K@-R/K@-`]/J@-a]/J@-Q*Q@-Q+Q@-Q*KA-Q+KA-W*KA-W+",
    "KA-W*Q@-W+Q@-~.I@-~/I@-~.H@-~/H@-~.Q@-~/Q@-~.K@-~/K@-T^/J@-U^/J@-H5I@-I5I@-H5H@-I5H@-H5Q@-I5Q@-H5K@-I5K@-H5KA-I5",
    "KA-]*KA-]+KA-]*Q@-]+Q@-W5I@-X5I@-W5H@-X5H@-W5Q@-X5Q@-W5K@-X5K@-W5KA-X5KA-a*H@-a+H@-a*KA-a+KA-a*Q@-a+Q@-a*K@-a+K@",
    "EYE[@-YE~@-H`/H@-I`/H@-H`/I@-I`/I@-H`/JB-I`/JB-YD[@-YD~@-P`/H@-Q`/H@-P`/I@-Q`/I@-P`/JB-Q`/JB-]E[@-]E~@-X`/H@-Y`/",
    "H@-X`/I@-Y`/I@5]D[@-]D~@-``/H@-a`/H@-``/I@-a`/I@5_E[@-_E~@-Ha/H@-Ia/H@-Ha/I@-Ia/I@-Ha/JB-Ia/JB-_D[@-_D~@-Pa/H@-",
    "Qa/H@-Pa/I@-Qa/I@-Pa/JB-Qa/JB-aE[@-aE~@-Xa/H@-Ya/H@-Xa/I@-Ya/I@-Xa/JB-Ya/JB-aD[@-aD~@-`a/H@-aa/H@-`a/I@-aa/I@-",
    "`a/JB-aa/JB-gE[@-gE~@-Hb/H@-Ib/H@-Hb/I@-Ib/I@5gD[@-gD~@-Pb/H@-Qb/H@-Pb/I@-Qb/I@5MF[@-MF~@-Xb/H@-Yb/H@-Xb/I@-Yb/",
    "I@-Xb/JB-Yb/JB1ME~@1ab/H@1ab/I@1ab/JB-QF[@-QF~@-Hc/H@-Ic/H@-Hc/I@-Ic/I@-Hc/JB-Ic/JB-QE[@-QE~@-Pc/H@-Qc/H@-Pc/I@-",
    "Qc/I@-Pc/JB-Qc/JB-YEH@.TE-]EH@.UE-_EH@.VE-aEH@.WE-gEH@.TF-MFH@.UF-QFH@.VF5H`/MB-I`/MB-J`/MB-K`/MB-L`/MB-M`/MB-",
    "N`/MB-O`/MB-P`/MB-Q`/MB-R`/MB-S`/MB-T`/MB-U`/MB-V`/MB-W`/MB-Ha/MB-Ia/MB-Ja/MB-Ka/MB-La/MB-Ma/MB-Na/MB-Oa/MB-Pa/",
    "MB-Qa/MB-Ra/MB-Sa/MB-Ta/MB-Ua/MB-Va/MB-Wa/MB-Hc/MB-Ic/MB-Jc/MB-Kc/MB-Lc/MB-Mc/MB-Nc/MB-Oc/MB-Pc/MB-Qc/MB-Rc/MB-",
    "Sc/MB-Tc/MB-Uc/MB-Vc/MB-Wc/MB-YEN@-YEL@-Xc/MB-YEMB-TEMB1YEJB-^e/MB-YDN@-YDL@-YDH@.ND-YDMB2aE5P-JB-~c/MB-_EMB-VE",
    "MB1_EJB-Nf/MB-]DH@.PD-_DH@.QD-_DMB-ge/H@-ge/I@-ge/JB-aEN@-aEL@-RFH@.XD5aEJB-RFJB-aDN@-aDL@-aDH@.RD1fg/H@-fg/I@-",
    "fg/JB-MFN@-MFL@-SFH@.XE-IF[@-IF~@-MFJB-SFJB-MEN@-MEL@-MEH@.VD-IE~@-P-H@.MD.H+5dc/MB-QFMB-VFMB1QFJB-^g/MB-gDH@.TD",
    "-QEH@.WD-QEMB.~-6JH0.KH0^L)QE:S*.M.e5XT0`A-ZT0`AU*~T0`Ae+XV0`A-~V0`A-ZV0`A].KX0`A=PX0`A5SX0`AI+KY0`A1MY0`AU+dY0",
    "`A5KZ0`A5MZ0`A1PZ0`Ae*e)`A1I[0`AU)UZ0`A-d)`A-f)`A-L[0`A-M[0`A5Z[0`A-[[0`A5^[0`A-_[0`AEb[0`A-c[0`A5J~0`A-K~0`A5",
    "N~0`A-O~0`AU,J]0`A-P]0`A-Q]0`A-S]0`AM.d[0`A-e[0`A-Y~0`A-Z~0`AEZ]0`A-[]0`A-~]0`A-]]0`AZ/PH4.QH4S^/e^2`AIV-SJ4aL41",
    "UJ4aL41WJ4aL41YJ4aL41[J4aL41]J4aL41_J4aL41aJ4aL41cJ4aL41eJ4aL41gJ4aL41IK4aL45LK4aL41NK4aL41PK4aL4EWK4aL4-WK4bL41",
    "ZK4aL4-ZK4bL41]K4aL4-]K4bL41`K4aL4-`K4bL41cK4aL4-cK4bL4e*NJ4aL4Q)eL4aL4a)SM4aL41UM4aL41WM4aL41YM4aL41[M4aL41]M4",
    "aL41_M4aL41aM4aL41cM4aL41eM4aL41gM4aL41IN4aL45LN4aL41NN4aL41PN4aL4EWN4aL4-WN4bL41ZN4aL4-ZN4bL41]N4aL4-]N4bL41`N4",
    "aL4-`N4bL41cN4aL4-cN4bL4e*NM4aL45WO4aL4-XO4aL4-YO4aL4-ZO4aL49eO4aL4RHP.PJK).~_A.R^K).PNK).Y^C.ZY;.Mg<.ddO).ddO).",
    "YR>.YVL).OT=.PR>.^W@.Q[E.MdG.gYI).beI).`OJ).WLL).JXB.cPC.aND.ffD.eII).RSL).YWN).J~;.]c<.L`B.cXD.UYI).fXO).XR}.",
    "SgC.UVI).LSJ).Q^@.`VH).gHJ).R^}._`A.RSC.d_D.VNL).Nd;._U<.f^<.LNA.[^B.XXD.O_E.IHH).NXI).dZI).WWK).ZaM).WcN).bWO).",
    "TLF.gSF.HUG.QfH).L`L).g[O).^^J).gN>.L`}.HKG.fKH).J[D.RNF.JNK).__M).`N>.JK}.[XB.bVC.W`C.WQG._YG.SZM).Z^<.SLH).dV<",
    ".TV<.dXF.fUG.YgH).][M).HdJ).W^@.JXB.f_J).aY;.Og>.ZH@.OdD.XSE._`<.cOF.ge;.Qe}.UX;.TNC.`SA.JQG.Kf<.fJ>.I`E.QJI).",
    "R]J).beB.XeK).PLC.f_@.M_H).He@.MSE.V];.QS<.QV<.ILB.OOG.W[H).Z^J).WVL).]_<.JJ=.[S>.T_}.MVA.fgC.RQF.UUM).R[N)._~O)",
    ".V^O).c~<.N^A._cB.JcK).~[}.XT@.HX@.bLA.KaC.QRD.QLE.RVF.~WG.WKH).NaK).VOI).KIL).RbL)._X<.K]<.eM=.PND.JNJ).R]J).",
    "Q^}.]g}.cc@.VeB.fIG.]cD.L_;.a_=.Og>.bU}.dH@.ZeD.QKE.bdG.NJH).~YL).^_M).PbM).`HN).Sd;.VUF.~UL).`]M).IO@.N~;.bN<.",
    "Vg>.gI}.aTA.JXB.VVD.JZE.dOI).dKL).UdO).P~A.VYM).Q~<.ccA.[gA.IRC.d~C.QHE.aRE.SKF.XPG.fJN).US<.VY@.`[M).SI<.aP}.",
    "RWC.RaK).Sd}.LR@._HB.OdD.N~M).QY<.WH=.MK}.[XA.VbA.PMB.MOC.NHE.JWE.acG.WNJ).IOJ).TVL).J_M).ga<.b]C.eH=.XVD.`LE.",
    "bWI).K]M)._JO).g~O)._dA.SVC.PWH).S^F.HaF.ZLG.H^D.aLD.`bJ).H^;.^aH).bY<.OX<.N]}.[^@.^NG.Md>.fPC.~]A.caK).TJJ).",
    "UZM).STJ).[^}.HR<.HV=6bJ>2~[A6fV<.RaD.R^E.dQF.fRF.MSF.WTF.^bM).fMG.eeG2ZXI)2`_J)6`IL).eOL):WON).dON).PQN).~UO).",
    "fNL)._]M).Ve;.OO<.UR<.Q^<.L_<.Yb<.eT=.NX=.P[=.HJ>.PM>.LK}.VK}.~L@.PS@.VT@.ZW@.WRA.JWA.Y~A.MLB._SC.bXC.JaC.VSD.",
    "SYD.JIE.YLF.fQF.QRF.PRF.XRF.^RF.eRF.UTF.VTF.HZF.I~F.HfF.~WG.QXG.IZG.ZcG.MHH).UWH).a[H).a[H)._JI).XPJ).^TJ).I`J).",
    "aaJ).[NK).PPK).^eK).`IL).K_M).ggM).cIN).]K@.V_X,.`XH)6NY;.]U<.PS<.Hd;.MR<.HT<.O^<.b_<.eT=.]R=.aT=.JW=.bJ>.[M>.",
    "LR>.~R>.J[>.Pa>.Z^}.a^}.Qc}.Ue}.`N@.VR@.PP@.VT@.HS@.ZW@.~Y@.Lf@.dHA.ZJA.^RA.~[A._`A.c`A.^bA.acB.beB.IRC.c^C.S^C.",
    "JaC.fHD.VSD.OeE.]YD.W]D.RaD.YKE.NPE.cQE.eXE.gXE.R^E.c^E.~_E.RbE.HbE.TNF.Y]F.HfF.cKG.cRG.~WG.faG.MHH).ZbH).WgH).",
    "acI).IRJ).NTJ).^TJ).g]J).`_J).S^J).I`J).f_J).U_J).aaJ).RdJ).PPK).`aK).ZKL).aTL).^[L).d[M).K_M).^bM).cfM).ggM).",
    "SHN).cIN).Z`N).ddO).RJR,.LJR,.]fT,.ed6.`H8.aI8.QZ~,.XN_,.[^g,.KbO).VdO)[0aV)~U)3ZW)_U)W)QW)IV)/QW)JV)/Qbf)IV)/",
    "Qbf)JV)/XV)_U)/XV)`U)/XV)dU)/YV)dU)/ZV)dU)/[V)dU)/~V)dU)/]V)dU)/^V)dU)3`V)dU)/aV)dU)/bV)dU)/cV)dU)/dV)dU)3fV)dU)",
    "3HW)dU)/IW)dU)3KW)dU)/LW)dU)3NW)dU)/OW)dU)/PW)dU)/QW)dU)/RW)dU)/]V)aU)/YV)gU)/cV)gU)/LW)gU)YQ=aLL*bML*1cLL*bML*",
    "e)MML*bML*U8YQL*OQL*-ZQL*OQL*YK*ObL*faL*-ObL*_bL*eU)aMM*bMM*-aMM*XMM*1aMM*eMM*YG`UM*WUM*-aUM*WUM*]W+]QN*XQN*cL`-",
    "_R~+MS~+/`R~+MS~+/gR~+VS~+/gR~+WS~+/gR~+XS~+/gR~+YS~+/gR~+ZS~+g2aU~+MS~+/bU~+MS~+/cU~+VS~+/dU~+VS~+/cU~+WS~+/",
    "dU~+WS~+JPN1eY;.`Y;.IZ;.JQH,.Hc;.Ve;.ce;.JH<.bK<.aL<.OO<.WN<.fL5.bYI,.UR<.~R<.LS<._S<.dPI,.aM5.OS<.UT<.SRI,._T<.",
    "LU<.T^;.TU<.]U<.gVL-.]W<.KX<.gN5.cY<.NZ<.Z[<._[<.]P5.O^<.Q^<.L_<.b_<.M`<.N`<._`<.Qb<.Yb<.bb<.[c<.ec<.gc<.gc<.gc<",
    ".TYJ,.XKD.Rf<.gf<.KcJ,.Sg<.Yg<.NH=.fL=.`I=.PJ=.PK=.JM=.^O=.XP=.[R=.KS=.LT=.LT=.aT=.SU=.[U=.JV=.^`=.NX=._`=.YZ=.",
    "~[=.OX<.VO>.Vf=.~g=.UH>.Sd=.ZI>.YI>.TM>.LOM,.ZO>._O>.NP>.bP>.JQ>.JS>.P]M,.R_M,.TW>.cX>.OY>.`V>.N[>.V_5.d_5.P`>.",
    "fa>.fa>.PVN,.Kf>.`f>.Og>.[g>.``N,.gg>.NH}.[b}.JI}.Id5.HK}.VK}.HN}.UL}.LWO,.KR}.NWO,.VS}.SS}.dS}.IW}.JW}.WI6.eW}.",
    "PY}.eY}.Q[}.JK6.KTP,.dK6.X]}.[]}.^]}.R^}.ZdP-.f_}.YaP,.YaP,.IXH).Ja}.Ja}.ON6.`]T,.bV`,.Jc}.Sc}.KO6.bd}.Uf}._f}.",
    "ag}.IL@.bQ6.dP6.~L@.~^Q,.ON@.PR@.TR@.VR@.TR@.bS@.VT@.ZU@.LU@.WU@.fV@.ZW@.^W@.XX@.cX@.eZ@.Y]@.~^@.Xb@.T`R,.ea@.",
    "d_@.Pc@.Kd@.Lg@.YgR,.JIA.Mf@.Qe@.VY6.QKA.fKA.eLA._KA.T[6.WRA.TSA.RHT,.KWA.`_A.QZA.a`6.Y~A.P`6.L_6.ZT<.]T<.H`A.",
    "d~A.UMH).af8._`A.c`A.IaA.fbA.[bA.KfT,.Qb6.bgA.MdA.ZJB.MLB.UKU,.VLB.gHB.~PB.ed6.JRB.KUB.RWB.P]B.K]U,.c^B.`H7.IaB.",
    "OMV,.~bB.VJ7.ZcB.gdB.beB.ceB.U~V,.SPO,.b_V,.VJC.dMW,.gMC.UNC.OKC.^PC.fQC._SC.IRC.QSC.`SC.MTC.fPW,.~QC.WYC.V[C.",
    "[Q7.S^C.O^C.Y^W,.aWC.VcC.fbW,.VdW,.NfC.aID.fHD.cHD.^T7.RJD.eKD._KD.UMD.MQI,.MRD.K[X,.dTD.SeX,.PYD.]YD.XZD.PXY,.",
    "H~D.]~D.]aY,.~HZ,.bcD.SdD.T]7.MeD.`]7.`]7.OJE.dJE.YKE.MLE.RNE.c`7.LQE.^I[,.fQE.ZL[,.XSE.gTP,.XXE.Ie[,.`e[,.LJ~,.",
    "dg7.PH8.~_E.[O~,.ZO~,.aP~,.[Q~,.f`E.g`E.g`E.RbE.aI8.SdE.NJ8.^L8.eH],.VJF.TLF.TNF.KO8.NY],.^RF.b~],.M^],.WTF.SWF.",
    "WQ8.HZF.RZF.WZF.dS^,.O]^,.O]^,.V_F.JX8.Se^,.NfF.QfF.OY8.HL_,.ZNG.H]8.POG.KOG.HPG.Nd_,.KSG.I`8.OVG.JXG.MZG.~a8.",
    "PY`,.OZ`,.ab8.a^`,.bcG.fa`,.]dG.bgG.MHH).bNa,.KQa,.HKH).PUa,.XKH).gbT,.]f8.ZMH).KPH).SH9.fQH).]]>.Oea,.]ea,.[dT,",
    ".ddT,.IXH).LXH).fdK).SK9.Y~H).S~H).e~H).[]<.Y]H).[]H).e]H).N_H).dab,.M_H).e`H).KcH).UeH).KaH).eeH).OgH)._JI).",
    "[bH).RfH).TfH).dfH).^Ic,.SSc,.]Nc,.SQ9.YOI).[OI).^PI).Rfd,.LSI).Tac,.eR9.IS9.Yec,.ZNd,.SS9.XZI).dZI).O[I).Q[I).",
    "Q]I).P~I).V`I).J_I).acI).PaI).ScI).NdI)._V9.IgI).IHJ).aW9.HKJ).KKJ).O[e,._NJ).fNJ).]Y9.bOJ).cM5.VMf,.NSf,.f]9.",
    "O^9.H]J).U_J).RdJ).]JK).PMg,.SMK).INK).cPK)._SK).Wag,.LHJ,.SVK).dUK).XWK).fNJ,.~^K).`aK).ZVI-.UWI-.~LL).YOL).",
    "YPL).VaI-.cPL).`YL)._^L).`^L).d[L).agL).]HM).bgJ-.STM).]T:._UM)._SK-.NW:.K^M).ZU}.KaM).MRL-.bXL-.V[:.^[:.HgM).",
    "RHM-.Z]:.^LM-.SHN).SHN).QIN).^UM-.JON).[a:.QQN).OUN).JVN).fWN).Vf:.XaN-.Z`N).HJO).eOO).VN;.UO;.OSO).VNP-.`O;.",
    "MPP-.VXP-.Y~P-.c]O).^R;.a_O).f_O).M`O).W`O).^`O).caO).HXQ-",
    NULL};
/* written by tools/text/unicode.py: end */

/* Unpacks rows of numbers, see tools/text/unicode.py. */
typedef struct nnrti_text_rows {
    const char *const *row;
    const char *at;
} nnrti_text_rows;

static bool nnrti_text_more(nnrti_text_rows *r)
{
    if (*r->at == '\0' && r->row[1] == NULL)
        return false;
    if (*r->at == '\0')
        r->at = *++r->row;
    return true;
}

static uint32_t nnrti_text_number(nnrti_text_rows *r)
{
    uint32_t value = 0, digit = 32;
    for (uint32_t shift = 0; digit >= 32 && nnrti_text_more(r); shift += 5) {
        const char c = *r->at++;
        digit = (uint32_t)(c == '}' ? '?' : c == '~' ? '\\' : c) - 40;
        value |= (digit & 31) << shift;
    }
    return value;
}

static nnrti_text_rows nnrti_text_rows_of(const char *const *rows)
{
    nnrti_text_rows r;
    r.row = rows;
    r.at = rows[0];
    return r;
}

/* A canonical decomposition of one step; second 0: a single character. */
typedef struct nnrti_text_parts {
    uint32_t whole, first, second;
    bool excluded; /* it is never composed */
} nnrti_text_parts;

/* Unpacked tables; NULL: not needed. Runs are sorted by their first character. */
typedef struct nnrti_text_unicode {
    uint32_t *classes; /* first << 4 | class, of each run */
    uint32_t *lower;   /* pairs: character, lower case */
    uint32_t *marks;   /* triples: first, behind the last, combining class */
    nnrti_text_parts *parts;
    uint32_t *pairs; /* hash table of indices of parts + 1, by first and second */
    uint32_t nClasses, nLower, nMarks, nParts, pairMask;
} nnrti_text_unicode;

static uint32_t nnrti_text_mix(uint32_t a, uint32_t b)
{
    uint64_t x = ((uint64_t)a << 32 | b) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(x >> 32) ^ (uint32_t)x;
}

/* The least power of two that is at least 3 / 2 of n, minus 1: the mask of a hash table for n entries. */
static uint32_t nnrti_text_mask(uint32_t n)
{
    uint32_t size = 4;
    while (size / 3 < n / 2 + 1)
        size *= 2;
    return size - 1;
}

static uint32_t nnrti_text_count(const char *const *rows)
{
    nnrti_text_rows r = nnrti_text_rows_of(rows);
    uint32_t count = 0;
    for (; nnrti_text_more(&r); count++)
        (void)nnrti_text_number(&r);
    return count;
}

static bool nnrti_text_unpack_classes(nnrti_text_unicode *u, nnrt_memory *m)
{
    nnrti_text_rows r = nnrti_text_rows_of(nnrti_text_classes_rows);
    uint32_t first = 0;
    u->nClasses = nnrti_text_count(nnrti_text_classes_rows);
    u->classes = (uint32_t *)nnrt_memory_keep_array(m, u->nClasses, sizeof(*u->classes));
    for (uint32_t i = 0; u->classes != NULL && i < u->nClasses; i++) {
        const uint32_t run = nnrti_text_number(&r);
        u->classes[i] = first << 4 | (run & 15);
        first += run >> 4;
    }
    return u->classes != NULL;
}

static bool nnrti_text_unpack_lower(nnrti_text_unicode *u, nnrt_memory *m)
{
    nnrti_text_rows r = nnrti_text_rows_of(nnrti_text_lower_rows);
    uint32_t last = 0;
    u->nLower = nnrti_text_count(nnrti_text_lower_rows) / 2;
    u->lower = (uint32_t *)nnrt_memory_keep_array(m, u->nLower, 2 * sizeof(*u->lower));
    for (uint32_t i = 0; u->lower != NULL && i < u->nLower; i++) {
        uint32_t step;
        last += nnrti_text_number(&r);
        step = nnrti_text_number(&r);
        u->lower[2 * i] = last;
        u->lower[2 * i + 1] = step & 1 ? last - (step >> 1) : last + (step >> 1);
    }
    return u->lower != NULL;
}

static bool nnrti_text_unpack_parts(nnrti_text_unicode *u, nnrt_memory *m)
{
    nnrti_text_rows r = nnrti_text_rows_of(nnrti_text_marks_rows);
    uint32_t last = 0;
    u->marks = (uint32_t *)nnrt_memory_keep_array(m, nnrti_text_count(nnrti_text_marks_rows), 3 * sizeof(*u->marks));
    for (; u->marks != NULL && nnrti_text_more(&r); u->nMarks++) {
        const uint32_t gap = nnrti_text_number(&r);
        uint32_t *mark = u->marks + 3 * u->nMarks;
        mark[0] = last + (gap >> 1);
        last = mark[1] = mark[0] + (gap & 1 ? nnrti_text_number(&r) : 1);
        mark[2] = nnrti_text_number(&r);
    }
    r = nnrti_text_rows_of(nnrti_text_parts_rows);
    last = nnrti_text_count(nnrti_text_parts_rows) / 2; /* a decomposition has two numbers or three */
    u->pairMask = nnrti_text_mask(last);
    u->parts = (nnrti_text_parts *)nnrt_memory_keep_array(m, last, sizeof(*u->parts));
    u->pairs = (uint32_t *)nnrt_memory_keep_array(m, u->pairMask + 1, sizeof(*u->pairs));
    last = 0;
    for (; u->parts != NULL && u->pairs != NULL && nnrti_text_more(&r); u->nParts++) {
        const uint32_t gap = nnrti_text_number(&r);
        nnrti_text_parts *p = &u->parts[u->nParts];
        uint32_t slot;
        last = p->whole = last + (gap >> 2);
        p->excluded = (gap & 2) != 0;
        p->first = nnrti_text_number(&r);
        p->second = gap & 1 ? nnrti_text_number(&r) : 0;
        if (p->excluded)
            continue;
        for (slot = nnrti_text_mix(p->first, p->second) & u->pairMask; u->pairs[slot] != 0;)
            slot = (slot + 1) & u->pairMask;
        u->pairs[slot] = u->nParts + 1;
    }
    return u->marks != NULL && u->parts != NULL && u->pairs != NULL;
}

static int32_t nnrti_text_class(const nnrti_text_unicode *u, uint32_t c)
{
    uint32_t low = 0, high = u->nClasses;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (u->classes[middle] >> 4 <= c)
            low = middle;
        else
            high = middle;
    }
    return (int32_t)(u->classes[low] & 15);
}

static uint32_t nnrti_text_to_lower(const nnrti_text_unicode *u, uint32_t c)
{
    uint32_t low = 0, high = u->nLower;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (u->lower[2 * middle] <= c)
            low = middle;
        else
            high = middle;
    }
    return u->lower[2 * low] == c ? u->lower[2 * low + 1] : c;
}

/* The canonical combining class. */
static uint32_t nnrti_text_combining(const nnrti_text_unicode *u, uint32_t c)
{
    uint32_t low = 0, high = u->nMarks;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (u->marks[3 * middle] <= c)
            low = middle;
        else
            high = middle;
    }
    return c >= u->marks[3 * low] && c < u->marks[3 * low + 1] ? u->marks[3 * low + 2] : 0;
}

static const nnrti_text_parts *nnrti_text_parts_of(const nnrti_text_unicode *u, uint32_t c)
{
    uint32_t low = 0, high = u->nParts;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (u->parts[middle].whole <= c)
            low = middle;
        else
            high = middle;
    }
    return u->parts[low].whole == c ? &u->parts[low] : NULL;
}

/* The bytes of the character that begins at text, and *c; bytes > 0. Invalid: *c = 0xFFFFFFFF, and the bytes of the maximal
   part: a lead byte with as many continuation bytes as can begin a character (Unicode, table 3-7). */
static size_t nnrti_text_decode(const char *text, size_t bytes, uint32_t *c)
{
    const uint8_t *s = (const uint8_t *)text;
    const uint32_t lead = s[0];
    uint32_t low = 0x80, high = 0xBF, more;
    size_t i;
    *c = lead;
    if (lead < 0x80)
        return 1;
    *c = 0xFFFFFFFFu;
    if (lead < 0xC2 || lead > 0xF4)
        return 1;
    more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (lead == 0xE0)
        low = 0xA0;
    else if (lead == 0xED)
        high = 0x9F;
    else if (lead == 0xF0)
        low = 0x90;
    else if (lead == 0xF4)
        high = 0x8F;
    for (i = 1; i <= more; i++) {
        if (i >= bytes || s[i] < low || s[i] > high)
            return i;
        low = 0x80;
        high = 0xBF;
    }
    *c = lead & (0x3Fu >> more);
    for (i = 1; i <= more; i++)
        *c = *c << 6 | (s[i] & 0x3Fu);
    return more + 1;
}

static size_t nnrti_text_encode(uint32_t c, char *out)
{
    uint32_t n = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    for (uint32_t i = n; i > 0; i--) {
        out[i] = (char)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    out[0] = (char)(n == 0 ? c : (0xF0u << (3 - n) & 0xF0) | c);
    return n + 1;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_normalize Each step reads one buffer and writes another. */

/* A buffer that grows by at least a half; full: no memory, and all later writes are dropped. */
typedef struct nnrti_text_buffer {
    const nnrt_allocator *allocator;
    void *data;
    size_t used, size;
    bool full;
} nnrti_text_buffer;

/* Makes room for `bytes` more. */
static bool nnrti_text_room(nnrti_text_buffer *b, size_t bytes)
{
    size_t need = 0;
    void *data;
    if (b->full || !nnrt_add_size(b->used, bytes, &need)) {
        b->full = true;
        return false;
    }
    if (need <= b->size)
        return true;
    if (need < b->size + b->size / 2)
        need = b->size + b->size / 2;
    need = need < 1024 ? 1024 : need;
    data = nnrt_alloc(b->allocator, need);
    if (data == NULL) {
        b->full = true;
        return false;
    }
    if (b->used > 0)
        memcpy(data, b->data, b->used);
    nnrt_free(b->allocator, b->data, b->size);
    b->data = data;
    b->size = need;
    return true;
}

static void nnrti_text_put(nnrti_text_buffer *b, const char *text, size_t bytes)
{
    if (bytes > 0 && nnrti_text_room(b, bytes)) {
        memcpy((char *)b->data + b->used, text, bytes);
        b->used += bytes;
    }
}

static void nnrti_text_put_char(nnrti_text_buffer *b, uint32_t c)
{
    if (nnrti_text_room(b, 4))
        b->used += nnrti_text_encode(c, (char *)b->data + b->used);
}

static void nnrti_text_buffer_end(nnrti_text_buffer *b)
{
    nnrt_free(b->allocator, b->data, b->size);
    b->data = NULL;
    b->used = b->size = 0;
}

/* Begins writing again; memory of `text`, which another buffer holds, is unchanged. */
static void nnrti_text_again(nnrti_text_buffer *b)
{
    b->used = 0;
}

/* Copies text with U+FFFD for invalid parts; false: the text is valid, and nothing is written. */
static bool nnrti_text_mend(nnrti_text_buffer *b, nnrt_piece text)
{
    size_t valid = 0, at = 0, step;
    uint32_t c = 0;
    for (; valid < text.bytes && c != 0xFFFFFFFFu; valid += c == 0xFFFFFFFFu ? 0 : step)
        step = nnrti_text_decode(text.data + valid, text.bytes - valid, &c);
    if (valid == text.bytes)
        return false;
    nnrti_text_put(b, text.data, valid);
    for (at = valid; at < text.bytes; at += step) {
        step = nnrti_text_decode(text.data + at, text.bytes - at, &c);
        nnrti_text_put_char(b, c == 0xFFFFFFFFu ? 0xFFFD : c);
    }
    return true;
}

#define NNRTI_TEXT_HANGUL 0xAC00u

/* Appends the full canonical decomposition of a character, as uint32_t. */
static void nnrti_text_decompose(const nnrti_text_unicode *u, nnrti_text_buffer *b, uint32_t c)
{
    const nnrti_text_parts *p;
    if (!nnrti_text_room(b, 4 * sizeof(uint32_t)))
        return;
    if (c - NNRTI_TEXT_HANGUL < 11172) { /* Unicode, section 3.12: L V T of a syllable */
        const uint32_t s = c - NNRTI_TEXT_HANGUL;
        uint32_t jamo[3];
        jamo[0] = 0x1100 + s / 588;
        jamo[1] = 0x1161 + s % 588 / 28;
        jamo[2] = 0x11A7 + s % 28;
        nnrti_text_put(b, (const char *)jamo, (s % 28 == 0 ? 2 : 3) * sizeof(uint32_t));
        return;
    }
    p = c < 0xC0 ? NULL : nnrti_text_parts_of(u, c);
    if (p == NULL) {
        nnrti_text_put(b, (const char *)&c, sizeof(c));
        return;
    }
    nnrti_text_decompose(u, b, p->first); /* at most four levels: the table is constant */
    if (p->second != 0)
        nnrti_text_decompose(u, b, p->second);
}

/* NFD of text as uint32_t: decomposed, and marks in the order of their classes. The sort is stable and by insertion within
   a sequence of marks; a sequence longer than 64 is sorted by counting the classes, so that no text takes n^2. */
static void nnrti_text_nfd(const nnrti_text_unicode *u, nnrti_text_buffer *b, nnrti_text_buffer *spare, nnrt_piece text)
{
    uint32_t c = 0, *all;
    size_t n, begin, end;
    for (size_t at = 0; at < text.bytes;) {
        at += nnrti_text_decode(text.data + at, text.bytes - at, &c);
        nnrti_text_decompose(u, b, c);
    }
    all = (uint32_t *)b->data;
    n = b->full ? 0 : b->used / sizeof(*all);
    for (begin = 0; begin < n; begin = end + 1) {
        for (end = begin; end < n && nnrti_text_combining(u, all[end]) != 0;)
            end++;
        if (end - begin > 64) {
            nnrti_text_again(spare);
            for (uint32_t mark = 1; mark < 256; mark++)
                for (size_t i = begin; i < end; i++)
                    if (nnrti_text_combining(u, all[i]) == mark)
                        nnrti_text_put(spare, (const char *)&all[i], sizeof(*all));
            if (!spare->full)
                memcpy(all + begin, spare->data, (end - begin) * sizeof(*all));
        } else {
            for (size_t i = begin + 1; i < end; i++)
                for (size_t k = i; k > begin && nnrti_text_combining(u, all[k - 1]) > nnrti_text_combining(u, all[k]);
                     k--) {
                    c = all[k];
                    all[k] = all[k - 1];
                    all[k - 1] = c;
                }
        }
    }
    b->full = b->full || spare->full;
}

/* The composite of two characters; 0: none. */
static uint32_t nnrti_text_compose(const nnrti_text_unicode *u, uint32_t a, uint32_t b)
{
    if (a - 0x1100 < 19 && b - 0x1161 < 21)
        return NNRTI_TEXT_HANGUL + ((a - 0x1100) * 21 + (b - 0x1161)) * 28;
    if (a - NNRTI_TEXT_HANGUL < 11172 && (a - NNRTI_TEXT_HANGUL) % 28 == 0 && b - 0x11A8 < 27)
        return a + (b - 0x11A7);
    for (uint32_t slot = nnrti_text_mix(a, b) & u->pairMask; u->pairs[slot] != 0; slot = (slot + 1) & u->pairMask) {
        const nnrti_text_parts *p = &u->parts[u->pairs[slot] - 1];
        if (p->first == a && p->second == b)
            return p->whole;
    }
    return 0;
}

/* NFC (Unicode, section 3.11): NFD, then a character joins the last starter unless a mark of its class or of a higher one is
   between them. */
static void nnrti_text_nfc(const nnrti_text_unicode *u, nnrti_text_buffer *b, nnrti_text_buffer *wide,
                           nnrti_text_buffer *spare, nnrt_piece text)
{
    uint32_t *all;
    size_t n, out = 0, starter = 0;
    uint32_t last = 0; /* the class of the last character kept behind the starter */
    bool any = false;
    for (n = 0; n < text.bytes && (uint8_t)text.data[n] < 0xCC;) /* U+0300 begins with CC: all below is NFC */
        n++;
    if (n == text.bytes) {
        nnrti_text_put(b, text.data, text.bytes);
        return;
    }
    nnrti_text_nfd(u, wide, spare, text);
    all = (uint32_t *)wide->data;
    n = wide->full ? 0 : wide->used / sizeof(*all);
    for (size_t i = 0; i < n; i++) {
        const uint32_t mark = nnrti_text_combining(u, all[i]);
        const bool next = out == starter + 1;
        const uint32_t whole =
            any && (next || (last < mark && last != 0)) ? nnrti_text_compose(u, all[starter], all[i]) : 0;
        if (whole != 0) {
            all[starter] = whole;
            continue;
        }
        if (mark == 0) {
            starter = out;
            any = true;
        }
        last = mark;
        all[out++] = all[i];
    }
    for (size_t i = 0; i < out; i++)
        nnrti_text_put_char(b, all[i]);
    b->full = b->full || wide->full;
}

/* SentencePiece's precompiled_charsmap: the bytes of a trie as uint32, the trie as a double array (darts-clone), then
   texts that end in 0; all little-endian. The longest match is replaced; other characters stay. */
static uint32_t nnrti_text_word_at(nnrt_piece map, size_t index)
{
    const uint8_t *p = (const uint8_t *)map.data + 4 * index;
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The replacement of the longest match at the begin of text; returns its bytes, 0: no match. */
static size_t nnrti_text_charsmap_find(nnrt_piece map, nnrt_piece text, nnrt_piece *to)
{
    const size_t units = nnrti_text_word_at(map, 0) / 4, first = 4 + 4 * units;
    size_t found = 0;
    uint32_t node = 0, unit;
    if (units == 0)
        return 0;
    unit = nnrti_text_word_at(map, 1);
    node ^= unit >> 10 << ((unit & 512) >> 6);
    for (size_t i = 0; i < text.bytes; i++) {
        const uint32_t label = (uint8_t)text.data[i];
        node ^= label;
        if (node >= units)
            break;
        unit = nnrti_text_word_at(map, 1 + node);
        if ((unit & 0x800000FFu) != label)
            break;
        node ^= unit >> 10 << ((unit & 512) >> 6);
        if ((unit & 256) != 0 && node < units) {
            const size_t at = first + (nnrti_text_word_at(map, 1 + node) & 0x7FFFFFFF);
            if (at < map.bytes && ((uint8_t)map.data[at] & 0xC0) != 0x80) { /* never within a character */
                found = i + 1;
                to->data = map.data + at;
                to->bytes = strlen(to->data);
            }
        }
    }
    return found;
}

static void nnrti_text_charsmap(nnrt_piece map, nnrti_text_buffer *b, nnrt_piece text)
{
    for (size_t at = 0, step; at < text.bytes; at += step) {
        nnrt_piece rest, to;
        uint32_t c;
        rest.data = text.data + at;
        rest.bytes = text.bytes - at;
        to.data = rest.data;
        step = nnrti_text_charsmap_find(map, rest, &to);
        if (step == 0)
            step = to.bytes = nnrti_text_decode(rest.data, rest.bytes, &c);
        nnrti_text_put(b, to.data, to.bytes);
    }
}

/* BERT's CJK ideographs. 2B920 is 2B820 in BERT; Hugging Face's tokenizers have this number, and vocabularies were trained
   with it. */
static bool nnrti_text_ideograph(uint32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
           (c >= 0x2A700 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) ||
           (c >= 0x2F800 && c <= 0x2FA1F);
}

/* NNRT_NORMALIZE_CLEAN, NNRT_NORMALIZE_BLANKS and NNRT_NORMALIZE_CHINESE. */
static void nnrti_text_clean(const nnrti_text_unicode *u, uint32_t normalize, nnrti_text_buffer *b, nnrt_piece text)
{
    uint32_t c = 0;
    for (size_t at = 0; at < text.bytes;) {
        int32_t kind;
        at += nnrti_text_decode(text.data + at, text.bytes - at, &c);
        kind = nnrti_text_class(u, c);
        if ((normalize & NNRT_NORMALIZE_CLEAN) != 0) {
            const bool blank = c == '\t' || c == '\n' || c == '\r';
            if (c == 0xFFFD || kind == NNRTI_TEXT_CONTROL || (!blank && (c < 32 || c == 0x85)))
                continue;
        }
        c = kind == NNRTI_TEXT_SPACE && (normalize & (NNRT_NORMALIZE_CLEAN | NNRT_NORMALIZE_BLANKS)) != 0 ? ' ' : c;
        if ((normalize & NNRT_NORMALIZE_CHINESE) != 0 && nnrti_text_ideograph(c)) {
            nnrti_text_put(b, " ", 1);
            nnrti_text_put_char(b, c);
            c = ' ';
        }
        nnrti_text_put_char(b, c);
    }
}

/* NNRT_NORMALIZE_ACCENTS. */
static void nnrti_text_strip(const nnrti_text_unicode *u, nnrti_text_buffer *b, nnrti_text_buffer *wide,
                             nnrti_text_buffer *spare, nnrt_piece text)
{
    nnrti_text_nfd(u, wide, spare, text);
    for (size_t i = 0; !wide->full && i < wide->used / sizeof(uint32_t); i++)
        if (nnrti_text_class(u, ((const uint32_t *)wide->data)[i]) != NNRTI_TEXT_MARK)
            nnrti_text_put_char(b, ((const uint32_t *)wide->data)[i]);
    b->full = b->full || wide->full;
}

/* NNRT_NORMALIZE_LOWERCASE: each character by itself, so that sigma has one form. */
static void nnrti_text_lowercase(const nnrti_text_unicode *u, nnrti_text_buffer *b, nnrt_piece text)
{
    uint32_t c = 0;
    for (size_t at = 0; at < text.bytes;) {
        at += nnrti_text_decode(text.data + at, text.bytes - at, &c);
        if (c == 0x130) /* the only character with two: i, dot above */
            nnrti_text_put(b, "i\xCC\x87", 3);
        else
            nnrti_text_put_char(b, nnrti_text_to_lower(u, c));
    }
}

#define NNRTI_TEXT_SPACE_MARK "\xE2\x96\x81" /* U+2581 */

static bool nnrti_text_begins(nnrt_piece text, const char *with)
{
    const size_t bytes = strlen(with);
    return text.bytes >= bytes && memcmp(text.data, with, bytes) == 0;
}

/* NNRT_NORMALIZE_SPACES, the space before a fragment, and U+2581 for spaces. */
static void nnrti_text_spaces(nnrti_text_buffer *b, nnrt_piece text, bool collapse, int32_t prefix, const char *space)
{
    while (collapse && text.bytes > 0 && text.data[0] == ' ') {
        text.data++;
        text.bytes--;
    }
    while (collapse && text.bytes > 0 && text.data[text.bytes - 1] == ' ')
        text.bytes--;
    if (text.bytes == 0)
        return;
    if (prefix == NNRT_PREFIX_ALWAYS ||
        (prefix != NNRT_PREFIX_NONE && text.data[0] != ' ' && !nnrti_text_begins(text, space)))
        nnrti_text_put(b, space, strlen(space));
    for (size_t at = 0, end; at < text.bytes; at = end) {
        for (end = at; end < text.bytes && text.data[end] != ' ';)
            end++;
        nnrti_text_put(b, text.data + at, end - at);
        if (end < text.bytes) {
            nnrti_text_put(b, space, strlen(space));
            for (end++; collapse && end < text.bytes && text.data[end] == ' ';)
                end++;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_split Pre-tokenizers. nnrti_text_split returns the end of the word that begins at a place: the match of the
   expression, whose alternatives are tried in their order.

   GPT2    's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
   LLAMA3  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|
           \s+(?!\S)|\s+
   QWEN2   as LLAMA3, with \p{N} for \p{N}{1,3}
   GPT4O   [^\r\n\p{L}\p{N}]?U*W+(?i:'s|...)?|[^\r\n\p{L}\p{N}]?U+W*(?i:'s|...)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|
           \s*[\r\n]+|\s+(?!\S)|\s+ with U = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], W = [\p{Ll}\p{Lm}\p{Lo}\p{M}]
   BERT    white space separates words, each punctuation character is one
   MARK    a word begins at each U+2581 */

typedef struct nnrti_text_scan {
    const nnrti_text_unicode *unicode;
    nnrt_piece text;
    uint32_t c;  /* the character of the last nnrti_text_peek */
    size_t next; /* the place behind it */
} nnrti_text_scan;

/* The class of the character at a place. */
static int32_t nnrti_text_peek(nnrti_text_scan *s, size_t at)
{
    s->c = 0;
    s->next = at;
    if (at >= s->text.bytes)
        return NNRTI_TEXT_END;
    s->next += nnrti_text_decode(s->text.data + at, s->text.bytes - at, &s->c);
    if (s->c >= 'a' && s->c <= 'z')
        return NNRTI_TEXT_LOWER;
    return s->c > 0x10FFFF ? NNRTI_TEXT_OTHER : nnrti_text_class(s->unicode, s->c);
}

/* Sets of classes, one bit per class. */
#define NNRTI_TEXT_SET(name) (1u << NNRTI_TEXT_##name)
#define NNRTI_TEXT_LETTERS (NNRTI_TEXT_SET(UPPER) | NNRTI_TEXT_SET(LOWER) | NNRTI_TEXT_SET(LETTER))
#define NNRTI_TEXT_COMMON (NNRTI_TEXT_SET(LETTER) | NNRTI_TEXT_SET(MARK) | NNRTI_TEXT_SET(MARKS))
#define NNRTI_TEXT_NOT_SIGNS (NNRTI_TEXT_LETTERS | NNRTI_TEXT_SET(NUMBER) | NNRTI_TEXT_SET(SPACE) | NNRTI_TEXT_SET(END))

static size_t nnrti_text_run(nnrti_text_scan *s, size_t at, uint32_t set, uint32_t most)
{
    for (; most > 0 && (1u << nnrti_text_peek(s, at) & set) != 0; most--)
        at = s->next;
    return at;
}

/* The end of 's, 't, 're, 've, 'm, 'll or 'd; at: none. */
static size_t nnrti_text_short(const nnrti_text_scan *s, size_t at, bool fold)
{
    static const char *const all[] = {"s", "t", "re", "ve", "m", "ll", "d"};
    const size_t left = at < s->text.bytes ? s->text.bytes - at - 1 : 0;
    if (left == 0 || s->text.data[at] != '\'')
        return at;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        size_t k = 0;
        for (; all[i][k] != '\0' && k < left; k++) {
            const char c = s->text.data[at + 1 + k];
            if (all[i][k] != (fold && c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c))
                break;
        }
        if (all[i][k] == '\0')
            return at + 1 + k;
    }
    return at;
}

/* U*W+ (upper: U+W*) from a place; the same place: no match. U* gives characters back until W+ matches, which is behind the
   last character of the run that is in both. */
static size_t nnrti_text_cased(nnrti_text_scan *s, size_t at, bool upper)
{
    const size_t upTo = nnrti_text_run(s, at, NNRTI_TEXT_COMMON | NNRTI_TEXT_SET(UPPER), 0xFFFFFFFFu);
    const size_t end = nnrti_text_run(s, upTo, NNRTI_TEXT_COMMON | NNRTI_TEXT_SET(LOWER), 0xFFFFFFFFu);
    size_t last = at;
    if (upper)
        return upTo > at ? end : at;
    if (end > upTo)
        return end;
    for (size_t i = at; i < upTo;) {
        const int32_t kind = nnrti_text_peek(s, i);
        i = s->next;
        if ((1u << kind & NNRTI_TEXT_COMMON) != 0)
            last = i;
    }
    return last;
}

/* The alternatives of white space; at: none. */
static size_t nnrti_text_blank(nnrti_text_scan *s, size_t at, bool lines)
{
    size_t end = at, last = at, line = at;
    for (; nnrti_text_peek(s, end) == NNRTI_TEXT_SPACE; end = s->next) {
        last = end;
        if (s->c == '\r' || s->c == '\n')
            line = s->next;
    }
    if (lines && line > at)
        return line;
    return end == s->text.bytes || last == at ? end : last;
}

static size_t nnrti_text_letters(nnrti_text_scan *s, size_t at, int32_t split)
{
    const int32_t kind = nnrti_text_peek(s, at);
    const bool joins = (1u << kind & (NNRTI_TEXT_LETTERS | NNRTI_TEXT_SET(NUMBER) | NNRTI_TEXT_SET(END))) == 0 &&
                       s->c != '\r' && s->c != '\n'; /* [^\r\n\p{L}\p{N}]? */
    const size_t behind = joins ? s->next : at;
    size_t end;
    if (split != NNRT_SPLIT_GPT4O) {
        end = nnrti_text_run(s, behind, NNRTI_TEXT_LETTERS, 0xFFFFFFFFu);
        return end > behind ? end : at;
    }
    for (int32_t upper = 0; upper < 2; upper++)
        for (int32_t k = joins ? 0 : 1; k < 2; k++) {
            const size_t begin = k == 0 ? behind : at;
            end = nnrti_text_cased(s, begin, upper == 1);
            if (end > begin)
                return nnrti_text_short(s, end, true);
        }
    return at;
}

static size_t nnrti_text_split(nnrti_text_scan *s, size_t at, int32_t split)
{
    const bool old = split == NNRT_SPLIT_GPT2;
    size_t end = split == NNRT_SPLIT_GPT4O ? at : nnrti_text_short(s, at, !old), behind;
    if (end > at)
        return end;
    behind = s->text.data[at] == ' ' ? at + 1 : at;
    end = old ? nnrti_text_run(s, behind, NNRTI_TEXT_LETTERS, 0xFFFFFFFFu) : nnrti_text_letters(s, at, split);
    if (end > (old ? behind : at))
        return end;
    end = nnrti_text_run(s, old ? behind : at, NNRTI_TEXT_SET(NUMBER),
                         old                         ? 0xFFFFFFFFu
                         : split == NNRT_SPLIT_QWEN2 ? 1
                                                     : 3);
    if (end > (old ? behind : at))
        return end;
    end = nnrti_text_run(s, behind, ~NNRTI_TEXT_NOT_SIGNS, 0xFFFFFFFFu);
    if (end > behind) {
        while (!old && end < s->text.bytes &&
               (s->text.data[end] == '\r' || s->text.data[end] == '\n' ||
                (split == NNRT_SPLIT_GPT4O && s->text.data[end] == '/')))
            end++;
        return end;
    }
    return nnrti_text_blank(s, at, !old);
}

/* BERT: skips white space; *at = the begin of the word. */
static size_t nnrti_text_split_bert(nnrti_text_scan *s, size_t *at)
{
    size_t end;
    int32_t kind;
    *at = nnrti_text_run(s, *at, NNRTI_TEXT_SET(SPACE), 0xFFFFFFFFu);
    for (end = *at; (kind = nnrti_text_peek(s, end)) != NNRTI_TEXT_END && kind != NNRTI_TEXT_SPACE; end = s->next)
        if (kind == NNRTI_TEXT_PUNCTUATION || (s->c < 128 && kind == NNRTI_TEXT_SYMBOL))
            return end == *at ? s->next : end;
    return end;
}

/* SmolLM: each numeral is a word, and the text between two is split as by GPT-2. *between: the next numeral, or the end. */
static size_t nnrti_text_split_numerals(nnrti_text_scan *s, size_t at, size_t *between)
{
    const size_t whole = s->text.bytes;
    size_t end;
    if (*between <= at)
        *between = nnrti_text_run(s, at, ~(NNRTI_TEXT_SET(NUMBER) | NNRTI_TEXT_SET(END)), 0xFFFFFFFFu);
    if (*between == at)
        return nnrti_text_run(s, at, NNRTI_TEXT_SET(NUMBER), 1);
    s->text.bytes = *between;
    end = nnrti_text_split(s, at, NNRT_SPLIT_GPT2);
    s->text.bytes = whole;
    return end;
}

static size_t nnrti_text_split_mark(const nnrti_text_scan *s, size_t at)
{
    for (at++; at < s->text.bytes; at++)
        if (memcmp(s->text.data + at, NNRTI_TEXT_SPACE_MARK, s->text.bytes - at < 3 ? s->text.bytes - at : 3) == 0 &&
            s->text.bytes - at >= 3)
            break;
    return at;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_tables The vocabulary: tokens by text, merges by their parts, and tries of bytes. All hash tables have open
   addressing, and at least a third of their slots is empty. */

/* An edge of a trie, in a slot of its hash table. child 0: the slot is empty. */
typedef struct nnrti_text_edge {
    uint32_t parent, child, id; /* id: the token that ends here, or NNRT_NO_TOKEN */
    uint32_t byte;
} nnrti_text_edge;

typedef struct nnrti_text_trie {
    nnrti_text_edge *edges;
    uint32_t mask, used;
} nnrti_text_trie;

typedef struct nnrti_text_merge {
    uint32_t left, right, id;
} nnrti_text_merge;

struct nnrt_tokenizer {
    nnrt_memory memory; /* of all tables but the edges */
    nnrt_allocator allocator;
    nnrt_tokenizer_desc desc; /* its pointers are NULL, or point into memory */
    nnrti_text_unicode unicode;
    char *text;       /* of all tokens */
    uint32_t *begins; /* of each token, and the end of the last one */
    uint8_t *types;
    float *scores;
    uint32_t *slots; /* ids + 1 by text */
    uint32_t slotMask;
    nnrti_text_merge *merges; /* by rank */
    uint32_t *mergeSlots;     /* ranks + 1 by left and right */
    uint32_t mergeMask;
    nnrti_text_trie pieces, added; /* tokens of UNIGRAM; added tokens */
    bool first[256];               /* bytes that begin an added token */
    uint32_t bytes[256];           /* byteLevel: the token of a byte; otherwise <0x00> to <0xFF> */
    uint32_t longest;              /* bytes of the longest token */
    double leastScore;
    bool mark; /* spaces become U+2581 */
};

static nnrti_text_edge *nnrti_text_edge_of(const nnrti_text_trie *t, uint32_t parent, uint32_t byte)
{
    uint32_t slot = nnrti_text_mix(parent, byte) & t->mask;
    while (t->edges[slot].child != 0 && (t->edges[slot].parent != parent || t->edges[slot].byte != byte))
        slot = (slot + 1) & t->mask;
    return &t->edges[slot];
}

/* A trie of twice as many slots. */
static bool nnrti_text_trie_grow(nnrti_text_trie *t, const nnrt_allocator *allocator)
{
    nnrti_text_trie old = *t;
    const size_t bytes = ((size_t)old.mask + 1) * sizeof(*t->edges);
    if (old.edges != NULL && old.mask > 0x3FFFFFFF / sizeof(*t->edges))
        return false;
    t->mask = old.edges == NULL ? 1023 : 2 * old.mask + 1;
    t->edges = (nnrti_text_edge *)nnrt_alloc(allocator, ((size_t)t->mask + 1) * sizeof(*t->edges));
    if (t->edges == NULL) {
        *t = old;
        return false;
    }
    memset(t->edges, 0, ((size_t)t->mask + 1) * sizeof(*t->edges));
    for (uint32_t i = 0; old.edges != NULL && i <= old.mask; i++)
        if (old.edges[i].child != 0)
            *nnrti_text_edge_of(t, old.edges[i].parent, old.edges[i].byte) = old.edges[i];
    nnrt_free(allocator, old.edges, bytes);
    return true;
}

/* The root is node 0. */
static bool nnrti_text_trie_add(nnrti_text_trie *t, const nnrt_allocator *allocator, nnrt_piece text, uint32_t id)
{
    uint32_t node = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        nnrti_text_edge *edge;
        if ((t->edges == NULL || t->used / 2 >= t->mask / 3) && !nnrti_text_trie_grow(t, allocator))
            return false;
        edge = nnrti_text_edge_of(t, node, (uint8_t)text.data[i]);
        if (edge->child == 0) {
            edge->parent = node;
            edge->byte = (uint8_t)text.data[i];
            edge->child = ++t->used;
            edge->id = NNRT_NO_TOKEN;
        }
        if (i + 1 == text.bytes)
            edge->id = id;
        node = edge->child;
    }
    return true;
}

static uint32_t nnrti_text_hash(nnrt_piece text)
{
    uint64_t h = 0xCBF29CE484222325u; /* FNV-1a */
    for (size_t i = 0; i < text.bytes; i++)
        h = (h ^ (uint8_t)text.data[i]) * 0x100000001B3u;
    return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

static nnrt_piece nnrti_text_piece(const char *data, size_t bytes)
{
    nnrt_piece p;
    p.data = data;
    p.bytes = bytes;
    return p;
}

static nnrt_piece nnrti_text_token(const nnrt_tokenizer *t, uint32_t id)
{
    return nnrti_text_piece(t->text + t->begins[id], t->begins[id + 1] - t->begins[id]);
}

static bool nnrti_text_same(nnrt_piece a, nnrt_piece b)
{
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.data, b.data, a.bytes) == 0);
}

/* Steps that a search takes at most. A file whose texts collide more often is refused, so that no file takes n^2; texts of
   real vocabularies take less than 100. */
#define NNRTI_TEXT_STEPS 1024

/* The slot of a text, or an empty one for it; NULL: neither within the steps. */
static uint32_t *nnrti_text_slot(const nnrt_tokenizer *t, nnrt_piece text)
{
    uint32_t slot = nnrti_text_hash(text) & t->slotMask;
    for (uint32_t i = 0; i < NNRTI_TEXT_STEPS; i++, slot = (slot + 1) & t->slotMask)
        if (t->slots[slot] == 0 || nnrti_text_same(nnrti_text_token(t, t->slots[slot] - 1), text))
            return &t->slots[slot];
    return NULL;
}

static uint32_t nnrti_text_find(const nnrt_tokenizer *t, nnrt_piece text)
{
    const uint32_t *slot = nnrti_text_slot(t, text);
    return slot != NULL ? *slot - 1 : NNRT_NO_TOKEN; /* 0 becomes NNRT_NO_TOKEN */
}

/* The slot of a merge, as nnrti_text_slot. */
static uint32_t *nnrti_text_merge_slot(const nnrt_tokenizer *t, uint32_t left, uint32_t right)
{
    uint32_t slot = nnrti_text_mix(left, right) & t->mergeMask;
    for (uint32_t i = 0; i < NNRTI_TEXT_STEPS; i++, slot = (slot + 1) & t->mergeMask) {
        const uint32_t merge = t->mergeSlots[slot];
        if (merge == 0 || (t->merges[merge - 1].left == left && t->merges[merge - 1].right == right))
            return &t->mergeSlots[slot];
    }
    return NULL;
}

static NNRT_ReturnCode nnrti_text_collide(nnrt_error *error, const char *what)
{
    return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "%s have equal hash values, as no real vocabulary has", what);
}

/* The byte that GPT-2 spells as a character; -1: none. */
static int32_t nnrti_text_byte_of(uint32_t c)
{
    if ((c >= 33 && c <= 126) || (c >= 161 && c <= 172) || (c >= 174 && c <= 255))
        return (int32_t)c;
    c -= 256;
    if (c < 33) /* 0-32 */
        return (int32_t)c;
    if (c < 67) /* 127-160 */
        return (int32_t)(c - 33 + 127);
    return c == 67 ? 173 : -1;
}

/* Writes the bytes that a text of GPT-2's characters spells, or the text itself if it has other characters; returns their
   number. out has text.bytes. */
static size_t nnrti_text_raw(nnrt_piece text, bool byteLevel, char *out)
{
    size_t n = 0;
    uint32_t c = 0;
    int32_t byte = 0;
    for (size_t at = 0; byteLevel && byte >= 0 && at < text.bytes;) {
        at += nnrti_text_decode(text.data + at, text.bytes - at, &c);
        byte = nnrti_text_byte_of(c);
        out[n++] = (char)byte;
    }
    if (byteLevel && byte >= 0)
        return n;
    if (text.bytes > 0)
        memcpy(out, text.data, text.bytes);
    return text.bytes;
}

static int32_t nnrti_text_type(const nnrt_tokenizer *t, uint32_t id)
{
    const int32_t type = t->types[id] & 15;
    return type == 0 ? NNRT_TOKEN_NORMAL : type;
}

/* A copy of a text with a terminating 0, for messages. */
typedef struct nnrti_text_name {
    char text[48];
} nnrti_text_name;

static nnrti_text_name nnrti_text_named(nnrt_piece text)
{
    nnrti_text_name name;
    const size_t bytes = text.bytes < sizeof(name.text) ? text.bytes : sizeof(name.text) - 1;
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        if (text.data[i] != '\0')
            name.text[n++] = text.data[i];
    name.text[n] = '\0';
    return name;
}

static NNRT_ReturnCode nnrti_text_no_memory(nnrt_error *error)
{
    return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "no memory for the tokenizer");
}

static NNRT_ReturnCode nnrti_text_check(const nnrt_tokenizer_desc *d, nnrt_error *error)
{
    const char *wrong = NULL;
    if (d->kind < 0 || d->kind > NNRT_TOKENIZER_WORDPIECE)
        wrong = "kind";
    else if (d->split < 0 || d->split >= NNRT_SPLIT_END)
        wrong = "split";
    else if (d->prefix < 0 || d->prefix >= NNRT_PREFIX_END)
        wrong = "prefix";
    else if (d->normalize >= 2 * NNRT_NORMALIZE_BLANKS)
        wrong = "normalize";
    else if (d->beforeCount > NNRT_TEXT_MAX_AFFIXES)
        wrong = "beforeCount";
    else if (d->afterCount > NNRT_TEXT_MAX_AFFIXES)
        wrong = "afterCount";
    else if (d->endCount > NNRT_TEXT_MAX_AFFIXES)
        wrong = "endCount";
    else if (d->count == 0 || d->count > 0x7FFFFFFF)
        wrong = "count";
    else if (d->byteLevel && d->kind != NNRT_TOKENIZER_BPE)
        wrong = "byteLevel";
    if (wrong != NULL)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "%s is out of its range", wrong);
    if (d->tokens == NULL || (d->mergeCount > 0 && d->merges == NULL))
        return nnrt_error_set(error, NNRT_NULL_PTR, "%s is NULL", d->tokens == NULL ? "tokens" : "merges");
    if ((d->kind == NNRT_TOKENIZER_SCORES || d->kind == NNRT_TOKENIZER_UNIGRAM) && d->scores == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "scores is NULL");
    if (d->unknown != NNRT_NO_TOKEN && d->unknown >= d->count)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "unknown is %u, and must be less than %u", d->unknown,
                              d->count);
    for (uint32_t i = 0; i < d->beforeCount + d->afterCount; i++) {
        const uint32_t id = i < d->beforeCount ? d->before[i] : d->after[i - d->beforeCount];
        if (id >= d->count)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "before or after has %u, and must be less than %u", id,
                                  d->count);
    }
    return NNRT_SUCCESS;
}

/* The map has its trie, and ends in a text of UTF-8 that ends in 0. */
static NNRT_ReturnCode nnrti_text_check_charsmap(nnrt_piece map, nnrt_error *error)
{
    const size_t trie = map.bytes >= 4 ? nnrti_text_word_at(map, 0) : 0;
    uint32_t c = 0;
    if (map.bytes < 5 || trie % 4 != 0 || trie > map.bytes - 5 || map.data[map.bytes - 1] != '\0')
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "charsmap is cut short");
    for (size_t at = 4 + trie; at < map.bytes;) {
        at += nnrti_text_decode(map.data + at, map.bytes - at, &c);
        if (c == 0xFFFFFFFFu)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "charsmap has a replacement that is no UTF-8");
    }
    return NNRT_SUCCESS;
}

static bool nnrti_text_is_added(int32_t type)
{
    return type == NNRT_TOKEN_CONTROL || type == NNRT_TOKEN_USER;
}

/* Texts, types and scores of tokens. */
static NNRT_ReturnCode nnrti_text_load_tokens(nnrt_tokenizer *t, const nnrt_tokenizer_desc *d, nnrt_error *error)
{
    size_t total = 0, used = 0;
    for (uint32_t i = 0; i < d->count; i++)
        if (!nnrt_add_size(total, d->tokens[i].bytes, &total) || total > 0x7FFFFFFF)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the tokens have more than 2^31 - 1 bytes");
    t->slotMask = nnrti_text_mask(d->count);
    t->text = (char *)nnrt_memory_keep(&t->memory, total);
    t->begins = (uint32_t *)nnrt_memory_keep_array(&t->memory, (size_t)d->count + 1, sizeof(*t->begins));
    t->types = (uint8_t *)nnrt_memory_keep(&t->memory, d->count);
    t->slots = (uint32_t *)nnrt_memory_keep_array(&t->memory, (size_t)t->slotMask + 1, sizeof(*t->slots));
    if (d->scores != NULL)
        t->scores = (float *)nnrt_memory_keep_array(&t->memory, d->count, sizeof(*t->scores));
    if (t->memory.full)
        return nnrti_text_no_memory(error);
    for (uint32_t i = 0; i < d->count; i++) {
        const int32_t type = d->types != NULL ? d->types[i] & 15 : 0;
        t->types[i] = d->types != NULL ? d->types[i] : 0;
        t->begins[i] = (uint32_t)used;
        used += nnrti_text_raw(d->tokens[i], d->byteLevel && !nnrti_text_is_added(type), t->text + used);
        t->begins[i + 1] = (uint32_t)used;
        if (used - t->begins[i] > t->longest)
            t->longest = (uint32_t)used - t->begins[i];
        if (t->scores != NULL) {
            if (!(d->scores[i] > -1e30f && d->scores[i] < 1e30f))
                return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the score of token %u is not finite", i);
            t->scores[i] = d->scores[i];
            if ((double)t->scores[i] < t->leastScore)
                t->leastScore = (double)t->scores[i];
        }
        if (used > t->begins[i]) {
            uint32_t *slot = nnrti_text_slot(t, nnrti_text_token(t, i));
            if (slot == NULL)
                return nnrti_text_collide(error, "tokens");
            *slot = i + 1; /* of equal texts the last one, as in llama.cpp */
        }
    }
    return NNRT_SUCCESS;
}

/* Tokens of bytes, and tries. */
static NNRT_ReturnCode nnrti_text_load_lookup(nnrt_tokenizer *t, nnrt_error *error)
{
    for (uint32_t i = 0; i < 256; i++) {
        char hex[8] = {'<', '0', 'x', 0, 0, '>'};
        const char raw = (char)i;
        hex[3] = "0123456789ABCDEF"[i >> 4];
        hex[4] = "0123456789ABCDEF"[i & 15];
        t->bytes[i] = t->desc.byteLevel ? nnrti_text_find(t, nnrti_text_piece(&raw, 1))
                                        : nnrti_text_find(t, nnrti_text_piece(hex, 6));
    }
    for (uint32_t i = 0; i < t->desc.count; i++) {
        const nnrt_piece text = nnrti_text_token(t, i);
        const int32_t type = nnrti_text_type(t, i);
        if (text.bytes == 0)
            continue;
        if (nnrti_text_is_added(type)) {
            t->first[(uint8_t)text.data[0]] = true;
            if (!nnrti_text_trie_add(&t->added, &t->allocator, text, i))
                return nnrti_text_no_memory(error);
        }
        if (t->desc.kind == NNRT_TOKENIZER_UNIGRAM && (type == NNRT_TOKEN_NORMAL || type >= NNRT_TOKEN_USER) &&
            type != NNRT_TOKEN_BYTE && !nnrti_text_trie_add(&t->pieces, &t->allocator, text, i))
            return nnrti_text_no_memory(error);
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_text_load_merges(nnrt_tokenizer *t, const nnrt_tokenizer_desc *d, nnrti_text_buffer *b,
                                              nnrt_error *error)
{
    if (d->mergeCount > 0x3FFFFFFF)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "mergeCount is %u, and must be at most 2^30 - 1",
                              d->mergeCount);
    t->mergeMask = nnrti_text_mask(d->mergeCount);
    t->merges = (nnrti_text_merge *)nnrt_memory_keep_array(&t->memory, (size_t)d->mergeCount + 1, sizeof(*t->merges));
    t->mergeSlots = (uint32_t *)nnrt_memory_keep_array(&t->memory, (size_t)t->mergeMask + 1, sizeof(*t->mergeSlots));
    if (t->memory.full)
        return nnrti_text_no_memory(error);
    for (uint32_t i = 0; i < d->mergeCount; i++) {
        const nnrt_merge *from = &d->merges[i];
        nnrti_text_merge *m = &t->merges[i];
        uint32_t *slot;
        size_t bytes = 0, left, right;
        nnrti_text_again(b);
        if (!nnrt_add_size(from->left.bytes, from->right.bytes, &bytes) || !nnrti_text_room(b, bytes))
            return nnrti_text_no_memory(error);
        left = nnrti_text_raw(from->left, d->byteLevel, (char *)b->data);
        right = nnrti_text_raw(from->right, d->byteLevel, (char *)b->data + left);
        m->left = nnrti_text_find(t, nnrti_text_piece((const char *)b->data, left));
        m->right = nnrti_text_find(t, nnrti_text_piece((const char *)b->data + left, right));
        m->id = nnrti_text_find(t, nnrti_text_piece((const char *)b->data, left + right));
        if (m->left == NNRT_NO_TOKEN || m->right == NNRT_NO_TOKEN || m->id == NNRT_NO_TOKEN) {
            const nnrti_text_name a = nnrti_text_named(from->left), z = nnrti_text_named(from->right);
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                                  "merge %u: '%s' and '%s' become '%s%s', and %s no token", i, a.text, z.text, a.text,
                                  z.text,
                                  m->left == NNRT_NO_TOKEN    ? "the first is"
                                  : m->right == NNRT_NO_TOKEN ? "the second is"
                                                              : "that is");
        }
        slot = nnrti_text_merge_slot(t, m->left, m->right);
        if (slot == NULL)
            return nnrti_text_collide(error, "merges");
        if (*slot == 0) /* of equal merges the first one counts */
            *slot = i + 1;
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_text_load_unicode(nnrt_tokenizer *t, nnrt_error *error)
{
    const uint32_t normalize = t->desc.normalize, parts = NNRT_NORMALIZE_NFC | NNRT_NORMALIZE_ACCENTS;
    bool whole = false;
    for (uint32_t i = 0; i < t->desc.count; i++)
        whole = whole || (t->types[i] & (NNRT_TOKEN_WHOLE | NNRT_TOKEN_LEFT | NNRT_TOKEN_RIGHT)) != 0;
    if ((t->desc.split != NNRT_SPLIT_NONE && t->desc.split != NNRT_SPLIT_MARK) || whole ||
        (normalize & ~(uint32_t)(NNRT_NORMALIZE_CHARSMAP | NNRT_NORMALIZE_LOWERCASE | NNRT_NORMALIZE_NFC |
                                 NNRT_NORMALIZE_SPACES)) != 0)
        (void)nnrti_text_unpack_classes(&t->unicode, &t->memory);
    if ((normalize & NNRT_NORMALIZE_LOWERCASE) != 0)
        (void)nnrti_text_unpack_lower(&t->unicode, &t->memory);
    if ((normalize & parts) != 0)
        (void)nnrti_text_unpack_parts(&t->unicode, &t->memory);
    return t->memory.full ? nnrti_text_no_memory(error) : NNRT_SUCCESS;
}

/* A copy of bytes in the tokenizer's memory. */
static nnrt_piece nnrti_text_keep(nnrt_tokenizer *t, nnrt_piece from)
{
    char *data = (char *)nnrt_memory_keep(&t->memory, from.bytes);
    if (data != NULL && from.bytes > 0)
        memcpy(data, from.data, from.bytes);
    return nnrti_text_piece(data, data != NULL ? from.bytes : 0);
}

NNRT_API NNRT_ReturnCode nnrt_tokenizer_create(nnrt_tokenizer **tokenizer, const nnrt_tokenizer_desc *desc,
                                               const nnrt_allocator *allocator, nnrt_error *error)
{
    nnrt_tokenizer *t;
    nnrti_text_buffer b;
    NNRT_ReturnCode code;
    if (tokenizer == NULL || desc == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "%s is NULL", tokenizer == NULL ? "tokenizer" : "desc");
    *tokenizer = NULL;
    code = nnrti_text_check(desc, error);
    if (code == NNRT_SUCCESS && (desc->normalize & NNRT_NORMALIZE_CHARSMAP) != 0)
        code = nnrti_text_check_charsmap(desc->charsmap, error);
    if (code != NNRT_SUCCESS)
        return code;
    t = (nnrt_tokenizer *)nnrt_alloc(allocator, sizeof(*t));
    if (t == NULL)
        return nnrti_text_no_memory(error);
    memset(t, 0, sizeof(*t));
    if (allocator != NULL)
        t->allocator = *allocator;
    nnrt_memory_allocate(&t->memory, &t->allocator);
    memset(&b, 0, sizeof(b));
    b.allocator = &t->allocator;
    t->desc = *desc;
    t->desc.tokens = NULL;
    t->desc.scores = NULL;
    t->desc.types = NULL;
    t->desc.merges = NULL;
    t->desc.continuation = nnrti_text_keep(t, desc->continuation);
    t->desc.charsmap = nnrti_text_keep(t, desc->charsmap);
    if (desc->chatTemplate.bytes > 0)
        t->desc.chatTemplate = nnrti_text_keep(t, desc->chatTemplate);
    t->mark = !desc->byteLevel && !desc->spaces && desc->kind != NNRT_TOKENIZER_WORDPIECE;
    code = nnrti_text_load_tokens(t, desc, error);
    if (code == NNRT_SUCCESS)
        code = nnrti_text_load_lookup(t, error);
    if (code == NNRT_SUCCESS && desc->kind == NNRT_TOKENIZER_BPE)
        code = nnrti_text_load_merges(t, desc, &b, error);
    if (code == NNRT_SUCCESS)
        code = nnrti_text_load_unicode(t, error);
    nnrti_text_buffer_end(&b);
    if (code == NNRT_SUCCESS)
        *tokenizer = t;
    else
        nnrt_tokenizer_destroy(t);
    return code;
}

/* Values of tokenizer.ggml.pre, as llama.cpp names the expressions (llama-vocab.cpp). */
static int32_t nnrti_text_gguf_split(const char *pre, bool *ignoreMerges)
{
    static const struct {
        const char *name;
        int32_t split;
        bool ignoreMerges;
    } rows[] = {
        {"gpt-2", NNRT_SPLIT_GPT2, false},     {"llama3", NNRT_SPLIT_LLAMA3, true},
        {"llama-v3", NNRT_SPLIT_LLAMA3, true}, {"llama-bpe", NNRT_SPLIT_LLAMA3, true},
        {"qwen2", NNRT_SPLIT_QWEN2, false},    {"deepseek-r1-qwen", NNRT_SPLIT_QWEN2, false},
        {"gpt-4o", NNRT_SPLIT_GPT4O, false},   {"smollm", NNRT_SPLIT_SMOLLM, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (pre != NULL && strcmp(pre, rows[i].name) == 0) {
            *ignoreMerges = rows[i].ignoreMerges;
            return rows[i].split;
        }
    return NNRT_SPLIT_NONE;
}

NNRT_API NNRT_ReturnCode nnrt_tokenizer_gguf(nnrt_tokenizer_desc *desc, const char *model, const char *pre,
                                             nnrt_error *error)
{
    if (desc == NULL || model == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "%s is NULL", desc == NULL ? "desc" : "model");
    memset(desc, 0, sizeof(*desc));
    desc->unknown = NNRT_NO_TOKEN;
    if (strcmp(model, "gpt2") == 0) {
        desc->kind = NNRT_TOKENIZER_BPE;
        desc->byteLevel = true;
        desc->split = nnrti_text_gguf_split(pre, &desc->ignoreMerges);
        if (desc->split == NNRT_SPLIT_NONE)
            return nnrt_error_set(error, NNRT_UNSUPPORTED_OP, "the pre-tokenizer '%s' is not supported",
                                  pre != NULL ? pre : "");
    } else if (strcmp(model, "llama") == 0) {
        desc->kind = NNRT_TOKENIZER_SCORES;
        desc->byteFallback = true;
        desc->prefix = NNRT_PREFIX_ALWAYS;
    } else if (strcmp(model, "t5") == 0) {
        desc->kind = NNRT_TOKENIZER_UNIGRAM;
        desc->prefix = NNRT_PREFIX_ALWAYS;
    } else if (strcmp(model, "bert") == 0) {
        desc->kind = NNRT_TOKENIZER_WORDPIECE;
        desc->split = NNRT_SPLIT_BERT;
        desc->normalize =
            NNRT_NORMALIZE_CLEAN | NNRT_NORMALIZE_CHINESE | NNRT_NORMALIZE_ACCENTS | NNRT_NORMALIZE_LOWERCASE;
    } else {
        return nnrt_error_set(error, NNRT_UNSUPPORTED_OP, "the tokenizer '%s' is not supported", model);
    }
    return NNRT_SUCCESS;
}

NNRT_API void nnrt_tokenizer_destroy(nnrt_tokenizer *tokenizer)
{
    nnrt_allocator allocator;
    if (tokenizer == NULL)
        return;
    allocator = tokenizer->allocator;
    if (tokenizer->pieces.edges != NULL)
        nnrt_free(&allocator, tokenizer->pieces.edges, ((size_t)tokenizer->pieces.mask + 1) * sizeof(nnrti_text_edge));
    if (tokenizer->added.edges != NULL)
        nnrt_free(&allocator, tokenizer->added.edges, ((size_t)tokenizer->added.mask + 1) * sizeof(nnrti_text_edge));
    nnrt_memory_end(&tokenizer->memory);
    nnrt_free(&allocator, tokenizer, sizeof(*tokenizer));
}

NNRT_API uint32_t nnrt_tokenizer_count(const nnrt_tokenizer *tokenizer)
{
    return tokenizer != NULL ? tokenizer->desc.count : 0;
}

NNRT_API uint32_t nnrt_tokenizer_find(const nnrt_tokenizer *tokenizer, const char *text, size_t bytes)
{
    return tokenizer != NULL && text != NULL ? nnrti_text_find(tokenizer, nnrti_text_piece(text, bytes))
                                             : NNRT_NO_TOKEN;
}

NNRT_API nnrt_piece nnrt_token_text(const nnrt_tokenizer *tokenizer, uint32_t id)
{
    return id < nnrt_tokenizer_count(tokenizer) ? nnrti_text_token(tokenizer, id) : nnrti_text_piece(NULL, 0);
}

NNRT_API int32_t nnrt_token_type(const nnrt_tokenizer *tokenizer, uint32_t id)
{
    return id < nnrt_tokenizer_count(tokenizer) ? nnrti_text_type(tokenizer, id) : 0;
}

/* Control tokens that end a text or a message, as llama.cpp knows them (llama-vocab.cpp, special_eog_ids). */
static const char *const nnrti_text_ends[] = {"</s>",       "<eos>",      "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>",
                                              "<|eom_id|>", "<|im_end|>", "<end_of_turn>", "<|end|>"};

NNRT_API bool nnrt_tokenizer_ends(const nnrt_tokenizer *tokenizer, uint32_t id)
{
    const nnrt_piece text = nnrt_token_text(tokenizer, id);
    const bool control = nnrt_token_type(tokenizer, id) == NNRT_TOKEN_CONTROL;
    for (uint32_t i = 0; text.data != NULL && i < tokenizer->desc.endCount; i++)
        if (tokenizer->desc.ends[i] == id)
            return true;
    for (size_t i = 0; control && i < sizeof(nnrti_text_ends) / sizeof(nnrti_text_ends[0]); i++)
        if (strlen(nnrti_text_ends[i]) == text.bytes && memcmp(nnrti_text_ends[i], text.data, text.bytes) == 0)
            return true;
    return false;
}

NNRT_API nnrt_piece nnrt_tokenizer_template(const nnrt_tokenizer *tokenizer)
{
    return tokenizer != NULL ? tokenizer->desc.chatTemplate : nnrti_text_piece(NULL, 0);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_bpe The word is a list of symbols, linked in both directions, and a heap has the pairs that can merge. A merge
   extends the left symbol and empties the right one; pairs in the heap that contained either are recognized by their
   length when they come up, so that no pair is searched for. Each merge adds at most two pairs: n symbols need 3 n entries. */

#define NNRTI_TEXT_NONE 0xFFFFFFFFu

typedef struct nnrti_text_symbol {
    uint32_t at, bytes, id; /* bytes 0: merged into a symbol before; id: NNRT_NO_TOKEN = no token */
    uint32_t before, after; /* symbols */
} nnrti_text_symbol;

typedef struct nnrti_text_pair {
    uint32_t key; /* least first; then the leftmost */
    uint32_t left, right, bytes, id;
} nnrti_text_pair;

typedef struct nnrti_text_encoder {
    const nnrt_tokenizer *t;
    uint32_t flags, *ids;
    size_t capacity, count; /* count: also of ids that have no place */
    nnrti_text_buffer buffers[6];
    nnrti_text_symbol *symbols;
    nnrti_text_pair *heap;
    uint32_t nSymbols, nHeap;
    bool unknown; /* the last id is the unknown token, and the next one joins it */
} nnrti_text_encoder;

static void nnrti_text_emit(nnrti_text_encoder *e, uint32_t id)
{
    e->unknown = false;
    if (id == NNRT_NO_TOKEN)
        return;
    if (e->count < e->capacity)
        e->ids[e->count] = id;
    e->count++;
}

/* A character that is no token: its bytes, or the unknown token. fuse: one for adjacent characters. */
static void nnrti_text_emit_unknown(nnrti_text_encoder *e, nnrt_piece text, bool fuse)
{
    bool all = e->t->desc.byteFallback;
    for (size_t i = 0; i < text.bytes && all; i++)
        all = e->t->bytes[(uint8_t)text.data[i]] != NNRT_NO_TOKEN;
    for (size_t i = 0; i < text.bytes && all; i++)
        nnrti_text_emit(e, e->t->bytes[(uint8_t)text.data[i]]);
    if (all)
        return;
    if (!e->unknown || !fuse)
        nnrti_text_emit(e, e->t->desc.unknown);
    e->unknown = true;
}

static bool nnrti_text_pair_before(const nnrti_text_pair *a, const nnrti_text_pair *b)
{
    return a->key != b->key ? a->key < b->key : a->left < b->left;
}

static void nnrti_text_heap_push(nnrti_text_encoder *e, const nnrti_text_pair *pair)
{
    uint32_t i = e->nHeap++;
    for (; i > 0 && nnrti_text_pair_before(pair, &e->heap[(i - 1) / 2]); i = (i - 1) / 2)
        e->heap[i] = e->heap[(i - 1) / 2];
    e->heap[i] = *pair;
}

static nnrti_text_pair nnrti_text_heap_pop(nnrti_text_encoder *e)
{
    const nnrti_text_pair top = e->heap[0], last = e->heap[--e->nHeap];
    uint32_t i = 0;
    for (uint32_t child = 1; child < e->nHeap; child = 2 * i + 1) {
        if (child + 1 < e->nHeap && nnrti_text_pair_before(&e->heap[child + 1], &e->heap[child]))
            child++;
        if (!nnrti_text_pair_before(&e->heap[child], &last))
            break;
        e->heap[i] = e->heap[child];
        i = child;
    }
    e->heap[i] = last;
    return top;
}

/* A float as a number that decreases as the float increases. */
static uint32_t nnrti_text_score_key(float score)
{
    uint32_t bits;
    score = score + 0.0f; /* -0 becomes 0 */
    memcpy(&bits, &score, sizeof(bits));
    return bits >> 31 != 0 ? bits : ~bits & 0x7FFFFFFF;
}

/* Pushes the pair that begins with a symbol, if it can merge. */
static void nnrti_text_pair_add(nnrti_text_encoder *e, nnrt_piece word, uint32_t left)
{
    const nnrt_tokenizer *t = e->t;
    const nnrti_text_symbol *a, *b;
    nnrti_text_pair pair;
    if (left == NNRTI_TEXT_NONE || e->symbols[left].after == NNRTI_TEXT_NONE)
        return;
    a = &e->symbols[left];
    b = &e->symbols[a->after];
    pair.left = left;
    pair.right = a->after;
    pair.bytes = a->bytes + b->bytes;
    if (t->desc.kind == NNRT_TOKENIZER_SCORES) {
        pair.id = pair.bytes > t->longest ? NNRT_NO_TOKEN
                                          : nnrti_text_find(t, nnrti_text_piece(word.data + a->at, pair.bytes));
        pair.key = pair.id != NNRT_NO_TOKEN ? nnrti_text_score_key(t->scores[pair.id]) : 0;
    } else {
        pair.id = NNRT_NO_TOKEN;
        pair.key = 0;
        if (a->id != NNRT_NO_TOKEN && b->id != NNRT_NO_TOKEN) {
            const uint32_t *merge = nnrti_text_merge_slot(t, a->id, b->id);
            if (merge != NULL && *merge != 0) {
                pair.key = *merge;
                pair.id = t->merges[*merge - 1].id;
            }
        }
    }
    if (pair.id != NNRT_NO_TOKEN)
        nnrti_text_heap_push(e, &pair);
}

static void nnrti_text_symbol_add(nnrti_text_encoder *e, size_t at, size_t bytes, uint32_t id)
{
    nnrti_text_symbol *s = &e->symbols[e->nSymbols];
    s->at = (uint32_t)at;
    s->bytes = (uint32_t)bytes;
    s->id = id;
    s->before = e->nSymbols - 1; /* of the first one: NNRTI_TEXT_NONE */
    s->after = ++e->nSymbols;
}

/* The symbols of a word: bytes, or characters; a character that is no token is its bytes with BPE and byteFallback. */
static void nnrti_text_symbols(nnrti_text_encoder *e, nnrt_piece word)
{
    const nnrt_tokenizer *t = e->t;
    e->nSymbols = e->nHeap = 0;
    for (size_t at = 0, step = 1; at < word.bytes; at += step) {
        const uint8_t *s = (const uint8_t *)word.data + at;
        uint32_t c, id;
        bool all = t->desc.kind == NNRT_TOKENIZER_BPE && t->desc.byteFallback;
        if (t->desc.byteLevel) {
            nnrti_text_symbol_add(e, at, 1, t->bytes[*s]);
            continue;
        }
        step = nnrti_text_decode(word.data + at, word.bytes - at, &c);
        id = nnrti_text_find(t, nnrti_text_piece(word.data + at, step));
        for (size_t i = 0; i < step && all; i++)
            all = id == NNRT_NO_TOKEN && t->bytes[s[i]] != NNRT_NO_TOKEN;
        for (size_t i = 0; i < step && all; i++)
            nnrti_text_symbol_add(e, at + i, 1, t->bytes[s[i]]);
        if (!all)
            nnrti_text_symbol_add(e, at, step, id);
    }
    e->symbols[e->nSymbols - 1].after = NNRTI_TEXT_NONE;
}

static void nnrti_text_bpe(nnrti_text_encoder *e, nnrt_piece word)
{
    const nnrt_tokenizer *t = e->t;
    nnrti_text_buffer *symbols = &e->buffers[4], *heap = &e->buffers[5];
    size_t bytes = 0, pairs = 0;
    if (t->desc.ignoreMerges && word.bytes <= t->longest) {
        const uint32_t id = nnrti_text_find(t, word);
        if (id != NNRT_NO_TOKEN) {
            nnrti_text_emit(e, id);
            return;
        }
    }
    symbols->used = heap->used = 0;
    if (word.bytes > 0x3FFFFFFF || !nnrt_mul_size(word.bytes, sizeof(nnrti_text_symbol), &bytes) ||
        !nnrt_mul_size(word.bytes, 3 * sizeof(nnrti_text_pair), &pairs) || !nnrti_text_room(symbols, bytes) ||
        !nnrti_text_room(heap, pairs)) {
        heap->full = true;
        return;
    }
    e->symbols = (nnrti_text_symbol *)symbols->data;
    e->heap = (nnrti_text_pair *)heap->data;
    nnrti_text_symbols(e, word);
    for (uint32_t i = 0; i < e->nSymbols; i++)
        nnrti_text_pair_add(e, word, i);
    while (e->nHeap > 0) {
        const nnrti_text_pair pair = nnrti_text_heap_pop(e);
        nnrti_text_symbol *a = &e->symbols[pair.left], *b = &e->symbols[pair.right];
        if (a->bytes == 0 || b->bytes == 0 || a->bytes + b->bytes != pair.bytes)
            continue; /* an earlier merge changed it */
        a->bytes = pair.bytes;
        a->id = pair.id;
        a->after = b->after;
        b->bytes = 0;
        if (a->after != NNRTI_TEXT_NONE)
            e->symbols[a->after].before = pair.left;
        nnrti_text_pair_add(e, word, a->before);
        nnrti_text_pair_add(e, word, pair.left);
    }
    for (uint32_t i = 0; i != NNRTI_TEXT_NONE; i = e->symbols[i].after) {
        const nnrti_text_symbol *s = &e->symbols[i];
        if (s->id != NNRT_NO_TOKEN)
            nnrti_text_emit(e, s->id);
        else
            nnrti_text_emit_unknown(e, nnrti_text_piece(word.data + s->at, s->bytes), t->desc.fuseUnknown);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_unigram best[i] = the largest sum of scores of tokens that spell the first i bytes. Of equal sums the one with the
   longest last token is kept, as in SentencePiece's optimized encoder. */

typedef struct nnrti_text_best {
    double score;
    uint32_t from, id; /* the last token begins at byte `from`; NNRTI_TEXT_NONE: not reached */
} nnrti_text_best;

static void nnrti_text_reach(nnrti_text_best *best, size_t from, size_t to, double score, uint32_t id)
{
    if (best[to].from != NNRTI_TEXT_NONE && !(score > best[to].score))
        return;
    best[to].score = score;
    best[to].from = (uint32_t)from;
    best[to].id = id;
}

static void nnrti_text_unigram(nnrti_text_encoder *e, nnrt_piece word)
{
    const nnrt_tokenizer *t = e->t;
    nnrti_text_buffer *b = &e->buffers[4];
    nnrti_text_best *best;
    size_t bytes = 0, step, next;
    uint32_t c;
    b->used = 0;
    if (!nnrt_mul_size(word.bytes + 1, sizeof(*best), &bytes) || !nnrti_text_room(b, bytes)) {
        b->full = true;
        return;
    }
    best = (nnrti_text_best *)b->data;
    for (size_t i = 0; i <= word.bytes; i++)
        best[i].from = NNRTI_TEXT_NONE;
    best[0].score = 0;
    for (size_t at = 0; at < word.bytes; at += step) {
        const double before = best[at].score;
        bool single = false; /* the character is a token */
        uint32_t node = 0;
        step = nnrti_text_decode(word.data + at, word.bytes - at, &c);
        for (size_t i = at; i < word.bytes && t->pieces.edges != NULL; i++) {
            const nnrti_text_edge *edge = nnrti_text_edge_of(&t->pieces, node, (uint8_t)word.data[i]);
            if (edge->child == 0)
                break;
            node = edge->child;
            if (edge->id == NNRT_NO_TOKEN)
                continue;
            /* the score of a token that the user defined is 0 */
            nnrti_text_reach(best, at, i + 1,
                             before +
                                 (nnrti_text_type(t, edge->id) == NNRT_TOKEN_USER ? 0.0 : (double)t->scores[edge->id]),
                             edge->id);
            single = single || i + 1 == at + step;
        }
        if (!single)
            nnrti_text_reach(best, at, at + step, before + t->leastScore - 10, NNRT_NO_TOKEN);
    }
    /* from the end to the begin, then `from` becomes the end of the next token */
    for (size_t at = word.bytes, after = word.bytes; at > 0; at = next) {
        next = best[at].from;
        best[at].from = (uint32_t)after;
        after = at;
        if (next == 0)
            best[0].from = (uint32_t)after;
    }
    for (size_t at = 0; at < word.bytes; at = next) {
        next = best[at].from;
        if (best[next].id != NNRT_NO_TOKEN)
            nnrti_text_emit(e, best[next].id);
        else
            nnrti_text_emit_unknown(e, nnrti_text_piece(word.data + at, next - at), true);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_wordpiece */

#define NNRTI_TEXT_LONGEST_WORD 100 /* characters */

/* The longest token that begins word, with a text before it; returns its bytes of word, 0: none. */
static size_t nnrti_text_longest(nnrti_text_encoder *e, nnrt_piece before, nnrt_piece word, uint32_t *id)
{
    nnrti_text_buffer *b = &e->buffers[4];
    size_t end = word.bytes;
    nnrti_text_again(b);
    nnrti_text_put(b, before.data, before.bytes);
    nnrti_text_put(b, word.data, word.bytes);
    if (b->full)
        return 0;
    for (; end > 0; end--) {
        if (end < word.bytes && ((uint8_t)word.data[end] & 0xC0) == 0x80)
            continue; /* within a character */
        *id = nnrti_text_find(e->t, nnrti_text_piece((const char *)b->data, before.bytes + end));
        if (*id != NNRT_NO_TOKEN)
            return end;
    }
    return 0;
}

static void nnrti_text_wordpiece(nnrti_text_encoder *e, nnrt_piece word)
{
    const nnrt_piece none = nnrti_text_piece("", 0), mark = nnrti_text_piece(NNRTI_TEXT_SPACE_MARK, 3);
    const nnrt_piece within = e->t->desc.continuation, first = within.bytes > 0 ? none : mark;
    const size_t count = e->count;
    size_t characters = 0, at = 0, step;
    uint32_t id = NNRT_NO_TOKEN;
    for (size_t i = 0; i < word.bytes; i++)
        characters += ((uint8_t)word.data[i] & 0xC0) != 0x80;
    for (; characters <= NNRTI_TEXT_LONGEST_WORD && at < word.bytes; at += step) {
        step = nnrti_text_longest(e, at == 0 ? first : within, nnrti_text_piece(word.data + at, word.bytes - at), &id);
        if (step == 0)
            break;
        nnrti_text_emit(e, id);
    }
    if (at < word.bytes) {
        e->count = count;
        nnrti_text_emit(e, e->t->desc.unknown);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_encode */

static void nnrti_text_word(nnrti_text_encoder *e, nnrt_piece word)
{
    if (word.bytes == 0)
        return;
    switch (e->t->desc.kind) {
    case NNRT_TOKENIZER_UNIGRAM: nnrti_text_unigram(e, word); break;
    case NNRT_TOKENIZER_WORDPIECE: nnrti_text_wordpiece(e, word); break;
    default: nnrti_text_bpe(e, word); break;
    }
}

/* The next of two buffers, empty. */
static nnrti_text_buffer *nnrti_text_turn(nnrti_text_encoder *e, const nnrt_piece *text)
{
    nnrti_text_buffer *b = text->data == (const char *)e->buffers[0].data ? &e->buffers[1] : &e->buffers[0];
    nnrti_text_again(b);
    nnrti_text_again(&e->buffers[2]);
    nnrti_text_again(&e->buffers[3]);
    return b;
}

static nnrt_piece nnrti_text_result(const nnrti_text_buffer *b)
{
    return b->full || b->used == 0 ? nnrti_text_piece("", 0) : nnrti_text_piece((const char *)b->data, b->used);
}

/* Normalizes a fragment; the result is in a buffer, or the fragment itself. */
static nnrt_piece nnrti_text_normalize(nnrti_text_encoder *e, nnrt_piece text, bool first)
{
    const nnrt_tokenizer_desc *d = &e->t->desc;
    const nnrti_text_unicode *u = &e->t->unicode;
    const bool collapse = (d->normalize & NNRT_NORMALIZE_SPACES) != 0;
    const int32_t prefix = d->prefix == NNRT_PREFIX_FIRST && !first ? NNRT_PREFIX_NONE : d->prefix;
    nnrti_text_buffer *wide = &e->buffers[2], *spare = &e->buffers[3], *b;
    if ((d->normalize & NNRT_NORMALIZE_CHARSMAP) != 0) {
        nnrti_text_charsmap(d->charsmap, b = nnrti_text_turn(e, &text), text);
        text = nnrti_text_result(b);
    }
    if ((d->normalize & (NNRT_NORMALIZE_CLEAN | NNRT_NORMALIZE_CHINESE | NNRT_NORMALIZE_BLANKS)) != 0) {
        nnrti_text_clean(u, d->normalize, b = nnrti_text_turn(e, &text), text);
        text = nnrti_text_result(b);
    }
    if ((d->normalize & NNRT_NORMALIZE_ACCENTS) != 0) {
        nnrti_text_strip(u, b = nnrti_text_turn(e, &text), wide, spare, text);
        text = nnrti_text_result(b);
    }
    if ((d->normalize & NNRT_NORMALIZE_LOWERCASE) != 0) {
        nnrti_text_lowercase(u, b = nnrti_text_turn(e, &text), text);
        text = nnrti_text_result(b);
    }
    if ((d->normalize & NNRT_NORMALIZE_NFC) != 0) {
        nnrti_text_nfc(u, b = nnrti_text_turn(e, &text), wide, spare, text);
        text = nnrti_text_result(b);
    }
    if (collapse || prefix != NNRT_PREFIX_NONE || e->t->mark) {
        nnrti_text_spaces(b = nnrti_text_turn(e, &text), text, collapse, prefix,
                          e->t->mark ? NNRTI_TEXT_SPACE_MARK : " ");
        text = nnrti_text_result(b);
    }
    return text;
}

/* Encodes text without added tokens. first: it is the begin of the whole text. */
static void nnrti_text_fragment(nnrti_text_encoder *e, nnrt_piece text, bool first)
{
    const int32_t split = e->t->desc.split;
    nnrti_text_scan s;
    if (text.bytes == 0)
        return;
    s.unicode = &e->t->unicode;
    s.text = nnrti_text_normalize(e, text, first);
    for (size_t at = 0, between = 0, end; at < s.text.bytes; at = end) {
        switch (split) {
        case NNRT_SPLIT_NONE: end = s.text.bytes; break;
        case NNRT_SPLIT_MARK: end = nnrti_text_split_mark(&s, at); break;
        case NNRT_SPLIT_BERT: end = nnrti_text_split_bert(&s, &at); break;
        case NNRT_SPLIT_SMOLLM: end = nnrti_text_split_numerals(&s, at, &between); break;
        default: end = nnrti_text_split(&s, at, split); break;
        }
        nnrti_text_word(e, nnrti_text_piece(s.text.data + at, end - at));
    }
    e->unknown = false;
}

/* Whether the character at a place, or before it, is a letter, a digit or _. */
static bool nnrti_text_joins(const nnrti_text_unicode *u, nnrt_piece text, size_t at, bool before)
{
    nnrti_text_scan s;
    uint32_t kind;
    s.unicode = u;
    s.text = text;
    while (before && at > 0 && ((uint8_t)text.data[--at] & 0xC0) == 0x80) {
    }
    kind = 1u << nnrti_text_peek(&s, at);
    return s.c == '_' || (kind & (NNRTI_TEXT_LETTERS | NNRTI_TEXT_COMMON | NNRTI_TEXT_SET(NUMBER))) != 0;
}

/* The longest added token at a place; returns its bytes, 0: none. */
static size_t nnrti_text_added(const nnrti_text_encoder *e, nnrt_piece text, size_t at, uint32_t *id)
{
    const nnrt_tokenizer *t = e->t;
    size_t found = 0;
    uint32_t node = 0;
    for (size_t i = at; i < text.bytes; i++) {
        const nnrti_text_edge *edge = nnrti_text_edge_of(&t->added, node, (uint8_t)text.data[i]);
        if (edge->child == 0)
            break;
        node = edge->child;
        if (edge->id == NNRT_NO_TOKEN ||
            (nnrti_text_type(t, edge->id) == NNRT_TOKEN_CONTROL && (e->flags & NNRT_TEXT_SPECIAL) == 0))
            continue;
        if ((t->types[edge->id] & NNRT_TOKEN_WHOLE) != 0 &&
            ((at > 0 && nnrti_text_joins(&t->unicode, text, at, true)) ||
             nnrti_text_joins(&t->unicode, text, i + 1, false)))
            continue;
        found = i + 1 - at;
        *id = edge->id;
    }
    return found;
}

static void nnrti_text_fragments(nnrti_text_encoder *e, nnrt_piece text)
{
    const nnrt_tokenizer *t = e->t;
    nnrti_text_scan s;
    size_t begin = 0, at = 0;
    s.unicode = &t->unicode;
    s.text = text;
    while (at < text.bytes) {
        uint32_t id = 0;
        const size_t bytes = t->first[(uint8_t)text.data[at]] ? nnrti_text_added(e, text, at, &id) : 0;
        size_t end = at;
        if (bytes == 0) {
            at++;
            continue;
        }
        while ((t->types[id] & NNRT_TOKEN_LEFT) != 0 && end > begin) { /* one character of white space less */
            size_t last = end - 1;
            while (last > begin && ((uint8_t)text.data[last] & 0xC0) == 0x80)
                last--;
            if (nnrti_text_peek(&s, last) != NNRTI_TEXT_SPACE)
                break;
            end = last;
        }
        nnrti_text_fragment(e, nnrti_text_piece(text.data + begin, end - begin), begin == 0);
        nnrti_text_emit(e, id);
        at += bytes;
        if ((t->types[id] & NNRT_TOKEN_RIGHT) != 0)
            at = nnrti_text_run(&s, at, NNRTI_TEXT_SET(SPACE), 0xFFFFFFFFu);
        begin = at;
    }
    nnrti_text_fragment(e, nnrti_text_piece(text.data + begin, text.bytes - begin), begin == 0);
}

NNRT_API NNRT_ReturnCode nnrt_tokenize(const nnrt_tokenizer *tokenizer, const char *text, size_t bytes, uint32_t flags,
                                       uint32_t *ids, size_t capacity, size_t *count)
{
    nnrti_text_encoder e;
    nnrti_text_buffer mended;
    nnrt_piece whole = nnrti_text_piece(bytes > 0 ? text : "", bytes);
    bool full;
    if (count != NULL)
        *count = 0;
    if (tokenizer == NULL || count == NULL || (text == NULL && bytes > 0) || (ids == NULL && capacity > 0))
        return NNRT_NULL_PTR;
    if (bytes > 0x3FFFFFFF)
        return NNRT_INVALID_PARAMETER;
    memset(&e, 0, sizeof(e));
    memset(&mended, 0, sizeof(mended));
    e.t = tokenizer;
    e.flags = flags;
    e.ids = ids;
    e.capacity = capacity;
    mended.allocator = &tokenizer->allocator;
    for (uint32_t i = 0; i < sizeof(e.buffers) / sizeof(e.buffers[0]); i++)
        e.buffers[i].allocator = &tokenizer->allocator;
    if (nnrti_text_mend(&mended, whole))
        whole = nnrti_text_result(&mended);
    for (uint32_t i = 0; i < tokenizer->desc.beforeCount && (flags & NNRT_TEXT_AFFIXES) != 0; i++)
        nnrti_text_emit(&e, tokenizer->desc.before[i]);
    nnrti_text_fragments(&e, whole);
    for (uint32_t i = 0; i < tokenizer->desc.afterCount && (flags & NNRT_TEXT_AFFIXES) != 0; i++)
        nnrti_text_emit(&e, tokenizer->desc.after[i]);
    full = mended.full;
    nnrti_text_buffer_end(&mended);
    for (uint32_t i = 0; i < sizeof(e.buffers) / sizeof(e.buffers[0]); i++) {
        full = full || e.buffers[i].full;
        nnrti_text_buffer_end(&e.buffers[i]);
    }
    if (full)
        return NNRT_OUT_OF_MEMORY;
    *count = e.count;
    return e.count > capacity ? NNRT_INSUFFICIENT_BUFFER : NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_decode */

NNRT_API void nnrt_detokenizer_start(nnrt_detokenizer *d, const nnrt_tokenizer *tokenizer, uint32_t flags)
{
    memset(d, 0, sizeof(*d));
    d->tokenizer = tokenizer;
    d->flags = flags;
}

NNRT_API size_t nnrt_detokenizer_bytes(const nnrt_tokenizer *tokenizer)
{
    /* each byte may become U+FFFD, also those held; WordPiece adds a space */
    return tokenizer != NULL ? 3 * (size_t)tokenizer->longest + 3 * 4 + 1 : 0;
}

/* Appends bytes to the held ones, and writes whole characters. Bytes at the end that can begin a character are held. */
static size_t nnrti_text_flow(nnrt_detokenizer *d, nnrt_piece text, char *out)
{
    size_t n = 0;
    while (text.bytes > 0) {
        uint32_t c = 0;
        size_t step;
        d->bytes[d->held++] = text.data[0];
        text.data++;
        text.bytes--;
        for (;;) { /* a character that is cut is invalid, and has all held bytes */
            step = d->held > 0 ? nnrti_text_decode(d->bytes, d->held, &c) : 0;
            if (d->held == 0 ||
                (c == 0xFFFFFFFFu && step == d->held && (uint8_t)d->bytes[0] >= 0xC2 && (uint8_t)d->bytes[0] <= 0xF4))
                break;
            n += nnrti_text_encode(c == 0xFFFFFFFFu ? 0xFFFD : c, out + n);
            d->held -= (uint32_t)step;
            memmove(d->bytes, d->bytes + step, d->held);
        }
    }
    return n;
}

/* The byte that a token <0x41> spells; -1: it is none. */
static int32_t nnrti_text_hex(const nnrt_tokenizer *t, nnrt_piece text)
{
    int32_t value = 0;
    if (!t->desc.byteFallback || text.bytes != 6 || memcmp(text.data, "<0x", 3) != 0 || text.data[5] != '>')
        return -1;
    for (size_t i = 3; i < 5; i++) {
        const char c = text.data[i];
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F')))
            return -1;
        value = 16 * value + (c <= '9' ? c - '0' : c - 'A' + 10);
    }
    return value;
}

NNRT_API NNRT_ReturnCode nnrt_detokenize(nnrt_detokenizer *d, uint32_t id, char *out, size_t capacity, size_t *bytes)
{
    const nnrt_tokenizer *t = d->tokenizer;
    nnrt_piece text;
    int32_t type, byte;
    bool begun = d->begun, word = false;
    size_t n = 0;
    *bytes = 0;
    if (id >= nnrt_tokenizer_count(t))
        return NNRT_INVALID_PARAMETER;
    text = nnrti_text_token(t, id);
    type = nnrti_text_type(t, id);
    if (capacity < 3 * text.bytes + 3 * 4 + 1)
        return NNRT_INSUFFICIENT_BUFFER;
    if (type == NNRT_TOKEN_CONTROL && (d->flags & NNRT_TEXT_SPECIAL) == 0)
        return NNRT_SUCCESS;
    d->begun = true;
    byte = nnrti_text_hex(t, text);
    if (byte >= 0) {
        const char raw = (char)byte;
        *bytes = nnrti_text_flow(d, nnrti_text_piece(&raw, 1), out);
        return NNRT_SUCCESS;
    }
    if (t->desc.kind == NNRT_TOKENIZER_WORDPIECE && !nnrti_text_is_added(type)) {
        const nnrt_piece within = t->desc.continuation;
        if (within.bytes > 0)
            word = !(text.bytes > within.bytes && memcmp(text.data, within.data, within.bytes) == 0);
        else
            word = nnrti_text_begins(text, NNRTI_TEXT_SPACE_MARK);
        if (within.bytes > 0 ? !word : word)
            text = nnrti_text_piece(text.data + (word ? 3 : within.bytes), text.bytes - (word ? 3 : within.bytes));
        if (word && begun)
            n = nnrti_text_flow(d, nnrti_text_piece(" ", 1), out);
        n += nnrti_text_flow(d, text, out + n);
        *bytes = n;
        return NNRT_SUCCESS;
    }
    for (size_t at = 0, end; at < text.bytes; at = end) {
        const nnrt_piece rest = nnrti_text_piece(text.data + at, text.bytes - at);
        const bool space = t->mark && nnrti_text_begins(rest, NNRTI_TEXT_SPACE_MARK);
        end = at + (space ? 3 : 1);
        if (space || rest.data[0] == ' ') {
            const bool added = !begun && at == 0 && t->desc.prefix != NNRT_PREFIX_NONE; /* by encoding */
            n += added ? 0 : nnrti_text_flow(d, nnrti_text_piece(" ", 1), out + n);
        } else {
            n += nnrti_text_flow(d, nnrti_text_piece(rest.data, 1), out + n);
        }
    }
    *bytes = n;
    return NNRT_SUCCESS;
}

NNRT_API size_t nnrt_detokenizer_end(nnrt_detokenizer *d, char out[3])
{
    const size_t n = d->held > 0 ? nnrti_text_encode(0xFFFD, out) : 0;
    d->held = 0;
    return n;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_json tokenizer.json. The whole file is checked once, without recursion; everything after that walks valid JSON.
   No tree is built: an object is searched for the members that are needed, and the vocabulary becomes arrays. */

#define NNRTI_TEXT_DEPTH 64 /* of nested arrays and objects */

typedef struct nnrti_text_file {
    const char *begin, *end;
    nnrt_memory memory; /* until the tokenizer is built */
    nnrt_tokenizer_desc desc;
    nnrt_piece *tokens;
    float *scores;
    uint8_t *types;
    nnrt_merge *merges;
    nnrt_error *error;
    NNRT_ReturnCode code; /* of the first fault */
    nnrt_piece unknown;
} nnrti_text_file;

static void nnrti_text_fault(nnrti_text_file *f, NNRT_ReturnCode code, const char *text, nnrt_piece name)
{
    const nnrti_text_name what = nnrti_text_named(name);
    if (f->code == NNRT_SUCCESS)
        f->code = nnrt_error_set(f->error, code, text, what.text);
}

static nnrt_piece nnrti_text_words(const char *text)
{
    return nnrti_text_piece(text, strlen(text));
}

static const char *nnrti_text_skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

/* The end of a string that begins at a quote; NULL: invalid. */
static const char *nnrti_text_skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++) {
        if ((uint8_t)*at < 32)
            return NULL;
        if (*at != '\\')
            continue;
        if (++at >= end || strchr("\"\\/bfnrtu", *at) == NULL || *at == '\0')
            return NULL;
        for (int32_t i = 0; *at == 'u' && i < 4; i++) {
            if (end - at < 6 || strchr("0123456789abcdefABCDEF", at[1 + i]) == NULL || at[1 + i] == '\0')
                return NULL;
        }
    }
    return at < end ? at + 1 : NULL;
}

static const char *nnrti_text_skip_digits(const char *at, const char *end)
{
    const char *begin = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at > begin ? at : NULL;
}

/* The end of a string, number or literal; NULL: invalid. */
static const char *nnrti_text_skip_scalar(const char *at, const char *end)
{
    static const char *const words[] = {"true", "false", "null"};
    const char *begin;
    if (*at == '"')
        return nnrti_text_skip_string(at, end);
    for (size_t i = 0; i < 3; i++)
        if (nnrti_text_begins(nnrti_text_piece(at, (size_t)(end - at)), words[i]))
            return at + strlen(words[i]);
    at += *at == '-';
    begin = at;
    at = nnrti_text_skip_digits(at, end);
    if (at == NULL || (at - begin > 1 && *begin == '0'))
        return NULL;
    if (at < end && *at == '.')
        at = nnrti_text_skip_digits(at + 1, end);
    if (at != NULL && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        at = nnrti_text_skip_digits(at, end);
    }
    return at;
}

/* The end of a value; NULL: invalid, or nested too deeply. One bit of `objects` for each open bracket. */
static const char *nnrti_text_skip(const char *at, const char *end)
{
    uint64_t objects = 0;
    int32_t depth = 0;
    bool value = true, empty = false; /* a value must follow; a bracket may close instead */
    do {
        at = nnrti_text_skip_space(at, end);
        if (at >= end)
            return NULL;
        if (depth > 0 && (!value || empty) && *at == ((objects & 1) != 0 ? '}' : ']')) {
            at++;
            depth--;
            objects >>= 1;
            value = empty = false;
            continue;
        }
        if (!value) {
            if (*at++ != ',')
                return NULL;
            value = true;
            continue;
        }
        empty = false;
        if (depth > 0 && (objects & 1) != 0) {
            if (*at != '"' || (at = nnrti_text_skip_string(at, end)) == NULL)
                return NULL;
            at = nnrti_text_skip_space(at, end);
            if (at >= end || *at != ':')
                return NULL;
            at = nnrti_text_skip_space(at + 1, end);
            if (at >= end)
                return NULL;
        }
        if (*at == '[' || *at == '{') {
            if (depth++ == NNRTI_TEXT_DEPTH)
                return NULL;
            objects = objects << 1 | (*at++ == '{');
            empty = true;
            continue;
        }
        at = nnrti_text_skip_scalar(at, end);
        if (at == NULL)
            return NULL;
        value = false;
    } while (depth > 0 || value);
    return at;
}

/* ---- valid JSON from here on ---- */

/* The first element of an array or the first key of an object at `at`; NULL: none, or another value. */
static const char *nnrti_text_first(const nnrti_text_file *f, const char *at)
{
    if (at == NULL || (*at != '[' && *at != '{'))
        return NULL;
    at = nnrti_text_skip_space(at + 1, f->end);
    return *at == ']' || *at == '}' ? NULL : at;
}

/* The element, or key, behind a value; NULL: it is the last one. */
static const char *nnrti_text_next(const nnrti_text_file *f, const char *at)
{
    at = nnrti_text_skip_space(nnrti_text_skip(at, f->end), f->end);
    return *at == ',' ? nnrti_text_skip_space(at + 1, f->end) : NULL;
}

/* The value of a key. */
static const char *nnrti_text_value(const nnrti_text_file *f, const char *key)
{
    const char *at = nnrti_text_skip_space(nnrti_text_skip_string(key, f->end), f->end);
    return nnrti_text_skip_space(at + 1, f->end);
}

static uint32_t nnrti_text_hex4(const char *at)
{
    uint32_t value = 0;
    for (int32_t i = 0; i < 4; i++) {
        const char c = at[i];
        value = value << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return value;
}

/* A string at a quote; without escapes it is the bytes of the file. Surrogates without a partner become
   U+FFFD. */
static nnrt_piece nnrti_text_string(nnrti_text_file *f, const char *at)
{
    const char *end = nnrti_text_skip_string(at, f->end) - 1, *from = ++at;
    nnrt_piece text;
    char *out;
    text = nnrti_text_piece(at, (size_t)(end - at));
    if (memchr(at, '\\', text.bytes) == NULL)
        return text;
    out = (char *)nnrt_memory_keep(&f->memory, text.bytes);
    text = nnrti_text_piece(out, 0);
    if (out == NULL)
        return text;
    for (; from < end; from++) {
        static const char escapes[] = "b\bf\fn\nr\rt\t";
        const char *escape;
        uint32_t c;
        if (*from != '\\') {
            out[text.bytes++] = *from;
            continue;
        }
        from++;
        if (*from != 'u') {
            escape = strchr(escapes, *from);
            out[text.bytes++] = escape != NULL && (escape - escapes) % 2 == 0 ? escape[1] : *from;
            continue;
        }
        c = nnrti_text_hex4(from + 1);
        from += 4;
        if (c >= 0xD800 && c < 0xDC00 && end - from > 6 && from[1] == '\\' && from[2] == 'u') {
            const uint32_t low = nnrti_text_hex4(from + 3);
            if (low >= 0xDC00 && low < 0xE000) {
                c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
                from += 6;
            }
        }
        text.bytes += nnrti_text_encode(c >= 0xD800 && c < 0xE000 ? 0xFFFD : c, out + text.bytes);
    }
    return text;
}

static bool nnrti_text_is(nnrt_piece text, const char *other)
{
    return nnrti_text_same(text, nnrti_text_words(other));
}

/* The value of a member of an object; NULL: none, or null. */
static const char *nnrti_text_member(nnrti_text_file *f, const char *object, const char *name)
{
    const char *found = NULL;
    if (object == NULL || *object != '{')
        return NULL;
    for (const char *at = nnrti_text_first(f, object); at != NULL;) {
        const char *value = nnrti_text_value(f, at);
        const nnrt_piece key = nnrti_text_piece(at + 1, (size_t)(nnrti_text_skip_string(at, f->end) - at) - 2);
        if (nnrti_text_is(key, name)) /* names of members have no escapes */
            found = value;
        at = nnrti_text_next(f, value);
    }
    return found != NULL && *found == 'n' ? NULL : found;
}

/* The string of a member; empty: none. */
static nnrt_piece nnrti_text_string_of(nnrti_text_file *f, const char *object, const char *name)
{
    const char *at = nnrti_text_member(f, object, name);
    return at != NULL && *at == '"' ? nnrti_text_string(f, at) : nnrti_text_piece("", 0);
}

static bool nnrti_text_true(nnrti_text_file *f, const char *object, const char *name, bool absent)
{
    const char *at = nnrti_text_member(f, object, name);
    return at != NULL ? *at == 't' : absent;
}

/* A number. Up to 15 digits are exact before the power of ten, so that values written from float32 come back. */
static double nnrti_text_real(const char *at)
{
    const bool minus = *at == '-';
    double value = 0, scale = 1;
    int32_t exponent = 0, written = 0, digits = 0;
    bool point = false, down;
    for (at += minus; (*at >= '0' && *at <= '9') || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        if (digits < 17) {
            value = value * 10 + (*at - '0');
            digits += value > 0;
            exponent -= point;
        } else {
            exponent += !point;
        }
        if (exponent < -9999 || exponent > 9999)
            return 0;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        down = *at == '-';
        for (at += *at == '-' || *at == '+'; *at >= '0' && *at <= '9'; at++)
            written = written < 9999 ? written * 10 + (*at - '0') : written;
        exponent += down ? -written : written;
    }
    down = exponent < 0;
    for (exponent = down ? -exponent : exponent; exponent > 0 && scale < 1e300; exponent--)
        scale *= 10;
    value = down ? value / scale : value * scale;
    return minus ? -value : value;
}

/* An id; NNRT_NO_TOKEN: none below 2^31. */
static uint32_t nnrti_text_id(const char *at)
{
    const double value = at != NULL && ((*at >= '0' && *at <= '9') || *at == '-') ? nnrti_text_real(at) : -1;
    return value >= 0 && value < 2147483647.0 ? (uint32_t)value : NNRT_NO_TOKEN;
}

/* Reads ids of the vocabulary, which is an object {text: id} or an array [[text, score], ..], and of added tokens. tokens
   NULL: only counts. Returns the number of ids, and *entries. */
static uint32_t nnrti_text_load_vocab(nnrti_text_file *f, const char *vocab, const char *added, uint32_t *entries)
{
    uint32_t count = 0, index = 0, id;
    *entries = 0;
    for (const char *at = nnrti_text_first(f, vocab); at != NULL; index++) {
        const bool pair = *vocab == '[';
        const char *text = pair ? nnrti_text_first(f, at) : at;
        const char *value =
            text != NULL && *text == '"' ? pair ? nnrti_text_next(f, text) : nnrti_text_value(f, at) : NULL;
        id = value == NULL ? NNRT_NO_TOKEN : pair ? index : nnrti_text_id(value);
        if (id == NNRT_NO_TOKEN) {
            nnrti_text_fault(f, NNRT_INVALID_MODEL, "%s has an entry without text or id", nnrti_text_words("vocab"));
            return 0;
        }
        if (f->tokens != NULL) {
            f->tokens[id] = nnrti_text_string(f, text);
            f->types[id] = NNRT_TOKEN_NORMAL;
            if (pair)
                f->scores[id] = (float)nnrti_text_real(value);
        }
        count = id >= count ? id + 1 : count;
        ++*entries;
        at = nnrti_text_next(f, pair ? at : value);
    }
    for (const char *at = nnrti_text_first(f, added); at != NULL; at = nnrti_text_next(f, at)) {
        const char *text = nnrti_text_member(f, at, "content");
        id = nnrti_text_id(nnrti_text_member(f, at, "id"));
        if (id == NNRT_NO_TOKEN || text == NULL || *text != '"') {
            nnrti_text_fault(f, NNRT_INVALID_MODEL, "%s has an entry without content or id",
                             nnrti_text_words("added_tokens"));
            return 0;
        }
        if (f->tokens != NULL) {
            f->tokens[id] = nnrti_text_string(f, text);
            f->types[id] = (uint8_t)((nnrti_text_true(f, at, "special", false) ? NNRT_TOKEN_CONTROL : NNRT_TOKEN_USER) |
                                     (nnrti_text_true(f, at, "lstrip", false) ? NNRT_TOKEN_LEFT : 0) |
                                     (nnrti_text_true(f, at, "rstrip", false) ? NNRT_TOKEN_RIGHT : 0) |
                                     (nnrti_text_true(f, at, "single_word", false) ? NNRT_TOKEN_WHOLE : 0));
        }
        count = id >= count ? id + 1 : count;
        ++*entries;
    }
    return count;
}

/* Merges "a b" or ["a", "b"]. */
static void nnrti_text_load_pairs(nnrti_text_file *f, const char *merges)
{
    uint32_t count = 0;
    for (const char *at = nnrti_text_first(f, merges); at != NULL; at = nnrti_text_next(f, at))
        count++;
    f->merges = (nnrt_merge *)nnrt_memory_keep_array(&f->memory, (size_t)count + 1, sizeof(*f->merges));
    if (f->merges == NULL)
        return;
    f->desc.merges = f->merges;
    for (const char *at = nnrti_text_first(f, merges); at != NULL; at = nnrti_text_next(f, at)) {
        nnrt_merge *m = &f->merges[f->desc.mergeCount++];
        const char *left = nnrti_text_first(f, at), *right = left != NULL ? nnrti_text_next(f, left) : NULL;
        if (right != NULL && *left == '"' && *right == '"') {
            m->left = nnrti_text_string(f, left);
            m->right = nnrti_text_string(f, right);
        } else if (*at == '"') {
            const nnrt_piece both = nnrti_text_string(f, at);
            const char *space = both.bytes > 0 ? (const char *)memchr(both.data, ' ', both.bytes) : NULL;
            if (space != NULL) {
                m->left = nnrti_text_piece(both.data, (size_t)(space - both.data));
                m->right = nnrti_text_piece(space + 1, both.bytes - m->left.bytes - 1);
            }
        }
        if (m->left.bytes == 0 || m->right.bytes == 0)
            nnrti_text_fault(f, NNRT_INVALID_MODEL, "%s has an entry that is no pair", nnrti_text_words("merges"));
    }
}

static void nnrti_text_load_model(nnrti_text_file *f, const char *model, const char *added)
{
    nnrt_tokenizer_desc *d = &f->desc;
    const char *vocab = nnrti_text_member(f, model, "vocab"), *merges = nnrti_text_member(f, model, "merges");
    nnrt_piece type = nnrti_text_string_of(f, model, "type");
    uint32_t entries = 0;
    if (vocab == NULL || (*vocab != '{' && *vocab != '[')) {
        nnrti_text_fault(f, NNRT_INVALID_MODEL, "%s has no vocab", nnrti_text_words("model"));
        return;
    }
    if (type.bytes == 0) /* files of before 2020 have no type */
        type = nnrti_text_words(merges != NULL ? "BPE" : *vocab == '[' ? "Unigram" : "WordPiece");
    if (nnrti_text_is(type, "BPE"))
        d->kind = NNRT_TOKENIZER_BPE;
    else if (nnrti_text_is(type, "Unigram"))
        d->kind = NNRT_TOKENIZER_UNIGRAM;
    else if (nnrti_text_is(type, "WordPiece"))
        d->kind = NNRT_TOKENIZER_WORDPIECE;
    else
        nnrti_text_fault(f, NNRT_UNSUPPORTED_OP, "the model %s is not supported", type);
    if ((d->kind == NNRT_TOKENIZER_UNIGRAM) != (*vocab == '['))
        nnrti_text_fault(f, NNRT_INVALID_MODEL, "the vocab is not that of the model %s", type);
    if (d->kind == NNRT_TOKENIZER_BPE && (nnrti_text_string_of(f, model, "continuing_subword_prefix").bytes > 0 ||
                                          nnrti_text_string_of(f, model, "end_of_word_suffix").bytes > 0))
        nnrti_text_fault(f, NNRT_UNSUPPORTED_OP, "%s is not supported",
                         nnrti_text_words("continuing_subword_prefix or end_of_word_suffix"));
    d->count = f->code == NNRT_SUCCESS ? nnrti_text_load_vocab(f, vocab, added, &entries) : 0;
    if (f->code == NNRT_SUCCESS && d->count / 2 > entries + 512) /* memory in proportion to the file */
        nnrti_text_fault(f, NNRT_INVALID_MODEL, "%s has an id that is too large for the number of entries",
                         nnrti_text_words("vocab"));
    if (f->code != NNRT_SUCCESS)
        return;
    f->tokens = (nnrt_piece *)nnrt_memory_keep_array(&f->memory, (size_t)d->count + 1, sizeof(*f->tokens));
    f->types = (uint8_t *)nnrt_memory_keep(&f->memory, (size_t)d->count + 1);
    f->scores = (float *)nnrt_memory_keep_array(&f->memory, (size_t)d->count + 1, sizeof(*f->scores));
    if (f->memory.full)
        return;
    d->tokens = f->tokens;
    d->types = f->types;
    d->scores = d->kind == NNRT_TOKENIZER_UNIGRAM ? f->scores : NULL;
    (void)nnrti_text_load_vocab(f, vocab, added, &entries);
    if (d->kind == NNRT_TOKENIZER_BPE)
        nnrti_text_load_pairs(f, merges);
    d->byteFallback = nnrti_text_true(f, model, "byte_fallback", false);
    d->fuseUnknown = nnrti_text_true(f, model, "fuse_unk", false);
    d->ignoreMerges = nnrti_text_true(f, model, "ignore_merges", false);
    if (d->kind == NNRT_TOKENIZER_WORDPIECE) {
        d->continuation = nnrti_text_string_of(f, model, "continuing_subword_prefix");
        if (d->continuation.bytes == 0)
            d->continuation = nnrti_text_words("##");
    }
    if (d->kind == NNRT_TOKENIZER_UNIGRAM)
        d->unknown = nnrti_text_id(nnrti_text_member(f, model, "unk_id"));
    else
        f->unknown = nnrti_text_string_of(f, model, "unk_token");
}

/* Base64 of a string (RFC 4648). */
static nnrt_piece nnrti_text_base64(nnrti_text_file *f, nnrt_piece text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *out = (uint8_t *)nnrt_memory_keep(&f->memory, text.bytes / 4 * 3 + 3);
    uint32_t bits = 0, n = 0;
    size_t bytes = 0;
    for (size_t i = 0; out != NULL && i < text.bytes && text.data[i] != '='; i++) {
        const char *digit = text.data[i] != '\0' ? strchr(digits, text.data[i]) : NULL;
        if (digit == NULL) {
            nnrti_text_fault(f, NNRT_INVALID_MODEL, "%s is no base64", nnrti_text_words("precompiled_charsmap"));
            break;
        }
        bits = bits << 6 | (uint32_t)(digit - digits);
        n += 6;
        if (n >= 8) {
            n -= 8;
            out[bytes++] = (uint8_t)(bits >> n);
        }
    }
    return nnrti_text_piece((const char *)out, bytes);
}

/* The string that a pattern {"String": ..} or {"Regex": ..} has; *regex: which. */
static nnrt_piece nnrti_text_pattern(nnrti_text_file *f, const char *object, bool *regex)
{
    const char *pattern = nnrti_text_member(f, object, "pattern");
    *regex = nnrti_text_member(f, pattern, "Regex") != NULL;
    return nnrti_text_string_of(f, pattern, *regex ? "Regex" : "String");
}

static void nnrti_text_load_normalizer(nnrti_text_file *f, const char *at)
{
    const nnrt_piece type = nnrti_text_string_of(f, at, "type");
    nnrt_tokenizer_desc *d = &f->desc;
    bool regex = false;
    if (at == NULL)
        return;
    if (nnrti_text_is(type, "NFC")) {
        d->normalize |= NNRT_NORMALIZE_NFC;
    } else if (nnrti_text_is(type, "Lowercase")) {
        d->normalize |= NNRT_NORMALIZE_LOWERCASE;
    } else if (nnrti_text_is(type, "BertNormalizer")) {
        const bool lower = nnrti_text_true(f, at, "lowercase", true);
        if (lower)
            d->normalize |= NNRT_NORMALIZE_LOWERCASE;
        if (nnrti_text_true(f, at, "clean_text", true))
            d->normalize |= NNRT_NORMALIZE_CLEAN;
        if (nnrti_text_true(f, at, "handle_chinese_chars", true))
            d->normalize |= NNRT_NORMALIZE_CHINESE;
        if (nnrti_text_true(f, at, "strip_accents", lower))
            d->normalize |= NNRT_NORMALIZE_ACCENTS;
    } else if (nnrti_text_is(type, "Precompiled")) {
        const char *map = nnrti_text_member(f, at, "precompiled_charsmap");
        if (map != NULL && *map == '"') {
            d->normalize |= NNRT_NORMALIZE_CHARSMAP;
            d->charsmap = nnrti_text_base64(f, nnrti_text_string(f, map));
        }
    } else if (nnrti_text_is(type, "Prepend") &&
               nnrti_text_is(nnrti_text_string_of(f, at, "prepend"), NNRTI_TEXT_SPACE_MARK)) {
        d->prefix = NNRT_PREFIX_ALWAYS;
    } else if (nnrti_text_is(type, "Replace") && nnrti_text_is(nnrti_text_pattern(f, at, &regex), " ") &&
               nnrti_text_is(nnrti_text_string_of(f, at, "content"), NNRTI_TEXT_SPACE_MARK) && !regex) {
        d->spaces = false;
    } else if (nnrti_text_is(type, "Replace") && nnrti_text_is(nnrti_text_pattern(f, at, &regex), " {2,}") && regex) {
        d->normalize |=
            NNRT_NORMALIZE_SPACES; /* XLM-R and its like; the Metaspace behind it makes the same of the rest */
    } else if (!nnrti_text_is(type, "Sequence")) {
        nnrti_text_fault(f, NNRT_UNSUPPORTED_OP, "the normalizer %s is not supported", type);
    }
    at = nnrti_text_is(type, "Sequence") ? nnrti_text_member(f, at, "normalizers") : NULL;
    for (at = nnrti_text_first(f, at); at != NULL && f->code == NNRT_SUCCESS; at = nnrti_text_next(f, at))
        nnrti_text_load_normalizer(f, *at == '{' ? at : NULL);
}

/* The expressions of files, as they are spelled there. */
#define NNRTI_TEXT_TAIL "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define NNRTI_TEXT_TAIL_GPT4O "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define NNRTI_TEXT_SHORT "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define NNRTI_TEXT_UPPERS "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define NNRTI_TEXT_LOWERS "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"

static int32_t nnrti_text_expression(nnrt_piece pattern)
{
    static const struct {
        const char *pattern;
        int32_t split;
    } rows[] = {
        {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", NNRT_SPLIT_GPT2},
        {NNRTI_TEXT_SHORT "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}" NNRTI_TEXT_TAIL, NNRT_SPLIT_LLAMA3},
        {NNRTI_TEXT_SHORT "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}" NNRTI_TEXT_TAIL, NNRT_SPLIT_QWEN2},
        {"[^\\r\\n\\p{L}\\p{N}]?" NNRTI_TEXT_UPPERS "*" NNRTI_TEXT_LOWERS "+" NNRTI_TEXT_SHORT
         "?|[^\\r\\n\\p{L}\\p{N}]?" NNRTI_TEXT_UPPERS "+" NNRTI_TEXT_LOWERS "*" NNRTI_TEXT_SHORT
         "?" NNRTI_TEXT_TAIL_GPT4O,
         NNRT_SPLIT_GPT4O},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (nnrti_text_is(pattern, rows[i].pattern))
            return rows[i].split;
    return NNRT_SPLIT_NONE;
}

/* A Split by an expression of the table, whose matches are the words. A Split by a space that no text has after the
   normalizer changes nothing (Gemma). */
static void nnrti_text_load_expression(nnrti_text_file *f, const char *at)
{
    const nnrt_piece behavior = nnrti_text_string_of(f, at, "behavior");
    bool regex = false;
    const nnrt_piece pattern = nnrti_text_pattern(f, at, &regex);
    const bool invert = nnrti_text_true(f, at, "invert", false);
    const bool words = nnrti_text_is(behavior, "Isolated") || (nnrti_text_is(behavior, "Removed") && invert);
    const int32_t split = regex && words ? nnrti_text_expression(pattern) : NNRT_SPLIT_NONE;
    if (!regex && nnrti_text_is(pattern, " ") && !f->desc.spaces)
        return;
    if (split == NNRT_SPLIT_NONE || f->desc.split != NNRT_SPLIT_NONE)
        nnrti_text_fault(f, NNRT_UNSUPPORTED_OP, "the pre-tokenizer Split by '%s' is not supported", pattern);
    f->desc.split = split;
}

static void nnrti_text_load_metaspace(nnrti_text_file *f, const char *at)
{
    const nnrt_piece scheme = nnrti_text_string_of(f, at, "prepend_scheme");
    const bool prefix = nnrti_text_true(f, at, "add_prefix_space", true);
    if (!nnrti_text_is(nnrti_text_string_of(f, at, "replacement"), NNRTI_TEXT_SPACE_MARK))
        nnrti_text_fault(f, NNRT_UNSUPPORTED_OP, "the replacement of %s is not supported",
                         nnrti_text_words("Metaspace"));
    f->desc.spaces = false;
    f->desc.prefix = nnrti_text_is(scheme, "first")                                     ? NNRT_PREFIX_FIRST
                     : nnrti_text_is(scheme, "never") || (scheme.bytes == 0 && !prefix) ? NNRT_PREFIX_NONE
                                                                                        : NNRT_PREFIX_MISSING;
    if (nnrti_text_true(f, at, "split", true))
        f->desc.split = NNRT_SPLIT_MARK;
}

static void nnrti_text_load_splits(nnrti_text_file *f, const char *at)
{
    const nnrt_piece type = nnrti_text_string_of(f, at, "type");
    nnrt_tokenizer_desc *d = &f->desc;
    if (at == NULL)
        return;
    if (nnrti_text_is(type, "ByteLevel")) {
        d->byteLevel = true;
        if (nnrti_text_true(f, at, "add_prefix_space", true))
            d->prefix = NNRT_PREFIX_MISSING;
        if (nnrti_text_true(f, at, "use_regex", true) && d->split == NNRT_SPLIT_NONE)
            d->split = NNRT_SPLIT_GPT2;
        else if (d->split == NNRT_SPLIT_SMOLLM && !nnrti_text_true(f, at, "use_regex", true))
            nnrti_text_fault(f, NNRT_UNSUPPORTED_OP, "the pre-tokenizer %s without an expression is not supported",
                             nnrti_text_words("Digits"));
    } else if (nnrti_text_is(type, "Digits") && d->split == NNRT_SPLIT_NONE &&
               nnrti_text_true(f, at, "individual_digits", false)) {
        d->split = NNRT_SPLIT_SMOLLM; /* ByteLevel follows, and splits the text between them */
    } else if (nnrti_text_is(type, "Split")) {
        nnrti_text_load_expression(f, at);
    } else if (nnrti_text_is(type, "Metaspace")) {
        nnrti_text_load_metaspace(f, at);
    } else if (nnrti_text_is(type, "WhitespaceSplit")) {
        /* T5: the words become U+2581 and text, as after SentencePiece's own step */
        d->normalize |= NNRT_NORMALIZE_BLANKS | NNRT_NORMALIZE_SPACES;
    } else if (nnrti_text_is(type, "BertPreTokenizer")) {
        d->split = NNRT_SPLIT_BERT;
    } else if (!nnrti_text_is(type, "Sequence")) {
        nnrti_text_fault(f, NNRT_UNSUPPORTED_OP, "the pre-tokenizer %s is not supported", type);
    }
    at = nnrti_text_is(type, "Sequence") ? nnrti_text_member(f, at, "pretokenizers") : NULL;
    for (at = nnrti_text_first(f, at); at != NULL && f->code == NNRT_SUCCESS; at = nnrti_text_next(f, at))
        nnrti_text_load_splits(f, *at == '{' ? at : NULL);
}

/* The id of an added token by its text, or of the vocabulary. */
static uint32_t nnrti_text_lookup(const nnrti_text_file *f, nnrt_piece text)
{
    for (uint32_t i = f->desc.count; i-- > 0;)
        if (nnrti_text_same(f->tokens[i], text) && text.bytes > 0)
            return i;
    return NNRT_NO_TOKEN;
}

static void nnrti_text_affix(nnrti_text_file *f, nnrt_piece text, bool after)
{
    nnrt_tokenizer_desc *d = &f->desc;
    uint32_t *count = after ? &d->afterCount : &d->beforeCount, id;
    if (f->code != NNRT_SUCCESS)
        return; /* each search takes the time of the whole vocabulary */
    if (*count == NNRT_TEXT_MAX_AFFIXES) {
        nnrti_text_fault(f, NNRT_UNSUPPORTED_OP, "the %s has more tokens than are supported",
                         nnrti_text_words("post_processor"));
        return;
    }
    id = nnrti_text_lookup(f, text);
    if (id == NNRT_NO_TOKEN)
        nnrti_text_fault(f, NNRT_INVALID_MODEL, "the post_processor names '%s', which is no token", text);
    else
        (after ? d->after : d->before)[(*count)++] = id;
}

static void nnrti_text_load_affixes(nnrti_text_file *f, const char *at)
{
    const nnrt_piece type = nnrti_text_string_of(f, at, "type");
    bool after = false;
    if (at == NULL || nnrti_text_is(type, "ByteLevel"))
        return;
    if (nnrti_text_is(type, "TemplateProcessing")) {
        for (const char *k = nnrti_text_first(f, nnrti_text_member(f, at, "single")); k != NULL;
             k = nnrti_text_next(f, k)) {
            const char *special = nnrti_text_member(f, k, "SpecialToken");
            if (special != NULL)
                nnrti_text_affix(f, nnrti_text_string_of(f, special, "id"), after);
            else
                after = true;
        }
    } else if (nnrti_text_is(type, "BertProcessing") || nnrti_text_is(type, "RobertaProcessing")) {
        const char *first = nnrti_text_first(f, nnrti_text_member(f, at, "cls"));
        const char *last = nnrti_text_first(f, nnrti_text_member(f, at, "sep"));
        if (first != NULL && *first == '"')
            nnrti_text_affix(f, nnrti_text_string(f, first), false);
        if (last != NULL && *last == '"')
            nnrti_text_affix(f, nnrti_text_string(f, last), true);
    } else if (!nnrti_text_is(type, "Sequence")) {
        nnrti_text_fault(f, NNRT_UNSUPPORTED_OP, "the post_processor %s is not supported", type);
    }
    at = nnrti_text_is(type, "Sequence") ? nnrti_text_member(f, at, "processors") : NULL;
    for (at = nnrti_text_first(f, at); at != NULL && f->code == NNRT_SUCCESS; at = nnrti_text_next(f, at))
        nnrti_text_load_affixes(f, *at == '{' ? at : NULL);
}

/* The object that the file is; NULL: it is none, which is a fault. */
static const char *nnrti_text_object(nnrti_text_file *f, const char *name)
{
    const char *top = nnrti_text_skip_space(f->begin, f->end), *behind;
    behind = top < f->end ? nnrti_text_skip(top, f->end) : NULL;
    if (behind != NULL && nnrti_text_skip_space(behind, f->end) == f->end && *top == '{')
        return top;
    nnrti_text_fault(f, NNRT_INVALID_MODEL, "%s is no JSON object, or is nested too deeply", nnrti_text_words(name));
    return NULL;
}

static void nnrti_text_load_file(nnrti_text_file *f)
{
    const char *const top = nnrti_text_object(f, "tokenizer.json");
    if (top == NULL)
        return;
    f->desc.unknown = NNRT_NO_TOKEN;
    f->desc.spaces = true;
    nnrti_text_load_model(f, nnrti_text_member(f, top, "model"), nnrti_text_member(f, top, "added_tokens"));
    if (f->code != NNRT_SUCCESS || f->memory.full)
        return;
    nnrti_text_load_normalizer(f, nnrti_text_member(f, top, "normalizer"));
    nnrti_text_load_splits(f, nnrti_text_member(f, top, "pre_tokenizer"));
    if (f->desc.split == NNRT_SPLIT_SMOLLM && !f->desc.byteLevel)
        nnrti_text_fault(f, NNRT_UNSUPPORTED_OP, "the pre-tokenizer %s without ByteLevel is not supported",
                         nnrti_text_words("Digits"));
    nnrti_text_load_affixes(f, nnrti_text_member(f, top, "post_processor"));
    if (f->unknown.bytes > 0)
        f->desc.unknown = nnrti_text_lookup(f, f->unknown);
}

/* The chat template of tokenizer_config.json: a text, or a list of objects with name and template, of which the one named
   default is taken; empty: none. */
static nnrt_piece nnrti_text_load_template(nnrti_text_file *f, const char *top)
{
    const char *at = nnrti_text_member(f, top, "chat_template");
    if (at == NULL || *at != '[')
        return nnrti_text_string_of(f, top, "chat_template");
    for (at = nnrti_text_first(f, at); at != NULL; at = nnrti_text_next(f, at))
        if (*at == '{' && nnrti_text_is(nnrti_text_string_of(f, at, "name"), "default"))
            return nnrti_text_string_of(f, at, "template");
    return nnrti_text_piece("", 0);
}

/* Chat template and eos_token, a text or an added token, of tokenizer_config.json, whose bytes these are. */
static void nnrti_text_load_config(nnrti_text_file *f, nnrt_piece config)
{
    const char *const begin = f->begin, *const end = f->end, *top, *eos;
    if (config.bytes == 0 || f->code != NNRT_SUCCESS || f->memory.full)
        return;
    f->begin = config.data;
    f->end = config.data + config.bytes;
    if ((top = nnrti_text_object(f, "tokenizer_config.json")) != NULL) {
        uint32_t id;
        eos = nnrti_text_member(f, top, "eos_token");
        id = nnrti_text_lookup(f, eos != NULL && *eos == '{' ? nnrti_text_string_of(f, eos, "content")
                                                            : nnrti_text_string_of(f, top, "eos_token"));
        if (id != NNRT_NO_TOKEN)
            f->desc.ends[f->desc.endCount++] = id;
        f->desc.chatTemplate = nnrti_text_load_template(f, top);
    }
    f->begin = begin;
    f->end = end;
}

/* Builds the tokenizer that a file describes, unless reading it failed, and frees the memory of the reader. */
static NNRT_ReturnCode nnrti_text_make(nnrti_text_file *f, nnrt_tokenizer **tokenizer, const nnrt_allocator *allocator)
{
    if (f->code == NNRT_SUCCESS && f->memory.full)
        f->code = nnrti_text_no_memory(f->error);
    if (f->code == NNRT_SUCCESS)
        f->code = nnrt_tokenizer_create(tokenizer, &f->desc, allocator, f->error);
    nnrt_memory_end(&f->memory);
    return f->code;
}

/* Builds a tokenizer from the bytes of tokenizer.json and of the files beside it: tokenizer_config.json, and
   chat_template.jinja, where newer models have the template; empty: there is none. */
static NNRT_ReturnCode nnrti_text_load_json(nnrt_tokenizer **tokenizer, nnrt_piece file, nnrt_piece config, nnrt_piece chat,
                                            const nnrt_allocator *allocator, nnrt_error *error)
{
    nnrti_text_file f;
    if (file.bytes > 0x7FFFFFFF || config.bytes > 0x7FFFFFFF)
        return nnrt_error_set(error, NNRT_INVALID_MODEL, "tokenizer%s.json has more than 2^31 - 1 bytes",
                              file.bytes > 0x7FFFFFFF ? "" : "_config");
    memset(&f, 0, sizeof(f));
    f.begin = file.data;
    f.end = f.begin + file.bytes;
    f.error = error;
    nnrt_memory_allocate(&f.memory, allocator);
    nnrti_text_load_file(&f);
    nnrti_text_load_config(&f, config);
    if (f.desc.chatTemplate.bytes == 0)
        f.desc.chatTemplate = chat;
    return nnrti_text_make(&f, tokenizer, allocator);
}

NNRT_API NNRT_ReturnCode nnrt_tokenizer_load_json(nnrt_tokenizer **tokenizer, const void *data, size_t bytes,
                                                  const nnrt_allocator *allocator, nnrt_error *error)
{
    const nnrt_piece none = nnrti_text_piece(NULL, 0);
    if (tokenizer == NULL || data == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "%s is NULL", tokenizer == NULL ? "tokenizer" : "data");
    *tokenizer = NULL;
    return nnrti_text_load_json(tokenizer, nnrti_text_piece((const char *)data, bytes), none, none, allocator, error);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_gguf The keys of a GGUF file. A file begins with "GGUF", u32 version, u64 tensors, u64 keys; a key is a string, u32
   type, value; a string is u64 bytes and these; a value of type 9, an array, is u32 type, u64 count and the elements. The
   reader of formats/nnrt_gguf.h is not used, so that a program with text needs no importer. */

/* Keys behind "tokenizer.": X(name, text) */
#define NNRTI_TEXT_KEYS(X)                                                                                             \
    X(MODEL, "ggml.model")                                                                                             \
    X(PRE, "ggml.pre")                                                                                                 \
    X(TOKENS, "ggml.tokens")                                                                                           \
    X(SCORES, "ggml.scores")                                                                                           \
    X(TYPES, "ggml.token_type")                                                                                        \
    X(MERGES, "ggml.merges")                                                                                           \
    X(CHARSMAP, "ggml.precompiled_charsmap")                                                                           \
    X(BOS, "ggml.bos_token_id")                                                                                        \
    X(EOS, "ggml.eos_token_id")                                                                                        \
    X(EOT, "ggml.eot_token_id")                                                                                        \
    X(EOM, "ggml.eom_token_id")                                                                                        \
    X(UNKNOWN, "ggml.unknown_token_id")                                                                                \
    X(SEP, "ggml.seperator_token_id") /* as files spell it */                                                          \
    X(CLS, "ggml.cls_token_id")                                                                                        \
    X(ADD_BOS, "ggml.add_bos_token")                                                                                   \
    X(ADD_EOS, "ggml.add_eos_token")                                                                                   \
    X(ADD_SEP, "ggml.add_sep_token")                                                                                   \
    X(ADD_PREFIX, "ggml.add_space_prefix")                                                                             \
    X(REMOVE_SPACES, "ggml.remove_extra_whitespaces")                                                                  \
    X(TEMPLATE, "chat_template")
#define NNRTI_TEXT_KEY_VALUE(name, text) NNRTI_TEXT_KEY_##name,
#define NNRTI_TEXT_KEY_TEXT(name, text) text,
enum { NNRTI_TEXT_KEYS(NNRTI_TEXT_KEY_VALUE) NNRTI_TEXT_KEY_END };

/* Types of values. */
enum { NNRTI_TEXT_FLOAT32 = 6, NNRTI_TEXT_BOOL = 7, NNRTI_TEXT_STRING = 8, NNRTI_TEXT_ARRAY = 9 };

/* A value in the file: its elements, of which a single value is one. type 0xFF: the file lacks the key. */
typedef struct nnrti_text_entry {
    uint32_t type;
    bool array;
    size_t count;
    nnrt_piece data;
} nnrti_text_entry;

typedef struct nnrti_text_gguf {
    nnrt_piece rest;                              /* bytes that are not read yet */
    const char *wrong;                            /* the first fault; NULL: none */
    bool cut;                                     /* the fault is that bytes are missing */
    nnrti_text_entry entries[NNRTI_TEXT_KEY_END]; /* by NNRTI_TEXT_KEY_... */
} nnrti_text_gguf;

/* The next n bytes; {NULL, 0}: they are missing. */
static nnrt_piece nnrti_text_bytes(nnrti_text_gguf *g, uint64_t n)
{
    const nnrt_piece taken = nnrti_text_piece(g->rest.data, (size_t)n);
    if (g->wrong == NULL && n > (uint64_t)g->rest.bytes) {
        g->wrong = "is cut short";
        g->cut = true;
    }
    if (g->wrong != NULL)
        return nnrti_text_piece(NULL, 0);
    g->rest = nnrti_text_piece(g->rest.data + n, g->rest.bytes - (size_t)n);
    return taken;
}

/* A little-endian integer at p. */
static uint64_t nnrti_text_integer(const char *p, uint32_t bytes)
{
    uint64_t v = 0;
    while (bytes-- > 0)
        v = v << 8 | (uint8_t)p[bytes];
    return v;
}

static uint64_t nnrti_text_take(nnrti_text_gguf *g, uint32_t bytes)
{
    const nnrt_piece p = nnrti_text_bytes(g, bytes);
    return p.data != NULL ? nnrti_text_integer(p.data, bytes) : 0;
}

static nnrt_piece nnrti_text_take_string(nnrti_text_gguf *g)
{
    return nnrti_text_bytes(g, nnrti_text_take(g, 8));
}

/* Bytes of an element; 0: a string, an array, or no type. */
static uint32_t nnrti_text_width(uint32_t type)
{
    static const uint8_t widths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return type < sizeof(widths) ? widths[type] : 0;
}

static nnrti_text_entry nnrti_text_take_value(nnrti_text_gguf *g)
{
    nnrti_text_entry e;
    uint64_t count = 1;
    const char *begin;
    e.type = (uint32_t)nnrti_text_take(g, 4);
    e.array = e.type == NNRTI_TEXT_ARRAY;
    if (e.array) {
        e.type = (uint32_t)nnrti_text_take(g, 4);
        count = nnrti_text_take(g, 8);
    }
    begin = g->rest.data;
    if (g->wrong == NULL && e.type == NNRTI_TEXT_STRING) {
        for (uint64_t i = 0; i < count && g->wrong == NULL; i++)
            (void)nnrti_text_take_string(g);
    } else if (g->wrong == NULL && nnrti_text_width(e.type) == 0) {
        g->wrong = "has a value of unknown type";
    } else {
        (void)nnrti_text_bytes(g, count > UINT64_MAX / 8 ? UINT64_MAX : count * nnrti_text_width(e.type));
    }
    e.count = (size_t)count;
    e.data = nnrti_text_piece(begin, (size_t)(g->rest.data - begin));
    return e;
}

static void nnrti_text_take_keys(nnrti_text_gguf *g)
{
    static const char *const names[] = {NNRTI_TEXT_KEYS(NNRTI_TEXT_KEY_TEXT)};
    const nnrt_piece magic = nnrti_text_bytes(g, 4);
    const uint64_t version = nnrti_text_take(g, 4);
    uint64_t keys;
    for (uint32_t i = 0; i < NNRTI_TEXT_KEY_END; i++)
        g->entries[i].type = 0xFF;
    if (magic.data != NULL && memcmp(magic.data, "GGUF", 4) != 0)
        g->wrong = "does not begin with GGUF";
    else if (g->wrong == NULL && version != 2 && version != 3)
        g->wrong = "has neither version 2 nor 3";
    (void)nnrti_text_take(g, 8);
    keys = nnrti_text_take(g, 8);
    for (uint64_t k = 0; k < keys && g->wrong == NULL; k++) {
        const nnrt_piece key = nnrti_text_take_string(g);
        const nnrti_text_entry e = nnrti_text_take_value(g);
        const bool ours = g->wrong == NULL && key.bytes > 10 && memcmp(key.data, "tokenizer.", 10) == 0;
        for (uint32_t i = 0; i < NNRTI_TEXT_KEY_END && ours; i++)
            if (g->entries[i].type == 0xFF && strlen(names[i]) == key.bytes - 10 &&
                memcmp(key.data + 10, names[i], key.bytes - 10) == 0)
                g->entries[i] = e;
    }
}

/* The text of a value that is a string; {NULL, 0}: it is none. */
static nnrt_piece nnrti_text_entry_text(const nnrti_text_gguf *g, uint32_t key)
{
    const nnrti_text_entry *e = &g->entries[key];
    return e->type == NNRTI_TEXT_STRING && !e->array ? nnrti_text_piece(e->data.data + 8, e->data.bytes - 8)
                                                     : nnrti_text_piece(NULL, 0);
}

/* A bool; without the key, the default. */
static bool nnrti_text_entry_true(const nnrti_text_gguf *g, uint32_t key, bool absent)
{
    const nnrti_text_entry *e = &g->entries[key];
    return e->type == NNRTI_TEXT_BOOL && !e->array ? e->data.data[0] != 0 : absent;
}

/* The id of a value that is an integer, or `absent`; NNRT_NO_TOKEN: it is no token. */
static uint32_t nnrti_text_entry_id(const nnrti_text_gguf *g, uint32_t key, uint32_t absent, uint32_t count)
{
    const nnrti_text_entry *e = &g->entries[key];
    const bool number = e->type != NNRTI_TEXT_FLOAT32 && e->type != NNRTI_TEXT_BOOL && e->type < 12;
    const uint32_t width = number ? nnrti_text_width(e->type) : 0;
    const uint64_t id = width > 0 && !e->array ? nnrti_text_integer(e->data.data, width) : absent;
    return id < count ? (uint32_t)id : NNRT_NO_TOKEN;
}

/* Reads tokens, scores and types into memory. false: the lists differ in length or type. */
static bool nnrti_text_gguf_tokens(const nnrti_text_gguf *g, nnrti_text_file *f)
{
    const nnrti_text_entry *tokens = &g->entries[NNRTI_TEXT_KEY_TOKENS], *scores = &g->entries[NNRTI_TEXT_KEY_SCORES];
    const nnrti_text_entry *types = &g->entries[NNRTI_TEXT_KEY_TYPES];
    const bool scored = scores->type == NNRTI_TEXT_FLOAT32 && scores->array && scores->count == tokens->count;
    const bool typed = nnrti_text_width(types->type) == 4 && types->array && types->count == tokens->count;
    const char *at = tokens->data.data;
    if (tokens->type != NNRTI_TEXT_STRING || !tokens->array || tokens->count == 0 || tokens->count > 0x7FFFFFFF ||
        (scores->type != 0xFF && !scored) || (types->type != 0xFF && !typed))
        return false;
    f->desc.count = (uint32_t)tokens->count;
    f->tokens = (nnrt_piece *)nnrt_memory_keep_array(&f->memory, tokens->count, sizeof(*f->tokens));
    f->scores = (float *)nnrt_memory_keep_array(&f->memory, tokens->count, sizeof(*f->scores));
    f->types = (uint8_t *)nnrt_memory_keep_array(&f->memory, tokens->count, 1);
    for (size_t i = 0; i < tokens->count && !f->memory.full; i++) {
        const size_t bytes = (size_t)nnrti_text_integer(at, 8);
        const uint32_t bits = scored ? (uint32_t)nnrti_text_integer(scores->data.data + 4 * i, 4) : 0;
        const uint64_t type = typed ? nnrti_text_integer(types->data.data + 4 * i, 4) : (uint64_t)NNRT_TOKEN_NORMAL;
        f->tokens[i] = nnrti_text_piece(at + 8, bytes);
        memcpy(&f->scores[i], &bits, 4);
        f->types[i] = type <= NNRT_TOKEN_BYTE ? (uint8_t)type : (uint8_t)NNRT_TOKEN_NORMAL;
        at += 8 + bytes;
    }
    f->desc.tokens = f->tokens;
    f->desc.scores = f->scores;
    f->desc.types = f->types;
    return true;
}

/* Reads the merges "left right"; both parts have a byte at least. false: there are none. */
static bool nnrti_text_gguf_merges(const nnrti_text_gguf *g, nnrti_text_file *f)
{
    const nnrti_text_entry *merges = &g->entries[NNRTI_TEXT_KEY_MERGES];
    const char *at = merges->data.data;
    if (merges->type != NNRTI_TEXT_STRING || !merges->array || merges->count > 0x7FFFFFFF)
        return false;
    f->merges = (nnrt_merge *)nnrt_memory_keep_array(&f->memory, merges->count, sizeof(*f->merges));
    for (size_t i = 0; i < merges->count && !f->memory.full; i++) {
        const size_t bytes = (size_t)nnrti_text_integer(at, 8);
        const char *space = bytes > 2 ? (const char *)memchr(at + 9, ' ', bytes - 2) : NULL;
        if (space == NULL)
            return false;
        f->merges[i].left = nnrti_text_piece(at + 8, (size_t)(space - at) - 8);
        f->merges[i].right = nnrti_text_piece(space + 1, bytes - f->merges[i].left.bytes - 1);
        at += 8 + bytes;
    }
    f->desc.merges = f->merges;
    f->desc.mergeCount = (uint32_t)merges->count;
    return true;
}

static void nnrti_text_gguf_add(uint32_t *ids, uint32_t *count, bool adds, uint32_t id)
{
    if (adds && id != NNRT_NO_TOKEN)
        ids[(*count)++] = id;
}

/* Special tokens. Without keys, as llama.cpp: ids 1, 2 and 0 beside scores; Llama 3's pre-tokenizer adds the first token. */
static void nnrti_text_gguf_special(const nnrti_text_gguf *g, nnrt_tokenizer_desc *d)
{
    const bool scores = d->kind == NNRT_TOKENIZER_SCORES, words = d->kind == NNRT_TOKENIZER_WORDPIECE;
    const bool bytes = d->kind == NNRT_TOKENIZER_BPE, unigram = d->kind == NNRT_TOKENIZER_UNIGRAM;
    const uint32_t none = NNRT_NO_TOKEN, n = d->count;
    const uint32_t bos = nnrti_text_entry_id(g, NNRTI_TEXT_KEY_BOS, scores ? 1 : none, n);
    const uint32_t eos = nnrti_text_entry_id(g, NNRTI_TEXT_KEY_EOS, scores ? 2 : none, n);
    d->unknown = nnrti_text_entry_id(g, NNRTI_TEXT_KEY_UNKNOWN, scores ? 0 : none, n);
    if (words) {
        nnrti_text_gguf_add(d->before, &d->beforeCount, true, nnrti_text_entry_id(g, NNRTI_TEXT_KEY_CLS, bos, n));
        nnrti_text_gguf_add(d->after, &d->afterCount, nnrti_text_entry_true(g, NNRTI_TEXT_KEY_ADD_SEP, true),
                            nnrti_text_entry_id(g, NNRTI_TEXT_KEY_SEP, eos, n));
    } else {
        const bool begins = scores || (bytes && d->ignoreMerges);
        nnrti_text_gguf_add(d->before, &d->beforeCount, nnrti_text_entry_true(g, NNRTI_TEXT_KEY_ADD_BOS, begins), bos);
        nnrti_text_gguf_add(d->after, &d->afterCount, nnrti_text_entry_true(g, NNRTI_TEXT_KEY_ADD_EOS, unigram), eos);
    }
    nnrti_text_gguf_add(d->ends, &d->endCount, true, eos);
    nnrti_text_gguf_add(d->ends, &d->endCount, true, nnrti_text_entry_id(g, NNRTI_TEXT_KEY_EOT, none, n));
    nnrti_text_gguf_add(d->ends, &d->endCount, true, nnrti_text_entry_id(g, NNRTI_TEXT_KEY_EOM, none, n));
}

/* Fills f->desc from the keys. */
static void nnrti_text_gguf_desc(const nnrti_text_gguf *g, nnrti_text_file *f)
{
    const nnrti_text_name model = nnrti_text_named(nnrti_text_entry_text(g, NNRTI_TEXT_KEY_MODEL));
    const nnrti_text_name pre = nnrti_text_named(nnrti_text_entry_text(g, NNRTI_TEXT_KEY_PRE));
    const nnrti_text_entry *map = &g->entries[NNRTI_TEXT_KEY_CHARSMAP];
    if (g->entries[NNRTI_TEXT_KEY_MODEL].type == 0xFF) {
        f->code = nnrt_error_set(f->error, NNRT_INVALID_MODEL,
                                 "the GGUF file has no tokenizer (key tokenizer.ggml.model)");
        return;
    }
    f->code = nnrt_tokenizer_gguf(&f->desc, model.text, pre.text[0] != '\0' ? pre.text : NULL, f->error);
    if (f->code != NNRT_SUCCESS)
        return;
    if (!nnrti_text_gguf_tokens(g, f)) {
        nnrti_text_fault(f, NNRT_INVALID_MODEL, "%s are missing, or differ from scores or token_type in number",
                         nnrti_text_words("tokenizer.ggml.tokens"));
        return;
    }
    if (f->desc.kind == NNRT_TOKENIZER_BPE && !nnrti_text_gguf_merges(g, f)) {
        nnrti_text_fault(f, NNRT_INVALID_MODEL, "%s are missing, or have a text without two parts",
                         nnrti_text_words("tokenizer.ggml.merges"));
        return;
    }
    nnrti_text_gguf_special(g, &f->desc);
    if (f->desc.prefix != NNRT_PREFIX_NONE && !nnrti_text_entry_true(g, NNRTI_TEXT_KEY_ADD_PREFIX, true))
        f->desc.prefix = NNRT_PREFIX_NONE;
    if (nnrti_text_entry_true(g, NNRTI_TEXT_KEY_REMOVE_SPACES, false))
        f->desc.normalize |= NNRT_NORMALIZE_SPACES;
    if (nnrti_text_width(map->type) == 1 && map->array && map->count > 0) {
        f->desc.normalize |= NNRT_NORMALIZE_CHARSMAP;
        f->desc.charsmap = map->data;
    }
    f->desc.chatTemplate = nnrti_text_entry_text(g, NNRTI_TEXT_KEY_TEMPLATE);
}

NNRT_API NNRT_ReturnCode nnrt_tokenizer_load_gguf(nnrt_tokenizer **tokenizer, const void *data, size_t bytes,
                                                  const nnrt_allocator *allocator, nnrt_error *error)
{
    nnrti_text_gguf g;
    nnrti_text_file f;
    if (tokenizer == NULL || data == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "%s is NULL", tokenizer == NULL ? "tokenizer" : "data");
    *tokenizer = NULL;
    memset(&g, 0, sizeof(g));
    g.rest = nnrti_text_piece((const char *)data, bytes);
    nnrti_text_take_keys(&g);
    if (g.wrong != NULL)
        return nnrt_error_set(error, g.cut ? NNRT_INSUFFICIENT_BUFFER : NNRT_INVALID_MODEL, "the GGUF file %s",
                              g.wrong);
    memset(&f, 0, sizeof(f));
    f.error = error;
    nnrt_memory_allocate(&f.memory, allocator);
    nnrti_text_gguf_desc(&g, &f);
    return nnrti_text_make(&f, tokenizer, allocator);
}

#if !defined(NNRT_NO_STDIO) && !defined(NNRT_FIRMWARE)
/* The begin of a file, in memory that grows. */
typedef struct nnrti_text_begin {
    const nnrt_allocator *allocator;
    char *data;
    size_t used, room;
    bool end; /* it is the whole file */
} nnrti_text_begin;

static void nnrti_text_begin_free(nnrti_text_begin *b)
{
    if (b->data != NULL)
        nnrt_free(b->allocator, b->data, b->room);
}

/* Reads on, up to four times as many bytes. */
static NNRT_ReturnCode nnrti_text_read(nnrti_text_begin *b, FILE *file, const char *path, nnrt_error *error)
{
    const size_t more = b->room == 0 ? 65536 : b->room <= SIZE_MAX / 4 ? 4 * b->room : 0;
    char *grown = more > 0 ? (char *)nnrt_alloc(b->allocator, more) : NULL;
    if (grown == NULL)
        return nnrti_text_no_memory(error);
    if (b->used > 0)
        memcpy(grown, b->data, b->used);
    nnrti_text_begin_free(b);
    b->data = grown;
    b->room = more;
    b->used += fread(grown + b->used, 1, more - b->used, file);
    b->end = b->used < more;
    return ferror(file) == 0 ? NNRT_SUCCESS : nnrt_error_set(error, NNRT_INVALID_FILE, "file '%s' cannot be read", path);
}

/* Reads the file `name` beside `path`, whole; a file that is not there is empty. */
static NNRT_ReturnCode nnrti_text_beside(nnrti_text_begin *b, const char *path, const char *name, nnrt_error *error)
{
    const size_t folder = strlen(path) - strlen("tokenizer.json"), bytes = folder + strlen(name) + 1;
    char *beside = (char *)nnrt_alloc(b->allocator, bytes);
    NNRT_ReturnCode code = NNRT_SUCCESS;
    FILE *file;
    if (beside == NULL)
        return nnrti_text_no_memory(error);
    memcpy(beside, path, folder);
    memcpy(beside + folder, name, strlen(name) + 1);
    file = fopen(beside, "rb");
    while (file != NULL && code == NNRT_SUCCESS && !b->end)
        code = nnrti_text_read(b, file, beside, error);
    if (file != NULL)
        (void)fclose(file);
    nnrt_free(b->allocator, beside, bytes);
    return code;
}

/* Builds a tokenizer from tokenizer.json at `path`, and the files beside it if it has that name. */
static NNRT_ReturnCode nnrti_text_load_folder(nnrt_tokenizer **tokenizer, const nnrti_text_begin *whole, const char *path,
                                              nnrt_error *error)
{
    static const char name[] = "tokenizer.json";
    const size_t bytes = strlen(path), own = sizeof(name) - 1;
    nnrti_text_begin config, chat;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    memset(&config, 0, sizeof(config));
    config.allocator = whole->allocator;
    chat = config;
    if (bytes >= own && strcmp(path + bytes - own, name) == 0 &&
        (bytes == own || path[bytes - own - 1] == '/' || path[bytes - own - 1] == '\\') &&
        (code = nnrti_text_beside(&config, path, "tokenizer_config.json", error)) == NNRT_SUCCESS)
        code = nnrti_text_beside(&chat, path, "chat_template.jinja", error);
    if (code == NNRT_SUCCESS)
        code = nnrti_text_load_json(tokenizer, nnrti_text_piece(whole->data, whole->used),
                                    nnrti_text_piece(config.data, config.used), nnrti_text_piece(chat.data, chat.used),
                                    whole->allocator, error);
    nnrti_text_begin_free(&config);
    nnrti_text_begin_free(&chat);
    return code;
}

NNRT_API NNRT_ReturnCode nnrt_tokenizer_load(nnrt_tokenizer **tokenizer, const char *path,
                                             const nnrt_allocator *allocator, nnrt_error *error)
{
    NNRT_ReturnCode code = NNRT_INSUFFICIENT_BUFFER;
    nnrti_text_begin b;
    FILE *file;
    if (tokenizer == NULL || path == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "%s is NULL", tokenizer == NULL ? "tokenizer" : "path");
    *tokenizer = NULL;
    file = fopen(path, "rb");
    if (file == NULL)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "file '%s' cannot be opened", path);
    memset(&b, 0, sizeof(b));
    b.allocator = allocator;
    while (code == NNRT_INSUFFICIENT_BUFFER && !b.end) { /* until the keys of a GGUF file are there, or the whole file */
        if ((code = nnrti_text_read(&b, file, path, error)) != NNRT_SUCCESS)
            break;
        code = NNRT_INSUFFICIENT_BUFFER;
        if (b.used >= 4 && memcmp(b.data, "GGUF", 4) == 0)
            code = nnrt_tokenizer_load_gguf(tokenizer, b.data, b.used, allocator, b.end ? error : NULL);
        else if (b.end)
            code = nnrti_text_load_folder(tokenizer, &b, path, error);
        if (code != NNRT_SUCCESS && code != NNRT_INSUFFICIENT_BUFFER && !b.end) /* once more, for the message */
            (void)nnrt_tokenizer_load_gguf(tokenizer, b.data, b.used, allocator, error);
    }
    nnrti_text_begin_free(&b);
    (void)fclose(file);
    return code == NNRT_INSUFFICIENT_BUFFER ? NNRT_INVALID_MODEL : code;
}
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_samplers The order of the steps is that of llama.cpp: continuations, penalties, top-k, top-p, min-p, temperature.
   repeatPenalty: Keskar et al. 2019 (CTRL); presencePenalty: OpenAI's API; topP: Holtzman et al. 2019; minP: Nguyen et al.
   2024. Candidates are a heap, from which only those are taken that the steps keep. Sums are of double in a fixed order, and
   exponentials are nnrt_expf, so that the choice has the same bits everywhere. Random numbers: splitmix64 (Steele et al. 2014),
   53 bits. */

typedef struct nnrti_text_candidate {
    float logit;
    uint32_t id;
} nnrti_text_candidate;

struct nnrt_sampler {
    nnrt_allocator allocator;
    nnrt_sampler_desc desc;
    uint32_t count, used, next, step; /* used, next: of history; step: tokens of the continuation so far */
    uint64_t state;
    uint32_t *history; /* a ring of desc.window ids */
    nnrti_text_candidate *candidates;
    uint32_t *lists; /* continuations: {length, alive, ids}, one after another */
    size_t listWords;
    uint32_t nLists;
};

static NNRT_ReturnCode nnrti_text_sampler_check(const nnrt_sampler_desc *d, uint32_t count, nnrt_error *error)
{
    const struct {
        const char *name;
        double value, least, most;
    } rows[] = {
        {"temperature", (double)d->temperature, 0, 1000},
        {"topK", (double)d->topK, 0, 2147483647.0},
        {"topP", (double)d->topP, 0, 1},
        {"minP", (double)d->minP, 0, 1},
        {"repeatPenalty", (double)d->repeatPenalty, 0, 1000},
        {"presencePenalty", (double)d->presencePenalty, -1000, 1000},
        {"window", (double)d->window, 0, 16777216},
        {"count", (double)count, 1, 1073741823},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!(rows[i].value >= rows[i].least && rows[i].value <= rows[i].most))
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "%s is %f, and must be %f to %f", rows[i].name,
                                  rows[i].value, rows[i].least, rows[i].most);
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_sampler_create(nnrt_sampler **sampler, const nnrt_sampler_desc *desc, uint32_t count,
                                             const nnrt_allocator *allocator, nnrt_error *error)
{
    nnrt_sampler *s;
    NNRT_ReturnCode code;
    if (sampler == NULL || desc == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "%s is NULL", sampler == NULL ? "sampler" : "desc");
    *sampler = NULL;
    code = nnrti_text_sampler_check(desc, count, error);
    if (code != NNRT_SUCCESS)
        return code;
    s = (nnrt_sampler *)nnrt_alloc(allocator, sizeof(*s));
    if (s == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "no memory for the sampler");
    memset(s, 0, sizeof(*s));
    if (allocator != NULL)
        s->allocator = *allocator;
    s->desc = *desc;
    s->desc.window = desc->window == 0 ? 64 : desc->window;
    s->desc.repeatPenalty = desc->repeatPenalty > 0 ? desc->repeatPenalty : 1;
    s->count = count;
    s->history = (uint32_t *)nnrt_alloc(&s->allocator, s->desc.window * sizeof(*s->history));
    s->candidates = (nnrti_text_candidate *)nnrt_alloc(&s->allocator, count * sizeof(*s->candidates));
    if (s->history == NULL || s->candidates == NULL) {
        nnrt_sampler_destroy(s);
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "no memory for the sampler");
    }
    nnrt_sampler_reset(s);
    *sampler = s;
    return NNRT_SUCCESS;
}

NNRT_API void nnrt_sampler_destroy(nnrt_sampler *sampler)
{
    nnrt_allocator allocator;
    if (sampler == NULL)
        return;
    allocator = sampler->allocator;
    nnrt_free(&allocator, sampler->history, sampler->desc.window * sizeof(*sampler->history));
    nnrt_free(&allocator, sampler->candidates, sampler->count * sizeof(*sampler->candidates));
    nnrt_free(&allocator, sampler->lists, sampler->listWords * sizeof(*sampler->lists));
    nnrt_free(&allocator, sampler, sizeof(*sampler));
}

NNRT_API void nnrt_sampler_reset(nnrt_sampler *sampler)
{
    uint32_t *list = sampler->lists;
    sampler->used = sampler->next = sampler->step = 0;
    sampler->state = sampler->desc.seed;
    for (uint32_t i = 0; i < sampler->nLists; i++, list += 2 + list[0])
        list[1] = 1;
}

NNRT_API NNRT_ReturnCode nnrt_sampler_allow(nnrt_sampler *sampler, const uint32_t *const *ids, const uint32_t *lengths,
                                            uint32_t count)
{
    size_t words = 0;
    uint32_t *lists = NULL, *to;
    if (sampler == NULL || (count > 0 && (ids == NULL || lengths == NULL)))
        return NNRT_NULL_PTR;
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] == NULL)
            return NNRT_NULL_PTR;
        if (lengths[i] == 0 || !nnrt_add_size(words, (size_t)lengths[i] + 2, &words) ||
            words > 0x3FFFFFFF / sizeof(*lists))
            return NNRT_INVALID_PARAMETER;
        for (uint32_t k = 0; k < lengths[i]; k++)
            if (ids[i][k] >= sampler->count)
                return NNRT_INVALID_PARAMETER;
    }
    if (count > 0) {
        lists = (uint32_t *)nnrt_alloc(&sampler->allocator, words * sizeof(*lists));
        if (lists == NULL)
            return NNRT_OUT_OF_MEMORY;
    }
    to = lists;
    for (uint32_t i = 0; i < count; i++) {
        to[0] = lengths[i];
        to[1] = 1;
        memcpy(to + 2, ids[i], lengths[i] * sizeof(*to));
        to += 2 + lengths[i];
    }
    nnrt_free(&sampler->allocator, sampler->lists, sampler->listWords * sizeof(*sampler->lists));
    sampler->lists = lists;
    sampler->listWords = words;
    sampler->nLists = count;
    sampler->step = 0;
    return NNRT_SUCCESS;
}

NNRT_API void nnrt_sampler_accept(nnrt_sampler *sampler, uint32_t id)
{
    sampler->history[sampler->next] = id;
    sampler->next = (sampler->next + 1) % sampler->desc.window;
    sampler->used += sampler->used < sampler->desc.window;
}

static bool nnrti_text_candidate_before(const nnrti_text_candidate *a, const nnrti_text_candidate *b)
{
    return a->logit != b->logit ? a->logit > b->logit : a->id < b->id;
}

/* Moves the candidate at i down a heap of n. */
static void nnrti_text_candidate_sink(nnrti_text_candidate *c, uint32_t i, uint32_t n)
{
    const nnrti_text_candidate x = c[i];
    for (uint32_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && nnrti_text_candidate_before(&c[child + 1], &c[child]))
            child++;
        if (!nnrti_text_candidate_before(&c[child], &x))
            break;
        c[i] = c[child];
        i = child;
    }
    c[i] = x;
}

/* The candidates: finite logits after the continuations; false: the continuation is complete. Their number: *n. */
static bool nnrti_text_candidates(nnrt_sampler *s, const float *logits, uint32_t *n)
{
    const float most = 3e38f;
    const uint32_t *list = s->lists;
    bool open = s->nLists == 0;
    *n = 0;
    for (uint32_t id = 0; id < s->count && s->nLists == 0; id++)
        if (logits[id] >= -most) {
            s->candidates[*n].logit = logits[id] > most ? most : logits[id];
            s->candidates[(*n)++].id = id;
        }
    for (uint32_t i = 0; i < s->nLists; i++, list += 2 + list[0]) {
        uint32_t id, k;
        if (list[1] == 0 || list[0] <= s->step)
            continue;
        open = true;
        id = list[2 + s->step];
        for (k = 0; k < *n && s->candidates[k].id != id;)
            k++;
        if (k == *n && *n < s->count && logits[id] >= -most) {
            s->candidates[*n].logit = logits[id] > most ? most : logits[id];
            s->candidates[(*n)++].id = id;
        }
    }
    return open;
}

/* Penalties for the tokens of the window, each once. Candidates of all tokens are in the order of their ids. */
static void nnrti_text_penalties(nnrt_sampler *s, uint32_t n)
{
    const float repeat = s->desc.repeatPenalty, presence = s->desc.presencePenalty;
    for (uint32_t i = 0; i < s->used; i++) {
        uint32_t low = 0, high = n, seen = 0;
        while (seen < i && s->history[seen] != s->history[i])
            seen++;
        if (seen < i)
            continue;
        if (s->nLists > 0) {
            while (low < n && s->candidates[low].id != s->history[i])
                low++;
        } else {
            while (low < high) {
                const uint32_t middle = (low + high) / 2;
                if (s->candidates[middle].id < s->history[i])
                    low = middle + 1;
                else
                    high = middle;
            }
        }
        if (low < n && s->candidates[low].id == s->history[i]) {
            float *logit = &s->candidates[low].logit;
            *logit = *logit > 0 ? *logit / repeat : *logit * repeat;
            *logit -= presence;
        }
    }
}

/* Keeps the candidates of top-k and top-p; they are sorted, at the end of the array of n, the largest one last. Returns their
   number. */
static uint32_t nnrti_text_top(nnrt_sampler *s, uint32_t n)
{
    nnrti_text_candidate *c = s->candidates;
    const uint32_t k = s->desc.topK > 0 && (uint32_t)s->desc.topK < n ? (uint32_t)s->desc.topK : n;
    const bool sum = s->desc.topP > 0 && s->desc.topP < 1;
    double total = 0, kept = 0;
    uint32_t taken = 0, left = n;
    for (uint32_t i = n / 2; i-- > 0;)
        nnrti_text_candidate_sink(c, i, n);
    for (uint32_t i = 0; sum && k == n && i < n; i++)
        total += (double)nnrt_expf(c[i].logit - c[0].logit);
    while (taken < k) { /* swap the top to the end */
        const nnrti_text_candidate top = c[0];
        c[0] = c[--left];
        c[left] = top;
        nnrti_text_candidate_sink(c, 0, left);
        taken++;
        if (sum && k == n) {
            kept += (double)nnrt_expf(top.logit - c[n - 1].logit);
            if (kept >= (double)s->desc.topP * total)
                return taken;
        }
    }
    if (sum && k < n) { /* the probabilities are of the k tokens */
        for (uint32_t i = 1; i <= k; i++)
            total += (double)nnrt_expf(c[n - i].logit - c[n - 1].logit);
        for (taken = 0; taken < k && !(taken > 0 && kept >= (double)s->desc.topP * total);) {
            taken++;
            kept += (double)nnrt_expf(c[n - taken].logit - c[n - 1].logit);
        }
    }
    return taken;
}

/* A random number, 0 <= x < 1. */
static double nnrti_text_random(nnrt_sampler *s)
{
    uint64_t z = s->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

/* Draws one of n candidates with probabilities exp(logit / temperature); largest: their largest logit. */
static uint32_t nnrti_text_draw(nnrt_sampler *s, const nnrti_text_candidate *c, uint32_t n, float largest)
{
    const float minimum = s->desc.minP;
    double total = 0, at, sum = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < n; i++)
        if (nnrt_expf(c[i].logit - largest) >= minimum)
            total += (double)nnrt_expf((c[i].logit - largest) / s->desc.temperature);
    at = nnrti_text_random(s) * total;
    for (uint32_t i = 0; i < n; i++) {
        if (!(nnrt_expf(c[i].logit - largest) >= minimum))
            continue;
        sum += (double)nnrt_expf((c[i].logit - largest) / s->desc.temperature);
        last = i;
        if (sum > at)
            break;
    }
    return c[last].id;
}

NNRT_API NNRT_ReturnCode nnrt_sample(nnrt_sampler *sampler, const float *logits, uint32_t *id)
{
    nnrt_sampler *s = sampler;
    uint32_t n = 0, kept, best = 0;
    uint32_t *list;
    if (id != NULL)
        *id = NNRT_NO_TOKEN;
    if (s == NULL || logits == NULL || id == NULL)
        return NNRT_NULL_PTR;
    if (!nnrti_text_candidates(s, logits, &n))
        return NNRT_SUCCESS;
    if (n == 0)
        return NNRT_INVALID_PARAMETER;
    nnrti_text_penalties(s, n);
    for (uint32_t i = 1; i < n; i++)
        if (nnrti_text_candidate_before(&s->candidates[i], &s->candidates[best]))
            best = i;
    *id = s->candidates[best].id;
    if (s->desc.temperature > 0) {
        const float largest = s->candidates[best].logit;
        kept = s->desc.topK > 0 || (s->desc.topP > 0 && s->desc.topP < 1) ? nnrti_text_top(s, n) : n;
        *id = nnrti_text_draw(s, s->candidates + (n - kept), kept, largest);
    }
    nnrt_sampler_accept(s, *id);
    list = s->lists;
    for (uint32_t i = 0; i < s->nLists; i++, list += 2 + list[0])
        list[1] = list[1] != 0 && list[0] > s->step && list[2 + s->step] == *id;
    s->step++;
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_chats Templates are programs (Jinja) in files; the templates of NNRT_CHATS are recognized by texts that they contain, as
   llama.cpp does, and written by the rules of the models' authors:
   LLAMA2   Meta's llama (generation.py): [INST] <<SYS>> .. <</SYS>> user [/INST] assistant </s><s>
   LLAMA3   Meta's llama3 (MODEL_CARD, chat format): <|start_header_id|>role<|end_header_id|>, content<|eot_id|>
   CHATML   OpenAI's ChatML, Qwen: <|im_start|>role, content<|im_end|>
   GEMMA    Google's gemma: <start_of_turn>user or model, content<end_of_turn>; a system message precedes the first user's
   PHI3     Microsoft's Phi-3 model card: <|role|>, content<|end|>
   MISTRAL  Mistral 7B Instruct's model card: [INST] user [/INST]assistant</s>; a system message precedes the first user's
   ZEPHYR   Hugging Face's zephyr-7b: <|role|>, content</s>
   A system message that a file's template adds by itself (Qwen 2.5) is not written. */

#define NNRTI_CHAT_NAME(name, text) text,

NNRT_API const char *nnrt_chat_name(int32_t chat)
{
    static const char *const names[] = {NULL, NNRT_CHATS(NNRTI_CHAT_NAME)};
    return chat > 0 && chat < NNRT_CHAT_END ? names[chat] : NULL;
}

static bool nnrti_text_has(nnrt_piece text, const char *part)
{
    const size_t bytes = strlen(part);
    for (size_t i = 0; i + bytes <= text.bytes; i++)
        if (memcmp(text.data + i, part, bytes) == 0)
            return true;
    return false;
}

NNRT_API int32_t nnrt_chat_recognize(const char *text, size_t bytes)
{
    static const struct {
        int32_t chat;
        const char *has, *also, *lacks;
    } rows[] = {
        {NNRT_CHAT_CHATML, "<|im_start|>", "<|im_end|>", NULL},
        {NNRT_CHAT_LLAMA3, "<|start_header_id|>", "<|eot_id|>", NULL},
        {NNRT_CHAT_GEMMA, "<start_of_turn>", "<end_of_turn>", NULL},
        {NNRT_CHAT_LLAMA2, "[INST]", "<<SYS>>", NULL},
        {NNRT_CHAT_MISTRAL, "[INST]", "[/INST]", "[SYSTEM_PROMPT]"},
        {NNRT_CHAT_PHI3, "<|assistant|>", "<|end|>", NULL},
        {NNRT_CHAT_ZEPHYR, "<|assistant|>", "<|user|>", "<|endoftext|>"},
    };
    const nnrt_piece all = nnrti_text_piece(text, text != NULL ? bytes : 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (nnrti_text_has(all, rows[i].has) && nnrti_text_has(all, rows[i].also) &&
            (rows[i].lacks == NULL || !nnrti_text_has(all, rows[i].lacks)))
            return rows[i].chat;
    return NNRT_CHAT_NONE;
}

typedef struct nnrti_text_chat {
    char *out;
    size_t capacity, used;
} nnrti_text_chat;

static void nnrti_text_say(nnrti_text_chat *c, nnrt_piece text)
{
    const size_t room = c->used < c->capacity ? c->capacity - c->used : 0;
    const size_t fit = text.bytes < room ? text.bytes : room;
    if (fit > 0)
        memcpy(c->out + c->used, text.data, fit);
    c->used += text.bytes;
}

/* Writes begin, text and end. */
static void nnrti_text_turns(nnrti_text_chat *c, const char *begin, nnrt_piece text, const char *end)
{
    nnrti_text_say(c, nnrti_text_words(begin));
    nnrti_text_say(c, text);
    nnrti_text_say(c, nnrti_text_words(end));
}

static nnrt_piece nnrti_text_trim(nnrt_piece text)
{
    while (text.bytes > 0 && strchr(" \t\n\r", text.data[0]) != NULL && text.data[0] != '\0') {
        text.data++;
        text.bytes--;
    }
    while (text.bytes > 0 && strchr(" \t\n\r", text.data[text.bytes - 1]) != NULL && text.data[text.bytes - 1] != '\0')
        text.bytes--;
    return text;
}

/* One message. before: a system message that waits for the user's, of templates without a role for it. */
static void nnrti_text_message(nnrti_text_chat *c, int32_t chat, const nnrt_chat_message *m,
                               const nnrt_chat_message *before, bool first)
{
    const bool user = strcmp(m->role, "user") == 0;
    const nnrt_piece role = nnrti_text_words(m->role);
    const bool trims = chat == NNRT_CHAT_LLAMA2 || chat == NNRT_CHAT_LLAMA3 || chat == NNRT_CHAT_GEMMA;
    const nnrt_piece text = trims ? nnrti_text_trim(m->content) : m->content;
    switch (chat) {
    case NNRT_CHAT_LLAMA3:
        nnrti_text_turns(c, "<|start_header_id|>", role, "<|end_header_id|>\n\n");
        nnrti_text_turns(c, "", text, "<|eot_id|>");
        break;
    case NNRT_CHAT_CHATML:
        nnrti_text_turns(c, "<|im_start|>", role, "\n");
        nnrti_text_turns(c, "", text, "<|im_end|>\n");
        break;
    case NNRT_CHAT_PHI3:
    case NNRT_CHAT_ZEPHYR:
        nnrti_text_turns(c, "<|", role, "|>\n");
        nnrti_text_turns(c, "", text, chat == NNRT_CHAT_PHI3 ? "<|end|>\n" : "</s>\n");
        break;
    case NNRT_CHAT_GEMMA:
        nnrti_text_say(c, nnrti_text_words(user ? "<start_of_turn>user\n" : "<start_of_turn>model\n"));
        if (before != NULL)
            nnrti_text_turns(c, "", before->content, "\n\n");
        nnrti_text_turns(c, "", text, "<end_of_turn>\n");
        break;
    case NNRT_CHAT_LLAMA2:
        if (user) {
            nnrti_text_say(c, nnrti_text_words(first ? "[INST] " : "<s>[INST] "));
            if (before != NULL)
                nnrti_text_turns(c, "<<SYS>>\n", before->content, "\n<</SYS>>\n\n");
            nnrti_text_turns(c, "", text, " [/INST]");
        } else {
            nnrti_text_turns(c, " ", text, " </s>");
        }
        break;
    default: /* MISTRAL */
        if (user) {
            nnrti_text_say(c, nnrti_text_words("[INST] "));
            if (before != NULL)
                nnrti_text_turns(c, "", before->content, "\n\n");
            nnrti_text_turns(c, "", text, " [/INST]");
        } else {
            nnrti_text_turns(c, "", text, "</s> ");
        }
        break;
    }
}

NNRT_API NNRT_ReturnCode nnrt_chat_format(int32_t chat, const nnrt_chat_message *messages, uint32_t count, bool reply,
                                          char *out, size_t capacity, size_t *bytes, nnrt_error *error)
{
    static const char *const replies[] = {"",
                                          "",
                                          "<|start_header_id|>assistant<|end_header_id|>\n\n",
                                          "<|im_start|>assistant\n",
                                          "<start_of_turn>model\n",
                                          "<|assistant|>\n",
                                          "",
                                          "<|assistant|>\n"};
    const bool joins = chat == NNRT_CHAT_LLAMA2 || chat == NNRT_CHAT_MISTRAL || chat == NNRT_CHAT_GEMMA;
    const nnrt_chat_message *before = NULL;
    nnrti_text_chat c;
    bool first = true;
    if (bytes != NULL)
        *bytes = 0;
    if (bytes == NULL || (messages == NULL && count > 0) || (out == NULL && capacity > 0))
        return nnrt_error_set(error, NNRT_NULL_PTR, "%s is NULL", bytes == NULL ? "bytes" : "messages or out");
    if (nnrt_chat_name(chat) == NULL)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "chat is %d, and must be 1 to %d", chat,
                              NNRT_CHAT_END - 1);
    c.out = out;
    c.capacity = capacity;
    c.used = 0;
    for (uint32_t i = 0; i < count; i++) {
        const nnrt_chat_message *m = &messages[i];
        const bool user = m->role != NULL && strcmp(m->role, "user") == 0;
        const bool system = m->role != NULL && strcmp(m->role, "system") == 0;
        if (!user && !system && (m->role == NULL || strcmp(m->role, "assistant") != 0))
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                                  "message %u has the role '%s', and must have system, user or "
                                  "assistant",
                                  i, m->role != NULL ? m->role : "");
        if (joins && system) {
            if (i + 1 == count || before != NULL || messages[i + 1].role == NULL ||
                strcmp(messages[i + 1].role, "user") != 0)
                return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                                      "message %u is the system's, and %s needs a user's message behind it", i,
                                      nnrt_chat_name(chat));
            before = m;
            continue;
        }
        nnrti_text_message(&c, chat, m, before, first);
        before = NULL;
        first = false;
    }
    if (reply)
        nnrti_text_say(&c, nnrti_text_words(replies[chat]));
    *bytes = c.used;
    return c.used > capacity ? NNRT_INSUFFICIENT_BUFFER : NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text_tables_of_pages Each page counts the sequences that have it: free pages none, shared ones more than one. Only the
   page of the first row that a run writes can have rows that stay, so that a write copies at most one page. Everything is
   counted before anything changes. */

struct nnrt_pages {
    nnrt_allocator allocator;
    uint32_t count, rows, sequences;
    uint32_t nFree, *free; /* free pages; the last one is taken next */
    uint32_t *owners;      /* per page the number of its sequences */
    uint32_t *lengths;     /* rows of each sequence */
    int32_t *tables;       /* per sequence its pages, `count` entries */
    size_t bytes;
};

NNRT_API NNRT_ReturnCode nnrt_pages_create(nnrt_pages **pages, uint32_t count, uint32_t rows, uint32_t sequences,
                                           const nnrt_allocator *allocator, nnrt_error *error)
{
    nnrt_pages *p;
    size_t bytes, table;
    if (pages == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "pages is NULL");
    *pages = NULL;
    if (count == 0 || rows == 0 || sequences == 0 || count > INT32_MAX / rows)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "%u pages of %u rows for %u sequences: expected at least 1, and at "
                              "most %d rows", count, rows, sequences, INT32_MAX);
    if (!nnrt_mul_size(count, sizeof(int32_t), &bytes) || !nnrt_mul_size(bytes, (size_t)sequences + 2, &bytes) ||
        !nnrt_mul_size(sequences, sizeof(uint32_t), &table) || !nnrt_add_size(bytes, table, &bytes) ||
        !nnrt_add_size(bytes, sizeof(*p), &bytes) || (p = (nnrt_pages *)nnrt_alloc(allocator, bytes)) == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the tables of %u pages and %u sequences",
                              count, sequences);
    memset(p, 0, bytes);
    if (allocator != NULL)
        p->allocator = *allocator;
    p->bytes = bytes;
    p->count = p->nFree = count;
    p->rows = rows;
    p->sequences = sequences;
    p->free = (uint32_t *)(void *)(p + 1);
    p->owners = p->free + count;
    p->lengths = p->owners + count;
    p->tables = (int32_t *)(void *)(p->lengths + sequences);
    for (uint32_t i = 0; i < count; i++)
        p->free[i] = count - 1 - i;
    *pages = p;
    return NNRT_SUCCESS;
}

NNRT_API void nnrt_pages_destroy(nnrt_pages *pages)
{
    nnrt_allocator allocator;
    if (pages == NULL)
        return;
    allocator = pages->allocator;
    nnrt_free(&allocator, pages, pages->bytes);
}

/* The pages of `rows` rows. */
static uint32_t nnrti_pages_of(const nnrt_pages *p, uint32_t rows)
{
    return rows / p->rows + (rows % p->rows > 0 ? 1 : 0);
}

/* A sequence gives back a page. */
static void nnrti_pages_leave(nnrt_pages *p, int32_t *entry)
{
    if (--p->owners[*entry] == 0)
        p->free[p->nFree++] = (uint32_t)*entry;
    *entry = 0;
}

NNRT_API NNRT_ReturnCode nnrt_pages_write(nnrt_pages *pages, uint32_t sequence, uint32_t first, uint32_t count,
                                          nnrt_page_copy *copy, nnrt_error *error)
{
    uint32_t have, begin, end, need = 0, spare = 0;
    int32_t *table;
    if (pages == NULL || copy == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "%s is NULL", pages == NULL ? "pages" : "copy");
    memset(copy, 0, sizeof(*copy));
    if (sequence >= pages->sequences || first > pages->lengths[sequence] || count > pages->count * pages->rows - first)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "%u rows from row %u on of sequence %u, expected a sequence of %u, a row in it or behind its last "
                              "one, and at most %u rows",
                              count, first, sequence, pages->sequences, pages->count * pages->rows);
    table = pages->tables + (size_t)sequence * pages->count;
    have = nnrti_pages_of(pages, pages->lengths[sequence]);
    begin = count > 0 ? first / pages->rows : nnrti_pages_of(pages, first);
    end = nnrti_pages_of(pages, first + count);
    for (uint32_t i = begin; i < end; i++)
        need += i >= have || pages->owners[table[i]] > 1 ? 1 : 0;
    for (uint32_t i = end; i < have; i++)
        spare += pages->owners[table[i]] == 1 ? 1 : 0;
    if (need > pages->nFree + spare)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY,
                              "sequence %u needs %u pages of %u rows, and %u of the %u pages of the cache are free: end another "
                              "sequence, or create a larger cache",
                              sequence, need, pages->rows, pages->nFree + spare, pages->count);
    for (uint32_t i = end; i < have; i++)
        nnrti_pages_leave(pages, &table[i]);
    for (uint32_t i = begin; i < end; i++) {
        const int32_t old = table[i];
        if (i < have && pages->owners[old] == 1)
            continue;
        table[i] = (int32_t)pages->free[--pages->nFree];
        pages->owners[table[i]] = 1;
        if (i >= have)
            continue;
        pages->owners[old]--;
        if (i == begin) {
            copy->from = (uint32_t)old * pages->rows;
            copy->to = (uint32_t)table[i] * pages->rows;
            copy->rows = first % pages->rows;
        }
    }
    pages->lengths[sequence] = first + count;
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_pages_share(nnrt_pages *pages, uint32_t from, uint32_t to, uint32_t rows, nnrt_error *error)
{
    int32_t *source, *table;
    uint32_t count;
    if (pages == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "pages is NULL");
    if (from >= pages->sequences || to >= pages->sequences || from == to || rows > pages->lengths[from])
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "%u rows of sequence %u for sequence %u, expected two of %u sequences, and at most the rows of the "
                              "first one",
                              rows, from, to, pages->sequences);
    source = pages->tables + (size_t)from * pages->count;
    table = pages->tables + (size_t)to * pages->count;
    count = nnrti_pages_of(pages, rows);
    for (uint32_t i = 0; i < count; i++)
        pages->owners[source[i]]++;
    for (uint32_t i = 0; i < nnrti_pages_of(pages, pages->lengths[to]); i++)
        nnrti_pages_leave(pages, &table[i]);
    memcpy(table, source, count * sizeof(*table));
    pages->lengths[to] = rows;
    return NNRT_SUCCESS;
}

NNRT_API const int32_t *nnrt_pages_table(const nnrt_pages *pages, uint32_t sequence)
{
    return pages != NULL && sequence < pages->sequences ? pages->tables + (size_t)sequence * pages->count : NULL;
}

NNRT_API uint32_t nnrt_pages_rows(const nnrt_pages *pages)
{
    return pages != NULL ? pages->rows : 0;
}

NNRT_API uint32_t nnrt_pages_available(const nnrt_pages *pages)
{
    return pages != NULL ? pages->nFree : 0;
}

#ifdef __cplusplus
}
#endif

#endif /* NNRT_TEXT_IMPLEMENTED */
