/* Convolutions that the fast device (devices/nnrt_cpu.h) computes by several GEMMs, grouped, transposed and 3-D, and
   pools of any rank, with each instruction set of this machine and dimensions around the borders of its vectors and
   tiles. Expected values are computed in double; the error bound is a number of roundings, each 2^-24 of the rounded
   value (ROUNDING). The reference device must meet the same bounds. */
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
#include "sets.h"

#define ROUNDING 0x1p-24
#define SECOND 1.001 /* roundings of rounded values, fewer than 16,000 */

/* ---- numbers ---- */

static float *reals(size_t count)
{
    float *made = (float *)malloc((count + 1) * sizeof(float));
    for (size_t i = 0; i < count; i++)
        made[i] = (float)draw(2001) / 1000.0f - 1.0f;
    return made;
}

/* ---- a convolution ---- */

/* x and y have n images of k and of c channels. window[0] and index 0 of the other arrays belong to a third axis before
   the height if `volume`; else its sizes are 1 and its paddings 0. */
typedef struct conv {
    bool volume, transposed, planes, bias; /* planes: x and y have their channels first; a volume always does */
    int32_t n, k, c, group;
    int32_t in[3], window[3];
    int64_t stride[3], dilation[3], pad[3], end[3]; /* end: paddings after x */
    int64_t more[3];                                /* of a transposed one: output padding at the end of y */
    NNRT_ActivationType activation;
} conv;

typedef struct made {
    NNRT_Model *model;
    float *x, *w, *bias;
    size_t nX, nW, nY;
    int32_t out[3];
    char what[300];
} made;

static conv conv_of(int32_t n, int32_t k, int32_t c, int32_t group)
{
    conv s;
    memset(&s, 0, sizeof(s));
    s.n = n;
    s.k = k;
    s.c = c;
    s.group = group;
    for (int32_t i = 0; i < 3; i++) {
        s.in[i] = s.window[i] = 1;
        s.stride[i] = s.dilation[i] = 1;
    }
    return s;
}

/* Dimensions of y; false: y would be empty. */
static bool find_out(const conv *s, int32_t out[3])
{
    for (int32_t i = 0; i < 3; i++) {
        const int64_t window = s->dilation[i] * (s->window[i] - 1) + 1, pads = s->pad[i] + s->end[i];
        const int64_t extent = s->transposed ? (s->in[i] - 1) * s->stride[i] + window + s->more[i] - pads
                                             : (s->in[i] + pads - window) / s->stride[i] + 1;
        if (extent < 1 || (!s->transposed && s->in[i] + pads < window))
            return false;
        out[i] = (int32_t)extent;
    }
    return true;
}

static size_t cells(const int32_t extents[3])
{
    return (size_t)extents[0] * (size_t)extents[1] * (size_t)extents[2];
}

/* Index of channel c of a pixel of image n. */
static size_t place(bool planes, const int32_t extents[3], int32_t channels, int32_t n, int32_t c, const int64_t at[3])
{
    const size_t cell = (size_t)((at[0] * extents[1] + at[1]) * extents[2] + at[2]), all = cells(extents);
    return planes ? ((size_t)n * (size_t)channels + (size_t)c) * all + cell
                  : ((size_t)n * all + cell) * (size_t)channels + (size_t)c;
}

static int32_t dims_of(const conv *s, const int32_t extents[3], int32_t channels, int32_t dims[5])
{
    const bool first = s->planes || s->volume;
    int32_t rank = 0;
    dims[rank++] = s->n;
    if (first)
        dims[rank++] = channels;
    for (int32_t i = s->volume ? 0 : 1; i < 3; i++)
        dims[rank++] = extents[i];
    if (!first)
        dims[rank++] = channels;
    return rank;
}

static uint32_t add_conv(nnrt_builder *b, const char *name, const conv *s, uint32_t in[3])
{
    const int64_t pads[4] = {s->pad[1], s->end[1], s->pad[2], s->end[2]};
    const int64_t volume[6] = {s->pad[0], s->pad[1], s->pad[2], s->end[0], s->end[1], s->end[2]};
    if (s->volume) {
        NNRT_Conv3D attr;
        memset(&attr, 0, sizeof(attr));
        attr.strides = nnrt_int64_list(s->stride, 3);
        attr.dilations = nnrt_int64_list(s->dilation, 3);
        attr.pads = nnrt_int64_list(volume, 6);
        attr.group = s->group;
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_CONV_3D, &attr, in, 3);
    }
    if (s->transposed) {
        NNRT_Conv2dTransposeFusion attr;
        memset(&attr, 0, sizeof(attr));
        attr.stride = nnrt_int64_list(s->stride + 1, 2);
        attr.dilation = nnrt_int64_list(s->dilation + 1, 2);
        attr.padList = nnrt_int64_list(pads, 4);
        attr.outputPaddings = nnrt_int64_list(s->more + 1, 2);
        attr.group = s->group;
        attr.activationType = s->activation;
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &attr, in, 3);
    } else {
        NNRT_Conv2DFusion attr;
        memset(&attr, 0, sizeof(attr));
        attr.stride = nnrt_int64_list(s->stride + 1, 2);
        attr.dilation = nnrt_int64_list(s->dilation + 1, 2);
        attr.padList = nnrt_int64_list(pads, 4);
        attr.group = s->group;
        attr.activationType = s->activation;
        return nnrt_builder_op(b, name, NNRT_NODE_TYPE_CONV2D_FUSION, &attr, in, 3);
    }
}

static NNRT_Model *model_of(const conv *s, const float *w, const float *bias)
{
    const int32_t deep = s->k / s->group;
    const int32_t image[4] = {s->c, s->window[1], s->window[2], deep};
    const int32_t volume[5] = {s->c, deep, s->window[0], s->window[1], s->window[2]};
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    nnrt_error e;
    uint32_t in[3];
    int32_t dims[5], rank;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, "conv", NULL), NNRT_SUCCESS);
    rank = dims_of(s, s->in, s->k, dims);
    in[0] = nnrt_builder_input(b, "x", F32, rank, dims);
    if (s->planes)
        nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
    in[1] = nnrt_builder_constant(b, "w", F32, s->volume ? 5 : 4, s->volume ? volume : image, w, true);
    in[2] = s->bias ? nnrt_builder_constant(b, "bias", F32, 1, &s->c, bias, true) : NNRT_NO_TENSOR;
    nnrt_builder_output(b, add_conv(b, "conv", s, in));
    if (nnrt_builder_finish(b, &model, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    return model;
}

static made make(const conv *s)
{
    made m;
    memset(&m, 0, sizeof(m));
    assert_true(find_out(s, m.out));
    snprintf(m.what, sizeof(m.what),
             "%s%s%s of %d x [%d,%d,%d] x %d by %d of %d,%d,%d, %d groups, stride %d,%d,%d, dilation %d,%d,%d, pad "
             "%d,%d,%d and %d,%d,%d, more %d,%d, activation %d%s",
             s->transposed ? "transposed " : "", s->planes ? "planes " : "", s->volume ? "volume" : "image", (int)s->n,
             (int)s->in[0], (int)s->in[1], (int)s->in[2], (int)s->k, (int)s->c, (int)s->window[0], (int)s->window[1],
             (int)s->window[2], (int)s->group, (int)s->stride[0], (int)s->stride[1], (int)s->stride[2],
             (int)s->dilation[0], (int)s->dilation[1], (int)s->dilation[2], (int)s->pad[0], (int)s->pad[1],
             (int)s->pad[2], (int)s->end[0], (int)s->end[1], (int)s->end[2], (int)s->more[1], (int)s->more[2],
             (int)s->activation, s->bias ? ", bias" : "");
    m.nX = (size_t)s->n * cells(s->in) * (size_t)s->k;
    m.nW = (size_t)s->c * cells(s->window) * (size_t)(s->k / s->group);
    m.nY = (size_t)s->n * cells(m.out) * (size_t)s->c;
    m.x = reals(m.nX);
    m.w = reals(m.nW);
    m.bias = reals((size_t)s->c);
    m.model = model_of(s, m.w, m.bias);
    return m;
}

static void drop(made *m)
{
    nnrt_model_destroy(m->model);
    free(m->x);
    free(m->w);
    free(m->bias);
}

static double activated(double x, NNRT_ActivationType type)
{
    return type == NNRT_ACTIVATION_TYPE_RELU      ? (x > 0 ? x : 0)
           : type == NNRT_ACTIVATION_TYPE_RELU6   ? (x > 6 ? 6 : x > 0 ? x : 0)
           : type == NNRT_ACTIVATION_TYPE_SIGMOID ? 1 / (1 + exp(-x))
                                                  : x;
}

/* The position on the other side that filter tap `tap` connects with position `at` of x of a transposed convolution,
   else of y. false: it is in the padding. */
static bool meets(const conv *s, const int32_t out[3], const int64_t at[3], const int64_t tap[3], int64_t other[3])
{
    const int32_t *extents = s->transposed ? out : s->in;
    for (int32_t i = 0; i < 3; i++) {
        other[i] = at[i] * s->stride[i] - s->pad[i] + tap[i] * s->dilation[i];
        if (other[i] < 0 || other[i] >= extents[i])
            return false;
    }
    return true;
}

static bool next(int64_t at[3], const int32_t extents[3])
{
    for (int32_t i = 2; i >= 0; i--) {
        if (++at[i] < extents[i])
            return true;
        at[i] = 0;
    }
    return false;
}

/* Adds the products of one pair of pixels and a filter tap, for all channels of a group. */
static void add_products(const conv *s, const made *m, int32_t n, const int64_t from[3], const int64_t to[3],
                         const int64_t tap[3], double *sum, double *size)
{
    const int32_t deep = s->k / s->group;
    const bool planes = s->planes || s->volume;
    for (int32_t o = 0; o < s->c; o++)
        for (int32_t k = 0; k < deep; k++) {
            const size_t y = place(planes, m->out, s->c, n, o, to);
            const size_t x = place(planes, s->in, s->k, n, o / (s->c / s->group) * deep + k, from);
            const size_t cell = (size_t)((tap[0] * s->window[1] + tap[1]) * s->window[2] + tap[2]);
            const size_t w = s->volume ? ((size_t)o * (size_t)deep + (size_t)k) * cells(s->window) + cell
                                       : ((size_t)o * cells(s->window) + cell) * (size_t)deep + (size_t)k;
            const double part = (double)m->x[x] * (double)m->w[w];
            sum[y] += part;
            size[y] += fabs(part);
        }
}

/* n products, rounded or not, and n additions, in any order: (n + 1) roundings of the sum of the absolute values.
   SIGMOID has a slope of at most 1/4, and is within 4 ulp, of 2 roundings each. One more of the result, because
   expected is rounded itself. */
static void expect(const conv *s, const made *m, float *expected, float *bound)
{
    const double terms = (double)cells(s->window) * s->k / s->group;
    const bool smooth = s->activation == NNRT_ACTIVATION_TYPE_SIGMOID;
    double *sum = (double *)calloc(m->nY + 1, sizeof(double)), *size = (double *)calloc(m->nY + 1, sizeof(double));
    for (size_t i = 0; i < m->nY && s->bias; i++) {
        sum[i] = (double)m->bias[s->planes || s->volume ? i / cells(m->out) % (size_t)s->c : i % (size_t)s->c];
        size[i] = fabs(sum[i]);
    }
    for (int32_t n = 0; n < s->n; n++) {
        int64_t at[3] = {0, 0, 0}, other[3];
        do {
            int64_t tap[3] = {0, 0, 0};
            do {
                if (meets(s, m->out, at, tap, other))
                    add_products(s, m, n, s->transposed ? at : other, s->transposed ? other : at, tap, sum, size);
            } while (next(tap, s->window));
        } while (next(at, s->transposed ? s->in : m->out));
    }
    for (size_t i = 0; i < m->nY; i++) {
        const double y = activated(sum[i], s->activation);
        expected[i] = (float)y;
        const double off = (terms + 1) * size[i] * (smooth ? 0.25 : 1) + (smooth ? 9 : 1) * fabs(y);
        bound[i] = (float)(off * ROUNDING * SECOND);
    }
    free(size);
    free(sum);
}

/* ---- devices ---- */

/* The value of the extension nnrt.cpu.kernel, NULL: not passed. Creating a session fails if no step has that kernel. */
static const char *kernel;

static nnrt_session_desc desc_of(const char *device, NNRT_Extension *extension)
{
    nnrt_session_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.device = device;
    extension->name = "nnrt.cpu.kernel";
    extension->data = kernel;
    extension->size = kernel != NULL ? (uint32_t)strlen(kernel) : 0;
    desc.extensions = NNRT_ExtensionList_make(extension, kernel != NULL ? 1 : 0);
    return desc;
}

/* Returns the number of steps of the session; workers 0: the calling thread. */
static uint32_t run_on(const char *device, const made *m, float *y, uint32_t workers)
{
    nnrt_session *session = NULL;
    NNRT_Extension extension;
    nnrt_session_desc desc = desc_of(device, &extension);
    nnrt_error e;
    nnrt_io in = nnrt_io_make(m->x, m->nX * sizeof(float)), out = nnrt_io_make(y, m->nY * sizeof(float));
    uint32_t steps;
    team t;
    memset(&e, 0, sizeof(e));
    desc.parallel = team_of(&t, workers);
    if (nnrt_session_create(&session, m->model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s on %s: %s", m->what, device, e.message);
    if (nnrt_run(session, &in, 1, &out, 1) != NNRT_SUCCESS)
        fail_msg("%s on %s: %s", m->what, device, nnrt_session_error(session));
    steps = nnrt_session_get_memory(session).steps;
    nnrt_session_destroy(session);
    return steps;
}

/* Number of floats in a vector of set s. */
static int32_t lanes_of(uint32_t s)
{
    return strcmp(sets[s], "cpu-avx512") == 0 ? 16 : strcmp(sets[s], "cpu-avx2") == 0 ? 8 : 4;
}

/* The expected kernel of a convolution: several groups whose channels fit a vector have a separate kernel. */
static const char *kernel_of(const conv *s, uint32_t set)
{
    const int32_t k = s->k / s->group, c = s->c / s->group;
    if (s->group == s->k && s->group == s->c && !s->transposed && !s->volume)
        return "depthwise";
    if (s->group == 1 && !s->transposed && !s->volume)
        return "gemm";
    return s->group > 1 && lanes_of(set) / (k > c ? k : c) > 1 ? "conv_grouped" : "multi_gemm";
}

static void compare(const made *m, const char *device, const float *y, const float *expected, const float *bound)
{
    for (size_t i = 0; i < m->nY; i++)
        if (!(fabsf(y[i] - expected[i]) <= bound[i]))
            fail_msg("%s on %s: element %u is %.9g, expected %.9g within %.3g", m->what, device, (unsigned)i,
                     (double)y[i], (double)expected[i], (double)bound[i]);
}

/* Results of each set are within the bound of expected, and bit-identical with one, two, three and eight workers. The
   reference device has the same bound. */
static void check(const conv *s)
{
    made m = make(s);
    float *y = reals(m.nY), *first = reals(m.nY), *expected = reals(m.nY), *bound = reals(m.nY);
    expect(s, &m, expected, bound);
    (void)run_on("reference", &m, y, 0);
    compare(&m, "reference", y, expected, bound);
    for (uint32_t i = 0; i < nSets; i++) {
        if (has_no_floats(i))
            continue;
        kernel = kernel_of(s, i);
        for (uint32_t workers = 0; workers <= 8; workers += workers == 3 ? 5 : 1) {
            memset(y, 0xA5, m.nY * sizeof(float));
            (void)run_on(sets[i], &m, y, workers);
            if (workers == 0)
                memcpy(first, y, m.nY * sizeof(float));
            else if (memcmp(first, y, m.nY * sizeof(float)) != 0)
                fail_msg("%s on %s: %u workers give other bits than one", m.what, sets[i], workers);
        }
        compare(&m, sets[i], y, expected, bound);
        kernel = NULL;
    }
    free(bound);
    free(expected);
    free(first);
    free(y);
    drop(&m);
}

static const NNRT_ActivationType activations[] = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION, NNRT_ACTIVATION_TYPE_RELU,
                                                  NNRT_ACTIVATION_TYPE_RELU6, NNRT_ACTIVATION_TYPE_SIGMOID};

/* A random kernel size and input size, for which y is not empty. */
static void draw_window(conv *s)
{
    int32_t out[3];
    do
        for (int32_t i = s->volume ? 0 : 1; i < 3; i++) {
            s->in[i] = 1 + (int32_t)draw(s->volume ? 5 : 11);
            s->window[i] = 1 + (int32_t)draw(i == 0 ? 3 : 4);
            s->stride[i] = 1 + draw(3);
            s->dilation[i] = 1 + (draw(3) == 0) * (1 + draw(2));
            s->pad[i] = draw(4) == 0 ? draw(7) : draw(2);
            s->end[i] = draw(4) == 0 ? draw(7) : draw(2);
            s->more[i] = s->transposed && s->stride[i] > 1 ? draw((uint32_t)s->stride[i]) : 0;
        }
    while (!find_out(s, out));
    s->planes = !s->volume && draw(2) == 0;
    s->bias = draw(2) == 0;
    s->activation = s->volume ? NNRT_ACTIVATION_TYPE_NO_ACTIVATION : activations[draw(COUNT(activations))];
}

/* ---- groups ---- */

/* Groups of 1 to 17 channels of x and of y, of one pixel and of some. */
static void test_groups(void **unused)
{
    static const int32_t counts[] = {2, 3, 4, 5, 7, 8, 9, 16, 17, 33};
    (void)unused;
    state = 1;
    for (int32_t k = 1; k <= 17; k += k < 9 ? 1 : 2)
        for (int32_t c = 1; c <= 17; c += c < 9 ? 1 : 2) {
            const int32_t group = counts[draw(COUNT(counts))];
            conv s = conv_of(1 + (int32_t)draw(2), k * group, c * group, group);
            draw_window(&s);
            check(&s);
        }
}

/* As many groups as a vector of each set has floats, one more and one less; pixels around a tile. */
static void test_blocks(void **unused)
{
    (void)unused;
    state = 2;
    for (int32_t group = 2; group <= 35; group += group < 18 ? 1 : 7) {
        conv s = conv_of(1, group * (1 + (int32_t)draw(4)), group * (1 + (int32_t)draw(4)), group);
        if (s.k == group && s.c == group) /* that is depthwise */
            s.c += group;
        s.in[2] = group;
        s.window[2] = 1 + (int32_t)draw(2);
        s.pad[2] = s.window[2] - 1;
        s.bias = true;
        check(&s);
    }
}

/* Channels of a group around a panel of each set, and enough work for threads to share it. */
static void test_large_groups(void **unused)
{
    static const int32_t channels[] = {15, 16, 23, 24, 31, 32, 33, 48, 65};
    (void)unused;
    state = 3;
    for (uint32_t i = 0; i < COUNT(channels); i++) {
        conv s = conv_of(1, 2 * channels[i], 2 * channels[COUNT(channels) - 1 - i], 2);
        s.in[1] = 3 + (int32_t)i;
        s.in[2] = 7 + (int32_t)draw(8);
        s.window[1] = s.window[2] = 3;
        s.pad[1] = s.pad[2] = s.end[1] = s.end[2] = 1;
        s.planes = i % 2 == 0;
        check(&s);
    }
}

/* ---- transposed ---- */

static void test_transposed(void **unused)
{
    static const int32_t channels[] = {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 49};
    (void)unused;
    state = 4;
    for (uint32_t i = 0; i < 140; i++) {
        conv s = conv_of(1 + (int32_t)draw(2), 1 + (int32_t)draw(18), channels[i % COUNT(channels)], 1);
        s.transposed = true;
        draw_window(&s);
        check(&s);
    }
}

static void test_transposed_groups(void **unused)
{
    (void)unused;
    state = 5;
    for (uint32_t i = 0; i < 80; i++) {
        const int32_t group = 2 + (int32_t)draw(20);
        conv s = conv_of(1, group * (1 + (int32_t)draw(5)), group * (1 + (int32_t)draw(5)), group);
        if (i % 2 == 0) /* depthwise */
            s.k = s.c = group;
        s.transposed = true;
        draw_window(&s);
        check(&s);
    }
}

/* Strides above the kernel size: pixels without a tap are the bias. If a step would have too many phases, the reference
   kernel runs. */
static void test_strides(void **unused)
{
    (void)unused;
    state = 6;
    for (int32_t stride = 1; stride <= 9; stride++) {
        conv s = conv_of(1, 5, 6, 1);
        s.transposed = s.bias = true;
        s.in[1] = s.in[2] = 3;
        s.window[1] = 2;
        s.window[2] = 3;
        s.stride[1] = s.stride[2] = stride;
        s.more[1] = s.more[2] = stride > 1 ? stride - 1 : 0;
        if (stride <= 8) {
            check(&s);
        } else {
            made m = make(&s);
            float *y = reals(m.nY), *expected = reals(m.nY);
            (void)run_on("reference", &m, expected, 0);
            for (uint32_t i = 0; i < nSets; i++) {
                (void)run_on(sets[i], &m, y, 0);
                assert_memory_equal(y, expected, m.nY * sizeof(float));
            }
            free(expected);
            free(y);
            drop(&m);
        }
    }
}

/* A row of filter taps without padding is one run of elements of x, and one tap of the GEMM. Also so long a row that a patch
   would be too large, and one just too short for that; the last window ends with x, or before it. */
static void test_adjacent_taps(void **unused)
{
    (void)unused;
    state = 12;
    for (uint32_t i = 0; i < 24; i++) {
        conv s = conv_of(1 + (int32_t)i % 2, (int32_t)(i % 3 == 0 ? 1 : i % 3 == 1 ? 3 : 40), 19, 1);
        s.bias = i % 4 != 0;
        s.planes = s.k == 1 && i % 2 == 0;
        s.window[1] = 1 + (int32_t)i % 4;
        s.window[2] = s.k == 1 ? 31 + (int32_t)i * 20 : s.k == 3 ? 10 + (int32_t)i % 3 : 2;
        s.stride[2] = 1 + (int32_t)i % 5 * (s.k == 1 ? 11 : 1);
        s.in[1] = s.window[1] + (int32_t)i % 3;
        s.in[2] = s.window[2] + (int32_t)s.stride[2] * (int32_t)(i % 7) + (int32_t)draw((uint32_t)s.stride[2]);
        s.pad[1] = i % 5 == 0;
        check(&s);
    }
}

/* Strides and dilations of all common divisors from 1 to 6: the taps of a phase are stride / divisor apart. A window of 7
   taps has phases of several taps, of one, and of none. */
static void test_common_divisors(void **unused)
{
    (void)unused;
    state = 12;
    for (int64_t stride = 1; stride <= 8; stride++)
        for (int64_t dilation = 1; dilation <= 9; dilation++) {
            conv s = conv_of(1, 2, 3, 1);
            s.transposed = s.bias = true;
            s.in[1] = 3;
            s.window[1] = 7;
            s.stride[1] = stride;
            s.dilation[1] = dilation;
            s.pad[1] = draw(3);
            s.more[1] = stride > 1 ? draw((uint32_t)stride) : 0;
            check(&s);
        }
}

/* ---- a third axis ---- */

static void test_volumes(void **unused)
{
    static const int32_t channels[] = {1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 33};
    (void)unused;
    state = 11;
    for (uint32_t i = 0; i < 110; i++) {
        const int32_t group = i % 3 == 0 ? 2 + (int32_t)draw(9) : 1;
        conv s = conv_of(1 + (int32_t)draw(2), group * (1 + (int32_t)draw(6)),
                         group * (group > 1 ? 1 + (int32_t)draw(6) : channels[i % COUNT(channels)]), group);
        s.volume = true;
        draw_window(&s);
        check(&s);
    }
}

/* A convolution reads the channels-last result of another one directly: two in a row are bit-identical to two single
   ones, with one copy less before and after. */
static void test_volumes_in_a_row(void **unused)
{
    conv s = conv_of(2, 3, 5, 1), t = conv_of(2, 5, 4, 1);
    (void)unused;
    state = 12;
    s.volume = t.volume = true;
    for (int32_t i = 0; i < 3; i++) {
        s.in[i] = 4 + i;
        t.in[i] = s.in[i] - 1;
        s.window[i] = 2;
        t.window[i] = 3;
        t.pad[i] = t.end[i] = 1;
    }
    for (uint32_t i = 0; i < nSets; i++) {
        made m = make(&s), n = make(&t), both = m;
        float *y = reals(m.nY), *z = reals(n.nY), *expected = reals(n.nY);
        const int32_t w[2][5] = {{5, 3, 2, 2, 2}, {4, 5, 3, 3, 3}}, dims[5] = {2, 3, 4, 5, 6};
        nnrt_builder *b = NULL;
        NNRT_Extension extension;
        nnrt_session *session = NULL;
        nnrt_session_desc desc = desc_of(sets[i], &extension);
        nnrt_io in = nnrt_io_make(m.x, m.nX * sizeof(float)), out = nnrt_io_make(z, n.nY * sizeof(float));
        nnrt_error e;
        uint32_t of[3];
        memset(&e, 0, sizeof(e));
        (void)run_on(sets[i], &m, y, 0);
        assert_int_equal(m.nY, n.nX);
        free(n.x);
        n.x = y;
        (void)run_on(sets[i], &n, expected, 0);
        assert_int_equal(nnrt_builder_create(&b, "row", NULL), NNRT_SUCCESS);
        of[0] = nnrt_builder_input(b, "x", F32, 5, dims);
        of[1] = nnrt_builder_constant(b, "first", F32, 5, w[0], m.w, true);
        of[2] = NNRT_NO_TENSOR;
        of[0] = add_conv(b, "one", &s, of);
        of[1] = nnrt_builder_constant(b, "second", F32, 5, w[1], n.w, true);
        nnrt_builder_output(b, add_conv(b, "two", &t, of));
        if (nnrt_builder_finish(b, &both.model, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        nnrt_builder_destroy(b);
        assert_int_equal(nnrt_session_create(&session, both.model, &desc, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_run(session, &in, 1, &out, 1), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_get_memory(session).steps, 4);
        nnrt_session_destroy(session);
        assert_memory_equal(z, expected, n.nY * sizeof(float));
        nnrt_model_destroy(both.model);
        free(z);
        free(expected);
        drop(&m);
        drop(&n);
    }
}

/* A pool over `axes` axes of n x c planes. */
typedef struct pool {
    bool largest, ceil, counted; /* counted: the average includes padding */
    int32_t axes, n, c, in[4], out[4];
    int64_t window[4], stride[4], dilation[4], pads[8];
} pool;

static bool draw_pool(pool *p)
{
    memset(p, 0, sizeof(*p));
    p->largest = draw(2) == 0;
    p->ceil = draw(3) == 0;
    p->counted = !p->largest && draw(2) == 0;
    p->axes = 1 + (int32_t)draw(4);
    p->n = 1 + (int32_t)draw(2);
    p->c = 1 + (int32_t)draw(3);
    for (int32_t i = 0; i < p->axes; i++) {
        const bool last = i + 1 == p->axes;
        int64_t reach, rest;
        p->in[i] = 1 + (int32_t)draw(last ? 80 : p->axes > 2 ? 4 : 7);
        p->window[i] = 1 + draw(4);
        p->stride[i] = 1 + draw(4);
        p->dilation[i] = 1 + (draw(3) == 0);
        reach = (p->window[i] - 1) * p->dilation[i] + 1;
        p->pads[i] = draw((uint32_t)reach);
        p->pads[p->axes + i] = draw((uint32_t)reach);
        rest = p->in[i] + p->pads[i] + p->pads[p->axes + i] - reach;
        if (rest < 0 || (p->pads[i] > 0 && p->dilation[i] > p->in[i]))
            return false;
        p->out[i] = (int32_t)((rest + (p->ceil ? p->stride[i] - 1 : 0)) / p->stride[i]) + 1;
        if (p->ceil && (p->out[i] - 1) * p->stride[i] >= p->in[i] + p->pads[i])
            p->out[i]--;
        if ((p->out[i] - 1) * p->stride[i] - p->pads[i] >= p->in[i])
            return false;
    }
    return true;
}

static NNRT_Model *model_of_pool(const pool *p)
{
    int32_t dims[6] = {p->n, p->c};
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    nnrt_error e;
    uint32_t in;
    memset(&e, 0, sizeof(e));
    memcpy(dims + 2, p->in, sizeof(p->in));
    assert_int_equal(nnrt_builder_create(&b, "pool", NULL), NNRT_SUCCESS);
    in = nnrt_builder_input(b, "x", F32, 2 + p->axes, dims);
    if (p->largest) {
        NNRT_MaxPool3D attr;
        memset(&attr, 0, sizeof(attr));
        attr.kernelShape = nnrt_int64_list(p->window, (uint32_t)p->axes);
        attr.strides = nnrt_int64_list(p->stride, (uint32_t)p->axes);
        attr.dilations = nnrt_int64_list(p->dilation, (uint32_t)p->axes);
        attr.pads = nnrt_int64_list(p->pads, 2 * (uint32_t)p->axes);
        attr.ceilMode = p->ceil;
        nnrt_builder_output(b, nnrt_builder_op(b, "pool", NNRT_NODE_TYPE_MAX_POOL_3D, &attr, &in, 1));
    } else {
        NNRT_AveragePool3D attr;
        memset(&attr, 0, sizeof(attr));
        attr.kernelShape = nnrt_int64_list(p->window, (uint32_t)p->axes);
        attr.strides = nnrt_int64_list(p->stride, (uint32_t)p->axes);
        attr.dilations = nnrt_int64_list(p->dilation, (uint32_t)p->axes);
        attr.pads = nnrt_int64_list(p->pads, 2 * (uint32_t)p->axes);
        attr.ceilMode = p->ceil;
        attr.countIncludePad = p->counted;
        nnrt_builder_output(b, nnrt_builder_op(b, "pool", NNRT_NODE_TYPE_AVERAGE_POOL_3D, &attr, &in, 1));
    }
    if (nnrt_builder_finish(b, &model, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    return model;
}

/* One element, in double: roundings of n - 1 additions, a quotient, and of expected. */
static float expect_pool(const pool *p, const float *plane, const int32_t *at, float *bound)
{
    int64_t tap[4] = {0};
    double sum = 0, size = 0, count = 0, most = -INFINITY;
    int32_t axis, inside = 0;
    do {
        bool here = true, padded = true;
        size_t from = 0;
        for (int32_t i = 0; i < p->axes; i++) {
            const int64_t q = at[i] * p->stride[i] - p->pads[i] + tap[i] * p->dilation[i];
            here = here && q >= 0 && q < p->in[i];
            padded = padded && q < p->in[i] + p->pads[p->axes + i];
            from = from * (size_t)p->in[i] + (size_t)(here ? q : 0);
        }
        if (here) {
            most = isnan(most) || isnan(plane[from]) ? NAN : plane[from] > most ? (double)plane[from] : most;
            sum += (double)plane[from];
            size += fabs((double)plane[from]);
            inside++;
        }
        count += p->counted ? padded : here;
        for (axis = p->axes - 1; axis >= 0 && ++tap[axis] == p->window[axis]; axis--)
            tap[axis] = 0;
    } while (axis >= 0);
    assert_true(inside > 0);
    *bound = p->largest ? 0.0f : (float)((inside * size / count + 2 * fabs(sum / count)) * ROUNDING * SECOND);
    return p->largest ? (float)most : (float)(sum / count);
}

/* 1 to 4 axes; rows around a vector of each set and two of them; a NaN is the largest. The largest are bit-identical to the reference
   device; sums are in another order, the same for any number of workers. */
static void test_volume_pools(void **unused)
{
    (void)unused;
    state = 13;
    for (uint32_t drawn = 0; drawn < 400;) {
        pool p;
        made m;
        float *y, *z, *reference, *expected, *bound;
        size_t planes, cellsX = 1, cellsY = 1;
        if (!draw_pool(&p))
            continue;
        drawn++;
        planes = (size_t)p.n * (size_t)p.c;
        for (int32_t i = 0; i < p.axes; i++) {
            cellsX *= (size_t)p.in[i];
            cellsY *= (size_t)p.out[i];
        }
        memset(&m, 0, sizeof(m));
        m.model = model_of_pool(&p);
        m.nX = planes * cellsX;
        m.nY = planes * cellsY;
        m.x = reals(m.nX);
        if (drawn % 4 == 0)
            m.x[draw((uint32_t)m.nX)] = NAN;
        snprintf(m.what, sizeof(m.what), "pool %u", (unsigned)drawn);
        y = reals(m.nY);
        z = reals(m.nY);
        reference = reals(m.nY);
        expected = reals(m.nY);
        bound = reals(m.nY);
        (void)run_on("reference", &m, reference, 0);
        for (size_t i = 0; i < m.nY; i++) {
            int32_t at[4];
            size_t rest = i % cellsY;
            for (int32_t a = p.axes - 1; a >= 0; a--) {
                at[a] = (int32_t)(rest % (size_t)p.out[a]);
                rest /= (size_t)p.out[a];
            }
            expected[i] = expect_pool(&p, m.x + i / cellsY * cellsX, at, &bound[i]);
            if (isnan(expected[i]) ? !isnan(reference[i]) : !(fabsf(expected[i] - reference[i]) <= bound[i]))
                fail_msg("pool %u: element %u is %.9g, expected %.9g within %.3g", (unsigned)drawn, (unsigned)i,
                         (double)reference[i], (double)expected[i], (double)bound[i]);
        }
        for (uint32_t s = 0; s < nSets; s++)
            for (uint32_t workers = 0; workers <= 8; workers += workers == 3 ? 5 : 1) {
                kernel = p.largest ? "max_pool_nd" : "average_pool_nd";
                memset(y, 0xA5, m.nY * sizeof(float));
                if (!has_no_floats(s))
                    (void)run_on(sets[s], &m, y, workers);
                for (size_t i = 0; i < m.nY && !has_no_floats(s); i++) {
                    if (isnan(expected[i]) ? !isnan(y[i]) : !(fabsf(expected[i] - y[i]) <= bound[i]))
                        fail_msg("pool %u on %s, %u workers: element %u is %.9g, expected %.9g within %.3g", (unsigned)drawn,
                                 sets[s], workers, (unsigned)i, (double)y[i], (double)expected[i], (double)bound[i]);
                    if (workers > 0 && memcmp(&y[i], &z[i], sizeof(float)) != 0)
                        fail_msg("pool %u on %s, %u workers: element %u is %.9g, with one worker %.9g", (unsigned)drawn, sets[s],
                                 workers, (unsigned)i, (double)y[i], (double)z[i]);
                }
                memcpy(z, y, m.nY * sizeof(float));
                kernel = NULL;
            }
        free(bound);
        free(expected);
        free(reference);
        free(z);
        free(y);
        free(m.x);
        nnrt_model_destroy(m.model);
    }
}

/* ---- all of them ---- */

#define KINDS 6

/* One of each kind: small and large groups, transposed, and of small groups, of volumes, and of small groups. */
static conv kind_of(uint32_t i)
{
    static const int32_t channels[KINDS][3] = {{12, 18, 6}, {40, 36, 2}, {17, 19, 1},
                                               {9, 9, 9},   {20, 18, 2}, {8, 12, 4}};
    conv s = conv_of(1, channels[i][0], channels[i][1], channels[i][2]);
    s.transposed = i == 2 || i == 3;
    s.volume = i >= 4;
    for (int32_t a = s.volume ? 0 : 1; a < 3; a++) {
        s.in[a] = (s.volume ? 4 : 12) + a;
        s.window[a] = 3;
        s.pad[a] = s.end[a] = 1;
        s.stride[a] = s.transposed ? 2 : 1;
    }
    s.bias = true;
    return s;
}

/* The channel of element i of a tensor of so many channels. */
static int32_t channel_of(const conv *s, const int32_t extents[3], int32_t channels, size_t i)
{
    return (int32_t)((s->volume ? i / cells(extents) : i) % (size_t)channels);
}

/* An infinity or NaN in one group changes no bit of another. */
static void test_groups_apart(void **unused)
{
    const float bad[] = {INFINITY, -INFINITY, NAN};
    (void)unused;
    state = 7;
    for (uint32_t kind = 0; kind < KINDS * COUNT(bad); kind++) {
        const conv s = kind_of(kind % KINDS);
        made m = make(&s);
        float *y = reals(m.nY), *z = reals(m.nY);
        const int32_t deep = s.k / s.group, wide = s.c / s.group, g = s.group > 1 ? 1 : 0;
        if (s.group > 1)
            for (uint32_t i = 0; i < nSets; i++) {
                float *x = m.x;
                size_t reached = 0;
                (void)run_on(sets[i], &m, y, 0);
                m.x = (float *)malloc(m.nX * sizeof(float));
                for (size_t k = 0; k < m.nX; k++)
                    m.x[k] = channel_of(&s, s.in, s.k, k) / deep == g ? bad[kind / KINDS] : x[k];
                (void)run_on(sets[i], &m, z, 0);
                for (size_t k = 0; k < m.nY; k++) {
                    if (channel_of(&s, m.out, s.c, k) / wide != g)
                        assert_memory_equal(&y[k], &z[k], sizeof(float));
                    else
                        reached += isfinite(z[k]) ? 0 : 1;
                }
                assert_true(reached > 0);
                free(m.x);
                m.x = x;
            }
        free(z);
        free(y);
        drop(&m);
    }
}

/* NaN and infinite weights: padding is skipped, not multiplied by 0. */
static void test_weights_without_numbers(void **unused)
{
    (void)unused;
    state = 8;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        const conv s = kind_of(kind);
        made m = make(&s);
        float *y = reals(m.nY), *z = reals(m.nY);
        size_t finite = 0;
        nnrt_model_destroy(m.model);
        m.w[0] = INFINITY;
        m.model = model_of(&s, m.w, m.bias);
        (void)run_on("reference", &m, y, 0);
        for (uint32_t i = 0; i < nSets; i++) {
            (void)run_on(sets[i], &m, z, 0);
            for (size_t k = 0; k < m.nY; k++) {
                assert_true(isnan(y[k]) ? isnan(z[k]) : y[k] == z[k] || fabsf(y[k] - z[k]) < 1e-3f);
                finite += isfinite(y[k]) && channel_of(&s, m.out, s.c, k) == 0; /* of the channel that has the weight */
            }
        }
        assert_true(finite > 0);
        free(z);
        free(y);
        drop(&m);
    }
}

/* The reported number of bytes suffices, one less fails. Threads share large work. */
static void test_memory(void **unused)
{
    (void)unused;
    state = 9;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        const conv s = kind_of(kind);
        made m = make(&s);
        float *y = reals(m.nY), *z = reals(m.nY);
        for (uint32_t i = 0; i < nSets; i++) {
            NNRT_Extension extension;
            const nnrt_io in = nnrt_io_make(m.x, m.nX * sizeof(float)), out = nnrt_io_make(z, m.nY * sizeof(float));
            const uint32_t calls = run_in_bytes(m.model, desc_of(sets[i], &extension), &in, &out);
            (void)run_on(sets[i], &m, y, 0);
            assert_memory_equal(y, z, m.nY * sizeof(float));
            if (kind == 1) /* large enough to be shared */
                assert_true(calls > 0);
        }
        free(z);
        free(y);
        drop(&m);
    }
}

/* Results from a file with packed weights are bit-identical, without packing them again. */
static void hear(void *user, nnrt_log_level level, const char *text)
{
    (void)level;
    if (strstr(text, "has taken the weights") != NULL)
        ++*(uint32_t *)user;
}

static void run_packed(const made *m, nnrt_cache *cache, float *y, uint32_t *taken)
{
    NNRT_Extension extension;
    nnrt_session *session = NULL;
    nnrt_session_desc desc = desc_of("cpu", &extension);
    nnrt_io in = nnrt_io_make(m->x, m->nX * sizeof(float)), out = nnrt_io_make(y, m->nY * sizeof(float));
    nnrt_log log;
    memset(&log, 0, sizeof(log));
    log.line = hear;
    log.user = taken;
    log.most = NNRT_LOG_DEBUG;
    desc.cache = cache;
    desc.log = &log;
    assert_int_equal(nnrt_session_create(&session, m->model, &desc, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(session, &in, 1, &out, 1), NNRT_SUCCESS);
    nnrt_session_destroy(session);
}

static void test_packed(void **unused)
{
    (void)unused;
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) /* packed weights come from .nnrt files */
        skip();
    state = 10;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        const conv s = kind_of(kind);
        made m = make(&s);
        float *y = reals(m.nY), *z = reals(m.nY);
        nnrt_cache_desc desc;
        nnrt_cache *cache = NULL;
        nnrt_save_desc save;
        void *file = NULL;
        size_t bytes = 0;
        uint32_t taken = 0;
        memset(&desc, 0, sizeof(desc));
        memset(&save, 0, sizeof(save));
        desc.packed = true;
        assert_int_equal(nnrt_cache_create(&cache, &desc, NULL), NNRT_SUCCESS);
        run_packed(&m, cache, y, &taken);
        assert_int_equal(taken, 0);
        save.cache = cache;
        assert_int_equal(nnrt_model_save_memory(m.model, &save, NULL, 0, &bytes, NULL), NNRT_SUCCESS);
        assert_int_equal(posix_memalign(&file, NNRT_ALIGNMENT, bytes), 0);
        assert_int_equal(nnrt_model_save_memory(m.model, &save, file, bytes, &bytes, NULL), NNRT_SUCCESS);
        nnrt_cache_destroy(cache);
        nnrt_model_destroy(m.model);
        assert_int_equal(nnrt_model_load_memory(&m.model, file, bytes, NULL, NULL), NNRT_SUCCESS);
        run_packed(&m, NULL, z, &taken);
        assert_int_equal(taken, 1);
        assert_memory_equal(y, z, m.nY * sizeof(float));
        free(z);
        free(y);
        drop(&m);
        free(file);
    }
}

/* ---- transposed images ---- */

/* Converters write a convolution of an image [N,H,W,C] as TRANSPOSE to [N,C,H,W], convolution, TRANSPOSE back. Channels last,
   neither moves an element, and neither is a step. */
static void test_transposed_images(void **unused)
{
    static const int32_t four = 4, first[4] = {0, 3, 1, 2}, last[4] = {0, 2, 3, 1};
    (void)unused;
    state = 77;
    for (int32_t i = 0; i < 24; i++) {
        const bool depthwise = i % 4 == 3;
        const int32_t k = 2 + (int32_t)draw(9);
        conv s = conv_of(1 + (int32_t)draw(2), k, depthwise ? k : 2 + (int32_t)draw(20), depthwise ? k : 1);
        nnrt_builder *b = NULL;
        int32_t dims[5];
        uint32_t in[3], axes[2];
        nnrt_error e;
        made m, turned;
        float *y, *z;
        do /* of an image or result of one pixel or one row both orders are the same */
            draw_window(&s);
        while (s.in[1] < 2 || s.in[2] < 2);
        s.planes = false;
        m = turned = make(&s);
        memset(&e, 0, sizeof(e));
        assert_int_equal(nnrt_builder_create(&b, "turned", NULL), NNRT_SUCCESS);
        axes[0] = nnrt_builder_input(b, "x", F32, dims_of(&s, s.in, s.k, dims), dims);
        axes[1] = nnrt_builder_constant(b, "to planes", NNRT_DATA_TYPE_INT32, 1, &four, first, true);
        in[0] = nnrt_builder_op(b, "planes", NNRT_NODE_TYPE_TRANSPOSE, NULL, axes, 2);
        nnrt_builder_format(b, in[0], NNRT_FORMAT_NCHW);
        in[1] = nnrt_builder_constant(b, "w", F32, 4, (const int32_t[]){s.c, s.window[1], s.window[2], s.k / s.group}, m.w, true);
        in[2] = s.bias ? nnrt_builder_constant(b, "bias", F32, 1, &s.c, m.bias, true) : NNRT_NO_TENSOR;
        axes[0] = add_conv(b, "conv", &s, in);
        axes[1] = nnrt_builder_constant(b, "back", NNRT_DATA_TYPE_INT32, 1, &four, last, true);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_TRANSPOSE, NULL, axes, 2));
        if (nnrt_builder_finish(b, &turned.model, &e) != NNRT_SUCCESS)
            fail_msg("%s: %s", m.what, e.message);
        nnrt_builder_destroy(b);
        y = reals(m.nY);
        z = reals(m.nY);
        for (uint32_t set = 0; set < nSets; set++) {
            const uint32_t plain = run_on(sets[set], &m, y, 0), steps = run_on(sets[set], &turned, z, 0);
            if (memcmp(y, z, m.nY * sizeof(float)) != 0)
                fail_msg("%s on %s: other bits with its image transposed", m.what, sets[set]);
            if (!has_no_floats(set) && steps > plain)
                fail_msg("%s on %s: %u steps with its image transposed, %u without", m.what, sets[set], steps, plain);
        }
        free(y);
        free(z);
        nnrt_model_destroy(turned.model);
        drop(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_large_groups),
        cmocka_unit_test(test_transposed),
        cmocka_unit_test(test_transposed_groups),
        cmocka_unit_test(test_transposed_images),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_adjacent_taps),
        cmocka_unit_test(test_common_divisors),
        cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_volumes_in_a_row),
        cmocka_unit_test(test_volume_pools),
        cmocka_unit_test(test_groups_apart),
        cmocka_unit_test(test_weights_without_numbers),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_packed),
    };
    return cmocka_run_group_tests_name("cpu_convs", tests, add_devices, NULL);
}
