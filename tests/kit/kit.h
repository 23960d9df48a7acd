/* Shared by tests of models: an allocator that counts and can be made to fail, and models as data. A test includes the
   header under test, then this. */
#ifndef KIT_H
#define KIT_H

#define F32 NNRT_DATA_TYPE_FLOAT32
#define I32 NNRT_DATA_TYPE_INT32
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ---- an allocator that counts, checks sizes, and fails on request ---- */

#define MAX_BLOCKS 1024

typedef struct tracker {
    void *blocks[MAX_BLOCKS];
    size_t sizes[MAX_BLOCKS];
    int64_t calls, failAt; /* the call of this number (1 is the first) fails; 0 = none */
    size_t live, cap;      /* bytes held; a single request above cap fails; 0 = 64 MiB */
    size_t peak;           /* most bytes held */
    bool wrong;            /* a block freed twice, or with another size */
} tracker;

static inline void *tracker_alloc(void *user, size_t bytes, size_t alignment)
{
    tracker *t = (tracker *)user;
    void *block = NULL;
    if (++t->calls == t->failAt || bytes > (t->cap != 0 ? t->cap : (size_t)64 << 20))
        return NULL;
    for (uint32_t i = 0; i < MAX_BLOCKS; i++)
        if (t->blocks[i] == NULL) {
            if (posix_memalign(&block, alignment, bytes > 0 ? bytes : 1) != 0)
                return NULL;
            memset(block, 0xA5, bytes);
            t->blocks[i] = block;
            t->sizes[i] = bytes;
            t->live += bytes;
            t->peak = t->live > t->peak ? t->live : t->peak;
            return block;
        }
    return NULL;
}

static inline void tracker_free(void *user, void *block, size_t bytes)
{
    tracker *t = (tracker *)user;
    for (uint32_t i = 0; i < MAX_BLOCKS; i++)
        if (t->blocks[i] == block) {
            t->wrong = t->wrong || t->sizes[i] != bytes;
            t->live -= t->sizes[i];
            t->blocks[i] = NULL;
            free(block);
            return;
        }
    t->wrong = true;
}

static inline nnrt_allocator allocator_of(tracker *t)
{
    nnrt_allocator a;
    a.alloc = tracker_alloc;
    a.free = tracker_free;
    a.user = t;
    return a;
}

/* ---- models ---- */

#define MAX_TENSORS 96
#define MAX_NODES 64
#define MAX_OPERANDS 8

/* A model under construction: everything NNRT_Model points to. It contains pointers to itself: do not copy it. */
typedef struct graph {
    NNRT_Model model;
    NNRT_Tensor tensors[MAX_TENSORS];
    int32_t dims[MAX_TENSORS][NNRT_MAX_RANK + 1];
    NNRT_Node nodes[MAX_NODES];
    uint32_t in[MAX_NODES][MAX_OPERANDS], out[MAX_NODES][MAX_OPERANDS];
    uint32_t inputs[16], outputs[32];
    NNRT_SubGraph main;
} graph;

/* "1 2 -" -> 1, 2, NNRT_NO_TENSOR. Returns their number. */
static inline uint32_t parse_indices(const char *text, uint32_t *out)
{
    uint32_t n = 0;
    while (*text != '\0') {
        char *end;
        if (*text == ' ') {
            text++;
        } else if (*text == '-') {
            out[n++] = NNRT_NO_TENSOR;
            text++;
        } else {
            out[n++] = (uint32_t)strtoul(text, &end, 10);
            text = end;
        }
    }
    return n;
}

static inline void graph_init(graph *g)
{
    memset(g, 0, sizeof(*g));
    g->model.name = "test";
    g->model.allTensors.data = g->tensors;
    g->model.nodes.data = g->nodes;
    g->model.inputIndex.data = g->inputs;
    g->model.outputIndex.data = g->outputs;
    g->model.subGraph.data = &g->main;
    g->model.subGraph.count = 1;
    g->main.name = "main";
}

/* dims: "2,3", "" = scalar, "?" = unknown. */
static inline uint32_t tensor(graph *g, const char *name, NNRT_DataType type, const char *dims)
{
    uint32_t i = g->model.allTensors.count++;
    NNRT_Tensor *t = &g->tensors[i];
    t->name = name;
    t->dataType = type;
    t->format = NNRT_FORMAT_NONE;
    t->data.fd = -1;
    t->dims.data = g->dims[i];
    if (*dims == '?') {
        g->dims[i][0] = NNRT_RANK_UNKNOWN;
        t->dims.count = 1;
        return i;
    }
    while (*dims != '\0') {
        char *end;
        g->dims[i][t->dims.count++] = (int32_t)strtol(dims, &end, 10);
        dims = *end == ',' ? end + 1 : end;
    }
    return i;
}

/* A result with undeclared type and shape. */
static inline uint32_t result(graph *g, const char *name)
{
    return tensor(g, name, NNRT_DATA_TYPE_UNKNOWN, "?");
}

static inline uint32_t constant(graph *g, const char *name, NNRT_DataType type, const char *dims, const void *data,
                         size_t bytes)
{
    uint32_t i = tensor(g, name, type, dims);
    g->tensors[i].data.addr = (void *)(uintptr_t)data;
    g->tensors[i].data.bufferSize = g->tensors[i].data.dataSize = (uint32_t)bytes;
    return i;
}

static inline uint32_t node(graph *g, const char *name, NNRT_NodeType type, const void *attr, size_t bytes, const char *in,
                     const char *out)
{
    uint32_t i = g->model.nodes.count++;
    NNRT_Node *n = &g->nodes[i];
    n->name = name;
    n->nodeType = type;
    n->nodeAttr.data = attr;
    n->nodeAttr.size = (uint32_t)bytes;
    n->inputIndex.data = g->in[i];
    n->inputIndex.count = parse_indices(in, g->in[i]);
    n->outputIndex.data = g->out[i];
    n->outputIndex.count = parse_indices(out, g->out[i]);
    return i;
}

static inline void graph_io(graph *g, const char *inputs, const char *outputs)
{
    g->model.inputIndex.count = parse_indices(inputs, g->inputs);
    g->model.outputIndex.count = parse_indices(outputs, g->outputs);
}

/* Attributes that many nodes share. */
static const NNRT_Activation relu = {NNRT_ACTIVATION_TYPE_RELU, 0, 0, 0, false};
static const NNRT_Activation absolute = {NNRT_ACTIVATION_TYPE_ABS, 0, 0, 0, false};
static const NNRT_AddFusion plain_add = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION};
static const NNRT_SubFusion plain_sub = {NNRT_ACTIVATION_TYPE_NO_ACTIVATION};
static const int32_t swap_axes[2] = {1, 0};

#define ACTIVATION(g, name, attr, in, out) node(g, name, NNRT_NODE_TYPE_ACTIVATION, &(attr), sizeof(attr), in, out)
#define ADD(g, name, in, out) node(g, name, NNRT_NODE_TYPE_ADD_FUSION, &plain_add, sizeof(plain_add), in, out)
#define SUB(g, name, in, out) node(g, name, NNRT_NODE_TYPE_SUB_FUSION, &plain_sub, sizeof(plain_sub), in, out)
#define PLAIN(g, name, type, in, out) node(g, name, NNRT_NODE_TYPE_##type, NULL, 0, in, out)

/* ---- buffers with guards ---- */

#define GUARD 64

/* bytes with GUARD bytes of a pattern on both sides; the address is 64k + skew. */
typedef struct guarded {
    uint8_t *block, *data;
    size_t bytes;
} guarded;

static inline guarded guarded_make(size_t bytes, size_t skew)
{
    guarded b;
    void *block = NULL;
    assert_int_equal(posix_memalign(&block, NNRT_ALIGNMENT, bytes + skew + 2 * GUARD), 0);
    b.block = (uint8_t *)block;
    b.data = b.block + GUARD + skew;
    b.bytes = bytes;
    memset(b.block, 0xC3, bytes + skew + 2 * GUARD);
    memset(b.data, 0xFF, bytes); /* NaN when read as floats */
    return b;
}

static inline void guarded_end(guarded *b)
{
    for (uint8_t *p = b->block; p < b->data; p++)
        assert_int_equal(*p, 0xC3);
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(b->data[b->bytes + i], 0xC3);
    free(b->block);
}

/* ---- instruction sets of the device cpu ---- */

/* The instruction set whose float kernels a set uses: another one for sets with 8-bit kernels only. */
static inline const char *set_of_floats(const char *set)
{
    if (strcmp(set, "avx512vnni") == 0)
        return "avx512";
    return strcmp(set, "dotprod") == 0 || strcmp(set, "fp16") == 0 || strcmp(set, "i8mm") == 0 ? "neon" : set;
}

/* Whether an instruction set packs float16 and int8 weights; the others pack float32. */
static inline bool packs_small(const char *set)
{
    return strcmp(set, "vector") != 0 && strcmp(set, "simd128") != 0 && strcmp(set, "relaxed") != 0;
}

#endif
