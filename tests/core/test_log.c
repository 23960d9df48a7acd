/* The log: which lines a model's optimization and preparation write, up to which level. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nnrt.h"

#include "kit.h"

typedef struct lines {
    nnrt_log log;
    char text[4096]; /* all lines, each with its level before it and an end of line */
} lines_of;

static void line(void *user, nnrt_log_level level, const char *text)
{
    lines_of *l = (lines_of *)user;
    const size_t n = strlen(l->text);
    assert_null(strchr(text, '\n'));
    nnrt_text(l->text + n, sizeof(l->text) - n, "%d %s\n", level, text);
}

static void listen(lines_of *l, nnrt_log_level most)
{
    memset(l, 0, sizeof(*l));
    l->log.line = line;
    l->log.user = l;
    l->log.most = most;
}

/* y = relu(x + c * 2), of which c * 2 is known: two nodes are left of three, one of the two goes into the other. */
static NNRT_Model *built(void)
{
    static const int32_t dims[1] = {2};
    static const float c[2] = {1, 2}, two[1] = {2};
    static const int32_t one[1] = {1};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    uint32_t in[2], t;
    assert_int_equal(nnrt_builder_create(&b, "m", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_constant(b, "c", F32, 1, dims, c, false);
    in[1] = nnrt_builder_constant(b, "two", F32, 1, one, two, false);
    t = nnrt_builder_op(b, "twice", NNRT_NODE_TYPE_MUL_FUSION, NULL, in, 2);
    in[0] = nnrt_builder_input(b, "x", F32, 1, dims);
    in[1] = t;
    t = nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    nnrt_builder_output(b, nnrt_builder_op(b, "cut", NNRT_NODE_TYPE_ACTIVATION, &relu, &t, 1));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return m;
}

static void test_optimise(void **state)
{
    lines_of l;
    nnrt_optimize_desc desc;
    NNRT_Model *m = built();
    (void)state;
    memset(&desc, 0, sizeof(desc));
    listen(&l, NNRT_LOG_DEBUG);
    desc.log = &l.log;
    assert_int_equal(nnrt_model_optimize(&m, &desc, NULL), NNRT_SUCCESS);
    assert_int_equal(m->nodes.count, 1);
    assert_string_equal(l.text, "2 node 'twice' (MUL_FUSION) is folded: its results are constants\n"
                                "2 node 'cut' (ACTIVATION) is fused into the node before it\n"
                                "1 optimized: 3 nodes became 1\n");
    nnrt_model_destroy(m);
    m = built();
    listen(&l, NNRT_LOG_INFO);
    assert_int_equal(nnrt_model_optimize(&m, &desc, NULL), NNRT_SUCCESS);
    assert_string_equal(l.text, "1 optimized: 3 nodes became 1\n");
    nnrt_model_destroy(m);
    m = built();
    l.log.line = NULL;
    assert_int_equal(nnrt_model_optimize(&m, &desc, NULL), NNRT_SUCCESS);
    nnrt_model_destroy(m);
}

/* A device that takes no ADD_FUSION, but for asked = false all, and prepares nothing. */
static bool asked;

static NNRT_ReturnCode picky_supported(void *self, const NNRT_Model *m, bool *isSupported, uint32_t count)
{
    (void)self;
    for (uint32_t i = 0; i < count; i++)
        isSupported[i] = !asked || m->nodes.data[i].nodeType != NNRT_NODE_TYPE_ADD_FUSION;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode picky_prepare(void *self, const NNRT_Model *m, const NNRT_ModelConfig *config,
                                     NNRT_PreparedModel **prepared)
{
    (void)self;
    (void)m;
    (void)prepared;
    return nnrt_error_set(config->error, NNRT_DEVICE_BUSY, "come back later");
}

static NNRT_ReturnCode picky_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 1;
    *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode picky_name(void *self, const char **name)
{
    (void)self;
    *name = "picky";
    return NNRT_SUCCESS;
}

/* Why auto does not choose a device: it does not take a node; it says yes and refuses. */
static void test_devices(void **state)
{
    static NNRT_DeviceVtbl table;
    NNRT_Model *m = built();
    lines_of l;
    nnrt_session_desc desc;
    nnrt_session *s;
    nnrt_error error;
    size_t bytes;
    (void)state;
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.GetVersion = picky_version;
    table.GetDeviceName = table.GetVendorName = picky_name;
    table.GetSupportedOperation = picky_supported;
    table.PrepareModel = picky_prepare;
    assert_int_equal(nnrt_device_register(&table, NULL, NULL), NNRT_SUCCESS);
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.log = &l.log;
    asked = true;
    listen(&l, NNRT_LOG_DEBUG);
    assert_int_equal(nnrt_session_bytes(m, &desc, &bytes, NULL), NNRT_SUCCESS);
    assert_string_equal(l.text, "");
    assert_int_equal(nnrt_session_create(&s, m, &desc, &error), NNRT_SUCCESS);
    assert_non_null(strstr(l.text, "2 device 'picky_picky_v1_0' does not take node 1: node 1 'sum' (ADD_FUSION): "));
    assert_non_null(strstr(l.text, "1 device 'reference_nnrt_v2_0' has prepared the model\n"));
    assert_non_null(strstr(l.text, "1 session on device 'auto_nnrt_v2_0': 2 steps, arena of "));
    assert_non_null(strstr(l.text, "\n0 device 'picky_picky_v1_0' refuses the model: come back later\n")); /* the other node */
    nnrt_session_destroy(s);
    asked = false;
    listen(&l, NNRT_LOG_WARNING);
    assert_int_equal(nnrt_session_create(&s, m, &desc, &error), NNRT_SUCCESS);
    assert_string_equal(l.text, "0 device 'picky_picky_v1_0' refuses the model: come back later\n");
    nnrt_session_destroy(s);
    l.text[0] = '\0';
    desc.log = NULL;
    assert_int_equal(nnrt_session_create(&s, m, &desc, &error), NNRT_SUCCESS);
    assert_string_equal(l.text, "");
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);
    assert_int_equal(nnrt_device_unregister("picky"), NNRT_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_optimise), cmocka_unit_test(test_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
