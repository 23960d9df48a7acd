/* The return codes of OpenHarmony's 75 functions and the order of their checks, from the text of the API's
   specification, whose sections the rows name. The order of checks with the same code cannot be observed; each is
   tested alone. */
#define _XOPEN_SOURCE 700

#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "inside.h"

#include "devices/nnrt_auto.h"

#include "devices/nnrt_cpu.h"
#include "ohnn_kit.h"

#include "codes.h"

#define GONE OH_NN_UNAVAILABLE_DEVICE
#define MEMORY OH_NN_MEMORY_ERROR
#define FAILED OH_NN_FAILED
#define NO_DEVICE 12345

/* ---- helpers ---- */

static const int32_t shape23[2] = {2, 3}, shape43[2] = {4, 3}, flat6[1] = {6};
static const float six[6] = {1, -2, 3, -4, 5, -6};

/* A device "npu" with further options. */
static nnrt_fake *npu_with(const char *options)
{
    char text[400];
    (void)snprintf(text, sizeof(text), "fake:name=npu,vendor=acme%s", options);
    (void)nnrt_device_unregister("npu"); /* where a test that failed has left it */
    return registered(text);
}

/* The device that was registered last. */
static size_t last_id(void)
{
    const size_t *ids = NULL;
    uint32_t count = 0;
    is(OH_NNDevice_GetAllDevicesID(&ids, &count), OK);
    return ids[count - 1];
}

/* The model of add_parts and three tensors that it does not use: 4 is a constant, 5 has a dynamic dimension, 6 is a
   parameter. */
static OH_NNModel *model_with(bool finished)
{
    const int32_t open[2] = {-1, 3};
    const int8_t none = OH_NN_FUSED_NONE;
    uint32_t in[2] = {0, 1}, out[1] = {3};
    OH_NNModel *model = NULL;
    is(add_parts(&model, 2), OK);
    is(add_tensor(model, OH_NN_FLOAT32, shape23, 2, OH_NN_TENSOR, six, sizeof(six)), OK);
    is(add_tensor(model, OH_NN_FLOAT32, open, 2, OH_NN_TENSOR, NULL, 0), OK);
    is(add_tensor(model, OH_NN_INT8, open, 0, OH_NN_ADD_ACTIVATIONTYPE, &none, 1), OK);
    if (finished) {
        is(specify(model, in, 2, out, 1), OK);
        is(OH_NNModel_Finish(model), OK);
    }
    return model;
}

/* A compilation on the device that was registered last, built or not; its model is destroyed if it is built. */
static OH_NNCompilation *compiled(OH_NNModel **model, int32_t rows, bool build)
{
    OH_NNCompilation *c;
    is(add_model(model, rows), OK);
    c = OH_NNCompilation_Construct(*model);
    assert_non_null(c);
    is(OH_NNCompilation_SetDevice(c, last_id()), OK);
    if (build) {
        is(OH_NNCompilation_Build(c), OK);
        OH_NNModel_Destroy(model);
    }
    return c;
}

static OH_NNExecutor *executor(int32_t rows)
{
    OH_NNModel *model = NULL;
    OH_NNCompilation *c = compiled(&model, rows, true);
    OH_NNExecutor *e = OH_NNExecutor_Construct(c);
    assert_non_null(e);
    OH_NNCompilation_Destroy(&c);
    return e;
}

/* ---- 2: devices ---- */

static const check all_ids_checks[] = {
    {"allDevicesID NULL", IP, 0}, {"*allDevicesID not NULL", IP, A(0)}, {"deviceCount NULL", IP, 0}, END};
static int all_ids(uint32_t broken)
{
    const size_t own = 1, *ids = B(1) ? &own : NULL, *before = ids;
    uint32_t count = 99;
    const int code = (int)OH_NNDevice_GetAllDevicesID(B(0) ? NULL : &ids, B(2) ? NULL : &count);
    assert_true(code == OK || (ids == before && count == 99));
    return code;
}

static const check device_name_checks[] = {
    {"name NULL", IP, 0}, {"*name not NULL", IP, A(0)}, {"unknown id", FAILED, 0}, END};
static int device_name(uint32_t broken)
{
    const char *own = "own", *name = B(1) ? own : NULL;
    const int code = (int)OH_NNDevice_GetName(B(2) ? NO_DEVICE : 0, B(0) ? NULL : &name);
    assert_true(code == OK ? name != NULL : name == (B(1) ? own : NULL));
    return code;
}

static const check device_type_checks[] = {
    {"unknown id", IP, 0}, {"deviceType NULL", IP, 0}, {"the device's own query fails", GONE, 0}, END};
static int device_type(uint32_t broken)
{
    nnrt_fake *npu = npu_with(B(2) ? ",fail=GetDeviceType" : "");
    OH_NN_DeviceType type = OH_NN_GPU;
    const int code = (int)OH_NNDevice_GetType(B(0) ? NO_DEVICE : last_id(), B(1) ? NULL : &type);
    assert_int_equal(type, code == OK ? OH_NN_ACCELERATOR : OH_NN_GPU);
    unregistered(npu);
    return code;
}

/* ---- 3: models ---- */

static const check model_new_checks[] = {{"memory is short", NOTHING, 0}, END};
static int model_new(uint32_t broken)
{
    OH_NNModel *model;
    int code;
    heap_fail_at = B(0) ? heap_calls + 1 : 0;
    model = OH_NNModel_Construct();
    heap_fail_at = 0;
    code = model != NULL ? DONE : NOTHING;
    OH_NNModel_Destroy(&model);
    return code;
}

static const check add_desc_checks[] = {{"model NULL", IP, 0},
                                        {"tensorDesc NULL", IP, 0},
                                        {"finished (1.2)", OF, 0},
                                        {"allocation", MEMORY, 0},
                                        {"data type outside UNKNOWN..FLOAT64", IP, 0},
                                        {"a dimension 0", IP, 0},
                                        {"a dimension < -1", IP, 0},
                                        {"byte size over the limit", IP, 0},
                                        END};
static int add_desc(uint32_t broken)
{
    OH_NNModel *model = B(2) ? model_with(true) : OH_NNModel_Construct();
    const int32_t dims[3] = {B(5) ? 0 : 2, B(6) ? -2 : 3, B(7) ? INT32_MAX : 1};
    const uint32_t before = model->graph->nValues;
    NN_TensorDesc *desc = desc_of(OH_NN_FLOAT32, dims, 3);
    int code;
    if (B(4))
        desc->dataType = (OH_NN_DataType)13; /* SetDataType refuses it */
    heap_fail_at = B(3) ? heap_calls + 1 : 0;
    code = (int)OH_NNModel_AddTensorToModel(B(0) ? NULL : model, B(1) ? NULL : desc);
    heap_fail_at = 0;
    assert_int_equal(model->graph->nValues, before + (code == OK));
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    OH_NNModel_Destroy(&model);
    return code;
}

static const check add_struct_checks[] = {{"model NULL", IP, 0},
                                          {"tensor NULL", IP, 0},
                                          {"finished", OF, 0},
                                          {"allocation", MEMORY, 0},
                                          {"data type invalid", IP, 0},
                                          {"tensor type invalid", IP, 0},
                                          {"dimensions NULL while dimensionCount > 0", IP, 0},
                                          {"dimensions while dimensionCount 0", IP, A(6)},
                                          {"a dimension 0", IP, A(6) | A(7)},
                                          {"a dimension < -1", IP, A(6) | A(7)},
                                          {"byte size over the limit", IP, A(6) | A(7)},
                                          {"rank > 200 (1.4)", IP, A(6) | A(7)},
                                          {"quantParam without numBits", IP, 0},
                                          {"without scale", IP, 0},
                                          {"without zeroPoint", IP, 0},
                                          {"a bit width other than 8", IP, A(12)},
                                          END};
static int add_struct(uint32_t broken)
{
    OH_NNModel *model = B(2) ? model_with(true) : OH_NNModel_Construct();
    const uint32_t before = model->graph->nValues, bits[1] = {B(15) ? 16u : 8u};
    const double scale[1] = {1};
    const int32_t zero[1] = {0};
    int32_t dims[201] = {B(8) ? 0 : 2, B(9) ? -2 : 3, B(10) ? INT32_MAX : 1};
    OH_NN_QuantParam quant = {1, B(12) ? NULL : bits, B(13) ? NULL : scale, B(14) ? NULL : zero};
    OH_NN_Tensor tensor = {OH_NN_FLOAT32, 3, dims, &quant, OH_NN_TENSOR};
    int code;
    for (uint32_t i = 3; i < 201; i++)
        dims[i] = 1;
    tensor.dataType = B(4) ? (OH_NN_DataType)13 : OH_NN_FLOAT32;
    tensor.type = B(5) ? (OH_NN_TensorType)9999 : OH_NN_TENSOR;
    tensor.dimensions = B(6) ? NULL : dims;
    tensor.dimensionCount = B(7) ? 0 : B(11) ? 201 : 3;
    heap_fail_at = B(3) ? heap_calls + 1 : 0;
    code = (int)OH_NNModel_AddTensor(B(0) ? NULL : model, B(1) ? NULL : &tensor);
    heap_fail_at = 0;
    assert_int_equal(model->graph->nValues, before + (code == OK));
    OH_NNModel_Destroy(&model);
    return code;
}

static const check set_type_checks[] = {{"model NULL", IP, 0},
                                        {"value outside the enum", IP, 0},
                                        {"finished", OF, 0},
                                        {"index >= tensor count", IP, 0},
                                        END};
static int set_type(uint32_t broken)
{
    OH_NNModel *model = model_with(B(2));
    const int code =
        (int)OH_NNModel_SetTensorType(B(0) ? NULL : model, B(3) ? 7 : 4, B(1) ? (OH_NN_TensorType)-1 : OH_NN_CLIP_MAX);
    assert_int_equal(model->graph->values[4].type, code == OK ? OH_NN_CLIP_MAX : OH_NN_TENSOR);
    OH_NNModel_Destroy(&model);
    return code;
}

static const check set_quant_checks[] = {{"model NULL", IP, 0},
                                         {"quantParam NULL", IP, 0},
                                         {"finished", OF, 0},
                                         {"index out of range", IP, 0},
                                         {"arrays of other lengths", IP, 0},
                                         {"an array never set", IP, A(4)},
                                         {"a bit width not 8", IP, A(5)},
                                         {"a count that no channel axis has", IP, A(4)},
                                         {"a scale of 0", IP, 0},
                                         {"a scale that is not finite", IP, A(8)},
                                         END};
static int set_quant(uint32_t broken)
{
    OH_NNModel *model = model_with(B(2));
    const double zero = 0, scales[4] = {1, 2, B(8) ? 0 : B(9) ? 1 / zero : 3, 4};
    const int32_t points[4] = {0, 0, 0, 0};
    const uint32_t bits[4] = {8, 8, B(6) ? 4 : 8, 8};
    NN_QuantParam *q = OH_NNQuantParam_Create();
    const size_t count = B(7) ? 4 : 3;
    int code;
    is(OH_NNQuantParam_SetScales(q, scales, count), OK);
    is(OH_NNQuantParam_SetZeroPoints(q, points, B(4) ? 2 : count), OK);
    if (!B(5))
        is(OH_NNQuantParam_SetNumBits(q, bits, count), OK);
    code = (int)OH_NNModel_SetTensorQuantParams(B(0) ? NULL : model, B(3) ? 7 : 4, B(1) ? NULL : q);
    assert_int_equal(model->graph->values[4].quantCount, code == OK ? 3 : 0);
    is(OH_NNQuantParam_Destroy(&q), OK);
    OH_NNModel_Destroy(&model);
    return code;
}

static const check set_data_checks[] = {{"model NULL", IP, 0},
                                        {"dataBuffer NULL", IP, 0},
                                        {"length 0", IP, 0},
                                        {"finished", OF, 0},
                                        {"index out of range", IP, 0},
                                        {"data already set", IP, A(4)},
                                        {"a -1 dimension", OF, A(4) | A(5)},
                                        {"length not the byte size", IP, A(2)},
                                        {"allocation", MEMORY, 0},
                                        END};
static int set_data(uint32_t broken)
{
    OH_NNModel *model = model_with(B(3));
    int code;
    heap_fail_at = B(8) ? heap_calls + 1 : 0;
    code = (int)OH_NNModel_SetTensorData(B(0) ? NULL : model,
                                    B(4)   ? 7
                                    : B(5) ? 4
                                    : B(6) ? 5
                                           : 0,
                                    B(1) ? NULL : six,
                                    B(2)   ? 0
                                    : B(7) ? 20
                                           : 24);
    heap_fail_at = 0;
    assert_true((model->graph->values[0].data != NULL) == (code == OK));
    OH_NNModel_Destroy(&model);
    return code;
}

static const check add_op_checks[] = {
    {"model NULL", IP, 0},
    {"paramIndices NULL", IP, 0},
    {"inputIndices NULL", IP, 0},
    {"outputIndices NULL", IP, 0},
    {"finished", OF, 0},
    {"input size 0", IP, A(2)},
    {"input size > 200", IP, A(2) | A(5)},
    {"output size 0", IP, A(3)},
    {"output size > 200", IP, A(3) | A(7)},
    {"input data NULL", IP, A(2)},
    {"output data NULL", IP, A(3)},
    {"input index >= tensor count", IP, A(2) | A(9)},
    {"output index >= tensor count", IP, A(3) | A(10)},
    {"an input of another type", IP, A(2) | A(9) | A(11)},
    {"an output of another type", IP, A(3) | A(10) | A(12)},
    {"the same index as input and output", IP, A(2) | A(3) | A(9) | A(10) | A(12) | A(14)},
    {"params data NULL", IP, A(1)},
    {"params data while size 0", IP, A(1) | A(16)},
    {"param index >= tensor count", IP, A(1) | A(16) | A(17)},
    {"unknown operator", IP, 0},
    {"number of inputs", IP, A(2) | A(5) | A(6)},
    {"number of outputs", IP, A(3) | A(7) | A(8)},
    {"more params than are known", IP, A(1) | A(17)},
    {"a param of another operator", IP, A(1) | A(16) | A(18)},
    END};
static int add_op(uint32_t broken)
{
    OH_NNModel *model = model_with(B(4));
    const uint32_t before = model->graph->nNodes;
    uint32_t many[201] = {B(13) ? 2u : 0u, B(11) ? 7u : 1u}, outs[201] = {B(15)   ? 0u
                                                                          : B(14) ? 2u
                                                                                  : 3u,
                                                                          B(12) ? 7u : 3u};
    uint32_t params[2] = {B(18) ? 7u : B(23) ? 1u : 2u, 6};
    OH_NN_UInt32Array in = {B(9) ? NULL : many, B(5) ? 0 : B(6) ? 201 : B(20) ? 3 : 2};
    OH_NN_UInt32Array out = {B(10) ? NULL : outs, B(7) ? 0 : B(8) ? 201 : B(21) || B(12) ? 2 : 1};
    OH_NN_UInt32Array param = {B(16) ? NULL : params, B(17) ? 0 : B(22) ? 2 : 1};
    int code;
    for (uint32_t i = 2; i < 201; i++) {
        many[i] = 1;
        outs[i] = 3;
    }
    code = (int)OH_NNModel_AddOperation(B(0) ? NULL : model, B(19) ? (OH_NN_OperationType)9999 : OH_NN_OPS_ADD,
                                   B(1) ? NULL : &param, B(2) ? NULL : &in, B(3) ? NULL : &out);
    assert_int_equal(model->graph->nNodes, before + (code == OK));
    OH_NNModel_Destroy(&model);
    return code;
}

static const check specify_checks[] = {{"model NULL", IP, 0},
                                       {"inputIndices NULL", IP, 0},
                                       {"outputIndices NULL", IP, 0},
                                       {"finished", OF, 0},
                                       {"already specified", OF, 0},
                                       {"input size 0", IP, A(1)},
                                       {"input data NULL", IP, A(1)},
                                       {"output size 0", IP, A(2)},
                                       {"output data NULL", IP, A(2)},
                                       {"index >= tensor count", IP, A(1) | A(6)},
                                       {"a tensor of another type", IP, A(2) | A(8)},
                                       {"the same index as input and output", IP, A(1) | A(2) | A(6) | A(8) | A(10)},
                                       {"a tensor with constant data", IP, A(1) | A(6) | A(9)},
                                       END};
static int specify_io(uint32_t broken)
{
    OH_NNModel *model = model_with(B(3));
    uint32_t ins[2] = {0, B(9)    ? 7u
                          : B(12) ? 4u
                                  : 1u},
             outs[1] = {B(10)   ? 2u
                        : B(11) ? 0u
                                : 3u},
             first[1] = {0}, last[1] = {3};
    const OH_NN_UInt32Array in = {B(6) ? NULL : ins, B(5) ? 0 : 2}, out = {B(8) ? NULL : outs, B(7) ? 0 : 1};
    int code;
    if (B(4) && !B(3))
        is(specify(model, first, 1, last, 1), OK);
    code = (int)OH_NNModel_SpecifyInputsAndOutputs(B(0) ? NULL : model, B(1) ? NULL : &in, B(2) ? NULL : &out);
    OH_NNModel_Destroy(&model);
    return code;
}

static const check finish_checks[] = {{"model NULL", IP, 0},
                                      {"already finished", OF, 0},
                                      {"no tensor", OF, A(1)},
                                      {"no operator", OF, A(1)},
                                      {"no inputs and outputs", OF, A(1)},
                                      {"memory", MEMORY, A(2) | A(3)},
                                      {"an operator that cannot be lowered", FAILED, A(1) | A(2) | A(3)},
                                      {"an input that nobody produces", IP, A(1) | A(2) | A(3)},
                                      {"two producers", IP, A(1) | A(2) | A(3)},
                                      {"a cycle", IP, A(1) | A(2) | A(3)},
                                      END};
static int finish(uint32_t broken)
{
    OH_NNModel *model = OH_NNModel_Construct();
    const int64_t target = OH_NN_INT32;
    uint32_t in[2] = {0, 1}, out[1] = {2}, more[2] = {0, 3}, to[1] = {4}, cast[2] = {0, 5}, casted[1] = {6},
             back[2] = {8, 0}, round[1] = {7};
    int code;
    for (uint32_t i = 0; !B(2) && i < 10; i++) {
        if (i == 5)
            is(add_tensor(model, OH_NN_INT64, shape23, 0, OH_NN_TENSOR, B(6) ? NULL : &target, 8),
               OK); /* CAST wants to know it */
        else
            is(add_tensor(model, i == 6 ? OH_NN_INT32 : OH_NN_FLOAT32, shape23, 2, OH_NN_TENSOR, NULL, 0), OK);
    }
    if (!B(2) && !B(3)) {
        is(add_operation(model, OH_NN_OPS_ADD, NULL, 0, in, 2, out, 1), OK);
        if (B(6))
            is(add_operation(model, OH_NN_OPS_CAST, NULL, 0, cast, 2, casted, 1), OK);
        if (B(7))
            is(add_operation(model, OH_NN_OPS_ADD, NULL, 0, more, 2, to, 1), OK);
        if (B(8))
            is(add_operation(model, OH_NN_OPS_SUB, NULL, 0, in, 2, out, 1), OK);
        if (B(9)) {
            is(add_operation(model, OH_NN_OPS_ADD, NULL, 0, back, 2, round, 1), OK);
            back[0] = 7;
            round[0] = 8;
            is(add_operation(model, OH_NN_OPS_ADD, NULL, 0, back, 2, round, 1), OK);
        }
    }
    if (B(6) && !B(2) && !B(3)) {
        uint32_t three[3] = {0, 1, 5};
        if (!B(4))
            is(specify(model, three, 3, out, 1), OK);
    } else if (!B(2) && !B(4)) {
        is(specify(model, in, 2, out, 1), OK);
    }
    if (B(1))
        is(OH_NNModel_Finish(model), OK);
    heap_fail_at = B(5) ? heap_calls + 1 : 0;
    code = (int)OH_NNModel_Finish(B(0) ? NULL : model);
    heap_fail_at = 0;
    assert_int_equal(model->graph->finished, code == OK || B(1)); /* a late failure leaves it open */
    OH_NNModel_Destroy(&model);
    return code;
}

static const check model_end_checks[] = {{"model NULL", NOTHING, 0}, {"*model NULL", NOTHING, A(0)}, END};
static int model_end(uint32_t broken)
{
    OH_NNModel *model = OH_NNModel_Construct(), *none = NULL;
    int code;
    OH_NNModel_Destroy(B(0) ? NULL : B(1) ? &none : &model);
    code = model == NULL ? DONE : NOTHING;
    OH_NNModel_Destroy(&model);
    return code;
}

static const check available_checks[] = {{"model NULL", IP, 0},
                                         {"isSupported NULL", IP, 0},
                                         {"*isSupported not NULL", IP, A(1)},
                                         {"opCount NULL", IP, 0},
                                         {"not finished", OF, 0},
                                         {"unknown device", FAILED, 0},
                                         {"the device's query fails", FAILED, 0},
                                         END};
static int available(uint32_t broken)
{
    nnrt_fake *npu = npu_with(B(6) ? ",fail=GetSupportedNodes" : "");
    OH_NNModel *model = model_with(!B(4));
    const bool own = false, *supported = B(2) ? &own : NULL, *before = supported;
    uint32_t count = 99;
    const int code = (int)OH_NNModel_GetAvailableOperations(B(0) ? NULL : model, B(5) ? NO_DEVICE : last_id(),
                                                       B(1) ? NULL : &supported, B(3) ? NULL : &count);
    assert_true(code == OK ? count == 1 && supported[0] : count == 99 && supported == before);
    OH_NNModel_Destroy(&model);
    unregistered(npu);
    return code;
}

/* ---- 3: quantization parameters ---- */

static const check quant_new_checks[] = {{"memory is short", NOTHING, 0}, END};
static int quant_new(uint32_t broken)
{
    NN_QuantParam *q;
    int code;
    heap_fail_at = B(0) ? heap_calls + 1 : 0;
    q = OH_NNQuantParam_Create();
    heap_fail_at = 0;
    code = q != NULL ? DONE : NOTHING;
    (void)OH_NNQuantParam_Destroy(&q);
    return code;
}

/* The three setters: Name with array. */
#define QUANT_SETTER(name, Function, T, array)                                                                         \
    static const check name##_checks[] = {                                                                             \
        {"quantParams NULL", IP, 0}, {#array " NULL", IP, 0}, {"count 0", IP, 0}, END};                                \
    static int name(uint32_t broken)                                                                                   \
    {                                                                                                                  \
        const T array[2] = {8, 8};                                                                                     \
        NN_QuantParam *q = OH_NNQuantParam_Create();                                                                   \
        const int code = (int)Function(B(0) ? NULL : q, B(1) ? NULL : array, B(2) ? 0 : 2);                            \
        is(OH_NNQuantParam_Destroy(&q), OK);                                                                           \
        return code;                                                                                                   \
    }
QUANT_SETTER(quant_scales, OH_NNQuantParam_SetScales, double, scales)
QUANT_SETTER(quant_points, OH_NNQuantParam_SetZeroPoints, int32_t, zeroPoints)
QUANT_SETTER(quant_bits, OH_NNQuantParam_SetNumBits, uint32_t, numBits)

static const check quant_end_checks[] = {{"quantParams NULL", IP, 0}, {"*quantParams NULL", IP, A(0)}, END};
static int quant_end(uint32_t broken)
{
    NN_QuantParam *q = OH_NNQuantParam_Create(), *none = NULL;
    const int code = (int)OH_NNQuantParam_Destroy(B(0) ? NULL : B(1) ? &none : &q);
    assert_true((q == NULL) == (code == OK));
    (void)OH_NNQuantParam_Destroy(&q);
    return code;
}

/* ---- 4: compilations ---- */

static int made_compilation(OH_NNCompilation *c)
{
    const int code = c != NULL ? DONE : NOTHING;
    heap_fail_at = 0;
    OH_NNCompilation_Destroy(&c);
    return code;
}

static const check compile_model_checks[] = {{"model NULL", NOTHING, 0}, {"memory is short", NOTHING, 0}, END};
static int compile_model(uint32_t broken)
{
    OH_NNModel *model = model_with(false); /* it is examined at Build */
    int code;
    heap_fail_at = B(1) ? heap_calls + 1 : 0;
    code = made_compilation(OH_NNCompilation_Construct(B(0) ? NULL : model));
    OH_NNModel_Destroy(&model);
    return code;
}

static const check compile_file_checks[] = {{"modelPath NULL", NOTHING, 0}, {"memory is short", NOTHING, 0}, END};
static int compile_file(uint32_t broken)
{
    heap_fail_at = B(1) ? heap_calls + 1 : 0;
    return made_compilation(
        OH_NNCompilation_ConstructWithOfflineModelFile(B(0) ? NULL : "build/no such file")); /* not opened here */
}

static const check compile_buffer_checks[] = {
    {"modelBuffer NULL", NOTHING, 0}, {"size 0", NOTHING, 0}, {"memory is short", NOTHING, 0}, END};
static int compile_buffer(uint32_t broken)
{
    heap_fail_at = B(2) ? heap_calls + 1 : 0;
    return made_compilation(OH_NNCompilation_ConstructWithOfflineModelBuffer(B(0) ? NULL : "?", B(1) ? 0 : 1));
}

static const check compile_cache_checks[] = {{"memory is short", NOTHING, 0}, END};
static int compile_cache(uint32_t broken)
{
    heap_fail_at = B(0) ? heap_calls + 1 : 0;
    return made_compilation(OH_NNCompilation_ConstructForCache());
}

static const check extension_checks[] = {
    {"compilation NULL", IP, 0}, {"configName NULL", IP, 0},   {"configValue NULL", IP, 0}, {"size 0", IP, 0},
    {"empty name", IP, A(1)},    {"after Build (1.2)", OF, 0}, {"copy failure", FAILED, 0}, END};
static int extension(uint32_t broken)
{
    nnrt_fake *npu = npu_with("");
    OH_NNModel *model = NULL;
    OH_NNCompilation *c = compiled(&model, 2, B(5));
    int code;
    heap_fail_at = B(6) ? heap_calls + 1 : 0;
    code = (int)OH_NNCompilation_AddExtensionConfig(B(0) ? NULL : c,
                                               B(1)   ? NULL
                                               : B(4) ? ""
                                                      : "name",
                                               B(2) ? NULL : "value", B(3) ? 0 : 5);
    heap_fail_at = 0;
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
    unregistered(npu);
    return code;
}

/* The setters of one value accept any value: Build reports invalid ones. */
#define SETTER(name, call)                                                                                             \
    static const check name##_checks[] = {{"compilation NULL", IP, 0}, {"after Build (1.2)", OF, 0}, END};             \
    static int name(uint32_t broken)                                                                                   \
    {                                                                                                                  \
        nnrt_fake *npu = npu_with("");                                                                                 \
        OH_NNModel *model = NULL;                                                                                      \
        OH_NNCompilation *c = compiled(&model, 2, B(1)), *to = B(0) ? NULL : c;                                        \
        const int code = (int)(call);                                                                                  \
        OH_NNCompilation_Destroy(&c);                                                                                  \
        OH_NNModel_Destroy(&model);                                                                                    \
        unregistered(npu);                                                                                             \
        return code;                                                                                                   \
    }
SETTER(set_device, OH_NNCompilation_SetDevice(to, NO_DEVICE))
SETTER(set_mode, OH_NNCompilation_SetPerformanceMode(to, (OH_NN_PerformanceMode)99))
SETTER(set_priority, OH_NNCompilation_SetPriority(to, (OH_NN_Priority)-1))
SETTER(set_float16, OH_NNCompilation_EnableFloat16(to, true))

static const check set_cache_checks[] = {
    {"compilation NULL", IP, 0}, {"cachePath NULL", IP, 0}, {"after Build (1.2)", OF, 0}, END};
static int set_cache(uint32_t broken)
{
    nnrt_fake *npu = npu_with("");
    OH_NNModel *model = NULL;
    OH_NNCompilation *c = compiled(&model, 2, B(2));
    const int code = (int)OH_NNCompilation_SetCache(B(0) ? NULL : c, B(1) ? NULL : "no such folder", 1);
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
    unregistered(npu);
    return code;
}

#define KEPT "build/test_ohnn_codes.cache"

static void forget(void)
{
    (void)remove(KEPT "/cache_info.nncache");
    (void)remove(KEPT "/0.nncache");
    (void)rmdir(KEPT);
}

/* Appends text to the list of an option of npu, as "fail=A+B". */
static void option(char *options, const char *key, const char *value, bool wanted)
{
    char *at = strstr(options, key), *end;
    if (!wanted)
        return;
    if (at == NULL) {
        (void)strcat(strcat(options, key), value);
        return;
    }
    end = at + strlen(key);
    (void)memmove(end + strlen(value) + 1, end, strlen(end) + 1);
    (void)memcpy(end, value, strlen(value));
    end[strlen(value)] = '+';
}

static const check build_checks[] = {{"compilation NULL", IP, 0},
                                     {"more than one source", IP, 0},
                                     {"build tried", IP, 0},
                                     {"device unknown", FAILED, 0},
                                     {"the source is of a kind that the device cannot handle", FAILED, 0},
                                     {"cache path, and no cache support", OF, 0},
                                     {"cache path, and the query fails", GONE, A(5)},
                                     {"float16, and no support", OF, 0},
                                     {"float16, and the query fails", GONE, A(7)},
                                     {"performance mode, and no support", OF, 0},
                                     {"performance mode, and the query fails", FAILED, A(9)},
                                     {"a performance mode that does not exist", IP, 0},
                                     {"priority, and no support", OF, 0},
                                     {"priority, and the query fails", GONE, A(12)},
                                     {"a priority that does not exist", IP, 0},
                                     {"model not finished", IP, A(4)},
                                     {"a newer cache (6.1)", OF, A(4)},
                                     {"no model and no usable cache", IP, A(1) | A(4) | A(15)},
                                     {"an open input, and no dynamic inputs", FAILED, A(4) | A(17)},
                                     {"an open input, and the query fails", GONE, A(4) | A(17) | A(18)},
                                     {"the query of operators fails", GONE, A(17)},
                                     {"an operator that is not supported", FAILED, A(17)},
                                     {"the device does not compile it", FAILED, A(17)},
                                     {"no directory to save to (6.1)", IP, A(4) | A(16) | A(17)},
                                     {"nothing to save", OH_NN_SAVE_CACHE_EXCEPTION, A(4) | A(17) | A(23)},
                                     END};
static int build(uint32_t broken)
{
    char options[400] = "";
    const bool cache = B(5) || B(6) || B(16) || B(23) || B(24);
    const int32_t rows = B(18) || B(19) ? -1 : 2;
    OH_NNModel *model = NULL, *kept = NULL;
    OH_NNCompilation *c;
    nnrt_fake *npu;
    int code;
    forget();
    if (!B(23))
        is(mkdir(KEPT, 0777), 0);
    if (B(16)) { /* of version 10, by a device of that name that can */
        npu = npu_with(",cache=yes");
        c = compiled(&kept, 2, false);
        is(OH_NNCompilation_SetCache(c, KEPT, 10), OK);
        is(OH_NNCompilation_Build(c), OK);
        OH_NNCompilation_Destroy(&c);
        OH_NNModel_Destroy(&kept);
        unregistered(npu);
    }
    (void)strcat(options, B(5) ? ",cache=no" : B(24) ? ",cache=count" : ",cache=yes");
    (void)strcat(options, B(7) ? ",float16=no" : ",float16=yes");
    (void)strcat(options, B(9) ? ",modes=no" : ",modes=yes");
    (void)strcat(options, B(12) ? ",priorities=no" : ",priorities=yes");
    (void)strcat(options, B(18) ? ",dynamic=no" : "");
    (void)strcat(options, B(21) ? ",not=ADD_FUSION" : "");
    (void)strcat(options, B(4) ? ",without=PrepareOfflineModel" : "");
    option(options, ",fail=", "IsModelCacheSupported", B(6));
    option(options, ",fail=", "IsFloat16PrecisionSupported", B(8));
    option(options, ",fail=", "IsPerformanceModeSupported", B(10));
    option(options, ",fail=", "IsPrioritySupported", B(13));
    option(options, ",fail=", "IsDynamicInputSupported", B(19));
    option(options, ",fail=", "GetSupportedNodes", B(20));
    option(options, ",fail=", "PrepareModel", B(22));
    npu = npu_with(options);
    if (B(15))
        is(add_parts(&model, rows), OK);
    else
        is(add_model(&model, rows), OK);
    c = B(4)    ? OH_NNCompilation_ConstructWithOfflineModelBuffer("what a vendor made", 18)
        : B(17) ? OH_NNCompilation_ConstructForCache()
                : OH_NNCompilation_Construct(model);
    assert_non_null(c);
    is(OH_NNCompilation_SetDevice(c, B(3) ? NO_DEVICE : last_id()), OK);
    if (B(1))
        is(OH_NNCompilation_ImportCacheFromBuffer(c, "?", 1), OK);
    if (cache)
        is(OH_NNCompilation_SetCache(c, KEPT, 9), OK);
    if (B(7) || B(8))
        is(OH_NNCompilation_EnableFloat16(c, true), OK);
    if (B(9) || B(10) || B(11))
        is(OH_NNCompilation_SetPerformanceMode(c, B(11) ? (OH_NN_PerformanceMode)5 : OH_NN_PERFORMANCE_LOW), OK);
    if (B(12) || B(13) || B(14))
        is(OH_NNCompilation_SetPriority(c, B(14) ? (OH_NN_Priority)4 : OH_NN_PRIORITY_LOW), OK);
    if (B(2))
        (void)OH_NNCompilation_Build(c);
    code = (int)OH_NNCompilation_Build(B(0) ? NULL : c);
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
    unregistered(npu);
    forget();
    return code;
}

/* A copy of bytes in a file, or NULL bytes: there is none. */
static const char *file_of(const void *bytes, size_t size)
{
    const char *path = "build/test_ohnn_codes.nnrt";
    FILE *file;
    (void)remove(path);
    if (bytes == NULL)
        return path;
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    (void)fclose(file);
    return path;
}

static const check build_file_checks[] = {{"a file of no known form", FAILED, 0},
                                          {"float16, and no support", OF, 0},
                                          {"unreadable path", OH_NN_INVALID_PATH, A(0)},
                                          {"truncated", OH_NN_INVALID_FILE, A(0) | A(2)},
                                          {"bad checksum", OH_NN_INVALID_FILE, A(0) | A(2)},
                                          END};
static int build_offline(uint32_t broken, bool in_memory)
{
    nnrt_fake *npu = npu_with(",without=PrepareOfflineModel");
    OH_NNModel *model = NULL;
    OH_NNCompilation *c;
    uint8_t *bytes;
    size_t size = 0;
    int code;
    is(add_model(&model, 2), OK);
    is(nnrt_model_save_memory(model->graph->model, NULL, NULL, 0, &size, NULL), NNRT_SUCCESS);
    bytes = (uint8_t *)malloc(size);
    is(nnrt_model_save_memory(model->graph->model, NULL, bytes, size, &size, NULL), NNRT_SUCCESS);
    bytes[0] ^= B(0);
    bytes[size - 1] ^= B(4);
    size -= B(3);
    c = in_memory ? OH_NNCompilation_ConstructWithOfflineModelBuffer(bytes, size)
                  : OH_NNCompilation_ConstructWithOfflineModelFile(file_of(B(2) ? NULL : bytes, size));
    is(OH_NNCompilation_SetDevice(c, last_id()), OK);
    if (B(1))
        is(OH_NNCompilation_EnableFloat16(c, true), OK);
    code = (int)OH_NNCompilation_Build(c);
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
    unregistered(npu);
    free(bytes);
    (void)file_of(NULL, 0);
    return code;
}

static int build_file(uint32_t broken)
{
    return build_offline(broken, false);
}

static const check build_memory_checks[] = {{"bytes of no known form", FAILED, 0},
                                            {"float16, and no support", OF, 0},
                                            {"truncated", OH_NN_INVALID_FILE, A(0)},
                                            {"bad checksum", OH_NN_INVALID_FILE, A(0)},
                                            END};
static int build_memory(uint32_t broken)
{
    return build_offline((broken & 3) | (broken & ~3u) << 1, true);
}

static const check build_import_checks[] = {{"the device has no cache", FAILED, 0},
                                            {"performance mode, and no support", OF, 0},
                                            {"the imported cache is broken", OH_NN_INVALID_FILE, 0},
                                            END};
static int build_import(uint32_t broken)
{
    nnrt_fake *npu = npu_with(",cache=yes");
    OH_NNModel *model = NULL;
    OH_NNCompilation *c = compiled(&model, 2, true);
    uint8_t small[1], *bytes;
    size_t size = 0;
    int code;
    is(OH_NNCompilation_ExportCacheToBuffer(c, small, 1, &size), IP);
    bytes = (uint8_t *)malloc(size);
    is(OH_NNCompilation_ExportCacheToBuffer(c, bytes, size, &size), OK);
    OH_NNCompilation_Destroy(&c);
    unregistered(npu);
    npu = npu_with(B(0) ? "" : ",cache=yes");
    bytes[size / 2] ^= B(2);
    c = OH_NNCompilation_ConstructForCache();
    is(OH_NNCompilation_SetDevice(c, last_id()), OK);
    is(OH_NNCompilation_ImportCacheFromBuffer(c, bytes, size), OK);
    if (B(1))
        is(OH_NNCompilation_SetPerformanceMode(c, OH_NN_PERFORMANCE_HIGH), OK);
    code = (int)OH_NNCompilation_Build(c);
    OH_NNCompilation_Destroy(&c);
    unregistered(npu);
    free(bytes);
    return code;
}

static const check export_checks[] = {{"compilation NULL", IP, 0}, {"buffer NULL", IP, 0},
                                      {"length 0", IP, 0},         {"modelSize NULL", IP, 0},
                                      {"not built", IP, 0},        {"no support", OH_NN_UNSUPPORTED, 0},
                                      {"too small", IP, A(2)},     END};
static int export_cache(uint32_t broken)
{
    nnrt_fake *npu = npu_with(B(5) ? "" : ",cache=yes");
    OH_NNModel *model = NULL;
    OH_NNCompilation *c = compiled(&model, 2, !B(4));
    static uint8_t bytes[65536];
    size_t size = 0;
    const int code = (int)OH_NNCompilation_ExportCacheToBuffer(B(0) ? NULL : c, B(1) ? NULL : bytes,
                                                          B(2)   ? 0
                                                          : B(6) ? 1
                                                                 : sizeof(bytes),
                                                          B(3) ? NULL : &size);
    assert_true((size > 1) == (code == OK || broken == A(6))); /* the size used, or required */
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
    unregistered(npu);
    return code;
}

static const check import_checks[] = {
    {"compilation NULL", IP, 0}, {"buffer NULL", IP, 0}, {"size 0", IP, 0}, {"after Build (1.2)", OF, 0}, END};
static int import_cache(uint32_t broken)
{
    nnrt_fake *npu = npu_with("");
    OH_NNModel *model = NULL;
    OH_NNCompilation *c = compiled(&model, 2, B(3));
    const int code = (int)OH_NNCompilation_ImportCacheFromBuffer(B(0) ? NULL : c, B(1) ? NULL : "?", B(2) ? 0 : 1);
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
    unregistered(npu);
    return code;
}

static const check compile_end_checks[] = {{"compilation NULL", NOTHING, 0}, {"*compilation NULL", NOTHING, A(0)}, END};
static int compile_end(uint32_t broken)
{
    OH_NNCompilation *c = OH_NNCompilation_ConstructForCache(), *none = NULL;
    int code;
    OH_NNCompilation_Destroy(B(0) ? NULL : B(1) ? &none : &c);
    code = c == NULL ? DONE : NOTHING;
    OH_NNCompilation_Destroy(&c);
    return code;
}

/* ---- 5.1: descriptions ---- */

static const check desc_new_checks[] = {{"memory is short", NOTHING, 0}, END};
static int desc_new(uint32_t broken)
{
    NN_TensorDesc *desc;
    int code;
    heap_fail_at = B(0) ? heap_calls + 1 : 0;
    desc = OH_NNTensorDesc_Create();
    heap_fail_at = 0;
    code = desc != NULL ? DONE : NOTHING;
    (void)OH_NNTensorDesc_Destroy(&desc);
    return code;
}

static const check desc_end_checks[] = {{"tensorDesc NULL", IP, 0}, {"*tensorDesc NULL", IP, A(0)}, END};
static int desc_end(uint32_t broken)
{
    NN_TensorDesc *desc = OH_NNTensorDesc_Create(), *none = NULL;
    const int code = (int)OH_NNTensorDesc_Destroy(B(0) ? NULL : B(1) ? &none : &desc);
    assert_true((desc == NULL) == (code == OK));
    (void)OH_NNTensorDesc_Destroy(&desc);
    return code;
}

/* A function of a description `d` of float32 [2,3], which is `desc` or NULL. */
#define OF_DESC(name, declare, call, after, ...)                                                                       \
    static const check name##_checks[] = {{"tensorDesc NULL", IP, 0}, __VA_ARGS__, END};                               \
    static int name(uint32_t broken)                                                                                   \
    {                                                                                                                  \
        NN_TensorDesc *d = desc_of(OH_NN_FLOAT32, shape23, 2), *desc = B(0) ? NULL : d;                                \
        int code;                                                                                                      \
        declare;                                                                                                       \
        code = (int)(call);                                                                                             \
        after;                                                                                                         \
        is(OH_NNTensorDesc_Destroy(&d), OK);                                                                           \
        return code;                                                                                                   \
    }
OF_DESC(desc_set_name, (void)0, OH_NNTensorDesc_SetName(desc, B(1) ? NULL : "a"),
        assert_true((d->name != NULL) == (code == OK)), {"name NULL", IP, 0})
OF_DESC(desc_get_name, const char *name = B(2) ? "own" : NULL, OH_NNTensorDesc_GetName(desc, B(1) ? NULL : &name),
        assert_true(code != OK || *name == '\0'), {"name NULL", IP, 0}, {"*name not NULL", IP, A(1)})
OF_DESC(desc_set_type, (void)0, OH_NNTensorDesc_SetDataType(desc, B(1) ? (OH_NN_DataType)13 : OH_NN_UNKNOWN),
        assert_int_equal(d->dataType, code == OK ? OH_NN_UNKNOWN : OH_NN_FLOAT32), {"outside UNKNOWN..FLOAT64", IP, 0})
OF_DESC(desc_get_type, OH_NN_DataType type = OH_NN_BOOL, OH_NNTensorDesc_GetDataType(desc, B(1) ? NULL : &type),
        assert_int_equal(type, code == OK ? OH_NN_FLOAT32 : OH_NN_BOOL), {"dataType NULL", IP, 0})
OF_DESC(desc_set_shape, const int32_t dims[11] = {-9},
        OH_NNTensorDesc_SetShape(desc, B(1) ? NULL : dims,
                                 B(2)   ? 0
                                 : B(3) ? 11
                                        : 10),
        assert_int_equal(d->rank, code == OK ? 10 : 2), {"shape NULL", IP, 0}, {"length 0", IP, 0},
        {"length > 10", IP, A(2)})
OF_DESC(desc_get_shape, int32_t own = 0; int32_t *shape = B(2) ? &own : NULL;
        size_t length = 99, OH_NNTensorDesc_GetShape(desc, B(1) ? NULL : &shape, B(3) ? NULL : &length),
        assert_int_equal(length, code == OK ? 2 : 99), {"shape NULL", IP, 0}, {"*shape not NULL", IP, A(1)},
        {"shapeLength NULL", IP, 0})
OF_DESC(desc_set_format, (void)0, OH_NNTensorDesc_SetFormat(desc, B(1) ? (OH_NN_Format)4 : OH_NN_FORMAT_ND),
        assert_int_equal(d->format, code == OK ? OH_NN_FORMAT_ND : OH_NN_FORMAT_NONE), {"outside NONE..ND", IP, 0})
OF_DESC(desc_get_format, OH_NN_Format format = OH_NN_FORMAT_ND, OH_NNTensorDesc_GetFormat(desc, B(1) ? NULL : &format),
        assert_int_equal(format, code == OK ? OH_NN_FORMAT_NONE : OH_NN_FORMAT_ND), {"format NULL", IP, 0})

/* A description without a shape, with a dynamic dimension, with too many elements. */
static NN_TensorDesc *desc_for_size(bool none, bool open, bool many)
{
    int32_t dims[10] = {2, 3, 1, 1, 1, 1, 1, 1, 1, 1};
    for (uint32_t i = 2; many && i < 10; i++)
        dims[i] = INT32_MAX;
    dims[1] = open ? -1 : 3;
    return desc_of(OH_NN_FLOAT32, dims, none ? 0 : 10);
}

static const check desc_count_checks[] = {
    {"tensorDesc NULL", IP, 0},     {"elementCount NULL", IP, 0},
    {"shape never set", IP, 0},     {"a dimension <= 0", OH_NN_DYNAMIC_SHAPE, A(2)},
    {"product overflow", IP, A(2)}, END};
static int desc_count(uint32_t broken)
{
    NN_TensorDesc *desc = desc_for_size(B(2), B(3), B(4));
    size_t count = 99;
    const int code = (int)OH_NNTensorDesc_GetElementCount(B(0) ? NULL : desc, B(1) ? NULL : &count);
    assert_int_equal(count, code == OK ? 6 : code == OH_NN_DYNAMIC_SHAPE ? 0 : 99);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    return code;
}

static const check desc_bytes_checks[] = {{"tensorDesc NULL", IP, 0}, {"byteSize NULL", IP, 0},
                                          {"shape never set", IP, 0}, {"data type UNKNOWN", IP, 0},
                                          {"overflow", IP, A(2)},     END};
static int desc_bytes(uint32_t broken)
{
    NN_TensorDesc *desc = desc_for_size(B(2), false, B(4));
    size_t bytes = 99;
    int code;
    if (B(3))
        is(OH_NNTensorDesc_SetDataType(desc, OH_NN_UNKNOWN), OK);
    code = (int)OH_NNTensorDesc_GetByteSize(B(0) ? NULL : desc, B(1) ? NULL : &bytes);
    assert_int_equal(bytes, code == OK ? 24 : B(0) || B(1) ? 99 : 0); /* set to 0 first */
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    return code;
}

/* A dimension <= 0 comes before the type and an overflow, and is no fault: size 0. */
static const check desc_open_bytes_checks[] = {
    {"tensorDesc NULL", IP, 0}, {"byteSize NULL", IP, 0}, {"data type UNKNOWN", OK, 0}, {"overflow", OK, 0}, END};
static int desc_open_bytes(uint32_t broken)
{
    NN_TensorDesc *desc = desc_for_size(false, true, B(3));
    size_t bytes = 99;
    int code;
    if (B(2))
        is(OH_NNTensorDesc_SetDataType(desc, OH_NN_UNKNOWN), OK);
    code = (int)OH_NNTensorDesc_GetByteSize(B(0) ? NULL : desc, B(1) ? NULL : &bytes);
    assert_int_equal(bytes, code == OK ? 0 : 99);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    return code;
}

/* ---- 5.2: tensors ---- */

static int made_tensor(NN_Tensor *tensor)
{
    const int code = tensor != NULL ? DONE : NOTHING;
    (void)OH_NNTensor_Destroy(&tensor);
    return code;
}

static const check tensor_new_checks[] = {{"tensorDesc NULL", NOTHING, 0},  {"device unknown", NOTHING, 0},
                                          {"no shape", NOTHING, 0},         {"UNKNOWN type", NOTHING, 0},
                                          {"dynamic shape", NOTHING, A(2)}, {"> 1 GiB (1.4)", NOTHING, A(2) | A(4)},
                                          {"allocation fails", NOTHING, 0}, END};
static int tensor_new(uint32_t broken)
{
    nnrt_fake *npu = npu_with(B(6) ? ",fail=AllocateBuffer" : "");
    const int32_t dims[2] = {B(4) ? -1 : B(5) ? (1 << 28) + 1 : 2, 1};
    NN_TensorDesc *desc = desc_of(B(3) ? OH_NN_UNKNOWN : OH_NN_FLOAT32, dims, B(2) ? 0 : 2);
    const int code = made_tensor(OH_NNTensor_Create(B(1) ? NO_DEVICE : last_id(), B(0) ? NULL : desc));
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    unregistered(npu);
    return code;
}

static const check tensor_sized_checks[] = {{"tensorDesc NULL", NOTHING, 0},
                                            {"device unknown", NOTHING, 0},
                                            {"no shape", NOTHING, 0},
                                            {"UNKNOWN type", NOTHING, 0},
                                            {"size 0", NOTHING, 0},
                                            {"size smaller than the byte size", NOTHING, A(4)},
                                            {"> 1 GiB (1.4)", NOTHING, A(4) | A(5)},
                                            {"allocation fails", NOTHING, 0},
                                            {"dynamic shape", DONE, A(2) | A(3)},
                                            END};
static int tensor_sized(uint32_t broken)
{
    nnrt_fake *npu = npu_with(B(7) ? ",fail=AllocateBuffer" : "");
    const int32_t dims[2] = {B(8) && !B(5) ? -1 : 2, 3};
    NN_TensorDesc *desc = desc_of(B(3) ? OH_NN_UNKNOWN : OH_NN_FLOAT32, dims, B(2) ? 0 : 2);
    const size_t size = B(4) ? 0 : B(5) ? 23 : B(6) ? ((size_t)1 << 30) + 1 : 24;
    const int code = made_tensor(OH_NNTensor_CreateWithSize(B(1) ? NO_DEVICE : last_id(), B(0) ? NULL : desc, size));
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    unregistered(npu);
    return code;
}

static const check tensor_fd_checks[] = {{"tensorDesc NULL", NOTHING, 0},
                                         {"fd < 0", NOTHING, 0},
                                         {"size 0", NOTHING, 0},
                                         {"size < offset", NOTHING, A(2)},
                                         {"byte size not computable", NOTHING, 0},
                                         {"size - offset < byte size", NOTHING, A(2) | A(3)},
                                         {"device unknown", NOTHING, 0},
                                         {"mapping fails", NOTHING, A(1)},
                                         END};
static int tensor_fd(uint32_t broken)
{
    FILE *file = tmpfile(), *closed = NULL;
    NN_TensorDesc *desc = desc_of(B(4) ? OH_NN_UNKNOWN : OH_NN_FLOAT32, shape23, 2);
    int fd = -1, code;
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 64), 0);
    if (B(7)) { /* one that may not be written to */
        closed = fopen("Makefile", "rb");
        assert_non_null(closed);
    }
    fd = B(1) ? -1 : B(7) ? fileno(closed) : fileno(file);
    code = made_tensor(OH_NNTensor_CreateWithFd(B(6) ? NO_DEVICE : 0, B(0) ? NULL : desc, fd,
                                                B(2)   ? 0
                                                : B(3) ? 39
                                                : B(5) ? 63
                                                       : 64,
                                                40));
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    (void)fclose(file);
    if (closed != NULL)
        (void)fclose(closed);
    return code;
}

static const check tensor_end_checks[] = {
    {"tensor NULL", IP, 0}, {"*tensor NULL", IP, A(0)}, {"device gone", OH_NN_NULL_PTR, 0}, END};
static int tensor_end(uint32_t broken)
{
    nnrt_fake *npu = npu_with("");
    NN_TensorDesc *desc = desc_of(OH_NN_FLOAT32, shape23, 2);
    FILE *file = tmpfile();
    NN_Tensor *tensor, *none = NULL;
    int code;
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 64), 0);
    tensor = OH_NNTensor_CreateWithFd(last_id(), desc, fileno(file), 64, 0); /* no block of the device holds it */
    assert_non_null(tensor);
    if (B(2))
        unregistered(npu);
    code = (int)OH_NNTensor_Destroy(B(0) ? NULL : B(1) ? &none : &tensor);
    assert_true((tensor == NULL) == (code == OK));
    if (B(2))
        npu = npu_with("");
    (void)OH_NNTensor_Destroy(&tensor);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    (void)fclose(file);
    unregistered(npu);
    return code;
}

static const check tensor_desc_checks[] = {{"tensor NULL", NOTHING, 0}, END};
static int tensor_desc(uint32_t broken)
{
    NN_Tensor *tensor = tensor_of(OH_NN_FLOAT32, shape23, 2, NULL, 24);
    const int code = OH_NNTensor_GetTensorDesc(B(0) ? NULL : tensor) != NULL ? DONE : NOTHING;
    is(OH_NNTensor_Destroy(&tensor), OK);
    return code;
}

static const check tensor_data_checks[] = {{"tensor NULL", NOTHING, 0}, END};
static int tensor_data(uint32_t broken)
{
    NN_Tensor *tensor = tensor_of(OH_NN_FLOAT32, shape23, 2, NULL, 24);
    const int code = OH_NNTensor_GetDataBuffer(B(0) ? NULL : tensor) != NULL ? DONE : NOTHING;
    is(OH_NNTensor_Destroy(&tensor), OK);
    return code;
}

/* A property of a tensor: Function with value. */
#define TENSOR_GETTER(name, Function, T, value)                                                                        \
    static const check name##_checks[] = {{"tensor NULL", IP, 0}, {#value " NULL", IP, 0}, END};                       \
    static int name(uint32_t broken)                                                                                   \
    {                                                                                                                  \
        NN_Tensor *tensor = tensor_of(OH_NN_FLOAT32, shape23, 2, NULL, 24);                                            \
        T value = 99;                                                                                                  \
        const int code = (int)Function(B(0) ? NULL : tensor, B(1) ? NULL : &value);                                    \
        assert_true((value == 99) == (code != OK));                                                                    \
        is(OH_NNTensor_Destroy(&tensor), OK);                                                                          \
        return code;                                                                                                   \
    }
TENSOR_GETTER(tensor_get_fd, OH_NNTensor_GetFd, int, fd)
TENSOR_GETTER(tensor_get_size, OH_NNTensor_GetSize, size_t, size)
TENSOR_GETTER(tensor_get_offset, OH_NNTensor_GetOffset, size_t, offset)

/* ---- 7: executors ---- */

static const check executor_new_checks[] = {{"compilation NULL", NOTHING, 0}, {"not built", NOTHING, 0},
                                            {"Build failed", NOTHING, A(1)},  {"device gone", NOTHING, A(1) | A(2)},
                                            {"memory short", NOTHING, 0},     END};
static int executor_new(uint32_t broken)
{
    nnrt_fake *npu = npu_with(B(2) ? ",fail=PrepareModel" : B(3) ? ",fail=PrepareModel:2" : "");
    OH_NNModel *model = NULL;
    OH_NNCompilation *c = compiled(&model, 2, false);
    OH_NNExecutor *e;
    int code;
    if (!B(1))
        is(OH_NNCompilation_Build(c), B(2) ? FAILED : OK);
    if (B(3)) /* the compilation's prepared model keeps the device registered: as if it were removed */
        c->compiled->id++;
    heap_fail_at = B(4) ? heap_calls + 1 : 0;
    e = OH_NNExecutor_Construct(B(0) ? NULL : c);
    heap_fail_at = 0;
    code = e != NULL ? DONE : NOTHING;
    OH_NNExecutor_Destroy(&e);
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
    unregistered(npu);
    return code;
}

static const check executor_end_checks[] = {{"executor NULL", NOTHING, 0}, {"*executor NULL", NOTHING, A(0)}, END};
static int executor_end(uint32_t broken)
{
    nnrt_fake *npu = npu_with("");
    OH_NNExecutor *e = executor(2), *none = NULL;
    int code;
    OH_NNExecutor_Destroy(B(0) ? NULL : B(1) ? &none : &e);
    code = e == NULL ? DONE : NOTHING;
    OH_NNExecutor_Destroy(&e);
    unregistered(npu);
    return code;
}

/* A function of an executor of a device with such options: `e` is NULL where check 0 is broken. */
#define OF_EXECUTOR(name, options, declare, call, after, ...)                                                          \
    static const check name##_checks[] = {{"executor NULL", IP, 0}, __VA_ARGS__, END};                                 \
    static int name(uint32_t broken)                                                                                   \
    {                                                                                                                  \
        nnrt_fake *npu = npu_with(options);                                                                            \
        OH_NNExecutor *own = executor(2), *e = B(0) ? NULL : own;                                                      \
        int code;                                                                                                      \
        declare;                                                                                                       \
        code = (int)(call);                                                                                             \
        after;                                                                                                         \
        OH_NNExecutor_Destroy(&own);                                                                                   \
        unregistered(npu);                                                                                             \
        return code;                                                                                                   \
    }
OF_EXECUTOR(inputs, "", size_t count = 99, OH_NNExecutor_GetInputCount(e, B(1) ? NULL : &count),
            assert_int_equal(count, code == OK ? 2 : 99), {"inputCount NULL", IP, 0})
OF_EXECUTOR(outputs, "", size_t count = 99, OH_NNExecutor_GetOutputCount(e, B(1) ? NULL : &count),
            assert_int_equal(count, code == OK ? 1 : 99), {"outputCount NULL", IP, 0})
OF_EXECUTOR(output_shape, "", int32_t mine = 0; int32_t *shape = B(2) ? &mine : NULL;
            uint32_t length = 99,
            OH_NNExecutor_GetOutputShape(e, B(4) ? 1 : 0, B(1) ? NULL : &shape, B(3) ? NULL : &length),
            assert_int_equal(length, code == OK ? 2 : 99), {"shape NULL", IP, 0}, {"*shape not NULL", IP, A(1)},
            {"shapeLength NULL", IP, 0}, {"index >= count", IP, 0})
OF_EXECUTOR(dim_range,
            B(6)   ? ",without=GetInputDimRanges"
            : B(8) ? ",garbage=GetInputDimRanges"
                   : "",
            size_t mine = 1;
            size_t *least = B(4) ? &mine : NULL; size_t *most = B(5) ? &mine : NULL;
            size_t length = 99,
            OH_NNExecutor_GetInputDimRange(e, B(7) ? 2 : 0, B(1) ? NULL : &least, B(2) ? NULL : &most,
                                           B(3) ? NULL : &length),
            assert_int_equal(length, code == OK ? 2 : 99), {"minInputDims NULL", IP, 0}, {"maxInputDims NULL", IP, 0},
            {"shapeLength NULL", IP, 0}, {"*minInputDims of somebody else (1.1)", IP, A(1)},
            {"*maxInputDims of somebody else (1.1)", IP, A(2)}, {"the device cannot tell", OF, 0},
            {"index >= count", IP, 0}, {"inconsistent answer", IP, A(6)})

static const check input_desc_checks[] = {{"executor NULL", NOTHING, 0}, {"index >= count", NOTHING, 0}, END};
static const check output_desc_checks[] = {{"executor NULL", NOTHING, 0}, {"index >= count", NOTHING, 0}, END};
static int io_desc(uint32_t broken, bool output)
{
    nnrt_fake *npu = npu_with("");
    OH_NNExecutor *e = executor(2), *to = B(0) ? NULL : e;
    NN_TensorDesc *desc = output ? OH_NNExecutor_CreateOutputTensorDesc(to, B(1) ? 1 : 0)
                                 : OH_NNExecutor_CreateInputTensorDesc(to, B(1) ? 2 : 1);
    const int code = desc != NULL ? DONE : NOTHING;
    (void)OH_NNTensorDesc_Destroy(&desc);
    OH_NNExecutor_Destroy(&e);
    unregistered(npu);
    return code;
}

static int input_desc(uint32_t broken)
{
    return io_desc(broken, false);
}

static int output_desc(uint32_t broken)
{
    return io_desc(broken, true);
}

static void on_done(void *userData, OH_NN_ReturnCode code, void *out[], int32_t count)
{
    (void)out, (void)count;
    __atomic_store_n((int *)userData, (int)code, __ATOMIC_RELEASE);
}

static void on_died(void *userData)
{
    (void)userData;
}

OF_EXECUTOR(set_done, B(2) ? ",without=RunIn" : "", (void)0, OH_NNExecutor_SetOnRunDone(e, B(1) ? NULL : on_done),
            (void)0, {"onRunDone NULL", IP, 0}, {"a device without async", OF, 0})
OF_EXECUTOR(set_died, B(2) ? ",without=RunIn" : "", (void)0, OH_NNExecutor_SetOnServiceDied(e, B(1) ? NULL : on_died),
            (void)0, {"onServiceDied NULL", IP, 0}, {"a device without async", OF, 0})

/* The tensors of a run. */
typedef struct run_tensors {
    NN_Tensor *in[201], *out[201], *own[3];
} run_tensors;

/* null: no first input; shape, rank: of the second one; none: no output; small: a description larger than its memory;
   little: an output. */
static void run_begin(run_tensors *t, bool null, bool shape, bool rank, bool none, bool small, bool little)
{
    memset(t, 0, sizeof(*t));
    t->own[0] = tensor_of(OH_NN_FLOAT32, shape23, 2, six, 24);
    t->own[1] = tensor_of(OH_NN_FLOAT32,
                          shape  ? shape43
                          : rank ? flat6
                                 : shape23,
                          rank ? 1 : 2, shape ? NULL : six, shape ? 48 : 24);
    t->own[2] = tensor_of(OH_NN_FLOAT32, shape23, 2, NULL, 24);
    if (little) { /* fewer bytes than the result has, and a description that says so */
        const int32_t one[2] = {1, 3};
        is(OH_NNTensor_Destroy(&t->own[2]), OK);
        t->own[2] = tensor_of(OH_NN_FLOAT32, one, 2, NULL, 12);
    }
    if (small)
        is(OH_NNTensorDesc_SetDataType(OH_NNTensor_GetTensorDesc(t->own[1]), OH_NN_FLOAT64), OK);
    t->in[0] = null ? NULL : t->own[0];
    t->in[1] = t->own[1];
    t->out[0] = none ? NULL : t->own[2];
}

static void run_end(run_tensors *t)
{
    for (int i = 0; i < 3; i++)
        is(OH_NNTensor_Destroy(&t->own[i]), OK);
}

static const check run_sync_checks[] = {{"executor NULL", IP, 0},
                                        {"inputTensor NULL", IP, 0},
                                        {"inputCount 0", IP, 0},
                                        {"inputCount > 200", IP, A(2)},
                                        {"outputTensor NULL", IP, 0},
                                        {"outputCount 0", IP, 0},
                                        {"outputCount > 200", IP, A(5)},
                                        {"inputCount is not the model's", IP, A(2) | A(3)},
                                        {"outputCount is not the model's", IP, A(5) | A(6)},
                                        {"an input element NULL", OH_NN_NULL_PTR, 0},
                                        {"a dimension outside [min, max]", IP, 0},
                                        {"another rank than the model's", IP, A(10)},
                                        {"an output element NULL", IP, 0},
                                        {"a block smaller than its description", FAILED, 0},
                                        {"the device fails", GONE, 0},
                                        {"the device reports no output shapes", GONE, A(14)},
                                        {"an output too small, of a driver with HDI's methods alone", GONE, A(12)},
                                        END};
static int run_sync(uint32_t broken)
{
    static const char *const faults[] = {"", ",fail=RunIn", ",garbage=RunIn", ",without=GetOutputDimRanges",
                                         ",fail=RunIn,without=GetOutputDimRanges",
                                         ",garbage=RunIn,without=GetOutputDimRanges"};
    nnrt_fake *npu = npu_with(faults[(B(14) ? 1 : B(15) ? 2 : 0) + (B(16) ? 3 : 0)]);
    OH_NNExecutor *e = executor(2);
    run_tensors t;
    int code;
    run_begin(&t, B(9), B(10), B(11), B(12), B(13), B(16));
    code = (int)OH_NNExecutor_RunSync(B(0) ? NULL : e, B(1) ? NULL : t.in,
                                 B(2)   ? 0
                                 : B(3) ? 201
                                 : B(7) ? 1
                                        : 2,
                                 B(4) ? NULL : t.out,
                                 B(5)   ? 0
                                 : B(6) ? 201
                                 : B(8) ? 2
                                        : 1);
    run_end(&t);
    OH_NNExecutor_Destroy(&e);
    unregistered(npu);
    return code;
}

/* Of a device that does not tell ranges. */
static const check run_untold_checks[] = {{"an input element NULL", IP, 0},
                                          {"an output element NULL", IP, 0},
                                          {"a block smaller than its description", FAILED, 0},
                                          {"the device fails", GONE, 0},
                                          END};
static int run_untold(uint32_t broken)
{
    nnrt_fake *npu = npu_with(B(3) ? ",without=GetInputDimRanges,fail=RunIn" : ",without=GetInputDimRanges");
    OH_NNExecutor *e = executor(2);
    run_tensors t;
    int code;
    run_begin(&t, B(0), false, false, B(1), B(2), false);
    code = (int)OH_NNExecutor_RunSync(e, t.in, 2, t.out, 1);
    run_end(&t);
    OH_NNExecutor_Destroy(&e);
    unregistered(npu);
    return code;
}

/* Of a device that reports the sizes of its outputs, as built-in devices do: section 7 requires IP of them. */
static const check run_builtin_checks[] = {
    {"a block smaller than its description", FAILED, 0},
    {"an output too small", IP, 0},
    {"an output too small, of a driver that reports its sizes", IP, A(1)},
    END};
static int run_builtin(uint32_t broken)
{
    OH_NNModel *model = NULL;
    OH_NNCompilation *c;
    OH_NNExecutor *e;
    run_tensors t;
    int code;
    nnrt_fake *npu;
    is(add_model(&model, 2), OK);
    c = OH_NNCompilation_Construct(model);
    npu = B(2) ? npu_with("") : NULL; /* of another vendor: abilities count */
    is(OH_NNCompilation_SetDevice(c, npu != NULL ? last_id() : 0), OK);
    is(OH_NNCompilation_Build(c), OK);
    e = OH_NNExecutor_Construct(c);
    run_begin(&t, false, false, false, false, B(0), B(1) || B(2));
    memset(OH_NNTensor_GetDataBuffer(t.own[2]), 0x5A, B(1) || B(2) ? 12 : 24);
    code = (int)OH_NNExecutor_RunSync(e, t.in, 2, t.out, 1);
    for (size_t i = 0; code != OK && i < 12; i++)
        is(((const uint8_t *)OH_NNTensor_GetDataBuffer(t.own[2]))[i], 0x5A);
    run_end(&t);
    OH_NNExecutor_Destroy(&e);
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
    if (npu != NULL)
        unregistered(npu);
    return code;
}

/* The five checks of RunSync, then its own; the others of RunSync follow. */
static const check run_async_checks[] = {{"executor NULL", IP, 0},
                                         {"inputTensor NULL", IP, 0},
                                         {"inputCount 0", IP, 0},
                                         {"inputCount > 200", IP, A(2)},
                                         {"outputTensor NULL", IP, 0},
                                         {"outputCount 0", IP, 0},
                                         {"outputCount > 200", IP, A(5)},
                                         {"userData NULL", IP, 0},
                                         {"a device without async", OF, 0},
                                         {"no callback is set", OF, 0},
                                         {"inputCount is not the model's", IP, A(2) | A(3)},
                                         {"outputCount is not the model's", IP, A(5) | A(6)},
                                         {"an input element NULL", OH_NN_NULL_PTR, 0},
                                         {"a dimension outside [min, max]", IP, 0},
                                         {"an output element NULL", IP, 0},
                                         {"a block smaller than its description", FAILED, 0},
                                         END};
static int run_async(uint32_t broken)
{
    nnrt_fake *npu = npu_with(B(8) ? ",without=RunIn" : "");
    OH_NNExecutor *e = executor(2);
    run_tensors t;
    int code, said = -1;
    run_begin(&t, B(12), B(13), false, B(14), B(15), false);
    if (!B(9))
        is(OH_NNExecutor_SetOnRunDone(e, on_done), B(8) ? OF : OK);
    code = (int)OH_NNExecutor_RunAsync(B(0) ? NULL : e, B(1) ? NULL : t.in,
                                  B(2)    ? 0
                                  : B(3)  ? 201
                                  : B(10) ? 1
                                          : 2,
                                  B(4) ? NULL : t.out,
                                  B(5)    ? 0
                                  : B(6)  ? 201
                                  : B(11) ? 2
                                          : 1,
                                  0, B(7) ? NULL : &said);
    OH_NNExecutor_Destroy(&e);                 /* waits */
    assert_true((said == -1) == (code != OK)); /* no callback for a call that returned an error */
    run_end(&t);
    unregistered(npu);
    return code;
}

/* The callback's argument: the code of a run that RunAsync accepted. */
static const check run_told_checks[] = {{"the limit passed", OH_NN_TIMEOUT, 0}, {"the device fails", GONE, A(0)}, END};
static int run_told(uint32_t broken)
{
    nnrt_fake *npu = npu_with(B(0) ? ",hang=RunIn:40" : B(1) ? ",fail=RunIn" : "");
    OH_NNExecutor *e = executor(2);
    const struct timespec pause = {0, 1000000};
    run_tensors t;
    int said = -1;
    run_begin(&t, false, false, false, false, false, false);
    is(OH_NNExecutor_SetOnRunDone(e, on_done), OK);
    is(OH_NNExecutor_RunAsync(e, t.in, 2, t.out, 1, B(0) ? 1 : 0, &said), OK);
    while (__atomic_load_n(&said, __ATOMIC_ACQUIRE) == -1)
        (void)nanosleep(&pause, NULL);
    OH_NNExecutor_Destroy(&e);
    run_end(&t);
    unregistered(npu);
    return said;
}

/* ---- 8: executors, legacy style ---- */

/* The struct of an input, as the checks of the two functions have them. */
typedef struct legacy {
    OH_NN_Tensor tensor;
    int32_t dims[3];
} legacy;

static void legacy_begin(legacy *l, bool rank, bool range, bool type, bool kind, bool null, bool open, bool other,
                         bool param)
{
    const OH_NN_Tensor fresh = {other ? OH_NN_INT32 : OH_NN_FLOAT32, rank ? 3 : 2, l->dims, NULL,
                                param ? OH_NN_CLIP_MAX : OH_NN_TENSOR};
    l->dims[0] = open ? -1 : range ? 1 : 2;
    l->dims[1] = 3;
    l->dims[2] = 1;
    l->tensor = fresh;
    if (type)
        l->tensor.dataType = (OH_NN_DataType)99;
    if (kind)
        l->tensor.type = (OH_NN_TensorType)9999;
    if (null)
        l->tensor.dimensions = NULL;
}

OF_EXECUTOR(set_input, "", legacy l; legacy_begin(&l, B(5), B(6), B(7), B(8), B(9), B(10), B(11), B(12));
            heap_fail_at = B(14) ? heap_calls + 1 : 0,
            OH_NNExecutor_SetInput(e, B(4) ? 2 : 0, B(1) ? NULL : &l.tensor, B(2) ? NULL : six,
                                   B(3)    ? 0
                                   : B(13) ? 11
                                           : 24),
            heap_fail_at = 0, {"tensor NULL", IP, 0}, {"dataBuffer NULL", IP, 0}, {"length 0", IP, 0},
            {"index >= count", IP, 0}, {"rank different", IP, 0}, {"a dimension outside its range", IP, 0},
            {"data type invalid", IP, 0}, {"tensor type invalid", IP, 0}, {"dimensions NULL", IP, 0},
            {"still has -1", IP, A(6)}, {"another data type than the model's", IP, A(7)},
            {"another tensor type than the model's", IP, A(8)}, {"length < data bytes", IP, A(3)},
            {"device allocation", MEMORY, 0})
OF_EXECUTOR(set_input_memory, "", legacy l;
            OH_NN_Memory *m = OH_NNExecutor_AllocateInputMemory(own, 0, B(12) ? 11 : 24);
            legacy_begin(&l, B(4), B(5), B(6), B(7), B(8), B(9), B(10), B(11)),
            OH_NNExecutor_SetInputWithMemory(e, B(3) ? 2 : 0, B(1) ? NULL : &l.tensor, B(2) ? NULL : m), (void)0,
            {"tensor NULL", IP, 0}, {"memory NULL", IP, 0}, {"index >= count", IP, 0}, {"rank different", IP, 0},
            {"a dimension outside its range", IP, 0}, {"data type invalid", IP, 0}, {"tensor type invalid", IP, 0},
            {"dimensions NULL", IP, 0}, {"still has -1", IP, A(5)}, {"another data type than the model's", IP, A(6)},
            {"another tensor type than the model's", IP, A(7)}, {"length < data bytes", IP, 0})
OF_EXECUTOR(set_output, "", float y[6],
            OH_NNExecutor_SetOutput(e, B(3) ? 1 : 0, B(1) ? NULL : y,
                                    B(2)   ? 0
                                    : B(4) ? 23
                                           : 24),
            (void)0, {"dataBuffer NULL", IP, 0}, {"length 0", IP, 0}, {"index >= count", IP, 0},
            {"length < the output's byte size", IP, A(2)})
OF_EXECUTOR(set_output_memory, "", OH_NN_Memory *m = OH_NNExecutor_AllocateOutputMemory(own, 0, B(3) ? 23 : 24),
            OH_NNExecutor_SetOutputWithMemory(e, B(2) ? 1 : 0, B(1) ? NULL : m), (void)0, {"memory NULL", IP, 0},
            {"index >= count", IP, 0}, {"length too small", IP, 0})

/* The model's output is open: any length passes SetOutput. */
static const check legacy_run_checks[] = {{"executor NULL", IP, 0},
                                          {"not every input bound", IP, 0},
                                          {"not every output bound", IP, 0},
                                          {"bound memory was freed", IP, A(1)},
                                          {"the device fails", GONE, 0},
                                          {"no output shapes", GONE, A(4)},
                                          {"result larger than the buffer", IP, A(5)},
                                          END};
static int legacy_run(uint32_t broken)
{
    nnrt_fake *npu = npu_with(B(4) ? ",fail=RunIn" : B(5) ? ",garbage=RunIn" : "");
    OH_NNExecutor *e = executor(-1);
    const OH_NN_Tensor tensor = {OH_NN_FLOAT32, 2, shape23, NULL, OH_NN_TENSOR};
    OH_NN_Memory *memory = OH_NNExecutor_AllocateInputMemory(e, 1, 24);
    float y[6];
    int code;
    is(OH_NNExecutor_SetInput(e, 0, &tensor, six, 24), OK);
    if (!B(1))
        is(OH_NNExecutor_SetInputWithMemory(e, 1, &tensor, memory), OK);
    if (!B(2))
        is(OH_NNExecutor_SetOutput(e, 0, y, B(6) ? 12 : 24), OK);
    if (B(3))
        OH_NNExecutor_DestroyInputMemory(e, 1, &memory);
    code = (int)OH_NNExecutor_Run(B(0) ? NULL : e);
    OH_NNExecutor_Destroy(&e);
    unregistered(npu);
    return code;
}

static const check input_memory_checks[] = {{"executor NULL", NOTHING, 0},  {"length 0", NOTHING, 0},
                                            {"index >= count", NOTHING, 0}, {"length > 1 GiB", NOTHING, A(1)},
                                            {"no memory", NOTHING, 0},      END};
static const check output_memory_checks[] = {{"executor NULL", NOTHING, 0},  {"length 0", NOTHING, 0},
                                             {"index >= count", NOTHING, 0}, {"length > 1 GiB", NOTHING, A(1)},
                                             {"no memory", NOTHING, 0},      END};
static int io_memory(uint32_t broken, bool output)
{
    nnrt_fake *npu = npu_with("");
    OH_NNExecutor *e = executor(2), *to = B(0) ? NULL : e;
    const size_t length = B(1) ? 0 : B(3) ? ((size_t)1 << 30) + 1 : 24;
    OH_NN_Memory *memory;
    heap_fail_at = B(4) ? heap_calls + 1 : 0;
    memory = output ? OH_NNExecutor_AllocateOutputMemory(to, B(2) ? 1 : 0, length)
                    : OH_NNExecutor_AllocateInputMemory(to, B(2) ? 2 : 1, length);
    heap_fail_at = 0;
    OH_NNExecutor_Destroy(&e);
    unregistered(npu);
    return memory != NULL ? DONE : NOTHING;
}

static int input_memory(uint32_t broken)
{
    return io_memory(broken, false);
}

static int output_memory(uint32_t broken)
{
    return io_memory(broken, true);
}

static const check input_free_checks[] = {{"executor NULL", NOTHING, 0},
                                          {"memory NULL", NOTHING, 0},
                                          {"*memory NULL", NOTHING, A(1)},
                                          {"index >= count", NOTHING, 0},
                                          {"made for another index", NOTHING, A(2)},
                                          {"made by another executor", NOTHING, A(2) | A(4)},
                                          END};
static const check output_free_checks[] = {{"executor NULL", NOTHING, 0},
                                           {"memory NULL", NOTHING, 0},
                                           {"*memory NULL", NOTHING, A(1)},
                                           {"index >= count", NOTHING, 0},
                                           {"made for an input", NOTHING, A(2)},
                                           {"made by another executor", NOTHING, A(2) | A(4)},
                                           END};
static int io_free(uint32_t broken, bool output)
{
    nnrt_fake *npu = npu_with("");
    OH_NNExecutor *e = executor(2), *other = executor(2), *maker = B(5) ? other : e, *to = B(0) ? NULL : e;
    OH_NN_Memory *none = NULL, *memory, **of;
    int code;
    memory = output && !B(4) ? OH_NNExecutor_AllocateOutputMemory(maker, 0, 24)
                             : OH_NNExecutor_AllocateInputMemory(maker, B(4) ? 1 : 0, 24);
    of = B(1) ? NULL : B(2) ? &none : &memory;
    if (output)
        OH_NNExecutor_DestroyOutputMemory(to, B(3) ? 1 : 0, of);
    else
        OH_NNExecutor_DestroyInputMemory(to, B(3) ? 2 : 0, of);
    code = memory == NULL ? DONE : NOTHING;
    if (memory != NULL)
        memset(memory->data, 1, memory->length); /* it is still there */
    OH_NNExecutor_Destroy(&e);
    OH_NNExecutor_Destroy(&other);
    unregistered(npu);
    return code;
}

static int input_free(uint32_t broken)
{
    return io_free(broken, false);
}

static int output_free(uint32_t broken)
{
    return io_free(broken, true);
}

/* ---- all ---- */

static const row rows[] = {ROW(OH_NNDevice_GetAllDevicesID, "2", all_ids, OK),
                           ROW(OH_NNDevice_GetName, "2", device_name, OK),
                           ROW(OH_NNDevice_GetType, "2", device_type, OK),
                           ROW(OH_NNModel_Construct, "3", model_new, DONE),
                           ROW(OH_NNModel_AddTensorToModel, "3", add_desc, OK),
                           ROW(OH_NNModel_AddTensor, "3", add_struct, OK),
                           ROW(OH_NNModel_SetTensorType, "3", set_type, OK),
                           ROW(OH_NNModel_SetTensorQuantParams, "3", set_quant, OK),
                           ROW(OH_NNModel_SetTensorData, "3", set_data, OK),
                           ROW(OH_NNModel_AddOperation, "3", add_op, OK),
                           {"OH_NNModel_SpecifyInputsAndOutputs", "3", specify_checks, specify_io, OK},
                           ROW(OH_NNModel_Finish, "3", finish, OK),
                           ROW(OH_NNModel_Destroy, "3", model_end, DONE),
                           ROW(OH_NNModel_GetAvailableOperations, "3", available, OK),
                           ROW(OH_NNQuantParam_Create, "3", quant_new, DONE),
                           ROW(OH_NNQuantParam_SetScales, "3", quant_scales, OK),
                           ROW(OH_NNQuantParam_SetZeroPoints, "3", quant_points, OK),
                           ROW(OH_NNQuantParam_SetNumBits, "3", quant_bits, OK),
                           ROW(OH_NNQuantParam_Destroy, "3", quant_end, OK),
                           ROW(OH_NNCompilation_Construct, "4", compile_model, DONE),
                           ROW(OH_NNCompilation_ConstructWithOfflineModelFile, "4", compile_file, DONE),
                           ROW(OH_NNCompilation_ConstructWithOfflineModelBuffer, "4", compile_buffer, DONE),
                           ROW(OH_NNCompilation_ConstructForCache, "4", compile_cache, DONE),
                           ROW(OH_NNCompilation_AddExtensionConfig, "4", extension, OK),
                           ROW(OH_NNCompilation_SetDevice, "4", set_device, OK),
                           ROW(OH_NNCompilation_SetCache, "4", set_cache, OK),
                           ROW(OH_NNCompilation_SetPerformanceMode, "4", set_mode, OK),
                           ROW(OH_NNCompilation_SetPriority, "4", set_priority, OK),
                           ROW(OH_NNCompilation_EnableFloat16, "4", set_float16, OK),
                           ROW(OH_NNCompilation_Build, "4", build, OK),
                           ROW(OH_NNCompilation_Build, "4", build_file, OK),
                           ROW(OH_NNCompilation_Build, "4", build_memory, OK),
                           ROW(OH_NNCompilation_Build, "4", build_import, OK),
                           {"OH_NNCompilation_ExportCacheToBuffer", "4", export_checks, export_cache, OK},
                           {"OH_NNCompilation_ImportCacheFromBuffer", "4", import_checks, import_cache, OK},
                           ROW(OH_NNCompilation_Destroy, "4", compile_end, DONE),
                           ROW(OH_NNTensorDesc_Create, "5.1", desc_new, DONE),
                           ROW(OH_NNTensorDesc_Destroy, "5.1", desc_end, OK),
                           ROW(OH_NNTensorDesc_SetName, "5.1", desc_set_name, OK),
                           ROW(OH_NNTensorDesc_GetName, "5.1", desc_get_name, OK),
                           ROW(OH_NNTensorDesc_SetDataType, "5.1", desc_set_type, OK),
                           ROW(OH_NNTensorDesc_GetDataType, "5.1", desc_get_type, OK),
                           ROW(OH_NNTensorDesc_SetShape, "5.1", desc_set_shape, OK),
                           ROW(OH_NNTensorDesc_GetShape, "5.1", desc_get_shape, OK),
                           ROW(OH_NNTensorDesc_SetFormat, "5.1", desc_set_format, OK),
                           ROW(OH_NNTensorDesc_GetFormat, "5.1", desc_get_format, OK),
                           ROW(OH_NNTensorDesc_GetElementCount, "5.1", desc_count, OK),
                           ROW(OH_NNTensorDesc_GetByteSize, "5.1", desc_bytes, OK),
                           ROW(OH_NNTensorDesc_GetByteSize, "5.1", desc_open_bytes, OK),
                           ROW(OH_NNTensor_Create, "5.2", tensor_new, DONE),
                           ROW(OH_NNTensor_CreateWithSize, "5.2", tensor_sized, DONE),
                           ROW(OH_NNTensor_CreateWithFd, "5.2", tensor_fd, DONE),
                           ROW(OH_NNTensor_Destroy, "5.2", tensor_end, OK),
                           ROW(OH_NNTensor_GetTensorDesc, "5.2", tensor_desc, DONE),
                           ROW(OH_NNTensor_GetDataBuffer, "5.2", tensor_data, DONE),
                           ROW(OH_NNTensor_GetFd, "5.2", tensor_get_fd, OK),
                           ROW(OH_NNTensor_GetSize, "5.2", tensor_get_size, OK),
                           ROW(OH_NNTensor_GetOffset, "5.2", tensor_get_offset, OK),
                           ROW(OH_NNExecutor_Construct, "7", executor_new, DONE),
                           ROW(OH_NNExecutor_Destroy, "7", executor_end, DONE),
                           ROW(OH_NNExecutor_GetInputCount, "7", inputs, OK),
                           ROW(OH_NNExecutor_GetOutputCount, "7", outputs, OK),
                           ROW(OH_NNExecutor_CreateInputTensorDesc, "7", input_desc, DONE),
                           ROW(OH_NNExecutor_CreateOutputTensorDesc, "7", output_desc, DONE),
                           ROW(OH_NNExecutor_GetOutputShape, "7", output_shape, OK),
                           ROW(OH_NNExecutor_GetInputDimRange, "7", dim_range, OK),
                           ROW(OH_NNExecutor_SetOnRunDone, "7", set_done, OK),
                           ROW(OH_NNExecutor_SetOnServiceDied, "7", set_died, OK),
                           ROW(OH_NNExecutor_RunSync, "7", run_sync, OK),
                           ROW(OH_NNExecutor_RunSync, "7", run_untold, OK),
                           ROW(OH_NNExecutor_RunSync, "7", run_builtin, OK),
                           ROW(OH_NNExecutor_RunAsync, "7", run_async, OK),
                           ROW(OH_NNExecutor_RunAsync, "7", run_told, OK),
                           ROW(OH_NNExecutor_SetInput, "8", set_input, OK),
                           ROW(OH_NNExecutor_SetOutput, "8", set_output, OK),
                           ROW(OH_NNExecutor_Run, "8", legacy_run, OK),
                           ROW(OH_NNExecutor_AllocateInputMemory, "8", input_memory, DONE),
                           ROW(OH_NNExecutor_AllocateOutputMemory, "8", output_memory, DONE),
                           ROW(OH_NNExecutor_DestroyInputMemory, "8", input_free, DONE),
                           ROW(OH_NNExecutor_DestroyOutputMemory, "8", output_free, DONE),
                           ROW(OH_NNExecutor_SetInputWithMemory, "8", set_input_memory, OK),
                           ROW(OH_NNExecutor_SetOutputWithMemory, "8", set_output_memory, OK)};

/* Each function of the two headers has cases, and one for each pointer that it takes. */
static void every_function(void **state)
{
    uint32_t declared =
        codes_complete(rows, COUNT(rows), "compat/neural_network_runtime/neural_network_core.h", "\nNNRT_OHNN_API ");
    (void)state;
    declared +=
        codes_complete(rows, COUNT(rows), "compat/neural_network_runtime/neural_network_runtime.h", "\nNNRT_OHNN_API ");
    assert_int_equal(declared, 75);
}

/* Each code was seen, but for two that the text gives to no function: UNAVALIDABLE_DEVICE, deprecated for its spelling,
   and CONNECTION_EXCEPTION. */
static void every_code(void **state)
{
    (void)state;
    for (int code = OK; code <= OH_NN_UNAVAILABLE_DEVICE; code++)
        if (codesSeen[code] == (code == OH_NN_UNAVALIDABLE_DEVICE || code == OH_NN_CONNECTION_EXCEPTION))
            fail_msg("code %d was%s seen", code, codesSeen[code] ? "" : " not");
}

/* Section 3: an operation is available on a device if and only if Build of the model succeeds there. COS has float32 and no
   integers. */
static void one_rule(void **state)
{
    static const struct {
        OH_NN_DataType type;
        bool has;
    } cases[] = {{OH_NN_FLOAT32, true}, {OH_NN_INT8, false}, {OH_NN_INT32, false}};
    const size_t *ids = NULL;
    uint32_t count = 0;
    (void)state;
    is(nnrt_cpu_register(NULL, NULL), NNRT_SUCCESS);
    is(OH_NNDevice_GetAllDevicesID(&ids, &count), OK);
    assert_int_equal(count, 3); /* auto, reference, cpu */
    for (uint32_t d = 0; d < count; d++)
        for (uint32_t i = 0; i < COUNT(cases); i++) {
            OH_NNModel *m = OH_NNModel_Construct();
            OH_NNCompilation *c;
            const bool *available = NULL;
            const size_t id = ids[d];
            uint32_t in[1] = {0}, out[1] = {1}, answers = 0;
            is(add_tensor(m, cases[i].type, shape23, 2, OH_NN_TENSOR, NULL, 0), OK);
            is(add_tensor(m, cases[i].type, shape23, 2, OH_NN_TENSOR, NULL, 0), OK);
            is(add_operation(m, OH_NN_OPS_COS, NULL, 0, in, 1, out, 1), OK);
            is(specify(m, in, 1, out, 1), OK);
            is(OH_NNModel_Finish(m), OK);
            is(OH_NNModel_GetAvailableOperations(m, id, &available, &answers), OK);
            is(answers, 1);
            assert_non_null(c = OH_NNCompilation_Construct(m));
            is(OH_NNCompilation_SetDevice(c, id), OK);
            if (available[0] != cases[i].has || (OH_NNCompilation_Build(c) == OK) != cases[i].has)
                fail_msg("device %u, case %u: is%s available", d, i, available[0] ? "" : " not");
            OH_NNCompilation_Destroy(&c);
            OH_NNModel_Destroy(&m);
        }
    is(nnrt_device_unregister("cpu"), NNRT_SUCCESS);
}

int main(void)
{
    static const struct CMUnitTest fixed[] = {cmocka_unit_test(every_function), cmocka_unit_test(every_code),
                                              cmocka_unit_test(one_rule)};
    return codes_run(rows, COUNT(rows), fixed, COUNT(fixed));
}
