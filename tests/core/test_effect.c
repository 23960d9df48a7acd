/* Nodes with a side effect, ASSERT: nothing reads their outputs, but no pass, plan or constant folding may remove them.
   Each model runs as built, optimized, and loaded from a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nnrt.h"

#define F32 NNRT_DATA_TYPE_FLOAT32
#define BOOL NNRT_DATA_TYPE_BOOL

static const uint8_t yes = 1, no = 0;

/* Position of the node, and its condition. */
typedef struct place {
    bool branch;   /* in the branch of an IF whose result is unused, taken if x.take is true */
    bool constant; /* the condition is a constant: false */
    bool result;   /* the node has a result */
} place;

static void assertion(nnrt_builder *b, const place *p, uint32_t condition, uint32_t x)
{
    const uint32_t in[2] = {condition, x};
    const uint32_t out = p->result ? nnrt_builder_tensor(b, "unread") : NNRT_NO_TENSOR;
    NNRT_Assert a = {2};
    nnrt_builder_node(b, "check", NNRT_NODE_TYPE_ASSERT, &a, in, 2, &out, p->result ? 1 : 0);
}

/* y = sqrt(x), and the node. */
static NNRT_Model *model_of(const place *p)
{
    static const int32_t three[1] = {3};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_error error;
    uint32_t x, take, condition;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_builder_create(&b, "effect", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", F32, 1, three);
    take = nnrt_builder_input(b, "take", BOOL, 0, NULL);
    condition = nnrt_builder_input(b, "condition", BOOL, 0, NULL);
    if (p->constant)
        condition = nnrt_builder_constant(b, "never", BOOL, 0, NULL, &no, true);
    if (p->branch) {
        NNRT_If a;
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t graph = nnrt_builder_graph(b, NULL);
            uint32_t y;
            nnrt_builder_enter(b, graph);
            y = nnrt_builder_op(b, NULL, k == 0 ? NNRT_NODE_TYPE_SQRT : NNRT_NODE_TYPE_FLOOR, NULL, &x, 1);
            if (k == 0)
                assertion(b, p, condition, x);
            nnrt_builder_graph_io(b, graph, NULL, 0, &y, 1);
            *(k == 0 ? &a.thenGraph : &a.elseGraph) = graph;
        }
        nnrt_builder_enter(b, 0);
        (void)nnrt_builder_op(b, "unread too", NNRT_NODE_TYPE_IF, &a, &take, 1);
    } else {
        assertion(b, p, condition, x);
    }
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SQRT, NULL, &x, 1));
    if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(b);
    return m;
}

static void check(const NNRT_Model *m, const place *p)
{
    static const float x[3] = {1, 4, 9};
    nnrt_session *s = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_session_create(&s, m, NULL, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    for (uint32_t k = 0; k < 4; k++) {
        const uint8_t *take = k % 2 == 0 ? &yes : &no, *condition = k < 2 ? &yes : &no;
        const bool fails = (p->constant || *condition == 0) && (!p->branch || *take != 0);
        float y[3] = {0};
        const nnrt_io in[3] = {nnrt_io_make((void *)(uintptr_t)x, sizeof(x)), nnrt_io_make((void *)(uintptr_t)take, 1),
                               nnrt_io_make((void *)(uintptr_t)condition, 1)};
        const nnrt_io out[1] = {nnrt_io_make(y, sizeof(y))};
        assert_int_equal(nnrt_run(s, in, 3, out, 1), fails ? NNRT_FAILED : NNRT_SUCCESS);
        if (!fails)
            assert_true(y[0] == 1 && y[1] == 2 && y[2] == 3);
        else if (strstr(nnrt_session_error(s),
                        "'check' (ASSERT): element 0 of the condition is false: float32[3] 1 4") == NULL ||
                 strstr(nnrt_session_error(s), "9") != NULL)
            fail_msg("%s", nnrt_session_error(s));
    }
    nnrt_session_destroy(s);
}

static void test_effect(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 8; k++) {
        const place p = {(k & 1) != 0, (k & 2) != 0, (k & 4) != 0};
        NNRT_Model *m = model_of(&p), *back;
        nnrt_error error;
        uint8_t *block;
        void *file;
        size_t bytes = 0;
        memset(&error, 0, sizeof(error));
        check(m, &p);
        assert_int_equal(nnrt_model_save_memory(m, NULL, NULL, 0, &bytes, NULL), NNRT_SUCCESS);
        block = (uint8_t *)malloc(bytes + NNRT_ALIGNMENT);
        assert_non_null(block);
        file = block + (NNRT_ALIGNMENT - (uintptr_t)block % NNRT_ALIGNMENT);
        assert_int_equal(nnrt_model_save_memory(m, NULL, file, bytes, &bytes, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_model_load_memory(&back, file, bytes, NULL, NULL), NNRT_SUCCESS);
        check(back, &p);
        nnrt_model_destroy(back);
        free(block);
        if (nnrt_model_optimize(&m, NULL, &error) != NNRT_SUCCESS)
            fail_msg("%s", error.message);
        check(m, &p);
        nnrt_model_destroy(m);
    }
}

/* Contents of a message: the requested number of elements of every tensor; types, signs, empty tensors. */
static void test_message(void **state)
{
    static const float x[4] = {-0.5f, 1e10f, 0, 3};
    static const uint64_t u[1] = {UINT64_MAX};
    static const int8_t i[2] = {-128, 127};
    static const uint8_t b[4] = {1, 1, 0, 1};
    static const int32_t four[2] = {2, 2}, two[1] = {2}, none[2] = {2, 0};
    const nnrt_op *op = nnrt_op_named("ASSERT");
    const nnrt_operand operands[5] = {nnrt_operand_make(BOOL, 2, four, NULL), nnrt_operand_make(F32, 2, four, NULL),
                                      nnrt_operand_make(NNRT_DATA_TYPE_UINT64, 0, NULL, NULL),
                                      nnrt_operand_make(NNRT_DATA_TYPE_INT8, 1, two, NULL),
                                      nnrt_operand_make(NNRT_DATA_TYPE_FLOAT64, 2, none, NULL)};
    const struct {
        int64_t summarize;
        const char *text;
    } cases[] = {
        {0, "element 2 of the condition is false: float32[2,2]; uint64[]; int8[2]; float64[2,0]"},
        {1, "element 2 of the condition is false: float32[2,2] -0.5; uint64[] 18446744073709551615; int8[2] -128; "
            "float64[2,0]"},
        {3, "element 2 of the condition is false: float32[2,2] -0.5 1e10 0; uint64[] 18446744073709551615; int8[2] "
            "-128 127; float64[2,0]"},
    };
    nnrt_view args[5];
    nnrt_error error;
    nnrt_call call;
    (void)state;
    for (uint32_t k = 0; k < 5; k++)
        nnrt_operand_view(op, &operands[k], (int32_t)k, &args[k]);
    args[0].data = (void *)(uintptr_t)b;
    args[1].data = (void *)(uintptr_t)x;
    args[2].data = (void *)(uintptr_t)u;
    args[3].data = (void *)(uintptr_t)i;
    memset(&call, 0, sizeof(call));
    call.error = &error;
    for (uint32_t k = 0; k < 3; k++) {
        NNRT_Assert a;
        a.summarize = cases[k].summarize;
        memset(&error, 0, sizeof(error));
        assert_int_equal(nnrt_assert(&a, args, 5, NULL, &call), NNRT_FAILED);
        assert_string_equal(error.message, cases[k].text);
        assert_int_equal(nnrt_assert(&a, args, 5, NULL, NULL), NNRT_FAILED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_effect),
        cmocka_unit_test(test_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
