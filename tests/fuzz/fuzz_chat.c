/* Fuzz target: a chat template and a conversation. The first byte selects a known template; 0: the bytes up to the next byte 0
   are a file's template, which is recognized. The rest is messages: a byte that selects the role, then the content up to a
   byte 0. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "nnrt.h"

#include "core/nnrt_text.h"
#include "fuzz.h"

enum {
    FUZZ_CHAT_MESSAGES = 16,
    FUZZ_CHAT_EXTRA = 96 /* bytes that a template adds to a message at most */
};

/* A copy of exactly its size, so that the sanitizer sees a read behind it. */
static nnrt_piece fuzz_chat_copy(const uint8_t *data, size_t bytes)
{
    nnrt_piece p;
    char *copy = (char *)fuzz_block(bytes);
    if (bytes > 0)
        memcpy(copy, data, bytes);
    p.data = copy;
    p.bytes = bytes;
    return p;
}

/* The bytes up to a byte 0, which is skipped, or the end. */
static nnrt_piece fuzz_chat_part(fuzz_bytes *f)
{
    const uint8_t *begin = f->data + f->at;
    const size_t left = f->size - f->at;
    const uint8_t *zero = left > 0 ? (const uint8_t *)memchr(begin, 0, left) : NULL;
    const size_t bytes = zero != NULL ? (size_t)(zero - begin) : left;
    f->at += bytes + (zero != NULL);
    return fuzz_chat_copy(begin, bytes);
}

static int32_t fuzz_chat_template(fuzz_bytes *f)
{
    const uint32_t first = fuzz_byte(f);
    nnrt_piece text;
    int32_t chat;
    if (first != 0)
        return (int32_t)(first % (NNRT_CHAT_END + 1)) - (first > 200);
    text = fuzz_chat_part(f);
    chat = nnrt_chat_recognize(text.data, text.bytes);
    fuzz_expect(chat == NNRT_CHAT_NONE || nnrt_chat_name(chat) != NULL, "a recognized template has a name", NULL);
    free((void *)text.data);
    return chat;
}

/* Writes the conversation into a block of its exact size, and into one byte less. Returns the text; {NULL, 0}: it is refused. */
static nnrt_piece fuzz_chat_write(int32_t chat, const nnrt_chat_message *messages, uint32_t count, bool reply)
{
    nnrt_piece text = {NULL, 0};
    nnrt_error e;
    size_t bytes = 0, again = 0;
    char *out, *less;
    NNRT_ReturnCode code;
    memset(&e, 0, sizeof(e));
    code = nnrt_chat_format(chat, messages, count, reply, NULL, 0, &bytes, &e);
    if (code != NNRT_SUCCESS && code != NNRT_INSUFFICIENT_BUFFER) {
        fuzz_check_error(code, &e, "nnrt_chat_format");
        return text;
    }
    fuzz_expect((code == NNRT_SUCCESS) == (bytes == 0), "a text without bytes needs no memory", NULL);
    out = (char *)fuzz_block(bytes);
    code = nnrt_chat_format(chat, messages, count, reply, out, bytes, &again, &e);
    fuzz_expect(code == NNRT_SUCCESS && again == bytes, "the length is exact", e.message);
    if (bytes > 0) {
        less = (char *)fuzz_block(bytes - 1);
        code = nnrt_chat_format(chat, messages, count, reply, less, bytes - 1, &again, &e);
        fuzz_expect(code == NNRT_INSUFFICIENT_BUFFER && again == bytes, "one byte less does not suffice", NULL);
        fuzz_expect(memcmp(out, less, bytes - 1) == 0, "the begin is the same", NULL);
        free(less);
    }
    text.data = out;
    text.bytes = bytes;
    return text;
}

static void fuzz_chat(const uint8_t *data, size_t size)
{
    static const char *const roles[] = {"user", "assistant", "system", "tool", NULL};
    fuzz_bytes f = fuzz_bytes_make(data, size);
    nnrt_chat_message messages[FUZZ_CHAT_MESSAGES];
    const int32_t chat = fuzz_chat_template(&f);
    nnrt_piece before = {NULL, 0};
    size_t contents = 0;
    uint32_t count = 0;
    while (f.at < f.size && count < FUZZ_CHAT_MESSAGES) {
        nnrt_piece text;
        messages[count].role = roles[fuzz_rarely(&f, 32) ? 3 + fuzz_below(&f, 2) : fuzz_below(&f, 3)];
        messages[count].content = fuzz_chat_part(&f);
        contents += messages[count++].content.bytes;
        text = fuzz_chat_write(chat, messages, count, count % 2 != 0);
        fuzz_expect(text.bytes <= contents + (count + 1) * FUZZ_CHAT_EXTRA, "a text is as long as its messages", NULL);
        free((void *)text.data);
        /* the cache of a chat needs it: a message more continues the text */
        text = fuzz_chat_write(chat, messages, count, false);
        fuzz_expect(text.data == NULL || before.data == NULL ||
                        (text.bytes >= before.bytes && memcmp(text.data, before.data, before.bytes) == 0),
                    "a message more continues the text", NULL);
        free((void *)before.data);
        before = text;
    }
    free((void *)before.data);
    for (uint32_t i = 0; i < count; i++)
        free((void *)messages[i].content.data);
}

FUZZ_TARGET(fuzz_chat)
