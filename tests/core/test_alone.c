/* A program without devices/nnrt_auto.h (NNRT_AUTO 0): a session that names no device runs on the first registered device
   that supports every node of its model, else on the reference device; "auto" does not exist. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#undef NNRT_AUTO
#define NNRT_AUTO 0
#define NNRT_SELECT
#define NNRT_KEEP_ADD_FUSION 1
#define NNRT_KEEP_MUL_FUSION 1
#define NNRT_IMPLEMENTATION
#include "nnrt.h"

#include "fakes.h"

/* y = (x + x) * x of two floats. */
static NNRT_Model *sample(void)
{
    static const int32_t two = 2;
    uint32_t in[2];
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, NULL, NULL), NNRT_SUCCESS);
    in[0] = in[1] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 1, &two);
    in[0] = nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_MUL_FUSION, NULL, in, 2));
    if (nnrt_builder_finish(b, &m, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    return m;
}

/* Runs the sample on the device of that name; NULL: no device is named. */
static void run(const char *device)
{
    float x[2] = {1, -3}, y[2] = {0, 0};
    const nnrt_io in = {x, sizeof(x), NULL}, out = {y, sizeof(y), NULL};
    NNRT_Model *m = sample();
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    nnrt_error e;
    size_t bytes = 0;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    assert_int_equal(nnrt_session_bytes(m, &desc, &bytes, &e), NNRT_SUCCESS);
    if (nnrt_session_create(&s, m, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
    assert_true(y[0] == 2 && y[1] == 18);
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);
}

/* The number of models that the fake device prepares while the sample runs. */
static int64_t prepares(nnrt_fake *fake, const char *device)
{
    const int64_t before = nnrt_fake_get_record(fake).prepared;
    run(device);
    return nnrt_fake_get_record(fake).prepared - before;
}

static void test_reference_remains(void **state)
{
    (void)state;
    assert_null(nnrt_device_find("auto"));
    assert_string_equal(nnrt_device_name(nnrt_device_at(0)), "reference");
    assert_string_equal(nnrt_device_name(nnrt_device_choose(NULL, NULL, NULL)),
                        nnrt_device_count() > 1 ? nnrt_device_name(nnrt_device_at(1)) : "reference");
    run(NULL);
    run("reference");
}

static void test_first_that_supports_all(void **state)
{
    nnrt_fake *part, *all;
    (void)state;
    part = registered("fake:name=part,ops=ADD_FUSION");
    assert_int_equal(prepares(part, NULL), 0); /* it supports one node of two: it does not prepare */
    all = registered("fake:name=all,ops=ADD_FUSION+MUL_FUSION");
    assert_int_equal(prepares(part, NULL), 0);
    assert_true(prepares(all, NULL) > 0);
    assert_int_equal(prepares(all, "reference"), 0);
    unregistered(all);
    unregistered(part);
}

static void test_auto_is_unknown(void **state)
{
    static const char *const names[] = {"auto", "auto:reference", "npu"};
    NNRT_Model *m = sample();
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        nnrt_session *s = NULL;
        nnrt_session_desc desc;
        nnrt_error e;
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        desc.device = names[i];
        assert_int_equal(nnrt_session_create(&s, m, &desc, &e), NNRT_INVALID_PARAMETER);
        assert_null(s);
        assert_non_null(strstr(e.message, names[i]));
    }
    nnrt_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference_remains),
                                       cmocka_unit_test(test_first_that_supports_all),
                                       cmocka_unit_test(test_auto_is_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
