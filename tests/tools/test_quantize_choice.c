/* Which nodes `nnrt quantize` leaves in float32: the minimum cut against all subsets, on random graphs; the cost model's
   properties; the bounds of the predicted time, also of the choice by accuracy. The times of a subset are computed here from the
   definition: a node pays its kernel, a value that is read on the other side pays one cast. */
#define NNRT_TOOL_NO_MAIN
#include "tools/nnrt.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* ---- random numbers ---- */

/* SplitMix64. */
static uint64_t state;

static uint32_t below(uint32_t n)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) >> 32) % n;
}

/* ---- random graphs ---- */

#define MOST_NODES 9
#define MOST_TENSORS (MOST_NODES * 2 + 3)

/* A graph as the choice sees it: who writes and reads which tensor, the times, and the sizes of the values. */
typedef struct graph {
    NNRT_Model model;
    NNRT_Node nodes[MOST_NODES];
    NNRT_Tensor tensors[MOST_TENSORS];
    uint32_t in[MOST_NODES][3], out[MOST_NODES][2], inputs[2], outputs[3];
    cli_ns ns[MOST_NODES];
    double elements[MOST_TENSORS];
    uint32_t writer[MOST_TENSORS], readers[MOST_TENSORS];
    bool may[MOST_NODES];
    cli_choice choice;
} graph;

/* Of `nodes` nodes in topological order, with branches, outputs that are read too, constants, and nodes of two results. close:
   times of both forms and of casts are similar, so that small differences decide. */
static void make_graph(graph *g, uint32_t nodes, bool close)
{
    uint32_t tensors = 0, values;
    memset(g, 0, sizeof(*g));
    for (uint32_t i = 0; i < 2; i++) {
        g->inputs[i] = tensors;
        g->writer[tensors++] = CLI_INPUT;
    }
    values = tensors; /* tensors before this one that nodes read */
    g->writer[tensors] = CLI_CONSTANT;
    g->elements[tensors++] = 1000;
    for (uint32_t i = 0; i < nodes; i++) {
        NNRT_Node *n = &g->nodes[i];
        const uint32_t nIn = 1 + below(3), nOut = 1 + (below(5) == 0), base = close ? 1000 : 10 + below(3000);
        for (uint32_t k = 0; k < nIn; k++) {
            /* a recent value, any earlier one, the constant, or none */
            uint32_t t = below(3) > 0 || values < 3 ? tensors - 1 - below(tensors < 4 ? tensors : 3) : below(tensors);
            if (k > 0 && below(8) == 0)
                t = NNRT_NO_TENSOR;
            g->in[i][k] = t;
            if (t != NNRT_NO_TENSOR)
                g->readers[t]++;
        }
        n->inputIndex.data = g->in[i];
        n->inputIndex.count = nIn;
        n->outputIndex.data = g->out[i];
        n->outputIndex.count = nOut;
        n->nodeType = NNRT_NODE_TYPE_ABS;
        g->ns[i].f32 = below(10) == 0 ? 0 : base + below(close ? 40 : 3000);
        g->ns[i].int8 = base + below(close ? 40 : 3000) - (close ? 0 : below(base));
        g->ns[i].product = below(2) == 0;
        g->may[i] = below(6) > 0;
        for (uint32_t k = 0; k < nOut; k++) {
            g->out[i][k] = tensors;
            g->writer[tensors++] = i;
        }
    }
    for (uint32_t t = 0; t < tensors; t++)
        g->elements[t] = t == 2 ? 1000 : below(close ? 200 : 8000);
    g->model.inputIndex.data = g->inputs;
    g->model.inputIndex.count = 2;
    g->outputs[0] = g->out[nodes - 1][0];
    g->outputs[1] = g->out[below(nodes)][0];
    g->model.outputIndex.data = g->outputs;
    g->model.outputIndex.count = g->outputs[1] == g->outputs[0] ? 1 : 2;
    for (uint32_t i = 0; i < g->model.outputIndex.count; i++)
        g->readers[g->outputs[i]]++;
    g->model.nodes.data = g->nodes;
    g->model.nodes.count = nodes;
    g->model.allTensors.data = g->tensors;
    g->model.allTensors.count = tensors;
    g->choice.model = &g->model;
    g->choice.ns = g->ns;
    g->choice.elements = g->elements;
    g->choice.writer = g->writer;
    g->choice.readers = g->readers;
    g->choice.may = g->may;
}

/* ---- the definition ---- */

static bool in_float(const graph *g, uint32_t floats, uint32_t node)
{
    return !g->may[node] || (floats >> node & 1u) != 0;
}

/* The time of a run; floats: bits of the nodes that stay float32. Inputs and outputs of the model are float32. */
static double time_of(const graph *g, uint32_t floats)
{
    const cli_costs *costs = &cli_costs_of[g->choice.processor];
    double ns = 0;
    for (uint32_t i = 0; i < g->model.nodes.count; i++)
        ns += in_float(g, floats, i) ? g->ns[i].f32 : g->ns[i].int8;
    for (uint32_t t = 0; t < g->model.allTensors.count; t++) {
        const bool input = g->writer[t] == CLI_INPUT;
        bool readInFloat = false, readIn8 = false;
        if (g->writer[t] == CLI_CONSTANT)
            continue;
        for (uint32_t i = 0; i < g->model.outputIndex.count; i++)
            readInFloat = readInFloat || g->outputs[i] == t;
        for (uint32_t i = 0; i < g->model.nodes.count; i++)
            for (uint32_t k = 0; k < g->nodes[i].inputIndex.count; k++)
                if (g->in[i][k] == t) {
                    readInFloat = readInFloat || in_float(g, floats, i);
                    readIn8 = readIn8 || !in_float(g, floats, i);
                }
        if ((input || in_float(g, floats, g->writer[t])) && readIn8)
            ns += g->elements[t] * (input ? costs->quantizeInput : costs->quantize) + costs->call;
        if (!input && !in_float(g, floats, g->writer[t]) && readInFloat)
            ns += g->elements[t] * costs->dequantize + costs->call;
    }
    return ns;
}

static bool has_product(const graph *g, uint32_t floats)
{
    for (uint32_t i = 0; i < g->model.nodes.count; i++)
        if (g->ns[i].product && !in_float(g, floats, i))
            return true;
    return false;
}

/* The sum that the cut minimizes: the time, and `stay` for each float32 node that may be in 8 bits. */
static double sum_of(const graph *g, uint32_t floats, double stay)
{
    double sum = time_of(g, floats);
    for (uint32_t i = 0; i < g->model.nodes.count; i++)
        sum += g->may[i] && in_float(g, floats, i) && g->ns[i].f32 > 0 ? stay : 0;
    return sum;
}

static double least_of(const graph *g, double stay, bool withProduct)
{
    double least = INFINITY;
    for (uint32_t floats = 0; floats < 1u << g->model.nodes.count; floats++)
        if (!withProduct || has_product(g, floats))
            least = fmin(least, sum_of(g, floats, stay));
    return least;
}

static uint32_t bits_of(const graph *g, const bool *floats)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < g->model.nodes.count; i++) {
        assert_false(floats[i] && !g->may[i]);
        bits |= floats[i] ? 1u << i : 0;
    }
    return bits;
}

/* The cut rounds each edge to a sixteenth of a nanosecond. */
static double rounding(const graph *g)
{
    return (2.0 * g->model.nodes.count + 2.0 * g->model.allTensors.count) / 32;
}

/* ---- the cut ---- */

/* The time of every assignment is that of the definition, and the cut is the least of all. */
static void cut_is_least(void **unused)
{
    uint32_t mixed = 0;
    (void)unused;
    for (uint32_t seed = 0; seed < 600; seed++) {
        graph g;
        bool floats[MOST_NODES];
        state = seed;
        make_graph(&g, 2 + seed % (MOST_NODES - 1), seed % 3 == 0);
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t bits = below(1u << g.model.nodes.count);
            for (uint32_t k = 0; k < g.model.nodes.count; k++)
                floats[k] = (bits >> k & 1u) != 0;
            assert_true(fabs(cli_choice_time(&g.choice, floats) - time_of(&g, bits)) < 1e-6);
        }
        for (int k = 0; k < 2; k++) {
            const double stay = k == 0 ? 0 : 5 + below(100);
            double found;
            memset(floats, 0, sizeof(floats));
            assert_int_equal(cli_choice_cut(&g.choice, stay, floats), CLI_DONE);
            found = sum_of(&g, bits_of(&g, floats), stay);
            if (found > least_of(&g, stay, false) + rounding(&g))
                fail_msg("graph %u, stay %g: the cut has %g ns, the least is %g", seed, stay, found, least_of(&g, stay, false));
            mixed += bits_of(&g, floats) != 0 && has_product(&g, bits_of(&g, floats));
        }
    }
    assert_true(mixed > 300); /* most graphs are divided */
}

/* The assignment is never slower than float32, unless no product would be left in 8 bits in the least of all: then all nodes are
   in 8 bits. It is never slower than 8 bits alone. */
static void never_slower(void **unused)
{
    uint32_t tiny = 0, none = 0, divided = 0, close = 0;
    (void)unused;
    for (uint32_t seed = 0; seed < 1500; seed++) {
        graph g;
        bool floats[MOST_NODES];
        double all8, all32, found;
        uint32_t bits;
        state = 1000000 + seed;
        make_graph(&g, 2 + seed % (MOST_NODES - 1), seed % 2 == 0);
        all8 = time_of(&g, 0);
        all32 = time_of(&g, UINT32_MAX);
        assert_true(fabs(cli_choice_time_f32(&g.choice) - all32) < 1e-6);
        assert_int_equal(cli_choice_least(&g.choice, floats), CLI_DONE);
        bits = bits_of(&g, floats);
        found = time_of(&g, bits);
        if (found > all8 + rounding(&g))
            fail_msg("graph %u: %g ns, in 8 bits %g", seed, found, all8);
        if (found > all32 + rounding(&g)) {
            if (bits != 0 || least_of(&g, 0, true) < least_of(&g, 0, false) - rounding(&g))
                fail_msg("graph %u: %g ns, in float32 %g, with a product in 8 bits %g", seed, found, all32,
                         least_of(&g, 0, true));
            tiny++;
        } else {
            none += bits == 0;
            divided += bits != 0;
            close += sum_of(&g, bits, 0.01 * all8) > least_of(&g, 0.01 * all8, false) + rounding(&g);
        }
    }
    assert_true(tiny > 20 && none > 20 && divided > 20 && close > 0); /* each case occurs */
}

/* Pieces that stay float32 for accuracy: the predicted time is at most 1.1 times the time before, and not above float32's. */
static void accuracy_keeps_the_time(void **unused)
{
    uint32_t more = 0, bounded = 0;
    (void)unused;
    for (uint32_t seed = 0; seed < 1500; seed++) {
        graph g;
        bool faster[MOST_NODES], floats[MOST_NODES];
        uint32_t list[MOST_NODES];
        cli_quantize_user user;
        cli_pieces p;
        double before, all32, found;
        memset(&user, 0, sizeof(user));
        memset(&p, 0, sizeof(p));
        state = 2000000 + seed;
        make_graph(&g, 2 + seed % (MOST_NODES - 1), seed % 2 == 0);
        assert_int_equal(cli_choice_least(&g.choice, faster), CLI_DONE);
        before = time_of(&g, bits_of(&g, faster));
        all32 = time_of(&g, UINT32_MAX);
        user.choice = g.choice;
        user.faster = faster;
        user.floats = floats;
        p.list = list;
        for (uint32_t i = 0; i < g.model.nodes.count; i++)
            if (g.may[i] && !faster[i]) {
                p.pieces[p.count].from = p.nodes;
                p.pieces[p.count].to = p.nodes + 1;
                p.pieces[p.count++].noise = below(1000) / 1000.0;
                list[p.nodes++] = i;
            }
        if (cli_pieces_choose(&user, &p))
            more++;
        found = time_of(&g, bits_of(&g, floats));
        if (found > before * 1.1 + 1e-6 || (found > before + 1e-6 && found > all32 + 1e-6))
            fail_msg("graph %u: %g ns, before %g, in float32 %g", seed, found, before, all32);
        bounded += all32 < before * 1.1 && all32 > before;
        for (uint32_t i = 0; i < g.model.nodes.count; i++)
            assert_true(floats[i] || !faster[i]); /* nodes that are faster in float32 stay so */
    }
    assert_true(more > 100 && bounded > 20);
}

/* ---- the cost model ---- */

enum { CONV, DEPTHWISE, GROUPED, PRODUCT, ACTIVATION, SOFTMAX_OF, RESIZED, KINDS };

/* Adds a node that reads [1,side,side,channels], and has as many channels. */
static uint32_t add_node(nnrt_builder *b, int kind, uint32_t x, int32_t side, int32_t channels)
{
    static float zeros[3 * 3 * 512 * 512];
    const int64_t one[2] = {1, 1}, pads[4] = {1, 1, 1, 1};
    const int32_t groups = kind == DEPTHWISE ? channels : kind == GROUPED ? 2 : 1;
    const int32_t conv[4] = {channels, 3, 3, channels / groups}, product[2] = {channels, channels}, n[1] = {channels};
    uint32_t in[3] = {x, NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    if (kind == CONV || kind == DEPTHWISE || kind == GROUPED) {
        NNRT_Conv2DFusion a;
        memset(&a, 0, sizeof(a));
        a.kernelSize = a.stride = a.dilation = nnrt_int64_list(one, 2);
        a.kernelSize.count = 0;
        a.padMode = NNRT_PAD_MODE_PAD;
        a.padList = nnrt_int64_list(pads, 4);
        a.group = groups;
        in[1] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_FLOAT32, 4, conv, zeros, false);
        in[2] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_FLOAT32, 1, n, zeros, false);
        return nnrt_add_CONV2D_FUSION(b, NULL, &a, in, 3);
    }
    if (kind == PRODUCT) {
        in[1] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_FLOAT32, 2, product, zeros, false);
        return nnrt_add_MATMUL_FUSION(b, NULL, NULL, in, 2);
    }
    if (kind == RESIZED) {
        NNRT_Resize a;
        memset(&a, 0, sizeof(a));
        a.method = NNRT_RESIZE_METHOD_LINEAR;
        a.newHeight = a.newWidth = side;
        return nnrt_add_RESIZE(b, NULL, &a, in, 1);
    }
    if (kind == SOFTMAX_OF)
        return nnrt_add_SOFTMAX(b, NULL, NULL, in, 1);
    {
        NNRT_Activation a;
        memset(&a, 0, sizeof(a));
        a.activationType = NNRT_ACTIVATION_TYPE_SIGMOID;
        return nnrt_add_ACTIVATION(b, NULL, &a, in, 1);
    }
}

/* The choice of a chain of nodes, with their times. */
static NNRT_Model *begin_chain(cli_choice *c, const int *kinds, uint32_t count, int32_t side, int32_t channels,
                               cli_processor processor)
{
    const int32_t dims[4] = {1, side, side, channels};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    cli_job job;
    nnrt_error error;
    uint32_t x;
    memset(&error, 0, sizeof(error));
    memset(&job, 0, sizeof(job));
    memset(c, 0, sizeof(*c));
    assert_int_equal(nnrt_builder_create(&b, "chain", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 4, dims);
    for (uint32_t i = 0; i < count; i++)
        x = add_node(b, kinds[i], x, side, channels);
    nnrt_builder_output(b, x);
    if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(b);
    assert_int_equal(m->nodes.count, count);
    job.model = m;
    assert_int_equal(cli_choice_begin(c, &job, processor), CLI_DONE);
    for (uint32_t i = 0; i < count; i++)
        c->may[i] = true;
    return m;
}

static cli_ns time_of_one(int kind, int32_t side, int32_t channels, cli_processor processor)
{
    cli_choice c;
    NNRT_Model *m = begin_chain(&c, &kind, 1, side, channels, processor);
    const cli_ns ns = c.ns[0];
    assert_true(c.elements[c.model->inputIndex.data[0]] == (double)side * side * channels);
    cli_choice_free(&c);
    nnrt_model_destroy(m);
    return ns;
}

/* More pixels or channels take more time, in float32 and in 8 bits: four times as many pixels at most four times as long, and
   at least three times if neither calls nor large weights count. Up to four channels, convolutions have other kernels. */
static void time_grows(void **unused)
{
    static const int32_t sides[] = {1, 2, 4, 8, 16, 32}, channels[] = {8, 16, 32, 64, 128, 256};
    (void)unused;
    for (int all = 0; all < KINDS * CLI_PROCESSORS; all++)
        for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++)
            for (size_t k = 0; k < sizeof(channels) / sizeof(channels[0]); k++) {
                const int kind = all % KINDS;
                const cli_processor p = all < KINDS ? CLI_PROCESSOR_BYTES : CLI_PROCESSOR_WORDS;
                const cli_ns one = time_of_one(kind, sides[i], channels[k], p);
                const cli_ns wide = time_of_one(kind, sides[i], 2 * channels[k], p);
                const cli_ns large = time_of_one(kind, 2 * sides[i], channels[k], p);
                assert_true(one.f32 > 0 && one.int8 > 0);
                if (!(wide.f32 > one.f32 && wide.int8 > one.int8))
                    fail_msg("kind %d, side %d: %d channels are faster than %d", kind, sides[i], 2 * channels[k], channels[k]);
                if (!(large.f32 > one.f32 && large.int8 > one.int8))
                    fail_msg("kind %d, %d channels: side %d is faster than %d", kind, channels[k], 2 * sides[i], sides[i]);
                assert_true(large.f32 <= 4 * one.f32 && large.int8 <= 4 * one.int8);
                if (one.f32 > 10 * cli_costs_of[p].call && channels[k] < 128)
                    assert_true(large.f32 >= 3 * one.f32);
            }
}

/* A cast takes a call, and a time for each element; of an input no less than of another value. */
static void casts_grow(void **unused)
{
    graph g;
    const cli_costs *costs = cli_costs_of;
    (void)unused;
    state = 5;
    make_graph(&g, 4, false);
    for (uint32_t t = 0; t < g.model.allTensors.count; t++)
        if (g.writer[t] != CLI_CONSTANT) {
            double first[2] = {0, 0};
            for (int k = 1; k <= 16; k *= 2) {
                double ns[2];
                g.elements[t] = 1000.0 * k;
                ns[0] = cli_choice_quantize(&g.choice, t) - costs->call;
                ns[1] = cli_choice_dequantize(&g.choice, t) - costs->call;
                for (int i = 0; i < 2; i++) {
                    first[i] = k == 1 ? ns[i] : first[i];
                    assert_true(first[i] > 0 && fabs(ns[i] - k * first[i]) < 1e-6);
                }
            }
            if (g.writer[t] == CLI_INPUT)
                assert_true(cli_choice_quantize(&g.choice, t) >= 16000 * costs->quantize);
        }
}

/* Between two convolutions: a grouped convolution, for which only the reference device has a kernel of 8 bits, stays float32;
   a sigmoid, whose table takes less time than two casts, does not. The convolutions never do. */
static void between_convolutions(void **unused)
{
    static const int kinds[2][3] = {{CONV, GROUPED, CONV}, {CONV, ACTIVATION, CONV}};
    (void)unused;
    for (int k = 0; k < 2; k++) {
        cli_choice c;
        NNRT_Model *m = begin_chain(&c, kinds[k], 3, 16, 64, CLI_PROCESSOR_BYTES);
        bool floats[3], each[3], best[3] = {false, false, false};
        double least = INFINITY;
        assert_int_equal(cli_choice_least(&c, floats), CLI_DONE);
        for (uint32_t bits = 0; bits < 8; bits++) {
            double ns;
            for (uint32_t i = 0; i < 3; i++)
                each[i] = (bits >> i & 1u) != 0;
            ns = cli_choice_time(&c, each);
            if (ns < least) {
                least = ns;
                memcpy(best, each, sizeof(best));
            }
        }
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(floats[i], k == 0 && i == 1);
            assert_int_equal(best[i], floats[i]);
        }
        cli_choice_free(&c);
        nnrt_model_destroy(m);
    }
}

/* 3 x 3 convolutions stay float32 where it has Winograd tiles and 8 bits multiply int16. */
static void without_byte_products(void **unused)
{
    static const int kinds[3] = {CONV, CONV, CONV};
    (void)unused;
    for (int p = 0; p < CLI_PROCESSORS; p++) {
        cli_choice c;
        NNRT_Model *m = begin_chain(&c, kinds, 3, 32, 64, p == 0 ? CLI_PROCESSOR_BYTES : CLI_PROCESSOR_WORDS);
        bool floats[3];
        assert_int_equal(cli_choice_least(&c, floats), CLI_DONE);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(floats[i], p == CLI_PROCESSOR_WORDS);
        cli_choice_free(&c);
        nnrt_model_destroy(m);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_is_least),          cmocka_unit_test(never_slower), cmocka_unit_test(accuracy_keeps_the_time),
        cmocka_unit_test(time_grows),            cmocka_unit_test(casts_grow),   cmocka_unit_test(between_convolutions),
        cmocka_unit_test(without_byte_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
