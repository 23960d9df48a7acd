/* Speed of MATMUL_NBITS on the device cpu, beside its targets: make bench-nbits

       bench_nbits [THREADS]    default: one per processor

   A matrix-vector product (GEMV, M = 1) reads packed weights, scales and zero points: bytes per second, of the bytes per
   second of a plain read of as much memory by the same threads; target 85 %. Below it stands the read that prefetches,
   as the kernel does. A matrix product (GEMM, M = 64 and 256) decodes panels of weights: multiply-adds per second, of the
   rate of FULL_CONNECTION with float32 weights; target 80 %. Both sides of a quotient run in turns; each counts its
   fastest turn, because other programs take time, too. */
#define _XOPEN_SOURCE 700
#define NNRT_THREADS 1
#define NNRT_IMPLEMENTATION
#include "nnrt.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { GEMV_K = 4096, GEMV_N = 32768, GEMM_K = 2048, GEMM_N = 4096, TURNS = 100, CHUNKS = 64 };

static int missed;

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check(NNRT_ReturnCode code, const nnrt_error *error)
{
    if (code == NNRT_SUCCESS)
        return;
    printf("FAIL %s\n", error->message);
    exit(1);
}

static void *block_of(size_t bytes)
{
    void *block = NULL;
    if (posix_memalign(&block, NNRT_ALIGNMENT, bytes) != 0)
        exit(1);
    return block;
}

/* Pseudorandom bytes. */
static uint8_t *noise(size_t bytes)
{
    uint8_t *to = (uint8_t *)block_of(bytes);
    uint32_t x = 1;
    for (size_t i = 0; i < bytes; i++) {
        x = x * 1664525u + 1013904223u;
        to[i] = (uint8_t)(x >> 24);
    }
    return to;
}

static float *floats(size_t count)
{
    float *to = (float *)block_of(count * sizeof(float));
    uint32_t x = 1;
    for (size_t i = 0; i < count; i++) {
        x = x * 1664525u + 1013904223u;
        to[i] = (float)(x >> 8) / 16777216.0f - 0.5f;
    }
    return to;
}

/* A session of one product [M,K] x [K,N] and its buffers. */
typedef struct product {
    NNRT_Model *model;
    nnrt_session *session;
    nnrt_io in, out;
    void *constants[3];
    size_t bytes; /* of packed weights, scales and zero points */
    double best;  /* seconds of the fastest turn */
} product;

/* bits 0: float32 weights. */
static product product_of(const nnrt_parallel *parallel, int32_t M, int32_t K, int32_t N, int32_t bits, int32_t block,
                          bool zeros)
{
    const int32_t blocks = bits > 0 ? K / block : 0, bytes = block * bits / 8;
    const int32_t dims[] = {M, K}, weights[] = {N, blocks, bytes}, reals[] = {N, K}, scales[] = {N, blocks};
    const int32_t points[] = {N, (blocks * bits + 7) / 8};
    nnrt_session_desc desc;
    NNRT_MatMulNBits attr;
    nnrt_error error;
    nnrt_builder *b = NULL;
    product p;
    uint32_t in[4];
    memset(&p, 0, sizeof(p));
    memset(&desc, 0, sizeof(desc));
    memset(&attr, 0, sizeof(attr));
    attr.columns = K;
    attr.bits = bits;
    attr.blockSize = block;
    attr.accuracyLevel = 0;
    check(nnrt_builder_create(&b, "product", NULL), &error);
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims);
    p.constants[0] = bits > 0 ? (void *)noise((size_t)N * (size_t)(blocks * bytes)) : floats((size_t)N * (size_t)K);
    if (bits > 0) {
        in[1] = nnrt_builder_constant(b, "w", NNRT_DATA_TYPE_UINT8, 3, weights, p.constants[0], false);
        p.constants[1] = floats((size_t)N * (size_t)blocks);
        p.constants[2] = noise((size_t)N * (size_t)points[1]);
        in[2] = nnrt_builder_constant(b, "scale", NNRT_DATA_TYPE_FLOAT32, 2, scales, p.constants[1], false);
        in[3] = zeros ? nnrt_builder_constant(b, "zero", NNRT_DATA_TYPE_UINT8, 2, points, p.constants[2], false) : 0;
        p.bytes = (size_t)N * (size_t)(blocks * (bytes + 4) + (zeros ? points[1] : 0));
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_MATMUL_NBITS, &attr, in, zeros ? 4 : 3));
    } else {
        in[1] = nnrt_builder_constant(b, "w", NNRT_DATA_TYPE_FLOAT32, 2, reals, p.constants[0], false);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_FULL_CONNECTION, NULL, in, 2));
    }
    check(nnrt_builder_finish(b, &p.model, &error), &error);
    nnrt_builder_destroy(b);
    desc.device = "cpu";
    desc.parallel = parallel;
    check(nnrt_session_create(&p.session, p.model, &desc, &error), &error);
    p.in.bytes = (size_t)M * (size_t)K * sizeof(float);
    p.in.data = floats(p.in.bytes / sizeof(float));
    p.out.bytes = (size_t)M * (size_t)N * sizeof(float);
    p.out.data = block_of(p.out.bytes);
    return p;
}

static void product_free(product *p)
{
    nnrt_session_destroy(p->session);
    nnrt_model_destroy(p->model);
    free(p->in.data);
    free(p->out.data);
    for (int i = 0; i < 3; i++)
        free(p->constants[i]);
}

static void product_turn(product *p)
{
    const double begin = now();
    double taken;
    if (nnrt_run(p->session, &p->in, 1, &p->out, 1) != NNRT_SUCCESS) {
        printf("FAIL %s\n", nnrt_session_error(p->session));
        exit(1);
    }
    taken = now() - begin;
    p->best = p->best == 0 || taken < p->best ? taken : p->best;
}

/* A plain read of memory. */
typedef uint64_t lanes __attribute__((vector_size(32)));
typedef struct reading {
    const uint8_t *data;
    size_t bytes;
    size_t ahead; /* bytes between an access and its prefetch; 0: no prefetch */
    uint64_t sums[CHUNKS];
} reading;

static void read_chunk(void *arg, uint32_t i, uint32_t worker)
{
    reading *r = (reading *)arg;
    const size_t each = r->bytes / CHUNKS / 256 * 256;
    const lanes *from = (const lanes *)(const void *)(r->data + i * each);
    lanes sum[8];
    (void)worker;
    memset(sum, 0, sizeof(sum));
    for (size_t k = 0; k < each / sizeof(lanes); k += 8) {
        for (int v = 0; v < 8 && r->ahead > 0; v += 2)
            __builtin_prefetch((const uint8_t *)&from[k + (size_t)v] + r->ahead, 0, 2);
        for (int v = 0; v < 8; v++)
            sum[v] ^= from[k + (size_t)v];
    }
    for (int v = 1; v < 8; v++)
        sum[0] ^= sum[v];
    r->sums[i] = sum[0][0] ^ sum[0][1] ^ sum[0][2] ^ sum[0][3];
}

static double read_turn(reading *r, const nnrt_parallel *parallel)
{
    const double begin = now();
    parallel->run(parallel->user, CHUNKS, read_chunk, r);
    return now() - begin;
}

static void show(const char *what, double value, const char *unit, double part, double target)
{
    const bool met = part >= target;
    missed += !met;
    printf("%-44s %8.2f %s  %5.1f %%, target %2.0f %%: %s\n", what, value, unit, 100 * part, 100 * target,
           met ? "met" : "missed");
}

static void gemv(const nnrt_parallel *parallel, int32_t bits, int32_t block, bool zeros)
{
    product p = product_of(parallel, 1, GEMV_K, GEMV_N, bits, block, zeros);
    reading r;
    char what[80];
    double best[2] = {1e9, 1e9}, taken;
    r.bytes = p.bytes;
    r.data = noise(r.bytes);
    for (int i = 0; i < 2 * TURNS; i++) {
        if (i % 2 == 0)
            product_turn(&p);
        r.ahead = i % 2 == 0 ? 0 : 2048;
        taken = read_turn(&r, parallel);
        best[i % 2] = taken < best[i % 2] ? taken : best[i % 2];
    }
    (void)snprintf(what, sizeof(what), "GEMV %d x %d, %d bits, block %d%s", GEMV_K, GEMV_N, bits, block,
                   zeros ? ", zero points" : "");
    show(what, (double)p.bytes / p.best / 1e9, "GB/s", best[0] / p.best, 0.85);
    printf("    plain read %.2f GB/s, with prefetching %.2f GB/s\n", (double)p.bytes / best[0] / 1e9,
           (double)p.bytes / best[1] / 1e9);
    product_free(&p);
    free((void *)(uintptr_t)r.data);
}

static void gemm(const nnrt_parallel *parallel, int32_t M, int32_t bits, bool zeros)
{
    product p = product_of(parallel, M, GEMM_K, GEMM_N, bits, 32, zeros);
    product f = product_of(parallel, M, GEMM_K, GEMM_N, 0, 32, false);
    char what[80];
    for (int i = 0; i < TURNS; i++) {
        product_turn(&p);
        product_turn(&f);
    }
    (void)snprintf(what, sizeof(what), "GEMM %d x %d x %d, %d bits%s", M, GEMM_K, GEMM_N, bits,
                   zeros ? ", zero points" : "");
    show(what, (double)M * GEMM_K * GEMM_N / p.best / 1e9, "GMA/s", f.best / p.best, 0.8);
    product_free(&p);
    product_free(&f);
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    nnrt_pool_desc desc;
    nnrt_pool *pool = NULL;
    nnrt_error error;
    const nnrt_parallel *parallel;
    memset(&desc, 0, sizeof(desc));
    desc.threads = (uint32_t)(threads > 0 ? threads : 1);
    check(nnrt_pool_create(&pool, &desc, &error), &error);
    parallel = nnrt_pool_parallel(pool);
    printf("threads: %d, instruction set: %s\n", (int)desc.threads, nnrt_cpu_set(0));
    gemv(parallel, 4, 32, false);
    gemv(parallel, 4, 32, true);
    gemv(parallel, 4, 128, false);
    gemv(parallel, 8, 32, true);
    gemm(parallel, 64, 4, false);
    gemm(parallel, 64, 8, true);
    gemm(parallel, 256, 4, true);
    nnrt_pool_destroy(pool);
    printf("%d missed\n", missed);
    return 0;
}
