/* A driver with a device table (devices/nnrt_driver.h), built separately as libtable_npu.so with the declarations of
   nnrt_hal.h only: y = |x| of float32 in one node. tests/compat/test_lib.sh and tests/tools/test_cli_devices.sh load it.
   TABLE_NPU_GONE: it has no device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nnrt_hal.h"

const NNRT_DeviceVtbl *nnrt_driver(void **self);

static const char name[] = "table_npu", vendor[] = "tests";

static NNRT_ReturnCode get_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 1;
    *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode get_name(void *self, const char **out)
{
    *out = (const char *)self;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode get_vendor(void *self, const char **out)
{
    (void)self;
    *out = vendor;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode get_type(void *self, NNRT_DeviceType *type)
{
    (void)self;
    *type = NNRT_DEVICE_TYPE_ACCELERATOR;
    return NNRT_SUCCESS;
}

static bool takes(const NNRT_Model *model, uint32_t n)
{
    const NNRT_Node *node = &model->nodes.data[n];
    return node->nodeType == NNRT_NODE_TYPE_ABS && node->inputIndex.count == 1 &&
           model->allTensors.data[node->inputIndex.data[0]].dataType == NNRT_DATA_TYPE_FLOAT32;
}

static NNRT_ReturnCode get_supported(void *self, const NNRT_Model *model, bool *isSupported, uint32_t count)
{
    (void)self;
    for (uint32_t n = 0; n < count; n++)
        isSupported[n] = takes(model, n);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode run(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                           const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    const float *x = (const float *)inputs[0].data.addr;
    float *y = (float *)outputs[0].data.addr;
    (void)self;
    if (nIn != 1 || nOut != 1 || outputs[0].data.dataSize < inputs[0].data.dataSize)
        return NNRT_INVALID_PARAMETER;
    for (uint32_t i = 0; i < inputs[0].data.dataSize / sizeof(float); i++)
        y[i] = fabsf(x[i]);
    if (outputDims != NULL) {
        outputDims[0].rank = (int32_t)inputs[0].dimensions.count;
        for (uint32_t k = 0; k < inputs[0].dimensions.count; k++)
            outputDims[0].dims[k] = inputs[0].dimensions.data[k];
    }
    return NNRT_SUCCESS;
}

static void release(NNRT_PreparedModel *self)
{
    free(self);
}

static NNRT_PreparedModelVtbl model_table;

static NNRT_ReturnCode prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                               NNRT_PreparedModel **prepared)
{
    (void)self;
    (void)config;
    if (model->nodes.count != 1 || !takes(model, 0))
        return NNRT_UNSUPPORTED_OP;
    if ((*prepared = (NNRT_PreparedModel *)calloc(1, sizeof(**prepared))) == NULL)
        return NNRT_OUT_OF_MEMORY;
    model_table.structSize = (uint32_t)sizeof(model_table);
    model_table.version = NNRT_HDI(2, 0);
    model_table.Run = run;
    model_table.Destroy = release;
    (*prepared)->vtbl = &model_table;
    return NNRT_SUCCESS;
}

const NNRT_DeviceVtbl *nnrt_driver(void **self)
{
    static NNRT_DeviceVtbl table;
    *self = (void *)(uintptr_t)name;
    table.structSize = (uint32_t)sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.GetVersion = get_version;
    table.GetDeviceName = get_name;
    table.GetVendorName = get_vendor;
    table.GetDeviceType = get_type;
    table.GetSupportedOperation = get_supported;
    table.PrepareModel = prepare;
    return getenv("TABLE_NPU_GONE") == NULL ? &table : NULL;
}
