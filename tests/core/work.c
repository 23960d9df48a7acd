/* Bounds the work of building and preparing models of n and 2n nodes, without a clock, and replays the corpus of the
   fuzz target `work`, which bounds the work for any file. tests/core/work.h has the counter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FUZZ_INCLUDED
#include "../fuzz/corpus.h"
#include "../fuzz/fuzz_work.c"
#include "kit.h"

/* A model, and the bounds of its dynamic dimensions. */
typedef struct subject {
    NNRT_Model *model;
    nnrt_bound *bounds;
    uint32_t nBounds;
    char (*names)[16]; /* of the bounds */
    uint64_t built;    /* units of work that building took */
} subject;

/* Units of work for preparing the model, at most `most`. */
static uint64_t work_of(const subject *s, const char *device, const char *what, uint64_t most)
{
    nnrt_session_desc desc;
    nnrt_session *session = NULL;
    NNRT_ReturnCode code;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    desc.bounds.data = s->bounds;
    desc.bounds.count = s->nBounds;
    work_begin(what, most);
    code = nnrt_session_create(&session, s->model, &desc, &e);
    (void)work_end();
    if (code != NNRT_SUCCESS)
        fail_msg("%s on %s: %s", what, device, e.message);
    nnrt_session_destroy(session);
    return work;
}

/* Units of work for optimizing the model. */
static uint64_t work_of_optimizing(subject *s, const char *what)
{
    NNRT_ReturnCode code;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    work_begin(what, UINT64_MAX);
    code = nnrt_model_optimize(&s->model, NULL, &e);
    (void)work_end();
    if (code != NNRT_SUCCESS)
        fail_msg("%s, optimized: %s", what, e.message);
    return work;
}

/* ---- models of n nodes ---- */

static const char *name_of(char *name, char letter, uint32_t i)
{
    snprintf(name, 16, "%c%u", letter, (unsigned)i);
    return name;
}

typedef enum shape {
    CHAIN,
    CHAIN_OF_CONSTANTS,
    FAN_OF_OUTPUTS,
    FAN_OF_CONSTANTS,
    FAN_THEN_CHAIN,
    INPUTS,
    SYMBOLS,
    IFS,
    COPIED_IFS,
    STATES,
    GROWING_STATES,
    QUANTIZED_SPLIT
} shape;

static const char *const shapes[] = {"a chain of Adds of one constant",
                                     "a chain of Adds of a constant each",
                                     "nodes that read one tensor and give outputs",
                                     "Adds of one tensor and a constant each, concatenated",
                                     "nodes that read one tensor, and a chain of Adds of their results",
                                     "a chain of Adds of an input each",
                                     "inputs with a symbol and a bound each",
                                     "a chain of Ifs",
                                     "a chain of Ifs that run the same two branches",
                                     "a Loop whose states change places",
                                     "a Loop whose states grow one after the other",
                                     "a Split whose results are quantized"};

/* A branch with one node, which reads the tensors in[0] and in[1]. */
static uint32_t branch_of(nnrt_builder *b, const char *name, NNRT_NodeType type, const void *attr, const uint32_t *in)
{
    const uint32_t g = nnrt_builder_graph(b, name);
    uint32_t y;
    nnrt_builder_enter(b, g);
    y = nnrt_builder_op(b, NULL, type, attr, in, 2);
    nnrt_builder_graph_io(b, g, NULL, 0, &y, 1);
    nnrt_builder_enter(b, 0);
    return g;
}

/* A chain of n Ifs, each with branches of its own, or all with the branches of the first one. */
static uint32_t ifs_of(nnrt_builder *b, uint32_t n, uint32_t x, uint32_t k, bool own)
{
    const uint32_t cond = nnrt_builder_input(b, "cond", NNRT_DATA_TYPE_BOOL, 0, NULL);
    NNRT_If branches;
    uint32_t in[2];
    char name[16];
    in[1] = k;
    for (uint32_t i = 0; i < n; i++) {
        in[0] = x;
        if (own || i == 0) {
            branches.thenGraph = branch_of(b, "then", NNRT_NODE_TYPE_ADD_FUSION, &plain_add, in);
            branches.elseGraph = branch_of(b, "else", NNRT_NODE_TYPE_SUB_FUSION, &plain_sub, in);
        }
        x = nnrt_builder_op(b, name_of(name, 'v', i), NNRT_NODE_TYPE_IF, &branches, &cond, 1);
        nnrt_builder_output(b, x);
    }
    return x;
}

/* The bound of tensor i of n, whose name is a letter and i. */
static const char *bound_of(subject *to, char letter, uint32_t i, int32_t rows)
{
    to->bounds[i].tensor = name_of(to->names[i], letter, i);
    to->bounds[i].most.rank = 2;
    to->bounds[i].most.dims[0] = rows;
    to->bounds[i].most.dims[1] = 4;
    to->nBounds = i + 1;
    return to->names[i];
}

/* A Loop of n states; each becomes the one before it. Of n that grow, the last one gets two more rows in each trip. */
static void states_of(nnrt_builder *b, uint32_t n, uint32_t x, subject *growing)
{
    static const int64_t three = 3;
    uint32_t *given = (uint32_t *)malloc((n + 2) * sizeof(*given)), *left = (uint32_t *)malloc((n + 1) * sizeof(*left)),
             *in = (uint32_t *)malloc((n + 2) * sizeof(*in)), *out = (uint32_t *)malloc(n * sizeof(*out));
    NNRT_Concat rows;
    NNRT_Loop loop;
    char name[16];
    if (given == NULL || left == NULL || in == NULL || out == NULL)
        abort();
    memset(&rows, 0, sizeof(rows));
    loop.body = nnrt_builder_graph(b, "body");
    given[0] = nnrt_builder_tensor(b, "trip");
    given[1] = left[0] = nnrt_builder_tensor(b, "condition");
    for (uint32_t i = 0; i < n; i++)
        given[2 + i] = nnrt_builder_tensor(b, growing != NULL ? bound_of(growing, 's', i, 8) : name_of(name, 's', i));
    for (uint32_t i = 0; i < n; i++) {
        left[1 + i] = given[2 + (i + 1) % n];
        in[2 + i] = x;
        out[i] = nnrt_builder_tensor(b, name_of(name, 'y', i));
    }
    nnrt_builder_graph_io(b, loop.body, given, n + 2, left, n + 1);
    if (growing != NULL) {
        const uint32_t both[2] = {given[n + 1], x};
        nnrt_builder_enter(b, loop.body);
        left[n] = nnrt_builder_op(b, "grown", NNRT_NODE_TYPE_CONCAT, &rows, both, 2);
        nnrt_builder_enter(b, 0);
        nnrt_builder_graph_io(b, loop.body, given, n + 2, left, n + 1);
    }
    in[0] = nnrt_builder_constant(b, "trips", NNRT_DATA_TYPE_INT64, 0, NULL, &three, false);
    in[1] = NNRT_NO_TENSOR;
    nnrt_builder_node(b, "loop", NNRT_NODE_TYPE_LOOP, &loop, in, n + 2, out, n);
    for (uint32_t i = 0; i < n; i++)
        nnrt_builder_output(b, out[i]);
    free(given);
    free(left);
    free(in);
    free(out);
}

/* Tensor x cast from float32 to int8, or back. */
static uint32_t cast_of(nnrt_builder *b, uint32_t x, NNRT_DataType to)
{
    const uint32_t y = nnrt_builder_tensor(b, NULL);
    NNRT_QuantDTypeCast attr;
    NNRT_QuantParam q;
    memset(&attr, 0, sizeof(attr));
    memset(&q, 0, sizeof(q));
    q.numBits = 8;
    q.scale = 0.5;
    attr.srcT = to == F32 ? NNRT_DATA_TYPE_INT8 : F32;
    attr.dstT = to;
    nnrt_builder_declare(b, y, to, NNRT_RANK_UNKNOWN, NULL);
    if (to != F32)
        nnrt_builder_quant(b, y, &q, 1);
    nnrt_builder_node(b, NULL, NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &attr, &x, 1, &y, 1);
    return y;
}

/* A Split of a dequantized tensor into n columns, which are quantized again; results has room for them. */
static void quantized_split_of(nnrt_builder *b, uint32_t n, uint32_t *results)
{
    const int32_t dims[2] = {2, (int32_t)n};
    int64_t *sizes = (int64_t *)malloc(n * sizeof(*sizes));
    uint32_t x = nnrt_builder_input(b, "columns", F32, 2, dims);
    NNRT_Split attr;
    if (sizes == NULL)
        abort();
    x = cast_of(b, cast_of(b, x, NNRT_DATA_TYPE_INT8), F32);
    for (uint32_t i = 0; i < n; i++) {
        sizes[i] = 1;
        results[i] = nnrt_builder_tensor(b, NULL);
    }
    memset(&attr, 0, sizeof(attr));
    attr.outputNum = n;
    attr.sizeSplits = nnrt_int64_list(sizes, n);
    attr.axis = 1;
    nnrt_builder_node(b, "split", NNRT_NODE_TYPE_SPLIT, &attr, &x, 1, results, n);
    for (uint32_t i = 0; i < n; i++)
        nnrt_builder_output(b, cast_of(b, results[i], NNRT_DATA_TYPE_INT8));
    free(sizes);
}

/* Input i of n, with a dynamic dimension of its own. */
static uint32_t open_input(nnrt_builder *b, subject *to, uint32_t i)
{
    static const int32_t open[2] = {-1, 4};
    const uint32_t symbols[2] = {i + 1, 0}, x = nnrt_builder_input(b, bound_of(to, 'i', i, 3), F32, 2, open);
    nnrt_builder_symbols(b, x, symbols, 2);
    return x;
}

static void release(subject *s)
{
    nnrt_model_destroy(s->model);
    free(s->bounds);
    free(s->names);
}

static subject model_of(shape s, uint32_t n)
{
    static const int32_t dims[2] = {2, 4}, row[1] = {4};
    static const float values[4] = {1, 2, 3, 4};
    uint32_t *results = (uint32_t *)malloc(n * sizeof(*results));
    nnrt_builder *b = NULL;
    NNRT_Concat concat;
    nnrt_error e;
    uint32_t in[2], x, last;
    subject made;
    char name[16];
    memset(&made, 0, sizeof(made));
    memset(&e, 0, sizeof(e));
    made.bounds = (nnrt_bound *)calloc(n, sizeof(*made.bounds));
    made.names = (char(*)[16])calloc(n, sizeof(*made.names));
    assert_true(made.bounds != NULL && made.names != NULL);
    memset(&concat, 0, sizeof(concat));
    concat.axis = 1;
    assert_non_null(results);
    assert_int_equal(nnrt_builder_create(&b, "work", NULL), NNRT_SUCCESS);
    work_begin(shapes[s], UINT64_MAX);
    x = last = nnrt_builder_input(b, "x", F32, 2, dims);
    in[1] = nnrt_builder_constant(b, "k", F32, 1, row, values, false);
    if (s == IFS || s == COPIED_IFS)
        last = ifs_of(b, n, x, in[1], s == IFS);
    if (s == STATES || s == GROWING_STATES)
        states_of(b, n, x, s == GROWING_STATES ? &made : NULL);
    if (s == QUANTIZED_SPLIT)
        quantized_split_of(b, n, results);
    for (uint32_t i = 0; i < n && s < IFS; i++) {
        const bool fan =
            s == SYMBOLS || s == FAN_OF_OUTPUTS || s == FAN_OF_CONSTANTS || (s == FAN_THEN_CHAIN && i < n / 2);
        if (s == CHAIN_OF_CONSTANTS || s == FAN_OF_CONSTANTS)
            in[1] = nnrt_builder_constant(b, name_of(name, 'k', i), F32, 1, row, values, false);
        if (s == INPUTS)
            in[1] = nnrt_builder_input(b, name_of(name, 'i', i), F32, 2, dims);
        if (s == FAN_THEN_CHAIN && !fan)
            in[1] = results[i - n / 2];
        in[0] = s == SYMBOLS ? open_input(b, &made, i) : fan ? x : last;
        name_of(name, 'v', i);
        results[i] = s == SYMBOLS || s == FAN_OF_OUTPUTS || (s == FAN_THEN_CHAIN && fan)
                         ? nnrt_builder_op(b, name, NNRT_NODE_TYPE_ACTIVATION, &absolute, in, 1)
                         : nnrt_builder_op(b, name, NNRT_NODE_TYPE_ADD_FUSION, &plain_add, in, 2);
        last = results[i];
        if (s == SYMBOLS || s == FAN_OF_OUTPUTS)
            nnrt_builder_output(b, last);
    }
    if (s == FAN_OF_CONSTANTS)
        last = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_CONCAT, &concat, results, n);
    if (s != FAN_OF_OUTPUTS && s < SYMBOLS)
        nnrt_builder_output(b, last);
    if (nnrt_builder_finish(b, &made.model, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", shapes[s], e.message);
    made.built = work_end();
    nnrt_builder_destroy(b);
    free(results);
    return made;
}

/* false, and a message: 2n nodes took more than 2.2 times the work of n. n log n is 2.19 times as much at n = 1,500. */
static bool grows_linearly(const char *what, const char *how, uint32_t n, uint64_t first, uint64_t second)
{
    assert_true(first > 10 * n); /* the counter counts */
    if (second * 10 <= first * 22)
        return true;
    print_error("%s, %s: %u take %llu units of work, %u take %llu: %.2f times, expected 2.2 at most\n", what, how,
                (unsigned)n, (unsigned long long)first, (unsigned)(2 * n), (unsigned long long)second,
                (double)second / (double)first);
    return false;
}

/* Both sizes exceed the 1,024 blocks from which on the planner keeps its blocks in order. */
static void test_nodes(void **state)
{
    static const char *const devices[] = {"reference", "cpu"};
    enum { N = 1500 };
    uint32_t worse = 0;
    (void)state;
    for (uint32_t s = 0; s < COUNT(shapes); s++) {
        subject one = model_of((shape)s, N), two = model_of((shape)s, 2 * N);
        worse += grows_linearly(shapes[s], "built", N, one.built, two.built) ? 0 : 1;
        for (uint32_t d = 0; d < COUNT(devices); d++)
            worse += grows_linearly(shapes[s], devices[d], N, work_of(&one, devices[d], shapes[s], UINT64_MAX),
                                    work_of(&two, devices[d], shapes[s], UINT64_MAX))
                         ? 0
                         : 1;
        worse += grows_linearly(shapes[s], "optimized", N, work_of_optimizing(&one, shapes[s]),
                                work_of_optimizing(&two, shapes[s]))
                     ? 0
                     : 1;
        release(&one);
        release(&two);
    }
    assert_int_equal(worse, 0);
}

/* A transposed convolution of one pixel by a window of three rows: y has 3 to 7 rows with any stride, so the work does not
   depend on the stride. */
static void test_long_stride(void **state)
{
    static const int64_t strides[] = {2, 1000, INT32_MAX - 1, INT32_MAX};
    static const int32_t image[4] = {1, 1, 1, 1}, window[4] = {1, 3, 1, 1};
    static const float weights[3] = {1, 2, 3};
    (void)state;
    for (uint32_t i = 0; i < COUNT(strides); i++)
        for (int64_t dilation = 1; dilation <= 3; dilation++) {
            const int64_t stride[2] = {strides[i], 1}, dilations[2] = {dilation, 1}, pads[4] = {0, 0, 0, 0},
                          none[2] = {0, 0};
            NNRT_Conv2dTransposeFusion attr;
            nnrt_builder *b = NULL;
            subject made;
            nnrt_error e;
            uint32_t in[3];
            memset(&attr, 0, sizeof(attr));
            memset(&made, 0, sizeof(made));
            memset(&e, 0, sizeof(e));
            attr.stride = nnrt_int64_list(stride, 2);
            attr.dilation = nnrt_int64_list(dilations, 2);
            attr.padList = nnrt_int64_list(pads, 4);
            attr.outputPaddings = nnrt_int64_list(none, 2);
            attr.group = 1;
            assert_int_equal(nnrt_builder_create(&b, "stride", NULL), NNRT_SUCCESS);
            in[0] = nnrt_builder_input(b, "x", F32, 4, image);
            in[1] = nnrt_builder_constant(b, "w", F32, 4, window, weights, false);
            in[2] = NNRT_NO_TENSOR;
            nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &attr, in, 3));
            if (nnrt_builder_finish(b, &made.model, &e) != NNRT_SUCCESS)
                fail_msg("%s", e.message);
            nnrt_builder_destroy(b);
            assert_true(work_of(&made, "cpu", "a transposed convolution with a stride of up to 2^31 - 1", 100000) >
                        100);
            assert_true(work_of(&made, "reference", "the same on the reference device", 100000) > 100);
            nnrt_model_destroy(made.model);
        }
}

static void replay(void *user, uint8_t *data, size_t size)
{
    (void)user;
    fuzz_work(data, size);
}

/* The corpora of the fuzz targets `work`, `onnx`, `nnrt` and `builder`. */
static void test_corpus(void **state)
{
    static const char *const names[] = {"work", "onnx", "nnrt", "builder"};
    (void)state;
    for (uint32_t i = 0; i < COUNT(names); i++)
        assert_true(corpus_each(names[i], replay, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nodes), cmocka_unit_test(test_long_stride),
                                       cmocka_unit_test(test_corpus)};
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_cpu_register(NULL, &e) != NNRT_SUCCESS) {
        printf("%s\n", e.message);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
