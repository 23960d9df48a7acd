/* Shared by the tests of OpenHarmony's API: memory that is counted and can be made to fail; tensors and models. Include
   after cmocka.h. */
#ifndef OHNN_KIT_H
#define OHNN_KIT_H

#include "counted.h"

#ifndef NNRT_THREADS
#define NNRT_THREADS 1
#endif
#include "compat/nnrt_ohnn.h"
#include "fakes.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define IP OH_NN_INVALID_PARAMETER
#define OF OH_NN_OPERATION_FORBIDDEN
#define OK OH_NN_SUCCESS
#define is(call, code) assert_int_equal(call, code)

static OH_NN_UInt32Array list_of(uint32_t *data, uint32_t size)
{
    OH_NN_UInt32Array list;
    list.data = data;
    list.size = size;
    return list;
}

/* rank 0: no shape is set. */
static NN_TensorDesc *desc_of(OH_NN_DataType type, const int32_t *dims, size_t rank)
{
    NN_TensorDesc *desc = OH_NNTensorDesc_Create();
    if (desc == NULL)
        return NULL;
    is(OH_NNTensorDesc_SetDataType(desc, type), OK);
    if (rank > 0)
        is(OH_NNTensorDesc_SetShape(desc, dims, rank), OK);
    return desc;
}

static OH_NN_ReturnCode add_tensor(OH_NNModel *model, OH_NN_DataType type, const int32_t *dims, size_t rank,
                                   OH_NN_TensorType kind, const void *data, size_t bytes)
{
    NN_TensorDesc *desc = desc_of(type, dims, rank);
    const uint32_t index = model->graph->nValues;
    OH_NN_ReturnCode code;
    if (desc == NULL)
        return OH_NN_MEMORY_ERROR;
    code = OH_NNModel_AddTensorToModel(model, desc);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    if (code == OK)
        code = OH_NNModel_SetTensorType(model, index, kind);
    if (code == OK && data != NULL)
        code = OH_NNModel_SetTensorData(model, index, data, bytes);
    return code;
}

static OH_NN_ReturnCode add_operation(OH_NNModel *model, OH_NN_OperationType op, uint32_t *params, uint32_t nParams,
                                      uint32_t *in, uint32_t nIn, uint32_t *out, uint32_t nOut)
{
    const OH_NN_UInt32Array p = list_of(params, nParams), i = list_of(in, nIn), o = list_of(out, nOut);
    return OH_NNModel_AddOperation(model, op, &p, &i, &o);
}

static OH_NN_ReturnCode specify(OH_NNModel *model, uint32_t *in, uint32_t nIn, uint32_t *out, uint32_t nOut)
{
    const OH_NN_UInt32Array i = list_of(in, nIn), o = list_of(out, nOut);
    return OH_NNModel_SpecifyInputsAndOutputs(model, &i, &o);
}

/* z = relu(x + y), float32 [rows,3]: tensors 3, 0 and 1. The model is not finished. */
static OH_NN_ReturnCode add_parts(OH_NNModel **model, int32_t rows)
{
    const int32_t dims[2] = {rows, 3};
    const int8_t relu = OH_NN_FUSED_RELU;
    uint32_t in[2] = {0, 1}, out[1] = {3}, param[1] = {2};
    OH_NN_ReturnCode code;
    *model = OH_NNModel_Construct();
    if (*model == NULL)
        return OH_NN_MEMORY_ERROR;
    if ((code = add_tensor(*model, OH_NN_FLOAT32, dims, 2, OH_NN_TENSOR, NULL, 0)) != OK ||
        (code = add_tensor(*model, OH_NN_FLOAT32, dims, 2, OH_NN_TENSOR, NULL, 0)) != OK ||
        (code = add_tensor(*model, OH_NN_INT8, dims, 0, OH_NN_ADD_ACTIVATIONTYPE, &relu, 1)) != OK ||
        (code = add_tensor(*model, OH_NN_FLOAT32, dims, 2, OH_NN_TENSOR, NULL, 0)) != OK ||
        (code = add_operation(*model, OH_NN_OPS_ADD, param, 1, in, 2, out, 1)) != OK)
        OH_NNModel_Destroy(model);
    return code;
}

/* That model, finished; x and y are inputs. */
static inline OH_NN_ReturnCode add_model(OH_NNModel **model, int32_t rows)
{
    uint32_t in[2] = {0, 1}, out[1] = {3};
    OH_NN_ReturnCode code = add_parts(model, rows);
    if (code == OK && ((code = specify(*model, in, 2, out, 1)) != OK || (code = OH_NNModel_Finish(*model)) != OK))
        OH_NNModel_Destroy(model);
    return code;
}

static inline NN_Tensor *tensor_of(OH_NN_DataType type, const int32_t *dims, size_t rank, const void *data, size_t bytes)
{
    NN_TensorDesc *desc = desc_of(type, dims, rank);
    NN_Tensor *tensor = OH_NNTensor_CreateWithSize(0, desc, bytes);
    assert_non_null(tensor);
    is(OH_NNTensorDesc_Destroy(&desc), OK);
    if (data != NULL)
        memcpy(OH_NNTensor_GetDataBuffer(tensor), data, bytes);
    return tensor;
}

#endif
