/* protobuf.h - builds protobuf messages, for cmocka tests that write ONNX files by hand. Include after cmocka.h, and
   after a type `message` and the function put(message *, data, size), which appends bytes to it: MESSAGE_BYTES defines
   messages of a fixed size, otherwise the test has its own. */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <stdint.h>
#include <string.h>

#ifdef MESSAGE_BYTES
typedef struct message {
    uint8_t data[MESSAGE_BYTES];
    size_t size;
} message;

static void put(message *m, const void *data, size_t size)
{
    assert_true(m->size + size <= sizeof(m->data));
    if (size > 0)
        memcpy(m->data + m->size, data, size);
    m->size += size;
}
#endif

static void put_varint(message *m, uint64_t value)
{
    do {
        const uint8_t byte = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
        put(m, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

static void put_int(message *m, uint32_t field, int64_t value)
{
    put_varint(m, (uint64_t)field << 3);
    put_varint(m, (uint64_t)value);
}

static void put_bytes(message *m, uint32_t field, const void *data, size_t size)
{
    put_varint(m, (uint64_t)field << 3 | 2);
    put_varint(m, size);
    put(m, data, size);
}

static void put_text(message *m, uint32_t field, const char *text)
{
    put_bytes(m, field, text, strlen(text));
}

#endif
