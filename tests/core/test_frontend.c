/* nnrt_frontend.h: descriptions and memory that are refused, exact sizes, streams, and features whose values are known
   without another implementation. tests/core/test_spectra.py compares with numpy, and the int16 arithmetic bit for bit with
   the text of the header; tests/core/test_frontend_bits.sh compares compilers and processors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/nnrt_frontend.h"

/* A front end in blocks of exactly the sizes that it asks for, so that the sanitizers see both ends. */
typedef struct front {
    nnrt_frontend frontend;
    nnrt_frontend_stream stream;
    void *tables, *memory;
    size_t tableBytes, memoryBytes;
} front;

/* 10 MFCC of 40 ms every 20 ms. */
static nnrt_frontend_desc kws(void)
{
    nnrt_frontend_desc d;
    memset(&d, 0, sizeof(d));
    d.rate = 16000;
    d.window = 640;
    d.hop = 320;
    d.fft = 1024;
    d.mels = 40;
    d.lower = 20;
    d.upper = 4000;
    d.dct = 10;
    d.output = NNRT_DATA_TYPE_INT16;
    d.scale = 0.01f;
    return d;
}

static void front_open(front *f, const nnrt_frontend_desc *d)
{
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_frontend_size(d, &f->tableBytes, &f->memoryBytes, &error), NNRT_SUCCESS);
    f->tables = malloc(f->tableBytes);
    f->memory = malloc(f->memoryBytes);
    assert_int_equal(nnrt_frontend_init(&f->frontend, d, f->tables, f->tableBytes, &error), NNRT_SUCCESS);
    assert_int_equal(nnrt_frontend_stream_bytes(&f->frontend), f->memoryBytes);
    assert_int_equal(nnrt_frontend_start(&f->stream, &f->frontend, f->memory, f->memoryBytes), NNRT_SUCCESS);
}

static void front_close(front *f)
{
    free(f->tables);
    free(f->memory);
}

/* Pushes samples in pieces of at most `piece`; rows receives the rows, one after another. Returns their number. */
static int32_t front_push(front *f, const int16_t *samples, size_t count, size_t piece, int16_t *rows)
{
    int32_t n = 0;
    for (size_t used = 0; used < count;) {
        bool ready;
        const size_t left = count - used < piece ? count - used : piece;
        int16_t *row = (int16_t *)malloc((size_t)f->frontend.features * sizeof(*row));
        used += nnrt_frontend_push(&f->stream, samples + used, left, row, &ready);
        if (ready)
            memcpy(rows + n++ * f->frontend.features, row, (size_t)f->frontend.features * sizeof(*row));
        free(row);
    }
    return n;
}

/* ---- descriptions ---- */

typedef struct refusal {
    const char *text; /* in the message */
    size_t offset;
    char kind; /* i: int32, f: float */
    double value;
    NNRT_ReturnCode code;
} refusal;

#define ROW(member, kind, value, code)                                                                                 \
    {                                                                                                                  \
        #member " is ", offsetof(nnrt_frontend_desc, member), kind, value, NNRT_##code                                 \
    }

static const refusal refusals[] = {
    ROW(rate, 'i', 0, INVALID_PARAMETER),
    ROW(rate, 'i', -1, INVALID_PARAMETER),
    ROW(rate, 'i', 16777217, INVALID_PARAMETER),
    ROW(fft, 'i', 0, INVALID_PARAMETER),
    ROW(fft, 'i', 4, INVALID_PARAMETER),
    ROW(fft, 'i', 7, INVALID_PARAMETER),
    ROW(fft, 'i', 32768, INVALID_PARAMETER),
    ROW(fft, 'i', INT32_MIN, INVALID_PARAMETER),
    ROW(window, 'i', 0, INVALID_PARAMETER),
    ROW(window, 'i', 1025, INVALID_PARAMETER),
    ROW(hop, 'i', 0, INVALID_PARAMETER),
    ROW(hop, 'i', 16777217, INVALID_PARAMETER),
    ROW(windowKind, 'i', 3, INVALID_PARAMETER),
    ROW(windowKind, 'i', -1, INVALID_PARAMETER),
    ROW(fullScale, 'f', -1, INVALID_PARAMETER),
    ROW(fullScale, 'f', 1e30, INVALID_PARAMETER),
    ROW(fullScale, 'f', NAN, INVALID_PARAMETER),
    ROW(spectrum, 'i', 2, INVALID_PARAMETER),
    ROW(mels, 'i', -1, INVALID_PARAMETER),
    ROW(mels, 'i', 513, INVALID_PARAMETER),
    ROW(melScale, 'i', 2, INVALID_PARAMETER),
    ROW(lower, 'f', -1, INVALID_PARAMETER),
    ROW(lower, 'f', NAN, INVALID_PARAMETER),
    ROW(lower, 'f', 8001, INVALID_PARAMETER),
    ROW(upper, 'f', 20, INVALID_PARAMETER),
    ROW(upper, 'f', 8001, INVALID_PARAMETER),
    ROW(upper, 'f', INFINITY, INVALID_PARAMETER),
    ROW(log, 'i', 4, INVALID_PARAMETER),
    ROW(offset, 'f', -1e-6, INVALID_PARAMETER),
    ROW(offset, 'f', INFINITY, INVALID_PARAMETER),
    ROW(floor, 'f', -1, INVALID_PARAMETER),
    ROW(floor, 'f', 1e-31, INVALID_PARAMETER),
    ROW(dct, 'i', -1, INVALID_PARAMETER),
    ROW(dct, 'i', 41, INVALID_PARAMETER),
    ROW(scale, 'f', 0, INVALID_PARAMETER),
    ROW(scale, 'f', -1, INVALID_PARAMETER),
    ROW(scale, 'f', NAN, INVALID_PARAMETER),
    ROW(zeroPoint, 'i', 32768, INVALID_PARAMETER),
    ROW(zeroPoint, 'i', -32769, INVALID_PARAMETER),
    ROW(arithmetic, 'i', NNRT_DATA_TYPE_INT32, INVALID_DATATYPE),
    ROW(output, 'i', NNRT_DATA_TYPE_FLOAT32, INVALID_DATATYPE),
    ROW(output, 'i', NNRT_DATA_TYPE_UINT8, INVALID_DATATYPE),
    ROW(output, 'i', 0, INVALID_DATATYPE),
};

static void expect_refused(const nnrt_frontend_desc *d, NNRT_ReturnCode code, const char *text)
{
    size_t tables = 1, stream = 1;
    nnrt_frontend f;
    uint32_t memory[4];
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_frontend_size(d, &tables, &stream, &error), code);
    assert_int_equal(tables, 0);
    assert_int_equal(stream, 0);
    if (strstr(error.message, text) == NULL)
        fail_msg("the message is '%s', expected '%s'", error.message, text);
    assert_int_equal(nnrt_frontend_init(&f, d, memory, sizeof(memory), NULL), code);
}

static void test_refused(void **state)
{
    nnrt_frontend_desc d;
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const refusal *r = &refusals[i];
        const float f = (float)r->value;
        int32_t whole = 0;
        d = kws();
        if (r->kind == 'i')
            whole = (int32_t)r->value;
        memcpy((uint8_t *)&d + r->offset, r->kind == 'f' ? (const void *)&f : (const void *)&whole, 4);
        expect_refused(&d, r->code, r->text);
    }
    d = kws();
    d.log = NNRT_FRONTEND_NONE; /* a DCT of energies, not logarithms */
    expect_refused(&d, NNRT_INVALID_PARAMETER, "dct is ");
    d = kws();
    d.mels = d.dct = 0;
    d.lower = 1;
    d.upper = 2; /* between two bins */
    expect_refused(&d, NNRT_INVALID_PARAMETER, "no bin of the FFT");
    d = kws();
    d.output = NNRT_DATA_TYPE_INT8;
    d.zeroPoint = 128;
    expect_refused(&d, NNRT_INVALID_PARAMETER, "zeroPoint is ");
    d = kws();
    d.arithmetic = d.output = NNRT_DATA_TYPE_FLOAT32; /* scale belongs to integers */
    expect_refused(&d, NNRT_INVALID_PARAMETER, "scale is ");
    assert_int_equal(nnrt_frontend_size(NULL, NULL, NULL, NULL), NNRT_NULL_PTR);
}

/* ---- memory ---- */

static void test_bytes_are_exact(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        nnrt_frontend_desc d = kws();
        nnrt_error error;
        front f;
        void *less;
        d.window = i % 2 ? 301 : 640;
        d.melArea = i % 2;
        if (i >= 2) {
            d.arithmetic = d.output = NNRT_DATA_TYPE_FLOAT32;
            d.scale = 0;
        }
        front_open(&f, &d);
        less = malloc(f.tableBytes - 1);
        memset(&error, 0, sizeof(error));
        assert_int_equal(nnrt_frontend_init(&f.frontend, &d, less, f.tableBytes - 1, &error), NNRT_OUT_OF_MEMORY);
        assert_non_null(strstr(error.message, "bytes"));
        free(less);
        assert_int_equal(nnrt_frontend_init(&f.frontend, &d, (uint8_t *)f.tables + 2, f.tableBytes, NULL),
                         NNRT_INVALID_BUFFER);
        assert_int_equal(nnrt_frontend_init(&f.frontend, &d, NULL, f.tableBytes, NULL), NNRT_NULL_PTR);
        assert_int_equal(nnrt_frontend_init(NULL, &d, f.tables, f.tableBytes, NULL), NNRT_NULL_PTR);
        assert_int_equal(nnrt_frontend_init(&f.frontend, &d, f.tables, f.tableBytes, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_frontend_start(&f.stream, &f.frontend, f.memory, f.memoryBytes - 1), NNRT_OUT_OF_MEMORY);
        assert_int_equal(nnrt_frontend_start(&f.stream, &f.frontend, (uint8_t *)f.memory + 1, f.memoryBytes),
                         NNRT_INVALID_BUFFER);
        assert_int_equal(nnrt_frontend_start(&f.stream, &f.frontend, NULL, f.memoryBytes), NNRT_NULL_PTR);
        assert_int_equal(nnrt_frontend_start(&f.stream, NULL, f.memory, f.memoryBytes), NNRT_NULL_PTR);
        assert_int_equal(nnrt_frontend_start(NULL, &f.frontend, f.memory, f.memoryBytes), NNRT_NULL_PTR);
        front_close(&f);
    }
}

/* ---- streams ---- */

static int16_t noise(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (int16_t)((int32_t)(*seed >> 16) - 32768);
}

/* For each window and hop: one push, pushes of single samples, and one front end per row, which gets the samples of its
   row only, have the same rows. */
static void test_streams(void **state)
{
    static const int32_t sizes[][2] = {{32, 16}, {32, 32}, {32, 50}, {31, 1}, {1, 1}, {1, 7}, {17, 16}};
    static int16_t samples[400], once[400 * 20], singly[400 * 20], alone[20];
    uint32_t seed = 1;
    (void)state;
    for (int i = 0; i < 400; i++)
        samples[i] = noise(&seed);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        nnrt_frontend_desc d = kws();
        const int32_t window = sizes[i][0], hop = sizes[i][1], rows = (400 - window) / hop + 1;
        front f;
        d.fft = 32;
        d.window = window;
        d.hop = hop;
        d.mels = d.dct = 0;
        d.lower = d.upper = 0;
        front_open(&f, &d);
        assert_int_equal(f.frontend.features, 17);
        assert_int_equal(front_push(&f, samples, 400, 400, once), rows);
        assert_int_equal(nnrt_frontend_start(&f.stream, &f.frontend, f.memory, f.memoryBytes), NNRT_SUCCESS);
        assert_int_equal(front_push(&f, samples, 400, 1, singly), rows);
        assert_memory_equal(once, singly, (size_t)rows * 17 * sizeof(int16_t));
        for (int32_t row = 0; row < rows; row++) {
            (void)nnrt_frontend_start(&f.stream, &f.frontend, f.memory, f.memoryBytes);
            assert_int_equal(front_push(&f, samples + row * hop, (size_t)window, 400, alone), 1);
            assert_memory_equal(once + row * 17, alone, 17 * sizeof(int16_t));
        }
        front_close(&f);
    }
}

/* ---- known features ---- */

/* Silence: the floor in each arithmetic, or the offset above it; a DCT of equal values has no other coefficient. */
static void test_silence(void **state)
{
    static int16_t samples[640], row[40];
    (void)state;
    for (int i = 0; i < 8; i++) {
        nnrt_frontend_desc d = kws();
        const double value = i % 2 ? log(1e-6) : log(1e-10);
        front f;
        d.arithmetic = i & 4 ? NNRT_DATA_TYPE_FLOAT32 : 0;
        d.offset = i % 2 ? 1e-6f : 0;
        d.dct = i & 2 ? 10 : 0;
        front_open(&f, &d);
        assert_int_equal(front_push(&f, samples, 640, 640, row), 1);
        for (int k = 0; k < f.frontend.features; k++) {
            const double wanted = (d.dct == 0 ? value : k == 0 ? value * sqrt(40) : 0) / 0.01;
            assert_true(fabs(row[k] - wanted) <= 1);
        }
        front_close(&f);
    }
}

/* Sizes that are multiples of 4, with prime factors up to 151. Without a window, a constant of -32768 has the amplitude N in bin 0 and nothing elsewhere; a full-scale square wave
   of period 4 has sqrt(1/2) N in bin N / 4; an impulse of half the full scale has 0.5 in each bin. Nothing overflows. The
   powers are sums of full-scale integers, so features show one LSB of the scale: 0.01 dB. */
static void test_known_spectra(void **state)
{
    static int16_t samples[1024], row[513];
    (void)state;
    for (int fft = 8; fft <= 1024; fft = fft < 32 ? fft + 4 : fft * 5 / 4 / 4 * 4) {
        for (int real = 0; real < 2; real++) {
            nnrt_frontend_desc d = kws();
            front f;
            d.arithmetic = real ? NNRT_DATA_TYPE_FLOAT32 : NNRT_DATA_TYPE_INT16;
            d.window = d.hop = d.fft = fft;
            d.mels = d.dct = 0;
            d.lower = d.upper = 0;
            d.windowKind = NNRT_FRONTEND_RECTANGULAR;
            d.log = NNRT_FRONTEND_DB;
            front_open(&f, &d);
            for (int kind = 0; kind < 3; kind++) {
                const int bin = kind == 0 ? 0 : fft / 4;
                for (int i = 0; i < fft; i++)
                    samples[i] = (int16_t)(kind == 0   ? -32768
                                           : kind == 1 ? ((i / 2) % 2 ? -32768 : 32767)
                                                       : (i == fft / 2 ? 16384 : 0));
                assert_int_equal(front_push(&f, samples, (size_t)fft, 7, row), 1);
                for (int k = 0; k <= fft / 2; k++) {
                    const double power = kind == 2 ? 0.25 : (kind == 0 ? 1.0 : 0.5) * fft * fft;
                    if (kind == 2 || k == bin)
                        assert_true(fabs(row[k] - 1000 * log10(power)) <= 2);
                    else /* the noise floor: 70 dB below the largest bin */
                        assert_true(row[k] < 1000 * log10(power) - 7000);
                }
            }
            front_close(&f);
        }
    }
}

/* Stored integers saturate at both ends of int8, and the zero point is added before. */
static void test_saturation(void **state)
{
    static int16_t samples[640];
    (void)state;
    for (int i = 0; i < 8; i++) {
        nnrt_frontend_desc d = kws();
        int8_t row[40];
        bool ready;
        front f;
        d.arithmetic = i & 1 ? NNRT_DATA_TYPE_FLOAT32 : 0;
        d.output = NNRT_DATA_TYPE_INT8;
        d.dct = 0;
        d.zeroPoint = i & 2 ? 127 : -128;
        d.scale = 0.001f;
        d.fullScale = i & 4 ? 32768 : 1;
        for (int k = 0; k < 640; k++)
            samples[k] = (int16_t)(i & 4 ? (k % 5) * 8000 - 16000 : 0);
        front_open(&f, &d);
        assert_int_equal(nnrt_frontend_push(&f.stream, samples, 640, row, &ready), 640);
        assert_true(ready);
        assert_int_equal(row[39], i & 4 ? 127 : -128); /* 4 kHz: 16000 / 4 */
        front_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_bytes_are_exact), cmocka_unit_test(test_streams),
        cmocka_unit_test(test_silence),      cmocka_unit_test(test_known_spectra),   cmocka_unit_test(test_saturation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
