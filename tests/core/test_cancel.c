/* Canceled runs: by other threads, by kernels, by profile listeners, by a queue and its time limits. Nothing depends on
   the speed of the machine: a kernel that must be interrupted waits for it. `make tsan` runs this under gcc's thread
   sanitizer. */
#define _POSIX_C_SOURCE 200809L /* nanosleep, posix_memalign */
#define NNRT_THREADS 1
#include "nnrt.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "fakes.h"
#include "kit.h"

/* ---- a device whose kernels can be held, and can end the run ---- */

typedef struct watched {
    nnrt_kernel kernel;     /* the original kernel */
    uint32_t calls, begun;  /* kernels called; kernels that wait */
    uint32_t holds;         /* the call of this number waits until the run is canceled; 0 = none */
    uint32_t ends;          /* this one cancels the run itself; 0 = none */
    nnrt_session *session;
    NNRT_ReturnCode said;   /* the result of nnrt_session_cancel */
    bool late;              /* the run was not canceled in 20 seconds */
} watched;

static watched W;

static void nap(void)
{
    const struct timespec t = {0, 1000000};
    (void)nanosleep(&t, NULL);
}

static NNRT_ReturnCode watch(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const uint32_t now = __atomic_add_fetch(&W.calls, 1, __ATOMIC_SEQ_CST);
    if (now == W.ends)
        W.said = nnrt_session_cancel(W.session);
    if (now == W.holds) {
        (void)__atomic_add_fetch(&W.begun, 1, __ATOMIC_SEQ_CST);
        for (uint32_t i = 0; !call->stop->asked(call->stop->user); i++) {
            if (i == 20000) {
                W.late = true;
                break;
            }
            nap();
        }
    }
    return W.kernel(attr, args, call);
}

static NNRT_ReturnCode watched_edit(void *user, nnrt_draft *draft)
{
    (void)user;
    for (uint32_t i = 0; i < draft->nSteps; i++)
        if (draft->steps[i].op != NULL && draft->steps[i].op->type == NNRT_NODE_TYPE_ADD_FUSION) {
            W.kernel = draft->steps[i].kernel;
            draft->steps[i].kernel = watch;
        }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode watched_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                       NNRT_PreparedModel **prepared)
{
    return nnrt_plan_prepare(model, config, watched_edit, self, NULL, prepared);
}

static NNRT_ReturnCode watched_dynamic(void *self, bool *isSupported)
{
    (void)self;
    *isSupported = true;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode watched_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode watched_name(void *self, const char **name)
{
    (void)self;
    *name = "watched";
    return NNRT_SUCCESS;
}

static int setup(void **state)
{
    static NNRT_DeviceVtbl table;
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.GetVersion = watched_version;
    table.GetDeviceName = table.GetVendorName = watched_name;
    table.IsDynamicInputSupported = watched_dynamic;
    table.PrepareModel = watched_prepare;
    memset(&W, 0, sizeof(W));
    (void)state;
    return nnrt_device_register(&table, NULL, NULL) == NNRT_SUCCESS ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return nnrt_device_unregister("watched") == NNRT_SUCCESS && !W.late ? 0 : -1;
}

/* ---- models ---- */

static const float xs[4] = {1, -2, 3, -4}, eights[4] = {8, -16, 24, -32};

/* y = x * 8 in three sums, "twice", "fourfold" and "y"; x float32[rows,2]. */
static NNRT_Model *make_sums(int32_t rows)
{
    static const char *const names[3] = {"twice", "fourfold", "y"};
    const int32_t dims[2] = {rows, 2};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    uint32_t in[2];
    assert_int_equal(nnrt_builder_create(&b, "sums", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", F32, 2, dims);
    for (uint32_t i = 0; i < 3; i++) {
        in[1] = in[0];
        in[0] = nnrt_builder_op(b, names[i], NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    }
    nnrt_builder_output(b, in[0]);
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return m;
}

/* A LOOP with the maximum number of trips. */
static NNRT_Model *make_endless(void)
{
    static const int32_t two[1] = {2};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    NNRT_Loop loop;
    uint32_t in[3], all[3], out, ends[2], sum[2];
    assert_int_equal(nnrt_builder_create(&b, "endless", NULL), NNRT_SUCCESS);
    in[0] = in[1] = NNRT_NO_TENSOR;
    in[2] = nnrt_builder_input(b, "x", F32, 1, two);
    loop.body = nnrt_builder_graph(b, "body");
    for (uint32_t i = 0; i < 3; i++) /* the trip number, the condition, the carried value */
        all[i] = nnrt_builder_tensor(b, NULL);
    nnrt_builder_enter(b, loop.body);
    sum[0] = sum[1] = all[2];
    ends[0] = all[1];
    ends[1] = nnrt_builder_op(b, "again", NNRT_NODE_TYPE_ADD_FUSION, NULL, sum, 2);
    nnrt_builder_graph_io(b, loop.body, all, 3, ends, 2);
    nnrt_builder_enter(b, 0);
    out = nnrt_builder_tensor(b, "y");
    nnrt_builder_node(b, "loop", NNRT_NODE_TYPE_LOOP, &loop, in, 3, &out, 1);
    nnrt_builder_output(b, out);
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return m;
}

static nnrt_session *opened(const NNRT_Model *m, const nnrt_session_desc *desc)
{
    nnrt_session *s = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_session_create(&s, m, desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    return s;
}

static nnrt_session *session_on(const NNRT_Model *m, const char *device)
{
    nnrt_session_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.device = device;
    return opened(m, &desc);
}

static NNRT_ReturnCode run(nnrt_session *s, float *y)
{
    const nnrt_io in = nnrt_io_make((void *)(uintptr_t)xs, sizeof(xs)), out = nnrt_io_make(y, 4 * sizeof(*y));
    memset(y, 0, 4 * sizeof(*y));
    return nnrt_run(s, &in, 1, &out, 1);
}

static void says(const nnrt_session *s, const char *words)
{
    if (strstr(nnrt_session_error(s), words) == NULL)
        fail_msg("'%s' does not say '%s'", nnrt_session_error(s), words);
}

/* The session is still valid. */
static void runs_well(nnrt_session *s)
{
    float y[4];
    W.holds = W.ends = 0;
    assert_int_equal(nnrt_session_cancel(s), NNRT_OPERATION_FORBIDDEN); /* no run is in progress */
    assert_int_equal(run(s, y), NNRT_SUCCESS);
    assert_memory_equal(y, eights, sizeof(y));
    assert_string_equal(nnrt_session_error(s), "");
}

/* ---- callers of cancel ---- */

/* A kernel cancels its own run: no later step runs, in plans with static and with dynamic shapes. In the last step the
   run is also canceled. */
static void test_by_a_kernel(void **state)
{
    static const char *const next[3] = {"node 1 'fourfold' (ADD_FUSION): the run was cancelled",
                                        "node 2 'y' (ADD_FUSION): the run was cancelled", "the run was cancelled"};
    (void)state;
    assert_int_equal(nnrt_session_cancel(NULL), NNRT_NULL_PTR);
    for (uint32_t open = 0; open < 2; open++) {
        const nnrt_dims most = {2, {2, 2}};
        nnrt_bound bound;
        NNRT_Model *m = make_sums(open ? -1 : 2);
        nnrt_session_desc desc;
        nnrt_session *s;
        memset(&desc, 0, sizeof(desc));
        bound.tensor = "x";
        bound.most = most;
        desc.device = "watched";
        desc.bounds = nnrt_bound_list_make(&bound, open);
        s = W.session = opened(m, &desc);
        for (uint32_t k = 1; k <= 3; k++) {
            float y[4];
            W.calls = 0;
            W.ends = k;
            W.said = NNRT_FAILED;
            assert_int_equal(run(s, y), NNRT_CANCELLED);
            says(s, next[k - 1]);
            assert_int_equal(W.calls, k);
            assert_int_equal(W.said, NNRT_SUCCESS);
            runs_well(s);
        }
        nnrt_session_destroy(s);
        nnrt_model_destroy(m);
    }
}

static void *cancels(void *user)
{
    while (__atomic_load_n(&W.begun, __ATOMIC_SEQ_CST) == 0)
        nap();
    W.said = nnrt_session_cancel((nnrt_session *)user);
    if (nnrt_session_cancel((nnrt_session *)user) != NNRT_SUCCESS) /* twice counts once, as the kernel still polls */
        W.said = NNRT_FAILED;
    return NULL;
}

/* Another thread cancels during a step. A second session that shares the plan continues. */
static void test_by_another_thread(void **state)
{
    NNRT_Model *m = make_sums(2);
    nnrt_session_desc desc;
    nnrt_session *s = session_on(m, "watched"), *other;
    pthread_t thread;
    float y[4];
    (void)state;
    memset(&desc, 0, sizeof(desc));
    desc.share = s;
    other = opened(m, &desc);
    for (uint32_t k = 1; k <= 3; k++) {
        W.calls = W.begun = 0;
        W.holds = k;
        assert_int_equal(pthread_create(&thread, NULL, cancels, s), 0);
        assert_int_equal(run(s, y), NNRT_CANCELLED);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(W.calls, k);
        runs_well(other);
        runs_well(s);
    }
    nnrt_session_destroy(other);
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);
}

typedef struct listener {
    nnrt_session *session;
    uint32_t steps, at;
} listener;

static void listen(void *user, const nnrt_profile_step *step)
{
    listener *l = (listener *)user;
    (void)step;
    if (++l->steps == l->at)
        (void)nnrt_session_cancel(l->session);
}

static uint64_t no_clock(void *user)
{
    (void)user;
    return 0;
}

/* A profile listener cancels a loop of a million trips after ten steps. */
static void test_by_a_listener(void **state)
{
    NNRT_Model *m = make_endless();
    listener l = {NULL, 0, 10};
    const nnrt_profile profile = {listen, no_clock, &l};
    nnrt_session_desc desc;
    float x[2] = {0, 0}, y[2];
    (void)state;
    memset(&desc, 0, sizeof(desc));
    desc.device = "reference";
    desc.profile = &profile;
    l.session = opened(m, &desc);
    assert_int_equal(nnrt_run(l.session, NNRT_IO(x), NNRT_IO(y)), NNRT_CANCELLED);
    says(l.session, "'again' (ADD_FUSION): the run was cancelled");
    assert_int_equal(l.steps, 10);
    nnrt_session_destroy(l.session);
    nnrt_model_destroy(m);
}

/* ---- devices ---- */

typedef struct runner {
    nnrt_session *session;
    NNRT_ReturnCode code;
    float y[4];
} runner;

static void *runs(void *user)
{
    runner *r = (runner *)user;
    r->code = run(r->session, r->y);
    return NULL;
}

/* Waits until a fake device is called to run. */
static void until_called(const nnrt_fake *fake)
{
    while (nnrt_fake_get_record(fake).calls[NNRT_FAKE_RunIn] + nnrt_fake_get_record(fake).calls[NNRT_FAKE_Run] == 0)
        nap();
}

/* A device that does not poll finishes, and the run is canceled. In a partitioned model further parts do not start, and
   there is no fallback to another device. */
static void test_devices(void **state)
{
    static const char *const first[3] = {"fake:name=a,hang=RunIn:0", "fake:name=a,without=RunIn,hang=Run:0",
                                         "fake:name=a,not=SUB_FUSION,hang=RunIn:0"};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        nnrt_fake *a = registered(first[i < 2 ? i : 2]), *b = registered("fake:name=b");
        nnrt_partition p;
        nnrt_session_desc desc;
        nnrt_builder *builder = NULL;
        NNRT_Model *m = NULL;
        pthread_t thread;
        runner r;
        const int32_t dims[2] = {2, 2};
        uint32_t in[2], x;
        memset(&desc, 0, sizeof(desc));
        memset(&p, 0, sizeof(p));
        assert_int_equal(nnrt_builder_create(&builder, "m", NULL), NNRT_SUCCESS); /* y = 2 x, or 2 x - x */
        x = in[0] = in[1] = nnrt_builder_input(builder, "x", F32, 2, dims);
        in[0] = nnrt_builder_op(builder, "twice", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
        in[1] = x;
        if (i > 1)
            in[0] = nnrt_builder_op(builder, "y", NNRT_NODE_TYPE_SUB_FUSION, NULL, in, 2);
        nnrt_builder_output(builder, in[0]);
        assert_int_equal(nnrt_builder_finish(builder, &m, NULL), NNRT_SUCCESS);
        nnrt_builder_destroy(builder);
        p.fallback = i == 3;
        desc.device = i < 2 ? "a" : "auto:a,b";
        desc.partition = i < 2 ? NULL : &p;
        r.session = opened(m, &desc);
        assert_int_equal(pthread_create(&thread, NULL, runs, &r), 0);
        until_called(a);
        assert_int_equal(nnrt_session_cancel(r.session), NNRT_SUCCESS);
        nnrt_fake_wake(a);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(r.code, NNRT_CANCELLED);
        says(r.session, "the run was cancelled");
        assert_int_equal(nnrt_fake_get_record(b).calls[NNRT_FAKE_RunIn], 0);
        nnrt_session_destroy(r.session);
        nnrt_model_destroy(m);
        unregistered(a);
        unregistered(b);
    }
}

/* ---- without a session ---- */

typedef struct counter {
    uint32_t asked, yes; /* queries from this number on return true; 0 = none */
} counter;

static bool ask(void *user)
{
    counter *c = (counter *)user;
    return ++c->asked == c->yes || (c->yes != 0 && c->asked > c->yes);
}

/* Devices query for cancellation before the run and before each step, and nowhere else: with the workspace of the
   caller or of the prepared model, by auto and by the devices of its parts. */
static void test_prepared(void **state)
{
    NNRT_Model *m = make_sums(2);
    const int32_t dims[2] = {2, 2};
    nnrt_fake *b = registered("fake:name=b,ops=SUB_FUSION");
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        nnrt_device *device = nnrt_device_find(i < 4 ? "reference" : "auto");
        NNRT_PreparedModel *prepared = NULL;
        NNRT_ModelConfig config;
        nnrt_prepared_memory memory;
        void *workspace = NULL;
        float y[4];
        counter c = {0, 0};
        nnrt_stop stop;
        NNRT_IOTensor in, out;
        nnrt_error e;
        stop.asked = ask;
        stop.user = &c;
        stop.alone = false;
        memset(&config, 0, sizeof(config));
        memset(&in, 0, sizeof(in));
        config.callerWorkspace = i % 2 == 0;
        config.autoDevices = "b";
        assert_int_equal(nnrt_device_prepare(device, m, &config, &prepared), NNRT_SUCCESS);
        assert_int_equal(prepared->vtbl->GetMemory(prepared, &memory), NNRT_SUCCESS);
        if (i % 2 == 0)
            assert_int_equal(posix_memalign(&workspace, NNRT_ALIGNMENT, memory.workspace), 0);
        in.name = "x";
        in.dataType = F32;
        in.dimensions.data = dims;
        in.dimensions.count = 2;
        in.data.fd = -1;
        in.data.bufferSize = in.data.dataSize = sizeof(xs);
        out = in;
        in.data.addr = (void *)(uintptr_t)xs;
        out.name = "y";
        out.data.addr = y;
        memset(&e, 0, sizeof(e));
        assert_int_equal(nnrt_prepared_run(prepared, workspace, memory.workspace, &in, 1, &out, 1, NULL, &stop, &e),
                         NNRT_SUCCESS);
        assert_memory_equal(y, eights, sizeof(y));
        assert_int_equal(c.asked, device == nnrt_device_find("auto") ? 5 : 4); /* auto queries before it calls the device */
        for (c.yes = 1; c.yes < 5; c.yes++) {
            c.asked = 0;
            memset(&e, 0, sizeof(e));
            assert_int_equal(nnrt_prepared_run(prepared, workspace, memory.workspace, &in, 1, &out, 1, NULL, &stop, &e),
                             NNRT_CANCELLED);
            assert_int_equal(c.asked, c.yes); /* no further query */
            assert_non_null(strstr(e.message, "the run was cancelled"));
        }
        assert_int_equal(nnrt_prepared_run(prepared, workspace, memory.workspace, &in, 1, &out, 1, NULL, NULL, NULL),
                         NNRT_SUCCESS);
        assert_int_equal(nnrt_prepared_run(NULL, NULL, 0, &in, 1, &out, 1, NULL, &stop, NULL), NNRT_NULL_PTR);
        if (i == 0) { /* no model, and no workspace */
            assert_int_equal(prepared->vtbl->RunUntil(NULL, NULL, 0, &in, 1, &out, 1, NULL, NULL, NULL), NNRT_NULL_PTR);
            assert_int_equal(prepared->vtbl->RunUntil(prepared, NULL, 0, &in, 1, &out, 1, NULL, NULL, NULL),
                             NNRT_OPERATION_FORBIDDEN);
        }
        nnrt_device_release(device, prepared);
        free(workspace);
    }
    nnrt_model_destroy(m);
    unregistered(b);
}

/* ---- queues ---- */

typedef struct note {
    pthread_mutex_t mutex;
    pthread_cond_t change;
    uint32_t times;
    NNRT_ReturnCode code;
    char message[128];
} note;

static void done(void *user, NNRT_ReturnCode code, const char *message)
{
    note *n = (note *)user;
    pthread_mutex_lock(&n->mutex);
    n->times++;
    n->code = code;
    snprintf(n->message, sizeof(n->message), "%s", message);
    pthread_cond_broadcast(&n->change);
    pthread_mutex_unlock(&n->mutex);
}

/* A running job is canceled by its number, once, and by its time limit; the next run of the session is not. */
static void test_queue(void **state)
{
    NNRT_Model *m = make_sums(2);
    nnrt_session *s = session_on(m, "watched");
    note n = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, ""};
    nnrt_queue *q = NULL;
    float y[4];
    const nnrt_io in = nnrt_io_make((void *)(uintptr_t)xs, sizeof(xs)), out = nnrt_io_make(y, sizeof(y));
    (void)state;
    assert_int_equal(nnrt_queue_create(&q, NULL, NULL), NNRT_SUCCESS);
    for (uint32_t i = 0; i < 6; i++) {
        nnrt_queued how;
        uint64_t ticket = 0;
        memset(&how, 0, sizeof(how));
        how.done = done;
        how.user = &n;
        how.timeLimit = i % 3 == 1 ? 30 : i % 3 == 0 ? 86400000 : 0;
        W.calls = W.begun = 0;
        W.holds = i % 3 == 2 ? 0 : 2;
        n.times = 0;
        assert_int_equal(nnrt_run_async(q, s, &in, 1, &out, 1, &how, &ticket), NNRT_SUCCESS);
        if (i % 3 == 0) {
            while (__atomic_load_n(&W.begun, __ATOMIC_SEQ_CST) == 0)
                nap();
            assert_int_equal(nnrt_queue_cancel(q, ticket + 1), NNRT_OPERATION_FORBIDDEN);
            assert_int_equal(nnrt_queue_cancel(q, ticket), NNRT_SUCCESS);
        }
        nnrt_queue_wait(q);
        assert_int_equal(n.times, 1);
        assert_int_equal(nnrt_queue_cancel(q, ticket), NNRT_OPERATION_FORBIDDEN);
        if (i % 3 == 2) {
            assert_int_equal(n.code, NNRT_SUCCESS);
            assert_string_equal(n.message, "");
            assert_memory_equal(y, eights, sizeof(y));
        } else if (i % 3 == 0) {
            assert_int_equal(n.code, NNRT_CANCELLED);
            assert_non_null(strstr(n.message, "node 2 'y' (ADD_FUSION): the run was cancelled"));
            assert_int_equal(W.calls, 2);
        } else { /* in its second step; on a busy machine before it */
            assert_int_equal(n.code, NNRT_TIME_OUT);
            assert_true(W.calls <= 2);
        }
    }
    nnrt_queue_destroy(q);
    runs_well(s);
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);
}

/* Queued runs are canceled by their caller at any moment: each accepted run ends once, as cancel returned. */
static void test_many(void **state)
{
    NNRT_Model *m = make_sums(2);
    nnrt_session *s = session_on(m, "reference");
    note n = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, ""};
    nnrt_queue *q = NULL;
    uint32_t cancelled = 0, through = 0;
    float y[4];
    const nnrt_io in = nnrt_io_make((void *)(uintptr_t)xs, sizeof(xs)), out = nnrt_io_make(y, sizeof(y));
    nnrt_queued how;
    (void)state;
    memset(&how, 0, sizeof(how));
    how.done = done;
    how.user = &n;
    assert_int_equal(nnrt_queue_create(&q, NULL, NULL), NNRT_SUCCESS);
    for (uint32_t i = 0; i < 2000; i++) {
        uint64_t ticket = 0;
        NNRT_ReturnCode code;
        n.times = 0;
        assert_int_equal(nnrt_run_async(q, s, &in, 1, &out, 1, &how, &ticket), NNRT_SUCCESS);
        for (volatile uint32_t k = 0; k < i * 10 % 5000; k++)
            continue;
        if (i % 8 == 7) /* long enough, as a rule */
            nap();
        code = nnrt_queue_cancel(q, ticket);
        nnrt_queue_wait(q);
        assert_int_equal(n.times, 1);
        assert_int_equal(n.code, code == NNRT_SUCCESS ? NNRT_CANCELLED : NNRT_SUCCESS);
        if (code != NNRT_SUCCESS)
            assert_memory_equal(y, eights, sizeof(y));
        cancelled += code == NNRT_SUCCESS;
        through += code != NNRT_SUCCESS;
    }
    print_message("%u runs were cancelled, %u were through\n", cancelled, through);
    nnrt_queue_destroy(q);
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_by_a_kernel), TEST(test_by_another_thread), TEST(test_by_a_listener), TEST(test_devices),
        TEST(test_prepared),    TEST(test_queue),             TEST(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
