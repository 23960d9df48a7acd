/* Dynamic batch size with OpenHarmony's OH_NN API: a model whose first dimension is dynamic (-1) is compiled once and
   run with 1 to 3 rows; y = x W for rows of 2 numbers. In nnrt's repository, as C or as C++:
   make lib && cc -std=c99 -Icompat examples/ohnn/dynamic.c -o dynamic -Lbuild -lneural_network_runtime -Wl,-rpath,build
   ./dynamic */
#include <neural_network_runtime/neural_network_runtime.h>

#include <stdio.h>
#include <string.h>

#define CHECK(call)                                                                                                    \
    if ((code = (call)) != OH_NN_SUCCESS) {                                                                            \
        fprintf(stderr, "%s: %d\n", #call, (int)code);                                                                 \
        goto end;                                                                                                      \
    }

enum { ROWS = 3 }; /* maximum in this program */

static NN_TensorDesc *describe(int32_t rows, int32_t columns)
{
    const int32_t shape[2] = {rows, columns};
    NN_TensorDesc *desc = OH_NNTensorDesc_Create();
    if (desc != NULL && (OH_NNTensorDesc_SetDataType(desc, OH_NN_FLOAT32) != OH_NN_SUCCESS ||
                         OH_NNTensorDesc_SetShape(desc, shape, 2) != OH_NN_SUCCESS))
        OH_NNTensorDesc_Destroy(&desc);
    return desc;
}

static OH_NN_ReturnCode build(OH_NNModel *model)
{
    static const float weights[4] = {1, 10, /**/ 2, 20};
    uint32_t ins[2] = {0, 1}, outs[1] = {2};
    const OH_NN_UInt32Array inputs = {ins, 2}, none = {NULL, 0}, outputs = {outs, 1}, modelInputs = {ins, 1};
    OH_NN_ReturnCode code = OH_NN_SUCCESS;
    for (uint32_t i = 0; i < 3; i++) {
        NN_TensorDesc *desc = describe(i == 1 ? 2 : -1, 2); /* x, W, y */
        code = OH_NNModel_AddTensorToModel(model, desc);
        OH_NNTensorDesc_Destroy(&desc);
        if (code == OH_NN_SUCCESS)
            code = OH_NNModel_SetTensorType(model, i, OH_NN_TENSOR);
        if (code != OH_NN_SUCCESS)
            return code;
    }
    CHECK(OH_NNModel_SetTensorData(model, 1, weights, sizeof(weights)))
    CHECK(OH_NNModel_AddOperation(model, OH_NN_OPS_MATMUL, &none, &inputs, &outputs))
    CHECK(OH_NNModel_SpecifyInputsAndOutputs(model, &modelInputs, &outputs))
    CHECK(OH_NNModel_Finish(model))
end:
    return code;
}

/* Runs the first rows of x. The output tensor has room for the maximum; the run sets its actual shape. */
static OH_NN_ReturnCode run(OH_NNExecutor *executor, size_t device, int32_t rows)
{
    static const float data[2 * ROWS] = {1, 0, /**/ 0, 1, /**/ 1, 1};
    NN_TensorDesc *xDesc = describe(rows, 2), *yDesc = OH_NNExecutor_CreateOutputTensorDesc(executor, 0);
    NN_Tensor *x = OH_NNTensor_Create(device, xDesc);
    NN_Tensor *y = OH_NNTensor_CreateWithSize(device, yDesc, sizeof(data));
    OH_NN_ReturnCode code = OH_NN_MEMORY_ERROR;
    int32_t *shape = NULL;
    uint32_t rank = 0;
    if (x == NULL || y == NULL)
        goto end;
    memcpy(OH_NNTensor_GetDataBuffer(x), data, (size_t)rows * 2 * sizeof(data[0]));
    CHECK(OH_NNExecutor_RunSync(executor, &x, 1, &y, 1))
    CHECK(OH_NNExecutor_GetOutputShape(executor, 0, &shape, &rank))
    printf("%dx%d:", (int)shape[0], (int)shape[1]);
    for (int32_t i = 0; i < shape[0] * shape[1]; i++)
        printf(" %g", (double)((const float *)OH_NNTensor_GetDataBuffer(y))[i]);
    printf("\n");
end:
    OH_NNTensor_Destroy(&x);
    OH_NNTensor_Destroy(&y);
    OH_NNTensorDesc_Destroy(&xDesc);
    OH_NNTensorDesc_Destroy(&yDesc);
    return code;
}

int main(void)
{
    OH_NNModel *model = OH_NNModel_Construct();
    OH_NNCompilation *compilation = NULL;
    OH_NNExecutor *executor = NULL;
    const size_t *devices = NULL;
    size_t *least = NULL, *most = NULL, rank = 0;
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
    CHECK(OH_NNExecutor_GetInputDimRange(executor, 0, &least, &most, &rank))
    code = OH_NN_INVALID_PARAMETER;
    if (rank != 2 || least[0] > 1 || most[0] < ROWS)
        goto end;
    for (int32_t rows = 1; rows <= ROWS; rows++)
        CHECK(run(executor, devices[0], rows))
end:
    OH_NNExecutor_Destroy(&executor);
    OH_NNCompilation_Destroy(&compilation);
    OH_NNModel_Destroy(&model);
    return code != OH_NN_SUCCESS;
}
