/* Models of one node from the cases of .vec files, and their runs on a device: for device_vectors.c and mcu_vectors.c.
   Include after nnrt.h. */
#ifndef VEC_MODEL_H
#define VEC_MODEL_H

#include "vec.h"

/* A model of one node, with the memory of its parts. */
typedef struct single {
    NNRT_Model model;
    NNRT_Tensor tensors[2 * VEC_OPERANDS + 1];
    NNRT_Node node;
    NNRT_SubGraph graph;
    uint32_t in[VEC_OPERANDS], out[VEC_OPERANDS], inputs[VEC_OPERANDS + 1], outputs[VEC_OPERANDS], zero;
    nnrt_io io[VEC_OPERANDS + 1];
    int32_t dims[VEC_OPERANDS][NNRT_MAX_RANK];
    uint32_t symbols[VEC_OPERANDS][NNRT_MAX_RANK];
    nnrt_bound bounds[2 * VEC_OPERANDS];
    uint32_t nBounds;
} single;

/* Unknown before the run: axes of inputs, the first, the second, ... of each input (0: none); values of constants.
   bounds: upper bounds of the results are declared, too. equal: equal dimensions share a symbol. */
typedef struct way {
    const char *name;
    uint32_t axes;
    bool values, bounds, equal;
} way;

static const way told = {"", 0, false, false, false};

/* The results of the model on a device. */
typedef struct outcome {
    NNRT_ReturnCode code;
    bool prepared, planned; /* planned: with results that memory holds, too */
    uint32_t count;
    nnrt_io_info info[VEC_OPERANDS];
    nnrt_io out[VEC_OPERANDS];
    char message[400];
} outcome;

static const int32_t unknown_rank[1] = {NNRT_RANK_UNKNOWN};
static char names[2 * VEC_OPERANDS][8];

/* The upper bounds of tensor i: the dimensions of the file and some more. */
static void bound(single *s, uint32_t i, const vec_tensor *t)
{
    nnrt_bound *b = &s->bounds[s->nBounds++];
    b->tensor = names[i];
    b->most.rank = t->rank;
    for (int32_t k = 0; k < t->rank; k++)
        b->most.dims[k] = t->dims[k] < INT32_MAX - 2 ? t->dims[k] + 2 : t->dims[k];
}

/* Makes axes of tensor i, input `input` of the node, dynamic. */
static void open_axes(single *s, uint32_t i, const vec_tensor *t, uint32_t input, const way *w)
{
    int32_t *dims = s->dims[input];
    uint32_t *symbols = s->symbols[input];
    if (w->axes == 0 || t->rank > NNRT_MAX_RANK)
        return;
    for (int32_t k = 0; k < t->rank; k++) {
        const bool open = ((uint32_t)k + input) % w->axes == 0;
        dims[k] = open ? -1 : t->dims[k];
        symbols[k] = open ? (uint32_t)t->dims[k] + 1 : 0;
    }
    s->tensors[i].dims = NNRT_Int32List_make(dims, (uint32_t)t->rank);
    if (w->equal)
        s->tensors[i].symbols = NNRT_Uint32List_make(symbols, (uint32_t)t->rank);
    bound(s, i, t);
}

typedef enum place { INPUT, CONSTANT, OUTPUT } place;

static uint32_t add_tensor(single *s, const vec_tensor *t, place where, NNRT_Format format)
{
    const uint32_t i = s->model.allTensors.count++;
    NNRT_Tensor *made = &s->tensors[i];
    const bool output = where == OUTPUT;
    snprintf(names[i], sizeof(names[i]), "%c%u", output ? 'y' : 'x', (unsigned)i);
    made->name = names[i];
    made->format = format;
    made->data.fd = -1;
    made->dataType = t->dataType;
    made->dims = output ? NNRT_Int32List_make(unknown_rank, 1) : NNRT_Int32List_make(t->dims, (uint32_t)t->rank);
    made->quantParams = NNRT_QuantParamList_make(t->quant, t->quantCount);
    made->quantAxis = t->quantAxis;
    if (where == CONSTANT) {
        made->data.addr = t->data;
        made->data.bufferSize = made->data.dataSize = (uint32_t)(t->count * nnrt_type_size(t->dataType));
    }
    return i;
}

/* A model needs an input: if all inputs of the node are constant, it has one that no node reads. */
static void make_single(single *s, const vec_case *c, const way *w)
{
    const nnrt_op_arity arity = nnrt_op_operands(c->op);
    const uint32_t nOut = c->nOut > 0 ? c->nOut : arity.minOut;
    vec_tensor plain;
    uint32_t nIn = 0, nResults = 0;
    memset(s, 0, sizeof(*s));
    memset(&plain, 0, sizeof(plain));
    s->model.name = c->name;
    s->model.allTensors.data = s->tensors;
    for (uint32_t i = 0; i < c->nIn; i++) {
        const vec_tensor *t = &c->in[i];
        const place where = t->constant && !w->values ? CONSTANT : INPUT;
        s->in[i] = t->present ? add_tensor(s, t, where, i == 0 ? c->format : NNRT_FORMAT_NONE) : NNRT_NO_TENSOR;
        if (!t->present || where == CONSTANT)
            continue;
        open_axes(s, s->in[i], t, i, w);
        s->inputs[nIn] = s->in[i];
        s->io[nIn] = nnrt_io_make(t->data, t->count * nnrt_type_size(t->dataType));
        s->io[nIn++].dims = w->axes > 0 ? t->dims : NULL;
    }
    for (uint32_t i = 0; i < nOut; i++) {
        const bool present = i >= c->nOut || c->out[i].present;
        s->out[i] = present ? add_tensor(s, i < c->nOut ? &c->out[i] : &plain, OUTPUT, c->format) : NNRT_NO_TENSOR;
        if (present)
            s->outputs[nResults++] = s->out[i];
        if (present && i < c->nOut && c->out[i].rank <= NNRT_MAX_RANK && w->bounds)
            bound(s, s->out[i], &c->out[i]);
    }
    if (nIn == 0) {
        plain.dataType = NNRT_DATA_TYPE_INT32;
        s->inputs[0] = add_tensor(s, &plain, INPUT, NNRT_FORMAT_NONE);
        s->io[nIn++] = nnrt_io_make(&s->zero, sizeof(s->zero));
    }
    s->node.name = c->name;
    s->node.nodeType = c->op->type;
    s->node.nodeAttr.data = c->attr;
    s->node.nodeAttr.size = c->op->attr->bytes;
    s->node.inputIndex = NNRT_Uint32List_make(s->in, c->nIn);
    s->node.outputIndex = NNRT_Uint32List_make(s->out, nOut);
    s->model.nodes = NNRT_NodeList_make(&s->node, 1);
    s->model.inputIndex = NNRT_Uint32List_make(s->inputs, nIn);
    s->model.outputIndex = NNRT_Uint32List_make(s->outputs, nResults);
    s->graph.name = "main";
    s->model.subGraph = NNRT_SubGraphList_make(&s->graph, 1);
}

static int run_fill = 0xA5; /* of the memory of results before a run */

#define MOST_BYTES ((size_t)1 << 28) /* of a result; the product of bounds may be larger than any memory */

static inline void run_on(const char *device, single *s, outcome *o)
{
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    nnrt_error error;
    memset(o, 0, sizeof(*o));
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.device = device;
    desc.bounds = nnrt_bound_list_make(s->bounds, s->nBounds);
    o->code = nnrt_session_create(&session, &s->model, &desc, &error);
    o->planned = o->prepared = o->code == NNRT_SUCCESS;
    snprintf(o->message, sizeof(o->message), "%s", error.message);
    if (o->code != NNRT_SUCCESS)
        return;
    o->count = nnrt_session_outputs(session);
    for (uint32_t i = 0; i < o->count; i++) {
        o->info[i] = nnrt_session_output(session, i);
        o->planned = o->planned && o->info[i].bytes < MOST_BYTES;
    }
    for (uint32_t i = 0; i < o->count && o->planned; i++) {
        o->out[i] = nnrt_io_make(malloc(o->info[i].bytes + 1), o->info[i].bytes);
        memset(o->out[i].data, run_fill, o->info[i].bytes + 1);
    }
    if (!o->planned)
        o->code = nnrt_error_set(&error, NNRT_OUT_OF_MEMORY, "%z bytes or more of a result", MOST_BYTES);
    else
        o->code = nnrt_run(session, s->io, s->model.inputIndex.count, o->out, o->count);
    if (o->code != NNRT_SUCCESS)
        snprintf(o->message, sizeof(o->message), "%s", o->planned ? nnrt_session_error(session) : error.message);
    for (uint32_t i = 0; i < o->count; i++)
        o->info[i] = nnrt_session_output(session, i); /* with a data-dependent shape: the shape of the run */
    nnrt_session_destroy(session);
}

static inline void outcome_end(outcome *o)
{
    for (uint32_t i = 0; i < o->count; i++)
        free(o->out[i].data);
    o->count = 0;
}

/* Whether the results equal the expected ones of the file, and the results *same, unless it is NULL. */
static inline bool compare(vec_case *c, const outcome *o, const outcome *same, char *why, size_t size)
{
    for (uint32_t i = 0, k = 0; i < c->nOut; i++) {
        const vec_tensor *want = &c->out[i];
        vec_tensor bits = *want;
        vec_case exact = *c;
        size_t at;
        if (!want->present)
            continue;
        if (k >= o->count || o->info[k].dataType != want->dataType || o->info[k].shape.rank != want->rank ||
            memcmp(o->info[k].shape.dims, want->dims, (size_t)want->rank * sizeof(int32_t)) != 0) {
            snprintf(why, size, "output %u has another type or shape", (unsigned)i);
            return false;
        }
        at = vec_compare(c, want, o->out[k].data);
        if (at < want->count) {
            snprintf(why, size, "output %u element %u is %.9g, expected %.9g", (unsigned)i, (unsigned)at,
                     vec_number(want->dataType, o->out[k].data, at), vec_number(want->dataType, want->data, at));
            return false;
        }
        exact.absolute = exact.relative = 0;
        bits.data = same != NULL ? same->out[k].data : NULL;
        if (same != NULL && (at = vec_compare(&exact, &bits, o->out[k].data)) < want->count) {
            snprintf(why, size, "output %u element %u is %.9g, not the %.9g of the reference device", (unsigned)i,
                     (unsigned)at, vec_number(want->dataType, o->out[k].data, at),
                     vec_number(want->dataType, bits.data, at));
            return false;
        }
        k++;
    }
    return true;
}

#endif
