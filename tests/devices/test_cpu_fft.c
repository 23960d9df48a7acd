/* DFT and STFT on the fast device (devices/nnrt_cpu.h), with each instruction set of this machine: lengths of all radices,
   of large prime factors, and around the borders of vectors; real, complex, and inverse transforms; with one, two, three
   and eight workers, with the least memory, and with dynamic shapes. Expected are the defining sums in double. */
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

#define F16 NNRT_DATA_TYPE_FLOAT16
#define I64 NNRT_DATA_TYPE_INT64
#define TWO_PI 6.283185307179586

/* A transform along axis 1 of x [a,length,b,parts], to N values. window: STFT of x [a,length,parts], frames of N values,
   `step` apart. */
typedef struct spec {
    int32_t a, length, b, parts, N, step;
    bool inverse, onesided, given, window, half;
} spec;

/* ---- error bound ---- */

/* Roundings of a transform of n values by stages, relative to the Euclidean norm of its results; 0: n has a prime factor
   above 31. A stage of radix r multiplies by rounded twiddle factors: 4 roundings, with FMA 3. Radix 2 has one addition
   before, radix 4 two. Sums over the values of another radix have at most (r - 1) / 2 + 4 roundings of each term, in both
   components; in the norm they can grow by sqrt(r) more than the results. */
static double roundings_of_stages(int32_t n)
{
    double sum = 0;
    for (; n % 4 == 0; n /= 4)
        sum += 6;
    for (; n % 2 == 0; n /= 2)
        sum += 5;
    for (int32_t r = 3; r <= 31; r += 2)
        for (; n % r == 0; n /= r)
            sum += 2 * sqrt(r) * ((r - 1) / 2 + 4) + 4;
    return n == 1 ? sum : 0;
}

/* A length of a large prime factor: the chirp, the filter and the chirp again have 4 roundings each, and two transforms of
   P values lie between. The filter amplifies by at most 2.5 sqrt(n): 2.18 sqrt(n) is its largest factor for n from 37 to 1500. */
static double roundings_of_complex(int32_t n)
{
    const double direct = n > 1 ? roundings_of_stages(n) : 0;
    int32_t P = 4;
    while (P < 2 * n - 1)
        P *= 2;
    return n == 1 || direct > 0 ? direct : 2.5 * (2 * roundings_of_stages(P) + 12);
}

/* The norm of the errors of a transform's results, relative to the norm of all N exact results. An even number of real
   values is a transform of half the length; to separate its halves adds two errors of each, sqrt(2) in the norm, and 12
   roundings. Window and scale: 3. */
static double bound_of(const spec *s)
{
    const bool real = s->parts == 1 || (s->inverse && s->onesided);
    return SECOND * ROUNDING *
           (real && s->N % 2 == 0 ? 1.4143 * roundings_of_complex(s->N / 2) + 15 : roundings_of_complex(s->N) + 3);
}

/* ---- expected ---- */

static int32_t frames_of(const spec *s)
{
    return s->window ? (s->length - s->N) / s->step + 1 : 1;
}

/* Frequencies or values of a result. */
static int32_t bins_of(const spec *s)
{
    return s->onesided && !s->inverse ? s->N / 2 + 1 : s->N;
}

static size_t inputs_of(const spec *s)
{
    return (size_t)s->a * (size_t)s->length * (size_t)s->b * (size_t)s->parts;
}

static int32_t parts_of(const spec *s)
{
    return s->inverse && s->onesided ? 1 : 2;
}

static size_t outputs_of(const spec *s)
{
    return (size_t)s->a * (size_t)frames_of(s) * (size_t)bins_of(s) * (size_t)s->b * (size_t)parts_of(s);
}

/* The N values that a transform reads: v[2n] + i v[2n+1], of x from `at` on, elements `stride` apart. */
static void values_of(const spec *s, const float *x, size_t at, size_t stride, const float *window, double *v)
{
    const bool joined = s->inverse && s->onesided;
    const int32_t used = joined ? s->N / 2 + 1 : s->N;
    memset(v, 0, 2 * (size_t)s->N * sizeof(*v));
    for (int32_t n = 0; n < used && (s->window || n < s->length); n++) {
        const float *const from = x + at + (size_t)n * stride;
        const double w = window != NULL ? window[n] : 1;
        v[2 * n] = from[0] * w;
        v[2 * n + 1] = s->parts == 2 ? from[1] * w : 0;
        if (!joined)
            continue;
        if (n == 0 || 2 * n == s->N) { /* its own conjugate */
            v[2 * n + 1] = 0;
        } else {
            v[2 * (s->N - n)] = v[2 * n];
            v[2 * (s->N - n) + 1] = -v[2 * n + 1];
        }
    }
}

/* Transform t of `expected`; *norm: of all N exact results. */
static void transform(const spec *s, const double *v, double *y, double *norm)
{
    double *c = (double *)malloc(2 * (size_t)s->N * sizeof(*c));
    *norm = 0;
    for (int32_t n = 0; n < s->N; n++) {
        c[2 * n] = cos(TWO_PI * n / s->N);
        c[2 * n + 1] = (s->inverse ? 1 : -1) * sin(TWO_PI * n / s->N);
        *norm += v[2 * n] * v[2 * n] + v[2 * n + 1] * v[2 * n + 1];
    }
    *norm = sqrt(s->inverse ? *norm / s->N : *norm * s->N);
    for (int32_t k = 0; k < bins_of(s); k++) {
        double re = 0, im = 0;
        for (int32_t n = 0; n < s->N; n++) {
            const double *const w = c + 2 * ((int64_t)k * n % s->N);
            re += v[2 * n] * w[0] - v[2 * n + 1] * w[1];
            im += v[2 * n] * w[1] + v[2 * n + 1] * w[0];
        }
        y[2 * k] = s->inverse ? re / s->N : re;
        y[2 * k + 1] = s->inverse ? im / s->N : im;
    }
    free(c);
}

/* Checks all transforms of y. */
static void check_results(const spec *s, const float *x, const float *window, const float *y, const char *device)
{
    const int32_t F = frames_of(s), bins = bins_of(s), parts = parts_of(s);
    const size_t strideX = (size_t)s->b * (size_t)s->parts, strideY = (size_t)s->b * (size_t)parts;
    double *v = (double *)malloc(2 * (size_t)s->N * sizeof(*v)), *e = (double *)malloc(2 * (size_t)bins * sizeof(*e));
    for (int32_t t = 0; t < s->a * F * s->b; t++) {
        const int32_t b = t % s->b, f = t / s->b % F, a = t / s->b / F;
        const size_t from =
            ((size_t)a * (size_t)s->length + (size_t)f * (size_t)s->step) * strideX + (size_t)b * (size_t)s->parts;
        const size_t to = (size_t)(a * F + f) * (size_t)bins * strideY + (size_t)b * (size_t)parts;
        double norm, error = 0, rounded = 0;
        values_of(s, x, from, strideX, window, v);
        transform(s, v, e, &norm);
        for (int32_t k = 0; k < bins; k++)
            for (int32_t part = 0; part < parts; part++) {
                const double exact = e[2 * k + part], d = y[to + (size_t)k * strideY + (size_t)part] - exact;
                error += d * d;
                rounded += s->half ? exact * exact * 0x1p-22 + 0x1p-50 : 0; /* to float16: 2^-11, or 2^-25 */
            }
        if (!(sqrt(error) <= bound_of(s) * norm + 1.01 * sqrt(rounded)))
            fail_msg("%s: N %d, x [%d,%d,%d,%d], inverse %d, onesided %d, step %d, transform %d: the norm of its "
                     "errors is %.3g, expected at most %.3g",
                     device, s->N, s->a, s->length, s->b, s->parts, s->inverse, s->onesided, s->step, t, sqrt(error),
                     bound_of(s) * norm + 1.01 * sqrt(rounded));
    }
    free(e);
    free(v);
}

/* ---- models ---- */

/* dynamic: all dimensions of x but the last one. A dynamic x of a DFT to a length that is not given has that many values. */
static NNRT_Model *make(const spec *s, const float *window, bool dynamic)
{
    const int32_t all[4] = {s->a, s->length, s->window ? s->parts : s->b, s->parts}, rank = s->window ? 3 : 4;
    const NNRT_DataType type = s->half ? F16 : F32;
    const int64_t step = s->step, N = s->N;
    int32_t dims[4];
    NNRT_DFT dft;
    NNRT_STFT stft;
    nnrt_builder *b = NULL;
    uint32_t in[4], nIn = 1;
    for (int32_t i = 0; i < rank; i++)
        dims[i] = dynamic && i + 1 < rank ? -1 : all[i];
    assert_int_equal(nnrt_builder_create(&b, "fft", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", type, rank, dims);
    if (s->window) {
        stft.onesided = s->onesided;
        in[1] = nnrt_builder_constant(b, "step", I64, 0, NULL, &step, true);
        in[2] = window != NULL ? nnrt_builder_constant(b, "window", F32, 1, &s->N, window, true) : NNRT_NO_TENSOR;
        in[3] = nnrt_builder_constant(b, "length", I64, 0, NULL, &N, true);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_STFT, &stft, in, 4));
    } else {
        dft.axis = 1;
        dft.inverse = s->inverse;
        dft.onesided = s->onesided;
        if (s->given)
            in[nIn++] = nnrt_builder_constant(b, "length", I64, 0, NULL, &N, true);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_DFT, &dft, in, nIn));
    }
    return finish(b);
}

static nnrt_session *dynamic_session(const NNRT_Model *model, const char *device, const spec *most)
{
    nnrt_session *session = NULL;
    NNRT_Extension extensions[MOST_EXTENSIONS];
    nnrt_session_desc desc;
    nnrt_bound bound;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&bound, 0, sizeof(bound));
    memset(&e, 0, sizeof(e));
    bound.tensor = "x";
    bound.most.rank = most->window ? 3 : 4;
    bound.most.dims[0] = most->a;
    bound.most.dims[1] = most->length;
    bound.most.dims[2] = most->window ? most->parts : most->b;
    bound.most.dims[3] = most->parts;
    desc.device = device;
    desc.bounds = nnrt_bound_list_make(&bound, 1);
    add_extensions(&desc, extensions);
    if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, e.message);
    return session;
}

static void run_dynamic(nnrt_session *session, const spec *s, const void *x, void *y)
{
    const int32_t dims[4] = {s->a, s->length, s->window ? s->parts : s->b, s->parts};
    const size_t width = s->half ? 2 : sizeof(float);
    nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, inputs_of(s) * width), out = nnrt_io_make(y, outputs_of(s) * width);
    in.dims = dims;
    if (nnrt_run(session, &in, 1, &out, 1) != NNRT_SUCCESS)
        fail_msg("N %d: %s", s->N, nnrt_session_error(session));
}

/* Runs a spec with each instruction set: within the bound, and the same bits for any number of workers and with the least
   memory. */
static void check_spec(const spec *s)
{
    const size_t nX = inputs_of(s), nY = outputs_of(s);
    float *x = reals(nX), *y = reals(nY), *window = reals((size_t)s->N);
    uint16_t *halves = (uint16_t *)malloc((nX + nY + 1) * sizeof(*halves)), *results = halves + nX;
    const float *const used = s->window && s->N % 3 != 0 ? window : NULL;
    const size_t width = s->half ? 2 : sizeof(float);
    NNRT_Model *model = make(s, used, false);
    for (size_t i = 0; i < nX && s->half; i++) {
        halves[i] = nnrt_half_from_float(x[i]);
        x[i] = nnrt_half_to_float(halves[i]);
    }
    for (uint32_t k = 0; k < nSets; k++) {
        const nnrt_io in = nnrt_io_make(s->half ? (void *)halves : x, nX * width);
        const nnrt_io out = nnrt_io_make(s->half ? (void *)results : y, nY * width);
        uint8_t *first = (uint8_t *)malloc(nY * width);
        if (has_no_floats(k)) {
            free(first);
            continue;
        }
        kernel = s->N > 16 ? "fft" : NULL; /* fewer values keep the reference kernel */
        for (uint32_t workers = 0; workers <= 9; workers += workers == 3 ? 5 : 1) { /* 9: the least memory */
            memset(out.data, 0xA5, nY * width);
            memory = workers == 9 ? "smallest" : NULL;
            (void)run_session(sets[k], model, &in, 1, &out, 1, workers < 9 ? workers : 0, NULL);
            if (workers == 0)
                memcpy(first, out.data, nY * width);
            else if (memcmp(first, out.data, nY * width) != 0)
                fail_msg("N %d on %s: %u workers give other bits than one", s->N, sets[k], (unsigned)workers);
        }
        kernel = memory = NULL;
        for (size_t i = 0; i < nY && s->half; i++)
            y[i] = nnrt_half_to_float(results[i]);
        check_results(s, x, used, y, sets[k]);
        free(first);
    }
    nnrt_model_destroy(model);
    free(halves);
    free(window);
    free(y);
    free(x);
}

/* ---- tests ---- */

/* Radices and their products, primes below and above the largest radix and their products with others, powers of two. */
static const int32_t lengths[] = {
    1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12,  13,  14,  15,  16,  17,  18,  19,   20,   21,   22,
    23,  25,  27,  29,  31,  32,  33,  34,  35,  37,  38,  41,  45,  48,  49,  60,  62,  64,  74,   77,   81,   96,
    100, 121, 125, 127, 128, 144, 158, 202, 240, 256, 257, 331, 400, 480, 509, 512, 640, 961, 1000, 1018, 1024, 1201};

/* One of the six kinds of transforms. */
static spec spec_of(int32_t N, uint32_t kind)
{
    spec s;
    memset(&s, 0, sizeof(s));
    s.N = N;
    s.parts =
        kind < 3 ? 1 : 2; /* real: all frequencies, half of them, inverse; complex: forward, inverse, to real values */
    s.inverse = kind == 2 || kind >= 4;
    s.onesided = kind == 1 || kind == 5;
    s.given = kind == 5;
    s.length = kind == 5 ? N / 2 + 1 : N;
    s.a = s.b = 1;
    return s;
}

static void test_lengths(void **unused)
{
    (void)unused;
    state = 1;
    for (uint32_t i = 0; i < COUNT(lengths); i++)
        for (uint32_t kind = 0; kind < 6; kind++) {
            spec s = spec_of(lengths[i], kind);
            s.a = lengths[i] > 130 ? 1 + (int32_t)(i + kind) % 2 : 1 + (int32_t)draw(21);
            check_spec(&s);
        }
}

/* An axis before others, and lengths that exceed the values of x, or are less. */
static void test_axes(void **unused)
{
    (void)unused;
    state = 2;
    for (uint32_t i = 0; i < 90; i++) {
        spec s = spec_of(1 + (int32_t)draw(90), i % 6);
        s.a = 1 + (int32_t)draw(3);
        s.b = 1 + (int32_t)draw(20);
        s.half = i % 5 == 0;
        if (i % 3 == 0) {
            s.given = true;
            s.length = 1 + (int32_t)draw(90);
        }
        check_spec(&s);
    }
}

static void test_frames(void **unused)
{
    static const int32_t windows[] = {1, 2, 5, 16, 24, 37, 60, 64, 111, 128};
    (void)unused;
    state = 3;
    for (uint32_t i = 0; i < 4 * COUNT(windows); i++) {
        spec s = spec_of(windows[i / 4], i % 4 == 0 ? 3 : i % 4 == 1 ? 0 : 1);
        s.window = true;
        s.step = 1 + (int32_t)draw(40);
        s.a = 1 + (int32_t)draw(3);
        s.length = s.N + (int32_t)draw(200);
        check_spec(&s);
    }
}

/* Batches of transforms with a length, or a signal, of the run: the bits of a session of that size. */
static void test_dynamic(void **unused)
{
    (void)unused;
    state = 4;
    for (uint32_t kind = 0; kind < 8; kind++) { /* 6 and 7: STFT */
        spec most = spec_of(kind < 6 ? 300 : 60, kind < 6 ? kind : kind == 6 ? 1 : 3);
        float *x, *y[2], *window;
        NNRT_Model *model;
        most.given = false;
        most.a = 9;
        most.b = kind < 6 ? 3 : 1;
        most.window = kind >= 6;
        most.step = most.window ? 7 : 0;
        most.length = most.window ? 400 : most.length;
        x = reals(inputs_of(&most));
        y[0] = reals(outputs_of(&most));
        y[1] = reals(outputs_of(&most));
        window = reals((size_t)most.N);
        model = make(&most, most.window ? window : NULL, true);
        for (uint32_t k = 0; k < nSets; k++) {
            nnrt_session *session;
            if (has_no_floats(k))
                continue;
            kernel = "fft";
            session = dynamic_session(model, sets[k], &most);
            for (uint32_t i = 0; i < 40; i++) {
                spec s = most;
                NNRT_Model *fixed;
                nnrt_io in, out;
                s.a = i == 0 ? most.a : 1 + (int32_t)draw((uint32_t)most.a);
                s.b = i == 0 ? most.b : 1 + (int32_t)draw((uint32_t)most.b);
                if (most.window && i > 0)
                    s.length = most.N + (int32_t)draw((uint32_t)(most.length - most.N + 1));
                else if (i > 0)
                    s.length = kind == 5 ? 2 + (int32_t)draw((uint32_t)most.length - 1)
                                         : 1 + (int32_t)draw((uint32_t)most.length);
                if (!most.window)
                    s.N = kind == 5 ? 2 * (s.length - 1) : s.length;
                fixed = make(&s, most.window ? window : NULL, false);
                in = nnrt_io_make(x, inputs_of(&s) * sizeof(float));
                out = nnrt_io_make(y[0], outputs_of(&s) * sizeof(float));
                kernel = s.N > 16 ? "fft" : NULL;
                (void)run_session(sets[k], fixed, &in, 1, &out, 1, 0, NULL);
                check_results(&s, x, most.window ? window : NULL, y[0], sets[k]);
                memset(y[1], 0xA5, outputs_of(&s) * sizeof(float));
                run_dynamic(session, &s, x, y[1]);
                if (memcmp(y[0], y[1], outputs_of(&s) * sizeof(float)) != 0)
                    fail_msg("kind %u, N %d on %s: the bits differ from a session of that size", (unsigned)kind, s.N,
                             sets[k]);
                nnrt_model_destroy(fixed);
            }
            nnrt_session_destroy(session);
            kernel = NULL;
        }
        nnrt_model_destroy(model);
        free(window);
        free(y[1]);
        free(y[0]);
        free(x);
    }
}

/* A NaN, or an infinite value, stays in its transform: the others have the same bits as without it. */
static void test_nan(void **unused)
{
    (void)unused;
    state = 5;
    for (uint32_t kind = 0; kind < 6; kind++)
        for (uint32_t i = 0; i < 3; i++) {
            spec s = spec_of(i == 0 ? 37 : i == 1 ? 64 : 30, kind);
            float *x, *y[2];
            NNRT_Model *model;
            size_t row, bad;
            s.a = 19;
            x = reals(inputs_of(&s));
            y[0] = reals(outputs_of(&s));
            y[1] = reals(outputs_of(&s));
            row = outputs_of(&s) / (size_t)s.a;
            bad = draw(19);
            model = make(&s, NULL, false);
            for (uint32_t k = 0; k < nSets; k++) {
                if (has_no_floats(k))
                    continue;
                (void)run_on(sets[k], model, x, inputs_of(&s), y[0], outputs_of(&s), 0);
                x[bad * inputs_of(&s) / (size_t)s.a] = k % 2 == 0 ? NAN : INFINITY;
                (void)run_on(sets[k], model, x, inputs_of(&s), y[1], outputs_of(&s), 0);
                x[bad * inputs_of(&s) / (size_t)s.a] = 1;
                (void)run_on(sets[k], model, x, inputs_of(&s), y[0], outputs_of(&s), 0);
                assert_memory_equal(y[0], y[1], bad * row * sizeof(float));
                assert_memory_equal(y[0] + (bad + 1) * row, y[1] + (bad + 1) * row, (18 - bad) * row * sizeof(float));
                for (size_t e = 0; e < row; e += (size_t)parts_of(&s))
                    assert_false(isfinite(y[1][bad * row + e]));
            }
            nnrt_model_destroy(model);
            free(y[1]);
            free(y[0]);
            free(x);
        }
}

/* Tables, scratch and the temporary filter are counted to the byte. */
static void test_bytes(void **unused)
{
    static const int32_t N[] = {37, 48, 74, 512};
    (void)unused;
    state = 6;
    for (uint32_t i = 0; i < COUNT(N); i++) {
        spec s = spec_of(N[i], i == 1 ? 3 : 0);
        float *x, *y;
        NNRT_Model *model;
        nnrt_session_desc desc;
        nnrt_io in, out;
        s.a = 7;
        x = reals(inputs_of(&s));
        y = reals(outputs_of(&s));
        in = nnrt_io_make(x, inputs_of(&s) * sizeof(float));
        out = nnrt_io_make(y, outputs_of(&s) * sizeof(float));
        model = make(&s, NULL, false);
        memset(&desc, 0, sizeof(desc));
        desc.device = "cpu";
        (void)run_in_bytes(model, desc, &in, &out);
        check_results(&s, x, NULL, y, "cpu");
        nnrt_model_destroy(model);
        free(y);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_axes), cmocka_unit_test(test_frames),
        cmocka_unit_test(test_dynamic), cmocka_unit_test(test_nan),  cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
