/* device.h - a device, as a template to copy. Its prepared models are plans: nnrt_plan_prepare validates the model,
   makes a draft of the plan, lets example_edit change it, then plans memory. The edit replaces the kernels of these
   steps:

       CONV2D_FUSION  float32, NHWC, group 1, constant weights, which are prepacked
       ADD_FUSION     float32, two tensors of equal shape: fused into the preceding convolution, if the only reader

   All other steps keep the reference kernels; results are bit-identical to the reference device (kernels.h). Include
   this file after nnrt.h or nnrt_hal.h, call example_device_register, and create sessions on "example". */
#ifndef EXAMPLE_DEVICE_H
#define EXAMPLE_DEVICE_H
#include "nnrt_hal.h"

#include "kernels.h"

/* ---- the edit ---- */

static NNRT_ReturnCode example_take_conv(nnrt_draft *draft, uint32_t s)
{
    nnrt_draft_step *step = &draft->steps[s];
    const nnrt_plan_arg *old = step->args; /* x, weights, bias, y */
    const nnrt_view *w = &old[1].view, *y = &old[3].view;
    const int32_t packed[4] = {w->dims[1], w->dims[2], w->dims[3], w->dims[0]};
    const size_t out = (size_t)w->dims[0], cells = (size_t)w->strides[0];
    example_attr *attr;
    void *data;
    NNRT_ReturnCode code;
    if (w->dataType != NNRT_DATA_TYPE_FLOAT32 || old[1].kind != NNRT_PLACE_CONSTANT || cells * out == 0 ||
        ((const NNRT_Conv2DFusion *)step->attr)->group != 1 || (int64_t)y->dims[0] * y->dims[1] > INT32_MAX ||
        draft->tensors[old[0].tensor].format == NNRT_FORMAT_NCHW)
        return NNRT_SUCCESS; /* keeps the reference kernel */
    attr = (example_attr *)nnrt_memory_keep(draft->memory, sizeof(*attr));
    if (attr == NULL || nnrt_draft_args(draft, s, 3, 1) == NULL) /* makes a new list; `old` stays valid */
        return nnrt_error_set(draft->config->error, NNRT_OUT_OF_MEMORY, "no memory for convolution '%s'", step->name);
    step->args[0] = old[0];
    step->args[1] = old[2];
    step->args[3] = old[3];
    if ((code = nnrt_draft_derive(draft, s, NNRT_DATA_TYPE_FLOAT32, 4, packed, &data)) != NNRT_SUCCESS)
        return code;
    for (size_t i = 0; data != NULL && i < cells * out; i++) /* NULL: the edit only counts memory */
        ((float *)data)[i] = ((const float *)w->data)[i % out * cells + i / out];
    attr->conv = *(const NNRT_Conv2DFusion *)step->attr;
    step->attr = attr;
    step->kernel = example_conv_f32;
    step->kernelName = "example_conv_f32";
    step->flags = 0; /* clears INPLACE: y must not share memory with x */
    step->scratchBytes = out * sizeof(float);
    return NNRT_SUCCESS;
}

static void example_take_add(nnrt_draft *draft, uint32_t s)
{
    nnrt_draft_step *add = &draft->steps[s];
    const nnrt_view *x = &add->args[0].view, *y = &add->args[1].view;
    if (x->dataType != NNRT_DATA_TYPE_FLOAT32 || x->rank != y->rank || memcmp(x->dims, y->dims, sizeof(x->dims)) != 0)
        return;
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t from = nnrt_draft_writer(draft, add->args[k].tensor);
        nnrt_draft_step *conv = from != UINT32_MAX ? &draft->steps[from] : add;
        if (conv->kernel == example_conv_f32 && conv->args[2].tensor == NNRT_NO_TENSOR &&
            nnrt_draft_readers(draft, add->args[k].tensor) ==
                1) { /* fused at the position of the ADD: all operands are written by then */
            const nnrt_draft_step old = *add;
            *add = *conv;
            add->args[2] = old.args[1 - k];
            add->args[4] = old.args[2];
            ((example_attr *)(uintptr_t)add->attr)->second = ((const NNRT_AddFusion *)old.attr)->activationType;
            add->op = old.op;
            add->name = old.name;
            add->node = old.node;
            conv->kernel = NULL; /* removes the step */
            return;
        }
    }
    add->kernel = example_add_f32; /* in-place like the reference kernel, so the flags stay valid */
    add->kernelName = "example_add_f32";
}

/* Also called for GetModelMemory, to count memory: it must be deterministic, and allocate from draft->memory only. */
static NNRT_ReturnCode example_edit(void *user, nnrt_draft *draft)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    (void)user;
    for (uint32_t s = 0; s < draft->nSteps && code == NNRT_SUCCESS; s++)
        if (draft->steps[s].open != NULL)
            continue; /* dynamic shape: keeps the reference kernel */
        else if (draft->steps[s].op->type == NNRT_NODE_TYPE_CONV2D_FUSION)
            code = example_take_conv(draft, s);
        else if (draft->steps[s].op->type == NNRT_NODE_TYPE_ADD_FUSION)
            example_take_add(draft, s);
    return code;
}

/* ---- the table ---- */

static NNRT_ReturnCode example_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 1;
    *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode example_name(void *self, const char **name)
{
    *name = (const char *)self; /* self is the pointer passed to nnrt_device_register */
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode example_dynamic(void *self, bool *supported)
{
    (void)self;
    *supported = true; /* dynamic dimensions: nnrt_plan_prepare handles them */
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode example_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                       NNRT_PreparedModel **prepared)
{
    return nnrt_plan_prepare(model, config, example_edit, self, NULL, prepared);
}

static NNRT_ReturnCode example_memory(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                      size_t *bytes)
{
    return nnrt_plan_memory(model, config, example_edit, self, bytes);
}

static NNRT_ReturnCode example_nodes(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                     bool *isSupported, uint32_t count, nnrt_reason reason, void *user)
{
    (void)self; /* the edit refuses no node: the device supports the nodes of the reference device */
    return nnrt_plan_supported(model, config, isSupported, count, reason, user);
}

/* Absent slots stay NULL. Without GetDeviceType it is OTHER, which `auto` tries before the reference device. */
static NNRT_ReturnCode example_device_register(nnrt_error *error)
{
    static NNRT_DeviceVtbl table;
    static char name[] = "example";
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.GetVersion = example_version;
    table.GetDeviceName = table.GetVendorName = example_name;
    table.IsDynamicInputSupported = example_dynamic;
    table.PrepareModel = example_prepare;
    table.GetModelMemory = example_memory;
    table.GetSupportedNodes = example_nodes;
    return nnrt_device_register(&table, name, error);
}

#endif
