/* Faults that no file, caller or allocator may cause: the findings of the fuzz targets, their corpus, the known kinds
   of hostile models by hand, and out of memory at every allocation in turn. Run from the root of the repository, or
   with NNRT_TEST_ROOT set to it; with the address and undefined behavior sanitizers. */
#define _XOPEN_SOURCE 700
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "inside.h"

#define FUZZ_INCLUDED
#include "corpus.h"
#include "fuzz_builder.c"
#include "fuzz_cache.c"
#include "fuzz_labels.c"
#include "fuzz_mcu.c"
#include "fuzz_metadata.c"
#include "fuzz_nnrt.c"
#include "fuzz_node.c"
#include "fuzz_npy.c"
#include "fuzz_onnx.c"
#include "fuzz_onnx_tensor.c"
#include "fuzz_open.c"
#include "fuzz_pb.c"
#include "fuzz_png.c"
#include "fuzz_run.c"
#include "fuzz_gguf.c"
#include "fuzz_safetensors.c"
#include "fuzz_text.c"
#include "fuzz_chat.c"
#include "fuzz_tflite.c"
#if defined(__linux__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ /* a model goes over as a .nnrt file */
#define REMOTE
#include "fuzz_remote_client.c"
#include "fuzz_remote_server.c"
#endif

static const char *path_of(char *path, size_t size, const char *a, const char *b)
{
    const char *root = getenv("NNRT_TEST_ROOT");
    snprintf(path, size, "%s%s%s%s%s", root != NULL ? root : "", root != NULL ? "/" : "", a, b[0] != '\0' ? "/" : "",
             b);
    return path;
}

/* ---- invariants of the fuzz targets ---- */

typedef struct target {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
} target;

static const target targets[] = {{"builder", fuzz_builder},
                                 {"nnrt", fuzz_nnrt},
                                 {"node", fuzz_node},
                                 {"onnx", fuzz_onnx},
                                 {"onnx_tensor", fuzz_onnx_tensor},
                                 {"gguf", fuzz_gguf},
                                 {"safetensors", fuzz_safetensors},
                                 {"text", fuzz_text},
                                 {"chat", fuzz_chat},
                                 {"tflite", fuzz_tflite},
                                 {"run", fuzz_run_inputs},
                                 {"npy", fuzz_npy},
                                 {"pb", fuzz_pb},
                                 {"png", fuzz_png},
                                 {"labels", fuzz_labels},
                                 {"metadata", fuzz_metadata_texts},
                                 {"open", fuzz_open},
                                 {"cache", fuzz_cache},
                                 {"mcu", fuzz_mcu},
#ifdef REMOTE
                                 {"remote_client", fuzz_remote_client},
                                 {"remote_server", fuzz_remote_server},
#endif
};

static void replay(void *user, uint8_t *data, size_t size)
{
    (void)((const target *)user)->run(data, size);
}

static void test_corpus(void **state)
{
    assert_true(corpus_each(((const target *)*state)->name, replay, *state) >= 20);
}

/* Every beginning of a few inputs, too: no target's bytes end where they should. */
static void test_short_inputs(void **state)
{
    static uint8_t bytes[64];
    (void)state;
    for (size_t t = 0; t < sizeof(targets) / sizeof(targets[0]); t++)
        for (int fill = 0; fill < 256; fill += 17)
            for (size_t size = 0; size <= sizeof(bytes); size += 7) {
                memset(bytes, fill, sizeof(bytes));
                targets[t].run(bytes, size);
            }
}

/* A copy behind a CAST is dropped: its result, whose type was undeclared, replaced CAST's own, whose type was declared, and
   CAST lost its target type. */
static void test_dropped_copy_keeps_type(void **state)
{
    uint32_t x, y, z;
    int32_t two = 2;
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_error e;
    (void)state;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, NULL, NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_INT32, 1, &two);
    y = nnrt_builder_tensor(b, "y");
    nnrt_builder_declare(b, y, NNRT_DATA_TYPE_FLOAT32, NNRT_RANK_UNKNOWN, NULL);
    nnrt_builder_node(b, NULL, NNRT_NODE_TYPE_CAST, NULL, &x, 1, &y, 1);
    z = nnrt_builder_op(b, "z", NNRT_NODE_TYPE_ACTIVATION, NULL, &y, 1);
    nnrt_builder_output(b, z);
    assert_int_equal(nnrt_builder_finish(b, &m, &e), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_model_optimize(&m, NULL, &e), NNRT_SUCCESS);
    assert_int_equal(m->nodes.count, 1);
    assert_int_equal(fuzz_model_run(m, NULL, 0, NULL), NNRT_SUCCESS);
    nnrt_model_destroy(m);
}

/* A division of constants by 0, a fault of the run: optimization failed for a model that can be prepared. */
static void test_constants_that_fail(void **state)
{
    enum { COUNT = 2000 }; /* so many are divided in a run, and not when it is prepared */
    static int32_t values[COUNT], x[COUNT], y[COUNT];
    const int32_t count = COUNT;
    uint32_t in[2];
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_error e;
    fuzz_memory memory;
    (void)state;
    memset(&e, 0, sizeof(e));
    memset(&memory, 0, sizeof(memory));
    assert_int_equal(nnrt_builder_create(&b, NULL, NULL), NNRT_SUCCESS);
    in[0] = in[1] = nnrt_builder_constant(b, "values", NNRT_DATA_TYPE_INT32, 1, &count, values, true);
    in[0] = nnrt_builder_op(b, "ratio", NNRT_NODE_TYPE_DIV_FUSION, NULL, in, 2);
    in[1] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_INT32, 1, &count);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2));
    assert_int_equal(nnrt_builder_finish(b, &m, &e), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    for (int optimized = 0; optimized < 2; optimized++) {
        nnrt_session *s = NULL;
        assert_int_equal(nnrt_session_create(&s, m, NULL, &e), NNRT_SUCCESS);
        assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_INVALID_PARAMETER);
        assert_non_null(strstr(nnrt_session_error(s), "element 0 of the divisor is 0, which int32 cannot divide by"));
        nnrt_session_destroy(s);
        assert_int_equal(nnrt_model_optimize(&m, NULL, &e), NNRT_SUCCESS);
        assert_int_equal(e.code, NNRT_SUCCESS);
    }
    fuzz_model_both(&m, &memory, NULL);
    nnrt_model_destroy(m);
}

/* y[0] absent, y[1] a result: a piece of SPLIT, or the indices of MAX_POOL without the largest elements. Both wrote to
   where nothing was. Runs on the inputs 0, 1, 2, ...; y gets y[1]. */
static void absent_result(NNRT_NodeType type, const void *attr, int32_t rank, const int32_t *dims, void *y,
                          size_t bytes)
{
    static float values[16];
    uint32_t x, out[2];
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_session *s = NULL;
    nnrt_error e;
    nnrt_io in, last = nnrt_io_make(y, bytes);
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, NULL, NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, rank, dims);
    nnrt_builder_format(b, x, rank == 4 ? NNRT_FORMAT_NHWC : NNRT_FORMAT_NONE);
    out[0] = NNRT_NO_TENSOR;
    out[1] = nnrt_builder_tensor(b, "y");
    nnrt_builder_node(b, NULL, type, attr, &x, 1, out, 2);
    nnrt_builder_output(b, out[1]);
    assert_int_equal(nnrt_builder_finish(b, &m, &e), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(fuzz_model_run(m, NULL, 0, NULL), NNRT_SUCCESS);
    if (nnrt_session_create(&s, m, NULL, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    for (int i = 0; i < 16; i++)
        values[i] = (float)i;
    in = nnrt_io_make(values, nnrt_session_input(s, 0).bytes);
    assert_int_equal(nnrt_run(s, &in, 1, &last, 1), NNRT_SUCCESS);
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);
}

static void test_absent_results(void **state)
{
    static const int64_t pieces[] = {1, 2};
    static const int32_t line[] = {3};
    NNRT_Split split;
    float y[2] = {-1, -1};
    (void)state;
    nnrt_attr_defaults(nnrt_op_named("SPLIT")->attr, &split);
    split.outputNum = 2;
    split.sizeSplits = nnrt_int64_list(pieces, 2);
    absent_result(NNRT_NODE_TYPE_SPLIT, &split, 1, line, y, sizeof(y));
    assert_true(y[0] == 1.0f && y[1] == 2.0f);
}

/* An ONNX Pad that takes away INT64_MIN elements: the number has no opposite. */
static void test_pad_of_least_number(void **state)
{
    static const uint8_t file[] = {
        0x08, 0x08, 0x3a, 0x72, 0x0a, 0x22, 0x0a, 0x01, 0x61, 0x0a, 0x01, 0x62, 0x12, 0x01, 0x79, 0x22, 0x03,
        0x50, 0x61, 0x64, 0x2a, 0x12, 0x0a, 0x04, 0x6d, 0x6f, 0x64, 0x65, 0x22, 0x07, 0x72, 0x65, 0x66, 0x6c,
        0x65, 0x63, 0x74, 0xa0, 0x01, 0x03, 0x12, 0x01, 0x67, 0x2a, 0x29, 0x08, 0x04, 0x10, 0x07, 0x42, 0x01,
        0x62, 0x4a, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x01, 0x00, 0x00,
        0x00, 0x5a, 0x13, 0x0a, 0x01, 0x61, 0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a, 0x02, 0x08,
        0x02, 0x0a, 0x02, 0x08, 0x03, 0x62, 0x09, 0x0a, 0x01, 0x79, 0x12, 0x04, 0x0a, 0x00, 0x10, 0x11};
    NNRT_Model *m = NULL;
    nnrt_error e;
    (void)state;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_onnx_load_memory(&m, file, sizeof(file), NULL, &e), NNRT_INVALID_PARAMETER);
    fuzz_check_error(NNRT_INVALID_PARAMETER, &e, "nnrt_onnx_load_memory");
    assert_null(m);
    fuzz_onnx(file, sizeof(file));
}

/* A builder without a name whose first tensor has no axes: the copy of its dimensions took none, as there was none
   yet, and that counted as memory that had run out. */
static void test_scalar_first(void **state)
{
    uint32_t x;
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_error e;
    (void)state;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, NULL, NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, NULL, NNRT_DATA_TYPE_FLOAT32, 0, NULL);
    nnrt_builder_output(b, nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_SQRT, NULL, &x, 1));
    assert_int_equal(nnrt_builder_finish(b, &m, &e), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(fuzz_model_run(m, NULL, 0, NULL), NNRT_SUCCESS);
    nnrt_model_destroy(m);
}

/* ---- ONNX files by hand ---- */

#define MESSAGE_BYTES 2048
#include "protobuf.h"

static void put_message(message *m, uint32_t field, const message *part)
{
    put_bytes(m, field, part->data, part->size);
}

static message message_make(void)
{
    message m;
    memset(&m, 0, sizeof(m));
    return m;
}

/* TensorProto of float32 with raw data of so many bytes. */
static message tensor_make(const char *name, const int64_t *dims, size_t rank, size_t bytes)
{
    static const uint8_t zeros[64];
    message m = message_make();
    for (size_t i = 0; i < rank; i++)
        put_int(&m, 1, dims[i]);
    put_int(&m, 2, NNRT_ONNX_FLOAT);
    put_text(&m, 8, name);
    put_bytes(&m, 9, zeros, bytes);
    return m;
}

/* ValueInfoProto of float32. */
static message value_make(const char *name, const int64_t *dims, size_t rank)
{
    message m = message_make(), type = message_make(), tensor = message_make(), shape = message_make();
    for (size_t i = 0; i < rank; i++) {
        message dim = message_make();
        put_int(&dim, 1, dims[i]);
        put_message(&shape, 1, &dim);
    }
    put_int(&tensor, 1, NNRT_ONNX_FLOAT);
    put_message(&tensor, 2, &shape);
    put_message(&type, 1, &tensor);
    put_text(&m, 1, name);
    put_message(&m, 2, &type);
    return m;
}

static message node_make(const char *op, const char *a, const char *b, const char *y)
{
    message m = message_make();
    put_text(&m, 1, a);
    if (b != NULL)
        put_text(&m, 1, b);
    put_text(&m, 2, y);
    put_text(&m, 4, op);
    return m;
}

/* A graph with input x of two floats and output y, and the caller's additions; then the model around it. */
static message graph_make(void)
{
    static const int64_t two = 2;
    message g = message_make(), x = value_make("x", &two, 1), y = message_make();
    put_text(&y, 1, "y");
    put_text(&g, 2, "g");
    put_message(&g, 11, &x);
    put_message(&g, 12, &y);
    return g;
}

static message model_make(const message *graph)
{
    message m = message_make(), opset = message_make();
    put_int(&opset, 2, 17);
    put_int(&m, 1, 8);
    put_message(&m, 7, graph);
    put_message(&m, 8, &opset);
    return m;
}

/* Imports the model, optimized, within 256 KiB; an imported model is prepared and run, too. */
static NNRT_ReturnCode import_graph(const message *graph, nnrt_error *e)
{
    message m = model_make(graph);
    fuzz_memory memory;
    nnrt_allocator a = fuzz_allocator(&memory, (size_t)256 << 10);
    nnrt_onnx_desc desc;
    NNRT_Model *model = NULL;
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    memset(e, 0, sizeof(*e));
    desc.allocator = &a;
    code = nnrt_onnx_load_memory(&model, m.data, m.size, &desc, e);
    fuzz_check_error(code, e, "nnrt_onnx_load_memory");
    assert_int_equal(memory.refused, 0);
    assert_true((model != NULL) == (code == NNRT_SUCCESS));
    if (model != NULL)
        code = fuzz_model_run(model, NULL, 0, NULL);
    nnrt_model_destroy(model);
    fuzz_memory_empty(&memory);
    fuzz_onnx(m.data, m.size);
    return code;
}

/* y = x + c, c of these dims with so many bytes of data. */
static NNRT_ReturnCode import_constant(const int64_t *dims, size_t rank, size_t bytes, nnrt_error *e)
{
    message g = graph_make(), n = node_make("Add", "x", "c", "y"), c = tensor_make("c", dims, rank, bytes);
    put_message(&g, 1, &n);
    put_message(&g, 5, &c);
    return import_graph(&g, e);
}

/* The code is this one, and the message has the text. */
static void refused(NNRT_ReturnCode code, const nnrt_error *e, NNRT_ReturnCode expected, const char *text)
{
    if (code != expected || strstr(e->message, text) == NULL)
        fail_msg("%s: '%s', expected %s with '%s'", nnrt_code_name(code), e->message, nnrt_code_name(expected), text);
}

static void test_extents_of_constants(void **state)
{
    static const struct {
        int64_t dims[2];
        size_t rank, bytes;
        NNRT_ReturnCode code;
        const char *text;
    } cases[] = {
        {{2, 0}, 1, 8, NNRT_SUCCESS, ""},
        {{1000000, 0},
         1,
         8,
         NNRT_INVALID_FILE,
         "'c': its dims require 4000000 bytes, which the file does not have"}, /* more than the data */
        {{2, 0}, 1, 12, NNRT_INVALID_FILE, "raw_data has 12 bytes, its dims require 8"},
        {{2, 0}, 1, 7, NNRT_INVALID_FILE, "raw_data has 7 bytes, its dims require 8"},
        {{65536, 65536},
         2,
         0,
         sizeof(size_t) > 4 ? NNRT_INVALID_FILE : NNRT_OUT_OF_MEMORY,
         "constant 'c'"}, /* products that wrap to 0 in 32 and in 64 bits */
        {{(int64_t)1 << 32, (int64_t)1 << 32}, 2, 0, NNRT_INVALID_SHAPE, "size 4294967296 of axis 0 is outside the range of int32"},
        {{(int64_t)1 << 31, (int64_t)1 << 31},
         2,
         0,
         NNRT_INVALID_SHAPE,
         "size 2147483648 of axis 0 is outside the range of int32"}, /* the bytes wrap, the elements do not */
        {{-2, 0}, 1, 8, NNRT_INVALID_FILE, "a dimension is negative"},
        {{INT64_MIN, 0}, 1, 0, NNRT_INVALID_FILE, "a dimension is negative"},
        {{INT64_MAX, 0}, 1, 8, NNRT_INVALID_SHAPE, "size 9223372036854775807 of axis 0 is outside the range of int32"},
        {{-1, -2}, 2, 8, NNRT_INVALID_FILE, "a dimension is negative"}, /* their product is good */
        {{0, INT64_MAX}, 2, 0, NNRT_INVALID_SHAPE, "size 9223372036854775807 of axis 1 is outside the range of int32"},
        {{0x100000002, 0},
         1,
         8,
         NNRT_INVALID_SHAPE,
         "size 4294967298 of axis 0 is outside the range of int32"}, /* 2 in the low 32 bits */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nnrt_error e;
        NNRT_ReturnCode code = import_constant(cases[i].dims, cases[i].rank, cases[i].bytes, &e);
        refused(code, &e, cases[i].code, cases[i].text);
    }
}

static void test_extents_of_inputs(void **state)
{
    static const struct {
        int64_t dims[3];
        NNRT_ReturnCode code;
        const char *text;
    } cases[] = {{{INT32_MAX, INT32_MAX, INT32_MAX}, NNRT_OUT_OF_MEMORY, "its size does not fit"},
                 {{0x100000001, 1, 2}, NNRT_INVALID_SHAPE, "input 'x': size 4294967297 of axis 0 is outside the range of int32"},
                 {{INT64_MAX, 2, 2}, NNRT_INVALID_SHAPE, "size 9223372036854775807 of axis 0 is outside the range of int32"},
                 {{1 << 20, 1 << 20, 1 << 20}, NNRT_OUT_OF_MEMORY, "its size does not fit"},
                 {{-1, 2, 2}, NNRT_INVALID_SHAPE, ""},
                 {{0x7FFFFFFF80000000, 1, 1}, NNRT_INVALID_SHAPE, "size 9223372034707292160 of axis 0 is outside the range of int32"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        message g = message_make(), n = node_make("Relu", "x", NULL, "y"), x = value_make("x", cases[i].dims, 3),
                y = message_make();
        nnrt_error e;
        NNRT_ReturnCode code;
        put_text(&y, 1, "y");
        put_message(&g, 1, &n);
        put_message(&g, 11, &x);
        put_message(&g, 12, &y);
        code = import_graph(&g, &e);
        refused(code, &e, cases[i].code, cases[i].text);
    }
}

static void test_onnx_cycles(void **state)
{
    message g = graph_make(), a = node_make("Add", "x", "b", "y"), b = node_make("Relu", "y", NULL, "b");
    message own = node_make("Add", "x", "y", "y"), h = graph_make();
    nnrt_error e;
    (void)state;
    put_message(&g, 1, &a);
    put_message(&g, 1, &b);
    refused(import_graph(&g, &e), &e, NNRT_INVALID_MODEL, "input 0 is 'y', a result of node 'Add', which depends on this node: the nodes form a cycle");
    put_message(&h, 1, &own);
    refused(import_graph(&h, &e), &e, NNRT_INVALID_MODEL, "input 1 is 'y', a result of node 'Add', which depends on this node: the nodes form a cycle");
}

static void test_onnx_names_twice(void **state)
{
    static const int64_t two = 2, three = 3;
    message a = node_make("Relu", "x", NULL, "y"), b = node_make("Sigmoid", "x", NULL, "y");
    message x = value_make("x", &three, 1), c = tensor_make("c", &two, 1, 8), sum = node_make("Add", "x", "c", "y");
    message over = node_make("Relu", "x", NULL, "x"), g = graph_make();
    nnrt_error e;
    (void)state;
    put_message(&g, 1, &a);
    put_message(&g, 1, &b); /* two nodes make y */
    refused(import_graph(&g, &e), &e, NNRT_INVALID_MODEL, "ONNX node 1 '' (Sigmoid): value 'y' is defined twice");
    g = graph_make();
    put_message(&g, 1, &a);
    put_message(&g, 11, &x); /* two inputs are x */
    refused(import_graph(&g, &e), &e, NNRT_INVALID_MODEL, "value 'x' is defined twice");
    g = graph_make();
    put_message(&g, 1, &sum);
    put_message(&g, 5, &c);
    put_message(&g, 5, &c); /* two initializers are c */
    refused(import_graph(&g, &e), &e, NNRT_INVALID_MODEL, "value 'c' is defined twice");
    g = graph_make();
    put_message(&g, 1, &over); /* a node writes an input */
    put_message(&g, 1, &a);
    refused(import_graph(&g, &e), &e, NNRT_INVALID_MODEL, "ONNX node 0 '' (Relu): value 'x' is defined twice");
}

/* A graph in an attribute in a node in a graph, some hundred times: the message grows at its front. */
static void test_onnx_nesting(void **state)
{
    enum { LEVELS = 3000, ROOM = LEVELS * 20 };
    static uint8_t data[ROOM];
    size_t at = ROOM;
    nnrt_onnx_model *model = NULL;
    nnrt_error e;
    (void)state;
    for (int i = 0; i < LEVELS; i++) {
        static const uint8_t fields[] = {7, 1, 5, 6}; /* ModelProto.graph .node .attribute .g */
        int parts = i == LEVELS - 1 ? 1 : 3;
        for (int k = 0; k < parts; k++) {
            size_t size = ROOM - at;
            uint8_t head[12];
            int n = 0;
            head[n++] = (uint8_t)((i == LEVELS - 1 ? fields[0] : fields[3 - k]) << 3 | 2);
            do
                head[n++] = (uint8_t)((size & 127) | (size > 127 ? 128 : 0));
            while ((size >>= 7) > 0);
            at -= (size_t)n;
            memcpy(data + at, head, (size_t)n);
        }
    }
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_onnx_parse(data + at, ROOM - at, NULL, &model, &e), NNRT_INVALID_FILE);
    assert_null(model);
    assert_non_null(strstr(e.message, "nested deeper than 64 messages"));
    fuzz_onnx(data + at, ROOM - at);
}

/* ---- external data ---- */

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    fclose(f);
}

static int64_t external_elements = 2; /* of the constant that load_external declares */

/* Loads a model in folder/in whose constant is at `location`. 1 MiB of memory is more than enough for it. */
static void load_external(const char *folder, const char *location, const char *offset, const char *length,
                          NNRT_ReturnCode expected, const char *text)
{
    static const char *const keys[] = {"location", "offset", "length"};
    const char *values[3];
    message g = graph_make(), n = node_make("Add", "x", "c", "y"), c = message_make(), m;
    char path[1024];
    NNRT_Model *model = NULL;
    nnrt_onnx_desc desc;
    nnrt_allocator allocator;
    fuzz_memory memory;
    nnrt_error e;
    NNRT_ReturnCode code;
    values[0] = location;
    values[1] = offset;
    values[2] = length;
    put_int(&c, 1, external_elements);
    put_int(&c, 2, NNRT_ONNX_FLOAT);
    put_text(&c, 8, "c");
    for (int i = 0; i < 3; i++) {
        message entry = message_make();
        put_text(&entry, 1, keys[i]);
        put_text(&entry, 2, values[i]);
        put_message(&c, 13, &entry);
    }
    put_int(&c, 14, 1);
    put_message(&g, 1, &n);
    put_message(&g, 5, &c);
    m = model_make(&g);
    snprintf(path, sizeof(path), "%s/in/model.onnx", folder);
    write_file(path, m.data, m.size);
    memset(&e, 0, sizeof(e));
    memset(&memory, 0, sizeof(memory));
    memset(&desc, 0, sizeof(desc));
    memory.limit = (size_t)1 << 20;
    allocator.alloc = fuzz_alloc;
    allocator.free = fuzz_free;
    allocator.user = &memory;
    desc.allocator = &allocator;
    code = nnrt_onnx_load(&model, path, &desc, &e);
    fuzz_check_error(code, &e, "nnrt_onnx_load");
    if (model != NULL)
        assert_int_equal(fuzz_model_run(model, NULL, 0, NULL), NNRT_SUCCESS);
    nnrt_model_destroy(model);
    assert_int_equal(memory.live, 0);
    assert_int_equal(memory.refused, 0);
    refused(code, &e, expected, text);
}

static void test_external_data(void **state)
{
    static const float values[2] = {1, 2};
    static const char *const outside[][2] = {{"../out.bin", "'../out.bin' leaves the model's folder"},
                                             {"./../out.bin", "leaves the model's folder"},
                                             {"sub/../../out.bin", "leaves the model's folder"},
                                             {"link.bin", "does not exist or is outside the model's folder"},
                                             {"dir/out.bin", "does not exist or is outside the model's folder"},
                                             {"/etc/hostname", "'/etc/hostname' is an absolute path"},
                                             {"..", "leaves the model's folder"},
                                             {"", "external location '' is empty"},
                                             {"sub/../../in/../out.bin", "leaves the model's folder"},
                                             {"loop", "does not exist or is outside the model's folder"},
                                             {"sub", "cannot be opened, or is not a regular file"},
                                             {"pipe", "cannot be opened, or is not a regular file"}};
    size_t cases = sizeof(outside) / sizeof(outside[0]);
    struct stat s;
    char folder[] = "build/hostile_XXXXXX", path[1024];
    static const char *const made[] = {"in/model.onnx", "in/w.bin", "in/link.bin", "in/dir", "in/inner.bin",
                                       "in/loop",       "in/sub",   "in/pipe",     "in",     "out.bin"};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/in", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/in/sub", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/out.bin", folder);
    write_file(path, values, sizeof(values));
    snprintf(path, sizeof(path), "%s/in/w.bin", folder);
    write_file(path, values, sizeof(values));
    snprintf(path, sizeof(path), "%s/in/link.bin", folder);
    assert_int_equal(symlink("../out.bin", path), 0);
    snprintf(path, sizeof(path), "%s/in/dir", folder);
    assert_int_equal(symlink("..", path), 0);
    snprintf(path, sizeof(path), "%s/in/inner.bin", folder);
    assert_int_equal(symlink("w.bin", path), 0);
    snprintf(path, sizeof(path), "%s/in/loop", folder);
    assert_int_equal(symlink("loop", path), 0);
    snprintf(path, sizeof(path), "%s/in/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(stat(path, &s), 0);
    cases -= S_ISFIFO(s.st_mode) ? 0 : 1; /* Emscripten makes a regular file */
    (void)alarm(120); /* reading the pipe would wait for a writer */
    load_external(folder, "w.bin", "0", "8", NNRT_SUCCESS, "");
    load_external(folder, "inner.bin", "0", "8", NNRT_SUCCESS, ""); /* a link that stays inside */
    for (size_t i = 0; i < cases; i++)
        load_external(folder, outside[i][0], "0", "8", NNRT_INVALID_PATH, outside[i][1]);
    load_external(folder, "w.bin", "4", "8", NNRT_INVALID_FILE, "ends before 8 bytes at offset 4");
    load_external(folder, "w.bin", "-4", "8", NNRT_INVALID_FILE, "external offset or length is not a decimal number");
    load_external(folder, "w.bin", "9223372036854775807", "8", NNRT_INVALID_FILE,
                  "ends before 8 bytes at offset 9223372036854775807");
    load_external(folder, "w.bin", "0", "9223372036854775807", NNRT_INVALID_FILE,
                  "external length is 9223372036854775807, its dims require 8");
    load_external(folder, "w.bin", "99999999999999999999", "8", NNRT_INVALID_FILE,
                  "external offset or length is not a decimal number");
    load_external(folder, "w.bin", "0x0", "8", NNRT_INVALID_FILE, "external offset or length is not a decimal number");
    external_elements = 1000000000; /* 4 GB declared: refused before memory is taken for them */
    load_external(folder, "w.bin", "0", "4000000000", sizeof(size_t) > 4 ? NNRT_INVALID_FILE : NNRT_OUT_OF_MEMORY,
                  sizeof(size_t) > 4 ? "ends before 4000000000 bytes at offset 0" : "");
    external_elements = 2;
    (void)alarm(0);
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, made[i]);
        (void)remove(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* ---- models by hand ---- */

/* y = x + c, as plain data that a test bends. */
typedef struct plain {
    NNRT_Model model;
    NNRT_Tensor tensors[3];
    NNRT_Node nodes[2];
    NNRT_SubGraph graph;
    NNRT_AddFusion attr;
    uint32_t x[2], y[2], inputs[2], again[2], order[2];
    int32_t dims[3][2];
    float values[4];
} plain;

static void plain_make(plain *p)
{
    static const char *const names[] = {"x", "c", "y"};
    memset(p, 0, sizeof(*p));
    for (uint32_t i = 0; i < 3; i++) {
        p->dims[i][0] = 2;
        p->tensors[i].name = names[i];
        p->tensors[i].dataType = NNRT_DATA_TYPE_FLOAT32;
        p->tensors[i].dims = NNRT_Int32List_make(p->dims[i], 1);
        p->tensors[i].format = NNRT_FORMAT_NONE;
        p->tensors[i].data.fd = -1;
    }
    p->tensors[1].data.addr = p->values;
    p->tensors[1].data.bufferSize = p->tensors[1].data.dataSize = 8;
    p->inputs[1] = 1;
    p->y[0] = 2;
    p->order[1] = 1;
    p->nodes[0].name = "n";
    p->nodes[0].nodeType = NNRT_NODE_TYPE_ADD_FUSION;
    p->nodes[0].nodeAttr.data = &p->attr;
    p->nodes[0].nodeAttr.size = sizeof(p->attr);
    p->nodes[0].inputIndex = NNRT_Uint32List_make(p->inputs, 2);
    p->nodes[0].outputIndex = NNRT_Uint32List_make(p->y, 1);
    p->model.inputIndex = p->graph.inputIndices = NNRT_Uint32List_make(p->x, 1);
    p->model.outputIndex = p->graph.outputIndices = NNRT_Uint32List_make(p->y, 1);
    p->graph.nodeIndices = NNRT_Uint32List_make(p->order, 1);
    p->model.nodes = NNRT_NodeList_make(p->nodes, 1);
    p->model.allTensors = NNRT_TensorList_make(p->tensors, 3);
    p->model.subGraph = NNRT_SubGraphList_make(&p->graph, 1);
}

static NNRT_ReturnCode plain_run(plain *p, nnrt_error *e)
{
    NNRT_ReturnCode code;
    memset(e, 0, sizeof(*e));
    code = nnrt_model_validate(&p->model, NULL, e);
    fuzz_check_error(code, e, "nnrt_model_validate");
    assert_int_equal(fuzz_model_run(&p->model, NULL, 0, NULL), code);
    return code;
}

#define REFUSED(change, expected, text)                                                                                \
    do {                                                                                                               \
        plain_make(&p);                                                                                                \
        change;                                                                                                        \
        refused(plain_run(&p, &e), &e, expected, text);                                                                \
    } while (0)

static void test_plain_models(void **state)
{
    static plain p;
    nnrt_error e;
    (void)state;
    REFUSED((void)0, NNRT_SUCCESS, "");
    REFUSED(p.y[0] = 3, NNRT_INVALID_OUTPUT, "model output 0 is tensor 3, but there are 3 tensors");
    REFUSED(p.x[0] = 3, NNRT_INVALID_INPUT, "model input 0 is tensor 3, but there are 3 tensors");
    REFUSED(p.inputs[1] = 3, NNRT_INVALID_INPUT, "input 1 is tensor 3, but there are 3");
    REFUSED(p.inputs[1] = 0xFFFFFFFEu, NNRT_INVALID_INPUT, "input 1 is tensor 4294967294, but there are 3");
    REFUSED(p.inputs[0] = 2, NNRT_INVALID_MODEL,
            "needs its own result: a cycle through tensor 2 'y'"); /* a node that reads its own result */
    REFUSED(p.tensors[1].data.bufferSize = 7, NNRT_INVALID_BUFFER,
            "offset 0 and dataSize 8 run past the buffer's 7 bytes");
    REFUSED(p.tensors[1].data.offset = 0xFFFFFFFCu, NNRT_INVALID_BUFFER,
            "offset 4294967292 and dataSize 8 run past the buffer's 8 bytes");
    REFUSED(p.tensors[1].data.offset = 4, NNRT_INVALID_BUFFER, "offset 4 and dataSize 8 run past the buffer's 8 bytes");
    REFUSED(p.tensors[1].data.dataSize = 4, NNRT_INVALID_BUFFER_SIZE, "has 4 bytes of data, its shape needs 8");
    REFUSED(p.tensors[1].data.addr = (uint8_t *)p.values + 1, NNRT_INVALID_BUFFER,
            "its data are not aligned to 4 bytes");
    REFUSED(p.tensors[1].data.addr = NULL, NNRT_INVALID_BUFFER, "the buffer has no descriptor and no address");
    REFUSED(p.dims[1][0] = INT32_MAX, sizeof(size_t) > 4 ? NNRT_INVALID_BUFFER_SIZE : NNRT_INVALID_SHAPE,
            sizeof(size_t) > 4 ? "has 8 bytes of data, its shape needs 8589934588" : "");
    REFUSED(p.dims[1][0] = INT32_MAX / 32, NNRT_INVALID_BUFFER_SIZE, "has 8 bytes of data, its shape needs 268435452");
    REFUSED(p.dims[1][0] = -1, NNRT_INVALID_SHAPE, "a constant needs fixed dimensions");
    REFUSED(p.tensors[1].name = "x", NNRT_INVALID_TENSOR_NAME, "tensors 0 and 1 are both named 'x'");
    REFUSED(p.tensors[1].dataType = 31, NNRT_INVALID_DATATYPE, "dataType 31 does not exist");
    REFUSED(p.nodes[0].nodeType = -1, NNRT_UNSUPPORTED_OP, "no operator with number -1 is registered (nnrt_op_register)");
    REFUSED(p.nodes[0].inputIndex.data = NULL, NNRT_NULL_PTR, "counts operands, but has no list of them");
    REFUSED(p.model.allTensors.data = NULL, NNRT_NULL_PTR,
            "the model's list allTensors counts 3 entries, but has no data");
    REFUSED(p.model.nodes.data = NULL, NNRT_NULL_PTR, "the model's list nodes counts 1 entries, but has no data");
}

/* a and b need each other. */
static void test_builder_cycles(void **state)
{
    int32_t two = 2;
    uint32_t x, a, b, in[2];
    nnrt_builder *builder = NULL;
    NNRT_Model *m = NULL;
    nnrt_error e;
    (void)state;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&builder, NULL, NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(builder, "x", NNRT_DATA_TYPE_FLOAT32, 1, &two);
    a = nnrt_builder_tensor(builder, "a");
    b = nnrt_builder_tensor(builder, "b");
    in[0] = x;
    in[1] = b;
    nnrt_builder_node(builder, NULL, NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2, &a, 1);
    in[1] = a;
    nnrt_builder_node(builder, NULL, NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2, &b, 1);
    nnrt_builder_output(builder, b);
    assert_int_equal(nnrt_builder_finish(builder, &m, &e), NNRT_INVALID_MODEL);
    refused(e.code, &e, NNRT_INVALID_MODEL, "needs its own result: a cycle through tensor 1 'a'");
    assert_null(m);
    nnrt_builder_destroy(builder);
}

/* op(x, constant indices) with dimensions whose product overflows every size: preparation refuses it, by a message
   with this text. */
static void grow(NNRT_NodeType type, int32_t rank, int32_t extent, const int32_t *list, NNRT_ReturnCode expected,
                 const char *text)
{
    int32_t dims[NNRT_MAX_RANK];
    const int32_t four = 4;
    uint32_t in[2];
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    nnrt_allocator a;
    fuzz_memory memory;
    nnrt_error e;
    NNRT_ReturnCode code;
    memset(&e, 0, sizeof(e));
    memset(&desc, 0, sizeof(desc));
    a = fuzz_allocator(&memory, FUZZ_SESSION_BYTES);
    desc.allocator = &a;
    for (int32_t i = 0; i < NNRT_MAX_RANK; i++)
        dims[i] = extent;
    assert_int_equal(nnrt_builder_create(&b, NULL, NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, rank, dims);
    in[1] = nnrt_builder_constant(b, "list", NNRT_DATA_TYPE_INT32, 1, &four, list, true);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", type, NULL, in, 2));
    code = nnrt_builder_finish(b, &m, &e);
    nnrt_builder_destroy(b);
    if (code == NNRT_SUCCESS)
        code = nnrt_session_create(&s, m, &desc, &e);
    fuzz_check_error(code, &e, "nnrt_session_create");
    refused(code, &e, expected, text);
    nnrt_session_destroy(s);
    fuzz_memory_empty(&memory);
    if (m != NULL)
        assert_int_equal(fuzz_model_run(m, NULL, 0, NULL), code);
    nnrt_model_destroy(m);
}

static void test_sizes_that_wrap(void **state)
{
    static const int32_t most[] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}, half[] = {65536, 65536, 65536, 65536},
                         least[] = {INT32_MIN, -1, INT32_MAX, 2}, ones[] = {1, 1, 1, 1}, large[] = {32768, 32768, 1, 1};
    (void)state;
    grow(NNRT_NODE_TYPE_FILL, 0, 0, large, NNRT_OUT_OF_MEMORY,
         sizeof(size_t) > 4 ? "buffers hold less than 4 GiB" : "its size does not fit"); /* an output of 4 GiB */
    grow(NNRT_NODE_TYPE_FILL, 0, 0, ones, NNRT_SUCCESS, "");
    grow(NNRT_NODE_TYPE_FILL, 0, 0, most, NNRT_OUT_OF_MEMORY, "its size does not fit");
    grow(NNRT_NODE_TYPE_FILL, 0, 0, half, NNRT_OUT_OF_MEMORY, "its size does not fit");
    grow(NNRT_NODE_TYPE_FILL, 0, 0, least, NNRT_INVALID_PARAMETER, "shape[0] is -2147483648, expected at least 0");
    grow(NNRT_NODE_TYPE_TILE_FUSION, 4, 2, ones, NNRT_SUCCESS, "");
    grow(NNRT_NODE_TYPE_TILE_FUSION, 4, 2, most, NNRT_OUT_OF_MEMORY,
         "axis 0 of size 2, repeated 2147483647 times: too large");
    grow(NNRT_NODE_TYPE_TILE_FUSION, 4, 65536, half, NNRT_OUT_OF_MEMORY, "its size does not fit");
    grow(NNRT_NODE_TYPE_TILE_FUSION, 4, 2, least, NNRT_INVALID_PARAMETER,
         "multiples[0] is -2147483648, expected at least 0");
    grow(NNRT_NODE_TYPE_RESHAPE, 4, 2, half, NNRT_INVALID_SHAPE, "shape has far more elements than input 'x'");
    grow(NNRT_NODE_TYPE_TILE_FUSION, 8, INT32_MAX, ones, NNRT_OUT_OF_MEMORY, "its size does not fit");
}

/* ---- long names ---- */

#define LONG 1000

/* A name of LONG times c between two words. */
static const char *long_name(char *text, const char *head, char c, const char *tail)
{
    memset(text, c, LONG);
    memcpy(text, head, strlen(head));
    memcpy(text + LONG - strlen(tail), tail, strlen(tail) + 1);
    return text;
}

/* If a message has no room for the names, they are shortened, not the reason. */
static void test_long_names(void **state)
{
    static const char two[] = "\xC3\xA4"; /* one letter in UTF-8 */
    char a[LONG + 1], b[LONG + 1], wide[LONG + 1];
    nnrt_error e;
    (void)state;
    long_name(a, "first", 'x', "last");
    long_name(b, "one", 'y', "two");
    memset(&e, 0, sizeof(e));
    nnrt_error_set(&e, NNRT_INVALID_SHAPE, "'%s' is not '%s': %d", a, b, 7);
    assert_string_equal(e.message, "'firstxxxxxxxxxxxxxxxxxxx...xxxxxxxxlast' is not 'oneyyyyyyyyyyyyyyyyyyyyy"
                                   "...yyyyyyyyytwo': 7");
    memset(&e, 0, sizeof(e));
    nnrt_error_set(&e, NNRT_INVALID_SHAPE, "'%s' is not '%s'", a, "short");
    assert_string_equal(e.message, "'firstxxxxxxxxxxxxxxxxxxx...xxxxxxxxlast' is not 'short'");
    a[200] = '\0'; /* it fits: nothing is shortened */
    memset(&e, 0, sizeof(e));
    nnrt_error_set(&e, NNRT_INVALID_SHAPE, "'%s' is wrong", a);
    assert_int_equal(strlen(e.message), 200 + 11);
    memset(&e, 0, sizeof(e)); /* text other than names is cut at the end */
    nnrt_error_set(&e, NNRT_INVALID_SHAPE, "%s", b);
    assert_int_equal(strlen(e.message), sizeof(e.message) - 1);
    for (size_t shift = 0; shift < 2; shift++) { /* no character is cut in two */
        for (size_t i = 0; i < LONG; i++)
            wide[i] = i < shift || i + 2 - (i - shift) % 2 > LONG ? 'z' : two[(i - shift) % 2];
        wide[LONG] = '\0';
        memset(&e, 0, sizeof(e));
        nnrt_error_set(&e, NNRT_INVALID_SHAPE, "'%s' is wrong", wide);
        for (size_t i = 0; e.message[i] != '\0'; i++)
            if ((uint8_t)e.message[i] >= 0x80)
                assert_true((e.message[i] == two[0]) != (i > 0 && e.message[i - 1] == two[0]));
        assert_non_null(strstr(e.message, "' is wrong"));
    }
}

/* The same for a node that cannot be prepared, and for one that fails when it runs. */
static void test_long_names_of_nodes(void **state)
{
    static const int32_t two = 2;
    static const float values[2] = {1, 2};
    int32_t index[2] = {0, 99}, axis = 0;
    float y[2];
    char names[4][LONG + 1];
    nnrt_io in, out;
    (void)state;
    for (int k = 0; k < 2; k++) {
        uint32_t at[3];
        nnrt_builder *b = NULL;
        NNRT_Model *m = NULL;
        nnrt_session *s = NULL;
        nnrt_error e;
        memset(&e, 0, sizeof(e));
        assert_int_equal(nnrt_builder_create(&b, NULL, NULL), NNRT_SUCCESS);
        at[0] = nnrt_builder_constant(b, long_name(names[0], "values", 'v', "!"), NNRT_DATA_TYPE_FLOAT32, 1, &two,
                                      values, true);
        at[1] = nnrt_builder_input(b, long_name(names[1], "index", 'i', "!"),
                                   k == 0 ? NNRT_DATA_TYPE_FLOAT32 : NNRT_DATA_TYPE_INT32, 1, &two);
        at[2] = nnrt_builder_constant(b, "axis", NNRT_DATA_TYPE_INT32, 0, NULL, &axis, true);
        nnrt_builder_output(
            b, nnrt_builder_op(b, long_name(names[2], "gather", 'g', "!"), NNRT_NODE_TYPE_GATHER, NULL, at, 3));
        if (k == 0) {
            refused(nnrt_builder_finish(b, &m, &e), &e, NNRT_INVALID_DATATYPE, "node 0 'gatherggg");
            nnrt_builder_destroy(b);
            refused(e.code, &e, NNRT_INVALID_DATATYPE, "...ggggggggggg!' (GATHER): input 1 (");
            refused(e.code, &e, NNRT_INVALID_DATATYPE, "iii!' is float32[2], expected one of int32");
        } else {
            in = nnrt_io_make(index, sizeof(index));
            out = nnrt_io_make(y, sizeof(y));
            assert_int_equal(nnrt_builder_finish(b, &m, &e), NNRT_SUCCESS);
            nnrt_builder_destroy(b);
            assert_int_equal(nnrt_session_create(&s, m, NULL, &e), NNRT_SUCCESS);
            assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_INVALID_PARAMETER);
            assert_true(fuzz_run_failure(NNRT_INVALID_PARAMETER, nnrt_session_error(s)));
        }
        nnrt_session_destroy(s);
        nnrt_model_destroy(m);
    }
}

/* ---- memory that runs out ---- */

/* Call number failAt (from 1) fails, and with `forever` all later ones; 0: all succeed. */
typedef struct shortage {
    fuzz_memory memory;
    size_t calls, failAt;
    bool forever, failed;
} shortage;

static void *shortage_alloc(void *user, size_t bytes, size_t alignment)
{
    shortage *s = (shortage *)user;
    s->calls++;
    if (s->failAt != 0 && (s->calls == s->failAt || (s->forever && s->calls > s->failAt))) {
        s->failed = true;
        return NULL;
    }
    return fuzz_alloc(&s->memory, bytes, alignment);
}

static void shortage_free(void *user, void *block, size_t bytes)
{
    fuzz_free(&((shortage *)user)->memory, block, bytes);
}

/* Makes a model, and optimizes it. */
typedef NNRT_ReturnCode (*maker)(NNRT_Model **model, const nnrt_allocator *a, nnrt_error *e);

static NNRT_ReturnCode load_digits(NNRT_Model **model, const nnrt_allocator *a, nnrt_error *e)
{
    char path[1024];
    nnrt_onnx_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.allocator = a;
    return nnrt_onnx_load(model, path_of(path, sizeof(path), "examples/digits/digits.onnx", ""), &desc, e);
}

/* By hand; the builder is made outside of the count of failures only where it has no error to tell of. */
static NNRT_ReturnCode build_net(NNRT_Model **model, const nnrt_allocator *a, nnrt_error *e)
{
    nnrt_builder *b = NULL;
    NNRT_ReturnCode code = nnrt_builder_create(&b, "net", a);
    if (code != NNRT_SUCCESS) {
        assert_null(b);
        return nnrt_error_set(e, code, "nnrt_builder_create");
    }
    fuzz_net(b, 4);
    code = nnrt_builder_finish(b, model, e);
    nnrt_builder_destroy(b);
    return code == NNRT_SUCCESS ? nnrt_model_optimize(model, NULL, e) : code;
}

/* Makes, prepares, runs and destroys; scores[] gets the first output. Returns the first failure. */
static NNRT_ReturnCode whole_way(maker make, const nnrt_allocator *a, shortage *s, float *scores, nnrt_error *e)
{
    NNRT_Model *model = NULL;
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    fuzz_run r;
    NNRT_ReturnCode code = make(&model, a, e);
    memset(&desc, 0, sizeof(desc));
    desc.allocator = a;
    if (code == NNRT_SUCCESS) {
        code = nnrt_session_create(&session, model, &desc, e);
        assert_true((session != NULL) == (code == NNRT_SUCCESS));
    }
    if (code == NNRT_SUCCESS) {
        size_t calls = s->calls;
        fuzz_run_begin(&r, session, NULL);
        for (size_t i = 0; i < r.in[0].bytes / sizeof(float); i++)
            ((float *)r.in[0].data)[i] = ((float *)r.copies[0])[i] = (float)(i % 5) / 4.0f;
        fuzz_run_once(&r, session, 0xA5);
        assert_int_equal(r.code, NNRT_SUCCESS);
        assert_int_equal(s->calls, calls); /* a run allocates nothing */
        assert_true(r.out[0].bytes >= sizeof(float));
        memcpy(scores, r.out[0].data, sizeof(float));
        fuzz_run_end(&r);
    }
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    return code;
}

static void every_allocation_fails(maker make, bool forever)
{
    shortage s;
    nnrt_allocator a;
    size_t n;
    float good = -1, got;
    memset(&s, 0, sizeof(s));
    a.alloc = shortage_alloc;
    a.free = shortage_free;
    a.user = &s;
    for (n = 0; n == 0 || s.failed; n++) {
        nnrt_error e;
        NNRT_ReturnCode code;
        memset(&e, 0, sizeof(e));
        memset(&s, 0, sizeof(s));
        s.memory.limit = (size_t)64 << 20;
        s.failAt = n;
        s.forever = forever;
        got = -1;
        code = whole_way(make, &a, &s, &got, &e);
        fuzz_memory_empty(&s.memory);
        fuzz_check_error(code, &e, "a way without memory");
        assert_int_equal(code, s.failed ? NNRT_OUT_OF_MEMORY : NNRT_SUCCESS);
        if (n == 0)
            good = got;
        if (!s.failed)
            assert_memory_equal(&got, &good, sizeof(got));
        assert_true(n < 100000);
        if (n > 0 && n % 16 != 0)
            continue;
        memset(&e, 0, sizeof(e)); /* the next try works */
        memset(&s, 0, sizeof(s));
        s.memory.limit = (size_t)64 << 20;
        assert_int_equal(whole_way(make, &a, &s, &got, &e), NNRT_SUCCESS);
        assert_memory_equal(&got, &good, sizeof(got));
        fuzz_memory_empty(&s.memory);
        s.failed = true;
    }
    print_message("%u allocations failed in turn\n", (unsigned)(n - 2));
    assert_true(n > 10);
}

static void test_digits_without_memory(void **state)
{
    (void)state;
    every_allocation_fails(load_digits, false);
    every_allocation_fails(load_digits, true);
}

static void test_builder_without_memory(void **state)
{
    (void)state;
    every_allocation_fails(build_net, false);
    every_allocation_fails(build_net, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"corpus: builder", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[0]},
        {"corpus: nnrt", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[1]},
        {"corpus: node", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[2]},
        {"corpus: onnx", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[3]},
        {"corpus: onnx_tensor", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[4]},
        {"corpus: run", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[5]},
        {"corpus: npy", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[6]},
        {"corpus: pb", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[7]},
        {"corpus: png", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[8]},
        {"corpus: labels", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[9]},
        {"corpus: metadata", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[10]},
        {"corpus: open", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[11]},
        {"corpus: cache", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[12]},
        {"corpus: mcu", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[13]},
#ifdef REMOTE
        {"corpus: remote_client", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[14]},
        {"corpus: remote_server", test_corpus, NULL, NULL, (void *)(uintptr_t)&targets[15]},
#endif
        cmocka_unit_test(test_short_inputs),
        cmocka_unit_test(test_dropped_copy_keeps_type),
        cmocka_unit_test(test_scalar_first),
        cmocka_unit_test(test_constants_that_fail),
        cmocka_unit_test(test_absent_results),
        cmocka_unit_test(test_pad_of_least_number),
        cmocka_unit_test(test_extents_of_constants),
        cmocka_unit_test(test_extents_of_inputs),
        cmocka_unit_test(test_onnx_cycles),
        cmocka_unit_test(test_onnx_names_twice),
        cmocka_unit_test(test_onnx_nesting),
        cmocka_unit_test(test_external_data),
        cmocka_unit_test(test_plain_models),
        cmocka_unit_test(test_builder_cycles),
        cmocka_unit_test(test_sizes_that_wrap),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_long_names_of_nodes),
        cmocka_unit_test(test_digits_without_memory),
        cmocka_unit_test(test_builder_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
