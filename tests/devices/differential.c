/* Checks graphs, written as text, in every way in which the library can run them; tests/devices/differential.py generates them.

       differential [FILE]

   Reads graphs from FILE or standard input, and answers each command with lines that end in "done". A graph is

       graph NAME
       tensor N KIND TYPE FORMAT [DIMS] HEX    KIND: input, constant, result; TYPE may be unknown, DIMS ?, HEX - (nothing known)
       quant BITS ZEROPOINT SCALE              of the tensor before; several lines are one per channel
       axis K                                  its quantAxis
       open MASK                               of an input: bit k: axis k is dynamic in dynamic variants
       node OPERATOR
       attr MEMBER VALUE                       of the node before, as in tests/ops/vectors/README.md
       in N... and out N...                    its operands, -: left out
       output N...                             the outputs of the model

   HEX is the value of a tensor, of a result the expected value: its bytes, little-endian. Commands:

       run WAY       builds and runs it; a line "out N TYPE FORMAT OPEN [DIMS] QUANT HEX" for each output, or "error TEXT".
                     WAY: all (every result is an output), plain, passes
       attr          resolved attributes of the only node and what is known of its results before a run
       check WHICH   every way (fixed: static shapes, open: dynamic dimensions) must give the graph's bits: "pass WAY",
                     or "differs WAY: TEXT" or "refused WAY: TEXT"
                     For a device with error bounds (tests/kit/devices.h), whose results are the values: the way "node by
                     node", each node alone on the reference device, within error bounds that are derived below
       onnx FILE     runs an ONNX file on the values of the graph: outputs as those of run
       save FILE     writes it as .nnrt

   A result named tN is tensor N. Allocation counters, sanitizers and guard bytes detect side effects. */
#define _XOPEN_SOURCE 700
#include "formats/nnrt_onnx.h"
#include "devices.h"
#include "half.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES 512
#define MAX_STEPS 128
#define MAX_OPERANDS 40
#define MAX_QUANT 64
#define MAX_BOUNDS 128
#define MAX_BYTES 65536 /* of an output with a dynamic shape */

typedef enum kind { INPUT, CONSTANT, RESULT } kind;

/* A tensor of the graph; of a result data may be NULL. */
typedef struct value {
    bool there;
    kind kind;
    char name[16];
    NNRT_DataType type;
    NNRT_Format format;
    int32_t rank, dims[NNRT_MAX_RANK + 1];
    uint8_t *data;
    size_t bytes;
    NNRT_QuantParam quant[MAX_QUANT];
    uint32_t quantCount;
    int32_t quantAxis;
    uint32_t open; /* axes */
} value;

typedef struct step {
    const nnrt_op *op;
    void *attr;
    uint32_t in[MAX_OPERANDS], out[MAX_OPERANDS], nIn, nOut;
} step;

typedef struct graph {
    char name[64];
    value values[MAX_VALUES];
    step steps[MAX_STEPS];
    uint32_t nValues, nSteps, outputs[MAX_VALUES], nOutputs;
    void *blocks[8 * MAX_STEPS]; /* lists of attributes */
    uint32_t nBlocks;
    char why[256]; /* it cannot be read */
} graph;

static graph g;

/* ---- reading ---- */

static void fault(const char *text)
{
    if (g.why[0] == '\0')
        snprintf(g.why, sizeof(g.why), "%s", text);
}

static void clear(void)
{
    for (uint32_t i = 0; i < g.nValues; i++)
        free(g.values[i].data);
    for (uint32_t i = 0; i < g.nSteps; i++)
        free(g.steps[i].attr);
    for (uint32_t i = 0; i < g.nBlocks; i++)
        free(g.blocks[i]);
    memset(&g, 0, sizeof(g));
}

static NNRT_DataType type_named(const char *name)
{
    for (NNRT_DataType t = 30; t <= 44; t++)
        if (nnrt_type_size(t) != 0 && strcmp(nnrt_type_name(t), name) == 0)
            return t;
    return NNRT_DATA_TYPE_UNKNOWN;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes of a text of two digits each; an exact block, so that a sanitizer sees its end. */
static uint8_t *bytes_of(const char *hex, size_t *bytes)
{
    const size_t n = strlen(hex) / 2;
    uint8_t *data = (uint8_t *)malloc(n > 0 ? n : 1);
    for (size_t i = 0; data != NULL && i < n; i++)
        data[i] = (uint8_t)(digit(hex[2 * i]) * 16 + digit(hex[2 * i + 1]));
    *bytes = n;
    return data;
}

/* "N input float32 NONE [2,3] 0000.." */
static value *read_value(char *text)
{
    char *word = strtok(text, " ");
    const uint32_t n = word != NULL ? (uint32_t)strtoul(word, NULL, 10) : MAX_VALUES;
    value *v = &g.values[n < MAX_VALUES ? n : 0];
    const char *kindName = strtok(NULL, " "), *type = strtok(NULL, " "), *format = strtok(NULL, " ");
    char *dims = strtok(NULL, " ");
    const char *hex = strtok(NULL, " ");
    if (n >= MAX_VALUES || hex == NULL || v->there) {
        fault("a tensor has a new number, kind, type, format, extents and bytes");
        return v;
    }
    g.nValues = n + 1 > g.nValues ? n + 1 : g.nValues;
    v->there = true;
    v->kind = *kindName == 'i' ? INPUT : *kindName == 'c' ? CONSTANT : RESULT;
    snprintf(v->name, sizeof(v->name), "t%u", (unsigned)n);
    v->type = type_named(type);
    v->format = strcmp(format, "NCHW") == 0 ? NNRT_FORMAT_NCHW : *format == 'N' && format[1] == 'H' ? NNRT_FORMAT_NHWC : NNRT_FORMAT_NONE;
    v->rank = *dims == '?' ? NNRT_RANK_UNKNOWN : 0;
    for (char *p = dims + 1; v->rank >= 0 && *p != '\0' && *p != ']' && v->rank < NNRT_MAX_RANK; p += *p == ',')
        v->dims[v->rank++] = (int32_t)strtol(p, &p, 10);
    if (*hex != '-')
        v->data = bytes_of(hex, &v->bytes);
    else if (v->rank >= 0)
        v->data = bytes_of("", &v->bytes);
    return v;
}

/* count * size bytes that live as long as the graph. */
static void *keep(size_t count, size_t size)
{
    void *block = calloc(count > 0 ? count : 1, size);
    if (g.nBlocks < sizeof(g.blocks) / sizeof(g.blocks[0]))
        g.blocks[g.nBlocks++] = block;
    else
        fault("too many lists");
    return block;
}

static NNRT_Int64List read_ints(const char *text)
{
    int64_t *data = (int64_t *)keep(strlen(text) / 2 + 1, sizeof(*data));
    uint32_t n = 0;
    for (char *end; *text != '\0'; text = end) {
        const int64_t x = strtoll(text, &end, 10);
        if (end == text)
            break;
        data[n++] = x;
    }
    return nnrt_int64_list(data, n);
}

static NNRT_Int64Lists read_lists(char *text)
{
    NNRT_Int64List *rows = (NNRT_Int64List *)keep(strlen(text) + 1, sizeof(*rows));
    NNRT_Int64Lists lists;
    lists.data = rows;
    lists.count = 0;
    while (text != NULL && *text != '\0') {
        char *semicolon = strchr(text, ';');
        if (semicolon != NULL)
            *semicolon++ = '\0';
        rows[lists.count++] = read_ints(text);
        text = semicolon;
    }
    return lists;
}

static NNRT_FloatList read_floats(const char *text)
{
    float *data = (float *)keep(strlen(text) / 2 + 1, sizeof(*data));
    uint32_t n = 0;
    for (char *end; *text != '\0'; text = end) {
        const float x = strtof(text, &end);
        if (end == text)
            break;
        data[n++] = x;
    }
    return nnrt_float_list(data, n);
}

static void read_attr(step *s, char *name)
{
    char *text = strchr(name, ' ');
    const nnrt_attr_member *m = NULL;
    void *at;
    if (text != NULL)
        *text++ = '\0';
    else
        text = name + strlen(name);
    for (uint32_t i = 0; i < s->op->attr->count; i++)
        if (strcmp(s->op->attr->members[i].name, name) == 0)
            m = &s->op->attr->members[i];
    if (m == NULL) {
        fault("the attribute struct has no such member");
        return;
    }
    at = (uint8_t *)s->attr + m->offset;
    switch (m->kind) {
    case NNRT_ATTR_KIND_BOOL: *(bool *)at = atoi(text) != 0; break;
    case NNRT_ATTR_KIND_FLOAT: *(float *)at = strtof(text, NULL); break;
    case NNRT_ATTR_KIND_DOUBLE: *(double *)at = strtod(text, NULL); break;
    case NNRT_ATTR_KIND_STRING: *(const char **)at = strcpy((char *)keep(strlen(text) + 1, 1), text); break;
    case NNRT_ATTR_KIND_INTS:
    case NNRT_ATTR_KIND_INTS64: *(NNRT_Int64List *)at = read_ints(text); break;
    case NNRT_ATTR_KIND_INTS2: *(NNRT_Int64Lists *)at = read_lists(text); break;
    case NNRT_ATTR_KIND_FLOATS: *(NNRT_FloatList *)at = read_floats(text); break;
    case NNRT_ATTR_KIND_GRAPH: fault("no text can say a subgraph"); break;
    default:
        if (m->bytes == sizeof(int64_t))
            *(int64_t *)at = strtoll(text, NULL, 10);
        else
            *(int32_t *)at = atoi(text);
    }
}

static uint32_t read_numbers(char *text, uint32_t *to, uint32_t most)
{
    uint32_t n = 0;
    for (char *p = strtok(text, " "); p != NULL && n < most; p = strtok(NULL, " "))
        to[n++] = *p == '-' ? NNRT_NO_TENSOR : (uint32_t)strtoul(p, NULL, 10);
    return n;
}

/* One statement of a graph; false: it is a command. */
static bool read_statement(char *word, char *rest)
{
    static value *last;
    step *s = g.nSteps > 0 ? &g.steps[g.nSteps - 1] : NULL;
    if (strcmp(word, "graph") == 0) {
        clear();
        snprintf(g.name, sizeof(g.name), "%.63s", rest);
    } else if (strcmp(word, "tensor") == 0) {
        last = read_value(rest);
    } else if (strcmp(word, "quant") == 0 && last != NULL && last->quantCount < MAX_QUANT) {
        NNRT_QuantParam *q = &last->quant[last->quantCount++];
        q->numBits = (int32_t)strtol(rest, &rest, 10);
        q->zeroPoint = (int32_t)strtol(rest, &rest, 10);
        q->scale = strtod(rest, &rest);
    } else if (strcmp(word, "axis") == 0 && last != NULL) {
        last->quantAxis = atoi(rest);
    } else if (strcmp(word, "open") == 0 && last != NULL) {
        last->open = (uint32_t)strtoul(rest, NULL, 10);
    } else if (strcmp(word, "node") == 0) {
        s = &g.steps[g.nSteps < MAX_STEPS ? g.nSteps++ : MAX_STEPS - 1];
        free(s->attr);
        s->op = nnrt_op_named(rest);
        if (s->op == NULL)
            fault("there is no such operator");
        s->attr = s->op != NULL ? calloc(1, s->op->attr->bytes) : NULL;
        if (s->attr != NULL)
            nnrt_attr_defaults(s->op->attr, s->attr);
    } else if (s != NULL && s->attr != NULL && strcmp(word, "attr") == 0 && *rest != '\0') {
        read_attr(s, rest);
    } else if (s != NULL && strcmp(word, "in") == 0) {
        s->nIn = read_numbers(rest, s->in, MAX_OPERANDS);
    } else if (s != NULL && strcmp(word, "out") == 0) {
        s->nOut = read_numbers(rest, s->out, MAX_OPERANDS);
    } else if (strcmp(word, "output") == 0) {
        g.nOutputs = read_numbers(rest, g.outputs, MAX_VALUES);
    } else {
        return false;
    }
    return true;
}

/* ---- models ---- */

enum {
    ALL = 1,        /* every result is an output */
    PASSES = 2,     /* optimized, but nodes between casts of quantized tensors are not computed in integers */
    FOLDED = 4,     /* inputs are constants */
    FILED = 8,      /* written as .nnrt and loaded */
    IN_SESSION = 16, /* dimensions are dynamic, and set when the session is created */
    IN_RUN = 32,    /* ... in the run, below bounds */
    BRANCH = 64,    /* all nodes are the branch of an IF */
    BODY = 128,     /* ... the body of a LOOP of two trips, whose results are scanned */
    MEMORY = 256    /* in exactly the reported bytes, and not in one less */
};

typedef struct way {
    const char *name;
    int how;
} way;

static const way ways[] = {
    {"all results", ALL},
    {"plain", 0},
    {"passes", PASSES},
    {"folded", PASSES | FOLDED},
    {"file", FILED},
    {"passes, file", PASSES | FILED},
    {"memory", MEMORY},
    {"memory with passes", PASSES | MEMORY},
    {"extents in the session", IN_SESSION | FILED},
    {"extents in the run", IN_RUN},
    {"extents in the run, passes", IN_RUN | PASSES | FILED},
    {"memory, extents in the run", IN_RUN | MEMORY},
    {"branch", BRANCH},
    {"branch, passes", BRANCH | PASSES},
    {"body", BODY},
};

/* Declares a tensor before a node reads it. */
static void describe(nnrt_builder *b, uint32_t t, const value *v)
{
    if (v->format != NNRT_FORMAT_NONE)
        nnrt_builder_format(b, t, v->format);
    if (v->quantCount > 0)
        nnrt_builder_quant(b, t, v->quant, v->quantCount);
    if (v->quantAxis != 0)
        nnrt_builder_quant_axis(b, t, v->quantAxis);
}

static void add_values(nnrt_builder *b, int how, uint32_t *ids, bool *any)
{
    for (uint32_t i = 0; i < g.nValues; i++) {
        const value *v = &g.values[i];
        int32_t dims[NNRT_MAX_RANK + 1];
        ids[i] = NNRT_NO_TENSOR;
        if (!v->there || v->kind == RESULT)
            continue;
        memcpy(dims, v->dims, sizeof(dims));
        for (int32_t k = 0; k < v->rank && (how & (IN_SESSION | IN_RUN)); k++)
            dims[k] = (v->open >> k & 1) != 0 ? -1 : dims[k];
        if (v->kind == INPUT && !(how & FOLDED))
            ids[i] = nnrt_builder_input(b, v->name, v->type, v->rank, dims);
        else
            ids[i] = nnrt_builder_constant(b, v->name, v->type, v->rank, v->dims, v->data, false);
        *any = *any || (v->kind == INPUT && !(how & FOLDED));
        describe(b, ids[i], v);
    }
}

static uint32_t add_result(nnrt_builder *b, const value *v)
{
    const uint32_t id = nnrt_builder_tensor(b, v->name);
    if (v->type != NNRT_DATA_TYPE_UNKNOWN)
        nnrt_builder_declare(b, id, v->type, NNRT_RANK_UNKNOWN, NULL);
    describe(b, id, v);
    return id;
}

static void add_results(nnrt_builder *b, uint32_t *ids)
{
    for (uint32_t i = 0; i < g.nValues; i++)
        if (g.values[i].there && g.values[i].kind == RESULT)
            ids[i] = add_result(b, &g.values[i]);
}

static void add_nodes(nnrt_builder *b, const uint32_t *ids)
{
    for (uint32_t i = 0; i < g.nSteps; i++) {
        const step *s = &g.steps[i];
        uint32_t in[MAX_OPERANDS], out[MAX_OPERANDS];
        char name[24];
        for (uint32_t k = 0; k < s->nIn; k++)
            in[k] = s->in[k] < g.nValues ? ids[s->in[k]] : NNRT_NO_TENSOR;
        for (uint32_t k = 0; k < s->nOut; k++)
            out[k] = s->out[k] < g.nValues ? ids[s->out[k]] : NNRT_NO_TENSOR;
        snprintf(name, sizeof(name), "n%u", (unsigned)i);
        nnrt_builder_node(b, name, s->op->type, s->attr, in, s->nIn, out, s->nOut);
    }
}

/* A constant or an input of one element. */
static uint32_t scalar(nnrt_builder *b, const char *name, NNRT_DataType type, const void *data)
{
    return data != NULL ? nnrt_builder_constant(b, name, type, 0, NULL, data, true)
                        : nnrt_builder_input(b, name, type, 0, NULL);
}

/* All nodes in a graph that an IF or a LOOP of the main one runs. */
static void add_nested(nnrt_builder *b, int how, const uint32_t *ids, const uint32_t *outputs, uint32_t n)
{
    const bool loop = (how & BODY) != 0;
    const uint32_t inner = nnrt_builder_graph(b, "inner"), other = loop ? 0 : nnrt_builder_graph(b, "other");
    const int64_t two = 2;
    const uint8_t yes = 1;
    uint32_t given[MAX_VALUES + 1], results[MAX_VALUES + 1], inputs[2] = {NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    NNRT_If branches;
    NNRT_Loop body;
    memset(&branches, 0, sizeof(branches));
    memset(&body, 0, sizeof(body));
    nnrt_builder_enter(b, inner);
    add_nodes(b, ids);
    if (loop) {
        inputs[0] = nnrt_builder_tensor(b, "trip");
        nnrt_builder_declare(b, inputs[0], NNRT_DATA_TYPE_INT64, 0, NULL);
        inputs[1] = nnrt_builder_tensor(b, "go");
        nnrt_builder_declare(b, inputs[1], NNRT_DATA_TYPE_BOOL, 0, NULL);
        given[0] = inputs[1];
    }
    memcpy(given + (loop ? 1 : 0), outputs, n * sizeof(*outputs));
    nnrt_builder_graph_io(b, inner, inputs, loop ? 2 : 0, given, n + (loop ? 1 : 0));
    if (!loop) { /* the branch that does not run gives copies of the results */
        nnrt_builder_enter(b, other);
        for (uint32_t i = 0; i < n; i++) {
            char name[24];
            const value *v = &g.values[g.outputs[i]];
            const uint32_t c = nnrt_builder_constant(b, NULL, v->type, v->rank, v->dims, v->data, false);
            if (v->quantCount > 0)
                nnrt_builder_quant(b, c, v->quant, v->quantCount);
            if (v->format != NNRT_FORMAT_NONE)
                nnrt_builder_format(b, c, v->format);
            snprintf(name, sizeof(name), "copy%u", (unsigned)i);
            given[i] = nnrt_builder_op(b, name, NNRT_NODE_TYPE_ASSIGN, NULL, &c, 1);
        }
        nnrt_builder_graph_io(b, other, NULL, 0, given, n);
    }
    nnrt_builder_enter(b, 0);
    for (uint32_t i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof(name), "o%u", (unsigned)g.outputs[i]);
        results[i] = nnrt_builder_tensor(b, name);
        nnrt_builder_output(b, results[i]);
    }
    if (loop) {
        inputs[0] = scalar(b, "trips", NNRT_DATA_TYPE_INT64, &two);
        inputs[1] = scalar(b, "cond", NNRT_DATA_TYPE_BOOL, &yes);
        body.body = inner;
        nnrt_builder_node(b, "loop", NNRT_NODE_TYPE_LOOP, &body, inputs, 2, results, n);
    } else {
        inputs[0] = scalar(b, "cond", NNRT_DATA_TYPE_BOOL, NULL);
        branches.thenGraph = inner;
        branches.elseGraph = other;
        nnrt_builder_node(b, "if", NNRT_NODE_TYPE_IF, &branches, inputs, 1, results, n);
    }
}

static NNRT_ReturnCode build(NNRT_Model **model, int how, nnrt_error *error)
{
    static uint32_t ids[MAX_VALUES];
    uint32_t outputs[MAX_VALUES], n = 0;
    nnrt_builder *b = NULL;
    bool any = false;
    NNRT_ReturnCode code = nnrt_builder_create(&b, g.name, NULL);
    *model = NULL;
    if (code != NNRT_SUCCESS)
        return code;
    add_values(b, how, ids, &any);
    add_results(b, ids);
    for (uint32_t i = 0; i < g.nOutputs; i++)
        outputs[n++] = ids[g.outputs[i]];
    if (how & (BRANCH | BODY)) {
        any = any || (how & BRANCH);
        add_nested(b, how, ids, outputs, n);
    } else {
        add_nodes(b, ids);
        for (uint32_t i = 0; i < g.nValues && (how & ALL); i++)
            if (g.values[i].there && g.values[i].kind == RESULT)
                nnrt_builder_output(b, ids[i]);
        for (uint32_t i = 0; i < n && !(how & ALL); i++)
            nnrt_builder_output(b, outputs[i]);
    }
    if (!any) /* a model needs an input */
        (void)scalar(b, "nothing", NNRT_DATA_TYPE_INT32, NULL);
    code = nnrt_builder_finish(b, model, error);
    nnrt_builder_destroy(b);
    return code;
}

/* Replaces the model by the one loaded from its .nnrt file, which written again has the same bytes. *block: of the file. */
static NNRT_ReturnCode through_file(NNRT_Model **model, void **block, nnrt_error *error)
{
    NNRT_Model *loaded = NULL;
    size_t bytes = 0, again = 0;
    void *copy = NULL;
    NNRT_ReturnCode code = nnrt_model_save_memory(*model, NULL, NULL, 0, &bytes, error);
    if (code != NNRT_SUCCESS)
        return code;
    if (posix_memalign(block, NNRT_ALIGNMENT, bytes) != 0 || posix_memalign(&copy, NNRT_ALIGNMENT, bytes) != 0)
        return NNRT_OUT_OF_MEMORY;
    code = nnrt_model_save_memory(*model, NULL, *block, bytes, &bytes, error);
    if (code == NNRT_SUCCESS)
        code = nnrt_model_load_memory(&loaded, *block, bytes, NULL, error);
    if (code == NNRT_SUCCESS) {
        nnrt_model_destroy(*model);
        *model = loaded;
        code = nnrt_model_save_memory(loaded, NULL, copy, bytes, &again, error);
    }
    if (code == NNRT_SUCCESS && (again != bytes || memcmp(copy, *block, bytes) != 0))
        code = nnrt_error_set(error, NNRT_INVALID_FILE, "saved, loaded and saved again, the file has other bytes");
    free(copy);
    return code;
}

/* ---- running ---- */

/* A session, its buffers, and its result. */
typedef struct attempt {
    NNRT_Model *model;
    nnrt_session *session;
    void *file, *buffer;
    nnrt_session_desc desc;
    nnrt_dims dims[MAX_VALUES];
    nnrt_bound bounds[MAX_BOUNDS];
    nnrt_io in[MAX_VALUES], out[MAX_VALUES];
    uint32_t nIn, nOut;
    nnrt_error error;
    uint8_t yes;
    int32_t nothing;
} attempt;

static const value *value_named(const char *name)
{
    const uint32_t n = name != NULL && (*name == 't' || *name == 'o') ? (uint32_t)strtoul(name + 1, NULL, 10) : MAX_VALUES;
    return n < g.nValues && g.values[n].there ? &g.values[n] : NULL;
}

/* A bound of a tensor: its dimensions, and one more. */
static void add_bound(attempt *a, const char *name, const value *v)
{
    const uint32_t n = a->desc.bounds.count;
    if (n == MAX_BOUNDS)
        return;
    memset(&a->bounds[n], 0, sizeof(a->bounds[n]));
    a->bounds[n].tensor = name;
    a->bounds[n].most.rank = v->rank;
    for (int32_t k = 0; k < v->rank; k++)
        a->bounds[n].most.dims[k] = v->dims[k] + ((v->kind == INPUT ? v->open >> k & 1 : 1) != 0 ? 1 : 0);
    a->desc.bounds = nnrt_bound_list_make(a->bounds, n + 1);
}

/* One more bound, for the result that the message says nothing bounds. */
static bool bound_result(attempt *a)
{
    const char *node = strstr(a->error.message, "node "), *result = strstr(a->error.message, "nothing bounds output ");
    unsigned at = 0, out = 0;
    const NNRT_Tensor *t;
    const value *v;
    if (node == NULL || result == NULL || sscanf(node, "node %u", &at) != 1 ||
        sscanf(result, "nothing bounds output %u", &out) != 1 || at >= a->model->nodes.count ||
        out >= a->model->nodes.data[at].outputIndex.count)
        return false;
    t = &a->model->allTensors.data[a->model->nodes.data[at].outputIndex.data[out]];
    if ((v = value_named(t->name)) == NULL || v->rank < 0 || a->desc.bounds.count == MAX_BOUNDS)
        return false;
    add_bound(a, t->name, v);
    return true;
}

/* The tested device: NNRT_TEST_DEVICE, of tests/kit/devices.h. */
static const test_device *device(void)
{
    static const test_device *opened;
    if (opened == NULL) {
        const char *name = getenv("NNRT_TEST_DEVICE");
        opened = test_device_open(name != NULL && *name != '\0' ? name : "reference");
        if (opened == NULL)
            exit(2);
    }
    return opened;
}

static bool is_reference(void)
{
    const char *name = getenv("NNRT_TEST_DEVICE");
    return name == NULL || *name == '\0' || strcmp(name, "reference") == 0;
}

/* While it is not NULL this one does. */
static const char *instead;

/* Bounds of convolutions hold for those without Winograd tiles (devices/nnrt_cpu.h). */
static const NNRT_Extension strict[1] = {{"nnrt.cpu.winograd", (void *)(uintptr_t)"0", 1}};

static NNRT_ReturnCode prepare(attempt *a, int how)
{
    NNRT_ReturnCode code;
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->model->inputIndex.count; i++) {
        const value *v = value_named(a->model->allTensors.data[a->model->inputIndex.data[i]].name);
        memset(&a->dims[n], 0, sizeof(a->dims[n]));
        if (v != NULL) {
            a->dims[n].rank = v->rank;
            memcpy(a->dims[n].dims, v->dims, sizeof(a->dims[n].dims));
            for (int32_t k = 0; k < v->rank && (how & IN_RUN); k++)
                a->dims[n].dims[k] = (v->open >> k & 1) != 0 ? -1 : v->dims[k];
            if ((how & IN_RUN) && v->open != 0)
                add_bound(a, v->name, v);
        }
        n++;
    }
    if (how & (IN_RUN | IN_SESSION))
        a->desc.inputDims = nnrt_dims_list_make(a->dims, n);
    a->desc.device = instead != NULL ? instead : device()->name;
    a->desc.extensions = NNRT_ExtensionList_make(strict, 1);
    code = nnrt_session_create(&a->session, a->model, &a->desc, &a->error);
    for (int k = 0; k < 64 && code == NNRT_UNSUPPORTED_OP && bound_result(a); k++) {
        memset(&a->error, 0, sizeof(a->error));
        code = nnrt_session_create(&a->session, a->model, &a->desc, &a->error);
    }
    return code;
}

/* The session once more, in a buffer of as many bytes as it says, and in one byte less. */
static NNRT_ReturnCode prepare_exactly(attempt *a)
{
    size_t bytes = 0;
    NNRT_ReturnCode code;
    nnrt_session *small = NULL;
    nnrt_session_destroy(a->session);
    a->session = NULL;
    code = nnrt_session_bytes(a->model, &a->desc, &bytes, &a->error);
    if (code != NNRT_SUCCESS || posix_memalign(&a->buffer, NNRT_ALIGNMENT, bytes) != 0)
        return code != NNRT_SUCCESS ? code : NNRT_OUT_OF_MEMORY;
    memset(a->buffer, 0xA5, bytes);
    a->desc.buffer = a->buffer;
    a->desc.bufferBytes = bytes - 1;
    code = nnrt_session_create(&small, a->model, &a->desc, NULL);
    nnrt_session_destroy(small);
    if (code != NNRT_OUT_OF_MEMORY)
        return nnrt_error_set(&a->error, NNRT_FAILED, "of %z bytes one less gives %s", bytes, nnrt_code_name(code));
    a->desc.bufferBytes = bytes;
    return nnrt_session_create(&a->session, a->model, &a->desc, &a->error);
}

static NNRT_ReturnCode execute(attempt *a, int how)
{
    NNRT_ReturnCode code;
    a->nIn = nnrt_session_inputs(a->session);
    a->nOut = nnrt_session_outputs(a->session);
    a->yes = 1;
    for (uint32_t i = 0; i < a->nIn; i++) {
        const char *name = nnrt_session_input(a->session, i).name;
        const value *v = value_named(name);
        if (v != NULL) {
            a->in[i] = nnrt_io_make(v->data, v->bytes);
            a->in[i].dims = (how & IN_RUN) && v->open != 0 ? v->dims : NULL;
        } else {
            a->in[i] = strcmp(name, "cond") == 0 ? nnrt_io_make(&a->yes, 1) : nnrt_io_make(&a->nothing, 4);
        }
    }
    for (uint32_t i = 0; i < a->nOut; i++) {
        const size_t bytes = nnrt_session_output(a->session, i).bytes;
        a->out[i] = nnrt_io_make(bytes <= (size_t)1 << 26 ? malloc(bytes > 0 ? bytes : 1) : NULL, bytes);
        if (a->out[i].data == NULL)
            return nnrt_error_set(&a->error, NNRT_NOT_SUPPORT, "there is no room for output %u of %z bytes", i, bytes);
        memset(a->out[i].data, 0xA5, bytes);
    }
    code = nnrt_run(a->session, a->in, a->nIn, a->out, a->nOut);
    if (code == NNRT_SUCCESS && how != ALL) /* the second time memory is not clean */
        code = nnrt_run(a->session, a->in, a->nIn, a->out, a->nOut);
    if (code != NNRT_SUCCESS)
        (void)nnrt_error_set(&a->error, code, "%s", nnrt_session_error(a->session));
    return code;
}

static void attempt_end(attempt *a)
{
    for (uint32_t i = 0; i < a->nOut; i++)
        free(a->out[i].data);
    nnrt_session_destroy(a->session);
    nnrt_model_destroy(a->model);
    free(a->buffer);
    free(a->file);
}

/* Builds, changes, prepares and runs. */
static NNRT_ReturnCode try_way(attempt *a, int how)
{
    nnrt_optimize_desc passes;
    NNRT_ReturnCode code;
    memset(a, 0, sizeof(*a));
    memset(&passes, 0, sizeof(passes));
    passes.no_quantize = true;
    code = build(&a->model, how, &a->error);
    if (code == NNRT_SUCCESS && (how & PASSES))
        code = nnrt_model_optimize(&a->model, &passes, &a->error);
    if (code == NNRT_SUCCESS && (how & FILED))
        code = through_file(&a->model, &a->file, &a->error);
    if (code == NNRT_SUCCESS)
        code = prepare(a, how);
    if (code == NNRT_SUCCESS && (how & MEMORY))
        code = prepare_exactly(a);
    if (code == NNRT_SUCCESS)
        code = execute(a, how);
    if (code != NNRT_SUCCESS)
        (void)nnrt_error_set(&a->error, code, "%s", nnrt_code_name(code));
    return code;
}

/* ---- comparing ---- */

static double real_at(const uint8_t *data, NNRT_DataType type, size_t i)
{
    uint16_t half;
    float single;
    double real;
    if (type == NNRT_DATA_TYPE_FLOAT64) {
        memcpy(&real, data + i * sizeof(real), sizeof(real));
        return real;
    }
    if (type == NNRT_DATA_TYPE_FLOAT16) {
        memcpy(&half, data + i * sizeof(half), sizeof(half));
        return half_to(half);
    }
    memcpy(&single, data + i * sizeof(single), sizeof(single));
    return (double)single;
}

/* ---- node by node, within bounds ---- */

#define ROUNDING 0x1p-24

static const value *operand_at(const step *s, uint32_t i)
{
    return i < s->nIn && s->in[i] < g.nValues ? &g.values[s->in[i]] : NULL;
}

/* A member of a node's attributes that is an int32 or a bool; NULL without a member of that name. */
static void *member_of(const step *s, void *attr, const char *name)
{
    for (uint32_t i = 0; i < s->op->attr->count; i++)
        if (strcmp(s->op->attr->members[i].name, name) == 0)
            return (uint8_t *)attr + s->op->attr->members[i].offset;
    return NULL;
}

/* Runs node s alone on the reference device. sizes: on the absolute values of its floats, without an activation. */
static NNRT_ReturnCode run_node(const step *s, bool sizes, attempt *a)
{
    uint32_t in[MAX_OPERANDS], out[MAX_OPERANDS];
    void *attr = malloc(s->op->attr->bytes), *activation = member_of(s, attr, "activationType");
    nnrt_builder *b = NULL;
    NNRT_ReturnCode code;
    memset(a, 0, sizeof(*a));
    memcpy(attr, s->attr, s->op->attr->bytes);
    if (sizes && activation != NULL)
        memset(activation, 0, sizeof(NNRT_ActivationType));
    code = nnrt_builder_create(&b, g.name, NULL);
    for (uint32_t i = 0; i < s->nIn && code == NNRT_SUCCESS; i++) {
        const value *v = operand_at(s, i);
        void *data = NULL;
        in[i] = NNRT_NO_TENSOR;
        for (uint32_t k = 0; k < i; k++)
            in[i] = s->in[k] == s->in[i] ? in[k] : in[i];
        if (v == NULL || in[i] != NNRT_NO_TENSOR)
            continue;
        data = malloc(v->bytes > 0 ? v->bytes : 1);
        memcpy(data, v->data, v->bytes);
        for (size_t k = 0; k < v->bytes / sizeof(float) && sizes && v->type == NNRT_DATA_TYPE_FLOAT32; k++)
            ((float *)data)[k] = fabsf(((float *)data)[k]);
        for (size_t k = 0; k < v->bytes / sizeof(uint16_t) && sizes && v->type == NNRT_DATA_TYPE_FLOAT16; k++)
            ((uint16_t *)data)[k] &= 0x7fff;
        in[i] = nnrt_builder_constant(b, v->name, v->type, v->rank, v->dims, data, true);
        describe(b, in[i], v);
        free(data);
    }
    if (code == NNRT_SUCCESS) {
        for (uint32_t i = 0; i < s->nOut; i++)
            out[i] = s->out[i] < g.nValues ? add_result(b, &g.values[s->out[i]]) : NNRT_NO_TENSOR;
        nnrt_builder_node(b, "node", s->op->type, attr, in, s->nIn, out, s->nOut);
        for (uint32_t i = 0; i < s->nOut; i++)
            if (out[i] != NNRT_NO_TENSOR)
                nnrt_builder_output(b, out[i]);
        (void)scalar(b, "nothing", NNRT_DATA_TYPE_INT32, NULL);
        code = nnrt_builder_finish(b, &a->model, &a->error);
    }
    nnrt_builder_destroy(b);
    free(attr);
    instead = "reference";
    if (code == NNRT_SUCCESS)
        code = prepare(a, 0);
    if (code == NNRT_SUCCESS)
        code = execute(a, ALL);
    instead = NULL;
    return code;
}

/* Terms of each sum of a node that is a convolution or a product of matrices; 0: it is none. */
static double terms_of(const step *s)
{
    const value *x = operand_at(s, 0), *w = operand_at(s, 1);
    const bool *transposed = (const bool *)member_of(s, s->attr, "transposeA");
    switch (s->op->type) {
    case NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION: /* at most */
        return w != NULL ? (double)w->bytes / (double)nnrt_type_size(w->type) : 1;
    case NNRT_NODE_TYPE_CONV2D_FUSION:
    case NNRT_NODE_TYPE_CONV_3D:
    case NNRT_NODE_TYPE_FULL_CONNECTION:
        return w != NULL && w->rank > 0 && w->dims[0] > 0 ? (double)(w->bytes / nnrt_type_size(w->type)) / w->dims[0] : 1;
    case NNRT_NODE_TYPE_MATMUL_FUSION:
        return x == NULL || x->rank < 1 ? 1 : x->dims[x->rank - (x->rank > 1 && *transposed ? 2 : 1)];
    case NNRT_NODE_TYPE_EINSUM: { /* sums over one label are products of matrices; it is as long as the longest axis at most */
        int32_t longest = 1;
        for (int32_t k = 0; x != NULL && k < x->rank; k++)
            longest = x->dims[k] > longest ? x->dims[k] : longest;
        return longest;
    }
    default: return 0;
    }
}

/* The largest finite number of an operand. */
static bool is_single(NNRT_DataType type) /* computed in float32 */
{
    return type == NNRT_DATA_TYPE_FLOAT32 || type == NNRT_DATA_TYPE_FLOAT16;
}

static double largest_of(const value *v)
{
    double most = 0;
    for (size_t i = 0; v != NULL && is_single(v->type) && i < v->bytes / nnrt_type_size(v->type); i++) {
        const double x = fabs(real_at(v->data, v->type, i));
        most = x > most && x < INFINITY ? x : most;
    }
    return most;
}

/* The largest factor of a norm, of which `name` says whether its factors count. */
static double factor_of(const step *s, const char *name)
{
    const bool *affine = (const bool *)member_of(s, s->attr, name);
    return operand_at(s, 1) != NULL && (affine == NULL || *affine) ? largest_of(operand_at(s, 1)) : 1;
}

/* How far the two devices may be from each other in a result that is y, of sums whose absolute values add up to size: each
   has the roundings that tests/devices/test_cpu.c counts, (n + 1) of size, which an activation makes steeper, twice at most, and
   its own. -1: no bound says that, they have the same bits. */
static double bound_of(const step *s, double y, double size)
{
    const double terms = terms_of(s), n = operand_at(s, 0) != NULL && operand_at(s, 0)->rank > 0
                                              ? operand_at(s, 0)->dims[operand_at(s, 0)->rank - 1]
                                              : 1;
    const double all = operand_at(s, 0) != NULL ? (double)(operand_at(s, 0)->bytes / nnrt_type_size(operand_at(s, 0)->type)) : 1;
    const NNRT_ActivationType *fused = (const NNRT_ActivationType *)member_of(s, s->attr, "activationType");
    const bool functions = fused != NULL && *fused != NNRT_ACTIVATION_TYPE_NO_ACTIVATION;
    /* of an activation: 8 of its result; GELU is within 2^-22 of its input, or of 1, which both are at most */
    const double own = functions ? 8 * fabs(y) + (*fused == NNRT_ACTIVATION_TYPE_GELU ? 4 * (1 + size) : 0) : 0;
    if (terms > 0)
        return 2 * ROUNDING * 1.001 * ((terms + 1) * size * (functions ? 2 : 1) + own);
    switch (s->op->type) {
    case NNRT_NODE_TYPE_SOFTMAX: /* the argument of exp is 104 at most unless the result is 0 */
        return 2 * ROUNDING * 1.001 * (2 * (4 + fmin(104, 2 * largest_of(operand_at(s, 0)))) + n + 2) * y + 3e-45;
    case NNRT_NODE_TYPE_LAYER_NORM_FUSION: { /* a number of n is sqrt(n) times their deviation from the mean at most */
        const double part = sqrt(n) * factor_of(s, "elementwiseAffine");
        return 2 * ROUNDING * 1.001 * ((2 + n + 5 + (3 + n) / 2 + 4) * part + 4 * largest_of(operand_at(s, 2)));
    }
    case NNRT_NODE_TYPE_GROUP_NORM_FUSION:
    case NNRT_NODE_TYPE_INSTANCE_NORM: /* the same of `all` numbers; sums carry their rounding errors along */
        return 2 * ROUNDING * 1.001 * (12 * sqrt(all) * factor_of(s, "affine") + 4 * largest_of(operand_at(s, 2)));
    case NNRT_NODE_TYPE_MATMUL_NBITS: { /* sums of products of x, a scale and a difference of entry and zero point */
        const NNRT_MatMulNBits *a = (const NNRT_MatMulNBits *)s->attr;
        const double entry = (a->bits == 8 ? 256 : 16) + largest_of(operand_at(s, 3)), K = (double)a->columns;
        const double sum = K * largest_of(operand_at(s, 0)) * largest_of(operand_at(s, 2)) * entry;
        return 2 * ROUNDING * 1.001 * (K + 3) * (sum + largest_of(operand_at(s, 4)));
    }
    case NNRT_NODE_TYPE_RMS_NORMALIZATION: return 2 * ROUNDING * 1.001 * (n + 8) * fabs(y);
    case NNRT_NODE_TYPE_FUSED_BATCH_NORM:
    case NNRT_NODE_TYPE_SCALE_FUSION: /* a product is at most as large as the result plus the addend */
        return 2 * ROUNDING * 1.001 * (6 * (fabs(y) + largest_of(operand_at(s, 2))) * (functions ? 2 : 1) + own);
    case NNRT_NODE_TYPE_REDUCE_FUSION: /* as if rounded once, except for the errors of the compensation */
        return 2 * ROUNDING * (2 * fabs(y) + ROUNDING * all * all * fmax(largest_of(operand_at(s, 0)), 1));
    case NNRT_NODE_TYPE_LOG_SOFTMAX: /* of two differences, and of the error of the sum */
        return 2 * ROUNDING * 1.001 * (4 * 2 * largest_of(operand_at(s, 0)) + 12 + log(n + 1));
    case NNRT_NODE_TYPE_EXPFUSION: /* the argument of exp is 104 at most where the result is finite and not 0 */
        return 2 * ROUNDING * 1.001 * (2 + 2 + 2 * 104) * fabs(y) + 3e-45;
    case NNRT_NODE_TYPE_ERF: return 2 * ROUNDING * (2 + 2 * fabs(y)); /* 2^-22 */
    case NNRT_NODE_TYPE_LOG:
    case NNRT_NODE_TYPE_SIN:
    case NNRT_NODE_TYPE_COS: return 2 * ROUNDING * 4 * fabs(y);
    case NNRT_NODE_TYPE_TAN: /* the errors of both devices */
    case NNRT_NODE_TYPE_ATAN:
    case NNRT_NODE_TYPE_ASIN:
    case NNRT_NODE_TYPE_ACOS:
    case NNRT_NODE_TYPE_SINH:
    case NNRT_NODE_TYPE_COSH:
    case NNRT_NODE_TYPE_ASINH:
    case NNRT_NODE_TYPE_ACOSH:
    case NNRT_NODE_TYPE_ATANH: return 2 * ROUNDING * 8 * fabs(y);
    case NNRT_NODE_TYPE_L2_NORMALIZE_FUSION:
    case NNRT_NODE_TYPE_LP_NORMALIZATION: return 2 * ROUNDING * 5 * fabs(y);
    case NNRT_NODE_TYPE_RESIZE: /* of 4 cells */
        return ((const NNRT_Resize *)s->attr)->method == NNRT_RESIZE_METHOD_LINEAR
                   ? 2 * ROUNDING * 7 * 1.001 * largest_of(operand_at(s, 0))
                   : -1;
    case NNRT_NODE_TYPE_LRN: /* of up to 31 channels */
        return 2 * ROUNDING * 1.001 * (64 * fabs((double)((const NNRT_LRN *)s->attr)->beta) + 3) * fabs(y);
    case NNRT_NODE_TYPE_POW_FUSION: return 2 * ROUNDING * 3 * fabs(y);
    case NNRT_NODE_TYPE_MISH:
    case NNRT_NODE_TYPE_SOFTPLUS: return 2 * ROUNDING * 8 * fabs(y) + 1.2e-38;
    case NNRT_NODE_TYPE_ACTIVATION:
    case NNRT_NODE_TYPE_ADD_FUSION:
    case NNRT_NODE_TYPE_SUB_FUSION:
    case NNRT_NODE_TYPE_MUL_FUSION:
    case NNRT_NODE_TYPE_DIV_FUSION:
    case NNRT_NODE_TYPE_MAX_POOL_FUSION: return own > 0 ? 2 * ROUNDING * own : -1;
    case NNRT_NODE_TYPE_AVERAGE_POOL_3D:
    case NNRT_NODE_TYPE_AVGPOOL_FUSION: /* windows have `all` cells at most */
        return 2 * ROUNDING * 1.001 * ((all + 2) * largest_of(operand_at(s, 0)) * (functions ? 2 : 1) + own);
    case NNRT_NODE_TYPE_LSTM: /* the bound finds faults only: states magnify errors (tests/devices/test_cpu_recurrent.c) */
    case NNRT_NODE_TYPE_LSTM_PEEPHOLE:
    case NNRT_NODE_TYPE_GRU:
    case NNRT_NODE_TYPE_RNN: return 1e-4 * fmax(fabs(y), 1);
    default: break;
    }
    for (const test_bound *b = device()->bounds; b->op != NULL; b++)
        if (strcmp(b->op, s->op->name) == 0)
            return b->absolute + b->relative * fabs(y);
    return -1;
}

/* A result of a node with bounds on this device, or computed from one. */
static bool is_near(const value *v)
{
    static bool near[MAX_VALUES];
    memset(near, 0, sizeof(near));
    for (uint32_t n = 0; n < g.nSteps && device()->bounds != NULL; n++) {
        const step *s = &g.steps[n];
        const value *x = operand_at(s, 0);
        bool is = x != NULL && is_single(x->type) && bound_of(s, 1, 1) >= 0;
        for (uint32_t i = 0; i < s->nIn; i++)
            is = is || (s->in[i] < g.nValues && near[s->in[i]]);
        for (uint32_t i = 0; i < s->nOut; i++)
            if (s->out[i] < g.nValues)
                near[s->out[i]] = is;
    }
    return near[v - g.values];
}

/* Does data have the bits of a value? Results within bounds may have others: the ways fold constants on the reference device,
   and compute dynamic values. Graphs magnify errors of their nodes by an unknown factor, and an integer computed from them may
   have any value: 1e-4 of the largest number is no proven bound but finds faults. The bounds are those of nodes:
   check_nodes. */
static bool equal(const uint8_t *data, const value *v)
{
    const size_t count = v->bytes / nnrt_type_size(v->type);
    double most = 0;
    if (memcmp(data, v->data, v->bytes) == 0)
        return true;
    if (!is_near(v))
        return false;
    if (!is_single(v->type) && v->type != NNRT_DATA_TYPE_FLOAT64)
        return true;
    for (size_t i = 0; i < count; i++) {
        const double x = fabs(real_at(v->data, v->type, i));
        most = x > most && x < INFINITY ? x : most;
    }
    for (size_t i = 0; i < count; i++) {
        const double x = real_at(v->data, v->type, i), y = real_at(data, v->type, i);
        if (!(fabs(x - y) <= (v->type == NNRT_DATA_TYPE_FLOAT16 ? 1e-2 : 1e-4) * most) && !(x != x && y != y) && !(x == y))
            return false;
    }
    return true;
}

/* Has output i, or have both halves of it, the bytes of the graph? Constant folding computes as the reference device does; another
   one may have other bits in float32 and float16, by its bounds, which check_nodes looks at. */
static bool same(const attempt *a, uint32_t i, int how)
{
    const nnrt_io_info info = nnrt_session_output(a->session, i);
    const value *v = value_named(info.name);
    const int32_t more = how & BODY ? 1 : 0;
    if (v == NULL || v->data == NULL) {
        printf("fail no value is known of output %s\n", info.name);
        return false;
    }
    if (info.dataType != v->type || info.shape.rank != v->rank + more ||
        (v->rank > 0 && memcmp(info.shape.dims + more, v->dims, (size_t)v->rank * sizeof(int32_t)) != 0) ||
        (more == 1 && info.shape.dims[0] != 2))
        return false;
    for (int32_t k = 0; k <= more && !((how & FOLDED) && is_single(v->type) && !is_reference()); k++)
        if (v->bytes > 0 && !equal((const uint8_t *)a->out[i].data + (size_t)k * v->bytes, v))
            return false;
    return true;
}

/* Number of float16 steps from x to the nearest value within `off` of y: one if they are rounded to either side of a
   midpoint. */
static int steps_between(double x, double y, double off)
{
    const double near = fmax(y - off, fmin(y + off, x));
    const uint16_t a = half_of(x), b = half_of(near);
    return abs((a & 0x8000 ? -(a & 0x7fff) : a) - (b & 0x8000 ? -(b & 0x7fff) : b));
}

/* Compares result i of node s, v from the device, with the reference device; false: they differ, and the reason is printed. */
static bool near_enough(const step *s, const value *v, const attempt *a, const attempt *sizes, uint32_t i)
{
    const NNRT_ActivationType *fused = (const NNRT_ActivationType *)member_of(s, s->attr, "activationType");
    const uint8_t *want = (const uint8_t *)a->out[i].data;
    const nnrt_io_info info = nnrt_session_output(a->session, i);
    if (info.bytes == v->bytes && info.dataType == v->type && (v->bytes == 0 || memcmp(want, v->data, v->bytes) == 0))
        return true;
    if (info.bytes != v->bytes || info.dataType != v->type || !is_single(v->type)) {
        printf("differs node by node: %s: result %u has other bits than on the reference device\n", s->op->name, (unsigned)i);
        return false;
    }
    if (terms_of(s) > 0 && fused != NULL && *fused == NNRT_ACTIVATION_TYPE_SIGN) /* any error of 0 is 1 */
        return true;
    for (size_t k = 0; k < v->bytes / nnrt_type_size(v->type); k++) {
        const double x = real_at(v->data, v->type, k), y = real_at(want, v->type, k);
        const double size = sizes != NULL ? real_at((const uint8_t *)sizes->out[i].data, v->type, k) : largest_of(operand_at(s, 0));
        const double off = bound_of(s, y, size) * (v->type == NNRT_DATA_TYPE_FLOAT16 ? 1 + 0x1p-10 : 1);
        const bool half = v->type == NNRT_DATA_TYPE_FLOAT16 && off >= 0 && steps_between(x, y, off) <= 1;
        if (!(fabs(x - y) <= off) && !(x != x && y != y) && !(x == y) && !half) {
            printf("differs node by node: %s, element %lu is %.9g, of the reference device %.9g, bound %.3g\n", s->op->name,
                   (unsigned long)k, x, y, off);
            return false;
        }
    }
    return true;
}

/* Each node, on the device's results of earlier nodes, compared with the reference device. */
static void check_nodes(void)
{
    static attempt a, sizes;
    bool good = true;
    for (uint32_t n = 0; n < g.nSteps && good; n++) {
        const step *s = &g.steps[n];
        const bool sums = terms_of(s) > 0;
        uint32_t i = 0;
        memset(&sizes, 0, sizeof(sizes));
        if (run_node(s, false, &a) != NNRT_SUCCESS || (sums && run_node(s, true, &sizes) != NNRT_SUCCESS)) {
            printf("differs node by node: %s is refused: %s%s\n", s->op->name, a.error.message, sizes.error.message);
            good = false;
        }
        for (uint32_t k = 0; k < s->nOut && good; k++)
            if (s->out[k] < g.nValues)
                good = near_enough(s, &g.values[s->out[k]], &a, sums ? &sizes : NULL, i++);
        attempt_end(&a);
        attempt_end(&sizes);
    }
    if (good)
        printf("pass node by node\n");
}

static void check_way(const way *w)
{
    static attempt a;
    bool open = false;
    uint32_t i = 0;
    for (uint32_t k = 0; k < g.nValues; k++)
        open = open || g.values[k].open != 0;
    if ((w->how & (IN_RUN | IN_SESSION)) && !open)
        return;
    for (uint32_t k = 0; k < g.nOutputs; k++) { /* a scan has one axis more: parameters may mean any */
        const value *v = &g.values[g.outputs[k]];
        if (((w->how & BODY) && v->rank == NNRT_MAX_RANK) || ((w->how & BRANCH) && v->quantCount > 1))
            return;
    }
    if (try_way(&a, w->how) != NNRT_SUCCESS) {
        printf("refused %s: %s\n", w->name, a.error.message);
    } else {
        while (i < a.nOut && same(&a, i, w->how))
            i++;
        if (i < a.nOut) {
            const nnrt_io_info info = nnrt_session_output(a.session, i);
            const nnrt_operand o = nnrt_operand_make(info.dataType, info.shape.rank, info.shape.dims, NULL);
            char text[128];
            (void)nnrt_text(text, sizeof(text), "%o", &o);
            printf("differs %s: other bits in %s, %s\n", w->name, info.name, text);
        } else {
            printf("pass %s\n", w->name);
        }
    }
    attempt_end(&a);
}

/* ---- commands ---- */

static void print_hex(const uint8_t *data, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes; i++) {
        putchar(digits[data[i] >> 4]);
        putchar(digits[data[i] & 15]);
    }
    if (bytes == 0)
        putchar('-');
    putchar('\n');
}

static const char *format_name(NNRT_Format format)
{
    return format == NNRT_FORMAT_NCHW ? "NCHW" : format == NNRT_FORMAT_NHWC ? "NHWC" : "NONE";
}

static void print_outputs(const attempt *a)
{
    for (uint32_t i = 0; i < a->nOut; i++)
        if (nnrt_session_output(a->session, i).bytes > MAX_BYTES) {
            printf("error output %u is too large\n", (unsigned)i);
            return;
        }
    for (uint32_t i = 0; i < a->nOut; i++) {
        const nnrt_io_info info = nnrt_session_output(a->session, i);
        printf("out %s %s %s %d [", info.name + 1, nnrt_type_name(info.dataType), format_name(info.format), info.open);
        for (int32_t k = 0; k < info.shape.rank; k++)
            printf(k > 0 ? ",%d" : "%d", (int)info.shape.dims[k]);
        printf("] ");
        print_hex((const uint8_t *)a->out[i].data, info.bytes);
    }
}

static void run_graph(const char *name)
{
    static attempt a;
    if (try_way(&a, strcmp(name, "all") == 0 ? ALL : strcmp(name, "passes") == 0 ? PASSES : 0) == NNRT_SUCCESS)
        print_outputs(&a);
    else
        printf("error %s\n", a.error.message);
    attempt_end(&a);
}

static void run_onnx(const char *path)
{
    static attempt a;
    nnrt_onnx_desc desc;
    NNRT_ReturnCode code;
    memset(&a, 0, sizeof(a));
    memset(&desc, 0, sizeof(desc));
    desc.no_optimize = true;
    code = nnrt_onnx_load(&a.model, path, &desc, &a.error);
    if (code == NNRT_SUCCESS)
        code = prepare(&a, 0);
    if (code == NNRT_SUCCESS)
        code = execute(&a, ALL);
    if (code == NNRT_SUCCESS)
        print_outputs(&a);
    else
        printf("error %s: %s\n", nnrt_code_name(code), a.error.message);
    attempt_end(&a);
}

static void save_graph(const char *path)
{
    NNRT_Model *model = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (build(&model, 0, &error) != NNRT_SUCCESS || nnrt_model_save(model, path, NULL, &error) != NNRT_SUCCESS)
        printf("error %s\n", error.message);
    nnrt_model_destroy(model);
}

static void *pool[4096];
static uint32_t pooled;

static void *pool_alloc(void *user, size_t bytes)
{
    (void)user;
    return pooled < sizeof(pool) / sizeof(pool[0]) ? (pool[pooled++] = calloc(1, bytes > 0 ? bytes : 1)) : NULL;
}

static nnrt_operand operand_of(const value *v)
{
    nnrt_operand o = nnrt_operand_make(v != NULL ? v->type : NNRT_DATA_TYPE_UNKNOWN, v != NULL ? v->rank : -1,
                                       v != NULL ? v->dims : NULL, v != NULL && v->kind != RESULT ? v->data : NULL);
    if (v == NULL)
        return o;
    if (v->kind == RESULT)
        o.rank = -1;
    o.format = v->format;
    o.quant = v->quant;
    o.quantCount = v->quantCount;
    o.quantAxis = v->quantAxis;
    return o;
}

/* The only node with nothing left to interpret, all inputs known; its results' format and parameters. */
static void print_resolved(void)
{
    static nnrt_operand in[MAX_OPERANDS], out[MAX_OPERANDS];
    static char text[1 << 16];
    const step *s = &g.steps[0];
    nnrt_resolve r;
    nnrt_error error;
    memset(&r, 0, sizeof(r));
    memset(&error, 0, sizeof(error));
    for (uint32_t i = 0; i < MAX_OPERANDS; i++) {
        in[i] = operand_of(i < s->nIn && s->in[i] < g.nValues ? &g.values[s->in[i]] : NULL);
        out[i] = operand_of(i < s->nOut && s->out[i] < g.nValues ? &g.values[s->out[i]] : NULL);
    }
    r.op = s->op;
    r.nodeName = g.name;
    r.node = 0;
    r.attr = s->attr;
    r.attrBytes = s->op->attr->bytes;
    r.in = in;
    r.out = out;
    r.nIn = s->nIn;
    r.nOut = s->nOut;
    r.alloc = pool_alloc;
    r.error = &error;
    if (nnrt_resolve_node(&r) != NNRT_SUCCESS) {
        printf("error %s\n", error.message);
    } else {
        (void)nnrt_attr_print(s->op->attr, r.resolved, text, sizeof(text));
        printf("attr %s\n", text);
        for (uint32_t i = 0; i < s->nOut; i++) {
            printf("result %s %d", format_name(out[i].format), (int)out[i].quantAxis);
            for (uint32_t k = 0; k < out[i].quantCount; k++)
                printf(" %d %d %.17g", (int)out[i].quant[k].numBits, (int)out[i].quant[k].zeroPoint, out[i].quant[k].scale);
            putchar('\n');
        }
    }
    while (pooled > 0)
        free(pool[--pooled]);
}

static void command(char *word, char *rest)
{
    if (g.why[0] != '\0' || g.nSteps == 0)
        printf("error %s\n", g.why[0] != '\0' ? g.why : "the graph has no node");
    else if (strcmp(word, "run") == 0)
        run_graph(rest);
    else if (strcmp(word, "attr") == 0)
        print_resolved();
    else if (strcmp(word, "onnx") == 0)
        run_onnx(rest);
    else if (strcmp(word, "save") == 0)
        save_graph(rest);
    else if (strcmp(word, "check") == 0) {
        if (device()->bounds != NULL && strcmp(rest, "open") != 0)
            check_nodes();
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            const bool open = (ways[i].how & (IN_RUN | IN_SESSION)) != 0;
            if (*rest == '\0' || open == (strcmp(rest, "open") == 0))
                check_way(&ways[i]);
        }
    } else
        printf("error there is no command %s\n", word);
    printf("done\n");
    fflush(stdout);
}

/* Operators as the table has them, with the attributes that a node may have. */
static void print_operators(void)
{
    for (uint32_t i = 0; nnrt_op_at(i) != NULL; i++) {
        const nnrt_op *op = nnrt_op_at(i);
        printf("op %s %s |%s|%s\n", op->name, (op->flags & NNRT_OP_DATA_DEPENDENT) != 0 ? "tells" : "-", op->inputs, op->outputs);
        for (uint32_t k = 0; k < op->attr->count; k++) {
            const nnrt_attr_member *m = &op->attr->members[k];
            printf("member %s %d", m->name, (int)m->kind);
            for (uint32_t v = 0; v < m->valueCount; v++)
                printf(" %s=%d", m->values[v].name, (int)m->values[v].value);
            putchar('\n');
        }
    }
    printf("done\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "r") : stdin;
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    if (f == NULL) {
        fprintf(stderr, "cannot open %s\n", argv[1]);
        return 2;
    }
    while ((n = getline(&line, &size, f)) > 0) {
        char *rest;
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == ' '))
            line[--n] = '\0';
        if (n == 0 || *line == '#')
            continue;
        if ((rest = strchr(line, ' ')) != NULL)
            *rest++ = '\0';
        else
            rest = line + n;
        if (strcmp(line, "operators") == 0)
            print_operators();
        else if (!read_statement(line, rest))
            command(line, rest);
    }
    clear();
    free(line);
    if (f != stdin)
        fclose(f);
    return 0;
}
