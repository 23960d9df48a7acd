/* Tests of states: metadata of a model, and values that a session keeps between runs. */
#define _XOPEN_SOURCE 700
#include "nnrt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kit.h"

/* y = (total + x)[index], total.next = total + x: the state is the first input and the first output. q is a second state,
   int8 with zero point -3, which stays; its real values are the last output. */
static NNRT_Model *accumulator(const nnrt_allocator *allocator)
{
    static const int32_t dims[2] = {2, 3};
    static const int64_t axis = 0;
    NNRT_QuantParam quant = {8, -3, 0.5};
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    nnrt_error error;
    uint32_t total, x, index, q, sum, y, next, real, in[3];
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_builder_create(&b, "accumulator", allocator), NNRT_SUCCESS);
    total = nnrt_builder_input(b, "total", F32, 2, dims);
    x = nnrt_builder_input(b, "x", F32, 2, dims);
    q = nnrt_builder_input(b, "q", NNRT_DATA_TYPE_INT8, 2, dims);
    nnrt_builder_quant(b, q, &quant, 1);
    index = nnrt_builder_input(b, "index", NNRT_DATA_TYPE_INT64, 0, NULL);
    sum = nnrt_builder_tensor(b, "total.next");
    y = nnrt_builder_tensor(b, "y");
    next = nnrt_builder_tensor(b, "q.next");
    real = nnrt_builder_tensor(b, "real");
    nnrt_builder_declare(b, real, F32, NNRT_RANK_UNKNOWN, NULL);
    nnrt_builder_quant(b, next, &quant, 1);
    in[0] = total;
    in[1] = x;
    nnrt_builder_node(b, "add", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2, &sum, 1);
    in[0] = sum;
    in[1] = index;
    in[2] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT64, 0, NULL, &axis, true);
    nnrt_builder_node(b, "gather", NNRT_NODE_TYPE_GATHER, NULL, in, 3, &y, 1);
    nnrt_builder_node(b, "keep", NNRT_NODE_TYPE_ASSIGN, NULL, &q, 1, &next, 1);
    nnrt_builder_node(b, "real", NNRT_NODE_TYPE_QUANT_DTYPE_CAST, NULL, &q, 1, &real, 1);
    nnrt_builder_output(b, sum);
    nnrt_builder_output(b, y);
    nnrt_builder_output(b, next);
    nnrt_builder_output(b, real);
    if (nnrt_builder_finish(b, &model, &error) != NNRT_SUCCESS)
        print_error("%s\n", error.message);
    nnrt_builder_destroy(b);
    assert_non_null(model);
    return model;
}

static const nnrt_metadata states = {"states", "total=total.next\nq=q.next"};

static NNRT_Model *stateful(void)
{
    NNRT_Model *model = accumulator(NULL);
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_model_annotate(&model, &states, 1, &error), NNRT_SUCCESS);
    return model;
}

/* Runs with x = value everywhere; *y = its result. */
static NNRT_ReturnCode add(nnrt_session *s, float value, int64_t index, float *y)
{
    float x[6], row[3], real[6];
    nnrt_io in[2], out[2];
    NNRT_ReturnCode code;
    for (int i = 0; i < 6; i++)
        x[i] = value;
    in[0] = nnrt_io_make(x, sizeof(x));
    in[1] = nnrt_io_make(&index, sizeof(index));
    out[0] = nnrt_io_make(row, sizeof(row));
    out[1] = nnrt_io_make(real, sizeof(real));
    code = nnrt_run(s, in, 2, out, 2);
    if (code == NNRT_SUCCESS) {
        *y = row[2];
        assert_true(row[0] == row[2] && real[5] == 0); /* the zero point */
    }
    return code;
}

static void test_runs(void **state)
{
    NNRT_Model *model = stateful();
    nnrt_session *s = NULL, *other = NULL;
    nnrt_session_desc desc;
    nnrt_io io;
    float y = 0;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    assert_string_equal(model->allTensors.data[model->inputIndex.data[0]].name, "x");
    assert_string_equal(model->allTensors.data[model->outputIndex.data[1]].name, "real");
    assert_int_equal(nnrt_session_create(&s, model, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_inputs(s), 2);
    assert_int_equal(nnrt_session_outputs(s), 2);
    assert_int_equal(nnrt_session_states(s), 2);
    assert_string_equal(nnrt_session_input(s, 1).name, "index");
    assert_string_equal(nnrt_session_output(s, 0).name, "y");
    assert_null(nnrt_session_input(s, 2).name);
    assert_null(nnrt_session_output(s, 2).name);
    assert_int_equal(nnrt_session_allocate(s, false, 2, &io), NNRT_INVALID_PARAMETER);
    desc.share = s;
    assert_int_equal(nnrt_session_create(&other, model, &desc, NULL), NNRT_SUCCESS);
    for (int i = 1; i <= 5; i++) {
        assert_int_equal(add(s, 2, 1, &y), NNRT_SUCCESS);
        assert_true(y == 2 * (float)i);
    }
    assert_int_equal(add(other, 1, 0, &y), NNRT_SUCCESS); /* states of its own */
    assert_true(y == 1);
    assert_int_not_equal(add(s, 100, 7, &y), NNRT_SUCCESS); /* no such row: after the sum was computed */
    assert_int_equal(add(s, 1, 0, &y), NNRT_SUCCESS);
    assert_true(y == 11);
    nnrt_session_reset(s);
    assert_int_equal(add(s, 3, 1, &y), NNRT_SUCCESS);
    assert_true(y == 3);
    assert_int_equal(add(other, 1, 0, &y), NNRT_SUCCESS);
    assert_true(y == 2);
    nnrt_session_destroy(other);
    nnrt_session_destroy(s);
    nnrt_model_destroy(model);
    assert_int_equal(nnrt_session_states(NULL), 0);
    nnrt_session_reset(NULL);
}

/* The memory of states is part of nnrt_session_bytes; one byte less is refused. */
static void test_memory(void **state)
{
    NNRT_Model *model = stateful(), *plain = accumulator(NULL);
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    size_t bytes = 0, without = 0;
    float y = 0;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    assert_int_equal(nnrt_session_bytes(model, NULL, &bytes, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_bytes(plain, NULL, &without, NULL), NNRT_SUCCESS);
    assert_int_equal(bytes, without + (size_t)4 * NNRT_ALIGNMENT); /* two buffers of 24 bytes, two of 6 */
    desc.buffer = NULL;
    assert_int_equal(posix_memalign(&desc.buffer, NNRT_ALIGNMENT, bytes), 0);
    memset(desc.buffer, 0xA5, bytes);
    desc.bufferBytes = bytes - 1;
    assert_int_equal(nnrt_session_create(&s, model, &desc, NULL), NNRT_OUT_OF_MEMORY);
    desc.bufferBytes = bytes;
    assert_int_equal(nnrt_session_create(&s, model, &desc, NULL), NNRT_SUCCESS);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(add(s, 1, 0, &y), NNRT_SUCCESS);
    assert_true(y == 3);
    nnrt_session_destroy(s);
    free(desc.buffer);
    nnrt_model_destroy(plain);
    nnrt_model_destroy(model);
}

/* A file keeps the metadata that it is saved with, and the optimizer keeps them. */
static void test_file(void **state)
{
    NNRT_Model *model = stateful(), *loaded = NULL;
    nnrt_session *s = NULL;
    nnrt_save_desc save;
    void *file = NULL;
    size_t bytes = 0;
    float y = 0;
    (void)state;
    memset(&save, 0, sizeof(save));
    save.metadata = &states;
    save.metadataCount = 1;
    assert_int_equal(nnrt_model_save_memory(model, &save, NULL, 0, &bytes, NULL), NNRT_SUCCESS);
    assert_int_equal(posix_memalign(&file, NNRT_ALIGNMENT, bytes), 0);
    assert_int_equal(nnrt_model_save_memory(model, &save, file, bytes, &bytes, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_model_load_memory(&loaded, file, bytes, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_model_optimize(&loaded, NULL, NULL), NNRT_SUCCESS);
    assert_string_equal(nnrt_model_metadata(loaded, "states"), states.value);
    assert_int_equal(nnrt_session_create(&s, loaded, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(add(s, 1, 0, &y), NNRT_SUCCESS);
    assert_int_equal(add(s, 1, 0, &y), NNRT_SUCCESS);
    assert_true(y == 2);
    nnrt_session_destroy(s);
    nnrt_model_destroy(loaded);
    nnrt_model_destroy(model);
    free(file);
}

/* Metadata are added and replaced; the model of before stays a part of the new one. */
static void test_annotate(void **state)
{
    static const nnrt_metadata first[2] = {{"a", "1"}, {"b", "2"}}, second[3] = {{"b", "3"}, {"c", ""}, {"b", "4"}};
    NNRT_Model *model = accumulator(NULL);
    (void)state;
    assert_int_equal(nnrt_model_annotate(&model, first, 2, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_model_annotate(&model, second, 3, NULL), NNRT_SUCCESS);
    assert_string_equal(nnrt_model_metadata(model, "a"), "1");
    assert_string_equal(nnrt_model_metadata(model, "b"), "4");
    assert_string_equal(nnrt_model_metadata(model, "c"), "");
    assert_null(nnrt_model_metadata_at(model, 3).key);
    assert_int_equal(nnrt_model_annotate(&model, NULL, 0, NULL), NNRT_SUCCESS);
    assert_string_equal(nnrt_model_metadata(model, "b"), "4");
    nnrt_model_destroy(model);
}

static void test_refused(void **state)
{
    static const char *const texts[] = {"total",
                                        "total=",
                                        "=total.next",
                                        "total=y2",
                                        "x total.next",
                                        "tot=total.next",
                                        "total=total.next\ntotal=y",
                                        "total=total.next\n\nq=q.next",
                                        "total=total.next\nx=total.next"};
    static const nnrt_metadata none = {NULL, "1"}, empty = {"", "1"}, open = {"a", NULL}, wrong = {"states", "x=y"};
    NNRT_Model *model = accumulator(NULL), *const old = model;
    nnrt_session *s = NULL;
    nnrt_error error;
    (void)state;
    for (uint32_t i = 0; i < COUNT(texts); i++) {
        nnrt_metadata m = {"states", texts[i]};
        memset(&error, 0, sizeof(error));
        assert_int_equal(nnrt_model_annotate(&model, &m, 1, &error), NNRT_INVALID_PARAMETER);
        assert_true(model == old && strncmp(error.message, "states, line ", 13) == 0);
    }
    assert_int_equal(nnrt_model_annotate(&model, &none, 1, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_model_annotate(&model, &empty, 1, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_model_annotate(&model, &open, 1, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_model_annotate(&model, NULL, 1, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_model_annotate(NULL, &states, 1, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_model_annotate(&model, &wrong, 1, NULL),
                     NNRT_SUCCESS); /* other shapes: a session refuses it */
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_session_create(&s, model, NULL, &error), NNRT_INVALID_MODEL);
    assert_non_null(strstr(error.message, "'x' and output 'y' differ"));
    nnrt_model_destroy(model);
}

/* A file whose states are not its last inputs and outputs. */
static void test_order(void **state)
{
    NNRT_Model *model = accumulator(NULL), *loaded = NULL;
    nnrt_session *s = NULL;
    nnrt_save_desc save;
    nnrt_error error;
    void *file = NULL;
    size_t bytes = 0;
    (void)state;
    memset(&save, 0, sizeof(save));
    memset(&error, 0, sizeof(error));
    save.metadata = &states;
    save.metadataCount = 1;
    assert_int_equal(nnrt_model_save_memory(model, &save, NULL, 0, &bytes, NULL), NNRT_SUCCESS);
    assert_int_equal(posix_memalign(&file, NNRT_ALIGNMENT, bytes), 0);
    assert_int_equal(nnrt_model_save_memory(model, &save, file, bytes, &bytes, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_model_load_memory(&loaded, file, bytes, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_create(&s, loaded, NULL, &error), NNRT_INVALID_MODEL);
    assert_non_null(strstr(error.message, "nnrt_model_annotate"));
    assert_int_equal(nnrt_session_bytes(loaded, NULL, &bytes, NULL), NNRT_INVALID_MODEL);
    assert_int_equal(nnrt_model_annotate(&loaded, NULL, 0, NULL), NNRT_SUCCESS); /* orders them */
    assert_int_equal(nnrt_session_create(&s, loaded, NULL, NULL), NNRT_SUCCESS);
    nnrt_session_destroy(s);
    nnrt_model_destroy(loaded);
    nnrt_model_destroy(model);
    free(file);
}

/* Each allocation fails once: nothing leaks, and the model stays usable. */
static void test_no_memory(void **state)
{
    static tracker t;
    nnrt_allocator allocator = allocator_of(&t);
    NNRT_Model *model, *old;
    (void)state;
    memset(&t, 0, sizeof(t));
    old = model = accumulator(&allocator);
    t.failAt = t.calls + 1;
    assert_int_equal(nnrt_model_annotate(&model, &states, 1, NULL), NNRT_OUT_OF_MEMORY);
    assert_true(model == old);
    assert_int_equal(nnrt_model_annotate(&model, &states, 1, NULL), NNRT_SUCCESS);
    nnrt_model_destroy(model);
    assert_true(t.live == 0 && !t.wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),      cmocka_unit_test(test_memory),  cmocka_unit_test(test_file),
        cmocka_unit_test(test_annotate),  cmocka_unit_test(test_refused), cmocka_unit_test(test_order),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
