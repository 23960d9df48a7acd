/* Cost of a file: importing and optimizing it take memory and time in proportion to its size, whatever its contents.
   The files come from small generators and, damaged, from the fuzzer's corpus. A counting allocator reports peaks; the
   time of a file is compared with a file of the same kind and four times the size. Run from the root of the repository,
   or with NNRT_TEST_ROOT set to it. */
#define _XOPEN_SOURCE 700
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"

/* ---- an allocator that counts ---- */

typedef struct counter {
    size_t live, peak;
    size_t failsAt; /* the allocation with this number, from 1 on; 0: none */
} counter;

static void *counter_alloc(void *user, size_t bytes, size_t alignment)
{
    counter *c = (counter *)user;
    void *block = NULL;
    if (c->failsAt > 0 && --c->failsAt == 0)
        return NULL;
    if (bytes > ((size_t)1 << 30) || posix_memalign(&block, alignment, bytes) != 0)
        return NULL;
    c->live += bytes;
    c->peak = c->live > c->peak ? c->live : c->peak;
    return block;
}

static void counter_free(void *user, void *block, size_t bytes)
{
    ((counter *)user)->live -= bytes;
    free(block);
}

static nnrt_allocator counter_allocator(counter *c)
{
    nnrt_allocator a;
    memset(c, 0, sizeof(*c));
    a.alloc = counter_alloc;
    a.free = counter_free;
    a.user = c;
    return a;
}

/* Processor time that no case comes near, as the longest takes a tenth of a second: more means a hang. */
#define HANGS 60

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* ---- ONNX files ---- */

/* A protobuf message under construction; it grows. */
typedef struct message {
    uint8_t *data;
    size_t size, room;
} message;

static void put(message *m, const void *data, size_t size)
{
    if (m->size + size > m->room) {
        m->room = 2 * (m->size + size) + 64;
        m->data = (uint8_t *)realloc(m->data, m->room);
        assert_non_null(m->data);
    }
    if (size > 0)
        memcpy(m->data + m->size, data, size);
    m->size += size;
}

#include "../fuzz/corpus.h"
#include "asan.h"
#include "protobuf.h"

/* Appends the part to m, and empties the part. */
static void put_part(message *m, uint32_t field, message *part)
{
    put_bytes(m, field, part->data, part->size);
    free(part->data);
    memset(part, 0, sizeof(*part));
}

/* A float32 ValueInfoProto, as input (11) or output (12) of the graph. */
static void put_value(message *g, uint32_t field, const char *name, const int64_t *dims, size_t rank)
{
    message m = {NULL, 0, 0}, type = m, tensor = m, shape = m, dim = m;
    for (size_t i = 0; i < rank; i++) {
        put_int(&dim, 1, dims[i]);
        put_part(&shape, 1, &dim);
    }
    put_int(&tensor, 1, NNRT_ONNX_FLOAT);
    put_part(&tensor, 2, &shape);
    put_part(&type, 1, &tensor);
    put_text(&m, 1, name);
    put_part(&m, 2, &type);
    put_part(g, field, &m);
}

/* A node without attributes, or with one integer; inputs with spaces between them. */
static void put_node(message *g, const char *op, const char *inputs, const char *output, const char *attribute,
                     int64_t value)
{
    message m = {NULL, 0, 0}, a = m;
    while (*inputs != '\0') {
        const size_t n = strcspn(inputs, " ");
        put_bytes(&m, 1, inputs, n);
        inputs += n + (inputs[n] == ' ');
    }
    put_text(&m, 2, output);
    put_text(&m, 4, op);
    if (attribute != NULL) {
        put_text(&a, 1, attribute);
        put_int(&a, 3, value);
        put_int(&a, 20, NNRT_ONNX_ATTRIBUTE_INT);
        put_part(&m, 5, &a);
    }
    put_part(g, 1, &m);
}

/* A constant of int64 or float32. */
static void put_constant(message *g, const char *name, int32_t type, const void *data, size_t count, bool scalar)
{
    message m = {NULL, 0, 0};
    if (!scalar)
        put_int(&m, 1, (int64_t)count);
    put_int(&m, 2, type);
    put_text(&m, 8, name);
    put_bytes(&m, 9, data, count * (type == NNRT_ONNX_INT64 ? 8 : 4));
    put_part(g, 5, &m);
}

/* The graph, with an input x of dims and y = x + r, becomes a model. */
static message model_of(message *g)
{
    static const int64_t one = 1;
    message m = {NULL, 0, 0}, opset = m;
    put_value(g, 11, "x", &one, 1);
    put_value(g, 12, "y", &one, 1);
    put_int(&opset, 2, 17);
    put_int(&m, 1, 8);
    put_part(&m, 7, g);
    put_part(&m, 8, &opset);
    return m;
}

/* Imports and optimizes the file. Whether it succeeds or not, memory stays within the budget, the allocator is the
   caller's again, and nothing leaks. */
static NNRT_ReturnCode import(const message *m, nnrt_onnx_desc *desc, nnrt_error *e, size_t *peak)
{
    counter c;
    nnrt_allocator a = counter_allocator(&c);
    NNRT_Model *model = NULL;
    nnrt_onnx_desc none;
    NNRT_ReturnCode code;
    double start = seconds();
    memset(&none, 0, sizeof(none));
    memset(e, 0, sizeof(*e));
    desc = desc != NULL ? desc : &none;
    desc->allocator = &a;
    code = nnrt_onnx_load_memory(&model, m->data, m->size, desc, e);
    nnrt_model_destroy(model);
    assert_int_equal(c.live, 0);
    if (desc->budget == 0)
        assert_true(c.peak <= 64 * m->size + ((size_t)1 << 20));
    assert_true(seconds() - start < HANGS);
    if (peak != NULL)
        *peak = c.peak;
    return code;
}

/* ---- memory ---- */

/* Import fails with a message that states the limit, and how to raise it. */
static void expect_refused(message *g, NNRT_ReturnCode expected)
{
    message m = model_of(g);
    nnrt_error e;
    NNRT_ReturnCode code = import(&m, NULL, &e, NULL);
    char limit[64];
    snprintf(limit, sizeof(limit), "more than %zu %s", 64 * m.size + (expected == NNRT_TIME_OUT ? 1u << 24 : 1u << 20),
             expected == NNRT_TIME_OUT ? "elements" : "bytes");
    if (code != expected || strstr(e.message, limit) == NULL || strstr(e.message, "nnrt_onnx_desc.budget") == NULL)
        fail_msg("%s: '%s', expected %s with '%s'", nnrt_code_name(code), e.message, nnrt_code_name(expected), limit);
    free(m.data);
}

/* c0 of 16384 floats, doubled `times` times: without a budget 659 bytes took 4 GB. */
static void put_doubled(message *g, int times, int axis)
{
    static const int64_t dims[2] = {128, 128};
    const int64_t line = 16384;
    char in[16], both[32], out[16];
    put_constant(g, "s", NNRT_ONNX_INT64, axis == 0 ? &line : dims, axis == 0 ? 1 : 2, false);
    put_node(g, "ConstantOfShape", "s", "c0", NULL, 0);
    for (int i = 0; i < times; i++) {
        snprintf(in, sizeof(in), "c%d", i);
        snprintf(both, sizeof(both), "%s %s", in, in);
        snprintf(out, sizeof(out), "c%d", i + 1);
        put_node(g, "Concat", both, out, "axis", axis);
    }
}

static void test_doubled_constants(void **state)
{
    message g = {NULL, 0, 0};
    (void)state;
    for (int times = 6; times <= 17; times += 11) {
        char last[16];
        put_doubled(&g, times, 0);
        snprintf(last, sizeof(last), "c%d", times);
        put_node(&g, "ReduceSum", last, "r", NULL, 0);
        put_node(&g, "Add", "x r", "y", NULL, 0);
        expect_refused(&g, NNRT_OUT_OF_MEMORY);
    }
}

/* Many results, each in proportion to its operands. */
static void test_many_constants(void **state)
{
    message g = {NULL, 0, 0};
    char in[16] = "c1", out[16];
    (void)state;
    put_doubled(&g, 1, 0);
    for (int i = 0; i < 40; i++) {
        snprintf(out, sizeof(out), "d%d", i);
        put_node(&g, i % 2 ? "Neg" : "Relu", in, out, NULL, 0);
        memcpy(in, out, sizeof(in));
    }
    put_node(&g, "ReduceSum", in, "r", NULL, 0);
    put_node(&g, "Add", "x r", "y", NULL, 0);
    expect_refused(&g, NNRT_OUT_OF_MEMORY);
}

/* An operator that reads the indices directly needs no table. */
static void test_no_index_tables(void **state)
{
    static const int64_t square[2] = {8000, 8000};
    message g = {NULL, 0, 0}, m;
    nnrt_error e;
    (void)state;
    put_value(&g, 11, "p", square, 2);
    put_value(&g, 11, "q", square, 2);
    put_node(&g, "Cast", "q", "i", "to", NNRT_ONNX_INT64);
    put_node(&g, "GatherElements", "p i", "z", "axis", 0);
    put_node(&g, "Add", "x z", "y", NULL, 0);
    m = model_of(&g);
    if (import(&m, NULL, &e, NULL) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    free(m.data);
}

/* Small results of much work: products of constants, of which each fits the budget of bytes. */
static void test_work(void **state)
{
    message g = {NULL, 0, 0};
    char out[16];
    (void)state;
    put_doubled(&g, 0, 1);
    for (int i = 0; i < 20; i++) { /* 128 x 128 x 128 multiplications, the result is dropped again */
        snprintf(out, sizeof(out), "m%d", i);
        put_node(&g, "MatMul", "c0 c0", out, NULL, 0);
    }
    put_node(&g, "ReduceSum", "m19", "r", NULL, 0);
    put_node(&g, "Add", "x r", "y", NULL, 0);
    expect_refused(&g, NNRT_TIME_OUT);
}

/* With a larger budget these files are imported, and the results are right. */
static void test_larger_budget(void **state)
{
    message g = {NULL, 0, 0}, m;
    nnrt_onnx_desc desc;
    nnrt_error e;
    size_t peak;
    (void)state;
    put_doubled(&g, 6, 0);
    put_node(&g, "ReduceSum", "c6", "r", NULL, 0);
    put_node(&g, "Add", "x r", "y", NULL, 0);
    m = model_of(&g);
    memset(&desc, 0, sizeof(desc));
    desc.budget = 4;
    assert_int_equal(import(&m, &desc, &e, &peak), NNRT_OUT_OF_MEMORY);
    assert_true(peak <= 4 * (64 * m.size + ((size_t)1 << 20)));
    assert_non_null(strstr(e.message, "nnrt_onnx_desc.budget 5"));
    desc.budget = 16;
    if (import(&m, &desc, &e, &peak) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_true(peak > ((size_t)4 << 20)); /* c6 has 4 MiB */
    free(m.data);
}

/* Ordinary files are within the budget: long chains of nodes with only short names. */
static void test_plain_files(void **state)
{
    static const char *const ops[] = {"Relu", "Sigmoid", "Sqrt", "Transpose", "Identity", "Add"};
    (void)state;
    for (size_t k = 0; k < sizeof(ops) / sizeof(ops[0]); k++) {
        message g = {NULL, 0, 0}, m;
        char in[32] = "x", both[64], out[32];
        nnrt_error e;
        for (int i = 0; i < 5000; i++) {
            snprintf(out, sizeof(out), "v%05x", (unsigned)i);
            snprintf(both, sizeof(both), "%s%s", in, k == 5 ? " x" : "");
            put_node(&g, ops[k], both, i == 4999 ? "y" : out, NULL, 0);
            memcpy(in, out, sizeof(in));
        }
        m = model_of(&g);
        if (import(&m, NULL, &e, NULL) != NNRT_SUCCESS)
            fail_msg("%s: %s", ops[k], e.message);
        free(m.data);
    }
}

/* Imports a file 60 times, with one more byte of it changed each time. */
static void damage(void *user, uint8_t *data, size_t size)
{
    uint32_t *random = (uint32_t *)user;
    message m = {data, size, 0};
    nnrt_error e;
    for (int i = 0; i < 60 && size > 0; i++) {
        (void)import(&m, NULL, &e, NULL);
        *random = *random * 1664525u + 1013904223u;
        data[(*random >> 8) % size] = (uint8_t)(*random >> 24);
    }
}

/* Every file of the corpus, whole and with bytes of it changed. */
static void test_damaged_corpus(void **state)
{
    uint32_t random = 1;
    (void)state;
    assert_true(corpus_each("onnx", damage, &random) >= 100);
}

/* ---- files with external data ---- */

/* The budget grows by the size of the file with external data once, however often and by whatever name it is read. */
static void test_external_files(void **state)
{
    static const int64_t count = 262144; /* 1 MiB */
    char folder[] = "budget_XXXXXX", path[128];
    message g = {NULL, 0, 0}, m;
    nnrt_onnx_desc desc;
    nnrt_error e;
    FILE *f;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/w.bin", folder);
    f = fopen(path, "wb");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(truncate(path, (off_t)count * 4), 0);
    snprintf(path, sizeof(path), "%s/model.onnx", folder);
    memset(&desc, 0, sizeof(desc));
    desc.path = path;
    for (int n = 1; n <= 100; n += 99) {
        char sum[1024] = "x";
        for (int i = 0; i < n; i++) {
            message t = {NULL, 0, 0}, entry = t;
            char name[16], location[256] = "";
            snprintf(name, sizeof(name), "w%d", i);
            for (int k = 0; k < i; k++)
                strcat(location, "./");
            strcat(location, "w.bin");
            put_int(&t, 1, count);
            put_int(&t, 2, NNRT_ONNX_FLOAT);
            put_text(&t, 8, name);
            put_text(&entry, 1, "location");
            put_text(&entry, 2, location);
            put_part(&t, 13, &entry);
            put_int(&t, 14, 1);
            put_part(&g, 5, &t);
            strcat(strcat(sum, " "), name);
        }
        put_node(&g, "Sum", sum, "y", NULL, 0);
        m = model_of(&g);
        {
            counter c;
            nnrt_allocator a = counter_allocator(&c);
            NNRT_Model *model = NULL;
            NNRT_ReturnCode code;
            memset(&e, 0, sizeof(e));
            desc.allocator = &a;
            code = nnrt_onnx_load_memory(&model, m.data, m.size, &desc, &e);
            nnrt_model_destroy(model);
            assert_int_equal(c.live, 0);
            assert_true(c.peak <= 64 * (m.size + (size_t)count * 4) + ((size_t)1 << 20));
            assert_int_equal(code, n == 1 ? NNRT_SUCCESS : NNRT_OUT_OF_MEMORY);
        }
        free(m.data);
    }
    snprintf(path, sizeof(path), "%s/w.bin", folder);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* ---- memory of weights ---- */

/* Floats around `middle`, as raw_data or as packed float_data. */
static void put_floats(message *g, const char *name, const int64_t *dims, size_t rank, float middle, float width,
                       bool raw)
{
    uint32_t seed = (uint32_t)g->size;
    message m = {NULL, 0, 0}, data = m;
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) {
        put_int(&m, 1, dims[i]);
        count *= (size_t)dims[i];
    }
    for (size_t i = 0; i < count; i++) {
        const float v = middle + width * ((float)((seed = seed * 1664525u + 1013904223u) >> 20) / 2048.0f - 1.0f);
        uint8_t bytes[4];
        uint32_t bits;
        memcpy(&bits, &v, 4);
        for (uint32_t k = 0; k < 4; k++)
            bytes[k] = (uint8_t)(bits >> (8 * k));
        put(&data, bytes, 4);
    }
    put_int(&m, 2, NNRT_ONNX_FLOAT);
    put_text(&m, 8, name);
    put_part(&m, raw ? 9 : 4, &data);
    put_part(g, 5, &m);
}

/* The graph with an input x and an output y becomes a file. */
static message weights_model(message *g, const int64_t *x, size_t rank)
{
    message m = {NULL, 0, 0}, opset = m;
    put_value(g, 11, "x", x, rank);
    put_value(g, 12, "y", x, 0);
    put_int(&opset, 2, 17);
    put_int(&m, 1, 8);
    put_part(&m, 7, g);
    put_part(&m, 8, &opset);
    return m;
}

/* Conv, BatchNormalization and Relu so often, as in ResNet; the last axis ends with 1. */
static message conv_network(int layers, int64_t channels, bool raw)
{
    static const char *const parts[4] = {"scale", "offset", "mean", "variance"};
    const int64_t x[4] = {1, channels, 2 * layers + 1, 2 * layers + 1}, w[4] = {channels, channels, 3, 3};
    message g = {NULL, 0, 0};
    char in[16] = "x", out[16], list[80], name[32];
    for (int i = 0; i < layers; i++) {
        snprintf(name, sizeof(name), "w%.*s%d", i % 4, "...", i); /* at other places in the file's words */
        put_floats(&g, name, w, 4, 0, 1 / (float)channels, raw);
        snprintf(list, sizeof(list), "%s %s", in, name);
        snprintf(out, sizeof(out), "c%d", i);
        put_node(&g, "Conv", list, out, NULL, 0);
        memcpy(list, out, sizeof(out));
        for (int k = 0; k < 4; k++) {
            snprintf(name, sizeof(name), "%s%d", parts[k], i);
            put_floats(&g, name, &channels, 1, 1, 0.5f, raw);
            strcat(strcat(list, " "), name);
        }
        snprintf(out, sizeof(out), "n%d", i);
        put_node(&g, "BatchNormalization", list, out, NULL, 0);
        snprintf(in, sizeof(in), i < layers - 1 ? "r%d" : "y", i);
        put_node(&g, "Relu", out, in, NULL, 0);
    }
    return weights_model(&g, x, 4);
}

/* Runs the model on an input of 1, 2, 3, 1, 2, ... */
static void run_model(const NNRT_Model *model, float *x, size_t nX, float *y, size_t nY)
{
    nnrt_session *session = NULL;
    nnrt_error e;
    nnrt_io io[2];
    memset(&e, 0, sizeof(e));
    for (size_t i = 0; i < nX; i++)
        x[i] = (float)(1 + i % 3);
    io[0] = nnrt_io_make(x, nX * sizeof(*x));
    io[1] = nnrt_io_make(y, nY * sizeof(*y));
    if (nnrt_session_create(&session, model, NULL, &e) != NNRT_SUCCESS ||
        nnrt_run(session, io, 1, io + 1, 1) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_session_destroy(session);
}

static void write_file(const char *path, const message *m)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(m->data, 1, m->size, f), m->size);
    assert_int_equal(fclose(f), 0);
}

static void expect_close(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(a[i] - b[i] <= 1e-4f * (1 + b[i]) && b[i] - a[i] <= 1e-4f * (1 + b[i])))
            fail_msg("element %u is %g, expected %g", (unsigned)i, (double)a[i], (double)b[i]);
}

/* A file of large weights, which the import transposes and scales, needs 2.1 times its bytes during the import, and 1.1
   times afterwards. */
static void test_weights(void **state)
{
    enum { LAYERS = 6, CHANNELS = 96, X = CHANNELS * 13 * 13 };
    static float x[X], y[4][CHANNELS];
    int positive = 0;
    char folder[] = "budget_XXXXXX", path[128];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/model.onnx", folder);
    for (int k = 0; k < 4; k++) {
        const message m = conv_network(LAYERS, CHANNELS, k % 2 == 0);
        counter c;
        nnrt_allocator a = counter_allocator(&c);
        NNRT_Model *model = NULL;
        nnrt_onnx_desc desc;
        nnrt_error e;
        memset(&e, 0, sizeof(e));
        memset(&desc, 0, sizeof(desc));
        write_file(path, &m);
        desc.allocator = &a;
        desc.no_optimize = k >= 2;
        if (nnrt_onnx_load(&model, path, &desc, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        if (c.peak > m.size / 10 * 21 || c.live > m.size / 10 * 11)
            fail_msg("file %u: %u bytes at the peak, %u afterwards, of %u", (unsigned)k, (unsigned)c.peak,
                     (unsigned)c.live, (unsigned)m.size);
        run_model(model, x, X, y[k], CHANNELS);
        nnrt_model_destroy(model);
        assert_int_equal(c.live, 0);
        free(m.data);
    }
    assert_memory_equal(y[0], y[1], sizeof(y[0]));
    assert_memory_equal(y[2], y[3], sizeof(y[2]));
    expect_close(y[0], y[2], CHANNELS);
    for (int i = 0; i < CHANNELS; i++)
        positive += y[0][i] > 0.01f;
    assert_true(positive > CHANNELS / 4);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* Two matrix products share a transposed constant, with different scales: neither changes it. */
static void test_shared_weights(void **state)
{
    static const int64_t dims[2] = {128, 160}, x[2] = {2, 160}, columns[1] = {128}, back[2] = {128, 128};
    static float in[2 * 160], y[2][2 * 128];
    (void)state;
    for (int once = 0; once < 2; once++) {
        message g = {NULL, 0, 0}, m;
        put_floats(&g, "w", dims, 2, 0, 0.1f, true);
        put_floats(&g, "v", back, 2, 0, 0.1f, true);
        put_floats(&g, "s", columns, 1, 2, 0.5f, true);
        put_floats(&g, "t", columns, 1, 3, 0.5f, true);
        put_node(&g, "Transpose", "v", "vt", NULL, 0);
        put_node(&g, "Gemm", "x w", "a", "transB", 1);
        put_node(&g, "Gemm", "a vt", "b", "transB", 1);
        put_node(&g, "Mul", "b s", "c", NULL, 0);
        put_node(&g, "Gemm", once ? "c v" : "c vt", "d", "transB", once ? 0 : 1);
        put_node(&g, "Mul", "d t", "y", NULL, 0);
        m = weights_model(&g, x, 2);
        for (int k = 0; k < 2; k++) {
            NNRT_Model *model = NULL;
            nnrt_onnx_desc desc;
            memset(&desc, 0, sizeof(desc));
            desc.no_optimize = k == 1;
            assert_int_equal(nnrt_onnx_load_memory(&model, m.data, m.size, &desc, NULL), NNRT_SUCCESS);
            run_model(model, in, COUNT(in), y[k], COUNT(y[k]));
            nnrt_model_destroy(model);
        }
        for (size_t i = 0; i < COUNT(y[0]); i++)
            if (!(fabsf(y[0][i] - y[1][i]) <= 1e-3f * (1 + fabsf(y[1][i]))))
                fail_msg("element %u is %g, expected %g", (unsigned)i, (double)y[0][i], (double)y[1][i]);
        free(m.data);
    }
}

/* Every allocation of an import of large weights fails once: nothing leaks. */
static void test_weights_no_memory(void **state)
{
    const message m = conv_network(2, 48, true);
    char folder[] = "budget_XXXXXX", path[128];
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    size_t n = 0;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/model.onnx", folder);
    write_file(path, &m);
    while (code == NNRT_OUT_OF_MEMORY) {
        counter c;
        nnrt_allocator a = counter_allocator(&c);
        NNRT_Model *model = NULL;
        nnrt_onnx_desc desc;
        memset(&desc, 0, sizeof(desc));
        desc.allocator = &a;
        c.failsAt = ++n;
        code = nnrt_onnx_load(&model, path, &desc, NULL);
        assert_true((code == NNRT_SUCCESS) == (model != NULL));
        nnrt_model_destroy(model);
        assert_int_equal(c.live, 0);
    }
    assert_int_equal(code, NNRT_SUCCESS);
    assert_true(n > 20);
    free(m.data);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* ---- optimizing ---- */

/* A model that was built or loaded: constants doubled again and again stay nodes, in proportion to the model. */
static void test_optimize(void **state)
{
    static float values[16384];
    static const int32_t count = 16384;
    counter c;
    nnrt_allocator a = counter_allocator(&c);
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_error e;
    uint32_t t, both[2], x;
    const int32_t one = 1;
    size_t before;
    double start = seconds();
    (void)state;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, NULL, &a), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 1, &one);
    t = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_FLOAT32, 1, &count, values, true);
    for (int i = 0; i < 12; i++) {
        both[0] = both[1] = t;
        t = nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_CONCAT, NULL, both, 2);
    }
    both[0] = x;
    both[1] = t;
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ADD_FUSION, NULL, both, 2));
    assert_int_equal(nnrt_builder_finish(b, &m, &e), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    before = c.live;
    c.peak = 0;
    assert_int_equal(nnrt_model_optimize(&m, NULL, &e), NNRT_SUCCESS);
    assert_true(c.peak <= 64 * before + ((size_t)1 << 20)); /* all of it would be 512 MiB */
    assert_true(m->nodes.count > 1);
    assert_true(seconds() - start < HANGS);
    nnrt_model_destroy(m);
    assert_int_equal(c.live, 0);
}

/* ---- work by the number of names ---- */

static uint32_t fnv(uint32_t state, const char *text)
{
    for (; *text != '\0'; text++)
        state = (state ^ (uint8_t)*text) * 16777619u;
    return state;
}

/* 2^k names with equal FNV-1a-32 hashes: k pairs of strings, each pair with the same hash state after it; a name has
   one string of every pair. A search finds them in seconds. */
#define PAIRS 14
static const char pairs[PAIRS][2][6] = {
    {"glbpp", "yaczf"}, {"tkexp", "nxfrf"}, {"tkexp", "nxfrf"}, {"tkexp", "nxfrf"},
    {"tkexp", "nxfrf"}, {"tkexp", "nxfrf"}, {"tkexp", "nxfrf"}, {"tkexp", "nxfrf"},
    {"tkexp", "nxfrf"}, {"tkexp", "nxfrf"}, {"tkexp", "nxfrf"}, {"tkexp", "nxfrf"},
    {"tkexp", "nxfrf"}, {"tkexp", "nxfrf"},
};

static void check_pairs(void)
{
    uint32_t state = 2166136261u;
    for (int k = 0; k < PAIRS; k++) {
        assert_string_not_equal(pairs[k][0], pairs[k][1]);
        assert_int_equal(fnv(state, pairs[k][0]), fnv(state, pairs[k][1]));
        state = fnv(state, pairs[k][0]);
    }
}

/* Comparisons of texts so far. Timing does not decide whether a test passes, so the tests below count work instead:
   ASan's runtime library calls these hooks in every strcmp and memcmp. A program without it skips them. */
static size_t comparisons;
#ifdef WITH_ASAN
#define expect_hooks()
#else
#define expect_hooks() skip()
#endif

void __sanitizer_weak_hook_strcmp(void *pc, const char *a, const char *b, int result);
void __sanitizer_weak_hook_strcmp(void *pc, const char *a, const char *b, int result)
{
    (void)pc, (void)a, (void)b, (void)result;
    comparisons++;
}

void __sanitizer_weak_hook_memcmp(void *pc, const void *a, const void *b, size_t size, int result);
void __sanitizer_weak_hook_memcmp(void *pc, const void *a, const void *b, size_t size, int result)
{
    (void)pc, (void)a, (void)b, (void)size, (void)result;
    comparisons++;
}

/* Comparisons of an import. */
static size_t import_comparisons(const message *m, nnrt_onnx_desc *desc)
{
    const size_t before = comparisons;
    nnrt_error e;
    if (import(m, desc, &e, NULL) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    return comparisons - before;
}

/* Four times the names need little more than four times the comparisons (n log n); without an order of the names they
   would need sixteen times as many. */
static void expect_in_proportion(size_t names, size_t small, size_t large)
{
    assert_true(small > names / 4); /* the hooks are called */
    if (large > 6 * small)
        fail_msg("%zu names take %zu comparisons, a quarter of them %zu", names, large, small);
}

static size_t colliding_names(int k)
{
    message g = {NULL, 0, 0}, m;
    size_t took;
    for (uint32_t n = 0; n < 1u << k; n++) {
        char name[5 * PAIRS + 1] = "";
        for (int i = 0; i < k; i++)
            strcat(name, pairs[i][(n >> i) & 1]);
        put_node(&g, "Sigmoid", "x", name, NULL, 0);
    }
    put_node(&g, "Relu", "x", "y", NULL, 0);
    m = model_of(&g);
    took = import_comparisons(&m, NULL);
    free(m.data);
    return took;
}

/* Names with equal hashes, as a file could choose them to slow a hash table down. */
static void test_names_that_collide(void **state)
{
    size_t small;
    (void)state;
    check_pairs();
    expect_hooks();
    small = colliding_names(PAIRS - 2);
    expect_in_proportion((size_t)1 << PAIRS, small, colliding_names(PAIRS));
}

/* Inputs whose shapes the caller gives. */
static size_t described_inputs(uint32_t count)
{
    static const int64_t two = 2;
    nnrt_onnx_input *inputs = (nnrt_onnx_input *)calloc(count, sizeof(*inputs));
    char(*names)[16] = (char(*)[16])calloc(count, sizeof(*names));
    message g = {NULL, 0, 0}, m;
    nnrt_onnx_desc desc;
    size_t took;
    assert_true(inputs != NULL && names != NULL);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "i%u", (unsigned)i);
        put_value(&g, 11, names[i], &two, 1);
        inputs[i].name = names[i];
        inputs[i].shape.rank = 1;
        inputs[i].shape.dims[0] = 2;
    }
    put_node(&g, "Relu", "x", "y", NULL, 0);
    m = model_of(&g);
    memset(&desc, 0, sizeof(desc));
    desc.inputs = inputs;
    desc.inputCount = count;
    took = import_comparisons(&m, &desc);
    free(m.data);
    free(inputs);
    free(names);
    return took;
}

static void test_described_inputs(void **state)
{
    size_t small;
    (void)state;
    expect_hooks();
    small = described_inputs(1000);
    expect_in_proportion(4000, small, described_inputs(4000));
}

/* The field table of the reader is large enough for every message. */
static void test_rows_of_messages(void **state)
{
    (void)state;
    for (int32_t i = NNRTI_ONNX_MODEL; i < NNRTI_ONNX_MESSAGES; i++)
        assert_true(nnrti_onnx_messages[i].count <= NNRTI_ONNX_ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubled_constants),
        cmocka_unit_test(test_many_constants),
        cmocka_unit_test(test_no_index_tables),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_larger_budget),
        cmocka_unit_test(test_plain_files),
        cmocka_unit_test(test_damaged_corpus),
        cmocka_unit_test(test_external_files),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_shared_weights),
        cmocka_unit_test(test_weights_no_memory),
        cmocka_unit_test(test_optimize),
        cmocka_unit_test(test_names_that_collide),
        cmocka_unit_test(test_described_inputs),
        cmocka_unit_test(test_rows_of_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
