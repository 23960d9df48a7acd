/* Drivers of NNAdapter as devices: the driver of tests/compat/nnadapter_plain.c, linked into the program and in a shared
   library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compat/nnrt_nnadapter_driver.h"

#include "nnadapter_plain.c"
#include "vec.h"

#define is(call, code) assert_int_equal(call, code)
#define LIBRARY "build/test/libplain_npu.so"

static float filled[4096];

/* y = relu6(conv(x + x2)) + z in NCHW, three images of 4 channels; group, stride, paddings and dilation that are not 1. */
static NNRT_Model *model_of(NNRT_Format format, bool cosine)
{
    static const int64_t two[2] = {2, 1}, pads[4] = {1, 0, 2, 1}, spread[2] = {1, 2};
    const bool first = format == NNRT_FORMAT_NCHW;
    const int32_t x[4] = {3, first ? 4 : 5, first ? 5 : 6, first ? 6 : 4}, row[3] = {first ? 4 : 1, first ? 1 : 6, x[3]};
    const int32_t w[4] = {6, 2, 3, 2}, b[1] = {6}, z[1] = {1};
    NNRT_Conv2DFusion conv;
    NNRT_AddFusion plain;
    nnrt_builder *builder = NULL;
    NNRT_Model *model = NULL;
    nnrt_error error;
    uint32_t in[3], y;
    memset(&error, 0, sizeof(error));
    memset(&conv, 0, sizeof(conv));
    memset(&plain, 0, sizeof(plain));
    conv.stride = nnrt_int64_list(two, 2);
    conv.padList = nnrt_int64_list(pads, 4);
    conv.dilation = nnrt_int64_list(spread, 2);
    conv.group = 2;
    conv.activationType = NNRT_ACTIVATION_TYPE_RELU6;
    for (uint32_t i = 0; i < 4096; i++)
        filled[i] = (float)((int32_t)(i * 2654435761u >> 20) - 2048) / 700.0f;
    is(nnrt_builder_create(&builder, "plain", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(builder, "x", NNRT_DATA_TYPE_FLOAT32, 4, x);
    in[1] = nnrt_builder_input(builder, "row", NNRT_DATA_TYPE_FLOAT32, 3, row);
    nnrt_builder_format(builder, in[0], format);
    in[0] = nnrt_builder_op(builder, "sum", NNRT_NODE_TYPE_ADD_FUSION, &plain, in, 2);
    in[1] = nnrt_builder_constant(builder, "w", NNRT_DATA_TYPE_FLOAT32, 4, w, filled + 100, false);
    in[2] = nnrt_builder_constant(builder, "b", NNRT_DATA_TYPE_FLOAT32, 1, b, filled + 300, false);
    in[0] = nnrt_builder_op(builder, "conv", NNRT_NODE_TYPE_CONV2D_FUSION, &conv, in, 3);
    in[1] = nnrt_builder_constant(builder, "z", NNRT_DATA_TYPE_FLOAT32, 1, z, filled + 400, false);
    y = nnrt_builder_op(builder, "y", NNRT_NODE_TYPE_ADD_FUSION, &plain, in, 2);
    if (cosine)
        y = nnrt_builder_op(builder, "cos", NNRT_NODE_TYPE_COS, NULL, &y, 1);
    nnrt_builder_output(builder, y);
    if (nnrt_builder_finish(builder, &model, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(builder);
    return model;
}

/* Runs the model; the result in out. */
static NNRT_ReturnCode run_on(const char *device, const NNRT_Model *model, float *out, size_t room, nnrt_error *error)
{
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    nnrt_io in[2], y;
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    memset(error, 0, sizeof(*error));
    desc.device = device;
    if ((code = nnrt_session_create(&session, model, &desc, error)) != NNRT_SUCCESS)
        return code;
    in[0] = nnrt_io_make(filled, 3 * 4 * 5 * 6 * sizeof(float));
    in[1] = nnrt_io_make(filled + 1000, 4 * 6 * sizeof(float));
    y = nnrt_io_make(out, nnrt_session_output(session, 0).bytes);
    assert_true(y.bytes <= room);
    for (int twice = 0; twice < 2 && code == NNRT_SUCCESS; twice++) {
        memset(out, 0xA5, room);
        code = nnrt_run(session, in, 2, &y, 1);
    }
    nnrt_session_destroy(session);
    return code;
}

static void same_bits(void)
{
    NNRT_Model *model = model_of(NNRT_FORMAT_NCHW, false);
    float want[1024], got[1024];
    nnrt_error error;
    is(run_on("reference", model, want, sizeof(want), &error), NNRT_SUCCESS);
    if (run_on("plain_npu", model, got, sizeof(got), &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    assert_memory_equal(want, got, sizeof(want));
    is(plain_programs, 0);
    nnrt_model_destroy(model);
}

static void in_the_program(void **state)
{
    NNAdapterDriver table = __nnadapter_device__plain_npu;
    nnrt_error error;
    (void)state;
    memset(&error, 0, sizeof(error));
    is(nnrt_nnadapter_driver_register(NULL, NULL, NULL), NNRT_NULL_PTR);
    table.execute_program = NULL;
    is(nnrt_nnadapter_driver_register(&table, NULL, NULL), NNRT_INVALID_PARAMETER);
    table = __nnadapter_device__plain_npu;
    table.structSize -= 8; /* of a driver from before the last member */
    is(nnrt_nnadapter_driver_register(&table, NULL, NULL), NNRT_INVALID_PARAMETER);
    table = __nnadapter_device__plain_npu;
    table.name = "";
    is(nnrt_nnadapter_driver_register(&table, NULL, NULL), NNRT_INVALID_PARAMETER);
    is(plain_open, 0);
    is(nnrt_nnadapter_driver_register(&__nnadapter_device__plain_npu, "PLAIN_NPU_SPEED=9;", &error), NNRT_SUCCESS);
    is(plain_open, 1);
    is(plain_contexts, 1);
    assert_string_equal(plain_properties, "PLAIN_NPU_SPEED=9;");
    is(nnrt_nnadapter_driver_register(&__nnadapter_device__plain_npu, NULL, &error), NNRT_INVALID_PARAMETER); /* twice */
    assert_string_equal(nnrt_device_unique_name(nnrt_device_find("plain_npu")), "plain_npu_tests_v3_0");
    is(nnrt_device_type(nnrt_device_find("plain_npu"), NULL), NNRT_DEVICE_TYPE_ACCELERATOR);
    same_bits();
    is(nnrt_device_unregister("plain_npu"), NNRT_SUCCESS);
    is(plain_open, 0);
    is(plain_contexts, 0);
}

/* ---- data of the application only ---- */

static int stream_of_ours, asked;

static int answer(int event, void *data)
{
    void *stream = &stream_of_ours;
    asked++;
    if (event != 0x0100)
        return 1;
    memcpy(data, &stream, sizeof(stream));
    return 0;
}

static int deny(int event, void *data)
{
    (void)event, (void)data;
    asked++;
    return 1;
}

/* The callback of a session reaches the driver in a context of the prepared model; that of NNAdapter's context reaches it at
   once, in a context that all compilations use, with the driver's properties and the application's. */
static void callbacks(void **state)
{
    NNRT_Model *model = model_of(NNRT_FORMAT_NCHW, false);
    NNAdapterDevice *device = NULL;
    nnrt_error error;
    (void)state;
    memset(&error, 0, sizeof(error));
    is(nnrt_nnadapter_driver_register(&__nnadapter_device__plain_npu, "PLAIN_NPU_SPEED=9;", &error), NNRT_SUCCESS);
    for (uint32_t i = 0; i < 5; i++) {
        nnrt_session_desc desc;
        nnrt_session *session = NULL;
        NNRT_ReturnCode code;
        memset(&desc, 0, sizeof(desc));
        memset(&error, 0, sizeof(error));
        memset(plain_properties, 0, sizeof(plain_properties));
        plain_stream = NULL;
        plain_answers = asked = 0;
        plain_fails = i == 3 ? "own context" : i == 4 ? "create" : "";
        plain_code = NNADAPTER_DEVICE_INTERNAL_ERROR;
        desc.device = "plain_npu";
        desc.ask = i == 0 ? NULL : i == 2 ? deny : answer;
        code = nnrt_session_create(&session, model, &desc, &error);
        is(code, i == 3 || i == 4 ? NNRT_FAILED : NNRT_SUCCESS);
        is(asked, i == 0 || i == 3 ? 0 : 1);
        is(plain_answers, i == 1 || i == 4);
        is(plain_contexts, i == 1 || i == 2 ? 2 : 1);
        assert_ptr_equal(plain_stream, i == 1 || i == 4 ? &stream_of_ours : NULL);
        assert_string_equal(plain_properties, i == 0 || i == 3 ? "" : "PLAIN_NPU_SPEED=9;");
        if (i == 3 && strstr(error.message, "driver 'plain_npu' cannot create a context") == NULL)
            fail_msg("%s", error.message);
        nnrt_session_destroy(session);
        is(plain_contexts, 1);
        is(plain_programs, 0);
    }
    plain_fails = "";
    plain_code = 0;
    is(NNAdapterDevice_acquire("plain_npu", &device), NNADAPTER_NO_ERROR);
    for (uint32_t i = 0; i < 2; i++) { /* z = x + y, as an NNAdapter user has it */
        static const int32_t none[1] = {NNADAPTER_FUSED_NONE};
        NNAdapterContext *context = NULL;
        NNAdapterModel *m = NULL;
        NNAdapterCompilation *c = NULL;
        NNAdapterOperand *in[3], *out;
        NNAdapterOperation *op = NULL;
        NNAdapterOperandType type;
        asked = plain_answers = 0;
        plain_fails = "context";
        plain_code = NNADAPTER_DEVICE_INTERNAL_ERROR;
        is(NNAdapterContext_create(&device, 1, NULL, answer, &context), NNADAPTER_DEVICE_INTERNAL_ERROR);
        assert_null(context);
        plain_fails = "";
        plain_code = 0;
        is(NNAdapterContext_create(&device, 1, "PLAIN_NPU_DEPTH=3;", i == 0 ? answer : NULL, &context), NNADAPTER_NO_ERROR);
        assert_string_equal(plain_properties, "PLAIN_NPU_SPEED=9;PLAIN_NPU_DEPTH=3;");
        is(plain_contexts, 2);
        is(asked, i == 0);
        is(nnrt_device_unregister("plain_npu"), NNRT_DEVICE_BUSY);
        is(NNAdapterModel_create(&m), NNADAPTER_NO_ERROR);
        memset(&type, 0, sizeof(type));
        type.precision = NNADAPTER_FLOAT32;
        type.dimensions.count = 1;
        type.dimensions.data[0] = 4;
        is(NNAdapterModel_addOperand(m, &type, &in[0]), NNADAPTER_NO_ERROR);
        is(NNAdapterModel_addOperand(m, &type, &in[1]), NNADAPTER_NO_ERROR);
        is(NNAdapterModel_addOperand(m, &type, &out), NNADAPTER_NO_ERROR);
        type.precision = NNADAPTER_INT32;
        type.dimensions.data[0] = 1;
        is(NNAdapterModel_addOperand(m, &type, &in[2]), NNADAPTER_NO_ERROR);
        is(NNAdapterModel_setOperandValue(in[2], (void *)(uintptr_t)none, sizeof(none), true), NNADAPTER_NO_ERROR);
        is(NNAdapterModel_addOperation(m, NNADAPTER_ADD, 3, in, 1, &out, &op), NNADAPTER_NO_ERROR);
        is(NNAdapterModel_identifyInputsAndOutputs(m, 2, in, 1, &out), NNADAPTER_NO_ERROR);
        is(NNAdapterModel_finish(m), NNADAPTER_NO_ERROR);
        is(NNAdapterCompilation_create(m, NULL, NULL, 0, NULL, context, &c), NNADAPTER_NO_ERROR);
        is(NNAdapterCompilation_finish(c), NNADAPTER_NO_ERROR);
        is(plain_contexts, 2);
        assert_true(plain_answers == asked && asked == (i == 0));
        NNAdapterCompilation_destroy(c);
        NNAdapterModel_destroy(m);
        NNAdapterContext_destroy(context);
        is(plain_contexts, 1);
    }
    NNAdapterDevice_release(device);
    nnrt_model_destroy(model);
    is(nnrt_device_unregister("plain_npu"), NNRT_SUCCESS);
    is(plain_contexts, 0);
}

static void in_a_library(void **state)
{
    nnrt_error error;
    FILE *f;
    (void)state;
    memset(&error, 0, sizeof(error));
    is(nnrt_nnadapter_driver_load(NULL, NULL, NULL), NNRT_NULL_PTR);
    is(nnrt_nnadapter_driver_load("build/test/plain_npu.so", NULL, NULL), NNRT_INVALID_FILE);
    is(nnrt_nnadapter_driver_load("build/test/lib.so", NULL, NULL), NNRT_INVALID_FILE);
    is(nnrt_nnadapter_driver_load("build/test/libnothing.so", NULL, &error), NNRT_INVALID_FILE);
    assert_non_null(strstr(error.message, "cannot be loaded"));
    if ((f = fopen(LIBRARY, "rb")) == NULL)
        fail_msg("%s is not there: make build/test/libplain_npu.so", LIBRARY);
    (void)fclose(f);
    assert_true(system("cp " LIBRARY " build/test/libother_npu.so") == 0);
    memset(&error, 0, sizeof(error));
    is(nnrt_nnadapter_driver_load("build/test/libother_npu.so", NULL, &error), NNRT_INVALID_FILE);
    assert_non_null(strstr(error.message, "__nnadapter_device__other_npu"));
    (void)remove("build/test/libother_npu.so");
    memset(&error, 0, sizeof(error));
    is(nnrt_nnadapter_driver_load("build/test/libwrong_npu.so", NULL, &error), NNRT_INVALID_FILE); /* of another name */
    assert_non_null(strstr(error.message, "exports __nnadapter_device__wrong_npu in another layout than NNAdapterDriver"));
    is(nnrt_nnadapter_driver_load(LIBRARY, NULL, NULL), NNRT_SUCCESS);
    is(nnrt_nnadapter_driver_load(LIBRARY, NULL, NULL), NNRT_INVALID_PARAMETER);
    same_bits();
    is(nnrt_device_unregister("plain_npu"), NNRT_SUCCESS);
    is(plain_open, 0); /* the library has counters of its own */
}

static int seed_throws;

static int seed_answer(int event, void *user)
{
    assert_int_equal(event, 0x0100);
    *(int *)user = seed_throws;
    return 0;
}

/* A driver in C++ with the classes of Paddle-Lite's guide: z = x + y, or with `more` (x + y) + 1 and another kind of operation. */
static NNRT_Model *seed_model(bool more, bool other)
{
    static const int32_t dims[2] = {2, 3};
    static const float ones[6] = {1, 1, 1, 1, 1, 1};
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    uint32_t in[2];
    is(nnrt_builder_create(&b, NULL, NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims);
    in[1] = nnrt_builder_input(b, "y", NNRT_DATA_TYPE_FLOAT32, 2, dims);
    in[0] = nnrt_builder_op(b, "z", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    in[1] = nnrt_builder_constant(b, "ones", NNRT_DATA_TYPE_FLOAT32, 2, dims, ones, true);
    if (more)
        in[0] = nnrt_builder_op(b, "more", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    if (other)
        in[0] = nnrt_builder_op(b, "other", NNRT_NODE_TYPE_COS, NULL, in, 1);
    nnrt_builder_output(b, in[0]);
    is(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return model;
}

static NNRT_ReturnCode seed_run(const NNRT_Model *model, const nnrt_cache_desc *kept, uint32_t restored, float add,
                                size_t *bytes, uint8_t **data)
{
    static float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {10, 20, 30, 40, 50, 60};
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    nnrt_cache *c = NULL;
    nnrt_io in[2], out;
    float z[6] = {0};
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    is(nnrt_cache_create(&c, kept, NULL), NNRT_SUCCESS);
    desc.device = "seed_npu";
    desc.cache = kept != NULL ? c : NULL;
    desc.ask = seed_answer;
    code = nnrt_session_create(&s, model, &desc, NULL);
    in[0] = nnrt_io_make(x, sizeof(x));
    in[1] = nnrt_io_make(y, sizeof(y));
    out = nnrt_io_make(z, sizeof(z));
    for (int twice = 0; twice < 2 && code == NNRT_SUCCESS; twice++)
        code = nnrt_run(s, in, 2, &out, 1);
    for (int i = 0; i < 6 && code == NNRT_SUCCESS; i++)
        assert_true(z[i] >= x[i] + y[i] + add && z[i] <= x[i] + y[i] + add);
    nnrt_session_destroy(s);
    is(nnrt_cache_get_state(c)->restored, restored);
    if (data != NULL) {
        is(nnrt_cache_save_memory(c, NULL, NULL, 0, bytes, NULL), NNRT_SUCCESS);
        *data = (uint8_t *)malloc(*bytes);
        is(nnrt_cache_save_memory(c, NULL, *data, *bytes, bytes, NULL), NNRT_SUCCESS);
    }
    nnrt_cache_destroy(c);
    return code;
}

static void in_cpp(void **state)
{
    static const NNRT_ReturnCode thrown[4] = {NNRT_SUCCESS, NNRT_OUT_OF_MEMORY, NNRT_OUT_OF_MEMORY, NNRT_FAILED};
    NNRT_Model *one = seed_model(false, false), *two = seed_model(true, false), *other = seed_model(false, true);
    nnrt_cache_desc kept;
    nnrt_error error;
    const nnrt_device *device;
    (void)state;
    memset(&error, 0, sizeof(error));
    memset(&kept, 0, sizeof(kept));
    if (nnrt_nnadapter_driver_load("build/test/libseed_npu.so", "KEY=1;", &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    assert_non_null(device = nnrt_device_find("seed_npu"));
    assert_string_equal(nnrt_device_unique_name(device), "seed_npu_tests_v4_0");
    is(nnrt_device_type(device, NULL), NNRT_DEVICE_TYPE_ACCELERATOR);
    for (seed_throws = 3; seed_throws >= 0; seed_throws--) /* exceptions are codes */
        is(seed_run(two, NULL, 0, 1, NULL, NULL), thrown[seed_throws]);
    seed_throws = 0;
    is(seed_run(other, NULL, 0, 0, NULL, NULL), NNRT_NOT_SUPPORT);
    is(seed_run(one, &kept, 0, 0, &kept.bytes, (uint8_t **)(uintptr_t)&kept.data), NNRT_SUCCESS);
    is(seed_run(one, &kept, 1, 0, NULL, NULL), NNRT_SUCCESS); /* from the compiled form */
    free((void *)(uintptr_t)kept.data);
    is(nnrt_device_unregister("seed_npu"), NNRT_SUCCESS);
    nnrt_model_destroy(one);
    nnrt_model_destroy(two);
    nnrt_model_destroy(other);
}

static void what_it_takes(void **state)
{
    NNRT_Model *model = model_of(NNRT_FORMAT_NCHW, true), *other = model_of(NNRT_FORMAT_NHWC, false);
    bool answers[4] = {false, false, false, true};
    nnrt_error error;
    float out[1024];
    (void)state;
    is(nnrt_nnadapter_driver_register(&__nnadapter_device__plain_npu, NULL, NULL), NNRT_SUCCESS);
    is(nnrt_device_supported(nnrt_device_find("plain_npu"), model, NULL, answers, 4, NULL, NULL), NNRT_SUCCESS);
    assert_true(answers[0] && answers[1] && answers[2] && !answers[3]);
    is(run_on("plain_npu", model, out, sizeof(out), &error), NNRT_UNSUPPORTED_OP);
    assert_non_null(strstr(error.message, "driver 'plain_npu' does not support node 3 (COS)"));
    is(nnrt_device_supported(nnrt_device_find("plain_npu"), other, NULL, answers, 3, NULL, NULL), NNRT_SUCCESS);
    assert_true(answers[0] && !answers[1] && answers[2]); /* images in another order are not NNAdapter's */
    is(run_on("plain_npu", other, out, sizeof(out), &error), NNRT_UNSUPPORTED_OP);
    assert_non_null(strstr(error.message, "no NNAdapter operation can express node 1 (CONV2D_FUSION)"));
    nnrt_model_destroy(other);
    nnrt_model_destroy(model);
    is(nnrt_device_unregister("plain_npu"), NNRT_SUCCESS);
}

static void failures(void **state)
{
    static const struct {
        const char *what;
        int code;
        NNRT_ReturnCode want;
    } cases[] = {{"open", 1, NNRT_OUT_OF_MEMORY},     {"open", 4, NNRT_SERVICE_ERROR},
                 {"context", 3, NNRT_INVALID_PARAMETER}, {"create", 6, NNRT_NOT_SUPPORT},
                 {"create", 0, NNRT_DEVICE_ERROR},    {"create", 2, NNRT_INVALID_SHAPE},
                 {"validate", 5, NNRT_FAILED},        {"execute", 2, NNRT_INVALID_SHAPE},
                 {"execute", 5, NNRT_FAILED},         {"execute", 99, NNRT_FAILED},
                 {"shape", 0, NNRT_DEVICE_ERROR}};
    NNRT_Model *model = model_of(NNRT_FORMAT_NCHW, false);
    float out[1024];
    (void)state;
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nnrt_error error;
        NNRT_ReturnCode code;
        memset(&error, 0, sizeof(error));
        plain_fails = cases[i].what;
        plain_code = cases[i].code;
        code = nnrt_nnadapter_driver_register(&__nnadapter_device__plain_npu, NULL, &error);
        if (code == NNRT_SUCCESS) {
            code = run_on("plain_npu", model, out, sizeof(out), &error);
            is(nnrt_device_unregister("plain_npu"), NNRT_SUCCESS);
        }
        if (code != cases[i].want)
            fail_msg("%s gives %d: %d, expected %d", cases[i].what, cases[i].code, (int)code, (int)cases[i].want);
        is(plain_open, 0);
        is(plain_contexts, 0);
        is(plain_programs, 0);
    }
    is(plain_refused, 1); /* an output of another shape gets no place */
    plain_fails = "";
    nnrt_model_destroy(model);
}

/* ---- models passed to drivers: a driver that builds them again with NNAdapter's own functions ---- */

typedef struct mirror_program {
    NNAdapterModel *model;
    NNAdapterContext *context;
    NNAdapterCompilation *compilation;
    NNAdapterExecution *execution;
} mirror_program;

static uint32_t mirrored[NNADAPTER_YOLO_BOX + 1]; /* operations of each kind */

static void mirror_destroy(void *program)
{
    mirror_program *p = (mirror_program *)program;
    NNAdapterExecution_destroy(p->execution);
    NNAdapterCompilation_destroy(p->compilation);
    NNAdapterContext_destroy(p->context);
    NNAdapterModel_destroy(p->model);
    free(p);
}

static NNAdapterOperand *mirror_operand(NNAdapterModel *model, const NNAdapterDriverOperand *o)
{
    NNAdapterOperand *made = NULL;
    if (o == NULL)
        return NULL;
    if (o->hints[0] != NULL)
        return (NNAdapterOperand *)o->hints[0];
    is(NNAdapterModel_addOperand(model, &o->type, &made), NNADAPTER_NO_ERROR);
    if (o->buffer != NULL && o->length > 0)
        is(NNAdapterModel_setOperandValue(made, o->buffer, o->length, false), NNADAPTER_NO_ERROR);
    ((NNAdapterDriverOperand *)(uintptr_t)o)->hints[0] = made;
    return made;
}

static int mirror_create(void *context, NNAdapterDriverModel *model, NNAdapterDriverCache *cache, void **program)
{
    mirror_program *p = (mirror_program *)calloc(1, sizeof(*p));
    NNAdapterOperand *in[64], *out[64];
    NNAdapterOperation *op;
    NNAdapterDevice *device;
    int code = NNADAPTER_NO_ERROR;
    (void)context;
    (void)cache;
    is(NNAdapterModel_create(&p->model), NNADAPTER_NO_ERROR);
    for (uint32_t i = 0; i < model->operation_count && code == NNADAPTER_NO_ERROR; i++) {
        const NNAdapterDriverOperation *o = model->operations[i];
        assert_true(o->input_count <= 64 && o->output_count <= 64);
        for (uint32_t k = 0; k < o->input_count; k++)
            in[k] = mirror_operand(p->model, o->input_operands[k]);
        for (uint32_t k = 0; k < o->output_count; k++)
            out[k] = mirror_operand(p->model, o->output_operands[k]);
        code = NNAdapterModel_addOperation(p->model, o->type, o->input_count, in, o->output_count, out, &op);
        if (code != NNADAPTER_NO_ERROR)
            fail_msg("operation %d: %s", o->type, nnrt_nnadapter_model_error(p->model));
        mirrored[o->type]++;
    }
    for (uint32_t i = 0; i < model->input_count; i++)
        in[i] = mirror_operand(p->model, model->input_operands[i]);
    for (uint32_t i = 0; i < model->output_count; i++)
        out[i] = mirror_operand(p->model, model->output_operands[i]);
    if ((code = NNAdapterModel_identifyInputsAndOutputs(p->model, model->input_count, in, model->output_count, out)) !=
            NNADAPTER_NO_ERROR ||
        (code = NNAdapterModel_finish(p->model)) != NNADAPTER_NO_ERROR)
        fail_msg("%s", nnrt_nnadapter_model_error(p->model));
    is(NNAdapterDevice_acquire("reference", &device), NNADAPTER_NO_ERROR);
    is(NNAdapterContext_create(&device, 1, NULL, NULL, &p->context), NNADAPTER_NO_ERROR);
    NNAdapterDevice_release(device);
    is(NNAdapterCompilation_create(p->model, NULL, NULL, 0, NULL, p->context, &p->compilation), NNADAPTER_NO_ERROR);
    if (NNAdapterCompilation_finish(p->compilation) != NNADAPTER_NO_ERROR)
        fail_msg("%s", nnrt_nnadapter_compilation_error(p->compilation));
    is(NNAdapterExecution_create(p->compilation, &p->execution), NNADAPTER_NO_ERROR);
    *program = p;
    return code;
}

static int mirror_execute(void *program, uint32_t input_count, NNAdapterDriverArgument *inputs, uint32_t output_count,
                          NNAdapterDriverArgument *outputs)
{
    mirror_program *p = (mirror_program *)program;
    for (uint32_t i = 0; i < input_count; i++)
        is(NNAdapterExecution_setInput(p->execution, inputs[i].index, inputs[i].memory, inputs[i].access), 0);
    for (uint32_t i = 0; i < output_count; i++)
        is(NNAdapterExecution_setOutput(p->execution, outputs[i].index, outputs[i].memory, outputs[i].access), 0);
    return NNAdapterExecution_compute(p->execution);
}

/* A case as a model of one node; NULL: the model itself is refused. */
static NNRT_Model *model_of_case(const vec_case *c)
{
    uint32_t in[VEC_OPERANDS], out[VEC_OPERANDS];
    nnrt_builder *builder = NULL;
    NNRT_Model *model = NULL;
    is(nnrt_builder_create(&builder, NULL, NULL), NNRT_SUCCESS);
    for (uint32_t i = 0; i < c->nIn; i++) {
        const vec_tensor *t = &c->in[i];
        in[i] = NNRT_NO_TENSOR;
        if (t->present)
            in[i] = t->constant
                        ? nnrt_builder_constant(builder, NULL, t->dataType, t->rank, t->dims, t->data, false)
                        : nnrt_builder_input(builder, NULL, t->dataType, t->rank, t->dims);
        if (t->present && t->quantCount > 0)
            nnrt_builder_quant(builder, in[i], t->quant, t->quantCount);
        if (t->present && i == 0)
            nnrt_builder_format(builder, in[i], c->format);
    }
    for (uint32_t i = 0; i < c->nOut; i++) {
        out[i] = nnrt_builder_tensor(builder, NULL);
        nnrt_builder_declare(builder, out[i], c->out[i].dataType, NNRT_RANK_UNKNOWN, NULL);
        if (c->out[i].quantCount > 0)
            nnrt_builder_quant(builder, out[i], c->out[i].quant, c->out[i].quantCount);
    }
    nnrt_builder_node(builder, NULL, c->op->type, c->attr, in, c->nIn, out, c->nOut);
    for (uint32_t i = 0; i < c->nOut; i++)
        nnrt_builder_output(builder, out[i]);
    (void)nnrt_builder_finish(builder, &model, NULL);
    nnrt_builder_destroy(builder);
    return model;
}

/* Runs a case; false: the device does not take it. */
static bool mirror_case(const vec_case *c)
{
    nnrt_session_desc desc;
    nnrt_session *session = NULL;
    nnrt_io in[VEC_OPERANDS], out[VEC_OPERANDS];
    NNRT_Model *model = model_of_case(c);
    uint32_t nIn = 0;
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    desc.device = "mirror";
    if (model == NULL)
        return false;
    code = nnrt_session_create(&session, model, &desc, NULL);
    if (code != NNRT_SUCCESS) {
        nnrt_model_destroy(model);
        return false;
    }
    for (uint32_t i = 0; i < c->nIn; i++)
        if (c->in[i].present && !c->in[i].constant)
            in[nIn++] = nnrt_io_make(c->in[i].data, c->in[i].count * nnrt_type_size(c->in[i].dataType));
    for (uint32_t i = 0; i < c->nOut; i++) {
        const size_t bytes = nnrt_session_output(session, i).bytes;
        out[i] = nnrt_io_make(malloc(bytes + 1), bytes);
    }
    code = nnrt_run(session, in, nIn, out, c->nOut);
    if (code != NNRT_SUCCESS)
        fail_msg("%s %s: %d %s", c->opName, c->name, (int)code, nnrt_session_error(session));
    for (uint32_t i = 0; i < c->nOut; i++) {
        const vec_tensor *t = &c->out[i];
        if (out[i].bytes != t->count * nnrt_type_size(t->dataType) || vec_compare(c, t, out[i].data) < t->count)
            fail_msg("%s %s: result %u is another one", c->opName, c->name, (unsigned)i);
        free(out[i].data);
    }
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    return true;
}

/* All cases of all operators: supported ones give the results of the file. */
static void mirror(void **state)
{
    static const int32_t wanted[] = {
        NNADAPTER_ABS,          NNADAPTER_ADD,        NNADAPTER_ARG_MAX,      NNADAPTER_AVERAGE_POOL_2D,
        NNADAPTER_BATCH_NORMALIZATION, NNADAPTER_CHANNEL_SHUFFLE, NNADAPTER_CONCAT, NNADAPTER_CONV_2D,
        NNADAPTER_DIV,          NNADAPTER_EQUAL,      NNADAPTER_EXP,          NNADAPTER_EXPAND,
        NNADAPTER_FLATTEN,      NNADAPTER_FULLY_CONNECTED, NNADAPTER_GATHER,  NNADAPTER_GELU,
        NNADAPTER_GRID_SAMPLE,  NNADAPTER_GROUP_NORMALIZATION, NNADAPTER_HARD_SIGMOID, NNADAPTER_LAYER_NORMALIZATION,
        NNADAPTER_LEAKY_RELU,   NNADAPTER_LOG_SOFTMAX, NNADAPTER_MAT_MUL,     NNADAPTER_MAX,
        NNADAPTER_MAX_POOL_2D,  NNADAPTER_MUL,        NNADAPTER_POW,          NNADAPTER_PRELU,
        NNADAPTER_REDUCE_MEAN,  NNADAPTER_REDUCE_SUM, NNADAPTER_RELU,         NNADAPTER_RELU6,
        NNADAPTER_RESHAPE,      NNADAPTER_SIGMOID,    NNADAPTER_SOFTMAX,      NNADAPTER_SPLIT,
        NNADAPTER_SQUEEZE,      NNADAPTER_STACK,      NNADAPTER_SUB,          NNADAPTER_SWISH,
        NNADAPTER_TANH,         NNADAPTER_TILE,       NNADAPTER_TRANSPOSE,    NNADAPTER_UNSQUEEZE};
    NNAdapterDriver table = __nnadapter_device__plain_npu;
    uint32_t taken = 0, kinds = 0;
    (void)state;
    table.name = "mirror";
    table.validate_program = NULL;
    table.create_program = mirror_create;
    table.destroy_program = mirror_destroy;
    table.execute_program = mirror_execute;
    is(nnrt_nnadapter_driver_register(&table, NULL, NULL), NNRT_SUCCESS);
    for (uint32_t op = 0; nnrt_op_at(op) != NULL; op++) {
        char path[128], name[64];
        vec_file file;
        vec_case c;
        size_t k = 0;
        memset(&file, 0, sizeof(file));
        for (; nnrt_op_at(op)->name[k] != '\0'; k++) {
            const char letter = nnrt_op_at(op)->name[k];
            name[k] = letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
        }
        name[k] = '\0';
        (void)nnrt_text(path, sizeof(path), "tests/ops/vectors/%s.vec", name);
        file.path = path;
        if ((file.f = fopen(path, "r")) == NULL)
            continue;
        while (vec_next(&file, &c)) {
            bool seen = c.op != NULL && c.prepareCode == NNRT_SUCCESS && c.runCode == NNRT_SUCCESS && !c.wide;
            for (uint32_t i = 0; i < c.nIn && seen; i++)
                seen = !c.in[i].present || c.in[i].rank <= NNRT_MAX_RANK;
            for (uint32_t i = 0; i < c.nOut && seen; i++)
                seen = c.out[i].present;
            if (seen && mirror_case(&c))
                taken++;
            vec_free(&c);
        }
        vec_free(&c);
        (void)fclose(file.f);
        free(file.text);
    }
    is(nnrt_device_unregister("mirror"), NNRT_SUCCESS);
    for (uint32_t i = 0; i <= NNADAPTER_YOLO_BOX; i++)
        kinds += mirrored[i] > 0;
    print_message("%u cases of %u operations\n", (unsigned)taken, (unsigned)kinds);
    for (uint32_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (mirrored[wanted[i]] == 0)
            fail_msg("operation %d was never given to the driver", (int)wanted[i]);
}

/* ---- a driver with a compiled form: it adds two inputs, and its form is a word ---- */

static char keeper_form[] = "sum";
static uint32_t keeper_models, keeper_caches;

typedef struct keeper_program {
    size_t count;
} keeper_program;

static int keeper_create(void *context, NNAdapterDriverModel *model, NNAdapterDriverCache *cache, void **program)
{
    keeper_program *p;
    size_t count = 1;
    (void)context;
    assert_non_null(cache->token);
    assert_non_null(cache->dir);
    is(cache->input_count, 2);
    is(cache->output_count, 1);
    is(cache->output_types[0].precision, NNADAPTER_FLOAT32);
    if (model == NULL && (cache->length != 4 || strcmp((const char *)cache->buffer, keeper_form) != 0))
        return NNADAPTER_INVALID_PARAMETER;
    for (uint32_t k = 0; k < cache->input_types[1].dimensions.count; k++)
        count *= (size_t)cache->input_types[1].dimensions.data[k];
    p = (keeper_program *)malloc(sizeof(*p));
    p->count = count;
    *program = p;
    if (model != NULL) {
        assert_null(cache->buffer);
        cache->buffer = (uint8_t *)keeper_form;
        cache->length = sizeof(keeper_form);
        keeper_models++;
    } else {
        keeper_caches++;
    }
    return NNADAPTER_NO_ERROR;
}

static void keeper_destroy(void *program)
{
    free(program);
}

static int keeper_execute(void *program, uint32_t input_count, NNAdapterDriverArgument *inputs, uint32_t output_count,
                          NNAdapterDriverArgument *outputs)
{
    const keeper_program *p = (const keeper_program *)program;
    NNAdapterOperandType type;
    const float *x, *y;
    float *z;
    is(input_count, 2);
    is(output_count, 1);
    memset(&type, 0, sizeof(type));
    type.precision = NNADAPTER_FLOAT32;
    x = (const float *)inputs[0].access(inputs[0].memory, &type, NULL);
    y = (const float *)inputs[1].access(inputs[1].memory, &type, NULL);
    z = (float *)outputs[0].access(outputs[0].memory, &type, NULL);
    for (size_t i = 0; i < p->count; i++)
        z[i] = x[i] + y[i];
    return NNADAPTER_NO_ERROR;
}

static void keeps(void **state)
{
    static const int32_t dims[2] = {2, 3};
    static const float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {10, 20, 30, 40, 50, 60}, sums[6] = {11, 22, 33, 44, 55, 66};
    NNAdapterDriver table = __nnadapter_device__plain_npu;
    NNRT_PreparedModel *prepared = NULL;
    const NNRT_SharedBuffer *exported = NULL;
    NNRT_SharedBuffer blocks[2];
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    uint32_t in[2], count = 0;
    uint8_t *data = NULL;
    size_t bytes = 0;
    (void)state;
    table.name = "keeper";
    table.validate_program = NULL;
    table.create_program = keeper_create;
    table.destroy_program = keeper_destroy;
    table.execute_program = keeper_execute;
    is(nnrt_nnadapter_driver_register(&table, NULL, NULL), NNRT_SUCCESS);
    is(nnrt_builder_create(&b, NULL, NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims);
    in[1] = nnrt_builder_input(b, "y", NNRT_DATA_TYPE_FLOAT32, 2, dims);
    nnrt_builder_output(b, nnrt_builder_op(b, "z", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2));
    is(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    for (uint32_t k = 0; k < 3; k++) { /* no cache; from the first cache; from the cache written after that */
        nnrt_cache_desc kept;
        nnrt_session_desc desc;
        nnrt_session *s = NULL;
        nnrt_cache *c = NULL;
        nnrt_io inputs[2], output;
        float z[6] = {0};
        memset(&kept, 0, sizeof(kept));
        memset(&desc, 0, sizeof(desc));
        kept.data = data;
        kept.bytes = bytes;
        is(nnrt_cache_create(&c, &kept, NULL), NNRT_SUCCESS);
        desc.device = "keeper";
        desc.cache = c;
        is(nnrt_session_create(&s, model, &desc, NULL), NNRT_SUCCESS);
        is(nnrt_cache_get_state(c)->restored, k > 0);
        inputs[0] = nnrt_io_make((void *)(uintptr_t)x, sizeof(x));
        inputs[1] = nnrt_io_make((void *)(uintptr_t)y, sizeof(y));
        output = nnrt_io_make(z, sizeof(z));
        is(nnrt_run(s, inputs, 2, &output, 1), NNRT_SUCCESS);
        assert_memory_equal(z, sums, sizeof(z));
        nnrt_session_destroy(s);
        if (k < 2) {
            uint8_t *more;
            is(nnrt_cache_save_memory(c, NULL, NULL, 0, &bytes, NULL), NNRT_SUCCESS);
            more = (uint8_t *)malloc(bytes);
            is(nnrt_cache_save_memory(c, NULL, more, bytes, &bytes, NULL), NNRT_SUCCESS);
            nnrt_cache_destroy(c); /* it reads data */
            free(data);
            data = more;
        } else {
            nnrt_cache_destroy(c);
        }
    }
    free(data);
    is(keeper_models, 1);
    is(keeper_caches, 2);
    /* data that is no cache of the device */
    is(nnrt_device_prepare(nnrt_device_find("keeper"), model, NULL, &prepared), NNRT_SUCCESS);
    is(prepared->vtbl->ExportModelCache(prepared, &exported, &count), NNRT_SUCCESS);
    is(count, 2);
    for (uint32_t k = 0; k < 7; k++) {
        NNRT_PreparedModel *other = NULL;
        uint8_t record[256];
        memcpy(blocks, exported, sizeof(blocks));
        assert_true(blocks[0].dataSize <= sizeof(record));
        memcpy(record, blocks[0].addr, blocks[0].dataSize);
        blocks[0].addr = record;
        switch (k) {
        case 1: blocks[0].dataSize--; break;
        case 2: blocks[0].addr = NULL; break;
        case 3: record[3] = 0xFF; break;  /* inputs */
        case 4: record[8] = 99; break;    /* type of the first one */
        case 5: record[12] = 9; break;    /* its rank */
        case 6: blocks[1].dataSize--; break; /* the driver's own: it says no */
        default: break;
        }
        is(nnrt_device_prepare_cache(nnrt_device_find("keeper"), blocks, k == 0 ? 1 : 2, NULL, &other),
           k == 6 ? NNRT_INVALID_PARAMETER : NNRT_INVALID_MODEL_CACHE);
    }
    nnrt_device_release(nnrt_device_find("keeper"), prepared);
    nnrt_model_destroy(model);
    is(nnrt_device_unregister("keeper"), NNRT_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mirror),        cmocka_unit_test(in_the_program), cmocka_unit_test(in_a_library),
        cmocka_unit_test(in_cpp),
        cmocka_unit_test(callbacks),
        cmocka_unit_test(what_it_takes), cmocka_unit_test(failures),       cmocka_unit_test(keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
