/* The thread pool beside other processes: a model of a scheduler with two processors and a clock of its own drives the
   decisions of the pool (>>pool in nnrt.h): who takes from which share, when a thread offers its processor to others,
   how long the calling thread waits, and which runs have threads (nnrti_turns). Threads and times are simulated, so the
   results are the same on every machine. The time of all runs with two threads is compared with their time alone. */
#include "inside.h"

#include "nnrt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the scheduler ---- */

/* Time proceeds by microseconds. As in Linux with 250 ticks a second: a processor runs the first thread of its queue until
   a tick, or until it offers the processor; then it is the turn of the next one. */
#define TICK 4000u
#define WAKING 5u /* microseconds until a thread that was asleep is in the queue */

enum { CALLER, HELPER, BUSY, THREADS = BUSY + 2 };

typedef enum activity { RUN, DEAL, SHARE, WAIT, NEXT, LOOK, SLEEP, SPIN } activity;

typedef struct simulated {
    activity doing;
    uint32_t processor;
    uint64_t spent, until; /* processor time so far, and at the end of the work at hand */
    uint64_t begin, slept; /* time at which it began to wait or to look; before it slept; 0: it did not */
    uint64_t polls;        /* since then */
    uint64_t returns;      /* time at which it is in the queue again; UINT64_MAX: no such time */
} simulated;

/* Runs of `steps` steps, each of `serial` microseconds of the calling thread and `items` of `each` microseconds. */
typedef struct network {
    uint32_t steps, serial, items, each;
} network;

typedef struct machine {
    network net;
    nnrt_pool pool;
    nnrti_pool_thread shares[2];
    nnrti_turns turns;
    simulated threads[THREADS];
    uint32_t queues[2][THREADS], lengths[2];
    uint64_t now, began; /* time, and time at which the run began */
    uint32_t step, runs;
    uint32_t alone;              /* runs that had one thread */
    uint32_t did;                /* pieces of the helper's work so far */
    uint64_t late;               /* time for which this run has slept, as in nnrti_pool_wait */
    uint64_t every, takes, next; /* the helper is taken away for so long, in the middle of an item; 0: never */
} machine;

static void enqueue(machine *m, uint32_t thread)
{
    const uint32_t p = m->threads[thread].processor;
    m->threads[thread].returns = UINT64_MAX;
    m->queues[p][m->lengths[p]++] = thread;
}

static void dequeue(machine *m, uint32_t thread, uint64_t returns)
{
    const uint32_t p = m->threads[thread].processor;
    uint32_t kept = 0;
    m->threads[thread].returns = returns;
    for (uint32_t i = 0; i < m->lengths[p]; i++)
        if (m->queues[p][i] != thread)
            m->queues[p][kept++] = m->queues[p][i];
    m->lengths[p] = kept;
}

/* The first thread of the queue becomes the last one. */
static void rotate(machine *m, uint32_t p)
{
    const uint32_t first = m->queues[p][0];
    if (m->lengths[p] > 1) {
        dequeue(m, first, UINT64_MAX);
        enqueue(m, first);
    }
}

static void wake(machine *m, uint32_t thread)
{
    simulated *t = &m->threads[thread];
    if (t->doing == SLEEP && t->returns == UINT64_MAX)
        t->returns = m->now + WAKING;
}

/* ---- the threads ---- */

static void works(simulated *t, uint32_t us, activity then)
{
    t->until = t->spent + us;
    t->doing = then;
}

static void no_task(void *arg, uint32_t i, uint32_t worker)
{
    (void)arg;
    (void)i;
    (void)worker;
}

/* Takes a piece of either share, as nnrti_pool_work. */
static bool take(machine *m, uint32_t worker, nnrti_pool_taker others)
{
    uint32_t piece;
    return nnrti_pool_take(&m->shares[worker], NNRTI_POOL_OWNER, &piece) ||
           nnrti_pool_take(&m->shares[1 - worker], others, &piece);
}

/* The calling thread waits for the helper, as nnrti_pool_wait. */
static void wait_for_helper(machine *m, simulated *t)
{
    const nnrti_pool_patience patience = nnrti_pool_waited(m->now - t->begin);
    if (m->pool.done == m->pool.due) {
        t->doing = NEXT;
        m->late += t->slept > 0 ? m->now - t->slept : 0;
        t->slept = 0;
    } else if (patience == NNRTI_POOL_SLEEPS) {
        t->doing = SLEEP;
        t->slept = t->begin;
        dequeue(m, CALLER, UINT64_MAX);
    } else if (patience == NNRTI_POOL_TAKES_OVER && take(m, CALLER, NNRTI_POOL_RESCUER)) {
        m->pool.due--;
        works(t, m->net.each, WAIT);
    } else {
        works(t, 1, WAIT);
        if (patience == NNRTI_POOL_TAKES_OVER)
            rotate(m, t->processor);
    }
}

/* The next action of the calling thread, as a session's run of a model and nnrti_pool_run. */
static void call(machine *m)
{
    simulated *t = &m->threads[CALLER];
    if (t->doing == RUN) {
        const bool alone = nnrti_turns_alone(&m->turns);
        m->alone += alone;
        m->pool.runs = !alone;
        m->began = m->now;
        m->step = 0;
        m->late = 0;
        if (!alone)
            wake(m, HELPER);
        works(t, m->net.serial, DEAL);
    } else if (t->doing == DEAL && m->pool.runs == 0) {
        works(t, m->net.items * m->net.each, NEXT);
    } else if (t->doing == DEAL) {
        m->pool.due += nnrti_pool_deal(&m->pool, m->net.items, no_task, NULL);
        wake(m, HELPER);
        t->doing = SHARE;
    } else if (t->doing == SHARE && take(m, CALLER, NNRTI_POOL_THIEF)) {
        m->pool.due--;
        works(t, m->net.each, SHARE);
    } else if (t->doing == SHARE) {
        t->begin = m->now;
        t->doing = WAIT;
    } else if (t->doing == WAIT) {
        wait_for_helper(m, t);
    } else if (++m->step < m->net.steps) {
        works(t, m->net.serial, DEAL);
    } else {
        m->pool.runs = 0;
        nnrti_turns_next(&m->turns, m->now - m->began, m->late);
        m->runs++;
        t->doing = RUN;
    }
}

/* The next action of the helper, as nnrti_pool_serve and nnrti_pool_look. */
static void help(machine *m)
{
    simulated *t = &m->threads[HELPER];
    if (t->doing == SHARE && take(m, HELPER, NNRTI_POOL_THIEF)) {
        m->did++;
        works(t, m->net.each, SHARE);
    } else if (t->doing == SHARE) {
        m->pool.done += m->did;
        m->did = 0;
        if (m->pool.done == m->pool.due)
            wake(m, CALLER);
        t->begin = m->now;
        t->polls = 0;
        t->doing = LOOK;
    } else if (t->polls % 2 == 0 && (m->pool.runs == 0 || m->now - t->begin >= NNRTI_POOL_SPIN)) {
        t->doing = SLEEP;
        dequeue(m, HELPER, UINT64_MAX);
    } else {
        if (t->polls % 2 == 0 && nnrti_pool_offers(m->now, m->shares[HELPER].offered, t->polls > 0)) {
            m->shares[HELPER].offered = m->now;
            rotate(m, t->processor);
        }
        t->polls++;
        works(t, nnrti_pool_empty(m->shares[HELPER].share) ? 1 : 0, LOOK);
        if (!nnrti_pool_empty(m->shares[HELPER].share))
            t->doing = SHARE;
    }
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Actions of the thread at the front of a queue until it has work. Returns microseconds of the work, at most `most`. */
static uint64_t proceed(machine *m, uint32_t p, uint64_t most)
{
    while (m->lengths[p] > 0) {
        const uint32_t thread = m->queues[p][0];
        const simulated *t = &m->threads[thread];
        if (t->doing == SPIN)
            return most;
        if (t->spent < t->until)
            return least(t->until - t->spent, most);
        if (thread == CALLER)
            call(m);
        else
            help(m);
    }
    return most;
}

/* Threads that come and go at this time. */
static void events(machine *m)
{
    const simulated *helper = &m->threads[HELPER];
    for (uint32_t i = 0; i < THREADS; i++)
        if (m->threads[i].returns <= m->now) {
            m->threads[i].doing = i == CALLER ? WAIT : SHARE;
            m->threads[i].begin = m->now;
            enqueue(m, i);
        }
    if (m->takes > 0 && m->now >= m->next && helper->doing == SHARE && helper->spent < helper->until &&
        helper->returns == UINT64_MAX) {
        m->next = m->now + m->every;
        dequeue(m, HELPER, m->now + m->takes);
    }
    for (uint32_t p = 0; p < 2 && m->now % TICK == 0; p++)
        if (m->lengths[p] > 0)
            rotate(m, p);
}

/* So many runs; returns their time in microseconds. */
static uint64_t go(machine *m, uint32_t runs)
{
    const uint64_t begin = m->now;
    for (const uint32_t end = m->runs + runs; m->runs < end;) {
        uint64_t us;
        events(m);
        us = proceed(m, 1, proceed(m, 0, TICK - m->now % TICK));
        if (m->takes > 0 && m->threads[HELPER].doing == SHARE)
            us = m->now < m->next ? least(us, m->next - m->now) : 1;
        for (uint32_t i = 0; i < THREADS; i++)
            us = least(us, m->threads[i].returns - m->now);
        for (uint32_t p = 0; p < 2; p++)
            if (m->lengths[p] > 0)
                m->threads[m->queues[p][0]].spent += us;
        m->now += us;
        assert_true(m->now - begin < 1000000000u); /* nobody waits for ever */
    }
    return m->now - begin;
}

/* A machine with the calling thread on processor 0, the helper on another or the same processor, and busy processes. */
static machine machine_of(network net, uint32_t helper, uint32_t busy0, uint32_t busy1)
{
    machine m;
    memset(&m, 0, sizeof(m));
    m.net = net;
    for (uint32_t i = 0; i < THREADS; i++) {
        m.threads[i].returns = UINT64_MAX;
        m.threads[i].processor = i == HELPER ? helper : i < BUSY + busy0 ? 0 : 1;
        m.threads[i].doing = i == CALLER ? RUN : i == HELPER ? SLEEP : SPIN;
        if (i == CALLER || (i >= BUSY && i < BUSY + busy0 + busy1))
            enqueue(&m, i);
    }
    return m;
}

/* Runs with two threads. */
static uint64_t two(machine *m, uint32_t runs)
{
    m->pool.parallel.workers = 2;
    m->pool.threads = m->shares;
    return go(m, runs);
}

/* The same runs with one thread. */
static uint64_t one(network net, uint32_t busy0, uint32_t busy1, uint32_t runs)
{
    machine m = machine_of(net, 1, busy0, busy1);
    uint64_t us;
    m.turns.alone = true;
    m.turns.rest = INT64_MAX;
    us = two(&m, runs);
    assert_true(m.alone >= runs);
    return us;
}

/* ---- networks and schedules ---- */

/* A step of a language model, a small network, and a large one with items longer than the pool polls. */
static const network networks[] = {{60, 3, 8, 5}, {10, 1, 8, 2}, {5, 10, 8, 300}};
static const uint32_t numbers[] = {1200, 20000, 400}; /* of runs: 3.1, 3.4 and 4.8 seconds with one thread */

#define NETWORKS (sizeof(networks) / sizeof(networks[0]))

/* The time of two threads is at most `part` of the time of one. */
static void expect(const char *what, uint64_t taken, uint64_t alone, double part)
{
    if ((double)taken > part * (double)alone)
        fail_msg("%s: two threads take %.3f of the time of one, at most %.3f expected", what,
                 (double)taken / (double)alone, part);
}

static void test_free_processor(void **state)
{
    (void)state;
    for (size_t i = 0; i < NETWORKS; i++) {
        machine m = machine_of(networks[i], 1, 0, 0);
        const uint64_t taken = two(&m, numbers[i]);
        expect("a free processor", taken, one(networks[i], 0, 0, numbers[i]), 0.65);
    }
}

/* The helper never gets a processor: it is neither asleep nor in a queue. */
static void test_never(void **state)
{
    (void)state;
    for (size_t i = 0; i < NETWORKS; i++) {
        machine m = machine_of(networks[i], 1, 0, 0);
        uint64_t taken;
        m.threads[HELPER].doing = SHARE;
        taken = two(&m, numbers[i]);
        expect("a helper that never runs", taken, one(networks[i], 0, 0, numbers[i]), 1.0);
    }
}

/* Busy processes: one beside the helper, one on each processor, and the helper behind the calling thread. */
static void test_busy(void **state)
{
    (void)state;
    for (size_t i = 0; i < NETWORKS; i++) {
        machine m = machine_of(networks[i], 1, 0, 1);
        expect("a helper beside a busy process", two(&m, numbers[i]), one(networks[i], 0, 1, numbers[i]), 1.01);
        m = machine_of(networks[i], 1, 1, 1);
        expect("both beside a busy process", two(&m, numbers[i]), one(networks[i], 1, 1, numbers[i]), 1.01);
        m = machine_of(networks[i], 0, 0, 1);
        expect("both on one processor", two(&m, numbers[i]), one(networks[i], 0, 1, numbers[i]), 1.03);
    }
}

/* The helper is taken away for 10 ms in the middle of an item, sometimes and often. */
static void test_taken_away(void **state)
{
    static const uint64_t every[] = {200000, 50000, 21000, 15000, 11000};
    (void)state;
    for (size_t i = 0; i < NETWORKS; i++) {
        const uint64_t alone = one(networks[i], 0, 0, numbers[i]);
        for (size_t k = 0; k < sizeof(every) / sizeof(every[0]); k++) {
            machine m = machine_of(networks[i], 1, 0, 0);
            m.takes = 10000;
            m.next = m.every = every[k];
            expect("a helper that is taken away", two(&m, numbers[i]), alone, k == 0 ? 0.75 : 1.06);
        }
    }
}

/* The last item of a share belongs to an owner that is active, until the calling thread has waited for long. */
static void test_take(void **state)
{
    const network net = {1, 0, 4, 1};
    machine m = machine_of(net, 1, 0, 0);
    nnrti_pool_thread *helper = &m.shares[HELPER];
    uint32_t piece = 99;
    (void)state;
    m.pool.parallel.workers = 2;
    m.pool.threads = m.shares;
    assert_int_equal(nnrti_pool_deal(&m.pool, 4, no_task, NULL), 4); /* 0 and 1 of the caller, 2 and 3 of the helper */
    assert_true(nnrti_pool_take(helper, NNRTI_POOL_OWNER, &piece));
    assert_int_equal(piece, 2);
    assert_false(nnrti_pool_take(helper, NNRTI_POOL_THIEF, &piece));
    assert_int_equal(nnrti_pool_waited(0), NNRTI_POOL_POLLS);
    assert_int_equal(nnrti_pool_waited(NNRTI_POOL_LATE), NNRTI_POOL_TAKES_OVER);
    assert_int_equal(nnrti_pool_waited(NNRTI_POOL_SPIN), NNRTI_POOL_SLEEPS);
    assert_true(nnrti_pool_take(helper, NNRTI_POOL_RESCUER, &piece));
    assert_int_equal(piece, 3);
    assert_false(nnrti_pool_take(helper, NNRTI_POOL_OWNER, &piece));
    (void)nnrti_pool_deal(&m.pool, 2, no_task, NULL); /* the helper has not begun: its only item is taken at once */
    assert_true(nnrti_pool_take(helper, NNRTI_POOL_THIEF, &piece));
    assert_int_equal(piece, 1);
}

/* A processor becomes busy while runs have threads, which ends after three runs. Later it is free: they have threads. */
static void test_change(void **state)
{
    const network net = networks[0];
    const uint64_t alone = one(net, 0, 0, 8000);
    machine m = machine_of(net, 1, 0, 0);
    (void)state;
    (void)two(&m, 400);
    m.takes = 10000; /* for almost all of the time, and always in an item */
    m.every = 10100;
    expect("the processor has become busy", two(&m, 8000), alone, 1.05);
    m.takes = 0;
    (void)two(&m, 30000);
    expect("the processor is free again", two(&m, 8000), alone, 0.65);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_processor), cmocka_unit_test(test_never), cmocka_unit_test(test_busy),
        cmocka_unit_test(test_taken_away),     cmocka_unit_test(test_take),  cmocka_unit_test(test_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
