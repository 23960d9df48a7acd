/* The devices "cpu-SET", one for each instruction set of this machine, random numbers, and threads. Include after
   cmocka.h, nnrt.h and nnrt_cpu.h. */
#ifndef NNRT_TESTS_SETS_H
#define NNRT_TESTS_SETS_H

static const char *sets[8];
static uint32_t nSets;

static int add_devices(void **unused)
{
    nnrt_error e;
    (void)unused;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_cpu_register(NULL, &e), NNRT_SUCCESS);
    for (uint32_t i = 0; nnrt_cpu_set(i) != NULL; i++) { /* "cpu" is the first of them: test_sets */
        static char names[8][24];
        assert_int_equal(nnrt_cpu_register(nnrt_cpu_set(i), &e), NNRT_SUCCESS);
        snprintf(names[i], sizeof(names[i]), "cpu-%s", nnrt_cpu_set(i));
        sets[nSets++] = names[i];
    }
    return 0;
}

static uint64_t state; /* of the numbers that draw gives */

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* What is offered as threads: `workers` of them, which take the pieces from the last to the first. */
typedef struct team {
    nnrt_parallel parallel;
    uint32_t calls;
} team;

static void work_backward(void *user, uint32_t count, void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg)
{
    team *t = (team *)user;
    t->calls++;
    for (uint32_t i = count; i-- > 0;)
        task(arg, i, i % t->parallel.workers);
}

#endif
