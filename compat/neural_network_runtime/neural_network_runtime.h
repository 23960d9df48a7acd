/*
neural_network_runtime.h - OpenHarmony's OH_NN API: building models; the deprecated functions of executors. Includes
neural_network_core.h, whose rules apply here, too.

MIT license, see LICENSE.
*/
#ifndef NEURAL_NETWORK_RUNTIME_H
#define NEURAL_NETWORK_RUNTIME_H

#include "neural_network_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- quantization parameters ---- */

/* Without values. */
NNRT_OHNN_API NN_QuantParam *OH_NNQuantParam_Create(void);
/* Replace the values by a copy of quantCount values. INVALID_PARAMETER: a pointer is NULL, or quantCount is 0. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNQuantParam_SetScales(NN_QuantParam *quantParams, const double *scales,
                                                         size_t quantCount);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNQuantParam_SetZeroPoints(NN_QuantParam *quantParams, const int32_t *zeroPoints,
                                                             size_t quantCount);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNQuantParam_SetNumBits(NN_QuantParam *quantParams, const uint32_t *numBits,
                                                          size_t quantCount);
/* INVALID_PARAMETER: NULL, or a pointer to NULL. *quantParams becomes NULL. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNQuantParam_Destroy(NN_QuantParam **quantParams);

/* ---- models. Functions that change a model: INVALID_PARAMETER: a pointer is NULL; then OPERATION_FORBIDDEN: the model
   is finished ---- */

NNRT_OHNN_API OH_NNModel *OH_NNModel_Construct(void);
/* Appends a tensor; its index is the number of tensors before it. Dimensions are above 0, or -1 (dynamic). Also
   INVALID_PARAMETER: another dimension, or a size of 4 GiB or more. MEMORY_ERROR: out of memory. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_AddTensorToModel(OH_NNModel *model, const NN_TensorDesc *tensorDesc);
/* Makes a tensor a constant, or sets the value of a parameter. length: its exact size in bytes. Also INVALID_PARAMETER:
   no such tensor, it has data already, or another length. Also OPERATION_FORBIDDEN: it has a dynamic dimension.
   MEMORY_ERROR. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_SetTensorData(OH_NNModel *model, uint32_t index, const void *dataBuffer,
                                                        size_t length);
/* Sets quantization parameters: one for the tensor (per tensor), or one for each element of axis 1 (NCHW), the last
   axis, or axis 0 (per channel); none: the tensor is not quantized. Also INVALID_PARAMETER: no such tensor, the three
   lists differ in length or fit no axis, bits are not 8, or a scale is not a finite number above 0. MEMORY_ERROR. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_SetTensorQuantParams(OH_NNModel *model, uint32_t index,
                                                               NN_QuantParam *quantParam);
/* Also INVALID_PARAMETER: an invalid type, or no such tensor. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_SetTensorType(OH_NNModel *model, uint32_t index, OH_NN_TensorType tensorType);
/* Appends an operation. paramIndices: tensors with its parameters, in any order, with their data; size 0: none. Also
   INVALID_PARAMETER: no tensor with that index, a tensor of the wrong kind (data or parameter), an output that is an
   input, a wrong number of operands, or a parameter of another operator, or of the wrong type or size. MEMORY_ERROR. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_AddOperation(OH_NNModel *model, OH_NN_OperationType op,
                                                       const OH_NN_UInt32Array *paramIndices,
                                                       const OH_NN_UInt32Array *inputIndices,
                                                       const OH_NN_UInt32Array *outputIndices);
/* Sets the inputs and outputs of a run, in this order; at least one of each. Also OPERATION_FORBIDDEN: called before.
   Also INVALID_PARAMETER: as for AddOperation, or a tensor has data. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_SpecifyInputsAndOutputs(OH_NNModel *model,
                                                                  const OH_NN_UInt32Array *inputIndices,
                                                                  const OH_NN_UInt32Array *outputIndices);
/* Finishes the model. Also OPERATION_FORBIDDEN: no tensor, no operation, or no inputs specified. MEMORY_ERROR. FAILED:
   nnrt has no equivalent of an operation. Then also INVALID_PARAMETER: an operand has no producer, two producers, or
   depends on itself. After a failure the model can still be changed. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_Finish(OH_NNModel *model);
/* NULL and a pointer to NULL are allowed; *model becomes NULL. */
NNRT_OHNN_API void OH_NNModel_Destroy(OH_NNModel **model);
/* Stores an array of the model's in *isSupported, which must be NULL before the call: whether the device supports each
   of the *opCount operations, in the order in which they were added. INVALID_PARAMETER: a pointer is NULL, or
   *isSupported is not. OPERATION_FORBIDDEN: the model is not finished. FAILED: no such device, or it does not report
   its support. MEMORY_ERROR. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_GetAvailableOperations(OH_NNModel *model, size_t deviceID,
                                                                 const bool **isSupported, uint32_t *opCount);

/* ---- deprecated ---- */

/* AddTensorToModel, SetTensorType and SetTensorQuantParams in one call; the format is NHWC. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_AddTensor(OH_NNModel *model, const OH_NN_Tensor *tensor);
/* Copies an input. tensor: its shape in the next runs, without dynamic dimensions; otherwise as in the model. length:
   its size in bytes, or more. INVALID_PARAMETER: a pointer is NULL, length is 0 or too small, no such input, the tensor
   differs from the model's, or a dimension is outside the device's ranges. MEMORY_ERROR. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetInput(OH_NNExecutor *executor, uint32_t inputIndex,
                                                      const OH_NN_Tensor *tensor, const void *dataBuffer,
                                                      size_t length);
/* Sets the buffer of an output; the caller owns it, and it must exist until the last run. INVALID_PARAMETER: a pointer
   is NULL, length is 0 or too small, or no such output. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetOutput(OH_NNExecutor *executor, uint32_t outputIndex, void *dataBuffer,
                                                       size_t length);
/* Runs the model with the inputs and outputs that are set; they stay set. INVALID_PARAMETER: executor is NULL, an input
   or output is not set, or its memory was destroyed, or an output is too small. UNAVAILABLE_DEVICE: the device failed.
   */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_Run(OH_NNExecutor *executor);
/* Allocate memory for an input (output), owned by the executor. NULL: executor is NULL, no such input (output), length
   is 0 or above 1 GiB, or out of memory. */
NNRT_OHNN_API OH_NN_Memory *OH_NNExecutor_AllocateInputMemory(OH_NNExecutor *executor, uint32_t inputIndex,
                                                              size_t length);
NNRT_OHNN_API OH_NN_Memory *OH_NNExecutor_AllocateOutputMemory(OH_NNExecutor *executor, uint32_t outputIndex,
                                                               size_t length);
/* Free memory that was allocated for that input (output) of that executor, and set *memory to NULL; otherwise do
   nothing. If the memory is still set for a run, the run fails. */
NNRT_OHNN_API void OH_NNExecutor_DestroyInputMemory(OH_NNExecutor *executor, uint32_t inputIndex,
                                                    OH_NN_Memory **memory);
NNRT_OHNN_API void OH_NNExecutor_DestroyOutputMemory(OH_NNExecutor *executor, uint32_t outputIndex,
                                                     OH_NN_Memory **memory);
/* Like SetInput and SetOutput, but the memory is used in place instead of copied. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetInputWithMemory(OH_NNExecutor *executor, uint32_t inputIndex,
                                                                const OH_NN_Tensor *tensor, const OH_NN_Memory *memory);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetOutputWithMemory(OH_NNExecutor *executor, uint32_t outputIndex,
                                                                 const OH_NN_Memory *memory);

#ifdef __cplusplus
}
#endif

#endif /* NEURAL_NETWORK_RUNTIME_H */
