/*
nnrt_hal.h - the layer between applications and devices of nnrt: the device tables (vtables), the registry, prepared
models that are plans, and the built-in device `reference`.

READERS
    A device vendor: copy examples/device/device.h, a device whose prepared models are plans (>>prepare); or implement
    all of an NNRT_DeviceVtbl and an NNRT_PreparedModelVtbl (>>tables). Then call nnrt_device_register.
    This file includes nnrt_plan.h (drafts and plans) and by it nnrt_model.h (models) and nnrt_ops.h (kernels).
    Applications include nnrt.h, which includes this file.

SECTIONS (search for the tag)
    >>tables      for writers of devices: NNRT_DeviceVtbl, NNRT_PreparedModelVtbl
    >>registry    registering, listing and calling devices
    >>prepare     for writers of devices: PrepareModel if prepared models are plans; prepacked weights
    -- implementation --
    >>prepared >>reference >>registry

OWNERSHIP
    Constants are used in place and must outlive the prepared model, unless ModelConfig.copyConstants is set. A prepared
    model is immutable; any number of threads may run it at once with RunIn, each in a workspace of its own.

ERRORS
    As in nnrt_model.h. A driver that returns a code without a text gets one with the names of device and code.

MIT license, see LICENSE.
*/
#ifndef NNRT_HAL_H
#define NNRT_HAL_H

#include "core/nnrt_plan.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>tables */

/* Rules of both tables (vtables). A device is a NNRT_DeviceVtbl and a `self` pointer of its own; a prepared model is a
   struct of the driver that begins with a pointer to a NNRT_PreparedModelVtbl.
   - structSize is the sizeof of the table that the driver was compiled with. Slots are only appended, never moved, and
     the runtime reads a slot only if it is inside structSize (NNRT_HAS). A slot that is NULL or outside structSize is a
     method that the driver does not implement.
   - version is NNRT_HDI(2, 0): HDI's version in the lower 24 bits, above them the NNRT_LAYOUT that the driver was
     compiled with. Registration fails for any other layout, 0 included (drivers older than the number). The layout is
     in this word and not in a member of its own, because no slot may move, and tables that end after the slots of
     HDI 1.0 need it too.
   - Functions return 0, a positive NNRT_ReturnCode, or a negative system code. They must not throw or abort.
   - Arguments are valid during the call only. Returned strings and arrays stay the driver's, and are valid until the
     next call on the same object.
   - Threads: prepare and query methods of a device, and RunIn, may be called by several threads at once; Run, RunV1 and
     RunUntil without a workspace by one thread at a time for each prepared model.
   - Slots that report ranges or shapes fill dims[0 .. rank).

   A driver may be compiled with other options than the program. Structs whose size depends on options carry it:
   NNRT_ModelConfig.structSize, nnrt_error.capacity. A driver that passes an error of its own to a function of the
   program sets capacity = sizeof(error.message). */
#define NNRT_HDI(major, minor) ((uint32_t)NNRT_LAYOUT << 24 | (uint32_t)(major) << 16 | (uint32_t)(minor))
#define NNRT_HAS_MEMBER(record, Type, member)                                                                          \
    ((record)->structSize >= offsetof(Type, member) + sizeof((record)->member))
#define NNRT_HAS(table, Type, slot) (NNRT_HAS_MEMBER(table, Type, slot) && (table)->slot != NULL)

#ifndef NNRT_FIRMWARE
/* For a device: *own = the given configuration (NULL = defaults), with defaults for the members outside its structSize.
   It is an inline function because it must be compiled with the device: own has the size that the device knows. */
static inline void nnrt_config_read(NNRT_ModelConfig *own, const NNRT_ModelConfig *given)
{
    const uint32_t known = (uint32_t)sizeof(*own);
    uint32_t bytes = 0;
    if (given != NULL)
        bytes = given->structSize != 0 ? given->structSize : (uint32_t)offsetof(NNRT_ModelConfig, structSize);
    memset(own, 0, sizeof(*own));
    if (given != NULL)
        memcpy(own, given, bytes < known ? bytes : known);
    own->structSize = known;
}
#endif

typedef struct NNRT_PreparedModel NNRT_PreparedModel;

/* The memory of a prepared model, in bytes. */
typedef struct nnrt_prepared_memory {
    size_t tables;    /* the prepared model itself, with derived and copied constants and its own workspace */
    size_t workspace; /* one workspace: arena and per-run tables */
    size_t arena;     /* the arena alone */
    size_t bound;     /* lower bound of the arena: the largest sum of the sizes of blocks that are live at one step */
    size_t constants; /* constants that steps read, in whatever memory they are */
    uint32_t steps;   /* of the plan, subgraphs included */
} nnrt_prepared_memory;

typedef struct NNRT_PreparedModelVtbl {
    uint32_t structSize, version;
    /* Optional: the blocks of a model cache, for PrepareModelFromModelCache: *buffers with *count entries. They stay
       the driver's, valid as long as the prepared model. Absent = the model cannot be cached. */
    NNRT_ReturnCode (*ExportModelCache)(NNRT_PreparedModel *self, const NNRT_SharedBuffer **buffers, uint32_t *count);
    /* Required unless Run exists: Run of HDI 1.0. isOutputBufferEnough[nOut], all true on entry: false = output i is
       too small, and the call still returns SUCCESS. outputDims[nOut] or NULL. At most 32 outputs. */
    NNRT_ReturnCode (*RunV1)(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                             const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                             bool *isOutputBufferEnough);
    /* ---- end of HDI 1.0 ---- */
    /* Optional: smallest and largest dimensions of input `index`. */
    NNRT_ReturnCode (*GetInputDimRanges)(NNRT_PreparedModel *self, uint32_t index, nnrt_dims *least, nnrt_dims *most);
    /* Required unless RunV1 or RunIn exists. Runs in the prepared model's own workspace: one thread at a time. Inputs
       and outputs are in the model's order. outputDims[nOut], or NULL, receives the actual shapes.
       INSUFFICIENT_BUFFER: an output is larger than its buffer; outputDims has the required shape. */
    NNRT_ReturnCode (*Run)(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                           const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims);
    /* ---- end of HDI 2.0 and 2.1; ours from here ---- */
    /* Optional: frees the prepared model. */
    void (*Destroy)(NNRT_PreparedModel *self);
    /* Required with RunIn: bytes of a workspace, 0 = none is needed. Absent = sessions and auto call
       Run or RunV1 instead. */
    NNRT_ReturnCode (*GetWorkspaceSize)(NNRT_PreparedModel *self, size_t *bytes);
    /* Optional: Run in the caller's workspace of `bytes` bytes, aligned to NNRT_ALIGNMENT, whose contents need not
       survive between runs. Any number of threads at once, each with a workspace of its own. error may be NULL. */
    NNRT_ReturnCode (*RunIn)(NNRT_PreparedModel *self, void *workspace, size_t bytes, const NNRT_IOTensor *inputs,
                             uint32_t nIn, const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                             nnrt_error *error);
    /* Optional: type and shape of an input (output) as planned, for callers that allocate buffers; dynamic dimensions
       at their upper bounds. Absent = as the model declares them, or as nnrt_model_infer derives them.
       INVALID_PARAMETER: no input (output) has that index. */
    NNRT_ReturnCode (*GetIO)(NNRT_PreparedModel *self, bool output, uint32_t index, NNRT_DataType *type,
                             nnrt_dims *shape);
    /* Optional: the memory of the prepared model. Adding a member to the struct requires another NNRT_LAYOUT. */
    NNRT_ReturnCode (*GetMemory)(NNRT_PreparedModel *self, nnrt_prepared_memory *memory);
    /* Optional: smallest and largest dimensions of output `index`. Absent: they are as GetIO reports. */
    NNRT_ReturnCode (*GetOutputDimRanges)(NNRT_PreparedModel *self, uint32_t index, nnrt_dims *least, nnrt_dims *most);
#ifndef NNRT_FIRMWARE
    /* Optional: a run that polls stop between its steps and returns CANCELLED once stop->asked returns true; outputs
       are then undefined. As RunIn; workspace NULL: as Run. stop and error may be NULL. Absent = a run that has begun
       is not interrupted. */
    NNRT_ReturnCode (*RunUntil)(NNRT_PreparedModel *self, void *workspace, size_t bytes, const NNRT_IOTensor *inputs,
                                uint32_t nIn, const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                                const nnrt_stop *stop, nnrt_error *error);
#endif
} NNRT_PreparedModelVtbl;

/* First member of every prepared model: the driver's own data follows. */
struct NNRT_PreparedModel {
    const NNRT_PreparedModelVtbl *vtbl;
};

/* Receives the reason why a device does not support a node (index in Model.nodes): error->code, and a message unless
   the device was compiled without messages. error is valid during the call; its message has error->capacity bytes,
   which may differ from NNRT_MESSAGE_BYTES of this program. */
typedef void (*nnrt_reason)(void *user, uint32_t node, const nnrt_error *error);

typedef struct NNRT_DeviceVtbl {
    uint32_t structSize, version;
    /* Required: version of the driver's interface, name and vendor; name and vendor together are unique, not empty. */
    NNRT_ReturnCode (*GetVersion)(void *self, uint32_t *major, uint32_t *minor);
    NNRT_ReturnCode (*GetDeviceName)(void *self, const char **name);
    NNRT_ReturnCode (*GetVendorName)(void *self, const char **name);
    /* Optional: absent = OTHER, AVAILABLE. A device that reports OFFLINE or UNKNOWN cannot be registered. */
    NNRT_ReturnCode (*GetDeviceType)(void *self, NNRT_DeviceType *type);
    NNRT_ReturnCode (*GetDeviceStatus)(void *self, NNRT_DeviceStatus *status);
    /* Optional: isSupported[i] = whether the device can prepare node i; count = Model.nodes.count. Absent = every node
       counts as supported, and PrepareModel fails for a model that is not. */
    NNRT_ReturnCode (*GetSupportedOperation)(void *self, const NNRT_Model *model, bool *isSupported, uint32_t count);
    /* Optional: absent = false. */
    NNRT_ReturnCode (*IsFloat16PrecisionSupported)(void *self, bool *isSupported);
    NNRT_ReturnCode (*IsPerformanceModeSupported)(void *self, bool *isSupported);
    NNRT_ReturnCode (*IsPrioritySupported)(void *self, bool *isSupported);
    NNRT_ReturnCode (*IsDynamicInputSupported)(void *self, bool *isSupported);
    /* Required unless PrepareModelFromModelCache or PrepareOfflineModel exists. On success *prepared is a prepared
       model that Destroy frees; on failure nothing stays allocated. model and config are valid during the call only;
       the device may keep the addresses of constants, unless config->copyConstants is set, and pointers in config that
       must outlive the prepared model. */
    NNRT_ReturnCode (*PrepareModel)(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                    NNRT_PreparedModel **prepared);
    /* Optional, absent = no cache: prepares from the blocks that ExportModelCache returned, in that order, without the
       model. INVALID_MODEL_CACHE: the blocks are damaged, or of another version or configuration. */
    NNRT_ReturnCode (*IsModelCacheSupported)(void *self, bool *isSupported);
    NNRT_ReturnCode (*PrepareModelFromModelCache)(void *self, const NNRT_SharedBuffer *cache, uint32_t count,
                                                  const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared);
    /* Optional, both or none: a block that device and program both access. *buffer has a descriptor, an address or
       both; offset 0, dataSize = length, bufferSize >= length. Absent = blocks from nnrt_buffer_create. */
    NNRT_ReturnCode (*AllocateBuffer)(void *self, uint32_t length, NNRT_SharedBuffer *buffer);
    NNRT_ReturnCode (*ReleaseBuffer)(void *self, const NNRT_SharedBuffer *buffer);
    /* ---- end of HDI 1.0 ---- */
    /* Optional: prepares a model that is stored in the device's own format. */
    NNRT_ReturnCode (*PrepareOfflineModel)(void *self, const NNRT_SharedBuffer *models, uint32_t count,
                                           const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared);
    /* ---- end of HDI 2.0 and 2.1; ours from here ---- */
    /* Optional: called when the device is unregistered. */
    void (*Destroy)(void *self);
    /* Optional: the exact number of bytes that PrepareModel needs: with that many in config->buffer it succeeds, with
       one fewer it returns OUT_OF_MEMORY. */
    NNRT_ReturnCode (*GetModelMemory)(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                      size_t *bytes);
    /* Optional: GetSupportedOperation for the configuration that PrepareModel will receive: with its input dimensions,
       and in its memory. If config->buffer is set, all memory comes from it; the bytes of GetModelMemory suffice.
       reason, if not NULL, is called once for each unsupported node. Results in the model may have type UNKNOWN: a
       device that depends on types or shapes infers them first (nnrt_model_map, nnrt_model_infer). Absent =
       GetSupportedOperation. */
    NNRT_ReturnCode (*GetSupportedNodes)(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                         bool *isSupported, uint32_t count, nnrt_reason reason, void *user);
    /* Optional, both or none: a context that prepared models share, as in NNAdapter's drivers. properties: a string
       "KEY=VALUE;...". ask: the application's callback, which the device may call until CloseContext; may be NULL.
       *opened != NULL on success. The prepare methods look the context up in config (nnrt_context_of). Absent = the
       device has no contexts. */
    NNRT_ReturnCode (*OpenContext)(void *self, const char *properties, nnrt_ask ask, void **opened);
    void (*CloseContext)(void *self, void *opened);
} NNRT_DeviceVtbl;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>registry */

#ifndef NNRT_FIRMWARE

#define NNRT_MAX_DEVICES 16

/* The registry: one table of at most NNRT_MAX_DEVICES devices per program. The built-in devices (auto, reference,
   cpu, as far as they are compiled in) are registered by the first call of any function below, which is thread-safe.
   nnrt_device_register and nnrt_device_unregister are not: call them on one thread, before and after the others use
   the registry. Everything else may be called on several threads. A handle is valid, and its address stays the same,
   until that device is unregistered.
   The unique name of a device is "<device>_<vendor>_v<major>_<minor>".

   A built-in device: the file of the device defines NNRT_BUILTIN_DEVICE, before it includes this header, as the name of
   a static function `const NNRT_DeviceVtbl *function(void **self)`, which returns the table, or NULL if the device
   cannot run on this machine. It is registered after reference; the device of NNRT_AUTO_DEVICE, a partitioner, before
   it. The implementation of this header declares the function and defines NNRT_BUILTIN_WANTED (NNRT_AUTO_WANTED): the
   file must define the function if this macro exists. There is one device of each kind; nnrt.h defines both macros for
   devices/nnrt_cpu.h and devices/nnrt_auto.h, unless the program did. */
typedef struct nnrt_device nnrt_device;
/* Registers a device. table (not copied) and self must stay valid until it is unregistered; self is passed to every
   method. Names have at most 63 characters and are copied. NULL_PTR or INVALID_PARAMETER: an invalid table (version,
   required slots, names). OPERATION_FORBIDDEN: a device of that name and vendor is registered. DEVICE_ERROR: it is
   offline. OUT_OF_MEMORY: NNRT_MAX_DEVICES are registered. */
NNRT_API NNRT_ReturnCode nnrt_device_register(const NNRT_DeviceVtbl *table, void *self, nnrt_error *error);
/* Unregisters a device: calls Destroy and removes it. name: as of nnrt_device_find. DEVICE_BUSY: prepared models,
   contexts or buffers of the device exist; OPERATION_FORBIDDEN: auto and reference; INVALID_PARAMETER: no such device.
   */
NNRT_API NNRT_ReturnCode nnrt_device_unregister(const char *name);
/* The number of registered devices. */
NNRT_API uint32_t nnrt_device_count(void);
/* Device `index` in the order of registration; NULL after the last. */
NNRT_API nnrt_device *nnrt_device_at(uint32_t index);
/* The device with that unique name, else the first registered one with that device name; NULL: none. */
NNRT_API nnrt_device *nnrt_device_find(const char *name);
/* The name of a device, "reference"; valid as long as the handle. "" for NULL. */
NNRT_API const char *nnrt_device_name(const nnrt_device *device);
/* The unique name of a device, "reference_nnrt_v2_0"; valid as long as the handle. "" for NULL. */
NNRT_API const char *nnrt_device_unique_name(const nnrt_device *device);
/* The vendor of a device; valid as long as the handle. "" for NULL. */
NNRT_API const char *nnrt_device_vendor(const nnrt_device *device);
/* The type of a device; OTHER for NULL. *code (code may be NULL) is the code of GetDeviceType; if that fails, the type
   is OTHER. */
NNRT_API NNRT_DeviceType nnrt_device_type(const nnrt_device *device, NNRT_ReturnCode *code);
/* The status that a device reports now; UNKNOWN for NULL. */
NNRT_API NNRT_DeviceStatus nnrt_device_status(const nnrt_device *device);

/* Optional abilities of a device. A device without the corresponding method does not have the ability. */
typedef int32_t nnrt_ability;
enum {
    NNRT_ABILITY_FLOAT16, /* run a float32 model in float16 */
    NNRT_ABILITY_PERFORMANCE_MODE,
    NNRT_ABILITY_PRIORITY,
    NNRT_ABILITY_DYNAMIC_INPUT,
    NNRT_ABILITY_MODEL_CACHE,
    NNRT_ABILITY_OFFLINE_MODEL, /* PrepareOfflineModel exists */
    NNRT_ABILITY_TELL_NODES,    /* GetSupportedNodes or GetSupportedOperation exists; else all nodes count as
                                   supported */
    NNRT_ABILITY_TELL_MEMORY    /* GetModelMemory exists */
};
/* Whether a device has an ability. *code (code may be NULL) is the code of the method; if that fails, the result is
   false. */
NNRT_API bool nnrt_device_can(const nnrt_device *device, nnrt_ability ability, NNRT_ReturnCode *code);

/* Calls through the table: the functions from here on. A method that the device does not implement yields NOT_SUPPORT,
   unless its slot's comment defines a default. config may be NULL = defaults. *prepared is NULL on failure; the caller
   releases a prepared model with nnrt_device_release. config->error receives the message. NOT_SUPPORT also: the device
   does not support an option of config (enableFloat16, mode, priority, bounds). */

/* Which nodes of a model a device supports: isSupported[count], count = model->nodes.count. reason, if not NULL, is
   called for each unsupported node (GetSupportedNodes). */
NNRT_API NNRT_ReturnCode nnrt_device_supported(nnrt_device *device, const NNRT_Model *model,
                                               const NNRT_ModelConfig *config, bool *isSupported, uint32_t count,
                                               nnrt_reason reason, void *user);
/* Prepares a model on a device (PrepareModel). */
NNRT_API NNRT_ReturnCode nnrt_device_prepare(nnrt_device *device, const NNRT_Model *model,
                                             const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared);
/* Prepares a model from the blocks that a prepared model of this device exported (ExportModelCache), in that order. The
   blocks stay the caller's. */
NNRT_API NNRT_ReturnCode nnrt_device_prepare_cache(nnrt_device *device, const NNRT_SharedBuffer *cache, uint32_t count,
                                                   const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared);
/* Prepares a model that is stored in the device's own format. The blocks stay the caller's. */
NNRT_API NNRT_ReturnCode nnrt_device_prepare_offline(nnrt_device *device, const NNRT_SharedBuffer *models,
                                                     uint32_t count, const NNRT_ModelConfig *config,
                                                     NNRT_PreparedModel **prepared);
/* The bytes of config->buffer with which nnrt_device_prepare succeeds (GetModelMemory). */
NNRT_API NNRT_ReturnCode nnrt_device_model_memory(nnrt_device *device, const NNRT_Model *model,
                                                  const NNRT_ModelConfig *config, size_t *bytes);
/* Allocates a block of length bytes that device and program both access (AllocateBuffer): with a descriptor, an
   address, or both (nnrt_buffer_map yields the address). device NULL, or one without this method: a block of the system
   (nnrt_buffer_create). INVALID_PARAMETER: length is 0. DEVICE_ERROR: the device returned an invalid block, which has
   been released. */
NNRT_API NNRT_ReturnCode nnrt_device_allocate(nnrt_device *device, uint32_t length, NNRT_SharedBuffer *buffer);
/* Frees a block of nnrt_device_allocate: each once, with the same device, before the device is unregistered.
   INVALID_BUFFER: the buffer has neither descriptor nor address. */
NNRT_API NNRT_ReturnCode nnrt_device_free(nnrt_device *device, const NNRT_SharedBuffer *buffer);
/* The hook of a model cache (NNRT_ModelConfig.through). Instead of PrepareModel, nnrt_device_prepare calls prepare
   for a device that supports caching (PrepareModelFromModelCache); with `auto`, once for each such partition. prepare
   returns the result of nnrt_device_prepare or nnrt_device_prepare_cache of that device. The config that it receives
   has through = NULL, so that these calls do not recurse. */
typedef struct nnrt_through {
    NNRT_ReturnCode (*prepare)(void *user, nnrt_device *device, const NNRT_Model *model, const NNRT_ModelConfig *config,
                               NNRT_PreparedModel **prepared);
    void *user;
} nnrt_through;
/* Opens a context on a device (OpenContext); for a device without contexts it succeeds, with context->opened NULL.
   properties and ask may be NULL. An open context keeps its device from being unregistered. */
NNRT_API NNRT_ReturnCode nnrt_context_open(nnrt_context *context, nnrt_device *device, const char *properties,
                                           nnrt_ask ask, nnrt_error *error);
/* Closes a context. Sessions and prepared models that use it (NNRT_ModelConfig.contexts) must be destroyed before. NULL
   is fine. */
NNRT_API void nnrt_context_close(nnrt_context *context);
/* Destroys a prepared model; device: the one that prepared it. No run of it may be in progress. NULL is fine. */
NNRT_API void nnrt_device_release(nnrt_device *device, NNRT_PreparedModel *prepared);
/* Runs a prepared model: RunIn if it exists and workspace is not NULL, or not needed (GetWorkspaceSize reports 0 bytes), else
   Run, else RunV1, with their contracts and threads (>>tables). bytes: of workspace, at least GetWorkspaceSize. outputDims[nOut],
   stop and error may be NULL.
   CANCELLED: stop->asked returned true before the run or, if the device has RunUntil, between two steps; outputs are
   then undefined. */
NNRT_API NNRT_ReturnCode nnrt_prepared_run(NNRT_PreparedModel *prepared, void *workspace, size_t bytes,
                                           const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                           uint32_t nOut, nnrt_dims *outputDims, const nnrt_stop *stop,
                                           nnrt_error *error);
/* The plan of a prepared model that is one (nnrt_plan_prepare); NULL: prepared is another kind of model. */
NNRT_API const nnrt_plan *nnrt_prepared_plan(const NNRT_PreparedModel *prepared);

#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>prepare

   For writers of devices. */

#ifndef NNRT_FIRMWARE
/* Edits a draft; user is the argument of the functions below. */
typedef NNRT_ReturnCode (*nnrt_edit)(void *user, nnrt_draft *draft);
/* PrepareModel of a device whose prepared models are plans: the three phases, in the memory of config. edit NULL: the
   reference kernels. If edit returns another code than SUCCESS, preparation ends with it. user is passed to edit. key
   NULL: edit packs no weights. Otherwise it packs them with nnrt_draft_pack; weights of config->packs that have this
   key are used instead. key: a string of everything that the packed bytes depend on besides model and configuration,
   such as the instruction set (ISA) that they are packed for and its own version. */
NNRT_API NNRT_ReturnCode nnrt_plan_prepare(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_edit edit,
                                           void *user, const char *key, NNRT_PreparedModel **prepared);
/* GetModelMemory of a device whose prepared models are plans: runs the code of nnrt_plan_prepare and counts its bytes.
   */
NNRT_API NNRT_ReturnCode nnrt_plan_memory(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_edit edit,
                                          void *user, size_t *bytes);
/* A prepared model that is a plan; nnrt_plan_prepare returns one. A device that does more than edit the draft
   (devices/nnrt_auto.h) makes it the first member of a struct of its own, in kept memory, and runs the phases itself:
   nnrt_plan_draft, its edits, nnrt_plan_model_finish, nnrt_plan_model_keep. */
typedef struct nnrt_plan_model {
    NNRT_PreparedModel base; /* first: the handle is the address of this struct */
    nnrt_plan *plan;
    void *workspace;   /* its own workspace, for Run; NULL: the caller passes one */
    size_t tableBytes; /* nnrt_prepared_memory.tables */
    nnrt_allocator allocator;
    void *given;                   /* the pieces of memory, with this struct; NULL: all is in the caller's buffer */
    nnrt_mapping *mappings;        /* memory maps of constants that have only a descriptor */
    struct nnrti_packing *packing; /* prepacked weights that can be exported; NULL: none */
    void *restored;                /* copy of a cache's blocks, from the allocator; NULL: not restored from a cache */
} nnrt_plan_model;
/* Fills a table with the functions of an nnrt_plan_model. A device may replace slots; its own Destroy and GetMemory
   must call the functions that they replace. */
NNRT_API void nnrt_plan_model_table(NNRT_PreparedModelVtbl *table);
/* Finishes the draft of an nnrt_plan_model, drops temporary memory, and reserves the model's own workspace, unless
   ModelConfig.callerWorkspace is set and runIn is true (the device's table has RunIn). */
NNRT_API NNRT_ReturnCode nnrt_plan_model_finish(nnrt_plan_model *model, nnrt_draft *draft, bool runIn);
/* The last phase of an nnrt_plan_model, which cannot fail: moves the ownership of `memory` to the model, whose Destroy
   frees it. */
NNRT_API void nnrt_plan_model_keep(nnrt_plan_model *model, const NNRT_ModelConfig *config, nnrt_memory *memory);
/* GetSupportedNodes of a device whose prepared models are plans, for edits that reject no node; with config and reason
   NULL, GetSupportedOperation. A node is supported if shape inference resolves it, as in nnrt_plan_prepare, to a kernel
   of the reference device. INVALID_PARAMETER: count is not the number of nodes. */
NNRT_API NNRT_ReturnCode nnrt_plan_supported(const NNRT_Model *model, const NNRT_ModelConfig *config,
                                             bool *isSupported, uint32_t count, nnrt_reason reason, void *user);

/* The device that a session of model runs on. name: of a device; "auto:NAME,NAME,...": auto over these (the caller
   passes the names on in autoDevices); NULL: auto. Without devices/nnrt_auto.h in the program, NULL selects the first
   registered device that supports every node, else reference, and "auto:..." returns NULL. model NULL: every device
   counts as supporting every node. */
NNRT_API nnrt_device *nnrt_device_choose(const char *name, const NNRT_Model *model, const NNRT_ModelConfig *config);
/* For a prepare method of a device: the object that its own OpenContext returned, from config->contexts. self: the
   device's. NULL: the caller passed no context of this device. */
NNRT_API void *nnrt_context_of(const NNRT_ModelConfig *config, const void *self);

/* Prepacked weights of one model on one device, stored by an earlier preparation: a table of their places, and the
   weights. They are packed from the constants of that model; the store must not return them for another model. */
typedef struct nnrt_packed {
    const void *table, *weights; /* weights: aligned to NNRT_ALIGNMENT, used in place (no copy); outlive the plan */
    size_t tableBytes, weightBytes;
} nnrt_packed;
/* A store of prepacked weights (NNRT_ModelConfig.packs), which the application implements; nnrt.h has one. */
typedef struct nnrt_packs {
    /* *packed = the weights that device config->device packed for this model. false: none. NULL: an empty store. */
    bool (*find)(void *user, const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_packed *packed);
    /* Called when the model has been prepared. taken: the weights of find are used. Otherwise fault has the reason why
       they are not (code SUCCESS: find returned none), and if keep is set, ExportModelCache of prepared returns two
       blocks to store, the table and the weights. */
    void (*done)(void *user, const NNRT_Model *model, const NNRT_ModelConfig *config, NNRT_PreparedModel *prepared,
                 bool taken, const nnrt_error *fault);
    void *user;
    bool keep; /* the packed weights will be exported; the table for that costs the prepared model some bytes */
    /* For a model cache, whose device receives no model (PrepareModelFromModelCache). With keep: exports a third block,
       the model as a .nnrt file without the constants that are packed, for nnrt_plan_restore_packed. */
    bool whole;
} nnrt_packs;
/* PrepareModelFromModelCache of a device that packs weights, from the three blocks that it exported (packs.whole), which
   are copied. NOT_SUPPORT: config has a buffer. INVALID_MODEL_CACHE: the blocks are damaged, or of another key or
   configuration. The bytes of the weights are not checked: the store must keep a checksum of the blocks. */
NNRT_API NNRT_ReturnCode nnrt_plan_restore_packed(const NNRT_SharedBuffer *cache, uint32_t count,
                                                  const NNRT_ModelConfig *config, nnrt_edit edit, void *user,
                                                  const char *key, NNRT_PreparedModel **prepared);
#endif

#ifdef __cplusplus
}
#endif

#endif /* NNRT_HAL_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_HAL_IMPLEMENTED)
#define NNRT_HAL_IMPLEMENTED

#include "core/nnrt_plan.h" /* its implementation, if only its declarations were included so far */

#include <string.h>

#ifndef NNRT_FIRMWARE /* devices: firmware runs its plans itself */

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>prepared */

/* A prepared model in the form of a plan (nnrt_plan_model). The devices `reference` and `cpu` return it, as does any
   device whose prepared models are edited drafts. It consists of the plan, the memory maps of constants that have only
   a descriptor, and a workspace for Run, unless the caller passes one to each run (callerWorkspace).

   Invariant: nnrti_plan_make is the one walk for counting bytes (nnrt_plan_memory) and for preparing, so the count is
   exact: N bytes suffice, N - 1 return OUT_OF_MEMORY. The plan is immutable; sessions share it, with a workspace each.
   Rejected: a formula for the bytes, which would drift from the code.

   Prepacked weights and model caches are two uses of one mechanism (nnrti_packing, >>plan):
       nnrt_plan_prepare           asks the caller for packed weights (nnrt_packs.find: a section of a .nnrt file) and
                                   falls back to packing if they are missing, damaged or of another key
       nnrti_plan_model_export     ExportModelCache: table of packs, weights, and for a model cache the model without
                                   the constants that only packing reads
       nnrt_plan_restore_packed    PrepareModelFromModelCache: prepares from these three blocks, and packs nothing */

NNRT_SETUP()

/* Rule: performance mode and priority are values of their enums. */
static NNRT_ReturnCode nnrti_check_mode(const NNRT_ModelConfig *config)
{
    if (config->mode < NNRT_PERFORMANCE_NONE || config->mode > NNRT_PERFORMANCE_EXTREME)
        return nnrt_error_set(config->error, NNRT_INVALID_PERFORMANCE_MODE, "performance mode %d does not exist",
                              config->mode);
    if (config->priority < NNRT_PRIORITY_NONE || config->priority > NNRT_PRIORITY_HIGH)
        return nnrt_error_set(config->error, NNRT_INVALID_PRIORITY, "priority %d does not exist", config->priority);
    return NNRT_SUCCESS;
}

/* Rule: the members of a configuration that every device with plans reads are valid. */
static NNRT_ReturnCode nnrti_check_config(const NNRT_ModelConfig *config)
{
    const NNRT_ReturnCode code = nnrti_check_mode(config);
    if (code != NNRT_SUCCESS)
        return code;
    if (config->buffer != NULL && (uintptr_t)config->buffer % NNRT_ALIGNMENT != 0)
        return nnrt_error_set(config->error, NNRT_INVALID_PARAMETER, "the buffer is not aligned to %d bytes",
                              NNRT_ALIGNMENT);
    return NNRT_SUCCESS;
}

/* Drops the temporary memory, the draft included, before it reserves the workspace, so that in one buffer both share
   the same bytes. nnrt_plan_workspace returns SIZE_MAX if a size overflows; the limit SIZE_MAX / 4 rejects that, too.
   tableBytes is the sum of the kept blocks, so it includes the workspace that was reserved. */
NNRT_API NNRT_ReturnCode nnrt_plan_model_finish(nnrt_plan_model *model, nnrt_draft *draft, bool runIn)
{
    nnrt_memory *memory = draft->memory; /* the draft itself is in the temporary part */
    const NNRT_ModelConfig *config = draft->config;
    const NNRT_ReturnCode code = nnrt_plan_finish(draft, &model->plan);
    size_t workspace;
    if (code != NNRT_SUCCESS)
        return code;
    nnrt_memory_drop_temp(memory);
    workspace = nnrt_plan_workspace(model->plan);
    if (workspace > SIZE_MAX / 4 ||
        (!(config->callerWorkspace && runIn) && !nnrti_memory_reserve(memory, workspace, &model->workspace)))
        return nnrti_no_memory(config->error);
    model->tableBytes = memory->front;
    return NNRT_SUCCESS;
}

/* About as many bytes as a draft has temporary ones, most of them for a few tables of each node; at most 256 KiB. */
static size_t nnrti_draft_guess(const NNRT_Model *model)
{
    const uint32_t nodes = model != NULL ? model->nodes.count : 0;
    return 2048u * (8u + (nodes < 120 ? nodes : 120));
}

/* Prepares a model: memory maps its constants, makes the draft, calls the edit, finishes the plan. The one walk for
   counting bytes and for preparing. *made is set even if it fails, for nnrti_plan_model_unmap; NULL: no memory. */
static NNRT_ReturnCode nnrti_plan_make(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_edit edit,
                                       void *user, nnrt_memory *memory, nnrt_plan_model **made)
{
    nnrt_plan_model *m = (nnrt_plan_model *)nnrt_memory_keep(memory, sizeof(*m));
    nnrt_draft *draft;
    NNRT_ReturnCode code;
    *made = m;
    nnrti_memory_expect(memory, nnrti_draft_guess(model), 1);
    if (m == NULL || (model != NULL && (model = nnrt_model_map(model, memory, &m->mappings)) == NULL))
        return nnrti_no_memory(config->error);
    if ((code = nnrt_plan_draft(model, config, memory, &draft)) != NNRT_SUCCESS ||
        (edit != NULL && (code = edit(user, draft)) != NNRT_SUCCESS) ||
        (code = nnrt_plan_model_finish(m, draft, true)) != NNRT_SUCCESS)
        return code;
    return NNRT_SUCCESS;
}

/* Ends the memory maps of a prepared model, which may be unfinished; NULL is fine. */
static void nnrti_plan_model_unmap(nnrt_plan_model *m)
{
    if (m != NULL)
        nnrt_model_unmap(m->mappings);
}

/* Count mode allocates the tables of the draft, which later sizes depend on, and frees them at the end. Bulk data
   (workspace, copied constants, packed weights) are counted only, so counting a large model needs little memory. */
static NNRT_ReturnCode nnrti_plan_count(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_edit edit,
                                        void *user, nnrt_memory *memory)
{
    nnrt_plan_model *made;
    NNRT_ReturnCode code;
    nnrt_memory_count(memory, config->allocator);
    code = nnrti_plan_make(model, config, edit, user, memory, &made);
    nnrti_plan_model_unmap(made);
    nnrt_memory_end(memory);
    return code;
}

NNRT_API NNRT_ReturnCode nnrt_plan_memory(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_edit edit,
                                          void *user, size_t *bytes)
{
    NNRT_ModelConfig own;
    nnrt_memory memory;
    NNRT_ReturnCode code;
    if (bytes == NULL)
        return NNRT_NULL_PTR;
    *bytes = 0;
    nnrt_config_read(&own, config);
    code = nnrti_plan_count(model, &own, edit, user, &memory);
    if (code == NNRT_SUCCESS && !nnrt_round_size(memory.peak, NNRT_ALIGNMENT, bytes))
        return nnrti_no_memory(own.error);
    return code;
}

/* Counts the plan as a user of the custom operators (of the application) that its steps call, which cannot be
   unregistered meanwhile: n is 1 when a plan is made, -1 when it is destroyed. */
static void nnrti_plan_hold(const nnrt_plan *plan, int32_t n)
{
    for (uint32_t s = 0; s < plan->nSteps; s++) {
        nnrti_op_hold(plan->steps[s].op, n);
        for (uint32_t k = 0; k < 2 && nnrti_step_graphs(&plan->steps[s]) != NULL; k++)
            nnrti_plan_hold(nnrti_step_graphs(&plan->steps[s])->plans[k], n);
    }
}

/* Destroy: frees everything that the prepared model owns; memory in a buffer of the caller stays. The struct itself
   is in the pieces of `given`, hence the copy of the allocator, and the order. */
static void nnrti_plan_model_destroy(NNRT_PreparedModel *self)
{
    nnrt_plan_model *m = (nnrt_plan_model *)(void *)self;
    nnrt_allocator allocator;
    if (m == NULL)
        return;
    allocator = m->allocator;
    nnrti_plan_hold(m->plan, -1);
    nnrti_plan_model_unmap(m);
    if (m->packing != NULL)
        nnrt_free(&allocator, m->packing->exported, m->packing->exportedBytes);
    nnrti_memory_free(&allocator, m->restored);
    nnrti_memory_free(&allocator, m->given);
}

/* RunIn: several threads at once, each in a workspace of its own. */
static NNRT_ReturnCode nnrti_plan_model_run_in(NNRT_PreparedModel *self, void *workspace, size_t bytes,
                                               const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                               uint32_t nOut, nnrt_dims *outputDims, nnrt_error *error)
{
    if (self == NULL)
        return NNRT_NULL_PTR;
    return nnrt_plan_run(((nnrt_plan_model *)(void *)self)->plan, workspace, bytes, inputs, nIn, outputs, nOut,
                         outputDims, error);
}

/* RunUntil: a run with cancellation, in the given workspace or, if it is NULL, in the model's own, by one thread at a
   time. A plan that needs no workspace also runs with NULL. */
static NNRT_ReturnCode nnrti_plan_model_run_until(NNRT_PreparedModel *self, void *workspace, size_t bytes,
                                                  const NNRT_IOTensor *inputs, uint32_t nIn,
                                                  const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                                                  const nnrt_stop *stop, nnrt_error *error)
{
    nnrt_plan_model *m = (nnrt_plan_model *)(void *)self;
    if (m == NULL)
        return NNRT_NULL_PTR;
    if (workspace == NULL && nnrt_plan_workspace(m->plan) > 0) {
        if (m->workspace == NULL)
            return NNRT_OPERATION_FORBIDDEN; /* prepared with callerWorkspace */
        workspace = m->workspace;
        bytes = nnrt_plan_workspace(m->plan);
    }
    return nnrti_run_plan(m->plan, workspace, bytes, inputs, nIn, outputs, nOut, outputDims, stop, error);
}

/* Run: in the model's own workspace, so not on several threads at once; OPERATION_FORBIDDEN if the model has none and needs one. */
static NNRT_ReturnCode nnrti_plan_model_run(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                                            const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    return nnrti_plan_model_run_until(self, NULL, 0, inputs, nIn, outputs, nOut, outputDims, NULL, NULL);
}

/* GetWorkspaceSize. */
static NNRT_ReturnCode nnrti_plan_model_workspace(NNRT_PreparedModel *self, size_t *bytes)
{
    if (self == NULL || bytes == NULL)
        return NNRT_NULL_PTR;
    *bytes = nnrt_plan_workspace(((nnrt_plan_model *)(void *)self)->plan);
    return NNRT_SUCCESS;
}

/* GetIO: dynamic dimensions have their upper bounds. */
static NNRT_ReturnCode nnrti_plan_model_io(NNRT_PreparedModel *self, bool output, uint32_t index, NNRT_DataType *type,
                                           nnrt_dims *shape)
{
    const nnrt_plan *p;
    const nnrt_plan_io *io;
    if (self == NULL || type == NULL || shape == NULL)
        return NNRT_NULL_PTR;
    p = ((nnrt_plan_model *)(void *)self)->plan;
    if (index >= (output ? p->nOutputs : p->nInputs))
        return NNRT_INVALID_PARAMETER;
    io = output ? &p->outputs[index] : &p->inputs[index];
    *type = io->dataType;
    *shape = io->shape;
    return NNRT_SUCCESS;
}

/* GetInputDimRanges: a dynamic dimension ranges from 0 to its upper bound; the others are fixed. HDI's ranges begin
   at 1; they begin at 0 here because plans also run empty tensors. */
static NNRT_ReturnCode nnrti_plan_model_range(NNRT_PreparedModel *self, bool output, uint32_t index, nnrt_dims *least,
                                              nnrt_dims *most)
{
    NNRT_DataType type;
    NNRT_ReturnCode code;
    if (most == NULL)
        return NNRT_NULL_PTR;
    code = nnrti_plan_model_io(self, output, index, &type, least);
    if (code != NNRT_SUCCESS)
        return code;
    *most = *least;
    for (int32_t k = 0; k < least->rank; k++)
        if (nnrti_extent_open(((nnrt_plan_model *)(void *)self)->plan, output, index, (uint32_t)k))
            least->dims[k] = 0;
    return code;
}

static NNRT_ReturnCode nnrti_plan_model_ranges(NNRT_PreparedModel *self, uint32_t index, nnrt_dims *least,
                                               nnrt_dims *most)
{
    return nnrti_plan_model_range(self, false, index, least, most);
}

static NNRT_ReturnCode nnrti_plan_model_output_ranges(NNRT_PreparedModel *self, uint32_t index, nnrt_dims *least,
                                                      nnrt_dims *most)
{
    return nnrti_plan_model_range(self, true, index, least, most);
}

/* Number of steps of a plan and of the plans that its steps run. */
static uint32_t nnrti_count_steps(const nnrt_plan *plan)
{
    uint32_t count = plan->nSteps;
    for (uint32_t s = 0; s < plan->nSteps; s++)
        for (uint32_t k = 0; k < 2 && nnrti_step_graphs(&plan->steps[s]) != NULL; k++)
            count += nnrti_count_steps(nnrti_step_graphs(&plan->steps[s])->plans[k]);
    return count;
}

/* GetMemory: figures of the plan, known since it was made; nothing is measured. */
static NNRT_ReturnCode nnrti_plan_model_memory(NNRT_PreparedModel *self, nnrt_prepared_memory *memory)
{
    const nnrt_plan_model *m = (const nnrt_plan_model *)(void *)self;
    if (m == NULL || memory == NULL)
        return NNRT_NULL_PTR;
    memory->tables = m->tableBytes;
    memory->workspace = nnrt_plan_workspace(m->plan);
    memory->arena = m->plan->arenaBytes;
    memory->bound = m->plan->arenaBound;
    memory->constants = m->plan->constantBytes;
    memory->steps = nnrti_count_steps(m->plan);
    return NNRT_SUCCESS;
}

/* The slots of NNRT_PreparedModelVtbl in their order. ExportModelCache is absent: a model that was prepared without a
   store has no record of its packed weights. RunV1 is absent because callers prefer Run. */
static const NNRT_PreparedModelVtbl nnrti_plan_model_vtbl = {sizeof(NNRT_PreparedModelVtbl),
                                                             NNRT_HDI(2, 0),
                                                             NULL,
                                                             NULL,
                                                             nnrti_plan_model_ranges,
                                                             nnrti_plan_model_run,
                                                             nnrti_plan_model_destroy,
                                                             nnrti_plan_model_workspace,
                                                             nnrti_plan_model_run_in,
                                                             nnrti_plan_model_io,
                                                             nnrti_plan_model_memory,
                                                             nnrti_plan_model_output_ranges,
                                                             nnrti_plan_model_run_until};

/* A model with a plan is recognized by its Run slot. A device that replaces other slots (nnrt_plan_model_table) keeps
   Run, so its models are found as well. */
NNRT_API const nnrt_plan *nnrt_prepared_plan(const NNRT_PreparedModel *prepared)
{
    const bool own = prepared != NULL && prepared->vtbl->Run == nnrti_plan_model_run;
    return own ? ((const nnrt_plan_model *)(const void *)prepared)->plan : NULL;
}

NNRT_API void nnrt_plan_model_table(NNRT_PreparedModelVtbl *table)
{
    *table = nnrti_plan_model_vtbl;
}

/* Copies the allocator, since the caller's struct may end with the call. The operators of the application are held
   from here on and not in the draft: a preparation that fails has nothing to release. */
NNRT_API void nnrt_plan_model_keep(nnrt_plan_model *model, const NNRT_ModelConfig *config, nnrt_memory *memory)
{
    if (config->allocator != NULL)
        model->allocator = *config->allocator;
    model->given = nnrti_memory_give(memory);
    nnrti_plan_hold(model->plan, 1);
}

/* Bytes of constants from which on a model is counted before it is prepared: then all packed weights share one piece of their
   exact size, in huge pages, and the tables another one. Counting takes a few percent of the time of packing so many. */
#define NNRTI_COUNTED_BYTES ((size_t)16 << 20)

static void nnrti_plan_expect(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_edit edit, void *user,
                              nnrt_memory *memory)
{
#if NNRTI_PREFAULTS
    NNRT_ModelConfig quiet = *config;
    nnrt_memory count;
    size_t bytes = 0;
    if (model == NULL || edit == NULL || config->buffer != NULL || !nnrti_is_malloc(config->allocator))
        return;
    for (uint32_t t = 0; t < model->allTensors.count && bytes < NNRTI_COUNTED_BYTES; t++)
        bytes += model->allTensors.data[t].data.dataSize;
    quiet.log = NULL;
    quiet.error = NULL;
    if (bytes < NNRTI_COUNTED_BYTES || nnrti_plan_count(model, &quiet, edit, user, &count) != NNRT_SUCCESS)
        return;
    nnrti_memory_expect(memory, NNRTI_PIECE_HEADER + count.bulkBytes, 2);
    nnrti_memory_expect(memory, NNRT_PIECE_BYTES + count.frontPeak - count.bulkBytes, 0);
#else
    (void)model, (void)config, (void)edit, (void)user, (void)memory;
#endif
}

/* nnrt_plan_prepare, whatever config->packs is. */
static NNRT_ReturnCode nnrti_plan_prepare(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_edit edit,
                                          void *user, NNRT_PreparedModel **prepared)
{
    NNRT_ModelConfig own;
    nnrt_plan_model *made = NULL;
    nnrt_memory memory;
    NNRT_ReturnCode code;
    if (prepared == NULL)
        return NNRT_NULL_PTR;
    *prepared = NULL;
    nnrt_config_read(&own, config);
    if ((code = nnrti_check_config(&own)) != NNRT_SUCCESS)
        return code;
    if (own.buffer != NULL)
        nnrt_memory_buffer(&memory, own.buffer, own.bufferBytes);
    else
        nnrt_memory_allocate(&memory, own.allocator);
    nnrti_plan_expect(model, &own, edit, user, &memory);
    code = nnrti_plan_make(model, &own, edit, user, &memory, &made);
    if (code != NNRT_SUCCESS) {
        nnrti_plan_model_unmap(made);
        nnrt_memory_end(&memory);
        return code;
    }
    made->base.vtbl = &nnrti_plan_model_vtbl;
    nnrt_plan_model_keep(made, &own, &memory);
    *prepared = &made->base;
    return NNRT_SUCCESS;
}

/* Arguments of nnrti_edit_packing: an edit that packs weights, and the packing that it stores to or takes from. */
typedef struct nnrti_packing_edit {
    nnrt_edit edit;
    void *user;
    nnrti_packing *packing; /* NULL: stores into a new one, in the memory of the draft */
    uint64_t key;
    bool whole; /* the new one is for a model cache, which contains the model, too */
} nnrti_packing_edit;

/* Fills p->absent: marks the constants that are not read once the weights are packed, so that a model cache need not
   store them. Every node with such an input is packed, no output is such a tensor, and no step of the plan reads it.
   An argument that has an address but no tensor (a view into a constant) is compared with the bytes of all constants:
   O(tensors) for each such argument, only when a model cache is exported. false: no memory. */
static bool nnrti_packing_mark(nnrti_packing *p, const nnrt_draft *draft)
{
    const NNRT_Model *const m = draft->model;
    uint8_t *const packed = (uint8_t *)nnrt_memory_temp_array(draft->memory, m->nodes.count, 1);
    uint8_t *const absent = (uint8_t *)nnrt_memory_keep_array(draft->memory, m->allTensors.count, 1);
    if (packed == NULL || absent == NULL)
        return false;
    for (const nnrti_pack *k = p->packed; k != NULL; k = k->next)
        if (k->node >= 0 && (uint32_t)k->node < m->nodes.count)
            packed[k->node] = 1;
    for (uint32_t i = 0; i < m->nodes.count; i++) /* 1: read by nodes that are packed, 2: by others */
        for (uint32_t k = 0; k < m->nodes.data[i].inputIndex.count; k++) {
            const uint32_t t = m->nodes.data[i].inputIndex.data[k];
            if (t != NNRT_NO_TENSOR)
                absent[t] = (uint8_t)(absent[t] | (packed[i] ? 1u : 2u));
        }
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        absent[m->outputIndex.data[i]] = 2;
    for (uint32_t g = 0; g < m->subGraph.count; g++)
        for (uint32_t i = 0; i < m->subGraph.data[g].outputIndices.count; i++)
            absent[m->subGraph.data[g].outputIndices.data[i]] = 2;
    for (uint32_t s = 0; s < draft->nSteps; s++) {
        const nnrt_draft_step *const step = &draft->steps[s];
        for (uint32_t k = 0; step->kernel != NULL && k < nnrti_step_args(step); k++) {
            const nnrt_plan_arg *const a = &step->args[k];
            if (a->tensor < m->allTensors.count)
                absent[a->tensor] = 2;
            for (uint32_t t = 0;
                 a->kind == NNRT_PLACE_CONSTANT && a->tensor == NNRT_NO_TENSOR && t < m->allTensors.count; t++) {
                const NNRT_SharedBuffer *const b = &m->allTensors.data[t].data;
                const uintptr_t from = (uintptr_t)nnrti_buffer_data(b), at = (uintptr_t)a->view.data;
                if (from != 0 && at >= from && at - from < b->dataSize)
                    absent[t] = 2;
            }
        }
    }
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        absent[t] = absent[t] == 1 && nnrti_buffer_data(&m->allTensors.data[t].data) != NULL;
    p->absent = absent;
    return true;
}

/* Whether an argument of a step points into p->hole, that is, reads a constant that the cache does not have. */
static bool nnrti_packing_lacks(const nnrti_packing *p, const nnrt_draft *draft)
{
    for (uint32_t s = 0; p->hole != NULL && s < draft->nSteps; s++) {
        const nnrt_draft_step *const step = &draft->steps[s];
        for (uint32_t k = 0; step->kernel != NULL && k < nnrti_step_args(step); k++) {
            const uintptr_t at = (uintptr_t)step->args[k].view.data, from = (uintptr_t)p->hole;
            if (at >= from && at - from < p->holeBytes)
                return true;
        }
    }
    return false;
}

/* nnrt_edit that calls e->edit with a packing. After taking: every pack and number must have been used, and no step
   may read an absent constant. */
static NNRT_ReturnCode nnrti_edit_packing(void *user, nnrt_draft *draft)
{
    nnrti_packing_edit *e = (nnrti_packing_edit *)user;
    nnrti_packing *p = e->packing;
    NNRT_ReturnCode code;
    if (draft->memory->counting) /* nothing is packed; weights that come from a table are taken once, and need no memory */
        return p == NULL ? e->edit(e->user, draft) : NNRT_NOT_SUPPORT;
    if (p == NULL) {
        if ((p = (nnrti_packing *)nnrt_memory_keep(draft->memory, sizeof(*p))) == NULL)
            return nnrti_no_memory(draft->config->error);
        p->nextPack = &p->packed;
        p->key = e->key;
        p->whole = e->whole;
        e->packing = p;
    }
    draft->packing = p;
    code = e->edit(e->user, draft);
    draft->packing = NULL;
    if (code == NNRT_SUCCESS && p->taking && (p->pack != p->table.packs || p->number != p->table.numbers))
        return nnrt_error_set(draft->config->error, NNRT_INVALID_MODEL_CACHE,
                              "%u packed weights are there and %u are used: they are of another model",
                              p->table.packs, p->pack);
    if (code == NNRT_SUCCESS && p->taking && nnrti_packing_lacks(p, draft))
        return nnrt_error_set(draft->config->error, NNRT_INVALID_MODEL_CACHE,
                              "the cache lacks weights that a step reads: it was made for another configuration");
    if (code == NNRT_SUCCESS && e->whole && !nnrti_packing_mark(p, draft))
        return nnrti_no_memory(draft->config->error);
    return code;
}

/* Opens a table of packed weights: checks alignment, sizes, checksum and key. true: *p takes weights from it. false:
   fault has the reason. */
static bool nnrti_packing_open(nnrti_packing *p, const nnrt_packed *from, uint64_t key, nnrt_error *fault)
{
    const uint8_t *const data = (const uint8_t *)from->table;
    const size_t behind = from->tableBytes - sizeof(p->table);
    memset(p, 0, sizeof(*p));
    if (data == NULL || from->tableBytes < sizeof(p->table) || (from->weights == NULL && from->weightBytes > 0) ||
        (uintptr_t)from->weights % NNRT_ALIGNMENT != 0) {
        (void)nnrt_error_set(fault, NNRT_INVALID_MODEL_CACHE, "the packed weights have no table, or are not aligned");
        return false;
    }
    memcpy(&p->table, data, sizeof(p->table));
    if (nnrti_fnv64(NNRTI_FNV64, data + 8, from->tableBytes - 8) != p->table.checksum ||
        behind / sizeof(nnrti_pack_row) < p->table.packs ||
        behind - p->table.packs * sizeof(nnrti_pack_row) != (uint64_t)p->table.numbers * sizeof(int64_t) ||
        p->table.bytes > from->weightBytes) {
        (void)nnrt_error_set(fault, NNRT_INVALID_MODEL_CACHE,
                             "the table of packed weights is damaged");
        return false;
    }
    if (p->table.key != key) {
        (void)nnrt_error_set(fault, NNRT_INVALID_MODEL_CACHE,
                             "the weights are packed for other instructions, or by another version");
        return false;
    }
    p->taking = true;
    p->rows = data + sizeof(p->table);
    p->weights = (const uint8_t *)from->weights;
    return true;
}

#define NNRTI_PACKED_MODEL 64 /* bytes before the model in the third block: number of absent constants, zeros */

/* The model for the third block of a cache: p->model, whose absent constants (p->absent) become further inputs, the
   last ones. Inputs, because validation accepts a tensor without data and without a writer as an input only; the last
   ones, so that one number restores them (nnrti_restore_model). *count = their number. The model is in the temporary
   part of memory. NULL: no memory. */
static const NNRT_Model *nnrti_packing_model(const nnrti_packing *p, nnrt_memory *memory, uint32_t *count)
{
    const NNRT_Model *const from = p->model;
    const uint32_t inputs = from->inputIndex.count, tensors = from->allTensors.count;
    NNRT_Model *const m = (NNRT_Model *)nnrt_memory_temp_array(memory, 1, sizeof(*m));
    NNRT_Tensor *const t = (NNRT_Tensor *)nnrt_memory_temp_array(memory, tensors, sizeof(*t));
    uint32_t *const in = (uint32_t *)nnrt_memory_temp_array(memory, (size_t)inputs + tensors, sizeof(*in));
    *count = 0;
    if (m == NULL || t == NULL || in == NULL)
        return NULL;
    *m = *from;
    memcpy(t, from->allTensors.data, tensors * sizeof(*t));
    if (inputs > 0)
        memcpy(in, from->inputIndex.data, inputs * sizeof(*in));
    for (uint32_t i = 0; i < tensors; i++)
        if (p->absent[i]) {
            memset(&t[i].data, 0, sizeof(t[i].data));
            t[i].data.fd = -1;
            in[inputs + (*count)++] = i;
        }
    m->allTensors = NNRT_TensorList_make(t, tensors);
    m->inputIndex = NNRT_Uint32List_make(in, inputs + *count);
    return m;
}

/* *left = the model for the third block, *bytes = of that block, *absent = number of absent constants. */
static NNRT_ReturnCode nnrti_packing_left(const nnrti_packing *p, nnrt_memory *memory, const NNRT_Model **left,
                                          uint32_t *absent, size_t *bytes)
{
    NNRT_ReturnCode code;
    if ((*left = nnrti_packing_model(p, memory, absent)) == NULL)
        return NNRT_OUT_OF_MEMORY;
    code = nnrt_model_save_memory(*left, NULL, NULL, 0, bytes, NULL);
    if (code != NNRT_SUCCESS && code != NNRT_OUT_OF_MEMORY) { /* such a model cannot be saved: store all constants */
        *left = p->model;
        *absent = 0;
        code = nnrt_model_save_memory(*left, NULL, NULL, 0, bytes, NULL);
    }
    *bytes += NNRTI_PACKED_MODEL;
    return code;
}

/* Writes the table, of `bytes` bytes, and the weights, each aligned. */
static void nnrti_packing_write(nnrti_packing *p, uint8_t *table, size_t bytes, uint8_t *weights)
{
    uint8_t *at = table + sizeof(p->table);
    size_t offset = 0;
    for (const nnrti_pack *k = p->packed; k != NULL; k = k->next, at += sizeof(nnrti_pack_row)) {
        nnrti_pack_row row;
        (void)nnrt_round_size(offset, NNRT_ALIGNMENT, &offset);
        row.offset = offset;
        row.bytes = k->bytes;
        row.node = k->node;
        row.kernel = k->kernel;
        memcpy(at, &row, sizeof(row));
        memcpy(weights + offset, k->data, k->bytes);
        offset += k->bytes;
    }
    for (const nnrti_numbers *n = p->numbers; n != NULL; at += n->count * sizeof(n->number[0]), n = n->next)
        memcpy(at, n->number, n->count * sizeof(n->number[0]));
    p->table.key = p->key;
    p->table.bytes = offset;
    memcpy(table, &p->table, sizeof(p->table));
    p->table.checksum = nnrti_fnv64(NNRTI_FNV64, table + 8, bytes - 8);
    memcpy(table, &p->table.checksum, sizeof(p->table.checksum));
}

/* Block i of an exported cache: memory without a descriptor, which stays with the prepared model. */
static void nnrti_packing_block(nnrti_packing *p, uint32_t i, void *data, size_t bytes)
{
    p->blocks[i].fd = -1;
    p->blocks[i].addr = data;
    p->blocks[i].bufferSize = p->blocks[i].dataSize = (uint32_t)bytes;
}

/* ExportModelCache: the table, the weights one after another (each aligned), and for a model cache the model. Blocks
   are made at the first call, in one allocation, and belong to the prepared model; HDI requires that later calls
   return the same blocks. The first call changes the model: one thread at a time. After a failure nothing is
   allocated, and the next call tries again. NOT_SUPPORT: a block has 4 GiB or more, as a SharedBuffer counts bytes in
   32 bits. */
static NNRT_ReturnCode nnrti_plan_model_export(NNRT_PreparedModel *self, const NNRT_SharedBuffer **buffers,
                                               uint32_t *count)
{
    nnrt_plan_model *m = (nnrt_plan_model *)(void *)self;
    nnrti_packing *p = m != NULL ? m->packing : NULL;
    size_t bytes[3] = {0, 0, 0}, places[3] = {0, 0, 0}, end; /* of the three blocks */
    const NNRT_Model *left = NULL;
    uint32_t absent = 0;
    uint8_t *data;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrt_memory memory;
    if (p == NULL || buffers == NULL || count == NULL)
        return NNRT_NULL_PTR;
    *buffers = p->blocks;
    *count = p->whole ? 3 : 2;
    if (p->blocks[0].addr != NULL)
        return NNRT_SUCCESS;
    bytes[0] = sizeof(p->table) + p->table.packs * sizeof(nnrti_pack_row) + p->table.numbers * sizeof(int64_t);
    for (const nnrti_pack *k = p->packed; k != NULL; k = k->next)
        if (!nnrt_round_size(bytes[1], NNRT_ALIGNMENT, &bytes[1]) || !nnrt_add_size(bytes[1], k->bytes, &bytes[1]))
            return NNRT_OUT_OF_MEMORY;
    nnrt_memory_allocate(&memory, &m->allocator);
    if (p->whole)
        code = nnrti_packing_left(p, &memory, &left, &absent, &bytes[2]);
    if (code == NNRT_SUCCESS && (bytes[0] > UINT32_MAX || bytes[1] > UINT32_MAX || bytes[2] > UINT32_MAX))
        code = NNRT_NOT_SUPPORT; /* block sizes have 32 bits */
    if (code == NNRT_SUCCESS &&
        (!nnrt_round_size(bytes[0], NNRT_ALIGNMENT, &places[1]) || !nnrt_add_size(places[1], bytes[1], &end) ||
         !nnrt_round_size(end, NNRT_ALIGNMENT, &places[2]) || !nnrt_add_size(places[2], bytes[2], &p->exportedBytes) ||
         (p->exported = nnrt_alloc(&m->allocator, p->exportedBytes)) == NULL))
        code = NNRT_OUT_OF_MEMORY;
    data = (uint8_t *)p->exported;
    if (code == NNRT_SUCCESS) {
        memset(data, 0, p->exportedBytes);
        nnrti_packing_write(p, data, bytes[0], data + places[1]);
    }
    if (code == NNRT_SUCCESS && p->whole) {
        memcpy(data + places[2], &absent, sizeof(absent));
        code = nnrt_model_save_memory(left, NULL, data + places[2] + NNRTI_PACKED_MODEL,
                                      bytes[2] - NNRTI_PACKED_MODEL, &end, NULL);
    }
    nnrt_memory_end(&memory);
    for (uint32_t i = 0; i < 3 && code == NNRT_SUCCESS; i++)
        nnrti_packing_block(p, i, data + places[i], bytes[i]);
    if (code != NNRT_SUCCESS) {
        nnrt_free(&m->allocator, p->exported, p->exportedBytes);
        p->exported = NULL;
    }
    return code;
}

/* nnrti_plan_model_vtbl with ExportModelCache. A model has it only while blocks can be exported, because callers
   conclude from the slot that the model can be cached. */
static const NNRT_PreparedModelVtbl nnrti_plan_model_packed_vtbl = {
    sizeof(NNRT_PreparedModelVtbl), NNRT_HDI(2, 0),       nnrti_plan_model_export,  NULL,
    nnrti_plan_model_ranges,        nnrti_plan_model_run, nnrti_plan_model_destroy, nnrti_plan_model_workspace,
    nnrti_plan_model_run_in,        nnrti_plan_model_io,  nnrti_plan_model_memory,  nnrti_plan_model_output_ranges,
    nnrti_plan_model_run_until};

/* The edit with packing; packed weights with another key are refused. */
static nnrti_packing_edit nnrti_packing_edit_of(nnrt_edit edit, void *user, const char *key)
{
    const uint32_t layout = NNRT_LAYOUT;
    nnrti_packing_edit e;
    memset(&e, 0, sizeof(e));
    e.edit = edit;
    e.user = user;
    e.key = nnrti_fnv64(NNRTI_FNV64, (const uint8_t *)key, strlen(key));
    e.key = nnrti_fnv64(e.key, (const uint8_t *)&layout, sizeof(layout));
    return e;
}

/* Two attempts: with the weights that packs->find returns, whose faults go to `fault` and not to the caller; then
   without them, recording the packed weights if packs->keep is set. So damaged or foreign weights cost time, never a
   session. `taken` may be a local variable: the draft refers to it during the edit only, and the plan to the weights
   alone. A buffer of the caller excludes packs: the record of packed weights would change the size that
   nnrt_plan_memory counted. */
NNRT_API NNRT_ReturnCode nnrt_plan_prepare(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_edit edit,
                                           void *user, const char *key, NNRT_PreparedModel **prepared)
{
    const nnrt_packs *packs;
    nnrti_packing_edit e;
    nnrti_packing taken;
    NNRT_ModelConfig own;
    nnrt_packed from;
    nnrt_error fault;
    NNRT_ReturnCode code;
    nnrt_config_read(&own, config);
    packs = own.packs;
    own.packs = NULL;
    if (key == NULL || packs == NULL || own.buffer != NULL || prepared == NULL || edit == NULL)
        return nnrti_plan_prepare(model, &own, edit, user, prepared);
    e = nnrti_packing_edit_of(edit, user, key);
    memset(&from, 0, sizeof(from));
    memset(&fault, 0, sizeof(fault));
    if (packs->find != NULL && packs->find(packs->user, model, &own, &from) &&
        nnrti_packing_open(&taken, &from, e.key, &fault)) {
        nnrt_error *const error = own.error;
        e.packing = &taken;
        own.error = &fault;
        code = nnrti_plan_prepare(model, &own, nnrti_edit_packing, &e, prepared);
        own.error = error;
        if (code == NNRT_SUCCESS) {
            packs->done(packs->user, model, &own, *prepared, true, &fault);
            return code;
        }
        e.packing = NULL;
    }
    e.whole = packs->whole;
    if (!packs->keep)
        code = nnrti_plan_prepare(model, &own, edit, user, prepared);
    else if ((code = nnrti_plan_prepare(model, &own, nnrti_edit_packing, &e, prepared)) == NNRT_SUCCESS) {
        nnrt_plan_model *const made = (nnrt_plan_model *)(void *)*prepared;
        const NNRT_SharedBuffer *blocks;
        uint32_t count;
        made->packing = e.packing;
        e.packing->model = model; /* it need not outlive this call, so a cache is exported now */
        if (!e.whole || nnrti_plan_model_export(*prepared, &blocks, &count) == NNRT_SUCCESS)
            made->base.vtbl = &nnrti_plan_model_packed_vtbl;
    }
    if (code == NNRT_SUCCESS)
        packs->done(packs->user, model, &own, *prepared, false, &fault);
    return code;
}

/* Number of packed weights of a prepared model that can be exported; 0 if they were taken from a table. */
static NNRTI_UNUSED uint32_t nnrti_plan_packs(const NNRT_PreparedModel *prepared)
{
    const nnrt_plan_model *const m = (const nnrt_plan_model *)(const void *)prepared;
    return m->packing != NULL && !m->packing->taking ? m->packing->table.packs : 0;
}

/* The caller has copied the exported blocks: frees them. The prepared model exports nothing from now on; HDI's rule
   that blocks live as long as the model holds for callers of ExportModelCache alone, not for the cache of nnrt.h,
   which calls this function. No effect for models of other devices and for restored ones, whose blocks contain the
   weights in use. */
static NNRTI_UNUSED void nnrti_plan_exported(NNRT_PreparedModel *prepared)
{
    nnrt_plan_model *const m = (nnrt_plan_model *)(void *)prepared;
    if (prepared->vtbl != &nnrti_plan_model_packed_vtbl || m->packing->exported == NULL)
        return;
    nnrt_free(&m->allocator, m->packing->exported, m->packing->exportedBytes);
    m->packing->exported = NULL;
    m->base.vtbl = &nnrti_plan_model_vtbl;
}

/* The model of a cache's third block: its last `absent` inputs become constants again, all with the data p->hole,
   which no step may read (nnrti_packing_lacks). The hole is filled with 0xFF, which is NaN as a float. NULL: no
   memory, or an invalid model; fault has the reason. */
static const NNRT_Model *nnrti_restore_model(nnrti_packing *p, const NNRT_Model *from, uint32_t absent,
                                             nnrt_memory *memory, nnrt_error *fault)
{
    const uint32_t inputs = from->inputIndex.count;
    NNRT_Model *const m = (NNRT_Model *)nnrt_memory_keep_array(memory, 1, sizeof(*m));
    NNRT_Tensor *const t = (NNRT_Tensor *)nnrt_memory_keep_array(memory, from->allTensors.count, sizeof(*t));
    uint8_t *hole;
    if (absent > inputs) {
        (void)nnrt_error_set(fault, NNRT_INVALID_MODEL_CACHE, "the cache has %u absent constants, and its model %u inputs", absent, inputs);
        return NULL;
    }
    if (m == NULL || t == NULL) {
        (void)nnrti_no_memory(fault);
        return NULL;
    }
    *m = *from;
    memcpy(t, from->allTensors.data, from->allTensors.count * sizeof(*t));
    m->allTensors = NNRT_TensorList_make(t, from->allTensors.count);
    m->inputIndex.count = inputs - absent;
    for (uint32_t i = inputs - absent; i < inputs; i++) {
        const NNRT_Tensor *const w = &t[from->inputIndex.data[i]];
        size_t bytes;
        if (w->dims.count > NNRTI_DIMS || !nnrt_dims_bytes(w->dims.data, (int32_t)w->dims.count, w->dataType, &bytes) ||
            bytes > UINT32_MAX) {
            (void)nnrt_error_set(fault, NNRT_INVALID_MODEL_CACHE, "a constant '%s' has no size",
                                 nnrti_text_of(w->name));
            return NULL;
        }
        p->holeBytes = bytes > p->holeBytes ? bytes : p->holeBytes;
        t[from->inputIndex.data[i]].data.bufferSize = t[from->inputIndex.data[i]].data.dataSize = (uint32_t)bytes;
    }
    if (absent == 0)
        return m;
    if ((hole = (uint8_t *)nnrt_memory_temp(memory, p->holeBytes)) == NULL) {
        (void)nnrti_no_memory(fault);
        return NULL;
    }
    memset(hole, 0xFF, p->holeBytes);
    p->hole = hole;
    for (uint32_t i = inputs - absent; i < inputs; i++) {
        t[from->inputIndex.data[i]].data.fd = -1;
        t[from->inputIndex.data[i]].data.addr = hole;
    }
    return m;
}

/* copies[3] = the blocks of a cache, copied to kept memory. False: one has no address, and error has the reason, or no
   memory. */
static bool nnrti_restore_blocks(const NNRT_SharedBuffer *cache, nnrt_memory *memory, void **copies, nnrt_error *error)
{
    for (uint32_t i = 0; i < 3; i++) {
        const void *const data = nnrti_buffer_data(&cache[i]);
        const uint32_t bytes = cache[i].dataSize;
        if (data == NULL && bytes > 0)
            (void)nnrt_error_set(error, NNRT_INVALID_MODEL_CACHE, "block %u of the cache has no address", i);
        else if (nnrti_memory_reserve(memory, bytes > 0 ? bytes : 1, &copies[i]) && bytes > 0)
            memcpy(copies[i], data, bytes);
    }
    return copies[0] != NULL && copies[1] != NULL && copies[2] != NULL;
}

/* Copies the three blocks into memory of the prepared model, checks the table, loads the model from its block, and
   prepares it with the packed weights in place. HDI's caller may free the blocks after the call, hence the copy. Two
   memories exist: one for the blocks and the loaded model (restored), one for the plan (given); both come from
   config's allocator, which the model keeps. The hole is temporary memory and freed on success: nnrti_edit_packing
   has checked that no step reads it. */
NNRT_API NNRT_ReturnCode nnrt_plan_restore_packed(const NNRT_SharedBuffer *cache, uint32_t count,
                                                  const NNRT_ModelConfig *config, nnrt_edit edit, void *user,
                                                  const char *key, NNRT_PreparedModel **prepared)
{
    const NNRT_Model *model = NULL;
    NNRT_Model *loaded = NULL;
    NNRT_ModelConfig own;
    nnrti_packing_edit e;
    nnrti_packing *p;
    nnrt_plan_model *made;
    nnrt_packed from;
    nnrt_memory memory;
    nnrt_error *error;
    NNRT_ReturnCode code = NNRT_INVALID_MODEL_CACHE;
    uint32_t absent = 0;
    void *copies[3] = {NULL, NULL, NULL};
    bool whole;
    if (cache == NULL || prepared == NULL)
        return NNRT_NULL_PTR;
    *prepared = NULL;
    nnrt_config_read(&own, config);
    error = own.error;
    own.packs = NULL;
    if (own.buffer != NULL)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "a model that is restored from a cache takes no buffer");
    if (count != 3 || cache[2].dataSize <= NNRTI_PACKED_MODEL)
        return nnrt_error_set(error, code, "the cache has %u blocks, expected a table, weights and a model", count);
    e = nnrti_packing_edit_of(edit, user, key);
    memset(&from, 0, sizeof(from));
    nnrt_memory_allocate(&memory, own.allocator);
    p = (nnrti_packing *)nnrt_memory_keep(&memory, sizeof(*p));
    whole = p != NULL && nnrti_restore_blocks(cache, &memory, copies, error);
    from.table = copies[0];
    from.tableBytes = cache[0].dataSize;
    from.weights = copies[1];
    from.weightBytes = cache[1].dataSize;
    if (whole && nnrti_packing_open(p, &from, e.key, error)) {
        const uint8_t *const block = (const uint8_t *)copies[2];
        memcpy(&absent, block, sizeof(absent));
        if (nnrt_model_load_into(&loaded, block + NNRTI_PACKED_MODEL, cache[2].dataSize - NNRTI_PACKED_MODEL, false,
                                 &memory, error) == NNRT_SUCCESS)
            model = nnrti_restore_model(p, loaded, absent, &memory, error);
    }
    if (model == NULL && memory.full)
        code = nnrti_no_memory(error);
    if (model != NULL) {
        e.packing = p;
        own.copyConstants = false; /* they are in the copied blocks, which the prepared model owns */
        code = nnrti_plan_prepare(model, &own, nnrti_edit_packing, &e, prepared);
    }
    if (code != NNRT_SUCCESS) {
        nnrt_memory_end(&memory);
        return code;
    }
    made = (nnrt_plan_model *)(void *)*prepared;
    made->packing = p;
    made->tableBytes += memory.front;
    made->restored = nnrti_memory_give(&memory);
    made->base.vtbl = &nnrti_plan_model_packed_vtbl;
    p->hole = NULL;
    p->whole = true;
    for (uint32_t i = 0; i < 3; i++)
        nnrti_packing_block(p, i, copies[i], cache[i].dataSize);
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>reference */

/* The device `reference`: plans without edits, so every step runs the reference kernel of its operator. Its results
   define the results of all other devices, and it supports every model that shape inference resolves. It is the
   smallest example of a device: nnrt_plan_prepare and nnrt_plan_supported do the work of its methods.

   nnrt_plan_supported explains per node why it is unsupported, for partitioning (device auto). It runs shape inference
   node by node and continues after a failure: a node behind an unsupported one is judged by operator and types, because
   its shapes are unknown. Rejected: a table of supported operators, which could not see types, shapes or attributes. */

/* Prepares an error for a call through a vtable: capacity says how much room its message has. */
static void nnrti_error_send(nnrt_error *error)
{
    if (error != NULL && error->capacity == 0)
        error->capacity = (uint32_t)sizeof(error->message);
}

/* True if error can receive a fault: it is not NULL and holds none yet. */
static bool nnrti_error_open(const nnrt_error *error)
{
    return error != NULL && error->code == NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_reference_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 2;
    *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_reference_name(void *self, const char **name)
{
    (void)self;
    *name = "reference";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_builtin_vendor(void *self, const char **name)
{
    (void)self;
    *name = "nnrt";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_cpu_type(void *self, NNRT_DeviceType *type)
{
    (void)self;
    *type = NNRT_DEVICE_TYPE_CPU;
    return NNRT_SUCCESS;
}

/* For three slots: performance mode and priority, which are hints to a device, and dynamic input. */
static NNRT_ReturnCode nnrti_yes(void *self, bool *answer)
{
    (void)self;
    if (answer == NULL)
        return NNRT_NULL_PTR;
    *answer = true;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_status_available(void *self, NNRT_DeviceStatus *status)
{
    (void)self;
    *status = NNRT_DEVICE_STATUS_AVAILABLE;
    return NNRT_SUCCESS;
}

/* Checks of a node that need no shapes: the number of its operands and, if known, their types. Types of the results
   are stored in tensors, for later nodes. If the type of an input is unknown, only the first input can exclude all
   kernels. operands: room for the node's operands; error may be NULL. */
static NNRT_ReturnCode nnrti_support_types(const NNRT_Model *m, uint32_t n, nnrt_operand *tensors,
                                           nnrt_operand *operands, nnrt_error *error)
{
    const NNRT_Node *node = &m->nodes.data[n];
    const NNRT_Uint32List *in = &node->inputIndex, *out = &node->outputIndex;
    nnrt_resolve c;
    bool typed = true;
    NNRT_ReturnCode code;
    memset(&c, 0, sizeof(c));
    c.op = nnrt_op_find(node->nodeType);
    c.nodeName = nnrti_text_of(node->name);
    c.node = (int32_t)n;
    c.attr = node->nodeAttr.data;
    c.attrBytes = node->nodeAttr.size;
    c.nIn = in->count;
    c.nOut = out->count;
    c.in = operands;
    c.out = operands + c.nIn;
    c.error = error;
    for (uint32_t i = 0; i < c.nIn + c.nOut; i++) {
        const uint32_t t = i < c.nIn ? in->data[i] : out->data[i - c.nIn];
        if (t == NNRT_NO_TENSOR)
            nnrti_absent_operand(&operands[i]);
        else
            operands[i] = tensors[t];
        typed = typed && (i >= c.nIn || t == NNRT_NO_TENSOR || operands[i].dataType != NNRT_DATA_TYPE_UNKNOWN);
    }
    if (!typed) {
        const nnrt_op_arity a = nnrt_op_operands(c.op);
        if ((code = nnrti_check_arity(&c, &a)) != NNRT_SUCCESS || c.nIn == 0 ||
            c.in[0].dataType == NNRT_DATA_TYPE_UNKNOWN || (nnrt_operand_types(&c.in[0]) & nnrt_op_types(c.op)) != 0)
            return code;
        return nnrti_choose_kernel(&c);
    }
    if ((code = nnrti_resolve_types(&c)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < c.nOut; i++)
        if (out->data[i] != NNRT_NO_TENSOR)
            tensors[out->data[i]].dataType = c.out[i].dataType;
    return NNRT_SUCCESS;
}

/* Whether the device runs node n. If not, or if its results cannot be inferred, tensors keep the declarations of the
   model, so that an unsupported node does not exclude its consumers. */
static NNRT_ReturnCode nnrti_support_node(nnrti_inference *f, uint32_t n)
{
    const NNRT_Model *m = f->model;
    nnrt_operand *tensors = f->tensors;
    const NNRT_Node *node = &m->nodes.data[n];
    NNRT_ReturnCode code;
    nnrt_resolve c;
    bool shaped = true, folded = false;
    if (nnrt_op_find(node->nodeType) == NULL)
        return nnrti_no_operator(m, n, f->error);
    for (uint32_t i = 0; i < node->inputIndex.count; i++) {
        const uint32_t t = node->inputIndex.data[i];
        shaped = shaped && (t == NNRT_NO_TENSOR || tensors[t].rank >= 0);
        for (int32_t k = 0; t != NNRT_NO_TENSOR && k < tensors[t].rank; k++)
            shaped = shaped && tensors[t].dims[k] >= 0;
    }
    if (!shaped)
        return nnrti_support_types(m, n, tensors, f->operands, f->error);
    if (nnrti_is_control(node->nodeType)) /* includes its subgraphs, whose nodes are visited later */
        return nnrti_infer_control(f, n);
    code = nnrti_infer_node(f, n, &c, &folded);
    if (code != NNRT_SUCCESS)
        (void)nnrti_support_types(m, n, tensors, f->operands, NULL); /* propagates types at least */
    return code;
}

/* Visits all nodes, producers first. A node whose inputs have no known shape, because it follows an unsupported node
   or an input without dimensions, is judged by operator and types alone, unless the model declares the shapes. */
static NNRT_ReturnCode nnrti_support_walk(const NNRT_Model *m, const NNRT_ModelConfig *config, nnrt_memory *memory,
                                          bool *isSupported, nnrt_reason reason, void *user)
{
    nnrti_inference f;
    uint32_t *order = NULL;
    size_t widest = 0;
    bool open = false;
    NNRT_ReturnCode code = nnrti_check_model(m, memory, &order, true, config->error);
    if (code != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const NNRT_Node *n = &m->nodes.data[i];
        const size_t count = nnrt_op_find(n->nodeType) != NULL ? nnrti_node_operands(n) : 0;
        widest = count > widest ? count : widest;
    }
    memset(&f, 0, sizeof(f));
    f.model = m;
    f.config = config;
    f.memory = memory;
    f.tensors = (nnrt_operand *)nnrt_memory_temp_array(memory, m->allTensors.count, sizeof(*f.tensors));
    f.operands = (nnrt_operand *)nnrt_memory_temp_array(memory, widest, sizeof(*f.operands));
    f.results = (void **)nnrt_memory_temp_array(memory, widest, sizeof(*f.results));
    f.order = order;
    f.opened = (uint8_t *)nnrt_memory_temp_array(memory, m->allTensors.count, sizeof(*f.opened));
    if (memory->full)
        return nnrti_no_memory(config->error);
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        nnrti_operand_of(&m->allTensors.data[i], &f.tensors[i]);
    for (uint32_t i = 0; i < m->inputIndex.count; i++)
        for (int32_t k = 0; k < f.tensors[m->inputIndex.data[i]].rank; k++)
            open = open || f.tensors[m->inputIndex.data[i]].dims[k] < 0;
    if ((!open || config->inputDims.count != 0 || config->bounds.count != 0) &&
        (code = nnrti_input_dims(&f)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        nnrt_error error;
        memset(&error, 0, sizeof(error));
        nnrti_error_send(&error);
        f.error = &error;
        code = nnrti_support_node(&f, order[i]);
        if (memory->full)
            return nnrti_no_memory(config->error);
        isSupported[order[i]] = code == NNRT_SUCCESS;
        (void)nnrt_error_blame(&error, code, order[i], -1);
        if (code != NNRT_SUCCESS && reason != NULL)
            reason(user, order[i], &error);
    }
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_plan_supported(const NNRT_Model *model, const NNRT_ModelConfig *config, bool *isSupported,
                                             uint32_t count, nnrt_reason reason, void *user)
{
    NNRT_ModelConfig own;
    nnrt_memory memory;
    nnrt_mapping *mappings;
    NNRT_ReturnCode code;
    if (model == NULL || isSupported == NULL)
        return NNRT_NULL_PTR;
    nnrt_config_read(&own, config);
    if ((code = nnrti_check_config(&own)) != NNRT_SUCCESS)
        return code;
    if (count != model->nodes.count)
        return nnrt_error_set(own.error, NNRT_INVALID_PARAMETER, "room for %u answers, the model has %u nodes",
                              count, model->nodes.count);
    if (own.buffer != NULL)
        nnrt_memory_buffer(&memory, own.buffer, own.bufferBytes);
    else
        nnrt_memory_allocate(&memory, own.allocator);
    model = nnrt_model_map(model, &memory, &mappings);
    code = model != NULL ? nnrti_support_walk(model, &own, &memory, isSupported, reason, user)
                         : nnrti_no_memory(own.error);
    nnrt_model_unmap(mappings);
    nnrt_memory_end(&memory);
    return code;
}

/* GetSupportedNodes, GetSupportedOperation, GetModelMemory and PrepareModel of a device without edits. */
static NNRT_ReturnCode nnrti_reference_nodes(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                             bool *isSupported, uint32_t count, nnrt_reason reason, void *user)
{
    (void)self;
    return nnrt_plan_supported(model, config, isSupported, count, reason, user);
}

static NNRT_ReturnCode nnrti_reference_supported(void *self, const NNRT_Model *model, bool *isSupported, uint32_t count)
{
    (void)self;
    return nnrt_plan_supported(model, NULL, isSupported, count, NULL, NULL);
}

static NNRT_ReturnCode nnrti_reference_memory(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                              size_t *bytes)
{
    (void)self;
    return nnrt_plan_memory(model, config, NULL, NULL, bytes);
}

static NNRT_ReturnCode nnrti_reference_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                               NNRT_PreparedModel **prepared)
{
    (void)self;
    return nnrt_plan_prepare(model, config, NULL, NULL, NULL, prepared);
}

/* The slots of NNRT_DeviceVtbl in their order. Absent: float16 (each step runs the kernel of its declared types),
   model caches (nothing is compiled), offline models, buffers and contexts. */
static const NNRT_DeviceVtbl nnrti_reference_vtbl = {sizeof(NNRT_DeviceVtbl),
                                                     NNRT_HDI(2, 0),
                                                     nnrti_reference_version,
                                                     nnrti_reference_name,
                                                     nnrti_builtin_vendor,
                                                     nnrti_cpu_type,
                                                     nnrti_status_available,
                                                     nnrti_reference_supported,
                                                     NULL,
                                                     nnrti_yes,
                                                     nnrti_yes,
                                                     nnrti_yes,
                                                     nnrti_reference_prepare,
                                                     NULL,
                                                     NULL,
                                                     NULL,
                                                     NULL,
                                                     NULL,
                                                     NULL,
                                                     nnrti_reference_memory,
                                                     nnrti_reference_nodes,
                                                     NULL,
                                                     NULL};

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>registry */

/* The table of devices, and calls through their vtables. Wrappers check arguments, pass a complete configuration, test
   whether the device's table has the method (structSize, so that older tables work), and turn wrong behavior of a
   driver into DEVICE_ERROR: a prepared model that cannot run, a buffer that is too small.

   Invariant: a device has a fixed address until it is unregistered, as handles are addresses; it is not unregistered
   while prepared models, contexts or buffers of it exist (the atomic counter `prepared`). The built-in devices are
   registered at the first use, by one thread, while others wait. Rejected: a growing array, which moves devices and
   needs an allocator; constructors before main, which C99 does not have. */

#define NNRTI_NAME_BYTES 64
#define NNRTI_MODEL_HAS(m, slot) NNRT_HAS((m)->vtbl, NNRT_PreparedModelVtbl, slot)
/* RunIn is called only if the table has GetWorkspaceSize, too. */
#define NNRTI_MODEL_RUNS_IN(m) (NNRTI_MODEL_HAS(m, RunIn) && NNRTI_MODEL_HAS(m, GetWorkspaceSize))

struct nnrt_device {
    const NNRT_DeviceVtbl *table;
    void *self;
    char name[NNRTI_NAME_BYTES], vendor[NNRTI_NAME_BYTES], unique[2 * NNRTI_NAME_BYTES + 32];
    bool builtin;
    int32_t prepared; /* number of prepared models, contexts and buffers; atomic */
};

/* Devices never move, as handles are addresses. nnrti_device_order lists the used elements of nnrti_devices in the
   order of registration. */
static nnrt_device nnrti_devices[NNRT_MAX_DEVICES];
static uint8_t nnrti_device_order[NNRT_MAX_DEVICES];
static uint32_t nnrti_device_total;
static int32_t nnrti_registry_state; /* 0, 1 while built-in devices are registered, then 2; atomic */

/* The functions of built-in devices. */
#ifdef NNRT_AUTO_DEVICE
#define NNRT_AUTO_WANTED
static const NNRT_DeviceVtbl *NNRT_AUTO_DEVICE(void **self);
#endif
#ifdef NNRT_BUILTIN_DEVICE
#define NNRT_BUILTIN_WANTED
static const NNRT_DeviceVtbl *NNRT_BUILTIN_DEVICE(void **self);
#endif

#define NNRTI_DEVICE_HAS(d, slot) NNRT_HAS((d)->table, NNRT_DeviceVtbl, slot)

/* Copies a name that a driver returned; false: it is NULL, empty or longer than 63 bytes. */
static bool nnrti_take_name(char *to, const char *from)
{
    size_t length = from != NULL ? strlen(from) : 0;
    if (length == 0 || length >= NNRTI_NAME_BYTES)
        return false;
    memcpy(to, from, length + 1);
    return true;
}

/* Rule: a driver's table has a supported version and layout, and the methods that every device needs. The order
   matters: structSize is read first, then version, before any slot; only a table with this NNRT_LAYOUT may receive a
   model. Methods in pairs (AllocateBuffer and ReleaseBuffer, OpenContext and CloseContext) are required both or none:
   an object that was made could otherwise not be released. */
static NNRT_ReturnCode nnrti_check_table(const NNRT_DeviceVtbl *t, nnrt_error *error)
{
    bool other, allocate, release;
    uint32_t major;
    if (t == NULL || t->structSize < offsetof(NNRT_DeviceVtbl, GetVersion))
        return nnrt_error_set(error, NNRT_NULL_PTR, "the device table is NULL or has no structSize");
    major = t->version >> 16 & 0xFFu;
    if (major < 1 || major > 2)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "the device table has version %u.%u, known are 1.x and 2.x", major, t->version & 0xFFFFu);
    if (t->version >> 24 != NNRT_LAYOUT)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "the device was compiled with layout %u of NNRT_Tensor and its like, this is layout %u: "
                              "compile it anew, with version = NNRT_HDI(%u, %u)",
                              t->version >> 24, (uint32_t)NNRT_LAYOUT, major, t->version & 0xFFFFu);
    if (!NNRT_HAS(t, NNRT_DeviceVtbl, GetVersion) || !NNRT_HAS(t, NNRT_DeviceVtbl, GetDeviceName) ||
        !NNRT_HAS(t, NNRT_DeviceVtbl, GetVendorName))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "GetVersion, GetDeviceName and GetVendorName are required");
    other =
        NNRT_HAS(t, NNRT_DeviceVtbl, PrepareModelFromModelCache) || NNRT_HAS(t, NNRT_DeviceVtbl, PrepareOfflineModel);
    if (!NNRT_HAS(t, NNRT_DeviceVtbl, PrepareModel) && !other)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "the device table has no way to prepare a model");
    allocate = NNRT_HAS(t, NNRT_DeviceVtbl, AllocateBuffer);
    release = NNRT_HAS(t, NNRT_DeviceVtbl, ReleaseBuffer);
    if (allocate != release)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "AllocateBuffer and ReleaseBuffer come together or not at all");
    if (NNRT_HAS(t, NNRT_DeviceVtbl, OpenContext) != NNRT_HAS(t, NNRT_DeviceVtbl, CloseContext))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                              "OpenContext and CloseContext come together or not at all");
    return NNRT_SUCCESS;
}

/* An unused element of nnrti_devices. Before: the registry is not full. */
static uint32_t nnrti_free_place(void)
{
    for (uint32_t place = 0;; place++) {
        bool taken = false;
        for (uint32_t i = 0; i < nnrti_device_total; i++)
            taken = taken || nnrti_device_order[i] == place;
        if (!taken)
            return place;
    }
}

/* nnrt_device_register without opening the registry, for use while it is being opened. A device that is offline, or
   has the name and vendor of a registered one, is rejected (HDI: both together are unique). The device is complete in
   d before it is copied to the table, so a failure changes nothing. */
static NNRT_ReturnCode nnrti_register(const NNRT_DeviceVtbl *table, void *self, nnrt_error *error)
{
    nnrt_device d;
    const char *name = NULL, *vendor = NULL;
    uint32_t major = 0, minor = 0, place;
    NNRT_DeviceStatus status;
    NNRT_ReturnCode code = nnrti_check_table(table, error);
    if (code != NNRT_SUCCESS)
        return code;
    memset(&d, 0, sizeof(d));
    d.table = table;
    d.self = self;
    if ((code = table->GetDeviceName(self, &name)) != NNRT_SUCCESS)
        return nnrt_error_set(error, code, "the device does not give its name (code %d)", code);
    if (!nnrti_take_name(d.name, name)) /* before the next call, which may invalidate the text */
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the device's name is empty or has 64 characters or more");
    if ((code = table->GetVendorName(self, &vendor)) != NNRT_SUCCESS || !nnrti_take_name(d.vendor, vendor))
        return nnrt_error_set(error, code != NNRT_SUCCESS ? code : NNRT_INVALID_PARAMETER,
                              "device '%s': the vendor's name is missing, empty or has 64 characters or more", d.name);
    if ((code = table->GetVersion(self, &major, &minor)) != NNRT_SUCCESS)
        return nnrt_error_set(error, code, "device '%s' does not give its version (code %d)", d.name, code);
    nnrt_text(d.unique, sizeof(d.unique), "%s_%s_v%u_%u", d.name, d.vendor, major, minor);
    for (uint32_t i = 0; i < nnrti_device_total; i++) {
        const nnrt_device *other = &nnrti_devices[nnrti_device_order[i]];
        if (strcmp(other->name, d.name) == 0 && strcmp(other->vendor, d.vendor) == 0)
            return nnrt_error_set(error, NNRT_OPERATION_FORBIDDEN, "a device '%s' of '%s' is registered already",
                                  d.name, d.vendor);
    }
    status = nnrt_device_status(&d);
    if (status == NNRT_DEVICE_STATUS_OFFLINE || status == NNRT_DEVICE_STATUS_UNKNOWN)
        return nnrt_error_set(error, NNRT_DEVICE_ERROR, "device '%s' is offline", d.name);
    if (nnrti_device_total >= NNRT_MAX_DEVICES)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is room for %d devices only", NNRT_MAX_DEVICES);
    place = nnrti_free_place();
    nnrti_devices[place] = d;
    nnrti_device_order[nnrti_device_total++] = (uint8_t)place;
    return NNRT_SUCCESS;
}

/* Registers a device that is compiled in. builtin: it cannot be unregistered. Does nothing if it cannot run on this
   machine. */
static void nnrti_register_own(const NNRT_DeviceVtbl *(*device)(void **self), bool builtin)
{
    void *self = NULL;
    const NNRT_DeviceVtbl *table = device(&self);
    if (table != NULL && nnrti_register(table, self, NULL) == NNRT_SUCCESS)
        nnrti_devices[nnrti_device_order[nnrti_device_total - 1]].builtin = builtin;
}

/* `reference` as a built-in device: it has no state, so self stays as it is. */
static const NNRT_DeviceVtbl *nnrti_reference_device(void **self)
{
    (void)self;
    return &nnrti_reference_vtbl;
}

/* Called before every access to the registry: registers the compiled-in devices once, in the order in which OH_NN
   numbers them. Other threads wait (spin) until that is done. The functions of built-in devices must not call the
   registry: their own thread would wait for itself. Rejected: a mutex, which C99 does not have. */
static void nnrti_registry_open(void)
{
    if (NNRTI_ATOMIC_GET(&nnrti_registry_state) == 2)
        return;
    if (NNRTI_ATOMIC_TURN(&nnrti_registry_state, 0, 1)) {
#ifdef NNRT_AUTO_DEVICE
        nnrti_register_own(NNRT_AUTO_DEVICE, true);
#endif
        nnrti_register_own(nnrti_reference_device, true);
#ifdef NNRT_BUILTIN_DEVICE
        nnrti_register_own(NNRT_BUILTIN_DEVICE, false);
#endif
        NNRTI_ATOMIC_SET(&nnrti_registry_state, 2);
    }
    while (NNRTI_ATOMIC_GET(&nnrti_registry_state) != 2) {
    }
}

NNRT_API NNRT_ReturnCode nnrt_device_register(const NNRT_DeviceVtbl *table, void *self, nnrt_error *error)
{
    nnrti_registry_open();
    return nnrti_register(table, self, error);
}

/* The counter is compared without a lock: it suffices, since the caller guarantees that no other thread uses the
   device meanwhile. The element of nnrti_devices is free after its index has left nnrti_device_order. */
NNRT_API NNRT_ReturnCode nnrt_device_unregister(const char *name)
{
    nnrt_device *d = nnrt_device_find(name);
    uint32_t i = 0;
    if (name == NULL)
        return NNRT_NULL_PTR;
    if (d == NULL)
        return NNRT_INVALID_PARAMETER;
    if (d->builtin)
        return NNRT_OPERATION_FORBIDDEN;
    if (NNRTI_ATOMIC_GET(&d->prepared) > 0)
        return NNRT_DEVICE_BUSY;
    if (NNRTI_DEVICE_HAS(d, Destroy))
        d->table->Destroy(d->self);
    while (nnrt_device_at(i) != d)
        i++;
    for (nnrti_device_total--; i < nnrti_device_total; i++)
        nnrti_device_order[i] = nnrti_device_order[i + 1];
    return NNRT_SUCCESS;
}

NNRT_API uint32_t nnrt_device_count(void)
{
    nnrti_registry_open();
    return nnrti_device_total;
}

NNRT_API nnrt_device *nnrt_device_at(uint32_t index)
{
    nnrti_registry_open();
    return index < nnrti_device_total ? &nnrti_devices[nnrti_device_order[index]] : NULL;
}

/* Finds a device by the first `length` characters of text: by unique name, else by name. NULL: none. */
static nnrt_device *nnrti_device_named(const char *text, size_t length)
{
    nnrti_registry_open();
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < nnrti_device_total; i++) {
            nnrt_device *d = nnrt_device_at(i);
            const char *name = pass == 0 ? d->unique : d->name;
            if (strlen(name) == length && memcmp(name, text, length) == 0)
                return d;
        }
    return NULL;
}

NNRT_API nnrt_device *nnrt_device_find(const char *name)
{
    return name != NULL ? nnrti_device_named(name, strlen(name)) : NULL;
}

/* Whether a device is the built-in `auto`, whose partitions call nnrt_through themselves. */
static bool nnrti_is_auto(const nnrt_device *device)
{
    return strcmp(nnrt_device_unique_name(device), "auto_nnrt_v2_0") == 0;
}

/* Whether the device supports every node. Reasons against a node are not reported as errors. false also if there is
   no memory for the query. */
static bool nnrti_takes_model(nnrt_device *device, const NNRT_Model *model, const NNRT_ModelConfig *config)
{
    NNRT_ModelConfig own;
    const uint32_t count = model->nodes.count;
    bool all, *isSupported;
    nnrt_config_read(&own, config);
    isSupported = (bool *)nnrt_alloc(own.allocator, count);
    own.error = NULL;
    all = isSupported != NULL &&
          nnrt_device_supported(device, model, &own, isSupported, count, NULL, NULL) == NNRT_SUCCESS;
    for (uint32_t i = 0; all && i < count; i++)
        all = isSupported[i];
    nnrt_free(own.allocator, isSupported, count);
    return all;
}

NNRT_API nnrt_device *nnrt_device_choose(const char *name, const NNRT_Model *model, const NNRT_ModelConfig *config)
{
    nnrt_device *device;
    if (name != NULL)
        return nnrt_device_find(strncmp(name, "auto:", 5) == 0 ? "auto" : name);
    if ((device = nnrt_device_find("auto")) != NULL)
        return device;
    for (uint32_t i = 0; (device = nnrt_device_at(i)) != NULL; i++)
        if (strcmp(device->name, "reference") != 0 && (model == NULL || nnrti_takes_model(device, model, config)))
            return device;
    return nnrt_device_find("reference");
}

NNRT_API const char *nnrt_device_name(const nnrt_device *device)
{
    return device != NULL ? device->name : "";
}

NNRTI_NOINLINE NNRT_API const char *nnrt_device_unique_name(const nnrt_device *device)
{
    return device != NULL ? device->unique : "";
}

NNRT_API const char *nnrt_device_vendor(const nnrt_device *device)
{
    return device != NULL ? device->vendor : "";
}

NNRT_API NNRT_DeviceType nnrt_device_type(const nnrt_device *device, NNRT_ReturnCode *code)
{
    NNRT_DeviceType type = NNRT_DEVICE_TYPE_OTHER;
    NNRT_ReturnCode told = NNRT_NULL_PTR;
    if (device != NULL)
        told =
            NNRTI_DEVICE_HAS(device, GetDeviceType) ? device->table->GetDeviceType(device->self, &type) : NNRT_SUCCESS;
    if (code != NULL)
        *code = told;
    return told == NNRT_SUCCESS ? type : NNRT_DEVICE_TYPE_OTHER;
}

NNRT_API NNRT_DeviceStatus nnrt_device_status(const nnrt_device *device)
{
    NNRT_DeviceStatus status = NNRT_DEVICE_STATUS_AVAILABLE;
    if (device == NULL || (NNRTI_DEVICE_HAS(device, GetDeviceStatus) &&
                           device->table->GetDeviceStatus(device->self, &status) != NNRT_SUCCESS))
        return NNRT_DEVICE_STATUS_UNKNOWN;
    return status;
}

/* Calls a method that reports an ability; NOT_SUPPORT: the device has no such method. HDI defines the answer for a
   missing method as "no", so nnrt_device_can turns that code into SUCCESS and false. */
#define NNRTI_DEVICE_SAYS(d, slot, yes)                                                                                \
    (NNRTI_DEVICE_HAS(d, slot) ? (d)->table->slot((d)->self, yes) : NNRT_NOT_SUPPORT)

static NNRT_ReturnCode nnrti_device_ask(const nnrt_device *device, nnrt_ability ability, bool *can)
{
    NNRT_ReturnCode code = NNRT_NOT_SUPPORT;
    bool yes = false;
    switch (ability) {
    case NNRT_ABILITY_FLOAT16: code = NNRTI_DEVICE_SAYS(device, IsFloat16PrecisionSupported, &yes); break;
    case NNRT_ABILITY_PERFORMANCE_MODE: code = NNRTI_DEVICE_SAYS(device, IsPerformanceModeSupported, &yes); break;
    case NNRT_ABILITY_PRIORITY: code = NNRTI_DEVICE_SAYS(device, IsPrioritySupported, &yes); break;
    case NNRT_ABILITY_DYNAMIC_INPUT: code = NNRTI_DEVICE_SAYS(device, IsDynamicInputSupported, &yes); break;
    case NNRT_ABILITY_MODEL_CACHE: code = NNRTI_DEVICE_SAYS(device, IsModelCacheSupported, &yes); break;
    case NNRT_ABILITY_OFFLINE_MODEL:
        yes = NNRTI_DEVICE_HAS(device, PrepareOfflineModel);
        code = NNRT_SUCCESS;
        break;
    case NNRT_ABILITY_TELL_NODES:
        yes = NNRTI_DEVICE_HAS(device, GetSupportedNodes) || NNRTI_DEVICE_HAS(device, GetSupportedOperation);
        code = NNRT_SUCCESS;
        break;
    case NNRT_ABILITY_TELL_MEMORY:
        yes = NNRTI_DEVICE_HAS(device, GetModelMemory);
        code = NNRT_SUCCESS;
        break;
    default: break;
    }
    *can = yes && code == NNRT_SUCCESS;
    return code == NNRT_NOT_SUPPORT ? NNRT_SUCCESS : code;
}

NNRT_API bool nnrt_device_can(const nnrt_device *device, nnrt_ability ability, NNRT_ReturnCode *code)
{
    bool can = false;
    const NNRT_ReturnCode told = device != NULL ? nnrti_device_ask(device, ability, &can) : NNRT_NULL_PTR;
    if (code != NULL)
        *code = told;
    return can;
}

/* Rule: modes, priorities and extensions of the configuration are valid, and the device supports them. It is asked
   about an option only if the caller sets it: a driver in another process answers each query by a message. An option
   that the device lacks is NOT_SUPPORT, never ignored. */
static NNRT_ReturnCode nnrti_check_wishes(const NNRT_ModelConfig *config, const nnrt_device *device)
{
    const char *lacks = NULL;
    NNRT_ReturnCode code = nnrti_check_mode(config);
    if (code != NNRT_SUCCESS)
        return code;
    if (config->extensions.count > 0 && config->extensions.data == NULL)
        return nnrt_error_set(config->error, NNRT_NULL_PTR, "counts %u extensions, but has none",
                              config->extensions.count);
    for (uint32_t i = 0; i < config->extensions.count; i++) {
        const NNRT_Extension *e = &config->extensions.data[i];
        if (e->name == NULL || (e->data == NULL && e->size > 0))
            return nnrt_error_set(config->error, NNRT_NULL_PTR, "extension %u '%s' has no %s", i,
                                  nnrti_text_of(e->name), e->name == NULL ? "name" : "data");
    }
    if (config->enableFloat16 && !nnrt_device_can(device, NNRT_ABILITY_FLOAT16, NULL))
        lacks = "float32 in float16";
    else if (config->mode != NNRT_PERFORMANCE_NONE && !nnrt_device_can(device, NNRT_ABILITY_PERFORMANCE_MODE, NULL))
        lacks = "performance modes";
    else if (config->priority != NNRT_PRIORITY_NONE && !nnrt_device_can(device, NNRT_ABILITY_PRIORITY, NULL))
        lacks = "priorities";
    if (lacks != NULL)
        return nnrt_error_set(config->error, NNRT_NOT_SUPPORT, "device '%s' has no %s", device->unique, lacks);
    return nnrti_check_profile(config);
}

/* *own = the configuration that a device receives: the caller's, complete (structSize 0 means all members), with the
   name of the device. Checks that the device supports it. structSize 0 has another meaning in nnrt_config_read, which
   drivers call: there it marks a caller that is older than the member. */
static NNRT_ReturnCode nnrti_config_send(NNRT_ModelConfig *own, const nnrt_device *device,
                                         const NNRT_ModelConfig *config)
{
    nnrt_config_read(own, config);
    if (config != NULL && config->structSize == 0) {
        *own = *config;
        own->structSize = (uint32_t)sizeof(*own);
    }
    own->device = device->unique;
    nnrti_error_send(own->error);
    return nnrti_check_wishes(own, device);
}

/* Reports that a device failed, at the node and tensor that it named. A device built without messages has set only
   the code. first: error held no fault before the call. device NULL: `what` is the whole message. */
static NNRT_ReturnCode nnrti_device_failed(nnrt_error *error, NNRT_ReturnCode code, bool first, const char *device,
                                           const char *what)
{
    const bool wordless = first && error->code != NNRT_SUCCESS && error->message[0] == '\0';
    const int32_t node = wordless ? error->node : -1, tensor = wordless ? error->tensor : -1;
    if (wordless)
        error->code = NNRT_SUCCESS;
    if (device != NULL)
        (void)nnrt_error_set(error, code, "device '%s' %s: %s (%d)", device, what, nnrt_code_name(code), code);
    else
        (void)nnrt_error_set(error, code, "%s: %s (%d)", what, nnrt_code_name(code), code);
    return wordless ? nnrt_error_blame(error, code, node, tensor) : code;
}

/* Passes the reasons of a device against nodes to the log and to the caller's function. */
typedef struct nnrti_told_reason {
    const nnrt_log *log;
    const nnrt_device *device;
    nnrt_reason reason;
    void *user;
} nnrti_told_reason;

/* nnrt_reason that logs a reason and passes it on. */
static void nnrti_tell_reason(void *user, uint32_t node, const nnrt_error *error)
{
    const nnrti_told_reason *t = (const nnrti_told_reason *)user;
    nnrt_log_line(t->log, NNRT_LOG_DEBUG, "device '%s' does not take node %u: %s", t->device->unique, node,
                  nnrti_reason(error));
    if (t->reason != NULL)
        t->reason(t->user, node, error);
}

NNRT_API NNRT_ReturnCode nnrt_device_supported(nnrt_device *device, const NNRT_Model *model,
                                               const NNRT_ModelConfig *config, bool *isSupported, uint32_t count,
                                               nnrt_reason reason, void *user)
{
    NNRT_ModelConfig own;
    NNRT_ReturnCode code;
    nnrti_told_reason told;
    if (device == NULL || model == NULL || isSupported == NULL)
        return NNRT_NULL_PTR;
    if ((code = nnrti_config_send(&own, device, config)) != NNRT_SUCCESS)
        return code;
    if (own.log != NULL) {
        told.log = own.log;
        told.device = device;
        told.reason = reason;
        told.user = user;
        reason = nnrti_tell_reason;
        user = &told;
    }
    if (NNRTI_DEVICE_HAS(device, GetSupportedNodes))
        return device->table->GetSupportedNodes(device->self, model, &own, isSupported, count, reason, user);
    for (uint32_t i = 0; i < count; i++)
        isSupported[i] = true;
    if (NNRTI_DEVICE_HAS(device, GetSupportedOperation))
        code = device->table->GetSupportedOperation(device->self, model, isSupported, count);
    for (uint32_t i = 0; i < count && i < model->nodes.count && code == NNRT_SUCCESS && reason != NULL; i++) {
        nnrt_error error;
        if (isSupported[i])
            continue;
        memset(&error, 0, sizeof(error));
        nnrti_error_send(&error);
        (void)nnrt_error_set(&error, NNRT_UNSUPPORTED_OP, "node %u '%s' (%s): device '%s' does not take it", i,
                             nnrti_text_of(model->nodes.data[i].name), nnrti_node_op(model, i), device->unique);
        (void)nnrt_error_blame(&error, NNRT_UNSUPPORTED_OP, i, -1);
        reason(user, i, &error);
    }
    return code;
}

/* Rule: a device that returns SUCCESS returns a prepared model that can be run; another result is DEVICE_ERROR, and
   the model is destroyed if it has a table. Counts it as one of the device. *prepared is NULL after every failure,
   whatever the driver stored there, so that callers may release it without a test. */
static NNRT_ReturnCode nnrti_device_prepared(nnrt_device *device, NNRT_ReturnCode code, nnrt_error *error, bool first,
                                             NNRT_PreparedModel **prepared)
{
    if (code == NNRT_SUCCESS && (*prepared == NULL || (*prepared)->vtbl == NULL))
        code = NNRT_DEVICE_ERROR;
    if (code == NNRT_SUCCESS && !NNRTI_MODEL_HAS(*prepared, Run) && !NNRTI_MODEL_HAS(*prepared, RunV1) &&
        !NNRTI_MODEL_RUNS_IN(*prepared)) {
        if (NNRTI_MODEL_HAS(*prepared, Destroy))
            (*prepared)->vtbl->Destroy(*prepared);
        code = NNRT_DEVICE_ERROR;
    }
    if (code != NNRT_SUCCESS) {
        *prepared = NULL;
        return nnrti_device_failed(error, code, first, device->unique, "cannot prepare the model");
    }
    if (first)
        nnrt_error_clear(error); /* faults of attempts before it succeeded */
    (void)NNRTI_ATOMIC_ADD(&device->prepared, 1);
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_context_open(nnrt_context *context, nnrt_device *device, const char *properties,
                                           nnrt_ask ask, nnrt_error *error)
{
    const bool first = nnrti_error_open(error);
    NNRT_ReturnCode code;
    if (context == NULL || device == NULL)
        return NNRT_NULL_PTR;
    context->device = device;
    context->opened = NULL;
    if (!NNRTI_DEVICE_HAS(device, OpenContext))
        return NNRT_SUCCESS;
    code = device->table->OpenContext(device->self, properties != NULL ? properties : "", ask, &context->opened);
    if (code == NNRT_SUCCESS && context->opened == NULL)
        code = NNRT_DEVICE_ERROR;
    if (code != NNRT_SUCCESS) {
        context->opened = NULL;
        return nnrti_device_failed(error, code, first, device->unique, "cannot open a context");
    }
    (void)NNRTI_ATOMIC_ADD(&device->prepared, 1);
    return NNRT_SUCCESS;
}

NNRT_API void nnrt_context_close(nnrt_context *context)
{
    if (context == NULL || context->opened == NULL)
        return;
    context->device->table->CloseContext(context->device->self, context->opened);
    (void)NNRTI_ATOMIC_ADD(&context->device->prepared, -1);
    context->opened = NULL;
}

NNRT_API void *nnrt_context_of(const NNRT_ModelConfig *config, const void *self)
{
    for (uint32_t i = 0; config != NULL && config->contexts != NULL && i < config->nContexts; i++)
        if (config->contexts[i].opened != NULL && config->contexts[i].device->self == self)
            return config->contexts[i].opened;
    return NULL;
}

/* through (a model cache) comes after the checks, so that a cache never sees a configuration that the device rejects.
   It is not called for auto: that device prepares its partitions by this function, each with its own cache entry.
   Before the call own.through is reset, as the cache calls this function again. */
NNRT_API NNRT_ReturnCode nnrt_device_prepare(nnrt_device *device, const NNRT_Model *model,
                                             const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    NNRT_ModelConfig own;
    NNRT_ReturnCode code;
    bool first;
    if (device == NULL || model == NULL || prepared == NULL)
        return NNRT_NULL_PTR;
    *prepared = NULL;
    if ((code = nnrti_config_send(&own, device, config)) != NNRT_SUCCESS)
        return code;
    if (!NNRTI_DEVICE_HAS(device, PrepareModel))
        return nnrt_error_set(own.error, NNRT_NOT_SUPPORT, "device '%s' does not prepare models", device->unique);
    if (own.bounds.count != 0 && !nnrt_device_can(device, NNRT_ABILITY_DYNAMIC_INPUT, NULL))
        return nnrt_error_set(own.error, NNRT_NOT_SUPPORT,
                              "device '%s' does not support dynamic shapes: set all dimensions with inputDims",
                              device->unique);
    if (own.through != NULL && NNRTI_DEVICE_HAS(device, PrepareModelFromModelCache) && !nnrti_is_auto(device)) {
        const nnrt_through *through = own.through;
        own.through = NULL;
        return through->prepare(through->user, device, model, &own, prepared);
    }
    first = nnrti_error_open(own.error);
    code = nnrti_device_prepared(device, device->table->PrepareModel(device->self, model, &own, prepared), own.error,
                                 first, prepared);
    if (code == NNRT_SUCCESS)
        nnrt_log_line(own.log, NNRT_LOG_INFO, "device '%s' has prepared the model", device->unique);
    else
        nnrt_log_line(own.log, NNRT_LOG_WARNING, "device '%s' refuses the model: %s", device->unique,
                      own.error != NULL && own.error->message[0] != '\0' ? own.error->message : nnrt_code_name(code));
    return code;
}

/* Prepares a model from blocks that only the device can read: its model cache, or an offline model. */
static NNRT_ReturnCode nnrti_device_prepare_blocks(nnrt_device *device, bool offline, const NNRT_SharedBuffer *blocks,
                                                   uint32_t count, const NNRT_ModelConfig *config,
                                                   NNRT_PreparedModel **prepared)
{
    NNRT_ModelConfig own;
    NNRT_ReturnCode code;
    bool first;
    if (device == NULL || blocks == NULL || prepared == NULL)
        return NNRT_NULL_PTR;
    *prepared = NULL;
    if ((code = nnrti_config_send(&own, device, config)) != NNRT_SUCCESS)
        return code;
    if (offline ? !NNRTI_DEVICE_HAS(device, PrepareOfflineModel) : !NNRTI_DEVICE_HAS(device, PrepareModelFromModelCache))
        return nnrt_error_set(own.error, NNRT_NOT_SUPPORT,
                              offline ? "device '%s' takes no offline models" : "device '%s' has no model cache",
                              device->unique);
    first = nnrti_error_open(own.error);
    code = (offline ? device->table->PrepareOfflineModel
                    : device->table->PrepareModelFromModelCache)(device->self, blocks, count, &own, prepared);
    return nnrti_device_prepared(device, code, own.error, first, prepared);
}

NNRT_API NNRT_ReturnCode nnrt_device_prepare_cache(nnrt_device *device, const NNRT_SharedBuffer *cache, uint32_t count,
                                                   const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    return nnrti_device_prepare_blocks(device, false, cache, count, config, prepared);
}

NNRT_API NNRT_ReturnCode nnrt_device_prepare_offline(nnrt_device *device, const NNRT_SharedBuffer *models,
                                                     uint32_t count, const NNRT_ModelConfig *config,
                                                     NNRT_PreparedModel **prepared)
{
    return nnrti_device_prepare_blocks(device, true, models, count, config, prepared);
}

NNRT_API NNRT_ReturnCode nnrt_device_model_memory(nnrt_device *device, const NNRT_Model *model,
                                                  const NNRT_ModelConfig *config, size_t *bytes)
{
    NNRT_ModelConfig own;
    NNRT_ReturnCode code;
    if (device == NULL || model == NULL || bytes == NULL)
        return NNRT_NULL_PTR;
    if (!NNRTI_DEVICE_HAS(device, GetModelMemory))
        return NNRT_NOT_SUPPORT;
    if ((code = nnrti_config_send(&own, device, config)) != NNRT_SUCCESS)
        return code;
    return device->table->GetModelMemory(device->self, model, &own, bytes);
}

/* HDI's rules for AllocateBuffer are enforced here: length 0 is rejected before the device is asked, and a block
   needs a descriptor or an address, offset 0, dataSize = length and bufferSize >= length. Each block keeps the device
   from being unregistered, like a prepared model. */
NNRT_API NNRT_ReturnCode nnrt_device_allocate(nnrt_device *device, uint32_t length, NNRT_SharedBuffer *buffer)
{
    NNRT_ReturnCode code;
    if (buffer == NULL)
        return NNRT_NULL_PTR;
    if (device == NULL || !NNRTI_DEVICE_HAS(device, AllocateBuffer))
        return nnrt_buffer_create(length, buffer);
    memset(buffer, 0, sizeof(*buffer));
    buffer->fd = -1;
    if (length == 0)
        return NNRT_INVALID_PARAMETER;
    code = device->table->AllocateBuffer(device->self, length, buffer);
    if (code == NNRT_SUCCESS && ((buffer->fd < 0 && buffer->addr == NULL) || buffer->bufferSize < length ||
                                 buffer->offset != 0 || buffer->dataSize != length)) {
        (void)device->table->ReleaseBuffer(device->self, buffer);
        code = NNRT_DEVICE_ERROR;
    }
    if (code == NNRT_SUCCESS) {
        (void)NNRTI_ATOMIC_ADD(&device->prepared, 1);
        return code;
    }
    memset(buffer, 0, sizeof(*buffer));
    buffer->fd = -1;
    return code;
}

NNRT_API NNRT_ReturnCode nnrt_device_free(nnrt_device *device, const NNRT_SharedBuffer *buffer)
{
    NNRT_ReturnCode code;
    if (buffer == NULL)
        return NNRT_NULL_PTR;
    if (buffer->fd < 0 && buffer->addr == NULL)
        return NNRT_INVALID_BUFFER;
    if (device == NULL || !NNRTI_DEVICE_HAS(device, ReleaseBuffer)) {
        nnrt_buffer_destroy(buffer);
        return NNRT_SUCCESS;
    }
    code = device->table->ReleaseBuffer(device->self, buffer);
    if (code == NNRT_SUCCESS)
        (void)NNRTI_ATOMIC_ADD(&device->prepared, -1);
    return code;
}

NNRT_API void nnrt_device_release(nnrt_device *device, NNRT_PreparedModel *prepared)
{
    if (device == NULL || prepared == NULL)
        return;
    if (NNRTI_MODEL_HAS(prepared, Destroy))
        prepared->vtbl->Destroy(prepared);
    (void)NNRTI_ATOMIC_ADD(&device->prepared, -1);
}

/* Run of HDI 1.0, which reports an output buffer that is too small by a flag; later versions return a code. */
static NNRT_ReturnCode nnrti_run_v1(NNRT_PreparedModel *m, const NNRT_IOTensor *inputs, uint32_t nIn,
                                    const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                                    nnrt_error *error)
{
    bool enough[32];
    NNRT_ReturnCode code;
    if (nOut > 32)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "a device of HDI 1.0 is run with at most 32 outputs, not %u", nOut);
    for (uint32_t i = 0; i < 32; i++)
        enough[i] = true;
    code = m->vtbl->RunV1(m, inputs, nIn, outputs, nOut, outputDims, enough);
    for (uint32_t i = 0; code == NNRT_SUCCESS && i < nOut; i++)
        if (!enough[i])
            return nnrt_error_set(error, NNRT_INSUFFICIENT_BUFFER, "output %u '%s' is too small for the result", i,
                                  outputs[i].name != NULL ? outputs[i].name : "");
    return code;
}

/* The most capable slot that the arguments allow is called: RunUntil, RunIn, Run, RunV1. Cancellation is checked once
   before all of them, so a driver without RunUntil is at least not started. */
NNRT_API NNRT_ReturnCode nnrt_prepared_run(NNRT_PreparedModel *prepared, void *workspace, size_t bytes,
                                           const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                           uint32_t nOut, nnrt_dims *outputDims, const nnrt_stop *stop,
                                           nnrt_error *error)
{
    const bool first = nnrti_error_open(error);
    uint8_t none[NNRT_ALIGNMENT]; /* has an aligned address, for a workspace of 0 bytes */
    size_t needed = 0;
    NNRT_ReturnCode code;
    if (prepared == NULL)
        return NNRT_NULL_PTR;
    if (nnrti_stopped(stop))
        return nnrt_error_set(error, NNRT_CANCELLED, NNRTI_STOPPED);
    nnrti_error_send(error);
    if (!NNRTI_MODEL_HAS(prepared, RunIn)) { /* it runs in a workspace of its own */
        workspace = NULL;
        bytes = 0;
    } else if (workspace == NULL && NNRTI_MODEL_HAS(prepared, GetWorkspaceSize) &&
               prepared->vtbl->GetWorkspaceSize(prepared, &needed) == NNRT_SUCCESS && needed == 0) {
        workspace = none + (NNRT_ALIGNMENT - (uintptr_t)none % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
        bytes = 0;
    }
    if (stop != NULL && NNRTI_MODEL_HAS(prepared, RunUntil))
        code =
            prepared->vtbl->RunUntil(prepared, workspace, bytes, inputs, nIn, outputs, nOut, outputDims, stop, error);
    else if (workspace != NULL)
        code = prepared->vtbl->RunIn(prepared, workspace, bytes, inputs, nIn, outputs, nOut, outputDims, error);
    else if (NNRTI_MODEL_HAS(prepared, Run))
        code = prepared->vtbl->Run(prepared, inputs, nIn, outputs, nOut, outputDims);
    else if (NNRTI_MODEL_HAS(prepared, RunV1))
        code = nnrti_run_v1(prepared, inputs, nIn, outputs, nOut, outputDims, error);
    else
        code = NNRT_NOT_SUPPORT;
    if (code != NNRT_SUCCESS)
        return nnrti_device_failed(error, code, first, NULL, "the device's run failed");
    if (first)
        nnrt_error_clear(error);
    return NNRT_SUCCESS;
}

NNRT_SETUP_END()

#endif /* NNRT_FIRMWARE */

#endif /* NNRT_IMPLEMENTATION */
