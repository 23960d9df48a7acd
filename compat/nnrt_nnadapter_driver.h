/*
nnrt_nnadapter_driver.h - makes a driver written for NNAdapter's hardware layer a device of nnrt.h.

    #define NNRT_IMPLEMENTATION
    #include "nnrt_nnadapter_driver.h"   in one file of the program; includes nnrt.h from the parent folder

    nnrt_nnadapter_driver_register(&__nnadapter_device__fast_npu, NULL, &error);    // linked into the program
    nnrt_nnadapter_driver_load("/opt/npu/libfast_npu.so", NULL, &error);            // in a shared library
    NNAdapterDevice_acquire("fast_npu", &device);                                   // the same, on the loader's path
    desc.device = "fast_npu";                                                       // in a session descriptor

SECTIONS (search for the tag)
    >>nnd          registering, loading
    -- implementation --
    >>nnd_model    conversion of nodes to operations
    >>nnd_program  prepared models
    >>nnd_device   the device table

OVERVIEW
    A driver in C++ with the types of Paddle-Lite's guide (nnadapter::hal::Device) becomes such a table by one line, see
    nnadapter/hal.h. Registering a driver opens its device and creates a context; unregistering closes both.
    nnrt_context_open, and with it NNAdapterContext_create, creates a context with the properties of both registration
    and application, the application's last, and with the application's callback. A session with a callback
    (nnrt_session_desc.ask) and without a context has one of its own.

    The driver receives models in NNAdapter's form: images and filters in NCHW, attributes as constant operands.
    Constants are used in place; filters are copied in NNAdapter's order. A node is unsupported if no NNAdapter
    operation can express its attributes, or if the driver rejects it (validate_program).

    Model cache: create_program always requests the compiled form, because a driver reports only there whether it has
    one. A driver without one leaves the buffer empty: then nothing is exported.

NOT YET SUPPORTED
    Quantized nodes; image operators on NHWC; CAST, FILL, LRN, PAD, RESIZE, SLICE, TOP_K, UNSTACK, WHERE; transposed
    convolutions. Dynamic dimensions: the device reports that it does not support them.

OPTIONS
    NNRT_NNADAPTER_LOAD   1/0: support loading of shared libraries (dlopen); default: 1 on Linux and macOS, otherwise 0

MIT license, see LICENSE.
*/
#ifndef NNRT_NNADAPTER_DRIVER_H
#define NNRT_NNADAPTER_DRIVER_H

#include "../nnrt.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nnd */

#include "nnadapter/driver.h"

#ifndef NNRT_NNADAPTER_LOAD
#if defined(__linux__) || defined(__APPLE__)
#define NNRT_NNADAPTER_LOAD 1
#else
#define NNRT_NNADAPTER_LOAD 0
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Registers a device with the driver's name. The table `driver` must exist until the device is unregistered
   (nnrt_device_unregister). properties: "KEY=VALUE;", for its context; NULL = "". INVALID_PARAMETER: a required member
   of the table is missing, or a device of that name exists. Other error codes of the driver are mapped: 1
   OUT_OF_MEMORY, 2 INVALID_SHAPE, 3 INVALID_PARAMETER, 4 SERVICE_ERROR, 6 NOT_SUPPORT, otherwise FAILED. */
NNRT_API NNRT_ReturnCode nnrt_nnadapter_driver_register(const NNAdapterDriver *driver, const char *properties,
                                                        nnrt_error *error);
/* Registers a device with the driver NAME in the shared library `path`, a file named libNAME.so; it is unloaded when
   the device is unregistered. Its table is __nnadapter_driver__NAME, which nnadapter/hal.h defines for drivers in C++,
   or else __nnadapter_device__NAME. INVALID_FILE: the library cannot be loaded, or exports no table of that
   name, or one of another layout.
   NOT_SUPPORT: this build cannot load libraries. */
NNRT_API NNRT_ReturnCode nnrt_nnadapter_driver_load(const char *path, const char *properties, nnrt_error *error);

#ifdef __cplusplus
}
#endif

#include "nnrt_nnadapter.h" /* after nnrt_nnadapter_driver_load, which its NNAdapterDevice_acquire calls */

#endif /* NNRT_NNADAPTER_DRIVER_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_NNADAPTER_DRIVER_IMPLEMENTED)
#define NNRT_NNADAPTER_DRIVER_IMPLEMENTED

#include "nnrt_nnadapter.h" /* its implementation, if only its declarations were included so far */

#include <stdlib.h>
#include <string.h>
#if NNRT_NNADAPTER_LOAD
#include <dlfcn.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

static NNRT_ReturnCode nnrti_nnd_code(int code)
{
    switch (code) {
    case NNADAPTER_NO_ERROR: return NNRT_SUCCESS;
    case NNADAPTER_OUT_OF_MEMORY: return NNRT_OUT_OF_MEMORY;
    case NNADAPTER_INVALID_DIMENSIONS: return NNRT_INVALID_SHAPE;
    case NNADAPTER_INVALID_PARAMETER: return NNRT_INVALID_PARAMETER;
    case NNADAPTER_DEVICE_NOT_FOUND: return NNRT_SERVICE_ERROR;
    case NNADAPTER_FEATURE_NOT_SUPPORTED: return NNRT_NOT_SUPPORT;
    default: return NNRT_FAILED;
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nnd_model */

typedef struct nnrti_nnd_device {
    NNRT_DeviceVtbl vtbl;
    const NNAdapterDriver *driver;
    void *device, *context, *library;
    char *properties; /* owned copy */
    bool opened, inContext;
} nnrti_nnd_device;

/* State of the conversion of a model. All allocations are in `memory`. */
typedef struct nnrti_nnd_build {
    const NNRT_Model *model;
    nnrt_mapping *mappings; /* of the model's constants */
    nnrt_memory *memory;
    nnrt_error *error;
    nnrt_operand *tensors;
    NNAdapterDriverOperand **of; /* operands by tensor index; NULL: not made yet */
    NNAdapterDriverModel *made;
    uint32_t roomOperands;
    uint32_t *node;  /* node index of each operation */
    bool *supported; /* result by node; NULL: an unsupported node is an error */
} nnrti_nnd_build;

/* Makes an operand; NULL: out of memory. */
static NNAdapterDriverOperand *nnrti_nnd_operand(nnrti_nnd_build *b, NNRT_DataType type, int32_t rank,
                                                 const int32_t *dims, const void *data)
{
    NNAdapterDriverOperand *o = (NNAdapterDriverOperand *)nnrt_memory_keep(b->memory, sizeof(*o));
    size_t bytes = 0;
    if (o == NULL)
        return NULL;
    if (b->made->operand_count == b->roomOperands) {
        const uint32_t room = b->roomOperands * 2 + 64;
        NNAdapterDriverOperand **grown = (NNAdapterDriverOperand **)nnrt_memory_keep(b->memory, room * sizeof(*grown));
        if (grown == NULL)
            return NULL;
        for (uint32_t i = 0; i < b->made->operand_count; i++)
            grown[i] = b->made->operands[i];
        b->made->operands = grown;
        b->roomOperands = room;
    }
    b->made->operands[b->made->operand_count++] = o;
    o->type.precision = nnrti_nna_precision(type);
    o->type.dimensions.count = (uint32_t)rank;
    for (int32_t i = 0; i < rank; i++)
        o->type.dimensions.data[i] = dims[i];
    if (data != NULL && nnrt_dims_bytes(dims, rank, type, &bytes)) {
        o->type.lifetime = NNADAPTER_CONSTANT_REFERENCE;
        o->buffer = (void *)(uintptr_t)data;
        o->length = (uint32_t)bytes;
    }
    return o;
}

/* Returns the operand of a tensor; makes it on the first use. */
static NNAdapterDriverOperand *nnrti_nnd_tensor(nnrti_nnd_build *b, uint32_t t, const nnrt_operand *o)
{
    if (b->of[t] == NULL)
        b->of[t] = nnrti_nnd_operand(b, o->dataType, o->rank, o->dims, o->data);
    return b->of[t];
}

/* Makes a constant with a copy of `count` elements. */
static NNAdapterDriverOperand *nnrti_nnd_constant(nnrti_nnd_build *b, NNRT_DataType type, uint32_t count,
                                                  const void *values)
{
    const int32_t dims = (int32_t)count;
    const size_t bytes = count * nnrt_type_size(type);
    void *copy = nnrt_memory_keep(b->memory, bytes);
    if (copy == NULL)
        return NULL;
    memcpy(copy, values, bytes);
    return nnrti_nnd_operand(b, type, 1, &dims, copy);
}

/* Makes the operand of an attribute in `from`, and copies the attribute to `to`; false: NNAdapter cannot express its
   value. *o NULL: the optional operand is left out. */
static bool nnrti_nnd_param(nnrti_nnd_build *b, const nnrti_param *p, const nnrt_resolve *c, const uint8_t *from,
                            uint8_t *to, NNAdapterDriverOperand **o)
{
    int32_t room[NNRTI_NNA_NUMBERS];
    nnrti_param_value v = {NNRT_DATA_TYPE_INT32, 1, room};
    *o = NULL;
    if (p->kind == NNRTI_PARAM_OUTPUT_TYPE) {
        if (p->at >= c->nOut)
            return true;
        room[0] = (int32_t)nnrti_nna_precision(c->out[p->at].dataType);
    } else {
        memcpy(to + p->at, from + p->at, nnrti_param_bytes(p));
        if (!nnrti_param_get(p, from + p->at, room, NNRTI_NNA_NUMBERS, &v))
            return false;
    }
    if (v.count > 0)
        *o = nnrti_nnd_constant(b, v.type, (uint32_t)v.count, v.data);
    return true;
}

/* Permutes a constant filter [O,kH,kW,I] to [O,I,kH,kW]; NULL: out of memory. */
static NNAdapterDriverOperand *nnrti_nnd_filter(nnrti_nnd_build *b, const nnrt_operand *w)
{
    static const int32_t perm[4] = {0, 3, 1, 2};
    int32_t dims[4];
    size_t bytes;
    uint8_t *copy;
    for (int k = 0; k < 4; k++)
        dims[k] = w->dims[perm[k]];
    if (!nnrt_dims_bytes(dims, 4, w->dataType, &bytes) ||
        (copy = (uint8_t *)nnrt_memory_keep_aligned(b->memory, bytes)) == NULL)
        return NULL;
    nnrti_nna_permute(copy, (const uint8_t *)w->data, w->dims, perm, nnrt_type_size(w->dataType));
    return nnrti_nnd_operand(b, w->dataType, 4, dims, copy);
}

/* Copies the model's attributes; values that the model leaves to the operator are taken from the resolved attributes.
   Convolutions use the resolved attributes throughout; for other operators these no longer contain the rounding mode of
   output dimensions. */
static void nnrti_nnd_source_attrs(const nnrt_resolve *c, int32_t op, uint8_t *from)
{
    const uint32_t bytes = c->op->attr->bytes;
    memcpy(from, c->resolved, bytes);
    if (c->op->type == NNRT_NODE_TYPE_CONV2D_FUSION || c->op->type == NNRT_NODE_TYPE_DEFORMABLE_CONV_2D)
        return;
    nnrt_attr_defaults(c->op->attr, from);
    if (c->attr != NULL)
        memcpy(from, c->attr, c->attrBytes < bytes ? c->attrBytes : bytes);
    for (const nnrti_param *p = nnrti_params_of(nnrti_nna_params, op); p->kind != NNRTI_PARAM_OPERATION; p++) {
        const NNRT_Int64List *list = (const NNRT_Int64List *)(const void *)(from + p->at);
        bool unset = false;
        if (p->kind == NNRTI_PARAM_ONE)
            unset = *(const int64_t *)(const void *)(from + p->at) < 1;
        else if (p->kind == NNRTI_PARAM_ONES)
            unset = list->count == 0 || list->data[0] < 1 || list->data[list->count - 1] < 1;
        else if (p->kind == NNRTI_PARAM_INTS && c->op->type == NNRT_NODE_TYPE_SOFTMAX)
            unset = list->count == 0;
        if (unset)
            memcpy(from + p->at, (const uint8_t *)c->resolved + p->at, nnrti_param_bytes(p));
    }
}

/* Sets the members that follow from the operands instead of from a parameter. */
static void nnrti_nnd_implied_attrs(const nnrt_resolve *c, const uint8_t *from, uint8_t *to)
{
    if (c->op->type == NNRT_NODE_TYPE_CONV2D_FUSION) {
        NNRT_Conv2DFusion *a = (NNRT_Conv2DFusion *)(void *)to;
        const NNRT_Conv2DFusion *r = (const NNRT_Conv2DFusion *)(const void *)from;
        a->kernelSize = r->kernelSize;
        a->inChannel = r->inChannel;
        a->outChannel = r->outChannel;
    } else if (c->op->type == NNRT_NODE_TYPE_SPLIT) {
        ((NNRT_Split *)(void *)to)->outputNum = ((const NNRT_Split *)(const void *)from)->outputNum;
    } else if (c->op->type == NNRT_NODE_TYPE_FULL_CONNECTION) {
        ((NNRT_FullConnection *)(void *)to)->hasBias = c->nIn > 2;
    } else if (c->op->type == NNRT_NODE_TYPE_LAYER_NORM_FUSION) {
        ((NNRT_LayerNormFusion *)(void *)to)->elementwiseAffine = c->nIn > 1;
    }
}

/* Makes the operands that are inputs of the node; false: it has an input too few or too many, or out of memory. */
static bool nnrti_nnd_inputs(nnrti_nnd_build *b, const NNRT_Node *node, const nnrt_resolve *c, int32_t op, uint32_t nIn,
                             NNAdapterDriverOperand **all)
{
    const char *letters = nnrti_nna_rows[op].operands;
    uint32_t used = 0;
    for (uint32_t i = 0; i < nIn; i++) {
        const char letter = letters[0] != 'X' ? letters[i] : i < c->nIn ? 'x' : letters[1];
        if (letter == 'x' || letter == 'o') {
            const uint32_t k = used++;
            const bool filter = op == NNADAPTER_CONV_2D && k == 1;
            if (k >= c->nIn || node->inputIndex.data[k] == NNRT_NO_TENSOR) {
                if (letter == 'x')
                    return false;
                continue;
            }
            if (filter && c->in[k].data == NULL)
                return false;
            all[i] = filter ? nnrti_nnd_filter(b, &c->in[k]) : nnrti_nnd_tensor(b, node->inputIndex.data[k], &c->in[k]);
            if (all[i] == NULL)
                return false;
        } else if (op == NNADAPTER_MAX_POOL_2D && letter == '.') {
            const uint8_t indices = c->nOut > 1;
            if ((all[i] = nnrti_nnd_constant(b, NNRT_DATA_TYPE_BOOL, 1, &indices)) == NULL)
                return false;
        } else if (letter == '.' && op != NNADAPTER_MAX && op != NNADAPTER_MIN && op != NNADAPTER_POW &&
                   op != NNADAPTER_FLOOR_DIV) {
            return false;
        }
    }
    return used >= c->nIn && (op != NNADAPTER_TILE || c->in[1].dims[0] == c->in[0].rank);
}

/* Makes the operands that are parameters; false: they cannot express the node's attributes, or out of memory. The
   attributes that they express are collected in `attr`, which must then equal the node's. */
static bool nnrti_nnd_params(nnrti_nnd_build *b, const nnrt_resolve *c, int32_t op, uint32_t nIn,
                             NNAdapterDriverOperand **all)
{
    const nnrti_param *p = nnrti_params_of(nnrti_nna_params, op);
    const bool list = nnrti_nna_rows[op].operands[0] == 'X';
    uint8_t *attr = (uint8_t *)nnrt_memory_keep(b->memory, c->op->attr->bytes);
    uint8_t *from = (uint8_t *)nnrt_memory_keep(b->memory, c->op->attr->bytes);
    const NNRT_LayerNormFusion *layer = (const NNRT_LayerNormFusion *)(const void *)from;
    if (attr == NULL || from == NULL)
        return false;
    nnrti_nnd_source_attrs(c, op, from);
    nnrt_attr_defaults(c->op->attr, attr);
    nnrti_params_preset(p, attr);
    for (; p->kind != NNRTI_PARAM_OPERATION; p++)
        if (p->key != NNRTI_PARAM_PRESET &&
            !nnrti_nnd_param(b, p, c, from, attr, &all[list ? nIn - 1 : (uint32_t)p->key]))
            return false;
    nnrti_nnd_implied_attrs(c, from, attr);
    return nnrt_attr_equal(c->op->attr, attr, from) &&
           (op != NNADAPTER_LAYER_NORMALIZATION || layer->beginNormAxis == layer->beginParamsAxis);
}

/* Converts the node to NNAdapter's operation `op`; false: it cannot be expressed, or out of memory. */
static bool nnrti_nnd_operation(nnrti_nnd_build *b, uint32_t n, const nnrt_resolve *c, int32_t op)
{
    const nnrti_nna_row *row = &nnrti_nna_rows[op];
    const NNRT_Node *node = &b->model->nodes.data[n];
    const bool list = row->operands[0] == 'X';
    const uint32_t letters = (uint32_t)strlen(row->operands), nIn = list ? c->nIn + letters - 1 : letters;
    NNAdapterDriverOperation *made = (NNAdapterDriverOperation *)nnrt_memory_keep(b->memory, sizeof(*made));
    NNAdapterDriverOperand **all =
        (NNAdapterDriverOperand **)nnrt_memory_keep(b->memory, (nIn + c->nOut) * sizeof(*all));
    if (made == NULL || all == NULL || c->nOut < row->minOut || c->nOut > row->maxOut ||
        !nnrti_nnd_inputs(b, node, c, op, nIn, all) || !nnrti_nnd_params(b, c, op, nIn, all))
        return false;
    for (uint32_t i = 0; i < nIn; i++)
        if (all[i] == NULL && !list && (row->operands[i] == 'P' || row->operands[i] == 'x'))
            return false;
    for (uint32_t k = 0; k < c->nOut; k++)
        if (node->outputIndex.data[k] == NNRT_NO_TENSOR ||
            (all[nIn + k] = nnrti_nnd_tensor(b, node->outputIndex.data[k], &c->out[k])) == NULL)
            return false;
    made->type = op;
    made->input_operands = all;
    made->input_count = nIn;
    made->output_operands = all + nIn;
    made->output_count = c->nOut;
    b->node[b->made->operation_count] = n;
    b->made->operations[b->made->operation_count++] = made;
    return true;
}

/* Checks that the node can be converted at all: static shapes, not quantized, not empty, images in NCHW. */
static bool nnrti_nnd_convertible(const nnrt_resolve *c)
{
    const bool image = (c->op->flags & NNRT_OP_LAYOUT) != 0 || c->op->type == NNRT_NODE_TYPE_PRIOR_BOX ||
                       c->op->type == NNRT_NODE_TYPE_YOLO_BOX;
    for (uint32_t i = 0; i < c->nIn + c->nOut; i++) {
        const nnrt_operand *o = i < c->nIn ? &c->in[i] : &c->out[i - c->nIn];
        size_t count = 1;
        if (o->rank > NNADAPTER_MAX_SIZE_OF_DIMENSIONS || (o->rank >= 0 && o->quantCount > 0) ||
            (o->rank >= 0 && (!nnrt_dims_count(o->dims, o->rank, &count) || count == 0)))
            return false; /* NNAdapter's constants must have elements */
        for (int32_t k = 0; k < o->rank; k++)
            if (o->symbols[k] != 0)
                return false; /* a dynamic dimension */
    }
    switch (c->op->type) {
    case NNRT_NODE_TYPE_CAST:
    case NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION:
    case NNRT_NODE_TYPE_FILL:
    case NNRT_NODE_TYPE_STRIDED_SLICE:
    case NNRT_NODE_TYPE_WHERE: return false;
    default: return c->part == 0 && !c->late && (!image || (c->nIn > 0 && c->in[0].format == NNRT_FORMAT_NCHW));
    }
}

static NNRT_ReturnCode nnrti_nnd_visit(void *user, uint32_t n, nnrt_resolve *c, bool folded)
{
    nnrti_nnd_build *b = (nnrti_nnd_build *)user;
    bool found = folded; /* folded: its outputs are constants */
    for (int32_t op = 0; op < NNRTI_NNA_ROWS && !found && nnrti_nnd_convertible(c); op++)
        if (nnrti_nna_rows[op].type == c->op->type)
            found = nnrti_nnd_operation(b, n, c, op);
    if (b->memory->full)
        return nnrt_error_set(b->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    if (b->supported != NULL)
        b->supported[n] = found;
    else if (!found)
        return nnrt_error_set(b->error, NNRT_UNSUPPORTED_OP, "no NNAdapter operation can express node %u (%s)", n,
                              c->op->name);
    return NNRT_SUCCESS;
}

/* Converts a model for the driver. supported: see nnrti_nnd_build. */
static NNRT_ReturnCode nnrti_nnd_build_model(nnrti_nnd_build *b, const NNRT_Model *m, const NNRT_ModelConfig *config,
                                             nnrt_memory *memory, bool *supported)
{
    NNRT_ReturnCode code;
    memset(b, 0, sizeof(*b));
    if ((m = nnrt_model_map(m, memory, &b->mappings)) == NULL)
        return nnrt_error_set(config->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    b->model = m;
    b->memory = memory;
    b->error = config->error;
    b->supported = supported;
    b->tensors = (nnrt_operand *)nnrt_memory_keep(memory, m->allTensors.count * sizeof(*b->tensors));
    b->of = (NNAdapterDriverOperand **)nnrt_memory_keep(memory, m->allTensors.count * sizeof(*b->of));
    b->node = (uint32_t *)nnrt_memory_keep(memory, m->nodes.count * sizeof(*b->node));
    b->made = (NNAdapterDriverModel *)nnrt_memory_keep(memory, sizeof(*b->made));
    if (b->made != NULL)
        b->made->operations =
            (NNAdapterDriverOperation **)nnrt_memory_keep(memory, m->nodes.count * sizeof(*b->made->operations));
    if (memory->full)
        return nnrt_error_set(b->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    if ((code = nnrt_model_infer(m, config, memory, b->tensors, nnrti_nnd_visit, b)) != NNRT_SUCCESS)
        return code;
    b->made->input_count = m->inputIndex.count;
    b->made->output_count = m->outputIndex.count;
    b->made->input_operands = (NNAdapterDriverOperand **)nnrt_memory_keep(
        memory, ((size_t)m->inputIndex.count + m->outputIndex.count) * sizeof(*b->made->input_operands));
    b->made->output_operands = b->made->input_operands + m->inputIndex.count;
    for (uint32_t i = 0; i < m->inputIndex.count + m->outputIndex.count && !memory->full; i++) {
        const bool input = i < m->inputIndex.count;
        const uint32_t t = input ? m->inputIndex.data[i] : m->outputIndex.data[i - m->inputIndex.count];
        NNAdapterDriverOperand *o = nnrti_nnd_tensor(b, t, &b->tensors[t]);
        if (o == NULL)
            break;
        if (!input && o->buffer != NULL && b->supported == NULL)
            return nnrt_error_set(b->error, NNRT_UNSUPPORTED_OP, "output %u is a constant", i - m->inputIndex.count);
        o->type.lifetime = input ? NNADAPTER_MODEL_INPUT : NNADAPTER_MODEL_OUTPUT;
        b->made->input_operands[i] = o;
    }
    return memory->full ? nnrt_error_set(b->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model")
                        : NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nnd_program */

/* An input or output of a run. */
typedef struct nnrti_nnd_io {
    NNRT_DataType dataType;
    nnrt_dims dims; /* shape in the plan */
    size_t bytes;
    bool output, small; /* small: the driver reported another shape or type */
    void *data;
    size_t room;
} nnrti_nnd_io;

typedef struct nnrti_nnd_prepared {
    NNRT_PreparedModel base;
    nnrti_nnd_device *owner;
    nnrt_allocator allocator;
    nnrt_memory memory;
    nnrt_mapping *mappings; /* of constants, which the driver uses in place */
    void *context;          /* the device's, the application's, or its own (inContext) */
    bool inContext;
    void *program;
    uint32_t nIn, nOut;
    nnrti_nnd_io *io;
    NNAdapterDriverArgument *arguments;
    NNRT_SharedBuffer blocks[2]; /* model cache: the inputs and outputs, the driver's compiled form; fd -1 and addr
                                    NULL: none */
} nnrti_nnd_prepared;

/* The first block of a cache: u32 number of inputs, u32 number of outputs, then a record for each. */
typedef struct nnrti_nnd_record {
    NNRT_DataType dataType;
    nnrt_dims dims;
} nnrti_nnd_record;

static void *nnrti_nnd_access(void *memory, NNAdapterOperandType *type, void *device_buffer)
{
    nnrti_nnd_io *io = (nnrti_nnd_io *)memory;
    (void)device_buffer;
    if (!io->output) {
        type->dimensions.count = (uint32_t)io->dims.rank;
        for (int32_t k = 0; k < io->dims.rank; k++)
            type->dimensions.data[k] = io->dims.dims[k];
        return io->data;
    }
    io->small = type->dimensions.count != (uint32_t)io->dims.rank || nnrti_nna_type(type->precision) != io->dataType;
    for (int32_t k = 0; k < io->dims.rank && !io->small; k++)
        io->small = type->dimensions.data[k] != io->dims.dims[k];
    return io->small ? NULL : io->data;
}

static NNRT_ReturnCode nnrti_nnd_run(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                                     const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    nnrti_nnd_prepared *p = (nnrti_nnd_prepared *)self;
    NNRT_ReturnCode code;
    if (nIn != p->nIn || nOut != p->nOut)
        return nIn != p->nIn ? NNRT_INVALID_INPUT : NNRT_INVALID_OUTPUT;
    for (uint32_t i = 0; i < nIn + nOut; i++) {
        const NNRT_IOTensor *t = i < nIn ? &inputs[i] : &outputs[i - nIn];
        nnrti_nnd_io *io = &p->io[i];
        if (t->data.addr == NULL && io->bytes > 0)
            return NNRT_INVALID_BUFFER;
        if (i < nIn ? t->data.dataSize != io->bytes : t->data.dataSize < io->bytes)
            return i < nIn ? NNRT_INVALID_BUFFER_SIZE : NNRT_INSUFFICIENT_BUFFER;
        io->data = (uint8_t *)t->data.addr + t->data.offset;
        io->small = false;
        if (i >= nIn && outputDims != NULL)
            outputDims[i - nIn] = io->dims;
    }
    code = nnrti_nnd_code(p->owner->driver->execute_program(p->program, nIn, p->arguments, nOut, p->arguments + nIn));
    for (uint32_t i = nIn; i < nIn + nOut; i++)
        if (p->io[i].small)
            return NNRT_DEVICE_ERROR; /* the driver reported another shape or type than the model has */
    return code;
}

static void nnrti_nnd_destroy(NNRT_PreparedModel *self)
{
    nnrti_nnd_prepared *p = (nnrti_nnd_prepared *)self;
    nnrt_allocator allocator = p->allocator;
    if (p->program != NULL)
        p->owner->driver->destroy_program(p->program);
    if (p->inContext)
        p->owner->driver->destroy_context(p->context);
    nnrt_model_unmap(p->mappings);
    nnrt_memory_end(&p->memory);
    nnrt_free(&allocator, p, sizeof(*p));
}

static NNRT_ReturnCode nnrti_nnd_export(NNRT_PreparedModel *self, const NNRT_SharedBuffer **buffers, uint32_t *count)
{
    const nnrti_nnd_prepared *p = (const nnrti_nnd_prepared *)self;
    if (p->blocks[1].addr == NULL)
        return NNRT_NOT_SUPPORT;
    *buffers = p->blocks;
    *count = 2;
    return NNRT_SUCCESS;
}

static const NNRT_PreparedModelVtbl *nnrti_nnd_prepared_table(void)
{
    static const NNRT_PreparedModelVtbl table = {sizeof(NNRT_PreparedModelVtbl),
                                                 NNRT_HDI(2, 0),
                                                 nnrti_nnd_export,
                                                 NULL,
                                                 NULL,
                                                 nnrti_nnd_run,
                                                 nnrti_nnd_destroy,
                                                 NULL,
                                                 NULL,
                                                 NULL,
                                                 NULL,
                                                 NULL,
                                                 NULL};
    return &table;
}

/* Queries the driver for supported operations. Unsupported ones become false in b->supported (by node), or an error. */
static NNRT_ReturnCode nnrti_nnd_validate(const nnrti_nnd_device *d, void *context, const nnrti_nnd_build *b)
{
    const uint32_t count = b->made->operation_count;
    bool *answers;
    NNRT_ReturnCode code;
    if (d->driver->validate_program == NULL || count == 0)
        return NNRT_SUCCESS;
    if ((answers = (bool *)nnrt_memory_keep(b->memory, count * sizeof(*answers))) == NULL)
        return nnrt_error_set(b->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    if ((code = nnrti_nnd_code(d->driver->validate_program(context, b->made, answers))) != NNRT_SUCCESS)
        return nnrt_error_set(b->error, code, "driver '%s' does not report which operations it supports",
                              d->driver->name);
    for (uint32_t i = 0; i < count; i++)
        if (!answers[i] && b->supported != NULL)
            b->supported[b->node[i]] = false;
        else if (!answers[i])
            return nnrt_error_set(b->error, NNRT_UNSUPPORTED_OP, "driver '%s' does not support node %u (%s)",
                                  d->driver->name, b->node[i], nnrti_nna_rows[b->made->operations[i]->type].name);
    return NNRT_SUCCESS;
}

/* Creates a context with the device's properties followed by these. */
static NNRT_ReturnCode nnrti_nnd_open_context(void *self, const char *properties, nnrt_ask ask, void **opened)
{
    nnrti_nnd_device *d = (nnrti_nnd_device *)self;
    const size_t own = strlen(d->properties), length = own + strlen(properties) + 2;
    char *all = (char *)malloc(length);
    NNRT_ReturnCode code;
    if (all == NULL)
        return NNRT_OUT_OF_MEMORY;
    (void)nnrt_text(all, length, "%s%s%s", d->properties,
                    own > 0 && d->properties[own - 1] != ';' && *properties != '\0' ? ";" : "", properties);
    code = nnrti_nnd_code(d->driver->create_context(d->device, all, ask, opened));
    free(all);
    return code;
}

static void nnrti_nnd_close_context(void *self, void *opened)
{
    ((nnrti_nnd_device *)self)->driver->destroy_context(opened);
}

/* Makes a prepared model without a program yet. Its context is the application's, or one of its own if config has a
   callback but no context, or the device's. */
static NNRT_ReturnCode nnrti_nnd_begin(nnrti_nnd_device *d, const NNRT_ModelConfig *config, uint32_t nIn, uint32_t nOut,
                                       nnrti_nnd_prepared **made)
{
    nnrti_nnd_prepared *p = (nnrti_nnd_prepared *)nnrt_alloc(config->allocator, sizeof(*p));
    void *const given = nnrt_context_of(config, d);
    void *context = given != NULL ? given : d->context;
    const bool own = given == NULL && config->ask != NULL;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    if (p == NULL)
        return nnrt_error_set(config->error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    if (own)
        code = nnrti_nnd_code(d->driver->create_context(d->device, d->properties, config->ask, &context));
    if (code != NNRT_SUCCESS) {
        nnrt_free(config->allocator, p, sizeof(*p));
        return nnrt_error_set(config->error, code, "driver '%s' cannot create a context", d->driver->name);
    }
    memset(p, 0, sizeof(*p));
    p->context = context;
    p->inContext = own;
    p->base.vtbl = nnrti_nnd_prepared_table();
    p->owner = d;
    if (config->allocator != NULL)
        p->allocator = *config->allocator;
    nnrt_memory_allocate(&p->memory, &p->allocator);
    p->nIn = nIn;
    p->nOut = nOut;
    *made = p;
    return NNRT_SUCCESS;
}

/* Sets inputs and outputs from the records, and creates the program from a model, or from a compiled form (made NULL).
   */
static NNRT_ReturnCode nnrti_nnd_compile(nnrti_nnd_prepared *p, const nnrti_nnd_record *records,
                                         NNAdapterDriverModel *made, const void *buffer, size_t length,
                                         nnrt_error *error)
{
    const nnrti_nnd_device *d = p->owner;
    const uint32_t count = p->nIn + p->nOut;
    NNAdapterDriverCache cache;
    uint8_t *block;
    NNRT_ReturnCode code;
    memset(&cache, 0, sizeof(cache));
    p->io = (nnrti_nnd_io *)nnrt_memory_keep(&p->memory, count * sizeof(*p->io));
    p->arguments = (NNAdapterDriverArgument *)nnrt_memory_keep(&p->memory, count * sizeof(*p->arguments));
    cache.input_types = (NNAdapterOperandType *)nnrt_memory_keep(&p->memory, (count + 1) * sizeof(*cache.input_types));
    block = (uint8_t *)nnrt_memory_keep(&p->memory, 8 + count * sizeof(*records));
    if (p->memory.full)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    memcpy(block, &p->nIn, 4);
    memcpy(block + 4, &p->nOut, 4);
    memcpy(block + 8, records, count * sizeof(*records));
    for (uint32_t i = 0; i < count; i++) {
        nnrti_nnd_io *io = &p->io[i];
        NNAdapterOperandType *type = &cache.input_types[i];
        io->dataType = records[i].dataType;
        io->dims = records[i].dims;
        io->output = i >= p->nIn;
        if (!nnrt_dims_bytes(io->dims.dims, io->dims.rank, io->dataType, &io->bytes))
            return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "the size of an input or output overflows");
        p->arguments[i].index = (int32_t)(i < p->nIn ? i : i - p->nIn);
        p->arguments[i].memory = io;
        p->arguments[i].access = nnrti_nnd_access;
        type->precision = (NNAdapterOperandPrecisionCode)nnrti_nna_precision(io->dataType);
        type->lifetime = io->output ? NNADAPTER_MODEL_OUTPUT : NNADAPTER_MODEL_INPUT;
        type->dimensions.count = (uint32_t)io->dims.rank;
        memcpy(type->dimensions.data, io->dims.dims, sizeof(type->dimensions.data));
    }
    cache.token = "nnrt";
    cache.dir = "";
    cache.input_count = p->nIn;
    cache.output_types = cache.input_types + p->nIn;
    cache.output_count = p->nOut;
    if (made == NULL) {
        cache.buffer = (uint8_t *)(uintptr_t)buffer;
        cache.length = length;
    }
    code = nnrti_nnd_code(d->driver->create_program(p->context, made, &cache, &p->program));
    if (code == NNRT_SUCCESS && p->program == NULL)
        code = NNRT_DEVICE_ERROR;
    if (code != NNRT_SUCCESS)
        return nnrt_error_set(error, code, "driver '%s' cannot compile the model", d->driver->name);
    if (made == NULL) { /* kept for the next export */
        if ((cache.buffer = (uint8_t *)nnrt_memory_keep(&p->memory, length)) == NULL)
            return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
        memcpy(cache.buffer, buffer, length);
        cache.length = length;
    }
    if (cache.buffer != NULL && cache.length > 0 && cache.length <= UINT32_MAX) {
        p->blocks[0].fd = p->blocks[1].fd = -1;
        p->blocks[0].addr = block;
        p->blocks[0].bufferSize = p->blocks[0].dataSize = (uint32_t)(8 + count * sizeof(*records));
        p->blocks[1].addr = cache.buffer;
        p->blocks[1].bufferSize = p->blocks[1].dataSize = (uint32_t)cache.length;
    }
    return NNRT_SUCCESS;
}

/* Passes the prepared model to the caller, or destroys it after an error. */
static NNRT_ReturnCode nnrti_nnd_hand_over(nnrti_nnd_prepared *p, NNRT_ReturnCode code, NNRT_PreparedModel **prepared)
{
    if (code == NNRT_SUCCESS)
        *prepared = &p->base;
    else
        nnrti_nnd_destroy(&p->base);
    return code;
}

static NNRT_ReturnCode nnrti_nnd_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                         NNRT_PreparedModel **prepared)
{
    nnrti_nnd_device *d = (nnrti_nnd_device *)self;
    NNRT_ModelConfig own;
    nnrti_nnd_record *records = NULL;
    nnrti_nnd_prepared *p;
    nnrti_nnd_build b;
    NNRT_ReturnCode code;
    nnrt_config_read(&own, config);
    if (own.buffer != NULL)
        return nnrt_error_set(own.error, NNRT_NOT_SUPPORT,
                              "an NNAdapter driver cannot prepare in a caller's buffer; use an allocator");
    if (own.copyConstants)
        return nnrt_error_set(own.error, NNRT_NOT_SUPPORT,
                              "copyConstants is unsupported: an NNAdapter driver uses constants in place");
    if ((code = nnrti_nnd_begin(d, &own, model->inputIndex.count, model->outputIndex.count, &p)) != NNRT_SUCCESS)
        return code;
    if ((code = nnrti_nnd_build_model(&b, model, &own, &p->memory, NULL)) == NNRT_SUCCESS &&
        (code = nnrti_nnd_validate(d, p->context, &b)) == NNRT_SUCCESS) {
        records = (nnrti_nnd_record *)nnrt_memory_keep(&p->memory, (p->nIn + p->nOut) * sizeof(*records));
        if (records == NULL)
            code = nnrt_error_set(own.error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    }
    p->mappings = b.mappings;
    for (uint32_t i = 0; code == NNRT_SUCCESS && i < p->nIn + p->nOut; i++) {
        const nnrt_operand *o =
            &b.tensors[i < p->nIn ? model->inputIndex.data[i] : model->outputIndex.data[i - p->nIn]];
        records[i].dataType = o->dataType;
        records[i].dims.rank = o->rank;
        for (int32_t k = 0; k < o->rank; k++)
            records[i].dims.dims[k] = o->dims[k];
    }
    if (code == NNRT_SUCCESS)
        code = nnrti_nnd_compile(p, records, b.made, NULL, 0, own.error);
    return nnrti_nnd_hand_over(p, code, prepared);
}

static NNRT_ReturnCode nnrti_nnd_caches(void *self, bool *isSupported)
{
    (void)self;
    *isSupported = true;
    return NNRT_SUCCESS;
}

/* Prepares from the blocks that nnrti_nnd_export returned. */
static NNRT_ReturnCode nnrti_nnd_prepare_cache(void *self, const NNRT_SharedBuffer *cache, uint32_t count,
                                               const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    NNRT_ModelConfig own;
    nnrti_nnd_record *records;
    nnrti_nnd_prepared *p;
    const uint8_t *block;
    uint32_t ends[2] = {0, 0};
    bool good;
    NNRT_ReturnCode code;
    nnrt_config_read(&own, config);
    if (own.buffer != NULL)
        return nnrt_error_set(own.error, NNRT_NOT_SUPPORT,
                              "an NNAdapter driver cannot prepare in a caller's buffer; use an allocator");
    good = count == 2;
    for (uint32_t i = 0; good && i < 2; i++)
        good = cache[i].addr != NULL && cache[i].dataSize > 0 && cache[i].offset <= cache[i].bufferSize &&
               cache[i].dataSize <= cache[i].bufferSize - cache[i].offset;
    block = good ? (const uint8_t *)cache[0].addr + cache[0].offset : NULL;
    if (good && cache[0].dataSize >= 8)
        memcpy(ends, block, 8);
    if (!good || cache[0].dataSize < 8 || ends[0] > UINT32_MAX / 64 || ends[1] > UINT32_MAX / 64 ||
        (cache[0].dataSize - 8) % sizeof(*records) != 0 ||
        (cache[0].dataSize - 8) / sizeof(*records) != ends[0] + ends[1])
        return nnrt_error_set(own.error, NNRT_INVALID_MODEL_CACHE,
                              "the cache was not made by this device, or is damaged");
    if ((code = nnrti_nnd_begin((nnrti_nnd_device *)self, &own, ends[0], ends[1], &p)) != NNRT_SUCCESS)
        return code;
    records = (nnrti_nnd_record *)nnrt_memory_keep(&p->memory, ((size_t)ends[0] + ends[1] + 1) * sizeof(*records));
    if (records != NULL)
        memcpy(records, block + 8, ((size_t)ends[0] + ends[1]) * sizeof(*records));
    code = records != NULL ? NNRT_SUCCESS
                           : nnrt_error_set(own.error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the model");
    for (uint32_t i = 0; code == NNRT_SUCCESS && i < ends[0] + ends[1]; i++) {
        good = nnrt_type_size(records[i].dataType) > 0 && records[i].dims.rank >= 0 &&
               records[i].dims.rank <= NNADAPTER_MAX_SIZE_OF_DIMENSIONS;
        for (int32_t k = 0; good && k < records[i].dims.rank; k++)
            good = records[i].dims.dims[k] >= 0;
        if (!good)
            code = nnrt_error_set(own.error, NNRT_INVALID_MODEL_CACHE,
                                  "the cache was not made by this device, or is damaged");
    }
    if (code == NNRT_SUCCESS)
        code = nnrti_nnd_compile(p, records, NULL, (const uint8_t *)cache[1].addr + cache[1].offset, cache[1].dataSize,
                                 own.error);
    return nnrti_nnd_hand_over(p, code, prepared);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>nnd_device */

static NNRT_ReturnCode nnrti_nnd_supported(void *self, const NNRT_Model *model, bool *isSupported, uint32_t count)
{
    nnrti_nnd_device *d = (nnrti_nnd_device *)self;
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrti_nnd_build b;
    NNRT_ReturnCode code;
    memset(&config, 0, sizeof(config));
    if (count != model->nodes.count)
        return NNRT_INVALID_PARAMETER;
    for (uint32_t i = 0; i < count; i++)
        isSupported[i] = false;
    for (uint32_t i = 0; i < model->inputIndex.count; i++) {
        const NNRT_Int32List *dims = &model->allTensors.data[model->inputIndex.data[i]].dims;
        for (uint32_t k = 0; k < dims->count; k++)
            if (dims->data[k] < 0)
                return NNRT_SUCCESS; /* no node is supported while an input has dynamic dimensions */
    }
    nnrt_memory_allocate(&memory, NULL);
    if ((code = nnrti_nnd_build_model(&b, model, &config, &memory, isSupported)) == NNRT_SUCCESS)
        code = nnrti_nnd_validate(d, d->context, &b);
    nnrt_model_unmap(b.mappings);
    nnrt_memory_end(&memory);
    return code;
}

static NNRT_ReturnCode nnrti_nnd_version(void *self, uint32_t *major, uint32_t *minor)
{
    const int32_t version = ((const nnrti_nnd_device *)self)->driver->version;
    *major = version > 0 ? (uint32_t)version : 0;
    *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_nnd_name(void *self, const char **name)
{
    *name = ((const nnrti_nnd_device *)self)->driver->name;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_nnd_vendor(void *self, const char **name)
{
    *name = ((const nnrti_nnd_device *)self)->driver->vendor;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_nnd_type(void *self, NNRT_DeviceType *type)
{
    switch (((const nnrti_nnd_device *)self)->driver->type) {
    case NNADAPTER_CPU: *type = NNRT_DEVICE_TYPE_CPU; break;
    case NNADAPTER_GPU: *type = NNRT_DEVICE_TYPE_GPU; break;
    case NNADAPTER_ACCELERATOR: *type = NNRT_DEVICE_TYPE_ACCELERATOR; break;
    default: *type = NNRT_DEVICE_TYPE_OTHER; break;
    }
    return NNRT_SUCCESS;
}

static void nnrti_nnd_close(void *self)
{
    nnrti_nnd_device *d = (nnrti_nnd_device *)self;
    if (d->inContext)
        d->driver->destroy_context(d->context);
    if (d->opened)
        d->driver->close_device(d->device);
#if NNRT_NNADAPTER_LOAD
    if (d->library != NULL)
        (void)dlclose(d->library);
#endif
    free(d->properties);
    free(d);
}

/* Opens and registers a driver. The library is owned by the device, and closed on failure. */
static NNRT_ReturnCode nnrti_nnd_open(const NNAdapterDriver *t, const char *properties, void *library,
                                      nnrt_error *error)
{
    const size_t length = properties != NULL ? strlen(properties) : 0;
    nnrti_nnd_device *d = (nnrti_nnd_device *)calloc(1, sizeof(*d));
    NNRT_ReturnCode code;
    if (d != NULL && (d->properties = (char *)calloc(1, length + 1)) == NULL) {
        free(d);
        d = NULL;
    }
    if (d == NULL) {
#if NNRT_NNADAPTER_LOAD
        if (library != NULL)
            (void)dlclose(library);
#endif
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "there is not enough memory for the device");
    }
    d->driver = t;
    d->library = library;
    memcpy(d->properties, properties != NULL ? properties : "", length);
    if (t->structSize < sizeof(*t) || t->name == NULL || *t->name == '\0' || t->vendor == NULL || *t->vendor == '\0' ||
        t->open_device == NULL || t->close_device == NULL || t->create_context == NULL || t->destroy_context == NULL ||
        t->create_program == NULL || t->destroy_program == NULL || t->execute_program == NULL)
        code = nnrt_error_set(error, NNRT_INVALID_PARAMETER, "the driver's table lacks a required member");
    else if (nnrt_device_find(t->name) != NULL)
        code = nnrt_error_set(error, NNRT_INVALID_PARAMETER, "a device '%s' is registered already", t->name);
    else if ((code = nnrti_nnd_code(t->open_device(&d->device))) != NNRT_SUCCESS)
        (void)nnrt_error_set(error, code, "driver '%s' cannot open its device", t->name);
    else if ((d->opened = true) &&
             (code = nnrti_nnd_code(t->create_context(d->device, d->properties, NULL, &d->context))) != NNRT_SUCCESS)
        (void)nnrt_error_set(error, code, "driver '%s' cannot create a context", t->name);
    if (code == NNRT_SUCCESS) {
        d->inContext = true;
        d->vtbl.structSize = (uint32_t)sizeof(d->vtbl);
        d->vtbl.version = NNRT_HDI(2, 0);
        d->vtbl.GetVersion = nnrti_nnd_version;
        d->vtbl.GetDeviceName = nnrti_nnd_name;
        d->vtbl.GetVendorName = nnrti_nnd_vendor;
        d->vtbl.GetDeviceType = nnrti_nnd_type;
        d->vtbl.GetSupportedOperation = nnrti_nnd_supported;
        d->vtbl.PrepareModel = nnrti_nnd_prepare;
        d->vtbl.IsModelCacheSupported = nnrti_nnd_caches;
        d->vtbl.PrepareModelFromModelCache = nnrti_nnd_prepare_cache;
        d->vtbl.Destroy = nnrti_nnd_close;
        d->vtbl.OpenContext = nnrti_nnd_open_context;
        d->vtbl.CloseContext = nnrti_nnd_close_context;
        code = nnrt_device_register(&d->vtbl, d, error);
    }
    if (code != NNRT_SUCCESS)
        nnrti_nnd_close(d);
    return code;
}

NNRT_API NNRT_ReturnCode nnrt_nnadapter_driver_register(const NNAdapterDriver *driver, const char *properties,
                                                        nnrt_error *error)
{
    if (driver == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the driver's table is NULL");
    return nnrti_nnd_open(driver, properties, NULL, error);
}

NNRT_API NNRT_ReturnCode nnrt_nnadapter_driver_load(const char *path, const char *properties, nnrt_error *error)
{
#if NNRT_NNADAPTER_LOAD
    static const char prefix[] = "__nnadapter_device__", adapted[] = "__nnadapter_driver__"; /* both have the same
                                                                                                length */
    const char *file = path != NULL ? strrchr(path, '/') : NULL;
    const NNAdapterDriver *driver;
    char symbol[160];
    size_t length;
    void *library;
    if (path == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the path of the driver is NULL");
    file = file != NULL ? file + 1 : path;
    length = strlen(file);
    if (length < 7 || length > 128 || memcmp(file, "lib", 3) != 0 || strcmp(file + length - 3, ".so") != 0)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "the file name of '%s' must be lib<device>.so", path);
    (void)nnrt_text(symbol, sizeof(symbol), "%s%s", prefix, file + 3);
    symbol[strlen(symbol) - 3] = '\0';
    if ((library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) == NULL)
        return nnrt_error_set(error, NNRT_INVALID_FILE, "'%s' cannot be loaded: %s", path, dlerror());
    memcpy(symbol, adapted, sizeof(adapted) - 1);
    if ((driver = (const NNAdapterDriver *)dlsym(library, symbol)) == NULL) {
        memcpy(symbol, prefix, sizeof(prefix) - 1);
        driver = (const NNAdapterDriver *)dlsym(library, symbol);
    }
    if (driver == NULL || driver->name == NULL || strcmp(driver->name, symbol + sizeof(prefix) - 1) != 0) {
        if (driver == NULL)
            (void)nnrt_error_set(error, NNRT_INVALID_FILE, "'%s' exports no table %s", path, symbol);
        else
            (void)nnrt_error_set(error, NNRT_INVALID_FILE,
                                 "'%s' exports %s in another layout than NNAdapterDriver, as drivers built with Paddle-Lite's own "
                                 "header do: build it with compat/nnadapter/hal.h",
                                 path, symbol);
        (void)dlclose(library);
        return NNRT_INVALID_FILE;
    }
    return nnrti_nnd_open(driver, properties, library, error);
#else
    (void)properties;
    return nnrt_error_set(error, NNRT_NOT_SUPPORT, "this build cannot load shared libraries: '%s'",
                          path != NULL ? path : "");
#endif
}

#ifdef __cplusplus
}
#endif

#endif /* NNRT_NNADAPTER_DRIVER_IMPLEMENTED */
