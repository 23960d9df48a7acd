/* Builds, compiles and runs a model with OpenHarmony's OH_NN API, like a program for OpenHarmony: z = relu(x + y) and
   its average over axis 1, for float32 [2,3]. In nnrt's repository, as C or as C++:
   make lib && cc -std=c99 -Icompat examples/ohnn/ohnn.c -o ohnn -Lbuild -lneural_network_runtime -Wl,-rpath,build && ./ohnn */
#include <neural_network_runtime/neural_network_runtime.h>

#include <stdio.h>
#include <string.h>

#define CHECK(call)                                                                                                    \
    if ((code = (call)) != OH_NN_SUCCESS) {                                                                            \
        fprintf(stderr, "%s: %d\n", #call, (int)code);                                                                 \
        goto end;                                                                                                      \
    }

/* Appends a tensor of a type and shape (rank 0: a scalar); data makes it a constant, or the value of a parameter. */
static OH_NN_ReturnCode add(OH_NNModel *model, uint32_t index, OH_NN_DataType dataType, const int32_t *shape,
                            size_t rank, OH_NN_TensorType type, const void *data, size_t bytes)
{
    NN_TensorDesc *desc = OH_NNTensorDesc_Create();
    OH_NN_ReturnCode code = desc != NULL ? OH_NN_SUCCESS : OH_NN_MEMORY_ERROR;
    if (code == OH_NN_SUCCESS)
        code = OH_NNTensorDesc_SetDataType(desc, dataType);
    if (code == OH_NN_SUCCESS && rank > 0)
        code = OH_NNTensorDesc_SetShape(desc, shape, rank);
    if (code == OH_NN_SUCCESS)
        code = OH_NNModel_AddTensorToModel(model, desc);
    if (code == OH_NN_SUCCESS)
        code = OH_NNModel_SetTensorType(model, index, type);
    if (code == OH_NN_SUCCESS && data != NULL)
        code = OH_NNModel_SetTensorData(model, index, data, bytes);
    OH_NNTensorDesc_Destroy(&desc);
    return code;
}

/* Tensors: 0 x, 1 y, 2 the activation of ADD, 3 z, 4 the axis, 5 the average. */
static OH_NN_ReturnCode build(OH_NNModel *model)
{
    const int32_t shape[2] = {2, 3}, one[1] = {1}, row[1] = {2}, axis = 1;
    const int8_t relu = OH_NN_FUSED_RELU;
    uint32_t addIn[2] = {0, 1}, addParam[1] = {2}, addOut[1] = {3}, meanIn[2] = {3, 4}, meanOut[1] = {5};
    uint32_t modelOut[2] = {3, 5};
    const OH_NN_UInt32Array none = {NULL, 0}, in0 = {addIn, 2}, param0 = {addParam, 1}, out0 = {addOut, 1};
    const OH_NN_UInt32Array in1 = {meanIn, 2}, out1 = {meanOut, 1}, outputs = {modelOut, 2};
    OH_NN_ReturnCode code;
    CHECK(add(model, 0, OH_NN_FLOAT32, shape, 2, OH_NN_TENSOR, NULL, 0))
    CHECK(add(model, 1, OH_NN_FLOAT32, shape, 2, OH_NN_TENSOR, NULL, 0))
    CHECK(add(model, 2, OH_NN_INT8, NULL, 0, OH_NN_ADD_ACTIVATIONTYPE, &relu, sizeof(relu)))
    CHECK(add(model, 3, OH_NN_FLOAT32, shape, 2, OH_NN_TENSOR, NULL, 0))
    CHECK(add(model, 4, OH_NN_INT32, one, 1, OH_NN_TENSOR, &axis, sizeof(axis)))
    CHECK(add(model, 5, OH_NN_FLOAT32, row, 1, OH_NN_TENSOR, NULL, 0))
    CHECK(OH_NNModel_AddOperation(model, OH_NN_OPS_ADD, &param0, &in0, &out0))
    CHECK(OH_NNModel_AddOperation(model, OH_NN_OPS_REDUCE_MEAN, &none, &in1, &out1))
    CHECK(OH_NNModel_SpecifyInputsAndOutputs(model, &in0, &outputs))
    CHECK(OH_NNModel_Finish(model))
end:
    return code;
}

int main(void)
{
    static const float data[2][6] = {{0, 1, 2, 3, 4, 5}, {1, 1, 1, 1, 1, -9}};
    OH_NNModel *model = OH_NNModel_Construct();
    OH_NNCompilation *compilation = NULL;
    OH_NNExecutor *executor = NULL;
    NN_Tensor *tensors[4] = {NULL, NULL, NULL, NULL}; /* inputs, then outputs */
    const size_t *devices = NULL;
    const char *name = NULL;
    uint32_t count = 0;
    OH_NN_ReturnCode code = OH_NN_MEMORY_ERROR;
    if (model == NULL)
        goto end;
    CHECK(build(model))
    CHECK(OH_NNDevice_GetAllDevicesID(&devices, &count))
    if (count == 0)
        goto end;
    CHECK(OH_NNDevice_GetName(devices[0], &name))
    code = OH_NN_MEMORY_ERROR;
    if ((compilation = OH_NNCompilation_Construct(model)) == NULL)
        goto end;
    CHECK(OH_NNCompilation_SetDevice(compilation, devices[0]))
    CHECK(OH_NNCompilation_Build(compilation))
    code = OH_NN_MEMORY_ERROR;
    if ((executor = OH_NNExecutor_Construct(compilation)) == NULL)
        goto end;
    for (size_t i = 0; i < 4; i++) {
        NN_TensorDesc *desc = i < 2 ? OH_NNExecutor_CreateInputTensorDesc(executor, i)
                                    : OH_NNExecutor_CreateOutputTensorDesc(executor, i - 2);
        tensors[i] = OH_NNTensor_Create(devices[0], desc);
        OH_NNTensorDesc_Destroy(&desc);
        if (tensors[i] == NULL)
            goto end;
        if (i < 2)
            memcpy(OH_NNTensor_GetDataBuffer(tensors[i]), data[i], sizeof(data[i]));
    }
    CHECK(OH_NNExecutor_RunSync(executor, tensors, 2, tensors + 2, 2))
    printf("%s:", name);
    for (int i = 0; i < 6; i++)
        printf(" %g", (double)((const float *)OH_NNTensor_GetDataBuffer(tensors[2]))[i]);
    printf("; average: %g %g\n", (double)((const float *)OH_NNTensor_GetDataBuffer(tensors[3]))[0],
           (double)((const float *)OH_NNTensor_GetDataBuffer(tensors[3]))[1]);
end:
    for (int i = 0; i < 4; i++)
        OH_NNTensor_Destroy(&tensors[i]);
    OH_NNExecutor_Destroy(&executor);
    OH_NNCompilation_Destroy(&compilation);
    OH_NNModel_Destroy(&model);
    return code != OH_NN_SUCCESS;
}
