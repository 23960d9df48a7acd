/* Shared by the fuzz targets: bytes as a source of decisions, an allocator with a limit, attributes derived from their
 * descriptions, and a run of a model that checks all invariants, whatever the bytes are.
 *
 * A target is a function `static void fuzz_NAME(const uint8_t *data, size_t size)` in fuzz_NAME.c, which ends with
 * FUZZ_TARGET(fuzz_NAME). That makes it an entry of libFuzzer (the default), a persistent main for AFL++ (compiled by
 * afl-clang-fast) or, if FUZZ_INCLUDED is defined, nothing: the test that includes it calls it. A target ends the
 * program (abort) if an invariant is violated; the sanitizers detect other errors. */
#ifndef NNRT_TESTS_FUZZ_H
#define NNRT_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(FUZZ_INCLUDED)
#define FUZZ_TARGET(name)
#elif defined(__AFL_COMPILER)
#include <unistd.h>
#define FUZZ_TARGET(name)                                                                                              \
    __AFL_FUZZ_INIT();                                                                                                 \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        const uint8_t *data = __AFL_FUZZ_TESTCASE_BUF;                                                                 \
        while (__AFL_LOOP(10000))                                                                                      \
            name(data, (size_t)__AFL_FUZZ_TESTCASE_LEN);                                                               \
        return 0;                                                                                                      \
    }
#else
#define FUZZ_TARGET(name)                                                                                              \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                                                      \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                                       \
    {                                                                                                                  \
        name(data, size);                                                                                              \
        return 0;                                                                                                      \
    }
#endif

/* A violated rule ends the program: the fuzzer keeps the bytes. */
static inline void fuzz_expect(bool good, const char *rule, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fuzz: %s: %s\n", rule, what != NULL ? what : "");
    abort();
}

/* The bytes of a buffer, and whether a tensor is a constant, of any size. */
static inline const void *fuzz_data(const NNRT_SharedBuffer *b)
{
    return b->addr != NULL ? (const uint8_t *)b->addr + b->offset : NULL;
}

static inline bool fuzz_constant(const NNRT_Tensor *t)
{
    return t->data.addr != NULL || t->data.dataSize != 0;
}

/* ---- memory ---- */

/* live: bytes allocated now; limit: their maximum; refused: calls that would have exceeded it. A block has an
   allocation of exactly its size, so that the address sanitizer detects an access to the first byte after it. */
typedef struct fuzz_memory {
    size_t live, limit, refused, blocks;
} fuzz_memory;

static inline void *fuzz_alloc(void *user, size_t bytes, size_t alignment)
{
    fuzz_memory *m = (fuzz_memory *)user;
    void *block = NULL;
    fuzz_expect(bytes > 0, "an allocation has bytes", NULL);
    fuzz_expect(alignment > 0 && (alignment & (alignment - 1)) == 0, "an alignment is a power of two", NULL);
    if (bytes > m->limit - m->live) {
        m->refused++;
        return NULL;
    }
    if (posix_memalign(&block, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes) != 0)
        return NULL;
    memset(block, 0xA5, bytes);
    m->live += bytes;
    m->blocks++;
    return block;
}

static inline void fuzz_free(void *user, void *block, size_t bytes)
{
    fuzz_memory *m = (fuzz_memory *)user;
    fuzz_expect(block != NULL && m->blocks > 0 && bytes <= m->live, "free gets a block and its size", NULL);
    m->live -= bytes;
    m->blocks--;
    free(block);
}

static inline nnrt_allocator fuzz_allocator(fuzz_memory *m, size_t limit)
{
    nnrt_allocator a;
    memset(m, 0, sizeof(*m));
    m->limit = limit;
    a.alloc = fuzz_alloc;
    a.free = fuzz_free;
    a.user = m;
    return a;
}

/* All allocated memory has been freed. */
static inline void fuzz_memory_empty(const fuzz_memory *m)
{
    fuzz_expect(m->blocks == 0 && m->live == 0, "nothing leaks", NULL);
}

/* Memory of the target itself: aligned as a caller's buffer must be, exactly bytes long. */
static inline void *fuzz_block(size_t bytes)
{
    void *block = NULL;
    if (posix_memalign(&block, NNRT_ALIGNMENT, bytes > 0 ? bytes : 1) != 0) {
        fprintf(stderr, "fuzz: out of memory\n");
        exit(1);
    }
    memset(block, 0, bytes > 0 ? bytes : 1);
    return block;
}

/* ---- bytes as decisions ---- */

typedef struct fuzz_bytes {
    const uint8_t *data;
    size_t size, at;
} fuzz_bytes;

static inline fuzz_bytes fuzz_bytes_make(const uint8_t *data, size_t size)
{
    fuzz_bytes f;
    f.data = data;
    f.size = size;
    f.at = 0;
    return f;
}

/* The next byte; 0 after the last. */
static inline uint32_t fuzz_byte(fuzz_bytes *f)
{
    return f->at < f->size ? f->data[f->at++] : 0;
}

static inline uint32_t fuzz_word(fuzz_bytes *f)
{
    uint32_t word = 0;
    for (int i = 0; i < 4; i++)
        word = word << 8 | fuzz_byte(f);
    return word;
}

/* 0 .. count-1 */
static inline uint32_t fuzz_below(fuzz_bytes *f, uint32_t count)
{
    return fuzz_byte(f) % count;
}

/* True once in `odds` times. */
static inline bool fuzz_rarely(fuzz_bytes *f, uint32_t odds)
{
    return fuzz_byte(f) % odds == odds - 1;
}

/* Fills a block with the remaining bytes, repeated from the current position. */
static inline void fuzz_fill(fuzz_bytes *f, void *data, size_t bytes)
{
    size_t start = f->at, left = f->size - f->at, take = bytes < left ? bytes : left;
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)data)[i] = take > 0 ? f->data[start + i % take] : (uint8_t)0;
    f->at += take < 16 ? take : 16;
}

/* An integer for an attribute: mostly small, sometimes an extreme value. */
static inline int64_t fuzz_int(fuzz_bytes *f)
{
    static const int64_t borders[] = {
        0x7FFFFFFF, -0x7FFFFFFF - 1, 0x7FFFFFFE, 65536, 46341, 0x40000000, -0x40000000, INT64_MAX,
        INT64_MIN,  0x100000000,     255,        1024,  -100,  12,         9,           8};
    uint32_t b = fuzz_byte(f);
    if (b < 200)
        return (int64_t)(b % 8) - (b >= 128 ? 3 : 0);
    if (b < 240)
        return (int64_t)(fuzz_byte(f) % 32) - 8;
    return borders[b % 16];
}

/* A dimension: mostly 1 to 4; if `wild`, also values that no tensor can have. */
static inline int32_t fuzz_extent(fuzz_bytes *f, bool wild)
{
    static const int32_t extents[] = {1, 2, 3, 4, 1, 2, 5, 0, 6, 7, 8, 16};
    uint32_t b = fuzz_byte(f);
    if (wild && b >= 250)
        return (int32_t)fuzz_int(f);
    return extents[b % 12];
}

static inline int32_t fuzz_dims(fuzz_bytes *f, int32_t *dims, bool wild)
{
    int32_t rank = (int32_t)fuzz_below(f, 8);
    if (rank > 5)
        rank = rank == 6 ? 4 : (int32_t)fuzz_below(f, NNRT_MAX_RANK + 1);
    for (int32_t i = 0; i < rank; i++)
        dims[i] = fuzz_extent(f, wild);
    return rank;
}

/* A data type: mostly float32. */
static inline NNRT_DataType fuzz_type(fuzz_bytes *f)
{
    static const NNRT_DataType types[] = {NNRT_DATA_TYPE_FLOAT32, NNRT_DATA_TYPE_FLOAT32, NNRT_DATA_TYPE_FLOAT32,
                                          NNRT_DATA_TYPE_INT32,   NNRT_DATA_TYPE_INT64,   NNRT_DATA_TYPE_FLOAT16,
                                          NNRT_DATA_TYPE_BOOL,    NNRT_DATA_TYPE_INT8,    NNRT_DATA_TYPE_UINT8,
                                          NNRT_DATA_TYPE_INT16,   NNRT_DATA_TYPE_UINT16,  NNRT_DATA_TYPE_UINT32,
                                          NNRT_DATA_TYPE_UINT64,  NNRT_DATA_TYPE_FLOAT64};
    return types[fuzz_below(f, 14)];
}

/* ---- attributes ---- */

#define FUZZ_ATTR_BYTES 1024
#define FUZZ_ATTR_INTS 8
#define FUZZ_ATTR_LISTS 24

/* An attribute struct with its lists; they are used in place. */
typedef struct fuzz_attr {
    uint64_t block[FUZZ_ATTR_BYTES / 8];
    int64_t ints[FUZZ_ATTR_LISTS][FUZZ_ATTR_INTS];
    NNRT_Int64List lists[FUZZ_ATTR_LISTS];
    float floats[FUZZ_ATTR_LISTS][FUZZ_ATTR_INTS];
    char texts[FUZZ_ATTR_LISTS][4];
    uint32_t usedInts, usedLists, usedFloats, usedTexts;
} fuzz_attr;

static inline NNRT_Int64List fuzz_attr_ints(fuzz_bytes *f, fuzz_attr *a)
{
    static const uint32_t counts[] = {2, 2, 4, 1, 0, 3, 2, 4, 8};
    uint32_t count = counts[fuzz_below(f, 9)];
    int64_t *ints;
    if (a->usedInts == FUZZ_ATTR_LISTS)
        return nnrt_int64_list(NULL, 0);
    ints = a->ints[a->usedInts++];
    for (uint32_t i = 0; i < count; i++)
        ints[i] = fuzz_int(f);
    return nnrt_int64_list(ints, count);
}

static inline NNRT_Int64Lists fuzz_attr_lists(fuzz_bytes *f, fuzz_attr *a)
{
    NNRT_Int64Lists lists;
    uint32_t count = fuzz_rarely(f, 3) ? fuzz_below(f, 5) : 2;
    lists.data = &a->lists[a->usedLists];
    lists.count = count <= FUZZ_ATTR_LISTS - a->usedLists ? count : 0;
    for (uint32_t i = 0; i < lists.count; i++)
        a->lists[a->usedLists++] = fuzz_attr_ints(f, a);
    return lists;
}

static inline float fuzz_attr_float(fuzz_bytes *f)
{
    static const float floats[] = {0.0f, 1.0f, -1.0f, 0.5f, 1e-5f, 6.0f, 3e38f, -3e38f};
    uint32_t word = fuzz_byte(f);
    float value = floats[word % 8];
    word = word > 250 ? fuzz_word(f) : 0;
    if (word != 0)
        memcpy(&value, &word, sizeof(word));
    return value;
}

static inline NNRT_FloatList fuzz_attr_floats(fuzz_bytes *f, fuzz_attr *a)
{
    const uint32_t count = fuzz_below(f, FUZZ_ATTR_INTS + 1);
    float *floats;
    if (a->usedFloats == FUZZ_ATTR_LISTS)
        return nnrt_float_list(NULL, 0);
    floats = a->floats[a->usedFloats++];
    for (uint32_t i = 0; i < count; i++)
        floats[i] = fuzz_attr_float(f);
    return nnrt_float_list(floats, count);
}

/* The default of a STRING member, nothing, or a few bytes. */
static inline const char *fuzz_attr_text(fuzz_bytes *f, fuzz_attr *a, const char *initial)
{
    char *text;
    switch (fuzz_byte(f) % 4) {
    case 0: return NULL;
    case 1: return initial;
    default: break;
    }
    if (a->usedTexts == FUZZ_ATTR_LISTS)
        return "";
    text = a->texts[a->usedTexts++];
    for (uint32_t i = 0; i < 3; i++)
        text[i] = (char)fuzz_byte(f);
    return text;
}

static inline void fuzz_attr_member(fuzz_bytes *f, fuzz_attr *a, const nnrt_attr_member *m)
{
    uint8_t *at = (uint8_t *)a->block + m->offset;
    bool flag;
    int64_t number;
    int32_t value;
    NNRT_Int64List list;
    NNRT_Int64Lists lists;
    NNRT_FloatList reals;
    const char *text;
    float real;
    double wide;
    uint32_t word;
    switch (m->kind) {
    case NNRT_ATTR_KIND_BOOL:
        flag = (fuzz_byte(f) & 1) != 0;
        memcpy(at, &flag, sizeof(flag));
        break;
    case NNRT_ATTR_KIND_INT:
    case NNRT_ATTR_KIND_INT64:
        number = fuzz_int(f);
        memcpy(at, &number, sizeof(number));
        break;
    case NNRT_ATTR_KIND_FLOAT:
        real = fuzz_attr_float(f);
        memcpy(at, &real, sizeof(real));
        break;
    case NNRT_ATTR_KIND_DOUBLE:
        wide = (double)fuzz_attr_float(f) * 1.0000000001;
        memcpy(at, &wide, sizeof(wide));
        break;
    case NNRT_ATTR_KIND_TYPE:
        number = fuzz_rarely(f, 12) ? fuzz_int(f) : fuzz_type(f);
        value = (int32_t)number;
        if (m->bytes == sizeof(number))
            memcpy(at, &number, sizeof(number));
        else
            memcpy(at, &value, sizeof(value));
        break;
    case NNRT_ATTR_KIND_STRING:
        memcpy(&text, at, sizeof(text));
        text = fuzz_attr_text(f, a, text);
        memcpy(at, &text, sizeof(text));
        break;
    case NNRT_ATTR_KIND_GRAPH:
        word = fuzz_rarely(f, 3) ? fuzz_below(f, 3) : NNRT_NO_GRAPH;
        memcpy(at, &word, sizeof(word));
        break;
    case NNRT_ATTR_KIND_ENUM:
        value = fuzz_rarely(f, 12) ? (int32_t)fuzz_int(f) : m->values[fuzz_below(f, m->valueCount)].value;
        memcpy(at, &value, sizeof(value));
        break;
    case NNRT_ATTR_KIND_FLOATS:
        reals = fuzz_attr_floats(f, a);
        memcpy(at, &reals, sizeof(reals));
        break;
    case NNRT_ATTR_KIND_INTS:
    case NNRT_ATTR_KIND_INTS64:
        list = fuzz_attr_ints(f, a);
        memcpy(at, &list, sizeof(list));
        break;
    case NNRT_ATTR_KIND_INTS2:
        lists = fuzz_attr_lists(f, a);
        memcpy(at, &lists, sizeof(lists));
        break;
    default: break;
    }
}

/* The attributes of op: defaults, and about half of the members from the bytes. */
static inline const void *fuzz_attr_make(fuzz_bytes *f, fuzz_attr *a, const nnrt_op *op)
{
    fuzz_expect(op->attr->bytes <= FUZZ_ATTR_BYTES, "attributes fit", op->name);
    memset(a, 0, sizeof(*a));
    nnrt_attr_defaults(op->attr, a->block);
    for (uint32_t i = 0; i < op->attr->count; i++)
        if (fuzz_byte(f) % 4 != 0)
            fuzz_attr_member(f, a, &op->attr->members[i]);
    return a->block;
}

static inline const nnrt_op *fuzz_op(fuzz_bytes *f)
{
    static uint32_t count;
    while (nnrt_op_at(count) != NULL)
        count++;
    return nnrt_op_at(fuzz_byte(f) % count);
}

/* ---- rules that hold for every call ---- */

/* A message is terminated; a failure has one, with the returned code. */
static inline void fuzz_check_error(NNRT_ReturnCode code, const nnrt_error *e, const char *call)
{
    fuzz_expect(memchr(e->message, 0, sizeof(e->message)) != NULL, "a message ends", call);
    if (code == NNRT_SUCCESS)
        return;
    fuzz_expect(e->message[0] != '\0', "a failure leaves a message", call);
    fuzz_expect(e->code == code, "the message is of the code that comes back", e->message);
}

/* A code that a run may return after prepare succeeded: only faults that kernels find in run-time data. The message
   contains their words, however long the names in it are. */
static inline bool fuzz_run_failure(NNRT_ReturnCode code, const char *message)
{
    static const char *const texts[] = {
        "lies outside axis",        /* an index */
        "of the divisor is 0",      /* DIV_FUSION, MOD of integers */
        "axis is ",                 /* CUM_SUM */
        "expected at most max",     /* CLIP */
        "roisNum[", "batchIndices[" /* ROI_ALIGN */
    };
    if (code == NNRT_FAILED)
        return strstr(message, "of the condition is false") != NULL; /* ASSERT */
    if (code != NNRT_INVALID_PARAMETER)
        return false;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strstr(message, texts[i]) != NULL)
            return true;
    return false;
}

static inline NNRT_ReturnCode fuzz_leaves_node(void *user, uint32_t node, nnrt_resolve *c, bool folded)
{
    bool *leaves = (bool *)user;
    (void)node;
    (void)folded;
    *leaves = *leaves || c->open || c->late;
    for (uint32_t i = 0; i < c->nOut; i++)
        for (int32_t k = 0; k < c->out[i].rank; k++)
            *leaves = *leaves || c->out[i].symbols[k] != 0;
    return NNRT_SUCCESS;
}

/* Whether a shape rule of the model needs values that only a run knows: the run may fail because of them. */
static inline bool fuzz_leaves(const NNRT_Model *m, const nnrt_dims_list *dims)
{
    NNRT_ModelConfig config;
    nnrt_memory memory;
    bool leaves = false;
    nnrt_operand *tensors = (nnrt_operand *)malloc((m->allTensors.count + 1) * sizeof(*tensors));
    memset(&config, 0, sizeof(config));
    config.inputDims = *dims;
    nnrt_memory_allocate(&memory, NULL);
    (void)nnrt_model_infer(m, &config, &memory, tensors, fuzz_leaves_node, &leaves);
    nnrt_memory_end(&memory);
    free(tensors);
    return leaves;
}

#define FUZZ_IO 16
#define FUZZ_SESSION_BYTES ((size_t)8 << 20) /* limit for preparing */
#define FUZZ_SMALL_BYTES ((size_t)24 << 10)  /* larger models are prepared, but not run: time is bounded */

typedef struct fuzz_run {
    nnrt_io in[FUZZ_IO], out[FUZZ_IO];
    uint32_t nIn, nOut;
    void *copies[FUZZ_IO], *first[FUZZ_IO];
    bool leaves; /* of fuzz_leaves */
    NNRT_ReturnCode code;
} fuzz_run;

/* A failure that a run of the model may have. */
static inline bool fuzz_run_refused(const fuzz_run *r, const char *message)
{
    /* codes of rules that check dimensions: a dimension is the number of outputs of UNSTACK */
    const bool told = r->code == NNRT_INVALID_PARAMETER || r->code == NNRT_INVALID_SHAPE || r->code == NNRT_INVALID_OUTPUT ||
                      r->code == NNRT_OUT_OF_DIMENTION_RANGES || r->code == NNRT_INSUFFICIENT_BUFFER;
    return fuzz_run_failure(r->code, message) || (r->leaves && told && message[0] != '\0');
}

static inline bool fuzz_small(const nnrt_session *s)
{
    nnrt_session_memory m = nnrt_session_get_memory(s);
    size_t bytes = m.arena + m.constants;
    fuzz_expect(m.arena >= m.bound, "no arena is smaller than what lives at once", NULL);
    if (nnrt_session_inputs(s) > FUZZ_IO || nnrt_session_outputs(s) > FUZZ_IO || m.steps > 64)
        return false;
    for (uint32_t i = 0; i < nnrt_session_inputs(s); i++)
        bytes += nnrt_session_input(s, i).bytes;
    for (uint32_t i = 0; i < nnrt_session_outputs(s); i++)
        bytes += nnrt_session_output(s, i).bytes;
    return bytes <= FUZZ_SMALL_BYTES;
}

static inline void fuzz_run_begin(fuzz_run *r, const nnrt_session *s, fuzz_bytes *f)
{
    memset(r, 0, sizeof(*r));
    r->nIn = nnrt_session_inputs(s);
    r->nOut = nnrt_session_outputs(s);
    for (uint32_t i = 0; i < r->nIn; i++) {
        r->in[i] = nnrt_io_make(NULL, nnrt_session_input(s, i).bytes);
        r->in[i].data = fuzz_block(r->in[i].bytes);
        r->copies[i] = fuzz_block(r->in[i].bytes);
        if (f != NULL)
            fuzz_fill(f, r->in[i].data, r->in[i].bytes);
        memcpy(r->copies[i], r->in[i].data, r->in[i].bytes);
    }
    for (uint32_t i = 0; i < r->nOut; i++) {
        r->out[i] = nnrt_io_make(NULL, nnrt_session_output(s, i).bytes);
        r->out[i].data = fuzz_block(r->out[i].bytes);
        r->first[i] = fuzz_block(r->out[i].bytes);
    }
}

/* Runs from the initial states, with outputs full of `fill`. Inputs are unchanged, and a failure is one that a run may
   have. Sets the bytes after the data-dependent size of an output to 0. */
static inline void fuzz_run_once(fuzz_run *r, nnrt_session *s, int fill)
{
    for (uint32_t i = 0; i < r->nOut; i++)
        memset(r->out[i].data, fill, r->out[i].bytes);
    nnrt_session_reset(s);
    r->code = nnrt_run(s, r->in, r->nIn, r->out, r->nOut);
    for (uint32_t i = 0; i < r->nIn; i++)
        fuzz_expect(memcmp(r->in[i].data, r->copies[i], r->in[i].bytes) == 0, "a run only reads its inputs", NULL);
    for (uint32_t i = 0; i < r->nOut && r->code == NNRT_SUCCESS; i++) {
        const size_t told = nnrt_session_output(s, i).bytes;
        fuzz_expect(told <= r->out[i].bytes, "an output is no larger than planned", NULL);
        memset((uint8_t *)r->out[i].data + told, 0, r->out[i].bytes - told);
    }
    if (r->code == NNRT_SUCCESS)
        fuzz_expect(nnrt_session_error(s)[0] == '\0', "success leaves no message", nnrt_session_error(s));
    else
        fuzz_expect(fuzz_run_refused(r, nnrt_session_error(s)), "what was prepared runs", nnrt_session_error(s));
}

static inline void fuzz_run_end(fuzz_run *r)
{
    for (uint32_t i = 0; i < FUZZ_IO; i++) {
        free(r->in[i].data);
        free(r->copies[i]);
        free(r->out[i].data);
        free(r->first[i]);
    }
}

/* Two runs in s, and one in `other`, are bit-identical. */
static inline void fuzz_run_same(nnrt_session *s, nnrt_session *other, bool leaves, fuzz_bytes *f)
{
    fuzz_run r;
    NNRT_ReturnCode code;
    fuzz_run_begin(&r, s, f);
    r.leaves = leaves;
    fuzz_run_once(&r, s, 0xA5);
    code = r.code;
    for (uint32_t i = 0; i < r.nOut; i++)
        memcpy(r.first[i], r.out[i].data, r.out[i].bytes);
    for (int again = 0; again < 2; again++) {
        fuzz_run_once(&r, again ? other : s, 0x5A);
        fuzz_expect(r.code == code, "a second run ends with the same code", nnrt_code_name(r.code));
        for (uint32_t i = 0; i < r.nOut && code == NNRT_SUCCESS; i++)
            fuzz_expect(memcmp(r.first[i], r.out[i].data, r.out[i].bytes) == 0, "runs give the same bits",
                        again ? "in another session" : "in the same session");
    }
    fuzz_run_end(&r);
}

/* Prepares the model in memory of the allocator and in a buffer of exactly the reported bytes (one byte less must
   fail), and runs it if it is small. f: source of the inputs; NULL: zeros. Returns the code of preparing. If the fast
   device needs too much memory, auto falls back to the reference device: the test then uses that device. */
static inline NNRT_ReturnCode fuzz_model_run(const NNRT_Model *m, const nnrt_dims *dims, uint32_t count, fuzz_bytes *f)
{
    nnrt_session *s = NULL, *other = NULL;
    nnrt_session_desc desc;
    fuzz_memory memory;
    nnrt_allocator a = fuzz_allocator(&memory, FUZZ_SESSION_BYTES);
    nnrt_error e;
    size_t bytes = 0;
    NNRT_ReturnCode code;
    memset(&e, 0, sizeof(e));
    memset(&desc, 0, sizeof(desc));
    desc.allocator = &a;
    desc.inputDims = nnrt_dims_list_make(dims, count);
    code = nnrt_session_create(&s, m, &desc, &e);
    if (memory.refused > 0 && code == NNRT_SUCCESS && nnrt_device_find("cpu") != NULL) {
        nnrt_session_destroy(s);
        fuzz_memory_empty(&memory);
        memory.refused = 0;
        desc.device = "reference";
        code = nnrt_session_create(&s, m, &desc, &e);
        fuzz_expect(code == NNRT_SUCCESS, "what came in spite of refused memory is reference's", e.message);
    }
    fuzz_check_error(code, &e, "nnrt_session_create");
    fuzz_expect((s != NULL) == (code == NNRT_SUCCESS), "a session comes with success only", e.message);
    if (memory.refused > 0)
        fuzz_expect(code == NNRT_OUT_OF_MEMORY, "memory that was refused is NNRT_OUT_OF_MEMORY", e.message);
    if (code == NNRT_SUCCESS) {
        code = nnrt_session_bytes(m, &desc, &bytes, &e);
        fuzz_check_error(code, &e, "nnrt_session_bytes");
        if (memory.refused == 0)
            fuzz_expect(code == NNRT_SUCCESS, "the size of what prepares is known", e.message);
        code = NNRT_SUCCESS;
        memset(&e, 0, sizeof(e));
    }
    if (s != NULL && bytes > 0 && fuzz_small(s)) {
        desc.buffer = fuzz_block(bytes);
        desc.bufferBytes = bytes - 1;
        fuzz_expect(nnrt_session_create(&other, m, &desc, &e) == NNRT_OUT_OF_MEMORY && other == NULL,
                    "one byte fewer does not do", e.message);
        fuzz_check_error(NNRT_OUT_OF_MEMORY, &e, "nnrt_session_create");
        memset(&e, 0, sizeof(e));
        desc.bufferBytes = bytes;
        fuzz_expect(nnrt_session_create(&other, m, &desc, &e) == NNRT_SUCCESS, "the bytes that were told do",
                    e.message);
        fuzz_run_same(s, other, fuzz_leaves(m, &desc.inputDims), f);
        nnrt_session_destroy(other);
        free(desc.buffer);
    }
    nnrt_session_destroy(s);
    fuzz_memory_empty(&memory);
    return code;
}

/* As fuzz_model_run, with 2 for every dynamic dimension; then the same for the optimized model, which must prepare if
   the model did. Afterwards *m is the optimized model, or unchanged. */
static inline void fuzz_model_both(NNRT_Model **m, const fuzz_memory *memory, const fuzz_bytes *f)
{
    nnrt_dims dims[FUZZ_IO];
    nnrt_error e;
    uint32_t count = (*m)->inputIndex.count;
    fuzz_bytes again;
    NNRT_ReturnCode code, optimized;
    size_t refused = memory->refused;
    for (uint32_t i = 0; i < count && i < FUZZ_IO; i++) {
        const NNRT_Tensor *t = &(*m)->allTensors.data[(*m)->inputIndex.data[i]];
        dims[i].rank = (int32_t)t->dims.count;
        for (uint32_t k = 0; k < t->dims.count && k < NNRT_MAX_RANK; k++)
            dims[i].dims[k] = t->dims.data[k] == -1 ? 2 : t->dims.data[k];
    }
    count = count <= FUZZ_IO ? count : 0;
    memset(&e, 0, sizeof(e));
    if (f != NULL)
        again = *f;
    code = fuzz_model_run(*m, dims, count, f != NULL ? &again : NULL);
    optimized = nnrt_model_optimize(m, NULL, &e);
    fuzz_check_error(optimized, &e, "nnrt_model_optimize");
    if (memory->refused > refused)
        fuzz_expect(optimized == NNRT_OUT_OF_MEMORY, "memory that was refused is NNRT_OUT_OF_MEMORY", e.message);
    if (code == NNRT_SUCCESS && optimized != NNRT_OUT_OF_MEMORY)
        fuzz_expect(optimized == NNRT_SUCCESS, "what prepares can be optimised", e.message);
    if (optimized != NNRT_SUCCESS)
        return;
    if (f != NULL)
        again = *f;
    optimized = fuzz_model_run(*m, dims, count, f != NULL ? &again : NULL);
    if (code == NNRT_SUCCESS)
        fuzz_expect(optimized == NNRT_SUCCESS || optimized == NNRT_OUT_OF_MEMORY, "the optimised form prepares, too",
                    nnrt_code_name(optimized));
}

/* A deferred model with 2 for every dynamic dimension and for the length of a sequence; NULL: it needs more. */
static inline NNRT_Model *fuzz_complete(const NNRT_Model *m)
{
    NNRT_Model *whole = NULL;
    nnrt_input inputs[FUZZ_IO];
    nnrt_error e;
    uint32_t count = 0;
    NNRT_ReturnCode code;
    memset(inputs, 0, sizeof(inputs));
    memset(&e, 0, sizeof(e));
    for (uint32_t i = 0; i < m->inputIndex.count && i < FUZZ_IO; i++) {
        const NNRT_Tensor *t = &m->allTensors.data[m->inputIndex.data[i]];
        if (t->dims.count > NNRT_MAX_RANK || (t->dims.count == 1 && t->dims.data[0] == NNRT_RANK_UNKNOWN))
            continue;
        inputs[count].name = t->name;
        inputs[count].shape.rank = (int32_t)t->dims.count;
        for (uint32_t k = 0; k < t->dims.count; k++)
            inputs[count].shape.dims[k] = t->dims.data[k] == -1 ? 2 : t->dims.data[k];
        count++;
    }
    code = nnrt_model_fix(&whole, m, inputs, count, &e);
    fuzz_check_error(code, &e, "nnrt_model_fix");
    fuzz_expect((whole != NULL) == (code == NNRT_SUCCESS), "a model comes with success only", e.message);
    return whole;
}

/* FUZZ_ONE_IN: the number of imported files of which one is prepared and run (1: every file). An import takes microseconds, the
   rest a millisecond. The choice depends on the bytes, so that a finding repeats. */
#ifndef FUZZ_ONE_IN
#define FUZZ_ONE_IN 1
#endif
static inline bool fuzz_chosen(const uint8_t *data, size_t size)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ data[i]) * 16777619u;
    return (sum >> 16) % FUZZ_ONE_IN == 0;
}

/* Imports a copy of the bytes by `load`, whose name is `call`, with at most `limit` bytes of memory; then fuzz_model_both, for
   which FUZZ_MODEL_BYTES more are allowed. */
#define FUZZ_MODEL_BYTES ((size_t)32 << 20)
typedef NNRT_ReturnCode (*fuzz_load)(NNRT_Model **model, const void *data, size_t bytes, const nnrt_allocator *allocator,
                                     nnrt_error *error);
static inline void fuzz_import(const uint8_t *data, size_t size, size_t limit, fuzz_load load, const char *call)
{
    uint8_t *file = (uint8_t *)fuzz_block(size);
    NNRT_Model *model = NULL, *whole = NULL;
    fuzz_memory memory;
    const nnrt_allocator a = fuzz_allocator(&memory, limit);
    nnrt_error e;
    NNRT_ReturnCode code;
    if (size > 0)
        memcpy(file, data, size);
    memset(&e, 0, sizeof(e));
    code = load(&model, file, size, &a, &e);
    fuzz_check_error(code, &e, call);
    fuzz_expect((model != NULL) == (code == NNRT_SUCCESS), "a model comes with success only", e.message);
    fuzz_expect(memory.refused == 0, "an import keeps within its budget", e.message);
    memory.limit += FUZZ_MODEL_BYTES;
    if (model != NULL && nnrt_model_deferred(model) != NULL)
        whole = fuzz_complete(model);
    if (whole != NULL && fuzz_chosen(data, size))
        fuzz_model_both(&whole, &memory, NULL);
    else if (model != NULL && nnrt_model_deferred(model) == NULL && fuzz_chosen(data, size))
        fuzz_model_both(&model, &memory, NULL);
    nnrt_model_destroy(whole);
    fuzz_expect(size == 0 || memcmp(file, data, size) == 0, "the file's bytes are only read", NULL);
    nnrt_model_destroy(model);
    fuzz_memory_empty(&memory);
    free(file);
}

#endif
