/* The device of devices/nnrt_fake.h: every option of its text, and the runtime's behavior if a slot is missing, fails or
   returns invalid results. Expected values are computed by hand: y = relu(x + [1,2,3]) - x. */
#define _POSIX_C_SOURCE 200809L /* posix_memalign */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "fakes.h"

#include "nnrt.h"

#include "small.h"

static NNRT_ReturnCode open_session(nnrt_session **s, const NNRT_Model *m, const char *device, nnrt_error *e)
{
    nnrt_session_desc desc;
    memset(&desc, 0, sizeof(desc));
    memset(e, 0, sizeof(*e));
    desc.device = device;
    return nnrt_session_create(s, m, &desc, e);
}

static NNRT_ReturnCode run(nnrt_session *s)
{
    float y[6];
    nnrt_io in = nnrt_io_make((void *)(uintptr_t)xs, sizeof(xs)), out = nnrt_io_make(y, sizeof(y));
    const NNRT_ReturnCode code = nnrt_run(s, &in, 1, &out, 1);
    if (code == NNRT_SUCCESS)
        assert_memory_equal(y, ys, sizeof(y));
    return code;
}

/* ---- the text ---- */

typedef struct bad_text {
    const char *text, *found, *expected;
} bad_text;

static const bad_text bad_texts[] = {
    {"", "''", "fake:KEY=VALUE"},
    {"fake", "'fake'", "fake:KEY=VALUE"},
    {"npu:name=a", "'npu:name=a'", "fake:KEY=VALUE"},
    {"fake:nam=a", "'nam=a'", "a key of name, vendor"},
    {"fake:name", "'name'", "KEY=VALUE"},
    {"fake:name=a,", "''", "KEY=VALUE"},
    {"fake:name=a,,type=GPU", "''", "KEY=VALUE"},
    {"fake:=a", "'=a'", "KEY=VALUE"},
    {"fake:name=a,name=b", "name occurs twice", "once"},
    {"fake:fail=Run:1+Run:2", "fail has 'Run:2'", "each slot at most once"},
    {"fake:name=", "name has ''", "a name of 1 to 63"},
    {"fake:name=0123456789012345678901234567890123456789012345678901234567890123", "name has '0123", "1 to 63"},
    {"fake:vendor=", "vendor has ''", "a name of 1 to 63"},
    {"fake:type=NPU", "type has 'NPU'", "OTHER, CPU, GPU or ACCELERATOR"},
    {"fake:type=", "type has ''", "ACCELERATOR"},
    {"fake:ops=", "ops has ''", "operator names separated by +"},
    {"fake:ops=ADD_FUSION+", "ops has 'ADD_FUSION+'", "operator names separated by +"},
    {"fake:ops=ADD_FUSION+ADD", "ops has 'ADD'", "operator names separated by +"},
    {"fake:ops=ADD_FUSION++ERF", "ops has ''", "operator names separated by +"},
    {"fake:not=add_fusion", "not has 'add_fusion'", "operator names separated by +"},
    {"fake:dims=1", "dims has '1'", "LEAST..MOST"},
    {"fake:dims=1.64", "dims has '1.64'", "LEAST..MOST"},
    {"fake:dims=1..", "dims has '1..'", "LEAST..MOST"},
    {"fake:dims=..2", "dims has '..2'", "LEAST..MOST"},
    {"fake:dims=3..2", "dims has '3..2'", "LEAST <= MOST"},
    {"fake:dims=1..1x", "dims has '1..1x'", "LEAST..MOST"},
    {"fake:dims=1..9999999999", "dims has '1..9999999999'", "LEAST..MOST"},
    {"fake:dynamic=maybe", "dynamic has 'maybe'", "yes or no"},
    {"fake:without=Runn", "without has 'Runn'", "a slot"},
    {"fake:without=", "without has ''", "a slot"},
    {"fake:without=Run+", "without has ''", "a slot"},
    {"fake:without=Run:1", "without has 'Run:1'", "a slot without a number"},
    {"fake:garbage=GetIO:2", "garbage has 'GetIO:2'", "a slot without a number"},
    {"fake:delay=Run", "delay has 'Run'", "SLOT:MILLISECONDS"},
    {"fake:delay=Run:x", "delay has 'Run:x'", "SLOT:NUMBER"},
    {"fake:hang=Run", "hang has 'Run'", "SLOT:MILLISECONDS"},
    {"fake:die=Run", "die= requires that the program has called", "nnrt_fake_may_die"},
    {"fake:die=Run:0", "die has 'Run:0'", "SLOT:NUMBER"},
    {"fake:fail=Run:0", "fail has 'Run:0'", "SLOT:NUMBER"},
    {"fake:fail=Run:", "fail has 'Run:'", "SLOT:NUMBER"},
    {"fake:fail=Run:-1", "fail has 'Run:-1'", "SLOT:NUMBER"},
    {"fake:code=NNRT_TIME_OUT", "code has 'NNRT_TIME_OUT'", "a return code"},
    {"fake:code=SUCCESS", "code has 'SUCCESS'", "a return code other than SUCCESS"},
};

static void test_bad_texts(void **state)
{
    const uint32_t count = nnrt_device_count();
    (void)state;
    for (uint32_t i = 0; i < COUNT(bad_texts); i++) {
        const bad_text *b = &bad_texts[i];
        nnrt_fake *fake = (nnrt_fake *)(void *)&count;
        nnrt_error e;
        memset(&e, 0, sizeof(e));
        if (nnrt_fake_register(&fake, b->text, &e) != NNRT_INVALID_PARAMETER || fake != NULL ||
            strstr(e.message, b->found) == NULL || strstr(e.message, b->expected) == NULL)
            fail_msg("'%s': %s", b->text, e.message);
        assert_int_equal(nnrt_fake_register(NULL, b->text, NULL), NNRT_INVALID_PARAMETER);
        assert_int_equal(nnrt_device_count(), count);
    }
    assert_int_equal(nnrt_fake_register(NULL, NULL, NULL), NNRT_NULL_PTR);
}

static void test_names(void **state)
{
    nnrt_fake *a = registered("fake:"), *b = registered("fake:name=npu0,vendor=acme,type=GPU");
    nnrt_error e;
    (void)state;
    assert_string_equal(nnrt_fake_name(a), "fake");
    assert_string_equal(nnrt_device_unique_name(nnrt_device_find("fake")), "fake_nnrt_v1_0");
    assert_int_equal(nnrt_device_type(nnrt_device_find("fake"), NULL), NNRT_DEVICE_TYPE_ACCELERATOR);
    assert_string_equal(nnrt_device_unique_name(nnrt_device_find("npu0")), "npu0_acme_v1_0");
    assert_int_equal(nnrt_device_type(nnrt_device_find("npu0"), NULL), NNRT_DEVICE_TYPE_GPU);
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_fake_register(NULL, "fake:name=npu0,vendor=acme", &e), NNRT_OPERATION_FORBIDDEN);
    assert_non_null(strstr(e.message, "'npu0' of 'acme'"));
    unregistered(a);
    unregistered(b);
    assert_string_equal(nnrt_fake_name(NULL), "");
    assert_int_equal(nnrt_fake_get_record(NULL).prepared, 0);
}

/* ---- supported nodes ---- */

static char refused[8]; /* numbers of the nodes */
static char why[512];   /* of the last one */

static void note(void *user, uint32_t node, const nnrt_error *error)
{
    (void)user;
    snprintf(refused + strlen(refused), sizeof(refused) - strlen(refused), "%u", (unsigned)node);
    snprintf(why, sizeof(why), "%s", error->message);
}

typedef struct taken {
    const char *text, *refused, *why;
    NNRT_ReturnCode code; /* of PrepareModel */
} taken;

/* Nodes: 0 sum, 1 relu, 2 y. All dimensions are 2 or 3. */
static const taken takes[] = {
    {"fake:", "", "", NNRT_SUCCESS},
    {"fake:ops=ADD_FUSION+SUB_FUSION+ACTIVATION", "", "", NNRT_SUCCESS},
    {"fake:ops=ADD_FUSION+SUB_FUSION", "1", "node 1 'relu' (ACTIVATION): device 'fake'", NNRT_UNSUPPORTED_OP},
    {"fake:ops=ACTIVATION", "02", "node 2 'y' (SUB_FUSION)", NNRT_UNSUPPORTED_OP},
    {"fake:not=ERF", "", "", NNRT_SUCCESS},
    {"fake:not=SUB_FUSION+ERF", "2", "node 2 'y' (SUB_FUSION)", NNRT_UNSUPPORTED_OP},
    {"fake:ops=ADD_FUSION+ACTIVATION,not=ADD_FUSION", "02", "node 2", NNRT_UNSUPPORTED_OP},
    {"fake:dims=2..3", "", "", NNRT_SUCCESS},
    {"fake:dims=0..999999999", "", "", NNRT_SUCCESS},
    {"fake:dims=3..3", "012", "axis 0 of 'relu' is 2, device 'fake' supports sizes of 3 to 3", NNRT_INVALID_SHAPE},
    {"fake:dims=1..2", "012", "is 3, device 'fake' supports sizes of 1 to 2", NNRT_INVALID_SHAPE},
};

static void test_takes(void **state)
{
    NNRT_Model *model = make_model(2, addend);
    (void)state;
    for (uint32_t i = 0; i < COUNT(takes); i++) {
        const taken *t = &takes[i];
        nnrt_fake *fake = registered(t->text);
        nnrt_device *d = nnrt_device_find("fake");
        nnrt_session *s = NULL;
        bool ok[3];
        nnrt_error e;
        refused[0] = why[0] = '\0';
        assert_int_equal(nnrt_device_supported(d, model, NULL, ok, 3, note, NULL), NNRT_SUCCESS);
        if (strcmp(refused, t->refused) != 0 || strstr(why, t->why) == NULL)
            fail_msg("%s: refused %s, %s", t->text, refused, why);
        for (uint32_t k = 0; k < 3; k++)
            assert_int_equal(ok[k], strchr(t->refused, '0' + (int)k) == NULL);
        assert_int_equal(open_session(&s, model, "fake", &e), t->code);
        if (t->code == NNRT_SUCCESS) {
            assert_int_equal(run(s), NNRT_SUCCESS);
            assert_string_equal(nnrt_session_device(s), "fake_nnrt_v1_0");
        } else {
            assert_non_null(strstr(e.message, "device 'fake' "));
            assert_int_equal(e.node >= 0, true);
        }
        nnrt_session_destroy(s);
        unregistered(fake);
    }
    nnrt_model_destroy(model);
}

static void test_plain_question(void **state)
{
    NNRT_Model *model = make_model(2, addend);
    nnrt_fake *fake = registered("fake:without=GetSupportedNodes,not=ACTIVATION");
    bool ok[3] = {false, true, false};
    nnrt_fake_record r;
    (void)state;
    assert_int_equal(nnrt_device_supported(nnrt_device_find("fake"), model, NULL, ok, 3, NULL, NULL), NNRT_SUCCESS);
    assert_true(ok[0] && !ok[1] && ok[2]);
    r = nnrt_fake_get_record(fake);
    assert_int_equal(r.calls[NNRT_FAKE_GetSupportedOperation], 1);
    assert_int_equal(r.calls[NNRT_FAKE_GetSupportedNodes], 0);
    unregistered(fake);
    nnrt_model_destroy(model);
}

/* Rows of x up to 4; a run sets any number. */
static void test_open_extents(void **state)
{
    NNRT_Model *model = make_model(-1, addend);
    nnrt_fake *fake;
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    nnrt_bound most;
    nnrt_error e;
    float x[12], y[12];
    int32_t dims[2] = {2, 3};
    nnrt_io in, out;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    memset(&most, 0, sizeof(most));
    memset(&e, 0, sizeof(e));
    most.tensor = "x";
    most.most.rank = 2;
    most.most.dims[0] = 4;
    most.most.dims[1] = 3;
    desc.device = "fake";
    desc.bounds = nnrt_bound_list_make(&most, 1);
    fake = registered("fake:dynamic=no");
    assert_int_equal(nnrt_session_create(&s, model, &desc, &e), NNRT_NOT_SUPPORT);
    assert_non_null(strstr(e.message, "dynamic shapes"));
    unregistered(fake);
    fake = registered("fake:dims=2..4");
    memset(&e, 0, sizeof(e));
    if (nnrt_session_create(&s, model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    memset(x, 0, sizeof(x));
    for (dims[0] = 1; dims[0] <= 5; dims[0]++) { /* with zeros y = addend */
        in = nnrt_io_make(x, (size_t)dims[0] * 12 < sizeof(x) ? (size_t)dims[0] * 12 : sizeof(x));
        in.dims = dims;
        out = nnrt_io_make(y, sizeof(y));
        assert_int_equal(nnrt_run(s, &in, 1, &out, 1),
                         dims[0] >= 2 && dims[0] <= 4 ? NNRT_SUCCESS : NNRT_OUT_OF_DIMENTION_RANGES);
        for (int32_t i = 0; dims[0] >= 2 && dims[0] <= 4 && i < 3 * dims[0]; i++)
            assert_true(y[i] == addend[i % 3]);
    }
    assert_non_null(strstr(nnrt_session_error(s), "expected 2 to 4"));
    nnrt_session_destroy(s);
    unregistered(fake);
    fake = registered("fake:dims=1..3");
    assert_int_equal(nnrt_session_create(&s, model, &desc, &e), NNRT_INVALID_SHAPE);
    unregistered(fake);
    nnrt_model_destroy(model);
}

/* x [2,3], and an input of 33 or, with bounds, up to 33 that no node reads: for it the device accepts all shapes, in a run and
   when it prepares, alone and with auto, and when the model comes from a cache. */
static void test_unread_input(void **state)
{
    static const char *const texts[] = {"fake:dims=1..19", "fake:dims=1..19,cache=yes", "fake:dims=1..19,without=RunIn"};
    NNRT_Model *model = make_model(2, addend), changed = *model;
    NNRT_Tensor tensors[16];
    const uint32_t count = model->allTensors.count, inputs[2] = {model->inputIndex.data[0], count};
    int32_t extent = 33;
    float y[6], unread[33];
    (void)state;
    assert_true(count < COUNT(tensors));
    memset(unread, 0, sizeof(unread));
    memcpy(tensors, model->allTensors.data, count * sizeof(*tensors));
    memset(&tensors[count], 0, sizeof(*tensors));
    tensors[count].name = "unread";
    tensors[count].dataType = NNRT_DATA_TYPE_FLOAT32;
    tensors[count].data.fd = -1;
    tensors[count].dims = NNRT_Int32List_make(&extent, 1);
    changed.allTensors = NNRT_TensorList_make(tensors, count + 1);
    changed.inputIndex = NNRT_Uint32List_make(inputs, 2);
    for (uint32_t i = 0; i < 12; i++) {
        const bool open = i % 2 == 1;
        nnrt_fake *fake = registered(texts[i / 4]);
        nnrt_session *s = NULL;
        nnrt_session_desc desc;
        nnrt_bound most;
        nnrt_error e;
        nnrt_io in[2], out = nnrt_io_make(y, sizeof(y));
        int32_t dims[1] = {open ? 25 : 33};
        memset(&desc, 0, sizeof(desc));
        memset(&most, 0, sizeof(most));
        memset(&e, 0, sizeof(e));
        extent = open ? -1 : 33;
        most.tensor = "unread";
        most.most.rank = 1;
        most.most.dims[0] = 33;
        desc.device = i % 4 >= 2 ? "auto" : "fake";
        if (open)
            desc.bounds = nnrt_bound_list_make(&most, 1);
        if (nnrt_session_create(&s, &changed, &desc, &e) != NNRT_SUCCESS)
            fail_msg("%u: %s", (unsigned)i, e.message);
        in[0] = nnrt_io_make((void *)(uintptr_t)xs, sizeof(xs));
        in[1] = nnrt_io_make(unread, (size_t)dims[0] * sizeof(float));
        in[1].dims = open ? dims : NULL;
        if (nnrt_run(s, in, 2, &out, 1) != NNRT_SUCCESS)
            fail_msg("%u: %s", (unsigned)i, nnrt_session_error(s));
        assert_memory_equal(y, ys, sizeof(y));
        if (desc.device[0] == 'f')
            assert_int_equal(nnrt_fake_get_record(fake).prepared, 1);
        nnrt_session_destroy(s);
        unregistered(fake);
    }
    nnrt_model_destroy(model);
}

/* A part whose device reports ranges that exclude the part's shapes goes to another device before a run. */
static void test_part_ranges(void **state)
{
    NNRT_Model *model = make_model(2, addend);
    nnrt_fake *fake = registered("fake:ops=ACTIVATION,garbage=GetInputDimRanges");
    nnrt_session *s = NULL;
    nnrt_fake_record r;
    nnrt_error e;
    (void)state;
    assert_int_equal(open_session(&s, model, "auto", &e), NNRT_SUCCESS);
    assert_int_equal(run(s), NNRT_SUCCESS);
    r = nnrt_fake_get_record(fake);
    assert_int_equal(r.calls[NNRT_FAKE_PrepareModel] > 0, true);
    assert_int_equal(r.calls[NNRT_FAKE_RunIn], 0);
    assert_int_equal(r.released, r.prepared);
    nnrt_session_destroy(s);
    unregistered(fake);
    nnrt_model_destroy(model);
}

/* ---- slots that are left out ---- */

typedef struct lacking {
    const char *text;
    uint32_t slot; /* that a run then calls */
    bool shares, memory;
} lacking;

static const lacking lacks[] = {
    {"fake:", NNRT_FAKE_RunIn, true, true},
    {"fake:without=RunIn", NNRT_FAKE_Run, false, true},
    {"fake:without=RunIn+Run", NNRT_FAKE_RunV1, false, true},
    {"fake:without=RunV1+Run", NNRT_FAKE_RunIn, true, true},
    {"fake:without=GetWorkspaceSize", NNRT_FAKE_Run, false, true},
    {"fake:without=GetWorkspaceSize+Run", NNRT_FAKE_RunV1, false, true},
    {"fake:without=GetModelMemory", NNRT_FAKE_RunIn, true, false},
    {"fake:without=GetIO+GetMemory+GetInputDimRanges+GetOutputDimRanges", NNRT_FAKE_RunIn, true, true},
    {"fake:without=GetDeviceType+GetDeviceStatus+IsDynamicInputSupported+GetSupportedNodes+GetSupportedOperation",
     NNRT_FAKE_RunIn, true, true},
};

static void test_without(void **state)
{
    NNRT_Model *model = make_model(2, addend);
    nnrt_error e;
    (void)state;
    for (uint32_t i = 0; i < COUNT(lacks); i++) {
        nnrt_fake *fake = registered(lacks[i].text);
        nnrt_session *s = NULL, *second = NULL;
        nnrt_session_desc desc;
        nnrt_fake_record r;
        size_t bytes;
        memset(&desc, 0, sizeof(desc));
        if (open_session(&s, model, "fake", &e) != NNRT_SUCCESS || run(s) != NNRT_SUCCESS)
            fail_msg("%s: %s %s", lacks[i].text, e.message, nnrt_session_error(s));
        r = nnrt_fake_get_record(fake);
        assert_int_equal(r.calls[lacks[i].slot], 1);
        assert_int_equal(r.calls[NNRT_FAKE_RunIn] + r.calls[NNRT_FAKE_Run] + r.calls[NNRT_FAKE_RunV1], 1);
        desc.share = s;
        assert_int_equal(nnrt_session_create(&second, model, &desc, NULL),
                         lacks[i].shares ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
        nnrt_session_destroy(second);
        nnrt_session_destroy(s);
        assert_int_equal(nnrt_device_model_memory(nnrt_device_find("fake"), model, NULL, &bytes),
                         lacks[i].memory ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
        unregistered(fake);
    }
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_fake_register(NULL, "fake:without=PrepareModel+PrepareOfflineModel", &e), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_fake_register(NULL, "fake:without=GetDeviceName", NULL), NNRT_INVALID_PARAMETER);
    nnrt_model_destroy(model);
}

/* ---- memory ---- */

/* N bytes work, N - 1 do not; and a failed allocation at any point leaks nothing. */
static void test_memory(void **state)
{
    static const char *const texts[] = {"fake:", "fake:without=RunIn", "fake:dims=1..9"};
    NNRT_Model *model = make_model(2, addend);
    (void)state;
    for (uint32_t i = 0; i < COUNT(texts); i++) {
        nnrt_fake *fake = registered(texts[i]);
        nnrt_session_desc desc;
        nnrt_session *s = NULL;
        nnrt_error e;
        tracker t;
        const nnrt_allocator a = allocator_of(&t);
        size_t bytes = 0;
        guarded buffer;
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        memset(&t, 0, sizeof(t));
        desc.device = "fake";
        assert_int_equal(nnrt_session_bytes(model, &desc, &bytes, &e), NNRT_SUCCESS);
        buffer = guarded_make(bytes, 0);
        desc.buffer = buffer.data;
        desc.bufferBytes = bytes;
        if (nnrt_session_create(&s, model, &desc, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        assert_int_equal(run(s), NNRT_SUCCESS);
        nnrt_session_destroy(s);
        desc.bufferBytes = bytes - 1;
        assert_int_equal(nnrt_session_create(&s, model, &desc, NULL), NNRT_OUT_OF_MEMORY);
        guarded_end(&buffer);
        memset(&desc, 0, sizeof(desc));
        desc.device = "fake";
        desc.allocator = &a;
        for (t.failAt = 1;; t.failAt++) {
            NNRT_ReturnCode code;
            t.calls = 0;
            code = nnrt_session_create(&s, model, &desc, NULL);
            if (code == NNRT_SUCCESS)
                break;
            assert_int_equal(code, NNRT_OUT_OF_MEMORY);
            assert_int_equal(t.live, 0);
        }
        assert_true(t.failAt > 3);
        nnrt_session_destroy(s);
        assert_int_equal(t.live, 0);
        assert_false(t.wrong);
        unregistered(fake);
    }
    nnrt_model_destroy(model);
}

/* ---- failures ---- */

/* The session fails, or its n-th run, with the code in the text; later runs work again. */
static void test_fail(void **state)
{
    static const struct {
        const char *text;
        NNRT_ReturnCode prepare[2], runs[3];
    } rows[] = {
        {"fake:fail=PrepareModel:1", {NNRT_DEVICE_ERROR, 0}, {0, 0, 0}},
        {"fake:fail=PrepareModel:2,code=TIME_OUT", {0, NNRT_TIME_OUT}, {0, 0, 0}},
        {"fake:fail=PrepareModel,code=FAILED", {NNRT_FAILED, NNRT_FAILED}, {0, 0, 0}},
        {"fake:fail=RunIn:2,code=UNSUPPORTED_OP", {0, 0}, {0, NNRT_UNSUPPORTED_OP, 0}},
        {"fake:fail=RunIn", {0, 0}, {NNRT_DEVICE_ERROR, NNRT_DEVICE_ERROR, NNRT_DEVICE_ERROR}},
        {"fake:without=RunIn,fail=Run:3", {0, 0}, {0, 0, NNRT_DEVICE_ERROR}},
        {"fake:without=RunIn+Run,fail=RunV1:1+Run:2", {0, 0}, {NNRT_DEVICE_ERROR, 0, 0}},
        {"fake:fail=GetIO:1", {NNRT_DEVICE_ERROR, 0}, {0, 0, 0}},
        {"fake:fail=GetModelMemory+GetSupportedNodes+GetInputDimRanges+GetOutputDimRanges+GetMemory", {0, 0}, {0, 0, 0}},
    };
    NNRT_Model *model = make_model(2, addend);
    (void)state;
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        nnrt_fake *fake = registered(rows[i].text);
        for (uint32_t k = 0; k < 2; k++) {
            nnrt_session *s = NULL;
            nnrt_error e;
            assert_int_equal(open_session(&s, model, "fake", &e), rows[i].prepare[k]);
            if (rows[i].prepare[k] != NNRT_SUCCESS) {
                assert_null(s);
                continue;
            }
            for (uint32_t n = 0; n < 3 && k == 0; n++) {
                assert_int_equal(run(s), rows[i].runs[n]);
                assert_int_equal(strlen(nnrt_session_error(s)) > 0, rows[i].runs[n] != NNRT_SUCCESS);
            }
            nnrt_session_destroy(s);
        }
        unregistered(fake);
    }
    for (uint32_t i = 0; i < 3; i++) { /* a device that does not report its name is not registered */
        static const char *const texts[] = {"fake:fail=GetVersion", "fake:fail=GetDeviceName", "fake:fail=GetVendorName"};
        assert_int_equal(nnrt_fake_register(NULL, texts[i], NULL), NNRT_DEVICE_ERROR);
    }
    nnrt_model_destroy(model);
}

/* Nonsense is a fault or does not matter; nothing is written or read where nothing is. */
static void test_garbage(void **state)
{
    static const struct {
        const char *text;
        NNRT_ReturnCode prepare;
    } rows[] = {
        {"fake:garbage=PrepareModel", NNRT_DEVICE_ERROR},
        {"fake:garbage=GetIO", NNRT_INVALID_SHAPE},
        {"fake:garbage=GetWorkspaceSize", NNRT_OUT_OF_MEMORY},
        {"fake:garbage=GetMemory", NNRT_OUT_OF_MEMORY},
        {"fake:garbage=GetInputDimRanges", NNRT_DEVICE_ERROR},
        {"fake:without=GetWorkspaceSize+Run+RunV1", NNRT_DEVICE_ERROR},
        {"fake:garbage=RunIn+Run+RunV1", NNRT_SUCCESS},
        {"fake:garbage=GetModelMemory", NNRT_SUCCESS},
        {"fake:garbage=GetSupportedNodes+GetSupportedOperation,not=ERF", NNRT_SUCCESS},
        {"fake:garbage=GetSupportedNodes,not=ACTIVATION", NNRT_UNSUPPORTED_OP},
    };
    NNRT_Model *model = make_model(2, addend);
    (void)state;
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        nnrt_fake *fake = registered(rows[i].text);
        nnrt_session *s = NULL;
        nnrt_error e;
        nnrt_session_desc desc;
        size_t bytes = 1;
        const NNRT_ReturnCode code = open_session(&s, model, "fake", &e);
        if (code != rows[i].prepare)
            fail_msg("%s: %d %s", rows[i].text, code, e.message);
        if (code == NNRT_SUCCESS)
            assert_int_equal(run(s), NNRT_SUCCESS);
        nnrt_session_destroy(s);
        if (strstr(rows[i].text, "GetSupportedNodes") != NULL) { /* it takes all that it is asked for */
            bool ok[3] = {false, false, false};
            assert_int_equal(nnrt_device_supported(nnrt_device_find("fake"), model, NULL, ok, 3, NULL, NULL),
                             NNRT_SUCCESS);
            assert_true(ok[0] && ok[1] && ok[2]);
        }
        memset(&desc, 0, sizeof(desc));
        desc.device = "fake";
        if (nnrt_session_bytes(model, &desc, &bytes, NULL) != NNRT_SUCCESS)
            assert_int_equal(bytes, 0);
        unregistered(fake);
    }
    nnrt_model_destroy(model);
}

/* ---- delays, the record ---- */

static void test_delay(void **state)
{
    NNRT_Model *model = make_model(2, addend);
    nnrt_fake *fake = registered("fake:delay=RunIn:50+PrepareModel:30");
    nnrt_session *s = NULL;
    nnrt_error e;
    clock_t start = clock();
    (void)state;
    assert_int_equal(open_session(&s, model, "fake", &e), NNRT_SUCCESS);
    assert_true((double)(clock() - start) * 1000 >= 30.0 * CLOCKS_PER_SEC);
    start = clock();
    assert_int_equal(run(s), NNRT_SUCCESS);
    assert_true((double)(clock() - start) * 1000 >= 50.0 * CLOCKS_PER_SEC);
    nnrt_session_destroy(s);
    unregistered(fake);
    nnrt_model_destroy(model);
}

/* A call that hangs sleeps: it takes no time of the processor, and so long on the wall. */
static void test_hang(void **state)
{
    NNRT_Model *model = make_model(2, addend);
    nnrt_fake *fake = registered("fake:hang=RunIn:200");
    nnrt_session *s = NULL;
    nnrt_error e;
    struct timespec begin, end;
    (void)state;
    assert_int_equal(open_session(&s, model, "fake", &e), NNRT_SUCCESS);
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &begin), 0);
    assert_int_equal(run(s), NNRT_SUCCESS);
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &end), 0);
    assert_true((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 >= 199);
    nnrt_fake_wake(fake); /* no run is waiting */
    nnrt_fake_wake(NULL);
    nnrt_session_destroy(s);
    unregistered(fake);
    nnrt_model_destroy(model);
}

/* The memory of a prepared model is that of the plan and of the fake's data before it. */
static void test_figures(void **state)
{
    NNRT_Model *model = make_model(2, addend);
    nnrt_fake *fake = registered("fake:");
    nnrt_prepared_memory figures[2];
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        nnrt_device *d = nnrt_device_find(i == 0 ? "fake" : "reference");
        NNRT_PreparedModel *prepared = NULL;
        assert_int_equal(nnrt_device_prepare(d, model, NULL, &prepared), NNRT_SUCCESS);
        assert_int_equal(prepared->vtbl->GetMemory(prepared, &figures[i]), NNRT_SUCCESS);
        nnrt_device_release(d, prepared);
    }
    assert_true(figures[0].tables >= figures[1].tables + 4 * sizeof(void *) && figures[0].tables % 64 == figures[1].tables % 64);
    assert_int_equal(figures[0].arena, figures[1].arena);
    assert_int_equal(figures[0].steps, figures[1].steps);
    unregistered(fake);
    nnrt_model_destroy(model);
}

static void test_record(void **state)
{
    NNRT_Model *model = make_model(2, addend);
    nnrt_fake *fake = registered("fake:");
    nnrt_session *s = NULL;
    nnrt_error e;
    nnrt_fake_record r = nnrt_fake_get_record(fake);
    (void)state;
    assert_int_equal(r.calls[NNRT_FAKE_GetVersion], 1);
    assert_int_equal(r.calls[NNRT_FAKE_GetDeviceName], 1);
    assert_int_equal(r.calls[NNRT_FAKE_PrepareModel], 0);
    assert_int_equal(open_session(&s, model, NULL, &e), NNRT_SUCCESS); /* auto finds it */
    assert_int_equal(run(s), NNRT_SUCCESS);
    assert_int_equal(run(s), NNRT_SUCCESS);
    r = nnrt_fake_get_record(fake);
    assert_int_equal(r.calls[NNRT_FAKE_PrepareModel], 1);
    assert_int_equal(r.calls[NNRT_FAKE_GetSupportedNodes], 1);
    assert_int_equal(r.calls[NNRT_FAKE_RunIn], 2);
    assert_int_equal(r.prepared, 1);
    assert_int_equal(r.nodes, 3);
    assert_int_equal(r.released, 0);
    assert_int_equal(nnrt_device_unregister("fake"), NNRT_DEVICE_BUSY);
    nnrt_session_destroy(s);
    assert_int_equal(nnrt_fake_get_record(fake).released, 1);
    unregistered(fake);
    nnrt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_texts), cmocka_unit_test(test_names),          cmocka_unit_test(test_takes),
        cmocka_unit_test(test_plain_question), cmocka_unit_test(test_open_extents),
        cmocka_unit_test(test_unread_input),
        cmocka_unit_test(test_part_ranges), cmocka_unit_test(test_without),
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_fail),           cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_delay),     cmocka_unit_test(test_hang),
        cmocka_unit_test(test_figures),   cmocka_unit_test(test_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
