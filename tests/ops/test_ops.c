/* Every operator against the vectors in tests/ops/vectors: shape rule and reference kernel called directly, without model or
   session. usage: test_ops [-v] FILE.vec...     prints the failing cases (-v: all) and "N passed, N failed, N skipped", and
   before that a hash over the bits of all results, which tests/source/test_bits.sh compares between compilers. Properties that follow
   from all cases of an operator are checked at the end, if the file named after it is among them. */
#define _DEFAULT_SOURCE /* mmap of no file */
#define NNRT_IMPLEMENTATION
#include "nnrt_ops.h"

#include "vec.h"

#if defined(__linux__) && !defined(NO_GUARD) /* valgrind reports the intended fault as an error */
#define GUARDED 1
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#else
#define GUARDED 0
#endif

/* FNV-1a over every result: its elements as little-endian bytes on all machines, each NaN as one quiet NaN. (Processors
   differ in the sign of the NaN that they make, and compilers in which of two NaN an addition passes on.) */
static uint64_t g_hash = 14695981039346656037u;

/* The bits of element i of width bytes. */
static uint64_t bits_of(const void *data, size_t width, size_t i)
{
    uint32_t u32;
    uint16_t u16;
    uint64_t u64;
    switch (width) {
    case 1: return ((const uint8_t *)data)[i];
    case 2: memcpy(&u16, (const uint8_t *)data + 2 * i, 2); return u16;
    case 4: memcpy(&u32, (const uint8_t *)data + 4 * i, 4); return u32;
    default: memcpy(&u64, (const uint8_t *)data + 8 * i, 8); return u64;
    }
}

static void hash_result(const vec_tensor *t, const void *data)
{
    size_t width = nnrt_type_size(t->dataType);
    for (size_t i = 0; i < t->count; i++) {
        uint64_t u = bits_of(data, width, i);
        if (t->dataType == NNRT_DATA_TYPE_FLOAT16 && (u & 0x7fffu) > 0x7c00u)
            u = 0x7e00u;
        if (t->dataType == NNRT_DATA_TYPE_FLOAT32 && (u & 0x7fffffffu) > 0x7f800000u)
            u = 0x7fc00000u;
        if (t->dataType == NNRT_DATA_TYPE_FLOAT64 && (u & ~((uint64_t)1 << 63)) > (uint64_t)0x7ff << 52)
            u = (uint64_t)0x7ff8 << 48;
        for (size_t k = 0; k < width; k++)
            g_hash = (g_hash ^ (u >> 8 * k & 0xff)) * 1099511628211u;
    }
}

typedef struct pool {
    void *blocks[256];
    uint32_t count, limit; /* requests that exceed limit fail; 0: 256 */
    uint8_t rubbish;       /* fill byte of blocks */
} pool;

static void *pool_alloc(void *user, size_t bytes)
{
    pool *p = (pool *)user;
    if (p->count >= (p->limit > 0 ? p->limit - 1 : 256))
        return NULL;
    p->blocks[p->count] = malloc(bytes > 0 ? bytes : 1);
    memset(p->blocks[p->count], p->rubbish, bytes);
    return p->blocks[p->count++];
}

static void pool_free(pool *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        free(p->blocks[i]);
    p->count = 0;
    p->limit = 0;
}

#define SHOWN_VALUES 16 /* elements of a constant */
#define TRIAL_VIEWS (2 * VEC_OPERANDS + NNRT_MAX_DERIVED)

/* One case on its way through rule and kernel. */
typedef struct trial {
    const vec_case *c;
    nnrt_operand in[VEC_OPERANDS], out[VEC_OPERANDS];
    nnrt_view args[TRIAL_VIEWS];
    void *results[VEC_OPERANDS];
    uint32_t first; /* of the results in args */
    nnrt_resolve r;
    nnrt_error error;
    pool memory;
    int32_t from[2], to[2]; /* dimensions from[i] of inputs that are not constant become to[i] */
    int32_t only, more;     /* the dynamic dimension; 0: all that may be; by how much the dynamic value is larger */
    bool values;            /* elements of constants instead of dimensions */
    uint32_t ranked;        /* input ranked - 1 has this rank instead of its own, with new dimensions of 1; 0: none */
    int32_t rank;
    bool bare;              /* results are declared with their types only */
    const void *attr;       /* in place of the case's, of `attrBytes` bytes, if plain */
    uint32_t attrBytes;
    bool plain, undeclared; /* undeclared: results have no types either */
    uint32_t open[VEC_OPERANDS][SHOWN_VALUES];
    int64_t changed[VEC_OPERANDS][SHOWN_VALUES];
    size_t less;            /* bytes that scratch memory lacks */
    void *scratch;    /* of the current run */
    char why[512];
} trial;

#define SHOWN_RESULTS 4
#define SHOWN_INPUTS 3
#define SHOWN_RANK 5
#define MANY 8 /* cases among which two axes must differ once; changes of a size that show a copied axis */

/* Properties that the cases of an operator show together. Requested memory is used up to its end, otherwise less would do; a
   dimension that always equals an input's has its symbol. */
typedef struct shown {
    bool derived[NNRT_MAX_DERIVED], read[NNRT_MAX_DERIVED]; /* there are elements; the last one is read */
    bool scratch[2], written[2];                            /* scratch has bytes; the last one is written; [1]: quantized */
    bool needed, exact;                                     /* it is refused without them; with one byte less */
    uint8_t axis[SHOWN_RESULTS][NNRT_MAX_RANK + 1][NNRT_MAX_RANK]; /* of results, by their rank: AXIS_ flags */
    struct {
        uint32_t cases;
        bool differ[SHOWN_RANK][SHOWN_RANK]; /* sizes of two axes */
    } in[SHOWN_INPUTS][SHOWN_RANK + 1];      /* inputs, by their rank */
} shown;

#define AXIS_STILL 1 /* has a symbol of its own, but is the same for all input shapes */
#define AXIS_MOVES 2
#define AXIS_LIKE 4 /* has a symbol of its own, but equals an input's dimension */
#define AXIS_OWN 8  /* equals no input's dimension */

static shown g_shown[512]; /* in the order of nnrt_op_at */

static shown *shown_of(const trial *t)
{
    return &g_shown[t->c->op - nnrt_op_at(0)];
}

static nnrt_operand operand_of(const vec_tensor *t, bool output, NNRT_Format format)
{
    nnrt_operand o = nnrt_operand_make(t->dataType, t->present ? t->rank : -1, t->dims,
                                       t->constant && !output ? t->data : NULL);
    o.name = output ? "result" : "operand";
    o.format = format;
    o.quant = t->quant;
    o.quantCount = t->quantCount;
    o.quantAxis = t->quantAxis;
    return o;
}

/* A known int32 or int64 list that is not too long. */
static bool is_list(const nnrt_operand *o)
{
    return o->data != NULL && o->quantCount == 0 && nnrti_count(o) <= SHOWN_VALUES &&
           (o->dataType == NNRT_DATA_TYPE_INT32 || o->dataType == NNRT_DATA_TYPE_INT64);
}

/* Elements from[0] of lists become to[0], or those equal to `only` are dynamic, with themselves as upper bounds. */
static void change_values(trial *t, bool open)
{
    for (uint32_t i = 0; i < t->c->nIn; i++) {
        nnrt_operand *o = &t->in[i];
        for (size_t k = 0; is_list(o) && k < nnrti_count(o); k++) {
            const int64_t v = nnrti_value(o, k);
            const int64_t to = v == t->from[0] ? t->to[0] : v;
            const int32_t narrow = (int32_t)to;
            if (open)
                t->open[i][k] = v == t->only ? (uint32_t)v + 1 : 0;
            if (o->dataType == NNRT_DATA_TYPE_INT64)
                t->changed[i][k] = to;
            else
                memcpy((uint8_t *)t->changed[i] + 4 * k, &narrow, sizeof(narrow));
        }
        if (is_list(o)) {
            o->data = t->changed[i];
            o->open = open ? t->open[i] : NULL;
        }
    }
}

/* Everything that a node is resolved from, as the case has it; given: dimensions of inputs that are not constant are dynamic,
   with equal symbols where the numbers are equal. */
static NNRT_ReturnCode resolve_with(trial *t, uint32_t *given)
{
    const vec_case *c = t->c;
    const nnrt_op_arity arity = nnrt_op_operands(c->op);
    vec_tensor none;
    memset(&t->error, 0, sizeof(t->error));
    memset(&none, 0, sizeof(none));
    for (uint32_t i = 0; i < VEC_OPERANDS; i++) {
        t->in[i] = operand_of(i < c->nIn ? &c->in[i] : &none, false, i == 0 ? c->format : NNRT_FORMAT_NONE);
        t->out[i] = operand_of(i < c->nOut ? &c->out[i] : &none, true, c->format);
        t->out[i].rank = t->bare ? -1 : t->out[i].rank;
        t->out[i].dataType = t->undeclared ? NNRT_DATA_TYPE_UNKNOWN : t->out[i].dataType;
        for (int32_t k = 0; k < NNRT_MAX_RANK && t->bare; k++)
            t->out[i].dims[k] = 0;
    }
    if (t->ranked > 0) {
        nnrt_operand *o = &t->in[t->ranked - 1];
        for (int32_t k = o->rank; k < t->rank; k++)
            o->dims[k] = 1;
        o->rank = t->rank;
    }
    if (t->values)
        change_values(t, given != NULL);
    for (uint32_t i = 0; i < c->nIn && !t->values; i++)
        for (int32_t k = 0; k < t->in[i].rank && k < NNRT_MAX_RANK && t->in[i].data == NULL; k++) {
            const int32_t d = t->in[i].dims[k];
            t->in[i].dims[k] = d == t->from[0] ? t->to[0] : d == t->from[1] ? t->to[1] : d;
        }
    for (uint32_t i = 0; i < c->nIn && given != NULL && !t->values; i++)
        for (int32_t k = 0; k < t->in[i].rank && k < NNRT_MAX_RANK && t->in[i].data == NULL; k++)
            if (t->only == 0 || t->in[i].dims[k] == t->only) {
                t->in[i].symbols[k] = (uint32_t)t->in[i].dims[k] + 1;
                t->in[i].dims[k] += t->more;
            }
    t->r.op = c->op;
    t->r.nodeName = c->name;
    t->r.node = 7;
    t->r.attr = t->plain ? t->attr : c->attr;
    t->r.attrBytes = t->plain ? t->attrBytes : c->op->attr->bytes;
    t->r.in = t->in;
    t->r.out = t->out;
    t->r.nIn = c->nIn;
    t->r.nOut = c->nOut > 0 ? c->nOut : arity.minOut;
    t->r.alloc = pool_alloc;
    t->r.user = &t->memory;
    t->r.error = &t->error;
    return nnrt_resolve_node(&t->r);
}

static NNRT_ReturnCode resolve(trial *t)
{
    return resolve_with(t, NULL);
}

/* With every request for memory failing in turn, the code says so and the message names the node. */
static bool prepare_without_memory(trial *t)
{
    const uint32_t requests = t->memory.count;
    for (uint32_t n = 0; n < requests; n++) {
        NNRT_ReturnCode code;
        pool_free(&t->memory);
        t->memory.limit = n + 1;
        code = resolve(t);
        if (code != NNRT_OUT_OF_MEMORY || t->error.code != code || strstr(t->error.message, t->c->name) == NULL) {
            snprintf(t->why, sizeof(t->why), "without memory at request %u of %u prepare gave %s: %s", (unsigned)n + 1,
                     (unsigned)requests, nnrt_code_name(code), t->error.message);
            return false;
        }
    }
    pool_free(&t->memory);
    return resolve(t) == NNRT_SUCCESS;
}

/* The result of a rule does not depend on the previous contents of its memory: derived constants are written into files, and
   compared. Nor does it need the shapes of results, and it does not change memory outside the node. */
static bool prepare_with_rubbish(trial *t)
{
    static trial other;
    const nnrt_op_arity arity = nnrt_op_operands(t->c->op);
    const bool repeated = arity.maxOut > NNRT_MAX_FIXED_OPERANDS;
    bool same;
    memset(&other, 0, sizeof(other));
    other.c = t->c;
    other.memory.rubbish = 0xA7;
    other.bare = true;
    same = resolve(&other) == NNRT_SUCCESS && other.r.nDerived == t->r.nDerived &&
           nnrt_attr_equal(t->c->op->attr, t->r.resolved, other.r.resolved) && other.r.scratch == t->r.scratch;
    for (uint32_t i = 0; i < VEC_OPERANDS && same; i++) {
        const nnrt_operand *a = &t->out[i], *b = &other.out[i];
        same = i < t->r.nOut ? a->rank == b->rank && a->dataType == b->dataType && a->format == b->format &&
                                   (a->rank < 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof(int32_t)) == 0)
                             : (i < arity.maxOut && !repeated) || (b->rank == -1 && nnrti_absent(b));
    }
    for (uint32_t i = 0; i < t->r.nDerived && same; i++) {
        const nnrt_operand *a = &t->r.derived[i], *b = &other.r.derived[i];
        size_t bytes = 0;
        same = nnrt_dims_bytes(a->dims, a->rank, a->dataType, &bytes) && b->dataType == a->dataType &&
               b->rank == a->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof(int32_t)) == 0 &&
               memcmp(a->data, b->data, bytes) == 0;
    }
    if (!same)
        snprintf(t->why, sizeof(t->why), "prepare gives something else when other bytes were in its memory, or no result "
                                         "has a shape before");
    pool_free(&other.memory);
    return same;
}

static bool prepare(trial *t)
{
    const vec_case *c = t->c;
    NNRT_ReturnCode code = resolve(t);
    if (code != c->prepareCode) {
        snprintf(t->why, sizeof(t->why), "prepare gave %s, expected %s: %s", nnrt_code_name(code),
                 nnrt_code_name(c->prepareCode), t->error.message);
        return false;
    }
    if (code != NNRT_SUCCESS && (strstr(t->error.message, c->name) == NULL || strstr(t->error.message, c->op->name) == NULL)) {
        snprintf(t->why, sizeof(t->why), "the message does not name node and operator: %s", t->error.message);
        return false;
    }
    if (code != NNRT_SUCCESS && strstr(t->error.message, c->says) == NULL) {
        snprintf(t->why, sizeof(t->why), "the message does not say '%.150s': %.300s", c->says, t->error.message);
        return false;
    }
    return code != NNRT_SUCCESS || (prepare_without_memory(t) && prepare_with_rubbish(t));
}

/* After the kernel, the views have the shapes of the results; before, they have the largest ones. */
static bool data_dependent(const trial *t)
{
    return (t->c->op->flags & NNRT_OP_DATA_DEPENDENT) != 0;
}

static bool check_shapes(trial *t)
{
    const vec_case *c = t->c;
    for (uint32_t i = 0; i < c->nOut && c->runCode == NNRT_SUCCESS; i++) {
        nnrt_operand want = nnrt_operand_make(c->out[i].dataType, c->out[i].rank, c->out[i].dims, NULL);
        if (c->out[i].present && (t->out[i].rank != want.rank || t->out[i].dataType != want.dataType ||
                                  memcmp(t->out[i].dims, want.dims, (size_t)want.rank * sizeof(int32_t)) != 0)) {
            nnrt_text(t->why, sizeof(t->why), "output %u is %o, expected %o", i, &t->out[i], &want);
            return false;
        }
    }
    return true;
}

/* Calls the kernel with the scratch that the rule asked for, filled with rubbish, or without any. */
static NNRT_ReturnCode call_kernel(trial *t, nnrt_view *args, bool scratch)
{
    NNRT_ReturnCode code;
    nnrt_call call;
    memset(&call, 0, sizeof(call));
    call.nIn = t->r.kernelIn;
    call.nDerived = t->r.nDerived;
    call.nOut = t->r.nOut;
    call.error = &t->error;
    if (scratch && t->r.scratch > 0) {
        call.scratchBytes = t->r.scratch - t->less;
        call.scratch = t->scratch = malloc(t->r.scratch);
        memset(call.scratch, 0x3C, t->r.scratch);
        shown_of(t)->scratch[t->c->in[0].quantCount > 0] = true;
    }
    code = t->r.kernel(t->r.resolved, args, &call);
    if (call.scratch != NULL && ((uint8_t *)call.scratch)[t->r.scratch - 1] != 0x3C)
        shown_of(t)->written[t->c->in[0].quantCount > 0] = true;
    free(call.scratch);
    t->scratch = NULL;
    return code;
}

#if GUARDED
static sigjmp_buf g_guard;

static void guard_hit(int number)
{
    (void)number;
    siglongjmp(g_guard, 1);
}

/* Whether the kernel reads the last of the elements of derived constant i: it is placed in unreadable memory. */
static bool reads_last(trial *t, uint32_t i, size_t count)
{
    const nnrt_operand *o = &t->r.derived[i];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (count - 1) * nnrt_type_size(o->dataType);
    const size_t room = (bytes + page - 1) / page * page;
    uint8_t *block = (uint8_t *)mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    nnrt_view args[TRIAL_VIEWS];
    struct sigaction now, before[2];
    volatile bool hit = true;
    memcpy(args, t->args, sizeof(args));
    args[t->r.kernelIn + i].data = block + room - bytes;
    memcpy(block + room - bytes, o->data, bytes);
    (void)mprotect(block + room, page, PROT_NONE);
    memset(&now, 0, sizeof(now));
    now.sa_handler = guard_hit;
    (void)sigaction(SIGSEGV, &now, &before[0]);
    (void)sigaction(SIGBUS, &now, &before[1]);
    if (sigsetjmp(g_guard, 1) == 0) {
        (void)call_kernel(t, args, true);
        hit = false;
    }
    (void)sigaction(SIGSEGV, &before[0], NULL);
    (void)sigaction(SIGBUS, &before[1], NULL);
    free(t->scratch);
    t->scratch = NULL;
    (void)munmap(block, room + page);
    return hit;
}
#else
static bool reads_last(trial *t, uint32_t i, size_t count)
{
    (void)t, (void)i, (void)count;
    return true;
}
#endif

/* Lists of quantized operators with spare entries, as other operators or all codes of the type need them: the table of 256
   codes, the list of nnrti_requantize with a row for each operand, and the list of two operands with a factor that MAXIMUM does
   not use. */
static bool has_spare(const trial *t, uint32_t i)
{
    const nnrt_operand *o = &t->r.derived[i];
    const uint32_t rows = t->r.nIn > t->r.nOut ? t->r.nIn : t->r.nOut;
    const char *name = t->c->op->name;
    if (t->c->in[0].quantCount == 0)
        return false;
    return (o->dataType == NNRT_DATA_TYPE_UINT8 && o->dims[0] == 256) ||
           (o->rank == 2 && o->dims[0] == (int32_t)rows) || strcmp(name, "MAXIMUM") == 0 || strcmp(name, "MINIMUM") == 0;
}

static void show_derived(trial *t)
{
    shown *s = shown_of(t);
    for (uint32_t i = 0; i < t->r.nDerived; i++) {
        const nnrt_operand *o = &t->r.derived[i];
        size_t count = 0;
        (void)nnrt_dims_count(o->dims, o->rank, &count);
        if (count == 0 || s->read[i] || has_spare(t, i))
            continue;
        s->derived[i] = true;
        s->read[i] = reads_last(t, i, count);
    }
}

static bool run(trial *t)
{
    const vec_case *c = t->c;
    NNRT_ReturnCode code;
    t->first = t->r.kernelIn + t->r.nDerived;
    for (uint32_t i = 0; i < t->first; i++) {
        const nnrt_operand *o = i < t->r.kernelIn ? &t->in[i] : &t->r.derived[i - t->r.kernelIn];
        nnrt_operand_view(i < t->r.kernelIn ? c->op : NULL, o, (int32_t)i, &t->args[i]);
        t->args[i].data = o->data != NULL ? (void *)(uintptr_t)o->data : i < c->nIn ? c->in[i].data : NULL;
    }
    for (uint32_t i = 0; i < t->r.nOut; i++) {
        size_t bytes = 0;
        if (nnrti_absent(&t->out[i]))
            continue;
        (void)nnrt_dims_bytes(t->out[i].dims, t->out[i].rank, t->out[i].dataType, &bytes);
        nnrt_operand_view(c->op, &t->out[i], -1, &t->args[t->first + i]);
        t->results[i] = malloc(bytes + 1);
        memset(t->results[i], 0xA5, bytes + 1);
        t->args[t->first + i].data = t->results[i];
    }
    show_derived(t);
    code = call_kernel(t, t->args, true);
    if (code != c->runCode) {
        snprintf(t->why, sizeof(t->why), "run gave %s, expected %s", nnrt_code_name(code), nnrt_code_name(c->runCode));
        return false;
    }
    if (code != NNRT_SUCCESS && (t->error.message[0] == '\0' || strstr(t->error.message, c->says) == NULL)) {
        snprintf(t->why, sizeof(t->why), "the kernel does not say why, '%s', but '%s'", c->says, t->error.message);
        return false;
    }
    for (uint32_t i = 0; i < t->r.nOut && data_dependent(t); i++) {
        for (int32_t k = 0; k < t->out[i].rank && i < SHOWN_RESULTS; k++)
            if (t->out[i].dims[k] != t->args[t->first + i].dims[k])
                shown_of(t)->axis[i][t->out[i].rank][k] |= AXIS_MOVES | AXIS_OWN;
        memcpy(t->out[i].dims, t->args[t->first + i].dims, sizeof(t->out[i].dims));
    }
    if (data_dependent(t) && !check_shapes(t))
        return false;
    for (uint32_t i = 0; i < c->nOut && c->runCode == NNRT_SUCCESS; i++) {
        size_t at = c->out[i].present ? vec_compare(c, &c->out[i], t->results[i]) : 0;
        if (c->out[i].present && !c->wide)
            hash_result(&c->out[i], t->results[i]);
        if (c->out[i].present && at < c->out[i].count) {
            snprintf(t->why, sizeof(t->why), "output %u element %u is %.9g, expected %.9g", (unsigned)i, (unsigned)at,
                     vec_number(c->out[i].dataType, t->results[i], at), vec_number(c->out[i].dataType, c->out[i].data, at));
            return false;
        }
    }
    return true;
}

static bool is_one_of(const char *const names[], size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i < count;
}

#define IS_ONE_OF(names, name) is_one_of(names, sizeof(names) / sizeof(names[0]), name)

/* Operators whose kernels require equal strides of the inputs after the first. */
static const char *const together[] = {"FUSED_BATCH_NORM", "SCALE_FUSION"};

/* A view of a copy of the elements of args[i] with gaps between all of them, other ones for each operand; *bytes of the block
   that the caller frees. */
static nnrt_view spread(const trial *t, uint32_t i, size_t width, size_t *bytes)
{
    const nnrt_view *v = &t->args[i];
    const bool same = i > 0 && i < t->first && IS_ONE_OF(together, t->c->op->name);
    const ptrdiff_t gap = 1 + (ptrdiff_t)(same ? 1 : i % 4);
    nnrt_view s = *v;
    ptrdiff_t step = 1 + gap;
    for (int32_t k = v->rank - 1; k >= 0; k--) {
        s.strides[k] = step;
        step = step * v->dims[k] + gap;
    }
    *bytes = (size_t)step * width;
    s.data = malloc(*bytes);
    memset(s.data, 0x5A, *bytes);
    return s;
}

/* Copies the elements of `from` to the positions of the elements of `to`. */
static void carry(const nnrt_view *from, nnrt_view *to, size_t width)
{
    int32_t index[NNRT_MAX_RANK];
    size_t count = 0;
    (void)nnrt_dims_count(from->dims, from->rank, &count);
    memset(index, 0, sizeof(index));
    while (count-- > 0) {
        ptrdiff_t f = 0, g = 0;
        for (int32_t i = 0; i < from->rank; i++) {
            f += index[i] * from->strides[i];
            g += index[i] * to->strides[i];
        }
        memcpy((uint8_t *)to->data + g * (ptrdiff_t)width, (const uint8_t *)from->data + f * (ptrdiff_t)width, width);
        for (int32_t i = from->rank - 1; i >= 0 && ++index[i] == from->dims[i]; i--)
            index[i] = 0;
    }
}

/* A view of a block that has room for the elements of v and for no more, that the caller frees. */
static nnrt_view dense(const nnrt_view *v, size_t *bytes)
{
    nnrt_view d = *v;
    (void)nnrt_dims_bytes(v->dims, v->rank, v->dataType, bytes);
    d.data = malloc(*bytes > 0 ? *bytes : 1);
    memset(d.data, 0x5A, *bytes);
    return d;
}

/* The bits must be the same when all views have gaps and there is no scratch, but for a kernel that says it needs some
   (INSUFFICIENT_BUFFER), and the gaps must stay as they were.
   Derived constants have no gaps, nor have results with data-dependent shapes. */
static bool run_spread(trial *t)
{
    nnrt_view args[TRIAL_VIEWS];
    const uint32_t n = t->first + t->r.nOut;
    NNRT_ReturnCode code;
    bool same;
    memset(args, 0, sizeof(args)); /* arguments after the node's own are absent */
    for (uint32_t i = 0; i < n; i++) {
        size_t bytes, width = nnrt_type_size(t->args[i].dataType);
        args[i] = t->args[i];
        if (args[i].data == NULL || (i >= t->r.kernelIn && i < t->first))
            continue;
        args[i] = i >= t->first && data_dependent(t) ? dense(&t->args[i], &bytes) : spread(t, i, width, &bytes);
        if (i < t->first)
            carry(&t->args[i], &args[i], width);
    }
    code = call_kernel(t, args, false);
    if (code == NNRT_INSUFFICIENT_BUFFER && t->r.scratch > 0) {
        t->less = 1;
        shown_of(t)->needed = true;
        shown_of(t)->exact = shown_of(t)->exact || call_kernel(t, args, true) == NNRT_INSUFFICIENT_BUFFER;
        t->less = 0;
        code = call_kernel(t, args, true);
    }
    same = code == t->c->runCode;
    for (uint32_t i = t->first; i < n && t->c->runCode == NNRT_SUCCESS; i++) {
        size_t bytes, width = nnrt_type_size(t->args[i].dataType);
        nnrt_view want;
        if (args[i].data == NULL)
            continue;
        want = data_dependent(t) ? dense(&t->args[i], &bytes) : spread(t, i, width, &bytes);
        carry(&t->args[i], &want, width);
        same = same && memcmp(want.data, args[i].data, bytes) == 0 &&
               memcmp(t->args[i].dims, args[i].dims, sizeof(args[i].dims)) == 0;
        free(want.data);
    }
    for (uint32_t i = 0; i < n; i++)
        if (args[i].data != t->args[i].data)
            free(args[i].data);
    if (!same)
        snprintf(t->why, sizeof(t->why), "other results when the views have gaps");
    return same;
}

/* Operators whose kernels say that a result may be NULL, or a view without data if their number is variable. */
static const char *const leaves_out[] = {"ADAPTIVE_MAX_POOL_2D", "MAX_POOL_3D", "MAX_POOL_FUSION", "MESHGRID",
                                         "MULTICLASS_NMS",       "PRIOR_BOX",   "SPLIT",           "UNIQUE",
                                         "UNSTACK",              "YOLO_BOX"};

/* Of several results each is left out in turn: the others have the same bits. The first result of MULTICLASS_NMS and of pooled
   quantized images stays. */
static bool run_without_each(trial *t)
{
    const vec_case *c = t->c;
    const bool all = strcmp(c->op->name, "MULTICLASS_NMS") != 0 &&
                     (strstr(c->op->name, "_POOL_") == NULL || c->in[0].quantCount == 0);
    bool good = true;
    size_t known = 0;
    while (known < sizeof(leaves_out) / sizeof(leaves_out[0]) && strcmp(leaves_out[known], c->op->name) != 0)
        known++;
    if (known == sizeof(leaves_out) / sizeof(leaves_out[0]) || c->runCode != NNRT_SUCCESS)
        return true;
    for (uint32_t i = all ? 0 : 1; i < c->nOut && c->nOut > 1 && good; i++) {
        nnrt_view args[TRIAL_VIEWS];
        size_t bytes;
        memcpy(args, t->args, sizeof(args));
        for (uint32_t k = 0; k < c->nOut; k++) {
            args[t->first + k] = dense(&t->args[t->first + k], &bytes);
            if (k == i || t->results[k] == NULL) {
                free(args[t->first + k].data);
                memset(&args[t->first + k], 0, sizeof(args[0]));
            }
        }
        good = call_kernel(t, args, true) == NNRT_SUCCESS;
        for (uint32_t k = 0; k < c->nOut; k++) {
            const nnrt_view *v = &args[t->first + k];
            if (v->data == NULL)
                continue;
            (void)nnrt_dims_bytes(v->dims, v->rank, v->dataType, &bytes);
            good = good && memcmp(v->dims, t->args[t->first + k].dims, sizeof(v->dims)) == 0 &&
                   memcmp(v->data, t->results[k], bytes) == 0;
            free(v->data);
        }
        if (!good)
            snprintf(t->why, sizeof(t->why), "other results when result %u is left out", (unsigned)i);
    }
    return good;
}

/* ---- copied axes ----

   An axis of a result that has the size of one axis of an input in all cases of the operator, whatever sizes the inputs
      have, is a copy of that axis: it must share its symbol. Axes are 0, 1, 2, -1, -2; few cases have axes between them. Inputs
   of one axis count separately: a vector stands for a row or a column. */
static const int32_t places[] = {0, 1, 2, -1, -2};
#define PLACES 5

typedef struct copied {
    bool differs;    /* from the input's axis, in some case */
    bool lacks;      /* the input's axis is open, and the result's has another symbol */
    uint8_t changes; /* how often the size was another one than before, at most MANY */
    int32_t size;
} copied;

static copied g_copied[512][SHOWN_RESULTS][PLACES][SHOWN_INPUTS][2][PLACES]; /* in the order of nnrt_op_at */

/* The axis of o at this place, -1: it has none. */
static int32_t axis_at(const nnrt_operand *o, int32_t place)
{
    const int32_t k = place < 0 ? o->rank + place : place;
    return o->rank <= NNRT_MAX_RANK && k < o->rank ? k : -1;
}

static void see_copy(copied *is, const nnrt_operand *y, int32_t k, const nnrt_operand *x, int32_t a)
{
    is->differs = is->differs || y->dims[k] != x->dims[a];
    is->lacks = is->lacks || (y->symbols[k] != 0 && x->symbols[a] != 0 && y->symbols[k] != x->symbols[a]);
    is->changes = (uint8_t)(is->changes + (is->changes < MANY && is->size != y->dims[k]));
    is->size = y->dims[k];
}

/* Compares sizes and symbols of all pairs of an axis of a result and one of an input. */
static void see_copies(const trial *t)
{
    for (uint32_t i = data_dependent(t) ? 1 : 0; i < t->r.nOut && i < SHOWN_RESULTS; i++)
        for (uint32_t n = 0; n < t->r.nIn && n < SHOWN_INPUTS; n++)
            for (int32_t p = 0; p < PLACES; p++)
                for (int32_t q = 0; q < PLACES; q++) {
                    const int32_t k = axis_at(&t->out[i], places[p]), a = axis_at(&t->in[n], places[q]);
                    if (k >= 0 && a >= 0)
                        see_copy(&g_copied[t->c->op - nnrt_op_at(0)][i][p][n][t->in[n].rank > 1][q], &t->out[i], k,
                                 &t->in[n], a);
                }
}

static bool broadcasts(const nnrt_op *op)
{
    return strchr(op->outputs, '^') != NULL;
}

/* The number of copied axes that lack their symbol. Not of axes that broadcast, where a size of 1 is no copy, nor of
   DEFORMABLE_CONV_2D, whose offsets have the size that follows from the image: the run compares them. */
static uint32_t judge_copies(uint32_t op)
{
    const copied *all = &g_copied[op][0][0][0][0][0];
    uint32_t faults = 0;
    if (broadcasts(nnrt_op_at(op)) || strcmp(nnrt_op_at(op)->name, "DEFORMABLE_CONV_2D") == 0)
        return 0;
    for (uint32_t at = 0; at < sizeof(g_copied[0]) / sizeof(copied); at++) {
        const uint32_t q = at % PLACES, n = at / PLACES / 2 % SHOWN_INPUTS;
        const uint32_t p = at / PLACES / 2 / SHOWN_INPUTS % PLACES, i = at / PLACES / 2 / SHOWN_INPUTS / PLACES;
        if (all[at].differs || !all[at].lacks || all[at].changes < MANY)
            continue;
        printf("FAIL %s: axis %d of result %u is axis %d of input %u in every case, but has another symbol\n",
               nnrt_op_at(op)->name, (int)places[p], (unsigned)i, (int)places[q], (unsigned)n);
        faults++;
    }
    return faults;
}

/* Operators of windows, slices, repetitions, scales that another axis decides, and broadcast axes that the row does not state
   (`^`), of which the vectors show an axis only where its size stays. */
static const char *const unsure[] = {"AVERAGE_POOL_3D", "DEFORMABLE_CONV_2D", "EINSUM", "LP_POOL", "MATMUL_FUSION",
                                     "MATMUL_INTEGER", "MAX_UNPOOL", "RESIZE_ND", "STRIDED_SLICE", "TILE_FUSION"};

/* Operators of which a single case may show by chance that an axis stays, or has an input's size: windows, parts, counts. The
   same holds for all dimensions that the row leaves to the rule, which may multiply by 1; not for the operators in `exact`,
   whose rules copy a dimension where they can. */
static const char *const still[] = {"FLATTEN", "FLATTEN_RANGE", "FULL_CONNECTION", "RESHAPE", "SLICE_FUSION", "SPLIT",
                                    "UNIQUE"};
static const char *const alike[] = {"COL2IM", "CONCAT", "FULL_CONNECTION", "MAX_POOL_3D", "RESHAPE", "UNIQUE"};
static const char *const exact[] = {"ADAPTIVE_AVERAGE_POOL_2D", "ADAPTIVE_MAX_POOL_2D", "ATTENTION", "DEPTH_TO_SPACE",
                                    "LSTM", "NON_ZERO", "PRIOR_BOX", "ROI_ALIGN", "SPACE_TO_DEPTH"};

/* Operators that compare the values of dimensions even if they are upper bounds, or that refuse some only when all are
   known. */
static const char *const picky[] = {
    "AVGPOOL_FUSION", "AVGPOOL_INCLUDE_PAD", "BIAS_ADD", "FULL_CONNECTION", "FUSED_BATCH_NORM", "GRU",
    "LAYER_NORM_FUSION", "LSTM_PEEPHOLE", "MAX_POOL_FUSION", "PRELU_FUSION", "RNN", "SCALE_FUSION"};
static const char *const late[] = {
    "ATTENTION", "COMPRESS", "CONV2D_TRANSPOSE_FUSION", "DEFORMABLE_CONV_2D", "FULL_CONNECTION", "PAD_EDGE", "RESHAPE",
    "SELECT",    "WHERE",    "YOLO_BOX"};

/* Operators that also run without the scratch memory that their rules ask for, but then take long. */
static const char *const keeps[] = {"ARGMAX_FUSION",  "ARGMIN_FUSION", "BOTTOM_K", "DETECTION_POST_PROCESS",
                                    "MULTICLASS_NMS", "TOPK_FUSION"};


#define FIRST_COMPUTED (1u << 30) /* symbols from here on are of computed dimensions */
#define MOST_EXTENTS 64

/* The entries of operand i of a row, one character for each axis; those of `..` are a, b, ... Empty: none are stated, or the
   operand broadcasts. The order is the model's. */
static void entries_of(const trial *t, const char *row, uint32_t i, const nnrt_operand *o, char entries[NNRT_MAX_RANK + 1])
{
    const bool image = (t->r.op->flags & NNRT_OP_LAYOUT) != 0 && t->in[0].format == NNRT_FORMAT_NCHW && o->rank > 2 &&
                       (row == t->r.op->outputs || i == 0);
    const char *at = row, *end;
    int32_t named = 0, n = 0;
    for (; i > 0 && strchr(at, ' ') != NULL && strcspn(at, "*") > strcspn(at, " "); i--)
        at = strchr(at, ' ') + 1;
    entries[0] = '\0';
    end = at + strcspn(at, " ");
    at += strcspn(at, "[ ");
    if (at >= end || strchr(at, ']') == NULL || strcspn(at, "^") < strcspn(at, "]"))
        return;
    end = strchr(at, ']');
    for (const char *p = at + 1; p < end; p++)
        named += strchr(",.", *p) == NULL;
    for (const char *p = at + 1; p < end; p++) {
        for (int32_t k = 0; p[0] == '.' && k < o->rank - named; k++)
            entries[n++] = p[1] == '.' ? (char)('a' + k) : '1';
        p += p[0] == '.' && p[1] == '.';
        if (strchr(",.", *p) == NULL)
            entries[n++] = *p;
    }
    entries[n] = '\0';
    if (n != o->rank) {
        entries[0] = '\0';
    } else if (image) {
        const char channels = entries[n - 1];
        memmove(entries + 2, entries + 1, (size_t)n - 2);
        entries[1] = channels;
    }
}

/* Whether axis k of result i has the symbol that the row states by this entry: that of the first input with the same
   entry, and none if one of them is fixed. An entry of results only says nothing here; a digit is fixed. The rule may fix
   a dimension by an attribute: symbols_hold sees whether that is true. */
static bool has_row_symbol(const trial *t, uint32_t i, int32_t k, char entry)
{
    uint32_t want = 0;
    bool seen = entry >= '0' && entry <= '9';
    for (uint32_t n = 0; n < t->r.nIn && !(entry >= '0' && entry <= '9'); n++) {
        char entries[NNRT_MAX_RANK + 1];
        if (t->in[n].dataType == NNRT_DATA_TYPE_UNKNOWN)
            continue;
        entries_of(t, t->r.op->inputs, n, &t->in[n], entries);
        for (int32_t a = 0; entries[a] != '\0'; a++)
            if (entries[a] == entry) {
                want = seen && (want == 0 || t->in[n].symbols[a] != 0) ? want : t->in[n].symbols[a];
                seen = true;
            }
    }
    return !seen || t->out[i].symbols[k] == want || t->out[i].symbols[k] == 0;
}

/* Compares the symbols with the rows. */
static bool has_symbols(trial *t, const trial *open)
{
    for (uint32_t i = 0; i < open->r.nOut; i++) {
        char entries[NNRT_MAX_RANK + 1];
        entries_of(open, open->r.op->outputs, i, &open->out[i], entries);
        for (int32_t k = 0; entries[k] != '\0'; k++)
            if (!has_row_symbol(open, i, k, entries[k])) {
                snprintf(t->why, sizeof(t->why), "axis %d of result %u has not the symbol of %c", (int)k, (unsigned)i,
                         entries[k]);
                return false;
            }
    }
    return true;
}

/* Whether the symbols in `open` hold for `other`, which has other dimensions or values. RESHAPE's 0 is no copy if x is empty,
   and is one if another value becomes 0; the axes that SQUEEZE removes are determined again in the run. */
static bool symbols_hold(trial *t, const trial *open, const trial *other)
{
    const bool reshaped = strcmp(t->c->op->name, "RESHAPE") == 0 &&
                          (nnrti_count(&open->in[0]) == 0 || (other->values && other->to[0] == 0));
    const bool squeezed = strcmp(t->c->op->name, "SQUEEZE") == 0;
    for (uint32_t i = 0; i < open->r.nOut && !reshaped; i++) {
        const nnrt_operand *o = &open->out[i], *y = &other->out[i];
        if (y->rank != o->rank && !squeezed) {
            snprintf(t->why, sizeof(t->why), "result %u has another rank when extents %d are %d", (unsigned)i,
                     (int)other->from[0], (int)other->to[0]);
            return false;
        }
        for (int32_t k = 0; k < o->rank && y->rank == o->rank; k++) {
            const int32_t extent = o->symbols[k] == 0 ? o->dims[k] : (int32_t)(o->symbols[k] - 1);
            const int32_t want = o->symbols[k] != 0 && extent == other->from[0] ? other->to[0] : extent;
            if (o->symbols[k] >= FIRST_COMPUTED || y->dims[k] == want)
                continue;
            snprintf(t->why, sizeof(t->why), "axis %d of result %u is %d when extents %d are %d, not what its symbol says",
                     (int)k, (unsigned)i, (int)y->dims[k], (int)other->from[0], (int)other->to[0]);
            return false;
        }
    }
    return true;
}

/* The distinct dimensions of inputs that are not constant; returns their number. */
static uint32_t extents_of(const trial *t, int32_t extents[MOST_EXTENTS])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->c->nIn; i++)
        for (int32_t k = 0; k < t->in[i].rank && t->in[i].data == NULL; k++) {
            uint32_t e = 0;
            while (e < n && extents[e] != t->in[i].dims[k])
                e++;
            if (e == n && n < MOST_EXTENTS && t->in[i].dims[k] < INT32_MAX / 3)
                extents[n++] = t->in[i].dims[k];
        }
    return n;
}

/* Observations of trials about an axis of a result. */
typedef struct seen {
    bool moves;
    uint64_t unlike; /* bit e: it differs from extents[e] in some trial */
} seen;

static void see(const trial *t, const trial *other, const int32_t *extents, uint32_t n,
                seen axes[VEC_OPERANDS][NNRT_MAX_RANK])
{
    for (uint32_t i = 0; i < t->r.nOut; i++)
        for (int32_t k = 0; k < t->out[i].rank && other->out[i].rank == t->out[i].rank; k++) {
            const int32_t is = other->out[i].dims[k];
            axes[i][k].moves = axes[i][k].moves || is != t->out[i].dims[k];
            for (uint32_t e = 0; e < n; e++)
                if (is != (extents[e] == other->from[0] ? other->to[0] : extents[e]))
                    axes[i][k].unlike |= (uint64_t)1 << e;
        }
}

/* Whether only outputs have this entry: the rule computes the dimension. */
static bool is_computed(const nnrt_op *op, char entry)
{
    bool named = false, inside = false;
    for (const char *p = op->inputs; *p != '\0'; p++) {
        inside = *p == '[' || (inside && *p != ']');
        named = named || (inside && *p == entry);
    }
    return entry >= 'A' && entry <= 'Z' && !named;
}

/* Sets the flags of axes that have a symbol of their own; dimensions in `mask` are dynamic, those in `tried` changed. The
   attributes decide which axes of result 0 are data-dependent. false: this case alone shows that the symbol is one too many,
   its operator is not one of which a case shows too little, and the row does not leave the dimension to the rule, which may
   multiply by 1 in this case. */
static bool show_axes(trial *t, const trial *open, uint64_t mask, uint64_t tried,
                      seen axes[VEC_OPERANDS][NNRT_MAX_RANK])
{
    const char *name = t->c->op->name;
    const bool sure = !broadcasts(t->c->op) && !IS_ONE_OF(unsure, name);
    const bool stays = sure && !IS_ONE_OF(still, name), like = sure && !IS_ONE_OF(alike, name);
    bool good = true;
    for (uint32_t i = data_dependent(t) ? 1 : 0; i < open->r.nOut && i < SHOWN_RESULTS; i++) {
        char entries[NNRT_MAX_RANK + 1];
        entries_of(open, open->r.op->outputs, i, &open->out[i], entries);
        for (int32_t k = 0; k < open->out[i].rank; k++) {
            uint8_t *is = &shown_of(t)->axis[i][open->out[i].rank][k], now;
            const bool own = open->out[i].symbols[k] >= FIRST_COMPUTED, moves = axes[i][k].moves;
            now = moves ? AXIS_MOVES : own && tried == mask ? AXIS_STILL : 0;
            now |= moves && (axes[i][k].unlike & mask) == mask ? AXIS_OWN : 0;
            now |= own && moves && (~axes[i][k].unlike & tried) != 0 ? AXIS_LIKE : 0;
            *is |= now;
            if (((now != AXIS_STILL || !stays) && ((now & (AXIS_LIKE | AXIS_OWN)) != AXIS_LIKE || !like)) ||
                (entries[0] != '\0' && !IS_ONE_OF(exact, name) && is_computed(t->c->op, entries[k])))
                continue;
            snprintf(t->why, sizeof(t->why), "axis %d of result %u has a symbol of its own, but is %s", (int)k, (unsigned)i,
                     now == AXIS_STILL ? "the same whatever is open" : "an input's extent");
            good = false;
        }
    }
    return good;
}

/* Applies the rule with everything known, dimensions from[i] being to[i]. */
static bool resolve_changed(trial *t, const vec_case *c, int32_t from, int32_t to, int32_t from2, int32_t to2)
{
    bool good;
    memset(t, 0, sizeof(*t));
    t->c = c;
    t->from[0] = from;
    t->to[0] = to;
    t->from[1] = from2;
    t->to[1] = to2;
    good = resolve_with(t, NULL) == NNRT_SUCCESS;
    pool_free(&t->memory);
    return good;
}

/* Applies the rule with dynamic dimensions, equal ones with the same symbol: all, or those equal to `only`, whose value is
   larger by `more`; with dimensions `from` being `to`. */
static bool resolve_open(trial *open, const vec_case *c, int32_t only, int32_t more, int32_t from, int32_t to)
{
    uint32_t given = FIRST_COMPUTED;
    bool good;
    memset(open, 0, sizeof(*open));
    open->c = c;
    open->only = only;
    open->more = more;
    open->from[0] = from;
    open->to[0] = to;
    open->r.symbolCount = &given;
    good = resolve_with(open, &given) == NNRT_SUCCESS;
    pool_free(&open->memory);
    return good;
}

/* Whether dynamic dimensions d may have larger values, as upper bounds, and the result then has the same symbols. */
static bool takes_bounds(trial *t, const trial *one, int32_t d)
{
    static trial larger;
    for (int32_t more = 1; more < 3; more++) {
        const bool good = resolve_open(&larger, t->c, d, more, 0, 0);
        if (!good && (IS_ONE_OF(picky, t->c->op->name) || strstr(larger.error.message, "one element") != NULL ||
                      strstr(larger.error.message, "uant") != NULL))
            return true;
        if (!good)
            snprintf(t->why, sizeof(t->why), "open extents %d cannot be bounded by %d: %s", (int)d, (int)(d + more),
                     larger.error.message);
        for (uint32_t i = 0; i < one->r.nOut && good; i++)
            for (int32_t k = 0; k < one->out[i].rank; k++) {
                const uint32_t a = one->out[i].symbols[k], b = larger.out[i].symbols[k];
                if (a == b || (a >= FIRST_COMPUTED && b >= FIRST_COMPUTED))
                    continue;
                snprintf(t->why, sizeof(t->why), "axis %d of result %u has another symbol when open extents %d are %d",
                         (int)k, (unsigned)i, (int)d, (int)(d + more));
                return false;
            }
        if (!good)
            return false;
    }
    return true;
}

/* Whether invalid dimensions d are refused while others are dynamic, too, if they match no value of the dynamic ones. */
static bool refuses_while_open(trial *t, int32_t d, const int32_t *extents, uint32_t n)
{
    static trial other;
    for (int32_t to = d > 0 ? d - 1 : 1; to < d + 3 && !IS_ONE_OF(late, t->c->op->name); to++) {
        if (to == d || resolve_changed(&other, t->c, d, to, 0, 0))
            continue;
        for (uint32_t e = 0; e < n; e++) {
            bool some = extents[e] == d || extents[e] == to || extents[e] == 0 ||
                        !resolve_open(&other, t->c, extents[e], 0, d, to);
            for (int32_t v = 0; v < 400 && !some; v++)
                some = resolve_changed(&other, t->c, d, to, extents[e], v);
            if (some)
                continue;
            snprintf(t->why, sizeof(t->why), "extents %d may not be %d, but may while extents %d are open", (int)d, (int)to,
                     (int)extents[e]);
            return false;
        }
    }
    return true;
}

/* Applies the rule again with all dimensions of all inputs dynamic, and one by one; a refusal proves nothing. Then each
   dimension is changed in several ways: results must change as the symbols predict. */
static bool run_symbols(trial *t)
{
    static trial open, one, other;
    static seen all[VEC_OPERANDS][NNRT_MAX_RANK], own[VEC_OPERANDS][NNRT_MAX_RANK];
    int32_t extents[MOST_EXTENTS];
    const uint32_t n = t->c->format != NNRT_FORMAT_NCHW ? extents_of(t, extents) : 0;
    const bool whole = n > 0 && resolve_open(&open, t->c, 0, 0, 0, 0);
    uint64_t tried = 0;
    bool good = !whole || has_symbols(t, &open);
    memset(all, 0, sizeof(all));
    if (t->c->format != NNRT_FORMAT_NCHW)
        see_copies(t);
    if (whole)
        see_copies(&open);
    for (uint32_t e = 0; e < n && good; e++) {
        const int32_t d = extents[e], to[] = {d - 1, d + 1, 2 * d, 3 * d};
        const uint64_t bit = (uint64_t)1 << e;
        const bool alone = d > 0 && resolve_open(&one, t->c, d, 0, 0, 0);
        bool changed = false;
        memset(own, 0, sizeof(own));
        for (uint32_t k = 0; k < sizeof(to) / sizeof(to[0]) && good && (whole || alone); k++) {
            if (to[k] < 0 || to[k] == d || !resolve_changed(&other, t->c, d, to[k], 0, 0))
                continue;
            changed = true;
            good = (!whole || symbols_hold(t, &open, &other)) && (!alone || symbols_hold(t, &one, &other));
            see(t, &other, extents, n, all);
            see(t, &other, extents, n, own);
            see_copies(&other);
        }
        tried |= changed ? bit : 0;
        if (alone && good)
            good = show_axes(t, &one, bit, changed ? bit : 0, own);
        good = good && (!alone || takes_bounds(t, &one, d)) && refuses_while_open(t, d, extents, n);
    }
    if (whole && good)
        good = show_axes(t, &open, n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX, tried, all);
    return good;
}

/* Each input in turn has every rank from 0 to 8, with fixed and with dynamic dimensions: the rule accepts it, or refuses it
   with a message that names the node, and reads no axis that the input lacks (which the sanitizers see). */
static bool run_ranks(trial *t)
{
    static trial other;
    for (uint32_t i = 0; i < t->c->nIn; i++)
        for (int32_t rank = 0; rank <= NNRT_MAX_RANK && t->c->in[i].present; rank++)
            for (uint32_t open = 0; open < 2; open++) {
                uint32_t given = FIRST_COMPUTED;
                NNRT_ReturnCode code;
                memset(&other, 0, sizeof(other));
                other.c = t->c;
                other.ranked = i + 1;
                other.rank = rank;
                other.bare = true;
                other.r.symbolCount = open ? &given : NULL;
                code = resolve_with(&other, open ? &given : NULL);
                pool_free(&other.memory);
                if (code == NNRT_SUCCESS || strstr(other.error.message, t->c->name) != NULL)
                    continue;
                snprintf(t->why, sizeof(t->why), "with input %u of rank %d prepare gives %s, and the message does not name "
                         "the node: %s", (unsigned)i, (int)rank, nnrt_code_name(code), other.error.message);
                return false;
            }
    return true;
}

/* A data-dependent dimension has a symbol, even if all inputs have fixed shapes. */
static bool run_told(trial *t)
{
    static trial known;
    if (!data_dependent(t) || t->c->runCode != NNRT_SUCCESS || !resolve_open(&known, t->c, -1, 0, 0, 0))
        return true;
    for (uint32_t i = 0; i < t->r.nOut; i++)
        for (int32_t k = 0; k < t->out[i].rank && !nnrti_absent(&t->out[i]); k++)
            if (known.out[i].dims[k] != t->out[i].dims[k] && known.out[i].symbols[k] == 0) {
                snprintf(t->why, sizeof(t->why), "axis %d of result %u is told by the run, but fixed before it", (int)k,
                         (unsigned)i);
                return false;
            }
    return true;
}

/* The count of COMPRESS and NON_ZERO in their last input is known if that input is constant and nothing is dynamic. */
static bool run_counts(trial *t)
{
    static trial known;
    const vec_case *c = t->c;
    if ((strcmp(c->op->name, "COMPRESS") != 0 && strcmp(c->op->name, "NON_ZERO") != 0) || !c->in[c->nIn - 1].constant)
        return true;
    if (resolve_open(&known, c, -1, 0, 0, 0) &&
        memcmp(known.out[0].dims, t->out[0].dims, (size_t)t->out[0].rank * sizeof(int32_t)) == 0)
        return true;
    nnrt_text(t->why, sizeof(t->why), "what is counted is constant, but the result would be %o", &known.out[0]);
    return false;
}

/* As run_symbols, of the elements of lists that rules read: each value that is more than 0 is open, and changed. */
static bool run_values(trial *t)
{
    static trial one, other;
    static seen own[VEC_OPERANDS][NNRT_MAX_RANK];
    int32_t values[MOST_EXTENTS];
    uint32_t n = 0;
    bool good = true;
    for (uint32_t i = 0; i < t->c->nIn; i++)
        for (size_t k = 0; is_list(&t->in[i]) && k < nnrti_count(&t->in[i]); k++) {
            const int64_t v = nnrti_value(&t->in[i], k);
            uint32_t e = 0;
            while (e < n && values[e] != v)
                e++;
            if (e == n && n < MOST_EXTENTS && v > 0 && v < 1000)
                values[n++] = (int32_t)v;
        }
    for (uint32_t e = 0; e < n && good; e++) {
        const int32_t d = values[e], to[] = {d - 1, d + 1, 2 * d, 1};
        uint32_t given = FIRST_COMPUTED;
        bool changed = false, alone;
        memset(&one, 0, sizeof(one));
        memset(own, 0, sizeof(own));
        one.c = t->c;
        one.values = true;
        one.only = d;
        one.r.symbolCount = &given;
        alone = resolve_with(&one, &given) == NNRT_SUCCESS;
        pool_free(&one.memory);
        for (uint32_t k = 0; k < sizeof(to) / sizeof(to[0]) && alone && good; k++) {
            memset(&other, 0, sizeof(other));
            other.c = t->c;
            other.values = true;
            other.from[0] = d;
            other.to[0] = to[k];
            if (resolve_with(&other, NULL) == NNRT_SUCCESS && to[k] != d) {
                changed = true;
                good = symbols_hold(t, &one, &other);
                see(t, &other, values, n, own);
            }
            pool_free(&other.memory);
        }
        if (changed && good)
            good = show_axes(t, &one, (uint64_t)1 << e, (uint64_t)1 << e, own);
    }
    return good;
}

/* ---- no attributes, and attributes of zeros ---- */

/* Every member of an attribute struct, with the text of its default: a mark NNRT_REQUIRED or NNRT_NOT_ZERO. */
#define MEMBER_TEXT(S, kind, T, member, value) {#S, #member, NNRT_ATTR_KIND_##kind, #value},
#define MEMBERS_OF_own(S) NNRT_ATTR_##S(MEMBER_TEXT, S)
#define MEMBERS_OF_none(S)
#define MEMBERS_OF_same(S)
#define MEMBERS_OF(name, number, S, whose, ...) MEMBERS_OF_##whose(S)

static const struct {
    const char *attr, *member;
    nnrt_attr_kind kind;
    const char *value;
} members[] = {NNRT_OPS(MEMBERS_OF, NNRTI_NO_KERNEL)};

#define MEMBERS (sizeof(members) / sizeof(members[0]))

static bool g_refused[MEMBERS]; /* in some case the message begins with the member */

/* By operator, zeros or none, results without a type or with one: whether some case works, and the last refusal that begins
   with no marked member. */
typedef struct bare {
    bool works;
    char says[160];
} bare;

static bare g_bare[512][2][2];

static bool is_marked(const char *value, bool zeros)
{
    return strncmp(value, "NNRT_REQUIRED", 13) == 0 || (zeros && strncmp(value, "NNRT_NOT_ZERO", 13) == 0);
}

/* Whether the refusal begins with a member that the model must state, or that zeros may not have; without a type of the
   result, also with a member that can state it. */
static bool is_expected(const trial *t, bool zeros, bool undeclared)
{
    const char *says = strstr(t->error.message, "): ");
    bool expected = false;
    for (size_t i = 0; i < MEMBERS && says != NULL; i++) {
        const size_t length = strlen(members[i].member);
        if (strcmp(members[i].attr, t->c->op->attr->name) != 0 || strncmp(says + 3, members[i].member, length) != 0 ||
            strchr(" [", says[3 + length]) == NULL)
            continue;
        g_refused[i] = true;
        expected = expected || is_marked(members[i].value, zeros) || (undeclared && members[i].kind == NNRT_ATTR_KIND_TYPE);
    }
    return expected;
}

/* The inputs of the case with other attributes. */
static NNRT_ReturnCode resolve_bare(trial *t, const vec_case *c, const void *attr, uint32_t bytes, bool undeclared)
{
    memset(t, 0, sizeof(*t));
    t->c = c;
    t->plain = t->bare = true;
    t->attr = attr;
    t->attrBytes = bytes;
    t->undeclared = undeclared;
    return resolve_with(t, NULL);
}

/* The inputs of the case without attributes, which are the defaults, and with attributes of zeros. */
static bool run_bare(trial *t)
{
    static trial none, other;
    static const uint64_t zeros[64] = {0};
    static uint64_t defaults[64];
    const nnrt_attr_struct *attr = t->c->op->attr;
    const struct {
        const void *attr;
        uint32_t bytes;
    } same[] = {{NULL, attr->bytes}, {zeros, 0}, {defaults, attr->bytes}};
    bool good = true;
    nnrt_attr_defaults(attr, defaults);
    for (int undeclared = 0; undeclared < 2 && good; undeclared++) {
        const NNRT_ReturnCode code = resolve_bare(&none, t->c, NULL, 0, undeclared != 0);
        for (uint32_t i = 0; i < 3 && good; i++) {
            good = resolve_bare(&other, t->c, same[i].attr, same[i].bytes, undeclared != 0) == code &&
                   strcmp(none.error.message, other.error.message) == 0 &&
                   (code != NNRT_SUCCESS || nnrt_attr_equal(attr, none.r.resolved, other.r.resolved));
            pool_free(&other.memory);
        }
        if (!good)
            snprintf(t->why, sizeof(t->why), "no attributes and the defaults differ: %.200s", none.error.message);
        pool_free(&none.memory);
        for (int zero = 0; zero < 2; zero++) {
            bare *is = &g_bare[t->c->op - nnrt_op_at(0)][zero][undeclared];
            if (resolve_bare(&other, t->c, zeros, zero != 0 ? attr->bytes : 0, undeclared != 0) == NNRT_SUCCESS)
                is->works = true;
            else if (!is_expected(&other, zero != 0, undeclared != 0))
                nnrt_text(is->says, sizeof(is->says), "%s", other.error.message);
            pool_free(&other.memory);
        }
    }
    return good;
}

/* Without attributes and with attributes of zeros an operator works in some case, or all cases are refused for a marked
   member. Where members are marked, one is refused: the number of faults. */
static uint32_t judge_bare(uint32_t op)
{
    const char *name = nnrt_op_at(op)->name, *marked = NULL;
    uint32_t faults = 0;
    bool refused = false;
    for (int v = 0; v < 4; v++) {
        const bare *is = &g_bare[op][v / 2][v % 2];
        if (is->works || is->says[0] == '\0')
            continue;
        printf("FAIL %s: no case works %s: %s\n", name, v < 2 ? "without attributes" : "with attributes of zeros", is->says);
        faults++;
    }
    for (size_t i = 0; i < MEMBERS; i++)
        if (strcmp(members[i].attr, nnrt_op_at(op)->attr->name) == 0 && is_marked(members[i].value, true)) {
            marked = members[i].member;
            refused = refused || g_refused[i];
        }
    if (marked != NULL && !refused) {
        printf("FAIL %s: %s is marked, but no case is refused for it\n", name, marked);
        faults++;
    }
    return faults;
}

/* Notes which axes of the inputs differ; axes with one name in the row are equal by definition. */
static void show_inputs(trial *t)
{
    shown *s = shown_of(t);
    for (uint32_t i = 0; i < t->c->nIn && i < SHOWN_INPUTS; i++) {
        const nnrt_operand *o = &t->in[i];
        char entries[NNRT_MAX_RANK + 1];
        if (o->rank < 2 || o->rank > SHOWN_RANK || nnrti_count(o) == 0)
            continue;
        entries_of(t, t->r.op->inputs, i, o, entries);
        s->in[i][o->rank].cases++;
        for (int32_t k = 0; k < o->rank; k++)
            for (int32_t a = 0; a < k; a++)
                s->in[i][o->rank].differ[a][k] = s->in[i][o->rank].differ[a][k] || o->dims[a] != o->dims[k] ||
                                                 (entries[0] != '\0' && entries[a] == entries[k]);
    }
}

/* Runs one case; false when it fails, with the reason in t->why. */
static bool run_case(trial *t)
{
    bool good = prepare(t);
    if (good && t->c->prepareCode == NNRT_SUCCESS && t->c->runCode == NNRT_SUCCESS)
        show_inputs(t);
    if (good && t->c->prepareCode == NNRT_SUCCESS)
        good = (data_dependent(t) || check_shapes(t)) && run(t) && run_spread(t) && run_without_each(t) &&
               run_symbols(t) && run_values(t) && run_told(t) && run_counts(t) && run_bare(t) && run_ranks(t);
    for (uint32_t i = 0; i < VEC_OPERANDS; i++)
        free(t->results[i]);
    pool_free(&t->memory);
    return good;
}

/* Whether the file named after the operator is an argument: without it, properties that no case shows prove nothing. */
static bool is_given(const char *name, int argc, char **argv)
{
    char file[80];
    bool given = false;
    int n = snprintf(file, sizeof(file), "/%s.vec", name);
    for (int i = 1; i < n - 4; i++)
        file[i] = (char)(file[i] >= 'A' && file[i] <= 'Z' ? file[i] - 'A' + 'a' : file[i]);
    for (int i = 1; i < argc; i++) {
        const size_t length = strlen(argv[i]);
        given = given || (length >= (size_t)n && strcmp(argv[i] + length - (size_t)n, file) == 0);
    }
    return given;
}

/* Checks the properties shown by the cases of all operators; returns the number of faults. */
static uint32_t judge(int argc, char **argv)
{
    uint32_t faults = 0;
    for (uint32_t n = 0; nnrt_op_at(n) != NULL; n++) {
        const shown *s = &g_shown[n];
        const char *name = nnrt_op_at(n)->name;
        const bool sure = !broadcasts(nnrt_op_at(n)) && !IS_ONE_OF(unsure, name);
        if (!is_given(name, argc, argv))
            continue;
        faults += judge_copies(n) + judge_bare(n);
        for (uint32_t i = 0; i < NNRT_MAX_DERIVED; i++)
            if (s->derived[i] && !s->read[i]) {
                printf("FAIL %s: no case reads the last element of derived constant %u\n", name, (unsigned)i);
                faults++;
            }
        for (int quantised = 0; quantised < 2; quantised++)
            if (s->scratch[quantised] && !s->written[quantised]) {
                printf("FAIL %s: no %scase writes the last byte of scratch memory\n", name, quantised != 0 ? "quantised " : "");
                faults++;
            }
        if (!s->scratch[0] && IS_ONE_OF(keeps, name)) {
            printf("FAIL %s: no case asks for scratch memory\n", name);
            faults++;
        }
        if (s->needed && !s->exact) {
            printf("FAIL %s: no case is refused when scratch memory lacks one byte\n", name);
            faults++;
        }
        for (uint32_t i = 0; i < SHOWN_INPUTS && strcmp(name, "RNN") != 0; i++) /* r of RNN is square: one gate */
            for (int32_t k = 0; k < (SHOWN_RANK + 1) * SHOWN_RANK * SHOWN_RANK; k++) {
                const int32_t rank = k / (SHOWN_RANK * SHOWN_RANK), a = k / SHOWN_RANK % SHOWN_RANK, b = k % SHOWN_RANK;
                if (a >= b || b >= rank || s->in[i][rank].cases < MANY || s->in[i][rank].differ[a][b])
                    continue;
                printf("FAIL %s: axes %d and %d of input %u, which has %d, are equal in every case\n", name, (int)a, (int)b,
                       (unsigned)i, (int)rank);
                faults++;
            }
        for (uint32_t i = 0; i < SHOWN_RESULTS && sure; i++)
            for (int32_t k = 0; k < NNRT_MAX_RANK * (NNRT_MAX_RANK + 1); k++) {
                const uint8_t is = s->axis[i][k / NNRT_MAX_RANK][k % NNRT_MAX_RANK];
                if ((is & (AXIS_STILL | AXIS_MOVES)) != AXIS_STILL && (is & (AXIS_LIKE | AXIS_OWN)) != AXIS_LIKE)
                    continue;
                printf("FAIL %s: axis %d of the %d of result %u has a symbol of its own, but is %s in every case\n", name,
                       (int)(k % NNRT_MAX_RANK), (int)(k / NNRT_MAX_RANK), (unsigned)i,
                       (is & AXIS_LIKE) != 0 ? "an input's extent" : "the same");
                faults++;
            }
    }
    return faults;
}

static FILE *open_or_die(const char *path)
{
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    return f;
}

int main(int argc, char **argv)
{
    uint32_t passed = 0, failed = 0, skipped = 0;
    bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    static vec_case c;
    static trial t;
    for (int i = verbose ? 2 : 1; i < argc; i++) {
        uint32_t before = passed + failed + skipped;
        vec_file v;
        memset(&v, 0, sizeof(v));
        v.path = argv[i];
        v.f = open_or_die(argv[i]);
        while (vec_next(&v, &c)) {
            bool good;
            memset(&t, 0, sizeof(t));
            if (c.op == NULL) {
                skipped++;
                vec_free(&c);
                continue;
            }
            t.c = &c;
            good = run_case(&t);
            passed += good ? 1 : 0;
            failed += good ? 0 : 1;
            if (!good || verbose)
                printf("%s %s:%d: %s '%s': %s\n", good ? "ok  " : "FAIL", argv[i], (int)v.line, c.opName, c.name, t.why);
            vec_free(&c);
        }
        vec_free(&c);
        free(v.text);
        fclose(v.f);
        if (passed + failed + skipped == before) {
            printf("FAIL %s: no case in it\n", argv[i]);
            failed++;
        }
    }
    failed += judge(argc, argv);
    printf("bits %08lx%08lx\n", (unsigned long)(g_hash >> 32), (unsigned long)(g_hash & 0xFFFFFFFFu));
    printf("%u passed, %u failed, %u skipped\n", (unsigned)passed, (unsigned)failed, (unsigned)skipped);
    return failed > 0 || passed == 0 ? 1 : 0;
}
