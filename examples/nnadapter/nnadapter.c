/* Builds, compiles and runs a model with NNAdapter, Paddle-Lite's device interface: edge detection by a 2x2 convolution
   with a fused activation, for an image and then for one of another size. In nnrt's repository, as C or as C++:
   make lib && cc -std=c99 -Icompat examples/nnadapter/nnadapter.c -o nnadapter -Lbuild -lnnadapter -Wl,-rpath,build &&
   ./nnadapter */
#include <nnadapter/nnadapter.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                                    \
    if ((code = (call)) != NNADAPTER_NO_ERROR) {                                                                       \
        fprintf(stderr, "%s: %d\n", #call, code);                                                                      \
        goto end;                                                                                                      \
    }

/* The program's memory of a float tensor; NNAdapter accesses it through the two functions below. */
typedef struct {
    uint32_t rank;
    int32_t dims[NNADAPTER_MAX_SIZE_OF_DIMENSIONS];
    float *data;
    size_t room; /* elements */
} Memory;

/* Stores the shape of this run's input, and returns its address. */
static void *accessInput(void *memory, NNAdapterOperandType *type, void *deviceBuffer)
{
    Memory *m = (Memory *)memory;
    (void)deviceBuffer;
    type->dimensions.count = m->rank;
    memcpy(type->dimensions.data, m->dims, m->rank * sizeof(m->dims[0]));
    return m->data;
}

/* Returns memory for an output of the shape in *type. */
static void *accessOutput(void *memory, NNAdapterOperandType *type, void *deviceBuffer)
{
    Memory *m = (Memory *)memory;
    size_t count = 1;
    (void)deviceBuffer;
    m->rank = type->dimensions.count;
    memcpy(m->dims, type->dimensions.data, m->rank * sizeof(m->dims[0]));
    for (uint32_t i = 0; i < m->rank; i++)
        count *= (size_t)m->dims[i];
    if (count > m->room) {
        free(m->data);
        m->data = (float *)malloc(count * sizeof(float));
        m->room = m->data != NULL ? count : 0;
    }
    return m->data;
}

/* Adds an operand; value makes it a constant. */
static int add(NNAdapterModel *model, NNAdapterOperandPrecisionCode precision, const int32_t *dims, uint32_t rank,
               const void *value, size_t bytes, NNAdapterOperand **operand)
{
    NNAdapterOperandType type;
    int code;
    memset(&type, 0, sizeof(type)); /* NCHW is 0 */
    type.precision = precision;
    type.dimensions.count = rank;
    if (rank > 0)
        memcpy(type.dimensions.data, dims, rank * sizeof(dims[0]));
    code = NNAdapterModel_addOperand(model, &type, operand);
    if (code == NNADAPTER_NO_ERROR && value != NULL)
        code = NNAdapterModel_setOperandValue(*operand, (void *)value, (uint32_t)bytes, true);
    return code;
}

/* y = relu(conv(x)): how much a pixel exceeds its neighbors to the right and below, in total. */
static int build(NNAdapterModel *model)
{
    static const float filter[4] = {2, -1, -1, 0};
    const int32_t image[4] = {1, 1, NNADAPTER_UNKNOWN, NNADAPTER_UNKNOWN}, filterDims[4] = {1, 1, 2, 2};
    const int32_t one[1] = {1}, two[1] = {2}, strides[2] = {1, 1}, dilations[2] = {1, 1};
    const int32_t autoPad = NNADAPTER_AUTO_PAD_VALID, group = 1, fuse = NNADAPTER_FUSED_RELU;
    NNAdapterOperand *in[9] = {NULL}, *y = NULL;
    NNAdapterOperation *operation = NULL;
    int code;
    CHECK(add(model, NNADAPTER_FLOAT32, image, 4, NULL, 0, &in[0]))
    CHECK(add(model, NNADAPTER_FLOAT32, filterDims, 4, filter, sizeof(filter), &in[1]))
    /* in[2] (bias) and in[4] (pads) are optional, and left out */
    CHECK(add(model, NNADAPTER_INT32, one, 1, &autoPad, sizeof(autoPad), &in[3]))
    CHECK(add(model, NNADAPTER_INT32, two, 1, strides, sizeof(strides), &in[5]))
    CHECK(add(model, NNADAPTER_INT32, one, 1, &group, sizeof(group), &in[6]))
    CHECK(add(model, NNADAPTER_INT32, two, 1, dilations, sizeof(dilations), &in[7]))
    CHECK(add(model, NNADAPTER_INT32, one, 1, &fuse, sizeof(fuse), &in[8]))
    CHECK(add(model, NNADAPTER_FLOAT32, image, 4, NULL, 0, &y))
    CHECK(NNAdapterModel_addOperation(model, NNADAPTER_CONV_2D, 9, in, 1, &y, &operation))
    CHECK(NNAdapterModel_identifyInputsAndOutputs(model, 1, &in[0], 1, &y))
    CHECK(NNAdapterModel_finish(model))
end:
    return code;
}

int main(void)
{
    static float small[9] = {0, 0, 0, 0, 5, 0, 0, 0, 0}, wide[8] = {4, 4, 1, 1, 4, 4, 1, 1};
    NNAdapterDevice *device = NULL;
    NNAdapterContext *context = NULL;
    NNAdapterModel *model = NULL;
    NNAdapterCompilation *compilation = NULL;
    NNAdapterExecution *execution = NULL;
    Memory input = {4, {1, 1, 3, 3}, small, 0}, output = {0, {0}, NULL, 0};
    const char *name = NULL;
    int code;
    CHECK(NNAdapterDevice_acquire("builtin_device", &device))
    CHECK(NNAdapterDevice_getName(device, &name))
    CHECK(NNAdapterContext_create(&device, 1, "BUILTIN_DEVICE_NUM_THREADS=1;", NULL, &context))
    CHECK(NNAdapterModel_create(&model))
    CHECK(build(model))
    CHECK(NNAdapterCompilation_create(model, NULL, NULL, 0, NULL, context, &compilation))
    CHECK(NNAdapterCompilation_finish(compilation))
    CHECK(NNAdapterExecution_create(compilation, &execution))
    CHECK(NNAdapterExecution_setInput(execution, 0, &input, accessInput))
    CHECK(NNAdapterExecution_setOutput(execution, 0, &output, accessOutput))
    printf("%s:", name);
    for (int run = 0; run < 2; run++) {
        CHECK(NNAdapterExecution_compute(execution))
        printf(" %dx%d:", (int)output.dims[2], (int)output.dims[3]);
        for (int32_t i = 0; i < output.dims[2] * output.dims[3]; i++)
            printf(" %g", (double)output.data[i]);
        input.dims[2] = 2; /* the next image has another size */
        input.dims[3] = 4;
        input.data = wide;
    }
    printf("\n");
end:
    NNAdapterExecution_destroy(execution);
    NNAdapterCompilation_destroy(compilation);
    NNAdapterModel_destroy(model);
    NNAdapterContext_destroy(context);
    NNAdapterDevice_release(device);
    free(output.data);
    return code != NNADAPTER_NO_ERROR;
}
