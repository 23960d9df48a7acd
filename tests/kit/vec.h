/* Reader of .vec files in tests/ops/vectors: operator test cases as text. The format is described in tests/ops/vectors/README.md.
   Values are read into memory of their element type; lists of attributes into the case. For tests: an error in a file
   ends the program with its line. */
#ifndef VEC_H
#define VEC_H

#include "half.h"

#include "nnrt_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VEC_OPERANDS = 40, VEC_QUANT = 32, VEC_LISTS = 16, VEC_INTS = 64 };

typedef struct vec_tensor {
    bool present, constant;
    NNRT_DataType dataType;
    int32_t rank, dims[NNRT_MAX_RANK + 8];
    size_t count;
    void *data;
    NNRT_QuantParam quant[VEC_QUANT];
    uint32_t quantCount;
    int32_t quantAxis;
} vec_tensor;

typedef struct vec_case {
    char name[160], opName[64];
    char says[160]; /* text that the message of a failure must contain */
    const nnrt_op *op;
    void *attr;
    int64_t ints[VEC_LISTS][VEC_INTS];
    NNRT_Int64List lists[VEC_LISTS];
    float floats[VEC_LISTS][VEC_INTS];
    char texts[VEC_LISTS][40];
    uint32_t usedInts, usedLists, usedFloats, usedTexts;
    NNRT_Format format;
    vec_tensor in[VEC_OPERANDS], out[VEC_OPERANDS];
    uint32_t nIn, nOut;
    double absolute, relative; /* < 0: the default of the type */
    NNRT_ReturnCode prepareCode, runCode;
    bool wide; /* has a line error32: its results differ between machines */
} vec_case;

typedef struct vec_file {
    FILE *f;
    const char *path;
    int32_t line;
    char *text;
    size_t size;
} vec_file;

static void vec_die(const vec_file *v, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", v->path, (int)v->line, what);
    exit(1);
}

static bool vec_line(vec_file *v)
{
    size_t n = 0;
    int c;
    do {
        for (n = 0; (c = fgetc(v->f)) != EOF && c != '\n';) {
            if (n + 2 > v->size) {
                v->size = v->size * 2 + 256;
                v->text = (char *)realloc(v->text, v->size);
                if (v->text == NULL)
                    vec_die(v, "out of memory");
            }
            v->text[n++] = (char)c;
        }
        if (c == EOF && n == 0)
            return false;
        v->line++;
        if (v->text != NULL)
            v->text[n] = '\0';
    } while (n == 0 || v->text[0] == '#');
    return true;
}

static NNRT_DataType vec_type(const vec_file *v, const char *name)
{
    for (int32_t t = 30; t <= 44; t++)
        if (nnrt_type_size(t) != 0 && strcmp(nnrt_type_name(t), name) == 0)
            return t;
    vec_die(v, "unknown element type");
    return 0;
}

static NNRT_ReturnCode vec_code(const vec_file *v, const char *name)
{
    for (int32_t i = 0; i <= 33; i++)
        if (strcmp(nnrt_code_name(i) + 5, name) == 0)
            return i;
    vec_die(v, "unknown return code");
    return 0;
}

/* Parses a number and stores it at element i. */
static void vec_store(NNRT_DataType type, void *data, size_t i, const char *text)
{
    double d = strtod(text, NULL);
    switch (type) {
    case NNRT_DATA_TYPE_BOOL: ((uint8_t *)data)[i] = (uint8_t)(d != 0); break;
    case NNRT_DATA_TYPE_INT8: ((int8_t *)data)[i] = (int8_t)d; break;
    case NNRT_DATA_TYPE_INT16: ((int16_t *)data)[i] = (int16_t)d; break;
    case NNRT_DATA_TYPE_INT32: ((int32_t *)data)[i] = (int32_t)d; break;
    case NNRT_DATA_TYPE_INT64: ((int64_t *)data)[i] = (int64_t)strtoll(text, NULL, 10); break;
    case NNRT_DATA_TYPE_UINT8: ((uint8_t *)data)[i] = (uint8_t)d; break;
    case NNRT_DATA_TYPE_UINT16: ((uint16_t *)data)[i] = (uint16_t)d; break;
    case NNRT_DATA_TYPE_UINT32: ((uint32_t *)data)[i] = (uint32_t)d; break;
    case NNRT_DATA_TYPE_UINT64: ((uint64_t *)data)[i] = (uint64_t)strtoull(text, NULL, 10); break;
    case NNRT_DATA_TYPE_FLOAT16: ((uint16_t *)data)[i] = half_of(d); break;
    case NNRT_DATA_TYPE_FLOAT32: ((float *)data)[i] = strtof(text, NULL); break;
    default: ((double *)data)[i] = d; break;
    }
}

/* "float32 [1,2] const 1 2": the text after `in ` or `out `. */
static void vec_read_tensor(vec_file *v, char *text, vec_tensor *t)
{
    char *p = strtok(text, " ");
    size_t elements = 1;
    memset(t, 0, sizeof(*t));
    if (p == NULL)
        vec_die(v, "a tensor needs a type");
    if (strcmp(p, "-") == 0)
        return;
    t->present = true;
    t->dataType = vec_type(v, p);
    p = strtok(NULL, " ");
    if (p == NULL || *p != '[')
        vec_die(v, "a tensor needs a shape");
    for (p++; *p != ']';) {
        if (t->rank >= NNRT_MAX_RANK + 8)
            vec_die(v, "too many axes");
        t->dims[t->rank] = (int32_t)strtol(p, &p, 10);
        elements *= t->dims[t->rank] > 0 ? (size_t)t->dims[t->rank] : 0;
        t->rank++;
        if (*p == ',')
            p++;
        else if (*p != ']')
            vec_die(v, "a shape looks like [2,3]");
    }
    p = strtok(NULL, " ");
    if (p != NULL && strcmp(p, "const") == 0) {
        t->constant = true;
        p = strtok(NULL, " ");
    }
    if (p != NULL && strcmp(p, "unseen") == 0) { /* may be too large: no values */
        elements = 0;
        p = strtok(NULL, " ");
    }
    t->count = elements;
    t->data = calloc(elements + 1, nnrt_type_size(t->dataType));
    for (size_t i = 0; i < elements; i++, p = strtok(NULL, " ")) {
        if (p == NULL)
            vec_die(v, "fewer values than the shape has elements");
        vec_store(t->dataType, t->data, i, p);
    }
    if (p != NULL)
        vec_die(v, "more values than the shape has elements");
}

static NNRT_Int64List vec_ints(vec_file *v, vec_case *c, char *text)
{
    int64_t *data = c->ints[c->usedInts];
    uint32_t n = 0;
    if (++c->usedInts >= VEC_LISTS)
        vec_die(v, "too many lists");
    for (char *end; *text != '\0'; text = end) {
        int64_t value = strtoll(text, &end, 10);
        if (end == text)
            break;
        if (n >= VEC_INTS)
            vec_die(v, "a list is too long");
        data[n++] = value;
    }
    return nnrt_int64_list(data, n);
}

/* "1 2 ; 3 4" */
static NNRT_Int64Lists vec_lists(vec_file *v, vec_case *c, char *text)
{
    NNRT_Int64Lists lists;
    lists.data = &c->lists[c->usedLists];
    lists.count = 0;
    while (text != NULL && *text != '\0') {
        char *semicolon = strchr(text, ';');
        if (semicolon != NULL)
            *semicolon++ = '\0';
        if (c->usedLists >= VEC_LISTS)
            vec_die(v, "too many lists");
        c->lists[c->usedLists++] = vec_ints(v, c, text);
        lists.count++;
        text = semicolon;
    }
    return lists;
}

static NNRT_FloatList vec_floats(vec_file *v, vec_case *c, char *text)
{
    float *data = c->floats[c->usedFloats];
    uint32_t n = 0;
    if (++c->usedFloats >= VEC_LISTS)
        vec_die(v, "too many lists");
    for (char *end; *text != '\0'; text = end) {
        float value = strtof(text, &end);
        if (end == text)
            break;
        if (n >= VEC_INTS)
            vec_die(v, "a list is too long");
        data[n++] = value;
    }
    return nnrt_float_list(data, n);
}

static const char *vec_text(vec_file *v, vec_case *c, const char *text)
{
    char *copy = c->texts[c->usedTexts];
    if (++c->usedTexts >= VEC_LISTS || strlen(text) >= sizeof(c->texts[0]))
        vec_die(v, "too many texts, or one is too long");
    strcpy(copy, text);
    return copy;
}

static void vec_read_attr(vec_file *v, vec_case *c, char *text)
{
    char *value = strchr(text, ' ');
    const nnrt_attr_struct *s = c->op->attr;
    if (value != NULL)
        *value++ = '\0';
    else
        value = text + strlen(text);
    for (uint32_t i = 0; i < s->count; i++) {
        const nnrt_attr_member *m = &s->members[i];
        void *at = (uint8_t *)c->attr + m->offset;
        if (strcmp(m->name, text) != 0)
            continue;
        switch (m->kind) {
        case NNRT_ATTR_KIND_BOOL: *(bool *)at = atoi(value) != 0; return;
        case NNRT_ATTR_KIND_INT:
        case NNRT_ATTR_KIND_INT64: *(int64_t *)at = strtoll(value, NULL, 10); return;
        case NNRT_ATTR_KIND_FLOAT: *(float *)at = strtof(value, NULL); return;
        case NNRT_ATTR_KIND_DOUBLE: *(double *)at = strtod(value, NULL); return;
        case NNRT_ATTR_KIND_ENUM: *(int32_t *)at = atoi(value); return;
        case NNRT_ATTR_KIND_TYPE:
            if (m->bytes == sizeof(int64_t))
                *(int64_t *)at = strtoll(value, NULL, 10);
            else
                *(int32_t *)at = atoi(value);
            return;
        case NNRT_ATTR_KIND_STRING: *(const char **)at = vec_text(v, c, value); return;
        case NNRT_ATTR_KIND_INTS:
        case NNRT_ATTR_KIND_INTS64: *(NNRT_Int64List *)at = vec_ints(v, c, value); return;
        case NNRT_ATTR_KIND_INTS2: *(NNRT_Int64Lists *)at = vec_lists(v, c, value); return;
        case NNRT_ATTR_KIND_FLOATS: *(NNRT_FloatList *)at = vec_floats(v, c, value); return;
        default: vec_die(v, "no case can say a subgraph");
        }
    }
    vec_die(v, "the attribute struct has no such member");
}

static void vec_free(vec_case *c)
{
    for (uint32_t i = 0; i < VEC_OPERANDS; i++) {
        free(c->in[i].data);
        free(c->out[i].data);
    }
    free(c->attr);
    memset(c, 0, sizeof(*c));
}

static vec_tensor *vec_operand(vec_file *v, vec_tensor *list, uint32_t *count, char *text)
{
    vec_tensor *t = &list[*count];
    if (*count >= VEC_OPERANDS)
        vec_die(v, "too many operands");
    ++*count;
    vec_read_tensor(v, text, t);
    return t;
}

static void vec_read_quant(vec_file *v, vec_tensor *t, char *p)
{
    NNRT_QuantParam q;
    q.numBits = (int32_t)strtol(p, &p, 10);
    q.zeroPoint = (int32_t)strtol(p, &p, 10);
    q.scale = strtod(p, &p);
    if (t != NULL)
        t->quantAxis = (int32_t)strtol(p, &p, 10);
    if (t == NULL || t->quantCount >= VEC_QUANT)
        vec_die(v, "quant follows a tensor, at most 32 times");
    t->quant[t->quantCount++] = q;
}

/* Reads the next case; false at the end. A case of an operator that the table lacks has op NULL. */
static inline bool vec_next(vec_file *v, vec_case *c)
{
    vec_tensor *last = NULL;
    memset(c, 0, sizeof(*c));
    c->format = NNRT_FORMAT_NONE;
    c->absolute = c->relative = -1;
    while (vec_line(v)) {
        char *t = v->text, *rest = strchr(t, ' ');
        if (rest != NULL)
            *rest++ = '\0';
        else
            rest = t + strlen(t);
        if (strcmp(t, "case") == 0) {
            nnrt_text(c->name, sizeof(c->name), "%s", rest);
        } else if (strcmp(t, "op") == 0) {
            nnrt_text(c->opName, sizeof(c->opName), "%s", rest);
            c->op = nnrt_op_named(rest);
            if (c->op != NULL) {
                c->attr = malloc(c->op->attr->bytes);
                nnrt_attr_defaults(c->op->attr, c->attr);
            }
        } else if (strcmp(t, "attr") == 0) {
            if (c->op != NULL)
                vec_read_attr(v, c, rest);
        } else if (strcmp(t, "format") == 0) {
            c->format = strcmp(rest, "NCHW") == 0 ? NNRT_FORMAT_NCHW : NNRT_FORMAT_NHWC;
        } else if (strcmp(t, "in") == 0) {
            last = vec_operand(v, c->in, &c->nIn, rest);
        } else if (strcmp(t, "out") == 0) {
            last = vec_operand(v, c->out, &c->nOut, rest);
        } else if (strcmp(t, "quant") == 0) {
            vec_read_quant(v, last, rest);
        } else if (strcmp(t, "tol") == 0) {
            char *p = rest;
            c->absolute = strtod(p, &p);
            c->relative = strtod(p, &p);
        } else if (strcmp(t, "error") == 0) {
            c->prepareCode = vec_code(v, rest);
        } else if (strcmp(t, "run_error") == 0) {
            c->runCode = vec_code(v, rest);
        } else if (strcmp(t, "says") == 0) {
            nnrt_text(c->says, sizeof(c->says), "%s", rest);
        } else if (strcmp(t, "error32") == 0) {
            c->wide = true;
            c->prepareCode = sizeof(size_t) > 4 ? c->prepareCode : vec_code(v, rest);
        } else if (strcmp(t, "end") == 0) {
            return true;
        } else {
            vec_die(v, "unknown word");
        }
    }
    return false;
}

static double vec_number(NNRT_DataType type, const void *data, size_t i)
{
    switch (type) {
    case NNRT_DATA_TYPE_BOOL:
    case NNRT_DATA_TYPE_UINT8: return ((const uint8_t *)data)[i];
    case NNRT_DATA_TYPE_INT8: return ((const int8_t *)data)[i];
    case NNRT_DATA_TYPE_INT16: return ((const int16_t *)data)[i];
    case NNRT_DATA_TYPE_INT32: return ((const int32_t *)data)[i];
    case NNRT_DATA_TYPE_INT64: return (double)((const int64_t *)data)[i];
    case NNRT_DATA_TYPE_UINT16: return ((const uint16_t *)data)[i];
    case NNRT_DATA_TYPE_UINT32: return ((const uint32_t *)data)[i];
    case NNRT_DATA_TYPE_UINT64: return (double)((const uint64_t *)data)[i];
    case NNRT_DATA_TYPE_FLOAT16: return half_to(((const uint16_t *)data)[i]);
    case NNRT_DATA_TYPE_FLOAT32: return (double)((const float *)data)[i];
    default: return ((const double *)data)[i];
    }
}

/* First element of got that differs from the expected one by more than the tolerance, or t->count. Integers must be
   equal; NaN equals NaN; infinities must be equal. Default tolerance of floats: 1e-5 absolute + 1e-5 relative for
   float32, 1e-3 + 1e-3 for float16 (half an ulp is 4.9e-4 of the value), 1e-12 for float64. */
static size_t vec_compare(const vec_case *c, const vec_tensor *t, const void *got)
{
    bool half = t->dataType == NNRT_DATA_TYPE_FLOAT16, wide = t->dataType == NNRT_DATA_TYPE_FLOAT64;
    double preset = half ? 1e-3 : wide ? 1e-12 : 1e-5;
    double absolute = c->absolute >= 0 ? c->absolute : preset, relative = c->relative >= 0 ? c->relative : preset;
    bool isFloat = half || wide || t->dataType == NNRT_DATA_TYPE_FLOAT32;
    size_t width = nnrt_type_size(t->dataType);
    for (size_t i = 0; i < t->count; i++) {
        double want = vec_number(t->dataType, t->data, i), have = vec_number(t->dataType, got, i), bound, off;
        if (memcmp((const uint8_t *)t->data + i * width, (const uint8_t *)got + i * width, width) == 0 ||
            (isFloat && (want == have || (want != want && have != have))))
            continue;
        bound = absolute + relative * (want < 0 ? -want : want);
        off = want < have ? have - want : want - have;
        if (!isFloat || !(off <= bound) || off > 1e300)
            return i;
    }
    return t->count;
}

#endif
