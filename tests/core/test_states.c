/* Tests of states: metadata of a model, and values that a session keeps between runs. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include "nnrt.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* ---- states that are updated in place ---- */

enum { ROWS = 8, WIDTH = 4, NEW = 2 };

/* cache.next = cache with the rows x from `position` on, seen = (by * cache.next)[index]. peeks: the square of the cache before
   is an output, so that the state has two buffers. */
static NNRT_Model *cached_of(bool peeks, int32_t count, float by)
{
    static const int32_t rows[3] = {1, NEW, WIDTH}, one = 1;
    static const int64_t axis = 0;
    const int32_t dims[3] = {1, count, WIDTH};
    static const nnrt_metadata pair = {"states", "cache=cache.next"};
    NNRT_TensorScatter scatter = {0, 0};
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    nnrt_error error;
    uint32_t cache, next, twice, seen, peek = NNRT_NO_TENSOR, in[3];
    memset(&error, 0, sizeof(error));
    scatter.axis = 1;
    assert_int_equal(nnrt_builder_create(&b, "cached", NULL), NNRT_SUCCESS);
    cache = nnrt_builder_input(b, "cache", F32, 3, dims);
    in[0] = cache;
    in[1] = nnrt_builder_input(b, "x", F32, 3, rows);
    in[2] = nnrt_builder_input(b, "position", NNRT_DATA_TYPE_INT64, 1, &one);
    next = nnrt_builder_tensor(b, "cache.next");
    nnrt_builder_node(b, "update", NNRT_NODE_TYPE_TENSOR_SCATTER, &scatter, in, 3, &next, 1);
    in[0] = next;
    in[1] = nnrt_builder_constant(b, NULL, F32, 0, NULL, &by, true);
    twice = nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_MUL_FUSION, NULL, in, 2);
    in[0] = twice;
    in[1] = nnrt_builder_input(b, "index", NNRT_DATA_TYPE_INT64, 0, NULL);
    in[2] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT64, 0, NULL, &axis, true);
    seen = nnrt_builder_op(b, "seen", NNRT_NODE_TYPE_GATHER, NULL, in, 3);
    if (peeks)
        peek = nnrt_builder_op(b, "peek", NNRT_NODE_TYPE_MUL_FUSION, NULL, (uint32_t[]){cache, cache}, 2);
    nnrt_builder_output(b, next);
    nnrt_builder_output(b, seen);
    if (peeks)
        nnrt_builder_output(b, peek);
    if (nnrt_builder_finish(b, &model, &error) != NNRT_SUCCESS)
        print_error("%s\n", error.message);
    nnrt_builder_destroy(b);
    assert_non_null(model);
    assert_int_equal(nnrt_model_annotate(&model, &pair, 1, &error), NNRT_SUCCESS);
    return model;
}

static NNRT_Model *cached(bool peeks)
{
    return cached_of(peeks, ROWS, 2);
}

/* Writes rows of `value` at a position; seen[ROWS * WIDTH] = what the run returns, half of it the cache. */
static NNRT_ReturnCode append(nnrt_session *s, float value, int64_t position, int64_t index, float *seen)
{
    float x[NEW * WIDTH], peek[ROWS * WIDTH];
    nnrt_io in[3], out[2];
    for (int i = 0; i < NEW * WIDTH; i++)
        x[i] = value;
    in[0] = nnrt_io_make(x, sizeof(x));
    in[1] = nnrt_io_make(&position, sizeof(position));
    in[2] = nnrt_io_make(&index, sizeof(index));
    out[0] = nnrt_io_make(seen, ROWS * WIDTH * sizeof(*seen));
    out[1] = nnrt_io_make(peek, sizeof(peek));
    return nnrt_run(s, in, 3, out, nnrt_session_outputs(s));
}

/* Row i of the cache, which a run returned, has this value. */
static void row_is(const float *seen, int i, float value)
{
    for (int k = 0; k < WIDTH; k++)
        assert_true(seen[i * WIDTH + k] == 2 * value);
}

/* One buffer, unless something else reads the state; the same results; positions that do not fit are refused by name and
   write nothing; a run that fails later leaves the rows below its position. */
static void test_in_place(void **state)
{
    static const int64_t wrong[] = {-1, ROWS - NEW + 1, ROWS, (int64_t)1 << 32, INT64_MAX, INT64_MIN};
    (void)state;
    for (int peeks = 0; peeks < 2; peeks++) {
        NNRT_Model *model = cached(peeks != 0);
        nnrt_session *s = NULL;
        nnrt_session_desc desc;
        float seen[ROWS * WIDTH];
        size_t bytes = 0;
        memset(&desc, 0, sizeof(desc));
        assert_int_equal(nnrt_session_bytes(model, &desc, &bytes, NULL), NNRT_SUCCESS);
        assert_int_equal(posix_memalign(&desc.buffer, NNRT_ALIGNMENT, bytes), 0);
        desc.bufferBytes = bytes - 1;
        assert_int_equal(nnrt_session_create(&s, model, &desc, NULL), NNRT_OUT_OF_MEMORY);
        desc.bufferBytes = bytes;
        assert_int_equal(nnrt_session_create(&s, model, &desc, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_get_memory(s).states, (1 + (size_t)peeks) * ROWS * WIDTH * sizeof(float));
        assert_int_equal(append(s, 1, 0, 0, seen), NNRT_SUCCESS);
        assert_int_equal(append(s, 2, 2, 0, seen), NNRT_SUCCESS);
        assert_int_equal(append(s, 3, 6, 0, seen), NNRT_SUCCESS);
        for (uint32_t i = 0; i < COUNT(wrong); i++) {
            assert_int_equal(append(s, 9, wrong[i], 0, seen), NNRT_INVALID_PARAMETER);
            assert_non_null(strstr(nnrt_session_error(s), "'update'"));
            assert_non_null(strstr(nnrt_session_error(s), "axis 1 of x with 8 rows"));
        }
        assert_int_not_equal(append(s, 4, 4, 7, seen), NNRT_SUCCESS); /* no such index: after the cache was written */
        assert_int_equal(append(s, 5, 3, 0, seen), NNRT_SUCCESS);    /* back at an earlier position */
        for (int i = 0; i < ROWS; i++)
            if (i != 5) /* the failed run may have written it */
                row_is(seen, i, i < 2 ? 1 : i == 2 ? 2 : i < 5 ? 5 : 3);
        assert_true(seen[5 * WIDTH] == (peeks ? 0 : 8));
        nnrt_session_reset(s);
        assert_int_equal(append(s, 7, 6, 0, seen), NNRT_SUCCESS);
        for (int i = 0; i < ROWS; i++)
            row_is(seen, i, i < 6 ? 0 : 7);
        nnrt_session_destroy(s);
        free(desc.buffer);
        nnrt_model_destroy(model);
    }
}

/* Without states the caller may pass one buffer, all of it, for such an input and output; other overlaps stay refused. */
static void test_one_buffer(void **state)
{
    NNRT_Model *model = cached(false), *other = cached(true), plain;
    float cache[ROWS * WIDTH + WIDTH] = {0}, x[NEW * WIDTH] = {1, 1, 1, 1, 1, 1, 1, 1}, seen[ROWS * WIDTH], peek[ROWS * WIDTH];
    int64_t position = 3, index = 0;
    (void)state;
    for (int k = 0; k < 3; k++) {
        nnrt_session *s = NULL;
        nnrt_io in[4], out[3];
        plain = *(k < 2 ? model : other);
        plain.self = NULL; /* no metadata */
        assert_int_equal(nnrt_session_create(&s, &plain, NULL, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_inputs(s), 4);
        in[0] = nnrt_io_make(x, sizeof(x));
        in[1] = nnrt_io_make(&position, sizeof(position));
        in[2] = nnrt_io_make(&index, sizeof(index));
        in[3] = nnrt_io_make(cache, sizeof(seen));
        out[0] = nnrt_io_make(seen, sizeof(seen));
        out[1] = nnrt_io_make(peek, sizeof(peek));
        out[k < 2 ? 1 : 2] = nnrt_io_make(k == 1 ? cache + WIDTH : cache, sizeof(seen));
        if (k == 0)
            assert_int_equal(nnrt_run(s, in, 4, out, 2), NNRT_SUCCESS);
        else
            assert_int_equal(nnrt_run(s, in, 4, out, k < 2 ? 2 : 3), NNRT_INVALID_BUFFER);
        for (int i = 0; i < ROWS; i++) {
            assert_true(cache[i * WIDTH] == (i == 3 || i == 4 ? 1 : 0));
            row_is(seen, i, i == 3 || i == 4 ? 1 : 0);
        }
        nnrt_session_destroy(s);
    }
    nnrt_model_destroy(other);
    nnrt_model_destroy(model);
}

/* The kernel reads and writes nothing of a state but its new rows: the pages before and after them have no access. */
static void test_rows_only(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const int32_t width = (int32_t)(page / sizeof(float)), dims[3] = {1, 5, width}, rows[3] = {1, 2, width}, one = 1;
    const nnrt_operand whole = nnrt_operand_make(F32, 3, dims, NULL), part = nnrt_operand_make(F32, 3, rows, NULL);
    const nnrt_operand start = nnrt_operand_make(NNRT_DATA_TYPE_INT64, 1, &one, NULL);
    uint8_t *pages = (uint8_t *)mmap(NULL, 5 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    float *new = (float *)malloc(2 * page);
    int64_t position = 2;
    NNRT_TensorScatter attr = {0, 0};
    nnrt_view x, y, update, starts;
    (void)state;
    assert_true(pages != MAP_FAILED && new != NULL);
    for (size_t i = 0; i < 2 * page / sizeof(float); i++)
        new[i] = (float)i;
    attr.axis = 1;
    nnrt_operand_view(NULL, &whole, 0, &x);
    nnrt_operand_view(NULL, &part, 0, &update);
    nnrt_operand_view(NULL, &start, 0, &starts);
    x.data = pages;
    update.data = new;
    starts.data = &position;
    y = x;
    assert_int_equal(mprotect(pages, 2 * page, PROT_NONE), 0);
    assert_int_equal(mprotect(pages + 4 * page, page, PROT_NONE), 0);
    assert_int_equal(nnrt_tensor_scatter(&attr, &x, &update, &starts, NULL, &y, NULL), NNRT_SUCCESS);
    assert_memory_equal(pages + 2 * page, new, 2 * page);
    assert_int_equal(munmap(pages, 5 * page), 0);
    free(new);
}

/* ---- states in a file ---- */

static nnrt_session *session_of(const NNRT_Model *model)
{
    nnrt_session *s = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_session_create(&s, model, NULL, &error) != NNRT_SUCCESS)
        print_error("%s\n", error.message);
    assert_non_null(s);
    return s;
}

/* Element k of state 0. */
static float *cell(nnrt_session *s, size_t k)
{
    return (float *)nnrt_session_state(s, 0).data + k;
}

/* The saved states; the caller frees them. */
static uint8_t *saved(nnrt_session *s, const NNRT_Model *model, uint32_t rows, const char *note, size_t *bytes)
{
    const nnrt_states all = {rows, note, note != NULL ? strlen(note) : 0};
    uint8_t *data;
    nnrt_error error;
    assert_int_equal(nnrt_session_save_states(s, model, &all, NULL, 0, bytes, NULL), NNRT_SUCCESS);
    data = (uint8_t *)malloc(*bytes);
    assert_non_null(data);
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_session_save_states(s, model, &all, data, *bytes - 1, bytes, &error), NNRT_INSUFFICIENT_BUFFER);
    assert_non_null(strstr(error.message, "the buffer has"));
    assert_int_equal(nnrt_session_save_states(s, model, &all, data, *bytes, bytes, NULL), NNRT_SUCCESS);
    return data;
}

/* The bytes that the format states, the rows and the note; a session with more rows gets them, one with fewer none. */
static void test_saved(void **state)
{
    NNRT_Model *model = cached(false), *large = cached_of(false, 20, 2), *small = cached_of(false, 4, 2);
    nnrt_session *s = session_of(model), *more = session_of(large), *less = session_of(small);
    float seen[ROWS * WIDTH];
    nnrt_states all;
    nnrt_error error;
    size_t bytes;
    uint8_t *data;
    (void)state;
    for (int64_t p = 0; p < ROWS; p += NEW)
        assert_int_equal(append(s, (float)p + 1, p, 0, seen), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_state(s, 0).axis, 1);
    assert_string_equal(nnrt_session_state(s, 0).info.name, "cache");
    assert_null(nnrt_session_state(s, 1).data);
    data = saved(s, model, 5, "abc", &bytes);
    assert_int_equal(bytes, 56 + 48 + 8 + 5 * WIDTH * sizeof(float));
    assert_int_equal(nnrt_session_load_states(NULL, NULL, data, bytes, &all, NULL), NNRT_SUCCESS);
    assert_true(all.rows == 5 && all.noteBytes == 3 && memcmp(all.note, "abc", 3) == 0);
    *cell(more, 5 * WIDTH) = 42;
    assert_int_equal(nnrt_session_load_states(more, large, data, bytes, NULL, NULL), NNRT_SUCCESS);
    for (size_t i = 0; i < 6 * WIDTH; i++)
        assert_true(*cell(more, i) == (i < 5 * WIDTH ? (float)(i / WIDTH / NEW * NEW) + 1 : i == 5 * WIDTH ? 42.0f : 0.0f));
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_session_load_states(less, small, data, bytes, NULL, &error), NNRT_INVALID_SHAPE);
    assert_string_equal(error.message, "5 rows are saved, the states of the session have 4");
    free(data);
    data = saved(s, model, 0, NULL, &bytes);
    assert_int_equal(nnrt_session_load_states(less, small, data, bytes, NULL, NULL), NNRT_SUCCESS);
    free(data);
    all.rows = ROWS + 1;
    assert_int_equal(nnrt_session_save_states(s, model, &all, NULL, 0, &bytes, &error), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_session_save_states(NULL, model, &all, NULL, 0, &bytes, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_session_save_states(s, NULL, &all, NULL, 0, &bytes, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_session_save_states(s, model, NULL, NULL, 0, &bytes, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_session_save_states(s, model, &all, NULL, 0, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_session_load_states(NULL, model, &all, sizeof(states), NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_session_load_states(NULL, NULL, NULL, 0, &all, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_session_load_states(s, NULL, &all, sizeof(states), NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_session_load_states(s, model, NULL, 0, NULL, NULL), NNRT_NULL_PTR);
    nnrt_session_destroy(less);
    nnrt_session_destroy(more);
    nnrt_session_destroy(s);
    nnrt_model_destroy(small);
    nnrt_model_destroy(large);
    nnrt_model_destroy(model);
}

/* States with two buffers: the current values, whichever buffer has them. */
static void test_saved_whole(void **state)
{
    NNRT_Model *model = stateful();
    nnrt_session *s = session_of(model), *other = session_of(model);
    (void)state;
    for (int runs = 1; runs <= 3; runs++) {
        uint8_t *data;
        size_t bytes;
        float y = 0;
        assert_int_equal(add(s, 2, 0, &y), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_state(s, 0).axis, -1);
        assert_true(*cell(s, 5) == 2 * (float)runs && ((int8_t *)nnrt_session_state(s, 1).data)[5] == -3);
        data = saved(s, model, 0, NULL, &bytes);
        assert_int_equal(bytes, 56 + 2 * 48 + 24 + 8);
        assert_int_equal(nnrt_session_load_states(other, model, data, bytes, NULL, NULL), NNRT_SUCCESS);
        assert_int_equal(add(other, 1, 0, &y), NNRT_SUCCESS);
        assert_true(y == 2 * (float)runs + 1);
        free(data);
    }
    nnrt_session_destroy(other);
    nnrt_session_destroy(s);
    nnrt_model_destroy(model);
}

/* The checksum of the format: FNV-1a over four lanes of words of 8 bytes, and over the rest. */
static uint64_t fnv(uint64_t hash, const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    return hash;
}

static void sign(uint8_t *file, size_t bytes)
{
    const uint64_t first = 14695981039346656037u;
    uint64_t lane[4] = {first, first ^ 1, first ^ 2, first ^ 3}, word, sum;
    const uint8_t *data = file + 16;
    size_t at = 0;
    for (; bytes - 16 - at >= 32; at += 32)
        for (int k = 0; k < 4; k++) {
            memcpy(&word, data + at + 8 * k, 8);
            lane[k] = (lane[k] ^ word) * (uint64_t)0x9E3779B97F4A7C15u;
            lane[k] ^= lane[k] >> 29;
        }
    sum = fnv(fnv(first, (const uint8_t *)lane, sizeof(lane)), data + at, bytes - 16 - at);
    memcpy(file + 8, &sum, 8);
}

/* Loads a damaged file; the states stay. */
static void damaged(nnrt_session *s, const NNRT_Model *model, const uint8_t *data, size_t bytes, const char *message)
{
    uint8_t *exact = (uint8_t *)malloc(bytes > 0 ? bytes : 1); /* so that reading behind it is noticed */
    nnrt_error error;
    assert_non_null(exact);
    memcpy(exact, data, bytes);
    memset(&error, 0, sizeof(error));
    assert_int_not_equal(nnrt_session_load_states(s, model, exact, bytes, NULL, &error), NNRT_SUCCESS);
    if (strstr(error.message, message) == NULL)
        print_error("%s, expected %s\n", error.message, message);
    assert_non_null(strstr(error.message, message));
    for (size_t i = 0; i < ROWS * WIDTH; i++)
        assert_true(*cell(s, i) == 7);
    free(exact);
}

/* Every length, every changed byte, and every field with a checksum that is right; states of another model. */
static void test_damaged(void **state)
{
    static const uint64_t numbers[] = {0, 1, 2, 3, 9, 100, 0x7FFFFFFF, 0xFFFFFFFF, (uint64_t)1 << 40, UINT64_MAX};
    NNRT_Model *model = cached(false), *other = cached_of(false, ROWS, 3), *two = stateful();
    nnrt_session *s = session_of(model), *t = session_of(other), *u = session_of(two);
    size_t bytes, more;
    uint8_t *data, *strange;
    float seen[ROWS * WIDTH];
    (void)state;
    for (int64_t p = 0; p < ROWS; p += NEW)
        assert_int_equal(append(s, 5, p, 0, seen), NNRT_SUCCESS);
    data = saved(s, model, 6, "a note", &bytes);
    for (size_t i = 0; i < ROWS * WIDTH; i++)
        *cell(s, i) = 7;
    for (size_t i = 0; i < bytes; i++)
        damaged(s, model, data, i, i < 8 ? "no saved states" : i < 56 ? "cut short" : "say that they have");
    for (size_t i = 0; i < bytes; i++)
        for (int k = 0; k < 8; k++) {
            data[i] ^= (uint8_t)(1 << k);
            damaged(s, model, data, bytes, "saved states");
            data[i] ^= (uint8_t)(1 << k);
        }
    for (size_t at = 16; at < 56 + 48; at += at < 40 ? 8 : 4)
        for (uint32_t k = 0; k < COUNT(numbers); k++) {
            const size_t width = at < 40 ? 8 : 4;
            uint8_t old[8];
            if (memcmp(data + at, &numbers[k], width) == 0 || (at == 24 && numbers[k] < 8)) /* a shorter note changes nothing else */
                continue;
            memcpy(old, data + at, width);
            memcpy(data + at, &numbers[k], width);
            sign(data, bytes);
            damaged(s, model, data, bytes, "saved");
            memcpy(data + at, old, width);
        }
    sign(data, bytes);
    strange = saved(t, other, 6, "a note", &more);
    damaged(s, model, strange, more, "another model");
    free(strange);
    strange = saved(u, two, 0, NULL, &more);
    damaged(s, model, strange, more, "2 states are saved, the session has 1");
    free(strange);
    assert_int_equal(nnrt_session_load_states(s, model, data, bytes, NULL, NULL), NNRT_SUCCESS);
    assert_true(*cell(s, 0) == 5 && *cell(s, 6 * WIDTH) == 7);
    free(data);
    nnrt_session_destroy(u);
    nnrt_session_destroy(t);
    nnrt_session_destroy(s);
    nnrt_model_destroy(two);
    nnrt_model_destroy(other);
    nnrt_model_destroy(model);
}

/* ---- rows that are dropped ---- */

/* The keys of the other rows are turned back by the number of dropped rows: pairs by definition, in double. */
static void test_dropped(void **state)
{
    static const struct {
        const char *rotary;
        int x[2], y[2]; /* the elements of pair i, whose frequency is f[i] */
        double f[2];
    } cases[] = {{"cache=1 pairs 3f800000 3e800000", {0, 2}, {1, 3}, {1, 0.25}},
                 {"cache=1 halves 3f800000 3e800000", {0, 1}, {2, 3}, {1, 0.25}},
                 {"cache=2 pairs 40000000", {0, 2}, {1, 3}, {2, 2}},
                 {"cache=1 pairs 3f000000", {0, 2}, {1, 3}, {0.5, 0}}};
    (void)state;
    for (uint32_t c = 0; c < COUNT(cases); c++) {
        const nnrt_metadata rotary = {"rotary", cases[c].rotary};
        NNRT_Model *model = cached(false);
        nnrt_session *s;
        assert_int_equal(nnrt_model_annotate(&model, &rotary, 1, NULL), NNRT_SUCCESS);
        s = session_of(model);
        for (int i = 0; i < ROWS * WIDTH; i++)
            *cell(s, (size_t)i) = (float)(i * i % 11) - 5;
        assert_int_equal(nnrt_session_drop_rows(s, model, 7, 1, 2, NULL), NNRT_SUCCESS);
        for (int row = 0; row < 5; row++)
            for (int p = 0; p < 2; p++) {
                const int from = (row < 1 ? row : row + 2) * WIDTH;
                const double x = (from + cases[c].x[p]) * (from + cases[c].x[p]) % 11 - 5;
                const double y = (from + cases[c].y[p]) * (from + cases[c].y[p]) % 11 - 5, a = row < 1 ? 0 : -2 * cases[c].f[p];
                assert_true(fabs(*cell(s, (size_t)(row * WIDTH + cases[c].x[p])) - (x * cos(a) - y * sin(a))) < 1e-5);
                assert_true(fabs(*cell(s, (size_t)(row * WIDTH + cases[c].y[p])) - (x * sin(a) + y * cos(a))) < 1e-5);
            }
        nnrt_session_destroy(s);
        nnrt_model_destroy(model);
    }
}

/* Models whose rows cannot be moved, numbers of rows, and lines that are not valid: nothing is changed. */
static void test_drop_refused(void **state)
{
    static const char *const lines[] = {"cache=1 pairs",           "cache=1 pairs 3f80000",  "cache=1 pairs 3f80000g",
                                        "cache=1 pairs  3f800000", "cache=0 pairs 3f800000", "cache=3 pairs 3f800000",
                                        "cache=1 pairs 3f800000 3f800000 3f800000",          "cache=pairs 3f800000",
                                        "cach=1 pairs 3f800000",   "cache,x=1 pairs 3f800000", "=1 pairs 3f800000",
                                        "cache",                   "cache=1 quarters 3f800000", "cache=1 pairs 3f800000\nx",
                                        "cache=1 pairs 3F800000",  "cache=99999999999 pairs 3f800000"};
    static const uint32_t wrong[][3] = {{ROWS + 1, 0, 0}, {4, 5, 0}, {4, 0, 5}, {4, 4, 1}, {4, 1, UINT32_MAX}, {UINT32_MAX, 0, 1}};
    NNRT_Model *model = cached(false), *whole = stateful();
    nnrt_session *s = session_of(model), *t = session_of(whole);
    nnrt_error error;
    (void)state;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_session_drop_rows(s, model, 4, 0, 1, &error), NNRT_NOT_SUPPORT);
    assert_non_null(strstr(error.message, "metadata rotary"));
    assert_int_equal(nnrt_session_drop_rows(t, whole, 0, 0, 0, &error), NNRT_NOT_SUPPORT);
    assert_non_null(strstr(error.message, "not in place"));
    assert_int_equal(nnrt_session_drop_rows(NULL, model, 0, 0, 0, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_session_drop_rows(s, NULL, 0, 0, 0, NULL), NNRT_NULL_PTR);
    for (int i = 0; i < ROWS * WIDTH; i++)
        *cell(s, (size_t)i) = (float)i;
    for (uint32_t i = 0; i < COUNT(lines) + COUNT(wrong); i++) {
        const nnrt_metadata rotary = {"rotary", i < COUNT(lines) ? lines[i] : "cache=1 pairs 3f800000"};
        const uint32_t *n = i < COUNT(lines) ? (const uint32_t[]){8, 1, 2} : wrong[i - COUNT(lines)];
        memset(&error, 0, sizeof(error));
        assert_int_equal(nnrt_model_annotate(&model, &rotary, 1, NULL), NNRT_SUCCESS);
        if (nnrt_session_drop_rows(s, model, n[0], n[1], n[2], &error) !=
            (i < COUNT(lines) ? NNRT_INVALID_MODEL : NNRT_INVALID_PARAMETER))
            fail_msg("%s, %u %u %u: %s", rotary.value, n[0], n[1], n[2], error.message);
        for (int k = 0; k < ROWS * WIDTH; k++)
            assert_true(*cell(s, (size_t)k) == (float)k);
    }
    assert_int_equal(nnrt_session_drop_rows(s, model, 8, 8, 0, NULL), NNRT_SUCCESS);
    nnrt_session_destroy(t);
    nnrt_session_destroy(s);
    nnrt_model_destroy(whole);
    nnrt_model_destroy(model);
}

/* A cache of int8 with a scale for each `block` elements of a row: x is quantized, and both results are written into states. */
static NNRT_Model *cached_int8(int32_t block)
{
    static const int32_t rows[3] = {1, NEW, WIDTH}, one = 1;
    static const nnrt_metadata pairs = {"states", "cache=cache.next\nscales=scales.next"};
    const int32_t dims[2][3] = {{1, ROWS, WIDTH}, {1, ROWS, WIDTH / block}};
    NNRT_QuantizeBlocks quantize;
    NNRT_TensorScatter scatter = {0, 0};
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    uint32_t x, position, made[2], next[2];
    quantize.blockSize = block;
    scatter.axis = 1;
    assert_int_equal(nnrt_builder_create(&b, "int8", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", F32, 3, rows);
    position = nnrt_builder_input(b, "position", NNRT_DATA_TYPE_INT64, 1, &one);
    for (int i = 0; i < 2; i++)
        made[i] = nnrt_builder_tensor(b, NULL);
    nnrt_builder_node(b, "quantize", NNRT_NODE_TYPE_QUANTIZE_BLOCKS, &quantize, &x, 1, made, 2);
    for (int i = 0; i < 2; i++) {
        uint32_t in[3];
        in[0] = nnrt_builder_input(b, i == 0 ? "cache" : "scales", i == 0 ? NNRT_DATA_TYPE_INT8 : NNRT_DATA_TYPE_FLOAT16, 3, dims[i]);
        in[1] = made[i];
        in[2] = position;
        next[i] = nnrt_builder_op(b, i == 0 ? "cache.next" : "scales.next", NNRT_NODE_TYPE_TENSOR_SCATTER, &scatter, in, 3);
    }
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ABS, NULL, &x, 1));
    nnrt_builder_output(b, next[0]);
    nnrt_builder_output(b, next[1]);
    assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_model_annotate(&model, &pairs, 1, NULL), NNRT_SUCCESS);
    return model;
}

/* Element i of a cache of int8. */
static double real_of(nnrt_session *s, int32_t block, int i)
{
    return (double)nnrt_half_to_float(((const uint16_t *)nnrt_session_state(s, 1).data)[i / block]) *
           ((const int8_t *)nnrt_session_state(s, 0).data)[i];
}

/* Rows of int8 that a run writes; keys that are turned are quantized again: half a scale from their definition in double. The rows
   before the dropped ones keep their bits. */
static void test_dropped_int8(void **state)
{
    static const struct {
        const char *rotary;
        int32_t block;
        int x[2], y[2];
        double f[2];
    } cases[] = {{"cache*scales=1 pairs 3f800000 3e800000", 4, {0, 2}, {1, 3}, {1, 0.25}},
                 {"cache*scales=1 halves 3f800000 3e800000", 2, {0, 1}, {2, 3}, {1, 0.25}},
                 {"cache*scales=2 pairs 40000000", 1, {0, 2}, {1, 3}, {2, 2}},
                 {"cache*scales=2 halves 40000000", 2, {0, 2}, {1, 3}, {2, 2}},
                 {"cache*scales=1 pairs 3f000000", 2, {0, 2}, {1, 3}, {0.5, 0}}};
    static const char *const refused[] = {"cache=1 pairs 3f800000", "cache*none=1 pairs 3f800000",
                                          "cache*cache=1 pairs 3f800000", "scales*cache=1 pairs 3f800000", "cache*=1 pairs 3f800000"};
    (void)state;
    for (uint32_t c = 0; c < COUNT(cases) + COUNT(refused); c++) {
        const bool good = c < COUNT(cases);
        const int32_t block = good ? cases[c].block : 2;
        const nnrt_metadata rotary = {"rotary", good ? cases[c].rotary : refused[c - COUNT(cases)]};
        NNRT_Model *model = cached_int8(block);
        nnrt_session *s;
        float x[ROWS * WIDTH], y[NEW * WIDTH];
        double before[ROWS * WIDTH];
        assert_int_equal(nnrt_model_annotate(&model, &rotary, 1, NULL), NNRT_SUCCESS);
        s = session_of(model);
        assert_int_equal(nnrt_session_state(s, 1).axis, 1);
        for (int i = 0; i < ROWS * WIDTH; i++)
            x[i] = (float)(i * i % 11) - 5.25f;
        for (int64_t p = 0; p + NEW <= ROWS; p += NEW) {
            nnrt_io in[2] = {nnrt_io_make(x + p * WIDTH, sizeof(y)), nnrt_io_make(&p, sizeof(p))}, out = nnrt_io_make(y, sizeof(y));
            assert_int_equal(nnrt_run(s, in, 2, &out, 1), NNRT_SUCCESS);
        }
        for (int i = 0; i < ROWS / NEW * NEW * WIDTH; i++) {
            before[i] = real_of(s, block, i);
            assert_true(fabs(before[i] - (double)x[i]) < 6.0 / 127 / 2 * 1.01);
        }
        assert_int_equal(nnrt_session_drop_rows(s, model, 7, 1, 2, NULL), good ? NNRT_SUCCESS : NNRT_INVALID_MODEL);
        for (int row = 0; row < 5; row++)
            for (int p = 0; p < 2; p++) {
                const int from = (good && row > 0 ? row + 2 : row) * WIDTH, to = row * WIDTH;
                const int *at[2] = {cases[good ? c : 0].x, cases[good ? c : 0].y};
                const double a = good && row > 0 ? -2 * cases[c].f[p] : 0, u = before[from + at[0][p]], v = before[from + at[1][p]];
                const double bound = a == 0 && (!good || row == 0) ? 0 : 7.1 / 127 / 2 * 1.01;
                assert_true(fabs(real_of(s, block, to + at[0][p]) - (u * cos(a) - v * sin(a))) <= bound);
                assert_true(fabs(real_of(s, block, to + at[1][p]) - (u * sin(a) + v * cos(a))) <= bound);
            }
        nnrt_session_destroy(s);
        nnrt_model_destroy(model);
    }
}

/* ---- nnrt_model_cache ---- */

enum { HEADS = 2, SIZE = 4, STEPS = 3 };

/* y, present = causal attention of x [1,S,HEADS*SIZE] to itself and past keys and values. reads: the past is read elsewhere. */
static NNRT_Model *attending(const nnrt_allocator *allocator, bool reads)
{
    static const int32_t x[3] = {1, -1, HEADS * SIZE}, past[4] = {1, HEADS, -1, SIZE};
    NNRT_Attention attr;
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    uint32_t in[6], out[3];
    memset(&attr, 0, sizeof(attr));
    attr.isCausal = 1;
    attr.qNumHeads = attr.kvNumHeads = HEADS;
    attr.leftWindowSize = attr.rightWindowSize = -1;
    assert_int_equal(nnrt_builder_create(&b, "attending", allocator), NNRT_SUCCESS);
    in[0] = in[1] = in[2] = nnrt_builder_input(b, "x", F32, 3, x);
    in[3] = NNRT_NO_TENSOR;
    in[4] = nnrt_builder_input(b, "past.key", F32, 4, past);
    in[5] = nnrt_builder_input(b, "past.value", F32, 4, past);
    out[0] = nnrt_builder_tensor(b, "y");
    out[1] = nnrt_builder_tensor(b, "present.key");
    out[2] = nnrt_builder_tensor(b, "present.value");
    nnrt_builder_node(b, "attention", NNRT_NODE_TYPE_ATTENTION, &attr, in, 6, out, 3);
    for (int i = 0; i < 3; i++)
        nnrt_builder_output(b, out[i]);
    if (reads)
        nnrt_builder_output(b, nnrt_builder_op(b, "twice", NNRT_NODE_TYPE_ADD_FUSION, NULL, (uint32_t[]){in[4], in[4]}, 2));
    assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return model;
}

/* y = x times the transpose of present, the past keys followed by x [1,HEADS,S,SIZE]; attention_mask [1,T] has their number. */
static NNRT_Model *joining(const nnrt_allocator *allocator, bool mask)
{
    static const int32_t dims[4] = {1, HEADS, -1, SIZE}, ones[2] = {1, -1};
    NNRT_MatMulFusion product;
    NNRT_Concat join;
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    uint32_t in[2], out;
    memset(&product, 0, sizeof(product));
    product.transposeB = true;
    join.axis = -2;
    assert_int_equal(nnrt_builder_create(&b, "joining", allocator), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "past.key", F32, 4, dims);
    in[1] = nnrt_builder_input(b, "x", F32, 4, dims);
    if (mask)
        (void)nnrt_builder_input(b, "attention_mask", NNRT_DATA_TYPE_INT64, 2, ones);
    out = nnrt_builder_op(b, "present.key", NNRT_NODE_TYPE_CONCAT, &join, in, 2);
    in[0] = in[1];
    in[1] = out;
    nnrt_builder_output(b, out);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_MATMUL_FUSION, &product, in, 2));
    assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return model;
}

/* The products of all keys, of one token after the other; the sums are those of small integers. */
static void test_cache_joined(void **state)
{
    const nnrt_bound bounds[2] = {{"x", {4, {1, HEADS, STEPS, SIZE}}}, {"attention_mask", {2, {1, ROWS}}}};
    NNRT_Model *model = joining(NULL, true), *cached = NULL;
    float x[HEADS * SIZE], y[HEADS * STEPS * ROWS];
    int64_t ones[ROWS];
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    (void)state;
    assert_int_equal(nnrt_model_cache(&cached, model, ROWS, NULL), NNRT_SUCCESS);
    assert_string_equal(nnrt_model_metadata(cached, "states"), "past.key=present.key");
    memset(&desc, 0, sizeof(desc));
    desc.bounds = nnrt_bound_list_make(bounds, 2);
    assert_int_equal(nnrt_session_create(&s, cached, &desc, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_get_memory(s).states, HEADS * ROWS * SIZE * sizeof(float));
    assert_true(nnrt_session_inputs(s) == 3 && nnrt_session_outputs(s) == 1);
    for (int i = 0; i < ROWS; i++)
        ones[i] = 1;
    for (int64_t p = 0; p < ROWS; p++) {
        const int32_t dims[4] = {1, HEADS, 1, SIZE}, total[2] = {1, (int32_t)p + 1};
        nnrt_io in[3], out = nnrt_io_make(y, sizeof(y));
        for (int i = 0; i < HEADS * SIZE; i++)
            x[i] = (float)(p + i / SIZE + 1);
        in[0] = nnrt_io_make(x, sizeof(x));
        in[0].dims = dims;
        in[1] = nnrt_io_make(ones, (size_t)(p + 1) * sizeof(*ones));
        in[1].dims = total;
        in[2] = nnrt_io_make(&p, sizeof(p));
        assert_string_equal(nnrt_session_input(s, 2).name, "position");
        assert_int_equal(nnrt_run(s, in, 3, &out, 1), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_output(s, 0).shape.dims[3], p + 1);
        for (int h = 0; h < HEADS; h++)
            for (int k = 0; k <= p; k++)
                assert_true(y[h * (p + 1) + k] == (float)(SIZE * (p + h + 1) * (k + h + 1)));
    }
    nnrt_session_destroy(s);
    nnrt_model_destroy(cached);
    nnrt_model_destroy(model);
}

/* A run by run comparison with the past and present of the model. */
static void test_cache(void **state)
{
    const nnrt_bound bounds[3] = {{"x", {3, {1, STEPS, HEADS * SIZE}}},
                                  {"past.key", {4, {1, HEADS, ROWS, SIZE}}},
                                  {"past.value", {4, {1, HEADS, ROWS, SIZE}}}};
    NNRT_Model *model = attending(NULL, false), *cached = NULL;
    float past[2][HEADS * ROWS * SIZE], present[2][HEADS * (ROWS + STEPS) * SIZE], x[STEPS * HEADS * SIZE], y[2][STEPS * HEADS * SIZE];
    nnrt_session *s = NULL, *t = NULL;
    nnrt_session_desc desc;
    int64_t position = 0;
    (void)state;
    assert_int_equal(nnrt_model_cache(&cached, model, ROWS, NULL), NNRT_SUCCESS);
    assert_string_equal(nnrt_model_metadata(cached, "states"), "past.key=present.key\npast.value=present.value");
    memset(&desc, 0, sizeof(desc));
    desc.device = "reference";
    desc.bounds = nnrt_bound_list_make(bounds, 3);
    assert_int_equal(nnrt_session_create(&s, model, &desc, NULL), NNRT_SUCCESS);
    desc.bounds.count = 1;
    assert_int_equal(nnrt_session_create(&t, cached, &desc, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_get_memory(t).states, 2 * ROWS * HEADS * SIZE * sizeof(float));
    assert_true(nnrt_session_inputs(t) == 2 && nnrt_session_outputs(t) == 1 && nnrt_session_states(t) == 2);
    assert_string_equal(nnrt_session_input(t, 1).name, "position");
    for (int run = 0; run < 4; run++) { /* 3, 1, 2 and 2 steps fill the cache */
        const int32_t steps = (const int32_t[]){3, 1, 2, 2}[run], dims[3] = {1, steps, HEADS * SIZE};
        const int32_t before[4] = {1, HEADS, (int32_t)position, SIZE};
        nnrt_io in[3], out[3];
        for (int i = 0; i < steps * HEADS * SIZE; i++)
            x[i] = (float)((i * 7 + run * 5) % 13) / 8 - 0.7f;
        in[0] = nnrt_io_make(x, (size_t)steps * HEADS * SIZE * sizeof(float));
        in[0].dims = dims;
        out[0] = nnrt_io_make(y[0], sizeof(y[0]));
        for (int k = 0; k < 2; k++) {
            in[1 + k] = nnrt_io_make(past[k], HEADS * SIZE * sizeof(float) * (size_t)position);
            in[1 + k].dims = before;
            out[1 + k] = nnrt_io_make(present[k], sizeof(present[k]));
        }
        assert_int_equal(nnrt_run(s, in, 3, out, 3), NNRT_SUCCESS);
        in[1] = nnrt_io_make(&position, sizeof(position));
        out[0] = nnrt_io_make(y[1], sizeof(y[1]));
        assert_int_equal(nnrt_run(t, in, 2, out, 1), NNRT_SUCCESS);
        assert_memory_equal(y[0], y[1], (size_t)steps * HEADS * SIZE * sizeof(float));
        position += steps;
        for (int k = 0; k < 2; k++)
            memcpy(past[k], present[k], HEADS * SIZE * sizeof(float) * (size_t)position);
    }
    assert_int_equal(position, ROWS);
    for (int k = 0; k < 2; k++) { /* no row is left */
        const int32_t dims[3] = {1, 1, HEADS * SIZE};
        nnrt_io in[2], out = nnrt_io_make(y[1], sizeof(y[1]));
        in[0] = nnrt_io_make(x, HEADS * SIZE * sizeof(float));
        in[0].dims = dims;
        in[1] = nnrt_io_make(&position, sizeof(position));
        assert_int_equal(nnrt_run(t, in, 2, &out, 1), k == 0 ? NNRT_INVALID_PARAMETER : NNRT_SUCCESS);
        position = ROWS - 1;
    }
    nnrt_session_destroy(t);
    nnrt_session_destroy(s);
    nnrt_model_destroy(cached);
    nnrt_model_destroy(model);
}

static void test_cache_refused(void **state)
{
    NNRT_Model *model = attending(NULL, false), *reads = attending(NULL, true), *sum = accumulator(NULL), *has = stateful(), *out = model;
    NNRT_Model *unmasked = joining(NULL, false);
    nnrt_error error;
    (void)state;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_model_cache(NULL, model, 4, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_model_cache(&out, NULL, 4, NULL), NNRT_NULL_PTR);
    assert_null(out);
    assert_int_equal(nnrt_model_cache(&out, model, 0, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_model_cache(&out, model, (1u << 24) + 1, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_model_cache(&out, reads, 4, &error), NNRT_NOT_SUPPORT);
    assert_non_null(strstr(error.message, "has no ATTENTION, nor CONCAT"));
    assert_int_equal(nnrt_model_cache(&out, sum, 4, NULL), NNRT_NOT_SUPPORT);
    assert_int_equal(nnrt_model_cache(&out, unmasked, 4, NULL), NNRT_NOT_SUPPORT);
    assert_int_equal(nnrt_model_cache(&out, has, 4, &error), NNRT_NOT_SUPPORT);
    assert_string_equal(error.message, "the model has states already");
    assert_null(out);
    nnrt_model_destroy(unmasked);
    nnrt_model_destroy(has);
    nnrt_model_destroy(sum);
    nnrt_model_destroy(reads);
    nnrt_model_destroy(model);
}

/* Forms of ATTENTION of four axes with past keys and values that are pairs, of which some are not. */
enum { PAIRS, TWO_LAYERS, SHAPE_READ, WITH_MASK, NO_PRESENT, CONSTANT_PAST, FIXED_PAST, TWO_BATCHES, OPEN_HEADS, OPEN_SIZE, LENGTHS, WEIGHTS, PRESENT_READ,
       ONE_PAST, PAST_AS_KEYS, NO_PAST, ONE_RESULT, FORMS };

static NNRT_Model *attending_as(int form)
{
    const int32_t batch = form == TWO_BATCHES ? 2 : 1, one[1] = {batch}, x[4] = {batch, HEADS, -1, SIZE};
    const int32_t past[4] = {batch, form == OPEN_HEADS ? -1 : HEADS, form == FIXED_PAST || form == CONSTANT_PAST ? 2 : -1,
                             form == OPEN_SIZE ? -1 : SIZE};
    static const float zeros[2 * HEADS * SIZE];
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    assert_int_equal(nnrt_builder_create(&b, "attending", NULL), NNRT_SUCCESS);
    for (int layer = 0; layer < (form == TWO_LAYERS ? 2 : 1); layer++) {
        uint32_t in[7], out[4];
        char name[4][20];
        for (int k = 0; k < 4; k++)
            snprintf(name[k], sizeof(name[k]), "%s.%d", (const char *const[]){"past.key", "past.value", "present.key", "present.value"}[k],
                     layer);
        in[0] = in[1] = in[2] = layer == 0 ? nnrt_builder_input(b, "x", F32, 4, x) : 0;
        in[3] = in[6] = NNRT_NO_TENSOR;
        for (uint32_t k = 0; k < 2; k++)
            in[4 + k] = form == CONSTANT_PAST ? nnrt_builder_constant(b, name[k], F32, 4, past, zeros, false)
                        : form == ONE_PAST && k == 1 ? in[4]
                                                     : nnrt_builder_input(b, name[k], F32, 4, past);
        if (form == PAST_AS_KEYS)
            in[1] = in[2] = in[4];
        if (form == LENGTHS)
            in[6] = nnrt_builder_input(b, "lengths", NNRT_DATA_TYPE_INT64, 1, one);
        out[0] = nnrt_builder_tensor(b, layer == 0 ? "y" : "z");
        out[1] = nnrt_builder_tensor(b, name[2]);
        out[2] = nnrt_builder_tensor(b, name[3]);
        out[3] = form == WEIGHTS ? nnrt_builder_tensor(b, "weights") : NNRT_NO_TENSOR;
        if (form == WITH_MASK)
            (void)nnrt_builder_input(b, "attention_mask", NNRT_DATA_TYPE_INT64, 2, (const int32_t[]){1, -1});
        nnrt_builder_node(b, "attention", NNRT_NODE_TYPE_ATTENTION, NULL, in, form == LENGTHS ? 7 : form == NO_PAST ? 3 : 6, out,
                          form == WEIGHTS ? 4 : form == ONE_RESULT ? 1 : 3);
        for (int k = 0; k < 3; k++)
            if ((form != NO_PRESENT || k != 1) && (form != ONE_RESULT || k == 0))
                nnrt_builder_output(b, out[k]);
        if (form == SHAPE_READ)
            nnrt_builder_output(b, nnrt_builder_op(b, "shape", NNRT_NODE_TYPE_SHAPE, NULL, &in[4], 1));
        if (form == PRESENT_READ)
            nnrt_builder_output(b, nnrt_builder_op(b, "twice", NNRT_NODE_TYPE_ADD_FUSION, NULL, (uint32_t[]){out[1], out[1]}, 2));
    }
    assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return model;
}

static void test_cache_forms(void **state)
{
    (void)state;
    for (int form = 0; form < FORMS; form++) {
        NNRT_Model *model = attending_as(form), *cached = NULL;
        const NNRT_ReturnCode code = nnrt_model_cache(&cached, model, ROWS, NULL);
        if (code != (form <= WITH_MASK ? NNRT_SUCCESS : NNRT_NOT_SUPPORT))
            fail_msg("form %d: %s", form, nnrt_code_name(code));
        if (form == TWO_LAYERS)
            assert_string_equal(nnrt_model_metadata(cached, "states"), "past.key.0=present.key.0\npast.value.0=present.value.0\n"
                                                                       "past.key.1=present.key.1\npast.value.1=present.value.1");
        nnrt_model_destroy(cached);
        nnrt_model_destroy(model);
    }
}

/* Forms of CONCAT of past and new rows, with an input attention_mask. */
enum { JOINED, JOINED_TWICE, JOINED_ANNOTATED, JOINED_LAST_AXIS, JOINED_ITSELF, JOINED_THREE, THREE_AXES, MASK_OF_ONE_AXIS, MASK_OF_OTHER_NAME,
       MANY_ELEMENTS, JOINS };

static NNRT_Model *joining_as(int form)
{
    const int32_t many = form == MANY_ELEMENTS ? 65536 : HEADS, rank = form == THREE_AXES ? 3 : 4;
    const int32_t dims[4] = {1, many, -1, form == MANY_ELEMENTS ? 65536 : SIZE}, ones[2] = {1, -1};
    static const nnrt_metadata note = {"author", "a test"};
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    assert_int_equal(nnrt_builder_create(&b, "joining", NULL), NNRT_SUCCESS);
    if (form == MASK_OF_ONE_AXIS)
        (void)nnrt_builder_input(b, "attention_mask", NNRT_DATA_TYPE_INT64, 1, &ones[1]);
    else
        (void)nnrt_builder_input(b, form == MASK_OF_OTHER_NAME ? "mask" : "attention_mask", NNRT_DATA_TYPE_INT64, 2, ones);
    for (int layer = 0; layer < (form == JOINED_TWICE ? 2 : 1); layer++) {
        NNRT_Concat join;
        uint32_t in[3], out;
        join.axis = form == JOINED_LAST_AXIS ? 3 : 2;
        in[0] = nnrt_builder_input(b, layer == 0 ? "past.0" : "past.1", F32, rank, dims);
        in[1] = in[2] = form == JOINED_ITSELF ? in[0] : nnrt_builder_input(b, layer == 0 ? "x.0" : "x.1", F32, rank, dims);
        out = nnrt_builder_op(b, layer == 0 ? "present.0" : "present.1", NNRT_NODE_TYPE_CONCAT, &join, in, form == JOINED_THREE ? 3 : 2);
        nnrt_builder_output(b, out);
        nnrt_builder_output(b, nnrt_builder_op(b, layer == 0 ? "y.0" : "y.1", NNRT_NODE_TYPE_ADD_FUSION, NULL, (uint32_t[]){out, out}, 2));
    }
    assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    if (form == JOINED_ANNOTATED)
        assert_int_equal(nnrt_model_annotate(&model, &note, 1, NULL), NNRT_SUCCESS);
    return model;
}

static void test_cache_joins(void **state)
{
    (void)state;
    for (int form = 0; form < JOINS; form++) {
        NNRT_Model *model = joining_as(form), *cached = NULL;
        const NNRT_ReturnCode code = nnrt_model_cache(&cached, model, ROWS, NULL);
        if (code != (form <= JOINED_ANNOTATED ? NNRT_SUCCESS : form == MANY_ELEMENTS ? NNRT_INVALID_SHAPE : NNRT_NOT_SUPPORT))
            fail_msg("form %d: %s", form, nnrt_code_name(code));
        if (form == JOINED_TWICE)
            assert_string_equal(nnrt_model_metadata(cached, "states"), "past.0=present.0\npast.1=present.1");
        if (form == JOINED_ANNOTATED)
            assert_string_equal(nnrt_model_metadata(cached, "author"), "a test");
        nnrt_model_destroy(cached);
        nnrt_model_destroy(model);
    }
}

/* The shape of the past, which a graph may read, has the number of tokens before. */
static void test_cache_shape(void **state)
{
    const nnrt_bound bound = {"x", {4, {1, HEADS, STEPS, SIZE}}};
    NNRT_Model *model = attending_as(SHAPE_READ), *cached = NULL;
    float x[HEADS * SIZE], y[HEADS * STEPS * SIZE];
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    (void)state;
    assert_int_equal(nnrt_model_cache(&cached, model, ROWS, NULL), NNRT_SUCCESS);
    memset(&desc, 0, sizeof(desc));
    memset(x, 0, sizeof(x));
    desc.bounds = nnrt_bound_list_make(&bound, 1);
    assert_int_equal(nnrt_session_create(&s, cached, &desc, NULL), NNRT_SUCCESS);
    for (int64_t p = 0; p < ROWS; p++) {
        const int32_t dims[4] = {1, HEADS, 1, SIZE};
        int32_t shape[4] = {0, 0, 0, 0};
        nnrt_io in[2], out[2];
        in[0] = nnrt_io_make(x, sizeof(x));
        in[0].dims = dims;
        in[1] = nnrt_io_make(&p, sizeof(p));
        out[0] = nnrt_io_make(y, sizeof(y));
        out[1] = nnrt_io_make(shape, sizeof(shape));
        if (nnrt_run(s, in, 2, out, 2) != NNRT_SUCCESS)
            fail_msg("%s", nnrt_session_error(s));
        assert_true(shape[0] == 1 && shape[1] == HEADS && shape[2] == p && shape[3] == SIZE);
    }
    nnrt_session_destroy(s);
    nnrt_model_destroy(cached);
    nnrt_model_destroy(model);
}

/* Each allocation fails once. */
static void test_cache_no_memory(void **state)
{
    static tracker t;
    nnrt_allocator allocator = allocator_of(&t);
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        NNRT_Model *model, *cached = NULL;
        NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
        int rounds = 0;
        memset(&t, 0, sizeof(t));
        model = kind == 0 ? attending(&allocator, false) : joining(&allocator, true);
        while (code == NNRT_OUT_OF_MEMORY) {
            t.failAt = t.calls + ++rounds;
            code = nnrt_model_cache(&cached, model, ROWS, NULL);
            assert_true((cached == NULL) == (code != NNRT_SUCCESS));
        }
        assert_int_equal(code, NNRT_SUCCESS);
        assert_true(rounds > 3);
        nnrt_model_destroy(cached);
        nnrt_model_destroy(model);
        assert_true(t.live == 0 && !t.wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),      cmocka_unit_test(test_memory),  cmocka_unit_test(test_file),
        cmocka_unit_test(test_annotate),  cmocka_unit_test(test_refused), cmocka_unit_test(test_order),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_in_place), cmocka_unit_test(test_one_buffer),
        cmocka_unit_test(test_rows_only), cmocka_unit_test(test_saved),   cmocka_unit_test(test_saved_whole),
        cmocka_unit_test(test_damaged),   cmocka_unit_test(test_dropped), cmocka_unit_test(test_dropped_int8), cmocka_unit_test(test_drop_refused),
        cmocka_unit_test(test_cache),     cmocka_unit_test(test_cache_joined), cmocka_unit_test(test_cache_refused), cmocka_unit_test(test_cache_forms), cmocka_unit_test(test_cache_joins), cmocka_unit_test(test_cache_shape), cmocka_unit_test(test_cache_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
