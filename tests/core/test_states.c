/* Tests of states: metadata of a model, and values that a session keeps between runs. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include "nnrt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

/* cache.next = cache with the rows x from `position` on, seen = (2 * cache.next)[index]. peeks: the square of the cache before
   is an output, so that the state has two buffers. */
static NNRT_Model *cached(bool peeks)
{
    static const int32_t dims[3] = {1, ROWS, WIDTH}, rows[3] = {1, NEW, WIDTH}, one = 1;
    static const int64_t axis = 0;
    static const float two = 2;
    static const nnrt_metadata pair = {"states", "cache=cache.next"};
    NNRT_TensorScatter scatter;
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
    in[1] = nnrt_builder_constant(b, NULL, F32, 0, NULL, &two, true);
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
    NNRT_TensorScatter attr;
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
    assert_int_equal(nnrt_tensor_scatter(&attr, &x, &update, &starts, &y, NULL), NNRT_SUCCESS);
    assert_memory_equal(pages + 2 * page, new, 2 * page);
    assert_int_equal(munmap(pages, 5 * page), 0);
    free(new);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),      cmocka_unit_test(test_memory),  cmocka_unit_test(test_file),
        cmocka_unit_test(test_annotate),  cmocka_unit_test(test_refused), cmocka_unit_test(test_order),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_in_place), cmocka_unit_test(test_one_buffer),
        cmocka_unit_test(test_rows_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
