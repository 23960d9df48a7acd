/*
neural_network_core.h - OpenHarmony's OH_NN API: devices, compilations, tensors, executors.

A function that makes a handle returns it to the caller, who owns it, and returns NULL on failure. Arguments are copied
unless a comment says otherwise. A call that fails changes nothing. A handle may be used by one thread at a time;
different handles may be used by different threads. Comments omit the prefix OH_NN_ of return codes; a function without
listed codes always succeeds.

MIT license, see LICENSE.
*/
#ifndef NEURAL_NETWORK_CORE_H
#define NEURAL_NETWORK_CORE_H

#include "neural_network_runtime_type.h"

#ifndef NNRT_OHNN_API
#define NNRT_OHNN_API extern /* linkage of the functions, for shared libraries */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- devices: a device has the same id in every process; 0 selects the first device ---- */

/* Stores the ids of all *deviceCount devices, in the order of registration, in *allDevicesID, which must be NULL before
   the call. The runtime owns the array; it is valid until the next call. INVALID_PARAMETER: a pointer is NULL, or
   *allDevicesID is not. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNDevice_GetAllDevicesID(const size_t **allDevicesID, uint32_t *deviceCount);
/* Stores "<device>_<vendor>_v<major>_<minor>", owned by the runtime, in *name, which must be NULL before the call.
   INVALID_PARAMETER: name is NULL, or *name is not. FAILED: no such device. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNDevice_GetName(size_t deviceID, const char **name);
/* INVALID_PARAMETER: no such device, or deviceType is NULL. UNAVAILABLE_DEVICE: the device does not report its type. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNDevice_GetType(size_t deviceID, OH_NN_DeviceType *deviceType);

/* ---- compilations: prepare a model for a device ---- */

/* From a model. Portable programs keep the model until Build; this implementation keeps a reference. NULL: model is
   NULL. */
NNRT_OHNN_API OH_NNCompilation *OH_NNCompilation_Construct(const OH_NNModel *model);
/* From a file, or from memory, which must exist as long as the compilation: a .nnrt file, or the device's own format.
   The path is copied. */
NNRT_OHNN_API OH_NNCompilation *OH_NNCompilation_ConstructWithOfflineModelFile(const char *modelPath);
NNRT_OHNN_API OH_NNCompilation *OH_NNCompilation_ConstructWithOfflineModelBuffer(const void *modelBuffer,
                                                                                 size_t modelSize);
/* Without a model, to be built from a cache. */
NNRT_OHNN_API OH_NNCompilation *OH_NNCompilation_ConstructForCache(void);
/* Writes the compiled model to buffer and its size to *modelSize. INVALID_PARAMETER: a pointer is NULL, length is 0,
   the compilation is not built, or the buffer is too small: then *modelSize is the required size. UNSUPPORTED: the
   device cannot export. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_ExportCacheToBuffer(OH_NNCompilation *compilation, const void *buffer,
                                                                    size_t length, size_t *modelSize);
/* Sets an exported cache as the source of Build, which validates it; the buffer must exist as long as the compilation.
   INVALID_PARAMETER: a pointer is NULL, or modelSize is 0. OPERATION_FORBIDDEN: already built. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_ImportCacheFromBuffer(OH_NNCompilation *compilation, const void *buffer,
                                                                      size_t modelSize);
/* Adds named bytes for the device; if the name exists, '|' and the bytes are appended. INVALID_PARAMETER: a pointer is
   NULL, or the name or the value is empty. OPERATION_FORBIDDEN: already built. FAILED: out of memory. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_AddExtensionConfig(OH_NNCompilation *compilation,
                                                                   const char *configName, const void *configValue,
                                                                   const size_t configValueSize);
/* Setters. INVALID_PARAMETER: compilation or cachePath is NULL. OPERATION_FORBIDDEN: already built. Build checks
   whether the device supports the options. Defaults: device 0, no cache, NONE, NONE, false. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_SetDevice(OH_NNCompilation *compilation, size_t deviceID);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_SetCache(OH_NNCompilation *compilation, const char *cachePath,
                                                         uint32_t version);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_SetPerformanceMode(OH_NNCompilation *compilation,
                                                                   OH_NN_PerformanceMode performanceMode);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_SetPriority(OH_NNCompilation *compilation, OH_NN_Priority priority);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_EnableFloat16(OH_NNCompilation *compilation, bool enableFloat16);
/* Compiles the model. May be called once: after a failure the compilation can only be destroyed. Afterwards the model
   may be destroyed.
   With SetCache, Build looks into the directory, where cache_info.nncache contains the version. A matching cache is
   used; an older or damaged one, or one of another device or model, is replaced. Version UINT32_MAX means none: the
   cache cannot be saved. Return codes, in the order of the checks:
   INVALID_PARAMETER     compilation is NULL, has two sources, or Build was called before
   FAILED                no such device; a device without a model cache, for an imported cache; a device that does not
                         support offline models of that format
   OPERATION_FORBIDDEN   an option is set that the device does not support: cache, float16, performance mode, priority;
                         UNAVAILABLE_DEVICE: it does not report its support, FAILED: of performance modes
   INVALID_PARAMETER     an invalid performance mode or priority; the model is not finished
   INVALID_PATH          the file of an offline model cannot be read
   OPERATION_FORBIDDEN   the directory has a cache of a higher version, which stays unchanged
   INVALID_PARAMETER     no model, and no usable cache
   INVALID_FILE          a .nnrt file is damaged; the imported cache is, or was made by another device
   UNAVAILABLE_DEVICE    the device does not report which operators it supports, or whether dynamic inputs
   FAILED                it does not support an operator or the model, or does not report the inputs and outputs of an
                         offline model
   MEMORY_ERROR          out of memory
   INVALID_PARAMETER     to save the cache: no such directory, or no version; SAVE_CACHE_EXCEPTION: it cannot be
                         written, or the device makes no cache */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_Build(OH_NNCompilation *compilation);
/* Executors made from it stay valid. NULL and a pointer to NULL are allowed; *compilation becomes NULL. */
NNRT_OHNN_API void OH_NNCompilation_Destroy(OH_NNCompilation **compilation);

/* ---- tensor descriptions. INVALID_PARAMETER: a pointer is NULL; a getter's output pointer must point to NULL ---- */

/* With type UNKNOWN, format NONE, no shape, and no name. */
NNRT_OHNN_API NN_TensorDesc *OH_NNTensorDesc_Create(void);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_Destroy(NN_TensorDesc **tensorDesc); /* *tensorDesc becomes NULL */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_SetName(NN_TensorDesc *tensorDesc, const char *name);
/* *name is owned by the description; "" if no name is set. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetName(const NN_TensorDesc *tensorDesc, const char **name);
/* Also INVALID_PARAMETER: an invalid type. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_SetDataType(NN_TensorDesc *tensorDesc, OH_NN_DataType dataType);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetDataType(const NN_TensorDesc *tensorDesc, OH_NN_DataType *dataType);
/* shape: shapeLength dimensions, 1 to 10; -1: dynamic. A scalar has no shape set. Also INVALID_PARAMETER: another
   shapeLength. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_SetShape(NN_TensorDesc *tensorDesc, const int32_t *shape,
                                                        size_t shapeLength);
/* *shape is the description's own array, valid until the next SetShape; NULL and 0 without a shape. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetShape(const NN_TensorDesc *tensorDesc, int32_t **shape,
                                                        size_t *shapeLength);
/* Also INVALID_PARAMETER: an invalid format. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_SetFormat(NN_TensorDesc *tensorDesc, OH_NN_Format format);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetFormat(const NN_TensorDesc *tensorDesc, OH_NN_Format *format);
/* Also INVALID_PARAMETER: no shape is set, or the product overflows. DYNAMIC_SHAPE, and 0: a dimension is 0 or less. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetElementCount(const NN_TensorDesc *tensorDesc, size_t *elementCount);
/* Also INVALID_PARAMETER: no shape or type is set, or the product overflows. 0 if a dimension is 0 or less. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetByteSize(const NN_TensorDesc *tensorDesc, size_t *byteSize);

/* ---- tensors: a description, and memory that the device can share ---- */

/* Allocates memory of exactly the description's size. NULL: tensorDesc is NULL, no such device, the size is unknown or
   above 1 GiB, or out of memory. */
NNRT_OHNN_API NN_Tensor *OH_NNTensor_Create(size_t deviceID, NN_TensorDesc *tensorDesc);
/* Allocates `size` bytes, at least the description's size if that is known. */
NNRT_OHNN_API NN_Tensor *OH_NNTensor_CreateWithSize(size_t deviceID, NN_TensorDesc *tensorDesc, size_t size);
/* Uses the memory of a file descriptor, which the caller keeps: its first `size` bytes; the data begins at `offset`.
   Also NULL: it cannot be mapped; this platform has no file descriptors. */
NNRT_OHNN_API NN_Tensor *OH_NNTensor_CreateWithFd(size_t deviceID, NN_TensorDesc *tensorDesc, int fd, size_t size,
                                                  size_t offset);
/* INVALID_PARAMETER: NULL, or a pointer to NULL. NULL_PTR: its device was unregistered. *tensor becomes NULL. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensor_Destroy(NN_Tensor **tensor);
/* The tensor's own description, and the address of its data; NULL for NULL. The next run uses a shape set there. */
NNRT_OHNN_API NN_TensorDesc *OH_NNTensor_GetTensorDesc(const NN_Tensor *tensor);
NNRT_OHNN_API void *OH_NNTensor_GetDataBuffer(const NN_Tensor *tensor);
/* INVALID_PARAMETER: a pointer is NULL. *fd is -1 if the memory has no descriptor. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensor_GetFd(const NN_Tensor *tensor, int *fd);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensor_GetSize(const NN_Tensor *tensor, size_t *size);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensor_GetOffset(const NN_Tensor *tensor, size_t *offset);

/* ---- executors: runs of a compilation. index: position in the model's inputs or outputs ---- */

/* NULL: compilation is NULL or not built, its device was unregistered, or out of memory. */
NNRT_OHNN_API OH_NNExecutor *OH_NNExecutor_Construct(OH_NNCompilation *compilation);
/* Stores the shape of the output in the last run, or before the first run in the model, in *shape, which must be NULL
   before the call. The executor owns the array; it is valid until the next run. INVALID_PARAMETER: a pointer is NULL,
   *shape is not, or no such output. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_GetOutputShape(OH_NNExecutor *executor, uint32_t outputIndex,
                                                            int32_t **shape, uint32_t *shapeLength);
/* NULL and a pointer to NULL are allowed; *executor becomes NULL. Frees the executor's OH_NN_Memory, too. */
NNRT_OHNN_API void OH_NNExecutor_Destroy(OH_NNExecutor **executor);
/* INVALID_PARAMETER: a pointer is NULL. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_GetInputCount(const OH_NNExecutor *executor, size_t *inputCount);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_GetOutputCount(const OH_NNExecutor *executor, size_t *outputCount);
/* Makes a description, owned by the caller, as in the model; an output has the shape of the last run. NULL: executor is
   NULL, no such input (output), or out of memory. */
NNRT_OHNN_API NN_TensorDesc *OH_NNExecutor_CreateInputTensorDesc(const OH_NNExecutor *executor, size_t index);
NNRT_OHNN_API NN_TensorDesc *OH_NNExecutor_CreateOutputTensorDesc(const OH_NNExecutor *executor, size_t index);
/* Returns the smallest and the largest dimensions of the input, in arrays of the executor. *minInputDims and
   *maxInputDims must be NULL before the call, or arrays of an earlier call. INVALID_PARAMETER: a pointer is NULL, no
   such input, or the device reports inconsistent ranges. OPERATION_FORBIDDEN: the device does not report ranges. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_GetInputDimRange(const OH_NNExecutor *executor, size_t index,
                                                              size_t **minInputDims, size_t **maxInputDims,
                                                              size_t *shapeLength);
/* Set the callbacks at the end of an asynchronous run: if the driver's process ended and SetOnServiceDied's is set,
   that one, otherwise SetOnRunDone's. One of them is called once for each run that RunAsync started. It may start the
   next run, but must not destroy the executor. INVALID_PARAMETER: a pointer is NULL. OPERATION_FORBIDDEN: the device
   has no RunIn, or the library no threads. MEMORY_ERROR: out of memory, or no thread could be created. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetOnRunDone(OH_NNExecutor *executor, NN_OnRunDone onRunDone);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetOnServiceDied(OH_NNExecutor *executor, NN_OnServiceDied onServiceDied);
/* Runs the model once, and sets the shapes of the outputs' descriptions. Return codes, in the order of the checks:
   INVALID_PARAMETER    a pointer is NULL, a count is 0 or above 200, or differs from the model's
   NULL_PTR             an input is NULL (INVALID_PARAMETER if the device reports no ranges)
   INVALID_PARAMETER    the shape of an input is outside the ranges; an output is NULL
   FAILED               the memory of a tensor is smaller than its description's size
   INVALID_PARAMETER    an output is too small, if the device reports output sizes, like the built-in devices
   UNAVAILABLE_DEVICE   the device failed, or does not support a type, a format or a shape */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_RunSync(OH_NNExecutor *executor, NN_Tensor *inputTensor[],
                                                     size_t inputCount, NN_Tensor *outputTensor[], size_t outputCount);
/* Starts a run and returns; the tensors must not change until the callback. A run that takes longer than `timeout`
   milliseconds including its waiting time (0: no limit) ends with TIMEOUT and without outputs. INVALID_PARAMETER: a
   pointer is NULL, or a count is 0 or above 200. OPERATION_FORBIDDEN: SetOnRunDone was not called, or failed for this
   device. Then INVALID_PARAMETER: timeout is negative; and the codes of RunSync. MEMORY_ERROR. UNAVAILABLE_DEVICE: 64
   runs wait. After a code other than SUCCESS no callback is called. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_RunAsync(OH_NNExecutor *executor, NN_Tensor *inputTensor[],
                                                      size_t inputCount, NN_Tensor *outputTensor[], size_t outputCount,
                                                      int32_t timeout, void *userData);

#ifdef __cplusplus
}
#endif

#endif /* NEURAL_NETWORK_CORE_H */
