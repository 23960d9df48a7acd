/* Fuzz target: a tokenizer.json, then after a byte 0 a text. The file is read in memory in proportion to its size; the text
   is encoded, and its tokens decoded, if the file is a tokenizer. A file that the fuzzer cannot guess is made from the
   first byte: 1 to 4 select a frame whose vocabulary is the rest. Bytes that begin with GGUF are the keys of a GGUF file; the
   last byte is the length of the text before it. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "nnrt.h"

#include "core/nnrt_text.h"
#include "fuzz.h"

#define FUZZ_TEXT_FACTOR                                                                                               \
    400 /* bytes of memory per byte of a file: "":0, becomes an entry of seven arrays and a table */
#define FUZZ_TEXT_FIXED ((size_t)1 << 20) /* Unicode tables, and 512 unused ids */

/* Valid UTF-8 by a table of lead bytes, without overlong forms and surrogates. */
static bool fuzz_text_valid(const uint8_t *s, size_t bytes)
{
    for (size_t i = 0, more; i < bytes; i += more + 1) {
        more = s[i] < 0x80                   ? 0
               : s[i] >= 0xC2 && s[i] < 0xE0 ? 1
               : s[i] >= 0xE0 && s[i] < 0xF0 ? 2
               : s[i] >= 0xF0 && s[i] < 0xF5 ? 3
                                             : 9;
        if (more == 9 || bytes - i <= more)
            return false;
        for (size_t k = 1; k <= more; k++)
            if ((s[i + k] & 0xC0) != 0x80)
                return false;
        if ((s[i] == 0xE0 && s[i + 1] < 0xA0) || (s[i] == 0xED && s[i + 1] > 0x9F) ||
            (s[i] == 0xF0 && s[i + 1] < 0x90) || (s[i] == 0xF4 && s[i + 1] > 0x8F))
            return false;
    }
    return true;
}

static void fuzz_text_use(const nnrt_tokenizer *t, const char *text, size_t bytes, uint32_t flags)
{
    size_t count = 0, again = 0, written = 0, n = 0;
    uint32_t *ids;
    const size_t most = nnrt_detokenizer_bytes(t);
    char *piece = (char *)fuzz_block(most), *all;
    nnrt_detokenizer d;
    NNRT_ReturnCode code = nnrt_tokenize(t, text, bytes, flags, NULL, 0, &count);
    fuzz_expect(code == NNRT_SUCCESS || code == NNRT_INSUFFICIENT_BUFFER, "a text is encoded", NULL);
    ids = (uint32_t *)fuzz_block(count * sizeof(*ids));
    fuzz_expect(nnrt_tokenize(t, text, bytes, flags, ids, count, &again) == NNRT_SUCCESS && again == count,
                "the count is exact", NULL);
    all = (char *)fuzz_block(count * most + 3);
    nnrt_detokenizer_start(&d, t, flags);
    for (size_t i = 0; i < count; i++) {
        fuzz_expect(ids[i] < nnrt_tokenizer_count(t), "an id is a token", NULL);
        fuzz_expect(nnrt_detokenize(&d, ids[i], piece, most, &written) == NNRT_SUCCESS && written <= most,
                    "a token is decoded", NULL);
        memcpy(all + n, piece, written);
        fuzz_expect(fuzz_text_valid((const uint8_t *)piece, written), "each piece is UTF-8", NULL);
        n += written;
    }
    n += nnrt_detokenizer_end(&d, all + n);
    fuzz_expect(fuzz_text_valid((const uint8_t *)all, n), "the text is UTF-8", NULL);
    free(all);
    free(ids);
    free(piece);
}

static const char *const fuzz_text_frames[][2] = {
    {"{\"pre_tokenizer\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,", "}}}"},
    {"{\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\"},"
     "\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"a\",-1],",
     "]}}"},
    {"{\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{"
     "\"type\":"
     "\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{\"a\":0,",
     "}}}"},
    {"{\"added_tokens\":[{\"id\":1,\"content\":\"b\",\"lstrip\":true,\"rstrip\":true,\"single_word\":true}],\"model\":{"
     "\"type\":"
     "\"BPE\",\"byte_fallback\":true,\"vocab\":{\"a\":0},\"merges\":[",
     "]}}"}};

/* Loads a tokenizer and encodes the text with it. The tokenizer needs the file no longer: its block is freed before. */
static void fuzz_text_load(char *file, size_t bytes, bool gguf, const char *text, size_t textBytes)
{
    fuzz_memory memory;
    const nnrt_allocator a = fuzz_allocator(&memory, FUZZ_TEXT_FACTOR * bytes + FUZZ_TEXT_FIXED);
    nnrt_tokenizer *t = NULL;
    nnrt_error e;
    NNRT_ReturnCode code;
    memset(&e, 0, sizeof(e));
    code = gguf ? nnrt_tokenizer_load_gguf(&t, file, bytes, &a, &e) : nnrt_tokenizer_load_json(&t, file, bytes, &a, &e);
    fuzz_check_error(code, &e, gguf ? "nnrt_tokenizer_load_gguf" : "nnrt_tokenizer_load_json");
    fuzz_expect((t != NULL) == (code == NNRT_SUCCESS), "a tokenizer comes with success only", e.message);
    fuzz_expect(memory.refused == 0, "a file takes memory in proportion to its size", e.message);
    free(file);
    if (t != NULL) {
        const nnrt_piece chat = nnrt_tokenizer_template(t);
        const int32_t known = nnrt_chat_recognize(chat.data, chat.bytes);
        fuzz_expect(known >= NNRT_CHAT_NONE && known < NNRT_CHAT_END, "a template is known or not", NULL);
    }
    if (t != NULL && textBytes < 4096) {
        memory.limit += (size_t)16 << 20;
        for (uint32_t flags = 0; flags < 4; flags++)
            fuzz_text_use(t, text, textBytes, flags);
    }
    nnrt_tokenizer_destroy(t);
    fuzz_memory_empty(&memory);
}

static void fuzz_text_gguf(const uint8_t *data, size_t size)
{
    const size_t rest = size - 1, textBytes = data[rest] < rest ? data[rest] : rest, bytes = rest - textBytes;
    char *file = (char *)fuzz_block(bytes);
    memcpy(file, data, bytes);
    fuzz_text_load(file, bytes, true, (const char *)data + bytes, textBytes);
}

static void fuzz_text(const uint8_t *data, size_t size)
{
    const char *const *frame = size > 0 && data[0] >= 1 && data[0] <= 4 ? fuzz_text_frames[data[0] - 1] : NULL;
    const uint8_t *zero = size > 1 ? (const uint8_t *)memchr(data + 1, 0, size - 1) : NULL;
    const size_t skip = frame != NULL, end = zero != NULL ? (size_t)(zero - data) : size;
    const size_t before = frame != NULL ? strlen(frame[0]) : 0, after = frame != NULL ? strlen(frame[1]) : 0;
    const size_t middle = end - skip, bytes = before + middle + after,
                 textBytes = zero != NULL ? size - end - 1 : middle;
    const char *text = (const char *)data + (zero != NULL ? end + 1 : skip);
    char *file;
    if (size > 4 && memcmp(data, "GGUF", 4) == 0) {
        fuzz_text_gguf(data, size);
        return;
    }
    file = (char *)fuzz_block(bytes);
    if (frame != NULL) {
        memcpy(file, frame[0], before);
        memcpy(file + before + middle, frame[1], after);
    }
    if (middle > 0)
        memcpy(file + before, data + skip, middle);
    fuzz_text_load(file, bytes, false, text, textBytes);
}

FUZZ_TARGET(fuzz_text)
