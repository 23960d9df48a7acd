/*
nnrt_sql.h - the common part of the SQLite and the PostgreSQL extension: models by path, SQL values as inputs, outputs as
JSON.

A cache belongs to one connection and is used by one thread at a time. sql_run finds or loads the model, converts the
arguments of the SQL function and runs the network. Its outputs are valid until the next call. Models are read into memory
and never mapped: another program may overwrite or shorten the file at any time. All memory comes from the cache, which has
a limit, and belongs to the cache, so that a caller may leave by longjmp after each function returned. Functions report
faults by sql_fail; sql_message returns the sentence.

    >>memory   the cache and its memory
    >>text     JSON
    >>elements numbers and elements of tensors
    >>load     reading model files
    >>shapes   arguments: .npy files, shapes
    >>plans    a model, prepared for the shapes of its inputs
    >>run      one run, its outputs
    >>embed    the vectors of texts, their cosine
*/
#ifndef NNRT_SQL_H
#define NNRT_SQL_H

#include "../../formats/nnrt_gguf.h"
#include "../../formats/nnrt_onnx.h"
#include "../../formats/nnrt_tflite.h"
#include "../../tools/common/language.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "bytes in a database are little-endian, and this machine is big-endian"
#endif

#define SQL_MODELS 8 /* model files of one connection; the least recently used one is dropped */
#define SQL_SHAPES 4 /* prepared models of one file, for different shapes */
#define SQL_INPUTS 127
#define SQL_SEARCH ((size_t)1 << 28) /* inputs of an ONNX file times initializers, which may be inputs, too */
#ifndef NNRT_SQL_MEMORY
#define NNRT_SQL_MEMORY 1024 /* default limit on the memory of a connection, in MB */
#endif
#define SQL_OPEN_ROOM ((size_t)1 << 20) /* first bytes of an output with a data-dependent shape */
#define SQL_EXACT 9007199254740992.0    /* 2^53: a double holds every integer below it */

/* An argument: the bytes of a BLOB, or doubles. A shape of rank -1: the elements fill the input in order. */
typedef struct sql_value {
    const void *data;
    size_t count; /* bytes, or doubles */
    bool bytes;
    nnrt_dims shape;
} sql_value;

/* An input as the file declares it. A negative dimension is dynamic; rank -1: unknown. */
typedef struct sql_input {
    char *name;
    NNRT_DataType type;
    nnrt_dims shape;
} sql_input;

typedef struct sql_plan {
    struct sql_plan *next;
    nnrt_dims dims[SQL_INPUTS]; /* of the inputs */
    nnrt_session *session;
    uint32_t nIn, nOut;
    nnrt_io *io; /* inputs, then outputs */
} sql_plan;

typedef struct sql_model {
    struct sql_model *next;
    struct stat id; /* of the file that was read */
    void *file;
    size_t bytes;
    sql_input *inputs;
    size_t nIn;
    char *info;        /* JSON */
    NNRT_Model *model; /* NULL: not loaded yet */
    sql_plan *plans; /* the most recently used one first */
    nnrt_tokenizer *tokenizer;
    struct sql_model *words; /* the file of the tokenizer, without its bytes; NULL: this file */
    lm_encoder encoder;
    uint32_t context; /* tokens of a text at most; 0: unknown */
    float *vector;    /* of a text; NULL: not allocated yet */
    char path[];
} sql_model;

typedef struct sql_cache {
    nnrt_allocator allocator;
    size_t used, limit; /* bytes */
    sql_model *models;  /* the most recently used one first */
    struct {
        char *data;
        size_t used, room;
    } text;
    const nnrt_profile *profile; /* of all runs; NULL: none */
    nnrt_session *running;
    nnrt_error error;
    char message[sizeof(((nnrt_error *)0)->message) + 512];
} sql_cache;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>memory */

static void *sql_allocate(void *user, size_t bytes, size_t alignment)
{
    sql_cache *const c = (sql_cache *)user;
    void *block = NULL;
    if (bytes > c->limit || c->used > c->limit - bytes)
        return NULL;
    alignment = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    if (posix_memalign(&block, alignment, bytes + (bytes == 0)) != 0)
        return NULL;
    c->used += bytes;
    return block;
}

static void sql_release(void *user, void *block, size_t bytes)
{
    ((sql_cache *)user)->used -= bytes;
    free(block);
}

static void sql_init(sql_cache *c)
{
    memset(c, 0, sizeof(*c));
    c->allocator.alloc = sql_allocate;
    c->allocator.free = sql_release;
    c->allocator.user = c;
    c->limit = (size_t)NNRT_SQL_MEMORY << 20;
}

static bool sql_fail(sql_cache *c, NNRT_ReturnCode code, const char *message)
{
    (void)nnrt_error_set(&c->error, code, "%s", message);
    return false;
}

/* A zeroed block that is aligned to NNRT_ALIGNMENT. Its size is stored before it. NULL: an error is set. */
static void *sql_take(sql_cache *c, size_t bytes)
{
    uint8_t *block = NULL;
    if (nnrt_add_size(bytes, NNRT_ALIGNMENT, &bytes))
        block = (uint8_t *)sql_allocate(c, bytes, NNRT_ALIGNMENT);
    if (block == NULL) {
        (void)sql_fail(c, NNRT_OUT_OF_MEMORY, "there is not enough memory");
        return NULL;
    }
    memset(block, 0, bytes);
    memcpy(block, &bytes, sizeof(bytes));
    return block + NNRT_ALIGNMENT;
}

static void sql_drop(sql_cache *c, void *taken)
{
    size_t bytes;
    if (taken == NULL)
        return;
    memcpy(&bytes, (uint8_t *)taken - NNRT_ALIGNMENT, sizeof(bytes));
    sql_release(c, (uint8_t *)taken - NNRT_ALIGNMENT, bytes);
}

static void sql_plan_drop(sql_cache *c, sql_plan *p)
{
    for (uint32_t i = 0; p->io != NULL && i < p->nIn + p->nOut; i++)
        sql_drop(c, p->io[i].data);
    sql_drop(c, p->io);
    nnrt_session_destroy(p->session);
    sql_drop(c, p);
}

/* Drops all plans from the one at `from` on. */
static void sql_plans_drop(sql_cache *c, sql_plan **from)
{
    while (*from != NULL) {
        sql_plan *const p = *from;
        *from = p->next;
        sql_plan_drop(c, p);
    }
}

static void sql_model_drop(sql_cache *c, sql_model *m);

/* Drops the tokenizer of a model, and the record of its file. */
static void sql_tokenizer_drop(sql_cache *c, sql_model *m)
{
    nnrt_tokenizer_destroy(m->tokenizer);
    m->tokenizer = NULL;
    if (m->words != NULL)
        sql_model_drop(c, m->words);
    m->words = NULL;
}

static void sql_model_drop(sql_cache *c, sql_model *m)
{
    sql_plans_drop(c, &m->plans);
    sql_tokenizer_drop(c, m);
    lm_encoder_close(&m->encoder);
    sql_drop(c, m->vector);
    nnrt_model_destroy(m->model);
    for (size_t i = 0; m->inputs != NULL && i < m->nIn; i++)
        sql_drop(c, m->inputs[i].name);
    sql_drop(c, m->inputs);
    sql_drop(c, m->info);
    sql_drop(c, m->file);
    sql_drop(c, m);
}

static void sql_models_drop(sql_cache *c, sql_model **from)
{
    while (*from != NULL) {
        sql_model *const m = *from;
        *from = m->next;
        sql_model_drop(c, m);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>text */

static void sql_put(sql_cache *c, const char *s, size_t n)
{
    if (c->error.code == NNRT_SUCCESS && n >= c->text.room - c->text.used) {
        const size_t room = (c->text.used + n + 512) * 2;
        char *const data = (char *)sql_take(c, room);
        if (data == NULL)
            return;
        if (c->text.used > 0)
            memcpy(data, c->text.data, c->text.used);
        sql_drop(c, c->text.data);
        c->text.data = data;
        c->text.room = room;
    }
    if (c->error.code != NNRT_SUCCESS)
        return;
    memcpy(c->text.data + c->text.used, s, n);
    c->text.used += n;
    c->text.data[c->text.used] = '\0';
}

static void sql_text_drop(sql_cache *c)
{
    sql_drop(c, c->text.data);
    memset(&c->text, 0, sizeof(c->text));
}

static void sql_puts(sql_cache *c, const char *s)
{
    sql_put(c, s, strlen(s));
}

static void sql_put_string(sql_cache *c, const char *s, size_t n)
{
    sql_puts(c, "\"");
    for (size_t i = 0; i < n; i++) {
        const unsigned char byte = (unsigned char)s[i];
        char escape[8];
        if (byte >= 32 && byte != '"' && byte != '\\') {
            sql_put(c, s + i, 1);
        } else {
            (void)snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)byte);
            sql_puts(c, escape);
        }
    }
    sql_puts(c, "\"");
}

/* {"name":"x","type":"float32" */
static void sql_put_tensor(sql_cache *c, const char *name, size_t n, NNRT_DataType type)
{
    sql_puts(c, "{\"name\":");
    sql_put_string(c, name, n);
    sql_puts(c, ",\"type\":\"");
    sql_puts(c, nnrt_type_name(type));
    sql_puts(c, "\"");
}

/* ,"dims":[1,null]; null if the rank is unknown */
static void sql_put_dims(sql_cache *c, const nnrt_dims *shape)
{
    char number[16];
    sql_puts(c, shape->rank < 0 ? ",\"dims\":null" : ",\"dims\":[");
    for (int32_t k = 0; k < shape->rank; k++) {
        (void)snprintf(number, sizeof(number), "%d", (int)shape->dims[k]);
        sql_puts(c, k > 0 ? "," : "");
        sql_puts(c, shape->dims[k] < 0 ? "null" : number);
    }
    sql_puts(c, shape->rank < 0 ? "" : "]");
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>elements */

static bool sql_is_float(NNRT_DataType type)
{
    return type == NNRT_DATA_TYPE_FLOAT16 || type == NNRT_DATA_TYPE_FLOAT32 || type == NNRT_DATA_TYPE_FLOAT64;
}

/* Element i. The result is rounded from 2^53 on. */
static double sql_load(NNRT_DataType type, const void *data, size_t i)
{
    switch (type) {
    case NNRT_DATA_TYPE_INT8: return ((const int8_t *)data)[i];
    case NNRT_DATA_TYPE_INT16: return ((const int16_t *)data)[i];
    case NNRT_DATA_TYPE_INT32: return ((const int32_t *)data)[i];
    case NNRT_DATA_TYPE_INT64: return (double)((const int64_t *)data)[i];
    case NNRT_DATA_TYPE_UINT16: return ((const uint16_t *)data)[i];
    case NNRT_DATA_TYPE_UINT32: return ((const uint32_t *)data)[i];
    case NNRT_DATA_TYPE_UINT64: return (double)((const uint64_t *)data)[i];
    case NNRT_DATA_TYPE_FLOAT16: return (double)nnrt_half_to_float(((const uint16_t *)data)[i]);
    case NNRT_DATA_TYPE_FLOAT32: return (double)((const float *)data)[i];
    case NNRT_DATA_TYPE_FLOAT64: return ((const double *)data)[i];
    default: return ((const uint8_t *)data)[i]; /* uint8, bool */
    }
}

/* False: the type has no such value: of floats only overflow counts, which rounding to the type does not make infinite. */
static bool sql_store(NNRT_DataType type, void *data, size_t i, double v)
{
    const bool isSigned = type >= NNRT_DATA_TYPE_INT8 && type <= NNRT_DATA_TYPE_INT64;
    const double most = type == NNRT_DATA_TYPE_BOOL ? 1
                        : nnrt_type_size(type) == 8 ? SQL_EXACT - 1
                                                    : ldexp(1, (int)nnrt_type_size(type) * 8 - isSigned) - 1;
    const double room = type == NNRT_DATA_TYPE_FLOAT16   ? 65520
                        : type == NNRT_DATA_TYPE_FLOAT32 ? 0x1.ffffffp127
                                                         : HUGE_VAL;
    if (sql_is_float(type) ? isfinite(v) && fabs(v) >= room
                           : !(v >= (isSigned ? -most - 1 : 0) && v <= most && v == floor(v)))
        return false;
    switch (type) {
    case NNRT_DATA_TYPE_INT8: ((int8_t *)data)[i] = (int8_t)v; break;
    case NNRT_DATA_TYPE_INT16: ((int16_t *)data)[i] = (int16_t)v; break;
    case NNRT_DATA_TYPE_INT32: ((int32_t *)data)[i] = (int32_t)v; break;
    case NNRT_DATA_TYPE_INT64: ((int64_t *)data)[i] = (int64_t)v; break;
    case NNRT_DATA_TYPE_UINT16: ((uint16_t *)data)[i] = (uint16_t)v; break;
    case NNRT_DATA_TYPE_UINT32: ((uint32_t *)data)[i] = (uint32_t)v; break;
    case NNRT_DATA_TYPE_UINT64: ((uint64_t *)data)[i] = (uint64_t)v; break;
    case NNRT_DATA_TYPE_FLOAT16: ((uint16_t *)data)[i] = nnrt_half_from_float((float)v); break;
    case NNRT_DATA_TYPE_FLOAT32: ((float *)data)[i] = (float)v; break;
    case NNRT_DATA_TYPE_FLOAT64: ((double *)data)[i] = v; break;
    default: ((uint8_t *)data)[i] = (uint8_t)v; break; /* uint8, bool */
    }
    return true;
}

/* As JSON: as many digits as identify the value; NaN and infinity, which JSON lacks, are null. */
static void sql_put_element(sql_cache *c, NNRT_DataType type, const void *data, size_t i)
{
    char text[40];
    const double v = sql_load(type, data, i);
    if (!isfinite(v))
        (void)snprintf(text, sizeof(text), "null");
    else if (type == NNRT_DATA_TYPE_UINT64)
        (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)((const uint64_t *)data)[i]);
    else if (type == NNRT_DATA_TYPE_INT64)
        (void)snprintf(text, sizeof(text), "%lld", (long long)((const int64_t *)data)[i]);
    else
        (void)snprintf(text, sizeof(text), "%.*g",
                       type == NNRT_DATA_TYPE_FLOAT64 ? 17
                       : sql_is_float(type)           ? 9
                                                      : 10,
                       v);
    sql_puts(c, text);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>load */

static bool sql_read_all(sql_cache *c, int fd, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const ssize_t got = read(fd, (char *)data + at, bytes - at);
        if (got == 0)
            return sql_fail(c, NNRT_INVALID_FILE, "the file became shorter while it was read");
        if (got < 0 && errno != EINTR)
            return sql_fail(c, NNRT_INVALID_PATH, strerror(errno));
        at += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Opens without waiting, because a pipe would stop the server. */
static bool sql_read(sql_cache *c, sql_model *m)
{
    const int fd = open(m->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool good = fd >= 0 && fstat(fd, &m->id) == 0;
    if (!good)
        (void)sql_fail(c, NNRT_INVALID_PATH, strerror(errno));
    else if (!S_ISREG(m->id.st_mode))
        good = sql_fail(c, NNRT_INVALID_PATH, "it is no regular file");
    if (good) {
        m->bytes = (size_t)m->id.st_size;
        m->file = sql_take(c, m->bytes);
        good = m->file != NULL && sql_read_all(c, fd, m->file, m->bytes);
    }
    if (fd >= 0)
        (void)close(fd);
    return good;
}

/* Loads m->model from m->file. Sizes that the file leaves open are left to the sessions. */
static NNRT_ReturnCode sql_load_model(sql_cache *c, sql_model *m)
{
    nnrt_load_desc load = {0};
    nnrt_onnx_desc onnx = {0};
    nnrt_tflite_desc lite = {0};
    nnrt_gguf_desc gguf = {0};
    if (m->model != NULL)
        return NNRT_SUCCESS;
    load.allocator = onnx.allocator = lite.allocator = gguf.allocator = &c->allocator;
    load.checksum = true;
    if (nnrt_file_is(m->file, m->bytes))
        return nnrt_model_load_memory(&m->model, m->file, m->bytes, &load, &c->error);
    if (nnrt_tflite_is(m->file, m->bytes))
        return nnrt_tflite_load_memory(&m->model, m->file, m->bytes, &lite, &c->error);
    if (nnrt_gguf_is(m->file, m->bytes))
        return nnrt_gguf_load_memory(&m->model, m->file, m->bytes, &gguf, &c->error);
    return nnrt_onnx_load_memory(&m->model, m->file, m->bytes, &onnx, &c->error);
}

/* Appends an input or output to c->text, and an input to m->inputs. */
static void sql_describe(sql_cache *c, sql_model *m, const char *name, size_t n, NNRT_DataType type,
                         const nnrt_dims *shape, bool input)
{
    sql_puts(c, c->text.data[c->text.used - 1] == '[' ? "" : ",");
    sql_put_tensor(c, name, n, type);
    sql_put_dims(c, shape);
    sql_puts(c, "}");
    if (input && m->nIn == SQL_INPUTS)
        (void)sql_fail(c, NNRT_NOT_SUPPORT, "it has more than 127 inputs, which no SQL function can receive");
    if (input && c->error.code == NNRT_SUCCESS) {
        sql_input *const in = &m->inputs[m->nIn++];
        in->type = type;
        in->shape = *shape;
        in->name = (char *)sql_take(c, n + 1);
        if (in->name != NULL && n > 0)
            memcpy(in->name, name, n);
    }
}

/* tensors: inferred shapes, for outputs whose rank the file leaves open; NULL: they need the shapes of inputs. */
static void sql_describe_model(sql_cache *c, sql_model *m, const NNRT_Model *model, const nnrt_operand *tensors,
                               bool input)
{
    const NNRT_Uint32List indices = input ? model->inputIndex : model->outputIndex;
    for (uint32_t i = 0; i < indices.count && c->error.code == NNRT_SUCCESS; i++) {
        const NNRT_Tensor *t = &model->allTensors.data[indices.data[i]];
        const bool ranked = t->dims.count != 1 || t->dims.data[0] != NNRT_RANK_UNKNOWN;
        const nnrt_operand *const inferred = ranked || tensors == NULL ? NULL : &tensors[indices.data[i]];
        nnrt_dims shape = {0};
        shape.rank = ranked ? (int32_t)t->dims.count : inferred != NULL ? inferred->rank : -1;
        for (int32_t k = 0; k < shape.rank; k++)
            shape.dims[k] = ranked ? t->dims.data[k] : inferred->symbols[k] != 0 ? -1 : inferred->dims[k];
        sql_describe(c, m, t->name, strlen(t->name), t->dataType, &shape, input);
    }
}

static bool sql_is_initialized(const nnrt_onnx_graph *graph, const nnrt_onnx_str *name)
{
    for (size_t i = 0; i < graph->initializers.count; i++) {
        const nnrt_onnx_str *other = &graph->initializers.data[i].name;
        if (other->length == name->length && memcmp(other->data, name->data, name->length) == 0)
            return true;
    }
    return false;
}

static void sql_describe_onnx(sql_cache *c, sql_model *m, const nnrt_onnx_graph *graph, bool input)
{
    const nnrt_onnx_value_infos *const infos = input ? &graph->inputs : &graph->outputs;
    if (input && infos->count > SQL_SEARCH / (graph->initializers.count + 1))
        (void)sql_fail(c, NNRT_NOT_SUPPORT, "it has too many inputs and initializers");
    for (size_t i = 0; i < infos->count && c->error.code == NNRT_SUCCESS; i++) {
        const nnrt_onnx_value_info *v = &infos->data[i];
        const bool shaped = v->kind == NNRT_ONNX_KIND_TENSOR && v->hasShape && v->dims.count <= NNRT_MAX_RANK;
        nnrt_dims shape = {0};
        shape.rank = shaped ? (int32_t)v->dims.count : -1;
        for (int32_t k = 0; k < shape.rank; k++) {
            const nnrt_onnx_dim *d = &v->dims.data[k];
            shape.dims[k] =
                d->kind == NNRT_ONNX_DIM_VALUE && d->value >= 0 && d->value <= INT32_MAX ? (int32_t)d->value : -1;
        }
        if (!input || !sql_is_initialized(graph, &v->name))
            sql_describe(c, m, v->name.data, v->name.length,
                         v->kind == NNRT_ONNX_KIND_TENSOR ? nnrt_onnx_data_type(v->elemType) : NNRT_DATA_TYPE_UNKNOWN,
                         &shape, input);
    }
}

/* Fills m->inputs and m->info from m->file. */
static bool sql_describe_file(sql_cache *c, sql_model *m)
{
    const bool onnx = !nnrt_file_is(m->file, m->bytes) && !nnrt_tflite_is(m->file, m->bytes) &&
                      !nnrt_gguf_is(m->file, m->bytes);
    nnrt_onnx_model *parsed = NULL;
    nnrt_operand *tensors = NULL;
    nnrt_memory memory;
    NNRT_ReturnCode code =
        onnx ? nnrt_onnx_parse(m->file, m->bytes, &c->allocator, &parsed, &c->error) : sql_load_model(c, m);
    m->inputs = code == NNRT_SUCCESS ? (sql_input *)sql_take(c, SQL_INPUTS * sizeof(*m->inputs)) : NULL;
    nnrt_memory_allocate(&memory, &c->allocator);
    if (m->model != NULL)
        tensors = (nnrt_operand *)nnrt_memory_keep(&memory, m->model->allTensors.count * sizeof(*tensors));
    if (tensors != NULL && nnrt_model_infer(m->model, NULL, &memory, tensors, NULL, NULL) != NNRT_SUCCESS)
        tensors = NULL;
    c->text.used = 0;
    sql_puts(c, "{\"inputs\":[");
    for (int outputs = 0; outputs < 2 && c->error.code == NNRT_SUCCESS; outputs++) {
        if (onnx)
            sql_describe_onnx(c, m, parsed->graph, outputs == 0);
        else
            sql_describe_model(c, m, m->model, tensors, outputs == 0);
        sql_puts(c, outputs == 0 ? "],\"outputs\":[" : "]}");
    }
    nnrt_memory_end(&memory);
    nnrt_onnx_model_free(parsed);
    m->info = c->error.code == NNRT_SUCCESS ? (char *)sql_take(c, c->text.used + 1) : NULL;
    if (m->info != NULL)
        memcpy(m->info, c->text.data, c->text.used);
    return m->info != NULL;
}

static bool sql_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Removes the model of this path from the list. NULL: there is none, or the file has changed. */
static sql_model *sql_unlink(sql_cache *c, const char *path)
{
    struct stat now;
    for (sql_model **at = &c->models; *at != NULL; at = &(*at)->next)
        if (strcmp((*at)->path, path) == 0) {
            sql_model *const m = *at;
            *at = m->next;
            if (stat(path, &now) == 0 && sql_same_file(&now, &m->id))
                return m;
            sql_model_drop(c, m);
            return NULL;
        }
    return NULL;
}

/* The model of a path, which is now the first one of the list. NULL: an error is set. */
static sql_model *sql_find(sql_cache *c, const char *path)
{
    sql_model *m = sql_unlink(c, path), **last = &c->models;
    nnrt_error_clear(&c->error);
    if (m == NULL) {
        for (int i = 1; *last != NULL; i++)
            if (i < SQL_MODELS)
                last = &(*last)->next;
            else
                sql_models_drop(c, last);
        m = (sql_model *)sql_take(c, sizeof(*m) + strlen(path) + 1);
        if (m == NULL)
            return NULL;
        memcpy(m->path, path, strlen(path));
        if (!sql_read(c, m) || !sql_describe_file(c, m)) {
            sql_model_drop(c, m);
            return NULL;
        }
    }
    m->next = c->models;
    c->models = m;
    return m;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>shapes */

/* Reads the header of a .npy file (numpy's NEP 1), whose elements must have the type of the input. */
static bool sql_npy(sql_cache *c, const sql_input *in, sql_value *v)
{
    const uint8_t *const file = (const uint8_t *)v->data;
    const size_t lengthBytes = v->count > 6 && file[6] == 1 ? 2 : 4;
    char head[1024], want[24];
    const char *at;
    char *end;
    size_t n = 0, whole;
    if (v->count < 8 + lengthBytes)
        return sql_fail(c, NNRT_INVALID_FILE, "the .npy file is truncated");
    for (size_t i = 0; i < lengthBytes; i++)
        n |= (size_t)file[8 + i] << 8 * i;
    whole = 8 + lengthBytes + n;
    if (n >= sizeof(head) || whole > v->count)
        return sql_fail(c, NNRT_INVALID_FILE, "the .npy file is truncated, or its header is too long");
    memcpy(head, file + 8 + lengthBytes, n);
    head[n] = '\0';
    (void)snprintf(want, sizeof(want), "'descr': '%c%c%u'", nnrt_type_size(in->type) == 1 ? '|' : '<',
                   nnrt_type_name(in->type)[0],
                   (unsigned)nnrt_type_size(in->type)); /* numpy: b, i, u or f, and bytes */
    if (strstr(head, want) == NULL)
        return nnrt_error_set(&c->error, NNRT_INVALID_DATATYPE, "input '%s' is %t: the .npy file needs %n", in->name,
                              in->type, want) == NNRT_SUCCESS;
    at = strstr(head, "'shape': (");
    if (strstr(head, "'fortran_order': False") == NULL || at == NULL)
        return sql_fail(c, NNRT_NOT_SUPPORT, "the .npy file is in Fortran order, or its header has no shape");
    v->shape.rank = 0;
    for (at += 10; *at >= '0' && *at <= '9'; at = *end == ',' ? end + 1 + (end[1] == ' ') : end) {
        const unsigned long dim = strtoul(at, &end, 10);
        if (v->shape.rank == NNRT_MAX_RANK || dim > INT32_MAX)
            return sql_fail(c, NNRT_INVALID_SHAPE,
                            "the .npy file has more than 8 axes, or an axis of more than 2147483647");
        v->shape.dims[v->shape.rank++] = (int32_t)dim;
    }
    v->data = file + whole;
    v->count -= whole;
    return *at == ')' || sql_fail(c, NNRT_INVALID_FILE, "the header of the .npy file has no valid shape");
}

/* "[1,null]" in a message */
static const char *sql_dims_text(char *out, size_t size, const nnrt_dims *shape)
{
    size_t at = nnrt_text(out, size, "[");
    for (int32_t k = 0; k < shape->rank && at < size; k++)
        at += shape->dims[k] < 0 ? nnrt_text(out + at, size - at, "%s?", k > 0 ? "," : "")
                                 : nnrt_text(out + at, size - at, "%s%d", k > 0 ? "," : "", shape->dims[k]);
    (void)nnrt_text(out + at, size - at, "]");
    return out;
}

static bool sql_fail_shape(sql_cache *c, const sql_input *in, const sql_value *v, const char *remedy)
{
    char want[112], got[112];
    (void)sql_dims_text(want, sizeof(want), &in->shape);
    if (v->shape.rank > 1)
        (void)sql_dims_text(got, sizeof(got), &v->shape);
    else
        (void)nnrt_text(got, sizeof(got), "%z %s", v->count, v->bytes ? "bytes" : "numbers");
    (void)nnrt_error_set(&c->error, NNRT_INVALID_SHAPE, "input '%s' is %t%s and received %s%s", in->name, in->type,
                         in->shape.rank < 0 ? " of any shape" : want, got, remedy);
    return false;
}

/* The shape of a value with a shape: leading axes of 1 may be absent. */
static bool sql_match(const nnrt_dims *want, const nnrt_dims *given, nnrt_dims *out)
{
    const int32_t more = want->rank - given->rank;
    bool same = more >= 0;
    out->rank = want->rank;
    for (int32_t k = 0; k < want->rank && same; k++) {
        out->dims[k] = k < more ? 1 : given->dims[k - more];
        same = want->dims[k] < 0 || want->dims[k] == out->dims[k];
    }
    return same;
}

/* The shape of a value without one: its number of elements determines one dynamic dimension. */
static bool sql_fit(const nnrt_dims *want, size_t count, nnrt_dims *out)
{
    int32_t open = -1;
    size_t known = 1;
    *out = *want;
    for (int32_t k = 0; k < want->rank; k++) {
        if (want->dims[k] < 0 && open >= 0)
            return false;
        if (want->dims[k] < 0)
            open = k;
        else if (!nnrt_mul_size(known, (size_t)want->dims[k], &known))
            return false;
    }
    if (open < 0)
        return count == known;
    if (known == 0 || count % known != 0 || count / known > INT32_MAX)
        return false;
    out->dims[open] = (int32_t)(count / known);
    return true;
}

static bool sql_is_picture(const sql_value *v)
{
    return v->bytes && v->count > 8 &&
           (memcmp(v->data, "\x89PNG\r\n\x1A\n", 8) == 0 || memcmp(v->data, "\xFF\xD8\xFF", 3) == 0);
}

/* Computes the shape of an input from its argument, whose data become those after the header of a .npy file. */
static bool sql_shape(sql_cache *c, const sql_input *in, sql_value *v, nnrt_dims *out)
{
    const size_t size = nnrt_type_size(in->type);
    size_t count, all = 0;
    bool fits;
    if (v->bytes && v->count > 6 && memcmp(v->data, "\x93NUMPY", 6) == 0 && !sql_npy(c, in, v))
        return false;
    count = v->bytes ? v->count / (size + (size == 0)) : v->count;
    fits = size > 0 && (!v->bytes || v->count % size == 0);
    if (v->shape.rank >= 0 && !(nnrt_dims_count(v->shape.dims, v->shape.rank, &all) && all == count && fits))
        return sql_fail_shape(c, in, v, ", whose data have another length");
    *out = v->shape;
    if (in->shape.rank < 0)
        return v->shape.rank >= 0 || sql_fail_shape(c, in, v, ": pass an array with a shape, such as a .npy file");
    fits = fits && (v->shape.rank > 1 ? sql_match(&in->shape, &v->shape, out) : sql_fit(&in->shape, count, out));
    return fits ||
           sql_fail_shape(
               c, in, v, sql_is_picture(v) ? " of a PNG or JPEG file: pass its pixels as the model requires them" : "");
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>plans */

static bool sql_buffers(sql_cache *c, sql_plan *p)
{
    p->nIn = nnrt_session_inputs(p->session);
    p->nOut = nnrt_session_outputs(p->session);
    p->io = (nnrt_io *)sql_take(c, (p->nIn + p->nOut) * sizeof(*p->io));
    for (uint32_t i = 0; p->io != NULL && i < p->nIn + p->nOut; i++) {
        const nnrt_io_info info =
            i < p->nIn ? nnrt_session_input(p->session, i) : nnrt_session_output(p->session, i - p->nIn);
        p->io[i].bytes = info.open && info.bytes > SQL_OPEN_ROOM ? SQL_OPEN_ROOM : info.bytes;
        p->io[i].data = sql_take(c, p->io[i].bytes);
        if (p->io[i].data == NULL)
            return false;
    }
    return p->io != NULL;
}

/* A session must have the inputs that the file declares. A model with states computes from row to row, and SQL promises no
   order of rows. */
static bool sql_check(sql_cache *c, const sql_model *m, const sql_plan *p)
{
    bool same = nnrt_session_inputs(p->session) == m->nIn && nnrt_session_outputs(p->session) > 0;
    if (nnrt_session_states(p->session) > 0)
        return sql_fail(c, NNRT_NOT_SUPPORT, "the model has states, and rows have no order");
    for (uint32_t i = 0; same && i < m->nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(p->session, i);
        size_t bytes;
        same = info.dataType == m->inputs[i].type && !info.open &&
               nnrt_dims_bytes(p->dims[i].dims, p->dims[i].rank, info.dataType, &bytes) && bytes == info.bytes;
    }
    return same || sql_fail(c, NNRT_NOT_SUPPORT, "the prepared model has other inputs than its file, or no outputs");
}

static bool sql_fill_plan(sql_cache *c, sql_model *m, sql_plan *p)
{
    nnrt_session_desc desc = {0};
    nnrt_input inputs[SQL_INPUTS] = {{0}};
    desc.allocator = &c->allocator;
    desc.profile = c->profile;
    desc.inputs = inputs;
    for (size_t i = 0; i < m->nIn; i++, desc.inputCount++) {
        inputs[i].name = m->inputs[i].name;
        inputs[i].shape = p->dims[i];
    }
    return sql_load_model(c, m) == NNRT_SUCCESS &&
           nnrt_session_create(&p->session, m->model, &desc, &c->error) == NNRT_SUCCESS && sql_check(c, m, p) &&
           sql_buffers(c, p);
}

static sql_plan *sql_make_plan(sql_cache *c, sql_model *m, const nnrt_dims *dims)
{
    sql_plan *const p = (sql_plan *)sql_take(c, sizeof(*p));
    if (p == NULL)
        return NULL;
    memcpy(p->dims, dims, m->nIn * sizeof(*dims));
    if (sql_fill_plan(c, m, p))
        return p;
    sql_plan_drop(c, p);
    return NULL;
}

/* The model, prepared for these shapes. */
static sql_plan *sql_prepare(sql_cache *c, sql_model *m, const nnrt_dims *dims)
{
    sql_plan **at = &m->plans, *p;
    while (*at != NULL && memcmp((*at)->dims, dims, m->nIn * sizeof(*dims)) != 0)
        at = &(*at)->next;
    p = *at;
    if (p != NULL)
        *at = p->next;
    else if ((p = sql_make_plan(c, m, dims)) == NULL)
        return NULL;
    p->next = m->plans;
    at = &m->plans;
    *at = p;
    for (int kept = 0; *at != NULL && kept < SQL_SHAPES; kept++)
        at = &(*at)->next;
    sql_plans_drop(c, at);
    return p;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>run */

/* Copies or converts an argument into the buffer of its input. */
static bool sql_fill(sql_cache *c, const sql_input *in, const sql_value *v, const nnrt_io *io)
{
    if (v->bytes) {
        if (v->count > 0)
            memcpy(io->data, v->data, v->count);
        return true;
    }
    for (size_t i = 0; i < v->count; i++) {
        const double number = ((const double *)v->data)[i];
        if (!sql_store(in->type, io->data, i, number)) {
            (void)nnrt_error_set(&c->error, NNRT_INVALID_PARAMETER,
                                 "input '%s' is %t, and element %z is %f, which it does not hold exactly", in->name,
                                 in->type, i, number);
            return false;
        }
    }
    return true;
}

/* Enlarges the buffers of outputs that need more. False: none does, or there is no memory. */
static bool sql_grow(sql_cache *c, sql_plan *p)
{
    bool grown = false;
    for (uint32_t i = 0; i < p->nOut; i++) {
        const size_t bytes = nnrt_session_output(p->session, i).bytes;
        nnrt_io *const io = &p->io[p->nIn + i];
        if (bytes <= io->bytes)
            continue;
        sql_drop(c, io->data);
        io->bytes = 0;
        io->data = sql_take(c, bytes);
        if (io->data == NULL)
            return false;
        io->bytes = bytes;
        grown = true;
    }
    return grown;
}

static sql_plan *sql_attempt(sql_cache *c, const char *path, sql_value *values, size_t count)
{
    sql_model *const m = sql_find(c, path);
    nnrt_dims dims[SQL_INPUTS] = {{0}};
    NNRT_ReturnCode code;
    sql_plan *p;
    if (m == NULL)
        return NULL;
    if (count != m->nIn) {
        (void)nnrt_error_set(&c->error, NNRT_INVALID_PARAMETER,
                             "the model has %z inputs and received %z: see nnrt_info", m->nIn, count);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (!sql_shape(c, &m->inputs[i], &values[i], &dims[i]))
            return NULL;
    if ((p = sql_prepare(c, m, dims)) == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!sql_fill(c, &m->inputs[i], &values[i], &p->io[i]))
            return NULL;
    c->running = p->session;
    do
        code = nnrt_run(p->session, p->io, p->nIn, p->io + p->nIn, p->nOut);
    while (code == NNRT_INSUFFICIENT_BUFFER && sql_grow(c, p));
    c->running = NULL;
    if (code != NNRT_SUCCESS)
        (void)nnrt_error_set(&c->error, code, "%s", nnrt_session_error(p->session));
    c->text.used = 0;
    return code == NNRT_SUCCESS ? p : NULL;
}

/* After an error: drops all models if memory ran out, so that a second attempt may succeed. */
static bool sql_forget(sql_cache *c)
{
    if (c->error.code != NNRT_OUT_OF_MEMORY || c->used == 0)
        return false;
    sql_models_drop(c, &c->models);
    sql_text_drop(c);
    return true;
}

/* Runs the model of a path with the arguments of a function, whose data it may move. NULL: see sql_message. */
static sql_plan *sql_run(sql_cache *c, const char *path, sql_value *values, size_t count)
{
    sql_plan *p = sql_attempt(c, path, values, count);
    if (p == NULL && sql_forget(c))
        p = sql_attempt(c, path, values, count);
    return p;
}

/* The description of a model, JSON. NULL: see sql_message. */
static const char *sql_info(sql_cache *c, const char *path)
{
    const sql_model *m = sql_find(c, path);
    if (m == NULL && sql_forget(c))
        m = sql_find(c, path);
    return m != NULL ? m->info : NULL;
}

/* An output of the last run: its data and, in *count, its elements. */
static const void *sql_output(const sql_plan *p, uint32_t i, nnrt_io_info *info, size_t *count)
{
    *info = nnrt_session_output(p->session, i);
    *count = info->bytes / nnrt_type_size(info->dataType);
    return p->io[p->nIn + i].data;
}

/* Appends "[0.5,1]" to c->text. */
static bool sql_put_output(sql_cache *c, const sql_plan *p, uint32_t i)
{
    nnrt_io_info info;
    size_t count;
    const void *const data = sql_output(p, i, &info, &count);
    sql_puts(c, "[");
    for (size_t k = 0; k < count; k++) {
        sql_puts(c, k > 0 ? "," : "");
        sql_put_element(c, info.dataType, data, k);
    }
    sql_puts(c, "]");
    return c->error.code == NNRT_SUCCESS;
}

/* Appends [{"name":"y","type":"float32","dims":[2],"data":[0.5,1]}] to c->text. */
static bool sql_put_outputs(sql_cache *c, const sql_plan *p)
{
    for (uint32_t i = 0; i < p->nOut; i++) {
        const nnrt_io_info info = nnrt_session_output(p->session, i);
        sql_puts(c, i > 0 ? "," : "[");
        sql_put_tensor(c, info.name, strlen(info.name), info.dataType);
        sql_put_dims(c, &info.shape);
        sql_puts(c, ",\"data\":");
        (void)sql_put_output(c, p, i);
        sql_puts(c, "}");
    }
    sql_puts(c, "]");
    return c->error.code == NNRT_SUCCESS;
}

/* The index of the largest element of the first output, which has at most one axis longer than 1. */
static bool sql_argmax(sql_cache *c, const sql_plan *p, int64_t *best)
{
    nnrt_io_info info;
    size_t count, axes = 0;
    const void *const data = sql_output(p, 0, &info, &count);
    for (int32_t k = 0; k < info.shape.rank; k++)
        axes += info.shape.dims[k] > 1;
    if (axes > 1 || count == 0) {
        char text[112];
        (void)nnrt_error_set(&c->error, NNRT_INVALID_SHAPE,
                             "output '%s' has the shape %s: argmax needs one axis longer than 1", info.name,
                             sql_dims_text(text, sizeof(text), &info.shape));
        return false;
    }
    *best = 0;
    for (size_t i = 0; i < count; i++) {
        const double v = sql_load(info.dataType, data, i);
        if (isnan(v))
            return sql_fail(c, NNRT_FAILED, "the output holds NaN, which has no order");
        if (v > sql_load(info.dataType, data, (size_t)*best))
            *best = (int64_t)i;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>embed */

/* Loads the tokenizer from the file `words`, unless it is loaded and the file has not changed; NULL: from the model, a GGUF
   file. */
static bool sql_tokenizer(sql_cache *c, sql_model *m, const char *words)
{
    const sql_model *from = m;
    struct stat now;
    if (m->tokenizer != NULL &&
        (words == NULL ? m->words == NULL
                       : m->words != NULL && strcmp(m->words->path, words) == 0 && stat(words, &now) == 0 &&
                             sql_same_file(&now, &m->words->id)))
        return true;
    sql_tokenizer_drop(c, m);
    if (words != NULL) {
        if ((m->words = (sql_model *)sql_take(c, sizeof(*m) + strlen(words) + 1)) == NULL)
            return false;
        memcpy(m->words->path, words, strlen(words));
        if (!sql_read(c, m->words))
            return false;
        from = m->words;
    }
    if (nnrt_gguf_is(from->file, from->bytes))
        (void)nnrt_tokenizer_load_gguf(&m->tokenizer, from->file, from->bytes, &c->allocator, &c->error);
    else if (words != NULL)
        (void)nnrt_tokenizer_load_json(&m->tokenizer, from->file, from->bytes, &c->allocator, &c->error);
    else
        (void)sql_fail(c, NNRT_INVALID_PARAMETER, "the model has no tokenizer: pass its tokenizer.json as the third argument");
    if (m->words != NULL) {
        sql_drop(c, m->words->file);
        m->words->file = NULL;
    }
    return m->tokenizer != NULL;
}

static sql_model *sql_embed_attempt(sql_cache *c, const char *path, const char *words, const char *text, size_t bytes)
{
    sql_model *const m = sql_find(c, path);
    nnrt_session_desc desc = {0};
    lm_ids ids = {0};
    bool good;
    desc.allocator = ids.allocator = &c->allocator;
    desc.profile = c->profile;
    good = m != NULL && sql_tokenizer(c, m, words) && sql_load_model(c, m) == NNRT_SUCCESS &&
           lm_ids_add(&ids, m->tokenizer, text, bytes, NNRT_TEXT_SPECIAL | NNRT_TEXT_AFFIXES, &c->error) == NNRT_SUCCESS;
    if (good && ids.count == 0)
        good = sql_fail(c, NNRT_INVALID_PARAMETER, "the text has no tokens");
    if (good) {
        if (m->encoder.session == NULL)
            (void)lm_gguf_context(m->file, m->bytes, &m->context);
        ids.count = lm_encoder_cut(m->tokenizer, ids.ids, ids.count, m->context);
        good = lm_encoder_reserve(&m->encoder, m->model, ids.count, m->context, LM_POOLING_MODEL, &desc, &c->error) ==
               NNRT_SUCCESS;
    }
    if (good && m->vector == NULL)
        good = (m->vector = (float *)sql_take(c, m->encoder.width * sizeof(float))) != NULL;
    if (good) {
        c->running = m->encoder.session;
        good = lm_encoder_run(&m->encoder, ids.ids, ids.count, true, m->vector, &c->error) == NNRT_SUCCESS;
        c->running = NULL;
    }
    lm_ids_free(&ids);
    return good ? m : NULL;
}

/* Computes the vector of a text by the model of a path, as the command embed does: m->vector, m->encoder.width elements
   whose sum of squares is 1. words: the path of a tokenizer; NULL: the model's. NULL: see sql_message. */
static const sql_model *sql_embed(sql_cache *c, const char *path, const char *words, const char *text, size_t bytes)
{
    sql_model *m = sql_embed_attempt(c, path, words, text, bytes);
    if (m == NULL && sql_forget(c))
        m = sql_embed_attempt(c, path, words, text, bytes);
    return m;
}

/* The cosine of the angle between two vectors of float32, which need no alignment: their dot product, divided by their lengths;
   NaN if one is zero. Sums are double. */
static double sql_cosine(const void *a, const void *b, size_t count)
{
    double dot = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < count; i++) {
        float x, y;
        memcpy(&x, (const char *)a + i * sizeof(x), sizeof(x));
        memcpy(&y, (const char *)b + i * sizeof(y), sizeof(y));
        dot += (double)x * (double)y;
        aa += (double)x * (double)x;
        bb += (double)y * (double)y;
    }
    return dot / (sqrt(aa) * sqrt(bb));
}

/* The sentence of the last error. */
static const char *sql_message(sql_cache *c, const char *path)
{
    const bool full = c->error.code == NNRT_OUT_OF_MEMORY;
    const char *const text = c->error.message[0] != '\0' ? c->error.message : nnrt_code_name(c->error.code);
    if (full)
        (void)snprintf(c->message, sizeof(c->message), "%.400s: %s (limit of this connection: %zu MB)", path, text,
                       c->limit >> 20);
    else
        (void)snprintf(c->message, sizeof(c->message), "%.400s: %s", path, text);
    return c->message;
}

#endif /* NNRT_SQL_H */
