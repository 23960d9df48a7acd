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
    uint64_t us[2], late; /* late: of each run with threads, in us[0] */
    uint32_t runs[2];
} course;

static void go(course *c, uint32_t runs)
{
    c->runs[0] = c->runs[1] = 0;
    for (uint32_t i = 0; i < runs; i++) {
        const bool alone = nnrti_turns_alone(&c->turns);
        c->runs[alone]++;
        nnrti_turns_next(&c->turns, c->us[alone], alone ? 0 : c->late);
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

/* A turn with threads, then a trial alone; the faster way is kept for eight turns at least. */
static void test_faster(void **state)
{
    course c = course_of(40, 24);
    (void)state;
    go(&c, 2 * NNRTI_TURN);
    assert_int_equal(c.runs[0], NNRTI_TURN);
    go(&c, NNRTI_TURNS_REST * NNRTI_TURN);
    assert_int_equal(c.runs[1], NNRTI_TURNS_REST * NNRTI_TURN);
    c = course_of(24, 40);
    go(&c, NNRTI_TURN + 3); /* two counted runs alone are enough */
    assert_int_equal(c.runs[1], 3);
    go(&c, NNRTI_TURNS_REST * NNRTI_TURN);
    assert_int_equal(c.runs[0], NNRTI_TURNS_REST * NNRTI_TURN);
    c = course_of(30, 30); /* as fast: other programs get the processor */
    go(&c, 2 * NNRTI_TURN);
    assert_true(c.turns.alone);
}

/* Trials of the slower way take the 64th part of the time at first, later the 512th, in runs of all lengths. */
static void test_rest(void **state)
{
    static const uint64_t us[][2] = {{24, 40}, {40, 24}, {600, 1100}, {12000, 6300}, {50000, 90000}};
    (void)state;
    for (size_t i = 0; i < sizeof(us) / sizeof(us[0]); i++) {
        const uint32_t fast = us[i][0] > us[i][1];
        const uint64_t extra = us[i][!fast] - us[i][fast];
        course c = course_of(us[i][0], us[i][1]);
        go(&c, 2000);
        assert_true(c.runs[!fast] >= 3 + 3);
        assert_true((c.runs[!fast] - NNRTI_TURN) * extra * NNRTI_TURNS_COST <= 2000 * us[i][fast]);
        go(&c, 100000);
        assert_true(c.runs[!fast] >= 3 && c.runs[!fast] % 3 == 0);
        assert_true(c.runs[!fast] * extra * NNRTI_TURNS_COST_MOST / 3 <= 100000 * us[i][fast]);
    }
}

/* Threads become slower, because the other core has become busy: in the next turn but one there are none. They become
   faster again: the trial comes within 512 times the extra time of the last one. */
static void test_change(void **state)
{
    course c = course_of(24, 40);
    (void)state;
    go(&c, 50000);
    c.us[0] = 50;
    go(&c, 3 * NNRTI_TURN);
    assert_true(c.turns.alone);
    assert_int_equal(c.turns.cost, NNRTI_TURNS_COST); /* a new answer is soon compared again */
    go(&c, 50000);
    assert_true(c.turns.alone);
    c.us[0] = 24;
    go(&c, NNRTI_TURNS_COST_MOST * 3 * (50 - 40) / 40 + 2 * NNRTI_TURN);
    assert_false(c.turns.alone);
}

/* Inputs become larger: with threads, runs are slower than the last ones alone, but faster than such runs alone. */
static void test_larger(void **state)
{
    course c = course_of(24, 40);
    (void)state;
    go(&c, 5000);
    c.us[0] = 3000;
    c.us[1] = 5000;
    go(&c, 10000);
    assert_false(c.turns.alone);
    assert_true(c.runs[1] <= 2 * NNRTI_TURN + 10000 / NNRTI_TURNS_COST);
}

/* One interrupted run changes no answer, in whatever place. */
static void test_interrupted(void **state)
{
    (void)state;
    for (uint32_t way = 0; way < 2; way++)
        for (uint32_t at = 0; at < 10 * NNRTI_TURN; at++) {
            course c = course_of(way == 0 ? 24 : 40, way == 0 ? 40 : 24);
            for (uint32_t i = 0; i < 10 * NNRTI_TURN; i++) {
                const uint64_t kept = c.us[way];
                c.us[way] = i == at ? 4000 : kept;
                go(&c, 1);
                c.us[way] = kept;
                if (i + 1 >= 2 * NNRTI_TURN)
                    assert_int_equal(c.turns.alone, way);
            }
        }
}

/* Rare runs that wait for a late thread are no part of a mean, but threads must gain as much as they lose there. */
static void test_late(void **state)
{
    static const uint32_t between[] = {2000, 100}; /* runs, which gain 32 and 1.6 ms */
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        course c = course_of(24, 40);
        uint32_t alone = 0;
        for (uint32_t i = 0; i < 100000; i++) {
            const bool late = i % between[k] == between[k] - 1 && !nnrti_turns_alone(&c.turns);
            c.us[0] = late ? 10024 : 24;
            c.late = late ? 10000 : 0;
            go(&c, 1);
            alone += c.runs[1];
        }
        if (k == 0)
            assert_true(alone < 1000);
        else
            assert_true(alone > 95000);
    }
    for (uint32_t at = 0; at < 6; at++) { /* in a trial of threads */
        course c = course_of(50, 40);
        go(&c, 200);
        while (!c.turns.trial)
            go(&c, 1);
        c.us[0] = 24;
        for (uint32_t i = 0; i < NNRTI_TURN; i++) {
            c.us[0] = i == at ? 4024 : 24;
            c.late = i == at ? 4000 : 0;
            go(&c, 1);
        }
        assert_true(c.turns.alone);
        assert_true(c.turns.rest >= 16 * (int64_t)NNRTI_TURNS_COST * 3800);
    }
    {
        course c = course_of(3000, 5000); /* waits that are part of each run cost nothing more */
        c.late = 1000;
        go(&c, 10000);
        assert_false(c.turns.alone);
        assert_true(c.runs[1] < 200);
    }
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
    s->turns.rest = INT64_MAX;
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
    /* A turn with threads and a trial alone; on a loaded machine a late thread ends the turn after three runs. */
    assert_in_range(run(s[0], 2 * NNRTI_TURN), 3, 2 * NNRTI_TURN - 3);
    assert_true(s[0]->turns.cost > 0);
    answer(s[0], true);
    assert_int_equal(run(s[0], 30), 0);
    assert_int_equal(run(s[1], 1), 1); /* the other session has an answer of its own */
    for (uint32_t i = 0; i < 30; i++) {
        answer(s[0], false); /* anew, as a late thread on a loaded machine would end it */
        assert_int_equal(run(s[0], 1), 1);
    }
    for (uint32_t i = 0; i < 2; i++)
        nnrt_session_destroy(s[i]);
    nnrt_pool_destroy(pool);
    nnrt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faster),   cmocka_unit_test(test_rest),        cmocka_unit_test(test_change),
        cmocka_unit_test(test_larger),   cmocka_unit_test(test_interrupted), cmocka_unit_test(test_late),
        cmocka_unit_test(test_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
