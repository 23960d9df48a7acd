/* The threads of tests/bench/pool.h: every task once, by a thread that there is, and a run ends when all tasks have. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "nnrt_ops.h"

#include "bench/pool.h"

enum { TASKS = 70, ROUNDS = 3000 };

typedef struct work {
    uint32_t calls[TASKS], strangers;
    uint32_t workers;
} work;

static void task(void *arg, uint32_t i, uint32_t worker)
{
    work *w = (work *)arg;
    for (int k = 0; k < 20; k++) /* so long that threads come to share the work, and to meet */
        bench_pool_pause();
    (void)__atomic_add_fetch(&w->calls[i], 1, __ATOMIC_RELAXED);
    if (worker >= w->workers)
        (void)__atomic_add_fetch(&w->strangers, 1, __ATOMIC_RELAXED);
}

static void once(void **state)
{
    const struct timespec pause = {0, 2000000}; /* by then all threads sleep */
    (void)state;
    for (int threads = 2; threads <= 4; threads++) {
        const nnrt_parallel *p = bench_pool_of(threads);
        work w;
        assert_non_null(p);
        assert_int_equal(p->workers, threads);
        assert_ptr_equal(bench_pool_of(threads), p);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            const uint32_t count = round % (TASKS + 1);
            memset(&w, 0, sizeof(w));
            w.workers = p->workers;
            p->run(p->user, count, task, &w);
            for (uint32_t i = 0; i < TASKS; i++)
                assert_int_equal(w.calls[i], i < count);
            assert_int_equal(w.strangers, 0);
            if (round % 500 == 0)
                (void)nanosleep(&pause, NULL);
        }
    }
}

static void none(void **state)
{
    (void)state;
    assert_null(bench_pool_of(0));
    assert_null(bench_pool_of(1));
    assert_null(bench_pool_of(-1));
    assert_null(bench_pool_of(BENCH_POOL_THREADS + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(once), cmocka_unit_test(none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
