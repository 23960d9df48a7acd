/* nnrt_text.h: small vocabularies whose encodings follow from the definitions of the models, pre-tokenizers and
   normalizations; examples of BERT and of the Unicode Standard; streams, refused descriptions and files, memory that fails.
   tests/core/test_tokenizer_peers.py compares with other libraries on whole vocabularies. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/nnrt_text.h"
#include "counted.h"

#define MOST 4096

/* A vocabulary that grows; texts are kept by it. */
typedef struct vocabulary {
    nnrt_tokenizer_desc desc;
    nnrt_piece tokens[MOST];
    float scores[MOST];
    uint8_t types[MOST];
    nnrt_merge merges[64];
    char text[16 * MOST];
    size_t used;
} vocabulary;

static nnrt_piece keep(vocabulary *v, const char *text, size_t bytes)
{
    nnrt_piece p;
    assert_true(v->used + bytes <= sizeof(v->text));
    p.data = v->text + v->used;
    p.bytes = bytes;
    memcpy(v->text + v->used, text, bytes);
    v->used += bytes;
    return p;
}

static uint32_t add(vocabulary *v, const char *text, float score, int32_t type)
{
    const uint32_t id = v->desc.count++;
    assert_true(id < MOST);
    v->tokens[id] = keep(v, text, strlen(text));
    v->scores[id] = score;
    v->types[id] = (uint8_t)type;
    return id;
}

static void merge(vocabulary *v, const char *left, const char *right)
{
    nnrt_merge *m = &v->merges[v->desc.mergeCount++];
    m->left = keep(v, left, strlen(left));
    m->right = keep(v, right, strlen(right));
}

static vocabulary *begin(int32_t kind)
{
    vocabulary *v = (vocabulary *)calloc(1, sizeof(*v));
    assert_non_null(v);
    v->desc.kind = kind;
    v->desc.unknown = NNRT_NO_TOKEN;
    v->desc.tokens = v->tokens;
    v->desc.scores = v->scores;
    v->desc.types = v->types;
    v->desc.merges = v->merges;
    return v;
}

/* The 256 tokens of bytes in the order of the bytes, spelled by the definition of GPT-2. */
static vocabulary *begin_bytes(void)
{
    vocabulary *v = begin(NNRT_TOKENIZER_BPE);
    uint32_t next = 256;
    v->desc.byteLevel = true;
    for (uint32_t byte = 0; byte < 256; byte++) {
        const bool itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
        const uint32_t c = itself ? byte : next++;
        char text[3] = {0, 0, 0};
        if (c < 128) {
            text[0] = (char)c;
        } else {
            text[0] = (char)(0xC0 | c >> 6);
            text[1] = (char)(0x80 | (c & 63));
        }
        (void)add(v, text, 0, NNRT_TOKEN_NORMAL);
    }
    return v;
}

static nnrt_tokenizer *make(vocabulary *v)
{
    nnrt_tokenizer *t = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_tokenizer_create(&t, &v->desc, NULL, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    free(v);
    return t;
}

/* Encodes, and expects ids up to the end marker. */
#define END 0xFFFFFFF0u
static void expect_ids(const nnrt_tokenizer *t, const char *text, size_t bytes, uint32_t flags, const uint32_t *ids)
{
    size_t count = 0, wanted = 0;
    uint32_t got[MOST];
    while (ids[wanted] != END)
        wanted++;
    assert_int_equal(nnrt_tokenize(t, text, bytes, flags, got, MOST, &count), NNRT_SUCCESS);
    for (size_t i = 0; i < count && i < wanted; i++)
        if (got[i] != ids[i])
            fail_msg("'%s': token %zu is %u, not %u", text, i, got[i], ids[i]);
    assert_int_equal(count, wanted);
}
#define EXPECT(t, text, flags, ...)                                                                                    \
    do {                                                                                                               \
        const uint32_t ids_[] = {__VA_ARGS__, END};                                                                    \
        expect_ids(t, text, strlen(text), flags, ids_);                                                                \
    } while (0)

/* The text of ids; the buffer of each call has exactly the bytes that are needed. */
static size_t decode(const nnrt_tokenizer *t, uint32_t flags, const uint32_t *ids, size_t count, char *out)
{
    const size_t most = nnrt_detokenizer_bytes(t);
    char *piece = (char *)malloc(most), rest[3];
    nnrt_detokenizer d;
    size_t n = 0, bytes = 0;
    nnrt_detokenizer_start(&d, t, flags);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(nnrt_detokenize(&d, ids[i], piece, most, &bytes), NNRT_SUCCESS);
        memcpy(out + n, piece, bytes);
        n += bytes;
    }
    bytes = nnrt_detokenizer_end(&d, rest);
    memcpy(out + n, rest, bytes);
    free(piece);
    return n + bytes;
}

/* Encodes and decodes a text, which becomes `wanted`. */
static void expect_text(const nnrt_tokenizer *t, const char *text, size_t bytes, const char *wanted, size_t wantedBytes)
{
    uint32_t ids[MOST];
    char out[4 * MOST];
    size_t count = 0;
    assert_int_equal(nnrt_tokenize(t, text, bytes, 0, ids, MOST, &count), NNRT_SUCCESS);
    count = decode(t, 0, ids, count, out);
    if (count != wantedBytes || memcmp(out, wanted, count) != 0)
        fail_msg("'%.*s' becomes '%.*s', not '%.*s'", (int)bytes, text, (int)count, out, (int)wantedBytes, wanted);
}

/* ---- BPE ---- */

static void test_merges(void **state)
{
    vocabulary *v = begin_bytes();
    const uint32_t ab = add(v, "ab", 0, 0), bc = add(v, "bc", 0, 0), aa = add(v, "aa", 0, 0),
                   four = add(v, "aaaa", 0, 0);
    const uint32_t space = add(v, "\xC4\xA0x", 0, 0); /* GPT-2 spells the space as U+0120 */
    nnrt_tokenizer *t;
    (void)state;
    merge(v, "b", "c"); /* the lower rank first, although a b is to its left */
    merge(v, "a", "b");
    merge(v, "a", "a");
    merge(v, "aa", "aa");
    merge(v, "\xC4\xA0", "x");
    t = make(v);
    EXPECT(t, "abc", 0, 'a', bc);
    EXPECT(t, "ab", 0, ab);
    EXPECT(t, "aaa", 0, aa, 'a'); /* of equal ranks the leftmost */
    EXPECT(t, "aaaaaaa", 0, four, aa, 'a');
    EXPECT(t, "aaab", 0, aa, ab); /* a b has a lower rank than a a */
    EXPECT(t, "\xC3\xA9", 0, 0xC3, 0xA9);
    EXPECT(t, " x", 0, space);
    assert_int_equal(nnrt_tokenizer_find(t, " x", 2), space); /* texts are raw bytes */
    assert_int_equal(nnrt_token_text(t, space).bytes, 2);
    nnrt_tokenizer_destroy(t);
}

/* A word of 2^20 bytes takes n log n: with n^2 steps the test would take hours. */
static void test_long_word(void **state)
{
    const size_t bytes = (size_t)1 << 20;
    vocabulary *v = begin_bytes();
    char *text = (char *)malloc(bytes);
    uint32_t *ids = (uint32_t *)malloc(bytes * sizeof(*ids));
    size_t count = 0;
    const uint32_t two = add(v, "aa", 0, 0), four = add(v, "aaaa", 0, 0);
    nnrt_tokenizer *t;
    (void)state;
    (void)two;
    merge(v, "a", "a");
    merge(v, "aa", "aa");
    t = make(v);
    memset(text, 'a', bytes);
    assert_int_equal(nnrt_tokenize(t, text, bytes, 0, ids, bytes, &count), NNRT_SUCCESS);
    assert_int_equal(count, bytes / 4);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ids[i], four);
    free(text);
    free(ids);
    nnrt_tokenizer_destroy(t);
}

/* Pieces with scores: the highest one is merged first; a character without token becomes bytes. */
static void test_scores(void **state)
{
    vocabulary *v = begin(NNRT_TOKENIZER_SCORES);
    const uint32_t unknown = add(v, "<unk>", 0, NNRT_TOKEN_UNKNOWN);
    const uint32_t mark = add(v, "\xE2\x96\x81", -5, 0), a = add(v, "a", -5, 0), b = add(v, "b", -5, 0),
                   c = add(v, "c", -5, 0);
    const uint32_t ab = add(v, "ab", -2, 0), bc = add(v, "bc", -1, 0), abc = add(v, "abc", -4, 0),
                   first = add(v,
                               "\xE2\x96\x81"
                               "a",
                               -3, 0);
    uint32_t bytes = 0;
    nnrt_tokenizer *t;
    (void)state;
    for (uint32_t i = 0; i < 256; i++) {
        char text[8];
        snprintf(text, sizeof(text), "<0x%02X>", i);
        bytes = i == 0 ? add(v, text, 0, NNRT_TOKEN_BYTE) : (add(v, text, 0, NNRT_TOKEN_BYTE), bytes);
    }
    v->desc.byteFallback = true;
    v->desc.unknown = unknown;
    v->desc.prefix = NNRT_PREFIX_ALWAYS;
    t = make(v);
    EXPECT(t, "bc", 0, mark, bc);
    EXPECT(t, "xabc", 0, mark, bytes + 'x', abc); /* b c, then a bc */
    EXPECT(t, "a", 0, first);
    EXPECT(t, "cab", 0, mark, c, ab);
    EXPECT(t, "a b", 0, first, mark, b);
    EXPECT(t, "\xC3\xA9", 0, mark, bytes + 0xC3, bytes + 0xA9);
    (void)a;
    expect_text(t, "ab \xC3\xA9  c", 8, "ab \xC3\xA9  c", 8);
    expect_text(t, " a", 2, " a", 2);
    nnrt_tokenizer_destroy(t);
}

/* ---- pre-tokenizers ---- */

/* The words of a text are tokens, and so are two adjacent words together: a wrong end of a word changes the ids. */
static void expect_words(int32_t split, const char *const *words)
{
    vocabulary *v = begin_bytes();
    nnrt_tokenizer *t;
    char text[512] = "", pair[256];
    uint32_t ids[64], base;
    size_t n = 0;
    v->desc.split = split;
    v->desc.ignoreMerges = true;
    base = v->desc.count;
    for (; words[n] != NULL; n++) {
        strcat(text, words[n]);
        (void)add(v, words[n], 0, NNRT_TOKEN_UNUSED);
        snprintf(pair, sizeof(pair), "%s%s", words[n], words[n + 1] != NULL ? words[n + 1] : "-");
        (void)add(v, pair, 0, NNRT_TOKEN_UNUSED);
    }
    /* spelled in GPT-2's characters */
    for (uint32_t i = base; i < v->desc.count; i++) {
        const nnrt_piece raw = v->tokens[i];
        nnrt_piece to = keep(v, "", 0);
        for (size_t k = 0; k < raw.bytes; k++)
            to.bytes += keep(v, v->tokens[(uint8_t)raw.data[k]].data, v->tokens[(uint8_t)raw.data[k]].bytes).bytes;
        v->tokens[i] = to;
    }
    t = make(v);
    for (size_t i = 0; i < n; i++)
        ids[i] = nnrt_tokenizer_find(t, words[i], strlen(words[i]));
    ids[n] = END;
    expect_ids(t, text, strlen(text), 0, ids);
    nnrt_tokenizer_destroy(t);
}
#define WORDS(split, ...)                                                                                              \
    do {                                                                                                               \
        const char *const words_[] = {__VA_ARGS__, NULL};                                                              \
        expect_words(NNRT_SPLIT_##split, words_);                                                                      \
    } while (0)

static void test_splits(void **state)
{
    (void)state;
    WORDS(GPT2, "Hello", " world", "'s", " 12345", "!?", " \n", "\t", "x", "  ");
    WORDS(GPT2, "I", "'ll", "'", "LL", "   ", " x", "\n\n");
    WORDS(GPT2, "\xC3\xA9t\xC3\xA9", " \xE2\x82\xAC", "5", "\xE4\xBD\xA0\xE5\xA5\xBD", "\xE3\x80\x82");
    WORDS(GPT2, "a", "\xCC\x81", "b"); /* a combining mark is neither letter nor number */
    WORDS(GPT2, "a", "\xE3\x80\x80", "b", "\xC2\xA0", "\xC2\xA0", "c"); /* white space that is no space joins no word */
    WORDS(LLAMA3, "I", "'LL", " we", "'d", " ", "123", "456", "7", "...\n\n", "x");
    WORDS(LLAMA3, "a", "\tb", " ", " \xE4\xBD\xA0", "(c", ")", "  \n", "  ", " d");
    WORDS(LLAMA3, "\n \r\n", "x", "\n \n", " ", " y");
    WORDS(LLAMA3, "'s", "'t", "'\xC5\xBF"); /* U+017F is no s */
    WORDS(SMOLLM, "a", "1", "2", " b", "  ", "3", "'s", " ", "4", "\xC2\xBD", "!", "5"); /* spaces end before a numeral */
    WORDS(SMOLLM, "7", " \n", "\xD9\xA3", "x", "   ", " y");
    WORDS(QWEN2, "a", "1", "2", "3", " ", "4", " b", "!!\r\n", "c");
    WORDS(GPT4O, "Hello", "World", "HTTPServer's", "x");
    WORDS(GPT4O, "camel", "Case", "X's");
    WORDS(GPT4O, "don't", " WE'LL", " a", "/b", "//\n", "c", "123", "4");
    WORDS(GPT4O, "\xE4\xBD\xA0", "A", " x\xE4\xBD\xA0", "A\xE4\xBD\xA0");
    WORDS(GPT4O, "\xE4\xBD\xA0\x41\xE4\xBD\xA0", "!\xCC\x81", "A");
}

/* ---- normalization ---- */

static nnrt_tokenizer *normalizer(uint32_t normalize)
{
    vocabulary *v = begin_bytes();
    v->desc.normalize = normalize;
    return make(v);
}

static void expect_normal(uint32_t normalize, const char *text, const char *wanted)
{
    nnrt_tokenizer *t = normalizer(normalize);
    expect_text(t, text, strlen(text), wanted, strlen(wanted));
    nnrt_tokenizer_destroy(t);
}

/* Examples of UAX 15 and of chapter 3 of the standard. */
static void test_nfc(void **state)
{
    char marks[300], sorted[300];
    (void)state;
    expect_normal(NNRT_NORMALIZE_NFC, "e\xCC\x81", "\xC3\xA9");
    expect_normal(NNRT_NORMALIZE_NFC, "\xE2\x84\xAB", "\xC3\x85");                     /* U+212B is a singleton */
    expect_normal(NNRT_NORMALIZE_NFC, "\xE1\xB8\x8A\xCC\xA3", "\xE1\xB8\x8C\xCC\x87"); /* U+1E0A U+0323 */
    expect_normal(NNRT_NORMALIZE_NFC, "D\xCC\x87\xCC\xA3", "\xE1\xB8\x8C\xCC\x87");
    expect_normal(NNRT_NORMALIZE_NFC, "\xE0\xA5\x98", "\xE0\xA4\x95\xE0\xA4\xBC"); /* U+0958 is excluded */
    expect_normal(NNRT_NORMALIZE_NFC, "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8",
                  "\xEA\xB0\x81");                                               /* Hangul L V T: U+AC01 */
    expect_normal(NNRT_NORMALIZE_NFC, "\xE1\xBE\x82", "\xE1\xBE\x82");           /* three levels */
    expect_normal(NNRT_NORMALIZE_NFC, "a\xCC\x85\xCC\x80", "a\xCC\x85\xCC\x80"); /* a mark of the same class blocks */
    expect_normal(NNRT_NORMALIZE_NFC, "a\xCC\x95\xCC\x80\xCC\x96", "\xC3\xA0\xCC\x96\xCC\x95");
    /* 100 marks of two classes: the lower class first, and otherwise in their order */
    marks[0] = sorted[0] = 'x';
    for (int i = 0; i < 100; i++) {
        memcpy(marks + 1 + 2 * i, i % 2 == 0 ? "\xCC\x81" : "\xCC\xA3", 2);
        memcpy(sorted + 1 + 2 * i, i < 50 ? "\xCC\xA3" : "\xCC\x81", 2);
    }
    marks[201] = sorted[201] = '\0';
    expect_normal(NNRT_NORMALIZE_NFC, marks, sorted);
}

static void test_normal(void **state)
{
    (void)state;
    expect_normal(NNRT_NORMALIZE_LOWERCASE,
                  "\xC3\x84\xCE\xA3\xD0\x96"
                  "A1\xC4\xB0",
                  "\xC3\xA4\xCF\x83\xD0\xB6"
                  "a1i\xCC\x87");
    expect_normal(NNRT_NORMALIZE_ACCENTS, "\xC3\xA9\xC5\x81\xEA\xB0\x81",
                  "e\xC5\x81\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8");
    expect_normal(NNRT_NORMALIZE_CLEAN,
                  "a\x01\t\xC2\x85\xE2\x80\x8B"
                  "b\xE3\x80\x80\xEF\xBF\xBD"
                  "c",
                  "a b c");
    expect_normal(NNRT_NORMALIZE_CHINESE, "ah\xE5\x8D\x9Azz", "ah \xE5\x8D\x9A zz");
    expect_normal(NNRT_NORMALIZE_SPACES, "  a  b   c ", "a b c");
}

/* A trie of one entry, "A" -> "xyz", by the format: the root's unit leads to offset 1, and unit 1 ^ 'A' is its child. */
static void test_charsmap(void **state)
{
    uint8_t map[4 + 4 * 256 + 5];
    vocabulary *v = begin_bytes();
    nnrt_tokenizer *t;
    const uint32_t child = 1 ^ 'A', leaf = child ^ 2;
    const uint32_t units[3][2] = {{0, 1u << 10}, {child, 'A' | 1u << 8 | 2u << 10}, {leaf, 0x80000000u | 1}};
    (void)state;
    memset(map, 0, sizeof(map));
    map[1] = 4; /* 1024 bytes of trie */
    for (int i = 0; i < 3; i++)
        for (uint32_t k = 0; k < 4; k++)
            map[4 + 4 * units[i][0] + k] = (uint8_t)(units[i][1] >> 8 * k);
    memcpy(map + 4 + 1024, "\0xyz", 5);
    v->desc.normalize = NNRT_NORMALIZE_CHARSMAP;
    v->desc.charsmap.data = (const char *)map;
    v->desc.charsmap.bytes = sizeof(map);
    t = make(v);
    expect_text(t, "BAA\xC3\xA9", 5, "Bxyzxyz\xC3\xA9", 9);
    nnrt_tokenizer_destroy(t);
}

/* Maximal invalid parts: table 3-8 of the standard has the first text. */
static void test_invalid(void **state)
{
    nnrt_tokenizer *t = normalizer(0);
    (void)state;
    expect_text(t, "\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64", 13,
                "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                "b\xEF\xBF\xBD"
                "c\xEF\xBF\xBD\xEF\xBF\xBD"
                "d",
                22);
    expect_text(t, "\xC0\xAF\xED\xA0\x80\xF4\x90", 7,
                "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", 21);
    expect_text(t, "\0a\0", 3, "\0a\0", 3);
    nnrt_tokenizer_destroy(t);
}

/* ---- unigram, WordPiece ---- */

static void test_unigram(void **state)
{
    vocabulary *v = begin(NNRT_TOKENIZER_UNIGRAM);
    const uint32_t unknown = add(v, "<unk>", 0, NNRT_TOKEN_UNKNOWN);
    const uint32_t mark = add(v, "\xE2\x96\x81", -3, 0), a = add(v, "a", -3, 0), b = add(v, "b", -3, 0);
    const uint32_t ab = add(v, "ab", -4, 0), ba = add(v, "ba", -2.5f, 0), aba = add(v, "aba", -6, 0);
    nnrt_tokenizer *t;
    (void)state;
    v->desc.unknown = unknown;
    v->desc.prefix = NNRT_PREFIX_MISSING;
    v->desc.split = NNRT_SPLIT_MARK;
    t = make(v);
    EXPECT(t, "ab", 0, mark, ab);
    EXPECT(t, "aba", 0, mark, a, ba);   /* -5.5 > -6 > -7 */
    EXPECT(t, "abab", 0, mark, ab, ab); /* -8 > -8.5 of a ba b, > -9 of aba b */
    EXPECT(t, "bab", 0, mark, ba, b);   /* -5.5 > -7 of b ab */
    (void)aba;
    nnrt_tokenizer_destroy(t);
}

static void test_unknown(void **state)
{
    vocabulary *v = begin(NNRT_TOKENIZER_UNIGRAM);
    const uint32_t unknown = add(v, "<unk>", 0, NNRT_TOKEN_UNKNOWN), a = add(v, "a", -3, 0);
    nnrt_tokenizer *t;
    (void)state;
    v->desc.unknown = unknown;
    t = make(v);
    EXPECT(t, "axya", 0, a, unknown, a); /* adjacent unknown characters are one */
    nnrt_tokenizer_destroy(t);
}

/* The examples of BERT's tokenization_test.py. */
static void test_wordpiece(void **state)
{
    vocabulary *v = begin(NNRT_TOKENIZER_WORDPIECE);
    const uint32_t unknown = add(v, "[UNK]", 0, NNRT_TOKEN_CONTROL), un = add(v, "un", 0, 0),
                   runn = add(v, "runn", 0, 0);
    const uint32_t want = add(v, "want", 0, 0), wa = add(v, "wa", 0, 0), ed = add(v, "##ed", 0, 0),
                   wan = add(v, "##want", 0, 0);
    const uint32_t ing = add(v, "##ing", 0, 0), comma = add(v, ",", 0, 0), hello = add(v, "hello", 0, 0),
                   bang = add(v, "!", 0, 0);
    const uint32_t ideograph = add(v, "\xE5\x8D\x9A", 0, 0), begins = add(v, "[CLS]", 0, NNRT_TOKEN_CONTROL);
    char longest[120];
    uint32_t many[121], out[2];
    char text[64];
    nnrt_tokenizer *t;
    (void)state;
    (void)wa;
    v->desc.split = NNRT_SPLIT_BERT;
    v->desc.normalize =
        NNRT_NORMALIZE_CLEAN | NNRT_NORMALIZE_CHINESE | NNRT_NORMALIZE_ACCENTS | NNRT_NORMALIZE_LOWERCASE;
    v->desc.continuation.data = "##";
    v->desc.continuation.bytes = 2;
    v->desc.unknown = unknown;
    v->desc.before[0] = begins;
    v->desc.beforeCount = 1;
    t = make(v);
    EXPECT(t,
           "UNwant\xC3\xA9"
           "d,running",
           0, un, wan, ed, comma, runn, ing);
    EXPECT(t, "unwantedX running", 0, unknown, runn, ing);
    EXPECT(t, " \tHeLLo!h\xC3\xA9llo\n", NNRT_TEXT_AFFIXES, begins, hello, bang, hello);
    EXPECT(t, "hello\xE5\x8D\x9Awant", 0, hello, ideograph, want);
    memset(longest, ',', sizeof(longest)); /* punctuation: each character is a word */
    for (int i = 0; i < 120; i++)
        many[i] = comma;
    many[120] = END;
    expect_ids(t, longest, 120, 0, many);
    memset(longest, 'x', sizeof(longest));
    many[0] = unknown;
    many[1] = END;
    expect_ids(t, longest, 101, 0, many);
    out[0] = un;
    out[1] = ed;
    assert_int_equal(decode(t, 0, out, 2, text), 4);
    assert_memory_equal(text, "uned", 4);
    out[1] = hello;
    assert_int_equal(decode(t, 0, out, 2, text), 8);
    assert_memory_equal(text, "un hello", 8);
    nnrt_tokenizer_destroy(t);
}

/* ---- added tokens, streams ---- */

static void test_added(void **state)
{
    vocabulary *v = begin_bytes();
    const uint32_t control = add(v, "<|end|>", 0, NNRT_TOKEN_CONTROL), user = add(v, "<|", 0, NNRT_TOKEN_USER);
    const uint32_t both = add(v, "[M]", 0, NNRT_TOKEN_USER | NNRT_TOKEN_LEFT | NNRT_TOKEN_RIGHT);
    const uint32_t whole = add(v, "cat", 0, NNRT_TOKEN_USER | NNRT_TOKEN_WHOLE);
    const uint32_t ids[] = {'a', 256, 'b'};
    char text[16];
    nnrt_tokenizer *t;
    (void)state;
    v->desc.before[0] = v->desc.after[0] = control;
    v->desc.beforeCount = v->desc.afterCount = 1;
    t = make(v);
    EXPECT(t, "a<|end|>b", NNRT_TEXT_SPECIAL, 'a', control, 'b');
    EXPECT(t, "a<|end|>b", 0, 'a', user, 'e', 'n', 'd', '|', '>', 'b');
    EXPECT(t, "a", NNRT_TEXT_AFFIXES, control, 'a', control);
    EXPECT(t, "", NNRT_TEXT_AFFIXES, control, control);
    EXPECT(t,
           "a \t[M]\xE3\x80\x80"
           "b",
           0, 'a', both, 'b');
    EXPECT(t, "[M][M]", 0, both, both);
    EXPECT(t, "cat cats _cat cat", 0, whole, ' ', 'c', 'a', 't', 's', ' ', '_', 'c', 'a', 't', ' ', whole);
    assert_int_equal(nnrt_token_type(t, both), NNRT_TOKEN_USER);
    assert_int_equal(decode(t, 0, ids, 3, text), 2);
    assert_memory_equal(text, "ab", 2);
    assert_int_equal(decode(t, NNRT_TEXT_SPECIAL, ids, 3, text), 9);
    assert_memory_equal(text, "a<|end|>b", 9);
    nnrt_tokenizer_destroy(t);
}

/* A character whose bytes are tokens is written when it is whole. */
static void test_stream(void **state)
{
    const uint32_t ids[] = {0xE2, 0x82, 0xAC, 0xF0, 0x9F, 'a', 0xE2, 0x82};
    const char *const pieces[] = {"", "", "\xE2\x82\xAC", "", "", "\xEF\xBF\xBD\x61", "", ""};
    nnrt_tokenizer *t = normalizer(0);
    nnrt_detokenizer d;
    char out[64];
    size_t bytes = 1;
    (void)state;
    nnrt_detokenizer_start(&d, t, 0);
    assert_true(nnrt_detokenizer_bytes(t) <= sizeof(out));
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        assert_int_equal(nnrt_detokenize(&d, ids[i], out, sizeof(out), &bytes), NNRT_SUCCESS);
        assert_int_equal(bytes, strlen(pieces[i]));
        assert_memory_equal(out, pieces[i], bytes);
    }
    assert_int_equal(nnrt_detokenizer_end(&d, out), 3);
    assert_memory_equal(out, "\xEF\xBF\xBD", 3);
    assert_int_equal(nnrt_detokenizer_end(&d, out), 0);
    assert_int_equal(nnrt_detokenize(&d, 256, out, sizeof(out), &bytes), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_detokenize(&d, 'a', out, 3, &bytes), NNRT_INSUFFICIENT_BUFFER);
    assert_int_equal(bytes, 0);
    nnrt_tokenizer_destroy(t);
}

static void test_capacity(void **state)
{
    nnrt_tokenizer *t = normalizer(0);
    uint32_t *ids = (uint32_t *)malloc(2 * sizeof(*ids));
    size_t count = 0;
    (void)state;
    assert_int_equal(nnrt_tokenize(t, "abc", 3, 0, ids, 2, &count), NNRT_INSUFFICIENT_BUFFER);
    assert_int_equal(count, 3);
    assert_int_equal(ids[1], 'b');
    assert_int_equal(nnrt_tokenize(t, "abc", 3, 0, NULL, 0, &count), NNRT_INSUFFICIENT_BUFFER);
    assert_int_equal(count, 3);
    assert_int_equal(nnrt_tokenize(t, NULL, 0, 0, NULL, 0, &count), NNRT_SUCCESS);
    assert_int_equal(count, 0);
    assert_int_equal(nnrt_tokenize(t, NULL, 1, 0, ids, 2, &count), NNRT_NULL_PTR);
    assert_int_equal(nnrt_tokenize(t, "a", 1, 0, NULL, 2, &count), NNRT_NULL_PTR);
    assert_int_equal(nnrt_tokenize(NULL, "a", 1, 0, ids, 2, &count), NNRT_NULL_PTR);
    assert_int_equal(nnrt_tokenize(t, "a", 1, 0, ids, 2, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_tokenizer_count(t), 256);
    assert_int_equal(nnrt_tokenizer_find(t, "ab", 2), NNRT_NO_TOKEN);
    assert_null(nnrt_token_text(t, 256).data);
    assert_int_equal(nnrt_token_type(t, 256), 0);
    free(ids);
    nnrt_tokenizer_destroy(t);
    nnrt_tokenizer_destroy(NULL);
}

/* ---- descriptions and files that are refused ---- */

static void expect_refused(vocabulary *v, NNRT_ReturnCode code, const char *text)
{
    nnrt_tokenizer *t = (nnrt_tokenizer *)v;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_tokenizer_create(&t, &v->desc, NULL, &error), code);
    assert_null(t);
    if (strstr(error.message, text) == NULL)
        fail_msg("'%s' is not in '%s'", text, error.message);
}

static void test_refused(void **state)
{
    vocabulary *v = begin_bytes();
    nnrt_tokenizer *t = NULL;
    const nnrt_tokenizer_desc good = v->desc;
    (void)state;
    assert_int_equal(nnrt_tokenizer_create(NULL, &v->desc, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_tokenizer_create(&t, NULL, NULL, NULL), NNRT_NULL_PTR);
#define REFUSED(member, value, code, text)                                                                             \
    do {                                                                                                               \
        v->desc = good;                                                                                                \
        v->desc.member = value;                                                                                        \
        expect_refused(v, NNRT_##code, text);                                                                          \
    } while (0)
    REFUSED(kind, 4, INVALID_PARAMETER, "kind");
    REFUSED(kind, -1, INVALID_PARAMETER, "kind");
    REFUSED(split, NNRT_SPLIT_END, INVALID_PARAMETER, "split");
    REFUSED(prefix, NNRT_PREFIX_END, INVALID_PARAMETER, "prefix");
    REFUSED(normalize, 256, INVALID_PARAMETER, "normalize");
    REFUSED(normalize, NNRT_NORMALIZE_CHARSMAP, INVALID_PARAMETER, "charsmap is cut short");
    REFUSED(count, 0, INVALID_PARAMETER, "count");
    REFUSED(tokens, NULL, NULL_PTR, "tokens");
    REFUSED(beforeCount, 5, INVALID_PARAMETER, "beforeCount");
    REFUSED(afterCount, 5, INVALID_PARAMETER, "afterCount");
    REFUSED(unknown, 256, INVALID_PARAMETER, "unknown is 256, and must be less than 256");
    v->desc = good;
    v->desc.afterCount = 1;
    v->desc.after[0] = 256;
    expect_refused(v, NNRT_INVALID_PARAMETER, "before or after has 256");
    v->desc = good;
    v->desc.kind = NNRT_TOKENIZER_UNIGRAM;
    expect_refused(v, NNRT_INVALID_PARAMETER, "byteLevel");
    v->desc.byteLevel = false;
    v->desc.scores = NULL;
    expect_refused(v, NNRT_NULL_PTR, "scores");
    v->desc = good;
    v->scores[7] = 1e31f;
    expect_refused(v, NNRT_INVALID_PARAMETER, "the score of token 7 is not finite");
    v->scores[7] = 0;
    merge(v, "a", "b");
    expect_refused(v, NNRT_INVALID_PARAMETER, "merge 0: 'a' and 'b' become 'ab', and that is no token");
    v->desc = good;
    merge(v, "aq", "b");
    expect_refused(v, NNRT_INVALID_PARAMETER, "the first is no token");
    free(v);
}

/* 1,100 texts whose FNV-1a, folded to 32 bits, ends in 11 zero bits: the header's table of 2,048 slots would take n^2. */
static void test_collisions(void **state)
{
    vocabulary *v = begin(NNRT_TOKENIZER_BPE);
    (void)state;
    for (uint32_t n = 0; v->desc.count < 1100; n++) {
        char text[12];
        uint64_t hash = 0xCBF29CE484222325u;
        snprintf(text, sizeof(text), "%u", (unsigned)n);
        for (size_t i = 0; text[i] != '\0'; i++)
            hash = (hash ^ (uint8_t)text[i]) * 0x100000001B3u;
        if (((hash >> 32 ^ hash) & 2047) == 0)
            (void)add(v, text, 0, 0);
    }
    expect_refused(v, NNRT_INVALID_PARAMETER, "tokens have equal hash values");
    free(v);
}

/* Every allocation fails once: the call reports it, and nothing leaks. */
static void test_memory(void **state)
{
    const char *const text = "The \xE1\xB8\x8A\xCC\xA3 x\xFF 12";
    int64_t failed = 0;
    (void)state;
    for (int64_t n = 1; n < 200; n++) {
        vocabulary *v = begin_bytes();
        const int64_t live = heap_live;
        nnrt_tokenizer *t = NULL;
        nnrt_error error;
        uint32_t ids[64];
        size_t count = 0;
        NNRT_ReturnCode code;
        memset(&error, 0, sizeof(error));
        (void)add(v, "<s>", 0, NNRT_TOKEN_USER);
        v->desc.normalize =
            NNRT_NORMALIZE_NFC | NNRT_NORMALIZE_CLEAN | NNRT_NORMALIZE_ACCENTS | NNRT_NORMALIZE_LOWERCASE;
        v->desc.split = NNRT_SPLIT_GPT2;
        heap_fail_at = heap_calls + n;
        code = nnrt_tokenizer_create(&t, &v->desc, NULL, &error);
        if (code == NNRT_SUCCESS)
            code = nnrt_tokenize(t, text, strlen(text), 0, ids, 64, &count);
        heap_fail_at = 0;
        nnrt_tokenizer_destroy(t);
        assert_int_equal(heap_live, live);
        free(v);
        if (code == NNRT_SUCCESS)
            break;
        assert_int_equal(code, NNRT_OUT_OF_MEMORY);
        failed++;
    }
    assert_true(failed > 10 && failed < 199);
}

/* ---- GGUF ---- */

/* The families of GGUF, by the names of their files; a word of the bert family begins with U+2581 there. */
static void test_gguf(void **state)
{
    vocabulary *v = begin_bytes();
    nnrt_tokenizer_desc d;
    nnrt_error error;
    nnrt_tokenizer *t;
    uint32_t number, word, unknown, un, able;
    (void)state;
    number = add(v, "12", 0, 0);
    word = add(v, "abc", 0, 0);
    assert_int_equal(nnrt_tokenizer_gguf(&d, "gpt2", "llama-bpe", NULL), NNRT_SUCCESS);
    assert_true(d.ignoreMerges && d.byteLevel && d.unknown == NNRT_NO_TOKEN);
    d.tokens = v->tokens;
    d.count = v->desc.count;
    v->desc = d;
    t = make(v);
    EXPECT(t, "abc", 0, word);
    EXPECT(t, "12", 0, number);
    EXPECT(t, "1234", 0, '1', '2', '3', '4'); /* words 123 and 4 */
    nnrt_tokenizer_destroy(t);
    assert_int_equal(nnrt_tokenizer_gguf(&d, "gpt2", "qwen2", NULL), NNRT_SUCCESS);
    assert_true(d.split == NNRT_SPLIT_QWEN2 && !d.ignoreMerges);
    assert_int_equal(nnrt_tokenizer_gguf(&d, "llama", NULL, NULL), NNRT_SUCCESS);
    assert_true(d.kind == NNRT_TOKENIZER_SCORES && d.byteFallback && d.prefix == NNRT_PREFIX_ALWAYS);
    assert_int_equal(nnrt_tokenizer_gguf(&d, "t5", NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(d.kind, NNRT_TOKENIZER_UNIGRAM);
    v = begin(NNRT_TOKENIZER_WORDPIECE);
    unknown = add(v, "[UNK]", 0, NNRT_TOKEN_CONTROL);
    un = add(v, "\xE2\x96\x81un", 0, 0);
    able = add(v, "able", 0, 0);
    assert_int_equal(nnrt_tokenizer_gguf(&d, "bert", NULL, NULL), NNRT_SUCCESS);
    d.tokens = v->tokens;
    d.types = v->types;
    d.count = v->desc.count;
    d.unknown = unknown;
    v->desc = d;
    t = make(v);
    EXPECT(t, "UNable un able", 0, un, able, un, unknown);
    expect_text(t, "unable un", 9, "unable un", 9);
    nnrt_tokenizer_destroy(t);
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_tokenizer_gguf(&d, "rwkv", NULL, &error), NNRT_UNSUPPORTED_OP);
    assert_non_null(strstr(error.message, "the tokenizer 'rwkv' is not supported"));
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_tokenizer_gguf(&d, "gpt2", "tekken", &error), NNRT_UNSUPPORTED_OP);
    assert_non_null(strstr(error.message, "the pre-tokenizer 'tekken' is not supported"));
    assert_int_equal(nnrt_tokenizer_gguf(NULL, "gpt2", NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_tokenizer_gguf(&d, NULL, NULL, NULL), NNRT_NULL_PTR);
}

/* ---- tokenizer.json ---- */

static nnrt_tokenizer *load(const char *json)
{
    nnrt_tokenizer *t = NULL;
    nnrt_error error;
    char *file = (char *)malloc(strlen(json)); /* exactly the bytes of the file */
    memcpy(file, json, strlen(json));
    memset(&error, 0, sizeof(error));
    if (nnrt_tokenizer_load_json(&t, file, strlen(json), NULL, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    free(file); /* the tokenizer needs it no longer */
    return t;
}

static void test_json_bpe(void **state)
{
    nnrt_tokenizer *t = load(
        "{\"version\": \"1.0\", \"added_tokens\": [{\"id\": 9, \"content\": \"<s>\", \"special\": true}],\n"
        "\"normalizer\": null, \"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false},"
        "\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"<s>\"}}, "
        "{\"Sequence\": {\"id\": \"A\"}}]},"
        "\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"\\u0120\": 2, \"ab\": 3, \"\xC4\xA0"
        "ab\": 4, "
        "\"\\\"\": 5, \"\\\\\": 6, \"\\u00c3\": 7, \"\\u00a9\": 8},"
        "\"merges\": [\"a b\", [\"\\u0120\", \"ab\"]]}}");
    (void)state;
    EXPECT(t, "ab ab", NNRT_TEXT_AFFIXES, 9, 3, 4);
    EXPECT(t, "ba\"\\ \xC3\xA9", 0, 1, 0, 5, 6, 2, 7, 8);
    EXPECT(t, "<s>a", NNRT_TEXT_SPECIAL, 9, 0);
    assert_int_equal(nnrt_token_type(t, 9), NNRT_TOKEN_CONTROL);
    nnrt_tokenizer_destroy(t);
}

/* Llama 2's form: a normalizer writes U+2581, bytes are a fallback. */
static void test_json_pieces(void **state)
{
    nnrt_tokenizer *t = load("{\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Prepend\", "
                             "\"prepend\": \"\\u2581\"}, "
                             "{\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": \"\\u2581\"}]}, "
                             "\"model\": {\"type\": \"BPE\", "
                             "\"unk_token\": \"<unk>\", \"byte_fallback\": true, \"fuse_unk\": true, \"vocab\": "
                             "{\"<unk>\": 0, \"\\u2581\": 1, "
                             "\"a\": 2, \"\\u2581a\": 3, \"<0xC3>\": 4, \"<0xA9>\": 5}, \"merges\": [\"\\u2581 a\"]}}");
    (void)state;
    EXPECT(t, "a a", 0, 3, 3);
    EXPECT(t, "\xC3\xA9", 0, 1, 4, 5);
    EXPECT(t, "xya", 0, 1, 0, 2); /* no bytes for x and y: one unknown token */
    expect_text(t, "a a\xC3\xA9", 5, "a a\xC3\xA9", 5);
    nnrt_tokenizer_destroy(t);
}

static void test_json_unigram(void **state)
{
    nnrt_tokenizer *t =
        load("{\"added_tokens\": [{\"id\": 0, \"content\": \"<unk>\", \"special\": true}], \"pre_tokenizer\": "
             "{\"type\": \"Metaspace\", "
             "\"replacement\": \"\\u2581\", \"add_prefix_space\": true}, \"model\": {\"type\": \"Unigram\", "
             "\"unk_id\": 0, \"vocab\": "
             "[[\"<unk>\", 0], [\"\\u2581\", -2.5], [\"a\", -25e-1], [\"\\u2581a\", -4.5], [\"b\", -3]]}}");
    (void)state;
    EXPECT(t, "a ab", 0, 3, 3, 4);
    EXPECT(t, "ba", 0, 1, 4, 2);
    EXPECT(t, "zza", 0, 1, 0, 2);
    nnrt_tokenizer_destroy(t);
}

#define BPE "\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1}, \"merges\": []}"

static void test_json_refused(void **state)
{
    static const struct {
        const char *json;
        NNRT_ReturnCode code;
        const char *text;
    } rows[] = {
        {"", NNRT_INVALID_MODEL, "no JSON object"},
        {"[]", NNRT_INVALID_MODEL, "no JSON object"},
        {"{", NNRT_INVALID_MODEL, "no JSON object"},
        {"{}x", NNRT_INVALID_MODEL, "no JSON object"},
        {"{\"a\": 01}", NNRT_INVALID_MODEL, "no JSON object"},
        {"{\"a\": [1,]}", NNRT_INVALID_MODEL, "no JSON object"},
        {"{\"a\": \"\\q\"}", NNRT_INVALID_MODEL, "no JSON object"},
        {"{\"a\": \"\\u12g4\"}", NNRT_INVALID_MODEL, "no JSON object"},
        {"{\"a\": tru}", NNRT_INVALID_MODEL, "no JSON object"},
        {"{\"a\" 1}", NNRT_INVALID_MODEL, "no JSON object"},
        {"{\"a\": [1}}", NNRT_INVALID_MODEL, "no JSON object"},
        {"{}", NNRT_INVALID_MODEL, "model has no vocab"},
        {"{\"model\": {\"vocab\": 3}}", NNRT_INVALID_MODEL, "model has no vocab"},
        {"{\"model\": {\"type\": \"WordLevel\", \"vocab\": {}}}", NNRT_UNSUPPORTED_OP,
         "the model WordLevel is not supported"},
        {"{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": -1}}}", NNRT_INVALID_MODEL, "without text or id"},
        {"{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 2000000000}}}", NNRT_INVALID_MODEL,
         "an id that is too large"},
        {"{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": [\"a\"]}}", NNRT_INVALID_MODEL, "no pair"},
        {"{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": [\"a a\"]}}", NNRT_INVALID_PARAMETER,
         "merge 0"},
        {"{\"model\": {\"type\": \"Unigram\", \"vocab\": {\"a\": 0}}}", NNRT_INVALID_MODEL,
         "not that of the model Unigram"},
        {"{\"normalizer\": {\"type\": \"NFKC\"}, " BPE "}", NNRT_UNSUPPORTED_OP,
         "the normalizer NFKC is not supported"},
        {"{\"pre_tokenizer\": {\"type\": \"Digits\"}, " BPE "}", NNRT_UNSUPPORTED_OP, "the pre-tokenizer Digits is"},
        {"{\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"x+\"}, \"behavior\": \"Isolated\"}, " BPE
         "}",
         NNRT_UNSUPPORTED_OP, "Split by 'x+' is not supported"},
        {"{\"post_processor\": {\"type\": \"BertProcessing\", \"cls\": [\"c\", 1], \"sep\": [\"s\", 2]}, " BPE "}",
         NNRT_INVALID_MODEL, "names 'c', which is no token"},
    };
    char deep[300] = "{\"a\": ";
    nnrt_tokenizer *t = NULL;
    nnrt_error error;
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *file = (char *)malloc(strlen(rows[i].json) + 1);
        memcpy(file, rows[i].json, strlen(rows[i].json));
        memset(&error, 0, sizeof(error));
        if (nnrt_tokenizer_load_json(&t, file, strlen(rows[i].json), NULL, &error) != rows[i].code ||
            strstr(error.message, rows[i].text) == NULL)
            fail_msg("%s: %d '%s', not '%s'", rows[i].json, error.code, error.message, rows[i].text);
        assert_null(t);
        free(file);
    }
    memset(deep + 6, '[', 100);
    memset(deep + 106, ']', 100);
    strcpy(deep + 206, "}");
    assert_int_equal(nnrt_tokenizer_load_json(&t, deep, strlen(deep), NULL, NULL), NNRT_INVALID_MODEL);
    assert_int_equal(nnrt_tokenizer_load_json(&t, NULL, 0, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_tokenizer_load_json(NULL, "{}", 2, NULL, NULL), NNRT_NULL_PTR);
}

/* ---- samplers ---- */

static nnrt_sampler *sampler(const nnrt_sampler_desc *d, uint32_t count)
{
    nnrt_sampler *s = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_sampler_create(&s, d, count, NULL, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    return s;
}

/* Draws n tokens by the same logits; seen[id] = how many of them. */
static void draw(nnrt_sampler *s, const float *logits, int32_t n, int32_t *seen)
{
    for (int32_t i = 0; i < n; i++) {
        uint32_t id = 0;
        assert_int_equal(nnrt_sample(s, logits, &id), NNRT_SUCCESS);
        seen[id]++;
    }
}

static void test_greedy(void **state)
{
    const float logits[5] = {1, (float)NAN, 3, 3, -(float)INFINITY}, none[2] = {(float)NAN, -(float)INFINITY};
    nnrt_sampler_desc d;
    nnrt_sampler *s;
    uint32_t id = 0;
    (void)state;
    memset(&d, 0, sizeof(d));
    s = sampler(&d, 5);
    assert_int_equal(nnrt_sample(s, logits, &id), NNRT_SUCCESS);
    assert_int_equal(id, 2); /* of equal logits the lowest id */
    nnrt_sampler_destroy(s);
    d.repeatPenalty = 2;
    d.window = 2;
    s = sampler(&d, 5);
    assert_int_equal(nnrt_sample(s, logits, &id), NNRT_SUCCESS);
    assert_int_equal(id, 2);
    assert_int_equal(nnrt_sample(s, logits, &id), NNRT_SUCCESS);
    assert_int_equal(id, 3); /* 2 was chosen: 1.5 */
    assert_int_equal(nnrt_sample(s, logits, &id), NNRT_SUCCESS);
    assert_int_equal(id, 2); /* 1.5, 1.5, 1 */
    nnrt_sampler_accept(s, 0);
    nnrt_sampler_accept(s, 0);
    assert_int_equal(nnrt_sample(s, logits, &id), NNRT_SUCCESS);
    assert_int_equal(id, 2); /* the window has only 0 */
    nnrt_sampler_destroy(s);
    memset(&d, 0, sizeof(d));
    d.presencePenalty = 2.5f;
    s = sampler(&d, 5);
    nnrt_sampler_accept(s, 2);
    nnrt_sampler_accept(s, 3);
    assert_int_equal(nnrt_sample(s, logits, &id), NNRT_SUCCESS);
    assert_int_equal(id, 0); /* 1, 0.5, 0.5 */
    nnrt_sampler_destroy(s);
    s = sampler(&d, 2);
    assert_int_equal(nnrt_sample(s, none, &id), NNRT_INVALID_PARAMETER);
    assert_int_equal(id, NNRT_NO_TOKEN);
    nnrt_sampler_destroy(s);
    nnrt_sampler_destroy(NULL);
}

/* Probabilities 8/15, 4/15, 2/15, 1/15: counts of 15,000 draws lie within six standard deviations. */
static void test_draw(void **state)
{
    const float logits[4] = {0, 2.0794415f, 0.6931472f, 1.3862944f}; /* ln of 1, 8, 2, 4 */
    static const struct {
        float temperature, topP, minP;
        int32_t topK, parts[4]; /* parts: probabilities times their sum */
    } rows[] = {
        {1, 0, 0, 0, {1, 8, 2, 4}},     {0.5f, 0, 0, 0, {1, 64, 4, 16}}, {1, 0, 0, 2, {0, 8, 0, 4}},
        {1, 0.79f, 0, 0, {0, 8, 0, 4}}, {1, 0.81f, 0, 0, {0, 8, 2, 4}},  {1, 0.5f, 0, 0, {0, 1, 0, 0}},
        {1, 0, 0.2f, 0, {0, 8, 2, 4}},  {1, 0, 0.3f, 3, {0, 8, 0, 4}},   {1, 0.66f, 0, 2, {0, 1, 0, 0}},
        {1, 0.67f, 0, 2, {0, 8, 0, 4}}, {1, 0, 0, 9, {1, 8, 2, 4}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        nnrt_sampler_desc d;
        nnrt_sampler *s;
        int32_t seen[4] = {0, 0, 0, 0}, sum = 0;
        memset(&d, 0, sizeof(d));
        d.seed = 7;
        d.temperature = rows[i].temperature;
        d.topK = rows[i].topK;
        d.topP = rows[i].topP;
        d.minP = rows[i].minP;
        s = sampler(&d, 4);
        draw(s, logits, 15000, seen);
        for (int32_t k = 0; k < 4; k++)
            sum += rows[i].parts[k];
        for (int32_t k = 0; k < 4; k++) {
            const double p = (double)rows[i].parts[k] / sum, wanted = 15000 * p, error = 6 * sqrt(wanted * (1 - p));
            if (fabs(seen[k] - wanted) > error)
                fail_msg("row %zu: token %d came %d times, expected %.0f", i, k, seen[k], wanted);
        }
        nnrt_sampler_destroy(s);
    }
}

/* The stream of splitmix64 from seed 1234567 begins with 6457827717110365317, 3203168211198807973 (the values that its
   author's test program prints): 350.1 and 173.6 thousandths of 2^64. */
static void test_seed(void **state)
{
    const float logits[1000] = {0};
    uint32_t first[2], id = 0;
    nnrt_sampler_desc d;
    nnrt_sampler *s;
    (void)state;
    memset(&d, 0, sizeof(d));
    d.seed = 1234567;
    d.temperature = 1;
    s = sampler(&d, 1000);
    assert_int_equal(nnrt_sample(s, logits, &first[0]), NNRT_SUCCESS);
    assert_int_equal(nnrt_sample(s, logits, &first[1]), NNRT_SUCCESS);
    assert_int_equal(first[0], 350);
    assert_int_equal(first[1], 173);
    nnrt_sampler_reset(s);
    assert_int_equal(nnrt_sample(s, logits, &id), NNRT_SUCCESS);
    assert_int_equal(id, first[0]);
    nnrt_sampler_destroy(s);
}

static void test_allow(void **state)
{
    const float logits[6] = {9, 1, 2, 3, 4, 5};
    const uint32_t a[] = {1, 5}, b[] = {3, 2}, c[] = {3, 4, 5}, wrong[] = {6};
    const uint32_t *const lists[] = {a, b, c}, *const bad[] = {wrong};
    const uint32_t lengths[] = {2, 2, 3}, one = 1, zero = 0, wanted[] = {3, 4, 5};
    nnrt_sampler_desc d;
    nnrt_sampler *s;
    uint32_t id = 0;
    (void)state;
    memset(&d, 0, sizeof(d));
    s = sampler(&d, 6);
    assert_int_equal(nnrt_sampler_allow(s, lists, lengths, 3), NNRT_SUCCESS);
    for (int32_t again = 0; again < 2; again++) {
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(nnrt_sample(s, logits, &id), NNRT_SUCCESS);
            assert_int_equal(id, wanted[i]);
        }
        assert_int_equal(nnrt_sample(s, logits, &id), NNRT_SUCCESS);
        assert_int_equal(id, NNRT_NO_TOKEN);
        nnrt_sampler_reset(s);
    }
    assert_int_equal(nnrt_sampler_allow(s, bad, &one, 1), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_sampler_allow(s, bad, &zero, 1), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_sampler_allow(s, NULL, &one, 1), NNRT_NULL_PTR);
    assert_int_equal(nnrt_sampler_allow(s, NULL, NULL, 0), NNRT_SUCCESS);
    assert_int_equal(nnrt_sample(s, logits, &id), NNRT_SUCCESS);
    assert_int_equal(id, 0);
    nnrt_sampler_destroy(s);
}

static void test_sampler_refused(void **state)
{
    nnrt_sampler *s = NULL;
    nnrt_sampler_desc d;
    nnrt_error error;
    (void)state;
#define SAMPLER_REFUSED(member, value, text)                                                                           \
    do {                                                                                                               \
        memset(&d, 0, sizeof(d));                                                                                      \
        memset(&error, 0, sizeof(error));                                                                              \
        d.member = value;                                                                                              \
        assert_int_equal(nnrt_sampler_create(&s, &d, 4, NULL, &error), NNRT_INVALID_PARAMETER);                        \
        assert_non_null(strstr(error.message, text));                                                                  \
        assert_null(s);                                                                                                \
    } while (0)
    SAMPLER_REFUSED(temperature, -1, "temperature is -1");
    SAMPLER_REFUSED(temperature, (float)NAN, "temperature");
    SAMPLER_REFUSED(topK, -1, "topK is -1");
    SAMPLER_REFUSED(topP, 1.5f, "topP is 1.5");
    SAMPLER_REFUSED(minP, -0.5f, "minP is -0.5");
    SAMPLER_REFUSED(repeatPenalty, -1, "repeatPenalty");
    SAMPLER_REFUSED(presencePenalty, 2000, "presencePenalty");
    memset(&d, 0, sizeof(d));
    assert_int_equal(nnrt_sampler_create(&s, &d, 0, NULL, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_sampler_create(NULL, &d, 4, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_sampler_create(&s, NULL, 4, NULL, NULL), NNRT_NULL_PTR);
    for (int64_t n = 1; n <= 3; n++) {
        const int64_t live = heap_live;
        heap_fail_at = heap_calls + n;
        assert_int_equal(nnrt_sampler_create(&s, &d, 4, NULL, NULL), NNRT_OUT_OF_MEMORY);
        heap_fail_at = 0;
        assert_int_equal(heap_live, live);
    }
}

/* ---- chat templates ---- */

/* Texts as the models' cards and templates have them, without the begin token, which encoding adds. */
static void test_chats(void **state)
{
    static const nnrt_chat_message m[] = {
        {"system", {"Be brief.", 9}}, {"user", {"Hi", 2}}, {"assistant", {"Hello!", 6}}, {"user", {" Who? ", 6}}};
    static const struct {
        int32_t chat;
        const char *template, *text;
    } rows[] = {
        {NNRT_CHAT_LLAMA2, "{{ '[INST] <<SYS>>' }}",
         "[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST] Hello! </s><s>[INST] Who? [/INST]"},
        {NNRT_CHAT_LLAMA3, "<|start_header_id|> <|eot_id|>",
         "<|start_header_id|>system<|end_header_id|>\n\nBe "
         "brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi"
         "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nHello!<|eot_id|><|start_header_id|>user<|end_"
         "header_id|>\n\n"
         "Who?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"},
        {NNRT_CHAT_CHATML, "{{'<|im_start|>' + role}} <|im_end|>",
         "<|im_start|>system\nBe "
         "brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello!<|im_end|>\n"
         "<|im_start|>user\n Who? <|im_end|>\n<|im_start|>assistant\n"},
        {NNRT_CHAT_GEMMA, "<start_of_turn> <end_of_turn>",
         "<start_of_turn>user\nBe "
         "brief.\n\nHi<end_of_turn>\n<start_of_turn>model\nHello!<end_of_turn>\n<start_of_turn>user\n"
         "Who?<end_of_turn>\n<start_of_turn>model\n"},
        {NNRT_CHAT_PHI3, "<|assistant|> <|user|> <|end|>",
         "<|system|>\nBe brief.<|end|>\n<|user|>\nHi<|end|>\n<|assistant|>\nHello!<|end|>\n<|user|>\n Who? "
         "<|end|>\n<|assistant|>\n"},
        {NNRT_CHAT_MISTRAL, "[INST] [/INST]", "[INST] Be brief.\n\nHi [/INST]Hello!</s> [INST]  Who?  [/INST]"},
        {NNRT_CHAT_ZEPHYR, "<|user|> <|assistant|>",
         "<|system|>\nBe brief.</s>\n<|user|>\nHi</s>\n<|assistant|>\nHello!</s>\n<|user|>\n Who? "
         "</s>\n<|assistant|>\n"},
    };
    const nnrt_chat_message tool = {"tool", {"", 0}};
    nnrt_error error;
    size_t bytes = 0;
    (void)state;
    assert_int_equal(sizeof(rows) / sizeof(rows[0]), NNRT_CHAT_END - 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const size_t wanted = strlen(rows[i].text);
        char *out = (char *)malloc(wanted);
        assert_int_equal(nnrt_chat_recognize(rows[i].template, strlen(rows[i].template)), rows[i].chat);
        assert_int_equal(nnrt_chat_format(rows[i].chat, m, 4, true, out, wanted, &bytes, NULL), NNRT_SUCCESS);
        if (bytes != wanted || memcmp(out, rows[i].text, wanted) != 0)
            fail_msg("%s: '%.*s'", nnrt_chat_name(rows[i].chat), (int)bytes, out);
        assert_int_equal(nnrt_chat_format(rows[i].chat, m, 4, true, out, wanted - 1, &bytes, NULL),
                         NNRT_INSUFFICIENT_BUFFER);
        assert_int_equal(bytes, wanted);
        free(out);
    }
    assert_int_equal(nnrt_chat_recognize("{{ content }}", 13), NNRT_CHAT_NONE);
    assert_null(nnrt_chat_name(NNRT_CHAT_NONE));
    assert_null(nnrt_chat_name(NNRT_CHAT_END));
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_chat_format(NNRT_CHAT_PHI3, &tool, 1, true, NULL, 0, &bytes, &error), NNRT_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "message 0 has the role 'tool'"));
    assert_int_equal(nnrt_chat_format(NNRT_CHAT_GEMMA, m, 1, true, NULL, 0, &bytes, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_chat_format(NNRT_CHAT_END, m, 1, true, NULL, 0, &bytes, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_chat_format(NNRT_CHAT_GEMMA, NULL, 1, true, NULL, 0, &bytes, NULL), NNRT_NULL_PTR);
}

/* ---- pages of a cache ---- */

enum { PAGES = 9, PAGE = 4, SEQUENCES = 4 };

/* Sequences as lists of values, and the pool as a session has it: one value for each row. */
typedef struct paged {
    int pool[PAGES * PAGE], said[SEQUENCES][PAGES * PAGE];
    uint32_t length[SEQUENCES];
} paged;

/* Writes `count` new values behind the first rows of a sequence, as a run does. */
static NNRT_ReturnCode paged_write(paged *m, nnrt_pages *p, uint32_t sequence, uint32_t first, uint32_t count, int value)
{
    const int32_t *table = nnrt_pages_table(p, sequence);
    nnrt_page_copy copy;
    nnrt_error error;
    NNRT_ReturnCode code;
    memset(&error, 0, sizeof(error));
    code = nnrt_pages_write(p, sequence, first, count, &copy, &error);
    if (code != NNRT_SUCCESS)
        return code;
    assert_true(copy.rows < PAGE && copy.from + copy.rows <= PAGES * PAGE && copy.to + copy.rows <= PAGES * PAGE);
    memmove(m->pool + copy.to, m->pool + copy.from, copy.rows * sizeof(*m->pool));
    for (uint32_t i = first; i < first + count; i++)
        m->said[sequence][i] = m->pool[(uint32_t)table[i / PAGE] * PAGE + i % PAGE] = value + (int)i;
    m->length[sequence] = first + count;
    return code;
}

/* Each row of each sequence is in the pool; the pages are as many as different ones are listed. */
static void paged_check(const paged *m, const nnrt_pages *p)
{
    bool used[PAGES] = {false};
    uint32_t count = 0;
    for (uint32_t k = 0; k < SEQUENCES; k++) {
        const int32_t *table = nnrt_pages_table(p, k);
        for (uint32_t i = 0; i < m->length[k]; i++) {
            assert_in_range(table[i / PAGE], 0, PAGES - 1);
            assert_int_equal(m->pool[(uint32_t)table[i / PAGE] * PAGE + i % PAGE], m->said[k][i]);
            used[table[i / PAGE]] = true;
        }
        for (uint32_t i = (m->length[k] + PAGE - 1) / PAGE; i < PAGES; i++)
            assert_int_equal(table[i], 0);
    }
    for (int i = 0; i < PAGES; i++)
        count += used[i];
    assert_int_equal(nnrt_pages_available(p), PAGES - count);
}

/* Random writes, returns and shares: a sequence reads the rows that it wrote or shared. A write is refused exactly if the free
   pages and the pages that it gives back do not suffice, and changes nothing. */
static void test_pages(void **state)
{
    static paged m;
    nnrt_pages *p = NULL;
    uint32_t seed = 7, refused = 0, shared = 0;
    (void)state;
    memset(&m, 0, sizeof(m));
    assert_int_equal(nnrt_pages_create(&p, PAGES, PAGE, SEQUENCES, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_pages_rows(p), PAGE);
    for (int step = 0; step < 20000; step++) {
        uint32_t k, other, first, count;
        seed = seed * 1664525u + 1013904223u;
        k = seed >> 28 & 3;
        other = seed >> 26 & 3;
        first = (seed >> 8 & 0xFFF) % (m.length[k] + 1);
        if ((seed >> 20 & 7) < 5)
            first = m.length[k]; /* mostly behind its last row */
        count = (seed >> 4 & 15) % (PAGES * PAGE - first + 1);
        if ((seed >> 23 & 7) == 0 && other != k) {
            assert_int_equal(nnrt_pages_share(p, k, other, first, NULL), NNRT_SUCCESS);
            memcpy(m.said[other], m.said[k], sizeof(m.said[k]));
            m.length[other] = first;
            shared++;
        } else if (paged_write(&m, p, k, first, count, step * 100) != NNRT_SUCCESS)
            refused++;
        paged_check(&m, p);
    }
    assert_true(refused > 100 && shared > 100);
    nnrt_pages_destroy(p);
}

/* A prompt in three sequences: pages of the prompt exist once, and only its last one is copied. Each refusal has a message. */
static void test_pages_refused(void **state)
{
    static paged m;
    nnrt_pages *p = NULL;
    nnrt_page_copy copy;
    nnrt_error error;
    (void)state;
    memset(&m, 0, sizeof(m));
    memset(&error, 0, sizeof(error));
    heap_fail_at = heap_calls + 1;
    assert_int_equal(nnrt_pages_create(&p, PAGES, PAGE, SEQUENCES, NULL, NULL), NNRT_OUT_OF_MEMORY);
    assert_null(p);
    heap_fail_at = 0;
    assert_int_equal(nnrt_pages_create(&p, PAGES, PAGE, SEQUENCES, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(paged_write(&m, p, 0, 0, 14, 0), NNRT_SUCCESS);
    assert_int_equal(nnrt_pages_available(p), PAGES - 4);
    for (uint32_t k = 1; k < 3; k++) {
        assert_int_equal(nnrt_pages_share(p, 0, k, 14, NULL), NNRT_SUCCESS);
        memcpy(m.said[k], m.said[0], sizeof(m.said[0]));
        m.length[k] = 14;
    }
    assert_int_equal(nnrt_pages_available(p), PAGES - 4);
    for (uint32_t k = 0; k < 3; k++) {
        assert_int_equal(nnrt_pages_write(p, k, 14, 1, &copy, NULL), NNRT_SUCCESS);
        assert_int_equal(copy.rows, k < 2 ? 2 : 0); /* the last one has the page alone */
        assert_true(copy.rows == 0 || copy.from == (uint32_t)nnrt_pages_table(p, 2)[3] * PAGE);
    }
    assert_int_equal(nnrt_pages_available(p), PAGES - 6);
    assert_int_equal(nnrt_pages_write(p, 1, 15, 14, &copy, &error), NNRT_OUT_OF_MEMORY);
    assert_string_equal(error.message, "sequence 1 needs 4 pages of 4 rows, and 3 of the 9 pages of the cache are free: end another "
                                       "sequence, or create a larger cache");
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_pages_write(p, 1, 16, 1, &copy, &error), NNRT_INVALID_PARAMETER);
    assert_string_equal(error.message, "1 rows from row 16 on of sequence 1, expected a sequence of 4, a row in it or behind its last "
                                       "one, and at most 36 rows");
    assert_int_equal(nnrt_pages_write(p, SEQUENCES, 0, 1, &copy, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_pages_write(p, 0, 1, UINT32_MAX, &copy, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_pages_write(p, 0, 0, PAGES * PAGE + 1, &copy, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_pages_write(NULL, 0, 0, 1, &copy, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_pages_write(p, 0, 0, 1, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_pages_share(p, 0, 0, 1, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_pages_share(p, 0, SEQUENCES, 1, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_pages_share(p, SEQUENCES, 0, 1, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_pages_share(p, 0, 1, 16, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_pages_share(NULL, 0, 1, 1, NULL), NNRT_NULL_PTR);
    assert_null(nnrt_pages_table(p, SEQUENCES));
    assert_null(nnrt_pages_table(NULL, 0));
    assert_true(nnrt_pages_available(NULL) == 0 && nnrt_pages_rows(NULL) == 0);
    assert_int_equal(nnrt_pages_available(p), PAGES - 6);
    for (uint32_t k = 1; k < 3; k++)
        assert_int_equal(nnrt_pages_share(p, 0, k, 0, NULL), NNRT_SUCCESS); /* they end */
    assert_int_equal(nnrt_pages_available(p), PAGES - 4);
    nnrt_pages_destroy(p);
    nnrt_pages_destroy(NULL);
    assert_int_equal(nnrt_pages_create(&p, 0, 1, 1, NULL, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_pages_create(&p, 1, 0, 1, NULL, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_pages_create(&p, 1, 1, 0, NULL, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_pages_create(&p, 1u << 16, 1u << 16, 1, NULL, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_pages_create(NULL, 1, 1, 1, NULL, NULL), NNRT_NULL_PTR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merges),
        cmocka_unit_test(test_long_word),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_nfc),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_charsmap),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_unigram),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_wordpiece),
        cmocka_unit_test(test_added),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_json_bpe),
        cmocka_unit_test(test_json_pieces),
        cmocka_unit_test(test_json_unigram),
        cmocka_unit_test(test_json_refused),
        cmocka_unit_test(test_gguf),
        cmocka_unit_test(test_collisions),
        cmocka_unit_test(test_greedy),
        cmocka_unit_test(test_draw),
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_allow),
        cmocka_unit_test(test_sampler_refused),
        cmocka_unit_test(test_chats),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_pages_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
