/*
machine.h - measured peaks of this machine: multiply-adds in float32 of each instruction set and in int8, and
read bandwidth of each memory level, with any number of threads. Part of tests/bench/bench.c.

    >>kernels   the measured loops
    >>threads   runs them on all threads
    >>peaks     the results
*/
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#include <immintrin.h>
#define BENCH_X86 1
#else
#define BENCH_X86 0
#ifdef __aarch64__
#include <arm_neon.h>
#endif
#endif

enum { BENCH_MAX_THREADS = 16 };

static double bench_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>kernels */

/* Twelve dependency chains: a latency of 4 cycles and two multiply-adds per cycle need 8. They start with different
   numbers, because a compiler would merge equal chains. */
#define BENCH_CHAINS(X)                                                                                                \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
enum { BENCH_CHAIN_COUNT = 12 };

#define BENCH_BEGIN(i) a##i = BENCH_SET(1.0f + (float)(i) / 16);
#define BENCH_TRIP(i) a##i = BENCH_STEP(a##i, m, b);
#define BENCH_END(i)                                                                                                   \
    memcpy(lanes, &a##i, sizeof(a##i));                                                                                \
    sum ^= lanes[0];
#define BENCH_FMA(function, attributes, vector)                                                                        \
    attributes static uint32_t function(long trips)                                                                    \
    {                                                                                                                  \
        const vector m = BENCH_SET(0.999f), b = BENCH_SET(0.001f);                                                     \
        vector a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11;                                                       \
        uint32_t lanes[sizeof(vector) / sizeof(uint32_t)], sum = 0;                                                    \
        BENCH_CHAINS(BENCH_BEGIN)                                                                                      \
        for (; trips > 0; trips--) {                                                                                   \
            BENCH_CHAINS(BENCH_TRIP)                                                                                   \
        }                                                                                                              \
        BENCH_CHAINS(BENCH_END)                                                                                        \
        return sum;                                                                                                    \
    }

/* Reads bytes, a multiple of eight vectors, and returns a word derived from them. */
#define BENCH_READ(function, attributes, vector)                                                                       \
    attributes static uint64_t function(const void *from, size_t bytes)                                                \
    {                                                                                                                  \
        const vector *p = (const vector *)from, *const end = p + bytes / sizeof(vector);                               \
        vector a = {0}, b = {0}, c = {0}, d = {0};                                                                     \
        uint64_t words[sizeof(vector) / sizeof(uint64_t)];                                                             \
        for (; p < end; p += 8) {                                                                                      \
            a |= p[0], b |= p[1], c |= p[2], d |= p[3];                                                                \
            a |= p[4], b |= p[5], c |= p[6], d |= p[7];                                                                \
        }                                                                                                              \
        a |= b | c | d;                                                                                                \
        memcpy(words, &a, sizeof(a));                                                                                  \
        return words[0];                                                                                               \
    }

#define BENCH_ATTRIBUTES(set) __attribute__((noinline, target(set)))

#if BENCH_X86
#define BENCH_SET(x) _mm512_set1_epi8((char)((x) * 16 + 1)) /* whole numbers, all different */
#define BENCH_STEP(a, m, b) _mm512_dpbusd_epi32(a, m, b)
BENCH_FMA(bench_int8_vnni, BENCH_ATTRIBUTES("avx512f,avx512bw,avx512vnni"), __m512i)
#undef BENCH_SET
#undef BENCH_STEP
#define BENCH_SET(x) _mm512_set1_ps(x)
#define BENCH_STEP(a, m, b) _mm512_fmadd_ps(a, m, b)
BENCH_FMA(bench_fma_avx512, BENCH_ATTRIBUTES("avx512f"), __m512)
#undef BENCH_SET
#undef BENCH_STEP
#define BENCH_SET(x) _mm256_set1_ps(x)
#define BENCH_STEP(a, m, b) _mm256_fmadd_ps(a, m, b)
BENCH_FMA(bench_fma_avx2, BENCH_ATTRIBUTES("avx2,fma"), __m256)
#undef BENCH_SET
#undef BENCH_STEP
#define BENCH_SET(x) _mm_set1_ps(x)
#define BENCH_STEP(a, m, b) _mm_add_ps(_mm_mul_ps(a, m), b)
BENCH_FMA(bench_fma_sse, BENCH_ATTRIBUTES("sse2"), __m128)
typedef uint64_t bench_v64 __attribute__((vector_size(64), aligned(64)));
typedef uint64_t bench_v32 __attribute__((vector_size(32), aligned(32)));
BENCH_READ(bench_read_avx512, BENCH_ATTRIBUTES("avx512f"), bench_v64)
BENCH_READ(bench_read_avx2, BENCH_ATTRIBUTES("avx2"), bench_v32)
#else
#ifdef __aarch64__
#define BENCH_NAME "NEON"
#define BENCH_SET(x) vdupq_n_f32(x)
#define BENCH_STEP(a, m, b) vfmaq_f32(a, m, b) /* the instruction adds to its target */
typedef float32x4_t bench_f16;
#else /* four lanes, as compiled for the target */
#define BENCH_NAME "portable"
#define BENCH_SET(x) ((bench_f16){x, x, x, x})
#define BENCH_STEP(a, m, b) ((a) * (m) + (b))
typedef float bench_f16 __attribute__((vector_size(16)));
#endif
BENCH_FMA(bench_fma_16, __attribute__((noinline)), bench_f16)
#endif
typedef uint64_t bench_v16 __attribute__((vector_size(16), aligned(16)));
BENCH_READ(bench_read_16, __attribute__((noinline)), bench_v16)

typedef struct bench_isa {
    const char *name;
    int lanes; /* multiply-adds of an instruction */
    uint32_t (*fma)(long trips);
    uint64_t (*read)(const void *from, size_t bytes);
} bench_isa;

/* Instruction set i of this machine, the widest first; false after the last. Sets for int8, whose names end with it,
   follow the sets for float32. */
static bool bench_isa_at(int i, bench_isa *isa)
{
#if BENCH_X86
    static const bench_isa all[] = {{"AVX-512", 16, bench_fma_avx512, bench_read_avx512},
                                    {"AVX2", 8, bench_fma_avx2, bench_read_avx2},
                                    {"SSE", 4, bench_fma_sse, bench_read_16},
                                    {"AVX-512 VNNI int8", 64, bench_int8_vnni, bench_read_avx512}};
    const bool has[] = {__builtin_cpu_supports("avx512f"),
                        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
                        __builtin_cpu_supports("sse2"), __builtin_cpu_supports("avx512vnni")};
#else
    static const bench_isa all[] = {{BENCH_NAME, 4, bench_fma_16, bench_read_16}};
    const bool has[] = {true};
#endif
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        if (has[k] && i-- == 0) {
            *isa = all[k];
            return true;
        }
    return false;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>threads */

typedef struct bench_thread {
    pthread_t thread;
    pthread_barrier_t *start;
    const bench_isa *isa;
    const char *block; /* NULL: multiply-adds; else bytes to read, one piece per trip, cyclically */
    size_t bytes, piece;
    long first, trips;      /* index of the first piece */
    double begin, end;      /* time of the run */
    volatile uint64_t kept; /* the result; keeps the compiler from removing the work */
} bench_thread;

static void *bench_thread_run(void *user)
{
    bench_thread *t = (bench_thread *)user;
    uint64_t something = 0;
    (void)pthread_barrier_wait(t->start);
    t->begin = bench_now();
    if (t->block == NULL)
        something = t->isa->fma(t->trips);
    for (long i = t->first; t->block != NULL && i < t->first + t->trips; i++) {
        something += t->isa->read(t->block + (size_t)i % (t->bytes / t->piece) * t->piece, t->piece);
        __asm__ volatile("" ::: "memory"); /* keeps the compiler from reusing earlier reads */
    }
    t->end = bench_now();
    t->kept = something;
    return NULL;
}

/* The work of all threads: multiply-adds, or reading `bytes` each in pieces. */
typedef struct bench_work {
    const bench_isa *isa;
    int threads;
    const char *block; /* NULL: multiply-adds; else the threads' bytes, one after the other */
    size_t bytes, piece;
} bench_work;

/* Seconds that all threads need for so many trips each; the first is the calling thread. Negative: no barrier can be
   created. */
static double bench_together(const bench_work *work, long first, long trips)
{
    bench_thread all[BENCH_MAX_THREADS];
    pthread_barrier_t start;
    double begin, end;
    const int threads = work->threads;
    if (pthread_barrier_init(&start, NULL, (unsigned)threads) != 0)
        return -1;
    for (int i = 0; i < threads; i++) {
        all[i].start = &start;
        all[i].isa = work->isa;
        all[i].block = work->block == NULL ? NULL : work->block + (size_t)i * work->bytes;
        all[i].bytes = work->bytes;
        all[i].piece = work->piece;
        all[i].first = first;
        all[i].trips = trips;
        if (i > 0 && pthread_create(&all[i].thread, NULL, bench_thread_run, &all[i]) != 0) {
            fputs("bench: cannot start a thread\n", stderr);
            exit(1); /* the started threads wait for it */
        }
    }
    (void)bench_thread_run(&all[0]);
    begin = all[0].begin;
    end = all[0].end;
    for (int i = 1; i < threads; i++) {
        (void)pthread_join(all[i].thread, NULL);
        begin = all[i].begin < begin ? all[i].begin : begin;
        end = all[i].end > end ? all[i].end : end;
    }
    (void)pthread_barrier_destroy(&start);
    return end - begin;
}

/* The highest rate of all threads together, in trips per second, of many short measurements in about so many seconds:
   other processes do not disturb all of them. */
static double bench_rate(const bench_work *work, double seconds)
{
    const double part = seconds / 32, until = bench_now() + seconds;
    double best = 0, took;
    long first = 0, trips = 1;
    do {
        took = bench_together(work, first, trips);
        first += trips;
        if (took > 0 && (double)trips * work->threads / took > best)
            best = (double)trips * work->threads / took;
        if (took < part / 2)
            trips *= 2;
    } while (took >= 0 && bench_now() < until);
    return best;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>peaks */

/* Floating-point operations a second; a multiply-add is two. */
static double bench_flops(const bench_isa *isa, int threads, double seconds)
{
    const bench_work work = {isa, threads, NULL, 0, 0};
    return bench_rate(&work, seconds) * BENCH_CHAIN_COUNT * isa->lanes * 2;
}

typedef struct bench_level {
    const char *name;
    size_t capacity; /* bytes; memory: 0 */
    size_t bytes;    /* bytes read, by all threads together */
    bool each;       /* one per core */
} bench_level;

static size_t bench_configured(int what, size_t otherwise)
{
    const long bytes = sysconf(what);
    return bytes > 0 ? (size_t)bytes : otherwise;
}

static size_t bench_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The levels as the system reports them. Measurements read half of a private cache (L1, L2); of the shared one (L3) a
   quarter, at most 16 MiB; of memory twice the size of L3, at most 512 MiB and an eighth of the memory. */
static inline void bench_levels(bench_level levels[4], int threads)
{
#ifdef _SC_LEVEL1_DCACHE_SIZE
    const size_t l1 = bench_configured(_SC_LEVEL1_DCACHE_SIZE, 32u << 10);
    const size_t l2 = bench_configured(_SC_LEVEL2_CACHE_SIZE, 512u << 10);
    const size_t l3 = bench_configured(_SC_LEVEL3_CACHE_SIZE, 16u << 20);
#else
    const size_t l1 = 32u << 10, l2 = 512u << 10, l3 = 16u << 20;
#endif
    const size_t memory = bench_configured(_SC_PHYS_PAGES, 1u << 18) * (size_t)sysconf(_SC_PAGESIZE);
    const bench_level all[4] = {{"L1", l1, l1 / 2 * (size_t)threads, true},
                                {"L2", l2, l2 / 2 * (size_t)threads, true},
                                {"L3", l3, bench_least(l3 / 4, 16u << 20), false},
                                {"memory", 0, bench_least(bench_least(2 * l3, 512u << 20), memory / 8), false}};
    memcpy(levels, all, sizeof(all));
}

/* Read bandwidth of a level by all threads, in bytes per second; 0: out of memory. Memory is read in pieces of 4 MiB;
   the best of many short times counts. The other pieces evict a piece from the caches before its next read. */
static inline double bench_bandwidth(const bench_isa *isa, const bench_level *level, int threads, double seconds)
{
    const size_t piece = level->capacity == 0 ? 4u << 20 : 4096;
    const size_t each = level->bytes / (size_t)threads / piece * piece;
    bench_work work = {isa, threads, NULL, each, level->capacity == 0 ? piece : each};
    void *block = NULL;
    double rate;
    if (each == 0 || posix_memalign(&block, 4096, each * (size_t)threads) != 0)
        return 0;
    memset(block, 1, each * (size_t)threads); /* unwritten pages all map to one zero page */
    work.block = (const char *)block;
    rate = bench_rate(&work, seconds);
    free(block);
    return rate * (double)work.piece;
}

#endif
