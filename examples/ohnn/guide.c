/* The options of OpenHarmony's guide with OH_NN: a model cache, half precision, a performance mode, a priority, and an
   asynchronous run. y = relu(W x + b). The second of two starts loads the model from the cache: two
   files in the folder of the first argument (default: the current folder). In nnrt's repository, as C or as C++:
   make lib && cc -std=c99 -Icompat examples/ohnn/guide.c -o guide -Lbuild -lneural_network_runtime -Wl,-rpath,build -lpthread
   ./guide /tmp
   NNRT_OHNN_LOG=/dev/stderr ./guide /tmp also prints the steps of Build, or the reason of its failure. */
#include <neural_network_runtime/neural_network_runtime.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define CHECK(call)                                                                                                    \
    if ((code = (call)) != OH_NN_SUCCESS) {                                                                            \
        fprintf(stderr, "%s: %d\n", #call, (int)code);                                                                 \
        goto end;                                                                                                      \
    }

enum { X, W, B, ACTIVATION, Y };

/* Appends tensor number index; data makes it a constant or a parameter. */
static OH_NN_ReturnCode add(OH_NNModel *model, uint32_t index, OH_NN_DataType dataType, const int32_t *shape,
                            size_t rank, OH_NN_TensorType type, const void *data, size_t bytes)
{
    NN_TensorDesc *desc = OH_NNTensorDesc_Create();
    OH_NN_ReturnCode code = OH_NN_MEMORY_ERROR;
    if (desc == NULL)
        goto end;
    CHECK(OH_NNTensorDesc_SetDataType(desc, dataType))
    if (rank > 0)
        CHECK(OH_NNTensorDesc_SetShape(desc, shape, rank))
    CHECK(OH_NNModel_AddTensorToModel(model, desc))
    CHECK(OH_NNModel_SetTensorType(model, index, type))
    if (data != NULL)
        CHECK(OH_NNModel_SetTensorData(model, index, data, bytes))
end:
    OH_NNTensorDesc_Destroy(&desc);
    return code;
}

/* One FULL_CONNECTION of 3 numbers to 2. */
static OH_NN_ReturnCode build(OH_NNModel *model)
{
    static const float weights[6] = {1, 0.5f, -2, /**/ 3, 0.25f, 1}, bias[2] = {0.5f, -1};
    const int32_t xShape[2] = {1, 3}, wShape[2] = {2, 3}, bShape[1] = {2}, yShape[2] = {1, 2};
    const int8_t relu = OH_NN_FUSED_RELU;
    uint32_t ins[3] = {X, W, B}, param[1] = {ACTIVATION}, outs[1] = {Y};
    const OH_NN_UInt32Array inputs = {ins, 3}, params = {param, 1}, outputs = {outs, 1}, modelInputs = {ins, 1};
    OH_NN_ReturnCode code;
    CHECK(add(model, X, OH_NN_FLOAT32, xShape, 2, OH_NN_TENSOR, NULL, 0))
    CHECK(add(model, W, OH_NN_FLOAT32, wShape, 2, OH_NN_TENSOR, weights, sizeof(weights)))
    CHECK(add(model, B, OH_NN_FLOAT32, bShape, 1, OH_NN_TENSOR, bias, sizeof(bias)))
    CHECK(add(model, ACTIVATION, OH_NN_INT8, NULL, 0, OH_NN_FULL_CONNECTION_ACTIVATIONTYPE, &relu, sizeof(relu)))
    CHECK(add(model, Y, OH_NN_FLOAT32, yShape, 2, OH_NN_TENSOR, NULL, 0))
    CHECK(OH_NNModel_AddOperation(model, OH_NN_OPS_FULL_CONNECTION, &params, &inputs, &outputs))
    CHECK(OH_NNModel_SpecifyInputsAndOutputs(model, &modelInputs, &outputs))
    CHECK(OH_NNModel_Finish(model))
end:
    return code;
}

/* State of an asynchronous run: the callback wakes the waiting thread. */
typedef struct run {
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool over;
    OH_NN_ReturnCode code;
} run;

static void done(void *userData, OH_NN_ReturnCode code, void *outputTensor[], int32_t outputCount)
{
    run *r = (run *)userData;
    (void)outputTensor;
    (void)outputCount;
    (void)pthread_mutex_lock(&r->mutex);
    r->over = true;
    r->code = code;
    (void)pthread_cond_signal(&r->ended);
    (void)pthread_mutex_unlock(&r->mutex);
}

/* Compiles and runs the model, as an application does at each start. */
static OH_NN_ReturnCode start(const OH_NNModel *model, size_t device, const char *folder, float *y)
{
    static const float x[3] = {4, 8, 1};
    OH_NNCompilation *compilation = OH_NNCompilation_Construct(model);
    OH_NNExecutor *executor = NULL;
    NN_Tensor *tensors[2] = {NULL, NULL};
    run r = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, OH_NN_SUCCESS};
    OH_NN_ReturnCode code = OH_NN_MEMORY_ERROR;
    if (compilation == NULL)
        goto end;
    CHECK(OH_NNCompilation_SetDevice(compilation, device))
    CHECK(OH_NNCompilation_SetCache(compilation, folder, 1))
    CHECK(OH_NNCompilation_EnableFloat16(compilation, true))
    CHECK(OH_NNCompilation_SetPerformanceMode(compilation, OH_NN_PERFORMANCE_EXTREME))
    CHECK(OH_NNCompilation_SetPriority(compilation, OH_NN_PRIORITY_HIGH))
    CHECK(OH_NNCompilation_Build(compilation))
    code = OH_NN_MEMORY_ERROR;
    if ((executor = OH_NNExecutor_Construct(compilation)) == NULL)
        goto end;
    CHECK(OH_NNExecutor_SetOnRunDone(executor, done))
    for (size_t i = 0; i < 2; i++) {
        NN_TensorDesc *desc = i == 0 ? OH_NNExecutor_CreateInputTensorDesc(executor, 0)
                                     : OH_NNExecutor_CreateOutputTensorDesc(executor, 0);
        tensors[i] = OH_NNTensor_Create(device, desc);
        OH_NNTensorDesc_Destroy(&desc);
        if (tensors[i] == NULL) {
            code = OH_NN_MEMORY_ERROR;
            goto end;
        }
    }
    memcpy(OH_NNTensor_GetDataBuffer(tensors[0]), x, sizeof(x));
    CHECK(OH_NNExecutor_RunAsync(executor, tensors, 1, tensors + 1, 1, 10000, &r))
    (void)pthread_mutex_lock(&r.mutex);
    while (!r.over)
        (void)pthread_cond_wait(&r.ended, &r.mutex);
    (void)pthread_mutex_unlock(&r.mutex);
    code = r.code;
    memcpy(y, OH_NNTensor_GetDataBuffer(tensors[1]), 2 * sizeof(*y));
end:
    for (int i = 0; i < 2; i++)
        OH_NNTensor_Destroy(&tensors[i]);
    OH_NNExecutor_Destroy(&executor);
    OH_NNCompilation_Destroy(&compilation);
    return code;
}

int main(int argc, char **argv)
{
    OH_NNModel *model = OH_NNModel_Construct();
    const size_t *devices = NULL;
    uint32_t count = 0;
    OH_NN_ReturnCode code = OH_NN_MEMORY_ERROR;
    if (model == NULL)
        goto end;
    CHECK(build(model))
    CHECK(OH_NNDevice_GetAllDevicesID(&devices, &count))
    for (int i = 0; i < 2 && count > 0; i++) {
        float y[2] = {0, 0};
        CHECK(start(model, devices[0], argc > 1 ? argv[1] : ".", y))
        printf("%s start: %g %g\n", i == 0 ? "first" : "second", (double)y[0], (double)y[1]);
    }
end:
    OH_NNModel_Destroy(&model);
    return code != OH_NN_SUCCESS;
}
