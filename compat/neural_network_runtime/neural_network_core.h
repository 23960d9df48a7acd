/*
neural_network_core.h - OpenHarmony's OH_NN API: devices, compilations, tensors, executors.

What makes a handle gives it to the caller, and returns NULL where it cannot. What a function is handed it copies, unless
said otherwise. A call that fails changes nothing. One handle belongs to one thread at a time; different handles may be
used by different threads. Codes of return stand without OH_NN_; where none is named, a call can only succeed.

MIT licence, see LICENSE.
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

/* ---- devices: an id tells a device in every process; 0 stands for the first one ---- */

/* *allDevicesID, NULL before the call, becomes the ids of *deviceCount devices, in the order in which they were registered.
   The array is the runtime's, until the next call. INVALID_PARAMETER: a pointer is NULL, *allDevicesID is not. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNDevice_GetAllDevicesID(const size_t **allDevicesID, uint32_t *deviceCount);
/* *name, NULL before the call, becomes "<device>_<vendor>_v<major>_<minor>", which is the runtime's. INVALID_PARAMETER:
   name is NULL, *name is not. FAILED: there is no such device. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNDevice_GetName(size_t deviceID, const char **name);
/* INVALID_PARAMETER: there is no such device, or deviceType is NULL. UNAVAILABLE_DEVICE: it does not say. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNDevice_GetType(size_t deviceID, OH_NN_DeviceType *deviceType);

/* ---- compilations: a model, made ready for a device ---- */

/* From a model, which must live until it is built. NULL: model is NULL. */
NNRT_OHNN_API OH_NNCompilation *OH_NNCompilation_Construct(const OH_NNModel *model);
/* From a file, or from memory, which must live as long as the compilation: a .nnrt file, or what the device itself
   takes. The path is copied. */
NNRT_OHNN_API OH_NNCompilation *OH_NNCompilation_ConstructWithOfflineModelFile(const char *modelPath);
NNRT_OHNN_API OH_NNCompilation *OH_NNCompilation_ConstructWithOfflineModelBuffer(const void *modelBuffer,
                                                                                 size_t modelSize);
/* Empty, to be built from a cache. */
NNRT_OHNN_API OH_NNCompilation *OH_NNCompilation_ConstructForCache(void);
/* Writes the compiled form to buffer; *modelSize: its bytes. INVALID_PARAMETER: a pointer is NULL, length is 0, it is not
   built, or buffer is too small: then *modelSize is what it takes. UNSUPPORTED: the device cannot. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_ExportCacheToBuffer(OH_NNCompilation *compilation, const void *buffer,
                                                                    size_t length, size_t *modelSize);
/* A source to build from, judged then; it must live as long as the compilation. INVALID_PARAMETER: a pointer is NULL,
   modelSize is 0. OPERATION_FORBIDDEN: it is built. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_ImportCacheFromBuffer(OH_NNCompilation *compilation, const void *buffer,
                                                                      size_t modelSize);
/* Bytes for the device under a name; of a name that there is, '|' and the bytes are appended. INVALID_PARAMETER: a pointer
   is NULL, the name or the value is empty. OPERATION_FORBIDDEN: it is built. FAILED: no memory. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_AddExtensionConfig(OH_NNCompilation *compilation,
                                                                   const char *configName, const void *configValue,
                                                                   const size_t configValueSize);
/* The setters: INVALID_PARAMETER, compilation or cachePath is NULL; OPERATION_FORBIDDEN, it is built. Whether the device has
   what is asked for is for Build to say. At first: device 0, no cache, NONE, NONE, false. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_SetDevice(OH_NNCompilation *compilation, size_t deviceID);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_SetCache(OH_NNCompilation *compilation, const char *cachePath,
                                                         uint32_t version);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_SetPerformanceMode(OH_NNCompilation *compilation,
                                                                   OH_NN_PerformanceMode performanceMode);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_SetPriority(OH_NNCompilation *compilation, OH_NN_Priority priority);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_EnableFloat16(OH_NNCompilation *compilation, bool enableFloat16);
/* Of SetCache: Build reads the directory, where cache_info.nncache has the version. An older or broken cache, or one of another
   device or model, is compiled anew and replaced, one that fits is taken. Version UINT32_MAX is none: it cannot be saved.
   Compiles, once: what failed can only be destroyed. After it the model may be destroyed. In this order:
   INVALID_PARAMETER     compilation is NULL, it has two sources, or was built
   FAILED                there is no such device, one without a cache for what is imported, or one that takes no offline
                         model of that form
   OPERATION_FORBIDDEN   the device has no cache, no float16, no performance modes, no priorities, and one is asked for;
                         UNAVAILABLE_DEVICE: it does not say whether, FAILED: of performance modes
   INVALID_PARAMETER     a mode or a priority that does not exist; the model is not finished
   INVALID_PATH          the file of an offline model cannot be read
   OPERATION_FORBIDDEN   the directory has a cache of a higher version, which stays as it is
   INVALID_PARAMETER     there is no model, and no cache that can be used
   INVALID_FILE          a .nnrt file is broken; the imported cache is, or is of another device
   UNAVAILABLE_DEVICE    the device does not say which operators it takes, or whether open extents
   FAILED                it does not take one, or the model, or does not tell the inputs and outputs of an offline model
   MEMORY_ERROR          no memory
   INVALID_PARAMETER     there is no such directory, or the version is none, to save the cache; SAVE_CACHE_EXCEPTION: it
                         cannot be written, or the device gives nothing */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNCompilation_Build(OH_NNCompilation *compilation);
/* Executors made from it stay. NULL and a pointer to NULL are fine; *compilation becomes NULL. */
NNRT_OHNN_API void OH_NNCompilation_Destroy(OH_NNCompilation **compilation);

/* ---- descriptions of tensors: INVALID_PARAMETER, a pointer is NULL; what a getter points out is NULL before ---- */

/* Type UNKNOWN, format NONE, no shape, no name. */
NNRT_OHNN_API NN_TensorDesc *OH_NNTensorDesc_Create(void);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_Destroy(NN_TensorDesc **tensorDesc); /* *tensorDesc becomes NULL */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_SetName(NN_TensorDesc *tensorDesc, const char *name);
/* *name becomes the description's own text, "" at first. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetName(const NN_TensorDesc *tensorDesc, const char **name);
/* INVALID_PARAMETER as well: a type that does not exist. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_SetDataType(NN_TensorDesc *tensorDesc, OH_NN_DataType dataType);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetDataType(const NN_TensorDesc *tensorDesc, OH_NN_DataType *dataType);
/* shape: shapeLength extents, 1 to 10; -1: known when the model runs. A scalar has none set. INVALID_PARAMETER as well:
   another shapeLength. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_SetShape(NN_TensorDesc *tensorDesc, const int32_t *shape,
                                                        size_t shapeLength);
/* *shape becomes the description's own array, until it is set anew; NULL and 0 where none is set. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetShape(const NN_TensorDesc *tensorDesc, int32_t **shape,
                                                        size_t *shapeLength);
/* INVALID_PARAMETER as well: a format that does not exist. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_SetFormat(NN_TensorDesc *tensorDesc, OH_NN_Format format);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetFormat(const NN_TensorDesc *tensorDesc, OH_NN_Format *format);
/* INVALID_PARAMETER as well: no shape is set, the product is too large. DYNAMIC_SHAPE, and 0: an extent is not above 0. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetElementCount(const NN_TensorDesc *tensorDesc, size_t *elementCount);
/* INVALID_PARAMETER as well: no shape or type is set, the product is too large. 0 where an extent is not above 0. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensorDesc_GetByteSize(const NN_TensorDesc *tensorDesc, size_t *byteSize);

/* ---- tensors: a description, and memory that the device can share ---- */

/* Memory for exactly what the description says. NULL: tensorDesc is NULL, there is no such device, the size is not known
   or above 1 GiB, no memory. */
NNRT_OHNN_API NN_Tensor *OH_NNTensor_Create(size_t deviceID, NN_TensorDesc *tensorDesc);
/* Memory of size bytes, at least what the description says as far as it does. */
NNRT_OHNN_API NN_Tensor *OH_NNTensor_CreateWithSize(size_t deviceID, NN_TensorDesc *tensorDesc, size_t size);
/* The memory behind a file descriptor, which stays the caller's: its first size bytes, in which the data begin at offset.
   NULL as well: it cannot be mapped; there are no file descriptors here. */
NNRT_OHNN_API NN_Tensor *OH_NNTensor_CreateWithFd(size_t deviceID, NN_TensorDesc *tensorDesc, int fd, size_t size,
                                                  size_t offset);
/* INVALID_PARAMETER: NULL, or a pointer to NULL. NULL_PTR: its device is gone. *tensor becomes NULL. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensor_Destroy(NN_Tensor **tensor);
/* The tensor's own description, and the address of its data; NULL of NULL. A shape that is set there is that of the next
   run. */
NNRT_OHNN_API NN_TensorDesc *OH_NNTensor_GetTensorDesc(const NN_Tensor *tensor);
NNRT_OHNN_API void *OH_NNTensor_GetDataBuffer(const NN_Tensor *tensor);
/* INVALID_PARAMETER: a pointer is NULL. *fd is -1 where the memory has no descriptor. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensor_GetFd(const NN_Tensor *tensor, int *fd);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensor_GetSize(const NN_Tensor *tensor, size_t *size);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNTensor_GetOffset(const NN_Tensor *tensor, size_t *offset);

/* ---- executors: runs of a compilation. index counts the inputs, or the outputs, as the model has them ---- */

/* NULL: compilation is NULL or not built, its device is gone, no memory. */
NNRT_OHNN_API OH_NNExecutor *OH_NNExecutor_Construct(OH_NNCompilation *compilation);
/* *shape, NULL before the call, becomes the executor's own array, until the next run: that of the last run, before it that
   of the model. INVALID_PARAMETER: a pointer is NULL, *shape is not, there is no such output. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_GetOutputShape(OH_NNExecutor *executor, uint32_t outputIndex,
                                                            int32_t **shape, uint32_t *shapeLength);
/* NULL and a pointer to NULL are fine; *executor becomes NULL. Its OH_NN_Memory goes with it. */
NNRT_OHNN_API void OH_NNExecutor_Destroy(OH_NNExecutor **executor);
/* INVALID_PARAMETER: a pointer is NULL. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_GetInputCount(const OH_NNExecutor *executor, size_t *inputCount);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_GetOutputCount(const OH_NNExecutor *executor, size_t *outputCount);
/* A new description, the caller's: as the model has it, of an output with the shape of the last run. NULL: executor is NULL,
   there is no such input (output), no memory. */
NNRT_OHNN_API NN_TensorDesc *OH_NNExecutor_CreateInputTensorDesc(const OH_NNExecutor *executor, size_t index);
NNRT_OHNN_API NN_TensorDesc *OH_NNExecutor_CreateOutputTensorDesc(const OH_NNExecutor *executor, size_t index);
/* Arrays of the executor's: the smallest and largest extents that the input may have. *minInputDims and *maxInputDims are
   NULL before the call, or what an earlier one gave. INVALID_PARAMETER: a pointer is NULL, there is no such input, the device
   contradicts itself. OPERATION_FORBIDDEN: the device does not tell. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_GetInputDimRange(const OH_NNExecutor *executor, size_t index,
                                                              size_t **minInputDims, size_t **maxInputDims,
                                                              size_t *shapeLength);
/* What is called when an asynchronous run ends: SetOnServiceDied's, where it is set, when the driver ended, else
   SetOnRunDone's; one of them once for each run that RunAsync began. It may begin the next run, but not destroy the executor.
   INVALID_PARAMETER: a pointer is NULL. OPERATION_FORBIDDEN: the device has no RunIn, or the library no threads.
   MEMORY_ERROR: no memory, or no thread. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetOnRunDone(OH_NNExecutor *executor, NN_OnRunDone onRunDone);
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_SetOnServiceDied(OH_NNExecutor *executor, NN_OnServiceDied onServiceDied);
/* Runs the model once, and sets the shapes of the outputs' descriptions. In this order:
   INVALID_PARAMETER    a pointer is NULL, a count is 0 or above 200, or not that of the model
   NULL_PTR             an input is NULL (INVALID_PARAMETER: the device tells no ranges)
   INVALID_PARAMETER    an input has a shape outside the ranges; an output is NULL
   FAILED               the memory of a tensor is smaller than its description says
   INVALID_PARAMETER    an output is too small, as far as the built-in devices tell
   UNAVAILABLE_DEVICE   the device failed, or does not take a type, a format or a shape */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_RunSync(OH_NNExecutor *executor, NN_Tensor *inputTensor[],
                                                     size_t inputCount, NN_Tensor *outputTensor[], size_t outputCount);
/* Begins a run and returns; the tensors stay as they are until the callback. A run that lasts more than timeout milliseconds
   (0: as long as it takes), waiting included, ends with TIMEOUT and without outputs.
   INVALID_PARAMETER: a pointer is NULL, a count is 0 or above 200. OPERATION_FORBIDDEN: SetOnRunDone was not called, or
   is not for this device. Then INVALID_PARAMETER: timeout is negative; and as RunSync. MEMORY_ERROR.
   UNAVAILABLE_DEVICE: 64 runs wait. After a code other than SUCCESS nothing is called. */
NNRT_OHNN_API OH_NN_ReturnCode OH_NNExecutor_RunAsync(OH_NNExecutor *executor, NN_Tensor *inputTensor[],
                                                      size_t inputCount, NN_Tensor *outputTensor[], size_t outputCount,
                                                      int32_t timeout, void *userData);

#ifdef __cplusplus
}
#endif

#endif /* NEURAL_NETWORK_CORE_H */
