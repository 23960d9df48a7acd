/*
proto.h - protocol buffers of the command line, which writes ONNX files: a growing message, and the fields of one that the
          library has accepted.
*/
#ifndef NNRT_TOOL_PROTO_H
#define NNRT_TOOL_PROTO_H

#include "../io/text.h"

/* A message that grows. failed: a call had no memory; the others may follow, and the message is useless. */
typedef struct cli_proto {
    uint8_t *data;
    size_t size, room;
    bool failed;
} cli_proto;


static void cli_proto_put(cli_proto *p, const void *data, size_t bytes)
{
    if (p->size + bytes > p->room) {
        const size_t room = (p->size + bytes) / 4 * 5 + 64;
        uint8_t *grown = (uint8_t *)realloc(p->data, room);
        if (grown == NULL) {
            p->failed = true;
            return;
        }
        p->data = grown;
        p->room = room;
    }
    if (bytes > 0)
        memcpy(p->data + p->size, data, bytes);
    p->size += bytes;
}

static void cli_proto_varint(cli_proto *p, uint64_t v)
{
    uint8_t byte;
    do {
        byte = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
        cli_proto_put(p, &byte, 1);
        v >>= 7;
    } while (v > 0);
}

static void cli_proto_integer(cli_proto *p, uint32_t field, int64_t v)
{
    cli_proto_varint(p, field << 3);
    cli_proto_varint(p, (uint64_t)v);
}

static void cli_proto_bytes(cli_proto *p, uint32_t field, const void *data, size_t bytes)
{
    cli_proto_varint(p, field << 3 | 2);
    cli_proto_varint(p, bytes);
    cli_proto_put(p, data, bytes);
}

static void cli_proto_text(cli_proto *p, uint32_t field, const char *a, const char *b)
{
    cli_proto_varint(p, field << 3 | 2);
    cli_proto_varint(p, strlen(a) + strlen(b));
    cli_proto_put(p, a, strlen(a));
    cli_proto_put(p, b, strlen(b));
}

/* Begins a message, whose length is inserted by cli_qdq_end; returns its place. */
static size_t cli_proto_begin(cli_proto *p, uint32_t field)
{
    cli_proto_varint(p, field << 3 | 2);
    return p->size;
}

static void cli_proto_end(cli_proto *p, size_t at)
{
    uint8_t length[10];
    size_t n = 0, bytes = p->size - at, left = bytes;
    do {
        length[n++] = (uint8_t)((left & 127) | (left > 127 ? 128 : 0));
        left >>= 7;
    } while (left > 0);
    cli_proto_put(p, length, n); /* room */
    if (p->failed)
        return;
    memmove(p->data + at + n, p->data + at, bytes);
    memcpy(p->data + at, length, n);
}

/* A field of a message. data, bytes: its payload; all, allBytes: with its tag. */
typedef struct cli_proto_field {
    uint32_t number;
    const uint8_t *data, *all;
    size_t bytes, allBytes;
} cli_proto_field;

static bool cli_proto_read_varint(const uint8_t **at, const uint8_t *end, uint64_t *v)
{
    *v = 0;
    for (uint32_t shift = 0; *at < end && shift < 64; shift += 7) {
        const uint8_t byte = *(*at)++;
        *v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* The next field of a message that nnrt_onnx_parse has accepted; false at its end. */
static bool cli_proto_next(const uint8_t **at, const uint8_t *end, cli_proto_field *f)
{
    uint64_t tag, length = 0;
    f->all = *at;
    if (*at >= end || !cli_proto_read_varint(at, end, &tag))
        return false;
    f->number = (uint32_t)(tag >> 3);
    f->data = *at;
    switch (tag & 7) {
    case 0:
        if (!cli_proto_read_varint(at, end, &length))
            return false;
        length = (uint64_t)(*at - f->data);
        break;
    case 1: length = 8; break;
    case 2:
        if (!cli_proto_read_varint(at, end, &length))
            return false;
        f->data = *at;
        break;
    case 5: length = 4; break;
    default: return false;
    }
    if (length > (uint64_t)(end - f->data))
        return false;
    *at = f->data + length;
    f->bytes = (size_t)length;
    f->allBytes = (size_t)(*at - f->all);
    return true;
}

#endif /* NNRT_TOOL_PROTO_H */
