/* Bounds the work of preparing a model, without a clock. The implementation that this program links is compiled by clang with
   -fsanitize-coverage=trace-pc-guard (see the Makefile): it calls a function here for each block of code that it executes.
   The linker redirects memcpy, memmove, memset, memcmp and strlen (--wrap), of which 16 bytes count as one block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nnrt.h"

#include "devices/nnrt_cpu.h"
#include "kit.h"

/* ---- the counter ---- */

static uint64_t work, limit;
static const char *subject; /* what is prepared, for the message */
static bool counts;

static void add(uint64_t units)
{
    if (!counts)
        return;
    work += units;
    if (work <= limit)
        return;
    counts = false; /* a program that hangs would tell nothing */
    printf("[  FAILED  ] %s: more than %llu units of work\n", subject, (unsigned long long)limit);
    fflush(stdout);
    _Exit(1);
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *begin, uint32_t *end);
void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__real_memmove(void *to, const void *from, size_t bytes);
void *__real_memset(void *to, int byte, size_t bytes);
int __real_memcmp(const void *a, const void *b, size_t bytes);
size_t __real_strlen(const char *text);
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memset(void *to, int byte, size_t bytes);
int __wrap_memcmp(const void *a, const void *b, size_t bytes);
size_t __wrap_strlen(const char *text);

void __sanitizer_cov_trace_pc_guard_init(uint32_t *begin, uint32_t *end)
{
    (void)begin;
    (void)end;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
    (void)guard;
    add(1);
}

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    add(bytes / 16);
    return __real_memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    add(bytes / 16);
    return __real_memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int byte, size_t bytes)
{
    add(bytes / 16);
    return __real_memset(to, byte, bytes);
}

int __wrap_memcmp(const void *a, const void *b, size_t bytes)
{
    add(bytes / 16);
    return __real_memcmp(a, b, bytes);
}

size_t __wrap_strlen(const char *text)
{
    const size_t length = __real_strlen(text);
    add(length / 16);
    return length;
}

/* Units of work for preparing the model, at most `most`. */
static uint64_t work_of(const NNRT_Model *model, const char *device, const char *what, uint64_t most)
{
    nnrt_session_desc desc;
    nnrt_session *session = NULL;
    NNRT_ReturnCode code;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    subject = what;
    limit = most;
    work = 0;
    counts = true;
    code = nnrt_session_create(&session, model, &desc, &e);
    counts = false;
    if (code != NNRT_SUCCESS)
        fail_msg("%s on %s: %s", what, device, e.message);
    nnrt_session_destroy(session);
    return work;
}

/* ---- models of n nodes ---- */

static const char *name_of(char *name, char letter, uint32_t i)
{
    snprintf(name, 16, "%c%u", letter, (unsigned)i);
    return name;
}

typedef enum shape { CHAIN, CHAIN_OF_CONSTANTS, FAN_OF_OUTPUTS, FAN_OF_CONSTANTS, FAN_THEN_CHAIN, INPUTS } shape;

static const char *const shapes[] = {"a chain of Adds of one constant",
                                     "a chain of Adds of a constant each",
                                     "nodes that read one tensor and give outputs",
                                     "Adds of one tensor and a constant each, concatenated",
                                     "nodes that read one tensor, and a chain of Adds of their results",
                                     "a chain of Adds of an input each"};

static NNRT_Model *model_of(shape s, uint32_t n)
{
    static const int32_t dims[2] = {2, 4}, row[1] = {4};
    static const float values[4] = {1, 2, 3, 4};
    uint32_t *made = (uint32_t *)malloc(n * sizeof(*made));
    NNRT_Model *model = NULL;
    nnrt_builder *b = NULL;
    NNRT_Concat concat;
    nnrt_error e;
    uint32_t in[2], x, last;
    char name[16];
    memset(&e, 0, sizeof(e));
    memset(&concat, 0, sizeof(concat));
    concat.axis = 1;
    assert_non_null(made);
    assert_int_equal(nnrt_builder_create(&b, "work", NULL), NNRT_SUCCESS);
    x = last = nnrt_builder_input(b, "x", F32, 2, dims);
    if (s == CHAIN)
        in[1] = nnrt_builder_constant(b, "k", F32, 1, row, values, false);
    for (uint32_t i = 0; i < n; i++) {
        const bool fan = s == FAN_OF_OUTPUTS || s == FAN_OF_CONSTANTS || (s == FAN_THEN_CHAIN && i < n / 2);
        if (s == CHAIN_OF_CONSTANTS || s == FAN_OF_CONSTANTS)
            in[1] = nnrt_builder_constant(b, name_of(name, 'k', i), F32, 1, row, values, false);
        if (s == INPUTS)
            in[1] = nnrt_builder_input(b, name_of(name, 'i', i), F32, 2, dims);
        if (s == FAN_THEN_CHAIN && !fan)
            in[1] = made[i - n / 2];
        in[0] = fan ? x : last;
        name_of(name, 'v', i);
        made[i] = s == FAN_OF_OUTPUTS || (s == FAN_THEN_CHAIN && fan)
                      ? nnrt_builder_op(b, name, NNRT_NODE_TYPE_ACTIVATION, &absolute, in, 1)
                      : nnrt_builder_op(b, name, NNRT_NODE_TYPE_ADD_FUSION, &plain_add, in, 2);
        last = made[i];
        if (s == FAN_OF_OUTPUTS)
            nnrt_builder_output(b, last);
    }
    if (s == FAN_OF_CONSTANTS)
        last = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_CONCAT, &concat, made, n);
    if (s != FAN_OF_OUTPUTS)
        nnrt_builder_output(b, last);
    if (nnrt_builder_finish(b, &model, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", shapes[s], e.message);
    nnrt_builder_destroy(b);
    free(made);
    return model;
}

/* Twice the nodes are at most 2.2 times the work: n log n is 2.19 times as much at 1,500, n * n four times. Both sizes are
   beyond the 1,024 blocks from which on the planner keeps its blocks in order. */
static void test_nodes(void **state)
{
    static const char *const devices[] = {"reference", "cpu"};
    enum { N = 1500 };
    uint32_t worse = 0;
    (void)state;
    for (uint32_t s = 0; s < COUNT(shapes); s++) {
        NNRT_Model *one = model_of((shape)s, N), *two = model_of((shape)s, 2 * N);
        for (uint32_t d = 0; d < COUNT(devices); d++) {
            const uint64_t first = work_of(one, devices[d], shapes[s], UINT64_MAX),
                           second = work_of(two, devices[d], shapes[s], UINT64_MAX);
            assert_true(first > 100 * N); /* the counter counts */
            if (second * 10 > first * 22) {
                print_error("%s on %s: %u nodes take %llu units of work, %u take %llu: %.2f times, expected 2.2 at "
                            "most\n",
                            shapes[s], devices[d], (unsigned)N, (unsigned long long)first, (unsigned)(2 * N),
                            (unsigned long long)second, (double)second / (double)first);
                worse++;
            }
        }
        nnrt_model_destroy(one);
        nnrt_model_destroy(two);
    }
    assert_int_equal(worse, 0);
}

/* A transposed convolution of one pixel by a window of three rows: y has 3 to 7 rows with any stride, so the work does not
   depend on the stride. */
static void test_long_stride(void **state)
{
    static const int64_t strides[] = {2, 1000, INT32_MAX - 1, INT32_MAX};
    static const int32_t image[4] = {1, 1, 1, 1}, window[4] = {1, 3, 1, 1};
    static const float weights[3] = {1, 2, 3};
    (void)state;
    for (uint32_t i = 0; i < COUNT(strides); i++)
        for (int64_t dilation = 1; dilation <= 3; dilation++) {
            const int64_t stride[2] = {strides[i], 1}, dilations[2] = {dilation, 1}, pads[4] = {0, 0, 0, 0},
                          none[2] = {0, 0};
            NNRT_Conv2dTransposeFusion attr;
            NNRT_Model *model = NULL;
            nnrt_builder *b = NULL;
            nnrt_error e;
            uint32_t in[3];
            memset(&attr, 0, sizeof(attr));
            memset(&e, 0, sizeof(e));
            attr.stride = nnrt_int64_list(stride, 2);
            attr.dilation = nnrt_int64_list(dilations, 2);
            attr.padList = nnrt_int64_list(pads, 4);
            attr.outputPaddings = nnrt_int64_list(none, 2);
            attr.group = 1;
            assert_int_equal(nnrt_builder_create(&b, "stride", NULL), NNRT_SUCCESS);
            in[0] = nnrt_builder_input(b, "x", F32, 4, image);
            in[1] = nnrt_builder_constant(b, "w", F32, 4, window, weights, false);
            in[2] = NNRT_NO_TENSOR;
            nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_CONV2D_TRANSPOSE_FUSION, &attr, in, 3));
            if (nnrt_builder_finish(b, &model, &e) != NNRT_SUCCESS)
                fail_msg("%s", e.message);
            nnrt_builder_destroy(b);
            assert_true(work_of(model, "cpu", "a transposed convolution with a stride of up to 2^31 - 1", 100000) >
                        100);
            assert_true(work_of(model, "reference", "the same on the reference device", 100000) > 100);
            nnrt_model_destroy(model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nodes), cmocka_unit_test(test_long_stride)};
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_cpu_register(NULL, &e) != NNRT_SUCCESS) {
        printf("%s\n", e.message);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
