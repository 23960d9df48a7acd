/* nnrt_fake.h - a fake NPU for tests. It computes with the reference kernels, so its results are bit-identical to those
of the reference device. A configuration text selects the operators that it supports, its features, and the calls that
fail.

    #define NNRT_IMPLEMENTATION
    #include "devices/nnrt_fake.h"          includes nnrt_hal.h from the parent folder

    nnrt_fake *npu = NULL;
    nnrt_fake_register(&npu, "fake:name=npu0,ops=CONV2D_FUSION+ADD_FUSION,without=RunIn,fail=PrepareModel:2", &error);

WHO READS THIS
    Application developers who test with devices that refuse models, are slow or fail; authors of a device that wraps
    prepared models.

SECTIONS (search for the tag)
    >>fake       the configuration text, the record of calls
    -- implementation --
    >>fake_text  parser of the text
    >>fake_form  serialized models, for the model cache
    >>fake_model its prepared models: a plan of the reference kernels, wrapped
    >>fake_table its device table

TEXT
    "fake:" and comma-separated options KEY=VALUE; "+" separates the elements of a list. Each key may occur once; all
    are optional.

    name=npu0          the device's name; default fake
    vendor=acme        the vendor's name; default nnrt
    type=GPU           OTHER, CPU, GPU or ACCELERATOR; default ACCELERATOR
    ops=ADD_FUSION+..  supported operators, by name; default all
    not=SOFTMAX+..     unsupported operators
    dims=1..64         the minimum and maximum size of every dimension
    dynamic=no         does not support dynamic dimensions
    float16=yes        float32 may be computed in float16: then all float32 results are rounded to float16's precision
                       and range, except results of operators that only move or rename data; NOT_SUPPORT with dynamic
                       dimensions
    modes=yes          performance modes, without effect
    priorities=yes     priorities, without effect
    without=RunIn+..   slots of its tables that are NULL
    delay=Run:20+..    every call of a slot takes so many milliseconds of processor time longer
    hang=Run:20+..     every call of a slot sleeps so many milliseconds; 0: until nnrt_fake_wake is called
    fail=Run:2+..      the second call of a slot fails; without a number every call
    die=Run:2+..       the second call of a slot ends the process, without a number the first one: for a driver served
                       in a process of its own (nnrt_remote.h), in programs that have called nnrt_fake_may_die
    code=TIME_OUT      return code of a failing call, of NNRT_ReturnCode; default DEVICE_ERROR
    garbage=GetIO+..   slots that succeed with invalid results: sizes larger than any memory, invalid ranks and types,
                       unsupported nodes reported as supported, a prepared model that is NULL
    cache=yes          it has a model cache of two blocks: a header and the serialized model. With faults: garbage: the
                       second block is noise; count: it exports more blocks than allowed; refuse: it rejects every
                       cache. Default no

    An offline model is a text, "ABS 2,3": an operator with one input and no attributes, and the shape of that input,
    which is float32. Slots are those of NNRT_FAKE_SLOTS. AllocateBuffer returns blocks of nnrt_buffer_create. RunV1 is
    implemented, and called if Run and RunIn are left out.

THREADS
    As nnrt_hal.h specifies for device tables. In a record that is read during runs, each number is correct, but the
    numbers may belong to different moments.

MIT license, see LICENSE.
*/
#ifndef NNRT_FAKE_H
#define NNRT_FAKE_H

#include "../nnrt_hal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>fake */

/* E(Vtbl, slot) for each slot that the device implements, except those that release objects. */
#define NNRT_FAKE_SLOTS(E)                                                                                             \
    E(NNRT_DeviceVtbl, GetVersion)                                                                                     \
    E(NNRT_DeviceVtbl, GetDeviceName)                                                                                  \
    E(NNRT_DeviceVtbl, GetVendorName)                                                                                  \
    E(NNRT_DeviceVtbl, GetDeviceType)                                                                                  \
    E(NNRT_DeviceVtbl, GetDeviceStatus)                                                                                \
    E(NNRT_DeviceVtbl, GetSupportedOperation)                                                                          \
    E(NNRT_DeviceVtbl, IsFloat16PrecisionSupported)                                                                    \
    E(NNRT_DeviceVtbl, IsPerformanceModeSupported)                                                                     \
    E(NNRT_DeviceVtbl, IsPrioritySupported)                                                                            \
    E(NNRT_DeviceVtbl, IsDynamicInputSupported)                                                                        \
    E(NNRT_DeviceVtbl, PrepareModel)                                                                                   \
    E(NNRT_DeviceVtbl, IsModelCacheSupported)                                                                          \
    E(NNRT_DeviceVtbl, PrepareModelFromModelCache)                                                                     \
    E(NNRT_DeviceVtbl, AllocateBuffer)                                                                                 \
    E(NNRT_DeviceVtbl, ReleaseBuffer)                                                                                  \
    E(NNRT_DeviceVtbl, PrepareOfflineModel)                                                                            \
    E(NNRT_DeviceVtbl, GetModelMemory)                                                                                 \
    E(NNRT_DeviceVtbl, GetSupportedNodes)                                                                              \
    E(NNRT_PreparedModelVtbl, ExportModelCache)                                                                        \
    E(NNRT_PreparedModelVtbl, RunV1)                                                                                   \
    E(NNRT_PreparedModelVtbl, GetInputDimRanges)                                                                       \
    E(NNRT_PreparedModelVtbl, Run)                                                                                     \
    E(NNRT_PreparedModelVtbl, GetWorkspaceSize)                                                                        \
    E(NNRT_PreparedModelVtbl, RunIn)                                                                                   \
    E(NNRT_PreparedModelVtbl, GetIO)                                                                                   \
    E(NNRT_PreparedModelVtbl, GetMemory)                                                                               \
    E(NNRT_PreparedModelVtbl, GetOutputDimRanges)

enum {
#define NNRTI_FAKE_SLOT(table, slot) NNRT_FAKE_##slot,
    NNRT_FAKE_SLOTS(NNRTI_FAKE_SLOT)
#undef NNRTI_FAKE_SLOT
        NNRT_FAKE_SLOT_COUNT
};

typedef struct nnrt_fake nnrt_fake;

#define NNRT_FAKE_BLOCKS 64

/* Counters of all calls so far: calls[NNRT_FAKE_PrepareModel] includes the failed ones. */
typedef struct nnrt_fake_record {
    uint32_t calls[NNRT_FAKE_SLOT_COUNT];
    uint32_t prepared;  /* number of prepared models, including those from the cache */
    uint32_t nodes;     /* total number of nodes of these models */
    uint32_t released;  /* number of released models */
    bool enableFloat16; /* from the configuration of the last preparation, like the next three */
    NNRT_PerformanceMode mode;
    NNRT_Priority priority;
    uint32_t extensions; /* number of extensions */
    uint32_t blocks;     /* allocated and not yet released; at most NNRT_FAKE_BLOCKS */
} nnrt_fake_record;

/* Registers a device with the configuration text `text`; it exists until it is unregistered. fake may be NULL.
   INVALID_PARAMETER: malformed text; error reports the found and the expected value. */
NNRT_API NNRT_ReturnCode nnrt_fake_register(nnrt_fake **fake, const char *text, nnrt_error *error);
/* The name of a fake device for nnrt_device_find. */
NNRT_API const char *nnrt_fake_name(const nnrt_fake *fake);
/* The calls and options that a fake device has received so far. */
NNRT_API nnrt_fake_record nnrt_fake_get_record(const nnrt_fake *fake);
/* Enables die= in configuration texts and sets the function that ends the process; it must not return. Call it before
   devices are registered; without it, die= is an error. */
NNRT_API void nnrt_fake_may_die(void (*end)(void));
/* Ends the sleep of all calls that hang now; callable from any thread. */
NNRT_API void nnrt_fake_wake(nnrt_fake *fake);

#ifdef __cplusplus
}
#endif

#endif /* NNRT_FAKE_H */

/* ================================================================================================================ */
#if defined(NNRT_IMPLEMENTATION) && !defined(NNRT_FAKE_IMPLEMENTED)
#define NNRT_FAKE_IMPLEMENTED

#include "../nnrt_hal.h" /* its implementation, if only its declarations were included so far */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__unix__) || defined(__APPLE__)
#include <poll.h>
#include <sys/time.h>
#endif

#if defined(__GNUC__) || defined(__clang__)
#define NNRTI_FAKE_ADD(p) __atomic_add_fetch(p, 1, __ATOMIC_SEQ_CST)
#define NNRTI_FAKE_GET(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define NNRTI_FAKE_SET(p, value) __atomic_store_n(p, value, __ATOMIC_RELAXED)
#define NNRTI_FAKE_TURN(p, from, to) __sync_bool_compare_and_swap(p, from, to)
#else
#define NNRTI_FAKE_ADD(p) (++*(p)) /* without atomics: one thread at a time */
#define NNRTI_FAKE_GET(p) (*(p))
#define NNRTI_FAKE_SET(p, value) (*(p) = (value))
#define NNRTI_FAKE_TURN(p, from, to) (*(p) == (from) ? (*(p) = (to), true) : false)
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>fake_text */

/* A substring of the device's text. */
typedef struct nnrti_fake_span {
    const char *at; /* NULL: the option is absent */
    size_t length;
} nnrti_fake_span;

enum {
    NNRTI_FAKE_NAME,
    NNRTI_FAKE_VENDOR,
    NNRTI_FAKE_TYPE,
    NNRTI_FAKE_OPS,
    NNRTI_FAKE_NOT,
    NNRTI_FAKE_DIMS,
    NNRTI_FAKE_DYNAMIC,
    NNRTI_FAKE_FLOAT16,
    NNRTI_FAKE_MODES,
    NNRTI_FAKE_PRIORITIES,
    NNRTI_FAKE_WITHOUT,
    NNRTI_FAKE_DELAY,
    NNRTI_FAKE_HANG,
    NNRTI_FAKE_FAIL,
    NNRTI_FAKE_DIE,
    NNRTI_FAKE_CODE,
    NNRTI_FAKE_GARBAGE,
    NNRTI_FAKE_CACHE,
    NNRTI_FAKE_KEYS
};

/* Values of the option cache. */
enum {
    NNRTI_FAKE_CACHE_NO,
    NNRTI_FAKE_CACHE_YES,
    NNRTI_FAKE_CACHE_GARBAGE,
    NNRTI_FAKE_CACHE_COUNT,
    NNRTI_FAKE_CACHE_REFUSE,
    NNRTI_FAKE_CACHE_WAYS
};

static void (*nnrti_fake_end)(void); /* set by nnrt_fake_may_die */

static const char *const nnrti_fake_keys[NNRTI_FAKE_KEYS] = {
    "name",       "vendor",  "type",  "ops",  "not",  "dims", "dynamic", "float16", "modes",
    "priorities", "without", "delay", "hang", "fail", "die",  "code",    "garbage", "cache"};

typedef struct nnrti_fake_slot {
    const char *name;
    bool model; /* slot of the prepared model's table */
    size_t offset;
} nnrti_fake_slot;

static const nnrti_fake_slot nnrti_fake_slots[NNRT_FAKE_SLOT_COUNT] = {
#define NNRTI_FAKE_SLOT(table, slot) {#slot, sizeof(table) == sizeof(NNRT_PreparedModelVtbl), offsetof(table, slot)},
    NNRT_FAKE_SLOTS(NNRTI_FAKE_SLOT)
#undef NNRTI_FAKE_SLOT
};

#define NNRTI_FAKE_EACH 0xFFFFFFFFu

enum { NNRTI_FAKE_FREE, NNRTI_FAKE_BUSY, NNRTI_FAKE_HELD }; /* states of a block; BUSY: a thread changes it */

struct nnrt_fake {
    NNRT_DeviceVtbl table;
    NNRT_PreparedModelVtbl model;
    char name[64], vendor[64];
    NNRT_DeviceType type;
    nnrti_fake_span ops, barred;
    int32_t least, most; /* sizes of a dimension */
    bool dynamic, float16, modes, priorities;
    uint32_t delay[NNRT_FAKE_SLOT_COUNT]; /* milliseconds */
    uint32_t hang[NNRT_FAKE_SLOT_COUNT];  /* wall-clock milliseconds, 0: until nnrt_fake_wake; NNRTI_FAKE_EACH = none */
    uint32_t fail[NNRT_FAKE_SLOT_COUNT];  /* the number of the call; 0 = none */
    uint32_t die[NNRT_FAKE_SLOT_COUNT];
    uint32_t woken; /* number of nnrt_fake_wake calls */
    bool garbage[NNRT_FAKE_SLOT_COUNT];
    int32_t cache;
    NNRT_ReturnCode code;
    nnrt_fake_record record;
    uint32_t wishes[4]; /* of the last preparation: float16, mode, priority, extensions */
    NNRT_SharedBuffer blocks[NNRT_FAKE_BLOCKS];
    uint32_t held[NNRT_FAKE_BLOCKS]; /* NNRTI_FAKE_FREE, .. */
    size_t bytes;                    /* of this block, including the copied text behind the struct */
};

static bool nnrti_fake_is(nnrti_fake_span s, const char *text)
{
    return s.length == strlen(text) && memcmp(s.at, text, s.length) == 0;
}

/* Copies at most 47 characters of a span into text[48], for messages. */
static const char *nnrti_fake_text(nnrti_fake_span s, char *text)
{
    const size_t length = s.length < 47 ? s.length : 47;
    memcpy(text, s.at, length);
    text[length] = '\0';
    return text;
}

/* Returns the part of *rest before `end`, and advances *rest past `end`. */
static nnrti_fake_span nnrti_fake_next(nnrti_fake_span *rest, char end)
{
    nnrti_fake_span s = {rest->at, 0};
    while (s.length < rest->length && rest->at[s.length] != end)
        s.length++;
    rest->at += s.length;
    rest->length -= s.length;
    if (rest->length > 0) {
        rest->at++;
        rest->length--;
    }
    return s;
}

/* Parses a decimal number of at most 999,999,999. */
static bool nnrti_fake_number(nnrti_fake_span s, uint32_t *number)
{
    *number = 0;
    for (size_t i = 0; i < s.length; i++) {
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
        *number = *number * 10 + (uint32_t)(s.at[i] - '0');
    }
    return s.length > 0 && s.length < 10;
}

static bool nnrti_fake_lists(nnrti_fake_span list, const char *name)
{
    while (list.length > 0)
        if (nnrti_fake_is(nnrti_fake_next(&list, '+'), name))
            return true;
    return false;
}

static NNRT_ReturnCode nnrti_fake_bad(nnrt_error *error, int32_t key, nnrti_fake_span found, const char *expected)
{
    char text[48];
    return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "fake device: %s has '%s', expected %s", nnrti_fake_keys[key],
                          nnrti_fake_text(found, text), expected);
}

/* Parses a name of 1 to 63 characters. */
static NNRT_ReturnCode nnrti_fake_take_name(int32_t key, nnrti_fake_span s, char *name, nnrt_error *error)
{
    if (s.at == NULL)
        return NNRT_SUCCESS;
    if (s.length == 0 || s.length > 63)
        return nnrti_fake_bad(error, key, s, "a name of 1 to 63 characters");
    memcpy(name, s.at, s.length);
    name[s.length] = '\0';
    return NNRT_SUCCESS;
}

/* Checks that a list contains only names of operators. */
static NNRT_ReturnCode nnrti_fake_take_ops(int32_t key, nnrti_fake_span list, nnrt_error *error)
{
    nnrti_fake_span rest = list;
    bool known = list.at == NULL || (list.length > 0 && list.at[list.length - 1] != '+');
    while (known && rest.length > 0) {
        const nnrti_fake_span s = nnrti_fake_next(&rest, '+');
        known = false;
        for (uint32_t k = 0; !known && nnrt_op_at(k) != NULL; k++)
            known = nnrti_fake_is(s, nnrt_op_at(k)->name);
        list = s;
    }
    return known ? NNRT_SUCCESS : nnrti_fake_bad(error, key, list, "operator names separated by +, such as ADD_FUSION");
}

/* Returns the index of the slot named s; NNRT_FAKE_SLOT_COUNT: there is none. */
static uint32_t nnrti_fake_find_slot(nnrti_fake_span s)
{
    uint32_t i = 0;
    while (i < NNRT_FAKE_SLOT_COUNT && !nnrti_fake_is(s, nnrti_fake_slots[i].name))
        i++;
    return i;
}

/* Parses a list of slots, each at most once. numbered: SLOT:NUMBER is allowed; `other` is the default number, 0: the
   number is required. Stores the number, or 1 in lists without numbers, in numbers[slot]. */
static NNRT_ReturnCode nnrti_fake_take_slots(int32_t key, nnrti_fake_span list, bool numbered, uint32_t other,
                                             uint32_t *numbers, nnrt_error *error)
{
    bool more = list.at != NULL, seen[NNRT_FAKE_SLOT_COUNT];
    memset(seen, 0, sizeof(seen));
    while (more) {
        nnrti_fake_span s, rest, whole;
        uint32_t slot, number = other;
        more = memchr(list.at, '+', list.length) != NULL;
        rest = whole = nnrti_fake_next(&list, '+');
        s = nnrti_fake_next(&rest, ':');
        if ((slot = nnrti_fake_find_slot(s)) == NNRT_FAKE_SLOT_COUNT)
            return nnrti_fake_bad(error, key, s, "a slot of the device tables, such as PrepareModel or RunIn");
        if (s.length < whole.length && (!numbered || !nnrti_fake_number(rest, &number) || (number == 0 && other != 0)))
            return nnrti_fake_bad(error, key, whole, numbered ? "SLOT:NUMBER" : "a slot without a number");
        if (s.length == whole.length && numbered && other == 0)
            return nnrti_fake_bad(error, key, whole, "SLOT:MILLISECONDS");
        if (seen[slot])
            return nnrti_fake_bad(error, key, whole, "each slot at most once");
        seen[slot] = true;
        numbers[slot] = number;
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_fake_take_dims(nnrt_fake *f, nnrti_fake_span s, nnrt_error *error)
{
    nnrti_fake_span rest = s, least, most;
    uint32_t numbers[2] = {0, INT32_MAX};
    if (s.at != NULL) {
        least = nnrti_fake_next(&rest, '.');
        most = rest;
        if (most.length < 2 || *most.at++ != '.')
            return nnrti_fake_bad(error, NNRTI_FAKE_DIMS, s, "LEAST..MOST");
        most.length--;
        if (!nnrti_fake_number(least, &numbers[0]) || !nnrti_fake_number(most, &numbers[1]) || numbers[0] > numbers[1])
            return nnrti_fake_bad(error, NNRTI_FAKE_DIMS, s, "LEAST..MOST with LEAST <= MOST");
    }
    f->least = (int32_t)numbers[0];
    f->most = (int32_t)numbers[1];
    return NNRT_SUCCESS;
}

/* Parses yes or no; if the option is absent, *answer keeps its value. */
static NNRT_ReturnCode nnrti_fake_take_answer(int32_t key, const nnrti_fake_span *values, bool *answer,
                                              nnrt_error *error)
{
    const nnrti_fake_span s = values[key];
    if (s.at == NULL)
        return NNRT_SUCCESS;
    *answer = nnrti_fake_is(s, "yes");
    return *answer || nnrti_fake_is(s, "no") ? NNRT_SUCCESS : nnrti_fake_bad(error, key, s, "yes or no");
}

static NNRT_ReturnCode nnrti_fake_take_type(nnrt_fake *f, nnrti_fake_span s, nnrt_error *error)
{
    f->type = NNRT_DEVICE_TYPE_ACCELERATOR;
    if (s.at == NULL)
        return NNRT_SUCCESS;
#define NNRTI_FAKE_TYPE_IS(prefix, type_name, value)                                                                   \
    if (nnrti_fake_is(s, #type_name)) {                                                                                \
        f->type = value;                                                                                               \
        return NNRT_SUCCESS;                                                                                           \
    }
    NNRT_ENUM_DeviceType(NNRTI_FAKE_TYPE_IS)
#undef NNRTI_FAKE_TYPE_IS
        return nnrti_fake_bad(error, NNRTI_FAKE_TYPE, s, "OTHER, CPU, GPU or ACCELERATOR");
}

static NNRT_ReturnCode nnrti_fake_take_code(nnrt_fake *f, nnrti_fake_span s, nnrt_error *error)
{
    f->code = NNRT_DEVICE_ERROR;
    if (s.at == NULL)
        return NNRT_SUCCESS;
    for (f->code = NNRT_FAILED; f->code <= NNRT_UNSUPPORTED_OP; f->code++)
        if (nnrti_fake_is(s, nnrt_code_name(f->code) + strlen("NNRT_")))
            return NNRT_SUCCESS;
    return nnrti_fake_bad(error, NNRTI_FAKE_CODE, s, "a return code other than SUCCESS, such as TIME_OUT");
}

static NNRT_ReturnCode nnrti_fake_take_cache(nnrt_fake *f, nnrti_fake_span s, nnrt_error *error)
{
    static const char *const ways[NNRTI_FAKE_CACHE_WAYS] = {"no", "yes", "garbage", "count", "refuse"};
    f->cache = NNRTI_FAKE_CACHE_NO;
    if (s.at == NULL)
        return NNRT_SUCCESS;
    while (f->cache < NNRTI_FAKE_CACHE_WAYS && !nnrti_fake_is(s, ways[f->cache]))
        f->cache++;
    return f->cache < NNRTI_FAKE_CACHE_WAYS
               ? NNRT_SUCCESS
               : nnrti_fake_bad(error, NNRTI_FAKE_CACHE, s, "no, yes, garbage, count or refuse");
}

/* Splits the options into values[key]. */
static NNRT_ReturnCode nnrti_fake_split(nnrti_fake_span rest, nnrti_fake_span *values, nnrt_error *error)
{
    char text[48];
    while (rest.length > 0) {
        const bool ends = rest.at[rest.length - 1] == ',';
        nnrti_fake_span s = nnrti_fake_next(&rest, ','), key;
        const nnrti_fake_span whole = s;
        uint32_t k = 0;
        key = nnrti_fake_next(&s, '=');
        while (k < NNRTI_FAKE_KEYS && !nnrti_fake_is(key, nnrti_fake_keys[k]))
            k++;
        if (k == NNRTI_FAKE_KEYS || key.length == whole.length || (rest.length == 0 && ends))
            return nnrt_error_set(
                error, NNRT_INVALID_PARAMETER,
                "fake device: found '%s', expected KEY=VALUE with a key of name, vendor, type, ops, not, "
                "dims, dynamic, float16, modes, priorities, without, delay, hang, fail, die, code, garbage, cache",
                nnrti_fake_text(rest.length == 0 && ends ? rest : whole, text));
        if (values[k].at != NULL)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "fake device: %s occurs twice, expected once",
                                  nnrti_fake_keys[k]);
        values[k] = s;
    }
    return NNRT_SUCCESS;
}

/* Stores all options except without=, whose slots it returns. */
static NNRT_ReturnCode nnrti_fake_parse(nnrt_fake *f, const nnrti_fake_span *v, uint32_t *without, nnrt_error *error)
{
    uint32_t garbage[NNRT_FAKE_SLOT_COUNT];
    NNRT_ReturnCode code;
    memset(garbage, 0, sizeof(garbage));
    memset(f->hang, 0xFF, sizeof(f->hang));
    memcpy(f->name, "fake", sizeof("fake"));
    memcpy(f->vendor, "nnrt", sizeof("nnrt"));
    f->ops = v[NNRTI_FAKE_OPS];
    f->barred = v[NNRTI_FAKE_NOT];
    f->dynamic = true;
    if ((code = nnrti_fake_take_answer(NNRTI_FAKE_DYNAMIC, v, &f->dynamic, error)) != NNRT_SUCCESS ||
        (code = nnrti_fake_take_answer(NNRTI_FAKE_FLOAT16, v, &f->float16, error)) != NNRT_SUCCESS ||
        (code = nnrti_fake_take_answer(NNRTI_FAKE_MODES, v, &f->modes, error)) != NNRT_SUCCESS ||
        (code = nnrti_fake_take_answer(NNRTI_FAKE_PRIORITIES, v, &f->priorities, error)) != NNRT_SUCCESS)
        return code;
    if ((code = nnrti_fake_take_name(NNRTI_FAKE_NAME, v[NNRTI_FAKE_NAME], f->name, error)) != NNRT_SUCCESS ||
        (code = nnrti_fake_take_name(NNRTI_FAKE_VENDOR, v[NNRTI_FAKE_VENDOR], f->vendor, error)) != NNRT_SUCCESS ||
        (code = nnrti_fake_take_type(f, v[NNRTI_FAKE_TYPE], error)) != NNRT_SUCCESS ||
        (code = nnrti_fake_take_code(f, v[NNRTI_FAKE_CODE], error)) != NNRT_SUCCESS ||
        (code = nnrti_fake_take_dims(f, v[NNRTI_FAKE_DIMS], error)) != NNRT_SUCCESS ||
        (code = nnrti_fake_take_cache(f, v[NNRTI_FAKE_CACHE], error)) != NNRT_SUCCESS ||
        (code = nnrti_fake_take_ops(NNRTI_FAKE_OPS, f->ops, error)) != NNRT_SUCCESS ||
        (code = nnrti_fake_take_ops(NNRTI_FAKE_NOT, f->barred, error)) != NNRT_SUCCESS ||
        (code = nnrti_fake_take_slots(NNRTI_FAKE_WITHOUT, v[NNRTI_FAKE_WITHOUT], false, 1, without, error)) !=
            NNRT_SUCCESS ||
        (code = nnrti_fake_take_slots(NNRTI_FAKE_DELAY, v[NNRTI_FAKE_DELAY], true, 0, f->delay, error)) !=
            NNRT_SUCCESS ||
        (code = nnrti_fake_take_slots(NNRTI_FAKE_HANG, v[NNRTI_FAKE_HANG], true, 0, f->hang, error)) != NNRT_SUCCESS ||
        (code = nnrti_fake_take_slots(NNRTI_FAKE_DIE, v[NNRTI_FAKE_DIE], true, 1, f->die, error)) != NNRT_SUCCESS ||
        (code = nnrti_fake_take_slots(NNRTI_FAKE_FAIL, v[NNRTI_FAKE_FAIL], true, NNRTI_FAKE_EACH, f->fail, error)) !=
            NNRT_SUCCESS ||
        (code = nnrti_fake_take_slots(NNRTI_FAKE_GARBAGE, v[NNRTI_FAKE_GARBAGE], false, 1, garbage, error)) !=
            NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < NNRT_FAKE_SLOT_COUNT; i++) {
        f->garbage[i] = garbage[i] != 0;
        if (f->die[i] != 0 && nnrti_fake_end == NULL)
            return nnrt_error_set(error, NNRT_INVALID_PARAMETER,
                                  "fake device: die= requires that the program has called nnrt_fake_may_die");
    }
    return NNRT_SUCCESS;
}

/* Sleeps for `milliseconds` (0: without limit), but not longer than until the counter of wake calls differs from
   `woken`. */
static void nnrti_fake_sleep(nnrt_fake *f, uint32_t milliseconds, uint32_t woken)
{
#if defined(__unix__) || defined(__APPLE__)
    struct timeval begin, now;
    (void)gettimeofday(&begin, NULL);
    now = begin;
    while (NNRTI_FAKE_GET(&f->woken) == woken &&
           (milliseconds == 0 || (int64_t)(now.tv_sec - begin.tv_sec) * 1000 + (now.tv_usec - begin.tv_usec) / 1000 <
                                     (int64_t)milliseconds)) {
        (void)poll(NULL, 0, 1);
        (void)gettimeofday(&now, NULL);
    }
#else
    const clock_t start = clock();
    while (NNRTI_FAKE_GET(&f->woken) == woken &&
           (milliseconds == 0 || (double)(clock() - start) * 1000 < (double)milliseconds * CLOCKS_PER_SEC))
        continue;
#endif
}

/* Entry of every slot: counts the call, applies delay, hang and die, and returns the code of fail. The wake counter is
   read before the call is counted, so that a thread that sees the count can wake the call. */
static NNRT_ReturnCode nnrti_fake_enter(nnrt_fake *f, uint32_t slot)
{
    const uint32_t woken = NNRTI_FAKE_GET(&f->woken), call = NNRTI_FAKE_ADD(&f->record.calls[slot]);
    const clock_t start = clock();
    while (f->delay[slot] > 0 && (double)(clock() - start) * 1000 < (double)f->delay[slot] * CLOCKS_PER_SEC)
        continue;
    if (f->hang[slot] != NNRTI_FAKE_EACH)
        nnrti_fake_sleep(f, f->hang[slot], woken);
    if (f->die[slot] == call)
        nnrti_fake_end();
    return f->fail[slot] == NNRTI_FAKE_EACH || f->fail[slot] == call ? f->code : NNRT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>fake_form */

/* Serializer of models, in the order of the structs and the machine's byte order. One walk counts, writes and reads. */
typedef struct nnrti_fake_serializer {
    uint8_t *out;      /* NULL: counting or reading */
    const uint8_t *in; /* NULL: counting or writing */
    size_t at, bytes;  /* bytes: size of in */
    nnrt_memory *memory;
    bool bad; /* sticky: the input is too short, a size overflows, or out of memory */
} nnrti_fake_serializer;

/* Header of a serialized model: the first block of a cache. */
typedef struct nnrti_fake_header {
    char magic[8];
    uint64_t bytes, checksum; /* of the serialized model: FNV-1a-64 */
} nnrti_fake_header;

#define NNRTI_FAKE_MAGIC "nnrtfak1"

static void nnrti_fake_bytes(nnrti_fake_serializer *f, void *data, size_t bytes)
{
    size_t end;
    f->bad = f->bad || !nnrt_add_size(f->at, bytes, &end) || (f->in != NULL && end > f->bytes);
    if (f->bad || bytes == 0)
        return;
    if (f->in != NULL)
        memcpy(data, f->in + f->at, bytes);
    else if (f->out != NULL)
        memcpy(f->out + f->at, data, bytes);
    f->at = end;
}

/* A list of plain entries of `width` bytes; when reading, the list is allocated from f->memory. */
static void nnrti_fake_list(nnrti_fake_serializer *f, const void **data, uint32_t *count, size_t width)
{
    void *list = NULL;
    size_t bytes = 0;
    nnrti_fake_bytes(f, count, sizeof(*count));
    f->bad = f->bad || !nnrt_mul_size(*count, width, &bytes) || (f->in != NULL && bytes > f->bytes - f->at) ||
             (f->in == NULL && *count > 0 && *data == NULL);
    if (f->in != NULL) {
        if (!f->bad && *count > 0 && (list = nnrt_memory_keep_aligned(f->memory, bytes)) == NULL)
            f->bad = true;
        *count = f->bad ? 0 : *count;
        *data = list;
    }
    if (!f->bad && *data != NULL)
        nnrti_fake_bytes(f, (void *)(uintptr_t)*data, bytes);
}

/* A list of structs whose members the caller then serializes; when reading, the allocated structs are zeros. */
static void nnrti_fake_table(nnrti_fake_serializer *f, const void **data, uint32_t *count, size_t width)
{
    size_t bytes = 0;
    nnrti_fake_bytes(f, count, sizeof(*count));
    f->bad = f->bad || !nnrt_mul_size(*count, width, &bytes) || (f->in != NULL && *count > f->bytes - f->at);
    if (f->in == NULL)
        return;
    *data = f->bad || *count == 0 ? NULL : nnrt_memory_keep(f->memory, bytes);
    f->bad = f->bad || (*count > 0 && *data == NULL);
    *count = f->bad ? 0 : *count;
}

#define NNRTI_FAKE_TABLE(f, list)                                                                                      \
    nnrti_fake_table(f, (const void **)(void *)&(list).data, &(list).count, sizeof(*(list).data))
#define NNRTI_FAKE_LIST(f, list)                                                                                       \
    nnrti_fake_list(f, (const void **)(void *)&(list).data, &(list).count, sizeof(*(list).data))

static void nnrti_fake_name(nnrti_fake_serializer *f, const char **name)
{
    uint32_t count = f->in == NULL && *name != NULL ? (uint32_t)strlen(*name) + 1 : 0;
    nnrti_fake_list(f, (const void **)(void *)name, &count, 1);
    if (f->in != NULL && count > 0 && (*name)[count - 1] != '\0') {
        f->bad = true;
        *name = NULL;
    }
}

/* One attribute, including the data that it points to. */
static void nnrti_fake_attr(nnrti_fake_serializer *f, const nnrt_attr_member *m, uint8_t *at)
{
    NNRT_Int64Lists *lists = (NNRT_Int64Lists *)(void *)at;
    switch (m->kind) {
    case NNRT_ATTR_KIND_STRING: nnrti_fake_name(f, (const char **)(void *)at); break;
    case NNRT_ATTR_KIND_INTS:
    case NNRT_ATTR_KIND_INTS64: NNRTI_FAKE_LIST(f, *(NNRT_Int64List *)(void *)at); break;
    case NNRT_ATTR_KIND_FLOATS: NNRTI_FAKE_LIST(f, *(NNRT_FloatList *)(void *)at); break;
    case NNRT_ATTR_KIND_INTS2:
        NNRTI_FAKE_TABLE(f, *lists);
        for (uint32_t i = 0; !f->bad && lists->data != NULL && i < lists->count; i++)
            NNRTI_FAKE_LIST(f, ((NNRT_Int64List *)(uintptr_t)lists->data)[i]);
        break;
    case NNRT_ATTR_KIND_BOOL:
        nnrti_fake_bytes(f, at, 1);
        if (f->in != NULL)
            *at = *at != 0;
        break;
    default: nnrti_fake_bytes(f, at, m->bytes); break;
    }
}

/* The attributes of a node. Its struct may be shorter than the current one, but not longer. */
static void nnrti_fake_attrs(nnrti_fake_serializer *f, NNRT_Node *n)
{
    const nnrt_op *op = nnrt_op_find(n->nodeType);
    const nnrt_attr_struct *s = op != NULL ? op->attr : NULL;
    uint32_t bytes = n->nodeAttr.data != NULL && s != NULL ? n->nodeAttr.size : 0;
    void *own = (void *)(uintptr_t)n->nodeAttr.data;
    nnrti_fake_bytes(f, &bytes, sizeof(bytes));
    if (f->in != NULL) {
        n->nodeAttr.data = NULL;
        n->nodeAttr.size = 0;
        f->bad = f->bad || (bytes != 0 && (s == NULL || bytes > s->bytes));
        if (f->bad || bytes == 0 || (own = nnrt_memory_keep(f->memory, s->bytes)) == NULL) {
            f->bad = f->bad || bytes != 0;
            return;
        }
        n->nodeAttr.data = own;
        n->nodeAttr.size = bytes;
    }
    for (uint32_t i = 0; bytes != 0 && i < s->count; i++)
        if (s->members[i].offset + s->members[i].bytes <= bytes)
            nnrti_fake_attr(f, &s->members[i], (uint8_t *)own + s->members[i].offset);
}

static void nnrti_fake_tensor(nnrti_fake_serializer *f, NNRT_Tensor *t)
{
    uint32_t bytes = t->data.dataSize;
    const void *data = t->data.addr != NULL ? (const uint8_t *)t->data.addr + t->data.offset : NULL;
    uint8_t constant = data != NULL;
    nnrti_fake_name(f, &t->name);
    nnrti_fake_bytes(f, &t->dataType, sizeof(t->dataType));
    NNRTI_FAKE_LIST(f, t->dims);
    nnrti_fake_bytes(f, &t->format, sizeof(t->format));
    NNRTI_FAKE_LIST(f, t->quantParams);
    nnrti_fake_bytes(f, &t->quantAxis, sizeof(t->quantAxis));
    NNRTI_FAKE_LIST(f, t->symbols);
    nnrti_fake_bytes(f, &constant, 1);
    if (f->in != NULL)
        t->data.fd = -1;
    if (!f->bad && constant != 0)
        nnrti_fake_list(f, &data, &bytes, 1);
    if (f->in != NULL && !f->bad && constant != 0) {
        t->data.addr = data != NULL ? (void *)(uintptr_t)data : (void *)t; /* a constant of 0 bytes still needs an
                                                                              address */
        t->data.bufferSize = t->data.dataSize = bytes;
    }
}

static void nnrti_fake_node(nnrti_fake_serializer *f, NNRT_Node *n)
{
    nnrti_fake_name(f, &n->name);
    nnrti_fake_bytes(f, &n->nodeType, sizeof(n->nodeType));
    nnrti_fake_bytes(f, &n->quantType, sizeof(n->quantType));
    nnrti_fake_attrs(f, n);
    NNRTI_FAKE_LIST(f, n->inputIndex);
    NNRTI_FAKE_LIST(f, n->outputIndex);
}

static void nnrti_fake_graph(nnrti_fake_serializer *f, NNRT_SubGraph *g)
{
    nnrti_fake_name(f, &g->name);
    NNRTI_FAKE_LIST(f, g->inputIndices);
    NNRTI_FAKE_LIST(f, g->outputIndices);
    NNRTI_FAKE_LIST(f, g->nodeIndices);
}

/* Serializes or deserializes a model. When writing, the model is not changed. */
static void nnrti_fake_serialize_model(nnrti_fake_serializer *f, NNRT_Model *m)
{
    nnrti_fake_name(f, &m->name);
    NNRTI_FAKE_LIST(f, m->inputIndex);
    NNRTI_FAKE_LIST(f, m->outputIndex);
    NNRTI_FAKE_TABLE(f, m->nodes);
    for (uint32_t i = 0; !f->bad && i < m->nodes.count; i++)
        nnrti_fake_node(f, (NNRT_Node *)(uintptr_t)&m->nodes.data[i]);
    NNRTI_FAKE_TABLE(f, m->allTensors);
    for (uint32_t i = 0; !f->bad && i < m->allTensors.count; i++)
        nnrti_fake_tensor(f, (NNRT_Tensor *)(uintptr_t)&m->allTensors.data[i]);
    NNRTI_FAKE_TABLE(f, m->subGraph);
    for (uint32_t i = 0; !f->bad && i < m->subGraph.count; i++)
        nnrti_fake_graph(f, (NNRT_SubGraph *)(uintptr_t)&m->subGraph.data[i]);
}

/* Writes a serialized model; out NULL: computes *bytes only. */
static bool nnrti_fake_write(const NNRT_Model *model, uint8_t *out, size_t *bytes)
{
    NNRT_Model m = *model;
    nnrti_fake_serializer f;
    memset(&f, 0, sizeof(f));
    f.out = out;
    nnrti_fake_serialize_model(&f, &m);
    *bytes = f.at;
    return !f.bad && f.at <= UINT32_MAX;
}

static uint64_t nnrti_fake_checksum(const uint8_t *data, size_t bytes)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ data[i]) * (uint64_t)0x100000001B3u;
    return hash;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>fake_model */

typedef struct nnrti_fake_model {
    NNRT_PreparedModel base; /* first: the handle is the address of this struct */
    nnrt_fake *fake;
    NNRT_PreparedModel *inner; /* the plan */
    nnrt_allocator allocator;
    bool allocated;
    size_t head; /* bytes of this struct, `reads` and the serialized model */
    bool *reads; /* for each input: whether a node reads it; an unread input may have any shape */
    uint32_t nIn;
    nnrti_fake_header header;
    NNRT_SharedBuffer cache[2]; /* header and serialized model */
} nnrti_fake_model;

/* Computes the bytes before the plan, a multiple of NNRT_ALIGNMENT: the struct, `reads` and, for a model cache, the
   serialized model. */
static bool nnrti_fake_head(const nnrt_fake *f, const NNRT_Model *model, size_t *head)
{
    size_t form = 0;
    if ((f->cache != NNRTI_FAKE_CACHE_NO && !nnrti_fake_write(model, NULL, &form)) ||
        !nnrt_add_size(sizeof(nnrti_fake_model) + NNRT_ALIGNMENT - 1, form, head) ||
        !nnrt_add_size(*head, model->inputIndex.count, head))
        return false;
    *head = *head / NNRT_ALIGNMENT * NNRT_ALIGNMENT;
    return true;
}

/* Finds out which of the model's inputs a node reads. */
static void nnrti_fake_find_reads(const NNRT_Model *model, bool *reads)
{
    for (uint32_t i = 0; i < model->inputIndex.count; i++) {
        reads[i] = false;
        for (uint32_t n = 0; n < model->nodes.count && !reads[i]; n++)
            for (uint32_t k = 0; k < model->nodes.data[n].inputIndex.count; k++)
                reads[i] = reads[i] || model->nodes.data[n].inputIndex.data[k] == model->inputIndex.data[i];
    }
}

static nnrti_fake_model *nnrti_fake_of(NNRT_PreparedModel *self)
{
    return (nnrti_fake_model *)(void *)self;
}

static void nnrti_fake_garbage_dims(nnrt_dims *dims)
{
    memset(dims, 0x7B, sizeof(*dims));
    dims->rank = 77;
    dims->dims[0] = -5;
}

static NNRT_ReturnCode nnrti_fake_get_ranges(NNRT_PreparedModel *self, bool output, uint32_t index, nnrt_dims *least,
                                             nnrt_dims *most)
{
    const nnrti_fake_model *m = nnrti_fake_of(self);
    const uint32_t slot = output ? NNRT_FAKE_GetOutputDimRanges : NNRT_FAKE_GetInputDimRanges;
    NNRT_ReturnCode code = nnrti_fake_enter(m->fake, slot);
    if (code != NNRT_SUCCESS)
        return code;
    code = output ? m->inner->vtbl->GetOutputDimRanges(m->inner, index, least, most)
                  : m->inner->vtbl->GetInputDimRanges(m->inner, index, least, most);
    if (code != NNRT_SUCCESS)
        return code;
    for (int32_t k = 0; !output && m->reads[index] && k < least->rank; k++)
        if (least->dims[k] < m->fake->least && least->dims[k] != most->dims[k])
            least->dims[k] = m->fake->least;
    if (m->fake->garbage[slot]) {
        nnrti_fake_garbage_dims(most);
        nnrti_fake_garbage_dims(least);
        least->dims[0] = 5;
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode nnrti_fake_input_ranges(NNRT_PreparedModel *self, uint32_t index, nnrt_dims *least,
                                               nnrt_dims *most)
{
    return nnrti_fake_get_ranges(self, false, index, least, most);
}

static NNRT_ReturnCode nnrti_fake_output_ranges(NNRT_PreparedModel *self, uint32_t index, nnrt_dims *least,
                                                nnrt_dims *most)
{
    return nnrti_fake_get_ranges(self, true, index, least, most);
}

/* Checks the input dimensions of a run against the device's range. */
static NNRT_ReturnCode nnrti_fake_check_inputs(const nnrti_fake_model *m, const NNRT_IOTensor *inputs, uint32_t nIn,
                                               nnrt_error *error)
{
    const nnrt_fake *f = m->fake;
    for (uint32_t i = 0; inputs != NULL && i < nIn && i < m->nIn; i++)
        for (uint32_t k = 0; m->reads[i] && inputs[i].dimensions.data != NULL && k < inputs[i].dimensions.count; k++)
            if (inputs[i].dimensions.data[k] < f->least || inputs[i].dimensions.data[k] > f->most)
                return nnrt_error_set(error, NNRT_OUT_OF_DIMENTION_RANGES,
                                      "device '%s': axis %u of input %u has size %d, expected %d to %d", f->name, k, i,
                                      inputs[i].dimensions.data[k], f->least, f->most);
    return NNRT_SUCCESS;
}

/* A run through any of the slots RunIn, Run and RunV1; workspace NULL: the model's own. */
static NNRT_ReturnCode nnrti_fake_compute(NNRT_PreparedModel *self, uint32_t slot, void *workspace, size_t bytes,
                                          const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                          uint32_t nOut, nnrt_dims *outputDims, nnrt_error *error)
{
    const nnrti_fake_model *m = nnrti_fake_of(self);
    NNRT_ReturnCode code = nnrti_fake_enter(m->fake, slot);
    if (code != NNRT_SUCCESS)
        return nnrt_error_set(error, code, "device '%s' was told to fail", m->fake->name);
    if ((code = nnrti_fake_check_inputs(m, inputs, nIn, error)) != NNRT_SUCCESS)
        return code;
    code = slot == NNRT_FAKE_RunIn
               ? m->inner->vtbl->RunIn(m->inner, workspace, bytes, inputs, nIn, outputs, nOut, outputDims, error)
               : m->inner->vtbl->Run(m->inner, inputs, nIn, outputs, nOut, outputDims);
    for (uint32_t i = 0; m->fake->garbage[slot] && outputDims != NULL && i < nOut; i++)
        nnrti_fake_garbage_dims(&outputDims[i]);
    return code;
}

static NNRT_ReturnCode nnrti_fake_run_in(NNRT_PreparedModel *self, void *workspace, size_t bytes,
                                         const NNRT_IOTensor *inputs, uint32_t nIn, const NNRT_IOTensor *outputs,
                                         uint32_t nOut, nnrt_dims *outputDims, nnrt_error *error)
{
    return nnrti_fake_compute(self, NNRT_FAKE_RunIn, workspace, bytes, inputs, nIn, outputs, nOut, outputDims, error);
}

static NNRT_ReturnCode nnrti_fake_run(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                                      const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    return nnrti_fake_compute(self, NNRT_FAKE_Run, NULL, 0, inputs, nIn, outputs, nOut, outputDims, NULL);
}

/* HDI 1.0 reports too small outputs by a flag for each output. The plan does not report which output it is, so all
   flags are false. */
static NNRT_ReturnCode nnrti_fake_run_v1(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                                         const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                                         bool *isOutputBufferEnough)
{
    const NNRT_ReturnCode code =
        nnrti_fake_compute(self, NNRT_FAKE_RunV1, NULL, 0, inputs, nIn, outputs, nOut, outputDims, NULL);
    for (uint32_t i = 0; isOutputBufferEnough != NULL && i < nOut; i++)
        isOutputBufferEnough[i] = code != NNRT_INSUFFICIENT_BUFFER;
    return code == NNRT_INSUFFICIENT_BUFFER ? NNRT_SUCCESS : code;
}

static NNRT_ReturnCode nnrti_fake_workspace(NNRT_PreparedModel *self, size_t *bytes)
{
    const nnrti_fake_model *m = nnrti_fake_of(self);
    NNRT_ReturnCode code = nnrti_fake_enter(m->fake, NNRT_FAKE_GetWorkspaceSize);
    if (code == NNRT_SUCCESS)
        code = m->inner->vtbl->GetWorkspaceSize(m->inner, bytes);
    if (code == NNRT_SUCCESS && m->fake->garbage[NNRT_FAKE_GetWorkspaceSize])
        *bytes = SIZE_MAX;
    return code;
}

static NNRT_ReturnCode nnrti_fake_io(NNRT_PreparedModel *self, bool output, uint32_t index, NNRT_DataType *type,
                                     nnrt_dims *shape)
{
    const nnrti_fake_model *m = nnrti_fake_of(self);
    NNRT_ReturnCode code = nnrti_fake_enter(m->fake, NNRT_FAKE_GetIO);
    if (code == NNRT_SUCCESS)
        code = m->inner->vtbl->GetIO(m->inner, output, index, type, shape);
    if (code == NNRT_SUCCESS && m->fake->garbage[NNRT_FAKE_GetIO]) {
        nnrti_fake_garbage_dims(shape);
        *type = 99;
    }
    return code;
}

static NNRT_ReturnCode nnrti_fake_get_memory(NNRT_PreparedModel *self, nnrt_prepared_memory *memory)
{
    const nnrti_fake_model *m = nnrti_fake_of(self);
    NNRT_ReturnCode code = nnrti_fake_enter(m->fake, NNRT_FAKE_GetMemory);
    if (code == NNRT_SUCCESS)
        code = m->inner->vtbl->GetMemory(m->inner, memory);
    if (code == NNRT_SUCCESS)
        memory->tables += m->head;
    if (code == NNRT_SUCCESS && m->fake->garbage[NNRT_FAKE_GetMemory])
        memset(memory, 0xFF, sizeof(*memory));
    return code;
}

static void nnrti_fake_release(NNRT_PreparedModel *self)
{
    nnrti_fake_model *m = nnrti_fake_of(self);
    const nnrt_allocator allocator = m->allocator;
    (void)NNRTI_FAKE_ADD(&m->fake->record.released);
    m->inner->vtbl->Destroy(m->inner);
    if (m->allocated)
        nnrt_free(&allocator, m, m->head);
}

/* Exports the cache; with cache=count more blocks than allowed. */
static NNRT_ReturnCode nnrti_fake_export(NNRT_PreparedModel *self, const NNRT_SharedBuffer **buffers, uint32_t *count)
{
    const nnrti_fake_model *m = nnrti_fake_of(self);
    const bool garbage = m->fake->garbage[NNRT_FAKE_ExportModelCache];
    const NNRT_ReturnCode code = nnrti_fake_enter(m->fake, NNRT_FAKE_ExportModelCache);
    *buffers = garbage ? NULL : m->cache;
    *count = m->fake->cache == NNRTI_FAKE_CACHE_COUNT || garbage ? 0x7B7B7B7Bu : 2;
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>fake_table */

static NNRT_ReturnCode nnrti_fake_version(void *self, uint32_t *major, uint32_t *minor)
{
    *major = 1;
    *minor = 0;
    return nnrti_fake_enter((nnrt_fake *)self, NNRT_FAKE_GetVersion);
}

static NNRT_ReturnCode nnrti_fake_get_name(void *self, const char **name)
{
    *name = ((nnrt_fake *)self)->name;
    return nnrti_fake_enter((nnrt_fake *)self, NNRT_FAKE_GetDeviceName);
}

static NNRT_ReturnCode nnrti_fake_get_vendor(void *self, const char **name)
{
    *name = ((nnrt_fake *)self)->vendor;
    return nnrti_fake_enter((nnrt_fake *)self, NNRT_FAKE_GetVendorName);
}

static NNRT_ReturnCode nnrti_fake_type(void *self, NNRT_DeviceType *type)
{
    *type = ((nnrt_fake *)self)->type;
    return nnrti_fake_enter((nnrt_fake *)self, NNRT_FAKE_GetDeviceType);
}

static NNRT_ReturnCode nnrti_fake_status(void *self, NNRT_DeviceStatus *status)
{
    *status = NNRT_DEVICE_STATUS_AVAILABLE;
    return nnrti_fake_enter((nnrt_fake *)self, NNRT_FAKE_GetDeviceStatus);
}

static NNRT_ReturnCode nnrti_fake_dynamic(void *self, bool *isSupported)
{
    *isSupported = ((nnrt_fake *)self)->dynamic;
    return nnrti_fake_enter((nnrt_fake *)self, NNRT_FAKE_IsDynamicInputSupported);
}

static NNRT_ReturnCode nnrti_fake_float16(void *self, bool *isSupported)
{
    *isSupported = ((nnrt_fake *)self)->float16;
    return nnrti_fake_enter((nnrt_fake *)self, NNRT_FAKE_IsFloat16PrecisionSupported);
}

static NNRT_ReturnCode nnrti_fake_modes(void *self, bool *isSupported)
{
    *isSupported = ((nnrt_fake *)self)->modes;
    return nnrti_fake_enter((nnrt_fake *)self, NNRT_FAKE_IsPerformanceModeSupported);
}

static NNRT_ReturnCode nnrti_fake_priorities(void *self, bool *isSupported)
{
    *isSupported = ((nnrt_fake *)self)->priorities;
    return nnrti_fake_enter((nnrt_fake *)self, NNRT_FAKE_IsPrioritySupported);
}

/* Checks that the device supports the operator of node n. */
static NNRT_ReturnCode nnrti_fake_check_op(const nnrt_fake *f, const NNRT_Model *model, uint32_t n, nnrt_error *error)
{
    const NNRT_Node *node = &model->nodes.data[n];
    const nnrt_op *op = nnrt_op_find(node->nodeType);
    if (op == NULL || (op->type > 0 && (f->ops.at == NULL || nnrti_fake_lists(f->ops, op->name)) &&
                       !(f->barred.at != NULL && nnrti_fake_lists(f->barred, op->name))))
        return NNRT_SUCCESS; /* unknown operators: the plan reports them; custom operators (type <= 0) are unsupported
                                */
    (void)nnrt_error_set(error, NNRT_UNSUPPORTED_OP, "node %u '%s' (%s): device '%s' does not have this operator", n,
                         node->name != NULL ? node->name : "", op->name, f->name);
    if (error != NULL && error->code == NNRT_UNSUPPORTED_OP)
        error->node = (int32_t)n;
    return NNRT_UNSUPPORTED_OP;
}

/* Checks the dimensions of all inputs and outputs of node n against the device's range. tensors: those of the model.
   Unknown ranks and dimensions pass. */
static NNRT_ReturnCode nnrti_fake_check_dims(const nnrt_fake *f, const NNRT_Model *model, uint32_t n,
                                             const nnrt_operand *tensors, nnrt_error *error)
{
    const NNRT_Node *node = &model->nodes.data[n];
    const uint32_t count = node->inputIndex.count;
    for (uint32_t i = 0; i < count + node->outputIndex.count; i++) {
        const uint32_t t = i < count ? node->inputIndex.data[i] : node->outputIndex.data[i - count];
        for (int32_t k = 0; t != NNRT_NO_TENSOR && k < tensors[t].rank; k++) {
            if (tensors[t].dims[k] < 0 || (tensors[t].dims[k] >= f->least && tensors[t].dims[k] <= f->most))
                continue;
            (void)nnrt_error_set(error, NNRT_INVALID_SHAPE,
                                 "node %u '%s': axis %d of '%s' is %d, device '%s' supports sizes of %d to %d", n,
                                 node->name != NULL ? node->name : "", k, tensors[t].name, tensors[t].dims[k], f->name,
                                 f->least, f->most);
            if (error != NULL && error->code == NNRT_INVALID_SHAPE)
                error->node = (int32_t)n;
            return NNRT_INVALID_SHAPE;
        }
    }
    return NNRT_SUCCESS;
}

/* Infers the shapes of all tensors into temporary memory; NULL: not needed, shape inference failed, or out of memory
   (memory->full). */
static nnrt_operand *nnrti_fake_shapes(const nnrt_fake *f, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                       nnrt_memory *memory)
{
    NNRT_ModelConfig own = *config;
    nnrt_operand *tensors;
    nnrt_mapping *mappings;
    size_t bytes;
    if (f->least == 0 && f->most == INT32_MAX)
        return NULL;
    own.error = NULL;
    tensors = nnrt_mul_size(model->allTensors.count, sizeof(*tensors), &bytes)
                  ? (nnrt_operand *)nnrt_memory_temp(memory, bytes)
                  : NULL;
    model = nnrt_model_map(model, memory, &mappings);
    if (tensors != NULL &&
        (model == NULL || nnrt_model_infer(model, &own, memory, tensors, NULL, NULL) != NNRT_SUCCESS))
        tensors = NULL;
    nnrt_model_unmap(mappings);
    return tensors;
}

/* Forwards the reference device's reasons to the caller. */
typedef struct nnrti_fake_reasons {
    nnrt_reason reason;
    void *user;
} nnrti_fake_reasons;

static void nnrti_fake_refused(void *user, uint32_t node, const nnrt_error *error)
{
    const nnrti_fake_reasons *a = (const nnrti_fake_reasons *)user;
    if (a->reason != NULL)
        a->reason(a->user, node, error);
}

static NNRT_ReturnCode nnrti_fake_ask(nnrt_fake *f, uint32_t slot, const NNRT_Model *model,
                                      const NNRT_ModelConfig *config, bool *isSupported, uint32_t count,
                                      nnrt_reason reason, void *user)
{
    NNRT_ModelConfig own;
    nnrti_fake_reasons asking;
    nnrt_memory memory;
    const nnrt_operand *tensors;
    NNRT_ReturnCode code = nnrti_fake_enter(f, slot);
    if (code != NNRT_SUCCESS)
        return code;
    asking.reason = reason;
    asking.user = user;
    nnrt_config_read(&own, config);
    own.enableFloat16 = false; /* unsupported by the reference device */
    own.mode = NNRT_PERFORMANCE_NONE;
    own.priority = NNRT_PRIORITY_NONE;
    code = nnrt_device_supported(nnrt_device_find("reference"), model, &own, isSupported, count, nnrti_fake_refused,
                                 &asking);
    if (code != NNRT_SUCCESS)
        return code;
    if (own.buffer != NULL)
        nnrt_memory_buffer(&memory, own.buffer, own.bufferBytes);
    else
        nnrt_memory_allocate(&memory, own.allocator);
    tensors = nnrti_fake_shapes(f, model, &own, &memory);
    if (memory.full)
        code =
            nnrt_error_set(own.error, NNRT_OUT_OF_MEMORY, "device '%s' is out of memory for shape inference", f->name);
    for (uint32_t i = 0; i < count && code == NNRT_SUCCESS; i++) {
        nnrt_error error;
        memset(&error, 0, sizeof(error));
        error.capacity = (uint32_t)sizeof(error.message);
        if (!isSupported[i] && !f->garbage[slot])
            continue;
        isSupported[i] = f->garbage[slot] ||
                         (nnrti_fake_check_op(f, model, i, &error) == NNRT_SUCCESS &&
                          (tensors == NULL || nnrti_fake_check_dims(f, model, i, tensors, &error) == NNRT_SUCCESS));
        if (!isSupported[i] && reason != NULL)
            reason(user, i, &error);
    }
    nnrt_memory_end(&memory);
    return code;
}

static NNRT_ReturnCode nnrti_fake_nodes(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                        bool *isSupported, uint32_t count, nnrt_reason reason, void *user)
{
    return nnrti_fake_ask((nnrt_fake *)self, NNRT_FAKE_GetSupportedNodes, model, config, isSupported, count, reason,
                          user);
}

static NNRT_ReturnCode nnrti_fake_supported(void *self, const NNRT_Model *model, bool *isSupported, uint32_t count)
{
    return nnrti_fake_ask((nnrt_fake *)self, NNRT_FAKE_GetSupportedOperation, model, NULL, isSupported, count, NULL,
                          NULL);
}

/* Rounds x to the nearest float16, as a float; ties to even. */
static float nnrti_fake_round(float x)
{
    uint32_t bits, size;
    memcpy(&bits, &x, sizeof(bits));
    size = bits & 0x7FFFFFFFu;
    if (size >= 0x7F800000u) /* infinity and NaN */
        return x;
    if (size >= 0x38800000u) { /* normal float16, 2^-14 and more: 10 mantissa bits remain */
        size += 0xFFFu + (size >> 13 & 1);
        size = size >= 0x47800000u ? 0x7F800000u : size & ~0x1FFFu; /* 2^16 and more: infinity */
    } else {                                                        /* subnormal: multiples of 2^-24 */
        float small;
        memcpy(&small, &size, sizeof(small));
        small *= 16777216.0f;
        size = (uint32_t)small;
        small -= (float)size;
        size += small > 0.5f || (small >= 0.5f && (size & 1) != 0) ? 1 : 0;
        small = (float)size / 16777216.0f;
        memcpy(&size, &small, sizeof(size));
    }
    bits = (bits & 0x80000000u) | size;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* Attributes of a step that rounds its float32 results: the wrapped kernel and its attributes. */
typedef struct nnrti_fake_rounded {
    nnrt_kernel kernel;
    const void *attr;
    uint32_t first, count; /* outputs among the arguments */
} nnrti_fake_rounded;

static NNRT_ReturnCode nnrti_fake_rounded_kernel(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrti_fake_rounded *h = (const nnrti_fake_rounded *)attr;
    const NNRT_ReturnCode code = h->kernel(h->attr, args, call);
    for (uint32_t i = h->first; i < h->first + h->count && code == NNRT_SUCCESS; i++) {
        float *y = (float *)args[i].data;
        size_t count = 0;
        if (y == NULL || args[i].dataType != NNRT_DATA_TYPE_FLOAT32 ||
            !nnrt_dims_count(args[i].dims, args[i].rank, &count))
            continue;
        for (size_t k = 0; k < count; k++)
            y[k] = nnrti_fake_round(y[k]);
    }
    return code;
}

/* Wraps the kernel of each computing step, so that its float32 results are rounded to float16. */
static NNRT_ReturnCode nnrti_fake_round_steps(const nnrt_fake *f, nnrt_draft *draft)
{
    for (uint32_t i = 0; i < draft->nSteps; i++) {
        nnrt_draft_step *s = &draft->steps[i];
        nnrti_fake_rounded *half;
        if (s->open != NULL)
            return nnrt_error_set(draft->config->error, NNRT_NOT_SUPPORT,
                                  "device '%s' does not support float16 with dynamic dimensions", f->name);
        if (s->kernel == NULL || (s->flags & (NNRT_OP_ALIAS | NNRT_OP_MOVEMENT)) != 0)
            continue;
        half = (nnrti_fake_rounded *)nnrt_memory_keep(draft->memory, sizeof(*half));
        if (half == NULL)
            return nnrt_error_set(draft->config->error, NNRT_OUT_OF_MEMORY, "device '%s' is out of memory", f->name);
        half->kernel = s->kernel;
        half->attr = s->attr;
        half->first = s->nIn + s->nDerived;
        half->count = s->nOut;
        s->kernel = nnrti_fake_rounded_kernel;
        s->kernelName = "nnrt_fake_half";
        s->attr = half;
    }
    return NNRT_SUCCESS;
}

/* Edits of the plan: rounds to float16 if enabled, and refuses the model if a node is unsupported. Changes nothing
   else. */
static NNRT_ReturnCode nnrti_fake_edit(void *user, nnrt_draft *draft)
{
    const nnrt_fake *f = (const nnrt_fake *)user;
    NNRT_ReturnCode code = NNRT_SUCCESS;
    for (uint32_t i = 0; i < draft->model->nodes.count && code == NNRT_SUCCESS; i++) {
        code = nnrti_fake_check_op(f, draft->model, i, draft->config->error);
        if (code == NNRT_SUCCESS)
            code = nnrti_fake_check_dims(f, draft->model, i, draft->tensors, draft->config->error);
    }
    if (code == NNRT_SUCCESS && draft->config->enableFloat16)
        code = nnrti_fake_round_steps(f, draft);
    return code;
}

/* Reads the configuration. Without the slots RunIn and GetWorkspaceSize the caller cannot pass a workspace, so the
   model owns one. */
static void nnrti_fake_config(const nnrt_fake *f, const NNRT_ModelConfig *config, NNRT_ModelConfig *own)
{
    nnrt_config_read(own, config);
    own->callerWorkspace = own->callerWorkspace && f->model.RunIn != NULL && f->model.GetWorkspaceSize != NULL;
}

static NNRT_ReturnCode nnrti_fake_memory(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                         size_t *bytes)
{
    nnrt_fake *f = (nnrt_fake *)self;
    NNRT_ModelConfig own;
    size_t head;
    NNRT_ReturnCode code = nnrti_fake_enter(f, NNRT_FAKE_GetModelMemory);
    if (code != NNRT_SUCCESS)
        return code;
    nnrti_fake_config(f, config, &own);
    code = nnrt_plan_memory(model, &own, nnrti_fake_edit, f, bytes);
    if (code == NNRT_SUCCESS && (f->garbage[NNRT_FAKE_GetModelMemory] || !nnrti_fake_head(f, model, &head) ||
                                 !nnrt_add_size(*bytes, head, bytes)))
        *bytes = SIZE_MAX;
    return code;
}

/* Validates the model before it is serialized. */
static NNRT_ReturnCode nnrti_fake_check(const nnrt_fake *f, const NNRT_Model *model, const NNRT_ModelConfig *config)
{
    nnrt_memory memory;
    NNRT_ReturnCode code;
    if (f->cache == NNRTI_FAKE_CACHE_NO)
        return NNRT_SUCCESS;
    if (config->buffer != NULL)
        nnrt_memory_buffer(&memory, config->buffer, config->bufferBytes);
    else
        nnrt_memory_allocate(&memory, config->allocator);
    code = nnrt_model_check(model, &memory, NULL, config->error);
    nnrt_memory_end(&memory);
    return code;
}

/* Prepares a model, in config's buffer or with config's allocator. */
static NNRT_ReturnCode nnrti_fake_make(nnrt_fake *f, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                       NNRT_PreparedModel **prepared)
{
    NNRT_ModelConfig own = *config;
    nnrti_fake_model *m;
    uint8_t *form;
    size_t head, bytes;
    NNRT_ReturnCode code;
    if (own.bounds.count != 0 && !f->dynamic)
        return nnrt_error_set(own.error, NNRT_NOT_SUPPORT, "device '%s' does not support dynamic dimensions", f->name);
    if ((code = nnrti_fake_check(f, model, &own)) != NNRT_SUCCESS)
        return code;
    if (!nnrti_fake_head(f, model, &head))
        return nnrt_error_set(own.error, NNRT_NOT_SUPPORT,
                              "device '%s': the model cannot be serialized: a list has no data, or the size overflows",
                              f->name);
    if (own.buffer != NULL && ((uintptr_t)own.buffer % NNRT_ALIGNMENT != 0 || own.bufferBytes < head))
        return nnrt_error_set(own.error, own.bufferBytes < head ? NNRT_OUT_OF_MEMORY : NNRT_INVALID_PARAMETER,
                              "device '%s': the buffer has %z bytes, expected at least %z, aligned to %d", f->name,
                              own.bufferBytes, head, NNRT_ALIGNMENT);
    m = (nnrti_fake_model *)(own.buffer != NULL ? own.buffer : nnrt_alloc(own.allocator, head));
    if (m == NULL)
        return nnrt_error_set(own.error, NNRT_OUT_OF_MEMORY, "device '%s' is out of memory", f->name);
    memset(m, 0, sizeof(*m));
    m->base.vtbl = &f->model;
    m->fake = f;
    m->head = head;
    m->allocated = own.buffer == NULL;
    m->reads = (bool *)(m + 1);
    m->nIn = model->inputIndex.count;
    if (own.allocator != NULL)
        m->allocator = *own.allocator;
    if (own.buffer != NULL) {
        own.buffer = (uint8_t *)own.buffer + head;
        own.bufferBytes -= head;
    }
    if (f->cache != NNRTI_FAKE_CACHE_NO) {
        form = (uint8_t *)(m + 1) + m->nIn;
        (void)nnrti_fake_write(model, form, &bytes);
        memcpy(m->header.magic, NNRTI_FAKE_MAGIC, sizeof(m->header.magic));
        m->header.bytes = bytes;
        m->header.checksum = nnrti_fake_checksum(form, bytes);
        if (f->cache == NNRTI_FAKE_CACHE_GARBAGE)
            memset(form, 0x7B, bytes);
        for (uint32_t i = 0; i < 2; i++) {
            m->cache[i].fd = -1;
            m->cache[i].addr = i == 0 ? (void *)&m->header : (void *)form;
            m->cache[i].bufferSize = m->cache[i].dataSize = i == 0 ? (uint32_t)sizeof(m->header) : (uint32_t)bytes;
        }
    }
    if ((code = nnrt_plan_prepare(model, &own, nnrti_fake_edit, f, NULL, &m->inner)) != NNRT_SUCCESS) {
        if (m->allocated)
            nnrt_free(own.allocator, m, head);
        return code;
    }
    nnrti_fake_find_reads(model, m->reads);
    (void)NNRTI_FAKE_ADD(&f->record.prepared);
    for (uint32_t i = 0; i < model->nodes.count; i++)
        (void)NNRTI_FAKE_ADD(&f->record.nodes);
    *prepared = &m->base;
    return NNRT_SUCCESS;
}

/* Common begin of the slots that prepare; *own: the configuration to use. */
static NNRT_ReturnCode nnrti_fake_begin(nnrt_fake *f, uint32_t slot, const NNRT_ModelConfig *config,
                                        NNRT_ModelConfig *own, NNRT_PreparedModel **prepared)
{
    const NNRT_ReturnCode code = nnrti_fake_enter(f, slot);
    *prepared = NULL;
    nnrti_fake_config(f, config, own);
    NNRTI_FAKE_SET(&f->wishes[0], own->enableFloat16);
    NNRTI_FAKE_SET(&f->wishes[1], (uint32_t)own->mode);
    NNRTI_FAKE_SET(&f->wishes[2], (uint32_t)own->priority);
    NNRTI_FAKE_SET(&f->wishes[3], own->extensions.count);
    return code == NNRT_SUCCESS ? code : nnrt_error_set(own->error, code, "device '%s' was told to fail", f->name);
}

static NNRT_ReturnCode nnrti_fake_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                          NNRT_PreparedModel **prepared)
{
    nnrt_fake *f = (nnrt_fake *)self;
    NNRT_ModelConfig own;
    const NNRT_ReturnCode code = nnrti_fake_begin(f, NNRT_FAKE_PrepareModel, config, &own, prepared);
    return code != NNRT_SUCCESS || f->garbage[NNRT_FAKE_PrepareModel] ? code
                                                                      : nnrti_fake_make(f, model, &own, prepared);
}

/* Parses the dimensions behind an operator's name, one or two; false: malformed. */
static bool nnrti_fake_parse_dims(nnrti_fake_span s, int32_t *dims, uint32_t *rank)
{
    for (*rank = 0; s.length > 0; ++*rank) {
        uint32_t extent;
        if (*rank == 2 || !nnrti_fake_number(nnrti_fake_next(&s, ','), &extent))
            return false;
        dims[*rank] = (int32_t)extent;
    }
    return *rank > 0;
}

/* Builds the model of an offline text and prepares it. */
static NNRT_ReturnCode nnrti_fake_text_model(nnrt_fake *f, nnrti_fake_span text, const NNRT_ModelConfig *config,
                                             NNRT_PreparedModel **prepared)
{
    static const uint32_t in[1] = {0}, out[1] = {1};
    const nnrti_fake_span op = nnrti_fake_next(&text, ' ');
    NNRT_ModelConfig own = *config;
    NNRT_Tensor tensors[2];
    NNRT_SubGraph graph;
    NNRT_Node node;
    NNRT_Model m;
    int32_t dims[2];
    uint32_t rank;
    bool known = false;
    memset(tensors, 0, sizeof(tensors));
    memset(&graph, 0, sizeof(graph));
    memset(&node, 0, sizeof(node));
    memset(&m, 0, sizeof(m));
    for (uint32_t k = 0; !known && nnrt_op_at(k) != NULL; k++) {
        known = nnrti_fake_is(op, nnrt_op_at(k)->name);
        node.nodeType = nnrt_op_at(k)->type;
    }
    if (!known || !nnrti_fake_parse_dims(text, dims, &rank))
        return nnrt_error_set(own.error, NNRT_INVALID_MODEL, "device '%s': the offline model must be like 'ABS 2,3'",
                              f->name);
    for (uint32_t i = 0; i < 2; i++) {
        tensors[i].name = i == 0 ? "x" : "y";
        tensors[i].dataType = NNRT_DATA_TYPE_FLOAT32;
        tensors[i].format = NNRT_FORMAT_NONE;
        tensors[i].dims = NNRT_Int32List_make(dims, rank);
        tensors[i].data.fd = -1;
    }
    node.inputIndex = m.inputIndex = NNRT_Uint32List_make(in, 1);
    node.outputIndex = m.outputIndex = NNRT_Uint32List_make(out, 1);
    m.nodes = NNRT_NodeList_make(&node, 1);
    m.allTensors = NNRT_TensorList_make(tensors, 2);
    m.subGraph = NNRT_SubGraphList_make(&graph, 1);
    own.copyConstants = true; /* the model ends with this function */
    return nnrti_fake_make(f, &m, &own, prepared);
}

static NNRT_ReturnCode nnrti_fake_offline(void *self, const NNRT_SharedBuffer *models, uint32_t count,
                                          const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    nnrt_fake *f = (nnrt_fake *)self;
    NNRT_ModelConfig own;
    nnrti_fake_span text;
    void *block;
    NNRT_ReturnCode code = nnrti_fake_begin(f, NNRT_FAKE_PrepareOfflineModel, config, &own, prepared);
    if (code != NNRT_SUCCESS || f->garbage[NNRT_FAKE_PrepareOfflineModel])
        return code;
    if (count != 1)
        return nnrt_error_set(own.error, NNRT_INVALID_MODEL, "device '%s': %u buffers, expected one", f->name, count);
    if ((code = nnrt_buffer_map(models, false, &block, own.error)) != NNRT_SUCCESS)
        return code;
    text.at = block != NULL ? (const char *)block + models->offset : "";
    text.length = models->dataSize;
    code = nnrti_fake_text_model(f, text, &own, prepared);
    nnrt_buffer_unmap(models, block);
    return code;
}

static NNRT_ReturnCode nnrti_fake_allocate(void *self, uint32_t length, NNRT_SharedBuffer *buffer)
{
    nnrt_fake *f = (nnrt_fake *)self;
    NNRT_ReturnCode code = nnrti_fake_enter(f, NNRT_FAKE_AllocateBuffer);
    if (code != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < NNRT_FAKE_BLOCKS; i++) {
        if (!NNRTI_FAKE_TURN(&f->held[i], NNRTI_FAKE_FREE, NNRTI_FAKE_BUSY))
            continue;
        code = nnrt_buffer_create(length, buffer);
        f->blocks[i] = *buffer;
        (void)NNRTI_FAKE_TURN(&f->held[i], NNRTI_FAKE_BUSY, code == NNRT_SUCCESS ? NNRTI_FAKE_HELD : NNRTI_FAKE_FREE);
        if (f->garbage[NNRT_FAKE_AllocateBuffer])
            buffer->dataSize = buffer->bufferSize = length / 2;
        return code;
    }
    return NNRT_OUT_OF_MEMORY;
}

/* Releases an allocated block. INVALID_BUFFER: it is not one; INVALID_BUFFER_SIZE: its size differs. */
static NNRT_ReturnCode nnrti_fake_release_buffer(void *self, const NNRT_SharedBuffer *buffer)
{
    nnrt_fake *f = (nnrt_fake *)self;
    const NNRT_ReturnCode code = nnrti_fake_enter(f, NNRT_FAKE_ReleaseBuffer);
    if (code != NNRT_SUCCESS)
        return code;
    for (uint32_t i = 0; i < NNRT_FAKE_BLOCKS; i++) {
        NNRT_SharedBuffer *b = &f->blocks[i];
        bool same;
        if (!NNRTI_FAKE_TURN(&f->held[i], NNRTI_FAKE_HELD, NNRTI_FAKE_BUSY))
            continue;
        same = b->fd == buffer->fd && b->addr == buffer->addr;
        if (!same || (b->bufferSize != buffer->bufferSize && !f->garbage[NNRT_FAKE_AllocateBuffer])) {
            (void)NNRTI_FAKE_TURN(&f->held[i], NNRTI_FAKE_BUSY, NNRTI_FAKE_HELD);
            if (same)
                return NNRT_INVALID_BUFFER_SIZE;
            continue;
        }
        nnrt_buffer_destroy(b);
        (void)NNRTI_FAKE_TURN(&f->held[i], NNRTI_FAKE_BUSY, NNRTI_FAKE_FREE);
        return NNRT_SUCCESS;
    }
    return NNRT_INVALID_BUFFER;
}

static NNRT_ReturnCode nnrti_fake_caches(void *self, bool *isSupported)
{
    *isSupported = ((nnrt_fake *)self)->cache != NNRTI_FAKE_CACHE_NO;
    return nnrti_fake_enter((nnrt_fake *)self, NNRT_FAKE_IsModelCacheSupported);
}

/* Returns the data of block i of a cache; NULL: invalid. */
static const uint8_t *nnrti_fake_block(const NNRT_SharedBuffer *cache, uint32_t i)
{
    const NNRT_SharedBuffer *b = &cache[i];
    return b->addr != NULL && b->offset <= b->bufferSize && b->dataSize <= b->bufferSize - b->offset
               ? (const uint8_t *)b->addr + b->offset
               : NULL;
}

/* Prepares an exported model. It is deserialized into memory that is freed at the end of this call. */
static NNRT_ReturnCode nnrti_fake_prepare_cache(void *self, const NNRT_SharedBuffer *cache, uint32_t count,
                                                const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    nnrt_fake *f = (nnrt_fake *)self;
    nnrti_fake_header header;
    nnrti_fake_serializer form;
    NNRT_ModelConfig own;
    nnrt_memory memory;
    NNRT_Model model;
    NNRT_ReturnCode code = nnrti_fake_begin(f, NNRT_FAKE_PrepareModelFromModelCache, config, &own, prepared);
    memset(&form, 0, sizeof(form));
    memset(&model, 0, sizeof(model));
    if (code != NNRT_SUCCESS || f->garbage[NNRT_FAKE_PrepareModelFromModelCache])
        return code;
    if (f->cache == NNRTI_FAKE_CACHE_REFUSE)
        return nnrt_error_set(own.error, NNRT_INVALID_MODEL_CACHE,
                              "device '%s' refuses caches as configured (cache=refuse)", f->name);
    if (own.buffer != NULL)
        return nnrt_error_set(own.error, NNRT_NOT_SUPPORT,
                              "device '%s' cannot prepare from a cache in a caller's buffer; use an allocator",
                              f->name);
    if (count != 2 || nnrti_fake_block(cache, 0) == NULL || cache[0].dataSize != sizeof(header) ||
        (form.in = nnrti_fake_block(cache, 1)) == NULL)
        return nnrt_error_set(own.error, NNRT_INVALID_MODEL_CACHE,
                              "device '%s': the cache has %u blocks, expected 2: a header and a serialized model",
                              f->name, count);
    memcpy(&header, nnrti_fake_block(cache, 0), sizeof(header));
    form.bytes = cache[1].dataSize;
    if (memcmp(header.magic, NNRTI_FAKE_MAGIC, sizeof(header.magic)) != 0 || header.bytes != form.bytes ||
        header.checksum != nnrti_fake_checksum(form.in, form.bytes))
        return nnrt_error_set(own.error, NNRT_INVALID_MODEL_CACHE,
                              "device '%s': the cache is damaged: its header, size or checksum is wrong", f->name);
    nnrt_memory_allocate(&memory, own.allocator);
    form.memory = &memory;
    nnrti_fake_serialize_model(&form, &model);
    own.copyConstants = true;
    if (memory.full)
        code = nnrt_error_set(own.error, NNRT_OUT_OF_MEMORY, "device '%s' is out of memory to read a cache", f->name);
    else if (form.bad || form.at != form.bytes)
        code = nnrt_error_set(own.error, NNRT_INVALID_MODEL_CACHE, "device '%s': the cache contains no valid model",
                              f->name);
    else
        code = nnrti_fake_make(f, &model, &own, prepared);
    nnrt_memory_end(&memory);
    return code;
}

static void nnrti_fake_destroy(void *self)
{
    nnrt_fake *f = (nnrt_fake *)self;
    for (uint32_t i = 0; i < NNRT_FAKE_BLOCKS; i++) /* blocks whose release failed, or was not called */
        if (f->held[i] == NNRTI_FAKE_HELD)
            nnrt_buffer_destroy(&f->blocks[i]);
    nnrt_free(NULL, self, ((nnrt_fake *)self)->bytes);
}

/* Fills both tables; slots of without= become NULL. */
static void nnrti_fake_tables(nnrt_fake *f, const uint32_t *without)
{
    NNRT_DeviceVtbl *d = &f->table;
    NNRT_PreparedModelVtbl *m = &f->model;
    d->structSize = (uint32_t)sizeof(*d);
    m->structSize = (uint32_t)sizeof(*m);
    d->version = m->version = NNRT_HDI(2, 0);
    d->GetVersion = nnrti_fake_version;
    d->GetDeviceName = nnrti_fake_get_name;
    d->GetVendorName = nnrti_fake_get_vendor;
    d->GetDeviceType = nnrti_fake_type;
    d->GetDeviceStatus = nnrti_fake_status;
    d->GetSupportedOperation = nnrti_fake_supported;
    d->IsFloat16PrecisionSupported = nnrti_fake_float16;
    d->IsPerformanceModeSupported = nnrti_fake_modes;
    d->IsPrioritySupported = nnrti_fake_priorities;
    d->IsDynamicInputSupported = nnrti_fake_dynamic;
    d->PrepareModel = nnrti_fake_prepare;
    d->AllocateBuffer = nnrti_fake_allocate;
    d->ReleaseBuffer = nnrti_fake_release_buffer;
    if (f->cache != NNRTI_FAKE_CACHE_NO) {
        d->IsModelCacheSupported = nnrti_fake_caches;
        d->PrepareModelFromModelCache = nnrti_fake_prepare_cache;
        m->ExportModelCache = nnrti_fake_export;
    }
    d->PrepareOfflineModel = nnrti_fake_offline;
    d->Destroy = nnrti_fake_destroy;
    d->GetModelMemory = nnrti_fake_memory;
    d->GetSupportedNodes = nnrti_fake_nodes;
    m->RunV1 = nnrti_fake_run_v1;
    m->GetInputDimRanges = nnrti_fake_input_ranges;
    m->Run = nnrti_fake_run;
    m->Destroy = nnrti_fake_release;
    m->GetWorkspaceSize = nnrti_fake_workspace;
    m->RunIn = nnrti_fake_run_in;
    m->GetIO = nnrti_fake_io;
    m->GetMemory = nnrti_fake_get_memory;
    m->GetOutputDimRanges = nnrti_fake_output_ranges;
    for (uint32_t i = 0; i < NNRT_FAKE_SLOT_COUNT; i++) {
        uint8_t *table = nnrti_fake_slots[i].model ? (uint8_t *)m : (uint8_t *)d;
        if (without[i] != 0)
            memset(table + nnrti_fake_slots[i].offset, 0, sizeof(d->PrepareModel));
    }
}

NNRT_API NNRT_ReturnCode nnrt_fake_register(nnrt_fake **fake, const char *text, nnrt_error *error)
{
    nnrti_fake_span values[NNRTI_FAKE_KEYS], rest;
    uint32_t without[NNRT_FAKE_SLOT_COUNT];
    nnrt_fake *f;
    char *copy;
    size_t length, bytes;
    NNRT_ReturnCode code;
    if (fake != NULL)
        *fake = NULL;
    if (text == NULL)
        return nnrt_error_set(error, NNRT_NULL_PTR, "the text of the fake device is NULL");
    length = strlen(text);
    if (length < 5 || memcmp(text, "fake:", 5) != 0)
        return nnrt_error_set(error, NNRT_INVALID_PARAMETER, "fake device: found '%s', expected fake:KEY=VALUE,...",
                              text);
    if (!nnrt_add_size(sizeof(*f) + 1, length, &bytes) || (f = (nnrt_fake *)nnrt_alloc(NULL, bytes)) == NULL)
        return nnrt_error_set(error, NNRT_OUT_OF_MEMORY, "out of memory for a fake device");
    memset(f, 0, sizeof(*f));
    f->bytes = bytes;
    copy = (char *)(f + 1);
    memcpy(copy, text, length + 1);
    rest.at = copy + 5;
    rest.length = length - 5;
    memset(values, 0, sizeof(values));
    memset(without, 0, sizeof(without));
    if ((code = nnrti_fake_split(rest, values, error)) == NNRT_SUCCESS &&
        (code = nnrti_fake_parse(f, values, without, error)) == NNRT_SUCCESS) {
        nnrti_fake_tables(f, without);
        code = nnrt_device_register(&f->table, f, error);
    }
    if (code != NNRT_SUCCESS) {
        nnrt_free(NULL, f, bytes);
        return code;
    }
    if (fake != NULL)
        *fake = f;
    return NNRT_SUCCESS;
}

NNRT_API void nnrt_fake_may_die(void (*end)(void))
{
    nnrti_fake_end = end;
}

NNRT_API void nnrt_fake_wake(nnrt_fake *fake)
{
    if (fake != NULL)
        (void)NNRTI_FAKE_ADD(&fake->woken);
}

NNRT_API const char *nnrt_fake_name(const nnrt_fake *fake)
{
    return fake != NULL ? fake->name : "";
}

NNRT_API nnrt_fake_record nnrt_fake_get_record(const nnrt_fake *fake)
{
    nnrt_fake_record r;
    memset(&r, 0, sizeof(r));
    for (uint32_t i = 0; fake != NULL && i < NNRT_FAKE_SLOT_COUNT; i++)
        r.calls[i] = NNRTI_FAKE_GET(&fake->record.calls[i]);
    if (fake != NULL) {
        r.prepared = NNRTI_FAKE_GET(&fake->record.prepared);
        r.nodes = NNRTI_FAKE_GET(&fake->record.nodes);
        r.released = NNRTI_FAKE_GET(&fake->record.released);
        r.enableFloat16 = NNRTI_FAKE_GET(&fake->wishes[0]) != 0;
        r.mode = (NNRT_PerformanceMode)NNRTI_FAKE_GET(&fake->wishes[1]);
        r.priority = (NNRT_Priority)NNRTI_FAKE_GET(&fake->wishes[2]);
        r.extensions = NNRTI_FAKE_GET(&fake->wishes[3]);
        for (uint32_t i = 0; i < NNRT_FAKE_BLOCKS; i++)
            r.blocks += NNRTI_FAKE_GET(&fake->held[i]) == NNRTI_FAKE_HELD ? 1 : 0;
    }
    return r;
}

#endif /* NNRT_IMPLEMENTATION */
