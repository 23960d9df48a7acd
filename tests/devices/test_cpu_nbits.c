/* MATMUL_NBITS on the fast device (devices/nnrt_cpu.h), with each instruction set of this machine: GEMV, a few rows, and
   GEMM by decoded panels, around the borders of vectors, panels, words and blocks, with one, two, three and eight workers.
   With x rounded to int8 (accuracyLevel 4): one row, tiles of rows and their remainders. Expected are sums in double of
   numbers that the test packs, and rounds, itself. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nnrt.h"

#include "devices/nnrt_cpu.h"
#include "kit.h"
#include "on_sets.h"

enum { NO_ZEROS, BYTES, REALS };

/* A product, then the addition of a constant with an activation, and of another input. */
typedef struct spec {
    int32_t rows, K, N, bits, block, zeros;
    bool bias, added, residual;
    NNRT_ActivationType activation;
    bool int8; /* accuracyLevel 4 */
    int32_t least, range; /* entries are least to least + range - 1; range 0: all of `bits` bits */
    bool factored;        /* scales, and minima (zero point * scale), of 256 entries are products of a factor and an int8 */
} spec;

/* Its constants: entries [N,blocks * block], scales and zero points [N,blocks]. */
typedef struct numbers {
    uint8_t *entries;
    float *scales, *zeros, *bias, *added, *x;
    int32_t blocks;
} numbers;

/* Scales and zero points as super-blocks of GGUF files have them: a factor like a float16 number times -128 to 127, and a
   factor times 0 to 63, divided by the scale. One scale in twenty is 0, and then any zero point. */
static void factored(const spec *s, const numbers *n)
{
    float scale = 0, minimum = 0;
    for (int32_t i = 0; i < s->N * n->blocks; i++) {
        if (i % (256 / s->block) == 0) {
            scale = ldexpf((float)(1024 + draw(1024)), -20);
            minimum = ldexpf((float)(1024 + draw(1024)), -18);
        }
        n->scales[i] = draw(20) == 0 ? 0.0f : scale * (float)((int32_t)draw(256) - 128);
        if (s->zeros == REALS)
            n->zeros[i] = n->scales[i] != 0 ? minimum * (float)draw(64) / n->scales[i] : 3.0f;
    }
}

static numbers numbers_of(const spec *s)
{
    numbers n;
    n.blocks = (s->K + s->block - 1) / s->block;
    n.entries = (uint8_t *)malloc((size_t)s->N * (size_t)n.blocks * (size_t)s->block);
    for (size_t i = 0; i < (size_t)s->N * (size_t)n.blocks * (size_t)s->block; i++)
        n.entries[i] = (uint8_t)((uint32_t)s->least + draw(s->range > 0 ? (uint32_t)s->range : 1u << s->bits));
    n.scales = reals((size_t)s->N * (size_t)n.blocks);
    n.zeros = reals((size_t)s->N * (size_t)n.blocks);
    for (size_t i = 0; i < (size_t)s->N * (size_t)n.blocks; i++)
        n.zeros[i] = s->zeros == NO_ZEROS ? (float)(1 << (s->bits - 1))
                     : s->zeros == BYTES  ? (float)draw(1u << s->bits)
                                          : n.zeros[i] * 20.0f;
    if (s->factored)
        factored(s, &n);
    n.bias = reals((size_t)s->N);
    n.added = reals((size_t)s->N);
    n.x = reals((size_t)s->rows * (size_t)(s->K + s->N));
    return n;
}

static void numbers_free(const numbers *n)
{
    free(n->entries);
    free(n->scales);
    free(n->zeros);
    free(n->bias);
    free(n->added);
    free(n->x);
}

/* Entries of `bits` bits in bytes, the first one in the low bits; each row begins at a byte. */
static uint8_t *packed(const uint8_t *entries, int32_t rows, int32_t columns, int32_t bits, int32_t bytes)
{
    uint8_t *made = (uint8_t *)calloc((size_t)rows * (size_t)bytes, 1);
    for (int32_t r = 0; r < rows; r++)
        for (int32_t i = 0; i < columns; i++)
            for (int32_t bit = 0; bit < bits; bit++) {
                const int32_t at = i * bits + bit;
                made[r * bytes + at / 8] |= (uint8_t)((entries[r * columns + i] >> bit & 1) << at % 8);
            }
    return made;
}

static uint32_t zeros_of(nnrt_builder *b, const spec *s, const numbers *n)
{
    const int32_t bytes = (n->blocks * s->bits + 7) / 8;
    const int32_t dims[2] = {s->N, s->zeros == BYTES ? bytes : n->blocks};
    uint8_t *entries = (uint8_t *)calloc((size_t)s->N, (size_t)n->blocks), *data;
    uint32_t made;
    for (int32_t i = 0; i < s->N * n->blocks; i++)
        entries[i] = s->zeros == BYTES ? (uint8_t)n->zeros[i] : 0;
    data = packed(entries, s->N, n->blocks, s->bits, bytes);
    made = nnrt_builder_constant(b, "zeros", s->zeros == BYTES ? NNRT_DATA_TYPE_UINT8 : F32, 2, dims,
                                 s->zeros == BYTES ? (const void *)data : n->zeros, true);
    free(data);
    free(entries);
    return s->zeros == NO_ZEROS ? NNRT_NO_TENSOR : made;
}

/* Input: rows of K numbers of x; with a residual, followed by rows of N numbers. */
static NNRT_Model *make(const spec *s, const numbers *n)
{
    const int32_t bytes = s->block * s->bits / 8, whole[1] = {s->rows * (s->K + (s->residual ? s->N : 0))};
    const int32_t weight[3] = {s->N, n->blocks, bytes}, scale[2] = {s->N, n->blocks}, xDims[2] = {s->rows, s->K};
    const int32_t zDims[2] = {s->rows, s->N}, two = 2, cut = s->rows * s->K;
    uint8_t *data = packed(n->entries, s->N, n->blocks * s->block, s->bits, n->blocks * bytes);
    const int64_t sizes[2] = {cut, whole[0] - cut};
    nnrt_builder *b = NULL;
    NNRT_MatMulNBits attr;
    NNRT_AddFusion add;
    NNRT_Split split;
    uint32_t in[5], parts[2], pair[2], x, y;
    memset(&attr, 0, sizeof(attr));
    attr.columns = s->K;
    attr.bits = s->bits;
    attr.blockSize = s->block;
    attr.accuracyLevel = s->int8 ? 4 : 0;
    assert_int_equal(nnrt_builder_create(&b, "nbits", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "in", F32, 1, whole);
    parts[0] = x;
    parts[1] = NNRT_NO_TENSOR;
    if (s->residual) {
        memset(&split, 0, sizeof(split));
        split.outputNum = 2;
        split.sizeSplits = nnrt_int64_list(sizes, 2);
        parts[0] = nnrt_builder_tensor(b, "first");
        parts[1] = nnrt_builder_tensor(b, "second");
        nnrt_builder_node(b, "split", NNRT_NODE_TYPE_SPLIT, &split, &x, 1, parts, 2);
    }
    pair[0] = parts[0];
    pair[1] = nnrt_builder_constant(b, "x dims", I32, 1, &two, xDims, true);
    in[0] = nnrt_builder_op(b, "x", NNRT_NODE_TYPE_RESHAPE, NULL, pair, 2);
    in[1] = nnrt_builder_constant(b, "w", NNRT_DATA_TYPE_UINT8, 3, weight, data, true);
    in[2] = nnrt_builder_constant(b, "scales", F32, 2, scale, n->scales, true);
    in[3] = zeros_of(b, s, n);
    in[4] = s->bias ? nnrt_builder_constant(b, "bias", F32, 1, &s->N, n->bias, true) : NNRT_NO_TENSOR;
    y = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_MATMUL_NBITS, &attr, in, 5);
    memset(&add, 0, sizeof(add));
    if (s->added) {
        pair[0] = y;
        pair[1] = nnrt_builder_constant(b, "added", F32, 1, &s->N, n->added, true);
        add.activationType = s->activation;
        y = nnrt_builder_op(b, "plus", NNRT_NODE_TYPE_ADD_FUSION, &add, pair, 2);
    }
    if (s->residual) {
        pair[0] = parts[1];
        pair[1] = nnrt_builder_constant(b, "z dims", I32, 1, &two, zDims, true);
        pair[0] = nnrt_builder_op(b, "z", NNRT_NODE_TYPE_RESHAPE, NULL, pair, 2);
        pair[1] = y;
        add.activationType = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
        y = nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, &add, pair, 2);
    }
    nnrt_builder_output(b, y);
    free(data);
    return finish(b);
}

/* Element k of row m of x: as it is, or rounded to an integer times the largest magnitude of its block / 127. */
static double x_at(const spec *s, const numbers *n, int32_t m, int32_t k)
{
    const float *row = &n->x[m * s->K];
    const int32_t from = k / s->block * s->block;
    float most = 0;
    if (!s->int8)
        return (double)row[k];
    for (int32_t i = from; i < from + s->block && i < s->K; i++)
        most = fabsf(row[i]) > most ? fabsf(row[i]) : most;
    return most > 0 ? (double)(most / 127.0f) * (double)nearbyintf(row[k] * (127.0f / most)) : 0;
}

/* y, and a bound of the roundings: one for each term, block and addition; terms that are integers have none. */
static void expect(const spec *s, const numbers *n, float *y, float *bound)
{
    const double each = SECOND * ROUNDING * ((s->int8 ? 4 : s->K) + n->blocks + 8);
    double *const x = (double *)calloc((size_t)s->rows * (size_t)s->K, sizeof(*x));
    for (int32_t i = 0; i < s->rows * s->K; i++)
        x[i] = x_at(s, n, i / s->K, i % s->K);
    for (int32_t m = 0; m < s->rows; m++)
        for (int32_t c = 0; c < s->N; c++) {
            double sum = (s->bias ? (double)n->bias[c] : 0) + (s->added ? (double)n->added[c] : 0);
            double size = (s->bias ? fabs((double)n->bias[c]) : 0) + (s->added ? fabs((double)n->added[c]) : 0);
            for (int32_t k = 0; k < s->K; k++) {
                const int32_t b = c * n->blocks + k / s->block;
                const double w = (double)n->entries[c * n->blocks * s->block + k] - (double)n->zeros[b];
                const double term = x[m * s->K + k] * w * (double)n->scales[b];
                sum += term;
                size += s->int8 ? fabs(x[m * s->K + k] * (double)n->scales[b]) * (fabs(w) + 2 * fabs((double)n->zeros[b]))
                                : fabs(term); /* (sum of q * entry) - zero point * (sum of q) */
            }
            if (s->activation == NNRT_ACTIVATION_TYPE_RELU && sum < 0)
                sum = 0;
            if (s->residual) {
                const double z = (double)n->x[s->rows * s->K + m * s->N + c];
                sum += z;
                size += fabs(z);
            }
            y[m * s->N + c] = (float)sum;
            bound[m * s->N + c] = (float)(each * size);
        }
    free(x);
}

static void check(const spec *s)
{
    const numbers n = numbers_of(s);
    NNRT_Model *model = make(s, &n);
    const int32_t dims[2] = {s->rows, s->N};
    const size_t nY = product_of(2, dims);
    float *y = reals(nY), *bound = reals(nY);
    char what[100];
    snprintf(what, sizeof(what), "%d x %d x %d, %d bits, blocks of %d, zeros %d, %d%d%d%s, range %d%s", s->rows, s->K, s->N,
             s->bits, s->block, s->zeros, s->bias, s->added, s->residual, s->int8 ? ", int8" : "", s->range,
             s->factored ? ", factored" : "");
    expect(s, &n, y, bound);
    kernel = s->int8 ? "gemm_nbits_int8" : "gemm_nbits";
    every_set = s->int8;
    check_all(model, n.x, (size_t)s->rows * (size_t)(s->K + (s->residual ? s->N : 0)), nY, y, bound, what);
    kernel = NULL;
    free(y);
    free(bound);
    nnrt_model_destroy(model);
    numbers_free(&n);
}

/* One row: the GEMV. Channels around the borders of vectors and panels, K around the borders of words and blocks. */
static void test_one_row(void **unused)
{
    static const int32_t columns[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100};
    static const int32_t channels[] = {1, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 130};
    (void)unused;
    state = 1;
    for (int32_t i = 0; i < 15 * 12; i++) {
        const spec s = {1, columns[i % 12], channels[i % 15], i / 15 % 2 == 0 ? 4 : 8, 16 << i % 3, i / 4 % 3, i % 2 == 0,
                        false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, false, 0, 0, false};
        check(&s);
    }
}

/* Few rows by packed panels, more rows by decoded ones: tiles, and several work items. */
static void test_rows(void **unused)
{
    static const int32_t rows[] = {2, 3, 4, 5, 6, 7, 8, 13, 16, 33};
    static const int32_t channels[] = {1, 8, 17, 33, 64, 70};
    (void)unused;
    state = 2;
    for (int32_t i = 0; i < 60; i++) {
        const spec s = {rows[i % 10], 20 + 13 * (i % 7), channels[i % 6], i / 10 % 2 == 0 ? 4 : 8, 16 << i % 2, i / 3 % 3,
                        i % 2 == 0, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, false, 0, 0, false};
        check(&s);
    }
}

/* Work for several threads: panels are divided among them, rows into items of 256. */
static void test_threads(void **unused)
{
    static const spec specs[] = {
        {1, 600, 700, 4, 32, NO_ZEROS, true, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, false, 0, 0, false},
        {1, 600, 700, 8, 32, BYTES, false, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, false, 0, 0, false},
        {3, 300, 500, 4, 128, BYTES, true, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, false, 0, 0, false},
        {70, 100, 130, 4, 32, BYTES, true, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, false, 0, 0, false},
        {300, 40, 70, 8, 16, REALS, true, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, false, 0, 0, false},
    };
    (void)unused;
    state = 3;
    for (uint32_t i = 0; i < COUNT(specs); i++)
        check(&specs[i]);
}

/* Additions of a constant and of another tensor are fused into the step. */
static void test_epilogue(void **unused)
{
    (void)unused;
    state = 4;
    for (int32_t i = 0; i < 24; i++) {
        const spec s = {i % 3 == 0 ? 1 : i % 3 == 1 ? 3 : 9, 50, 37 + 40 * (i % 2), i % 2 == 0 ? 4 : 8, 32, i % 3, i % 2 == 0,
                        i % 4 != 0, i % 4 != 1, i % 4 == 2 ? NNRT_ACTIVATION_TYPE_RELU : NNRT_ACTIVATION_TYPE_NO_ACTIVATION, false, 0, 0, false};
        check(&s);
    }
}

/* x rounded to int8: one row, tiles of four and eight rows with their remainders, several work items; panels that are cut. */
static void test_int8(void **unused)
{
    static const int32_t rows[] = {1, 2, 4, 5, 8, 9, 13, 16, 1, 21};
    static const int32_t channels[] = {1, 5, 16, 17, 33, 64, 70, 130};
    static const spec large[] = {
        {1, 600, 700, 4, 32, NO_ZEROS, true, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, true, 0, 0, false},
        {1, 600, 700, 8, 32, REALS, true, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, true, 0, 0, false},
        {300, 128, 200, 4, 64, NO_ZEROS, true, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, true, 0, 0, false},
        {523, 96, 70, 8, 16, BYTES, false, true, true, NNRT_ACTIVATION_TYPE_RELU, true, 0, 0, false},
        {65, 300, 130, 4, 256, BYTES, true, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, true, 0, 0, false},
        {13, 1100, 40, 4, 512, NO_ZEROS, true, false, true, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, true, 0, 0, false},
        {37, 2100, 33, 8, 1024, BYTES, false, true, false, NNRT_ACTIVATION_TYPE_RELU, true, 0, 0, false},
    };
    (void)unused;
    state = 7;
    for (int32_t i = 0; i < 160; i++) {
        const spec s = {rows[i % 10], 1 + 13 * (i % 17), channels[i % 8], i / 10 % 2 == 0 ? 4 : 8, 16 << i / 2 % 5, i / 3 % 3,
                        i % 2 == 0, i % 3 == 0, i % 5 == 0, i % 6 == 0 ? NNRT_ACTIVATION_TYPE_RELU : NNRT_ACTIVATION_TYPE_NO_ACTIVATION,
                        true, 0, 0, false};
        check(&s);
    }
    for (uint32_t i = 0; i < COUNT(large); i++)
        check(&large[i]);
}

/* Entries and scales that are packed into fewer bytes: entries that have 2, 3, 5 or 6 bits only, anywhere in the range, with
   scales of each kind, and factored scales with all of these; the rows of test_int8. */
static void test_few_bytes(void **unused)
{
    static const int32_t ranges[][3] = {{4, 0, 0}, {4, 1, 4}, {4, 4, 8}, {8, 0, 0}, {8, 100, 3}, {8, 112, 32}, {8, 96, 64}, {8, 5, 16}};
    static const int32_t rows[] = {1, 3, 4, 7, 1, 9, 16};
    static const int32_t channels[] = {1, 8, 33, 64, 70, 130};
    (void)unused;
    state = 8;
    for (int32_t i = 0; i < 2 * 8 * 12; i++) {
        const int32_t *const range = ranges[i % 8];
        const bool factors = i % 3 > 0;
        spec s = {rows[i % 7], factors ? 256 * (1 + i % 2) : 40 + 29 * (i % 9), channels[i / 2 % 6], range[0],
                  factors ? 16 << i / 8 % 2 : 32 << i / 8 % 3, i / 16 % 3, i % 2 == 0, i % 5 == 0, i % 7 == 0,
                  NNRT_ACTIVATION_TYPE_NO_ACTIVATION, true, range[1], range[2], factors};
        s.least = s.zeros == NO_ZEROS ? s.least : 0;
        check(&s);
    }
}

/* Bytes of a session: packed weights without the bits that no entry has, with factored scales. */
static void test_bytes(void **unused)
{
    static const struct {
        spec s;
        double least, most; /* bytes for each weight; most: on sets without this form of scales */
    } cases[] = {
        {{1, 1024, 2048, 4, 32, REALS, false, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, true, 0, 0, true}, 0.61, 0.78},
        {{1, 1024, 2048, 8, 16, NO_ZEROS, false, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, true, 96, 64, true}, 0.85, 1.28},
        {{1, 1024, 2048, 8, 32, REALS, false, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, true, 0, 32, true}, 0.74, 1.28},
        {{1, 1024, 2048, 4, 16, REALS, false, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, true, 0, 4, true}, 0.43, 1.03},
    };
    (void)unused;
    state = 9;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        const numbers n = numbers_of(&cases[i].s);
        NNRT_Model *model = make(&cases[i].s, &n);
        for (uint32_t k = 0; k < nSets; k++) {
            nnrt_session_desc desc;
            nnrt_error e;
            size_t bytes = 0;
            const bool plain = strstr(sets[k], "vector") != NULL || strstr(sets[k], "simd128") != NULL;
            const double weights = 1024.0 * 2048.0;
            memset(&desc, 0, sizeof(desc));
            memset(&e, 0, sizeof(e));
            desc.device = sets[k];
            assert_int_equal(nnrt_session_bytes(model, &desc, &bytes, &e), NNRT_SUCCESS);
            if (has_no_floats(k))
                continue;
            if ((double)bytes / weights > (plain ? cases[i].most : cases[i].least))
                fail_msg("%s, case %u: %.3f bytes for each weight", sets[k], i, (double)bytes / weights);
        }
        nnrt_model_destroy(model);
        numbers_free(&n);
    }
}

/* Scales with which a weight could be infinite use the reference kernel; also weights that are inputs. */
static void test_left(void **unused)
{
    static const float odd[] = {INFINITY, -1e38f, NAN, 7e28f};
    const spec s = {6, 32, 4, 4, 16, NO_ZEROS, false, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, false, 0, 0, false};
    numbers n;
    (void)unused;
    state = 5;
    n = numbers_of(&s);
    for (uint32_t i = 0; i < COUNT(odd); i++)
        for (uint32_t k = 0; k < nSets; k++) {
            nnrt_session *session = NULL;
            nnrt_session_desc desc;
            NNRT_Extension extensions[MOST_EXTENSIONS];
            NNRT_Model *model;
            nnrt_error e;
            n.scales[5] = odd[i];
            model = make(&s, &n);
            memset(&desc, 0, sizeof(desc));
            memset(&e, 0, sizeof(e));
            kernel = "gemm_nbits";
            desc.device = sets[k];
            add_extensions(&desc, extensions);
            if (!has_no_floats(k))
                assert_int_equal(nnrt_session_create(&session, model, &desc, &e),
                                 i < 3 ? NNRT_NOT_SUPPORT : NNRT_SUCCESS);
            nnrt_session_destroy(session);
            nnrt_model_destroy(model);
        }
    kernel = NULL;
    numbers_free(&n);
}

/* The reported number of bytes suffices, one less fails. */
static void test_memory(void **unused)
{
    spec s = {9, 64, 70, 4, 16, BYTES, true, false, false, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, false, 0, 0, false};
    numbers n;
    NNRT_Model *models[2];
    float *y = reals(9 * 70);
    (void)unused;
    state = 6;
    n = numbers_of(&s);
    models[0] = make(&s, &n);
    s.int8 = true;
    models[1] = make(&s, &n);
    for (uint32_t k = 0; k < 2 * nSets; k++) {
        nnrt_session_desc desc;
        const nnrt_io in = nnrt_io_make(n.x, 9 * 64 * sizeof(float)), out = nnrt_io_make(y, 9 * 70 * sizeof(float));
        memset(&desc, 0, sizeof(desc));
        desc.device = sets[k / 2];
        (void)run_in_bytes(models[k % 2], desc, &in, &out);
    }
    nnrt_model_destroy(models[0]);
    nnrt_model_destroy(models[1]);
    numbers_free(&n);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_row), cmocka_unit_test(test_rows), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_epilogue), cmocka_unit_test(test_left), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_int8), cmocka_unit_test(test_few_bytes), cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
