/* Recurrent networks and the graphs of transformers on the fast device (devices/nnrt_cpu.h), with each instruction set
   of this machine, with any number of threads. Recurrent cells are recomputed here in double, with their error bound: a
   sum of n products is within (n + 2) roundings of 2^-24 of the sum of their absolute values, an activation within 4
   ulp for its own argument, plus the argument's error times the steepest slope; errors of states enter the sums of the
   next step. */
#define _XOPEN_SOURCE 700
#include <float.h>
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
#include "half.h"
#include "kit.h"
#include "sets.h"

/* ---- numbers ---- */

static float *reals(size_t count, float scale)
{
    float *made = (float *)malloc((count + 1) * sizeof(float));
    for (size_t i = 0; i < count; i++)
        made[i] = scale * ((float)draw(2001) / 1000.0f - 1.0f);
    return made;
}

/* A number and its error bound on a device. */
typedef struct near {
    double v, e;
} near;

#define U 5.97e-8   /* a little more than 2^-24 */
#define TINY 1.2e-38 /* smaller results may be 0 */

static near near_of(double v)
{
    near n;
    n.v = v;
    n.e = 0;
    return n;
}

/* a + b * c, with `roundings` of its parts. */
static near near_fma(near b, near c, near a, double roundings)
{
    near n;
    n.v = a.v + b.v * c.v;
    n.e = a.e + fabs(b.v) * c.e + b.e * (fabs(c.v) + c.e) + roundings * U * (fabs(a.v) + fabs(b.v * c.v)) + TINY;
    return n;
}

static near near_activate(near x, NNRT_ActivationType type, double clip)
{
    near y;
    double slope = 1;
    if (clip > 0)
        x.v = x.v > clip ? clip : x.v < -clip ? -clip : x.v;
    switch (type) {
    case NNRT_ACTIVATION_TYPE_SIGMOID:
        y.v = 1 / (1 + exp(-x.v));
        slope = 0.25;
        break;
    case NNRT_ACTIVATION_TYPE_TANH: y.v = tanh(x.v); break;
    case NNRT_ACTIVATION_TYPE_RELU: y.v = x.v > 0 ? x.v : 0; break;
    case NNRT_ACTIVATION_TYPE_SOFTSIGN: y.v = x.v / (1 + fabs(x.v)); break;
    default: y.v = log1p(exp(x.v)); break; /* SOFTPLUS */
    }
    y.e = slope * x.e + 8 * U * fabs(y.v) + TINY;
    return y;
}

/* ---- devices ---- */

#define MOST 4

/* Inputs and results of a model. */
typedef struct values {
    uint32_t nIn, nOut;
    const void *in[MOST];
    void *out[MOST];
    size_t inBytes[MOST], outBytes[MOST];
} values;

/* The names of the operators that ran, concatenated; bytes read by the last of them, with packed weights. */
static char ran[4096];
static uint32_t steps;
static size_t bytesRead;
static bool allows_half;    /* enableFloat16 of the sessions */
static const char *weights; /* extension nnrt.cpu.weights of the sessions; NULL: none */

static void see_step(void *user, const nnrt_profile_step *step)
{
    (void)user;
    steps++;
    bytesRead = step->read;
    if (strlen(ran) + strlen(step->op) + 2 < sizeof(ran))
        strcat(strcat(ran, step->op), " ");
}

/* Returns the number of calls of the team. expected: the code of the run. */
static uint32_t run_on(const char *device, const NNRT_Model *model, const values *v, uint32_t workers,
                       NNRT_ReturnCode expected)
{
    nnrt_session *session = NULL;
    const NNRT_Extension extension = {"nnrt.cpu.weights", weights, weights != NULL ? (uint32_t)strlen(weights) : 0};
    nnrt_session_desc desc;
    nnrt_profile profile;
    nnrt_error e;
    nnrt_io in[MOST], out[MOST];
    team t;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    memset(&profile, 0, sizeof(profile));
    profile.step = see_step;
    ran[0] = '\0';
    steps = 0;
    desc.device = device;
    desc.parallel = team_of(&t, workers);
    desc.enableFloat16 = allows_half;
    desc.extensions = NNRT_ExtensionList_make(&extension, weights != NULL ? 1 : 0);
    desc.profile = workers == 0 ? &profile : NULL;
    for (uint32_t i = 0; i < v->nIn; i++)
        in[i] = nnrt_io_make((void *)(uintptr_t)v->in[i], v->inBytes[i]);
    for (uint32_t i = 0; i < v->nOut; i++) {
        memset(v->out[i], 0xA5, v->outBytes[i]);
        out[i] = nnrt_io_make(v->out[i], v->outBytes[i]);
    }
    if (nnrt_session_create(&session, model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, e.message);
    if (nnrt_run(session, in, v->nIn, out, v->nOut) != expected)
        fail_msg("%s: %s", device, nnrt_session_error(session));
    nnrt_session_destroy(session);
    return t.calls;
}

static NNRT_Model *finish(nnrt_builder *b)
{
    NNRT_Model *model = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_builder_finish(b, &model, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    return model;
}

/* ---- recurrent cells ---- */

/* A recurrent node. x is [T,N,I], or with batchFirst [N,T,I]. */
typedef struct cells {
    NNRT_NodeType type;
    int32_t T, N, I, H, D, layers;
    bool bias, states, lens, peepholes, inputForget, batchFirst, linear, reverse;
    float clip;
    int64_t activations[6];
    int32_t gates, functions, projection;
    float zoneout;
    float *x, *w, *r, *b, *h, *c, *p;
    int64_t *len;
} cells;

static bool has_c(const cells *s)
{
    return s->gates == 4;
}

static void draw_cells(cells *s, NNRT_NodeType type)
{
    static const int32_t extents[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 49};
    static const int64_t kinds[] = {NNRT_ACTIVATION_TYPE_SIGMOID, NNRT_ACTIVATION_TYPE_TANH, NNRT_ACTIVATION_TYPE_RELU,
                                    NNRT_ACTIVATION_TYPE_SOFTSIGN, NNRT_ACTIVATION_TYPE_SOFTPLUS};
    size_t rows;
    memset(s, 0, sizeof(*s));
    s->type = type;
    s->gates = type == NNRT_NODE_TYPE_GRU ? 3 : type == NNRT_NODE_TYPE_RNN ? 1 : 4;
    s->functions = type == NNRT_NODE_TYPE_GRU ? 2 : type == NNRT_NODE_TYPE_RNN ? 1 : 3;
    s->T = 1 + (int32_t)draw(6);
    s->N = 1 + (int32_t)draw(draw(2) ? 1 : 7);
    s->I = extents[draw(COUNT(extents))];
    s->H = extents[draw(COUNT(extents))];
    s->D = 1 + (int32_t)draw(2);
    s->layers = 1;
    s->bias = draw(4) > 0;
    s->states = draw(2) > 0;
    for (int32_t i = 0; i < 6; i++)
        s->activations[i] = i % s->functions == 0 && s->functions > 1 ? NNRT_ACTIVATION_TYPE_SIGMOID
                                                                      : NNRT_ACTIVATION_TYPE_TANH;
    if (draw(8) == 0) /* more than one piece of steps */
        s->T = 60 + (int32_t)draw(10);
    if (type == NNRT_NODE_TYPE_LSTM) {
        if (draw(3) == 0) {
            s->layers = 2 + (int32_t)draw(2);
            s->I = s->D * s->H;
        }
        s->states = true;
    } else {
        s->lens = draw(3) == 0;
        s->batchFirst = draw(3) == 0;
        s->linear = draw(2) == 0;
        s->reverse = s->D == 1 && draw(2) == 0;
        s->inputForget = has_c(s) && draw(4) == 0;
        s->peepholes = has_c(s) && draw(2) == 0;
        s->clip = draw(4) == 0 ? 0.4f : 0;
        for (int32_t i = 0; i < 6 && s->T <= 6 && draw(3) == 0; i++)
            s->activations[i] = kinds[draw(COUNT(kinds))];
    }
    rows = (size_t)(s->layers * s->D);
    s->x = reals((size_t)(s->T * s->N * s->I), 1);
    s->w = reals(rows * (size_t)(s->gates * s->H * s->I), 1.5f / sqrtf((float)s->I));
    s->r = reals(rows * (size_t)(s->gates * s->H * s->H), (s->T > 6 ? 0.5f : 2) / (float)s->H); /* errors stay small */
    s->b = reals(rows * (size_t)(2 * s->gates * s->H), 0.3f);
    s->h = reals(rows * (size_t)(s->N * s->H), 1);
    s->c = reals(rows * (size_t)(s->N * s->H), 1);
    s->p = reals(rows * (size_t)(3 * s->H), s->T > 6 ? 0.1f : 0.5f);
    s->len = (int64_t *)malloc((size_t)s->N * sizeof(int64_t));
    for (int32_t n = 0; n < s->N; n++)
        s->len[n] = s->lens ? (int64_t)draw((uint32_t)s->T + 1) : s->T;
}

static void free_cells(cells *s)
{
    free(s->x);
    free(s->w);
    free(s->r);
    free(s->b);
    free(s->h);
    free(s->c);
    free(s->p);
    free(s->len);
}

/* The sum of gate `gate`: its biases, also of block `second` if that is not negative, I products with x and H with h; x
   or h may be NULL. */
static near gate_sum(const cells *s, int32_t row, int32_t gate, int32_t k, int32_t second, const near *x, const near *h)
{
    const float *b = s->b + (size_t)row * (size_t)(2 * s->gates * s->H);
    const size_t at = (size_t)row * (size_t)(s->gates * s->H) + (size_t)(gate * s->H + k);
    near sum = near_of(0);
    double parts = 0;
    if (s->bias && x != NULL) {
        sum.v = b[gate * s->H + k];
        parts = fabs(sum.v);
    }
    if (s->bias && second >= 0) {
        sum.v += b[second * s->H + k];
        parts += fabs((double)b[second * s->H + k]);
    }
    for (int32_t i = 0; i < s->I && x != NULL; i++) {
        const double w = s->w[at * (size_t)s->I + (size_t)i];
        sum.v += w * x[i].v;
        sum.e += fabs(w) * x[i].e;
        parts += fabs(w) * (fabs(x[i].v) + x[i].e);
    }
    for (int32_t i = 0; i < s->H && h != NULL; i++) {
        const double w = s->r[at * (size_t)s->H + (size_t)i];
        sum.v += w * h[i].v;
        sum.e += fabs(w) * h[i].e;
        parts += fabs(w) * (fabs(h[i].v) + h[i].e);
    }
    sum.e += (s->I + s->H + 3 + (weights != NULL ? 5 : 0)) * U * parts; /* with a scale of W and of R, and rounded weights */
    return sum;
}

/* One step; h and c become the next ones. */
static void step_cells(const cells *s, int32_t row, const near *x, near *h, near *c)
{
    const int32_t H = s->H, d = row % s->D;
    const int64_t *f = s->activations + d * s->functions;
    const near one = near_of(1), none = near_of(0);
    near *z = (near *)malloc((size_t)H * sizeof(near)), *r = (near *)malloc((size_t)H * sizeof(near));
    near *next = (near *)malloc((size_t)H * sizeof(near));
    for (int32_t k = 0; k < H && s->type == NNRT_NODE_TYPE_RNN; k++)
        next[k] = near_activate(gate_sum(s, row, 0, k, 1, x, h), (NNRT_ActivationType)f[0], s->clip);
    for (int32_t k = 0; k < H && s->type == NNRT_NODE_TYPE_GRU; k++) {
        z[k] = near_activate(gate_sum(s, row, 0, k, 3, x, h), (NNRT_ActivationType)f[0], s->clip);
        r[k] = near_activate(gate_sum(s, row, 1, k, 4, x, h), (NNRT_ActivationType)f[0], s->clip);
        if (!s->linear)
            r[k] = near_fma(r[k], h[k], none, 2);
    }
    for (int32_t k = 0; k < H && s->type == NNRT_NODE_TYPE_GRU; k++) {
        near n, keep, kept;
        if (s->linear)
            n = near_fma(r[k], gate_sum(s, row, 2, k, 5, NULL, h), gate_sum(s, row, 2, k, -1, x, NULL), 2);
        else
            n = gate_sum(s, row, 2, k, 5, x, r);
        n = near_activate(n, (NNRT_ActivationType)f[1], s->clip);
        keep.v = 1 - z[k].v;
        keep.e = z[k].e + U * fabs(keep.v);
        kept = near_fma(z[k], h[k], none, 1);
        next[k] = near_fma(keep, n, kept, 3);
    }
    for (int32_t k = 0; k < H && has_c(s); k++) {
        const float *p = s->p + (size_t)row * (size_t)(3 * H);
        near sums[4], peep[3], i, o, keep;
        for (int32_t g = 0; g < 4; g++)
            sums[g] = gate_sum(s, row, g, k, 4 + g, x, h);
        for (int32_t g = 0; g < 3; g++)
            peep[g] = near_of(s->peepholes ? p[g * H + k] : 0);
        i = near_activate(near_fma(peep[0], c[k], sums[0], 2), (NNRT_ActivationType)f[0], s->clip);
        keep = near_activate(near_fma(peep[2], c[k], sums[2], 2), (NNRT_ActivationType)f[0], s->clip);
        if (s->inputForget) {
            keep.v = one.v - i.v;
            keep.e = i.e + U * fabs(keep.v);
        }
        c[k] = near_fma(i, near_activate(sums[3], (NNRT_ActivationType)f[1], s->clip), near_fma(keep, c[k], none, 1), 3);
        o = near_activate(near_fma(peep[1], c[k], sums[1], 2), (NNRT_ActivationType)f[0], s->clip);
        next[k] = near_fma(o, near_activate(c[k], (NNRT_ActivationType)f[2], s->clip), none, 2);
    }
    memcpy(h, next, (size_t)H * sizeof(near));
    free(next);
    free(r);
    free(z);
}

/* Offset of y of step t of sequence n in direction d, and of a state of row. */
static size_t y_at(const cells *s, int32_t t, int32_t d, int32_t n)
{
    const size_t T = (size_t)s->T, N = (size_t)s->N, D = (size_t)s->D, H = (size_t)s->H;
    if (s->type == NNRT_NODE_TYPE_LSTM)
        return (((size_t)t * N + (size_t)n) * D + (size_t)d) * H;
    return s->batchFirst ? (((size_t)n * T + (size_t)t) * D + (size_t)d) * H
                         : (((size_t)t * D + (size_t)d) * N + (size_t)n) * H;
}

static size_t state_at(const cells *s, int32_t row, int32_t n)
{
    return (s->batchFirst ? (size_t)(n * s->D + row) : (size_t)(row * s->N + n)) * (size_t)s->H;
}

static void expect_cells(const cells *s, near *y, near *yH, near *yC)
{
    const int32_t T = s->T, H = s->H, width = s->D * H;
    near *below = (near *)malloc((size_t)T * (size_t)(s->I + width) * sizeof(near));
    near *above = (near *)malloc((size_t)T * (size_t)(s->I + width) * sizeof(near));
    near *h = (near *)malloc((size_t)H * sizeof(near)), *c = (near *)malloc((size_t)H * sizeof(near));
    for (int32_t n = 0; n < s->N; n++)
        for (int32_t row = 0; row < s->layers * s->D; row++) {
            const int32_t layer = row / s->D, d = row % s->D, len = (int32_t)s->len[n];
            if (d == 0 && layer == 0)
                for (int32_t t = 0; t < T; t++)
                    for (int32_t i = 0; i < s->I; i++)
                        below[t * s->I + i] = near_of(s->x[(s->batchFirst ? n * T + t : t * s->N + n) * s->I + i]);
            else if (d == 0)
                memcpy(below, above, (size_t)T * (size_t)width * sizeof(near));
            for (int32_t k = 0; k < H; k++) {
                h[k] = near_of(s->states ? s->h[state_at(s, row, n) + (size_t)k] : 0);
                c[k] = near_of(s->states ? s->c[state_at(s, row, n) + (size_t)k] : 0);
            }
            for (int32_t i = 0; i < T; i++) {
                const int32_t t = i >= len ? i : s->reverse || d == 1 ? len - 1 - i : i;
                if (i < len)
                    step_cells(s, row, below + t * s->I, h, c);
                for (int32_t k = 0; k < H; k++) {
                    above[t * width + d * H + k] = i < len ? h[k] : near_of(0);
                    if (layer == s->layers - 1)
                        y[y_at(s, t, d, n) + (size_t)k] = above[t * width + d * H + k];
                }
            }
            memcpy(yH + state_at(s, row, n), h, (size_t)H * sizeof(near));
            memcpy(yC + state_at(s, row, n), c, (size_t)H * sizeof(near));
        }
    free(c);
    free(h);
    free(above);
    free(below);
}

/* One node; x and len are inputs of the model, the rest is constant. */
static NNRT_Model *make_cells(const cells *s, bool constant)
{
    const int32_t rows = s->layers * s->D, G = s->gates * s->H, R = s->projection > 0 ? s->projection : s->H;
    const int32_t xDims[3] = {s->batchFirst ? s->N : s->T, s->batchFirst ? s->T : s->N, s->I};
    const int32_t wDims[3] = {rows, G, s->I}, rDims[3] = {rows, G, R}, bDims[2] = {rows, 2 * G};
    const int32_t hDims[3] = {s->batchFirst ? s->N : rows, s->batchFirst ? rows : s->N, R};
    const int32_t cDims[3] = {hDims[0], hDims[1], s->H}, pDims[2] = {rows, 3 * s->H}, jDims[3] = {rows, R, s->H};
    const bool plain = s->type == NNRT_NODE_TYPE_LSTM;
    const uint32_t none = NNRT_NO_TENSOR;
    const NNRT_Int64List activations = nnrt_int64_list(s->activations, (uint32_t)(s->functions * s->D));
    const NNRT_RecurrentDirection direction = s->D == 2     ? NNRT_RECURRENT_DIRECTION_BIDIRECTIONAL
                                              : s->reverse ? NNRT_RECURRENT_DIRECTION_REVERSE
                                                           : NNRT_RECURRENT_DIRECTION_FORWARD;
    NNRT_LSTM lstm;
    NNRT_LSTMPeephole peephole;
    NNRT_GRU gru;
    NNRT_RNN rnn;
    const void *attr = plain ? (const void *)&lstm : s->gates == 4 ? (const void *)&peephole
                                                 : s->gates == 3   ? (const void *)&gru
                                                                   : (const void *)&rnn;
    nnrt_builder *b = NULL;
    uint32_t in[8], out[3];
    memset(&lstm, 0, sizeof(lstm));
    memset(&peephole, 0, sizeof(peephole));
    memset(&gru, 0, sizeof(gru));
    memset(&rnn, 0, sizeof(rnn));
    lstm.bidirectional = s->D == 2;
    lstm.hasBias = s->bias;
    lstm.numLayers = s->layers;
    lstm.numDirections = s->D;
    lstm.projSize = s->projection;
    lstm.zoneoutCell = s->zoneout;
    gru.activations = peephole.activations = rnn.activations = activations;
    gru.clip = peephole.clip = rnn.clip = s->clip;
    gru.direction = peephole.direction = rnn.direction = direction;
    gru.layout = peephole.layout = rnn.layout = s->batchFirst;
    gru.linearBeforeReset = s->linear;
    peephole.inputForget = s->inputForget;
    assert_int_equal(nnrt_builder_create(&b, "cells", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", F32, 3, xDims);
    in[1] = constant ? nnrt_builder_constant(b, "w", F32, 3, wDims, s->w, false)
                     : nnrt_builder_input(b, "w", F32, 3, wDims);
    in[2] = nnrt_builder_constant(b, "r", F32, 3, rDims, s->r, false);
    in[3] = s->bias || plain ? nnrt_builder_constant(b, "b", F32, 2, bDims, s->b, false) : none;
    in[plain ? 4 : 5] = s->states ? nnrt_builder_constant(b, "h", F32, 3, hDims, s->h, false) : none;
    in[plain ? 5 : 6] = s->states ? nnrt_builder_constant(b, "c", F32, 3, cDims, s->c, false) : none;
    if (plain && s->projection > 0)
        in[6] = nnrt_builder_constant(b, "j", F32, 3, jDims, s->p, false);
    if (!plain) {
        in[4] = s->lens ? nnrt_builder_input(b, "len", NNRT_DATA_TYPE_INT64, 1, &s->N) : none;
        in[7] = s->peepholes ? nnrt_builder_constant(b, "p", F32, 2, pDims, s->p, false) : none;
    }
    for (uint32_t i = 0; i < (s->gates == 4 ? 3u : 2u); i++)
        out[i] = nnrt_builder_tensor(b, i == 0 ? "y" : i == 1 ? "yH" : "yC");
    nnrt_builder_node(b, "y", s->type, attr, in, plain ? 6 + (s->projection > 0) : s->gates == 4 ? 8 : 6, out,
                      s->gates == 4 ? 3 : 2);
    for (uint32_t i = 0; i < (s->gates == 4 ? 3u : 2u); i++)
        nnrt_builder_output(b, out[i]);
    return finish(b);
}

static void set_values(const cells *s, values *v, float *const *out)
{
    const size_t nY = (size_t)(s->T * s->N * s->D * s->H), nState = (size_t)(s->layers * s->D * s->N * s->H);
    memset(v, 0, sizeof(*v));
    v->nIn = s->lens ? 2 : 1;
    v->in[0] = s->x;
    v->inBytes[0] = (size_t)(s->T * s->N * s->I) * sizeof(float);
    v->in[1] = s->len;
    v->inBytes[1] = (size_t)s->N * sizeof(int64_t);
    v->nOut = has_c(s) ? 3 : 2;
    for (uint32_t i = 0; i < 3; i++) {
        v->out[i] = out[i];
        v->outBytes[i] = (i == 0 ? nY : nState) * sizeof(float);
    }
}

static void check_near(const cells *s, const char *device, const char *what, const float *y, const near *expected,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)y[i] - expected[i].v) <= expected[i].e))
            fail_msg("type %d, T %d N %d I %d H %d D %d layers %d on %s: %s[%u] is %.9g, expected %.9g within %.3g",
                     (int)s->type, s->T, s->N, s->I, s->H, s->D, s->layers, device, what, (unsigned)i, (double)y[i],
                     expected[i].v, expected[i].e);
}

/* With enableFloat16 each set that packs float16 weights returns the bits of weights that were rounded to float16 beforehand,
   with any number of threads, and reads fewer bytes; a weight that float16 cannot store (large) leaves both tensors in
   float32. */
static void check_half_cells(const cells *s, bool large)
{
    const size_t nY = (size_t)(s->T * s->N * s->D * s->H), nState = (size_t)(s->layers * s->D * s->N * s->H);
    const size_t rows = (size_t)(s->layers * s->D * s->gates * s->H), nW = rows * (size_t)s->I, nR = rows * (size_t)s->H;
    cells rounded = *s;
    float *out[3], *first[3];
    NNRT_Model *model, *whole;
    values v, by;
    rounded.w = reals(nW, 0);
    rounded.r = reals(nR, 0);
    if (large)
        s->r[nR - 1] = 65505;
    for (size_t i = 0; i < nW; i++)
        rounded.w[i] = large ? s->w[i] : (float)half_to(half_of((double)s->w[i]));
    for (size_t i = 0; i < nR; i++)
        rounded.r[i] = large ? s->r[i] : (float)half_to(half_of((double)s->r[i]));
    for (uint32_t i = 0; i < 3; i++) {
        out[i] = reals(i == 0 ? nY : nState, 0);
        first[i] = reals(i == 0 ? nY : nState, 0);
    }
    set_values(s, &v, out);
    set_values(s, &by, first);
    model = make_cells(s, true);
    whole = make_cells(&rounded, true);
    for (uint32_t k = 0; k < nSets; k++) {
        const bool small = !large && packs_small(sets[k] + strlen("cpu-"));
        size_t read;
        (void)run_on(sets[k], small ? whole : model, &by, 0, NNRT_SUCCESS);
        read = bytesRead;
        allows_half = true;
        for (uint32_t workers = 0; workers <= 8; workers += workers == 3 ? 5 : 1) {
            (void)run_on(sets[k], model, &v, workers, NNRT_SUCCESS);
            for (uint32_t i = 0; i < v.nOut; i++)
                if (memcmp(first[i], out[i], v.outBytes[i]) != 0)
                    fail_msg("float16 weights: type %d, T %d N %d I %d H %d D %d on %s, %u workers: other bits",
                             (int)s->type, s->T, s->N, s->I, s->H, s->D, sets[k], workers);
            if (workers == 0 && !small)
                assert_int_equal(bytesRead, read);
            else if (workers == 0)
                assert_true(bytesRead + 2 * (nW + nR) <= read);
        }
        allows_half = false;
    }
    nnrt_model_destroy(whole);
    nnrt_model_destroy(model);
    for (uint32_t i = 0; i < 3; i++) {
        free(first[i]);
        free(out[i]);
    }
    free(rounded.r);
    free(rounded.w);
}

/* Rounds rows of weights to int8 multiples of the scale that devices/nnrt_cpu.h states; hybrid: weights that are multiples
   of such a scale already keep their values. */
static void round_int8(float *w, const float *from, size_t rows, size_t count, bool hybrid)
{
    for (size_t i = 0; i < rows; i++, w += count, from += count) {
        float most = 0;
        for (size_t k = 0; k < count; k++)
            most = fabsf(from[k]) > most ? fabsf(from[k]) : most;
        for (size_t k = 0; k < count; k++) {
            const double scale = fmaxf(most / 127.0f, FLT_MIN);
            w[k] = hybrid ? from[k] : (float)(round((double)from[k] / scale) * scale);
            if (fabs((double)w[k] - (double)from[k]) > scale * 0.50001)
                fail_msg("%.9g becomes %.9g, scale %.9g", (double)from[k], (double)w[k], scale);
        }
    }
}

/* With int8 weights each set that packs them returns, within its rounding errors, the results of the rounded weights, and the
   same bits for any number of threads; other sets return the bits of float32. kind 0: any weights, 1: multiples of a scale, of which each row has 127, and a row of zeros,
   2: an infinite weight leaves both tensors in float32. */
static void check_int8_cells(const cells *s, int32_t kind)
{
    const size_t nY = (size_t)(s->T * s->N * s->D * s->H), nState = (size_t)(s->layers * s->D * s->N * s->H);
    const size_t rows = (size_t)(s->layers * s->D * s->gates * s->H), I = (size_t)s->I, H = (size_t)s->H;
    const char *const names[3] = {"y", "yH", "yC"};
    const size_t counts[3] = {nY, nState, nState};
    cells own = *s, rounded = *s;
    near *expected[3];
    float *out[3], *first[3], *whole[3];
    NNRT_Model *model;
    values v, by;
    own.w = reals(rows * I, 1.5f / sqrtf((float)s->I));
    own.r = reals(rows * H, (s->T > 6 ? 0.5f : 2) / (float)s->H);
    rounded.w = reals(rows * I, 0);
    rounded.r = reals(rows * H, 0);
    memcpy(own.w, s->w, rows * I * sizeof(float));
    memcpy(own.r, s->r, rows * H * sizeof(float));
    for (size_t i = 0; i < rows && kind == 1; i++) {
        const float scale = fabsf(own.r[i * H]) / 127 + 1e-6f; /* any mantissa */
        for (size_t k = 0; k < I; k++)
            own.w[i * I + k] = (k == 0 ? 127 : (float)draw(255) - 127) * scale;
        for (size_t k = 0; k < H; k++)
            own.r[i * H + k] = i == 0 ? 0 : (k == 0 ? -127 : (float)draw(255) - 127) * (0.77f * scale);
    }
    if (kind == 2)
        own.r[rows * H - 1] = INFINITY;
    else {
        round_int8(rounded.w, own.w, rows, I, kind == 1);
        round_int8(rounded.r, own.r, rows, H, kind == 1);
    }
    for (uint32_t i = 0; i < 3; i++) {
        expected[i] = (near *)malloc(counts[i] * sizeof(near));
        out[i] = reals(counts[i], 0);
        first[i] = reals(counts[i], 0);
        whole[i] = reals(counts[i], 0);
    }
    set_values(s, &v, out);
    set_values(s, &by, whole);
    weights = "int8";
    if (kind < 2)
        expect_cells(&rounded, expected[0], expected[1], expected[2]);
    model = make_cells(&own, true);
    for (uint32_t k = 0; k < nSets; k++) {
        const bool small = kind < 2 && packs_small(sets[k] + strlen("cpu-"));
        size_t read;
        weights = NULL;
        (void)run_on(sets[k], model, &by, 0, NNRT_SUCCESS);
        read = bytesRead;
        weights = "int8";
        for (uint32_t workers = 0; workers <= 8; workers += workers == 3 ? 5 : 1) {
            (void)run_on(sets[k], model, &v, workers, NNRT_SUCCESS);
            for (uint32_t i = 0; i < v.nOut; i++) {
                if (workers == 0)
                    memcpy(first[i], out[i], v.outBytes[i]);
                else if (memcmp(first[i], out[i], v.outBytes[i]) != 0)
                    fail_msg("int8 weights: type %d, T %d N %d I %d H %d D %d on %s, %u workers: other bits", (int)s->type,
                             s->T, s->N, s->I, s->H, s->D, sets[k], workers);
                if (!small)
                    assert_memory_equal(whole[i], out[i], v.outBytes[i]);
                else
                    check_near(&rounded, sets[k], names[i], out[i], expected[i], counts[i]);
            }
            if (workers == 0 && !small)
                assert_int_equal(bytesRead, read);
            else if (workers == 0) /* 3 bytes of a weight are saved, and two scales of each cell and gate are added */
                assert_true(bytesRead + 3 * rows * (I + H) <= read + 8 * (rows + 16 * rows / H));
        }
    }
    weights = NULL;
    nnrt_model_destroy(model);
    for (uint32_t i = 0; i < 3; i++) {
        free(whole[i]);
        free(first[i]);
        free(out[i]);
        free(expected[i]);
    }
    free(rounded.r);
    free(rounded.w);
    free(own.r);
    free(own.w);
}

static void check_cells(const cells *s)
{
    const size_t nY = (size_t)(s->T * s->N * s->D * s->H), nState = (size_t)(s->layers * s->D * s->N * s->H);
    near *expected[3];
    float *out[3], *first[3];
    NNRT_Model *model = make_cells(s, true);
    values v;
    size_t reference;
    for (uint32_t i = 0; i < 3; i++) {
        expected[i] = (near *)malloc((i == 0 ? nY : nState) * sizeof(near));
        out[i] = reals(i == 0 ? nY : nState, 0);
        first[i] = reals(i == 0 ? nY : nState, 0);
    }
    set_values(s, &v, out);
    expect_cells(s, expected[0], expected[1], expected[2]);
    (void)run_on("reference", model, &v, 0, NNRT_SUCCESS);
    reference = bytesRead;
    for (uint32_t i = 0; i < v.nOut; i++)
        check_near(s, "reference", i == 0 ? "y" : i == 1 ? "yH" : "yC", out[i], expected[i], i == 0 ? nY : nState);
    for (uint32_t k = 0; k < nSets; k++)
        for (uint32_t workers = 0; workers <= 8; workers += workers == 3 ? 5 : 1) {
            (void)run_on(sets[k], model, &v, workers, NNRT_SUCCESS);
            if (workers == 0)
                assert_int_not_equal(bytesRead, reference); /* packed weights */
            for (uint32_t i = 0; i < v.nOut; i++) {
                if (workers == 0)
                    memcpy(first[i], out[i], v.outBytes[i]);
                else if (memcmp(first[i], out[i], v.outBytes[i]) != 0)
                    fail_msg("type %d H %d on %s: %u workers give other bits than one", (int)s->type, s->H, sets[k],
                             workers);
                check_near(s, sets[k], i == 0 ? "y" : i == 1 ? "yH" : "yC", out[i], expected[i], i == 0 ? nY : nState);
            }
        }
    nnrt_model_destroy(model);
    for (uint32_t i = 0; i < 3; i++) {
        free(first[i]);
        free(out[i]);
        free(expected[i]);
    }
}

static void check_type(NNRT_NodeType type, uint32_t seed, uint32_t count)
{
    cells s;
    state = seed;
    for (uint32_t i = 0; i < count; i++) {
        draw_cells(&s, type);
        check_cells(&s);
        check_int8_cells(&s, i % 8 == 6 ? 2 : (int32_t)i % 2);
        check_half_cells(&s, i % 8 == 7);
        free_cells(&s);
    }
}

static void test_lstm(void **unused)
{
    (void)unused;
    check_type(NNRT_NODE_TYPE_LSTM, 1, 40);
}

static void test_peepholes(void **unused)
{
    (void)unused;
    check_type(NNRT_NODE_TYPE_LSTM_PEEPHOLE, 2, 40);
}

static void test_gru(void **unused)
{
    (void)unused;
    check_type(NNRT_NODE_TYPE_GRU, 3, 50);
}

static void test_rnn(void **unused)
{
    (void)unused;
    check_type(NNRT_NODE_TYPE_RNN, 4, 30);
}

/* Many sequences, several of which are computed at once; enough cells for threads to share a step, and to compute
   products with x while weights of h are read: x smaller and larger, backward, and with short sequences. */
static void test_large(void **unused)
{
    static const struct {
        NNRT_NodeType type;
        int32_t T, N, I, H, D;
        bool lens, reverse, peepholes;
    } sizes[] = {{NNRT_NODE_TYPE_LSTM, 2, 35, 9, 20, 1, false, false, false},
                 {NNRT_NODE_TYPE_GRU, 2, 35, 9, 20, 2, false, false, false},
                 {NNRT_NODE_TYPE_LSTM, 3, 1, 17, 200, 1, false, false, false},
                 {NNRT_NODE_TYPE_GRU, 3, 1, 17, 200, 1, false, false, false},
                 {NNRT_NODE_TYPE_RNN, 2, 20, 4, 33, 2, false, false, false},
                 {NNRT_NODE_TYPE_LSTM, 47, 1, 30, 72, 1, false, false, false},
                 {NNRT_NODE_TYPE_LSTM, 41, 1, 90, 66, 2, false, false, false},
                 {NNRT_NODE_TYPE_LSTM, 21, 2, 80, 80, 1, false, false, false},
                 {NNRT_NODE_TYPE_LSTM_PEEPHOLE, 45, 3, 31, 81, 1, true, true, true},
                 {NNRT_NODE_TYPE_LSTM_PEEPHOLE, 40, 2, 70, 65, 2, true, false, false}};
    (void)unused;
    state = 5;
    for (uint32_t i = 0; i < COUNT(sizes); i++) {
        cells s;
        size_t rows, cellCount;
        memset(&s, 0, sizeof(s));
        s.type = sizes[i].type;
        s.gates = s.type == NNRT_NODE_TYPE_GRU ? 3 : s.type == NNRT_NODE_TYPE_RNN ? 1 : 4;
        s.functions = s.gates == 4 ? 3 : s.gates == 3 ? 2 : 1;
        for (int32_t k = 0; k < 6; k++)
            s.activations[k] = k % s.functions == 0 && s.functions > 1 ? NNRT_ACTIVATION_TYPE_SIGMOID
                                                                       : NNRT_ACTIVATION_TYPE_TANH;
        s.T = sizes[i].T;
        s.N = sizes[i].N;
        s.I = sizes[i].I;
        s.H = sizes[i].H;
        s.D = sizes[i].D;
        s.layers = 1;
        s.bias = s.states = true;
        s.lens = sizes[i].lens;
        s.reverse = sizes[i].reverse;
        s.peepholes = sizes[i].peepholes;
        rows = (size_t)(s.D * s.gates * s.H);
        cellCount = (size_t)(s.D * s.N * s.H);
        s.x = reals((size_t)(s.T * s.N * s.I), 1);
        s.w = reals(rows * (size_t)s.I, 0.2f);
        s.r = reals(rows * (size_t)s.H, 0.5f / (float)s.H);
        s.b = reals(2 * rows, 0.3f);
        s.h = reals(cellCount, 1);
        s.c = reals(cellCount, 1);
        s.p = reals((size_t)(s.D * 3 * s.H), 0.1f);
        s.len = (int64_t *)malloc((size_t)s.N * sizeof(int64_t));
        for (int32_t n = 0; n < s.N; n++)
            s.len[n] = s.lens ? s.T - 7 * n : s.T;
        check_cells(&s);
        check_int8_cells(&s, (int32_t)i % 2);
        check_half_cells(&s, false);
        free_cells(&s);
    }
}

/* The reference kernel runs unsupported variants, bit-identically: projection, zoneout, run-time weights. */
static void test_left_alone(void **unused)
{
    (void)unused;
    state = 6;
    for (int32_t which = 0; which < 3; which++) {
        cells s;
        NNRT_Model *model;
        values v;
        float *out[3], *expected;
        size_t count;
        memset(&s, 0, sizeof(s));
        s.type = NNRT_NODE_TYPE_LSTM;
        s.gates = 4;
        s.functions = 3;
        s.T = 3;
        s.N = 2;
        s.I = 5;
        s.H = 4;
        s.D = s.layers = 1;
        s.bias = s.states = true;
        s.projection = which == 0 ? 2 : 0;
        s.zoneout = which == 1 ? 0.25f : 0;
        s.x = reals(30, 1);
        s.w = reals(80, 1);
        s.r = reals(64, 1);
        s.b = reals(32, 1);
        s.h = reals(8, 1);
        s.c = reals(8, 1);
        s.p = reals(16, 1);
        s.len = (int64_t *)malloc(sizeof(int64_t));
        model = make_cells(&s, which != 2);
        for (uint32_t i = 0; i < 3; i++)
            out[i] = reals(64, 0);
        set_values(&s, &v, out);
        v.outBytes[0] = (which == 0 ? 12 : 24) * sizeof(float);
        v.outBytes[1] = (which == 0 ? 4 : 8) * sizeof(float);
        if (which == 2) {
            v.in[1] = s.w;
            v.inBytes[1] = 80 * sizeof(float);
            v.nIn = 2;
        }
        count = v.outBytes[0] / sizeof(float);
        (void)run_on("reference", model, &v, 0, NNRT_SUCCESS);
        expected = reals(count, 0);
        memcpy(expected, out[0], v.outBytes[0]);
        (void)run_on("cpu", model, &v, 0, NNRT_SUCCESS);
        assert_memory_equal(expected, out[0], v.outBytes[0]);
        nnrt_model_destroy(model);
        free(expected);
        for (uint32_t i = 0; i < 3; i++)
            free(out[i]);
        free_cells(&s);
    }
}

/* A sequence length above the steps of x fails the run. */
static void test_lengths(void **unused)
{
    cells s;
    NNRT_Model *model;
    values v;
    float *out[3];
    (void)unused;
    state = 7;
    for (draw_cells(&s, NNRT_NODE_TYPE_GRU); !s.lens || s.N < 2; draw_cells(&s, NNRT_NODE_TYPE_GRU))
        free_cells(&s);
    model = make_cells(&s, true);
    for (uint32_t i = 0; i < 3; i++)
        out[i] = reals((size_t)(s.T * s.N * s.D * s.H), 0);
    set_values(&s, &v, out);
    s.len[1] = s.T + 1;
    (void)run_on("cpu", model, &v, 0, NNRT_INVALID_PARAMETER);
    s.len[1] = -1;
    (void)run_on("cpu", model, &v, 0, NNRT_INVALID_PARAMETER);
    s.len[1] = 0;
    (void)run_on("cpu", model, &v, 0, NNRT_SUCCESS);
    nnrt_model_destroy(model);
    for (uint32_t i = 0; i < 3; i++)
        free(out[i]);
    free_cells(&s);
}

/* ---- attention ---- */

/* q, k and v [1,S,heads,d] are inputs, each transposed to heads first; z = softmax(factor * q k) v, transposed back. */
typedef struct attention {
    int32_t S, heads, d;
    bool transposeB;              /* k is transposed like q, and the product transposes it */
    bool transposeA;              /* q is transposed like k otherwise, and the product transposes it */
    bool showTurned, showProduct; /* the transposed q, and the product times the factor, are also outputs */
    bool unequal;                 /* one factor per column */
    float *x[3], *factors;
} attention;

/* The axes as int32, or as negative int64. */
static uint32_t turn(nnrt_builder *b, const char *name, uint32_t x, const int32_t *axes)
{
    const int32_t four = 4;
    int64_t wide[4];
    char of[16];
    uint32_t in[2];
    snprintf(of, sizeof(of), "%s.axes", name);
    for (int32_t i = 0; i < 4; i++)
        wide[i] = axes[i] - (i % 2 ? 4 : 0);
    in[0] = x;
    in[1] = draw(2) ? nnrt_builder_constant(b, of, I32, 1, &four, axes, true)
                    : nnrt_builder_constant(b, of, NNRT_DATA_TYPE_INT64, 1, &four, wide, true);
    return nnrt_builder_op(b, name, NNRT_NODE_TYPE_TRANSPOSE, NULL, in, 2);
}

static NNRT_Model *make_attention(const attention *a)
{
    static const int32_t first[] = {0, 2, 1, 3}, last[] = {0, 2, 3, 1};
    static const char *const names[] = {"q", "k", "v"};
    const int32_t dims[4] = {1, a->S, a->heads, a->d}, one = a->unequal ? a->S : 1;
    const int64_t axis = -1;
    nnrt_builder *b = NULL;
    NNRT_MatMulFusion product;
    NNRT_Softmax softmax;
    uint32_t in[3], turned[3], pair[2];
    memset(&product, 0, sizeof(product));
    memset(&softmax, 0, sizeof(softmax));
    softmax.axis = nnrt_int64_list(&axis, 1);
    assert_int_equal(nnrt_builder_create(&b, "attention", NULL), NNRT_SUCCESS);
    for (uint32_t i = 0; i < 3; i++)
        in[i] = nnrt_builder_input(b, names[i], F32, 4, dims);
    turned[0] = turn(b, "qt", in[0], a->transposeA ? last : first);
    turned[1] = turn(b, "kt", in[1], a->transposeB ? first : last);
    turned[2] = turn(b, "vt", in[2], first);
    product.transposeA = a->transposeA;
    product.transposeB = a->transposeB;
    pair[0] = nnrt_builder_op(b, "qk", NNRT_NODE_TYPE_MATMUL_FUSION, &product, turned, 2);
    pair[1] = nnrt_builder_constant(b, "factor", F32, 1, &one, a->factors, true);
    pair[0] = nnrt_builder_op(b, "scaled", NNRT_NODE_TYPE_MUL_FUSION, NULL, pair, 2);
    if (a->showProduct)
        nnrt_builder_output(b, pair[0]);
    if (a->showTurned)
        nnrt_builder_output(b, turned[0]);
    pair[0] = nnrt_builder_op(b, "a", NNRT_NODE_TYPE_SOFTMAX, &softmax, pair, 1);
    pair[1] = turned[2];
    pair[0] = nnrt_builder_op(b, "av", NNRT_NODE_TYPE_MATMUL_FUSION, NULL, pair, 2);
    nnrt_builder_output(b, turn(b, "z", pair[0], first));
    return finish(b);
}

/* Number of occurrences of a word in `ran`. */
static uint32_t count_ran(const char *word)
{
    uint32_t count = 0;
    for (const char *at = ran; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

/* All elements are from -1 to 1. A product is within (d + 2) * d roundings, with one of the factor; the argument of exp
   has twice this error, as the largest one has it, too; the sum of exp has S terms within 2 ulp, common to all results. */
static void check_attention(const attention *a, uint32_t turns, uint32_t factors)
{
    const size_t nX = (size_t)(a->S * a->heads * a->d), nProduct = (size_t)(a->heads * a->S * a->S);
    const double fault = (a->d + 3) * U * a->d * fabs((double)a->factors[0]);
    const double bound = 2 * (2 * fault + (2 * a->S + 20) * U) + TINY;
    NNRT_Model *model = make_attention(a);
    values v;
    float *out[3], *expected[3], *first[3];
    double bounds[3];
    memset(&v, 0, sizeof(v));
    v.nIn = 3;
    for (uint32_t i = 0; i < 3; i++) {
        v.in[i] = a->x[i];
        v.inBytes[i] = nX * sizeof(float);
    }
    if (a->showProduct) {
        bounds[v.nOut] = 2 * fault + TINY;
        v.outBytes[v.nOut++] = nProduct * sizeof(float);
    }
    if (a->showTurned) {
        bounds[v.nOut] = 0;
        v.outBytes[v.nOut++] = nX * sizeof(float);
    }
    bounds[v.nOut] = bound;
    v.outBytes[v.nOut++] = nX * sizeof(float);
    for (uint32_t i = 0; i < v.nOut; i++) {
        v.out[i] = out[i] = (float *)malloc(v.outBytes[i]);
        expected[i] = (float *)malloc(v.outBytes[i]);
        first[i] = (float *)malloc(v.outBytes[i]);
    }
    (void)run_on("reference", model, &v, 0, NNRT_SUCCESS);
    for (uint32_t i = 0; i < v.nOut; i++)
        memcpy(expected[i], out[i], v.outBytes[i]);
    for (uint32_t k = 0; k < nSets; k++)
        for (uint32_t workers = 0; workers <= 8; workers += workers == 3 ? 5 : 1) {
            (void)run_on(sets[k], model, &v, workers, NNRT_SUCCESS);
            if (workers == 0 && a->S > 1 && a->heads > 1 && a->d > 1) {
                assert_int_equal(count_ran("TRANSPOSE"), turns);
                assert_int_equal(count_ran("MUL_FUSION") - count_ran("MATMUL_FUSION"), factors);
            }
            for (uint32_t i = 0; i < v.nOut; i++) {
                if (workers == 0)
                    memcpy(first[i], out[i], v.outBytes[i]);
                assert_memory_equal(first[i], out[i], v.outBytes[i]);
                for (size_t j = 0; j < v.outBytes[i] / sizeof(float); j++)
                    if (!(fabs((double)out[i][j] - (double)expected[i][j]) <= bounds[i]))
                        fail_msg("S %d heads %d d %d on %s: result %u [%u] is %.9g, expected %.9g within %.3g", a->S,
                                 a->heads, a->d, sets[k], i, (unsigned)j, (double)out[i][j], (double)expected[i][j],
                                 bounds[i]);
            }
        }
    nnrt_model_destroy(model);
    for (uint32_t i = 0; i < v.nOut; i++) {
        free(out[i]);
        free(expected[i]);
        free(first[i]);
    }
}

static void test_attention(void **unused)
{
    static const int32_t extents[] = {1, 2, 3, 5, 8, 9, 15, 16, 17, 31, 32, 33, 65};
    (void)unused;
    state = 8;
    for (uint32_t i = 0; i < COUNT(extents) * 3; i++) {
        attention a;
        size_t nX;
        memset(&a, 0, sizeof(a));
        a.S = extents[i % COUNT(extents)];
        a.heads = 1 + (int32_t)draw(3);
        a.d = extents[draw(COUNT(extents))];
        a.transposeB = draw(2) == 0;
        a.transposeA = draw(5) == 0;
        a.showTurned = draw(5) == 0;
        a.showProduct = draw(5) == 0;
        a.unequal = draw(5) == 0;
        nX = (size_t)(a.S * a.heads * a.d);
        for (uint32_t k = 0; k < 3; k++)
            a.x[k] = reals(nX, 1);
        a.factors = reals((size_t)a.S, 0);
        for (int32_t k = 0; k < a.S; k++)
            a.factors[k] = i % 2 ? 0.37f : -0.37f;
        /* the kernel does not support the columns of a q whose TRANSPOSE remains: then that of k also remains */
        check_attention(&a, a.showTurned ? (a.transposeA ? 2 : 1) : 0, a.showProduct || (a.unequal && a.S > 1) ? 1 : 0);
        free(a.factors);
        for (uint32_t k = 0; k < 3; k++)
            free(a.x[k]);
    }
}

/* Axes of dimension 1 are exchanged: no element moves, and there is no step. */
static void test_shapes(void **unused)
{
    static const int32_t dims[2][4] = {{5, 1, 1, 7}, {1, 3, 1, 4}}, axes[][4] = {{0, 2, 1, 3}, {2, 1, 0, 3}, {3, 1, 2, 0}};
    (void)unused;
    state = 9;
    for (int32_t i = 0; i < 3; i++) {
        const int32_t *d = dims[i == 1 ? 1 : 0];
        const size_t nX = (size_t)(d[0] * d[1] * d[2] * d[3]);
        NNRT_Activation attr;
        nnrt_builder *b = NULL;
        NNRT_Model *model;
        values v;
        float *x = reals(nX, 1), *y = reals(nX, 0);
        uint32_t in;
        memset(&attr, 0, sizeof(attr));
        memset(&v, 0, sizeof(v));
        attr.activationType = NNRT_ACTIVATION_TYPE_RELU;
        assert_int_equal(nnrt_builder_create(&b, "shapes", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", F32, 4, d);
        in = nnrt_builder_op(b, "r", NNRT_NODE_TYPE_ACTIVATION, &attr, &in, 1);
        nnrt_builder_output(b, turn(b, "y", in, axes[i]));
        model = finish(b);
        v.nIn = v.nOut = 1;
        v.in[0] = x;
        v.out[0] = y;
        v.inBytes[0] = v.outBytes[0] = nX * sizeof(float);
        (void)run_on("cpu", model, &v, 0, NNRT_SUCCESS);
        assert_int_equal(steps, i == 2 ? 2 : 1);
        for (size_t k = 0; k < nX; k++) {
            const float from = x[i == 2 ? k % 5 * 7 + k / 5 : k];
            assert_true(y[k] == (from > 0 ? from : 0));
        }
        nnrt_model_destroy(model);
        free(y);
        free(x);
    }
}

/* IF has steps without arguments; the search for patterns of steps must not read their arguments. */
static void test_branches(void **unused)
{
    static const int32_t dims[4] = {1, 2, 3, 4}, axes[] = {0, 2, 1, 3};
    NNRT_If attr;
    nnrt_builder *b = NULL;
    NNRT_Model *model;
    values v;
    float *x = reals(24, 1), *y = reals(24, 0);
    uint32_t in, cond, out;
    const bool yes = true;
    (void)unused;
    state = 10;
    memset(&attr, 0, sizeof(attr));
    memset(&v, 0, sizeof(v));
    assert_int_equal(nnrt_builder_create(&b, "branches", NULL), NNRT_SUCCESS);
    in = nnrt_builder_input(b, "x", F32, 4, dims);
    cond = nnrt_builder_input(b, "cond", NNRT_DATA_TYPE_BOOL, 0, NULL);
    attr.thenGraph = nnrt_builder_graph(b, "then");
    attr.elseGraph = nnrt_builder_graph(b, "else");
    nnrt_builder_enter(b, attr.thenGraph);
    out = turn(b, "turned", nnrt_builder_op(b, "relu", NNRT_NODE_TYPE_ACTIVATION, &relu, &in, 1), axes);
    nnrt_builder_graph_io(b, attr.thenGraph, NULL, 0, &out, 1);
    nnrt_builder_enter(b, attr.elseGraph);
    out = turn(b, "other", in, axes);
    nnrt_builder_graph_io(b, attr.elseGraph, NULL, 0, &out, 1);
    nnrt_builder_enter(b, 0);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_IF, &attr, &cond, 1));
    model = finish(b);
    v.nIn = 2;
    v.nOut = 1;
    v.in[0] = x;
    v.in[1] = &yes;
    v.out[0] = y;
    v.inBytes[0] = v.outBytes[0] = 24 * sizeof(float);
    v.inBytes[1] = sizeof(yes);
    (void)run_on("cpu", model, &v, 0, NNRT_SUCCESS);
    for (size_t i = 0; i < 24; i++) {
        const float from = x[i / 4 % 2 * 12 + i / 8 * 4 + i % 4];
        assert_true(y[i] == (from > 0 ? from : 0));
    }
    nnrt_model_destroy(model);
    free(y);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lstm),  cmocka_unit_test(test_peepholes), cmocka_unit_test(test_gru),
        cmocka_unit_test(test_rnn),   cmocka_unit_test(test_large),     cmocka_unit_test(test_left_alone),
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_attention), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_branches),
    };
    return cmocka_run_group_tests(tests, add_devices, NULL);
}
