/* Nodes that run subgraphs, IF and LOOP: models as data, prepared and run on the reference device. Expected results are
   computed here. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nnrt.h"

#include "tree.h"

#include "devices.h"

/* The plan of the latest session, as nnrt_plan_execute and firmware run it, if it has no dynamic shapes. */
static struct {
    const nnrt_session *session; /* NULL: none */
    nnrt_memory memory;
    const nnrt_plan *plan;
    uint32_t plans, runs, faults; /* counters */
    nnrt_error error;             /* of the last run */
} nested;

static void nested_end(void)
{
    if (nested.session != NULL)
        nnrt_memory_end(&nested.memory);
    nested.session = NULL;
}

static void nested_begin(const nnrt_session *s, const NNRT_Model *m, const nnrt_session_desc *desc)
{
    NNRT_ModelConfig config;
    nnrt_error error;
    nnrt_plan *plan;
    NNRT_ReturnCode code;
    nested_end();
    memset(&config, 0, sizeof(config));
    memset(&error, 0, sizeof(error));
    if (desc != NULL) {
        config.bounds = desc->bounds;
        config.inputDims = desc->inputDims;
        config.maxTrips = desc->maxTrips;
    }
    nnrt_memory_allocate(&nested.memory, NULL);
    assert_int_equal(nnrt_plan_build(m, &config, &nested.memory, &plan), NNRT_SUCCESS);
    code = nnrt_plan_check_static(plan, &error);
    assert_true((code == NNRT_SUCCESS) == (plan->open == NULL));
    if (code == NNRT_SUCCESS) {
        nested.plan = plan;
        nested.session = s;
        nested.plans++;
        return;
    }
    assert_int_equal(code, NNRT_NOT_SUPPORT);
    assert_true(error.message[0] != '\0');
    nnrt_memory_end(&nested.memory);
}

/* A run of the nested plan in its reported memory returns the code of the session, and after a success the same bits. */
static void nested_run(const nnrt_session *s, const nnrt_io *in, const nnrt_io *out, NNRT_ReturnCode want)
{
    const nnrt_plan *p = nested.plan;
    NNRT_IOTensor io[16];
    uint8_t got[16][4096], *workspace;
    NNRT_ReturnCode code;
    size_t bytes;
    if (nested.session != s)
        return;
    bytes = nnrt_plan_workspace(p);
    workspace = (uint8_t *)nnrt_alloc(NULL, bytes);
    memset(workspace, 0xA5, bytes);
    memset(io, 0, sizeof(io));
    memset(&nested.error, 0, sizeof(nested.error));
    assert_true(p->nInputs + p->nOutputs <= COUNT(io));
    for (uint32_t i = 0; i < p->nInputs + p->nOutputs; i++) {
        const bool input = i < p->nInputs;
        const nnrt_plan_io *t = input ? &p->inputs[i] : &p->outputs[i - p->nInputs];
        assert_true(t->bytes <= sizeof(got[i]));
        io[i].dataType = t->dataType;
        io[i].dimensions = NNRT_Int32List_make(t->shape.dims, (uint32_t)t->shape.rank);
        io[i].data.fd = -1;
        io[i].data.addr = input ? in[i].data : got[i];
        io[i].data.bufferSize = io[i].data.dataSize = (uint32_t)t->bytes;
    }
    assert_int_equal(nnrt_plan_run(p, workspace, bytes - 1, io, p->nInputs, io + p->nInputs, p->nOutputs, NULL, NULL),
                     NNRT_OUT_OF_MEMORY);
    code = nnrt_plan_run(p, workspace, bytes, io, p->nInputs, io + p->nInputs, p->nOutputs, NULL, &nested.error);
    if (code != want)
        fail_msg("nested: %s '%s', expected %s", nnrt_code_name(code), nested.error.message, nnrt_code_name(want));
    for (uint32_t i = 0; i < p->nOutputs && code == NNRT_SUCCESS; i++)
        assert_memory_equal(got[p->nInputs + i], out[i].data, p->outputs[i].bytes);
    nested.runs += code == NNRT_SUCCESS;
    nested.faults += code != NNRT_SUCCESS;
    nnrt_free(NULL, workspace, bytes);
}

static nnrt_session *session_of(const NNRT_Model *m, const nnrt_session_desc *desc)
{
    nnrt_session *s = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_session_create(&s, m, desc, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nested_begin(s, m, desc);
    return s;
}

static void run(nnrt_session *s, const nnrt_io *in, uint32_t nIn, const nnrt_io *out, uint32_t nOut)
{
    if (nnrt_run(s, in, nIn, out, nOut) != NNRT_SUCCESS)
        fail_msg("%s", nnrt_session_error(s));
    nested_run(s, in, out, NNRT_SUCCESS);
}

static const uint8_t yes = 1, no = 0;

static void test_if(void **state)
{
    static tree t;
    const float x[3] = {1, -2, 3};
    float y[3];
    nnrt_session *s;
    nnrt_io in[2] = {{NULL, 1, NULL}, {(void *)(uintptr_t)x, sizeof(x), NULL}};
    (void)state;
    branches(&t);
    s = session_of(&t.g.model, NULL);
    in[0].data = (void *)(uintptr_t)&yes;
    run(s, in, 2, NNRT_IO(y));
    assert_true(y[0] == 2 && y[1] == -4 && y[2] == 6);
    in[0].data = (void *)(uintptr_t)&no;
    run(s, in, 2, NNRT_IO(y));
    assert_true(y[0] == 1 && y[1] == 2 && y[2] == 3);
    nnrt_session_destroy(s);
}

static void test_loop_swaps(void **state)
{
    static tree t;
    static const float want[11] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
    nnrt_session_desc desc;
    const nnrt_bound most[1] = {{"all", {2, {10, 1}}}};
    int64_t trips;
    float last[1], next[1], all[16];
    nnrt_io in[1] = {{&trips, sizeof(trips), NULL}};
    nnrt_io out[3] = {{last, sizeof(last), NULL}, {next, sizeof(next), NULL}, {all, sizeof(all), NULL}};
    nnrt_session *s;
    (void)state;
    fibonacci(&t);
    memset(&desc, 0, sizeof(desc));
    desc.bounds = nnrt_bound_list_make(most, 1);
    s = session_of(&t.g.model, &desc);
    for (trips = -1; trips <= 10; trips++) {
        const int64_t n = trips > 0 ? trips : 0;
        for (uint32_t i = 0; i < COUNT(all); i++)
            all[i] = -1;
        run(s, in, 1, out, 3);
        assert_true(last[0] == want[n] && next[0] == (n == 10 ? 89 : want[n + 1]));
        assert_int_equal(nnrt_session_output(s, 2).shape.dims[0], n);
        for (int64_t i = 0; i < (int64_t)COUNT(all); i++)
            assert_true(all[i] == (i < n ? want[i] : -1));
    }
    trips = 11;
    assert_int_equal(nnrt_run(s, in, 1, out, 3), NNRT_OUT_OF_DIMENTION_RANGES);
    assert_non_null(strstr(nnrt_session_error(s), "scan 0"));
    nnrt_session_destroy(s);
}

/* A growing cache: v = concat(v, [i]) while i < limit, from an empty v. */
static void test_loop_grows(void **state)
{
    static tree t;
    static const float start[1] = {7}, step[1] = {0.5f};
    const NNRT_Concat concat = {0};
    nnrt_session_desc desc;
    const nnrt_bound most[1] = {{"v", {1, {6}}}};
    nnrt_session *s;
    nnrt_error error;
    int64_t trips;
    float y[8];
    nnrt_io in[1] = {{&trips, sizeof(trips), NULL}};
    (void)state;
    tree_init(&t);
    (void)tensor(&t.g, "trips", I64, "");
    (void)constant(&t.g, "start", F32, "1", start, sizeof(start));
    (void)constant(&t.g, "step", F32, "1", step, sizeof(step));
    (void)result(&t.g, "y"); /* 3 */
    (void)tensor(&t.g, "i", I64, "");
    (void)tensor(&t.g, "go", BOOL, "");
    (void)result(&t.g, "v");  /* 6 */
    (void)result(&t.g, "v2"); /* 7 */
    (void)result(&t.g, "v3"); /* 8 */
    (void)loop_node(&t, "loop", 1, "0 - 1", "3");
    (void)node(&t.g, "concat", NNRT_NODE_TYPE_CONCAT, &concat, sizeof(concat), "6 2", "7");
    (void)ADD(&t.g, "add", "7 2", "8");
    graph_of(&t, 0, "0", "3", "0");
    graph_of(&t, 1, "4 5 6", "5 8", "1 2");
    graph_io(&t.g, "0", "3");
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_session_create(&s, &t.g.model, NULL, &error), NNRT_UNSUPPORTED_OP);
    assert_non_null(strstr(error.message, "'v'"));
    memset(&desc, 0, sizeof(desc));
    desc.bounds = nnrt_bound_list_make(most, 1);
    s = session_of(&t.g.model, &desc);
    for (trips = 0; trips <= 5; trips++) {
        float want[8] = {7};
        for (int64_t n = 0; n < trips; n++) {
            want[n + 1] = 0.5f;
            for (int64_t i = 0; i <= n + 1; i++)
                want[i] += 0.5f;
        }
        run(s, in, 1, NNRT_IO(y));
        assert_int_equal(nnrt_session_output(s, 0).shape.dims[0], trips + 1);
        for (int64_t i = 0; i <= trips; i++)
            assert_true(y[i] == want[i]);
    }
    trips = 6;
    assert_int_equal(nnrt_run(s, in, 1, NNRT_IO(y)), NNRT_OUT_OF_DIMENTION_RANGES);
    nnrt_session_destroy(s);
}

/* Creating a session fails with this code and these words in its message. */
static void refused(const NNRT_Model *m, const nnrt_session_desc *desc, NNRT_ReturnCode code, const char *words)
{
    nnrt_session *s = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_session_create(&s, m, desc, &error) != code || strstr(error.message, words) == NULL)
        fail_msg("got %s '%s', expected %s '%s'", nnrt_code_name(error.code), error.message, nnrt_code_name(code),
                 words);
    assert_null(s);
}

static void run_fails(nnrt_session *s, const nnrt_io *in, uint32_t nIn, const nnrt_io *out, uint32_t nOut,
                      NNRT_ReturnCode code, const char *words)
{
    const NNRT_ReturnCode got = nnrt_run(s, in, nIn, out, nOut);
    if (got != code || strstr(nnrt_session_error(s), words) == NULL)
        fail_msg("got %s '%s', expected %s '%s'", nnrt_code_name(got), nnrt_session_error(s), nnrt_code_name(code),
                 words);
    nested_run(s, in, out, code);
}

static nnrt_session_desc bounded(const nnrt_bound *bounds, uint32_t count)
{
    nnrt_session_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.bounds = nnrt_bound_list_make(bounds, count);
    return desc;
}

/* Names are unique within a graph, but several graphs may use the same name. */
static void test_names(void **state)
{
    static tree t;
    (void)state;
    for (uint32_t mask = 0; mask < 32; mask++) { /* tensors 0 to 2 belong to the main graph */
        branches(&t);
        for (uint32_t i = 0; i < 5; i++)
            t.g.tensors[i].name = (mask >> i & 1) != 0 ? "r" : i == 0 ? "a" : i == 1 ? "b" : i == 2 ? "c" : "d";
        if ((mask & 3) == 3 || (mask & 5) == 5 || (mask & 6) == 6)
            refused(&t.g.model, NULL, NNRT_INVALID_TENSOR_NAME, "are both named 'r'");
        else
            nnrt_session_destroy(session_of(&t.g.model, NULL));
    }
}

/* One result of a LOOP is read, any of them; or none, and then the loop does not run. */
static void test_some_results(void **state)
{
    static const char *const outputs[3] = {"3", "4", "5"};
    static const float want[3] = {5, 8, 3}; /* after 5 trips; the last element of the scan */
    static tree t;
    const nnrt_bound most[1] = {{"all", {2, {6, 1}}}};
    const nnrt_session_desc desc = bounded(most, 1);
    int64_t trips = 5;
    nnrt_io in[1] = {{&trips, sizeof(trips), NULL}};
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t unnamed = 0; unnamed < 2; unnamed++) {
            float y[6] = {0};
            nnrt_session *s;
            fibonacci(&t);
            graph_io(&t.g, "0", outputs[i]);
            for (uint32_t k = 0; k < 3 && unnamed == 1; k++)
                if (k != i)
                    t.g.out[0][k] = NNRT_NO_TENSOR;
            s = session_of(&t.g.model, unnamed == 1 && i != 2 ? NULL : &desc);
            run(s, in, 1, NNRT_IO(y));
            assert_true(y[i == 2 ? 4 : 0] == want[i]);
            nnrt_session_destroy(s);
        }
    fibonacci(&t);
    (void)result(&t.g, "more");
    (void)ADD(&t.g, "apart", "1 2", "11");
    graph_of(&t, 0, "0", "11", "0 2");
    graph_io(&t.g, "0", "11");
    {
        float y[1];
        nnrt_session *s = session_of(&t.g.model, &desc);
        trips = INT64_MAX; /* the unused LOOP does not run */
        run(s, in, 1, NNRT_IO(y));
        assert_true(y[0] == 1 && nnrt_session_get_memory(s).steps <= 1);
        nnrt_session_destroy(s);
    }
}

/* u = [u u] along axis 1, m times, in the body of a loop that makes v = [u; u], n times: both grow, in both loops. */
static void grow_both(tree *t)
{
    static const NNRT_Concat rows = {0}, columns = {1};
    tree_init(t);
    (void)tensor(&t->g, "n", I64, "");
    (void)tensor(&t->g, "m", I64, "");
    (void)tensor(&t->g, "x", F32, "2,2");
    (void)result(&t->g, "y"); /* 3 */
    (void)tensor(&t->g, "i", I64, "");
    (void)tensor(&t->g, "go", BOOL, "");
    (void)result(&t->g, "v");  /* 6 */
    (void)result(&t->g, "w");  /* 7 */
    (void)result(&t->g, "w2"); /* 8 */
    (void)tensor(&t->g, "i", I64, "");
    (void)tensor(&t->g, "go", BOOL, "");
    (void)result(&t->g, "u");  /* 11 */
    (void)result(&t->g, "u2"); /* 12 */
    (void)loop_node(t, "outer", 1, "0 - 2", "3");
    (void)loop_node(t, "inner", 2, "1 - 6", "7");
    (void)node(&t->g, "rows", NNRT_NODE_TYPE_CONCAT, &rows, sizeof(rows), "7 7", "8");
    (void)node(&t->g, "columns", NNRT_NODE_TYPE_CONCAT, &columns, sizeof(columns), "11 11", "12");
    graph_of(t, 0, "0 1 2", "3", "0");
    graph_of(t, 1, "4 5 6", "5 8", "1 2");
    graph_of(t, 2, "9 10 11", "10 12", "3");
    graph_io(&t->g, "0 1 2", "3");
}

static void test_loops_grow(void **state)
{
    static const nnrt_bound most[2] = {{"v", {2, {8, 16}}}, {"u", {2, {8, 16}}}};
    static tree t;
    const nnrt_session_desc desc = bounded(most, 2);
    const float x[4] = {1, 2, 3, 4};
    float y[256];
    int64_t n, m;
    nnrt_io in[3] = {{&n, sizeof(n), NULL}, {&m, sizeof(m), NULL}, {(void *)(uintptr_t)x, sizeof(x), NULL}};
    nnrt_session *s;
    (void)state;
    grow_both(&t);
    refused(&t.g.model, NULL, NNRT_UNSUPPORTED_OP, "'u' comes into the body");
    s = session_of(&t.g.model, &desc);
    for (uint32_t round = 0; round < 2; round++) /* the same again */
        for (n = 0; n < 4; n++)
            for (m = 0; m < 4; m++) {
                const int32_t rows = 2 << n, columns = 2 << (n * m);
                if (rows > 8 || columns > 16) {
                    run_fails(s, in, 3, NNRT_IO(y), NNRT_OUT_OF_DIMENTION_RANGES, "bound of float32[8,16]");
                    continue;
                }
                run(s, in, 3, NNRT_IO(y));
                assert_int_equal(nnrt_session_output(s, 0).shape.dims[0], rows);
                assert_int_equal(nnrt_session_output(s, 0).shape.dims[1], columns);
                for (int32_t r = 0; r < rows; r++)
                    for (int32_t c = 0; c < columns; c++)
                        assert_true(y[r * columns + c] == x[r % 2 * 2 + c % 2]);
            }
    nnrt_session_destroy(s);
}

/* Branches of 3 and of 6 elements: the result has the shape of the executed branch. */
static void unequal(tree *t)
{
    static const NNRT_Concat concat = {0};
    branches(t);
    t->g.nodes[2].nodeType = NNRT_NODE_TYPE_CONCAT;
    t->g.nodes[2].nodeAttr.data = &concat;
    t->g.nodes[2].nodeAttr.size = sizeof(concat);
    t->g.nodes[2].inputIndex.count = parse_indices("1 1", t->g.in[2]);
}

static void test_unequal_branches(void **state)
{
    static tree t;
    const float x[3] = {1, -2, 3};
    float y[8];
    nnrt_io in[2] = {{NULL, 1, NULL}, {(void *)(uintptr_t)x, sizeof(x), NULL}}, out[1] = {{y, sizeof(y), NULL}};
    nnrt_session *s;
    (void)state;
    unequal(&t);
    s = session_of(&t.g.model, NULL);
    assert_true(nnrt_session_output(s, 0).open && nnrt_session_output(s, 0).shape.dims[0] == 6);
    for (uint32_t i = 0; i < 4; i++) {
        in[0].data = (void *)(uintptr_t)(i % 2 == 0 ? &yes : &no);
        run(s, in, 2, out, 1);
        assert_int_equal(nnrt_session_output(s, 0).shape.dims[0], i % 2 == 0 ? 3 : 6);
        for (int32_t k = 0; k < (i % 2 == 0 ? 3 : 6); k++)
            assert_true(y[k] == (i % 2 == 0 ? 2 : 1) * x[k % 3]);
    }
    for (uint32_t i = 0; i < 2; i++) { /* a buffer that is too small is not written, and the required size is reported */
        const size_t need = i == 0 ? 12 : 24;
        in[0].data = (void *)(uintptr_t)(i == 0 ? &yes : &no);
        out[0].bytes = need - 1;
        memset(y, 0x5A, sizeof(y));
        run_fails(s, in, 2, out, 1, NNRT_INSUFFICIENT_BUFFER, "output 0 'y'");
        assert_int_equal(nnrt_session_output(s, 0).bytes, need);
        for (size_t k = 0; k < sizeof(y); k++)
            assert_int_equal(((uint8_t *)y)[k], 0x5A);
        out[0].bytes = need;
        run(s, in, 2, out, 1);
    }
    nnrt_session_destroy(s);
    for (int32_t declared = 3; declared <= 6; declared += 3) { /* a run checks the declared shape */
        unequal(&t);
        t.g.tensors[2].dims.count = 1;
        t.g.dims[2][0] = declared;
        s = session_of(&t.g.model, NULL);
        assert_false(nnrt_session_output(s, 0).open);
        out[0].bytes = sizeof(y);
        for (uint32_t i = 0; i < 2; i++) {
            in[0].data = (void *)(uintptr_t)(i == 0 ? &yes : &no);
            if ((i == 0 ? 3 : 6) == declared)
                run(s, in, 2, out, 1);
            else
                run_fails(s, in, 2, out, 1, NNRT_INVALID_SHAPE,
                          declared == 3 ? "where float32[3]" : "where float32[6]");
        }
        nnrt_session_destroy(s);
    }
}

/* cond and trips of no element, known only in the run. */
static void test_empty_cond(void **state)
{
    static const nnrt_bound cond[1] = {{"cond", {1, {1}}}}, count[2] = {{"trips", {1, {1}}}, {"all", {2, {4, 1}}}};
    static const int32_t none[1] = {0}, one[1] = {1};
    static tree t;
    const float x[3] = {1, 2, 3};
    float y[4], z[1], all[4];
    int64_t trips = 2;
    nnrt_io in[2] = {{NULL, 0, none}, {(void *)(uintptr_t)x, sizeof(x), NULL}};
    nnrt_io out[3] = {{y, sizeof(y), NULL}, {z, sizeof(z), NULL}, {all, sizeof(all), NULL}};
    nnrt_session_desc desc = bounded(cond, 1);
    nnrt_session *s;
    (void)state;
    branches(&t);
    t.g.tensors[0].dims.count = 1;
    t.g.dims[0][0] = -1;
    s = session_of(&t.g.model, &desc);
    out[0].bytes = 12;
    run_fails(s, in, 2, out, 1, NNRT_INVALID_SHAPE, "node 0 'if' (IF): cond is bool[0]");
    in[0].data = (void *)(uintptr_t)&yes;
    in[0].bytes = 1;
    in[0].dims = one;
    run(s, in, 2, out, 1);
    nnrt_session_destroy(s);
    fibonacci(&t);
    t.g.tensors[0].dims.count = 1;
    t.g.dims[0][0] = -1;
    desc = bounded(count, 2);
    s = session_of(&t.g.model, &desc);
    in[0].data = NULL;
    in[0].bytes = 0;
    in[0].dims = none;
    out[0].bytes = 4;
    run_fails(s, in, 1, out, 3, NNRT_INVALID_SHAPE, "node 0 'loop' (LOOP): trips is int64[0]");
    in[0].data = &trips;
    in[0].bytes = sizeof(trips);
    in[0].dims = one;
    run(s, in, 1, out, 3);
    assert_true(y[0] == 1 && z[0] == 2);
    nnrt_session_destroy(s);
}

/* sum = sum + x while sum <= limit and, if given, at most so many trips; each sum is scanned. */
static void sums(tree *t, const char *in)
{
    tree_init(t);
    (void)tensor(&t->g, "trips", I64, "");
    (void)tensor(&t->g, "cond", BOOL, "");
    (void)tensor(&t->g, "start", F32, "1");
    (void)tensor(&t->g, "limit", F32, "1");
    (void)result(&t->g, "sum"); /* 4 */
    (void)result(&t->g, "all"); /* 5 */
    (void)tensor(&t->g, "i", I32, "1");
    (void)tensor(&t->g, "go", BOOL, "");
    (void)result(&t->g, "s");  /* 8 */
    (void)result(&t->g, "s2"); /* 9 */
    (void)result(&t->g, "go2");
    (void)loop_node(t, "loop", 1, in, "4 5");
    (void)ADD(&t->g, "add", "8 2", "9"); /* start is read again in each trip */
    (void)PLAIN(&t->g, "less", LESS_EQUAL, "9 3", "10");
    graph_of(t, 0, "0 1 2 3", "4 5", "0");
    graph_of(t, 1, "6 7 8", "10 9 9", "1 2");
    graph_io(&t->g, "0 1 2 3", "4 5");
}

static void test_ends(void **state)
{
    static const char *const ways[4] = {"0 1 2", "0 - 2", "- 1 2", "- - 2"};
    static const nnrt_bound most[1] = {{"all", {2, {9, 1}}}};
    static tree t;
    (void)state;
    for (uint32_t w = 0; w < 4; w++) {
        nnrt_session_desc desc = bounded(most, 1);
        nnrt_session *s;
        sums(&t, ways[w]);
        desc.maxTrips = 8;
        s = session_of(&t.g.model, &desc);
        for (int64_t trips = -2; trips < 12; trips++)
            for (uint32_t c = 0; c < 2; c++)
                for (uint32_t l = 0; l < 12; l++) {
                    const float start[1] = {1}, limit[1] = {(float)l};
                    const uint8_t cond = (uint8_t)c;
                    float want = 1, sum[1], all[9];
                    int64_t n = 0;
                    bool goes = w == 1 || w == 3 || c == 1;
                    nnrt_io in[4] = {{NULL, 8, NULL}, {NULL, 1, NULL}, {NULL, 4, NULL}, {NULL, 4, NULL}};
                    nnrt_io out[2] = {{sum, sizeof(sum), NULL}, {all, sizeof(all), NULL}};
                    in[0].data = (void *)(uintptr_t)&trips;
                    in[1].data = (void *)(uintptr_t)&cond;
                    in[2].data = (void *)(uintptr_t)start;
                    in[3].data = (void *)(uintptr_t)limit;
                    for (; goes && (w >= 2 || n < trips) && n <= 8; n++) {
                        want += 1;
                        goes = want <= limit[0];
                    }
                    if (n > 8) {
                        run_fails(s, in, 4, out, 2, NNRT_TIME_OUT, "node 0 'loop' (LOOP): has not ended after 8 trips");
                        continue;
                    }
                    run(s, in, 4, out, 2);
                    assert_true(sum[0] == want);
                    assert_int_equal(nnrt_session_output(s, 1).shape.dims[0], n);
                    for (int64_t k = 0; k < n; k++)
                        assert_true(all[k] == (float)(k + 2));
                }
        nnrt_session_destroy(s);
    }
}

/* A scan with a known number of trips has as many elements and needs no bound; a declared scan must match its shape. */
static void test_scan_extents(void **state)
{
    static const int64_t four[1] = {4};
    static tree t;
    const float start[1] = {1}, limit[1] = {3};
    float sum[1], all[4];
    int64_t trips = 4;
    nnrt_io in[4] = {{&trips, 8, NULL},
                     {(void *)(uintptr_t)&yes, 1, NULL},
                     {(void *)(uintptr_t)start, 4, NULL},
                     {(void *)(uintptr_t)limit, 4, NULL}};
    nnrt_io out[2] = {{sum, sizeof(sum), NULL}, {all, sizeof(all), NULL}};
    nnrt_session *s;
    (void)state;
    sums(&t, "11 - 2");
    (void)constant(&t.g, "four", I64, "", four, sizeof(four));
    t.out[1][0] = 7; /* always continues */
    s = session_of(&t.g.model, NULL);
    assert_false(nnrt_session_output(s, 1).open);
    run(s, in, 4, out, 2);
    assert_true(sum[0] == 5 && all[3] == 5);
    nnrt_session_destroy(s);
    sums(&t, "11 - 2");
    (void)constant(&t.g, "four", I64, "", four, sizeof(four));
    s = session_of(&t.g.model, NULL); /* at most four */
    assert_true(nnrt_session_output(s, 1).open && nnrt_session_output(s, 1).shape.dims[0] == 4);
    run(s, in, 4, out, 2);
    assert_int_equal(nnrt_session_output(s, 1).shape.dims[0], 3);
    nnrt_session_destroy(s);
    sums(&t, "11 - 2");
    (void)constant(&t.g, "four", I64, "", four, sizeof(four));
    t.g.tensors[5].dataType = F32;
    t.g.tensors[5].dims.count = 2;
    t.g.dims[5][0] = 4;
    t.g.dims[5][1] = 1;
    s = session_of(&t.g.model, NULL); /* declared as four */
    run_fails(s, in, 4, out, 2, NNRT_INVALID_SHAPE, "'loop' (LOOP): its scans have 3 trips, where 4 were planned");
    nnrt_session_destroy(s);
    sums(&t, "- - 2");
    refused(&t.g.model, NULL, NNRT_UNSUPPORTED_OP, "'all': its shape");
}

/* SLICE of a captured list reads one element at index i, the number of the trip; the scan of the elements equals the
   list. */
static void test_trip_number(void **state)
{
    static const int64_t one[1] = {1}, three[1] = {3};
    static tree t;
    const float x[3] = {5, 7, 9};
    float y[3] = {0};
    nnrt_io in[1] = {{(void *)(uintptr_t)x, sizeof(x), NULL}};
    nnrt_session *s;
    (void)state;
    tree_init(&t);
    (void)tensor(&t.g, "x", F32, "3");
    (void)constant(&t.g, "three", I64, "", three, sizeof(three));
    (void)constant(&t.g, "one", I64, "1", one, sizeof(one));
    (void)result(&t.g, "y"); /* 3 */
    (void)tensor(&t.g, "i", I64, "1");
    (void)tensor(&t.g, "go", BOOL, "");
    (void)result(&t.g, "part"); /* 6 */
    (void)loop_node(&t, "loop", 1, "1 -", "3");
    (void)PLAIN(&t.g, "slice", SLICE_FUSION, "0 4 2", "6");
    graph_of(&t, 0, "0", "3", "0");
    graph_of(&t, 1, "4 5", "5 6", "1");
    graph_io(&t.g, "0", "3");
    {
        static const nnrt_bound most[1] = {{"part", {1, {1}}}};
        const nnrt_session_desc desc = bounded(most, 1);
        s = session_of(&t.g.model, &desc);
    }
    run(s, in, 1, NNRT_IO(y));
    assert_int_equal(nnrt_session_output(s, 0).shape.dims[0], 3);
    assert_true(y[0] == 5 && y[1] == 7 && y[2] == 9);
    nnrt_session_destroy(s);
}

/* `depth` nested loops of two trips each, around one addition of a captured input. */
static void deep(tree *t, uint32_t depth)
{
    static const int64_t two[1] = {2};
    tree_init(t);
    (void)tensor(&t->g, "x", F32, "1");
    (void)constant(&t->g, "two", I64, "", two, sizeof(two));
    (void)result(&t->g, "y"); /* 2 */
    for (uint32_t k = 0; k < depth; k++) {
        (void)tensor(&t->g, "i", I64, "");
        (void)tensor(&t->g, "go", BOOL, "");
        (void)result(&t->g, "v");
        (void)result(&t->g, "w"); /* 6 + 4k */
    }
    for (uint32_t k = 0; k < depth; k++) {
        char in[32], out[16], nodes[16];
        (void)nnrt_text(in, sizeof(in), "1 - %u", k == 0 ? 0 : 5 + 4 * (k - 1));
        (void)nnrt_text(out, sizeof(out), "%u", k == 0 ? 2 : 6 + 4 * (k - 1));
        (void)nnrt_text(nodes, sizeof(nodes), "%u", k);
        (void)loop_node(t, "loop", k + 1, in, out);
        graph_of(t, k, "", "", nodes);
    }
    {
        char in[32], out[16], nodes[16];
        (void)nnrt_text(in, sizeof(in), "%u 0", 5 + 4 * (depth - 1));
        (void)nnrt_text(out, sizeof(out), "%u", 6 + 4 * (depth - 1));
        (void)nnrt_text(nodes, sizeof(nodes), "%u", depth);
        (void)ADD(&t->g, "add", in, out);
        graph_of(t, depth, "", "", nodes);
    }
    for (uint32_t k = 0; k < depth; k++) {
        NNRT_SubGraph *s = &t->graphs[k + 1];
        char text[32];
        (void)nnrt_text(text, sizeof(text), "%u %u %u", 3 + 4 * k, 4 + 4 * k, 5 + 4 * k);
        s->inputIndices.count = parse_indices(text, t->in[k + 1]);
        (void)nnrt_text(text, sizeof(text), "%u %u", 4 + 4 * k, 6 + 4 * k);
        s->outputIndices.count = parse_indices(text, t->out[k + 1]);
    }
    graph_io(&t->g, "0", "2");
}

static void test_nesting(void **state)
{
    static tree t;
    (void)state;
    for (uint32_t depth = 1; depth <= 17; depth++) {
        const float x[1] = {1};
        float y[1];
        nnrt_io in[1] = {{(void *)(uintptr_t)x, sizeof(x), NULL}};
        nnrt_session *s;
        deep(&t, depth);
        if (depth > NNRT_MAX_NESTING) {
            refused(&t.g.model, NULL, NNRT_INVALID_MODEL, "or in more than 16 subgraphs");
            continue;
        }
        s = session_of(&t.g.model, NULL);
        if (depth <= 12) {
            run(s, in, 1, NNRT_IO(y));
            assert_true(y[0] == (float)(1 + (1 << depth)));
        }
        nnrt_session_destroy(s);
    }
}

/* Invalid models with subgraphs, made from the models of branches or fibonacci. */
static void test_wrong_models(void **state)
{
    static const float half[1] = {0.5f};
    static const int64_t first[1] = {0};
    const NNRT_Unsqueeze more_axes = {nnrt_int64_list(first, 1)};
    static const nnrt_bound most[1] = {{"all", {2, {10, 1}}}};
    const nnrt_session_desc desc = bounded(most, 1);
    static tree t;
    (void)state;
#define WRONG_IF(change, code, words) (branches(&t), (void)(change), refused(&t.g.model, NULL, code, words))
#define WRONG_LOOP(change, code, words) (fibonacci(&t), (void)(change), refused(&t.g.model, &desc, code, words))
    WRONG_IF(t.g.nodes[0].nodeAttr.data = NULL, NNRT_INVALID_MODEL, "subgraph 1: no node runs it");
    WRONG_IF(t.ifs[1].elseGraph = NNRT_NO_GRAPH, NNRT_INVALID_MODEL, "subgraph 2: no node runs it");
    WRONG_IF(t.ifs[1].elseGraph = 0, NNRT_INVALID_NODE, "elseGraph is subgraph 0");
    WRONG_IF(t.ifs[1].elseGraph = 3, NNRT_INVALID_NODE, "elseGraph is subgraph 3, but the model has 3");
    WRONG_IF(t.ifs[1].elseGraph = 1, NNRT_INVALID_MODEL, "subgraph 1 is run by node 0 'if' and by node 0 'if'");
    WRONG_IF(graph_of(&t, 1, "", "4", "1"), NNRT_INVALID_MODEL, "tensor 4 'r' of subgraph 2 is read in subgraph 1");
    WRONG_IF(t.g.in[1][0] = 4, NNRT_INVALID_MODEL, "tensor 4 'r' of subgraph 2 is read in subgraph 1");
    WRONG_IF(graph_io(&t.g, "0 1", "3"), NNRT_INVALID_MODEL, "tensor 3 'r' of subgraph 1 is read in subgraph 0");
    WRONG_IF(t.g.in[1][0] = 2, NNRT_INVALID_MODEL, "needs its own result: a cycle through tensor 2 'y'");
    WRONG_IF(graph_of(&t, 1, "", "2", "1"), NNRT_INVALID_MODEL, "needs its own result");
    WRONG_IF((graph_of(&t, 0, "0 1", "2", ""), graph_of(&t, 1, "", "3", "1 0")), NNRT_INVALID_MODEL, "lies in itself");
    WRONG_IF(graph_of(&t, 1, "1", "3", "1"), NNRT_INVALID_MODEL, "input 0 is tensor 1 'x', which is given elsewhere");
    WRONG_IF(graph_of(&t, 1, "4", "3", "1"), NNRT_INVALID_OUTPUT, "is an input of a subgraph");
    WRONG_IF(graph_of(&t, 1, "", "3 3", "1"), NNRT_INVALID_MODEL, "thenGraph, subgraph 1, has 0 inputs and 2 outputs");
    WRONG_IF(graph_of(&t, 2, "", "", "2"), NNRT_INVALID_MODEL, "elseGraph, subgraph 2, has 0 inputs and 0 outputs");
    WRONG_IF(graph_of(&t, 2, "", "0", "2"), NNRT_INVALID_SHAPE, "output of the else-graph 0 is bool");
    WRONG_IF(t.g.tensors[0].dataType = F32, NNRT_INVALID_DATATYPE, "input 0 (cond)");
    WRONG_IF(t.g.in[0][0] = 1, NNRT_INVALID_DATATYPE, "input 0 (cond)");
    WRONG_IF((t.g.tensors[0].dims.count = 1, t.g.dims[0][0] = 2), NNRT_INVALID_SHAPE, "expected one element");
    WRONG_IF(t.g.tensors[2].dataType = I32, NNRT_INVALID_DATATYPE, "is declared int32, but is float32");
    WRONG_IF((t.g.tensors[2].dims.count = 1, t.g.dims[2][0] = 4), NNRT_INVALID_SHAPE, "is declared");
    WRONG_IF((t.g.nodes[2].nodeType = NNRT_NODE_TYPE_UNSQUEEZE, t.g.nodes[2].nodeAttr.data = &more_axes,
              t.g.nodes[2].nodeAttr.size = sizeof(more_axes)),
             NNRT_INVALID_SHAPE, "output of the else-graph 0 is float32[1,3], expected it to be as float32[3]");
    WRONG_LOOP(t.g.nodes[0].inputIndex.count = 1, NNRT_INVALID_INPUT, "expected at least 2");
    WRONG_LOOP(graph_of(&t, 1, "6 7 8", "7 9 10 8", "1"), NNRT_INVALID_INPUT, "which no node writes");
    WRONG_LOOP(t.in[1][3] = 8, NNRT_INVALID_MODEL, "input 3 is tensor 8 'a', which is given elsewhere");
    WRONG_LOOP(graph_of(&t, 1, "6 7 8 9", "7 9 10", "1"), NNRT_INVALID_MODEL,
               "body, subgraph 1, has 4 inputs and 3 outputs");
    WRONG_LOOP(t.out[1][0] = 8, NNRT_INVALID_MODEL, "output 0 of its body is float32[1], expected one bool");
    WRONG_LOOP(t.g.tensors[6].dataType = F32, NNRT_INVALID_MODEL, "input 0 of its body is float32");
    WRONG_LOOP(t.g.tensors[7].dataType = F32, NNRT_INVALID_MODEL, "input 1 of its body is float32");
    WRONG_LOOP(t.g.tensors[8].dataType = I32, NNRT_INVALID_DATATYPE, "input 2 of its body is declared int32");
    WRONG_LOOP(t.out[1][1] = 7, NNRT_INVALID_SHAPE, "carried value 0 is bool[], expected it to be as float32[1]");
    WRONG_LOOP(t.g.out[1][0] = 5, NNRT_INVALID_OUTPUT, "");
    WRONG_LOOP(t.g.tensors[1].dims.count = 0, NNRT_INVALID_SHAPE, "carried value");
    WRONG_LOOP(t.loops[1].body = 2, NNRT_INVALID_NODE, "body is subgraph 2, but the model has 2");
    WRONG_LOOP(constant(&t.g, "loose", F32, "1", half, sizeof(half)) + (t.in[1][2] = 11), NNRT_INVALID_MODEL,
               "given elsewhere");
}

/* h = x + 1; y = x + trips * (relu(h) + |h|) + h or 1. The body captures h of the outer graph, which is read
   afterwards, or not: captured tensors are not overwritten. */
static void test_captures(void **state)
{
    static const float one[2] = {1, 1};
    static tree t;
    (void)state;
    for (uint32_t after = 0; after < 2; after++)
        for (uint32_t twice = 0; twice < 2; twice++)
            for (int64_t trips = 0; trips < 4; trips++) {
                const float x[2] = {-3, 4};
                float y[2], h[2];
                nnrt_io in[2] = {{&trips, 8, NULL}, {(void *)(uintptr_t)x, sizeof(x), NULL}};
                nnrt_io out[2] = {{y, sizeof(y), NULL}, {h, sizeof(h), NULL}};
                nnrt_session *s;
                tree_init(&t);
                (void)tensor(&t.g, "trips", I64, "");
                (void)tensor(&t.g, "x", F32, "2");
                (void)constant(&t.g, "one", F32, "2", one, sizeof(one));
                (void)result(&t.g, "h"); /* 3 = x + 1, captured */
                (void)result(&t.g, "v"); /* 4 */
                (void)result(&t.g, "y"); /* 5 */
                (void)tensor(&t.g, "i", I64, "");
                (void)tensor(&t.g, "go", BOOL, "");
                (void)result(&t.g, "s");   /* 8 */
                (void)result(&t.g, "r");   /* 9 = relu(h) */
                (void)result(&t.g, "abs"); /* 10 = |h| */
                (void)result(&t.g, "s2");  /* 11 */
                (void)result(&t.g, "s3");  /* 12 */
                (void)ADD(&t.g, "h", "1 2", "3");
                (void)loop_node(&t, "loop", 1, "0 - 1", "4");
                (void)ADD(&t.g, "y", after == 1 ? "4 3" : "4 2", "5");
                (void)ACTIVATION(&t.g, "relu", relu, "3", "9");
                (void)ACTIVATION(&t.g, "abs", absolute, "3", "10");
                (void)ADD(&t.g, "sum", "8 9", "11");
                (void)ADD(&t.g, "sum", "11 10", "12");
                graph_of(&t, 0, "0 1", "5", "0 1 2");
                graph_of(&t, 1, "6 7 8", "7 12", twice == 1 ? "3 4 5 6" : "6 5 4 3");
                graph_io(&t.g, "0 1", after == 1 && twice == 1 ? "5 3" : "5");
                s = session_of(&t.g.model, NULL);
                for (uint32_t round = 0; round < 2; round++) {
                    run(s, in, 2, out, t.g.model.outputIndex.count);
                    for (uint32_t k = 0; k < 2; k++) {
                        const float a = x[k] + 1, each = (a > 0 ? a : 0) + (a < 0 ? -a : a);
                        assert_true(y[k] == x[k] + (float)trips * each + (after == 1 ? a : 1));
                        assert_true(after == 0 || twice == 0 || h[k] == a);
                    }
                }
                nnrt_session_destroy(s);
            }
}

/* Branches that return tensors of the outer graph: an input of the model, a constant, another result; and outputs of
   the model that are the result of IF, also twice. */
static void test_given_branches(void **state)
{
    static const float one[3] = {1, 1, 1};
    static const char *const gives[4] = {"1", "5", "6", "3"};
    static tree t;
    const float x[3] = {-3, 4, 5};
    nnrt_io in[2] = {{NULL, 1, NULL}, {(void *)(uintptr_t)x, sizeof(x), NULL}};
    (void)state;
    for (uint32_t a = 0; a < 4; a++)
        for (uint32_t b = 0; b < 3; b++)
            for (uint32_t o = 0; o < 3; o++) {
                float y[3], z[3], w[3];
                nnrt_io out[3] = {{y, sizeof(y), NULL}, {z, sizeof(z), NULL}, {w, sizeof(w), NULL}};
                nnrt_session *s;
                branches(&t);
                (void)constant(&t.g, "one", F32, "3", one, sizeof(one)); /* 5 */
                (void)result(&t.g, "h");                                 /* 6 = x + 1 */
                (void)result(&t.g, "later");                             /* 7 = y + 1 */
                (void)ADD(&t.g, "h", "1 5", "6");
                (void)ADD(&t.g, "later", "2 5", "7");
                graph_of(&t, 0, "0 1", "2", "0 3 4");
                graph_of(&t, 1, "", gives[a], "1");
                graph_of(&t, 2, "", gives[b], "2");
                graph_io(&t.g, "0 1", o == 0 ? "2" : o == 1 ? "2 2 6" : "2 7 1");
                s = session_of(&t.g.model, NULL);
                for (uint32_t c = 0; c < 2; c++) {
                    const uint32_t way = c == 1 ? a : b;
                    in[0].data = (void *)(uintptr_t)(c == 1 ? &yes : &no);
                    run(s, in, 2, out, t.g.model.outputIndex.count);
                    for (uint32_t k = 0; k < 3; k++) {
                        const float want = way == 0 ? x[k] : way == 1 ? 1 : way == 2 ? x[k] + 1 : 2 * x[k];
                        assert_true(y[k] == want);
                        assert_true(o != 1 || (z[k] == want && w[k] == x[k] + 1));
                        assert_true(o != 2 || (z[k] == want + 1 && w[k] == x[k]));
                    }
                }
                nnrt_session_destroy(s);
            }
}

/* Exactly the reported bytes suffice, one less fails; each allocation fails in turn; a run allocates nothing. */
static void test_memory(void **state)
{
    static const nnrt_bound grow[2] = {{"v", {2, {8, 16}}}, {"u", {2, {8, 16}}}}, all[1] = {{"all", {2, {10, 1}}}};
    static tree trees[3];
    (void)state;
    branches(&trees[0]);
    fibonacci(&trees[1]);
    grow_both(&trees[2]);
    for (uint32_t i = 0; i < 3; i++) {
        const NNRT_Model *m = &trees[i].g.model;
        nnrt_session_desc desc = bounded(i == 2 ? grow : all, i == 0 ? 0 : i == 1 ? 1 : 2);
        static tracker k;
        const nnrt_allocator allocator = allocator_of(&k);
        size_t bytes = 0;
        guarded b;
        nnrt_session *s = NULL;
        nnrt_error error;
        NNRT_ReturnCode code;
        memset(&error, 0, sizeof(error));
        assert_int_equal(nnrt_session_bytes(m, &desc, &bytes, NULL), NNRT_SUCCESS);
        b = guarded_make(bytes, 0);
        desc.buffer = b.data;
        desc.bufferBytes = bytes - 1;
        assert_int_equal(nnrt_session_create(&s, m, &desc, &error), NNRT_OUT_OF_MEMORY);
        desc.bufferBytes = bytes;
        assert_int_equal(nnrt_session_create(&s, m, &desc, NULL), NNRT_SUCCESS);
        nnrt_session_destroy(s);
        guarded_end(&b);
        desc.buffer = NULL;
        desc.bufferBytes = 0;
        desc.allocator = &allocator;
        memset(&k, 0, sizeof(k));
        for (k.failAt = 1;; k.failAt++) {
            k.calls = 0;
            code = nnrt_session_create(&s, m, &desc, NULL);
            if (code == NNRT_SUCCESS)
                break;
            assert_int_equal(code, NNRT_OUT_OF_MEMORY);
            assert_true(k.live == 0 && !k.wrong);
        }
        assert_true(k.failAt > 3);
        {
            int64_t n = 1;
            float x[4] = {1, 2, 3, 4}, y[64], z[1], w[10];
            nnrt_io in[3] = {{&n, i == 0 ? 1 : 8, NULL}, {&n, 8, NULL}, {x, sizeof(x), NULL}};
            nnrt_io out[3] = {{y, sizeof(y), NULL}, {z, sizeof(z), NULL}, {w, sizeof(w), NULL}};
            const int64_t calls = k.calls;
            if (i == 0) {
                in[1].data = x;
                in[1].bytes = 12;
                out[0].bytes = 12;
            }
            out[0].bytes = i == 1 ? 4 : out[0].bytes;
            run(s, in, i == 0 ? 2 : i == 1 ? 1 : 3, out, i == 1 ? 3 : 1);
            assert_int_equal(k.calls, calls);
        }
        nnrt_session_destroy(s);
        assert_true(k.live == 0 && !k.wrong);
    }
}

/* An optimized model with subgraphs has the same results. */
static void test_optimised(void **state)
{
    static tree t;
    const float x[3] = {1, -2, 3};
    float y[3];
    nnrt_io in[2] = {{NULL, 1, NULL}, {(void *)(uintptr_t)x, sizeof(x), NULL}};
    NNRT_Model *m = NULL;
    uint8_t *file;
    size_t bytes = 0;
    (void)state;
    branches(&t);
    assert_int_equal(nnrt_model_save_memory(&t.g.model, NULL, NULL, 0, &bytes, NULL), NNRT_SUCCESS);
    file = (uint8_t *)nnrt_alloc(NULL, bytes);
    assert_int_equal(nnrt_model_save_memory(&t.g.model, NULL, file, bytes, &bytes, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_model_load_memory(&m, file, bytes, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
    {
        nnrt_session *s = session_of(m, NULL);
        for (uint32_t c = 0; c < 2; c++) {
            in[0].data = (void *)(uintptr_t)(c == 1 ? &yes : &no);
            run(s, in, 2, NNRT_IO(y));
            for (uint32_t k = 0; k < 3; k++)
                assert_true(y[k] == (c == 1 ? 2 * x[k] : x[k] < 0 ? -x[k] : x[k]));
        }
        nnrt_session_destroy(s);
    }
    nnrt_model_destroy(m);
    nnrt_free(NULL, file, bytes);
}

/* Carried values are exchanged through views of one another: both are read before either is overwritten. */
static void test_swap_of_views(void **state)
{
    static const int64_t flat[1] = {4}, square[2] = {2, 2};
    static tree t;
    int64_t trips;
    (void)state;
    for (uint32_t again = 0; again < 2; again++) {
        const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
        float y[4], z[4];
        nnrt_io in[3] = {
            {&trips, 8, NULL}, {(void *)(uintptr_t)a, sizeof(a), NULL}, {(void *)(uintptr_t)b, sizeof(b), NULL}};
        nnrt_io out[2] = {{y, sizeof(y), NULL}, {z, sizeof(z), NULL}};
        nnrt_session *s;
        tree_init(&t);
        (void)tensor(&t.g, "trips", I64, "");
        (void)tensor(&t.g, "a", F32, "2,2");
        (void)tensor(&t.g, "b", F32, "2,2");
        (void)constant(&t.g, "flat", I64, "1", flat, sizeof(flat));       /* 3 */
        (void)constant(&t.g, "square", I64, "2", square, sizeof(square)); /* 4 */
        (void)result(&t.g, "y");
        (void)result(&t.g, "z"); /* 6 */
        (void)tensor(&t.g, "i", I64, "");
        (void)tensor(&t.g, "go", BOOL, "");
        (void)result(&t.g, "v");
        (void)result(&t.g, "w"); /* 10 */
        for (uint32_t k = 0; k < 4; k++)
            (void)result(&t.g, NULL); /* 11, 13 flat; 12, 14 square */
        (void)loop_node(&t, "loop", 1, "0 - 1 2", "5 6");
        (void)PLAIN(&t.g, "flat v", RESHAPE, "9 3", "11");
        (void)PLAIN(&t.g, "square v", RESHAPE, "11 4", "12");
        (void)PLAIN(&t.g, "flat w", RESHAPE, "10 3", "13");
        (void)PLAIN(&t.g, "square w", RESHAPE, "13 4", "14");
        if (again == 1) { /* without a view */
            t.g.nodes[4].nodeType = NNRT_NODE_TYPE_ACTIVATION;
            t.g.nodes[4].nodeAttr.data = &relu;
            t.g.nodes[4].nodeAttr.size = sizeof(relu);
            t.g.nodes[4].inputIndex.count = parse_indices("10", t.g.in[4]);
        }
        graph_of(&t, 0, "0 1 2", "5 6", "0");
        graph_of(&t, 1, "7 8 9 10", "8 14 12", "1 2 3 4");
        graph_io(&t.g, "0 1 2", "5 6");
        s = session_of(&t.g.model, NULL);
        for (trips = 0; trips < 4; trips++) {
            run(s, in, 3, out, 2);
            for (uint32_t k = 0; k < 4; k++)
                assert_true(y[k] == (trips % 2 == 0 ? a : b)[k] && z[k] == (trips % 2 == 0 ? b : a)[k]);
        }
        nnrt_session_destroy(s);
    }
}

/* l = x doubled `trips` times, and a scan of it; y = l + (cond ? relu(x) : |l|). The dimension of x is dynamic. */
static void test_open_inputs(void **state)
{
    static const nnrt_bound most[2] = {{"x", {1, {5}}}, {"all", {2, {3, 5}}}};
    static tree t;
    const nnrt_session_desc desc = bounded(most, 2);
    nnrt_session *s;
    (void)state;
    tree_init(&t);
    (void)tensor(&t.g, "trips", I64, "");
    (void)tensor(&t.g, "x", F32, "-1");
    (void)tensor(&t.g, "cond", BOOL, "1");
    (void)result(&t.g, "l"); /* 3 */
    (void)result(&t.g, "all");
    (void)result(&t.g, "c"); /* 5 */
    (void)result(&t.g, "y");
    (void)tensor(&t.g, "i", I64, "");
    (void)tensor(&t.g, "go", BOOL, "");
    (void)result(&t.g, "v");   /* 9 */
    (void)result(&t.g, "v2");  /* 10 */
    (void)result(&t.g, "sm");  /* 11: softmax, in the then-graph */
    (void)result(&t.g, "abs"); /* 12 */
    (void)loop_node(&t, "loop", 1, "0 - 1", "3 4");
    (void)if_node(&t, "if", 2, 3, "2", "5");
    (void)ADD(&t.g, "y", "5 3", "6");
    (void)ADD(&t.g, "twice", "9 9", "10");
    (void)ACTIVATION(&t.g, "relu", relu, "1", "11");
    (void)ACTIVATION(&t.g, "abs", absolute, "3", "12");
    graph_of(&t, 0, "0 1 2", "6 4", "0 1 2");
    graph_of(&t, 1, "7 8 9", "8 10 10", "3");
    graph_of(&t, 2, "", "11", "4");
    graph_of(&t, 3, "", "12", "5");
    graph_io(&t.g, "0 1 2", "6 4");
    s = session_of(&t.g.model, &desc);
    for (int32_t n = 0; n <= 5; n++)
        for (int64_t trips = 0; trips <= 3; trips++)
            for (uint8_t c = 0; c < 2; c++) {
                const float x[5] = {-1, 2, -3, 4, -5};
                float y[5], all[15];
                nnrt_io in[3] = {{&trips, 8, NULL}, {NULL, 0, NULL}, {&c, 1, NULL}};
                nnrt_io out[2] = {{y, sizeof(y), NULL}, {all, sizeof(all), NULL}};
                in[1].data = (void *)(uintptr_t)x;
                in[1].bytes = (size_t)n * 4;
                in[1].dims = &n;
                run(s, in, 3, out, 2);
                assert_int_equal(nnrt_session_output(s, 0).shape.dims[0], n);
                assert_int_equal(nnrt_session_output(s, 1).shape.dims[0], trips);
                assert_true(trips == 0 || nnrt_session_output(s, 1).shape.dims[1] == n);
                for (int32_t k = 0; k < n; k++) {
                    const float l = x[k] * (float)(1 << trips);
                    assert_true(y[k] == l + (c == 1 ? (x[k] > 0 ? x[k] : 0) : (l < 0 ? -l : l)));
                    for (int64_t j = 0; j < trips; j++)
                        assert_true(all[j * n + k] == x[k] * (float)(2 << j));
                }
            }
    nnrt_session_destroy(s);
}

/* A value grows in one trip and shrinks in the next; its scan fails, because its elements differ in shape. */
static void test_grow_and_shrink(void **state)
{
    static const int64_t zero[1] = {0}, minus[1] = {-1}, unit[1] = {1};
    static const nnrt_bound most[3] = {{"v", {1, {4}}}, {"all", {2, {9, 4}}}, {"less", {1, {3}}}};
    static const NNRT_Concat concat = {0};
    static tree t;
    (void)state;
    for (uint32_t scans = 0; scans < 2; scans++) {
        const nnrt_session_desc desc = bounded(most, 3);
        const float x[2] = {3, 1};
        float y[4], all[36];
        int64_t trips;
        uint8_t more;
        nnrt_io in[3] = {{&trips, 8, NULL}, {(void *)(uintptr_t)x, sizeof(x), NULL}, {&more, 1, NULL}};
        nnrt_io out[2] = {{y, sizeof(y), NULL}, {all, sizeof(all), NULL}};
        nnrt_session *s;
        tree_init(&t);
        (void)tensor(&t.g, "trips", I64, "");
        (void)tensor(&t.g, "x", F32, "2");
        (void)tensor(&t.g, "more", BOOL, "");
        (void)constant(&t.g, "zero", I64, "1", zero, sizeof(zero));
        (void)constant(&t.g, "rest", I64, "1", minus, sizeof(minus));
        (void)result(&t.g, "y");   /* 5 */
        (void)result(&t.g, "f");   /* 6 */
        (void)result(&t.g, "all"); /* 7 */
        (void)tensor(&t.g, "i", I64, "1");
        (void)tensor(&t.g, "go", BOOL, "");
        (void)result(&t.g, "v"); /* 10 */
        (void)tensor(&t.g, "grows", BOOL, "");
        (void)result(&t.g, "v2");   /* 12 */
        (void)result(&t.g, "long"); /* 13 */
        (void)result(&t.g, "less"); /* 14: v[1:] */
        (void)result(&t.g, "one");  /* 15: v[0:1] */
        (void)constant(&t.g, "first", I64, "1", unit, sizeof(unit));
        (void)loop_node(&t, "loop", 1, "0 - 1 2", scans == 1 ? "5 6 7" : "5 6");
        (void)if_node(&t, "if", 2, 3, "11", "12");
        (void)PLAIN(&t.g, "one", SLICE_FUSION, "10 3 16", "15");
        (void)node(&t.g, "grow", NNRT_NODE_TYPE_CONCAT, &concat, sizeof(concat), "10 15", "13");
        (void)PLAIN(&t.g, "shrink", SLICE_FUSION, "10 16 4", "14");
        graph_of(&t, 0, "0 1 2", "5", "0");
        graph_of(&t, 1, "8 9 10 11", scans == 1 ? "9 12 11 12" : "9 12 11", "1");
        graph_of(&t, 2, "", "13", "2 3");
        graph_of(&t, 3, "", "14", "4");
        graph_io(&t.g, "0 1 2", scans == 1 ? "5 7" : "5");
        s = session_of(&t.g.model, &desc);
        for (trips = 0; trips < 4; trips++)
            for (more = 0; more < 2; more++) {
                const int32_t n = more == 1 ? 2 + (int32_t)trips : 2 - (int32_t)trips;
                if (scans == 1 && trips > 1) {
                    run_fails(s, in, 3, out, 2, NNRT_INVALID_SHAPE, "but was not before");
                    continue;
                }
                if (n > 4) {
                    run_fails(s, in, 3, out, 1, NNRT_OUT_OF_DIMENTION_RANGES, "bound");
                    continue;
                }
                if (n < 0)
                    continue;
                run(s, in, 3, out, scans == 1 ? 2 : 1);
                assert_int_equal(nnrt_session_output(s, 0).shape.dims[0], n);
                for (int32_t k = 0; k < n; k++)
                    assert_true(y[k] == (more == 1 ? (k == 1 ? 1 : 3) : x[k + trips]));
            }
        nnrt_session_destroy(s);
    }
}

/* Quantized branches, a kernel with scratch memory in a body, and one with a data-dependent output shape. */
static void test_kinds_of_steps(void **state)
{
    static const NNRT_QuantParam scale[1] = {{8, 3, 0.5}};
    static const nnrt_bound most[1] = {{"n", {2, {1, 4}}}};
    static const int64_t two[1] = {2};
    static const NNRT_TopKFusion sorted = {true, -1};
    static tree t;
    nnrt_session *s;
    nnrt_session_desc desc = bounded(most, 1);
    (void)state;
    branches(&t);
    for (uint32_t i = 1; i < 5; i++) {
        t.g.tensors[i].dataType = i == 1 ? NNRT_DATA_TYPE_INT8 : NNRT_DATA_TYPE_UNKNOWN;
        t.g.tensors[i].quantParams.data = i == 1 ? scale : NULL;
        t.g.tensors[i].quantParams.count = i == 1;
    }
    for (uint32_t i = 1; i < 3; i++) {
        t.g.nodes[i].nodeAttr.data = NULL;
        t.g.nodes[i].nodeAttr.size = 0;
        t.g.nodes[i].nodeType = NNRT_NODE_TYPE_CONCAT;
        t.g.nodes[i].inputIndex.count = parse_indices(i == 1 ? "1 1" : "1", t.g.in[i]);
    }
    s = session_of(&t.g.model, NULL);
    {
        const int8_t x[3] = {1, 2, 3};
        int8_t y[6];
        nnrt_io in[2] = {{(void *)(uintptr_t)&yes, 1, NULL}, {(void *)(uintptr_t)x, 3, NULL}};
        run(s, in, 2, NNRT_IO(y));
        assert_true(nnrt_session_output(s, 0).shape.dims[0] == 6 && y[0] == 1 && y[5] == 3);
        in[0].data = (void *)(uintptr_t)&no;
        run(s, in, 2, NNRT_IO(y));
        assert_int_equal(nnrt_session_output(s, 0).shape.dims[0], 3);
    }
    nnrt_session_destroy(s);
    tree_init(&t); /* v = its two largest elements, twice */
    (void)tensor(&t.g, "trips", I64, "");
    (void)tensor(&t.g, "x", F32, "4");
    (void)constant(&t.g, "k", I64, "", two, sizeof(two));
    (void)result(&t.g, "y"); /* 3 */
    (void)tensor(&t.g, "i", I64, "");
    (void)tensor(&t.g, "go", BOOL, "");
    (void)result(&t.g, "v");   /* 6 */
    (void)result(&t.g, "top"); /* 7 */
    (void)result(&t.g, "at");
    (void)result(&t.g, "v2"); /* 9 */
    (void)result(&t.g, "n");  /* 10 */
    (void)loop_node(&t, "loop", 1, "0 - 1", "3 - -");
    (void)node(&t.g, "top", NNRT_NODE_TYPE_TOPK_FUSION, &sorted, sizeof(sorted), "6 2", "7 8");
    (void)PLAIN(&t.g, "v2", CONCAT, "7 7", "9");
    (void)PLAIN(&t.g, "n", NON_ZERO, "6", "10");
    graph_of(&t, 0, "0 1", "3", "0");
    graph_of(&t, 1, "4 5 6", "5 9 10 8", "1 2 3");
    graph_io(&t.g, "0 1", "3");
    s = session_of(&t.g.model, &desc);
    for (int64_t trips = 0; trips < 3; trips++) {
        const float x[4] = {0, 7, 3, 9};
        float y[4];
        nnrt_io in[2] = {{&trips, 8, NULL}, {(void *)(uintptr_t)x, sizeof(x), NULL}};
        run(s, in, 2, NNRT_IO(y));
        for (uint32_t k = 0; k < 4; k++)
            assert_true(y[k] == (trips == 0 ? x[k] : trips == 1 ? (k % 2 == 0 ? 9 : 7) : 9));
    }
    nnrt_session_destroy(s);
}

/* v = |v| - x, w = v: the next v and the copy for the next w have separate memory; after a trip the addresses are
   exchanged. */
static void test_exchange(void **state)
{
    static tree t;
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_plan *plan = NULL;
    uint32_t exchanged = 0, seen = 0;
    nnrt_session *s;
    (void)state;
    tree_init(&t);
    (void)tensor(&t.g, "trips", I64, "");
    (void)tensor(&t.g, "x", F32, "4");
    (void)result(&t.g, "y");
    (void)result(&t.g, "z"); /* 3 */
    (void)tensor(&t.g, "i", I64, "");
    (void)tensor(&t.g, "go", BOOL, "");
    (void)result(&t.g, "v"); /* 6 */
    (void)result(&t.g, "w");
    (void)result(&t.g, "size"); /* 8 */
    (void)result(&t.g, "next");
    (void)loop_node(&t, "loop", 1, "0 - 1 1", "2 3");
    (void)PLAIN(&t.g, "size", ABS, "6", "8");
    (void)SUB(&t.g, "next", "8 1", "9");
    graph_of(&t, 0, "0 1", "2 3", "0");
    graph_of(&t, 1, "4 5 6 7", "5 9 6", "1 2");
    graph_io(&t.g, "0 1", "2 3");
    memset(&config, 0, sizeof(config));
    nnrt_memory_allocate(&memory, NULL);
    assert_int_equal(nnrt_plan_build(&t.g.model, &config, &memory, &plan), NNRT_SUCCESS);
    for (uint32_t i = 0; i < plan->nArgs; i++)
        if (plan->args[i].kind == NNRT_PLACE_CARRIED) {
            assert_in_range(plan->args[i].offset, 0, 7); /* at most two inputs and two outputs precede them */
            exchanged += (seen >> plan->args[i].offset & 1) == 0;
            seen |= 1u << plan->args[i].offset;
        }
    assert_int_equal(exchanged, 4);
    nnrt_memory_end(&memory);
    s = session_of(&t.g.model, NULL);
    for (uint32_t k = 0; k < nested.plan->nSteps;
         k++) /* no other copies: its steps are size, next and the copy of v */
        if (nested.plan->steps[k].kernel == nnrt_plan_loop)
            assert_int_equal(((const nnrt_plan_graphs *)nested.plan->steps[k].attr)->plans[0]->nSteps, 3);
    for (int64_t trips = 0; trips < 7; trips++) {
        const float x[4] = {1, -2, 0, 0.5f};
        float y[4], z[4], v[4], w[4];
        nnrt_io in[2] = {{&trips, 8, NULL}, {(void *)(uintptr_t)x, sizeof(x), NULL}};
        nnrt_io out[2] = {{y, sizeof(y), NULL}, {z, sizeof(z), NULL}};
        memcpy(v, x, sizeof(v));
        memcpy(w, x, sizeof(w));
        for (int64_t i = 0; i < trips; i++) {
            memcpy(w, v, sizeof(w));
            for (uint32_t k = 0; k < 4; k++)
                v[k] = (v[k] < 0 ? -v[k] : v[k]) - x[k];
        }
        run(s, in, 2, out, 2);
        assert_memory_equal(y, v, sizeof(v));
        assert_memory_equal(z, w, sizeof(w));
    }
    nnrt_session_destroy(s);
}

/* In the dot text every subgraph is a box with its nodes, inputs and outputs, and no edge refers to a missing node. */
static void test_dot(void **state)
{
    static tree t;
    char text[4096];
    (void)state;
    fibonacci(&t);
    t.graphs[1].name = "\"body\"";
    assert_true(nnrt_model_dot(&t.g.model, NULL, text, sizeof(text)) < sizeof(text));
    assert_non_null(strstr(text, "  subgraph cluster1 {\n  label=\"subgraph 1 \\\"body\\\"\";\n  t6 ["));
    assert_non_null(strstr(text, "\n  n1;\n  s0 ["));
    assert_non_null(strstr(text, "\n  }\n  t7 -> s0;\n  t9 -> s1;\n  n1 -> s2 ["));
    assert_non_null(strstr(text, ";\n  t8 -> s3;\n}\n"));
    branches(&t);
    assert_true(nnrt_model_dot(&t.g.model, NULL, text, sizeof(text)) < sizeof(text));
    assert_non_null(strstr(text, "  subgraph cluster1 {"));
    assert_non_null(strstr(text, "  n1;\n  s0 ["));
    assert_non_null(strstr(text, "  n2 -> s1 [label=\"float32[3]\"];\n}\n"));
}

/* ---- random programs ---- */

#define WIDTH 2

/* A program computes with values of WIDTH floats and bools that are model inputs. Every graph has its own steps, which
   read earlier tensors of the graph or of an outer graph. */
typedef struct chance {
    tree t;
    uint64_t random;
    uint32_t values[MAX_TENSORS], count; /* tensors that may be read */
    uint32_t graphs;
} chance;

static uint32_t draw(chance *c, uint32_t n)
{
    c->random = c->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(c->random >> 33) % n;
}

static uint32_t pick(chance *c)
{
    return c->values[draw(c, c->count)];
}

static void text_of(char *text, const uint32_t *list, uint32_t count)
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        at += nnrt_text(text + at, 64 - at, "%u ", list[i]);
}

static void grow_graph(chance *c, uint32_t g, uint32_t depth, uint32_t steps);

/* A subgraph with these inputs and nOut outputs; with flags 1 the first output is the condition of a LOOP. */
static void grow_sub(chance *c, uint32_t g, const uint32_t *in, uint32_t nIn, uint32_t flags, uint32_t nOut,
                     uint32_t depth)
{
    const uint32_t before = c->count;
    uint32_t out[8];
    char ins[64], outs[64], none[1] = "";
    for (uint32_t i = 2 * flags; i < nIn; i++) /* after the trip number and cond */
        c->values[c->count++] = in[i];
    graph_of(&c->t, g, none, none, none);
    grow_graph(c, g, depth + 1, 1 + draw(c, 3));
    for (uint32_t i = 0; i < nOut; i++)
        out[i] = i == 0 && flags == 1 ? in[1] : pick(c);
    text_of(ins, in, nIn);
    text_of(outs, out, nOut);
    c->t.graphs[g].inputIndices.count = parse_indices(ins, c->t.in[g]);
    c->t.graphs[g].outputIndices.count = parse_indices(outs, c->t.out[g]);
    c->count = before;
}

static void grow_step(chance *c, uint32_t g, uint32_t depth)
{
    NNRT_SubGraph *s = &c->t.graphs[g];
    const uint32_t kind = depth < 4 && c->graphs < 18 ? draw(c, 5) : 2 + draw(c, 3);
    uint32_t in[8], out[4], made, n;
    char ins[64], outs[64];
    if (c->t.g.model.nodes.count > 40 || c->t.g.model.allTensors.count > 70)
        return;
    if (kind == 0) { /* IF */
        const uint32_t one = ++c->graphs, other = ++c->graphs, nOut = 1 + draw(c, 2);
        in[0] = draw(c, 2);
        grow_sub(c, one, NULL, 0, 0, nOut, depth);
        grow_sub(c, other, NULL, 0, 0, nOut, depth);
        for (uint32_t i = 0; i < nOut; i++)
            out[i] = result(&c->t.g, NULL);
        text_of(ins, in, 1);
        text_of(outs, out, nOut);
        made = if_node(&c->t, "if", one, other, ins, outs);
        n = nOut;
    } else if (kind == 1) { /* LOOP of carried values, no scans */
        const uint32_t body = ++c->graphs, carried = 1 + draw(c, 2);
        uint32_t given[4];
        in[0] = 2;
        in[1] = draw(c, 2);
        for (uint32_t i = 0; i < carried; i++)
            in[2 + i] = pick(c);
        given[0] = tensor(&c->t.g, NULL, I64, "");
        given[1] = tensor(&c->t.g, NULL, BOOL, "");
        for (uint32_t i = 0; i < carried; i++)
            given[2 + i] = result(&c->t.g, NULL);
        grow_sub(c, body, given, 2 + carried, 1, 1 + carried, depth);
        for (uint32_t i = 0; i < carried; i++)
            out[i] = result(&c->t.g, NULL);
        text_of(ins, in, 2 + carried);
        text_of(outs, out, carried);
        made = loop_node(&c->t, "loop", body, ins, outs);
        n = carried;
    } else {
        in[0] = pick(c);
        in[1] = pick(c);
        out[0] = result(&c->t.g, NULL);
        text_of(ins, in, kind == 4 ? 1 : 2);
        text_of(outs, out, 1);
        made = kind == 2   ? SUB(&c->t.g, "sub", ins, outs)
               : kind == 3 ? PLAIN(&c->t.g, "max", MAXIMUM, ins, outs)
                           : ACTIVATION(&c->t.g, "relu", relu, ins, outs);
        n = 1;
    }
    c->t.nodes[g][s->nodeIndices.count++] = made;
    for (uint32_t i = 0; i < n; i++)
        c->values[c->count++] = out[i];
}

static void grow_graph(chance *c, uint32_t g, uint32_t depth, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++)
        grow_step(c, g, depth);
}

/* Interprets the program as the operators specify: nodes of a graph in order. */
typedef struct meaning {
    float values[MAX_TENSORS][WIDTH];
    bool bools[MAX_TENSORS];
    int64_t trips;
} meaning;

static void mean_graph(const NNRT_Model *m, uint32_t g, meaning *w)
{
    for (uint32_t i = 0; i < m->subGraph.data[g].nodeIndices.count; i++) {
        const NNRT_Node *n = &m->nodes.data[m->subGraph.data[g].nodeIndices.data[i]];
        const uint32_t *in = n->inputIndex.data, *out = n->outputIndex.data;
        if (n->nodeType == NNRT_NODE_TYPE_IF) {
            const NNRT_If *a = (const NNRT_If *)n->nodeAttr.data;
            const uint32_t way = w->bools[in[0]] ? a->thenGraph : a->elseGraph;
            float copies[4][WIDTH];
            mean_graph(m, way, w);
            for (uint32_t k = 0; k < n->outputIndex.count; k++)
                memcpy(copies[k], w->values[m->subGraph.data[way].outputIndices.data[k]], sizeof(copies[k]));
            for (uint32_t k = 0; k < n->outputIndex.count; k++)
                memcpy(w->values[out[k]], copies[k], sizeof(copies[k]));
        } else if (n->nodeType == NNRT_NODE_TYPE_LOOP) {
            const NNRT_SubGraph *body = &m->subGraph.data[((const NNRT_Loop *)n->nodeAttr.data)->body];
            const uint32_t b = ((const NNRT_Loop *)n->nodeAttr.data)->body, carried = n->outputIndex.count;
            float now[4][WIDTH];
            for (uint32_t k = 0; k < carried; k++)
                memcpy(now[k], w->values[in[2 + k]], sizeof(now[k]));
            for (int64_t trip = 0; w->bools[in[1]] && trip < w->trips; trip++) {
                for (uint32_t k = 0; k < carried; k++)
                    memcpy(w->values[body->inputIndices.data[2 + k]], now[k], sizeof(now[k]));
                mean_graph(m, b, w);
                for (uint32_t k = 0; k < carried; k++)
                    memcpy(now[k], w->values[body->outputIndices.data[1 + k]], sizeof(now[k]));
            }
            for (uint32_t k = 0; k < carried; k++)
                memcpy(w->values[out[k]], now[k], sizeof(now[k]));
        } else {
            for (uint32_t k = 0; k < WIDTH; k++) {
                const float x = w->values[in[0]][k];
                const float y = n->inputIndex.count > 1 ? w->values[in[1]][k] : 0;
                w->values[out[0]][k] = n->nodeType == NNRT_NODE_TYPE_SUB_FUSION ? x - y
                                       : n->nodeType == NNRT_NODE_TYPE_MAXIMUM  ? (x > y ? x : y)
                                                                                : (x > 0 ? x : 0);
            }
        }
    }
}

static void test_chance(void **state)
{
    static chance c;
    static meaning w;
    static const float one[WIDTH] = {1, -2};
    uint32_t controls = 0;
    (void)state;
    for (uint32_t seed = 1; seed <= 400; seed++) {
        char text[64];
        uint32_t out[3];
        nnrt_session *s;
        memset(&c, 0, sizeof(c));
        tree_init(&c.t);
        c.random = seed;
        (void)tensor(&c.t.g, "p", BOOL, "");
        (void)tensor(&c.t.g, "q", BOOL, "");
        (void)tensor(&c.t.g, "trips", I64, "");
        c.values[c.count++] = tensor(&c.t.g, "x", F32, "2");
        c.values[c.count++] = constant(&c.t.g, "one", F32, "2", one, sizeof(one));
        graph_of(&c.t, 0, "", "", "");
        grow_graph(&c, 0, 0, 2 + draw(&c, 5));
        for (uint32_t i = 0; i < 3; i++)
            out[i] = i == 0 ? c.values[c.count - 1] : pick(&c);
        text_of(text, out, 3);
        graph_io(&c.t.g, "0 1 2 3", text);
        controls += c.graphs;
        s = session_of(&c.t.g.model, NULL);
        for (uint32_t way = 0; way < 12; way++) {
            const float x[WIDTH] = {(float)seed, -1};
            uint8_t p = way & 1u, q = way >> 1 & 1u;
            float y[3][WIDTH];
            nnrt_io io[4] = {{NULL, 1, NULL}, {NULL, 1, NULL}, {NULL, 8, NULL}, {NULL, sizeof(x), NULL}};
            nnrt_io back[3];
            memset(&w, 0x7F, sizeof(w)); /* marks values that are never computed */
            w.bools[0] = p != 0;
            w.bools[1] = q != 0;
            w.trips = way / 4;
            memcpy(w.values[3], x, sizeof(x));
            memcpy(w.values[4], one, sizeof(one));
            io[0].data = &p;
            io[1].data = &q;
            io[2].data = &w.trips;
            io[3].data = (void *)(uintptr_t)x;
            for (uint32_t i = 0; i < 3; i++)
                back[i] = nnrt_io_make(y[i], sizeof(y[i]));
            run(s, io, 4, back, 3);
            mean_graph(&c.t.g.model, 0, &w);
            for (uint32_t i = 0; i < 3; i++)
                for (uint32_t k = 0; k < WIDTH; k++)
                    if (!(y[i][k] == w.values[out[i]][k]))
                        fail_msg("program %u, way %u: output %u is %g, expected %g", seed, way, i, (double)y[i][k],
                                 (double)w.values[out[i]][k]);
        }
        nnrt_session_destroy(s);
    }
    assert_true(controls > 400);
}

/* Only the scan is an output: a body without carried values, which reads x; or with carried values that no node reads.
   Without a trip the scan has its known dimensions, and 0. */
static void test_loop_scans_only(void **state)
{
    const nnrt_bound most[2] = {{"x", {2, {4, 3}}}, {"all", {3, {5, 4, 3}}}};
    nnrt_session_desc desc;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    desc.bounds = nnrt_bound_list_make(most, 2);
    for (int carries = 0; carries < 2; carries++) {
        static tree t;
        const float x[6] = {1, -2, 3, -4, 5, -6};
        const int32_t dims[2] = {2, 3};
        nnrt_session *s;
        int64_t trips;
        float all[5 * 6];
        nnrt_io in[2] = {{&trips, sizeof(trips), NULL}, {(void *)(uintptr_t)x, sizeof(x), dims}};
        tree_init(&t);
        (void)tensor(&t.g, "trips", I64, "");
        (void)tensor(&t.g, "x", F32, "-1,3");
        (void)result(&t.g, "all"); /* 2 */
        (void)tensor(&t.g, "i", I64, "");
        (void)tensor(&t.g, "go", BOOL, "");
        (void)result(&t.g, "y"); /* 5 */
        (void)result(&t.g, "v"); /* 6 */
        (void)loop_node(&t, "loop", 1, carries ? "0 - 1" : "0 -", carries ? "- 2" : "2");
        (void)ACTIVATION(&t.g, "abs", absolute, "1", "5");
        graph_of(&t, 0, "0 1", "2", "0");
        graph_of(&t, 1, carries ? "3 4 6" : "3 4", carries ? "4 6 5" : "4 5", "1");
        graph_io(&t.g, "0 1", "2");
        s = session_of(&t.g.model, &desc);
        for (trips = 0; trips <= 5; trips++) {
            nnrt_dims told;
            for (uint32_t i = 0; i < COUNT(all); i++)
                all[i] = -1;
            run(s, in, 2, NNRT_IO(all));
            told = nnrt_session_output(s, 0).shape;
            assert_int_equal(told.rank, 3);
            assert_int_equal(told.dims[0], trips);
            assert_int_equal(told.dims[1], trips > 0 ? 2 : 0);
            assert_int_equal(told.dims[2], 3);
            for (int64_t i = 0; i < (int64_t)COUNT(all); i++)
                assert_true(all[i] == (i < 6 * trips ? (float)(i % 6 + 1) : -1));
        }
        nnrt_session_destroy(s);
    }
}

static uint32_t image_conv(nnrt_builder *b, uint32_t x)
{
    static const int32_t dims[4] = {2, 3, 3, 2};
    static const int64_t ones[2] = {1, 1}, three[2] = {3, 3};
    static float weights[36];
    uint32_t in[2];
    NNRT_Conv2DFusion a;
    for (int i = 0; i < 36; i++)
        weights[i] = (float)(i % 7 - 3) / 16;
    nnrt_attr_defaults(nnrt_op_named("CONV2D_FUSION")->attr, &a);
    a.kernelSize = nnrt_int64_list(three, 2);
    a.stride = a.dilation = nnrt_int64_list(ones, 2);
    a.padMode = NNRT_PAD_MODE_SAME;
    in[0] = x;
    in[1] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_FLOAT32, 4, dims, weights, true);
    return nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_CONV2D_FUSION, &a, in, 2);
}

static uint32_t sum_of(nnrt_builder *b, uint32_t x, uint32_t y)
{
    const uint32_t in[2] = {x, y};
    return nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
}

/* x = conv(x) + x, in a body and after it; scans: the result of the convolution, which the addition also reads, or the
   previous image. */
static NNRT_Model *image_loop(bool conv)
{
    static const int32_t dims[4] = {1, 5, 4, 2};
    static const int64_t trips = 3;
    NNRT_Loop loop;
    NNRT_Model *m = NULL;
    nnrt_error e;
    nnrt_builder *b = NULL;
    uint32_t in[3], ins[3], outs[3], out[2];
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, "images", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT64, 0, NULL, &trips, true);
    in[1] = NNRT_NO_TENSOR;
    in[2] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 4, dims);
    loop.body = nnrt_builder_graph(b, "body");
    for (uint32_t i = 0; i < 3; i++)
        ins[i] = nnrt_builder_tensor(b, NULL);
    nnrt_builder_enter(b, loop.body);
    outs[0] = ins[1];
    outs[2] = image_conv(b, ins[2]);
    outs[1] = sum_of(b, outs[2], ins[2]);
    outs[2] = conv ? outs[2] : ins[2];
    nnrt_builder_graph_io(b, loop.body, ins, 3, outs, 3);
    nnrt_builder_enter(b, 0);
    out[0] = nnrt_builder_tensor(b, "v");
    out[1] = nnrt_builder_tensor(b, "s");
    nnrt_builder_node(b, "loop", NNRT_NODE_TYPE_LOOP, &loop, in, 3, out, 2);
    nnrt_builder_output(b, sum_of(b, image_conv(b, out[0]), out[0]));
    nnrt_builder_output(b, out[1]);
    if (nnrt_builder_finish(b, &m, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    return m;
}

/* A device that exchanges and merges steps also does so in a body, and keeps the LOOP: results are bit-identical. */
static void test_edited(void **state)
{
    (void)state;
    assert_non_null(test_device_open("example"));
    for (int conv = 0; conv < 2; conv++) {
        NNRT_Model *m = image_loop(conv != 0);
        float x[40], y[2][40], s[2][120];
        uint32_t steps[2];
        for (int i = 0; i < 40; i++)
            x[i] = (float)(i % 11 - 5) / 4;
        for (int k = 0; k < 2; k++) {
            nnrt_session_desc desc;
            nnrt_session *session;
            nnrt_io in = nnrt_io_make(x, sizeof(x)), out[2];
            memset(&desc, 0, sizeof(desc));
            desc.device = k == 0 ? "reference" : "example";
            session = session_of(m, &desc);
            steps[k] = nnrt_session_get_memory(session).steps;
            out[0] = nnrt_io_make(y[k], sizeof(y[k]));
            out[1] = nnrt_io_make(s[k], sizeof(s[k]));
            run(session, &in, 1, out, 2);
            nnrt_session_destroy(session);
        }
        assert_memory_equal(y[0], y[1], sizeof(y[0]));
        assert_memory_equal(s[0], s[1], sizeof(s[0]));
        assert_int_equal(steps[1], steps[0] - (conv ? 1 : 2)); /* additions fused into a convolution */
        nnrt_model_destroy(m);
    }
    assert_int_equal(nnrt_device_unregister("example"), NNRT_SUCCESS);
}

/* An edit may not write slices of one tensor on both sides of a LOOP or IF: liveness assumes that each iteration
   overwrites a tensor that a body writes. Slices in one body are fine. */
static void test_slices(void **state)
{
    static const float start[2] = {1, 2};
    (void)state;
    for (int kind = 0; kind < 3; kind++) { /* before and in a body; in both branches; in one body */
        static tree t;
        const int32_t eight[1] = {4};
        NNRT_ModelConfig config;
        nnrt_error error;
        nnrt_memory memory;
        nnrt_draft *d = NULL;
        nnrt_plan *plan = NULL;
        uint32_t whole, found = 0;
        tree_init(&t);
        (void)tensor(&t.g, "trips", I64, "");
        (void)constant(&t.g, "start", F32, "2", start, sizeof(start));
        (void)tensor(&t.g, "x", F32, "2");
        (void)tensor(&t.g, "p", BOOL, ""); /* 3 */
        (void)result(&t.g, "y");
        (void)tensor(&t.g, "i", I64, ""); /* 5 */
        (void)tensor(&t.g, "go", BOOL, "");
        (void)result(&t.g, "v"); /* 7 */
        (void)result(&t.g, "slice1");
        (void)result(&t.g, "slice2"); /* 9 */
        (void)result(&t.g, "v2");
        if (kind == 1)
            (void)if_node(&t, "if", 1, 2, "3", "4");
        else
            (void)loop_node(&t, "loop", 1, "0 - 1", "4");
        (void)PLAIN(&t.g, "abs1", ABS, "2", "8");
        (void)PLAIN(&t.g, "abs2", ABS, kind == 1 ? "2" : "7", "9");
        (void)ADD(&t.g, "add", kind == 1 ? "8 2" : "8 9", "10");
        if (kind == 1) {
            graph_of(&t, 0, "0 2 3", "4", "0");
            graph_of(&t, 1, "", "10", "1 3");
            graph_of(&t, 2, "", "9", "2");
        } else {
            graph_of(&t, 0, "0 2 3", "4", kind == 0 ? "1 0" : "0");
            graph_of(&t, 1, "5 6 7", "6 10", kind == 0 ? "2 3" : "1 2 3");
        }
        graph_io(&t.g, "0 2 3", "4");
        memset(&config, 0, sizeof(config));
        memset(&error, 0, sizeof(error));
        config.error = &error;
        nnrt_memory_allocate(&memory, NULL);
        if (nnrt_plan_draft(&t.g.model, &config, &memory, &d) != NNRT_SUCCESS)
            fail_msg("%s", error.message);
        whole = nnrt_draft_tensor(d, F32, 1, eight);
        for (uint32_t s = 0; s < d->nSteps; s++) /* both results become slices of `whole`, which their reader reads */
            for (uint32_t k = 0; k < d->steps[s].nIn + d->steps[s].nOut; k++)
                if (d->steps[s].args[k].tensor == 8 || (kind != 1 && d->steps[s].args[k].tensor == 9) ||
                    (kind == 1 && d->steps[s].node == 2 && k == 1)) {
                    d->steps[s].args[k].offset = d->steps[s].args[k].tensor == 8 ? 0 : 8;
                    d->steps[s].args[k].tensor = whole;
                    found++;
                }
        assert_int_equal(found, kind == 1 ? 3 : 4);
        if (kind == 2) {
            assert_int_equal(nnrt_plan_finish(d, &plan), NNRT_SUCCESS);
        } else {
            assert_int_equal(nnrt_plan_finish(d, &plan), NNRT_DEVICE_ERROR);
            if (strstr(error.message, "another slice is written on the other side of an IF or LOOP") == NULL)
                fail_msg("%s", error.message);
        }
        nnrt_memory_end(&memory);
    }
}

static void count_reasons(void *user, uint32_t node, const nnrt_error *error)
{
    assert_true(error->node == (int32_t)node && error->message[0] != '\0');
    ++*(uint32_t *)user;
}

/* GetSupportedOperation checks each node, also in subgraphs: if a device does not support a node of a body, that node
   and the LOOP are not supported. */
static void test_supported(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        NNRT_Model *m = image_loop(true), changed;
        NNRT_Node nodes[8];
        bool taken[8];
        uint32_t reasons = 0;
        assert_int_equal(m->nodes.count, 5);
        memcpy(nodes, m->nodes.data, m->nodes.count * sizeof(*nodes));
        changed = *m;
        changed.nodes.data = nodes;
        if (kind == 1)
            nodes[1].nodeType = 4242; /* the sum of the body */
        memset(taken, 2, sizeof(taken));
        assert_int_equal(nnrt_device_supported(nnrt_device_find("reference"), &changed, NULL, taken, m->nodes.count,
                                               count_reasons, &reasons),
                         NNRT_SUCCESS);
        for (uint32_t n = 0; n < m->nodes.count; n++)
            assert_int_equal(taken[n], kind == 0 || (n != 1 && n != 2));
        assert_int_equal(reasons, kind == 0 ? 0 : 2);
        nnrt_model_destroy(m);
    }
}

/* v = v + x, (p, q) = (q, !p), while the tensor `cond` of the body is true: 7 always, 9 p, 10 q, 12 !p. */
static void until(tree *t, uint32_t cond)
{
    tree_init(t);
    (void)tensor(&t->g, "x", F32, "2");
    (void)tensor(&t->g, "p", BOOL, "");
    (void)tensor(&t->g, "q", BOOL, "");
    (void)result(&t->g, "v"); /* 3 */
    (void)result(&t->g, "p2");
    (void)result(&t->g, "q2");
    (void)tensor(&t->g, "i", I64, "");
    (void)tensor(&t->g, "go", BOOL, ""); /* 7 */
    (void)result(&t->g, "v");
    (void)result(&t->g, "p"); /* 9 */
    (void)result(&t->g, "q");
    (void)result(&t->g, "more");
    (void)result(&t->g, "not"); /* 12 */
    (void)loop_node(t, "loop", 1, "- - 0 1 2", "3 4 5");
    (void)ADD(&t->g, "more", "8 0", "11");
    (void)PLAIN(&t->g, "not", LOGICAL_NOT, "9", "12");
    graph_of(t, 0, "0 1 2", "3 4 5", "0");
    graph_of(t, 1, "6 7 8 9 10", "7 11 10 12", "1 2");
    t->out[1][0] = cond;
    graph_io(&t->g, "0 1 2", "3 4 5");
}

/* A loop ends by a carried condition, which is read before it is exchanged or overwritten; or by maxTrips. */
static void test_carried_cond(void **state)
{
    static const uint32_t conds[3] = {9, 10, 12};
    static tree t;
    const float x[2] = {1, -2};
    float v[2];
    uint8_t bools[2], p2, q2;
    nnrt_io in[3] = {{(void *)(uintptr_t)x, sizeof(x), NULL}, {&bools[0], 1, NULL}, {&bools[1], 1, NULL}};
    nnrt_io out[3] = {{v, sizeof(v), NULL}, {&p2, 1, NULL}, {&q2, 1, NULL}};
    nnrt_session_desc desc;
    nnrt_session *s;
    (void)state;
    for (uint32_t way = 0; way < 12; way++) {
        bool p = (way & 1) != 0, q = (way >> 1 & 1) != 0, goes = true;
        float want = 1;
        bools[0] = p;
        bools[1] = q;
        until(&t, conds[way >> 2]);
        s = session_of(&t.g.model, NULL);
        run(s, in, 3, out, 3);
        while (goes) {
            const bool was = p;
            goes = way >> 2 == 0 ? p : way >> 2 == 1 ? q : !p;
            want += 1;
            p = q;
            q = !was;
        }
        assert_true(v[0] == want && v[1] == -2 * want && p2 == p && q2 == q);
        assert_true(nested.session == s);
        nnrt_session_destroy(s);
    }
    until(&t, 7);
    memset(&desc, 0, sizeof(desc));
    desc.maxTrips = 5;
    s = session_of(&t.g.model, &desc);
    run_fails(s, in, 3, out, 3, NNRT_TIME_OUT, "has not ended after 5 trips");
    assert_non_null(strstr(nested.error.message, "node 0 'loop' (LOOP): has not ended after 5 trips"));
    nnrt_session_destroy(s);
}

/* Two trips of: three trips of s = s + x, which scan each s and each trip number. w is carried: the scan of the last
   trip. */
static void scans_in_scans(tree *t)
{
    static const int64_t two[1] = {2}, three[1] = {3};
    static const float zero[6] = {0};
    tree_init(t);
    (void)tensor(&t->g, "x", F32, "2");
    (void)constant(&t->g, "two", I64, "", two, sizeof(two));
    (void)constant(&t->g, "three", I64, "", three, sizeof(three));
    (void)constant(&t->g, "zero", F32, "3,2", zero, sizeof(zero));
    (void)result(&t->g, "s"); /* 4 */
    (void)result(&t->g, "w");
    (void)result(&t->g, "all");
    (void)tensor(&t->g, "n", I64, ""); /* 7, of the outer body */
    (void)tensor(&t->g, "go", BOOL, "");
    (void)result(&t->g, "s");
    (void)result(&t->g, "w"); /* 10 */
    (void)result(&t->g, "s2");
    (void)result(&t->g, "each");
    (void)result(&t->g, "numbers");
    (void)tensor(&t->g, "n", I64, ""); /* 14, of the inner one */
    (void)tensor(&t->g, "go", BOOL, "");
    (void)result(&t->g, "s");
    (void)result(&t->g, "s3");
    (void)loop_node(t, "outer", 1, "1 - 0 3", "4 5 6");
    (void)loop_node(t, "inner", 2, "2 - 9", "11 12 13");
    (void)ADD(&t->g, "s3", "16 0", "17");
    graph_of(t, 0, "0", "4 5 6", "0");
    graph_of(t, 1, "7 8 9 10", "8 11 12 13", "1");
    graph_of(t, 2, "14 15 16", "15 17 17 14", "2");
    graph_io(&t->g, "0", "4 5 6");
}

static void test_scans_in_scans(void **state)
{
    static tree t;
    const float x[2] = {1, -2};
    float s[2], w[6];
    int64_t all[6];
    nnrt_io in[1] = {{(void *)(uintptr_t)x, sizeof(x), NULL}};
    nnrt_io out[3] = {{s, sizeof(s), NULL}, {w, sizeof(w), NULL}, {all, sizeof(all), NULL}};
    nnrt_session *session;
    (void)state;
    scans_in_scans(&t);
    session = session_of(&t.g.model, NULL);
    run(session, in, 1, out, 3);
    assert_true(s[0] == 7 && s[1] == -14 && nested.session == session);
    for (int k = 0; k < 6; k++)
        assert_true(w[k] == (float)(5 + k / 2) * x[k % 2] && all[k] == k % 3);
    nnrt_session_destroy(session);
}

/* A scan is declared with four elements: fewer trips fail at the end, more before the fifth. */
static void test_declared_scan(void **state)
{
    static tree t;
    const float start[1] = {1}, limit[1] = {100};
    float sum[1], all[4];
    int64_t trips = 4;
    nnrt_io in[4] = {{&trips, 8, NULL},
                     {(void *)(uintptr_t)&yes, 1, NULL},
                     {(void *)(uintptr_t)start, 4, NULL},
                     {(void *)(uintptr_t)limit, 4, NULL}};
    nnrt_io out[2] = {{sum, sizeof(sum), NULL}, {all, sizeof(all), NULL}};
    nnrt_session_desc desc;
    const nnrt_bound most[1] = {{"all", {2, {4, 1}}}};
    nnrt_session *s;
    (void)state;
    sums(&t, "0 - 2");
    t.g.tensors[5].dataType = F32;
    t.g.tensors[5].dims.count = 2;
    t.g.dims[5][0] = 4;
    t.g.dims[5][1] = 1;
    desc = bounded(most, 1);
    s = session_of(&t.g.model, &desc);
    assert_true(nested.session == s);
    run(s, in, 4, out, 2);
    assert_true(sum[0] == 5 && all[0] == 2 && all[3] == 5);
    trips = 3;
    run_fails(s, in, 4, out, 2, NNRT_INVALID_SHAPE, "3 trips, where 4 were planned");
    trips = 5;
    run_fails(s, in, 4, out, 2, NNRT_OUT_OF_DIMENTION_RANGES, "its scans have trip 4");
    nnrt_session_destroy(s);
}

/* The message of a fault in a body names the nodes that run it, then its node. */
static void test_fault_inside(void **state)
{
    static const int64_t zero[1] = {0}, two[1] = {2};
    static tree t;
    const float x[3] = {1, 2, 3};
    float y[1];
    int64_t at = 3;
    nnrt_io in[3] = {{NULL, 1, NULL}, {(void *)(uintptr_t)x, sizeof(x), NULL}, {&at, sizeof(at), NULL}};
    nnrt_io out = {y, sizeof(y), NULL};
    nnrt_session *s;
    (void)state;
    tree_init(&t);
    (void)tensor(&t.g, "p", BOOL, "");
    (void)tensor(&t.g, "x", F32, "3");
    (void)tensor(&t.g, "at", I64, "1");
    (void)constant(&t.g, "zero", I64, "1", zero, sizeof(zero)); /* 3 */
    (void)constant(&t.g, "two", I64, "", two, sizeof(two));
    (void)result(&t.g, "first"); /* 5 */
    (void)result(&t.g, "y");
    (void)result(&t.g, "r"); /* 7 */
    (void)tensor(&t.g, "i", I64, "");
    (void)tensor(&t.g, "go", BOOL, "");
    (void)result(&t.g, "v"); /* 10 */
    (void)result(&t.g, "picked");
    (void)result(&t.g, "v2"); /* 12 */
    (void)PLAIN(&t.g, "first", GATHER, "1 3", "5");
    (void)if_node(&t, "if", 1, 2, "0", "6");
    (void)loop_node(&t, "loop", 3, "4 - 5", "7");
    (void)PLAIN(&t.g, "pick", GATHER, "1 2", "11");
    (void)ADD(&t.g, "add", "10 11", "12");
    graph_of(&t, 0, "0 1 2", "6", "0 1");
    graph_of(&t, 1, "", "7", "2");
    graph_of(&t, 2, "", "5", "");
    graph_of(&t, 3, "8 9 10", "9 12", "3 4");
    graph_io(&t.g, "0 1 2", "6");
    s = session_of(&t.g.model, NULL);
    in[0].data = (void *)(uintptr_t)&yes;
    run_fails(s, in, 3, &out, 1, NNRT_INVALID_PARAMETER, "'pick' (GATHER): index 3");
    assert_non_null(strstr(nested.error.message, "node 3 'pick' (GATHER): index 3"));
    assert_int_equal(nested.error.node, 3);
    in[0].data = (void *)(uintptr_t)&no;
    run(s, in, 3, NNRT_IO(y));
    assert_true(y[0] == 1);
    in[0].data = (void *)(uintptr_t)&yes;
    at = 2;
    run(s, in, 3, NNRT_IO(y));
    assert_true(y[0] == 7);
    nnrt_session_destroy(s);
}

/* With too little memory, planning a model with control flow fails. */
static void test_nested_memory(void **state)
{
    static uint64_t buffer[16384];
    static tree t;
    NNRT_ModelConfig config;
    nnrt_memory own;
    nnrt_plan *plan = NULL;
    (void)state;
    memset(&config, 0, sizeof(config));
    for (uint32_t kind = 0; kind < 2; kind++) {
        NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
        size_t bytes = 0;
        if (kind == 0)
            scans_in_scans(&t);
        else
            branches(&t);
        for (; bytes <= sizeof(buffer) && code == NNRT_OUT_OF_MEMORY; bytes += NNRT_ALIGNMENT) {
            nnrt_memory_buffer(&own, buffer, bytes);
            code = nnrt_plan_build(&t.g.model, &config, &own, &plan);
            assert_true((plan != NULL) == (code == NNRT_SUCCESS));
        }
        assert_true(code == NNRT_SUCCESS && bytes > 512);
    }
}

/* An IF whose cond and values are all in the arena: its table has no address of an input or output, but an offset in
   the arena, or in a region of exactly the bytes that the plan needs. r = !c ? 4 x : |2 x|, y = [r x]. */
static void test_arena_only(void **state)
{
    static const NNRT_Concat concat = {0};
    static tree t;
    const float x[3] = {1, -2, 3};
    float y[6];
    nnrt_session *s;
    nnrt_io in[2] = {{NULL, 1, NULL}, {(void *)(uintptr_t)x, sizeof(x), NULL}};
    nnrt_region region = {"only", 100000};
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_plan *plan;
    (void)state;
    tree_init(&t);
    (void)tensor(&t.g, "c", BOOL, "");
    (void)tensor(&t.g, "x", F32, "3");
    (void)result(&t.g, "y");    /* 2 */
    (void)result(&t.g, "cond"); /* 3 */
    (void)result(&t.g, "a");    /* 4 */
    (void)result(&t.g, "r");    /* 5 */
    (void)result(&t.g, "r");    /* 6, of the then-graph */
    (void)result(&t.g, "r");    /* 7, of the else-graph */
    (void)node(&t.g, "not", NNRT_NODE_TYPE_LOGICAL_NOT, NULL, 0, "0", "3");
    (void)ADD(&t.g, "double", "1 1", "4");
    (void)if_node(&t, "if", 1, 2, "3", "5");
    (void)node(&t.g, "concat", NNRT_NODE_TYPE_CONCAT, &concat, sizeof(concat), "5 1", "2");
    (void)ADD(&t.g, "twice", "4 4", "6");
    (void)ACTIVATION(&t.g, "abs", absolute, "4", "7");
    graph_of(&t, 0, "0 1", "2", "0 1 2 3");
    graph_of(&t, 1, "", "6", "4");
    graph_of(&t, 2, "", "7", "5");
    graph_io(&t.g, "0 1", "2");
    s = session_of(&t.g.model, NULL);
    in[0].data = (void *)(uintptr_t)&no;
    run(s, in, 2, NNRT_IO(y));
    assert_true(y[0] == 4 && y[1] == -8 && y[2] == 12 && y[3] == 1 && y[4] == -2 && y[5] == 3);
    in[0].data = (void *)(uintptr_t)&yes;
    run(s, in, 2, NNRT_IO(y));
    assert_true(y[0] == 2 && y[1] == 4 && y[2] == 6 && y[3] == 1 && y[4] == -2 && y[5] == 3);
    nnrt_session_destroy(s);
    memset(&config, 0, sizeof(config));
    for (uint32_t regions = 0; regions < 2; regions++) {
        uint32_t tables = 0;
        config.regions = &region;
        config.nRegions = regions;
        nnrt_memory_allocate(&memory, NULL);
        assert_int_equal(nnrt_plan_build(&t.g.model, &config, &memory, &plan), NNRT_SUCCESS);
        for (uint32_t i = 0; i < plan->nSteps; i++)
            if (plan->steps[i].kernel == nnrt_plan_if) {
                assert_int_equal(plan->steps[i].nIn, NNRT_IF_TABLE); /* no addresses */
                assert_true(plan->steps[i].scratchBytes > 0);
                assert_true(plan->steps[i].scratch + plan->steps[i].scratchBytes <= plan->arenaBytes);
                tables++;
            }
        assert_int_equal(tables, 1);
        region.bytes = plan->arenaBytes;
        nnrt_memory_end(&memory);
    }
    nnrt_memory_allocate(&memory, NULL);
    assert_int_equal(nnrt_plan_build(&t.g.model, &config, &memory, &plan), NNRT_SUCCESS);
    region.bytes--;
    nnrt_memory_end(&memory);
    nnrt_memory_allocate(&memory, NULL);
    assert_int_equal(nnrt_plan_build(&t.g.model, &config, &memory, &plan), NNRT_OUT_OF_MEMORY);
    nnrt_memory_end(&memory);
}

/* The runs above also ran as nested plans. */
static void test_nested(void **state)
{
    (void)state;
    printf("%u nested plans, %u runs, %u faults\n", nested.plans, nested.runs, nested.faults);
    assert_true(nested.plans > 400 && nested.runs > 4900 && nested.faults > 4);
    nested_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_if),
        cmocka_unit_test(test_loop_swaps),
        cmocka_unit_test(test_loop_grows),
        cmocka_unit_test(test_loop_scans_only),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_some_results),
        cmocka_unit_test(test_loops_grow),
        cmocka_unit_test(test_unequal_branches),
        cmocka_unit_test(test_empty_cond),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_scan_extents),
        cmocka_unit_test(test_trip_number),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_wrong_models),
        cmocka_unit_test(test_captures),
        cmocka_unit_test(test_given_branches),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_optimised),
        cmocka_unit_test(test_swap_of_views),
        cmocka_unit_test(test_open_inputs),
        cmocka_unit_test(test_grow_and_shrink),
        cmocka_unit_test(test_kinds_of_steps),
        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_dot),
        cmocka_unit_test(test_chance),
        cmocka_unit_test(test_edited),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_supported),
        cmocka_unit_test(test_carried_cond),
        cmocka_unit_test(test_scans_in_scans),
        cmocka_unit_test(test_declared_scan),
        cmocka_unit_test(test_fault_inside),
        cmocka_unit_test(test_nested_memory),
        cmocka_unit_test(test_arena_only),
        cmocka_unit_test(test_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
