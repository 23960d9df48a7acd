/* Tests of the GGUF importer on a small llama: damage of every byte, every length, every allocation that fails, messages, keys, use
   of the file in place. */
#define _XOPEN_SOURCE 700
#include "devices/nnrt_cpu.h"
#include "formats/nnrt_gguf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "long.h"

/* ---- a writer ---- */

enum { F32 = 0, Q4_0 = 2, Q4_1 = 3, Q8_0 = 8, Q6_K = 14, WIDTH = 32, VOCABULARY = 5 };

typedef struct file {
    uint8_t bytes[16384];
    size_t size;
    uint32_t tensors, keys, data; /* numbers of them; bytes of the data */
} file;

/* Differences from the valid file. */
typedef struct change {
    const char *arch;     /* of general.architecture */
    const char *lacks;    /* a tensor that is left out */
    const char *odd;      /* a tensor with another type or size */
    uint32_t type, extra; /* of the odd one; its additional columns */
    const char *more;     /* an additional tensor */
    const char *key;      /* an additional key of uint32 */
    uint32_t value;
    const char *scaling; /* of llama.rope.scaling.type */
    uint32_t shift;      /* added to the offsets of the data */
    bool random;         /* random weights of about one instead of equal ones */
} change;

static void put(file *f, const void *data, size_t bytes)
{
    assert_true(f->size + bytes <= sizeof(f->bytes));
    memcpy(f->bytes + f->size, data, bytes);
    f->size += bytes;
}

static void put_number(file *f, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t one = (uint8_t)(v >> 8 * i);
        put(f, &one, 1);
    }
}

static void put_text(file *f, const char *s)
{
    put_number(f, strlen(s), 8);
    put(f, s, strlen(s));
}

static void put_key(file *f, const char *key, uint32_t value)
{
    put_text(f, key);
    put_number(f, NNRT_GGUF_UINT32, 4);
    put_number(f, value, 4);
    f->keys++;
}

static void put_text_key(file *f, const char *key, const char *value)
{
    put_text(f, key);
    put_number(f, NNRT_GGUF_STRING, 4);
    put_text(f, value);
    f->keys++;
}

/* The entry of a tensor; rows 0: one axis. */
static void put_tensor(file *f, const change *c, const char *name, uint32_t type, uint32_t columns, uint32_t rows)
{
    const bool odd = c->odd != NULL && strcmp(name, c->odd) == 0;
    uint32_t bytes;
    if (c->lacks != NULL && strcmp(name, c->lacks) == 0)
        return;
    type = odd ? c->type : type;
    columns += odd ? c->extra : 0;
    put_text(f, name);
    put_number(f, rows > 0 ? 2 : 1, 4);
    put_number(f, columns, 8);
    if (rows > 0)
        put_number(f, rows, 8);
    put_number(f, type, 4);
    put_number(f, f->data + c->shift, 8);
    bytes = columns * (rows > 0 ? rows : 1) * (type == F32 ? 128 : type == Q4_0 ? 18 : type == Q4_1 ? 20 : 34) / 32;
    f->data += (bytes + 31) / 32 * 32;
    f->tensors++;
}

/* Writes the file. Its weights are the bytes 0, 60, 60, 0, .. : small finite numbers of every type. */
static void make(file *f, const change *c)
{
    static const struct {
        const char *name;
        uint32_t type, rows;
    } tensors[] = {{"token_embd.weight", Q4_0, VOCABULARY},   {"output_norm.weight", F32, 0},
                   {"blk.0.attn_norm.weight", F32, 0},        {"blk.0.attn_q.weight", Q4_1, WIDTH},
                   {"blk.0.attn_k.weight", Q8_0, WIDTH / 2},  {"blk.0.attn_v.weight", Q4_0, WIDTH / 2},
                   {"blk.0.attn_output.weight", Q4_0, WIDTH}, {"blk.0.ffn_norm.weight", F32, 0},
                   {"blk.0.ffn_gate.weight", Q4_0, WIDTH},    {"blk.0.ffn_up.weight", Q4_0, WIDTH},
                   {"blk.0.ffn_down.weight", F32, WIDTH}};
    static const struct {
        const char *key;
        uint32_t value;
    } sizes[] = {{"llama.block_count", 1},
                 {"llama.embedding_length", WIDTH},
                 {"llama.feed_forward_length", WIDTH},
                 {"llama.attention.head_count", 4},
                 {"llama.attention.head_count_kv", 2}};
    file *body = (file *)calloc(1, sizeof(*body));
    bool found = false;
    assert_non_null(body);
    memset(f, 0, sizeof(*f));
    put_text_key(body, "general.architecture", c->arch != NULL ? c->arch : "llama");
    put_text_key(body, "general.name", "small");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const bool changes = c->key != NULL && strcmp(c->key, sizes[i].key) == 0;
        found = found || changes;
        put_key(body, sizes[i].key, changes ? c->value : sizes[i].value);
    }
    if (c->key != NULL && !found)
        put_key(body, c->key, c->value);
    if (c->scaling != NULL)
        put_text_key(body, "llama.rope.scaling.type", c->scaling);
    put_text(body, "tokenizer.ggml.tokens");
    put_number(body, NNRT_GGUF_ARRAY, 4);
    put_number(body, NNRT_GGUF_STRING, 4);
    put_number(body, 3, 8);
    put_text(body, "a");
    put_text(body, "");
    put_text(body, "bcd");
    put_text(body, "tokenizer.ggml.scores");
    put_number(body, NNRT_GGUF_ARRAY, 4);
    put_number(body, NNRT_GGUF_FLOAT32, 4);
    put_number(body, 2, 8);
    put_number(body, 0x3f800000, 4);
    put_number(body, 0xc0200000, 4);
    body->keys += 2;
    for (size_t i = 0; i < sizeof(tensors) / sizeof(tensors[0]); i++)
        put_tensor(body, c, tensors[i].name, tensors[i].type, WIDTH, tensors[i].rows);
    if (c->more != NULL)
        put_tensor(body, c, c->more, F32, WIDTH, 0);
    put(f, "GGUF", 4);
    put_number(f, 3, 4);
    put_number(f, body->tensors, 8);
    put_number(f, body->keys, 8);
    put(f, body->bytes, body->size);
    while (f->size % 32 != 0)
        put_number(f, 0, 1);
    for (uint32_t i = 0, r = 1; i < body->data; i++) {
        r = r * 1664525 + 1013904223;
        if (!c->random)
            put_number(f, i % 4 == 1 || i % 4 == 2 ? 60 : 0, 1);
        else if (i % 4 == 3) /* float32 0.5 to 1 of both signs */
            put_number(f, r >> 31 != 0 ? 0x3f : 0xbf, 1);
        else
            put_number(f, i % 4 == 1 || i % 4 == 2 ? 0x20 : r >> 24, 1); /* float16 scales of 2^-7 */
    }
    f->data = body->data;
    free(body);
}

/* ---- imports ---- */

/* Counts bytes and fails the allocation number `fail`. */
typedef struct counting {
    size_t live, peak, calls, fail;
} counting;

static void *counting_alloc(void *user, size_t bytes, size_t alignment)
{
    counting *c = (counting *)user;
    void *p = NULL;
    if (c->calls++ != c->fail && posix_memalign(&p, alignment, bytes) == 0)
        memset(p, 0xa5, bytes);
    c->live += p != NULL ? bytes : 0;
    c->peak = c->live > c->peak ? c->live : c->peak;
    return p;
}

static void counting_free(void *user, void *block, size_t bytes)
{
    ((counting *)user)->live -= block != NULL ? bytes : 0;
    free(block);
}

/* Imports bytes from a block of exactly this size. A failure has a message; nothing leaks, and the budget holds. */
static NNRT_ReturnCode import(const uint8_t *data, size_t bytes, size_t fail, counting *c)
{
    uint8_t *copy = (uint8_t *)malloc(bytes > 0 ? bytes : 1);
    nnrt_allocator allocator;
    nnrt_gguf_desc desc;
    NNRT_Model *model = NULL;
    nnrt_error error;
    NNRT_ReturnCode code;
    memset(&error, 0, sizeof(error));
    memset(&desc, 0, sizeof(desc));
    memset(c, 0, sizeof(*c));
    c->fail = fail;
    allocator.alloc = counting_alloc;
    allocator.free = counting_free;
    allocator.user = c;
    desc.allocator = &allocator;
    assert_non_null(copy);
    memcpy(copy, data, bytes);
    code = nnrt_gguf_load_memory(&model, copy, bytes, &desc, &error);
    assert_true((code == NNRT_SUCCESS) == (model != NULL));
    assert_true(code == NNRT_SUCCESS || error.message[0] != '\0');
    assert_true(c->peak <= NNRT_GGUF_BUDGET * bytes + NNRT_GGUF_BUDGET_FREE);
    nnrt_model_destroy(model);
    assert_int_equal(c->live, 0);
    free(copy);
    return code;
}

static file *valid(void)
{
    static file f;
    static const change none;
    make(&f, &none);
    return &f;
}

static void test_truncated(void **state)
{
    const file *f = valid();
    counting c;
    (void)state;
    for (size_t n = 0; n < f->size;
         n++) /* the last tensor is float32 without padding, so that each length lacks something */
        assert_int_not_equal(import(f->bytes, n, SIZE_MAX, &c), NNRT_SUCCESS);
    assert_int_equal(import(f->bytes, f->size, SIZE_MAX, &c), NNRT_SUCCESS);
}

/* Every byte before the weights changed: each bit, and the values of sizes and types at their ends, of which each third byte gets a
   third (the long form: all); of the weights one byte of 64. */
static void test_changed(void **state)
{
    static const uint8_t some[] = {1, 2, 4, 8, 16, 32, 64, 128, 0x7f, 0xff};
    file *f = valid();
    const uint32_t step = long_form() ? 1 : 3;
    const size_t weights = f->size - f->data;
    size_t imported = 0, refused = 0;
    counting c;
    (void)state;
    for (size_t i = 0; i < f->size; i += i < weights ? 1 : 64)
        for (uint32_t k = (uint32_t)i % step; k < sizeof(some); k += step) {
            f->bytes[i] ^= some[k];
            if (import(f->bytes, f->size, SIZE_MAX, &c) == NNRT_SUCCESS)
                imported++;
            else
                refused++;
            f->bytes[i] ^= some[k];
        }
    assert_true(imported > 200 && refused > 1000); /* changed weights; changed lengths and names */
}

static void test_memory(void **state)
{
    const file *f = valid();
    counting c;
    size_t calls;
    (void)state;
    assert_int_equal(import(f->bytes, f->size, SIZE_MAX, &c), NNRT_SUCCESS);
    calls = c.calls;
    assert_true(calls > 10);
    for (size_t k = 0; k < calls; k++)
        assert_int_equal(import(f->bytes, f->size, k, &c), NNRT_OUT_OF_MEMORY);
}

/* ---- messages ---- */

static void refused(const file *f, NNRT_ReturnCode want, const char *message)
{
    NNRT_Model *model = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_gguf_load_memory(&model, f->bytes, f->size, NULL, &error), want);
    assert_null(model);
    assert_string_equal(error.message, message);
}

static void refused_change(change c, NNRT_ReturnCode want, const char *message)
{
    static file f;
    make(&f, &c);
    refused(&f, want, message);
}

static void test_header(void **state)
{
    file *f = valid();
    (void)state;
    assert_true(nnrt_gguf_is(f->bytes, 4));
    assert_false(nnrt_gguf_is(f->bytes, 3));
    assert_false(nnrt_gguf_is(NULL, 4));
    f->bytes[4] = 1;
    refused(f, NNRT_NOT_SUPPORT, "the GGUF file has version 1, supported are 2 and 3");
    f->bytes[4] = 0;
    f->bytes[7] = 3;
    refused(f, NNRT_NOT_SUPPORT, "the GGUF file is big-endian, which is not supported");
    f->bytes[4] = 2;
    f->bytes[7] = 0;
    {
        counting c;
        assert_int_equal(import(f->bytes, f->size, SIZE_MAX, &c), NNRT_SUCCESS); /* version 2 has the same layout */
    }
    f->bytes[15] = 1; /* 2^56 tensors and more */
    refused(f, NNRT_INVALID_FILE, "72057594037927947 tensors and 9 keys do not fit the 8864 bytes of the GGUF file");
    f->bytes[0] = 'g';
    refused(f, NNRT_INVALID_FILE, "this is no GGUF file: it does not begin with GGUF");
}

static void test_messages(void **state)
{
    change c;
    (void)state;
    memset(&c, 0, sizeof(c));
    c.arch = "falcon";
    refused_change(c, NNRT_UNSUPPORTED_OP, "GGUF file with unsupported properties: architecture 'falcon'");
    c.odd = "blk.0.attn_q.weight";
    c.type = 23;
    refused_change(c, NNRT_UNSUPPORTED_OP,
                   "GGUF file with unsupported properties: architecture 'falcon'; tensor type IQ4_XS");
    c.arch = NULL;
    refused_change(c, NNRT_UNSUPPORTED_OP,
                   "GGUF file with unsupported properties: tensor 'blk.0.attn_q.weight' has type IQ4_XS");
    c.more = "blk.0.ffn_gate_exps.weight"; /* all at once */
    c.key = "llama.expert_count";
    c.value = 8;
    refused_change(
        c, NNRT_UNSUPPORTED_OP,
        "GGUF file with unsupported properties: a mixture of experts; tensor 'blk.0.attn_q.weight' has type IQ4_XS; 1 "
        "unknown tensors, the first is 'blk.0.ffn_gate_exps.weight'");
    memset(&c, 0, sizeof(c));
    c.scaling = "dynamic";
    refused_change(c, NNRT_UNSUPPORTED_OP, "GGUF file with unsupported properties: rotary scaling 'dynamic'");
    memset(&c, 0, sizeof(c));
    c.odd = "blk.0.attn_norm.weight";
    c.type = Q8_0;
    refused_change(c, NNRT_UNSUPPORTED_OP,
                   "GGUF file with unsupported properties: tensor 'blk.0.attn_norm.weight' has type Q8_0");
    c.type = F32;
    c.extra = 32;
    c.lacks = "blk.0.ffn_up.weight";
    refused_change(c, NNRT_INVALID_MODEL,
                   "GGUF file with faults: tensor 'blk.0.attn_norm.weight' is [64,1], expected [32,1]; tensor "
                   "'blk.0.ffn_up.weight' "
                   "is missing");
    memset(&c, 0, sizeof(c));
    c.more = "output_norm.weight";
    refused_change(c, NNRT_INVALID_FILE, "two tensors of the GGUF file have the name 'output_norm.weight'");
    c.more = NULL;
    c.key = "general.alignment";
    c.value = 0;
    refused_change(c, NNRT_INVALID_FILE, "general.alignment is 0, expected an integer of 1 to 1048576");
    c.key = "split.count";
    c.value = 2;
    refused_change(c, NNRT_UNSUPPORTED_OP,
                   "GGUF file with unsupported properties: a model split over 2 files; merge them");
    c.key = "llama.rope.dimension_count";
    c.value = 7;
    refused_change(c, NNRT_INVALID_MODEL, "llama.rope.dimension_count is 7, expected an even number of 2 to 8");
    c.key = "llama.attention.head_count_kv"; /* 2^24 * 8 */
    c.value = 16777216;
    refused_change(c, NNRT_INVALID_MODEL, "16777216 heads of 8 and 8 elements exceed 16777216");
    c.key = NULL;
    c.shift = 4;
    refused_change(c, NNRT_INVALID_FILE,
                   "tensor 0 'token_embd.weight' of the GGUF file has data at no multiple of general.alignment");
    c.shift = 32;
    refused_change(c, NNRT_INVALID_FILE,
                   "tensor 10 'blk.0.ffn_down.weight' of the GGUF file has data that exceed the file");
}

static void test_budget(void **state)
{
    const file *f = valid();
    NNRT_Model *model = NULL;
    nnrt_error error;
    (void)state;
    assert_int_equal(nnrt_gguf_load_memory(NULL, f->bytes, f->size, NULL, &error), NNRT_NULL_PTR);
    assert_int_equal(nnrt_gguf_load_memory(&model, NULL, 0, NULL, &error), NNRT_NULL_PTR);
    assert_string_equal(error.message, "nnrt_gguf_load_memory: data is NULL");
}

/* ---- keys ---- */

static void test_keys(void **state)
{
    const file *f = valid();
    nnrt_gguf_keys keys;
    nnrt_gguf_value v;
    const char *text = NULL;
    size_t at = 0, bytes = 0;
    double number = 0;
    uint32_t count = 0;
    (void)state;
    assert_int_equal(nnrt_gguf_open(&keys, f->bytes, f->size, NULL), NNRT_SUCCESS);
    assert_int_equal(keys.version, 3);
    assert_int_equal(keys.tensors, 11);
    memset(&v, 0, sizeof(v));
    while (nnrt_gguf_next(&keys, &v))
        count++;
    assert_int_equal(count, 9);
    assert_int_equal(keys.count, 9);
    assert_true(nnrt_gguf_find(&keys, "llama.attention.head_count", &v));
    assert_int_equal(v.type, NNRT_GGUF_UINT32);
    assert_true(nnrt_gguf_number(&v, 0, &number));
    assert_true(number == 4);
    assert_false(nnrt_gguf_number(&v, 1, &number));
    assert_false(nnrt_gguf_string(&v, &at, &text, &bytes));
    assert_true(nnrt_gguf_find(&keys, "tokenizer.ggml.tokens", &v));
    assert_true(v.isArray && v.count == 3 && v.type == NNRT_GGUF_STRING);
    assert_true(nnrt_gguf_string(&v, &at, &text, &bytes) && bytes == 1 && text[0] == 'a');
    assert_true(nnrt_gguf_string(&v, &at, &text, &bytes) && bytes == 0);
    assert_true(nnrt_gguf_string(&v, &at, &text, &bytes) && bytes == 3 && memcmp(text, "bcd", 3) == 0);
    assert_false(nnrt_gguf_string(&v, &at, &text, &bytes));
    assert_false(nnrt_gguf_number(&v, 0, &number));
    assert_true(nnrt_gguf_find(&keys, "tokenizer.ggml.scores", &v));
    assert_true(nnrt_gguf_number(&v, 0, &number) && number == 1);
    assert_true(nnrt_gguf_number(&v, 1, &number) && number == -2.5);
    assert_false(nnrt_gguf_find(&keys, "tokenizer.ggml.merges", &v));
}

/* A number of each type: its bytes, and its value. */
static void test_numbers(void **state)
{
    static const struct {
        uint32_t type;
        uint8_t bytes[8];
        double want;
    } numbers[] = {{NNRT_GGUF_UINT8, {200}, 200},
                   {NNRT_GGUF_INT8, {200}, -56},
                   {NNRT_GGUF_UINT16, {1, 200}, 51201},
                   {NNRT_GGUF_INT16, {1, 200}, -14335},
                   {NNRT_GGUF_UINT32, {0, 0, 0, 200}, 3355443200.0},
                   {NNRT_GGUF_INT32, {255, 255, 255, 255}, -1},
                   {NNRT_GGUF_FLOAT32, {0, 0, 192, 63}, 1.5},
                   {NNRT_GGUF_BOOL, {1}, 1},
                   {NNRT_GGUF_UINT64, {0, 0, 0, 0, 1}, 4294967296.0},
                   {NNRT_GGUF_INT64, {254, 255, 255, 255, 255, 255, 255, 255}, -2},
                   {NNRT_GGUF_FLOAT64, {0, 0, 0, 0, 0, 0, 4, 192}, -2.5}};
    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        nnrt_gguf_value v;
        double got = 0;
        memset(&v, 0, sizeof(v));
        v.type = numbers[i].type;
        v.count = 1;
        v.data = numbers[i].bytes;
        assert_true(nnrt_gguf_number(&v, 0, &got));
        assert_true(got == numbers[i].want);
    }
}

/* ---- the model ---- */

/* A matrix of the file is a constant of the model: whether it is in the bytes of the file. */
static bool used_in_place(const NNRT_Model *m, const char *name, const uint8_t *data, size_t bytes)
{
    const uint32_t t = nnrt_model_tensor(m, name);
    const uint8_t *p;
    assert_int_not_equal(t, NNRT_NO_TENSOR);
    p = (const uint8_t *)m->allTensors.data[t].data.addr;
    return p >= data && p < data + bytes;
}

static void test_in_place(void **state)
{
    const file *f = valid();
    uint8_t *copy = (uint8_t *)malloc(f->size + 64);
    (void)state;
    assert_non_null(copy);
    for (size_t shift = 0; shift < 5; shift++) {
        NNRT_Model *m = NULL;
        nnrt_gguf_desc desc;
        memset(&desc, 0, sizeof(desc));
        desc.operands = shift % 2 != 0;
        memcpy(copy + shift, f->bytes, f->size);
        assert_int_equal(nnrt_gguf_load_memory(&m, copy + shift, f->size, &desc, NULL), NNRT_SUCCESS);
        assert_true(used_in_place(m, "blk.0.ffn_down.weight", copy, f->size + 64) == (shift % 4 == 0));
        assert_true(used_in_place(m, "blk.0.attn_q.weight", copy, f->size + 64) == !desc.operands);
        assert_true(used_in_place(m, "token_embd.weight", copy, f->size + 64) == !desc.operands);
        assert_string_equal(nnrt_model_metadata(m, "description"), "small");
        assert_int_equal(m->inputIndex.count, 3);
        assert_int_equal(m->outputIndex.count, 3);
        assert_string_equal(m->allTensors.data[m->inputIndex.data[0]].name, "input_ids");
        assert_string_equal(m->allTensors.data[m->inputIndex.data[2]].name, "past_key_values.0.value");
        assert_string_equal(m->allTensors.data[m->outputIndex.data[0]].name, "logits");
        assert_string_equal(m->allTensors.data[m->outputIndex.data[1]].name, "present.0.key");
        nnrt_model_destroy(m);
    }
    free(copy);
}

/* A mapped file stays mapped as long as its model; an unmapped one is part of the model's memory. */
static void test_file(void **state)
{
    char path[] = "/tmp/nnrt_gguf_XXXXXX";
    const int fd = mkstemp(path);
    const file *f = valid();
    size_t peaks[2];
    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, f->bytes, f->size), (ssize_t)f->size);
    assert_int_equal(close(fd), 0);
    for (int k = 0; k < 2; k++) {
        nnrt_allocator allocator;
        nnrt_gguf_desc desc;
        nnrt_session *session = NULL;
        nnrt_session_desc how;
        NNRT_Model *m = NULL;
        int32_t one[] = {1, 1}, past[] = {1, 2, 0, 8};
        nnrt_dims dims[3];
        counting c;
        memset(&c, 0, sizeof(c));
        memset(&desc, 0, sizeof(desc));
        memset(&how, 0, sizeof(how));
        memset(dims, 0, sizeof(dims));
        c.fail = SIZE_MAX;
        allocator.alloc = counting_alloc;
        allocator.free = counting_free;
        allocator.user = &c;
        desc.allocator = &allocator;
        desc.noMap = k == 1;
        assert_int_equal(nnrt_gguf_load(&m, path, &desc, NULL), NNRT_SUCCESS);
        for (int i = 0; i < 3; i++) {
            dims[i].rank = i == 0 ? 2 : 4;
            memcpy(dims[i].dims, i == 0 ? one : past, (size_t)dims[i].rank * sizeof(int32_t));
        }
        how.inputDims = nnrt_dims_list_make(dims, 3);
        assert_int_equal(nnrt_session_create(&session, m, &how, NULL), NNRT_SUCCESS);
        nnrt_session_destroy(session);
        nnrt_model_destroy(m);
        assert_int_equal(c.live, 0);
        peaks[k] = c.peak;
    }
    assert_int_equal(peaks[1] - peaks[0], f->size);
    assert_int_equal(remove(path), 0);
    {
        NNRT_Model *m = NULL;
        assert_int_equal(nnrt_gguf_load(&m, path, NULL, NULL), NNRT_INVALID_PATH);
    }
}

/* ---- the cache ---- */

enum { CONTEXT = 12, BATCH = 8, PROMPT = 8, KEY_HEADS = 2 };

static const char *const devices[] = {"reference", "cpu", "auto"};
static const int64_t prompt[PROMPT] = {1, 4, 0, 2, 3, 3, 1, 0};

/* The random model; cache 0: with past and present. */
static NNRT_Model *random_model(uint32_t cache, bool window)
{
    static file f;
    change c;
    nnrt_gguf_desc desc;
    NNRT_Model *m = NULL;
    nnrt_error error;
    memset(&c, 0, sizeof(c));
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    c.random = true;
    c.key = window ? "llama.attention.sliding_window" : NULL;
    c.value = 3;
    make(&f, &c);
    desc.cache = cache;
    if (nnrt_gguf_load_memory(&m, f.bytes, f.size, &desc, &error) != NNRT_SUCCESS)
        print_error("%s\n", error.message);
    assert_non_null(m);
    return m;
}

/* A session that takes at most BATCH tokens in a run. dims and bound are kept by the caller. */
typedef struct cached {
    nnrt_dims dims[6]; /* the last two: scales of int8 */
    nnrt_bound bound;
    nnrt_session_desc desc;
} cached;

static void cached_begin(cached *k, const char *device)
{
    memset(k, 0, sizeof(*k));
    for (int i = 0; i < 6; i++) {
        k->dims[i].rank = i == 0 ? 2 : i == 1 ? 1 : 3;
        k->dims[i].dims[0] = 1;
        k->dims[i].dims[1] = i == 0 ? -1 : CONTEXT;
        k->dims[i].dims[2] = i < 4 ? WIDTH / 2 : KEY_HEADS;
    }
    k->bound.tensor = "input_ids";
    k->bound.most.rank = 2;
    k->bound.most.dims[0] = 1;
    k->bound.most.dims[1] = BATCH;
    k->desc.device = device;
    k->desc.inputDims = nnrt_dims_list_make(k->dims, 4);
    k->desc.bounds = nnrt_bound_list_make(&k->bound, 1);
}

/* Runs `count` tokens at a position; logits[VOCABULARY]. */
static NNRT_ReturnCode feed(nnrt_session *s, const int64_t *ids, int32_t count, int64_t position, float *logits)
{
    const int32_t dims[2] = {1, count};
    nnrt_io in[2], out = nnrt_io_make(logits, VOCABULARY * sizeof(*logits));
    in[0] = nnrt_io_make((void *)(uintptr_t)ids, (size_t)count * sizeof(*ids));
    in[0].dims = dims;
    in[1] = nnrt_io_make(&position, sizeof(position));
    return nnrt_run(s, in, 2, &out, 1);
}

/* Logits after the whole prompt in parts of `part` tokens. */
static void feed_parts(nnrt_session *s, int32_t part, float *logits)
{
    for (int32_t at = 0; at < PROMPT; at += part)
        assert_int_equal(feed(s, prompt + at, part < PROMPT - at ? part : PROMPT - at, at, logits), NNRT_SUCCESS);
}

static void assert_close(const float *x, const float *y)
{
    for (int i = 0; i < VOCABULARY; i++) {
        const float off = x[i] > y[i] ? x[i] - y[i] : y[i] - x[i], size = y[i] > 0 ? y[i] : -y[i];
        assert_true(off <= 1e-4f * (1 + size));
    }
}

/* Logits after the prompt of the model with past and present keys and values. */
static void past_logits(bool window, float *logits)
{
    static const int32_t ids[2] = {1, PROMPT}, past[4] = {1, 2, 0, 8};
    NNRT_Model *m = random_model(0, window);
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    nnrt_dims dims[3];
    nnrt_io in[3], out[3];
    float present[2][PROMPT * WIDTH / 2], nothing = 0;
    memset(&desc, 0, sizeof(desc));
    memset(dims, 0, sizeof(dims));
    for (int i = 0; i < 3; i++) {
        dims[i].rank = i == 0 ? 2 : 4;
        memcpy(dims[i].dims, i == 0 ? ids : past, (size_t)dims[i].rank * sizeof(int32_t));
    }
    desc.device = "reference";
    desc.inputDims = nnrt_dims_list_make(dims, 3);
    assert_int_equal(nnrt_session_create(&s, m, &desc, NULL), NNRT_SUCCESS);
    in[0] = nnrt_io_make((void *)(uintptr_t)prompt, sizeof(prompt));
    in[1] = in[2] = nnrt_io_make(&nothing, 0);
    out[0] = nnrt_io_make(logits, VOCABULARY * sizeof(*logits));
    out[1] = nnrt_io_make(present[0], sizeof(present[0]));
    out[2] = nnrt_io_make(present[1], sizeof(present[1]));
    assert_int_equal(nnrt_run(s, in, 3, out, 3), NNRT_SUCCESS);
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);
}

static void test_cache_model(void **state)
{
    NNRT_Model *m = random_model(CONTEXT, false), *none = NULL;
    nnrt_gguf_desc desc;
    nnrt_error error;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    assert_int_equal(m->inputIndex.count, 4);
    assert_int_equal(m->outputIndex.count, 3);
    assert_string_equal(m->allTensors.data[m->inputIndex.data[1]].name, "position");
    assert_string_equal(nnrt_model_metadata(m, "states"),
                        "past_key_values.0.key=present.0.key\npast_key_values.0.value=present.0.value");
    nnrt_model_destroy(m);
    desc.cache = NNRT_GGUF_CACHE + 1;
    assert_int_equal(nnrt_gguf_load_memory(&none, valid()->bytes, valid()->size, &desc, &error), NNRT_INVALID_PARAMETER);
    assert_string_equal(error.message, "nnrt_gguf_desc.cache is 16777217, expected at most 16777216");
    desc.cache = 0;
    desc.cacheType = NNRT_DATA_TYPE_FLOAT16;
    assert_int_equal(nnrt_gguf_load_memory(&none, valid()->bytes, valid()->size, &desc, &error), NNRT_INVALID_PARAMETER);
    assert_string_equal(error.message, "nnrt_gguf_desc.cacheType is float16 with cache 0, expected float32, or float16 or int8 with a cache");
    desc.cacheType = NNRT_DATA_TYPE_INT8;
    assert_int_equal(nnrt_gguf_load_memory(&none, valid()->bytes, valid()->size, &desc, &error), NNRT_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "cacheType is int8 with cache 0"));
    desc.cache = 8;
    desc.cacheType = NNRT_DATA_TYPE_UINT8;
    assert_int_equal(nnrt_gguf_load_memory(&none, valid()->bytes, valid()->size, &desc, &error), NNRT_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "cacheType is uint8 with cache 8"));
    assert_null(none);
}

/* A cache of float16 has half of the bytes, one of int8 a byte for each element and two for the scale of a row, in states of
   multiples of 64 bytes, and its session the stated ones: not one byte less. */
static void test_cache_half(void **state)
{
    enum { ELEMENTS = CONTEXT * (WIDTH / 2) };
    static const NNRT_DataType types[] = {NNRT_DATA_TYPE_FLOAT16, NNRT_DATA_TYPE_INT8};
    static const size_t states[] = {2 * ELEMENTS * 2, 2 * ((ELEMENTS + 63) / 64 * 64 + (CONTEXT * KEY_HEADS * 2 + 63) / 64 * 64)};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof(devices) / sizeof(devices[0]); i++) {
        const size_t d = i / 2, t = i % 2;
        NNRT_Model *m = NULL;
        nnrt_session *s = NULL;
        nnrt_gguf_desc desc;
        size_t bytes = 0;
        cached k;
        memset(&desc, 0, sizeof(desc));
        desc.cache = CONTEXT;
        desc.cacheType = types[t];
        assert_int_equal(nnrt_gguf_load_memory(&m, valid()->bytes, valid()->size, &desc, NULL), NNRT_SUCCESS);
        cached_begin(&k, devices[d]);
        k.desc.inputDims = nnrt_dims_list_make(k.dims, t == 0 ? 4 : 6);
        assert_int_equal(nnrt_session_bytes(m, &k.desc, &bytes, NULL), NNRT_SUCCESS);
        assert_int_equal(posix_memalign(&k.desc.buffer, NNRT_ALIGNMENT, bytes), 0);
        k.desc.bufferBytes = bytes - 1;
        assert_int_equal(nnrt_session_create(&s, m, &k.desc, NULL), NNRT_OUT_OF_MEMORY);
        k.desc.bufferBytes = bytes;
        assert_int_equal(nnrt_session_create(&s, m, &k.desc, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_get_memory(s).states, states[t]);
        nnrt_session_destroy(s);
        free(k.desc.buffer);
        nnrt_model_destroy(m);
    }
}

/* The logits of the model with past and present, for prompts in one part and in several, with and without a window. */
static void test_cache_logits(void **state)
{
    static const int32_t parts[] = {PROMPT, 1, 3, 5};
    (void)state;
    for (int window = 0; window < 2; window++) {
        NNRT_Model *m = random_model(CONTEXT, window != 0);
        float want[VOCABULARY], got[VOCABULARY], other[VOCABULARY];
        past_logits(window != 0, want);
        for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
            nnrt_session *s = NULL;
            cached k;
            cached_begin(&k, devices[d]);
            assert_int_equal(nnrt_session_create(&s, m, &k.desc, NULL), NNRT_SUCCESS);
            assert_int_equal(nnrt_session_states(s), 2);
            for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
                feed_parts(s, parts[i], got); /* what earlier ones left does not matter */
                assert_close(got, want);
            }
            nnrt_session_reset(s);
            assert_int_equal(feed(s, prompt + PROMPT - 1, 1, 0, other), NNRT_SUCCESS); /* the tokens before matter */
            assert_true(other[0] - want[0] > 0.01f || want[0] - other[0] > 0.01f);
            nnrt_session_destroy(s);
        }
        nnrt_model_destroy(m);
    }
}

/* An earlier position continues from there; positions that do not fit are refused, and change nothing. */
static void test_cache_positions(void **state)
{
    static const struct {
        int64_t position;
        int32_t count;
    } wrong[] = {{-1, 1}, {CONTEXT, 1}, {CONTEXT - 2, 3}, {INT64_MAX, 1}, {INT64_MIN, 1}, {(int64_t)1 << 32, 2}};
    NNRT_Model *m = random_model(CONTEXT, false);
    (void)state;
    for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
        nnrt_session *s = NULL, *fresh = NULL;
        float got[VOCABULARY], want[VOCABULARY];
        cached k;
        cached_begin(&k, devices[d]);
        assert_int_equal(nnrt_session_create(&s, m, &k.desc, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_create(&fresh, m, &k.desc, NULL), NNRT_SUCCESS);
        feed_parts(s, PROMPT, got);
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
            assert_int_equal(feed(s, prompt, wrong[i].count, wrong[i].position, got), NNRT_INVALID_PARAMETER);
            assert_non_null(strstr(nnrt_session_error(s), "'present.0.key'"));
        }
        assert_int_equal(feed(s, prompt, BATCH + 1, 0, got), NNRT_OUT_OF_DIMENTION_RANGES);
        assert_int_equal(feed(s, prompt + 6, 1, 3, got), NNRT_SUCCESS);
        assert_int_equal(feed(fresh, prompt, 3, 0, want), NNRT_SUCCESS);
        assert_int_equal(feed(fresh, prompt + 6, 1, 3, want), NNRT_SUCCESS);
        assert_close(got, want);
        assert_int_equal(feed(s, prompt, 4, CONTEXT - 4, got), NNRT_SUCCESS); /* the last rows */
        nnrt_session_destroy(fresh);
        nnrt_session_destroy(s);
    }
    nnrt_model_destroy(m);
}

/* One buffer for keys and one for values; the size of a buffer for the session is exact; runs allocate nothing. */
static void test_cache_memory(void **state)
{
    NNRT_Model *m = random_model(CONTEXT, false);
    (void)state;
    for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
        float got[VOCABULARY], want[VOCABULARY];
        nnrt_session *s = NULL;
        nnrt_allocator allocator;
        size_t bytes = 0;
        counting c;
        cached k;
        cached_begin(&k, devices[d]);
        memset(&c, 0, sizeof(c));
        c.fail = SIZE_MAX;
        allocator.alloc = counting_alloc;
        allocator.free = counting_free;
        allocator.user = &c;
        k.desc.allocator = &allocator;
        assert_int_equal(nnrt_session_create(&s, m, &k.desc, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_get_memory(s).states, 2 * CONTEXT * WIDTH / 2 * sizeof(float));
        c.fail = c.calls;
        feed_parts(s, 3, want);
        assert_int_equal(c.calls, c.fail);
        nnrt_session_destroy(s);
        assert_int_equal(c.live, 0);
        c.fail = SIZE_MAX;
        assert_int_equal(nnrt_session_bytes(m, &k.desc, &bytes, NULL), NNRT_SUCCESS);
        assert_int_equal(posix_memalign(&k.desc.buffer, NNRT_ALIGNMENT, bytes), 0);
        k.desc.bufferBytes = bytes - 1;
        assert_int_equal(nnrt_session_create(&s, m, &k.desc, NULL), NNRT_OUT_OF_MEMORY);
        k.desc.bufferBytes = bytes;
        c.fail = c.calls;
        assert_int_equal(nnrt_session_create(&s, m, &k.desc, NULL), NNRT_SUCCESS);
        feed_parts(s, 3, got);
        assert_int_equal(c.calls, c.fail);
        assert_memory_equal(got, want, sizeof(got));
        nnrt_session_destroy(s);
        free(k.desc.buffer);
    }
    nnrt_model_destroy(m);
}

/* Registers "cpu" after the tests that use the default device. */
static int registered(void **state)
{
    (void)state;
    return nnrt_cpu_register(NULL, NULL) == NNRT_SUCCESS ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncated), cmocka_unit_test(test_changed),  cmocka_unit_test(test_memory),
        cmocka_unit_test(test_header),    cmocka_unit_test(test_messages), cmocka_unit_test(test_budget),
        cmocka_unit_test(test_keys),      cmocka_unit_test(test_numbers),  cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_file),
        cmocka_unit_test_setup(test_cache_model, registered),
        cmocka_unit_test(test_cache_half), cmocka_unit_test(test_cache_logits), cmocka_unit_test(test_cache_positions),
        cmocka_unit_test(test_cache_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
