/* NNAdapter over nnrt.h (compat/), function by function as specified, and every operation against the cases of
   tests/ops/vectors. Memory comes from functions that count and can be made to fail. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <math.h>

#include <cmocka.h>

#include "counted.h"

#include "inside.h"

#include "compat/nnrt_nnadapter.h"
#include "fakes.h"
#undef malloc
#undef calloc
#undef realloc
#undef free

#include "param_rows.h"
#include "nnadapter_types.h" /* does not compile where an enumerator or a member is another one */
#include "vec.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define OK NNADAPTER_NO_ERROR
#define DIMS NNADAPTER_INVALID_DIMENSIONS
#define IP NNADAPTER_INVALID_PARAMETER
#define NO NNADAPTER_FEATURE_NOT_SUPPORTED
#define OPEN NNADAPTER_UNKNOWN
#define is(call, code) assert_int_equal(call, code)

/* ---- helpers: a model of one operation is built in this ---- */

enum { MOST = 40 };

/* Memory that a program passes to a run, for inputs or outputs: see the access functions. */
typedef struct memory {
    uint32_t rank;
    int32_t dims[8];
    void *data;
    size_t room; /* bytes of data, of an output */
    NNAdapterOperandPrecisionCode precision;
    uint32_t asked; /* how often */
} memory;

typedef struct net {
    NNAdapterModel *model;
    NNAdapterContext *context;
    NNAdapterCompilation *compilation;
    NNAdapterExecution *execution;
    NNAdapterOperand *in[MOST], *out[MOST]; /* of the operation */
    NNAdapterOperand *inputs[MOST];         /* of the model */
    uint32_t nIn, nOut, nInputs;
    memory from[MOST], to[MOST];
} net;

static NNAdapterOperandType type_of(int precision, uint32_t rank, const int32_t *dims)
{
    NNAdapterOperandType type;
    memset(&type, 0, sizeof(type));
    type.precision = (NNAdapterOperandPrecisionCode)precision;
    type.dimensions.count = rank;
    if (rank > 0)
        memcpy(type.dimensions.data, dims, rank * sizeof(*dims));
    return type;
}

static NNAdapterContext *context_of(const char *device, const char *properties)
{
    NNAdapterDevice *d = NULL;
    NNAdapterContext *context = NULL;
    if (NNAdapterDevice_acquire(device, &d) == OK)
        (void)NNAdapterContext_create(&d, 1, properties, NULL, &context);
    NNAdapterDevice_release(d);
    return context;
}

/* An operand of the model; value: a constant, used in place unless it is copied; input: one of the model. */
static NNAdapterOperand *placed(net *n, const NNAdapterOperandType *type, const void *value, size_t bytes, bool input,
                                bool copy)
{
    NNAdapterOperand *o = NULL;
    if (NNAdapterModel_addOperand(n->model, type, &o) != OK)
        return NULL;
    if (value != NULL && bytes > 0 &&
        NNAdapterModel_setOperandValue(o, (void *)(uintptr_t)value, (uint32_t)bytes, copy) != OK)
        return NULL;
    if (input)
        n->inputs[n->nInputs++] = o;
    return o;
}

static NNAdapterOperand *operand(net *n, const NNAdapterOperandType *type, const void *value, size_t bytes, bool input)
{
    return placed(n, type, value, bytes, input, n->nIn % 2 == 0);
}

/* Appends an input of the operation: a constant list (rank 1), or of rank 0. */
static void constant(net *n, int precision, int32_t count, const void *value, size_t size)
{
    const NNAdapterOperandType type = type_of(precision, count < 0 ? 0 : 1, &count);
    n->in[n->nIn] = placed(n, &type, value, (count < 0 ? 1 : (size_t)count) * size, false, true);
    n->nIn++;
}

static void ints(net *n, int32_t count, const int32_t *values)
{
    constant(n, NNADAPTER_INT32, count, values, sizeof(*values));
}

static void one_int(net *n, int32_t value)
{
    ints(n, n->nIn % 3 == 0 ? -1 : 1, &value);
}

static void one_bool(net *n, bool value)
{
    const uint8_t byte = value;
    constant(n, NNADAPTER_BOOL8, 1, &byte, 1);
}

static void one_float(net *n, float value)
{
    constant(n, NNADAPTER_FLOAT32, 1, &value, sizeof(value));
}

static void left_out(net *n)
{
    n->in[n->nIn++] = NULL;
}

/* An input of the operation and of the model. */
static void variable(net *n, int precision, uint32_t rank, const int32_t *dims, const void *data)
{
    const NNAdapterOperandType type = type_of(precision, rank, dims);
    memory *m = &n->from[n->nInputs];
    m->rank = rank;
    if (rank > 0)
        memcpy(m->dims, dims, rank * sizeof(*dims));
    m->data = (void *)(uintptr_t)data;
    n->in[n->nIn] = operand(n, &type, NULL, 0, true);
    n->nIn++;
}

static void result(net *n, const NNAdapterOperandType *type)
{
    const NNAdapterOperandType any = type_of(NNADAPTER_FLOAT32, 0, NULL);
    n->out[n->nOut] = operand(n, type != NULL ? type : &any, NULL, 0, false);
    n->nOut++;
}

static void *give(void *object, NNAdapterOperandType *type, void *device)
{
    memory *m = (memory *)object;
    assert_null(device);
    m->asked++;
    type->dimensions.count = m->rank;
    memcpy(type->dimensions.data, m->dims, sizeof(m->dims));
    return m->data;
}

static void *take(void *object, NNAdapterOperandType *type, void *device)
{
    memory *m = (memory *)object;
    size_t bytes;
    assert_null(device);
    m->asked++;
    m->precision = type->precision;
    m->rank = type->dimensions.count;
    memcpy(m->dims, type->dimensions.data, sizeof(m->dims));
    assert_true(nnrt_dims_bytes(m->dims, (int32_t)m->rank, nnrti_nna_type(type->precision), &bytes));
    if (bytes > m->room || m->data == NULL) {
        free(m->data);
        m->data = malloc(bytes + 1);
        m->room = bytes;
    }
    return m->data;
}

static int begin(net *n)
{
    memset(n, 0, sizeof(*n));
    return NNAdapterModel_create(&n->model);
}

static int bind(net *n)
{
    int code = OK;
    for (uint32_t i = 0; i < n->nInputs && code == OK; i++)
        code = NNAdapterExecution_setInput(n->execution, (int32_t)i, &n->from[i], give);
    for (uint32_t i = 0; i < n->nOut && code == OK; i++)
        code = NNAdapterExecution_setOutput(n->execution, (int32_t)i, &n->to[i], take);
    return code;
}

/* A finished model becomes an execution, whose operands are set. */
static int prepare(net *n)
{
    int code;
    if (n->context == NULL && (n->context = context_of("reference", NULL)) == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    if ((code = NNAdapterCompilation_create(n->model, NULL, NULL, 0, NULL, n->context, &n->compilation)) != OK ||
        (code = NNAdapterCompilation_finish(n->compilation)) != OK ||
        (code = NNAdapterExecution_create(n->compilation, &n->execution)) != OK)
        return code;
    return bind(n);
}

static int add(net *n, int32_t op)
{
    NNAdapterOperation *operation;
    for (uint32_t i = 0; i < n->nOut; i++)
        if (n->out[i] == NULL)
            return NNADAPTER_OUT_OF_MEMORY;
    return NNAdapterModel_addOperation(n->model, op, n->nIn, n->in, n->nOut, n->out, &operation);
}

static int finish(net *n)
{
    const int code = NNAdapterModel_identifyInputsAndOutputs(n->model, n->nInputs, n->inputs, n->nOut, n->out);
    return code != OK ? code : NNAdapterModel_finish(n->model);
}

/* All steps; the operands are in n. */
static int run(net *n, int32_t op)
{
    int code;
    if ((code = add(n, op)) != OK || (code = finish(n)) != OK || (code = prepare(n)) != OK)
        return code;
    return NNAdapterExecution_compute(n->execution);
}

static void end(net *n)
{
    NNAdapterExecution_destroy(n->execution);
    NNAdapterCompilation_destroy(n->compilation);
    NNAdapterContext_destroy(n->context);
    NNAdapterModel_destroy(n->model);
    for (uint32_t i = 0; i < MOST; i++)
        free(n->to[i].data);
    memset(n, 0, sizeof(*n));
}

static void gives(const net *n, uint32_t k, uint32_t rank, const int32_t *dims, const float *values)
{
    size_t count;
    assert_int_equal(n->to[k].rank, rank);
    if (rank > 0)
        assert_memory_equal(n->to[k].dims, dims, rank * sizeof(*dims));
    assert_true(nnrt_dims_count(n->to[k].dims, (int32_t)rank, &count));
    assert_int_equal(n->to[k].precision, NNADAPTER_FLOAT32);
    for (size_t i = 0; i < count; i++)
        if (((const float *)n->to[k].data)[i] != values[i])
            fail_msg("element %u: %g, expected %g", (unsigned)i, (double)((const float *)n->to[k].data)[i],
                     (double)values[i]);
}

/* z = relu(x + y), float32 [rows,3]; both are inputs. */
static const float addX[6] = {0, 1, 2, 3, 4, 5}, addY[6] = {1, 1, 1, 1, 1, -9}, addZ[6] = {1, 2, 3, 4, 5, 0};

static int add_net(net *n, int32_t rows)
{
    const int32_t dims[2] = {rows, 3};
    int code = begin(n);
    if (code != OK)
        return code;
    variable(n, NNADAPTER_FLOAT32, 2, dims, addX);
    variable(n, NNADAPTER_FLOAT32, 2, dims, addY);
    one_int(n, NNADAPTER_FUSED_RELU);
    result(n, NULL);
    for (uint32_t i = 0; i < n->nIn; i++)
        code = n->in[i] == NULL ? NNADAPTER_OUT_OF_MEMORY : code;
    if (code == OK && (code = add(n, NNADAPTER_ADD)) == OK)
        code = finish(n);
    return code;
}

/* Each row of the table of operations fits its member, and names an operand that the operation has. */
static void parameter_rows(void **state)
{
    uint32_t count = 0;
    (void)state;
    for (int32_t op = 0; op < NNRTI_NNA_ROWS; op++) {
        const nnrti_param *p = nnrti_params_of(nnrti_nna_params, op);
        count += rows_fit_members(nnrti_nna_params, op, nnrti_nna_rows[op].type);
        for (; p->kind != NNRTI_PARAM_OPERATION; p++)
            if (p->key != NNRTI_PARAM_PRESET) {
                assert_true((size_t)p->key < strlen(nnrti_nna_rows[op].operands));
                assert_non_null(strchr("pP", nnrti_nna_rows[op].operands[p->key]));
            }
    }
    assert_int_equal(count + NNRTI_NNA_ROWS + 1, COUNT(nnrti_nna_params));
}

/* ---- devices and contexts ---- */

static void devices(void **state)
{
    NNAdapterDevice *device = NULL, *again = NULL;
    NNAdapterDeviceType type = 99;
    const char *text = NULL;
    uint32_t number = 0;
    int32_t version = 0;
    (void)state;
    is(NNAdapter_getVersion(NULL), IP);
    is(NNAdapter_getVersion(&number), OK);
    assert_int_equal(number, 1);
    is(NNAdapter_getDeviceCount(NULL), IP);
    is(NNAdapter_getDeviceCount(&number), OK);
    assert_int_equal(number, nnrt_device_count());
    is(NNAdapterDevice_acquire(NULL, &device), IP);
    is(NNAdapterDevice_acquire("reference", NULL), IP);
    is(NNAdapterDevice_acquire("huawei_ascend_npu", &device), NNADAPTER_DEVICE_NOT_FOUND);
    assert_null(device);
    is(NNAdapterDevice_acquire("reference", &device), OK);
    is(NNAdapterDevice_acquire("builtin_device", &again), OK);
    assert_ptr_not_equal(device, again);
    is(NNAdapterDevice_getName(NULL, &text), IP);
    is(NNAdapterDevice_getName(device, NULL), IP);
    is(NNAdapterDevice_getName(device, &text), OK);
    assert_string_equal(text, "reference");
    is(NNAdapterDevice_getName(again, &text), OK);
    assert_string_equal(text, "builtin_device");
    is(NNAdapterDevice_getVendor(NULL, &text), IP);
    is(NNAdapterDevice_getVendor(device, NULL), IP);
    is(NNAdapterDevice_getVendor(device, &text), OK);
    assert_string_equal(text, "nnrt");
    is(NNAdapterDevice_getType(NULL, &type), IP);
    is(NNAdapterDevice_getType(device, NULL), IP);
    is(NNAdapterDevice_getType(device, &type), OK);
    assert_int_equal(type, NNADAPTER_CPU);
    is(NNAdapterDevice_getVersion(NULL, &version), IP);
    is(NNAdapterDevice_getVersion(device, NULL), IP);
    is(NNAdapterDevice_getVersion(device, &version), OK);
    assert_int_equal(version, 2); /* reference_nnrt_v2_0 */
    NNAdapterDevice_release(device);
    NNAdapterDevice_release(again);
    NNAdapterDevice_release(NULL);
}

static int nothing(int event, void *user)
{
    (void)event;
    (void)user;
    return 0;
}

static void contexts(void **state)
{
    static const struct {
        const char *properties;
        int code;
    } cases[] = {{NULL, OK},
                 {"", OK},
                 {"A=1", OK},
                 {"A=1;", OK},
                 {"A=1;B=2", OK},
                 {"A=1;A=2;", OK},
                 {" A = 1 ", OK},
                 {"BUILTIN_DEVICE_NUM_THREADS=4;", OK},
                 {"BUILTIN_DEVICE_NUM_THREADS=0", OK},
                 {"BUILTIN_DEVICE_NUM_THREADS=four", IP},
                 {"BUILTIN_DEVICE_NUM_THREADS=-1", IP},
                 {"BUILTIN_DEVICE_NUM_THREADS=99999999999999999999", IP},
                 {"HUAWEI_ASCEND_NPU_SELECTED_DEVICE_IDS=0", OK},
                 {";", IP},
                 {"A=1;;", IP},
                 {";A=1", IP},
                 {"A=1;;B=2", IP},
                 {"A", IP},
                 {"A=", IP},
                 {"=1", IP},
                 {"A=1=2", IP},
                 {"A==", IP},
                 {"A=1;B", IP},
                 {"SUBGRAPH_PARTITION_CONFIG_FILE=f", OK},
                 {"SUBGRAPH_PARTITION_CONFIG_BUFFER=", IP},
                 {"SUBGRAPH_PARTITION_CONFIG_BUFFER=conv2d", OK},
                 {"SUBGRAPH_PARTITION_CONFIG_BUFFER=a;SUBGRAPH_PARTITION_CONFIG_BUFFER=b", OK},
                 {"MIXED_PRECISION_QUANTIZATION_CONFIG_FILE=f", OK},
                 {"MIXED_PRECISION_QUANTIZATION_CONFIG_BUFFER=b", OK}};
    NNAdapterDevice *list[2] = {NULL, NULL};
    NNAdapterContext *context = NULL;
    (void)state;
    is(NNAdapterDevice_acquire("reference", &list[0]), OK);
    is(NNAdapterContext_create(NULL, 1, "", NULL, &context), IP);
    is(NNAdapterContext_create(list, 0, "", NULL, &context), IP);
    is(NNAdapterContext_create(list, 1, "", NULL, NULL), IP);
    is(NNAdapterContext_create(list, 2, "", NULL, &context), IP);
    assert_null(context);
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        const int code = NNAdapterContext_create(list, 1, cases[i].properties, nothing, &context);
        if (code != cases[i].code)
            fail_msg("'%s': %d, expected %d", cases[i].properties, code, cases[i].code);
        assert_true((context != NULL) == (code == OK));
        NNAdapterContext_destroy(context);
    }
    is(NNAdapterDevice_acquire("auto", &list[1]), OK);
    is(NNAdapterContext_create(list, 2, "", NULL, &context), OK);
    NNAdapterContext_destroy(context);
    NNAdapterContext_destroy(NULL);
    NNAdapterDevice_release(list[0]);
    NNAdapterDevice_release(list[1]);
}

/* ---- models ---- */

static void operands(void **state)
{
    const int32_t dims[9] = {2, 3, 1, 1, 1, 1, 1, 1, 1};
    NNAdapterOperandType type = type_of(NNADAPTER_FLOAT32, 2, dims), *live_type = NULL;
    float data[6] = {1, 2, 3, 4, 5, 6}, scales[3] = {1, 2, 3};
    NNAdapterOperand *o = NULL, *input;
    NNAdapterModel *model = NULL;
    (void)state;
    is(NNAdapterModel_create(NULL), IP);
    is(NNAdapterModel_create(&model), OK);
    is(NNAdapterModel_addOperand(NULL, &type, &o), IP);
    is(NNAdapterModel_addOperand(model, NULL, &o), IP);
    is(NNAdapterModel_addOperand(model, &type, NULL), IP);
    type.dimensions.count = 9;
    is(NNAdapterModel_addOperand(model, &type, &o), DIMS);
    type.dimensions.count = 2;
    type.precision = (NNAdapterOperandPrecisionCode)12;
    is(NNAdapterModel_addOperand(model, &type, &o), IP);
    type.precision = (NNAdapterOperandPrecisionCode)33;
    is(NNAdapterModel_addOperand(model, &type, &o), IP);
    type.precision = NNADAPTER_FLOAT32;
    type.layout = NNADAPTER_NHWC;
    is(NNAdapterModel_addOperand(model, &type, &o), NO);
    type.layout = (NNAdapterOperandLayoutCode)4;
    is(NNAdapterModel_addOperand(model, &type, &o), IP);
    type.layout = NNADAPTER_NCHW;
    type.dimensions.dynamic_count = 9;
    is(NNAdapterModel_addOperand(model, &type, &o), IP);
    type.dimensions.dynamic_count = 0;
    type.lifetime = NNADAPTER_MODEL_OUTPUT; /* is not the program's to say */
    is(NNAdapterModel_addOperand(model, &type, &o), OK);
    is(NNAdapterModel_getOperandType(NULL, &live_type), IP);
    is(NNAdapterModel_getOperandType(o, NULL), IP);
    is(NNAdapterModel_getOperandType(o, &live_type), OK);
    assert_int_equal(live_type->lifetime, NNADAPTER_TEMPORARY_VARIABLE);
    is(NNAdapterModel_setOperandValue(NULL, data, sizeof(data), true), IP);
    is(NNAdapterModel_setOperandValue(o, NULL, sizeof(data), true), IP);
    is(NNAdapterModel_setOperandValue(o, data, 0, true), IP);
    is(NNAdapterModel_setOperandValue(o, data, 20, true), IP);
    is(NNAdapterModel_setOperandValue(o, data, sizeof(data), true), OK);
    assert_int_equal(live_type->lifetime, NNADAPTER_CONSTANT_COPY);
    is(NNAdapterModel_setOperandValue(o, data, sizeof(data), false), OK);
    assert_int_equal(live_type->lifetime, NNADAPTER_CONSTANT_REFERENCE);
    is(NNAdapterModel_addOperand(model, &type, &input), OK);
    is(NNAdapterModel_identifyInputsAndOutputs(model, 1, &input, 1, &input), OK);
    is(NNAdapterModel_setOperandValue(input, data, sizeof(data), true), IP);
    /* scales are copied, and are as many as the dimension of the axis */
    type.precision = NNADAPTER_QUANT_INT8_SYMM_PER_CHANNEL;
    type.symm_per_channel_params.channel_dim = 1;
    type.symm_per_channel_params.scale_count = 3;
    type.symm_per_channel_params.scales = NULL;
    is(NNAdapterModel_addOperand(model, &type, &o), IP);
    type.symm_per_channel_params.scales = scales;
    type.symm_per_channel_params.scale_count = 2;
    is(NNAdapterModel_addOperand(model, &type, &o), IP);
    type.symm_per_channel_params.scale_count = 3;
    type.symm_per_channel_params.channel_dim = 2;
    is(NNAdapterModel_addOperand(model, &type, &o), IP);
    type.symm_per_channel_params.channel_dim = 1;
    is(NNAdapterModel_addOperand(model, &type, &o), OK);
    is(NNAdapterModel_getOperandType(o, &live_type), OK);
    scales[1] = 7;
    assert_true(live_type->symm_per_channel_params.scales[1] > 1 && live_type->symm_per_channel_params.scales[1] < 3);
    NNAdapterModel_destroy(model);
    NNAdapterModel_destroy(NULL);
}

static void operations(void **state)
{
    const int32_t dims[2] = {2, 3}, other[2] = {2, 4};
    NNAdapterOperandType *type = NULL;
    NNAdapterOperation *op = NULL;
    NNAdapterOperand *stranger;
    net n, m;
    (void)state;
    is(begin(&n), OK);
    is(begin(&m), OK);
    variable(&m, NNADAPTER_FLOAT32, 2, dims, addX);
    stranger = m.in[0];
    variable(&n, NNADAPTER_FLOAT32, 2, dims, addX);
    variable(&n, NNADAPTER_FLOAT32, 2, dims, addY);
    left_out(&n);
    result(&n, NULL);
    is(NNAdapterModel_addOperation(NULL, NNADAPTER_ADD, 3, n.in, 1, n.out, &op), IP);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 3, NULL, 1, n.out, &op), IP);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 3, n.in, 0, n.out, &op), IP);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 3, n.in, 1, NULL, &op), IP);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 3, n.in, 1, n.out, NULL), IP);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 1, n.in, 1, n.out, &op), IP);  /* input1 is missing */
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ABS, 2, n.in, 1, n.out, &op), IP);  /* one too many */
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 3, n.in, 1, n.in, &op), IP);   /* reads its own result */
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_TOP_K, 2, n.in, 1, n.out, &op), IP); /* one result */
    n.in[2] = stranger;
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 3, n.in, 1, n.out, &op), IP);
    n.in[2] = n.in[1]; /* no constant */
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 3, n.in, 1, n.out, &op), IP);
    assert_null(op);
    assert_string_equal(nnrt_nnadapter_model_error(n.model), "operation 0 (ADD): operand 2 is not a constant integer");
    n.nIn = 2;
    one_int(&n, 4); /* no fuse code */
    is(add(&n, NNADAPTER_ADD), IP);
    n.nIn = 1;
    variable(&n, NNADAPTER_FLOAT32, 2, other, addY); /* 3 and 4 */
    is(add(&n, NNADAPTER_ADD), DIMS);
    assert_true(strlen(nnrt_nnadapter_model_error(n.model)) > 0);
    n.in[1] = n.in[0];
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 2, n.in, 1, n.out, &op), OK);
    assert_non_null(op);
    is(NNAdapterModel_getOperandType(n.out[0], &type), OK); /* the inferred shape is stored there */
    assert_int_equal(type->dimensions.count, 2);
    assert_memory_equal(type->dimensions.data, dims, sizeof(dims));
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ABS, 1, n.in, 1, n.out, &op), IP); /* written twice */
    is(NNAdapterModel_setOperandValue(n.out[0], (void *)(uintptr_t)addX, sizeof(addX), true), IP);
    result(&n, NULL);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_SHAPE, 1, n.in, 1, &n.out[1], &op), OK);
    is(NNAdapterModel_getOperandType(n.out[1], &type), OK);
    assert_int_equal(type->precision, NNADAPTER_INT32);
    assert_int_equal(type->dimensions.data[0], 2);
    end(&n);
    end(&m);
}

static void finishing(void **state)
{
    const int32_t dims[2] = {2, 3};
    const NNAdapterOperandType type = type_of(NNADAPTER_FLOAT32, 2, dims);
    NNAdapterOperandType *seen = NULL;
    NNAdapterOperation *op = NULL;
    NNAdapterOperand *o[3], *list[3];
    float data[6];
    net n;
    (void)state;
    is(NNAdapterModel_finish(NULL), IP);
    is(begin(&n), OK);
    for (int i = 0; i < 3; i++)
        is(NNAdapterModel_addOperand(n.model, &type, &o[i]), OK);
    is(NNAdapterModel_finish(n.model), IP); /* outputs were not identified */
    is(NNAdapterModel_identifyInputsAndOutputs(NULL, 1, o, 1, o + 1), IP);
    is(NNAdapterModel_identifyInputsAndOutputs(n.model, 1, NULL, 1, o + 1), IP);
    is(NNAdapterModel_identifyInputsAndOutputs(n.model, 1, o, 0, o + 1), IP);
    is(NNAdapterModel_identifyInputsAndOutputs(n.model, 1, o, 1, NULL), IP);
    list[0] = NULL;
    is(NNAdapterModel_identifyInputsAndOutputs(n.model, 1, list, 1, o + 1), IP);
    list[0] = list[1] = o[0];
    is(NNAdapterModel_identifyInputsAndOutputs(n.model, 2, list, 1, o + 1), IP); /* one twice */
    is(NNAdapterModel_identifyInputsAndOutputs(n.model, 1, o, 1, o + 1), OK);
    is(NNAdapterModel_getOperandType(o[0], &seen), OK);
    assert_int_equal(seen->lifetime, NNADAPTER_MODEL_INPUT);
    is(NNAdapterModel_getOperandType(o[1], &seen), OK);
    assert_int_equal(seen->lifetime, NNADAPTER_MODEL_OUTPUT);
    is(NNAdapterModel_finish(n.model), IP); /* no operation writes the output */
    list[0] = o[0];
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ABS, 1, list, 1, &o[1], &op), OK);
    is(NNAdapterModel_finish(n.model), OK);
    is(NNAdapterModel_finish(n.model), IP); /* once */
    is(NNAdapterModel_addOperand(n.model, &type, &o[2]), IP);
    is(NNAdapterModel_setOperandValue(o[2], data, sizeof(data), true), IP);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ABS, 1, list, 1, &o[2], &op), IP);
    is(NNAdapterModel_identifyInputsAndOutputs(n.model, 1, o, 1, o + 1), IP);
    end(&n);

    is(begin(&n), OK); /* an unknown operation is reported here */
    for (int i = 0; i < 3; i++)
        is(NNAdapterModel_addOperand(n.model, &type, &o[i]), OK);
    is(NNAdapterModel_addOperation(n.model, 96, 1, o, 1, &o[1], &op), OK);
    is(NNAdapterModel_identifyInputsAndOutputs(n.model, 1, o, 1, o + 1), OK);
    is(NNAdapterModel_finish(n.model), IP);
    end(&n);

    is(begin(&n), OK); /* two that wait for each other */
    for (int i = 0; i < 3; i++)
        is(NNAdapterModel_addOperand(n.model, &type, &o[i]), OK);
    list[0] = o[0];
    list[1] = o[2];
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 2, list, 1, &o[1], &op), OK);
    list[1] = o[1];
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 2, list, 1, &o[2], &op), OK);
    is(NNAdapterModel_identifyInputsAndOutputs(n.model, 1, o, 1, o + 2), OK);
    is(NNAdapterModel_finish(n.model), IP);
    assert_non_null(strstr(nnrt_nnadapter_model_error(n.model), "depends on the operation itself"));
    end(&n);

    is(begin(&n), OK); /* an operand without a source */
    for (int i = 0; i < 3; i++)
        is(NNAdapterModel_addOperand(n.model, &type, &o[i]), OK);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 2, o, 1, &o[2], &op), OK);
    is(NNAdapterModel_identifyInputsAndOutputs(n.model, 1, o, 1, o + 2), OK);
    is(NNAdapterModel_finish(n.model), IP);
    assert_non_null(strstr(nnrt_nnadapter_model_error(n.model), "has no producer"));
    end(&n);

    is(begin(&n), OK); /* an input that an operation writes */
    for (int i = 0; i < 3; i++)
        is(NNAdapterModel_addOperand(n.model, &type, &o[i]), OK);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ABS, 1, o, 1, &o[1], &op), OK);
    is(NNAdapterModel_identifyInputsAndOutputs(n.model, 2, o, 1, o + 1), IP);
    end(&n);

    is(begin(&n), OK); /* operations in any order */
    variable(&n, NNADAPTER_FLOAT32, 2, dims, addX);
    for (int i = 0; i < 2; i++)
        is(NNAdapterModel_addOperand(n.model, &type, &o[i]), OK);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_SQUARE, 1, &o[0], 1, &o[1], &op), OK);
    list[0] = list[1] = n.in[0];
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 2, list, 1, &o[0], &op), OK);
    n.out[0] = o[1];
    n.nOut = 1;
    is(finish(&n), OK);
    is(prepare(&n), OK);
    is(NNAdapterExecution_compute(n.execution), OK);
    {
        const float squares[6] = {0, 4, 16, 36, 64, 100};
        gives(&n, 0, 2, dims, squares);
    }
    end(&n);
}

static void supported(void **state)
{
    const int32_t dims[2] = {2, 3};
    const NNAdapterOperandType type = type_of(NNADAPTER_FLOAT32, 2, dims);
    NNAdapterOperation *op;
    NNAdapterOperand *o[4];
    bool answers[3] = {false, true, false};
    net n;
    (void)state;
    is(begin(&n), OK);
    for (int i = 0; i < 4; i++)
        is(NNAdapterModel_addOperand(n.model, &type, &o[i]), OK);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ABS, 1, &o[0], 1, &o[1], &op), OK);
    is(NNAdapterModel_addOperation(n.model, -7, 1, &o[1], 1, &o[2], &op), OK); /* a driver's own */
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_COS, 1, &o[2], 1, &o[3], &op), OK);
    is(NNAdapterModel_identifyInputsAndOutputs(n.model, 1, &o[0], 1, &o[3]), OK);
    is(NNAdapterModel_finish(n.model), OK);
    n.context = context_of("reference", "");
    assert_non_null(n.context);
    is(NNAdapterModel_getSupportedOperations(NULL, n.context, answers), IP);
    is(NNAdapterModel_getSupportedOperations(n.model, NULL, answers), IP);
    is(NNAdapterModel_getSupportedOperations(n.model, n.context, NULL), IP);
    is(NNAdapterModel_getSupportedOperations(n.model, n.context, answers), OK);
    assert_true(answers[0] && !answers[1] && answers[2]);
    is(NNAdapterCompilation_create(n.model, NULL, NULL, 0, NULL, n.context, &n.compilation), OK);
    is(NNAdapterCompilation_finish(n.compilation), NO);
    assert_string_equal(nnrt_nnadapter_compilation_error(n.compilation),
                        "operation 1: no operator is registered by the number -7 (nnrt_op_register)");
    end(&n);
}

/* ---- compilations and executions ---- */

static void compilations(void **state)
{
    char token[] = "0123456789abcdef0123456789abcdef", garbage[64] = "no cache";
    NNAdapterOperandType *in[2] = {NULL, NULL}, *out[1] = {NULL};
    NNAdapterExecution *execution = NULL;
    uint32_t nIn = 9, nOut = 9;
    net n;
    (void)state;
    is(add_net(&n, 2), OK);
    n.context = context_of("reference", "BUILTIN_DEVICE_NUM_THREADS=2;");
    is(NNAdapterCompilation_create(n.model, NULL, NULL, 0, NULL, NULL, &n.compilation), IP);
    is(NNAdapterCompilation_create(n.model, NULL, NULL, 0, NULL, n.context, NULL), IP);
    is(NNAdapterCompilation_finish(NULL), IP);
    /* no model, and nothing that can be restored */
    is(NNAdapterCompilation_create(NULL, token, garbage, sizeof(garbage), NULL, n.context, &n.compilation), OK);
    is(NNAdapterCompilation_finish(n.compilation), IP);
    NNAdapterCompilation_destroy(n.compilation);
    /* the cache is no cache: the model counts */
    is(NNAdapterCompilation_create(n.model, token, garbage, sizeof(garbage), "tests", n.context, &n.compilation), OK);
    is(NNAdapterCompilation_queryInputsAndOutputs(n.compilation, &nIn, NULL, &nOut, NULL), IP); /* not finished */
    is(NNAdapterExecution_create(n.compilation, &execution), IP);
    is(NNAdapterCompilation_finish(n.compilation), OK);
    is(NNAdapterCompilation_finish(n.compilation), IP); /* once */
    assert_null(fopen("tests/0123456789abcdef0123456789abcdef.nnc", "rb"));
    is(NNAdapterCompilation_queryInputsAndOutputs(NULL, &nIn, NULL, &nOut, NULL), IP);
    is(NNAdapterCompilation_queryInputsAndOutputs(n.compilation, NULL, NULL, &nOut, NULL), IP);
    is(NNAdapterCompilation_queryInputsAndOutputs(n.compilation, &nIn, NULL, NULL, NULL), IP);
    is(NNAdapterCompilation_queryInputsAndOutputs(n.compilation, &nIn, NULL, &nOut, NULL), OK);
    assert_int_equal(nIn, 2);
    assert_int_equal(nOut, 1);
    is(NNAdapterCompilation_queryInputsAndOutputs(n.compilation, &nIn, in, &nOut, out), OK);
    assert_int_equal(in[1]->dimensions.data[1], 3);
    assert_int_equal(out[0]->dimensions.count, 2);
    assert_int_equal(out[0]->dimensions.data[0], 2);
    assert_int_equal(out[0]->precision, NNADAPTER_FLOAT32);
    NNAdapterCompilation_destroy(NULL);
    end(&n);
    /* a model that is not finished */
    is(begin(&n), OK);
    n.context = context_of("reference", "");
    is(NNAdapterCompilation_create(n.model, NULL, NULL, 0, NULL, n.context, &n.compilation), OK);
    is(NNAdapterCompilation_finish(n.compilation), IP);
    end(&n);
}

/* ---- caches ---- */

#define KEPT "build/test_nnadapter.cache"
#define KEPT_FILE KEPT "/net.nnc"

/* A compilation of the net's model, or of none, on a device, with the token "net"; it runs unless finish ends otherwise. */
static void cached(net *n, bool model, const char *device, void *buffer, size_t bytes, const char *dir, int code)
{
    const int32_t dims[2] = {2, 3};
    NNAdapterContext *context = context_of(device, "");
    NNAdapterCompilation_destroy(n->compilation);
    NNAdapterExecution_destroy(n->execution);
    n->compilation = NULL;
    n->execution = NULL;
    assert_non_null(context);
    NNAdapterContext_destroy(n->context);
    n->context = context;
    is(NNAdapterCompilation_create(model ? n->model : NULL, "net", buffer, (uint32_t)bytes, dir, context,
                                   &n->compilation), OK);
    is(NNAdapterCompilation_finish(n->compilation), code);
    if (code != OK)
        return;
    is(NNAdapterExecution_create(n->compilation, &n->execution), OK);
    is(bind(n), OK);
    is(NNAdapterExecution_compute(n->execution), OK);
    gives(n, 0, 2, dims, addZ);
}

static uint8_t *file_of(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = (uint8_t *)malloc(65536);
    assert_non_null(file);
    *bytes = fread(data, 1, 65536, file);
    assert_true(*bytes > 0 && *bytes < 65536);
    (void)fclose(file);
    return data;
}

static void file_is(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    (void)fclose(file);
}

static uint32_t made_by(const nnrt_fake *npu)
{
    return nnrt_fake_get_record(npu).calls[NNRT_FAKE_PrepareModel];
}

static void caches(void **state)
{
    nnrt_fake *npu = registered("fake:name=npu,cache=yes");
    NNAdapterOperandType *in[2] = {NULL, NULL}, *out[1] = {NULL};
    uint32_t nIn = 0, nOut = 0, made = 0, words[4];
    uint8_t *data, *bad;
    size_t bytes, again;
    uint64_t entries;
    net n, wide;
    (void)state;
    assert_int_equal(nnrti_nnc_checksum((const uint8_t *)"123456789", 9), 0x58E3FA20u);
    (void)remove(KEPT_FILE);
    (void)rmdir(KEPT);
    is(add_net(&n, 2), OK);
    is(add_net(&wide, 4), OK);
    cached(&n, true, "npu", NULL, 0, KEPT, OK); /* no such directory: it runs all the same, and why there is no file */
    assert_non_null(strstr(nnrt_nnadapter_compilation_error(n.compilation), "device 'npu': no cache was written"));
    is((int)made_by(npu), (int)++made);
    is(mkdir(KEPT, 0777), 0);
    cached(&n, false, "npu", NULL, 0, KEPT, IP); /* nothing there */
    cached(&n, true, "npu", NULL, 0, KEPT, OK);
    is((int)made_by(npu), (int)++made);
    assert_string_equal(nnrt_nnadapter_compilation_error(n.compilation), "");
    data = file_of(KEPT_FILE, &bytes); /* the header that the specification says */
    assert_memory_equal(data, "cnn.", 4);
    memcpy(words, data, sizeof(words));
    memcpy(&entries, data + 16, sizeof(entries));
    assert_int_equal(words[1], 1);
    assert_int_equal(words[2], nnrti_nnc_checksum(data + 24, bytes - 24));
    assert_int_equal(entries, 9);
    assert_int_equal(bytes % 4, 0);
    cached(&n, true, "npu", NULL, 0, KEPT, OK); /* restored: with the model, without one, from memory */
    cached(&n, false, "npu", NULL, 0, KEPT, OK);
    cached(&n, false, "npu", data, bytes, NULL, OK);
    is(NNAdapterCompilation_queryInputsAndOutputs(n.compilation, &nIn, in, &nOut, out), OK);
    assert_int_equal(nIn, 2);
    assert_int_equal(nOut, 1);
    assert_int_equal(in[1]->precision, NNADAPTER_FLOAT32);
    assert_int_equal(in[1]->dimensions.data[0], 2);
    assert_int_equal(out[0]->lifetime, NNADAPTER_MODEL_OUTPUT);
    assert_int_equal(out[0]->dimensions.data[1], 3);
    cached(&n, true, "npu", data, bytes, "build/nowhere", OK); /* the buffer first */
    is((int)made_by(npu), (int)made);
    /* each byte changed, and cut short everywhere */
    for (size_t i = 0; i < 2 * bytes; i++) {
        const size_t length = i < bytes ? bytes : i - bytes;
        bad = (uint8_t *)malloc(length + 1);
        memcpy(bad, data, length);
        if (i < bytes)
            bad[i] ^= (uint8_t)(1u << i % 8);
        cached(&n, false, "npu", bad, length, NULL, IP);
        if (i % 97 == 0) { /* the model counts, and the file is made anew */
            file_is(KEPT_FILE, bad, length);
            cached(&n, true, "npu", bad, length, KEPT, OK);
            is((int)made_by(npu), (int)++made);
            free(bad);
            bad = file_of(KEPT_FILE, &again);
            assert_int_equal(again, bytes);
            assert_memory_equal(bad, data, bytes);
        }
        free(bad);
    }
    /* another model under the same token */
    cached(&n, true, "npu", NULL, 0, KEPT, OK);
    is((int)made_by(npu), (int)made);
    is(NNAdapterCompilation_create(wide.model, "net", NULL, 0, KEPT, n.context, &wide.compilation), OK);
    is(NNAdapterCompilation_finish(wide.compilation), OK);
    is((int)made_by(npu), (int)++made);
    /* a device that is not in the context, without a token, and with devices that keep nothing */
    cached(&n, false, "reference", data, bytes, NULL, IP);
    NNAdapterCompilation_destroy(n.compilation);
    is(NNAdapterCompilation_create(NULL, NULL, data, (uint32_t)bytes, KEPT, n.context, &n.compilation), OK);
    is(NNAdapterCompilation_finish(n.compilation), IP);
    NNAdapterCompilation_destroy(n.compilation);
    n.compilation = NULL;
    (void)remove(KEPT_FILE);
    cached(&n, true, "reference", NULL, 0, KEPT, OK);
    assert_non_null(strstr(nnrt_nnadapter_compilation_error(n.compilation), "device 'reference': no cache was written"));
    end(&n);
    end(&wide);
    unregistered(npu);
    free(data);
    is(rmdir(KEPT), 0); /* nothing is in it */
}

/* Every request for memory fails in turn; nothing is left. */
static void caches_without_memory(void **state)
{
    nnrt_fake *npu = registered("fake:name=npu,cache=yes");
    uint8_t *data;
    size_t bytes;
    uint32_t failures = 0, done = 0;
    net n;
    (void)state;
    is(mkdir(KEPT, 0777), 0);
    is(add_net(&n, 2), OK);
    cached(&n, true, "npu", NULL, 0, KEPT, OK);
    data = file_of(KEPT_FILE, &bytes);
    for (int way = 0; way < 4; way++) /* written; with the model; alone; from the buffer */
        for (int64_t k = 1;; k++) {
            NNAdapterCompilation *c = NULL;
            const int64_t before = heap_live;
            bool reached;
            int code;
            if (way == 0)
                (void)remove(KEPT_FILE);
            heap_fail_at = heap_calls + k;
            code = NNAdapterCompilation_create(way < 2 ? n.model : NULL, "net", way == 3 ? data : NULL,
                                               way == 3 ? (uint32_t)bytes : 0, KEPT, n.context, &c);
            if (code == OK)
                code = NNAdapterCompilation_finish(c);
            reached = heap_calls >= heap_fail_at;
            heap_fail_at = 0;
            done += code == OK;
            failures += code != OK;
            NNAdapterCompilation_destroy(c);
            assert_int_equal(heap_live, before);
            if (!reached) {
                is(code, OK);
                break;
            }
        }
    assert_true(failures > 30 && done > 8);
    cached(&n, false, "npu", NULL, 0, KEPT, OK); /* the file is whole */
    end(&n);
    unregistered(npu);
    free(data);
    (void)remove(KEPT_FILE);
    is(rmdir(KEPT), 0);
}

static void *nowhere(void *object, NNAdapterOperandType *type, void *device)
{
    (void)object;
    (void)type;
    (void)device;
    return NULL;
}

static void executions(void **state)
{
    const int32_t dims[2] = {2, 3};
    NNAdapterExecution *second = NULL;
    memory other;
    net n;
    (void)state;
    is(add_net(&n, 2), OK);
    n.context = context_of("auto", NULL);
    is(NNAdapterCompilation_create(n.model, NULL, NULL, 0, NULL, n.context, &n.compilation), OK);
    is(NNAdapterCompilation_finish(n.compilation), OK);
    NNAdapterModel_destroy(n.model); /* the compilation keeps the data that it needs */
    n.model = NULL;
    is(NNAdapterExecution_create(NULL, &n.execution), IP);
    is(NNAdapterExecution_create(n.compilation, NULL), IP);
    is(NNAdapterExecution_create(n.compilation, &n.execution), OK);
    is(NNAdapterExecution_create(n.compilation, &second), OK);
    is(NNAdapterExecution_compute(NULL), IP);
    is(NNAdapterExecution_compute(n.execution), IP); /* nothing was set */
    assert_string_equal(nnrt_nnadapter_execution_error(n.execution), "input 0 was never set");
    is(NNAdapterExecution_setInput(NULL, 0, &n.from[0], give), IP);
    is(NNAdapterExecution_setInput(n.execution, -1, &n.from[0], give), IP);
    is(NNAdapterExecution_setInput(n.execution, 2, &n.from[0], give), IP);
    is(NNAdapterExecution_setInput(n.execution, 0, &n.from[0], NULL), IP);
    is(NNAdapterExecution_setOutput(NULL, 0, &n.to[0], take), IP);
    is(NNAdapterExecution_setOutput(n.execution, -1, &n.to[0], take), IP);
    is(NNAdapterExecution_setOutput(n.execution, 1, &n.to[0], take), IP);
    is(NNAdapterExecution_setInput(n.execution, 0, &n.from[0], give), OK);
    is(NNAdapterExecution_setInput(n.execution, 1, &n.from[1], give), OK);
    is(NNAdapterExecution_compute(n.execution), IP); /* the output was not */
    assert_int_equal(n.from[0].asked, 0);
    is(NNAdapterExecution_setOutput(n.execution, 0, &n.to[0], take), OK);
    is(NNAdapterExecution_compute(n.execution), OK);
    gives(&n, 0, 2, dims, addZ);
    is(NNAdapterExecution_compute(n.execution), OK); /* they stay */
    assert_int_equal(n.from[0].asked, 2);
    assert_int_equal(n.to[0].asked, 2);
    /* other dimensions, another rank, no elements, no place */
    n.from[0].dims[0] = 3;
    is(NNAdapterExecution_compute(n.execution), DIMS);
    n.from[0].dims[0] = 2;
    n.from[0].rank = 1;
    is(NNAdapterExecution_compute(n.execution), DIMS);
    n.from[0].rank = 2;
    is(NNAdapterExecution_setInput(n.execution, 0, NULL, nowhere), OK);
    is(NNAdapterExecution_compute(n.execution), IP);
    is(NNAdapterExecution_setInput(n.execution, 0, &n.from[0], give), OK);
    is(NNAdapterExecution_setOutput(n.execution, 0, NULL, nowhere), OK);
    is(NNAdapterExecution_compute(n.execution), IP);
    /* setting again replaces; executions do not touch each other */
    memset(&other, 0, sizeof(other));
    is(NNAdapterExecution_setOutput(n.execution, 0, &other, take), OK);
    is(NNAdapterExecution_compute(n.execution), OK);
    assert_memory_equal(other.data, addZ, sizeof(addZ));
    free(other.data);
    is(NNAdapterExecution_compute(second), IP);
    NNAdapterExecution_destroy(second);
    NNAdapterExecution_destroy(NULL);
    end(&n);
}

/* Dynamic shapes, and alternatives, which are suggestions. */
static void dynamic(void **state)
{
    static const float x[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, y[12] = {0, 0, 0, 0, 0, -9, 1, 1, 1, 1, 1, 1};
    static const float z[12] = {0, 1, 2, 3, 4, 0, 7, 8, 9, 10, 11, 12};
    NNAdapterOperandType *type = NULL, *in[2], *out[1];
    uint32_t nIn, nOut;
    net n;
    (void)state;
    is(add_net(&n, OPEN), OK);
    is(NNAdapterModel_getOperandType(n.out[0], &type), OK);
    assert_int_equal(type->dimensions.count, 2);
    assert_int_equal(type->dimensions.data[0], OPEN);
    assert_int_equal(type->dimensions.data[1], 3);
    is(prepare(&n), OK);
    is(NNAdapterCompilation_queryInputsAndOutputs(n.compilation, &nIn, in, &nOut, out), OK);
    assert_int_equal(in[0]->dimensions.data[0], OPEN);
    assert_int_equal(out[0]->dimensions.data[0], OPEN);
    n.from[0].data = (void *)(uintptr_t)x;
    n.from[1].data = (void *)(uintptr_t)y;
    is(NNAdapterExecution_compute(n.execution), DIMS); /* the shapes are still dynamic */
    for (int32_t rows = 4; rows > 0; rows -= 3) {
        const int32_t dims[2] = {rows, 3};
        n.from[0].dims[0] = n.from[1].dims[0] = rows;
        for (int twice = 0; twice < 2; twice++) {
            is(NNAdapterExecution_compute(n.execution), OK);
            gives(&n, 0, 2, dims, z);
        }
    }
    n.from[1].dims[0] = 2;
    n.from[0].dims[0] = 4;
    is(NNAdapterExecution_compute(n.execution), DIMS); /* 4 and 2 rows do not go together */
    n.from[1].dims[0] = 4;
    n.from[1].dims[1] = 1;
    is(NNAdapterExecution_compute(n.execution), DIMS); /* this dimension was set to 3 */
    n.from[1].dims[1] = 3;
    is(NNAdapterExecution_compute(n.execution), OK);
    end(&n);
}

/* Each of eight shapes of an operand is set again and runs, after any other one; a ninth is too many. */
static void alternatives(void **state)
{
    static const int32_t dims[2] = {OPEN, 3}, order[10] = {1, 8, 3, 2, 7, 8, 4, 6, 5, 1};
    static float x[24], y[24], z[24];
    NNAdapterOperandType type = type_of(NNADAPTER_FLOAT32, 2, dims), *in[2], *out[1];
    uint32_t nIn, nOut;
    net n;
    (void)state;
    is(begin(&n), OK);
    type.dimensions.dynamic_count = 9;
    {
        NNAdapterOperand *o = NULL;
        is(NNAdapterModel_addOperand(n.model, &type, &o), IP);
        assert_null(o);
    }
    type.dimensions.dynamic_count = 8;
    for (int32_t i = 0; i < 8; i++) {
        type.dimensions.dynamic_data[i][0] = i + 1;
        type.dimensions.dynamic_data[i][1] = 3;
    }
    for (uint32_t i = 0; i < 2; i++) {
        n.in[n.nIn++] = operand(&n, &type, NULL, 0, true);
        n.from[i].rank = 2;
        n.from[i].dims[1] = 3;
    }
    for (int32_t i = 0; i < 24; i++) {
        x[i] = (float)i;
        y[i] = (float)(4 - 2 * i);
        z[i] = i < 4 ? (float)(4 - i) : 0; /* max(0, x + y) */
    }
    n.from[0].data = x;
    n.from[1].data = y;
    one_int(&n, NNADAPTER_FUSED_RELU);
    result(&n, NULL);
    is(add(&n, NNADAPTER_ADD), OK);
    is(finish(&n), OK);
    is(prepare(&n), OK);
    is(NNAdapterCompilation_queryInputsAndOutputs(n.compilation, &nIn, in, &nOut, out), OK);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(in[i]->dimensions.dynamic_count, 8);
        assert_memory_equal(in[i]->dimensions.dynamic_data, type.dimensions.dynamic_data,
                            sizeof(type.dimensions.dynamic_data));
    }
    for (uint32_t i = 0; i < 10; i++) {
        const int32_t wanted[2] = {order[i], 3};
        n.from[0].dims[0] = n.from[1].dims[0] = order[i];
        is(NNAdapterExecution_compute(n.execution), OK);
        gives(&n, 0, 2, wanted, z);
    }
    end(&n);
}

/* A dimension below 0 is unknown, or refused with the operand and its number. */
static void building_dims(void **state)
{
    static const int32_t good[5][2] = {{2, 3}, {OPEN, 3}, {-1, 3}, {2, OPEN}, {0, 3}};
    static const int32_t bad[4][2] = {{-5, 3}, {2, -2}, {OPEN + 1, 3}, {2, INT32_MIN}};
    NNAdapterModel *model = NULL;
    NNAdapterOperand *o = NULL;
    (void)state;
    is(NNAdapterModel_create(&model), OK);
    for (int i = 0; i < 5; i++) {
        NNAdapterOperandType type = type_of(NNADAPTER_FLOAT32, 2, good[i]);
        is(NNAdapterModel_addOperand(model, &type, &o), OK);
    }
    for (int i = 0; i < 4; i++) {
        NNAdapterOperandType type = type_of(NNADAPTER_FLOAT32, 2, bad[i]);
        is(NNAdapterModel_addOperand(model, &type, &o), DIMS);
        assert_null(o);
    }
    NNAdapterModel_destroy(model);
    is(NNAdapterModel_create(&model), OK);
    {
        NNAdapterOperandType type = type_of(NNADAPTER_FLOAT32, 2, bad[1]);
        is(NNAdapterModel_addOperand(model, &type, &o), DIMS);
        assert_string_equal(nnrt_nnadapter_model_error(model),
                            "operand 0: dimension 1 is -2, expected 0 or more, or NNADAPTER_UNKNOWN (-65535)");
    }
    NNAdapterModel_destroy(model);
}

/* Runs z = relu(x + y) of [rows,3] on a device for each number of rows, and compares how often it prepares the model. */
static void prepares(const char *device, const int32_t (*runs)[2], uint32_t count)
{
    nnrt_fake *fake = registered(device);
    float x[36], z[36];
    net n;
    for (int i = 0; i < 36; i++) {
        x[i] = (float)(i % 7 - 3);
        z[i] = x[i] > 0 ? 2 * x[i] : 0;
    }
    is(add_net(&n, OPEN), OK);
    assert_non_null(n.context = context_of(nnrt_fake_name(fake), NULL));
    is(prepare(&n), OK);
    n.from[0].data = n.from[1].data = x;
    for (uint32_t r = 0; r < count; r++) {
        const int32_t dims[2] = {runs[r][0], 3};
        const uint32_t before = nnrt_fake_get_record(fake).prepared;
        n.from[0].dims[0] = n.from[1].dims[0] = runs[r][0];
        is(NNAdapterExecution_compute(n.execution), OK);
        if (nnrt_fake_get_record(fake).prepared - before != (uint32_t)runs[r][1])
            fail_msg("run %u, %d rows: prepared %u times, expected %d", r, runs[r][0],
                     nnrt_fake_get_record(fake).prepared - before, runs[r][1]);
        gives(&n, 0, 2, dims, z);
    }
    end(&n);
    unregistered(fake);
}

/* Prepared models are kept: of four shapes, then one for a bound of all, which grows by half at least. */
static void shapes_kept(void **state)
{
    static const int32_t bound[][2] = {{1, 1}, {2, 1}, {3, 1}, {4, 1},            /* four shapes */
                                       {4, 0}, {2, 0}, {1, 0}, {3, 0}, {3, 0},    /* which are kept */
                                       {5, 1}, {5, 0}, {4, 0}, {6, 1}, {7, 0},    /* bounds of 5, of 5 + 5 / 2 */
                                       {5, 0}, {1, 0}, {11, 1}, {10, 0}, {8, 0}}; /* and of 11, which is more than 10 */
    /* the device fails to prepare for a bound, its fifth preparation: the shape that was used least lately makes room */
    static const int32_t none[][2] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {2, 0}, {3, 0},
                                      {4, 0}, {5, 0}, {1, 1}, {5, 0}, {2, 1}, {4, 0}, {3, 1}};
    (void)state;
    prepares("fake:name=npu", bound, sizeof(bound) / sizeof(bound[0]));
    prepares("fake:name=npu,fail=PrepareModel:5", none, sizeof(none) / sizeof(none[0]));
}

/* Data-dependent output shapes: the callback of an output gets the shape of the run. */
static void told_by_values(void **state)
{
    const int32_t boxDims[3] = {1, 3, 4}, scoreDims[3] = {1, 1, 3}, wanted[2] = {2, 6};
    static const float boxes[12] = {0, 0, 1, 1, 0, 0, 1, 1, 5, 5, 6, 6}, scores[3] = {0.5f, 0.9f, 0.8f};
    static const float kept[12] = {0, 0.9f, 0, 0, 1, 1, 0, 0.8f, 5, 5, 6, 6};
    net n;
    (void)state;
    is(begin(&n), OK);
    variable(&n, NNADAPTER_FLOAT32, 3, boxDims, boxes);
    variable(&n, NNADAPTER_FLOAT32, 3, scoreDims, scores);
    left_out(&n);
    one_int(&n, -1);      /* background_label */
    one_float(&n, 0.1f);  /* score_threshold */
    one_int(&n, -1);      /* nms_top_k */
    one_float(&n, 0.5f);  /* nms_threshold: the first box overlaps the second wholly */
    one_float(&n, 1);     /* nms_eta */
    one_int(&n, -1);      /* keep_top_k */
    one_bool(&n, true);   /* normalized */
    one_bool(&n, false);  /* return_index */
    result(&n, NULL);
    result(&n, NULL);
    is(run(&n, NNADAPTER_NON_MAX_SUPPRESSION), OK);
    gives(&n, 0, 2, wanted, kept);
    assert_int_equal(n.to[1].precision, NNADAPTER_INT32);
    assert_int_equal(*(const int32_t *)n.to[1].data, 2);
    end(&n);
}

/* ---- numbers by hand: properties without a case in tests/ops/vectors ---- */

/* Conv 2x2 over [1,1,3,3], zeros around it, two filters, one bias each. */
static void convolution(void **state)
{
    static const float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, w[8] = {1, 0, 0, 1, 0, 1, 1, 0}, b[2] = {10, -10};
    static const float y[8] = {16, 18, 22, 24, -4, -2, 2, 4}; /* 1+5, 2+6, 4+8, 5+9; 2+4, 3+5, 5+7, 6+8 */
    const int32_t xDims[4] = {1, 1, 3, 3}, wDims[4] = {2, 1, 2, 2}, yDims[4] = {1, 2, 2, 2}, two = 2;
    const int32_t none[4] = {0, 0, 0, 0}, ones[2] = {1, 1}, dilation[2] = {2, 2};
    NNAdapterOperandType type = type_of(NNADAPTER_FLOAT32, 4, wDims), bias = type_of(NNADAPTER_FLOAT32, 1, &two);
    net n;
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        is(begin(&n), OK);
        variable(&n, NNADAPTER_FLOAT32, 4, xDims, x);
        n.in[n.nIn++] = operand(&n, &type, w, sizeof(w), false);
        n.in[n.nIn++] = operand(&n, &bias, b, sizeof(b), false);
        one_int(&n, mode);
        if (mode == NNADAPTER_AUTO_PAD_NONE) { /* a list of no entries is none */
            const NNAdapterOperandType empty = type_of(NNADAPTER_INT32, 1, none);
            n.in[n.nIn++] = operand(&n, &empty, NULL, 0, false);
        } else { /* pads do not count */
            const int32_t pads[4] = {3, 3, 3, 3};
            ints(&n, 4, pads);
        }
        ints(&n, 2, ones);
        one_int(&n, 1);
        ints(&n, 2, mode == NNADAPTER_AUTO_PAD_SAME ? dilation : ones); /* SAME is without dilation */
        one_int(&n, NNADAPTER_FUSED_NONE);
        result(&n, NULL);
        is(run(&n, NNADAPTER_CONV_2D), OK);
        if (mode == NNADAPTER_AUTO_PAD_SAME) { /* a row and a column after */
            static const float same[18] = {16, 18, 13, 22, 24, 16, 17, 18, 19, -4, -2, -4, 2, 4, -1, -2, -1, -10};
            const int32_t dims[4] = {1, 2, 3, 3};
            gives(&n, 0, 4, dims, same);
        } else {
            gives(&n, 0, 4, yDims, y);
        }
        end(&n);
    }
}

/* output_shape of a transposed convolution: 2x2 -> 5x5, stride 2, kernel 2: a row and a column that nothing reaches. */
static void transposed(void **state)
{
    static const float x[4] = {1, 2, 3, 4}, w[8] = {1, 2, 3, 4, 10, 20, 30, 40};
    static const float y[25] = {1, 2, 2, 4, 0, 3, 4, 6, 8, 0, 3, 6, 4, 8, 0, 9, 12, 12, 16, 0, 0, 0, 0, 0, 0};
    static const int32_t shapes[4][2] = {{5, 5}, {4, 4}, {3, 4}, {6, 6}};
    const int32_t xDims[4] = {1, 1, 2, 2}, wDims[4] = {1, 2, 2, 2}, two[2] = {2, 2};
    NNAdapterOperandType type = type_of(NNADAPTER_FLOAT32, 4, wDims);
    net n;
    (void)state;
    for (int i = 0; i < 4; i++) {
        const int32_t extent = shapes[i][0], dims[4] = {1, 2, extent, extent};
        is(begin(&n), OK);
        variable(&n, NNADAPTER_FLOAT32, 4, xDims, x);
        n.in[n.nIn++] = operand(&n, &type, w, sizeof(w), false);
        left_out(&n);
        one_int(&n, NNADAPTER_AUTO_PAD_NONE);
        left_out(&n);
        ints(&n, 2, two);
        left_out(&n);
        left_out(&n);
        left_out(&n);
        ints(&n, 2, shapes[i]);
        left_out(&n);
        result(&n, NULL);
        is(run(&n, NNADAPTER_CONV_2D_TRANSPOSE), i < 2 ? OK : NO); /* 3 and 6 no paddings at the end give */
        if (i < 2) {
            float wanted[50];
            for (int32_t k = 0; k < extent * extent; k++) {
                wanted[k] = y[k / extent * 5 + k % extent];
                wanted[extent * extent + k] = 10 * wanted[k];
            }
            gives(&n, 0, 4, dims, wanted);
        }
        end(&n);
    }
}

/* A quantized convolution 1x1, one channel to two: x = {1, -2} (scale 0.5), w = {2, -4}; y in units of 0.25. */
static void quantised(void **state)
{
    static const int8_t x[2] = {2, -4}, w[2] = {4, -8};
    static const int32_t b[2] = {4, -8}; /* in units of 0.25, or of 0.25 and 0.5 */
    const int32_t xDims[4] = {1, 1, 1, 2}, wDims[4] = {2, 1, 1, 1}, two = 2, ones[2] = {1, 1};
    float each[2] = {0.5f, 1}, biasEach[2] = {0.25f, 0.5f};
    net n;
    (void)state;
    for (int k = 0; k < 4; k++) {
        NNAdapterOperandType in = type_of(NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 4, xDims), out = in;
        NNAdapterOperandType filter = type_of(NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 4, wDims);
        NNAdapterOperandType bias = type_of(NNADAPTER_QUANT_INT32_SYMM_PER_LAYER, 1, &two);
        in.symm_per_layer_params.scale = 0.5f;
        filter.symm_per_layer_params.scale = 0.5f;
        bias.symm_per_layer_params.scale = 0.25f;
        out.symm_per_layer_params.scale = 0.25f;
        out.dimensions.count = 0;
        if (k >= 2) { /* a scale for each channel of the result, axis 0 of the filter */
            filter.precision = NNADAPTER_QUANT_INT8_SYMM_PER_CHANNEL;
            bias.precision = NNADAPTER_QUANT_INT32_SYMM_PER_CHANNEL;
            filter.symm_per_channel_params.channel_dim = bias.symm_per_channel_params.channel_dim = 0;
            filter.symm_per_channel_params.scale_count = bias.symm_per_channel_params.scale_count = 2;
            filter.symm_per_channel_params.scales = each;
            bias.symm_per_channel_params.scales = biasEach;
        }
        if (k == 1)
            bias.symm_per_layer_params.scale = 0.5f;
        biasEach[1] = k == 3 ? 0.25f : 0.5f;
        is(begin(&n), OK);
        n.from[0].rank = 4;
        memcpy(n.from[0].dims, xDims, sizeof(xDims));
        n.from[0].data = (void *)(uintptr_t)x;
        n.in[n.nIn++] = operand(&n, &in, NULL, 0, true);
        n.in[n.nIn++] = operand(&n, &filter, w, sizeof(w), false);
        n.in[n.nIn++] = operand(&n, &bias, b, sizeof(b), false);
        one_int(&n, NNADAPTER_AUTO_PAD_VALID);
        left_out(&n);
        ints(&n, 2, ones);
        one_int(&n, 1);
        ints(&n, 2, ones);
        one_int(&n, NNADAPTER_FUSED_RELU6);
        result(&n, &out);
        is(run(&n, NNADAPTER_CONV_2D), k % 2 == 0 ? OK : IP); /* odd: the bias is in other units */
        if (k == 0) { /* 1*2+1, -2*2+1; 1*-4-2, -2*-4-2 -> 3, 0 (-3), 0 (-6), 6, in units of 0.25 */
            const int8_t y[4] = {12, 0, 0, 24};
            assert_memory_equal(n.to[0].data, y, sizeof(y));
        } else if (k == 2) { /* the second filter is -8: 1*-8-4, -2*-8-4 -> 0 (-12), 6 (12) */
            const int8_t y[4] = {12, 0, 0, 24};
            assert_memory_equal(n.to[0].data, y, sizeof(y));
            assert_int_equal(n.to[0].precision, NNADAPTER_QUANT_INT8_SYMM_PER_LAYER);
        }
        end(&n);
    }
}

/* An operand as Paddle-Lite's converter adds results: precision UNKNOWN, no dimensions, perhaps a scale. */
static NNAdapterOperand *unknown(net *n, float scale, int32_t zero)
{
    NNAdapterOperandType type = type_of(NNADAPTER_UNKNOWN, 0, NULL);
    type.asymm_per_layer_params.scale = scale;
    type.asymm_per_layer_params.zero_point = zero;
    return operand(n, &type, NULL, 0, false);
}

/* One operation of quantized data[count], of this type and with result 0 of precision UNKNOWN. */
static int unknown_of(net *n, int32_t op, const NNAdapterOperandType *x, const void *data, float scale, int32_t zero)
{
    memory *m = &n->from[0];
    m->rank = x->dimensions.count;
    memcpy(m->dims, x->dimensions.data, sizeof(m->dims));
    m->data = (void *)(uintptr_t)data;
    n->in[0] = operand(n, x, NULL, 0, true);
    n->nIn = n->nIn < 1 ? 1 : n->nIn;
    n->out[n->nOut++] = unknown(n, scale, zero);
    return run(n, op);
}

static void type_is(NNAdapterOperand *o, int precision, uint32_t rank, const int32_t *dims)
{
    NNAdapterOperandType *type = NULL;
    is(NNAdapterModel_getOperandType(o, &type), OK);
    assert_int_equal((int32_t)type->precision, precision);
    assert_int_equal(type->dimensions.count, rank);
    for (uint32_t i = 0; i < rank; i++)
        assert_int_equal(type->dimensions.data[i], dims[i]);
}

/* Results of precision UNKNOWN and without dimensions are inferred, whatever the order of the operations. */
static void unknown_results(void **state)
{
    static const float x[4] = {-1, 2, -3, 4}, magnitudes[4] = {1, 2, 3, 4};
    const int32_t four = 4, halves[2] = {2, 2};
    NNAdapterOperand *between;
    NNAdapterOperation *operation;
    net n;
    (void)state;
    is(begin(&n), OK);
    variable(&n, NNADAPTER_FLOAT32, 1, &four, x);
    n.out[n.nOut++] = unknown(&n, 0, 0);
    is(add(&n, NNADAPTER_ABS), OK);
    type_is(n.out[0], NNADAPTER_FLOAT32, 1, &four);
    is(finish(&n), OK);
    is(prepare(&n), OK);
    is(NNAdapterExecution_compute(n.execution), OK);
    gives(&n, 0, 1, &four, magnitudes);
    end(&n);
    is(begin(&n), OK); /* the operation that reads the result is added first */
    variable(&n, NNADAPTER_FLOAT32, 1, &four, x);
    n.out[n.nOut++] = unknown(&n, 0, 0);
    between = unknown(&n, 0, 0);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_RELU, 1, &between, 1, n.out, &operation), OK);
    type_is(n.out[0], NNADAPTER_UNKNOWN, 0, NULL);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ABS, 1, n.in, 1, &between, &operation), OK);
    type_is(between, NNADAPTER_FLOAT32, 1, &four);
    is(finish(&n), OK);
    type_is(n.out[0], NNADAPTER_FLOAT32, 1, &four);
    is(prepare(&n), OK);
    is(NNAdapterExecution_compute(n.execution), OK);
    gives(&n, 0, 1, &four, magnitudes);
    end(&n);
    is(begin(&n), OK); /* a fault that only shows when the operand is known is NNAdapterModel_finish's */
    variable(&n, NNADAPTER_FLOAT32, 1, &four, x);
    n.out[n.nOut++] = unknown(&n, 0, 0);
    between = unknown(&n, 0, 0);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_CONV_2D, 1, &between, 1, n.out, &operation), OK);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ABS, 1, n.in, 1, &between, &operation), OK);
    for (int twice = 0; twice < 2; twice++) {
        is(finish(&n), IP);
        assert_non_null(strstr(nnrt_nnadapter_model_error(n.model), "operation 0 (CONV_2D)"));
    }
    end(&n);
    is(begin(&n), OK); /* types of their own, and as many results as there are */
    variable(&n, NNADAPTER_FLOAT32, 1, &four, x);
    variable(&n, NNADAPTER_FLOAT32, 1, &four, magnitudes);
    n.out[n.nOut++] = unknown(&n, 0, 0);
    is(add(&n, NNADAPTER_LESS), OK);
    type_is(n.out[0], NNADAPTER_BOOL8, 1, &four);
    end(&n);
    is(begin(&n), OK);
    variable(&n, NNADAPTER_FLOAT32, 1, &four, x);
    one_int(&n, 0);
    ints(&n, 2, halves);
    n.out[n.nOut++] = unknown(&n, 0, 0);
    n.out[n.nOut++] = unknown(&n, 0, 0);
    is(run(&n, NNADAPTER_SPLIT), OK);
    type_is(n.out[1], NNADAPTER_FLOAT32, 1, halves);
    gives(&n, 1, 1, halves, x + 2);
    end(&n);
    is(begin(&n), OK); /* it is the precision of no input, and of no constant */
    n.out[n.nOut++] = unknown(&n, 0, 0);
    is(NNAdapterModel_identifyInputsAndOutputs(n.model, 1, n.out, 1, n.out), IP);
    is(NNAdapterModel_setOperandValue(n.out[0], (void *)(uintptr_t)x, sizeof(x), true), IP);
    end(&n);
}

/* A quantized one has the input's precision, and its own scale and zero point. */
static void unknown_quantised(void **state)
{
    const int32_t dims[2] = {1, 2}, flat = 2;
    NNAdapterOperandType symmetric = type_of(NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 2, dims), *type = NULL;
    NNAdapterOperandType asymmetric = type_of(NNADAPTER_QUANT_UINT8_ASYMM_PER_LAYER, 2, dims);
    static const int8_t s[2] = {2, -4};   /* 1, -2 */
    static const uint8_t u[2] = {12, 6}; /* 1, -2 */
    net n;
    (void)state;
    symmetric.symm_per_layer_params.scale = 0.5f;
    asymmetric.asymm_per_layer_params.scale = 0.5f;
    asymmetric.asymm_per_layer_params.zero_point = 10;
    is(begin(&n), OK);
    is(unknown_of(&n, NNADAPTER_ABS, &symmetric, s, 0.25f, 0), OK); /* 1, 2 in units of 0.25 */
    type_is(n.out[0], NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 2, dims);
    assert_int_equal(n.to[0].precision, NNADAPTER_QUANT_INT8_SYMM_PER_LAYER);
    assert_int_equal(((const int8_t *)n.to[0].data)[0], 4);
    assert_int_equal(((const int8_t *)n.to[0].data)[1], 8);
    end(&n);
    is(begin(&n), OK);
    is(unknown_of(&n, NNADAPTER_RELU, &asymmetric, u, 0.25f, 20), OK); /* 1, 0 */
    type_is(n.out[0], NNADAPTER_QUANT_UINT8_ASYMM_PER_LAYER, 2, dims);
    assert_int_equal(((const uint8_t *)n.to[0].data)[0], 24);
    assert_int_equal(((const uint8_t *)n.to[0].data)[1], 20);
    end(&n);
    is(begin(&n), OK); /* an operation that only moves elements needs no scale */
    n.nIn = 1;
    ints(&n, 1, &flat);
    is(unknown_of(&n, NNADAPTER_RESHAPE, &asymmetric, u, 0, 0), OK);
    type_is(n.out[0], NNADAPTER_QUANT_UINT8_ASYMM_PER_LAYER, 1, &flat);
    is(NNAdapterModel_getOperandType(n.out[0], &type), OK);
    assert_int_equal(type->asymm_per_layer_params.zero_point, 10);
    assert_memory_equal(n.to[0].data, u, sizeof(u));
    end(&n);
    is(begin(&n), OK); /* results that are no numbers of the input's are not quantized */
    n.nIn = 1;
    one_int(&n, 1);
    is(unknown_of(&n, NNADAPTER_ARG_MAX, &symmetric, s, 0, 0), OK);
    assert_int_equal(n.to[0].precision, NNADAPTER_INT64);
    assert_int_equal(((const int64_t *)n.to[0].data)[0], 0);
    end(&n);
    is(begin(&n), OK); /* one that computes needs a scale; the operand stays as it was */
    is(unknown_of(&n, NNADAPTER_ABS, &symmetric, s, 0, 0), IP);
    assert_non_null(strstr(nnrt_nnadapter_model_error(n.model), "has precision UNKNOWN and no scale"));
    type_is(n.out[0], NNADAPTER_UNKNOWN, 0, NULL);
    end(&n);
}

/* Pools that round up: a last window without a cell is 0 for an average, the least number and index -1 for a maximum. */
static void empty_windows(void **state)
{
    static const struct {
        int32_t op, rows, columns, mode, pads[4], kernel[2], strides[2];
        bool ceil, counted;
        int32_t fuse;
        int code;
        int32_t dims[2];
        float y[6];
        int32_t indices[6];
    } cases[] = {
        {NNADAPTER_MAX_POOL_2D, 1, 5, 0, {0, 0, 0, 0}, {1, 1}, {1, 3}, true, false, 0, OK, {1, 3}, {0, 3, -FLT_MAX}, {0, 3, -1}},
        {NNADAPTER_MAX_POOL_2D, 1, 5, 2, {0, 0, 0, 0}, {1, 1}, {1, 3}, true, false, 1, OK, {1, 3}, {0, 3, 0}, {0, 3, -1}},
        {NNADAPTER_MAX_POOL_2D, 3, 5, 2, {0, 0, 0, 0}, {2, 1}, {2, 3}, true, false, 0, OK, {2, 3},
         {5, 8, -FLT_MAX, 10, 13, -FLT_MAX}, {5, 8, -1, 10, 13, -1}},
        {NNADAPTER_AVERAGE_POOL_2D, 3, 5, 2, {0, 0, 0, 0}, {2, 1}, {2, 3}, true, false, 0, OK, {2, 3},
         {2.5f, 5.5f, 0, 10, 13, 0}, {0}},
        {NNADAPTER_AVERAGE_POOL_2D, 1, 4, 0, {0, 0, 0, 2}, {1, 2}, {1, 2}, true, false, 0, OK, {1, 3}, {0.5f, 2.5f, 0}, {0}},
        {NNADAPTER_AVERAGE_POOL_2D, 1, 4, 0, {0, 0, 0, 2}, {1, 2}, {1, 2}, true, true, 0, OK, {1, 3}, {0.5f, 2.5f, 0}, {0}},
        {NNADAPTER_AVERAGE_POOL_2D, 4, 1, 0, {1, 2, 0, 0}, {3, 1}, {2, 1}, true, true, 0, OK, {3, 1}, {1 / 3.0f, 2, 1}, {0}},
        {NNADAPTER_AVERAGE_POOL_2D, 1, 4, 0, {0, 0, 0, 2}, {1, 2}, {1, 2}, false, false, 0, DIMS, {0, 0}, {0}, {0}},
    };
    static const float x[15] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    net n;
    (void)state;
    for (uint32_t k = 0; k < COUNT(cases); k++) {
        const int32_t dims[4] = {1, 1, cases[k].rows, cases[k].columns};
        const int32_t out[4] = {1, 1, cases[k].dims[0], cases[k].dims[1]};
        const bool largest = cases[k].op == NNADAPTER_MAX_POOL_2D;
        is(begin(&n), OK);
        variable(&n, NNADAPTER_FLOAT32, 4, dims, x);
        one_int(&n, cases[k].mode);
        ints(&n, 4, cases[k].pads);
        ints(&n, 2, cases[k].kernel);
        ints(&n, 2, cases[k].strides);
        one_bool(&n, cases[k].ceil);
        one_bool(&n, largest || cases[k].counted);
        if (largest)
            one_int(&n, NNADAPTER_INT32);
        one_int(&n, cases[k].fuse);
        result(&n, NULL);
        if (largest)
            result(&n, NULL);
        is(run(&n, cases[k].op), cases[k].code);
        if (cases[k].code == OK)
            gives(&n, 0, 4, out, cases[k].y);
        if (largest)
            assert_memory_equal(n.to[1].data, cases[k].indices, (size_t)(out[2] * out[3]) * sizeof(int32_t));
        end(&n);
    }
    for (int largest = 0; largest < 2; largest++) { /* quantized: 0 is the zero point, the least number -128 */
        static const int8_t q[5] = {1, 2, 3, 4, 5};
        const int32_t dims[4] = {1, 1, 1, 5}, one[2] = {1, 1}, third[2] = {1, 3};
        NNAdapterOperandType type = type_of(NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 4, dims);
        const int8_t y[3] = {1, 4, (int8_t)(largest ? -128 : 0)};
        type.symm_per_layer_params.scale = 0.5f;
        is(begin(&n), OK);
        n.nIn = 1;
        one_int(&n, NNADAPTER_AUTO_PAD_VALID);
        left_out(&n);
        ints(&n, 2, one);
        ints(&n, 2, third);
        one_bool(&n, true);
        is(unknown_of(&n, largest ? NNADAPTER_MAX_POOL_2D : NNADAPTER_AVERAGE_POOL_2D, &type, q, 0.5f, 0), OK);
        assert_int_equal(n.to[0].dims[3], 3);
        assert_memory_equal(n.to[0].data, y, sizeof(y));
        end(&n);
    }
}

/* y = x * by, by is 2 if it is left out. */
static NNRT_ReturnCode scaled_rule(nnrt_resolve *c)
{
    nnrt_resolve_like(c, 0, 0);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode scaled_f32(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const float *x = (const float *)args[0].data;
    const float by = args[1].dataType != NNRT_DATA_TYPE_UNKNOWN ? *(const float *)args[1].data : 2;
    float *y = (float *)args[call->nIn + call->nDerived].data;
    size_t n = 0;
    (void)attr;
    (void)nnrt_dims_count(args[0].dims, args[0].rank, &n);
    for (size_t i = 0; i < n; i++)
        y[i] = by * x[i];
    return NNRT_SUCCESS;
}

/* An operation of negative type is an operator that the program registered. */
static void custom_operations(void **state)
{
    static const nnrt_kernel_row kernels[] = {{NNRT_TYPES_F32, NULL, scaled_f32, "scaled_f32"}};
    static const float x[3] = {1, -2, 3}, twice[3] = {2, -4, 6}, halves[3] = {0.5f, 0, 1.5f};
    const int32_t three = 3;
    NNAdapterOperation *operation;
    NNAdapterOperand *between;
    nnrt_op op;
    net n;
    (void)state;
    memset(&op, 0, sizeof(op));
    op.name = "com.acme.Scaled";
    op.type = -7;
    op.inputs = "x by?=0";
    op.outputs = "y=0";
    op.rule = scaled_rule;
    op.kernels = kernels;
    op.kernelCount = 1;
    is(nnrt_op_register(&op, NULL), NNRT_SUCCESS);
    is(begin(&n), OK);
    variable(&n, NNADAPTER_FLOAT32, 1, &three, x);
    n.out[n.nOut++] = unknown(&n, 0, 0);
    is(run(&n, -7), OK);
    type_is(n.out[0], NNADAPTER_FLOAT32, 1, &three);
    gives(&n, 0, 1, &three, twice);
    end(&n);
    is(begin(&n), OK); /* a constant operand is an input */
    variable(&n, NNADAPTER_FLOAT32, 1, &three, x);
    one_float(&n, 0.5f);
    between = unknown(&n, 0, 0);
    is(NNAdapterModel_addOperation(n.model, -7, 2, n.in, 1, &between, &operation), OK);
    n.in[0] = between;
    n.nIn = 1;
    n.out[n.nOut++] = unknown(&n, 0, 0);
    is(run(&n, NNADAPTER_RELU), OK);
    gives(&n, 0, 1, &three, halves);
    {
        bool supported[2] = {false, false};
        is(NNAdapterModel_getSupportedOperations(n.model, n.context, supported), OK);
        assert_true(supported[0] && supported[1]);
    }
    end(&n);
    is(begin(&n), OK); /* its row lists its types */
    variable(&n, NNADAPTER_INT32, 1, &three, x);
    n.out[n.nOut++] = unknown(&n, 0, 0);
    is(add(&n, -7), IP);
    assert_non_null(strstr(nnrt_nnadapter_model_error(n.model), "com.acme.Scaled"));
    is(nnrt_op_unregister("com.acme.Scaled"), NNRT_SUCCESS);
    is(add(&n, -7), OK); /* as before: no operator defines it */
    end(&n);
}

/* The shape of a result follows from elements of inputs: of the model, or of operations on them. Each run has its own. */
static void decided_in_the_run(void **state)
{
    static const float x[6] = {1, 2, 3, 4, 5, 6}, seven = 7, two2[2] = {2, 2};
    static const struct {
        int32_t op;
        const char *in; /* x [2,3], i [1,1,2,3] of FLOAT32; l input of four INT32, s of two; v 7; c CONSTANT mode, b false */
        int32_t list[2][4]; /* of two runs */
        uint32_t rank[2];
        int32_t dims[2][4];
        float y[2][24];
    } cases[] = {
        {NNADAPTER_FILL, "sv", {{2, 3}, {1, 2}}, {2, 2}, {{2, 3}, {1, 2}}, {{7, 7, 7, 7, 7, 7}, {7, 7}}},
        {NNADAPTER_EXPAND, "vs", {{1, 2}, {3, 1}}, {2, 2}, {{1, 2}, {3, 1}}, {{7, 7}, {7, 7, 7}}},
        {NNADAPTER_TILE, "xs", {{1, 2}, {2, 1}}, {2, 2}, {{2, 6}, {4, 3}},
         {{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}}},
        {NNADAPTER_PAD, "xlcv", {{1, 0, 0, 1}, {0, 0, 1, 0}}, {2, 2}, {{3, 4}, {2, 4}},
         {{7, 7, 7, 7, 1, 2, 3, 7, 4, 5, 6, 7}, {7, 1, 2, 3, 7, 4, 5, 6}}},
        {NNADAPTER_RESIZE_NEAREST, "is-b", {{2, 6}, {4, 3}}, {4, 4}, {{1, 1, 2, 6}, {1, 1, 4, 3}},
         {{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}}},
    };
    const int32_t row[2] = {2, 3}, image[4] = {1, 1, 2, 3}, four = 4, two = 2, one = 1;
    net n;
    (void)state;
    for (uint32_t k = 0; k < COUNT(cases); k++)
        for (int computed = 0; computed < 2; computed++) { /* the list is an input, or one plus zeros */
            uint32_t at = 0;
            is(begin(&n), OK);
            for (const char *c = cases[k].in; *c != '\0'; c++) {
                const int32_t zeros[4] = {0};
                const int32_t *length = *c == 's' ? &two : &four;
                switch (*c) {
                case 'x': variable(&n, NNADAPTER_FLOAT32, 2, row, x); break;
                case 'i': variable(&n, NNADAPTER_FLOAT32, 4, image, x); break;
                case 'v': variable(&n, NNADAPTER_FLOAT32, 1, &one, &seven); break;
                case 'c': one_int(&n, NNADAPTER_PAD_MODE_CONSTANT); break;
                case 'b': one_bool(&n, false); break;
                case '-': left_out(&n); break;
                default:
                    at = n.nInputs;
                    variable(&n, NNADAPTER_INT32, 1, length, cases[k].list[0]);
                    if (computed) {
                        NNAdapterOperand *in[2];
                        NNAdapterOperation *op;
                        const NNAdapterOperandType type = type_of(NNADAPTER_INT32, 1, length);
                        in[0] = n.in[n.nIn - 1];
                        in[1] = placed(&n, &type, zeros, (size_t)*length * sizeof(*zeros), false, true);
                        n.in[n.nIn - 1] = unknown(&n, 0, 0);
                        is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 2, in, 1, &n.in[n.nIn - 1], &op), OK);
                    }
                }
            }
            n.out[n.nOut++] = unknown(&n, 0, 0);
            is(add(&n, cases[k].op), OK);
            is(finish(&n), OK);
            is(prepare(&n), OK);
            for (int r = 0; r < 4; r++) { /* the same, others, the same again */
                n.from[at].data = (void *)(uintptr_t)cases[k].list[r / 2];
                if (NNAdapterExecution_compute(n.execution) != OK)
                    fail_msg("%s: %s", nnrti_nna_rows[cases[k].op].name, nnrt_nnadapter_execution_error(n.execution));
                gives(&n, 0, cases[k].rank[r / 2], cases[k].dims[r / 2], cases[k].y[r / 2]);
            }
            end(&n);
        }
    for (int r = 0; r < 3; r++) { /* start, end and step are inputs; the operation that reads the result waits, too */
        static const float start[3] = {0, 5, 1}, limit[3] = {3, 1, 2}, step[3] = {1, -2, 0.25f};
        static const float y[3][4] = {{0, -1, -2}, {-5, -3}, {-1, -1.25f, -1.5f, -1.75f}};
        static const int32_t counts[3] = {3, 2, 4};
        NNAdapterOperand *between;
        NNAdapterOperation *op;
        static const float minus = -1;
        is(begin(&n), OK);
        variable(&n, NNADAPTER_FLOAT32, 1, &one, &start[r]);
        variable(&n, NNADAPTER_FLOAT32, 1, &one, &limit[r]);
        variable(&n, NNADAPTER_FLOAT32, 1, &one, &step[r]);
        n.out[n.nOut++] = unknown(&n, 0, 0);
        between = unknown(&n, 0, 0);
        if (r == 0) /* in the order in which they run */
            is(NNAdapterModel_addOperation(n.model, NNADAPTER_RANGE, 3, n.in, 1, &between, &op), OK);
        n.in[3] = between;
        n.nIn = 4;
        constant(&n, NNADAPTER_FLOAT32, 1, &minus, sizeof(minus));
        is(NNAdapterModel_addOperation(n.model, NNADAPTER_MUL, 2, n.in + 3, 1, n.out, &op), OK);
        if (r > 0)
            is(NNAdapterModel_addOperation(n.model, NNADAPTER_RANGE, 3, n.in, 1, &between, &op), OK);
        is(finish(&n), OK);
        is(prepare(&n), OK);
        is(NNAdapterExecution_compute(n.execution), OK);
        gives(&n, 0, 1, &counts[r], y[r]);
        end(&n);
    }
    for (int k = 0; k < 2; k++) { /* SPLIT: the axis and the sizes; RESIZE: the scales */
        static const int32_t parts[2][2] = {{1, 2}, {2, 1}}, rows[2][2] = {{2, 1}, {2, 2}};
        static const float first[2] = {1, 4}, other[4] = {2, 3, 5, 6};
        is(begin(&n), OK);
        variable(&n, NNADAPTER_FLOAT32, 2, row, x);
        variable(&n, NNADAPTER_INT32, 1, &one, &one);
        variable(&n, NNADAPTER_INT32, 1, &two, parts[k]);
        result(&n, NULL);
        result(&n, NULL);
        is(run(&n, NNADAPTER_SPLIT), OK);
        if (k == 0) {
            gives(&n, 0, 2, rows[0], first);
            gives(&n, 1, 2, rows[1], other);
            n.from[2].data = (void *)(uintptr_t)x; /* no dimensions */
            is(NNAdapterExecution_compute(n.execution), DIMS);
            assert_non_null(strstr(nnrt_nnadapter_execution_error(n.execution), "SPLIT_0"));
            n.from[2].data = (void *)(uintptr_t)parts[0];
            is(NNAdapterExecution_compute(n.execution), OK);
            gives(&n, 1, 2, rows[1], other);
        } else {
            assert_int_equal(n.to[0].dims[1], 2);
        }
        end(&n);
    }
    is(begin(&n), OK);
    variable(&n, NNADAPTER_FLOAT32, 4, image, x);
    left_out(&n);
    variable(&n, NNADAPTER_FLOAT32, 1, &two, two2);
    one_bool(&n, false);
    result(&n, NULL);
    is(run(&n, NNADAPTER_RESIZE_NEAREST), OK);
    assert_int_equal(n.to[0].dims[2], 4);
    assert_int_equal(n.to[0].dims[3], 6);
    end(&n);
}

/* QUANTIZE: the zero point is an INT32 or a FLOAT32; with them a result of precision UNKNOWN has its type. */
static void quantize_operands(void **state)
{
    static const float x[4] = {1, -2, 3, -4}, scales[2] = {0.5f, 0.25f};
    static const float zeros[3] = {3, 3, 2.5f};
    const int32_t dims[2] = {2, 2}, three = 3;
    (void)state;
    for (int k = 0; k < 6; k++) {
        const uint8_t y[4] = {5, 0, 9, 0}; /* x / 0.5 + 3, at least 0 */
        const int8_t symmetric[4] = {2, -4, 6, -8}, each[4] = {2, -8, 6, -16};
        NNAdapterOperandType type = type_of(NNADAPTER_QUANT_UINT8_ASYMM_PER_LAYER, 0, NULL);
        net n;
        type.asymm_per_layer_params.scale = 0.5f;
        type.asymm_per_layer_params.zero_point = 3;
        is(begin(&n), OK);
        variable(&n, NNADAPTER_FLOAT32, 2, dims, x);
        if (k == 5)
            one_int(&n, -1);
        else
            left_out(&n);
        constant(&n, NNADAPTER_FLOAT32, k == 5 ? 2 : 1, scales, sizeof(*scales));
        if (k == 1)
            constant(&n, NNADAPTER_INT32, 1, &three, sizeof(three));
        else if (k < 4)
            constant(&n, NNADAPTER_FLOAT32, 1, &zeros[k == 3 ? 0 : k], sizeof(*zeros));
        if (k < 3)
            result(&n, &type);
        else
            n.out[n.nOut++] = unknown(&n, 0, 0);
        is(run(&n, NNADAPTER_QUANTIZE), k == 2 ? IP : OK);
        if (k == 2)
            assert_non_null(strstr(nnrt_nnadapter_model_error(n.model), "integral FLOAT32"));
        else
            assert_int_equal(n.to[0].precision, k < 4    ? NNADAPTER_QUANT_UINT8_ASYMM_PER_LAYER
                                                : k == 4 ? NNADAPTER_QUANT_INT8_SYMM_PER_LAYER
                                                         : NNADAPTER_QUANT_INT8_SYMM_PER_CHANNEL);
        if (k != 2)
            assert_memory_equal(n.to[0].data, k < 4 ? (const void *)y : k == 4 ? symmetric : each, 4);
        end(&n);
    }
}

/* A scale for each channel, axis 1 of [2,2]: 1 and 0.5. Halves are rounded away from zero. */
static void channels(void **state)
{
    static const float x[4] = {2.5f, 2.5f, -100, -100}, back[4] = {3, 2.5f, -100, -64};
    static const int8_t q[4] = {3, 5, -100, -128};
    const int32_t dims[2] = {2, 2};
    float scales[2] = {1, 0.5f};
    NNAdapterOperandType type = type_of(NNADAPTER_QUANT_INT8_SYMM_PER_CHANNEL, 2, dims);
    NNAdapterOperand *made[2];
    NNAdapterOperation *op;
    net n;
    (void)state;
    type.symm_per_channel_params.channel_dim = 1;
    type.symm_per_channel_params.scale_count = 2;
    type.symm_per_channel_params.scales = scales;
    for (int wrong = 0; wrong < 4; wrong++) {
        const int32_t zeros[2] = {0, wrong == 1};
        const float other[2] = {1, wrong == 2 ? 0.25f : 0.5f};
        is(begin(&n), OK);
        variable(&n, NNADAPTER_FLOAT32, 2, dims, x);
        if (wrong == 3)
            one_int(&n, 0);
        else
            left_out(&n); /* axis 1 */
        constant(&n, NNADAPTER_FLOAT32, 2, other, sizeof(float));
        ints(&n, 2, zeros);
        result(&n, &type);
        result(&n, NULL);
        made[0] = n.out[0];
        made[1] = n.out[1];
        n.nOut = 1;
        is(add(&n, NNADAPTER_QUANTIZE), wrong == 0 ? OK : IP);
        if (wrong == 0) {
            is(NNAdapterModel_addOperation(n.model, NNADAPTER_DEQUANTIZE, 1, &made[0], 1, &made[1], &op), OK);
            n.nOut = 2;
            is(finish(&n), OK);
            is(prepare(&n), OK);
            is(NNAdapterExecution_compute(n.execution), OK);
            assert_memory_equal(n.to[0].data, q, sizeof(q));
            assert_int_equal(n.to[0].precision, NNADAPTER_QUANT_INT8_SYMM_PER_CHANNEL);
            gives(&n, 1, 2, dims, back);
        }
        end(&n);
    }
}

/* Parameters that are left out, and operands in an order of their own. */
static void defaults(void **state)
{
    static const float x[6] = {1, 2, 3, 4, 5, 6}, turned[6] = {1, 4, 2, 5, 3, 6}, cut[2] = {2, 5};
    static const float sums[6] = {1, 3, 6, 4, 9, 15}, total = 21;
    const int32_t dims[2] = {2, 3}, back[2] = {3, 2}, first[2] = {0, 1}, last[2] = {2, 2}, cutDims[2] = {2, 1};
    const int32_t image[4] = {1, 1, 2, 3}, small[4] = {1, 1, 1, 2}, channels6[4] = {1, 6, 1, 1};
    net n;
    (void)state;
    is(begin(&n), OK); /* axes the other way round */
    variable(&n, NNADAPTER_FLOAT32, 2, dims, x);
    result(&n, NULL);
    is(run(&n, NNADAPTER_TRANSPOSE), OK);
    gives(&n, 0, 2, back, turned);
    end(&n);
    is(begin(&n), OK); /* the first axes, steps 1 */
    variable(&n, NNADAPTER_FLOAT32, 2, dims, x);
    left_out(&n);
    ints(&n, 2, first);
    ints(&n, 2, last);
    result(&n, NULL);
    is(run(&n, NNADAPTER_SLICE), OK);
    gives(&n, 0, 2, cutDims, cut);
    end(&n);
    is(begin(&n), OK); /* axis -1 */
    variable(&n, NNADAPTER_FLOAT32, 2, dims, x);
    result(&n, NULL);
    is(run(&n, NNADAPTER_CUM_SUM), OK);
    gives(&n, 0, 2, dims, sums);
    end(&n);
    is(begin(&n), OK); /* 5 channels: x / (1 + (sum of x * x over channels c - 2 to c + 2) / 5) */
    variable(&n, NNADAPTER_FLOAT32, 4, channels6, x);
    left_out(&n);
    for (int k = 0; k < 3; k++)
        one_float(&n, 1);
    result(&n, NULL);
    is(run(&n, NNADAPTER_LRN), OK);
    for (int c = 0; c < 6; c++) {
        double sum = 0;
        for (int k = c < 2 ? 0 : c - 2; k <= c + 2 && k < 6; k++)
            sum += (double)x[k] * (double)x[k];
        assert_float_equal(((const float *)n.to[0].data)[c], (float)((double)x[c] / (1 + sum / 5)), 1e-6f);
    }
    end(&n);
    is(begin(&n), OK); /* all axes */
    variable(&n, NNADAPTER_FLOAT32, 2, dims, x);
    result(&n, NULL);
    is(run(&n, NNADAPTER_REDUCE_SUM), OK);
    gives(&n, 0, 0, NULL, &total);
    end(&n);
    is(begin(&n), OK); /* scales: cell (r / 0.5, c / 0.67): rows 0, columns 0 and 1.49 cut to 1 */
    variable(&n, NNADAPTER_FLOAT32, 4, image, x);
    left_out(&n);
    {
        const float scales[2] = {0.5f, 0.67f};
        constant(&n, NNADAPTER_FLOAT32, 2, scales, sizeof(float));
    }
    one_bool(&n, false);
    result(&n, NULL);
    is(run(&n, NNADAPTER_RESIZE_NEAREST), OK);
    {
        static const float nearest[2] = {1, 2};
        gives(&n, 0, 4, small, nearest);
    }
    end(&n);
    for (int corners = 0; corners < 2; corners++) { /* [2] -> [4] along the columns: i / 2 cut, and i / 3 to the nearest */
        static const float wide[2][8] = {{1, 1, 2, 2, 3, 3, 4, 4}, {1, 1, 2, 2, 3, 3, 4, 4}};
        static const float three[2][6] = {{1, 1, 2, 3, 3, 4}, {1, 2, 2, 3, 4, 4}}; /* i * 2 / 3 cut; i / 2, 0.5 to 1 */
        const int32_t four[4] = {1, 1, 2, 2}, to[2][2] = {{2, 4}, {2, 3}};
        for (int k = 0; k < 2; k++) {
            const int32_t wanted[4] = {1, 1, 2, to[k][1]};
            is(begin(&n), OK);
            variable(&n, NNADAPTER_FLOAT32, 4, four, x);
            ints(&n, 2, to[k]);
            left_out(&n);
            one_bool(&n, corners != 0);
            result(&n, NULL);
            is(run(&n, NNADAPTER_RESIZE_NEAREST), OK);
            gives(&n, 0, 4, wanted, k == 0 ? wide[corners] : three[corners]);
            end(&n);
        }
    }
    is(begin(&n), OK); /* the values of dtype: int64 where nothing is said, int32 */
    variable(&n, NNADAPTER_FLOAT32, 2, dims, x);
    one_int(&n, 1);
    result(&n, NULL);
    is(run(&n, NNADAPTER_ARG_MAX), OK);
    assert_int_equal(n.to[0].precision, NNADAPTER_INT64);
    assert_int_equal(n.to[0].rank, 1);
    assert_int_equal(((const int64_t *)n.to[0].data)[1], 2);
    end(&n);
    is(begin(&n), OK); /* softmax along axis 1, not the last */
    variable(&n, NNADAPTER_FLOAT32, 4, image, x);
    result(&n, NULL);
    is(run(&n, NNADAPTER_SOFTMAX), OK);
    {
        static const float alone[6] = {1, 1, 1, 1, 1, 1};
        gives(&n, 0, 4, image, alone);
    }
    end(&n);
    is(begin(&n), OK); /* a list of conditions broadcasts: it does not choose rows */
    {
        static const uint8_t condition[2] = {1, 0};
        static const float a[4] = {1, 2, 3, 4}, b[4] = {-1, -2, -3, -4}, chosen[4] = {1, -2, 3, -4};
        const int32_t two[2] = {2, 2};
        variable(&n, NNADAPTER_BOOL8, 1, two, condition);
        variable(&n, NNADAPTER_FLOAT32, 2, two, a);
        variable(&n, NNADAPTER_FLOAT32, 2, two, b);
        result(&n, NULL);
        is(run(&n, NNADAPTER_WHERE), OK);
        gives(&n, 0, 2, two, chosen);
    }
    end(&n);
    is(begin(&n), OK); /* a fuse code that the operator itself has not */
    {
        static const float y[6] = {0, 9, 0, 0, 0, 0}, most[6] = {1, 6, 3, 4, 5, 6};
        variable(&n, NNADAPTER_FLOAT32, 2, dims, x);
        variable(&n, NNADAPTER_FLOAT32, 2, dims, y);
        one_int(&n, NNADAPTER_FUSED_RELU6);
        result(&n, NULL);
        is(run(&n, NNADAPTER_MAX), OK);
        gives(&n, 0, 2, dims, most);
    }
    end(&n);
    is(begin(&n), OK); /* RELU1 is 0 to 1 */
    {
        static const float y[6] = {-9, -9, -2.5f, 0, 0, 0}, clamped[6] = {0, 0, 0.5f, 1, 1, 1};
        variable(&n, NNADAPTER_FLOAT32, 2, dims, x);
        variable(&n, NNADAPTER_FLOAT32, 2, dims, y);
        one_int(&n, NNADAPTER_FUSED_RELU1);
        result(&n, NULL);
        is(run(&n, NNADAPTER_ADD), OK);
        gives(&n, 0, 2, dims, clamped);
    }
    end(&n);
}

/* Images that come from, and go to, operations that know no images: reshape, add, transpose, convolution, mean over the
   channels, pooling, and a matrix product at the end. */
static void chain(void **state)
{
    static const float x[6] = {1, 2, 3, 4, 5, 6}, zeros[6] = {0, 0, 0, 0, 0, 1}, w[4] = {1, 1, 2, 0}, two[2] = {1, 10};
    static const float sum[1] = {229};
    const int32_t flat = 6, image[4] = {1, 2, 1, 3}, perm[4] = {0, 2, 1, 3}, wDims[4] = {2, 1, 1, 2}, ones[2] = {1, 1};
    const int32_t axis = 1, last[2] = {2, 1}, one[2] = {1, 1}, rows[2] = {1, 2};
    const NNAdapterOperandType constants = type_of(NNADAPTER_FLOAT32, 4, image), any = type_of(NNADAPTER_FLOAT32, 0, NULL);
    const NNAdapterOperandType filter = type_of(NNADAPTER_FLOAT32, 4, wDims), column = type_of(NNADAPTER_FLOAT32, 2, last);
    NNAdapterOperand *t[7];
    NNAdapterOperation *op;
    net n;
    (void)state;
    is(begin(&n), OK);
    for (int i = 0; i < 7; i++)
        is(NNAdapterModel_addOperand(n.model, &any, &t[i]), OK);
    variable(&n, NNADAPTER_FLOAT32, 1, &flat, x);
    ints(&n, 4, image);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_RESHAPE, 2, n.in, 1, &t[0], &op), OK); /* [1,2,1,3] */
    n.in[0] = t[0];
    n.in[1] = operand(&n, &constants, zeros, sizeof(zeros), false);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ADD, 2, n.in, 1, &t[1], &op), OK); /* 1 2 3 / 4 5 7 */
    n.in[0] = t[1];
    n.nIn = 1;
    ints(&n, 4, perm);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_TRANSPOSE, 2, n.in, 1, &t[2], &op), OK); /* [1,1,2,3] */
    n.in[0] = t[2];
    n.nIn = 1;
    n.in[n.nIn++] = operand(&n, &filter, w, sizeof(w), false);
    left_out(&n);
    one_int(&n, NNADAPTER_AUTO_PAD_VALID);
    left_out(&n);
    ints(&n, 2, ones);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_CONV_2D, 6, n.in, 1, &t[3], &op), OK);
    /* [1,2,2,2]: 3 5 / 9 12 and 2 4 / 8 10 */
    n.in[0] = t[3];
    n.nIn = 1;
    ints(&n, 1, &axis);
    one_bool(&n, true);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_REDUCE_SUM, 3, n.in, 1, &t[4], &op), OK); /* 5 9 / 17 22 */
    n.in[0] = t[4];
    n.nIn = 1;
    one_int(&n, NNADAPTER_AUTO_PAD_NONE);
    left_out(&n);
    ints(&n, 2, rows); /* windows of one row and two columns: 9, 22 */
    ints(&n, 2, one);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_MAX_POOL_2D, 5, n.in, 1, &t[5], &op), OK); /* [1,1,2,1] */
    n.in[0] = t[5];
    n.nIn = 1;
    {
        const int32_t two2[2] = {1, 2};
        ints(&n, 2, two2);
        result(&n, NULL);
        is(NNAdapterModel_addOperation(n.model, NNADAPTER_RESHAPE, 2, n.in, 1, &n.out[0], &op), OK);
    }
    n.in[0] = n.out[0];
    n.in[1] = operand(&n, &column, two, sizeof(two), false);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_MAT_MUL, 2, n.in, 1, &t[6], &op), OK); /* 9 + 220 */
    n.out[0] = t[6];
    is(finish(&n), OK);
    is(prepare(&n), OK);
    is(NNAdapterExecution_compute(n.execution), OK);
    gives(&n, 0, 2, one, sum);
    end(&n);
}

/* A quantized type of one scale, or of several (count > 0) along `axis`. */
static NNAdapterOperandType codes_of(int precision, uint32_t rank, const int32_t *dims, float *scales, uint32_t count, uint32_t axis)
{
    NNAdapterOperandType type = type_of(precision, rank, dims);
    if (count > 0) {
        type.symm_per_channel_params.scales = scales;
        type.symm_per_channel_params.scale_count = count;
        type.symm_per_channel_params.channel_dim = axis;
    } else {
        type.symm_per_layer_params.scale = *scales;
    }
    return type;
}

static int32_t code_of(double v)
{
    const double r = nearbyint(v);
    return r < -128 ? -128 : r > 127 ? 127 : (int32_t)r;
}

/* The fully connected layer of Paddle-Lite in 8 bits: MAT_MUL, then ADD with a bias of int32. Weights [K,N], also square ones,
   have one scale, or N scales with channel_dim 0, the axis after a later transposition. */
static void fully_connected_as_paddle_lite(void **state)
{
    enum { ROWS = 2, K = 4 };
    (void)state;
    for (int32_t kind = 0; kind < 8; kind++) {
        const int32_t columns = kind % 2 == 0 ? 3 : K, xDims[2] = {ROWS, K}, wDims[2] = {K, columns}, yDims[2] = {ROWS, columns};
        const bool each = kind / 2 % 2 == 1, relu = kind >= 4;
        static const int8_t x[ROWS * K] = {1, -7, 100, 50, -128, 3, 44, 127};
        int8_t w[K * K];
        int32_t bias[K];
        float sx = 0.0371f, sw[K] = {0.0123f, 0.0317f, 0.0077f, 0.0211f}, sm = 0.213f, sy = 0.147f, sb[K];
        NNAdapterOperandType type;
        NNAdapterOperand *product;
        NNAdapterOperation *op;
        net n;
        for (int32_t i = 0; i < K * columns; i++)
            w[i] = (int8_t)(i * 37 % 251 - 125);
        for (int32_t i = 0; i < columns; i++) {
            bias[i] = 1713 * i * (i % 2 == 0 ? 1 : -1) + 77;
            sb[i] = sx * sw[each ? i : 0];
        }
        is(begin(&n), OK);
        variable(&n, NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 2, xDims, x);
        n.in[0]->type.symm_per_layer_params.scale = sx;
        type = codes_of(each ? NNADAPTER_QUANT_INT8_SYMM_PER_CHANNEL : NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 2, wDims, sw,
                        each ? (uint32_t)columns : 0, 0);
        n.in[n.nIn] = placed(&n, &type, w, (size_t)(K * columns), false, true);
        assert_non_null(n.in[n.nIn++]);
        one_bool(&n, false);
        one_bool(&n, false);
        type = codes_of(NNADAPTER_UNKNOWN, 0, NULL, &sm, 0, 0);
        product = placed(&n, &type, NULL, 0, false, false);
        is(NNAdapterModel_addOperation(n.model, NNADAPTER_MAT_MUL, n.nIn, n.in, 1, &product, &op), OK);
        n.nIn = 0;
        n.in[n.nIn++] = product;
        type = codes_of(each ? NNADAPTER_QUANT_INT32_SYMM_PER_CHANNEL : NNADAPTER_QUANT_INT32_SYMM_PER_LAYER, 1, &columns, sb,
                        each ? (uint32_t)columns : 0, 0);
        n.in[n.nIn] = placed(&n, &type, bias, (size_t)columns * sizeof(*bias), false, true);
        assert_non_null(n.in[n.nIn++]);
        one_int(&n, relu ? NNADAPTER_FUSED_RELU : NNADAPTER_FUSED_NONE);
        type = codes_of(NNADAPTER_UNKNOWN, 0, NULL, &sy, 0, 0);
        result(&n, &type);
        is(run(&n, NNADAPTER_ADD), OK);
        assert_int_equal(n.to[0].precision, NNADAPTER_QUANT_INT8_SYMM_PER_LAYER);
        assert_memory_equal(n.to[0].dims, yDims, sizeof(yDims));
        for (int32_t r = 0; r < ROWS; r++)
            for (int32_t c = 0; c < columns; c++) {
                int32_t sum = 0;
                double y;
                for (int32_t k = 0; k < K; k++)
                    sum += x[r * K + k] * w[k * columns + c];
                y = code_of(sum * ((double)sx * (double)sw[each ? c : 0] / (double)sm)) * (double)sm + bias[c] * (double)sb[each ? c : 0];
                y = relu && y < 0 ? 0 : y;
                assert_int_equal(((const int8_t *)n.to[0].data)[r * columns + c], code_of(y / (double)sy));
            }
        end(&n);
    }
}

/* Operands as Paddle-Lite's converters pass them: NULL for indices that nobody wants, INT8 for a condition. */
static void operands_as_paddle_lite(void **state)
{
    static const float x[8] = {1, 5, 3, 4, 8, 6, 7, 2}, largest[2] = {5, 8};
    const int32_t image[4] = {1, 2, 2, 2}, pooled[4] = {1, 2, 1, 1}, ones[2] = {2, 2}, zeros[4] = {0}, rows[2] = {2, 4};
    const int8_t keep[2] = {0, 1};
    net n;
    (void)state;
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        const int32_t size[2] = {1, 1};
        is(begin(&n), OK);
        variable(&n, NNADAPTER_FLOAT32, 4, image, x);
        if (adaptive == 1) {
            ints(&n, 2, size);
            one_bool(&n, false);
            one_int(&n, NNADAPTER_INT32);
        } else {
            one_int(&n, NNADAPTER_AUTO_PAD_NONE);
            ints(&n, 4, zeros);
            ints(&n, 2, ones);
            ints(&n, 2, ones);
            one_bool(&n, false);
            one_bool(&n, false);
            one_int(&n, NNADAPTER_INT32);
            one_int(&n, NNADAPTER_FUSED_NONE);
        }
        result(&n, NULL);
        {
            NNAdapterOperand *out[2] = {n.out[0], NULL};
            NNAdapterOperation *op;
            is(NNAdapterModel_addOperation(n.model, adaptive == 1 ? NNADAPTER_ADAPTIVE_MAX_POOL_2D : NNADAPTER_MAX_POOL_2D, n.nIn, n.in,
                                           2, out, &op), OK);
        }
        is(finish(&n), OK);
        is(prepare(&n), OK);
        is(NNAdapterExecution_compute(n.execution), OK);
        gives(&n, 0, 4, pooled, largest);
        end(&n);
    }
    for (uint32_t k = 0; k < 4; k++) {
        const int32_t op = k < 2 ? NNADAPTER_ARG_MAX : NNADAPTER_ARG_MIN;
        is(begin(&n), OK);
        variable(&n, NNADAPTER_FLOAT32, 2, rows, x);
        one_int(&n, 1);
        constant(&n, NNADAPTER_INT8, 1, &keep[k % 2], 1);
        one_int(&n, NNADAPTER_INT64);
        result(&n, NULL);
        is(run(&n, op), OK);
        assert_int_equal(n.to[0].rank, 1 + k % 2);
        assert_int_equal(((const int64_t *)n.to[0].data)[0], k < 2 ? 1 : 0);
        assert_int_equal(((const int64_t *)n.to[0].data)[1], k < 2 ? 0 : 3);
        end(&n);
    }
}

/* The kernel of a global pool has the dimensions of a dynamic image: NNADAPTER_UNKNOWN is the size in a run. */
static void global_pools_as_paddle_lite(void **state)
{
    static const float x[6] = {1, 2, 3, 4, 5, 9}, means[2] = {4, 1.5f}, most[2] = {9, 2};
    const int32_t open[4] = {1, 1, OPEN, OPEN}, half[4] = {1, 1, OPEN, 3}, one[4] = {1, 1, 1, 1}, zeros[4] = {0};
    const int32_t ones[2] = {1, 1};
    (void)state;
    for (int32_t kind = 0; kind < 4; kind++) { /* both pools; both dimensions are dynamic, or the height */
        const bool average = kind % 2 == 0;
        const int32_t *dims = kind < 2 ? open : half;
        net n;
        is(begin(&n), OK);
        variable(&n, NNADAPTER_FLOAT32, 4, dims, x);
        one_int(&n, NNADAPTER_AUTO_PAD_NONE);
        ints(&n, 4, zeros);
        ints(&n, 2, dims + 2);
        ints(&n, 2, ones);
        one_bool(&n, false);
        one_bool(&n, false);
        one_int(&n, average ? NNADAPTER_FUSED_NONE : NNADAPTER_INT32);
        if (!average)
            one_int(&n, NNADAPTER_FUSED_NONE);
        result(&n, NULL);
        n.from[0].dims[2] = 2;
        n.from[0].dims[3] = 3;
        is(run(&n, average ? NNADAPTER_AVERAGE_POOL_2D : NNADAPTER_MAX_POOL_2D), OK);
        gives(&n, 0, 4, one, average ? &means[0] : &most[0]);
        if (kind < 2) {
            n.from[0].dims[2] = 1;
            n.from[0].dims[3] = 2;
            is(NNAdapterExecution_compute(n.execution), OK);
            gives(&n, 0, 4, one, average ? &means[1] : &most[1]);
        }
        end(&n);
    }
    { /* another width than the image's */
        const int32_t kernel[2] = {OPEN, 2};
        net n;
        is(begin(&n), OK);
        variable(&n, NNADAPTER_FLOAT32, 4, half, x);
        one_int(&n, NNADAPTER_AUTO_PAD_NONE);
        ints(&n, 4, zeros);
        ints(&n, 2, kernel);
        ints(&n, 2, ones);
        one_bool(&n, false);
        one_bool(&n, false);
        one_int(&n, NNADAPTER_FUSED_NONE);
        result(&n, NULL);
        is(add(&n, NNADAPTER_AVERAGE_POOL_2D), IP);
        end(&n);
    }
}

/* RESIZE with a size and scales, of which Paddle-Lite passes 0 for none: positive scales take precedence. */
static void sizes_as_paddle_lite(void **state)
{
    static const float x[2] = {1, 2}, y[2][8] = {{1, 1, 2, 2, 1, 1, 2, 2}, {1, 1, 2, 2}}, scales[2][2] = {{2, 2}, {0, 0}};
    const int32_t image[4] = {1, 1, 1, 2}, size[2] = {1, 4}, dims[2][4] = {{1, 1, 2, 4}, {1, 1, 1, 4}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        net n;
        is(begin(&n), OK);
        variable(&n, NNADAPTER_FLOAT32, 4, image, x);
        ints(&n, 2, size);
        constant(&n, NNADAPTER_FLOAT32, 2, scales[k], sizeof(float));
        one_bool(&n, false);
        result(&n, NULL);
        is(run(&n, NNADAPTER_RESIZE_NEAREST), OK);
        gives(&n, 0, 4, dims[k], y[k]);
        end(&n);
    }
}

/* A filter [Cin,Cout,1,1] of CONV_2D_TRANSPOSE has Cout scales with channel_dim 0, also if Cin is Cout. */
static void transposed_as_paddle_lite(void **state)
{
    static const int8_t x[2] = {10, 6}, w[4] = {4, -8, 2, 1}, y[2][2] = {{10, -40}, {13, -37}}; /* x / 2 * (w times its scale) */
    float scales[2] = {0.25f, 0.5f}, half = 0.5f;
    const int32_t zeros[4] = {0}, ones[2] = {1, 1};
    (void)state;
    for (int32_t in = 1; in <= 2; in++) {
        const int32_t image[4] = {1, in, 1, 1}, filter[4] = {in, 2, 1, 1}, out[4] = {1, 2, 1, 1};
        NNAdapterOperandType type = codes_of(NNADAPTER_QUANT_INT8_SYMM_PER_CHANNEL, 4, filter, scales, 2, 0);
        net n;
        is(begin(&n), OK);
        variable(&n, NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 4, image, x);
        n.in[0]->type.symm_per_layer_params.scale = half;
        n.in[n.nIn] = placed(&n, &type, w, (size_t)(2 * in), false, true);
        assert_non_null(n.in[n.nIn++]);
        left_out(&n);
        one_int(&n, NNADAPTER_AUTO_PAD_NONE);
        ints(&n, 4, zeros);
        ints(&n, 2, ones);
        one_int(&n, 1);
        ints(&n, 2, ones);
        ints(&n, 2, zeros);
        left_out(&n);
        one_int(&n, NNADAPTER_FUSED_NONE);
        type = codes_of(NNADAPTER_UNKNOWN, 0, NULL, &half, 0, 0);
        result(&n, &type);
        is(run(&n, NNADAPTER_CONV_2D_TRANSPOSE), OK);
        assert_memory_equal(n.to[0].dims, out, sizeof(out));
        assert_memory_equal(n.to[0].data, y[in - 1], 2);
        end(&n);
    }
}

/* Constants of FLOAT32 beside int8: the exponent of POW and a factor. QUANTIZE of INT32. TOP_K without a scale. */
static void numbers_as_paddle_lite(void **state)
{
    static const int8_t x[4] = {2, -3, 4, 6}, squares[4] = {4, 9, 16, 36}, cut[4] = {4, 9, 16, 24}, halves[4] = {2, -3, 4, 6};
    static const int32_t integers[4] = {3, -5, 400, 0};
    static const int8_t quantised[4] = {2, -3, 127, 0}, largest[2] = {6, 4};
    static const struct {
        int32_t op, fuse;
        float constant;
        const int8_t *y;
    } cases[] = {{NNADAPTER_POW, NNADAPTER_FUSED_NONE, 2, squares},
                 {NNADAPTER_POW, NNADAPTER_FUSED_RELU6, 2, cut},
                 {NNADAPTER_MUL, NNADAPTER_FUSED_NONE, 0.5f, halves}};
    const int32_t four = 4;
    NNAdapterOperandType type = type_of(NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 1, &four);
    net n;
    (void)state;
    type.symm_per_layer_params.scale = 0.5f;
    for (uint32_t k = 0; k < COUNT(cases); k++) {
        is(begin(&n), OK);
        n.nIn = 1;
        one_float(&n, cases[k].constant);
        one_int(&n, cases[k].fuse);
        is(unknown_of(&n, cases[k].op, &type, x, 0.25f, 0), OK);
        assert_int_equal(n.to[0].precision, NNADAPTER_QUANT_INT8_SYMM_PER_LAYER);
        assert_memory_equal(n.to[0].data, cases[k].y, 4);
        end(&n);
    }
    is(begin(&n), OK);
    variable(&n, NNADAPTER_INT32, 1, &four, integers);
    one_int(&n, 0);
    one_float(&n, 1.5f);
    one_int(&n, 0);
    n.out[n.nOut++] = unknown(&n, 1.5f, 0);
    is(run(&n, NNADAPTER_QUANTIZE), OK);
    assert_memory_equal(n.to[0].data, quantised, 4);
    end(&n);
    is(begin(&n), OK);
    n.nIn = 1;
    one_int(&n, 2);
    n.out[n.nOut + 1] = unknown(&n, 0, 0);
    is(unknown_of(&n, NNADAPTER_TOP_K, &type, x, 0, 0), IP); /* one output too few */
    n.nOut = 2;
    is(add(&n, NNADAPTER_TOP_K), OK);
    is(finish(&n), OK);
    is(prepare(&n), OK);
    is(NNAdapterExecution_compute(n.execution), OK);
    assert_int_equal(n.to[0].precision, NNADAPTER_QUANT_INT8_SYMM_PER_LAYER);
    assert_memory_equal(n.to[0].data, largest, 2);
    assert_int_equal(((const int64_t *)n.to[1].data)[0], 3);
    end(&n);
}

/* Operations whose shapes only a run has count as supported, with the operations that read their results. */
static void supported_in_the_run(void **state)
{
    static const float x = -7, y[2] = {7, 7};
    static const int32_t shape = 2;
    const int32_t one = 1;
    NNAdapterOperand *between;
    NNAdapterOperation *op;
    bool answers[2] = {false, false};
    net n;
    (void)state;
    is(begin(&n), OK);
    variable(&n, NNADAPTER_FLOAT32, 1, &one, &x);
    variable(&n, NNADAPTER_INT32, 1, &one, &shape);
    between = unknown(&n, 0, 0);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_EXPAND, 2, n.in, 1, &between, &op), OK);
    n.in[0] = between;
    n.nIn = 1;
    n.out[n.nOut++] = unknown(&n, 0, 0);
    is(add(&n, NNADAPTER_ABS), OK);
    is(finish(&n), OK);
    is(prepare(&n), OK);
    is(NNAdapterModel_getSupportedOperations(n.model, n.context, answers), OK);
    assert_true(answers[0] && answers[1]);
    is(NNAdapterExecution_compute(n.execution), OK);
    gives(&n, 0, 1, &shape, y);
    end(&n);
}

/* Operations without an exact equivalent are refused, and invalid ones. */
static void refused(void **state)
{
    static const float x[24] = {0};
    const int32_t image[4] = {1, 4, 2, 3}, one = 1, zeros[2] = {0, 1}, flat[4] = {1, 4, 1, 3};
    net n;
    (void)state;
    is(begin(&n), OK); /* LRN over an even number of channels */
    variable(&n, NNADAPTER_FLOAT32, 4, image, x);
    one_int(&n, 4);
    result(&n, NULL);
    is(add(&n, NNADAPTER_LRN), NO);
    end(&n);
    is(begin(&n), OK); /* ceil_mode is no integer */
    variable(&n, NNADAPTER_FLOAT32, 4, image, x);
    one_int(&n, 0);
    left_out(&n);
    ints(&n, 2, image + 2);
    ints(&n, 2, zeros); /* a stride of 0 */
    result(&n, NULL);
    is(add(&n, NNADAPTER_MAX_POOL_2D), IP);
    n.nIn = 4;
    ints(&n, 2, image + 2);
    one_int(&n, 0);
    is(add(&n, NNADAPTER_MAX_POOL_2D), IP);
    n.nIn = 5;
    one_bool(&n, false);
    is(add(&n, NNADAPTER_MAX_POOL_2D), OK);
    end(&n);
    is(begin(&n), OK); /* PAD without a mode */
    variable(&n, NNADAPTER_FLOAT32, 1, &one, x);
    ints(&n, 2, zeros);
    one_int(&n, NNADAPTER_PAD_MODE_NONE);
    result(&n, NULL);
    is(add(&n, NNADAPTER_PAD), IP);
    end(&n);
    is(begin(&n), OK); /* one cell of several, from their middle */
    variable(&n, NNADAPTER_FLOAT32, 4, image, x);
    ints(&n, 2, flat + 2);
    left_out(&n);
    one_bool(&n, false);
    one_int(&n, 0);
    result(&n, NULL);
    is(add(&n, NNADAPTER_RESIZE_LINEAR), NO);
    end(&n);
    is(begin(&n), OK); /* TILE has an entry for each axis */
    variable(&n, NNADAPTER_FLOAT32, 4, image, x);
    ints(&n, 2, image);
    result(&n, NULL);
    is(add(&n, NNADAPTER_TILE), DIMS);
    end(&n);
    is(begin(&n), OK); /* UNSTACK into as many as there are */
    variable(&n, NNADAPTER_FLOAT32, 4, image, x);
    one_int(&n, 2);
    one_int(&n, 3);
    result(&n, NULL);
    result(&n, NULL);
    is(add(&n, NNADAPTER_UNSTACK), IP);
    end(&n);
    is(begin(&n), OK); /* INSTANCE_NORMALIZATION with nothing added */
    variable(&n, NNADAPTER_FLOAT32, 4, image, x);
    variable(&n, NNADAPTER_FLOAT32, 1, image + 1, x);
    variable(&n, NNADAPTER_FLOAT32, 1, image + 1, x);
    one_float(&n, 0);
    result(&n, NULL);
    is(add(&n, NNADAPTER_INSTANCE_NORMALIZATION), NO);
    end(&n);
    is(begin(&n), OK); /* CAST to a quantized type */
    variable(&n, NNADAPTER_FLOAT32, 4, image, x);
    one_int(&n, NNADAPTER_QUANT_INT8_SYMM_PER_LAYER);
    result(&n, NULL);
    is(add(&n, NNADAPTER_CAST), IP);
    end(&n);
}

/* ---- every operation against tests/ops/vectors ---- */

/* An operation, the file, and its operands, from the case: a number: that input; * all inputs; - none; F1: input 1 as one axis;
   W and V: input 1, a filter, in NNAdapter's order, of CONV_2D and of CONV_2D_TRANSPOSE; letter.attribute: a constant, b bool,
   n int32, r float32, l and L list of int32 (none where it is empty; L: the case is left out), q list of float32, a the one
   entry of a list; k.attribute: input k, or where there is none and x is float32 the attribute; f fuse code, m padMode, c
   roundMode, i interpolation, g padding of GRID_SAMPLE, p padding mode; t.k the type of result k; B0, B1, I5: constants; D the
   axis 0 where input 2 is left out; H shape and scales; C are corners aligned; M align_mode; O whether a second result exists;
   S and A size and alpha of LRN; U number of results; Z axis, scale, zero point of QUANTIZE. After |: required values of
   attributes. */
static const struct operation_case {
    int32_t op;
    const char *name, *file, *operands;
} operation_cases[] = {
#define X(op, file, operands) {NNADAPTER_##op, #op, file, operands}
    X(ABS, "abs", "0"),
    X(ADAPTIVE_AVERAGE_POOL_2D, "adaptive_average_pool_2d", "0 1"),
    X(ADAPTIVE_MAX_POOL_2D, "adaptive_max_pool_2d", "0 1 O t.1"),
    X(ADD, "add_fusion", "0 1 f.activationType"),
    X(AND, "logical_and", "0 1"),
    X(ARG_MAX, "argmax_fusion", "0 n.axis b.keepDims t.0 | topK=1 outMaxValue=0"),
    X(ARG_MIN, "argmin_fusion", "0 n.axis b.keepDims t.0 | topK=1 outMaxValue=0"),
    X(ASSIGN, "assign", "0"),
    X(AVERAGE_POOL_2D, "avgpool_fusion", "0 m.padMode l.pad L.kernelSize L.strides c.roundMode B0 f.activationType | global=0"),
    X(AVERAGE_POOL_2D, "avgpool_include_pad",
      "0 m.padMode l.pad L.kernelSize L.strides c.roundMode B1 f.activationType | global=0"),
    X(BATCH_NORMALIZATION, "fused_batch_norm", "0 1 2 3 4 r.epsilon"),
    X(CAST, "cast", "0 t.0"),
    X(CHANNEL_SHUFFLE, "channel_shuffle", "0 n.group"),
    X(CLIP, "clip", "0 1.min 2.max"),
    X(CONCAT, "concat", "* n.axis"),
    X(CONV_2D, "conv2d_fusion", "0 W 2 m.padMode l.padList L.stride n.group l.dilation f.activationType"),
    X(CONV_2D_TRANSPOSE, "conv2d_transpose_fusion",
      "0 V 2 m.padMode l.padList L.stride n.group l.dilation l.outputPaddings - f.activationType"),
    X(COS, "cos", "0"),
    X(CUM_SUM, "cum_sum", "0 1 b.exclusive b.reverse"),
    X(DEFORMABLE_CONV_2D, "deformable_conv_2d",
      "0 1 2 3 4 l.padList L.stride n.group n.deformableGroup l.dilation f.activationType"),
    X(DEQUANTIZE, "quant_dtype_cast", "0 | dstT=43"),
    X(DIV, "div_fusion", "0 1 f.activationType"),
    X(EQUAL, "equal", "0 1"),
    X(EXP, "expfusion", "0 | base=-1 scale=1 shift=0"),
    X(EXPAND, "broadcast_to", "0 1"),
    X(FILL, "fill", "1 0"),
    X(FILL_LIKE, "fill_like", "0 1"),
    X(FLATTEN, "flatten_range", "0 n.startAxis n.endAxis"),
    X(FLOOR, "floor", "0"),
    X(FLOOR_DIV, "floor_div", "0 1 -"),
    X(FULLY_CONNECTED, "full_connection", "0 1 2 f.activationType | useAxis=0"),
    X(GATHER, "gather", "0 1 D"),
    X(GELU, "activation", "0 b.approximate | activationType=19"),
    X(GREATER, "greater", "0 1"),
    X(GREATER_EQUAL, "greater_equal", "0 1"),
    X(GRID_SAMPLE, "grid_sample", "0 1 b.alignCorners i.method g.paddingMode"),
    X(GROUP_NORMALIZATION, "group_norm_fusion", "0 1 2 r.epsilon n.numGroups | affine=1"),
    X(HARD_SIGMOID, "hard_sigmoid", "0 r.alpha r.beta"),
    X(HARD_SWISH, "hard_swish", "0 r.alpha r.beta"),
    X(INSTANCE_NORMALIZATION, "instance_norm", "0 1 2 r.epsilon"),
    X(LAYER_NORMALIZATION, "layer_norm_fusion", "0 1 2 n.beginNormAxis r.epsilon | elementwiseAffine=1"),
    X(LEAKY_RELU, "leaky_relu", "0 r.negativeSlope"),
    X(LESS, "less", "0 1"),
    X(LESS_EQUAL, "less_equal", "0 1"),
    X(LOG, "log", "0"),
    X(LOG_SOFTMAX, "log_softmax", "0 n.axis"),
    X(LP_NORMALIZATION, "lp_normalization", "0 n.axis n.p r.epsilon"),
    X(LRN, "lrn", "0 S r.bias A r.beta"),
    X(MAT_MUL, "matmul_fusion", "0 1 b.transposeA b.transposeB | activationType=0"),
    X(MAX, "maximum", "0 1 -"),
    X(MAX_POOL_2D, "max_pool_fusion",
      "0 m.padMode l.pad L.kernelSize L.strides c.roundMode O t.1 f.activationType | global=0"),
    X(MESHGRID, "meshgrid", "*"),
    X(MIN, "minimum", "0 1 -"),
    X(MUL, "mul_fusion", "0 1 f.activationType"),
    X(NOT, "logical_not", "0"),
    X(NOT_EQUAL, "not_equal", "0 1"),
    X(OR, "logical_or", "0 1"),
    X(PAD, "pad_fusion", "0 F1 p.paddingMode 2.constantValue"),
    X(PAD, "pad_edge", "0 F1 I4 -"),
    X(POW, "pow_fusion", "0 1 - | scale=1 shift=0"),
    X(PRIOR_BOX, "prior_box",
      "0 1 q.minSizes q.maxSizes q.aspectRatios q.variances b.flip b.clip r.stepW r.stepH r.offset "
      "b.minMaxAspectRatiosOrder"),
    X(PRELU, "prelu_fusion", "0 1"),
    X(QUANTIZE, "quant_dtype_cast", "0 Z | srcT=43"),
    X(RANGE, "range", "0 1 2"),
    X(REDUCE_MEAN, "reduce_fusion", "0 1 b.keepDims | mode=0 reduceToEnd=0"),
    X(REDUCE_MAX, "reduce_fusion", "0 1 b.keepDims | mode=1 reduceToEnd=0"),
    X(REDUCE_SUM, "reduce_fusion", "0 1 b.keepDims | mode=4 reduceToEnd=0"),
    X(RELU, "activation", "0 | activationType=1"),
    X(RELU6, "activation", "0 | activationType=3"),
    X(RESHAPE, "reshape", "0 1"),
    X(RESIZE_NEAREST, "resize", "0 H C | method=1"),
    X(RESIZE_LINEAR, "resize", "0 H C M | method=0"),
    X(ROI_ALIGN, "roi_align", "0 1 2 n.outputHeight n.outputWidth n.samplingRatio r.spatialScale b.aligned"),
    X(ROLL, "roll", "0 1 2"),
    X(RSQRT, "rsqrt", "0"),
    X(SHAPE, "shape", "0 t.0"),
    X(SIGMOID, "activation", "0 | activationType=2"),
    X(SIN, "sin", "0"),
    X(SLICE, "strided_slice", "0 3 1 2 4"),
    X(SOFTMAX, "softmax", "0 a.axis"),
    X(SOFTPLUS, "softplus", "0 r.beta r.threshold"),
    X(SPLIT, "split", "0 n.axis L.sizeSplits"),
    X(SQUARE, "square", "0"),
    X(SQUEEZE, "squeeze", "0 l.axis"),
    X(STACK, "stack", "* n.axis"),
    X(SUB, "sub_fusion", "0 1 f.activationType"),
    X(SUM, "add_n", "*"),
    X(SWISH, "activation", "0 | activationType=18"),
    X(TANH, "activation", "0 | activationType=10"),
    X(TILE, "tile_fusion", "0 1"),
    X(TOP_K, "topk_fusion", "0 1 n.axis B1 b.sorted t.1"),
    X(TOP_K, "bottom_k", "0 1 n.axis B0 b.sorted t.1"),
    X(TRANSPOSE, "transpose", "0 1"),
    X(UNSQUEEZE, "unsqueeze", "0 L.axis"),
    X(UNSTACK, "unstack", "0 n.axis U"),
    X(WHERE, "where", "0 1 2"),
    X(XOR, "logical_xor", "0 1"),
    X(NON_MAX_SUPPRESSION, "multiclass_nms",
      "0 1 2 n.backgroundLabel r.scoreThreshold n.nmsTopK r.nmsThreshold r.nmsEta n.keepTopK b.normalized b.returnIndex"),
    X(YOLO_BOX, "yolo_box",
      "0 1 2 n.classNum r.confThresh n.downsampleRatio b.clipBbox r.scaleXY b.iouAware r.iouAwareFactor"),
#undef X
};

static const nnrt_attr_member *member_of(const vec_case *c, const char *name)
{
    for (uint32_t i = 0; i < c->op->attr->count; i++)
        if (strcmp(c->op->attr->members[i].name, name) == 0)
            return &c->op->attr->members[i];
    return NULL;
}

/* An attribute that is a number. */
static double number_of(const vec_case *c, const char *name)
{
    const nnrt_attr_member *m = member_of(c, name);
    const void *at;
    if (m == NULL)
        fail_msg("%s has no %s", c->opName, name);
    at = (const uint8_t *)c->attr + m->offset;
    switch (m->kind) {
    case NNRT_ATTR_KIND_BOOL: return *(const bool *)at;
    case NNRT_ATTR_KIND_FLOAT: return (double)*(const float *)at;
    case NNRT_ATTR_KIND_ENUM: return *(const int32_t *)at;
    case NNRT_ATTR_KIND_TYPE: return m->bytes == 8 ? (double)*(const int64_t *)at : *(const int32_t *)at;
    default: return (double)*(const int64_t *)at;
    }
}

static const NNRT_Int64List *list_of(const vec_case *c, const char *name)
{
    return (const NNRT_Int64List *)(const void *)((const uint8_t *)c->attr + member_of(c, name)->offset);
}

/* The type of a tensor of a case as NNAdapter has it; false: it has none. scales: of one for each channel. */
static bool vec_type_of(const vec_tensor *t, int32_t axis, NNAdapterOperandType *type, float *scales)
{
    int precision = 0;
    if (t->rank > 8)
        return false;
    while (precision <= NNADAPTER_FLOAT64 && nnrti_nna_type(precision) != t->dataType)
        precision++;
    if (precision > NNADAPTER_FLOAT64)
        return false;
    *type = type_of(precision, (uint32_t)t->rank, t->dims);
    if (t->quantCount == 0 || precision >= NNADAPTER_FLOAT16)
        return true;
    for (uint32_t i = 0; i < t->quantCount; i++) {
        scales[i] = (float)t->quant[i].scale;
        if (t->quant[i].numBits != (int32_t)(8 * nnrt_type_size(t->dataType)) ||
            (double)scales[i] != t->quant[i].scale ||
            (precision != NNADAPTER_UINT8 && precision != NNADAPTER_UINT16 && t->quant[i].zeroPoint != 0))
            return false;
    }
    if (precision == NNADAPTER_UINT8 || precision == NNADAPTER_UINT16) {
        type->precision =
            precision == NNADAPTER_UINT8 ? NNADAPTER_QUANT_UINT8_ASYMM_PER_LAYER : NNADAPTER_QUANT_UINT16_ASYMM_PER_LAYER;
        type->asymm_per_layer_params.scale = scales[0];
        type->asymm_per_layer_params.zero_point = t->quant[0].zeroPoint;
        return t->quantCount == 1;
    }
    if (precision != NNADAPTER_INT8 && precision != NNADAPTER_INT16 && precision != NNADAPTER_INT32)
        return false;
    type->precision = precision == NNADAPTER_INT8    ? NNADAPTER_QUANT_INT8_SYMM_PER_LAYER
                      : precision == NNADAPTER_INT16 ? NNADAPTER_QUANT_INT16_SYMM_PER_LAYER
                                                     : NNADAPTER_QUANT_INT32_SYMM_PER_LAYER;
    type->symm_per_layer_params.scale = scales[0];
    if (t->quantCount > 1) {
        type->precision = (NNAdapterOperandPrecisionCode)(type->precision + 1);
        type->symm_per_channel_params.channel_dim = (uint32_t)(t->quantAxis > 0 ? t->quantAxis - 1 : axis);
        type->symm_per_channel_params.scale_count = t->quantCount;
        type->symm_per_channel_params.scales = scales;
        return axis >= 0 || t->quantAxis > 0;
    }
    return true;
}

/* Appends input k of a case; false: it cannot be said. flat: as one axis. */
static bool vec_input(net *n, const vec_case *c, uint32_t k, bool flat)
{
    const vec_tensor *t = &c->in[k];
    const int32_t first = c->op->type == NNRT_NODE_TYPE_FULL_CONNECTION ? 0 : -1;
    NNAdapterOperandType type;
    float scales[VEC_QUANT];
    if (k >= c->nIn || !t->present) {
        left_out(n);
        return true;
    }
    if (!vec_type_of(t, k == 1 ? first : -1, &type, scales))
        return false;
    if (k == 2 && t->dataType == NNRT_DATA_TYPE_INT32 && t->quantCount > 0) { /* a bias: its parameters have no effect */
        type = type_of(NNADAPTER_INT32, (uint32_t)t->rank, t->dims);
    }
    if (flat && type.dimensions.count == 2) {
        type.dimensions.count = 1;
        type.dimensions.data[0] *= t->dims[1];
    }
    if (!t->constant || t->count == 0) {
        memory *m = &n->from[n->nInputs];
        m->rank = type.dimensions.count;
        memcpy(m->dims, type.dimensions.data, sizeof(m->dims));
        m->data = t->data;
    }
    n->in[n->nIn] = operand(n, &type, t->constant ? t->data : NULL, t->count * nnrt_type_size(t->dataType),
                            !t->constant || t->count == 0);
    n->nIn++;
    return true;
}

/* Appends input 1, a filter [O,kH,kW,I], as [O,I,kH,kW], or, transposed, as [Cin,O/group,kH,kW]. */
static bool vec_filter(net *n, const vec_case *c, bool transposed)
{
    const vec_tensor *t = &c->in[1];
    const int32_t group = (int32_t)number_of(c, "group"), o = t->dims[0], h = t->dims[1], w = t->dims[2], in = t->dims[3];
    const int32_t part = group > 0 ? o / group : 0;
    const size_t size = nnrt_type_size(t->dataType);
    NNAdapterOperandType type;
    float scales[VEC_QUANT];
    uint8_t *data;
    if (c->nIn < 2 || t->rank != 4 || t->count == 0 || group < 1 || o % group != 0 || !vec_type_of(t, 0, &type, scales))
        return false;
    data = (uint8_t *)malloc(t->count * size);
    for (int32_t a = 0; a < o; a++)
        for (int32_t y = 0; y < h; y++)
            for (int32_t x = 0; x < w; x++)
                for (int32_t i = 0; i < in; i++) {
                    const int32_t g = a / (part > 0 ? part : 1);
                    const int32_t to = transposed ? (((g * in + i) * part + a % part) * h + y) * w + x
                                                  : ((a * in + i) * h + y) * w + x;
                    memcpy(data + (size_t)to * size,
                           (const uint8_t *)t->data + (size_t)(((a * h + y) * w + x) * in + i) * size, size);
                }
    type.dimensions.data[0] = transposed ? in * group : o;
    type.dimensions.data[1] = transposed ? part : in;
    type.dimensions.data[2] = h;
    type.dimensions.data[3] = w;
    if (transposed && t->quantCount > 1) {
        type.symm_per_channel_params.channel_dim = 1;
        if (group > 1) {
            free(data);
            return false;
        }
    }
    n->in[n->nIn] = placed(n, &type, data, t->count * size, false, true);
    n->nIn++;
    free(data);
    return true;
}

/* Appends the operand of one word; false: NNAdapter cannot express the case. */
static bool vec_word(net *n, const vec_case *c, const char *word)
{
    static const int32_t fuse[] = {NNADAPTER_FUSED_NONE, NNADAPTER_FUSED_RELU, -1, NNADAPTER_FUSED_RELU6,
                                   -1,                   -1,                   -1, NNADAPTER_FUSED_RELU1};
    static const int32_t modes[] = {NNADAPTER_AUTO_PAD_NONE, NNADAPTER_AUTO_PAD_SAME, NNADAPTER_AUTO_PAD_VALID};
    static const int32_t outside[] = {NNADAPTER_PAD_MODE_CONSTANT, NNADAPTER_PAD_MODE_EDGE, NNADAPTER_PAD_MODE_REFLECT};
    const char *name = word + 2;
    int32_t list[VEC_INTS];
    uint32_t k;
    if (word[0] >= '0' && word[0] <= '9') {
        k = (uint32_t)(word[0] - '0');
        if (word[1] != '.' || (k < c->nIn && c->in[k].present))
            return vec_input(n, c, k, false);
        if (strcmp(name, "max") == 0   ? number_of(c, name) > 3e38
            : strcmp(name, "min") == 0 ? number_of(c, name) < -3e38
                                       : number_of(c, name) == 0)
            left_out(n); /* no bound, no value */
        else if (c->in[0].dataType == NNRT_DATA_TYPE_FLOAT32 || c->in[0].quantCount > 0)
            one_float(n, (float)number_of(c, name));
        else
            return false;
        return true;
    }
    switch (word[0]) {
    case '*':
        for (k = 0; k < c->nIn; k++)
            if (!vec_input(n, c, k, false))
                return false;
        return true;
    case '-': left_out(n); return true;
    case 'F': return vec_input(n, c, 1, true);
    case 'W': return vec_filter(n, c, false);
    case 'V': return vec_filter(n, c, true);
    case 'b': one_bool(n, number_of(c, name) != 0); return true;
    case 'n':
        one_int(n, (int32_t)number_of(c, name));
        return number_of(c, name) >= 1 ||
               (strcmp(name, "group") != 0 && strcmp(name, "deformableGroup") != 0 && strcmp(name, "numGroups") != 0 &&
                strcmp(name, "p") != 0);
    case 'r':
        one_float(n, (float)number_of(c, name));
        return number_of(c, name) != 0 || (strcmp(name, "spatialScale") != 0 && strcmp(name, "scaleXY") != 0 &&
                                           strcmp(name, "nmsEta") != 0 && c->op->type != NNRT_NODE_TYPE_INSTANCE_NORM);
    case 'l':
    case 'L': {
        const NNRT_Int64List *l = list_of(c, name);
        bool good = l->count > 0 || word[0] == 'l';
        for (k = 0; k < l->count; k++) {
            list[k] = (int32_t)l->data[k];
            good = good && (strcmp(name, "dilation") != 0 || list[k] == 1 || member_of(c, "padMode") == NULL ||
                            number_of(c, "padMode") != NNRT_PAD_MODE_SAME); /* NNAdapter would leave it out */
        }
        if (l->count > 0)
            ints(n, (int32_t)l->count, list);
        else
            left_out(n);
        return good;
    }
    case 'q': {
        const NNRT_FloatList *l =
            (const NNRT_FloatList *)(const void *)((const uint8_t *)c->attr + member_of(c, name)->offset);
        if (l->count > 0)
            constant(n, NNADAPTER_FLOAT32, (int32_t)l->count, l->data, sizeof(float));
        else
            left_out(n);
        return true;
    }
    case 'a':
        if (list_of(c, name)->count != 1)
            return false;
        one_int(n, (int32_t)list_of(c, name)->data[0]);
        return true;
    case 'f':
        k = (uint32_t)number_of(c, name);
        if (k >= COUNT(fuse) || fuse[k] < 0)
            return false;
        one_int(n, fuse[k]);
        return true;
    case 'm':
        one_int(n, modes[(int)number_of(c, name)]);
        return true;
    case 'c': one_bool(n, number_of(c, name) != 0); return true;
    case 'i':
        one_int(n, number_of(c, name) == 0 ? NNADAPTER_INTERPOLATE_MODE_BILINEAR : NNADAPTER_INTERPOLATE_MODE_NEAREST);
        return number_of(c, name) < 2;
    case 'g':
        if (number_of(c, name) < 0 || number_of(c, name) > 2)
            return false;
        one_int(n, outside[(int)number_of(c, name)]);
        return true;
    case 'p':
        one_int(n, number_of(c, name) == 0 ? NNADAPTER_PAD_MODE_CONSTANT : NNADAPTER_PAD_MODE_REFLECT);
        return number_of(c, name) < 2;
    case 't':
        k = (uint32_t)(name[0] - '0');
        if (k >= c->nOut)
            left_out(n);
        else
            one_int(n, (int32_t)nnrti_nna_precision(c->out[k].dataType));
        return true;
    case 'B': one_bool(n, word[1] == '1'); return true;
    case 'I': one_int(n, word[1] - '0'); return true;
    case 'D':
        if (c->nIn > 2 && c->in[2].present)
            return vec_input(n, c, 2, false);
        one_int(n, 0);
        return true;
    case 'H':
        if (c->nIn > 1 && c->in[1].dataType == NNRT_DATA_TYPE_FLOAT32) {
            if (!c->in[1].constant || c->in[1].count != 4)
                return false;
            left_out(n);
            constant(n, NNADAPTER_FLOAT32, 2, (const float *)c->in[1].data + 2, sizeof(float));
            return true;
        }
        list[0] = (int32_t)number_of(c, "newHeight");
        list[1] = (int32_t)number_of(c, "newWidth");
        if (c->nIn < 2)
            ints(n, 2, list);
        else if (!c->in[1].constant || !vec_input(n, c, 1, false))
            return false;
        left_out(n);
        return true;
    case 'C': {
        const int coordinates = (int)number_of(c, "coordinateTransformMode"), nearest = (int)number_of(c, "nearestMode");
        one_bool(n, coordinates == NNRT_COORDINATE_TRANSFORM_MODE_ALIGN_CORNERS);
        return number_of(c, "method") == 0 ||
               (coordinates == NNRT_COORDINATE_TRANSFORM_MODE_ALIGN_CORNERS ? nearest == NNRT_NEAREST_MODE_NORMAL
                : coordinates == NNRT_COORDINATE_TRANSFORM_MODE_ASYMMETRIC ? nearest == NNRT_NEAREST_MODE_FLOOR
                                                                          : false);
    }
    case 'M': { /* of one cell, NNAdapter means another one */
        const bool centres = number_of(c, "coordinateTransformMode") == NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL;
        one_int(n, centres ? 0 : 1);
        return !centres || (c->out[0].rank == 4 && c->out[0].dims[2] > 1 && c->out[0].dims[3] > 1);
    }
    case 'O': one_bool(n, c->nOut > 1); return true;
    case 'S': one_int(n, 2 * (int32_t)number_of(c, "depthRadius") + 1); return true;
    case 'A': one_float(n, (float)(number_of(c, "alpha") * (2 * number_of(c, "depthRadius") + 1))); return true;
    case 'U': one_int(n, (int32_t)c->nOut); return true;
    case 'Z': {
        const vec_tensor *y = &c->out[0];
        float scales[VEC_QUANT];
        int32_t zeros[VEC_QUANT];
        if (c->nOut != 1 || y->quantCount == 0)
            return false;
        for (k = 0; k < y->quantCount; k++) {
            scales[k] = (float)y->quant[k].scale;
            zeros[k] = y->quant[k].zeroPoint;
        }
        one_int(n, y->quantAxis > 0 ? y->quantAxis - 1 : 0);
        constant(n, NNADAPTER_FLOAT32, (int32_t)y->quantCount, scales, sizeof(float));
        ints(n, (int32_t)y->quantCount, zeros);
        return true;
    }
    default: fail_msg("no such word: %s", word);
    }
    return false;
}

/* Can NNAdapter say the case at all, and do the attributes have these values? */
static bool vec_fits(const vec_case *c, const char *conditions)
{
    const nnrt_op *op = c->op;
    if (op == NULL || c->prepareCode != NNRT_SUCCESS || c->wide ||
        (((op->flags & NNRT_OP_LAYOUT) != 0 || op->type == NNRT_NODE_TYPE_PRIOR_BOX ||
          op->type == NNRT_NODE_TYPE_YOLO_BOX) &&
         c->format != NNRT_FORMAT_NCHW))
        return false;
    while (conditions != NULL) {
        char name[64];
        double value;
        if (sscanf(conditions, " %63[A-Za-z]=%lf", name, &value) != 2)
            break;
        if (number_of(c, name) != value)
            return false;
        conditions = strchr(conditions + 1 + strspn(conditions + 1, " "), ' ');
    }
    switch (op->type) {
    case NNRT_NODE_TYPE_ARGMAX_FUSION:
    case NNRT_NODE_TYPE_ARGMIN_FUSION: return c->nOut == 1;
    case NNRT_NODE_TYPE_BROADCAST_TO: return c->nIn == 2 && c->in[1].present;
    case NNRT_NODE_TYPE_BOTTOM_K:
    case NNRT_NODE_TYPE_TOPK_FUSION: return c->nOut == 2;
    case NNRT_NODE_TYPE_MULTICLASS_NMS:
        return c->nOut == (number_of(c, "returnIndex") != 0 ? 3 : 2) &&
               (c->nIn < 3 || !c->in[2].present || c->in[2].count > 0);
    case NNRT_NODE_TYPE_ROLL: return c->nIn < 3 || !c->in[2].present || c->in[2].count > 0; /* no list is none */
    case NNRT_NODE_TYPE_RANGE: return c->nIn == 3;
    case NNRT_NODE_TYPE_MATMUL_FUSION: return c->nIn == 2;
    case NNRT_NODE_TYPE_PAD_FUSION: return c->nIn > 1 && c->in[1].present;
    case NNRT_NODE_TYPE_STRIDED_SLICE: return c->nIn == 5;
    case NNRT_NODE_TYPE_WHERE: return c->in[0].rank != 1 || c->in[1].rank == 1;
    case NNRT_NODE_TYPE_TILE_FUSION:
        return list_of(c, "dims")->count == 0 && c->in[1].rank == 1 && c->in[1].dims[0] == c->in[0].rank;
    case NNRT_NODE_TYPE_LAYER_NORM_FUSION: return number_of(c, "beginNormAxis") == number_of(c, "beginParamsAxis");
    case NNRT_NODE_TYPE_GROUP_NORM_FUSION: return c->nIn == 3;
    case NNRT_NODE_TYPE_FULL_CONNECTION: return number_of(c, "hasBias") == (c->nIn > 2);
    case NNRT_NODE_TYPE_AVGPOOL_FUSION:
    case NNRT_NODE_TYPE_AVGPOOL_INCLUDE_PAD:
    case NNRT_NODE_TYPE_MAX_POOL_FUSION: return list_of(c, "kernelSize")->count == 2;
    default: return true;
    }
}

static void vec_results(const net *n, const vec_case *c)
{
    for (uint32_t k = 0; k < c->nOut; k++) {
        const vec_tensor *t = &c->out[k];
        const memory *m = &n->to[k];
        size_t at;
        if (nnrti_nna_type(m->precision) != t->dataType || m->rank != (uint32_t)t->rank ||
            (t->rank > 0 && memcmp(m->dims, t->dims, m->rank * sizeof(*m->dims)) != 0))
            fail_msg("%s: result %u is of another type or shape", c->name, (unsigned)k);
        if ((at = vec_compare(c, t, m->data)) < t->count)
            fail_msg("%s: result %u, element %u: %g, expected %g", c->name, (unsigned)k, (unsigned)at,
                     vec_number(t->dataType, m->data, at), vec_number(t->dataType, t->data, at));
    }
}

static void vec_run(const struct operation_case *o, const vec_case *c, uint32_t *done)
{
    char words[300], *conditions, *word;
    float scales[VEC_QUANT];
    bool good = true;
    net n;
    (void)nnrt_text(words, sizeof(words), "%s", o->operands);
    conditions = strchr(words, '|');
    if (conditions != NULL)
        *conditions++ = '\0';
    if (!vec_fits(c, conditions))
        return;
    is(begin(&n), OK);
    for (word = strtok(words, " "); word != NULL && good; word = strtok(NULL, " "))
        good = vec_word(&n, c, word);
    for (uint32_t k = 0; k < c->nOut && good; k++) {
        NNAdapterOperandType type;
        good = c->out[k].present && vec_type_of(&c->out[k], -1, &type, scales);
        if (good && type.precision < NNADAPTER_QUANT_INT8_SYMM_PER_LAYER)
            type = type_of(NNADAPTER_BOOL8, 0, NULL); /* it follows */
        if (good)
            result(&n, &type);
    }
    if (good) {
        const int code = run(&n, o->op), want = c->runCode == NNRT_SUCCESS ? OK : IP;
        if (code != want)
            fail_msg("%s: %d, expected %d: %s%s%s", c->name, code, want, nnrt_nnadapter_model_error(n.model),
                     nnrt_nnadapter_compilation_error(n.compilation), nnrt_nnadapter_execution_error(n.execution));
        if (code == OK)
            vec_results(&n, c);
        *done += 1;
    }
    end(&n);
}

/* One operation, all cases that NNAdapter can say. */
static void numbers(void **state)
{
    const struct operation_case *o = (const struct operation_case *)*state;
    char path[128];
    uint32_t done = 0;
    vec_file file;
    vec_case c;
    memset(&file, 0, sizeof(file));
    (void)nnrt_text(path, sizeof(path), "tests/ops/vectors/%s.vec", o->file);
    file.path = path;
    if ((file.f = fopen(path, "r")) == NULL)
        fail_msg("%s cannot be read", path);
    while (vec_next(&file, &c)) {
        vec_run(o, &c, &done);
        vec_free(&c);
    }
    vec_free(&c);
    (void)fclose(file.f);
    free(file.text);
    if (done < (o->op == NNADAPTER_RESIZE_NEAREST ? 1u : 3u)) /* the test defaults has more of it */
        fail_msg("%u cases of %s", (unsigned)done, path);
    if (getenv("VERBOSE") != NULL)
        print_message("%s: %u cases of %s\n", o->name, (unsigned)done, o->file);
}

/* Each operation is in the table above. */
static void complete(void **state)
{
    (void)state;
    for (int32_t op = NNADAPTER_ABS; op <= NNADAPTER_YOLO_BOX; op++) {
        bool found = false;
        for (uint32_t i = 0; i < COUNT(operation_cases); i++)
            found = found || operation_cases[i].op == op;
        if (!found)
            fail_msg("operation %d has no numbers", (int)op);
    }
}

/* ---- memory ---- */

/* A model, quantized and not, with a fuse code of its own node, built, compiled and run. */
static int whole(net *n, bool open)
{
    static const float w[4] = {1, 2, 3, 4};
    const int32_t xDims[4] = {1, 1, open ? OPEN : 2, 3}, wDims[4] = {1, 1, 2, 2}, ones[2] = {1, 1};
    NNAdapterOperandType type = type_of(NNADAPTER_FLOAT32, 4, wDims), any = type_of(NNADAPTER_FLOAT32, 0, NULL);
    NNAdapterOperand *made;
    NNAdapterOperation *op;
    int code = begin(n);
    if (code != OK)
        return code;
    variable(n, NNADAPTER_FLOAT32, 4, xDims, addX);
    n->from[0].dims[2] = 2;
    n->in[n->nIn++] = operand(n, &type, w, sizeof(w), false);
    left_out(n);
    one_int(n, NNADAPTER_AUTO_PAD_SAME);
    left_out(n);
    ints(n, 2, ones);
    result(n, NULL);
    for (uint32_t i = 0; i < 6; i++)
        if (n->in[i] == NULL && i != 2 && i != 4)
            return NNADAPTER_OUT_OF_MEMORY;
    if ((code = add(n, NNADAPTER_CONV_2D)) != OK || (code = NNAdapterModel_addOperand(n->model, &any, &made)) != OK)
        return code;
    n->in[0] = n->in[1] = n->out[0];
    n->in[2] = n->in[3];
    n->nIn = 2;
    if ((code = NNAdapterModel_addOperation(n->model, NNADAPTER_MAX, 3, n->in, 1, &made, &op)) != OK)
        return code;
    n->out[0] = made;
    if ((code = finish(n)) != OK || (code = prepare(n)) != OK)
        return code;
    return NNAdapterExecution_compute(n->execution);
}

static void allocations(void **state)
{
    const int64_t before = heap_live;
    (void)state;
    for (int open = 0; open < 2; open++) {
        int code = NNADAPTER_OUT_OF_MEMORY;
        int64_t at = 0;
        net n;
        while (code != OK) {
            heap_fail_at = ++at;
            heap_calls = 0;
            code = whole(&n, open != 0);
            heap_fail_at = 0;
            if (code != OK && code != NNADAPTER_OUT_OF_MEMORY)
                fail_msg("allocation %u: %d", (unsigned)at, code);
            if (code != OK)
                end(&n);
            assert_int_equal(heap_live - before, code == OK ? heap_live - before : 0);
        }
        assert_true(at > 30);
        {
            const int32_t dims[4] = {1, 1, 2, 3};
            const float wanted[6] = {27, 37, 17, 11, 14, 5}; /* 0 1 2 / 3 4 5, a row and a column of zeros after */
            gives(&n, 0, 4, dims, wanted);
        }
        end(&n);
        assert_int_equal(heap_live, before);
    }
}

/* z = -(shape filled with 7): the shape is an input; the last operation is kept from the device. */
static int whole_late(net *n)
{
    static const int32_t shape[2] = {2, 3}, two = 2, one = 1;
    static const float seven = 7, minus = -1;
    NNAdapterOperation *op;
    NNAdapterOperand *filled;
    int code = begin(n);
    if (code != OK)
        return code;
    variable(n, NNADAPTER_INT32, 1, &two, shape);
    variable(n, NNADAPTER_FLOAT32, 1, &one, &seven);
    n->out[n->nOut++] = unknown(n, 0, 0);
    filled = unknown(n, 0, 0);
    if (n->in[0] == NULL || n->in[1] == NULL || filled == NULL || n->out[0] == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    if ((code = NNAdapterModel_addOperation(n->model, NNADAPTER_FILL, 2, n->in, 1, &filled, &op)) != OK)
        return code;
    n->in[2] = filled;
    n->nIn = 3;
    constant(n, NNADAPTER_FLOAT32, 1, &minus, sizeof(minus));
    if (n->in[3] == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    if ((code = NNAdapterModel_addOperation(n->model, NNADAPTER_MUL, 2, n->in + 2, 1, n->out, &op)) != OK)
        return code;
    n->context = context_of("reference", "SUBGRAPH_PARTITION_CONFIG_BUFFER=MUL");
    if (n->context == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    if ((code = finish(n)) != OK || (code = prepare(n)) != OK)
        return code;
    return NNAdapterExecution_compute(n->execution);
}

static void allocations_late(void **state)
{
    const int64_t before = heap_live;
    const int32_t dims[2] = {2, 3};
    const float wanted[6] = {-7, -7, -7, -7, -7, -7};
    int code = NNADAPTER_OUT_OF_MEMORY;
    int64_t at = 0;
    net n;
    (void)state;
    while (code != OK) {
        heap_fail_at = ++at;
        heap_calls = 0;
        code = whole_late(&n);
        heap_fail_at = 0;
        if (code != OK && code != NNADAPTER_OUT_OF_MEMORY)
            fail_msg("allocation %u: %d", (unsigned)at, code);
        if (code != OK)
            end(&n);
        assert_int_equal(heap_live - before, code == OK ? heap_live - before : 0);
    }
    assert_true(at > 30);
    gives(&n, 0, 2, dims, wanted);
    end(&n);
    assert_int_equal(heap_live, before);
}

/* A run of a model without dynamic shapes allocates nothing. */
static void runs_take_nothing(void **state)
{
    net n;
    (void)state;
    is(whole(&n, false), OK);
    heap_calls = 0;
    is(NNAdapterExecution_compute(n.execution), OK);
    assert_int_equal(heap_calls, 0);
    end(&n);
}

/* ---- several devices, and records ---- */

static NNAdapterContext *context_over(uint32_t count, const char *const *names, const char *properties)
{
    NNAdapterDevice *devices[4] = {NULL};
    NNAdapterContext *context = NULL;
    for (uint32_t i = 0; i < count; i++)
        is(NNAdapterDevice_acquire(names[i], &devices[i]), OK);
    is(NNAdapterContext_create(devices, count, properties, NULL, &context), OK);
    for (uint32_t i = 0; i < count; i++)
        NNAdapterDevice_release(devices[i]);
    return context;
}

/* z = max(relu(x + y) - x, y) with an activation, of float32 [rows,3]; operands are 0 and 1, 2: none, 3 to 5 the results of
   ADD, RELU and SUB, 6: RELU, 7: the output. */
static int four_net(net *n, int32_t rows)
{
    const int32_t dims[2] = {rows, 3}, fuse[2] = {NNADAPTER_FUSED_NONE, NNADAPTER_FUSED_RELU};
    const NNAdapterOperandType type = type_of(NNADAPTER_FLOAT32, 2, dims);
    NNAdapterOperand *o[4] = {NULL}, *in[3];
    NNAdapterOperation *op;
    int code = begin(n);
    if (code != OK)
        return code;
    variable(n, NNADAPTER_FLOAT32, 2, dims, addX);
    variable(n, NNADAPTER_FLOAT32, 2, dims, addY);
    one_int(n, fuse[0]);
    for (uint32_t i = 0; i < 3; i++)
        if (n->in[i] == NULL || (o[i] = operand(n, &type, NULL, 0, false)) == NULL)
            return NNADAPTER_OUT_OF_MEMORY;
    if ((code = NNAdapterModel_addOperation(n->model, NNADAPTER_ADD, 3, n->in, 1, &o[0], &op)) != OK ||
        (code = NNAdapterModel_addOperation(n->model, NNADAPTER_RELU, 1, &o[0], 1, &o[1], &op)) != OK)
        return code;
    in[0] = o[1];
    in[1] = n->in[0];
    in[2] = n->in[2];
    if ((code = NNAdapterModel_addOperation(n->model, NNADAPTER_SUB, 3, in, 1, &o[2], &op)) != OK)
        return code;
    in[0] = o[2];
    in[1] = n->in[1];
    n->nIn = 2;
    one_int(n, fuse[1]);
    in[2] = n->in[2];
    result(n, &type);
    if (in[2] == NULL || n->out[0] == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    if ((code = NNAdapterModel_addOperation(n->model, NNADAPTER_MAX, 3, in, 1, n->out, &op)) != OK)
        return code;
    return finish(n);
}

/* x + y = 1 2 3 4 5 -4, relu 1 2 3 4 5 0, - x = 1 1 1 1 1 -5, max with y = 1 1 1 1 1 -5, relu */
static const float fourZ[6] = {1, 1, 1, 1, 1, 0};

/* Compiles the net's model for the devices, and runs it. */
static void over(net *n, uint32_t count, const char *const *names, const char *properties, const char *dir, int code)
{
    const int32_t dims[2] = {2, 3};
    int got;
    NNAdapterExecution_destroy(n->execution);
    NNAdapterCompilation_destroy(n->compilation);
    NNAdapterContext_destroy(n->context);
    n->execution = NULL;
    n->compilation = NULL;
    n->context = context_over(count, names, properties);
    is(NNAdapterCompilation_create(n->model, "four", NULL, 0, dir, n->context, &n->compilation), OK);
    if ((got = NNAdapterCompilation_finish(n->compilation)) != code)
        fail_msg("%s of %u, '%s': %d (%s), expected %d", names[0], (unsigned)count,
                 properties != NULL ? properties : "", got, nnrt_nnadapter_compilation_error(n->compilation), code);
    if (code != OK)
        return;
    is(NNAdapterExecution_create(n->compilation, &n->execution), OK);
    is(bind(n), OK);
    is(NNAdapterExecution_compute(n->execution), OK);
    gives(n, 0, 2, dims, fourZ);
}

static void says(const net *n, const char *what)
{
    if (strstr(nnrt_nnadapter_compilation_error(n->compilation), what) == NULL)
        fail_msg("'%s', expected '%s'", nnrt_nnadapter_compilation_error(n->compilation), what);
}

/* Models and nodes that a device was given since the last call. */
static void had(const nnrt_fake *npu, uint32_t *models, uint32_t *nodes, uint32_t moreModels, uint32_t moreNodes)
{
    const nnrt_fake_record r = nnrt_fake_get_record(npu);
    assert_int_equal(r.prepared - *models, moreModels);
    assert_int_equal(r.nodes - *nodes, moreNodes);
    *models = r.prepared;
    *nodes = r.nodes;
}

/* Each operation goes to the first device of the context that takes it. */
static void several(void **state)
{
    static const char *const ab[3] = {"a", "b", "c"}, *const ba[2] = {"b", "a"}, *const ar[2] = {"a", "reference"};
    static const char *const cb[2] = {"c", "b"}, *const dumb[2] = {"a", "dumb"}, *const autos[2] = {"a", "auto"};
    nnrt_fake *a = registered("fake:name=a,ops=ADD_FUSION+SUB_FUSION");
    nnrt_fake *b = registered("fake:name=b,not=SUB_FUSION"), *c = registered("fake:name=c,ops=SUB_FUSION");
    nnrt_fake *mute = registered("fake:name=dumb,fail=GetSupportedNodes,code=NOT_SUPPORT");
    uint32_t models[3] = {0, 0, 0}, nodes[3] = {0, 0, 0};
    bool answers[4];
    net n;
    (void)state;
    is(four_net(&n, 2), OK);
    over(&n, 2, ab, "", NULL, OK); /* a: ADD, SUB; b: RELU, MAX and its activation */
    had(a, &models[0], &nodes[0], 2, 2);
    had(b, &models[1], &nodes[1], 2, 3);
    assert_string_equal(nnrt_nnadapter_compilation_error(n.compilation), "");
    over(&n, 2, ba, "", NULL, OK); /* b: ADD and RELU as one part, MAX; a: SUB */
    had(a, &models[0], &nodes[0], 1, 1);
    had(b, &models[1], &nodes[1], 2, 4);
    over(&n, 2, ar, "", NULL, OK); /* the second one takes all of it, and gets the rest */
    had(a, &models[0], &nodes[0], 2, 2);
    over(&n, 3, ab, "", NULL, OK); /* c is not needed */
    had(c, &models[2], &nodes[2], 0, 0);
    had(a, &models[0], &nodes[0], 2, 2);
    had(b, &models[1], &nodes[1], 2, 3);
    over(&n, 2, cb, "BUILTIN_DEVICE_NUM_THREADS=1;", NULL, OK);
    had(c, &models[2], &nodes[2], 1, 1);
    had(b, &models[1], &nodes[1], 2, 4);
    over(&n, 2, autos, "", NULL, OK);
    /* two executions of one compilation */
    {
        NNAdapterExecution *second = NULL, *first = n.execution;
        const int32_t dims[2] = {2, 3};
        is(NNAdapterExecution_create(n.compilation, &second), OK);
        n.execution = second;
        is(bind(&n), OK);
        memset(n.to[0].data, 0, n.to[0].room);
        is(NNAdapterExecution_compute(second), OK);
        gives(&n, 0, 2, dims, fourZ);
        NNAdapterExecution_destroy(second);
        n.execution = first;
    }
    over(&n, 1, ab, "", NULL, NO);
    says(&n, "device 'a_nnrt_v1_0' does not support node 'RELU_1' (ACTIVATION)");
    over(&n, 2, (const char *const[2]){"a", "c"}, "", NULL, NO);
    says(&n, "'a_nnrt_v1_0', like all devices of the context, does not support node 'RELU_1' (ACTIVATION)");
    over(&n, 2, dumb, "", NULL, NO);
    says(&n, "device 'dumb_nnrt_v1_0' does not report which operations it supports");
    /* an operation that one of the devices supports is supported */
    NNAdapterContext_destroy(n.context);
    n.context = context_over(2, (const char *const[2]){"a", "c"}, NULL);
    is(NNAdapterModel_getSupportedOperations(n.model, n.context, answers), OK);
    assert_true(answers[0] && !answers[1] && answers[2] && !answers[3]);
    NNAdapterContext_destroy(n.context);
    n.context = context_over(2, ab, NULL);
    is(NNAdapterModel_getSupportedOperations(n.model, n.context, answers), OK);
    assert_true(answers[0] && answers[1] && answers[2] && answers[3]);
    NNAdapterContext_destroy(n.context);
    n.context = context_over(2, dumb, NULL);
    is(NNAdapterModel_getSupportedOperations(n.model, n.context, answers), NO);
    end(&n);
    /* dynamic shapes: a session for the shapes of a run */
    is(four_net(&n, OPEN), OK);
    n.from[0].dims[0] = n.from[1].dims[0] = 2;
    over(&n, 2, (const char *const[2]){"a", "c"}, "", NULL, NO);
    says(&n, "does not support node 'RELU_1' (ACTIVATION)");
    over(&n, 2, ab, "", NULL, OK);
    for (int32_t rows = 1; rows < 3; rows++) {
        const int32_t dims[2] = {rows, 3};
        n.from[0].dims[0] = n.from[1].dims[0] = rows;
        is(NNAdapterExecution_compute(n.execution), OK);
        gives(&n, 0, 2, dims, fourZ);
    }
    over(&n, 2, (const char *const[2]){"a", "c"}, "SUBGRAPH_PARTITION_CONFIG_BUFFER=RELU\nMAX", NULL, OK);
    end(&n);
    unregistered(a);
    unregistered(b);
    unregistered(c);
    unregistered(mute);
}

static char told[96];

/* A device that writes down which properties it was given. */
static NNRT_ReturnCode asked_prepare(void *self, const NNRT_Model *m, const NNRT_ModelConfig *config,
                                     NNRT_PreparedModel **prepared)
{
    (void)self;
    told[0] = '\0';
    for (uint32_t i = 0; i < config->extensions.count; i++) {
        const NNRT_Extension *e = &config->extensions.data[i];
        (void)snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s=%.*s;", e->name, (int)e->size,
                       (const char *)e->data);
    }
    return nnrt_plan_prepare(m, config, NULL, NULL, NULL, prepared);
}

static NNRT_ReturnCode asked_name(void *self, const char **name)
{
    *name = (const char *)self;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode asked_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 1;
    *minor = 0;
    return NNRT_SUCCESS;
}

/* Each device gets all properties except the runtime's; of a repeated key, the last one. */
static void properties(void **state)
{
    static const char *const names[2] = {"add", "asked"};
    static NNRT_DeviceVtbl table;
    static char name[] = "asked";
    nnrt_fake *fake = registered("fake:name=add,ops=ADD_FUSION");
    net n;
    (void)state;
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.GetVersion = asked_version;
    table.GetDeviceName = table.GetVendorName = asked_name;
    table.PrepareModel = asked_prepare;
    is(nnrt_device_register(&table, name, NULL), OK);
    is(four_net(&n, 2), OK);
    over(&n, 2, names, "ADD_LEVEL=1;BUILTIN_DEVICE_NUM_THREADS=1;ASKED_MODE=a b;ADD_LEVEL=23;"
                       "SUBGRAPH_PARTITION_CONFIG_BUFFER=SUB", NULL, OK);
    assert_string_equal(told, "ADD_LEVEL=23;ASKED_MODE=a b;");
    assert_int_equal(nnrt_fake_get_record(fake).extensions, 2);
    over(&n, 1, &names[1], NULL, NULL, OK);
    assert_string_equal(told, "");
    end(&n);
    is(nnrt_device_unregister("asked"), OK);
    unregistered(fake);
}

/* Records of operations that go to no device of the context. */
static void kept(void **state)
{
    static const char *const npu[1] = {"npu"};
    static const struct {
        const char *properties;
        uint32_t parts, nodes; /* of the device: all except the kept ones, of 5 */
        const char *warning;
    } cases[] = {
        {"", 1, 5, ""},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD", 1, 4, ""},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=SUB", 2, 4, ""},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=MAX", 1, 3, ""}, /* two nodes */
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD\nSUB", 2, 3, ""},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD:0", 1, 4, ""},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD:1,0", 1, 4, ""},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD:0,1,2:3", 1, 4, ""},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD::3", 1, 4, ""},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=\r\n# ADD\n\nADD::3\r\n", 1, 4, ""},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD:4", 1, 5, "no operation matches 'ADD:4'"},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD:0,0,0,0", 1, 5, "no operation matches 'ADD:0,0,0,0'"},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD::4", 1, 5, "no operation matches 'ADD::4'"},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD:0:3:", 1, 5, "no operation matches 'ADD:0:3:'"},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD:x", 1, 5, "no operation matches 'ADD:x'"},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD ", 1, 5, "no operation matches 'ADD '"},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=add\nMUL-ADD", 1, 5,
         "no operation matches 'add'; no operation matches 'MUL-ADD'"},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=add\nSUB", 2, 4, "no operation matches 'add'"},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD\nRELU\nSUB\nMAX", 0, 0, ""},
        {"SUBGRAPH_PARTITION_CONFIG_BUFFER=SUB;SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD", 1, 4, ""},
        {"SUBGRAPH_PARTITION_CONFIG_FILE=build/test_nnadapter.records", 2, 4, ""},
        {"SUBGRAPH_PARTITION_CONFIG_FILE=build/test_nnadapter.records;SUBGRAPH_PARTITION_CONFIG_BUFFER=MAX", 1, 3, ""},
        {"SUBGRAPH_PARTITION_CONFIG_FILE=build/nowhere.records", 1, 5,
         "SUBGRAPH_PARTITION_CONFIG_FILE: 'build/nowhere.records' cannot be read"},
        {"MIXED_PRECISION_QUANTIZATION_CONFIG_BUFFER=ADD", 1, 5, ""}, /* nothing is quantized */
        {"MIXED_PRECISION_QUANTIZATION_CONFIG_BUFFER=DIV", 1, 5, "no operation matches 'DIV'"}};
    nnrt_fake *fake = registered("fake:name=npu"), *none = registered("fake:name=none,ops=ABS");
    uint32_t models = 0, nodes = 0;
    char text[96];
    net n;
    (void)state;
    file_is("build/test_nnadapter.records", "SUB\r\n", 5);
    is(four_net(&n, 2), OK);
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        over(&n, 1, npu, cases[i].properties, NULL, OK);
        assert_string_equal(nnrt_nnadapter_compilation_error(n.compilation), cases[i].warning);
        had(fake, &models, &nodes, cases[i].parts, cases[i].nodes);
    }
    /* the environment, without a property */
    is(setenv("SUBGRAPH_PARTITION_CONFIG_FILE", "build/test_nnadapter.records", 1), 0);
    over(&n, 1, npu, NULL, NULL, OK);
    had(fake, &models, &nodes, 2, 4);
    is(setenv("SUBGRAPH_PARTITION_CONFIG_BUFFER", "MAX", 1), 0);
    over(&n, 1, npu, NULL, NULL, OK);
    had(fake, &models, &nodes, 1, 3);
    over(&n, 1, npu, "SUBGRAPH_PARTITION_CONFIG_FILE=build/test_nnadapter.records", NULL, OK);
    had(fake, &models, &nodes, 2, 4);
    is(unsetenv("SUBGRAPH_PARTITION_CONFIG_BUFFER"), 0);
    is(unsetenv("SUBGRAPH_PARTITION_CONFIG_FILE"), 0);
    /* nodes that are not kept need memory, with dynamic shapes or without */
    over(&n, 1, (const char *const[1]){"none"}, "SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD\nRELU\nSUB", NULL, NO);
    says(&n, "does not support node 'MAX_3'");
    over(&n, 1, (const char *const[1]){"none"}, "SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD\nRELU\nSUB\nMAX", NULL, OK);
    /* the model as records, which are the records that match */
    assert_int_equal(nnrt_nnadapter_model_records(NULL, text, sizeof(text)), 0);
    assert_int_equal(nnrt_nnadapter_model_records(n.model, text, sizeof(text)), 45);
    assert_string_equal(text, "ADD:0,1,2:3\nRELU:3:4\nSUB:4,0,2:5\nMAX:5,1,6:7\n");
    assert_int_equal(nnrt_nnadapter_model_records(n.model, text, 10), 45);
    assert_string_equal(text, "ADD:0,1,2");
    assert_int_equal(nnrt_nnadapter_model_records(n.model, NULL, 0), 45);
    end(&n);
    is(remove("build/test_nnadapter.records"), 0);
    unregistered(fake);
    unregistered(none);
}

/* Caches of models that devices share. */
static void shared_caches(void **state)
{
    static const char *const ab[2] = {"a", "b"}, *const ba[2] = {"b", "a"}, *const am[2] = {"a", "mute"};
    static const char max[] = "SUBGRAPH_PARTITION_CONFIG_BUFFER=MAX";
    static const char *const file = KEPT "/four.nnc";
    nnrt_fake *a = registered("fake:name=a,ops=ADD_FUSION+SUB_FUSION,cache=yes");
    nnrt_fake *b = registered("fake:name=b,not=SUB_FUSION,cache=yes"), *mute = registered("fake:name=mute");
    uint8_t *data, *bad;
    size_t bytes, again;
    uint32_t made[2];
    net n;
    (void)state;
    (void)remove(file);
    (void)rmdir(KEPT);
    is(mkdir(KEPT, 0777), 0);
    is(four_net(&n, 2), OK);
    over(&n, 2, am, "", KEPT, OK); /* one of them keeps nothing */
    says(&n, "device 'mute': no cache was written: it made no model cache");
    assert_null(fopen(file, "rb"));
    over(&n, 1, ab, "SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD\nRELU\nSUB\nMAX", KEPT, OK);
    says(&n, "no cache was written");
    assert_null(fopen(file, "rb"));
    for (uint32_t way = 0; way < 2; way++) { /* two devices; and operations that are kept from them */
        const char *properties = way == 0 ? "" : max;
        (void)remove(file);
        over(&n, 2, ab, properties, KEPT, OK);
        assert_string_equal(nnrt_nnadapter_compilation_error(n.compilation), "");
        data = file_of(file, &bytes);
        made[0] = made_by(a);
        made[1] = made_by(b);
        assert_true(made[0] > 0 && made[1] > 0);
        for (uint32_t i = 0; i < 4; i++) { /* with the model; without; from memory; in another order they are other parts */
            const int32_t dims[2] = {2, 3};
            NNAdapterExecution_destroy(n.execution);
            NNAdapterCompilation_destroy(n.compilation);
            NNAdapterContext_destroy(n.context);
            n.execution = NULL;
            n.compilation = NULL;
            n.context = context_over(2, i == 3 ? ba : ab, properties);
            is(NNAdapterCompilation_create(i == 0 ? n.model : NULL, "four", i == 2 ? data : NULL, (uint32_t)bytes,
                                           i == 2 ? NULL : KEPT, n.context, &n.compilation), OK);
            is(NNAdapterCompilation_finish(n.compilation), i == 3 ? IP : OK);
            if (i == 3)
                break;
            is(NNAdapterExecution_create(n.compilation, &n.execution), OK);
            is(bind(&n), OK);
            is(NNAdapterExecution_compute(n.execution), OK);
            gives(&n, 0, 2, dims, fourZ);
            assert_int_equal(made_by(a), made[0]);
            assert_int_equal(made_by(b), made[1]);
        }
        /* with other records, and without one of the devices, there is nothing to use */
        for (uint32_t i = 0; i < 4; i++) {
            static const char *const others[3] = {"SUBGRAPH_PARTITION_CONFIG_BUFFER=ADD",
                                                  "MIXED_PRECISION_QUANTIZATION_CONFIG_BUFFER=ADD", ""};
            NNAdapterCompilation *c = NULL;
            NNAdapterContext *context = i == 3 ? context_over(1, ab, properties)
                                               : context_over(2, ab, i == 2 && way == 0 ? max : others[i]);
            is(NNAdapterCompilation_create(NULL, "four", data, (uint32_t)bytes, NULL, context, &c), OK);
            is(NNAdapterCompilation_finish(c), IP);
            NNAdapterCompilation_destroy(c);
            NNAdapterContext_destroy(context);
        }
        /* bytes that were changed, with a checksum that fits, too; and cut short */
        NNAdapterContext_destroy(n.context);
        n.context = context_over(2, ab, properties);
        for (size_t i = 24; i < bytes; i += 5)
            for (uint32_t how = 0; how < 3; how++) {
                NNAdapterCompilation *c = NULL;
                const size_t length = how == 2 ? i : bytes;
                uint32_t sum;
                bad = (uint8_t *)malloc(length);
                memcpy(bad, data, length);
                if (how < 2)
                    bad[i] ^= (uint8_t)(1u << i % 8);
                sum = nnrti_nnc_checksum(bad + 24, length - 24);
                if (how == 1)
                    memcpy(bad + 8, &sum, sizeof(sum));
                is(NNAdapterCompilation_create(NULL, "four", bad, (uint32_t)length, NULL, n.context, &c), OK);
                if (how == 1)
                    (void)NNAdapterCompilation_finish(c); /* a zero between entries may be another number */
                else
                    is(NNAdapterCompilation_finish(c), IP);
                NNAdapterCompilation_destroy(c);
                free(bad);
            }
        /* a broken cache is written again */
        data[bytes / 2] ^= 1;
        file_is(file, data, bytes);
        data[bytes / 2] ^= 1;
        over(&n, 2, ab, properties, KEPT, OK);
        bad = file_of(file, &again);
        assert_int_equal(again, bytes);
        assert_memory_equal(bad, data, bytes);
        free(bad);
        free(data);
    }
    /* one of the devices has become another one: its parts are made, and the file is written anew */
    over(&n, 2, ab, "", KEPT, OK);
    end(&n);
    unregistered(b);
    b = registered("fake:name=b,not=SUB_FUSION,cache=yes,type=GPU");
    is(four_net(&n, 2), OK);
    made[0] = made_by(a);
    for (uint32_t i = 0; i < 2; i++) {
        over(&n, 2, ab, "", KEPT, OK);
        assert_int_equal(made_by(a), made[0]);
        made[1] = i == 0 ? made_by(b) : made[1];
        assert_int_equal(made_by(b), made[1]);
    }
    end(&n);
    is(remove(file), 0);
    is(rmdir(KEPT), 0);
    unregistered(a);
    unregistered(b);
    unregistered(mute);
}

/* ---- float32 among quantized operations ---- */

/* y = x * 0.25 * 16 in int8; x is in steps of 0.5, the products in steps of 1: the first one of 1 (0.5) is 0.125, which is 0.
   Operands: 0 x, 1 and 2 the factors, 3: no activation, 4 the first product, 5 the second one. each: both are outputs. */
static int quantised_net(net *n, const int8_t *x, bool each)
{
    static const int8_t factors[2] = {1, 16};
    const int32_t dims[1] = {2}, one[1] = {1};
    NNAdapterOperandType type = type_of(NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 1, dims), factor = type;
    NNAdapterOperand *o[2] = {NULL, NULL}, *in[3];
    NNAdapterOperation *op;
    int code = begin(n);
    if (code != OK)
        return code;
    type.symm_per_layer_params.scale = 0.5f;
    factor.symm_per_layer_params.scale = 0.25f;
    memcpy(factor.dimensions.data, one, sizeof(one));
    n->from[0].rank = 1;
    n->from[0].dims[0] = 2;
    n->from[0].data = (void *)(uintptr_t)x;
    in[0] = operand(n, &type, NULL, 0, true);
    n->in[0] = operand(n, &factor, &factors[0], 1, false);
    factor.symm_per_layer_params.scale = type.symm_per_layer_params.scale = 1;
    n->in[1] = operand(n, &factor, &factors[1], 1, false);
    n->nIn = 2;
    one_int(n, NNADAPTER_FUSED_NONE);
    for (uint32_t i = 0; i < 2; i++)
        o[i] = operand(n, &type, NULL, 0, false);
    if (in[0] == NULL || n->in[0] == NULL || n->in[1] == NULL || n->in[2] == NULL || o[0] == NULL || o[1] == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    in[2] = n->in[2];
    for (uint32_t i = 0; i < 2; i++) {
        in[1] = n->in[i];
        if ((code = NNAdapterModel_addOperation(n->model, NNADAPTER_MUL, 3, in, 1, &o[i], &op)) != OK)
            return code;
        in[0] = o[i];
        if (i == 1 || each)
            n->out[n->nOut++] = o[i];
    }
    return finish(n);
}

static int compiled(net *n, const char *properties)
{
    int code;
    if ((n->context = context_of("npu", properties)) == NULL)
        return NNADAPTER_OUT_OF_MEMORY;
    if ((code = prepare(n)) != OK)
        return code;
    return NNAdapterExecution_compute(n->execution);
}

#define MIXED "MIXED_PRECISION_QUANTIZATION_CONFIG_BUFFER="

static void mixed(void **state)
{
    static const int8_t x[2] = {1, -2};
    static const struct {
        const char *properties;
        uint32_t nodes;
        int8_t y[2][2]; /* the first product, the second one */
        const char *warning;
    } cases[] = {{"", 2, {{0, 0}, {0, 0}}, ""},
                 {MIXED "MUL:1", 4, {{0, 0}, {0, 0}}, ""}, /* a cast before, and one after */
                 {MIXED "MUL::5", 4, {{0, 0}, {0, 0}}, ""},
                 {MIXED "MUL", 4, {{0, 0}, {2, -4}}, ""}, /* nothing is rounded between */
                 {MIXED "MUL:0\nMUL:4\nADD", 4, {{0, 0}, {2, -4}}, "no operation matches 'ADD'"},
                 {"MIXED_PRECISION_QUANTIZATION_CONFIG_FILE=build/test_nnadapter.mixed", 4, {{0, 0}, {2, -4}}, ""},
                 {"MIXED_PRECISION_QUANTIZATION_CONFIG_FILE=build/nowhere.mixed", 2, {{0, 0}, {0, 0}},
                  "MIXED_PRECISION_QUANTIZATION_CONFIG_FILE: 'build/nowhere.mixed' cannot be read"}};
    nnrt_fake *npu = registered("fake:name=npu");
    uint32_t models = 0, nodes = 0;
    net n;
    (void)state;
    file_is("build/test_nnadapter.mixed", "MUL", 3);
    for (uint32_t each = 0; each < 2; each++)
        for (uint32_t i = 0; i < COUNT(cases); i++) {
            is(quantised_net(&n, x, each != 0), OK);
            is(compiled(&n, cases[i].properties), OK);
            for (uint32_t k = 0; k < n.nOut; k++) {
                assert_int_equal(n.to[k].precision, NNADAPTER_QUANT_INT8_SYMM_PER_LAYER);
                if (memcmp(n.to[k].data, cases[i].y[each != 0 ? k : 1], 2) != 0)
                    fail_msg("'%s', output %u: %d %d", cases[i].properties, (unsigned)k,
                             ((const int8_t *)n.to[k].data)[0], ((const int8_t *)n.to[k].data)[1]);
            }
            assert_string_equal(nnrt_nnadapter_compilation_error(n.compilation), cases[i].warning);
            /* where the first product is an output, too, both in float32 have one cast more */
            had(npu, &models, &nodes, 1, cases[i].nodes + (each != 0 && cases[i].y[1][0] == 2 ? 1 : 0));
            end(&n);
        }
    is(setenv("MIXED_PRECISION_QUANTIZATION_CONFIG_BUFFER", "MUL", 1), 0);
    is(quantised_net(&n, x, false), OK);
    is(compiled(&n, NULL), OK);
    assert_memory_equal(n.to[0].data, cases[3].y[1], 2);
    end(&n);
    is(unsetenv("MIXED_PRECISION_QUANTIZATION_CONFIG_BUFFER"), 0);
    /* casts that were put in are of no operation that a record names; the others may be kept from the device */
    models = nnrt_fake_get_record(npu).prepared;
    nodes = nnrt_fake_get_record(npu).nodes;
    is(quantised_net(&n, x, false), OK);
    is(compiled(&n, MIXED "MUL;SUBGRAPH_PARTITION_CONFIG_BUFFER=MUL:4"), OK);
    assert_memory_equal(n.to[0].data, cases[3].y[1], 2);
    had(npu, &models, &nodes, 2, 3);
    end(&n);
    is(remove("build/test_nnadapter.mixed"), 0);
    unregistered(npu);
}

/* Constants of all kinds: results of a convolution and a layer in float32. */
static void mixed_constants(void **state)
{
    static const int8_t x[2] = {2, -4}, w[2] = {4, -8}, cw[2] = {4, -4};
    static const uint8_t ux[2] = {102, 96}, uw[2] = {132, 120};
    static const int32_t b[2] = {4, -8}; /* in units of 0.25, or of 0.25 and 0.5 */
    const int32_t xDims[4] = {1, 1, 1, 2}, wDims[4] = {2, 1, 1, 1}, two = 2, ones[2] = {1, 1};
    float each[2] = {0.5f, 1}, biasEach[2] = {0.25f, 0.5f};
    nnrt_fake *npu = registered("fake:name=npu");
    net n;
    (void)state;
    /* 0 one scale, 1 one a channel, 2 and 3 the same with a bias of plain int32, 4 zero points, 5 a filter and
       6 a bias that are no constants, 7 a bias of plain int32 that is no constant */
    for (int k = 0; k < 8; k++) {
        NNAdapterOperandType in = type_of(NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 4, xDims), out = in;
        NNAdapterOperandType filter = type_of(NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 4, wDims);
        NNAdapterOperandType bias = type_of(NNADAPTER_QUANT_INT32_SYMM_PER_LAYER, 1, &two);
        const bool channels = k == 1 || k == 3, plain = k == 2 || k == 3 || k == 7;
        uint32_t models = 0, nodes = 0;
        in.symm_per_layer_params.scale = 0.5f;
        filter.symm_per_layer_params.scale = 0.5f;
        bias.symm_per_layer_params.scale = 0.25f;
        out.symm_per_layer_params.scale = 0.25f;
        out.dimensions.count = 0;
        if (channels) {
            filter.precision = NNADAPTER_QUANT_INT8_SYMM_PER_CHANNEL;
            bias.precision = NNADAPTER_QUANT_INT32_SYMM_PER_CHANNEL;
            filter.symm_per_channel_params.channel_dim = bias.symm_per_channel_params.channel_dim = 0;
            filter.symm_per_channel_params.scale_count = bias.symm_per_channel_params.scale_count = 2;
            filter.symm_per_channel_params.scales = each;
            bias.symm_per_channel_params.scales = biasEach;
        }
        if (plain)
            bias = type_of(NNADAPTER_INT32, 1, &two);
        if (k == 4) {
            in = type_of(NNADAPTER_QUANT_UINT8_ASYMM_PER_LAYER, 4, xDims);
            in.asymm_per_layer_params.scale = 0.5f;
            in.asymm_per_layer_params.zero_point = 100;
            out.precision = NNADAPTER_QUANT_UINT8_ASYMM_PER_LAYER;
            out.asymm_per_layer_params.zero_point = 7;
            filter = type_of(NNADAPTER_QUANT_UINT8_ASYMM_PER_LAYER, 4, wDims);
            filter.asymm_per_layer_params.scale = 0.5f;
            filter.asymm_per_layer_params.zero_point = 128;
        }
        is(begin(&n), OK);
        n.from[0].rank = 4;
        memcpy(n.from[0].dims, xDims, sizeof(xDims));
        n.from[0].data = k == 4 ? (void *)(uintptr_t)ux : (void *)(uintptr_t)x;
        n.in[n.nIn++] = operand(&n, &in, NULL, 0, true);
        n.from[n.nInputs].rank = 4;
        memcpy(n.from[n.nInputs].dims, wDims, sizeof(wDims));
        n.from[n.nInputs].data = (void *)(uintptr_t)w;
        n.in[n.nIn++] = operand(&n, &filter, k == 5 ? NULL : k == 4 ? (const void *)uw : channels ? cw : w, 2, k == 5);
        n.from[n.nInputs].rank = 1;
        n.from[n.nInputs].dims[0] = 2;
        n.from[n.nInputs].data = (void *)(uintptr_t)b;
        n.in[n.nIn++] = operand(&n, &bias, k >= 6 ? NULL : b, sizeof(b), k >= 6);
        one_int(&n, NNADAPTER_AUTO_PAD_VALID);
        left_out(&n);
        ints(&n, 2, ones);
        one_int(&n, 1);
        ints(&n, 2, ones);
        one_int(&n, NNADAPTER_FUSED_RELU6);
        result(&n, &out);
        is(add(&n, NNADAPTER_CONV_2D), OK);
        is(finish(&n), OK);
        models = nnrt_fake_get_record(npu).prepared;
        nodes = nnrt_fake_get_record(npu).nodes;
        is(compiled(&n, MIXED "CONV_2D"), k == 7 ? NO : OK);
        if (k == 7) {
            says(&n, "operation 0 (CONV_2D): an int32 bias must be a constant, and match the scales of a quantized "
                     "weight");
            end(&n);
            continue;
        }
        /* 1*2+1, -2*2+1; 1*-4-2, -2*-4-2 -> 3, 0 (-3), 0 (-6), 6; a scale a channel: 1*-4-4, -2*-4-4 -> 0 (-8), 4 */
        if (k == 4) {
            const uint8_t y[4] = {19, 7, 7, 31};
            assert_memory_equal(n.to[0].data, y, sizeof(y));
        } else {
            const int8_t y[4] = {12, 0, 0, channels ? 16 : 24};
            assert_memory_equal(n.to[0].data, y, sizeof(y));
        }
        had(npu, &models, &nodes, 1, k == 5 ? 5 : k == 6 ? 4 : 3); /* casts; a filter is turned */
        end(&n);
    }
    /* casts themselves */
    for (int k = 0; k < 2; k++) {
        const float values[2] = {1, 2}, scale = 0.5f;
        NNAdapterOperandType q = type_of(NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 1, &two);
        q.symm_per_layer_params.scale = scale;
        is(begin(&n), OK);
        if (k == 0) {
            variable(&n, NNADAPTER_FLOAT32, 1, &two, values);
            one_int(&n, 0);
            one_float(&n, scale);
            result(&n, &q);
        } else {
            n.in[n.nIn++] = operand(&n, &q, NULL, 0, true);
            result(&n, NULL);
        }
        is(add(&n, k == 0 ? NNADAPTER_QUANTIZE : NNADAPTER_DEQUANTIZE), OK);
        is(finish(&n), OK);
        is(compiled(&n, k == 0 ? MIXED "QUANTIZE" : MIXED "DEQUANTIZE"), NO);
        says(&n, k == 0 ? "operation 0 (QUANTIZE) only converts: it cannot compute in float32"
                        : "operation 0 (DEQUANTIZE) only converts: it cannot compute in float32");
        end(&n);
    }
    unregistered(npu);
}

/* An operand that two operations in float32 read is dequantized once; an output that one writes is quantized once. */
static void mixed_once(void **state)
{
    static const int8_t x[2] = {3, -5};
    const int32_t dims[1] = {2};
    nnrt_fake *npu = registered("fake:name=npu");
    NNAdapterOperandType type = type_of(NNADAPTER_QUANT_INT8_SYMM_PER_LAYER, 1, dims);
    NNAdapterOperand *a, *o[4];
    NNAdapterOperation *op;
    net n;
    (void)state;
    type.symm_per_layer_params.scale = 1;
    is(begin(&n), OK);
    n.from[0].rank = 1;
    n.from[0].dims[0] = 2;
    n.from[0].data = (void *)(uintptr_t)x;
    a = operand(&n, &type, NULL, 0, true);
    for (uint32_t i = 0; i < 4; i++)
        o[i] = operand(&n, &type, NULL, 0, false);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_ABS, 1, &a, 1, &o[0], &op), OK);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_RELU, 1, &a, 1, &o[1], &op), OK);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_RELU6, 1, &o[0], 1, &o[2], &op), OK);
    is(NNAdapterModel_addOperation(n.model, NNADAPTER_TRANSPOSE, 1, &o[0], 1, &o[3], &op), OK);
    for (uint32_t i = 1; i < 4; i++)
        n.out[n.nOut++] = o[i];
    is(finish(&n), OK);
    is(compiled(&n, MIXED "ABS\nRELU"), OK);
    assert_memory_equal(n.to[0].data, ((const int8_t[2]){3, 0}), 2);
    assert_memory_equal(n.to[1].data, ((const int8_t[2]){3, 5}), 2);
    assert_memory_equal(n.to[2].data, ((const int8_t[2]){3, 5}), 2);
    assert_int_equal(nnrt_fake_get_record(npu).nodes, 7); /* four, x in float32, the results of ABS and RELU */
    end(&n);
    unregistered(npu);
}

/* Every request for memory fails in turn; nothing is left. */
static void records_without_memory(void **state)
{
    static const int8_t x[2] = {1, -2};
    nnrt_fake *npu = registered("fake:name=npu,cache=yes");
    static const char *const both[2] = {"npu", "reference"};
    uint32_t failures = 0;
    net n;
    (void)state;
    (void)rmdir(KEPT);
    is(mkdir(KEPT, 0777), 0);
    is(quantised_net(&n, x, false), OK);
    for (uint32_t way = 0; way < 2; way++) /* prepared; restored */
        for (int64_t k = 1;; k++) {
            NNAdapterDevice *d[2] = {NULL, NULL};
            NNAdapterContext *context = NULL;
            NNAdapterCompilation *c = NULL;
            const int64_t before = heap_live;
            bool reached;
            int code = OK;
            if (way == 0)
                (void)remove(KEPT_FILE);
            heap_fail_at = heap_calls + k;
            for (uint32_t i = 0; i < 2 && code == OK; i++)
                code = NNAdapterDevice_acquire(both[i], &d[i]);
            if (code == OK)
                code = NNAdapterContext_create(d, 2, "A=1;A=2;" MIXED "MUL;SUBGRAPH_PARTITION_CONFIG_BUFFER=MUL::5;",
                                               NULL, &context);
            if (code == OK)
                code = NNAdapterCompilation_create(way == 0 ? n.model : NULL, "net", NULL, 0, KEPT, context, &c);
            if (code == OK)
                code = NNAdapterCompilation_finish(c);
            reached = heap_calls >= heap_fail_at;
            heap_fail_at = 0;
            failures += code != OK;
            if (way == 0 && code != OK)
                is(code, NNADAPTER_OUT_OF_MEMORY);
            NNAdapterCompilation_destroy(c);
            NNAdapterContext_destroy(context);
            NNAdapterDevice_release(d[0]);
            NNAdapterDevice_release(d[1]);
            assert_int_equal(heap_live, before);
            if (!reached) {
                is(code, OK);
                break;
            }
        }
    assert_true(failures > 60);
    end(&n);
    is(remove(KEPT_FILE), 0);
    is(rmdir(KEPT), 0);
    unregistered(npu);
}

/* ---- every function of the header is called by the test that is named here ---- */

static const char *const functions[28][2] = {
    {"NNAdapter_getVersion", "devices"},
    {"NNAdapter_getDeviceCount", "devices"},
    {"NNAdapterDevice_acquire", "devices"},
    {"NNAdapterDevice_release", "devices"},
    {"NNAdapterDevice_getName", "devices"},
    {"NNAdapterDevice_getVendor", "devices"},
    {"NNAdapterDevice_getType", "devices"},
    {"NNAdapterDevice_getVersion", "devices"},
    {"NNAdapterContext_create", "contexts"},
    {"NNAdapterContext_destroy", "contexts"},
    {"NNAdapterModel_create", "operands"},
    {"NNAdapterModel_destroy", "operands"},
    {"NNAdapterModel_finish", "finishing"},
    {"NNAdapterModel_addOperand", "operands"},
    {"NNAdapterModel_setOperandValue", "operands"},
    {"NNAdapterModel_getOperandType", "operands"},
    {"NNAdapterModel_addOperation", "operations"},
    {"NNAdapterModel_identifyInputsAndOutputs", "finishing"},
    {"NNAdapterModel_getSupportedOperations", "supported"},
    {"NNAdapterCompilation_create", "compilations"},
    {"NNAdapterCompilation_destroy", "compilations"},
    {"NNAdapterCompilation_finish", "compilations"},
    {"NNAdapterCompilation_queryInputsAndOutputs", "compilations"},
    {"NNAdapterExecution_create", "executions"},
    {"NNAdapterExecution_destroy", "executions"},
    {"NNAdapterExecution_setInput", "executions"},
    {"NNAdapterExecution_setOutput", "executions"},
    {"NNAdapterExecution_compute", "executions"},
};

static char *whole_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = (char *)calloc(1, 1 << 20);
    if (f == NULL || text == NULL || fread(text, 1, (1 << 20) - 1, f) == 0)
        fail_msg("%s cannot be read", path);
    (void)fclose(f);
    return text;
}

static void all_functions(void **state)
{
    char *header = whole_file("compat/nnadapter/nnadapter.h"), *tests = whole_file("tests/compat/test_nnadapter.c");
    uint32_t declared = 0;
    (void)state;
    for (const char *at = header; (at = strstr(at, "\nNNRT_NNADAPTER_API ")) != NULL; at++)
        declared++;
    assert_int_equal(declared, 28);
    for (uint32_t i = 0; i < 28; i++) {
        char call[80], begins[80];
        const char *body, *ends, *found;
        (void)snprintf(call, sizeof(call), "%s(", functions[i][0]);
        (void)snprintf(begins, sizeof(begins), "static void %s(void **state)\n{", functions[i][1]);
        if (strstr(header, call) == NULL)
            fail_msg("%s is not declared", functions[i][0]);
        body = strstr(tests, begins);
        assert_non_null(body);
        ends = strstr(body, "\n}\n");
        found = strstr(body, call);
        if (found == NULL || found > ends)
            fail_msg("%s is not called by the test %s", functions[i][0], functions[i][1]);
    }
    free(header);
    free(tests);
}

int main(void)
{
    static const struct CMUnitTest fixed[] = {
        cmocka_unit_test(parameter_rows),
        cmocka_unit_test(devices),           cmocka_unit_test(contexts),      cmocka_unit_test(operands),
        cmocka_unit_test(operations),        cmocka_unit_test(finishing),     cmocka_unit_test(supported),
        cmocka_unit_test(compilations),      cmocka_unit_test(caches),        cmocka_unit_test(caches_without_memory),
        cmocka_unit_test(executions),        cmocka_unit_test(dynamic),       cmocka_unit_test(shapes_kept), cmocka_unit_test(building_dims),
        cmocka_unit_test(alternatives),       cmocka_unit_test(told_by_values),
        cmocka_unit_test(convolution),       cmocka_unit_test(transposed),    cmocka_unit_test(quantised),
        cmocka_unit_test(unknown_results),   cmocka_unit_test(unknown_quantised), cmocka_unit_test(quantize_operands),
        cmocka_unit_test(decided_in_the_run), cmocka_unit_test(custom_operations), cmocka_unit_test(empty_windows), cmocka_unit_test(allocations_late),
        cmocka_unit_test(channels),          cmocka_unit_test(defaults),      cmocka_unit_test(refused),
        cmocka_unit_test(chain),             cmocka_unit_test(complete),      cmocka_unit_test(allocations),
        cmocka_unit_test(runs_take_nothing), cmocka_unit_test(all_functions), cmocka_unit_test(several),
        cmocka_unit_test(kept),              cmocka_unit_test(shared_caches), cmocka_unit_test(mixed),
        cmocka_unit_test(mixed_constants),   cmocka_unit_test(mixed_once),    cmocka_unit_test(records_without_memory),
        cmocka_unit_test(properties),        cmocka_unit_test(fully_connected_as_paddle_lite),
        cmocka_unit_test(operands_as_paddle_lite),
        cmocka_unit_test(global_pools_as_paddle_lite),
        cmocka_unit_test(sizes_as_paddle_lite),
        cmocka_unit_test(transposed_as_paddle_lite),
        cmocka_unit_test(numbers_as_paddle_lite),
        cmocka_unit_test(supported_in_the_run),
    };
    static struct CMUnitTest tests[COUNT(fixed) + COUNT(operation_cases)];
    int failed;
    memcpy(tests, fixed, sizeof(fixed));
    for (uint32_t i = 0; i < COUNT(operation_cases); i++) {
        struct CMUnitTest *t = &tests[COUNT(fixed) + i];
        t->name = operation_cases[i].name;
        t->test_func = numbers;
        t->initial_state = (void *)(uintptr_t)&operation_cases[i];
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (heap_live != 0)
        (void)fprintf(stderr, "%lld blocks are left\n", (long long)heap_live);
    return failed + (heap_live != 0);
}
