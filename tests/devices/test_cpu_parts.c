/* The fast device (devices/nnrt_cpu.h) with each instruction set of this machine: inputs of CONCAT are written directly
   into its output if nothing else reads them, and slices of SPLIT are read in place. All numbers are small integers,
   and so are all sums, and quarters in pools of four elements: results are exact in any order of summation, and
   bit-identical to the reference device. */
#define _XOPEN_SOURCE 700
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
#include "models_on_sets.h"

/* ---- models of images ---- */

/* A model under construction, with images [N,C,H,W] or [N,H,W,C]. */
typedef struct building {
    nnrt_builder *b;
    bool first; /* NCHW */
    int32_t n;
    uint32_t names;
} building;

typedef struct image {
    uint32_t tensor;
    int32_t c, h, w;
} image;

static float *integers(size_t count, uint32_t most)
{
    float *made = (float *)malloc((count + 1) * sizeof(float));
    for (size_t i = 0; i < count; i++)
        made[i] = (float)draw(2 * most + 1) - (float)most;
    return made;
}

static const char *name_in(building *m)
{
    static char text[16];
    snprintf(text, sizeof(text), "t%u", m->names++);
    return text;
}

static void dims_of(const building *m, const image *x, int32_t dims[4])
{
    dims[0] = m->n;
    dims[m->first ? 1 : 3] = x->c;
    dims[m->first ? 2 : 1] = x->h;
    dims[m->first ? 3 : 2] = x->w;
}

static image add_input(building *m, int32_t c, int32_t h, int32_t w)
{
    image x = {0, 0, 0, 0};
    int32_t dims[4];
    x.c = c;
    x.h = h;
    x.w = w;
    dims_of(m, &x, dims);
    x.tensor = nnrt_builder_input(m->b, name_in(m), F32, 4, dims);
    nnrt_builder_format(m->b, x.tensor, m->first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
    return x;
}

static uint32_t add_node(building *m, NNRT_NodeType type, const void *attr, const uint32_t *in, uint32_t nIn)
{
    const uint32_t y = nnrt_builder_tensor(m->b, name_in(m));
    nnrt_builder_format(m->b, y, m->first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
    nnrt_builder_node(m->b, name_in(m), type, attr, in, nIn, &y, 1);
    return y;
}

/* A convolution that keeps height and width: a window x window kernel; groups 0: depthwise. */
static image add_conv(building *m, image x, int32_t c, int32_t window, int32_t groups)
{
    const int64_t cells[2] = {window, window}, ones[2] = {1, 1};
    const int64_t pad[4] = {window / 2, window / 2, window / 2, window / 2};
    const int32_t dims[4] = {c, window, window, groups == 0 ? 1 : x.c / groups};
    float *w = integers(product_of(4, dims), 2), *bias = integers((size_t)c, 4);
    NNRT_Conv2DFusion attr;
    uint32_t in[3];
    memset(&attr, 0, sizeof(attr));
    attr.kernelSize = nnrt_int64_list(cells, 2);
    attr.stride = attr.dilation = nnrt_int64_list(ones, 2);
    attr.padList = nnrt_int64_list(pad, 4);
    attr.group = groups == 0 ? x.c : groups;
    attr.activationType = draw(2) == 0 ? NNRT_ACTIVATION_TYPE_RELU : NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    in[0] = x.tensor;
    in[1] = nnrt_builder_constant(m->b, name_in(m), F32, 4, dims, w, true);
    in[2] = nnrt_builder_constant(m->b, name_in(m), F32, 1, &c, bias, true);
    x.tensor = add_node(m, NNRT_NODE_TYPE_CONV2D_FUSION, &attr, in, 3);
    x.c = c;
    free(bias);
    free(w);
    return x;
}

/* Doubles height and width by a transposed convolution with a 2 x 2 kernel. */
static image add_twice(building *m, image x, int32_t c)
{
    const int64_t cells[2] = {2, 2}, ones[2] = {1, 1}, none[4] = {0, 0, 0, 0};
    const int32_t dims[4] = {c, 2, 2, x.c};
    float *w = integers(product_of(4, dims), 2);
    NNRT_Conv2dTransposeFusion attr;
    uint32_t in[3];
    memset(&attr, 0, sizeof(attr));
    attr.kernelSize = attr.stride = nnrt_int64_list(cells, 2);
    attr.dilation = nnrt_int64_list(ones, 2);
    attr.padList = nnrt_int64_list(none, 4);
    attr.group = 1;
    in[0] = x.tensor;
    in[1] = nnrt_builder_constant(m->b, name_in(m), F32, 4, dims, w, true);
    in[2] = NNRT_NO_TENSOR;
    x.tensor = add_node(m, NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &attr, in, 3);
    x.c = c;
    x.h *= 2;
    x.w *= 2;
    free(w);
    return x;
}

/* A 2 x 2 max or average pool with stride 2. */
static image add_pool(building *m, image x, bool mean)
{
    const int64_t cells[2] = {2, 2}, none[4] = {0, 0, 0, 0};
    NNRT_MaxPoolFusion most;
    NNRT_AvgPoolFusion average;
    memset(&most, 0, sizeof(most));
    memset(&average, 0, sizeof(average));
    most.kernelSize = most.strides = average.kernelSize = average.strides = nnrt_int64_list(cells, 2);
    most.pad = average.pad = nnrt_int64_list(none, 4);
    x.tensor = mean ? add_node(m, NNRT_NODE_TYPE_AVGPOOL_FUSION, &average, &x.tensor, 1)
                    : add_node(m, NNRT_NODE_TYPE_MAX_POOL_FUSION, &most, &x.tensor, 1);
    x.h /= 2;
    x.w /= 2;
    return x;
}

/* along: 0 channels, 1 rows, 2 columns. */
static image add_concat(building *m, const image *x, uint32_t count, int32_t along)
{
    static const int64_t axes[2][3] = {{3, 1, 2}, {1, 2, 3}};
    NNRT_Concat attr;
    uint32_t in[4];
    image y = x[0];
    memset(&attr, 0, sizeof(attr));
    attr.axis = axes[m->first ? 1 : 0][along];
    for (uint32_t i = 0; i < count; i++) {
        in[i] = x[i].tensor;
        y.c += i > 0 && along == 0 ? x[i].c : 0;
        y.h += i > 0 && along == 1 ? x[i].h : 0;
        y.w += i > 0 && along == 2 ? x[i].w : 0;
    }
    y.tensor = add_node(m, NNRT_NODE_TYPE_CONCAT, &attr, in, count);
    return y;
}

/* SPLIT of x into sizes[0], sizes[1], .. channels, rows or columns; the parts before number `from` are omitted. */
static void add_split_from(building *m, image x, const int64_t *sizes, uint32_t count, int32_t along, image *parts, uint32_t from)
{
    static const int64_t axes[2][3] = {{3, 1, 2}, {1, 2, 3}};
    NNRT_Split attr;
    uint32_t out[4];
    memset(&attr, 0, sizeof(attr));
    attr.outputNum = count;
    attr.sizeSplits = nnrt_int64_list(sizes, count);
    attr.axis = axes[m->first ? 1 : 0][along];
    for (uint32_t i = 0; i < count; i++) {
        out[i] = i < from ? NNRT_NO_TENSOR : nnrt_builder_tensor(m->b, name_in(m));
        if (i >= from)
            nnrt_builder_format(m->b, out[i], m->first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
        parts[i] = x;
        parts[i].tensor = out[i];
        *(along == 0 ? &parts[i].c : along == 1 ? &parts[i].h : &parts[i].w) = (int32_t)sizes[i];
    }
    nnrt_builder_node(m->b, name_in(m), NNRT_NODE_TYPE_SPLIT, &attr, &x.tensor, 1, out, count);
}

static void add_split(building *m, image x, const int64_t *sizes, uint32_t count, int32_t along, image *parts)
{
    add_split_from(m, x, sizes, count, along, parts, 0);
}

static image add_sum(building *m, image x, image y)
{
    const uint32_t in[2] = {x.tensor, y.tensor};
    NNRT_AddFusion attr;
    memset(&attr, 0, sizeof(attr));
    x.tensor = add_node(m, NNRT_NODE_TYPE_ADD_FUSION, &attr, in, 2);
    return x;
}

/* ---- runs ---- */

/* Number of CONCAT and SPLIT steps of a run. */
static void count_copies(void *user, const nnrt_profile_step *step)
{
    *(uint32_t *)user += strcmp(step->op, "CONCAT") == 0 || strcmp(step->op, "SPLIT") == 0 ? 1 : 0;
}

static uint64_t no_clock(void *user)
{
    (void)user;
    return 0;
}

/* Stores the results of all outputs one after the other; returns the number of CONCAT and SPLIT steps. */
static uint32_t run_on(const char *device, const NNRT_Model *model, float *const *x, uint8_t *y, uint32_t workers)
{
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    NNRT_Extension extensions[MOST_EXTENSIONS];
    nnrt_profile profile;
    nnrt_error e;
    nnrt_io in[4], out[4];
    uint32_t joined = 0;
    team t;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    profile.step = count_copies;
    profile.clock = no_clock;
    profile.user = &joined;
    desc.device = device;
    desc.profile = &profile;
    desc.parallel = team_of(&t, workers);
    if (strcmp(device, "reference") != 0)
        add_extensions(&desc, extensions);
    if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, e.message);
    for (uint32_t i = 0; i < nnrt_session_inputs(session); i++)
        in[i] = nnrt_io_make(x[i], nnrt_session_input(session, i).bytes);
    for (uint32_t i = 0; i < nnrt_session_outputs(session); i++) {
        const size_t bytes = nnrt_session_output(session, i).bytes;
        out[i] = nnrt_io_make(y, bytes);
        memset(y, 0xA5, bytes);
        y += bytes;
    }
    if (nnrt_run(session, in, nnrt_session_inputs(session), out, nnrt_session_outputs(session)) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, nnrt_session_error(session));
    nnrt_session_destroy(session);
    return joined;
}

static size_t bytes_of(const NNRT_Model *model, const NNRT_Uint32List *list)
{
    size_t bytes = 0;
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.device = "reference";
    assert_int_equal(nnrt_session_create(&session, model, &desc, NULL), NNRT_SUCCESS);
    for (uint32_t i = 0; i < list->count; i++)
        bytes += list == &model->outputIndex ? nnrt_session_output(session, i).bytes : nnrt_session_input(session, i).bytes;
    nnrt_session_destroy(session);
    return bytes;
}

/* Finishes the model: on each set and with any number of workers its results equal the reference device, and `left` of
   its CONCAT and SPLIT steps run, unless left is UINT32_MAX. */
static void check(building *m, uint32_t left, const char *what)
{
    NNRT_Model *model = finish(m->b);
    const size_t nX = bytes_of(model, &model->inputIndex), nY = bytes_of(model, &model->outputIndex);
    float *x[4] = {NULL, NULL, NULL, NULL};
    uint8_t *expected = (uint8_t *)malloc(nY + 1), *y = (uint8_t *)malloc(nY + 1);
    for (uint32_t i = 0; i < model->inputIndex.count; i++)
        x[i] = integers(nX / sizeof(float), 4);
    (void)run_on("reference", model, x, expected, 0);
    for (uint32_t s = 0; s < nSets; s++)
        for (uint32_t workers = 0; workers < 4 && !has_no_floats(s); workers++) {
            uint32_t joined;
            tiles = workers % 2 == 0 ? "0" : "2"; /* Winograd: 2 x 2 tiles use quarters, 4 x 4 sixths (inexact) */
            memory = workers > 1 ? "smallest" : NULL;
            joined = run_on(sets[s], model, x, y, workers);
            memory = NULL;
            for (size_t i = 0; i < nY / sizeof(float); i++)
                if (((const float *)(const void *)y)[i] != ((const float *)(const void *)expected)[i])
                    fail_msg("%s: on %s with %u workers element %zu is %.9g, expected %.9g", what, sets[s], workers, i,
                             (double)((const float *)(const void *)y)[i], (double)((const float *)(const void *)expected)[i]);
            if (joined != left && left != UINT32_MAX)
                fail_msg("%s: on %s %u CONCAT and SPLIT are left, expected %u", what, sets[s], joined, left);
        }
    tiles = NULL;
    for (uint32_t i = 0; i < model->inputIndex.count; i++)
        free(x[i]);
    free(y);
    free(expected);
    nnrt_model_destroy(model);
}

static building begin(uint32_t i)
{
    building m;
    memset(&m, 0, sizeof(m));
    assert_int_equal(nnrt_builder_create(&m.b, "parts", NULL), NNRT_SUCCESS);
    m.first = i % 2 == 0;
    m.n = 1 + (int32_t)draw(2);
    return m;
}

/* ---- tests ---- */

/* An image of c channels with the height and width of x, computed from x, from `wide` (twice the size) or from `half`. */
static image any_branch(building *m, image x, image wide, image half, int32_t c)
{
    switch (draw(8)) {
    case 0: return add_conv(m, x, c, 1, 1);
    case 1: return add_conv(m, x, c, 3, 1);
    case 2: return add_conv(m, add_conv(m, x, x.c, 3, 0), c, 1, 1);
    case 3: return add_conv(m, add_conv(m, x, c, 1, 1), c, 3, 0);
    case 4: return add_pool(m, add_conv(m, wide, c, 1, 1), false);
    case 5: return add_pool(m, add_conv(m, wide, c, 1, 1), true);
    case 6: return add_twice(m, half, c);
    default: return x.c % 2 == 0 && c % 2 == 0 ? add_conv(m, x, c, 3, 2) : add_conv(m, x, c, 5, 1);
    }
}

/* Two to four branches along each axis, with channels around multiples of vectors and panels; then nothing, a
   convolution, absolute values, or one more CONCAT with another branch. If the output of the model is channels first,
   convolutions would have to write channels first: that CONCAT remains. */
static void test_joined(void **unused)
{
    static const int32_t channels[] = {1, 2, 3, 8, 15, 16, 17, 24, 31, 32, 33, 40};
    (void)unused;
    state = 11;
    for (uint32_t i = 0; i < 160; i++) {
        building m = begin(i);
        const int32_t h = 2 * (1 + (int32_t)draw(4)), w = 2 * (1 + (int32_t)draw(8)), c = 1 + (int32_t)draw(6);
        const int32_t along = i % 4 < 2 ? 0 : (int32_t)draw(3), same = channels[draw(COUNT(channels))];
        const uint32_t count = 2 + draw(3), behind = draw(4);
        const image x = add_input(&m, c, h, w), wide = add_input(&m, c, 2 * h, 2 * w), half = add_input(&m, c, h / 2, w / 2);
        bool one = true; /* one channel in each part: channels first and last are the same layout */
        image parts[4], y;
        char what[80];
        for (uint32_t k = 0; k < count; k++)
            parts[k] = any_branch(&m, x, wide, half, along == 0 ? channels[draw(COUNT(channels))] : same);
        for (uint32_t k = 0; k < count; k++)
            one = one && parts[k].c == 1;
        y = add_concat(&m, parts, count, along);
        if (behind == 3 && along == 0) {
            parts[0] = draw(2) == 0 ? y : any_branch(&m, x, wide, half, 9);
            parts[1] = parts[0].tensor == y.tensor ? any_branch(&m, x, wide, half, 9) : y;
            y = add_concat(&m, parts, 2, 0);
        }
        if (behind == 1 || behind == 3)
            y = add_conv(&m, y, 7, 1, 1);
        if (behind == 2)
            y.tensor = add_node(&m, NNRT_NODE_TYPE_ABS, NULL, &y.tensor, 1);
        nnrt_builder_output(m.b, y.tensor);
        snprintf(what, sizeof(what), "model %u, %u parts along %d, then %u", i, count, along, behind);
        check(&m, m.first && behind == 0 && !one ? 1 : 0, what);
    }
}

/* A CONCAT remains if a part has another reader, is an output of the model, occurs twice, is an input or a constant of
   the model, or is not an image; results are unchanged. */
static void test_left(void **unused)
{
    (void)unused;
    state = 12;
    for (uint32_t i = 0; i < 12; i++) {
        building m = begin(i);
        const int32_t h = 6, w = 10;
        const image x = add_input(&m, 8, h, w);
        image parts[2], y;
        parts[0] = add_conv(&m, x, 16, 3, 1);
        parts[1] = add_conv(&m, x, 24, 1, 1);
        if (i / 2 == 1)
            nnrt_builder_output(m.b, parts[0].tensor);
        if (i / 2 == 2)
            parts[1] = parts[0];
        if (i / 2 == 3)
            parts[1] = x;
        if (i / 2 == 4)
            parts[1] = add_sum(&m, parts[1], add_conv(&m, x, 24, 3, 1));
        if (i / 2 == 5) {
            const int32_t dims[4] = {m.n, m.first ? 5 : h, m.first ? h : w, m.first ? w : 5};
            float *values = integers(product_of(4, dims), 4);
            parts[1].c = 5;
            parts[1].tensor = nnrt_builder_constant(m.b, name_in(&m), F32, 4, dims, values, true);
            nnrt_builder_format(m.b, parts[1].tensor, m.first ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC);
            free(values);
        }
        y = add_conv(&m, add_concat(&m, parts, 2, 0), 16, 1, 1);
        nnrt_builder_output(m.b, (i / 2 == 0 ? add_sum(&m, parts[0], y) : y).tensor);
        check(&m, 1, "a CONCAT that stays");
    }
}

/* SPLIT into two to four parts along each axis, each read in place by one or two nodes; then CONCAT or sums. */
static void test_cut(void **unused)
{
    static const int32_t channels[] = {2, 3, 8, 15, 16, 17, 24, 33};
    (void)unused;
    state = 15;
    for (uint32_t i = 0; i < 120; i++) {
        building m = begin(i);
        const int32_t along = i % 4 < 2 ? 0 : (int32_t)draw(3), h = 2 * (1 + (int32_t)draw(4)), w = 2 * (1 + (int32_t)draw(6));
        const uint32_t count = 2 + draw(3);
        const int32_t same = channels[draw(COUNT(channels))];
        const bool more = draw(2) == 0;
        int64_t sizes[4] = {0, 0, 0, 0}, sum = 0;
        image x = add_input(&m, 1 + (int32_t)draw(5), h, w), parts[4], y[4];
        char what[80];
        for (uint32_t k = 0; k < count; k++)
            sum += sizes[k] = along == 0 ? channels[draw(COUNT(channels))] : 2 * (1 + (int32_t)draw(3));
        if (along != 0) {
            x = add_input(&m, 3, along == 1 ? (int32_t)sum : h, along == 2 ? (int32_t)sum : w);
            sum = same;
        }
        x = add_conv(&m, x, (int32_t)sum, 3, 1);
        add_split(&m, x, sizes, count, along, parts);
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t way = draw(5);
            y[k] = way == 0   ? add_conv(&m, parts[k], 16, 1, 1)
                   : way == 1 ? add_conv(&m, add_conv(&m, parts[k], parts[k].c, 3, 0), 16, 1, 1)
                   : way == 2 ? add_conv(&m, add_conv(&m, parts[k], 24, 1, 1), 16, 3, 1)
                   : way == 3 ? add_conv(&m, add_conv(&m, add_conv(&m, parts[k], 9, 1, 1), 9, 3, 0), 16, 1, 1)
                              : add_conv(&m, parts[k], 16, 1, 1);
            if (draw(3) == 0)
                y[k] = add_sum(&m, y[k], add_conv(&m, parts[k], 16, 1, 1));
        }
        x = add_concat(&m, y, count, along);
        nnrt_builder_output(m.b, (more ? add_conv(&m, x, 5, 1, 1) : x).tensor);
        snprintf(what, sizeof(what), "model %u, %u parts along %d", i, count, along);
        check(&m, UINT32_MAX, what);
    }
}

/* The SPLIT is removed if each part is read by such a step, or concatenated again; it remains if a part has another
   reader or is an output, or if its input is an input of the model. */
static void test_whole(void **unused)
{
    static const int64_t sizes[2] = {8, 24};
    (void)unused;
    state = 16;
    for (uint32_t i = 0; i < 14; i++) {
        building m = begin(i);
        image x = add_input(&m, i / 2 == 5 ? 32 : 4, 6, 10), parts[2], y;
        if (i / 2 != 5)
            x = add_conv(&m, x, 32, 3, 1);
        add_split(&m, x, sizes, 2, 0, parts);
        y = parts[1];
        if (i / 2 == 0) /* the branch of a ShuffleNet */
            parts[1] = add_conv(&m, add_conv(&m, add_conv(&m, parts[1], 24, 1, 1), 24, 3, 0), 24, 1, 1);
        if (i / 2 == 1)
            parts[1] = add_pool(&m, parts[1], false);
        if (i / 2 == 1)
            parts[0] = add_pool(&m, parts[0], true);
        if (i / 2 == 2 || i / 2 == 5)
            parts[1] = add_conv(&m, parts[1], 24, 1, 1);
        if (i / 2 == 3) /* a 3 x 3 convolution */
            parts[1] = add_conv(&m, parts[1], 24, 3, 1);
        if (i / 2 == 4)
            nnrt_builder_output(m.b, parts[1].tensor);
        if (i / 2 == 6)
            parts[1] = add_sum(&m, parts[1], add_conv(&m, y, 24, 1, 1));
        nnrt_builder_output(m.b, add_conv(&m, add_concat(&m, parts, 2, 0), 16, 1, 1).tensor);
        check(&m, i / 2 == 1 ? 0 : i / 2 < 3 ? 1 : 2, "a SPLIT"); /* a CONCAT copies a part that it reads directly */
    }
}

/* Fused convolutions, computed in blocks of rows, read parts and write parts. */
static void test_chains(void **unused)
{
    (void)unused;
    state = 17;
    for (uint32_t i = 0; i < 24; i++) {
        static const int64_t sizes[2] = {16, 24};
        building m = begin(i);
        image parts[2], y[2];
        const bool cut = draw(2) == 0;
        const int32_t h = 1 + (int32_t)draw(12), w = 1 + (int32_t)draw(20);
        image x = add_input(&m, 4, h, w);
        x = add_conv(&m, x, 40, 1, 1);
        parts[0] = parts[1] = x;
        if (cut)
            add_split(&m, x, sizes, 2, 0, parts);
        for (uint32_t k = 0; k < 2; k++) {
            const int32_t c = 8 + (int32_t)draw(30);
            y[k] = add_conv(&m, draw(2) == 0 ? parts[k] : add_conv(&m, parts[k], c, 1, 1), c, 1, 1);
            y[k] = add_conv(&m, add_conv(&m, y[k], c, 3, 0), 5 + (int32_t)draw(40), 1, 1);
        }
        nnrt_builder_output(m.b, add_conv(&m, add_concat(&m, y, 2, 0), 16, 1, 1).tensor);
        kernel = "fused_depthwise";
        check(&m, 0, "chains");
        kernel = NULL;
    }
}

/* A single part is copied: otherwise it would be mistaken for the whole result of the preceding convolution, and fused
   with it. */
static void test_alone(void **unused)
{
    static const int64_t sizes[2] = {24, 24};
    (void)unused;
    state = 18;
    for (uint32_t i = 0; i < 8; i++) {
        building m = begin(i);
        image x = add_conv(&m, add_input(&m, 4, 6, 10), 48, 1, 1), parts[2];
        add_split_from(&m, x, sizes, 2, 0, parts, 1);
        nnrt_builder_output(m.b, add_conv(&m, add_conv(&m, parts[1], 24, 3, 0), 16, 1, 1).tensor);
        kernel = i / 2 % 2 == 0 ? "fused_depthwise" : NULL;
        check(&m, 1, "a part alone");
        kernel = NULL;
    }
}

/* A result computed once before a LOOP is not written into the CONCAT of the body, whose memory each trip may
   overwrite. */
static void test_loop(void **unused)
{
    static const int64_t trips = 2;
    (void)unused;
    state = 19;
    for (uint32_t i = 0; i < 8; i++) {
        building m = begin(1);
        NNRT_Loop loop;
        const image x = add_input(&m, 4, 4, 6), before = add_conv(&m, x, 16, 1, 1);
        image v = x, parts[2], y;
        uint32_t in[3], ins[3], outs[2], out;
        in[0] = nnrt_builder_constant(m.b, "trips", NNRT_DATA_TYPE_INT64, 0, NULL, &trips, true);
        in[1] = NNRT_NO_TENSOR;
        in[2] = x.tensor;
        loop.body = nnrt_builder_graph(m.b, "body");
        for (uint32_t k = 0; k < 3; k++)
            ins[k] = nnrt_builder_tensor(m.b, name_in(&m));
        nnrt_builder_format(m.b, ins[2], NNRT_FORMAT_NHWC);
        nnrt_builder_enter(m.b, loop.body);
        v.tensor = ins[2];
        parts[i % 2] = before;
        parts[1 - i % 2] = add_conv(&m, v, 8, 1, 1);
        y = add_concat(&m, parts, 2, 0);
        if (i / 2 % 2 == 0)
            y.tensor = add_node(&m, NNRT_NODE_TYPE_ABS, NULL, &y.tensor, 1);
        y = add_conv(&m, y, 4, 1, 1);
        outs[0] = ins[1];
        outs[1] = y.tensor;
        nnrt_builder_graph_io(m.b, loop.body, ins, 3, outs, 2);
        nnrt_builder_enter(m.b, 0);
        out = nnrt_builder_tensor(m.b, "v");
        nnrt_builder_format(m.b, out, NNRT_FORMAT_NHWC);
        nnrt_builder_node(m.b, "loop", NNRT_NODE_TYPE_LOOP, &loop, in, 3, &out, 1);
        nnrt_builder_output(m.b, out);
        check(&m, (uint32_t)trips, "a LOOP");
    }
}

/* A concatenated result may be reshaped and then be an output of the model. */
static void test_shapes(void **unused)
{
    (void)unused;
    state = 13;
    for (uint32_t i = 0; i < 8; i++) {
        building m = begin(1 + 2 * i);
        const image x = add_input(&m, 3, 6, 8);
        const image parts[2] = {add_conv(&m, x, 16, 3, 1), add_conv(&m, x, 8, 1, 1)};
        const int32_t flat[2] = {m.n, -1}, two = 2;
        image y = add_concat(&m, parts, 2, 0);
        uint32_t in[2];
        in[0] = y.tensor;
        in[1] = nnrt_builder_constant(m.b, "shape", NNRT_DATA_TYPE_INT32, 1, &two, flat, true);
        in[0] = nnrt_builder_op(m.b, "flat", NNRT_NODE_TYPE_RESHAPE, NULL, in, 2);
        if (i % 2 == 0)
            nnrt_builder_output(m.b, y.tensor);
        if (i / 2 % 2 == 0)
            in[0] = nnrt_builder_op(m.b, "absolute", NNRT_NODE_TYPE_ABS, NULL, in, 1);
        nnrt_builder_output(m.b, in[0]);
        check(&m, 0, "parts in another shape");
    }
}

static image residual_block(building *m, image x, int32_t c)
{
    const image first = add_conv(m, x, c, 3, 1);
    return add_conv(m, add_sum(m, first, add_conv(m, add_conv(m, first, c, 3, 1), c, 3, 1)), 8, 1, 1);
}

/* The sum of a convolution and a tensor overwrites the tensor: each pixel is added once, although the last pixel of a tile is
   computed several times. A convolution whose input is also the added tensor must not overwrite it. */
static void test_residuals(void **unused)
{
    static const int32_t channels[] = {3, 8, 15, 16, 17, 31, 33, 48};
    (void)unused;
    state = 15;
    for (uint32_t i = 0; i < 48; i++) {
        building m = begin(i);
        const image x = add_input(&m, 4, 1 + (int32_t)draw(17), 1 + (int32_t)draw(17));
        const int32_t c = channels[i / 2 % COUNT(channels)];
        image y = add_conv(&m, x, c, 1, 1);
        if (i >= 32)
            y = add_conv(&m, add_sum(&m, y, add_conv(&m, y, c, draw(2) == 0 ? 3 : 1, 1)), 8, 1, 1);
        else
            y = residual_block(&m, x, c);
        nnrt_builder_output(m.b, y.tensor);
        check(&m, 0, "residuals");
    }
}

static size_t arena_on(const char *device, const NNRT_Model *model)
{
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    NNRT_Extension extensions[MOST_EXTENSIONS];
    size_t arena;
    memset(&desc, 0, sizeof(desc));
    desc.device = device;
    add_extensions(&desc, extensions);
    assert_int_equal(nnrt_session_create(&session, model, &desc, NULL), NNRT_SUCCESS);
    arena = nnrt_session_get_memory(session).arena;
    nnrt_session_destroy(session);
    return arena;
}

/* With the scratch of Winograd tiles, the arena is at most a quarter larger than on the reference device, and not
   larger at all with the extension nnrt.cpu.memory. */
static void test_arena(void **unused)
{
    building m = begin(1);
    NNRT_Model *model;
    size_t reference;
    (void)unused;
    m.n = 1;
    nnrt_builder_output(m.b, residual_block(&m, add_input(&m, 3, 32, 32), 16).tensor);
    model = finish(m.b);
    reference = arena_on("reference", model);
    for (uint32_t i = 0; i < 2 * nSets; i++) {
        size_t arena;
        memory = i < nSets ? NULL : "smallest";
        arena = arena_on(sets[i % nSets], model);
        memory = NULL;
        if (arena > (i < nSets ? reference * 5 / 4 : reference))
            fail_msg("%s, %s: %zu bytes, reference %zu", sets[i % nSets], i < nSets ? "fastest" : "smallest", arena, reference);
    }
    nnrt_model_destroy(model);
}

/* The reported bytes suffice, one less fails; there is one step less, and no copy. */
static void test_memory(void **unused)
{
    (void)unused;
    state = 14;
    for (uint32_t s = 0; s < nSets; s++) {
        building m = begin(1);
        const image x = add_input(&m, 16, 16, 16);
        const image parts[2] = {add_conv(&m, x, 32, 3, 1), add_conv(&m, x, 16, 1, 1)};
        nnrt_session *session = NULL;
        nnrt_session_desc desc;
        nnrt_error e;
        size_t bytes;
        NNRT_Model *model;
        nnrt_builder_output(m.b, add_conv(&m, add_concat(&m, parts, 2, 0), 16, 1, 1).tensor);
        model = finish(m.b);
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        desc.device = sets[s];
        assert_int_equal(nnrt_session_bytes(model, &desc, &bytes, &e), NNRT_SUCCESS);
        assert_int_equal(posix_memalign(&desc.buffer, NNRT_ALIGNMENT, bytes), 0);
        desc.bufferBytes = bytes - 1;
        assert_int_equal(nnrt_session_create(&session, model, &desc, &e), NNRT_OUT_OF_MEMORY);
        desc.bufferBytes = bytes;
        assert_int_equal(nnrt_session_create(&session, model, &desc, &e), NNRT_SUCCESS);
        if (!has_no_floats(s))
            assert_int_equal(nnrt_session_get_memory(session).steps, 3);
        nnrt_session_destroy(session);
        free(desc.buffer);
        nnrt_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_residuals),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
