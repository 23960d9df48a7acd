/* MATMUL_FUSION and FULL_CONNECTION of float64 on the fast device (devices/nnrt_cpu.h), with each instruction set of this
   machine: around the borders of vectors, panels, register tiles and work items, transposed, broadcast, with bias and
   activations, of constants and of two inputs; with one, two, three and eight workers, and with dynamic shapes. Expected are
   sums of exact products, in long double. */
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

#define F64 NNRT_DATA_TYPE_FLOAT64

/* z [a,b,M,N] = x [a,1,M,K] * y [1,b,K,N] + bias; b 0: y [K,N], z [a,M,N]. full: FULL_CONNECTION of x [M,K], weight [N,K]. */
typedef struct spec {
    int32_t a, b, M, K, N;
    bool turnA, turnB, bias, constant, full;
    NNRT_ActivationType activation;
} spec;

static double *doubles(size_t count)
{
    double *made = (double *)malloc((count + 1) * sizeof(double));
    for (size_t i = 0; i < count; i++)
        made[i] = (double)draw(1u << 30) / (1 << 29) - 1 + (double)draw(1u << 30) * 0x1p-59;
    return made;
}

static int32_t dims_of_x(const spec *s, int32_t dims[4])
{
    int32_t rank = 0;
    if (!s->full)
        dims[rank++] = s->a;
    if (s->b > 0)
        dims[rank++] = 1;
    dims[rank] = s->turnA ? s->K : s->M;
    dims[rank + 1] = s->turnA ? s->M : s->K;
    return rank + 2;
}

static int32_t dims_of_y(const spec *s, int32_t dims[4])
{
    int32_t rank = 0;
    if (s->b > 0) {
        dims[rank++] = 1;
        dims[rank++] = s->b;
    }
    dims[rank] = s->turnB ? s->N : s->K;
    dims[rank + 1] = s->turnB ? s->K : s->N;
    return rank + 2;
}

static size_t results_of(const spec *s)
{
    return (size_t)s->a * (size_t)(s->b > 0 ? s->b : 1) * (size_t)s->M * (size_t)s->N;
}

static double activated(double v, NNRT_ActivationType type)
{
    switch (type) {
    case NNRT_ACTIVATION_TYPE_RELU: return v > 0 ? v : 0;
    case NNRT_ACTIVATION_TYPE_RELU6: return v > 6 ? 6 : v > 0 ? v : 0;
    case NNRT_ACTIVATION_TYPE_TANH: return tanh(v);
    default: return v;
    }
}

/* A sum starts with the bias, and has at most two roundings of each term, one of the product and the others of the additions:
   K + 1 roundings of 2^-53 of the sum of all magnitudes. tanh does not enlarge an error, and is within 4 ulp. */
static void check_results(const spec *s, const double *x, const double *y, const double *bias, const double *z,
                          const char *device)
{
    const int32_t B = s->b > 0 ? s->b : 1;
    for (int32_t i = 0; i < s->a * B; i++)
        for (int32_t m = 0; m < s->M; m++)
            for (int32_t n = 0; n < s->N; n++) {
                const double *const p = x + (size_t)(i / B) * (size_t)s->M * (size_t)s->K;
                const double *const q = y + (size_t)(i % B) * (size_t)s->K * (size_t)s->N;
                const double got = z[((size_t)i * (size_t)s->M + (size_t)m) * (size_t)s->N + (size_t)n];
                long double sum = s->bias ? bias[n] : 0, size = fabsl(sum);
                double expected, bound;
                for (int32_t k = 0; k < s->K; k++) {
                    const long double a = p[s->turnA ? k * s->M + m : m * s->K + k],
                                      b = q[s->turnB ? n * s->K + k : k * s->N + n];
                    sum += a * b;
                    size += fabsl(a * b);
                }
                expected = activated((double)sum, s->activation);
                bound = SECOND * (s->K + 2) * 0x1p-53 * (double)size + 8 * 0x1p-53 * fabs(expected);
                if (!(fabs(got - expected) <= bound))
                    fail_msg("%s: %d x [%d,%d] by %d x [%d,%d], transposed %d %d, constant %d: element %d,%d,%d is "
                             "%.17g, expected "
                             "%.17g within %.3g",
                             device, s->a, s->M, s->K, s->b, s->K, s->N, s->turnA, s->turnB, s->constant, i, m, n, got,
                             expected, bound);
            }
}

/* dynamic: all dimensions of x except 1; of y, if it is an input, too, but not that of the bias. */
static NNRT_Model *make(const spec *s, const double *y, const double *bias, bool dynamic)
{
    int32_t x[4], dims[4], rank = dims_of_x(s, x), rankY = dims_of_y(s, dims);
    NNRT_MatMulFusion attr;
    NNRT_FullConnection full;
    nnrt_builder *b = NULL;
    uint32_t in[3];
    for (int32_t i = 0; i < rank && dynamic; i++)
        x[i] = x[i] == 1 ? 1 : -1;
    for (int32_t i = 0; i < rankY && dynamic && !s->constant; i++)
        dims[i] = dims[i] == 1 || (s->bias && i == rankY - (s->turnB ? 2 : 1)) ? dims[i] : -1;
    memset(&attr, 0, sizeof(attr));
    memset(&full, 0, sizeof(full));
    attr.transposeA = s->turnA;
    attr.transposeB = s->turnB;
    attr.activationType = full.activationType = s->activation;
    full.hasBias = s->bias;
    assert_int_equal(nnrt_builder_create(&b, "product", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", F64, rank, x);
    in[1] = s->constant ? nnrt_builder_constant(b, "y", F64, rankY, dims, y, true)
                        : nnrt_builder_input(b, "y", F64, rankY, dims);
    in[2] = s->bias ? nnrt_builder_constant(b, "bias", F64, 1, &s->N, bias, true) : NNRT_NO_TENSOR;
    nnrt_builder_output(b,
                        nnrt_builder_op(b, "z", s->full ? NNRT_NODE_TYPE_FULL_CONNECTION : NNRT_NODE_TYPE_MATMUL_FUSION,
                                        s->full ? (const void *)&full : &attr, in, 3));
    return finish(b);
}

/* Numbers of the largest spec. */
typedef struct numbers {
    double *x, *y, *bias, *z[2];
} numbers;

static numbers numbers_of(const spec *s)
{
    numbers n;
    n.x = doubles((size_t)s->a * (size_t)s->M * (size_t)s->K);
    n.y = doubles((size_t)(s->b > 0 ? s->b : 1) * (size_t)s->K * (size_t)s->N);
    n.bias = doubles((size_t)s->N);
    n.z[0] = doubles(results_of(s));
    n.z[1] = doubles(results_of(s));
    return n;
}

static void numbers_free(const numbers *n)
{
    free(n->x);
    free(n->y);
    free(n->bias);
    free(n->z[0]);
    free(n->z[1]);
}

static uint32_t inputs_of(const spec *s, const numbers *n, nnrt_io in[2], int32_t dims[2][4])
{
    const int32_t rankX = dims_of_x(s, dims[0]), rankY = dims_of_y(s, dims[1]);
    in[0] = nnrt_io_make(n->x, product_of(rankX, dims[0]) * sizeof(double));
    in[1] = nnrt_io_make(n->y, product_of(rankY, dims[1]) * sizeof(double));
    in[0].dims = dims[0];
    in[1].dims = dims[1];
    return s->constant ? 1 : 2;
}

/* Whether an instruction set rounds a product before its addition, as the reference device does. */
static bool rounds_products(const char *set)
{
    return strcmp(set, "cpu-vector") == 0 || strcmp(set, "cpu-simd128") == 0;
}

static void check_spec(const spec *s)
{
    const numbers n = numbers_of(s);
    const size_t bytes = results_of(s) * sizeof(double);
    NNRT_Model *model = make(s, n.y, n.bias, false);
    int32_t dims[2][4];
    nnrt_io in[2];
    const uint32_t nIn = inputs_of(s, &n, in, dims);
    for (uint32_t k = 0; k < nSets; k++) {
        if (has_no_floats(k))
            continue;
        kernel = "matmul_f64";
        for (uint32_t workers = 0; workers <= 8; workers += workers == 3 ? 5 : 1) {
            const nnrt_io out = nnrt_io_make(n.z[workers > 0], bytes);
            memset(out.data, 0xA5, bytes);
            (void)run_session(sets[k], model, in, nIn, &out, 1, workers, NULL);
            if (workers > 0 && memcmp(n.z[0], n.z[1], bytes) != 0)
                fail_msg("%s: %u workers give other bits than one", sets[k], (unsigned)workers);
        }
        kernel = NULL;
        check_results(s, n.x, n.y, n.bias, n.z[0], sets[k]);
#if defined(__x86_64__) && !defined(__FMA__) /* the compiler cannot fuse a product and a sum either */
        if (rounds_products(sets[k])) {
            const nnrt_io out = nnrt_io_make(n.z[1], bytes);
            (void)run_session("reference", model, in, nIn, &out, 1, 0, NULL);
            assert_memory_equal(n.z[0], n.z[1], bytes);
        }
#else
        (void)rounds_products;
#endif
    }
    nnrt_model_destroy(model);
    numbers_free(&n);
}

static const NNRT_ActivationType activations[] = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION, NNRT_ACTIVATION_TYPE_RELU,
                                                  NNRT_ACTIVATION_TYPE_RELU6, NNRT_ACTIVATION_TYPE_TANH};

static void test_products(void **unused)
{
    static const int32_t rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 33, 257, 520},
                         columns[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 50};
    (void)unused;
    state = 1;
    for (uint32_t i = 0; i < 8 * COUNT(rows); i++) {
        spec s;
        memset(&s, 0, sizeof(s));
        s.M = rows[i % COUNT(rows)];
        s.N = columns[draw(COUNT(columns))];
        s.K = 1 + (int32_t)draw(i % 9 == 0 ? 300 : 40);
        s.a = 1 + (int32_t)draw(s.M < 20 ? 5 : 1);
        s.b = i % 3 == 0 ? 1 + (int32_t)draw(4) : 0;
        s.full = i % 7 == 0;
        s.turnA = !s.full && i / 2 % 2 == 0;
        s.turnB = s.full || i / 4 % 2 == 0;
        s.bias = i % 5 < 2;
        s.constant = s.full || i % 2 == 0;
        s.activation = activations[draw(COUNT(activations))];
        if (s.full) {
            s.a = 1;
            s.b = 0;
        }
        check_spec(&s);
    }
}

/* -0 and NaN: RELU of a NaN is NaN, as on the reference device; a sum of -0 without a bias is 0 + -0. */
static void test_special(void **unused)
{
    static const double x[8] = {-0.0, NAN, INFINITY, -1, 1e308, 1e-308, 0, -INFINITY}, one[1] = {1};
    const spec s = {1, 0, 8, 1, 1, false, false, false, true, false, NNRT_ACTIVATION_TYPE_RELU};
    NNRT_Model *model = make(&s, one, NULL, false);
    const nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, sizeof(x));
    (void)unused;
    for (uint32_t k = 0; k < nSets; k++) {
        double z[8];
        const nnrt_io out = nnrt_io_make(z, sizeof(z));
        if (has_no_floats(k))
            continue;
        (void)run_session(sets[k], model, &in, 1, &out, 1, 0, NULL);
        assert_true(z[0] == 0 && !signbit(z[0]) && isnan(z[1]) && z[2] == INFINITY && z[3] == 0 && z[4] == 1e308 &&
                    z[5] == 1e-308 && z[6] == 0 && z[7] == 0);
    }
    nnrt_model_destroy(model);
}

/* The bits of a session of that size. */
static void test_dynamic(void **unused)
{
    (void)unused;
    state = 2;
    for (uint32_t i = 0; i < 16; i++) {
        spec most = {5,
                     i % 4 == 1 ? 3 : 0,
                     70,
                     40,
                     37,
                     i % 3 == 1,
                     i / 2 % 2 == 0,
                     i % 2 == 0,
                     i % 2 == 0,
                     false,
                     activations[i % COUNT(activations)]};
        const numbers n = numbers_of(&most);
        NNRT_Model *model = make(&most, n.y, n.bias, true);
        for (uint32_t k = 0; k < nSets; k++) {
            nnrt_session *session = NULL;
            NNRT_Extension extensions[MOST_EXTENSIONS];
            nnrt_session_desc desc;
            nnrt_bound bounds[2];
            nnrt_error e;
            int32_t dims[2][4];
            if (has_no_floats(k))
                continue;
            kernel = "matmul_f64";
            memset(&desc, 0, sizeof(desc));
            memset(bounds, 0, sizeof(bounds));
            memset(&e, 0, sizeof(e));
            bounds[0].tensor = "x";
            bounds[0].most.rank = dims_of_x(&most, bounds[0].most.dims);
            if (most.constant) /* the constant has fewer terms than the bound */
                bounds[0].most.dims[bounds[0].most.rank - (most.turnA ? 2 : 1)] += 3;
            bounds[1].tensor = "y";
            bounds[1].most.rank = dims_of_y(&most, bounds[1].most.dims);
            desc.device = sets[k];
            desc.bounds = nnrt_bound_list_make(bounds, most.constant ? 1 : 2);
            add_extensions(&desc, extensions);
            if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
                fail_msg("%s: %s", sets[k], e.message);
            for (uint32_t run = 0; run < 12; run++) {
                spec s = most;
                NNRT_Model *fixed;
                nnrt_io in[2], out[2];
                uint32_t nIn;
                if (run > 0) {
                    s.a = 2 + (int32_t)draw(4);
                    s.M = 1 + (int32_t)draw(70);
                    s.K = s.constant ? s.K : 1 + (int32_t)draw(40);
                    s.N = s.constant || s.bias ? s.N : 1 + (int32_t)draw(37);
                }
                nIn = inputs_of(&s, &n, in, dims);
                out[0] = nnrt_io_make(n.z[0], results_of(&s) * sizeof(double));
                out[1] = nnrt_io_make(n.z[1], results_of(&s) * sizeof(double));
                fixed = make(&s, n.y, n.bias, false);
                (void)run_session(sets[k], fixed, in, nIn, &out[0], 1, 0, NULL);
                check_results(&s, n.x, n.y, n.bias, n.z[0], sets[k]);
                memset(n.z[1], 0xA5, results_of(&s) * sizeof(double));
                if (nnrt_run(session, in, nIn, &out[1], 1) != NNRT_SUCCESS)
                    fail_msg("%s: %s", sets[k], nnrt_session_error(session));
                if (memcmp(n.z[0], n.z[1], results_of(&s) * sizeof(double)) != 0)
                    fail_msg("variant %u, M %d, K %d, N %d on %s: the bits differ from a session of that size",
                             (unsigned)i, s.M, s.K, s.N, sets[k]);
                nnrt_model_destroy(fixed);
            }
            nnrt_session_destroy(session);
            kernel = NULL;
        }
        nnrt_model_destroy(model);
        numbers_free(&n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_special),
        cmocka_unit_test(test_dynamic),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
