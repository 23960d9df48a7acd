/* float32 kernels of devices/nnrt_mcu.h on this machine: random layers against sums in double, within the bound that
   the header states, NaN, Inf and subnormal numbers included. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NNRT_IMPLEMENTATION
#define NNRT_STATIC /* with few operators it compiles in seconds */
#define NNRT_CPU 0
#define NNRT_SELECT
#define NNRT_KEEP_ADD_FUSION 1
#define NNRT_KEEP_AVGPOOL_FUSION 1
#define NNRT_KEEP_CONV2D_FUSION 1
#define NNRT_KEEP_FULL_CONNECTION 1
#define NNRT_KEEP_MATMUL_FUSION 1
#define NNRT_KEEP_MAX_POOL_FUSION 1
#define NNRT_KEEP_MUL_FUSION 1
#include "nnrt.h"

#include "devices/nnrt_mcu.h"

#define F32 NNRT_DATA_TYPE_FLOAT32
#define ROUNDING 0x1p-24
#define TINY 0x1p-150  /* the rounding of a subnormal number */
#define SECOND 1.001   /* roundings of rounded numbers, of which there are fewer than 16,000 */
#define WORK 300000.0  /* products of a layer, at most */

static uint64_t dice_state;

static int dice(int least, int most)
{
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return least + (int)((uint64_t)((uint32_t)(dice_state >> 33)) * (uint64_t)(most - least + 1) >> 31);
}

/* ---- layers ---- */

typedef enum kind { CONV, FULL, MATMUL, MAX_POOL, AVERAGE_POOL, ADD, MUL } kind;

typedef struct layer {
    kind kind;
    bool first, bias, transposeX, transposeW; /* first: images are channels first */
    int n, c, o, group;                       /* channels of x and y; matrices: n rows */
    int in[2], k[2], stride[2], dilation[2], pad[2], end[2], out[2];
    NNRT_ActivationType activation;
} layer;

/* Values: uniform in -1 .. 1, times 2^-130 (x) or 2^-10, or with some NaN, Inf, zeros and subnormal numbers. */
typedef enum values { PLAIN, SMALL, SPECIAL, VALUES } values;

static float value(values v, bool x)
{
    const float plain = (float)dice(-1000000, 1000000) / 1000000.0f;
    if (v == SMALL)
        return x ? ldexpf(plain, -130) : ldexpf(plain, -10);
    if (v == SPECIAL)
        switch (dice(0, x ? 60 : 600)) {
        case 0: return (float)NAN;
        case 1: return dice(0, 1) != 0 ? (float)INFINITY : -(float)INFINITY;
        case 2: return -0.0f;
        case 3: return 0.0f;
        case 4: return 0x1p-149f;
        case 5: return 0x1p60f;
        default: break;
        }
    return plain;
}

static bool find_out(layer *l)
{
    for (int i = 0; i < 2; i++) {
        const int window = (l->k[i] - 1) * l->dilation[i] + 1, size = l->in[i] + l->pad[i] + l->end[i];
        l->out[i] = size < window ? 0 : (size - window) / l->stride[i] + 1;
    }
    return l->out[0] > 0 && l->out[1] > 0;
}

static double terms_of(const layer *l)
{
    return l->kind == CONV ? (double)l->c / l->group * l->k[0] * l->k[1] : (double)l->c;
}

/* A random layer; its kinds take turns. */
static layer random_layer(int number)
{
    layer l;
    do {
        memset(&l, 0, sizeof(l));
        l.kind = number % 3 != 0 ? CONV : (kind)(number / 3 % (MUL + 1));
        l.first = dice(0, 1) != 0;
        l.bias = dice(0, 3) != 0;
        l.n = l.kind == CONV || l.kind >= MAX_POOL ? dice(1, 2) : dice(1, 9);
        l.c = dice(1, 130);
        l.o = l.kind < MAX_POOL ? dice(1, 130) : l.c;
        l.group = 1;
        if (l.kind == CONV && dice(0, 2) == 0) {
            l.o = l.group = l.c; /* depthwise */
        } else if (l.kind == CONV && dice(0, 3) == 0) {
            l.group = dice(2, 4);
            l.c = (l.c + l.group - 1) / l.group * l.group;
            l.o = (l.o + l.group - 1) / l.group * l.group;
        }
        l.transposeX = dice(0, 1) != 0;
        l.transposeW = dice(0, 1) != 0;
        for (int i = 0; i < 2; i++) {
            l.in[i] = dice(1, 12);
            l.k[i] = dice(0, 2) == 0 ? 1 : dice(1, 5);
            l.stride[i] = dice(1, 3);
            l.dilation[i] = l.kind == CONV && dice(0, 2) == 0 ? dice(2, 3) : 1;
            l.pad[i] = dice(0, l.kind == CONV ? l.k[i] + 1 : l.k[i] - 1);
            l.end[i] = dice(0, l.kind == CONV ? l.k[i] + 1 : l.k[i] - 1);
        }
    } while ((l.kind <= AVERAGE_POOL && !find_out(&l)) ||
             (double)l.out[0] * l.out[1] * l.n * l.o * terms_of(&l) > WORK);
    return l;
}

static int32_t image(const layer *l, const int size[2], int channels, int32_t dims[4])
{
    dims[0] = l->n;
    dims[l->first ? 1 : 3] = channels;
    dims[l->first ? 2 : 1] = size[0];
    dims[l->first ? 3 : 2] = size[1];
    return 4;
}

static size_t place(const layer *l, const int size[2], int channels, int n, int h, int w, int c)
{
    const size_t H = (size_t)size[0], W = (size_t)size[1], C = (size_t)channels, pixel = (size_t)h * W + (size_t)w;
    return l->first ? ((size_t)n * C + (size_t)c) * H * W + pixel : ((size_t)n * H * W + pixel) * C + (size_t)c;
}

/* A layer with its operands. z: the second input of ADD and MUL. */
typedef struct made {
    NNRT_Model *model;
    float *x, *w, *bias;
    size_t nX, nW, nY;
} made;

static float *draw_values(size_t count, values v, bool x)
{
    float *to = (float *)malloc(count * sizeof(float) + 1);
    for (size_t i = 0; i < count; i++)
        to[i] = value(v, x);
    return to;
}

static size_t count_of(int32_t rank, const int32_t *dims)
{
    size_t count = 1;
    for (int32_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    return count;
}

static void add_conv(nnrt_builder *b, const layer *l, const uint32_t *in, uint32_t *y)
{
    int64_t pads[4], stride[2], dilation[2];
    NNRT_Conv2DFusion a;
    memset(&a, 0, sizeof(a));
    for (int i = 0; i < 2; i++) {
        pads[2 * i] = l->pad[i];
        pads[2 * i + 1] = l->end[i];
        stride[i] = l->stride[i];
        dilation[i] = l->dilation[i];
    }
    a.stride = nnrt_int64_list(stride, 2);
    a.dilation = nnrt_int64_list(dilation, 2);
    a.padList = nnrt_int64_list(pads, 4);
    a.group = l->group;
    a.activationType = l->activation;
    nnrt_builder_node(b, "layer", NNRT_NODE_TYPE_CONV2D_FUSION, &a, in, 3, y, 1);
}

static void add_pool(nnrt_builder *b, const layer *l, const uint32_t *in, uint32_t *y)
{
    int64_t pads[4], stride[2], kernel[2];
    NNRT_MaxPoolFusion largest;
    NNRT_AvgPoolFusion average;
    memset(&largest, 0, sizeof(largest));
    memset(&average, 0, sizeof(average));
    for (int i = 0; i < 2; i++) {
        pads[2 * i] = l->pad[i];
        pads[2 * i + 1] = l->end[i];
        stride[i] = l->stride[i];
        kernel[i] = l->k[i];
    }
    largest.kernelSize = average.kernelSize = nnrt_int64_list(kernel, 2);
    largest.strides = average.strides = nnrt_int64_list(stride, 2);
    largest.pad = average.pad = nnrt_int64_list(pads, 4);
    largest.activationType = average.activationType = l->activation;
    if (l->kind == MAX_POOL)
        nnrt_builder_node(b, "layer", NNRT_NODE_TYPE_MAX_POOL_FUSION, &largest, in, 1, y, 1);
    else
        nnrt_builder_node(b, "layer", NNRT_NODE_TYPE_AVGPOOL_FUSION, &average, in, 1, y, 1);
}

static void add_other(nnrt_builder *b, const layer *l, const uint32_t *in, uint32_t *y)
{
    NNRT_FullConnection full;
    NNRT_MatMulFusion matmul;
    NNRT_AddFusion add;
    NNRT_MulFusion mul;
    memset(&full, 0, sizeof(full));
    memset(&matmul, 0, sizeof(matmul));
    full.hasBias = l->bias;
    matmul.transposeA = l->transposeX;
    matmul.transposeB = l->transposeW;
    full.activationType = matmul.activationType = add.activationType = mul.activationType = l->activation;
    if (l->kind == FULL)
        nnrt_builder_node(b, "layer", NNRT_NODE_TYPE_FULL_CONNECTION, &full, in, 3, y, 1);
    else if (l->kind == MATMUL)
        nnrt_builder_node(b, "layer", NNRT_NODE_TYPE_MATMUL_FUSION, &matmul, in, 3, y, 1);
    else if (l->kind == ADD)
        nnrt_builder_node(b, "layer", NNRT_NODE_TYPE_ADD_FUSION, &add, in, 2, y, 1);
    else
        nnrt_builder_node(b, "layer", NNRT_NODE_TYPE_MUL_FUSION, &mul, in, 2, y, 1);
}

/* The dimensions of x and of the weights. */
static int32_t dims_of(const layer *l, int32_t x[4], int32_t w[4], int32_t *rankW)
{
    *rankW = 2;
    if (l->kind == FULL || l->kind == MATMUL) {
        const bool rows = l->kind == FULL || l->transposeW, swapped = l->kind == MATMUL && l->transposeX;
        w[0] = rows ? l->o : l->c;
        w[1] = rows ? l->c : l->o;
        x[0] = swapped ? l->c : l->n;
        x[1] = swapped ? l->n : l->c;
        return 2;
    }
    *rankW = 4;
    w[0] = l->o;
    w[1] = l->k[0];
    w[2] = l->k[1];
    w[3] = l->c / l->group;
    return image(l, l->in, l->c, x);
}

/* The model of a layer, with the operands of m, which are drawn if m has none. */
static void make_model(const layer *l, values v, made *m)
{
    int32_t x[4], w[4], rankW, o = l->o;
    const int32_t rank = dims_of(l, x, w, &rankW);
    const bool binary = l->kind >= ADD, product = l->kind < MAX_POOL;
    uint32_t in[3] = {0, NNRT_NO_TENSOR, NNRT_NO_TENSOR}, y;
    nnrt_error e;
    nnrt_builder *b = NULL;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, "layer", NULL), NNRT_SUCCESS);
    m->nX = count_of(rank, x);
    m->nW = product ? count_of(rankW, w) : m->nX;
    m->nY = binary ? m->nX : (size_t)l->n * (size_t)l->o * (rank == 2 ? 1 : (size_t)l->out[0] * (size_t)l->out[1]);
    if (m->x == NULL) {
        m->x = draw_values(m->nX, v, true);
        m->w = draw_values(m->nW, v, false);
        m->bias = draw_values((size_t)l->o, v == SMALL ? SMALL : PLAIN, true);
    }
    in[0] = nnrt_builder_input(b, "x", F32, rank, x);
    if (rank == 4)
        nnrt_builder_format(b, in[0], l->first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
    if (product)
        in[1] = nnrt_builder_constant(b, "w", F32, rankW, w, m->w, false);
    if (binary)
        in[1] = nnrt_builder_input(b, "z", F32, rank, x);
    if (product && l->bias)
        in[2] = nnrt_builder_constant(b, "bias", F32, 1, &o, m->bias, false);
    y = nnrt_builder_tensor(b, "y");
    if (rank == 4)
        nnrt_builder_format(b, y, l->first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
    if (l->kind == CONV)
        add_conv(b, l, in, &y);
    else if (l->kind == MAX_POOL || l->kind == AVERAGE_POOL)
        add_pool(b, l, in, &y);
    else
        add_other(b, l, in, &y);
    nnrt_builder_output(b, y);
    if (nnrt_builder_finish(b, &m->model, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
}

static void run_on(const char *device, const layer *l, const made *m, float *y)
{
    const nnrt_io in[2] = {nnrt_io_make(m->x, m->nX * sizeof(float)), nnrt_io_make(m->w, m->nX * sizeof(float))};
    const nnrt_io out = nnrt_io_make(y, m->nY * sizeof(float));
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    if (nnrt_session_create(&session, m->model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, e.message);
    if (nnrt_run(session, in, l->kind >= ADD ? 2 : 1, &out, 1) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, nnrt_session_error(session));
    nnrt_session_destroy(session);
}

/* ---- expected values ---- */

typedef struct sum {
    double value, size; /* size: the sum of the absolute values */
    int terms;
} sum;

static void add_term(sum *s, float x, float w)
{
    s->value += (double)x * (double)w;
    s->size += fabs((double)x * (double)w);
    s->terms++;
}

/* y[n,p,q,o] of a convolution, or y[n,o] of a matrix product. */
static sum sum_of(const layer *l, const made *m, int n, int p, int q, int o)
{
    const int c = l->c / l->group, g = o / (l->o / l->group);
    sum s = {0, 0, 0};
    if (l->bias) {
        s.value = (double)m->bias[o];
        s.size = fabs(s.value);
    }
    if (l->kind != CONV) {
        for (int k = 0; k < l->c; k++)
            add_term(&s, m->x[l->kind == MATMUL && l->transposeX ? k * l->n + n : n * l->c + k],
                     m->w[l->kind == FULL || l->transposeW ? o * l->c + k : k * l->o + o]);
        return s;
    }
    for (int i = 0; i < l->k[0]; i++)
        for (int j = 0; j < l->k[1]; j++) {
            const int h = p * l->stride[0] - l->pad[0] + i * l->dilation[0];
            const int w = q * l->stride[1] - l->pad[1] + j * l->dilation[1];
            for (int k = 0; k < c && h >= 0 && h < l->in[0] && w >= 0 && w < l->in[1]; k++)
                add_term(&s, m->x[place(l, l->in, l->c, n, h, w, g * c + k)],
                         m->w[((o * l->k[0] + i) * l->k[1] + j) * c + k]);
        }
    return s;
}

static void check_sum(const layer *l, const sum *s, float y, float reference)
{
    const double bound = s->terms * (ROUNDING * s->size + TINY) * SECOND;
    const double apart = ((2 * s->terms + 1) * ROUNDING * s->size + 2 * s->terms * TINY) * SECOND;
    bool good;
    if (isnan(s->value))
        good = isnan(y);
    else if (isinf(s->value))
        good = (double)y == s->value;
    else
        good = fabs((double)y - s->value) <= bound && fabs((double)y - (double)reference) <= apart;
    if (!good)
        fail_msg("kind %d, %d to %d channels, %d groups, %dx%d: %.9g, reference %.9g, expected %.9g within %.3g", l->kind, l->c,
                 l->o, l->group, l->k[0], l->k[1], (double)y, (double)reference, s->value, bound);
}

static void check_sums(const layer *l, const made *m, const float *y, const float *reference)
{
    const int one[2] = {1, 1}, *out = l->kind == CONV ? l->out : one;
    for (int n = 0; n < l->n; n++)
        for (int p = 0; p < out[0]; p++)
            for (int q = 0; q < out[1]; q++)
                for (int o = 0; o < l->o; o++) {
                    const size_t at = l->kind == CONV ? place(l, out, l->o, n, p, q, o) : (size_t)(n * l->o + o);
                    const sum s = sum_of(l, m, n, p, q, o);
                    check_sum(l, &s, y[at], reference[at]);
                }
}

/* The same bits; NaN is NaN. */
static void check_bits(const layer *l, const float *y, const float *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(&y[i], &expected[i], sizeof(float)) != 0 && !(isnan(y[i]) && isnan(expected[i])))
            fail_msg("kind %d, %d channels, %dx%d, activation %d: element %u is %.9g, expected %.9g", l->kind, l->c, l->k[0],
                     l->k[1], (int)l->activation, (unsigned)i, (double)y[i], (double)expected[i]);
}

/* ---- which kernel ---- */

static uint32_t own_kernels;

static NNRT_ReturnCode watched_edit(void *user, nnrt_draft *draft)
{
    const NNRT_ReturnCode code = nnrti_mcu_edit_draft(user, draft);
    for (uint32_t s = 0; s < draft->nSteps; s++)
        own_kernels += strncmp(draft->steps[s].kernelName, "nnrt_mcu_", 9) == 0 ? 1 : 0;
    return code;
}

/* Steps with a kernel of the device when the model is prepared for this target. */
static uint32_t kernels_for(const NNRT_Model *model, const char *target)
{
    NNRT_PreparedModel *prepared = NULL;
    NNRT_ModelConfig config;
    nnrti_mcu_isa isa = nnrti_mcu_isas[0];
    memset(&config, 0, sizeof(config));
    isa.target = target;
    own_kernels = 0;
    assert_int_equal(nnrt_plan_prepare(model, &config, watched_edit, &isa, NULL, &prepared), NNRT_SUCCESS);
    prepared->vtbl->Destroy(prepared);
    return own_kernels;
}

/* ---- tests ---- */

/* Against the C library, whose fmaf rounds once: random bit patterns, and sums near ties. */
static void test_fma(void **state)
{
    (void)state;
    dice_state = 1;
    for (int i = 0; i < 1000000; i++) {
        float v[3], y, expected;
        for (int k = 0; k < 3; k++) {
            uint32_t bits = (uint32_t)dice(0, 0xffff) << 16 | (uint32_t)dice(0, 0xffff);
            if (i % 2 == 0) /* few bits and near exponents */
                bits = (bits & 0x80e00007u) | (uint32_t)dice(112, 140) << 23;
            memcpy(&v[k], &bits, sizeof(bits));
        }
        if (i % 4 == 0)
            v[2] = -v[0] * v[1];
        y = nnrti_mcu_fma(v[0], v[1], v[2]);
        expected = fmaf(v[0], v[1], v[2]);
        if (memcmp(&y, &expected, sizeof(y)) != 0 && !(isnan(y) && isnan(expected)))
            fail_msg("%a * %a + %a is %a, expected %a", (double)v[0], (double)v[1], (double)v[2], (double)y, (double)expected);
    }
}

static void test_layers(void **state)
{
    static const NNRT_ActivationType activations[] = {
        NNRT_ACTIVATION_TYPE_RELU, NNRT_ACTIVATION_TYPE_RELU6, NNRT_ACTIVATION_TYPE_RELU1, NNRT_ACTIVATION_TYPE_SIGMOID,
        NNRT_ACTIVATION_TYPE_HSWISH};
    (void)state;
    dice_state = 2;
    for (int i = 0; i < 300; i++) {
        layer l = random_layer(i);
        made m = {NULL, NULL, NULL, NULL, 0, 0, 0};
        float *y[3];
        make_model(&l, (values)(i / 2 % VALUES), &m);
        for (int k = 0; k < 3; k++)
            y[k] = (float *)malloc(m.nY * sizeof(float));
        assert_int_equal(kernels_for(m.model, "host"), 1);
        assert_int_equal(kernels_for(m.model, "cortex-m3"), 0);
        run_on("mcu:host", &l, &m, y[0]);
        run_on("reference", &l, &m, y[1]);
        if (l.kind < MAX_POOL)
            check_sums(&l, &m, y[0], y[1]);
        else
            check_bits(&l, y[0], y[1], m.nY);
        nnrt_model_destroy(m.model);
        l.activation = activations[i % 5];
        make_model(&l, PLAIN, &m);
        run_on("mcu:host", &l, &m, y[2]);
        for (size_t k = 0; k < m.nY; k++)
            y[0][k] = nnrt_activate(y[0][k], l.activation);
        check_bits(&l, y[2], y[0], m.nY);
        nnrt_model_destroy(m.model);
        for (int k = 0; k < 3; k++)
            free(y[k]);
        free(m.x);
        free(m.w);
        free(m.bias);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fma), cmocka_unit_test(test_layers)};
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_mcu_register("host", &e) != NNRT_SUCCESS)
        return fprintf(stderr, "%s\n", e.message), 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
