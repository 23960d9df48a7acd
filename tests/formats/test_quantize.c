/* Post-training quantization (formats/nnrt_quantize.h): the noise that 8 bits add, the gain of each step, and bad input. The
   judge is the float32 model on the reference device. */
#define _XOPEN_SOURCE 700
#define NNRT_THREADS 1
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "devices/nnrt_cpu.h"
#include "formats/nnrt_quantize.h"

#include "kit.h"
#include "long.h"

/* ---- numbers ---- */

/* SplitMix64. */
static uint64_t state;

static double uniform(void)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* Normal distribution, by the sum of twelve uniform numbers. */
static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform();
    return sum;
}

/* ---- samples ---- */

#define SIDE 8
#define CHANNELS 4
#define ELEMENTS (SIDE * SIDE * CHANNELS)

typedef enum kind { NORMAL, LAPLACE, POSITIVE, OUTLIER, NOT_A_NUMBER, INFINITE, UNREADABLE } kind;

/* Sample `index` of a kind, the same in every call: of normal or Laplace distribution, or from 0 to 1, OUTLIER with one
   element 20; or with a fault in sample 2. */
static NNRT_ReturnCode sample(void *user, uint32_t index, const nnrt_io *inputs, uint32_t nIn)
{
    const kind is = *(const kind *)user;
    float *x = (float *)inputs[0].data;
    assert_int_equal(nIn, 1);
    state = 1000 + index;
    for (size_t i = 0; i < inputs[0].bytes / sizeof(float); i++) {
        const double v = is == LAPLACE ? -log(1 - uniform()) : is == POSITIVE || is == OUTLIER ? uniform() : normal();
        x[i] = (float)(is == LAPLACE && uniform() < 0.5 ? -v : v);
    }
    if (is == OUTLIER)
        x[7] = 20;
    if (index == 2 && (is == NOT_A_NUMBER || is == INFINITE))
        x[5] = (float)(is == NOT_A_NUMBER ? NAN : -INFINITY);
    return index == 2 && is == UNREADABLE ? NNRT_INVALID_BUFFER : NNRT_SUCCESS;
}

/* ---- networks ---- */

#define WIDE 16

static uint32_t weights(nnrt_builder *b, int32_t rank, const int32_t *dims, const double *rows, const double *columns)
{
    float data[WIDE * 9 * WIDE];
    size_t count, inner;
    assert_true(nnrt_dims_count(dims, rank, &count));
    inner = (size_t)dims[rank - 1];
    for (size_t i = 0; i < count; i++)
        data[i] = (float)(normal() / sqrt((double)count / dims[0]) * (rows != NULL ? rows[i / (count / (size_t)dims[0])] : 1) *
                          (columns != NULL ? columns[i % inner] : 1));
    return nnrt_builder_constant(b, NULL, F32, rank, dims, data, true);
}

static uint32_t biases(nnrt_builder *b, int32_t n, const double *rows)
{
    float data[WIDE];
    for (int32_t i = 0; i < n; i++)
        data[i] = (float)(normal() * 0.1 * (rows != NULL ? rows[i] : 1));
    return nnrt_builder_constant(b, NULL, F32, 1, &n, data, true);
}

/* A builder with the input "x", which becomes *in. */
static nnrt_builder *begin(const char *name, int32_t rank, const int32_t *dims, uint32_t *in)
{
    nnrt_builder *b = NULL;
    assert_int_equal(nnrt_builder_create(&b, name, NULL), NNRT_SUCCESS);
    *in = nnrt_builder_input(b, "x", F32, rank, dims);
    return b;
}

static NNRT_Model *finish(nnrt_builder *b, uint32_t output)
{
    NNRT_Model *m = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    nnrt_builder_output(b, output);
    if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(b);
    return m;
}

static NNRT_ActivationType activation = NNRT_ACTIVATION_TYPE_RELU; /* of the next function */

/* Convolution 3x3 and RELU, depthwise 3x3 and RELU, 1x1. Spread: the channels between the layers have ranges from 1/30 to
   30, as in trained networks, which later weights undo, so that all of them matter. A layer named "dead" has a channel
   that is always 0. */
static NNRT_Model *network(bool spread, bool dead)
{
    const int32_t x[] = {1, SIDE, SIDE, CHANNELS}, w1[] = {WIDE, 3, 3, CHANNELS}, w2[] = {WIDE, 3, 3, 1}, w3[] = {5, 1, 1, WIDE};
    double first[WIDE], between[WIDE], last[WIDE], s[WIDE], t[WIDE];
    NNRT_Conv2DFusion conv;
    nnrt_builder *b;
    uint32_t in[3];
    state = 7;
    memset(&conv, 0, sizeof(conv));
    for (int i = 0; i < WIDE; i++) {
        s[i] = spread ? pow(10, 3 * uniform() - 1.5) : 1;
        t[i] = spread ? pow(10, 3 * uniform() - 1.5) : 1;
        first[i] = dead && i == 3 ? 0 : s[i];
        between[i] = t[i] / s[i];
        last[i] = 1 / t[i];
    }
    conv.padMode = NNRT_PAD_MODE_SAME;
    conv.activationType = activation;
    b = begin("network", 4, x, in);
    in[1] = weights(b, 4, w1, first, NULL);
    in[2] = biases(b, WIDE, first);
    in[0] = nnrt_add_CONV2D_FUSION(b, "first", &conv, in, 3);
    conv.group = WIDE;
    in[1] = weights(b, 4, w2, between, NULL);
    in[2] = biases(b, WIDE, t);
    in[0] = nnrt_add_CONV2D_FUSION(b, "depthwise", &conv, in, 3);
    conv.group = 1;
    conv.activationType = NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    in[1] = weights(b, 4, w3, NULL, last);
    in[0] = nnrt_add_CONV2D_FUSION(b, "last", &conv, in, 2);
    return finish(b, in[0]);
}

/* ---- noise ---- */

#define SAMPLES 12

static nnrt_quantize_desc described(const kind *is)
{
    nnrt_quantize_desc d;
    memset(&d, 0, sizeof(d));
    d.samples = SAMPLES;
    d.sample = sample;
    d.user = (void *)(uintptr_t)is;
    return d;
}

static NNRT_Model *quantized(const NNRT_Model *m, const nnrt_quantize_desc *d)
{
    NNRT_Model *q = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_quantize(&q, m, d, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    return q;
}

/* The output of a model for sample 100, which has not been used to quantize it, and its number of elements. */
static size_t output_of(const NNRT_Model *m, kind is, float *y, size_t room)
{
    float x[ELEMENTS];
    nnrt_session *s = NULL;
    nnrt_io in = nnrt_io_make(x, sizeof(x)), out;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    sample(&is, 100, &in, 1);
    if (nnrt_session_create(&s, m, NULL, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    out = nnrt_io_make(y, nnrt_session_output(s, 0).bytes);
    assert_true(out.bytes <= room);
    assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
    nnrt_session_destroy(s);
    return out.bytes / sizeof(float);
}

/* in `without`: codes of least squared error; int16 activations */
#define LEAST_SQUARES 1024
#define INT16 2048

/* Power of the noise that quantization without these steps adds, relative to that of the output. Laplace: of 400 samples, so
   that extreme values are far from the rest. */
static double noise(const NNRT_Model *m, kind is, uint32_t without)
{
    nnrt_quantize_desc d = described(&is);
    NNRT_Model *q;
    float want[2048], got[2048];
    double error = 0, signal = 0;
    size_t n;
    d.without = without & ~(uint32_t)(LEAST_SQUARES | INT16);
    d.int16 = (without & INT16) != 0;
    d.least_squares = (without & LEAST_SQUARES) != 0;
    d.samples = is == LAPLACE ? 400 : SAMPLES;
    q = quantized(m, &d);
    n = output_of(m, is, want, sizeof(want));
    assert_int_equal(output_of(q, is, got, sizeof(got)), n);
    for (size_t i = 0; i < n; i++) {
        error += ((double)want[i] - (double)got[i]) * ((double)want[i] - (double)got[i]);
        signal += (double)want[i] * (double)want[i];
    }
    nnrt_model_destroy(q);
    return error / signal;
}

static void at_least(const char *step, double without, double with, double factor)
{
    if (!(without >= factor * with))
        fail_msg("step %s: noise %g without it, %g with it, expected a factor of at least %g", step, without, with, factor);
}

/* RELU(x - 2), by two 1x1 convolutions: nothing but the largest values counts. */
static NNRT_Model *tail(void)
{
    const int32_t x[] = {1, SIDE, SIDE, CHANNELS}, w[] = {CHANNELS, 1, 1, CHANNELS}, n[] = {CHANNELS};
    float one[CHANNELS * CHANNELS] = {0}, bias[CHANNELS];
    NNRT_Conv2DFusion conv;
    nnrt_builder *b;
    uint32_t in[3];
    memset(&conv, 0, sizeof(conv));
    for (int i = 0; i < CHANNELS; i++) {
        one[i * CHANNELS + i] = 1;
        bias[i] = -2;
    }
    b = begin("tail", 4, x, in);
    in[1] = nnrt_builder_constant(b, NULL, F32, 4, w, one, true);
    in[0] = nnrt_add_CONV2D_FUSION(b, "same", &conv, in, 2);
    in[1] = nnrt_builder_constant(b, NULL, F32, 4, w, one, true);
    in[2] = nnrt_builder_constant(b, NULL, F32, 1, n, bias, true);
    conv.activationType = NNRT_ACTIVATION_TYPE_RELU;
    in[0] = nnrt_add_CONV2D_FUSION(b, "above", &conv, in, 3);
    return finish(b, in[0]);
}

#define NAIVE (NNRT_QUANTIZE_EQUALIZE | NNRT_QUANTIZE_RANGES | NNRT_QUANTIZE_BIAS)

/* 8 bits cost little: at least 30 dB, and each step lowers the noise of a network made for it. */
static void test_steps(void **unused)
{
    NNRT_Model *plain = network(false, false), *spread = network(true, false), *above = tail();
    const double all = noise(plain, NORMAL, 0);
    (void)unused;
    assert_true(all < 1e-3 && all > 0);
    at_least("equalize", noise(spread, NORMAL, NNRT_QUANTIZE_EQUALIZE), noise(spread, NORMAL, 0), 10);
    at_least("all of them", noise(spread, NORMAL, NAIVE), noise(spread, NORMAL, 0), 10);
    at_least("ranges", noise(plain, LAPLACE, NNRT_QUANTIZE_RANGES), noise(plain, LAPLACE, 0), 1.05);
    at_least("ranges, where large values count", noise(above, LAPLACE, NNRT_QUANTIZE_RANGES), noise(above, LAPLACE, 0), 0.99);
    at_least("bias", noise(plain, POSITIVE, NNRT_QUANTIZE_BIAS), noise(plain, POSITIVE, 0), 1.1);
    at_least("least_squares", noise(plain, POSITIVE, NNRT_QUANTIZE_BIAS),
             noise(plain, POSITIVE, NNRT_QUANTIZE_BIAS | LEAST_SQUARES), 1.1);
    at_least("int16", all, noise(plain, NORMAL, INT16), 2);
    at_least("channels", noise(spread, NORMAL, NNRT_QUANTIZE_CHANNELS | NNRT_QUANTIZE_EQUALIZE),
             noise(spread, NORMAL, NNRT_QUANTIZE_EQUALIZE), 1.5);
    nnrt_model_destroy(plain);
    nnrt_model_destroy(spread);
    nnrt_model_destroy(above);
}

/* ---- the quantized model ---- */

/* The number of nodes of this operator; *integer: of those with 8-bit input. */
static uint32_t count(const NNRT_Model *m, NNRT_NodeType type, uint32_t *integer)
{
    uint32_t n = 0;
    *integer = 0;
    for (uint32_t i = 0; i < m->nodes.count; i++)
        if (m->nodes.data[i].nodeType == type) {
            const NNRT_Tensor *x = &m->allTensors.data[m->nodes.data[i].inputIndex.data[0]];
            n++;
            *integer += x->quantParams.count > 0;
        }
    return n;
}

static void test_integers(void **unused)
{
    const kind is = NORMAL;
    NNRT_Model *m = network(true, false), *q;
    nnrt_quantize_desc d = described(&is);
    nnrt_quantize_report report;
    uint32_t n;
    (void)unused;
    d.report = &report;
    q = quantized(m, &d);
    assert_int_equal(count(q, NNRT_NODE_TYPE_CONV2D_FUSION, &n), 3);
    assert_int_equal(n, 3);
    assert_int_equal(count(q, NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &n), 2);
    assert_int_equal(report.nodes, 3);
    assert_int_equal(report.chosen, 3);
    assert_int_equal(report.layers, 3);
    assert_int_equal(report.equalized, 2);
    assert_int_equal(report.corrected, 3);
    assert_string_equal(q->allTensors.data[q->inputIndex.data[0]].name, "x");
    assert_int_equal(q->allTensors.data[q->inputIndex.data[0]].dataType, F32);
    assert_string_equal(q->allTensors.data[q->outputIndex.data[0]].name, "last");
    nnrt_model_destroy(q);
    d.integer_io = true;
    q = quantized(m, &d);
    assert_int_equal(q->allTensors.data[q->inputIndex.data[0]].dataType, NNRT_DATA_TYPE_INT8);
    assert_int_equal(q->allTensors.data[q->outputIndex.data[0]].dataType, NNRT_DATA_TYPE_INT8);
    nnrt_model_destroy(q);
    d.uint8 = true;
    q = quantized(m, &d);
    assert_int_equal(q->allTensors.data[q->inputIndex.data[0]].dataType, NNRT_DATA_TYPE_UINT8);
    nnrt_model_destroy(q);
    d.integer_io = d.uint8 = false;
    d.int16 = true;
    q = quantized(m, &d);
    assert_int_equal(count(q, NNRT_NODE_TYPE_CONV2D_FUSION, &n), 3);
    assert_int_equal(n, 3);
    for (uint32_t i = 0; i < q->nodes.count; i++)
        if (q->nodes.data[i].nodeType == NNRT_NODE_TYPE_CONV2D_FUSION) {
            const NNRT_Tensor *x = &q->allTensors.data[q->nodes.data[i].inputIndex.data[0]];
            assert_int_equal(x->dataType, NNRT_DATA_TYPE_INT16);
            assert_int_equal(x->quantParams.data[0].zeroPoint, 0);
            assert_int_equal(q->allTensors.data[q->nodes.data[i].inputIndex.data[1]].dataType, NNRT_DATA_TYPE_INT8);
        }
    nnrt_model_destroy(q);
    d.int16 = false;
    d.uint8 = true;
    d.no_optimize = true;
    q = quantized(m, &d);
    assert_int_equal(count(q, NNRT_NODE_TYPE_CONV2D_FUSION, &n), 3);
    assert_int_equal(n, 0);
    assert_int_equal(count(q, NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &n), 3 + 2 * 4);
    nnrt_model_destroy(q);
    nnrt_model_destroy(m);
}

static bool keep_depthwise(void *user, const NNRT_Model *m, uint32_t node)
{
    (void)user;
    return strcmp(m->nodes.data[node].name, "depthwise") == 0;
}

static bool keep_all(void *user, const NNRT_Model *m, uint32_t node)
{
    (void)user;
    (void)m;
    (void)node;
    return true;
}

static void test_keep(void **unused)
{
    const kind is = NORMAL;
    NNRT_Model *m = network(false, false), *q = NULL;
    nnrt_quantize_desc d = described(&is);
    nnrt_error error;
    uint32_t n;
    (void)unused;
    d.keep = keep_depthwise;
    q = quantized(m, &d);
    assert_int_equal(count(q, NNRT_NODE_TYPE_CONV2D_FUSION, &n), 3);
    assert_int_equal(n, 2);
    nnrt_model_destroy(q);
    d.keep = keep_all;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_quantize(&q, m, &d, &error), NNRT_NOT_SUPPORT);
    assert_non_null(strstr(error.message, "nothing to quantize"));
    assert_null(q);
    nnrt_model_destroy(m);
}

typedef struct heard {
    uint32_t ranges, runs, layers, depthwise;
    int32_t largest; /* code of weights, but of depthwise convolutions */
    uint64_t done, total;
    nnrt_quantize_range first;
} heard;

static heard ears;

static void hear_range(void *user, const nnrt_quantize_range *r)
{
    (void)user;
    if (ears.ranges++ == 0)
        ears.first = *r;
    assert_true(r->lower <= 0 && r->upper >= 0 && r->quant.scale > 0);
    assert_true(r->quant.zeroPoint >= -128 && r->quant.zeroPoint <= 127);
    assert_true(r->sqnr > 25);
}

static void hear_progress(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    ears.runs++;
    assert_true(done == ears.done + 1 && done <= total);
    ears.done = done;
    ears.total = total;
}

/* Codes times scales are near the weights, whose largest is 127 codes, or 64. */
static void hear_layer(void *user, const nnrt_quantize_layer *l)
{
    const NNRT_Model *m = *(const NNRT_Model *const *)user;
    const NNRT_Node *n = &m->nodes.data[l->node];
    const NNRT_Tensor *w = &m->allTensors.data[n->inputIndex.data[1]];
    const float *real = (const float *)w->data.addr;
    const size_t count = w->data.dataSize / sizeof(float), inner = count / (size_t)l->dims.data[0];
    const bool depthwise = n->nodeType == NNRT_NODE_TYPE_CONV2D_FUSION && ((const NNRT_Conv2DFusion *)n->nodeAttr.data)->group > 1;
    const int32_t largest = depthwise ? 127 : ears.largest;
    int32_t found = 0;
    ears.layers++;
    ears.depthwise += depthwise;
    assert_int_equal(l->axis, 0);
    assert_int_equal(l->params.count, l->dims.data[0]);
    assert_non_null(l->bias);
    assert_string_equal(l->output, m->allTensors.data[n->outputIndex.data[0]].name);
    for (size_t i = 0; i < count; i++) {
        const double scale = l->params.data[i / inner].scale;
        assert_true(abs(l->codes[i]) == largest || fabs((double)real[i + w->data.offset / sizeof(float)] - l->codes[i] * scale) <= 0.5001 * scale);
        found = abs(l->codes[i]) > found ? abs(l->codes[i]) : found;
    }
    assert_int_equal(found, largest);
}

static NNRT_ReturnCode sample_of_model(void *user, uint32_t index, const nnrt_io *inputs, uint32_t nIn)
{
    kind is = POSITIVE;
    (void)user;
    return sample(&is, index, inputs, nIn);
}

/* The weights that a writer of another format receives. */
static void test_layers(void **unused)
{
    NNRT_Model *m = network(false, false), *q;
    nnrt_quantize_desc d = described(NULL);
    (void)unused;
    d.user = &m;
    d.sample = sample_of_model;
    d.layer = hear_layer;
    d.without = NNRT_QUANTIZE_EQUALIZE | NNRT_QUANTIZE_RANGES;
    for (uint32_t k = 0; k < 2; k++) {
        d.reduce_range = k == 1;
        memset(&ears, 0, sizeof(ears));
        ears.largest = d.reduce_range ? 64 : 127;
        q = quantized(m, &d);
        assert_int_equal(ears.layers, 3);
        assert_int_equal(ears.depthwise, 1);
        nnrt_model_destroy(q);
    }
    nnrt_model_destroy(m);
}

/* ---- one layer ---- */

#define OUTPUTS 5

/* A convolution 3x3 with stride 2 on 8x8, whose padding is 1 at the bottom and right, and the errors of its weights. */
typedef struct layer {
    NNRT_Model *model;
    double squares, mean; /* of the errors of its results by rounded weights: mean square, largest mean of an output */
} layer;

static NNRT_Model *one_layer(void)
{
    const int32_t x[] = {1, SIDE, SIDE, CHANNELS}, w[] = {OUTPUTS, 3, 3, CHANNELS};
    const int64_t two[] = {2, 2};
    NNRT_Conv2DFusion conv;
    nnrt_builder *b;
    uint32_t in[3];
    state = 9;
    memset(&conv, 0, sizeof(conv));
    conv.padMode = NNRT_PAD_MODE_SAME;
    conv.stride = nnrt_int64_list(two, 2);
    b = begin("layer", 4, x, in);
    in[1] = weights(b, 4, w, NULL, NULL);
    in[2] = biases(b, OUTPUTS, NULL);
    return finish(b, nnrt_add_CONV2D_FUSION(b, "y", &conv, in, 3));
}

/* The error of output o at position (row, column) of a sample, by the formula of the convolution. */
static double error_at(const layer *l, const nnrt_quantize_layer *q, const float *x, int32_t o, int32_t row, int32_t column)
{
    const NNRT_Model *m = l->model;
    const uint32_t *in = m->nodes.data[0].inputIndex.data;
    const NNRT_Tensor *w = &m->allTensors.data[in[1]], *b = &m->allTensors.data[in[2]];
    const float *real = (const float *)w->data.addr + w->data.offset / sizeof(float);
    double error = (double)((const float *)b->data.addr + b->data.offset / sizeof(float))[o] - (double)q->bias[o];
    for (int32_t r = 0; r < 3; r++)
        for (int32_t s = 0; s < 3; s++)
            for (int32_t c = 0; c < CHANNELS && row * 2 + r < SIDE && column * 2 + s < SIDE; c++) {
                const int32_t at = ((o * 3 + r) * 3 + s) * CHANNELS + c;
                error += ((double)real[at] - q->codes[at] * q->params.data[o].scale) *
                         (double)x[((row * 2 + r) * SIDE + column * 2 + s) * CHANNELS + c];
            }
    return error;
}

static void hear_errors(void *user, const nnrt_quantize_layer *q)
{
    layer *l = (layer *)user;
    const kind is = POSITIVE;
    float x[ELEMENTS];
    nnrt_io in = nnrt_io_make(x, sizeof(x));
    double sums[OUTPUTS] = {0};
    const double count = SAMPLES * (SIDE / 2) * (SIDE / 2);
    for (uint32_t k = 0; k < SAMPLES; k++) {
        sample((void *)(uintptr_t)&is, k, &in, 1);
        for (int32_t o = 0; o < OUTPUTS; o++)
            for (int32_t at = 0; at < SIDE / 2 * SIDE / 2; at++) {
                const double error = error_at(l, q, x, o, at / (SIDE / 2), at % (SIDE / 2));
                sums[o] += error / count;
                l->squares += error * error / count;
            }
    }
    for (int32_t o = 0; o < OUTPUTS; o++)
        l->mean = fmax(l->mean, fabs(sums[o]));
}

static layer errors_of(NNRT_Model *m, uint32_t without, bool squares)
{
    nnrt_quantize_desc d = described(NULL);
    nnrt_quantize_report report;
    layer l;
    memset(&l, 0, sizeof(l));
    l.model = m;
    d.user = &l;
    d.sample = sample_of_model;
    d.layer = hear_errors;
    d.without = without;
    d.least_squares = squares;
    d.report = &report;
    nnrt_model_destroy(quantized(m, &d));
    assert_int_equal(report.rounded, squares);
    assert_true(l.squares > 0);
    return l;
}

/* The corrected bias removes the mean error of the results, at the padding too, and least_squares lowers their squared error,
   with or without this correction. */
static void test_errors(void **unused)
{
    NNRT_Model *m = one_layer();
    const layer corrected = errors_of(m, 0, false), both = errors_of(m, 0, true);
    const layer plain = errors_of(m, NNRT_QUANTIZE_BIAS, false), rounded = errors_of(m, NNRT_QUANTIZE_BIAS, true);
    (void)unused;
    at_least("bias", plain.mean, corrected.mean, 1000);
    at_least("bias", plain.mean, both.mean, 1000);
    at_least("least_squares without bias", plain.squares, rounded.squares, 2);
    at_least("least_squares", corrected.squares, both.squares, 1.05);
    nnrt_model_destroy(m);
}

static nnrt_quantize_range heard_range;

static void hear_last(void *user, const nnrt_quantize_range *r)
{
    (void)user;
    heard_range = *r;
}

/* One value of four million is far from the others: a percentile is the best range; its noise is that of the samples. */
static void test_outlier(void **unused)
{
    const kind is = OUTLIER;
    const int32_t dims[] = {1, 1 << 22};
    float *x = (float *)malloc(sizeof(float) << 22);
    nnrt_io in = nnrt_io_make(x, sizeof(float) << 22);
    nnrt_quantize_desc d = described(&is);
    nnrt_builder *b;
    NNRT_Model *m;
    nnrt_quantize_report report;
    double noise = 0, signal = 0;
    uint32_t t;
    (void)unused;
    assert_non_null(x);
    b = begin("outlier", 2, dims, &t);
    m = finish(b, nnrt_add_ABS(b, "y", NULL, &t, 1));
    d.samples = 1;
    d.range = hear_last;
    d.report = &report;
    nnrt_model_destroy(quantized(m, &d));
    assert_string_equal(heard_range.method, "percentile");
    assert_int_equal(report.ranges[1], 2);
    assert_true(heard_range.most == 20 && heard_range.upper < 2);
    sample((void *)(uintptr_t)&is, 0, &in, 1);
    for (size_t i = 0; i < (size_t)1 << 22; i++) {
        const double scale = heard_range.quant.scale, most = 127 - heard_range.quant.zeroPoint;
        const double code = floor((double)x[i] / scale + 0.5);
        const double error = (double)x[i] - fmin(code, most) * scale;
        noise += error * error;
        signal += (double)x[i] * (double)x[i];
    }
    assert_true(fabs(heard_range.sqnr - 10 * log10(signal / noise)) < 0.001);
    d.without = NNRT_QUANTIZE_RANGES;
    nnrt_model_destroy(quantized(m, &d));
    assert_string_equal(heard_range.method, "min-max");
    free(x);
    nnrt_model_destroy(m);
}

static void test_reports(void **unused)
{
    const kind is = POSITIVE;
    NNRT_Model *m = network(false, false), *q;
    nnrt_quantize_desc d = described(&is);
    (void)unused;
    memset(&ears, 0, sizeof(ears));
    d.range = hear_range;
    d.progress = hear_progress;
    q = quantized(m, &d);
    assert_int_equal(ears.ranges, 4);
    assert_int_equal(ears.runs, (3 + 5) * SAMPLES); /* the last ones to choose ranges by the outputs */
    assert_int_equal(ears.done, ears.total);
    assert_true(ears.first.least >= 0 && ears.first.most <= 1 && ears.first.most > 0.99f);
    assert_int_equal(ears.first.quant.zeroPoint, -128); /* of values from 0 on */
    nnrt_model_destroy(q);
    nnrt_model_destroy(m);
}

/* A dead channel and a tensor of zeros have finite scales. */
static void test_zeros(void **unused)
{
    NNRT_Model *m = network(true, true);
    (void)unused;
    assert_true(noise(m, NORMAL, 0) < 1e-2);
    nnrt_model_destroy(m);
}

/* An average has the scale and zero point of its input, so that it is rounded once. */
static void test_average(void **unused)
{
    const kind is = NORMAL;
    const int32_t x[] = {1, SIDE, SIDE, CHANNELS};
    int64_t window[] = {SIDE, SIDE}, strides[] = {1, 1};
    nnrt_quantize_desc d = described(&is);
    NNRT_AvgPoolFusion pool;
    nnrt_builder *b;
    NNRT_Model *m, *q;
    nnrt_error error;
    uint32_t in;
    (void)unused;
    memset(&error, 0, sizeof(error));
    memset(&pool, 0, sizeof(pool));
    pool.kernelSize.data = window;
    pool.strides.data = strides;
    pool.kernelSize.count = pool.strides.count = 2;
    b = begin("average", 4, x, &in);
    m = finish(b, nnrt_add_AVGPOOL_FUSION(b, "mean", &pool, &in, 1));
    q = quantized(m, &d);
    assert_int_equal(count(q, NNRT_NODE_TYPE_AVGPOOL_FUSION, &in), 1);
    assert_int_equal(in, 1);
    for (uint32_t i = 0; i < q->nodes.count; i++)
        if (q->nodes.data[i].nodeType == NNRT_NODE_TYPE_AVGPOOL_FUSION) {
            const NNRT_QuantParam *from = q->allTensors.data[q->nodes.data[i].inputIndex.data[0]].quantParams.data;
            const NNRT_QuantParam *to = q->allTensors.data[q->nodes.data[i].outputIndex.data[0]].quantParams.data;
            assert_true(fabs(from->scale - to->scale) <= 0);
            assert_int_equal(from->zeroPoint, to->zeroPoint);
        }
    nnrt_model_destroy(q);
    nnrt_model_destroy(m);
}

/* CONCAT of a value and a constant that two nodes share: zeros are padding and have the parameters of the value, which the result
   keeps, so that all inputs are copied; other constants and the result have their own. */
static void test_padding(void **unused)
{
    const kind is = NORMAL;
    const int32_t x[] = {1, SIDE, SIDE, CHANNELS}, more[] = {1, SIDE, SIDE, 2};
    (void)unused;
    for (uint32_t zeros = 0; zeros < 2; zeros++) {
        float data[SIDE * SIDE * 2] = {0};
        nnrt_quantize_desc d = described(&is);
        NNRT_Concat attr;
        NNRT_AddFusion add;
        nnrt_builder *b;
        NNRT_Model *m, *q;
        uint32_t in[2], twice[2], sum[2], n;
        memset(&attr, 0, sizeof(attr));
        memset(&add, 0, sizeof(add));
        attr.axis = 3;
        data[3] = zeros != 0 ? 0.0f : 12.0f;
        b = begin("padding", 4, x, in);
        in[1] = nnrt_builder_constant(b, "more", F32, 4, more, data, true);
        sum[0] = nnrt_add_CONCAT(b, "one", &attr, in, 2);
        twice[0] = twice[1] = in[0];
        in[0] = nnrt_add_ADD_FUSION(b, "twice", &add, twice, 2);
        sum[1] = nnrt_add_CONCAT(b, "two", &attr, in, 2);
        m = finish(b, nnrt_add_ADD_FUSION(b, "sum", &add, sum, 2));
        q = quantized(m, &d);
        assert_int_equal(count(q, NNRT_NODE_TYPE_CONCAT, &n), 2);
        assert_int_equal(n, 2);
        for (uint32_t i = 0; i < q->nodes.count; i++)
            for (uint32_t k = 0; k < 2 && q->nodes.data[i].nodeType == NNRT_NODE_TYPE_CONCAT; k++) {
                const NNRT_QuantParam *from = q->allTensors.data[q->nodes.data[i].inputIndex.data[k]].quantParams.data;
                const NNRT_QuantParam *to = q->allTensors.data[q->nodes.data[i].outputIndex.data[0]].quantParams.data;
                if (zeros != 0 || k == 0)
                    assert_int_equal(fabs(from->scale - to->scale) <= 0, zeros != 0);
                if (zeros != 0)
                    assert_int_equal(from->zeroPoint, to->zeroPoint);
            }
        nnrt_model_destroy(q);
        nnrt_model_destroy(m);
    }
}

/* Nodes in the bodies of control flow stay float32; a constant may be the weights of two nodes. */
static void test_shared(void **unused)
{
    const kind is = NORMAL;
    const int32_t x[] = {1, 4}, w[] = {4, 4};
    nnrt_builder *b;
    NNRT_Model *m, *q;
    nnrt_quantize_desc d = described(&is);
    nnrt_error error;
    uint32_t in[2], n;
    (void)unused;
    memset(&error, 0, sizeof(error));
    b = begin("shared", 2, x, in);
    in[1] = weights(b, 2, w, NULL, NULL);
    in[0] = nnrt_add_FULL_CONNECTION(b, "one", NULL, in, 2);
    in[0] = nnrt_add_FULL_CONNECTION(b, "two", NULL, in, 2);
    m = finish(b, in[0]);
    q = quantized(m, &d);
    assert_int_equal(count(q, NNRT_NODE_TYPE_FULL_CONNECTION, &n), 2);
    assert_int_equal(n, 2);
    nnrt_model_destroy(q);
    nnrt_model_destroy(m);
}

/* A node with sixty operands: constants of their own, or one constant sixty times. */
static void test_many_operands(void **unused)
{
    const kind is = NORMAL;
    const int32_t x[] = {1, 4};
    const float ones[] = {1, 2, 3, 4};
    (void)unused;
    for (int shared = 0; shared < 2; shared++) { /* a constant is cast once */
        nnrt_quantize_desc d = described(&is);
        NNRT_Model *m, *q;
        uint32_t in[60];
        nnrt_builder *b = begin("many", 2, x, in);
        for (uint32_t i = 1; i < COUNT(in); i++)
            in[i] = shared && i > 1 ? in[1] : nnrt_builder_constant(b, NULL, F32, 2, x, ones, true);
        m = finish(b, nnrt_add_ADD_N(b, "sum", NULL, in, COUNT(in)));
        d.no_optimize = true;
        q = quantized(m, &d);
        assert_int_equal(q->nodes.count, 1 + 2 * 2 + (shared ? 1 : COUNT(in) - 1));
        nnrt_model_destroy(q);
        nnrt_model_destroy(m);
    }
}

/* ---- fused activations ---- */

static uint32_t asked; /* nodes of the given model, as bits */

static bool keep_last(void *user, const NNRT_Model *model, uint32_t node)
{
    (void)user;
    assert_true(node < model->nodes.count && model->nodes.count == 3);
    asked |= 1u << node;
    return strcmp(model->allTensors.data[model->nodes.data[node].outputIndex.data[0]].name, "last") == 0;
}

static void hear_output(void *user, const nnrt_quantize_layer *told)
{
    (void)user;
    assert_string_equal(told->output, told->node == 0 ? "first" : told->node == 1 ? "depthwise" : "last");
}

/* An activation that quantized convolutions do not have, fused into them, does not keep them in float32: it gets codes of its
   own. Callers see the nodes that they have given. */
static void test_activations(void **unused)
{
    static const NNRT_ActivationType types[] = {NNRT_ACTIVATION_TYPE_HSWISH, NNRT_ACTIVATION_TYPE_SWISH, NNRT_ACTIVATION_TYPE_SIGMOID};
    const kind good = NORMAL;
    (void)unused;
    for (size_t i = 0; i < COUNT(types); i++)
        for (int kept = 0; kept < 2; kept++) {
            nnrt_quantize_desc d = described(&good);
            nnrt_quantize_report report;
            float want[SIDE * SIDE * 5], got[SIDE * SIDE * 5];
            double noise = 0, signal = 0;
            NNRT_Model *m, *q;
            uint32_t n, bytes = 0;
            activation = types[i];
            m = network(false, false);
            activation = NNRT_ACTIVATION_TYPE_RELU;
            asked = 0;
            d.report = &report;
            d.layer = hear_output;
            d.keep = kept ? keep_last : NULL;
            q = quantized(m, &d);
            assert_int_equal(asked, kept ? 7 : 0);
            assert_int_equal(report.chosen, kept ? 4 : 5);
            assert_int_equal(count(q, NNRT_NODE_TYPE_ACTIVATION, &n), 2);
            assert_int_equal(count(q, NNRT_NODE_TYPE_CONV2D_FUSION, &n), 3);
            for (uint32_t k = 0; k < q->nodes.count; k++)
                if (q->nodes.data[k].nodeType == NNRT_NODE_TYPE_CONV2D_FUSION)
                    bytes += q->allTensors.data[q->nodes.data[k].inputIndex.data[1]].dataType == NNRT_DATA_TYPE_INT8;
            assert_int_equal(bytes, kept ? 2 : 3);
            assert_int_equal(output_of(m, good, want, sizeof(want)), output_of(q, good, got, sizeof(got)));
            for (size_t k = 0; k < COUNT(want); k++) {
                noise += ((double)want[k] - (double)got[k]) * ((double)want[k] - (double)got[k]);
                signal += (double)want[k] * (double)want[k];
            }
            assert_true(noise > 0 && noise < 0.01 * signal);
            nnrt_model_destroy(q);
            nnrt_model_destroy(m);
        }
}

/* ---- float32 nodes between 8-bit ones ---- */

static bool keep_named(void *user, const NNRT_Model *m, uint32_t node)
{
    const char *name = m->nodes.data[node].name;
    (void)user;
    return strcmp(name, "middle") == 0 || strcmp(name, "head") == 0 || strcmp(name, "wide") == 0;
}

/* An activation of a result, which is or is not an output as well. */
static NNRT_Model *activated(float factor, NNRT_ActivationType type, bool seen)
{
    const int32_t x[] = {1, SIDE, SIDE, CHANNELS};
    NNRT_Activation attr;
    uint32_t in[2], t;
    nnrt_builder *b = begin("activated", 4, x, in);
    memset(&attr, 0, sizeof(attr));
    attr.activationType = type;
    in[1] = nnrt_builder_constant(b, NULL, F32, 0, NULL, &factor, true);
    t = nnrt_add_MUL_FUSION(b, "wide", NULL, in, 2);
    if (seen)
        nnrt_builder_output(b, t);
    return finish(b, nnrt_add_ACTIVATION(b, "y", &attr, &t, 1));
}

/* A kept node computes in float32 although casts from and to 8 bits surround it, and a kept node that reads another reads its float32
   result: head (float32) -> middle (float32), and last = middle + head in 8 bits. */
static void test_between(void **unused)
{
    const kind is = NORMAL;
    const int32_t x[] = {1, SIDE, SIDE, CHANNELS};
    const float ones = 1;
    nnrt_quantize_desc d = described(&is);
    NNRT_Activation attr;
    NNRT_Model *m, *q;
    uint32_t in[2], n, head;
    nnrt_builder *b = begin("between", 4, x, in);
    (void)unused;
    memset(&attr, 0, sizeof(attr));
    attr.activationType = NNRT_ACTIVATION_TYPE_SIGMOID;
    in[1] = nnrt_builder_constant(b, NULL, F32, 0, NULL, &ones, true);
    in[0] = nnrt_add_ADD_FUSION(b, "first", NULL, in, 2);
    head = nnrt_add_ABS(b, "head", NULL, in, 1);
    in[0] = nnrt_add_ACTIVATION(b, "middle", &attr, &head, 1);
    in[1] = head;
    m = finish(b, nnrt_add_ADD_FUSION(b, "last", NULL, in, 2));
    d.keep = keep_named;
    q = quantized(m, &d);
    assert_int_equal(q->outputIndex.count, 1);
    assert_string_equal(q->allTensors.data[q->outputIndex.data[0]].name, "last");
    assert_int_equal(count(q, NNRT_NODE_TYPE_ADD_FUSION, &n), 2);
    assert_int_equal(n, 2);
    assert_int_equal(count(q, NNRT_NODE_TYPE_ABS, &n), 1);
    assert_int_equal(n, 0);
    assert_int_equal(count(q, NNRT_NODE_TYPE_ACTIVATION, &n), 1);
    assert_int_equal(n, 0);
    assert_int_equal(count(q, NNRT_NODE_TYPE_QUANT_DTYPE_CAST, &n), 5); /* of x, first, head, middle, last */
    nnrt_model_destroy(q);
    nnrt_model_destroy(m);
}

static nnrt_quantize_range wide;

static void hear_wide(void *user, const nnrt_quantize_range *r)
{
    (void)user;
    if (strcmp(r->tensor, "wide") == 0)
        wide = *r;
}

static double noise_between(const NNRT_Model *m, const NNRT_Model *q, kind is)
{
    float want[ELEMENTS], got[ELEMENTS];
    double noise = 0;
    assert_int_equal(output_of(m, is, want, sizeof(want)), output_of(q, is, got, sizeof(got)));
    for (size_t i = 0; i < COUNT(want); i++)
        noise += ((double)want[i] - (double)got[i]) * ((double)want[i] - (double)got[i]);
    return noise;
}

/* The range of a value that only an activation reads is where this is not constant: of normally distributed values times 10 a sigmoid
   distinguishes a quarter, so that steps are a quarter and their noise a sixteenth. Another reader needs the whole range. */
static void test_through(void **unused)
{
    const kind is = NORMAL;
    NNRT_Model *m = activated(10, NNRT_ACTIVATION_TYPE_SIGMOID, false), *q;
    nnrt_quantize_desc d = described(&is);
    double noise;
    (void)unused;
    d.range = hear_wide;
    d.keep = keep_named; /* the values are exact before they get codes */
    q = quantized(m, &d);
    assert_true(wide.least < -25 && wide.most > 25);
    assert_true(wide.lower < -3 && wide.lower > -9 && wide.upper > 3 && wide.upper < 9);
    noise = noise_between(m, q, is);
    nnrt_model_destroy(q);
    d.without = NNRT_QUANTIZE_RANGES;
    q = quantized(m, &d);
    assert_true(wide.lower < -25 && wide.upper > 25);
    assert_true(noise < 0.25 * noise_between(m, q, is)); /* a sixteenth, and the rounding of the result */
    nnrt_model_destroy(q);
    nnrt_model_destroy(m);
    d.without = 0;
    m = activated(10, NNRT_ACTIVATION_TYPE_HSWISH, false);
    q = quantized(m, &d);
    assert_true(wide.lower < -1.5f && wide.lower > -3.5f && wide.upper > 15);
    nnrt_model_destroy(q);
    nnrt_model_destroy(m);
    m = activated(10, NNRT_ACTIVATION_TYPE_SIGMOID, true);
    q = quantized(m, &d);
    assert_true(wide.lower < -15 && wide.upper > 15);
    nnrt_model_destroy(q);
    nnrt_model_destroy(m);
}

/* An estimate takes two runs of each sample, reports no ranges, and computes. */
static void test_estimate(void **unused)
{
    const kind is = POSITIVE;
    NNRT_Model *m = network(false, false), *q;
    float want[ELEMENTS * 2], got[ELEMENTS * 2];
    nnrt_quantize_desc d = described(&is);
    double noise = 0, signal = 0;
    size_t n;
    (void)unused;
    memset(&ears, 0, sizeof(ears));
    d.range = hear_range;
    d.progress = hear_progress;
    d.estimate = true;
    q = quantized(m, &d);
    assert_int_equal(ears.ranges, 0);
    assert_int_equal(ears.runs, 2 * SAMPLES);
    assert_int_equal(ears.done, ears.total);
    n = output_of(m, is, want, sizeof(want));
    assert_int_equal(output_of(q, is, got, sizeof(got)), n);
    for (size_t i = 0; i < n; i++) {
        noise += ((double)want[i] - (double)got[i]) * ((double)want[i] - (double)got[i]);
        signal += (double)want[i] * (double)want[i];
    }
    assert_true(noise > 0 && noise < 0.01 * signal);
    nnrt_model_destroy(q);
    nnrt_model_destroy(m);
}

/* ---- weights only ---- */

#define COLUMNS 40 /* a block of 32, and one of 8 */
#define ROWS 7

/* x[?,40], FULL_CONNECTION with bias and RELU, MATMUL_FUSION with weights [7,3]. */
static NNRT_Model *products(void)
{
    const int32_t x[] = {-1, COLUMNS}, w[] = {ROWS, COLUMNS}, v[] = {ROWS, 3};
    NNRT_FullConnection full;
    nnrt_builder *b;
    uint32_t in[3];
    state = 11;
    memset(&full, 0, sizeof(full));
    full.hasBias = true;
    full.activationType = NNRT_ACTIVATION_TYPE_RELU;
    b = begin("products", 2, x, in);
    in[1] = weights(b, 2, w, NULL, NULL);
    in[2] = biases(b, ROWS, NULL);
    in[0] = nnrt_add_FULL_CONNECTION(b, "full", &full, in, 3);
    in[1] = weights(b, 2, v, NULL, NULL);
    return finish(b, nnrt_add_MATMUL_FUSION(b, "y", NULL, in, 2));
}

static const void *data_of(const NNRT_Model *m, uint32_t t)
{
    return (const uint8_t *)m->allTensors.data[t].data.addr + m->allTensors.data[t].data.offset;
}

/* Weight k of row n of a MATMUL_NBITS node, by the definition of its operands. */
static double weight_of(const NNRT_Model *m, const NNRT_Node *node, uint32_t bits, uint32_t block, uint32_t n, uint32_t k)
{
    const uint32_t *in = node->inputIndex.data;
    const uint32_t blocks = (uint32_t)m->allTensors.data[in[1]].dims.data[1], b = k / block, each = block * bits / 8;
    const uint8_t *codes = (const uint8_t *)data_of(m, in[1]) + (n * blocks + b) * each;
    const uint8_t *zeros = (const uint8_t *)data_of(m, in[3]) + n * ((blocks * bits + 7) / 8);
    const uint32_t code = bits == 8 ? codes[k % block] : codes[k % block / 2] >> k % 2 * 4 & 15;
    const uint32_t zero = bits == 8 ? zeros[b] : zeros[b / 2] >> b % 2 * 4 & 15;
    return (double)((const float *)data_of(m, in[2]))[n * blocks + b] * ((double)code - zero);
}

/* The codes of all blocks are near the weights, and more bits or smaller blocks are nearer; the model computes with them, for
   any dynamic dimension. */
static void test_weights(void **unused)
{
    static const struct {
        uint32_t bits, block;
        double most; /* noise of the weights, relative to their signal */
    } cases[] = {{8, 0, 3e-5}, {4, 128, 1e-2}, {4, 16, 5e-3}, {4, 0, 8e-3}};
    NNRT_Model *m = products();
    const float *w = (const float *)data_of(m, m->nodes.data[0].inputIndex.data[1]);
    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        nnrt_quantize_desc d;
        nnrt_quantize_report report;
        const NNRT_Node *node;
        NNRT_Model *q;
        double noise = 0, signal = 0;
        uint32_t n;
        memset(&d, 0, sizeof(d));
        d.weight_bits = cases[i].bits;
        d.weight_block = cases[i].block;
        d.report = &report;
        q = quantized(m, &d);
        assert_int_equal(report.chosen, 2);
        assert_true(report.bytes[0] == (ROWS * COLUMNS + ROWS * 3) * sizeof(float) && report.bytes[1] < report.bytes[0]);
        assert_int_equal(count(q, NNRT_NODE_TYPE_MATMUL_NBITS, &n), 2);
        assert_int_equal(q->allTensors.data[q->inputIndex.data[0]].dims.data[0], -1);
        node = &q->nodes.data[0];
        for (uint32_t k = 0; node->nodeType != NNRT_NODE_TYPE_MATMUL_NBITS || node->inputIndex.data[0] != q->inputIndex.data[0]; k++)
            node = &q->nodes.data[k];
        for (uint32_t k = 0; k < ROWS * COLUMNS; k++) {
            const double e = (double)w[k] - weight_of(q, node, cases[i].bits, cases[i].block == 0 ? 32 : cases[i].block, k / COLUMNS, k % COLUMNS);
            noise += e * e;
            signal += (double)w[k] * (double)w[k];
        }
        if (!(noise < cases[i].most * signal && noise > 0))
            fail_msg("%u bits, block %u: noise %g", cases[i].bits, cases[i].block, noise / signal);
        nnrt_model_destroy(q);
    }
    nnrt_model_destroy(m);
}

/* Weights from one end of float to the other have finite scales; NaN and infinity are refused. */
static void test_extreme_weights(void **unused)
{
    static const float first[] = {3e38f, NAN, INFINITY};
    (void)unused;
    for (size_t i = 0; i < COUNT(first); i++) {
        const int32_t x[] = {1, 16}, dims[] = {1, 16};
        float w[16] = {0};
        nnrt_quantize_desc d;
        nnrt_builder *b;
        NNRT_Model *m, *q = NULL;
        nnrt_error error;
        NNRT_ReturnCode code;
        uint32_t in[2];
        w[0] = first[i];
        w[1] = -3e38f;
        memset(&d, 0, sizeof(d));
        memset(&error, 0, sizeof(error));
        d.weight_bits = 4;
        d.weight_block = 16;
        b = begin("extreme", 2, x, in);
        in[1] = nnrt_builder_constant(b, "w", F32, 2, dims, w, true);
        m = finish(b, nnrt_add_FULL_CONNECTION(b, "full", NULL, in, 2));
        code = nnrt_quantize(&q, m, &d, &error);
        assert_int_equal(code, i == 0 ? NNRT_SUCCESS : NNRT_INVALID_PARAMETER);
        if (i == 0)
            assert_true(fabs(weight_of(q, &q->nodes.data[0], 4, 16, 0, 0) / 3e38 - 1) < 0.1);
        else
            assert_non_null(strstr(error.message, "the weights of node 0 'full' have NaN or infinity"));
        nnrt_model_destroy(q);
        nnrt_model_destroy(m);
    }
}

/* The outputs of a model for x of two rows. */
static void run_products(const NNRT_Model *m, const float *x, float *y)
{
    const nnrt_dims rows = {2, {2, COLUMNS}};
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    nnrt_error error;
    nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, 2 * COLUMNS * sizeof(float)), out = nnrt_io_make(y, 6 * sizeof(float));
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.inputDims = nnrt_dims_list_make(&rows, 1);
    if (nnrt_session_create(&s, m, &desc, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
    nnrt_session_destroy(s);
}

static void test_weights_run(void **unused)
{
    NNRT_Model *m = products(), *q;
    nnrt_quantize_desc d;
    float x[2 * COLUMNS], want[6], got[6];
    double noise = 0, signal = 0;
    (void)unused;
    memset(&d, 0, sizeof(d));
    d.weight_bits = 8;
    for (size_t i = 0; i < COUNT(x); i++)
        x[i] = (float)normal();
    q = quantized(m, &d);
    run_products(m, x, want);
    run_products(q, x, got);
    for (size_t i = 0; i < COUNT(got); i++) {
        noise += ((double)want[i] - (double)got[i]) * ((double)want[i] - (double)got[i]);
        signal += (double)want[i] * (double)want[i];
    }
    assert_true(noise > 0 && noise < 1e-4 * signal);
    nnrt_model_destroy(q);
    nnrt_model_destroy(m);
}

/* ---- dynamic quantization ---- */

/* One product by the definition of `dynamic`: x [2,in], w [out,in] with strides, y [2,out]. */
static void expect_dynamic(const float *x, int32_t in, const float *w, int32_t outStride, int32_t inStride, int32_t out,
                           const float *bias, float *y)
{
    float low = 0, high = 0, scale;
    int32_t zero;
    for (int32_t i = 0; i < 2 * in; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    scale = (high - low) / 255;
    zero = scale > 0 ? (int32_t)rintf((0 - low) / scale) : 0;
    for (int32_t o = 0; o < out; o++) {
        float most = 0, each;
        for (int32_t i = 0; i < in; i++)
            most = fmaxf(most, fabsf(w[o * outStride + i * inStride]));
        each = most / 127;
        for (int32_t m = 0; m < 2; m++) {
            int32_t sum = 0;
            float by;
            for (int32_t i = 0; i < in; i++) {
                const int32_t code = scale > 0 ? (int32_t)rintf(x[m * in + i] / scale) + zero : 0;
                sum += ((code < 0 ? 0 : code > 255 ? 255 : code) - zero) *
                       (int32_t)rint((double)w[o * outStride + i * inStride] / (double)each);
            }
            by = scale * each;
            y[m * out + o] = (float)sum * by;
            if (bias != NULL)
                y[m * out + o] += bias[o];
        }
    }
}

/* The bits of the definition, for a dynamic number of rows, for x of both signs, of one, and of zeros. */
static void test_dynamic(void **unused)
{
    NNRT_Model *m = products(), *q;
    const float *w = (const float *)data_of(m, m->nodes.data[0].inputIndex.data[1]);
    const float *bias = (const float *)data_of(m, m->nodes.data[0].inputIndex.data[2]);
    const float *v = (const float *)data_of(m, m->nodes.data[1].inputIndex.data[1]);
    nnrt_quantize_desc d;
    nnrt_quantize_report report;
    float x[2 * COLUMNS], middle[2 * ROWS], want[6], got[6];
    uint32_t n;
    (void)unused;
    memset(&d, 0, sizeof(d));
    d.dynamic = true;
    d.report = &report;
    q = quantized(m, &d);
    assert_int_equal(report.chosen, 2);
    assert_true(report.bytes[0] == (ROWS * COLUMNS + ROWS * 3) * sizeof(float) &&
                report.bytes[1] == ROWS * COLUMNS + ROWS * 3 + (ROWS + 3) * sizeof(float));
    assert_int_equal(count(q, NNRT_NODE_TYPE_MATMUL_INTEGER, &n), 2);
    assert_int_equal(q->allTensors.data[q->inputIndex.data[0]].dims.data[0], -1);
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < COUNT(x); i++) {
            const float real = (float)normal();
            x[i] = k == 0 ? real : k == 1 ? fabsf(real) + 1 : k == 2 ? -fabsf(real) : 0;
        }
        expect_dynamic(x, COLUMNS, w, COLUMNS, 1, ROWS, bias, middle);
        for (size_t i = 0; i < COUNT(middle); i++)
            middle[i] = middle[i] > 0 ? middle[i] : 0;
        expect_dynamic(middle, ROWS, v, 1, 3, 3, NULL, want);
        run_products(q, x, got);
        for (size_t i = 0; i < COUNT(got); i++)
            if (got[i] != want[i])
                fail_msg("case %d, element %u: %.9g, expected %.9g", k, (unsigned)i, (double)got[i], (double)want[i]);
    }
    nnrt_model_destroy(q);
    nnrt_model_destroy(m);
}

/* ---- bad input ---- */

static void refused(const NNRT_Model *m, const nnrt_quantize_desc *d, NNRT_ReturnCode code, const char *words)
{
    NNRT_Model *q = (NNRT_Model *)(uintptr_t)1;
    nnrt_error error;
    NNRT_ReturnCode got;
    memset(&error, 0, sizeof(error));
    got = nnrt_quantize(&q, m, d, &error);
    if (got != code)
        fail_msg("%s: %s", nnrt_code_name(got), error.message);
    if (strstr(error.message, words) == NULL)
        fail_msg("'%s', expected '%s'", error.message, words);
    assert_null(q);
}

static void test_bad(void **unused)
{
    const kind nan = NOT_A_NUMBER, infinite = INFINITE, unreadable = UNREADABLE, good = NORMAL;
    const int32_t open[] = {-1, SIDE, SIDE, CHANNELS};
    NNRT_Model *m = network(false, false), *q, *dynamic = NULL;
    nnrt_quantize_desc d = described(&good);
    nnrt_builder *b;
    uint32_t in[1];
    (void)unused;
    d.samples = 0;
    refused(m, &d, NNRT_INVALID_PARAMETER, "there are no samples");
    d = described(&nan);
    refused(m, &d, NNRT_INVALID_PARAMETER, "input 'x' of sample 2 has NaN or infinity");
    d = described(&infinite);
    refused(m, &d, NNRT_INVALID_PARAMETER, "input 'x' of sample 2 has NaN or infinity");
    d = described(&unreadable);
    refused(m, &d, NNRT_INVALID_BUFFER, "sample 2 cannot be read");
    assert_int_equal(nnrt_quantize(NULL, m, &d, NULL), NNRT_SUCCESS); /* reads no sample */
    d = described(&good);
    q = quantized(m, &d);
    refused(q, &d, NNRT_NOT_SUPPORT, "is quantized already");
    assert_int_equal(nnrt_quantize(NULL, q, &d, NULL), NNRT_NOT_SUPPORT);
    nnrt_model_destroy(q);
    nnrt_model_destroy(m);
    b = begin("dynamic", 4, open, in);
    in[0] = nnrt_add_SOFTMAX(b, "y", NULL, in, 1);
    dynamic = finish(b, in[0]);
    refused(dynamic, &d, NNRT_INVALID_SHAPE, "axis 0 has no size");
    memset(&d, 0, sizeof(d));
    d.weight_bits = 4;
    refused(dynamic, &d, NNRT_NOT_SUPPORT, "no weights to quantize: of 1 nodes with float32 results none is a matrix product");
    d.weight_bits = 5;
    refused(dynamic, &d, NNRT_INVALID_PARAMETER, "weight_bits is 5 and weight_block 0, expected 4 or 8");
    d.dynamic = true;
    d.weight_bits = 4;
    refused(dynamic, &d, NNRT_INVALID_PARAMETER, "weight_bits and dynamic exclude each other");
    d.weight_bits = 0;
    refused(dynamic, &d, NNRT_NOT_SUPPORT, "no weights to quantize: of 1 nodes");
    d.dynamic = false;
    d.weight_bits = 4;
    d.weight_block = 24;
    refused(dynamic, &d, NNRT_INVALID_PARAMETER, "weight_block 24");
    nnrt_model_destroy(dynamic);
}

/* Every allocation may fail: an error code, and nothing is lost. The first 50 are all tried, then ever fewer; the long form: all. */
static void all_fail(const NNRT_Model *m, nnrt_quantize_desc d)
{
    NNRT_Model *q = NULL;
    tracker t;
    nnrt_allocator a = allocator_of(&t);
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    int64_t failures = 0;
    d.allocator = &a;
    for (int64_t k = 1; code != NNRT_SUCCESS; k += 1 + (long_form() ? 0 : k / 50)) {
        memset(&t, 0, sizeof(t));
        t.failAt = k;
        code = nnrt_quantize(&q, m, &d, NULL);
        assert_true(code == NNRT_SUCCESS || code == NNRT_OUT_OF_MEMORY);
        failures += code != NNRT_SUCCESS;
        nnrt_model_destroy(q);
        assert_int_equal(t.live, 0);
        assert_false(t.wrong);
    }
    assert_true(failures > 20);
}

static void test_memory(void **unused)
{
    const kind is = NORMAL;
    NNRT_Model *m = network(true, false), *p = products();
    nnrt_quantize_desc d = described(&is);
    (void)unused;
    d.samples = 1;
    d.least_squares = true;
    all_fail(m, d);
    d.least_squares = false;
    d.part = 1;
    all_fail(m, d);
    memset(&d, 0, sizeof(d));
    d.weight_bits = 4;
    all_fail(p, d);
    nnrt_model_destroy(m);
    nnrt_model_destroy(p);
}

/* A quantized model as a file in memory. */
static uint8_t *file_of(const NNRT_Model *m, const nnrt_quantize_desc *d, size_t *bytes)
{
    NNRT_Model *q = quantized(m, d);
    uint8_t *file;
    assert_int_equal(nnrt_model_save_memory(q, NULL, NULL, 0, bytes, NULL), NNRT_SUCCESS);
    file = (uint8_t *)malloc(*bytes);
    assert_int_equal(nnrt_model_save_memory(q, NULL, file, *bytes, bytes, NULL), NNRT_SUCCESS);
    nnrt_model_destroy(q);
    return file;
}

/* x[?,8,8,4], 1x1 convolutions, each added to the result before the last one; at the end the value gets the shape [N,256] of
   a tensor that operators derive from the shape of x. */
static NNRT_Model *deep_network(void)
{
    const int32_t x[] = {-1, SIDE, SIDE, CHANNELS}, w[] = {CHANNELS, 1, 1, CHANNELS}, one[] = {1};
    const int32_t rest = ELEMENTS;
    const int64_t first = 0;
    NNRT_Conv2DFusion conv;
    NNRT_Concat concat;
    nnrt_builder *b;
    uint32_t in[2], before, shape;
    state = 11;
    memset(&conv, 0, sizeof(conv));
    memset(&concat, 0, sizeof(concat));
    b = begin("deep", 4, x, in);
    before = in[0];
    shape = nnrt_add_SHAPE(b, "shape", NULL, in, 1);
    for (int i = 0; i < 8; i++) {
        const uint32_t last = in[0];
        in[1] = weights(b, 4, w, NULL, NULL);
        in[0] = nnrt_add_CONV2D_FUSION(b, NULL, &conv, in, 2);
        in[1] = before;
        in[0] = nnrt_add_ADD_FUSION(b, NULL, NULL, in, 2);
        before = last;
    }
    before = in[0];
    in[0] = shape;
    in[1] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT64, 1, one, &first, true);
    in[0] = nnrt_add_GATHER(b, "batch", NULL, in, 2);
    in[1] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT32, 1, one, &rest, true);
    in[1] = nnrt_add_CONCAT(b, "flat", &concat, in, 2);
    in[0] = before;
    in[0] = nnrt_add_RESHAPE(b, "flat_value", NULL, in, 2);
    return finish(b, in[0]);
}

/* A network in parts has the ranges and bytes of one in a whole, and needs less memory: a value and the two that later parts
   read, where all together are 17. */
static void test_parts(void **unused)
{
    const kind is = NORMAL;
    NNRT_Model *m = deep_network();
    nnrt_quantize_desc d = described(&is);
    nnrt_session_desc session;
    const nnrt_dims shape = {4, {128, SIDE, SIDE, CHANNELS}};
    size_t bytes[3];
    uint8_t *files[3];
    tracker t[3];
    (void)unused;
    memset(&session, 0, sizeof(session));
    session.device = "reference";
    session.inputDims = nnrt_dims_list_make(&shape, 1);
    d.samples = 3;
    d.without = NNRT_QUANTIZE_RANGES; /* whose choice runs the network as a whole */
    d.session = &session;
    for (uint32_t i = 0; i < 3; i++) {
        nnrt_allocator a = allocator_of(&t[i]);
        memset(&t[i], 0, sizeof(t[i]));
        d.allocator = &a;
        d.part = i == 0 ? SIZE_MAX : i == 1 ? 1 : 600000;
        files[i] = file_of(m, &d, &bytes[i]);
        assert_int_equal(t[i].live, 0);
        assert_int_equal(bytes[i], bytes[0]);
        assert_memory_equal(files[i], files[0], bytes[0]);
    }
    assert_true(t[0].peak > 17 * 128 * ELEMENTS * sizeof(float));
    assert_true(t[1].peak < t[2].peak && t[2].peak < t[0].peak);
    assert_true(t[1].peak < 10 * 128 * ELEMENTS * sizeof(float));
    for (uint32_t i = 0; i < 3; i++)
        free(files[i]);
    nnrt_model_destroy(m);
}

/* Eight convolutions of equal size; their channels are equalized. */
static NNRT_Model *wide_network(void)
{
    const int32_t x[] = {1, SIDE, SIDE, WIDE}, w[] = {WIDE, 3, 3, WIDE};
    NNRT_Conv2DFusion conv;
    nnrt_builder *b;
    uint32_t in[2];
    state = 13;
    memset(&conv, 0, sizeof(conv));
    conv.padMode = NNRT_PAD_MODE_SAME;
    conv.activationType = NNRT_ACTIVATION_TYPE_RELU;
    b = begin("wide", 4, x, in);
    for (int i = 0; i < 8; i++) {
        in[1] = weights(b, 4, w, NULL, NULL);
        in[0] = nnrt_add_CONV2D_FUSION(b, NULL, &conv, in, 2);
    }
    return finish(b, in[0]);
}

/* A sample, and the largest number of live bytes when one is read. */
typedef struct watched {
    kind is;
    tracker *tracked;
    size_t most;
} watched;

static NNRT_ReturnCode watched_sample(void *user, uint32_t index, const nnrt_io *inputs, uint32_t nIn)
{
    watched *w = (watched *)user;
    w->most = w->tracked->live > w->most ? w->tracked->live : w->most;
    return sample(&w->is, index, inputs, nIn);
}

/* While samples run, equalization needs the weights of two of the eight layers once more: one layer is the part that runs, and
   there is room for another one, which gets codes. */
static void test_equalized_memory(void **unused)
{
    NNRT_Model *m = wide_network();
    nnrt_quantize_desc d = described(NULL);
    nnrt_session_desc session;
    nnrt_quantize_report report;
    size_t most[2];
    (void)unused;
    memset(&session, 0, sizeof(session));
    session.device = "reference";
    d.session = &session;
    d.samples = 3;
    d.part = 1;
    d.report = &report;
    for (uint32_t i = 0; i < 2; i++) {
        tracker t;
        nnrt_allocator a = allocator_of(&t);
        watched w = {NORMAL, &t, 0};
        NNRT_Model *q = NULL;
        memset(&t, 0, sizeof(t));
        d.allocator = &a;
        d.sample = watched_sample;
        d.user = &w;
        d.without = NNRT_QUANTIZE_RANGES | (i == 0 ? NNRT_QUANTIZE_EQUALIZE : 0);
        assert_int_equal(nnrt_quantize(&q, m, &d, NULL), NNRT_SUCCESS);
        assert_int_equal(report.equalized, i == 0 ? 0 : 7);
        nnrt_model_destroy(q);
        assert_int_equal(t.live, 0);
        most[i] = w.most;
    }
    assert_true(most[1] > most[0] && most[1] < most[0] + 3 * WIDE * 9 * WIDE * sizeof(float));
    nnrt_model_destroy(m);
}

/* The same bytes for any number of threads. */
static void test_threads(void **unused)
{
    const kind is = NORMAL;
    NNRT_Model *m = network(true, false);
    nnrt_quantize_desc d = described(&is);
    nnrt_session_desc session;
    size_t bytes[2];
    uint8_t *files[2];
    (void)unused;
    if (nnrt_device_find("cpu") == NULL)
        assert_int_equal(nnrt_cpu_register(NULL, NULL), NNRT_SUCCESS);
    for (uint32_t i = 0; i < 2; i++) {
        nnrt_pool *pool = NULL;
        nnrt_pool_desc pooled;
        memset(&session, 0, sizeof(session));
        memset(&pooled, 0, sizeof(pooled));
        pooled.threads = i == 0 ? 1 : 3;
        assert_int_equal(nnrt_pool_create(&pool, &pooled, NULL), NNRT_SUCCESS);
        session.device = "cpu";
        session.threads = pooled.threads;
        session.parallel = nnrt_pool_parallel(pool);
        d.session = &session;
        files[i] = file_of(m, &d, &bytes[i]);
        nnrt_pool_destroy(pool);
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(files[0], files[1], bytes[0]);
    free(files[0]);
    free(files[1]);
    nnrt_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),   cmocka_unit_test(test_integers), cmocka_unit_test(test_keep),
        cmocka_unit_test(test_reports), cmocka_unit_test(test_layers),   cmocka_unit_test(test_errors),
        cmocka_unit_test(test_outlier), cmocka_unit_test(test_zeros),    cmocka_unit_test(test_shared),
        cmocka_unit_test(test_many_operands), cmocka_unit_test(test_bad), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_weights),  cmocka_unit_test(test_weights_run),
        cmocka_unit_test(test_dynamic),
        cmocka_unit_test(test_between), cmocka_unit_test(test_through),  cmocka_unit_test(test_estimate),
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_average), cmocka_unit_test(test_padding), cmocka_unit_test(test_parts), cmocka_unit_test(test_equalized_memory), cmocka_unit_test(test_extreme_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
