/* OpenHarmony's API over nnrt.h (compat/), function by function as specified. Memory comes from functions that count
   and can be made to fail. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
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
#include "param_rows.h"

#include "ohnn_types.h" /* does not compile where an enumerator or a member is another one */

/* ---- helpers ---- */

/* The executor of that model, on a device (NULL: the first). */
static OH_NNExecutor *add_executor_on(int32_t rows, const char *device)
{
    OH_NNModel *model = NULL;
    OH_NNCompilation *compilation;
    OH_NNExecutor *executor;
    const size_t *ids = NULL;
    uint32_t count = 0;
    is(add_model(&model, rows), OK);
    compilation = OH_NNCompilation_Construct(model);
    assert_non_null(compilation);
    is(OH_NNDevice_GetAllDevicesID(&ids, &count), OK);
    for (uint32_t i = 0; i < count && device != NULL; i++) {
        const char *name = NULL;
        is(OH_NNDevice_GetName(ids[i], &name), OK);
        if (strstr(name, device) != NULL)
            is(OH_NNCompilation_SetDevice(compilation, ids[i]), OK);
    }
    is(OH_NNCompilation_Build(compilation), OK);
    OH_NNModel_Destroy(&model); /* it may go after Build */
    executor = OH_NNExecutor_Construct(compilation);
    assert_non_null(executor);
    OH_NNCompilation_Destroy(&compilation); /* executors stay */
    return executor;
}

static OH_NNExecutor *add_executor(int32_t rows)
{
    return add_executor_on(rows, NULL);
}

/* Builds the finished model and runs it on the first device: in and out are the bytes of inputs and outputs. */
static OH_NN_ReturnCode run_model(OH_NNModel *model, const void *const *in, void *const *out)
{
    OH_NNCompilation *compilation = OH_NNCompilation_Construct(model);
    OH_NNExecutor *executor;
    NN_Tensor *tensors[8] = {NULL};
    size_t nIn, nOut;
    OH_NN_ReturnCode code = OH_NNCompilation_Build(compilation);
    if (code != OK) {
        OH_NNCompilation_Destroy(&compilation);
        return code;
    }
    executor = OH_NNExecutor_Construct(compilation);
    is(OH_NNExecutor_GetInputCount(executor, &nIn), OK);
    is(OH_NNExecutor_GetOutputCount(executor, &nOut), OK);
    for (size_t i = 0; i < nIn + nOut; i++) {
        NN_TensorDesc *desc = i < nIn ? OH_NNExecutor_CreateInputTensorDesc(executor, i)
                                      : OH_NNExecutor_CreateOutputTensorDesc(executor, i - nIn);
        size_t bytes;
        tensors[i] = OH_NNTensor_Create(0, desc);
        assert_non_null(tensors[i]);
        is(OH_NNTensor_GetSize(tensors[i], &bytes), OK);
        if (i < nIn)
            memcpy(OH_NNTensor_GetDataBuffer(tensors[i]), in[i], bytes);
        is(OH_NNTensorDesc_Destroy(&desc), OK);
    }
    code = OH_NNExecutor_RunSync(executor, tensors, nIn, tensors + nIn, nOut);
    for (size_t i = 0; i < nIn + nOut; i++) {
        size_t bytes;
        is(OH_NNTensor_GetSize(tensors[i], &bytes), OK);
        if (i >= nIn)
            memcpy(out[i - nIn], OH_NNTensor_GetDataBuffer(tensors[i]), bytes);
        is(OH_NNTensor_Destroy(&tensors[i]), OK);
    }
    OH_NNExecutor_Destroy(&executor);
    OH_NNCompilation_Destroy(&compilation);
    return code;
}

/* ---- types ---- */

/* The table of operations has a row for every parameter, and each row fits its member. */
static void parameter_rows(void **state)
{
    const uint32_t rows = COUNT(nnrti_ohnn_params), operations = COUNT(nnrti_ohnn_ops);
    uint32_t count = 0;
    (void)state;
    for (int32_t op = 1; op <= (int32_t)operations; op++)
        count += rows_fit_members(nnrti_ohnn_params, op, nnrti_ohnn_ops[op - 1].type);
    assert_int_equal(count + operations + 1, rows);
    for (int32_t type = OH_NN_ADD_ACTIVATIONTYPE; type <= OH_NN_REDUCE_L2_COEFF; type++) {
        const nnrti_param *p = nnrti_ohnn_params;
        while (p < nnrti_ohnn_params + rows && (p->kind == NNRTI_PARAM_OPERATION || p->key != type))
            p++;
        assert_true(p < nnrti_ohnn_params + rows);
    }
}

/* The structs are laid out as OpenHarmony's are, for programs that fill them in order. */
static void types(void **state)
{
    static const int32_t dims[2] = {1, -1};
    const OH_NN_Tensor tensor = {OH_NN_FLOAT32, 2, dims, NULL, OH_NN_TENSOR};
    const OH_NN_UInt32Array none = {NULL, 0};
    const OH_NN_Memory memory = {NULL, 7};
    (void)state;
    assert_int_equal(tensor.dataType, 11);
    assert_int_equal(tensor.dimensionCount, 2);
    assert_ptr_equal(tensor.dimensions, dims);
    assert_null(tensor.quantParam);
    assert_int_equal(tensor.type, 0);
    assert_null(none.data);
    assert_int_equal(none.size, 0);
    assert_int_equal(memory.length, 7);
    assert_int_equal(sizeof(OH_NN_ReturnCode), sizeof(int));
}

/* ---- devices ---- */

static void devices(void **state)
{
    const size_t *ids = NULL, *again = NULL;
    const char *name = NULL, *first = NULL;
    OH_NN_DeviceType type = OH_NN_GPU;
    uint32_t count = 0;
    (void)state;
    is(OH_NNDevice_GetAllDevicesID(NULL, &count), IP);
    is(OH_NNDevice_GetAllDevicesID(&ids, NULL), IP);
    is(OH_NNDevice_GetAllDevicesID(&ids, &count), OK);
    assert_int_equal(count, nnrt_device_count());
    is(OH_NNDevice_GetAllDevicesID(&ids, &count), IP); /* it is not NULL */
    is(OH_NNDevice_GetAllDevicesID(&again, &count), OK);
    for (uint32_t i = 0; i < count; i++) {
        name = NULL;
        assert_true(ids[i] != 0 && ids[i] == again[i]);
        is(OH_NNDevice_GetName(ids[i], &name), OK);
        assert_string_equal(name, nnrt_device_unique_name(nnrt_device_at(i)));
        is(OH_NNDevice_GetName(ids[i], &name), IP);
    }
    is(OH_NNDevice_GetName(0, &first), OK); /* the first one */
    assert_string_equal(first, nnrt_device_unique_name(nnrt_device_at(0)));
    is(OH_NNDevice_GetName(0, NULL), IP);
    name = NULL;
    is(OH_NNDevice_GetName(12345, &name), OH_NN_FAILED);
    assert_null(name);
    is(OH_NNDevice_GetType(12345, &type), IP);
    is(OH_NNDevice_GetType(ids[1], NULL), IP);
    is(OH_NNDevice_GetType(ids[1], &type), OK);
    assert_int_equal(type, OH_NN_CPU); /* reference */
}

/* ---- descriptions ---- */

static void descriptions(void **state)
{
    NN_TensorDesc *desc = OH_NNTensorDesc_Create(), *none = NULL;
    const int32_t dims[11] = {2, 3, 4, 5, 1, 1, 1, 1, 1, 1, 1}, open[2] = {2, -1}, huge[3] = {INT32_MAX, INT32_MAX, 8};
    const char *name = NULL, *null = NULL;
    OH_NN_DataType type = OH_NN_BOOL;
    OH_NN_Format format = OH_NN_FORMAT_ND;
    int32_t *shape = NULL;
    size_t length = 7, count = 7, bytes = 7;
    static const size_t sizes[13] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};
    (void)state;
    assert_non_null(desc);
    /* fresh */
    is(OH_NNTensorDesc_GetName(desc, &name), OK);
    assert_string_equal(name, "");
    is(OH_NNTensorDesc_GetDataType(desc, &type), OK);
    assert_int_equal(type, OH_NN_UNKNOWN);
    is(OH_NNTensorDesc_GetFormat(desc, &format), OK);
    assert_int_equal(format, OH_NN_FORMAT_NONE);
    is(OH_NNTensorDesc_GetShape(desc, &shape, &length), OK);
    assert_null(shape);
    assert_int_equal(length, 0);
    is(OH_NNTensorDesc_GetElementCount(desc, &count), IP);
    is(OH_NNTensorDesc_GetByteSize(desc, &bytes), IP);
    assert_int_equal(bytes, 0);
    /* name */
    is(OH_NNTensorDesc_SetName(NULL, "x"), IP);
    is(OH_NNTensorDesc_SetName(desc, NULL), IP);
    is(OH_NNTensorDesc_SetName(desc, "one"), OK);
    is(OH_NNTensorDesc_SetName(desc, "two"), OK);
    is(OH_NNTensorDesc_GetName(NULL, &null), IP);
    is(OH_NNTensorDesc_GetName(desc, NULL), IP);
    is(OH_NNTensorDesc_GetName(desc, &name), IP);
    is(OH_NNTensorDesc_GetName(desc, &null), OK);
    assert_string_equal(null, "two");
    /* type */
    is(OH_NNTensorDesc_SetDataType(NULL, OH_NN_BOOL), IP);
    is(OH_NNTensorDesc_SetDataType(desc, (OH_NN_DataType)13), IP);
    is(OH_NNTensorDesc_SetDataType(desc, (OH_NN_DataType)-1), IP);
    is(OH_NNTensorDesc_SetDataType(desc, OH_NN_UNKNOWN), OK);
    is(OH_NNTensorDesc_GetDataType(NULL, &type), IP);
    is(OH_NNTensorDesc_GetDataType(desc, NULL), IP);
    /* shape */
    is(OH_NNTensorDesc_SetShape(NULL, dims, 2), IP);
    is(OH_NNTensorDesc_SetShape(desc, NULL, 2), IP);
    is(OH_NNTensorDesc_SetShape(desc, dims, 0), IP);
    is(OH_NNTensorDesc_SetShape(desc, dims, 11), IP);
    is(OH_NNTensorDesc_SetShape(desc, dims, 10), OK);
    is(OH_NNTensorDesc_GetShape(NULL, &shape, &length), IP);
    is(OH_NNTensorDesc_GetShape(desc, NULL, &length), IP);
    is(OH_NNTensorDesc_GetShape(desc, &shape, NULL), IP);
    is(OH_NNTensorDesc_GetShape(desc, &shape, &length), OK);
    assert_int_equal(length, 10);
    assert_memory_equal(shape, dims, sizeof(dims[0]) * 10);
    is(OH_NNTensorDesc_GetShape(desc, &shape, &length), IP);
    /* format */
    is(OH_NNTensorDesc_SetFormat(NULL, OH_NN_FORMAT_ND), IP);
    is(OH_NNTensorDesc_SetFormat(desc, (OH_NN_Format)4), IP);
    is(OH_NNTensorDesc_SetFormat(desc, (OH_NN_Format)-1), IP);
    is(OH_NNTensorDesc_SetFormat(desc, OH_NN_FORMAT_ND), OK);
    is(OH_NNTensorDesc_GetFormat(NULL, &format), IP);
    is(OH_NNTensorDesc_GetFormat(desc, NULL), IP);
    is(OH_NNTensorDesc_GetFormat(desc, &format), OK);
    assert_int_equal(format, OH_NN_FORMAT_ND);
    /* sizes */
    is(OH_NNTensorDesc_GetElementCount(NULL, &count), IP);
    is(OH_NNTensorDesc_GetElementCount(desc, NULL), IP);
    is(OH_NNTensorDesc_GetElementCount(desc, &count), OK);
    assert_int_equal(count, 120);
    is(OH_NNTensorDesc_GetByteSize(NULL, &bytes), IP);
    is(OH_NNTensorDesc_GetByteSize(desc, NULL), IP);
    bytes = 7;
    is(OH_NNTensorDesc_GetByteSize(desc, &bytes), IP); /* of no type */
    assert_int_equal(bytes, 0);
    for (int i = 1; i <= 12; i++) {
        is(OH_NNTensorDesc_SetDataType(desc, (OH_NN_DataType)i), OK);
        is(OH_NNTensorDesc_GetDataType(desc, &type), OK);
        assert_int_equal(type, i);
        is(OH_NNTensorDesc_GetByteSize(desc, &bytes), OK);
        assert_int_equal(bytes, 120 * sizes[i]);
    }
    is(OH_NNTensorDesc_SetShape(desc, open, 2), OK);
    is(OH_NNTensorDesc_GetElementCount(desc, &count), OH_NN_DYNAMIC_SHAPE);
    assert_int_equal(count, 0);
    is(OH_NNTensorDesc_GetByteSize(desc, &bytes), OK);
    assert_int_equal(bytes, 0);
    is(OH_NNTensorDesc_SetShape(desc, huge, 3), OK);
    is(OH_NNTensorDesc_GetElementCount(desc, &count), IP);
    is(OH_NNTensorDesc_GetByteSize(desc, &bytes), IP);
    is(OH_NNTensorDesc_Destroy(NULL), IP);
    is(OH_NNTensorDesc_Destroy(&none), IP);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    assert_null(desc);
}

/* ---- tensors ---- */

static void tensors(void **state)
{
    const int32_t dims[2] = {2, 3}, open[2] = {-1, 3}, large[2] = {1 << 15, (1 << 13) + 1};
    NN_TensorDesc *desc = desc_of(OH_NN_FLOAT32, dims, 2), *dynamic = desc_of(OH_NN_FLOAT32, open, 2);
    NN_TensorDesc *scalar = desc_of(OH_NN_FLOAT32, NULL, 0), *untyped = desc_of(OH_NN_UNKNOWN, dims, 2);
    NN_TensorDesc *huge = desc_of(OH_NN_FLOAT32, large, 2);
    NN_Tensor *a = OH_NNTensor_Create(0, desc), *b, *none = NULL;
    size_t size = 0, offset = 7;
    int fd = -2;
    (void)state;
    assert_non_null(a);
    assert_null(OH_NNTensor_Create(0, NULL));
    assert_null(OH_NNTensor_Create(12345, desc));
    assert_null(OH_NNTensor_Create(0, dynamic));
    assert_null(OH_NNTensor_Create(0, scalar));
    assert_null(OH_NNTensor_Create(0, untyped));
    assert_null(OH_NNTensor_Create(0, huge)); /* over 1 GiB */
    is(OH_NNTensorDesc_SetName(desc, "changed"), OK); /* the tensor has a copy */
    {
        const char *name = NULL;
        assert_true(OH_NNTensor_GetTensorDesc(a) != desc);
        is(OH_NNTensorDesc_GetName(OH_NNTensor_GetTensorDesc(a), &name), OK);
        assert_string_equal(name, "");
    }
    assert_null(OH_NNTensor_GetTensorDesc(NULL));
    assert_null(OH_NNTensor_GetDataBuffer(NULL));
    assert_non_null(OH_NNTensor_GetDataBuffer(a));
    memset(OH_NNTensor_GetDataBuffer(a), 0x5A, 24);
    is(OH_NNTensor_GetSize(NULL, &size), IP);
    is(OH_NNTensor_GetSize(a, NULL), IP);
    is(OH_NNTensor_GetSize(a, &size), OK);
    assert_int_equal(size, 24);
    is(OH_NNTensor_GetOffset(NULL, &offset), IP);
    is(OH_NNTensor_GetOffset(a, NULL), IP);
    is(OH_NNTensor_GetOffset(a, &offset), OK);
    assert_int_equal(offset, 0);
    is(OH_NNTensor_GetFd(NULL, &fd), IP);
    is(OH_NNTensor_GetFd(a, NULL), IP);
    is(OH_NNTensor_GetFd(a, &fd), OK);
    /* with a size */
    assert_null(OH_NNTensor_CreateWithSize(0, NULL, 24));
    assert_null(OH_NNTensor_CreateWithSize(12345, desc, 24));
    assert_null(OH_NNTensor_CreateWithSize(0, desc, 0));
    assert_null(OH_NNTensor_CreateWithSize(0, desc, 23));
    assert_null(OH_NNTensor_CreateWithSize(0, desc, ((size_t)1 << 30) + 1));
    b = OH_NNTensor_CreateWithSize(0, dynamic, 100);
    assert_non_null(b);
    is(OH_NNTensor_GetSize(b, &size), OK);
    assert_int_equal(size, 100);
    is(OH_NNTensor_Destroy(&b), OK);
    assert_null(b);
    /* over the memory of another one */
    assert_null(OH_NNTensor_CreateWithFd(0, desc, -1, 24, 0));
    if (fd >= 0) {
        b = OH_NNTensor_CreateWithSize(0, desc, 8192);
        is(OH_NNTensor_GetFd(b, &fd), OK);
        for (int i = 0; i < 8192; i++)
            ((uint8_t *)OH_NNTensor_GetDataBuffer(b))[i] = (uint8_t)(i % 251);
        is(OH_NNTensor_Destroy(&a), OK);
        assert_null(OH_NNTensor_CreateWithFd(0, NULL, fd, 24, 0));
        assert_null(OH_NNTensor_CreateWithFd(12345, desc, fd, 24, 0));
        assert_null(OH_NNTensor_CreateWithFd(0, desc, fd, 0, 0));
        assert_null(OH_NNTensor_CreateWithFd(0, desc, fd, 24, 25));
        assert_null(OH_NNTensor_CreateWithFd(0, desc, fd, 24, 1));
        assert_null(OH_NNTensor_CreateWithFd(0, untyped, fd, 24, 0));
        assert_null(OH_NNTensor_CreateWithFd(0, desc, fd, 8193, 0)); /* there is less */
        a = OH_NNTensor_CreateWithFd(0, desc, fd, 8192, 4099);
        assert_non_null(a);
        is(OH_NNTensor_Destroy(&b), OK); /* the other one stays usable */
        is(OH_NNTensor_GetOffset(a, &offset), OK);
        assert_int_equal(offset, 4099);
        is(OH_NNTensor_GetSize(a, &size), OK);
        assert_int_equal(size, 8192);
        assert_int_equal(*(uint8_t *)OH_NNTensor_GetDataBuffer(a), 4099 % 251);
        assert_int_equal(((uint8_t *)OH_NNTensor_GetDataBuffer(a))[4092], 8191 % 251);
    }
    is(OH_NNTensor_Destroy(NULL), IP);
    is(OH_NNTensor_Destroy(&none), IP);
    is(OH_NNTensor_Destroy(&a), OK);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    is(OH_NNTensorDesc_Destroy(&dynamic), OK);
    is(OH_NNTensorDesc_Destroy(&scalar), OK);
    is(OH_NNTensorDesc_Destroy(&untyped), OK);
    is(OH_NNTensorDesc_Destroy(&huge), OK);
}

/* ---- quantization, building ---- */

static void quantisation(void **state)
{
    NN_QuantParam *q = OH_NNQuantParam_Create(), *none = NULL, *empty = OH_NNQuantParam_Create();
    const double scales[3] = {0.5, 0.25, 0.125}, zero[2] = {0.5, 0}, infinite[2] = {0.5, 1e300 * 1e300};
    const int32_t zeros[3] = {1, 2, 3};
    const uint32_t bits[3] = {8, 8, 8}, seven[2] = {8, 7};
    const int32_t dims[4] = {1, 1, 2, 3};
    NN_TensorDesc *desc = desc_of(OH_NN_FLOAT32, dims, 4);
    OH_NNModel *model = OH_NNModel_Construct();
    (void)state;
    is(OH_NNQuantParam_SetScales(NULL, scales, 1), IP);
    is(OH_NNQuantParam_SetScales(q, NULL, 1), IP);
    is(OH_NNQuantParam_SetScales(q, scales, 0), IP);
    is(OH_NNQuantParam_SetZeroPoints(NULL, zeros, 1), IP);
    is(OH_NNQuantParam_SetZeroPoints(q, NULL, 1), IP);
    is(OH_NNQuantParam_SetZeroPoints(q, zeros, 0), IP);
    is(OH_NNQuantParam_SetNumBits(NULL, bits, 1), IP);
    is(OH_NNQuantParam_SetNumBits(q, NULL, 1), IP);
    is(OH_NNQuantParam_SetNumBits(q, bits, 0), IP);
    is(OH_NNTensorDesc_SetFormat(desc, OH_NN_FORMAT_NCHW), OK);
    is(OH_NNModel_AddTensorToModel(model, desc), OK);
    is(OH_NNModel_SetTensorQuantParams(NULL, 0, q), IP);
    is(OH_NNModel_SetTensorQuantParams(model, 0, NULL), IP);
    is(OH_NNModel_SetTensorQuantParams(model, 1, q), IP);
    is(OH_NNQuantParam_SetScales(q, scales, 1), OK);
    is(OH_NNModel_SetTensorQuantParams(model, 0, q), IP); /* the others are not set */
    is(OH_NNQuantParam_SetZeroPoints(q, zeros, 2), OK);
    is(OH_NNQuantParam_SetNumBits(q, bits, 1), OK);
    is(OH_NNModel_SetTensorQuantParams(model, 0, q), IP); /* not of one length */
    is(OH_NNQuantParam_SetZeroPoints(q, zeros, 1), OK);
    is(OH_NNModel_SetTensorQuantParams(model, 0, q), OK);
    assert_int_equal(model->graph->values[0].quantCount, 1);
    assert_int_equal(model->graph->values[0].quant[0].zeroPoint, 1);
    assert_true(model->graph->values[0].quant[0].scale == 0.5);
    is(OH_NNQuantParam_SetScales(q, scales, 2), OK);
    is(OH_NNQuantParam_SetZeroPoints(q, zeros, 2), OK);
    is(OH_NNQuantParam_SetNumBits(q, bits, 2), OK);
    is(OH_NNModel_SetTensorQuantParams(model, 0, q), IP); /* {1,1,2,3}, NCHW: two fit no axis that could be meant */
    assert_int_equal(model->graph->values[0].quantCount, 1);
    is(OH_NNQuantParam_SetNumBits(q, seven, 2), OK);
    is(OH_NNModel_SetTensorQuantParams(model, 0, q), IP);
    assert_int_equal(model->graph->values[0].quantCount, 0); /* it is left without */
    is(OH_NNTensorDesc_SetFormat(desc, OH_NN_FORMAT_NHWC), OK);
    is(OH_NNModel_AddTensorToModel(model, desc), OK);
    is(OH_NNQuantParam_SetScales(q, scales, 3), OK);
    is(OH_NNQuantParam_SetZeroPoints(q, zeros, 3), OK);
    is(OH_NNQuantParam_SetNumBits(q, bits, 3), OK);
    is(OH_NNModel_SetTensorQuantParams(model, 1, q), OK); /* one for each channel */
    assert_int_equal(model->graph->values[1].quantCount, 3);
    is(OH_NNModel_SetTensorQuantParams(model, 1, empty), OK);
    assert_int_equal(model->graph->values[1].quantCount, 0);
    for (int i = 0; i < 2; i++) {
        is(OH_NNQuantParam_SetScales(q, (i == 0 ? zero : infinite) + 1, 1), OK);
        is(OH_NNQuantParam_SetZeroPoints(q, zeros, 1), OK);
        is(OH_NNQuantParam_SetNumBits(q, bits, 1), OK);
        is(OH_NNModel_SetTensorQuantParams(model, 1, q), IP);
    }
    is(OH_NNQuantParam_Destroy(NULL), IP);
    is(OH_NNQuantParam_Destroy(&none), IP);
    is(OH_NNQuantParam_Destroy(&q), OK);
    assert_null(q);
    is(OH_NNQuantParam_Destroy(&empty), OK);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    OH_NNModel_Destroy(&model);
}

static void building(void **state)
{
    OH_NNModel *model = OH_NNModel_Construct(), *none = NULL;
    const int32_t dims[2] = {2, 3}, open[2] = {-1, 3}, zero[2] = {0, 3}, low[2] = {-2, 3}, large[2] = {1 << 20, 1 << 12};
    const float data[6] = {1, 2, 3, 4, 5, 6};
    NN_TensorDesc *desc = desc_of(OH_NN_FLOAT32, dims, 2);
    int32_t many[201];
    const uint32_t bits = 8, seven = 7;
    const double scale = 1;
    const int32_t zeroPoint = 0;
    OH_NN_QuantParam q = {1, &bits, &scale, &zeroPoint};
    OH_NN_Tensor t = {OH_NN_FLOAT32, 2, dims, NULL, OH_NN_TENSOR};
    uint32_t in[1] = {0}, out[1] = {5};
    (void)state;
    assert_non_null(model);
    for (int i = 0; i < 201; i++)
        many[i] = 1;
    is(OH_NNModel_AddTensorToModel(NULL, desc), IP);
    is(OH_NNModel_AddTensorToModel(model, NULL), IP);
    is(OH_NNModel_AddTensorToModel(model, desc), OK); /* 0 */
    is(OH_NNTensorDesc_SetShape(desc, zero, 2), OK);
    is(OH_NNModel_AddTensorToModel(model, desc), IP);
    is(OH_NNTensorDesc_SetShape(desc, low, 2), OK);
    is(OH_NNModel_AddTensorToModel(model, desc), IP);
    is(OH_NNTensorDesc_SetShape(desc, large, 2), OK);
    is(OH_NNModel_AddTensorToModel(model, desc), IP); /* 16 GiB */
    is(OH_NNTensorDesc_SetShape(desc, open, 2), OK);
    is(OH_NNModel_AddTensorToModel(model, desc), OK); /* 1 */
    is(OH_NNTensorDesc_SetDataType(desc, OH_NN_UNKNOWN), OK);
    is(OH_NNModel_AddTensorToModel(model, desc), OK); /* 2 */
    /* the struct */
    is(OH_NNModel_AddTensor(NULL, &t), IP);
    is(OH_NNModel_AddTensor(model, NULL), IP);
    t.dataType = (OH_NN_DataType)13;
    is(OH_NNModel_AddTensor(model, &t), IP);
    t.dataType = OH_NN_FLOAT32;
    t.type = (OH_NN_TensorType)163;
    is(OH_NNModel_AddTensor(model, &t), IP);
    t.type = OH_NN_TENSOR;
    t.dimensions = NULL;
    is(OH_NNModel_AddTensor(model, &t), IP);
    t.dimensionCount = 0;
    is(OH_NNModel_AddTensor(model, &t), OK); /* 3: a scalar */
    t.dimensions = dims;
    is(OH_NNModel_AddTensor(model, &t), IP);
    t.dimensions = many;
    t.dimensionCount = 201;
    is(OH_NNModel_AddTensor(model, &t), IP);
    t.dimensionCount = 200;
    is(OH_NNModel_AddTensor(model, &t), OK); /* 4 */
    t.dimensions = zero;
    t.dimensionCount = 2;
    is(OH_NNModel_AddTensor(model, &t), IP);
    t.dimensions = dims;
    t.quantParam = &q;
    is(OH_NNModel_AddTensor(model, &t), OK); /* 5 */
    assert_int_equal(model->graph->values[5].quantCount, 1);
    assert_int_equal(model->graph->values[5].format, OH_NN_FORMAT_NHWC);
    q.numBits = &seven;
    is(OH_NNModel_AddTensor(model, &t), IP);
    q.numBits = NULL;
    is(OH_NNModel_AddTensor(model, &t), IP);
    q.numBits = &bits;
    q.scale = NULL;
    is(OH_NNModel_AddTensor(model, &t), IP);
    q.scale = &scale;
    q.zeroPoint = NULL;
    is(OH_NNModel_AddTensor(model, &t), IP);
    q.zeroPoint = &zeroPoint;
    assert_int_equal(model->graph->nValues, 6); /* failed calls added nothing */
    /* types */
    is(OH_NNModel_SetTensorType(NULL, 0, OH_NN_TENSOR), IP);
    is(OH_NNModel_SetTensorType(model, 0, (OH_NN_TensorType)163), IP);
    is(OH_NNModel_SetTensorType(model, 0, (OH_NN_TensorType)-1), IP);
    is(OH_NNModel_SetTensorType(model, 6, OH_NN_TENSOR), IP);
    is(OH_NNModel_SetTensorType(model, 3, OH_NN_CLIP_MAX), OK);
    /* data */
    is(OH_NNModel_SetTensorData(NULL, 5, data, 24), IP);
    is(OH_NNModel_SetTensorData(model, 5, NULL, 24), IP);
    is(OH_NNModel_SetTensorData(model, 5, data, 0), IP);
    is(OH_NNModel_SetTensorData(model, 6, data, 24), IP);
    is(OH_NNModel_SetTensorData(model, 5, data, 23), IP);
    is(OH_NNModel_SetTensorData(model, 5, data, 25), IP);
    is(OH_NNModel_SetTensorData(model, 1, data, 12), OF); /* open */
    is(OH_NNModel_SetTensorData(model, 5, data, 24), OK);
    is(OH_NNModel_SetTensorData(model, 5, data, 24), IP); /* it has some */
    OH_NNModel_Destroy(&model);
    assert_null(model);
    OH_NNModel_Destroy(NULL);
    OH_NNModel_Destroy(&none);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    /* once it is finished */
    is(add_model(&model, 2), OK);
    desc = desc_of(OH_NN_FLOAT32, dims, 2);
    {
        NN_QuantParam *handle = OH_NNQuantParam_Create();
        is(OH_NNModel_AddTensorToModel(model, desc), OF);
        is(OH_NNModel_AddTensor(model, &t), OF);
        is(OH_NNModel_SetTensorType(model, 0, OH_NN_TENSOR), OF);
        is(OH_NNModel_SetTensorType(model, 99, OH_NN_TENSOR), OF); /* before the index is looked at */
        is(OH_NNModel_SetTensorType(model, 0, (OH_NN_TensorType)163), IP);
        is(OH_NNModel_SetTensorQuantParams(model, 99, handle), OF);
        is(OH_NNModel_SetTensorData(model, 99, data, 24), OF);
        is(OH_NNModel_SetTensorData(model, 0, data, 0), IP);
        is(add_operation(model, OH_NN_OPS_ABS, NULL, 0, in, 1, out, 1), OF);
        is(specify(model, in, 1, out, 1), OF);
        is(OH_NNModel_Finish(model), OF);
        is(OH_NNQuantParam_Destroy(&handle), OK);
    }
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    OH_NNModel_Destroy(&model);
}

static void operations(void **state)
{
    OH_NNModel *model = OH_NNModel_Construct();
    const int32_t dims[2] = {2, 3};
    const int8_t relu = 1, three = 3;
    const float half = 0.5f, constant[6] = {1, 2, 3, 4, 5, 6};
    uint32_t in[2] = {0, 1}, out[1] = {2}, act[2] = {3, 3}, wrong[1] = {4}, none[1] = {5}, range[1] = {99}, bad[1] = {6};
    uint32_t many[201] = {0}, same[1] = {0}, w[1] = {7}, back[1] = {0};
    OH_NN_UInt32Array p = list_of(NULL, 0), i = list_of(in, 2), o = list_of(out, 1), broken = list_of(NULL, 1);
    OH_NN_UInt32Array zero = list_of(in, 0);
    (void)state;
    is(OH_NNModel_Finish(NULL), IP);
    is(OH_NNModel_Finish(model), OF); /* no tensor */
    for (int k = 0; k < 3; k++)
        is(add_tensor(model, OH_NN_FLOAT32, dims, 2, OH_NN_TENSOR, NULL, 0), OK);
    is(OH_NNModel_Finish(model), OF); /* no operation */
    is(add_tensor(model, OH_NN_INT8, dims, 0, OH_NN_ADD_ACTIVATIONTYPE, &relu, 1), OK);  /* 3 */
    is(add_tensor(model, OH_NN_FLOAT32, dims, 0, OH_NN_POW_SCALE, &half, 4), OK);        /* 4: of another operator */
    is(add_tensor(model, OH_NN_INT8, dims, 0, OH_NN_ADD_ACTIVATIONTYPE, NULL, 0), OK);   /* 5: without data */
    is(add_tensor(model, OH_NN_INT8, dims, 0, OH_NN_ADD_ACTIVATIONTYPE, &three, 1), OK); /* 6: no such activation */
    is(add_tensor(model, OH_NN_FLOAT32, dims, 2, OH_NN_TENSOR, constant, 24), OK);       /* 7 */
    is(OH_NNModel_AddOperation(NULL, OH_NN_OPS_ADD, &p, &i, &o), IP);
    is(OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, NULL, &i, &o), IP);
    is(OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &p, NULL, &o), IP);
    is(OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &p, &i, NULL), IP);
    is(OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &broken, &i, &o), IP);
    is(OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &zero, &i, &o), IP); /* data, but size 0 */
    is(OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &p, &broken, &o), IP);
    is(OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &p, &zero, &o), IP);
    is(OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &p, &i, &broken), IP);
    is(OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &p, &i, &zero), IP);
    is(add_operation(model, OH_NN_OPS_CONCAT, NULL, 0, many, 201, out, 1), IP);
    is(add_operation(model, OH_NN_OPS_ADD, NULL, 0, in, 1, out, 1), IP);
    is(add_operation(model, OH_NN_OPS_ADD, NULL, 0, range, 1, out, 1), IP);
    is(add_operation(model, OH_NN_OPS_ADD, NULL, 0, in, 2, range, 1), IP);
    is(add_operation(model, OH_NN_OPS_ADD, NULL, 0, in, 2, act, 1), IP);  /* a parameter as output */
    is(add_operation(model, OH_NN_OPS_ADD, NULL, 0, act, 2, out, 1), IP); /* and as input */
    is(add_operation(model, OH_NN_OPS_ADD, NULL, 0, in, 2, same, 1), IP); /* input and output */
    is(add_operation(model, OH_NN_OPS_ADD, range, 1, in, 2, out, 1), IP);
    is(add_operation(model, OH_NN_OPS_ADD, wrong, 1, in, 2, out, 1), IP);
    is(add_operation(model, OH_NN_OPS_ADD, none, 1, in, 2, out, 1), IP);
    is(add_operation(model, OH_NN_OPS_ADD, bad, 1, in, 2, out, 1), IP);
    is(add_operation(model, OH_NN_OPS_ADD, act, 2, in, 2, out, 1), IP); /* it knows one */
    is(add_operation(model, OH_NN_OPS_ADD, in, 1, in, 2, out, 1), IP);  /* data as a parameter */
    is(add_operation(model, (OH_NN_OperationType)0, NULL, 0, in, 2, out, 1), IP);
    is(add_operation(model, (OH_NN_OperationType)109, NULL, 0, in, 2, out, 1), IP);
    assert_int_equal(model->graph->nNodes, 0);
    is(add_operation(model, OH_NN_OPS_ADD, act, 1, in, 2, out, 1), OK);
    is(OH_NNModel_Finish(model), OF); /* no inputs */
    is(OH_NNModel_SpecifyInputsAndOutputs(NULL, &i, &o), IP);
    is(OH_NNModel_SpecifyInputsAndOutputs(model, NULL, &o), IP);
    is(OH_NNModel_SpecifyInputsAndOutputs(model, &i, NULL), IP);
    is(OH_NNModel_SpecifyInputsAndOutputs(model, &broken, &o), IP);
    is(OH_NNModel_SpecifyInputsAndOutputs(model, &i, &zero), IP);
    is(specify(model, range, 1, out, 1), IP);
    is(specify(model, act, 1, out, 1), IP);
    is(specify(model, in, 2, in, 1), IP);
    is(specify(model, w, 1, out, 1), IP); /* it has data */
    is(specify(model, in, 1, out, 1), OK);
    is(specify(model, in, 2, out, 1), OF);
    is(OH_NNModel_Finish(model), IP); /* tensor 1 comes from nowhere */
    is(OH_NNModel_SetTensorData(model, 1, constant, 24), OK); /* the model stays open */
    is(OH_NNModel_Finish(model), OK);
    OH_NNModel_Destroy(&model);
    /* a tensor with two writers; one that waits for itself */
    for (int k = 0; k < 2; k++) {
        model = OH_NNModel_Construct();
        for (int n = 0; n < 4; n++)
            is(add_tensor(model, OH_NN_FLOAT32, dims, 2, OH_NN_TENSOR, NULL, 0), OK);
        in[0] = 1;
        in[1] = 3;
        is(add_operation(model, OH_NN_OPS_ADD, NULL, 0, in, 2, out, 1), OK);
        back[0] = k == 0 ? 2 : 3;
        same[0] = k == 0 ? 1 : 2;
        is(add_operation(model, OH_NN_OPS_ABS, NULL, 0, same, 1, back, 1), OK);
        in[1] = 3;
        is(specify(model, in, k == 0 ? 2 : 1, out, 1), OK);
        is(OH_NNModel_Finish(model), IP);
        OH_NNModel_Destroy(&model);
    }
}

/* ---- parameters: which element types each takes, from the specification of the API's builders ---- */

static bool one_of(const char *list, uint32_t number)
{
    char text[16];
    (void)snprintf(text, sizeof(text), " %u ", number);
    return strstr(list, text) != NULL;
}

/* From the names of the enumerators and the specification's rule: int64 but for these. */
static char parameter_type(uint32_t number)
{
    if (one_of(" 1 6 15 22 28 29 30 32 35 40 41 44 59 64 143 ", number))
        return 'c'; /* activations, ELTWISE_MODE, COORDINATE_TRANSFORM_MODE */
    if (one_of(" 4 5 12 14 18 21 25 27 38 39 ", number))
        return 'p'; /* PAD_MODE and PAD */
    if (one_of(" 81 109 114 116 149 ", number))
        return 'i'; /* ROUND_MODE, PADDING_MODE, DEPTH_TO_SPACE_MODE, NORM_REGION */
    if (one_of(" 33 34 60 63 69 70 71 74 76 93 94 110 111 112 113 115 117 119 121 125 139 140 151 152 154 155 157 158 160 161 ",
               number))
        return 'b';
    if (one_of(" 7 43 67 86 88 89 90 91 92 99 100 101 103 104 107 108 118 120 122 132 133 134 142 146 147 148 153 156 159 162 ",
               number))
        return 'f';
    return one_of(" 9 48 ", number) ? '2' : 'l';
}

/* The operators whose parameters end with this number, where they follow one another; then later additions. */
static const struct {
    uint32_t last;
    OH_NN_OperationType op;
} owners[] = {
    {1, OH_NN_OPS_ADD}, {6, OH_NN_OPS_AVG_POOL}, {7, OH_NN_OPS_BATCH_NORM}, {9, OH_NN_OPS_BATCH_TO_SPACE_ND},
    {10, OH_NN_OPS_CONCAT}, {16, OH_NN_OPS_CONV2D}, {23, OH_NN_OPS_CONV2D_TRANSPOSE},
    {28, OH_NN_OPS_DEPTHWISE_CONV2D_NATIVE}, {29, OH_NN_OPS_DIV}, {30, OH_NN_OPS_ELTWISE},
    {32, OH_NN_OPS_FULL_CONNECTION}, {35, OH_NN_OPS_MATMUL}, {40, OH_NN_OPS_MAX_POOL}, {41, OH_NN_OPS_MUL},
    {42, OH_NN_OPS_ONE_HOT}, {43, OH_NN_OPS_PAD}, {45, OH_NN_OPS_SCALE}, {46, OH_NN_OPS_SOFTMAX},
    {48, OH_NN_OPS_SPACE_TO_BATCH_ND}, {51, OH_NN_OPS_SPLIT}, {52, OH_NN_OPS_SQUEEZE}, {53, OH_NN_OPS_STACK},
    {58, OH_NN_OPS_STRIDED_SLICE}, {59, OH_NN_OPS_SUB}, {60, OH_NN_OPS_REDUCE_MEAN}, {65, OH_NN_OPS_RESIZE_BILINEAR},
    {69, OH_NN_OPS_LAYER_NORM}, {70, OH_NN_OPS_REDUCE_PROD}, {71, OH_NN_OPS_REDUCE_ALL},
    {73, OH_NN_OPS_QUANT_DTYPE_CAST}, {74, OH_NN_OPS_TOP_K}, {76, OH_NN_OPS_ARG_MAX}, {77, OH_NN_OPS_UNSQUEEZE},
    {78, OH_NN_OPS_UNSTACK}, {79, OH_NN_OPS_FLATTEN}, {81, OH_NN_OPS_DEPTH_TO_SPACE}, {84, OH_NN_OPS_RANGE},
    {86, OH_NN_OPS_CONSTANT_OF_SHAPE}, {87, OH_NN_OPS_BROADCAST_TO}, {88, OH_NN_OPS_INSTANCE_NORM},
    {91, OH_NN_OPS_EXP}, {92, OH_NN_OPS_LEAKY_RELU}, {102, OH_NN_OPS_LSTM}, {104, OH_NN_OPS_CLIP},
    {105, OH_NN_OPS_ALL}, {106, OH_NN_OPS_ASSERT}, {108, OH_NN_OPS_POW}, {110, OH_NN_OPS_AVG_POOL},
    {112, OH_NN_OPS_FULL_CONNECTION}, {113, OH_NN_OPS_GELU}, {115, OH_NN_OPS_MAX_POOL}, {116, OH_NN_OPS_PAD},
    {118, OH_NN_OPS_REDUCE_MEAN}, {120, OH_NN_OPS_REDUCE_PROD}, {122, OH_NN_OPS_REDUCE_ALL}, {123, OH_NN_OPS_TOP_K},
    {125, OH_NN_OPS_ARG_MAX}, {126, OH_NN_OPS_QUANT_DTYPE_CAST}, {127, OH_NN_OPS_SLICE}, {128, OH_NN_OPS_TILE},
    {130, OH_NN_OPS_CROP}, {140, OH_NN_OPS_DETECTION_POST_PROCESS}, {143, OH_NN_OPS_L2_NORMALIZE},
    {144, OH_NN_OPS_LOG_SOFTMAX}, {149, OH_NN_OPS_LRN}, {150, OH_NN_OPS_SPACE_TO_DEPTH}, {153, OH_NN_OPS_REDUCE_MAX},
    {156, OH_NN_OPS_REDUCE_MIN}, {159, OH_NN_OPS_REDUCE_SUM}, {162, OH_NN_OPS_REDUCE_L2}};

static OH_NN_OperationType owner_of(uint32_t number)
{
    uint32_t i = 0;
    while (owners[i].last < number)
        i++;
    return owners[i].op;
}

/* Inputs and outputs of each operator, as its documentation lists them; '+': any number from 2 on. */
static const char operands_in[] = "215122+333" "2222331222" "1242231131" "11121+4212" "2211221132" "2121111111"
                                  "2311113112" "2221612211" "2121113321" "2311112122" "21311212";

static void parameters(void **state)
{
    const int32_t four[1] = {4}, one[1] = {1};
    static const OH_NN_DataType kinds[5] = {OH_NN_BOOL, OH_NN_INT8, OH_NN_INT32, OH_NN_INT64, OH_NN_FLOAT32};
    static const char letters[6] = "bcilf";
    static const int64_t zeros[4] = {0, 0, 0, 0}, ones[4] = {1, 1, 1, 1};
    static const float floats[4] = {1, 1, 1, 1};
    (void)state;
    for (uint32_t number = 1; number <= 162; number++) {
        const OH_NN_OperationType op = owner_of(number);
        const char wanted = parameter_type(number);
        const nnrti_ohnn_op *row = &nnrti_ohnn_ops[op - 1];
        for (uint32_t k = 0; k < 10; k++) {
            OH_NNModel *model = OH_NNModel_Construct();
            uint32_t in[6] = {0, 1, 2, 3, 4, 5}, out[4] = {6, 7, 8, 9}, param[1] = {10};
            const bool many = k >= 5;
            const bool type = number == 72 || number == 73 || number == 85; /* element types: 0 is none */
            const OH_NN_DataType kind = kinds[k % 5];
            const char letter = letters[k % 5];
            const size_t size = kind == OH_NN_INT64 ? 8 : kind == OH_NN_INT32 || kind == OH_NN_FLOAT32 ? 4 : 1;
            const void *data = kind == OH_NN_FLOAT32 ? (const void *)floats : type ? ones : zeros;
            const bool list = one_of(" 2 3 8 9 11 13 17 19 20 24 26 36 37 46 47 48 51 52 77 86 87 127 128 130 132 141 ",
                                     number);
            bool good;
            if (wanted == 'p')
                good = many ? letter == 'l' || letter == 'i' : letter == 'c';
            else if (wanted == 'l')
                good = (letter == 'l' || letter == 'i') && (!many || list);
            else if (wanted == '2')
                good = (letter == 'l' || letter == 'i') && many;
            else
                good = letter == wanted && (!many || list);
            for (int t = 0; t < 10; t++)
                is(add_tensor(model, OH_NN_FLOAT32, one, 1, OH_NN_TENSOR, NULL, 0), OK);
            is(add_tensor(model, kind, many ? four : one, 1, (OH_NN_TensorType)number, data, size * (many ? 4 : 1)), OK);
            assert_int_equal(add_operation(model, op, param, 1, in, row->minIn, out, row->minOut), good ? OK : IP);
            assert_int_equal(add_operation(model, op == OH_NN_OPS_ADD ? OH_NN_OPS_SUB : OH_NN_OPS_ADD, param, 1, in, 2, out,
                                           1),
                             IP); /* it is no other operator's */
            OH_NNModel_Destroy(&model);
        }
    }
}

/* ---- compilations ---- */

static void compilations(void **state)
{
    OH_NNModel *model = NULL, *open = OH_NNModel_Construct();
    OH_NNCompilation *c, *none = NULL;
    uint8_t bytes[64] = {1, 2, 3};
    size_t size = 7;
    (void)state;
    is(add_model(&model, 2), OK);
    assert_null(OH_NNCompilation_Construct(NULL));
    assert_null(OH_NNCompilation_ConstructWithOfflineModelFile(NULL));
    assert_null(OH_NNCompilation_ConstructWithOfflineModelBuffer(NULL, 1));
    assert_null(OH_NNCompilation_ConstructWithOfflineModelBuffer(bytes, 0));
    c = OH_NNCompilation_Construct(open); /* examined by Build */
    assert_non_null(c);
    is(OH_NNCompilation_Build(c), IP);
    is(OH_NNCompilation_Build(c), IP);
    assert_null(OH_NNExecutor_Construct(c));
    OH_NNCompilation_Destroy(&c);
    assert_null(c);
    is(OH_NNCompilation_Build(NULL), IP);
    c = OH_NNCompilation_Construct(model);
    is(OH_NNCompilation_ExportCacheToBuffer(NULL, bytes, 64, &size), IP);
    is(OH_NNCompilation_ExportCacheToBuffer(c, NULL, 64, &size), IP);
    is(OH_NNCompilation_ExportCacheToBuffer(c, bytes, 0, &size), IP);
    is(OH_NNCompilation_ExportCacheToBuffer(c, bytes, 64, NULL), IP);
    is(OH_NNCompilation_ExportCacheToBuffer(c, bytes, 64, &size), IP); /* not built */
    is(OH_NNCompilation_ImportCacheFromBuffer(NULL, bytes, 64), IP);
    is(OH_NNCompilation_ImportCacheFromBuffer(c, NULL, 64), IP);
    is(OH_NNCompilation_ImportCacheFromBuffer(c, bytes, 0), IP);
    is(OH_NNCompilation_AddExtensionConfig(NULL, "a", bytes, 3), IP);
    is(OH_NNCompilation_AddExtensionConfig(c, NULL, bytes, 3), IP);
    is(OH_NNCompilation_AddExtensionConfig(c, "a", NULL, 3), IP);
    is(OH_NNCompilation_AddExtensionConfig(c, "a", bytes, 0), IP);
    is(OH_NNCompilation_AddExtensionConfig(c, "", bytes, 3), IP);
    is(OH_NNCompilation_AddExtensionConfig(c, "a", "12", 2), OK);
    is(OH_NNCompilation_AddExtensionConfig(c, "b", "x", 1), OK);
    is(OH_NNCompilation_AddExtensionConfig(c, "a", "345", 3), OK);
    assert_int_equal(c->nExtensions, 2);
    assert_int_equal(c->extensions[0].size, 6);
    assert_memory_equal(c->extensions[0].data, "12|345", 6);
    is(OH_NNCompilation_SetDevice(NULL, 0), IP);
    is(OH_NNCompilation_SetCache(NULL, "x", 1), IP);
    is(OH_NNCompilation_SetCache(c, NULL, 1), IP);
    is(OH_NNCompilation_SetPerformanceMode(NULL, OH_NN_PERFORMANCE_NONE), IP);
    is(OH_NNCompilation_SetPriority(NULL, OH_NN_PRIORITY_NONE), IP);
    is(OH_NNCompilation_EnableFloat16(NULL, false), IP);
    is(OH_NNCompilation_SetDevice(c, 0), OK);
    is(OH_NNCompilation_SetPerformanceMode(c, OH_NN_PERFORMANCE_NONE), OK);
    is(OH_NNCompilation_SetPriority(c, OH_NN_PRIORITY_NONE), OK);
    is(OH_NNCompilation_EnableFloat16(c, false), OK);
    is(OH_NNCompilation_Build(c), OK);
    is(OH_NNCompilation_Build(c), IP);
    is(OH_NNCompilation_SetDevice(c, 0), OF);
    is(OH_NNCompilation_SetCache(c, "x", 1), OF);
    is(OH_NNCompilation_SetPerformanceMode(c, OH_NN_PERFORMANCE_NONE), OF);
    is(OH_NNCompilation_SetPriority(c, OH_NN_PRIORITY_NONE), OF);
    is(OH_NNCompilation_EnableFloat16(c, false), OF);
    is(OH_NNCompilation_AddExtensionConfig(c, "a", bytes, 3), OF);
    is(OH_NNCompilation_ImportCacheFromBuffer(c, bytes, 3), OF);
    is(OH_NNCompilation_ExportCacheToBuffer(c, bytes, 64, &size), OH_NN_UNSUPPORTED);
    OH_NNCompilation_Destroy(&c);
    OH_NNCompilation_Destroy(NULL);
    OH_NNCompilation_Destroy(&none);
    /* values that the setters accept and Build refuses, in this order */
    c = OH_NNCompilation_Construct(model);
    is(OH_NNCompilation_SetDevice(c, 12345), OK);
    is(OH_NNCompilation_SetPerformanceMode(c, (OH_NN_PerformanceMode)9), OK);
    is(OH_NNCompilation_Build(c), OH_NN_FAILED);
    OH_NNCompilation_Destroy(&c);
    for (int k = 0; k < 4; k++) {
        c = OH_NNCompilation_Construct(k == 3 ? open : model); /* options come before the source */
        is(k == 0   ? OH_NNCompilation_SetCache(c, "/", 1)
           : k == 1 ? OH_NNCompilation_EnableFloat16(c, true)
           : k == 2 ? OH_NNCompilation_SetPriority(c, OH_NN_PRIORITY_HIGH)
                    : OH_NNCompilation_SetPerformanceMode(c, (OH_NN_PerformanceMode)9),
           OK);
        is(OH_NNCompilation_Build(c), k < 2 ? OF : k == 2 ? OK : IP); /* the reference device takes hints alone */
        OH_NNCompilation_Destroy(&c);
    }
    /* sources */
    c = OH_NNCompilation_Construct(model);
    is(OH_NNCompilation_ImportCacheFromBuffer(c, bytes, 3), OK);
    is(OH_NNCompilation_Build(c), IP); /* two */
    OH_NNCompilation_Destroy(&c);
    c = OH_NNCompilation_ConstructForCache();
    assert_non_null(c);
    is(OH_NNCompilation_Build(c), IP); /* none */
    OH_NNCompilation_Destroy(&c);
    c = OH_NNCompilation_ConstructForCache();
    is(OH_NNCompilation_ImportCacheFromBuffer(c, bytes, 3), OK);
    is(OH_NNCompilation_Build(c), OH_NN_FAILED);
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
    OH_NNModel_Destroy(&open);
}

/* A .nnrt file is an offline model. */
static void offline(void **state)
{
    static const float x[6] = {1, -2, 3, -4, 5, -6}, y[6] = {1, 1, 1, -1, -1, -1};
    const float wanted[6] = {2, 0, 4, 0, 4, 0};
    const int32_t dims[2] = {2, 3};
    const char *path = "build/test_ohnn.nnrt";
    uint8_t *bytes, *moved;
    size_t size = 0;
    OH_NNModel *model = NULL;
    OH_NNCompilation *c;
    OH_NNExecutor *e;
    FILE *file;
    (void)state;
    is(add_model(&model, 2), OK);
    is(nnrt_model_save_memory(model->graph->model, NULL, NULL, 0, &size, NULL), NNRT_SUCCESS);
    bytes = (uint8_t *)malloc(size + 1);
    moved = bytes + 1; /* at any address */
    is(nnrt_model_save(model->graph->model, path, NULL, NULL), NNRT_SUCCESS);
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(moved, 1, size, file), size);
    (void)fclose(file);
    for (int k = 0; k < 2; k++) {
        NN_Tensor *in[2] = {tensor_of(OH_NN_FLOAT32, dims, 2, x, 24), tensor_of(OH_NN_FLOAT32, dims, 2, y, 24)};
        NN_Tensor *out[1] = {tensor_of(OH_NN_FLOAT32, dims, 2, NULL, 24)};
        c = k == 0 ? OH_NNCompilation_ConstructWithOfflineModelFile(path)
                   : OH_NNCompilation_ConstructWithOfflineModelBuffer(moved, size);
        is(OH_NNCompilation_Build(c), OK);
        e = OH_NNExecutor_Construct(c);
        assert_non_null(e);
        is(OH_NNExecutor_RunSync(e, in, 2, out, 1), OK);
        assert_memory_equal(OH_NNTensor_GetDataBuffer(out[0]), wanted, 24);
        OH_NNExecutor_Destroy(&e);
        OH_NNCompilation_Destroy(&c);
        for (int i = 0; i < 2; i++)
            is(OH_NNTensor_Destroy(&in[i]), OK);
        is(OH_NNTensor_Destroy(&out[0]), OK);
    }
    for (int k = 0; k < 3; k++) { /* cut short; changed; no such file at all */
        uint8_t *place = k == 1 ? &moved[size - 1] : &moved[0];
        *place ^= k == 0 ? 0 : 0x20;
        c = OH_NNCompilation_ConstructWithOfflineModelBuffer(moved, k == 0 ? size - 1 : size);
        is(OH_NNCompilation_Build(c), k == 2 ? OH_NN_FAILED : OH_NN_INVALID_FILE);
        OH_NNCompilation_Destroy(&c);
        *place ^= k == 0 ? 0 : 0x20;
    }
    c = OH_NNCompilation_ConstructWithOfflineModelFile("build/no such file");
    is(OH_NNCompilation_Build(c), OH_NN_INVALID_PATH);
    OH_NNCompilation_Destroy(&c);
    c = OH_NNCompilation_ConstructWithOfflineModelFile("tests/compat/test_ohnn.c");
    is(OH_NNCompilation_Build(c), OH_NN_FAILED);
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
    (void)remove(path);
    free(bytes);
}

/* ---- caches ---- */

static size_t id_of(const char *unique)
{
    const size_t *ids = NULL;
    uint32_t count = 0;
    is(OH_NNDevice_GetAllDevicesID(&ids, &count), OK);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = NULL;
        is(OH_NNDevice_GetName(ids[i], &name), OK);
        if (strcmp(name, unique) == 0)
            return ids[i];
    }
    fail_msg("there is no device %s", unique);
    return 0;
}

/* A compilation on the device npu, which Build ends with that code. model NULL: for a cache. */
static OH_NNCompilation *cached(const OH_NNModel *model, const char *path, uint32_t version, OH_NN_ReturnCode code)
{
    OH_NNCompilation *c = model != NULL ? OH_NNCompilation_Construct(model) : OH_NNCompilation_ConstructForCache();
    assert_non_null(c);
    is(OH_NNCompilation_SetDevice(c, id_of("npu_nnrt_v1_0")), OK);
    if (path != NULL)
        is(OH_NNCompilation_SetCache(c, path, version), OK);
    is(OH_NNCompilation_Build(c), code);
    return c;
}

static void built(const OH_NNModel *model, const char *path, uint32_t version, OH_NN_ReturnCode code)
{
    OH_NNCompilation *c = cached(model, path, version, code);
    OH_NNCompilation_Destroy(&c);
}

/* relu(x + y) of a compilation that is built, by names that the program gave. */
static void runs_right(OH_NNCompilation *c)
{
    static const float x[6] = {1, -2, 3, -4, 5, -6}, y[6] = {1, 1, 1, -1, -1, -1};
    static const float wanted[6] = {2, 0, 4, 0, 4, 0};
    const int32_t dims[2] = {2, 3};
    NN_Tensor *in[2] = {tensor_of(OH_NN_FLOAT32, dims, 2, x, 24), tensor_of(OH_NN_FLOAT32, dims, 2, y, 24)};
    NN_Tensor *out[1] = {tensor_of(OH_NN_FLOAT32, dims, 2, NULL, 24)};
    OH_NNExecutor *e = OH_NNExecutor_Construct(c);
    assert_non_null(e);
    is(OH_NNExecutor_RunSync(e, in, 2, out, 1), OK);
    assert_memory_equal(OH_NNTensor_GetDataBuffer(out[0]), wanted, 24);
    OH_NNExecutor_Destroy(&e);
    for (int i = 0; i < 2; i++)
        is(OH_NNTensor_Destroy(&in[i]), OK);
    is(OH_NNTensor_Destroy(&out[0]), OK);
}

/* Changes a byte of a file, or cuts it short (at < 0). */
static void spoil(const char *path, long at)
{
    char bytes[8192];
    FILE *file = fopen(path, "rb");
    size_t size;
    assert_non_null(file);
    size = fread(bytes, 1, sizeof(bytes), file);
    assert_true(size > 0 && size < sizeof(bytes) && at < (long)size);
    (void)fclose(file);
    if (at < 0)
        size /= 2;
    else
        bytes[at] ^= 1;
    file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    (void)fclose(file);
}

static bool there(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file != NULL)
        (void)fclose(file);
    return file != NULL;
}

#define KEPT "build/test_ohnn.cache"
#define KEPT_INFO KEPT "/cache_info.nncache"
#define KEPT_DATA KEPT "/0.nncache"

static uint32_t prepared_by(const nnrt_fake *npu)
{
    return nnrt_fake_get_record(npu).calls[NNRT_FAKE_PrepareModel];
}

/* Build with a cache directory, case by case. */
static void caches(void **state)
{
    nnrt_fake *npu = registered("fake:name=npu,cache=yes");
    OH_NNModel *model = NULL, *other = NULL, *open = NULL;
    OH_NNCompilation *c;
    uint32_t n;
    (void)state;
    is(add_model(&model, 2), OK);
    is(add_model(&other, 5), OK);
    is(add_model(&open, -1), OK);
    (void)remove(KEPT_INFO);
    (void)remove(KEPT_DATA);
    (void)rmdir(KEPT);
    built(model, KEPT, 10, IP); /* there is no such directory: it compiles, and cannot save */
    is((int)prepared_by(npu), 1);
    built(model, KEPT, UINT32_MAX, IP);
    is(mkdir(KEPT, 0777), 0);
    built(NULL, KEPT, 10, IP); /* nothing there, and no model */
    n = prepared_by(npu);
    built(model, KEPT, 10, OK);
    is((int)prepared_by(npu), (int)++n);
    assert_true(there(KEPT_INFO) && there(KEPT_DATA));
    c = cached(model, KEPT, 10, OK); /* the same version: restored */
    runs_right(c);
    OH_NNCompilation_Destroy(&c);
    c = cached(NULL, KEPT, 10, OK); /* and so without a model */
    runs_right(c);
    OH_NNCompilation_Destroy(&c);
    is((int)prepared_by(npu), (int)n);
    built(model, KEPT, 9, OF); /* the stored cache is newer */
    built(NULL, KEPT, 9, OF);
    is((int)prepared_by(npu), (int)n);
    built(model, KEPT, 10, OK);
    is((int)prepared_by(npu), (int)n);
    built(model, KEPT, 11, OK); /* it is older: compiled and written */
    is((int)prepared_by(npu), (int)++n);
    built(model, KEPT, 11, OK);
    is((int)prepared_by(npu), (int)n);
    built(model, KEPT, 10, OF);
    built(NULL, KEPT, 12, IP); /* older, and no model: the cache is removed */
    assert_false(there(KEPT_INFO));
    /* broken files, every byte of both */
    for (long at = -1;; at++) {
        bool last = true;
        for (int k = 0; k < 2; k++) {
            const char *path = k == 0 ? KEPT_INFO : KEPT_DATA;
            long size;
            FILE *file;
            built(model, KEPT, 12, OK);
            file = fopen(path, "rb");
            assert_non_null(file);
            assert_int_equal(fseek(file, 0, SEEK_END), 0);
            size = ftell(file);
            (void)fclose(file);
            if (at >= size)
                continue;
            last = false;
            spoil(path, at);
            n = prepared_by(npu);
            built(model, KEPT, 12, OK);
            is((int)prepared_by(npu), (int)++n);
            built(model, KEPT, 12, OK);
            is((int)prepared_by(npu), (int)n);
        }
        if (last)
            break;
    }
    spoil(KEPT_DATA, 100);
    built(NULL, KEPT, 12, IP);
    built(model, KEPT, 12, OK);
    assert_int_equal(remove(KEPT_DATA), 0);
    n = prepared_by(npu);
    built(model, KEPT, 12, OK);
    is((int)prepared_by(npu), (int)++n);
    /* another model in the same directory under the same version is not taken for this one */
    built(other, KEPT, 12, OK);
    is((int)prepared_by(npu), (int)++n);
    built(other, KEPT, 12, OK);
    is((int)prepared_by(npu), (int)n);
    /* a prefix has files of its own, and names no other directory */
    for (int k = 0; k < 2; k++) {
        c = OH_NNCompilation_Construct(model);
        is(OH_NNCompilation_SetDevice(c, id_of("npu_nnrt_v1_0")), OK);
        is(OH_NNCompilation_AddExtensionConfig(c, "ModelName", k == 0 ? "net" : "../net", k == 0 ? 3 : 6), OK);
        is(OH_NNCompilation_SetCache(c, "nowhere", 12), OK);
        is(OH_NNCompilation_SetCache(c, KEPT, 12), OK);
        is(OH_NNCompilation_Build(c), k == 0 ? OK : IP);
        OH_NNCompilation_Destroy(&c);
    }
    assert_int_equal(remove(KEPT "/netcache_info.nncache"), 0);
    assert_int_equal(remove(KEPT "/net0.nncache"), 0);
    /* dynamic shapes: nothing is kept, and it runs all the same */
    assert_int_equal(remove(KEPT_INFO), 0);
    built(open, KEPT, 12, OK);
    assert_false(there(KEPT_INFO));
    unregistered(npu);
    /* of another device; of one that cannot keep anything; of one without a cache */
    npu = registered("fake:name=npu,cache=yes");
    built(model, KEPT, 12, OK);
    unregistered(npu);
    npu = registered("fake:name=npu,cache=yes,type=GPU");
    built(model, KEPT, 12, OK);
    is((int)prepared_by(npu), 1);
    built(model, KEPT, 12, OK);
    is((int)prepared_by(npu), 1);
    unregistered(npu);
    npu = registered("fake:name=npu,cache=refuse"); /* it refuses its own cache: compiled */
    built(model, KEPT, 13, OK);
    built(model, KEPT, 13, OK);
    is((int)prepared_by(npu), 2);
    built(NULL, KEPT, 13, IP);
    unregistered(npu);
    npu = registered("fake:name=npu,cache=count");
    built(model, KEPT, 14, OH_NN_SAVE_CACHE_EXCEPTION);
    unregistered(npu);
    npu = registered("fake:name=npu");
    built(model, KEPT, 14, OF);
    unregistered(npu);
    (void)remove(KEPT_INFO);
    (void)remove(KEPT_DATA);
    is(rmdir(KEPT), 0);
    OH_NNModel_Destroy(&model);
    OH_NNModel_Destroy(&other);
    OH_NNModel_Destroy(&open);
}

/* Caches in buffers. */
static void buffers(void **state)
{
    nnrt_fake *npu = registered("fake:name=npu,cache=yes");
    OH_NNModel *model = NULL;
    OH_NNCompilation *c;
    OH_NNExecutor *e;
    NN_TensorDesc *desc;
    const char *name = NULL;
    OH_NN_Format format = OH_NN_FORMAT_NONE;
    size_t size = 0, again = 0;
    uint8_t *bytes;
    (void)state;
    is(add_model(&model, 2), OK);
    model->graph->values[0].name = (char *)nnrti_ohnn_copy(&model->graph->blocks, "the first", 10, 1);
    model->graph->values[0].format = OH_NN_FORMAT_NCHW;
    c = cached(model, NULL, 0, OK);
    bytes = (uint8_t *)malloc(16);
    is(OH_NNCompilation_ExportCacheToBuffer(c, bytes, 16, &size), IP); /* too small: size is set */
    assert_true(size > 500);
    bytes = (uint8_t *)realloc(bytes, size + 1);
    is(OH_NNCompilation_ExportCacheToBuffer(c, bytes + 1, size, &again), OK);
    assert_int_equal(again, size);
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
    for (int k = 0; k < 3; k++) { /* as it is; changed; cut short */
        c = OH_NNCompilation_ConstructForCache();
        is(OH_NNCompilation_SetDevice(c, id_of("npu_nnrt_v1_0")), OK);
        bytes[1 + size / 2] ^= k == 1;
        is(OH_NNCompilation_ImportCacheFromBuffer(c, bytes + 1, k == 2 ? size - 1 : size), OK);
        is(OH_NNCompilation_Build(c), k == 0 ? OK : OH_NN_INVALID_FILE);
        bytes[1 + size / 2] ^= k == 1;
        if (k == 0) { /* with the program's descriptions of its inputs */
            runs_right(c);
            e = OH_NNExecutor_Construct(c);
            desc = OH_NNExecutor_CreateInputTensorDesc(e, 0);
            is(OH_NNTensorDesc_GetName(desc, &name), OK);
            assert_string_equal(name, "the first");
            is(OH_NNTensorDesc_GetFormat(desc, &format), OK);
            is(format, OH_NN_FORMAT_NCHW);
            is(OH_NNTensorDesc_Destroy(&desc), OK);
            OH_NNExecutor_Destroy(&e);
            is(OH_NNCompilation_ExportCacheToBuffer(c, bytes + 1, size, &again), OK); /* and given on */
            assert_int_equal(again, size);
        }
        OH_NNCompilation_Destroy(&c);
    }
    is((int)prepared_by(npu), 1);
    /* the buffer wins, the path is for saving */
    is(mkdir(KEPT, 0777), 0);
    c = OH_NNCompilation_ConstructForCache();
    is(OH_NNCompilation_SetDevice(c, id_of("npu_nnrt_v1_0")), OK);
    is(OH_NNCompilation_ImportCacheFromBuffer(c, bytes + 1, size), OK);
    is(OH_NNCompilation_SetCache(c, KEPT, 3), OK);
    is(OH_NNCompilation_Build(c), OK);
    OH_NNCompilation_Destroy(&c);
    c = cached(NULL, KEPT, 3, OK);
    runs_right(c);
    OH_NNCompilation_Destroy(&c);
    is((int)prepared_by(npu), 1);
    (void)remove(KEPT_INFO);
    (void)remove(KEPT_DATA);
    is(rmdir(KEPT), 0);
    unregistered(npu);
    npu = registered("fake:name=npu,vendor=else,cache=yes"); /* of another device */
    c = OH_NNCompilation_ConstructForCache();
    is(OH_NNCompilation_SetDevice(c, id_of("npu_else_v1_0")), OK);
    is(OH_NNCompilation_ImportCacheFromBuffer(c, bytes + 1, size), OK);
    is(OH_NNCompilation_Build(c), OH_NN_INVALID_FILE);
    OH_NNCompilation_Destroy(&c);
    unregistered(npu);
    npu = registered("fake:name=npu,cache=count"); /* one that does not give it */
    is(add_model(&model, 2), OK);
    c = cached(model, NULL, 0, OK);
    is(OH_NNCompilation_ExportCacheToBuffer(c, bytes, size, &again), OH_NN_UNSUPPORTED);
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
    unregistered(npu);
    free(bytes);
}

/* Every request for memory fails in turn, while a cache is written, read beside a model, read alone, exported and imported:
   compilations that are built run, and nothing leaks. */
static void caches_without_memory(void **state)
{
    nnrt_fake *npu = registered("fake:name=npu,cache=yes");
    OH_NNModel *model = NULL;
    OH_NNCompilation *c;
    uint8_t *bytes;
    size_t size = 0;
    uint32_t failures = 0, done = 0;
    const size_t id = id_of("npu_nnrt_v1_0");
    (void)state;
    is(add_model(&model, 2), OK);
    is(mkdir(KEPT, 0777), 0);
    c = cached(model, KEPT, 1, OK);
    bytes = (uint8_t *)malloc(16384);
    is(OH_NNCompilation_ExportCacheToBuffer(c, bytes, 16384, &size), OK);
    OH_NNCompilation_Destroy(&c);
    for (int way = 0; way < 4; way++) /* written; with the model; alone; from the buffer */
        for (int64_t n = 1;; n++) {
            const int64_t before = heap_live;
            size_t again = 0;
            OH_NN_ReturnCode code = OH_NN_MEMORY_ERROR;
            bool reached;
            if (way == 0)
                (void)remove(KEPT_INFO);
            heap_fail_at = heap_calls + n;
            c = way < 2 ? OH_NNCompilation_Construct(model) : OH_NNCompilation_ConstructForCache();
            if (c != NULL && OH_NNCompilation_SetDevice(c, id) == OK &&
                (way == 3 ? OH_NNCompilation_ImportCacheFromBuffer(c, bytes, size)
                          : OH_NNCompilation_SetCache(c, KEPT, 1)) == OK)
                code = OH_NNCompilation_Build(c);
            if (code == OK && way == 3)
                (void)OH_NNCompilation_ExportCacheToBuffer(c, bytes, 16384, &again);
            reached = heap_calls >= heap_fail_at;
            heap_fail_at = 0;
            if (code == OK)
                runs_right(c);
            done += code == OK;
            failures += code != OK;
            OH_NNCompilation_Destroy(&c);
            assert_int_equal(heap_live, before);
            if (way > 0) /* a failure may have taken it for broken */
                built(model, KEPT, 1, OK);
            if (!reached) {
                is(code, OK);
                break;
            }
        }
    assert_true(failures > 30 && done > 8);
    free(bytes);
    (void)remove(KEPT_INFO);
    (void)remove(KEPT_DATA);
    is(rmdir(KEPT), 0);
    OH_NNModel_Destroy(&model);
    unregistered(npu);
}

/* ---- offline models of a device's own form ---- */

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    (void)fclose(file);
}

/* A compilation from these bytes, in memory or in a file, on the device that was registered last. */
static OH_NNCompilation *from_bytes(const void *bytes, size_t size, bool file)
{
    const char *path = "build/test_ohnn.vendor";
    const size_t *ids = NULL;
    uint32_t count = 0;
    OH_NNCompilation *c;
    if (file)
        write_file(path, bytes, size);
    c = file ? OH_NNCompilation_ConstructWithOfflineModelFile(path)
             : OH_NNCompilation_ConstructWithOfflineModelBuffer(bytes, size);
    if (c == NULL)
        return NULL;
    is(OH_NNDevice_GetAllDevicesID(&ids, &count), OK);
    is(OH_NNCompilation_SetDevice(c, ids[count - 1]), OK);
    return c;
}

/* A description has the device's properties of a tensor; the program gave it no name. */
static void described(NN_TensorDesc *desc, const char *name, int32_t rows)
{
    const char *own = NULL;
    int32_t *shape = NULL;
    size_t rank = 0;
    OH_NN_DataType type = OH_NN_UNKNOWN;
    OH_NN_Format format = OH_NN_FORMAT_ND;
    assert_non_null(desc);
    is(OH_NNTensorDesc_GetName(desc, &own), OK);
    assert_string_equal(own, name);
    is(OH_NNTensorDesc_GetDataType(desc, &type), OK);
    is(type, OH_NN_FLOAT32);
    is(OH_NNTensorDesc_GetFormat(desc, &format), OK);
    is(format, OH_NN_FORMAT_NONE);
    is(OH_NNTensorDesc_GetShape(desc, &shape, &rank), OK);
    assert_true(rank == 2 && shape[0] == rows && shape[1] == 3);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
}

/* |x|, which the fake device knows by its own text. */
static void foreign(void **state)
{
    static const float x[6] = {1, -2, 3, -4, 5, -6}, wanted[6] = {1, 2, 3, 4, 5, 6};
    const int32_t dims[2] = {2, 3};
    const OH_NN_Tensor tensor = {OH_NN_FLOAT32, 2, dims, NULL, OH_NN_TENSOR};
    nnrt_fake *npu = registered("fake:name=npu,cache=yes");
    NN_Tensor *in[1] = {tensor_of(OH_NN_FLOAT32, dims, 2, x, 24)};
    NN_Tensor *out[1] = {tensor_of(OH_NN_FLOAT32, dims, 2, NULL, 24)};
    OH_NNCompilation *c;
    OH_NNExecutor *e;
    nnrt_fake_record r;
    float y[6];
    size_t n = 0, *least = NULL, *most = NULL;
    uint8_t byte;
    (void)state;
    is(mkdir(KEPT, 0777), 0);
    for (int file = 0; file < 2; file++) {
        c = from_bytes("ABS 2,3", 7, file);
        is(OH_NNCompilation_AddExtensionConfig(c, "a", "b", 1), OK);
        is(OH_NNCompilation_SetCache(c, KEPT, 1), OK); /* not used */
        is(OH_NNCompilation_Build(c), OK);
        assert_false(there(KEPT_INFO));
        is(OH_NNCompilation_ExportCacheToBuffer(c, &byte, 1, &n), OH_NN_UNSUPPORTED);
        r = nnrt_fake_get_record(npu);
        assert_int_equal(r.calls[NNRT_FAKE_PrepareOfflineModel], file + 1);
        assert_int_equal(r.calls[NNRT_FAKE_AllocateBuffer], file + 1); /* it lay in the device's memory */
        assert_int_equal(r.blocks, 0);
        assert_int_equal(r.extensions, 1);
        assert_int_equal(r.calls[NNRT_FAKE_PrepareModel] + r.calls[NNRT_FAKE_GetSupportedNodes], 0);
        e = OH_NNExecutor_Construct(c);
        OH_NNCompilation_Destroy(&c);
        assert_non_null(e);
        is(OH_NNExecutor_GetInputCount(e, &n), OK);
        assert_int_equal(n, 1);
        is(OH_NNExecutor_GetOutputCount(e, &n), OK);
        assert_int_equal(n, 1);
        described(OH_NNExecutor_CreateInputTensorDesc(e, 0), "Tensor: 0", 2);
        described(OH_NNExecutor_CreateOutputTensorDesc(e, 0), "Tensor: 1", 2);
        least = most = NULL;
        is(OH_NNExecutor_GetInputDimRange(e, 0, &least, &most, &n), OK);
        assert_true(n == 2 && least[0] == 2 && most[0] == 2 && least[1] == 3 && most[1] == 3);
        memset(OH_NNTensor_GetDataBuffer(out[0]), 0, 24);
        is(OH_NNExecutor_RunSync(e, in, 1, out, 1), OK);
        assert_memory_equal(OH_NNTensor_GetDataBuffer(out[0]), wanted, 24);
        memset(y, 0, sizeof(y));
        is(OH_NNExecutor_SetInput(e, 0, &tensor, x, 24), OK);
        is(OH_NNExecutor_SetOutput(e, 0, y, 24), OK);
        is(OH_NNExecutor_Run(e), OK);
        assert_memory_equal(y, wanted, 24);
        OH_NNExecutor_Destroy(&e);
    }
    is(rmdir(KEPT), 0);
    /* every request for memory fails in turn: nothing is left */
    for (int64_t k = 1; c == NULL; k++) {
        const int64_t before = heap_live;
        bool reached;
        heap_fail_at = heap_calls + k;
        if ((c = from_bytes("ABS 2,3", 7, k % 2)) != NULL && OH_NNCompilation_Build(c) != OK)
            OH_NNCompilation_Destroy(&c);
        reached = heap_calls >= heap_fail_at;
        heap_fail_at = 0;
        assert_true(reached || c != NULL);
        if (reached)
            OH_NNCompilation_Destroy(&c);
        if (c == NULL)
            assert_int_equal(heap_live, before);
    }
    OH_NNCompilation_Destroy(&c);
    unregistered(npu);
    is(OH_NNTensor_Destroy(&in[0]), OK);
    is(OH_NNTensor_Destroy(&out[0]), OK);
}

/* Data that are no such model, and devices that cannot describe theirs. */
static void foreign_refused(void **state)
{
    static const struct {
        const char *device, *text;
    } cases[] = {{"fake:name=npu", "ABS 2;3"},
                 {"fake:name=npu", ""},
                 {"fake:name=npu,without=PrepareOfflineModel", "ABS 2,3"},
                 {"fake:name=npu,fail=PrepareOfflineModel", "ABS 2,3"},
                 {"fake:name=npu,garbage=PrepareOfflineModel", "ABS 2,3"},
                 {"fake:name=npu,fail=AllocateBuffer", "ABS 2,3"},
                 {"fake:name=npu,without=GetIO", "ABS 2,3"},
                 {"fake:name=npu,fail=GetIO", "ABS 2,3"},
                 {"fake:name=npu,fail=GetIO:2", "ABS 2,3"},
                 {"fake:name=npu,fail=GetIO:5", "ABS 2,3"},
                 {"fake:name=npu,garbage=GetIO", "ABS 2,3"}};
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        nnrt_fake *npu = registered(cases[i].device);
        OH_NNCompilation *c = from_bytes(cases[i].text, strlen(cases[i].text), true);
        if (OH_NNCompilation_Build(c) != OH_NN_FAILED)
            fail_msg("%s, '%s'", cases[i].device, cases[i].text);
        assert_null(OH_NNExecutor_Construct(c));
        OH_NNCompilation_Destroy(&c);
        unregistered(npu);
    }
    (void)remove("build/test_ohnn.vendor");
}

/* A driver that takes nothing but offline models, of its own form: "2x" doubles 1 to 4 rows of three. */
static bool endless; /* it has an input of any index */

static NNRT_ReturnCode twice_name(void *self, const char **name)
{
    (void)self;
    *name = "twice";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode twice_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 2;
    *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode twice_range(NNRT_PreparedModel *self, uint32_t index, nnrt_dims *least, nnrt_dims *most)
{
    const nnrt_dims low = {2, {1, 3}}, high = {2, {4, 3}};
    (void)self, (void)index;
    *least = low;
    *most = high;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode twice_io(NNRT_PreparedModel *self, bool output, uint32_t index, NNRT_DataType *type,
                                nnrt_dims *shape)
{
    if (index > 0 && (output || !endless))
        return NNRT_INVALID_PARAMETER;
    *type = NNRT_DATA_TYPE_FLOAT32;
    return twice_range(self, index, shape, shape);
}

static NNRT_ReturnCode twice_run(NNRT_PreparedModel *self, const NNRT_IOTensor *in, uint32_t nIn,
                                 const NNRT_IOTensor *out, uint32_t nOut, nnrt_dims *outputDims)
{
    const float *x = (const float *)in->data.addr;
    float *y = (float *)out->data.addr;
    (void)self;
    if (nIn != 1 || nOut != 1 || x == NULL || y == NULL || out->data.dataSize < in->data.dataSize)
        return NNRT_INVALID_BUFFER_SIZE;
    for (uint32_t i = 0; i < in->data.dataSize / sizeof(*x); i++)
        y[i] = 2 * x[i];
    outputDims->rank = 2;
    outputDims->dims[0] = in->dimensions.data[0];
    outputDims->dims[1] = in->dimensions.data[1];
    return NNRT_SUCCESS;
}

static NNRT_PreparedModelVtbl twiceModel;
static NNRT_PreparedModel twicePrepared = {&twiceModel};

static NNRT_ReturnCode twice_prepare(void *self, const NNRT_SharedBuffer *models, uint32_t count,
                                     const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    void *at = NULL;
    bool good;
    (void)self, (void)config;
    if (count != 1 || nnrt_buffer_map(models, false, &at, NULL) != NNRT_SUCCESS)
        return NNRT_INVALID_BUFFER;
    good = models->dataSize == 2 && memcmp((const char *)at + models->offset, "2x", 2) == 0;
    nnrt_buffer_unmap(models, at);
    *prepared = good ? &twicePrepared : NULL;
    return good ? NNRT_SUCCESS : NNRT_INVALID_MODEL;
}

static void foreign_open(void **state)
{
    static const float x[6] = {1, -2, 3, -4, 5, -6}, wanted[6] = {2, -4, 6, -8, 10, -12};
    const int32_t dims[2] = {2, 3}, five[2] = {5, 3};
    NNRT_DeviceVtbl table;
    NN_Tensor *in[1] = {tensor_of(OH_NN_FLOAT32, dims, 2, NULL, 60)};
    NN_Tensor *out[1] = {tensor_of(OH_NN_FLOAT32, dims, 2, NULL, 48)};
    OH_NNCompilation *c;
    OH_NNExecutor *e;
    size_t n, *least = NULL, *most = NULL;
    (void)state;
    memset(&table, 0, sizeof(table));
    memset(&twiceModel, 0, sizeof(twiceModel));
    table.structSize = (uint32_t)sizeof(table);
    table.version = twiceModel.version = NNRT_HDI(2, 0);
    table.GetDeviceName = table.GetVendorName = twice_name;
    table.GetVersion = twice_version;
    table.PrepareOfflineModel = twice_prepare;
    twiceModel.structSize = (uint32_t)sizeof(twiceModel);
    twiceModel.Run = twice_run;
    twiceModel.GetIO = twice_io;
    twiceModel.GetInputDimRanges = twiceModel.GetOutputDimRanges = twice_range;
    is(nnrt_device_register(&table, NULL, NULL), NNRT_SUCCESS);
    memcpy(OH_NNTensor_GetDataBuffer(in[0]), x, sizeof(x));
    c = from_bytes("2x", 2, false);
    is(OH_NNCompilation_Build(c), OK);
    e = OH_NNExecutor_Construct(c);
    OH_NNCompilation_Destroy(&c);
    described(OH_NNExecutor_CreateInputTensorDesc(e, 0), "Tensor: 0", -1);
    described(OH_NNExecutor_CreateOutputTensorDesc(e, 0), "Tensor: 1", -1);
    is(OH_NNExecutor_GetInputDimRange(e, 0, &least, &most, &n), OK);
    assert_true(n == 2 && least[0] == 1 && most[0] == 4 && least[1] == 3 && most[1] == 3);
    is(OH_NNExecutor_RunSync(e, in, 1, out, 1), OK);
    assert_memory_equal(OH_NNTensor_GetDataBuffer(out[0]), wanted, 24);
    described(OH_NNExecutor_CreateOutputTensorDesc(e, 0), "Tensor: 1", 2); /* that of the run */
    is(OH_NNTensorDesc_SetShape(OH_NNTensor_GetTensorDesc(in[0]), five, 2), OK);
    is(OH_NNExecutor_RunSync(e, in, 1, out, 1), IP);
    OH_NNExecutor_Destroy(&e);
    endless = true; /* more inputs than there may be */
    c = from_bytes("2x", 2, false);
    is(OH_NNCompilation_Build(c), OH_NN_FAILED);
    OH_NNCompilation_Destroy(&c);
    endless = false;
    is(nnrt_device_unregister("twice"), NNRT_SUCCESS);
    is(OH_NNTensor_Destroy(&in[0]), OK);
    is(OH_NNTensor_Destroy(&out[0]), OK);
}

static void available(void **state)
{
    OH_NNModel *model = NULL, *open = OH_NNModel_Construct();
    const bool *supported = NULL, *again = NULL;
    uint32_t count = 0;
    (void)state;
    is(add_model(&model, 2), OK);
    is(OH_NNModel_GetAvailableOperations(NULL, 0, &supported, &count), IP);
    is(OH_NNModel_GetAvailableOperations(model, 0, NULL, &count), IP);
    is(OH_NNModel_GetAvailableOperations(model, 0, &supported, NULL), IP);
    is(OH_NNModel_GetAvailableOperations(open, 12345, &supported, &count), OF);
    is(OH_NNModel_GetAvailableOperations(model, 12345, &supported, &count), OH_NN_FAILED);
    is(OH_NNModel_GetAvailableOperations(model, 0, &supported, &count), OK);
    assert_int_equal(count, 1);
    assert_true(supported[0]);
    is(OH_NNModel_GetAvailableOperations(model, 0, &supported, &count), IP);
    is(OH_NNModel_GetAvailableOperations(model, 0, &again, &count), OK);
    OH_NNModel_Destroy(&model);
    OH_NNModel_Destroy(&open);
}

/* ---- executors ---- */

static void executors(void **state)
{
    OH_NNExecutor *e = add_executor(2), *none = NULL;
    NN_TensorDesc *desc;
    int32_t *shape = NULL;
    uint32_t length = 0;
    size_t count = 0, *least = NULL, *most = NULL, axes = 0, other = 0, *foreign = &other;
    OH_NN_Format format;
    const char *name = NULL;
    int dummy = 0;
    NN_OnRunDone done = NULL;
    (void)state;
    (void)done;
    assert_null(OH_NNExecutor_Construct(NULL));
    is(OH_NNExecutor_GetInputCount(NULL, &count), IP);
    is(OH_NNExecutor_GetInputCount(e, NULL), IP);
    is(OH_NNExecutor_GetInputCount(e, &count), OK);
    assert_int_equal(count, 2);
    is(OH_NNExecutor_GetOutputCount(NULL, &count), IP);
    is(OH_NNExecutor_GetOutputCount(e, NULL), IP);
    is(OH_NNExecutor_GetOutputCount(e, &count), OK);
    assert_int_equal(count, 1);
    is(OH_NNExecutor_GetOutputShape(NULL, 0, &shape, &length), IP);
    is(OH_NNExecutor_GetOutputShape(e, 0, NULL, &length), IP);
    is(OH_NNExecutor_GetOutputShape(e, 0, &shape, NULL), IP);
    is(OH_NNExecutor_GetOutputShape(e, 1, &shape, &length), IP);
    is(OH_NNExecutor_GetOutputShape(e, 0, &shape, &length), OK);
    assert_int_equal(length, 2);
    assert_true(shape[0] == 2 && shape[1] == 3);
    is(OH_NNExecutor_GetOutputShape(e, 0, &shape, &length), IP);
    assert_null(OH_NNExecutor_CreateInputTensorDesc(NULL, 0));
    assert_null(OH_NNExecutor_CreateInputTensorDesc(e, 2));
    assert_null(OH_NNExecutor_CreateOutputTensorDesc(NULL, 0));
    assert_null(OH_NNExecutor_CreateOutputTensorDesc(e, 1));
    desc = OH_NNExecutor_CreateInputTensorDesc(e, 1);
    is(OH_NNTensorDesc_GetName(desc, &name), OK);
    assert_string_equal(name, "Tensor: 1"); /* none was given */
    is(OH_NNTensorDesc_GetFormat(desc, &format), OK);
    assert_int_equal(format, OH_NN_FORMAT_NONE);
    is(OH_NNTensorDesc_GetByteSize(desc, &count), OK);
    assert_int_equal(count, 24);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    desc = OH_NNExecutor_CreateOutputTensorDesc(e, 0);
    is(OH_NNTensorDesc_GetByteSize(desc, &count), OK);
    assert_int_equal(count, 24);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    is(OH_NNExecutor_GetInputDimRange(NULL, 0, &least, &most, &axes), IP);
    is(OH_NNExecutor_GetInputDimRange(e, 0, NULL, &most, &axes), IP);
    is(OH_NNExecutor_GetInputDimRange(e, 0, &least, NULL, &axes), IP);
    is(OH_NNExecutor_GetInputDimRange(e, 0, &least, &most, NULL), IP);
    is(OH_NNExecutor_GetInputDimRange(e, 2, &least, &most, &axes), IP);
    is(OH_NNExecutor_GetInputDimRange(e, 0, &foreign, &most, &axes), IP); /* an array that no call returned */
    is(OH_NNExecutor_GetInputDimRange(e, 0, &least, &most, &axes), OK);
    assert_int_equal(axes, 2);
    assert_true(least[0] == 2 && most[0] == 2 && least[1] == 3 && most[1] == 3);
    is(OH_NNExecutor_GetInputDimRange(e, 1, &least, &most, &axes), OK); /* the same variables again */
    OH_NNExecutor_Destroy(NULL);
    OH_NNExecutor_Destroy(&none);
    OH_NNExecutor_Destroy(&e);
    assert_null(e);
    (void)dummy;
}

static void on_done(void *userData, OH_NN_ReturnCode code, void *out[], int32_t count)
{
    (void)userData, (void)code, (void)out, (void)count;
    fail();
}

static void on_died(void *userData)
{
    (void)userData;
    fail();
}

static void pause_briefly(void)
{
    const struct timespec millisecond = {0, 1000000};
    (void)nanosleep(&millisecond, NULL);
}

/* The arguments of asynchronous runs, on the first device. */
static void asynchronous(void **state)
{
    OH_NNExecutor *e = add_executor(2);
    NN_Tensor *in[2] = {NULL, NULL}, *out[1] = {NULL};
    int user = 0;
    (void)state;
    is(OH_NNExecutor_SetOnRunDone(NULL, on_done), IP);
    is(OH_NNExecutor_SetOnRunDone(e, NULL), IP);
    is(OH_NNExecutor_SetOnServiceDied(NULL, on_died), IP);
    is(OH_NNExecutor_SetOnServiceDied(e, NULL), IP);
    is(OH_NNExecutor_SetOnServiceDied(e, on_died), OK);
    is(OH_NNExecutor_RunAsync(NULL, in, 2, out, 1, 10, &user), IP);
    is(OH_NNExecutor_RunAsync(e, NULL, 2, out, 1, 10, &user), IP);
    is(OH_NNExecutor_RunAsync(e, in, 1, out, 1, 10, &user), OF); /* the model's inputs are checked later */
    is(OH_NNExecutor_RunAsync(e, in, 2, NULL, 1, 10, &user), IP);
    is(OH_NNExecutor_RunAsync(e, in, 2, out, 0, 10, &user), IP);
    is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, 10, NULL), IP);
    is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, 10, &user), OF); /* no callback is set */
    is(OH_NNExecutor_SetOnRunDone(e, on_done), OK);
    is(OH_NNExecutor_RunAsync(e, in, 1, out, 1, 10, &user), IP);
    is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, 10, &user), OH_NN_NULL_PTR);
    OH_NNExecutor_Destroy(&e);
}

/* A device without RunIn has no asynchronous runs. */
static void never_asynchronous(void **state)
{
    nnrt_fake *fake = registered("fake:name=npu0,without=RunIn");
    OH_NNExecutor *e = add_executor_on(2, "npu0");
    (void)state;
    is(OH_NNExecutor_SetOnRunDone(e, on_done), OF);
    is(OH_NNExecutor_SetOnServiceDied(e, on_died), OF);
    OH_NNExecutor_Destroy(&e);
    unregistered(fake);
}

/* Arguments of callbacks. */
typedef struct told {
    pthread_mutex_t mutex;
    pthread_cond_t change;
    uint32_t done, died;
    OH_NN_ReturnCode code;
    void **out;
    int32_t count;
} told;

static void tell_done(void *userData, OH_NN_ReturnCode code, void *out[], int32_t count)
{
    told *t = (told *)userData;
    pthread_mutex_lock(&t->mutex);
    t->done++;
    t->code = code;
    t->out = out;
    t->count = count;
    pthread_cond_broadcast(&t->change);
    pthread_mutex_unlock(&t->mutex);
}

static void tell_died(void *userData)
{
    told *t = (told *)userData;
    pthread_mutex_lock(&t->mutex);
    t->died++;
    pthread_cond_broadcast(&t->change);
    pthread_mutex_unlock(&t->mutex);
}

/* Waits for so many callbacks since the last wait: all there were. */
static void wait_told(told *t, uint32_t done, uint32_t died)
{
    pthread_mutex_lock(&t->mutex);
    while (t->done + t->died < done + died)
        pthread_cond_wait(&t->change, &t->mutex);
    pthread_mutex_unlock(&t->mutex);
    assert_int_equal(t->done, done);
    assert_int_equal(t->died, died);
    t->done = t->died = 0;
}

/* Every built-in device has asynchronous runs: the abilities of a device decide, and not its vendor. */
static void builtin_later(void **state)
{
    static const char *const names[] = {"auto_nnrt", "reference_nnrt", "cpu_nnrt"};
    static const float x[6] = {1, -2, 3, -4, 5, -6}, y[6] = {1, 1, 1, -1, -1, -1};
    const float wanted[6] = {2, 0, 4, 0, 4, 0}; /* relu(x + y) */
    const int32_t dims[2] = {2, 3};
    (void)state;
    is(nnrt_cpu_register(NULL, NULL), NNRT_SUCCESS);
    for (uint32_t i = 0; i < COUNT(names); i++) {
        NN_Tensor *in[2] = {tensor_of(OH_NN_FLOAT32, dims, 2, x, 24), tensor_of(OH_NN_FLOAT32, dims, 2, y, 24)};
        NN_Tensor *out[1] = {tensor_of(OH_NN_FLOAT32, dims, 2, NULL, 24)};
        OH_NNExecutor *e = add_executor_on(2, names[i]);
        told t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, OK, NULL, 0};
        is(OH_NNExecutor_SetOnRunDone(e, tell_done), OK);
        is(OH_NNExecutor_SetOnServiceDied(e, tell_died), OK);
        is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, 0, &t), OK);
        wait_told(&t, 1, 0);
        is(t.code, OK);
        assert_memory_equal(OH_NNTensor_GetDataBuffer(out[0]), wanted, sizeof(wanted));
        OH_NNExecutor_Destroy(&e);
        is(OH_NNTensor_Destroy(&in[0]), OK);
        is(OH_NNTensor_Destroy(&in[1]), OK);
        is(OH_NNTensor_Destroy(&out[0]), OK);
    }
    is(nnrt_device_unregister("cpu"), NNRT_SUCCESS);
}

/* A device that has asynchronous runs: each that begins ends with one callback. */
static void later(void **state)
{
    static const float x[6] = {1, -2, 3, -4, 5, -6}, y[6] = {1, 1, 1, -1, -1, -1};
    const float wanted[6] = {2, 0, 4, 0, 4, 0}, untouched[6] = {9, 9, 9, 9, 9, 9};
    const int32_t dims[2] = {2, 3}, three[2] = {3, 3};
    NN_Tensor *in[2] = {tensor_of(OH_NN_FLOAT32, dims, 2, x, 24), tensor_of(OH_NN_FLOAT32, dims, 2, y, 24)};
    NN_Tensor *out[1] = {tensor_of(OH_NN_FLOAT32, dims, 2, untouched, 24)}, *none[2] = {NULL, NULL};
    NN_TensorDesc *desc = OH_NNTensor_GetTensorDesc(in[0]);
    nnrt_fake *fake = registered("fake:name=npu0,vendor=acme,fail=RunIn:3,code=SERVICE_ERROR");
    OH_NNExecutor *e = add_executor_on(2, "npu0");
    told t = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, OK, NULL, 0};
    (void)state;
    is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, 10, &t), OF); /* nothing would be called */
    is(OH_NNExecutor_SetOnServiceDied(e, NULL), IP);
    is(OH_NNExecutor_SetOnRunDone(e, tell_done), OK);
    is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, -1, &t), IP);
    is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, 10, NULL), IP);
    is(OH_NNExecutor_RunAsync(e, none, 2, out, 1, 10, &t), OH_NN_NULL_PTR);
    is(OH_NNExecutor_RunAsync(e, in, 2, none, 1, 10, &t), IP);
    is(OH_NNTensorDesc_SetShape(desc, three, 2), OK);
    is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, 10, &t), IP);
    is(OH_NNTensorDesc_SetShape(desc, dims, 2), OK);
    is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, 86400000, &t), OK);
    wait_told(&t, 1, 0);
    is(t.code, OK);
    assert_true(t.out == (void **)out);
    assert_int_equal(t.count, 1);
    assert_memory_equal(OH_NNTensor_GetDataBuffer(out[0]), wanted, 24);

    is(OH_NNExecutor_SetOnServiceDied(e, tell_died), OK);
    is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, 0, &t), OK);
    wait_told(&t, 1, 0);
    is(t.code, OK);
    is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, 0, &t), OK); /* the driver has died */
    wait_told(&t, 0, 1);
    OH_NNExecutor_Destroy(&e);
    unregistered(fake);

    fake = registered("fake:name=npu0,vendor=acme,fail=RunIn,code=SERVICE_ERROR");
    e = add_executor_on(2, "npu0");
    is(OH_NNExecutor_SetOnRunDone(e, tell_done), OK);
    is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, 0, &t), OK); /* died, without a callback for it */
    wait_told(&t, 1, 0);
    is(t.code, OH_NN_UNAVAILABLE_DEVICE);
    OH_NNExecutor_Destroy(&e);
    unregistered(fake);

    fake = registered("fake:name=npu0,vendor=acme,delay=RunIn:30");
    e = add_executor_on(2, "npu0");
    is(OH_NNExecutor_SetOnRunDone(e, tell_done), OK);
    is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, 1, &t), OK);
    wait_told(&t, 1, 0);
    is(t.code, OH_NN_TIMEOUT);
    assert_null(t.out);
    assert_int_equal(t.count, 0);
    for (uint32_t i = 0; i < 4; i++)
        is(OH_NNExecutor_RunAsync(e, in, 2, out, 1, 0, &t), OK);
    OH_NNExecutor_Destroy(&e); /* cancels waiting runs, waits for running ones */
    wait_told(&t, 4, 0);
    unregistered(fake);

    fake = registered("fake:name=npu0,vendor=acme,without=RunIn");
    e = add_executor_on(2, "npu0");
    is(OH_NNExecutor_SetOnRunDone(e, on_done), OF);
    is(OH_NNExecutor_SetOnServiceDied(e, on_died), OF);
    OH_NNExecutor_Destroy(&e);
    unregistered(fake);
    is(OH_NNTensor_Destroy(&in[0]), OK);
    is(OH_NNTensor_Destroy(&in[1]), OK);
    is(OH_NNTensor_Destroy(&out[0]), OK);
}

/* Lines of the log. */
static char heard[4096];

static void hear(void *user, nnrt_log_level level, const char *text)
{
    const size_t length = strlen(heard);
    (void)user;
    if (level == NNRT_LOG_WARNING)
        snprintf(heard + length, sizeof(heard) - length, "%s\n", text);
}

/* Why Build refuses goes to the log: an option that the device does not have, and a node that it does not take. */
static void logged(void **state)
{
    static const char *const texts[4] = {"device 'npu0_acme_v1_0' does not support OH_NNCompilation_SetCache",
                                         "device 'npu0_acme_v1_0' does not support OH_NNCompilation_EnableFloat16",
                                         "device 'npu0_acme_v1_0' does not support OH_NNCompilation_SetPerformanceMode",
                                         "device 'npu0_acme_v1_0' does not support OH_NNCompilation_SetPriority"};
    nnrt_fake *fake = registered("fake:name=npu0,vendor=acme");
    OH_NNModel *model = NULL;
    OH_NNCompilation *c;
    nnrt_log log;
    (void)state;
    memset(&log, 0, sizeof(log));
    log.line = hear;
    log.most = NNRT_LOG_DEBUG;
    nnrt_ohnn_log(&log);
    is(add_model(&model, 2), OK);
    for (int k = 0; k < 4; k++) {
        heard[0] = '\0';
        c = OH_NNCompilation_Construct(model);
        is(OH_NNCompilation_SetDevice(c, id_of("npu0_acme_v1_0")), OK);
        is(k == 0   ? OH_NNCompilation_SetCache(c, "build", 1)
           : k == 1 ? OH_NNCompilation_EnableFloat16(c, true)
           : k == 2 ? OH_NNCompilation_SetPerformanceMode(c, OH_NN_PERFORMANCE_HIGH)
                    : OH_NNCompilation_SetPriority(c, OH_NN_PRIORITY_HIGH),
           OK);
        is(OH_NNCompilation_Build(c), OF);
        if (strstr(heard, texts[k]) == NULL)
            fail_msg("'%s' does not say '%s'", heard, texts[k]);
        OH_NNCompilation_Destroy(&c);
    }
    unregistered(fake);
    fake = registered("fake:name=npu0,vendor=acme,not=ADD_FUSION");
    heard[0] = '\0';
    c = OH_NNCompilation_Construct(model);
    is(OH_NNCompilation_SetDevice(c, id_of("npu0_acme_v1_0")), OK);
    is(OH_NNCompilation_Build(c), OH_NN_FAILED);
    if (strstr(heard, "device 'npu0_acme_v1_0' does not support node 0: ") == NULL || strstr(heard, "ADD_FUSION") == NULL)
        fail_msg("'%s' names neither node nor operator", heard);
    OH_NNCompilation_Destroy(&c);
    unregistered(fake);
    OH_NNModel_Destroy(&model);
    /* a model that the device prepares for the shapes of a run is not refused */
    is(add_model(&model, -1), OK);
    for (int k = 0; k < 2; k++) {
        fake = registered(k == 0 ? "fake:name=npu0,vendor=acme" : "fake:name=npu0,vendor=acme,fail=PrepareModel");
        heard[0] = '\0';
        c = OH_NNCompilation_Construct(model);
        is(OH_NNCompilation_SetDevice(c, id_of("npu0_acme_v1_0")), OK);
        is(OH_NNCompilation_Build(c), k == 0 ? OK : OH_NN_FAILED);
        assert_int_equal(k, strstr(heard, "device 'npu0_acme_v1_0' refuses the model: ") != NULL);
        OH_NNCompilation_Destroy(&c);
        unregistered(fake);
    }
    nnrt_ohnn_log(NULL);
    OH_NNModel_Destroy(&model);
}

/* Build reports an option that the device refuses, also if the model is prepared for the shapes of a run only. */
static void options_refused(void **state)
{
    static const char *const devices[] = {"auto", "cpu"};
    static const struct {
        const char *name, *value;
        bool good;
    } options[] = {{"nnrt.cpu.memory", "smallest", true}, {"nnrt.cpu.memory", "smalleXt", false},
                   {"nnrt.cpu.memoryy", "smallest", false}, {"acme.speed", "any", true}};
    const size_t *ids = NULL;
    uint32_t count = 0;
    (void)state;
    is(nnrt_cpu_register(NULL, NULL), NNRT_SUCCESS);
    is(OH_NNDevice_GetAllDevicesID(&ids, &count), OK);
    for (uint32_t d = 0; d < COUNT(devices); d++)
        for (uint32_t i = 0; i < COUNT(options); i++)
            for (int32_t rows = -1; rows <= 2; rows += 3) {
                OH_NNModel *model = NULL;
                OH_NNCompilation *c;
                uint32_t at = 0;
                is(add_model(&model, rows), OK);
                c = OH_NNCompilation_Construct(model);
                for (const char *name = NULL; at < count; at++, name = NULL) {
                    is(OH_NNDevice_GetName(ids[at], &name), OK);
                    if (strncmp(name, devices[d], strlen(devices[d])) == 0)
                        break;
                }
                assert_true(at < count);
                is(OH_NNCompilation_SetDevice(c, ids[at]), OK);
                is(OH_NNCompilation_AddExtensionConfig(c, options[i].name, options[i].value, strlen(options[i].value)), OK);
                is(OH_NNCompilation_Build(c), options[i].good ? OK : OH_NN_FAILED);
                OH_NNCompilation_Destroy(&c);
                OH_NNModel_Destroy(&model);
            }
    is(nnrt_device_unregister("cpu"), NNRT_SUCCESS);
}

/* The deprecated calls allocate memory of the device, zeroed, and the device gets its descriptor. */
static void deprecated_memory(void **state)
{
    static const int32_t dims[2] = {2, 3};
    static const float x[6] = {1, 2, 3, 4, 5, 6}, none[6] = {0};
    nnrt_fake *fake = registered("fake:name=npu0,vendor=acme");
    OH_NNExecutor *e = add_executor_on(2, "npu0");
    const OH_NN_Tensor t = {OH_NN_FLOAT32, 2, dims, NULL, OH_NN_TENSOR};
    OH_NN_Memory *in[2], *out;
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        assert_non_null(in[i] = OH_NNExecutor_AllocateInputMemory(e, i, 24));
        assert_memory_equal(in[i]->data, none, 24);
        memcpy(in[i]->data, x, 24);
        is(OH_NNExecutor_SetInputWithMemory(e, i, &t, in[i]), OK);
    }
    assert_non_null(out = OH_NNExecutor_AllocateOutputMemory(e, 0, 28));
    is(OH_NNExecutor_SetOutputWithMemory(e, 0, out), OK);
    assert_int_equal(nnrt_fake_get_record(fake).blocks, 3);
    is(OH_NNExecutor_Run(e), OK);
    for (uint32_t i = 0; i < 2; i++)
        assert_true(e->values[i].data.fd >= 0 && e->values[i].data.dataSize == 24);
    assert_true(e->values[2].data.fd >= 0 && e->values[2].data.dataSize == 28);
    for (uint32_t i = 0; i < 6; i++)
        assert_true(((const float *)out->data)[i] == 2 * x[i]);
    OH_NNExecutor_DestroyInputMemory(e, 0, &in[0]);
    assert_int_equal(nnrt_fake_get_record(fake).blocks, 2);
    OH_NNExecutor_Destroy(&e); /* with the others */
    assert_int_equal(nnrt_fake_get_record(fake).blocks, 0);
    unregistered(fake);
}

/* Which runs have ended, in that order. */
static pthread_mutex_t endings = PTHREAD_MUTEX_INITIALIZER;
static uint32_t ended[8], nEnded;

static void tell_end(void *userData, OH_NN_ReturnCode code, void *out[], int32_t count)
{
    (void)code, (void)out, (void)count;
    pthread_mutex_lock(&endings);
    ended[nEnded++] = *(const uint32_t *)userData;
    pthread_mutex_unlock(&endings);
}

static uint32_t endings_so_far(void)
{
    uint32_t n;
    pthread_mutex_lock(&endings);
    n = nEnded;
    pthread_mutex_unlock(&endings);
    return n;
}

/* All executors share four threads: of runs that wait the one of the highest priority begins first. Three threads are kept
   until the end, and one for a while, in which the others queue. */
static void priorities(void **state)
{
    static const float x[6] = {1, -2, 3, -4, 5, -6};
    static const OH_NN_Priority ranks[7] = {OH_NN_PRIORITY_NONE, OH_NN_PRIORITY_NONE, OH_NN_PRIORITY_NONE,
                                            OH_NN_PRIORITY_NONE, OH_NN_PRIORITY_LOW,  OH_NN_PRIORITY_NONE,
                                            OH_NN_PRIORITY_HIGH};
    const int32_t dims[2] = {2, 3};
    nnrt_fake *fakes[3] = {registered("fake:name=kept,vendor=acme,priorities=yes,hang=RunIn:0"),
                           registered("fake:name=slow,vendor=acme,priorities=yes,hang=RunIn:200"),
                           registered("fake:name=quick,vendor=acme,priorities=yes")};
    static const char *const names[3] = {"kept_acme_v1_0", "slow_acme_v1_0", "quick_acme_v1_0"};
    uint32_t numbers[7];
    OH_NNModel *model = NULL;
    OH_NNExecutor *e[7];
    NN_Tensor *in[7][2], *out[7][1];
    (void)state;
    nEnded = 0;
    is(add_model(&model, 2), OK);
    for (uint32_t i = 0; i < 7; i++) {
        OH_NNCompilation *c = OH_NNCompilation_Construct(model);
        numbers[i] = i;
        is(OH_NNCompilation_SetDevice(c, id_of(names[i < 3 ? 0 : i == 3 ? 1 : 2])), OK);
        is(OH_NNCompilation_SetPriority(c, ranks[i]), OK);
        is(OH_NNCompilation_Build(c), OK);
        e[i] = OH_NNExecutor_Construct(c);
        assert_non_null(e[i]);
        is(OH_NNExecutor_SetOnRunDone(e[i], tell_end), OK);
        OH_NNCompilation_Destroy(&c);
        in[i][0] = tensor_of(OH_NN_FLOAT32, dims, 2, x, 24);
        in[i][1] = tensor_of(OH_NN_FLOAT32, dims, 2, x, 24);
        out[i][0] = tensor_of(OH_NN_FLOAT32, dims, 2, NULL, 24);
        is(OH_NNExecutor_RunAsync(e[i], in[i], 2, out[i], 1, 0, &numbers[i]), OK);
        while (i == 3 && nnrt_fake_get_record(fakes[0]).calls[NNRT_FAKE_RunIn] < 3)
            pause_briefly();
        while (i == 3 && nnrt_fake_get_record(fakes[1]).calls[NNRT_FAKE_RunIn] < 1)
            pause_briefly();
    }
    while (endings_so_far() < 4)
        pause_briefly();
    nnrt_fake_wake(fakes[0]);
    while (endings_so_far() < 7)
        pause_briefly();
    assert_int_equal(ended[0], 3);
    assert_int_equal(ended[1], 6); /* high */
    assert_int_equal(ended[2], 5); /* none, which is medium */
    assert_int_equal(ended[3], 4); /* low */
    for (uint32_t i = 0; i < 7; i++) {
        OH_NNExecutor_Destroy(&e[i]);
        is(OH_NNTensor_Destroy(&in[i][0]), OK);
        is(OH_NNTensor_Destroy(&in[i][1]), OK);
        is(OH_NNTensor_Destroy(&out[i][0]), OK);
    }
    OH_NNModel_Destroy(&model);
    for (uint32_t i = 0; i < 3; i++)
        unregistered(fakes[i]);
}

static void runs(void **state)
{
    static const float x[6] = {1, -2, 3, -4, 5, -6}, y[6] = {1, 1, 1, -1, -1, -1};
    const float wanted[6] = {2, 0, 4, 0, 4, 0}, untouched[6] = {9, 9, 9, 9, 9, 9};
    const int32_t dims[2] = {2, 3}, flat[1] = {6}, three[2] = {3, 3}, small[2] = {1, 3};
    OH_NNExecutor *e = add_executor(2);
    NN_Tensor *in[2] = {tensor_of(OH_NN_FLOAT32, dims, 2, x, 24), tensor_of(OH_NN_FLOAT32, dims, 2, y, 24)};
    NN_Tensor *out[1] = {tensor_of(OH_NN_FLOAT32, dims, 2, untouched, 24)}, *kept;
    NN_TensorDesc *desc = OH_NNTensor_GetTensorDesc(in[0]);
    (void)state;
    is(OH_NNExecutor_RunSync(NULL, in, 2, out, 1), IP);
    is(OH_NNExecutor_RunSync(e, NULL, 2, out, 1), IP);
    is(OH_NNExecutor_RunSync(e, in, 0, out, 1), IP);
    is(OH_NNExecutor_RunSync(e, in, 201, out, 1), IP);
    is(OH_NNExecutor_RunSync(e, in, 2, NULL, 1), IP);
    is(OH_NNExecutor_RunSync(e, in, 2, out, 0), IP);
    is(OH_NNExecutor_RunSync(e, in, 1, out, 1), IP);
    is(OH_NNExecutor_RunSync(e, in, 2, out, 2), IP);
    kept = in[1];
    in[1] = NULL;
    is(OH_NNExecutor_RunSync(e, in, 2, out, 1), OH_NN_NULL_PTR);
    is(OH_NNTensorDesc_SetShape(desc, three, 2), OK);
    is(OH_NNExecutor_RunSync(e, in, 2, out, 1), IP); /* the first input's shape comes before the second one */
    in[1] = kept;
    is(OH_NNExecutor_RunSync(e, in, 2, out, 1), IP); /* outside the range */
    is(OH_NNTensorDesc_SetShape(desc, flat, 1), OK);
    is(OH_NNExecutor_RunSync(e, in, 2, out, 1), IP); /* another rank */
    is(OH_NNTensorDesc_SetShape(desc, dims, 2), OK);
    kept = out[0];
    out[0] = NULL;
    is(OH_NNExecutor_RunSync(e, in, 2, out, 1), IP);
    out[0] = kept;
    is(OH_NNTensorDesc_SetShape(OH_NNTensor_GetTensorDesc(out[0]), three, 2), OK);
    is(OH_NNExecutor_RunSync(e, in, 2, out, 1), OH_NN_FAILED); /* less memory than the description says */
    is(OH_NNTensorDesc_SetShape(OH_NNTensor_GetTensorDesc(out[0]), dims, 2), OK);
    is(OH_NNTensorDesc_SetDataType(desc, OH_NN_INT32), OK);
    is(OH_NNExecutor_RunSync(e, in, 2, out, 1), OH_NN_UNAVAILABLE_DEVICE); /* for the device to say */
    is(OH_NNTensorDesc_SetDataType(desc, OH_NN_FLOAT32), OK);
    assert_memory_equal(OH_NNTensor_GetDataBuffer(out[0]), untouched, 24);
    is(OH_NNExecutor_RunSync(e, in, 2, out, 1), OK);
    assert_memory_equal(OH_NNTensor_GetDataBuffer(out[0]), wanted, 24);
    assert_memory_equal(OH_NNTensor_GetDataBuffer(in[0]), x, 24);
    is(OH_NNTensor_Destroy(&out[0]), OK);
    out[0] = tensor_of(OH_NN_FLOAT32, small, 2, untouched, 12);
    is(OH_NNExecutor_RunSync(e, in, 2, out, 1), IP); /* too small, and nothing is written */
    assert_memory_equal(OH_NNTensor_GetDataBuffer(out[0]), untouched, 12);
    is(OH_NNTensor_Destroy(&out[0]), OK);
    out[0] = tensor_of(OH_NN_FLOAT32, small, 2, NULL, 24); /* larger than its description: that is set */
    is(OH_NNExecutor_RunSync(e, in, 2, out, 1), OK);
    assert_memory_equal(OH_NNTensor_GetDataBuffer(out[0]), wanted, 24);
    {
        int32_t *shape = NULL;
        size_t rank;
        is(OH_NNTensorDesc_GetShape(OH_NNTensor_GetTensorDesc(out[0]), &shape, &rank), OK);
        assert_true(rank == 2 && shape[0] == 2 && shape[1] == 3);
    }
    is(OH_NNTensor_Destroy(&out[0]), OK);
    is(OH_NNTensor_Destroy(&in[0]), OK);
    is(OH_NNTensor_Destroy(&in[1]), OK);
    OH_NNExecutor_Destroy(&e);
}

/* One executor, run by two threads at once: one run after the other, each with its own tensors. */
typedef struct runner {
    OH_NNExecutor *e;
    float add;
    uint32_t wrong, runs;
} runner;

static void *run_often(void *arg)
{
    runner *r = (runner *)arg;
    const int32_t dims[2] = {2, 3};
    const float y[6] = {r->add, r->add, r->add, r->add, r->add, r->add};
    NN_Tensor *in[2] = {tensor_of(OH_NN_FLOAT32, dims, 2, y, 24), tensor_of(OH_NN_FLOAT32, dims, 2, y, 24)};
    NN_Tensor *out[1] = {tensor_of(OH_NN_FLOAT32, dims, 2, y, 24)};
    for (uint32_t i = 0; i < 40; i++) {
        float *x = (float *)OH_NNTensor_GetDataBuffer(in[0]), *z = (float *)OH_NNTensor_GetDataBuffer(out[0]);
        for (uint32_t k = 0; k < 6; k++) {
            x[k] = (float)(10 * i + k);
            z[k] = -1;
        }
        r->wrong += OH_NNExecutor_RunSync(r->e, in, 2, out, 1) != OK;
        for (uint32_t k = 0; k < 6; k++)
            r->wrong += z[k] != (float)(10 * i + k) + r->add;
        r->runs++;
    }
    r->wrong += OH_NNTensor_Destroy(&in[0]) != OK || OH_NNTensor_Destroy(&in[1]) != OK;
    r->wrong += OH_NNTensor_Destroy(&out[0]) != OK;
    return NULL;
}

/* The time that a device takes lets the other thread come in between, were there nothing to stop it. The same with two
   executors of one compilation whose prepared model serves one thread at a time. */
static void serialised(void **state)
{
    static const char *const texts[2] = {"fake:name=npu0,vendor=acme,hang=RunIn:1",
                                         "fake:name=npu0,vendor=acme,without=RunIn,hang=Run:1"};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        nnrt_fake *fake = registered(texts[i]);
        OH_NNExecutor *e = add_executor_on(2, "npu0");
        runner r[2] = {{e, 1, 0, 0}, {e, 1000, 0, 0}};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, run_often, &r[1]), 0);
        (void)run_often(&r[0]);
        assert_int_equal(pthread_join(thread, NULL), 0);
        for (uint32_t k = 0; k < 2; k++) {
            assert_int_equal(r[k].runs, 40);
            assert_int_equal(r[k].wrong, 0);
        }
        OH_NNExecutor_Destroy(&e);
        unregistered(fake);
    }
}

/* Data at an address that its type may not have. */
static void misaligned(void **state)
{
    static const float x[6] = {1, -2, 3, -4, 5, -6};
    const float wanted[6] = {2, 0, 6, 0, 10, 0};
    const int32_t dims[2] = {2, 3};
    OH_NNExecutor *e = add_executor(2);
    NN_TensorDesc *desc = desc_of(OH_NN_FLOAT32, dims, 2);
    NN_Tensor *whole = OH_NNTensor_CreateWithSize(0, desc, 4096), *in[2], *out[1];
    int fd;
    (void)state;
    is(OH_NNTensor_GetFd(whole, &fd), OK);
    if (fd >= 0) {
        in[0] = in[1] = OH_NNTensor_CreateWithFd(0, desc, fd, 4096, 1);
        out[0] = OH_NNTensor_CreateWithFd(0, desc, fd, 4096, 103);
        memcpy(OH_NNTensor_GetDataBuffer(in[0]), x, 24);
        is(OH_NNExecutor_RunSync(e, in, 2, out, 1), OK);
        assert_memory_equal((uint8_t *)OH_NNTensor_GetDataBuffer(whole) + 103, wanted, 24);
        assert_memory_equal((uint8_t *)OH_NNTensor_GetDataBuffer(whole) + 1, x, 24);
        assert_int_equal(((uint8_t *)OH_NNTensor_GetDataBuffer(whole))[127], 0);
        is(OH_NNTensor_Destroy(&in[0]), OK);
        is(OH_NNTensor_Destroy(&out[0]), OK);
    }
    is(OH_NNTensor_Destroy(&whole), OK);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    OH_NNExecutor_Destroy(&e);
}

/* A tensor's memory is a block of its device, which is given back once. */
static void device_memory(void **state)
{
    const int32_t dims[2] = {2, 3};
    NN_TensorDesc *desc = desc_of(OH_NN_FLOAT32, dims, 2);
    nnrt_fake *npu = registered("fake:name=npu,fail=AllocateBuffer:2");
    const size_t *ids = NULL;
    uint32_t count;
    size_t id;
    NN_Tensor *a, *b;
    (void)state;
    is(OH_NNDevice_GetAllDevicesID(&ids, &count), OK);
    id = ids[count - 1];
    a = OH_NNTensor_Create(id, desc);
    assert_non_null(a);
    assert_int_equal(nnrt_fake_get_record(npu).blocks, 1);
    memset(OH_NNTensor_GetDataBuffer(a), 1, 24);
    assert_null(OH_NNTensor_CreateWithSize(id, desc, 100)); /* the device has none */
    b = OH_NNTensor_CreateWithSize(id, desc, 100);
    assert_non_null(b);
    assert_int_equal(nnrt_fake_get_record(npu).blocks, 2);
    is(OH_NNTensor_Destroy(&a), OK);
    assert_int_equal(nnrt_fake_get_record(npu).blocks, 1);
    memset(OH_NNTensor_GetDataBuffer(b), 1, 100);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_DEVICE_BUSY);
    is(OH_NNTensor_Destroy(&b), OK);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    unregistered(npu);
}

/* ---- the deprecated functions ---- */

static void deprecated(void **state)
{
    static const float x[7] = {1, -2, 3, -4, 5, -6, 99}, y[6] = {1, 1, 1, -1, -1, -1};
    const float wanted[6] = {2, 0, 4, 0, 4, 0};
    const int32_t dims[2] = {2, 3}, three[2] = {3, 3}, open[2] = {-1, 3};
    OH_NNExecutor *e = add_executor(2);
    OH_NN_Tensor t = {OH_NN_FLOAT32, 2, dims, NULL, OH_NN_TENSOR};
    OH_NN_Memory *in, *out, *small, *none = NULL, *same;
    float result[7] = {0, 0, 0, 0, 0, 0, 7};
    (void)state;
    is(OH_NNExecutor_Run(NULL), IP);
    is(OH_NNExecutor_Run(e), IP); /* nothing is set */
    is(OH_NNExecutor_SetInput(NULL, 0, &t, x, 24), IP);
    is(OH_NNExecutor_SetInput(e, 0, NULL, x, 24), IP);
    is(OH_NNExecutor_SetInput(e, 0, &t, NULL, 24), IP);
    is(OH_NNExecutor_SetInput(e, 0, &t, x, 0), IP);
    is(OH_NNExecutor_SetInput(e, 2, &t, x, 24), IP);
    is(OH_NNExecutor_SetInput(e, 0, &t, x, 23), IP);
    t.dimensions = three;
    is(OH_NNExecutor_SetInput(e, 0, &t, x, 36), IP);
    t.dimensions = open;
    is(OH_NNExecutor_SetInput(e, 0, &t, x, 24), IP);
    t.dimensions = dims;
    t.dimensionCount = 1;
    is(OH_NNExecutor_SetInput(e, 0, &t, x, 24), IP);
    t.dimensionCount = 2;
    t.dataType = OH_NN_INT32;
    is(OH_NNExecutor_SetInput(e, 0, &t, x, 24), IP);
    t.dataType = OH_NN_FLOAT32;
    t.type = OH_NN_CLIP_MAX;
    is(OH_NNExecutor_SetInput(e, 0, &t, x, 24), IP);
    t.type = OH_NN_TENSOR;
    is(OH_NNExecutor_SetInput(e, 0, &t, y, 24), OK);
    is(OH_NNExecutor_SetInput(e, 0, &t, x, 28), OK); /* again, and longer */
    is(OH_NNExecutor_SetInput(e, 1, &t, y, 24), OK);
    is(OH_NNExecutor_Run(e), IP); /* no output */
    is(OH_NNExecutor_SetOutput(NULL, 0, result, 24), IP);
    is(OH_NNExecutor_SetOutput(e, 0, NULL, 24), IP);
    is(OH_NNExecutor_SetOutput(e, 0, result, 0), IP);
    is(OH_NNExecutor_SetOutput(e, 1, result, 24), IP);
    is(OH_NNExecutor_SetOutput(e, 0, result, 23), IP);
    is(OH_NNExecutor_SetOutput(e, 0, result, 28), OK);
    is(OH_NNExecutor_Run(e), OK);
    assert_memory_equal(result, wanted, 24);
    assert_true(result[6] == 7);
    memset(result, 0, 24);
    is(OH_NNExecutor_Run(e), OK); /* all stays set */
    assert_memory_equal(result, wanted, 24);
    /* memory */
    assert_null(OH_NNExecutor_AllocateInputMemory(NULL, 0, 24));
    assert_null(OH_NNExecutor_AllocateInputMemory(e, 0, 0));
    assert_null(OH_NNExecutor_AllocateInputMemory(e, 2, 24));
    assert_null(OH_NNExecutor_AllocateInputMemory(e, 0, ((size_t)1 << 30) + 1));
    assert_null(OH_NNExecutor_AllocateOutputMemory(NULL, 0, 24));
    assert_null(OH_NNExecutor_AllocateOutputMemory(e, 0, 0));
    assert_null(OH_NNExecutor_AllocateOutputMemory(e, 1, 24));
    in = OH_NNExecutor_AllocateInputMemory(e, 0, 24);
    out = OH_NNExecutor_AllocateOutputMemory(e, 0, 24);
    small = OH_NNExecutor_AllocateInputMemory(e, 0, 23);
    assert_true(in != NULL && out != NULL && small != NULL && in->length == 24 && in->data != NULL);
    memcpy(in->data, y, 24);
    is(OH_NNExecutor_SetInputWithMemory(NULL, 0, &t, in), IP);
    is(OH_NNExecutor_SetInputWithMemory(e, 0, NULL, in), IP);
    is(OH_NNExecutor_SetInputWithMemory(e, 0, &t, NULL), IP);
    is(OH_NNExecutor_SetInputWithMemory(e, 2, &t, in), IP);
    is(OH_NNExecutor_SetInputWithMemory(e, 0, &t, small), IP);
    is(OH_NNExecutor_SetInputWithMemory(e, 0, &t, in), OK);
    is(OH_NNExecutor_SetOutputWithMemory(NULL, 0, out), IP);
    is(OH_NNExecutor_SetOutputWithMemory(e, 0, NULL), IP);
    is(OH_NNExecutor_SetOutputWithMemory(e, 1, out), IP);
    is(OH_NNExecutor_SetOutputWithMemory(e, 0, small), IP);
    is(OH_NNExecutor_SetOutputWithMemory(e, 0, out), OK);
    memcpy(in->data, x, 24); /* no copy was taken */
    is(OH_NNExecutor_Run(e), OK);
    assert_memory_equal(out->data, wanted, 24);
    same = in;
    OH_NNExecutor_DestroyInputMemory(NULL, 0, &in);
    OH_NNExecutor_DestroyInputMemory(e, 0, NULL);
    OH_NNExecutor_DestroyInputMemory(e, 0, &none);
    OH_NNExecutor_DestroyInputMemory(e, 2, &in);
    OH_NNExecutor_DestroyInputMemory(e, 1, &in);  /* made for input 0 */
    OH_NNExecutor_DestroyOutputMemory(e, 0, &in); /* and for no output */
    assert_ptr_equal(in, same);
    is(OH_NNExecutor_Run(e), OK);
    OH_NNExecutor_DestroyInputMemory(e, 0, &in);
    assert_null(in);
    is(OH_NNExecutor_Run(e), IP); /* it is still set */
    is(OH_NNExecutor_SetInput(e, 0, &t, x, 24), OK);
    is(OH_NNExecutor_Run(e), OK);
    OH_NNExecutor_DestroyOutputMemory(NULL, 0, &out);
    OH_NNExecutor_DestroyOutputMemory(e, 1, &out);
    assert_non_null(out);
    OH_NNExecutor_DestroyOutputMemory(e, 0, &out);
    assert_null(out);
    is(OH_NNExecutor_Run(e), IP);
    OH_NNExecutor_Destroy(&e); /* with the remaining memory: small */
}

/* ---- dynamic shapes ---- */

static void dynamic(void **state)
{
    static const float x[12] = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12};
    const int32_t open[2] = {-1, 3};
    OH_NNExecutor *e = add_executor(-1);
    NN_Tensor *in[2] = {tensor_of(OH_NN_FLOAT32, open, 2, x, 48), tensor_of(OH_NN_FLOAT32, open, 2, x, 48)};
    NN_Tensor *out[1] = {tensor_of(OH_NN_FLOAT32, open, 2, NULL, 48)};
    size_t *least = NULL, *most = NULL, rank = 0, bytes = 7;
    int32_t *shape = NULL;
    uint32_t length = 0;
    NN_TensorDesc *desc;
    OH_NN_Tensor t = {OH_NN_FLOAT32, 2, open, NULL, OH_NN_TENSOR};
    float result[12] = {0};
    (void)state;
    is(OH_NNExecutor_GetInputDimRange(e, 0, &least, &most, &rank), OK);
    assert_true(rank == 2 && least[0] == 1 && most[0] >= 1000 && least[1] == 3 && most[1] == 3);
    is(OH_NNExecutor_GetOutputShape(e, 0, &shape, &length), OK);
    assert_true(length == 2 && shape[0] == -1 && shape[1] == 3);
    is(OH_NNExecutor_RunSync(e, in, 2, out, 1), IP); /* the shapes of this run are not set */
    for (int32_t rows = 4; rows > 0; rows -= 1) {
        const int32_t dims[2] = {rows, 3}, again[2] = {rows == 4 ? 3 : rows, 3};
        for (int k = 0; k < 2; k++)
            is(OH_NNTensorDesc_SetShape(OH_NNTensor_GetTensorDesc(in[k]), dims, 2), OK);
        is(OH_NNTensorDesc_SetShape(OH_NNTensor_GetTensorDesc(out[0]), open, 2), OK);
        memset(OH_NNTensor_GetDataBuffer(out[0]), 0x77, 48);
        is(OH_NNExecutor_RunSync(e, in, 2, out, 1), OK);
        for (int i = 0; i < rows * 3; i++)
            assert_true(((float *)OH_NNTensor_GetDataBuffer(out[0]))[i] == (x[i] > 0 ? 2 * x[i] : 0));
        shape = NULL;
        is(OH_NNTensorDesc_GetShape(OH_NNTensor_GetTensorDesc(out[0]), &shape, &rank), OK);
        assert_true(rank == 2 && shape[0] == rows && shape[1] == 3);
        shape = NULL;
        is(OH_NNExecutor_GetOutputShape(e, 0, &shape, &length), OK);
        assert_true(length == 2 && shape[0] == rows && shape[1] == 3);
        desc = OH_NNExecutor_CreateOutputTensorDesc(e, 0);
        is(OH_NNTensorDesc_GetByteSize(desc, &bytes), OK);
        assert_int_equal(bytes, rows * 12);
        is(OH_NNTensorDesc_Destroy(&desc), OK);
        is(OH_NNTensorDesc_SetShape(OH_NNTensor_GetTensorDesc(in[0]), again, 2), OK);
        if (rows == 4)
            is(OH_NNExecutor_RunSync(e, in, 2, out, 1), OH_NN_UNAVAILABLE_DEVICE); /* 3 rows and 4 */
    }
    /* the deprecated functions */
    is(OH_NNExecutor_SetInput(e, 0, &t, x, 48), IP); /* -1 is left */
    for (int32_t rows = 1; rows <= 3; rows++) {
        const int32_t dims[2] = {rows, 3};
        t.dimensions = dims;
        is(OH_NNExecutor_SetInput(e, 0, &t, x, 48), OK);
        is(OH_NNExecutor_SetInput(e, 1, &t, x, 48), OK);
        is(OH_NNExecutor_SetOutput(e, 0, result, 1), OK); /* any length, as its size is not known */
        is(OH_NNExecutor_Run(e), IP);
        is(OH_NNExecutor_SetOutput(e, 0, result, sizeof(result)), OK);
        is(OH_NNExecutor_Run(e), OK);
        for (int i = 0; i < rows * 3; i++)
            assert_true(result[i] == (x[i] > 0 ? 2 * x[i] : 0));
    }
    is(OH_NNTensor_Destroy(&in[0]), OK);
    is(OH_NNTensor_Destroy(&in[1]), OK);
    is(OH_NNTensor_Destroy(&out[0]), OK);
    OH_NNExecutor_Destroy(&e);
}

/* Runs a model of [rows,3] on a device for each number of rows, and compares how often the device prepares the model. */
static void prepares(const char *device, const int32_t (*runs)[2], uint32_t count)
{
    nnrt_fake *fake = registered(device);
    OH_NNExecutor *e = add_executor_on(-1, nnrt_fake_name(fake));
    const int32_t most[2] = {12, 3};
    NN_Tensor *in[2], *out[1];
    float x[36];
    for (int i = 0; i < 36; i++)
        x[i] = (float)(i % 7 - 3);
    in[0] = tensor_of(OH_NN_FLOAT32, most, 2, x, sizeof(x));
    in[1] = tensor_of(OH_NN_FLOAT32, most, 2, x, sizeof(x));
    out[0] = tensor_of(OH_NN_FLOAT32, most, 2, NULL, sizeof(x));
    for (uint32_t r = 0; r < count; r++) {
        const int32_t dims[2] = {runs[r][0], 3};
        const uint32_t before = nnrt_fake_get_record(fake).prepared;
        int32_t *shape = NULL;
        size_t rank = 0;
        float *y = (float *)OH_NNTensor_GetDataBuffer(out[0]);
        for (int k = 0; k < 2; k++)
            is(OH_NNTensorDesc_SetShape(OH_NNTensor_GetTensorDesc(in[k]), dims, 2), OK);
        memset(y, 0x77, sizeof(x));
        is(OH_NNExecutor_RunSync(e, in, 2, out, 1), OK);
        if (nnrt_fake_get_record(fake).prepared - before != (uint32_t)runs[r][1])
            fail_msg("run %u, %d rows: prepared %u times, expected %d", r, runs[r][0],
                     nnrt_fake_get_record(fake).prepared - before, runs[r][1]);
        is(OH_NNTensorDesc_GetShape(OH_NNTensor_GetTensorDesc(out[0]), &shape, &rank), OK);
        assert_true(rank == 2 && shape[0] == runs[r][0] && shape[1] == 3);
        for (int i = 0; i < runs[r][0] * 3; i++)
            assert_true(y[i] == (x[i] > 0 ? 2 * x[i] : 0));
        if (runs[r][0] < 12)
            assert_memory_equal(&y[runs[r][0] * 3], "wwww", 4);
    }
    is(OH_NNTensor_Destroy(&in[0]), OK);
    is(OH_NNTensor_Destroy(&in[1]), OK);
    is(OH_NNTensor_Destroy(&out[0]), OK);
    OH_NNExecutor_Destroy(&e);
    unregistered(fake);
}

/* Prepared models are kept: of four shapes, then one for a bound of all, which grows by half at least. */
static void shapes_kept(void **state)
{
    static const int32_t bound[][2] = {{1, 1}, {2, 1}, {3, 1}, {4, 1},            /* four shapes */
                                       {4, 0}, {2, 0}, {1, 0}, {3, 0}, {3, 0},    /* which are kept */
                                       {5, 1}, {5, 0}, {4, 0}, {6, 1}, {7, 0},    /* bounds of 5, of 5 + 5 / 2 */
                                       {5, 0}, {1, 0}, {11, 1}, {10, 0}, {8, 0}}; /* and of 11, which is more than 10 */
    /* the bound may not grow by half: the device takes no more than 6 */
    static const int32_t tight[][2] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {5, 0}, {6, 0}};
    /* the device fails to prepare for a bound, its sixth preparation: the shape that was used least lately makes room */
    static const int32_t none[][2] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {2, 0}, {3, 0},
                                      {4, 0}, {5, 0}, {1, 1}, {5, 0}, {2, 1}, {4, 0}, {3, 1}};
    (void)state;
    prepares("fake:name=kept", bound, COUNT(bound));
    prepares("fake:name=kept,dims=1..6", tight, COUNT(tight));
    prepares("fake:name=kept,fail=PrepareModel:6", none, COUNT(none));
}

/* ---- operators: expected values by hand ---- */

/* Inputs of an operator: a float32 input, constants, parameters; and its expected result. */
typedef struct given {
    OH_NN_TensorType type; /* OH_NN_TENSOR: a constant input */
    OH_NN_DataType dataType;
    int32_t rank, dims[4];
    const void *data;
} given;

static size_t bytes_of(OH_NN_DataType type, const int32_t *dims, int32_t rank)
{
    static const size_t sizes[13] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};
    size_t bytes = sizes[type];
    for (int32_t i = 0; i < rank; i++)
        bytes *= (size_t)dims[i];
    return bytes;
}

static void check(OH_NN_OperationType op, OH_NN_Format format, given x, const given *rest, uint32_t count, given y)
{
    OH_NNModel *model = OH_NNModel_Construct();
    uint32_t in[8] = {0}, nIn = 1, params[8], nParams = 0, out[1], inputs[1] = {0};
    uint8_t result[256];
    const void *data[1];
    void *results[1];
    const size_t bytes = bytes_of(y.dataType, y.dims, y.rank);
    data[0] = x.data;
    results[0] = result;
    memset(result, 0x77, sizeof(result));
    for (uint32_t i = 0; i <= count + 1; i++) {
        const given *g = i == 0 ? &x : i <= count ? &rest[i - 1] : &y;
        NN_TensorDesc *desc = desc_of(g->dataType, g->dims, (size_t)g->rank);
        if (i == 0 || i > count)
            is(OH_NNTensorDesc_SetFormat(desc, format), OK);
        is(OH_NNModel_AddTensorToModel(model, desc), OK);
        is(OH_NNTensorDesc_Destroy(&desc), OK);
        if (i == 0 || i > count)
            continue;
        is(OH_NNModel_SetTensorType(model, i, g->type), OK);
        is(OH_NNModel_SetTensorData(model, i, g->data, bytes_of(g->dataType, g->dims, g->rank)), OK);
        if (g->type == OH_NN_TENSOR)
            in[nIn++] = i;
        else
            params[nParams++] = i;
    }
    out[0] = count + 1;
    is(add_operation(model, op, nParams > 0 ? params : NULL, nParams, in, nIn, out, 1), OK);
    is(specify(model, inputs, 1, out, 1), OK);
    is(OH_NNModel_Finish(model), OK);
    is(run_model(model, data, results), OK);
    assert_memory_equal(result, y.data, bytes);
    OH_NNModel_Destroy(&model);
}

#define F OH_NN_FLOAT32
#define I OH_NN_INT32
#define L OH_NN_INT64
#define B OH_NN_BOOL
#define C OH_NN_INT8

static given tensor4(OH_NN_DataType type, int32_t a, int32_t b, int32_t c, int32_t d, const void *data)
{
    given g = {OH_NN_TENSOR, type, 4, {a, b, c, d}, data};
    return g;
}

static given tensor2(OH_NN_DataType type, int32_t a, int32_t b, const void *data)
{
    given g = {OH_NN_TENSOR, type, 2, {a, b, 0, 0}, data};
    return g;
}

static given list1(OH_NN_TensorType kind, OH_NN_DataType type, int32_t count, const void *data)
{
    given g = {kind, type, 1, {count, 0, 0, 0}, data};
    return g;
}

static void operators(void **state)
{
    static const float nine[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, w[4] = {1, 2, 3, 4}, half[1] = {0.5f}, none[1] = {0};
    static const int64_t two[2] = {2, 2}, ones[2] = {1, 1}, pads[4] = {1, 0, 0, 1}, one[1] = {1}, zero[1] = {0};
    static const int32_t axis1[1] = {1}, i32[1] = {4 /* OH_NN_INT32 */}, perm[2] = {1, 0}, shape[2] = {6, 1};
    static const bool yes[1] = {true}, no[1] = {false};
    static const int8_t same[1] = {0}, valid[1] = {1}, relu6[1] = {2}, sum[1] = {1};
    static const int32_t ceil_[1] = {1};
    static const float six[6] = {1, -2, 3.75f, -4.5f, 5, -6};
    given g[8];
    (void)state;
    {
        /* [1,3,3,1] by [1,2,2,1], one row of zeros above, one column on the right, bias 0.5:
           y[i,j] = sum of xp[i+a,j+b] * w[a,b] */
        static const float y[9] = {11.5f, 18.5f, 9.5f, 37.5f, 47.5f, 21.5f, 67.5f, 77.5f, 33.5f};
        static const float y6[4] = {6, 6, 6, 6}, ySame[9] = {37.5f, 47.5f, 21.5f, 67.5f, 77.5f, 33.5f, 23.5f, 26.5f, 9.5f};
        static const float yTwice[4] = {37.5f, 47.5f, 67.5f, 77.5f};
        g[0] = tensor4(F, 1, 2, 2, 1, w);
        g[1] = list1(OH_NN_TENSOR, F, 1, half);
        g[2] = list1(OH_NN_CONV2D_STRIDES, L, 2, ones);
        g[3] = list1(OH_NN_CONV2D_DILATION, L, 2, ones);
        g[4] = list1(OH_NN_CONV2D_PAD, L, 4, pads);
        g[5] = list1(OH_NN_CONV2D_GROUP, L, 1, one);
        check(OH_NN_OPS_CONV2D, OH_NN_FORMAT_NHWC, tensor4(F, 1, 3, 3, 1, nine), g, 6, tensor4(F, 1, 3, 3, 1, y));
        check(OH_NN_OPS_CONV2D, OH_NN_FORMAT_NCHW, tensor4(F, 1, 1, 3, 3, nine), g, 6, tensor4(F, 1, 1, 3, 3, y));
        g[4] = list1(OH_NN_CONV2D_PAD_MODE, C, 1, same);
        check(OH_NN_OPS_CONV2D, OH_NN_FORMAT_NHWC, tensor4(F, 1, 3, 3, 1, nine), g, 6, tensor4(F, 1, 3, 3, 1, ySame));
        g[4] = list1(OH_NN_CONV2D_PAD, C, 1, valid); /* the two names are interchangeable */
        check(OH_NN_OPS_CONV2D, OH_NN_FORMAT_NHWC, tensor4(F, 1, 3, 3, 1, nine), g, 6, tensor4(F, 1, 2, 2, 1, yTwice));
        g[5] = list1(OH_NN_CONV2D_ACTIVATION_TYPE, C, 1, relu6); /* the group is 1 */
        check(OH_NN_OPS_CONV2D, OH_NN_FORMAT_NHWC, tensor4(F, 1, 3, 3, 1, nine), g, 6, tensor4(F, 1, 2, 2, 1, y6));
    }
    {
        /* each channel by its own window of one cell: [1,1,2,2] */
        static const float x[4] = {1, 2, 3, 4}, k[2] = {10, 100}, b[2] = {1, 2}, y[4] = {11, 202, 31, 402};
        g[0] = tensor4(F, 2, 1, 1, 1, k);
        g[1] = list1(OH_NN_TENSOR, F, 2, b);
        g[2] = list1(OH_NN_DEPTHWISE_CONV2D_NATIVE_STRIDES, L, 2, ones);
        g[3] = list1(OH_NN_DEPTHWISE_CONV2D_NATIVE_PAD_MODE, C, 1, valid);
        check(OH_NN_OPS_DEPTHWISE_CONV2D_NATIVE, OH_NN_FORMAT_NHWC, tensor4(F, 1, 1, 2, 2, x), g, 4,
              tensor4(F, 1, 1, 2, 2, y));
    }
    {
        static const float yMax[1] = {5}, yCeil[4] = {5, 6, 8, 9}, yAvg[1] = {5}, ySame[9] = {5, 6, 6, 8, 9, 9, 8, 9, 9};
        g[0] = list1(OH_NN_MAX_POOL_KERNEL_SIZE, L, 2, two);
        g[1] = list1(OH_NN_MAX_POOL_STRIDE, L, 2, two);
        g[2] = list1(OH_NN_MAX_POOL_PAD_MODE, C, 1, valid);
        check(OH_NN_OPS_MAX_POOL, OH_NN_FORMAT_NHWC, tensor4(F, 1, 3, 3, 1, nine), g, 3, tensor4(F, 1, 1, 1, 1, yMax));
        g[2] = list1(OH_NN_MAX_POOL_ROUND_MODE, I, 1, ceil_);
        check(OH_NN_OPS_MAX_POOL, OH_NN_FORMAT_NHWC, tensor4(F, 1, 3, 3, 1, nine), g, 3, tensor4(F, 1, 2, 2, 1, yCeil));
        g[1] = list1(OH_NN_MAX_POOL_STRIDE, L, 2, ones);
        g[2] = list1(OH_NN_MAX_POOL_PAD_MODE, C, 1, same);
        check(OH_NN_OPS_MAX_POOL, OH_NN_FORMAT_NHWC, tensor4(F, 1, 3, 3, 1, nine), g, 3, tensor4(F, 1, 3, 3, 1, ySame));
        g[0] = list1(OH_NN_AVG_POOL_GLOBAL, B, 1, yes);
        check(OH_NN_OPS_AVG_POOL, OH_NN_FORMAT_NHWC, tensor4(F, 1, 3, 3, 1, nine), g, 1, tensor4(F, 1, 1, 1, 1, yAvg));
    }
    {
        /* [2,3] by [2,3] transposed, bias {1,-100}; without the bias; relu6 */
        static const float k[6] = {1, 0, 0, 0, 1, 1}, b[2] = {1, -100}, x[6] = {1, 2, 3, 4, 5, 6};
        static const float y[4] = {2, -95, 5, -89}, bare[4] = {1, 5, 4, 11}, capped[4] = {2, 0, 5, 0};
        g[0] = tensor2(F, 2, 3, k);
        g[1] = list1(OH_NN_TENSOR, F, 2, b);
        g[2] = list1(OH_NN_FULL_CONNECTION_HAS_BIAS, B, 1, yes);
        check(OH_NN_OPS_FULL_CONNECTION, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, x), g, 2, tensor2(F, 2, 2, y));
        check(OH_NN_OPS_FULL_CONNECTION, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, x), g, 3, tensor2(F, 2, 2, y));
        check(OH_NN_OPS_FULL_CONNECTION, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, x), g, 1, tensor2(F, 2, 2, bare));
        g[2] = list1(OH_NN_FULL_CONNECTION_HAS_BIAS, B, 1, no);
        check(OH_NN_OPS_FULL_CONNECTION, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, x), g, 3, tensor2(F, 2, 2, bare));
        g[2] = list1(OH_NN_FULL_CONNECTION_ACTIVATIONTYPE, C, 1, relu6);
        g[3] = list1(OH_NN_FULL_CONNECTION_AXIS, L, 1, one);
        check(OH_NN_OPS_FULL_CONNECTION, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, x), g, 4, tensor2(F, 2, 2, capped));
    }
    {
        static const int32_t cut[6] = {1, -2, 3, -4, 5, -6};
        static const float turned[6] = {1, -4.5f, -2, 5, 3.75f, -6}, sums[2] = {2.75f, -5.5f}, doubled[2] = {5.5f, -11};
        static const float twice[6] = {2, -4, 7.5f, -9, 10, -12}, square[6] = {1, 4, 14.0625f, 20.25f, 25, 36}, x2[1] = {2};
        static const float padded[12] = {0.5f, 1, -2, 3.75f, 0.5f, 0.5f, 0.5f, -4.5f, 5, -6, 0.5f, 0.5f};
        static const int32_t around[4] = {0, 0, 1, 2};
        static const float clipped[6] = {1, -2, 3, -3, 3, -3}, three[1] = {3}, minus[1] = {-3}, sloped[6] = {1, -1, 3.75f, -2.25f, 5, -3};
        g[0] = list1(OH_NN_TENSOR, I, 1, i32);
        check(OH_NN_OPS_CAST, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, six), g, 1, tensor2(I, 2, 3, cut));
        g[0] = list1(OH_NN_TENSOR, I, 2, perm);
        check(OH_NN_OPS_TRANSPOSE, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, six), g, 1, tensor2(F, 3, 2, turned));
        g[0] = list1(OH_NN_TENSOR, I, 2, shape);
        check(OH_NN_OPS_RESHAPE, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, six), g, 1, tensor2(F, 6, 1, six));
        g[0] = list1(OH_NN_TENSOR, I, 1, axis1);
        check(OH_NN_OPS_REDUCE_SUM, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, six), g, 1, list1(OH_NN_TENSOR, F, 2, sums));
        g[1] = list1(OH_NN_REDUCE_SUM_KEEP_DIMS, B, 1, yes);
        check(OH_NN_OPS_REDUCE_SUM, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, six), g, 2, tensor2(F, 2, 1, sums));
        g[2] = list1(OH_NN_REDUCE_SUM_REDUCE_TO_END, B, 1, yes);
        g[3] = list1(OH_NN_REDUCE_SUM_COEFF, F, 1, x2);
        check(OH_NN_OPS_REDUCE_SUM, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, six), g, 4, tensor2(F, 2, 1, doubled));
        g[0] = tensor2(F, 2, 3, six);
        g[1] = list1(OH_NN_ELTWISE_MODE, C, 1, sum);
        check(OH_NN_OPS_ELTWISE, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, six), g, 2, tensor2(F, 2, 3, twice));
        check(OH_NN_OPS_ELTWISE, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, six), g, 1, tensor2(F, 2, 3, square));
        g[0] = tensor2(I, 2, 2, around);
        g[1] = list1(OH_NN_PAD_CONSTANT_VALUE, F, 1, half);
        check(OH_NN_OPS_PAD, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, six), g, 2, tensor2(F, 2, 6, padded));
        g[0] = list1(OH_NN_CLIP_MAX, F, 1, three);
        g[1] = list1(OH_NN_CLIP_MIN, F, 1, minus);
        check(OH_NN_OPS_CLIP, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, six), g, 2, tensor2(F, 2, 3, clipped));
        g[0] = list1(OH_NN_LEAKY_RELU_NEGATIVE_SLOPE, F, 1, half);
        check(OH_NN_OPS_LEAKY_RELU, OH_NN_FORMAT_NONE, tensor2(F, 2, 3, six), g, 1, tensor2(F, 2, 3, sloped));
    }
    {
        /* set by the operator's name alone */
        static const float x[3] = {-3, 0, 9}, relu[3] = {0, 0, 9}, hswish[3] = {0, 0, 9}, hsigmoid[3] = {0, 0.5f, 1};
        static const float relu6y[3] = {0, 0, 6}, most[1] = {9}, least[1] = {-3}, product[1] = {0}, mean[1] = {2};
        static const int64_t start[1] = {2}, limit[1] = {11}, delta[1] = {3};
        static const float range[3] = {2, 5, 8};
        check(OH_NN_OPS_RELU, OH_NN_FORMAT_NONE, tensor2(F, 1, 3, x), g, 0, tensor2(F, 1, 3, relu));
        check(OH_NN_OPS_RELU6, OH_NN_FORMAT_NONE, tensor2(F, 1, 3, x), g, 0, tensor2(F, 1, 3, relu6y));
        check(OH_NN_OPS_HSWISH, OH_NN_FORMAT_NONE, tensor2(F, 1, 3, x), g, 0, tensor2(F, 1, 3, hswish));
        check(OH_NN_OPS_HARD_SIGMOID, OH_NN_FORMAT_NONE, tensor2(F, 1, 3, x), g, 0, tensor2(F, 1, 3, hsigmoid));
        g[0] = list1(OH_NN_TENSOR, I, 1, axis1);
        check(OH_NN_OPS_REDUCE_MAX, OH_NN_FORMAT_NONE, tensor2(F, 1, 3, x), g, 1, list1(OH_NN_TENSOR, F, 1, most));
        check(OH_NN_OPS_REDUCE_MIN, OH_NN_FORMAT_NONE, tensor2(F, 1, 3, x), g, 1, list1(OH_NN_TENSOR, F, 1, least));
        check(OH_NN_OPS_REDUCE_PROD, OH_NN_FORMAT_NONE, tensor2(F, 1, 3, x), g, 1, list1(OH_NN_TENSOR, F, 1, product));
        check(OH_NN_OPS_REDUCE_MEAN, OH_NN_FORMAT_NONE, tensor2(F, 1, 3, x), g, 1, list1(OH_NN_TENSOR, F, 1, mean));
        g[0] = list1(OH_NN_RANGE_START, L, 1, start);
        g[1] = list1(OH_NN_RANGE_LIMIT, L, 1, limit);
        g[2] = list1(OH_NN_RANGE_DELTA, L, 1, delta);
        check(OH_NN_OPS_RANGE, OH_NN_FORMAT_NONE, tensor2(F, 1, 3, x), g, 3, list1(OH_NN_TENSOR, F, 3, range));
    }
    (void)none, (void)zero;
}

/* Every operator takes as many inputs as it says, and no others. */
static void arities(void **state)
{
    const int32_t one[1] = {1};
    (void)state;
    for (uint32_t op = 1; op <= 108; op++)
        for (uint32_t nIn = 1; nIn <= 8; nIn++)
            for (uint32_t nOut = 1; nOut <= 5; nOut++) {
                OH_NNModel *model = OH_NNModel_Construct();
                uint32_t in[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[5] = {8, 9, 10, 11, 12};
                const char n = operands_in[op - 1];
                const uint32_t outs = op == OH_NN_OPS_LSTM                     ? 3
                                      : op == OH_NN_OPS_TOP_K                  ? 2
                                      : op == OH_NN_OPS_DETECTION_POST_PROCESS ? 4
                                                                               : 1;
                const bool any = op == OH_NN_OPS_SPLIT || op == OH_NN_OPS_UNSTACK;
                const bool good = (n == '+' ? nIn >= 2 : nIn == (uint32_t)(n - '0') || (op == OH_NN_OPS_FULL_CONNECTION && nIn == 2)) &&
                                  (nOut == outs || any);
                for (int t = 0; t < 13; t++)
                    is(add_tensor(model, F, one, 1, OH_NN_TENSOR, NULL, 0), OK);
                assert_int_equal(add_operation(model, (OH_NN_OperationType)op, NULL, 0, in, nIn, out, nOut), good ? OK : IP);
                OH_NNModel_Destroy(&model);
            }
}

/* z = x + y in int8: scale 0.5, zero points 1, -2 and 3, so that all sums are exact. */
static void quantized(void **state)
{
    static const int8_t x[4] = {1, 3, 127, -128}, y[4] = {0, -2, 120, -100};
    /* real: 0, 1, 63, -64.5 and 1, 0, 61, -49; their sums 1, 1, 124, -113.5: (sum / 0.5) + 3, saturated */
    static const int8_t wanted[4] = {5, 5, 127, -128};
    static const float reals[4] = {1, -0.25f, 100, -3}; /* / 0.5, halves away from zero, + 3 */
    static const int8_t stored[4] = {5, 2, 127, -3};
    const int32_t zeros[3] = {1, -2, 3}, dims[1] = {4};
    const double scale = 0.5;
    const uint32_t bits = 8;
    const int64_t types_[2] = {OH_NN_FLOAT32, OH_NN_INT8};
    for (int k = 0; k < 2; k++) {
        OH_NNModel *model = OH_NNModel_Construct();
        uint32_t in[2] = {0, 1}, out[1] = {2}, params[2] = {3, 4};
        int8_t result[4] = {0};
        const void *data[2];
        void *results[1];
        data[0] = k == 0 ? (const void *)x : reals;
        data[1] = y;
        results[0] = result;
        for (int i = 0; i < 3; i++) {
            NN_QuantParam *q = OH_NNQuantParam_Create();
            is(add_tensor(model, k == 1 && i == 0 ? OH_NN_FLOAT32 : OH_NN_INT8, dims, 1, OH_NN_TENSOR, NULL, 0), OK);
            is(OH_NNQuantParam_SetScales(q, &scale, 1), OK);
            is(OH_NNQuantParam_SetZeroPoints(q, &zeros[i], 1), OK);
            is(OH_NNQuantParam_SetNumBits(q, &bits, 1), OK);
            is(OH_NNModel_SetTensorQuantParams(model, (uint32_t)i, q), OK);
            is(OH_NNQuantParam_Destroy(&q), OK);
        }
        is(add_tensor(model, OH_NN_INT64, dims, 0, OH_NN_QUANT_DTYPE_CAST_SRC_T, &types_[0], 8), OK);
        is(add_tensor(model, OH_NN_INT64, dims, 0, OH_NN_QUANT_DTYPE_CAST_DST_T, &types_[1], 8), OK);
        if (k == 0)
            is(add_operation(model, OH_NN_OPS_ADD, NULL, 0, in, 2, out, 1), OK);
        else
            is(add_operation(model, OH_NN_OPS_QUANT_DTYPE_CAST, params, 2, in, 1, out, 1), OK);
        is(specify(model, in, k == 0 ? 2 : 1, out, 1), OK);
        is(OH_NNModel_Finish(model), OK);
        is(run_model(model, data, results), OK);
        assert_memory_equal(result, k == 0 ? wanted : stored, 4);
        OH_NNModel_Destroy(&model);
    }
    (void)state;
}

/* A model that the device refuses: Build says so, not Finish; of its operations only the bad one is not available. */
static void refused(void **state)
{
    const int32_t two[1] = {2}, three[1] = {3};
    OH_NNModel *model = OH_NNModel_Construct();
    OH_NNCompilation *c;
    uint32_t in[2] = {0, 1}, out[1] = {2}, last[1] = {3}, mid[1] = {0};
    const bool *supported = NULL;
    uint32_t count = 0;
    (void)state;
    is(add_tensor(model, F, two, 1, OH_NN_TENSOR, NULL, 0), OK);
    is(add_tensor(model, F, three, 1, OH_NN_TENSOR, NULL, 0), OK);
    is(add_tensor(model, F, three, 1, OH_NN_TENSOR, NULL, 0), OK);
    is(add_tensor(model, F, two, 1, OH_NN_TENSOR, NULL, 0), OK);
    is(add_operation(model, OH_NN_OPS_ABS, NULL, 0, mid, 1, last, 1), OK);
    is(add_operation(model, OH_NN_OPS_ADD, NULL, 0, in, 2, out, 1), OK); /* 2 and 3 */
    out[0] = 3;
    is(specify(model, in, 2, out, 1), OK);
    is(OH_NNModel_Finish(model), OK);
    is(OH_NNModel_GetAvailableOperations(model, 0, &supported, &count), OK);
    assert_true(count == 2 && supported[0] && !supported[1]);
    c = OH_NNCompilation_Construct(model);
    is(OH_NNCompilation_Build(c), OH_NN_FAILED);
    is(OH_NNCompilation_Build(c), IP); /* it was tried */
    assert_null(OH_NNExecutor_Construct(c));
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
}

/* ---- decisions of Build ---- */

/* A compilation keeps its model alive from Construct on. */
static void model_gone(void **state)
{
    static const float x[6] = {1, 2, 3, -4, 5, -6}, y[6] = {10, 20, 30, 1, 1, 1}, sum[6] = {11, 22, 33, 0, 6, 0};
    OH_NNModel *model = NULL;
    OH_NNCompilation *c;
    OH_NNExecutor *e;
    const int32_t dims[2] = {2, 3};
    NN_Tensor *in[2], *out[1];
    uint32_t inputs[2] = {0, 1}, outputs[1] = {3};
    (void)state;
    is(add_model(&model, 2), OK);
    c = OH_NNCompilation_Construct(model);
    OH_NNModel_Destroy(&model);
    is(OH_NNCompilation_Build(c), OK);
    e = OH_NNExecutor_Construct(c);
    OH_NNCompilation_Destroy(&c);
    in[0] = tensor_of(OH_NN_FLOAT32, dims, 2, x, sizeof(x));
    in[1] = tensor_of(OH_NN_FLOAT32, dims, 2, y, sizeof(y));
    out[0] = tensor_of(OH_NN_FLOAT32, dims, 2, NULL, sizeof(sum));
    is(OH_NNExecutor_RunSync(e, in, 2, out, 1), OK);
    assert_memory_equal(OH_NNTensor_GetDataBuffer(out[0]), sum, sizeof(sum));
    OH_NNExecutor_Destroy(&e);
    is(OH_NNTensor_Destroy(&in[0]), OK);
    is(OH_NNTensor_Destroy(&in[1]), OK);
    is(OH_NNTensor_Destroy(&out[0]), OK);
    /* one that was never finished, and one that is finished later */
    is(add_parts(&model, 2), OK);
    c = OH_NNCompilation_Construct(model);
    OH_NNModel_Destroy(&model);
    is(OH_NNCompilation_Build(c), IP);
    OH_NNCompilation_Destroy(&c);
    is(add_parts(&model, 2), OK);
    c = OH_NNCompilation_Construct(model);
    is(specify(model, inputs, 2, outputs, 1), OK);
    is(OH_NNModel_Finish(model), OK);
    OH_NNModel_Destroy(&model);
    is(OH_NNCompilation_Build(c), OK);
    OH_NNCompilation_Destroy(&c);
    /* one that is never built */
    is(add_model(&model, 2), OK);
    c = OH_NNCompilation_Construct(model);
    OH_NNModel_Destroy(&model);
    OH_NNCompilation_Destroy(&c);
}

/* z = op(x, y), x of 3 elements and y of 1, the other way round with `turned`; y a constant or not. The code of Build, or of
   the run. */
static OH_NN_ReturnCode binary(OH_NN_OperationType op, OH_NN_DataType a, const void *x, OH_NN_DataType b, const void *y,
                               bool turned, bool constant, OH_NN_DataType type, void *z)
{
    const int32_t three[1] = {3}, one[1] = {1};
    OH_NNModel *model = OH_NNModel_Construct();
    uint32_t in[2], out[1] = {2}, inputs[2] = {0, 1};
    const bool *supported = NULL;
    const void *data[2];
    void *results[1];
    uint32_t count = 0;
    OH_NN_ReturnCode code;
    in[0] = turned ? 1 : 0;
    in[1] = turned ? 0 : 1;
    data[0] = x;
    data[1] = y;
    results[0] = z;
    is(add_tensor(model, a, three, 1, OH_NN_TENSOR, NULL, 0), OK);
    is(add_tensor(model, b, one, 1, OH_NN_TENSOR, constant ? y : NULL, bytes_of(b, one, 1)), OK);
    is(add_tensor(model, type, three, 1, OH_NN_TENSOR, NULL, 0), OK);
    is(add_operation(model, op, NULL, 0, in, 2, out, 1), OK);
    is(specify(model, inputs, constant ? 1 : 2, out, 1), OK);
    is(OH_NNModel_Finish(model), OK);
    code = run_model(model, data, results);
    is(OH_NNModel_GetAvailableOperations(model, 0, &supported, &count), OK); /* one for each operation, not each node */
    assert_true(count == 1 && supported[0] == (code == OK));
    OH_NNModel_Destroy(&model);
    return code;
}

/* Operands of two types: the lower one is converted to the higher type, which the result has. */
static void mixed_types(void **state)
{
    static const float f[3] = {7, -9, 2}, halves[3] = {3.5f, -4.5f, 1}, third[3] = {2, 3, 4}, powers[3] = {4, 9, 16};
    static const float part[3] = {0.5f, 1, 2};
    static const int32_t two[1] = {2}, i[3] = {1, 5, -3}, squares[3] = {0, 16, 16}, seven[3] = {7, 5, 9}, rest[3] = {3, 1, 1};
    static const int8_t s8[3] = {-1, 127, 5}, four[1] = {4}, minus[1] = {-1};
    static const uint8_t u8[1] = {200}, bytes[3] = {200, 255, 0};
    static const int16_t most[3] = {200, 200, 200};
    static const int64_t wide[3] = {5, -1, 3}, least[3] = {1, -1, 1}, odd[3] = {9007199254740993, 9007199254740992, 1};
    static const int64_t half_odd[3] = {2049, 2048, 2050};
    static const double even[1] = {9007199254740992.0};
    static const uint16_t f16[1] = {0x6800}; /* 2048 */
    static const bool yes[1] = {true};
    static const uint8_t less[3] = {1, 0, 0}, more[3] = {0, 0, 1}, greater[3] = {1, 1, 1}, same[3] = {1, 1, 0};
    (void)state;
    for (int k = 0; k < 2; k++) {
        const bool c = k == 1;
        uint64_t z[3];
#define MIXED(op, a, x, b, y, turned, type, wanted)                                                                    \
    memset(z, 0x77, sizeof(z));                                                                                        \
    is(binary(OH_NN_OPS_##op, OH_NN_##a, x, OH_NN_##b, y, turned, c, OH_NN_##type, z), OK);                            \
    assert_memory_equal(z, wanted, sizeof(wanted))
        MIXED(DIV, FLOAT32, f, INT32, two, false, FLOAT32, halves);
        MIXED(POW, FLOAT32, third, INT32, two, false, FLOAT32, powers);
        MIXED(MAXIMUM, INT8, s8, UINT8, u8, false, INT16, most);
        MIXED(MAXIMUM, INT8, s8, UINT8, u8, true, INT16, most);
        MIXED(MINIMUM, INT64, wide, BOOL, yes, false, INT64, least);
        MIXED(MINIMUM, INT64, wide, BOOL, yes, true, INT64, least);
        MIXED(MOD, INT32, seven, INT8, four, false, INT32, rest);
        MIXED(SQUARED_DIFFERENCE, INT32, i, BOOL, yes, true, INT32, squares);
        MIXED(LESS, FLOAT32, part, BOOL, yes, false, BOOL, less);
        MIXED(LESS, FLOAT32, part, BOOL, yes, true, BOOL, more);
        MIXED(GREATER, FLOAT32, part, BOOL, yes, true, BOOL, less);
        MIXED(GREATER_EQUAL, UINT8, bytes, INT8, minus, false, BOOL, greater);
        MIXED(LESS_EQUAL, UINT8, bytes, INT8, minus, true, BOOL, greater);
        MIXED(NOT_EQUAL, UINT8, bytes, INT8, minus, false, BOOL, greater); /* 255 and -1 are the same bits */
        MIXED(EQUAL, INT64, odd, FLOAT64, even, false, BOOL, same);        /* the first one rounds to the second */
        MIXED(EQUAL, INT64, half_odd, FLOAT16, f16, true, BOOL, same);
        /* types that must be equal, a type that is in no order, a result of the lower type */
        is(binary(OH_NN_OPS_ADD, OH_NN_FLOAT32, f, OH_NN_INT32, two, false, c, OH_NN_FLOAT32, z), OH_NN_FAILED);
        is(binary(OH_NN_OPS_SUB, OH_NN_FLOAT32, f, OH_NN_INT32, two, false, c, OH_NN_FLOAT32, z), OH_NN_FAILED);
        is(binary(OH_NN_OPS_MAXIMUM, OH_NN_FLOAT32, f, OH_NN_UINT16, f16, false, c, OH_NN_FLOAT32, z), OH_NN_FAILED);
        is(binary(OH_NN_OPS_MAXIMUM, OH_NN_FLOAT32, f, OH_NN_INT32, two, false, c, OH_NN_INT32, z), OH_NN_FAILED);
    }
}

/* Build, not AddOperation, refuses numbers of element types. A number that OH_NN has no name for is the device's own. */
static void types_at_build(void **state)
{
    static const struct {
        int64_t number;
        OH_NN_ReturnCode code;
    } cases[] = {{11 /* OH_NN_FLOAT32 */, OK},         {43 /* FLOAT32 of the device interface */, OK},
                 {0 /* as the result is declared */, OK}, {1 /* OH_NN_BOOL */, OH_NN_FAILED},
                 {12 /* OH_NN_FLOAT64 */, OH_NN_FAILED}, {45, OH_NN_FAILED},
                 {13, OH_NN_FAILED},                     {-1, OH_NN_FAILED},
                 {INT64_MAX, OH_NN_FAILED}};
    static const int32_t two[1] = {2}, dims[2] = {2, 3};
    static const float value[1] = {4.5f}, filled[6] = {4.5f, 4.5f, 4.5f, 4.5f, 4.5f, 4.5f};
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        OH_NNModel *model = OH_NNModel_Construct();
        uint32_t in[1] = {4}, out[1] = {1}, mid[1] = {0}, params[2] = {2, 3};
        const void *data[1];
        float y[6] = {0};
        void *results[1];
        data[0] = filled;
        results[0] = y;
        is(add_tensor(model, OH_NN_INT32, two, 1, OH_NN_TENSOR, NULL, 0), OK);
        is(add_tensor(model, OH_NN_FLOAT32, dims, 2, OH_NN_TENSOR, NULL, 0), OK);
        is(add_tensor(model, OH_NN_INT64, NULL, 0, OH_NN_CONSTANT_OF_SHAPE_DATA_TYPE, &cases[i].number, 8), OK);
        is(add_tensor(model, OH_NN_FLOAT32, NULL, 0, OH_NN_CONSTANT_OF_SHAPE_VALUE, value, 4), OK);
        is(add_tensor(model, OH_NN_FLOAT32, dims, 2, OH_NN_TENSOR, NULL, 0), OK);
        is(add_operation(model, OH_NN_OPS_SHAPE, NULL, 0, in, 1, mid, 1), OK);
        is(add_operation(model, OH_NN_OPS_CONSTANT_OF_SHAPE, params, 2, mid, 1, out, 1), OK);
        is(specify(model, in, 1, out, 1), OK);
        is(OH_NNModel_Finish(model), OK);
        is(run_model(model, data, results), cases[i].code);
        if (cases[i].code == OK)
            assert_memory_equal(y, filled, sizeof(filled));
        OH_NNModel_Destroy(&model);
    }
    for (int k = 0; k < 2; k++) {
        static const double scale = 0.5;
        static const int32_t zero = 0;
        static const uint32_t bits = 8;
        OH_NNModel *model = OH_NNModel_Construct();
        NN_QuantParam *q = OH_NNQuantParam_Create();
        OH_NNCompilation *c;
        uint32_t in[1] = {0}, out[1] = {1}, params[2] = {2, 3};
        const int64_t from = OH_NN_FLOAT32, to = k == 0 ? OH_NN_INT8 : 99;
        is(OH_NNQuantParam_SetScales(q, &scale, 1), OK);
        is(OH_NNQuantParam_SetZeroPoints(q, &zero, 1), OK);
        is(OH_NNQuantParam_SetNumBits(q, &bits, 1), OK);
        is(add_tensor(model, OH_NN_FLOAT32, two, 1, OH_NN_TENSOR, NULL, 0), OK);
        is(add_tensor(model, OH_NN_INT8, two, 1, OH_NN_TENSOR, NULL, 0), OK);
        is(OH_NNModel_SetTensorQuantParams(model, 1, q), OK);
        is(add_tensor(model, OH_NN_INT64, NULL, 0, OH_NN_QUANT_DTYPE_CAST_SRC_T, &from, 8), OK);
        is(add_tensor(model, OH_NN_INT64, NULL, 0, OH_NN_QUANT_DTYPE_CAST_DST_T, &to, 8), OK);
        is(add_operation(model, OH_NN_OPS_QUANT_DTYPE_CAST, params, 2, in, 1, out, 1), OK);
        is(specify(model, in, 1, out, 1), OK);
        is(OH_NNModel_Finish(model), OK);
        c = OH_NNCompilation_Construct(model);
        is(OH_NNCompilation_Build(c), k == 0 ? OK : OH_NN_FAILED);
        OH_NNCompilation_Destroy(&c);
        OH_NNModel_Destroy(&model);
        is(OH_NNQuantParam_Destroy(&q), OK);
    }
}

/* TOP_K's k as INT8, INT32 and INT64, a constant and an input. */
static void top_k_types(void **state)
{
    static const OH_NN_DataType types_[3] = {OH_NN_INT8, OH_NN_INT32, OH_NN_INT64};
    static const float x[6] = {0, 4, 1, 5, 2, 3}, values[2] = {5, 4};
    static const int32_t indices[2] = {3, 1}, xDims[2] = {1, 6}, yDims[2] = {1, 2};
    (void)state;
    for (int t = 0; t < 6; t++) {
        const bool constant = t < 3, sorted = true;
        const OH_NN_DataType type = types_[t % 3];
        const size_t size = bytes_of(type, NULL, 0);
        OH_NNModel *model = OH_NNModel_Construct();
        OH_NNCompilation *c;
        OH_NNExecutor *e;
        NN_TensorDesc *desc;
        NN_Tensor *in[2], *out[2];
        uint32_t inputs[2] = {0, 1}, outputs[2] = {3, 4}, params[1] = {2};
        int64_t k = 2; /* little-endian, as tests run: its first bytes are the number in every type */
        is(add_tensor(model, OH_NN_FLOAT32, xDims, 2, OH_NN_TENSOR, NULL, 0), OK);
        is(add_tensor(model, type, NULL, 0, OH_NN_TENSOR, constant ? &k : NULL, size), OK);
        is(add_tensor(model, OH_NN_BOOL, NULL, 0, OH_NN_TOP_K_SORTED, &sorted, 1), OK);
        is(add_tensor(model, OH_NN_FLOAT32, yDims, 2, OH_NN_TENSOR, NULL, 0), OK);
        is(add_tensor(model, OH_NN_INT32, yDims, 2, OH_NN_TENSOR, NULL, 0), OK);
        is(add_operation(model, OH_NN_OPS_TOP_K, params, 1, inputs, 2, outputs, 2), OK);
        is(specify(model, inputs, constant ? 1 : 2, outputs, 2), OK);
        is(OH_NNModel_Finish(model), OK);
        c = OH_NNCompilation_Construct(model);
        is(OH_NNCompilation_Build(c), OK);
        e = OH_NNExecutor_Construct(c);
        in[0] = tensor_of(OH_NN_FLOAT32, xDims, 2, x, sizeof(x));
        if (!constant) {
            desc = OH_NNExecutor_CreateInputTensorDesc(e, 1); /* a scalar's */
            in[1] = OH_NNTensor_Create(0, desc);
            assert_non_null(in[1]);
            memcpy(OH_NNTensor_GetDataBuffer(in[1]), &k, size);
            is(OH_NNTensorDesc_Destroy(&desc), OK);
        }
        out[0] = tensor_of(OH_NN_FLOAT32, yDims, 2, NULL, 8);
        out[1] = tensor_of(OH_NN_INT32, yDims, 2, NULL, 8);
        is(OH_NNExecutor_RunSync(e, in, constant ? 1 : 2, out, 2), OK);
        assert_memory_equal(OH_NNTensor_GetDataBuffer(out[0]), values, 8);
        assert_memory_equal(OH_NNTensor_GetDataBuffer(out[1]), indices, 8);
        is(OH_NNTensor_Destroy(&in[0]), OK);
        if (!constant)
            is(OH_NNTensor_Destroy(&in[1]), OK);
        is(OH_NNTensor_Destroy(&out[0]), OK);
        is(OH_NNTensor_Destroy(&out[1]), OK);
        OH_NNExecutor_Destroy(&e);
        OH_NNCompilation_Destroy(&c);
        OH_NNModel_Destroy(&model);
    }
}

/* INSTANCE_NORM of [1,a,2,b] of a format: Build's code, or the largest distance of the result from the one for the channel
   order `first`, in `*error`. With pool, a MAX_POOL with a 1x1 kernel follows. */
static OH_NN_ReturnCode instance_norm(int32_t a, int32_t b, int32_t channels, OH_NN_Format format, bool pool, bool first,
                                      float *error)
{
    static const float scale[3] = {1, 2, 4}, bias[3] = {0, 10, 20};
    static const int64_t ones[2] = {1, 1};
    const int32_t dims[4] = {1, a, 2, b}, length[1] = {channels};
    OH_NNModel *model = OH_NNModel_Construct();
    uint32_t in[3] = {0, 1, 2}, out[1] = {3}, last[1] = {4}, params[2] = {5, 6}, inputs[1] = {0};
    const int32_t step = first ? 1 : b, spread = first ? 2 * b : 1; /* between a channel's elements, between channels */
    float x[32], wanted[32], y[32] = {0};
    const void *data[1];
    void *results[1];
    OH_NN_ReturnCode code;
    data[0] = x;
    results[0] = y;
    for (int32_t c = 0; c < channels; c++)
        for (int32_t i = 0; i < 2 * a * b / channels; i++) { /* mean 5 c, variance 1 */
            x[c * spread + i * step] = 5.0f * (float)c + (i % 2 == 0 ? 1.0f : -1.0f);
            wanted[c * spread + i * step] = bias[c] + scale[c] * (i % 2 == 0 ? 1.0f : -1.0f);
        }
    for (int k = 0; k < 5; k++) {
        const bool image = k == 0 || k > 2;
        NN_TensorDesc *desc = desc_of(OH_NN_FLOAT32, image ? dims : length, image ? 4 : 1);
        if (image)
            is(OH_NNTensorDesc_SetFormat(desc, format), OK);
        is(OH_NNModel_AddTensorToModel(model, desc), OK);
        is(OH_NNTensorDesc_Destroy(&desc), OK);
    }
    is(OH_NNModel_SetTensorData(model, 1, scale, 4 * (size_t)channels), OK);
    is(OH_NNModel_SetTensorData(model, 2, bias, 4 * (size_t)channels), OK);
    is(add_operation(model, OH_NN_OPS_INSTANCE_NORM, NULL, 0, in, 3, out, 1), OK);
    if (pool) {
        const int32_t two[1] = {2};
        is(add_tensor(model, OH_NN_INT64, two, 1, OH_NN_MAX_POOL_KERNEL_SIZE, ones, 16), OK);
        is(add_tensor(model, OH_NN_INT64, two, 1, OH_NN_MAX_POOL_STRIDE, ones, 16), OK);
    
        is(add_operation(model, OH_NN_OPS_MAX_POOL, params, 2, out, 1, last, 1), OK);
    }
    is(specify(model, inputs, 1, pool ? last : out, 1), OK);
    is(OH_NNModel_Finish(model), OK);
    code = run_model(model, data, results);
    *error = 0;
    for (int32_t i = 0; i < 2 * a * b && code == OK; i++) {
        const float off = y[i] > wanted[i] ? y[i] - wanted[i] : wanted[i] - y[i];
        *error = off > *error ? off : *error;
    }
    OH_NNModel_Destroy(&model);
    return code;
}

/* Without a format an image is channels last; INSTANCE_NORM's is channels first if only that fits the scale. */
static void instance_norms(void **state)
{
    float error;
    (void)state;
    is(instance_norm(3, 2, 3, OH_NN_FORMAT_NONE, false, true, &error), OK);
    assert_true(error < 1e-4f);
    is(instance_norm(3, 2, 3, OH_NN_FORMAT_ND, false, true, &error), OK);
    assert_true(error < 1e-4f);
    is(instance_norm(2, 3, 3, OH_NN_FORMAT_NONE, false, false, &error), OK);
    assert_true(error < 1e-4f);
    is(instance_norm(3, 3, 3, OH_NN_FORMAT_NONE, false, false, &error), OK); /* both fit */
    assert_true(error < 1e-4f);
    is(instance_norm(3, 2, 3, OH_NN_FORMAT_NCHW, false, true, &error), OK);
    assert_true(error < 1e-4f);
    is(instance_norm(3, 2, 3, OH_NN_FORMAT_NHWC, false, true, &error), OH_NN_FAILED);
    is(instance_norm(2, 2, 3, OH_NN_FORMAT_NONE, false, true, &error), OH_NN_FAILED); /* none fits */
    /* the pool reads its input as channels last: one of the two would be wrong */
    is(instance_norm(3, 2, 3, OH_NN_FORMAT_NONE, true, true, &error), OH_NN_FAILED);
    is(instance_norm(3, 2, 3, OH_NN_FORMAT_NCHW, true, true, &error), OK);
    assert_true(error < 1e-4f);
    is(instance_norm(2, 3, 3, OH_NN_FORMAT_NONE, true, false, &error), OK);
    assert_true(error < 1e-4f);
}

/* An output without axes, by RunSync and by the deprecated functions, twice. */
static void scalar_output(void **state)
{
    const int32_t dims[3] = {2, 3, 4}, one[1] = {1};
    const float x[24] = {0};
    OH_NNModel *model = OH_NNModel_Construct();
    OH_NNCompilation *c;
    OH_NNExecutor *e;
    uint32_t in[1] = {0}, out[1] = {1};
    OH_NN_Tensor t = {OH_NN_FLOAT32, 3, dims, NULL, OH_NN_TENSOR};
    NN_TensorDesc *desc;
    NN_Tensor *inputs[1], *outputs[1];
    int32_t result = 0;
    size_t count = 7, bytes = 7;
    (void)state;
    is(add_tensor(model, OH_NN_FLOAT32, dims, 3, OH_NN_TENSOR, NULL, 0), OK);
    is(add_tensor(model, OH_NN_INT32, NULL, 0, OH_NN_TENSOR, NULL, 0), OK);
    is(add_operation(model, OH_NN_OPS_RANK, NULL, 0, in, 1, out, 1), OK);
    is(specify(model, in, 1, out, 1), OK);
    is(OH_NNModel_Finish(model), OK);
    c = OH_NNCompilation_Construct(model);
    is(OH_NNCompilation_Build(c), OK);
    OH_NNModel_Destroy(&model);
    e = OH_NNExecutor_Construct(c);
    OH_NNCompilation_Destroy(&c);
    desc = OH_NNExecutor_CreateOutputTensorDesc(e, 0);
    is(OH_NNTensorDesc_GetElementCount(desc, &count), OK);
    is(OH_NNTensorDesc_GetByteSize(desc, &bytes), OK);
    assert_true(count == 1 && bytes == 4);
    inputs[0] = tensor_of(OH_NN_FLOAT32, dims, 3, x, sizeof(x));
    for (int k = 0; k < 2; k++) { /* of the executor's description, and of the program's, of one element */
        outputs[0] = k == 0 ? OH_NNTensor_Create(0, desc) : tensor_of(OH_NN_INT32, one, 1, NULL, 4);
        assert_non_null(outputs[0]);
        for (int run = 0; run < 2; run++) {
            int32_t *shape = NULL;
            size_t rank = 7;
            memset(OH_NNTensor_GetDataBuffer(outputs[0]), 0, 4);
            is(OH_NNExecutor_RunSync(e, inputs, 1, outputs, 1), OK);
            assert_int_equal(*(int32_t *)OH_NNTensor_GetDataBuffer(outputs[0]), 3);
            is(OH_NNTensorDesc_GetShape(OH_NNTensor_GetTensorDesc(outputs[0]), &shape, &rank), OK);
            assert_true(shape == NULL && rank == 0);
        }
        is(OH_NNTensor_Destroy(&outputs[0]), OK);
    }
    is(OH_NNExecutor_SetInput(e, 0, &t, x, sizeof(x)), OK);
    is(OH_NNExecutor_SetOutput(e, 0, &result, 3), IP);
    is(OH_NNExecutor_SetOutput(e, 0, &result, 4), OK);
    is(OH_NNExecutor_Run(e), OK);
    assert_int_equal(result, 3);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    is(OH_NNTensor_Destroy(&inputs[0]), OK);
    OH_NNExecutor_Destroy(&e);
}

/* ---- memory ---- */

/* Everything once; false where a call says that there is no memory, and then leaves nothing. */
static bool everything(int32_t rows)
{
    static const float x[6] = {1, -2, 3, -4, 5, -6};
    const int32_t dims[2] = {2, 3};
    OH_NNModel *model = NULL;
    OH_NNCompilation *c = NULL;
    OH_NNExecutor *e = NULL;
    NN_TensorDesc *desc = NULL;
    NN_Tensor *in[2] = {NULL, NULL}, *out[1] = {NULL};
    OH_NN_Memory *memory = NULL;
    OH_NN_Tensor t = {OH_NN_FLOAT32, 2, dims, NULL, OH_NN_TENSOR};
    const bool *supported = NULL;
    uint32_t count;
    float result[6] = {0};
    bool good = false;
    if (add_model(&model, rows) != OK || OH_NNModel_GetAvailableOperations(model, 0, &supported, &count) != OK ||
        (c = OH_NNCompilation_Construct(model)) == NULL ||
        OH_NNCompilation_AddExtensionConfig(c, "a", "b", 1) != OK ||
        OH_NNCompilation_AddExtensionConfig(c, "a", "c", 1) != OK || OH_NNCompilation_Build(c) != OK)
        goto end;
    OH_NNModel_Destroy(&model);
    if ((e = OH_NNExecutor_Construct(c)) == NULL || (desc = OH_NNExecutor_CreateInputTensorDesc(e, 0)) == NULL ||
        OH_NNTensorDesc_SetName(desc, "n") != OK || OH_NNTensorDesc_SetShape(desc, dims, 2) != OK ||
        (in[0] = OH_NNTensor_Create(0, desc)) == NULL || (in[1] = OH_NNTensor_Create(0, desc)) == NULL ||
        (out[0] = OH_NNTensor_Create(0, desc)) == NULL)
        goto end;
    memcpy(OH_NNTensor_GetDataBuffer(in[0]), x, 24);
    memcpy(OH_NNTensor_GetDataBuffer(in[1]), x, 24);
    if (OH_NNExecutor_RunSync(e, in, 2, out, 1) != OK || OH_NNExecutor_SetInput(e, 0, &t, x, 24) != OK ||
        (memory = OH_NNExecutor_AllocateInputMemory(e, 1, 24)) == NULL ||
        OH_NNExecutor_SetInputWithMemory(e, 1, &t, memory) != OK || OH_NNExecutor_SetOutput(e, 0, result, 24) != OK ||
        OH_NNExecutor_Run(e) != OK)
        goto end;
    assert_true(((float *)OH_NNTensor_GetDataBuffer(out[0]))[4] == 10 && result[0] == 1);
    good = true;
end:
    OH_NNExecutor_Destroy(&e);
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&model);
    (void)OH_NNTensorDesc_Destroy(&desc);
    (void)OH_NNTensor_Destroy(&in[0]);
    (void)OH_NNTensor_Destroy(&in[1]);
    (void)OH_NNTensor_Destroy(&out[0]);
    return good;
}

static void allocations(void **state)
{
    (void)state;
    for (int32_t rows = -1; rows <= 2; rows += 3) {
        const int64_t before = heap_live;
        bool good = false;
        int64_t n = 0;
        while (!good) {
            heap_calls = 0;
            heap_fail_at = ++n;
            good = everything(rows);
            assert_true(good == (heap_calls < n)); /* each failure is reported */
            assert_int_equal(heap_live, before);
            assert_true(n < 1000);
        }
        heap_fail_at = 0;
        assert_true(n > 40);
        assert_true(everything(rows));
    }
}

/* ---- all functions are tested ---- */

/* The functions of the API, in the order of its specification, and the test that calls each. */
static const char *const functions[75][2] = {
    {"OH_NNDevice_GetAllDevicesID", "devices"},
    {"OH_NNDevice_GetName", "devices"},
    {"OH_NNDevice_GetType", "devices"},
    {"OH_NNCompilation_Construct", "compilations"},
    {"OH_NNCompilation_ConstructWithOfflineModelFile", "offline"},
    {"OH_NNCompilation_ConstructWithOfflineModelBuffer", "offline"},
    {"OH_NNCompilation_ConstructForCache", "compilations"},
    {"OH_NNCompilation_ExportCacheToBuffer", "buffers"},
    {"OH_NNCompilation_ImportCacheFromBuffer", "buffers"},
    {"OH_NNCompilation_AddExtensionConfig", "compilations"},
    {"OH_NNCompilation_SetDevice", "compilations"},
    {"OH_NNCompilation_SetCache", "compilations"},
    {"OH_NNCompilation_SetPerformanceMode", "compilations"},
    {"OH_NNCompilation_SetPriority", "compilations"},
    {"OH_NNCompilation_EnableFloat16", "compilations"},
    {"OH_NNCompilation_Build", "compilations"},
    {"OH_NNCompilation_Destroy", "compilations"},
    {"OH_NNTensorDesc_Create", "descriptions"},
    {"OH_NNTensorDesc_Destroy", "descriptions"},
    {"OH_NNTensorDesc_SetName", "descriptions"},
    {"OH_NNTensorDesc_GetName", "descriptions"},
    {"OH_NNTensorDesc_SetDataType", "descriptions"},
    {"OH_NNTensorDesc_GetDataType", "descriptions"},
    {"OH_NNTensorDesc_SetShape", "descriptions"},
    {"OH_NNTensorDesc_GetShape", "descriptions"},
    {"OH_NNTensorDesc_SetFormat", "descriptions"},
    {"OH_NNTensorDesc_GetFormat", "descriptions"},
    {"OH_NNTensorDesc_GetElementCount", "descriptions"},
    {"OH_NNTensorDesc_GetByteSize", "descriptions"},
    {"OH_NNTensor_Create", "tensors"},
    {"OH_NNTensor_CreateWithSize", "tensors"},
    {"OH_NNTensor_CreateWithFd", "tensors"},
    {"OH_NNTensor_Destroy", "tensors"},
    {"OH_NNTensor_GetTensorDesc", "tensors"},
    {"OH_NNTensor_GetDataBuffer", "tensors"},
    {"OH_NNTensor_GetFd", "tensors"},
    {"OH_NNTensor_GetSize", "tensors"},
    {"OH_NNTensor_GetOffset", "tensors"},
    {"OH_NNExecutor_Construct", "executors"},
    {"OH_NNExecutor_GetOutputShape", "executors"},
    {"OH_NNExecutor_Destroy", "executors"},
    {"OH_NNExecutor_GetInputCount", "executors"},
    {"OH_NNExecutor_GetOutputCount", "executors"},
    {"OH_NNExecutor_CreateInputTensorDesc", "executors"},
    {"OH_NNExecutor_CreateOutputTensorDesc", "executors"},
    {"OH_NNExecutor_GetInputDimRange", "executors"},
    {"OH_NNExecutor_SetOnRunDone", "asynchronous"},
    {"OH_NNExecutor_SetOnServiceDied", "asynchronous"},
    {"OH_NNExecutor_RunSync", "runs"},
    {"OH_NNExecutor_RunAsync", "asynchronous"},
    {"OH_NNQuantParam_Create", "quantisation"},
    {"OH_NNQuantParam_SetScales", "quantisation"},
    {"OH_NNQuantParam_SetZeroPoints", "quantisation"},
    {"OH_NNQuantParam_SetNumBits", "quantisation"},
    {"OH_NNQuantParam_Destroy", "quantisation"},
    {"OH_NNModel_Construct", "building"},
    {"OH_NNModel_AddTensorToModel", "building"},
    {"OH_NNModel_SetTensorData", "building"},
    {"OH_NNModel_SetTensorQuantParams", "quantisation"},
    {"OH_NNModel_SetTensorType", "building"},
    {"OH_NNModel_AddOperation", "operations"},
    {"OH_NNModel_SpecifyInputsAndOutputs", "operations"},
    {"OH_NNModel_Finish", "operations"},
    {"OH_NNModel_Destroy", "building"},
    {"OH_NNModel_GetAvailableOperations", "available"},
    {"OH_NNModel_AddTensor", "building"},
    {"OH_NNExecutor_SetInput", "deprecated"},
    {"OH_NNExecutor_SetOutput", "deprecated"},
    {"OH_NNExecutor_Run", "deprecated"},
    {"OH_NNExecutor_AllocateInputMemory", "deprecated"},
    {"OH_NNExecutor_AllocateOutputMemory", "deprecated"},
    {"OH_NNExecutor_DestroyInputMemory", "deprecated"},
    {"OH_NNExecutor_DestroyOutputMemory", "deprecated"},
    {"OH_NNExecutor_SetInputWithMemory", "deprecated"},
    {"OH_NNExecutor_SetOutputWithMemory", "deprecated"}};

static char *text_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = (char *)malloc(400000);
    size_t length;
    assert_non_null(file);
    length = fread(text, 1, 399999, file);
    assert_true(length < 399999);
    text[length] = '\0';
    (void)fclose(file);
    return text;
}

/* The headers declare these functions and no others, and each test calls the functions in the table. */
static void all_functions(void **state)
{
    char *headers[2] = {text_of("compat/neural_network_runtime/neural_network_core.h"),
                        text_of("compat/neural_network_runtime/neural_network_runtime.h")};
    char *tests = text_of("tests/compat/test_ohnn.c");
    uint32_t declared = 0;
    (void)state;
    for (int h = 0; h < 2; h++)
        for (const char *at = headers[h]; (at = strstr(at, "\nNNRT_OHNN_API ")) != NULL; at++)
            declared++;
    assert_int_equal(declared, 75);
    for (uint32_t i = 0; i < 75; i++) {
        char call[80], begin[80];
        const char *body, *end, *found;
        (void)snprintf(call, sizeof(call), "%s(", functions[i][0]);
        (void)snprintf(begin, sizeof(begin), "static void %s(void **state)\n{", functions[i][1]);
        found = strstr(headers[i < 50 ? 0 : 1], call);
        if (found == NULL)
            fail_msg("%s is not declared", functions[i][0]);
        body = strstr(tests, begin);
        assert_non_null(body);
        end = strstr(body, "\n}\n");
        assert_non_null(end);
        found = strstr(body, call);
        if (found == NULL || found > end)
            fail_msg("%s is not called by the test %s", functions[i][0], functions[i][1]);
    }
    free(headers[0]);
    free(headers[1]);
    free(tests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameter_rows),
        cmocka_unit_test(types),        cmocka_unit_test(devices),     cmocka_unit_test(descriptions),
        cmocka_unit_test(tensors),      cmocka_unit_test(quantisation), cmocka_unit_test(building),
        cmocka_unit_test(operations),   cmocka_unit_test(parameters),  cmocka_unit_test(arities),
        cmocka_unit_test(compilations), cmocka_unit_test(offline),     cmocka_unit_test(available),
        cmocka_unit_test(caches),       cmocka_unit_test(buffers),     cmocka_unit_test(foreign),
        cmocka_unit_test(foreign_refused),                             cmocka_unit_test(foreign_open),
        cmocka_unit_test(caches_without_memory),
        cmocka_unit_test(executors),    cmocka_unit_test(asynchronous),  cmocka_unit_test(later),
        cmocka_unit_test(builtin_later), cmocka_unit_test(never_asynchronous), cmocka_unit_test(runs),
        cmocka_unit_test(logged), cmocka_unit_test(options_refused), cmocka_unit_test(deprecated_memory), cmocka_unit_test(priorities),
        cmocka_unit_test(serialised),
        cmocka_unit_test(misaligned),   cmocka_unit_test(device_memory), cmocka_unit_test(deprecated),  cmocka_unit_test(dynamic), cmocka_unit_test(shapes_kept),
        cmocka_unit_test(operators),    cmocka_unit_test(quantized),   cmocka_unit_test(refused),
        cmocka_unit_test(model_gone),   cmocka_unit_test(mixed_types), cmocka_unit_test(types_at_build),
        cmocka_unit_test(top_k_types),  cmocka_unit_test(instance_norms), cmocka_unit_test(scalar_output),
        cmocka_unit_test(allocations),  cmocka_unit_test(all_functions)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (heap_live != 0)
        (void)fprintf(stderr, "%lld blocks are left\n", (long long)heap_live);
    return failed + (heap_live != 0);
}
