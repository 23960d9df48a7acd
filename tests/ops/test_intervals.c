/* Intervals of shape arithmetic (>>intervals of nnrt_ops.h): random expressions over symbols of known intervals. Every
   fact that is derived while preparing must hold for the numbers that the reference kernels compute, for all values of
   the symbols within their intervals. Laws of arithmetic (x - x is 0, floor(s / 2) is at most s / 2) are expected as
   exact intervals, so that deriving nothing does not pass. */
#include "inside.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "half.h"
#include "nnrt_hal.h"

#define BOOL NNRT_DATA_TYPE_BOOL
#define U8 NNRT_DATA_TYPE_UINT8
#define I16 NNRT_DATA_TYPE_INT16
#define I32 NNRT_DATA_TYPE_INT32
#define I64 NNRT_DATA_TYPE_INT64
#define F16 NNRT_DATA_TYPE_FLOAT16
#define F32 NNRT_DATA_TYPE_FLOAT32
#define F64 NNRT_DATA_TYPE_FLOAT64
#define SAME NNRT_DATA_TYPE_UNKNOWN /* a result's type follows from the operands */

enum { CASES = 24, SYMBOLS = 200, VALUES = 60, ELEMENTS = 8, ROUNDS = 24, NO_VALUE = -1, ABSENT = -2 };

/* A number of the expression as preparing knows it, and its value in each case. A case chooses all symbols. */
typedef struct value {
    nnrt_operand is;
    uint8_t cases[CASES][ELEMENTS * 8];
} value;

typedef struct world {
    nnrt_memory memory;
    nnrti_symbols symbols;
    uint32_t symbolCount;
    value values[VALUES];
    int count;
    bool defined[SYMBOLS], refused[CASES]; /* refused: the kernels refuse this case, as a run does */
    long double number[SYMBOLS][CASES];
    char text[12000], fault[400];
} world;

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

static bool is_float(NNRT_DataType type)
{
    return type == F16 || type == F32 || type == F64;
}

static const char *type_name(NNRT_DataType type)
{
    return type == BOOL  ? "bool"
           : type == U8  ? "uint8"
           : type == I16 ? "int16"
           : type == I32 ? "int32"
           : type == I64 ? "int64"
           : type == F16 ? "float16"
           : type == F32 ? "float32"
                         : "float64";
}

/* ---- elements, by other code than the library's ---- */

static long double load(NNRT_DataType type, const void *data, size_t k)
{
    const uint8_t *at = (const uint8_t *)data + k * nnrt_type_size(type);
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint16_t half;
    float f32;
    double f64;
    switch (type) {
    case BOOL:
    case U8: return *at;
    case I16: memcpy(&i16, at, sizeof(i16)); return i16;
    case I32: memcpy(&i32, at, sizeof(i32)); return i32;
    case I64: memcpy(&i64, at, sizeof(i64)); return (long double)i64;
    case F16: memcpy(&half, at, sizeof(half)); return half_to(half);
    case F32: memcpy(&f32, at, sizeof(f32)); return f32;
    default: memcpy(&f64, at, sizeof(f64)); return f64;
    }
}

static double low_of(NNRT_DataType type)
{
    return type == BOOL || type == U8 ? 0 : type == I16 ? INT16_MIN : type == I32 ? INT32_MIN : -9223372036854775808.0;
}

static double high_of(NNRT_DataType type)
{
    return type == BOOL  ? 1
           : type == U8  ? UINT8_MAX
           : type == I16 ? INT16_MAX
           : type == I32 ? INT32_MAX
                         : 9223372036854774784.0;
}

/* v as this type has it: rounded, and within its range. */
static void store(NNRT_DataType type, void *data, size_t k, double v)
{
    uint8_t *at = (uint8_t *)data + k * nnrt_type_size(type);
    const float f32 = (float)(v > FLT_MAX && v < INFINITY ? FLT_MAX : v < -FLT_MAX && v > -INFINITY ? -FLT_MAX : v);
    uint16_t half;
    int64_t n;
    if (is_float(type)) {
        half = half_of(v);
        memcpy(at,
               type == F64   ? (const void *)&v
               : type == F32 ? (const void *)&f32
                             : (const void *)&half,
               nnrt_type_size(type));
        return;
    }
    v = v < low_of(type) ? low_of(type) : v > high_of(type) ? high_of(type) : v;
    n = (int64_t)v;
    if (type == I64)
        memcpy(at, &n, sizeof(n));
    else if (type == I32)
        memcpy(at, &(int32_t){(int32_t)n}, sizeof(int32_t));
    else if (type == I16)
        memcpy(at, &(int16_t){(int16_t)n}, sizeof(int16_t));
    else
        *at = (uint8_t)n;
}

static double rounded(NNRT_DataType type, double v)
{
    uint64_t room;
    store(type, &room, 0, v);
    return (double)load(type, &room, 0);
}

/* ---- a world ---- */

static void *keep(void *user, size_t bytes)
{
    return nnrt_memory_keep((nnrt_memory *)user, bytes);
}

static void world_begin(world *w)
{
    memset(w, 0, offsetof(world, values));
    memset(w->defined, 0, sizeof(w->defined));
    memset(w->refused, 0, sizeof(w->refused));
    w->count = 0;
    w->text[0] = w->fault[0] = '\0';
    nnrt_memory_allocate(&w->memory, NULL);
    w->symbols.count = &w->symbolCount;
    w->symbols.alloc = keep;
    w->symbols.user = &w->memory;
}

static void say(world *w, const char *format, ...)
{
    const size_t used = strlen(w->text);
    va_list list;
    va_start(list, format);
    vsnprintf(w->text + used, sizeof(w->text) - used, format, list);
    va_end(list);
}

static void wrong(world *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (w->fault[0] == '\0')
        vsnprintf(w->fault, sizeof(w->fault), format, list);
    va_end(list);
}

static size_t elements(const value *v)
{
    size_t n = 0;
    (void)nnrt_dims_count(v->is.dims, v->is.rank, &n);
    return n;
}

/* Facts about the number of case i: its interval, whether it is an integer or may be NaN. The kernels' result is v. */
static void facts_hold(world *w, const nnrti_known_value *known, long double v, int i)
{
    long double sum = known->sum.constant, dividend = known->dividend.constant;
    bool real = true;
    if (v != v) {
        if (!known->nan)
            wrong(w, "is NaN in case %d, which preparing excludes", i);
        return;
    }
    if (v < known->least || v > known->most)
        wrong(w, "is %.17g in case %d, outside [%.17g, %.17g]", (double)v, i, known->least, known->most);
    if (known->whole && (isinf(v) || floorl(v) != v))
        wrong(w, "is %.17g in case %d, expected an integer", (double)v, i);
    if (v == 0 && signbit(v) && !known->minus)
        wrong(w, "is -0 in case %d, which preparing excludes", i);
    for (uint32_t k = 0; known->summed && k < known->sum.count; k++) {
        const long double s = w->number[known->sum.symbol[k]][i];
        real = real && s - s == 0;
        sum += known->sum.factor[k] * s;
    }
    if (known->summed && real && sum != v)
        wrong(w, "is %.17g in case %d, expected the sum %.17g", (double)v, i, (double)sum);
    for (uint32_t k = 0; known->divisor > 0 && k < known->dividend.count; k++) {
        const long double s = w->number[known->dividend.symbol[k]][i];
        real = real && s - s == 0;
        dividend += known->dividend.factor[k] * s;
    }
    if (known->divisor > 0 && real) {
        const long double quotient = dividend / known->divisor;
        if (known->real ? floorl(v) != floorl(quotient) || ceill(v) != ceill(quotient) : v != floorl(quotient))
            wrong(w, "is %.17g in case %d, expected the quotient %.17g of %.17g", (double)v, i, (double)quotient,
                  (double)dividend);
    }
    for (uint32_t k = 0; k < known->nAbove; k++)
        if (w->number[known->above[k]][i] > v)
            wrong(w, "is %.17g in case %d, less than symbol %u, which is %.17g", (double)v, i, known->above[k],
                  (double)w->number[known->above[k]][i]);
    for (uint32_t k = 0; k < known->nBelow; k++)
        if (v * w->number[known->below[k]][i] > known->product[k] * (1 + 1e-6L))
            wrong(w, "is %.17g in case %d, times symbol %u (%.17g) more than %.17g", (double)v, i, known->below[k],
                  (double)w->number[known->below[k]][i], known->product[k]);
}

/* Compares element e with the results of the kernels. A symbol has one value in each case, everywhere. */
static void element_holds(world *w, const value *v, size_t e)
{
    const uint32_t bits = v->is.open != NULL ? v->is.open[e] : 0, id = bits & ~NNRTI_UNBOUNDED;
    const nnrti_symbol *entry = nnrti_symbol_entry(&w->symbols, id);
    const long double bound = load(v->is.dataType, v->is.data, e);
    assert_true(id < SYMBOLS);
    for (int i = 0; i < CASES; i++) {
        const long double got = load(v->is.dataType, v->cases[i], e);
        if (w->refused[i])
            continue;
        if (id == 0) {
            if (got != bound && (got == got || bound == bound))
                wrong(w, "is %.17g in case %d, expected the constant %.17g", (double)got, i, (double)bound);
            continue;
        }
        if (w->defined[id]) {
            if (got != w->number[id][i] && (got == got || w->number[id][i] == w->number[id][i]))
                wrong(w, "is %.17g in case %d, but symbol %u is %.17g", (double)got, i, id, (double)w->number[id][i]);
        } else {
            w->number[id][i] = got;
        }
        if ((bits & NNRTI_UNBOUNDED) == 0 && got > bound)
            wrong(w, "is %.17g in case %d, its bound %.17g", (double)got, i, (double)bound);
    }
    w->defined[id] = true;
    for (int i = 0; i < CASES && entry != NULL; i++)
        if (!w->refused[i])
            facts_hold(w, &entry->is, w->number[id][i], i);
    if (entry != NULL && (entry->is.most < INFINITY) != ((bits & NNRTI_UNBOUNDED) == 0))
        wrong(w, "symbol %u is at most %g, but its bit says otherwise", id, entry->is.most);
}

/* Integers up to this one are exact in a type: an integer symbol is within them. */
static double exact_to(NNRT_DataType type)
{
    return type == F16 ? 2048 : type == F32 ? 16777216 : type == F64 || type == I64 ? 9007199254740991.0 : 2147483648.0;
}

/* Whether a symbol of these bounds may be declared an integer. */
static bool is_whole(NNRT_DataType type, double least, double most)
{
    return floor(least) == least && floor(most) == most && least >= -exact_to(type) && most <= exact_to(type);
}

static void show(world *w, int number)
{
    const value *v = &w->values[number];
    for (size_t e = 0; e < elements(v); e++) {
        const uint32_t id = v->is.open != NULL ? v->is.open[e] & ~NNRTI_UNBOUNDED : 0;
        const nnrti_symbol *s = nnrti_symbol_entry(&w->symbols, id);
        if (id == 0)
            say(w, " %.17g", (double)load(v->is.dataType, v->is.data, e));
        else if (s == NULL)
            say(w, " s%u", id);
        else
            say(w, " s%u[%.9g, %.9g%s%s%s]", id, s->is.least, s->is.most, s->is.whole ? " whole" : "",
                s->is.nan ? " nan" : "", s->is.summed ? " sum" : "");
    }
    say(w, "\n");
}

static value *value_new(world *w, NNRT_DataType type)
{
    value *v = &w->values[w->count];
    const int32_t one = 1;
    assert_true(w->count < VALUES);
    memset(v, 0, sizeof(*v));
    v->is = nnrt_operand_make(type, 1, &one, NULL);
    v->is.name = "x";
    v->is.data = nnrt_memory_keep(&w->memory, 64);
    return v;
}

static int constant(world *w, NNRT_DataType type, double number)
{
    value *v = value_new(w, type);
    store(type, (void *)(uintptr_t)v->is.data, 0, number);
    for (int i = 0; i < CASES; i++)
        store(type, v->cases[i], 0, number);
    say(w, "%%%d = %s %.17g\n", w->count, type_name(type), (double)load(type, v->is.data, 0));
    return w->count++;
}

/* A number within an interval, often an end of it. */
static double draw_within(NNRT_DataType type, const nnrti_known_value *n)
{
    const double low = n->least == -INFINITY ? (is_float(type) ? -1e30 : low_of(type)) : n->least;
    const double high = n->most == INFINITY ? (is_float(type) ? 1e30 : high_of(type)) : n->most;
    double v = 0;
    switch (draw(8)) {
    case 0: v = n->least > -INFINITY || (is_float(type) && !n->whole) ? n->least : low; break;
    case 1: v = n->most < INFINITY || (is_float(type) && !n->whole) ? n->most : high; break;
    case 2: v = low + 1; break;
    case 3: v = high - 1; break;
    case 4: v = (double)draw(16); break;
    case 5: v = -(double)draw(16) / 4; break;
    case 6: v = low / 2 + high / 2; break;
    default: v = low + (high - low) * draw(1001) / 1000; break;
    }
    if (n->nan && draw(6) == 0)
        return NAN;
    v = n->whole && !isinf(v) ? nearbyint(v) : v;
    v = rounded(type, v);
    v = v == 0 && !n->minus ? 0 : v == 0 ? copysign(0, draw(2) == 0 ? 1 : -1) : v;
    return v < n->least ? n->least : v > n->most ? n->most : v;
}

/* A symbol with this interval. bare: a dimension without an entry, 0 to most. */
static int symbol_of(world *w, NNRT_DataType type, const nnrti_known_value *known, bool bare)
{
    value *v = value_new(w, type);
    uint32_t *open = (uint32_t *)nnrt_memory_keep(&w->memory, sizeof(*open));
    if (bare)
        *open = ++w->symbolCount;
    else
        *open = nnrti_symbol_new(&w->symbols, known);
    v->is.open = open;
    store(type, (void *)(uintptr_t)v->is.data, 0, known->most < INFINITY ? known->most : 1);
    for (int i = 0; i < CASES; i++)
        store(type, v->cases[i], 0, draw_within(type, known));
    say(w, "%%%d = %s", w->count, type_name(type));
    show(w, w->count);
    element_holds(w, v, 0);
    assert_string_equal(w->fault, "");
    return w->count++;
}

static int symbol(world *w, NNRT_DataType type, double least, double most)
{
    nnrti_known_value n;
    nnrti_known_nothing(&n);
    n.least = least;
    n.most = most;
    n.whole = !is_float(type) || is_whole(type, least, most);
    n.nan = n.minus = false;
    return symbol_of(w, type, &n, false);
}

/* ---- operators ---- */

typedef struct operation {
    NNRT_NodeType op;
    const void *attr;
    size_t attrBytes;
    NNRT_DataType result;
    uint32_t fixed; /* bits of inputs whose values the rule reads */
} operation;

static void resolve_begin(world *w, const operation *o, const int *in, uint32_t nIn, bool known, nnrt_resolve *c,
                          nnrt_operand *room)
{
    memset(c, 0, sizeof(*c));
    c->op = nnrt_op_find(o->op);
    c->nodeName = "node";
    c->attr = o->attr;
    c->attrBytes = (uint32_t)o->attrBytes;
    c->in = room;
    c->out = room + 40;
    c->nIn = nIn;
    c->nOut = 1;
    c->alloc = keep;
    c->user = &w->memory;
    for (uint32_t i = 0; i < 48; i++)
        nnrti_absent_operand(&room[i]);
    c->out[0].dataType = o->result;
    c->out[0].name = "y";
    for (uint32_t i = 0; i < nIn; i++) {
        if (in[i] == ABSENT)
            continue;
        room[i] = w->values[in[i]].is;
        if (!known && (o->fixed >> i & 1) == 0) {
            room[i].data = NULL;
            room[i].open = NULL;
        }
    }
    if (known) {
        c->symbolCount = &w->symbolCount;
        c->symbols = &w->symbols;
    }
}

/* The result of an operator, as preparing knows it and as the kernel computes it in each case, compared with each other.
   NO_VALUE: the operator does not take these operands, or says nothing of them. */
static int apply_to(world *w, const operation *o, const int *in, uint32_t nIn)
{
    nnrt_operand room[48];
    nnrti_inference f;
    nnrt_resolve c;
    void *results[1] = {NULL};
    bool folded = false, any = false;
    value *v;
    memset(&f, 0, sizeof(f));
    f.memory = &w->memory;
    f.results = results;
    resolve_begin(w, o, in, nIn, true, &c, room);
    if (nnrt_resolve_node(&c) != NNRT_SUCCESS || nnrti_fold(&f, &c, &folded) != NNRT_SUCCESS || c.out[0].data == NULL ||
        nnrti_count(&c.out[0]) > ELEMENTS || nnrti_count(&c.out[0]) == 0)
        return NO_VALUE;
    v = value_new(w, c.out[0].dataType);
    v->is = c.out[0];
    v->is.name = "x";
    v->is.viewRank = -1;
    say(w, "%%%d = %s(", w->count, c.op->name);
    for (uint32_t i = 0; i < nIn; i++)
        say(w, in[i] == ABSENT ? "%s-" : "%s%%%d", i > 0 ? ", " : "", in[i]);
    say(w, ") %s", type_name(v->is.dataType));
    show(w, w->count);
    resolve_begin(w, o, in, nIn, false, &c, room);
    if (nnrt_resolve_node(&c) != NNRT_SUCCESS)
        return NO_VALUE;
    for (int i = 0; i < CASES; i++) {
        results[0] = v->cases[i];
        for (uint32_t k = 0; k < nIn; k++)
            if (in[k] != ABSENT && (o->fixed >> k & 1) == 0)
                room[k].data = w->values[in[k]].cases[i];
        if (!w->refused[i] && nnrti_node_run(&c, results, &w->memory) != NNRT_SUCCESS)
            w->refused[i] = true;
        any = any || !w->refused[i];
        nnrt_memory_drop_temp(&w->memory);
    }
    for (size_t e = 0; e < elements(v) && any; e++)
        element_holds(w, v, e);
    w->count++;
    return any ? w->count - 1 : NO_VALUE;
}

static int apply(world *w, NNRT_NodeType op, int a, int b, int d)
{
    const operation o = {op, NULL, 0, SAME, 0};
    const int in[3] = {a, b, d};
    return apply_to(w, &o, in, d != NO_VALUE ? 3 : b != NO_VALUE ? 2 : 1);
}

static int cast(world *w, int a, NNRT_DataType type)
{
    const operation o = {NNRT_NODE_TYPE_CAST, NULL, 0, type, 0};
    return apply_to(w, &o, &a, 1);
}

/* ---- random expressions ---- */

/* The operators whose intervals are derived element by element, with activations if they have one. */
typedef struct row {
    NNRT_NodeType op;
    uint32_t nIn;
    bool activates;
} row;

static const row rows[] = {
    {NNRT_NODE_TYPE_ADD_FUSION, 2, true},     {NNRT_NODE_TYPE_SUB_FUSION, 2, true},
    {NNRT_NODE_TYPE_MUL_FUSION, 2, true},     {NNRT_NODE_TYPE_DIV_FUSION, 2, true},
    {NNRT_NODE_TYPE_REAL_DIV, 2, false},      {NNRT_NODE_TYPE_FLOOR_DIV, 2, false},
    {NNRT_NODE_TYPE_RECIPROCAL, 1, false},    {NNRT_NODE_TYPE_MOD, 2, false},
    {NNRT_NODE_TYPE_ADD_N, 3, false},         {NNRT_NODE_TYPE_NEG, 1, false},
    {NNRT_NODE_TYPE_ABS, 1, false},           {NNRT_NODE_TYPE_MAXIMUM, 2, false},
    {NNRT_NODE_TYPE_MINIMUM, 2, false},       {NNRT_NODE_TYPE_CLIP, 3, false},
    {NNRT_NODE_TYPE_CEIL, 1, false},          {NNRT_NODE_TYPE_FLOOR, 1, false},
    {NNRT_NODE_TYPE_ROUND, 1, false},         {NNRT_NODE_TYPE_CAST, 1, false},
    {NNRT_NODE_TYPE_LESS, 2, false},          {NNRT_NODE_TYPE_LESS_EQUAL, 2, false},
    {NNRT_NODE_TYPE_GREATER, 2, false},       {NNRT_NODE_TYPE_GREATER_EQUAL, 2, false},
    {NNRT_NODE_TYPE_EQUAL, 2, false},         {NNRT_NODE_TYPE_NOT_EQUAL, 2, false},
    {NNRT_NODE_TYPE_LOGICAL_NOT, 1, false},   {NNRT_NODE_TYPE_LOGICAL_AND, 2, false},
    {NNRT_NODE_TYPE_LOGICAL_OR, 2, false},    {NNRT_NODE_TYPE_LOGICAL_XOR, 2, false},
    {NNRT_NODE_TYPE_WHERE, 3, false},         {NNRT_NODE_TYPE_SELECT, 3, false},
    {NNRT_NODE_TYPE_REDUCE_FUSION, 1, false}, {NNRT_NODE_TYPE_GATHER, 2, false},
    {NNRT_NODE_TYPE_CONCAT, 2, false},        {NNRT_NODE_TYPE_STACK, 2, false},
    {NNRT_NODE_TYPE_CUM_SUM, 2, false},
};

#define ROWS (int)(sizeof(rows) / sizeof(rows[0]))

static const NNRT_DataType types[] = {I64, I32, F32, F64, F16, BOOL, U8, I16};

#define TYPES (int)(sizeof(types) / sizeof(types[0]))

static const double ends[] = {-INFINITY,
                              -2147483648.0,
                              -70000,
                              -7,
                              -3,
                              -1,
                              0,
                              0,
                              1,
                              1,
                              2,
                              5,
                              8,
                              100,
                              300,
                              2049,
                              70000,
                              16777217,
                              2147483647,
                              1099511627776.0,
                              9007199254740991.0,
                              INFINITY};
static const double parts[] = {-2.5, -0.5, -1e-8, 0.1, 0.25, 0.5, 1.5, 7.3, 65519, 3e38};

static double draw_end(NNRT_DataType type)
{
    if (is_float(type) && draw(3) == 0)
        return rounded(type, parts[draw(sizeof(parts) / sizeof(parts[0]))]);
    if (draw(2) == 0)
        return rounded(type, (double)draw(12));
    return ends[draw(sizeof(ends) / sizeof(ends[0]))];
}

static int random_symbol(world *w, NNRT_DataType type)
{
    nnrti_known_value n;
    double a = draw_end(type), b = draw_end(type);
    nnrti_known_nothing(&n);
    a = isinf(a) ? a : rounded(type, a) + 0; /* no -0 */
    b = isinf(b) ? b : rounded(type, b) + 0;
    n.least = a < b ? a : b;
    n.most = a < b ? b : a;
    n.least = n.least == INFINITY ? 0 : n.least;
    n.most = n.most == -INFINITY ? 0 : n.most;
    n.nan = is_float(type) && draw(4) == 0;
    n.minus = is_float(type) && draw(2) == 0;
    n.whole = !is_float(type) || (is_whole(type, n.least, n.most) && draw(2) == 0);
    if (!is_float(type) && draw(8) == 0) { /* an element that overflowed */
        nnrti_known_nothing(&n);
        n.nan = n.minus = false;
    } else if (type == I64 && draw(6) == 0) { /* a dimension whose interval no sum has asked for */
        n.least = 0;
        n.most = draw(40);
        n.nan = n.minus = false;
        return symbol_of(w, type, &n, true);
    }
    return symbol_of(w, type, &n, false);
}

/* An operand of a type: a value that there is, a constant, a new symbol, or a value of another type, cast. */
static int random_operand(world *w, NNRT_DataType type)
{
    const uint32_t way = draw(10);
    int found = NO_VALUE;
    if (w->count > 20)
        return draw(2) == 0 ? constant(w, type, draw_end(type)) : random_symbol(w, type);
    for (int tries = 0; tries < 8 && way < 6 && w->count > 0 && found == NO_VALUE; tries++) {
        found = (int)draw((uint32_t)w->count);
        found = w->values[found].is.dataType == type ? found : NO_VALUE;
    }
    if (found == NO_VALUE && way < 7 && w->count > 0)
        found = cast(w, (int)draw((uint32_t)w->count), type);
    if (found != NO_VALUE)
        return found;
    return way < 8 ? random_symbol(w, type) : constant(w, type, draw_end(type));
}

static int random_apply(world *w, const row *r, NNRT_DataType type)
{
    const NNRT_AddFusion activation = {draw(4) > 0   ? NNRT_ACTIVATION_TYPE_NO_ACTIVATION
                                       : draw(3) > 0 ? NNRT_ACTIVATION_TYPE_RELU
                                                     : NNRT_ACTIVATION_TYPE_TANH};
    NNRT_ReduceFusion reduce;
    NNRT_Clip clip;
    NNRT_Stack stack;
    operation o = {r->op, NULL, 0, SAME, 0};
    int in[3], a;
    uint32_t n = r->nIn;
    for (uint32_t i = 0; i < n; i++)
        in[i] = random_operand(w, (r->op == NNRT_NODE_TYPE_WHERE || r->op == NNRT_NODE_TYPE_SELECT) && i == 0 ? BOOL
                                                                                                              : type);
    if (r->activates) {
        o.attr = &activation;
        o.attrBytes = sizeof(activation);
        say(w, "activation %d: ", (int)activation.activationType);
    } else if (r->op == NNRT_NODE_TYPE_CAST) {
        o.result = types[draw((uint32_t)TYPES)];
    } else if (r->op == NNRT_NODE_TYPE_REAL_DIV) {
        o.result = is_float(type) ? type : F32;
    } else if (r->op == NNRT_NODE_TYPE_CLIP) {
        memset(&clip, 0, sizeof(clip));
        clip.min = draw(2) == 0 ? -FLT_MAX : (float)draw(5) - 2;
        clip.max = draw(2) == 0 ? FLT_MAX : (float)draw(9) + 2;
        o.attr = &clip;
        o.attrBytes = sizeof(clip);
        n = 1 + draw(3);
        in[1] = draw(3) == 0 ? ABSENT : in[1];
        say(w, "min %g, max %g: ", (double)clip.min, (double)clip.max);
    } else if (r->op == NNRT_NODE_TYPE_STACK) {
        memset(&stack, 0, sizeof(stack));
        stack.axis = draw(2);
        o.attr = &stack;
        o.attrBytes = sizeof(stack);
    } else if (r->op == NNRT_NODE_TYPE_REDUCE_FUSION) {
        a = random_operand(w, type);
        in[0] = apply(w, draw(2) == 0 ? NNRT_NODE_TYPE_CONCAT : NNRT_NODE_TYPE_STACK, in[0], a, NO_VALUE);
        memset(&reduce, 0, sizeof(reduce));
        reduce.keepDims = draw(2) == 0;
        reduce.mode = (NNRT_ReduceMode)draw(9);
        o.attr = &reduce;
        o.attrBytes = sizeof(reduce);
        if (in[0] == NO_VALUE)
            return NO_VALUE;
        if (draw(3) == 0) {
            in[1] = constant(w, I32, w->values[in[0]].is.rank - 1);
            o.fixed = 2;
            n = 2;
        }
        say(w, "mode %d: ", (int)reduce.mode);
    } else if (r->op == NNRT_NODE_TYPE_GATHER) {
        a = random_operand(w, type);
        a = apply(w, NNRT_NODE_TYPE_CONCAT, in[0], in[1], a);
        if (a == NO_VALUE)
            return NO_VALUE;
        in[0] = a;
        in[1] = symbol(w, draw(2) == 0 ? I32 : I64, draw(2), 1 + draw(2));
    } else if (r->op == NNRT_NODE_TYPE_CUM_SUM) {
        in[1] = constant(w, I32, 0);
        o.fixed = 2;
    }
    if (n >= 3 && r->op == NNRT_NODE_TYPE_ADD_N)
        n = 1 + draw(3);
    return apply_to(w, &o, in, n);
}

static world the;

/* Each operator with each type, at the end of a few random operators. */
static void test_random_expressions(void **state)
{
    int faults = 0;
    (void)state;
    seed = 1;
    for (int r = 0; r < ROWS; r++) {
        int took = 0;
        for (int t = 0; t < TYPES; t++)
            for (int round = 0, told = 0; round < ROUNDS; round++) {
                world *w = &the;
                world_begin(w);
                random_symbol(w, types[t]);
                random_symbol(w, types[draw((uint32_t)TYPES)]);
                for (uint32_t k = draw(4); k > 0 && w->fault[0] == '\0' && w->count < 14; k--)
                    (void)random_apply(w, &rows[draw((uint32_t)ROWS)],
                                       draw(2) == 0 ? types[t] : types[draw((uint32_t)TYPES)]);
                for (int k = 0; k < 2 && w->fault[0] == '\0' && w->count < 20; k++) {
                    const int y = random_apply(w, &rows[r], types[t]);
                    took += y != NO_VALUE ? 1 : 0;
                }
                if (w->fault[0] != '\0' && told++ == 0) {
                    print_error("%s the last %s\n\n", w->text, w->fault);
                    faults++;
                }
                nnrt_memory_end(&w->memory);
            }
        if (took < 8) {
            print_error("row %d: no result to compare\n", r);
            faults++;
        }
    }
    assert_int_equal(faults, 0);
}

/* ---- laws of arithmetic ---- */

/* Element e of a value has exactly the bounds least and most; a constant if they are equal. */
#define WITHIN(v, e, least, most) is_within(&the, v, e, least, most, __LINE__)

static void is_within(world *w, int v, size_t e, double least, double most, int line)
{
    nnrti_known_value n;
    nnrt_resolve c;
    memset(&c, 0, sizeof(c));
    c.symbols = &w->symbols;
    if (v == NO_VALUE || w->fault[0] != '\0') {
        fail_msg("line %d: %s the last %s", line, w->text, w->fault);
        return;
    }
    nnrti_value_known(&c, &w->values[v].is, e, &n);
    if (n.least != least || n.most != most || n.nan || (least == most && w->values[v].is.open[e] != 0))
        fail_msg("line %d: %sthe last is [%.17g, %.17g]%s, expected [%.17g, %.17g]", line, w->text, n.least, n.most,
                 n.nan ? " or NaN" : "", least, most);
}

#define ADD(a, b) apply(&the, NNRT_NODE_TYPE_ADD_FUSION, a, b, NO_VALUE)
#define SUB(a, b) apply(&the, NNRT_NODE_TYPE_SUB_FUSION, a, b, NO_VALUE)
#define MUL(a, b) apply(&the, NNRT_NODE_TYPE_MUL_FUSION, a, b, NO_VALUE)
#define DIV(a, b) apply(&the, NNRT_NODE_TYPE_DIV_FUSION, a, b, NO_VALUE)
#define MAX(a, b) apply(&the, NNRT_NODE_TYPE_MAXIMUM, a, b, NO_VALUE)
#define MIN(a, b) apply(&the, NNRT_NODE_TYPE_MINIMUM, a, b, NO_VALUE)
#define UNARY(op, a) apply(&the, NNRT_NODE_TYPE_##op, a, NO_VALUE, NO_VALUE)
#define BINARY(op, a, b) apply(&the, NNRT_NODE_TYPE_##op, a, b, NO_VALUE)
#define NUMBER(type, v) constant(&the, type, v)
#define SYMBOL(type, least, most) symbol(&the, type, least, most)
#define CAST(a, type) cast(&the, a, type)

/* Sums and multiples of symbols: terms that are added and subtracted again vanish, in any order. */
static void test_sums(void **state)
{
    const NNRT_DataType all[] = {I64, I32, F32, F64, F16};
    (void)state;
    for (int t = 0; t < 5; t++) {
        const NNRT_DataType type = all[t];
        int s, u, twice, y;
        world_begin(&the);
        s = SYMBOL(type, -3, 7);
        u = SYMBOL(type, 1, 5);
        WITHIN(ADD(s, u), 0, -2, 12);
        WITHIN(SUB(s, u), 0, -8, 6);
        WITHIN(SUB(s, s), 0, 0, 0);
        WITHIN(SUB(ADD(s, u), u), 0, -3, 7);
        WITHIN(SUB(ADD(u, s), SUB(s, NUMBER(type, 2))), 0, 3, 7); /* u + 2 */
        twice = MUL(s, NUMBER(type, 2));
        WITHIN(twice, 0, -6, 14);
        WITHIN(SUB(ADD(s, s), twice), 0, 0, 0);
        WITHIN(SUB(MUL(NUMBER(type, -3), u), NUMBER(type, 1)), 0, -16, -4);
        WITHIN(UNARY(NEG, s), 0, -7, 3);
        WITHIN(UNARY(ABS, s), 0, 0, 7);
        WITHIN(UNARY(ABS, u), 0, 1, 5);
        WITHIN(MUL(s, u), 0, -15, 35);
        WITHIN(DIV(ADD(twice, NUMBER(type, 2)), NUMBER(type, 2)), 0, -2, 8); /* s + 1 */
        WITHIN(SUB(DIV(twice, NUMBER(type, 2)), s), 0, 0, 0);
        y = apply(&the, NNRT_NODE_TYPE_ADD_N, s, u, u);
        WITHIN(SUB(y, ADD(u, u)), 0, -3, 7);
        nnrt_memory_end(&the.memory);
    }
}

/* Division, in each direction of rounding; a quotient that is taken back leaves the rest. */
static void test_quotients(void **state)
{
    int s, z, n, real, y;
    (void)state;
    world_begin(&the);
    s = SYMBOL(I64, 0, 100);
    z = SYMBOL(I64, -7, 7);
    n = NUMBER(I64, 4);
    WITHIN(DIV(s, n), 0, 0, 25);
    WITHIN(DIV(z, n), 0, -1, 1);
    WITHIN(BINARY(FLOOR_DIV, z, n), 0, -2, 1);
    WITHIN(DIV(s, NUMBER(I64, -3)), 0, -33, 0);
    WITHIN(DIV(z, s), 0, -7, 7); /* a run with s = 0 is refused */
    WITHIN(DIV(s, z), 0, -100, 100);
    WITHIN(SUB(s, MUL(DIV(s, n), n)), 0, 0, 3);
    WITHIN(SUB(z, MUL(BINARY(FLOOR_DIV, z, n), n)), 0, 0, 3);
    y = MUL(DIV(ADD(s, NUMBER(I64, 3)), n), n); /* s, rounded up to a multiple of 4 */
    WITHIN(SUB(y, s), 0, 0, 3);
    WITHIN(BINARY(MOD, s, n), 0, 0, 3);
    WITHIN(BINARY(MOD, z, n), 0, -3, 3);
    WITHIN(BINARY(MOD, s, NUMBER(I64, 101)), 0, 0, 100);
    WITHIN(SUB(BINARY(MOD, s, NUMBER(I64, 101)), s), 0, 0, 0);
    nnrt_memory_end(&the.memory);
    world_begin(&the);
    s = SYMBOL(I64, 0, 100);
    real = DIV(CAST(s, F32), NUMBER(F32, 8));
    WITHIN(real, 0, 0, 12.5);
    WITHIN(UNARY(FLOOR, real), 0, 0, 12);
    WITHIN(UNARY(CEIL, real), 0, 0, 13);
    WITHIN(SUB(MUL(CAST(UNARY(CEIL, real), I64), NUMBER(I64, 8)), s), 0, 0, 7);
    WITHIN(SUB(s, MUL(CAST(UNARY(FLOOR, real), I64), NUMBER(I64, 8))), 0, 0, 7);
    WITHIN(SUB(s, MUL(CAST(real, I64), NUMBER(I64, 8))), 0, 0, 7); /* CAST rounds toward zero */
    WITHIN(BINARY(REAL_DIV, s, NUMBER(I64, 8)), 0, 0, 12.5);
    WITHIN(UNARY(RECIPROCAL, SYMBOL(F32, 2, 8)), 0, 0.125, 0.5);
    WITHIN(UNARY(RECIPROCAL, CAST(s, F64)), 0, 0.01, INFINITY);
    WITHIN(CAST(SYMBOL(F32, -2.5, 7.5), I32), 0, -2, 7);
    WITHIN(CAST(SYMBOL(F32, -2.5, -0.5), I32), 0, -2, 0);
    WITHIN(UNARY(FLOOR, SYMBOL(F32, -2.5, 7.5)), 0, -3, 7);
    WITHIN(UNARY(CEIL, SYMBOL(F64, -2.5, 7.5)), 0, -2, 8);
    WITHIN(UNARY(ROUND, SYMBOL(F64, -1.25, 2)), 0, -2, 2);
    nnrt_memory_end(&the.memory);
}

/* An image that is scaled so that its longer side gets 800: no side gets more, whatever the other one is. */
static void test_scaled(void **state)
{
    int h, u, scale;
    (void)state;
    world_begin(&the);
    h = CAST(SYMBOL(I64, 1, 4096), F32);
    u = CAST(SYMBOL(I64, 1, 2048), F32);
    scale = DIV(NUMBER(F32, 800), MAX(h, u));
    WITHIN(CAST(MUL(scale, h), I64), 0, 0, 800);
    WITHIN(CAST(MUL(u, scale), I64), 0, 0, 800);
    scale = MIN(DIV(NUMBER(F32, 800), h), DIV(NUMBER(F32, 600), u));
    WITHIN(CAST(MUL(scale, h), I64), 0, 0, 800);
    WITHIN(CAST(MUL(u, scale), I64), 0, 0, 600);
    nnrt_memory_end(&the.memory);
}

/* Comparisons, logic and choices. */
static void test_choices(void **state)
{
    int s, u, open, y, in[3];
    const NNRT_Clip clip = {6, -2};
    const operation bounded = {NNRT_NODE_TYPE_CLIP, &clip, sizeof(clip), SAME, 0};
    (void)state;
    world_begin(&the);
    s = SYMBOL(I64, 2, 9);
    u = SYMBOL(I64, 0, 9);
    WITHIN(BINARY(LESS, s, ADD(s, NUMBER(I64, 1))), 0, 1, 1);
    WITHIN(BINARY(LESS_EQUAL, MIN(s, NUMBER(I64, 1)), s), 0, 1, 1);
    WITHIN(BINARY(GREATER, s, s), 0, 0, 0);
    WITHIN(BINARY(GREATER_EQUAL, s, s), 0, 1, 1);
    WITHIN(BINARY(LESS, s, NUMBER(I64, 2)), 0, 0, 0);
    WITHIN(BINARY(EQUAL, s, s), 0, 1, 1);
    WITHIN(BINARY(EQUAL, s, NUMBER(I64, 1)), 0, 0, 0);
    WITHIN(BINARY(NOT_EQUAL, s, NUMBER(I64, 10)), 0, 1, 1);
    open = BINARY(LESS, s, u);
    WITHIN(open, 0, 0, 1);
    WITHIN(UNARY(LOGICAL_NOT, open), 0, 0, 1);
    WITHIN(BINARY(LOGICAL_AND, open, NUMBER(BOOL, 0)), 0, 0, 0);
    WITHIN(BINARY(LOGICAL_OR, open, NUMBER(BOOL, 1)), 0, 1, 1);
    WITHIN(CAST(s, BOOL), 0, 1, 1);
    WITHIN(CAST(u, BOOL), 0, 0, 1);
    WITHIN(CAST(CAST(open, I64), BOOL), 0, 0, 1);
    WITHIN(MAX(s, NUMBER(I64, 4)), 0, 4, 9);
    WITHIN(SUB(MAX(s, NUMBER(I64, 2)), s), 0, 0, 0);
    WITHIN(SUB(MIN(s, NUMBER(I64, 9223372036854775807.0)), s), 0, 0, 0);
    WITHIN(MIN(s, u), 0, 0, 9);
    WITHIN(SUB(apply(&the, NNRT_NODE_TYPE_WHERE, open, s, s), s), 0, 0, 0);
    WITHIN(apply(&the, NNRT_NODE_TYPE_WHERE, open, s, NUMBER(I64, -1)), 0, -1, 9);
    WITHIN(apply(&the, NNRT_NODE_TYPE_SELECT, BINARY(LESS, s, NUMBER(I64, 100)), u, NUMBER(I64, -1)), 0, 0, 9);
    in[0] = SYMBOL(F32, -5, 5);
    in[1] = ABSENT;
    in[2] = NUMBER(F32, 1);
    WITHIN(apply_to(&the, &bounded, in, 1), 0, -2, 5);
    WITHIN(apply_to(&the, &bounded, in, 3), 0, -2, 1);
    in[1] = NUMBER(F32, -1);
    y = apply(&the, NNRT_NODE_TYPE_CLIP, in[0], in[1], NO_VALUE);
    WITHIN(y, 0, -1, 5);
    nnrt_memory_end(&the.memory);
}

/* Reductions, each result of the elements that it comes from, and movers with an index that is a symbol. */
static void test_sets(void **state)
{
    static const struct {
        NNRT_ReduceMode mode;
        double least[2], most[2]; /* of {s, 3}, s from 1 to 5, and {u, -2}, u from -4 to 4 */
    } sets[] = {
        {NNRT_REDUCE_MODE_SUM, {4, -6}, {8, 2}},  {NNRT_REDUCE_MODE_MAX, {3, -2}, {5, 4}},
        {NNRT_REDUCE_MODE_MIN, {1, -4}, {3, -2}}, {NNRT_REDUCE_MODE_PROD, {3, -8}, {15, 8}},
        {NNRT_REDUCE_MODE_MEAN, {2, -3}, {4, 1}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++)
        for (int type = 0; type < 2; type++) {
            const NNRT_DataType t = type == 0 ? I64 : F32;
            NNRT_ReduceFusion reduce;
            const operation o = {NNRT_NODE_TYPE_REDUCE_FUSION, &reduce, sizeof(reduce), SAME, 2};
            int s, u, in[2], y;
            memset(&reduce, 0, sizeof(reduce));
            reduce.mode = sets[k].mode;
            world_begin(&the);
            s = BINARY(CONCAT, SYMBOL(t, 1, 5), NUMBER(t, 3));
            u = BINARY(CONCAT, SYMBOL(t, -4, 4), NUMBER(t, -2));
            in[0] = BINARY(STACK, s, u);
            in[1] = NUMBER(I32, 1);
            y = apply_to(&the, &o, in, 2);
            WITHIN(y, 0, sets[k].least[0], sets[k].most[0]);
            WITHIN(y, 1, sets[k].least[1], sets[k].most[1]);
            y = apply_to(&the, &o, &s, 1);
            WITHIN(y, 0, sets[k].least[0], sets[k].most[0]);
            WITHIN(BINARY(GATHER, s, SYMBOL(I64, 0, 1)), 0, 1, 5);
            WITHIN(BINARY(GATHER, u, NUMBER(I64, 0)), 0, -4, 4);
            nnrt_memory_end(&the.memory);
        }
}

/* Nothing is said that fails for some numbers of a type: integers that wrap, floats that are rounded, NaN, zeros that
   have a sign. */
static void test_unknown(void **state)
{
    int s, y;
    nnrti_known_value n;
    (void)state;
    world_begin(&the);
    s = SYMBOL(I32, 1, 2147483647);
    WITHIN(ADD(s, NUMBER(I32, 1)), 0, -INFINITY, INFINITY);
    WITHIN(SUB(s, NUMBER(I32, 1)), 0, 0, 2147483646);
    y = CAST(s, F32); /* not every integer is a float32 */
    WITHIN(BINARY(EQUAL, CAST(y, F64), CAST(s, F64)), 0, 0, 1);
    WITHIN(BINARY(EQUAL, CAST(CAST(s, F64), I32), s), 0, 1, 1);
    y = CAST(SYMBOL(I64, 0, 9007199254740991.0), I32);
    WITHIN(y, 0, -INFINITY, INFINITY);
    WITHIN(MUL(SYMBOL(U8, 1, 100), NUMBER(U8, 3)), 0, -INFINITY, INFINITY);
    y = CAST(MAX(SYMBOL(I64, 1, 4001), SYMBOL(I64, 1, 4000)), F16); /* 4001 is rounded to 4000 */
    assert_true(y != NO_VALUE);
    assert_string_equal(the.fault, "");
    nnrti_known_nothing(&n);
    n.least = 0;
    n.most = 4;
    s = symbol_of(&the, F32, &n, false); /* may be NaN, and -0 */
    y = MAX(SYMBOL(F32, 5, 6), s);
    assert_true(nnrti_symbol_entry(&the.symbols, the.values[y].is.open[0])->is.nan);
    y = SUB(s, s);
    assert_true(y != NO_VALUE && the.values[y].is.open[0] != 0);
    y = UNARY(RECIPROCAL, s);
    assert_true(the.values[y].is.open[0] & NNRTI_UNBOUNDED);
    assert_true(nnrti_symbol_entry(&the.symbols, the.values[y].is.open[0])->is.least == -INFINITY);
    assert_string_equal(the.fault, "");
    nnrt_memory_end(&the.memory);
}

/* The kernels' own rounding, NaN and zeros of both signs, at the largest exact numbers. Each value is compared with the kernels
   when it is made. */
static void test_ends(void **state)
{
    NNRT_ReduceFusion reduce;
    const operation set = {NNRT_NODE_TYPE_REDUCE_FUSION, &reduce, sizeof(reduce), SAME, 0};
    nnrti_known_value n;
    int s, u, y;
    (void)state;
    world_begin(&the);
    y = apply(&the, NNRT_NODE_TYPE_ADD_N, SYMBOL(F32, 16777216, 20000000), NUMBER(F32, 1), NUMBER(F32, 1));
    assert_true(y != NO_VALUE); /* each sum is rounded */
    y = ADD(ADD(SYMBOL(F64, 8, 9), SYMBOL(F64, 2, 65519)), NUMBER(F64, 9007199254740991.0));
    assert_true(y != NO_VALUE);
    y = BINARY(FLOOR_DIV, NUMBER(I64, 9.3e18), SYMBOL(I64, 70000, 2147483647));
    assert_true(y != NO_VALUE);
    memset(&reduce, 0, sizeof(reduce));
    reduce.mode = NNRT_REDUCE_MODE_PROD;
    y = apply(&the, NNRT_NODE_TYPE_CONCAT, SYMBOL(F32, 3.5, 3.5), SYMBOL(F32, 9.300000190734863, 9.300000190734863),
              NUMBER(F32, 3));
    y = apply_to(&the, &set, &y, 1);
    assert_true(y != NO_VALUE);
    reduce.mode = NNRT_REDUCE_MODE_SUM;
    y = apply(&the, NNRT_NODE_TYPE_CONCAT, SYMBOL(F32, 0.5, 1), NUMBER(F32, 1 / 16777216.0),
              NUMBER(F32, 1 / 16777216.0));
    y = apply_to(&the, &set, &y, 1); /* the kernel has 1 + 2 / 16777216 */
    assert_true(y != NO_VALUE);
    s = CAST(SYMBOL(I64, 1, 4096), F32);
    y = MUL(DIV(NUMBER(F32, 800), s), ADD(s, NUMBER(F32, 2))); /* 2,400 for s = 1 */
    assert_true(y != NO_VALUE);
    assert_string_equal(the.fault, "");
    nnrt_memory_end(&the.memory);
    world_begin(&the);
    y = MUL(SYMBOL(F32, -3, -1), NUMBER(F32, 0));
    y = UNARY(RECIPROCAL, y); /* -infinity */
    s = CAST(SYMBOL(I64, 0, 1), F32);
    y = UNARY(RECIPROCAL, MAX(s, UNARY(NEG, s))); /* of -0 for s = 0 */
    y = UNARY(CEIL, UNARY(RECIPROCAL, s));        /* infinity, which is no integer */
    assert_true(y != NO_VALUE);
    nnrti_known_nothing(&n);
    n.least = 0;
    n.most = 1;
    n.whole = true;
    n.nan = false;
    u = symbol_of(&the, F32, &n, false);
    u = SUB(u, u);
    n.nan = true;
    s = symbol_of(&the, F32, &n, false);
    y = SUB(s, s); /* 0 or NaN, which the difference above is not */
    assert_true(u != NO_VALUE && y != NO_VALUE && the.values[u].is.open[0] != the.values[y].is.open[0]);
    n.least = n.most = 5;
    y = MUL(symbol_of(&the, F32, &n, false), CAST(SYMBOL(I64, 1, 3), F32));
    assert_true(y != NO_VALUE);
    assert_string_equal(the.fault, "");
    nnrt_memory_end(&the.memory);
}

/* A bound of CLIP may have more axes than its input, with intervals and without. */
static void test_bound_of_more_axes(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        uint32_t open = 1;
        const float x = 3, low = -1;
        const int32_t one = 1;
        float out = 0;
        void *results[1] = {&out};
        nnrt_operand room[48];
        nnrti_inference f;
        nnrt_resolve c;
        const operation o = {NNRT_NODE_TYPE_CLIP, NULL, 0, SAME, 0};
        bool folded = true;
        world_begin(&the);
        the.symbolCount = 1;
        resolve_begin(&the, &o, NULL, 0, true, &c, room);
        room[0] = nnrt_operand_make(F32, 0, NULL, &x);
        room[0].open = &open;
        room[1] = nnrt_operand_make(F32, 1, &one, &low);
        room[0].name = room[1].name = "x";
        c.nIn = 2;
        c.symbols = with == 1 ? &the.symbols : NULL;
        memset(&f, 0, sizeof(f));
        f.memory = &the.memory;
        f.results = results;
        assert_int_equal(nnrt_resolve_node(&c), NNRT_SUCCESS);
        assert_int_equal(nnrti_fold(&f, &c, &folded), NNRT_SUCCESS);
        assert_false(folded);
        assert_int_equal(c.out[0].rank, 0);
        assert_true(load(F32, c.out[0].data, 0) == 3);
        nnrt_memory_end(&the.memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_expressions),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_quotients),
        cmocka_unit_test(test_scaled),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_bound_of_more_axes),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
