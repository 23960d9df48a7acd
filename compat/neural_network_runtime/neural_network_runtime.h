/*
neural_network_runtime.h - OpenHarmony's OH_NN API: building models; the deprecated functions of executors. Includes
neural_network_core.h, whose rules hold here, too.

MIT licence, see LICENSE.
*/
#ifndef NEURAL_NETWORK_RUNTIME_H
#define NEURAL_NETWORK_RUNTIME_H

#include "neural_network_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- parameters of quantisation ---- */

/* Empty. */
NNRT_OHNN_API NN_QuantParam *OH_NNQuantParam_Create(void);
/* Copies quantCount values, in place of those that there are. INVALID_PARAMETER: a pointer is NULL, quantCount is 0. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNQuantParam_SetScales(NN_QuantParam *quantParams, const double *scales,
                                                         size_t quantCount);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNQuantParam_SetZeroPoints(NN_QuantParam *quantParams, const int32_t *zeroPoints,
                                                             size_t quantCount);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNQuantParam_SetNumBits(NN_QuantParam *quantParams, const uint32_t *numBits,
                                                          size_t quantCount);
/* INVALID_PARAMETER: NULL, or a pointer to NULL. *quantParams becomes NULL. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNQuantParam_Destroy(NN_QuantParam **quantParams);

/* ---- models. All that change one: INVALID_PARAMETER, a pointer is NULL; then OPERATION_FORBIDDEN, it is finished ---- */

NNRT_OHNN_API OH_NNModel *OH_NNModel_Construct(void);
/* Appends a tensor, whose index is the number of those before it. Extents are above 0, or -1. INVALID_PARAMETER as well:
   an extent is not, or 4 GiB and more. MEMORY_ERROR: no memory. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_AddTensorToModel(OH_NNModel *model, const NN_TensorDesc *tensorDesc);
/* Makes a tensor a constant, or gives a parameter its value. length: its bytes, exactly. INVALID_PARAMETER as well: there is
   no such tensor, it has data, another length. OPERATION_FORBIDDEN as well: it has an extent of -1. MEMORY_ERROR. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_SetTensorData(OH_NNModel *model, uint32_t index, const void *dataBuffer,
                                                        size_t length);
/* One set of parameters, or one for each extent of axis 1 (NCHW), of the last axis, or of axis 0; none: the tensor is not
   quantised. INVALID_PARAMETER as well: there is no such tensor, the three lists are not of one length or fit no axis, bits
   are not 8, a scale is not a finite number above 0. MEMORY_ERROR. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_SetTensorQuantParams(OH_NNModel *model, uint32_t index,
                                                               NN_QuantParam *quantParam);
/* INVALID_PARAMETER as well: there is no such type, or tensor. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_SetTensorType(OH_NNModel *model, uint32_t index, OH_NN_TensorType tensorType);
/* Appends an operation. paramIndices: tensors that hold parameters of it, in any order, with their data; size 0: none.
   INVALID_PARAMETER as well: an index without a tensor, a tensor of another kind than its place is for, an output that is an
   input, another number of operands, a parameter of another operator, type or size. MEMORY_ERROR. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_AddOperation(OH_NNModel *model, OH_NN_OperationType op,
                                                       const OH_NN_UInt32Array *paramIndices,
                                                       const OH_NN_UInt32Array *inputIndices,
                                                       const OH_NN_UInt32Array *outputIndices);
/* What a run gets and gives, in this order; at least one of each. OPERATION_FORBIDDEN as well: it was done.
   INVALID_PARAMETER as well: as AddOperation says, or one has data. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_SpecifyInputsAndOutputs(OH_NNModel *model,
                                                                  const OH_NN_UInt32Array *inputIndices,
                                                                  const OH_NN_UInt32Array *outputIndices);
/* Ends the building. OPERATION_FORBIDDEN as well: there is no tensor, no operation, or no input is specified.
   MEMORY_ERROR. FAILED: an operation cannot be said in the runtime's own terms. Then INVALID_PARAMETER as well: an
   operand comes from nowhere, or from two places, or from itself. On failure the model stays open. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_Finish(OH_NNModel *model);
/* NULL and a pointer to NULL are fine; *model becomes NULL. */
NNRT_OHNN_API void OH_NNModel_Destroy(OH_NNModel **model);
/* *isSupported, NULL before the call, becomes an array of the model's: which of the *opCount operations the device takes, in
   the order in which they were added. INVALID_PARAMETER: a pointer is NULL, *isSupported is not. OPERATION_FORBIDDEN: it is
   not finished. FAILED: there is no such device, or it does not say. MEMORY_ERROR. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_GetAvailableOperations(OH_NNModel *model, size_t deviceID,
                                                                 const bool **isSupported, uint32_t *opCount);

/* ---- deprecated ---- */

/* AddTensorToModel, SetTensorType and SetTensorQuantParams in one; the format is NHWC. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNModel_AddTensor(OH_NNModel *model, const OH_NN_Tensor *tensor);
/* Copies an input. tensor: its extents in the next runs, all known; otherwise as the model has it. length: its bytes, or
   more. INVALID_PARAMETER: a pointer is NULL, length is 0 or too small, there is no such input, another tensor than the
   model's, an extent outside the ranges of the device. MEMORY_ERROR. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetInput(OH_NNExecutor *executor, uint32_t inputIndex,
                                                      const OH_NN_Tensor *tensor, const void *dataBuffer,
                                                      size_t length);
/* Where an output goes; the buffer is the caller's, and lives until the last run. INVALID_PARAMETER: a pointer is NULL,
   length is 0 or too small, there is no such output. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetOutput(OH_NNExecutor *executor, uint32_t outputIndex, void *dataBuffer,
                                                       size_t length);
/* Runs the model with what is set, which stays so. INVALID_PARAMETER: executor is NULL, an input or output is not set, or
   its memory is destroyed, an output is too small. UNAVAILABLE_DEVICE: the device failed. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_Run(OH_NNExecutor *executor);
/* Memory for an input (output), which the executor owns. NULL: executor is NULL, there is no such input (output), length is
   0 or above 1 GiB, no memory. */
NNRT_OHNN_API OH_NN_Memory *OH_NNExecutor_AllocateInputMemory(OH_NNExecutor *executor, uint32_t inputIndex,
                                                              size_t length);
NNRT_OHNN_API OH_NN_Memory *OH_NNExecutor_AllocateOutputMemory(OH_NNExecutor *executor, uint32_t outputIndex,
                                                               size_t length);
/* Frees memory that was made for that input (output) of that executor, and makes *memory NULL; else does nothing. A run
   that it is still set for fails. */
NNRT_OHNN_API void OH_NNExecutor_DestroyInputMemory(OH_NNExecutor *executor, uint32_t inputIndex,
                                                    OH_NN_Memory **memory);
NNRT_OHNN_API void OH_NNExecutor_DestroyOutputMemory(OH_NNExecutor *executor, uint32_t outputIndex,
                                                     OH_NN_Memory **memory);
/* As SetInput and SetOutput, with the memory itself in place of a copy. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetInputWithMemory(OH_NNExecutor *executor, uint32_t inputIndex,
                                                                const OH_NN_Tensor *tensor, const OH_NN_Memory *memory);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetOutputWithMemory(OH_NNExecutor *executor, uint32_t outputIndex,
                                                                 const OH_NN_Memory *memory);

#ifdef __cplusplus
}
#endif

#endif /* NEURAL_NETWORK_RUNTIME_H */
