/*
pool.h - threads that a session may share its work with (nnrt_parallel). Part of tests/bench/bench.c.

Each thread, that of the caller included, takes the next task until none is left, and a run ends when all tasks have: a
thread that another program keeps from running is waited for only where it has taken one. Threads look for work for a
while after the last one, and sleep then.
*/
#ifndef BENCH_POOL_H
#define BENCH_POOL_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    BENCH_POOL_THREADS = 16,
    BENCH_POOL_SPINS = 20000,
    BENCH_POOL_BITS = 22,
    BENCH_POOL_MASK = (1 << BENCH_POOL_BITS) - 1
};

typedef struct bench_pool {
    nnrt_parallel parallel;
    /* The work; nobody reads it who has no task of it. */
    void (*task)(void *arg, uint32_t i, uint32_t worker);
    void *arg;
    /* What several threads change, by __atomic functions, each in a line of the cache for itself. ticket: from the
       lowest bit on the next task, how many there are, and a number that makes one work's tickets others than the next
       one's. */
    uint64_t ticket __attribute__((aligned(64)));
    uint32_t done __attribute__((aligned(64))); /* tasks that have ended */
    uint32_t asleep __attribute__((aligned(64)));
    uint32_t names; /* given to threads that start */
    pthread_mutex_t lock;
    pthread_cond_t wake;
} bench_pool;

static void bench_pool_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("" ::: "memory");
#endif
}

/* Does a ticket have a task left? */
static bool bench_pool_has(uint64_t ticket)
{
    return (ticket & BENCH_POOL_MASK) < (ticket >> BENCH_POOL_BITS & BENCH_POOL_MASK);
}

/* Takes tasks until none is left. Who has one holds the work up: it does not change before `done` says so. */
static void bench_pool_work(bench_pool *p, uint32_t worker)
{
    uint64_t ticket = __atomic_load_n(&p->ticket, __ATOMIC_ACQUIRE);
    while (bench_pool_has(ticket))
        if (__atomic_compare_exchange_n(&p->ticket, &ticket, ticket + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            p->task(p->arg, (uint32_t)(ticket & BENCH_POOL_MASK), worker);
            (void)__atomic_add_fetch(&p->done, 1, __ATOMIC_ACQ_REL);
            ticket = __atomic_load_n(&p->ticket, __ATOMIC_ACQUIRE);
        }
}

static void *bench_pool_thread(void *user)
{
    bench_pool *p = (bench_pool *)user;
    const uint32_t worker = __atomic_add_fetch(&p->names, 1, __ATOMIC_RELAXED);
    for (;;) {
        for (int i = 0; i < BENCH_POOL_SPINS && !bench_pool_has(__atomic_load_n(&p->ticket, __ATOMIC_ACQUIRE)); i++)
            bench_pool_pause();
        if (!bench_pool_has(__atomic_load_n(&p->ticket, __ATOMIC_SEQ_CST))) {
            (void)pthread_mutex_lock(&p->lock);
            (void)__atomic_add_fetch(&p->asleep, 1, __ATOMIC_SEQ_CST);
            while (!bench_pool_has(__atomic_load_n(&p->ticket, __ATOMIC_SEQ_CST)))
                (void)pthread_cond_wait(&p->wake, &p->lock);
            (void)__atomic_sub_fetch(&p->asleep, 1, __ATOMIC_SEQ_CST);
            (void)pthread_mutex_unlock(&p->lock);
        }
        bench_pool_work(p, worker);
    }
    return NULL;
}

static void bench_pool_run(void *user, uint32_t count, void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg)
{
    bench_pool *p = (bench_pool *)user;
    const uint64_t number = (__atomic_load_n(&p->ticket, __ATOMIC_RELAXED) >> 2 * BENCH_POOL_BITS) + 1;
    if (count > BENCH_POOL_MASK) {
        for (uint32_t i = 0; i < count; i++)
            task(arg, i, 0);
        return;
    }
    p->task = task;
    p->arg = arg;
    __atomic_store_n(&p->done, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&p->ticket, number << 2 * BENCH_POOL_BITS | (uint64_t)count << BENCH_POOL_BITS, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&p->asleep, __ATOMIC_SEQ_CST) > 0) {
        (void)pthread_mutex_lock(&p->lock);
        (void)pthread_cond_broadcast(&p->wake);
        (void)pthread_mutex_unlock(&p->lock);
    }
    bench_pool_work(p, 0);
    for (int i = 0; __atomic_load_n(&p->done, __ATOMIC_ACQUIRE) < count; i++)
        if (i < BENCH_POOL_SPINS)
            bench_pool_pause();
        else
            (void)sched_yield();
}

/* So many threads, of which the one that runs is the first; they live as long as the program. NULL: one, or too many.
   */
static const nnrt_parallel *bench_pool_of(int threads)
{
    static bench_pool pools[BENCH_POOL_THREADS + 1];
    bench_pool *p;
    pthread_t thread;
    if (threads < 2 || threads > BENCH_POOL_THREADS)
        return NULL;
    p = &pools[threads];
    if (p->parallel.run != NULL)
        return &p->parallel;
    if (pthread_mutex_init(&p->lock, NULL) != 0 || pthread_cond_init(&p->wake, NULL) != 0)
        return NULL;
    p->parallel.run = bench_pool_run;
    p->parallel.user = p;
    p->parallel.workers = 1;
    while (p->parallel.workers < (uint32_t)threads && pthread_create(&thread, NULL, bench_pool_thread, p) == 0) {
        (void)pthread_detach(thread);
        p->parallel.workers++;
    }
    return &p->parallel;
}

#endif
