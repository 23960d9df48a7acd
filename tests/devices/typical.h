/* A model of one node, of a typical size, for each operator and element type: for test_cpu_kernels.c, and for
   tests/bench/operators.c. Include after nnrt.h, devices.h and vec_model.h.

   Sizes come from the shapes that the row of NNRT_OPS states, so that a new operator needs nothing here: an operand without
   another shape is an image [1,56,56,64], a dimension with a name has the size of this image's axis at the same place, and equal
   names are equal dimensions. The file typical.txt has required attributes, kernel sizes, matrices and values of indices, which
   a row does not state. Inputs are inputs of the model; operands of int32 or int64 (`:i` in the row) are constants, because most
   are axes and sizes. Optional operands are absent. A line of the file begins with one of these words:

       op OPERATOR [VARIANT]   begins a block; an operator may have several, variants of different names
       attr MEMBER VALUE       as in tests/ops/vectors/README.md
       in NAME [TYPE] [DIMS] [const|input] [VALUES]
                               operand NAME of the row, or, if that is repeated, one more of it. VALUES: numbers, which are
                               repeated until the tensor is full, or `from A to B`: random ones, B included
       out NAME [TYPE]         an optional output is present, or has this type (qint8: quantized)
       vary NAME               this input, not input 0, has each type in turn */
#ifndef TYPICAL_H
#define TYPICAL_H

#include <ctype.h>

enum { TYPICAL_LINES = 24, TYPICAL_BLOCKS = 512, TYPICAL_OPERANDS = 16, TYPICAL_DRAWS = 5040, TYPICAL_KERNELS = 160 };

static const int32_t typical_image[4] = {1, 56, 56, 64};

typedef struct typical {
    const nnrt_op *op;
    char variant[32];
    int32_t line, count; /* of the block's first line in the file */
    char *lines[TYPICAL_LINES];
} typical;

typedef struct typical_list {
    const char *path;
    typical blocks[TYPICAL_BLOCKS];
    uint32_t count;
} typical_list;

/* An element type of a row of the table: quantized ones are types of their own. */
typedef struct typical_type {
    NNRT_DataType type;
    bool quantized;
} typical_type;

/* An operand, as the text of a row has it. kind: 0 none, '=' as input `of`, else the letter behind the colon. */
typedef struct typical_operand {
    char name[32], shape[64];
    bool optional, repeated, shaped;
    char kind;
    int32_t of;
} typical_operand;

static void typical_die(const typical_list *l, int32_t line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", l->path, (int)line, what);
    exit(2);
}

/* ---- rows ---- */

/* Reads "x[N,H,W,C] weight:q bias?[O]=0"; returns the number of operands. */
static uint32_t typical_operands(const char *text, typical_operand *all)
{
    uint32_t count = 0;
    while (text != NULL && *text != '\0' && count < TYPICAL_OPERANDS) {
        typical_operand *o = &all[count++];
        size_t n = 0;
        memset(o, 0, sizeof(*o));
        for (; isalnum((unsigned char)*text) && n + 1 < sizeof(o->name); text++)
            o->name[n++] = *text;
        for (; *text == '?' || *text == '*'; text++) {
            o->optional = o->optional || *text == '?';
            o->repeated = o->repeated || *text == '*';
        }
        if (*text == '[') {
            const char *end = strchr(text, ']');
            o->shaped = true;
            n = (size_t)(end - text) - 1;
            memcpy(o->shape, text + 1, n < sizeof(o->shape) ? n : sizeof(o->shape) - 1);
            text = end + 1;
        }
        if (*text == '=' || *text == ':') {
            o->kind = *text == '=' ? '=' : text[1];
            o->of = *text == '=' ? text[1] - '0' : 0;
            text += 2;
        }
        while (*text == ' ')
            text++;
    }
    return count;
}

/* The dimensions of a shape of a row. sizes: of the names 'A' to 'Z', 0: not known yet. */
static int32_t typical_dims(const typical_operand *o, int32_t sizes[26], int32_t dims[NNRT_MAX_RANK])
{
    int32_t named = 0, rank, at = 0;
    bool several = false;
    if (!o->shaped || strcmp(o->shape, "..") == 0 || strcmp(o->shape, "..^") == 0) {
        memcpy(dims, typical_image, sizeof(typical_image));
        return 4;
    }
    if (strcmp(o->shape, ".") == 0 || o->shape[0] == '\0')
        return 0;
    for (const char *p = o->shape; *p != '\0'; p++) {
        if (*p == '.') {
            several = true;
            p++;
        } else if (*p != ',') {
            named++;
            while (isdigit((unsigned char)*p) && isdigit((unsigned char)p[1]))
                p++;
        }
    }
    rank = several && named < 4 ? 4 : named + (several ? 1 : 0);
    for (const char *p = o->shape; *p != '\0' && at < NNRT_MAX_RANK;) {
        const int32_t axis = 4 - rank + at, size = typical_image[axis > 0 ? axis : 0];
        if (*p == '.') {
            for (int32_t k = rank - named; k > 0; k--, at++)
                dims[at] = typical_image[4 - rank + at];
            p += 2;
        } else if (isdigit((unsigned char)*p)) {
            dims[at++] = (int32_t)strtol(p, (char **)(uintptr_t)&p, 10);
        } else if (*p == ',') {
            p++;
        } else {
            int32_t *known = &sizes[*p++ - 'A'];
            *known = *known > 0 ? *known : size;
            dims[at++] = *known;
        }
    }
    return at;
}

/* ---- types ---- */

static uint32_t typical_bit(typical_type t)
{
    const uint32_t plain = NNRT_TYPES_OF(t.type);
    return t.quantized ? NNRT_TYPES_QUANT(plain) : plain;
}

static void typical_type_text(typical_type t, char *text, size_t size)
{
    nnrt_text(text, size, "%s%s", t.quantized ? "q" : "", nnrt_type_name(t.type));
}

/* Type i, in the order of their numbers, quantized integers last; false after the last. */
static bool typical_type_at(uint32_t i, typical_type *t)
{
#define TYPICAL_TYPE(name, number, bytes, text) number,
    static const NNRT_DataType all[] = {NNRT_DATA_TYPES(TYPICAL_TYPE)};
    const uint32_t count = sizeof(all) / sizeof(all[0]);
    for (uint32_t k = 0; k < 2 * count; k++) {
        t->type = all[k % count];
        t->quantized = k >= count;
        if (t->quantized && (NNRT_TYPES_OF(t->type) & NNRT_TYPES_INT) == 0)
            continue;
        if (i-- == 0)
            return true;
    }
    return false;
}

/* The operands of the kernel row for these types of input 0, or the row's. */
static const char *typical_kernel_operands(const nnrt_op *op, uint32_t bit)
{
    for (uint32_t i = 0; i < op->kernelCount; i++)
        if ((op->kernels[i].types & bit) != 0 && op->kernels[i].operands != NULL)
            return op->kernels[i].operands;
        else if ((op->kernels[i].types & bit) != 0)
            break;
    return op->inputs;
}

/* ---- values ---- */

static uint64_t typical_state;

static uint32_t typical_draw(uint32_t below)
{
    typical_state = typical_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(typical_state >> 33) % below;
}

static void typical_store(vec_tensor *t, size_t i, double value)
{
    switch (t->dataType) {
    case NNRT_DATA_TYPE_FLOAT32: ((float *)t->data)[i] = (float)value; break;
    case NNRT_DATA_TYPE_FLOAT64: ((double *)t->data)[i] = value; break;
    case NNRT_DATA_TYPE_FLOAT16: ((uint16_t *)t->data)[i] = half_of(value); break;
    default: { /* integers of at most 8 bytes, of little-endian and big-endian machines */
        const int64_t whole = (int64_t)value;
        const int32_t narrow = (int32_t)whole;
        const int16_t two = (int16_t)whole;
        const int8_t one = (int8_t)whole;
        const size_t bytes = nnrt_type_size(t->dataType);
        memcpy((uint8_t *)t->data + i * bytes,
               bytes == 8   ? (const void *)&whole
               : bytes == 4 ? (const void *)&narrow
               : bytes == 2 ? (const void *)&two
                            : &one,
               bytes);
    }
    }
}

/* Fills a tensor: VALUES of the file, or random numbers: floats of 0.1 to 0.9, where most functions are defined; integers of 1
   to 7, which divide and shift; all codes of quantized int8 and uint8. */
static void typical_fill(vec_tensor *t, const char *values)
{
    const bool real = (NNRT_TYPES_OF(t->dataType) & (NNRT_TYPES_FLOAT | NNRT_TYPES_F64)) != 0;
    double from = real ? 0.1 : 1, to = real ? 0.9 : 7, list[64];
    const size_t size = nnrt_type_size(t->dataType);
    uint32_t count = 0;
    if (t->dataType == NNRT_DATA_TYPE_BOOL)
        from = 0, to = 1;
    if (t->quantCount > 0 && !real) {
        from = t->dataType == NNRT_DATA_TYPE_UINT8 ? 0 : t->dataType == NNRT_DATA_TYPE_INT8 ? -128 : 0;
        to = from + 255;
    }
    if (values != NULL && sscanf(values, "from %lf to %lf", &from, &to) != 2)
        for (char *end; count < 64; values = end, count++) {
            list[count] = strtod(values, &end);
            if (end == values)
                break;
        }
    t->data = calloc(t->count + 1, size);
    for (size_t i = 0; i < t->count && i < TYPICAL_DRAWS; i++) {
        const double share = typical_draw(1000) / (real ? 999.0 : 1000.0);
        const double value = count > 0 ? list[i % count]
                             : real    ? from + share * (to - from)
                                       : from + (int32_t)(share * (to - from + 1));
        typical_store(t, i, value);
    }
    for (size_t i = TYPICAL_DRAWS; i < t->count; i++) /* the same again: a test with sanitizers fills quickly */
        memcpy((uint8_t *)t->data + i * size, (uint8_t *)t->data + (i - TYPICAL_DRAWS) * size, size);
}

/* ---- cases ---- */

static void typical_quantize(vec_tensor *t, double scale, int32_t zeroPoint)
{
    t->quantCount = 1;
    t->quant[0].numBits = (int32_t)(8 * nnrt_type_size(t->dataType));
    t->quant[0].scale = scale;
    t->quant[0].zeroPoint = nnrt_type_size(t->dataType) == 1 ? zeroPoint : 0;
}

/* The line `word` NAME of a block, the index-th of them, from the text behind the name; NULL: none. */
static char *typical_find(const typical *b, const char *word, const char *name, uint32_t index)
{
    const size_t n = strlen(word), m = strlen(name);
    for (int32_t i = 0; i < b->count; i++) {
        char *p = b->lines[i];
        if (strncmp(p, word, n) == 0 && p[n] == ' ' && strncmp(p + n + 1, name, m) == 0 &&
            (p[n + 1 + m] == ' ' || p[n + 1 + m] == '\0') && index-- == 0)
            return p[n + 1 + m] == ' ' ? p + n + 2 + m : p + n + 1 + m;
    }
    return NULL;
}

/* A word at the start of *p that names an element type; UNKNOWN: there is none. */
static NNRT_DataType typical_named_type(const char **p)
{
    for (int32_t t = 30; t <= 44; t++) {
        const char *name = nnrt_type_name(t);
        const size_t n = strlen(name);
        if (nnrt_type_size(t) != 0 && strncmp(*p, name, n) == 0 && (*p)[n] != '_' && !isalnum((unsigned char)(*p)[n])) {
            *p += n + ((*p)[n] == ' ' ? 1 : 0);
            return t;
        }
    }
    return NNRT_DATA_TYPE_UNKNOWN;
}

/* The type of an operand: of the row's kind, beside operands with these types. Constant quantized weights are int8, also beside
   uint8; an input has the type of the other one. */
static typical_type typical_type_of(const typical_operand *o, const vec_case *c, typical_type type, bool varies,
                                    bool constant)
{
    typical_type t = type;
    const bool plain = !type.quantized;
    if (varies)
        return type;
    t.quantized = false;
    switch (o->kind) {
    case '=':
        t.type = c->in[o->of].dataType;
        t.quantized = c->in[o->of].quantCount > 0;
        break;
    case 'i': t.type = NNRT_DATA_TYPE_INT64; break;
    case 'b': t.type = NNRT_DATA_TYPE_BOOL; break;
    case '8': t.type = NNRT_DATA_TYPE_UINT8; break;
    case 's': t.type = NNRT_DATA_TYPE_INT32; break;
    case 'w': t.type = NNRT_DATA_TYPE_INT64; break;
    case 'f':
        t.type = plain && (NNRT_TYPES_OF(type.type) & NNRT_TYPES_FLOAT) != 0 ? type.type : NNRT_DATA_TYPE_FLOAT32;
        break;
    case 'n': t.type = NNRT_DATA_TYPE_FLOAT32; break;
    case 'q':
        t.type = constant || type.type != NNRT_DATA_TYPE_UINT8 ? NNRT_DATA_TYPE_INT8 : NNRT_DATA_TYPE_UINT8;
        t.quantized = true;
        break;
    default: t.quantized = type.quantized; break;
    }
    return t;
}

/* Adds the input that row operand o describes; line: that of the file, or NULL. */
static void typical_input(const typical_list *l, const typical *b, vec_case *c, const typical_operand *o,
                          const char *line, typical_type type, bool varies, int32_t sizes[26])
{
    vec_tensor *t = &c->in[c->nIn++];
    const char *p = line != NULL ? line : "";
    const NNRT_DataType named = typical_named_type(&p);
    typical_type of = typical_type_of(o, c, type, varies, strstr(p, "const") != NULL);
    const bool weight = o->kind == 'q' || (of.quantized && c->nIn > 1 && strcmp(o->name, "weight") == 0);
    if (named != NNRT_DATA_TYPE_UNKNOWN) {
        of.type = named;
        of.quantized = false;
    }
    t->present = true;
    t->dataType = of.type;
    t->constant = o->kind == 'i' || o->kind == 's' || o->kind == 'w';
    if (*p == '[') {
        char *end;
        for (p++; *p != ']' && t->rank < NNRT_MAX_RANK; p = *end == ',' ? end + 1 : end) {
            t->dims[t->rank++] = (int32_t)strtol(p, &end, 10);
            if (end == p)
                typical_die(l, b->line, "a shape looks like [2,3]");
        }
        p += p[1] == ' ' ? 2 : 1;
    } else {
        t->rank = typical_dims(o, sizes, t->dims);
    }
    if (strncmp(p, "const", 5) == 0 || strncmp(p, "input", 5) == 0) {
        t->constant = *p == 'c';
        p += p[5] == ' ' ? 6 : 5;
    }
    t->count = 1;
    for (int32_t k = 0; k < t->rank; k++)
        t->count *= (size_t)t->dims[k];
    if ((o->kind == 's' || o->kind == 'w') && type.quantized) /* a bias */
        typical_quantize(
            t, c->in[0].quant[0].scale * (c->nIn > 2 && c->in[1].quantCount > 0 ? c->in[1].quant[0].scale : 1), 0);
    else if (of.quantized)
        typical_quantize(t, weight ? 0.01 : 0.05, weight ? 0 : 3);
    typical_fill(t, *p != '\0' ? p : NULL);
}

static void typical_output(vec_case *c, const typical_operand *o, const char *line, typical_type type)
{
    vec_tensor *t = &c->out[c->nOut++];
    const char *p = line != NULL ? line : "";
    const bool moves = (nnrt_op_types(c->op) & NNRT_TYPES_QUANT(NNRT_TYPES_I32)) != 0; /* any type: no arithmetic */
    const typical_type of = typical_type_of(o, c, type, false, false);
    t->present = true;
    p += *p == 'q' ? 1 : 0;
    t->dataType = typical_named_type(&p);
    if (t->dataType == NNRT_DATA_TYPE_UNKNOWN && o->kind != '.' && o->kind != 'i')
        t->dataType = of.type;
    if (line != NULL && *line == 'q')
        typical_quantize(t, 0.07, 5);
    else if (o->kind == '=' && of.quantized && t->dataType != NNRT_DATA_TYPE_UNKNOWN)
        typical_quantize(t, moves || nnrt_type_size(t->dataType) > 1 ? 0.05 : 0.07, moves ? 3 : 5);
}

/* The input whose type varies. */
static int32_t typical_varies(const typical *b)
{
    typical_operand all[TYPICAL_OPERANDS];
    const uint32_t count = typical_operands(b->op->inputs, all);
    for (uint32_t i = 0; i < count; i++)
        if (typical_find(b, "vary", all[i].name, 0) != NULL)
            return (int32_t)i;
    return 0;
}

/* The case of a block with element type `type` of its varying input. Free it with vec_free. */
static void typical_make(const typical_list *l, const typical *b, typical_type type, vec_case *c)
{
    typical_operand in[TYPICAL_OPERANDS], out[TYPICAL_OPERANDS], kernel[TYPICAL_OPERANDS];
    const uint32_t nIn = typical_operands(b->op->inputs, in), nOut = typical_operands(b->op->outputs, out);
    const int32_t vary = typical_varies(b);
    uint32_t first = typical_bit(type), nKernel;
    int32_t sizes[26];
    vec_file v;
    memset(sizes, 0, sizeof(sizes));
    memset(&v, 0, sizeof(v));
    memset(c, 0, sizeof(*c));
    typical_state = 1;
    v.path = l->path;
    v.line = b->line;
    c->op = b->op;
    c->format = (b->op->flags & NNRT_OP_LAYOUT) != 0 ? NNRT_FORMAT_NHWC : NNRT_FORMAT_NONE;
    nnrt_text(c->name, sizeof(c->name), "%s", b->op->name);
    c->attr = malloc(b->op->attr->bytes);
    nnrt_attr_defaults(b->op->attr, c->attr);
    for (int32_t i = 0; i < b->count; i++)
        if (strncmp(b->lines[i], "attr ", 5) == 0) {
            char text[200];
            nnrt_text(text, sizeof(text), "%s", b->lines[i] + 5);
            vec_read_attr(&v, c, text);
        }
    if (vary > 0)
        first = nnrt_op_types(b->op);
    nKernel = typical_operands(typical_kernel_operands(b->op, first), kernel);
    for (uint32_t i = 0; i < nIn; i++) {
        typical_operand o = in[i];
        const char *line = typical_find(b, "in", o.name, 0);
        typical_type of = type;
        if (i < nKernel) {
            o.kind = kernel[i].kind != 0 ? kernel[i].kind : i < 1 || kernel[i].of > 0 ? kernel[i].kind : o.kind;
            o.of = kernel[i].kind == '=' ? kernel[i].of : o.of;
        }
        if (vary > 0 && i == 0) {
            of.quantized = false;
            of.type = (nnrt_op_types(b->op) & NNRT_TYPES_BOOL) != 0 ? NNRT_DATA_TYPE_BOOL : NNRT_DATA_TYPE_INT64;
        }
        if (o.optional && line == NULL) {
            bool later = false;
            for (uint32_t k = i + 1; k < nIn; k++)
                later = later || !in[k].optional || typical_find(b, "in", in[k].name, 0) != NULL;
            c->nIn += later ? 1 : 0;
            continue;
        }
        typical_input(l, b, c, &o, line, of, (int32_t)i == vary, sizes);
        for (uint32_t k = 1; o.repeated && c->nIn < VEC_OPERANDS; k++) {
            line = typical_find(b, "in", o.name, k);
            if (line == NULL && k > 1)
                break;
            typical_input(l, b, c, &o, line, of, true, sizes);
        }
    }
    for (uint32_t i = 0; i < nOut; i++) {
        const char *line = typical_find(b, "out", out[i].name, 0);
        if (out[i].optional && line == NULL)
            continue;
        typical_output(c, &out[i], line, type);
        for (uint32_t k = 1; out[i].repeated && (line = typical_find(b, "out", out[i].name, k)) != NULL; k++)
            typical_output(c, &out[i], line, type);
    }
}

/* ---- dynamic dimensions ---- */

/* Which axes of the inputs are dynamic, the most that a plan accepts. */
typedef enum typical_open { TYPICAL_ALL, TYPICAL_BUT_LAST, TYPICAL_FIRST, TYPICAL_NONE } typical_open;
static const char *const typical_opens[] = {"all", "all but the last", "the first", "none"};

/* Makes axes of all inputs of the model dynamic, with their sizes as upper bounds; equal sizes share a symbol, as in an exported
   model. false: there is nothing to make dynamic. */
static bool typical_opened(single *s, const vec_case *c, typical_open which)
{
    bool any = false;
    for (uint32_t i = 0, k = 0; i < c->nIn; i++) {
        const vec_tensor *t = &c->in[i];
        NNRT_Tensor *made = t->present ? &s->tensors[s->in[i]] : NULL;
        if (made == NULL || t->constant)
            continue;
        for (int32_t axis = 0; axis < t->rank; axis++) {
            const bool open = which == TYPICAL_ALL || (which == TYPICAL_BUT_LAST ? axis < t->rank - 1 : axis == 0);
            s->dims[i][axis] = open ? -1 : t->dims[axis];
            s->symbols[i][axis] = open ? (uint32_t)t->dims[axis] + 1 : 0;
            any = any || open;
        }
        made->dims = NNRT_Int32List_make(s->dims[i], (uint32_t)t->rank);
        made->symbols = NNRT_Uint32List_make(s->symbols[i], (uint32_t)t->rank);
        bound(s, s->in[i], t);
        for (int32_t axis = 0; axis < t->rank; axis++)
            s->bounds[s->nBounds - 1].most.dims[axis] = t->dims[axis];
        s->io[k++].dims = t->dims;
    }
    return any && which != TYPICAL_NONE;
}

/* ---- selections ---- */

/* The kernels that a device selects for a case. */
typedef struct typical_selection {
    char fixed[TYPICAL_KERNELS], dynamic[TYPICAL_KERNELS];
    typical_open open;
    bool falls; /* a step has a reference kernel */
} typical_selection;

/* Appends the name of a kernel without prefix and instruction set. */
static void typical_add_kernel(char *list, const char *name, bool *falls)
{
    char text[80];
    const size_t used = strlen(list);
    const bool own = strncmp(name, "nnrt_cpu_", 9) == 0;
    nnrt_text(text, sizeof(text), "%s", own ? name + 9 : name);
    *falls = *falls || !own;
    for (size_t i = 0; own && i < sizeof(test_devices) / sizeof(test_devices[0]); i++) {
        const char *set = test_devices[i].name;
        const size_t n = strlen(set) - 3, length = strlen(text); /* of "_SET" behind "cpu-SET" */
        if (strncmp(set, "cpu-", 4) == 0 && length > n && text[length - n] == '_' &&
            strcmp(text + length - n + 1, set + 4) == 0) {
            text[length - n] = '\0';
            break;
        }
    }
    nnrt_text(list + used, TYPICAL_KERNELS - used, "%s%s", used > 0 ? " + " : "", text);
}

/* The kernels of the steps of a model. */
static NNRT_ReturnCode typical_kernels(const char *device, single *s, char *list, bool *falls, nnrt_error *error)
{
    NNRT_PreparedModel *prepared = NULL;
    NNRT_ModelConfig config;
    nnrt_device *d = nnrt_device_find(device);
    NNRT_ReturnCode code;
    memset(&config, 0, sizeof(config));
    memset(error, 0, sizeof(*error));
    config.error = error;
    config.bounds = nnrt_bound_list_make(s->bounds, s->nBounds);
    list[0] = '\0';
    code = nnrt_device_prepare(d, &s->model, &config, &prepared);
    if (code != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < nnrt_prepared_plan(prepared)->nSteps; i++)
        typical_add_kernel(list, nnrt_prepared_plan(prepared)->steps[i].kernelName, falls);
    if (list[0] == '\0')
        nnrt_text(list, TYPICAL_KERNELS, "no step");
    nnrt_device_release(d, prepared);
    return NNRT_SUCCESS;
}

/* The kernels with fixed dimensions, and with the most dynamic axes that a plan accepts. */
static NNRT_ReturnCode typical_select(const char *device, const vec_case *c, typical_selection *made, nnrt_error *error)
{
    static single s;
    NNRT_ReturnCode code;
    memset(made, 0, sizeof(*made));
    make_single(&s, c, &told);
    code = typical_kernels(device, &s, made->fixed, &made->falls, error);
    if (code != NNRT_SUCCESS)
        return code;
    for (made->open = TYPICAL_ALL; made->open < TYPICAL_NONE; made->open++) {
        make_single(&s, c, &told);
        if (typical_opened(&s, c, made->open) &&
            typical_kernels(device, &s, made->dynamic, &made->falls, error) == NNRT_SUCCESS)
            return NNRT_SUCCESS;
    }
    nnrt_text(made->dynamic, sizeof(made->dynamic), "-");
    return NNRT_SUCCESS;
}

static void typical_title(const typical *b, char *text, size_t size)
{
    nnrt_text(text, size, "%s%s%s", b->op->name, b->variant[0] != '\0' ? " " : "", b->variant);
}

/* ---- the file ---- */

/* Reads the file, and adds a block for each operator that it lacks, in the order of the table. */
static void typical_load(typical_list *l, const char *path)
{
    static typical_list read;
    typical *b = NULL;
    vec_file v;
    char operator_[64];
    memset(l, 0, sizeof(*l));
    memset(&read, 0, sizeof(read));
    memset(&v, 0, sizeof(v));
    l->path = read.path = v.path = path;
    v.f = fopen(path, "r");
    if (v.f == NULL) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(2);
    }
    while (vec_line(&v)) { /* skips empty lines */
        if (strncmp(v.text, "op ", 3) == 0) {
            if (read.count >= TYPICAL_BLOCKS)
                typical_die(&read, v.line, "too many blocks");
            b = &read.blocks[read.count++];
            b->line = v.line;
            if (sscanf(v.text, "op %63s %31s", operator_, b->variant) < 1 || (b->op = nnrt_op_named(operator_)) == NULL)
                typical_die(&read, v.line, "there is no such operator");
            continue;
        }
        if (b == NULL || b->count >= TYPICAL_LINES)
            typical_die(&read, v.line, b == NULL ? "a block begins with op" : "a block has too many lines");
        b->lines[b->count] = (char *)malloc(strlen(v.text) + 1);
        strcpy(b->lines[b->count++], v.text);
    }
    fclose(v.f);
    free(v.text);
    for (uint32_t i = 0; nnrt_op_at(i) != NULL; i++) {
        const uint32_t before = l->count;
        for (uint32_t k = 0; k < read.count; k++)
            if (read.blocks[k].op == nnrt_op_at(i) && l->count < TYPICAL_BLOCKS)
                l->blocks[l->count++] = read.blocks[k];
        if (l->count == before && l->count < TYPICAL_BLOCKS)
            l->blocks[l->count++].op = nnrt_op_at(i);
    }
}

static void typical_free(typical_list *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        for (int32_t k = 0; k < l->blocks[i].count; k++)
            free(l->blocks[i].lines[k]);
}

#endif
