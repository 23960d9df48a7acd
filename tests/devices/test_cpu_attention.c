/* ATTENTION on the fast device (devices/nnrt_cpu.h) with each instruction set of this machine. Expected values are computed in
   double from the definition in nnrt_ops.h; the bound counts roundings, each 2^-24 of the rounded value (ROUNDING). */
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

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, LENGTHS, INPUTS };
enum { NO_MASK, BOOLS, FLOATS };

/* A node: sizes as in nnrt_ops.h; mask [1 or B, 1 or heads, 1 or S, T or fewer]. */
typedef struct sizes {
    int32_t b, heads, shared, s, u, p, d, v; /* heads of k; heads of q for each of them */
    int32_t mask, maskDims[4];
    bool past, lengths, folded; /* folded: q, k, v and y have 3 axes */
    NNRT_Attention attr;
} sizes;

static float row(const sizes *n, const float *past, const float *v, int32_t b, int32_t h, int32_t j, int32_t d, int32_t width)
{
    if (j < n->p)
        return past[((b * n->heads + h) * n->p + j) * width + d];
    return n->folded ? v[(b * n->u + j - n->p) * n->heads * width + h * width + d]
                     : v[((b * n->heads + h) * n->u + j - n->p) * width + d];
}

/* The summand of the mask for query s and key j: 0, a number or -infinity. */
static double masked(const sizes *n, const void *mask, int32_t b, int32_t h, int32_t s, int32_t j)
{
    const int32_t *m = n->maskDims;
    size_t at;
    if (n->mask == NO_MASK)
        return 0;
    if (m[3] != 1 && j >= m[3])
        return -INFINITY;
    at = (size_t)(((b % m[0] * m[1] + h % m[1]) * m[2] + s % m[2]) * m[3] + j % m[3]);
    return n->mask == FLOATS ? (double)((const float *)mask)[at] : ((const uint8_t *)mask)[at] != 0 ? 0 : -INFINITY;
}

/* Whether query s attends to key j. */
static bool sees(const sizes *n, const int64_t *lengths, int32_t b, int32_t s, int32_t j)
{
    const int32_t T = n->p + n->u;
    const int64_t valid = !n->lengths ? T : lengths[b] < 0 ? 0 : lengths[b] < T ? lengths[b] : T;
    const int64_t i = s + (n->lengths && !n->past ? valid - n->s : n->p);
    return j < valid && (n->attr.isCausal == 0 || j <= i) &&
           (n->attr.leftWindowSize < 0 || j >= i - n->attr.leftWindowSize) &&
           (n->attr.rightWindowSize < 0 || j <= i + n->attr.rightWindowSize);
}

/* The result of head g of q, for query s, element d. */
static void expect(const sizes *n, const nnrt_io *in, int32_t b, int32_t g, int32_t s, double *y, double *bound)
{
    const float *q = (const float *)in[Q].data;
    const int32_t T = n->p + n->u, h = g / n->shared, G = n->heads * n->shared;
    double *m = (double *)malloc(sizeof(double) * (size_t)(T + 1)), most = -INFINITY, sum = 0, worst = 0;
    for (int32_t j = 0; j < T; j++) {
        double p = 0, size = 0;
        m[j] = -INFINITY;
        if (!sees(n, (const int64_t *)in[LENGTHS].data, b, s, j))
            continue;
        for (int32_t d = 0; d < n->d; d++) {
            const double a = n->folded ? (double)q[(b * n->s + s) * G * n->d + g * n->d + d]
                                       : (double)q[((b * G + g) * n->s + s) * n->d + d];
            const double k = (double)row(n, (const float *)in[PAST_KEY].data, (const float *)in[K].data, b, h, j, d, n->d);
            p += a * k;
            size += fabs(a * k);
        }
        p *= (double)n->attr.scale;
        worst = fmax(worst, (n->d + 4) * size * (double)n->attr.scale + 4 * fabs(p));
        if (n->attr.softcap > 0)
            p = (double)n->attr.softcap * tanh(p / (double)n->attr.softcap);
        m[j] = p + masked(n, in[MASK].data, b, g, s, j);
        most = fmax(most, m[j]);
    }
    for (int32_t j = 0; j < T; j++)
        sum += most > -INFINITY ? exp(m[j] - most) : 0;
    for (int32_t d = 0; d < n->v; d++) {
        double total = 0, size = 0;
        for (int32_t j = 0; j < T && sum > 0; j++) {
            const double w = exp(m[j] - most) / sum;
            const double v =
                w > 0 ? (double)row(n, (const float *)in[PAST_VALUE].data, (const float *)in[V].data, b, h, j, d, n->v) : 0;
            total += w * v;
            size += fabs(w * v);
        }
        y[d] = total;
        bound[d] = ROUNDING * SECOND * size * (2 * worst + 2 * T + 16) + 1e-30; /* scores, exp, sums */
    }
    free(m);
}

/* The keys and values of past and present, one behind the other. */
static void check_present(const sizes *n, const float *past, const float *v, const float *got, int32_t width)
{
    for (int32_t b = 0; b < n->b; b++)
        for (int32_t h = 0; h < n->heads; h++)
            for (int32_t j = 0; j < n->p + n->u; j++)
                for (int32_t d = 0; d < width; d++)
                    assert_true(row(n, past, v, b, h, j, d, width) ==
                                got[((b * n->heads + h) * (n->p + n->u) + j) * width + d]);
}

static void check_node(const sizes *n, uint32_t i)
{
    const int32_t G = n->heads * n->shared, T = n->p + n->u;
    const int32_t qDims[4] = {n->b, G, n->s, n->d}, kDims[4] = {n->b, n->heads, n->u, n->d}, vDims[4] = {n->b, n->heads, n->u, n->v};
    const int32_t q3[3] = {n->b, n->s, G * n->d}, k3[3] = {n->b, n->u, n->heads * n->d}, v3[3] = {n->b, n->u, n->heads * n->v};
    const int32_t pk[4] = {n->b, n->heads, n->p, n->d}, pv[4] = {n->b, n->heads, n->p, n->v};
    const size_t counts[3] = {(size_t)(n->b * G * n->s * n->v), (size_t)(n->b * n->heads * T * n->d), (size_t)(n->b * n->heads * T * n->v)};
    const uint32_t nOut = n->past ? 3 : 1;
    uint32_t in[INPUTS], out[3];
    nnrt_io ios[INPUTS], given[INPUTS], results[3];
    double *y = (double *)malloc(sizeof(double) * (size_t)(n->v + 1)), *bound = (double *)malloc(sizeof(double) * (size_t)(n->v + 1));
    float *first = NULL;
    nnrt_builder *b = NULL;
    NNRT_Model *model;
    uint32_t count = 0;
    memset(ios, 0, sizeof(ios));
    assert_int_equal(nnrt_builder_create(&b, "attention", NULL), NNRT_SUCCESS);
    for (uint32_t k = 0; k < INPUTS; k++)
        in[k] = NNRT_NO_TENSOR;
    in[Q] = nnrt_builder_input(b, "q", F32, n->folded ? 3 : 4, n->folded ? q3 : qDims);
    in[K] = nnrt_builder_input(b, "k", F32, n->folded ? 3 : 4, n->folded ? k3 : kDims);
    in[V] = nnrt_builder_input(b, "v", F32, n->folded ? 3 : 4, n->folded ? v3 : vDims);
    ios[Q] = nnrt_io_make(reals((size_t)(n->b * G * n->s * n->d)), (size_t)(n->b * G * n->s * n->d) * 4);
    ios[K] = nnrt_io_make(reals((size_t)(n->b * n->heads * n->u * n->d)), (size_t)(n->b * n->heads * n->u * n->d) * 4);
    ios[V] = nnrt_io_make(reals((size_t)(n->b * n->heads * n->u * n->v)), (size_t)(n->b * n->heads * n->u * n->v) * 4);
    if (n->mask != NO_MASK) {
        const size_t m = (size_t)(n->maskDims[0] * n->maskDims[1] * n->maskDims[2] * n->maskDims[3]);
        float *mask = reals(m);
        for (size_t k = 0; k < m; k++)
            if (n->mask == BOOLS)
                ((uint8_t *)mask)[k] = draw(3) > 0;
            else if (draw(5) == 0)
                mask[k] = -INFINITY;
        in[MASK] = nnrt_builder_input(b, "mask", n->mask == BOOLS ? NNRT_DATA_TYPE_BOOL : F32, 4, n->maskDims);
        ios[MASK] = nnrt_io_make(mask, m * (n->mask == BOOLS ? 1 : 4));
    }
    if (n->past) {
        in[PAST_KEY] = nnrt_builder_input(b, "pastKey", F32, 4, pk);
        in[PAST_VALUE] = nnrt_builder_input(b, "pastValue", F32, 4, pv);
        ios[PAST_KEY] = nnrt_io_make(reals((size_t)(n->b * n->heads * n->p * n->d)), (size_t)(n->b * n->heads * n->p * n->d) * 4);
        ios[PAST_VALUE] = nnrt_io_make(reals((size_t)(n->b * n->heads * n->p * n->v)), (size_t)(n->b * n->heads * n->p * n->v) * 4);
    }
    if (n->lengths) {
        int64_t *lengths = (int64_t *)malloc(sizeof(int64_t) * (size_t)n->b);
        for (int32_t k = 0; k < n->b; k++)
            lengths[k] = (int64_t)draw((uint32_t)T + 2);
        in[LENGTHS] = nnrt_builder_input(b, "lengths", NNRT_DATA_TYPE_INT64, 1, &n->b);
        ios[LENGTHS] = nnrt_io_make(lengths, sizeof(int64_t) * (size_t)n->b);
    }
    for (uint32_t k = 0; k < nOut; k++)
        out[k] = nnrt_builder_tensor(b, k == 0 ? "y" : k == 1 ? "presentKey" : "presentValue");
    nnrt_builder_node(b, "attention", NNRT_NODE_TYPE_ATTENTION, &n->attr, in, INPUTS, out, nOut);
    for (uint32_t k = 0; k < nOut; k++) {
        nnrt_builder_output(b, out[k]);
        results[k] = nnrt_io_make(reals(counts[k]), counts[k] * 4);
    }
    model = finish(b);
    for (uint32_t k = 0; k < INPUTS; k++)
        if (in[k] != NNRT_NO_TENSOR)
            given[count++] = ios[k];
    first = reals(counts[0]);
    for (uint32_t s = 0; s <= nSets; s++)
        for (uint32_t workers = 0; workers <= (s < nSets ? 8 : 0); workers += workers == 3 ? 5 : 1) {
            const char *const device = s < nSets ? sets[s] : "reference";
            if (s < nSets && has_no_floats(s))
                break;
            memset(results[0].data, 0xA5, counts[0] * 4);
            kernel = s < nSets ? "attention" : NULL;
            (void)run_session(device, model, given, count, results, nOut, workers, NULL);
            kernel = NULL;
            if (workers > 0 && memcmp(first, results[0].data, counts[0] * 4) != 0)
                fail_msg("case %u on %s: %u workers give other bits than one", i, device, workers);
            memcpy(first, results[0].data, counts[0] * 4);
            for (int32_t at = 0; workers == 0 && at < n->b * G * n->s; at++) {
                const int32_t batch = at / n->s / G, g = at / n->s % G, step = at % n->s;
                const float *got = first + (n->folded ? ((batch * n->s + step) * G + g) * n->v : at * n->v);
                expect(n, ios, batch, g, step, y, bound);
                for (int32_t d = 0; d < n->v; d++)
                    if (!(fabs((double)got[d] - y[d]) <= bound[d]))
                        fail_msg("case %u on %s: head %d, query %d, element %d is %.9g, expected %.9g within %.3g", i, device, (int)g,
                                 (int)step, (int)d, (double)got[d], y[d], bound[d]);
            }
            if (n->past) {
                check_present(n, (const float *)ios[PAST_KEY].data, (const float *)ios[K].data, (const float *)results[1].data, n->d);
                check_present(n, (const float *)ios[PAST_VALUE].data, (const float *)ios[V].data, (const float *)results[2].data, n->v);
            }
        }
    for (uint32_t k = 0; k < INPUTS; k++)
        free(ios[k].data);
    for (uint32_t k = 0; k < nOut; k++)
        free(results[k].data);
    nnrt_model_destroy(model);
    free(first);
    free(bound);
    free(y);
}

/* Sizes around those of vectors and of blocks of queries; masks, windows, caps, past keys and lengths in any combination. */
static void test_attention(void **unused)
{
    static const int32_t widths[] = {1, 3, 8, 15, 16, 17, 31, 32, 33, 64, 65, 80}, steps[] = {1, 2, 3, 4, 5, 7, 8, 13, 33};
    (void)unused;
    state = 41;
    for (uint32_t i = 0; i < 160; i++) {
        sizes n;
        memset(&n, 0, sizeof(n));
        n.b = 1 + (int32_t)draw(2);
        n.heads = 1 + (int32_t)draw(2);
        n.shared = 1 + (int32_t)draw(3);
        n.s = steps[draw(COUNT(steps))];
        n.u = draw(2) == 0 ? n.s : steps[draw(COUNT(steps))];
        n.past = draw(2) == 0;
        n.p = n.past ? (int32_t)draw(3) * steps[draw(COUNT(steps))] : 0;
        n.d = widths[draw(COUNT(widths))];
        n.v = draw(2) == 0 ? n.d : widths[draw(COUNT(widths))];
        n.folded = draw(2) == 0;
        n.lengths = draw(3) == 0;
        n.mask = (int32_t)draw(3);
        n.maskDims[0] = draw(2) == 0 ? 1 : n.b;
        n.maskDims[1] = draw(2) == 0 ? 1 : n.heads * n.shared;
        n.maskDims[2] = draw(2) == 0 ? 1 : n.s;
        n.maskDims[3] = n.p + n.u;
        if (n.maskDims[3] > 3 && draw(3) == 0)
            n.maskDims[3] -= 1 + (int32_t)draw(2);
        n.attr.isCausal = draw(2) == 0;
        n.attr.qNumHeads = n.heads * n.shared;
        n.attr.kvNumHeads = n.heads;
        n.attr.scale = 0.1f + (float)draw(20) * 0.1f;
        n.attr.softcap = draw(4) == 0 ? 1.5f : 0;
        n.attr.leftWindowSize = draw(3) == 0 ? (int64_t)draw(6) : -1;
        n.attr.rightWindowSize = draw(3) == 0 ? (int64_t)draw(6) : -1;
        check_node(&n, i);
    }
}

/* One query for each head, as a decoder generates: 2 to 9 heads share keys, whole blocks and fewer, with a cache of which some
   rows count, and work for several threads. */
static void test_decoding(void **unused)
{
    static const int32_t widths[] = {8, 17, 64, 80};
    (void)unused;
    state = 43;
    for (uint32_t i = 0; i < 40; i++) {
        sizes n;
        memset(&n, 0, sizeof(n));
        n.b = 1 + (int32_t)draw(2);
        n.heads = 1 + (int32_t)draw(4);
        n.shared = 2 + (int32_t)draw(8);
        n.s = 1;
        n.u = 1 + (int32_t)draw(300);
        n.d = widths[draw(COUNT(widths))];
        n.v = draw(2) == 0 ? n.d : widths[draw(COUNT(widths))];
        n.folded = draw(2) == 0;
        n.lengths = draw(4) != 0;
        n.mask = draw(3) == 0 ? FLOATS : NO_MASK;
        n.maskDims[0] = 1;
        n.maskDims[1] = n.heads * n.shared;
        n.maskDims[2] = 1;
        n.maskDims[3] = n.u;
        n.attr.isCausal = n.lengths;
        n.attr.qNumHeads = n.heads * n.shared;
        n.attr.kvNumHeads = n.heads;
        n.attr.scale = 0.3f;
        n.attr.softcap = draw(4) == 0 ? 1.5f : 0;
        n.attr.leftWindowSize = draw(3) == 0 ? (int64_t)draw(60) : -1;
        n.attr.rightWindowSize = -1;
        check_node(&n, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attention), cmocka_unit_test(test_decoding),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
