/* nnrt_pool: every task runs once, on a thread of the pool or its caller, with any number of users of the pool;
   bit-identical results for any number of threads; threads sleep between runs and end with the pool; none if none are
   requested. Nothing depends on the machine's speed: tests wait for events. `make tsan` runs this under gcc's thread
   sanitizer. */
#define _XOPEN_SOURCE 700
#define NNRT_THREADS 1
#include "nnrt.h"

#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "devices/nnrt_cpu.h"
#include "trial.h"

extern int64_t thread_calls, thread_fail_at, heap_calls; /* of tests/kit/nnrt.c */

/* ---- threads ---- */

static void pause_briefly(void)
{
    const struct timespec t = {0, 1000000};
    (void)nanosleep(&t, NULL);
}

/* Number of threads of this process, and of sleeping ones; 0: the system does not report it. */
static int32_t count_threads(int32_t *asleep)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    int32_t count = 0;
    *asleep = 0;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char path[300], text[256], state = '?';
        FILE *file;
        if (entry->d_name[0] == '.')
            continue;
        count++;
        snprintf(path, sizeof(path), "/proc/self/task/%s/stat", entry->d_name);
        if ((file = fopen(path, "r")) == NULL)
            continue;
        if (fgets(text, sizeof(text), file) != NULL && strrchr(text, ')') != NULL)
            state = strrchr(text, ')')[2];
        (void)fclose(file);
        *asleep += state == 'S';
    }
    if (folder != NULL)
        (void)closedir(folder);
    return count;
}

/* How often threads with a number above `above` have gone to sleep so far. */
static int64_t count_sleeps(long above)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    int64_t count = 0;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char path[300], line[256];
        FILE *file;
        if (strtol(entry->d_name, NULL, 10) <= above)
            continue;
        snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
        for (file = fopen(path, "r"); file != NULL && fgets(line, sizeof(line), file) != NULL;)
            if (strncmp(line, "voluntary_ctxt_switches:", 24) == 0)
                count += strtol(line + 24, NULL, 10);
        if (file != NULL)
            (void)fclose(file);
    }
    if (folder != NULL)
        (void)closedir(folder);
    return count;
}

/* The largest number of a thread of this process. */
static long last_thread(void)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    long last = 0;
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        last = strtol(entry->d_name, NULL, 10) > last ? strtol(entry->d_name, NULL, 10) : last;
    if (folder != NULL)
        (void)closedir(folder);
    return last;
}

/* Waits until there are so many threads, of which all but this one sleep. */
static void expect_threads(int32_t count)
{
    int32_t asleep = 0, found = 0;
    for (int i = 0; i < 10000; i++) {
        found = count_threads(&asleep);
        if (found == count && (found == 0 || asleep == count - 1))
            return;
        pause_briefly();
    }
    fail_msg("%d threads, of which %d sleep; expected %d, all but one of them asleep", found, asleep, count);
}

static nnrt_pool *pool_of(uint32_t threads)
{
    nnrt_pool *p = NULL;
    nnrt_pool_desc desc;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.threads = threads;
    if (nnrt_pool_create(&p, &desc, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    assert_int_equal(nnrt_pool_parallel(p)->workers, threads);
    return p;
}

/* ---- tasks ---- */

#define TASKS 70

typedef struct work {
    const nnrt_parallel *parallel;
    uint32_t calls[TASKS], strangers;
    uint32_t nested; /* tasks of a task */
} work;

static void count_nested(void *arg, uint32_t i, uint32_t worker)
{
    (void)i;
    (void)worker;
    (void)__atomic_add_fetch((uint32_t *)arg, 1, __ATOMIC_RELAXED); /* a single task has not taken the pool */
}

static void count_task(void *arg, uint32_t i, uint32_t worker)
{
    work *w = (work *)arg;
    for (volatile int k = 0; k < 300; k++) /* so long that threads come to share the work, and to meet */
        ;
    w->calls[i]++; /* no other thread has this task */
    if (worker >= w->parallel->workers)
        (void)__atomic_add_fetch(&w->strangers, 1, __ATOMIC_RELAXED);
    if (i % 7 == 0) {
        uint32_t inner = 0; /* the pool is at work: these are done here */
        w->parallel->run(w->parallel->user, 5, count_nested, &inner);
        (void)__atomic_add_fetch(&w->nested, inner, __ATOMIC_RELAXED);
    }
}

/* Calls the pool so often, with more tasks and fewer; returns how often something was wrong. */
static uint32_t call_often(const nnrt_parallel *parallel, uint32_t rounds)
{
    uint32_t wrong = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        const uint32_t count = round % (TASKS + 1);
        work w;
        memset(&w, 0, sizeof(w));
        w.parallel = parallel;
        parallel->run(parallel->user, count, count_task, &w);
        for (uint32_t i = 0; i < TASKS; i++)
            wrong += w.calls[i] != (i < count ? 1 : 0);
        wrong += w.strangers + (w.nested != (count + 6) / 7 * 5);
        if (round % 500 == 0)
            pause_briefly(); /* by then all threads sleep */
    }
    return wrong;
}

static void test_once(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 5; threads++) {
        nnrt_pool *p = pool_of(threads);
        assert_int_equal(call_often(nnrt_pool_parallel(p), 3000), 0);
        nnrt_pool_destroy(p);
    }
}

static void mark(void *arg, uint32_t i, uint32_t worker)
{
    (void)worker;
    ((uint8_t *)arg)[i]++;
}

/* More tasks than shares have room for. */
static void test_many(void **state)
{
    static const uint32_t counts[] = {65534, 65535, 65536, 65537, 131071, 300001};
    uint8_t *marks = (uint8_t *)malloc(300001);
    (void)state;
    for (uint32_t threads = 2; threads <= 3; threads++) {
        nnrt_pool *p = pool_of(threads);
        for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
            memset(marks, 0, 300001);
            nnrt_pool_parallel(p)->run(nnrt_pool_parallel(p)->user, counts[k], mark, marks);
            for (uint32_t i = 0; i < 300001; i++)
                if (marks[i] != (i < counts[k] ? 1 : 0))
                    fail_msg("task %u of %u was done %u times", i, counts[k], marks[i]);
        }
        nnrt_pool_destroy(p);
    }
    free(marks);
}

typedef struct caller {
    const nnrt_parallel *parallel;
    uint32_t rounds, wrong;
    pthread_t thread;
} caller;

static void *call_in_thread(void *arg)
{
    caller *c = (caller *)arg;
    c->wrong = call_often(c->parallel, c->rounds);
    return NULL;
}

static void test_callers(void **state)
{
    caller c[3];
    (void)state;
    for (uint32_t threads = 2; threads <= 4; threads++) {
        nnrt_pool *p = pool_of(threads);
        for (uint32_t i = 0; i < 3; i++) {
            c[i].parallel = nnrt_pool_parallel(p);
            c[i].rounds = 1000;
            assert_int_equal(pthread_create(&c[i].thread, NULL, call_in_thread, &c[i]), 0);
        }
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(pthread_join(c[i].thread, NULL), 0);
            assert_int_equal(c[i].wrong, 0);
        }
        nnrt_pool_destroy(p);
    }
}

/* A task that ends only when another one has begun: two threads have to be at it. */
static void meet(void *arg, uint32_t i, uint32_t worker)
{
    uint32_t *begun = (uint32_t *)arg;
    (void)i;
    (void)worker;
    (void)__atomic_add_fetch(begun, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(begun, __ATOMIC_SEQ_CST) < 2)
        pause_briefly();
}

/* Threads that sleep are woken, and one that waits for long sleeps, too. */
static void test_meeting(void **state)
{
    nnrt_pool *p = pool_of(2);
    (void)state;
    for (int round = 0; round < 20; round++) {
        uint32_t begun = 0;
        nnrt_pool_parallel(p)->run(nnrt_pool_parallel(p)->user, 2, meet, &begun);
        assert_int_equal(begun, 2);
        if (round % 2 == 0)
            pause_briefly();
    }
    nnrt_pool_destroy(p);
}

/* Two threads are at it, and the task of the one that did not call ends once the other one sleeps. */
static void outlast(void *arg, uint32_t i, uint32_t worker)
{
    int32_t asleep = 0;
    meet(arg, i, worker);
    for (int k = 0; worker > 0 && k < 2000 && count_threads(&asleep) > asleep + 1; k++)
        pause_briefly();
}

static void test_long_task(void **state)
{
    nnrt_pool *p = pool_of(2);
    (void)state;
    for (int round = 0; round < 5; round++) {
        uint32_t begun = 0;
        nnrt_pool_parallel(p)->run(nnrt_pool_parallel(p)->user, 2, outlast, &begun);
    }
    nnrt_pool_destroy(p);
}

/* Task 0 ends when all others have, but for the one that is left to the thread that has it. */
static void be_last(void *arg, uint32_t i, uint32_t worker)
{
    uint32_t *ended = (uint32_t *)arg;
    (void)worker;
    while (i == 0 && __atomic_load_n(ended, __ATOMIC_SEQ_CST) < 8)
        pause_briefly();
    (void)__atomic_add_fetch(ended, 1, __ATOMIC_SEQ_CST);
}

/* Other threads do the rest of a slow thread's share. */
static void test_slow_task(void **state)
{
    nnrt_pool *p = pool_of(2);
    (void)state;
    for (int round = 0; round < 20; round++) {
        uint32_t ended = 0;
        nnrt_pool_parallel(p)->run(nnrt_pool_parallel(p)->user, 10, be_last, &ended);
        assert_int_equal(ended, 10);
    }
    nnrt_pool_destroy(p);
}

/* ---- sessions ---- */

static float draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int32_t)*seed / 2147483648.0f;
}

/* A convolution whose weights are drawn, of `window` x `window` cells, stride 1. */
static uint32_t add_convolution(nnrt_builder *b, uint32_t x, int32_t from, int32_t to, int32_t group, int64_t window)
{
    const int64_t one[2] = {1, 1}, cells[2] = {window, window}, side = window / 2, pad[4] = {side, side, side, side};
    const int32_t dims[4] = {to, (int32_t)window, (int32_t)window, from / group};
    const size_t count = (size_t)dims[0] * (size_t)dims[1] * (size_t)dims[2] * (size_t)dims[3];
    float *w = (float *)malloc(count * sizeof(*w));
    NNRT_Conv2DFusion attr;
    uint32_t in[2], seed = (uint32_t)(to + group), y;
    for (size_t i = 0; i < count; i++)
        w[i] = draw(&seed) * 0.2f;
    memset(&attr, 0, sizeof(attr));
    attr.kernelSize = nnrt_int64_list(cells, 2);
    attr.stride = attr.dilation = nnrt_int64_list(one, 2);
    attr.padList = nnrt_int64_list(pad, 4);
    attr.group = group;
    attr.activationType = NNRT_ACTIVATION_TYPE_RELU;
    in[0] = x;
    in[1] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_FLOAT32, 4, dims, w, true);
    y = nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_CONV2D_FUSION, &attr, in, 2);
    free(w);
    return y;
}

#define SIDE 28
#define X_COUNT (SIDE * SIDE * 8)
#define Y_COUNT (SIDE * SIDE * 40)

/* Convolutions of all kinds, a sum, an activation and factors that are the same for each row, large enough that the
   fast device shares each of them. */
static NNRT_Model *network(void)
{
    static const int32_t dims[4] = {1, SIDE, SIDE, 8}, row[4] = {1, SIDE, 1, 40};
    static const NNRT_Activation sigmoid = {NNRT_ACTIVATION_TYPE_SIGMOID, 0, 0, 0, false};
    static float factors[SIDE * 40];
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    nnrt_error error;
    uint32_t in[2], seed = 11;
    memset(&error, 0, sizeof(error));
    for (size_t i = 0; i < SIDE * 40; i++)
        factors[i] = draw(&seed);
    assert_int_equal(nnrt_builder_create(&b, "network", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 4, dims);
    in[0] = add_convolution(b, in[0], 8, 32, 1, 3);
    in[1] = add_convolution(b, in[0], 32, 32, 1, 3);
    in[0] = add_convolution(b, in[1], 32, 32, 32, 3);
    in[0] = nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    in[0] = add_convolution(b, in[0], 32, 40, 1, 1);
    in[0] = nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_ACTIVATION, &sigmoid, in, 1);
    in[1] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_FLOAT32, 4, row, factors, true);
    nnrt_builder_output(b, nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_MUL_FUSION, NULL, in, 2));
    if (nnrt_builder_finish(b, &model, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(b);
    return model;
}

static nnrt_session *session_of(const NNRT_Model *model, const char *device, const nnrt_parallel *parallel,
                                nnrt_session *share)
{
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.device = device;
    desc.parallel = parallel;
    desc.share = share;
    if (nnrt_session_create(&s, model, &desc, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    return s;
}

static NNRT_ReturnCode run(nnrt_session *s, const float *x, float *y)
{
    const nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, X_COUNT * sizeof(*x));
    const nnrt_io out = nnrt_io_make(y, Y_COUNT * sizeof(*y));
    return nnrt_run(s, &in, 1, &out, 1);
}

static void fill(float *x, uint32_t seed)
{
    for (size_t i = 0; i < X_COUNT; i++)
        x[i] = draw(&seed);
}

/* The fast device where this machine has it, and "reference". */
static const char *device_at(int i)
{
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_device_find("cpu") == NULL)
        (void)nnrt_cpu_register(NULL, &error);
    return i == 0 && nnrt_device_find("cpu") != NULL ? "cpu" : "reference";
}

/* Threads of a pool, counted: how many tasks others than the one that calls have done. */
typedef struct counter {
    nnrt_parallel parallel;
    const nnrt_parallel *of;
    void (*task)(void *arg, uint32_t i, uint32_t worker);
    void *arg;
    uint32_t calls, helped;
} counter;

static void count_help(void *arg, uint32_t i, uint32_t worker)
{
    counter *c = (counter *)arg;
    if (worker > 0)
        (void)__atomic_add_fetch(&c->helped, 1, __ATOMIC_RELAXED);
    c->task(c->arg, i, worker);
}

static void run_counted(void *user, uint32_t count, void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg)
{
    counter *c = (counter *)user;
    c->calls++;
    c->task = task;
    c->arg = arg;
    c->of->run(c->of->user, count, count_help, c);
}

static void test_bits(void **state)
{
    static const uint32_t numbers[] = {1, 2, 3, 8};
    static float x[X_COUNT], expected[Y_COUNT], y[Y_COUNT];
    NNRT_Model *model = network();
    (void)state;
    fill(x, 7);
    for (int d = 0; d < 2; d++) {
        const int rounds = strcmp(device_at(d), "reference") == 0 ? 1 : 5; /* the reference device has one thread */
        nnrt_session *s = session_of(model, device_at(d), NULL, NULL);
        assert_int_equal(run(s, x, expected), NNRT_SUCCESS);
        nnrt_session_destroy(s);
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
            nnrt_pool *p = pool_of(numbers[k]);
            counter c;
            s = session_of(model, device_at(d), nnrt_pool_parallel(p), NULL);
            for (int round = 0; round < rounds; round++) {
                const int64_t before = heap_calls;
                memset(y, 0xA5, sizeof(y));
                assert_int_equal(run(s, x, y), NNRT_SUCCESS);
                assert_int_equal(heap_calls, before);
                assert_memory_equal(y, expected, sizeof(y));
            }
            nnrt_session_destroy(s);
            memset(&c, 0, sizeof(c));
            c.parallel.run = run_counted;
            c.parallel.user = &c;
            c.parallel.workers = numbers[k];
            c.of = nnrt_pool_parallel(p);
            s = session_of(model, device_at(d), &c.parallel, NULL);
            for (int round = 0; round < 10000 && (round < rounds || (c.calls > 0 && c.helped == 0)); round++)
                assert_int_equal(run(s, x, y), NNRT_SUCCESS);
            assert_memory_equal(y, expected, sizeof(y));
            if (strcmp(device_at(d), "cpu") == 0 && numbers[k] > 1)
                assert_true(c.calls >= 5 * 6 && c.helped > 0); /* all but the sum, maybe part of another step */
            nnrt_session_destroy(s);
            nnrt_pool_destroy(p);
        }
    }
    nnrt_model_destroy(model);
}

typedef struct runner {
    nnrt_session *session;
    float x[X_COUNT], expected[Y_COUNT], y[Y_COUNT];
    uint32_t wrong;
    pthread_t thread;
} runner;

static void *run_often(void *arg)
{
    runner *r = (runner *)arg;
    for (int round = 0; round < 20; round++) {
        memset(r->y, 0xA5, sizeof(r->y));
        r->wrong += run(r->session, r->x, r->y) != NNRT_SUCCESS || memcmp(r->y, r->expected, sizeof(r->y)) != 0;
    }
    return NULL;
}

/* Sessions of several threads that have one pool: two of their own, and one that shares with the first. */
static void test_sessions(void **state)
{
    static runner runners[3];
    NNRT_Model *model = network();
    (void)state;
    for (uint32_t threads = 2; threads <= 3; threads++) {
        nnrt_pool *p = pool_of(threads);
        nnrt_session *plain = session_of(model, device_at(0), NULL, NULL);
        for (uint32_t i = 0; i < 3; i++) {
            runner *r = &runners[i];
            memset(r, 0, sizeof(*r));
            fill(r->x, i + 1);
            assert_int_equal(run(plain, r->x, r->expected), NNRT_SUCCESS);
            r->session = session_of(model, device_at(0), i < 2 ? nnrt_pool_parallel(p) : NULL,
                                    i < 2 ? NULL : runners[0].session);
        }
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(pthread_create(&runners[i].thread, NULL, run_often, &runners[i]), 0);
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(pthread_join(runners[i].thread, NULL), 0);
            assert_int_equal(runners[i].wrong, 0);
            nnrt_session_destroy(runners[i].session);
        }
        nnrt_session_destroy(plain);
        nnrt_pool_destroy(p);
    }
    nnrt_model_destroy(model);
}

/* ---- number of threads ---- */

static void run_here(void *user, uint32_t count, void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg)
{
    ++*(uint32_t *)user;
    for (uint32_t i = 0; i < count; i++)
        task(arg, i, i % 2);
}

/* Threads of the application, or one thread: none is started. */
static void test_no_thread(void **state)
{
    static float x[X_COUNT], y[Y_COUNT];
    uint32_t calls = 0;
    const nnrt_parallel own = {run_here, &calls, 2};
    NNRT_Model *model = network();
    nnrt_pool *one = pool_of(1);
    const nnrt_parallel *ways[3];
    int32_t asleep, before = count_threads(&asleep);
    const int64_t started = thread_calls;
    (void)state;
    ways[0] = NULL;
    ways[1] = &own;
    ways[2] = nnrt_pool_parallel(one);
    fill(x, 3);
    for (int d = 0; d < 2; d++)
        for (int way = 0; way < 3; way++) {
            nnrt_session *s = session_of(model, device_at(d), ways[way], NULL);
            assert_int_equal(run(s, x, y), NNRT_SUCCESS);
            assert_int_equal(count_threads(&asleep), before);
            nnrt_session_destroy(s);
        }
    assert_true(calls > 0 || strcmp(device_at(0), "cpu") != 0);
    assert_int_equal(thread_calls, started);
    nnrt_pool_destroy(one);
    nnrt_model_destroy(model);
}

/* Threads sleep after runs that they took part in; runs without work for them do not wake them. They end with the pool. */
static void test_sleep(void **state)
{
    static float x[X_COUNT], y[Y_COUNT];
    NNRT_Model *model = network();
    int32_t asleep, before;
    const long last = last_thread();
    nnrt_pool *p;
    (void)state;
    before = count_threads(&asleep);
    if (before == 0)
        skip();
    fill(x, 3);
    p = pool_of(4);
    expect_threads(before + 3);
    for (int d = 0; d < 2; d++) {
        nnrt_session *s = session_of(model, device_at(d), nnrt_pool_parallel(p), NULL);
        int64_t sleeps;
        expect_threads(before + 3);
        sleeps = count_sleeps(last);
        for (int round = 0; round < 6; round++) {
            assert_int_equal(run(s, x, y), NNRT_SUCCESS);
            if (round % 3 == 0)
                expect_threads(before + 3);
        }
        if (strcmp(device_at(d), "reference") == 0)
            assert_int_equal(count_sleeps(last), sleeps);
        else if (sleeps >= 3) /* else the numbers of threads have begun anew */
            assert_true(count_sleeps(last) > sleeps);
        nnrt_session_destroy(s);
    }
    nnrt_pool_destroy(p);
    expect_threads(before);
    for (uint32_t i = 0; i < 100; i++) { /* threads that have hardly begun */
        p = pool_of(1 + i % 5);
        nnrt_pool_destroy(p);
    }
    expect_threads(before);
    nnrt_model_destroy(model);
}

/* ---- faults ---- */

static void test_faults(void **state)
{
    int32_t asleep, before = count_threads(&asleep);
    nnrt_pool *p = (nnrt_pool *)&asleep;
    nnrt_pool_desc desc;
    nnrt_allocator a;
    nnrt_error error;
    trial t;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    memset(&t, 0, sizeof(t));
    a = trial_allocator(&t);
    assert_int_equal(nnrt_pool_create(NULL, NULL, &error), NNRT_NULL_PTR);
    memset(&error, 0, sizeof(error));
    desc.threads = NNRT_MAX_POOL + 1;
    assert_int_equal(nnrt_pool_create(&p, &desc, &error), NNRT_INVALID_PARAMETER);
    assert_null(p);
    assert_string_equal(error.message, "a pool of 1025 threads, expected at most 1024");
    desc.threads = 5;
    desc.allocator = &a;
    t.failing = 1;
    p = (nnrt_pool *)&asleep;
    assert_int_equal(nnrt_pool_create(&p, &desc, NULL), NNRT_OUT_OF_MEMORY);
    assert_null(p);
    for (uint32_t k = 1; k <= 4; k++) { /* thread number k does not start */
        char expected[80];
        snprintf(expected, sizeof(expected), "the system starts no more than %u of 4 threads", k - 1);
        memset(&error, 0, sizeof(error));
        p = (nnrt_pool *)&asleep;
        thread_fail_at = thread_calls + (int64_t)k;
        assert_int_equal(nnrt_pool_create(&p, &desc, &error), NNRT_FAILED);
        thread_fail_at = 0;
        assert_null(p);
        assert_string_equal(error.message, expected);
        assert_int_equal(t.live, 0);
        for (int i = 0; i < 10000 && count_threads(&asleep) != before; i++)
            pause_briefly();
        assert_int_equal(count_threads(&asleep), before);
    }
    assert_int_equal(nnrt_pool_create(&p, &desc, NULL), NNRT_SUCCESS);
    assert_int_equal(t.live, 1); /* one block, and none later */
    assert_int_equal(call_often(nnrt_pool_parallel(p), 100), 0);
    nnrt_pool_destroy(p);
    assert_int_equal(t.live, 0);
    assert_null(nnrt_pool_parallel(NULL));
    nnrt_pool_destroy(NULL);
}

/* As many threads as the system has processors. */
static void test_default(void **state)
{
    nnrt_pool *p = NULL;
    (void)state;
    assert_int_equal(nnrt_pool_create(&p, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_pool_parallel(p)->workers, sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(call_often(nnrt_pool_parallel(p), 100), 0);
    nnrt_pool_destroy(p);
}

/* The performance mode determines the number of threads, unless it is set. */
static void test_modes(void **state)
{
    const uint32_t all = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t wanted[5] = {all, 1, (all + 1) / 2, all, all};
    nnrt_pool_desc desc;
    nnrt_error error;
    nnrt_pool *p = NULL;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    for (int32_t mode = NNRT_PERFORMANCE_NONE; mode <= NNRT_PERFORMANCE_EXTREME; mode++) {
        desc.mode = mode;
        for (desc.threads = 0; desc.threads <= 3; desc.threads += 3) {
            assert_int_equal(nnrt_pool_create(&p, &desc, NULL), NNRT_SUCCESS);
            assert_int_equal(nnrt_pool_parallel(p)->workers, desc.threads > 0 ? 3 : wanted[mode]);
            assert_int_equal(call_often(nnrt_pool_parallel(p), 100), 0);
            nnrt_pool_destroy(p);
        }
    }
    desc.threads = 0;
    desc.mode = NNRT_PERFORMANCE_EXTREME + 1;
    assert_int_equal(nnrt_pool_create(&p, &desc, &error), NNRT_INVALID_PERFORMANCE_MODE);
    assert_string_equal(error.message, "performance mode 5 does not exist");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),     cmocka_unit_test(test_many),      cmocka_unit_test(test_callers),
        cmocka_unit_test(test_meeting),  cmocka_unit_test(test_long_task), cmocka_unit_test(test_slow_task),
        cmocka_unit_test(test_bits),     cmocka_unit_test(test_sessions),  cmocka_unit_test(test_no_thread),
        cmocka_unit_test(test_sleep),    cmocka_unit_test(test_faults),    cmocka_unit_test(test_default),
        cmocka_unit_test(test_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
