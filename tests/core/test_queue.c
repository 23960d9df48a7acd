/* nnrt_queue: which runs wait, in which order, which start at once, and that each accepted run ends once. Nothing
   depends on the machine's speed: threads wait for each other. `make tsan` runs this under gcc's thread sanitizer. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
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

#include "trial.h"

#define MOST 256

/* A record of a completed run. Only the tests' own thread has assertions. */
typedef struct note {
    NNRT_ReturnCode code;
    char message[128];
    uint32_t order, times; /* done's place among all; how often it came */
} note;

typedef struct stage {
    pthread_mutex_t mutex;
    pthread_cond_t change;
    uint32_t begun, open, ended, inside, most; /* gates: begun, may go on; calls of done; doing at once, most so far */
    note notes[MOST];
} stage;

typedef struct user {
    stage *s;
    uint32_t index;
} user;

static stage S;
static user users[MOST];

static int setup(void **state)
{
    memset(&S, 0, sizeof(S));
    pthread_mutex_init(&S.mutex, NULL);
    pthread_cond_init(&S.change, NULL);
    for (uint32_t i = 0; i < MOST; i++) {
        users[i].s = &S;
        users[i].index = i;
    }
    (void)state;
    return 0;
}

static int teardown(void **state)
{
    pthread_cond_destroy(&S.change);
    pthread_mutex_destroy(&S.mutex);
    (void)state;
    return 0;
}

static void done(void *data, NNRT_ReturnCode code, const char *message)
{
    const user *u = (const user *)data;
    note *n = &u->s->notes[u->index];
    pthread_mutex_lock(&u->s->mutex);
    n->code = code;
    n->times++;
    n->order = ++u->s->ended;
    snprintf(n->message, sizeof(n->message), "%s", message);
    pthread_cond_broadcast(&u->s->change);
    pthread_mutex_unlock(&u->s->mutex);
}

/* Waits until *number is at least n. */
static void until(stage *s, const uint32_t *number, uint32_t n)
{
    pthread_mutex_lock(&s->mutex);
    while (*number < n)
        pthread_cond_wait(&s->change, &s->mutex);
    pthread_mutex_unlock(&s->mutex);
}

static void set(stage *s, uint32_t *number, uint32_t n)
{
    pthread_mutex_lock(&s->mutex);
    *number = n;
    pthread_cond_broadcast(&s->change);
    pthread_mutex_unlock(&s->mutex);
}

/* Work that reports its start, and continues when it is released. */
static NNRT_ReturnCode gate(void *context, const char **message)
{
    stage *s = (stage *)context;
    uint32_t mine;
    (void)message;
    pthread_mutex_lock(&s->mutex);
    mine = ++s->begun;
    s->inside++;
    s->most = s->inside > s->most ? s->inside : s->most;
    pthread_cond_broadcast(&s->change);
    while (s->open < mine)
        pthread_cond_wait(&s->change, &s->mutex);
    s->inside--;
    pthread_mutex_unlock(&s->mutex);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode refuse(void *context, const char **message)
{
    (void)context;
    *message = "no";
    return NNRT_DEVICE_ERROR;
}

static nnrt_queued how_of(uint32_t index, NNRT_Priority priority, uint32_t limit)
{
    nnrt_queued how;
    memset(&how, 0, sizeof(how));
    how.priority = priority;
    how.timeLimit = limit;
    how.done = done;
    how.user = &users[index];
    return how;
}

static uint64_t add(nnrt_queue *q, nnrt_queue_work work, const void *key, uint32_t index, NNRT_Priority priority,
                    uint32_t limit)
{
    const nnrt_queued how = how_of(index, priority, limit);
    uint64_t ticket = 0;
    assert_int_equal(nnrt_queue_add(q, work, &S, key, &how, &ticket), NNRT_SUCCESS);
    assert_true(ticket != 0);
    return ticket;
}

static nnrt_queue *begin(uint32_t threads, uint32_t places)
{
    nnrt_queue *q = NULL;
    nnrt_queue_desc desc;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.threads = threads;
    desc.places = places;
    if (nnrt_queue_create(&q, &desc, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    return q;
}

/* y = x + x, x float32[4]. */
static NNRT_Model *twice(void)
{
    const int32_t four[] = {4};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    uint32_t in[2];
    assert_int_equal(nnrt_builder_create(&b, "twice", NULL), NNRT_SUCCESS);
    in[0] = in[1] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 1, four);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return m;
}

/* Many runs of several sessions of one model by several threads: each result is right, each ends once. */
static void test_sessions(void **state)
{
    static float x[MOST][4], y[MOST][4];
    static nnrt_io in[MOST], out[MOST];
    NNRT_Model *m = twice();
    nnrt_session *s[3] = {NULL, NULL, NULL};
    nnrt_session_desc desc;
    nnrt_queue *q = begin(3, MOST);
    (void)state;
    memset(&desc, 0, sizeof(desc));
    for (uint32_t i = 0; i < 3; i++) {
        desc.share = i > 0 ? s[0] : NULL;
        assert_int_equal(nnrt_session_create(&s[i], m, &desc, NULL), NNRT_SUCCESS);
    }
    for (uint32_t i = 0; i < MOST; i++) {
        const nnrt_queued how = how_of(i, NNRT_PRIORITY_NONE, 0);
        for (uint32_t k = 0; k < 4; k++)
            x[i][k] = (float)(i * 4 + k);
        in[i] = nnrt_io_make(x[i], sizeof(x[i]));
        out[i] = nnrt_io_make(y[i], sizeof(y[i]));
        assert_int_equal(nnrt_run_async(q, s[i % 3], &in[i], 1, &out[i], 1, &how, NULL), NNRT_SUCCESS);
    }
    nnrt_queue_wait(q);
    for (uint32_t i = 0; i < MOST; i++) {
        assert_int_equal(S.notes[i].code, NNRT_SUCCESS);
        assert_int_equal(S.notes[i].times, 1);
        assert_string_equal(S.notes[i].message, "");
        for (uint32_t k = 0; k < 4; k++)
            assert_true(y[i][k] == 2.0f * (float)(i * 4 + k));
    }
    nnrt_queue_destroy(q);
    for (uint32_t i = 3; i-- > 0;)
        nnrt_session_destroy(s[i]);
    nnrt_model_destroy(m);
}

/* Errors in a run and in work. */
static void test_faults(void **state)
{
    float x[4] = {1, 2, 3, 4}, y[3];
    NNRT_Model *m = twice();
    nnrt_session *s = NULL;
    nnrt_io in = nnrt_io_make(x, sizeof(x)), out = nnrt_io_make(y, sizeof(y));
    nnrt_queue *q = begin(0, 0);
    nnrt_queued how = how_of(0, NNRT_PRIORITY_HIGH, 0);
    (void)state;
    assert_int_equal(nnrt_session_create(&s, m, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_run_async(q, s, &in, 1, &out, 1, &how, NULL), NNRT_SUCCESS);
    (void)add(q, refuse, NULL, 1, NNRT_PRIORITY_LOW, 0);
    nnrt_queue_wait(q);
    assert_int_equal(S.notes[0].code, NNRT_INSUFFICIENT_BUFFER);
    assert_non_null(strstr(S.notes[0].message, "output 0 'y' has 12 bytes, expected 16"));
    assert_int_equal(S.notes[1].code, NNRT_DEVICE_ERROR);
    assert_string_equal(S.notes[1].message, "no");
    nnrt_queue_destroy(q);
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);
}

/* The highest priority first, of equal ones the one that came first. */
static void test_order(void **state)
{
    static const NNRT_Priority priority[] = {NNRT_PRIORITY_LOW,  NNRT_PRIORITY_MEDIUM, NNRT_PRIORITY_NONE,
                                             NNRT_PRIORITY_HIGH, NNRT_PRIORITY_LOW,    NNRT_PRIORITY_HIGH};
    static const uint32_t place[] = {6, 4, 5, 2, 7, 3}; /* the gate is the first */
    nnrt_queue *q = begin(1, 8);
    (void)state;
    (void)add(q, gate, NULL, 0, NNRT_PRIORITY_LOW, 0);
    until(&S, &S.begun, 1);
    for (uint32_t i = 0; i < 6; i++)
        (void)add(q, refuse, NULL, 1 + i, priority[i], 0);
    set(&S, &S.open, 1);
    nnrt_queue_wait(q);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(S.notes[1 + i].order, place[i]);
    nnrt_queue_destroy(q);
}

/* Work with one key is done one at a time, other work meanwhile: that of key b ends while a is held, although a second of
   key a came first and has the higher priority. */
static void test_keys(void **state)
{
    const int a = 0, b = 0;
    nnrt_queue *q = begin(2, 8);
    (void)state;
    (void)add(q, gate, &a, 0, NNRT_PRIORITY_HIGH, 0);
    until(&S, &S.begun, 1);
    (void)add(q, gate, &a, 1, NNRT_PRIORITY_HIGH, 0);
    (void)add(q, refuse, &b, 2, NNRT_PRIORITY_LOW, 0);
    until(&S, &S.ended, 1);
    assert_int_equal(S.notes[2].times, 1);
    set(&S, &S.open, 2);
    nnrt_queue_wait(q);
    assert_int_equal(S.most, 1);
    nnrt_queue_destroy(q);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(S.notes[i].times, 1);
}

typedef struct chain {
    nnrt_queue *queue;
    uint32_t left, accepted;
} chain;

static void next_one(void *data, NNRT_ReturnCode code, const char *message)
{
    chain *c = (chain *)data;
    nnrt_queued how;
    memset(&how, 0, sizeof(how));
    how.done = next_one;
    how.user = c;
    (void)code, (void)message;
    if (c->left-- > 0 && nnrt_queue_add(c->queue, refuse, NULL, c, &how, NULL) == NNRT_SUCCESS)
        c->accepted++;
}

/* Where no place is free nothing is accepted and nothing called; done finds a place for the next run. */
static void test_places(void **state)
{
    nnrt_queue *q = begin(1, 2);
    nnrt_queued how = how_of(3, NNRT_PRIORITY_NONE, 0);
    uint64_t ticket = 7;
    chain c = {NULL, 20, 0};
    (void)state;
    (void)add(q, gate, NULL, 0, NNRT_PRIORITY_NONE, 0);
    until(&S, &S.begun, 1);
    (void)add(q, refuse, NULL, 1, NNRT_PRIORITY_NONE, 0);
    (void)add(q, refuse, NULL, 2, NNRT_PRIORITY_NONE, 0);
    assert_int_equal(nnrt_queue_add(q, refuse, &S, NULL, &how, &ticket), NNRT_DEVICE_BUSY);
    assert_true(ticket == 0);
    set(&S, &S.open, 1);
    nnrt_queue_wait(q);
    assert_int_equal(S.ended, 3);
    assert_int_equal(S.notes[3].times, 0);
    nnrt_queue_destroy(q);

    q = c.queue = begin(1, 1);
    how.done = next_one;
    how.user = &c;
    assert_int_equal(nnrt_queue_add(q, refuse, NULL, &c, &how, NULL), NNRT_SUCCESS);
    nnrt_queue_wait(q);
    assert_int_equal(c.accepted, 20);
    nnrt_queue_destroy(q);
}

static void test_cancel(void **state)
{
    nnrt_queue *q = begin(1, 4);
    uint64_t first, second;
    (void)state;
    first = add(q, gate, NULL, 0, NNRT_PRIORITY_NONE, 0);
    until(&S, &S.begun, 1);
    second = add(q, refuse, NULL, 1, NNRT_PRIORITY_NONE, 0);
    assert_int_equal(nnrt_queue_cancel(q, first), NNRT_OPERATION_FORBIDDEN);
    assert_int_equal(nnrt_queue_cancel(q, second), NNRT_SUCCESS);
    assert_int_equal(S.notes[1].code, NNRT_CANCELLED);
    assert_int_equal(S.notes[1].times, 1);
    assert_int_equal(nnrt_queue_cancel(q, second), NNRT_OPERATION_FORBIDDEN);
    assert_int_equal(nnrt_queue_cancel(q, 0), NNRT_OPERATION_FORBIDDEN);
    set(&S, &S.open, 1);
    nnrt_queue_wait(q);
    assert_int_equal(nnrt_queue_cancel(q, first), NNRT_OPERATION_FORBIDDEN);
    assert_int_equal(S.ended, 2);
    nnrt_queue_destroy(q);
}

/* Longer than its time limit of a millisecond. */
static NNRT_ReturnCode slow(void *context, const char **message)
{
    const struct timespec t = {0, 20000000};
    (void)context, (void)message;
    nanosleep(&t, NULL);
    return NNRT_SUCCESS;
}

/* One that waits too long ends although no thread is free; one that takes too long ends with the same code. */
static void test_time_limit(void **state)
{
    nnrt_queue *q = begin(1, 4);
    (void)state;
    (void)add(q, gate, NULL, 0, NNRT_PRIORITY_NONE, 0);
    until(&S, &S.begun, 1);
    (void)add(q, refuse, NULL, 1, NNRT_PRIORITY_NONE, 5);
    (void)add(q, refuse, NULL, 2, NNRT_PRIORITY_NONE, 86400000);
    until(&S, &S.ended, 1);
    assert_int_equal(S.notes[1].code, NNRT_TIME_OUT);
    assert_non_null(strstr(S.notes[1].message, "waited longer"));
    set(&S, &S.open, 1);
    nnrt_queue_wait(q);
    assert_int_equal(S.notes[2].code, NNRT_DEVICE_ERROR);
    (void)add(q, slow, NULL, 3, NNRT_PRIORITY_NONE, 1);
    nnrt_queue_wait(q);
    assert_int_equal(S.notes[3].code, NNRT_TIME_OUT); /* before it began or after it ended */
    (void)add(q, slow, NULL, 4, NNRT_PRIORITY_NONE, 86400000);
    nnrt_queue_wait(q);
    assert_int_equal(S.notes[4].code, NNRT_SUCCESS);
    nnrt_queue_destroy(q);
}

static void *destroys(void *q)
{
    nnrt_queue_destroy((nnrt_queue *)q);
    return NULL;
}

/* Waiting work is cancelled, work that has begun is completed. */
static void test_destroy(void **state)
{
    nnrt_queue *q = begin(1, 4);
    pthread_t thread;
    (void)state;
    (void)add(q, gate, NULL, 0, NNRT_PRIORITY_NONE, 0);
    until(&S, &S.begun, 1);
    (void)add(q, refuse, NULL, 1, NNRT_PRIORITY_NONE, 0);
    (void)add(q, refuse, NULL, 2, NNRT_PRIORITY_NONE, 86400000);
    assert_int_equal(pthread_create(&thread, NULL, destroys, q), 0);
    until(&S, &S.ended, 2);
    assert_int_equal(S.notes[0].times, 0);
    set(&S, &S.open, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(S.notes[0].code, NNRT_SUCCESS);
    assert_int_equal(S.notes[1].code, NNRT_CANCELLED);
    assert_int_equal(S.notes[2].code, NNRT_CANCELLED);
    assert_int_equal(S.ended, 3);
    nnrt_queue_destroy(NULL);
}

static void test_misuse(void **state)
{
    const nnrt_io none = nnrt_io_make(NULL, 0);
    nnrt_queued how = how_of(0, NNRT_PRIORITY_NONE, 0);
    nnrt_queue *q = (nnrt_queue *)&S;
    nnrt_queue_desc desc;
    nnrt_allocator a;
    nnrt_error error;
    trial t;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_queue_create(NULL, NULL, &error), NNRT_NULL_PTR);
    memset(&error, 0, sizeof(error));
    desc.places = NNRT_MAX_QUEUE + 1;
    assert_int_equal(nnrt_queue_create(&q, &desc, &error), NNRT_INVALID_PARAMETER);
    assert_null(q);
    assert_non_null(strstr(error.message, "65537 places, expected at most 65536"));
    desc.places = 0;
    desc.threads = NNRT_MAX_QUEUE + 1;
    assert_int_equal(nnrt_queue_create(&q, &desc, &error), NNRT_INVALID_PARAMETER);

    memset(&t, 0, sizeof(t));
    a = trial_allocator(&t);
    memset(&desc, 0, sizeof(desc));
    desc.allocator = &a;
    t.failing = 1;
    assert_int_equal(nnrt_queue_create(&q, &desc, &error), NNRT_OUT_OF_MEMORY);
    assert_null(q);
    assert_int_equal(nnrt_queue_create(&q, &desc, &error), NNRT_SUCCESS);
    assert_int_equal(t.live, 1); /* one block, and none later */
    assert_int_equal(nnrt_run_async(q, NULL, &none, 1, &none, 1, &how, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_queue_add(q, refuse, NULL, NULL, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_queue_add(q, NULL, NULL, NULL, &how, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_queue_add(NULL, refuse, NULL, NULL, &how, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_queue_cancel(NULL, 1), NNRT_NULL_PTR);
    nnrt_queue_wait(NULL);
    how.priority = NNRT_PRIORITY_HIGH + 1;
    assert_int_equal(nnrt_queue_add(q, refuse, NULL, NULL, &how, NULL), NNRT_INVALID_PRIORITY);
    how.priority = -1;
    assert_int_equal(nnrt_queue_add(q, refuse, NULL, NULL, &how, NULL), NNRT_INVALID_PRIORITY);
    how.priority = NNRT_PRIORITY_LOW;
    how.done = NULL;
    assert_int_equal(nnrt_queue_add(q, refuse, NULL, NULL, &how, NULL), NNRT_NULL_PTR);
    nnrt_queue_wait(q);
    assert_int_equal(S.ended, 0);
    nnrt_queue_destroy(q);
    assert_int_equal(t.live, 0);
}

/* Runs of sessions that name no priority have that of their session. */
static void test_session_priority(void **state)
{
    static const NNRT_Priority own[] = {NNRT_PRIORITY_LOW, NNRT_PRIORITY_NONE, NNRT_PRIORITY_HIGH};
    static const uint32_t place[] = {5, 4, 2, 3}; /* the gate is the first, the last one shares with the third */
    static float x[4][4], y[4][4];
    NNRT_Model *m = twice();
    nnrt_session *s[4] = {NULL, NULL, NULL, NULL};
    nnrt_queue *q = begin(1, 8);
    nnrt_io in[4], out[4];
    (void)state;
    (void)add(q, gate, NULL, 0, NNRT_PRIORITY_LOW, 0);
    until(&S, &S.begun, 1);
    for (uint32_t i = 0; i < 4; i++) {
        const nnrt_queued how = how_of(1 + i, NNRT_PRIORITY_NONE, 0);
        nnrt_session_desc desc;
        memset(&desc, 0, sizeof(desc));
        desc.priority = i < 3 ? own[i] : NNRT_PRIORITY_NONE;
        desc.share = i < 3 ? NULL : s[2];
        assert_int_equal(nnrt_session_create(&s[i], m, &desc, NULL), NNRT_SUCCESS);
        in[i] = nnrt_io_make(x[i], sizeof(x[i]));
        out[i] = nnrt_io_make(y[i], sizeof(y[i]));
        assert_int_equal(nnrt_run_async(q, s[i], &in[i], 1, &out[i], 1, &how, NULL), NNRT_SUCCESS);
    }
    set(&S, &S.open, 1);
    nnrt_queue_wait(q);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(S.notes[1 + i].order, place[i]);
    nnrt_queue_destroy(q);
    for (uint32_t i = 4; i-- > 0;)
        nnrt_session_destroy(s[i]);
    nnrt_model_destroy(m);
}

typedef struct dropping {
    nnrt_queue *q;
    const void *key;
} dropping;

static void *drops(void *arg)
{
    const dropping *d = (const dropping *)arg;
    nnrt_queue_drop(d->q, d->key);
    return NULL;
}

/* Work of a key that waits ends at once, and the call waits for work that has begun; other keys are left alone. */
static void test_drop(void **state)
{
    nnrt_queue *q = begin(1, 8);
    dropping d = {q, &users[0]};
    pthread_t thread;
    (void)state;
    nnrt_queue_drop(NULL, &S);
    nnrt_queue_drop(q, NULL);
    nnrt_queue_drop(q, &S); /* there is nothing */
    (void)add(q, gate, d.key, 0, NNRT_PRIORITY_NONE, 0);
    until(&S, &S.begun, 1);
    (void)add(q, refuse, d.key, 1, NNRT_PRIORITY_NONE, 0);
    (void)add(q, refuse, &users[1], 2, NNRT_PRIORITY_NONE, 0);
    (void)add(q, refuse, d.key, 3, NNRT_PRIORITY_NONE, 86400000);
    assert_int_equal(pthread_create(&thread, NULL, drops, &d), 0);
    until(&S, &S.ended, 2);
    assert_int_equal(S.notes[0].times, 0);
    assert_int_equal(S.notes[1].code, NNRT_CANCELLED);
    assert_int_equal(S.notes[3].code, NNRT_CANCELLED);
    set(&S, &S.open, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(S.notes[0].times, 1); /* done has returned */
    assert_int_equal(S.notes[0].code, NNRT_SUCCESS);
    nnrt_queue_wait(q);
    assert_int_equal(S.notes[2].code, NNRT_DEVICE_ERROR);
    nnrt_queue_destroy(q);
}

/* done of a run that another thread cancels: it reports its start, and continues when it is released. */
static void done_gate(void *data, NNRT_ReturnCode code, const char *message)
{
    (void)gate(&S, &message);
    done(data, code, message);
}

typedef struct cancelling {
    nnrt_queue *q;
    uint64_t ticket;
} cancelling;

static void *cancels(void *arg)
{
    const cancelling *c = (const cancelling *)arg;
    (void)nnrt_queue_cancel(c->q, c->ticket);
    return NULL;
}

/* nnrt_queue_drop waits for done on a thread that cancels, too. */
static void test_drop_waits_for_cancel(void **state)
{
    const struct timespec soon = {0, 20000000};
    nnrt_queue *q = begin(1, 8);
    nnrt_queued how = how_of(1, NNRT_PRIORITY_NONE, 0);
    cancelling c = {q, 0};
    dropping d = {q, &users[0]};
    pthread_t threads[2];
    (void)state;
    (void)add(q, gate, &users[1], 0, NNRT_PRIORITY_NONE, 0); /* occupies the thread */
    until(&S, &S.begun, 1);
    how.done = done_gate;
    assert_int_equal(nnrt_queue_add(q, refuse, NULL, d.key, &how, &c.ticket), NNRT_SUCCESS);
    assert_int_equal(pthread_create(&threads[0], NULL, cancels, &c), 0);
    until(&S, &S.begun, 2); /* in done */
    assert_int_equal(pthread_create(&threads[1], NULL, drops, &d), 0);
    nanosleep(&soon, NULL); /* time for a drop that does not wait; the test holds without it */
    set(&S, &S.open, 2);
    assert_int_equal(pthread_join(threads[1], NULL), 0);
    pthread_mutex_lock(&S.mutex);
    assert_int_equal(S.notes[1].times, 1); /* done has returned before drop */
    pthread_mutex_unlock(&S.mutex);
    assert_int_equal(pthread_join(threads[0], NULL), 0);
    nnrt_queue_wait(q);
    nnrt_queue_destroy(q);
}

static struct {
    nnrt_queue *q;
    const void *key, *other;
    NNRT_ReturnCode same, different;
} again;

/* done that queues further work of its own key, and of another one. */
static void done_again(void *data, NNRT_ReturnCode code, const char *message)
{
    const nnrt_queued how[2] = {how_of(10, NNRT_PRIORITY_NONE, 0), how_of(11, NNRT_PRIORITY_NONE, 0)};
    again.same = nnrt_queue_add(again.q, refuse, NULL, again.key, &how[0], NULL);
    again.different = nnrt_queue_add(again.q, refuse, NULL, again.other, &how[1], NULL);
    done(data, code, message);
}

/* While the work of a key is dropped, no more of it is accepted; afterwards it is. */
static void test_drop_accepts_nothing(void **state)
{
    nnrt_queue *q = begin(1, 8);
    nnrt_queued how = how_of(1, NNRT_PRIORITY_NONE, 0);
    (void)state;
    again.q = q;
    again.key = &users[0];
    again.other = &users[1];
    (void)add(q, gate, again.other, 0, NNRT_PRIORITY_NONE, 0);
    until(&S, &S.begun, 1);
    how.done = done_again;
    assert_int_equal(nnrt_queue_add(q, refuse, NULL, again.key, &how, NULL), NNRT_SUCCESS);
    nnrt_queue_drop(q, again.key);
    assert_int_equal(S.notes[1].code, NNRT_CANCELLED);
    assert_int_equal(again.same, NNRT_OPERATION_FORBIDDEN);
    assert_int_equal(again.different, NNRT_SUCCESS);
    (void)add(q, refuse, again.key, 2, NNRT_PRIORITY_NONE, 0);
    set(&S, &S.open, 1);
    nnrt_queue_wait(q);
    assert_int_equal(S.notes[2].code, NNRT_DEVICE_ERROR);
    assert_int_equal(S.notes[10].times, 0);
    assert_int_equal(S.notes[11].times, 1);
    nnrt_queue_destroy(q);
}

/* Random schedules: every actor adds work of a key of its own, and drops it; any actor cancels any work. */
enum { SCHEDULES = 1000, ACTORS = 3, STEPS = 8 };

typedef struct actor {
    nnrt_queue *q;
    uint64_t ticket; /* the last one; under S.mutex, as the counts are */
    uint32_t accepted, ended, seed, faults;
} actor;

static actor actors[ACTORS];

static void actor_done(void *data, NNRT_ReturnCode code, const char *message);

static void actor_add(actor *a, uint32_t limit)
{
    nnrt_queued how;
    uint64_t ticket;
    memset(&how, 0, sizeof(how));
    how.done = actor_done;
    how.user = a;
    how.timeLimit = limit;
    how.priority = NNRT_PRIORITY_NONE;
    pthread_mutex_lock(&S.mutex);
    a->accepted++; /* before, as done may come before nnrt_queue_add returns */
    pthread_mutex_unlock(&S.mutex);
    if (nnrt_queue_add(a->q, refuse, NULL, a, &how, &ticket) != NNRT_SUCCESS) {
        pthread_mutex_lock(&S.mutex);
        a->accepted--;
        pthread_mutex_unlock(&S.mutex);
        return;
    }
    pthread_mutex_lock(&S.mutex);
    a->ticket = ticket;
    pthread_mutex_unlock(&S.mutex);
}

/* Every third one queues again. */
static void actor_done(void *data, NNRT_ReturnCode code, const char *message)
{
    actor *a = (actor *)data;
    bool more;
    (void)code;
    (void)message;
    pthread_mutex_lock(&S.mutex);
    more = ++a->ended % 3 == 0;
    pthread_mutex_unlock(&S.mutex);
    if (more)
        actor_add(a, 0);
}

static uint32_t actor_random(actor *a, uint32_t n)
{
    a->seed = a->seed * 1664525u + 1013904223u;
    return (a->seed >> 16) % n;
}

static void *actor_play(void *arg)
{
    actor *a = (actor *)arg;
    for (uint32_t i = 0; i < STEPS; i++) {
        const uint32_t what = actor_random(a, 8);
        if (what < 5) {
            actor_add(a, what == 4 ? 1 : 0);
        } else if (what < 7) {
            uint64_t ticket;
            pthread_mutex_lock(&S.mutex);
            ticket = actors[actor_random(a, ACTORS)].ticket;
            pthread_mutex_unlock(&S.mutex);
            (void)nnrt_queue_cancel(a->q, ticket);
        } else {
            nnrt_queue_drop(a->q, a);
            pthread_mutex_lock(&S.mutex);
            a->faults += a->accepted != a->ended; /* only this actor adds work of its key, or done, which has returned */
            pthread_mutex_unlock(&S.mutex);
        }
    }
    nnrt_queue_drop(a->q, a);
    pthread_mutex_lock(&S.mutex);
    a->faults += a->accepted != a->ended;
    pthread_mutex_unlock(&S.mutex);
    return NULL;
}

static void test_drop_schedules(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < SCHEDULES; n++) {
        nnrt_queue *q = begin(1 + n % 3, 4);
        pthread_t threads[ACTORS];
        memset(actors, 0, sizeof(actors));
        for (uint32_t i = 0; i < ACTORS; i++) {
            actors[i].q = q;
            actors[i].seed = n * ACTORS + i;
        }
        for (uint32_t i = 0; i < ACTORS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, actor_play, &actors[i]), 0);
        for (uint32_t i = 0; i < ACTORS; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        for (uint32_t i = 0; i < ACTORS; i++)
            if (actors[i].faults > 0)
                fail_msg("schedule %u: nnrt_queue_drop has returned before %u of %u calls of done", (unsigned)n,
                         (unsigned)(actors[i].accepted - actors[i].ended), (unsigned)actors[i].accepted);
        nnrt_queue_destroy(q);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sessions), TEST(test_faults), TEST(test_order),      TEST(test_keys),   TEST(test_places),
        TEST(test_cancel),   TEST(test_misuse), TEST(test_time_limit), TEST(test_destroy),
        TEST(test_session_priority), TEST(test_drop), TEST(test_drop_waits_for_cancel), TEST(test_drop_accepts_nothing),
        TEST(test_drop_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
