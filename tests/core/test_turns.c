/* Whether a session's runs have the threads of its pool (nnrti_turns in nnrt.h). The comparison gets made-up times, as no test
   depends on the machine's speed; then sessions get each answer, and must keep to it. */
#include "inside.h"

#include "nnrt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the comparison ---- */

/* Runs that take so many microseconds with threads, and alone. Counts both. */
typedef struct course {
    nnrti_turns turns;
    uint64_t us[2];
    uint32_t runs[2], timed;
} course;

static void go(course *c, uint32_t runs)
{
    c->runs[0] = c->runs[1] = c->timed = 0;
    for (uint32_t i = 0; i < runs; i++) {
        const bool alone = nnrti_turns_alone(&c->turns), timed = nnrti_turns_timed(&c->turns);
        c->runs[alone]++;
        c->timed += timed;
        nnrti_turns_next(&c->turns, timed ? c->us[alone] : 0);
    }
}

static course course_of(uint64_t threads, uint64_t alone)
{
    course c;
    memset(&c, 0, sizeof(c));
    c.us[0] = threads;
    c.us[1] = alone;
    return c;
}

static void test_faster(void **state)
{
    course c = course_of(40, 24);
    (void)state;
    go(&c, NNRTI_TURNS);
    assert_int_equal(c.runs[0], NNRTI_TURNS / 2);
    assert_int_equal(c.timed, NNRTI_TURNS - NNRTI_TURNS / NNRTI_TURN);
    go(&c, NNRTI_TURNS); /* the first rest */
    assert_int_equal(c.runs[1], NNRTI_TURNS);
    c = course_of(24, 40);
    go(&c, NNRTI_TURNS);
    go(&c, NNRTI_TURNS);
    assert_int_equal(c.runs[0], NNRTI_TURNS);
    c = course_of(30, 30); /* as fast: other programs get the processor */
    go(&c, NNRTI_TURNS);
    assert_true(c.turns.alone);
}

/* While the answer stays the same there are fewer and fewer comparisons, but there are some. */
static void test_rest(void **state)
{
    course c = course_of(24, 40);
    (void)state;
    go(&c, 20000);
    assert_in_range(c.runs[1], 9 * NNRTI_TURNS / 2, 11 * NNRTI_TURNS / 2);
    go(&c, 100 * (NNRTI_TURNS + NNRTI_TURNS_REST));
    assert_in_range(c.runs[1], 99 * NNRTI_TURNS / 2, 101 * NNRTI_TURNS / 2);
    c.us[0] = 50; /* the other core has become busy */
    for (uint32_t i = 0; i < NNRTI_TURNS + NNRTI_TURNS_REST && !c.turns.alone; i++)
        go(&c, 1);
    assert_true(c.turns.alone);
    assert_int_equal(c.turns.rest, NNRTI_TURNS); /* a new answer is soon compared again */
}

/* One interrupted run of each way changes no answer, in whatever place. */
static void test_interrupted(void **state)
{
    (void)state;
    for (uint32_t way = 0; way < 2; way++)
        for (uint32_t at = 0; at < NNRTI_TURNS; at++) {
            course c = course_of(way == 0 ? 24 : 40, way == 0 ? 40 : 24);
            for (uint32_t i = 0; i < NNRTI_TURNS; i++) {
                const uint64_t kept = c.us[way];
                c.us[way] = i == at ? 4000 : kept;
                go(&c, 1);
                c.us[way] = kept;
            }
            assert_int_equal(c.turns.alone, way);
        }
}

/* Runs of more than a millisecond keep their threads after few comparisons. */
static void test_long(void **state)
{
    course c = course_of(600, 1100);
    (void)state;
    go(&c, 10000);
    assert_true(c.runs[1] <= 2 * 3);
    c = course_of(5000, 9000);
    go(&c, 10000);
    assert_true(c.runs[1] <= 2 * 3);
    c = course_of(40, 24); /* a small input, then larger ones */
    go(&c, 10 * NNRTI_TURNS);
    c.us[0] = 3000;
    c.us[1] = 5000;
    go(&c, 10000);
    assert_true(c.runs[1] <= 2 + 2 * 3);
    assert_false(c.turns.alone);
}

/* ---- sessions ---- */

#define TASKS 64

/* Adds 1 to each element, an element per task. */
static void add_task(void *arg, uint32_t i, uint32_t worker)
{
    nnrt_view *args = (nnrt_view *)arg;
    (void)worker;
    ((float *)args[1].data)[i] = ((const float *)args[0].data)[i] + 1.0f;
}

static NNRT_ReturnCode add_f32(const void *attr, nnrt_view *args, nnrt_call *call)
{
    (void)attr;
    nnrt_parallel_for(call, TASKS, add_task, args);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode add_rule(nnrt_resolve *c)
{
    nnrt_resolve_like(c, 0, 0);
    return NNRT_SUCCESS;
}

static NNRT_Model *network(void)
{
    static const nnrt_kernel_row kernels[] = {{NNRT_TYPES_F32, NULL, add_f32, "add_f32"}};
    static const int32_t dims[1] = {TASKS};
    nnrt_op op;
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    nnrt_error error;
    uint32_t x;
    memset(&op, 0, sizeof(op));
    memset(&error, 0, sizeof(error));
    op.name = "test.AddOne";
    op.inputs = "x";
    op.outputs = "y=0";
    op.rule = add_rule;
    op.kernels = kernels;
    op.kernelCount = 1;
    assert_int_equal(nnrt_op_register(&op, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_builder_create(&b, "network", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 1, dims);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", nnrt_op_named("test.AddOne")->type, NULL, &x, 1));
    if (nnrt_builder_finish(b, &model, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(b);
    return model;
}

/* Runs it so often. Returns how many of the runs had threads. */
static uint32_t run(nnrt_session *s, uint32_t times)
{
    float x[TASKS], y[TASKS];
    const nnrt_io in = nnrt_io_make(x, sizeof(x)), out = nnrt_io_make(y, sizeof(y));
    const uint32_t before = s->pool->works;
    for (uint32_t i = 0; i < times; i++) {
        for (uint32_t k = 0; k < TASKS; k++) {
            x[k] = (float)(k + i);
            y[k] = 0;
        }
        assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
        for (uint32_t k = 0; k < TASKS; k++)
            assert_true(y[k] == (float)(k + i + 1));
    }
    assert_int_equal(s->pool->runs, 0);
    return s->pool->works - before;
}

static void answer(nnrt_session *s, bool alone)
{
    memset(&s->turns, 0, sizeof(s->turns));
    s->turns.alone = alone;
    s->turns.run = NNRTI_TURNS;
    s->turns.rest = NNRTI_TURNS_REST;
}

static void test_sessions(void **state)
{
    NNRT_Model *model = network();
    nnrt_session *s[2] = {NULL, NULL};
    nnrt_pool *pool = NULL;
    nnrt_pool_desc threads;
    nnrt_session_desc desc;
    (void)state;
    memset(&threads, 0, sizeof(threads));
    memset(&desc, 0, sizeof(desc));
    threads.threads = 2;
    assert_int_equal(nnrt_pool_create(&pool, &threads, NULL), NNRT_SUCCESS);
    desc.device = "reference";
    desc.parallel = nnrt_pool_parallel(pool);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(nnrt_session_create(&s[i], model, &desc, NULL), NNRT_SUCCESS);
    assert_int_equal(run(s[0], 1), 1); /* whether there is work for threads is known only after it */
    assert_int_equal(s[0]->turns.run, 0);
    assert_in_range(run(s[0], NNRTI_TURNS), NNRTI_TURNS / 2, NNRTI_TURNS - 2); /* more than half on a loaded machine, where */
    assert_true(s[0]->turns.run >= NNRTI_TURNS);                               /* two slow runs end the comparison */
    for (uint32_t i = 0; i < 30; i++) {
        answer(s[0], true); /* anew, as slow runs would begin a comparison */
        assert_int_equal(run(s[0], 1), 0);
    }
    assert_int_equal(run(s[1], 1), 1); /* the other session has an answer of its own */
    answer(s[0], false);
    assert_int_equal(run(s[0], 30), 30);
    for (uint32_t i = 0; i < 2; i++)
        nnrt_session_destroy(s[i]);
    nnrt_pool_destroy(pool);
    nnrt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faster), cmocka_unit_test(test_rest),     cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_long),   cmocka_unit_test(test_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
