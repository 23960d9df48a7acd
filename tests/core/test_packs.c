/* Stored packed weights (nnrt_packs, nnrt_draft_pack): a file with them gives bit-identical results without packing
   again; packed weights that are damaged, or belong to another model, version or instruction set, are detected and not
   used. */
#define _XOPEN_SOURCE 700 /* posix_memalign */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "formats/nnrt_onnx.h"
#include "nnrt.h"

#include "devices/nnrt_cpu.h"
#include "half.h"
#include "kit.h"

/* ---- models and sessions ---- */

static const char *const files[] = {"examples/digits/digits.onnx", "examples/digits/digits_int8.onnx"};
#define MODELS 4

static float *made_up(size_t count, uint32_t seed)
{
    float *made = (float *)malloc((count + 1) * sizeof(float));
    assert_non_null(made);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        made[i] = (float)(seed >> 16) / 32768.0f - 1.0f;
    }
    return made;
}

/* Numbers of a type, float16 or float32. */
static void *numbers_of(NNRT_DataType type, float *made, size_t count)
{
    uint16_t *half;
    if (type == F32)
        return made;
    half = (uint16_t *)malloc((count + 1) * sizeof(uint16_t));
    assert_non_null(half);
    for (size_t i = 0; i < count; i++)
        half[i] = half_of((double)made[i]);
    free(made);
    return half;
}

/* 3 x 3 cells, which go by tiles where `tiles` says so, a bias of its own, 5 x 5 cells of few channels, matrices. */
static NNRT_Model *made_model(uint32_t seed, NNRT_DataType type)
{
    const int32_t dims[4] = {1, 9, 9, 16}, three[4] = {24, 3, 3, 16}, five[4] = {5, 5, 5, 24}, full[2] = {7, 25};
    const int32_t channels = 24, flat[2] = {5, 25};
    void *w[4] = {numbers_of(type, made_up(24 * 9 * 16, seed), 24 * 9 * 16),
                  numbers_of(type, made_up(5 * 25 * 24, 2), 5 * 25 * 24), numbers_of(type, made_up(7 * 25, 3), 7 * 25),
                  numbers_of(type, made_up(24, 4), 24)};
    NNRT_Conv2DFusion conv;
    NNRT_AddFusion add;
    NNRT_Reshape reshape;
    NNRT_FullConnection connect;
    NNRT_Model *model = NULL;
    nnrt_builder *b = NULL;
    nnrt_error e;
    uint32_t in[3], y;
    memset(&conv, 0, sizeof(conv));
    memset(&add, 0, sizeof(add));
    memset(&reshape, 0, sizeof(reshape));
    memset(&connect, 0, sizeof(connect));
    memset(&e, 0, sizeof(e));
    conv.stride = conv.dilation = nnrt_int64_list((const int64_t[2]){1, 1}, 2);
    conv.group = 1;
    assert_int_equal(nnrt_builder_create(&b, "made", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", type, 4, dims);
    in[1] = nnrt_builder_constant(b, "three", type, 4, three, w[0], true);
    in[2] = NNRT_NO_TENSOR;
    conv.kernelSize = nnrt_int64_list((const int64_t[2]){3, 3}, 2);
    conv.padList = nnrt_int64_list((const int64_t[4]){1, 1, 1, 1}, 4);
    in[0] = nnrt_builder_op(b, "conv", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, in, 3);
    in[1] = nnrt_builder_constant(b, "bias", type, 1, &channels, w[3], true);
    add.activationType = NNRT_ACTIVATION_TYPE_RELU;
    in[0] = nnrt_builder_op(b, "add", NNRT_NODE_TYPE_ADD_FUSION, &add, in, 2);
    in[1] = nnrt_builder_constant(b, "five", type, 4, five, w[1], true);
    conv.kernelSize = nnrt_int64_list((const int64_t[2]){5, 5}, 2);
    conv.padList = nnrt_int64_list((const int64_t[4]){0, 0, 0, 0}, 4);
    in[0] = nnrt_builder_op(b, "conv5", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, in, 3);
    in[1] = nnrt_builder_constant(b, "shape", I32, 1, (const int32_t[1]){2}, flat, true);
    in[0] = nnrt_builder_op(b, "flat", NNRT_NODE_TYPE_RESHAPE, &reshape, in, 2);
    in[1] = nnrt_builder_constant(b, "full", type, 2, full, w[2], true);
    y = nnrt_builder_op(b, "connect", NNRT_NODE_TYPE_FULL_CONNECTION, &connect, in, 3);
    nnrt_builder_output(b, y);
    if (nnrt_builder_finish(b, &model, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    for (uint32_t i = 0; i < 4; i++)
        free(w[i]);
    return model;
}

static NNRT_Model *model_of(uint32_t i)
{
    static const char *const before = "fc2";
    NNRT_Model *model = NULL;
    nnrt_onnx_desc desc;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (i >= 2)
        return made_model(1, i == 2 ? F32 : NNRT_DATA_TYPE_FLOAT16);
    memset(&desc, 0, sizeof(desc));
    desc.outputs = &before; /* of SOFTMAX, whose elements of 8 bits are alike for most images */
    desc.outputCount = 1;
    if (nnrt_onnx_load(&model, files[i], &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    return model;
}

/* Results of a session. */
typedef struct outcome {
    uint8_t *y;
    size_t bytes;
    size_t live;         /* that it took from its allocator */
    bool taken, refused; /* packed weights were used; there were some, and they were not */
    nnrt_cache_state state;
    nnrt_error error;
} outcome;

static const char *device = "cpu", *tiles;
static bool by_malloc; /* sessions have no allocator of the test */
static const nnrt_bound *row_bound; /* of the model's input; NULL: it has no dynamic dimensions */

static void hear(void *user, nnrt_log_level level, const char *text)
{
    outcome *r = (outcome *)user;
    (void)level;
    r->taken = r->taken || strstr(text, "has taken the weights") != NULL;
    r->refused = r->refused || strstr(text, "cache: ") == text;
}

static void describe(nnrt_session_desc *desc, NNRT_Extension *extension)
{
    memset(desc, 0, sizeof(*desc));
    memset(extension, 0, sizeof(*extension));
    desc->device = device;
    extension->name = "nnrt.cpu.winograd";
    extension->data = tiles;
    extension->size = tiles != NULL ? (uint32_t)strlen(tiles) : 0;
    desc->extensions = NNRT_ExtensionList_make(extension, tiles != NULL ? 1 : 0);
    desc->bounds = nnrt_bound_list_make(row_bound, row_bound != NULL ? 1 : 0);
}

static void run(nnrt_session *s, outcome *r)
{
    const size_t bytes = nnrt_session_input(s, 0).bytes;
    const NNRT_DataType type = nnrt_session_input(s, 0).dataType;
    const size_t count = bytes / (type == NNRT_DATA_TYPE_FLOAT16 ? 2 : 4);
    void *x = type == NNRT_DATA_TYPE_FLOAT16 ? numbers_of(type, made_up(count, 77), count) : made_up(count, 77);
    nnrt_io in = nnrt_io_make(x, bytes), out;
    r->bytes = nnrt_session_output(s, 0).bytes;
    r->y = (uint8_t *)malloc(r->bytes);
    assert_non_null(r->y);
    out = nnrt_io_make(r->y, r->bytes);
    in.dims = row_bound != NULL ? row_bound->most.dims : NULL;
    if (nnrt_run(s, &in, 1, &out, 1) != NNRT_SUCCESS)
        fail_msg("%s", nnrt_session_error(s));
    for (size_t k = 0; k < r->bytes / 2 && type == NNRT_DATA_TYPE_FLOAT16; k++) {
        uint16_t h;
        memcpy(&h, r->y + 2 * k, sizeof(h));
        assert_true(half_to(h) > -65504 && half_to(h) < 65504); /* numbers, which can differ */
    }
    free(x);
}

static outcome session_of(const NNRT_Model *m, nnrt_cache *cache)
{
    nnrt_session_desc desc;
    NNRT_Extension extension;
    nnrt_session *s = NULL;
    nnrt_log log;
    tracker t;
    outcome r;
    nnrt_allocator allocator = allocator_of(&t);
    memset(&t, 0, sizeof(t));
    memset(&r, 0, sizeof(r));
    memset(&log, 0, sizeof(log));
    log.line = hear;
    log.user = &r;
    log.most = NNRT_LOG_DEBUG;
    describe(&desc, &extension);
    desc.cache = cache;
    desc.log = &log;
    desc.allocator = by_malloc ? NULL : &allocator;
    if (nnrt_session_create(&s, m, &desc, &r.error) != NNRT_SUCCESS)
        fail_msg("%s", r.error.message);
    r.live = t.live;
    run(s, &r);
    assert_int_equal(t.live, r.live); /* a run takes nothing */
    nnrt_session_destroy(s);
    assert_int_equal(t.live, 0);
    assert_false(t.wrong);
    if (cache != NULL)
        r.state = *nnrt_cache_get_state(cache);
    return r;
}

static nnrt_cache *cache_in_memory(void)
{
    nnrt_cache_desc desc;
    nnrt_cache *c = NULL;
    memset(&desc, 0, sizeof(desc));
    desc.packed = true;
    desc.data = "";
    desc.bytes = 1;
    assert_int_equal(nnrt_cache_create(&c, &desc, NULL), NNRT_INVALID_PARAMETER);
    desc.data = NULL;
    desc.bytes = 0;
    desc.directory = "build";
    assert_int_equal(nnrt_cache_create(&c, &desc, NULL), NNRT_INVALID_PARAMETER);
    desc.directory = NULL;
    assert_int_equal(nnrt_cache_create(&c, &desc, NULL), NNRT_SUCCESS);
    return c;
}

/* The file of m with the contents of c, aligned, to be freed. */
static uint8_t *saved(const NNRT_Model *m, const nnrt_cache *c, size_t *bytes)
{
    nnrt_save_desc desc;
    void *data = NULL;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.cache = c;
    if (nnrt_model_save_memory(m, &desc, NULL, 0, bytes, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_int_equal(posix_memalign(&data, NNRT_ALIGNMENT, *bytes), 0);
    assert_int_equal(nnrt_model_save_memory(m, &desc, data, *bytes, bytes, &e), NNRT_SUCCESS);
    return (uint8_t *)data;
}

static NNRT_Model *loaded(const uint8_t *data, size_t bytes)
{
    NNRT_Model *model = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_model_load_memory(&model, data, bytes, NULL, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    return model;
}

static nnrt_file_section packed_section(const NNRT_Model *m)
{
    nnrt_file_section s;
    for (uint32_t i = 0; nnrt_model_section(m, i, &s); i++)
        if (s.type == 9)
            return s;
    fail_msg("there is no device section");
    return s;
}

static void same(const outcome *a, const outcome *b)
{
    assert_int_equal(a->bytes, b->bytes);
    assert_memory_equal(a->y, b->y, a->bytes);
}

/* ---- taken back ---- */

/* From the file the same bits, with none of the packed weights in memory of the session's; and again into a file, of the
   same bytes. */
static void test_taken(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3 * MODELS; i++) {
        NNRT_Model *m = model_of(i % MODELS), *again;
        nnrt_cache *c = cache_in_memory();
        outcome plain, first, second, third;
        uint8_t *file, *copy;
        size_t bytes = 0, packed, more = 0;
        nnrt_file_section s;
        tiles = i / MODELS == 0 ? NULL : i / MODELS == 1 ? "4" : "0";
        plain = session_of(m, NULL);
        first = session_of(m, c);
        assert_int_equal(first.state.prepared, 1);
        assert_int_equal(first.state.restored, 0);
        assert_int_equal(first.state.kept, 1);
        same(&plain, &first);
        file = saved(m, c, &bytes);
        nnrt_model_destroy(m);
        nnrt_cache_destroy(c);
        again = loaded(file, bytes);
        s = packed_section(again);
        assert_string_equal(s.name, "cpu_nnrt_v1_0");
        memcpy(&packed, (const uint8_t *)s.data + 64 + 24, sizeof(packed)); /* bytes of the second block */
        second = session_of(again, NULL);
        assert_true(second.taken);
        assert_false(second.refused);
        same(&plain, &second);
        assert_in_range(packed, 1, s.bytes);
        assert_true(second.live + packed <= plain.live + 64 * 16); /* alignment */
        c = cache_in_memory();
        third = session_of(again, c);
        assert_true(third.taken);
        assert_int_equal(third.state.restored, 1);
        assert_int_equal(third.state.prepared, 0);
        assert_int_equal(third.state.kept, 1);
        same(&plain, &third);
        copy = saved(again, c, &more);
        assert_int_equal(more, bytes);
        assert_memory_equal(copy, file, bytes);
        nnrt_cache_destroy(c);
        nnrt_model_destroy(again);
        free(copy);
        free(file);
        free(plain.y);
        free(first.y);
        free(second.y);
        free(third.y);
    }
    tiles = NULL;
}

/* Whole pages of a constant; 0: it has none. */
static size_t whole_pages(const NNRT_Tensor *t, uint8_t **first)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)t->data.addr, end = at + t->data.dataSize;
    const uintptr_t begin = (at + page - 1) & ~(page - 1);
    if (at == 0 || (end & ~(page - 1)) <= begin)
        return 0;
    *first = (uint8_t *)t->data.addr + (begin - at);
    return (end & ~(page - 1)) - begin;
}

/* With packed weights, creating a session and a run read no page of the weights that they replace. Pages that cannot
   be read end the test. */
static void test_unread(void **state)
{
    NNRT_Model *m = made_model(1, F32), *again;
    nnrt_cache *c = cache_in_memory();
    outcome first = session_of(m, c), second;
    size_t bytes = 0, locked = 0;
    uint8_t *file = saved(m, c, &bytes), *pages;
    (void)state;
    again = loaded(file, bytes);
    for (int lock = 1; lock >= 0; lock--) {
        for (uint32_t i = 0; i < again->allTensors.count; i++) {
            const size_t most = whole_pages(&again->allTensors.data[i], &pages);
            if (most > 0)
                assert_int_equal(mprotect(pages, most, lock ? PROT_NONE : PROT_READ | PROT_WRITE), 0);
            locked += most;
        }
        if (lock)
            second = session_of(again, NULL);
    }
    assert_true(locked > 0);
    assert_true(second.taken);
    same(&first, &second);
    nnrt_cache_destroy(c);
    nnrt_model_destroy(again);
    nnrt_model_destroy(m);
    free(file);
    free(first.y);
    free(second.y);
}

/* If any byte of the table, or of its position differs, weights are packed again. If a byte of a weight differs, the file's
   checksum fails. A truncated file is invalid. */
static void test_damage(void **state)
{
    NNRT_Model *m = model_of(2), *again;
    nnrt_cache *c = cache_in_memory();
    outcome plain = session_of(m, c), r;
    nnrt_load_desc desc;
    nnrt_file_section s;
    nnrt_error e;
    uint64_t row[2];
    uint8_t *file;
    size_t bytes = 0;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    file = saved(m, c, &bytes);
    again = loaded(file, bytes);
    s = packed_section(again);
    nnrt_model_destroy(again);
    memcpy(row, file + s.offset + 64, sizeof(row)); /* the first block, which is the table */
    assert_in_range(row[0] + row[1], 96, s.bytes);
    for (size_t i = 0; i < row[0] + row[1]; i++)
        for (uint32_t k = 0; k < 8; k += 7) {
            file[s.offset + i] = (uint8_t)(file[s.offset + i] ^ 1u << k);
            again = loaded(file, bytes);
            r = session_of(again, NULL);
            if (r.taken)
                fail_msg("byte %u of the section may be another one", (unsigned)i);
            same(&plain, &r);
            nnrt_model_destroy(again);
            free(r.y);
            file[s.offset + i] = (uint8_t)(file[s.offset + i] ^ 1u << k);
        }
    desc.checksum = true;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_model_load_memory(&again, file, bytes, &desc, &e), NNRT_SUCCESS);
    nnrt_model_destroy(again);
    file[s.offset + s.bytes - 1] ^= 1;
    assert_int_equal(nnrt_model_load_memory(&again, file, bytes, &desc, &e), NNRT_INVALID_FILE);
    file[s.offset + s.bytes - 1] ^= 1;
    for (size_t i = 0; i < bytes; i += 64)
        assert_int_equal(nnrt_model_load_memory(&again, file, i, NULL, NULL), NNRT_INVALID_FILE);
    free(plain.y);
    free(file);
    nnrt_cache_destroy(c);
    nnrt_model_destroy(m);
}

/* A model of the caller's own, which no file can have the packed weights of: they are packed and kept in the cache. */
static void test_own_model(void **state)
{
    NNRT_Model *m = made_model(1, F32), own = *m;
    nnrt_cache *c = cache_in_memory();
    outcome plain = session_of(m, NULL), r;
    (void)state;
    own.self = NULL;
    r = session_of(&own, c);
    assert_false(r.taken);
    assert_int_equal(r.state.prepared, 1);
    assert_int_equal(r.state.kept, 1);
    same(&plain, &r);
    nnrt_cache_destroy(c);
    nnrt_model_destroy(m);
    free(plain.y);
    free(r.y);
}

/* ---- packed weights that do not apply ---- */

static void test_others(void **state)
{
    NNRT_Model *m = model_of(2), *other = made_model(5, F32), *again;
    nnrt_cache *c = cache_in_memory(), *unasked = NULL;
    outcome plain = session_of(m, c), r;
    nnrt_save_desc desc;
    nnrt_session_desc copies;
    NNRT_Extension extension;
    nnrt_session *s = NULL;
    nnrt_error e;
    uint8_t *file;
    size_t bytes = 0;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.cache = c;
    assert_int_equal(nnrt_model_save_memory(other, &desc, NULL, 0, &bytes, &e), NNRT_INVALID_MODEL_CACHE);
    assert_non_null(strstr(e.message, "another model"));
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_cache_save_memory(c, NULL, NULL, 0, &bytes, &e), NNRT_OPERATION_FORBIDDEN);
    assert_int_equal(nnrt_cache_create(&unasked, NULL, NULL), NNRT_SUCCESS); /* one that was not asked to have them */
    r = session_of(m, unasked);
    assert_int_equal(r.state.kept, 1); /* it has a model cache, which needs no model with it */
    assert_int_equal(nnrt_cache_save_memory(unasked, NULL, NULL, 0, &bytes, &e), NNRT_SUCCESS);
    free(r.y);
    nnrt_cache_destroy(unasked);
    file = saved(m, c, &bytes);
    nnrt_model_destroy(m);
    again = loaded(file, bytes);
    tiles = "0"; /* other options */
    r = session_of(again, NULL);
    assert_false(r.taken);
    assert_true(r.refused);
    free(r.y);
    tiles = NULL;
    for (uint32_t i = 0; nnrt_cpu_set(i) != NULL; i++) { /* devices of other names */
        char name[32];
        (void)nnrt_cpu_register(nnrt_cpu_set(i), NULL);
        snprintf(name, sizeof(name), "cpu-%s", nnrt_cpu_set(i));
        device = name;
        r = session_of(again, NULL);
        device = "cpu";
        assert_false(r.taken);
        free(r.y);
    }
    device = "auto:cpu"; /* which gives the whole model to it */
    r = session_of(again, NULL);
    assert_true(r.taken);
    same(&plain, &r);
    free(r.y);
    device = "cpu";
    r = session_of(again, NULL);
    assert_true(r.taken);
    free(r.y);
    describe(&copies, &extension); /* the model, with the file, goes before the session */
    copies.copyConstants = true;
    assert_int_equal(nnrt_session_create(&s, again, &copies, &e), NNRT_SUCCESS);
    nnrt_model_destroy(again);
    memset(file, 0xFF, bytes);
    free(file);
    memset(&r, 0, sizeof(r));
    run(s, &r);
    same(&plain, &r);
    nnrt_session_destroy(s);
    free(r.y);
    free(plain.y);
    nnrt_cache_destroy(c);
    nnrt_model_destroy(other);
}

/* A model that is loaded and then optimized is another model. */
static void test_optimized(void **state)
{
    NNRT_Model *m = model_of(2), *again;
    nnrt_cache *c = cache_in_memory();
    outcome plain = session_of(m, c), r;
    NNRT_Model *before;
    uint8_t *file;
    size_t bytes = 0;
    nnrt_error e;
    (void)state;
    memset(&e, 0, sizeof(e));
    file = saved(m, c, &bytes);
    again = before = loaded(file, bytes);
    assert_int_equal(nnrt_model_optimize(&again, NULL, &e), NNRT_SUCCESS);
    r = session_of(again, NULL);
    assert_int_equal(r.taken, again == before); /* without anything to do, it is the same one */
    assert_int_equal(r.bytes, plain.bytes);
    free(r.y);
    free(plain.y);
    nnrt_model_destroy(again);
    free(file);
    nnrt_cache_destroy(c);
    nnrt_model_destroy(m);
}

/* With a buffer all is laid into it, as it is said beforehand, byte for byte. */
static void test_buffer(void **state)
{
    NNRT_Model *m = model_of(2), *again;
    nnrt_cache *c = cache_in_memory();
    outcome plain = session_of(m, c), r;
    nnrt_session_desc desc;
    NNRT_Extension extension;
    nnrt_session *s = NULL;
    uint8_t *file;
    size_t bytes = 0;
    void *buffer = NULL;
    (void)state;
    file = saved(m, c, &bytes);
    again = loaded(file, bytes);
    describe(&desc, &extension);
    assert_int_equal(nnrt_session_bytes(again, &desc, &bytes, NULL), NNRT_SUCCESS);
    assert_int_equal(posix_memalign(&buffer, NNRT_ALIGNMENT, bytes), 0);
    desc.buffer = buffer;
    desc.bufferBytes = bytes - 1;
    assert_int_equal(nnrt_session_create(&s, again, &desc, NULL), NNRT_OUT_OF_MEMORY);
    desc.bufferBytes = bytes;
    assert_int_equal(nnrt_session_create(&s, again, &desc, NULL), NNRT_SUCCESS);
    memset(&r, 0, sizeof(r));
    run(s, &r);
    same(&plain, &r);
    nnrt_session_destroy(s);
    free(r.y);
    free(plain.y);
    free(buffer);
    free(file);
    nnrt_model_destroy(again);
    nnrt_cache_destroy(c);
    nnrt_model_destroy(m);
}

/* Sessions that share have one copy of the packed weights: the second one takes its workspace and no more. */
static void test_shared(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MODELS; i++) {
        NNRT_Model *m = model_of(i);
        nnrt_session *first = NULL, *second = NULL;
        nnrt_session_desc desc;
        NNRT_Extension extension;
        nnrt_session_memory memory;
        nnrt_error e;
        outcome a, b;
        tracker t[2];
        nnrt_allocator allocators[2] = {allocator_of(&t[0]), allocator_of(&t[1])};
        memset(t, 0, sizeof(t));
        memset(&e, 0, sizeof(e));
        memset(&a, 0, sizeof(a));
        memset(&b, 0, sizeof(b));
        describe(&desc, &extension);
        desc.allocator = &allocators[0];
        if (nnrt_session_create(&first, m, &desc, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        memset(&desc, 0, sizeof(desc));
        desc.device = device;
        desc.allocator = &allocators[1];
        desc.share = first;
        if (nnrt_session_create(&second, m, &desc, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        memory = nnrt_session_get_memory(first);
        assert_true(t[0].live > memory.constants + memory.arena); /* it has packed them all */
        assert_true(t[1].live < memory.arena + 32768);
        assert_true(t[1].live + memory.constants < t[0].live);
        run(first, &a);
        run(second, &b);
        same(&a, &b);
        nnrt_session_destroy(second);
        nnrt_session_destroy(first);
        assert_int_equal(t[0].live + t[1].live, 0);
        free(a.y);
        free(b.y);
        nnrt_model_destroy(m);
    }
}

/* ---- a device of its own, whose packed weights are of a key ---- */

typedef struct packer {
    const char *key;
    int32_t bytes, found; /* of its pack; the number that it notes */
    uint32_t packs, notes, times;
    bool packed;
    const uint8_t *at; /* address of the first pack */
    int64_t number;
} packer;

/* y = x, with derived constants between them. */
static NNRT_ReturnCode pass(const void *attr, nnrt_view *args, nnrt_call *call)
{
    (void)attr;
    memcpy(args[call->nIn + call->nDerived].data, args[0].data, 8 * sizeof(float));
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode pack(void *user, nnrt_draft *draft)
{
    packer *p = (packer *)user;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    draft->steps[0].kernel = pass;
    draft->steps[0].kernelName = "pass";
    draft->steps[0].flags = 0;
    p->packed = nnrt_draft_packed(draft);
    for (uint32_t i = 0; i < p->packs && code == NNRT_SUCCESS; i++) {
        void *data = NULL;
        code = nnrt_draft_pack(draft, 0, NNRT_DATA_TYPE_UINT8, 1, &p->bytes, &data);
        if (code != NNRT_SUCCESS)
            break;
        if (i == 0)
            p->at = (const uint8_t *)draft->steps[0].args[draft->steps[0].nIn + draft->steps[0].nDerived - 1].view.data;
        if (p->packed)
            assert_null(data);
        else {
            memset(data, (int)(7 + i), (size_t)p->bytes);
            p->times++;
        }
    }
    for (uint32_t i = 0; i < p->notes && code == NNRT_SUCCESS; i++)
        if (!nnrt_draft_recall(draft, &p->number)) {
            p->number = p->found + (int32_t)i;
            code = nnrt_draft_note(draft, p->number);
        }
    return code;
}

static NNRT_ReturnCode own_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                   NNRT_PreparedModel **prepared)
{
    return nnrt_plan_prepare(model, config, pack, self, ((packer *)self)->key, prepared);
}

static NNRT_ReturnCode own_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 1;
    *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode own_name(void *self, const char **name)
{
    (void)self;
    *name = "packer";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode own_type(void *self, NNRT_DeviceType *type)
{
    (void)self;
    *type = NNRT_DEVICE_TYPE_CPU;
    return NNRT_SUCCESS;
}

static NNRT_Model *small_model(void)
{
    const int32_t dims[2] = {1, 8};
    NNRT_Activation attr;
    NNRT_Model *model = NULL;
    nnrt_builder *b = NULL;
    uint32_t x;
    memset(&attr, 0, sizeof(attr));
    attr.activationType = NNRT_ACTIVATION_TYPE_RELU;
    assert_int_equal(nnrt_builder_create(&b, "small", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", F32, 2, dims);
    nnrt_builder_output(b, nnrt_builder_op(b, "relu", NNRT_NODE_TYPE_ACTIVATION, &attr, &x, 1));
    assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return model;
}

/* Packed for other instructions, by code that packs other sizes, more or less of them, or notes more or less: each is
   noticed, and packed anew. */
static void test_key(void **state)
{
    static NNRT_DeviceVtbl table;
    static packer p;
    const packer start = {"one", 100, 42, 3, 70, 0, false, NULL, 0};
    NNRT_Model *m = small_model(), *again;
    nnrt_cache *c = cache_in_memory();
    nnrt_file_section s;
    outcome r;
    uint8_t *file;
    size_t bytes = 0;
    (void)state;
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.GetVersion = own_version;
    table.GetDeviceName = own_name;
    table.GetVendorName = own_name;
    table.GetDeviceType = own_type;
    table.PrepareModel = own_prepare;
    assert_int_equal(nnrt_device_register(&table, &p, NULL), NNRT_SUCCESS);
    p = start;
    device = "packer";
    r = session_of(m, c);
    free(r.y);
    assert_int_equal(p.times, 3);
    assert_int_equal(r.state.kept, 1);
    file = saved(m, c, &bytes);
    nnrt_model_destroy(m);
    nnrt_cache_destroy(c);
    again = loaded(file, bytes);
    s = packed_section(again);
    for (uint32_t i = 0; i < 7; i++) {
        p = start;
        p.found = 0; /* as an absent entry is reported */
        p.key = i == 1 ? "two" : "one";
        p.bytes += i == 2;
        p.packs += i == 3 ? 1 : i == 4 ? (uint32_t)-1 : 0;
        p.notes += i == 5 ? 1 : i == 6 ? (uint32_t)-1 : 0;
        r = session_of(again, NULL);
        free(r.y);
        if (r.taken != (i == 0) || r.refused != (i != 0))
            fail_msg("case %u: %s", (unsigned)i, r.taken ? "they were used" : "they were not used");
        assert_int_equal(p.times, i == 0 ? 0 : p.packs);
        assert_int_equal(p.number, i == 0 ? 42 + 69 : (int32_t)p.notes - 1);
        assert_int_equal(p.packed, i == 0);
        if (i == 0) { /* it is in the file */
            assert_true(p.at > file + s.offset && p.at < file + s.offset + s.bytes);
            assert_int_equal((uintptr_t)p.at % NNRT_ALIGNMENT, 0);
            for (uint32_t k = 0; k < 100; k++)
                assert_int_equal(p.at[k], 7);
        }
    }
    device = "cpu";
    nnrt_model_destroy(again);
    assert_int_equal(nnrt_device_unregister("packer"), NNRT_SUCCESS);
    free(file);
}

/* A pack that a caller stores itself, aligned. */
typedef struct keeper {
    nnrt_packed has;
    bool empty, taken;
    uint32_t calls;
    nnrt_error fault;
} keeper;

static bool keeper_find(void *user, const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_packed *packed)
{
    keeper *k = (keeper *)user;
    assert_non_null(model);
    assert_non_null(config);
    *packed = k->has;
    return !k->empty;
}

static void keeper_done(void *user, const NNRT_Model *model, const NNRT_ModelConfig *config,
                        NNRT_PreparedModel *prepared, bool taken, const nnrt_error *fault)
{
    keeper *k = (keeper *)user;
    const NNRT_SharedBuffer *blocks = NULL, *again = NULL;
    uint32_t count = 0;
    assert_non_null(model);
    assert_non_null(config);
    k->calls++;
    k->taken = taken;
    k->fault = *fault;
    assert_null(config->packs);
    if (k->empty) { /* the first time */
        void *copies[2];
        assert_int_equal(prepared->vtbl->ExportModelCache(prepared, &blocks, &count), NNRT_SUCCESS);
        assert_int_equal(count, 2);
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(posix_memalign(&copies[i], NNRT_ALIGNMENT, blocks[i].dataSize), 0);
            memcpy(copies[i], blocks[i].addr, blocks[i].dataSize);
        }
        k->has.table = copies[0];
        k->has.tableBytes = blocks[0].dataSize;
        k->has.weights = copies[1];
        k->has.weightBytes = blocks[1].dataSize;
        assert_int_equal(prepared->vtbl->ExportModelCache(prepared, &again, &count), NNRT_SUCCESS);
        assert_ptr_equal(again, blocks);
        assert_int_equal(prepared->vtbl->ExportModelCache(prepared, NULL, &count), NNRT_NULL_PTR);
    }
}

static bool keeper_tries(keeper *k, const NNRT_Model *m, packer *p, bool keep)
{
    NNRT_ModelConfig config;
    NNRT_PreparedModel *prepared = NULL;
    nnrt_packs packs;
    tracker t;
    nnrt_allocator allocator = allocator_of(&t);
    memset(&config, 0, sizeof(config));
    memset(&packs, 0, sizeof(packs));
    memset(&t, 0, sizeof(t));
    config.structSize = sizeof(config);
    config.packs = &packs;
    config.allocator = &allocator;
    packs.find = keeper_find;
    packs.done = keeper_done;
    packs.user = k;
    packs.keep = keep;
    k->calls = 0;
    assert_int_equal(own_prepare(p, m, &config, &prepared), NNRT_SUCCESS);
    assert_int_equal(k->calls, 1);
    assert_int_equal(prepared->vtbl->ExportModelCache != NULL, keep && !k->taken);
    prepared->vtbl->Destroy(prepared);
    assert_int_equal(t.live, 0);
    assert_false(t.wrong);
    return k->taken;
}

static bool find_nothing(void *user, const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_packed *packed)
{
    (void)user, (void)model, (void)config, (void)packed;
    return false;
}

static void done_nothing(void *user, const NNRT_Model *model, const NNRT_ModelConfig *config,
                         NNRT_PreparedModel *prepared, bool taken, const nnrt_error *fault)
{
    (void)user, (void)model, (void)config, (void)prepared, (void)taken, (void)fault;
}

/* A model whose export for a cache fails, because a call of the allocator does, is prepared, has no ExportModelCache, and
   leaks nothing. */
static void test_export_fails(void **state)
{
    NNRT_Model *m = small_model();
    uint32_t without = 0, refused = 0;
    bool done = false;
    (void)state;
    for (int64_t n = 1; !done; n++) {
        NNRT_ModelConfig config;
        NNRT_PreparedModel *prepared = NULL;
        NNRT_ReturnCode code;
        nnrt_packs packs;
        packer p = {"one", 100, 42, 3, 70, 0, false, NULL, 0};
        tracker t;
        nnrt_allocator allocator = allocator_of(&t);
        memset(&config, 0, sizeof(config));
        memset(&packs, 0, sizeof(packs));
        memset(&t, 0, sizeof(t));
        config.structSize = sizeof(config);
        config.packs = &packs;
        config.allocator = &allocator;
        packs.find = find_nothing;
        packs.done = done_nothing;
        packs.keep = packs.whole = true;
        t.failAt = n;
        code = own_prepare(&p, m, &config, &prepared);
        assert_true(code == NNRT_SUCCESS || code == NNRT_OUT_OF_MEMORY);
        if (code == NNRT_SUCCESS) {
            without += prepared->vtbl->ExportModelCache == NULL;
            prepared->vtbl->Destroy(prepared);
        } else {
            refused++;
        }
        done = t.calls < n;
        assert_int_equal(t.live, 0);
        assert_false(t.wrong);
    }
    printf("%u models without ExportModelCache, %u refused\n", without, refused);
    assert_true(without > 0 && refused > 0);
    nnrt_model_destroy(m);
}

/* 64-bit FNV-1a over the bytes after it. */
static void seal(uint8_t *table, size_t bytes)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 8; i < bytes; i++)
        hash = (hash ^ table[i]) * UINT64_C(0x100000001B3);
    memcpy(table, &hash, 8);
}

/* The table has a checksum of its own, for storage outside of files: every bit is covered. Tables that are too short or
   unaligned are refused. */
static void test_table(void **state)
{
    packer p = {"one", 100, 42, 3, 70, 0, false, NULL, 0};
    NNRT_Model *m = small_model();
    keeper k;
    nnrt_packed whole;
    uint8_t *table;
    (void)state;
    memset(&k, 0, sizeof(k));
    k.empty = true;
    assert_false(keeper_tries(&k, m, &p, true));
    assert_int_equal(k.fault.code, NNRT_SUCCESS);
    k.empty = false;
    whole = k.has;
    assert_int_equal(whole.weightBytes, 2 * 128 + 100);
    assert_int_equal(whole.tableBytes, 32 + 3 * 24 + 70 * 8);
    assert_true(keeper_tries(&k, m, &p, false));
    assert_true(keeper_tries(&k, m, &p, true));
    table = (uint8_t *)(uintptr_t)whole.table;
    for (size_t i = 0; i < 8 * whole.tableBytes; i++) {
        table[i / 8] = (uint8_t)(table[i / 8] ^ 1u << i % 8);
        if (keeper_tries(&k, m, &p, false))
            fail_msg("bit %u of the table may be another one", (unsigned)i);
        assert_int_equal(k.fault.code, NNRT_INVALID_MODEL_CACHE);
        table[i / 8] = (uint8_t)(table[i / 8] ^ 1u << i % 8);
    }
    for (uint32_t i = 0; i < 4; i++) { /* places that are not there, with a checksum that fits */
        const uint64_t wrong[4] = {384, 320, 64 + 4, UINT64_C(1) << 63};
        uint64_t offset;
        memcpy(&offset, table + 32 + 24, sizeof(offset)); /* of the second pack */
        assert_int_equal(offset, 128);
        memcpy(table + 32 + 24, &wrong[i], sizeof(offset));
        seal(table, whole.tableBytes);
        assert_false(keeper_tries(&k, m, &p, false));
        assert_int_equal(k.fault.code, NNRT_INVALID_MODEL_CACHE);
        memcpy(table + 32 + 24, &offset, sizeof(offset));
        seal(table, whole.tableBytes);
        assert_true(keeper_tries(&k, m, &p, false));
    }
    for (size_t i = 0; i < whole.tableBytes; i++) {
        k.has.tableBytes = i;
        assert_false(keeper_tries(&k, m, &p, false));
    }
    k.has = whole;
    for (size_t i = 0; i < whole.weightBytes; i++) {
        k.has.weightBytes = i;
        assert_false(keeper_tries(&k, m, &p, false));
    }
    k.has = whole;
    k.has.weights = (const uint8_t *)whole.weights + 4;
    assert_false(keeper_tries(&k, m, &p, false));
    k.has.weights = NULL;
    assert_false(keeper_tries(&k, m, &p, false));
    k.has = whole;
    k.has.table = NULL;
    assert_false(keeper_tries(&k, m, &p, false));
    k.has = whole;
    assert_true(keeper_tries(&k, m, &p, false));
    for (uint32_t keep = 0; keep < 2; keep++) /* where the memory ends, too: nothing is lost */
        for (int64_t i = 1, calls = 1; i <= calls; i++) {
            NNRT_ModelConfig config;
            NNRT_PreparedModel *prepared = NULL;
            nnrt_packs packs = {keep ? NULL : keeper_find, keeper_done, &k, keep != 0, false};
            tracker t;
            nnrt_allocator allocator = allocator_of(&t);
            memset(&config, 0, sizeof(config));
            memset(&t, 0, sizeof(t));
            config.structSize = sizeof(config);
            config.packs = &packs;
            config.allocator = &allocator;
            t.failAt = i;
            if (own_prepare(&p, m, &config, &prepared) == NNRT_SUCCESS)
                prepared->vtbl->Destroy(prepared);
            else
                assert_null(prepared);
            calls = t.calls;
            assert_int_equal(t.live, 0);
            assert_false(t.wrong);
        }
    free(table);
    free((void *)(uintptr_t)whole.weights);
    nnrt_model_destroy(m);
}

static int add_device(void **state)
{
    (void)state;
    return nnrt_cpu_register(NULL, NULL) == NNRT_SUCCESS ? 0 : -1;
}

/* ---- the model cache ---- */

static nnrt_cache *cache_from(const void *data, size_t bytes)
{
    nnrt_cache_desc desc;
    nnrt_cache *c = NULL;
    memset(&desc, 0, sizeof(desc));
    desc.data = data;
    desc.bytes = bytes;
    assert_int_equal(nnrt_cache_create(&c, &desc, NULL), NNRT_SUCCESS);
    return c;
}

/* The bytes of a cache, aligned; the caller frees them. */
static uint8_t *cached(const nnrt_cache *c, size_t *bytes)
{
    void *data = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_cache_save_memory(c, NULL, NULL, 0, bytes, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_int_equal(posix_memalign(&data, NNRT_ALIGNMENT, *bytes), 0);
    assert_int_equal(nnrt_cache_save_memory(c, NULL, data, *bytes, bytes, &e), NNRT_SUCCESS);
    return (uint8_t *)data;
}

/* Bytes of the constants of a model. */
static size_t constants_of(const NNRT_Model *m)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        bytes += m->allTensors.data[i].data.addr != NULL ? m->allTensors.data[i].data.dataSize : 0;
    return bytes;
}

/* A second start packs nothing and gives the same bits, with the model and without it, by name and through auto. Weights
   that are packed are not kept a second time. */
static void test_second_start(void **state)
{
    static const char *const devices[] = {"cpu", "auto:cpu"};
    (void)state;
    for (uint32_t i = 0; i < 6 * MODELS; i++) {
        NNRT_Model *m = model_of(i % MODELS), *alone = NULL;
        nnrt_cache *c = cache_from(NULL, 0), *again;
        outcome plain, first, second, third;
        nnrt_load_desc load;
        uint8_t *data;
        size_t bytes = 0, kept;
        uint64_t row[6];
        nnrt_file_section s;
        tiles = i / MODELS % 3 == 0 ? NULL : i / MODELS % 3 == 1 ? "4" : "0";
        device = devices[i / MODELS / 3];
        plain = session_of(m, NULL);
        first = session_of(m, c);
        assert_int_equal(first.state.prepared, 1);
        assert_int_equal(first.state.restored, 0);
        assert_int_equal(first.state.kept, 1);
        assert_in_range(first.state.packed, 2, 8);
        same(&plain, &first);
        data = cached(c, &bytes);
        again = cache_from(data, bytes);
        second = session_of(m, again);
        assert_int_equal(second.state.fault.code, NNRT_SUCCESS);
        assert_int_equal(second.state.restored, 1);
        assert_int_equal(second.state.prepared + second.state.packed, 0);
        same(&plain, &second);
        kept = constants_of(m);
        nnrt_model_destroy(m);
        memset(&load, 0, sizeof(load));
        load.cache = true;
        assert_int_equal(nnrt_model_load_memory(&alone, data, bytes, &load, NULL), NNRT_SUCCESS);
        s = packed_section(alone);
        memcpy(row, (const uint8_t *)s.data + 64, sizeof(row)); /* the third block: the model */
        if (i % MODELS >= 2)
            assert_in_range(row[5], 1, kept / 4 + 4096);
        assert_true(row[5] < kept / 2 + 8192);
        third = session_of(alone, NULL);
        same(&plain, &third);
        nnrt_model_destroy(alone);
        nnrt_cache_destroy(c);
        nnrt_cache_destroy(again);
        free(data);
        free(plain.y);
        free(first.y);
        free(second.y);
        free(third.y);
    }
    tiles = NULL;
    device = "cpu";
}

/* Weights of 16 MB are counted before they are packed, so that they lie in one block of their size: counting must not use up the
   table that a cache gives, nor the weights be packed again. */
static void test_second_start_large(void **state)
{
    const int32_t row[2] = {1, 2048}, matrix[2] = {2048, 2048};
    float *const w = made_up(2048 * 2048, 5);
    NNRT_MatMulFusion product;
    NNRT_Model *m = NULL;
    nnrt_builder *b = NULL;
    nnrt_cache *c = cache_from(NULL, 0), *again;
    outcome plain, first, second;
    uint8_t *data;
    uint32_t in[2];
    size_t bytes = 0;
    (void)state;
    memset(&product, 0, sizeof(product));
    assert_int_equal(nnrt_builder_create(&b, "large", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", F32, 2, row);
    in[1] = nnrt_builder_constant(b, "w", F32, 2, matrix, w, true);
    nnrt_builder_output(b, nnrt_builder_op(b, "product", NNRT_NODE_TYPE_MATMUL_FUSION, &product, in, 2));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    plain = session_of(m, NULL);
    by_malloc = true;
    first = session_of(m, c);
    assert_int_equal(first.state.prepared, 1);
    same(&plain, &first);
    data = cached(c, &bytes);
    again = cache_from(data, bytes);
    second = session_of(m, again);
    assert_int_equal(second.state.fault.code, NNRT_SUCCESS);
    assert_int_equal(second.state.restored, 1);
    assert_int_equal(second.state.prepared + second.state.packed, 0);
    same(&plain, &second);
    by_malloc = false;
    nnrt_cache_destroy(c);
    nnrt_cache_destroy(again);
    nnrt_model_destroy(m);
    free(data);
    free(plain.y);
    free(first.y);
    free(second.y);
    free(w);
}

/* A second start with dynamic shapes: the constants that are packed are not in the cache. */
static void test_second_start_dynamic(void **state)
{
    static const nnrt_bound bound = {"x", {2, {9, 64}}};
    const int32_t dims[2] = {-1, 64}, weight[2] = {96, 64}, words[3] = {40, 3, 16}, scales[2] = {40, 3};
    static const NNRT_MatMulNBits attr = {96, 4, 32, 0, 0};
    float *w = made_up(96 * 64, 5), *scale = made_up(40 * 3, 6);
    NNRT_Model *m = NULL, *alone = NULL;
    nnrt_cache *c = cache_from(NULL, 0), *again;
    outcome plain, first, second, third;
    nnrt_builder *b = NULL;
    nnrt_load_desc load;
    uint8_t *data;
    size_t bytes = 0, kept;
    uint64_t row[6];
    uint32_t in[3];
    (void)state;
    assert_int_equal(nnrt_builder_create(&b, "dynamic", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims);
    in[1] = nnrt_builder_constant(b, "w", NNRT_DATA_TYPE_FLOAT32, 2, weight, w, true);
    in[0] = nnrt_builder_op(b, "t", NNRT_NODE_TYPE_FULL_CONNECTION, NULL, in, 2);
    in[1] = nnrt_builder_constant(b, "words", NNRT_DATA_TYPE_UINT8, 3, words, w, true);
    in[2] = nnrt_builder_constant(b, "scale", NNRT_DATA_TYPE_FLOAT32, 2, scales, scale, true);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_MATMUL_NBITS, &attr, in, 3));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    row_bound = &bound;
    kept = constants_of(m);
    plain = session_of(m, NULL);
    first = session_of(m, c);
    assert_int_equal(first.state.packed, 2);
    same(&plain, &first);
    data = cached(c, &bytes);
    again = cache_from(data, bytes);
    second = session_of(m, again);
    assert_int_equal(second.state.restored, 1);
    assert_int_equal(second.state.prepared + second.state.packed, 0);
    same(&plain, &second);
    nnrt_model_destroy(m);
    memset(&load, 0, sizeof(load));
    load.cache = true;
    assert_int_equal(nnrt_model_load_memory(&alone, data, bytes, &load, NULL), NNRT_SUCCESS);
    memcpy(row, (const uint8_t *)packed_section(alone).data + 64, sizeof(row)); /* the third block: the model */
    assert_in_range(row[5], 1, kept / 4);
    third = session_of(alone, NULL);
    same(&plain, &third);
    row_bound = NULL;
    nnrt_model_destroy(alone);
    nnrt_cache_destroy(c);
    nnrt_cache_destroy(again);
    free(data);
    free(plain.y);
    free(first.y);
    free(second.y);
    free(third.y);
    free(w);
    free(scale);
}

/* A constant that is packed and also read by a step stays in the cache: z = (x W) * W. */
static void test_shared_constant(void **state)
{
    const int32_t dims[2] = {40, 40};
    float *w = made_up(1600, 3);
    NNRT_MulFusion mul;
    NNRT_MatMulFusion matmul;
    NNRT_Model *m = NULL;
    nnrt_builder *b = NULL;
    nnrt_cache *c = cache_from(NULL, 0), *again;
    outcome plain, first, second;
    uint8_t *data;
    size_t bytes = 0;
    uint32_t in[2];
    nnrt_error e;
    (void)state;
    memset(&mul, 0, sizeof(mul));
    memset(&matmul, 0, sizeof(matmul));
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, "shared", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", F32, 2, dims);
    in[1] = nnrt_builder_constant(b, "w", F32, 2, dims, w, true);
    in[0] = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_MATMUL_FUSION, &matmul, in, 2);
    nnrt_builder_output(b, nnrt_builder_op(b, "z", NNRT_NODE_TYPE_MUL_FUSION, &mul, in, 2));
    if (nnrt_builder_finish(b, &m, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    plain = session_of(m, NULL);
    first = session_of(m, c);
    assert_int_equal(first.state.packed, 1);
    data = cached(c, &bytes);
    assert_in_range(bytes, 2 * 1600 * sizeof(float), 3 * 1600 * sizeof(float)); /* packed, and as it is */
    again = cache_from(data, bytes);
    second = session_of(m, again);
    assert_int_equal(second.state.restored, 1);
    same(&plain, &second);
    nnrt_cache_destroy(c);
    nnrt_cache_destroy(again);
    nnrt_model_destroy(m);
    free(data);
    free(w);
    free(plain.y);
    free(first.y);
    free(second.y);
}

/* A cache is not used for a model with another weight or with other options, and not if it is damaged. */
static void test_missed(void **state)
{
    NNRT_Model *m = model_of(2);
    nnrt_cache *c = cache_from(NULL, 0), *again;
    outcome plain = session_of(m, c), r, now;
    uint8_t *data;
    size_t bytes = 0;
    (void)state;
    data = cached(c, &bytes);
    again = cache_from(data, bytes);
    for (uint32_t i = 0; i < m->allTensors.count; i++) { /* one weight after the other */
        const NNRT_SharedBuffer *const b = &m->allTensors.data[i].data;
        uint8_t *last;
        if (b->addr == NULL || m->allTensors.data[i].dataType != F32)
            continue;
        last = (uint8_t *)b->addr + b->dataSize - 2;
        *last ^= 64;
        now = session_of(m, NULL);
        r = session_of(m, again);
        assert_int_equal(r.state.restored, 0);
        assert_int_equal(r.state.prepared, 1);
        assert_non_null(strstr(r.state.fault.message, "another model"));
        same(&now, &r);
        assert_memory_not_equal(now.y, plain.y, plain.bytes);
        free(now.y);
        free(r.y);
        *last ^= 64;
    }
    tiles = "0";
    r = session_of(m, again);
    assert_int_equal(r.state.restored, 0);
    free(r.y);
    tiles = NULL;
    for (size_t i = 0; i < bytes; i += 61) {
        nnrt_cache *bad;
        data[i] ^= 16;
        bad = cache_from(data, bytes);
        r = session_of(m, bad);
        assert_int_equal(r.state.restored, 0);
        same(&plain, &r);
        free(r.y);
        nnrt_cache_destroy(bad);
        data[i] ^= 16;
    }
    r = session_of(m, again);
    assert_int_equal(r.state.restored, 1);
    same(&plain, &r);
    free(r.y);
    nnrt_cache_destroy(again);
    nnrt_cache_destroy(c);
    nnrt_model_destroy(m);
    free(data);
    free(plain.y);
}

/* Restoring fails cleanly wherever memory ends, and then the model is prepared, or the session is refused. */
static void test_restore_memory(void **state)
{
    NNRT_Model *m = model_of(2), *alone = NULL;
    nnrt_cache *c = cache_from(NULL, 0);
    outcome plain = session_of(m, c);
    nnrt_session_desc desc;
    NNRT_Extension extension;
    nnrt_load_desc load;
    uint8_t *data;
    size_t bytes = 0;
    bool done = false;
    (void)state;
    data = cached(c, &bytes);
    memset(&load, 0, sizeof(load));
    load.cache = true;
    assert_int_equal(nnrt_model_load_memory(&alone, data, bytes, &load, NULL), NNRT_SUCCESS);
    for (int64_t n = 1; !done; n++) {
        nnrt_session *s = NULL;
        NNRT_ReturnCode code;
        nnrt_error e;
        tracker t;
        const nnrt_allocator allocator = allocator_of(&t);
        memset(&t, 0, sizeof(t));
        t.failAt = n;
        describe(&desc, &extension);
        desc.allocator = &allocator;
        memset(&e, 0, sizeof(e));
        code = nnrt_session_create(&s, alone, &desc, n % 2 ? &e : NULL);
        done = t.calls < n;
        if (code != (done ? NNRT_SUCCESS : NNRT_OUT_OF_MEMORY))
            fail_msg("call %d of the allocator fails: code %d, '%s'", (int)n, code, e.message);
        nnrt_session_destroy(s);
        assert_int_equal(t.live, 0);
        assert_false(t.wrong);
    }
    nnrt_model_destroy(alone);
    nnrt_model_destroy(m);
    nnrt_cache_destroy(c);
    free(data);
    free(plain.y);
}

/* Blocks that are not whole are refused, with a message. Nothing is kept. */
static void refused_blocks(nnrt_device *cpu, const NNRT_SharedBuffer *blocks, const uint64_t *row)
{
    static uint8_t buffer[64], zeros[1 << 20];
    static const struct {
        const char *says;
        int fault;
        NNRT_ReturnCode code;
    } rows[] = {
        {"no .nnrt file", 0, NNRT_INVALID_MODEL_CACHE},
        {"2 blocks", 1, NNRT_INVALID_MODEL_CACHE},
        {"3 blocks", 2, NNRT_INVALID_MODEL_CACHE},
        {"block 0 of the cache has no address", 3, NNRT_INVALID_MODEL_CACHE},
        {"block 1 of the cache has no address", 4, NNRT_INVALID_MODEL_CACHE},
        {"takes no buffer", 5, NNRT_NOT_SUPPORT},
        {"", 6, NNRT_INVALID_MODEL_CACHE},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const int fault = rows[i].fault;
        NNRT_SharedBuffer given[3] = {blocks[0], blocks[1], blocks[2]};
        NNRT_PreparedModel *prepared = (NNRT_PreparedModel *)(void *)buffer;
        NNRT_ModelConfig config;
        nnrt_error e;
        tracker t;
        const nnrt_allocator allocator = allocator_of(&t);
        memset(&t, 0, sizeof(t));
        memset(&e, 0, sizeof(e));
        memset(&config, 0, sizeof(config));
        config.structSize = sizeof(config);
        config.allocator = &allocator;
        config.error = &e;
        if (fault == 0)
            given[2].addr = zeros;
        else if (fault == 2)
            given[2].dataSize = given[2].bufferSize = 64; /* no byte of a model after the number of its constants */
        else if (fault == 3 || fault == 4)
            given[fault - 3].addr = NULL;
        else if (fault == 5)
            config.buffer = buffer;
        else if (fault == 6)
            given[0].dataSize = given[0].bufferSize = 0; /* no table */
        assert_true(row[1] > 0 && row[3] > 0 && blocks[2].dataSize <= sizeof(zeros));
        assert_int_equal(nnrt_device_prepare_cache(cpu, given, fault == 1 ? 2 : 3, &config, &prepared), rows[i].code);
        if (strstr(e.message, rows[i].says) == NULL || e.message[0] == '\0')
            fail_msg("'%s' lacks '%s'", e.message, rows[i].says);
        assert_null(prepared);
        assert_true(t.live == 0 && !t.wrong);
    }
    assert_int_equal(nnrt_device_prepare_cache(cpu, NULL, 3, NULL, NULL), NNRT_NULL_PTR);
}

/* PrepareModelFromModelCache of the device itself. */
static void test_blocks(void **state)
{
    NNRT_Model *m = model_of(2), *alone = NULL;
    nnrt_cache *c = cache_from(NULL, 0);
    outcome plain = session_of(m, c);
    nnrt_device *cpu = nnrt_device_find("cpu");
    NNRT_SharedBuffer blocks[3];
    NNRT_PreparedModel *prepared = NULL;
    NNRT_ModelConfig config;
    nnrt_load_desc load;
    nnrt_file_section s;
    nnrt_error e;
    uint64_t row[6];
    uint8_t *data;
    size_t bytes = 0;
    NNRT_ReturnCode code;
    (void)state;
    assert_true(nnrt_device_can(cpu, NNRT_ABILITY_MODEL_CACHE, &code));
    assert_int_equal(code, NNRT_SUCCESS);
    data = cached(c, &bytes);
    memset(&load, 0, sizeof(load));
    memset(&config, 0, sizeof(config));
    memset(&e, 0, sizeof(e));
    load.cache = true;
    assert_int_equal(nnrt_model_load_memory(&alone, data, bytes, &load, NULL), NNRT_SUCCESS);
    s = packed_section(alone);
    memcpy(row, (const uint8_t *)s.data + 64, sizeof(row));
    memset(blocks, 0, sizeof(blocks));
    for (uint32_t i = 0; i < 3; i++) {
        blocks[i].fd = -1;
        blocks[i].addr = (void *)(uintptr_t)((const uint8_t *)s.data + row[2 * i]);
        blocks[i].bufferSize = blocks[i].dataSize = (uint32_t)row[2 * i + 1];
    }
    config.error = &e; /* a device needs nothing from the caller to read its blocks */
    assert_int_equal(nnrt_device_prepare_cache(cpu, blocks, 3, &config, &prepared), NNRT_SUCCESS);
    prepared->vtbl->Destroy(prepared);
    refused_blocks(cpu, blocks, row);
    nnrt_model_destroy(alone);
    nnrt_model_destroy(m);
    nnrt_cache_destroy(c);
    free(data);
    free(plain.y);
}

/* ---- weights in half precision ---- */

/* One layer of constant weights, which are to be freed with it. */
typedef struct layer {
    NNRT_Model *model;
    float *w, *bias;
    size_t nW, nX, nY, terms; /* terms of each sum */
} layer;

enum { FULL, CONV, CHAIN, PLANES };

/* x [m,k] by [n,k]; an image [m,m,k] by n windows of `window` cells; the same after a depthwise convolution and before it; an
   image with channels first. round: each weight is rounded to float16. */
static layer layer_of(int kind, int32_t m, int32_t k, int32_t n, int32_t window, float large, bool round)
{
    const int32_t matrix[2] = {m, k}, image[4] = {1, m, m, k}, planes[4] = {1, k, m, m};
    const int32_t wide[2] = {n, k}, taps[4] = {n, window, window, k}, own[4] = {n, 3, 3, 1}, back[4] = {k, 1, 1, n};
    const int64_t twos[2] = {window, window}, ones[2] = {1, 1}, pad[4] = {window / 2, window / 2, window / 2, window / 2};
    const int64_t three[2] = {3, 3}, no[4] = {0, 0, 0, 0}, pads[4] = {1, 1, 1, 1};
    NNRT_FullConnection full;
    NNRT_Conv2DFusion conv, depth, last;
    nnrt_builder *b = NULL;
    nnrt_error e;
    uint32_t in[3], y;
    layer l;
    float *d, *other;
    memset(&l, 0, sizeof(l));
    memset(&full, 0, sizeof(full));
    memset(&conv, 0, sizeof(conv));
    memset(&e, 0, sizeof(e));
    l.terms = (size_t)k * (size_t)(kind == CONV || kind == PLANES ? window * window : 1);
    l.nW = (size_t)n * l.terms;
    l.nX = (size_t)m * (size_t)k * (size_t)(kind == FULL ? 1 : m);
    l.nY = (size_t)m * (size_t)(kind == CHAIN ? k : n) * (size_t)(kind == FULL ? 1 : m);
    l.w = made_up(l.nW, 11);
    l.bias = made_up((size_t)n, 12);
    d = made_up((size_t)n * 9, 13);
    other = made_up((size_t)n * (size_t)k, 14);
    l.w[0] = 3.0e-7f; /* a subnormal of float16 */
    if (large > 0)
        l.w[l.nW - 1] = large;
    for (size_t i = 0; i < l.nW && round; i++)
        l.w[i] = (float)half_to(half_of((double)l.w[i]));
    for (size_t i = 0; i < (size_t)n * (size_t)k && round; i++)
        other[i] = (float)half_to(half_of((double)other[i]));
    conv.kernelSize = nnrt_int64_list(twos, 2);
    conv.stride = conv.dilation = nnrt_int64_list(ones, 2);
    conv.padList = nnrt_int64_list(pad, 4);
    conv.group = 1;
    depth = last = conv;
    depth.kernelSize = nnrt_int64_list(three, 2);
    depth.padList = nnrt_int64_list(pads, 4);
    depth.group = n;
    last.kernelSize = nnrt_int64_list(ones, 2);
    last.padList = nnrt_int64_list(no, 4);
    assert_int_equal(nnrt_builder_create(&b, "layer", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", F32, kind == FULL ? 2 : 4, kind == FULL ? matrix : kind == PLANES ? planes : image);
    if (kind == PLANES) {
        const int32_t order[4] = {0, 2, 3, 1}, four = 4;
        in[1] = nnrt_builder_constant(b, "order", I32, 1, &four, order, true);
        in[0] = nnrt_builder_op(b, "turn", NNRT_NODE_TYPE_TRANSPOSE, NULL, in, 2);
    }
    in[1] = nnrt_builder_constant(b, "w", F32, kind == FULL ? 2 : 4, kind == FULL ? wide : taps, l.w, true);
    in[2] = nnrt_builder_constant(b, "bias", F32, 1, &n, l.bias, true);
    if (kind == FULL)
        full.hasBias = true;
    y = kind == FULL ? nnrt_builder_op(b, "y", NNRT_NODE_TYPE_FULL_CONNECTION, &full, in, 3)
                     : nnrt_builder_op(b, "y", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, in, 3);
    if (kind == CHAIN) {
        in[0] = y;
        in[1] = nnrt_builder_constant(b, "own", F32, 4, own, d, true);
        in[2] = NNRT_NO_TENSOR;
        in[0] = nnrt_builder_op(b, "depth", NNRT_NODE_TYPE_CONV2D_FUSION, &depth, in, 3);
        in[1] = nnrt_builder_constant(b, "back", F32, 4, back, other, true);
        y = nnrt_builder_op(b, "last", NNRT_NODE_TYPE_CONV2D_FUSION, &last, in, 3);
    }
    nnrt_builder_output(b, y);
    if (nnrt_builder_finish(b, &l.model, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    free(d);
    free(other);
    return l;
}

/* An LSTM of n cells, with a bias, whose x is [5,1,k]. */
static layer cells_of(int32_t k, int32_t n)
{
    const int32_t x[3] = {5, 1, k}, w[3] = {1, 4 * n, k}, r[3] = {1, 4 * n, n}, bias[2] = {1, 8 * n}, h[3] = {1, 1, n};
    NNRT_LSTM lstm;
    nnrt_builder *b = NULL;
    nnrt_error e;
    uint32_t in[6], out[3];
    float *more = made_up((size_t)(4 * n * n), 16), *zeros = (float *)calloc((size_t)n, sizeof(float));
    layer l;
    memset(&l, 0, sizeof(l));
    memset(&lstm, 0, sizeof(lstm));
    memset(&e, 0, sizeof(e));
    lstm.hasBias = true;
    lstm.numLayers = lstm.numDirections = 1;
    l.nX = 5 * (size_t)k;
    l.nY = 5 * (size_t)n;
    l.w = made_up((size_t)(4 * n * k), 11);
    l.bias = made_up((size_t)(8 * n), 12);
    assert_int_equal(nnrt_builder_create(&b, "cells", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", F32, 3, x);
    in[1] = nnrt_builder_constant(b, "w", F32, 3, w, l.w, true);
    in[2] = nnrt_builder_constant(b, "r", F32, 3, r, more, true);
    in[3] = nnrt_builder_constant(b, "bias", F32, 2, bias, l.bias, true);
    in[4] = nnrt_builder_constant(b, "h", F32, 3, h, zeros, true);
    in[5] = nnrt_builder_constant(b, "c", F32, 3, h, zeros, true);
    out[0] = nnrt_builder_tensor(b, "y");
    out[1] = nnrt_builder_tensor(b, "yH");
    out[2] = nnrt_builder_tensor(b, "yC");
    nnrt_builder_node(b, "lstm", NNRT_NODE_TYPE_LSTM, &lstm, in, 6, out, 3);
    nnrt_builder_output(b, out[0]);
    if (nnrt_builder_finish(b, &l.model, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    free(zeros);
    free(more);
    return l;
}

static void layer_free(layer *l)
{
    nnrt_model_destroy(l->model);
    free(l->w);
    free(l->bias);
}

/* The result of such a device, without tiles; the caller frees it. *memory: that of the session. */
/* weights: how they are packed: NULL: float32, "half" or "int8" */
static float *layer_run(const layer *l, const char *by, const char *weights, const char *only, nnrt_session_memory *memory)
{
    float *x = made_up(l->nX, 15), *y = (float *)malloc(l->nY * sizeof(float));
    NNRT_Extension extensions[2] = {{"nnrt.cpu.winograd", "0", 1}, {"nnrt.cpu.kernel", only, 0}};
    const bool half = weights != NULL && strcmp(weights, "half") == 0, int8 = weights != NULL && !half;
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    nnrt_error e;
    nnrt_io in = nnrt_io_make(x, l->nX * sizeof(float)), out = nnrt_io_make(y, l->nY * sizeof(float));
    size_t needed = 0;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    extensions[1].size = only != NULL ? (uint32_t)strlen(only) : 0;
    if (int8)
        extensions[0] = (NNRT_Extension){"nnrt.cpu.weights", "int8", 4};
    desc.device = by;
    desc.enableFloat16 = half;
    desc.extensions = NNRT_ExtensionList_make(extensions, only != NULL ? 2 : 1);
    if (nnrt_session_bytes(l->model, &desc, &needed, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    for (uint32_t i = 0; i < 2; i++) { /* by one byte fewer than it needs, and by as many */
        void *buffer = NULL;
        assert_int_equal(posix_memalign(&buffer, NNRT_ALIGNMENT, needed), 0);
        desc.buffer = buffer;
        desc.bufferBytes = needed - 1 + i;
        assert_int_equal(nnrt_session_create(&s, l->model, &desc, &e), i == 0 ? NNRT_OUT_OF_MEMORY : NNRT_SUCCESS);
        if (i == 1 && nnrt_run(s, &in, 1, &out, 1) != NNRT_SUCCESS)
            fail_msg("%s", nnrt_session_error(s));
        if (i == 1)
            *memory = nnrt_session_get_memory(s);
        nnrt_session_destroy(s);
        free(buffer);
    }
    free(x);
    return y;
}

/* Weights that are packed in half precision give, on each set of instructions that packs them, the bits of weights that were
   rounded to float16 beforehand; a weight above 65,504 leaves all of its tensor in float32. */
static void test_half(void **state)
{
    static const struct {
        int kind;
        int32_t m, k, n, window;
        const char *only;
    } cases[] = {{FULL, 1, 1, 1, 1, NULL},     {FULL, 1, 40, 130, 1, NULL},  {FULL, 1, 7, 64, 1, NULL},
                 {FULL, 1, 33, 100, 1, NULL},  {FULL, 1, 9, 16, 1, NULL},    {FULL, 1, 9, 48, 1, NULL},
                 {FULL, 1, 40, 130, 1, "gemm"}, {FULL, 1, 12, 40, 1, "gemm"}, {FULL, 1, 5, 70, 1, "gemm"},
                 {FULL, 2, 5, 17, 1, NULL},    {FULL, 5, 40, 130, 1, NULL},  {FULL, 13, 3, 33, 1, NULL},
                 {FULL, 300, 24, 40, 1, NULL}, {CONV, 5, 16, 24, 1, NULL},   {CONV, 9, 16, 40, 3, NULL},
                 {CONV, 7, 5, 6, 5, NULL},     {CONV, 20, 3, 20, 3, NULL},   {PLANES, 20, 3, 20, 3, NULL},
                 {PLANES, 33, 3, 8, 3, NULL},  {CHAIN, 12, 24, 40, 1, "fused_depthwise"}, {CHAIN, 9, 8, 16, 1, "fused_depthwise"}};
    (void)state;
    for (uint32_t c = 0; c < COUNT(cases); c++)
        for (uint32_t i = 0; nnrt_cpu_set(i) != NULL; i++)
            for (uint32_t large = 0; large < 3; large++) { /* the largest of float16, and the next number */
                const float most[3] = {0, 65504, 65504.004f};
                layer l = layer_of(cases[c].kind, cases[c].m, cases[c].k, cases[c].n, cases[c].window, most[large], false);
                const bool small = packs_small(nnrt_cpu_set(i));
                layer rounded = layer_of(cases[c].kind, cases[c].m, cases[c].k, cases[c].n, cases[c].window, most[large],
                                         small && (cases[c].kind == CHAIN || large < 2));
                nnrt_session_memory half, whole;
                float *y, *z;
                char name[32];
                if (cases[c].kind == CHAIN && large == 2) { /* the other product of the chain is rounded all the same */
                    layer_free(&l);
                    layer_free(&rounded);
                    continue;
                }
                snprintf(name, sizeof(name), "cpu-%s", nnrt_cpu_set(i));
                if (cases[c].only != NULL) /* by name: of the set that has the float kernels */
                    snprintf(name, sizeof(name), "cpu-%s", set_of_floats(nnrt_cpu_set(i)));
                y = layer_run(&l, name, "half", cases[c].only, &half);
                z = layer_run(&rounded, name, NULL, cases[c].only, &whole);
                if (memcmp(y, z, l.nY * sizeof(float)) != 0)
                    fail_msg("case %u on %s, largest weight %u: other bits", c, name, large);
                if (large == 2 || !small)
                    assert_int_equal(half.tables, whole.tables);
                else if (cases[c].kind != CHAIN)
                    assert_true(half.tables < whole.tables - 2 * l.nW + 2 * 130 * 4 + 64);
                free(y);
                free(z);
                layer_free(&l);
                layer_free(&rounded);
            }
}

/* int8 weights of matrix-vector products: each result is, within the rounding errors of its sum, that of weights rounded to
   multiples of a scale for each row, 1/127 of its largest; an infinite weight, and a second row of x, leave float32. */
static void test_int8(void **state)
{
    static const int32_t cases[][3] = {{1, 1, 1}, {1, 40, 130}, {1, 7, 64}, {1, 33, 100}, {1, 9, 16}, {1, 9, 48}, {2, 40, 130}};
    (void)state;
    for (uint32_t c = 0; c < COUNT(cases); c++)
        for (uint32_t i = 0; nnrt_cpu_set(i) != NULL; i++)
            for (uint32_t large = 0; large < 2; large++) {
                const int32_t k = cases[c][1];
                const bool small = packs_small(nnrt_cpu_set(i)) && cases[c][0] == 1 && large == 0;
                layer l = layer_of(FULL, cases[c][0], k, cases[c][2], 1, large > 0 ? INFINITY : 0, false);
                nnrt_session_memory int8, whole;
                float *x = made_up(l.nX, 15), *y, *z;
                char name[32];
                snprintf(name, sizeof(name), "cpu-%s", nnrt_cpu_set(i));
                y = layer_run(&l, name, "int8", NULL, &int8);
                z = layer_run(&l, name, NULL, NULL, &whole);
                if (!small && (memcmp(y, z, l.nY * sizeof(float)) != 0 || int8.tables != whole.tables))
                    fail_msg("case %u on %s, %u: not as float32", c, name, large);
                for (size_t n = 0; n < l.nY && small; n++) {
                    const float *w = l.w + n * (size_t)k;
                    double most = 0, sum = (double)l.bias[n], all = fabs(sum);
                    for (int32_t j = 0; j < k; j++)
                        most = fmax(most, fabs((double)w[j]));
                    for (int32_t j = 0; j < k; j++) {
                        const double q = round((double)w[j] / (double)((float)most / 127.0f)), part = (double)x[j] * q * most / 127;
                        sum += part;
                        all += fabs(part);
                    }
                    if (fabs((double)y[n] - sum) > all * (k + 6) * 0x1p-24)
                        fail_msg("case %u on %s: y[%u] is %.9g, expected %.9g", c, name, (unsigned)n, (double)y[n], sum);
                }
                if (small)
                    assert_true(int8.tables < whole.tables - 3 * l.nW + 8 * 130 * 4 + 64);
                free(x);
                free(y);
                free(z);
                layer_free(&l);
            }
}

/* Of a large layer the packed bytes halve, and its results are within the bound that the header states of exact sums. */
static void test_half_size(void **state)
{
    layer l = layer_of(FULL, 1, 512, 512, 1, 0, false);
    nnrt_session_memory half, whole;
    float *y = layer_run(&l, "cpu", "half", NULL, &half), *z = layer_run(&l, "cpu", NULL, NULL, &whole);
    float *x = made_up(l.nX, 15);
    const size_t packed = l.nW * sizeof(float);
    bool rounded = false;
    (void)state;
    if (!packs_small(nnrt_cpu_set(0)))
        skip();
    assert_in_range(whole.tables - half.tables, packed / 2 - 4096, packed / 2);
    assert_in_range(whole.total - half.total, packed / 2 - 4096, packed / 2);
    for (size_t i = 0; i < l.nY; i++) {
        double sum = (double)l.bias[i], all = fabs(sum), sumX = 0;
        for (size_t k = 0; k < 512; k++) {
            sum += (double)x[k] * (double)l.w[i * 512 + k];
            all += fabs((double)x[k] * (double)l.w[i * 512 + k]);
            sumX += fabs((double)x[k]);
        }
        assert_true(fabs((double)y[i] - sum) <= all * (0x1p-11 + 1.01 * 513 * 0x1p-24) + sumX * 0x1p-25);
        rounded = rounded || y[i] != z[i];
    }
    assert_true(rounded);
    free(x);
    free(y);
    free(z);
    layer_free(&l);
}

/* Weights of half precision are restored from a model cache, and from a file next to the model; sessions without them use none
   of these. */
static void test_half_kept(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 4; round++) {
        const uint32_t way = round % 2;
        layer l = round < 2 ? layer_of(CONV, 9, 16, 40, 3, 0, false) : cells_of(7, 33);
        nnrt_session_desc desc;
        nnrt_cache *c = way == 0 ? cache_from(NULL, 0) : cache_in_memory(), *again = NULL;
        NNRT_Model *m = l.model;
        uint8_t *data = NULL;
        size_t bytes = 0;
        float *y[3];
        for (uint32_t i = 0; i < 3; i++) { /* packed, taken back, without float16 */
            float *x = made_up(l.nX, 15);
            nnrt_session *s = NULL;
            nnrt_error e;
            nnrt_io in = nnrt_io_make(x, l.nX * sizeof(float)), out;
            memset(&desc, 0, sizeof(desc));
            memset(&e, 0, sizeof(e));
            y[i] = (float *)malloc(l.nY * sizeof(float));
            out = nnrt_io_make(y[i], l.nY * sizeof(float));
            desc.device = "cpu";
            desc.enableFloat16 = i < 2;
            desc.cache = i == 0 ? c : again;
            if (nnrt_session_create(&s, m, &desc, &e) != NNRT_SUCCESS)
                fail_msg("%s", e.message);
            assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
            nnrt_session_destroy(s);
            free(x);
            assert_int_equal(nnrt_cache_get_state(desc.cache)->restored, i == 1);
            if (i == 0) {
                data = way == 0 ? cached(c, &bytes) : saved(m, c, &bytes);
                m = way == 0 ? m : loaded(data, bytes);
                again = way == 0 ? cache_from(data, bytes) : cache_in_memory();
            }
        }
        assert_memory_equal(y[0], y[1], l.nY * sizeof(float));
        assert_memory_not_equal(y[0], y[2], l.nY * sizeof(float));
        if (way == 1)
            nnrt_model_destroy(m);
        nnrt_cache_destroy(c);
        nnrt_cache_destroy(again);
        free(data);
        for (uint32_t i = 0; i < 3; i++)
            free(y[i]);
        layer_free(&l);
    }
}

static int add_sets(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; nnrt_cpu_set(i) != NULL; i++)
        (void)nnrt_cpu_register(nnrt_cpu_set(i), NULL);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_half, add_sets), cmocka_unit_test(test_int8), cmocka_unit_test(test_half_size), cmocka_unit_test(test_half_kept),
        cmocka_unit_test(test_second_start), cmocka_unit_test(test_second_start_large),
        cmocka_unit_test(test_second_start_dynamic), cmocka_unit_test(test_missed), cmocka_unit_test(test_restore_memory),
        cmocka_unit_test(test_blocks), cmocka_unit_test(test_shared_constant),
        cmocka_unit_test(test_taken),     cmocka_unit_test(test_damage), cmocka_unit_test(test_others),
        cmocka_unit_test(test_own_model), cmocka_unit_test(test_unread),
        cmocka_unit_test(test_optimized), cmocka_unit_test(test_buffer), cmocka_unit_test(test_shared),
        cmocka_unit_test(test_key),       cmocka_unit_test(test_table), cmocka_unit_test(test_export_fails),
    };
    return cmocka_run_group_tests(tests, add_device, NULL);
}
