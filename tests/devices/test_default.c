/* The implementation with default options, and the fast device (NNRT_CPU): the registry contains it without a call, for
   the first user of any thread; sessions use it unless they name another one; a program can remove it. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#undef NNRT_CPU /* other tests have it 0 */
/* One operator, and one set of instructions: which one the device has makes no difference here. */
#undef NNRT_CPU_AVX512
#undef NNRT_CPU_AVX2
#define NNRT_CPU_AVX512 0
#define NNRT_CPU_AVX2 0
#define NNRT_SELECT
#define NNRT_KEEP_MATMUL_FUSION 1
#define NNRT_IMPLEMENTATION
#include "nnrt.h"

#include "devices/nnrt_cpu.h" /* its declarations */

#define LOOKERS 8

static pthread_barrier_t together;

static void *look(void *unused)
{
    (void)unused;
    (void)pthread_barrier_wait(&together);
    return nnrt_device_find("cpu");
}

/* The first access to the registry. */
static void test_first_look(void **unused)
{
    pthread_t threads[LOOKERS];
    const bool has = nnrt_cpu_set(0) != NULL;
    nnrt_error error;
    (void)unused;
    memset(&error, 0, sizeof(error));
    assert_int_equal(pthread_barrier_init(&together, NULL, LOOKERS), 0);
    for (uint32_t i = 0; i < LOOKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look, NULL), 0);
    for (uint32_t i = 0; i < LOOKERS; i++) {
        void *found;
        assert_int_equal(pthread_join(threads[i], &found), 0);
        assert_int_equal(found != NULL, has);
        assert_ptr_equal(found, nnrt_device_find("cpu"));
    }
    (void)pthread_barrier_destroy(&together);
    assert_int_equal(nnrt_device_count(), has ? 3 : 2);
    assert_string_equal(nnrt_device_name(nnrt_device_at(2)), has ? "cpu" : "");
    assert_int_equal(nnrt_cpu_register(NULL, &error), has ? NNRT_OPERATION_FORBIDDEN : NNRT_NOT_SUPPORT);
}

/* The profile's record of the last step. */
typedef struct heard {
    char device[64];
    uint32_t steps;
} heard;

static void hear(void *user, const nnrt_profile_step *s)
{
    heard *h = (heard *)user;
    nnrt_text(h->device, sizeof(h->device), "%s", s->device);
    h->steps++;
}

static uint64_t no_clock(void *user)
{
    (void)user;
    return 0;
}

/* The device that a session with that name (NULL: none) computes 3 x 2 by 2 x 2 on; the results are exact on any. */
static void check_runs_on(const NNRT_Model *model, const char *name, const char *device)
{
    static const float x[6] = {1, 2, 3, 4, 5, 6}, expected[6] = {7, 10, 15, 22, 23, 34};
    float y[6] = {0};
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    nnrt_profile profile;
    nnrt_error error;
    heard h;
    memset(&h, 0, sizeof(h));
    memset(&desc, 0, sizeof(desc));
    memset(&profile, 0, sizeof(profile));
    memset(&error, 0, sizeof(error));
    profile.step = hear;
    profile.clock = no_clock;
    profile.user = &h;
    desc.profile = &profile;
    desc.device = name;
    if (nnrt_session_create(&session, model, &desc, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    assert_int_equal(nnrt_run(session, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_memory_equal(y, expected, sizeof(y));
    assert_int_equal(h.steps, 1);
    assert_string_equal(h.device, device);
    nnrt_session_destroy(session);
}

static void test_sessions(void **unused)
{
    static const int32_t rows[2] = {3, 2}, square[2] = {2, 2};
    static const float w[4] = {1, 2, 3, 4};
    NNRT_MatMulFusion attr;
    NNRT_Model *model = NULL;
    nnrt_builder *b = NULL;
    nnrt_error error;
    uint32_t in[2], y;
    const bool has = nnrt_cpu_set(0) != NULL;
    (void)unused;
    memset(&attr, 0, sizeof(attr));
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_builder_create(&b, "default", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, rows);
    in[1] = nnrt_builder_constant(b, "w", NNRT_DATA_TYPE_FLOAT32, 2, square, w, false);
    y = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_MATMUL_FUSION, &attr, in, 2);
    nnrt_builder_output(b, y);
    if (nnrt_builder_finish(b, &model, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    check_runs_on(model, NULL, has ? "cpu_nnrt_v1_0" : "reference_nnrt_v2_0");
    check_runs_on(model, "auto", has ? "cpu_nnrt_v1_0" : "reference_nnrt_v2_0");
    check_runs_on(model, "reference", "reference_nnrt_v2_0");
    assert_int_equal(nnrt_device_unregister("cpu"), has ? NNRT_SUCCESS : NNRT_INVALID_PARAMETER);
    check_runs_on(model, NULL, "reference_nnrt_v2_0");
    assert_null(nnrt_device_find("cpu")); /* it does not come back by itself */
    if (has) {
        assert_int_equal(nnrt_cpu_register(NULL, &error), NNRT_SUCCESS);
        check_runs_on(model, NULL, "cpu_nnrt_v1_0");
    }
    nnrt_model_destroy(model);
    nnrt_builder_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_look), /* first */
        cmocka_unit_test(test_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
