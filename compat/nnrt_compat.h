/*
nnrt_compat.h - shared by the APIs of compat/: the table language of operations' parameters, and a cache of prepared
models for several input shapes.

    #include "nnrt_compat.h"        in the implementation of a header of compat/; a program does not include it

SECTIONS (search for the tag)
    >>compat_memory  growing arrays, copies of text, files
    >>compat_params  parameters of operations as attributes of operators
    >>compat_shapes  prepared models for several input shapes

PARAMETERS
    An OH_NN parameter is a tensor with a type of its own (OH_NN_CONV2D_STRIDES), an NNAdapter parameter is a constant
    operand. Both become members of attribute structs. Each API has one X-macro table of its operations. The row of an
    operation, O(name, ...), differs between the APIs; its last arguments are rows in this notation:

        P(parameter, kind, S, member)   the parameter sets this member of NNRT_S. parameter: the name of the tensor
                                        type without OH_NN_, or the index of the operand
        V(kind, S, member, value)       a preset: the value of a member without a parameter, or a default that differs
                                        from nnrt's. Set before the parameters, so a parameter replaces it

    A kind (NNRTI_PARAM_KINDS) states the type of the member, and the type, number and range of the parameter's
    elements. A parameter with several rows sets each member whose kind accepts its number of elements: OH_NN passes a
    padding mode or a list of pads in one parameter. nnrti_param_set reads a parameter; nnrti_param_get is the inverse,
    for drivers of NNAdapter.

    Rejected: rows as text ("stride:ones"), parsed at run time. They are shorter, but the compiler checks no name in
    them. Rejected: member types from nnrt_attr_struct. They do not state the range and the enumerators of the API.

SHAPES
    A model with dynamic inputs is prepared for the shapes of a run. NNRT_SHAPES_KEPT prepared models are kept: a run
    with the shapes of one of them prepares nothing. A further shape prepares a model for an upper bound of all shapes
    so far, which serves every shape within it. A shape that exceeds the upper bound replaces it by one that is at least
    1.5 times as large, so that n growing shapes cost O(log n) preparations. If a device or model does not support upper
    bounds, the least recently used shape is replaced. The entries share nothing: each has its own packed weights and
    arena. That is the price of four shapes at full speed; a single model for an upper bound would be slower for each of
    them.

MIT license, see LICENSE.
*/
#ifndef NNRT_COMPAT_H
#define NNRT_COMPAT_H

#include "../nnrt.h"

#ifndef NNRT_NO_STDIO
#include <stdio.h>
#endif
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>compat_memory */

/* Grows an array, if necessary, for one more element; NULL: out of memory, and the array is unchanged. */
static inline void *nnrti_compat_grow(void *array, uint32_t count, uint32_t *room, size_t size)
{
    const uint32_t more = *room < 16 ? 16 : *room * 2;
    size_t bytes;
    void *grown;
    if (count < *room)
        return array;
    if (more <= *room || !nnrt_mul_size(more, size, &bytes) || (grown = realloc(array, bytes)) == NULL)
        return NULL;
    *room = more;
    return grown;
}

/* Copies `length` bytes of a text and appends a 0; NULL: out of memory. */
static inline char *nnrti_compat_text(const char *text, size_t length)
{
    char *copy = (char *)malloc(length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

#ifndef NNRT_NO_STDIO
/* Reads a file of at most `most` bytes and appends a 0; NULL: no such file, too large, or out of memory (*full). */
static inline uint8_t *nnrti_compat_read(const char *path, size_t most, size_t *bytes, bool *full)
{
    FILE *file = path != NULL ? fopen(path, "rb") : NULL;
    uint8_t *data = NULL;
    long size = -1;
    *full = false;
    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && (uint64_t)size <= most && fseek(file, 0, SEEK_SET) == 0) {
        data = (uint8_t *)malloc((size_t)size + 1);
        *full = data == NULL;
    }
    if (data != NULL) {
        *bytes = fread(data, 1, (size_t)size, file);
        data[*bytes] = '\0';
        if (*bytes != (size_t)size) {
            free(data);
            data = NULL;
        }
    }
    (void)fclose(file);
    return data;
}
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>compat_params */

/* K(name, member, element, number of elements, minimum): member is an nnrt_attr_kind, element an NNRT_DataType (INT64:
   also INT32), 0 elements: any number. E(name, member, element, numbers): the API's enumerator n becomes numbers[n],
   negative: unsupported; of STRING: text numbers[n] of nnrti_param_texts. Prefixes: the API with these enumerators. */
/* clang-format off */
#define NNRTI_PARAM_KINDS(K, E) \
    K(OPERATION,   NONE,   UNKNOWN, 0, 0)         /* not a parameter: the row that begins the rows of an operation */ \
    K(OUTPUT_TYPE, NONE,   INT32,   1, INT64_MIN) /* of NNAdapter: the element type of an output */ \
    K(BOOL,        BOOL,   BOOL,    1, 0) \
    K(INT,         INT,    INT64,   1, INT64_MIN) \
    K(INT32,       INT,    INT32,   1, INT64_MIN) \
    K(ONE,         INT,    INT64,   1, 1)         /* the attribute has no value 0 */ \
    K(TYPE,        INT,    INT64,   1, INT64_MIN) /* of OH_NN: an element type, as a number */ \
    K(INTS,        INTS,   INT64,   0, INT64_MIN) \
    K(ONES,        INTS,   INT64,   2, 1) \
    K(FOUR,        INTS,   INT64,   4, INT64_MIN) \
    K(PADS,        INTS,   INT64,   4, 0) \
    K(PAIRS,       INTS2,  INT64,   0, INT64_MIN) /* lists of two */ \
    K(FLOAT,       FLOAT,  FLOAT32, 1, 0) \
    K(NONZERO,     FLOAT,  FLOAT32, 1, 0) \
    K(FLOATS,      FLOATS, FLOAT32, 0, 0) \
    K(ENUM,        ENUM,   UNKNOWN, 1, 0)         /* presets only */ \
    E(OHNN_FUSE, ENUM, INT8, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, NNRT_ACTIVATION_TYPE_RELU, \
        NNRT_ACTIVATION_TYPE_RELU6) \
    E(OHNN_PAD_MODE, ENUM, INT8, NNRT_PAD_MODE_SAME, NNRT_PAD_MODE_VALID, NNRT_PAD_MODE_VALID) \
    E(OHNN_ROUND, ENUM, INT32, NNRT_ROUND_MODE_FLOOR, NNRT_ROUND_MODE_CEIL) \
    E(OHNN_PADDING, ENUM, INT32, NNRT_PADDING_MODE_CONSTANT, NNRT_PADDING_MODE_REFLECT, NNRT_PADDING_MODE_SYMMETRIC) \
    E(OHNN_ELTWISE, ENUM, INT8, NNRT_ELTWISE_MODE_PROD, NNRT_ELTWISE_MODE_SUM, NNRT_ELTWISE_MODE_MAXIMUM) \
    E(OHNN_COORDINATES, ENUM, INT8, NNRT_COORDINATE_TRANSFORM_MODE_ASYMMETRIC, \
        NNRT_COORDINATE_TRANSFORM_MODE_ALIGN_CORNERS, NNRT_COORDINATE_TRANSFORM_MODE_HALF_PIXEL) \
    E(OHNN_ORDER, STRING, INT32, 0, 1) \
    E(OHNN_REGION, STRING, INT32, 2) \
    E(NNA_FUSE, ENUM, INT32, NNRT_ACTIVATION_TYPE_NO_ACTIVATION, NNRT_ACTIVATION_TYPE_RELU, \
        NNRT_ACTIVATION_TYPE_RELU1, NNRT_ACTIVATION_TYPE_RELU6) \
    E(NNA_PAD_MODE, ENUM, INT32, NNRT_PAD_MODE_PAD, NNRT_PAD_MODE_SAME, NNRT_PAD_MODE_VALID) \
    E(NNA_CEIL, ENUM, BOOL, NNRT_ROUND_MODE_FLOOR, NNRT_ROUND_MODE_CEIL) \
    E(NNA_METHOD, ENUM, INT32, -1, NNRT_RESIZE_METHOD_LINEAR, NNRT_RESIZE_METHOD_NEAREST) \
    E(NNA_OUTSIDE, INT, INT32, -1, 0, 2, 1, 1)

static const char *const nnrti_param_texts[] = {"DCR", "CRD", "ACROSS_CHANNELS"};

typedef struct nnrti_param_kind {
    nnrt_attr_kind member;
    NNRT_DataType element;
    size_t count;
    int64_t least;
    const int32_t *numbers; /* NULL: not an enumeration */
    size_t nNumbers;
} nnrti_param_kind;

#define NNRTI_PARAM_NOTHING(...)
#define NNRTI_PARAM_ID(name, ...) NNRTI_PARAM_##name,
#define NNRTI_PARAM_NUMBERS(name, member, element, ...) static const int32_t nnrti_param_##name[] = {__VA_ARGS__};
#define NNRTI_PARAM_K(name, member, element, count, least) \
    {NNRT_ATTR_KIND_##member, NNRT_DATA_TYPE_##element, count, least, NULL, 0},
#define NNRTI_PARAM_E(name, member, element, ...) \
    {NNRT_ATTR_KIND_##member, NNRT_DATA_TYPE_##element, 1, 0, nnrti_param_##name, sizeof(nnrti_param_##name) / 4},
enum { NNRTI_PARAM_KINDS(NNRTI_PARAM_ID, NNRTI_PARAM_ID) };
NNRTI_PARAM_KINDS(NNRTI_PARAM_NOTHING, NNRTI_PARAM_NUMBERS)
static const nnrti_param_kind nnrti_param_kinds[] = {NNRTI_PARAM_KINDS(NNRTI_PARAM_K, NNRTI_PARAM_E)};

/* A row. The rows of all operations lie in one array, which NNRTI_PARAMS_END ends. */
typedef struct nnrti_param {
    int16_t key; /* number of the tensor type, index of the operand, or NNRTI_PARAM_PRESET; of OPERATION: its number */
    uint8_t kind;
    uint16_t at; /* offset in the attribute struct; of OUTPUT_TYPE: index of the output */
    float value; /* of a preset; of OUTPUT_TYPE: the default */
} nnrti_param;

#define NNRTI_PARAM_PRESET (-1)
#define NNRTI_PARAM_P(key, kind, S, member) {key, NNRTI_PARAM_##kind, (uint16_t)offsetof(NNRT_##S, member), 0},
#define NNRTI_PARAM_V(kind, S, member, value) \
    {NNRTI_PARAM_PRESET, NNRTI_PARAM_##kind, (uint16_t)offsetof(NNRT_##S, member), (float)(value)},
#define NNRTI_PARAMS_BEGIN(operation) {operation, NNRTI_PARAM_OPERATION, 0, 0},
#define NNRTI_PARAMS_END {NNRTI_PARAM_PRESET, NNRTI_PARAM_OPERATION, 0, 0}
/* clang-format on */

/* Returns the rows of an operation, which end before the next row of kind OPERATION; none if it is not in the table. */
static inline const nnrti_param *nnrti_params_of(const nnrti_param *rows, int32_t operation)
{
    while (rows->kind != NNRTI_PARAM_OPERATION || (rows->key != operation && rows->key != NNRTI_PARAM_PRESET))
        rows++;
    return rows->key != NNRTI_PARAM_PRESET ? rows + 1 : rows;
}

/* The elements of a parameter. type UNKNOWN: one that no kind accepts; data NULL: not a constant. */
typedef struct nnrti_param_value {
    NNRT_DataType type;
    size_t count;
    const void *data;
} nnrti_param_value;

/* Checks for a constant of this type (INT64: also INT32). */
static inline bool nnrti_param_is(const nnrti_param_value *v, NNRT_DataType type)
{
    return v->data != NULL && (v->type == type || (type == NNRT_DATA_TYPE_INT64 && v->type == NNRT_DATA_TYPE_INT32));
}

/* Checks that the kind accepts this number of elements. */
static inline bool nnrti_param_fits(const nnrti_param *p, const nnrti_param_value *v)
{
    const size_t count = nnrti_param_kinds[p->kind].count;
    return count == 0 ? p->kind != NNRTI_PARAM_PAIRS || v->count % 2 == 0 : v->count == count;
}

/* Returns element i of a constant of integers or booleans. */
static inline int64_t nnrti_param_number(const nnrti_param_value *v, size_t i)
{
    switch (v->type) {
    case NNRT_DATA_TYPE_INT64: return ((const int64_t *)v->data)[i];
    case NNRT_DATA_TYPE_INT32: return ((const int32_t *)v->data)[i];
    case NNRT_DATA_TYPE_INT8: return ((const int8_t *)v->data)[i];
    default: return ((const uint8_t *)v->data)[i] != 0;
    }
}

/* Reads a parameter of one integer, boolean or enumerator. Returns NULL, or the fault: "is ...", for a message that
   begins with the parameter's name. */
static inline const char *nnrti_param_scalar(uint8_t kind, const nnrti_param_value *v, int64_t *number)
{
    const nnrti_param_kind *k = &nnrti_param_kinds[kind];
    int64_t n;
    if (!nnrti_param_is(v, k->element) || v->count != 1)
        return k->element == NNRT_DATA_TYPE_BOOL ? "is not a constant BOOL8" : "is not a constant integer";
    n = nnrti_param_number(v, 0);
    if (k->numbers != NULL && (n < 0 || (uint64_t)n >= k->nNumbers || k->numbers[n] < 0))
        return "is not one of the supported enumerators";
    if (n < k->least)
        return "is less than 1";
    *number = k->numbers != NULL ? k->numbers[n] : n;
    return NULL;
}

/* Stores a number in a member of type BOOL, INT, ENUM or STRING. */
static inline void nnrti_param_store(nnrt_attr_kind member, void *to, int64_t number)
{
    switch (member) {
    case NNRT_ATTR_KIND_BOOL: *(bool *)to = number != 0; break;
    case NNRT_ATTR_KIND_INT: *(int64_t *)to = number; break;
    case NNRT_ATTR_KIND_STRING: *(const char **)to = nnrti_param_texts[number]; break;
    default: *(int32_t *)to = (int32_t)number; break;
    }
}

/* Sets the presets of an operation. */
static inline void nnrti_params_preset(const nnrti_param *p, void *attr)
{
    for (; p->kind != NNRTI_PARAM_OPERATION; p++) {
        void *to = (uint8_t *)attr + p->at;
        if (p->key == NNRTI_PARAM_PRESET && p->kind == NNRTI_PARAM_FLOAT)
            *(float *)to = p->value;
        else if (p->key == NNRTI_PARAM_PRESET)
            nnrti_param_store(nnrti_param_kinds[p->kind].member, to, (int64_t)p->value);
    }
}

/* Allocates `count` elements of an attribute's list; NULL: no room. */
typedef void *(*nnrti_param_room)(void *user, size_t count, size_t size);

/* Sets a member of type INTS or INTS2. Returns as nnrti_param_set. */
static inline const char *nnrti_param_set_list(const nnrti_param *p, const nnrti_param_value *v, nnrti_param_room room,
                                               void *user, void *to)
{
    const nnrti_param_kind *k = &nnrti_param_kinds[p->kind];
    int64_t *list = (int64_t *)room(user, v->count, sizeof(*list));
    NNRT_Int64Lists *lists = (NNRT_Int64Lists *)to;
    NNRT_Int64List *pairs;
    if (list == NULL)
        return "";
    for (size_t i = 0; i < v->count; i++)
        if ((list[i] = nnrti_param_number(v, i)) < k->least)
            return "has an entry below the minimum";
    if (k->member == NNRT_ATTR_KIND_INTS) {
        *(NNRT_Int64List *)to = nnrt_int64_list(list, (uint32_t)v->count);
        return NULL;
    }
    if ((pairs = (NNRT_Int64List *)room(user, v->count / 2, sizeof(*pairs))) == NULL)
        return "";
    for (size_t i = 0; i < v->count / 2; i++)
        pairs[i] = nnrt_int64_list(list + 2 * i, 2);
    lists->data = pairs;
    lists->count = (uint32_t)(v->count / 2);
    return NULL;
}

/* Sets a member from the parameter. Lists of integers are copied to memory from room(user, ...), lists of floats are
   used in place. Returns NULL; "": no room; or the fault, as nnrti_param_scalar. */
static inline const char *nnrti_param_set(const nnrti_param *p, const nnrti_param_value *v, nnrti_param_room room,
                                          void *user, void *attr)
{
    const nnrti_param_kind *k = &nnrti_param_kinds[p->kind];
    const bool fits = nnrti_param_is(v, k->element) && nnrti_param_fits(p, v);
    void *to = (uint8_t *)attr + p->at;
    const char *fault;
    int64_t number;
    switch (k->member) {
    case NNRT_ATTR_KIND_INTS:
    case NNRT_ATTR_KIND_INTS2:
        return fits ? nnrti_param_set_list(p, v, room, user, to)
                    : "is not a constant list of integers of the required length";
    case NNRT_ATTR_KIND_FLOATS:
        if (!fits)
            return "is not a constant list of FLOAT32";
        *(NNRT_FloatList *)to = nnrt_float_list((const float *)v->data, (uint32_t)v->count);
        return NULL;
    case NNRT_ATTR_KIND_FLOAT:
        if (!fits)
            return "is not a constant FLOAT32";
        if (p->kind == NNRTI_PARAM_NONZERO && !(*(const float *)v->data < 0) && !(*(const float *)v->data > 0))
            return "is 0";
        memcpy(to, v->data, sizeof(float));
        return NULL;
    default:
        if ((fault = nnrti_param_scalar(p->kind, v, &number)) == NULL)
            nnrti_param_store(k->member, to, number);
        return fault;
    }
}

/* Bytes of a member that nnrti_param_get can read. */
static inline size_t nnrti_param_bytes(const nnrti_param *p)
{
    switch (nnrti_param_kinds[p->kind].member) {
    case NNRT_ATTR_KIND_BOOL: return sizeof(bool);
    case NNRT_ATTR_KIND_INT: return sizeof(int64_t);
    case NNRT_ATTR_KIND_INTS: return sizeof(NNRT_Int64List);
    case NNRT_ATTR_KIND_FLOATS: return sizeof(NNRT_FloatList);
    default: return sizeof(int32_t);
    }
}

/* The inverse of nnrti_param_set for NNAdapter's kinds: reads the member at `from`. *v: the parameter's elements,
   integers as int32 in room, which has space for `count` of them, floats in place. false: the parameter cannot express
   the value. */
static inline bool nnrti_param_get(const nnrti_param *p, const void *from, int32_t *room, size_t count,
                                   nnrti_param_value *v)
{
    const nnrti_param_kind *k = &nnrti_param_kinds[p->kind];
    const nnrti_param_value floats = {NNRT_DATA_TYPE_FLOAT32, 1, from};
    const nnrti_param_value integers = {NNRT_DATA_TYPE_INT32, 1, room};
    int64_t number = 0;
    const int64_t *list = &number;
    *v = k->element == NNRT_DATA_TYPE_FLOAT32 ? floats : integers;
    switch (k->member) {
    case NNRT_ATTR_KIND_FLOAT: return true;
    case NNRT_ATTR_KIND_FLOATS:
        v->count = ((const NNRT_FloatList *)from)->count;
        v->data = ((const NNRT_FloatList *)from)->data;
        return true;
    case NNRT_ATTR_KIND_INTS:
        v->count = ((const NNRT_Int64List *)from)->count;
        list = ((const NNRT_Int64List *)from)->data;
        break;
    case NNRT_ATTR_KIND_BOOL: number = *(const bool *)from; break;
    case NNRT_ATTR_KIND_INT: number = *(const int64_t *)from; break;
    default: number = *(const int32_t *)from; break;
    }
    if (v->count > count)
        return false;
    for (size_t i = 0; i < v->count; i++) {
        int64_t n = list[i];
        if (k->numbers != NULL) /* the last enumerator with this number */
            for (n = (int64_t)k->nNumbers - 1; n >= 0 && k->numbers[n] != list[i];)
                n--;
        if (n < INT32_MIN || n > INT32_MAX || (k->numbers != NULL && n < 0))
            return false;
        room[i] = (int32_t)n;
    }
    if (k->element == NNRT_DATA_TYPE_BOOL) {
        *(uint8_t *)room = room[0] != 0;
        v->type = NNRT_DATA_TYPE_BOOL;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>compat_shapes */

#define NNRT_SHAPES_KEPT 4u

/* Prepares and destroys an entry. dims: shape of each input; with `bounds` an upper bound of it. *made is never NULL on
   success. */
typedef struct nnrti_shapes_maker {
    NNRT_ReturnCode (*make)(void *user, const nnrt_dims *dims, bool bounds, void **made);
    void (*drop)(void *user, void *made);
    void *user;
} nnrti_shapes_maker;

/* Zeroed: no entries. Entry NNRT_SHAPES_KEPT is prepared for the upper bound. */
typedef struct nnrti_shapes {
    void *made[NNRT_SHAPES_KEPT + 1];
    uint64_t used[NNRT_SHAPES_KEPT + 1]; /* time of the last use, by clock */
    uint64_t clock;
    nnrt_dims *dims; /* input shapes of entry k begin at k * nIn */
    bool boundless;  /* preparing for an upper bound failed */
} nnrti_shapes;

static inline void nnrti_shapes_clear(nnrti_shapes *s, const nnrti_shapes_maker *maker)
{
    for (uint32_t k = 0; k <= NNRT_SHAPES_KEPT; k++)
        if (s->made[k] != NULL)
            maker->drop(maker->user, s->made[k]);
    free(s->dims);
    memset(s, 0, sizeof(*s));
}

/* Checks that all shapes equal the shapes of an entry, or (within) do not exceed them. */
static inline bool nnrti_shapes_fit(const nnrt_dims *dims, const nnrt_dims *of, uint32_t nIn, bool within)
{
    for (uint32_t i = 0; i < nIn; i++) {
        if (dims[i].rank != of[i].rank)
            return false;
        for (int32_t a = 0; a < dims[i].rank; a++)
            if (within ? dims[i].dims[a] > of[i].dims[a] : dims[i].dims[a] != of[i].dims[a])
                return false;
    }
    return true;
}

/* Prepares entry k for its shapes in s->dims. */
static inline NNRT_ReturnCode nnrti_shapes_make(nnrti_shapes *s, const nnrti_shapes_maker *maker, uint32_t nIn,
                                                uint32_t k)
{
    NNRT_ReturnCode code;
    if (s->made[k] != NULL)
        maker->drop(maker->user, s->made[k]);
    s->made[k] = NULL;
    code = maker->make(maker->user, s->dims + (size_t)k * nIn, k == NNRT_SHAPES_KEPT, &s->made[k]);
    if (code != NNRT_SUCCESS)
        s->made[k] = NULL;
    return code;
}

/* Prepares for an upper bound of dims and of every shape so far. */
static inline NNRT_ReturnCode nnrti_shapes_bound(nnrti_shapes *s, const nnrti_shapes_maker *maker,
                                                 const nnrt_dims *dims, uint32_t nIn)
{
    nnrt_dims *bound = s->dims + (size_t)NNRT_SHAPES_KEPT * nIn;
    const bool grows = s->made[NNRT_SHAPES_KEPT] != NULL;
    NNRT_ReturnCode code;
    if (!grows)
        memcpy(bound, dims, nIn * sizeof(*dims));
    for (int pass = grows ? 0 : 1;; pass++) { /* first 1.5 times larger; if that fails, as small as possible */
        for (uint32_t i = 0; i < nIn; i++)
            for (int32_t a = 0; a < dims[i].rank; a++) {
                int32_t *most = &bound[i].dims[a];
                const int32_t old = *most;
                if (dims[i].rank != bound[i].rank)
                    return NNRT_INVALID_SHAPE;
                if (pass == 1 || dims[i].dims[a] > old)
                    *most = dims[i].dims[a];
                if (pass == 0 && *most > old && old <= INT32_MAX / 2 && old + old / 2 > *most)
                    *most = old + old / 2;
                for (uint32_t k = 0; k < NNRT_SHAPES_KEPT && pass == 1; k++)
                    if (s->dims[(size_t)k * nIn + i].dims[a] > *most)
                        *most = s->dims[(size_t)k * nIn + i].dims[a];
            }
        if ((code = nnrti_shapes_make(s, maker, nIn, NNRT_SHAPES_KEPT)) == NNRT_SUCCESS || pass == 1)
            return code;
    }
}

/* Finds or prepares the entry for these shapes. *bound: it was prepared for an upper bound. */
static inline NNRT_ReturnCode nnrti_shapes_find(nnrti_shapes *s, const nnrti_shapes_maker *maker, const nnrt_dims *dims,
                                                uint32_t nIn, void **made, bool *bound)
{
    uint32_t k, oldest = 0;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    *made = NULL;
    *bound = false;
    if (s->dims == NULL &&
        (s->dims = (nnrt_dims *)calloc((NNRT_SHAPES_KEPT + 1) * (size_t)(nIn + 1), sizeof(*s->dims))) == NULL)
        return NNRT_OUT_OF_MEMORY;
    for (k = 0; k < NNRT_SHAPES_KEPT; k++)
        if (s->made[k] == NULL || nnrti_shapes_fit(dims, s->dims + (size_t)k * nIn, nIn, false))
            break;
        else if (s->used[k] < s->used[oldest])
            oldest = k;
    if (k == NNRT_SHAPES_KEPT && !s->boundless) {
        if (s->made[k] == NULL || !nnrti_shapes_fit(dims, s->dims + (size_t)k * nIn, nIn, true))
            code = nnrti_shapes_bound(s, maker, dims, nIn);
        s->boundless = code != NNRT_SUCCESS;
    }
    if (k == NNRT_SHAPES_KEPT && s->boundless)
        k = oldest;
    if (k < NNRT_SHAPES_KEPT &&
        (s->made[k] == NULL || !nnrti_shapes_fit(dims, s->dims + (size_t)k * nIn, nIn, false))) {
        memcpy(s->dims + (size_t)k * nIn, dims, nIn * sizeof(*dims));
        if ((code = nnrti_shapes_make(s, maker, nIn, k)) != NNRT_SUCCESS)
            return code;
    }
    s->used[k] = ++s->clock;
    *made = s->made[k];
    *bound = k == NNRT_SHAPES_KEPT;
    return NNRT_SUCCESS;
}

/* Makes an upper bound for each input of a model; out has as many entries. false: an input without a name, which bounds
   need. */
static inline bool nnrti_shapes_bounds(const NNRT_Model *m, const nnrt_dims *dims, nnrt_bound *out)
{
    for (uint32_t i = 0; i < m->inputIndex.count; i++) {
        out[i].tensor = m->allTensors.data[m->inputIndex.data[i]].name;
        out[i].most = dims[i];
        if (out[i].tensor == NULL || out[i].tensor[0] == '\0')
            return false;
    }
    return true;
}

#endif /* NNRT_COMPAT_H */
