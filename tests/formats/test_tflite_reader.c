/* Tests of the .tflite importer: damage of every byte, every length, and every allocation that fails. */
#define _XOPEN_SOURCE 700
#include "formats/nnrt_tflite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* tflite_model: int8; tflite_control: IF, WHILE, a custom operator, two signatures; tflite_state: variables, complex
   values, int16, metadata; tflite_batch: a dynamic dimension */
#include "long.h"
#include "tflite/model.h"

static const struct {
    const uint8_t *data;
    size_t bytes;
} models[] = {{tflite_model, sizeof(tflite_model)}, {tflite_control, sizeof(tflite_control)},
              {tflite_state, sizeof(tflite_state)}, {tflite_batch, sizeof(tflite_batch)}};
#define MODELS (sizeof(models) / sizeof(models[0]))

/* Counts bytes and fails the allocation number `fail`. */
typedef struct counting {
    size_t live, peak, calls, fail;
} counting;

static void *counting_alloc(void *user, size_t bytes, size_t alignment)
{
    counting *c = (counting *)user;
    void *p = NULL;
    if (c->calls++ != c->fail && posix_memalign(&p, alignment, bytes) == 0)
        memset(p, 0xa5, bytes);
    c->live += p != NULL ? bytes : 0;
    c->peak = c->live > c->peak ? c->live : c->peak;
    return p;
}

static void counting_free(void *user, void *block, size_t bytes)
{
    ((counting *)user)->live -= block != NULL ? bytes : 0;
    free(block);
}

/* Imports bytes from a block of exactly this size. A failure has a message; nothing leaks, and the budget holds. */
static NNRT_ReturnCode import(const uint8_t *data, size_t bytes, size_t fail, counting *c)
{
    uint8_t *copy = (uint8_t *)malloc(bytes > 0 ? bytes : 1);
    nnrt_allocator allocator;
    nnrt_tflite_desc desc;
    NNRT_Model *model = NULL;
    nnrt_error error;
    NNRT_ReturnCode code;
    memset(&error, 0, sizeof(error));
    memset(&desc, 0, sizeof(desc));
    memset(c, 0, sizeof(*c));
    c->fail = fail;
    allocator.alloc = counting_alloc;
    allocator.free = counting_free;
    allocator.user = c;
    desc.allocator = &allocator;
    desc.dynamic = true;
    assert_non_null(copy);
    memcpy(copy, data, bytes);
    code = nnrt_tflite_load_memory(&model, copy, bytes, &desc, &error);
    assert_true((code == NNRT_SUCCESS) == (model != NULL));
    assert_true(code == NNRT_SUCCESS || error.message[0] != '\0');
    assert_true(c->peak <= NNRT_TFLITE_BUDGET * bytes + NNRT_TFLITE_BUDGET_FREE); /* no model has sparse constants */
    nnrt_model_destroy(model);
    assert_int_equal(c->live, 0);
    free(copy);
    return code;
}

static void test_whole(void **state)
{
    counting c;
    (void)state;
    for (size_t i = 0; i < MODELS; i++)
        assert_int_equal(import(models[i].data, models[i].bytes, SIZE_MAX, &c), NNRT_SUCCESS);
    assert_true(nnrt_tflite_is(tflite_model, 8));
    assert_false(nnrt_tflite_is(tflite_model, 7));
    assert_false(nnrt_tflite_is(NULL, 8));
}

static void test_truncated(void **state)
{
    counting c;
    (void)state;
    for (size_t i = 0; i < MODELS; i++)
        for (size_t n = 0; n < models[i].bytes; n++)
            (void)import(models[i].data, n, SIZE_MAX, &c);
}

/* Every byte changed: each bit, and the values of sizes and types at their ends, of which each third byte gets a third (the long
   form: all); NNRT_ALL_BYTES: to all 255 other values. */
static void changed(const uint8_t *model, size_t bytes)
{
    static const uint8_t some[] = {1, 2, 4, 8, 16, 32, 64, 128, 0x7f, 0xff};
    const bool all = getenv("NNRT_ALL_BYTES") != NULL;
    const uint32_t step = all || long_form() ? 1 : 3;
    uint8_t *data = (uint8_t *)malloc(bytes);
    uint32_t imported = 0;
    counting c;
    assert_non_null(data);
    memcpy(data, model, bytes);
    for (size_t i = 0; i < bytes; i++) {
        for (uint32_t k = (uint32_t)i % step; k < (all ? 255 : sizeof(some)); k += step) {
            data[i] = (uint8_t)(model[i] ^ (all ? k + 1 : some[k]));
            imported += import(data, bytes, SIZE_MAX, &c) == NNRT_SUCCESS;
        }
        data[i] = model[i];
    }
    free(data);
    assert_true(imported > bytes / step); /* changed weights and names, at least */
}

static void test_changed(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++)
        changed(models[i].data, models[i].bytes);
}

/* The file with code 25 (SOFTMAX) replaced. */
static void refused(uint8_t code, uint8_t version, const char *message)
{
    static const uint8_t softmax[] = {2, 0, 0, 0, 25, 0, 0, 0, 25, 0, 0, 0}; /* version, code, old code */
    uint8_t data[sizeof(tflite_model)];
    NNRT_Model *model = NULL;
    nnrt_error error;
    size_t at = 0;
    memcpy(data, tflite_model, sizeof(data));
    while (at < sizeof(data) - sizeof(softmax) && memcmp(data + at, softmax, sizeof(softmax)) != 0)
        at++;
    assert_true(at < sizeof(data) - sizeof(softmax));
    data[at] = version;
    data[at + 4] = data[at + 8] = code;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_tflite_load_memory(&model, data, sizeof(data), NULL, &error), NNRT_UNSUPPORTED_OP);
    assert_string_equal(error.message, message);
}

static void test_messages(void **state)
{
#define END " (made by 'nnrt test'); end the model before them (nnrt_tflite_desc.outputs)"
    (void)state;
    refused(24, 1, "unsupported operators: RNN (number 24) at 'y' x1" END);
    refused(170, 1, "unsupported operators: STABLEHLO (number 170) at 'y' x1" END);
    refused(32, 1, "unsupported operators: CUSTOM '' at 'y' x1" END);
    refused(25, 9, "unsupported operators: SOFTMAX version 9 (at most 3) at 'y' x1" END);
#undef END
}

static void test_memory(void **state)
{
    counting c;
    size_t calls;
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        assert_int_equal(import(models[i].data, models[i].bytes, SIZE_MAX, &c), NNRT_SUCCESS);
        calls = c.calls;
        for (size_t k = 0; k < calls; k++)
            assert_int_equal(import(models[i].data, models[i].bytes, k, &c), NNRT_OUT_OF_MEMORY);
    }
}

/* Imports the file at path and removes it: the peak of allocated bytes. The model keeps its constants. */
static size_t import_file(const char *path, bool noMap)
{
    nnrt_allocator allocator;
    nnrt_tflite_desc desc;
    NNRT_Model *model = NULL;
    nnrt_session *session = NULL;
    counting c;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(tflite_model, 1, sizeof(tflite_model), f), sizeof(tflite_model));
    assert_int_equal(fclose(f), 0);
    memset(&desc, 0, sizeof(desc));
    memset(&c, 0, sizeof(c));
    c.fail = SIZE_MAX;
    allocator.alloc = counting_alloc;
    allocator.free = counting_free;
    allocator.user = &c;
    desc.allocator = &allocator;
    desc.noMap = noMap;
    assert_int_equal(nnrt_tflite_load(&model, path, &desc, NULL), NNRT_SUCCESS);
    assert_int_equal(remove(path), 0);
    assert_int_equal(nnrt_session_create(&session, model, NULL, NULL), NNRT_SUCCESS);
    nnrt_session_destroy(session);
    nnrt_model_destroy(model);
    assert_int_equal(c.live, 0);
    return c.peak;
}

static void test_file(void **state)
{
    char path[] = "/tmp/nnrt_tflite_XXXXXX";
    const int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(import_file(path, true) - import_file(path, false), sizeof(tflite_model));
}

/* The model of a signature of tflite_control; NULL and the message if there is none. */
static NNRT_Model *signed_model(const char *signature, nnrt_error *error)
{
    NNRT_Model *model = NULL;
    nnrt_tflite_desc desc;
    NNRT_ReturnCode code;
    memset(error, 0, sizeof(*error));
    memset(&desc, 0, sizeof(desc));
    desc.signature = signature;
    code = nnrt_tflite_load_memory(&model, tflite_control, sizeof(tflite_control), &desc, error);
    assert_true((code == NNRT_SUCCESS) == (model != NULL));
    assert_true(code == NNRT_SUCCESS || code == NNRT_INVALID_PARAMETER);
    return model;
}

static void test_signatures(void **state)
{
    static const char *const inputs[] = {"boxes", "boxes", "before"}, *const outputs[] = {"count", "count", "after"};
    static const char *const names[] = {NULL, "detect", "step"};
    nnrt_error error;
    (void)state;
    for (int k = 0; k < 3; k++) {
        NNRT_Model *m = signed_model(names[k], &error);
        assert_non_null(m);
        assert_int_equal(m->inputIndex.count, k < 2 ? 2 : 1);
        assert_string_equal(m->allTensors.data[m->inputIndex.data[0]].name, inputs[k]);
        assert_string_equal(m->allTensors.data[m->outputIndex.data[0]].name, outputs[k]);
        nnrt_model_destroy(m);
    }
    assert_null(signed_model("nope", &error));
    assert_string_equal(error.message, "the file has no signature 'nope', it has 2: 'detect' 'step'");
}

/* tflite_control with one byte pattern replaced: the message of the refusal. */
static void refused_control(const uint8_t *from, const uint8_t *to, size_t bytes, const char *message)
{
    uint8_t data[sizeof(tflite_control)];
    NNRT_Model *model = NULL;
    nnrt_error error;
    size_t at = 0;
    memcpy(data, tflite_control, sizeof(data));
    while (at < sizeof(data) - bytes && memcmp(data + at, from, bytes) != 0)
        at++;
    assert_true(at < sizeof(data) - bytes);
    memcpy(data + at, to, bytes);
    memset(&error, 0, sizeof(error));
    assert_int_not_equal(nnrt_tflite_load_memory(&model, data, sizeof(data), NULL, &error), NNRT_SUCCESS);
    assert_string_equal(error.message, message);
}

static void test_subgraphs(void **state)
{
    static const uint8_t branches[] = {3, 0, 0, 0, 4, 0, 0, 0}, self[] = {0, 0, 0, 0, 4, 0, 0, 0};
    static const uint8_t none[] = {9, 0, 0, 0, 4, 0, 0, 0}, step[] = {2, 0, 0, 0, 4, 0, 0, 0};
    (void)state;
    refused_control(branches, self, 8, "TFLite operator 1 'b' (IF): it runs subgraph 0, which it is part of");
    refused_control(branches, none, 8, "TFLite operator 1 'b' (IF): subgraph 9 does not exist, there are 5 subgraphs");
    refused_control(branches, step, 8, "TFLite operator 1 'b' (IF): tensor 'i' is int32, but receives float32[1,2,4]");
    refused_control(
        (const uint8_t *)"max_detections", (const uint8_t *)"Max_detections", 14,
        "TFLite operator 3 'y0' (TFLite_Detection_PostProcess): maxDetections is 0, maxClassesPerDetection 2, "
        "numClasses 2, expected at least 1");
}

/* The first dimension of the input of tflite_batch, whose shape_signature `to` replaces unless it is NULL; 0: refused, with
   that message. */
static int32_t first_size(const nnrt_tflite_desc *desc, const uint8_t *to, const char *message)
{
    static const uint8_t signature[] = {3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 3, 0, 0, 0}; /* length, entries */
    uint8_t data[sizeof(tflite_batch)];
    NNRT_Model *model = NULL;
    nnrt_error error;
    size_t at = 0;
    int32_t size;
    memcpy(data, tflite_batch, sizeof(data));
    while (at < sizeof(data) - sizeof(signature) && memcmp(data + at, signature, sizeof(signature)) != 0)
        at++;
    assert_true(at < sizeof(data) - sizeof(signature));
    if (to != NULL)
        memcpy(data + at, to, sizeof(signature));
    memset(&error, 0, sizeof(error));
    if (nnrt_tflite_load_memory(&model, data, sizeof(data), desc, &error) != NNRT_SUCCESS) {
        assert_int_equal(error.code, NNRT_INVALID_SHAPE);
        assert_string_equal(error.message, message);
        return 0;
    }
    assert_int_equal(model->allTensors.data[model->inputIndex.data[0]].dims.count, 3);
    assert_int_equal(model->allTensors.data[model->inputIndex.data[0]].dims.data[1], 1);
    size = model->allTensors.data[model->inputIndex.data[0]].dims.data[0];
    nnrt_model_destroy(model);
    return size;
}

static void test_shape_signature(void **state)
{
    static const uint8_t shorter[] = {2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 3, 0, 0, 0};
    static const uint8_t below[] = {3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff, 3, 0, 0, 0};
    static const uint8_t other[] = {3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 4, 0, 0, 0};
    static const uint8_t sized[] = {3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    static const uint8_t *const damaged[] = {shorter, below, other};
    static const nnrt_tflite_input given = {"x", {3, {5, 1, 3}}};
    nnrt_tflite_desc desc;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    assert_int_equal(first_size(&desc, NULL, ""), 1);
    for (int i = 0; i < 3; i++) /* a file that runs with its shape does so, whatever its signature has */
        assert_int_equal(first_size(&desc, damaged[i], ""), 1);
    desc.dynamic = true;
    assert_int_equal(first_size(&desc, NULL, ""), -1);
    assert_int_equal(first_size(&desc, sized, ""), -1); /* 3 is no placeholder */
    assert_int_equal(first_size(&desc, shorter, "the shape_signature of input 'x' has 2 axes, its shape 3"), 0);
    assert_int_equal(first_size(&desc, below, "the shape_signature of input 'x' has -2 on axis 1, expected 1 or -1"), 0);
    assert_int_equal(first_size(&desc, other, "the shape_signature of input 'x' has 4 on axis 2, expected 3 or -1"), 0);
    desc.inputs = &given;
    desc.inputCount = 1;
    assert_int_equal(first_size(&desc, below, ""), 5);
}

/* The states and the metadata of tflite_state. */
static void test_metadata(void **state)
{
    static const nnrt_metadata want[] = {{"states", "sum=sum.next\nstates.begun=states.begun.next\ns=s.next"},
                                         {"labels.y", "cat\ndog"},
                                         {"input.x.mean", "127.5"},
                                         {"input.x.std", "127.5"},
                                         {"input.x.color", "rgb"},
                                         {"description", "a test"},
                                         {"license", "none"}};
    uint8_t data[sizeof(tflite_state)];
    NNRT_Model *model = NULL;
    size_t at = 0;
    (void)state;
    assert_int_equal(nnrt_tflite_load_memory(&model, tflite_state, sizeof(tflite_state), NULL, NULL), NNRT_SUCCESS);
    for (uint32_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        assert_non_null(nnrt_model_metadata(model, want[i].key));
        assert_string_equal(nnrt_model_metadata(model, want[i].key), want[i].value);
    }
    assert_null(nnrt_model_metadata_at(model, sizeof(want) / sizeof(want[0])).key);
    nnrt_model_destroy(model);
    memcpy(data, tflite_state, sizeof(data)); /* damaged metadata are left out */
    while (memcmp(data + at, "M001", 4) != 0)
        at++;
    memset(data + at - 4, 0xff, 4);
    assert_int_equal(nnrt_tflite_load_memory(&model, data, sizeof(data), NULL, NULL), NNRT_SUCCESS);
    assert_string_equal(nnrt_model_metadata_at(model, 0).key, "states");
    assert_null(nnrt_model_metadata_at(model, 1).key);
    nnrt_model_destroy(model);
}

static void test_arguments(void **state)
{
    NNRT_Model *model = NULL;
    nnrt_tflite_about about;
    nnrt_error error;
    uint32_t count = 0;
    (void)state;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_tflite_load_memory(NULL, tflite_model, sizeof(tflite_model), NULL, &error), NNRT_NULL_PTR);
    assert_int_equal(nnrt_tflite_load_memory(&model, NULL, 0, NULL, &error), NNRT_NULL_PTR);
    assert_int_equal(nnrt_tflite_load(&model, "/nowhere/x.tflite", NULL, &error), NNRT_INVALID_PATH);
    for (int32_t last = -1; nnrt_tflite_operator(count, &about) && about.versions > 0; count++, last = about.code)
        assert_true((about.code > last || about.code == 32) &&
                    (about.types[0] != '\0' || strcmp(about.becomes, "NONE") == 0) && about.becomes[0] != '\0');
    assert_true(count > 110);
    for (int32_t last = -1; nnrt_tflite_operator(count, &about); count++, last = about.code) /* the unsupported ones */
        assert_true(about.code > last && about.versions == 0 && about.becomes[0] == '\0');
    assert_true(count > 160);
    assert_false(nnrt_tflite_operator(count, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),     cmocka_unit_test(test_truncated), cmocka_unit_test(test_changed),
        cmocka_unit_test(test_messages),  cmocka_unit_test(test_memory),    cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_subgraphs), cmocka_unit_test(test_metadata),  cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_file),      cmocka_unit_test(test_shape_signature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
