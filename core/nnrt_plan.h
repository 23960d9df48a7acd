/*
nnrt_plan.h - from a model to the steps of a run: shape inference with constant folding, the draft that a device edits,
liveness and the memory planner, the execution plan, control flow, memory regions, and the executor.

READERS
    Firmware: this file, nnrt_model.h and nnrt_ops.h run a plan that nnrt emit-c wrote, or a .nnrt file that the device
    loads (nnrt_model_load_into) and plans (nnrt_plan_build).
    The author of a device, who edits drafts (>>draft) and hands them to nnrt_plan_prepare of nnrt_hal.h.

SECTIONS (search for the tag)
    >>config      NNRT_ModelConfig, the options of a preparation, and their records: bounds, log, profile, partition
    >>infer       shape inference with constant folding
    >>planner     offsets in the arena from the live ranges of blocks
    >>plan        the plan: steps, their arguments and places
    >>draft       for writers of devices: the plan before it is final, and the functions that edit it
    >>run         the executor, control flow as a step
    -- implementation --
    >>infer >>planner >>plan >>control >>regions >>run

OWNERSHIP
    A plan is in the nnrt_memory that its caller passes. Constants of the model are used in place and must outlive the
    plan, unless ModelConfig.copyConstants is set. A plan is immutable: any number of threads may run it at once, each
    in a workspace of its own. A run allocates nothing.

ERRORS
    As in nnrt_model.h. The message of a kernel that fails in a run begins with node and operator.

MIT license, see LICENSE.
*/
#ifndef NNRT_PLAN_H
#define NNRT_PLAN_H

#include "nnrt_model.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>config */

typedef struct NNRT_Extension {
    const char *name;
    const void *data;
    uint32_t size;
} NNRT_Extension;
NNRTI_LIST(NNRT_ExtensionList, NNRT_Extension)

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
    const nnrt_parallel *parallel; /* for packing and kernels; must outlive the prepared model. NULL: one thread */
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
       most NNRT_MAX_REGIONS (>>planner, nnrt_region). Requires fixed shapes. nRegions 0: one arena */
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

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>infer */

/* Validates a model for an application: nnrt_model_check, then shape inference with config (NULL = defaults).
   NNRT_SUCCESS: the reference device would prepare the model. Memory comes from config->allocator and is freed. */
NNRT_API NNRT_ReturnCode nnrt_model_validate(const NNRT_Model *model, const NNRT_ModelConfig *config,
                                             nnrt_error *error);

/* Receives a node after its resolution (nnrt_model_infer). */
typedef NNRT_ReturnCode (*nnrt_visit)(void *user, uint32_t node, nnrt_resolve *resolved, bool folded);
/* Shape inference with constant folding: stores type and shape of every tensor in tensors[model->allTensors.count];
   dynamic dimensions have their upper bounds, and symbols that identify them. Small results that are known before the
   run, such as shape arithmetic (SHAPE -> GATHER -> CONCAT), are computed, and their operands have data.
   nnrt_model_check runs first. Shapes and values are in `memory`, in kept and temporary blocks.
   visit, if not NULL, is called for every node after its resolution, producers first; a code other than SUCCESS ends
   the inference. folded: all results of the node are known, so that no step is needed. resolved is valid during the
   call. A control-flow node (IF, LOOP) is visited once for each of its parts (resolved->part), with the nodes of
   its subgraphs between them. Part UNDO: the visitor discards everything since the BEGIN of that node, whose body is
   inferred again. */
NNRT_API NNRT_ReturnCode nnrt_model_infer(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_memory *memory,
                                          nnrt_operand *tensors, nnrt_visit visit, void *user);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>planner */

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

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>plan */

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
    const uint32_t *inPlace; /* per output 1 + the input whose buffer may be its buffer, too; 0, list NULL: none */
#endif
} nnrt_plan;

/* The last members of a plan, and of a step, that nnrt emit-c wrote. */
#ifdef NNRT_FIRMWARE
#define NNRTI_PLAN_REST
#define NNRTI_STEP_REST
#else
#define NNRTI_PLAN_REST , NULL, NULL, 0, NULL
#define NNRTI_STEP_REST , NULL
#endif

/* Makes the plan of a model, with the reference kernels: nnrt_model_check, shape inference, constant folding, in-place
   results, offsets in the arena. Everything that the plan points to is in kept memory or in the model. config must be
   complete (nnrt_config_read); constants must outlive the plan unless copyConstants is set. On failure *plan is NULL,
   and the caller ends the memory. */
NNRT_API NNRT_ReturnCode nnrt_plan_build(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_memory *memory,
                                         nnrt_plan **plan);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>draft

   For writers of devices. A plan is made in three phases. A device calls the first, improves the draft, and calls the
   last.

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
   derived constants added, and it may be removed if nothing reads its results. Its inputs must stay; behind them, tensors may
   be added that have the type and the dimensions of result 0 in each run, such as a residual. A result may become
   another tensor of the same type and upper bounds, whose dimensions are those of the result in each run: for a kernel that
   computes what a later step would. Constants that the new kernel does not read may become absent arguments. The kernel gets views of the dimensions of the run, and in nnrt_call.resolve the
   attributes and the reference kernel of this run (nnrt_resolve), also if the edit has replaced both.
   An edit must not change the model, the operands of the model's inputs and outputs, or constants.
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
/* Flag of a draft step: output 0 may overwrite input 1, if that is another tensor than input 0 and has the shape, type and
   layout of the output. The kernel reads no element of input 1 after it has written the element of the output there. */
#define NNRT_STEP_ACCUMULATE 0x40000000u
typedef struct nnrt_draft_step {
    nnrt_kernel kernel; /* NULL: the step is removed */
    const char *kernelName;
    const void *attr;
    const nnrt_op *op; /* of the node; NULL for a step that a device added */
    const char *name;
    int32_t node;
    uint32_t flags; /* NNRT_OP_INPLACE, _ALIAS, _EFFECT, NNRT_STEP_OVERLAP, _ACCUMULATE, as the kernel supports them */
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
    struct nnrti_packing *packing; /* of nnrt_plan_prepare with a key; NULL: weights are neither exported nor reused */
    struct nnrti_uses *uses;       /* of nnrt_draft_index; NULL: there are no def-use lists */
    uint32_t *given; /* per tensor of the model: the number of the subgraph input that it is; NULL: no subgraphs */
#endif
} nnrt_draft;

/* The first phase: makes a draft, in temporary memory of `memory`. config must be complete (nnrt_config_read) and valid
   until nnrt_plan_finish returns; constants must outlive the plan unless copyConstants is set. On failure *draft is
   NULL, and the caller ends the memory. */
NNRT_API NNRT_ReturnCode nnrt_plan_draft(const NNRT_Model *model, const NNRT_ModelConfig *config, nnrt_memory *memory,
                                         nnrt_draft **draft);
/* The last phase: makes the plan of a draft, in kept memory. A draft can be finished once. On failure *plan is NULL,
   and the caller ends the memory. */
NNRT_API NNRT_ReturnCode nnrt_plan_finish(nnrt_draft *draft, nnrt_plan **plan);
#ifndef NNRT_FIRMWARE
/* Appends weights that are packed from constants of the model, as nnrt_draft_derive does other constants. *data is NULL
   also if prepacked weights are reused, so that nothing must be stored. The kernel must not use the elements as indices
   or sizes of memory accesses: they may come from a damaged file. */
NNRT_API NNRT_ReturnCode nnrt_draft_pack(nnrt_draft *draft, uint32_t step, NNRT_DataType type, int32_t rank,
                                         const int32_t *dims, void **data);
/* Whether *number is the value that an earlier preparation noted. false: the edit computes the number and passes it to
   nnrt_draft_note. Numbers are recalled in the order in which they were noted. No memory access may depend on one. */
NNRT_API bool nnrt_draft_recall(nnrt_draft *draft, int64_t *number);
/* Stores a number that the edit computes from constants (such as the largest weight) together with the packed weights,
   as constants may be absent when prepacked weights are reused. A code other than SUCCESS ends the edit. */
NNRT_API NNRT_ReturnCode nnrt_draft_note(nnrt_draft *draft, int64_t number);
/* Whether prepacked weights are reused: the edit must not write them. */
NNRT_API bool nnrt_draft_packed(const nnrt_draft *draft);
#endif
/* The number of the step that writes tensor; UINT32_MAX: no step, or several, which write slices of it. Without def-use
   lists (nnrt_draft_index) each call searches all steps. NNRT_NO_TENSOR has no writer and no readers. */
NNRT_API uint32_t nnrt_draft_writer(const nnrt_draft *draft, uint32_t tensor);
/* The number of arguments of steps and outputs of the model that read tensor. Otherwise as nnrt_draft_writer. */
NNRT_API uint32_t nnrt_draft_readers(const nnrt_draft *draft, uint32_t tensor);
#ifndef NNRT_FIRMWARE
/* The number of the step that alone reads tensor; UINT32_MAX: no step or several arguments read it, or it is an
   output of the model. An operator can be fused into the step that writes tensor only if there is a single reader. */
NNRT_API uint32_t nnrt_draft_reader(const nnrt_draft *draft, uint32_t tensor);
/* An argument that reads a tensor: of which step, its number. */
typedef struct nnrt_draft_use {
    uint32_t tensor, step, argument, next;
} nnrt_draft_use;
/* Begins an iteration over the arguments that read a tensor:
       nnrt_draft_use use = nnrt_draft_uses(draft, tensor);
       while (nnrt_draft_next(draft, &use)) ... use.step, use.argument
   After the edit changes one of these arguments, the iteration is invalid and must be started again. */
NNRT_API nnrt_draft_use nnrt_draft_uses(const nnrt_draft *draft, uint32_t tensor);
/* Moves to the next argument that reads the tensor; false after the last one. */
NNRT_API bool nnrt_draft_next(const nnrt_draft *draft, nnrt_draft_use *use);
/* Builds def-use lists of a draft, so that the time of the functions above depends on the number of uses found, not on
   the number of steps. While the lists exist, the edit must call nnrt_draft_changed. A list of nnrt_draft_args must be
   filled before the next call of a function above. nnrt_plan_finish returns DEVICE_ERROR if the lists do not match the
   steps. nnrt_draft_insert discards the lists. false: no memory. */
NNRT_API bool nnrt_draft_index(nnrt_draft *draft);
#define NNRT_DRAFT_STEP 0xFFFFFFFFu
/* Reports to the def-use lists that the edit has changed an argument in place (argument: its number), or, with
   NNRT_DRAFT_STEP, several arguments or their number, or that it has restored a removed step. false: no memory. */
NNRT_API bool nnrt_draft_changed(nnrt_draft *draft, uint32_t step, uint32_t argument);
#endif
/* Fills an argument with the whole of a tensor: dense, in the model's order of axes; kind CONSTANT if its value is
   known before the run. */
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
/* Whether a step prefers, or allows, channels last. */
typedef bool (*nnrt_draft_test)(void *user, const nnrt_draft_step *step);
/* Layout propagation: stores 4-D tensors that the model declares channels first (NCHW) channels last (NHWC), from the
   first step on that prefers it. Only strides of views change. A tensor changes if all steps that use it allow it; a
   tensor has one layout for all its readers. Inputs, outputs and constants of the model keep theirs. An edit calls it
   before it selects kernels and inserts steps. OUT_OF_MEMORY. */
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
/* Inserts count steps in linear time: copies steps[i] before step at[i] (numbers before the call, in ascending order).
   A new step has node -1, and name and kernelName that are not NULL. Its arguments come from
   nnrt_memory_temp(draft->memory), or from nnrt_draft_args after the call. Addresses of steps become invalid. false: no
   memory, or invalid at[]. */
NNRT_API bool nnrt_draft_insert(nnrt_draft *draft, const nnrt_draft_step *steps, const uint32_t *at, uint32_t count);

/* The upper bounds of a configuration, for lookup by tensor name. order: indices sorted by name, in temporary memory;
   NULL for up to 16 bounds, which are compared one by one. */
typedef struct nnrt_bound_index {
    const nnrt_bound *data;
    uint32_t count, *order;
} nnrt_bound_index;
/* Makes the index of the upper bounds of a configuration. false: no memory. */
NNRT_API bool nnrt_bound_index_make(const NNRT_ModelConfig *config, nnrt_memory *memory, nnrt_bound_index *index);
/* The upper bound of the tensor of that name; NULL: it has none. */
NNRT_API const nnrt_dims *nnrt_bound_of(const nnrt_bound_index *index, const char *name);

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>run */

/* Runs a plan, the executor: calls the kernels in order. It checks only that no parameter is NULL (NULL_PTR), and that
   the plan has neither dynamic shapes nor, without NNRT_REGIONS, several memory regions (NOT_SUPPORT); a program whose
   plan is constant data (nnrt emit-c) needs no more. views: room for plan->maxArgs; arena: plan->arenaBytes bytes,
   aligned to NNRT_ALIGNMENT; io: the addresses of all inputs, then of all outputs. error may be NULL; it receives the
   message of the kernel that failed, and as node the number of the step (in a sub-plan: of the IF or LOOP step of the
   outermost plan). */
NNRT_API NNRT_ReturnCode nnrt_plan_execute(const nnrt_plan *plan, nnrt_view *views, void *arena, void *const *io,
                                           nnrt_error *error);
/* Runs a plan as nnrt_plan_execute does, and computes a checksum of the outputs of each step, in sums[nSteps], which
   nnrt emit-c --golden compares. It is FNV-1a of 32 bits over the dense elements of one output after the other, lowest
   byte first, so that it is equal on every machine. All NaN of a type count as one value; NNRT_SUM is the checksum of
   no elements. Outputs of sub-plans (IF, LOOP) are not included. */
#define NNRT_SUM 2166136261u
NNRT_API NNRT_ReturnCode nnrt_plan_sums(const nnrt_plan *plan, nnrt_view *views, void *arena, void *const *io,
                                        uint32_t *sums);
/* Bytes of a workspace for the plan: the views of the step with the most arguments, the addresses of inputs and
   outputs, tables for dynamic shapes, and the arena. SIZE_MAX: the sum overflows. */
NNRT_API size_t nnrt_plan_workspace(const nnrt_plan *plan);
/* Runs a plan in a workspace: checks inputs and outputs against the plan, then calls the kernels in order. workspace:
   nnrt_plan_workspace bytes, aligned to NNRT_ALIGNMENT; its contents need not survive between runs. Several threads may
   run one plan at once, each in a workspace of its own. Inputs and outputs are aligned to their element size, and no
   output overlaps an input, but for one that has its whole buffer (nnrt_plan.inPlace). Nothing is allocated; buffers
   with only a descriptor are memory-mapped during the run. outputDims and error may be NULL. Dynamic shapes: the
   dimensions of the inputs are the actual ones (OUT_OF_DIMENTION_RANGES if one exceeds its upper bound). Static steps
   run as planned; the others are resolved again with the actual dimensions. An output whose buffer is too small is not
   written (INSUFFICIENT_BUFFER), and its outputDims have the required shape. If a run fails, outputDims of outputs
   that it has not computed have the upper bounds. */
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

/* The kernel of an IF that runs plans. Inputs: the arena, cond, then the addresses that it fills from number
   NNRT_IF_TABLE on. If a step inside fails, its message is kept. */
NNRT_API NNRT_ReturnCode nnrt_plan_if(const void *attr, nnrt_view *args, nnrt_call *call);
/* The kernel of a LOOP that runs plans. Inputs: the arena, cond, the trip count (both may be absent), the iteration
   number, the cond input of the body, the cond that the body computes, then the addresses from number NNRT_LOOP_TABLE
   on. If a step inside fails, its message is kept. */
NNRT_API NNRT_ReturnCode nnrt_plan_loop(const void *attr, nnrt_view *args, nnrt_call *call);

#ifndef NNRT_FIRMWARE
/* Whether nnrt_plan_execute can run a plan, as nnrt emit-c needs it. NOT_SUPPORT: a step has dynamic shapes, or its
   resolution needs values of the run; error names the node. */
NNRT_API NNRT_ReturnCode nnrt_plan_check_static(const nnrt_plan *plan, nnrt_error *error);
#endif

#ifdef __cplusplus
}
#endif

#endif /* NNRT_PLAN_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_PLAN_IMPLEMENTED)
#define NNRT_PLAN_IMPLEMENTED

#include "nnrt_model.h" /* its implementation, if only its declarations were included so far */

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>infer */

NNRT_SETUP()

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
#define nnrti_may_compute(op) (((op)->flags & NNRT_OP_EFFECT) == 0)
#define nnrti_computes_nothing(op, inputs, nIn, results, nOut) false
#else
/* Whether an operator may be constant-folded: it has no effect, and an operator of the application is declared PURE. */
static bool nnrti_may_compute(const nnrt_op *op)
{
    return (op->flags & NNRT_OP_EFFECT) == 0 && (op->type > 0 || (op->flags & NNRT_OP_PURE) != 0);
}

/* Whether all of these views that are present have 0 elements, and there is one. */
static bool nnrti_all_empty(const nnrt_view *views, uint32_t count)
{
    bool present = false;
    for (uint32_t i = 0; i < count; i++) {
        bool empty = views[i].dataType == NNRT_DATA_TYPE_UNKNOWN;
        present = present || !empty;
        for (int32_t k = 0; k < views[i].rank && !empty; k++)
            empty = views[i].dims[k] == 0;
        if (!empty)
            return false;
    }
    return present;
}

/* Whether all results of an operator have 0 elements, and all inputs as well; the results suffice if the operator supports empty
   tensors in a batch of 0 alone. Its kernel, which has no value to check either, is not called then: its loops over the other axes,
   such as 2^31 of [2^31,0], would take minutes. Not for operators with effects or subgraphs, and operators that find their
   shapes in the run. */
static bool nnrti_computes_nothing(const nnrt_op *op, const nnrt_view *inputs, uint32_t nIn, const nnrt_view *results,
                                   uint32_t nOut)
{
    return op != NULL && nnrti_may_compute(op) && (op->flags & (NNRT_OP_GRAPHS | NNRT_OP_DATA_DEPENDENT)) == 0 &&
           nnrti_all_empty(results, nOut) && ((op->flags & NNRT_OP_EMPTY) == 0 || nnrti_all_empty(inputs, nIn));
}
#endif

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

/* Runs the kernel of one resolved node whose inputs all have data, as constant folding does; results[i] is memory for
   output i (NULL: absent). Scratch is temporary memory of `memory`. Afterwards c->out has the actual dimensions of
   data-dependent outputs (NNRT_OP_DATA_DEPENDENT). */
static NNRT_ReturnCode nnrti_node_run(nnrt_resolve *c, void *const *results, nnrt_memory *memory)
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
    code = nnrti_computes_nothing(c->op, args, c->kernelIn, args + first, c->nOut) ? NNRT_SUCCESS
                                                                                   : c->kernel(c->resolved, args, &call);
    if (code != NNRT_SUCCESS)
        return nnrti_fail(c, code, "%s", nnrti_reason(&error));
    for (uint32_t i = 0; (c->op->flags & NNRT_OP_DATA_DEPENDENT) && i < c->nOut; i++) {
        if ((code = nnrti_check_told(c, i, &args[first + i])) != NNRT_SUCCESS)
            return code;
        memcpy(c->out[i].dims, args[first + i].dims, sizeof(c->out[i].dims));
    }
    return NNRT_SUCCESS;
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
    return nnrti_node_run(&again, results, memory);
}

/* ---- interval arithmetic for shapes, with the types of >>intervals in nnrt_ops.h ----
   For a symbol, nnrti_known_value has the least and most value that it can have in any run, and facts such as "a
   multiple of d" or "a sum of these symbols", from which a tight upper bound of a result follows even if the operator
   is not monotone: n - n % 8, or ceil(n / s). Every function must be conservative: the interval that it returns
   contains each value that the kernel can compute, rounding included. */

/* Stores v as element k of a value of that type. */
static void nnrti_element_write(NNRT_DataType type, void *data, size_t k, double v)
{
    nnrti_store_f64(data, (ptrdiff_t)k, v, type);
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

/* *y = 0 or 1, the result of a comparison that is not decided. */
static void nnrti_known_bool(nnrti_known_value *y)
{
    nnrti_known_nothing(y);
    y->least = 0;
    y->most = 1;
    y->whole = true;
    y->nan = false;
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
        nnrti_known_bool(y);
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
        nnrti_known_bool(y);
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
        if ((code = nnrti_node_run(c, results, f->memory)) != NNRT_SUCCESS ||
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

/* Checks that input i has one element, of any rank. */
static NNRT_ReturnCode nnrti_one_element(nnrt_resolve *c, uint32_t i, const char *what)
{
    const nnrt_operand *o = &c->in[i];
    if (nnrti_count(o) != 1)
        return nnrti_fail(c, NNRT_INVALID_SHAPE, "input %u (%s) '%s' is %o, expected one element", i, what, o->name, o);
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

/* Whether the only element of o, an integer, has an upper bound; *number = it. */
static bool nnrti_bounded_number(const nnrt_operand *o, int64_t *number)
{
    if (nnrti_absent(o) || o->data == NULL || nnrti_count(o) != 1 || nnrti_element_unbounded(o, 0))
        return false;
    *number = nnrti_value(o, 0);
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
   required with an assumed size. Without a bound in the configuration the initial size is one (nnrti_loop_keeps). */
static NNRT_ReturnCode nnrti_loop_open(nnrti_inference *f, nnrt_resolve *c, uint32_t k, nnrt_operand *in, int32_t i)
{
    const nnrt_dims *most = nnrti_loop_bound(f, c, k, in);
    in->most = 0;
    if (most == NULL && f->config != NULL) {
        in->symbols[i] = ++f->symbols;
        return NNRT_SUCCESS;
    }
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

/* Whether axis i of a carried value leaves the body with an upper bound that is not larger than that before the body, which
   then holds in every iteration. */
static bool nnrti_loop_keeps(const nnrt_operand *in, const nnrt_operand *out, int32_t i)
{
    return out->dims[i] <= in->dims[i] && ((in->symbols[i] | out->symbols[i]) & NNRTI_UNBOUNDED) == 0;
}

/* Compares carried value k after the body with its value before: an axis that differs is marked in f->opened, and
   *changed is set. all: marks every axis that has an upper bound. Fails if a differing axis has no upper bound but
   needs one, as it may grow. */
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
                   opened = (f->opened[tensor] >> i & 1) != 0,
                   may = f->config == NULL || nnrti_loop_bound(f, c, k, in) != NULL;
        if (opened ? may || nnrti_loop_keeps(in, out, i) : same && !(all && may))
            continue; /* dimensions that become dynamic are checked in each iteration */
        if (!may && !nnrti_loop_keeps(in, out, i))
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
    const bool bounded = nnrti_bounded_number(&c->in[0], &trips) && trips <= INT32_MAX;
    const bool known = bounded && !nnrti_value_dynamic(&c->in[0]);
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
            nnrti_loop_scan(f, c, k, from, known && starts && goes, bounded, trips);
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
    uint64_t work;           /* elements visited while placing */
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

/* Whether the work exceeds the budget for improving a plan. Without trials there is no budget, as the orders are few. */
static bool nnrti_plan_spent(const nnrti_plan *p)
{
    const uint32_t m = p->n < NNRTI_PLAN_SMALL ? p->n : NNRTI_PLAN_SMALL;
    return NNRTI_PLAN_TRIALS != 0u && p->work > NNRTI_PLAN_WORK + 4 * m * m + (uint64_t)NNRTI_PLAN_STEPS * (p->n - m);
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
        if (size > limit - at || (p->best != SIZE_MAX && nnrti_plan_spent(p))) {
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
    const bool large = nnrti_plan_has_tree(p);
    uint32_t turn;
    int i;
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
    for (turn = 0; turn != NNRTI_PLAN_TRIALS && p->bestFit >= 0 && p->best > p->lower && !nnrti_plan_spent(p); ++turn) {
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
    if (config->copyConstants && (model = nnrti_model_copy(model, memory, true)) == NULL)
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
    if (args == NULL || (there == NULL && !nnrti_memory_reserve(draft->memory, bytes, data)))
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

NNRT_API bool nnrt_draft_insert(nnrt_draft *draft, const nnrt_draft_step *steps, const uint32_t *at, uint32_t count)
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
#ifndef NNRT_FIRMWARE
    draft->uses = NULL;
#endif
    return true;
}

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
   after this step (`at`), if the kernel supports it (NNRT_OP_INPLACE any input, NNRT_STEP_ACCUMULATE input 1). */
static bool nnrti_try_in_place(nnrti_planner *p, const nnrt_draft_step *step, int32_t at)
{
    const nnrt_plan_arg *y = nnrti_step_out(step, 0);
    const nnrt_operand *to = &p->draft->tensors[y->tensor];
    if (nnrti_try_overlap(p, step, at))
        return true;
    if (!(step->flags & (NNRT_OP_INPLACE | NNRT_STEP_ACCUMULATE)))
        return false;
    for (uint32_t k = 0; k < step->nIn; k++) {
        const nnrt_plan_arg *x = &step->args[k];
        const nnrt_operand *from;
        const nnrti_storage *s;
        if (!(step->flags & NNRT_OP_INPLACE) && (k != 1 || x->tensor == step->args[0].tensor))
            continue;
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

/* Whether a tensor has the element type and the upper bounds of another one. */
static bool nnrti_same_bounds(const nnrt_draft *draft, uint32_t tensor, uint32_t other)
{
    const nnrt_operand *x, *y;
    if (tensor >= draft->nTensors || other >= draft->nTensors)
        return false;
    x = &draft->tensors[tensor];
    y = &draft->tensors[other];
    return x->dataType == y->dataType && x->rank == y->rank &&
           memcmp(x->dims, y->dims, (size_t)y->rank * sizeof(y->dims[0])) == 0;
}

/* Whether a dynamic step still has the inputs of its node, which the run resolves, and results with the types and the upper
   bounds of the node's. Constants may have become absent. The step of a node may be removed. */
static bool nnrti_open_kept(const nnrt_draft *draft, const nnrt_draft_step *step)
{
    const nnrti_open_step *o = step->open;
    const NNRT_Uint32List none = {NULL, 0};
    const NNRT_Uint32List *in = o->node != NULL ? &o->node->inputIndex : &none;
    const NNRT_Uint32List *out = o->node != NULL ? &o->node->outputIndex : &none;
    bool kept = (step->nIn == o->nIn || (o->part == NNRTI_PART_NODE && step->nIn > o->nIn)) && step->nOut == o->nOut;
    if (step->kernel == NULL)
        return o->part == NNRTI_PART_NODE;
    for (uint32_t i = o->nIn; kept && i < step->nIn; i++)
        kept = nnrti_same_bounds(draft, step->args[i].tensor, nnrti_step_out(step, 0)->tensor);
    for (uint32_t i = 0; kept && i < in->count; i++)
        kept = step->args[i].tensor == in->data[i] ||
               (step->args[i].tensor == NNRT_NO_TENSOR && nnrt_draft_known(draft, in->data[i]));
    for (uint32_t i = 0; kept && i < out->count; i++)
        kept = nnrti_step_out(step, i)->tensor == out->data[i] ||
               nnrti_same_bounds(draft, nnrti_step_out(step, i)->tensor, out->data[i]);
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
        if (step->open != NULL && !nnrti_open_kept(d, step))
            return nnrt_error_set(
                p->error, NNRT_DEVICE_ERROR,
                "the device's edit of node %d '%s': it has dynamic shapes, so its inputs, and the types and bounds of its "
                "results, must stay",
                step->node, step->name);
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
    for (uint32_t i = 0; i < o->nIn; i++) {
        o->slots[i] = nnrti_slot(p, step->args[i].tensor);
        if (o->part == NNRTI_PART_NODE && step->args[i].tensor == NNRT_NO_TENSOR)
            o->operands[i].data = NULL; /* a constant that the device has packed may be freed */
    }
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

#ifndef NNRT_FIRMWARE

/* Whether a step is a TENSOR_SCATTER, with the kernel of the operator, from an input of the model to an output. */
static bool nnrti_is_update(const nnrt_plan *plan, const nnrt_plan_step *step)
{
    const nnrt_plan_arg *args = &plan->args[step->arg];
    bool own = false;
    if (step->op == NULL || step->op->type != NNRT_NODE_TYPE_TENSOR_SCATTER || step->nIn == 0 || step->nOut == 0 ||
        args[0].kind != NNRT_PLACE_INPUT || args[step->nIn + step->nDerived].kind != NNRT_PLACE_OUTPUT)
        return false;
    for (uint32_t k = 0; k < step->op->kernelCount; k++)
        own = own || step->op->kernels[k].call == step->kernel;
    return own;
}

/* Finds the outputs that may be in the buffer of an input: a TENSOR_SCATTER alone reads the input, and alone writes the
   output. Two passes over all arguments, whatever their number. Plans with subgraphs have none. false: no memory. */
static bool nnrti_find_in_place(const nnrti_planner *p, nnrt_plan *made)
{
    uint32_t *uses, *list = NULL; /* uses: arguments that read an input, or write an output */
    bool any = false;
    for (uint32_t s = 0; s < made->nSteps; s++) {
        if (nnrti_step_graphs(&made->steps[s]) != NULL)
            return true;
        any = any || nnrti_is_update(made, &made->steps[s]);
    }
    if (!any)
        return true;
    uses = (uint32_t *)nnrt_memory_temp_array(p->draft->memory, (size_t)made->nInputs + made->nOutputs, sizeof(*uses));
    list = (uint32_t *)nnrt_memory_keep_array(p->draft->memory, made->nOutputs, sizeof(*list));
    if (uses == NULL || list == NULL)
        return false;
    for (uint32_t s = 0; s < made->nSteps; s++) {
        const nnrt_plan_step *step = &made->steps[s];
        const uint32_t out = step->nIn + step->nDerived;
        for (uint32_t k = 0; k < out + step->nOut; k++) {
            const nnrt_plan_arg *arg = &made->args[step->arg + k];
            if (arg->kind == NNRT_PLACE_INPUT || (arg->kind == NNRT_PLACE_OUTPUT && k >= out))
                uses[arg->offset]++;
        }
    }
    for (uint32_t s = 0; s < made->nSteps; s++) {
        const nnrt_plan_step *step = &made->steps[s];
        const nnrt_plan_arg *x = &made->args[step->arg], *y = &x[step->nIn + step->nDerived];
        if (nnrti_is_update(made, step) && uses[x->offset] == 1 && uses[y->offset] == 1)
            list[y->offset - made->nInputs] = (uint32_t)x->offset + 1;
    }
    made->inPlace = list;
    return true;
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
#ifndef NNRT_FIRMWARE
    if (!nnrti_find_in_place(&p, made))
        return nnrti_no_memory(config->error);
#endif
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

/* Rule: output i overlaps no input and no earlier output. Steps write outputs while later steps still read inputs.
   Exception: an output in the buffer of an input that only the step reads that writes the output, in place. */
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
#ifndef NNRT_FIRMWARE
        if (input && from == to && size == other && plan->inPlace != NULL && plan->inPlace[i] == n + 1)
            continue;
#endif
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
    bool nothing;
    if (nnrti_stopped(call->stop))
        return nnrt_error_set(call->error, NNRT_CANCELLED, NNRTI_STOPPED);
    nothing = nnrti_computes_nothing(step->op, views, step->nIn, views + step->nIn + step->nDerived, step->nOut);
    if (plan->profile == NULL)
        return nothing ? NNRT_SUCCESS : step->kernel(step->attr, views, call);
    begin = nnrti_profile_now(plan->profile);
    code = nothing ? NNRT_SUCCESS : step->kernel(step->attr, views, call);
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
    if (stop != NULL && stop->alone)
        call.parallel = NULL;
    call.stop = stop;
    call.resolve = NULL;
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

/* The checksum of a view. sum: NNRT_SUM, or the checksum of the preceding elements. */
static uint32_t nnrti_view_sum(const nnrt_view *view, uint32_t sum)
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
                sums[s] = nnrti_view_sum(view, sums[s]);
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
        if (i >= o->nIn) { /* a tensor of the shape of result 0, which an edit of the device added */
            nnrt_operand_view(c->op, &c->out[0], -1, view);
            view->data = nnrti_run_address(r, &args[i]);
        } else if (i < c->nIn && !nnrti_absent(&c->in[i])) {
            nnrt_operand_view(c->op, &c->in[i], (int32_t)i, view);
            view->data = (void *)(uintptr_t)c->in[i].data;
        }
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
                                      const nnrt_resolve *resolve)
{
    const nnrt_plan_step *step = &r->plan->steps[s];
    nnrt_error own;
    nnrti_open_call open;
    NNRT_ReturnCode code;
    memset(&own, 0, sizeof(own));
    open.call.nIn = step->nIn;
    open.call.nDerived = r->nDerived;
    open.call.nOut = step->nOut;
    open.call.scratch = step->scratchBytes > 0 ? r->arena + step->scratch : NULL;
    open.call.scratchBytes = step->scratchBytes;
    open.call.parallel = r->stop != NULL && r->stop->alone ? NULL : r->plan->parallel;
    open.call.error = &own;
    open.call.stop = r->stop;
    open.call.resolve = resolve;
    open.run = r;
    code = nnrti_computes_nothing(step->op, r->views, step->nIn, r->views + step->nIn + r->nDerived, step->nOut)
               ? NNRT_SUCCESS
               : kernel(attr, r->views, &open.call);
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
    code = nnrti_run_call(r, s, step->kernel, step->attr, NULL);
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
                          step->attr != o->attr ? step->attr : c.resolved, &c);
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

#endif /* NNRT_IMPLEMENTATION */
