/* Random quantized networks on the devices mcu:TARGET: the bits of the reference device on every target, in an arena and
   buffers of exact size. NNRT_MCU_GRAPHS: the number of networks, by default 250. */
#define _POSIX_C_SOURCE 200809L
#include "devices/nnrt_mcu.h"
#include "nnrt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcu_graphs.h"

/* The plan of a model on a device, which runs in an arena of exactly plan->arenaBytes. */
typedef struct planned {
    NNRT_PreparedModel *prepared;
    const nnrt_plan *plan;
    nnrt_view *views;
    void *arena;
} planned;

static void planned_make(planned *p, const NNRT_Model *model, const char *device)
{
    NNRT_ModelConfig config;
    nnrt_error error;
    memset(&config, 0, sizeof(config));
    memset(&error, 0, sizeof(error));
    config.error = &error;
    config.callerWorkspace = true;
    if (nnrt_device_prepare(nnrt_device_find(device), model, &config, &p->prepared) != NNRT_SUCCESS)
        fail_msg("%s: %s", device, error.message);
    p->plan = nnrt_prepared_plan(p->prepared);
    assert_non_null(p->plan);
    p->views = (nnrt_view *)malloc((p->plan->maxArgs + 1) * sizeof(*p->views));
    assert_int_equal(posix_memalign(&p->arena, NNRT_ALIGNMENT, p->plan->arenaBytes + (p->plan->arenaBytes == 0)), 0);
}

static void planned_end(planned *p)
{
    free(p->views);
    free(p->arena);
    p->prepared->vtbl->Destroy(p->prepared);
}

/* Runs it on x; y[i]: the outputs, blocks that the caller frees. */
static void planned_run(const planned *p, const uint8_t *x, uint8_t *y[2])
{
    void *io[3] = {(void *)(uintptr_t)x, NULL, NULL};
    for (uint32_t i = 0; i < p->plan->nOutputs; i++)
        io[1 + i] = y[i] = (uint8_t *)calloc(1, p->plan->outputs[i].bytes);
    assert_int_equal(nnrt_plan_execute(p->plan, p->views, p->arena, io, NULL), NNRT_SUCCESS);
}

/* Number of steps with a kernel of the device. */
static uint32_t own_steps(const nnrt_plan *plan)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < plan->nSteps; s++)
        count += plan->steps[s].deviceAttr != NULL;
    return count;
}

/* One network on the reference device and on all targets. Returns the number of steps by kernels of mcu:cortex-m4. */
static uint32_t compare(uint32_t seed)
{
    nnrt_error error;
    NNRT_Model *model;
    planned reference;
    uint8_t *x, *want[2] = {NULL, NULL};
    uint32_t own = 0;
    memset(&error, 0, sizeof(error));
    model = mcu_random_graph(seed, &error);
    if (model == NULL)
        fail_msg("seed %u: %s", (unsigned)seed, error.message);
    planned_make(&reference, model, "reference");
    x = (uint8_t *)malloc(reference.plan->inputs[0].bytes);
    for (size_t i = 0; i < reference.plan->inputs[0].bytes; i++)
        x[i] = (uint8_t)mcu_dice(&seed, 0, 255);
    planned_run(&reference, x, want);
    for (uint32_t t = 0; nnrt_mcu_target(t) != NULL; t++) {
        char name[40];
        planned p;
        uint8_t *got[2] = {NULL, NULL};
        snprintf(name, sizeof(name), "mcu:%s", nnrt_mcu_target(t));
        planned_make(&p, model, name);
        planned_run(&p, x, got);
        for (uint32_t i = 0; i < p.plan->nOutputs; i++) {
            if (memcmp(got[i], want[i], p.plan->outputs[i].bytes) != 0)
                fail_msg("%s: seed %u: output %u differs", name, (unsigned)seed, (unsigned)i);
            free(got[i]);
        }
        own += strcmp(nnrt_mcu_target(t), "cortex-m4") == 0 ? own_steps(p.plan) : 0;
        planned_end(&p);
    }
    free(want[0]);
    free(want[1]);
    free(x);
    planned_end(&reference);
    nnrt_model_destroy(model);
    return own;
}

static void test_random_networks(void **state)
{
    const char *text = getenv("NNRT_MCU_GRAPHS");
    const uint32_t count = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 250;
    uint32_t own = 0;
    (void)state;
    for (uint32_t seed = 1; seed <= count; seed++)
        own += compare(seed);
    printf("%u networks, %u steps by kernels of mcu:cortex-m4\n", (unsigned)count, (unsigned)own);
    assert_true(own > count); /* more than one in each, on average */
}

/* ---- shapes of plans ---- */

static uint32_t chain_node(nnrt_builder *b, NNRT_NodeType type, const void *attr, const uint32_t *in, uint32_t nIn,
                           double scale)
{
    static uint32_t number;
    const NNRT_QuantParam q = {8, 0, scale};
    char name[16];
    uint32_t y;
    snprintf(name, sizeof(name), "y%u", (unsigned)number++);
    y = nnrt_builder_tensor(b, name);
    nnrt_builder_quant(b, y, &q, 1);
    nnrt_builder_node(b, name, type, attr, in, nIn, &y, 1);
    return y;
}

/* x int8 [1,6,6,4]. */
static uint32_t chain_input(nnrt_builder **b)
{
    static const int32_t dims[4] = {1, 6, 6, 4};
    const NNRT_QuantParam q = {8, 0, 0.05};
    uint32_t x;
    nnrt_builder_create(b, "chain", NULL);
    x = nnrt_builder_input(*b, "x", NNRT_DATA_TYPE_INT8, 4, dims);
    nnrt_builder_format(*b, x, NNRT_FORMAT_NHWC);
    nnrt_builder_quant(*b, x, &q, 1);
    return x;
}

/* A sigmoid of x, by a table. */
static uint32_t chain_sigmoid(nnrt_builder *b, uint32_t x, double scale)
{
    NNRT_Activation a;
    memset(&a, 0, sizeof(a));
    a.activationType = NNRT_ACTIVATION_TYPE_SIGMOID;
    return chain_node(b, NNRT_NODE_TYPE_ACTIVATION, &a, &x, 1, scale);
}

static uint32_t chain_pool(nnrt_builder *b, uint32_t x)
{
    static const int64_t two[2] = {2, 2};
    NNRT_MaxPoolFusion a;
    memset(&a, 0, sizeof(a));
    a.kernelSize.data = a.strides.data = two;
    a.kernelSize.count = a.strides.count = 2;
    return chain_node(b, NNRT_NODE_TYPE_MAX_POOL_FUSION, &a, &x, 1, 0.05);
}

/* Finishes the model: `steps` steps on mcu:cortex-m4, all with kernels of the device but `others`. */
static void chain_steps(nnrt_builder *b, uint32_t y, uint32_t steps, uint32_t others)
{
    NNRT_Model *model;
    planned p;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    nnrt_builder_output(b, y);
    if (nnrt_builder_finish(b, &model, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(b);
    planned_make(&p, model, "mcu:cortex-m4");
    assert_int_equal(p.plan->nSteps, steps);
    assert_int_equal(own_steps(p.plan), steps - others);
    planned_end(&p);
    nnrt_model_destroy(model);
}

/* A transposed convolution is a step per phase. CONCAT is none for inputs that their writers write in place, and one
   step for each other input. Two tables in a row are one step. */
static void test_steps(void **state)
{
    static const int32_t filter[4] = {4, 3, 3, 4};
    static const int64_t two[2] = {2, 2};
    static const int8_t ones[144] = {1, 2, 3};
    const NNRT_QuantParam q = {8, 0, 0.01};
    NNRT_Conv2dTransposeFusion a;
    NNRT_Concat concat;
    nnrt_builder *b;
    uint32_t in[2], x;
    (void)state;
    memset(&a, 0, sizeof(a));
    memset(&concat, 0, sizeof(concat));
    concat.axis = 3;
    x = chain_input(&b); /* four phases; the pool keeps their result from being an output, which would be copied */
    a.stride.data = two;
    a.stride.count = 2;
    a.padMode = NNRT_PAD_MODE_SAME;
    in[0] = x;
    in[1] = nnrt_builder_constant(b, "w", NNRT_DATA_TYPE_INT8, 4, filter, ones, true);
    nnrt_builder_quant(b, in[1], &q, 1);
    chain_steps(b, chain_pool(b, chain_node(b, NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &a, in, 2, 0.05)), 5, 0);

    x = chain_input(&b); /* both writers write their slices */
    in[0] = chain_sigmoid(b, x, 0.05);
    in[1] = chain_pool(b, in[0]);
    in[0] = chain_pool(b, x);
    chain_steps(b, chain_pool(b, chain_node(b, NNRT_NODE_TYPE_CONCAT, &concat, in, 2, 0.05)), 4, 0);

    x = chain_input(&b); /* x has another reader and another scale */
    in[0] = chain_pool(b, x);
    in[1] = chain_sigmoid(b, in[0], 0.01);
    chain_steps(b, chain_pool(b, chain_node(b, NNRT_NODE_TYPE_CONCAT, &concat, in, 2, 0.05)), 4, 0);

    x = chain_input(&b); /* sigmoid of sigmoid; the pool of an output and the sigmoid after it are apart */
    chain_steps(b, chain_pool(b, chain_sigmoid(b, chain_sigmoid(b, x, 0.01), 0.02)), 2, 0);
    x = chain_input(&b);
    x = chain_sigmoid(b, x, 0.01);
    nnrt_builder_output(b, x);
    chain_steps(b, chain_sigmoid(b, x, 0.02), 2, 0);
}

/* Names of targets; an unknown one is refused with a remedy. */
static void test_targets(void **state)
{
    nnrt_error error;
    (void)state;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_mcu_register("cortex-m99", &error), NNRT_NOT_SUPPORT);
    assert_non_null(strstr(error.message, "cortex-m99"));
    assert_int_equal(nnrt_mcu_register(NULL, NULL), NNRT_NOT_SUPPORT);
    assert_int_equal(nnrt_mcu_register("cortex-m4", NULL), NNRT_OPERATION_FORBIDDEN); /* registered by main */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_networks), cmocka_unit_test(test_steps),
                                       cmocka_unit_test(test_targets)};
    for (uint32_t t = 0; nnrt_mcu_target(t) != NULL; t++)
        if (nnrt_mcu_register(nnrt_mcu_target(t), NULL) != NNRT_SUCCESS)
            return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
