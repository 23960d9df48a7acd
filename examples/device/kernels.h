/* kernels.h - two kernels in place of the accelerator. They validate nothing: everything was validated when the model
   was prepared. Sums have the order of the reference device: if a * b + c is not contracted to a fused multiply-add
   (-std=c99 or -ffp-contract=off), the results are bit-identical, except for the sign and payload of NaN. */
#ifndef EXAMPLE_KERNELS_H
#define EXAMPLE_KERNELS_H
#include "nnrt_hal.h"

typedef struct example_attr { /* a device may pass its own struct to its kernels */
    NNRT_Conv2DFusion conv;
    NNRT_ActivationType second; /* activation of the fused ADD */
} example_attr;
typedef struct example_job {
    const example_attr *attr;
    const nnrt_view *args;
    const nnrt_call *call;
} example_job;

static void example_activate(NNRT_ActivationType type, nnrt_view *y)
{
    const NNRT_Activation attr = {type, 0, 0, 0, false};
    if (type != NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
        (void)nnrt_activation_f32(&attr, y, y); /* reference kernels are ordinary functions */
}

/* Work item i: row i of y, counted over all images; rows run in parallel. Scratch of each worker: Co sums. */
static void example_conv_row(void *arg, uint32_t i, uint32_t worker)
{
    const example_job *job = (const example_job *)arg;
    const int64_t *s = job->attr->conv.stride.data, *d = job->attr->conv.dilation.data,
                  *pad = job->attr->conv.padList.data;
    const nnrt_view *x = &job->args[0], *w = &job->args[3], *y = &job->args[4];
    const float *bias = (const float *)job->args[1].data, *other = (const float *)job->args[2].data;
    const int32_t n = (int32_t)(i / (uint32_t)y->dims[1]), p = (int32_t)(i % (uint32_t)y->dims[1]), out = y->dims[3];
    float *sum = (float *)(void *)((uint8_t *)job->call->scratch + worker * job->call->scratchBytes);
    const size_t first = (size_t)i * (size_t)y->strides[1], count = (size_t)y->strides[1];
    nnrt_view row = *y;
    row.data = (float *)y->data + first;
    row.dims[0] = row.dims[1] = 1;
    for (int32_t q = 0; q < y->dims[2]; q++) {
        for (int32_t o = 0; o < out; o++)
            sum[o] = bias != NULL ? bias[o] : 0;
        for (int32_t cell = 0; cell < w->dims[0] * w->dims[1];
             cell++) { /* filter taps, then channels: the reference's order */
            const int64_t h = p * s[0] - pad[0] + cell / w->dims[1] * d[0],
                          v = q * s[1] - pad[2] + cell % w->dims[1] * d[1];
            const float *weight = (const float *)w->data + cell * w->strides[1], *from;
            if (h < 0 || h >= x->dims[1] || v < 0 || v >= x->dims[2])
                continue;
            from = (const float *)x->data + n * x->strides[0] + (ptrdiff_t)h * x->strides[1] +
                   (ptrdiff_t)v * x->strides[2];
            for (int32_t k = 0; k < x->dims[3]; k++, weight += out)
                for (int32_t o = 0; o < out; o++)
                    sum[o] += weight[o] * from[k];
        }
        memcpy((float *)row.data + (ptrdiff_t)q * out, sum, (size_t)out * sizeof(float));
    }
    example_activate(job->attr->conv.activationType, &row);
    for (size_t k = 0; other != NULL && k < count; k++)
        ((float *)row.data)[k] += other[first + k];
    example_activate(job->attr->second, &row);
}

/* args: x, bias, residual (second operand of the ADD), packed weights [kH,kW,Ci,Co], y. Bias and residual are optional:
   data is NULL. */
static NNRT_ReturnCode example_conv_f32(const void *attr, nnrt_view *args, nnrt_call *call)
{
    example_job job;
    job.attr = (const example_attr *)attr;
    job.args = args;
    job.call = call;
    nnrt_parallel_for(call, (uint32_t)args[4].dims[0] * (uint32_t)args[4].dims[1], example_conv_row, &job);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode example_add_f32(const void *attr, nnrt_view *args, nnrt_call *call) /* in-place is allowed */
{
    size_t count = 0;
    (void)call;
    (void)nnrt_dims_count(args[2].dims, args[2].rank, &count);
    for (size_t i = 0; i < count; i++)
        ((float *)args[2].data)[i] = ((const float *)args[0].data)[i] + ((const float *)args[1].data)[i];
    example_activate(((const NNRT_AddFusion *)attr)->activationType, &args[2]);
    return NNRT_SUCCESS;
}

#endif
