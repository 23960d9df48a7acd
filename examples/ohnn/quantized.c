/* A quantized layer with OpenHarmony's OH_NN API, like in a program for OpenHarmony: y = relu(W x + b) in int8; a
   stored value q of a tensor means scale * (q - zeroPoint). In nnrt's repository, as C or as C++:
   make lib && cc -std=c99 -Icompat examples/ohnn/quantized.c -o quantized -Lbuild -lneural_network_runtime -Wl,-rpath,build
   ./quantized */
#include <neural_network_runtime/neural_network_runtime.h>

#include <stdio.h>
#include <string.h>

#define CHECK(call)                                                                                                    \
    if ((code = (call)) != OH_NN_SUCCESS) {                                                                            \
        fprintf(stderr, "%s: %d\n", #call, (int)code);                                                                 \
        goto end;                                                                                                      \
    }

enum { X, W, B, ACTIVATION, Y };

static const double scales[] = {0.5, 0.25, 0.125, 0, 0.5}; /* b: scale of x times scale of W */
static const int32_t zeroPoints[] = {3, 0, 0, 0, -10};

/* Appends tensor number index. scales[index] 0: it is not quantized; data makes it a constant or a parameter. */
static OH_NN_ReturnCode add(OH_NNModel *model, uint32_t index, OH_NN_DataType dataType, const int32_t *shape,
                            size_t rank, OH_NN_TensorType type, const void *data, size_t bytes)
{
    const uint32_t bits = 8;
    NN_TensorDesc *desc = OH_NNTensorDesc_Create();
    NN_QuantParam *quant = OH_NNQuantParam_Create();
    OH_NN_ReturnCode code = OH_NN_MEMORY_ERROR;
    if (desc == NULL || quant == NULL)
        goto end;
    CHECK(OH_NNTensorDesc_SetDataType(desc, dataType))
    if (rank > 0)
        CHECK(OH_NNTensorDesc_SetShape(desc, shape, rank))
    CHECK(OH_NNModel_AddTensorToModel(model, desc))
    CHECK(OH_NNModel_SetTensorType(model, index, type))
    if (scales[index] > 0) {
        CHECK(OH_NNQuantParam_SetScales(quant, &scales[index], 1))
        CHECK(OH_NNQuantParam_SetZeroPoints(quant, &zeroPoints[index], 1))
        CHECK(OH_NNQuantParam_SetNumBits(quant, &bits, 1))
        CHECK(OH_NNModel_SetTensorQuantParams(model, index, quant))
    }
    if (data != NULL)
        CHECK(OH_NNModel_SetTensorData(model, index, data, bytes))
end:
    OH_NNQuantParam_Destroy(&quant);
    OH_NNTensorDesc_Destroy(&desc);
    return code;
}

/* One FULL_CONNECTION of 4 numbers to 3. */
static OH_NN_ReturnCode build(OH_NNModel *model)
{
    static const int8_t weights[12] = {4, 0, 0, 1, /**/ 2, 2, 2, 2, /**/ -4, 4, 0, 0}; /* times 0.25 */
    static const int32_t bias[3] = {2, 2, 8};                                          /* times 0.125 */
    const int32_t xShape[2] = {1, 4}, wShape[2] = {3, 4}, bShape[1] = {3}, yShape[2] = {1, 3};
    const int8_t relu = OH_NN_FUSED_RELU;
    uint32_t ins[3] = {X, W, B}, param[1] = {ACTIVATION}, outs[1] = {Y};
    const OH_NN_UInt32Array inputs = {ins, 3}, params = {param, 1}, outputs = {outs, 1}, modelInputs = {ins, 1};
    OH_NN_ReturnCode code;
    CHECK(add(model, X, OH_NN_INT8, xShape, 2, OH_NN_TENSOR, NULL, 0))
    CHECK(add(model, W, OH_NN_INT8, wShape, 2, OH_NN_TENSOR, weights, sizeof(weights)))
    CHECK(add(model, B, OH_NN_INT32, bShape, 1, OH_NN_TENSOR, bias, sizeof(bias)))
    CHECK(add(model, ACTIVATION, OH_NN_INT8, NULL, 0, OH_NN_FULL_CONNECTION_ACTIVATIONTYPE, &relu, sizeof(relu)))
    CHECK(add(model, Y, OH_NN_INT8, yShape, 2, OH_NN_TENSOR, NULL, 0))
    CHECK(OH_NNModel_AddOperation(model, OH_NN_OPS_FULL_CONNECTION, &params, &inputs, &outputs))
    CHECK(OH_NNModel_SpecifyInputsAndOutputs(model, &modelInputs, &outputs))
    CHECK(OH_NNModel_Finish(model))
end:
    return code;
}

int main(void)
{
    static const double real[4] = {1, -2, 0.5, 3};
    OH_NNModel *model = OH_NNModel_Construct();
    OH_NNCompilation *compilation = NULL;
    OH_NNExecutor *executor = NULL;
    NN_Tensor *tensors[2] = {NULL, NULL}; /* x, y */
    const size_t *devices = NULL;
    int8_t *x, *y;
    uint32_t count = 0;
    OH_NN_ReturnCode code = OH_NN_MEMORY_ERROR;
    if (model == NULL)
        goto end;
    CHECK(build(model))
    CHECK(OH_NNDevice_GetAllDevicesID(&devices, &count))
    code = OH_NN_MEMORY_ERROR;
    if (count == 0 || (compilation = OH_NNCompilation_Construct(model)) == NULL)
        goto end;
    CHECK(OH_NNCompilation_SetDevice(compilation, devices[0]))
    CHECK(OH_NNCompilation_Build(compilation))
    code = OH_NN_MEMORY_ERROR;
    if ((executor = OH_NNExecutor_Construct(compilation)) == NULL)
        goto end;
    for (int i = 0; i < 2; i++) {
        NN_TensorDesc *desc = i == 0 ? OH_NNExecutor_CreateInputTensorDesc(executor, 0)
                                     : OH_NNExecutor_CreateOutputTensorDesc(executor, 0);
        tensors[i] = OH_NNTensor_Create(devices[0], desc);
        OH_NNTensorDesc_Destroy(&desc);
        if (tensors[i] == NULL)
            goto end;
    }
    x = (int8_t *)OH_NNTensor_GetDataBuffer(tensors[0]);
    y = (int8_t *)OH_NNTensor_GetDataBuffer(tensors[1]);
    for (int i = 0; i < 4; i++)
        x[i] = (int8_t)(real[i] / scales[X] + zeroPoints[X]);
    CHECK(OH_NNExecutor_RunSync(executor, tensors, 1, tensors + 1, 1))
    for (int i = 0; i < 3; i++)
        printf("%s%d stands for %g", i > 0 ? ", " : "", y[i], scales[Y] * (y[i] - zeroPoints[Y]));
    printf("\n");
end:
    for (int i = 0; i < 2; i++)
        OH_NNTensor_Destroy(&tensors[i]);
    OH_NNExecutor_Destroy(&executor);
    OH_NNCompilation_Destroy(&compilation);
    OH_NNModel_Destroy(&model);
    return code != OH_NN_SUCCESS;
}
