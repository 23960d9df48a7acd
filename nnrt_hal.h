/*
nnrt_hal.h - the layer between applications and devices of nnrt: the model as plain data, its validation, shape
inference, the .nnrt format as bytes, the execution plan and the memory planner that every device can use, the device
tables (vtables), the registry, and the built-in device `reference`.

READERS
    A device vendor: copy examples/device/device.h, a device whose prepared models are plans (>>prepare); or implement
    all of an NNRT_DeviceVtbl and an NNRT_PreparedModelVtbl (>>tables). Then call nnrt_device_register.
    Applications include nnrt.h, which includes this file.

SECTIONS (search for the tag)
    >>memory      allocator; memory whose size is counted by the same code that uses it
    >>model       NNRT_Model and its parts, NNRT_ModelConfig, NNRT_IOTensor
    >>buffers     blocks of memory that have a descriptor
    >>format      the .nnrt format: models as bytes in memory, loaded in place; metadata
    >>tables      NNRT_DeviceVtbl, NNRT_PreparedModelVtbl
    >>registry    registering, listing and calling devices
    >>prepare     validation, shape inference, planner, plan
    -- implementation --
    >>memory >>buffers >>validate >>format >>infer >>planner >>plan >>control >>regions >>run >>prepared >>reference
    >>registry

OWNERSHIP
    A model is plain data that this library never changes: it may be const and be stored in flash. Arguments stay the
    caller's. Constants are used in place and must outlive the prepared model, unless ModelConfig.copyConstants is set.
    For a constant that has only a descriptor the file must outlive it; the descriptor may be closed.
    A prepared model is immutable; any number of threads may run it at once with RunIn, each in a workspace of its own.

ERRORS
    Functions return a code of NNRT_ReturnCode. If the caller passes an nnrt_error, it receives a message that names
    node, operator, the found and the expected values. No function aborts or prints.

MIT license, see LICENSE.
*/
#ifndef NNRT_HAL_H
#define NNRT_HAL_H

#include "nnrt_ops.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>memory */

/* The source of memory. alloc returns bytes bytes aligned to alignment (a power of two), NULL if there is no memory;
   it need not clear them. free receives the block and the size that was requested. With a NULL allocator, or alloc
   NULL, malloc and free are used; under NNRT_FIRMWARE every allocation then fails. free NULL beside an alloc: blocks
   are never returned. The threads that prepare and destroy models and sessions call it, several at once if the
   program does; nnrt_plan_run never does. */
typedef struct nnrt_allocator {
    void *(*alloc)(void *user, size_t bytes, size_t alignment);
    void (*free)(void *user, void *block, size_t bytes);
    void *user;
} nnrt_allocator;

#ifdef NNRT_FIRMWARE
#define NNRT_ALIGNMENT 8 /* of buffers handed in and of tensors in the arena, bytes */
#else
#define NNRT_ALIGNMENT 64
#endif

/* NNRT_PIECE_BYTES       bytes requested from the allocator at once while models are built and prepared. A block larger
                          than a quarter of it gets an allocation of its own; 0: every block does. */
#ifndef NNRT_PIECE_BYTES
#define NNRT_PIECE_BYTES 4096
#endif

/* A block aligned to NNRT_ALIGNMENT, not cleared; NULL: no memory. nnrt_free takes the same allocator and the same
   number of bytes; block NULL is fine. */
NNRT_API void *nnrt_alloc(const nnrt_allocator *allocator, size_t bytes);
NNRT_API void nnrt_free(const nnrt_allocator *allocator, void *block, size_t bytes);

/* A two-ended arena whose exact size is known beforehand. Kept blocks grow from the front and live as long as the
   prepared model; temporary blocks grow from the back and live until nnrt_memory_drop_temp. No block is freed alone.
   The same code path runs in three modes: nnrt_memory_count counts bytes, nnrt_memory_allocate takes pieces from an
   allocator, nnrt_memory_buffer works in one buffer. A buffer of the counted peak suffices, because one walk counts
   and allocates: the code that allocates must therefore request the same sizes in the same order in every mode.
   (Rejected: a function of its own that computes the size. Two formulas drift apart.) full is sticky: after one
   request failed, every later one fails, so that a caller may check once after several requests. One thread at a
   time. */
typedef struct nnrt_memory {
    uint8_t *base, *top; /* buffer mode: kept blocks grow from base upwards, temporary ones from top downwards */
    size_t size;         /* bytes of the buffer, rounded down to NNRT_ALIGNMENT; otherwise no limit */
    size_t front, back;  /* bytes of kept and of temporary blocks, with their padding */
    size_t frontPeak, backPeak, peak; /* the largest values of front, of back, and of front + back */
    bool full, counting;              /* a request failed; count mode */
    const nnrt_allocator *allocator;
    void *pieces[2]; /* lists of pieces from the allocator: of kept blocks, of temporary blocks */
    /* takes a block from the pieces; NULL in buffer mode, so that the linker drops the allocator's code there */
    void *(*more)(struct nnrt_memory *m, size_t rounded, size_t alignment, bool temp);
} nnrt_memory;

/* Each begins a mode and initializes *m. Count mode allocates real blocks, too, because later sizes depend on the
   tables in them; only nnrt_memory_reserve does not. The caller frees them with nnrt_memory_end and reads m->peak.
   nnrt_memory_buffer: buffer is aligned to NNRT_ALIGNMENT and stays the caller's. */
NNRT_API void nnrt_memory_count(nnrt_memory *m, const nnrt_allocator *allocator);
NNRT_API void nnrt_memory_allocate(nnrt_memory *m, const nnrt_allocator *allocator);
NNRT_API void nnrt_memory_buffer(nnrt_memory *m, void *buffer, size_t bytes);
/* A zeroed block; NULL: no memory, and m->full is set. keep and temp align to 16 bytes (NNRT_FIRMWARE: 8), keep_aligned
   to NNRT_ALIGNMENT. 0 bytes count as 1. */
NNRT_API void *nnrt_memory_keep(nnrt_memory *m, size_t bytes);
NNRT_API void *nnrt_memory_keep_aligned(nnrt_memory *m, size_t bytes);
NNRT_API void *nnrt_memory_temp(nnrt_memory *m, size_t bytes);
/* A kept block for bulk data such as packed weights: *block, aligned to NNRT_ALIGNMENT and not cleared. In count mode
   *block is NULL although the result is true: the bytes are counted, and the caller must not write. false = no
   memory. */
NNRT_API bool nnrt_memory_reserve(nnrt_memory *m, size_t bytes, void **block);
/* keep and temp for an array of count elements of size bytes; NULL also if the product overflows. */
static inline void *nnrt_memory_keep_array(nnrt_memory *m, size_t count, size_t size)
{
    size_t bytes;
    return nnrt_mul_size(count, size, &bytes) ? nnrt_memory_keep(m, bytes) : NULL;
}
static inline void *nnrt_memory_temp_array(nnrt_memory *m, size_t count, size_t size)
{
    size_t bytes;
    return nnrt_mul_size(count, size, &bytes) ? nnrt_memory_temp(m, bytes) : NULL;
}
/* *out = bytes rounded up to a multiple of alignment, a power of two; false if that overflows. */
static inline bool nnrt_round_size(size_t bytes, size_t alignment, size_t *out)
{
    if (!nnrt_add_size(bytes, alignment - 1, out))
        return false;
    *out &= ~(alignment - 1);
    return true;
}
NNRT_API void nnrt_memory_drop_temp(nnrt_memory *m); /* frees all temporary blocks at once */
NNRT_API void nnrt_memory_end(nnrt_memory *m);       /* frees all blocks, kept ones too; the peaks stay readable */
/* Moves the ownership of the kept blocks to the caller, who frees them by passing the result to nnrt_memory_free with
   the same allocator. NULL: no block came from the allocator (buffer mode). Temporary blocks are freed. */
NNRT_API void *nnrt_memory_give(nnrt_memory *m);
NNRT_API void nnrt_memory_free(const nnrt_allocator *allocator, void *given);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>model */

/* A list: count elements at data, which belong to the caller; Name_make(data, count) returns one. */
#define NNRTI_LIST(Name, T)                                                                                            \
    typedef struct Name {                                                                                              \
        const T *data;                                                                                                 \
        uint32_t count;                                                                                                \
    } Name;                                                                                                            \
    static inline Name Name##_make(const T *data, uint32_t count)                                                      \
    {                                                                                                                  \
        Name list;                                                                                                     \
        list.data = data;                                                                                              \
        list.count = count;                                                                                            \
        return list;                                                                                                   \
    }
NNRTI_LIST(NNRT_Int32List, int32_t)
NNRTI_LIST(NNRT_Uint32List, uint32_t)
NNRTI_LIST(NNRT_QuantParamList, NNRT_QuantParam)

#define NNRT_NO_TENSOR 0xFFFFFFFFu /* in inputIndex and outputIndex: an optional operand that is left out */
#define NNRT_RANK_UNKNOWN (-2)     /* dims {-2}: rank and dimensions follow from the node that writes the tensor */

/* A block of memory of bufferSize bytes, whose valid data are [offset, offset + dataSize). fd: the block's
   descriptor, -1: none. addr (ours, appended): the address of the block's first byte in this process, not of the
   data; NULL: code that needs the address maps fd (>>buffers). If both are set they denote the same block. fd -1 and
   addr NULL: no data. The struct does not own the block. */
typedef struct NNRT_SharedBuffer {
    int32_t fd;
    uint32_t bufferSize, offset, dataSize; /* bytes */
    void *addr;
} NNRT_SharedBuffer;

/* The version of the memory layout of NNRT_Tensor, NNRT_Node, NNRT_SubGraph, NNRT_SharedBuffer, NNRT_IOTensor and
   nnrt_dims. These structs are elements of arrays, so they cannot carry a structSize, and they reach devices that may
   be compiled with another version of this header. Every change of one of them increments the number; a device's
   table contains the number that the device was compiled with (NNRT_HDI), and registration compares it. */
#define NNRT_LAYOUT 1

/* dims: in elements. Empty = scalar; -1 = a dynamic dimension, known when a session is created or in each run.
   Outputs of nodes may leave dataType UNKNOWN and dims {NNRT_RANK_UNKNOWN}: shape inference computes type and shape.
   A tensor with data is a constant: dense (row-major, no padding), in the byte order of the machine (little-endian),
   aligned to the element size.
   quantParams: one scale and zero point for the whole tensor (per-tensor quantization), or one for each index along
   an axis (per-axis). quantAxis (ours, appended) chooses that axis: 0 = the axis that the operator defines, the usual
   case; k > 0 = axis k - 1.
   symbols (ours, appended): the identity of dynamic dimensions. Empty, or one entry per axis: 0 for a fixed dimension
   and for a dynamic one that equals no other; otherwise a number chosen by the model. Dynamic dimensions with one
   number have equal size in every run. */
typedef struct NNRT_Tensor {
    const char *name; /* unique when not empty */
    NNRT_DataType dataType;
    NNRT_Int32List dims;
    NNRT_Format format; /* order of the axes of an image; NONE counts as NHWC */
    NNRT_SharedBuffer data;
    NNRT_QuantParamList quantParams;
    int32_t quantAxis;
    NNRT_Uint32List symbols;
} NNRT_Tensor;
NNRTI_LIST(NNRT_TensorList, NNRT_Tensor)

/* The attribute struct that nodeType implies (CONV2D_FUSION: NNRT_Conv2DFusion). size: valid bytes of the
   struct; members after them have their defaults. data NULL: all members have their defaults. */
typedef struct NNRT_NodeAttr {
    const void *data;
    uint32_t size;
} NNRT_NodeAttr;

typedef struct NNRT_Node {
    const char *name;
    NNRT_NodeType nodeType; /* below 0: an operator of the application (nnrt_op_register) */
    NNRT_NodeAttr nodeAttr;
    NNRT_Uint32List inputIndex, outputIndex; /* into Model.allTensors, in the order of the operator's row */
    NNRT_QuantType quantType;
} NNRT_Node;
NNRTI_LIST(NNRT_NodeList, NNRT_Node)

/* A graph that a node runs: a branch of an IF, the body of a LOOP. Tensors of all subgraphs are in one table. A
   subgraph may read tensors of the enclosing graphs (captured tensors). They are not listed: a captured tensor is an
   input of one of its nodes that is neither an output of its nodes nor one of inputIndices. */
typedef struct NNRT_SubGraph {
    const char *name;
    NNRT_Uint32List inputIndices, outputIndices; /* into Model.allTensors */
    NNRT_Uint32List nodeIndices;                 /* into Model.nodes */
} NNRT_SubGraph;
NNRTI_LIST(NNRT_SubGraphList, NNRT_SubGraph)

/* A model: a graph of operators in static single assignment (each tensor is an input, a constant, or written by one
   node). Nodes may be in any order; validation sorts them. The inputs and outputs of a run are in the order of
   inputIndex and outputIndex (into allTensors). subGraph[0] is the main graph. With further subgraphs, each is an
   attribute of exactly one node, nodeIndices assign every node to one subgraph, and a tensor that is defined in one
   graph may be read there and in the graphs nested in it. All pointers stay the caller's. */
typedef struct NNRT_Model {
    const char *name;
    NNRT_Uint32List inputIndex, outputIndex;
    NNRT_NodeList nodes;
    NNRT_TensorList allTensors;
    NNRT_SubGraphList subGraph;
    const struct NNRT_Model
        *self; /* appended: NULL. Its own address in a model that a builder, loader or importer made */
} NNRT_Model;

typedef struct NNRT_Extension {
    const char *name;
    const void *data;
    uint32_t size;
} NNRT_Extension;
NNRTI_LIST(NNRT_ExtensionList, NNRT_Extension)

/* 8 dimensions, whatever NNRT_MAX_RANK is: shapes pass between the program and devices that were compiled with another
   NNRT_MAX_RANK. Firmware has no such devices. */
#ifdef NNRT_FIRMWARE
#define NNRTI_DIMS NNRT_MAX_RANK
#else
#define NNRTI_DIMS 8
#endif

typedef struct nnrt_dims {
    int32_t rank;
    int32_t dims[NNRTI_DIMS];
} nnrt_dims;
NNRTI_LIST(nnrt_dims_list, nnrt_dims)

/* The upper bounds of the dimensions of the tensor with that name. most has the tensor's rank. An input: its dynamic
   dimensions (-1 in the model) stay dynamic in the prepared model, and each run may pass any size from 0 up to the
   upper bound. Upper bounds of the dimensions that follow from input shapes are derived, not specified. A result of a
   node: the upper bound of a data-dependent dimension (NON_ZERO, UNIQUE), which cannot be derived. */
typedef struct nnrt_bound {
    const char *tensor;
    nnrt_dims most;
} nnrt_bound;
NNRTI_LIST(nnrt_bound_list, nnrt_bound)

#ifndef NNRT_FIRMWARE
/* A log: receives one line per call while a model is optimized and prepared, on the thread that does so. text has no
   newline and is valid during the call. Lines of levels above `most` are not written. A run logs nothing. */
typedef int32_t nnrt_log_level;
enum {
    NNRT_LOG_WARNING, /* a deviation from the request: a device fails to prepare a node that it reported as supported */
    NNRT_LOG_INFO,    /* a line for each action */
    NNRT_LOG_DEBUG    /* a line for each node */
};
typedef struct nnrt_log {
    void (*line)(void *user, nnrt_log_level level, const char *text); /* NULL: no log */
    void *user;
    nnrt_log_level most; /* the most detailed level that is logged: levels 0 .. most */
} nnrt_log;

/* The duration of one step of a run. Strings are valid during the call. */
typedef struct nnrt_profile_step {
    const char *name;   /* of the node; "" where it has none */
    const char *op;     /* operator of the node, "CONV2D_FUSION"; of a step without a node the name of its kernel */
    const char *device; /* unique name of the device that ran the step */
    int32_t node;       /* index in Model.nodes of the model that this device prepared; -1: the step has no node */
    uint32_t depth; /* nesting depth in IF, LOOP and partitions (auto), which are reported after the steps that they
                       ran */
    uint64_t begin, duration; /* in units of the clock; of IF and LOOP with the steps of their subgraphs */
    size_t read, written; /* bytes of inputs and derived constants, and of outputs; 0 for IF and LOOP. For a
                                 partition: of its boundary tensors */
} nnrt_profile_step;

/* Writes one line to a log, at most 511 characters; log may be NULL. format: as nnrt_text. Devices may call it. */
NNRT_API void nnrt_log_line(const nnrt_log *log, nnrt_log_level level, const char *format, ...);

/* A profile: step is called for each step that succeeded, after the step, on the thread that runs the model. If several
   threads run a prepared model, both functions are called on all of them at once. Adding a member to either struct
   requires another NNRT_LAYOUT. */
typedef struct nnrt_profile {
    void (*step)(void *user, const nnrt_profile_step *step);
    uint64_t (*clock)(void *user); /* nanoseconds since an arbitrary time; monotonic */
    void *user;
} nnrt_profile;
#endif

/* A callback by which a device requests an object of the application, such as a stream or the context of a graphics
   library. Device and application agree on the meaning of event and data; the application returns 0 if it has filled
   data. A device may call it while it prepares a model and during the lifetime of a prepared model, on the threads that
   call the device. */
typedef int (*nnrt_ask)(int event, void *data);

#ifndef NNRT_FIRMWARE
/* A context that an application has opened on a device, before it has a model (nnrt_context_open). */
typedef struct nnrt_context {
    struct nnrt_device *device;
    void *opened; /* the device's own object, from OpenContext; NULL: the device has no contexts */
} nnrt_context;
#endif

/* Options of PrepareModel. All zero is the default. Pointers stay the caller's; they must be valid during the call, and
   longer where a member says so. The members after extensions are ours, appended.
   A device receives enableFloat16 (float32 may be computed in float16), mode and priority only if it supports them
   (nnrt_ability): otherwise nnrt_device_prepare and similar functions return NOT_SUPPORT. `auto` passes to each of its
   devices the options that this device supports.
   structSize: valid bytes of this struct. The caller of nnrt_device_prepare leaves it 0: all members are valid. A
   device receives the size of the program's struct, which may differ from its own; with 0 only HDI's members, up to
   extensions, are valid. A device must therefore read the struct with nnrt_config_read. */
typedef struct NNRT_ModelConfig {
    bool enableFloat16;
    NNRT_PerformanceMode mode;
    NNRT_Priority priority;
    NNRT_ExtensionList extensions; /* options of the device; unknown names are ignored */
    uint32_t structSize;
    const nnrt_allocator *allocator;
    void *buffer;             /* memory for the prepared model; must outlive it; aligned to NNRT_ALIGNMENT. Nothing else
                                 is allocated. NULL: the allocator is used */
    size_t bufferBytes;       /* at least the bytes of GetModelMemory, else OUT_OF_MEMORY */
    bool copyConstants;       /* copies the constants: the caller may free the model after PrepareModel */
    bool callerWorkspace;     /* promises that, if RunIn exists, only RunIn is called: no workspace is reserved */
    uint32_t threads;         /* number of threads that the device may use; a hint. 0 = one */
    nnrt_dims_list inputDims; /* values for dynamic dimensions (-1); empty, or one entry per input. -1 here: bounds */
    nnrt_error *error;        /* receives the message of a failure. NULL = codes only */
    uint32_t arenaAlignment;  /* of tensors in the arena: a power of two, 8 to NNRT_ALIGNMENT; 0 = NNRT_ALIGNMENT */
    const nnrt_parallel *parallel; /* thread pool for kernels; must outlive the prepared model. NULL: none */
    nnrt_bound_list bounds;        /* upper bounds of dynamic dimensions; names in any order */
    uint32_t maxTrips;             /* iterations of a LOOP after which a run returns TIME_OUT; 0 = NNRT_MAX_TRIPS */
#ifndef NNRT_FIRMWARE
    const nnrt_profile *profile; /* receives the steps of each run; must outlive the prepared model. NULL: none */
    const char *device;          /* device name in profiles: nnrt_device_prepare sets it to the device's unique name */
    const nnrt_log *log;         /* receives lines while a model is prepared. NULL: none */
    /* For `auto`; other devices ignore it: "npu0,npu1", names of the devices that may run nodes, the preferred one
       first. NULL: all devices, accelerators first. */
    const char *autoDevices;
    const struct nnrt_partition *partition; /* for `auto`; other devices ignore it. NULL: all zero */
    const struct nnrt_through *through;     /* hook of the model cache; devices do not call it, but pass it on */
    nnrt_ask ask; /* callback for requests of the device to the application; NULL: every request fails */
    /* Store of prepacked weights; devices that pack no weights ignore it. NULL: none */
    const struct nnrt_packs *packs;
    const nnrt_context *contexts; /* open contexts of any devices; a device looks up its own with nnrt_context_of. They
                                     must outlive the prepared model */
    uint32_t nContexts;
    /* Memory regions in which nnrt_plan_finish places tensors and scratch instead of one arena, the fastest first, at
       most NNRT_MAX_REGIONS (>>prepare, nnrt_region). Requires fixed shapes. nRegions 0: one arena */
    const struct nnrt_region *regions;
    uint32_t nRegions;
#endif
} NNRT_ModelConfig;

#ifndef NNRT_FIRMWARE
/* The device that `auto` assigned a node to, and the reason if it is not the preferred one. Strings are valid during
   the call. */
typedef struct nnrt_placement {
    uint32_t node;      /* index in Model.nodes; NNRT_NO_TENSOR: the report concerns no node */
    const char *device; /* unique name; "": the node was constant-folded */
    uint32_t part;      /* number of the partition; NNRT_NO_TENSOR: none, a step of the reference device */
    const char *reason; /* why the preferred device does not run the node; "": it does */
} nnrt_placement;
typedef void (*nnrt_placed)(void *user, const nnrt_placement *placement);

/* How `auto` partitions a model. keep is a text with one record per line, `op_type[:in_list[:out_list]]`: nodes of
   that operator ("ADD_FUSION") that have all the listed inputs and outputs (tensor names, separated by ',') stay on
   the reference device, in strict mode, too. Lines may end in CRLF; empty lines and lines that begin with '#' are
   ignored. */
typedef struct nnrt_partition {
    bool strict; /* preparation fails if a node is supported by the reference device only. Exempt are nodes of keep, and
                    all nodes if autoDevices lists reference */
    const char *keep;   /* NULL: no node */
    nnrt_placed placed; /* is called after the model has been prepared, once for each node, in any order, and once for
                           each record of keep that matches no node. NULL: no report */
    void *user;
    /* If a device fails in a run, its partition is computed by the next one: the later devices that support all of
       it, at last the reference device. A run allocates nothing, so each of them prepares the partition beforehand,
       in memory that GetModelMemory counts. Every run tries the preferred device first, even if it failed before.
       Without fallback the run returns the device's code; a device that then reports OFFLINE gets no partition of
       models prepared later. Not together with strict. */
    bool fallback;
    /* The cost of a node on a device (its unique name), in any unit: each node goes to the device with the lowest
       cost among the devices that support it, the reference device included unless strict excludes it; of equal costs
       the preferred device wins. For IF and LOOP the cost includes all that they run. UINT64_MAX: never there. NULL:
       the order of the devices decides. */
    uint64_t (*cost)(void *user, uint32_t node, const char *device);
    /* A partition of fewer nodes, those inside IF and LOOP included, stays on the reference device, because a
       boundary may cost more than the device saves. A model that one device supports as a whole is not affected. */
    uint32_t smallest;
} nnrt_partition;
#endif

#define NNRT_MAX_TRIPS 1000000 /* default of NNRT_ModelConfig.maxTrips */
#define NNRT_MAX_NESTING 16    /* maximum nesting depth of subgraphs */

/* An input or output of a run, dense. dimensions: the shape in this run, without -1; a dynamic dimension may differ
   from run to run. The dimensions of a dynamic output are ignored: the run stores them in outputDims. data: aligned
   to the element size; of a dynamic output, room for the result that is expected. */
typedef struct NNRT_IOTensor {
    const char *name;
    NNRT_DataType dataType;
    NNRT_Int32List dimensions;
    NNRT_Format format;
    NNRT_SharedBuffer data;
} NNRT_IOTensor;

/* Resets error to no failure; NULL is fine. The first failure wins: until then a second message does not replace it. */
NNRT_API void nnrt_error_clear(nnrt_error *error);
/* Stores the location of a failure in error->node and error->tensor (indices in the model, -1: none), if error holds
   this code and no location yet. Returns code. */
NNRT_API NNRT_ReturnCode nnrt_error_blame(nnrt_error *error, NNRT_ReturnCode code, int64_t node, int64_t tensor);

/* The subgraphs that a node runs (IF, LOOP): of the attributes k < nnrt_node_graphs(node), nnrt_node_graph returns the
   index in Model.subGraph, NNRT_NO_GRAPH if attribute k is no subgraph. */
NNRT_API uint32_t nnrt_node_graphs(const NNRT_Node *node);
NNRT_API uint32_t nnrt_node_graph(const NNRT_Node *node, uint32_t k);

/* The upper bounds of a configuration, for lookup by tensor name. order: indices sorted by name, in temporary memory;
   NULL for up to 16 bounds, which are compared one by one. */
typedef struct nnrt_bound_index {
    const nnrt_bound *data;
    uint32_t count, *order;
} nnrt_bound_index;
/* false: no memory. */
NNRT_API bool nnrt_bound_index_make(const NNRT_ModelConfig *config, nnrt_memory *memory, nnrt_bound_index *index);
/* The upper bound of the tensor of that name; NULL: it has none. */
NNRT_API const nnrt_dims *nnrt_bound_of(const nnrt_bound_index *index, const char *name);

#ifndef NNRT_FIRMWARE
/* ---------------------------------------------------------------------------------------------------------------- */
/* >>buffers */

/* *block = the address of the buffer's block, to which the caller adds buffer->offset: addr if it is set; otherwise
   fd is memory-mapped, shared, for reading or for reading and writing; NULL if fd must be mapped and dataSize is 0.
   The buffer is unchanged; its descriptor stays the caller's, who may close it before the mapping ends.
   INVALID_BUFFER: no descriptor and no address, data outside bufferSize or outside the file of fd, a descriptor that
   cannot be mapped in this mode, or a program without mmap (NNRT_MMAP 0). The file must not shrink while it is
   mapped. */
NNRT_API NNRT_ReturnCode nnrt_buffer_map(const NNRT_SharedBuffer *buffer, bool write, void **block, nnrt_error *error);
/* Ends the mapping that nnrt_buffer_map created for the same buffer; no effect if block was addr or NULL. */
NNRT_API void nnrt_buffer_unmap(const NNRT_SharedBuffer *buffer, void *block);
/* A new zeroed block of that many bytes from the system: on Linux with a descriptor (memfd_create, sealed against
   shrinking) and without an address, elsewhere with an address and without a descriptor. INVALID_PARAMETER: bytes is 0.
   OUT_OF_MEMORY. */
NNRT_API NNRT_ReturnCode nnrt_buffer_create(uint32_t bytes, NNRT_SharedBuffer *buffer);
/* Releases a block of nnrt_buffer_create: closes the descriptor, or frees the memory. Existing mappings stay valid. */
NNRT_API void nnrt_buffer_destroy(const NNRT_SharedBuffer *buffer);

/* Maps constants that have only a descriptor, for devices that read constants by address. Returns the model itself if
   it has none, else a shallow copy whose constants have addresses. Each descriptor is mapped once. A constant that
   cannot be mapped keeps addr NULL, and validation reports it. The copy is a temporary block of `memory`: it is valid
   until nnrt_memory_drop_temp. The mapped data and *mappings (a kept block) are valid until nnrt_model_unmap. NULL:
   no memory; *mappings is then passed to nnrt_model_unmap all the same. nnrt_plan_prepare calls it. */
typedef struct nnrt_mapping nnrt_mapping;
NNRT_API const NNRT_Model *nnrt_model_map(const NNRT_Model *model, nnrt_memory *memory, nnrt_mapping **mappings);
/* Unmaps all of them; called before `memory` is freed. NULL is fine. */
NNRT_API void nnrt_model_unmap(nnrt_mapping *mappings);
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>format */

/* A .nnrt file stores a model for use in place: in a memory map, flash or an array. All numbers are little-endian; a
   big-endian machine rejects files with NNRT_NOT_SUPPORT.

   Header, 64 bytes: 8 bytes magic 89 'N' 'N' 'R' 'T' 0D 0A 1A; u32 version (1 or 2); u32 bytes of the header (64); u64
   bytes of the file; u64 checksum: FNV-1a-64 over the file with these 8 bytes as zeros; u32 number of sections; u32
   bytes of a row of the section table (40); u32 1 in a cache (nnrt.h, >>cache), whose device sections enter the
   checksum by words of 8 bytes, as a checksum of all bytes takes longer than to pack weights again, else 0; zeros.
   Section table, directly after the header: a row is u32 type; u32 flags; u64 offset from the start of the file; u64
   bytes; u32 alignment, a power of two of at least 64; u32 record: bytes per record of the section; u32 name, a TEXT;
   u32 zero. Sections are sorted by offset and do not overlap. Readers skip sections of unknown type, unless flags has
   bit 0 (then they reject the file). Of a record that is longer than they know they ignore the rest; a shorter one,
   from an earlier writer, is extended with zeros. The version increases only for changes that older readers neither
   skip nor reject by flags, and is written only if a model needs it. Version 2: a tensor has a quantAxis.

   TEXT: u32, offset in "strings", whose texts end in 0; it follows a 0; offset 0 is the empty text. LIST: u32 at, u32
   count: entries from word `at` (of 4 bytes) of "lists"; entries of 8 bytes begin at even words. No two texts,
   lists or constants share bytes.

   type  section    record
   1     strings    1: the texts, one after the other; the first and the last byte are 0
   2     model      24, one: TEXT name, u32 zero, LIST of u32 inputs, LIST of u32 outputs
   3     subgraphs  32: TEXT name, u32 zero, LISTs of u32: inputs, outputs, nodes. The first is the main graph
   4     tensors    56: TEXT name, i32 dataType, i32 format, u32 flags (bit 0: constant), LIST of i32 dims, LIST of
                    quantParams (i32 numBits, i32 zeroPoint, f64 scale), u64 offset in "weights", u32 bytes, i32
                    quantAxis (version 1: zero), LIST of u32 symbols (0.1.0 had 48 bytes, without it)
   5     nodes      40: TEXT name, i32 nodeType, i32 quantType, u32 shape of the attributes, LIST of 8-byte attributes,
                    LISTs of u32: inputs, outputs. 44 if any node has an operator of the application (nnrt_op_register):
                    TEXT operator follows. Such a node has nodeType -1, and loading looks its operator up in the
                    registry by this name
   6     lists      4
   7     metadata   8: TEXT key, TEXT value. The keys are unique and not empty
   8     weights    1: constants, dense, each at a multiple of 64
   9     device     1: prepared form of the model, or of a partition; its name is the device's unique name
   10    plan       1: a finished plan for firmware, in a file without a model (devices/nnrt_mcu.h, >>program)

   A device section: u64 checksum, by words, over all bytes after these 8; u64 model: a digest of the model, or of the
   partition, with all weights (FNV-1a-64 of a .nnrt file of its own without metadata, weights by words); u64 options:
   FNV-1a-64 over the options of the preparation and the device; u32 NNRT_LAYOUT; i32 type of the device; u32 number of
   blocks; u32 flags (bit 0: the whole model, not a partition); 24 zeros; per block a row of u64 offset in the section,
   u64 bytes; the blocks, each at a multiple of 64: the result of ExportModelCache, in its order. Flags bit 1: the
   blocks are a table and the prepacked weights of a device (nnrt_packs), for the whole model as this file stores it;
   the checksum ends with the table, and the digest excludes weights: only the checksum of the file covers prepacked
   weights, as it does the weights of the model.

   An attribute is 8 bytes, in the order of the struct's description (nnrt_attr_struct): BOOL 0 or 1; INT, INT64, ENUM
   and TYPE i64; FLOAT its bits, above them zeros; DOUBLE its bits; STRING a TEXT and GRAPH u32 (0xFFFFFFFF: none),
   above them zeros; INTS and INTS64 LIST of i64; INTS2 LIST of 8-byte LISTs of i64; FLOATS LIST of f32. A file may have
   fewer than the description: the rest have their defaults. The shape is FNV-1a-32 over the attributes that the file
   has: each name with its terminating 0, and its kind (NNRT_ATTR_KIND_) as one byte. In this hash INT64 and a TYPE of 8
   bytes count as INT, a TYPE of 4 as ENUM, INTS64 as INTS: the file does not limit the range of a value.

   Metadata are for the program that uses the model. Keys with a meaning (the command line uses them):
     labels                 names of the classes, one per line (at least 2), for each output: they belong to the axis
                            whose size is the number of lines
     labels.OUTPUT          the same for the output of that name
     input.NAME.mean        how an image becomes the input of that name: value = (pixel - mean) * scale, pixel 0 to 255.
     input.NAME.scale       One number, or one per channel, separated by commas; a number may be a fraction, 1/255
     input.NAME.std         a divisor instead of scale
     input.NAME.color       rgb, bgr or gray: meaning of the channels
     input.NAME.invert      yes: 255 - pixel instead of pixel; no
     input.NAME.layout      nchw or nhwc: the order of the axes
     description, license, source   texts for people

   Extensions. Subgraphs (IF, LOOP): nodes, tensors and weights of all graphs share the same tables; an attribute GRAPH
   is the number of a record of "subgraphs". Prepared forms of devices: sections of type 9 after the portable model,
   which does not depend on them; a device that cannot use one prepares the model again. A file with such sections and
   no nodes is a cache: its tensors are the inputs and outputs of a model that is stored elsewhere. Section
   types of an application: from 0x10000 on; lower ones are reserved. Saving a model drops unknown sections, and device
   sections unless they are passed (nnrt_save_desc.cache): they may not be valid for the saved model. */
#define NNRT_FILE_VERSION 2 /* the latest; writing uses an earlier one if it suffices */
#define NNRT_FILE_HEADER 64 /* bytes that nnrt_file_is needs */

/* Loading requests from the allocator at most this factor times the bytes of the file without its weights and device
   sections, and 4 KiB; nnrt_model_load without a memory map also the bytes of the file. */
#define NNRT_FILE_FACTOR 16

typedef struct nnrt_metadata {
    const char *key, *value; /* "labels", "cat\ndog" */
} nnrt_metadata;

/* Loads the model in the file data, which is used in place: it must be aligned to NNRT_ALIGNMENT and outlive the model.
   bytes may exceed the size of the file. For any content of data the result is a model that nnrt_model_check accepts,
   or a code. All allocations come from memory and stay there; its temporary blocks are dropped. Such a model is not
   destroyed: it ends with the memory. checksum: verify it, which reads the whole file. */
NNRT_API NNRT_ReturnCode nnrt_model_load_into(NNRT_Model **model, const void *data, size_t bytes, bool checksum,
                                              nnrt_memory *memory, nnrt_error *error);
/* True when data, of at least NNRT_FILE_HEADER bytes, begins like a .nnrt file. */
NNRT_API bool nnrt_file_is(const void *data, size_t bytes);

#ifndef NNRT_FIRMWARE
/* The kind of a file that is not a .nnrt file, by its first bytes: "a PNG image"; NULL: unknown. */
NNRT_API const char *nnrt_file_guess(const void *data, size_t bytes);

/* All zero is the default. */
typedef struct nnrt_save_desc {
    const nnrt_allocator *allocator; /* for checking the model */
    const nnrt_metadata *metadata;   /* keys are unique and not empty; metadata of a loaded model are not copied */
    uint32_t metadataCount;
    void (*progress)(void *user, uint64_t done, uint64_t total); /* bytes */
    void *user;
    const struct nnrt_cache *cache; /* prepared forms of devices (nnrt.h), saved as device sections. NULL: none */
} nnrt_save_desc;

/* All zero is the default. */
typedef struct nnrt_load_desc {
    const nnrt_allocator *allocator; /* NULL = malloc */
    bool checksum; /* verify the checksum: reads the whole file. All else is validated always, without the weights */
    bool noMap;    /* nnrt_model_load reads the file into memory: the file may then change while the model exists */
    bool cache;    /* the file may be a cache, whose checksum is verified: its model has no nodes, and sessions
                      use the form that the device stored in the file, or fail */
    bool strangers; /* keep nodes of operators that are not registered (nnrt_op_register), without attributes: to ask
                       devices which nodes they support; all other functions reject such a model */
} nnrt_load_desc;

/* Writes a checked model. out NULL: only sets *bytes, the required size; a smaller out returns INSUFFICIENT_BUFFER. */
NNRT_API NNRT_ReturnCode nnrt_model_save_memory(const NNRT_Model *model, const nnrt_save_desc *desc, void *out,
                                                size_t size, size_t *bytes, nnrt_error *error);
/* nnrt_model_load_into, with one block from the allocator. */
NNRT_API NNRT_ReturnCode nnrt_model_load_memory(NNRT_Model **model, const void *data, size_t bytes,
                                                const nnrt_load_desc *desc, nnrt_error *error);
/* Frees a model that a builder, a loader or an importer made. NULL, and a model that the application assembled itself,
   are left unchanged. */
NNRT_API void nnrt_model_destroy(NNRT_Model *model);
/* Passes a block that the model's constants point into (the bytes of a file) to the model, which frees it through its
   allocator (nnrt_alloc). A model stores up to four blocks; for more the function returns OUT_OF_MEMORY, and the
   block stays the caller's. */
NNRT_API NNRT_ReturnCode nnrt_model_attach(NNRT_Model *model, void *block, size_t bytes);
/* For models that a loader, an importer or a builder made; an optimized model keeps the metadata of the loaded one.
   The value of a key, NULL if it does not exist; all entries by index, {NULL, NULL} after the last. */
NNRT_API const char *nnrt_model_metadata(const NNRT_Model *model, const char *key);
NNRT_API nnrt_metadata nnrt_model_metadata_at(const NNRT_Model *model, uint32_t index);

typedef struct nnrt_file_section {
    uint32_t type, alignment;
    const char *kind; /* "weights"; "unknown" */
    const char *name; /* mostly "" */
    const void *data;
    size_t offset, bytes;
} nnrt_file_section;
/* Section `index` of the file that the model was loaded from; false after the last one. */
NNRT_API bool nnrt_model_section(const NNRT_Model *model, uint32_t index, nnrt_file_section *section);
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
    /* Required with RunIn: bytes of a workspace. Absent = sessions and auto call
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
/* Calls Destroy and removes the device. name: as of nnrt_device_find. DEVICE_BUSY: prepared models, contexts or
   buffers of the device exist; OPERATION_FORBIDDEN: auto and reference; INVALID_PARAMETER: no such device. */
NNRT_API NNRT_ReturnCode nnrt_device_unregister(const char *name);
NNRT_API uint32_t nnrt_device_count(void);
NNRT_API nnrt_device *nnrt_device_at(uint32_t index);     /* in the order of registration; NULL after the last */
/* The device with that unique name, else the first registered one with that device name; NULL: none. */
NNRT_API nnrt_device *nnrt_device_find(const char *name);
/* The device that a session of model runs on. name: of a device; "auto:NAME,NAME,...": auto over these (the caller
   passes the names on in autoDevices); NULL: auto. Without devices/nnrt_auto.h in the program, NULL selects the first
   registered device that supports every node, else reference, and "auto:..." returns NULL. model NULL: every device
   counts as supporting every node. */
NNRT_API nnrt_device *nnrt_device_choose(const char *name, const NNRT_Model *model, const NNRT_ModelConfig *config);
/* Name, unique name and vendor (valid as long as the handle), type, and status as the device reports it now. For device
   NULL: "", OTHER, UNKNOWN. */
NNRT_API const char *nnrt_device_name(const nnrt_device *device);        /* "reference" */
NNRT_API const char *nnrt_device_unique_name(const nnrt_device *device); /* "reference_nnrt_v2_0" */
NNRT_API const char *nnrt_device_vendor(const nnrt_device *device);
NNRT_API NNRT_DeviceType nnrt_device_type(const nnrt_device *device);
NNRT_API NNRT_DeviceStatus nnrt_device_status(const nnrt_device *device);
/* nnrt_device_type with the code of GetDeviceType; if that fails, *type is OTHER. */
NNRT_API NNRT_ReturnCode nnrt_device_ask_type(const nnrt_device *device, NNRT_DeviceType *type);

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
NNRT_API bool nnrt_device_can(const nnrt_device *device, nnrt_ability ability);
/* nnrt_device_can with the code of the method; if that fails, *can is false. */
NNRT_API NNRT_ReturnCode nnrt_device_ask(const nnrt_device *device, nnrt_ability ability, bool *can);

/* Calls through the table. A method that the device does not implement yields NOT_SUPPORT, unless its slot's comment
   defines a default. config may be NULL = defaults. *prepared is NULL on failure; the caller releases a prepared model
   with nnrt_device_release. config->error receives the message. NOT_SUPPORT also: the device does not support an option
   of config (enableFloat16, mode, priority, bounds).
   nnrt_device_supported: isSupported[count], count = model->nodes.count. */
NNRT_API NNRT_ReturnCode nnrt_device_supported(nnrt_device *device, const NNRT_Model *model, bool *isSupported,
                                               uint32_t count);
/* The same for a configuration. reason, if not NULL, is called for each unsupported node (GetSupportedNodes). */
NNRT_API NNRT_ReturnCode nnrt_device_explain(nnrt_device *device, const NNRT_Model *model,
                                             const NNRT_ModelConfig *config, bool *isSupported, uint32_t count,
                                             nnrt_reason reason, void *user);
NNRT_API NNRT_ReturnCode nnrt_device_prepare(nnrt_device *device, const NNRT_Model *model,
                                             const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared);
/* prepare_cache: from the blocks that a prepared model of this device exported (ExportModelCache), in that order.
   prepare_offline: from a model in the device's own format. The blocks stay the caller's. */
NNRT_API NNRT_ReturnCode nnrt_device_prepare_cache(nnrt_device *device, const NNRT_SharedBuffer *cache, uint32_t count,
                                                   const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared);
NNRT_API NNRT_ReturnCode nnrt_device_prepare_offline(nnrt_device *device, const NNRT_SharedBuffer *models,
                                                     uint32_t count, const NNRT_ModelConfig *config,
                                                     NNRT_PreparedModel **prepared);
NNRT_API NNRT_ReturnCode nnrt_device_model_memory(nnrt_device *device, const NNRT_Model *model,
                                                  const NNRT_ModelConfig *config, size_t *bytes);
/* AllocateBuffer and ReleaseBuffer: a block of length bytes that device and program both access, with a descriptor,
   an address, or both (nnrt_buffer_map yields the address). device NULL, or one without these methods: a block of the
   system (nnrt_buffer_create). INVALID_PARAMETER: length is 0. DEVICE_ERROR: the device returned an invalid block,
   which has been released. The caller frees each block once, with the same device, before the device is unregistered.
   INVALID_BUFFER: the buffer has neither descriptor nor address. */
NNRT_API NNRT_ReturnCode nnrt_device_allocate(nnrt_device *device, uint32_t length, NNRT_SharedBuffer *buffer);
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
   properties and ask may be NULL. Sessions and prepared models that use the context (NNRT_ModelConfig.contexts) must be
   destroyed before it is closed. An open context keeps its device from being unregistered. close: NULL is fine. */
NNRT_API NNRT_ReturnCode nnrt_context_open(nnrt_context *context, nnrt_device *device, const char *properties,
                                           nnrt_ask ask, nnrt_error *error);
NNRT_API void nnrt_context_close(nnrt_context *context);
/* For a prepare method of a device: the object that its own OpenContext returned, from config->contexts. self: the
   device's. NULL: the caller passed no context of this device. */
NNRT_API void *nnrt_context_of(const NNRT_ModelConfig *config, const void *self);
/* Destroys a prepared model; device: the one that prepared it. No run of it may be in progress. NULL is fine. */
NNRT_API void nnrt_device_release(nnrt_device *device, NNRT_PreparedModel *prepared);
/* Runs a prepared model: RunIn if it exists and workspace is not NULL, else Run, else RunV1, with their contracts and
   threads (>>tables). bytes: of workspace, at least GetWorkspaceSize. outputDims[nOut] and error may be NULL. */
NNRT_API NNRT_ReturnCode nnrt_prepared_run(NNRT_PreparedModel *prepared, void *workspace, size_t bytes,
                                           const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                           uint32_t nOut, nnrt_dims *outputDims, nnrt_error *error);
/* The same with cancellation: returns CANCELLED if stop->asked returns true before the run or, if the device has
   RunUntil, between two steps; outputs are then undefined. stop NULL: no cancellation. */
NNRT_API NNRT_ReturnCode nnrt_prepared_run_until(NNRT_PreparedModel *prepared, void *workspace, size_t bytes,
                                                 const NNRT_IOTensor *inputs, uint32_t nIn,
                                                 const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                                                 const nnrt_stop *stop, nnrt_error *error);

#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>prepare */

/* Validation of all properties of a model that do not depend on shapes: indices, producers, cycles, names, types,
   constant buffers, operators. Nothing in the model is trusted before. *order, if order is not NULL, is a topological
   order in temporary memory, nodes.count + subGraph.count + 1 numbers (NNRT_FIRMWARE: the nodes only): the indices of
   all nodes, producers before consumers, the main graph before each subgraph; then for each graph g the position of
   its first node (order[nodes.count + g]); then the number of nodes. The code names the violated rule
   (INVALID_TENSOR, INVALID_NODE ...), error the place. */
NNRT_API NNRT_ReturnCode nnrt_model_check(const NNRT_Model *model, nnrt_memory *memory, uint32_t **order,
                                          nnrt_error *error);
/* Validation for applications: nnrt_model_check, then shape inference with config (NULL = defaults). NNRT_SUCCESS: the
   reference device would prepare the model. Memory comes from config->allocator and is freed. */
NNRT_API NNRT_ReturnCode nnrt_model_validate(const NNRT_Model *model, const NNRT_ModelConfig *config,
                                             nnrt_error *error);

/* Shape inference with constant folding: stores type and shape of every tensor in tensors[model->allTensors.count];
   dynamic dimensions have their upper bounds, and symbols that identify them. Small results that are known before the
   run, such as shape arithmetic (SHAPE -> GATHER -> CONCAT), are computed, and their operands have data.
   nnrt_model_check runs first. Shapes and values are in `memory`, in kept and temporary blocks.
   visit, if not NULL, is called for every node after its resolution, producers first; a code other than SUCCESS ends
   the inference. folded: all results of the node are known, so that no step is needed. resolved is valid during the
   call. A control-flow node (IF, LOOP) is visited once for each of its parts (resolved->part), with the nodes of
   its subgraphs between them. Part UNDO: the visitor discards everything since the BEGIN of that node, whose body is
   inferred again. */
typedef NNRT_ReturnCode (*nnrt_visit)(void *user, uint32_t node, nnrt_resolve *resolved, bool folded);
NNRT_API NNRT_ReturnCode nnrt_model_infer(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_memory *memory,
                                          nnrt_operand *tensors, nnrt_visit visit, void *user);

/* One block of the arena. The caller stores bytes and the live range, the steps first <= last (both inclusive, any
   int32_t) between which the block holds data; nnrt_plan_arena stores offset, in bytes from the arena's begin. */
typedef struct nnrt_plan_block {
    size_t bytes;
    int32_t first, last;
    size_t offset;
} nnrt_plan_block;

/* Scratch bytes that nnrt_plan_arena needs for count blocks: at most 60 for each of up to 1,024, at most 116 for each of
 * more, 0 for none. SIZE_MAX, which no allocator can give, where the number does not fit size_t. */
NNRT_API size_t nnrt_plan_scratch(uint32_t count);

/* Gives every block an offset so that two blocks that are live at the same step share no byte, and keeps the arena
 * small.
 * Offsets are multiples of alignment (a power of two) and every size is rounded up to it; a block of 0 bytes has offset
 * 0. scratch is aligned to 8 bytes and has nnrt_plan_scratch(count) bytes; it may be freed after the call, and nothing
 * else is allocated. *arenaBytes is the size of the arena; *lowerBound (may be NULL) is the largest sum of rounded
 * sizes live at one step, a lower bound of any arena. Deterministic: the same blocks in the same order yield the same
 * plan on every platform.
 * Time: ranking and the first plan of more than 1,024 blocks take a multiple of count log count elementary steps.
 * Improving it ends at the lower bound, after NNRTI_PLAN_TRIALS changes, or after NNRTI_PLAN_WORK + 4 m^2 + 256 (count - m)
 * steps, m = min(count, 1024). On a desktop core a step is about 2 ns: 1,000 blocks plan in 40 ms at most, 100,000 in
 * 0.3 s.
 * Returns NNRT_NULL_PTR for a missing array, scratch or arenaBytes, NNRT_INVALID_PARAMETER for a bad alignment,
 * misaligned scratch or last < first, NNRT_OUT_OF_MEMORY where the arena does not fit size_t. On failure *arenaBytes,
 * *lowerBound and all offsets are 0. */
NNRT_API NNRT_ReturnCode nnrt_plan_arena(nnrt_plan_block *blocks, uint32_t count, size_t alignment, void *scratch,
                                         size_t *arenaBytes, size_t *lowerBound);

/* Memory regions, such as the tightly coupled memory and the SRAM of a microcontroller (NNRT_ModelConfig.regions, nnrt
   emit-c --region). If all blocks fit the first region, the plan is that of one arena. Otherwise the blocks with the
   most bytes read and written per byte of their size fill the first region, scratch before tensors; the rest goes to
   the next region, at last to the last one. nnrt_plan_finish returns OUT_OF_MEMORY if the last one is too small.
   An offset in the arena then has the number of its region in its highest bits (NNRT_REGION). The arena of a run is the
   first region; it begins with the addresses of the others, NNRT_REGION_ADDRESS bytes each, as void * at the indices
   0, 1, ..: the caller stores them once, and steps do not change them. The executor of such a plan must be compiled
   with NNRT_REGIONS; nnrt_plan_run refuses the plan. */
#define NNRT_MAX_REGIONS 8
#define NNRT_REGION_ADDRESS 8
#define NNRT_REGION(number) ((size_t)(number) << (sizeof(size_t) * 8 - 3))
#ifndef NNRT_FIRMWARE
typedef struct nnrt_region {
    const char *name; /* for messages */
    size_t bytes;     /* below NNRT_REGION(1) */
} nnrt_region;
#endif

/* The plan: the steps of a prepared model as immutable data. A device may run it with nnrt_plan_run, or read it and run
   it itself. Each operand has a place kind and an offset, from which its address in a run follows: constants have fixed
   addresses, intermediate results are in the arena, model inputs and outputs are in the caller's buffers (no copy). */
typedef int32_t nnrt_place_kind;
enum {
    NNRT_PLACE_NONE,     /* absent optional operand */
    NNRT_PLACE_CONSTANT, /* at view.data: a constant of the model, or constant-folded */
    NNRT_PLACE_DERIVED,  /* at view.data: a derived constant, which belongs to the plan */
    NNRT_PLACE_ARENA,    /* `offset` bytes into the arena */
    NNRT_PLACE_INPUT,    /* model input number `offset`, in the caller's buffer */
    NNRT_PLACE_OUTPUT,   /* model output number `offset` - nInputs, in the caller's buffer: one list of addresses holds
                            all inputs, then all outputs */
    NNRT_PLACE_CARRIED   /* only in plans that IF and LOOP run, whose list is the table of nnrt_plan_graphs: a
                            loop-carried value, at address number `offset`. Double buffering: after each iteration of
                            a LOOP the addresses of a value and of its next value, both in the arena, are exchanged */
};

/* An operand of a step. */
typedef struct nnrt_plan_arg {
    nnrt_view view; /* type, shape, strides. data: of a constant; otherwise set when the step runs */
    nnrt_place_kind kind;
    size_t offset;   /* bytes in the arena (of several regions: NNRT_REGION), or a number: see kind */
    uint32_t tensor; /* index in Model.allTensors; NNRT_NO_TENSOR: a derived constant, or absent */
} nnrt_plan_arg;

/* One call of a kernel. */
typedef struct nnrt_plan_step {
    nnrt_kernel kernel;
    const char *kernelName; /* of the kernel's row: "nnrt_conv2d_fusion_f32" */
    const void *attr;       /* resolved attributes */
    const nnrt_op *op;      /* NULL if the plan is compiled-in data (nnrt emit-c), or a device added the step */
    const char *name;       /* of the node */
    int32_t node;           /* index in Model.nodes; -1: a copy to an output, or a step that a device added */
    uint32_t arg;           /* args[arg ..): nIn inputs, nDerived derived constants, nOut outputs */
    uint32_t nIn, nDerived, nOut;
    size_t scratch, scratchBytes; /* offset of the scratch in the arena, bytes of each worker; 0 bytes: no scratch */
#ifndef NNRT_FIRMWARE
    const nnrt_attr_struct *deviceAttr; /* as in nnrt_draft_step */
#endif
} nnrt_plan_step;

/* An input or output of the model. Dynamic dimensions, and bytes, are upper bounds. */
typedef struct nnrt_plan_io {
    const char *name;
    NNRT_DataType dataType;
    NNRT_Format format;
    nnrt_dims shape;
    size_t bytes;
} nnrt_plan_io;

typedef struct nnrt_plan {
    const nnrt_plan_step *steps; /* in execution order */
    const nnrt_plan_arg *args;
    const nnrt_plan_io *inputs, *outputs;
    uint32_t nSteps, nArgs, nInputs, nOutputs;
    uint32_t maxArgs;              /* the largest number of arguments of a step, derived constants included */
    size_t arenaBytes, arenaBound; /* size of the arena, and its lower bound (nnrt_plan_arena) */
    size_t constantBytes;          /* of constants that the steps read */
    size_t derivedBytes;           /* of derived constants */
    const nnrt_parallel *parallel; /* NULL: steps run on the calling thread */
    const struct nnrti_open_plan *open; /* NULL: no dynamic shapes. Otherwise views have the upper bounds, and only
                                           nnrt_plan_run runs the plan */
#ifndef NNRT_FIRMWARE
    const struct nnrti_profile *profile; /* NULL: none */
    const size_t *regionBytes;           /* per region of the configuration: bytes in use; arenaBytes are the first */
    uint32_t nRegions; /* 0: the configuration has no regions; 1: the first one has all; else their number */
#endif
} nnrt_plan;

/* The last members of a plan, and of a step, that nnrt emit-c wrote. */
#ifdef NNRT_FIRMWARE
#define NNRTI_PLAN_REST
#define NNRTI_STEP_REST
#else
#define NNRTI_PLAN_REST , NULL, NULL, 0
#define NNRTI_STEP_REST , NULL
#endif

/* A plan is made in three phases. A device calls the first, improves the draft, and calls the last.

       nnrt_plan_draft    checks the model, resolves every node, folds constants
       the device's edits kernels, operator fusion, prepacked weights, layouts
       nnrt_plan_finish   dead-code elimination, in-place results, liveness, arena offsets

   The contract of an edit. It may change:
       a step's kernel, kernelName, attr, scratchBytes and flags, which then describe the new kernel
       the list of its arguments (nnrt_draft_args); every input must be written by an earlier step
       derived constants of a step (nnrt_draft_derive): prepacked weights, tables
       steps: remove them (kernel = NULL), add new ones (nnrt_draft_insert)
       tensors between steps: add new ones (nnrt_draft_tensor); increase bytes[] of a tensor if another layout needs
       more, together with the views of all arguments that refer to it
   A step with dynamic shapes (open != NULL) is resolved again in every run. Its kernel and attr may be replaced and
   derived constants added; its arguments must stay, and it must not be removed. An edit must not change the model, the
   operands of the model's inputs and outputs, or constants.
   nnrt_plan_finish checks the edited draft and returns DEVICE_ERROR if a run would access invalid memory: a tensor that
   does not exist, is read before it is written, is written twice, or is smaller than a view of it (NNRT_FIRMWARE omits
   the check).
   Memory: the plan stores the addresses of attr, kernelName and name, so they must be constants of the program,
   belong to the model, or come from nnrt_memory_keep(draft->memory). The draft itself is temporary memory. An edit
   runs twice if bytes are counted first: it must be deterministic, and allocate from draft->memory only.

   Example: a convolution with prepacked weights (examples/device/device.h is a whole device of this kind). The
   arguments of CONV2D_FUSION are x[N,H,W,C], weight[O,kh,kw,c], bias[O] (or absent) and y[N,P,Q,O]. my_conv gets x,
   bias, packed[kh,kw,c,O] and y: derived constants are between inputs and outputs. my_conv_supports tests group and
   format.

       static NNRT_ReturnCode edit(void *user, nnrt_draft *draft)
       {
           for (uint32_t i = 0; i < draft->nSteps; i++) {
               nnrt_draft_step *s = &draft->steps[i];
               const nnrt_plan_arg *old = s->args;
               const nnrt_view *w = &old[1].view;
               void *packed;
               NNRT_ReturnCode code;
               if (s->open != NULL || s->op->type != NNRT_NODE_TYPE_CONV2D_FUSION || !my_conv_supports(s) ||
                   w->dataType != NNRT_DATA_TYPE_FLOAT32 || old[1].kind != NNRT_PLACE_CONSTANT)
                   continue;                                     // keeps the reference kernel
               const int32_t dims[4] = {w->dims[1], w->dims[2], w->dims[3], w->dims[0]};
               if (nnrt_draft_args(draft, i, 2, 1) == NULL)      // a new list of 2 inputs, 1 output; old stays valid
                   return NNRT_OUT_OF_MEMORY;
               s->args[0] = old[0];
               s->args[1] = old[2];
               s->args[2] = old[3];
               code = nnrt_draft_derive(draft, i, NNRT_DATA_TYPE_FLOAT32, 4, dims, &packed);
               if (code != NNRT_SUCCESS)                         // packed is now args[2], y is args[3]
                   return code;
               if (packed != NULL)                               // NULL: bytes are counted, nothing is stored
                   my_pack(w, (float *)packed);
               s->kernel = my_conv;
               s->kernelName = "my_conv";
               s->scratchBytes = 0;
               s->flags = 0;                                     // y must not share memory with x (no INPLACE)
           }
           return NNRT_SUCCESS;
       } */
/* Flag of a draft step: output 0 may take over the storage of input 0 whatever its shape and size. The kernel reads
   every element of the input before it overwrites it, given that both begin at the same address. */
#define NNRT_STEP_OVERLAP 0x80000000u
typedef struct nnrt_draft_step {
    nnrt_kernel kernel; /* NULL: the step is removed */
    const char *kernelName;
    const void *attr;
    const nnrt_op *op; /* of the node; NULL for a step that a device added */
    const char *name;
    int32_t node;
    uint32_t flags; /* NNRT_OP_INPLACE, _ALIAS, _EFFECT, NNRT_STEP_OVERLAP, as the kernel supports them */
    nnrt_plan_arg
        *args; /* nIn inputs, nDerived derived constants, nOut outputs. The edit sets tensor, view, and kind if it is
                            CONSTANT or DERIVED; nnrt_plan_finish sets the other kinds, and offset to the final place.
                            Until then offset is the distance in bytes of the view from the beginning of its tensor.
                            Several steps of one subgraph may write slices of one tensor, if they do not overlap and
                            cover all of it */
    uint32_t nIn, nDerived, nOut;
    size_t scratchBytes;          /* of each worker */
    struct nnrti_open_step *open; /* NULL: a static step. Otherwise dynamic, or a part of an IF or LOOP */
#ifndef NNRT_FIRMWARE
    /* The description of attr, for a kernel of the device that nnrt emit-c can write: kernel K, named by kernelName,
       and an inline function K_inline with the same parameters, but attr typed, both in a header that the target
       includes. NULL: a reference kernel, whose attr is the operator's struct, or a kernel of this machine only. */
    const nnrt_attr_struct *deviceAttr;
#endif
} nnrt_draft_step;

typedef struct nnrt_draft {
    const NNRT_Model *model;
    const NNRT_ModelConfig *config;
    nnrt_memory *memory;
    nnrt_operand *tensors; /* tensors of the model, then new ones of the device: types, shapes, known values */
    size_t *bytes;         /* size of each tensor; dynamic shapes count with their upper bounds */
    uint32_t nTensors;
    nnrt_draft_step *steps; /* in execution order */
    uint32_t nSteps;
    uint32_t workers;                /* largest number of threads over which a kernel's work is split, 1 or more */
    uint32_t roomTensors, roomSteps; /* capacity of the arrays */
    size_t openRoom;                 /* largest number of bytes that a shape rule needs in a run */
    struct nnrti_open_step *control; /* during nnrt_plan_draft: the innermost IF or LOOP that is not yet complete */
#ifndef NNRT_FIRMWARE
    struct nnrti_packing *packing; /* of nnrt_plan_prepare_packed; NULL: weights are neither exported nor reused */
    struct nnrti_uses *uses;       /* of nnrt_draft_index; NULL: there are no def-use lists */
    uint32_t *given; /* per tensor of the model: the number of the subgraph input that it is; NULL: no subgraphs */
#endif
} nnrt_draft;

/* The first and the last phase. *draft is in temporary memory of `memory`, the plan in kept memory.
   config must be complete (nnrt_config_read) and valid until nnrt_plan_finish returns; constants must
   outlive the plan unless copyConstants is set. On failure *draft or *plan is NULL, and the caller ends the memory. A
   draft can be finished once. */

NNRT_API NNRT_ReturnCode nnrt_plan_draft(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_memory *memory,
                                         nnrt_draft **draft);
NNRT_API NNRT_ReturnCode nnrt_plan_finish(nnrt_draft *draft, nnrt_plan **plan);
#ifndef NNRT_FIRMWARE
/* PrepareModel and GetModelMemory of a device whose prepared models are plans: the three phases, in the memory of
   config; both run the same code, the second counts its bytes. edit NULL: the reference kernels. If edit returns
   another code than SUCCESS, preparation ends with it. user is passed to edit. */
typedef NNRT_ReturnCode (*nnrt_edit)(void *user, nnrt_draft *draft);
NNRT_API NNRT_ReturnCode nnrt_plan_prepare(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_edit edit,
                                           void *user, NNRT_PreparedModel **prepared);
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
/* Fills a table with the functions of such a model. A device may replace slots; its own Destroy and GetMemory must call
   the functions that they replace. */
NNRT_API void nnrt_plan_model_table(NNRT_PreparedModelVtbl *table);
/* Finishes the draft, drops temporary memory, and reserves the model's own workspace, unless
   ModelConfig.callerWorkspace is set and runIn is true (the device's table has RunIn). */
NNRT_API NNRT_ReturnCode nnrt_plan_model_finish(nnrt_plan_model *model, nnrt_draft *draft, bool runIn);
/* The last phase, which cannot fail: moves the ownership of `memory` to the model, whose Destroy frees it. */
NNRT_API void nnrt_plan_model_keep(nnrt_plan_model *model, const NNRT_ModelConfig *config, nnrt_memory *memory);
/* The plan of such a model; NULL: prepared is another kind of model. */
NNRT_API const nnrt_plan *nnrt_prepared_plan(const NNRT_PreparedModel *prepared);
/* GetSupportedNodes of such a device, for edits that reject no node; with config and reason NULL,
   GetSupportedOperation. A node is supported if shape inference resolves it, as in nnrt_plan_prepare, to a kernel of
   the reference device. INVALID_PARAMETER: count is not the number of nodes. */
NNRT_API NNRT_ReturnCode nnrt_plan_supported(const NNRT_Model *model, const NNRT_ModelConfig *config,
                                             bool *isSupported, uint32_t count, nnrt_reason reason, void *user);

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
/* nnrt_plan_prepare for an edit that packs weights with nnrt_draft_pack. If config->packs has weights with this key,
   they are used instead of packed again. key: a string of everything that the packed bytes depend on besides model
   and configuration, such as the instruction set (ISA) that they are packed for and its own version. */
NNRT_API NNRT_ReturnCode nnrt_plan_prepare_packed(const NNRT_Model *model, const NNRT_ModelConfig *config,
                                                  nnrt_edit edit, void *user, const char *key,
                                                  NNRT_PreparedModel **prepared);
/* PrepareModelFromModelCache of such a device, from the three blocks that it exported (packs.whole), which are copied.
   NOT_SUPPORT: config has a buffer. INVALID_MODEL_CACHE: the blocks are damaged, or of another key or
   configuration. The bytes of the weights are not checked: the store must keep a checksum of the blocks. */
NNRT_API NNRT_ReturnCode nnrt_plan_restore_packed(const NNRT_SharedBuffer *cache, uint32_t count,
                                                  const NNRT_ModelConfig *config, nnrt_edit edit, void *user,
                                                  const char *key, NNRT_PreparedModel **prepared);
/* nnrt_draft_derive for weights that are packed from constants of the model. *data is NULL also if prepacked weights
   are reused, so that nothing must be stored. The kernel must not use the elements as indices or sizes of memory
   accesses: they may come from a damaged file. */
NNRT_API NNRT_ReturnCode nnrt_draft_pack(nnrt_draft *draft, uint32_t step, NNRT_DataType type, int32_t rank,
                                         const int32_t *dims, void **data);
/* Stores a number that the edit computes from constants (such as the largest weight) together with the packed
   weights, as constants may be absent when prepacked weights are reused. nnrt_draft_recall: true = *number is the
   stored value; false = the edit computes the number and passes it to nnrt_draft_note; a code other than SUCCESS ends
   the edit. Numbers are recalled in the order in which they were noted. No memory access may depend on the number. */
NNRT_API bool nnrt_draft_recall(nnrt_draft *draft, int64_t *number);
NNRT_API NNRT_ReturnCode nnrt_draft_note(nnrt_draft *draft, int64_t number);
/* Whether prepacked weights are reused: the edit must not write them. */
NNRT_API bool nnrt_draft_packed(const nnrt_draft *draft);
#endif
/* The first and the last phase, without edits. Everything that the plan points to is in kept memory or in the model. */
NNRT_API NNRT_ReturnCode nnrt_plan_build(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_memory *memory,
                                         nnrt_plan **plan);

/* nnrt_draft_writer: the number of the step that writes tensor; UINT32_MAX: no step, or several, which write slices
   of it. nnrt_draft_readers: the number of arguments of steps and outputs of the model that read tensor. Without
   def-use lists (nnrt_draft_index) each call searches all steps. NNRT_NO_TENSOR has no writer and no readers. */
NNRT_API uint32_t nnrt_draft_writer(const nnrt_draft *draft, uint32_t tensor);
NNRT_API uint32_t nnrt_draft_readers(const nnrt_draft *draft, uint32_t tensor);
#ifndef NNRT_FIRMWARE
/* The number of the step that alone reads tensor; UINT32_MAX: no step or several arguments read it, or it is an
   output of the model. An operator can be fused into the step that writes tensor only if there is a single reader. */
NNRT_API uint32_t nnrt_draft_reader(const nnrt_draft *draft, uint32_t tensor);
/* Iterates over the arguments that read a tensor:
       nnrt_draft_use use = nnrt_draft_uses(draft, tensor);
       while (nnrt_draft_next(draft, &use)) ... use.step, use.argument
   After the edit changes one of these arguments, the iteration is invalid and must be started again. */
typedef struct nnrt_draft_use {
    uint32_t tensor, step, argument, next;
} nnrt_draft_use;
NNRT_API nnrt_draft_use nnrt_draft_uses(const nnrt_draft *draft, uint32_t tensor);
NNRT_API bool nnrt_draft_next(const nnrt_draft *draft, nnrt_draft_use *use);
/* Builds def-use lists of the draft, so that the time of the functions above depends on the number of uses found, not
   on the number of steps. While the lists exist, the edit must call nnrt_draft_changed after it changes an argument
   in place (argument: its number), and with NNRT_DRAFT_STEP after it changes several arguments or their number, or
   restores a removed step. A list of nnrt_draft_args must be filled before the next call of a function above.
   nnrt_plan_finish returns DEVICE_ERROR if the lists do not match the steps. nnrt_draft_insert discards the lists.
   false: no memory. */
#define NNRT_DRAFT_STEP 0xFFFFFFFFu
NNRT_API bool nnrt_draft_index(nnrt_draft *draft);
NNRT_API bool nnrt_draft_changed(nnrt_draft *draft, uint32_t step, uint32_t argument);
#endif
/* *arg = the whole of tensor, dense, in the model's order of axes; kind CONSTANT if its value is known before the
   run. */
NNRT_API void nnrt_draft_arg(const nnrt_draft *draft, uint32_t tensor, nnrt_plan_arg *arg);
/* Whether the elements of tensor are known before the run: it is a constant, or shape arithmetic folded it. */
NNRT_API bool nnrt_draft_known(const nnrt_draft *draft, uint32_t tensor);
#ifndef NNRT_FIRMWARE
/* The last step of the unit that begins with `step`. An IF or LOOP with the steps of its subgraphs is one unit; every
   other step is a unit of its own. */
NNRT_API uint32_t nnrt_draft_unit_end(const nnrt_draft *draft, uint32_t step);
/* Whether a step has a dynamic dimension, or is resolved in each run with values that the run computes. */
NNRT_API bool nnrt_draft_is_dynamic(const nnrt_draft *draft, uint32_t step);
/* Whether the reference kernel of a static step works with any strides of its views. */
NNRT_API bool nnrt_draft_is_layout_agnostic(const nnrt_draft_step *step);
/* Gives v, which shows all elements of `whole`, the strides of `part`, the same elements inside another tensor: the
   writer of an input of CONCAT then writes its slice of the result. false: an axis of v is not an axis of whole. */
NNRT_API bool nnrt_view_in_slice(nnrt_view *v, const nnrt_view *whole, const nnrt_view *part);
/* Layout propagation: stores 4-D tensors that the model declares channels first (NCHW) channels last (NHWC), from the
   first step on that prefers it. Only strides of views change. A tensor changes if all steps that use it allow it; a
   tensor has one layout for all its readers. Inputs, outputs and constants of the model keep theirs. An edit calls it
   before it selects kernels and inserts steps. OUT_OF_MEMORY. */
typedef bool (*nnrt_draft_test)(void *user, const nnrt_draft_step *step);
NNRT_API NNRT_ReturnCode nnrt_draft_channels_last(nnrt_draft *draft, nnrt_draft_test prefers, nnrt_draft_test allows,
                                                  void *user);
/* Turns a new step, whose nIn and nOut are set, into one with dynamic shapes: in each run the views of its inputs
   have the actual dimensions, and its kernel stores the actual dimensions of the outputs in their views, at most the
   upper bounds for which the arena has room. false: no memory. */
NNRT_API bool nnrt_draft_make_dynamic(nnrt_draft *draft, nnrt_draft_step *step);
#endif
/* Replaces the arguments of a step by a new list of nIn inputs and nOut outputs, all absent, without derived
   constants. The caller stores args[0 .. nIn) and args[nIn .. nIn + nOut), before nnrt_draft_derive adds derived
   constants between them. The old list stays readable. NULL: no memory, or no such step. */
NNRT_API nnrt_plan_arg *nnrt_draft_args(nnrt_draft *draft, uint32_t step, uint32_t nIn, uint32_t nOut);
/* Appends a dense derived constant to a step: the argument after the inputs and earlier derived constants. The step
   has then a new list of arguments, and outputs move up by one. *data = memory for the elements, aligned to
   NNRT_ALIGNMENT and not cleared, which the edit fills; NULL while bytes are counted. DEVICE_ERROR: invalid shape or
   step; OUT_OF_MEMORY. */
NNRT_API NNRT_ReturnCode nnrt_draft_derive(nnrt_draft *draft, uint32_t step, NNRT_DataType type, int32_t rank,
                                           const int32_t *dims, void **data);
/* Returns the number of a new tensor for a result between steps; NNRT_NO_TENSOR: no memory, or an invalid shape.
   Addresses in draft->tensors and draft->bytes become invalid. */
NNRT_API uint32_t nnrt_draft_tensor(nnrt_draft *draft, NNRT_DataType type, int32_t rank, const int32_t *dims);
/* Inserts a zeroed step before step `at`, which the caller fills; the numbers of `at` and later steps increase by one.
   NULL: no memory, or at exceeds the number of steps. Addresses of steps become invalid. */
NNRT_API nnrt_draft_step *nnrt_draft_insert(nnrt_draft *draft, uint32_t at);
#ifndef NNRT_FIRMWARE
/* The same for count steps in linear time: steps[i] is copied before step at[i] (numbers before the call, in
   ascending order). The arguments of the new steps are allocated with nnrt_memory_temp(draft->memory). false: no
   memory, or invalid at[]. */
NNRT_API bool nnrt_draft_insert_all(nnrt_draft *draft, const nnrt_draft_step *steps, const uint32_t *at, uint32_t count);
#endif

/* The executor: calls the kernels in order. It checks only that no parameter is NULL (NULL_PTR), and that the plan has
   neither dynamic shapes nor, without NNRT_REGIONS, several memory regions (NOT_SUPPORT); a program whose plan is
   constant data (nnrt emit-c) needs no more. views: room for plan->maxArgs; arena: plan->arenaBytes bytes, aligned
   to NNRT_ALIGNMENT; io: the addresses of all inputs, then of all outputs. error may be NULL; it receives the message
   of the kernel that failed, and as node the number of the step (in a sub-plan: of the IF or LOOP step of the
   outermost plan). */
NNRT_API NNRT_ReturnCode nnrt_plan_execute(const nnrt_plan *plan, nnrt_view *views, void *arena, void *const *io,
                                           nnrt_error *error);
/* The same; sums[nSteps] receives a checksum of the outputs of each step, which nnrt emit-c --golden compares.
   Outputs of sub-plans (IF, LOOP) are not included. */
NNRT_API NNRT_ReturnCode nnrt_plan_sums(const nnrt_plan *plan, nnrt_view *views, void *arena, void *const *io,
                                        uint32_t *sums);
/* FNV-1a checksum of 32 bits over the dense elements of a view, lowest byte first, so that it is equal on every
   machine. All NaN of a type count as one value. sum: NNRT_SUM, or the checksum of the preceding elements. */
#define NNRT_SUM 2166136261u
NNRT_API uint32_t nnrt_view_sum(const nnrt_view *view, uint32_t sum);
/* Bytes of a workspace for the plan: the views of the step with the most arguments, the addresses of inputs and
   outputs, tables for dynamic shapes, and the arena. SIZE_MAX: the sum overflows. */
NNRT_API size_t nnrt_plan_workspace(const nnrt_plan *plan);
/* Checks inputs and outputs against the plan, then calls the kernels in order. workspace: nnrt_plan_workspace bytes,
   aligned to NNRT_ALIGNMENT; its contents need not survive between runs. Several threads may run one plan at once,
   each in a workspace of its own. Inputs and outputs are aligned to their element size, and no output overlaps an
   input. Nothing is allocated; buffers with only a descriptor are memory-mapped during the run. outputDims and error
   may be NULL.
   Dynamic shapes: the dimensions of the inputs are the actual ones (OUT_OF_DIMENTION_RANGES if one
   exceeds its upper bound). Static steps run as planned; the others are resolved again with the actual dimensions. An
   output whose buffer is too small is not written (INSUFFICIENT_BUFFER), and its outputDims have the required shape.
   If a run fails, outputDims of outputs that it has not computed have the upper bounds. */
NNRT_API NNRT_ReturnCode nnrt_plan_run(const nnrt_plan *plan, void *workspace, size_t workspaceBytes,
                                       const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                       uint32_t nOut, nnrt_dims *outputDims, nnrt_error *error);

/* Control flow as a step: the attributes of a step that runs plans. Its kernel is nnrt_plan_if or nnrt_plan_loop, all its
   arguments are inputs, and its scratch is a table of addresses: an argument of such a plan of kind INPUT, OUTPUT or
   CARRIED is at address number `offset` of the table. An IF or LOOP inside has the same table. The plans share the arena
   of the enclosing plan, and use the views that follow the step's own; maxArgs counts them. */
typedef struct nnrt_plan_graphs {
    const nnrt_plan *plans[2]; /* IF: thenGraph, elseGraph. LOOP: the body, and the steps after the last iteration */
    uint32_t first;            /* the number of the first address that the step fills */
    uint32_t nPairs;           /* LOOP: 2 * nPairs addresses are pairs exchanged after each iteration */
    uint32_t nScans;           /* LOOP: the last nScans addresses (scan outputs) advance after each iteration .. */
    const size_t *scanBytes;   /* .. by scanBytes[i] bytes. Pairs are before them, other addresses before the pairs */
    int32_t scanTrips;         /* number of iterations of a LOOP with scan outputs; -1: it has none */
    uint32_t maxTrips;         /* number of iterations of a LOOP after which it fails with TIME_OUT */
} nnrt_plan_graphs;

enum { NNRT_IF_TABLE = 2, NNRT_LOOP_TABLE = 6 };

/* Kernels of such steps. Inputs of IF: the arena, cond, then the addresses that it fills from number NNRT_IF_TABLE on.
   Inputs of LOOP: the arena, cond, the trip count (both may be absent), the iteration number, the cond input of the
   body, the cond that the body computes, then the addresses from number NNRT_LOOP_TABLE on. If a step inside fails, its
   message is kept. */
NNRT_API NNRT_ReturnCode nnrt_plan_if(const void *attr, nnrt_view *args, nnrt_call *call);
NNRT_API NNRT_ReturnCode nnrt_plan_loop(const void *attr, nnrt_view *args, nnrt_call *call);

#ifndef NNRT_FIRMWARE
/* Whether nnrt_plan_execute can run a plan, as nnrt emit-c needs it. NOT_SUPPORT: a step has dynamic shapes, or its
   resolution needs values of the run; error names the node. */
NNRT_API NNRT_ReturnCode nnrt_plan_check_static(const nnrt_plan *plan, nnrt_error *error);
#endif

/* A deep copy of the model in kept memory; constants true: with the data of constants, false: only with their
   addresses. The model must have passed nnrt_model_check. NULL: no memory. */
#ifndef NNRT_FIRMWARE
NNRT_API NNRT_Model *nnrt_model_copy(const NNRT_Model *model, nnrt_memory *memory, bool constants);
#endif

/* Runs the kernel of one resolved node whose inputs all have data, as constant folding does; results[i] is memory for
   output i (NULL: absent). Scratch is temporary memory of `memory`. Afterwards resolved->out has the actual
   dimensions of data-dependent outputs (NNRT_OP_DATA_DEPENDENT). */
NNRT_API NNRT_ReturnCode nnrt_node_run(nnrt_resolve *resolved, void *const *results, nnrt_memory *memory);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_HAL_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_HAL_IMPLEMENTED)
#define NNRT_HAL_IMPLEMENTED

#include "nnrt_ops.h" /* its implementation, where only its declarations were read so far */

#ifndef NNRT_FIRMWARE
#include <stdlib.h>
#endif
#include <string.h>

/* These calls are declared whatever feature macros there are. */
#ifndef NNRT_POSIX
#if !defined(NNRT_NO_STDIO) && (defined(__unix__) || defined(__unix) || defined(__APPLE__))
#define NNRT_POSIX 1
#else
#define NNRT_POSIX 0
#endif
#endif
#ifndef NNRT_MMAP
#define NNRT_MMAP NNRT_POSIX
#endif
#if NNRT_POSIX || NNRT_MMAP
#include <errno.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>
#endif
#if NNRT_MMAP
#include <sys/mman.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>memory */

NNRT_SETUP()

/* FNV-1a, 64 bits. hash: NNRTI_FNV64, or the hash of the preceding bytes. */
#define NNRTI_FNV64 0xCBF29CE484222325u
NNRTI_UNUSED static uint64_t nnrti_fnv64(uint64_t hash, const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ data[i]) * (uint64_t)0x100000001B3u;
    return hash;
}

#ifdef NNRT_FIRMWARE

NNRT_API void *nnrt_alloc(const nnrt_allocator *allocator, size_t bytes)
{
    if (allocator == NULL || allocator->alloc == NULL)
        return NULL;
    return allocator->alloc(allocator->user, bytes, NNRT_ALIGNMENT);
}

NNRT_API void nnrt_free(const nnrt_allocator *allocator, void *block, size_t bytes)
{
    if (block != NULL && allocator != NULL && allocator->free != NULL)
        allocator->free(allocator->user, block, bytes);
}

#else

/* malloc, rounded up to a multiple of NNRT_ALIGNMENT; the address that malloc returned is stored directly before the
   block, where nnrt_free reads it. (aligned_alloc is C11, posix_memalign not everywhere.) */
NNRT_API void *nnrt_alloc(const nnrt_allocator *allocator, size_t bytes)
{
    uint8_t *raw, *block;
    size_t total;
    if (allocator != NULL && allocator->alloc != NULL)
        return allocator->alloc(allocator->user, bytes, NNRT_ALIGNMENT);
    if (!nnrt_add_size(bytes, NNRT_ALIGNMENT + sizeof(void *), &total))
        return NULL;
    raw = (uint8_t *)malloc(total);
    if (raw == NULL)
        return NULL;
    block = raw + sizeof(void *);
    block += (NNRT_ALIGNMENT - (uintptr_t)block % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
    memcpy(block - sizeof(void *), &raw, sizeof(void *));
    return block;
}

NNRT_API void nnrt_free(const nnrt_allocator *allocator, void *block, size_t bytes)
{
    void *raw;
    if (block == NULL)
        return;
    if (allocator != NULL && allocator->alloc != NULL) {
        if (allocator->free != NULL)
            allocator->free(allocator->user, block, bytes);
        return;
    }
    memcpy(&raw, (uint8_t *)block - sizeof(void *), sizeof(void *));
    free(raw);
}

#endif

#define NNRTI_KEEP_ALIGNMENT (NNRT_ALIGNMENT < 16 ? NNRT_ALIGNMENT : 16)

/* Pieces: small blocks share one allocation of NNRT_PIECE_BYTES, because preparing makes thousands of them and none
   is freed alone. A piece is this header, then blocks, one after another. Pieces form two lists, of kept and
   temporary blocks. */
typedef struct nnrti_piece {
    struct nnrti_piece *next;
    size_t bytes, used; /* with the header */
} nnrti_piece;

#define NNRTI_PIECE_HEADER (NNRT_ALIGNMENT < 32 ? 32 : NNRT_ALIGNMENT)

/* Returns rounded bytes of the newest piece, or of a new one. The piece of a large block is linked after the newest
   piece, which stays in use. */
static void *nnrti_piece_get(nnrt_memory *m, size_t rounded, size_t alignment, bool temp)
{
    nnrti_piece *p = (nnrti_piece *)m->pieces[temp], *made;
    size_t at = p != NULL ? (p->used + alignment - 1) / alignment * alignment : 0, total;
    if (p != NULL && at <= p->bytes && rounded <= p->bytes - at) {
        p->used = at + rounded;
        return (uint8_t *)p + at;
    }
    if (!nnrt_add_size(rounded, NNRTI_PIECE_HEADER, &total))
        return NULL;
    if (rounded <= NNRT_PIECE_BYTES / 4)
        total = NNRT_PIECE_BYTES;
    made = (nnrti_piece *)nnrt_alloc(m->allocator, total);
    if (made == NULL)
        return NULL;
    made->bytes = total;
    made->used = NNRTI_PIECE_HEADER + rounded;
    if (p != NULL && rounded > NNRT_PIECE_BYTES / 4) {
        made->next = p->next;
        p->next = made;
    } else {
        made->next = p;
        m->pieces[temp] = made;
    }
    return (uint8_t *)made + NNRTI_PIECE_HEADER;
}

NNRTI_NOINLINE NNRT_API void nnrt_memory_allocate(nnrt_memory *m, const nnrt_allocator *allocator)
{
    memset(m, 0, sizeof(*m));
    m->size = SIZE_MAX / 2;
    m->allocator = allocator;
    m->more = nnrti_piece_get;
}

NNRT_API void nnrt_memory_count(nnrt_memory *m, const nnrt_allocator *allocator)
{
    nnrt_memory_allocate(m, allocator);
    m->counting = true;
}

/* Before: the caller has checked the alignment of buffer. */
NNRT_API void nnrt_memory_buffer(nnrt_memory *m, void *buffer, size_t bytes)
{
    memset(m, 0, sizeof(*m));
    m->base = (uint8_t *)buffer;
    m->size = bytes & ~(size_t)(NNRT_ALIGNMENT - 1);
    m->top = m->base + m->size;
}

/* Takes rounded bytes from front or back and updates the counters; if they do not fit, sets full and returns false. */
static bool nnrti_memory_take(nnrt_memory *m, size_t bytes, bool temp)
{
    if (m->full || bytes > m->size - m->front - m->back) {
        m->full = true;
        return false;
    }
    if (temp)
        m->back += bytes;
    else
        m->front += bytes;
    m->frontPeak = m->front > m->frontPeak ? m->front : m->frontPeak;
    m->backPeak = m->back > m->backPeak ? m->back : m->backPeak;
    m->peak = m->front + m->back > m->peak ? m->front + m->back : m->peak;
    return true;
}

/* Allocates a block. Kept blocks are padded to alignment, temporary ones have NNRTI_KEEP_ALIGNMENT only. only: the
   block is not cleared, and in count mode is counted but not allocated (NULL although m->full is false). */
static void *nnrti_memory_get(nnrt_memory *m, size_t bytes, size_t alignment, bool temp, bool only)
{
    const size_t pad = temp ? 0 : (0 - m->front) & (alignment - 1);
    size_t rounded, total;
    uint8_t *block = NULL;
    if (!nnrt_round_size(bytes > 0 ? bytes : 1, NNRTI_KEEP_ALIGNMENT, &rounded) ||
        !nnrt_add_size(rounded, pad, &total) || !nnrti_memory_take(m, total, temp)) {
        m->full = true;
        return NULL;
    }
    if (only && m->counting)
        return NULL;
    if (m->base != NULL)
        block = temp ? m->top - m->back : m->base + m->front - rounded;
    else if (m->more != NULL)
        block = (uint8_t *)m->more(m, rounded, alignment, temp);
    m->full = block == NULL;
    if (block != NULL && !only)
        memset(block, 0, rounded);
    return block;
}

NNRTI_NOINLINE NNRT_API void *nnrt_memory_keep(nnrt_memory *m, size_t bytes)
{
    return nnrti_memory_get(m, bytes, NNRTI_KEEP_ALIGNMENT, false, false);
}

NNRT_API void *nnrt_memory_keep_aligned(nnrt_memory *m, size_t bytes)
{
    return nnrti_memory_get(m, bytes, NNRT_ALIGNMENT, false, false);
}

NNRT_API void *nnrt_memory_temp(nnrt_memory *m, size_t bytes)
{
    return nnrti_memory_get(m, bytes, NNRTI_KEEP_ALIGNMENT, true, false);
}

NNRT_API bool nnrt_memory_reserve(nnrt_memory *m, size_t bytes, void **block)
{
    *block = nnrti_memory_get(m, bytes, NNRT_ALIGNMENT, false, true);
    return !m->full;
}

NNRT_API void nnrt_memory_free(const nnrt_allocator *allocator, void *given)
{
    for (nnrti_piece *p = (nnrti_piece *)given; p != NULL;) {
        nnrti_piece *next = p->next;
        nnrt_free(allocator, p, p->bytes);
        p = next;
    }
}

NNRT_API void nnrt_memory_drop_temp(nnrt_memory *m)
{
    nnrt_memory_free(m->allocator, m->pieces[1]);
    m->pieces[1] = NULL;
    m->back = 0;
}

NNRT_API void *nnrt_memory_give(nnrt_memory *m)
{
    void *given = m->pieces[0];
    nnrt_memory_drop_temp(m);
    m->pieces[0] = NULL;
    return given;
}

NNRT_API void nnrt_memory_end(nnrt_memory *m)
{
    nnrt_memory_free(m->allocator, nnrt_memory_give(m));
    m->front = 0;
}

NNRTI_NOINLINE static NNRT_ReturnCode nnrti_no_memory(nnrt_error *error)
{
    return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory to prepare the model");
}

#ifndef NNRT_FIRMWARE
/* ---------------------------------------------------------------------------------------------------------------- */
/* >>buffers */

#if NNRT_MMAP

/* *bytes = size of the file of a descriptor; false: it has no size (a pipe). lseek is used only if the descriptor is
   not a regular file, as it would move the position of a file that the caller reads. */
static bool nnrti_descriptor_bytes(int fd, uint64_t *bytes)
{
    struct stat s;
    off_t end;
    if (fstat(fd, &s) != 0)
        return false;
    end = S_ISREG(s.st_mode) ? s.st_size : lseek(fd, 0, SEEK_END);
    *bytes = end > 0 ? (uint64_t)end : 0;
    return end >= 0;
}

/* *block = a shared memory map of the first `end` bytes of a descriptor's file. The size is checked first: an access
   behind the end of the file would raise SIGBUS. */
static NNRT_ReturnCode nnrti_descriptor_map(int fd, size_t end, bool write, void **block, nnrt_error *error)
{
    uint64_t bytes = 0;
    void *at;
    if (!nnrti_descriptor_bytes(fd, &bytes))
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "descriptor %d is none of memory or of a file", fd);
    if (end > bytes)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "descriptor %d has %l bytes, the data end at %z", fd,
                              (int64_t)bytes, end);
    at = mmap(NULL, end, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "descriptor %d cannot be mapped for %s", fd,
                              write ? "writing" : "reading");
    *block = at;
    return NNRT_SUCCESS;
}

#else
#define nnrti_descriptor_bytes(fd, bytes) false
#endif

NNRT_API NNRT_ReturnCode nnrt_buffer_map(const NNRT_SharedBuffer *buffer, bool write, void **block, nnrt_error *error)
{
    if (block != NULL)
        *block = NULL;
    if (buffer == NULL || block == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the buffer, or the place for its address, is NULL");
    if (buffer->offset > buffer->bufferSize || buffer->dataSize > buffer->bufferSize - buffer->offset)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "offset %u and dataSize %u run past the buffer's %u bytes",
                              buffer->offset, buffer->dataSize, buffer->bufferSize);
    if (buffer->addr == NULL && buffer->fd < 0 && buffer->dataSize > 0)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "the buffer has no descriptor and no address");
    *block = buffer->addr;
    if (buffer->addr != NULL || buffer->dataSize == 0)
        return NNRT_SUCCESS;
#if NNRT_MMAP
    return nnrti_descriptor_map(buffer->fd, (size_t)buffer->offset + buffer->dataSize, write, block, error);
#else
    (void)write;
    return nnrt_error_set(error, NNRT_INVALID_BUFFER,
                          "descriptor %d cannot be mapped without mmap (NNRT_MMAP is 0): give SharedBuffer.addr",
                          buffer->fd);
#endif
}

NNRT_API void nnrt_buffer_unmap(const NNRT_SharedBuffer *buffer, void *block)
{
#if NNRT_MMAP
    if (buffer != NULL && buffer->addr == NULL && block != NULL)
        (void)munmap(block, (size_t)buffer->offset + buffer->dataSize);
#else
    (void)buffer, (void)block;
#endif
}

#if NNRT_MMAP && defined(SYS_memfd_create)
#ifndef __cplusplus
long syscall(long number, ...); /* which strict C leaves out */
#endif
#define NNRTI_MEMFD_FLAGS 3u /* MFD_CLOEXEC, MFD_ALLOW_SEALING */
#define NNRTI_ADD_SEALS 1033 /* F_ADD_SEALS */
#define NNRTI_SEAL_SHRINK 2  /* F_SEAL_SHRINK */

/* A descriptor of an anonymous file in memory (memfd) of that many bytes, sealed against shrinking; -1: not
   available. All pages are written now, so that a lack of memory is reported here and not by SIGBUS at a later
   access. */
static int nnrti_memfd(size_t bytes)
{
    static const char zeros[4096] = {0};
    const int fd = (int)syscall(SYS_memfd_create, "nnrt", NNRTI_MEMFD_FLAGS);
    while (fd >= 0 && bytes > 0) {
        const ssize_t wrote = write(fd, zeros, bytes < sizeof(zeros) ? bytes : sizeof(zeros));
        if (wrote <= 0) {
            (void)close(fd);
            return -1;
        }
        bytes -= (size_t)wrote;
    }
    if (fd >= 0)
        (void)fcntl(fd, NNRTI_ADD_SEALS, NNRTI_SEAL_SHRINK);
    return fd;
}
#else
#define nnrti_memfd(bytes) (-1)
#endif

NNRT_API NNRT_ReturnCode nnrt_buffer_create(uint32_t bytes, NNRT_SharedBuffer *buffer)
{
    if (buffer == NULL)
        return NNRT_NULL_PTR;
    memset(buffer, 0, sizeof(*buffer));
    buffer->fd = -1;
    if (bytes == 0)
        return NNRT_INVALID_PARAMETER;
    buffer->fd = nnrti_memfd(bytes);
    if (buffer->fd < 0 && (buffer->addr = nnrt_alloc(NULL, bytes)) == NULL)
        return NNRT_OUT_OF_MEMORY;
    if (buffer->fd < 0)
        memset(buffer->addr, 0, bytes);
    buffer->bufferSize = buffer->dataSize = bytes;
    return NNRT_SUCCESS;
}

NNRT_API void nnrt_buffer_destroy(const NNRT_SharedBuffer *buffer)
{
    if (buffer == NULL)
        return;
#if NNRT_MMAP
    if (buffer->fd >= 0) {
        (void)close(buffer->fd);
        return;
    }
#endif
    nnrt_free(NULL, buffer->addr, buffer->bufferSize);
}

static NNRT_ReturnCode nnrti_check_lists(const NNRT_Model *m, nnrt_error *error);

/* The memory map of one descriptor, from its beginning to the end of the last constant that is stored in it. */
struct nnrt_mapping {
    nnrt_mapping *next;
    NNRT_SharedBuffer buffer;
    void *block;
};

/* Whether a buffer has a descriptor and no address, and its data are inside the descriptor's file. */
static bool nnrti_descriptor_only(const NNRT_SharedBuffer *b)
{
    uint64_t bytes = 0;
    return b->addr == NULL && b->fd >= 0 && b->dataSize > 0 && b->offset <= b->bufferSize &&
           b->dataSize <= b->bufferSize - b->offset && nnrti_descriptor_bytes(b->fd, &bytes) &&
           b->offset + b->dataSize <= bytes;
}

/* Extends the mapping of a descriptor to a constant; false: no memory. */
static bool nnrti_note_mapping(const NNRT_SharedBuffer *b, nnrt_memory *memory, nnrt_mapping **mappings)
{
    nnrt_mapping *m = *mappings;
    while (m != NULL && m->buffer.fd != b->fd)
        m = m->next;
    if (m == NULL) {
        m = (nnrt_mapping *)nnrt_memory_keep(memory, sizeof(*m));
        if (m == NULL)
            return false;
        m->next = *mappings;
        m->buffer.fd = b->fd;
        *mappings = m;
    }
    if (m->buffer.dataSize < b->offset + b->dataSize)
        m->buffer.bufferSize = m->buffer.dataSize = b->offset + b->dataSize;
    return true;
}

NNRT_API const NNRT_Model *nnrt_model_map(const NNRT_Model *model, nnrt_memory *memory, nnrt_mapping **mappings)
{
    NNRT_Model *own;
    NNRT_Tensor *tensors;
    *mappings = NULL;
    if (model == NULL || nnrti_check_lists(model, NULL) != NNRT_SUCCESS)
        return model; /* nnrti_check_tensor reports faults */
    for (uint32_t i = 0; i < model->allTensors.count; i++)
        if (nnrti_descriptor_only(&model->allTensors.data[i].data) &&
            !nnrti_note_mapping(&model->allTensors.data[i].data, memory, mappings))
            return NULL;
    if (*mappings == NULL)
        return model;
    own = (NNRT_Model *)nnrt_memory_temp(memory, sizeof(*own));
    tensors = (NNRT_Tensor *)nnrt_memory_temp_array(memory, model->allTensors.count, sizeof(*tensors));
    if (own == NULL || tensors == NULL)
        return NULL;
    memcpy(tensors, model->allTensors.data, model->allTensors.count * sizeof(*tensors));
    *own = *model;
    own->self = NULL;
    own->allTensors.data = tensors;
    for (nnrt_mapping *m = *mappings; m != NULL; m = m->next)
        if (nnrt_buffer_map(&m->buffer, false, &m->block, NULL) == NNRT_SUCCESS)
            for (uint32_t i = 0; i < model->allTensors.count; i++)
                if (tensors[i].data.fd == m->buffer.fd && nnrti_descriptor_only(&tensors[i].data))
                    tensors[i].data.addr = m->block;
    return own;
}

NNRT_API void nnrt_model_unmap(nnrt_mapping *mappings)
{
    for (; mappings != NULL; mappings = mappings->next)
        nnrt_buffer_unmap(&mappings->buffer, mappings->block);
}
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>validate */

NNRTI_COLD NNRT_API NNRT_ReturnCode nnrt_error_blame(nnrt_error *error, NNRT_ReturnCode code, int64_t node, int64_t tensor)
{
    if (error != NULL && error->code == code && error->node < 0 && error->tensor < 0) {
        error->node = (int32_t)node;
        error->tensor = (int32_t)tensor;
    }
    return code;
}

NNRT_API void nnrt_error_clear(nnrt_error *error)
{
    if (error == NULL)
        return;
    error->code = NNRT_SUCCESS;
    error->node = error->tensor = 0;
    error->message[0] = '\0';
}

/* Validation trusts nothing in a model: every index, count and pointer is checked before its first use, in an order
   in which each check needs only facts that earlier checks established: lists; tensors; inputs and outputs; subgraph
   entries; the nesting of subgraphs; nodes (each tensor has one writer); sources (each read tensor has a writer);
   scopes; names; cycles. Properties that depend on shapes are left to shape inference (>>infer). Time is O(n log n)
   in the size of the model, also for hostile files. */

/* The name of the operator of a node, for messages. */
static const char *nnrti_node_op(const NNRT_Model *m, uint32_t node)
{
    const nnrt_op *op = nnrt_op_find(m->nodes.data[node].nodeType);
    return op != NULL ? op->name : "unknown operator";
}

/* A name that may be NULL, for messages. */
NNRTI_NOINLINE static const char *nnrti_text_of(const char *name)
{
    return name != NULL ? name : "";
}

/* The address of a buffer's data; NULL: the buffer has no address. */
NNRTI_NOINLINE static const void *nnrti_buffer_data(const NNRT_SharedBuffer *b)
{
    return b->addr != NULL ? (const uint8_t *)b->addr + b->offset : NULL;
}

/* Whether a tensor is a constant; nnrti_check_constant checks that its data exist. */
NNRTI_NOINLINE static bool nnrti_is_constant(const NNRT_Tensor *t)
{
    return t->data.addr != NULL || t->data.dataSize != 0;
}

/* false: dims is {NNRT_RANK_UNKNOWN}, and shape inference computes the rank. */
static bool nnrti_rank_known(const NNRT_Tensor *t)
{
    return !(t->dims.count == 1 && t->dims.data[0] == NNRT_RANK_UNKNOWN);
}

/* Reports why constant i has no address. nnrt_model_map, which has no error to report to, failed to map its
   descriptor, or was not called: mapping it again yields the reason. */
NNRTI_COLD static NNRT_ReturnCode nnrti_no_address(const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
    const NNRT_Tensor *t = &m->allTensors.data[i];
#ifndef NNRT_FIRMWARE
    nnrt_error own;
    void *block;
    memset(&own, 0, sizeof(own));
    if (nnrt_buffer_map(&t->data, false, &block, &own) != NNRT_SUCCESS)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "tensor %u '%s': %s", i, nnrti_text_of(t->name), own.message);
    nnrt_buffer_unmap(&t->data, block);
#endif
    return nnrt_error_set(error, NNRT_INVALID_BUFFER,
                          "tensor %u '%s': its data have a descriptor but no address (SharedBuffer.addr)", i,
                          nnrti_text_of(t->name));
}

/* Rule: the data of constant i are inside their buffer, aligned to the element size, and as large as its shape
   requires. */
static NNRT_ReturnCode nnrti_check_constant(const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
    const NNRT_Tensor *t = &m->allTensors.data[i];
    const NNRT_SharedBuffer *b = &t->data;
    const void *data = nnrti_buffer_data(b);
    size_t need, width = nnrt_type_size(t->dataType);
    if (data == NULL)
        return nnrti_no_address(m, i, error);
    if (b->offset > b->bufferSize || b->dataSize > b->bufferSize - b->offset)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER,
                              "tensor %u '%s': offset %u and dataSize %u run past the buffer's %u bytes", i,
                              nnrti_text_of(t->name), b->offset, b->dataSize, b->bufferSize);
    if ((uintptr_t)data % width != 0)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "tensor %u '%s': its data are not aligned to %z bytes", i,
                              nnrti_text_of(t->name), width);
    if (!nnrti_rank_known(t) || !nnrt_dims_bytes(t->dims.data, (int32_t)t->dims.count, t->dataType, &need))
        return nnrt_error_set(error, NNRT_INVALID_SHAPE, "tensor %u '%s': a constant needs fixed dimensions", i,
                              nnrti_text_of(t->name));
    if (b->dataSize != need)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER_SIZE,
                              "tensor %u '%s': has %u bytes of data, its shape needs %z", i, nnrti_text_of(t->name),
                              b->dataSize, need);
    return NNRT_SUCCESS;
}

#ifndef NNRT_FIRMWARE

/* Rule: one symbol per axis, and 0 for a fixed dimension. */
static NNRT_ReturnCode nnrti_check_symbols(const NNRT_Tensor *t, uint32_t i, nnrt_error *error)
{
    if (t->symbols.data == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "tensor %u '%s': counts %u symbols, but has none", i,
                              nnrti_text_of(t->name), t->symbols.count);
    if (!nnrti_rank_known(t) || t->symbols.count != t->dims.count)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "tensor %u '%s': has %u symbols, expected %s", i,
                              nnrti_text_of(t->name), t->symbols.count,
                              nnrti_rank_known(t) ? "one for each axis" : "none, as its rank is unknown");
    for (uint32_t k = 0; k < t->symbols.count; k++)
        if (t->symbols.data[k] != 0 && t->dims.data[k] != -1)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                                  "tensor %u '%s': symbol %u for axis %u, which is not dynamic but %d", i,
                                  nnrti_text_of(t->name), t->symbols.data[k], k, t->dims.data[k]);
    return NNRT_SUCCESS;
}

#endif

/* Rule: type, format, dimensions, lists and constant data of tensor i are valid. Afterwards its dims and quantParams
   may be read. */
NNRTI_COLD static NNRT_ReturnCode nnrti_check_tensor(const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
    const NNRT_Tensor *t = &m->allTensors.data[i];
#ifndef NNRT_FIRMWARE
    NNRT_ReturnCode code;
#endif
    if (t->dataType != NNRT_DATA_TYPE_UNKNOWN && nnrt_type_size(t->dataType) == 0)
        return nnrt_error_set(error, NNRT_INVALID_DATATYPE, "tensor %u '%s': dataType %d does not exist", i,
                              nnrti_text_of(t->name), t->dataType);
    if (t->format < NNRT_FORMAT_NONE || t->format > NNRT_FORMAT_NHWC)
        return nnrt_error_set(error, NNRT_INVALID_FORMAT, "tensor %u '%s': format %d does not exist", i,
                              nnrti_text_of(t->name), t->format);
    if (t->dims.count > NNRT_MAX_RANK || (t->dims.count > 0 && t->dims.data == NULL))
        return nnrt_error_set(error, NNRT_INVALID_SHAPE, "tensor %u '%s': has %u axes, expected 0 to %d", i,
                              nnrti_text_of(t->name), t->dims.count, NNRT_MAX_RANK);
    for (uint32_t k = 0; k < t->dims.count && nnrti_rank_known(t); k++)
        if (t->dims.data[k] < -1)
            return nnrt_error_set(error, NNRT_INVALID_SHAPE, "tensor %u '%s': size %d of axis %u, expected -1 or more",
                                  i, nnrti_text_of(t->name), t->dims.data[k], k);
    if (t->quantParams.count > 0 && t->quantParams.data == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "tensor %u '%s': counts %u quantParams, but has none", i,
                              nnrti_text_of(t->name), t->quantParams.count);
    if (t->quantAxis < 0 || t->quantAxis > (nnrti_rank_known(t) ? (int32_t)t->dims.count : NNRT_MAX_RANK))
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "tensor %u '%s': quantAxis %d, expected 0 to %d", i,
                              nnrti_text_of(t->name), t->quantAxis,
                              nnrti_rank_known(t) ? (int32_t)t->dims.count : NNRT_MAX_RANK);
#ifndef NNRT_FIRMWARE /* nothing reads them there */
    if (t->symbols.count != 0 && (code = nnrti_check_symbols(t, i, error)) != NNRT_SUCCESS)
        return code;
#endif
    if (!nnrti_is_constant(t))
        return NNRT_SUCCESS;
    if (t->dataType == NNRT_DATA_TYPE_UNKNOWN)
        return nnrt_error_set(error, NNRT_INVALID_DATATYPE, "tensor %u '%s': a constant needs a dataType", i,
                              nnrti_text_of(t->name));
    return nnrti_check_constant(m, i, error);
}

/* Rule: the lists exist, and the required ones are not empty. If several are empty, the first one decides the code. */
static NNRT_ReturnCode nnrti_check_lists(const NNRT_Model *m, nnrt_error *error)
{
    const struct {
        const void *data;
        uint32_t count;
        NNRT_ReturnCode code;
        const char *name;
    } lists[] = {
        {m->allTensors.data, m->allTensors.count, NNRT_INVALID_TENSOR, "allTensors"},
        {m->subGraph.data, m->subGraph.count, NNRT_INVALID_MODEL, "subGraph"},
        {m->nodes.data, m->nodes.count, NNRT_INVALID_NODE, "nodes"},
        {m->inputIndex.data, m->inputIndex.count, NNRT_INVALID_INPUT, "inputIndex"},
        {m->outputIndex.data, m->outputIndex.count, NNRT_INVALID_OUTPUT, "outputIndex"},
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (lists[i].count == 0 && lists[i].code == NNRT_INVALID_INPUT)
            continue; /* a model may have no inputs */
        if (lists[i].count == 0)
            return nnrt_error_set(error, lists[i].code, "the model's list %s is empty", lists[i].name);
        if (lists[i].data == NULL)
            return nnrt_error_set(error, NNRT_NULL_PTR, "the model's list %s counts %u entries, but has no data",
                                  lists[i].name, lists[i].count);
        if (lists[i].count > INT32_MAX)
            return nnrt_error_set(error, lists[i].code, "the model's list %s has more than 2^31 entries",
                                  lists[i].name);
    }
#ifdef NNRT_FIRMWARE
    if (m->subGraph.count > 1)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT,
                              "the model has %u subgraphs, under NNRT_FIRMWARE only one is run", m->subGraph.count);
#endif
    return NNRT_SUCCESS;
}

#ifdef NNRT_FIRMWARE

/* Firmware looks up no tensor by name, so names are not checked. */
static NNRT_ReturnCode nnrti_check_names(const NNRT_Model *m, const uint32_t *home, nnrt_memory *memory,
                                         nnrt_error *error)
{
    (void)home;
    (void)m;
    (void)memory;
    (void)error;
    return NNRT_SUCCESS;
}

#else

static const char *nnrti_tensor_name(const NNRT_Model *m, uint32_t i)
{
    return nnrti_text_of(m->allTensors.data[i].name);
}

/* A comparison for sorting: below 0, 0 or above 0 if a is before, equal to or after b. */
typedef int (*nnrti_before)(const void *user, uint32_t a, uint32_t b);

/* Heapsort: in place, O(n log n) for every input. (qsort of the C library may be quadratic or allocate, and passes no
   user pointer.) Restores the heap property below heap[at]; the greatest is on top. */
static void nnrti_sift(uint32_t *heap, uint32_t count, uint32_t at, nnrti_before before, const void *user)
{
    const uint32_t moved = heap[at];
    while (at < count / 2) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < count && before(user, heap[child], heap[child + 1]) < 0)
            child++;
        if (before(user, moved, heap[child]) >= 0)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void nnrti_sort_list(uint32_t *order, uint32_t count, nnrti_before before, const void *user)
{
    for (uint32_t i = count / 2; i-- > 0;)
        nnrti_sift(order, count, i, before, user);
    for (uint32_t left = count; left > 1;) {
        const uint32_t top = order[0];
        order[0] = order[--left];
        order[left] = top;
        nnrti_sift(order, left, 0, before, user);
    }
}

/* order = 0 .. count - 1, sorted. */
static void nnrti_sort(uint32_t *order, uint32_t count, nnrti_before before, const void *user)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    nnrti_sort_list(order, count, before, user);
}

/* The tensors of a model, and the graph of each tensor; home NULL: there is only the main graph. */
typedef struct nnrti_names {
    const NNRT_Model *model;
    const uint32_t *home;
} nnrti_names;

/* Order of tensors a and b by name, then by graph. */
static int nnrti_name_order(const void *user, uint32_t a, uint32_t b)
{
    const nnrti_names *n = (const nnrti_names *)user;
    const int order = strcmp(nnrti_tensor_name(n->model, a), nnrti_tensor_name(n->model, b));
    return order != 0 || n->home == NULL || n->home[a] == n->home[b] ? order : n->home[a] < n->home[b] ? -1 : 1;
}

static void nnrti_sift_keys(uint64_t *heap, size_t count, size_t at)
{
    const uint64_t moved = heap[at];
    while (at < count / 2) {
        size_t child = 2 * at + 1;
        if (child + 1 < count && heap[child] < heap[child + 1])
            child++;
        if (moved >= heap[child])
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void nnrti_sort_keys(uint64_t *keys, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        nnrti_sift_keys(keys, count, i);
    for (size_t left = count; left > 1;) {
        const uint64_t top = keys[0];
        keys[0] = keys[--left];
        keys[left] = top;
        nnrti_sift_keys(keys, left, 0);
    }
}

/* Rule: the tensors of a list, whose names have equal hashes, have different names within each graph. */
static NNRT_ReturnCode nnrti_check_names_of(const nnrti_names *names, uint32_t *list, uint32_t count, nnrt_error *error)
{
    nnrti_sort_list(list, count, nnrti_name_order, names);
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t a = list[i - 1] < list[i] ? list[i - 1] : list[i], b = list[i - 1] + list[i] - a;
        if (nnrti_name_order(names, a, b) == 0)
            return nnrt_error_blame(error,
                               nnrt_error_set(error, NNRT_INVALID_TENSOR_NAME, "tensors %u and %u are both named '%s'",
                                              a, b, nnrti_tensor_name(names->model, a)),
                               -1, b);
    }
    return NNRT_SUCCESS;
}

/* Rule: names are unique within each graph; home: the graph of each tensor. Sorts the hashes of all names, then the
   names with equal hashes, which takes a third of the time of sorting the names. (Rejected: a hash table, whose time
   is quadratic if a hostile file contains names that collide.) */
static NNRT_ReturnCode nnrti_check_names(const NNRT_Model *m, const uint32_t *home, nnrt_memory *memory,
                                         nnrt_error *error)
{
    uint64_t *keys = (uint64_t *)nnrt_memory_temp_array(memory, m->allTensors.count, sizeof(*keys));
    uint32_t count = 0, longest = 0, *list;
    nnrti_names names;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (keys == NULL)
        return nnrti_no_memory(error);
    names.model = m;
    names.home = home;
    for (uint32_t t = 0; t < m->allTensors.count; t++) {
        const char *name = nnrti_tensor_name(m, t);
        uint32_t hash = 2166136261u; /* FNV-1a */
        if (*name == '\0')
            continue;
        for (; *name != '\0'; name++)
            hash = (hash ^ (uint8_t)*name) * 16777619u;
        keys[count++] = (uint64_t)hash << 32 | t;
    }
    nnrti_sort_keys(keys, count);
    for (uint32_t i = 0, first = 0; i < count; i++) {
        first = keys[i] >> 32 != keys[first] >> 32 ? i : first;
        longest = i - first + 1 > longest ? i - first + 1 : longest;
    }
    if (longest < 2)
        return NNRT_SUCCESS;
    if ((list = (uint32_t *)nnrt_memory_temp_array(memory, longest, sizeof(*list))) == NULL)
        return nnrti_no_memory(error);
    for (uint32_t i = 0, n = 0; i < count && code == NNRT_SUCCESS; i++) {
        list[n++] = (uint32_t)keys[i];
        if (i + 1 < count && keys[i + 1] >> 32 == keys[i] >> 32)
            continue;
        if (n > 1)
            code = nnrti_check_names_of(&names, list, n, error);
        n = 0;
    }
    return code;
}

#endif

/* The writer of a tensor: the index of a node, or one of these. */
#define NNRTI_BY_NOBODY 0xFFFFFFFFu
#define NNRTI_BY_INPUT 0xFFFFFFFEu
#define NNRTI_BY_CONSTANT 0xFFFFFFFDu
#define NNRTI_BY_CALLER 0xFFFFFFFCu /* an input of a subgraph */

/* Rule: the model's outputs are tensors. */
static NNRT_ReturnCode nnrti_check_model_outputs(const NNRT_Model *m, nnrt_error *error)
{
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        if (m->outputIndex.data[i] >= m->allTensors.count)
            return nnrt_error_set(error, NNRT_INVALID_OUTPUT, "model output %u is tensor %u, but there are %u tensors",
                                  i, m->outputIndex.data[i], m->allTensors.count);
    return NNRT_SUCCESS;
}

/* Rule: the model's inputs and outputs are tensors; each input is listed once, is no constant, and has a type and a
   rank. Initializes writer[]: BY_INPUT, BY_CONSTANT, or BY_NOBODY until nnrti_check_node finds the node. */
static NNRT_ReturnCode nnrti_check_inputs_outputs(const NNRT_Model *m, uint32_t *writer, nnrt_error *error)
{
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        writer[i] = nnrti_is_constant(&m->allTensors.data[i]) ? NNRTI_BY_CONSTANT : NNRTI_BY_NOBODY;
    for (uint32_t i = 0; i < m->inputIndex.count; i++) {
        uint32_t t = m->inputIndex.data[i];
        if (t >= m->allTensors.count)
            return nnrt_error_set(error, NNRT_INVALID_INPUT, "model input %u is tensor %u, but there are %u tensors", i,
                                  t, m->allTensors.count);
        if (writer[t] != NNRTI_BY_NOBODY)
            return nnrt_error_blame(error,
                               nnrt_error_set(error, NNRT_INVALID_INPUT, "model input %u '%s' %s", i,
                                              nnrti_text_of(m->allTensors.data[t].name),
                                              writer[t] == NNRTI_BY_CONSTANT ? "has constant data" : "is listed twice"),
                               -1, t);
        if (m->allTensors.data[t].dataType == NNRT_DATA_TYPE_UNKNOWN || !nnrti_rank_known(&m->allTensors.data[t]))
            return nnrt_error_blame(error,
                               nnrt_error_set(error, NNRT_INVALID_INPUT,
                                              "model input %u '%s' needs a dataType and a rank", i,
                                              nnrti_text_of(m->allTensors.data[t].name)),
                               -1, t);
        writer[t] = NNRTI_BY_INPUT;
    }
    return nnrti_check_model_outputs(m, error);
}

static NNRT_ReturnCode nnrti_no_operator(const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
#ifndef NNRT_FIRMWARE
    if (m->nodes.data[i].nodeType < 0)
        return nnrt_error_set(error, NNRT_UNSUPPORTED_OP,
                              "node %u '%s': no operator with number %d is registered (nnrt_op_register)", i,
                              nnrti_text_of(m->nodes.data[i].name), m->nodes.data[i].nodeType);
#endif
    return nnrt_error_set(error, NNRT_UNSUPPORTED_OP, "node %u '%s': there is no operator with number %d", i,
                          nnrti_text_of(m->nodes.data[i].name), m->nodes.data[i].nodeType);
}

/* Rule: the subgraphs in the attributes of node i exist, and none is the main graph. */
NNRTI_UNUSED static NNRT_ReturnCode nnrti_check_graphs(const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
    const NNRT_Node *n = &m->nodes.data[i];
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    for (uint32_t k = 0; op != NULL && n->nodeAttr.data != NULL && k < op->attr->count; k++) {
        const nnrt_attr_member *a = &op->attr->members[k];
        uint32_t graph;
        if (a->kind != NNRT_ATTR_KIND_GRAPH || a->offset + a->bytes > n->nodeAttr.size)
            continue;
        memcpy(&graph, (const uint8_t *)n->nodeAttr.data + a->offset, sizeof(graph));
        if (graph != NNRT_NO_GRAPH && (graph == 0 || graph >= m->subGraph.count))
            return nnrt_error_set(
                error, NNRT_INVALID_NODE,
                "node %u '%s' (%s): %s is subgraph %u, but the model has %u, of which 0 is the main one", i,
                nnrti_text_of(n->name), op->name, a->name, graph, m->subGraph.count);
    }
    return NNRT_SUCCESS;
}

/* Rule: the operands of node i are tensors, and no output has another writer. Stores i as the writer of its outputs.
   strangers: an unknown operator is no error. */
static NNRT_ReturnCode nnrti_check_node(const NNRT_Model *m, uint32_t i, uint32_t *writer, bool strangers,
                                        nnrt_error *error)
{
    const NNRT_Node *n = &m->nodes.data[i];
    const char *name = nnrti_text_of(n->name), *op = nnrti_node_op(m, i);
    if (!strangers && nnrt_op_find(n->nodeType) == NULL)
        return nnrti_no_operator(m, i, error);
    if ((n->inputIndex.count > 0 && n->inputIndex.data == NULL) ||
        (n->outputIndex.count > 0 && n->outputIndex.data == NULL))
        return nnrt_error_set(error, NNRT_NULL_PTR, "node %u '%s' (%s): counts operands, but has no list of them", i,
                              name, op);
    for (uint32_t k = 0; k < n->inputIndex.count; k++)
        if (n->inputIndex.data[k] != NNRT_NO_TENSOR && n->inputIndex.data[k] >= m->allTensors.count)
            return nnrt_error_set(error, NNRT_INVALID_INPUT,
                                  "node %u '%s' (%s): input %u is tensor %u, but there are %u", i, name, op, k,
                                  n->inputIndex.data[k], m->allTensors.count);
    for (uint32_t k = 0; k < n->outputIndex.count; k++) {
        uint32_t t = n->outputIndex.data[k];
        if (t == NNRT_NO_TENSOR)
            continue;
        if (t >= m->allTensors.count)
            return nnrt_error_set(error, NNRT_INVALID_OUTPUT,
                                  "node %u '%s' (%s): output %u is tensor %u, but there are %u", i, name, op, k, t,
                                  m->allTensors.count);
        if (writer[t] == NNRTI_BY_INPUT || writer[t] == NNRTI_BY_CONSTANT || writer[t] == NNRTI_BY_CALLER)
            return nnrt_error_set(error, NNRT_INVALID_OUTPUT, "node %u '%s' (%s): output %u '%s' is %s", i, name, op, k,
                                  nnrti_text_of(m->allTensors.data[t].name),
                                  writer[t] == NNRTI_BY_CALLER  ? "an input of a subgraph"
                                  : writer[t] == NNRTI_BY_INPUT ? "a model input"
                                                                : "a constant");
        if (writer[t] != NNRTI_BY_NOBODY)
            return nnrt_error_set(error, NNRT_INVALID_OUTPUT,
                                  "node %u '%s' (%s): output %u '%s' is also written by node %u '%s'", i, name, op, k,
                                  nnrti_text_of(m->allTensors.data[t].name), writer[t],
                                  nnrti_text_of(m->nodes.data[writer[t]].name));
        writer[t] = i;
    }
    return NNRTI_HAS(GRAPH) ? nnrti_check_graphs(m, i, error) : NNRT_SUCCESS;
}

/* Rule: every tensor that a node reads, or that is a model output, has a writer. */
static NNRT_ReturnCode nnrti_check_sources(const NNRT_Model *m, const uint32_t *writer, nnrt_error *error)
{
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const NNRT_Node *n = &m->nodes.data[i];
        for (uint32_t k = 0; k < n->inputIndex.count; k++) {
            uint32_t t = n->inputIndex.data[k];
            if (t != NNRT_NO_TENSOR && writer[t] == NNRTI_BY_NOBODY)
                return nnrt_error_blame(
                    error,
                    nnrt_error_set(error, NNRT_INVALID_INPUT,
                                   "node %u '%s' (%s): input %u is tensor %u '%s', which no node writes and "
                                   "which is neither a model input nor a constant",
                                   i, nnrti_text_of(n->name), nnrti_node_op(m, i), k, t,
                                   nnrti_text_of(m->allTensors.data[t].name)),
                    i, t);
        }
    }
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        if (writer[m->outputIndex.data[i]] == NNRTI_BY_NOBODY)
            return nnrt_error_blame(error,
                               nnrt_error_set(error, NNRT_INVALID_OUTPUT, "model output %u '%s' is written by no node",
                                              i, nnrti_text_of(m->allTensors.data[m->outputIndex.data[i]].name)),
                               -1, m->outputIndex.data[i]);
    return NNRT_SUCCESS;
}

/* Rule: the entries of a list of subgraph i are below `most`, the number of nodes or tensors (kind). */
static NNRT_ReturnCode nnrti_check_entries(const NNRT_Uint32List *list, uint32_t most, uint32_t i, const char *name,
                                           const char *kind, nnrt_error *error)
{
    for (uint32_t k = 0; k < list->count; k++)
        if (list->data == NULL || list->data[k] >= most)
            return nnrt_error_set(error, NNRT_INVALID_MODEL, "subgraph %u: entry %u of %s is no %s", i, k, name, kind);
    return NNRT_SUCCESS;
}

/* Rule: the lists of subgraph i contain indices of nodes and tensors. */
static NNRT_ReturnCode nnrti_check_subgraph(const NNRT_Model *m, uint32_t i, nnrt_error *error)
{
    const NNRT_SubGraph *g = &m->subGraph.data[i];
    const uint32_t tensors = m->allTensors.count;
    NNRT_ReturnCode code = nnrti_check_entries(&g->nodeIndices, m->nodes.count, i, "nodeIndices", "node", error);
    if (code == NNRT_SUCCESS)
        code = nnrti_check_entries(&g->inputIndices, tensors, i, "inputIndices", "tensor", error);
    return code != NNRT_SUCCESS ? code
                                : nnrti_check_entries(&g->outputIndices, tensors, i, "outputIndices", "tensor", error);
}

/* The nesting of a model's graphs: a tree whose root is the main graph. A tensor is in scope in the graph that
   defines it and in all graphs nested in that. If there is only the main graph, the arrays are NULL. */
typedef struct nnrti_tree {
    uint32_t *owner;  /* per node: its graph */
    uint32_t *caller; /* per graph: the node that has it as an attribute */
    uint32_t *home;   /* per tensor: the graph that defines it; of constants the main graph */
    uint32_t *first,
        *taken; /* captured tensors: taken[first[n] .. first[n + 1]) are the tensors of its own graph that the
                                subgraphs of node n read */
} nnrti_tree;

#ifdef NNRT_FIRMWARE
#define nnrti_tree_begin(m, writer, memory, x, error) NNRT_SUCCESS
#define nnrti_tree_end(m, writer, memory, x, error) NNRT_SUCCESS
#else

/* The graph that encloses graph g, which is not the main graph. */
static uint32_t nnrti_tree_up(const nnrti_tree *x, uint32_t g)
{
    return x->owner[x->caller[g]];
}

/* Rule: every node is in exactly one graph. Stores it in x->owner. */
static NNRT_ReturnCode nnrti_tree_owners(const NNRT_Model *m, nnrti_tree *x, nnrt_error *error)
{
    for (uint32_t i = 0; i < m->nodes.count; i++)
        x->owner[i] = NNRT_NO_GRAPH;
    for (uint32_t g = 0; g < m->subGraph.count; g++)
        for (uint32_t k = 0; k < m->subGraph.data[g].nodeIndices.count; k++) {
            const uint32_t n = m->subGraph.data[g].nodeIndices.data[k];
            if (x->owner[n] != NNRT_NO_GRAPH)
                return nnrt_error_set(error, NNRT_INVALID_MODEL, "node %u '%s' is in subgraph %u and in subgraph %u", n,
                                      nnrti_text_of(m->nodes.data[n].name), x->owner[n], g);
            x->owner[n] = g;
        }
    for (uint32_t i = 0; i < m->nodes.count; i++)
        if (x->owner[i] == NNRT_NO_GRAPH)
            return nnrt_error_set(error, NNRT_INVALID_MODEL, "node %u '%s' (%s) is in none of the %u subgraphs", i,
                                  nnrti_text_of(m->nodes.data[i].name), nnrti_node_op(m, i), m->subGraph.count);
    return NNRT_SUCCESS;
}

NNRT_API uint32_t nnrt_node_graphs(const NNRT_Node *n)
{
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    return op != NULL && (op->flags & NNRT_OP_GRAPHS) != 0 ? op->attr->count : 0;
}

NNRT_API uint32_t nnrt_node_graph(const NNRT_Node *n, uint32_t k)
{
    const nnrt_attr_member *a = &nnrt_op_find(n->nodeType)->attr->members[k];
    uint32_t graph = NNRT_NO_GRAPH;
    if (a->kind == NNRT_ATTR_KIND_GRAPH && n->nodeAttr.data != NULL && a->offset + a->bytes <= n->nodeAttr.size)
        memcpy(&graph, (const uint8_t *)n->nodeAttr.data + a->offset, sizeof(graph));
    return graph;
}

static NNRT_ReturnCode nnrti_nested(uint32_t g, nnrt_error *error)
{
    return nnrt_error_set(error, NNRT_INVALID_MODEL, "subgraph %u lies in itself, or in more than %d subgraphs", g,
                          NNRT_MAX_NESTING);
}

/* Rule: every subgraph is an attribute of exactly one node, and the nesting has no cycle and at most NNRT_MAX_NESTING
   levels. Stores the node in x->caller. Before: nnrti_check_graphs has passed for all nodes. */
static NNRT_ReturnCode nnrti_tree_callers(const NNRT_Model *m, nnrti_tree *x, nnrt_error *error)
{
    for (uint32_t g = 0; g < m->subGraph.count; g++)
        x->caller[g] = UINT32_MAX;
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const NNRT_Node *n = &m->nodes.data[i];
        for (uint32_t k = 0; k < nnrt_node_graphs(n); k++) {
            const uint32_t g = nnrt_node_graph(n, k);
            if (g == NNRT_NO_GRAPH)
                continue;
            if (x->caller[g] != UINT32_MAX)
                return nnrt_error_set(error, NNRT_INVALID_MODEL,
                                      "subgraph %u is run by node %u '%s' and by node %u '%s': each needs its own", g,
                                      x->caller[g], nnrti_text_of(m->nodes.data[x->caller[g]].name), i,
                                      nnrti_text_of(n->name));
            x->caller[g] = i;
        }
    }
    for (uint32_t g = 1; g < m->subGraph.count; g++) {
        uint32_t depth = 0, up = g;
        for (; up != 0 && depth <= NNRT_MAX_NESTING && x->caller[up] != UINT32_MAX; depth++)
            up = nnrti_tree_up(x, up);
        if (up != 0 && x->caller[up] == UINT32_MAX)
            return nnrt_error_set(error, NNRT_INVALID_MODEL, "subgraph %u: no node runs it", up);
        if (depth > NNRT_MAX_NESTING)
            return nnrti_nested(g, error);
    }
    return NNRT_SUCCESS;
}

/* Builds the tree, up to tensors: finds the graph of each node and the node that runs each graph. The writer of a
   subgraph's inputs becomes NNRTI_BY_CALLER, since the node that runs the subgraph stores them. */
static NNRT_ReturnCode nnrti_tree_begin(const NNRT_Model *m, uint32_t *writer, nnrt_memory *memory, nnrti_tree *x,
                                        nnrt_error *error)
{
    NNRT_ReturnCode code;
    if (m->subGraph.count == 1)
        return NNRT_SUCCESS;
    x->owner = (uint32_t *)nnrt_memory_temp_array(memory, m->nodes.count, sizeof(*x->owner));
    x->caller = (uint32_t *)nnrt_memory_temp_array(memory, m->subGraph.count, sizeof(*x->caller));
    x->home = (uint32_t *)nnrt_memory_temp_array(memory, m->allTensors.count, sizeof(*x->home));
    if (memory->full)
        return nnrti_no_memory(error);
    for (uint32_t i = 0; i < m->nodes.count; i++)
        if ((code = nnrti_check_graphs(m, i, error)) != NNRT_SUCCESS)
            return nnrt_error_blame(error, code, i, -1);
    if ((code = nnrti_tree_owners(m, x, error)) != NNRT_SUCCESS ||
        (code = nnrti_tree_callers(m, x, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t g = 1; g < m->subGraph.count; g++)
        for (uint32_t k = 0; k < m->subGraph.data[g].inputIndices.count; k++) {
            const uint32_t t = m->subGraph.data[g].inputIndices.data[k];
            if (writer[t] != NNRTI_BY_NOBODY)
                return nnrt_error_blame(error,
                                   nnrt_error_set(error, NNRT_INVALID_MODEL,
                                                  "subgraph %u: input %u is tensor %u '%s', which is given elsewhere",
                                                  g, k, t, nnrti_text_of(m->allTensors.data[t].name)),
                                   -1, t);
            writer[t] = NNRTI_BY_CALLER;
            x->home[t] = g;
        }
    return NNRT_SUCCESS;
}

/* For tensor t that is read in graph g: *node = the node of the defining graph in whose subgraphs the read is (this
   node captures t), UINT32_MAX: it is read in the defining graph itself. false: t is not in scope in g. */
static bool nnrti_tree_taker(const nnrti_tree *x, uint32_t g, uint32_t t, uint32_t *node)
{
    *node = UINT32_MAX;
    for (; g != x->home[t]; g = nnrti_tree_up(x, g)) {
        if (g == 0)
            return false;
        *node = x->caller[g];
    }
    return true;
}

/* Records one read of tensor t in graph g, if it is a capture: counts it, and stores it if taken has been allocated. */
static NNRT_ReturnCode nnrti_tree_take(const NNRT_Model *m, const nnrti_tree *x, uint32_t g, uint32_t t,
                                       uint32_t *count, nnrt_error *error)
{
    uint32_t node;
    if (!nnrti_tree_taker(x, g, t, &node))
        return nnrt_error_blame(
            error,
            nnrt_error_set(error, NNRT_INVALID_MODEL,
                           "tensor %u '%s' of subgraph %u is read in subgraph %u, which does not lie in it", t,
                           nnrti_text_of(m->allTensors.data[t].name), x->home[t], g),
            -1, t);
    if (node == UINT32_MAX)
        return NNRT_SUCCESS;
    if (x->taken != NULL)
        x->taken[x->first[node] + count[node]] = t;
    count[node]++;
    return NNRT_SUCCESS;
}

/* Records all reads: of nodes, as outputs of subgraphs, and as outputs of the model. Called twice: to count, then to
   store. */
static NNRT_ReturnCode nnrti_tree_takes(const NNRT_Model *m, const nnrti_tree *x, uint32_t *count, nnrt_error *error)
{
    NNRT_ReturnCode code;
    memset(count, 0, m->nodes.count * sizeof(*count));
    for (uint32_t i = 0; i < m->nodes.count; i++)
        for (uint32_t k = 0; k < m->nodes.data[i].inputIndex.count; k++) {
            const uint32_t t = m->nodes.data[i].inputIndex.data[k];
            if (t != NNRT_NO_TENSOR && (code = nnrti_tree_take(m, x, x->owner[i], t, count, error)) != NNRT_SUCCESS)
                return nnrt_error_blame(error, code, i, t);
        }
    for (uint32_t g = 1; g < m->subGraph.count; g++)
        for (uint32_t k = 0; k < m->subGraph.data[g].outputIndices.count; k++)
            if ((code = nnrti_tree_take(m, x, g, m->subGraph.data[g].outputIndices.data[k], count, error)) !=
                NNRT_SUCCESS)
                return code;
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        if ((code = nnrti_tree_take(m, x, 0, m->outputIndex.data[i], count, error)) != NNRT_SUCCESS)
            return code;
    return NNRT_SUCCESS;
}

/* Completes the tree after the writers are known: finds the graph of each tensor, checks that every read is in scope,
   and collects the captured tensors, on which a control-flow node depends as on its inputs. */
static NNRT_ReturnCode nnrti_tree_end(const NNRT_Model *m, const uint32_t *writer, nnrt_memory *memory, nnrti_tree *x,
                                      nnrt_error *error)
{
    uint32_t *count, total = 0;
    NNRT_ReturnCode code;
    if (x->owner == NULL)
        return NNRT_SUCCESS;
    count = (uint32_t *)nnrt_memory_temp_array(memory, m->nodes.count, sizeof(*count));
    x->first = (uint32_t *)nnrt_memory_temp_array(memory, (size_t)m->nodes.count + 1, sizeof(*x->first));
    if (memory->full)
        return nnrti_no_memory(error);
    for (uint32_t t = 0; t < m->allTensors.count; t++)
        if (writer[t] < m->nodes.count)
            x->home[t] = x->owner[writer[t]];
    for (uint32_t g = 1; g < m->subGraph.count; g++)
        for (uint32_t k = 0; k < m->subGraph.data[g].outputIndices.count; k++)
            if (writer[m->subGraph.data[g].outputIndices.data[k]] == NNRTI_BY_NOBODY)
                return nnrt_error_set(error, NNRT_INVALID_MODEL, "subgraph %u: output %u is written by no node", g, k);
    if ((code = nnrti_tree_takes(m, x, count, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        x->first[i] = total;
        total += count[i];
    }
    x->first[m->nodes.count] = total;
    x->taken = (uint32_t *)nnrt_memory_temp_array(memory, (size_t)total + 1, sizeof(*x->taken));
    return x->taken != NULL ? nnrti_tree_takes(m, x, count, error) : nnrti_no_memory(error);
}

#endif

/* The number of tensors that a node depends on, and the k-th: its inputs, then the tensors that its subgraphs read
   from its graph. */
#ifdef NNRT_FIRMWARE
#define nnrti_need_count(m, x, n) ((void)(x), (m)->nodes.data[n].inputIndex.count)
#define nnrti_need(m, x, n, k) (m)->nodes.data[n].inputIndex.data[k]
#else
static uint32_t nnrti_need_count(const NNRT_Model *m, const nnrti_tree *x, uint32_t n)
{
    return m->nodes.data[n].inputIndex.count + (x->taken != NULL ? x->first[n + 1] - x->first[n] : 0);
}

static uint32_t nnrti_need(const NNRT_Model *m, const nnrti_tree *x, uint32_t n, uint32_t k)
{
    const NNRT_Uint32List *in = &m->nodes.data[n].inputIndex;
    return k < in->count ? in->data[k] : x->taken[x->first[n] + k - in->count];
}
#endif

/* Topological sort: a depth-first search from every node in the model's order, which appends a node after its
   producers. It is stable: nodes that are already sorted keep their order. Iterative, because a chain of nodes may be
   too long for the stack. A node met again on the path is a cycle, an error.
   next[n]: 0 = not visited, 1 .. = on the path, number of the next input to visit, UINT32_MAX = done. */
static NNRT_ReturnCode nnrti_sort_nodes(const NNRT_Model *m, const uint32_t *writer, const nnrti_tree *x,
                                        nnrt_memory *memory, uint32_t *order, nnrt_error *error)
{
    uint32_t *next = (uint32_t *)nnrt_memory_temp_array(memory, m->nodes.count, sizeof(*next));
    uint32_t *path = (uint32_t *)nnrt_memory_temp_array(memory, m->nodes.count, sizeof(*path)), done = 0;
    if (next == NULL || path == NULL)
        return nnrti_no_memory(error);
    for (uint32_t root = 0; root < m->nodes.count; root++) {
        uint32_t depth = 0;
        if (next[root] != 0)
            continue;
        path[depth++] = root;
        next[root] = 1;
        while (depth > 0) {
            uint32_t n = path[depth - 1];
            uint32_t t, w;
            if (next[n] > nnrti_need_count(m, x, n)) {
                next[n] = UINT32_MAX;
                order[done++] = n;
                depth--;
                continue;
            }
            t = nnrti_need(m, x, n, next[n]++ - 1);
            w = t == NNRT_NO_TENSOR ? NNRTI_BY_NOBODY : writer[t];
            if (w >= m->nodes.count || next[w] == UINT32_MAX)
                continue;
            if (next[w] != 0)
                return nnrt_error_blame(
                    error,
                    nnrt_error_set(error, NNRT_INVALID_MODEL,
                                   "node %u '%s' (%s) needs its own result: a cycle through tensor %u '%s'", w,
                                   nnrti_text_of(m->nodes.data[w].name), nnrti_node_op(m, w), t,
                                   nnrti_text_of(m->allTensors.data[t].name)),
                    w, t);
            path[depth++] = w;
            next[w] = 1;
        }
    }
    return NNRT_SUCCESS;
}

/* Size of an order: the nodes, sorted by graph, then the position where the nodes of each graph begin, and the number
   of nodes. Firmware has one graph. */
#ifdef NNRT_FIRMWARE
#define nnrti_order_count(m) ((m)->nodes.count)
#define nnrti_order_begin(m, order, g) 0
#define nnrti_order_end(m, order, g) ((m)->nodes.count)
#define nnrti_sort_graphs(m, x, memory, order, error) NNRT_SUCCESS
#else
#define nnrti_order_count(m) ((size_t)(m)->nodes.count + (m)->subGraph.count + 1)
#define nnrti_order_begin(m, order, g) ((order)[(m)->nodes.count + (g)])
#define nnrti_order_end(m, order, g) ((order)[(m)->nodes.count + (g) + 1])
/* Stable sort of a topological order by graph; appends the position where each graph begins. */
static NNRT_ReturnCode nnrti_sort_graphs(const NNRT_Model *m, const nnrti_tree *x, nnrt_memory *memory, uint32_t *order,
                                         nnrt_error *error)
{
    uint32_t *begin = order + m->nodes.count, *copy;
    begin[m->subGraph.count] = m->nodes.count;
    if (x->owner == NULL) /* begin[0] is 0 */
        return NNRT_SUCCESS;
    copy = (uint32_t *)nnrt_memory_temp_array(memory, m->nodes.count, sizeof(*copy));
    if (copy == NULL)
        return nnrti_no_memory(error);
    memcpy(copy, order, m->nodes.count * sizeof(*copy));
    memset(begin, 0, m->subGraph.count * sizeof(*begin));
    for (uint32_t i = 0; i < m->nodes.count; i++)
        if (x->owner[i] + 1 < m->subGraph.count)
            begin[x->owner[i] + 1]++;
    for (uint32_t g = 1; g < m->subGraph.count; g++)
        begin[g] += begin[g - 1];
    for (uint32_t i = 0; i < m->nodes.count; i++)
        order[begin[x->owner[copy[i]]]++] = copy[i];
    for (uint32_t g = m->subGraph.count - 1; g > 0; g--)
        begin[g] = begin[g - 1];
    begin[0] = 0;
    return NNRT_SUCCESS;
}
#endif

/* nnrt_model_check; strangers: unknown operators are no error. */
NNRTI_COLD static NNRT_ReturnCode nnrti_check_model(const NNRT_Model *model, nnrt_memory *memory, uint32_t **order,
                                                    bool strangers, nnrt_error *error)
{
    NNRT_ReturnCode code;
    uint32_t *writer, *sorted;
    nnrti_tree tree;
    memset(&tree, 0, sizeof(tree));
    if (model == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the model is NULL");
    if ((code = nnrti_check_lists(model, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < model->allTensors.count; i++)
        if ((code = nnrti_check_tensor(model, i, error)) != NNRT_SUCCESS)
            return nnrt_error_blame(error, code, -1, i);
    writer = (uint32_t *)nnrt_memory_temp_array(memory, model->allTensors.count, sizeof(*writer));
    sorted = (uint32_t *)nnrt_memory_temp_array(memory, nnrti_order_count(model), sizeof(*sorted));
    if (writer == NULL || sorted == NULL)
        return nnrti_no_memory(error);
    if ((code = nnrti_check_inputs_outputs(model, writer, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < model->subGraph.count; i++)
        if ((code = nnrti_check_subgraph(model, i, error)) != NNRT_SUCCESS)
            return code;
    if ((code = nnrti_tree_begin(model, writer, memory, &tree, error)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < model->nodes.count; i++)
        if ((code = nnrti_check_node(model, i, writer, strangers, error)) != NNRT_SUCCESS)
            return nnrt_error_blame(error, code, i, -1);
    if ((code = nnrti_check_sources(model, writer, error)) != NNRT_SUCCESS ||
        (code = nnrti_tree_end(model, writer, memory, &tree, error)) != NNRT_SUCCESS ||
        (code = nnrti_check_names(model, tree.home, memory, error)) != NNRT_SUCCESS ||
        (code = nnrti_sort_nodes(model, writer, &tree, memory, sorted, error)) != NNRT_SUCCESS ||
        (code = nnrti_sort_graphs(model, &tree, memory, sorted, error)) != NNRT_SUCCESS)
        return code;
    if (order != NULL)
        *order = sorted;
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_model_check(const NNRT_Model *model, nnrt_memory *memory, uint32_t **order,
                                          nnrt_error *error)
{
    return nnrti_check_model(model, memory, order, false, error);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>format */

/* The .nnrt format in memory; paths and streams belong to nnrt.h, >>file. The reader checks each number of a file
   before its first use; lists, texts and constants are used in place. The writer emits the bytes in order to a function
   of its caller (nnrti_write). Reader and writer count bytes by the walk that later uses them. */

#define NNRTI_MAX_ATTACHED 4

/* A block that a model owns. */
typedef struct nnrti_block {
    void *data;
    size_t bytes;
    void (*release)(void *data, size_t bytes); /* NULL: nnrt_free */
} nnrti_block;

/* A model made by the library: the block begins with this struct. All data of the model is in the block, in attached
   blocks, in the replaced model, or is the caller's (constants that were not copied). */
typedef struct nnrti_owned {
    NNRT_Model model; /* model.self identifies models of the library; of a caller's model nothing after NNRT_Model may
                         be read */
    nnrt_allocator allocator;
    size_t bytes; /* of the block */
    nnrti_block attached[NNRTI_MAX_ATTACHED];
    uint32_t nAttached;
    bool bare;           /* inputs and outputs only; the prepared form is in file */
    const uint8_t *file; /* the checked .nnrt file that the model is in, or NULL; its metadata */
    const nnrt_metadata *metadata;
    uint32_t nMetadata;
    NNRT_Model *replaced; /* the model whose optimized form this is, or NULL */
    void *pieces;         /* memory with constants, for nnrt_memory_free, or NULL */
} nnrti_owned;

/* The block of a model; NULL if the library did not make it. */
NNRTI_NOINLINE static nnrti_owned *nnrti_owned_of(const NNRT_Model *model)
{
    nnrti_owned *o = (nnrti_owned *)(uintptr_t)model;
    return model != NULL && model->self == model ? o : NULL;
}

#ifndef NNRT_FIRMWARE
/* Rule: no list among the attributes has a count above 0 and data NULL. */
static bool nnrti_attr_lists(const nnrt_attr_struct *s, const void *attr)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const void *at = (const uint8_t *)attr + s->members[i].offset;
        nnrti_any_list list;
        switch (s->members[i].kind) {
        case NNRT_ATTR_KIND_INTS:
        case NNRT_ATTR_KIND_INTS64:
        case NNRT_ATTR_KIND_FLOATS:
        case NNRT_ATTR_KIND_INTS2: list = nnrti_list_at(at); break;
        default: continue;
        }
        if (list.count > 0 && list.data == NULL)
            return false;
        for (uint32_t k = 0; s->members[i].kind == NNRT_ATTR_KIND_INTS2 && k < list.count; k++)
            if (((const NNRT_Int64List *)list.data)[k].count > 0 && ((const NNRT_Int64List *)list.data)[k].data == NULL)
                return false;
    }
    return true;
}

static void nnrti_block_release(const nnrti_block *b, const nnrt_allocator *allocator)
{
    if (b->release != NULL)
        b->release(b->data, b->bytes);
    else
        nnrt_free(allocator, b->data, b->bytes);
}

NNRT_API void nnrt_model_destroy(NNRT_Model *model)
{
    for (nnrti_owned *o = nnrti_owned_of(model); o != NULL;) {
        nnrti_owned *replaced = nnrti_owned_of(o->replaced);
        nnrt_allocator allocator = o->allocator;
        for (uint32_t i = 0; i < o->nAttached; i++)
            nnrti_block_release(&o->attached[i], &allocator);
        nnrt_memory_free(&allocator, o->pieces);
        o->model.self = NULL;
        if (o->bytes > 0) /* 0: it lies in memory of the caller's (nnrt_model_load_into) */
            nnrt_free(&allocator, o, o->bytes);
        o = replaced;
    }
}

NNRT_API NNRT_ReturnCode nnrt_model_attach(NNRT_Model *model, void *block, size_t bytes)
{
    nnrti_owned *o = nnrti_owned_of(model);
    if (o == NULL || block == NULL)
        return NNRT_NULL_PTR;
    if (o->nAttached == NNRTI_MAX_ATTACHED)
        return NNRT_OUT_OF_MEMORY;
    o->attached[o->nAttached].data = block;
    o->attached[o->nAttached++].bytes = bytes;
    return NNRT_SUCCESS;
}

#endif

enum {
    NNRTI_FILE_STRINGS = 1,
    NNRTI_FILE_MODEL,
    NNRTI_FILE_SUBGRAPHS,
    NNRTI_FILE_TENSORS,
    NNRTI_FILE_NODES,
    NNRTI_FILE_LISTS,
    NNRTI_FILE_METADATA,
    NNRTI_FILE_WEIGHTS,
    NNRTI_FILE_DEVICE,
    NNRTI_FILE_PLAN,
    NNRTI_FILE_TYPES
};

#define NNRTI_FILE_ROW 40       /* bytes of a row of the section table */
#define NNRTI_FILE_ALIGNMENT 64 /* of sections, and of constants in them */
#define NNRTI_FILE_CHECKSUM 24  /* where the checksum stands */

static const uint8_t nnrti_file_magic[8] = {0x89, 'N', 'N', 'R', 'T', '\r', '\n', 0x1A};

#ifdef NNRT_FIRMWARE
#define NNRTI_FILE_TENSOR 48 /* it does not read symbols, and so no more than the first writers wrote */
#define NNRTI_FILE_NODE 40
#else
#define NNRTI_FILE_TENSOR 56
#define NNRTI_FILE_NODE 44
#endif
#define NNRTI_FILE_LEAST_NODE 40 /* where no operator is the application's */

/* The name of a section, the bytes of its records now and by the first writers; by type. */
static const struct {
    const char *kind;
    uint8_t record, least;
} nnrti_file_types[NNRTI_FILE_TYPES] = {{NNRTI_LABEL("unknown"), 1, 1},
                                        {NNRTI_LABEL("strings"), 1, 1},
                                        {NNRTI_LABEL("model"), 24, 24},
                                        {NNRTI_LABEL("subgraphs"), 32, 32},
                                        {NNRTI_LABEL("tensors"), NNRTI_FILE_TENSOR, 48},
                                        {NNRTI_LABEL("nodes"), NNRTI_FILE_NODE, NNRTI_FILE_LEAST_NODE},
                                        {NNRTI_LABEL("lists"), 4, 4},
                                        {NNRTI_LABEL("metadata"), 8, 8},
                                        {NNRTI_LABEL("weights"), 1, 1},
                                        {NNRTI_LABEL("device"), 1, 1},
                                        {NNRTI_LABEL("plan"), 1, 1}};

/* Records as they are in the file, on a little-endian machine. Every member is aligned; there is no padding. */
typedef struct nnrti_ref {
    uint32_t at, count;
} nnrti_ref;

typedef struct nnrti_file_header {
    uint8_t magic[8];
    uint32_t version, header;
    uint64_t bytes, checksum;
    uint32_t sections, row;
    uint32_t words; /* 1: in the checksum device sections go by words (nnrti_digest) */
    uint32_t zero[5];
} nnrti_file_header;

typedef struct nnrti_file_row {
    uint32_t type, flags;
    uint64_t offset, bytes;
    uint32_t alignment, record, name, zero;
} nnrti_file_row;

typedef struct nnrti_file_model {
    uint32_t name, zero;
    nnrti_ref inputs, outputs;
} nnrti_file_model;

typedef struct nnrti_file_subgraph {
    uint32_t name, zero;
    nnrti_ref inputs, outputs, nodes;
} nnrti_file_subgraph;

typedef struct nnrti_file_tensor {
    uint32_t name;
    int32_t dataType, format;
    uint32_t flags;
    nnrti_ref dims, quant;
    uint64_t offset;
    uint32_t bytes;
    int32_t quantAxis;
#ifndef NNRT_FIRMWARE
    nnrti_ref symbols;
#endif
} nnrti_file_tensor;

typedef struct nnrti_file_node {
    uint32_t name;
    int32_t nodeType, quantType;
    uint32_t shape;
    nnrti_ref attr, inputs, outputs;
#ifndef NNRT_FIRMWARE
    uint32_t op; /* not in records of NNRTI_FILE_LEAST_NODE bytes */
#endif
} nnrti_file_node;

/* The file's records and lists are these structs: a machine on which they are not cannot compile this. */
typedef char nnrti_file_fits[sizeof(nnrti_file_header) == NNRT_FILE_HEADER && sizeof(nnrti_file_row) == 40 &&
                                     sizeof(nnrti_file_model) == 24 && sizeof(nnrti_file_subgraph) == 32 &&
                                     sizeof(nnrti_file_tensor) == NNRTI_FILE_TENSOR &&
                                     sizeof(nnrti_file_node) == NNRTI_FILE_NODE && sizeof(NNRT_QuantParam) == 16
                                 ? 1
                                 : -1];

static bool nnrti_little_endian(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* The kind that says how a file has an attribute. */
static nnrt_attr_kind nnrti_file_kind(const nnrt_attr_member *m)
{
    switch (m->kind) {
    case NNRT_ATTR_KIND_INT64: return NNRT_ATTR_KIND_INT;
    case NNRT_ATTR_KIND_INTS64: return NNRT_ATTR_KIND_INTS;
    case NNRT_ATTR_KIND_TYPE: return m->bytes == sizeof(int64_t) ? NNRT_ATTR_KIND_INT : NNRT_ATTR_KIND_ENUM;
    default: return m->kind;
    }
}

/* Shape of the first count attributes of s. */
static uint32_t nnrti_file_shape(const nnrt_attr_struct *s, uint32_t count)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = s->members[i].name;
        for (; *name != '\0'; name++)
            h = (h ^ (uint8_t)*name) * 16777619u;
        h = (h ^ 0u) * 16777619u;
        h = (h ^ (uint32_t)nnrti_file_kind(&s->members[i])) * 16777619u;
    }
    return h;
}

NNRT_API bool nnrt_file_is(const void *data, size_t bytes)
{
    return data != NULL && bytes >= NNRT_FILE_HEADER &&
           nnrti_bytes_equal(data, nnrti_file_magic, sizeof(nnrti_file_magic));
}

#ifndef NNRT_FIRMWARE

/* A digest of weights and device sections, by words of 8 bytes on four lanes: FNV-1a takes one byte after the other,
   and ten times as long as reading them. The shift brings high bits down again, as a product only moves bits up. */
static uint64_t nnrti_digest(uint64_t hash, const uint8_t *data, size_t bytes)
{
    uint64_t lane[4] = {hash, hash ^ 1, hash ^ 2, hash ^ 3}, word[4];
    size_t i = 0;
    for (; bytes - i >= sizeof(word); i += sizeof(word)) {
        memcpy(word, data + i, sizeof(word));
        for (uint32_t k = 0; k < 4; k++) {
            lane[k] = (lane[k] ^ word[k]) * (uint64_t)0x9E3779B97F4A7C15u;
            lane[k] ^= lane[k] >> 29;
        }
    }
    hash = nnrti_fnv64(hash, (const uint8_t *)lane, sizeof(lane));
    return nnrti_fnv64(hash, data + i, bytes - i);
}

NNRT_API const char *nnrt_file_guess(const void *data, size_t bytes)
{
    static const struct {
        size_t at, n;
        const char *magic, *kind;
    } known[] = {{0, 8, "\x89NNRT\r\n\x1A", "a .nnrt file"},
                 {0, 4, "\x89PNG", "a PNG image"},
                 {0, 3, "\xFF\xD8\xFF", "a JPEG image"},
                 {0, 8, "\x89HDF\r\n\x1A\n", "an HDF5 file, perhaps of Keras: export it as ONNX"},
                 {4, 4, "TFL3", "a TensorFlow Lite model: convert it to ONNX"},
                 {0, 4, "GGUF", "a GGUF file"},
                 {0, 6, "\x93NUMPY", "an array of NumPy"},
                 {0, 2, "\x1F\x8B", "compressed by gzip: unpack it"},
                 {8, 2, "{\"", "a SafeTensors file, which has weights and no graph"},
                 {0, 8, "version ", "a pointer of Git LFS: fetch the file itself"},
                 {0, 2, "\x80\x02", "a Python pickle, perhaps of PyTorch: export the model as ONNX"},
                 {0, 2, "\x80\x04", "a Python pickle: export the model as ONNX"},
                 {0, 4, "\x7F" "ELF", "an ELF executable or library"},
                 {0, 4, "\xCF\xFA\xED\xFE", "a Mach-O executable or library"},
                 {0, 4, "MZ\x90\x00", "a Windows executable or library"},
                 {0, 4, "%PDF", "a PDF document"},
                 {0, 4, "GIF8", "a GIF image"},
                 {0, 4, "RIFF", "a RIFF file, such as WAV or WebP"},
                 {0, 3, "BZh", "compressed by bzip2: unpack it"},
                 {0, 6, "\xFD" "7zXZ\x00", "compressed by xz: unpack it"},
                 {0, 4, "\x28\xB5\x2F\xFD", "compressed by Zstandard: unpack it"},
                 {0, 1, "<", "a page of HTML or XML"},
                 {0, 1, "{", "a text of JSON"}};
    const uint8_t *p = (const uint8_t *)data;
    size_t text = 0;
    if (data == NULL)
        return NULL;
    if (bytes == 0)
        return "an empty file";
    if (bytes >= 4 && nnrti_bytes_equal(p, "PK\x03\x04", 4)) { /* the first member of a PyTorch file is NAME/data.pkl */
        for (size_t i = 30; i + 8 <= bytes && i < 256; i++)
            if (nnrti_bytes_equal(p + i, "data.pkl", 8))
                return "a PyTorch file: export the model as ONNX (torch.onnx.export)";
        return "a zip archive";
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (bytes >= known[i].at + known[i].n && nnrti_bytes_equal(p + known[i].at, known[i].magic, known[i].n))
            return known[i].kind;
    if (bytes >= 3 && p[0] == 8 && p[1] > 0 && p[1] < 32 && (p[2] & 7) == 2)
        return "an ONNX model: nnrt convert makes .nnrt files of them";
    while (text < bytes && text < 256 && (p[text] >= ' ' || p[text] == '\t' || p[text] == '\n' || p[text] == '\r') &&
           p[text] < 0x7F)
        text++;
    return text == bytes || text == 256 ? "a text" : NULL;
}

/* The fault of a file of another kind: "is no .nnrt file; it looks like a PNG image". */
static NNRT_ReturnCode nnrti_file_no_file(nnrt_error *error, const char *name, const void *data, size_t bytes)
{
    const char *kind = nnrt_file_guess(data, bytes);
    if (kind != NULL && nnrti_bytes_equal(data, nnrti_file_magic, 2))
        kind = NULL; /* it begins like one, and is broken */
    return nnrt_error_set(error, NNRT_INVALID_FILE, "%s is no .nnrt file%s%s", name,
                          kind != NULL ? "; it looks like " : "", kind != NULL ? kind : "");
}

/* The prepared form of a device, which a file stores as a device section. */
typedef struct nnrti_form {
    struct nnrti_form *next;
    const char *device;
    const uint8_t *data;
    size_t bytes;  /* of data */
    size_t block;  /* of the allocation that begins with this struct: with new data, and with the name */
    bool packed;   /* prepacked weights for the whole model .. */
    uint64_t hash; /* .. with this digest */
} nnrti_form;

/* An nnrt_cache begins with the pointer to its first form. */
static const nnrti_form *nnrti_forms_of(const struct nnrt_cache *cache)
{
    return cache != NULL ? *(nnrti_form *const *)(const void *)cache : NULL;
}

/* Receives the bytes of a file in order, bytes > 0. */
typedef void (*nnrti_write)(void *user, const void *data, size_t bytes);

/* The writer walks over the whole model once per section; each walk emits the bytes of that section and counts those
   of the others. So a reference to another section always equals its final offset. section 0 emits nothing. */
typedef struct nnrti_writer {
    const NNRT_Model *model;
    nnrt_save_desc desc;
    nnrti_file_header header;
    uint32_t section;
    size_t used[NNRTI_FILE_TYPES], total[NNRTI_FILE_TYPES]; /* bytes in this walk, and in all */
    bool full;                                              /* a section exceeds the range of its numbers */
    bool bare;                                              /* the model has no nodes */
    bool own;                                               /* it has nodes of operators of the application */
    bool digest, light; /* the hash is the digest of the model; light: without its weights */
    nnrti_write write;  /* NULL: only the hash is computed */
    void *user;
    uint64_t at, hash;
} nnrti_writer;

static void nnrti_writer_emit(nnrti_writer *w, const void *data, size_t bytes)
{
    if (bytes == 0)
        return;
    if (w->digest && w->section == NNRTI_FILE_WEIGHTS)
        w->hash = w->light ? w->hash : nnrti_digest(w->hash, (const uint8_t *)data, bytes);
    else if (w->bare && w->section == NNRTI_FILE_DEVICE)
        w->hash = nnrti_digest(w->hash, (const uint8_t *)data, bytes);
    else
        w->hash = nnrti_fnv64(w->hash, (const uint8_t *)data, bytes);
    if (w->write != NULL)
        w->write(w->user, data, bytes);
    w->at += bytes;
}

static void nnrti_writer_put(nnrti_writer *w, uint32_t section, const void *data, size_t bytes)
{
    if (w->section == section)
        nnrti_writer_emit(w, data, bytes);
    w->full = w->full || !nnrt_add_size(w->used[section], bytes, &w->used[section]) ||
              w->used[section] > SIZE_MAX - 2 * NNRTI_FILE_ALIGNMENT ||
              (section == NNRTI_FILE_STRINGS && w->used[section] > UINT32_MAX) ||
              (section == NNRTI_FILE_LISTS && w->used[section] / 4 > UINT32_MAX);
}

/* Zeros up to a multiple of alignment (at most 64). */
static void nnrti_writer_pad(nnrti_writer *w, uint32_t section, size_t alignment)
{
    static const uint8_t zeros[NNRTI_FILE_ALIGNMENT] = {0};
    nnrti_writer_put(w, section, zeros, (alignment - w->used[section] % alignment) % alignment);
}

static uint32_t nnrti_writer_text(nnrti_writer *w, const char *text)
{
    const uint32_t at = (uint32_t)w->used[NNRTI_FILE_STRINGS];
    if (text == NULL || *text == '\0')
        return 0;
    nnrti_writer_put(w, NNRTI_FILE_STRINGS, text, strlen(text) + 1);
    return at;
}

/* The list at `at`. width: 4, or a multiple of 8 for entries at even words. */
static nnrti_ref nnrti_writer_list(nnrti_writer *w, const void *at, size_t width)
{
    const nnrti_any_list list = nnrti_list_at(at);
    nnrti_ref ref = {0, 0};
    size_t bytes;
    if (list.count == 0 || list.data == NULL)
        return ref;
    nnrti_writer_pad(w, NNRTI_FILE_LISTS, width == 4 ? 4 : 8);
    ref.at = (uint32_t)(w->used[NNRTI_FILE_LISTS] / 4);
    ref.count = list.count;
    if (nnrt_mul_size(list.count, width, &bytes))
        nnrti_writer_put(w, NNRTI_FILE_LISTS, list.data, bytes);
    else
        w->full = true;
    return ref;
}

/* The lists first, all in one row, then where each stands. */
static nnrti_ref nnrti_writer_lists(nnrti_writer *w, const NNRT_Int64Lists *lists)
{
    nnrti_ref each, ref = {0, 0};
    uint32_t at;
    if (lists->count == 0 || lists->data == NULL)
        return ref;
    nnrti_writer_pad(w, NNRTI_FILE_LISTS, 8);
    at = (uint32_t)(w->used[NNRTI_FILE_LISTS] / 4);
    for (uint32_t k = 0; k < lists->count; k++)
        (void)nnrti_writer_list(w, &lists->data[k], 8);
    ref.at = (uint32_t)(w->used[NNRTI_FILE_LISTS] / 4);
    ref.count = lists->count;
    for (uint32_t k = 0; k < lists->count; k++) {
        each.count = lists->data[k].count;
        each.at = each.count > 0 ? at : 0;
        at += 2u * each.count;
        nnrti_writer_put(w, NNRTI_FILE_LISTS, &each, sizeof(each));
    }
    return ref;
}

/* The 8 bytes of one attribute. */
static uint64_t nnrti_writer_attr(nnrti_writer *w, const nnrt_attr_member *m, const uint8_t *at)
{
    uint64_t slot = 0;
    uint32_t bits;
    int32_t value;
    nnrti_ref ref;
    bool flag;
    switch (nnrti_file_kind(m)) {
    case NNRT_ATTR_KIND_BOOL: memcpy(&flag, at, sizeof(flag)); return flag ? 1 : 0;
    case NNRT_ATTR_KIND_INT:
    case NNRT_ATTR_KIND_DOUBLE: memcpy(&slot, at, sizeof(slot)); return slot;
    case NNRT_ATTR_KIND_ENUM: memcpy(&value, at, sizeof(value)); return (uint64_t)(int64_t)value;
    case NNRT_ATTR_KIND_GRAPH:
    case NNRT_ATTR_KIND_FLOAT: memcpy(&bits, at, sizeof(bits)); return bits;
    case NNRT_ATTR_KIND_STRING: return nnrti_writer_text(w, nnrti_text_at(at));
    case NNRT_ATTR_KIND_INTS: ref = nnrti_writer_list(w, at, sizeof(int64_t)); break;
    case NNRT_ATTR_KIND_FLOATS: ref = nnrti_writer_list(w, at, sizeof(float)); break;
    case NNRT_ATTR_KIND_INTS2: ref = nnrti_writer_lists(w, (const NNRT_Int64Lists *)(const void *)at); break;
    default: return 0;
    }
    memcpy(&slot, &ref, sizeof(slot));
    return slot;
}

/* Attributes of a node up to the first that its struct does not have. */
static void nnrti_writer_attrs(nnrti_writer *w, const NNRT_Node *n, nnrti_file_node *record)
{
    const nnrt_attr_struct *s = nnrt_op_find(n->nodeType)->attr;
    const uint8_t *const attr = (const uint8_t *)n->nodeAttr.data;
    uint64_t slots[NNRTI_OP_MEMBERS_MOST];
    nnrti_any_list list;
    list.data = slots;
    for (list.count = 0; attr != NULL && list.count < s->count && list.count < NNRTI_OP_MEMBERS_MOST; list.count++) {
        const nnrt_attr_member *m = &s->members[list.count];
        if (m->offset + m->bytes > n->nodeAttr.size)
            break;
        slots[list.count] = nnrti_writer_attr(w, m, attr + m->offset);
    }
    record->shape = nnrti_file_shape(s, list.count);
    record->attr = nnrti_writer_list(w, &list, 8);
}

#define NNRTI_FILE_CHUNK 4194304u /* bytes between two calls of progress */

/* A constant, with progress: once at its end, and on the way in a large one. */
static void nnrti_writer_constant(nnrti_writer *w, const uint8_t *data, size_t bytes)
{
    size_t part;
    do {
        part = bytes > NNRTI_FILE_CHUNK && w->section == NNRTI_FILE_WEIGHTS ? NNRTI_FILE_CHUNK : bytes;
        nnrti_writer_put(w, NNRTI_FILE_WEIGHTS, data, part);
        if (w->section == NNRTI_FILE_WEIGHTS && w->desc.progress != NULL)
            w->desc.progress(w->desc.user, w->at, w->header.bytes);
        data += part;
        bytes -= part;
    } while (bytes > 0);
}

static void nnrti_writer_tensor(nnrti_writer *w, const NNRT_Tensor *t)
{
    nnrti_file_tensor record;
    memset(&record, 0, sizeof(record));
    record.name = nnrti_writer_text(w, t->name);
    record.dataType = t->dataType;
    record.format = t->format;
    record.dims = nnrti_writer_list(w, &t->dims, 4);
    record.quant = nnrti_writer_list(w, &t->quantParams, sizeof(NNRT_QuantParam));
    record.quantAxis = t->quantAxis;
    record.symbols = nnrti_writer_list(w, &t->symbols, 4);
    if (nnrti_is_constant(t)) {
        nnrti_writer_pad(w, NNRTI_FILE_WEIGHTS, NNRTI_FILE_ALIGNMENT);
        record.flags = 1;
        record.offset = w->used[NNRTI_FILE_WEIGHTS];
        record.bytes = t->data.dataSize;
        nnrti_writer_constant(w, (const uint8_t *)nnrti_buffer_data(&t->data), t->data.dataSize);
    }
    nnrti_writer_put(w, NNRTI_FILE_TENSORS, &record, sizeof(record));
}

/* Bytes of a record of a section. */
static uint32_t nnrti_writer_record(const nnrti_writer *w, uint32_t type)
{
    return type == NNRTI_FILE_NODES && !w->own ? NNRTI_FILE_LEAST_NODE : nnrti_file_types[type].record;
}

static void nnrti_writer_node(nnrti_writer *w, const NNRT_Node *n)
{
    nnrti_file_node record;
    memset(&record, 0, sizeof(record));
    record.name = nnrti_writer_text(w, n->name);
    record.nodeType = n->nodeType;
    record.quantType = n->quantType;
    nnrti_writer_attrs(w, n, &record);
    record.inputs = nnrti_writer_list(w, &n->inputIndex, 4);
    record.outputs = nnrti_writer_list(w, &n->outputIndex, 4);
    if (n->nodeType < 0) {
        record.nodeType = -1;
        record.op = nnrti_writer_text(w, nnrt_op_find(n->nodeType)->name);
    }
    nnrti_writer_put(w, NNRTI_FILE_NODES, &record, nnrti_writer_record(w, NNRTI_FILE_NODES));
}

static void nnrti_writer_subgraph(nnrti_writer *w, const NNRT_SubGraph *g)
{
    nnrti_file_subgraph record;
    memset(&record, 0, sizeof(record));
    record.name = nnrti_writer_text(w, g->name);
    record.inputs = nnrti_writer_list(w, &g->inputIndices, 4);
    record.outputs = nnrti_writer_list(w, &g->outputIndices, 4);
    record.nodes = nnrti_writer_list(w, &g->nodeIndices, 4);
    nnrti_writer_put(w, NNRTI_FILE_SUBGRAPHS, &record, sizeof(record));
}

/* One walk over the model, for the bytes of one section. */
static void nnrti_writer_walk(nnrti_writer *w, uint32_t section)
{
    const NNRT_Model *const m = w->model;
    nnrti_file_model record;
    w->section = section;
    memset(w->used, 0, sizeof(w->used));
    memset(&record, 0, sizeof(record));
    nnrti_writer_put(w, NNRTI_FILE_STRINGS, "", 1);
    for (const nnrti_form *f = nnrti_forms_of(w->desc.cache); f != NULL; f = f->next)
        (void)nnrti_writer_text(w, f->device); /* first: nnrti_writer_table computes their offsets */
    record.name = nnrti_writer_text(w, m->name);
    record.inputs = nnrti_writer_list(w, &m->inputIndex, 4);
    record.outputs = nnrti_writer_list(w, &m->outputIndex, 4);
    nnrti_writer_put(w, NNRTI_FILE_MODEL, &record, sizeof(record));
    for (uint32_t i = 0; i < m->subGraph.count; i++)
        nnrti_writer_subgraph(w, &m->subGraph.data[i]);
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        nnrti_writer_tensor(w, &m->allTensors.data[i]);
    for (uint32_t i = 0; i < m->nodes.count; i++)
        nnrti_writer_node(w, &m->nodes.data[i]);
    for (uint32_t i = 0; i < w->desc.metadataCount; i++) {
        uint32_t pair[2];
        pair[0] = nnrti_writer_text(w, w->desc.metadata[i].key);
        pair[1] = nnrti_writer_text(w, w->desc.metadata[i].value);
        nnrti_writer_put(w, NNRTI_FILE_METADATA, pair, sizeof(pair));
    }
}

/* Sections without bytes are left out, except for the weights. */
static bool nnrti_writer_has(const nnrti_writer *w, uint32_t type)
{
    return w->total[type] > 0 || type == NNRTI_FILE_WEIGHTS;
}

/* The earliest version whose readers understand the model: readers of version 1 ignore quantAxis. */
static uint32_t nnrti_writer_version(const NNRT_Model *m)
{
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        if (m->allTensors.data[i].quantAxis != 0)
            return 2;
    return 1;
}

/* The row of the section that follows offset *at, which then is its end; emit false: only counts. False: a size
   overflows. */
static bool nnrti_writer_row(nnrti_writer *w, uint32_t type, size_t bytes, size_t name, size_t *at, bool emit)
{
    nnrti_file_row row;
    if (!nnrt_round_size(*at, NNRTI_FILE_ALIGNMENT, at))
        return false;
    memset(&row, 0, sizeof(row));
    row.type = type;
    row.offset = *at;
    row.bytes = bytes;
    row.alignment = NNRTI_FILE_ALIGNMENT;
    row.record = nnrti_writer_record(w, type);
    row.name = (uint32_t)name;
    if (emit)
        nnrti_writer_emit(w, &row, sizeof(row));
    return nnrt_add_size(*at, bytes, at);
}

/* The section table; emit false: only computes the bytes of the file. */
static bool nnrti_writer_table(nnrti_writer *w, bool emit)
{
    size_t at = NNRT_FILE_HEADER + (size_t)w->header.sections * NNRTI_FILE_ROW, name = 1;
    for (uint32_t type = 1; type < NNRTI_FILE_DEVICE; type++)
        if (nnrti_writer_has(w, type) && !nnrti_writer_row(w, type, w->total[type], 0, &at, emit))
            return false;
    for (const nnrti_form *f = nnrti_forms_of(w->desc.cache); f != NULL; f = f->next) {
        if (!nnrti_writer_row(w, NNRTI_FILE_DEVICE, f->bytes, name, &at, emit))
            return false;
        name += strlen(f->device) + 1;
    }
    if (!nnrt_round_size(at, NNRTI_FILE_ALIGNMENT, &at))
        return false;
    w->header.bytes = at;
    return true;
}

/* Counts the sections and completes the header; false: a size overflows. */
static bool nnrti_writer_lay(nnrti_writer *w)
{
    nnrti_file_header *const h = &w->header;
    nnrti_writer_walk(w, 0);
    memcpy(w->total, w->used, sizeof(w->total));
    memcpy(h->magic, nnrti_file_magic, sizeof(h->magic));
    h->version = nnrti_writer_version(w->model);
    h->header = NNRT_FILE_HEADER;
    h->row = NNRTI_FILE_ROW;
    h->words = w->bare;
    for (uint32_t type = 1; type < NNRTI_FILE_DEVICE; type++)
        h->sections += nnrti_writer_has(w, type);
    for (const nnrti_form *f = nnrti_forms_of(w->desc.cache); f != NULL; f = f->next)
        h->sections++;
    return !w->full && nnrti_writer_table(w, false);
}

/* Zeros up to the start of the next section. */
static void nnrti_writer_align(nnrti_writer *w)
{
    static const uint8_t zeros[NNRTI_FILE_ALIGNMENT] = {0};
    w->section = 0;
    nnrti_writer_emit(w, zeros, (size_t)(0 - w->at) % NNRTI_FILE_ALIGNMENT);
}

/* Emits the whole file. Its checksum field is still 0; w->hash is the final value. */
static void nnrti_writer_all(nnrti_writer *w, nnrti_write write, void *user)
{
    w->write = write;
    w->user = user;
    w->at = 0;
    w->hash = NNRTI_FNV64;
    nnrti_writer_emit(w, &w->header, sizeof(w->header));
    (void)nnrti_writer_table(w, true); /* the sizes were checked */
    for (uint32_t type = 1; type < NNRTI_FILE_DEVICE; type++)
        if (nnrti_writer_has(w, type)) {
            nnrti_writer_align(w);
            nnrti_writer_walk(w, type);
        }
    for (const nnrti_form *f = nnrti_forms_of(w->desc.cache); f != NULL; f = f->next) {
        nnrti_writer_align(w);
        w->section = NNRTI_FILE_DEVICE;
        nnrti_writer_emit(w, f->data, f->bytes);
    }
    nnrti_writer_align(w);
}

static NNRT_ReturnCode nnrti_save_metadata(const nnrt_save_desc *desc, nnrt_error *error)
{
    if (desc->metadataCount > 0 && desc->metadata == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "counts %u metadata, but has none", desc->metadataCount);
    for (uint32_t i = 0; i < desc->metadataCount; i++) {
        const char *key = desc->metadata[i].key;
        if (key == NULL || *key == '\0' || desc->metadata[i].value == NULL)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "metadata %u has no %s", i,
                                  desc->metadata[i].value == NULL ? "value" : "key");
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(desc->metadata[k].key, key) == 0)
                return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "metadata %u and %u both have the key '%s'", k, i,
                                      key);
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_forms_fit(const NNRT_Model *m, const nnrt_save_desc *desc, nnrt_error *error);

/* Checks that the model can be written, then computes the layout. bare: the model has no nodes. */
static NNRT_ReturnCode nnrti_save_begin(nnrti_writer *w, const NNRT_Model *m, bool bare, const nnrt_save_desc *desc,
                                        nnrt_error *error)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrt_memory memory;
    memset(w, 0, sizeof(*w));
    w->model = m;
    w->bare = bare;
    if (desc != NULL)
        w->desc = *desc;
    if (!nnrti_little_endian())
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "a big-endian machine cannot write .nnrt files");
    nnrt_memory_allocate(&memory, w->desc.allocator);
    if (!bare)
        code = nnrt_model_check(m, &memory, NULL, error);
    nnrt_memory_end(&memory);
    for (uint32_t i = 0; code == NNRT_SUCCESS && i < m->nodes.count; i++) {
        const NNRT_Node *n = &m->nodes.data[i];
        const nnrt_attr_struct *s = nnrt_op_find(n->nodeType)->attr;
        w->own = w->own || n->nodeType < 0;
        if (n->nodeAttr.data != NULL && n->nodeAttr.size >= s->bytes && !nnrti_attr_lists(s, n->nodeAttr.data))
            code = nnrt_error_set(error, NNRT_NULL_PTR, "node %u '%s': a list of its attributes has no data", i,
                                  nnrti_text_of(n->name));
    }
    if (code == NNRT_SUCCESS)
        code = nnrti_save_metadata(&w->desc, error);
    if (code == NNRT_SUCCESS && !bare)
        code = nnrti_forms_fit(m, &w->desc, error);
    if (code == NNRT_SUCCESS && !nnrti_writer_lay(w))
        code = nnrt_error_set(error, NNRT_NOT_SUPPORT, "the model is too large for a .nnrt file");
    return code;
}

/* *hash = a digest of m as a .nnrt file, which is not made. All of its weights are read, so that a model with other
   weights has another digest; light: none are read. */
static NNRT_ReturnCode nnrti_model_digest(const NNRT_Model *m, const nnrt_allocator *allocator, bool light,
                                          uint64_t *hash)
{
    nnrt_save_desc desc;
    NNRT_ReturnCode code;
    nnrti_writer w;
    memset(&desc, 0, sizeof(desc));
    desc.allocator = allocator;
    code = nnrti_save_begin(&w, m, false, &desc, NULL);
    w.digest = true;
    w.light = light;
    if (code == NNRT_SUCCESS)
        nnrti_writer_all(&w, NULL, NULL);
    *hash = w.hash;
    return code;
}

/* Rule: prepacked weights that are saved with a model are of that model. */
static NNRT_ReturnCode nnrti_forms_fit(const NNRT_Model *m, const nnrt_save_desc *desc, nnrt_error *error)
{
    NNRT_ReturnCode code;
    uint64_t hash = 0;
    bool known = false;
    for (const nnrti_form *f = nnrti_forms_of(desc->cache); f != NULL; f = f->next) {
        if (!f->packed)
            continue;
        if (!known && (code = nnrti_model_digest(m, desc->allocator, false, &hash)) != NNRT_SUCCESS)
            return code;
        known = true;
        if (hash != f->hash)
            return nnrt_error_set(error, NNRT_INVALID_MODEL_CACHE,
                                  "the packed weights of device '%s' are of another model than the one that is saved",
                                  f->device);
    }
    return NNRT_SUCCESS;
}

/* nnrti_write into memory. */
static void nnrti_save_copy(void *user, const void *data, size_t bytes)
{
    uint8_t **at = (uint8_t **)user;
    memcpy(*at, data, bytes);
    *at += bytes;
}

static NNRT_ReturnCode nnrti_save_memory(const NNRT_Model *model, bool bare, const nnrt_save_desc *desc, void *out,
                                         size_t size, size_t *bytes, nnrt_error *error)
{
    uint8_t *at = (uint8_t *)out;
    NNRT_ReturnCode code;
    nnrti_writer w;
    if (bytes == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_model_save_memory: bytes is NULL");
    *bytes = 0;
    if ((code = nnrti_save_begin(&w, model, bare, desc, error)) != NNRT_SUCCESS)
        return code;
    *bytes = (size_t)w.header.bytes;
    if (out == NULL)
        return NNRT_SUCCESS;
    if (size < *bytes)
        return nnrt_error_set(error, NNRT_INSUFFICIENT_BUFFER, "the file has %z bytes, the buffer %z", *bytes, size);
    nnrti_writer_all(&w, nnrti_save_copy, &at);
    memcpy((uint8_t *)out + NNRTI_FILE_CHECKSUM, &w.hash, sizeof(w.hash));
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_model_save_memory(const NNRT_Model *model, const nnrt_save_desc *desc, void *out,
                                                size_t size, size_t *bytes, nnrt_error *error)
{
    nnrt_error_clear(error);
    return nnrti_save_memory(model, false, desc, out, size, bytes, error);
}

#endif /* NNRT_FIRMWARE */

/* A file that is read. Its sections have been found to lie inside it. */
typedef struct nnrti_reader {
    const uint8_t *data;
    struct {
        const uint8_t *data;
        size_t bytes, record;
        uint32_t count; /* records */
    } sections[NNRTI_FILE_TYPES];
    size_t texts, words, weights; /* bytes of strings, words of lists, bytes of weights: not used by anything yet */
    nnrt_memory *memory;
    nnrt_error *error;
    NNRT_ReturnCode code; /* the first fault */
#ifndef NNRT_FIRMWARE
    bool cache;     /* without nodes it is one, which may be */
    bool strangers; /* operators need not be registered */
#endif
} nnrti_reader;

/* Records that the file is wrong; false. */
NNRTI_COLD static bool nnrti_reader_fail(nnrti_reader *r, const char *what, uint32_t index, const char *fault)
{
    if (r->code == NNRT_SUCCESS)
        r->code =
            nnrt_error_set(r->error, NNRT_INVALID_FILE, "the .nnrt file is broken: %s %u: %s", what, index, fault);
    return false;
}

#ifdef NNRT_NO_MESSAGES
static bool nnrti_reader_wrong(nnrti_reader *r)
{
    if (r->code == NNRT_SUCCESS)
        r->code = nnrti_error_code(r->error, NNRT_INVALID_FILE);
    return false;
}
#define nnrti_reader_fail(r, what, index, fault)                                                                       \
    ((void)(0 && nnrti_reader_fail(r, what, index, fault)), nnrti_reader_wrong(r))
#endif

/* *out = v; false where it does not fit. */
static bool nnrti_file_fits_size(uint64_t v, size_t *out)
{
    *out = (size_t)v;
    return (uint64_t)*out == v;
}

/* Kept memory for count things of `bytes` bytes; NULL and a recorded fault when there is none. */
static void *nnrti_reader_keep(nnrti_reader *r, size_t count, size_t bytes)
{
    void *block = nnrt_memory_keep_array(r->memory, count, bytes);
    if (block == NULL && r->code == NNRT_SUCCESS)
        r->code = nnrt_error_set(r->error, NNRT_OUT_OF_MEMORY, "there is not enough memory to load the model");
    return block;
}

/* *out = record i of a section: without members that later versions appended, zeros for members that earlier versions
   lack. */
static void nnrti_reader_record(const nnrti_reader *r, uint32_t section, uint32_t i, void *out)
{
    const size_t known = nnrti_file_types[section].record, has = r->sections[section].record;
#ifdef NNRT_FIRMWARE
    const size_t bytes = known;
#else
    const size_t bytes = has < known ? has : known;
    memset(out, 0, known);
#endif
    memcpy(out, r->sections[section].data + i * has, bytes);
}

/* A text begins behind the 0 of another one, and all together are no longer than the strings: copying the model takes
   no more than the file justifies. */
static bool nnrti_reader_text(nnrti_reader *r, uint32_t at, const char **text, const char *what, uint32_t index)
{
    const uint8_t *strings = r->sections[NNRTI_FILE_STRINGS].data;
    size_t bytes = 0;
    if (at >= r->sections[NNRTI_FILE_STRINGS].bytes || (at > 0 && strings[at - 1] != 0))
        return nnrti_reader_fail(r, what, index, "a text is not where it says");
    *text = (const char *)(strings + at);
    while (at > 0 && (bytes == 0 || (*text)[bytes - 1] != '\0'))
        bytes++;
    if (bytes > r->texts)
        return nnrti_reader_fail(r, what, index, "its text is also another one's");
    r->texts -= bytes;
    return true;
}

/* The list struct at `at` = the entries of a list, in place; data NULL if it has none. */
static bool nnrti_reader_list(nnrti_reader *r, const nnrti_ref *ref, size_t width, void *at, const char *what,
                              uint32_t index)
{
    const size_t all = r->sections[NNRTI_FILE_LISTS].bytes / 4;
    const void *data = NULL;
    size_t words = 0;
    if (ref->count != 0) {
        if (!nnrt_mul_size(ref->count, width / 4, &words) || ref->at > all || words > all - ref->at ||
            (width > 4 && ref->at % 2 != 0))
            return nnrti_reader_fail(r, what, index, "a list is not inside the lists");
        if (words > r->words)
            return nnrti_reader_fail(r, what, index, "its list is also another one's");
        data = r->sections[NNRTI_FILE_LISTS].data + (size_t)ref->at * 4;
    }
    r->words -= words;
    memcpy(at, &data, sizeof(data));
    memcpy((uint8_t *)at + offsetof(nnrti_any_list, count), &ref->count, sizeof(ref->count));
    return true;
}

static bool nnrti_reader_lists(nnrti_reader *r, const nnrti_ref *ref, void *at, const char *what, uint32_t index)
{
    nnrti_any_list inner;
    NNRT_Int64List *each;
    nnrti_ref one;
    if (!nnrti_reader_list(r, ref, sizeof(one), &inner, what, index))
        return false;
    each = inner.count > 0 ? (NNRT_Int64List *)nnrti_reader_keep(r, inner.count, sizeof(*each)) : NULL;
    for (uint32_t k = 0; each != NULL && k < inner.count; k++) {
        memcpy(&one, (const uint8_t *)inner.data + k * sizeof(one), sizeof(one));
        if (!nnrti_reader_list(r, &one, sizeof(int64_t), &each[k], what, index))
            return false;
    }
    inner.data = each;
    memcpy(at, &inner, sizeof(inner));
    return each != NULL || inner.count == 0;
}

/* The attribute m, whose 8 bytes are slot, into its place in the struct. */
static bool nnrti_reader_attr(nnrti_reader *r, const nnrt_attr_member *m, uint64_t slot, uint8_t *at, uint32_t index)
{
    const char *const what = "attributes of node";
    const bool flag = slot == 1;
    const uint32_t bits = (uint32_t)slot;
    const uint64_t top = slot >> 31; /* all equal: the value is an int32_t */
    nnrti_ref ref;
    memcpy(&ref, &slot, sizeof(ref));
    switch (nnrti_file_kind(m)) {
    case NNRT_ATTR_KIND_BOOL:
        memcpy(at, &flag, sizeof(flag));
        return slot <= 1 || nnrti_reader_fail(r, what, index, "a bool is neither 0 nor 1");
    case NNRT_ATTR_KIND_INT: memcpy(at, &slot, sizeof(slot)); return true;
    case NNRT_ATTR_KIND_ENUM:
        memcpy(at, &bits, sizeof(bits));
        return top == 0 || top == ((uint64_t)1 << 33) - 1 || nnrti_reader_fail(r, what, index, "a number does not fit");
    case NNRT_ATTR_KIND_FLOAT:
        memcpy(at, &bits, sizeof(bits));
        return slot >> 32 == 0 || nnrti_reader_fail(r, what, index, "a float has more than 32 bits");
    case NNRT_ATTR_KIND_INTS: return nnrti_reader_list(r, &ref, sizeof(int64_t), at, what, index);
    case NNRT_ATTR_KIND_INTS2:
        return !NNRTI_HAS(INTS2) || nnrti_reader_lists(r, &ref, at, what, index);
    default: break;
    }
    if (NNRTI_HAS(DOUBLE) && m->kind == NNRT_ATTR_KIND_DOUBLE)
        memcpy(at, &slot, sizeof(slot));
    if (NNRTI_HAS(GRAPH) && m->kind == NNRT_ATTR_KIND_GRAPH) {
        memcpy(at, &bits, sizeof(bits));
        return slot >> 32 == 0 || nnrti_reader_fail(r, what, index, "a subgraph has more than 32 bits");
    }
    if (NNRTI_HAS(STRING) && m->kind == NNRT_ATTR_KIND_STRING)
        return slot >> 32 == 0 ? nnrti_reader_text(r, bits, (const char **)(void *)at, what, index)
                               : nnrti_reader_fail(r, what, index, "a text has more than 32 bits");
    return !NNRTI_HAS(FLOATS) || m->kind != NNRT_ATTR_KIND_FLOATS ||
           nnrti_reader_list(r, &ref, sizeof(float), at, what, index);
}

#ifdef NNRT_FIRMWARE
#define nnrti_reader_own(r, record, n, index) true
#else
/* The operator of the application that a node is of, by its name; record gets its number here. */
static bool nnrti_reader_own(nnrti_reader *r, nnrti_file_node *record, NNRT_Node *n, uint32_t index)
{
    const char *name = "";
    const nnrt_op *op;
    if (record->nodeType >= 0)
        return record->op == 0 || nnrti_reader_fail(r, "node", index, "names the operator whose number it has");
    if (!nnrti_reader_text(r, record->op, &name, "node", index))
        return false;
    op = nnrt_op_named(name);
    if (!nnrti_is_op_name(name) || (op != NULL && op->type > 0))
        return nnrti_reader_fail(r, "node", index, "its operator is none of the application");
    record->nodeType = n->nodeType = op != NULL ? op->type : NNRTI_STRANGER;
    if (op == NULL && !r->strangers && r->code == NNRT_SUCCESS)
        r->code = nnrt_error_set(r->error, NNRT_UNSUPPORTED_OP,
                                 "node %u '%s': its operator '%s' is not registered (nnrt_op_register)", index, n->name,
                                 name);
    return op != NULL || r->strangers;
}
#endif

/* The attribute struct of a node: values of the file, defaults for the rest. */
static bool nnrti_reader_attrs(nnrti_reader *r, const nnrti_file_node *record, NNRT_Node *n, uint32_t index)
{
    const nnrt_op *op = nnrt_op_find(record->nodeType);
    nnrti_any_list slots;
    uint64_t slot;
    uint8_t *attr;
#ifndef NNRT_FIRMWARE
    if (record->nodeType == NNRTI_STRANGER)
        return true;
#endif
    if (op == NULL) {
        if (r->code == NNRT_SUCCESS)
            r->code = nnrt_error_set(r->error, NNRT_UNSUPPORTED_OP, "node %u '%s': there is no operator with number %d",
                                     index, n->name, record->nodeType);
        return false;
    }
    if (record->attr.count > op->attr->count)
        return nnrti_reader_fail(r, "node", index, "has attributes that this version does not know");
#ifndef NNRT_FIRMWARE /* where attributes have no names */
    if (record->shape != nnrti_file_shape(op->attr, record->attr.count))
        return nnrti_reader_fail(r, "node", index, "its attributes are not those of its operator");
#endif
    if (!nnrti_reader_list(r, &record->attr, sizeof(slot), &slots, "attributes of node", index) ||
        (attr = (uint8_t *)nnrti_reader_keep(r, 1, op->attr->bytes)) == NULL)
        return false;
    nnrt_attr_defaults(op->attr, attr);
    for (uint32_t i = 0; i < record->attr.count; i++) {
        memcpy(&slot, (const uint8_t *)slots.data + i * sizeof(slot), sizeof(slot));
        if (!nnrti_reader_attr(r, &op->attr->members[i], slot, attr + op->attr->members[i].offset, index))
            return false;
    }
    n->nodeAttr.data = attr;
    n->nodeAttr.size = op->attr->bytes;
    return true;
}

static bool nnrti_reader_tensor(nnrti_reader *r, uint32_t i, NNRT_Tensor *t)
{
    nnrti_file_tensor record;
    size_t offset;
    nnrti_reader_record(r, NNRTI_FILE_TENSORS, i, &record);
    if (!nnrti_reader_text(r, record.name, &t->name, "tensor", i) ||
        !nnrti_reader_list(r, &record.dims, 4, &t->dims, "tensor", i) ||
        !nnrti_reader_list(r, &record.quant, sizeof(NNRT_QuantParam), &t->quantParams, "tensor", i))
        return false;
    t->dataType = record.dataType;
    t->format = record.format;
    t->quantAxis = record.quantAxis;
#ifndef NNRT_FIRMWARE /* nothing reads them there */
    if (!nnrti_reader_list(r, &record.symbols, 4, &t->symbols, "tensor", i))
        return false;
#endif
    t->data.fd = -1;
    if ((record.flags & 1u) == 0)
        return true;
    if (r->sections[NNRTI_FILE_WEIGHTS].data == NULL || !nnrti_file_fits_size(record.offset, &offset) ||
        offset > r->sections[NNRTI_FILE_WEIGHTS].bytes || record.bytes > r->sections[NNRTI_FILE_WEIGHTS].bytes - offset)
        return nnrti_reader_fail(r, "tensor", i, "its data are not inside the weights");
    if (record.bytes > r->weights)
        return nnrti_reader_fail(r, "tensor", i, "its data are also another one's");
    r->weights -= record.bytes;
    t->data.addr = (void *)(uintptr_t)(r->sections[NNRTI_FILE_WEIGHTS].data + offset);
    t->data.bufferSize = t->data.dataSize = record.bytes;
    return true;
}

static bool nnrti_reader_node(nnrti_reader *r, uint32_t i, NNRT_Node *n)
{
    nnrti_file_node record;
    nnrti_reader_record(r, NNRTI_FILE_NODES, i, &record);
    n->nodeType = record.nodeType;
    n->quantType = record.quantType;
    return nnrti_reader_text(r, record.name, &n->name, "node", i) && nnrti_reader_own(r, &record, n, i) &&
           nnrti_reader_attrs(r, &record, n, i) && nnrti_reader_list(r, &record.inputs, 4, &n->inputIndex, "node", i) &&
           nnrti_reader_list(r, &record.outputs, 4, &n->outputIndex, "node", i);
}

static bool nnrti_reader_subgraph(nnrti_reader *r, uint32_t i, NNRT_SubGraph *g)
{
    nnrti_file_subgraph record;
    nnrti_reader_record(r, NNRTI_FILE_SUBGRAPHS, i, &record);
    return nnrti_reader_text(r, record.name, &g->name, "subgraph", i) &&
           nnrti_reader_list(r, &record.inputs, 4, &g->inputIndices, "subgraph", i) &&
           nnrti_reader_list(r, &record.outputs, 4, &g->outputIndices, "subgraph", i) &&
           nnrti_reader_list(r, &record.nodes, 4, &g->nodeIndices, "subgraph", i);
}

static bool nnrti_reader_metadata(nnrti_reader *r, uint32_t i, nnrt_metadata *metadata)
{
    uint32_t pair[2];
    nnrti_reader_record(r, NNRTI_FILE_METADATA, i, pair);
    return nnrti_reader_text(r, pair[0], &metadata->key, "metadata", i) &&
           nnrti_reader_text(r, pair[1], &metadata->value, "metadata", i);
}

#ifdef NNRT_FIRMWARE
#define nnrti_reader_keys(r, metadata, count) true
#else
static int nnrti_key_order(const void *user, uint32_t a, uint32_t b)
{
    const nnrt_metadata *metadata = (const nnrt_metadata *)user;
    return strcmp(metadata[a].key, metadata[b].key);
}

/* Keys are unique and not empty. */
static bool nnrti_reader_keys(nnrti_reader *r, const nnrt_metadata *metadata, uint32_t count)
{
    uint32_t *order = count > 0 ? (uint32_t *)nnrti_reader_keep(r, count, sizeof(*order)) : NULL;
    if (order == NULL)
        return count == 0;
    nnrti_sort(order, count, nnrti_key_order, metadata);
    for (uint32_t i = 0; i < count; i++)
        if (*metadata[order[i]].key == '\0')
            return nnrti_reader_fail(r, "metadata", order[i], "has no key");
        else if (i > 0 && nnrti_key_order(metadata, order[i - 1], order[i]) == 0)
            return nnrti_reader_fail(r, "metadata", order[i] > order[i - 1] ? order[i] : order[i - 1],
                                     "its key is also another one's");
    return true;
}
#endif

/* Builds the tables of the model in memory; lists, texts and constants are used in the file (memory map). NULL:
   r->code has the reason. The same code counts the memory and fills it. */
NNRTI_COLD static nnrti_owned *nnrti_reader_model(nnrti_reader *r, nnrt_memory *memory)
{
    const uint32_t nTensors = r->sections[NNRTI_FILE_TENSORS].count, nNodes = r->sections[NNRTI_FILE_NODES].count,
                   nGraphs = r->sections[NNRTI_FILE_SUBGRAPHS].count, nMeta = r->sections[NNRTI_FILE_METADATA].count;
    nnrti_file_model record;
    nnrti_owned *o;
    NNRT_Tensor *tensors;
    NNRT_Node *nodes;
    NNRT_SubGraph *graphs;
    nnrt_metadata *metadata;
    bool good;
    r->memory = memory;
    r->texts = r->sections[NNRTI_FILE_STRINGS].bytes;
    r->words = r->sections[NNRTI_FILE_LISTS].bytes / 4;
    r->weights = r->sections[NNRTI_FILE_WEIGHTS].bytes;
    if ((o = (nnrti_owned *)nnrti_reader_keep(r, 1, sizeof(*o))) == NULL ||
        (tensors = (NNRT_Tensor *)nnrti_reader_keep(r, nTensors, sizeof(*tensors))) == NULL ||
        (nodes = (NNRT_Node *)nnrti_reader_keep(r, nNodes, sizeof(*nodes))) == NULL ||
        (graphs = (NNRT_SubGraph *)nnrti_reader_keep(r, nGraphs, sizeof(*graphs))) == NULL ||
        (metadata = (nnrt_metadata *)nnrti_reader_keep(r, nMeta, sizeof(*metadata))) == NULL)
        return NULL;
    nnrti_reader_record(r, NNRTI_FILE_MODEL, 0, &record);
    good = nnrti_reader_text(r, record.name, &o->model.name, "model", 0) &&
           nnrti_reader_list(r, &record.inputs, 4, &o->model.inputIndex, "model", 0) &&
           nnrti_reader_list(r, &record.outputs, 4, &o->model.outputIndex, "model", 0);
    for (uint32_t i = 0; good && i < nTensors; i++)
        good = nnrti_reader_tensor(r, i, &tensors[i]);
    for (uint32_t i = 0; good && i < nNodes; i++)
        good = nnrti_reader_node(r, i, &nodes[i]);
    for (uint32_t i = 0; good && i < nGraphs; i++)
        good = nnrti_reader_subgraph(r, i, &graphs[i]);
    for (uint32_t i = 0; good && i < nMeta; i++)
        good = nnrti_reader_metadata(r, i, &metadata[i]);
    good = good && nnrti_reader_keys(r, metadata, nMeta);
    o->model.allTensors = NNRT_TensorList_make(tensors, nTensors);
    o->model.nodes = NNRT_NodeList_make(nodes, nNodes);
    o->model.subGraph = NNRT_SubGraphList_make(graphs, nGraphs);
    o->metadata = metadata;
    o->nMetadata = nMeta;
    return good ? o : NULL;
}

/* Header and size of the file. */
static NNRT_ReturnCode nnrti_file_header_read(const uint8_t *data, size_t bytes, nnrti_file_header *h,
                                              nnrt_error *error)
{
    if (!nnrt_file_is(data, bytes))
#ifdef NNRT_FIRMWARE
        return nnrt_error_set(error, NNRT_INVALID_FILE, "this is no .nnrt file");
#else
        return nnrti_file_no_file(error, "this", data, bytes);
#endif
    memcpy(h, data, sizeof(*h));
    if (h->version < 1 || h->version > NNRT_FILE_VERSION)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "the .nnrt file has version %u, known are 1 to %u", h->version,
                              (uint32_t)NNRT_FILE_VERSION);
    if (h->bytes > bytes)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "the .nnrt file is cut short: it says it has %l bytes, got %z",
                              (int64_t)(h->bytes & INT64_MAX), bytes);
    if (h->header < NNRT_FILE_HEADER || h->row < NNRTI_FILE_ROW || h->header > h->bytes ||
        (uint64_t)h->row * h->sections > h->bytes - h->header)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "the .nnrt file is broken: its section table is not inside it");
    return NNRT_SUCCESS;
}

/* Row i of the section table of a file whose header is good. */
static nnrti_file_row nnrti_file_row_read(const uint8_t *data, const nnrti_file_header *h, uint32_t i)
{
    nnrti_file_row row;
    memcpy(&row, data + h->header + (size_t)i * h->row, sizeof(row));
    return row;
}

/* Takes over one section, which must begin at `from` or behind. */
static bool nnrti_reader_section(nnrti_reader *r, const nnrti_file_header *h, const nnrti_file_row *row, uint32_t i,
                                 size_t from, size_t *end)
{
    const uint32_t type = row->type;
    size_t offset, bytes;
    if (row->alignment < NNRTI_FILE_ALIGNMENT || (row->alignment & (row->alignment - 1)) != 0 ||
        (row->offset & (row->alignment - 1)) != 0)
        return nnrti_reader_fail(r, "section", i, "is not aligned");
    if (!nnrti_file_fits_size(row->offset, &offset) || !nnrti_file_fits_size(row->bytes, &bytes) || offset < from ||
        offset > h->bytes || bytes > h->bytes - offset)
        return nnrti_reader_fail(r, "section", i, "is not behind the one before it and inside the file");
    *end = offset + bytes;
    if (row->record == 0 || bytes % row->record != 0)
        return nnrti_reader_fail(r, "section", i, "does not consist of whole records");
    if (type == 0 || type >= NNRTI_FILE_TYPES)
        return (row->flags & 1u) == 0 || nnrti_reader_fail(r, "section", i, "is needed, but not known here");
    if (type == NNRTI_FILE_DEVICE)
        return true;
    if (type == NNRTI_FILE_PLAN)
        return nnrti_reader_fail(r, "section", i, "is a plan for firmware (nnrt_mcu_open), not a model");
    if (r->sections[type].data != NULL)
        return nnrti_reader_fail(r, "section", i, "is there twice");
    if (row->record < nnrti_file_types[type].least ||
        (row->record > nnrti_file_types[type].record && nnrti_file_types[type].record <= 4))
        return nnrti_reader_fail(r, "section", i, "has records of a wrong size");
    r->sections[type].data = r->data + offset;
    r->sections[type].bytes = bytes;
    r->sections[type].record = row->record;
    r->sections[type].count = bytes / row->record < UINT32_MAX ? (uint32_t)(bytes / row->record) : UINT32_MAX;
    return true;
}

/* Finds all sections, and that those are there that a model needs. */
static bool nnrti_reader_sections(nnrti_reader *r, const nnrti_file_header *h)
{
    size_t from = (size_t)h->header + (size_t)h->row * h->sections; /* inside the file */
    const uint8_t *strings;
    const char *name;
    size_t bytes;
    for (uint32_t i = 0; i < h->sections; i++) {
        nnrti_file_row row = nnrti_file_row_read(r->data, h, i);
        if (!nnrti_reader_section(r, h, &row, i, from, &from))
            return false;
    }
    strings = r->sections[NNRTI_FILE_STRINGS].data;
    bytes = r->sections[NNRTI_FILE_STRINGS].bytes;
    if (bytes == 0 || strings[0] != 0 || strings[bytes - 1] != 0)
        return nnrti_reader_fail(r, "section of type", NNRTI_FILE_STRINGS, "its texts do not begin and end in 0");
    if (r->sections[NNRTI_FILE_MODEL].count != 1)
        return nnrti_reader_fail(r, "section of type", NNRTI_FILE_MODEL, "must have one record");
    r->texts = bytes;
    for (uint32_t i = 0; i < h->sections; i++)
        if (!nnrti_reader_text(r, nnrti_file_row_read(r->data, h, i).name, &name, "section", i))
            return false;
    return true;
}

/* FNV-1a-64 of the file, with its own bytes as zeros. The device sections of a cache, whose section table was checked,
   are digested by words. */
static uint64_t nnrti_file_checksum(const uint8_t *data, const nnrti_file_header *h)
{
    static const uint8_t zeros[8] = {0};
    size_t at = NNRTI_FILE_CHECKSUM + 8;
    uint64_t hash = nnrti_fnv64(NNRTI_FNV64, data, NNRTI_FILE_CHECKSUM);
    hash = nnrti_fnv64(hash, zeros, sizeof(zeros));
#ifndef NNRT_FIRMWARE
    for (uint32_t i = 0; h->words == 1 && i < h->sections; i++) {
        const nnrti_file_row row = nnrti_file_row_read(data, h, i);
        if (row.type != NNRTI_FILE_DEVICE)
            continue;
        hash = nnrti_fnv64(hash, data + at, (size_t)row.offset - at);
        hash = nnrti_digest(hash, data + (size_t)row.offset, (size_t)row.bytes);
        at = (size_t)(row.offset + row.bytes);
    }
#endif
    return nnrti_fnv64(hash, data + at, (size_t)h->bytes - at);
}

/* Finds the sections of a file in data. */
NNRTI_COLD static NNRT_ReturnCode nnrti_reader_begin(nnrti_reader *r, const void *data, size_t bytes, bool checksum,
                                                     nnrt_error *error)
{
    nnrti_file_header header;
    NNRT_ReturnCode code;
    if (!nnrti_little_endian())
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "a big-endian machine cannot use .nnrt files");
    if ((uintptr_t)data % NNRT_ALIGNMENT != 0)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the file's data are not aligned to %d bytes",
                              NNRT_ALIGNMENT);
    code = nnrti_file_header_read((const uint8_t *)data, bytes, &header, error);
    if (code != NNRT_SUCCESS)
        return code;
    memset(r, 0, sizeof(*r));
    r->data = (const uint8_t *)data;
    r->error = error;
    if (header.words == 1 && !nnrti_reader_sections(r, &header))
        return r->code;
    if (checksum && nnrti_file_checksum((const uint8_t *)data, &header) != header.checksum)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "the .nnrt file is damaged: its checksum is wrong");
    return header.words == 1 || nnrti_reader_sections(r, &header) ? NNRT_SUCCESS : r->code;
}

#ifndef NNRT_FIRMWARE
/* Rule: inputs and outputs are tensors. */
static NNRT_ReturnCode nnrti_check_ends(const NNRT_Model *m, nnrt_error *error)
{
    for (uint32_t i = 0; i < m->inputIndex.count; i++)
        if (m->inputIndex.data[i] >= m->allTensors.count)
            return nnrt_error_set(error, NNRT_INVALID_INPUT, "model input %u is tensor %u, but there are %u tensors", i,
                                  m->inputIndex.data[i], m->allTensors.count);
    return nnrti_check_model_outputs(m, error);
}

/* Checks the lists of a model without nodes. */
static NNRT_ReturnCode nnrti_bare_check(const NNRT_Model *m, nnrt_error *error)
{
    NNRT_ReturnCode code = nnrti_check_ends(m, error);
    for (uint32_t i = 0; code == NNRT_SUCCESS && i < m->allTensors.count; i++)
        code = nnrti_check_tensor(m, i, error);
    if (code == NNRT_SUCCESS && m->outputIndex.count == 0)
        code = nnrt_error_set(error, NNRT_INVALID_OUTPUT, "the cache has no outputs");
    return code;
}
#endif

/* Completes the model: checks it as any other model. scratch: memory for the check. */
static NNRT_ReturnCode nnrti_reader_end(nnrti_reader *r, nnrti_owned *o, nnrt_memory *scratch)
{
    NNRT_ReturnCode code;
    if (o == NULL)
        return r->code;
#ifndef NNRT_FIRMWARE
    if (!r->cache && o->model.nodes.count == 0 && o->model.subGraph.count == 0)
        return nnrt_error_set(r->error, NNRT_INVALID_MODEL,
                              "the file has no nodes: it is a cache, for sessions of the model that it was made from");
    o->bare = r->cache && o->model.nodes.count == 0;
    code = o->bare ? nnrti_bare_check(&o->model, r->error)
                   : nnrti_check_model(&o->model, scratch, NULL, r->strangers, r->error);
#else
    code = nnrt_model_check(&o->model, scratch, NULL, r->error);
#endif
    if (code != NNRT_SUCCESS)
        return code;
    o->model.self = &o->model;
    o->file = r->data;
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_model_load_into(NNRT_Model **model, const void *data, size_t bytes, bool checksum,
                                              nnrt_memory *memory, nnrt_error *error)
{
    NNRT_ReturnCode code;
    nnrti_owned *o;
    nnrti_reader r;
    if (model != NULL)
        *model = NULL;
    if (model == NULL || data == NULL || memory == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_model_load_into: %s is NULL",
                              model == NULL  ? "model"
                              : data == NULL ? "data"
                                             : "memory");
    if ((code = nnrti_reader_begin(&r, data, bytes, checksum, error)) != NNRT_SUCCESS)
        return code;
    o = nnrti_reader_model(&r, memory);
    code = nnrti_reader_end(&r, o, memory);
    nnrt_memory_drop_temp(memory);
    if (o != NULL && code == NNRT_SUCCESS)
        *model = &o->model;
    return code;
}

#ifndef NNRT_FIRMWARE

/* Makes the model of a file whose sections are good: counts, takes one block, fills it, checks the model. */
static NNRT_ReturnCode nnrti_reader_make(nnrti_reader *r, const nnrt_allocator *allocator, NNRT_Model **model)
{
    nnrt_memory memory, scratch;
    NNRT_ReturnCode code;
    nnrti_owned *o;
    uint8_t *block;
    size_t bytes;
    nnrt_memory_count(&memory, allocator);
    o = nnrti_reader_model(r, &memory);
    bytes = memory.peak;
    nnrt_memory_end(&memory);
    if (o == NULL)
        return r->code;
    block = nnrt_round_size(bytes, NNRT_ALIGNMENT, &bytes) ? (uint8_t *)nnrt_alloc(allocator, bytes) : NULL;
    if (block == NULL)
        return nnrt_error_set(r->error, NNRT_OUT_OF_MEMORY, "there is not enough memory to load the model");
    nnrt_memory_buffer(&memory, block, bytes);
    nnrt_memory_allocate(&scratch, allocator);
    o = nnrti_reader_model(r, &memory);
    code = nnrti_reader_end(r, o, &scratch);
    nnrt_memory_end(&scratch);
    if (o == NULL || code != NNRT_SUCCESS) {
        nnrt_free(allocator, block, bytes);
        return code;
    }
    if (allocator != NULL)
        o->allocator = *allocator;
    o->bytes = bytes;
    *model = &o->model;
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_model_load_memory(NNRT_Model **model, const void *data, size_t bytes,
                                                const nnrt_load_desc *desc, nnrt_error *error)
{
    NNRT_ReturnCode code;
    nnrti_reader r;
    nnrt_error_clear(error);
    if (model != NULL)
        *model = NULL;
    if (model == NULL || data == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "nnrt_model_load_memory: %s is NULL",
                              model == NULL ? "model" : "data");
    code = nnrti_reader_begin(&r, data, bytes, desc != NULL && (desc->checksum || desc->cache), error);
    if (code != NNRT_SUCCESS)
        return code;
    r.cache = desc != NULL && desc->cache;
    r.strangers = desc != NULL && desc->strangers;
    return nnrti_reader_make(&r, desc != NULL ? desc->allocator : NULL, model);
}

NNRT_API nnrt_metadata nnrt_model_metadata_at(const NNRT_Model *model, uint32_t index)
{
    const nnrti_owned *o = nnrti_owned_of(model);
    nnrt_metadata none;
    none.key = none.value = NULL;
    return o != NULL && index < o->nMetadata ? o->metadata[index] : none;
}

NNRT_API const char *nnrt_model_metadata(const NNRT_Model *model, const char *key)
{
    nnrt_metadata m = nnrt_model_metadata_at(model, 0);
    for (uint32_t i = 0; key != NULL && m.key != NULL; m = nnrt_model_metadata_at(model, ++i))
        if (strcmp(m.key, key) == 0)
            return m.value;
    return NULL;
}

/* Section `index` of a file that was checked. */
static bool nnrti_file_section(const uint8_t *file, uint32_t index, nnrt_file_section *section)
{
    nnrti_file_header h;
    nnrti_file_row row;
    memset(section, 0, sizeof(*section));
    if (file == NULL)
        return false;
    memcpy(&h, file, sizeof(h));
    if (index >= h.sections)
        return false;
    row = nnrti_file_row_read(file, &h, index);
    section->type = row.type;
    section->alignment = row.alignment;
    section->kind = nnrti_file_types[row.type < NNRTI_FILE_TYPES ? row.type : 0].kind;
    section->offset = (size_t)row.offset;
    section->bytes = (size_t)row.bytes;
    section->data = file + section->offset;
    for (uint32_t i = 0; i < h.sections; i++) {
        nnrti_file_row other = nnrti_file_row_read(file, &h, i);
        if (other.type == NNRTI_FILE_STRINGS)
            section->name = (const char *)file + (size_t)other.offset + row.name;
    }
    return true;
}

NNRT_API bool nnrt_model_section(const NNRT_Model *model, uint32_t index, nnrt_file_section *section)
{
    const nnrti_owned *o = nnrti_owned_of(model);
    return section != NULL && nnrti_file_section(o != NULL ? o->file : NULL, index, section);
}

#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>infer */

/* Shape inference visits the nodes in topological order and resolves each: its shape rule computes types and shapes
   of the outputs and the resolved attributes. Interleaved with it is constant folding, because shape rules need
   values: the shape argument of a RESHAPE is often computed by a chain SHAPE -> GATHER -> CONCAT.

   Dynamic dimensions: each has an upper bound (operand.dims[k]) and a symbol (operand.symbols[k], 0 = fixed); two
   dimensions with one symbol are equal in every run. Rules compute with upper bounds and propagate symbols. The
   elements of a folded value may be dynamic, too (operand.open[e], a symbol): data then holds the upper bound of the
   element. If the operator is not monotone, its result at the upper bounds is no upper bound; a symbol without one is
   marked NNRTI_UNBOUNDED, and a tensor whose size depends on it needs an entry in ModelConfig.bounds. Intervals
   (nnrti_known_*) make more symbols bounded: they follow least and most values through shape arithmetic.
   Invariant: in every run within the upper bounds of the inputs, the actual dimension is at most dims[k]; the run
   checks this again and fails otherwise.
   (Rejected: inferring the shapes twice with trial values and comparing. Dimensions that are equal by chance would be
   taken for fixed.)

   Control flow: a branch or body is inferred in place of its node. Where the branches of an IF differ, the dimension is
   dynamic. The body of a LOOP is inferred until its carried values have a fixed point (nnrti_infer_loop). */

#define NNRTI_FOLD_BYTES 1024 /* a node whose results are larger is not folded */
#define NNRTI_RULE_ROOM 1024  /* bytes reserved for the lists of a shape rule that fails before the run */

/* The number of operands that a kernel receives for a node, absent optional ones included. Before: its operator
   exists. */
static size_t nnrti_node_operands(const NNRT_Node *n)
{
    nnrt_op_arity a = nnrt_op_operands(nnrt_op_find(n->nodeType));
    return (size_t)nnrti_kernel_operands(n->inputIndex.count, a.maxIn) +
           nnrti_kernel_operands(n->outputIndex.count, a.maxOut);
}

/* The largest number of operands of a node. */
static size_t nnrti_widest(const NNRT_Model *m)
{
    size_t widest = 0;
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        size_t count = nnrti_node_operands(&m->nodes.data[i]);
        widest = count > widest ? count : widest;
    }
    return widest;
}

/* *o = the placeholder of an absent operand. */
static void nnrti_absent_operand(nnrt_operand *o)
{
    memset(o, 0, sizeof(*o));
    o->rank = o->viewRank = -1;
    o->format = NNRT_FORMAT_NONE;
}

#ifndef NNRT_FIRMWARE

/* Maps the number of a dynamic dimension in the model (NNRT_Tensor.symbols) to its symbol. A binary trie over the
   bits of the number, the lowest first: at most 32 levels whatever numbers a file contains. */
typedef struct nnrti_input_axis {
    uint32_t number, symbol;
    struct nnrti_input_axis *next[2];
} nnrti_input_axis;

#define NNRTI_FEW_BOUNDS 16 /* up to so many upper bounds are searched linearly, without memory for an index */

static int nnrti_bound_order(const void *user, uint32_t a, uint32_t b)
{
    const nnrt_bound *data = (const nnrt_bound *)user;
    const int order = strcmp(nnrti_text_of(data[a].tensor), nnrti_text_of(data[b].tensor));
    return order != 0 ? order : a < b ? -1 : a > b;
}

NNRT_API bool nnrt_bound_index_make(const NNRT_ModelConfig *config, nnrt_memory *memory, nnrt_bound_index *b)
{
    b->data = config->bounds.data;
    b->count = config->bounds.count;
    b->order = b->count > NNRTI_FEW_BOUNDS ? (uint32_t *)nnrt_memory_temp_array(memory, b->count, sizeof(*b->order)) : NULL;
    if (b->count > NNRTI_FEW_BOUNDS && b->order == NULL)
        return false;
    if (b->order != NULL)
        nnrti_sort(b->order, b->count, nnrti_bound_order, b->data);
    return true;
}

/* The index of the first upper bound with this name; b->count: none. */
static uint32_t nnrti_bound_find(const nnrt_bound_index *b, const char *name)
{
    uint32_t low = 0, high = b->count;
    if (b->order == NULL)
        while (low < b->count && (*name == '\0' || strcmp(nnrti_text_of(b->data[low].tensor), name) != 0))
            low++;
    if (b->order == NULL)
        return low;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (strcmp(nnrti_text_of(b->data[b->order[middle]].tensor), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->count && *name != '\0' && strcmp(nnrti_text_of(b->data[b->order[low]].tensor), name) == 0
               ? b->order[low]
               : b->count;
}

NNRT_API const nnrt_dims *nnrt_bound_of(const nnrt_bound_index *b, const char *name)
{
    const uint32_t i = nnrti_bound_find(b, nnrti_text_of(name));
    return i < b->count ? &b->data[i].most : NULL;
}

/* Rule: every upper bound names a tensor of the model and has a valid shape. Builds the index of the upper bounds. */
static NNRT_ReturnCode nnrti_check_bounds(const NNRT_Model *m, const NNRT_ModelConfig *config, nnrt_memory *memory,
                                          nnrt_bound_index *bounds)
{
    uint8_t few[NNRTI_FEW_BOUNDS], *found = few;
    if (config->bounds.count == 0)
        return NNRT_SUCCESS;
    if (config->bounds.data == NULL)
        return nnrt_error_set(config->error, NNRT_NULL_PTR, "bounds counts %u entries, but has none",
                              config->bounds.count);
    memset(few, 0, sizeof(few));
    if (config->bounds.count > NNRTI_FEW_BOUNDS)
        found = (uint8_t *)nnrt_memory_temp_array(memory, config->bounds.count, sizeof(*found));
    if (found == NULL || !nnrt_bound_index_make(config, memory, bounds))
        return nnrti_no_memory(config->error);
    for (uint32_t t = 0; t < m->allTensors.count; t++) {
        const uint32_t i = nnrti_bound_find(bounds, nnrti_tensor_name(m, t));
        if (i < bounds->count)
            found[i] = 1;
    }
    for (uint32_t i = 0; i < config->bounds.count; i++) {
        const nnrt_bound *b = &config->bounds.data[i];
        const uint32_t first = nnrti_bound_find(bounds, nnrti_text_of(b->tensor));
        if (first == bounds->count || !found[first])
            return nnrt_error_set(config->error, NNRT_INVALID_PARAMETER, "bounds[%u]: the model has no tensor '%s'", i,
                                  nnrti_text_of(b->tensor));
        for (int32_t k = 0; k < b->most.rank || b->most.rank < 0; k++)
            if (b->most.rank < 0 || b->most.rank > NNRT_MAX_RANK || b->most.dims[k] < 0)
                return nnrt_error_set(config->error, NNRT_INVALID_SHAPE,
                                      "bounds[%u], of tensor '%s': expected 0 to %d dimensions of 0 or more", i,
                                      b->tensor, NNRT_MAX_RANK);
    }
    return NNRT_SUCCESS;
}

#endif

/* *o = type, shape, quantization and data of a tensor as the model declares them, dims -1 and rank unknown included. */
static void nnrti_operand_of(const NNRT_Tensor *t, nnrt_operand *o)
{
    nnrti_absent_operand(o);
    o->name = nnrti_text_of(t->name);
    o->dataType = t->dataType;
    o->format = t->format;
    o->data = nnrti_buffer_data(&t->data);
    o->quant = t->quantParams.data;
    o->quantCount = t->quantParams.count;
    o->quantAxis = t->quantAxis;
    if (!nnrti_rank_known(t))
        return;
    o->rank = (int32_t)t->dims.count;
    for (int32_t i = 0; i < o->rank; i++)
        o->dims[i] = t->dims.data[i];
}

/* The state of shape inference. */
typedef struct nnrti_inference {
    const NNRT_Model *model;
    const NNRT_ModelConfig *config; /* NULL: dynamic dimensions need no upper bounds (a graph that is being built) */
    nnrt_memory *memory;
    nnrt_operand *tensors, *operands; /* all tensors; operands of the current node, room for the widest one */
    void **results;                   /* the results of the node that is folded */
    nnrt_error *error;
    uint32_t symbols; /* number of symbols in use: the next one is symbols + 1 */
#ifndef NNRT_FIRMWARE
    nnrti_symbols intervals; /* intervals of the symbols; alloc NULL: not computed */
    nnrti_input_axis *inputAxes;
    nnrt_bound_index bounds; /* of config */
#endif
    const uint32_t *order; /* of nnrti_check_model; NULL: the nodeIndices of each subgraph are in topological order */
    uint8_t *opened;       /* per tensor that is a carried value in a body: bit i = axis i varies between iterations */
    uint8_t *known; /* of an incomplete model, per tensor: 1 = type and shape are known; NULL: the model is complete */
    bool partial;   /* the model is incomplete; a tensor is known if its dims are */
    bool skipped;   /* a node was skipped because it reads unknown tensors */
    nnrt_visit visit; /* called with user for each node; NULL: none */
    void *user;
    bool (*worth)(void *user, const nnrt_resolve *c); /* whether to fold a node; NULL: up to NNRTI_FOLD_BYTES */
} nnrti_inference;

#ifndef NNRT_FIRMWARE

/* The size assumed for a dynamic dimension without an upper bound. It only has to pass the checks of shape rules:
   image networks require about this size, and it is below the 512 positions that language networks have at least. */
#define NNRTI_OPEN_EXTENT 224

/* Reduces the assumed sizes of x's dynamic dimensions if they exceed the address space: tensors computed from x may
   be 16 times as large. */
static void nnrti_fit_open(nnrt_operand *x)
{
    size_t bytes;
    for (int32_t n = NNRTI_OPEN_EXTENT;
         n > 2 && !(nnrt_dims_bytes(x->dims, x->rank, x->dataType, &bytes) && bytes <= SIZE_MAX / 16); n /= 2)
        for (int32_t i = 0; i < x->rank; i++)
            x->dims[i] = x->symbols[i] != 0 ? n / 2 : x->dims[i];
}

#endif

#ifdef NNRT_FIRMWARE
#define nnrti_open_axis(f, i, k) false
#define nnrti_beyond_bound(f, i) false
#else
/* The symbol of a dynamic dimension of an input whose number in the model is `own`: the symbol of that number, for 0
   a new symbol. Returns 0: no memory. */
static uint32_t nnrti_input_symbol(nnrti_input_axis **at, uint32_t own, nnrt_memory *memory, uint32_t *symbols)
{
    if (own == 0) /* equals no other dimension */
        return ++*symbols;
    for (uint32_t bits = own; *at != NULL; bits >>= 1) {
        if ((*at)->number == own)
            return (*at)->symbol;
        at = &(*at)->next[bits & 1];
    }
    *at = (nnrti_input_axis *)nnrt_memory_keep(memory, sizeof(**at));
    if (*at == NULL)
        return 0;
    (*at)->number = own;
    return (*at)->symbol = ++*symbols;
}

/* If the configuration has an upper bound for axis k of model input i (-1 in the model), makes the axis dynamic:
   stores its symbol and the upper bound. false: there is no upper bound. */
static bool nnrti_open_axis(nnrti_inference *f, uint32_t i, int32_t k)
{
    nnrt_operand *o = &f->tensors[f->model->inputIndex.data[i]];
    const NNRT_Uint32List *own = &f->model->allTensors.data[f->model->inputIndex.data[i]].symbols;
    const nnrt_dims *most = nnrt_bound_of(&f->bounds, o->name);
    if (most == NULL || most->rank != o->rank)
        return false;
    o->symbols[k] = nnrti_input_symbol(&f->inputAxes, own->count > 0 ? own->data[k] : 0, f->memory, &f->symbols);
    o->dims[k] = most->dims[k];
    return true;
}

/* Rule: the upper bound of model input i, if any, has the rank of the input, and no fixed dimension exceeds it. true:
   the rule is violated, and the message is set. */
static bool nnrti_beyond_bound(const nnrti_inference *f, uint32_t i)
{
    const nnrt_operand *o = &f->tensors[f->model->inputIndex.data[i]];
    const nnrt_dims *most = nnrt_bound_of(&f->bounds, o->name);
    if (most == NULL)
        return false;
    if (most->rank != o->rank)
        return nnrt_error_set(f->config->error, NNRT_INVALID_SHAPE, "input %u '%s' has %d axes, its bound %d", i,
                              o->name, o->rank, most->rank) != NNRT_SUCCESS;
    for (int32_t k = 0; k < o->rank; k++)
        if (o->dims[k] > most->dims[k])
            return nnrt_error_set(f->config->error, NNRT_INVALID_SHAPE,
                                  "input %u '%s' has size %d on axis %d, its upper bound is %d", i, o->name, o->dims[k],
                                  k, most->dims[k]) != NNRT_SUCCESS;
    return false;
}
#endif

#ifdef NNRT_FIRMWARE
#define NNRTI_OR_BOUND
#else
#define NNRTI_OR_BOUND ", or the largest with bounds"
#endif

#ifndef NNRT_FIRMWARE
static void *nnrti_temp_for_rule(void *user, size_t bytes)
{
    return nnrt_memory_temp((nnrt_memory *)user, bytes);
}
#endif

/* Replaces dimensions of -1 of the model's inputs by the values in config->inputDims; the others become dynamic
   dimensions with the upper bounds in config->bounds. Fails if a dimension of -1 has neither. */
static NNRT_ReturnCode nnrti_input_dims(nnrti_inference *f)
{
    const NNRT_Model *m = f->model;
    const NNRT_ModelConfig *config = f->config;
    nnrt_operand *tensors = f->tensors;
    const nnrt_dims_list *given = &config->inputDims;
#ifndef NNRT_FIRMWARE
    const NNRT_ReturnCode code = nnrti_check_bounds(m, config, f->memory, &f->bounds);
    if (code != NNRT_SUCCESS)
        return code;
    f->intervals.count = &f->symbols;
    f->intervals.alloc = nnrti_temp_for_rule;
    f->intervals.user = f->memory;
#endif
    if (given->count != 0 && given->count != m->inputIndex.count)
        return nnrt_error_set(config->error, NNRT_INVALID_PARAMETER,
                              "inputDims has %u entries, the model has %u inputs", given->count, m->inputIndex.count);
    if (given->count != 0 && given->data == NULL)
        return nnrt_error_set(config->error, NNRT_NULL_PTR, "inputDims counts %u entries, but has none", given->count);
    for (uint32_t i = 0; i < m->inputIndex.count; i++) {
        nnrt_operand *o = &tensors[m->inputIndex.data[i]];
        const nnrt_dims *want = given->count != 0 ? &given->data[i] : NULL;
        size_t bytes;
        if (want != NULL && want->rank != o->rank)
            return nnrt_error_blame(config->error,
                               nnrt_error_set(config->error, NNRT_INVALID_SHAPE,
                                              "inputDims of input %u '%s' has %d axes, the model %d", i, o->name,
                                              want->rank, o->rank),
                               -1, m->inputIndex.data[i]);
        if (nnrti_beyond_bound(f, i))
            return nnrt_error_blame(config->error, NNRT_INVALID_SHAPE, -1, m->inputIndex.data[i]);
        for (int32_t k = 0; k < o->rank; k++) {
            if (o->dims[k] == -1 && (want == NULL || want->dims[k] == -1) && nnrti_open_axis(f, i, k))
                continue;
            if (want != NULL && o->dims[k] == -1)
                o->dims[k] = want->dims[k];
            else if (want != NULL && o->dims[k] != want->dims[k])
                return nnrt_error_blame(
                    config->error,
                    nnrt_error_set(config->error, NNRT_INVALID_SHAPE,
                                   "inputDims of input %u '%s' has size %d for axis %d, which the model fixes at %d", i,
                                   o->name, want->dims[k], k, o->dims[k]),
                    -1, m->inputIndex.data[i]);
            if (o->dims[k] < 0)
                return nnrt_error_blame(
                    config->error,
                    nnrt_error_set(config->error, NNRT_INVALID_SHAPE,
                                   "input %u '%n': axis %d has no size; set one with inputDims" NNRTI_OR_BOUND, i,
                                   o->name, k),
                    -1, m->inputIndex.data[i]);
        }
        if (nnrti_beyond_bound(f, i))
            return nnrt_error_blame(config->error, NNRT_INVALID_SHAPE, -1, m->inputIndex.data[i]);
        if (!nnrt_dims_bytes(o->dims, o->rank, o->dataType, &bytes))
            return nnrt_error_blame(config->error,
                               nnrt_error_set(config->error, NNRT_OUT_OF_MEMORY,
                                              "input %u '%s' is %o: its size does not fit", i, o->name, o),
                               -1, m->inputIndex.data[i]);
    }
    return NNRT_SUCCESS;
}

/* The message of a kernel that failed; a kernel of the application may set none. */
static const char *nnrti_reason(const nnrt_error *error)
{
    return error->message[0] != '\0' ? error->message : "its kernel failed";
}

/* Rule: the declared type and shape of a result equal the inferred ones. A declared fixed size replaces an inferred
   dynamic one: the run then checks it. */
static NNRT_ReturnCode nnrti_check_declared(const NNRT_Model *m, nnrt_resolve *c, uint32_t k, uint32_t tensor)
{
    const NNRT_Tensor *t = &m->allTensors.data[tensor];
    nnrt_operand *got = &c->out[k];
    nnrt_operand want;
    bool same;
    nnrti_operand_of(t, &want);
#ifndef NNRT_FIRMWARE /* shape rules check inputs */
    if (got->rank >= 0 && want.quantAxis > got->rank)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "output %u '%s': quantAxis %d, expected 0 to %d", k, want.name,
                          want.quantAxis, got->rank);
#endif
    if (want.rank < 0)
        return NNRT_SUCCESS;
    same = got->rank == want.rank;
    for (int32_t i = 0; same && i < want.rank; i++)
        same = want.dims[i] == -1 || want.dims[i] == got->dims[i] || nnrti_axis_dynamic(got, i);
#ifndef NNRT_FIRMWARE
    for (int32_t i = 0; same && i < want.rank; i++)
        if (want.dims[i] != -1 && got->symbols[i] != 0) { /* checked in each run */
            got->dims[i] = want.dims[i];
            got->symbols[i] = 0;
        }
#endif
    return same ? NNRT_SUCCESS
                : nnrti_fail(c, NNRT_INVALID_SHAPE, "output %u '%s' is declared %o, but is %o", k, want.name, &want,
                             got);
}

#ifdef NNRT_FIRMWARE
#define nnrti_check_told(c, k, view) NNRT_SUCCESS
#else
/* Rule: the dimensions that a kernel stores for a data-dependent result k do not exceed the upper bounds of its shape
   rule. */
static NNRT_ReturnCode nnrti_check_told(nnrt_resolve *c, uint32_t k, const nnrt_view *view)
{
    for (int32_t i = 0; c->op->type < 0 && view->data != NULL && i < c->out[k].rank; i++)
        if (view->dims[i] < 0 || view->dims[i] > c->out[k].dims[i])
            return nnrti_fail(c, NNRT_INVALID_SHAPE,
                              "its kernel reports size %d on axis %d of output %u '%s', %d is the most", view->dims[i],
                              i, k, c->out[k].name, c->out[k].dims[i]);
    return NNRT_SUCCESS;
}
#endif

NNRT_API NNRT_ReturnCode nnrt_node_run(nnrt_resolve *c, void *const *results, nnrt_memory *memory)
{
    const uint32_t first = c->kernelIn + c->nDerived;
    nnrt_view *args = (nnrt_view *)nnrt_memory_temp_array(memory, (size_t)first + c->kernelOut, sizeof(*args));
    nnrt_error error;
    nnrt_call call;
    NNRT_ReturnCode code;
    memset(&error, 0, sizeof(error));
    memset(&call, 0, sizeof(call));
    call.nIn = c->kernelIn;
    call.nDerived = c->nDerived;
    call.nOut = c->kernelOut;
    call.error = &error;
    if (c->scratch > 0) {
        call.scratch = nnrt_memory_temp(memory, c->scratch);
        call.scratchBytes = c->scratch;
    }
    if (args == NULL || (c->scratch > 0 && call.scratch == NULL))
        return nnrti_no_memory(c->error);
    for (uint32_t i = 0; i < first; i++) {
        const nnrt_operand *o = i < c->kernelIn ? &c->in[i] : &c->derived[i - c->kernelIn];
        nnrt_operand_view(c->op, o, (int32_t)i, &args[i]);
        args[i].data = (void *)(uintptr_t)o->data;
    }
    for (uint32_t i = 0; i < c->nOut; i++) {
        if (results[i] == NULL)
            continue;
        nnrt_operand_view(c->op, &c->out[i], -1, &args[first + i]);
        args[first + i].data = results[i];
    }
    code = c->kernel(c->resolved, args, &call);
    if (code != NNRT_SUCCESS)
        return nnrti_fail(c, code, "%s", nnrti_reason(&error));
    for (uint32_t i = 0; (c->op->flags & NNRT_OP_DATA_DEPENDENT) && i < c->nOut; i++) {
        if ((code = nnrti_check_told(c, i, &args[first + i])) != NNRT_SUCCESS)
            return code;
        memcpy(c->out[i].dims, args[first + i].dims, sizeof(c->out[i].dims));
    }
    return NNRT_SUCCESS;
}

/* nnrt_resolve.alloc: resolved attributes are kept memory, because the plan refers to them. */
static void *nnrti_keep_for_rule(void *user, size_t bytes)
{
    return nnrt_memory_keep((nnrt_memory *)user, bytes);
}

#ifdef NNRT_FIRMWARE
#define nnrti_still_open(c) false
#define nnrti_fold_open(c, results, memory) NNRT_SUCCESS
#define nnrti_value_dynamic(o) false
#else

#define NNRTI_FOLD_OPEN 64 /* a node with dynamic elements is folded if it has at most so many results */

/* The number of inputs, from the first, whose elements a data movement operator copies (GATHER, CONCAT, RESHAPE); 0:
   the operator computes new values. */
static uint32_t nnrti_moved(const nnrt_resolve *c)
{
    if ((c->op->flags & NNRT_OP_MOVEMENT) == 0)
        return 0;
    return nnrt_op_operands(c->op).maxIn == UINT32_MAX ? c->nIn : 1;
}

/* The index of the element of x that broadcasting to the shape of y places at element k. A single element, such as a
   limit of CLIP, may have a higher rank than y. */
static size_t nnrti_broadcast_from(const nnrt_operand *x, const nnrt_operand *y, size_t k)
{
    size_t at = 0, step = 1;
    for (int32_t i = y->rank - 1, n = x->rank - 1; n >= 0 && i >= 0; i--, n--) {
        const size_t extent = (size_t)y->dims[i];
        if (x->dims[n] != 1)
            at += k % extent * step;
        step *= (size_t)x->dims[n];
        k /= extent;
    }
    return at;
}

/* Whether element k of a known value is negative. */
static bool nnrti_below_zero(const nnrt_operand *o, size_t k)
{
    const uint8_t *at = (const uint8_t *)o->data + k * nnrt_type_size(o->dataType);
    float f32;
    double f64;
    switch (o->dataType) {
    case NNRT_DATA_TYPE_INT32:
    case NNRT_DATA_TYPE_INT64: return nnrti_value(o, k) < 0;
    case NNRT_DATA_TYPE_FLOAT32: memcpy(&f32, at, sizeof(f32)); return f32 < 0;
    case NNRT_DATA_TYPE_FLOAT64: memcpy(&f64, at, sizeof(f64)); return f64 < 0;
    default: return nnrti_type_in(o->dataType, NNRT_TYPES_INT | NNRT_TYPES_FLOAT);
    }
}

/* Whether element e of an elementwise result is monotonically increasing in the dynamic elements that it depends on:
   then its value at their upper bounds is its upper bound. a - b and a / b are not in b, a * b and a / b are not with
   a negative factor. */
static bool nnrti_grows(const nnrt_resolve *c, const nnrt_operand *y, size_t e)
{
    const NNRT_NodeType type = c->op->type;
    if ((c->op->flags & NNRT_OP_MONOTONE) == 0)
        return false;
    for (uint32_t k = 0; k < c->nIn; k++) {
        const nnrt_operand *x = &c->in[k];
        size_t at;
        if (nnrti_absent(x) || (type == NNRT_NODE_TYPE_CAST && k > 0))
            continue;
        at = nnrti_broadcast_from(x, y, e);
        if (k > 0 && (type == NNRT_NODE_TYPE_SUB_FUSION || type == NNRT_NODE_TYPE_DIV_FUSION) &&
            nnrti_element_dynamic(x, at))
            return false;
        if ((type == NNRT_NODE_TYPE_MUL_FUSION || type == NNRT_NODE_TYPE_DIV_FUSION) && nnrti_below_zero(x, at))
            return false;
    }
    return true;
}

/* Propagates the symbols of elements through a data movement operator: runs the node again with the symbols as int32
   elements, so that no second implementation of each operator is needed. */
static NNRT_ReturnCode nnrti_move_open(const nnrt_resolve *c, uint32_t moved, uint32_t **open, nnrt_memory *memory)
{
    nnrt_resolve again = *c;
    void *results[NNRTI_FOLD_OPEN];
    NNRT_ReturnCode code;
    again.in = (nnrt_operand *)nnrt_memory_temp_array(memory, (size_t)c->kernelIn + c->nIn + c->nOut, sizeof(*again.in));
    if (again.in == NULL)
        return nnrti_no_memory(c->error);
    again.out = again.in + c->kernelIn + c->nIn;
    memcpy(again.in, c->in, (c->kernelIn > c->nIn ? c->kernelIn : c->nIn) * sizeof(*again.in));
    for (uint32_t i = 0; i < moved; i++) {
        nnrt_operand *x = &again.in[i];
        x->dataType = NNRT_DATA_TYPE_INT32;
        x->data = x->open != NULL ? (const void *)x->open : nnrt_memory_temp_array(memory, nnrti_count(x), sizeof(uint32_t));
        if (x->data == NULL)
            return nnrti_no_memory(c->error);
    }
    for (uint32_t i = 0; i < c->nOut; i++) {
        nnrti_absent_operand(&again.out[i]);
        results[i] = open[i];
    }
    if ((code = nnrt_resolve_node(&again)) != NNRT_SUCCESS)
        return code;
    return nnrt_node_run(&again, results, memory);
}

/* ---- interval arithmetic for shapes, with the types of >>intervals in nnrt_ops.h ----
   For a symbol, nnrti_known_value has the least and most value that it can have in any run, and facts such as "a
   multiple of d" or "a sum of these symbols", from which a tight upper bound of a result follows even if the operator
   is not monotone: n - n % 8, or ceil(n / s). Every function must be conservative: the interval that it returns
   contains each value that the kernel can compute, rounding included. */

/* Stores v as element k of a value of that type. */
static void nnrti_element_write(NNRT_DataType type, void *data, size_t k, double v)
{
    uint8_t *at = (uint8_t *)data + k * nnrt_type_size(type);
    if (type >= NNRT_DATA_TYPE_FLOAT16)
        nnrti_write_f64(at, 1, &v, 1, type);
    else
        nnrti_store_number(type, v, at);
}

/* The largest absolute value in the interval. */
static double nnrti_reach(const nnrti_known_value *n)
{
    return nnrti_more_of(nnrti_abs(n->least), nnrti_abs(n->most));
}

/* Converts the interval n to an element type: the interval of an integer that may wrap around becomes unknown, that
   of a float is widened by the rounding error of kernels. */
static void nnrti_known_typed(nnrti_known_value *n, NNRT_DataType type)
{
    const bool isFloat = nnrti_type_in(type, NNRT_TYPES_FLOAT | NNRT_TYPES_F64);
    double low = 1 - NNRTI_EXACT, high = NNRTI_EXACT - 1;
    n->nan = n->nan && isFloat;
    n->minus = n->minus && isFloat;
    if (type == NNRT_DATA_TYPE_BOOL || type == NNRT_DATA_TYPE_UINT8) {
        low = 0;
        high = type == NNRT_DATA_TYPE_BOOL ? 1 : UINT8_MAX;
    } else if (type == NNRT_DATA_TYPE_INT32) {
        low = INT32_MIN;
        high = INT32_MAX;
    } else if (type == NNRT_DATA_TYPE_FLOAT32 || type == NNRT_DATA_TYPE_FLOAT16) {
        high = type == NNRT_DATA_TYPE_FLOAT32 ? 16777216 : 2048; /* integers up to there are exact */
        low = -high;
    } else if (type != NNRT_DATA_TYPE_INT64 && type != NNRT_DATA_TYPE_FLOAT64) {
        nnrti_known_nothing(n);
        n->nan = isFloat;
        return;
    }
    if (n->least >= low && n->most <= high && (n->whole || !isFloat))
        return;
    if (!isFloat) {
        nnrti_known_nothing(n);
        n->nan = n->minus = false;
        return;
    }
    if (n->least < low || n->most > high) /* rounding may make it less than one of them */
        n->nAbove = 0;
    if (!n->real || nnrti_more_of(nnrti_reach(n), 1) * n->divisor > high) /* rounding may make it an integer */
        n->divisor = 0;
    for (uint32_t i = 0; i < n->nBelow; i++) /* denormal numbers are rounded by more than 1e-6 */
        n->nBelow = n->product[i] > 1e-30 ? n->nBelow : 0;
    n->minus = n->minus || n->least < 0;
    n->whole = n->summed = false;
    if (type == NNRT_DATA_TYPE_FLOAT32) {
        n->nBelow = n->most >= (double)FLT_MAX && n->most < INFINITY ? 0 : n->nBelow;
        n->least = n->least > -(double)FLT_MAX ? (double)(float)n->least : -INFINITY;
        n->most = n->most < (double)FLT_MAX ? (double)(float)n->most : INFINITY;
    } else if (type == NNRT_DATA_TYPE_FLOAT16) { /* rounded by 2^-11 of it at most, or 2^-25; from 65520 to infinity */
        n->least = n->least < 65520 ? n->least - nnrti_abs(n->least) / 1024 - 1e-7 : n->least;
        n->most = n->most > -65520 ? n->most + nnrti_abs(n->most) / 1024 + 1e-7 : n->most;
        n->least = n->least <= -65520 ? -INFINITY : n->least;
        n->most = n->most >= 65520 ? INFINITY : n->most;
        n->nBelow = 0;
    }
}

/* The accumulator type of kernels for elements of this type. */
static NNRT_DataType nnrti_wide_type(NNRT_DataType type)
{
    return type < NNRT_DATA_TYPE_FLOAT16    ? NNRT_DATA_TYPE_INT64
           : type == NNRT_DATA_TYPE_FLOAT64 ? NNRT_DATA_TYPE_FLOAT64
                                            : NNRT_DATA_TYPE_FLOAT32;
}

/* Adds to y, a maximum (above) or a minimum, the facts of one of its operands. */
static void nnrti_known_facts(nnrti_known_value *y, const nnrti_known_value *a, bool above)
{
    if (above && a->summed && a->sum.count == 1 && a->sum.factor[0] == 1 && a->sum.constant >= 0 &&
        y->nAbove < NNRTI_FACTS)
        y->above[y->nAbove++] = a->sum.symbol[0];
    for (uint32_t i = 0; above && i < a->nAbove && y->nAbove < NNRTI_FACTS; i++)
        y->above[y->nAbove++] = a->above[i];
    for (uint32_t i = 0; !above && i < a->nBelow && y->nBelow < NNRTI_FACTS; i++) {
        y->product[y->nBelow] = a->product[i];
        y->below[y->nBelow++] = a->below[i];
    }
}

/* max(a, b), or (least) min(a, b). If one of them may be NaN, the result may be NaN or the other one. */
static void nnrti_known_extreme(const nnrti_known_value *a, const nnrti_known_value *b, bool least,
                                nnrti_known_value *y)
{
    const bool first = least ? a->most <= b->least : a->least >= b->most;
    const bool second = least ? b->most <= a->least : b->least >= a->most;
    if ((first || second) && !a->nan && !b->nan) {
        *y = first ? *a : *b;
        y->minus = a->minus || b->minus;
        return;
    }
    nnrti_known_nothing(y);
    y->nan = a->nan || b->nan;
    y->least = least || y->nan ? nnrti_less_of(a->least, b->least) : nnrti_more_of(a->least, b->least);
    y->most = least && !y->nan ? nnrti_less_of(a->most, b->most) : nnrti_more_of(a->most, b->most);
    y->whole = a->whole && b->whole;
    y->minus = a->minus || b->minus;
    if (y->nan)
        return;
    nnrti_known_facts(y, a, !least);
    nnrti_known_facts(y, b, !least);
}

/* *y = a / b if the constant b divides each term of the sum a without remainder; false: it does not. */
static bool nnrti_known_exact_quotient(const nnrti_known_value *a, double b, nnrti_known_value *y)
{
    bool exact = a->summed && nnrti_is_whole(b) && nnrti_is_whole(a->sum.constant / b);
    for (uint32_t i = 0; i < a->sum.count && exact; i++)
        exact = nnrti_is_whole(a->sum.factor[i] / b);
    if (!exact)
        return false;
    *y = *a;
    y->nAbove = y->nBelow = y->id = 0;
    y->divisor = 0;
    y->sum.constant /= b;
    for (uint32_t i = 0; i < a->sum.count; i++)
        y->sum.factor[i] /= b;
    y->least = b > 0 ? a->least / b : a->most / b;
    y->most = b > 0 ? a->most / b : a->least / b;
    y->minus = a->minus || b < 0;
    return true;
}

/* a / b: real division, or (integers) integer division rounded down (floors) or toward zero. */
static void nnrti_known_quotient(const nnrti_known_value *a, const nnrti_known_value *b, bool integers, bool floors,
                                 nnrti_known_value *y)
{
    const bool constant = b->least == b->most && b->least != 0 && !b->nan;
    const bool minus = a->minus || b->minus || a->least < 0 || b->least < 0;
    double low = b->least, high = b->most, corner[8];
    int count = 0;
    if (constant && nnrti_known_exact_quotient(a, b->least, y))
        return;
    nnrti_known_nothing(y);
    if (b->whole && integers) { /* a run with an integer divisor of 0 fails */
        low = low == 0 ? 1 : low;
        high = high == 0 ? -1 : high;
    }
    if (low > high || a->least == -INFINITY || a->most == INFINITY)
        return;
    if (low <= 0 && high >= 0 && !integers) {
        if (low < 0 || a->least < 0 || b->minus) /* x / -0 is -infinity */
            return;
        y->least = high > 0 ? a->least / high : 0; /* 0 / 0 is NaN, see below */
        y->most = INFINITY;
    } else {
        corner[count++] = a->least / low;
        corner[count++] = a->least / high;
        corner[count++] = a->most / low;
        corner[count++] = a->most / high;
        if (low < 0 && high > 0) {
            corner[count++] = a->least;
            corner[count++] = -a->least;
            corner[count++] = a->most;
            corner[count++] = -a->most;
        }
        y->least = y->most = corner[0];
        for (int i = 0; i < count; i++) {
            y->least = nnrti_less_of(y->least, corner[i]);
            y->most = nnrti_more_of(y->most, corner[i]);
        }
    }
    y->whole = integers;
    y->minus = minus;
    y->nan = a->nan || b->nan || (!integers && nnrti_maybe_zero(a) && nnrti_maybe_zero(b));
    if (integers) {
        y->least = floors || y->least > 0 ? nnrti_floor(y->least) : -nnrti_floor(-y->least);
        y->most = floors || y->most > 0 ? nnrti_floor(y->most) : -nnrti_floor(-y->most);
    }
    if (constant && b->least > 0 && b->whole && a->summed && (!integers || floors || a->least >= 0)) {
        y->divisor = b->least;
        y->dividend = a->sum;
        y->real = !integers;
    }
    if (a->least == a->most && a->least >= 0 && b->least >= 0) { /* s <= b: a / b * s <= a */
        if (b->summed && b->sum.count == 1 && b->sum.factor[0] == 1 && b->sum.constant >= 0) {
            y->product[y->nBelow] = a->least;
            y->below[y->nBelow++] = b->sum.symbol[0];
        }
        for (uint32_t i = 0; i < b->nAbove && y->nBelow < NNRTI_FACTS; i++) {
            y->product[y->nBelow] = a->least;
            y->below[y->nBelow++] = b->above[i];
        }
    }
}

/* a rounded to an integer: CEIL (up), ROUND (nearest), otherwise FLOOR. */
static void nnrti_known_rounded(const nnrti_known_value *a, bool up, bool nearest, nnrti_known_value *y)
{
    *y = *a;
    if (a->whole)
        return;
    y->minus = a->minus || ((up || nearest) && a->least < 0);
    if (nearest) {
        y->least = a->least == -INFINITY ? a->least : nnrti_floor(a->least + 0.5) - 1;
        y->most = a->most == INFINITY ? a->most : nnrti_floor(a->most + 0.5);
    } else {
        y->least = up ? -nnrti_floor(-a->least) : nnrti_floor(a->least);
        y->most = up ? -nnrti_floor(-a->most) : nnrti_floor(a->most);
    }
    y->nAbove = y->nBelow = y->id = 0;
    y->whole = true; /* an infinite one is not, see nnrti_known_typed */
    y->summed = y->real = false;
    if (nearest || !a->real)
        y->divisor = 0;
    else if (up)
        y->dividend.constant += a->divisor - 1;
}

/* The interval of a < b, or (orEqual) a <= b, as 0 or 1. */
static void nnrti_known_less(const nnrti_symbols *t, const nnrti_known_value *a, const nnrti_known_value *b,
                             bool orEqual, nnrti_known_value *y)
{
    nnrti_known_value d;
    nnrti_known_sum(t, a, b, -1, &d);
    if (a->most < b->least)
        d.most = -1;
    if (a->least > b->most)
        d.least = 1;
    if ((orEqual ? d.most <= 0 : d.most < 0) && !a->nan && !b->nan) {
        nnrti_known_constant(y, 1);
    } else if (orEqual ? d.least > 0 : d.least >= 0) {
        nnrti_known_constant(y, 0);
    } else {
        nnrti_known_nothing(y);
        y->least = 0;
        y->most = 1;
        y->whole = true;
        y->nan = false;
    }
}

static void nnrti_known_equal(const nnrti_symbols *t, const nnrti_known_value *a, const nnrti_known_value *b,
                              nnrti_known_value *y)
{
    nnrti_known_value d;
    nnrti_known_sum(t, a, b, -1, &d);
    if (a->most < b->least || a->least > b->most || d.least > 0 || d.most < 0) {
        nnrti_known_constant(y, 0);
    } else if (((d.least == 0 && d.most == 0) || (a->id != 0 && a->id == b->id)) && !a->nan && !b->nan) {
        nnrti_known_constant(y, 1);
    } else {
        nnrti_known_nothing(y);
        y->least = 0;
        y->most = 1;
        y->whole = true;
        y->nan = false;
    }
}

/* The union of a and b: the value is one of them. */
static void nnrti_known_either(const nnrti_known_value *a, const nnrti_known_value *b, nnrti_known_value *y)
{
    if (a->summed && b->summed && !a->nan && !b->nan && nnrti_linear_equal(&a->sum, &b->sum)) {
        *y = *a;
        y->minus = a->minus || b->minus;
        return;
    }
    nnrti_known_nothing(y);
    y->least = nnrti_less_of(a->least, b->least);
    y->most = nnrti_more_of(a->most, b->most);
    y->whole = a->whole && b->whole;
    y->minus = a->minus || b->minus;
    y->nan = a->nan || b->nan;
}

static void nnrti_known_cast(const nnrti_known_value *a, NNRT_DataType from, NNRT_DataType to, nnrti_known_value *y)
{
    nnrti_known_value n = *a;
    if (from == to || (to == NNRT_DATA_TYPE_BOOL && n.whole && n.least >= 0 && n.most <= 1 && !n.nan)) {
        *y = n;
        return;
    }
    if (to == NNRT_DATA_TYPE_BOOL) {
        nnrti_known_nothing(y);
        y->least = n.least > 0 || n.most < 0 ? 1 : 0;
        y->most = n.least == 0 && n.most == 0 && !n.nan ? 0 : 1;
        y->whole = true;
        y->nan = false;
        return;
    }
    if (!nnrti_type_in(to, NNRT_TYPES_FLOAT | NNRT_TYPES_F64) && n.nan) { /* NaN becomes 0 */
        nnrti_known_nothing(y);
        y->least = nnrti_less_of(n.least, 0);
        y->most = nnrti_more_of(n.most, 0);
        y->whole = n.whole;
        y->nan = false;
        n = *y;
    }
    *y = n;
    if (nnrti_type_in(to, NNRT_TYPES_FLOAT | NNRT_TYPES_F64)) {
        nnrti_known_typed(&n, to); /* whole: every integer of the interval is exact */
        y->id = n.whole || (to == NNRT_DATA_TYPE_FLOAT64 && from >= NNRT_DATA_TYPE_FLOAT16) ? y->id : 0;
        return;
    }
    if (n.whole)
        return;
    nnrti_known_rounded(&n, false, false, y); /* toward zero */
    if (n.least < 0) {
        y->divisor = 0;
        y->least = n.least == -INFINITY ? n.least : -nnrti_floor(-n.least);
        y->most = n.most < 0 ? -nnrti_floor(-n.most) : y->most;
    }
}

/* The remainder a % b of C for integers, and fmod for floats; b > 0. */
static void nnrti_known_rest(const nnrti_known_value *a, const nnrti_known_value *b, bool integers,
                             nnrti_known_value *y)
{
    nnrti_known_nothing(y);
    if (b->least < 0 || (b->least == 0 && !integers)) /* a run with divisor 0 of integers is refused */
        return;
    if (a->least >= 0 && a->most < b->least && !b->nan) {
        *y = *a;
        return;
    }
    y->whole = a->whole && b->whole;
    y->minus = a->minus || a->least < 0;
    y->nan = a->nan || b->nan || !y->whole;
    y->most = b->most - (y->whole ? 1 : 0);
    y->least = a->least >= 0 ? 0 : nnrti_more_of(-y->most, a->least);
    y->most = a->most <= 0 ? 0 : nnrti_less_of(y->most, a->most);
}

/* Applies a fused activation to elements of this type. */
static void nnrti_known_activated(NNRT_ActivationType type, NNRT_DataType dataType, nnrti_known_value *y)
{
    nnrti_known_value zero, x;
    if (type == NNRT_ACTIVATION_TYPE_NO_ACTIVATION)
        return;
    nnrti_known_typed(y, dataType); /* an integer may have wrapped */
    x = *y;
    nnrti_known_constant(&zero, 0);
    if (type == NNRT_ACTIVATION_TYPE_RELU)
        nnrti_known_extreme(&x, &zero, false, y);
    else
        nnrti_known_nothing(y);
}

/* nnrti_known_each for CLIP: an absent input leaves the bound to its attribute. */
static void nnrti_known_clipped(const nnrt_resolve *c, const nnrti_known_value *x, nnrti_known_value *y)
{
    const NNRT_Clip *clip = (const NNRT_Clip *)c->resolved;
    *y = x[0];
    for (uint32_t i = 1; i < 3; i++) {
        const nnrti_known_value from = *y;
        const bool given = i < c->nIn && !nnrti_absent(&c->in[i]);
        nnrti_known_value n;
        if (!given && nnrti_abs(i == 1 ? (double)clip->min : (double)clip->max) == INFINITY)
            continue;
        nnrti_known_constant(&n, given ? 0 : nnrti_element_number(&c->derived[0], i - 1));
        nnrti_known_extreme(&from, given ? &x[i] : &n, i == 2, y);
    }
}

/* nnrti_known_each for comparisons, logic and selection. */
static void nnrti_known_truth(const nnrt_resolve *c, const nnrti_known_value *x, nnrti_known_value *y)
{
    const nnrti_symbols *t = c->symbols;
    nnrti_known_value n, m;
    switch (c->op->type) {
    case NNRT_NODE_TYPE_LESS: nnrti_known_less(t, &x[0], &x[1], false, y); break;
    case NNRT_NODE_TYPE_LESS_EQUAL: nnrti_known_less(t, &x[0], &x[1], true, y); break;
    case NNRT_NODE_TYPE_GREATER: nnrti_known_less(t, &x[1], &x[0], false, y); break;
    case NNRT_NODE_TYPE_GREATER_EQUAL: nnrti_known_less(t, &x[1], &x[0], true, y); break;
    case NNRT_NODE_TYPE_EQUAL: nnrti_known_equal(t, &x[0], &x[1], y); break;
    case NNRT_NODE_TYPE_NOT_EQUAL:
        nnrti_known_equal(t, &x[0], &x[1], &n);
        nnrti_known_constant(y, 1);
        nnrti_known_sum(t, y, &n, -1, y);
        break;
    case NNRT_NODE_TYPE_LOGICAL_NOT:
        nnrti_known_cast(&x[0], c->in[0].dataType, NNRT_DATA_TYPE_BOOL, &n);
        nnrti_known_constant(y, 1);
        nnrti_known_sum(t, y, &n, -1, y);
        break;
    case NNRT_NODE_TYPE_LOGICAL_AND:
    case NNRT_NODE_TYPE_LOGICAL_OR:
        nnrti_known_cast(&x[0], c->in[0].dataType, NNRT_DATA_TYPE_BOOL, &n);
        nnrti_known_cast(&x[1], c->in[0].dataType, NNRT_DATA_TYPE_BOOL, &m);
        nnrti_known_extreme(&n, &m, c->op->type == NNRT_NODE_TYPE_LOGICAL_AND, y);
        break;
    case NNRT_NODE_TYPE_WHERE:
    case NNRT_NODE_TYPE_SELECT:
        if (x[0].least == x[0].most)
            *y = x[0].least != 0 ? x[1] : x[2];
        else
            nnrti_known_either(&x[1], &x[2], y);
        break;
    default: break;
    }
}

/* *y = the interval of an element of an elementwise node's result; x: the intervals of its input elements. */
static void nnrti_known_each(const nnrt_resolve *c, const nnrti_known_value *x, nnrti_known_value *y)
{
    const nnrti_symbols *t = c->symbols;
    const bool isFloat = nnrti_type_in(c->in[0].dataType, NNRT_TYPES_FLOAT | NNRT_TYPES_F64);
    nnrti_known_value n;
    nnrti_known_nothing(y);
    switch (c->op->type) {
    case NNRT_NODE_TYPE_ADD_FUSION:
        nnrti_known_sum(t, &x[0], &x[1], 1, y);
        nnrti_known_activated(((const NNRT_AddFusion *)c->resolved)->activationType, c->out[0].dataType, y);
        break;
    case NNRT_NODE_TYPE_SUB_FUSION:
        nnrti_known_sum(t, &x[0], &x[1], -1, y);
        nnrti_known_activated(((const NNRT_SubFusion *)c->resolved)->activationType, c->out[0].dataType, y);
        break;
    case NNRT_NODE_TYPE_MUL_FUSION:
        nnrti_known_product(t, &x[0], &x[1], y);
        nnrti_known_activated(((const NNRT_MulFusion *)c->resolved)->activationType, c->out[0].dataType, y);
        break;
    case NNRT_NODE_TYPE_DIV_FUSION:
        nnrti_known_quotient(&x[0], &x[1], !isFloat, false, y);
        nnrti_known_activated(((const NNRT_DivFusion *)c->resolved)->activationType, c->out[0].dataType, y);
        break;
    case NNRT_NODE_TYPE_RECIPROCAL:
        nnrti_known_constant(&n, 1);
        nnrti_known_quotient(&n, &x[0], false, false, y);
        break;
    case NNRT_NODE_TYPE_REAL_DIV: nnrti_known_quotient(&x[0], &x[1], false, false, y); break;
    case NNRT_NODE_TYPE_FLOOR_DIV:
        if (!isFloat)
            nnrti_known_quotient(&x[0], &x[1], true, true, y);
        break;
    case NNRT_NODE_TYPE_MOD: nnrti_known_rest(&x[0], &x[1], !isFloat, y); break;
    case NNRT_NODE_TYPE_ADD_N:
        *y = x[0];
        for (uint32_t i = 1; i < c->nIn; i++) {
            n = *y;
            nnrti_known_sum(t, &n, &x[i], 1, y);
            nnrti_known_typed(y, nnrti_wide_type(c->in[0].dataType)); /* each sum is rounded */
        }
        break;
    case NNRT_NODE_TYPE_NEG:
        nnrti_known_constant(&n, 0);
        nnrti_known_sum(t, &n, &x[0], -1, y);
        y->minus = true;
        break;
    case NNRT_NODE_TYPE_ABS:
        nnrti_known_constant(&n, 0);
        nnrti_known_sum(t, &n, &x[0], -1, &n);
        nnrti_known_extreme(&x[0], &n, false, y);
        y->least = nnrti_more_of(y->least, 0);
        y->minus = false;
        break;
    case NNRT_NODE_TYPE_MAXIMUM:
    case NNRT_NODE_TYPE_MINIMUM: nnrti_known_extreme(&x[0], &x[1], c->op->type == NNRT_NODE_TYPE_MINIMUM, y); break;
    case NNRT_NODE_TYPE_CLIP: nnrti_known_clipped(c, x, y); break;
    case NNRT_NODE_TYPE_CEIL: nnrti_known_rounded(&x[0], true, false, y); break;
    case NNRT_NODE_TYPE_FLOOR: nnrti_known_rounded(&x[0], false, false, y); break;
    case NNRT_NODE_TYPE_ROUND: nnrti_known_rounded(&x[0], false, true, y); break;
    case NNRT_NODE_TYPE_CAST: nnrti_known_cast(&x[0], c->in[0].dataType, c->out[0].dataType, y); break;
    default: nnrti_known_truth(c, x, y); break;
    }
}

static bool nnrti_is_where(const nnrt_resolve *c)
{
    return c->op->type == NNRT_NODE_TYPE_WHERE || c->op->type == NNRT_NODE_TYPE_SELECT;
}

/* Stores the interval n of element e of a result y: as a constant if it contains one value, otherwise as a symbol in
   open[e] and its upper bound in data. */
static void nnrti_settle_element(nnrt_resolve *c, const nnrt_operand *y, void *data, uint32_t *open, size_t e,
                                 nnrti_known_value *n)
{
    bool constant;
    nnrti_known_typed(n, y->dataType);
    if (n->least > n->most) /* empty: no run reaches this node */
        nnrti_known_nothing(n);
    constant = n->least == n->most && nnrti_is_whole(n->least) && !n->nan && !(n->least == 0 && n->minus);
    open[e] = constant ? 0 : nnrti_symbol_of(c->symbols, n);
    if (n->most < INFINITY && n->most > -INFINITY)
        nnrti_element_write(y->dataType, data, e, n->most);
}

/* Intervals of the elements of an elementwise result that depend on dynamic elements. Others keep the values that the
   kernel computed. */
static NNRT_ReturnCode nnrti_interval_each(nnrt_resolve *c, void *data, uint32_t *open, nnrt_memory *memory)
{
    const nnrt_operand *y = &c->out[0];
    nnrti_known_value *x = (nnrti_known_value *)nnrt_memory_temp_array(memory, (size_t)c->nIn + 1, sizeof(*x));
    if (x == NULL)
        return nnrti_no_memory(c->error);
    for (size_t e = 0, n = nnrti_count(y); e < n; e++) {
        bool any = false;
        for (uint32_t k = 0; k < c->nIn; k++) {
            size_t at;
            if (nnrti_absent(&c->in[k]) || (c->op->type == NNRT_NODE_TYPE_CAST && k > 0))
                continue;
            at = nnrti_broadcast_from(&c->in[k], y, e);
            any = any || nnrti_element_dynamic(&c->in[k], at);
            nnrti_value_known(c, &c->in[k], at, &x[k]);
        }
        open[e] = 0;
        if (!any)
            continue;
        nnrti_known_each(c, x, &x[c->nIn]);
        nnrti_settle_element(c, y, data, open, e, &x[c->nIn]);
    }
    return NNRT_SUCCESS;
}

/* The accumulator of one element of a reduction's result: the interval, the sum of the largest absolute values of its
   inputs (reach, for the rounding error), their number, and whether one of them is dynamic. */
typedef struct nnrti_reduced_known {
    nnrti_known_value is;
    double reach;
    size_t count;
    bool open;
} nnrti_reduced_known;

/* Accumulates one more element. Integers that may wrap around become unknown; floats are widened by the rounding
   error. */
static void nnrti_known_reduce(const nnrt_resolve *c, const nnrti_known_value *x, nnrti_reduced_known *y)
{
    const NNRT_ReduceMode mode = ((const NNRT_ReduceFusion *)c->resolved)->mode;
    const bool isFloat = nnrti_type_in(c->in[0].dataType, NNRT_TYPES_FLOAT | NNRT_TYPES_F64);
    const nnrti_known_value from = y->is;
    y->reach += nnrti_reach(x);
    if (y->count++ == 0) {
        y->is = *x;
    } else if (mode == NNRT_REDUCE_MODE_MAX || mode == NNRT_REDUCE_MODE_MIN) {
        nnrti_known_extreme(&from, x, mode == NNRT_REDUCE_MODE_MIN, &y->is);
    } else {
        if (mode == NNRT_REDUCE_MODE_PROD)
            nnrti_known_product(c->symbols, &from, x, &y->is);
        else
            nnrti_known_sum(c->symbols, &from, x, 1, &y->is);
        nnrti_known_typed(&y->is, nnrti_wide_type(c->in[0].dataType));
        if (isFloat && !y->is.whole) { /* 1e-6 covers the rounding of kernels, in any order */
            const double error = 1e-6 * (mode == NNRT_REDUCE_MODE_PROD ? nnrti_reach(&y->is) : y->reach);
            y->is.least -= error < INFINITY ? error : 0;
            y->is.most += error < INFINITY ? error : 0;
        }
    }
}

/* Completes an accumulator: divides the sum of a mean. Modes after SUM, and a coefficient, are unknown. */
static void nnrti_known_reduced(const nnrt_resolve *c, nnrti_reduced_known *y)
{
    const NNRT_ReduceFusion *attr = (const NNRT_ReduceFusion *)c->resolved;
    const bool isFloat = nnrti_type_in(c->in[0].dataType, NNRT_TYPES_FLOAT | NNRT_TYPES_F64);
    nnrti_known_value n, sum;
    if (attr->mode > NNRT_REDUCE_MODE_SUM || (isFloat && attr->coeff != 1)) {
        nnrti_known_nothing(&y->is);
    } else if (attr->mode == NNRT_REDUCE_MODE_MEAN && y->count > 1) {
        sum = y->is;
        nnrti_known_constant(&n, (double)y->count);
        nnrti_known_quotient(&sum, &n, !isFloat, false, &y->is);
    }
}

/* Intervals of the elements of a reduction's result that depend on dynamic elements. */
static NNRT_ReturnCode nnrti_interval_reduce(nnrt_resolve *c, void *data, uint32_t *open, nnrt_memory *memory)
{
    const nnrt_operand *x = &c->in[0], *y = &c->out[0];
    const size_t count = nnrti_count(x), results = nnrti_count(y);
    nnrti_reduced_known *known = (nnrti_reduced_known *)nnrt_memory_temp_array(memory, results, sizeof(*known));
    nnrt_operand seen = *y; /* y with all axes of x: reduced axes have size 1 */
    if (known == NULL)
        return nnrti_no_memory(c->error);
    seen.rank = y->viewRank;
    memcpy(seen.dims, y->viewDims, sizeof(seen.dims));
    for (size_t e = 0; e < count; e++) {
        nnrti_reduced_known *to = &known[nnrti_broadcast_from(&seen, x, e)];
        nnrti_known_value from;
        to->open = to->open || nnrti_element_dynamic(x, e);
        nnrti_value_known(c, x, e, &from);
        nnrti_known_reduce(c, &from, to);
    }
    for (size_t e = 0; e < results; e++) {
        open[e] = 0;
        if (!known[e].open)
            continue;
        nnrti_known_reduced(c, &known[e]);
        nnrti_settle_element(c, y, data, open, e, &known[e].is);
    }
    return NNRT_SUCCESS;
}

/* A data movement operator with a dynamic index (GATHER): each result is an unknown element of its data inputs, so
   that the union of their intervals contains it. */
static void nnrti_interval_moved(nnrt_resolve *c, uint32_t moved, uint32_t i, void *data, uint32_t *open)
{
    nnrti_known_value all, next, known;
    bool first = true;
    nnrti_known_nothing(&all);
    for (uint32_t k = 0; k < moved; k++)
        for (size_t e = 0, n = nnrti_count(&c->in[k]); e < n; e++, first = false) {
            nnrti_value_known(c, &c->in[k], e, &next);
            known = all;
            if (first)
                all = next;
            else
                nnrti_known_either(&known, &next, &all);
        }
    for (size_t e = 0, n = nnrti_count(&c->out[i]); e < n; e++) {
        known = all;
        nnrti_settle_element(c, &c->out[i], data, open, e, &known);
    }
}

/* nnrti_fold_open with intervals. results: the values that the kernel computed at the upper bounds of its inputs. */
static NNRT_ReturnCode nnrti_fold_intervals(nnrt_resolve *c, uint32_t moved, void **results, uint32_t **open,
                                            nnrt_memory *memory)
{
    if (c->nOut == 1 && ((c->op->flags & NNRT_OP_ELEMENTWISE) != 0 || nnrti_is_where(c)))
        return nnrti_interval_each(c, results[0], open[0], memory);
    if (c->op->type == NNRT_NODE_TYPE_REDUCE_FUSION)
        return nnrti_interval_reduce(c, results[0], open[0], memory);
    for (uint32_t i = 0; i < c->nOut; i++) {
        nnrti_known_value nothing;
        if (moved > 0) {
            nnrti_interval_moved(c, moved, i, results[i], open[i]);
            continue;
        }
        for (size_t e = 0, n = nnrti_count(&c->out[i]); e < n; e++) {
            nnrti_known_nothing(&nothing);
            nnrti_settle_element(c, &c->out[i], results[i], open[i], e, &nothing);
        }
    }
    return NNRT_SUCCESS;
}

/* Finds the dynamic elements of folded results. A moved element keeps its symbol. An element computed from a dynamic
   one gets a new symbol; its upper bound comes from its interval, or without intervals is the folded value if the
   operator is monotone. */
static NNRT_ReturnCode nnrti_fold_open(nnrt_resolve *c, void **results, nnrt_memory *memory)
{
    uint32_t *open[NNRTI_FOLD_OPEN];
    const uint32_t moved = nnrti_moved(c);
    bool moves = moved > 0, unbounded = false;
    for (uint32_t i = 0; i < c->nOut; i++) {
        open[i] = (uint32_t *)nnrt_memory_keep(memory, (nnrti_count(&c->out[i]) + 1) * sizeof(uint32_t));
        if (open[i] == NULL)
            return nnrti_no_memory(c->error);
        c->out[i].open = open[i];
    }
    for (uint32_t k = moved; k < c->nIn && moves; k++) /* dynamic indices select the elements: all symbols are new */
        moves = nnrti_absent(&c->in[k]) || !nnrti_value_dynamic(&c->in[k]);
    if (moves)
        return nnrti_move_open(c, moved, open, memory);
    if (c->symbols != NULL)
        return nnrti_fold_intervals(c, moved, results, open, memory);
    for (uint32_t k = 0; k < c->nIn; k++)
        unbounded = unbounded || (!nnrti_absent(&c->in[k]) && (nnrti_value_symbols(&c->in[k]) & NNRTI_UNBOUNDED) != 0);
    for (uint32_t i = 0; i < c->nOut; i++) {
        const nnrt_operand *y = &c->out[i];
        const bool each = (c->op->flags & NNRT_OP_ELEMENTWISE) != 0;
        for (size_t e = 0, n = nnrti_count(y); e < n; e++) {
            bool is = !each, grows = each ? nnrti_grows(c, y, e) : (c->op->flags & NNRT_OP_MONOTONE) != 0;
            for (uint32_t k = 0; k < c->nIn && !is; k++)
                is =
                    !nnrti_absent(&c->in[k]) && nnrti_element_dynamic(&c->in[k], nnrti_broadcast_from(&c->in[k], y, e));
            open[i][e] = !is ? 0 : ++*c->symbolCount | (unbounded || !grows ? NNRTI_UNBOUNDED : 0);
            if (is && c->op->type == NNRT_NODE_TYPE_CAST && y->dataType != NNRT_DATA_TYPE_BOOL)
                open[i][e] = c->in[0].open[e];
        }
    }
    return NNRT_SUCCESS;
}

/* Whether the shape of a result, or an attribute, is known only in the run. */
static bool nnrti_still_open(const nnrt_resolve *c)
{
    bool open = c->open || c->late;
    for (uint32_t i = 0; i < c->nOut; i++)
        for (int32_t k = 0; k < c->out[i].rank; k++)
            open = open || c->out[i].symbols[k] != 0;
    return open;
}

#endif

/* *total = bytes of the results of a node; false: more than NNRTI_FOLD_BYTES. */
static bool nnrti_fold_bytes(const nnrt_resolve *c, size_t *total)
{
    size_t bytes = 0;
    *total = 0;
    for (uint32_t i = 0; i < c->nOut; i++)
        if (!nnrti_absent(&c->out[i]) &&
            (!nnrt_dims_bytes(c->out[i].dims, c->out[i].rank, c->out[i].dataType, &bytes) ||
             !nnrt_add_size(*total, bytes, total) || *total > NNRTI_FOLD_BYTES))
            return false;
    return true;
}

#ifdef NNRT_FIRMWARE
#define nnrti_may_compute(op) (((op)->flags & NNRT_OP_EFFECT) == 0)
#else
/* Whether an operator may be constant-folded: it has no effect, and an operator of the application is declared PURE. */
static bool nnrti_may_compute(const nnrt_op *op)
{
    return (op->flags & NNRT_OP_EFFECT) == 0 && (op->type > 0 || (op->flags & NNRT_OP_PURE) != 0);
}
#endif

/* Constant folding: whether a node is computed during preparation. All its inputs are known, the shapes of its
   results are static, and the results are small (or f->worth says so). *open: elements of the inputs are dynamic. */
static bool nnrti_may_fold(const nnrti_inference *f, const nnrt_resolve *c, bool *open)
{
    size_t total;
    *open = false;
    for (uint32_t i = 0; i < c->nIn; i++) {
        if (!nnrti_absent(&c->in[i]) && c->in[i].data == NULL)
            return false;
        *open = *open || (!nnrti_absent(&c->in[i]) && nnrti_value_dynamic(&c->in[i]));
    }
#ifndef NNRT_FIRMWARE
    for (uint32_t i = 0; i < c->nOut; i++)
        for (int32_t k = 0; k < c->out[i].rank; k++)
            if (c->out[i].symbols[k] != 0)
                return false;
    if (c->late || (*open && c->nOut > NNRTI_FOLD_OPEN))
        return false;
    if (f->worth != NULL)
        return f->worth(f->user, c);
#else
    (void)f;
#endif
    return nnrti_fold_bytes(c, &total);
}

/* Constant folding of one resolved node, if nnrti_may_fold: runs its kernel on the known inputs and stores the
   results in kept memory (c->out[i].data). *folded: all results are known and none has dynamic elements, so that the
   node needs no step. */
static NNRT_ReturnCode nnrti_fold(const nnrti_inference *f, nnrt_resolve *c, bool *folded)
{
    void **results = f->results;
    NNRT_ReturnCode code;
    bool known = true, open;
    *folded = false;
    if (c->op->flags & NNRT_OP_EFFECT)
        return NNRT_SUCCESS;
    for (uint32_t i = 0; i < c->nOut; i++)
        known = known && (c->out[i].data != NULL || nnrti_absent(&c->out[i]));
    if (!known) {
        if (!nnrti_may_compute(c->op) || !nnrti_may_fold(f, c, &open))
            return NNRT_SUCCESS;
        for (uint32_t i = 0; i < c->nOut; i++) {
            size_t bytes = 0;
            results[i] = NULL;
            if (nnrti_absent(&c->out[i]))
                continue;
            (void)nnrt_dims_bytes(c->out[i].dims, c->out[i].rank, c->out[i].dataType, &bytes);
            results[i] = nnrt_memory_keep(f->memory, bytes);
            if (results[i] == NULL)
                return nnrti_no_memory(c->error);
        }
        if ((code = nnrt_node_run(c, results, f->memory)) != NNRT_SUCCESS ||
            (code = open ? nnrti_fold_open(c, results, f->memory) : NNRT_SUCCESS) != NNRT_SUCCESS)
            return code;
        for (uint32_t i = 0; i < c->nOut; i++)
            c->out[i].data = results[i];
    }
    *folded = true;
    for (uint32_t i = 0; i < c->nOut; i++)
        *folded = *folded && (nnrti_absent(&c->out[i]) || !nnrti_value_dynamic(&c->out[i]));
    return NNRT_SUCCESS;
}

#ifdef NNRT_FIRMWARE
#define nnrti_bound_results(f, c) NNRT_SUCCESS
#define nnrti_take_bounds(f, c) false
#else

/* Sets the dynamic dimensions of result i to the upper bounds in the configuration, if it has some. They are required
   for a data-dependent dimension (NNRTI_UNBOUNDED), whose upper bound cannot be derived. */
static NNRT_ReturnCode nnrti_bound_result(const nnrti_inference *f, nnrt_resolve *c, uint32_t i)
{
    nnrt_operand *o = &c->out[i];
    const nnrt_dims *most;
    uint32_t symbols = 0;
    for (int32_t k = 0; k < o->rank; k++)
        symbols |= o->symbols[k];
    if (symbols == 0)
        return NNRT_SUCCESS;
    most = nnrt_bound_of(&f->bounds, o->name);
    if (f->config == NULL || (most == NULL && (symbols & NNRTI_UNBOUNDED) == 0))
        return NNRT_SUCCESS;
    if (most == NULL) {
        const NNRT_ReturnCode code =
            nnrti_fail(c, NNRT_UNSUPPORTED_OP,
                       "nothing bounds output %u '%n': its shape depends on values that only a run has; give its upper "
                       "bound (bounds)",
                       i, o->name);
        if (c->error != NULL && c->error->code == code && c->error->node == c->node)
            c->error->tensor = (int32_t)f->model->nodes.data[c->node].outputIndex.data[i];
        return code;
    }
    if (most->rank != o->rank)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "output %u '%s' has %d axes, its bound %d", i, o->name, o->rank,
                          most->rank);
    o->most = 0;
    for (int32_t k = 0; k < o->rank; k++) {
        if (o->symbols[k] == 0 && o->dims[k] > most->dims[k])
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "output %u '%s' is %o, but its upper bound has size %d on axis %d",
                              i, o->name, o, most->dims[k], k);
        if (o->symbols[k] != 0)
            o->dims[k] = most->dims[k];
        /* A value of the same symbol stays unbounded: a branch that does not run does not check this dimension. */
        o->symbols[k] = (o->symbols[k] & NNRTI_UNBOUNDED) != 0 && nnrti_symbol_entry(c->symbols, o->symbols[k]) != NULL
                            ? ++*c->symbolCount
                            : o->symbols[k] & ~NNRTI_UNBOUNDED;
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_bound_results(const nnrti_inference *f, nnrt_resolve *c)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    for (uint32_t i = 0; i < c->nOut && code == NNRT_SUCCESS; i++)
        if (!nnrti_absent(&c->out[i]))
            code = nnrti_bound_result(f, c, i);
    return code;
}

/* A shape rule that fails for the upper bounds may succeed for the actual dimensions. If the configuration has upper
   bounds for all results of the node, discards the failure: the upper bounds become the shapes of the results, and
   the rule is evaluated in the run (c->late). false: the failure stands. */
static bool nnrti_take_bounds(nnrti_inference *f, nnrt_resolve *c)
{
    if (c->kernel == NULL || c->resolved == NULL || !(c->open || c->late || nnrti_any_value_at_run_time(c)))
        return false;
    for (uint32_t i = 0; i < c->nOut; i++)
        if (c->out[i].dataType == NNRT_DATA_TYPE_UNKNOWN || nnrt_bound_of(&f->bounds, c->out[i].name) == NULL)
            return false;
    for (uint32_t i = 0; i < c->nOut; i++) {
        const nnrt_dims *most = nnrt_bound_of(&f->bounds, c->out[i].name);
        c->out[i].rank = most->rank;
        c->out[i].viewRank = -1;
        c->out[i].data = NULL;
        for (int32_t k = 0; k < most->rank; k++) {
            c->out[i].dims[k] = most->dims[k];
            c->out[i].symbols[k] = ++f->symbols;
        }
    }
    c->nDerived = 0;
    c->late = true;
    if (c->error != NULL) {
        c->error->code = NNRT_SUCCESS;
        c->error->message[0] = '\0';
    }
    return true;
}

#endif

/* o[count] = the operands of the tensors of a list; the remaining ones are absent. */
static void nnrti_take_operands(const nnrti_inference *f, const NNRT_Uint32List *list, uint32_t count, nnrt_operand *o)
{
    for (uint32_t i = 0; i < count; i++)
        if (i < list->count && list->data[i] != NNRT_NO_TENSOR)
            o[i] = f->tensors[list->data[i]];
        else
            nnrti_absent_operand(&o[i]);
}

/* Initializes c for node n, with its operands in f->operands. */
NNRTI_COLD static void nnrti_resolve_begin(nnrti_inference *f, uint32_t n, nnrt_resolve *c)
{
    const NNRT_Node *node = &f->model->nodes.data[n];
    nnrt_op_arity a;
    uint32_t nIn;
    memset(c, 0, sizeof(*c));
    c->op = nnrt_op_find(node->nodeType);
    a = nnrt_op_operands(c->op);
    nIn = nnrti_kernel_operands(node->inputIndex.count, a.maxIn);
    c->nodeName = nnrti_text_of(node->name);
    c->node = (int32_t)n;
    c->attr = node->nodeAttr.data;
    c->attrBytes = node->nodeAttr.size;
    c->nIn = node->inputIndex.count;
    c->nOut = node->outputIndex.count;
    c->in = f->operands;
    c->out = f->operands + nIn;
    c->alloc = nnrti_keep_for_rule;
    c->user = f->memory;
    c->error = f->error;
#ifndef NNRT_FIRMWARE
    c->symbolCount = &f->symbols;
    c->symbols = f->intervals.alloc != NULL ? &f->intervals : NULL;
#endif
    nnrti_take_operands(f, &node->inputIndex, nIn, c->in);
    nnrti_take_operands(f, &node->outputIndex, nnrti_kernel_operands(c->nOut, a.maxOut), c->out);
}

#ifdef NNRT_FIRMWARE
#define nnrti_now_known(f, t) ((void)0)
#else
/* Marks type and shape of tensor t as known, if f->known exists. */
static void nnrti_now_known(nnrti_inference *f, uint32_t t)
{
    if (f->known != NULL)
        f->known[t] = 1;
}

/* Whether type and shape of an operand are known. */
static bool nnrti_operand_known(const nnrt_operand *o)
{
    for (int32_t i = 0; i < o->rank; i++)
        if (o->dims[i] < 0)
            return false;
    return o->rank >= 0 && !nnrti_absent(o);
}

/* Whether the shape of every tensor in the list is known. */
static bool nnrti_list_known(const nnrti_inference *f, const NNRT_Uint32List *list)
{
    for (uint32_t k = 0; k < list->count; k++)
        if (list->data[k] != NNRT_NO_TENSOR && ((f->known != NULL && f->known[list->data[k]] == 0) ||
                                                (f->partial && !nnrti_operand_known(&f->tensors[list->data[k]]))))
            return false;
    return true;
}

/* Whether the shapes of the inputs of node n are known. */
static bool nnrti_node_known(const nnrti_inference *f, uint32_t n)
{
    return nnrti_list_known(f, &f->model->nodes.data[n].inputIndex);
}
#endif

/* Shape inference of node n, which is no control flow: resolves it, applies upper bounds and declarations, folds it,
   and stores its results in f->tensors. c->room: bytes that its shape rule allocated, as much as it needs again in a
   run. */
NNRTI_COLD static NNRT_ReturnCode nnrti_infer_node(nnrti_inference *f, uint32_t n, nnrt_resolve *c, bool *folded)
{
    const NNRT_Node *node = &f->model->nodes.data[n];
    NNRT_ReturnCode code;
    const size_t front = f->memory->front;
    nnrt_op_arity a;
    nnrti_resolve_begin(f, n, c);
    a = nnrt_op_operands(c->op);
    if ((code = nnrt_resolve_node(c)) != NNRT_SUCCESS && (f->memory->full || !nnrti_take_bounds(f, c)))
        return code;
    c->room = f->memory->front - front + (code != NNRT_SUCCESS ? NNRTI_RULE_ROOM : 0);
    if (f->memory->full) /* the symbol table could not grow */
        return nnrti_no_memory(f->error);
    if ((code = nnrti_bound_results(f, c)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < c->nOut; i++) {
        if (node->outputIndex.data[i] == NNRT_NO_TENSOR) {
            if (i < a.minOut && a.maxOut != UINT32_MAX) /* repeated outputs (SPLIT) may be absent */
                return nnrti_fail(c, NNRT_NULL_PTR, "output %u is missing (%s)", i, c->op->outputs);
            nnrti_absent_operand(&c->out[i]);
            continue;
        }
        if ((code = nnrti_check_declared(f->model, c, i, node->outputIndex.data[i])) != NNRT_SUCCESS)
            return code;
    }
    if ((code = nnrti_fold(f, c, folded)) != NNRT_SUCCESS || f->memory->full)
        return code != NNRT_SUCCESS ? code : nnrti_no_memory(f->error);
    for (uint32_t i = 0; i < c->nOut; i++)
        if (node->outputIndex.data[i] != NNRT_NO_TENSOR) {
            nnrt_operand *t = &f->tensors[node->outputIndex.data[i]];
            *t = c->out[i];
            t->viewRank = -1;
            nnrti_now_known(f, node->outputIndex.data[i]);
        }
    return NNRT_SUCCESS;
}

#ifndef NNRT_FIRMWARE
static NNRT_ReturnCode nnrti_infer_control(nnrti_inference *f, uint32_t n);

static bool nnrti_is_control(NNRT_NodeType type)
{
    return type == NNRT_NODE_TYPE_IF || type == NNRT_NODE_TYPE_LOOP;
}
#endif

/* The nodes of graph g in topological order. */
static const uint32_t *nnrti_infer_nodes(const nnrti_inference *f, uint32_t g, uint32_t *count)
{
#ifndef NNRT_FIRMWARE
    if (f->order == NULL) {
        *count = f->model->subGraph.data[g].nodeIndices.count;
        return f->model->subGraph.data[g].nodeIndices.data;
    }
#endif
    (void)g;
    *count = nnrti_order_end(f->model, f->order, g) - nnrti_order_begin(f->model, f->order, g);
    return f->order + nnrti_order_begin(f->model, f->order, g);
}

static NNRT_ReturnCode nnrti_infer_graph(nnrti_inference *f, uint32_t g)
{
    uint32_t count;
    const uint32_t *nodes = nnrti_infer_nodes(f, g, &count);
    for (uint32_t i = 0; i < count; i++) {
        nnrt_resolve c;
        bool folded = false;
        NNRT_ReturnCode code;
#ifndef NNRT_FIRMWARE
        if (f->partial && f->model->nodes.data[nodes[i]].nodeType == NNRT_NODE_TYPE_NONE)
            continue; /* removed by an optimizer pass, see nnrti_graph */
        if (nnrt_op_find(f->model->nodes.data[nodes[i]].nodeType) == NULL)
            return nnrti_no_operator(f->model, nodes[i], f->error);
        if (!nnrti_node_known(f, nodes[i])) {
            f->skipped = true;
            continue;
        }
        if (nnrti_is_control(f->model->nodes.data[nodes[i]].nodeType)) {
            if ((code = nnrti_infer_control(f, nodes[i])) != NNRT_SUCCESS)
                return nnrt_error_blame(f->error, code, nodes[i], -1);
            continue;
        }
#endif
        code = nnrti_infer_node(f, nodes[i], &c, &folded);
        if (code == NNRT_SUCCESS && f->visit != NULL)
            code = f->visit(f->user, nodes[i], &c, folded);
        if (code != NNRT_SUCCESS)
            return nnrt_error_blame(f->error, code, nodes[i], -1);
    }
    return NNRT_SUCCESS;
}

#ifndef NNRT_FIRMWARE

/* Resets f->opened for the inputs of all subgraphs of node n, nested ones too: before the first round no axis varies.
   */
static NNRTI_UNUSED void nnrti_control_fresh(const nnrti_inference *f, uint32_t n)
{
    for (uint32_t k = 0; k < nnrt_node_graphs(&f->model->nodes.data[n]); k++) {
        const uint32_t g = nnrt_node_graph(&f->model->nodes.data[n], k);
        uint32_t count;
        const uint32_t *nodes;
        if (g == NNRT_NO_GRAPH)
            continue;
        nodes = nnrti_infer_nodes(f, g, &count);
        for (uint32_t i = 0; i < f->model->subGraph.data[g].inputIndices.count; i++)
            f->opened[f->model->subGraph.data[g].inputIndices.data[i]] = 0;
        for (uint32_t i = 0; i < count; i++)
            nnrti_control_fresh(f, nodes[i]);
    }
}

#endif

#ifndef NNRT_FIRMWARE

/* Initializes c for control-flow node n, and makes the checks that do not depend on its subgraphs. It has operands of
   its own, since inferring the nodes of the subgraphs overwrites f->operands. */
static NNRT_ReturnCode nnrti_control_begin(nnrti_inference *f, uint32_t n, nnrt_resolve *c)
{
    const size_t count = nnrti_node_operands(&f->model->nodes.data[n]);
    nnrt_operand *own = (nnrt_operand *)nnrt_memory_temp_array(f->memory, count, sizeof(*own));
    NNRT_ReturnCode code;
    if (own == NULL)
        return nnrti_no_memory(f->error);
    nnrti_resolve_begin(f, n, c);
    memcpy(own, f->operands, count * sizeof(*own));
    c->out = own + (c->out - c->in);
    c->in = own;
    if ((code = nnrti_resolve_types(c)) != NNRT_SUCCESS || (code = nnrti_check_shapes(c)) != NNRT_SUCCESS)
        return code;
    return nnrti_resolve_attr(c);
}

/* Rule: subgraph g of a node exists and has that many inputs and outputs. */
static NNRT_ReturnCode nnrti_control_graph(const nnrti_inference *f, nnrt_resolve *c, const char *what, uint32_t g,
                                           size_t inputs, size_t outputs)
{
    const NNRT_SubGraph *s;
    if (g == NNRT_NO_GRAPH)
        return nnrti_fail(c, NNRT_INVALID_PARAMETER, "has no %s", what);
    s = &f->model->subGraph.data[g];
    if (s->inputIndices.count != inputs || s->outputIndices.count != outputs)
        return nnrti_fail(c, NNRT_INVALID_MODEL, "%s, subgraph %u, has %u inputs and %u outputs, expected %z and %z",
                          what, g, s->inputIndices.count, s->outputIndices.count, inputs, outputs);
    return NNRT_SUCCESS;
}

/* Infers the nodes of subgraph g. *known: the shapes of all its outputs are known; if not, the node is skipped. (An
   output may be a captured tensor, which no node of g writes and which an incomplete model may not know yet.) */
static NNRT_ReturnCode nnrti_control_infer(nnrti_inference *f, uint32_t g, bool *known)
{
    const NNRT_ReturnCode code = nnrti_infer_graph(f, g);
    *known = code != NNRT_SUCCESS || nnrti_list_known(f, &f->model->subGraph.data[g].outputIndices);
    f->skipped = f->skipped || !*known;
    return code;
}

/* Rule: the format of operand o, which a control-flow node assigns to tensor t, equals the declared format of t, or
   one of them is NONE. Sets a format of NONE to the declared one. */
static NNRT_ReturnCode nnrti_control_format(nnrt_resolve *c, const char *what, uint32_t k, const NNRT_Tensor *t,
                                            nnrt_operand *o)
{
    if (o->format != t->format && o->format != NNRT_FORMAT_NONE && t->format != NNRT_FORMAT_NONE)
        return nnrti_fail(c, NNRT_INVALID_FORMAT, "%s %u '%s' is declared %s, but is %s", what, k,
                          nnrti_text_of(t->name), nnrti_format_name(t->format), nnrti_format_name(o->format));
    o->format = o->format != NNRT_FORMAT_NONE ? o->format : t->format;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_control_visit(nnrti_inference *f, nnrt_resolve *c, int32_t part)
{
    c->part = part;
    return f->visit != NULL ? f->visit(f->user, (uint32_t)c->node, c, false) : NNRT_SUCCESS;
}

/* Rule: x and y, which become one value (of two branches, or before and after an iteration), have equal type,
   quantization, rank and format. */
static NNRT_ReturnCode nnrti_control_alike(nnrt_resolve *c, const char *what, uint32_t k, const nnrt_operand *x,
                                           const nnrt_operand *y)
{
    if (x->dataType != y->dataType || x->rank != y->rank || !nnrti_quant_equal(x, y))
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "%s %u is %o, expected it to be as %o", what, k, y, x);
    if (x->format != y->format && x->format != NNRT_FORMAT_NONE && y->format != NNRT_FORMAT_NONE)
        return nnrti_fail(c, NNRT_INVALID_FORMAT, "%s %u is %s, but %s elsewhere", what, k,
                          nnrti_format_name(y->format), nnrti_format_name(x->format));
    return NNRT_SUCCESS;
}

/* Sets result k of the node to the type and shape of `from`; it keeps its name, and has no known value. */
static nnrt_operand *nnrti_control_result(nnrt_resolve *c, uint32_t k, const nnrt_operand *from)
{
    const char *name = c->out[k].name;
    c->out[k] = *from;
    c->out[k].name = name;
    c->out[k].data = NULL;
    c->out[k].open = NULL;
    c->out[k].viewRank = -1;
    return &c->out[k];
}

/* Completes a control-flow node, whose results are in c->out: applies upper bounds, checks declarations, stores the
   results in f->tensors, and visits the END part. */
static NNRT_ReturnCode nnrti_control_end(nnrti_inference *f, nnrt_resolve *c)
{
    const NNRT_Uint32List *out = &f->model->nodes.data[c->node].outputIndex;
    NNRT_ReturnCode code = nnrti_bound_results(f, c);
    for (uint32_t k = 0; k < c->nOut && code == NNRT_SUCCESS; k++) {
        const NNRT_DataType declared =
            out->data[k] != NNRT_NO_TENSOR ? f->model->allTensors.data[out->data[k]].dataType : NNRT_DATA_TYPE_UNKNOWN;
        if (out->data[k] == NNRT_NO_TENSOR)
            continue;
        if (declared != NNRT_DATA_TYPE_UNKNOWN && declared != c->out[k].dataType)
            code = nnrti_fail(c, NNRT_INVALID_DATATYPE, "output %u '%s' is declared %t, but is %t", k, c->out[k].name,
                              declared, c->out[k].dataType);
        else if ((code = nnrti_check_declared(f->model, c, k, out->data[k])) == NNRT_SUCCESS &&
                 (code = nnrti_control_format(c, "output", k, &f->model->allTensors.data[out->data[k]], &c->out[k])) ==
                     NNRT_SUCCESS) {
            f->tensors[out->data[k]] = c->out[k];
            nnrti_now_known(f, out->data[k]);
        }
    }
    return code != NNRT_SUCCESS ? code : nnrti_control_visit(f, c, NNRT_PART_END);
}

/* Result k of an IF from the results x and y of its branches: a dimension in which they differ is dynamic, with a new
   symbol and the larger size as upper bound. */
static NNRT_ReturnCode nnrti_if_result(nnrti_inference *f, nnrt_resolve *c, uint32_t k, const nnrt_operand *x,
                                       const nnrt_operand *y)
{
    nnrt_operand *z;
    const NNRT_ReturnCode code = nnrti_control_alike(c, "output of the else-graph", k, x, y);
    if (code != NNRT_SUCCESS)
        return code;
    z = nnrti_control_result(c, k, x);
    z->format = x->format != NNRT_FORMAT_NONE ? x->format : y->format;
    z->most = 0;
    for (int32_t i = 0; i < x->rank; i++)
        if (x->symbols[i] != y->symbols[i] || x->dims[i] != y->dims[i]) {
            z->dims[i] = x->dims[i] > y->dims[i] ? x->dims[i] : y->dims[i];
            z->symbols[i] = ++f->symbols;
        }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_infer_if(nnrti_inference *f, uint32_t n, nnrt_resolve *c)
{
    const NNRT_If *a;
    const NNRT_SubGraph *yes, *no;
    bool yesKnown, noKnown;
    NNRT_ReturnCode code = nnrti_control_begin(f, n, c);
    if (code != NNRT_SUCCESS || (code = nnrti_one_element(c, 0, "cond")) != NNRT_SUCCESS)
        return code;
    a = (const NNRT_If *)c->resolved;
    if ((code = nnrti_control_graph(f, c, "thenGraph", a->thenGraph, 0, c->nOut)) != NNRT_SUCCESS ||
        (code = nnrti_control_graph(f, c, "elseGraph", a->elseGraph, 0, c->nOut)) != NNRT_SUCCESS ||
        (code = nnrti_control_visit(f, c, NNRT_PART_BEGIN)) != NNRT_SUCCESS ||
        (code = nnrti_control_infer(f, a->thenGraph, &yesKnown)) != NNRT_SUCCESS ||
        (code = nnrti_control_visit(f, c, NNRT_PART_ELSE)) != NNRT_SUCCESS ||
        (code = nnrti_control_infer(f, a->elseGraph, &noKnown)) != NNRT_SUCCESS || !yesKnown || !noKnown)
        return code;
    yes = &f->model->subGraph.data[a->thenGraph];
    no = &f->model->subGraph.data[a->elseGraph];
    for (uint32_t k = 0; k < c->nOut; k++)
        if (f->model->nodes.data[n].outputIndex.data[k] != NNRT_NO_TENSOR &&
            (code = nnrti_if_result(f, c, k, &f->tensors[yes->outputIndices.data[k]],
                                    &f->tensors[no->outputIndices.data[k]])) != NNRT_SUCCESS)
            return code;
    return nnrti_control_end(f, c);
}

/* Whether o has exactly one element, which is known and not dynamic; *number = its value. */
static bool nnrti_known_number(const nnrt_operand *o, int64_t *number)
{
    if (nnrti_absent(o) || o->data == NULL || nnrti_value_dynamic(o) || nnrti_count(o) != 1)
        return false;
    *number = o->dataType == NNRT_DATA_TYPE_BOOL ? *(const uint8_t *)o->data != 0 : nnrti_value(o, 0);
    return true;
}

/* Types and shapes of inputs 0 and 1 of the body, the iteration number (an integer) and cond (a bool): scalars, or the
   declared shape if that has one element. */
static NNRT_ReturnCode nnrti_loop_counters(nnrti_inference *f, nnrt_resolve *c, const NNRT_SubGraph *body)
{
    for (uint32_t i = 0; i < 2; i++) {
        nnrt_operand *o = &f->tensors[body->inputIndices.data[i]];
        nnrti_operand_of(&f->model->allTensors.data[body->inputIndices.data[i]], o);
        nnrti_now_known(f, body->inputIndices.data[i]);
        if (nnrti_absent(o))
            o->dataType = i == 1 ? NNRT_DATA_TYPE_BOOL : NNRT_DATA_TYPE_INT64;
        if (o->rank < 0)
            o->rank = 0;
        if (!nnrti_type_in(o->dataType, i == 1 ? NNRT_TYPES_BOOL : NNRT_TYPES_INDEX) || nnrti_count(o) != 1)
            return nnrti_fail(c, NNRT_INVALID_MODEL, "input %u of its body is %o, expected %s", i, o,
                              i == 1 ? "one bool" : "one int32 or int64");
    }
    return NNRT_SUCCESS;
}

/* The upper bound in the configuration for carried value k, by the name of the body's input, else of the node's
   output; NULL: none of the right rank. */
static const nnrt_dims *nnrti_loop_bound(const nnrti_inference *f, const nnrt_resolve *c, uint32_t k,
                                         const nnrt_operand *in)
{
    const nnrt_dims *most = nnrt_bound_of(&f->bounds, in->name);
    if (most == NULL)
        most = nnrt_bound_of(&f->bounds, c->out[k].name);
    return most != NULL && most->rank == in->rank ? most : NULL;
}

/* Makes axis i of carried value k dynamic, as it varies between iterations: with its upper bound, or if none is
   required with an assumed size. */
static NNRT_ReturnCode nnrti_loop_open(nnrti_inference *f, nnrt_resolve *c, uint32_t k, nnrt_operand *in, int32_t i)
{
    const nnrt_dims *most = nnrti_loop_bound(f, c, k, in);
    in->most = 0;
    if (most == NULL) {
        in->dims[i] = NNRTI_OPEN_EXTENT;
        in->symbols[i] = ++f->symbols | NNRTI_UNBOUNDED;
        nnrti_fit_open(in);
        return NNRT_SUCCESS;
    }
    if (in->symbols[i] == 0 && in->dims[i] > most->dims[i])
        return nnrti_fail(c, NNRT_INVALID_SHAPE,
                          "carried value %u comes into the body as %o, but its bound has extent %d "
                          "for axis %d",
                          k, in, most->dims[i], i);
    in->dims[i] = most->dims[i];
    in->symbols[i] = ++f->symbols;
    return NNRT_SUCCESS;
}

/* Sets the body's input (tensor) for carried value k to the initial value of the loop. Axes that an earlier round
   found to vary (f->opened) become dynamic. */
static NNRT_ReturnCode nnrti_loop_carry(nnrti_inference *f, nnrt_resolve *c, uint32_t k, uint32_t tensor)
{
    nnrt_operand *o = &f->tensors[tensor];
    const NNRT_Tensor *t = &f->model->allTensors.data[tensor];
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrti_now_known(f, tensor);
    *o = c->in[2 + k];
    o->name = nnrti_text_of(t->name);
    o->data = NULL;
    o->open = NULL;
    o->viewRank = -1;
    if (t->dataType != NNRT_DATA_TYPE_UNKNOWN && t->dataType != o->dataType)
        return nnrti_fail(c, NNRT_INVALID_DATATYPE, "input %u of its body is declared %t, but is %o", 2 + k,
                          t->dataType, o);
    code = nnrti_control_format(c, "carried value", k, t, o);
    for (int32_t i = 0; i < o->rank && code == NNRT_SUCCESS; i++)
        if ((f->opened[tensor] >> i & 1) != 0)
            code = nnrti_loop_open(f, c, k, o, i);
    return code;
}

/* Compares carried value k after the body with its value before: an axis that differs is marked in f->opened, and
   *changed is set. all: marks every axis that has an upper bound. Fails if a differing axis has no upper bound but
   needs one. */
static NNRT_ReturnCode nnrti_loop_close(nnrti_inference *f, nnrt_resolve *c, uint32_t k, const NNRT_SubGraph *body,
                                        bool all, bool *changed)
{
    const uint32_t tensor = body->inputIndices.data[2 + k];
    const nnrt_operand *in = &f->tensors[tensor], *out = &f->tensors[body->outputIndices.data[1 + k]];
    const NNRT_ReturnCode code = nnrti_control_alike(c, "carried value", k, in, out);
    if (code != NNRT_SUCCESS)
        return code;
    for (int32_t i = 0; i < in->rank; i++) {
        const bool same = in->symbols[i] == out->symbols[i] && in->dims[i] == out->dims[i],
                   may = f->config == NULL || nnrti_loop_bound(f, c, k, in) != NULL;
        if ((f->opened[tensor] >> i & 1) != 0 || (same && !(all && may)))
            continue; /* dimensions that become dynamic are checked in each iteration */
        if (!may)
            return nnrti_fail(
                c, NNRT_UNSUPPORTED_OP,
                "carried value %u '%n' comes into the body as %o and leaves it as %o: give its upper bound (bounds)",
                k, in->name[0] != '\0' ? in->name : nnrti_text_of(c->out[k].name), in, out);
        f->opened[tensor] = (uint8_t)(f->opened[tensor] | 1u << i);
        *changed = true;
    }
    return NNRT_SUCCESS;
}

/* Result k of a LOOP, a scan output: the values of `element` of all iterations, stacked along a new axis 0. exact:
   the number of iterations is `trips`; bounded: it is at most `trips`. */
static void nnrti_loop_scan(nnrti_inference *f, nnrt_resolve *c, uint32_t k, const nnrt_operand *element, bool exact,
                            bool bounded, int64_t trips)
{
    nnrt_operand *y = nnrti_control_result(c, k, element);
    y->most = 0;
    y->format = NNRT_FORMAT_NONE;
    y->rank = element->rank + 1;
    for (int32_t i = element->rank; i > 0 && i < NNRT_MAX_RANK; i--) {
        y->dims[i] = element->dims[i - 1];
        y->symbols[i] = element->symbols[i - 1] != 0 ? ++f->symbols : 0;
    }
    y->dims[0] = bounded ? (int32_t)trips : 1;
    y->symbols[0] = exact ? 0 : ++f->symbols | (bounded ? 0 : NNRTI_UNBOUNDED);
}

/* The results of a LOOP: the final carried values, then the scan outputs. */
static NNRT_ReturnCode nnrti_loop_results(nnrti_inference *f, nnrt_resolve *c, const NNRT_SubGraph *body)
{
    const uint32_t carried = c->nIn > 2 ? c->nIn - 2 : 0;
    const uint32_t cond = body->outputIndices.data[0];
    int64_t trips = 0, value = 0;
    const bool bounded = nnrti_known_number(&c->in[0], &trips) && trips <= INT32_MAX;
    const bool starts = nnrti_absent(&c->in[1]) || (nnrti_known_number(&c->in[1], &value) && value != 0);
    const bool goes =
        cond == body->inputIndices.data[1] || (nnrti_known_number(&f->tensors[cond], &value) && value != 0);
    trips = trips > 0 ? trips : 0;
    for (uint32_t k = 0; k < c->nOut; k++) {
        const nnrt_operand *from =
            k < carried ? &f->tensors[body->inputIndices.data[2 + k]] : &f->tensors[body->outputIndices.data[1 + k]];
        if (f->model->nodes.data[c->node].outputIndex.data[k] == NNRT_NO_TENSOR)
            continue;
        if (k >= carried && from->rank >= NNRT_MAX_RANK)
            return nnrti_fail(c, NNRT_INVALID_SHAPE, "scan %u would have %d axes, at most %d are possible", k - carried,
                              from->rank + 1, NNRT_MAX_RANK);
        if (k < carried)
            (void)nnrti_control_result(c, k, from);
        else
            nnrti_loop_scan(f, c, k, from, bounded && starts && goes, bounded, trips);
    }
    return NNRT_SUCCESS;
}

#define NNRTI_LOOP_ROUNDS 16

/* Shape inference of a LOOP by fixed-point iteration: infers the body until its carried values have the same shapes
   after it as before; an axis that differs becomes dynamic, and the body is inferred again (part UNDO discards the
   earlier visits). One round suffices unless a value grows. A value may grow because another one does, so that the
   number of rounds is limited by the number of axes only: after NNRTI_LOOP_ROUNDS every axis with an upper bound
   becomes dynamic, which keeps the work linear in the nodes of the body. */
NNRTI_COLD static NNRT_ReturnCode nnrti_infer_loop(nnrti_inference *f, uint32_t n, nnrt_resolve *c)
{
    const NNRT_SubGraph *body;
    uint32_t carried, g, rounds = 0;
    bool changed = true, known;
    NNRT_ReturnCode code = nnrti_control_begin(f, n, c);
    if (code != NNRT_SUCCESS ||
        (c->nIn > 0 && !nnrti_absent(&c->in[0]) && (code = nnrti_one_element(c, 0, "trips")) != NNRT_SUCCESS) ||
        (c->nIn > 1 && !nnrti_absent(&c->in[1]) && (code = nnrti_one_element(c, 1, "cond")) != NNRT_SUCCESS))
        return code;
    carried = c->nIn > 2 ? c->nIn - 2 : 0;
    if (c->nIn < 2)
        return nnrti_fail(c, NNRT_INVALID_INPUT,
                          "has %u inputs, expected at least 2 (trips, cond, either may be absent)", c->nIn);
    if (c->nOut < carried)
        return nnrti_fail(c, NNRT_INVALID_OUTPUT, "has %u outputs for %u carried values", c->nOut, carried);
    g = ((const NNRT_Loop *)c->resolved)->body;
    if ((code = nnrti_control_graph(f, c, "body", g, carried + 2u, c->nOut + 1u)) != NNRT_SUCCESS)
        return code;
    body = &f->model->subGraph.data[g];
    if ((code = nnrti_loop_counters(f, c, body)) != NNRT_SUCCESS)
        return code;
    for (; changed; rounds++) {
        for (uint32_t k = 0; k < carried; k++)
            if ((code = nnrti_loop_carry(f, c, k, body->inputIndices.data[2 + k])) != NNRT_SUCCESS)
                return code;
        if ((rounds > 0 && (code = nnrti_control_visit(f, c, NNRT_PART_UNDO)) != NNRT_SUCCESS) ||
            (code = nnrti_control_visit(f, c, NNRT_PART_BEGIN)) != NNRT_SUCCESS ||
            (code = nnrti_control_infer(f, g, &known)) != NNRT_SUCCESS || !known)
            return code;
        changed = false;
        if (nnrti_absent(&f->tensors[body->outputIndices.data[0]]) ||
            f->tensors[body->outputIndices.data[0]].dataType != NNRT_DATA_TYPE_BOOL ||
            nnrti_count(&f->tensors[body->outputIndices.data[0]]) != 1)
            return nnrti_fail(c, NNRT_INVALID_MODEL, "output 0 of its body is %o, expected one bool",
                              &f->tensors[body->outputIndices.data[0]]);
        for (uint32_t k = 0; k < carried; k++)
            if ((code = nnrti_loop_close(f, c, k, body, rounds >= NNRTI_LOOP_ROUNDS, &changed)) != NNRT_SUCCESS)
                return code;
    }
    if ((code = nnrti_loop_results(f, c, body)) != NNRT_SUCCESS)
        return code;
    return nnrti_control_end(f, c);
}

/* Shape inference of a control-flow node and of the nodes of its subgraphs. */
static NNRT_ReturnCode nnrti_infer_control(nnrti_inference *f, uint32_t n)
{
    nnrt_resolve c;
    return f->model->nodes.data[n].nodeType == NNRT_NODE_TYPE_IF ? nnrti_infer_if(f, n, &c)
                                                                 : nnrti_infer_loop(f, n, &c);
}

#endif

/* nnrt_model_infer without the check; order: of nnrti_check_model. */
static NNRT_ReturnCode nnrti_infer_sorted(const NNRT_Model *model, const NNRT_ModelConfig *config,
                                          const uint32_t *order, nnrt_memory *memory, nnrt_operand *tensors,
                                          nnrt_visit visit, void *user)
{
    const size_t widest = nnrti_widest(model);
    nnrti_inference f;
    NNRT_ReturnCode code;
    memset(&f, 0, sizeof(f));
    f.model = model;
    f.config = config;
    f.memory = memory;
    f.tensors = tensors;
    f.operands = (nnrt_operand *)nnrt_memory_temp_array(memory, widest, sizeof(*f.operands));
    f.results = (void **)nnrt_memory_temp_array(memory, widest, sizeof(*f.results));
    f.error = config->error;
    f.order = order;
    f.visit = visit;
    f.user = user;
#ifndef NNRT_FIRMWARE
    if (model->subGraph.count > 1)
        f.opened = (uint8_t *)nnrt_memory_temp_array(memory, model->allTensors.count, sizeof(*f.opened));
#endif
    if (memory->full)
        return nnrti_no_memory(config->error);
    for (uint32_t i = 0; i < model->allTensors.count; i++)
        nnrti_operand_of(&model->allTensors.data[i], &tensors[i]);
    code = nnrti_input_dims(&f);
    return code != NNRT_SUCCESS ? code : nnrti_infer_graph(&f, 0);
}

NNRT_API NNRT_ReturnCode nnrt_model_infer(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_memory *memory,
                                          nnrt_operand *tensors, nnrt_visit visit, void *user)
{
    NNRT_ModelConfig zero;
    uint32_t *order = NULL;
    NNRT_ReturnCode code;
    memset(&zero, 0, sizeof(zero));
    if (config == NULL)
        config = &zero;
    code = nnrt_model_check(model, memory, &order, config->error);
    return code != NNRT_SUCCESS ? code : nnrti_infer_sorted(model, config, order, memory, tensors, visit, user);
}

#ifndef NNRT_FIRMWARE

/* nnrt_model_copy copies names, lists, attributes, and on request constants. false: no memory, or an unknown operator.
   nnrti_copy_bytes replaces *at by a kept copy of its bytes. */
static bool nnrti_copy_bytes(nnrt_memory *memory, const void **at, size_t bytes)
{
    void *copy;
    if (*at == NULL)
        return true;
    copy = nnrt_memory_keep(memory, bytes);
    if (copy == NULL)
        return false;
    memcpy(copy, *at, bytes);
    *at = copy;
    return true;
}

static bool nnrti_copy_name(nnrt_memory *memory, const char **name)
{
    return *name == NULL || nnrti_copy_bytes(memory, (const void **)name, strlen(*name) + 1);
}

#define NNRTI_COPY_LIST(memory, list)                                                                                  \
    nnrti_copy_bytes(memory, (const void **)&(list).data, (list).count * sizeof(*(list).data))

/* Replaces the lists, the name and (constants) the data of a tensor, a shallow copy, by copies; false: no memory. */
static bool nnrti_copy_tensor(nnrt_memory *memory, NNRT_Tensor *t, bool constants)
{
    const void *data = nnrti_buffer_data(&t->data);
    void *copy;
    if (!nnrti_copy_name(memory, &t->name) || !NNRTI_COPY_LIST(memory, t->dims) ||
        !NNRTI_COPY_LIST(memory, t->quantParams) || !NNRTI_COPY_LIST(memory, t->symbols))
        return false;
    if (!constants || data == NULL)
        return true;
    if (!nnrt_memory_reserve(memory, t->data.dataSize, &copy))
        return false;
    if (copy == NULL) /* count mode: constants are counted, but used in place */
        return true;
    memcpy(copy, data, t->data.dataSize);
    t->data.addr = copy;
    t->data.fd = -1;
    t->data.offset = 0;
    t->data.bufferSize = t->data.dataSize;
    return true;
}

/* Replaces the lists, the name and the attributes of a node, a shallow copy, by copies; members outside nodeAttr.size
   have their defaults. */
static bool nnrti_copy_node(nnrt_memory *memory, NNRT_Node *n)
{
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    void *attr;
    if (!nnrti_copy_name(memory, &n->name) || !NNRTI_COPY_LIST(memory, n->inputIndex) ||
        !NNRTI_COPY_LIST(memory, n->outputIndex))
        return false;
    if (op == NULL)
        return true;
    attr = nnrt_memory_keep(memory, op->attr->bytes);
    if (attr == NULL)
        return false;
    nnrt_attr_defaults(op->attr, attr);
    for (uint32_t i = 0; i < op->attr->count; i++) {
        const nnrt_attr_member *m = &op->attr->members[i];
        if (n->nodeAttr.data != NULL && m->offset + m->bytes <= n->nodeAttr.size)
            memcpy((uint8_t *)attr + m->offset, (const uint8_t *)n->nodeAttr.data + m->offset, m->bytes);
    }
    n->nodeAttr.data = attr;
    n->nodeAttr.size = op->attr->bytes;
    return nnrti_attr_own(op->attr, attr, nnrti_keep_for_rule, memory);
}

NNRTI_COLD NNRT_API NNRT_Model *nnrt_model_copy(const NNRT_Model *model, nnrt_memory *memory, bool constants)
{
    NNRT_Model *m = (NNRT_Model *)nnrt_memory_keep(memory, sizeof(*m));
    NNRT_Tensor *tensors;
    NNRT_Node *nodes;
    NNRT_SubGraph *graphs;
    if (m == NULL)
        return NULL;
    *m = *model;
    m->self = NULL;
    if (!nnrti_copy_name(memory, &m->name) || !NNRTI_COPY_LIST(memory, m->inputIndex) ||
        !NNRTI_COPY_LIST(memory, m->outputIndex) || !NNRTI_COPY_LIST(memory, m->nodes) ||
        !NNRTI_COPY_LIST(memory, m->allTensors) || !NNRTI_COPY_LIST(memory, m->subGraph))
        return NULL;
    tensors = (NNRT_Tensor *)(uintptr_t)m->allTensors.data;
    nodes = (NNRT_Node *)(uintptr_t)m->nodes.data;
    graphs = (NNRT_SubGraph *)(uintptr_t)m->subGraph.data;
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        if (!nnrti_copy_tensor(memory, &tensors[i], constants))
            return NULL;
    for (uint32_t i = 0; i < m->nodes.count; i++)
        if (!nnrti_copy_node(memory, &nodes[i]))
            return NULL;
    for (uint32_t i = 0; i < m->subGraph.count; i++)
        if (!nnrti_copy_name(memory, &graphs[i].name) || !NNRTI_COPY_LIST(memory, graphs[i].inputIndices) ||
            !NNRTI_COPY_LIST(memory, graphs[i].outputIndices) || !NNRTI_COPY_LIST(memory, graphs[i].nodeIndices))
            return NULL;
    return m;
}

#endif

NNRT_API NNRT_ReturnCode nnrt_model_validate(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_error *error)
{
    NNRT_ModelConfig own;
    nnrt_memory memory;
    nnrt_operand *tensors;
    NNRT_ReturnCode code;
#ifndef NNRT_FIRMWARE
    nnrt_mapping *mappings;
#endif
    memset(&own, 0, sizeof(own));
    if (config != NULL)
        own = *config;
    own.error = error;
    if (model == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the model is NULL");
    if ((code = nnrti_check_lists(model, error)) != NNRT_SUCCESS)
        return code;
    nnrt_memory_allocate(&memory, own.allocator);
    tensors = (nnrt_operand *)nnrt_memory_temp_array(&memory, model->allTensors.count, sizeof(*tensors));
#ifndef NNRT_FIRMWARE
    model = nnrt_model_map(model, &memory, &mappings);
#endif
    code = tensors == NULL || model == NULL ? nnrti_no_memory(error)
                                            : nnrt_model_infer(model, &own, &memory, tensors, NULL, NULL);
#ifndef NNRT_FIRMWARE
    nnrt_model_unmap(mappings);
#endif
    nnrt_memory_end(&memory);
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>planner */

/* The memory planner assigns arena offsets from liveness. Its input is a list of blocks: bytes, and the first and last
   step at which the block holds data (>>plan computes both, after in-place results and aliases have merged tensors
   into one block). Its output is an offset for each block, and the size of the arena.

   Invariant: two blocks that are live at the same step share no byte. The lower bound is the largest sum of bytes that
   are live at one step; no arena can be smaller. The result depends on the list of blocks alone, so it is the same on
   every platform: all ranks are total orders, and the random numbers have a fixed seed.

   Idea: offline bin packing in two dimensions (bytes and steps). The planner places blocks one by one in some order,
   each into a gap left by the placed blocks that are live at the same time. The best order depends on the graph, so it
   tries several and then changes the best one locally. By size alone, a chain of seven operators can end 25 % above
   the lower bound. Rejected: ranks by length of life and by step (no gain beside these four), and placing anew only
   the blocks live together with the topmost one (gets stuck early). An exact solution is out of reach: dynamic
   storage allocation is NP-hard. */
#ifndef NNRTI_PLAN_TRIALS
#ifdef NNRT_FIRMWARE
#define NNRTI_PLAN_TRIALS 0u /* the best of the orders: mostly within a few per cent, and planned in milliseconds */
#else
#define NNRTI_PLAN_TRIALS 2000u
#endif
#endif
#ifndef NNRTI_PLAN_WORK
#define NNRTI_PLAN_WORK 12000000u
#endif

/* The time must not be quadratic in the number of blocks. More than NNRTI_PLAN_SMALL blocks first get a plan in the
   order of the steps, as an allocator with free lists would place them during a run: O(count log count) for every
   graph. The orders above then have to beat it within a budget. They compare a block with all placed blocks, in a
   list sorted by offset, or, if few blocks are live at a time, with the live ones only, which a tree finds: both ways
   return the same offset. Rejected: once the budget is spent, placing on top of all blocks live at the same time (2 to
   3 times the lower bound if blocks live long). */
#define NNRTI_PLAN_SMALL 1024u
#define NNRTI_PLAN_STEPS 256u /* of the budget for each further block */
#define NNRTI_PLAN_BINS 64    /* free lists, by the binary logarithm of the bytes */
#define NNRTI_PLAN_LOOKS 16   /* pieces of a free list that are compared */
#define NNRTI_PLAN_NONE 0xFFFFFFFFu

/* A placed block: bytes [offset, end), steps [first, last]. */
typedef struct nnrti_plan_span {
    size_t offset, end;
    int32_t first, last;
} nnrti_plan_span;

/* A piece of the allocator's memory. Its number is that of the block in it, or, if it is free, of a former block. */
typedef struct nnrti_plan_piece {
    size_t bytes;
    uint32_t below, above; /* neighbours in memory, or NNRTI_PLAN_NONE */
    uint32_t prev, next;   /* in its free list, or NNRTI_PLAN_NONE; prev of a used piece is the piece itself */
} nnrti_plan_piece;

/* State of one call of nnrt_plan_arena. The arrays are in the caller's scratch memory and have count elements. */
typedef struct nnrti_plan {
    nnrt_plan_block *blocks; /* offset: the best plan so far */
    uint32_t count, n;       /* number of blocks, and of blocks larger than 0 bytes */
    nnrti_plan_span *placed; /* the trial's placed blocks by ascending offset, or the subset that the tree found */
    size_t *size;            /* rounded bytes, per block */
    size_t *breadth;         /* largest sum of live bytes while the block is live, per block */
    size_t *offset;          /* the trial's offsets, per block */
    uint32_t *lane;          /* per block: its lane; blocks of one lane are never live at the same time */
    uint32_t *order, *trial; /* n block numbers: the order behind the best plan, and the one being tried */
    size_t best, lower;      /* arena of the best plan (SIZE_MAX: none yet), and the lower bound */
    uint64_t work, budget;   /* elements visited while placing, and the number at which to stop */
    uint32_t random;         /* state of the generator, never 0 */
    int bestFit;             /* fit of the best plan: 0 first, 1 best, -1: the allocator's plan */
    /* of more than NNRTI_PLAN_SMALL blocks: */
    nnrti_plan_piece *pieces; /* per block */
    uint32_t leaves;          /* of the tree, a power of two; 0: placed has all placed blocks */
    uint32_t *begin, *rank;   /* block numbers sorted by first step; position of a block in begin */
    uint32_t *until;          /* per block: the rank behind the last block that begins while it is live */
    uint32_t *found;          /* numbers of the blocks in `placed` */
    uint32_t *reach;          /* max-tree, node 1 is the root: leaves by rank, `until` of placed blocks, else 0 */
} nnrti_plan;

#define NNRTI_PLAN_BLOCK_BYTES (sizeof(nnrti_plan_span) + 3 * sizeof(size_t) + 3 * sizeof(uint32_t))
#define NNRTI_PLAN_LARGE_BYTES (sizeof(nnrti_plan_piece) + 4 * sizeof(uint32_t)) /* more above PLAN_SMALL */

/* Ranks. The first NNRTI_PLAN_ORDERS are tried; the others serve the walk over the steps. */
enum {
    NNRTI_PLAN_SIZE,
    NNRTI_PLAN_BREADTH,
    NNRTI_PLAN_AREA,
    NNRTI_PLAN_LANE,
    NNRTI_PLAN_ORDERS,
    NNRTI_PLAN_BEGIN,
    NNRTI_PLAN_END,
    NNRTI_PLAN_OFFSET
};

/* Number of leaves of the tree for count blocks, a power of two; 0: there is no tree. */
static uint64_t nnrti_plan_leaves(uint32_t count)
{
#ifdef NNRT_FIRMWARE
    uint64_t leaves = 0;
#else
    uint64_t leaves = count > NNRTI_PLAN_SMALL ? NNRTI_PLAN_SMALL : 0;
#endif
    while (leaves != 0 && leaves < count) {
        leaves *= 2;
    }
    return leaves;
}

NNRT_API size_t nnrt_plan_scratch(uint32_t count)
{
    const uint64_t leaves = nnrti_plan_leaves(count);
    uint64_t bytes = (uint64_t)count * NNRTI_PLAN_BLOCK_BYTES;
    if (leaves != 0) {
        bytes += (uint64_t)count * NNRTI_PLAN_LARGE_BYTES + 2 * leaves * sizeof(uint32_t);
    }
    return bytes >= SIZE_MAX || leaves > UINT32_MAX / 2 ? SIZE_MAX : (size_t)bytes;
}

/* Divides scratch (nnrt_plan_scratch bytes, aligned to 8) into the arrays, widest alignment first. */
static void nnrti_plan_carve(nnrti_plan *p, void *scratch)
{
    p->placed = (nnrti_plan_span *)scratch;
    p->size = (size_t *)(void *)(p->placed + p->count);
    p->breadth = p->size + p->count;
    p->offset = p->breadth + p->count;
    p->leaves = (uint32_t)nnrti_plan_leaves(p->count);
    p->pieces = (nnrti_plan_piece *)(void *)(p->offset + p->count);
    p->lane = (uint32_t *)(void *)(p->leaves != 0 ? p->pieces + p->count : p->pieces);
    p->order = p->lane + p->count;
    p->trial = p->order + p->count;
    if (p->leaves != 0) {
        p->begin = p->trial + p->count;
        p->rank = p->begin + p->count;
        p->until = p->rank + p->count;
        p->found = p->until + p->count;
        p->reach = p->found + p->count;
    }
}

/* Rounds the size of every block up to alignment and counts the blocks larger than 0 bytes (n). INVALID_PARAMETER:
   last < first; OUT_OF_MEMORY: a rounded size does not fit a size_t. */
static NNRT_ReturnCode nnrti_plan_sizes(nnrti_plan *p, size_t alignment)
{
    size_t mask = alignment - 1;
    uint32_t i;
    for (i = 0; i < p->count; ++i) {
        const nnrt_plan_block *b = &p->blocks[i];
        if (b->last < b->first) {
            return NNRT_INVALID_PARAMETER;
        }
        if (b->bytes > SIZE_MAX - mask) {
            return NNRT_OUT_OF_MEMORY;
        }
        p->size[i] = (b->bytes + mask) & ~mask;
        p->n += p->size[i] != 0;
    }
    return NNRT_SUCCESS;
}

/* The value by which block i is ranked, larger first: bytes; largest load while it is live; bytes * steps; lane.
   Ranking by lane is best for chains of operators, whose results alternate between two lanes. The product saturates
   only for sizes that a 32-bit size_t cannot hold, so the order is the same on every platform. */
static uint64_t nnrti_plan_key(const nnrti_plan *p, int rank, uint32_t i)
{
    uint32_t first = (uint32_t)p->blocks[i].first, last = (uint32_t)p->blocks[i].last;
    uint64_t size = p->size[i], length = (uint64_t)(last - first) + 1;
    switch (rank) {
    case NNRTI_PLAN_SIZE: return size;
    case NNRTI_PLAN_BREADTH: return p->breadth[i];
    case NNRTI_PLAN_AREA: return size > UINT64_MAX / length ? UINT64_MAX : size * length;
    case NNRTI_PLAN_LANE: return UINT32_MAX - p->lane[i];
    case NNRTI_PLAN_BEGIN: return INT32_MAX - first;
#ifndef NNRT_FIRMWARE
    case NNRTI_PLAN_OFFSET: return UINT64_MAX - p->offset[i];
#endif
    default: return INT32_MAX - last;
    }
}

/* True if block a comes before b: by rank, then the larger, then the earlier, then the lower number. This is a total
   order, so any sort returns the same sequence. */
static int nnrti_plan_before(const nnrti_plan *p, int rank, uint32_t a, uint32_t b)
{
    uint64_t ka = nnrti_plan_key(p, rank, a), kb = nnrti_plan_key(p, rank, b);
    if (ka != kb) {
        return ka > kb;
    }
    if (p->size[a] != p->size[b]) {
        return p->size[a] > p->size[b];
    }
    return p->blocks[a].first != p->blocks[b].first ? p->blocks[a].first < p->blocks[b].first : a < b;
}

/* Swaps the elements at i and j, which may be equal. */
static void nnrti_plan_swap(uint32_t *list, uint32_t i, uint32_t j)
{
    uint32_t t = list[i];
    list[i] = list[j];
    list[j] = t;
}

/* Restores the heap order of list[0 .. n) below root: no block comes after its parent. Holds already for the
   descendants of root. */
static void nnrti_plan_sift(const nnrti_plan *p, int rank, uint32_t *list, uint32_t root, uint32_t n)
{
    while (root < n / 2) {
        uint32_t child = 2 * root + 1;
        if (child + 1 < n && nnrti_plan_before(p, rank, list[child], list[child + 1])) {
            ++child;
        }
        if (!nnrti_plan_before(p, rank, list[root], list[child])) {
            return;
        }
        nnrti_plan_swap(list, root, child);
        root = child;
    }
}

/* Sorts n block numbers by rank. Heap sort: no recursion, no further memory, O(n log n) for every input. */
static void nnrti_plan_heap(const nnrti_plan *p, int rank, uint32_t *list, uint32_t n)
{
    uint32_t i;
    for (i = n / 2; i-- > 0;) {
        nnrti_plan_sift(p, rank, list, i, n);
    }
    for (i = n; i-- > 1;) {
        nnrti_plan_swap(list, 0, i);
        nnrti_plan_sift(p, rank, list, 0, i);
    }
}

/* Fills list with the numbers of the n blocks larger than 0 bytes, sorted by rank. */
static void nnrti_plan_sort(const nnrti_plan *p, int rank, uint32_t *list)
{
    uint32_t i, n = 0;
    for (i = 0; i < p->count; ++i) {
        if (p->size[i] != 0) {
            list[n++] = i;
        }
    }
    nnrti_plan_heap(p, rank, list, n);
}

#ifdef NNRT_FIRMWARE /* models on microcontrollers have few blocks: no tree, no allocator */
#define nnrti_plan_has_tree(p) false
#define nnrti_plan_index(p) ((void)0)
#define nnrti_plan_find(p, i) 0u
#define nnrti_plan_clear(p) ((void)0)
#define nnrti_plan_enter(p, i) ((void)0)
#define nnrti_plan_allocate(p) ((void)0)
#define nnrti_plan_forget(p) ((void)0)
#else
/* Whether live blocks are found with the tree; otherwise placed has all placed blocks. */
static bool nnrti_plan_has_tree(const nnrti_plan *p)
{
    return p->leaves != 0;
}

/* Fills begin, rank and until from order, sorted by first step, and trial, sorted by last step. Blocks i and j are live
   at the same step if and only if rank[i] < until[j] and rank[j] < until[i]. Drops the tree (leaves = 0) if more than
   1/32 of all pairs of blocks are live together: the list is faster then. */
static void nnrti_plan_index(nnrti_plan *p)
{
    uint64_t pairs = 0;
    uint32_t k, end = 0;
    for (k = 0; k < p->n; ++k) {
        p->begin[k] = p->order[k];
        p->rank[p->order[k]] = k;
    }
    for (k = 0; k < p->n; ++k) {
        while (end < p->n && p->blocks[p->begin[end]].first <= p->blocks[p->trial[k]].last) {
            ++end;
        }
        p->until[p->trial[k]] = end;
        pairs += end - p->rank[p->trial[k]];
    }
    if (pairs > (uint64_t)p->n * p->n / 32) {
        p->leaves = 0;
    }
}

/* Fills placed with the placed blocks that are live together with block i, by ascending offset; returns their number.
   Walks the leaves before until[i] from left to right, and descends only where the maximum is above rank[i]. */
static uint32_t nnrti_plan_find(nnrti_plan *p, uint32_t i)
{
    uint32_t node = 1, width = p->leaves, first = 0, n = 0, k;
    while (node != 0 && first < p->until[i]) { /* first: rank of the node's leftmost leaf */
        const bool live = p->reach[node] > p->rank[i];
        ++p->work;
        if (live && node < p->leaves) {
            node *= 2;
            width /= 2;
            continue;
        }
        if (live) {
            p->found[n++] = p->begin[first];
        }
        first += width;
        while (node % 2 != 0) { /* the subtree of its parent is finished, too */
            node /= 2;
            width *= 2;
        }
        node += node != 0;
    }
    nnrti_plan_heap(p, NNRTI_PLAN_OFFSET, p->found, n);
    for (k = 0; k < n; ++k) {
        const nnrt_plan_block *b = &p->blocks[p->found[k]];
        nnrti_plan_span *s = &p->placed[k];
        s->offset = p->offset[p->found[k]];
        s->end = s->offset + p->size[p->found[k]];
        s->first = b->first;
        s->last = b->last;
    }
    for (k = n; k > 0; k /= 2) { /* n log n steps of the sort */
        p->work += n;
    }
    return n;
}

/* Empties the tree: no block is placed. */
static void nnrti_plan_clear(nnrti_plan *p)
{
    memset(p->reach, 0, 2 * (size_t)p->leaves * sizeof *p->reach);
    p->work += p->n;
}

/* Adds the placed block i to the tree: raises the maxima from its leaf up to the root. */
static void nnrti_plan_enter(nnrti_plan *p, uint32_t i)
{
    uint32_t node = p->rank[i] + p->leaves;
    for (; node != 0 && p->reach[node] < p->until[i]; node /= 2) {
        p->reach[node] = p->until[i];
    }
}

/* An allocator with segregated free lists. Pieces cover [0, top) without gaps; no two neighbors are free, as a free
   piece merges with free neighbors at once. */
typedef struct nnrti_plan_lists {
    uint32_t first[NNRTI_PLAN_BINS]; /* list k: free pieces of 2^k <= bytes < 2^(k + 1) */
    uint32_t highest;                /* number of the piece with the highest offset */
    size_t top;                      /* its end */
} nnrti_plan_lists;

/* The free list of a piece: floor(log2(bytes)). */
static uint32_t nnrti_plan_bin(size_t bytes)
{
    uint32_t bin = 0;
    while ((bytes /= 2) != 0) {
        ++bin;
    }
    return bin;
}

/* Puts piece i at the front of its free list. */
static void nnrti_plan_release(nnrti_plan *p, nnrti_plan_lists *l, uint32_t i)
{
    uint32_t *first = &l->first[nnrti_plan_bin(p->pieces[i].bytes)];
    p->pieces[i].prev = NNRTI_PLAN_NONE;
    p->pieces[i].next = *first;
    if (*first != NNRTI_PLAN_NONE) {
        p->pieces[*first].prev = i;
    }
    *first = i;
}

/* Removes piece i from its free list: it is in use from now on. */
static void nnrti_plan_take(nnrti_plan *p, nnrti_plan_lists *l, uint32_t i)
{
    nnrti_plan_piece *piece = &p->pieces[i];
    if (piece->prev != NNRTI_PLAN_NONE) {
        p->pieces[piece->prev].next = piece->next;
    } else {
        l->first[nnrti_plan_bin(piece->bytes)] = piece->next;
    }
    if (piece->next != NNRTI_PLAN_NONE) {
        p->pieces[piece->next].prev = piece->prev;
    }
    piece->prev = i;
}

/* Removes piece i, whose memory belongs to piece `by` from now on. by is a new piece, which gets both neighbors of
   i, or it is one of these neighbors and has absorbed i. */
static void nnrti_plan_replace(nnrti_plan *p, nnrti_plan_lists *l, uint32_t i, uint32_t by)
{
    const uint32_t below = p->pieces[i].below, above = p->pieces[i].above;
    p->pieces[by].above = above;
    if (above != NNRTI_PLAN_NONE) {
        p->pieces[above].below = by;
    }
    l->highest = l->highest == i ? by : l->highest;
    if (below == by) {
        return;
    }
    p->pieces[by].below = below;
    if (below != NNRTI_PLAN_NONE) {
        p->pieces[below].above = by;
    }
}

/* Best fit among at most NNRTI_PLAN_LOOKS free pieces per list, so that the time is bounded: the smallest piece of
   at least size bytes. NNRTI_PLAN_NONE: none was found. */
static uint32_t nnrti_plan_fit(const nnrti_plan *p, const nnrti_plan_lists *l, size_t size)
{
    uint32_t bin = nnrti_plan_bin(size), best = NNRTI_PLAN_NONE;
    for (; bin < NNRTI_PLAN_BINS && best == NNRTI_PLAN_NONE; ++bin) {
        uint32_t i = l->first[bin], looks = 0;
        for (; i != NNRTI_PLAN_NONE && looks < NNRTI_PLAN_LOOKS; ++looks, i = p->pieces[i].next) {
            if (p->pieces[i].bytes >= size && (best == NNRTI_PLAN_NONE || p->pieces[i].bytes < p->pieces[best].bytes)) {
                best = i;
            }
        }
    }
    return best;
}

/* Allocates block i: from a free piece, whose rest stays free; else by growing a free piece at the top of the
   memory; else at the top. Sets offset[i]. false: the arena would not fit a size_t. */
static bool nnrti_plan_alloc(nnrti_plan *p, nnrti_plan_lists *l, uint32_t i)
{
    const size_t size = p->size[i];
    uint32_t from = nnrti_plan_fit(p, l, size);
    const bool last = l->highest != NNRTI_PLAN_NONE && p->pieces[l->highest].prev != l->highest;
    if (from == NNRTI_PLAN_NONE && last) { /* the free piece at the end grows */
        from = l->highest;
        nnrti_plan_take(p, l, from);
        l->top = p->offset[from];
    } else if (from != NNRTI_PLAN_NONE) {
        nnrti_plan_take(p, l, from);
    }
    if ((from == NNRTI_PLAN_NONE || p->pieces[from].bytes < size) && size >= SIZE_MAX - l->top) {
        return false;
    }
    p->pieces[i].bytes = size;
    p->pieces[i].prev = i;
    p->offset[i] = from != NNRTI_PLAN_NONE ? p->offset[from] : l->top;
    if (from == NNRTI_PLAN_NONE) {
        p->pieces[i].below = l->highest;
        p->pieces[i].above = NNRTI_PLAN_NONE;
        if (l->highest != NNRTI_PLAN_NONE) {
            p->pieces[l->highest].above = i;
        }
        l->highest = i;
        l->top += size;
    } else if (p->pieces[from].bytes <= size) {
        l->top = from == l->highest ? p->offset[i] + size : l->top;
        nnrti_plan_replace(p, l, from, i);
    } else {
        p->pieces[i].below = p->pieces[from].below;
        p->pieces[i].above = from;
        if (p->pieces[i].below != NNRTI_PLAN_NONE) {
            p->pieces[p->pieces[i].below].above = i;
        }
        p->pieces[from].below = i;
        p->pieces[from].bytes -= size;
        p->offset[from] += size;
        nnrti_plan_release(p, l, from);
    }
    return true;
}

/* Frees the piece of block i and merges it with its free neighbors. */
static void nnrti_plan_free(nnrti_plan *p, nnrti_plan_lists *l, uint32_t i)
{
    const uint32_t below = p->pieces[i].below, above = p->pieces[i].above;
    if (above != NNRTI_PLAN_NONE && p->pieces[above].prev != above) {
        nnrti_plan_take(p, l, above);
        p->pieces[i].bytes += p->pieces[above].bytes;
        nnrti_plan_replace(p, l, above, i);
    }
    if (below != NNRTI_PLAN_NONE && p->pieces[below].prev != below) {
        nnrti_plan_take(p, l, below);
        p->pieces[below].bytes += p->pieces[i].bytes;
        nnrti_plan_replace(p, l, i, below);
        i = below;
    }
    nnrti_plan_release(p, l, i);
}

/* First plan for many blocks: simulates an allocator that, step by step, frees the blocks that have ended and then
   allocates the blocks that begin. best stays SIZE_MAX if the arena would not fit a size_t. */
static void nnrti_plan_allocate(nnrti_plan *p)
{
    nnrti_plan_lists l;
    size_t top = 0;
    uint32_t k, ended = 0;
    for (k = 0; k < NNRTI_PLAN_BINS; ++k) {
        l.first[k] = NNRTI_PLAN_NONE;
    }
    l.highest = NNRTI_PLAN_NONE;
    l.top = 0;
    nnrti_plan_sort(p, NNRTI_PLAN_END, p->trial);
    for (k = 0; k < p->n; ++k) {
        const uint32_t i = p->begin[k];
        for (; p->blocks[p->trial[ended]].last < p->blocks[i].first; ++ended) {
            nnrti_plan_free(p, &l, p->trial[ended]);
        }
        if (!nnrti_plan_alloc(p, &l, i)) {
            return;
        }
        p->blocks[i].offset = p->offset[i];
        top = l.top > top ? l.top : top;
    }
    p->best = top;
}

/* Resets all offsets after a failure: the allocator may have stored some. */
static void nnrti_plan_forget(nnrti_plan *p)
{
    uint32_t i;
    for (i = 0; i < p->count; ++i) {
        p->blocks[i].offset = 0;
    }
}
#endif

/* Liveness: walks the steps at which a block begins, the only ones at which the sum of live bytes (the load) can
   reach its maximum. Sets lower, breadth and lane (the most recently freed lane, or a new one). Reuses two arrays
   that placing overwrites later: offset[k] holds the load after the k-th block has begun, and the part of trial that
   has been read holds the free lanes. OUT_OF_MEMORY: the load does not fit a size_t. */
static NNRT_ReturnCode nnrti_plan_walk(nnrti_plan *p)
{
    size_t load = 0;
    uint32_t k, ended = 0, freed = 0, lanes = 0, peaks = 0;
    nnrti_plan_sort(p, NNRTI_PLAN_BEGIN, p->order);
    nnrti_plan_sort(p, NNRTI_PLAN_END, p->trial);
    if (nnrti_plan_has_tree(p)) {
        nnrti_plan_index(p);
    }
    for (k = 0; k < p->n; ++k) {
        uint32_t i = p->order[k];
        for (; p->blocks[p->trial[ended]].last < p->blocks[i].first; ++ended) {
            load -= p->size[p->trial[ended]];
            p->trial[freed++] = p->lane[p->trial[ended]];
        }
        if (p->size[i] > SIZE_MAX - load) {
            return NNRT_OUT_OF_MEMORY;
        }
        load += p->size[i];
        p->offset[k] = load;
        p->lower = load > p->lower ? load : p->lower;
        p->lane[i] = freed > 0 ? p->trial[--freed] : lanes++;
    }
    for (k = p->n; k-- > 0;) { /* trial: stack of the prefix maxima of the loads from k on, the nearest on top */
        const nnrt_plan_block *b = &p->blocks[p->order[k]];
        uint32_t low = 0, high;
        while (peaks > 0 && p->offset[p->trial[peaks - 1]] <= p->offset[k]) {
            --peaks;
        }
        p->trial[peaks++] = k;
        for (high = peaks - 1; low < high;) { /* binary search: the farthest one while the block is live */
            const uint32_t middle = low + (high - low) / 2;
            if (p->blocks[p->order[p->trial[middle]]].first <= b->last) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        p->breadth[p->order[k]] = p->offset[p->trial[low]];
    }
    return NNRT_SUCCESS;
}

/* An offset for size bytes that are live during the steps of b, among the first k placed blocks (sorted by offset).
   First fit: the lowest gap that is large enough. Best fit: the narrowest gap, the lowest of equals. Without such a
   gap: the end of the topmost block that is live at the same time. */
static size_t nnrti_plan_gap(const nnrti_plan *p, uint32_t k, const nnrt_plan_block *b, size_t size, int bestFit)
{
    size_t end = 0, at = 0, narrowest = SIZE_MAX;
    uint32_t i;
    for (i = 0; i < k; ++i) {
        const nnrti_plan_span *s = &p->placed[i];
        if (s->last < b->first || s->first > b->last) {
            continue;
        }
        if (s->offset > end && s->offset - end >= size && s->offset - end < narrowest) {
            if (!bestFit) {
                return end;
            }
            narrowest = s->offset - end;
            at = end;
        }
        end = s->end > end ? s->end : end;
    }
    return narrowest != SIZE_MAX ? at : end;
}

/* Inserts a block into the first k placed ones, which stay sorted by offset, behind equal offsets. */
static void nnrti_plan_insert(nnrti_plan *p, uint32_t k, const nnrt_plan_block *b, size_t at, size_t size)
{
    nnrti_plan_span *s = p->placed + k;
    for (; s > p->placed && s[-1].offset > at; --s) {
        s[0] = s[-1];
    }
    s->offset = at;
    s->end = at + size;
    s->first = b->first;
    s->last = b->last;
}

/* Places the blocks in the order of trial. The result becomes the best plan if the arena does not exceed limit and,
   once there is a plan, the work does not exceed the budget; otherwise order, best and the blocks stay unchanged. */
static void nnrti_plan_try(nnrti_plan *p, int bestFit, size_t limit)
{
    size_t top = 0, at, size;
    uint32_t k;
    if (nnrti_plan_has_tree(p)) {
        nnrti_plan_clear(p);
    }
    for (k = 0; k < p->n; ++k) {
        const nnrt_plan_block *b = &p->blocks[p->trial[k]];
        size = p->size[p->trial[k]];
        at = nnrti_plan_gap(p, nnrti_plan_has_tree(p) ? nnrti_plan_find(p, p->trial[k]) : k, b, size, bestFit);
        p->work += nnrti_plan_has_tree(p) ? 0 : k;
        if (size > limit - at || (p->work > p->budget && p->best != SIZE_MAX)) {
            return;
        }
        if (nnrti_plan_has_tree(p)) {
            nnrti_plan_enter(p, p->trial[k]);
        } else {
            nnrti_plan_insert(p, k, b, at, size);
        }
        p->offset[p->trial[k]] = at;
        top = at + size > top ? at + size : top;
    }
    p->best = top;
    p->bestFit = bestFit;
    memcpy(p->order, p->trial, p->n * sizeof *p->order);
    for (k = 0; k < p->n; ++k) {
        p->blocks[p->order[k]].offset = p->offset[p->order[k]];
    }
}

/* A pseudo-random number below n (n > 0): Marsaglia's xorshift generator with 32 bits of state. */
static uint32_t nnrti_plan_random(nnrti_plan *p, uint32_t n)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 17;
    p->random ^= p->random << 5;
    return p->random % n;
}

/* One step of the local search: trial = order with two blocks swapped. A block that touches the top of the arena is
   swapped with an earlier one (odd turns), or a block that is live together with it is swapped with any other (even
   turns). Either kind of swap alone gets stuck more often. Both searches start at a random position and wrap around;
   they end at the latest with the top block itself. */
static void nnrti_plan_mutate(nnrti_plan *p, uint32_t turn)
{
    uint32_t *list = p->trial, top = nnrti_plan_random(p, p->n), other = nnrti_plan_random(p, p->n);
    const nnrt_plan_block *b;
    memcpy(list, p->order, p->n * sizeof *list);
    p->work += p->n;
    while (p->blocks[list[top]].offset + p->size[list[top]] != p->best) {
        top = top + 1 < p->n ? top + 1 : 0;
    }
    if (turn % 2 != 0) {
        nnrti_plan_swap(list, top, top != 0 ? other % top : other);
        return;
    }
    b = &p->blocks[list[top]];
    while (p->blocks[list[other]].last < b->first || p->blocks[list[other]].first > b->last) {
        other = other + 1 < p->n ? other + 1 : 0;
    }
    nnrti_plan_swap(list, other, nnrti_plan_random(p, p->n));
}

/* Plans for checked arguments: sizes, liveness, for many blocks the allocator's plan, then each order with first fit
   and best fit, then the local search. Stops at the lower bound. The local search keeps a swap that leaves the arena
   size unchanged, because it can enable further improvements. It does not start from the allocator's plan, which has
   no order. */
static NNRT_ReturnCode nnrti_plan_run(nnrti_plan *p, size_t alignment)
{
    NNRT_ReturnCode rc = nnrti_plan_sizes(p, alignment);
    const uint32_t m = p->n < NNRTI_PLAN_SMALL ? p->n : NNRTI_PLAN_SMALL;
    const bool large = nnrti_plan_has_tree(p);
    uint32_t turn;
    int i;
    p->budget = NNRTI_PLAN_WORK + 4 * m * m + (uint64_t)NNRTI_PLAN_STEPS * (p->n - m);
    if (rc == NNRT_SUCCESS) {
        rc = nnrti_plan_walk(p);
    }
    if (rc != NNRT_SUCCESS || p->n == 0) {
        return rc;
    }
    p->best = SIZE_MAX;
    p->bestFit = -1;
    if (large) {
        nnrti_plan_allocate(p);
    }
    for (i = 0; i < 2 * NNRTI_PLAN_ORDERS && p->best > p->lower; ++i) {
        nnrti_plan_sort(p, i / 2, p->trial);
        nnrti_plan_try(p, i % 2, p->best - 1);
    }
    if (p->best == SIZE_MAX) {
        nnrti_plan_forget(p);
        return NNRT_OUT_OF_MEMORY;
    }
    for (turn = 0; turn != NNRTI_PLAN_TRIALS && p->bestFit >= 0 && p->best > p->lower && p->work <= p->budget; ++turn) {
        nnrti_plan_mutate(p, turn);
        nnrti_plan_try(p, p->bestFit, p->best);
    }
    return NNRT_SUCCESS;
}

#if NNRT_ASSERTS
/* Every block is aligned and inside the arena, and none of the first 64 shares a byte with another one that is live at
   the same step. */
static bool nnrti_arena_valid(const nnrt_plan_block *blocks, uint32_t count, size_t alignment, size_t bytes)
{
    bool valid = true;
    for (uint32_t i = 0; i < count; i++) {
        const nnrt_plan_block *a = &blocks[i];
        valid = valid && a->offset % alignment == 0 && (a->bytes == 0 || (a->bytes <= bytes && a->offset <= bytes - a->bytes));
        for (uint32_t k = 0; k < i && k < 64; k++) {
            const nnrt_plan_block *b = &blocks[k];
            const bool apart = a->first > b->last || b->first > a->last || a->bytes == 0 || b->bytes == 0;
            valid = valid && (apart || a->offset >= b->offset + b->bytes || b->offset >= a->offset + a->bytes);
        }
    }
    return valid;
}
#endif

NNRT_API NNRT_ReturnCode nnrt_plan_arena(nnrt_plan_block *blocks, uint32_t count, size_t alignment, void *scratch,
                                         size_t *arenaBytes, size_t *lowerBound)
{
    NNRT_ReturnCode rc = NNRT_SUCCESS;
    nnrti_plan p;
    uint32_t i;
    memset(&p, 0, sizeof p);
    p.blocks = blocks;
    p.count = count;
    p.random = 2463534242u;
    if (arenaBytes == NULL || (count != 0 && (blocks == NULL || scratch == NULL))) {
        rc = NNRT_NULL_PTR;
    } else if (alignment == 0 || (alignment & (alignment - 1)) != 0 || ((uintptr_t)scratch & 7u) != 0) {
        rc = NNRT_INVALID_PARAMETER;
    } else if (nnrt_plan_scratch(count) == SIZE_MAX) {
        rc = NNRT_OUT_OF_MEMORY;
    }
    for (i = 0; blocks != NULL && i < count; ++i) {
        blocks[i].offset = 0;
    }
    if (rc == NNRT_SUCCESS && count != 0) {
        nnrti_plan_carve(&p, scratch);
        rc = nnrti_plan_run(&p, alignment);
    }
    NNRT_ASSERT(rc != NNRT_SUCCESS || nnrti_arena_valid(blocks, count, alignment, p.best));
    if (arenaBytes != NULL) {
        *arenaBytes = rc == NNRT_SUCCESS ? p.best : 0;
    }
    if (lowerBound != NULL) {
        *lowerBound = rc == NNRT_SUCCESS ? p.lower : 0;
    }
    return rc;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>plan */

/* From a model to a plan. nnrt_plan_draft resolves every node into a step of the draft, a list that a device may edit.
   nnrt_plan_finish turns the draft into the plan, data that does not change any more:

       nnrti_check_edits       the draft is consistent, whatever the edit did
       nnrti_drop_dead_steps   dead-code elimination; liveness: the last step that reads each tensor
       nnrti_open_begin        with dynamic shapes: a slot for the dimensions of every tensor that has one
       nnrti_assign_storage    a storage for every result: aliases, in-place results, outputs of the caller, arena
       nnrti_exchange_carried  carried values of loops swap two storages instead of being copied
       nnrti_place_arena       arena offsets of storages and scratch, by >>planner
       nnrti_write_steps       steps and arguments with place and offset; plans of IF and LOOP (>>control); copies into
                               outputs that need one

   Invariants. A tensor is written once, before it is read. A storage is one interval of steps and one range of bytes;
   tensors share it only if they hold the same bytes (alias) or if the old one is dead when the new one is written
   (in-place). A model output is computed in the caller's buffer if possible; a result whose dimensions its kernel
   reports stays in the arena, since nothing may be written to an output before its buffer is known to be large enough.
   Offsets and sizes count upper bounds: in-place results and aliases of dynamic tensors require equal
   symbols, so that they hold for all sizes.

   Rejected: allocation during the run, as an interpreter does it. A run could then fail for lack of memory, the size of
   a session would be unknown before its first run, and firmware could not have the plan as constant data. Rejected:
   results of trial sizes, from which the rules of dynamic dimensions would be guessed; symbols state them. */

/* *arg = the operand o, which is tensor `tensor`; index as for nnrt_operand_view. A known value is a constant; other
   arguments get their place when the draft is finished. */
static void nnrti_draft_arg(nnrt_plan_arg *arg, const nnrt_op *op, const nnrt_operand *o, int32_t index,
                            uint32_t tensor)
{
    memset(arg, 0, sizeof(*arg));
    arg->tensor = NNRT_NO_TENSOR;
    if (nnrti_absent(o))
        return;
    nnrt_operand_view(op, o, index, &arg->view);
    if (o->data != NULL && !nnrti_value_dynamic(o)) {
        arg->kind = NNRT_PLACE_CONSTANT;
        arg->view.data = (void *)(uintptr_t)o->data;
    }
    arg->tensor = tensor;
}

NNRT_API void nnrt_draft_arg(const nnrt_draft *draft, uint32_t tensor, nnrt_plan_arg *arg)
{
    nnrti_draft_arg(arg, NULL, &draft->tensors[tensor], 0, tensor);
}

NNRT_API bool nnrt_draft_known(const nnrt_draft *draft, uint32_t tensor)
{
    const nnrt_operand *o = &draft->tensors[tensor];
    return (tensor < draft->model->allTensors.count && nnrti_is_constant(&draft->model->allTensors.data[tensor])) ||
           (o->data != NULL && !nnrti_value_dynamic(o));
}

/* Reduces per-channel quantization parameters to one if the kernel reads only zero points and all of them are equal.
   A program with the plan as constant data (nnrt emit-c) then needs no table of scales: they are part of the derived
   requantization factors. */
static void nnrti_draft_zero(nnrt_view *v)
{
    for (uint32_t i = 1; i < v->quantCount; i++)
        if (v->quant[i].zeroPoint != v->quant[0].zeroPoint)
            return;
    v->quantCount = v->quantCount < 1 ? v->quantCount : 1;
}

/* Number of arguments of a step: inputs, derived constants, outputs. */
static uint32_t nnrti_step_args(const nnrt_draft_step *step)
{
    return step->nIn + step->nDerived + step->nOut;
}

/* Output k of a step. */
NNRTI_NOINLINE static nnrt_plan_arg *nnrti_step_out(const nnrt_draft_step *step, uint32_t k)
{
    return &step->args[step->nIn + step->nDerived + k];
}

#ifdef NNRT_FIRMWARE
#define nnrti_draft_open(d, node, c, s) NNRT_SUCCESS
#else

/* Kinds of dynamic steps. In a draft, control flow (If, Loop) is flattened into one list of steps: markers (BEGIN, ELSE,
   END) enclose the steps of the subgraphs, so that liveness, in-place results and the arena see branches and bodies like
   any other steps. Rejected: an arena per subgraph, which could not share memory with the steps around it. The plan has no
   markers: >>control makes each IF or LOOP one step that runs plans. BEGIN is NNRTI_PART_IF or NNRTI_PART_LOOP. */
typedef int32_t nnrti_step_part;
enum {
    NNRTI_PART_NODE,
    NNRTI_PART_MODEL, /* its kernel gets and reports actual dimensions: nnrt_draft_make_dynamic, IF and LOOP in a plan */
    NNRTI_PART_COPY,
    NNRTI_PART_SCAN,    /* appends the element of an iteration to a scan output of a LOOP; only in a plan */
    NNRTI_PART_SCANNED, /* completes the dimensions of a scan output after the last iteration; only in a plan */
    NNRTI_PART_IF,      /* this and all below: only in a draft */
    NNRTI_PART_ELSE,
    NNRTI_PART_END_IF,
    NNRTI_PART_LOOP,
    NNRTI_PART_END_LOOP
};

/* Dynamic shapes: the data with which a run resolves a step again. operands: the node's operands with the planned
   shapes (upper bounds), first inputs, then outputs, absent ones included. slots, per operand: the number of the slot
   that holds its actual dimensions in the run; NNRT_NO_TENSOR: the planned ones. */
typedef struct nnrti_open_step {
    nnrti_step_part part;
    const NNRT_Node *node; /* of NODE; NULL otherwise */
    const nnrt_op *op;
    nnrt_operand *operands;
    uint32_t *slots;
    uint32_t nIn, nOut; /* of operands */
    nnrt_kernel kernel; /* resolved with the upper bounds; a step whose kernel differs calls its own */
    const void *attr;
    size_t *bytes;    /* per output: bytes reserved in the arena */
    uint32_t *output; /* per output: the number of the model output in whose buffer it is, or NNRT_NO_TENSOR */
    uint32_t vary;    /* of COPY, SCAN and SCANNED: bit k is set if axis k of the result is dynamic */
    int32_t *none;    /* of SCANNED: dimensions of the elements if there is no iteration */
    bool alias;       /* the result has the storage of the input; no kernel is called */
    /* markers, while drafting */
    bool kept;                                       /* of END: a result is needed (dead-code elimination) */
    struct nnrti_open_step *begin, *otherwise, *end; /* markers of the same node, or NULL */
    struct nnrti_open_step *outer;                   /* the BEGIN around this one */
    uint32_t first, tensors; /* number of the step; of BEGIN: the number of tensors before it. SCAN and SCANNED: first is
                                the number of the scan output */
    uint32_t carried, scans; /* number of carried values, of scan outputs. Arguments, inputs | outputs:
                                BEGIN of LOOP: trips, cond, carried | iteration, cond, carried, scans
                                END of LOOP: cond, carried, scan elements, outputs of BEGIN | carried
                                END of IF: cond, results of thenGraph, results of elseGraph | results; carried: their
                                number */
} nnrti_open_step;

NNRT_API uint32_t nnrt_draft_unit_end(const nnrt_draft *draft, uint32_t step)
{
    const nnrti_open_step *o = draft->steps[step].open;
    while (o != NULL && o->begin == o && draft->steps[step].open != o->end)
        step++;
    return step;
}

NNRT_API bool nnrt_draft_is_dynamic(const nnrt_draft *draft, uint32_t step)
{
    const nnrt_draft_step *s = &draft->steps[step];
    bool dynamic = s->open != NULL && s->open->part == NNRTI_PART_NODE;
    for (uint32_t i = 0; !dynamic && i < nnrti_step_args(s); i++) {
        const uint32_t t = s->args[i].tensor;
        for (int32_t k = 0; t != NNRT_NO_TENSOR && k < draft->tensors[t].rank; k++)
            dynamic = dynamic || draft->tensors[t].symbols[k] != 0;
    }
    return dynamic;
}

NNRT_API bool nnrt_draft_is_layout_agnostic(const nnrt_draft_step *step)
{
    const nnrt_op *op = step->op;
    return step->open == NULL && op != NULL && nnrt_op_find(op->type) == op &&
           ((op->flags & (NNRT_OP_LAYOUT | NNRT_OP_ELEMENTWISE | NNRT_OP_MOVEMENT | NNRT_OP_INPLACE)) != 0 ||
            op->type == NNRT_NODE_TYPE_REDUCE_FUSION || op->type == NNRT_NODE_TYPE_WHERE ||
            op->type == NNRT_NODE_TYPE_SELECT || op->type == NNRT_NODE_TYPE_ARGMAX_FUSION ||
            op->type == NNRT_NODE_TYPE_ARGMIN_FUSION);
}

NNRT_API bool nnrt_view_in_slice(nnrt_view *v, const nnrt_view *whole, const nnrt_view *part)
{
    int64_t left = 1;
    for (int32_t i = 0; i < whole->rank; i++)
        left *= whole->dims[i];
    for (int32_t i = 0; i < v->rank; i++) {
        int32_t k = 0;
        if (v->dims[i] == 1)
            continue;
        while (k < whole->rank && (whole->dims[k] != v->dims[i] || whole->strides[k] != v->strides[i]))
            k++;
        if (k == whole->rank)
            return false;
        v->strides[i] = part->strides[k];
        left /= v->dims[i] > 0 ? v->dims[i] : 1;
    }
    return left == 1;
}

/* *declared: the tensor of an argument as a view [N,C,H,W], as the model declares it. Returns whether the argument's
   view is that one rather than [N,H,W,C], the view of image operators. */
static bool nnrti_is_declared(const nnrt_view *v, const nnrt_operand *o, nnrt_view *declared)
{
    nnrt_operand_view(NULL, o, 0, declared);
    return memcmp(declared->dims, v->dims, sizeof(v->dims)) == 0 &&
           memcmp(declared->strides, v->strides, sizeof(v->strides)) == 0;
}

/* Whether an argument shows its tensor as [N,C,H,W] or [N,H,W,C]: some kernels view the elements in another shape. */
static bool nnrti_shows_image(const nnrt_draft *d, const nnrt_plan_arg *arg)
{
    const nnrt_operand *o = &d->tensors[arg->tensor];
    nnrt_view declared;
    const nnrt_view *v = &arg->view;
    if (o->rank != 4)
        return false;
    nnrt_operand_view(NULL, o, 0, &declared);
    if (v->rank == 3) /* [N,K,C] of normalizations, K all pixels */
        return v->dims[0] == o->dims[0] && (int64_t)v->dims[1] == (int64_t)o->dims[2] * o->dims[3] &&
               v->dims[2] == o->dims[1] && v->strides[1] == 1 && v->strides[2] == declared.strides[1];
    return v->rank == 4 && (nnrti_is_declared(v, o, &declared) ||
                            (v->dims[0] == o->dims[0] && v->dims[1] == o->dims[2] && v->dims[2] == o->dims[3] &&
                             v->dims[3] == o->dims[1] && v->strides[3] == declared.strides[1]));
}

/* Sets the strides of a view of tensor t, which is channels last; the view is [N,H,W,C], [N,K,C] or, as declared,
   [N,C,H,W]. */
static void nnrti_set_nhwc_strides(const nnrt_draft *d, uint32_t t, nnrt_view *v)
{
    const nnrt_operand *o = &d->tensors[t];
    const ptrdiff_t C = o->dims[1], W = o->dims[3], H = o->dims[2];
    nnrt_view declared;
    bool first;
    v->strides[0] = H * W * C;
    if (v->rank == 3) {
        v->strides[1] = C;
        v->strides[2] = 1;
        return;
    }
    first = nnrti_is_declared(v, o, &declared);
    v->strides[first ? 2 : 1] = W * C;
    v->strides[first ? 3 : 2] = C;
    v->strides[first ? 1 : 3] = 1;
}

/* Layouts of tensors during layout propagation. */
enum { NNRTI_LAYOUT_KEPT, NNRTI_LAYOUT_FREE, NNRTI_LAYOUT_NHWC };

/* Marks the tensors that may change as FREE. */
static void nnrti_free_layouts(const nnrt_draft *d, nnrt_draft_test allows, void *user, uint8_t *layout)
{
    const NNRT_Model *m = d->model;
    for (uint32_t t = 0; t < d->nTensors; t++)
        layout[t] = d->tensors[t].rank == 4 && d->tensors[t].format == NNRT_FORMAT_NCHW && d->tensors[t].data == NULL;
    for (uint32_t i = 0; i < m->inputIndex.count; i++)
        layout[m->inputIndex.data[i]] = NNRTI_LAYOUT_KEPT;
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        layout[m->outputIndex.data[i]] = NNRTI_LAYOUT_KEPT;
    for (uint32_t s = 0; s < d->nSteps; s++) {
        const nnrt_draft_step *step = &d->steps[s];
        const bool allowed = allows(user, step);
        for (uint32_t k = 0; k < step->nIn + step->nDerived + step->nOut; k++)
            if (step->args[k].tensor < d->nTensors && (!allowed || !nnrti_shows_image(d, &step->args[k])))
                layout[step->args[k].tensor] = NNRTI_LAYOUT_KEPT;
    }
}

NNRT_API NNRT_ReturnCode nnrt_draft_channels_last(nnrt_draft *draft, nnrt_draft_test prefers, nnrt_draft_test allows,
                                                  void *user)
{
    uint8_t *layout = (uint8_t *)nnrt_memory_temp(draft->memory, draft->nTensors);
    if (layout == NULL)
        return nnrt_error_set(draft->config->error, NNRT_OUT_OF_MEMORY, "no memory to choose the layout of %u tensors",
                              draft->nTensors);
    nnrti_free_layouts(draft, allows, user, layout);
    for (uint32_t s = 0; s < draft->nSteps; s++) {
        const nnrt_draft_step *step = &draft->steps[s];
        bool wanted = prefers(user, step);
        for (uint32_t k = 0; k < step->nIn; k++)
            wanted = wanted || (step->args[k].tensor < draft->nTensors &&
                                layout[step->args[k].tensor] == NNRTI_LAYOUT_NHWC);
        for (uint32_t k = 0; k < step->nOut; k++) {
            const uint32_t t = step->args[step->nIn + step->nDerived + k].tensor;
            if (wanted && t < draft->nTensors && layout[t] == NNRTI_LAYOUT_FREE)
                layout[t] = NNRTI_LAYOUT_NHWC;
        }
    }
    for (uint32_t s = 0; s < draft->nSteps; s++)
        for (uint32_t k = 0; k < draft->steps[s].nIn + draft->steps[s].nDerived + draft->steps[s].nOut; k++) {
            nnrt_plan_arg *arg = &draft->steps[s].args[k];
            if (arg->tensor < draft->nTensors && layout[arg->tensor] == NNRTI_LAYOUT_NHWC)
                nnrti_set_nhwc_strides(draft, arg->tensor, &arg->view);
        }
    return NNRT_SUCCESS;
}

/* Allocates the tables of a dynamic step with nIn + nOut operands; false: no memory. */
static bool nnrti_open_tables_make(const nnrt_draft *d, nnrti_open_step *o, uint32_t nIn, uint32_t nOut)
{
    o->nIn = nIn;
    o->nOut = nOut;
    o->slots = (uint32_t *)nnrt_memory_keep_array(d->memory, (size_t)nIn + nOut, sizeof(*o->slots));
    o->bytes = (size_t *)nnrt_memory_keep_array(d->memory, nOut, sizeof(*o->bytes));
    o->output = (uint32_t *)nnrt_memory_keep_array(d->memory, nOut, sizeof(*o->output));
    return o->slots != NULL && o->bytes != NULL && o->output != NULL;
}

NNRT_API bool nnrt_draft_make_dynamic(nnrt_draft *draft, nnrt_draft_step *step)
{
    nnrti_open_step *o = (nnrti_open_step *)nnrt_memory_keep(draft->memory, sizeof(*o));
    if (o == NULL || !nnrti_open_tables_make(draft, o, step->nIn, step->nOut))
        return false;
    o->part = NNRTI_PART_MODEL;
    step->open = o;
    step->flags = NNRT_OP_DATA_DEPENDENT;
    return true;
}

/* If the node that has just been resolved has dynamic shapes, or attributes that depend on values of the run: gives
   its step s the data with which every run resolves it again. */
static NNRT_ReturnCode nnrti_draft_open(nnrt_draft *d, uint32_t node, const nnrt_resolve *c, nnrt_draft_step *s)
{
    const uint32_t count = c->kernelIn + c->kernelOut;
    nnrti_open_step *o;
    if (!nnrti_still_open(c))
        return NNRT_SUCCESS;
    o = (nnrti_open_step *)nnrt_memory_keep(d->memory, sizeof(*o));
    if (o == NULL)
        return nnrti_no_memory(d->config->error);
    o->node = &d->model->nodes.data[node];
    o->op = c->op;
    o->kernel = c->kernel;
    o->attr = c->resolved;
    o->operands = (nnrt_operand *)nnrt_memory_keep_array(d->memory, count, sizeof(*o->operands));
    if (o->operands == NULL || !nnrti_open_tables_make(d, o, c->kernelIn, c->kernelOut))
        return nnrti_no_memory(d->config->error);
    for (uint32_t i = 0; i < count; i++) {
        nnrt_operand *to = &o->operands[i];
        *to = i < o->nIn ? c->in[i] : c->out[i - o->nIn];
        to->viewRank = -1;
        to->most = 0;
        if (i >= o->nIn || to->open != NULL)
            to->data = NULL;
        to->open = NULL;
    }
    if (c->room > d->openRoom)
        d->openRoom = c->room;
    s->open = o;
    return NNRT_SUCCESS;
}

#endif

#ifndef NNRT_FIRMWARE

/* Appends a step: a copy, or a marker of a node that runs subgraphs. Its nIn + nOut arguments are absent. NULL: no
   memory, or no room in d->steps (nnrti_draft_room). */
static nnrti_open_step *nnrti_draft_part(nnrt_draft *d, nnrti_step_part part, const char *name, int32_t node,
                                         size_t nIn, size_t nOut)
{
    nnrt_draft_step *s;
    nnrti_open_step *o = (nnrti_open_step *)nnrt_memory_temp(d->memory, sizeof(*o));
    nnrt_plan_arg *args = (nnrt_plan_arg *)nnrt_memory_temp_array(d->memory, nIn + nOut, sizeof(*args));
    if (o == NULL || args == NULL || d->nSteps == d->roomSteps)
        return NULL;
    for (size_t i = 0; i < nIn + nOut; i++)
        args[i].tensor = NNRT_NO_TENSOR;
    s = &d->steps[d->nSteps++];
    memset(s, 0, sizeof(*s));
    s->kernel = o->kernel = nnrti_call_reshape;
    s->kernelName = NNRTI_LABEL("nnrt_reshape");
    s->name = name;
    s->node = node;
    s->args = args;
    s->nIn = o->nIn = (uint32_t)nIn;
    s->nOut = o->nOut = (uint32_t)nOut;
    s->open = o; /* nnrti_open_kept compares nIn and nOut */
    o->part = part;
    return o;
}

/* Sets the arguments from args on to the tensors of a list; returns the argument behind them. */
static nnrt_plan_arg *nnrti_draft_list(const nnrt_draft *d, nnrt_plan_arg *args, const uint32_t *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, args++)
        if (list[i] != NNRT_NO_TENSOR)
            nnrti_draft_arg(args, NULL, &d->tensors[list[i]], 0, list[i]);
    return args;
}

/* Adds the BEGIN marker of IF or LOOP. Outputs of a LOOP: the inputs of its body, then the scans, whose tensors are
   set with END. */
static NNRT_ReturnCode nnrti_draft_begin(nnrt_draft *d, const nnrt_resolve *c)
{
    const NNRT_Node *n = &d->model->nodes.data[c->node];
    const bool loop = n->nodeType == NNRT_NODE_TYPE_LOOP;
    const NNRT_SubGraph *body = loop ? &d->model->subGraph.data[((const NNRT_Loop *)c->resolved)->body] : NULL;
    const uint32_t given = loop ? body->inputIndices.count : 0, carried = loop ? given - 2 : c->nOut;
    const uint32_t scans = loop ? c->nOut - carried : 0, at = d->nSteps;
    nnrti_open_step *o = nnrti_draft_part(d, loop ? NNRTI_PART_LOOP : NNRTI_PART_IF, c->nodeName, c->node,
                                          n->inputIndex.count, (size_t)given + scans);
    nnrt_draft_step *s = &d->steps[at];
    if (o == NULL)
        return nnrti_no_memory(d->config->error);
    s->op = c->op;
    s->flags = NNRT_OP_DATA_DEPENDENT; /* its results stay in the arena */
    o->carried = carried;
    o->scans = scans;
    o->first = at;
    o->tensors = d->nTensors;
    o->outer = d->control;
    o->begin = o;
    d->control = o;
    (void)nnrti_draft_list(d, s->args, n->inputIndex.data, n->inputIndex.count);
    if (loop) /* scans become known with END */
        (void)nnrti_draft_list(d, s->args + s->nIn, body->inputIndices.data, given);
    return NNRT_SUCCESS;
}

/* Adds the ELSE marker of IF: the steps of thenGraph are before it, the steps of elseGraph after it. */
static NNRT_ReturnCode nnrti_draft_else(nnrt_draft *d, const nnrt_resolve *c)
{
    nnrti_open_step *o = nnrti_draft_part(d, NNRTI_PART_ELSE, c->nodeName, c->node, 0, 0);
    if (o == NULL)
        return nnrti_no_memory(d->config->error);
    d->steps[d->nSteps - 1].op = c->op;
    d->control->otherwise = o;
    o->begin = d->control;
    return NNRT_SUCCESS;
}

/* Adds the END marker of IF, which copies the results of the branch that ran into the results of the node. */
static NNRT_ReturnCode nnrti_draft_end_if(nnrt_draft *d, const nnrt_resolve *c)
{
    const NNRT_Node *n = &d->model->nodes.data[c->node];
    const NNRT_If *a = (const NNRT_If *)c->resolved;
    nnrti_open_step *o = nnrti_draft_part(d, NNRTI_PART_END_IF, c->nodeName, c->node, 1 + 2 * (size_t)c->nOut, c->nOut);
    nnrt_plan_arg *args;
    if (o == NULL)
        return nnrti_no_memory(d->config->error);
    args = nnrti_draft_list(d, d->steps[d->nSteps - 1].args, n->inputIndex.data, 1);
    args = nnrti_draft_list(d, args, d->model->subGraph.data[a->thenGraph].outputIndices.data, c->nOut);
    args = nnrti_draft_list(d, args, d->model->subGraph.data[a->elseGraph].outputIndices.data, c->nOut);
    (void)nnrti_draft_list(d, args, n->outputIndex.data, c->nOut);
    o->carried = c->nOut;
    d->control->end = o;
    return NNRT_SUCCESS;
}

/* Returns tensor t, the next value of carried value k of a loop body, or a copy of t if t is the current value of
   another carried value: END overwrites those one after the other, as in (a, b) = (b, a). NNRT_NO_TENSOR: no memory. */
static uint32_t nnrti_draft_apart(nnrt_draft *d, const nnrt_resolve *c, const NNRT_Uint32List *given, uint32_t k,
                                  uint32_t t)
{
    const uint32_t i = d->given[t];
    nnrti_open_step *o;
    uint32_t copy;
    if (i < 2 || i >= given->count || given->data[i] != t || i == 2 + k)
        return t;
    copy = nnrt_draft_tensor(d, d->tensors[t].dataType, d->tensors[t].rank, d->tensors[t].dims);
    o = copy != NNRT_NO_TENSOR ? nnrti_draft_part(d, NNRTI_PART_COPY, c->nodeName, c->node, 2, 1) : NULL;
    if (o == NULL)
        return NNRT_NO_TENSOR;
    d->tensors[copy] = d->tensors[t];
    d->bytes[copy] = 0;
    (void)nnrti_draft_list(d, d->steps[d->nSteps - 1].args, &t, 1);
    (void)nnrti_draft_list(d, d->steps[d->nSteps - 1].args + 2, &copy, 1);
    d->steps[d->nSteps - 1].op = nnrt_op_find(NNRT_NODE_TYPE_RESHAPE);
    return copy;
}

/* Adds the END marker of LOOP. It has the outputs of BEGIN as inputs, so that their storages are live during the
   whole body. */
static NNRT_ReturnCode nnrti_draft_end_loop(nnrt_draft *d, const nnrt_resolve *c)
{
    const NNRT_Node *n = &d->model->nodes.data[c->node];
    const NNRT_SubGraph *body = &d->model->subGraph.data[((const NNRT_Loop *)c->resolved)->body];
    const NNRT_Uint32List *given = &body->inputIndices, *left = &body->outputIndices;
    nnrti_open_step *begin = d->control, *o;
    const uint32_t carried = begin->carried, scans = begin->scans;
    uint32_t *apart = (uint32_t *)nnrt_memory_temp_array(d->memory, (size_t)carried + 1, sizeof(*apart));
    nnrt_plan_arg *args;
    for (uint32_t k = 0; apart != NULL && k < carried; k++)
        if ((apart[k] = nnrti_draft_apart(d, c, given, k, left->data[1 + k])) == NNRT_NO_TENSOR)
            return nnrti_no_memory(d->config->error);
    o = nnrti_draft_part(d, NNRTI_PART_END_LOOP, c->nodeName, c->node, (size_t)left->count + given->count + scans,
                         carried);
    if (apart == NULL || o == NULL)
        return nnrti_no_memory(d->config->error);
    args = d->steps[begin->first].args;
    args = nnrti_draft_list(d, args + d->steps[begin->first].nIn + given->count, n->outputIndex.data + carried, scans);
    args = nnrti_draft_list(d, d->steps[d->nSteps - 1].args, left->data, 1);
    args = nnrti_draft_list(d, args, apart, carried);
    args = nnrti_draft_list(d, args, left->data + 1 + carried, scans);
    args = nnrti_draft_list(d, args, given->data, given->count);
    args = nnrti_draft_list(d, args, n->outputIndex.data + carried, scans);
    (void)nnrti_draft_list(d, args, n->outputIndex.data, carried);
    o->carried = carried;
    o->scans = scans;
    begin->end = o;
    return NNRT_SUCCESS;
}

/* Adds the marker for the part of an IF or LOOP that inference has reached. UNDO: removes all steps and tensors
   since BEGIN, because inference visits the body of a LOOP again, with wider upper bounds of the carried values. */
static NNRT_ReturnCode nnrti_draft_control(nnrt_draft *d, const nnrt_resolve *c)
{
    nnrti_open_step *begin = d->control;
    NNRT_ReturnCode code;
    switch (c->part) {
    case NNRT_PART_BEGIN: return nnrti_draft_begin(d, c);
    case NNRT_PART_ELSE: return nnrti_draft_else(d, c);
    case NNRT_PART_UNDO:
        memset(&d->steps[begin->first], 0, (d->nSteps - begin->first) * sizeof(*d->steps));
        d->nSteps = begin->first;
        d->nTensors = begin->tensors;
        d->control = begin->outer;
        return NNRT_SUCCESS;
    default: break;
    }
    code = c->op->type == NNRT_NODE_TYPE_IF ? nnrti_draft_end_if(d, c) : nnrti_draft_end_loop(d, c);
    if (code != NNRT_SUCCESS)
        return code;
    d->steps[d->nSteps - 1].op = c->op;
    begin->end->begin = begin;
    d->control = begin->outer;
    return NNRT_SUCCESS;
}

/* Counts the steps and tensors that control flow adds: markers, and copies of carried values. Fills d->given. false:
   no memory, or the numbers do not fit 32 bits. */
static bool nnrti_draft_room(nnrt_draft *d)
{
    if (d->model->subGraph.count > 1) {
        d->given = (uint32_t *)nnrt_memory_temp_array(d->memory, d->nTensors, sizeof(*d->given));
        if (d->given == NULL)
            return false;
    }
    for (uint32_t g = 1; g < d->model->subGraph.count; g++)
        for (uint32_t k = 0; k < d->model->subGraph.data[g].inputIndices.count; k++)
            d->given[d->model->subGraph.data[g].inputIndices.data[k]] = k;
    for (uint32_t i = 0; i < d->model->nodes.count && d->model->subGraph.count > 1; i++) {
        const NNRT_Node *n = &d->model->nodes.data[i];
        if (!nnrti_is_control(n->nodeType))
            continue;
        if (n->inputIndex.count > UINT32_MAX - 4 - d->roomSteps || n->inputIndex.count > UINT32_MAX - d->roomTensors)
            return false;
        d->roomSteps += 3 + n->inputIndex.count;
        d->roomTensors += n->inputIndex.count;
    }
    return true;
}

#endif

/* Visitor of shape inference (nnrt_visit): appends a step for each resolved node, unless constant folding has
   computed all its results. */
NNRTI_COLD static NNRT_ReturnCode nnrti_draft_step(void *user, uint32_t node, nnrt_resolve *c, bool folded)
{
    nnrt_draft *d = (nnrt_draft *)user;
    const NNRT_Node *n = &d->model->nodes.data[node];
    nnrt_draft_step *s = &d->steps[d->nSteps];
    nnrt_plan_arg *arg;
#ifndef NNRT_FIRMWARE
    if (c->part != 0)
        return nnrti_draft_control(d, c);
#endif
    if (folded)
        return NNRT_SUCCESS;
#ifdef NNRT_FIRMWARE
    if (c->op->flags & NNRT_OP_DATA_DEPENDENT)
        return nnrt_error_set(d->config->error, NNRT_NOT_SUPPORT,
                              "results of dynamic shape are not supported in NNRT_FIRMWARE builds");
#endif
    arg = (nnrt_plan_arg *)nnrt_memory_temp_array(d->memory, (size_t)c->kernelIn + c->nDerived + c->kernelOut,
                                                  sizeof(*arg));
    if (arg == NULL)
        return nnrti_no_memory(d->config->error);
    d->nSteps++;
    s->args = arg;
    s->kernel = c->kernel;
    s->kernelName = c->kernelName;
    s->attr = c->resolved;
    s->op = c->op;
    s->name = nnrti_text_of(n->name);
    s->node = (int32_t)node;
    s->flags = c->op->flags;
    if (c->nDerived > 0)
        s->flags &= ~NNRT_OP_ALIAS; /* the derived constants are requantization factors: the kernel changes values */
    s->nIn = c->kernelIn;
    s->nDerived = c->nDerived;
    s->nOut = c->kernelOut;
    s->scratchBytes = c->scratch;
    for (uint32_t i = 0; i < c->kernelIn; i++, arg++) {
        nnrti_draft_arg(arg, c->op, &c->in[i], (int32_t)i, i < c->nIn ? n->inputIndex.data[i] : NNRT_NO_TENSOR);
        if (i < 32 && (c->zeros >> i & 1) != 0)
            nnrti_draft_zero(&arg->view);
    }
    for (uint32_t i = 0; i < c->nDerived; i++) {
        nnrti_draft_arg(arg, NULL, &c->derived[i], 0, NNRT_NO_TENSOR);
        arg++->kind = NNRT_PLACE_DERIVED;
    }
    for (uint32_t i = 0; i < c->kernelOut; i++, arg++) {
        if (i < c->nOut)
            nnrti_draft_arg(arg, c->op, &c->out[i], -1, n->outputIndex.data[i]);
        else
            arg->tensor = NNRT_NO_TENSOR; /* an absent result */
    }
    return nnrti_draft_open(d, node, c, s);
}

/* Bytes of an operand at its upper bounds; 0 if its size is unknown. */
static size_t nnrti_operand_bytes(const nnrt_operand *o)
{
    size_t bytes = 0;
    (void)nnrti_operand_size(o, &bytes);
    return bytes;
}

#if NNRT_ASSERTS
/* A draft is complete: every argument is a tensor of it, results have no value yet, and control flow is closed. */
static bool nnrti_draft_valid(const nnrt_draft *d)
{
    bool valid = d->control == NULL && d->nSteps <= d->roomSteps && d->nTensors <= d->roomTensors;
    for (uint32_t s = 0; s < d->nSteps; s++) {
        const nnrt_draft_step *step = &d->steps[s];
        const uint32_t count = nnrti_step_args(step);
        valid = valid && step->kernel != NULL && step->node >= 0 && (uint32_t)step->node < d->model->nodes.count;
        for (uint32_t k = 0; k < count; k++)
            valid = valid && (step->args[k].tensor == NNRT_NO_TENSOR || step->args[k].tensor < d->nTensors) &&
                    step->args[k].offset == 0 && (k < step->nIn || step->args[k].kind != NNRT_PLACE_CONSTANT);
#ifndef NNRT_FIRMWARE
        if (step->open != NULL && step->open->part >= NNRTI_PART_IF)
            valid = valid && step->open->begin != NULL && step->open->begin->end != NULL;
#endif
    }
    return valid;
}
#endif

NNRT_API NNRT_ReturnCode nnrt_plan_draft(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_memory *memory,
                                         nnrt_draft **draft)
{
    NNRT_ReturnCode code;
    nnrt_draft *d;
    uint32_t *order = NULL;
    *draft = NULL;
    if ((code = nnrt_model_check(model, memory, &order, config->error)) != NNRT_SUCCESS)
        return code;
#ifdef NNRT_FIRMWARE
    if (config->copyConstants)
        return nnrt_error_set(config->error, NNRT_NOT_SUPPORT, "copyConstants is not there under NNRT_FIRMWARE");
#else
    if (config->copyConstants && (model = nnrt_model_copy(model, memory, true)) == NULL)
        return nnrti_no_memory(config->error);
#endif
    d = (nnrt_draft *)nnrt_memory_temp(memory, sizeof(*d));
    if (d == NULL)
        return nnrti_no_memory(config->error);
    d->model = model;
    d->config = config;
    d->memory = memory;
    d->workers = config->parallel != NULL && config->parallel->workers > 0 ? config->parallel->workers : 1;
    d->nTensors = d->roomTensors = model->allTensors.count;
    d->roomSteps = model->nodes.count;
#ifndef NNRT_FIRMWARE
    if (!nnrti_draft_room(d))
        return nnrti_no_memory(config->error);
#endif
    d->tensors = (nnrt_operand *)nnrt_memory_temp_array(memory, d->roomTensors, sizeof(*d->tensors));
    d->bytes = (size_t *)nnrt_memory_temp_array(memory, d->roomTensors, sizeof(*d->bytes));
    d->steps = (nnrt_draft_step *)nnrt_memory_temp_array(memory, d->roomSteps, sizeof(*d->steps));
    if (memory->full)
        return nnrti_no_memory(config->error);
    if ((code = nnrti_infer_sorted(model, config, order, memory, d->tensors, nnrti_draft_step, d)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < d->nTensors; i++)
        d->bytes[i] = nnrti_operand_bytes(&d->tensors[i]);
    NNRT_ASSERT(nnrti_draft_valid(d));
    *draft = d;
    return NNRT_SUCCESS;
}

#ifdef NNRT_FIRMWARE
#define nnrti_uses_room(draft) true
#define nnrti_uses_drop(draft, step, count) true
#else
/* ---- def-use lists ---- */

/* Def-use lists: per tensor, a doubly linked list of the arguments that read it, and one of the arguments that write
   it. An edit that looks for patterns (operator fusion) asks for writers and readers at every step; with the lists
   each question costs the uses of one tensor instead of all steps, and an edit of n steps O(n) instead of O(n^2).
   The lists are updated lazily: a changed step is marked stale and re-entered at the next question, and a removed
   step leaves a list when it is next met. Order within a list is not that of the steps. One use: argument `number`
   of a step. */
typedef struct nnrti_use {
    uint32_t tensor;       /* the tensor whose list has this use; NNRT_NO_TENSOR: none */
    uint32_t step, number; /* number of the argument, derived constants not counted */
    uint32_t prev, next;   /* uses, or NNRTI_USE_NONE */
} nnrti_use;

typedef struct nnrti_uses {
    nnrti_use *data;
    uint32_t count, room;
    uint32_t steps;  /* number of steps of the draft when the lists were built */
    uint32_t *first; /* per step: its uses are data[first .. */
    uint32_t *size;  /* .. first + size) */
    uint32_t *stale; /* changed steps, whose uses are in no list */
    bool *isStale;   /* per step */
    uint32_t nStale, tensors;
    uint32_t *lists[2]; /* per tensor: first reading use, first writing use */
    uint32_t *outputs;  /* per tensor: number of model outputs that it is */
} nnrti_uses;

#define NNRTI_USE_NONE 0xFFFFFFFFu

/* Extends the lists to draft->roomTensors tensors; false: no memory, and the lists are dropped. */
static bool nnrti_uses_room(nnrt_draft *d)
{
    nnrti_uses *u = d->uses;
    uint32_t *old[3];
    if (u == NULL || u->tensors >= d->roomTensors)
        return true;
    old[0] = u->lists[0];
    old[1] = u->lists[1];
    old[2] = u->outputs;
    u->lists[0] = (uint32_t *)nnrt_memory_temp_array(d->memory, d->roomTensors, sizeof(uint32_t));
    u->lists[1] = (uint32_t *)nnrt_memory_temp_array(d->memory, d->roomTensors, sizeof(uint32_t));
    u->outputs = (uint32_t *)nnrt_memory_temp_array(d->memory, d->roomTensors, sizeof(uint32_t));
    if (u->lists[0] == NULL || u->lists[1] == NULL || u->outputs == NULL) {
        d->uses = NULL;
        return false;
    }
    for (uint32_t t = 0; t < d->roomTensors; t++) {
        u->lists[0][t] = t < u->tensors ? old[0][t] : NNRTI_USE_NONE;
        u->lists[1][t] = t < u->tensors ? old[1][t] : NNRTI_USE_NONE;
        u->outputs[t] = t < u->tensors ? old[2][t] : 0;
    }
    u->tensors = d->roomTensors;
    return true;
}

/* Argument `number` of a step, derived constants not counted. */
static nnrt_plan_arg *nnrti_use_arg(const nnrt_draft_step *step, uint32_t number)
{
    return &step->args[number < step->nIn ? number : number + step->nDerived];
}

/* The head of the list for a use: readers or writers of its tensor. */
static uint32_t *nnrti_use_list(const nnrt_draft *d, const nnrti_use *use)
{
    return &d->uses->lists[use->number < d->steps[use->step].nIn ? 0 : 1][use->tensor];
}

/* Puts use i at the front of the list of the tensor that its argument has now. */
static void nnrti_use_link(const nnrt_draft *d, uint32_t i)
{
    nnrti_use *use = &d->uses->data[i];
    uint32_t *list;
    use->tensor = nnrti_use_arg(&d->steps[use->step], use->number)->tensor;
    if (use->tensor >= d->nTensors) {
        use->tensor = NNRT_NO_TENSOR;
        return;
    }
    list = nnrti_use_list(d, use);
    use->prev = NNRTI_USE_NONE;
    use->next = *list;
    if (*list != NNRTI_USE_NONE)
        d->uses->data[*list].prev = i;
    *list = i;
}

/* Removes use i from its list, if it is in one. */
static void nnrti_use_unlink(nnrti_uses *u, uint32_t i)
{
    nnrti_use *use = &u->data[i];
    if (use->tensor == NNRT_NO_TENSOR)
        return;
    if (use->prev != NNRTI_USE_NONE)
        u->data[use->prev].next = use->next;
    else if (u->lists[0][use->tensor] == i)
        u->lists[0][use->tensor] = use->next;
    else
        u->lists[1][use->tensor] = use->next;
    if (use->next != NNRTI_USE_NONE)
        u->data[use->next].prev = use->prev;
    use->tensor = NNRT_NO_TENSOR;
}

/* Marks a step stale: removes all its uses from their lists until the next question. count: number of its arguments
   from now on. false: no memory. */
static bool nnrti_uses_drop(nnrt_draft *d, uint32_t step, uint32_t count)
{
    nnrti_uses *u = d->uses;
    if (u == NULL)
        return true;
    for (uint32_t i = 0; i < u->size[step] && !u->isStale[step]; i++)
        nnrti_use_unlink(u, u->first[step] + i);
    if (count > u->size[step]) {
        if (count > u->room - u->count) {
            const uint32_t room = u->room + u->room / 2 + count;
            nnrti_use *data =
                room > u->room ? (nnrti_use *)nnrt_memory_temp_array(d->memory, room, sizeof(*data)) : NULL;
            if (data == NULL)
                return false;
            memcpy(data, u->data, u->count * sizeof(*data));
            u->data = data;
            u->room = room;
        }
        u->first[step] = u->count;
        u->size[step] = count;
        u->count += count;
    }
    if (!u->isStale[step])
        u->stale[u->nStale++] = step;
    u->isStale[step] = true;
    return true;
}

/* Enters all uses of a step into the lists. */
static void nnrti_uses_fill(const nnrt_draft *d, uint32_t step)
{
    nnrti_uses *u = d->uses;
    const uint32_t count = d->steps[step].nIn + d->steps[step].nOut;
    for (uint32_t i = u->size[step]; i-- > 0;) {
        nnrti_use *use = &u->data[u->first[step] + i];
        use->tensor = NNRT_NO_TENSOR;
        use->step = step;
        use->number = i;
        if (i < count)
            nnrti_use_link(d, u->first[step] + i);
    }
}

/* Enters the uses of all stale steps; called before every question. */
static void nnrti_uses_renew(const nnrt_draft *d)
{
    nnrti_uses *u = d->uses;
    for (; u->nStale > 0; u->nStale--) {
        const uint32_t step = u->stale[u->nStale - 1];
        u->isStale[step] = false;
        nnrti_uses_fill(d, step);
    }
}

/* Use i, or the next one in its list whose step is not removed; uses of removed steps leave the list.
   NNRTI_USE_NONE: end of the list. */
static uint32_t nnrti_use_met(const nnrt_draft *d, uint32_t i)
{
    while (i != NNRTI_USE_NONE && d->steps[d->uses->data[i].step].kernel == NULL) {
        const uint32_t next = d->uses->data[i].next;
        nnrti_use_unlink(d->uses, i);
        i = next;
    }
    return i;
}

NNRT_API bool nnrt_draft_index(nnrt_draft *draft)
{
    nnrti_uses *u = (nnrti_uses *)nnrt_memory_temp(draft->memory, sizeof(*u));
    uint64_t count = 0;
    draft->uses = NULL;
    if (u == NULL)
        return false;
    for (uint32_t s = 0; s < draft->nSteps; s++)
        count += (uint64_t)draft->steps[s].nIn + draft->steps[s].nOut;
    if (count >= NNRTI_USE_NONE)
        return false;
    u->room = (uint32_t)count;
    u->steps = draft->nSteps;
    u->data = (nnrti_use *)nnrt_memory_temp_array(draft->memory, u->room, sizeof(*u->data));
    u->first = (uint32_t *)nnrt_memory_temp_array(draft->memory, u->steps, sizeof(*u->first));
    u->size = (uint32_t *)nnrt_memory_temp_array(draft->memory, u->steps, sizeof(*u->size));
    u->stale = (uint32_t *)nnrt_memory_temp_array(draft->memory, u->steps, sizeof(*u->stale));
    u->isStale = (bool *)nnrt_memory_temp_array(draft->memory, u->steps, sizeof(*u->isStale));
    draft->uses = u;
    if (draft->memory->full || !nnrti_uses_room(draft)) {
        draft->uses = NULL;
        return false;
    }
    for (uint32_t i = 0; i < draft->model->outputIndex.count; i++)
        u->outputs[draft->model->outputIndex.data[i]]++;
    for (uint32_t s = 0; s < draft->nSteps; s++) {
        u->first[s] = u->count;
        u->size[s] = draft->steps[s].nIn + draft->steps[s].nOut;
        u->count += u->size[s];
    }
    for (uint32_t s = draft->nSteps; s-- > 0;)
        nnrti_uses_fill(draft, s);
    return true;
}

NNRT_API bool nnrt_draft_changed(nnrt_draft *draft, uint32_t step, uint32_t argument)
{
    const nnrti_uses *u = draft->uses;
    const nnrt_draft_step *s = &draft->steps[step];
    uint32_t number = argument;
    if (u == NULL || step >= draft->nSteps)
        return u == NULL;
    if (argument == NNRT_DRAFT_STEP)
        return nnrti_uses_drop(draft, step, s->nIn + s->nOut);
    if (argument >= s->nIn + s->nDerived)
        number -= s->nDerived;
    else if (argument >= s->nIn)
        return true;
    if (number >= u->size[step])
        return nnrti_uses_drop(draft, step, s->nIn + s->nOut);
    if (!u->isStale[step]) {
        nnrti_use_unlink(draft->uses, u->first[step] + number);
        nnrti_use_link(draft, u->first[step] + number);
    }
    return true;
}

NNRT_API nnrt_draft_use nnrt_draft_uses(const nnrt_draft *draft, uint32_t tensor)
{
    nnrt_draft_use use;
    use.tensor = tensor;
    use.step = use.argument = use.next = 0;
    if (draft->uses != NULL) {
        nnrti_uses_renew(draft);
        use.next = tensor < draft->nTensors ? draft->uses->lists[0][tensor] : NNRTI_USE_NONE;
    }
    return use;
}

NNRT_API bool nnrt_draft_next(const nnrt_draft *draft, nnrt_draft_use *use)
{
    if (draft->uses != NULL) {
        const uint32_t i = nnrti_use_met(draft, use->next);
        if (i == NNRTI_USE_NONE)
            return false;
        use->step = draft->uses->data[i].step;
        use->argument = draft->uses->data[i].number;
        use->next = draft->uses->data[i].next;
        return true;
    }
    for (; use->tensor != NNRT_NO_TENSOR && use->step < draft->nSteps; use->step++, use->next = 0)
        for (uint32_t k = use->next; draft->steps[use->step].kernel != NULL && k < draft->steps[use->step].nIn; k++)
            if (draft->steps[use->step].args[k].tensor == use->tensor) {
                use->argument = k;
                use->next = k + 1;
                return true;
            }
    return false;
}

/* Number of model outputs that are this tensor. */
static uint32_t nnrti_draft_outputs(const nnrt_draft *draft, uint32_t tensor)
{
    uint32_t count = 0;
    if (draft->uses != NULL)
        return tensor < draft->nTensors ? draft->uses->outputs[tensor] : 0;
    for (uint32_t i = 0; i < draft->model->outputIndex.count; i++)
        count += draft->model->outputIndex.data[i] == tensor ? 1 : 0;
    return count;
}

NNRT_API uint32_t nnrt_draft_reader(const nnrt_draft *draft, uint32_t tensor)
{
    nnrt_draft_use use = nnrt_draft_uses(draft, tensor);
    uint32_t found;
    if (nnrti_draft_outputs(draft, tensor) > 0 || !nnrt_draft_next(draft, &use))
        return UINT32_MAX;
    found = use.step;
    return nnrt_draft_next(draft, &use) ? UINT32_MAX : found;
}

/* nnrt_draft_writer with def-use lists. */
static uint32_t nnrti_uses_writer(const nnrt_draft *d, uint32_t tensor)
{
    const nnrti_uses *u = d->uses;
    uint32_t i;
    nnrti_uses_renew(d);
    i = tensor < d->nTensors ? nnrti_use_met(d, u->lists[1][tensor]) : NNRTI_USE_NONE;
    if (i == NNRTI_USE_NONE || nnrti_use_met(d, u->data[i].next) != NNRTI_USE_NONE)
        return UINT32_MAX;
    return u->data[i].step;
}
#endif

NNRT_API uint32_t nnrt_draft_writer(const nnrt_draft *draft, uint32_t tensor)
{
    uint32_t found = UINT32_MAX;
#ifndef NNRT_FIRMWARE
    if (draft->uses != NULL)
        return nnrti_uses_writer(draft, tensor);
#endif
    for (uint32_t s = 0; tensor != NNRT_NO_TENSOR && s < draft->nSteps; s++)
        for (uint32_t k = 0; draft->steps[s].kernel != NULL && k < draft->steps[s].nOut; k++)
            if (nnrti_step_out(&draft->steps[s], k)->tensor == tensor) {
                if (found != UINT32_MAX)
                    return UINT32_MAX;
                found = s;
            }
    return found;
}

NNRT_API uint32_t nnrt_draft_readers(const nnrt_draft *draft, uint32_t tensor)
{
    uint32_t count = 0;
#ifdef NNRT_FIRMWARE
    for (uint32_t s = 0; tensor != NNRT_NO_TENSOR && s < draft->nSteps; s++)
        for (uint32_t k = 0; draft->steps[s].kernel != NULL && k < draft->steps[s].nIn; k++)
            count += draft->steps[s].args[k].tensor == tensor ? 1 : 0;
    for (uint32_t i = 0; i < draft->model->outputIndex.count; i++)
        count += draft->model->outputIndex.data[i] == tensor ? 1 : 0;
#else
    nnrt_draft_use use = nnrt_draft_uses(draft, tensor);
    while (nnrt_draft_next(draft, &use))
        count++;
    count += nnrti_draft_outputs(draft, tensor);
#endif
    return count;
}

NNRT_API nnrt_plan_arg *nnrt_draft_args(nnrt_draft *draft, uint32_t step, uint32_t nIn, uint32_t nOut)
{
    nnrt_draft_step *s;
    nnrt_plan_arg *args;
    if (step >= draft->nSteps)
        return NULL;
    args = (nnrt_plan_arg *)nnrt_memory_temp_array(draft->memory, (size_t)nIn + nOut, sizeof(*args));
    if (args == NULL || !nnrti_uses_drop(draft, step, nIn + nOut))
        return NULL;
    for (size_t i = 0; i < (size_t)nIn + nOut; i++)
        args[i].tensor = NNRT_NO_TENSOR;
    s = &draft->steps[step];
    s->args = args;
    s->nIn = nIn;
    s->nDerived = 0;
    s->nOut = nOut;
    return args;
}

/* *bytes = size of a tensor that an edit adds; false: invalid type, rank or dimensions. */
static bool nnrti_draft_shape(NNRT_DataType type, int32_t rank, const int32_t *dims, size_t *bytes)
{
    return nnrt_type_size(type) != 0 && rank >= 0 && rank <= NNRT_MAX_RANK && nnrt_dims_bytes(dims, rank, type, bytes);
}

#ifdef NNRT_FIRMWARE
NNRT_API NNRT_ReturnCode nnrt_draft_derive(nnrt_draft *draft, uint32_t step, NNRT_DataType type, int32_t rank,
                                           const int32_t *dims, void **data)
{
    const void *const there = NULL;
#else
/* nnrt_draft_derive for a constant whose elements exist already at `there`, which must outlive the plan; NULL: reserves
   memory for them. */
static NNRT_ReturnCode nnrti_draft_derive(nnrt_draft *draft, uint32_t step, NNRT_DataType type, int32_t rank,
                                          const int32_t *dims, const void *there, void **data)
{
#endif
    nnrt_draft_step *s;
    nnrt_operand o;
    nnrt_plan_arg *args;
    uint32_t at, count;
    size_t bytes;
    *data = NULL;
    if (step >= draft->nSteps || !nnrti_draft_shape(type, rank, dims, &bytes))
        return nnrt_error_set(draft->config->error, NNRT_DEVICE_ERROR,
                              "the device's edit: a derived constant of step %u of %u has no size",
                              step, draft->nSteps);
    s = &draft->steps[step];
    o = nnrt_operand_make(type, rank, dims, NULL);
    at = s->nIn + s->nDerived;
    count = nnrti_step_args(s);
    args = (nnrt_plan_arg *)nnrt_memory_temp_array(draft->memory, (size_t)count + 1, sizeof(*args));
    if (args == NULL || (there == NULL && !nnrt_memory_reserve(draft->memory, bytes, data)))
        return nnrti_no_memory(draft->config->error);
    memcpy(args, s->args, at * sizeof(*args));
    memcpy(args + at + 1, s->args + at, (count - at) * sizeof(*args));
    nnrti_draft_arg(&args[at], NULL, &o, 0, NNRT_NO_TENSOR);
    args[at].kind = NNRT_PLACE_DERIVED;
    args[at].view.data = there != NULL ? (void *)(uintptr_t)there : *data;
    s->args = args;
    s->nDerived++;
    return NNRT_SUCCESS;
}

#ifndef NNRT_FIRMWARE
NNRT_API NNRT_ReturnCode nnrt_draft_derive(nnrt_draft *draft, uint32_t step, NNRT_DataType type, int32_t rank,
                                           const int32_t *dims, void **data)
{
    return nnrti_draft_derive(draft, step, type, rank, dims, NULL, data);
}

/* Prepacked weights. An edit that packs constants (nnrt_draft_pack) runs in one of two ways. Storing: it packs, and the
   draft records the packs and the noted numbers in order. Taking: a table from an earlier preparation replies to the
   same sequence of calls with the stored weights, used in place (a memory-mapped file), and the stored numbers. The
   sequence is the key: pack k must have the node, kernel and size that the edit asks for, and all must be used up.

   Invariant: no memory access depends on the content of the weights. Table and sizes are checked, and the table has a
   checksum; weights have none, as verifying them would take as long as packing. The table does
   not describe the packed layouts: the key stands for them, with the instruction set and the version of the packing
   code. */

/* A block of the numbers that an edit notes (nnrt_draft_note), in order. */
typedef struct nnrti_numbers {
    struct nnrti_numbers *next;
    uint32_t count;
    int64_t number[62];
} nnrti_numbers;

/* One call of nnrt_draft_pack while weights are stored: where its packed weights are. */
typedef struct nnrti_pack {
    struct nnrti_pack *next;
    const void *data;
    size_t bytes;
    int32_t node;
    uint32_t kernel;
} nnrti_pack;

/* Header of the table of packed weights. `packs` rows (nnrti_pack_row) follow, then `numbers` values of 64 bits. In
   the byte order of the machine: the caller stores it with the byte order, or does not move it between machines. */
typedef struct nnrti_pack_table {
    uint64_t checksum, key; /* FNV-1a of the table behind this member; hash of the edit's key */
    uint32_t packs, numbers;
    uint64_t bytes; /* size of the weights block */
} nnrti_pack_table;

/* A row of the table: the weights of one pack are bytes [offset, offset + bytes) of the weights block. */
typedef struct nnrti_pack_row {
    uint64_t offset, bytes;
    int32_t node;
    uint32_t kernel; /* hash of the step's kernelName */
} nnrti_pack_row;

/* Prepacked weights of one prepared model, while they are stored, or while they are taken from a table. */
typedef struct nnrti_packing {
    uint64_t key;
    bool taking; /* weights come from a table; otherwise they are recorded */
    nnrti_pack *packed, **nextPack;
    nnrti_numbers *numbers, *lastNumbers;
    nnrti_pack_table table; /* while storing: the counts so far */
    const uint8_t *rows, *weights;
    uint32_t pack, number; /* taking: numbers of the next pack and of the next noted number */
    void *exported;        /* memory of the blocks, from the allocator; NULL: not exported yet */
    size_t exportedBytes;
    NNRT_SharedBuffer blocks[3];
    bool whole; /* export a third block, the model */
    const NNRT_Model *model;
    uint8_t *absent;     /* per tensor, 1: a constant that only packing reads */
    const uint8_t *hole; /* data of all absent constants while a model is restored; NULL: none is absent */
    size_t holeBytes;
} nnrti_packing;

/* Fills p->absent: marks the constants that are not read once the weights are packed, so that a model cache need not
   store them. Every node with such an input is packed, no output is such a tensor, and no step of the plan reads it.
   false: no memory. */
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

/* Hash of the name of a step's kernel, 32 bits. */
static uint32_t nnrti_pack_kernel(const nnrt_draft_step *s)
{
    const uint64_t hash = nnrti_fnv64(NNRTI_FNV64, (const uint8_t *)s->kernelName, strlen(s->kernelName));
    return (uint32_t)(hash ^ hash >> 32);
}

/* Takes the next pack, which must be for this node and kernel and have this size: *data = its weights.
   INVALID_MODEL_CACHE otherwise. */
static NNRT_ReturnCode nnrti_pack_take(nnrti_packing *p, const nnrt_draft_step *s, size_t bytes, const void **data,
                                       nnrt_error *error)
{
    nnrti_pack_row row;
    if (p->pack >= p->table.packs)
        return nnrt_error_set(error, NNRT_INVALID_MODEL_CACHE,
                              "the packed weights end before node %d '%s'", s->node,
                              s->name);
    memcpy(&row, p->rows + (size_t)p->pack * sizeof(row), sizeof(row));
    if (row.node != s->node || row.kernel != nnrti_pack_kernel(s) || row.bytes != bytes)
        return nnrt_error_set(error, NNRT_INVALID_MODEL_CACHE,
                              "packed weights %u are of node %d and have %l bytes, expected node %d and %z bytes",
                              p->pack, row.node, (int64_t)row.bytes, s->node, bytes);
    if (row.offset % NNRT_ALIGNMENT != 0 || row.offset > p->table.bytes || row.bytes > p->table.bytes - row.offset)
        return nnrt_error_set(error, NNRT_INVALID_MODEL_CACHE,
                              "packed weights %u lie beyond the %l bytes of all", p->pack,
                              (int64_t)p->table.bytes);
    p->pack++;
    *data = p->weights + (size_t)row.offset;
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_draft_pack(nnrt_draft *draft, uint32_t step, NNRT_DataType type, int32_t rank,
                                         const int32_t *dims, void **data)
{
    nnrti_packing *const p = draft->packing;
    const void *taken = NULL;
    NNRT_ReturnCode code;
    nnrti_pack *pack;
    size_t bytes;
    if (p == NULL || step >= draft->nSteps || !nnrti_draft_shape(type, rank, dims, &bytes))
        return nnrt_draft_derive(draft, step, type, rank, dims, data);
    if (p->taking) {
        code = nnrti_pack_take(p, &draft->steps[step], bytes, &taken, draft->config->error);
        *data = NULL;
        return code == NNRT_SUCCESS ? nnrti_draft_derive(draft, step, type, rank, dims, taken, data) : code;
    }
    if ((code = nnrt_draft_derive(draft, step, type, rank, dims, data)) != NNRT_SUCCESS || *data == NULL)
        return code;
    if ((pack = (nnrti_pack *)nnrt_memory_keep(draft->memory, sizeof(*pack))) == NULL)
        return nnrti_no_memory(draft->config->error);
    pack->data = *data;
    pack->bytes = bytes;
    pack->node = draft->steps[step].node;
    pack->kernel = nnrti_pack_kernel(&draft->steps[step]);
    *p->nextPack = pack;
    p->nextPack = &pack->next;
    p->table.packs++;
    return NNRT_SUCCESS;
}

NNRT_API bool nnrt_draft_recall(nnrt_draft *draft, int64_t *number)
{
    nnrti_packing *const p = draft->packing;
    if (p == NULL || !p->taking || p->number >= p->table.numbers)
        return false;
    memcpy(number, p->rows + (size_t)p->table.packs * sizeof(nnrti_pack_row) + (size_t)p->number++ * sizeof(*number),
           sizeof(*number));
    return true;
}

NNRT_API NNRT_ReturnCode nnrt_draft_note(nnrt_draft *draft, int64_t number)
{
    nnrti_packing *const p = draft->packing;
    nnrti_numbers *n;
    if (p == NULL)
        return NNRT_SUCCESS;
    if (p->taking)
        return nnrt_error_set(draft->config->error, NNRT_INVALID_MODEL_CACHE,
                              "the packed weights have %u numbers, and more are asked for", p->table.numbers);
    n = p->lastNumbers;
    if (n == NULL || n->count == sizeof(n->number) / sizeof(n->number[0])) {
        if ((n = (nnrti_numbers *)nnrt_memory_keep(draft->memory, sizeof(*n))) == NULL)
            return nnrti_no_memory(draft->config->error);
        if (p->lastNumbers != NULL)
            p->lastNumbers->next = n;
        else
            p->numbers = n;
        p->lastNumbers = n;
    }
    n->number[n->count++] = number;
    p->table.numbers++;
    return NNRT_SUCCESS;
}

NNRT_API bool nnrt_draft_packed(const nnrt_draft *draft)
{
    return draft->packing != NULL && draft->packing->taking;
}
#endif

/* A temporary array for room elements that begins with the count elements of the old one; NULL: no memory. */
static void *nnrti_draft_grow(nnrt_draft *draft, const void *old, uint32_t count, uint32_t room, size_t size)
{
    void *grown = nnrt_memory_temp_array(draft->memory, room, size);
    if (grown != NULL)
        memcpy(grown, old, count * size);
    return grown;
}

NNRT_API uint32_t nnrt_draft_tensor(nnrt_draft *draft, NNRT_DataType type, int32_t rank, const int32_t *dims)
{
    nnrt_operand *o;
    size_t size;
    if (!nnrti_draft_shape(type, rank, dims, &size))
        return NNRT_NO_TENSOR;
    if (draft->nTensors == draft->roomTensors) {
        const uint32_t room = draft->roomTensors + draft->roomTensors / 2 + 4;
        nnrt_operand *tensors =
            (nnrt_operand *)nnrti_draft_grow(draft, draft->tensors, draft->nTensors, room, sizeof(*tensors));
        size_t *bytes = (size_t *)nnrti_draft_grow(draft, draft->bytes, draft->nTensors, room, sizeof(*bytes));
        if (tensors == NULL || bytes == NULL)
            return NNRT_NO_TENSOR;
        draft->tensors = tensors;
        draft->bytes = bytes;
        draft->roomTensors = room;
        if (!nnrti_uses_room(draft))
            return NNRT_NO_TENSOR;
    }
    o = &draft->tensors[draft->nTensors];
    *o = nnrt_operand_make(type, rank, dims, NULL);
    o->name = "";
    draft->bytes[draft->nTensors] = size;
    return draft->nTensors++;
}

/* Makes room for count more steps; false: no memory. Addresses of steps may change. */
static bool nnrti_draft_steps(nnrt_draft *draft, uint32_t count)
{
    nnrt_draft_step *steps;
    uint32_t room;
    if (count <= draft->roomSteps - draft->nSteps)
        return true;
    room = draft->roomSteps + draft->roomSteps / 2 + 4;
    room = room - draft->nSteps < count ? draft->nSteps + count : room;
    steps = (nnrt_draft_step *)nnrti_draft_grow(draft, draft->steps, draft->nSteps, room, sizeof(*steps));
    if (steps == NULL)
        return false;
    draft->steps = steps;
    draft->roomSteps = room;
    return true;
}

NNRT_API nnrt_draft_step *nnrt_draft_insert(nnrt_draft *draft, uint32_t at)
{
    if (at > draft->nSteps || !nnrti_draft_steps(draft, 1))
        return NULL;
#ifndef NNRT_FIRMWARE
    draft->uses = NULL;
#endif
    memmove(&draft->steps[at + 1], &draft->steps[at], (draft->nSteps - at) * sizeof(*draft->steps));
    memset(&draft->steps[at], 0, sizeof(*draft->steps));
    draft->steps[at].node = -1;
    draft->steps[at].name = "";
    draft->steps[at].kernelName = "";
    draft->nSteps++;
    return &draft->steps[at];
}

#ifndef NNRT_FIRMWARE
NNRT_API bool nnrt_draft_insert_all(nnrt_draft *draft, const nnrt_draft_step *steps, const uint32_t *at, uint32_t count)
{
    uint32_t from = draft->nSteps;
    for (uint32_t i = 0; i < count; i++)
        if (at[i] > (i + 1 < count ? at[i + 1] : draft->nSteps))
            return false;
    if (count > UINT32_MAX - draft->nSteps || !nnrti_draft_steps(draft, count))
        return false;
    for (uint32_t i = count; i-- > 0;) { /* backwards: each step moves once, to its final position */
        memmove(&draft->steps[at[i] + i + 1], &draft->steps[at[i]], (from - at[i]) * sizeof(*draft->steps));
        draft->steps[at[i] + i] = steps[i];
        from = at[i];
    }
    draft->nSteps += count;
    draft->uses = NULL;
    return true;
}
#endif

#ifndef NNRT_FIRMWARE
/* Further data of a plan with dynamic shapes (nnrt_plan.open). A slot holds the actual dimensions of one tensor during a
   run. A plan that a step of IF or LOOP runs has only `steps`: the rest is that of the model's plan. */
typedef struct nnrti_open_plan {
    nnrti_open_step *const *steps; /* per step of the plan; NULL: the step is static */
    const uint32_t *slots;         /* per input, then output: slot of its dimensions in the run, or NNRT_NO_TENSOR */
    const uint32_t *symbols;       /* NNRTI_DIMS per input, then output; 0: a fixed dimension */
    uint32_t nSlots;               /* number of slots, NNRTI_DIMS dimensions each */
    uint32_t operands;             /* of the dynamic step with the most operands */
    size_t room;                   /* working memory for the shape rule of a dynamic step, in bytes */
} nnrti_open_plan;
#endif

/* A storage: memory that one or several tensors use, live from step `first` to step `last`. Aliases (Reshape and the
   like) and in-place results share the storage of their source. Exists only while a draft is finished. */
typedef struct nnrti_storage {
    nnrt_place_kind kind; /* ARENA, INPUT, OUTPUT or CARRIED */
    size_t offset;        /* as in nnrt_plan_arg; of ARENA and CARRIED the arena offset, set by nnrti_place_arena */
    uint32_t carried;     /* of CARRIED: number of its address in the table */
    size_t bytes;
    int32_t first, last; /* steps, inclusive; first -1: an input of the model; last nSteps: an output */
    bool told;           /* data-dependent shape, reported by the kernel: stays in the arena */
#ifndef NNRT_FIRMWARE
    bool parted; /* some arguments begin inside it (slices): stays in the arena */
#endif
} nnrti_storage;

#define NNRTI_NO_STORAGE 0xFFFFFFFFu

#ifndef NNRT_FIRMWARE
/* Profiling data of a plan: receiver, device, and the depth of its steps in nested control flow. */
typedef struct nnrti_profile {
    const nnrt_profile *to;
    const char *device;
    uint32_t depth;
} nnrti_profile;

/* Addresses outside the arena that the steps inside an IF or LOOP refer to: see >>control. An address of the model's
   plan is an input, then an output, then a carried value of any loop. */
typedef struct nnrti_table {
    size_t at;          /* arena offset of the table */
    uint32_t count;     /* number of its entries so far */
    uint32_t most;      /* entries of the largest table */
    uint32_t *entry;    /* per address: its entry in the current table, or NNRT_NO_TENSOR */
    uint32_t *outer;    /* the inputs and outputs that the current table has, its first entries */
    uint32_t nOuter;
    size_t *carried;    /* per carried value: its arena offset */
    uint32_t nCarried;  /* 2 k and 2 k + 1 are a pair that is swapped */
} nnrti_table;
#endif

/* State of nnrt_plan_finish. */
typedef struct nnrti_planner {
    nnrt_draft *draft;
    nnrt_error *error;
    uint32_t *storageOf; /* per tensor */
    int32_t *lastUse;    /* liveness, per tensor: last step that reads it; nSteps: a model output; -1: never */
    uint32_t *outputOf;  /* per tensor: nInputs + the first model output that it is, or NNRT_NO_TENSOR */
    size_t *scratch;     /* per step: arena offset of its scratch */
    nnrti_storage *storages;
    uint32_t nStorages;
#ifndef NNRT_FIRMWARE
    bool *parted;          /* per tensor: some arguments begin inside it (slices of a Concat) */
    nnrti_open_plan *open; /* NULL: the plan is static */
    uint32_t *slotOf;      /* per tensor: slot of its dimensions in the run, or NNRT_NO_TENSOR */
    nnrti_table *table;    /* NULL: no control flow */
    uint32_t depth;        /* while plans are written: number of IF and LOOP around the current one */
#endif
    nnrt_plan_arg *args; /* of all steps, nArgs of them so far */
    uint32_t nArgs;
} nnrti_planner;

#ifdef NNRT_FIRMWARE
#define nnrti_part_needed(p, step) false
#define nnrti_part_keep(step, needed) ((void)0)
#define nnrti_extend_uses(p) ((void)0)
#else

/* Dead-code elimination of control flow. The walk is from the last step to the first, so END decides: a marker is
   needed if its END is. END itself is needed, apart from its own outputs, if a scan of the loop is read (the last
   inputs of END), or if a step between BEGIN and END has a side effect. */
static bool nnrti_part_needed(const nnrti_planner *p, const nnrt_draft_step *step)
{
    const nnrti_open_step *o = step->open;
    if (o != NULL && (o->part == NNRTI_PART_END_IF || o->part == NNRTI_PART_END_LOOP))
        for (const nnrt_draft_step *s = step; s->open != o->begin; s--)
            if (s->flags & NNRT_OP_EFFECT)
                return true;
    for (uint32_t k = 0; o != NULL && o->part == NNRTI_PART_END_LOOP && k < o->scans; k++) {
        const uint32_t t = step->args[step->nIn - 1 - k].tensor;
        if (t != NNRT_NO_TENSOR && p->lastUse[t] >= 0)
            return true;
    }
    return o != NULL && o->begin != NULL && o->begin->end->kept;
}

/* Stores the decision about END for the other markers of its node. */
static void nnrti_part_keep(nnrt_draft_step *step, bool needed)
{
    if (step->open != NULL && (step->open->part == NNRTI_PART_END_IF || step->open->part == NNRTI_PART_END_LOOP))
        step->open->kept = needed;
}

/* Liveness across iterations: a tensor that a loop body reads but does not write stays live until END, since the
   next iteration reads it again. lastUse of tensors written in the body is unchanged: each iteration writes them
   anew. Uses storageOf as a mark and resets it. */
static void nnrti_extend_uses(nnrti_planner *p)
{
    nnrt_draft *d = p->draft;
    for (uint32_t end = 0; end < d->nSteps; end++) {
        const nnrti_open_step *o = d->steps[end].open;
        uint32_t begin = end;
        if (o == NULL || o->part != NNRTI_PART_END_LOOP)
            continue;
        while (d->steps[begin].open != o->begin)
            begin--;
        for (uint32_t s = begin; s < end; s++) /* marks the tensors that the body writes */
            for (uint32_t k = 0; k < d->steps[s].nOut; k++)
                if (nnrti_step_out(&d->steps[s], k)->tensor != NNRT_NO_TENSOR)
                    p->storageOf[nnrti_step_out(&d->steps[s], k)->tensor] = end;
        for (uint32_t s = begin + 1; s < end; s++)
            for (uint32_t k = 0; k < d->steps[s].nIn; k++) {
                const uint32_t t = d->steps[s].args[k].tensor;
                if (t != NNRT_NO_TENSOR && p->storageOf[t] != end && p->lastUse[t] < (int32_t)end)
                    p->lastUse[t] = (int32_t)end;
            }
    }
    for (uint32_t i = 0; i < d->nTensors; i++)
        p->storageOf[i] = NNRT_NO_TENSOR;
}

#endif

/* Dead-code elimination and liveness. First from the last step to the first: a step stays if a result is read by a
   later step or is an output of the model, or if it has a side effect; its inputs are needed then. The remaining
   steps are compacted, and lastUse becomes the number of the last step that reads each tensor. */
static void nnrti_drop_dead_steps(nnrti_planner *p)
{
    nnrt_draft *d = p->draft;
    const NNRT_Uint32List *outputs = &d->model->outputIndex;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->nTensors; i++)
        p->lastUse[i] = -1;
    for (uint32_t i = 0; i < outputs->count; i++)
        p->lastUse[outputs->data[i]] = 1;
    for (uint32_t s = d->nSteps; s-- > 0;) {
        nnrt_draft_step *step = &d->steps[s];
        bool needed = (step->flags & NNRT_OP_EFFECT) != 0 || nnrti_part_needed(p, step);
        for (uint32_t k = 0; k < step->nOut; k++) {
            uint32_t t = nnrti_step_out(step, k)->tensor;
            needed = needed || (t != NNRT_NO_TENSOR && p->lastUse[t] >= 0);
        }
        nnrti_part_keep(step, needed);
        if (!needed)
            step->kernel = NULL;
        for (uint32_t k = 0; step->kernel != NULL && k < step->nIn; k++)
            if (step->args[k].tensor != NNRT_NO_TENSOR)
                p->lastUse[step->args[k].tensor] = 1;
    }
    for (uint32_t s = 0; s < d->nSteps; s++) {
        const nnrt_draft_step *step = &d->steps[s];
        if (step->kernel == NULL)
            continue;
        for (uint32_t k = 0; k < step->nIn; k++)
            if (step->args[k].tensor != NNRT_NO_TENSOR)
                p->lastUse[step->args[k].tensor] = (int32_t)kept;
        d->steps[kept++] = *step;
    }
    d->nSteps = kept;
    nnrti_extend_uses(p);
    for (uint32_t i = 0; i < outputs->count; i++)
        p->lastUse[outputs->data[i]] = (int32_t)d->nSteps;
}

/* Gives a tensor, written by `step` (-1: an input), a storage of its own. number: which input or output of the
   caller. */
static void nnrti_new_storage(nnrti_planner *p, uint32_t tensor, nnrt_place_kind kind, size_t number, int32_t step)
{
    nnrti_storage *s = &p->storages[p->nStorages];
    s->kind = kind;
    s->offset = number;
    s->bytes = p->draft->bytes[tensor];
    s->first = step;
    s->last = p->lastUse[tensor] > step ? p->lastUse[tensor] : step;
#ifndef NNRT_FIRMWARE
    s->parted = p->parted[tensor];
#endif
    p->storageOf[tensor] = p->nStorages++;
}

/* Whether result `to` may share the storage of `from`, as far as slices are concerned: arguments that begin inside a
   tensor require a storage in the arena, so the storage must not be, or become, a buffer of the caller. */
#ifdef NNRT_FIRMWARE
#define nnrti_fits_parts(p, from, to) true
#else
static bool nnrti_fits_parts(const nnrti_planner *p, uint32_t from, uint32_t to)
{
    const nnrti_storage *s = &p->storages[p->storageOf[from]];
    return (!s->parted && !p->parted[to]) || (s->kind == NNRT_PLACE_ARENA && p->outputOf[to] == NNRT_NO_TENSOR);
}
#endif

#ifdef NNRT_FIRMWARE
#define nnrti_fits_output(p, from, to) true
#else
/* Whether the storage of `from`, which may have grown (nnrti_try_overlap), fits the caller's buffer if `to` is an output of
   the model. */
static bool nnrti_fits_output(const nnrti_planner *p, uint32_t from, uint32_t to)
{
    return p->outputOf[to] == NNRT_NO_TENSOR || p->storages[p->storageOf[from]].bytes <= p->draft->bytes[to];
}
#endif

/* Result `to` shares the storage of `from`, which grows to its size and life. If the result is a model output, the
   storage moves into the caller's buffer. */
static void nnrti_share_storage(nnrti_planner *p, uint32_t from, uint32_t to)
{
    nnrti_storage *s = &p->storages[p->storageOf[from]];
#ifndef NNRT_FIRMWARE
    s->parted = s->parted || p->parted[to];
#endif
    p->storageOf[to] = p->storageOf[from];
    if (p->lastUse[to] > s->last)
        s->last = p->lastUse[to];
    if (p->draft->bytes[to] > s->bytes)
        s->bytes = p->draft->bytes[to];
    if (p->outputOf[to] != NNRT_NO_TENSOR) {
        s->kind = NNRT_PLACE_OUTPUT;
        s->offset = p->outputOf[to];
    }
}

#ifdef NNRT_FIRMWARE /* no device edits plans there: all views are dense */
#define nnrti_is_dense(v) true
#define nnrti_same_layout(x, y) true
#else
#define nnrti_is_dense(v) nnrt_view_dense(v)
/* Whether two arguments have the same layout. An edit may have changed the strides of one of them (channels last). */
static bool nnrti_same_layout(const nnrt_view *x, const nnrt_view *y)
{
    return (nnrt_view_dense(x) && nnrt_view_dense(y)) ||
           (x->rank == y->rank && nnrti_bytes_equal(x->dims, y->dims, (size_t)x->rank * sizeof(x->dims[0])) &&
            nnrti_bytes_equal(x->strides, y->strides, (size_t)x->rank * sizeof(x->strides[0])));
}
#endif

#ifdef NNRT_FIRMWARE
#define nnrti_is_open(step) false
#define nnrti_same_symbols(x, y) true
#else
/* Whether a run resolves a step again, or treats it as a marker. */
static bool nnrti_is_open(const nnrt_draft_step *step)
{
    return step->open != NULL;
}

/* Whether two tensors with equal upper bounds have equal dimensions in every run. */
static bool nnrti_same_symbols(const nnrt_operand *x, const nnrt_operand *y)
{
    return nnrti_bytes_equal(x->symbols, y->symbols, (size_t)y->rank * sizeof(y->symbols[0]));
}
#endif

/* Alias: the result of Reshape, Squeeze and the like shares the storage of the input, and the step is dropped.
   Requires both views dense and of equal size. Not possible if input and result are both buffers of the caller, or
   if the input has a data-dependent shape. */
static bool nnrti_try_alias(nnrti_planner *p, const nnrt_draft_step *step)
{
    const nnrt_plan_arg *x = &step->args[0], *y = nnrti_step_out(step, 0);
    bool isOutput = p->outputOf[y->tensor] != NNRT_NO_TENSOR;
    if (!(step->flags & NNRT_OP_ALIAS) || x->kind == NNRT_PLACE_CONSTANT || x->tensor == NNRT_NO_TENSOR ||
        p->storageOf[x->tensor] == NNRTI_NO_STORAGE || p->storages[p->storageOf[x->tensor]].told ||
        p->draft->bytes[x->tensor] != p->draft->bytes[y->tensor] || !nnrti_is_dense(&x->view) ||
        !nnrti_is_dense(&y->view) || !nnrti_fits_parts(p, x->tensor, y->tensor) ||
        !nnrti_fits_output(p, x->tensor, y->tensor))
        return false;
    if (isOutput && (p->storages[p->storageOf[x->tensor]].kind != NNRT_PLACE_ARENA || nnrti_is_open(step)))
        return false; /* an output must not be written before a dynamic step knows its dimensions */
    nnrti_share_storage(p, x->tensor, y->tensor);
    return true;
}

/* True if no other input of the step has the storage of `tensor`: writing the result over it would destroy that
   input. */
static bool nnrti_alone(const nnrti_planner *p, const nnrt_draft_step *step, uint32_t tensor)
{
    for (uint32_t k = 0; k < step->nIn; k++) {
        const nnrt_plan_arg *arg = &step->args[k];
        if (arg->tensor != NNRT_NO_TENSOR && arg->tensor != tensor && arg->kind != NNRT_PLACE_CONSTANT &&
            p->storageOf[arg->tensor] == p->storageOf[tensor])
            return false;
    }
    return true;
}

#ifdef NNRT_FIRMWARE
#define nnrti_knows_output(p, step, x) true
#else
/* For an in-place result of a dynamic step that is a model output: whether all tensors that share the storage of x have
   the dimensions of the output. The storage becomes the caller's buffer, and the first step that writes to it checks
   the size of the buffer, so it must know the size that the output requires. */
static bool nnrti_knows_output(const nnrti_planner *p, const nnrt_draft_step *step, uint32_t x)
{
    const uint32_t y = nnrti_step_out(step, 0)->tensor;
    const nnrt_operand *to = &p->draft->tensors[y];
    for (uint32_t t = 0; t < p->draft->nTensors && nnrti_is_open(step) && p->outputOf[y] != NNRT_NO_TENSOR; t++) {
        const nnrt_operand *from = &p->draft->tensors[t];
        if (p->storageOf[t] == p->storageOf[x] &&
            (from->rank != to->rank ||
             !nnrti_bytes_equal(from->dims, to->dims, (size_t)to->rank * sizeof(to->dims[0])) ||
             !nnrti_same_symbols(from, to)))
            return false;
    }
    return true;
}
#endif

#ifdef NNRT_FIRMWARE
#define nnrti_try_overlap(p, step, at) false
#else
/* Overlap: output 0 takes over the storage of input 0, which is dead after this step (`at`) and may grow, if the kernel
   supports it (NNRT_STEP_OVERLAP). The storage of an output of the model is the caller's buffer, which cannot grow. */
static bool nnrti_try_overlap(nnrti_planner *p, const nnrt_draft_step *step, int32_t at)
{
    const nnrt_plan_arg *x = &step->args[0], *y = nnrti_step_out(step, 0);
    const nnrti_storage *s;
    if (!(step->flags & NNRT_STEP_OVERLAP) || nnrti_is_open(step) || step->nIn == 0 || x->tensor == NNRT_NO_TENSOR ||
        x->kind == NNRT_PLACE_CONSTANT || x->offset != 0 || y->offset != 0 ||
        p->storageOf[x->tensor] == NNRTI_NO_STORAGE)
        return false;
    s = &p->storages[p->storageOf[x->tensor]];
    if (s->kind != NNRT_PLACE_ARENA || s->last != at || s->told || s->parted || p->parted[y->tensor] ||
        !nnrti_fits_output(p, x->tensor, y->tensor) || !nnrti_alone(p, step, x->tensor))
        return false;
    nnrti_share_storage(p, x->tensor, y->tensor);
    return true;
}
#endif

/* In-place: output 0 takes over the storage of an input of the same shape, element size and layout that is dead
   after this step (`at`), if the kernel supports it (NNRT_OP_INPLACE). */
static bool nnrti_try_in_place(nnrti_planner *p, const nnrt_draft_step *step, int32_t at)
{
    const nnrt_plan_arg *y = nnrti_step_out(step, 0);
    const nnrt_operand *to = &p->draft->tensors[y->tensor];
    if (nnrti_try_overlap(p, step, at))
        return true;
    if (!(step->flags & NNRT_OP_INPLACE))
        return false;
    for (uint32_t k = 0; k < step->nIn; k++) {
        const nnrt_plan_arg *x = &step->args[k];
        const nnrt_operand *from;
        const nnrti_storage *s;
        if (x->tensor == NNRT_NO_TENSOR || x->kind == NNRT_PLACE_CONSTANT ||
            p->storageOf[x->tensor] == NNRTI_NO_STORAGE)
            continue;
        from = &p->draft->tensors[x->tensor];
        s = &p->storages[p->storageOf[x->tensor]];
        if (s->kind != NNRT_PLACE_ARENA || s->last != at || from->rank != to->rank ||
            (s->told && p->outputOf[y->tensor] != NNRT_NO_TENSOR) ||
            p->draft->bytes[x->tensor] != p->draft->bytes[y->tensor] ||
            !nnrti_bytes_equal(from->dims, to->dims, (size_t)to->rank * sizeof(to->dims[0])) ||
            !nnrti_same_symbols(from, to) || nnrt_type_size(from->dataType) != nnrt_type_size(to->dataType) ||
            !nnrti_same_layout(&x->view, &y->view) || !nnrti_alone(p, step, x->tensor) ||
            !nnrti_knows_output(p, step, x->tensor) || !nnrti_fits_parts(p, x->tensor, y->tensor) ||
            !nnrti_fits_output(p, x->tensor, y->tensor))
            continue;
        nnrti_share_storage(p, x->tensor, y->tensor);
        return true;
    }
    return false;
}

#ifndef NNRT_FIRMWARE /* firmware has no edits */

/* DEVICE_ERROR: argument k of a step violates the contract of an edit; the text `what` states the
   broken rule about its tensor. */
static NNRT_ReturnCode nnrti_bad_edit(const nnrti_planner *p, const nnrt_draft_step *step, uint32_t k, const char *what)
{
    return nnrt_error_set(p->error, NNRT_DEVICE_ERROR,
                          "the device's edit of node %d '%s': argument %u of %s is tensor %u, %s", step->node,
                          step->name, k, nnrti_text_of(step->kernelName), step->args[k].tensor, what);
}

/* Whether all elements of a view are inside the first `bytes` bytes from its beginning; negative strides are
   invalid. */
static bool nnrti_view_fits(const nnrt_view *v, size_t bytes)
{
    size_t span = 1, reach;
    for (int32_t i = 0; i < v->rank; i++)
        if (v->dims[i] < 0 || v->strides[i] < 0 ||
            !nnrt_mul_size(v->dims[i] > 0 ? (size_t)v->dims[i] - 1 : 0, (size_t)v->strides[i], &reach) ||
            !nnrt_add_size(span, reach, &span))
            return false;
    return nnrt_view_empty(v) || (nnrt_mul_size(span, nnrt_type_size(v->dataType), &reach) && reach <= bytes);
}

/* Whether a dynamic step still has the inputs and outputs of its node: the run resolves the node, so an edit must
   keep them. */
static bool nnrti_open_kept(const nnrt_draft_step *step)
{
    const nnrti_open_step *o = step->open;
    const NNRT_Uint32List none = {NULL, 0};
    const NNRT_Uint32List *in = o->node != NULL ? &o->node->inputIndex : &none;
    const NNRT_Uint32List *out = o->node != NULL ? &o->node->outputIndex : &none;
    bool kept = step->kernel != NULL && step->nIn == o->nIn && step->nOut == o->nOut;
    for (uint32_t i = 0; kept && i < in->count; i++)
        kept = step->args[i].tensor == in->data[i];
    for (uint32_t i = 0; kept && i < out->count; i++)
        kept = nnrti_step_out(step, i)->tensor == out->data[i];
    return kept;
}

/* The part of the draft that the step s belongs to: a number for each branch of an IF, each body of a LOOP and the main
   graph. *now = the part before the step, then the one behind it; 0 before the first step. */
static uint32_t nnrti_draft_part_of(const nnrt_draft *d, uint32_t s, uint32_t *now)
{
    nnrti_open_step *o = d->steps[s].open;
    if (o == NULL || o->part < NNRTI_PART_IF)
        return *now;
    if (o->part == NNRTI_PART_IF || o->part == NNRTI_PART_LOOP) {
        const uint32_t around = *now;
        o->first = around;
        *now = s + 1;
        return around;
    }
    *now = o->part == NNRTI_PART_ELSE ? s + 1 : o->begin->first;
    return *now;
}

/* Finds the tensors of which some arguments are slices (p->parted), and returns, per tensor, the sum of the bytes
   that all steps write: for a tensor written in slices it must be the size of the tensor. NULL: no memory. */
static size_t *nnrti_find_parts(nnrti_planner *p)
{
    const nnrt_draft *d = p->draft;
    size_t *written = (size_t *)nnrt_memory_temp_array(d->memory, d->nTensors, sizeof(*written)), bytes;
    p->parted = (bool *)nnrt_memory_temp_array(d->memory, d->nTensors, sizeof(*p->parted));
    if (written == NULL || p->parted == NULL)
        return NULL;
    for (uint32_t s = 0; s < d->nSteps; s++)
        for (uint32_t k = 0; d->steps[s].kernel != NULL && k < nnrti_step_args(&d->steps[s]); k++) {
            const nnrt_draft_step *step = &d->steps[s];
            const nnrt_plan_arg *arg = &step->args[k];
            if (arg->tensor >= d->nTensors || arg->kind == NNRT_PLACE_CONSTANT)
                continue;
            p->parted[arg->tensor] = p->parted[arg->tensor] || arg->offset != 0;
            if (k >= step->nIn + step->nDerived &&
                nnrt_dims_bytes(arg->view.dims, arg->view.rank, arg->view.dataType, &bytes) &&
                !nnrt_add_size(written[arg->tensor], bytes, &written[arg->tensor]))
                written[arg->tensor] = SIZE_MAX;
        }
    return written;
}

/* Rule: the def-use lists, on which the edit relied, agree with the arguments of step s. */
static NNRT_ReturnCode nnrti_check_uses(const nnrti_planner *p, uint32_t s)
{
    const nnrti_uses *u = p->draft->uses;
    const nnrt_draft_step *step = &p->draft->steps[s];
    for (uint32_t i = 0; step->kernel != NULL && !u->isStale[s] && i < step->nIn + step->nOut; i++) {
        const nnrt_plan_arg *arg = nnrti_use_arg(step, i);
        if (arg->tensor < p->draft->nTensors && (i >= u->size[s] || u->data[u->first[s] + i].tensor != arg->tensor))
            return nnrti_bad_edit(p, step, (uint32_t)(arg - step->args),
                                  "which it did not tell the def-use lists of (nnrt_draft_changed)");
    }
    return NNRT_SUCCESS;
}

/* Rule: after an edit, every argument is a tensor that exists and contains the whole view, every tensor is written
   once, or its slices are, in one subgraph, and cover it, and every model output is written. A wrong edit thus fails here instead of
   accessing invalid memory in a run. Uses lastUse as "has a value". */
static NNRT_ReturnCode nnrti_check_edits(nnrti_planner *p)
{
    const nnrt_draft *d = p->draft;
    const NNRT_Model *m = d->model;
    const size_t *written = nnrti_find_parts(p);
    uint32_t *partOf = (uint32_t *)nnrt_memory_temp_array(d->memory, d->nTensors, sizeof(*partOf)), now = 0;
    NNRT_ReturnCode code;
    if (written == NULL || partOf == NULL)
        return nnrti_no_memory(p->error);
    for (uint32_t i = 0; i < d->nTensors; i++)
        p->lastUse[i] =
            d->tensors[i].data != NULL && !nnrti_value_dynamic(&d->tensors[i]) ? 1 : 0; /* a value, so far? */
    for (uint32_t i = 0; i < m->inputIndex.count + m->outputIndex.count; i++) {
        const bool input = i < m->inputIndex.count;
        const uint32_t t = input ? m->inputIndex.data[i] : m->outputIndex.data[i - m->inputIndex.count];
        p->lastUse[t] = input ? 1 : p->lastUse[t];
        if (d->bytes[t] != nnrti_operand_bytes(&d->tensors[t]))
            return nnrt_error_set(p->error, NNRT_DEVICE_ERROR,
                                  "the device's edit: tensor %u '%s' is an input or output of the model, which has %z "
                                  "bytes and not %z",
                                  t, d->tensors[t].name, nnrti_operand_bytes(&d->tensors[t]), d->bytes[t]);
    }
    for (uint32_t i = 0; i < d->nTensors; i++)
        if (p->parted[i] && p->lastUse[i] != 0)
            return nnrt_error_set(p->error, NNRT_DEVICE_ERROR,
                                  "the device's edit: tensor %u '%s' is an input of the model, or has a value, and an "
                                  "argument begins inside it",
                                  i, d->tensors[i].name);
    for (uint32_t s = 0; s < d->nSteps; s++) {
        const nnrt_draft_step *step = &d->steps[s];
        const uint32_t part = nnrti_draft_part_of(d, s, &now);
        if (d->uses != NULL && (code = nnrti_check_uses(p, s)) != NNRT_SUCCESS)
            return code;
        if (step->open != NULL && !nnrti_open_kept(step))
            return nnrt_error_set(
                p->error, NNRT_DEVICE_ERROR,
                "the device's edit of node %d '%s': it has dynamic shapes, so its arguments must stay", step->node,
                step->name);
        for (uint32_t k = 0; step->kernel != NULL && k < nnrti_step_args(step); k++) {
            const nnrt_plan_arg *arg = &step->args[k];
            if (arg->tensor == NNRT_NO_TENSOR || (arg->kind == NNRT_PLACE_CONSTANT && k < step->nIn))
                continue;
            if (arg->tensor >= d->nTensors)
                return nnrti_bad_edit(p, step, k, "which does not exist");
            if (step->open == NULL && (arg->offset > d->bytes[arg->tensor] ||
                                       !nnrti_view_fits(&arg->view, d->bytes[arg->tensor] - arg->offset)))
                return nnrti_bad_edit(p, step, k, "whose bytes end before its view does");
            if (k < step->nIn + step->nDerived)
                continue;
            if (p->lastUse[arg->tensor]++ != 0 && !p->parted[arg->tensor])
                return nnrti_bad_edit(p, step, k, "which has a value already");
            if (p->parted[arg->tensor] && written[arg->tensor] != d->bytes[arg->tensor])
                return nnrti_bad_edit(p, step, k, "of which the parts that are written are not the whole");
            if (p->parted[arg->tensor] && p->lastUse[arg->tensor] > 1 && partOf[arg->tensor] != part)
                return nnrti_bad_edit(p, step, k, "of which another slice is written on the other side of an IF or LOOP");
            partOf[arg->tensor] = part;
        }
    }
    for (uint32_t i = 0; i < m->outputIndex.count; i++)
        if (p->lastUse[m->outputIndex.data[i]] == 0)
            return nnrt_error_set(p->error, NNRT_DEVICE_ERROR, "the device's edit: no step writes model output %u '%s'",
                                  i, d->tensors[m->outputIndex.data[i]].name);
    return NNRT_SUCCESS;
}

/* Rule: earlier steps have written all inputs of a step. An edit may have broken the order. */
static NNRT_ReturnCode nnrti_check_reads(const nnrti_planner *p, const nnrt_draft_step *step)
{
    for (uint32_t k = 0; k < step->nIn; k++) {
        const nnrt_plan_arg *arg = &step->args[k];
        if (arg->tensor != NNRT_NO_TENSOR && arg->kind != NNRT_PLACE_CONSTANT &&
            p->storageOf[arg->tensor] == NNRTI_NO_STORAGE)
            return nnrti_bad_edit(p, step, k, "which no step in front of it writes");
    }
    return NNRT_SUCCESS;
}

#endif

#ifdef NNRT_FIRMWARE
#define nnrti_is_parted(p, tensor) false
#else
static bool nnrti_is_parted(const nnrti_planner *p, uint32_t tensor)
{
    return p->parted[tensor];
}
#endif

/* Gives every input and result a storage, in the order of the steps: alias, else in-place, else the caller's output
   buffer, else the arena. A static step that became an alias is removed (kernel NULL); a dynamic one stays, because
   a run must compute its dimensions. */
static NNRT_ReturnCode nnrti_assign_storage(nnrti_planner *p)
{
    const NNRT_Uint32List *inputs = &p->draft->model->inputIndex;
    for (uint32_t i = 0; i < inputs->count; i++)
        nnrti_new_storage(p, inputs->data[i], NNRT_PLACE_INPUT, i, -1);
    for (uint32_t s = 0; s < p->draft->nSteps; s++) {
        nnrt_draft_step *step = &p->draft->steps[s];
        bool first = true;
#ifndef NNRT_FIRMWARE
        const NNRT_ReturnCode code = nnrti_check_reads(p, step);
        if (code != NNRT_SUCCESS)
            return code;
#endif
        for (uint32_t k = 0; k < step->nOut; k++, first = false) {
            uint32_t t = nnrti_step_out(step, k)->tensor;
            if (t == NNRT_NO_TENSOR || (nnrti_is_parted(p, t) && p->storageOf[t] != NNRTI_NO_STORAGE))
                continue;
            if (first && nnrti_try_alias(p, step)) {
#ifndef NNRT_FIRMWARE
                if (step->open != NULL) { /* stays: the run computes its dimensions */
                    step->open->alias = true;
                    break;
                }
#endif
                step->kernel = NULL;
                break;
            }
            if (first && nnrti_try_in_place(p, step, (int32_t)s))
                continue;
            if (p->outputOf[t] != NNRT_NO_TENSOR && !(step->flags & NNRT_OP_DATA_DEPENDENT) && !nnrti_is_parted(p, t))
                nnrti_new_storage(p, t, NNRT_PLACE_OUTPUT, p->outputOf[t], (int32_t)s);
            else
                nnrti_new_storage(p, t, NNRT_PLACE_ARENA, 0, (int32_t)s);
            p->storages[p->storageOf[t]].told = (step->flags & NNRT_OP_DATA_DEPENDENT) != 0;
        }
    }
    return NNRT_SUCCESS;
}

#ifdef NNRT_FIRMWARE
#define nnrti_exchange_carried(p) ((void)0)
#else

/* Double buffering of carried values. If a loop body computes the next value of a carried value into a storage of
   its own, both storages become CARRIED: of equal size, live during the whole loop, and addressed through a table of
   addresses. After each iteration two addresses are swapped instead of copying the value. Aliases, constants and
   values from outside the loop are copied. */
static void nnrti_exchange_carried(nnrti_planner *p)
{
    const nnrt_draft *d = p->draft;
    for (uint32_t end = 0; p->table != NULL && end < d->nSteps; end++) {
        const nnrt_draft_step *step = &d->steps[end];
        const nnrti_open_step *o = step->open;
        uint32_t begin = end;
        if (o == NULL || o->part != NNRTI_PART_END_LOOP)
            continue;
        while (d->steps[begin].open != o->begin)
            begin--;
        for (uint32_t k = 0; k < o->carried; k++) {
            const nnrt_plan_arg *from = &step->args[1 + k], *to = &step->args[3 + o->carried + o->scans + k];
            nnrti_storage *a, *b;
            if (from->tensor == NNRT_NO_TENSOR || from->kind == NNRT_PLACE_CONSTANT || to->tensor == NNRT_NO_TENSOR)
                continue;
            a = &p->storages[p->storageOf[from->tensor]];
            b = &p->storages[p->storageOf[to->tensor]];
            if (a->parted || b->parted || a->kind != NNRT_PLACE_ARENA || a->first <= (int32_t)begin ||
                a->last != (int32_t)end || b->kind != NNRT_PLACE_ARENA || b->first != (int32_t)begin ||
                b->last != (int32_t)end)
                continue;
            a->kind = b->kind = NNRT_PLACE_CARRIED;
            a->first = b->first;
            a->bytes = b->bytes = a->bytes > b->bytes ? a->bytes : b->bytes;
            a->carried = p->table->nCarried++;
            b->carried = p->table->nCarried++;
        }
    }
}

#endif

/* *block = the scratch of a step's kernel, live during this step only: scratchBytes, rounded up to alignment, for
   each worker of the thread pool (nnrt_parallel). Each call of a task gets the index of its worker, by which a
   kernel finds its own piece. */
static NNRT_ReturnCode nnrti_scratch_block(const nnrti_planner *p, uint32_t alignment, nnrt_draft_step *step,
                                           int32_t at, nnrt_plan_block *block)
{
    block->first = block->last = at;
    if (!nnrt_round_size(step->scratchBytes, alignment, &step->scratchBytes) ||
        !nnrt_mul_size(step->scratchBytes, p->draft->workers, &block->bytes))
        return nnrt_error_blame(p->error,
                                nnrt_error_set(p->error, NNRT_OUT_OF_MEMORY,
                                               "node %d '%s': the scratch memory of its kernel does not fit a size_t",
                                               step->node, step->name),
                                step->node, -1);
    return NNRT_SUCCESS;
}

/* Whether a storage needs a block of the arena. */
static bool nnrti_in_arena(const nnrti_storage *s)
{
    return s->kind == NNRT_PLACE_ARENA || s->kind == NNRT_PLACE_CARRIED;
}

/* With several workers, scratch of at most NNRTI_SCRATCH_STAYS bytes per worker has one block for all steps, and
   each worker has the same piece of it in each step, so that the piece stays in the cache of its core. Otherwise a
   piece would move through the caches of other cores. Returns the bytes of a piece; 0: one worker, or no such
   scratch. */
#define NNRTI_SCRATCH_STAYS 262144u
static size_t nnrti_scratch_stays(const nnrti_planner *p, uint32_t alignment)
{
    size_t most = 0;
#ifndef NNRT_FIRMWARE
    for (uint32_t s = 0; p->draft->workers > 1 && s < p->draft->nSteps; s++) {
        const nnrt_draft_step *step = &p->draft->steps[s];
        if (step->kernel != NULL && step->scratchBytes > most && step->scratchBytes <= NNRTI_SCRATCH_STAYS)
            most = step->scratchBytes;
    }
#endif
    (void)p;
    return nnrt_round_size(most, alignment, &most) ? most : 0;
}

/* Stores the offsets of the blocks in the storages. */
static void nnrti_store_offsets(nnrti_planner *p, const nnrt_plan_block *blocks)
{
    for (uint32_t i = 0; i < p->nStorages; i++)
        if (nnrti_in_arena(&p->storages[i]))
            p->storages[i].offset = (blocks++)->offset;
}

#ifdef NNRT_FIRMWARE
#define nnrti_place_regions(p, blocks, count, alignment, scratch, plan) NNRT_SUCCESS
#else
static NNRT_ReturnCode nnrti_place_regions(nnrti_planner *p, nnrt_plan_block *blocks, uint32_t count,
                                           uint32_t alignment, void *scratch, nnrt_plan *plan);
#endif

/* Arena offsets of all storages and scratch blocks, by the memory planner (nnrt_plan_arena). Blocks: storages in
   order, then scratch. */
static NNRT_ReturnCode nnrti_place_arena(nnrti_planner *p, uint32_t alignment, nnrt_plan *plan)
{
    nnrt_draft *d = p->draft;
    nnrt_plan_block *blocks =
        (nnrt_plan_block *)nnrt_memory_temp_array(d->memory, (size_t)p->nStorages + d->nSteps, sizeof(*blocks));
    const size_t stays = nnrti_scratch_stays(p, alignment);
    uint32_t count = 0, stay = UINT32_MAX;
    void *scratch;
    NNRT_ReturnCode code;
    if (blocks == NULL)
        return nnrti_no_memory(p->error);
    for (uint32_t i = 0; i < p->nStorages; i++)
        if (nnrti_in_arena(&p->storages[i])) {
            blocks[count].bytes = p->storages[i].bytes;
            blocks[count].first = p->storages[i].first;
            blocks[count++].last = p->storages[i].last;
        }
    for (uint32_t s = 0; s < d->nSteps; s++) { /* p->scratch: the number of the block for now, its offset below */
        nnrt_draft_step *step = &d->steps[s];
        if (step->kernel == NULL || step->scratchBytes == 0)
            continue;
        p->scratch[s] = count;
        if (step->scratchBytes <= stays) {
            step->scratchBytes = stays;
            stay = stay != UINT32_MAX ? stay : count;
            p->scratch[s] = stay;
        }
        if (p->scratch[s] < count)
            blocks[stay].last = (int32_t)s;
        else if ((code = nnrti_scratch_block(p, alignment, step, (int32_t)s, &blocks[count++])) != NNRT_SUCCESS)
            return code;
    }
    scratch = nnrt_memory_temp(d->memory, nnrt_plan_scratch(count));
    if (scratch == NULL)
        return nnrti_no_memory(p->error);
    code = nnrt_plan_arena(blocks, count, alignment, scratch, &plan->arenaBytes, &plan->arenaBound);
    if (code != NNRT_SUCCESS)
        return nnrt_error_set(p->error, code, "the arena of the model's %u intermediate tensors does not fit a size_t",
                              count);
    nnrti_store_offsets(p, blocks);
    if ((code = nnrti_place_regions(p, blocks, count, alignment, scratch, plan)) != NNRT_SUCCESS)
        return code;
    for (uint32_t s = 0; s < d->nSteps; s++)
        if (d->steps[s].kernel != NULL && d->steps[s].scratchBytes > 0)
            p->scratch[s] = blocks[p->scratch[s]].offset;
    return NNRT_SUCCESS;
}

/* Sets place and offset of an argument from the storage of its tensor. Tensors that a device added lose their
   number: the model does not know them. */
static void nnrti_place_arg(const nnrti_planner *p, nnrt_plan_arg *arg)
{
    const nnrti_storage *s;
    if (arg->tensor == NNRT_NO_TENSOR || arg->kind == NNRT_PLACE_CONSTANT)
        return;
    s = &p->storages[p->storageOf[arg->tensor]];
    arg->kind = s->kind;
    arg->offset = s->kind == NNRT_PLACE_ARENA ? s->offset + arg->offset
                  : s->kind != NNRT_PLACE_CARRIED
                      ? s->offset
                      : (size_t)p->draft->model->inputIndex.count + p->draft->model->outputIndex.count + s->carried;
    if (arg->tensor >= p->draft->model->allTensors.count)
        arg->tensor = NNRT_NO_TENSOR;
}

/* True if a step must copy model output i into the caller's buffer: it is an input, a constant or the same tensor as
   an earlier output, or it had to stay in the arena (data-dependent shape, slices). */
static bool nnrti_needs_copy(const nnrti_planner *p, uint32_t i)
{
    uint32_t t = p->draft->model->outputIndex.data[i];
    if (p->storageOf[t] == NNRTI_NO_STORAGE || p->storages[p->storageOf[t]].kind != NNRT_PLACE_OUTPUT)
        return true;
    return p->outputOf[t] != p->draft->model->inputIndex.count + i;
}

/* A plan that is being written: the model's, or one that a step of IF or LOOP runs. */
typedef struct nnrti_written {
    nnrt_plan *plan;
    nnrt_plan_step *steps;
#ifndef NNRT_FIRMWARE
    nnrti_open_step **open; /* per step; NULL: the plan is static */
    bool inner;             /* run by a step: arguments outside the arena are entries of its table */
#endif
} nnrti_written;

/* Allocates room for the steps of a plan; false: no memory. */
static bool nnrti_written_make(const nnrti_planner *p, nnrti_written *w, size_t room)
{
    w->steps = (nnrt_plan_step *)nnrt_memory_keep_array(p->draft->memory, room, sizeof(*w->steps));
    w->plan->steps = w->steps;
#ifndef NNRT_FIRMWARE
    if (p->open != NULL) {
        nnrti_open_plan *open =
            w->inner ? (nnrti_open_plan *)nnrt_memory_keep(p->draft->memory, sizeof(*open)) : p->open;
        w->open = (nnrti_open_step **)nnrt_memory_keep_array(p->draft->memory, room, sizeof(*w->open));
        if (open == NULL || w->open == NULL)
            return false;
        open->steps = w->open;
        w->plan->open = open;
    }
#endif
    return w->steps != NULL;
}

/* Appends a step to w, whose arguments the caller appends to p->args. views: number of views that it needs; open: NULL
   for a static step. */
static nnrt_plan_step *nnrti_append_step(const nnrti_planner *p, nnrti_written *w, uint32_t views,
                                         struct nnrti_open_step *open)
{
    nnrt_plan_step *step = &w->steps[w->plan->nSteps];
#ifdef NNRT_FIRMWARE
    (void)open;
#else
    if (w->open != NULL)
        w->open[w->plan->nSteps] = open;
#endif
    w->plan->nSteps++;
    step->arg = p->nArgs;
    w->plan->maxArgs = views > w->plan->maxArgs ? views : w->plan->maxArgs;
    return step;
}

/* Appends a step that copies argument x to argument y: the kernel of RESHAPE. */
static void nnrti_append_copy(nnrti_planner *p, nnrti_written *w, const char *name, int32_t node,
                              const nnrt_plan_arg *x, const nnrt_plan_arg *y, struct nnrti_open_step *open)
{
    nnrt_plan_step *step = nnrti_append_step(p, w, 3, open);
    step->kernel = nnrti_call_reshape;
    step->kernelName = NNRTI_LABEL("nnrt_reshape");
    step->name = name;
    step->node = node;
    step->nIn = 2;
    step->nOut = 1;
    p->args[p->nArgs++] = *x;
    p->args[p->nArgs++].tensor = NNRT_NO_TENSOR;
    p->args[p->nArgs++] = *y;
}

#ifdef NNRT_FIRMWARE
#define nnrti_finish_open(p) NNRT_SUCCESS
#else

/* The slot of a tensor's dimensions; NNRT_NO_TENSOR: its shape is fixed, or it is absent. */
static uint32_t nnrti_slot(const nnrti_planner *p, uint32_t tensor)
{
    return tensor != NNRT_NO_TENSOR ? p->slotOf[tensor] : NNRT_NO_TENSOR;
}

/* How control flow moves a value. */
typedef int32_t nnrti_move_kind;
enum {
    NNRTI_MOVE_COPY,
    NNRTI_MOVE_INITIAL, /* a carried value before the first iteration: a double-buffered one goes to its first place */
    NNRTI_MOVE_NEXT,    /* a carried value after an iteration: a double-buffered one stays, its addresses are swapped */
    NNRTI_MOVE_SCAN,    /* only in dynamic plans: see nnrti_step_part */
    NNRTI_MOVE_SCANNED
};

/* The number of the model output in whose buffer an argument is, or NNRT_NO_TENSOR. */
static uint32_t nnrti_output_number(const nnrti_planner *p, const nnrt_plan_arg *arg)
{
    return arg->kind == NNRT_PLACE_OUTPUT ? (uint32_t)arg->offset - p->draft->model->inputIndex.count : NNRT_NO_TENSOR;
}

/* Completes the data of a dynamic step of the draft: slots, reserved bytes, outputs. */
static void nnrti_write_open(const nnrti_planner *p, const nnrt_draft_step *step)
{
    nnrti_open_step *o = step->open;
    if (o == NULL)
        return;
    for (uint32_t i = 0; i < o->nIn; i++)
        o->slots[i] = nnrti_slot(p, step->args[i].tensor);
    for (uint32_t i = 0; i < o->nOut; i++) {
        nnrt_plan_arg arg = *nnrti_step_out(step, i);
        o->slots[o->nIn + i] = nnrti_slot(p, arg.tensor);
        o->bytes[i] = arg.tensor != NNRT_NO_TENSOR ? p->draft->bytes[arg.tensor] : 0;
        nnrti_place_arg(p, &arg);
        o->output[i] = nnrti_output_number(p, &arg);
    }
    if (o->part == NNRTI_PART_NODE && o->nIn + o->nOut > p->open->operands)
        p->open->operands = o->nIn + o->nOut;
}

/* Stores slots and symbols of inputs and outputs in the plan, from which a run checks dimensions that must be equal. */
static NNRT_ReturnCode nnrti_finish_open(nnrti_planner *p)
{
    const NNRT_Model *m = p->draft->model;
    const uint32_t nIn = m->inputIndex.count, count = nIn + m->outputIndex.count;
    uint32_t *slots, *symbols;
    if (p->open == NULL)
        return NNRT_SUCCESS;
    slots = (uint32_t *)nnrt_memory_keep_array(p->draft->memory, count, sizeof(*slots));
    symbols = (uint32_t *)nnrt_memory_keep_array(p->draft->memory, count, NNRTI_DIMS * sizeof(*symbols));
    if (slots == NULL || symbols == NULL)
        return nnrti_no_memory(p->error);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t t = i < nIn ? m->inputIndex.data[i] : m->outputIndex.data[i - nIn];
        slots[i] = p->slotOf[t];
        memcpy(symbols + (size_t)i * NNRTI_DIMS, p->draft->tensors[t].symbols, sizeof(p->draft->tensors[t].symbols));
    }
    p->open->slots = slots;
    p->open->symbols = symbols;
    return NNRT_SUCCESS;
}

#endif

#ifndef NNRT_FIRMWARE
/* Rule: a profile has both functions. */
static NNRT_ReturnCode nnrti_check_profile(const NNRT_ModelConfig *config)
{
    const nnrt_profile *p = config->profile;
    if (p == NULL || (p->step != NULL && p->clock != NULL))
        return NNRT_SUCCESS;
    return nnrt_error_set(config->error, NNRT_NULL_PTR, "the profile has no %s", p->step == NULL ? "step" : "clock");
}

/* Stores the receiver of the profile of a plan whose steps have this depth; false: no memory. */
static bool nnrti_write_profile(const nnrti_planner *p, nnrt_plan *made)
{
    const NNRT_ModelConfig *config = p->draft->config;
    nnrti_profile *own;
    if (config->profile == NULL)
        return true;
    own = (nnrti_profile *)nnrt_memory_keep(p->draft->memory, sizeof(*own));
    if (own == NULL)
        return false;
    own->to = config->profile;
    own->device = config->device;
    own->depth = p->depth;
    made->profile = own;
    return true;
}
#endif

#ifndef NNRT_FIRMWARE
/* ---------------------------------------------------------------------------------------------------------------- */
/* >>control */

/* Control flow. In a draft, the steps of branches and bodies are between markers, in one list: they share liveness and
   the arena with the steps around them. In a plan, IF and LOOP are ordinary steps whose kernels, nnrt_plan_if and
   nnrt_plan_loop, run plans (nnrt_plan_graphs). So the executor knows nothing of control flow, a session and firmware
   run the same plan, and the linker drops both kernels from a program without control flow (nnrt emit-c).

   Each inner plan is a stretch of the steps of the draft, in the same arena, at the same offsets. What markers do becomes
   steps: copies of initial values before a LOOP, of the results at the end of a branch, of carried values and elements of
   scan outputs at the end of an iteration. Arguments outside the arena (inputs, outputs, double-buffered carried values)
   are entries of a table of addresses, since an inner plan gets no other addresses from its kernel. The table belongs to
   the outermost IF or LOOP, is its scratch behind the planned arena, and serves all levels inside: first the inputs and
   outputs that they use, then the entries of each LOOP, which its kernel changes after each iteration (swaps of carried
   values, advances of scan outputs).

   Dynamic shapes. A copy between tensors whose dimensions may differ in a run is a dynamic step (COPY), which checks and
   stores them. A scan output has its dimensions from SCAN, once in each iteration, and SCANNED, at the end.

   Invariant: same kernels, same order, same bits as the steps of the draft. Rejected: markers in the plan, which every
   program would pay for; a table per level, which each entry to a level would fill again. */

/* Bytes of an address in the table: 8 on machines with 32 bits, too, so that a plan is the same on every machine. */
#define NNRTI_TABLE_BYTES 8

/* Whether x has the dimensions of y from axis `from` on. */
static bool nnrti_alike(const nnrt_plan_arg *x, const nnrt_plan_arg *y, int32_t from)
{
    return y->tensor == NNRT_NO_TENSOR ||
           (x->view.rank + from == y->view.rank &&
            nnrti_bytes_equal(x->view.dims, y->view.dims + from, (size_t)x->view.rank * sizeof(x->view.dims[0])));
}

/* Whether all values that the marker `step` moves have the planned dimensions of their destinations. */
static bool nnrti_moves_alike(const nnrt_draft_step *step)
{
    const nnrti_open_step *o = step->open;
    const nnrt_plan_arg *a = step->args, *trips = NULL;
    const uint32_t given = 1 + o->carried + o->scans; /* of END of LOOP: the outputs of BEGIN */
    bool same = true;
    for (uint32_t k = 0; k < o->carried; k++)
        if (o->part == NNRTI_PART_LOOP)
            same = same && nnrti_alike(&a[2 + k], &a[o->nIn + 2 + k], 0);
        else if (o->part == NNRTI_PART_END_LOOP)
            same = same && nnrti_alike(&a[1 + k], &a[given + 2 + k], 0) &&
                   nnrti_alike(&a[given + 2 + k], &a[o->nIn + k], 0);
        else if (o->part == NNRTI_PART_END_IF)
            same = same && nnrti_alike(&a[1 + k], &a[o->nIn + k], 0) &&
                   nnrti_alike(&a[1 + o->carried + k], &a[o->nIn + k], 0);
    for (uint32_t k = 0; o->part == NNRTI_PART_END_LOOP && k < o->scans; k++) {
        const nnrt_plan_arg *y = &a[given + 2 + o->carried + k];
        if (y->tensor == NNRT_NO_TENSOR)
            continue;
        trips = trips != NULL ? trips : y;
        same = same && nnrti_alike(&a[1 + o->carried + k], y, 1) && y->view.dims[0] == trips->view.dims[0];
    }
    return same;
}

/* A step or tensor of the draft is dynamic: a run must compute dimensions. */
static bool nnrti_draft_dynamic(const nnrt_draft *d)
{
    bool dynamic = false;
    for (uint32_t i = 0; i < d->model->inputIndex.count; i++) /* an input that no step reads can be dynamic, too */
        for (int32_t k = 0; k < d->tensors[d->model->inputIndex.data[i]].rank; k++)
            dynamic = dynamic || d->tensors[d->model->inputIndex.data[i]].symbols[k] != 0;
    for (uint32_t s = 0; s < d->nSteps && !dynamic; s++) {
        const nnrti_open_step *o = d->steps[s].open;
        if (o != NULL)
            dynamic = o->part <= NNRTI_PART_MODEL || nnrt_draft_is_dynamic(d, s) || !nnrti_moves_alike(&d->steps[s]);
    }
    return dynamic;
}

/* If a run must compute dimensions: makes p->open and assigns a slot to every tensor with a dynamic dimension. If there
   is control flow: makes p->table. false: no memory. */
static bool nnrti_open_begin(nnrti_planner *p)
{
    const nnrt_draft *d = p->draft;
    for (uint32_t s = 0; s < d->nSteps && p->table == NULL; s++)
        if (d->steps[s].open != NULL && d->steps[s].open->part >= NNRTI_PART_COPY &&
            (p->table = (nnrti_table *)nnrt_memory_temp(d->memory, sizeof(*p->table))) == NULL)
            return false;
    if (!nnrti_draft_dynamic(d))
        return true;
    p->open = (nnrti_open_plan *)nnrt_memory_keep(d->memory, sizeof(*p->open));
    p->slotOf = (uint32_t *)nnrt_memory_temp_array(d->memory, d->nTensors, sizeof(*p->slotOf));
    if (p->open == NULL || p->slotOf == NULL)
        return false;
    p->open->room = d->openRoom;
    for (uint32_t t = 0; t < d->nTensors; t++) {
        p->slotOf[t] = NNRT_NO_TENSOR;
        for (int32_t k = 0; k < d->tensors[t].rank; k++)
            if (d->tensors[t].symbols[k] != 0 && p->slotOf[t] == NNRT_NO_TENSOR)
                p->slotOf[t] = p->open->nSlots++;
    }
    return true;
}

/* Number of addresses of inputs and outputs. The addresses of carried values follow. */
static size_t nnrti_io_count(const nnrti_planner *p)
{
    return (size_t)p->draft->model->inputIndex.count + p->draft->model->outputIndex.count;
}

/* Makes the table of addresses: all addresses without an entry. It is behind the planned arena; with memory regions
   nnrti_place_table has stored its place. false: no memory. */
static bool nnrti_table_make(nnrti_planner *p, const nnrt_plan *plan)
{
    nnrti_table *t = p->table;
    const size_t io = nnrti_io_count(p);
    t->entry = (uint32_t *)nnrt_memory_temp_array(p->draft->memory, io + t->nCarried, sizeof(*t->entry));
    t->outer = (uint32_t *)nnrt_memory_temp_array(p->draft->memory, io, sizeof(*t->outer));
    t->carried = (size_t *)nnrt_memory_temp_array(p->draft->memory, t->nCarried, sizeof(*t->carried));
    if (t->entry == NULL || t->outer == NULL || t->carried == NULL ||
        (plan->nRegions == 0 && !nnrt_round_size(plan->arenaBytes, NNRTI_TABLE_BYTES, &t->at)))
        return false;
    t->nOuter = 0;
    for (size_t i = 0; i < io + t->nCarried; i++)
        t->entry[i] = NNRT_NO_TENSOR;
    for (uint32_t i = 0; i < p->nStorages; i++)
        if (p->storages[i].kind == NNRT_PLACE_CARRIED)
            t->carried[p->storages[i].carried] = p->storages[i].offset;
    for (uint32_t s = 0; s < p->draft->nSteps; s++)
        if (p->draft->steps[s].open != NULL)
            p->draft->steps[s].open->first = s;
    return true;
}

/* Entries of a table with `count` addresses: it has a place without any, if all values are in the arena, because the
   plans that an IF or LOOP runs need a table that is not NULL. */
static uint32_t nnrti_entries_or_one(uint32_t count)
{
    return count > 0 ? count : 1;
}

/* Begins the table of the outermost IF or LOOP, steps first to last of the draft: the inputs and outputs that they use
   are its first entries. */
static void nnrti_table_begin(const nnrti_planner *p, uint32_t first, uint32_t last)
{
    nnrti_table *t = p->table;
    while (t->nOuter > 0)
        t->entry[t->outer[--t->nOuter]] = NNRT_NO_TENSOR;
    for (uint32_t s = first; s <= last; s++)
        for (uint32_t k = 0; p->draft->steps[s].kernel != NULL && k < nnrti_step_args(&p->draft->steps[s]); k++) {
            nnrt_plan_arg arg = p->draft->steps[s].args[k];
            nnrti_place_arg(p, &arg);
            if ((arg.kind == NNRT_PLACE_INPUT || arg.kind == NNRT_PLACE_OUTPUT) &&
                t->entry[arg.offset] == NNRT_NO_TENSOR) {
                t->entry[arg.offset] = t->nOuter;
                t->outer[t->nOuter++] = (uint32_t)arg.offset;
            }
        }
    t->count = t->nOuter;
}

/* Whether two arguments are the double buffer of one carried value: numbers 2 k and 2 k + 1 of the carried values. */
static bool nnrti_exchanged(const nnrti_planner *p, const nnrt_plan_arg *x, const nnrt_plan_arg *y)
{
    return x->kind == NNRT_PLACE_CARRIED && y->kind == NNRT_PLACE_CARRIED &&
           ((x->offset - nnrti_io_count(p)) ^ (y->offset - nnrti_io_count(p))) == 1;
}

/* Argument k of step s of the draft with its place, as for the model's plan. */
static nnrt_plan_arg nnrti_placed(const nnrti_planner *p, uint32_t s, uint32_t k)
{
    nnrt_plan_arg arg = p->draft->steps[s].args[k];
    nnrti_place_arg(p, &arg);
    return arg;
}

/* Changes an argument of the model's plan to one of plan w. */
static void nnrti_enter(const nnrti_planner *p, const nnrti_written *w, nnrt_plan_arg *arg)
{
    if (w->inner && arg->kind > NNRT_PLACE_ARENA)
        arg->offset = p->table->entry[arg->offset];
}

/* The same argument in plan w. */
static nnrt_plan_arg nnrti_placed_in(const nnrti_planner *p, const nnrti_written *w, const nnrt_plan_arg *arg)
{
    nnrt_plan_arg made = *arg;
    nnrti_enter(p, w, &made);
    return made;
}

/* *o = the data of a dynamic step that moves tensor `from` to argument y, which is tensor `to`. NNRT_NO_TENSOR: y is an
   output of the model and has the checked dimensions of `from`, or y has fixed dimensions. false: no memory. */
static bool nnrti_open_move(const nnrti_planner *p, nnrti_step_part part, uint32_t from, const nnrt_plan_arg *y,
                            uint32_t to, nnrti_open_step **o)
{
    const nnrt_draft *d = p->draft;
    nnrti_open_step *made = (nnrti_open_step *)nnrt_memory_keep(d->memory, sizeof(*made));
    *o = made;
    if (made == NULL || !nnrti_open_tables_make(d, made, 2, 1))
        return false;
    made->part = part;
    made->slots[0] = nnrti_slot(p, from);
    made->slots[1] = NNRT_NO_TENSOR;
    made->slots[2] = nnrti_slot(p, to);
    made->output[0] = nnrti_output_number(p, y);
    made->bytes[0] = to != NNRT_NO_TENSOR ? d->bytes[to] : SIZE_MAX;
    made->vary = to == NNRT_NO_TENSOR && y->kind == NNRT_PLACE_OUTPUT ? UINT32_MAX : 0;
    for (int32_t k = 0; to != NNRT_NO_TENSOR && k < d->tensors[to].rank; k++)
        made->vary |= d->tensors[to].symbols[k] != 0 ? 1u << k : 0;
    if (part != NNRTI_PART_SCANNED)
        return true;
    made->none = (int32_t *)nnrt_memory_keep_array(d->memory, NNRTI_DIMS, sizeof(*made->none));
    for (int32_t k = 0; made->none != NULL && from != NNRT_NO_TENSOR && k < d->tensors[from].rank; k++)
        made->none[k] = d->tensors[from].symbols[k] == 0 ? d->tensors[from].dims[k] : 0;
    return made->none != NULL;
}

/* An upper bound of the number of steps of the plan for steps first to last (exclusive) of the draft. */
static size_t nnrti_range_room(const nnrti_planner *p, uint32_t first, uint32_t last)
{
    size_t room = 0;
    for (uint32_t s = first; s < last; s++, room++) {
        const nnrti_open_step *o = p->draft->steps[s].open;
        if (o != NULL && o->end != NULL) {
            room += o->part == NNRTI_PART_LOOP ? o->carried : 0; /* copies of the initial values */
            s = o->end->first;
        }
    }
    return room;
}

/* An upper bound of the number of arguments of all plans, if the steps of the draft have `args`. SIZE_MAX: it does not
   fit a size_t. Per IF or LOOP: copies, the inputs of its step, and the inputs and outputs that its steps use. */
static size_t nnrti_control_room(const nnrti_planner *p, size_t args)
{
    size_t room = args;
    bool fits = nnrt_add_size(room, args, &room);
    for (uint32_t s = 0; s < p->draft->nSteps; s++) {
        const nnrti_open_step *o = p->draft->steps[s].open;
        if (o != NULL && o->end != NULL)
            fits = fits && nnrt_add_size(room,
                                         3 * (3 * (size_t)o->carried + 2 * (size_t)o->scans + 1) + NNRT_LOOP_TABLE +
                                             2 * (size_t)o->carried + o->scans,
                                         &room);
    }
    return fits ? room : SIZE_MAX;
}

#endif

/* Appends step s of the draft to w, its arguments with place and offset. A dynamic step may have up to NNRT_MAX_DERIVED
   further derived constants in a run. */
static void nnrti_write_step(nnrti_planner *p, nnrti_written *w, uint32_t s)
{
    const nnrt_draft_step *from = &p->draft->steps[s];
    const uint32_t count = nnrti_step_args(from);
    nnrt_plan_step *step = nnrti_append_step(p, w, count + (nnrti_is_open(from) ? NNRT_MAX_DERIVED : 0), from->open);
    step->kernel = from->kernel;
    step->kernelName = from->kernelName;
    step->attr = from->attr;
    step->op = from->op;
    step->name = from->name;
    step->node = from->node;
    step->nIn = from->nIn;
    step->nDerived = from->nDerived;
    step->nOut = from->nOut;
    step->scratch = p->scratch[s];
    step->scratchBytes = from->scratchBytes;
#ifndef NNRT_FIRMWARE
    step->deviceAttr = from->deviceAttr;
#endif
    memcpy(&p->args[p->nArgs], from->args, count * sizeof(*p->args));
    for (uint32_t k = 0; k < count; k++, p->nArgs++) {
        nnrti_place_arg(p, &p->args[p->nArgs]);
#ifndef NNRT_FIRMWARE
        nnrti_enter(p, w, &p->args[p->nArgs]);
#endif
    }
#ifndef NNRT_FIRMWARE
    nnrti_write_open(p, from);
#endif
}

#ifdef NNRT_FIRMWARE
#define nnrti_is_marker(step) false
#define nnrti_write_marker(p, w, s) NNRT_SUCCESS
#else
static bool nnrti_write_move(nnrti_planner *p, nnrti_written *w, nnrti_move_kind kind, uint32_t s, uint32_t from,
                             uint32_t to);
static NNRT_ReturnCode nnrti_write_if(nnrti_planner *p, nnrti_written *w, uint32_t s);
static NNRT_ReturnCode nnrti_write_loop(nnrti_planner *p, nnrti_written *w, uint32_t s);

/* Whether a step of the draft is control flow, or a copy for it. */
static bool nnrti_is_marker(const nnrt_draft_step *step)
{
    return step->open != NULL && step->open->part >= NNRTI_PART_COPY;
}

/* Writes the marker *s, and the steps up to its END; *s = the last of them. */
static NNRT_ReturnCode nnrti_write_marker(nnrti_planner *p, nnrti_written *w, uint32_t *s)
{
    const uint32_t at = *s;
    const nnrti_open_step *o = p->draft->steps[at].open;
    if (o->part == NNRTI_PART_COPY)
        return nnrti_write_move(p, w, NNRTI_MOVE_COPY, at, 0, 2) ? NNRT_SUCCESS : nnrti_no_memory(p->error);
    *s = o->end->first;
    return o->part == NNRTI_PART_IF ? nnrti_write_if(p, w, at) : nnrti_write_loop(p, w, at);
}
#endif

/* Appends steps first to last (exclusive) of the draft to w. */
static NNRT_ReturnCode nnrti_write_range(nnrti_planner *p, nnrti_written *w, uint32_t first, uint32_t last)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    for (uint32_t s = first; s < last && code == NNRT_SUCCESS; s++)
        if (p->draft->steps[s].kernel != NULL) {
            if (nnrti_is_marker(&p->draft->steps[s]))
                code = nnrti_write_marker(p, w, &s);
            else
                nnrti_write_step(p, w, s);
        }
    return code;
}

#ifndef NNRT_FIRMWARE
/* Appends to w the move of argument `from` of marker s to its argument `to`, unless there is nothing to do in a run.
   false: no memory. */
static bool nnrti_write_move(nnrti_planner *p, nnrti_written *w, nnrti_move_kind kind, uint32_t s, uint32_t from,
                             uint32_t to)
{
    const nnrt_draft_step *marker = &p->draft->steps[s];
    const nnrt_plan_arg x = nnrti_placed(p, s, from);
    nnrt_plan_arg y = nnrti_placed(p, s, to), xIn, yIn;
    const bool stays = kind == NNRTI_MOVE_NEXT && nnrti_exchanged(p, &x, &y);
    nnrti_open_step *o = NULL;
    if (y.kind == NNRT_PLACE_NONE)
        return true;
    if (kind == NNRTI_MOVE_INITIAL && y.kind == NNRT_PLACE_CARRIED) {
        y.offset = p->table->carried[y.offset - nnrti_io_count(p)];
        y.kind = NNRT_PLACE_ARENA;
    }
    if (p->open != NULL &&
        (kind >= NNRTI_MOVE_SCAN || nnrti_slot(p, marker->args[from].tensor) != NNRT_NO_TENSOR ||
         nnrti_slot(p, marker->args[to].tensor) != NNRT_NO_TENSOR || !nnrti_alike(&x, &y, 0))) {
        if (!nnrti_open_move(p,
                             kind == NNRTI_MOVE_SCAN      ? NNRTI_PART_SCAN
                             : kind == NNRTI_MOVE_SCANNED ? NNRTI_PART_SCANNED
                                                          : NNRTI_PART_COPY,
                             marker->args[from].tensor, &y, marker->args[to].tensor, &o))
            return false;
        o->alias = stays;
        o->first = kind >= NNRTI_MOVE_SCAN ? from - 1 - marker->open->carried : 0;
    } else if (stays) {
        return true;
    }
    xIn = nnrti_placed_in(p, w, &x);
    yIn = nnrti_placed_in(p, w, &y);
    nnrti_append_copy(p, w, marker->name, marker->node, &xIn, &yIn, o);
    return true;
}

/* Begins a plan with room for `room` steps, which a step of IF or LOOP runs. false: no memory. */
static bool nnrti_inner_begin(nnrti_planner *p, nnrti_written *w, size_t room)
{
    memset(w, 0, sizeof(*w));
    w->plan = (nnrt_plan *)nnrt_memory_keep(p->draft->memory, sizeof(*w->plan));
    w->inner = true;
    if (w->plan == NULL || !nnrti_written_make(p, w, room) || !nnrti_write_profile(p, w->plan))
        return false;
    w->plan->args = p->args;
    w->plan->parallel = p->draft->config->parallel;
    return true;
}

/* Appends to w the step that runs the plans of graphs for the IF or LOOP of marker s. Its inputs: count arguments
   args, then its entries of the table: if w is the model's plan, the inputs and outputs; then nOwn arguments own. false:
   no memory. */
static bool nnrti_write_control(nnrti_planner *p, nnrti_written *w, uint32_t s, const nnrt_plan_graphs *graphs,
                                const nnrt_plan_arg *args, uint32_t count, const nnrt_plan_arg *own, uint32_t nOwn)
{
    const nnrt_draft_step *marker = &p->draft->steps[s];
    const bool loop = marker->open->part == NNRTI_PART_LOOP;
    const uint32_t nOuter = w->inner ? 0 : p->table->nOuter, nIn = count + nOuter + nOwn;
    const uint32_t entries = nnrti_entries_or_one(p->table->count);
    const uint32_t inner = graphs->plans[0]->maxArgs > graphs->plans[1]->maxArgs ? graphs->plans[0]->maxArgs
                                                                                 : graphs->plans[1]->maxArgs;
    nnrti_open_step *o = NULL;
    nnrt_plan_step *step;
    if (p->open != NULL) {
        if ((o = (nnrti_open_step *)nnrt_memory_keep(p->draft->memory, sizeof(*o))) == NULL ||
            !nnrti_open_tables_make(p->draft, o, nIn, 0))
            return false;
        o->part = NNRTI_PART_MODEL;
        for (uint32_t i = 0; i < nIn; i++)
            o->slots[i] = NNRT_NO_TENSOR;
        o->slots[1] = nnrti_slot(p, marker->args[loop ? 1 : 0].tensor);
        if (loop)
            o->slots[2] = nnrti_slot(p, marker->args[0].tensor);
    }
    step = nnrti_append_step(p, w, nIn + inner, o);
    step->kernel = loop ? nnrt_plan_loop : nnrt_plan_if;
    step->kernelName = loop ? NNRTI_LABEL("nnrt_plan_loop") : NNRTI_LABEL("nnrt_plan_if");
    step->attr = graphs;
    step->op = marker->op;
    step->name = marker->name;
    step->node = marker->node;
    step->nIn = nIn;
    step->scratch = p->table->at;
    step->scratchBytes = entries * (size_t)NNRTI_TABLE_BYTES;
    memcpy(&p->args[p->nArgs], args, count * sizeof(*args));
    p->nArgs += count;
    for (uint32_t i = 0; i < nOuter; i++, p->nArgs++) {
        nnrt_plan_arg *arg = &p->args[p->nArgs];
        arg->kind = p->table->outer[i] < p->draft->model->inputIndex.count ? NNRT_PLACE_INPUT : NNRT_PLACE_OUTPUT;
        arg->offset = p->table->outer[i];
        arg->tensor = NNRT_NO_TENSOR;
    }
    memcpy(&p->args[p->nArgs], own, nOwn * sizeof(*own));
    p->nArgs += nOwn;
    p->table->most = entries > p->table->most ? entries : p->table->most;
    return true;
}

/* Writes the IF whose BEGIN is step s: a plan per branch, which ends with the copies of its results. */
static NNRT_ReturnCode nnrti_write_if(nnrti_planner *p, nnrti_written *w, uint32_t s)
{
    const nnrti_open_step *begin = p->draft->steps[s].open, *end = begin->end;
    const uint32_t first[2] = {s + 1, begin->otherwise->first + 1}, last[2] = {begin->otherwise->first, end->first};
    nnrt_plan_graphs *graphs = (nnrt_plan_graphs *)nnrt_memory_keep(p->draft->memory, sizeof(*graphs));
    const nnrt_plan_arg cond = nnrti_placed(p, s, 0);
    nnrt_plan_arg args[NNRT_IF_TABLE];
    NNRT_ReturnCode code;
    if (graphs == NULL)
        return nnrti_no_memory(p->error);
    if (!w->inner)
        nnrti_table_begin(p, s, end->first);
    p->depth++;
    for (uint32_t i = 0; i < 2; i++) {
        nnrti_written branch;
        if (!nnrti_inner_begin(p, &branch, nnrti_range_room(p, first[i], last[i]) + end->carried))
            return nnrti_no_memory(p->error);
        if ((code = nnrti_write_range(p, &branch, first[i], last[i])) != NNRT_SUCCESS)
            return code;
        for (uint32_t k = 0; k < end->carried; k++)
            if (!nnrti_write_move(p, &branch, NNRTI_MOVE_COPY, end->first, 1 + i * end->carried + k, end->nIn + k))
                return nnrti_no_memory(p->error);
        graphs->plans[i] = branch.plan;
    }
    p->depth--;
    memset(args, 0, sizeof(args));
    args[0].kind = NNRT_PLACE_ARENA;
    args[0].tensor = NNRT_NO_TENSOR;
    args[1] = nnrti_placed_in(p, w, &cond);
    return nnrti_write_control(p, w, s, graphs, args, NNRT_IF_TABLE, args, 0) ? NNRT_SUCCESS
                                                                              : nnrti_no_memory(p->error);
}

/* Assigns the entries of the LOOP whose BEGIN is step s: pairs of double-buffered carried values, then, if all
   shapes are fixed, the addresses of its scan outputs. own: receives their arguments. Returns their number. */
static uint32_t nnrti_loop_entries(const nnrti_planner *p, const nnrti_written *w, uint32_t s, nnrt_plan_graphs *graphs,
                                   size_t *bytes, nnrt_plan_arg *own)
{
    const nnrti_open_step *begin = p->draft->steps[s].open;
    const uint32_t at = begin->end->first, given = 1 + begin->carried + begin->scans;
    nnrti_table *t = p->table;
    uint32_t count = 0;
    graphs->first = w->inner ? t->count : 0;
    graphs->scanBytes = bytes;
    graphs->scanTrips = -1;
    for (uint32_t k = 0; k < begin->carried; k++) {
        const nnrt_plan_arg pair[2] = {nnrti_placed(p, at, 1 + k), nnrti_placed(p, at, given + 2 + k)};
        for (uint32_t i = 0; i < 2 && nnrti_exchanged(p, &pair[0], &pair[1]); i++) {
            memset(&own[count], 0, sizeof(own[count]));
            own[count].kind = NNRT_PLACE_ARENA;
            own[count].offset = t->carried[pair[i].offset - nnrti_io_count(p)];
            own[count++].tensor = NNRT_NO_TENSOR;
            t->entry[pair[i].offset] = t->count++;
        }
    }
    graphs->nPairs = count / 2;
    for (uint32_t k = 0; p->open == NULL && k < begin->scans; k++) {
        const nnrt_plan_arg x = nnrti_placed(p, at, 1 + begin->carried + k);
        const nnrt_plan_arg y = nnrti_placed(p, at, given + 2 + begin->carried + k);
        if (y.kind == NNRT_PLACE_NONE)
            continue;
        graphs->scanTrips = y.view.dims[0];
        if (nnrt_view_empty(&x.view))
            continue;
        (void)nnrt_dims_bytes(x.view.dims, x.view.rank, x.view.dataType, &bytes[graphs->nScans++]);
        own[count] = nnrti_placed_in(p, w, &y);
        memset(&own[count++].view, 0, sizeof(own->view));
        t->count++;
    }
    return count;
}

/* Whether the cond that the body of a LOOP computes is copied to an entry of the table, before the carried values
   change: one of them has its place, or the run must check its dimensions. at: the END of the LOOP. */
static bool nnrti_cond_aside(const nnrti_planner *p, uint32_t at)
{
    const nnrt_draft_step *end = &p->draft->steps[at];
    const uint32_t carried = end->open->carried, given = 1 + carried + end->open->scans;
    const nnrt_plan_arg left = nnrti_placed(p, at, 0);
    bool aside = p->open != NULL && nnrti_slot(p, end->args[0].tensor) != NNRT_NO_TENSOR;
    for (uint32_t k = 0; k < 2 * carried; k++) {
        const nnrt_plan_arg arg = nnrti_placed(p, at, k % 2 == 0 ? 1 + k / 2 : given + 2 + k / 2);
        aside = aside || (arg.kind >= NNRT_PLACE_ARENA && arg.kind == left.kind && arg.offset == left.offset);
    }
    return aside;
}

/* Appends to a body the moves at the end of an iteration: elements of scan outputs, then carried values. *cond = where
   nnrt_plan_loop reads the cond that the body computes, as an argument of plan w. false: no memory. */
static bool nnrti_write_trip(nnrti_planner *p, const nnrti_written *w, nnrti_written *body, uint32_t s, uint32_t scan,
                             nnrt_plan_arg *cond)
{
    const nnrti_open_step *begin = p->draft->steps[s].open;
    const uint32_t at = begin->end->first, given = 1 + begin->carried + begin->scans;
    const uint32_t tensor = p->draft->steps[at].args[0].tensor;
    const nnrt_plan_arg left = nnrti_placed(p, at, 0), x = nnrti_placed_in(p, body, &left);
    nnrti_open_step *o = NULL;
    for (uint32_t k = 0; k < begin->scans; k++) {
        const uint32_t from = 1 + begin->carried + k, to = given + 2 + begin->carried + k;
        const nnrt_plan_arg element = nnrti_placed(p, at, from), e = nnrti_placed_in(p, body, &element);
        nnrt_plan_arg y = nnrti_placed(p, at, to);
        if (p->open != NULL) {
            if (!nnrti_write_move(p, body, NNRTI_MOVE_SCAN, at, from, to))
                return false;
        } else if (y.kind != NNRT_PLACE_NONE && !nnrt_view_empty(&e.view)) {
            y.view = e.view;
            y.view.data = NULL;
            y.kind = NNRT_PLACE_CARRIED;
            y.offset = scan++;
            nnrti_append_copy(p, body, p->draft->steps[s].name, p->draft->steps[s].node, &e, &y, NULL);
        }
    }
    *cond = nnrti_placed_in(p, w, &left);
    if (nnrti_cond_aside(p, at)) {
        *cond = left;
        cond->kind = NNRT_PLACE_ARENA;
        cond->offset = p->table->at + (size_t)p->table->count++ * NNRTI_TABLE_BYTES;
        cond->tensor = NNRT_NO_TENSOR;
        for (int32_t i = 0; i < left.view.rank; i++)
            cond->view.dims[i] = 1; /* it has one element */
        if (p->open != NULL && !nnrti_open_move(p, NNRTI_PART_COPY, tensor, cond, NNRT_NO_TENSOR, &o))
            return false;
        nnrti_append_copy(p, body, p->draft->steps[s].name, p->draft->steps[s].node, &x, cond, o);
    }
    for (uint32_t k = 0; k < begin->carried; k++)
        if (!nnrti_write_move(p, body, NNRTI_MOVE_NEXT, at, 1 + k, given + 2 + k))
            return false;
    return true;
}

/* Writes the LOOP whose BEGIN is step s: copies of the initial carried values into w, the body as a plan, and a
   second plan that copies the final values into the results. */
static NNRT_ReturnCode nnrti_write_loop(nnrti_planner *p, nnrti_written *w, uint32_t s)
{
    const nnrti_open_step *begin = p->draft->steps[s].open;
    const uint32_t at = begin->end->first, given = 1 + begin->carried + begin->scans;
    nnrt_memory *memory = p->draft->memory;
    nnrt_plan_graphs *graphs = (nnrt_plan_graphs *)nnrt_memory_keep(memory, sizeof(*graphs));
    size_t *bytes = (size_t *)nnrt_memory_keep_array(memory, begin->scans, sizeof(*bytes));
    nnrt_plan_arg *own = (nnrt_plan_arg *)nnrt_memory_temp_array(memory, 2 * (size_t)begin->carried + begin->scans,
                                                                 sizeof(*own));
    nnrt_plan_arg args[NNRT_LOOP_TABLE];
    nnrti_written body, after;
    uint32_t nOwn, scan;
    NNRT_ReturnCode code;
    bool good = graphs != NULL && bytes != NULL && own != NULL;
    for (uint32_t k = 0; k < begin->carried; k++)
        good = good && nnrti_write_move(p, w, NNRTI_MOVE_INITIAL, s, 2 + k, begin->nIn + 2 + k);
    p->depth++;
    if (!good || !nnrti_inner_begin(p, &body, nnrti_range_room(p, s + 1, at) + given) ||
        !nnrti_inner_begin(p, &after, begin->carried + begin->scans))
        return nnrti_no_memory(p->error);
    if (!w->inner)
        nnrti_table_begin(p, s, at);
    nOwn = nnrti_loop_entries(p, w, s, graphs, bytes, own);
    scan = p->table->count - graphs->nScans;
    graphs->maxTrips = p->draft->config->maxTrips != 0 ? p->draft->config->maxTrips : NNRT_MAX_TRIPS;
    graphs->plans[0] = body.plan;
    graphs->plans[1] = after.plan;
    memset(args, 0, sizeof(args));
    if ((code = nnrti_write_range(p, &body, s + 1, at)) != NNRT_SUCCESS)
        return code;
    good = nnrti_write_trip(p, w, &body, s, scan, &args[5]);
    for (uint32_t k = 0; k < begin->carried; k++)
        good = good && nnrti_write_move(p, &after, NNRTI_MOVE_COPY, at, given + 2 + k, begin->end->nIn + k);
    for (uint32_t k = 0; p->open != NULL && k < begin->scans; k++)
        good = good && nnrti_write_move(p, &after, NNRTI_MOVE_SCANNED, at, 1 + begin->carried + k,
                                        given + 2 + begin->carried + k);
    p->depth--;
    args[0].kind = NNRT_PLACE_ARENA;
    args[0].tensor = NNRT_NO_TENSOR;
    for (uint32_t i = 1; i < 5; i++) { /* cond, trips, iteration, cond of the body */
        const nnrt_plan_arg arg = nnrti_placed(p, s, i < 3 ? 2 - i : begin->nIn + i - 3);
        args[i] = nnrti_placed_in(p, w, &arg);
    }
    return good && nnrti_write_control(p, w, s, graphs, args, NNRT_LOOP_TABLE, own, nOwn) ? NNRT_SUCCESS
                                                                                          : nnrti_no_memory(p->error);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>regions */

/* Memory regions (nnrt_region). Draft, storages and blocks are the same as for one arena; only the offsets differ.
   If the blocks do not fit the first region together, they are placed one by one in the order of their traffic, each
   into the lowest gap of the first region that has one (nnrti_plan_gap), as long as the gap ends inside the region. The
   planner places the remaining blocks in the last region, so that its size is known exactly: the choice depends on the
   other regions alone. Rejected: an executor with an address per region in `io`, as a scratch offset and the plans of
   IF and LOOP would need numbers of their own; every step finds the addresses in the first region. */

/* Bytes that the steps read and write, per storage. A step in a body of LOOP counts 8 times. NULL: no memory. */
static uint64_t *nnrti_storage_traffic(const nnrti_planner *p)
{
    const nnrt_draft *d = p->draft;
    uint64_t *traffic = (uint64_t *)nnrt_memory_temp_array(d->memory, p->nStorages, sizeof(*traffic));
    uint32_t loops = 0;
    for (uint32_t s = 0; traffic != NULL && s < d->nSteps; s++) {
        const nnrt_draft_step *step = &d->steps[s];
        if (step->open != NULL && step->open->part == NNRTI_PART_LOOP)
            loops++;
        for (uint32_t k = 0; step->kernel != NULL && k < nnrti_step_args(step); k++) {
            const nnrt_plan_arg *arg = &step->args[k];
            uint64_t *sum;
            size_t bytes;
            if (arg->tensor == NNRT_NO_TENSOR || arg->kind == NNRT_PLACE_CONSTANT ||
                p->storageOf[arg->tensor] == NNRTI_NO_STORAGE ||
                !nnrt_dims_bytes(arg->view.dims, arg->view.rank, arg->view.dataType, &bytes))
                continue;
            sum = &traffic[p->storageOf[arg->tensor]];
            *sum += (uint64_t)(bytes < UINT32_MAX ? bytes : UINT32_MAX) << 3 * (loops < 4 ? loops : 4);
            *sum = *sum < UINT64_MAX >> 8 ? *sum : UINT64_MAX >> 8;
        }
        if (step->open != NULL && step->open->part == NNRTI_PART_END_LOOP)
            loops--;
    }
    return traffic;
}

/* Sorts the blocks by traffic per byte, scratch before tensors: a->order. The unit is 1/16, and the number has 32 bits
   everywhere, so that the order is the same on every machine. */
static void nnrti_sort_by_traffic(const nnrti_planner *p, nnrti_plan *a, const uint64_t *traffic)
{
    uint32_t i = 0;
    for (uint32_t k = 0; k < p->nStorages; k++)
        if (nnrti_in_arena(&p->storages[k])) {
            const uint64_t each = a->size[i] != 0 ? traffic[k] * 16 / a->size[i] : 0;
            a->breadth[i++] = (size_t)(each < UINT32_MAX ? each : UINT32_MAX - 1);
        }
    for (; i < a->count; i++)
        a->breadth[i] = UINT32_MAX;
    nnrti_plan_sort(a, NNRTI_PLAN_BREADTH, a->order);
}

/* Places blocks that are in no region yet (lane 0) in the bytes [base, bytes) of a region; *used: its end. */
static void nnrti_fill_region(nnrti_plan *a, uint32_t region, size_t base, size_t bytes, size_t *used)
{
    uint32_t n = 0;
    *used = base;
    for (uint32_t k = 0; k < a->n; k++) {
        const uint32_t i = a->order[k];
        const size_t at = a->lane[i] == 0 ? nnrti_plan_gap(a, n, &a->blocks[i], a->size[i], 0) : 0;
        if (a->lane[i] != 0 || a->size[i] > bytes - base - at)
            continue;
        nnrti_plan_insert(a, n++, &a->blocks[i], at, a->size[i]);
        a->blocks[i].offset = NNRT_REGION(region) + base + at;
        a->lane[i] = 1;
        *used = base + at + a->size[i] > *used ? base + at + a->size[i] : *used;
    }
}

/* Plans the blocks that are in no region yet as the arena of the last region. */
static NNRT_ReturnCode nnrti_fill_last(const nnrti_planner *p, nnrti_plan *a, uint32_t region, size_t alignment,
                                       size_t *used)
{
    nnrt_memory *memory = p->draft->memory;
    nnrt_plan_block *rest = (nnrt_plan_block *)nnrt_memory_temp_array(memory, a->n, sizeof(*rest));
    uint32_t *number = (uint32_t *)nnrt_memory_temp_array(memory, a->n, sizeof(*number)), n = 0;
    void *scratch = nnrt_memory_temp(memory, nnrt_plan_scratch(a->n));
    NNRT_ReturnCode code;
    if (rest == NULL || number == NULL || scratch == NULL)
        return nnrti_no_memory(p->error);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->size[i] != 0 && a->lane[i] == 0) {
            rest[n] = a->blocks[i];
            number[n++] = i;
        }
    if ((code = nnrt_plan_arena(rest, n, alignment, scratch, used, NULL)) != NNRT_SUCCESS)
        return nnrt_error_set(p->error, code, "the memory region '%s' does not fit a size_t",
                              p->draft->config->regions[region].name);
    for (uint32_t k = 0; k < n; k++)
        a->blocks[number[k]].offset = NNRT_REGION(region) + rest[k].offset;
    return NNRT_SUCCESS;
}

/* OUT_OF_MEMORY: a region is smaller than the bytes that it requires. */
static NNRT_ReturnCode nnrti_region_full(const nnrti_planner *p, uint32_t region, size_t bytes, const char *remedy)
{
    const nnrt_region *r = &p->draft->config->regions[region];
    return nnrt_error_set(p->error, NNRT_OUT_OF_MEMORY, "memory region '%s' requires %z bytes and has %z: %s", r->name,
                          bytes, r->bytes, remedy);
}

/* Divides the blocks, which do not fit the first region, over all regions: offsets, and bytes in use. */
static NNRT_ReturnCode nnrti_split_arena(nnrti_planner *p, nnrt_plan_block *blocks, uint32_t count, size_t alignment,
                                         void *scratch, size_t *used)
{
    const NNRT_ModelConfig *config = p->draft->config;
    const uint32_t last = config->nRegions - 1;
    const uint64_t *traffic = nnrti_storage_traffic(p);
    nnrti_plan a;
    NNRT_ReturnCode code;
    size_t base = (size_t)last * NNRT_REGION_ADDRESS;
    base = (base + alignment - 1) & ~(alignment - 1);
    if (traffic == NULL)
        return nnrti_no_memory(p->error);
    if (base > config->regions[0].bytes)
        return nnrti_region_full(p, 0, base, "it begins with the addresses of the others");
    memset(&a, 0, sizeof(a));
    a.blocks = blocks;
    a.count = count;
    nnrti_plan_carve(&a, scratch);
    if ((code = nnrti_plan_sizes(&a, alignment)) != NNRT_SUCCESS)
        return code;
    memset(a.lane, 0, count * sizeof(*a.lane));
    nnrti_sort_by_traffic(p, &a, traffic);
    for (uint32_t r = 0; r < last; r++, base = 0)
        nnrti_fill_region(&a, r, base, config->regions[r].bytes, &used[r]);
    return nnrti_fill_last(p, &a, last, alignment, &used[last]);
}

/* The number of entries of the largest table of addresses, as nnrti_write_if and nnrti_write_loop will make it. All
   shapes are fixed, and the table is made. */
static uint32_t nnrti_table_entries(const nnrti_planner *p)
{
    const nnrt_draft *d = p->draft;
    uint32_t most = 0, last = 0, count = 0;
    for (uint32_t s = 0; s < d->nSteps; s++) {
        const nnrti_open_step *o = d->steps[s].open;
        if (d->steps[s].kernel == NULL || o == NULL || o->begin != o || o->end == NULL)
            continue;
        if (s >= last) { /* no other one is around it */
            last = o->end->first;
            nnrti_table_begin(p, s, last);
            count = p->table->nOuter;
        }
        for (uint32_t k = 0; o->part == NNRTI_PART_LOOP && k < o->carried + o->scans; k++) {
            const nnrt_plan_arg x = nnrti_placed(p, o->end->first, 1 + k);
            const nnrt_plan_arg y = nnrti_placed(p, o->end->first, 3 + o->carried + o->scans + k);
            if (k < o->carried)
                count += nnrti_exchanged(p, &x, &y) ? 2 : 0;
            else
                count += y.kind != NNRT_PLACE_NONE && !nnrt_view_empty(&x.view) ? 1 : 0;
        }
        count += o->part == NNRTI_PART_LOOP && nnrti_cond_aside(p, o->end->first) ? 1 : 0;
        most = nnrti_entries_or_one(count) > most ? nnrti_entries_or_one(count) : most;
    }
    return most;
}

/* Puts the table of addresses of IF and LOOP behind the blocks of the first region that has room for it, or of the
   last; plan->nRegions is set. */
static NNRT_ReturnCode nnrti_place_table(nnrti_planner *p, const nnrt_plan *plan, size_t *used)
{
    const nnrt_region *regions = p->draft->config->regions;
    size_t end = 0, bytes;
    uint32_t r = 0;
    if (p->table == NULL)
        return NNRT_SUCCESS;
    bytes = nnrti_table_entries(p) * (size_t)NNRTI_TABLE_BYTES;
    for (;; r++) {
        if (!nnrt_round_size(used[r], NNRTI_TABLE_BYTES, &p->table->at) || !nnrt_add_size(p->table->at, bytes, &end))
            return nnrti_no_memory(p->error);
        if (r + 1 == plan->nRegions || end <= regions[r].bytes)
            break;
    }
    p->table->at += NNRT_REGION(r);
    used[r] = bytes > 0 ? end : used[r];
    return NNRT_SUCCESS;
}

/* Places the blocks in the regions of the configuration, if it has any. The blocks, and the storages, have the offsets
   of one arena. */
static NNRT_ReturnCode nnrti_place_regions(nnrti_planner *p, nnrt_plan_block *blocks, uint32_t count,
                                           uint32_t alignment, void *scratch, nnrt_plan *plan)
{
    const NNRT_ModelConfig *config = p->draft->config;
    const uint32_t nRegions = config->nRegions;
    NNRT_ReturnCode code;
    size_t *used;
    if (nRegions == 0)
        return NNRT_SUCCESS;
    if (p->open != NULL)
        return nnrt_error_set(p->error, NNRT_NOT_SUPPORT,
                              "memory regions require fixed shapes, the model has dynamic ones");
    for (uint32_t r = 0; r < nRegions; r++)
        if (nRegions > NNRT_MAX_REGIONS || config->regions == NULL || config->regions[r].bytes >= NNRT_REGION(1))
            return nnrt_error_set(p->error, NNRT_INVALID_PARAMETER,
                                  "expected at most %d memory regions, each below %z bytes", NNRT_MAX_REGIONS,
                                  NNRT_REGION(1));
    used = (size_t *)nnrt_memory_keep_array(p->draft->memory, nRegions, sizeof(*used));
    if (used == NULL || (p->table != NULL && !nnrti_table_make(p, plan)))
        return nnrti_no_memory(p->error);
    plan->regionBytes = used;
    plan->nRegions = 1;
    used[0] = plan->arenaBytes;
    if ((code = nnrti_place_table(p, plan, used)) != NNRT_SUCCESS)
        return code;
    if (used[0] > config->regions[0].bytes && nRegions > 1) {
        plan->nRegions = nRegions;
        if ((code = nnrti_split_arena(p, blocks, count, alignment, scratch, used)) != NNRT_SUCCESS)
            return code;
        nnrti_store_offsets(p, blocks);
        if ((code = nnrti_place_table(p, plan, used)) != NNRT_SUCCESS)
            return code;
    }
    plan->arenaBytes = used[0];
    if (used[plan->nRegions - 1] > config->regions[plan->nRegions - 1].bytes)
        return nnrti_region_full(p, plan->nRegions - 1, used[plan->nRegions - 1],
                                 nRegions > 1 ? "raise it, or a faster region" : "raise it, or add another region");
    return NNRT_SUCCESS;
}
#endif

/* Appends the copies into the model outputs that need one. false: no memory. */
static bool nnrti_write_copies(nnrti_planner *p, nnrti_written *w)
{
    const nnrt_draft *d = p->draft;
    for (uint32_t i = 0; i < d->model->outputIndex.count; i++) {
        const uint32_t t = d->model->outputIndex.data[i];
        const nnrt_operand *o = &d->tensors[t];
        struct nnrti_open_step *open = NULL;
        nnrt_plan_arg x, y;
        if (!nnrti_needs_copy(p, i))
            continue;
        memset(&x, 0, sizeof(x));
        nnrt_operand_view(NULL, o, 0, &x.view);
        x.tensor = t;
        if (p->storageOf[t] == NNRTI_NO_STORAGE) {
            x.kind = NNRT_PLACE_CONSTANT;
            x.view.data = (void *)(uintptr_t)o->data;
        } else {
            nnrti_place_arg(p, &x);
        }
        y = x;
        y.kind = NNRT_PLACE_OUTPUT;
        y.offset = (size_t)d->model->inputIndex.count + i;
        y.view.data = NULL;
#ifndef NNRT_FIRMWARE
        if (p->open != NULL && p->slotOf[t] != NNRT_NO_TENSOR &&
            !nnrti_open_move(p, NNRTI_PART_COPY, t, &y, NNRT_NO_TENSOR, &open))
            return false;
#endif
        nnrti_append_copy(p, w, o->name, -1, &x, &y, open);
    }
    return true;
}

/* Writes steps and arguments of the plan: the remaining steps of the draft, then copies into model outputs. */
static NNRT_ReturnCode nnrti_write_steps(nnrti_planner *p, nnrt_plan *plan)
{
    const nnrt_draft *d = p->draft;
    nnrti_written w;
    size_t steps = 0, args = 0;
    NNRT_ReturnCode code;
    for (uint32_t s = 0; s < d->nSteps; s++)
        if (d->steps[s].kernel != NULL) {
            steps++;
            args += nnrti_step_args(&d->steps[s]);
        }
#ifndef NNRT_FIRMWARE
    if (p->table != NULL) {
        if (!nnrti_table_make(p, plan))
            return nnrti_no_memory(p->error);
        steps = nnrti_range_room(p, 0, d->nSteps);
    }
#endif
    for (uint32_t i = 0; i < d->model->outputIndex.count; i++)
        if (nnrti_needs_copy(p, i)) {
            steps++;
            args += 3;
        }
#ifndef NNRT_FIRMWARE
    if (p->table != NULL)
        args = nnrti_control_room(p, args); /* last: SIZE_MAX stays SIZE_MAX */
#endif
    memset(&w, 0, sizeof(w));
    w.plan = plan;
    p->args = args < UINT32_MAX ? (nnrt_plan_arg *)nnrt_memory_keep_array(d->memory, args, sizeof(*p->args)) : NULL;
    plan->args = p->args;
    if (p->args == NULL || !nnrti_written_make(p, &w, steps))
        return nnrti_no_memory(p->error);
    if ((code = nnrti_write_range(p, &w, 0, d->nSteps)) != NNRT_SUCCESS)
        return code;
    if (!nnrti_write_copies(p, &w))
        return nnrti_no_memory(p->error);
    plan->nArgs = p->nArgs;
#ifndef NNRT_FIRMWARE
    NNRT_ASSERT(plan->nRegions == 0 || p->table == NULL || p->table->most == nnrti_table_entries(p));
    if (p->table != NULL && p->table->most > 0 && plan->nRegions == 0 &&
        !nnrt_add_size(p->table->at, p->table->most * (size_t)NNRTI_TABLE_BYTES, &plan->arenaBytes))
        return nnrti_no_memory(p->error);
#endif
    return NNRT_SUCCESS;
}

/* Type, shape and size of inputs or outputs. Buffers count bytes in 32 bits: a larger tensor could never be passed to
   a run. */
static NNRT_ReturnCode nnrti_write_io(nnrti_planner *p, const NNRT_Uint32List *list, const nnrt_plan_io **made)
{
    nnrt_plan_io *io = (nnrt_plan_io *)nnrt_memory_keep_array(p->draft->memory, list->count, sizeof(*io));
    if (io == NULL)
        return nnrti_no_memory(p->error);
    for (uint32_t i = 0; i < list->count; i++) {
        const nnrt_operand *o = &p->draft->tensors[list->data[i]];
        io[i].name = o->name;
        io[i].dataType = o->dataType;
        io[i].format = o->format;
        io[i].shape.rank = o->rank;
        memcpy(io[i].shape.dims, o->dims, sizeof(o->dims));
        io[i].bytes = nnrti_operand_bytes(o);
        if ((io[i].bytes >> 16) >> 16 != 0) /* a comparison with UINT32_MAX warns where size_t has 32 bits */
            return nnrt_error_blame(p->error,
                                    nnrt_error_set(p->error, NNRT_OUT_OF_MEMORY,
                                                   "model input or output '%s' is %o: buffers hold less than 4 GiB",
                                                   o->name, o),
                                    -1, list->data[i]);
    }
    *made = io;
    return NNRT_SUCCESS;
}

/* Bytes of the model's constants that the steps read; each tensor counts once. */
static size_t nnrti_constant_bytes(const nnrti_planner *p)
{
    const NNRT_TensorList *tensors = &p->draft->model->allTensors;
    size_t total = 0;
    for (uint32_t i = 0; i < tensors->count; i++)
        if (p->lastUse[i] >= 0 && nnrti_is_constant(&tensors->data[i]))
            total += tensors->data[i].data.dataSize;
    return total;
}

/* Bytes of all derived constants (prepacked weights, tables). */
static size_t nnrti_derived_bytes(const nnrt_plan *plan)
{
    size_t total = 0, bytes = 0;
    for (uint32_t i = 0; i < plan->nArgs; i++)
        if (plan->args[i].kind == NNRT_PLACE_DERIVED &&
            nnrt_dims_bytes(plan->args[i].view.dims, plan->args[i].view.rank, plan->args[i].view.dataType, &bytes))
            total += bytes;
    return total;
}

/* Allocates the tables of p, all tensors without storage, and fills outputOf. false: no memory. */
static bool nnrti_planner_init(nnrti_planner *p)
{
    const NNRT_Uint32List *outputs = &p->draft->model->outputIndex;
    const uint32_t nTensors = p->draft->nTensors;
    nnrt_memory *memory = p->draft->memory;
    p->storageOf = (uint32_t *)nnrt_memory_temp_array(memory, nTensors, sizeof(*p->storageOf));
    p->lastUse = (int32_t *)nnrt_memory_temp_array(memory, nTensors, sizeof(*p->lastUse));
    p->outputOf = (uint32_t *)nnrt_memory_temp_array(memory, nTensors, sizeof(*p->outputOf));
    p->storages = (nnrti_storage *)nnrt_memory_temp_array(memory, nTensors, sizeof(*p->storages));
    p->scratch = (size_t *)nnrt_memory_temp_array(memory, p->draft->nSteps, sizeof(*p->scratch));
    if (memory->full)
        return false;
    for (uint32_t i = 0; i < nTensors; i++)
        p->storageOf[i] = p->outputOf[i] = NNRT_NO_TENSOR;
    for (uint32_t i = outputs->count; i-- > 0;)
        p->outputOf[outputs->data[i]] = p->draft->model->inputIndex.count + i;
    return true;
}

#ifndef NNRT_FIRMWARE
/* The plans that a step runs; NULL: it is no IF or LOOP. */
static const nnrt_plan_graphs *nnrti_step_graphs(const nnrt_plan_step *step)
{
    return step->kernel == nnrt_plan_if || step->kernel == nnrt_plan_loop ? (const nnrt_plan_graphs *)step->attr : NULL;
}
#endif

#if NNRT_ASSERTS
/* Whether an offset is in the arena, or in its region; *left = the bytes from it to the end. */
static bool nnrti_arena_left(const nnrt_plan *plan, size_t offset, size_t *left)
{
    size_t bytes = plan->arenaBytes, at = offset;
#ifndef NNRT_FIRMWARE
    if (plan->nRegions > 1) {
        const size_t region = offset / NNRT_REGION(1);
        bytes = region < plan->nRegions ? plan->regionBytes[region] : 0;
        at = offset % NNRT_REGION(1);
    }
#endif
    *left = at <= bytes ? bytes - at : 0;
    return at <= bytes;
}

/* Every argument of a plan has a place: in the arena with all its bytes, or at a number that the addresses have.
   addresses: number of inputs and outputs; of a plan inside IF or LOOP the entries of their table. */
static bool nnrti_plan_valid(const nnrt_plan *whole, const nnrt_plan *plan, size_t addresses)
{
    bool valid = plan->args == whole->args;
    size_t left = 0;
    for (uint32_t s = 0; s < plan->nSteps; s++) {
        const nnrt_plan_step *step = &plan->steps[s];
        const uint32_t count = step->nIn + step->nDerived + step->nOut;
        valid = valid && step->kernel != NULL && count <= plan->maxArgs && step->arg <= whole->nArgs &&
                count <= whole->nArgs - step->arg && nnrti_arena_left(whole, step->scratch, &left) &&
                step->scratchBytes <= left;
        for (uint32_t k = 0; valid && k < count; k++) {
            const nnrt_plan_arg *arg = &whole->args[step->arg + k];
            valid = arg->kind > NNRT_PLACE_ARENA    ? arg->offset < addresses
                    : arg->kind == NNRT_PLACE_ARENA ? nnrti_arena_left(whole, arg->offset, &left)
                                                    : arg->kind == NNRT_PLACE_NONE || arg->view.data != NULL ||
                                                          nnrt_view_empty(&arg->view) || arg->kind == NNRT_PLACE_DERIVED;
#ifndef NNRT_FIRMWARE
            if (plan->open == NULL || plan->open->steps[s] == NULL) /* bytes of a dynamic one may be less than its bounds */
                valid = valid && (arg->kind != NNRT_PLACE_ARENA || nnrti_view_fits(&arg->view, left));
#endif
        }
#ifndef NNRT_FIRMWARE
        for (uint32_t k = 0; valid && k < 2 && nnrti_step_graphs(step) != NULL; k++)
            valid = nnrti_arena_left(whole, step->scratch, &left) &&
                    nnrti_plan_valid(whole, nnrti_step_graphs(step)->plans[k], left / sizeof(void *));
#endif
    }
    return valid;
}
#endif

NNRTI_COLD NNRT_API NNRT_ReturnCode nnrt_plan_finish(nnrt_draft *draft, nnrt_plan **plan)
{
    const NNRT_ModelConfig *config = draft->config;
    const NNRT_Model *model = draft->model;
    const uint32_t alignment = config->arenaAlignment != 0 ? config->arenaAlignment : NNRT_ALIGNMENT;
    nnrti_planner p;
    NNRT_ReturnCode code;
    nnrt_plan *made;
    *plan = NULL;
    if (alignment < 8 || alignment > NNRT_ALIGNMENT || (alignment & (alignment - 1)) != 0)
        return nnrt_error_set(config->error, NNRT_INVALID_PARAMETER,
                              "arenaAlignment is %u, expected a power of two from 8 to %d", alignment, NNRT_ALIGNMENT);
    memset(&p, 0, sizeof(p));
    p.draft = draft;
    p.error = config->error;
    made = (nnrt_plan *)nnrt_memory_keep(draft->memory, sizeof(*made));
    if (made == NULL || !nnrti_planner_init(&p))
        return nnrti_no_memory(config->error);
#ifndef NNRT_FIRMWARE
    if ((code = nnrti_check_edits(&p)) != NNRT_SUCCESS)
        return code;
#endif
    nnrti_drop_dead_steps(&p);
#ifndef NNRT_FIRMWARE
    if (!nnrti_open_begin(&p))
        return nnrti_no_memory(config->error);
#endif
    if ((code = nnrti_assign_storage(&p)) != NNRT_SUCCESS)
        return code;
    nnrti_exchange_carried(&p);
    if ((code = nnrti_place_arena(&p, alignment, made)) != NNRT_SUCCESS)
        return code;
#ifndef NNRT_FIRMWARE
    if ((code = nnrti_check_profile(config)) != NNRT_SUCCESS)
        return code;
    if (!nnrti_write_profile(&p, made))
        return nnrti_no_memory(config->error);
#endif
    if ((code = nnrti_write_steps(&p, made)) != NNRT_SUCCESS)
        return code;
    made->nInputs = model->inputIndex.count;
    made->nOutputs = model->outputIndex.count;
    made->constantBytes = nnrti_constant_bytes(&p);
    made->derivedBytes = nnrti_derived_bytes(made);
    made->parallel = config->parallel;
    if ((code = nnrti_write_io(&p, &model->inputIndex, &made->inputs)) != NNRT_SUCCESS ||
        (code = nnrti_write_io(&p, &model->outputIndex, &made->outputs)) != NNRT_SUCCESS ||
        (code = nnrti_finish_open(&p)) != NNRT_SUCCESS)
        return code;
    NNRT_ASSERT(nnrti_plan_valid(made, made, (size_t)made->nInputs + made->nOutputs));
    *plan = made;
    return NNRT_SUCCESS;
}

NNRT_API NNRT_ReturnCode nnrt_plan_build(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_memory *memory,
                                         nnrt_plan **plan)
{
    nnrt_draft *draft;
    const NNRT_ReturnCode code = nnrt_plan_draft(model, config, memory, &draft);
    *plan = NULL;
    return code != NNRT_SUCCESS ? code : nnrt_plan_finish(draft, plan);
}

NNRT_SETUP_END()

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>run */

/* The executor. A run checks inputs, outputs and workspace once, and then calls the kernels of the plan in the order of
   the steps, on the calling thread; kernels split their work over a thread pool with nnrt_parallel_for (nnrt_call has
   the pool, scratch has a piece for each worker). All memory of a run is in the workspace:

       views       of the arguments of one step, maxArgs of them
       addresses   of inputs and outputs: a table, so that steps refer to them by number
       tables      only with dynamic shapes: nnrti_open_tables
       arena       aligned to NNRT_ALIGNMENT

   Invariants. A run allocates nothing and changes neither plan nor model, so any number of threads can run one plan,
   each with a workspace of its own. Kernels get validated views; the only faults that remain are invalid values (an
   index out of range) and dimensions above their upper bounds.

   Dynamic shapes. Static steps run as planned, in stretches (nnrti_execute, the whole executor of firmware). A dynamic
   step runs its shape rule again with the actual dimensions and values; the results must not exceed their upper
   bounds, because offsets and reserved bytes stay. Elements are dense for the actual shape, not for the upper bounds.
   Rejected: padding tensors to their upper bounds, which costs the work of the largest shape in every run and gives
   wrong results for reductions. */

#ifndef NNRT_FIRMWARE
/* Offsets in the workspace of the tables of a run with dynamic shapes: capacities of the output buffers, slots (actual
   dimensions), operands of the current step, and working memory of its shape rule. */
typedef struct nnrti_open_tables {
    size_t capacities, slots, operands, room, end;
} nnrti_open_tables;

/* *t = the offsets of these tables, from offset `at` of the workspace on; false: they do not fit a size_t. */
static bool nnrti_open_layout(const nnrt_plan *plan, size_t at, nnrti_open_tables *t)
{
    const nnrti_open_plan *o = plan->open;
    size_t bytes;
    return nnrt_round_size(at, 16, &t->capacities) &&
           nnrt_mul_size(plan->nOutputs, sizeof(size_t), &bytes) &&
           nnrt_add_size(t->capacities, bytes, &t->slots) && nnrt_round_size(t->slots, 16, &t->slots) &&
           nnrt_mul_size(o->nSlots, NNRTI_DIMS * sizeof(int32_t), &bytes) &&
           nnrt_add_size(t->slots, bytes, &t->operands) && nnrt_mul_size(o->operands, sizeof(nnrt_operand), &bytes) &&
           nnrt_add_size(t->operands, bytes, &t->room) && nnrt_round_size(t->room, 16, &t->room) &&
           nnrt_add_size(t->room, o->room, &t->end);
}
#endif

/* Layout of the workspace: *views = bytes of the views, at which the addresses begin; *tables = offset of the arena;
   *total = bytes of the workspace. false: it does not fit a size_t; nnrti_plan_make rejects such a plan. */
static bool nnrti_workspace(const nnrt_plan *plan, size_t *views, size_t *tables, size_t *total)
{
    size_t io;
#ifndef NNRT_FIRMWARE
    nnrti_open_tables open;
#endif
    if (!nnrt_mul_size(plan->maxArgs, sizeof(nnrt_view), views) ||
        !nnrt_mul_size((size_t)plan->nInputs + plan->nOutputs, sizeof(void *), &io) || !nnrt_add_size(*views, io, tables))
        return false;
#ifndef NNRT_FIRMWARE
    if (plan->open != NULL && !nnrti_open_layout(plan, *tables, &open))
        return false;
    *tables = plan->open != NULL ? open.end : *tables;
#endif
    return nnrt_round_size(*tables, NNRT_ALIGNMENT, tables) && nnrt_add_size(*tables, plan->arenaBytes, total);
}

NNRT_API size_t nnrt_plan_workspace(const nnrt_plan *plan)
{
    size_t views, tables, total;
    return nnrti_workspace(plan, &views, &tables, &total) ? total : SIZE_MAX;
}

#ifdef NNRT_FIRMWARE
#define nnrti_some_open(plan) false
#define nnrti_extent_open(plan, output, i, k) false
#define nnrti_check_extents(plan, got, i, error) NNRT_SUCCESS
#else
#define nnrti_some_open(plan) ((plan)->open != NULL)

/* Whether axis k of input or output i is a dynamic dimension. */
static bool nnrti_extent_open(const nnrt_plan *plan, bool output, uint32_t i, uint32_t k)
{
    const size_t at = (size_t)(output ? plan->nInputs + i : i) * NNRTI_DIMS + k;
    return nnrti_some_open(plan) && plan->open->symbols[at] != 0;
}

/* Rule: the dynamic dimensions of input i do not exceed their upper bounds. */
static NNRT_ReturnCode nnrti_check_extents(const nnrt_plan *plan, const NNRT_IOTensor *got, uint32_t i,
                                           nnrt_error *error)
{
    const nnrt_plan_io *want = &plan->inputs[i];
    for (uint32_t k = 0; k < got->dimensions.count; k++)
        if (nnrti_extent_open(plan, false, i, k) &&
            (got->dimensions.data[k] < 0 || got->dimensions.data[k] > want->shape.dims[k]))
            return nnrt_error_set(error, NNRT_OUT_OF_DIMENTION_RANGES,
                                  "input %u '%s': axis %u has size %d, expected 0 to %d", i, want->name, k,
                                  got->dimensions.data[k], want->shape.dims[k]);
    return NNRT_SUCCESS;
}
#endif

#ifdef NNRT_FIRMWARE
#define nnrti_buffer_place(b) ((uintptr_t)nnrti_buffer_data(b))
#else
/* A number with the alignment of the data of an input or output: the address, or, for a buffer that is yet to be memory
   mapped, its offset in a page. 0: no data. */
static uintptr_t nnrti_buffer_place(const NNRT_SharedBuffer *b)
{
    if (b->addr == NULL && b->fd >= 0)
        return (uintptr_t)NNRT_ALIGNMENT + b->offset; /* a memory map begins at a page boundary */
    return (uintptr_t)nnrti_buffer_data(b);
}
#endif

/* Rule: the buffer of an input or output exists, contains offset + dataSize, and is aligned to its element size. */
static NNRT_ReturnCode nnrti_check_buffer(const nnrt_plan_io *want, const NNRT_IOTensor *got, bool output, uint32_t i,
                                          nnrt_error *error)
{
    const char *what = output ? "output" : "input";
    const uintptr_t place = nnrti_buffer_place(&got->data);
    if (place == 0 || got->data.offset > got->data.bufferSize ||
        got->data.dataSize > got->data.bufferSize - got->data.offset)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER,
                              "%s %u '%s' has no address, or runs past its buffer", what, i,
                              want->name);
    if (place % nnrt_type_size(want->dataType) != 0)
        return nnrt_error_set(error, NNRT_INVALID_BUFFER, "%s %u '%s' is not aligned to the %z bytes of a %t", what, i,
                              want->name, nnrt_type_size(want->dataType), want->dataType);
    return NNRT_SUCCESS;
}

/* Rule: the caller's input or output i has the type, shape and size of the plan. */
static NNRT_ReturnCode nnrti_check_io(const nnrt_plan *plan, const NNRT_IOTensor *got, bool output, uint32_t i,
                                      nnrt_error *error)
{
    const nnrt_plan_io *want = output ? &plan->outputs[i] : &plan->inputs[i];
    const char *what = output ? "output" : "input";
    size_t bytes = want->bytes;
    bool same = got->dimensions.count == (uint32_t)want->shape.rank &&
                (got->dimensions.count == 0 || got->dimensions.data != NULL),
         open = false;
    NNRT_ReturnCode code;
    if (got->dataType != want->dataType)
        return nnrt_error_set(error, NNRT_INVALID_DATATYPE, "%s %u '%s' has type %t, the model has %t", what, i,
                              want->name, got->dataType, want->dataType);
    if (got->format != NNRT_FORMAT_NONE && want->format != NNRT_FORMAT_NONE && got->format != want->format)
        return nnrt_error_set(error, NNRT_INVALID_FORMAT, "%s %u '%s' has format %d, the model has %d", what, i,
                              want->name, got->format, want->format);
    for (uint32_t k = 0; nnrti_some_open(plan) && k < (uint32_t)want->shape.rank; k++)
        open = open || nnrti_extent_open(plan, output, i, k);
    for (uint32_t k = 0; same && k < got->dimensions.count; k++)
        same = got->dimensions.data[k] == want->shape.dims[k] || (open && nnrti_extent_open(plan, output, i, k));
    if (!same && !(output && got->dimensions.count == 0)) {
        nnrt_operand shape = nnrt_operand_make(want->dataType, want->shape.rank, want->shape.dims, NULL);
        return nnrt_error_set(error, NNRT_INVALID_SHAPE, "%s %u '%s' has another shape than the model's %o", what, i,
                              want->name, &shape);
    }
    if (open && !output) {
        if ((code = nnrti_check_extents(plan, got, i, error)) != NNRT_SUCCESS)
            return code;
        (void)nnrt_dims_bytes(got->dimensions.data, want->shape.rank, want->dataType, &bytes);
    }
    if (open && output)
        bytes = 0; /* the run determines the required size */
    if (bytes == 0 && (want->bytes == 0 || got->data.dataSize == 0))
        return NNRT_SUCCESS;
    if ((code = nnrti_check_buffer(want, got, output, i, error)) != NNRT_SUCCESS)
        return code;
    if (got->data.dataSize < bytes)
        return nnrt_error_set(error, output ? NNRT_INSUFFICIENT_BUFFER : NNRT_INVALID_BUFFER_SIZE,
                              "%s %u '%s' has %u bytes, expected %z", what, i, want->name, got->data.dataSize, bytes);
    return NNRT_SUCCESS;
}

/* Rule: output i overlaps no input and no earlier output. Steps write outputs while later steps still read inputs. */
static NNRT_ReturnCode nnrti_check_overlap(const nnrt_plan *plan, const NNRT_IOTensor *inputs,
                                           const NNRT_IOTensor *outputs, uint32_t i, nnrt_error *error)
{
    const NNRT_SharedBuffer *b = &outputs[i].data;
    const uintptr_t to = (uintptr_t)nnrti_buffer_data(b);
    const size_t size = b->dataSize < plan->outputs[i].bytes ? b->dataSize : plan->outputs[i].bytes;
    for (uint32_t k = 0; b->addr != NULL && k < plan->nInputs + i; k++) {
        const bool input = k < plan->nInputs;
        const uint32_t n = input ? k : k - plan->nInputs;
        const nnrt_plan_io *t = input ? &plan->inputs[n] : &plan->outputs[n];
        const NNRT_SharedBuffer *a = input ? &inputs[n].data : &outputs[n].data;
        const uintptr_t from = (uintptr_t)nnrti_buffer_data(a);
        const size_t other = a->dataSize < t->bytes ? a->dataSize : t->bytes;
        (void)t;
        if (a->addr != NULL && size > 0 && other > 0 && (from < to ? to - from < other : from - to < size))
            return nnrt_error_set(error, NNRT_INVALID_BUFFER,
                                  "output %u '%s' overlaps %s %u '%s': give each a buffer of its own", i,
                                  plan->outputs[i].name, input ? "input" : "output", n, t->name);
    }
    return NNRT_SUCCESS;
}

/* All checks at the beginning of a run: numbers of inputs and outputs, workspace, every buffer. */
static NNRT_ReturnCode nnrti_check_run(const nnrt_plan *plan, const void *workspace, size_t workspaceBytes,
                                       const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                       uint32_t nOut, nnrt_error *error)
{
    NNRT_ReturnCode code;
    if (nIn != plan->nInputs)
        return nnrt_error_set(error, NNRT_INVALID_INPUT, "got %u inputs, the model has %u", nIn, plan->nInputs);
#ifndef NNRT_FIRMWARE
    if (plan->nRegions > 1)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "the plan has %u memory regions: only emitted C code runs it",
                              plan->nRegions);
#endif
    if (nOut != plan->nOutputs)
        return nnrt_error_set(error, NNRT_INVALID_OUTPUT, "got %u outputs, the model has %u", nOut, plan->nOutputs);
    if ((nIn > 0 && inputs == NULL) || (nOut > 0 && outputs == NULL))
        return nnrt_error_set(error, NNRT_NULL_PTR, "inputs or outputs are NULL");
    if (workspaceBytes < nnrt_plan_workspace(plan) || (workspace == NULL && nnrt_plan_workspace(plan) > 0))
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "the workspace has %z bytes, the plan needs %z",
                              workspaceBytes, nnrt_plan_workspace(plan));
    if ((uintptr_t)workspace % NNRT_ALIGNMENT != 0)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the workspace is not aligned to %d bytes",
                              NNRT_ALIGNMENT);
    for (uint32_t i = 0; i < nIn; i++)
        if ((code = nnrti_check_io(plan, &inputs[i], false, i, error)) != NNRT_SUCCESS)
            return code;
    for (uint32_t i = 0; i < nOut; i++)
        if ((code = nnrti_check_io(plan, &outputs[i], true, i, error)) != NNRT_SUCCESS ||
            (code = nnrti_check_overlap(plan, inputs, outputs, i, error)) != NNRT_SUCCESS)
            return code;
    return NNRT_SUCCESS;
}

#ifdef NNRT_FIRMWARE
#define nnrti_call_kernel(plan, step, views, call) (step)->kernel((step)->attr, views, call)
#else
static uint64_t nnrti_profile_now(const nnrti_profile *p)
{
    return p->to->clock(p->to->user);
}

/* Sum of the bytes of the elements of views; absent ones count 0. */
static size_t nnrti_views_bytes(const nnrt_view *views, uint32_t count)
{
    size_t all = 0, bytes;
    for (uint32_t i = 0; i < count; i++)
        if (views[i].dataType != NNRT_DATA_TYPE_UNKNOWN &&
            nnrt_dims_bytes(views[i].dims, views[i].rank, views[i].dataType, &bytes))
            all += bytes;
    return all;
}

/* Reports to the profile a step that began at `begin` and ends now. views: nRead inputs and derived constants, then
   the outputs; NULL: bytes are not counted. */
static void nnrti_profile_tell(const nnrti_profile *p, const nnrt_plan_step *step, uint64_t begin,
                               const nnrt_view *views, uint32_t nRead)
{
    const uint64_t now = nnrti_profile_now(p);
    nnrt_profile_step told;
    memset(&told, 0, sizeof(told));
    told.duration = now > begin ? now - begin : 0; /* the clock may have been set back */
    told.begin = begin;
    told.name = nnrti_text_of(step->name);
    told.op = step->op != NULL ? step->op->name : nnrti_text_of(step->kernelName);
    told.device = nnrti_text_of(p->device);
    told.node = step->node;
    told.depth = p->depth;
    if (views != NULL) {
        told.read = nnrti_views_bytes(views, nRead);
        told.written = nnrti_views_bytes(views + nRead, step->nOut);
    }
    p->to->step(p->to->user, &told);
}

/* Whether the caller has cancelled the run. */
static bool nnrti_stopped(const nnrt_stop *stop)
{
    return stop != NULL && stop->asked(stop->user);
}

#define NNRTI_STOPPED "the run was cancelled before this"

/* Calls the kernel of a step whose views are set, unless the run is cancelled, and reports it to the profile. */
static NNRT_ReturnCode nnrti_call_kernel(const nnrt_plan *plan, const nnrt_plan_step *step, nnrt_view *views,
                                         nnrt_call *call)
{
    uint64_t begin;
    NNRT_ReturnCode code;
    if (nnrti_stopped(call->stop))
        return nnrt_error_set(call->error, NNRT_CANCELLED, NNRTI_STOPPED);
    if (plan->profile == NULL)
        return step->kernel(step->attr, views, call);
    begin = nnrti_profile_now(plan->profile);
    code = step->kernel(step->attr, views, call);
    if (code == NNRT_SUCCESS)
        nnrti_profile_tell(plan->profile, step, begin, nnrti_step_graphs(step) != NULL ? NULL : views,
                           step->nIn + step->nDerived);
    return code;
}
#endif

#ifdef NNRT_REGIONS
/* The address of an offset in the arena of a plan with memory regions (NNRT_REGION). */
static uint8_t *nnrti_arena_at(void *arena, size_t offset)
{
    const size_t region = offset / NNRT_REGION(1);
    return (uint8_t *)(region == 0 ? arena : ((void **)arena)[region - 1]) + offset % NNRT_REGION(1);
}
#else
#define nnrti_arena_at(arena, offset) ((uint8_t *)(arena) + (offset))
#endif

#ifdef NNRT_FIRMWARE
#define nnrti_execute(plan, views, arena, io, stop, error, failed) nnrt_plan_execute(plan, views, arena, io, error)
#define nnrti_failed_step(own, failed) ((void)(failed), (uint32_t)(own)->node)
NNRT_API NNRT_ReturnCode nnrt_plan_execute(const nnrt_plan *plan, nnrt_view *views, void *arena, void *const *io,
                                           nnrt_error *error)
#else
#define nnrti_failed_step(own, failed) (failed)
/* nnrt_plan_execute with cancellation (stop, which may be NULL): the static executor. Per step it fills the views from
   the arguments, resolves their addresses (arena or table io), and calls the kernel. *failed = the step that failed;
   error has what its kernel stored. */
static NNRT_ReturnCode nnrti_execute(const nnrt_plan *plan, nnrt_view *views, void *arena, void *const *io,
                                     const nnrt_stop *stop, nnrt_error *error, uint32_t *failed)
#endif
{
    const nnrt_plan_step *now;
    nnrt_call call;
    if (plan == NULL || views == NULL || io == NULL || (arena == NULL && plan->arenaBytes > 0))
        return NNRT_NULL_PTR;
    call.parallel = plan->parallel;
    call.error = error;
#ifndef NNRT_FIRMWARE
    call.stop = stop;
#endif
    now = plan->steps;
    for (uint32_t s = 0; s < plan->nSteps; s++, now++) {
        const nnrt_plan_arg *arg = &plan->args[now->arg], *end = arg + now->nIn + now->nDerived + now->nOut;
        nnrt_view *view = views;
        NNRT_ReturnCode code;
        call.nIn = now->nIn;
        call.nDerived = now->nDerived;
        call.nOut = now->nOut;
        call.scratchBytes = now->scratchBytes;
        call.scratch = call.scratchBytes > 0 ? nnrti_arena_at(arena, now->scratch) : NULL;
        for (; arg < end; arg++, view++) {
            *view = arg->view;
            if (arg->kind >= NNRT_PLACE_ARENA)
                view->data = arg->kind == NNRT_PLACE_ARENA ? nnrti_arena_at(arena, arg->offset) : io[arg->offset];
        }
        NNRT_STEP(plan, s);
        code = nnrti_call_kernel(plan, now, views, &call);
        if (code != NNRT_SUCCESS) {
#ifdef NNRT_FIRMWARE
            if (error != NULL)
                error->node = (int32_t)s;
#else
            *failed = s;
#endif
            return code;
        }
    }
    return NNRT_SUCCESS;
}

#ifndef NNRT_FIRMWARE
NNRT_API NNRT_ReturnCode nnrt_plan_execute(const nnrt_plan *plan, nnrt_view *views, void *arena, void *const *io,
                                           nnrt_error *error)
{
    uint32_t failed = 0;
    NNRT_ReturnCode code;
    if (plan != NULL && plan->open != NULL)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT,
                              "the plan has dynamic shapes, which only nnrt_plan_run and sessions support");
#ifndef NNRT_REGIONS
    if (plan != NULL && plan->nRegions > 1)
        return nnrt_error_set(error, NNRT_NOT_SUPPORT, "the plan has %u memory regions: compile with NNRT_REGIONS",
                              plan->nRegions);
#endif
    code = nnrti_execute(plan, views, arena, io, NULL, error, &failed);
    if (code != NNRT_SUCCESS && error != NULL)
        error->node = (int32_t)failed;
    return code;
}
#endif

NNRT_API uint32_t nnrt_view_sum(const nnrt_view *view, uint32_t sum)
{
    const size_t width = nnrt_type_size(view->dataType);
    const uint64_t infinity = view->dataType == NNRT_DATA_TYPE_FLOAT16   ? 0x7C00
                              : view->dataType == NNRT_DATA_TYPE_FLOAT32 ? 0x7F800000
                              : view->dataType == NNRT_DATA_TYPE_FLOAT64 ? UINT64_C(0x7FF) << 52
                                                                         : UINT64_MAX;
    const uint64_t sign = width < 1 ? 0 : UINT64_C(1) << (8 * width - 1);
    size_t count = 1;
    for (int32_t k = 0; k < view->rank; k++)
        count *= (size_t)view->dims[k];
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = (const uint8_t *)view->data + i * width;
        uint64_t bits;
        uint32_t half = 0;
        uint16_t quarter = 0;
        switch (width) {
        case 1: bits = *at; break;
        case 2: memcpy(&quarter, at, 2), bits = quarter; break;
        case 4: memcpy(&half, at, 4), bits = half; break;
        default: memcpy(&bits, at, 8); break;
        }
        if (infinity != UINT64_MAX && (bits & ~sign) > infinity)
            bits = infinity | 1;
        for (size_t b = 0; b < width; b++, bits >>= 8)
            sum = (sum ^ (uint32_t)(bits & 0xFF)) * 16777619u;
    }
    return sum;
}

NNRT_API NNRT_ReturnCode nnrt_plan_sums(const nnrt_plan *plan, nnrt_view *views, void *arena, void *const *io,
                                        uint32_t *sums)
{
    nnrt_plan one;
    if (plan == NULL || views == NULL || sums == NULL)
        return NNRT_NULL_PTR;
    one = *plan;
    one.nSteps = 1;
    for (uint32_t s = 0; s < plan->nSteps; s++, one.steps++) {
        const nnrt_view *view = views + one.steps->nIn + one.steps->nDerived;
        const NNRT_ReturnCode code = nnrt_plan_execute(&one, views, arena, io, NULL);
        sums[s] = NNRT_SUM;
        if (code != NNRT_SUCCESS)
            return code;
        for (uint32_t k = 0; k < one.steps->nOut; k++, view++)
            if (view->dataType != NNRT_DATA_TYPE_UNKNOWN)
                sums[s] = nnrt_view_sum(view, sums[s]);
    }
    return NNRT_SUCCESS;
}

/* Reports that step s has failed: the kernel's message (words), prefixed by node and operator. The message of a step
   inside an IF or LOOP is complete already. */
static NNRT_ReturnCode nnrti_step_failed(const nnrt_plan *plan, uint32_t s, NNRT_ReturnCode code,
                                         const nnrt_error *words, nnrt_error *error)
{
    const nnrt_plan_step *failed = &plan->steps[s];
    int32_t node = failed->node;
#ifndef NNRT_FIRMWARE
    if (words->code != NNRT_SUCCESS && words->node >= 0) {
        node = words->node;
        (void)nnrt_error_set(error, code, "%s", nnrti_reason(words));
    }
#endif
    (void)words;
    return nnrt_error_blame(
        error,
        nnrt_error_set(error, code, "node %d '%s' (%s): %s", failed->node, nnrti_text_of(failed->name),
                       failed->op != NULL ? failed->op->name : nnrti_text_of(failed->kernelName), nnrti_reason(words)),
        node, -1);
}

/* Stores number in a tensor of one element at `at`, as bool, int32 or int64 by its element size; NULL: does nothing. */
static void nnrti_put_number(void *at, NNRT_DataType type, int64_t number)
{
    const int32_t narrow = (int32_t)number;
    const uint8_t truth = number != 0;
    const size_t width = nnrt_type_size(type);
    if (at != NULL)
        memcpy(at, width == 1 ? (const void *)&truth : width == 4 ? (const void *)&narrow : &number, width);
}

/* The value of a bool tensor of one element; an absent one counts as true. */
static bool nnrti_truth(const nnrt_view *v)
{
    return v->data == NULL || *(const uint8_t *)v->data != 0;
}

/* Fills the entries of a step that runs plans in the table of addresses, its scratch: the addresses of its inputs from
   number `from` on. Returns the entry behind them. */
static void **nnrti_fill_table(const nnrt_plan_graphs *a, const nnrt_view *args, uint32_t from, const nnrt_call *call)
{
    void **entry = (void **)call->scratch + a->first;
    for (uint32_t i = from; i < call->nIn; i++)
        *entry++ = args[i].data;
    return entry;
}

#ifdef NNRT_FIRMWARE
#define nnrti_run_graph(plan, args, call, trip) nnrti_run_static(plan, args, call)
#define nnrti_check_one(arg, what, call) NNRT_SUCCESS
#else
static NNRT_ReturnCode nnrti_run_graph(const nnrt_plan *plan, nnrt_view *args, nnrt_call *call, int64_t trip);

/* Rule: an argument of IF or LOOP, `what`, has one element, or is absent. */
static NNRT_ReturnCode nnrti_check_one(const nnrt_view *arg, const char *what, const nnrt_call *call)
{
    nnrt_operand o;
    if (arg->data == NULL && arg->dataType == NNRT_DATA_TYPE_UNKNOWN)
        return NNRT_SUCCESS;
    o = nnrt_operand_make(arg->dataType, arg->rank, arg->dims, NULL);
    return nnrti_count(&o) == 1
               ? NNRT_SUCCESS
               : nnrt_error_set(call->error, NNRT_INVALID_SHAPE, "%s is %o, expected one element", what, &o);
}
#endif

/* Runs one of the plans of an IF or LOOP step, in the arena args[0], with the table in scratch and the views behind
   the step's own. */
static NNRT_ReturnCode nnrti_run_static(const nnrt_plan *plan, nnrt_view *args, const nnrt_call *call)
{
    nnrt_error own;
    uint32_t failed = 0;
    NNRT_ReturnCode code;
    memset(&own, 0, sizeof(own));
    code = nnrti_execute(plan, args + call->nIn, args[0].data, (void *const *)call->scratch, call->stop, &own, &failed);
    return code == NNRT_SUCCESS ? code : nnrti_step_failed(plan, nnrti_failed_step(&own, failed), code, &own, call->error);
}

NNRT_API NNRT_ReturnCode nnrt_plan_if(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_plan_graphs *a = (const nnrt_plan_graphs *)attr;
    const NNRT_ReturnCode code = nnrti_check_one(&args[1], "cond", call);
    if (code != NNRT_SUCCESS)
        return code;
    (void)nnrti_fill_table(a, args, NNRT_IF_TABLE, call);
    return nnrti_run_graph(a->plans[nnrti_truth(&args[1]) ? 0 : 1], args, call, 0);
}

/* After an iteration: swaps the two addresses of each carried value, and moves the address of each scan to its next
   element. end: the entry behind those of the step. */
static void nnrti_next_trip(const nnrt_plan_graphs *a, void **end)
{
    void **scan = end - a->nScans, **pair = scan - 2 * (size_t)a->nPairs;
    for (; pair < scan; pair += 2) {
        void *place = pair[0];
        pair[0] = pair[1];
        pair[1] = place;
    }
    for (uint32_t i = 0; i < a->nScans; i++)
        scan[i] = (uint8_t *)scan[i] + a->scanBytes[i];
}

NNRT_API NNRT_ReturnCode nnrt_plan_loop(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_plan_graphs *a = (const nnrt_plan_graphs *)attr;
    void **end;
    bool goes;
    NNRT_ReturnCode code;
    int64_t trip, most = INT64_MAX;
    if ((code = nnrti_check_one(&args[1], "cond", call)) != NNRT_SUCCESS ||
        (code = nnrti_check_one(&args[2], "trips", call)) != NNRT_SUCCESS)
        return code;
    if (args[2].data != NULL)
        most = nnrt_load_index(&args[2], 0);
    goes = nnrti_truth(&args[1]);
    end = nnrti_fill_table(a, args, NNRT_LOOP_TABLE, call);
    for (trip = 0; goes && trip < most; trip++) {
        if (trip >= (int64_t)a->maxTrips)
            return nnrt_error_set(call->error, NNRT_TIME_OUT,
                                  "has not ended after %l trips, the most that there may be (maxTrips)", trip);
        if (a->nScans > 0 && trip >= a->scanTrips)
            return nnrt_error_set(call->error, NNRT_OUT_OF_DIMENTION_RANGES,
                                  "its scans have trip %l, above their upper bound of %d", trip,
                                  a->scanTrips);
        nnrti_put_number(args[3].data, args[3].dataType, trip);
        nnrti_put_number(args[4].data, args[4].dataType, 1);
        if ((code = nnrti_run_graph(a->plans[0], args, call, trip)) != NNRT_SUCCESS)
            return code;
        goes = nnrti_truth(&args[5]);
        nnrti_next_trip(a, end);
    }
    if (a->scanTrips >= 0 && trip != a->scanTrips)
        return nnrt_error_set(call->error, NNRT_INVALID_SHAPE, "its scans have %l trips, where %d were planned",
                              trip, a->scanTrips);
    return nnrti_run_graph(a->plans[1], args, call, trip);
}

#ifndef NNRT_FIRMWARE

/* State of a run with dynamic shapes; everything that it points to is in the workspace. The plan of an IF or LOOP step has
   a copy of it, with its own plan, views and addresses. */
typedef struct nnrti_open_run {
    const nnrt_plan *whole; /* the model's plan: inputs, outputs, slots */
    const nnrt_plan *plan;  /* the plan whose steps run: whole, or one of an IF or LOOP */
    nnrt_view *views;
    void *const *io; /* the addresses that arguments of this plan refer to by number */
    uint8_t *arena;
    size_t *capacities;     /* bytes of each output buffer */
    int32_t *slots;         /* actual dimensions, NNRTI_DIMS each; the first is -1 until they are known */
    nnrt_operand *operands; /* of the current step */
    uint8_t *room;          /* working memory of its shape rule */
    size_t taken;           /* bytes of room in use */
    uint32_t nDerived;      /* number of derived constants in the views of the current step */
    nnrti_profile profile;  /* with the depth of the current step; unused if the plan has none */
    int64_t trip;           /* in a LOOP: number of the iteration; after the last one: their number */
    const nnrt_stop *stop;  /* NULL: the run cannot be cancelled */
    nnrt_error *error;
} nnrti_open_run;

/* The call of a kernel in such a run. The kernels of IF and LOOP, whose plans are dynamic, too, find the run in it. */
typedef struct nnrti_open_call {
    nnrt_call call;
    const nnrti_open_run *run;
} nnrti_open_call;

/* Allocator of the shape rule (nnrt_resolve.alloc): zeroed bytes from r->room, aligned to 16; NULL: the room that
   preparation measured is used up. */
static void *nnrti_run_room(void *user, size_t bytes)
{
    nnrti_open_run *r = (nnrti_open_run *)user;
    const size_t left = r->whole->open->room - r->taken;
    uint8_t *block = r->room + r->taken;
    if (bytes > left || (bytes + 15) / 16 * 16 > left)
        return NULL;
    r->taken += (bytes + 15) / 16 * 16;
    memset(block, 0, bytes);
    return block;
}

/* The address of an argument in this run; NULL: absent. */
static void *nnrti_run_address(const nnrti_open_run *r, const nnrt_plan_arg *arg)
{
    switch (arg->kind) {
    case NNRT_PLACE_NONE: return NULL;
    case NNRT_PLACE_ARENA: return r->arena + arg->offset;
    case NNRT_PLACE_INPUT:
    case NNRT_PLACE_OUTPUT:
    case NNRT_PLACE_CARRIED: return r->io[arg->offset];
    default: return arg->view.data;
    }
}

/* Sets r->operands, from which nnrt_resolve_node resolves a dynamic step: the planned ones, with actual dimensions
   and addresses. There are no symbols in a run: all dimensions are known. */
static void nnrti_run_operands(const nnrti_open_run *r, const nnrti_open_step *o, const nnrt_plan_arg *args)
{
    memcpy(r->operands, o->operands, (o->nIn + o->nOut) * sizeof(*r->operands));
    for (uint32_t i = 0; i < o->nIn + o->nOut; i++) {
        nnrt_operand *x = &r->operands[i];
        memset(x->symbols, 0, sizeof(x->symbols));
        if (i >= o->nIn)
            continue;
        for (int32_t k = 0; o->slots[i] != NNRT_NO_TENSOR && k < x->rank; k++)
            x->dims[k] = r->slots[(size_t)o->slots[i] * NNRTI_DIMS + (size_t)k];
        if (!nnrti_absent(x) && x->data == NULL)
            x->data = nnrti_run_address(r, &args[i]);
    }
}

/* Rule: result k of step o has the planned shape in its fixed dimensions, does not exceed its upper bounds in the
   dynamic ones, and fits its buffer. */
static NNRT_ReturnCode nnrti_run_fits(const nnrti_open_run *r, const nnrti_open_step *o, nnrt_resolve *c, uint32_t k)
{
    const nnrt_operand *want = &o->operands[o->nIn + k];
    const size_t room = o->output[k] != NNRT_NO_TENSOR ? r->capacities[o->output[k]] : o->bytes[k];
    const nnrt_operand *got = &c->out[k];
    bool same = got->rank == want->rank, within = true;
    size_t bytes;
    for (int32_t i = 0; same && i < want->rank; i++) {
        same = want->symbols[i] != 0 || want->dims[i] == got->dims[i];
        within = within && got->dims[i] <= want->dims[i];
    }
    if (!same)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "output %u '%s' is %o, where %o was planned", k, got->name, got, want);
    if (!within) {
        const nnrt_operand most = nnrt_operand_make(want->dataType, want->rank, want->dims, NULL);
        return nnrti_fail(c, NNRT_OUT_OF_DIMENTION_RANGES, "output %u '%s' is %o, above its upper bound of %o", k,
                          got->name, got, &most);
    }
    if (!nnrt_dims_bytes(got->dims, got->rank, got->dataType, &bytes))
        return nnrti_fail(c, NNRT_OUT_OF_MEMORY, "output %u '%s' would be %o: its size does not fit", k,
                          got->name, got);
    if (bytes > room && o->output[k] != NNRT_NO_TENSOR)
        return nnrti_fail(c, NNRT_INSUFFICIENT_BUFFER, "output %u '%s' is %o and needs %z bytes, its buffer has %z", k,
                          got->name, got, bytes, room);
    if (bytes > room)
        return nnrti_fail(c, NNRT_INSUFFICIENT_BUFFER,
                          "output %u '%s' is %o and needs %z bytes, within its bound of %o lie %z", k, got->name, got,
                          bytes, want, room);
    return NNRT_SUCCESS;
}

/* Checks the results of a resolved step (nnrti_run_fits) and its scratch, and stores their dimensions in the slots.
   Data-dependent dimensions follow after the kernel. If an output buffer is too small, its slot has the required
   dimensions, which the run reports. */
static NNRT_ReturnCode nnrti_run_results(const nnrti_open_run *r, const nnrti_open_step *o, nnrt_resolve *c,
                                         const nnrt_plan_step *step)
{
    NNRT_ReturnCode code;
    for (uint32_t k = 0; k < c->nOut; k++) {
        const uint32_t slot = o->slots[o->nIn + k];
        const uint32_t output = o->output[k] != NNRT_NO_TENSOR
                                    ? r->whole->open->slots[r->whole->nInputs + o->output[k]]
                                    : NNRT_NO_TENSOR;
        if (nnrti_absent(&c->out[k]) || nnrti_absent(&o->operands[o->nIn + k]))
            continue;
        if (slot != NNRT_NO_TENSOR && c->out[k].rank == o->operands[o->nIn + k].rank &&
            !(step->op->flags & NNRT_OP_DATA_DEPENDENT))
            memcpy(r->slots + (size_t)slot * NNRTI_DIMS, c->out[k].dims, sizeof(c->out[k].dims));
        code = nnrti_run_fits(r, o, c, k);
        if (code == NNRT_INSUFFICIENT_BUFFER && !o->alias && output != NNRT_NO_TENSOR)
            /* the required dimensions of the output: nnrti_knows_output */
            memcpy(r->slots + (size_t)output * NNRTI_DIMS, c->out[k].dims, sizeof(c->out[k].dims));
        if (code != NNRT_SUCCESS)
            return code;
    }
    if (c->scratch > step->scratchBytes)
        return nnrti_fail(c, NNRT_INSUFFICIENT_BUFFER,
                          "its kernel needs %z bytes of scratch memory, planned were %z", c->scratch,
                          step->scratchBytes);
    return NNRT_SUCCESS;
}

/* Views of a dynamic step: inputs, derived constants (from its shape rule, then from an edit of the device),
   outputs. Returns the number of derived constants. */
static uint32_t nnrti_run_views(const nnrti_open_run *r, const nnrti_open_step *o, const nnrt_resolve *c,
                                const nnrt_plan_step *step, const nnrt_plan_arg *args)
{
    const uint32_t planned = step->nDerived, derived = c->nDerived > planned ? c->nDerived : planned;
    nnrt_view *view = r->views;
    for (uint32_t i = 0; i < step->nIn; i++, view++) {
        memset(view, 0, sizeof(*view));
        if (i >= c->nIn || nnrti_absent(&c->in[i]))
            continue;
        nnrt_operand_view(c->op, &c->in[i], (int32_t)i, view);
        view->data = (void *)(uintptr_t)c->in[i].data;
    }
    for (uint32_t i = 0; i < derived; i++, view++) {
        if (i < c->nDerived) {
            nnrt_operand_view(NULL, &c->derived[i], 0, view);
            view->data = (void *)(uintptr_t)c->derived[i].data;
        } else {
            *view = args[step->nIn + i].view;
        }
    }
    for (uint32_t i = 0; i < step->nOut; i++, view++) {
        memset(view, 0, sizeof(*view));
        if (i >= c->nOut || nnrti_absent(&o->operands[o->nIn + i]))
            continue;
        nnrt_operand_view(c->op, &c->out[i], -1, view);
        view->data = nnrti_run_address(r, &args[step->nIn + planned + i]);
    }
    return derived;
}

/* Calls a kernel for step s with r->views; a fault gets node and operator as a prefix. */
static NNRT_ReturnCode nnrti_run_call(const nnrti_open_run *r, uint32_t s, nnrt_kernel kernel, const void *attr,
                                      uint32_t nDerived)
{
    const nnrt_plan_step *step = &r->plan->steps[s];
    nnrt_error own;
    nnrti_open_call open;
    NNRT_ReturnCode code;
    memset(&own, 0, sizeof(own));
    open.call.nIn = step->nIn;
    open.call.nDerived = nDerived;
    open.call.nOut = step->nOut;
    open.call.scratch = step->scratchBytes > 0 ? r->arena + step->scratch : NULL;
    open.call.scratchBytes = step->scratchBytes;
    open.call.parallel = r->plan->parallel;
    open.call.error = &own;
    open.call.stop = r->stop;
    open.run = r;
    code = kernel(attr, r->views, &open.call);
    return code == NNRT_SUCCESS ? code : nnrti_step_failed(r->plan, s, code, &own, r->error);
}

/* The actual dimensions of an argument: from its slot, or the planned ones. */
static const int32_t *nnrti_run_dims(const nnrti_open_run *r, const nnrt_plan_arg *arg, uint32_t slot)
{
    NNRT_ASSERT(slot == NNRT_NO_TENSOR || r->slots[(size_t)slot * NNRTI_DIMS] >= 0); /* an earlier step stored it */
    return slot != NNRT_NO_TENSOR ? r->slots + (size_t)slot * NNRTI_DIMS : arg->view.dims;
}

/* Reports that step s, a COPY, cannot store a value of these dimensions and bytes. code INSUFFICIENT_BUFFER: its output
   has `room` bytes. */
static NNRT_ReturnCode nnrti_move_failed(const nnrti_open_run *r, uint32_t s, NNRT_ReturnCode code, const int32_t *dims,
                                         size_t bytes, size_t room)
{
    const nnrt_plan_step *step = &r->plan->steps[s];
    const nnrt_plan_arg *x = &r->plan->args[step->arg], *y = x + 2;
    const uint32_t output = r->plan->open->steps[s]->output[0];
    const nnrt_operand moved = nnrt_operand_make(x->view.dataType, x->view.rank, dims, NULL);
    const nnrt_operand planned = nnrt_operand_make(y->view.dataType, y->view.rank, y->view.dims, NULL);
    const char *name = nnrti_text_of(step->name);
    if (code == NNRT_OUT_OF_DIMENTION_RANGES)
        return nnrt_error_set(r->error, code, "node %d '%s': a value is %o, above its upper bound of %o", step->node, name,
                              &moved, &planned);
    if (code == NNRT_INVALID_SHAPE)
        return nnrt_error_set(r->error, code, "node %d '%s': a value is %o, where %o was planned", step->node, name,
                              &moved, &planned);
    if (output != NNRT_NO_TENSOR)
        return nnrt_error_set(r->error, code, "output %u '%s' is %o and needs %z bytes, its buffer has %z", output,
                              r->whole->outputs[output].name, &moved, bytes, room);
    return nnrt_error_set(r->error, code, "node %d '%s': a value is %o and needs %z bytes, within its bound of %o lie %z",
                          step->node, name, &moved, bytes, &planned, room);
}

/* Runs step s, a COPY: copies its input to its output, with the dimensions, which must agree with the planned ones and
   their upper bounds. alias: there are only dimensions to store (carried values whose addresses are swapped). */
static NNRT_ReturnCode nnrti_run_move(const nnrti_open_run *r, uint32_t s)
{
    const nnrt_plan_arg *x = &r->plan->args[r->plan->steps[s].arg], *y = x + 2;
    const nnrti_open_step *o = r->plan->open->steps[s];
    const int32_t *dims = nnrti_run_dims(r, x, o->slots[0]);
    const size_t room = o->output[0] != NNRT_NO_TENSOR ? r->capacities[o->output[0]] : o->bytes[0];
    size_t bytes = 0;
    bool same = true, within = true;
    (void)nnrt_dims_bytes(dims, x->view.rank, x->view.dataType, &bytes);
    for (int32_t i = 0; i < x->view.rank; i++) {
        same = same && ((o->vary >> i & 1) != 0 || dims[i] == y->view.dims[i]);
        within = within && (bytes == 0 || dims[i] <= y->view.dims[i]);
    }
    if (same && !within)
        return nnrti_move_failed(r, s, NNRT_OUT_OF_DIMENTION_RANGES, dims, bytes, room);
    if (o->slots[2] != NNRT_NO_TENSOR) /* the required shape is reported even if the buffer is too small */
        memcpy(r->slots + (size_t)o->slots[2] * NNRTI_DIMS, dims, (size_t)x->view.rank * sizeof(*dims));
    if (!same || bytes > room)
        return nnrti_move_failed(r, s, same ? NNRT_INSUFFICIENT_BUFFER : NNRT_INVALID_SHAPE, dims, bytes, room);
    if (bytes > 0 && !o->alias)
        memmove(nnrti_run_address(r, y), nnrti_run_address(r, x), bytes);
    return NNRT_SUCCESS;
}

/* Runs step s, a SCAN: appends the element of this iteration to the scan output of a LOOP. All elements must have one
   shape; the number of iterations must not exceed the upper bound of axis 0. */
static NNRT_ReturnCode nnrti_run_scan(const nnrti_open_run *r, uint32_t s)
{
    const nnrt_plan_step *step = &r->plan->steps[s];
    const nnrt_plan_arg *x = &r->plan->args[step->arg], *y = x + 2;
    const nnrti_open_step *o = r->plan->open->steps[s];
    const int32_t *dims = nnrti_run_dims(r, x, o->slots[0]), rank = x->view.rank;
    int32_t *now = o->slots[2] != NNRT_NO_TENSOR ? r->slots + (size_t)o->slots[2] * NNRTI_DIMS : NULL;
    const nnrt_operand one = nnrt_operand_make(x->view.dataType, rank, dims, NULL);
    const char *name = nnrti_text_of(step->name);
    size_t bytes = 0, total;
    (void)nnrt_dims_bytes(dims, rank, x->view.dataType, &bytes);
    for (int32_t i = 0; i < rank; i++) {
        if ((o->vary >> (i + 1) & 1) == 0 && dims[i] != y->view.dims[i + 1])
            return nnrt_error_set(r->error, NNRT_INVALID_SHAPE,
                                  "node %d '%s': scan %u is %o in trip %l, with extent %d planned for axis %d",
                                  step->node, name, o->first, &one, r->trip, y->view.dims[i + 1], i);
        if (now != NULL && r->trip > 0 && now[1 + i] != dims[i])
            return nnrt_error_set(r->error, NNRT_INVALID_SHAPE,
                                  "node %d '%s': scan %u is %o in trip %l, but was not before", step->node, name,
                                  o->first, &one, r->trip);
        if (now != NULL)
            now[1 + i] = dims[i];
    }
    if (bytes > 0 && r->trip >= y->view.dims[0])
        return nnrt_error_set(r->error, NNRT_OUT_OF_DIMENTION_RANGES,
                              "node %d '%s': scan %u, %o in each trip, has trip %l, above its upper bound of %d",
                              step->node, name, o->first, &one, r->trip, y->view.dims[0]);
    if (!nnrt_mul_size(bytes, (size_t)(r->trip + 1), &total) || total > o->bytes[0])
        return nnrt_error_set(r->error, NNRT_INSUFFICIENT_BUFFER,
                              "node %d '%s': scan %u, %o in each trip, has no room for trip %l: there are %z bytes",
                              step->node, name, o->first, &one, r->trip, o->bytes[0]);
    if (bytes > 0)
        memcpy((uint8_t *)nnrti_run_address(r, y) + (total - bytes), nnrti_run_address(r, x), bytes);
    return NNRT_SUCCESS;
}

/* Runs step s, a SCANNED: the dimensions of a scan output after the last iteration. After no iteration the dynamic ones of
   its elements are 0. */
static NNRT_ReturnCode nnrti_run_scanned(const nnrti_open_run *r, uint32_t s)
{
    const nnrt_plan_step *step = &r->plan->steps[s];
    const nnrt_view *y = &r->plan->args[step->arg + 2].view;
    const nnrti_open_step *o = r->plan->open->steps[s];
    if ((o->vary & 1) == 0 && y->dims[0] != r->trip)
        return nnrt_error_set(r->error, NNRT_INVALID_SHAPE, "node %d '%s': scan %u has %l trips, where %d were planned",
                              step->node, nnrti_text_of(step->name), o->first, r->trip, y->dims[0]);
    if (o->slots[2] != NNRT_NO_TENSOR) {
        int32_t *dims = r->slots + (size_t)o->slots[2] * NNRTI_DIMS;
        dims[0] = (int32_t)r->trip;
        if (r->trip == 0)
            memcpy(dims + 1, o->none, ((size_t)y->rank - 1) * sizeof(*dims));
    }
    return NNRT_SUCCESS;
}

/* Runs step s: an IF or LOOP, or one that a device made dynamic (nnrt_draft_make_dynamic; device auto: a partition). Its
   kernel gets the
   actual dimensions in the views of the inputs, and stores the dimensions of the results in their views. */
static NNRT_ReturnCode nnrti_run_model(nnrti_open_run *r, uint32_t s)
{
    const nnrt_plan_step *step = &r->plan->steps[s];
    const uint32_t *slots = r->plan->open->steps[s]->slots;
    NNRT_ReturnCode code;
    for (uint32_t i = 0; i < step->nIn + step->nOut; i++) {
        const nnrt_plan_arg *arg = &r->plan->args[step->arg + i];
        r->views[i] = arg->view;
        r->views[i].data = nnrti_run_address(r, arg);
        if (i < step->nIn)
            memcpy(r->views[i].dims, nnrti_run_dims(r, arg, slots[i]), (size_t)arg->view.rank * sizeof(int32_t));
    }
    r->nDerived = 0;
    code = nnrti_run_call(r, s, step->kernel, step->attr, 0);
    for (uint32_t i = step->nIn; i < step->nIn + step->nOut && code == NNRT_SUCCESS; i++)
        if (slots[i] != NNRT_NO_TENSOR)
            memcpy(r->slots + (size_t)slots[i] * NNRTI_DIMS, r->views[i].dims,
                   (size_t)r->views[i].rank * sizeof(int32_t));
    return code;
}

/* Runs a dynamic step: shape rule with actual dimensions and values, checks, views, kernel. The resolution
   chooses kernel and attributes, unless an edit replaced them. An alias only computes dimensions. */
static NNRT_ReturnCode nnrti_run_step(nnrti_open_run *r, uint32_t s)
{
    const nnrt_plan_step *step = &r->plan->steps[s];
    const nnrt_plan_arg *args = &r->plan->args[step->arg];
    const nnrti_open_step *o = r->plan->open->steps[s];
    nnrt_resolve c;
    NNRT_ReturnCode code;
    nnrti_run_operands(r, o, args);
    r->taken = 0;
    memset(&c, 0, sizeof(c));
    c.op = o->op;
    c.nodeName = nnrti_text_of(o->node->name);
    c.node = step->node;
    c.attr = o->node->nodeAttr.data;
    c.attrBytes = o->node->nodeAttr.size;
    c.nIn = o->node->inputIndex.count;
    c.nOut = o->node->outputIndex.count;
    c.in = r->operands;
    c.out = r->operands + o->nIn;
    c.alloc = nnrti_run_room;
    c.user = r;
    c.error = r->error;
    if ((code = nnrt_resolve_node(&c)) != NNRT_SUCCESS ||
        (code = nnrti_run_results(r, o, &c, step)) != NNRT_SUCCESS)
        return nnrt_error_blame(r->error, code, step->node, -1);
    if (o->alias)
        return NNRT_SUCCESS;
    r->nDerived = nnrti_run_views(r, o, &c, step, args);
    code = nnrti_run_call(r, s, step->kernel != o->kernel ? step->kernel : c.kernel,
                          step->attr != o->attr ? step->attr : c.resolved, r->nDerived);
    for (uint32_t k = 0; code == NNRT_SUCCESS && (o->op->flags & NNRT_OP_DATA_DEPENDENT) && k < c.nOut; k++)
        code = nnrti_check_told(&c, k, &r->views[step->nIn + r->nDerived + k]);
    for (uint32_t k = 0; code == NNRT_SUCCESS && (o->op->flags & NNRT_OP_DATA_DEPENDENT) && k < c.nOut; k++)
        if (o->slots[o->nIn + k] != NNRT_NO_TENSOR)
            memcpy(r->slots + (size_t)o->slots[o->nIn + k] * NNRTI_DIMS, r->views[step->nIn + r->nDerived + k].dims,
                   sizeof(r->views->dims));
    return code;
}

/* Stores the dimensions of the inputs in their slots. Rule: dynamic dimensions with one symbol are equal. */
static NNRT_ReturnCode nnrti_run_extents(const nnrti_open_run *r, const NNRT_IOTensor *inputs)
{
    const nnrti_open_plan *o = r->plan->open;
    for (size_t i = 0; i < o->nSlots; i++)
        r->slots[i * NNRTI_DIMS] = -1;
    for (uint32_t i = 0; i < r->plan->nInputs; i++) {
        if (o->slots[i] == NNRT_NO_TENSOR)
            continue;
        for (uint32_t k = 0; k < inputs[i].dimensions.count; k++)
            r->slots[(size_t)o->slots[i] * NNRTI_DIMS + k] = inputs[i].dimensions.data[k];
        for (uint32_t n = 0; n <= i; n++)
            for (uint32_t k = 0; k < inputs[i].dimensions.count && o->slots[n] != NNRT_NO_TENSOR; k++)
                for (uint32_t a = 0; a < inputs[n].dimensions.count; a++)
                    if (nnrti_extent_open(r->plan, false, i, k) &&
                        o->symbols[(size_t)i * NNRTI_DIMS + k] == o->symbols[(size_t)n * NNRTI_DIMS + a] &&
                        inputs[i].dimensions.data[k] != inputs[n].dimensions.data[a])
                        return nnrt_error_set(
                            r->error, NNRT_INVALID_SHAPE,
                            "axis %u of input %u '%s' and axis %u of input %u '%s' are one dimension of the model, but "
                            "have %d and %d",
                            a, n, r->plan->inputs[n].name, k, i, r->plan->inputs[i].name, inputs[n].dimensions.data[a],
                            inputs[i].dimensions.data[k]);
    }
    return NNRT_SUCCESS;
}

/* Runs dynamic step s. */
static NNRT_ReturnCode nnrti_run_part(nnrti_open_run *r, uint32_t s)
{
    switch (r->plan->open->steps[s]->part) {
    case NNRTI_PART_MODEL: return nnrti_run_model(r, s);
    case NNRTI_PART_COPY: return nnrti_run_move(r, s);
    case NNRTI_PART_SCAN: return nnrti_run_scan(r, s);
    case NNRTI_PART_SCANNED: return nnrti_run_scanned(r, s);
    default: return nnrti_run_step(r, s);
    }
}

/* nnrti_run_part, reported to the profile. */
static NNRT_ReturnCode nnrti_run_told(nnrti_open_run *r, uint32_t s)
{
    const nnrti_open_step *o = r->plan->open->steps[s];
    const nnrt_plan_step *step = &r->plan->steps[s];
    const bool graphs = nnrti_step_graphs(step) != NULL;
    const uint64_t begin = nnrti_profile_now(&r->profile);
    const NNRT_ReturnCode code = nnrti_run_part(r, s);
    if (code != NNRT_SUCCESS)
        return code;
    if (o->part == NNRTI_PART_COPY || o->part == NNRTI_PART_SCAN) { /* they fill no views: bytes are read and written */
        const nnrt_plan_arg *x = &r->plan->args[step->arg];
        r->views[0] = x->view;
        memcpy(r->views[0].dims, nnrti_run_dims(r, x, o->slots[0]), (size_t)x->view.rank * sizeof(int32_t));
        r->views[1] = r->views[0];
        nnrti_profile_tell(&r->profile, step, begin, o->alias ? NULL : r->views, 1);
    } else {
        nnrti_profile_tell(&r->profile, step, begin,
                           graphs || o->alias || o->part == NNRTI_PART_SCANNED ? NULL : r->views,
                           step->nIn + r->nDerived);
    }
    return code;
}

/* Runs the stretch of static steps that begins with step *s, with the static executor. *s = the step behind it. */
static NNRT_ReturnCode nnrti_run_stretch(nnrti_open_run *r, uint32_t *s)
{
    nnrt_plan stretch = *r->plan;
    const uint32_t first = *s;
    nnrt_error own;
    uint32_t failed = 0;
    NNRT_ReturnCode code;
    for (; *s < r->plan->nSteps && r->plan->open->steps[*s] == NULL; ++*s)
        continue;
    stretch.profile = stretch.profile != NULL ? &r->profile : NULL;
    stretch.steps += first;
    stretch.nSteps = *s - first;
    memset(&own, 0, sizeof(own));
    code = nnrti_execute(&stretch, r->views, r->arena, r->io, r->stop, &own, &failed);
    return code == NNRT_SUCCESS ? code : nnrti_step_failed(r->plan, first + failed, code, &own, r->error);
}

/* Runs the steps of r->plan in order: stretches of static steps, and dynamic steps one by one. */
static NNRT_ReturnCode nnrti_run_steps(nnrti_open_run *r)
{
    const nnrt_plan *plan = r->plan;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    for (uint32_t s = 0; s < plan->nSteps && code == NNRT_SUCCESS;) {
        if (plan->open->steps[s] == NULL) {
            code = nnrti_run_stretch(r, &s);
        } else if (nnrti_stopped(r->stop)) {
            nnrt_error own;
            memset(&own, 0, sizeof(own));
            (void)nnrt_error_set(&own, NNRT_CANCELLED, NNRTI_STOPPED);
            return nnrti_step_failed(plan, s, NNRT_CANCELLED, &own, r->error);
        } else {
            code = plan->profile == NULL ? nnrti_run_part(r, s) : nnrti_run_told(r, s);
            s++;
        }
    }
    return code;
}

/* Runs one of the plans of an IF or LOOP step; trip: for nnrti_open_run. */
static NNRT_ReturnCode nnrti_run_graph(const nnrt_plan *plan, nnrt_view *args, nnrt_call *call, int64_t trip)
{
    nnrti_open_run inner;
    if (plan->open == NULL)
        return nnrti_run_static(plan, args, call);
    inner = *((const nnrti_open_call *)(void *)call)->run;
    inner.plan = plan;
    inner.views = args + call->nIn;
    inner.io = (void *const *)call->scratch;
    inner.profile.depth++;
    inner.trip = trip;
    return nnrti_run_steps(&inner);
}

/* Runs a plan with dynamic shapes. Inputs and outputs are checked, io is the table of addresses.
   outputDims receives the dimensions that the run computed, after a failure, too. */
static NNRT_ReturnCode nnrti_run_open(const nnrt_plan *plan, uint8_t *workspace, void **io, const NNRT_IOTensor *inputs,
                                      const NNRT_IOTensor *outputs, nnrt_dims *outputDims, const nnrt_stop *stop,
                                      nnrt_error *error)
{
    const size_t views = plan->maxArgs * sizeof(nnrt_view);
    nnrti_open_tables at;
    nnrti_open_run r;
    size_t viewBytes, tableBytes, total;
    NNRT_ReturnCode code;
    memset(&r, 0, sizeof(r));
    (void)nnrti_open_layout(plan, views + ((size_t)plan->nInputs + plan->nOutputs) * sizeof(void *), &at);
    (void)nnrti_workspace(plan, &viewBytes, &tableBytes, &total);
    r.whole = r.plan = plan;
    r.views = (nnrt_view *)(void *)workspace;
    r.io = io;
    r.arena = workspace + tableBytes;
    r.capacities = (size_t *)(void *)(workspace + at.capacities);
    r.slots = (int32_t *)(void *)(workspace + at.slots);
    r.operands = (nnrt_operand *)(void *)(workspace + at.operands);
    r.room = workspace + at.room;
    r.stop = stop;
    r.error = error;
    if (plan->profile != NULL)
        r.profile = *plan->profile;
    for (uint32_t i = 0; i < plan->nOutputs; i++)
        r.capacities[i] = outputs[i].data.dataSize;
    code = nnrti_run_extents(&r, inputs);
    if (code == NNRT_SUCCESS)
        code = nnrti_run_steps(&r);
    for (uint32_t i = 0; outputDims != NULL && i < plan->nOutputs; i++) {
        const uint32_t slot = plan->open->slots[plan->nInputs + i];
        if (slot != NNRT_NO_TENSOR && r.slots[(size_t)slot * NNRTI_DIMS] >= 0)
            memcpy(outputDims[i].dims, r.slots + (size_t)slot * NNRTI_DIMS, sizeof(outputDims[i].dims));
    }
    return code;
}

/* Ends the memory maps of the first `count` inputs and outputs of a run. */
static void nnrti_unmap_io(const nnrt_plan *plan, const NNRT_IOTensor *inputs, const NNRT_IOTensor *outputs, void **io,
                           uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const NNRT_SharedBuffer *b = i < plan->nInputs ? &inputs[i].data : &outputs[i - plan->nInputs].data;
        if (b->addr == NULL && io[i] != NULL)
            nnrt_buffer_unmap(b, (uint8_t *)io[i] - b->offset);
    }
}

/* Memory maps the checked inputs and outputs that have only a descriptor, and stores their addresses in io. If one
   fails, none stays mapped. */
static NNRT_ReturnCode nnrti_map_io(const nnrt_plan *plan, const NNRT_IOTensor *inputs, const NNRT_IOTensor *outputs,
                                    void **io, nnrt_error *error)
{
    for (uint32_t i = 0; i < plan->nInputs + plan->nOutputs; i++) {
        const bool output = i >= plan->nInputs;
        const uint32_t at = output ? i - plan->nInputs : i;
        const NNRT_SharedBuffer *b = output ? &outputs[at].data : &inputs[at].data;
        nnrt_error own;
        void *block;
        if (b->addr != NULL || b->fd < 0)
            continue;
        memset(&own, 0, sizeof(own));
        if (nnrt_buffer_map(b, output, &block, &own) != NNRT_SUCCESS) {
            nnrti_unmap_io(plan, inputs, outputs, io, i);
            return nnrt_error_set(error, NNRT_INVALID_BUFFER, "%s %u '%s': %s", output ? "output" : "input", at,
                                  output ? plan->outputs[at].name : plan->inputs[at].name, own.message);
        }
        io[i] = block != NULL ? (uint8_t *)block + b->offset : NULL;
    }
    return NNRT_SUCCESS;
}

#endif

#ifdef NNRT_FIRMWARE
NNRT_API NNRT_ReturnCode nnrt_plan_run(const nnrt_plan *plan, void *workspace, size_t workspaceBytes,
                                       const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                       uint32_t nOut, nnrt_dims *outputDims, nnrt_error *error)
#else
/* nnrt_plan_run with cancellation (stop, which may be NULL). */
static NNRT_ReturnCode nnrti_run_plan(const nnrt_plan *plan, void *workspace, size_t workspaceBytes,
                                      const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                      uint32_t nOut, nnrt_dims *outputDims, const nnrt_stop *stop, nnrt_error *error)
#endif
{
    size_t viewBytes = 0, tableBytes = 0, total;
    nnrt_error own; /* the kernel's message, which gets node and operator as a prefix */
    uint32_t failed = 0;
    void **io;
    NNRT_ReturnCode code;
    for (uint32_t i = 0; outputDims != NULL && i < nOut && i < plan->nOutputs; i++)
        outputDims[i] = plan->outputs[i].shape;
    code = nnrti_check_run(plan, workspace, workspaceBytes, inputs, nIn, outputs, nOut, error);
    if (code != NNRT_SUCCESS)
        return code;
    (void)nnrti_workspace(plan, &viewBytes, &tableBytes, &total);
    io = (void **)(void *)((uint8_t *)workspace + viewBytes);
    for (uint32_t i = 0; i < nIn; i++)
        io[i] = (void *)(uintptr_t)nnrti_buffer_data(&inputs[i].data);
    for (uint32_t i = 0; i < nOut; i++)
        io[nIn + i] = (void *)(uintptr_t)nnrti_buffer_data(&outputs[i].data);
#ifndef NNRT_FIRMWARE
    if ((code = nnrti_map_io(plan, inputs, outputs, io, error)) != NNRT_SUCCESS)
        return code;
    if (plan->open != NULL) {
        code = nnrti_run_open(plan, (uint8_t *)workspace, io, inputs, outputs, outputDims, stop, error);
        nnrti_unmap_io(plan, inputs, outputs, io, nIn + nOut);
        return code;
    }
#endif
    memset(&own, 0, sizeof(own));
    code = nnrti_execute(plan, (nnrt_view *)workspace, (uint8_t *)workspace + tableBytes, io, stop, &own, &failed);
#ifndef NNRT_FIRMWARE
    nnrti_unmap_io(plan, inputs, outputs, io, nIn + nOut);
#endif
    return code == NNRT_SUCCESS ? code : nnrti_step_failed(plan, nnrti_failed_step(&own, failed), code, &own, error);
}

#ifndef NNRT_FIRMWARE

NNRT_API NNRT_ReturnCode nnrt_plan_run(const nnrt_plan *plan, void *workspace, size_t workspaceBytes,
                                       const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                       uint32_t nOut, nnrt_dims *outputDims, nnrt_error *error)
{
    return nnrti_run_plan(plan, workspace, workspaceBytes, inputs, nIn, outputs, nOut, outputDims, NULL, error);
}

/* Rule: a step of a plan has no dynamic shapes and needs no values of the run for its resolution. around: the IF or LOOP
   that runs the plan, which its copies belong to; NULL: none. */
static NNRT_ReturnCode nnrti_check_static(const nnrt_plan *plan, const nnrt_plan_step *around, nnrt_error *error)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    for (uint32_t s = 0; s < plan->nSteps && code == NNRT_SUCCESS; s++) {
        const nnrt_plan_step *step = &plan->steps[s];
        const nnrti_open_step *o = plan->open->steps[s];
        const nnrt_plan_graphs *a = nnrti_step_graphs(step);
        if (a != NULL) {
            if ((code = nnrti_check_static(a->plans[0], step, error)) == NNRT_SUCCESS)
                code = nnrti_check_static(a->plans[1], step, error);
        } else if (o != NULL) {
            const nnrt_op *op = step->op == NULL && around != NULL ? around->op : step->op;
            bool dynamic = o->part != NNRTI_PART_NODE;
            for (uint32_t i = 0; i < o->nIn + o->nOut; i++)
                dynamic = dynamic || o->slots[i] != NNRT_NO_TENSOR;
            code = nnrt_error_set(error, NNRT_NOT_SUPPORT, "node %d '%s' (%s): it %s", step->node,
                                  nnrti_text_of(step->name), op != NULL ? op->name : nnrti_text_of(step->kernelName),
                                  dynamic ? "has dynamic dimensions" : "is resolved with values of the run");
            return nnrt_error_blame(error, code, step->node, -1);
        }
    }
    return code;
}

NNRT_API NNRT_ReturnCode nnrt_plan_check_static(const nnrt_plan *plan, nnrt_error *error)
{
    if (plan->open == NULL)
        return NNRT_SUCCESS;
    for (uint32_t i = 0; i < plan->nInputs; i++)
        if (plan->open->slots[i] != NNRT_NO_TENSOR)
            return nnrt_error_set(error, NNRT_NOT_SUPPORT, "input %u '%s' has dynamic dimensions", i,
                                  plan->inputs[i].name);
    return nnrti_check_static(plan, NULL, error);
}

#endif

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
       nnrt_plan_prepare_packed    asks the caller for packed weights (nnrt_packs.find: a section of a .nnrt file) and
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
        (!(config->callerWorkspace && runIn) && !nnrt_memory_reserve(memory, workspace, &model->workspace)))
        return nnrti_no_memory(config->error);
    model->tableBytes = memory->front;
    return NNRT_SUCCESS;
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

NNRT_API NNRT_ReturnCode nnrt_plan_memory(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_edit edit,
                                          void *user, size_t *bytes)
{
    NNRT_ModelConfig own;
    nnrt_memory memory;
    nnrt_plan_model *made;
    NNRT_ReturnCode code;
    if (bytes == NULL)
        return NNRT_NULL_PTR;
    *bytes = 0;
    nnrt_config_read(&own, config);
    nnrt_memory_count(&memory, own.allocator);
    code = nnrti_plan_make(model, &own, edit, user, &memory, &made);
    nnrti_plan_model_unmap(made);
    nnrt_memory_end(&memory);
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

/* Destroy: frees everything that the prepared model owns; memory in a buffer of the caller stays. */
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
    nnrt_memory_free(&allocator, m->restored);
    nnrt_memory_free(&allocator, m->given);
}

static NNRT_ReturnCode nnrti_plan_model_run_in(NNRT_PreparedModel *self, void *workspace, size_t bytes,
                                               const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                               uint32_t nOut, nnrt_dims *outputDims, nnrt_error *error)
{
    if (self == NULL)
        return NNRT_NULL_PTR;
    return nnrt_plan_run(((nnrt_plan_model *)(void *)self)->plan, workspace, bytes, inputs, nIn, outputs, nOut,
                         outputDims, error);
}

/* RunUntil: a run with cancellation, in the given workspace or, if it is NULL, in the model's own. */
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

/* Run: in the model's own workspace, so not on several threads at once; OPERATION_FORBIDDEN if the model has none. */
static NNRT_ReturnCode nnrti_plan_model_run(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                                            const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    nnrt_plan_model *m = (nnrt_plan_model *)(void *)self;
    if (m == NULL)
        return NNRT_NULL_PTR;
    if (m->workspace == NULL)
        return NNRT_OPERATION_FORBIDDEN; /* prepared with callerWorkspace */
    return nnrt_plan_run(m->plan, m->workspace, nnrt_plan_workspace(m->plan), inputs, nIn, outputs, nOut, outputDims,
                         NULL);
}

static NNRT_ReturnCode nnrti_plan_model_workspace(NNRT_PreparedModel *self, size_t *bytes)
{
    if (self == NULL || bytes == NULL)
        return NNRT_NULL_PTR;
    *bytes = nnrt_plan_workspace(((nnrt_plan_model *)(void *)self)->plan);
    return NNRT_SUCCESS;
}

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

/* GetInputDimRanges: a dynamic dimension ranges from 0 to its upper bound; the others are fixed. */
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

NNRT_API const nnrt_plan *nnrt_prepared_plan(const NNRT_PreparedModel *prepared)
{
    const bool own = prepared != NULL && prepared->vtbl->Run == nnrti_plan_model_run;
    return own ? ((const nnrt_plan_model *)(const void *)prepared)->plan : NULL;
}

NNRT_API void nnrt_plan_model_table(NNRT_PreparedModelVtbl *table)
{
    *table = nnrti_plan_model_vtbl;
}

NNRT_API void nnrt_plan_model_keep(nnrt_plan_model *model, const NNRT_ModelConfig *config, nnrt_memory *memory)
{
    if (config->allocator != NULL)
        model->allocator = *config->allocator;
    model->given = nnrt_memory_give(memory);
    nnrti_plan_hold(model->plan, 1);
}

NNRT_API NNRT_ReturnCode nnrt_plan_prepare(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_edit edit,
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

/* nnrt_edit that calls e->edit with a packing. After taking: every pack and number must have been used, and no step
   may read an absent constant. */
static NNRT_ReturnCode nnrti_edit_packing(void *user, nnrt_draft *draft)
{
    nnrti_packing_edit *e = (nnrti_packing_edit *)user;
    nnrti_packing *p = e->packing;
    NNRT_ReturnCode code;
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
   last ones. *count = their number. It is in the temporary part of memory. NULL: no memory. */
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

/* *left = the model for the third block, *bytes = of that block. */
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

static void nnrti_packing_block(nnrti_packing *p, uint32_t i, void *data, size_t bytes)
{
    p->blocks[i].fd = -1;
    p->blocks[i].addr = data;
    p->blocks[i].bufferSize = p->blocks[i].dataSize = (uint32_t)bytes;
}

/* ExportModelCache: the table, the weights one after another (each aligned), and for a model cache the model. Blocks
   are made at the first call, in one allocation, and belong to the prepared model. */
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
   without them, recording the packed weights if packs->keep is set. */
NNRT_API NNRT_ReturnCode nnrt_plan_prepare_packed(const NNRT_Model *model, const NNRT_ModelConfig *config,
                                                  nnrt_edit edit, void *user, const char *key,
                                                  NNRT_PreparedModel **prepared)
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
    if (packs == NULL || own.buffer != NULL || prepared == NULL || edit == NULL)
        return nnrt_plan_prepare(model, &own, edit, user, prepared);
    e = nnrti_packing_edit_of(edit, user, key);
    memset(&from, 0, sizeof(from));
    memset(&fault, 0, sizeof(fault));
    if (packs->find != NULL && packs->find(packs->user, model, &own, &from) &&
        nnrti_packing_open(&taken, &from, e.key, &fault)) {
        nnrt_error *const error = own.error;
        e.packing = &taken;
        own.error = &fault;
        code = nnrt_plan_prepare(model, &own, nnrti_edit_packing, &e, prepared);
        own.error = error;
        if (code == NNRT_SUCCESS) {
            packs->done(packs->user, model, &own, *prepared, true, &fault);
            return code;
        }
        e.packing = NULL;
    }
    e.whole = packs->whole;
    if (!packs->keep)
        code = nnrt_plan_prepare(model, &own, edit, user, prepared);
    else if ((code = nnrt_plan_prepare(model, &own, nnrti_edit_packing, &e, prepared)) == NNRT_SUCCESS) {
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

/* The caller has copied the exported blocks: frees them. The prepared model exports nothing from now on. */
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
    if (m == NULL || t == NULL || absent > inputs) {
        (void)nnrt_error_set(fault, absent > inputs ? NNRT_INVALID_MODEL_CACHE : NNRT_OUT_OF_MEMORY,
                             "%u of %u inputs are no constants", absent,
                             inputs);
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
        else if (nnrt_memory_reserve(memory, bytes > 0 ? bytes : 1, &copies[i]) && bytes > 0)
            memcpy(copies[i], data, bytes);
    }
    return copies[0] != NULL && copies[1] != NULL && copies[2] != NULL;
}

/* Copies the three blocks into memory of the prepared model, checks the table, loads the model from its block, and
   prepares it with the packed weights in place. */
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
        code = nnrt_plan_prepare(model, &own, nnrti_edit_packing, &e, prepared);
    }
    if (code != NNRT_SUCCESS) {
        nnrt_memory_end(&memory);
        return code;
    }
    made = (nnrt_plan_model *)(void *)*prepared;
    made->packing = p;
    made->tableBytes += memory.front;
    made->restored = nnrt_memory_give(&memory);
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

/* Checks of a node that need no shapes: the number of its operands and, if known, their types. Types of the results are
   stored in tensors, for later nodes. */
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
   model. */
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
    return nnrt_plan_prepare(model, config, NULL, NULL, prepared);
}

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

/* Rule: a driver's table has a supported version and layout, and the methods that every device needs. */
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

/* nnrt_device_register without opening the registry. A device that is offline, or has the name and vendor of a
   registered one, is rejected. */
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

static const NNRT_DeviceVtbl *nnrti_reference_device(void **self)
{
    (void)self;
    return &nnrti_reference_vtbl;
}

/* Called before every access to the registry: registers the compiled-in devices once, in the order in which OH_NN
   numbers them. Other threads wait (spin) until that is done. */
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
    all =
        isSupported != NULL && nnrt_device_explain(device, model, &own, isSupported, count, NULL, NULL) == NNRT_SUCCESS;
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

NNRT_API NNRT_ReturnCode nnrt_device_ask_type(const nnrt_device *device, NNRT_DeviceType *type)
{
    NNRT_DeviceType told = NNRT_DEVICE_TYPE_OTHER;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (device == NULL || type == NULL)
        return NNRT_NULL_PTR;
    if (NNRTI_DEVICE_HAS(device, GetDeviceType))
        code = device->table->GetDeviceType(device->self, &told);
    *type = code == NNRT_SUCCESS ? told : NNRT_DEVICE_TYPE_OTHER;
    return code;
}

NNRT_API NNRT_DeviceType nnrt_device_type(const nnrt_device *device)
{
    NNRT_DeviceType type = NNRT_DEVICE_TYPE_OTHER;
    (void)nnrt_device_ask_type(device, &type);
    return type;
}

NNRT_API NNRT_DeviceStatus nnrt_device_status(const nnrt_device *device)
{
    NNRT_DeviceStatus status = NNRT_DEVICE_STATUS_AVAILABLE;
    if (device == NULL || (NNRTI_DEVICE_HAS(device, GetDeviceStatus) &&
                           device->table->GetDeviceStatus(device->self, &status) != NNRT_SUCCESS))
        return NNRT_DEVICE_STATUS_UNKNOWN;
    return status;
}

/* Calls a method that reports an ability; NOT_SUPPORT: the device has no such method. */
#define NNRTI_DEVICE_SAYS(d, slot, yes)                                                                                \
    (NNRTI_DEVICE_HAS(d, slot) ? (d)->table->slot((d)->self, yes) : NNRT_NOT_SUPPORT)

NNRT_API NNRT_ReturnCode nnrt_device_ask(const nnrt_device *device, nnrt_ability ability, bool *can)
{
    NNRT_ReturnCode code = NNRT_NOT_SUPPORT;
    bool yes = false;
    if (device == NULL || can == NULL)
        return NNRT_NULL_PTR;
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

NNRT_API bool nnrt_device_can(const nnrt_device *device, nnrt_ability ability)
{
    bool can = false;
    (void)nnrt_device_ask(device, ability, &can);
    return can;
}

NNRT_API void nnrt_log_line(const nnrt_log *log, nnrt_log_level level, const char *format, ...)
{
    char text[512];
    va_list args;
    nnrti_out o;
    if (log == NULL || log->line == NULL || level > log->most)
        return;
    o.data = text;
    o.size = sizeof(text);
    o.length = 0;
    va_start(args, format);
    nnrti_vformat(&o, format, &args, true);
    va_end(args);
    (void)nnrti_end(&o);
    log->line(log->user, level, text);
}

/* Rule: modes, priorities and extensions of the configuration are valid, and the device supports them. */
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
    if (config->enableFloat16 && !nnrt_device_can(device, NNRT_ABILITY_FLOAT16))
        lacks = "float32 in float16";
    else if (config->mode != NNRT_PERFORMANCE_NONE && !nnrt_device_can(device, NNRT_ABILITY_PERFORMANCE_MODE))
        lacks = "performance modes";
    else if (config->priority != NNRT_PRIORITY_NONE && !nnrt_device_can(device, NNRT_ABILITY_PRIORITY))
        lacks = "priorities";
    if (lacks != NULL)
        return nnrt_error_set(config->error, NNRT_NOT_SUPPORT, "device '%s' has no %s", device->unique, lacks);
    return nnrti_check_profile(config);
}

/* *own = the configuration that a device receives: the caller's, complete (structSize 0 means all members), with the
   name of the device. Checks that the device supports it. */
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

NNRT_API NNRT_ReturnCode nnrt_device_explain(nnrt_device *device, const NNRT_Model *model,
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

NNRT_API NNRT_ReturnCode nnrt_device_supported(nnrt_device *device, const NNRT_Model *model, bool *isSupported,
                                               uint32_t count)
{
    return nnrt_device_explain(device, model, NULL, isSupported, count, NULL, NULL);
}

/* Rule: a device that returns SUCCESS returns a prepared model that can be run. Counts it as one of the device. */
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
    if (own.bounds.count != 0 && !nnrt_device_can(device, NNRT_ABILITY_DYNAMIC_INPUT))
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

NNRT_API NNRT_ReturnCode nnrt_prepared_run(NNRT_PreparedModel *prepared, void *workspace, size_t bytes,
                                           const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                           uint32_t nOut, nnrt_dims *outputDims, nnrt_error *error)
{
    return nnrt_prepared_run_until(prepared, workspace, bytes, inputs, nIn, outputs, nOut, outputDims, NULL, error);
}

NNRT_API NNRT_ReturnCode nnrt_prepared_run_until(NNRT_PreparedModel *prepared, void *workspace, size_t bytes,
                                                 const NNRT_IOTensor *inputs, uint32_t nIn,
                                                 const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                                                 const nnrt_stop *stop, nnrt_error *error)
{
    const bool first = nnrti_error_open(error);
    NNRT_ReturnCode code;
    if (prepared == NULL)
        return NNRT_NULL_PTR;
    if (nnrti_stopped(stop))
        return nnrt_error_set(error, NNRT_CANCELLED, NNRTI_STOPPED);
    nnrti_error_send(error);
    if (!NNRTI_MODEL_HAS(prepared, RunIn)) { /* it runs in a workspace of its own */
        workspace = NULL;
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
