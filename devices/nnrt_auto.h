/*
nnrt_auto.h - the device "auto": it runs a model on the best registered device, or partitions it over several.

WHEN TO USE IT
    Nobody has to: nnrt.h includes this file if it finds it (NNRT_AUTO), and sessions that name no device run on "auto".
    "auto:npu0,npu1" names the devices; nnrt_partition (nnrt_plan.h) has the rules, the report and the costs.
    Without this file a session that names no device runs on the first registered device that supports every node of its
    model, else on "reference"; no model is partitioned.

    It is a device like any other, written over the public part of nnrt_hal.h: a model that is partitioned is a plan
    whose steps run models that other devices have prepared.

SECTIONS (search for the tag)
    -- implementation --
    >>candidates the candidate devices, and their order
    >>assign     which device has which node
    >>grouping   nodes of one device become partitions
    >>models     a partition as a model of its own
    >>run        a partition as a step of the plan
    >>concurrent partitions that run at the same time
    >>report     the device of each node, and the reason
    >>split      preparing a partitioned model
    >>whole      preparing a model as a whole on one device
    >>table      the device

MIT license, see LICENSE.
*/
#ifndef NNRT_AUTO_H
#define NNRT_AUTO_H

#ifndef NNRT_AUTO
#define NNRT_AUTO 1
#endif
#if NNRT_AUTO && !defined(NNRT_AUTO_DEVICE)
#define NNRT_AUTO_DEVICE nnrti_auto_table
#endif
#include "../nnrt_hal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Registers "auto" if it is not registered. Programs whose implementation is nnrt.h's need not call it: there auto is
   the first device of the registry. */
NNRT_API NNRT_ReturnCode nnrt_auto_register(nnrt_error *error);
/* Whether a record of the text `keep` (nnrt_partition.keep; NULL: no record) matches the node. */
NNRT_API bool nnrt_partition_keeps(const char *keep, const NNRT_Model *model, uint32_t node);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_AUTO_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_AUTO_IMPLEMENTED)
#define NNRT_AUTO_IMPLEMENTED

#include "../nnrt_hal.h" /* its implementation, if only its declarations were included so far */

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>candidates */

#define NNRTI_AUTO_HAS(m, slot) NNRT_HAS((m)->vtbl, NNRT_PreparedModelVtbl, slot)
/* RunIn is called only where the size of its workspace can be asked. */
#define NNRTI_AUTO_RUNS_IN(m) (NNRTI_AUTO_HAS(m, RunIn) && NNRTI_AUTO_HAS(m, GetWorkspaceSize))
#define NNRTI_AUTO_DIMS (sizeof(((nnrt_dims *)NULL)->dims) / sizeof(int32_t))

/* A device made of other devices. Where a model runs:

     1. On the first device, in order of preference, that supports all of it and prepares it. The prepared model of auto
     then
        wraps that of the device, and forwards every call. If the caller has named devices in an order, a device that
        supports some of the nodes is not skipped in favor of a later one that supports them all.
     2. Otherwise the model is partitioned. Each node is assigned to the first device that supports it, the rest to the
        reference device: that drafts the whole model, and auto edits the draft. Steps of one device form partitions: a
        step joins a group that writes one of its inputs, unless a path leads from the group to it through other steps;
        so partitions are connected, as large as possible, and no two wait for each other. Each partition becomes a
        model of its own, is prepared by its device, and is then one step of the plan, whose scratch is its workspace.
        Boundary tensors are tensors of the plan like others; only a device may copy them.
     3. Otherwise on the reference device, unless that is excluded (nnrt_partition.strict).

   A device that refuses an option (NNRT_INVALID_PARAMETER with extensions) ends the preparation: no other device is tried.

   A partition that its device fails to prepare goes to the next device that supports all of it, in the end back to
   the reference device, whose steps are restored. With nnrt_partition.fallback a model is always partitioned, into
   one partition if one device supports it all, and each partition is also prepared on the next devices, for a run
   that fails.

   Dynamic shapes need devices with dynamic input. Their partitions have dynamic inputs whose upper bounds are those
   of the draft; they report the dimensions of their outputs in each run, and a contradiction to the draft is an
   error. Other devices get the nodes with static shapes.

   IF and LOOP go to a device with all that they run, as subgraphs of its partition, or stay with the reference
   device, whole, too: they are then steps between partitions.

   Partitions run one after another: the arena is planned for steps in their order, so that tensors that are live
   together with an earlier partition may share memory with the outputs of a later one. If the caller provides threads
   (NNRT_ModelConfig.parallel), partitions of static shapes on different devices that do not wait for each other
   become one step, which runs them concurrently; their outputs are then live at the same time, so the arena may be
   larger. Meanwhile each has one thread. With a profile, whose receiver may not be prepared for several threads, they
   stay separate steps. A prepared model has RunIn if all its partitions have; otherwise it runs in a workspace of its
   own, one thread at a time.

   The memory is counted by a real preparation, which takes blocks in the same order. Rejected: partitioning by cost
   alone (a boundary costs more than most nodes), and copies at boundaries. */

/* The candidate devices, the preferred one first. */
typedef struct nnrti_auto_list {
    nnrt_device *devices[NNRT_MAX_DEVICES];
    bool failed[NNRT_MAX_DEVICES]; /* takes the whole model, and did not prepare it */
    uint32_t count;
    bool named;       /* by the caller, in that order */
    uint8_t *why;     /* for a report, of each node: NNRTI_WHY_ of a split that made no part; NULL: there was none */
    nnrt_error fault; /* the first fault of a device that failed to prepare nodes that it supports */
} nnrti_auto_list;

/* A model that one device has prepared as a whole. */
typedef struct nnrti_auto_model {
    NNRT_PreparedModel base;
    nnrt_device *device;
    NNRT_PreparedModel *inner;
    nnrt_allocator allocator;
    bool allocated;
} nnrti_auto_model;

/* Bytes of auto before the memory of the inner device, rounded up to keep that aligned. */
static size_t nnrti_auto_bytes(void)
{
    return (sizeof(nnrti_auto_model) + NNRT_ALIGNMENT - 1) / NNRT_ALIGNMENT * NNRT_ALIGNMENT;
}

static NNRT_ReturnCode nnrti_auto_no_memory(nnrt_error *error)
{
    return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory to prepare the model");
}

static const char *nnrti_auto_text(const char *name)
{
    return name != NULL ? name : "";
}

/* The operator's name of a node, for messages. */
static const char *nnrti_auto_op(const NNRT_Model *m, uint32_t node)
{
    const nnrt_op *op = nnrt_op_find(m->nodes.data[node].nodeType);
    return op != NULL ? op->name : "unknown operator";
}

/* True if error can take a fault: it exists and holds none. */
static bool nnrti_auto_open(const nnrt_error *error)
{
    return error != NULL && error->code == NNRT_SUCCESS;
}

static const char *nnrti_auto_reason(const nnrt_error *error)
{
    return error->message[0] != '\0' ? error->message : "its kernel failed";
}

/* Output k of a step. */
static nnrt_plan_arg *nnrti_auto_out(const nnrt_draft_step *step, uint32_t k)
{
    return &step->args[step->nIn + step->nDerived + k];
}

/* The device whose name or unique name the first `length` characters of text are. */
static nnrt_device *nnrti_auto_named(const char *text, size_t length)
{
    char name[256];
    if (length >= sizeof(name))
        return NULL;
    memcpy(name, text, length);
    name[length] = '\0';
    return nnrt_device_find(name);
}

static NNRT_ReturnCode nnrti_auto_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 2;
    *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_auto_vendor(void *self, const char **name)
{
    (void)self;
    *name = "nnrt";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_auto_check(const NNRT_ModelConfig *config)
{
    if (config->buffer != NULL && (uintptr_t)config->buffer % NNRT_ALIGNMENT != 0)
        return nnrt_error_set(config->error, NNRT_INVALID_PARAMETER, "the buffer is not aligned to %d bytes",
                              NNRT_ALIGNMENT);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_auto_yes(void *self, bool *answer)
{
    (void)self;
    if (answer == NULL)
        return NNRT_NULL_PTR;
    *answer = true;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_auto_name(void *self, const char **name)
{
    (void)self;
    *name = "auto";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_auto_type(void *self, NNRT_DeviceType *type)
{
    (void)self;
    *type = NNRT_DEVICE_TYPE_OTHER;
    return NNRT_SUCCESS;
}

#define NNRTI_AUTO_BEST 5
#define NNRTI_AUTO_LAST 1

static bool nnrti_auto_is_reference(const nnrt_device *device)
{
    return strcmp(nnrt_device_name(device), "reference") == 0;
}

/* Preference of a device if the caller names none; 0 = never. */
static int32_t nnrti_auto_rank(const nnrt_device *device)
{
    if (strcmp(nnrt_device_name(device), "auto") == 0)
        return 0;
    if (nnrti_auto_is_reference(device))
        return NNRTI_AUTO_LAST;
    switch (nnrt_device_type(device, NULL)) {
    case NNRT_DEVICE_TYPE_ACCELERATOR: return NNRTI_AUTO_BEST;
    case NNRT_DEVICE_TYPE_GPU: return 4;
    case NNRT_DEVICE_TYPE_CPU: return 3;
    default: return 2;
    }
}

/* Appends a device that is available and not in the list yet. */
static void nnrti_auto_add(nnrti_auto_list *list, nnrt_device *device)
{
    const NNRT_DeviceStatus status = nnrt_device_status(device);
    bool in = status != NNRT_DEVICE_STATUS_AVAILABLE && status != NNRT_DEVICE_STATUS_BUSY;
    for (uint32_t i = 0; i < list->count; i++)
        in = in || list->devices[i] == device;
    if (!in)
        list->devices[list->count++] = device;
}

static bool nnrti_falls_back(const NNRT_ModelConfig *config)
{
    return config->partition != NULL && config->partition->fallback;
}

/* The devices of config->autoDevices, or all, those wanted alike as they were registered; the reference device last,
   unless it may not be had. */
static NNRT_ReturnCode nnrti_auto_devices(const NNRT_ModelConfig *config, nnrti_auto_list *list)
{
    const char *text = config->autoDevices;
    memset(list, 0, sizeof(*list));
    list->named = text != NULL;
    while (text != NULL) {
        const char *end = strchr(text, ',');
        const size_t length = end != NULL ? (size_t)(end - text) : strlen(text);
        nnrt_device *d = nnrti_auto_named(text, length);
        if (d == NULL)
            return nnrt_error_set(
                config->error, NNRT_INVALID_PARAMETER,
                "auto: there is no device at the beginning of '%s', expected names of devices with ',' "
                "between",
                text);
        nnrti_auto_add(list, d);
        text = end != NULL ? end + 1 : NULL;
    }
    for (int32_t rank = NNRTI_AUTO_BEST; rank > NNRTI_AUTO_LAST && !list->named; rank--)
        for (uint32_t i = 0; i < nnrt_device_count(); i++)
            if (nnrti_auto_rank(nnrt_device_at(i)) == rank)
                nnrti_auto_add(list, nnrt_device_at(i));
    if (config->partition == NULL || !config->partition->strict)
        nnrti_auto_add(list, nnrt_device_find("reference"));
    if (nnrti_falls_back(config) && config->partition->strict)
        return nnrt_error_set(config->error, NNRT_INVALID_PARAMETER,
                              "auto: strict and fallback are both set, expected one of them at most");
    return NNRT_SUCCESS;
}

/* Keeps the options of a configuration that the device supports. */
static void nnrti_auto_allowed(const nnrt_device *device, NNRT_ModelConfig *own)
{
    own->enableFloat16 = own->enableFloat16 && nnrt_device_can(device, NNRT_ABILITY_FLOAT16, NULL);
    if (!nnrt_device_can(device, NNRT_ABILITY_PERFORMANCE_MODE, NULL))
        own->mode = NNRT_PERFORMANCE_NONE;
    if (!nnrt_device_can(device, NNRT_ABILITY_PRIORITY, NULL))
        own->priority = NNRT_PRIORITY_NONE;
}

/* Which nodes does the device take? *any: one, result: all. Where there is no memory to ask, none. */
static bool nnrti_takes_all(nnrt_device *device, const NNRT_Model *model, const NNRT_ModelConfig *config, bool *any)
{
    NNRT_ModelConfig own = *config;
    bool all = true, *isSupported;
    const uint32_t count = model->nodes.count;
    size_t taken;
    NNRT_ReturnCode code;
    *any = false;
    own.error = NULL; /* its reasons against a node are no faults */
    own.autoDevices = NULL;
    own.partition = NULL;
    nnrti_auto_allowed(device, &own);
    if (own.buffer != NULL) {
        if (!nnrt_round_size(count, NNRT_ALIGNMENT, &taken) || own.bufferBytes < taken)
            return false;
        isSupported = (bool *)own.buffer; /* overwritten later: nothing lies there yet */
        own.buffer = (uint8_t *)own.buffer + taken;
        own.bufferBytes -= taken;
    } else {
        isSupported = (bool *)nnrt_alloc(own.allocator, count);
    }
    if (isSupported == NULL)
        return false;
    memset(isSupported, 0, count);
    code = nnrt_device_supported(device, model, &own, isSupported, count, NULL, NULL);
    for (uint32_t i = 0; i < count; i++) {
        *any = *any || (code == NNRT_SUCCESS && isSupported[i]);
        all = all && isSupported[i];
    }
    all = code == NNRT_SUCCESS ? all : code == NNRT_OUT_OF_MEMORY && config->buffer != NULL; /* PrepareModel decides */
    if (config->buffer == NULL)
        nnrt_free(config->allocator, isSupported, count);
    return all;
}

static bool nnrti_can_split(const NNRT_Model *model)
{
    return model->nodes.count > 0;
}

/* The next device from *at on that supports the whole model; NULL: none, or the model must be partitioned. The
   reference device is not asked: it is the last resort, and its messages are the best. */
static nnrt_device *nnrti_auto_next(const nnrti_auto_list *list, uint32_t *at, const NNRT_Model *model,
                                    const NNRT_ModelConfig *config)
{
    bool any = false;
    while (*at < list->count && !(any && list->named && nnrti_can_split(model)) &&
           !nnrti_auto_is_reference(list->devices[*at])) {
        nnrt_device *d = list->devices[(*at)++];
        bool some = true;
        if ((config->bounds.count == 0 ||
             nnrt_device_can(d, NNRT_ABILITY_DYNAMIC_INPUT, NULL)) && /* else parts of it */
            nnrti_takes_all(d, model, config, &some))
            return d;
        any = any || some;
    }
    *at = list->count;
    return NULL;
}

/* May the reference device have nodes? */
static bool nnrti_auto_last(const nnrti_auto_list *list)
{
    bool there = false;
    for (uint32_t i = 0; i < list->count; i++)
        there = there || nnrti_auto_is_reference(list->devices[i]);
    return there;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>assign */

#define NNRTI_AUTO_HOST 0xFFu /* instead of the number of a device: the reference device, for the remaining nodes */

/* Why a node is where it is. */
enum {
    NNRTI_WHY_ASKED,  /* the devices in front of it do not take it, or there are none */
    NNRTI_WHY_KEPT,   /* nnrt_partition.keep */
    NNRTI_WHY_COST,   /* nnrt_partition.cost */
    NNRTI_WHY_OPEN,   /* it has dynamic shapes */
    NNRTI_WHY_AROUND, /* IF and LOOP stay with all that they run */
    NNRTI_WHY_EFFECT, /* it does something beside its results */
    NNRTI_WHY_LONELY, /* its part would have no inputs or no outputs */
    NNRTI_WHY_SMALL,  /* nnrt_partition.smallest */
    NNRTI_WHY_FAILED, /* a device did not prepare its part */
    NNRTI_WHY_KNOWN   /* nowhere: its results are known before a run */
};

static const char *const nnrti_reasons[] = {"the preferred device does not take it",
                                            "the partition text keeps it on the reference device",
                                            "the device costs less than the preferred one",
                                            "it has dynamic shapes, which the preferred device does not support",
                                            "the preferred device does not take all of the IF or LOOP around it",
                                            "it may end the run",
                                            "no input of a run reaches it, or nobody reads its outputs",
                                            "its part has fewer nodes than are wanted",
                                            "a device that takes it did not prepare its part",
                                            "its results are known before a run"};

/* A partition, which a step of the plan runs. */
typedef struct nnrti_auto_part {
    struct nnrti_auto_part *next;
    nnrt_device *device;
    NNRT_PreparedModel *prepared;
    NNRT_Model model;
    NNRT_IOTensor *io; /* inputs, then outputs, with their upper bounds; a run sets the addresses */
    uint32_t *symbols; /* of each of them NNRTI_AUTO_DIMS; NULL: all shapes are static */
    nnrt_bound_list bounds;
    size_t workspace;
    uint32_t number;
    const uint32_t *nodes; /* indices of its nodes in the whole model */
    nnrt_profile profile;  /* which receives the reports of its device, and forwards them to: */
    const nnrt_profile *to;
    struct nnrti_auto_part *other; /* the same on the device that computes it when this one fails; NULL: none does */
    bool spare;                    /* is such a one */
    nnrt_parallel pool;            /* the threads that its device receives; they belong to: */
    const nnrt_parallel *threads;  /* NULL: none */
    uint32_t place; /* in the step that runs it beside others, which then have the threads; NNRT_NO_TENSOR: alone */
} nnrti_auto_part;

/* Parts that one step runs at once, each on another device. Its scratch has a record for each, and behind it the views
   and the scratch of the part. */
typedef struct nnrti_joined_part {
    const nnrti_auto_part *part;
    const char *name; /* of its first node */
    int32_t node;
    uint32_t in, out; /* position of its inputs and outputs in the step's lists */
    size_t record;    /* where its record begins */
} nnrti_joined_part;

typedef struct nnrti_joined {
    uint32_t count;
    nnrti_joined_part parts[NNRT_MAX_DEVICES];
} nnrti_joined;

typedef struct nnrti_joined_record {
    nnrt_error error;
    nnrt_call call;
    NNRT_ReturnCode code;
} nnrti_joined_record;

typedef struct nnrti_split_model {
    nnrt_plan_model plan;       /* first: the common part with a model on one device */
    NNRT_PreparedModelVtbl own; /* its functions; Destroy and GetMemory also handle the partitions */
    nnrti_auto_part *parts;
} nnrti_split_model;

/* A unit is never divided: a step, or all steps of an outermost IF or LOOP, from BEGIN to END. */
typedef struct nnrti_split {
    const NNRT_Model *model;
    nnrt_mapping *mappings; /* of its constants */
    const NNRT_ModelConfig *config;
    const nnrti_auto_list *list;
    nnrt_memory *memory;
    nnrt_draft *draft;
    nnrt_bound_index bounds;    /* of config */
    uint32_t *takers;       /* of each node: the devices of the list that take it, a bit each */
    uint8_t *owner, *why;   /* of each node: number in the list; NNRTI_WHY_ */
    uint32_t *partOf;       /* of each node: number of the part, NNRT_NO_TENSOR: none */
    nnrti_auto_part *parts; /* the last one made first */
    uint32_t nParts;
    uint32_t *unit;         /* of each step: the first one of its unit */
    uint32_t *group, *next; /* of each step: the first step of its group, and the next one in it (a ring) */
    uint32_t *members;      /* the steps, group by group; inside a group in their order */
    uint32_t *first;        /* of each step that is a group's first: where its group begins in members, and the end */
    uint32_t *writer;       /* of each tensor: the step that writes it */
    uint32_t *numbers;      /* of each tensor: its number in the part that is being made, NNRT_NO_TENSOR: none */
    bool *given;            /* of each tensor: it is an output, or another group reads it than that which writes it */
    uint32_t *marks, mark;  /* of each step that is a group's first: searched in search number mark */
    uint32_t *stack;
    uint32_t *span;         /* of each step: nnrti_split_span */
    size_t left;            /* inputs of steps that searches for cycles may still look at */
    nnrt_error fault; /* the first one of a device that did not prepare its part */
    bool counting;    /* counting bytes: nothing stays, and all devices must report theirs */
} nnrti_split;

/* Keeps the first fault of several. */
static void nnrti_first_fault(nnrt_error *first, const nnrt_error *fault)
{
    if (fault != NULL && fault->code != NNRT_SUCCESS && nnrti_auto_open(first))
        (void)nnrt_error_set(first, fault->code, "%s", nnrti_auto_reason(fault));
}

/* Is all on the devices of the list, or not at all? */
static bool nnrti_split_only(const nnrti_split *s)
{
    return !nnrti_auto_last(s->list);
}

/* Devices are asked in the temporary memory of the partitioning, by an allocator, so that counting does the same.
   Freed blocks stay allocated until the device has answered. */
static void *nnrti_split_alloc(void *user, size_t bytes, size_t alignment)
{
    size_t total;
    uint8_t *block =
        nnrt_add_size(bytes, alignment, &total) ? (uint8_t *)nnrt_memory_temp((nnrt_memory *)user, total) : NULL;
    return block != NULL ? block + (alignment - (uintptr_t)block % alignment) % alignment : NULL;
}

static void nnrti_split_free(void *user, void *block, size_t bytes)
{
    (void)user;
    (void)block;
    (void)bytes;
}

static NNRT_ModelConfig nnrti_split_asking(const nnrti_split *s, nnrt_allocator *allocator)
{
    NNRT_ModelConfig own = *s->config;
    allocator->alloc = nnrti_split_alloc;
    allocator->free = nnrti_split_free;
    allocator->user = s->memory;
    own.allocator = allocator;
    own.buffer = NULL;
    own.bufferBytes = 0;
    own.error = NULL;
    own.autoDevices = NULL;
    own.partition = NULL;
    return own;
}

/* Whether all names in the text before `end` are names of `indices`, in any order. */
static bool nnrti_keep_names(const NNRT_Model *m, const NNRT_Uint32List *indices, const char *at, const char *end)
{
    while (at < end) {
        const char *stop = (const char *)memchr(at, ',', (size_t)(end - at));
        const size_t length = (size_t)((stop != NULL ? stop : end) - at);
        bool found = false;
        for (uint32_t i = 0; i < indices->count && !found; i++) {
            const uint32_t t = indices->data[i];
            const char *name = t < m->allTensors.count ? nnrti_auto_text(m->allTensors.data[t].name) : "";
            found = t < m->allTensors.count && strlen(name) == length && memcmp(name, at, length) == 0;
        }
        if (!found)
            return false;
        at += length + 1;
    }
    return true;
}

/* Whether the record of nnrt_partition.keep at *at matches node n; *at moves to the next record. Empty lines and
   those that begin with '#' match nothing. */
static bool nnrti_keep_record(const NNRT_Model *m, uint32_t n, const char **at)
{
    const NNRT_Node *node = &m->nodes.data[n];
    const nnrt_op *op = nnrt_op_find(node->nodeType);
    const char *line = *at, *end = strchr(line, '\n'), *type, *in;
    *at = end != NULL ? end + 1 : line + strlen(line);
    end = end != NULL ? end : *at;
    if (end > line && end[-1] == '\r')
        end--;
    if (end == line || *line == '#' || op == NULL)
        return false;
    type = (const char *)memchr(line, ':', (size_t)(end - line));
    type = type != NULL ? type : end;
    if (strlen(op->name) != (size_t)(type - line) || memcmp(op->name, line, (size_t)(type - line)) != 0)
        return false;
    in = type < end ? (const char *)memchr(type + 1, ':', (size_t)(end - type - 1)) : NULL;
    in = in != NULL ? in : end;
    return nnrti_keep_names(m, &node->inputIndex, type < end ? type + 1 : end, in) &&
           nnrti_keep_names(m, &node->outputIndex, in < end ? in + 1 : end, end);
}

NNRT_API bool nnrt_partition_keeps(const char *keep, const NNRT_Model *model, uint32_t node)
{
    while (keep != NULL && *keep != '\0')
        if (nnrti_keep_record(model, node, &keep))
            return true;
    return false;
}

/* Is node n one that the caller keeps on the reference device? */
static bool nnrti_kept(const NNRT_Model *m, const nnrt_partition *p, uint32_t n)
{
    return p != NULL && nnrt_partition_keeps(p->keep, m, n);
}

static uint32_t nnrti_kept_count(const NNRT_Model *m, const nnrt_partition *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; p != NULL && p->keep != NULL && i < m->nodes.count; i++)
        count += nnrti_kept(m, p, i) ? 1 : 0;
    return count;
}

/* Asks which nodes each device takes. */
static NNRT_ReturnCode nnrti_split_ask(nnrti_split *s)
{
    const uint32_t count = s->model->nodes.count;
    s->takers = (uint32_t *)nnrt_memory_keep_array(s->memory, count, sizeof(*s->takers));
    s->owner = (uint8_t *)nnrt_memory_keep(s->memory, count);
    s->why = (uint8_t *)nnrt_memory_keep(s->memory, count);
    s->partOf = (uint32_t *)nnrt_memory_keep_array(s->memory, count, sizeof(*s->partOf));
    if (s->memory->full)
        return nnrti_auto_no_memory(s->config->error);
    memset(s->owner, NNRTI_AUTO_HOST, count);
    memset(s->partOf, 0xFF, count * sizeof(*s->partOf));
    for (uint32_t i = 0; i < count; i++)
        s->why[i] = nnrti_kept(s->model, s->config->partition, i) ? NNRTI_WHY_KEPT : NNRTI_WHY_ASKED;
    for (uint32_t k = 0; k < s->list->count && !nnrti_auto_is_reference(s->list->devices[k]); k++) {
        nnrt_allocator allocator;
        NNRT_ModelConfig own;
        bool *takes, said;
        for (uint32_t i = 0; s->list->failed[k] && i < count; i++)
            if (s->takers[i] == 0 && s->why[i] == NNRTI_WHY_ASKED)
                s->why[i] = NNRTI_WHY_FAILED;
        if (s->list->failed[k])
            continue;
        own = nnrti_split_asking(s, &allocator);
        nnrti_auto_allowed(s->list->devices[k], &own);
        takes = (bool *)nnrt_memory_temp_array(s->memory, count, sizeof(*takes));
        said = takes != NULL &&
               nnrt_device_supported(s->list->devices[k], s->model, &own, takes, count, NULL, NULL) == NNRT_SUCCESS;
        for (uint32_t i = 0; said && i < count; i++)
            if (takes[i] && s->why[i] != NNRTI_WHY_KEPT)
                s->takers[i] |= 1u << k;
        if (s->memory->full)
            return nnrti_auto_no_memory(s->config->error);
        nnrt_memory_drop_temp(s->memory);
    }
    return NNRT_SUCCESS;
}

/* The node that a step is, on its device; NULL: the step stays with the reference device. */
static const NNRT_Node *nnrti_split_node(const nnrti_split *s, uint32_t step)
{
    const int32_t node = s->draft->steps[step].node;
    return node >= 0 && s->owner[node] != NNRTI_AUTO_HOST ? &s->draft->model->nodes.data[node] : NULL;
}

/* The step that gives argument k of a step, UINT32_MAX: a constant, an input of the model, or nothing. */
static uint32_t nnrti_split_giver(const nnrti_split *s, uint32_t step, uint32_t k)
{
    const nnrt_plan_arg *arg = &s->draft->steps[step].args[k];
    return arg->tensor == NNRT_NO_TENSOR || arg->kind == NNRT_PLACE_CONSTANT ? UINT32_MAX : s->writer[arg->tensor];
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>grouping */

/* Whether tensor t has a dynamic dimension. */
static bool nnrti_tensor_open(const nnrt_draft *d, uint32_t t)
{
    for (int32_t k = 0; t != NNRT_NO_TENSOR && k < d->tensors[t].rank; k++)
        if (d->tensors[t].symbols[k] != 0)
            return true;
    return false;
}

/* The devices that support node n with all that it runs, the unit from step i to step `last`. A node in it that is no
   step, because its results are known, may read only tensors that the unit writes, or known ones: a partition reads
   only what its steps read. */
static uint32_t nnrti_unit_takers(const nnrti_split *s, uint32_t n, uint32_t i, uint32_t last)
{
    const nnrt_draft *d = s->draft;
    const NNRT_Node *node = &d->model->nodes.data[n];
    uint32_t takers = s->takers[n];
    for (uint32_t k = 0; k < node->inputIndex.count && s->partOf[n] == NNRTI_WHY_KNOWN; k++) {
        const uint32_t t = node->inputIndex.data[k];
        if (t != NNRT_NO_TENSOR && !nnrt_draft_known(d, t) && (s->writer[t] < i || s->writer[t] > last))
            return 0;
    }
    for (uint32_t k = 0; k < nnrt_node_graphs(node); k++) {
        const uint32_t g = nnrt_node_graph(node, k);
        for (uint32_t a = 0; g != NNRT_NO_GRAPH && a < d->model->subGraph.data[g].nodeIndices.count; a++)
            takers &= nnrti_unit_takers(s, d->model->subGraph.data[g].nodeIndices.data[a], i, last);
    }
    return takers;
}

static uint64_t nnrti_split_cost(const nnrti_split *s, uint32_t node, const nnrt_device *device)
{
    return s->config->partition->cost(s->config->partition->user, node, nnrt_device_unique_name(device));
}

static bool nnrti_costs(const NNRT_ModelConfig *config)
{
    return config->partition != NULL && config->partition->cost != NULL;
}

/* The device that gets a node, of those in takers: the first one, or that which costs least. */
static uint8_t nnrti_split_choose(const nnrti_split *s, uint32_t takers, uint32_t node)
{
    const bool costs = nnrti_costs(s->config);
    uint8_t chosen = NNRTI_AUTO_HOST;
    uint64_t least = UINT64_MAX;
    for (uint8_t k = 0; k < s->list->count && (costs || chosen == NNRTI_AUTO_HOST); k++) {
        const bool host = nnrti_auto_is_reference(s->list->devices[k]);
        uint64_t cost;
        if (!host && (takers >> k & 1) == 0)
            continue;
        cost = costs ? nnrti_split_cost(s, node, s->list->devices[k]) : 0;
        if (cost < least) {
            least = cost;
            chosen = host ? NNRTI_AUTO_HOST : k;
        }
    }
    return chosen;
}

/* The reason why a node is not on the first device that supports it. */
static uint8_t nnrti_split_why(const nnrti_split *s, int32_t node, uint32_t unit, uint32_t takers)
{
    const uint32_t first = s->takers[node] & (0u - s->takers[node]);
    if (s->why[node] != NNRTI_WHY_ASKED || first == 0)
        return s->why[node];
    return (unit & first) == 0      ? NNRTI_WHY_AROUND
           : (takers & first) == 0  ? NNRTI_WHY_OPEN
           : nnrti_costs(s->config) ? NNRTI_WHY_COST
                                    : NNRTI_WHY_ASKED;
}

/* Gives the unit from step i to step `last` to a device. */
static void nnrti_unit_choose(nnrti_split *s, uint32_t i, uint32_t last)
{
    const nnrt_draft *d = s->draft;
    const int32_t node = d->steps[i].node;
    const uint32_t unit = node >= 0 ? nnrti_unit_takers(s, (uint32_t)node, i, last) : 0;
    uint32_t takers = unit;
    uint8_t owner;
    bool open = false, effect = false;
    for (uint32_t k = i; k <= last; k++) {
        open = open || nnrt_draft_is_dynamic(d, k);
        effect = effect || (d->steps[k].flags & NNRT_OP_EFFECT) != 0;
    }
    for (uint32_t k = 0; k < s->list->count && open; k++)
        if (!nnrt_device_can(s->list->devices[k], NNRT_ABILITY_DYNAMIC_INPUT, NULL))
            takers &= ~(1u << k);
    takers = effect ? 0 : takers;
    owner = node >= 0 ? nnrti_split_choose(s, takers, (uint32_t)node) : NNRTI_AUTO_HOST;
    for (uint32_t k = i; k <= last; k++) {
        const int32_t n = d->steps[k].node;
        if (n < 0)
            continue;
        s->owner[n] = owner;
        s->why[n] = nnrti_split_why(s, n, unit, takers);
        if (effect && s->why[n] != NNRTI_WHY_KEPT)
            s->why[n] = NNRTI_WHY_EFFECT;
    }
}

/* Work of all searches for cycles: so many inputs, and so many more per step. */
#define NNRTI_SPLIT_WORK 4194304u
#define NNRTI_SPLIT_STEPS 256u

/* The first step of the span of a step. Spans are the ranges of steps that no group crosses: a group and the groups that
   read its results are in its span or behind it, although a group that was joined from several may have steps in front
   of a step that it depends on. */
static uint32_t nnrti_split_span(nnrti_split *s, uint32_t step)
{
    while (s->span[step] != step)
        step = s->span[step] = s->span[s->span[step]];
    return step;
}

/* The steps from first to last, of one group, are in one span. */
static void nnrti_split_cover(nnrti_split *s, uint32_t first, uint32_t last)
{
    for (uint32_t at = nnrti_split_span(s, last); at > first; at = nnrti_split_span(s, at))
        s->span[at] = at - 1;
}

/* Whether a path leads from group `from` to group `to` through a third one: joining them would make a cycle. Searched
   backwards; groups that end in front of the span of `from` do not depend on it. If the work for the whole model is used
   up (s->left), the reply is true: a partition may then be smaller than possible. last: of each group. */
static bool nnrti_split_path(nnrti_split *s, uint32_t from, uint32_t to, const uint32_t *last)
{
    const uint32_t span = nnrti_split_span(s, from);
    uint32_t depth = 1;
    s->mark++;
    s->marks[to] = s->mark;
    s->stack[0] = to;
    while (depth > 0) {
        const uint32_t g = s->stack[--depth];
        uint32_t step = g;
        do {
            if (s->left < s->draft->steps[step].nIn + 1u)
                return true;
            s->left -= s->draft->steps[step].nIn + 1u;
            for (uint32_t k = 0; k < s->draft->steps[step].nIn; k++) {
                const uint32_t giver = nnrti_split_giver(s, step, k);
                const uint32_t other = giver != UINT32_MAX ? s->group[giver] : to;
                if (other == from && g != to)
                    return true;
                if (other == from || s->marks[other] == s->mark || last[other] < span)
                    continue;
                s->marks[other] = s->mark;
                s->stack[depth++] = other;
            }
            step = s->next[step];
        } while (step != g);
    }
    return false;
}

/* Joins group b to group a: the first step of both together names it. */
static uint32_t nnrti_split_join(nnrti_split *s, uint32_t a, uint32_t b, uint32_t *last)
{
    const uint32_t first = a < b ? a : b, other = a < b ? b : a, after = s->next[a];
    uint32_t step = other;
    do {
        s->group[step] = first;
        step = s->next[step];
    } while (step != other);
    s->next[a] = s->next[b];
    s->next[b] = after;
    last[first] = last[a] > last[b] ? last[a] : last[b];
    nnrti_split_cover(s, first, last[first]);
    return first;
}

/* Each unit a group of its own, on its device. */
static void nnrti_split_units(nnrti_split *s, uint32_t *last)
{
    const nnrt_draft *d = s->draft;
    const uint32_t n = d->nSteps;
    memset(s->writer, 0xFF, d->nTensors * sizeof(*s->writer));
    for (uint32_t i = 0; i < n; i++)
        s->span[i] = i;
    for (uint32_t i = 0; i < d->model->nodes.count; i++) /* until a step is found */
        s->partOf[i] = NNRTI_WHY_KNOWN;
    for (uint32_t i = 0; i < n; i++) {
        if (d->steps[i].node >= 0)
            s->partOf[d->steps[i].node] = NNRT_NO_TENSOR;
        for (uint32_t k = 0; k < d->steps[i].nOut; k++)
            if (nnrti_auto_out(&d->steps[i], k)->tensor != NNRT_NO_TENSOR)
                s->writer[nnrti_auto_out(&d->steps[i], k)->tensor] = i;
    }
    for (uint32_t i = 0, end; i < n; i = end + 1) {
        end = nnrt_draft_unit_end(d, i);
        for (uint32_t k = i; k <= end; k++) {
            s->unit[k] = s->group[k] = i;
            s->next[k] = k < end ? k + 1 : i;
        }
        last[i] = end;
        nnrti_split_cover(s, i, end);
        nnrti_unit_choose(s, i, end);
    }
    for (uint32_t i = 0; i < d->model->nodes.count; i++)
        if (s->partOf[i] != NNRT_NO_TENSOR) {
            s->owner[i] = NNRTI_AUTO_HOST;
            s->why[i] = NNRTI_WHY_KNOWN;
            s->partOf[i] = NNRT_NO_TENSOR;
        }
}

/* Lists the members of the groups, and the tensors that one group writes for another. */
static void nnrti_split_members(nnrti_split *s)
{
    const nnrt_draft *d = s->draft;
    uint32_t at = 0;
    memset(s->first, 0, ((size_t)d->nSteps + 1) * sizeof(*s->first));
    for (uint32_t i = 0; i < d->nSteps; i++)
        s->first[s->group[i]]++;
    for (uint32_t i = 0; i <= d->nSteps; i++) {
        const uint32_t count = s->first[i];
        s->first[i] = at;
        at += count;
    }
    for (uint32_t i = 0; i < d->nSteps; i++)
        s->members[s->first[s->group[i]]++] = i;
    for (uint32_t i = d->nSteps; i > 0; i--)
        s->first[i] = s->first[i - 1];
    s->first[0] = 0;
    for (uint32_t i = 0; i < d->model->outputIndex.count; i++)
        s->given[d->model->outputIndex.data[i]] = true;
    for (uint32_t i = 0; i < d->nSteps; i++)
        for (uint32_t k = 0; k < d->steps[i].nIn; k++) {
            const uint32_t giver = nnrti_split_giver(s, i, k);
            if (giver != UINT32_MAX && s->group[giver] != s->group[i])
                s->given[d->steps[i].args[k].tensor] = true;
        }
}

/* Forms groups of steps of one device: a step joins the groups that write its inputs. */
static NNRT_ReturnCode nnrti_split_groups(nnrti_split *s)
{
    const nnrt_draft *d = s->draft;
    const uint32_t n = d->nSteps;
    uint32_t *last = (uint32_t *)nnrt_memory_temp_array(s->memory, n, sizeof(*last));
    s->unit = (uint32_t *)nnrt_memory_temp_array(s->memory, n, sizeof(*s->unit));
    s->group = (uint32_t *)nnrt_memory_temp_array(s->memory, n, sizeof(*s->group));
    s->next = (uint32_t *)nnrt_memory_temp_array(s->memory, n, sizeof(*s->next));
    s->members = (uint32_t *)nnrt_memory_temp_array(s->memory, n, sizeof(*s->members));
    s->first = (uint32_t *)nnrt_memory_temp_array(s->memory, (size_t)n + 1, sizeof(*s->first));
    s->marks = (uint32_t *)nnrt_memory_temp_array(s->memory, n, sizeof(*s->marks));
    s->stack = (uint32_t *)nnrt_memory_temp_array(s->memory, n, sizeof(*s->stack));
    s->span = (uint32_t *)nnrt_memory_temp_array(s->memory, n, sizeof(*s->span));
    s->left = NNRTI_SPLIT_WORK + (size_t)n * NNRTI_SPLIT_STEPS;
    s->writer = (uint32_t *)nnrt_memory_temp_array(s->memory, d->nTensors, sizeof(*s->writer));
    s->numbers = (uint32_t *)nnrt_memory_temp_array(s->memory, d->nTensors, sizeof(*s->numbers));
    s->given = (bool *)nnrt_memory_temp_array(s->memory, d->nTensors, sizeof(*s->given));
    if (s->memory->full)
        return nnrti_auto_no_memory(s->config->error);
    memset(s->numbers, 0xFF, d->nTensors * sizeof(*s->numbers));
    nnrti_split_units(s, last);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; nnrti_split_node(s, i) != NULL && k < d->steps[i].nIn; k++) {
            const uint32_t giver = nnrti_split_giver(s, i, k);
            if (giver == UINT32_MAX || s->group[giver] == s->group[i] || nnrti_split_node(s, giver) == NULL ||
                s->owner[d->steps[giver].node] != s->owner[d->steps[i].node] ||
                nnrti_split_path(s, s->group[giver], s->group[i], last))
                continue;
            (void)nnrti_split_join(s, s->group[giver], s->group[i], last);
        }
    nnrti_split_members(s);
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>models */

/* The model of a partition under construction, with room for its lists. */
typedef struct nnrti_part_making {
    nnrti_split *s;
    NNRT_Node *nodes;
    NNRT_Tensor *tensors;
    NNRT_SubGraph *graphs;
    uint32_t *indices; /* all lists */
    uint32_t *borders; /* inputs, as tensors of the draft */
    uint32_t *added;   /* all tensors, the same */
    uint32_t *origins; /* of each node: which one it is of the draft */
    uint32_t nNodes, nTensors, nGraphs, nIndices, nInputs;
} nnrti_part_making;

/* Adds tensor t of the draft; inner: of a subgraph, as the model declares it, because its dimensions may vary between
   iterations. false: no memory. */
static bool nnrti_part_tensor(nnrti_part_making *p, uint32_t t, bool inner)
{
    const nnrt_draft *d = p->s->draft;
    const nnrt_operand *o = &d->tensors[t];
    NNRT_Tensor *made = &p->tensors[p->nTensors];
    int32_t *dims = (int32_t *)nnrt_memory_keep_array(p->s->memory, (size_t)o->rank + 1, sizeof(*dims));
    if (dims == NULL)
        return false;
    p->s->numbers[t] = p->nTensors;
    p->added[p->nTensors++] = t;
    *made = d->model->allTensors.data[t];
    made->symbols.count = 0;
    made->dataType = o->dataType;
    if (inner)
        return true;
    for (int32_t k = 0; k < o->rank; k++)
        dims[k] = o->symbols[k] != 0 ? -1 : o->dims[k];
    made->dims = NNRT_Int32List_make(dims, (uint32_t)o->rank);
    made->format = o->format;
    return true;
}

/* Tensor t, which the part does not write, is a constant of it or an input. */
static bool nnrti_part_read(nnrti_part_making *p, uint32_t t)
{
    const nnrt_draft *d = p->s->draft;
    const nnrt_operand *o = &d->tensors[t];
    NNRT_Tensor *made = &p->tensors[p->nTensors];
    if (!nnrti_part_tensor(p, t, false))
        return false;
    if ((made->data.addr != NULL || made->data.dataSize != 0))
        return true;
    if (nnrt_draft_known(d, t)) {
        memset(&made->data, 0, sizeof(made->data));
        made->data.fd = -1;
        made->data.addr = (void *)(uintptr_t)o->data;
        made->data.bufferSize = made->data.dataSize = (uint32_t)d->bytes[t];
        return true;
    }
    p->borders[p->nInputs++] = t;
    if (nnrti_tensor_open(d, t)) {
        uint32_t *symbols = (uint32_t *)nnrt_memory_keep_array(p->s->memory, (size_t)o->rank, sizeof(*symbols));
        if (symbols == NULL)
            return false;
        memcpy(symbols, o->symbols, (size_t)o->rank * sizeof(*symbols));
        made->symbols = NNRT_Uint32List_make(symbols, (uint32_t)o->rank);
    }
    return true;
}

/* A list of the part. */
static bool nnrti_part_list(nnrti_part_making *p, const NNRT_Uint32List *from, NNRT_Uint32List *to)
{
    uint32_t *list = p->indices + p->nIndices;
    p->nIndices += from->count;
    *to = NNRT_Uint32List_make(list, from->count);
    for (uint32_t i = 0; i < from->count; i++) {
        const uint32_t t = from->data[i];
        if (t != NNRT_NO_TENSOR && p->s->numbers[t] == NNRT_NO_TENSOR && !nnrti_part_read(p, t))
            return false;
        list[i] = t != NNRT_NO_TENSOR ? p->s->numbers[t] : NNRT_NO_TENSOR;
    }
    return true;
}

static const NNRT_SubGraph *nnrti_part_graph_of(const nnrti_part_making *p, uint32_t n, uint32_t k)
{
    const NNRT_Model *m = p->s->draft->model;
    const uint32_t g = nnrt_node_graph(&m->nodes.data[n], k);
    return g != NNRT_NO_GRAPH ? &m->subGraph.data[g] : NULL;
}

/* Counts the room for node n, with all that it runs. */
static void nnrti_part_count(const nnrti_part_making *p, uint32_t n, nnrti_part_making *room)
{
    const NNRT_Node *node = &p->s->draft->model->nodes.data[n];
    room->nNodes++;
    room->nIndices += node->inputIndex.count + node->outputIndex.count + 1;
    for (uint32_t k = 0; k < nnrt_node_graphs(node); k++) {
        const NNRT_SubGraph *graph = nnrti_part_graph_of(p, n, k);
        if (graph == NULL)
            continue;
        room->nGraphs++;
        room->nIndices += graph->inputIndices.count + graph->outputIndices.count;
        for (uint32_t i = 0; i < graph->nodeIndices.count; i++)
            nnrti_part_count(p, graph->nodeIndices.data[i], room);
    }
}

/* Adds the outputs of node n, with all that it runs. */
static bool nnrti_part_written(nnrti_part_making *p, uint32_t n, bool inner)
{
    const NNRT_Node *node = &p->s->draft->model->nodes.data[n];
    for (uint32_t i = 0; i < node->outputIndex.count; i++)
        if (node->outputIndex.data[i] != NNRT_NO_TENSOR && !nnrti_part_tensor(p, node->outputIndex.data[i], inner))
            return false;
    for (uint32_t k = 0; k < nnrt_node_graphs(node); k++) {
        const NNRT_SubGraph *graph = nnrti_part_graph_of(p, n, k);
        for (uint32_t i = 0; graph != NULL && i < graph->inputIndices.count; i++)
            if (!nnrti_part_tensor(p, graph->inputIndices.data[i], true))
                return false;
        for (uint32_t i = 0; graph != NULL && i < graph->nodeIndices.count; i++)
            if (!nnrti_part_written(p, graph->nodeIndices.data[i], true))
                return false;
    }
    return true;
}

static bool nnrti_part_subgraph(nnrti_part_making *p, const NNRT_SubGraph *graph);

/* Adds node n, with all that it runs; *number: that in the part. */
static bool nnrti_part_node(nnrti_part_making *p, uint32_t n, uint32_t *number)
{
    const NNRT_Node *node = &p->s->draft->model->nodes.data[n];
    NNRT_Node *made = &p->nodes[p->nNodes];
    uint8_t *attr = NULL;
    p->origins[p->nNodes] = n;
    *number = p->nNodes++;
    *made = *node;
    if (!nnrti_part_list(p, &node->inputIndex, &made->inputIndex) ||
        !nnrti_part_list(p, &node->outputIndex, &made->outputIndex))
        return false;
    for (uint32_t k = 0; k < nnrt_node_graphs(node); k++) {
        const NNRT_SubGraph *graph = nnrti_part_graph_of(p, n, k);
        const uint32_t g = p->nGraphs;
        if (graph == NULL)
            continue;
        if (attr == NULL) {
            attr = (uint8_t *)nnrt_memory_keep(p->s->memory, node->nodeAttr.size);
            if (attr == NULL)
                return false;
            memcpy(attr, node->nodeAttr.data, node->nodeAttr.size);
            made->nodeAttr.data = attr;
        }
        memcpy(attr + nnrt_op_find(node->nodeType)->attr->members[k].offset, &g, sizeof(g));
        if (!nnrti_part_subgraph(p, graph))
            return false;
    }
    return true;
}

static bool nnrti_part_subgraph(nnrti_part_making *p, const NNRT_SubGraph *graph)
{
    NNRT_SubGraph *made = &p->graphs[p->nGraphs++];
    uint32_t *nodes = p->indices + p->nIndices;
    made->name = nnrti_auto_text(graph->name);
    made->nodeIndices = NNRT_Uint32List_make(nodes, graph->nodeIndices.count);
    p->nIndices += graph->nodeIndices.count;
    if (!nnrti_part_list(p, &graph->inputIndices, &made->inputIndices))
        return false;
    for (uint32_t i = 0; i < graph->nodeIndices.count; i++)
        if (!nnrti_part_node(p, graph->nodeIndices.data[i], &nodes[i]))
            return false;
    return nnrti_part_list(p, &graph->outputIndices, &made->outputIndices);
}

/* Does group g read tensor t, and another one write it, or nobody? */
static bool nnrti_part_reads(const nnrti_split *s, uint32_t g, uint32_t t)
{
    return s->writer[t] == UINT32_MAX || s->group[s->writer[t]] != g;
}

/* Does node n of group g read values that the draft follows through the model, and the part does not? Then nothing else
   bounds its results. */
static bool nnrti_part_blind(const nnrti_split *s, uint32_t g, int32_t n)
{
    const NNRT_Uint32List *in = &s->draft->model->nodes.data[n].inputIndex;
    for (uint32_t i = 0; i < in->count; i++)
        if (in->data[i] != NNRT_NO_TENSOR && s->draft->tensors[in->data[i]].data != NULL &&
            !nnrt_draft_known(s->draft, in->data[i]) && nnrti_part_reads(s, g, in->data[i]))
            return true;
    return false;
}

/* The upper bounds of dynamic dimensions: of inputs, of results that the configuration bounds, and of data-dependent
   ones. false: no memory. */
static bool nnrti_part_bounds(const nnrti_part_making *p, uint32_t g, nnrt_bound_list *list)
{
    const nnrti_split *s = p->s;
    nnrt_bound *bounds = (nnrt_bound *)nnrt_memory_temp_array(s->memory, p->nTensors, sizeof(*bounds));
    uint32_t count = 0;
    for (uint32_t i = 0; bounds != NULL && i < p->nTensors; i++) {
        const uint32_t t = p->added[i];
        const nnrt_operand *o = &s->draft->tensors[t];
        const bool reads = nnrti_part_reads(s, g, t);
        if (!nnrti_tensor_open(s->draft, t) || !(reads || nnrt_bound_of(&s->bounds, o->name) != NULL ||
                                                 nnrti_part_blind(s, g, s->draft->steps[s->writer[t]].node)))
            continue;
        bounds[count].tensor = o->name;
        bounds[count].most.rank = o->rank;
        memcpy(bounds[count++].most.dims, o->dims, (size_t)o->rank * sizeof(o->dims[0]));
    }
    *list = nnrt_bound_list_make(bounds, count);
    return bounds != NULL;
}

/* The descriptions of inputs and outputs for each run, with their upper bounds. false: no memory. */
static bool nnrti_part_io(const nnrti_part_making *p, nnrti_auto_part *part, const uint32_t *borders, uint32_t count)
{
    const nnrt_draft *d = p->s->draft;
    bool open = false;
    part->io = (NNRT_IOTensor *)nnrt_memory_keep_array(p->s->memory, count, sizeof(*part->io));
    for (uint32_t i = 0; part->io != NULL && i < count; i++) {
        const nnrt_operand *o = &d->tensors[borders[i]];
        int32_t *dims = (int32_t *)nnrt_memory_keep_array(p->s->memory, (size_t)o->rank + 1, sizeof(*dims));
        if (dims == NULL)
            return false;
        memcpy(dims, o->dims, (size_t)o->rank * sizeof(*dims));
        part->io[i].name = o->name;
        part->io[i].dataType = o->dataType;
        part->io[i].dimensions = NNRT_Int32List_make(dims, (uint32_t)o->rank);
        part->io[i].format = o->format;
        part->io[i].data.fd = -1;
        part->io[i].data.bufferSize = part->io[i].data.dataSize = (uint32_t)d->bytes[borders[i]];
        open = open || nnrti_tensor_open(d, borders[i]);
    }
    if (part->io == NULL || !open)
        return part->io != NULL;
    part->symbols = (uint32_t *)nnrt_memory_keep_array(p->s->memory, count, NNRTI_AUTO_DIMS * sizeof(*part->symbols));
    for (uint32_t i = 0; part->symbols != NULL && i < count; i++)
        memcpy(part->symbols + (size_t)i * NNRTI_AUTO_DIMS, d->tensors[borders[i]].symbols,
               (size_t)d->tensors[borders[i]].rank * sizeof(*part->symbols));
    return part->symbols != NULL;
}

/* The model of group g, in part->model. Its inputs and outputs are tensors of the draft in *borders, one behind the
   other. false: no memory. */
static bool nnrti_part_model(nnrti_split *s, uint32_t g, nnrti_auto_part *part, uint32_t **borders)
{
    const nnrt_draft *d = s->draft;
    const uint32_t *member = s->members + s->first[g], *end = s->members + s->first[g + 1];
    nnrti_part_making p, room;
    uint32_t nOutputs = 0, nNodes = 0, *own, *nodes;
    bool fits = true;
    memset(&p, 0, sizeof(p));
    memset(&room, 0, sizeof(room));
    p.s = s;
    for (const uint32_t *m = member; m < end; m++)
        if (s->unit[*m] == *m) {
            nnrti_part_count(&p, (uint32_t)d->steps[*m].node, &room);
            nNodes++;
        }
    p.nodes = (NNRT_Node *)nnrt_memory_keep_array(s->memory, room.nNodes, sizeof(*p.nodes));
    p.tensors = (NNRT_Tensor *)nnrt_memory_keep_array(s->memory, room.nIndices, sizeof(*p.tensors));
    p.graphs = (NNRT_SubGraph *)nnrt_memory_keep_array(s->memory, (size_t)room.nGraphs + 1, sizeof(*p.graphs));
    p.indices = (uint32_t *)nnrt_memory_keep_array(s->memory, room.nIndices, sizeof(*p.indices));
    own = (uint32_t *)nnrt_memory_keep_array(s->memory, (size_t)room.nIndices + nNodes, sizeof(*own));
    p.origins = (uint32_t *)nnrt_memory_keep_array(s->memory, room.nNodes, sizeof(*p.origins));
    p.borders = (uint32_t *)nnrt_memory_temp_array(s->memory, room.nIndices, sizeof(*p.borders));
    p.added = (uint32_t *)nnrt_memory_temp_array(s->memory, room.nIndices, sizeof(*p.added));
    if (s->memory->full)
        return false;
    nodes = own + room.nIndices;
    p.nGraphs = 1;
    nNodes = 0;
    for (const uint32_t *m = member; m < end && fits; m++)
        fits = s->unit[*m] != *m || nnrti_part_written(&p, (uint32_t)d->steps[*m].node, false);
    for (const uint32_t *m = member; m < end && fits; m++)
        fits = s->unit[*m] != *m || nnrti_part_node(&p, (uint32_t)d->steps[*m].node, &nodes[nNodes++]);
    for (const uint32_t *m = member; m < end && fits; m++)
        for (uint32_t k = 0; k < d->steps[*m].nOut; k++) {
            const uint32_t t = nnrti_auto_out(&d->steps[*m], k)->tensor;
            if (t != NNRT_NO_TENSOR && s->given[t])
                p.borders[p.nInputs + nOutputs++] = t;
        }
    for (uint32_t i = 0; i < p.nInputs + nOutputs && fits; i++)
        own[i] = s->numbers[p.borders[i]];
    fits = fits && nnrti_part_bounds(&p, g, &part->bounds) && nnrti_part_io(&p, part, p.borders, p.nInputs + nOutputs);
    for (uint32_t i = 0; i < p.nTensors; i++)
        s->numbers[p.added[i]] = NNRT_NO_TENSOR;
    p.graphs->name = part->model.name = nnrti_auto_text(d->model->name);
    p.graphs->inputIndices = part->model.inputIndex = NNRT_Uint32List_make(own, p.nInputs);
    p.graphs->outputIndices = part->model.outputIndex = NNRT_Uint32List_make(own + p.nInputs, nOutputs);
    p.graphs->nodeIndices = NNRT_Uint32List_make(nodes, nNodes);
    part->nodes = p.origins;
    part->model.nodes = NNRT_NodeList_make(p.nodes, p.nNodes);
    part->model.allTensors = NNRT_TensorList_make(p.tensors, p.nTensors);
    part->model.subGraph = NNRT_SubGraphList_make(p.graphs, p.nGraphs);
    *borders = p.borders;
    return fits;
}

/* Whether the range of input i that the device reports contains every dimension of a run. */
static bool nnrti_part_range(const nnrti_auto_part *part, uint32_t i, const nnrt_dims *least, const nnrt_dims *most)
{
    const NNRT_IOTensor *io = &part->io[i];
    for (uint32_t k = 0; k < io->dimensions.count; k++) {
        const bool open = part->symbols != NULL && part->symbols[(size_t)i * NNRTI_AUTO_DIMS + k] != 0;
        if (least->dims[k] > (open ? 1 : io->dimensions.data[k]) || most->dims[k] < io->dimensions.data[k])
            return false;
    }
    return true;
}

/* Rule: a prepared partition reports the types and shapes of the draft for its inputs and outputs. */
static NNRT_ReturnCode nnrti_part_agrees(const nnrti_auto_part *part, bool output, uint32_t i, nnrt_error *error)
{
    const uint32_t at = output ? part->model.inputIndex.count + i : i;
    const NNRT_IOTensor *io = &part->io[at];
    NNRT_DataType type = io->dataType;
    nnrt_dims shape, least, most;
    NNRT_ReturnCode code = NNRT_NOT_SUPPORT;
    bool same = true;
    memset(&shape, 0, sizeof(shape));
    if (NNRTI_AUTO_HAS(part->prepared, GetIO))
        code = part->prepared->vtbl->GetIO(part->prepared, output, i, &type, &shape);
    if (code == NNRT_SUCCESS)
        same = type == io->dataType && shape.rank == (int32_t)io->dimensions.count;
    else if (code != NNRT_NOT_SUPPORT)
        return code;
    for (int32_t k = 0; code == NNRT_SUCCESS && same && k < shape.rank; k++)
        same = shape.dims[k] == io->dimensions.data[k];
    if (same && !output && NNRTI_AUTO_HAS(part->prepared, GetInputDimRanges) &&
        part->prepared->vtbl->GetInputDimRanges(part->prepared, i, &least, &most) == NNRT_SUCCESS)
        same = nnrti_part_range(part, at, &least, &most);
    return same ? NNRT_SUCCESS
                : nnrt_error_set(error, NNRT_DEVICE_ERROR, "device '%s' has another shape for %s %u '%s' of its part",
                                 nnrt_device_unique_name(part->device), output ? "output" : "input", i, io->name);
}

/* Reserves room for the memory that a partition has taken itself. false: there is none. */
static bool nnrti_split_take(nnrt_memory *m, size_t bytes, size_t staying)
{
    size_t front, most;
    if (!nnrt_round_size(m->front, NNRT_ALIGNMENT, &front) || !nnrt_round_size(bytes, NNRT_ALIGNMENT, &bytes) ||
        !nnrt_round_size(staying, NNRT_ALIGNMENT, &staying) ||
        !nnrt_add_size(front, bytes > staying ? bytes : staying, &most) || !nnrt_add_size(most, m->back, &most) ||
        most > m->size)
        return false;
    m->front = front + staying;
    m->frontPeak = m->front > m->frontPeak ? m->front : m->frontPeak;
    m->peak = most > m->peak ? most : m->peak;
    return true;
}

/* Forwards a profiled step of the partition's device, with the node's index in the whole model; -1 for an unknown
   one. */
static void nnrti_part_tell(void *user, const nnrt_profile_step *step)
{
    const nnrti_auto_part *part = (const nnrti_auto_part *)user;
    nnrt_profile_step told = *step;
    told.depth++;
    told.node =
        step->node >= 0 && (uint32_t)step->node < part->model.nodes.count ? (int32_t)part->nodes[step->node] : -1;
    part->to->step(part->to->user, &told);
}

static uint64_t nnrti_part_clock(void *user)
{
    const nnrti_auto_part *part = (const nnrti_auto_part *)user;
    return part->to->clock(part->to->user);
}

/* The threads of a partition: all threads of the model; concurrent partitions have one each. */
static void nnrti_part_threads(void *user, uint32_t count, void (*task)(void *arg, uint32_t i, uint32_t worker),
                               void *arg)
{
    const nnrti_auto_part *part = (const nnrti_auto_part *)user;
    if (part->place == NNRT_NO_TENSOR)
        part->threads->run(part->threads->user, count, task, arg);
    else
        for (uint32_t i = 0; i < count; i++)
            task(arg, i, 0);
}

/* The configuration with which the device of the part prepares it: profile and threads pass through the part. */
static NNRT_ModelConfig nnrti_part_config(const nnrti_split *s, nnrti_auto_part *part, nnrt_error *error)
{
    NNRT_ModelConfig own = *s->config;
    own.structSize = 0;
    own.error = error;
    own.autoDevices = NULL;
    own.partition = NULL;
    part->to = own.profile;
    part->profile.step = nnrti_part_tell;
    part->profile.clock = nnrti_part_clock;
    part->profile.user = part;
    own.profile = part->to != NULL ? &part->profile : NULL;
    part->place = NNRT_NO_TENSOR;
    part->threads = own.parallel;
    if (part->threads != NULL) {
        part->pool.run = nnrti_part_threads;
        part->pool.user = part;
        part->pool.workers = part->threads->workers;
        own.parallel = &part->pool;
    }
    own.callerWorkspace = true;
    own.copyConstants = false; /* the draft's are copies, if the caller wants some */
    own.inputDims = nnrt_dims_list_make(NULL, 0);
    own.bounds = part->bounds;
    own.buffer = NULL;
    nnrti_auto_allowed(part->device, &own);
    return own;
}

/* Asks the prepared part for its sizes, *kept and part->workspace, and compares its inputs and outputs with the plan's.
   peak: bytes that the preparation may take, an upper bound of *kept if exact. */
static NNRT_ReturnCode nnrti_part_verify(nnrti_auto_part *part, bool exact, size_t peak, size_t *kept,
                                         nnrt_error *error)
{
    NNRT_ReturnCode code = NNRT_SUCCESS;
    nnrt_prepared_memory figures;
    memset(&figures, 0, sizeof(figures));
    *kept = peak;
    if (NNRTI_AUTO_HAS(part->prepared, GetMemory) &&
        (code = part->prepared->vtbl->GetMemory(part->prepared, &figures)) == NNRT_SUCCESS)
        *kept = figures.tables;
    part->workspace = 0;
    if (code == NNRT_SUCCESS && NNRTI_AUTO_RUNS_IN(part->prepared))
        code = part->prepared->vtbl->GetWorkspaceSize(part->prepared, &part->workspace);
    if (code != NNRT_SUCCESS)
        (void)nnrt_error_set(error, code, "device '%s' has prepared its part, but does not tell its memory: %s (%d)",
                             nnrt_device_unique_name(part->device), nnrt_code_name(code), code);
    for (uint32_t i = 0; i < part->model.inputIndex.count && code == NNRT_SUCCESS; i++)
        code = nnrti_part_agrees(part, false, i, error);
    for (uint32_t i = 0; i < part->model.outputIndex.count && code == NNRT_SUCCESS; i++)
        code = nnrti_part_agrees(part, true, i, error);
    if (code == NNRT_SUCCESS && (part->workspace > SIZE_MAX / 4 || *kept > SIZE_MAX / 4 || (exact && *kept > peak)))
        code = nnrt_error_set(error, NNRT_DEVICE_ERROR, "device '%s' reports invalid sizes: workspace %z, kept %z",
                              nnrt_device_unique_name(part->device), part->workspace, *kept);
    return code;
}

/* Whether a device refused an option of the caller: a fault of the call. Another device would ignore the option, and compute
   otherwise than the caller wants. */
static bool nnrti_auto_bad_option(NNRT_ReturnCode code, const NNRT_ModelConfig *config)
{
    return code == NNRT_INVALID_PARAMETER && config->extensions.count > 0;
}

/* Prepares the part on its device. *ours: the cause of a failure is not the device. */
static NNRT_ReturnCode nnrti_part_prepare(const nnrti_split *s, nnrti_auto_part *part, nnrt_error *error, bool *ours)
{
    NNRT_ModelConfig own = nnrti_part_config(s, part, error);
    size_t front = 0, peak = 0, kept = 0;
    const bool exact = s->counting || s->config->buffer != NULL;
    NNRT_ReturnCode code;
    if (exact && !nnrt_device_can(part->device, NNRT_ABILITY_TELL_MEMORY, NULL)) {
        *ours = true;
        return nnrt_error_set(error, NNRT_NOT_SUPPORT,
                              "device '%s' does not tell how much memory its part takes: it cannot share a buffer",
                              nnrt_device_unique_name(part->device));
    }
    if (exact && (code = nnrt_device_model_memory(part->device, &part->model, &own, &peak)) != NNRT_SUCCESS) {
        *ours = nnrti_auto_bad_option(code, s->config);
        return code;
    }
    if (s->config->buffer != NULL) {
        if (!nnrt_round_size(s->memory->front, NNRT_ALIGNMENT, &front) || s->memory->size < s->memory->back ||
            s->memory->size - s->memory->back < front || s->memory->size - s->memory->back - front < peak) {
            *ours = true;
            return nnrti_auto_no_memory(error);
        }
        own.buffer = s->memory->base + front;
        own.bufferBytes = s->memory->size - s->memory->back - front;
    }
    code = nnrt_device_prepare(part->device, &part->model, &own, &part->prepared);
    *ours = nnrti_auto_bad_option(code, s->config);
    if (code != NNRT_SUCCESS)
        return code;
    code = nnrti_part_verify(part, exact, peak, &kept, error);
    if (code == NNRT_SUCCESS && !nnrti_split_take(s->memory, peak, kept)) {
        *ours = true;
        code = nnrti_auto_no_memory(error);
    }
    if (code != NNRT_SUCCESS) {
        nnrt_device_release(part->device, part->prepared);
        part->prepared = NULL;
    }
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>run */

/* Layout of the scratch of a partition's kernel, aligned: the tensors, with dynamic shapes the dimensions of the
   outputs, then the workspace. */
static bool nnrti_part_scratch(const nnrti_auto_part *part, size_t *tensors, size_t *total)
{
    size_t workspace = 0, dims;
    for (const nnrti_auto_part *p = part; p != NULL; p = p->other)
        workspace = p->workspace > workspace ? p->workspace : workspace;
    return nnrt_mul_size((size_t)part->model.inputIndex.count + part->model.outputIndex.count, sizeof(NNRT_IOTensor),
                         tensors) &&
           nnrt_mul_size(part->symbols != NULL ? part->model.outputIndex.count : 0, sizeof(nnrt_dims), &dims) &&
           nnrt_add_size(*tensors, dims, tensors) && nnrt_round_size(*tensors, NNRT_ALIGNMENT, tensors) &&
           nnrt_add_size(*tensors, workspace, total) && nnrt_add_size(*total, NNRT_ALIGNMENT, total);
}

/* Whether a run failed because of its device, so that another one may succeed. By HDI these codes are FAILED and
   DEVICE_ERROR (the computation), TIME_OUT, SERVICE_ERROR and negative codes (the way to the driver), DEVICE_BUSY,
   and those for memory, methods, operators, states and rights that the device lacks. The others concern the arguments
   of the run, shapes, buffers, values, or a cancellation: every device would return them. */
static bool nnrti_device_fault(NNRT_ReturnCode code)
{
    switch (code) {
    case NNRT_FAILED:
    case NNRT_MEMORY_ERROR:
    case NNRT_OUT_OF_MEMORY:
    case NNRT_OPERATION_FORBIDDEN:
    case NNRT_NOT_SUPPORT:
    case NNRT_SERVICE_ERROR:
    case NNRT_DEVICE_ERROR:
    case NNRT_DEVICE_BUSY:
    case NNRT_PERMISSION_DENIED:
    case NNRT_TIME_OUT:
    case NNRT_UNSUPPORTED_OP: return true;
    default: return code < 0;
    }
}

/* Whether `now` is a valid size of axis k of boundary tensor i: as planned if fixed; otherwise at most its upper
   bound, and equal to the dimensions of inputs with the same symbol. args: views of the inputs; NULL: it is empty, of
   an empty one, and RESHAPE may see it so. */
static bool nnrti_part_extent(const nnrti_auto_part *part, const nnrt_view *args, uint32_t i, uint32_t k, int32_t now)
{
    const int32_t most = part->io[i].dimensions.data[k];
    const uint32_t symbol = part->symbols[(size_t)i * NNRTI_AUTO_DIMS + k];
    bool same = symbol != 0 ? now >= 0 && now <= most : now == most;
    for (uint32_t n = 0; symbol != 0 && args != NULL && n < part->model.inputIndex.count; n++)
        for (int32_t a = 0; a < args[n].rank; a++)
            same = same && (part->symbols[(size_t)n * NNRTI_AUTO_DIMS + (uint32_t)a] != symbol || args[n].dims[a] == now);
    return same;
}

/* Stores the dimensions of the outputs that the device reports, if they are valid. */
static NNRT_ReturnCode nnrti_part_told(const nnrti_auto_part *part, nnrt_view *args, const nnrt_dims *told,
                                       nnrt_error *error)
{
    const uint32_t nIn = part->model.inputIndex.count;
    bool empty = false;
    for (uint32_t i = 0; i < nIn; i++)
        for (int32_t k = 0; k < args[i].rank; k++)
            empty = empty || args[i].dims[k] == 0;
    for (uint32_t i = 0; i < part->model.outputIndex.count; i++) {
        const NNRT_IOTensor *io = &part->io[nIn + i];
        bool same = told[i].rank == (int32_t)io->dimensions.count, none = false;
        for (uint32_t k = 0; same && empty && k < io->dimensions.count; k++)
            none = none || told[i].dims[k] == 0;
        for (uint32_t k = 0; same && k < io->dimensions.count; k++)
            same = nnrti_part_extent(part, none ? NULL : args, nIn + i, k, told[i].dims[k]);
        if (!same)
            return nnrt_error_set(error, NNRT_DEVICE_ERROR, "it reports invalid dimensions of output %u '%s'", i,
                                  io->name);
        memcpy(args[nIn + i].dims, told[i].dims, io->dimensions.count * sizeof(told[i].dims[0]));
    }
    return NNRT_SUCCESS;
}

/* The kernel of a partition. With dynamic shapes args have the dimensions of the inputs, and receive those of the
   outputs. */
static NNRT_ReturnCode nnrti_part_run(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_auto_part *part = (const nnrti_auto_part *)attr;
    const uint32_t nIn = part->model.inputIndex.count, nOut = part->model.outputIndex.count;
    uint8_t *at = (uint8_t *)call->scratch;
    NNRT_IOTensor *io;
    nnrt_dims *told = NULL;
    size_t tensors = 0, total, bytes;
    nnrt_error own;
    NNRT_ReturnCode code;
    at += (NNRT_ALIGNMENT - (uintptr_t)at % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
    io = (NNRT_IOTensor *)(void *)at;
    (void)nnrti_part_scratch(part, &tensors, &total);
    memcpy(io, part->io, (nIn + nOut) * sizeof(*io));
    for (uint32_t i = 0; i < nIn + nOut; i++)
        io[i].data.addr = args[i].data;
    if (part->symbols != NULL)
        told = (nnrt_dims *)(void *)(io + nIn + nOut);
    for (uint32_t i = 0; told != NULL && i < nIn; i++) {
        io[i].dimensions.data = args[i].dims;
        if (nnrt_dims_bytes(args[i].dims, args[i].rank, args[i].dataType, &bytes))
            io[i].data.bufferSize = io[i].data.dataSize = (uint32_t)bytes;
    }
    for (;; part = part->other) {
        const bool within = NNRTI_AUTO_RUNS_IN(part->prepared);
        memset(&own, 0, sizeof(own));
        for (uint32_t i = 0; told != NULL && i < nOut; i++)
            told[i].rank = -1;
        code = nnrt_prepared_run(part->prepared, within ? at + tensors : NULL, within ? part->workspace : 0, io, nIn,
                                 io + nIn, nOut, told, call->stop, &own);
        if (code == NNRT_SUCCESS && told != NULL)
            code = nnrti_part_told(part, args, told, &own);
        if (part->other == NULL || !nnrti_device_fault(code))
            break;
    }
    return code == NNRT_SUCCESS ? code
                                : nnrt_error_set(call->error, code, "part %u, on device '%s': %s", part->number,
                                                 nnrt_device_unique_name(part->device), own.message);
}

/* Group g, which is prepared, becomes one step, at its first one. */
static NNRT_ReturnCode nnrti_part_step(nnrti_split *s, uint32_t g, const nnrti_auto_part *part, const uint32_t *borders)
{
    nnrt_draft *d = s->draft;
    const uint32_t nIn = part->model.inputIndex.count, nOut = part->model.outputIndex.count;
    nnrt_plan_arg *args = (nnrt_plan_arg *)nnrt_memory_temp_array(s->memory, (size_t)nIn + nOut, sizeof(*args));
    nnrt_draft_step made;
    size_t tensors, total;
    memset(&made, 0, sizeof(made));
    if (part->symbols != NULL) { /* its outputs stay in the arena: the device needs room for the upper bounds */
        made.nIn = nIn;
        made.nOut = nOut;
        (void)nnrt_draft_make_dynamic(d, &made);
    }
    if (s->memory->full || !nnrti_part_scratch(part, &tensors, &total))
        return nnrti_auto_no_memory(s->config->error);
    for (uint32_t i = 0; i < nIn + nOut; i++)
        nnrt_draft_arg(d, borders[i], &args[i]);
    made.kernel = nnrti_part_run;
    made.kernelName = "nnrti_part_run";
    made.attr = part;
    made.name = d->steps[g].name;
    made.node = d->steps[g].node;
    made.args = args;
    made.nIn = nIn;
    made.nOut = nOut;
    made.scratchBytes = total / d->workers + 1; /* the pieces of all workers are one */
    for (uint32_t m = s->first[g]; m < s->first[g + 1]; m++) {
        s->partOf[d->steps[s->members[m]].node] = part->number;
        d->steps[s->members[m]].kernel = NULL;
    }
    d->steps[g] = made;
    return NNRT_SUCCESS;
}

/* The next device behind number *k that takes all of the part. */
static bool nnrti_part_next(const nnrti_split *s, nnrti_auto_part *part, uint8_t *k)
{
    nnrt_allocator allocator;
    NNRT_ModelConfig own = nnrti_split_asking(s, &allocator);
    own.inputDims = nnrt_dims_list_make(NULL, 0);
    own.bounds = part->bounds;
    for ((*k)++; *k < s->list->count && !nnrti_auto_is_reference(s->list->devices[*k]); (*k)++) {
        bool any;
        part->device = s->list->devices[*k];
        if (!s->list->failed[*k] &&
            (part->symbols == NULL || nnrt_device_can(part->device, NNRT_ABILITY_DYNAMIC_INPUT, NULL)) &&
            nnrti_takes_all(part->device, &part->model, &own, &any))
            return true;
    }
    return false;
}

/* Takes a part that is prepared into the list. */
static void nnrti_split_own(nnrti_split *s, nnrti_auto_part *part)
{
    part->next = s->parts;
    s->parts = part;
}

/* Prepares the partition of device number k also on the devices after it (fallback). */
static NNRT_ReturnCode nnrti_part_others(nnrti_split *s, nnrti_auto_part *part, uint8_t k)
{
    nnrti_auto_part *last = part;
    for (bool more = true; more;) {
        nnrti_auto_part *other = (nnrti_auto_part *)nnrt_memory_keep(s->memory, sizeof(*other));
        bool ours = false;
        nnrt_error error;
        NNRT_ReturnCode code;
        if (other == NULL)
            return nnrti_auto_no_memory(s->config->error);
        *other = *part;
        other->prepared = NULL;
        other->next = other->other = NULL;
        other->spare = true;
        more = nnrti_part_next(s, other, &k);
        if (!more)
            other->device = nnrt_device_find("reference");
        memset(&error, 0, sizeof(error));
        code = nnrti_part_prepare(s, other, &error, &ours);
        if (code == NNRT_SUCCESS) {
            nnrti_split_own(s, other);
            last = last->other = other;
        } else if (ours || !more || s->memory->full) {
            return nnrt_error_set(s->config->error, code, "%s", error.message);
        }
    }
    return NNRT_SUCCESS;
}

/* All nodes of group g go to device number k, or to the reference device. */
static void nnrti_split_move(nnrti_split *s, uint32_t g, uint8_t k, uint8_t why)
{
    for (uint32_t m = s->first[g]; m < s->first[g + 1]; m++) {
        const int32_t node = s->draft->steps[s->members[m]].node;
        s->owner[node] = k;
        s->why[node] = why;
    }
}

/* The steps of group g stay with the reference device; each unit is a group of its own again. */
static void nnrti_split_dissolve(nnrti_split *s, uint32_t g, uint8_t why)
{
    nnrti_split_move(s, g, NNRTI_AUTO_HOST, why);
    for (uint32_t m = s->first[g]; m < s->first[g + 1]; m++)
        s->group[s->members[m]] = s->unit[s->members[m]];
}

#if NNRT_ASSERTS
/* Steps are sorted: none reads a tensor that only a later step writes. Uses s->writer. */
static bool nnrti_split_sorted(const nnrti_split *s)
{
    const nnrt_draft *d = s->draft;
    bool sorted = true;
    for (uint32_t t = 0; t < d->nTensors; t++)
        s->writer[t] = UINT32_MAX;
    for (uint32_t i = d->nSteps; i-- > 0;) {
        for (uint32_t k = 0; k < d->steps[i].nOut; k++)
            if (nnrti_auto_out(&d->steps[i], k)->tensor != NNRT_NO_TENSOR)
                s->writer[nnrti_auto_out(&d->steps[i], k)->tensor] = i;
        for (uint32_t k = 0; k < d->steps[i].nIn; k++)
            sorted = sorted && (d->steps[i].args[k].tensor == NNRT_NO_TENSOR ||
                                d->steps[i].args[k].kind == NNRT_PLACE_CONSTANT ||
                                s->writer[d->steps[i].args[k].tensor] == UINT32_MAX);
    }
    return sorted;
}

/* All nodes of group g are assigned to one device. */
static bool nnrti_group_valid(const nnrti_split *s, uint32_t g)
{
    bool valid = true;
    for (uint32_t m = s->first[g]; m < s->first[g + 1]; m++) {
        const int32_t node = s->draft->steps[s->members[m]].node;
        valid = valid && node >= 0 && s->owner[node] == s->owner[s->draft->steps[g].node];
    }
    return valid;
}
#endif

/* Makes group g a part, on its device or one behind that. */
static NNRT_ReturnCode nnrti_split_part(nnrti_split *s, uint32_t g)
{
    nnrti_auto_part *part = (nnrti_auto_part *)nnrt_memory_keep(s->memory, sizeof(*part));
    uint8_t k = s->owner[s->draft->steps[g].node];
    uint32_t *borders;
    bool ours = false, more = true, large = false;
    nnrt_error error;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    NNRT_ASSERT(nnrti_group_valid(s, g));
    if (part == NULL || !nnrti_part_model(s, g, part, &borders))
        return nnrti_auto_no_memory(s->config->error);
    for (uint32_t i = 0; i < part->model.inputIndex.count + part->model.outputIndex.count; i++)
        large = large || (s->draft->bytes[borders[i]] >> 16) >> 16 != 0; /* no buffer of a run holds that */
    if (large || part->model.inputIndex.count == 0 || part->model.outputIndex.count == 0) {
        nnrti_split_dissolve(s, g, NNRTI_WHY_LONELY);
        return NNRT_SUCCESS;
    }
    if (s->config->partition != NULL && part->model.nodes.count < s->config->partition->smallest &&
        part->model.nodes.count < s->model->nodes.count) {
        nnrti_split_dissolve(s, g, NNRTI_WHY_SMALL);
        return NNRT_SUCCESS;
    }
    part->device = s->list->devices[k];
    part->number = s->nParts;
    while (more) {
        memset(&error, 0, sizeof(error));
        code = nnrti_part_prepare(s, part, &error, &ours);
        if (code != NNRT_SUCCESS)
            nnrti_first_fault(&s->fault, &error);
        more = code != NNRT_SUCCESS && !ours && nnrti_part_next(s, part, &k);
        if (more)
            nnrti_split_move(s, g, k, NNRTI_WHY_FAILED);
    }
    if (code == NNRT_SUCCESS) {
        nnrti_split_own(s, part);
        s->nParts++;
        if (nnrti_falls_back(s->config) && (code = nnrti_part_others(s, part, k)) != NNRT_SUCCESS)
            return code;
        return nnrti_part_step(s, g, part, borders);
    }
    if (ours)
        return nnrt_error_set(s->config->error, code, "%s", error.message);
    if (s->memory->full)
        return nnrti_auto_no_memory(s->config->error);
    if (nnrti_split_only(s))
        return nnrt_error_set(s->config->error, code, "strict: no device prepares the part of node %d '%s': %s",
                              s->draft->steps[g].node, s->draft->steps[g].name, error.message);
    nnrti_split_dissolve(s, g, NNRTI_WHY_FAILED);
    return NNRT_SUCCESS;
}

/* The last step of group g: a part is one, the others are units. */
static uint32_t nnrti_group_end(const nnrti_split *s, uint32_t g)
{
    return nnrti_split_node(s, g) != NULL ? g : nnrt_draft_unit_end(s->draft, g);
}

/* Topological sort of the steps: each group follows the groups that write its inputs, the earliest first. */
static NNRT_ReturnCode nnrti_split_sort(nnrti_split *s)
{
    nnrt_draft *d = s->draft;
    nnrt_draft_step *sorted = (nnrt_draft_step *)nnrt_memory_temp_array(s->memory, d->nSteps, sizeof(*sorted));
    size_t room = 1;
    uint32_t count = 0, depth, *stack;
    for (uint32_t i = 0; i < d->nSteps; i++)
        room += d->steps[i].kernel != NULL ? d->steps[i].nIn : 0;
    stack = (uint32_t *)nnrt_memory_temp_array(s->memory, room, sizeof(*stack));
    if (s->memory->full)
        return nnrti_auto_no_memory(s->config->error);
    memset(s->marks, 0, d->nSteps * sizeof(*s->marks)); /* 1: its givers are on the stack, 2: it is written */
    for (uint32_t i = 0; i < d->nSteps; i++) {
        depth = s->group[i] == i && d->steps[i].kernel != NULL ? 1 : 0;
        stack[0] = i;
        while (depth > 0) {
            const uint32_t g = stack[depth - 1], end = nnrti_group_end(s, g);
            const uint32_t mark = s->marks[g]++;
            if (mark == 0)
                for (uint32_t k = g; k <= end; k++)
                    for (uint32_t a = d->steps[k].nIn; a-- > 0;) {
                        const uint32_t giver = nnrti_split_giver(s, k, a);
                        if (giver != UINT32_MAX && s->marks[s->group[giver]] == 0 && s->group[giver] != g)
                            stack[depth++] = s->group[giver];
                    }
            else
                depth--;
            for (uint32_t k = g; k <= end && mark == 1; k++)
                sorted[count++] = d->steps[k];
        }
    }
    memcpy(d->steps, sorted, count * sizeof(*sorted));
    d->nSteps = count;
    NNRT_ASSERT(nnrti_split_sorted(s));
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>concurrent */

/* The state of a step of concurrent partitions in a run. */
typedef struct nnrti_joined_work {
    const nnrti_joined *joined;
    uint8_t *scratch;
} nnrti_joined_work;

static nnrti_joined_record *nnrti_joined_at(const nnrti_joined_work *w, uint32_t i)
{
    return (nnrti_joined_record *)(void *)(w->scratch + w->joined->parts[i].record);
}

static void nnrti_joined_task(void *arg, uint32_t i, uint32_t worker)
{
    const nnrti_joined_work *w = (const nnrti_joined_work *)arg;
    nnrti_joined_record *r = nnrti_joined_at(w, i);
    (void)worker;
    r->code = nnrti_part_run(w->joined->parts[i].part, (nnrt_view *)(void *)(r + 1), &r->call);
}

/* The fault of the first one that has failed counts, whichever came first. */
static NNRT_ReturnCode nnrti_joined_run(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_joined *joined = (const nnrti_joined *)attr;
    nnrti_joined_work w;
    w.joined = joined;
    w.scratch = (uint8_t *)call->scratch;
    w.scratch += (NNRT_ALIGNMENT - (uintptr_t)w.scratch % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
    for (uint32_t i = 0; i < joined->count; i++) {
        const nnrti_joined_part *p = &joined->parts[i];
        nnrti_joined_record *r = nnrti_joined_at(&w, i);
        nnrt_view *views = (nnrt_view *)(void *)(r + 1);
        const uint32_t nIn = p->part->model.inputIndex.count, nOut = p->part->model.outputIndex.count;
        memset(r, 0, sizeof(*r));
        memcpy(views, args + p->in, nIn * sizeof(*views));
        memcpy(views + nIn, args + p->out, nOut * sizeof(*views));
        r->call = *call;
        r->call.nIn = nIn;
        r->call.nOut = nOut;
        r->call.scratch = views + nIn + nOut;
        r->call.parallel = NULL;
        r->call.error = &r->error;
    }
    nnrt_parallel_for(call, joined->count, nnrti_joined_task, &w);
    for (uint32_t i = 0; i < joined->count; i++) {
        const nnrti_joined_part *p = &joined->parts[i];
        const nnrti_joined_record *r = nnrti_joined_at(&w, i);
        if (r->code != NNRT_SUCCESS)
            return nnrt_error_set(call->error, r->code, "node %d '%s': %s", p->node, nnrti_auto_text(p->name),
                                  nnrti_auto_reason(&r->error));
    }
    return NNRT_SUCCESS;
}

/* Whether the step may run concurrently with the steps of group[0 .. count). Its inputs have been written before. */
static bool nnrti_joins(const nnrt_draft *d, const uint32_t *group, uint32_t count, uint32_t step,
                        const uint32_t *writer, const bool *placed)
{
    const nnrt_draft_step *x = &d->steps[step];
    bool joins = x->kernel == nnrti_part_run && x->open == NULL && count < NNRT_MAX_DEVICES;
    for (uint32_t i = 0; joins && i < count; i++)
        joins =
            ((const nnrti_auto_part *)d->steps[group[i]].attr)->device != ((const nnrti_auto_part *)x->attr)->device;
    for (uint32_t a = 0; joins && a < x->nIn; a++) {
        const uint32_t t = x->args[a].tensor;
        joins = t == NNRT_NO_TENSOR || writer[t] == UINT32_MAX || placed[writer[t]];
    }
    return joins;
}

/* The step that runs these at once. */
static NNRT_ReturnCode nnrti_joined_make(nnrti_split *s, const uint32_t *group, uint32_t count, nnrt_draft_step *made)
{
    const nnrt_draft *d = s->draft;
    nnrti_joined *joined = (nnrti_joined *)nnrt_memory_keep(s->memory, sizeof(*joined));
    size_t bytes = NNRT_ALIGNMENT;
    uint32_t nIn = 0, nOut = 0;
    nnrt_plan_arg *args;
    for (uint32_t i = 0; i < count; i++) {
        nIn += d->steps[group[i]].nIn;
        nOut += d->steps[group[i]].nOut;
    }
    args = (nnrt_plan_arg *)nnrt_memory_temp_array(s->memory, (size_t)nIn + nOut, sizeof(*args));
    if (joined == NULL || args == NULL)
        return nnrti_auto_no_memory(s->config->error);
    *made = d->steps[group[0]];
    made->kernel = nnrti_joined_run;
    made->kernelName = "nnrti_joined_run";
    made->attr = joined;
    made->args = args;
    made->nIn = made->nOut = 0;
    joined->count = count;
    for (uint32_t i = 0; i < count; i++) {
        const nnrt_draft_step *from = &d->steps[group[i]];
        nnrti_joined_part *p = &joined->parts[i];
        size_t tensors = 0, own = 0;
        p->part = (const nnrti_auto_part *)from->attr;
        p->name = from->name;
        p->node = from->node;
        p->in = made->nIn;
        p->out = nIn + made->nOut;
        p->record = bytes - NNRT_ALIGNMENT;
        memcpy(args + p->in, from->args, from->nIn * sizeof(*args));
        memcpy(args + p->out, from->args + from->nIn, from->nOut * sizeof(*args));
        made->nIn += from->nIn;
        made->nOut += from->nOut;
        for (nnrti_auto_part *q = s->parts; q != NULL; q = q->next)
            if (q->number == p->part->number)
                q->place = i;
        if (!nnrti_part_scratch(p->part, &tensors, &own) ||
            !nnrt_add_size(own, sizeof(nnrti_joined_record) + ((size_t)from->nIn + from->nOut) * sizeof(nnrt_view),
                           &own) ||
            !nnrt_round_size(own, NNRT_ALIGNMENT, &own) || !nnrt_add_size(bytes, own, &bytes))
            return nnrti_auto_no_memory(s->config->error);
    }
    made->scratchBytes = bytes / d->workers + 1; /* as of a part */
    return NNRT_SUCCESS;
}

/* Partitions that do not wait for each other become one step, at the first of them, if their inputs are written
   before. */
static NNRT_ReturnCode nnrti_split_gather(nnrti_split *s)
{
    nnrt_draft *d = s->draft;
    nnrt_draft_step *steps;
    uint32_t *writer, count = 0;
    bool *placed;
    if (s->config->parallel == NULL || s->config->parallel->workers < 2 || s->config->profile != NULL)
        return NNRT_SUCCESS;
    steps = (nnrt_draft_step *)nnrt_memory_temp_array(s->memory, d->nSteps, sizeof(*steps));
    writer = (uint32_t *)nnrt_memory_temp_array(s->memory, d->nTensors, sizeof(*writer));
    placed = (bool *)nnrt_memory_temp_array(s->memory, d->nSteps, sizeof(*placed));
    if (s->memory->full)
        return nnrti_auto_no_memory(s->config->error);
    memset(writer, 0xFF, d->nTensors * sizeof(*writer));
    memset(placed, 0, d->nSteps * sizeof(*placed));
    for (uint32_t i = 0; i < d->nSteps; i++)
        for (uint32_t k = 0; k < d->steps[i].nOut; k++)
            if (nnrti_auto_out(&d->steps[i], k)->tensor != NNRT_NO_TENSOR)
                writer[nnrti_auto_out(&d->steps[i], k)->tensor] = i;
    for (uint32_t i = 0; i < d->nSteps; i++) {
        uint32_t group[NNRT_MAX_DEVICES], n = 1;
        const bool part = nnrti_joins(d, group, 0, i, writer, placed);
        NNRT_ReturnCode code = NNRT_SUCCESS;
        if (placed[i])
            continue;
        group[0] = i;
        for (uint32_t k = i + 1; k < d->nSteps && part; k++)
            if (!placed[k] && nnrti_joins(d, group, n, k, writer, placed))
                group[n++] = k;
        if (n > 1)
            code = nnrti_joined_make(s, group, n, &steps[count]);
        else
            steps[count] = d->steps[i];
        if (code != NNRT_SUCCESS)
            return code;
        count++;
        for (uint32_t k = 0; k < n; k++)
            placed[group[k]] = true;
    }
    memcpy(d->steps, steps, count * sizeof(*steps));
    d->nSteps = count;
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>report */

typedef struct nnrti_auto_telling {
    const NNRT_Model *model;
    const nnrt_partition *to;
    const nnrti_auto_list *list;
    const nnrti_split *split;  /* NULL: all nodes are on .. */
    const nnrt_device *device; /* .. this one */
    bool *told;                /* of each node */
} nnrti_auto_telling;

/* The device that has node n; NULL: none. */
static const nnrt_device *nnrti_auto_where(const nnrti_auto_telling *t, uint32_t n)
{
    const nnrti_split *s = t->split;
    if (s == NULL)
        return t->device;
    if (s->owner[n] != NNRTI_AUTO_HOST)
        return t->list->devices[s->owner[n]];
    return s->why[n] != NNRTI_WHY_KNOWN ? nnrt_device_find("reference") : NULL;
}

static void nnrti_auto_tell(const nnrti_auto_telling *t, uint32_t n, const char *reason)
{
    nnrt_placement p;
    memset(&p, 0, sizeof(p));
    p.node = n;
    p.device = nnrt_device_unique_name(nnrti_auto_where(t, n));
    p.part = t->split != NULL ? t->split->partOf[n] : 0;
    p.reason = reason;
    t->told[n] = true;
    t->to->placed(t->to->user, &p);
}

/* Why node n is not on the preferred device, as NNRTI_WHY_. */
static uint8_t nnrti_auto_why(const nnrti_auto_telling *t, uint32_t n)
{
    if (t->split != NULL || t->list->why != NULL)
        return t->split != NULL ? t->split->why[n] : t->list->why[n];
    return nnrti_kept(t->model, t->to, n) ? NNRTI_WHY_KEPT
           : t->list->failed[0]           ? NNRTI_WHY_FAILED
           : t->to->cost != NULL          ? NNRTI_WHY_COST
                                          : NNRTI_WHY_ASKED;
}

static void nnrti_auto_refused(void *user, uint32_t node, const nnrt_error *error)
{
    const nnrti_auto_telling *t = (const nnrti_auto_telling *)user;
    if (node < t->model->nodes.count && !t->told[node] && nnrti_auto_where(t, node) != t->list->devices[0] &&
        (t->split == NULL || nnrti_auto_why(t, node) == NNRTI_WHY_ASKED))
        nnrti_auto_tell(t, node, error->message);
}

/* Records of nnrt_partition.keep that match no node. */
static void nnrti_auto_unmatched(const nnrti_auto_telling *t)
{
    for (const char *at = t->to->keep, *next = at; at != NULL && *at != '\0'; at = next) {
        char text[128], line[64];
        nnrt_placement p;
        size_t length = strcspn(at, "\r\n");
        bool matched = length == 0 || *at == '#';
        for (uint32_t n = 0; n < t->model->nodes.count; n++) {
            next = at;
            matched = nnrti_keep_record(t->model, n, &next) || matched;
        }
        if (matched)
            continue;
        length = length < sizeof(line) - 1 ? length : sizeof(line) - 1;
        memcpy(line, at, length);
        line[length] = '\0';
        (void)nnrt_text(text, sizeof(text), "no node matches '%s'", line);
        memset(&p, 0, sizeof(p));
        p.node = p.part = NNRT_NO_TENSOR;
        p.device = "";
        p.reason = text;
        t->to->placed(t->to->user, &p);
    }
}

/* Reports the device of all nodes; first the nodes that the preferred device refuses with a reason. asking: memory to
   ask it in, NULL: it is not asked. */
static void nnrti_auto_report(nnrti_auto_telling *t, const NNRT_ModelConfig *asking)
{
    const uint32_t count = t->model->nodes.count;
    bool *takes = asking != NULL ? (bool *)nnrt_alloc(asking->allocator, count) : NULL;
    if (takes != NULL && t->list->count > 0) {
        NNRT_ModelConfig own = *asking;
        nnrti_auto_allowed(t->list->devices[0], &own);
        (void)nnrt_device_supported(t->list->devices[0], t->model, &own, takes, count, nnrti_auto_refused, t);
    }
    if (asking != NULL)
        nnrt_free(asking->allocator, takes, count);
    for (uint32_t n = 0; n < count; n++) {
        const nnrt_error *fault = t->split != NULL && !nnrti_auto_open(&t->split->fault) ? &t->split->fault
                                                                                         : &t->list->fault;
        const uint8_t why = nnrti_auto_why(t, n);
        char text[sizeof(fault->message) + 64];
        if (t->told[n])
            continue;
        (void)nnrt_text(text, sizeof(text), "%s%s%s", nnrti_reasons[why],
                        why == NNRTI_WHY_FAILED && fault->message[0] != '\0' ? ": " : "",
                        why == NNRTI_WHY_FAILED ? fault->message : "");
        nnrti_auto_tell(t, n,
                        t->list->count > 0 && nnrti_auto_where(t, n) == t->list->devices[0] ? "" : text);
    }
    nnrti_auto_unmatched(t);
}

static bool nnrti_reports(const NNRT_ModelConfig *config)
{
    return config->partition != NULL && config->partition->placed != NULL;
}

/* Of a split, in its memory. */
static void nnrti_split_report(const nnrti_split *s)
{
    nnrt_allocator allocator;
    const NNRT_ModelConfig asking = nnrti_split_asking(s, &allocator);
    nnrti_auto_telling t = {s->model, s->config->partition, s->list, s, NULL, NULL};
    t.told = (bool *)nnrt_memory_temp_array(s->memory, s->model->nodes.count, sizeof(*t.told));
    if (t.told != NULL)
        nnrti_auto_report(&t, &asking);
    nnrt_memory_drop_temp(s->memory);
}

/* Of a model that is on one device. In a buffer there is no room to ask. */
static void nnrti_whole_report(const NNRT_Model *model, const NNRT_ModelConfig *config, const nnrti_auto_list *list,
                               const nnrt_device *device)
{
    nnrti_auto_telling t = {model, config->partition, list, NULL, device, NULL};
    NNRT_ModelConfig asking = *config;
    asking.buffer = NULL;
    asking.error = NULL;
    asking.autoDevices = NULL;
    asking.partition = NULL;
    t.told = (bool *)nnrt_alloc(config->allocator, model->nodes.count);
    if (t.told == NULL)
        return;
    memset(t.told, 0, model->nodes.count);
    nnrti_auto_report(&t, &asking);
    nnrt_free(config->allocator, t.told, model->nodes.count);
}

static NNRT_ReturnCode nnrti_split_get_memory(NNRT_PreparedModel *self, nnrt_prepared_memory *memory)
{
    const nnrti_split_model *m = (const nnrti_split_model *)(void *)self;
    NNRT_PreparedModelVtbl plan;
    NNRT_ReturnCode code;
    nnrt_plan_model_table(&plan);
    code = plan.GetMemory(self, memory);
    for (const nnrti_auto_part *p = m->parts; code == NNRT_SUCCESS && p != NULL; p = p->next) {
        nnrt_prepared_memory figures;
        memset(&figures, 0, sizeof(figures));
        if (p->spare || !NNRTI_AUTO_HAS(p->prepared, GetMemory) ||
            p->prepared->vtbl->GetMemory(p->prepared, &figures) != NNRT_SUCCESS)
            continue;
        memory->constants += figures.constants;
        if (p->place == NNRT_NO_TENSOR || p->place == 0)
            figures.steps -= figures.steps > 0 ? 1 : 0; /* the step that runs them is one already */
        memory->steps += figures.steps;
    }
    return code;
}

static void nnrti_split_release(nnrti_auto_part *parts)
{
    for (; parts != NULL; parts = parts->next)
        nnrt_device_release(parts->device, parts->prepared);
}

static void nnrti_split_destroy(NNRT_PreparedModel *self)
{
    NNRT_PreparedModelVtbl plan;
    nnrti_split_release(((nnrti_split_model *)(void *)self)->parts);
    nnrt_plan_model_table(&plan);
    plan.Destroy(self);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>split */

/* Receives the reason why the device refuses node `of`. */
typedef struct nnrti_split_words {
    uint32_t of;
    nnrt_error error;
} nnrti_split_words;

static void nnrti_split_listen(void *user, uint32_t node, const nnrt_error *error)
{
    nnrti_split_words *w = (nnrti_split_words *)user;
    if (node == w->of && nnrti_auto_open(&w->error))
        (void)nnrt_error_set(&w->error, error->code, "%s", error->message);
}

/* Where there is no fallback, each node has a device. */
static NNRT_ReturnCode nnrti_split_strict(const nnrti_split *s)
{
    nnrt_allocator allocator;
    NNRT_ModelConfig own = nnrti_split_asking(s, &allocator);
    const NNRT_Model *m = s->model;
    nnrti_split_words words;
    bool *takes;
    memset(&words, 0, sizeof(words));
    while (words.of < m->nodes.count && (s->takers[words.of] != 0 || s->why[words.of] == NNRTI_WHY_KEPT))
        words.of++;
    if (words.of == m->nodes.count || !nnrti_split_only(s))
        return NNRT_SUCCESS;
    takes = (bool *)nnrt_memory_temp_array(s->memory, m->nodes.count, sizeof(*takes));
    if (takes != NULL && s->list->count > 0) {
        nnrti_auto_allowed(s->list->devices[0], &own);
        (void)nnrt_device_supported(s->list->devices[0], m, &own, takes, m->nodes.count, nnrti_split_listen, &words);
    }
    return nnrt_error_blame(s->config->error,
                       nnrt_error_set(s->config->error, NNRT_UNSUPPORTED_OP,
                                      "strict: no device takes node %u '%s' (%s)%s%s", words.of,
                                      nnrti_auto_text(m->nodes.data[words.of].name), nnrti_auto_op(m, words.of),
                                      words.error.message[0] != '\0' ? ": " : "", words.error.message),
                       (int32_t)words.of, -1);
}

/* The parts of a draft. */
static NNRT_ReturnCode nnrti_split_edit(nnrti_split *s)
{
    NNRT_ReturnCode code = nnrti_split_groups(s);
    for (uint32_t g = 0; g < s->draft->nSteps && code == NNRT_SUCCESS; g++)
        if (s->group[g] == g && nnrti_split_node(s, g) != NULL)
            code = nnrti_split_part(s, g);
    for (uint32_t i = 0; i < s->model->nodes.count && code == NNRT_SUCCESS && nnrti_split_only(s); i++)
        if (s->owner[i] == NNRTI_AUTO_HOST && s->why[i] != NNRTI_WHY_KEPT && s->why[i] != NNRTI_WHY_KNOWN)
            code = nnrt_error_blame(s->config->error,
                               nnrt_error_set(s->config->error, NNRT_NOT_SUPPORT, "strict: node %u '%s' (%s): %s", i,
                                              nnrti_auto_text(s->model->nodes.data[i].name), nnrti_auto_op(s->model, i),
                                              nnrti_reasons[s->why[i]]),
                               (int32_t)i, -1);
    if (code == NNRT_SUCCESS)
        code = nnrti_split_sort(s);
    return code == NNRT_SUCCESS ? nnrti_split_gather(s) : code;
}

/* Devices are asked, the model is drafted, edited and planned, all in s->memory. *made NULL: no device has a part. */
static NNRT_ReturnCode nnrti_split_make(nnrti_split *s, nnrti_split_model **made)
{
    const NNRT_ModelConfig *config = s->config;
    const NNRT_Model *mapped;
    nnrti_split_model *m = (nnrti_split_model *)nnrt_memory_keep(s->memory, sizeof(*m));
    bool within = true, some = false;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    *made = NULL;
    if (m == NULL)
        return nnrti_auto_no_memory(config->error);
    if ((code = nnrti_split_ask(s)) != NNRT_SUCCESS || (code = nnrti_split_strict(s)) != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < s->model->nodes.count; i++)
        some = some || s->takers[i] != 0;
    if (!some)
        return NNRT_SUCCESS;
    nnrt_memory_drop_temp(s->memory);
    if ((mapped = nnrt_model_map(s->model, s->memory, &s->mappings)) == NULL)
        return nnrti_auto_no_memory(config->error);
    if ((code = nnrt_plan_draft(mapped, config, s->memory, &s->draft)) != NNRT_SUCCESS)
        return code;
    if (!nnrt_bound_index_make(config, s->memory, &s->bounds))
        return nnrti_auto_no_memory(config->error);
    if ((code = nnrti_split_edit(s)) != NNRT_SUCCESS || s->parts == NULL)
        return code;
    for (const nnrti_auto_part *p = s->parts; p != NULL; p = p->next)
        within = within && NNRTI_AUTO_RUNS_IN(p->prepared);
    if ((code = nnrt_plan_model_finish(&m->plan, s->draft, within)) != NNRT_SUCCESS)
        return code;
    nnrt_plan_model_table(&m->own);
    m->own.Destroy = nnrti_split_destroy;
    m->own.GetMemory = nnrti_split_get_memory;
    if (!within) { /* a part has no RunIn: the model serves one thread, in a workspace of its own */
        m->own.GetWorkspaceSize = NULL;
        m->own.RunIn = NULL;
    }
    m->plan.base.vtbl = &m->own;
    m->plan.mappings = s->mappings;
    m->parts = s->parts;
    *made = m;
    return NNRT_SUCCESS;
}

/* Partitions the model. bytes: NULL, or it is only counted how many bytes of a buffer that takes, or finding out that
   there is no partition. *split: the model is partitioned. */
static NNRT_ReturnCode nnrti_auto_split(nnrti_auto_list *list, const NNRT_Model *model,
                                        const NNRT_ModelConfig *config, size_t *bytes, NNRT_PreparedModel **prepared,
                                        bool *split)
{
    nnrti_split_model *made = NULL;
    nnrt_memory memory;
    nnrti_split s;
    NNRT_ReturnCode code;
    *split = false;
    if (!nnrti_can_split(model) || list->count == 0 || nnrti_auto_is_reference(list->devices[0]))
        return NNRT_SUCCESS;
    memset(&s, 0, sizeof(s));
    s.model = model;
    s.config = config;
    s.list = list;
    s.memory = &memory;
    s.counting = bytes != NULL;
    if (config->buffer != NULL)
        nnrt_memory_buffer(&memory, config->buffer, config->bufferBytes);
    else
        nnrt_memory_allocate(&memory, config->allocator);
    code = nnrti_split_make(&s, &made);
    *split = made != NULL;
    if (bytes != NULL && !nnrt_round_size(memory.peak, NNRT_ALIGNMENT, bytes))
        code = nnrti_auto_no_memory(config->error);
    if (made == NULL || bytes != NULL) {
        if (made == NULL && bytes == NULL && s.draft != NULL && code == NNRT_SUCCESS && nnrti_reports(config) &&
            (list->why = (uint8_t *)nnrt_alloc(config->allocator, model->nodes.count)) != NULL)
            memcpy(list->why, s.why, model->nodes.count);
        nnrti_first_fault(&list->fault, &s.fault);
        nnrti_split_release(s.parts);
        nnrt_model_unmap(s.mappings);
        nnrt_memory_end(&memory);
        return code;
    }
    if (nnrti_reports(config))
        nnrti_split_report(&s);
    nnrt_plan_model_keep(&made->plan, config, &memory);
    *prepared = &made->plan.base;
    return NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>whole */

#define NNRTI_AUTO_INNER(self) (((nnrti_auto_model *)(void *)(self))->inner)

/* The functions of the prepared model call the same functions of the inner one, if its table has them. */
static NNRT_ReturnCode nnrti_auto_ranges(NNRT_PreparedModel *self, uint32_t index, nnrt_dims *least, nnrt_dims *most)
{
    NNRT_PreparedModel *m = NNRTI_AUTO_INNER(self);
    return NNRT_HAS(m->vtbl, NNRT_PreparedModelVtbl, GetInputDimRanges)
               ? m->vtbl->GetInputDimRanges(m, index, least, most)
               : NNRT_NOT_SUPPORT;
}

static NNRT_ReturnCode nnrti_auto_output_ranges(NNRT_PreparedModel *self, uint32_t index, nnrt_dims *least,
                                                nnrt_dims *most)
{
    NNRT_PreparedModel *m = NNRTI_AUTO_INNER(self);
    return NNRT_HAS(m->vtbl, NNRT_PreparedModelVtbl, GetOutputDimRanges)
               ? m->vtbl->GetOutputDimRanges(m, index, least, most)
               : NNRT_NOT_SUPPORT;
}

static NNRT_ReturnCode nnrti_auto_export(NNRT_PreparedModel *self, const NNRT_SharedBuffer **buffers, uint32_t *count)
{
    NNRT_PreparedModel *m = NNRTI_AUTO_INNER(self);
    return NNRT_HAS(m->vtbl, NNRT_PreparedModelVtbl, ExportModelCache) ? m->vtbl->ExportModelCache(m, buffers, count)
                                                                       : NNRT_NOT_SUPPORT;
}

static NNRT_ReturnCode nnrti_auto_run(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                                      const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    return nnrt_prepared_run(NNRTI_AUTO_INNER(self), NULL, 0, inputs, nIn, outputs, nOut, outputDims, NULL, NULL);
}

static NNRT_ReturnCode nnrti_auto_run_in(NNRT_PreparedModel *self, void *workspace, size_t bytes,
                                         const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                         uint32_t nOut, nnrt_dims *outputDims, nnrt_error *error)
{
    return nnrt_prepared_run(NNRTI_AUTO_INNER(self), workspace, bytes, inputs, nIn, outputs, nOut, outputDims, NULL,
                             error);
}

static NNRT_ReturnCode nnrti_auto_run_until(NNRT_PreparedModel *self, void *workspace, size_t bytes,
                                            const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                            uint32_t nOut, nnrt_dims *outputDims, const nnrt_stop *stop,
                                            nnrt_error *error)
{
    return nnrt_prepared_run(NNRTI_AUTO_INNER(self), workspace, bytes, inputs, nIn, outputs, nOut, outputDims, stop,
                             error);
}

static NNRT_ReturnCode nnrti_auto_workspace(NNRT_PreparedModel *self, size_t *bytes)
{
    NNRT_PreparedModel *m = NNRTI_AUTO_INNER(self);
    *bytes = 0;
    return NNRT_HAS(m->vtbl, NNRT_PreparedModelVtbl, GetWorkspaceSize) ? m->vtbl->GetWorkspaceSize(m, bytes)
                                                                       : NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_auto_io(NNRT_PreparedModel *self, bool output, uint32_t index, NNRT_DataType *type,
                                     nnrt_dims *shape)
{
    NNRT_PreparedModel *m = NNRTI_AUTO_INNER(self);
    return NNRT_HAS(m->vtbl, NNRT_PreparedModelVtbl, GetIO) ? m->vtbl->GetIO(m, output, index, type, shape)
                                                            : NNRT_NOT_SUPPORT;
}

/* The inner model's memory, and auto's own before it. */
static NNRT_ReturnCode nnrti_auto_get_memory(NNRT_PreparedModel *self, nnrt_prepared_memory *memory)
{
    NNRT_PreparedModel *m = NNRTI_AUTO_INNER(self);
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (memory == NULL)
        return NNRT_NULL_PTR;
    memset(memory, 0, sizeof(*memory));
    if (NNRT_HAS(m->vtbl, NNRT_PreparedModelVtbl, GetMemory))
        code = m->vtbl->GetMemory(m, memory);
    if (code == NNRT_SUCCESS)
        memory->tables += nnrti_auto_bytes();
    return code;
}

static void nnrti_auto_destroy(NNRT_PreparedModel *self)
{
    nnrti_auto_model *m = (nnrti_auto_model *)(void *)self;
    nnrt_allocator allocator = m->allocator;
    nnrt_device_release(m->device, m->inner);
    if (m->allocated)
        nnrt_free(&allocator, m, nnrti_auto_bytes());
}

#define NNRTI_AUTO_TABLE(run_in)                                                                                       \
    {                                                                                                                  \
        sizeof(NNRT_PreparedModelVtbl), NNRT_HDI(2, 0), nnrti_auto_export, NULL, nnrti_auto_ranges, nnrti_auto_run,    \
            nnrti_auto_destroy, nnrti_auto_workspace, run_in, nnrti_auto_io, nnrti_auto_get_memory,                    \
            nnrti_auto_output_ranges, nnrti_auto_run_until                                                             \
    }

/* The second one where the inner model has no RunIn, and serves one thread. */
static const NNRT_PreparedModelVtbl nnrti_auto_model_vtbl[2] = {NNRTI_AUTO_TABLE(nnrti_auto_run_in),
                                                                NNRTI_AUTO_TABLE(NULL)};

/* The configuration of a device that gets all of a model. */
static NNRT_ModelConfig nnrti_auto_config(const NNRT_ModelConfig *config, const nnrt_device *device)
{
    NNRT_ModelConfig own = *config;
    own.autoDevices = NULL;
    own.partition = NULL;
    nnrti_auto_allowed(device, &own);
    return own;
}

/* May the reference device have the model, where no other one has a part of it? */
static bool nnrti_auto_rest(const nnrti_auto_list *list, const NNRT_Model *model, const NNRT_ModelConfig *config)
{
    return nnrti_auto_last(list) || nnrti_kept_count(model, config->partition) == model->nodes.count;
}

/* Where asking for devices that take the whole model begins. */
static uint32_t nnrti_auto_first(const nnrti_auto_list *list, const NNRT_Model *model, const NNRT_ModelConfig *config)
{
    return nnrti_kept_count(model, config->partition) > 0 || nnrti_falls_back(config) || nnrti_costs(config)
               ? list->count
               : 0;
}

/* Whether the device prepares the whole model. It is asked by trying: nothing stays. */
static bool nnrti_auto_try(nnrt_device *device, const NNRT_Model *model, const NNRT_ModelConfig *config)
{
    NNRT_ModelConfig own = nnrti_auto_config(config, device);
    NNRT_PreparedModel *prepared = NULL;
    NNRT_ReturnCode code;
    own.error = NULL;
    code = nnrt_device_prepare(device, model, &own, &prepared);
    nnrt_device_release(device, prepared);
    return code == NNRT_SUCCESS;
}

/* If a device takes the whole model, all nodes are supported; else the answer is that of reference. The rule is that of
   nnrti_auto_prepare: a device that does not tell which nodes it supports is asked by trying, since its PrepareModel
   decides. */
static NNRT_ReturnCode nnrti_auto_nodes(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                                   bool *isSupported, uint32_t count, nnrt_reason reason, void *user)
{
    nnrti_auto_list list;
    NNRT_ModelConfig own;
    nnrt_device *device;
    uint32_t at;
    NNRT_ReturnCode code;
    (void)self;
    if (model == NULL || isSupported == NULL)
        return NNRT_NULL_PTR;
    nnrt_config_read(&own, config);
    own.through = NULL;
    if ((code = nnrti_auto_devices(&own, &list)) != NNRT_SUCCESS)
        return code;
    at = nnrti_auto_first(&list, model, &own);
    while (count == model->nodes.count && (device = nnrti_auto_next(&list, &at, model, &own)) != NULL)
        if (nnrt_device_can(device, NNRT_ABILITY_TELL_NODES, NULL) || nnrti_auto_try(device, model, &own)) {
            for (uint32_t i = 0; i < count; i++)
                isSupported[i] = true;
            return NNRT_SUCCESS;
        }
    return nnrt_plan_supported(model, config, isSupported, count, reason, user);
}

/* Without a configuration and reasons: HDI's own question. */
static NNRT_ReturnCode nnrti_auto_supported(void *self, const NNRT_Model *model, bool *isSupported, uint32_t count)
{
    return nnrti_auto_nodes(self, model, NULL, isSupported, count, NULL, NULL);
}

/* Of the device that will have the model: who would refuse it then is tried now. Of a split: it is tried as a whole. */
static NNRT_ReturnCode nnrti_auto_memory(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                                    size_t *bytes)
{
    nnrti_auto_list list;
    NNRT_ModelConfig own, trial;
    nnrt_device *device;
    size_t peak = 0;
    uint32_t at;
    bool split = false;
    NNRT_ReturnCode code;
    (void)self;
    if (model == NULL || bytes == NULL)
        return NNRT_NULL_PTR;
    nnrt_config_read(&own, config);
    own.buffer = NULL;
    if ((code = nnrti_auto_devices(&own, &list)) != NNRT_SUCCESS)
        return code;
    at = nnrti_auto_first(&list, model, &own);
    while ((device = nnrti_auto_next(&list, &at, model, &own)) != NULL) {
        if (nnrti_auto_try(device, model, &own))
            break;
        list.failed[at - 1] = true;
    }
    if (device == NULL) {
        code = nnrti_auto_split(&list, model, &own, &peak, NULL, &split);
        if (split || code == NNRT_OUT_OF_MEMORY || code == NNRT_NOT_SUPPORT || nnrti_auto_bad_option(code, &own) ||
            !nnrti_auto_rest(&list, model, &own)) {
            *bytes = peak;
            return code != NNRT_SUCCESS || split ? code : NNRT_NOT_SUPPORT;
        }
        device = nnrt_device_find("reference");
    }
    trial = nnrti_auto_config(&own, device);
    code = nnrt_device_model_memory(device, model, &trial, bytes);
    if (code == NNRT_SUCCESS && !nnrt_add_size(*bytes, nnrti_auto_bytes(), bytes))
        return nnrti_auto_no_memory(own.error);
    *bytes = code == NNRT_SUCCESS && *bytes < peak ? peak : *bytes;
    return code;
}

/* auto's prepared model around that of a device. */
static NNRT_PreparedModel *nnrti_auto_around(nnrti_auto_model *m, nnrt_device *device, NNRT_PreparedModel *made,
                                             const NNRT_ModelConfig *config)
{
    memset(m, 0, sizeof(*m));
    m->base.vtbl = &nnrti_auto_model_vtbl[NNRTI_AUTO_RUNS_IN(made) ? 0 : 1];
    m->device = device;
    m->inner = made;
    m->allocated = config->buffer == NULL;
    if (config->allocator != NULL)
        m->allocator = *config->allocator;
    return &m->base;
}

/* Prepares the whole model on a device. In a buffer, auto's own part is written only after that has succeeded. */
static NNRT_ReturnCode nnrti_auto_wrap(nnrt_device *device, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                       NNRT_PreparedModel **prepared)
{
    NNRT_ModelConfig inner = nnrti_auto_config(config, device);
    NNRT_PreparedModel *made = NULL;
    nnrti_auto_model *m;
    NNRT_ReturnCode code;
    if (config->buffer != NULL) {
        if (config->bufferBytes < nnrti_auto_bytes())
            return nnrti_auto_no_memory(config->error);
        m = (nnrti_auto_model *)config->buffer;
        inner.buffer = (uint8_t *)config->buffer + nnrti_auto_bytes();
        inner.bufferBytes -= nnrti_auto_bytes();
    } else if ((m = (nnrti_auto_model *)nnrt_alloc(config->allocator, nnrti_auto_bytes())) == NULL) {
        return nnrti_auto_no_memory(config->error);
    }
    if ((code = nnrt_device_prepare(device, model, &inner, &made)) != NNRT_SUCCESS) {
        if (config->buffer == NULL)
            nnrt_free(config->allocator, m, nnrti_auto_bytes());
        return code;
    }
    *prepared = nnrti_auto_around(m, device, made, config);
    return NNRT_SUCCESS;
}

/* PrepareModelFromModelCache: by the first device that accepts the blocks. Only the device that exported them does. */
static NNRT_ReturnCode nnrti_auto_restore(void *self, const NNRT_SharedBuffer *cache, uint32_t count,
                                                     const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    nnrti_auto_list list;
    NNRT_ModelConfig own;
    nnrti_auto_model *m;
    NNRT_PreparedModel *made = NULL;
    NNRT_ReturnCode code;
    bool first;
    (void)self;
    if (cache == NULL || prepared == NULL)
        return NNRT_NULL_PTR;
    *prepared = NULL;
    nnrt_config_read(&own, config);
    first = nnrti_auto_open(own.error);
    if ((code = nnrti_auto_devices(&own, &list)) != NNRT_SUCCESS)
        return code;
    if (own.buffer != NULL)
        return nnrt_error_set(own.error, NNRT_NOT_SUPPORT, "a model that is restored from a cache takes no buffer");
    if ((m = (nnrti_auto_model *)nnrt_alloc(own.allocator, nnrti_auto_bytes())) == NULL)
        return nnrti_auto_no_memory(own.error);
    code = nnrt_error_set(own.error, NNRT_INVALID_MODEL_CACHE, "auto: no device has a model cache");
    for (uint32_t i = 0; i < list.count && made == NULL; i++) {
        NNRT_ModelConfig inner = nnrti_auto_config(&own, list.devices[i]);
        if (!nnrt_device_can(list.devices[i], NNRT_ABILITY_MODEL_CACHE, NULL))
            continue;
        if (first)
            nnrt_error_clear(own.error);
        code = nnrt_device_prepare_cache(list.devices[i], cache, count, &inner, &made);
        if (code == NNRT_SUCCESS)
            *prepared = nnrti_auto_around(m, list.devices[i], made, &own);
    }
    if (made == NULL)
        nnrt_free(own.allocator, m, nnrti_auto_bytes());
    return code;
}

/* Whether the device would have the model if the buffer were larger: then no other one gets it. */
static bool nnrti_auto_too_small(nnrt_device *device, const NNRT_Model *model, const NNRT_ModelConfig *config)
{
    NNRT_ModelConfig own = nnrti_auto_config(config, device);
    size_t bytes;
    if (config->buffer == NULL)
        return false;
    own.buffer = NULL;
    own.error = NULL;
    return nnrt_device_model_memory(device, model, &own, &bytes) == NNRT_SUCCESS &&
           nnrt_add_size(bytes, nnrti_auto_bytes(), &bytes) && bytes > config->bufferBytes;
}

/* A device that supports the model may still fail to prepare it: then the next one is tried, and the last message
   counts. */
static NNRT_ReturnCode nnrti_auto_prepare(void *self, const NNRT_Model *model,
                                                     const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    nnrti_auto_list list;
    NNRT_ModelConfig own;
    nnrt_device *device = NULL;
    NNRT_ReturnCode code;
    uint32_t at;
    bool first, tried = false, split = false;
    (void)self;
    if (model == NULL || prepared == NULL)
        return NNRT_NULL_PTR;
    *prepared = NULL;
    nnrt_config_read(&own, config);
    first = nnrti_auto_open(own.error);
    if ((code = nnrti_auto_check(&own)) != NNRT_SUCCESS || (code = nnrti_auto_devices(&own, &list)) != NNRT_SUCCESS)
        return code;
    at = nnrti_auto_first(&list, model, &own);
    while (*prepared == NULL && (device = nnrti_auto_next(&list, &at, model, &own)) != NULL) {
        if (tried && first)
            nnrt_error_clear(own.error);
        tried = true;
        code = nnrti_auto_wrap(device, model, &own, prepared);
        list.failed[at - 1] = code != NNRT_SUCCESS;
        if (code != NNRT_SUCCESS && first)
            nnrti_first_fault(&list.fault, own.error);
        if (nnrti_auto_bad_option(code, &own) || (code == NNRT_OUT_OF_MEMORY && nnrti_auto_too_small(device, model, &own)))
            return code;
    }
    if (*prepared == NULL) {
        if (tried && first)
            nnrt_error_clear(own.error);
        code = nnrti_auto_split(&list, model, &own, NULL, prepared, &split);
        if (split)
            return code;
        device = nnrt_device_find("reference");
        if (code != NNRT_OUT_OF_MEMORY && code != NNRT_NOT_SUPPORT && !nnrti_auto_bad_option(code, &own) &&
            nnrti_auto_rest(&list, model, &own)) {
            if (first)
                nnrt_error_clear(own.error);
            code = nnrti_auto_wrap(device, model, &own, prepared);
        } else if (code == NNRT_SUCCESS) {
            code = nnrt_error_set(own.error, NNRT_NOT_SUPPORT,
                                  list.count == 0 ? "no device is registered and available"
                                                  : "strict: no device takes the model");
        }
    }
    if (code == NNRT_SUCCESS && nnrti_reports(&own))
        nnrti_whole_report(model, &own, &list, device);
    nnrt_free(own.allocator, list.why, model->nodes.count);
    return code;
}

/* auto has an ability if one of its devices has it, and passes the option to those. */
static NNRT_ReturnCode nnrti_auto_can(nnrt_ability ability, bool *isSupported)
{
    if (isSupported == NULL)
        return NNRT_NULL_PTR;
    *isSupported = false;
    for (uint32_t i = 0; i < nnrt_device_count(); i++)
        *isSupported = *isSupported ||
                       (nnrti_auto_rank(nnrt_device_at(i)) > 0 && nnrt_device_can(nnrt_device_at(i), ability, NULL));
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_auto_float16(void *self, bool *isSupported)
{
    (void)self;
    return nnrti_auto_can(NNRT_ABILITY_FLOAT16, isSupported);
}

static NNRT_ReturnCode nnrti_auto_modes(void *self, bool *isSupported)
{
    (void)self;
    return nnrti_auto_can(NNRT_ABILITY_PERFORMANCE_MODE, isSupported);
}

static NNRT_ReturnCode nnrti_auto_priorities(void *self, bool *isSupported)
{
    (void)self;
    return nnrti_auto_can(NNRT_ABILITY_PRIORITY, isSupported);
}

static NNRT_ReturnCode nnrti_auto_caches(void *self, bool *isSupported)
{
    (void)self;
    return nnrti_auto_can(NNRT_ABILITY_MODEL_CACHE, isSupported);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>table */

static const NNRT_DeviceVtbl nnrti_auto_vtbl = {sizeof(NNRT_DeviceVtbl),
                                                NNRT_HDI(2, 0),
                                                nnrti_auto_version,
                                                nnrti_auto_name,
                                                nnrti_auto_vendor,
                                                nnrti_auto_type,
                                                NULL,
                                                nnrti_auto_supported,
                                                nnrti_auto_float16,
                                                nnrti_auto_modes,
                                                nnrti_auto_priorities,
                                                nnrti_auto_yes,
                                                nnrti_auto_prepare,
                                                nnrti_auto_caches,
                                                nnrti_auto_restore,
                                                NULL,
                                                NULL,
                                                NULL,
                                                NULL,
                                                nnrti_auto_memory,
                                                nnrti_auto_nodes,
                                                NULL,
                                                NULL};

#ifdef NNRT_AUTO_WANTED
static const NNRT_DeviceVtbl *nnrti_auto_table(void **self)
{
    (void)self;
    return &nnrti_auto_vtbl;
}
#endif

NNRT_API NNRT_ReturnCode nnrt_auto_register(nnrt_error *error)
{
    return nnrt_device_find("auto") != NULL ? NNRT_SUCCESS : nnrt_device_register(&nnrti_auto_vtbl, NULL, error);
}

#endif /* NNRT_IMPLEMENTATION */
