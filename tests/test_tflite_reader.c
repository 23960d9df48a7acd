/* Tests of the .tflite importer: damage of every byte, every length, and every allocation that fails. */
#define _XOPEN_SOURCE 700
#include "formats/nnrt_tflite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tflite/model.h" /* tflite_model: a convolution, a reshape, a dense layer and a softmax, int8, with a signature */

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
    assert_non_null(copy);
    memcpy(copy, data, bytes);
    code = nnrt_tflite_load_memory(&model, copy, bytes, &desc, &error);
    assert_true((code == NNRT_SUCCESS) == (model != NULL));
    assert_true(code == NNRT_SUCCESS || error.message[0] != '\0');
    assert_true(c->peak <= NNRT_TFLITE_BUDGET * bytes + NNRT_TFLITE_BUDGET_FREE);
    nnrt_model_destroy(model);
    assert_int_equal(c->live, 0);
    free(copy);
    return code;
}

static void test_whole(void **state)
{
    counting c;
    (void)state;
    assert_int_equal(import(tflite_model, sizeof(tflite_model), SIZE_MAX, &c), NNRT_SUCCESS);
    assert_true(nnrt_tflite_is(tflite_model, 8));
    assert_false(nnrt_tflite_is(tflite_model, 7));
    assert_false(nnrt_tflite_is(NULL, 8));
}

static void test_truncated(void **state)
{
    counting c;
    (void)state;
    for (size_t n = 0; n < sizeof(tflite_model); n++)
        (void)import(tflite_model, n, SIZE_MAX, &c);
}

/* Every byte changed: each bit, and the values of sizes and types at their ends; NNRT_ALL_BYTES: to all 255 other values. */
static void test_changed(void **state)
{
    static const uint8_t some[] = {1, 2, 4, 8, 16, 32, 64, 128, 0x7f, 0xff};
    const bool all = getenv("NNRT_ALL_BYTES") != NULL;
    uint8_t data[sizeof(tflite_model)];
    uint32_t imported = 0;
    counting c;
    (void)state;
    memcpy(data, tflite_model, sizeof(data));
    for (size_t i = 0; i < sizeof(data); i++) {
        for (uint32_t k = 0; k < (all ? 255 : sizeof(some)); k++) {
            data[i] = (uint8_t)(tflite_model[i] ^ (all ? k + 1 : some[k]));
            imported += import(data, sizeof(data), SIZE_MAX, &c) == NNRT_SUCCESS;
        }
        data[i] = tflite_model[i];
    }
    assert_true(imported > sizeof(data)); /* changed weights and names, at least */
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
    refused(27, 1, "unsupported operators: SVDF (number 27) at 'y' x1" END);
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
    assert_int_equal(import(tflite_model, sizeof(tflite_model), SIZE_MAX, &c), NNRT_SUCCESS);
    calls = c.calls;
    for (size_t k = 0; k < calls; k++)
        assert_int_equal(import(tflite_model, sizeof(tflite_model), k, &c), NNRT_OUT_OF_MEMORY);
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
        assert_true(about.code > last && about.types[0] != '\0' && about.becomes[0] != '\0');
    assert_true(count > 110);
    for (int32_t last = -1; nnrt_tflite_operator(count, &about); count++, last = about.code) /* the unsupported ones */
        assert_true(about.code > last && about.versions == 0 && about.becomes[0] == '\0');
    assert_true(count > 160);
    assert_false(nnrt_tflite_operator(count, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),    cmocka_unit_test(test_truncated), cmocka_unit_test(test_changed),
        cmocka_unit_test(test_messages), cmocka_unit_test(test_memory),    cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
