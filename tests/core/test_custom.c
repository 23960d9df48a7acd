/* Custom operators: registering, building, validating, saving, loading, running and importing their nodes, and
   forbidden actions of shape rules and kernels. Expected values are computed by hand. */
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/nnrt_onnx.h"

#include "fakes.h"
#include "kit.h"
#include "remotes.h"
#include "trial.h"

#define MESSAGE_BYTES 4096
#include "protobuf.h"

/* ---- an operator with attributes of every kind: y = x cut to [-limit, limit], twice that if mode is TWICE ---- */

#define NNRT_ENUM_TestMode(E) \
    E(TEST_MODE_, ONCE, 0)    \
    E(TEST_MODE_, TWICE, 5)
NNRT_ENUM_DEFINE(TestMode)
NNRT_ENUM_NAMES(ActivationType)

#define NNRT_ATTR_TestClip(M, S)                    \
    M(S, FLOAT, _, limit, 1.5)                      \
    M(S, ENUM, TestMode, mode, TEST_MODE_ONCE)      \
    M(S, ENUM, ActivationType, activationType, 0)   \
    M(S, BOOL, _, flag, 1)                          \
    M(S, INT, _, count, -3)                         \
    M(S, INT64, _, wide, (int64_t)1 << 40)          \
    M(S, DOUBLE, _, fine, 0.1)                      \
    M(S, TYPE, NNRT_DataType, type, 0)              \
    M(S, TYPE, int64_t, type64, 0)                  \
    M(S, STRING, _, label, "none")                  \
    M(S, INTS, _, axes, 0)                          \
    M(S, INTS64, _, large, 0)                       \
    M(S, INTS2, _, pairs, 0)                        \
    M(S, FLOATS, _, weights, 0)
NNRT_ATTR_DEFINE(TestClip)

static uint32_t clips; /* calls of the kernel; valid with one thread only */
static bool counting;

static NNRT_ReturnCode clip_rule(nnrt_resolve *c)
{
    if (((const NNRT_TestClip *)c->resolved)->limit < 0)
        return nnrt_resolve_fail(c, NNRT_INVALID_PARAMETER, "limit %s", "must not be below 0");
    nnrt_resolve_like(c, 0, 0);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode clip_f32(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const NNRT_TestClip *a = (const NNRT_TestClip *)attr;
    const float *x = (const float *)args[0].data;
    float *y = (float *)args[call->nIn + call->nDerived].data;
    size_t n = 0;
    (void)nnrt_dims_count(args[0].dims, args[0].rank, &n);
    for (size_t i = 0; i < n; i++) {
        const float cut = x[i] > a->limit ? a->limit : x[i] < -a->limit ? -a->limit : x[i];
        y[i] = a->mode == TEST_MODE_TWICE ? 2 * cut : cut;
    }
    if (counting)
        clips++;
    return NNRT_SUCCESS;
}

static const nnrt_kernel_row clip_kernels[] = {{NNRT_TYPES_F32, NULL, clip_f32, "clip_f32"}};

static nnrt_op row_of(const char *name, NNRT_ReturnCode (*rule)(nnrt_resolve *), const nnrt_kernel_row *kernels,
                      uint32_t count)
{
    nnrt_op op;
    memset(&op, 0, sizeof(op));
    op.name = name;
    op.inputs = "x";
    op.outputs = "y=0";
    op.rule = rule;
    op.kernels = kernels;
    op.kernelCount = count;
    return op;
}

static nnrt_op clip_row(void)
{
    nnrt_op op = row_of("test.Clip", clip_rule, clip_kernels, 1);
    op.attr = &nnrt_attr_TestClip;
    op.flags = NNRT_OP_EMPTY | NNRT_OP_INPLACE;
    return op;
}

static NNRT_NodeType take(const nnrt_op *op)
{
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_op_register(op, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    return nnrt_op_named(op->name)->type;
}

static NNRT_NodeType take_clip(void)
{
    const nnrt_op op = clip_row();
    return take(&op);
}

static void drop(const char *name)
{
    assert_int_equal(nnrt_op_unregister(name), NNRT_SUCCESS);
}

static void says(const nnrt_error *e, const char *text)
{
    if (strstr(e->message, text) == NULL)
        fail_msg("'%s' is not in '%s'", text, e->message);
}

/* x [4] -> abs -> clip -> abs -> y */
static NNRT_Model *chain(NNRT_NodeType type, const NNRT_TestClip *attr, const nnrt_allocator *allocator,
                         nnrt_error *error)
{
    static const int32_t dims[1] = {4};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    uint32_t x, y;
    if (nnrt_builder_create(&b, "m", allocator) != NNRT_SUCCESS)
        return NULL;
    x = nnrt_builder_input(b, "x", F32, 1, dims);
    y = nnrt_builder_op(b, "before", NNRT_NODE_TYPE_ACTIVATION, &absolute, &x, 1);
    y = nnrt_builder_op(b, "clip", type, attr, &y, 1);
    y = nnrt_builder_op(b, "behind", NNRT_NODE_TYPE_ACTIVATION, &absolute, &y, 1);
    nnrt_builder_output(b, y);
    (void)nnrt_builder_finish(b, &m, error);
    nnrt_builder_destroy(b);
    return m;
}

/* Runs a model of x [4] on a device. */
static NNRT_ReturnCode run4(const NNRT_Model *m, const char *device, const float *x, float *y, nnrt_error *error)
{
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, 4 * sizeof(*x)), out = nnrt_io_make(y, 4 * sizeof(*y));
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    desc.device = device;
    if ((code = nnrt_session_create(&s, m, &desc, error)) != NNRT_SUCCESS)
        return code;
    code = nnrt_run(s, &in, 1, &out, 1);
    if (code != NNRT_SUCCESS && error != NULL)
        (void)nnrt_error_set(error, code, "%s", nnrt_session_error(s));
    nnrt_session_destroy(s);
    return code;
}

static const float four[4] = {-3, -1, 0.5f, 2};

/* ---- registering ---- */

static const nnrt_attr_member no_name[] = {{"", NNRT_ATTR_KIND_FLOAT, 0, 4, NULL, 0}};
static const nnrt_attr_member twins[] = {{"a", NNRT_ATTR_KIND_FLOAT, 0, 4, NULL, 0}, {"a", NNRT_ATTR_KIND_FLOAT, 4, 4, NULL, 0}};
static const nnrt_attr_member graph_member[] = {{"g", NNRT_ATTR_KIND_GRAPH, 0, 4, NULL, 0}};
static const nnrt_attr_member outside[] = {{"a", NNRT_ATTR_KIND_DOUBLE, 4, 8, NULL, 0}};
static const nnrt_attr_member skewed[] = {{"a", NNRT_ATTR_KIND_FLOAT, 2, 4, NULL, 0}};
static const nnrt_attr_member narrow[] = {{"a", NNRT_ATTR_KIND_INT, 0, 4, NULL, 0}};
static const nnrt_attr_member no_values[] = {{"e", NNRT_ATTR_KIND_ENUM, 0, 4, NULL, 0}};
static const nnrt_attr_member skewed_text[] = {{"a", NNRT_ATTR_KIND_STRING, sizeof(void *) / 2, sizeof(void *), NULL, 0}};
static const double zeros8 = 0, zeros16[2] = {0, 0};
static const nnrt_attr_struct bad_attrs[] = {
    {"a", 0, NULL, 0, &zeros8},       {"a", 8, NULL, 0, NULL},           {"a", 8, NULL, 1, &zeros8},
    {"a", 8, twins, 65, &zeros8},     {"a", 8, no_name, 1, &zeros8},     {"a", 8, twins, 2, &zeros8},
    {"a", 8, graph_member, 1, &zeros8}, {"a", 8, outside, 1, &zeros8},   {"a", 8, skewed, 1, &zeros8},
    {"a", 8, narrow, 1, &zeros8},     {"a", 8, no_values, 1, &zeros8},   {"a", 16, skewed_text, 1, zeros16}};
static const char *const bad_attr_words[] = {"have no bytes",
                                             "no defaults",
                                             "no members",
                                             "or more than 64",
                                             "attribute 0 '' has no name",
                                             "attribute 1 'a' has the name of another attribute",
                                             "attribute 0 'g' is of a kind",
                                             "attribute 0 'a' does not lie in its struct",
                                             "attribute 0 'a' does not lie",
                                             "attribute 0 'a' does not lie",
                                             "attribute 0 'e' has no enumerators",
                                             "attribute 0 'a' does not lie"};

static void refused(const nnrt_op *op, NNRT_ReturnCode code, const char *words)
{
    const nnrt_op *last = nnrt_op_at(0);
    nnrt_error e;
    uint32_t n = 0;
    while (nnrt_op_at(n) != NULL)
        last = nnrt_op_at(n++);
    memset(&e, 0, sizeof(e));
    if (nnrt_op_register(op, &e) != code)
        fail_msg("expected %s, got %s: %s", nnrt_code_name(code), nnrt_code_name(e.code), e.message);
    says(&e, words);
    assert_int_equal(nnrt_op_register(op, NULL), code);
    assert_null(nnrt_op_at(n));
    assert_ptr_equal(nnrt_op_at(n - 1), last);
}

/* Rows that state shapes: no rule is needed if they state shapes and types of all outputs. */
static void test_stated_shapes(void **state)
{
    nnrt_op op = clip_row();
    nnrt_error e;
    NNRT_NodeType type;
    NNRT_Model *m;
    float y[4];
    (void)state;
    memset(&e, 0, sizeof(e));
    op.rule = NULL;
    refused(&op, NNRT_NULL_PTR, "no rule, and an output without shape or type");
    op.inputs = "x[..]";
    op.outputs = "y[..]";
    refused(&op, NNRT_NULL_PTR, "no rule, and an output without shape or type");
    op.outputs = "y[..]=0";
    type = take(&op);
    m = chain(type, NULL, NULL, &e); /* limit 1.5 */
    assert_non_null(m);
    assert_int_equal(run4(m, "reference", four, y, &e), NNRT_SUCCESS);
    assert_true(y[0] == 1.5f && y[1] == 1 && y[2] == 0.5f && y[3] == 1.5f);
    nnrt_model_destroy(m);
    drop("test.Clip");
    op.inputs = "x[N,M]";
    op.outputs = "y[N,M]=0";
    type = take(&op);
    assert_null(chain(type, NULL, NULL, &e));
    says(&e, "expected [N,M]");
    drop("test.Clip");
    memset(&e, 0, sizeof(e));
    op.inputs = "x[N]";
    op.outputs = "y[P]=0";
    type = take(&op);
    assert_null(chain(type, NULL, NULL, &e));
    says(&e, "its rule sets output 0 'clip' to size -1 in axis 0");
    drop("test.Clip");
}

static void test_refused_rows(void **state)
{
    static const char *const names[] = {"", "a b", "a+b", "a\"b", "\xC3\xA9", "a:b",
                                        "a123456789012345678901234567890123456789012345678901234567890123"};
    static const struct {
        const char *inputs, *outputs, *words;
    } operands[] = {{"x,", "y", "spaces"},
                    {"x", "y;", "spaces"},
                    {"x=", "y", "=k must be"},
                    {"x=0", "y", "=k must be"},
                    {"x y=1", "z", "=k must be"},
                    {"x? y=0", "z", "=k must be"},
                    {"x y=2", "z", "=k must be"},
                    {"x", "y=1", "=k must be"},
                    {"x?", "y=0", "=k must be"},
                    {"x", "y=a", "=k must be"},
                    {"x", "y=00", "spaces"},
                    {"x* z", "y", "repeated operand must be the last"},
                    {"x:", "y", "':' must be followed"},
                    {"x:z", "y", "':' must be followed"},
                    {"?", "y", "a name of letters"},
                    {"x", "=0", "a name of letters"},
                    {"a1234567890123456789012345678901", "y", "a name of letters"},
                    {"x[", "y", "a shape needs"},
                    {"x[N", "y", "a shape needs"},
                    {"x[N,]", "y", "a shape needs"},
                    {"x[n]", "y", "a shape needs"},
                    {"x[N C]", "y", "a shape needs"},
                    {"x[..,..]", "y", "a shape needs"},
                    {"x[.^]", "y", "a shape needs"},
                    {"x", "y[N;]", "a shape needs"},
                    {"x[N]]", "y", "spaces"},
                    {"a b c d e f g h i j k l m n o p", "y", "more than 16"}};
    static const nnrt_kernel_row no_call[] = {{NNRT_TYPES_F32, NULL, NULL, "k"}};
    static const nnrt_kernel_row unnamed[] = {{NNRT_TYPES_F32, NULL, clip_f32, NULL}};
    static const nnrt_kernel_row typeless[] = {{0, NULL, clip_f32, "k"}};
    static const nnrt_kernel_row alien[] = {{1u << 1, NULL, clip_f32, "k"}};
    static const nnrt_kernel_row other_operands[] = {{NNRT_TYPES_F32, "x y", clip_f32, "k"}};
    static const nnrt_kernel_row fewer_operands[] = {{NNRT_TYPES_F32, "x?", clip_f32, "k"}}; /* 0 or 1 */
    static const nnrt_kernel_row more_operands[] = {{NNRT_TYPES_F32, "x y?", clip_f32, "k"}}; /* 1 or 2 */
    static const nnrt_kernel_row bad_operands[] = {{NNRT_TYPES_F32, "x:!", clip_f32, "k"}};
    static const nnrt_kernel_row *const kernels[] = {no_call,        unnamed,       typeless,    alien, other_operands,
                                                     fewer_operands, more_operands, bad_operands};
    static const char *const kernel_words[] = {"kernel 0 has no function", "kernel 0 has no name",
                                               "supports no types",        "or unknown ones",
                                               "as many as the row",       "as many as the row",
                                               "as many as the row",       "':' must be followed"};
    static const uint32_t flags[] = {NNRT_OP_ALIAS, NNRT_OP_GRAPHS, NNRT_OP_MOVEMENT, NNRT_OP_ELEMENTWISE, NNRT_OP_MONOTONE,
                                     NNRT_OP_PURE << 1};
    nnrt_op op;
    (void)state;
    refused(NULL, NNRT_NULL_PTR, "NULL");
    op = clip_row();
    op.name = NULL;
    refused(&op, NNRT_NULL_PTR, "no name");
    for (uint32_t i = 0; i < COUNT(names); i++) {
        op = clip_row();
        op.name = names[i];
        refused(&op, NNRT_INVALID_PARAMETER, "is no valid operator name");
    }
    op = clip_row();
    op.name = "CONV2D_FUSION";
    refused(&op, NNRT_OPERATION_FORBIDDEN, "'CONV2D_FUSION' is an operator of nnrt");
    op = clip_row();
    op.type = 1;
    refused(&op, NNRT_INVALID_PARAMETER, "number 1");
    op.type = INT32_MIN;
    refused(&op, NNRT_INVALID_PARAMETER, "below 0");
    op = clip_row();
    op.inputs = NULL;
    refused(&op, NNRT_NULL_PTR, "no inputs");
    op = clip_row();
    op.outputs = NULL;
    refused(&op, NNRT_NULL_PTR, "no outputs");
    op = clip_row();
    op.rule = NULL;
    refused(&op, NNRT_NULL_PTR, "no rule");
    op = clip_row();
    op.kernels = NULL;
    refused(&op, NNRT_NULL_PTR, "no kernel");
    op = clip_row();
    op.kernelCount = 0;
    refused(&op, NNRT_NULL_PTR, "no kernel");
    for (uint32_t i = 0; i < COUNT(kernels); i++) {
        op = clip_row();
        op.kernels = kernels[i];
        refused(&op, i < 2 ? NNRT_NULL_PTR : NNRT_INVALID_PARAMETER, kernel_words[i]);
    }
    for (uint32_t i = 0; i < COUNT(flags); i++) {
        op = clip_row();
        op.flags |= flags[i];
        refused(&op, NNRT_INVALID_PARAMETER, "flags");
    }
    for (uint32_t i = 0; i < COUNT(operands); i++) {
        op = clip_row();
        op.inputs = operands[i].inputs;
        op.outputs = operands[i].outputs;
        refused(&op, NNRT_INVALID_PARAMETER, operands[i].words);
    }
    op = clip_row();
    op.flags = NNRT_OP_LAYOUT;
    op.inputs = "x?";
    op.outputs = "y";
    refused(&op, NNRT_INVALID_PARAMETER, "LAYOUT");
    for (uint32_t i = 0; i < COUNT(bad_attrs); i++) {
        op = clip_row();
        op.attr = &bad_attrs[i];
        refused(&op, NNRT_INVALID_PARAMETER, bad_attr_words[i]);
    }
}

static void test_registry(void **state)
{
    static char names[NNRT_MAX_OPS + 1][16];
    const nnrt_op clip = clip_row(), *first;
    nnrt_op op;
    uint32_t builtin = 0;
    nnrt_error e;
    (void)state;
    while (nnrt_op_at(builtin) != NULL)
        builtin++;
    assert_null(nnrt_op_find(-1));
    assert_int_equal(take(&clip), -1);
    first = nnrt_op_named("test.Clip");
    assert_ptr_equal(nnrt_op_find(-1), first);
    assert_ptr_equal(nnrt_op_at(builtin), first);
    assert_null(nnrt_op_at(builtin + 1));
    assert_ptr_not_equal(first, &clip); /* the row was copied */
    assert_ptr_equal(first->attr, &nnrt_attr_TestClip);
    refused(&clip, NNRT_OPERATION_FORBIDDEN, "'test.Clip' is registered already");
    op = clip_row();
    op.name = "test.Other";
    op.type = -1;
    refused(&op, NNRT_OPERATION_FORBIDDEN, "operator 'test.Other' has number -1, which 'test.Clip' has");
    op.type = -2;
    assert_int_equal(take(&op), -2);
    op.name = "test.Third";
    op.type = 0;
    assert_int_equal(take(&op), -3);
    op.name = "test.Fourth";
    op.type = INT32_MIN + 1;
    assert_int_equal(take(&op), INT32_MIN + 1);
    drop("test.Other");
    assert_null(nnrt_op_find(-2));
    assert_null(nnrt_op_named("test.Other"));
    assert_string_equal(nnrt_op_at(builtin + 1)->name, "test.Third"); /* in the order of registration */
    op.name = "test.Fifth";
    op.type = 0;
    assert_int_equal(take(&op), -2); /* which is available again */
    assert_string_equal(nnrt_op_at(builtin + 3)->name, "test.Fifth");
    assert_ptr_equal(nnrt_op_named("test.Clip"), first); /* whose address is unchanged */
    assert_int_equal(nnrt_op_unregister(NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_op_unregister("test.Other"), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_op_unregister("ABS"), NNRT_OPERATION_FORBIDDEN);
    drop("test.Clip");
    drop("test.Third");
    drop("test.Fourth");
    drop("test.Fifth");
    assert_null(nnrt_op_at(builtin));
    op = clip_row();
    for (uint32_t i = 0; i <= NNRT_MAX_OPS; i++) {
        nnrt_text(names[i], sizeof(names[i]), "test.%u", i);
        op.name = names[i];
        memset(&e, 0, sizeof(e));
        assert_int_equal(nnrt_op_register(&op, &e), i < NNRT_MAX_OPS ? NNRT_SUCCESS : NNRT_OUT_OF_MEMORY);
    }
    says(&e, "at most 64 operators can be registered");
    assert_int_equal(nnrt_op_named("test.63")->type, -64);
    for (uint32_t i = 0; i < NNRT_MAX_OPS; i++)
        drop(names[i]);
    assert_null(nnrt_op_at(builtin));
}

/* The description matches the macro. */
static void test_description(void **state)
{
    NNRT_TestClip a;
    char text[512];
    (void)state;
    assert_int_equal(nnrt_attr_TestClip.count, 14);
    assert_int_equal(nnrt_attr_TestClip.bytes, sizeof(NNRT_TestClip));
    nnrt_attr_defaults(&nnrt_attr_TestClip, &a);
    assert_true(a.limit > 1.49f && a.limit < 1.51f && a.flag && a.count == -3 && a.wide == (int64_t)1 << 40);
    assert_string_equal(a.label, "none");
    a.mode = TEST_MODE_TWICE;
    a.activationType = NNRT_ACTIVATION_TYPE_TANH;
    (void)nnrt_attr_print(&nnrt_attr_TestClip, &a, text, sizeof(text));
    assert_non_null(strstr(text, "limit=1.5 mode=TWICE activationType=TANH flag=true count=-3 wide=1099511627776"));
    assert_int_equal(TEST_MODE_TWICE, 5);
}

/* ---- building and running ---- */

static void test_build_and_run(void **state)
{
    const NNRT_NodeType type = take_clip();
    NNRT_TestClip a;
    NNRT_Model *m;
    char text[4096];
    float y[4];
    nnrt_error e;
    (void)state;
    memset(&e, 0, sizeof(e));
    m = chain(type, NULL, NULL, &e); /* limit 1.5 */
    assert_non_null(m);
    assert_int_equal(run4(m, "reference", four, y, &e), NNRT_SUCCESS);
    assert_true(y[0] == 1.5f && y[1] == 1 && y[2] == 0.5f && y[3] == 1.5f);
    assert_int_equal(nnrt_model_validate(m, NULL, &e), NNRT_SUCCESS);
    (void)nnrt_model_dot(m, NULL, text, sizeof(text));
    assert_non_null(strstr(text, "label=\"test.Clip\\nclip\\nlimit=1.5"));
    nnrt_model_destroy(m);
    nnrt_attr_defaults(&nnrt_attr_TestClip, &a);
    a.limit = 0.75f;
    a.mode = TEST_MODE_TWICE;
    m = chain(type, &a, NULL, &e);
    memset(&a, 0xFF, sizeof(a)); /* the builder has copied it */
    assert_non_null(m);
    assert_int_equal(nnrt_model_optimize(&m, NULL, &e), NNRT_SUCCESS);
    assert_int_equal(run4(m, NULL, four, y, &e), NNRT_SUCCESS);
    assert_true(y[0] == 1.5f && y[1] == 1.5f && y[2] == 1 && y[3] == 1.5f);
    nnrt_model_destroy(m);
    nnrt_attr_defaults(&nnrt_attr_TestClip, &a);
    a.limit = -1;
    assert_null(chain(type, &a, NULL, &e));
    assert_int_equal(e.code, NNRT_INVALID_PARAMETER);
    says(&e, "node 1 'clip' (test.Clip): limit must not be below 0");
    memset(&e, 0, sizeof(e));
    nnrt_attr_defaults(&nnrt_attr_TestClip, &a);
    a.mode = 1;
    assert_null(chain(type, &a, NULL, &e));
    says(&e, "node 1 'clip' (test.Clip): mode is 1, expected an enumerator (ONCE=0 ... TWICE=5)");
    drop("test.Clip");
}

/* An unknown operator number, in a builder and in a model written by hand. */
static void test_unknown(void **state)
{
    graph g;
    nnrt_error e;
    char text[1024];
    size_t bytes;
    nnrt_session *s = NULL;
    NNRT_Model *m;
    bool takes[1] = {true};
    (void)state;
    memset(&e, 0, sizeof(e));
    assert_null(chain(-5, NULL, NULL, &e));
    assert_int_equal(e.code, NNRT_UNSUPPORTED_OP);
    says(&e, "node 1 'clip': no operator with number -5 is registered (nnrt_op_register)");
    graph_init(&g);
    tensor(&g, "x", F32, "4");
    result(&g, "y");
    node(&g, "n", -5, NULL, 0, "0", "1");
    graph_io(&g, "0", "1");
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_model_validate(&g.model, NULL, &e), NNRT_UNSUPPORTED_OP);
    says(&e, "node 0 'n': no operator with number -5 is registered");
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_session_create(&s, &g.model, NULL, &e), NNRT_UNSUPPORTED_OP);
    says(&e, "number -5");
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_model_save_memory(&g.model, NULL, NULL, 0, &bytes, &e), NNRT_UNSUPPORTED_OP);
    says(&e, "number -5");
    (void)nnrt_model_dot(&g.model, NULL, text, sizeof(text));
    assert_non_null(strstr(text, "number -5"));
    assert_int_equal(nnrt_device_supported(nnrt_device_find("reference"), &g.model, NULL, takes, 1, NULL, NULL),
                     NNRT_SUCCESS);
    assert_false(takes[0]);
    /* the same for an operator that was registered when the model was built */
    m = chain(take_clip(), NULL, NULL, NULL);
    assert_non_null(m);
    drop("test.Clip");
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_model_validate(m, NULL, &e), NNRT_UNSUPPORTED_OP);
    says(&e, "node 1 'clip': no operator with number -1 is registered");
    assert_int_equal(nnrt_session_create(&s, m, NULL, NULL), NNRT_UNSUPPORTED_OP);
    assert_int_equal(nnrt_model_save_memory(m, NULL, NULL, 0, &bytes, NULL), NNRT_UNSUPPORTED_OP);
    assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_UNSUPPORTED_OP);
    (void)nnrt_model_dot(m, NULL, text, sizeof(text));
    nnrt_model_destroy(m);
}

/* Unregistered while a builder has nodes of it. */
static void test_gone_from_builder(void **state)
{
    static const int32_t dims[1] = {4};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_error e;
    uint32_t x;
    const NNRT_NodeType type = take_clip();
    (void)state;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, "m", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", F32, 1, dims);
    x = nnrt_builder_op(b, "clip", type, NULL, &x, 1);
    drop("test.Clip");
    x = nnrt_builder_op(b, "behind", NNRT_NODE_TYPE_ACTIVATION, &absolute, &x, 1);
    nnrt_builder_output(b, x);
    assert_int_equal(nnrt_builder_finish(b, &m, &e), NNRT_UNSUPPORTED_OP);
    says(&e, "number -1");
    assert_null(m);
    nnrt_builder_destroy(b);
}

/* No prepared model may lose its operator. */
static void test_busy(void **state)
{
    nnrt_session *s[3] = {NULL, NULL, NULL};
    nnrt_session_desc desc;
    nnrt_fake *npu = registered("fake:name=npu");
    NNRT_Model *m = chain(take_clip(), NULL, NULL, NULL);
    size_t bytes;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    desc.device = "reference";
    assert_int_equal(nnrt_session_bytes(m, &desc, &bytes, NULL), NNRT_SUCCESS); /* nothing stays */
    assert_int_equal(nnrt_session_create(&s[0], m, &desc, NULL), NNRT_SUCCESS);
    desc.share = s[0];
    assert_int_equal(nnrt_session_create(&s[1], m, &desc, NULL), NNRT_SUCCESS);
    desc.share = NULL;
    desc.device = "auto:npu"; /* a partitioned model */
    assert_int_equal(nnrt_session_bytes(m, &desc, &bytes, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_create(&s[2], m, &desc, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_op_unregister("test.Clip"), NNRT_DEVICE_BUSY);
    nnrt_session_destroy(s[1]);
    assert_int_equal(nnrt_op_unregister("test.Clip"), NNRT_DEVICE_BUSY);
    nnrt_session_destroy(s[0]);
    assert_int_equal(nnrt_op_unregister("test.Clip"), NNRT_DEVICE_BUSY);
    nnrt_session_destroy(s[2]);
    nnrt_model_destroy(m);
    drop("test.Clip");
    unregistered(npu);
}

/* ---- files ---- */

static NNRT_TestClip everything(void)
{
    static const int64_t axes[2] = {1, -2}, large[1] = {(int64_t)1 << 50}, first[1] = {7}, second[2] = {8, 9};
    static NNRT_Int64List lists[2];
    static const float weights[3] = {0.5f, -1, 2};
    NNRT_TestClip a;
    lists[0] = nnrt_int64_list(first, 1);
    lists[1] = nnrt_int64_list(second, 2);
    nnrt_attr_defaults(&nnrt_attr_TestClip, &a);
    a.limit = 0.25f;
    a.mode = TEST_MODE_TWICE;
    a.activationType = NNRT_ACTIVATION_TYPE_RELU6;
    a.flag = false;
    a.count = 12;
    a.wide = -((int64_t)1 << 41);
    a.fine = 0.7;
    a.type = NNRT_DATA_TYPE_INT8;
    a.type64 = NNRT_DATA_TYPE_UINT16;
    a.label = "some text";
    a.axes = nnrt_int64_list(axes, 2);
    a.large = nnrt_int64_list(large, 1);
    a.pairs.data = lists;
    a.pairs.count = 2;
    a.weights = nnrt_float_list(weights, 3);
    return a;
}

typedef struct file {
    uint8_t *data;
    size_t bytes;
} file;

static file saved(const NNRT_Model *m)
{
    file f;
    void *block = NULL;
    assert_int_equal(nnrt_model_save_memory(m, NULL, NULL, 0, &f.bytes, NULL), NNRT_SUCCESS);
    assert_int_equal(posix_memalign(&block, NNRT_ALIGNMENT, f.bytes), 0);
    f.data = (uint8_t *)block;
    assert_int_equal(nnrt_model_save_memory(m, NULL, f.data, f.bytes, &f.bytes, NULL), NNRT_SUCCESS);
    return f;
}

static NNRT_ReturnCode loaded(const file *f, bool strangers, NNRT_Model **m, nnrt_error *e)
{
    nnrt_load_desc desc;
    memset(&desc, 0, sizeof(desc));
    memset(e, 0, sizeof(*e));
    desc.strangers = strangers;
    return nnrt_model_load_memory(m, f->data, f->bytes, &desc, e);
}

/* The row of the section table for nodes: its offset, and the offset of its data. */
static size_t nodes_row(const file *f, uint64_t *data)
{
    uint32_t type;
    size_t at = 64;
    for (;; at += 40) {
        memcpy(&type, f->data + at, sizeof(type));
        if (type == 5)
            break;
    }
    memcpy(data, f->data + at + 8, sizeof(*data));
    return at;
}

static void test_file(void **state)
{
    NNRT_TestClip a = everything();
    nnrt_op other = clip_row();
    NNRT_Model *m = chain(take_clip(), &a, NULL, NULL), *again = NULL;
    file f, g;
    float y[4];
    nnrt_error e;
    uint64_t data;
    uint32_t record;
    size_t row;
    (void)state;
    f = saved(m);
    row = nodes_row(&f, &data);
    memcpy(&record, f.data + row + 28, sizeof(record));
    assert_int_equal(record, 44);
    nnrt_model_destroy(m);
    drop("test.Clip");
    /* not registered, with another operator under its number */
    other.name = "test.Other";
    other.type = -1;
    (void)take(&other);
    assert_int_equal(loaded(&f, false, &m, &e), NNRT_UNSUPPORTED_OP);
    says(&e, "node 1 'clip': its operator 'test.Clip' is not registered (nnrt_op_register)");
    assert_null(m);
    /* for queries of devices: they support all other nodes */
    {
        bool takes[3] = {false, true, false};
        assert_int_equal(loaded(&f, true, &m, &e), NNRT_SUCCESS);
        assert_int_equal(m->nodes.data[1].nodeType, INT32_MIN);
        assert_int_equal(nnrt_device_supported(nnrt_device_find("reference"), m, NULL, takes, 3, NULL, NULL),
                         NNRT_SUCCESS);
        assert_true(takes[0] && !takes[1] && takes[2]);
        assert_int_equal(nnrt_model_validate(m, NULL, NULL), NNRT_UNSUPPORTED_OP);
        nnrt_model_destroy(m);
    }
    /* under another number */
    other = clip_row();
    other.type = -9;
    assert_int_equal(take(&other), -9);
    assert_int_equal(loaded(&f, false, &m, &e), NNRT_SUCCESS);
    assert_int_equal(m->nodes.data[1].nodeType, -9);
    assert_true(nnrt_attr_equal(&nnrt_attr_TestClip, m->nodes.data[1].nodeAttr.data, &a));
    assert_int_equal(run4(m, "reference", four, y, &e), NNRT_SUCCESS);
    assert_true(y[0] == 0.5f && y[1] == 0.5f && y[2] == 0.5f && y[3] == 0.5f);
    g = saved(m); /* the number leaves no trace */
    assert_int_equal(g.bytes, f.bytes);
    assert_memory_equal(g.data, f.data, f.bytes);
    free(g.data);
    assert_int_equal(loaded(&f, true, &again, &e), NNRT_SUCCESS);
    assert_int_equal(again->nodes.data[1].nodeType, -9);
    nnrt_model_destroy(again);
    nnrt_model_destroy(m);
    drop("test.Clip");
    /* under this name, but with other attributes */
    other = clip_row();
    other.attr = NULL;
    (void)take(&other);
    assert_int_equal(loaded(&f, false, &m, &e), NNRT_INVALID_FILE);
    says(&e, "attributes");
    drop("test.Clip");
    drop("test.Other");
    free(f.data);
}

/* The file format of models without such nodes is unchanged; operators in a file are checked. */
static void test_broken_files(void **state)
{
    NNRT_Model *m = chain(take_clip(), NULL, NULL, NULL);
    file f;
    uint64_t data;
    uint32_t record, name, zero = 0;
    int32_t number;
    size_t row;
    uint8_t *nodes, *at = NULL;
    nnrt_error e;
    graph g;
    (void)state;
    f = saved(m);
    nnrt_model_destroy(m);
    (void)nodes_row(&f, &data);
    nodes = f.data + data;
    memcpy(&number, nodes + 44 + 4, sizeof(number));
    assert_int_equal(number, -1);
    memcpy(&name, nodes + 44 + 40, sizeof(name));
    assert_int_not_equal(name, 0);
    memcpy(nodes + 44 + 40, &zero, sizeof(zero)); /* it has no name */
    assert_int_equal(loaded(&f, false, &m, &e), NNRT_INVALID_FILE);
    says(&e, "node 1: its operator is none of the application");
    memcpy(nodes + 44 + 40, &name, sizeof(name));
    memcpy(nodes + 40, &name, sizeof(name)); /* another node has one, too */
    assert_int_equal(loaded(&f, false, &m, &e), NNRT_INVALID_FILE);
    says(&e, "node 0: names the operator whose number it has");
    memcpy(nodes + 40, &zero, sizeof(zero));
    for (size_t i = 0; i + 9 < f.bytes && at == NULL; i++)
        at = memcmp(f.data + i, "test.Clip", 9) == 0 ? f.data + i : NULL;
    assert_non_null(at);
    memcpy(at, "SCALE_FUS", 9);
    assert_int_equal(loaded(&f, false, &m, &e), NNRT_UNSUPPORTED_OP);
    says(&e, "'SCALE_FUS'");
    memcpy(at, "ABS\0\0\0\0\0\0", 9); /* a row of nnrt's own */
    assert_int_equal(loaded(&f, false, &m, &e), NNRT_INVALID_FILE);
    says(&e, "node 1: its operator is none of the application");
    assert_int_equal(loaded(&f, true, &m, &e), NNRT_INVALID_FILE);
    memcpy(at, "test Clip", 9);
    assert_int_equal(loaded(&f, true, &m, &e), NNRT_INVALID_FILE);
    free(f.data);
    graph_init(&g);
    tensor(&g, "x", F32, "4");
    result(&g, "y");
    ACTIVATION(&g, "n", absolute, "0", "1");
    graph_io(&g, "0", "1");
    f = saved(&g.model);
    row = nodes_row(&f, &data);
    memcpy(&record, f.data + row + 28, sizeof(record));
    assert_int_equal(record, 40);
    free(f.data);
    drop("test.Clip");
}

/* ---- invalid rules and kernels ---- */

static int lie; /* selects the fault of `lying` */

static NNRT_ReturnCode lying(nnrt_resolve *c)
{
    nnrt_operand *y = &c->out[0];
    nnrt_resolve_like(c, 0, 0);
    y->dataType = F32;
    switch (lie) {
    case 1: y->rank = -1; break;
    case 2: y->rank = NNRT_MAX_RANK + 1; break;
    case 3: y->dims[0] = -2; break;
    case 4:
        y->rank = 4;
        for (int i = 0; i < 4; i++)
            y->dims[i] = INT32_MAX;
        break;
    case 5: y->dataType = NNRT_DATA_TYPE_UNKNOWN; break;
    case 6: y->dataType = 36; break;
    case 7: y->dataType = I32; break; /* declared as float32 */
    case 8: y->viewRank = 1, y->viewDims[0] = 5; break;
    case 9: y->format = 7; break;
    case 10: y->quantCount = 2; break;
    case 11: c->kernel = NULL; break;
    case 12: c->nDerived = NNRT_MAX_DERIVED + 1; break;
    case 13:
        c->nDerived = 1;
        c->derived[0] = nnrt_operand_make(F32, 1, y->dims, NULL);
        break;
    case 14: return NNRT_NOT_SUPPORT;
    case 15: return -77;
    case 16: (void)nnrt_resolve_fail(c, NNRT_INVALID_INPUT, "forgot to return"); break;
    case 17: c->resolved = NULL; break;
    case 18: y->dims[0] = 3; break; /* declared as 4 */
    case 19: return nnrt_resolve_fail(c, NNRT_INVALID_INPUT, "%o is %s", &c->in[0], "not what it likes");
    default: break;
    }
    return NNRT_SUCCESS;
}

static int kernel_lie;

static NNRT_ReturnCode copying(const void *attr, nnrt_view *args, nnrt_call *call)
{
    size_t n = 0;
    (void)attr;
    if (kernel_lie == 1)
        return nnrt_call_fail(call, NNRT_FAILED, "the sensor is %s", "gone");
    if (kernel_lie == 2)
        return -12;
    (void)nnrt_dims_count(args[0].dims, args[0].rank, &n);
    memmove(args[call->nIn + call->nDerived].data, args[0].data, n * nnrt_type_size(args[0].dataType));
    return NNRT_SUCCESS;
}

static const nnrt_kernel_row copy_kernels[] = {{NNRT_TYPES_ANY, NULL, copying, "copying"}};

static void test_lies(void **state)
{
    static const struct {
        NNRT_ReturnCode code;
        const char *words;
    } expected[] = {{NNRT_SUCCESS, ""},
                    {NNRT_INVALID_SHAPE, "its rule sets no shape for output 0 'y'"},
                    {NNRT_INVALID_SHAPE, "would have 9 axes, at most 8"},
                    {NNRT_INVALID_SHAPE, "its rule sets output 0 'y' to size -2 in axis 0"},
                    {NNRT_OUT_OF_MEMORY, "its size does not fit"},
                    {NNRT_INVALID_DATATYPE, "its rule sets output 0 'y' to no element type (0)"},
                    {NNRT_INVALID_DATATYPE, "no element type (36)"},
                    {NNRT_INVALID_DATATYPE, "output 0 'y' is float32, but its rule sets it to int32"},
                    {NNRT_INVALID_SHAPE, "a view of another element count"},
                    {NNRT_INVALID_FORMAT, "format 7"},
                    {NNRT_NULL_PTR, "2 quantization parameters, but no data"},
                    {NNRT_NULL_PTR, "its rule sets no kernel"},
                    {NNRT_INVALID_PARAMETER, "derives 5 constants, expected at most 4"},
                    {NNRT_INVALID_PARAMETER, "derives constant 0 without type, size or data"},
                    {NNRT_NOT_SUPPORT, "fails with code 11 and no message"},
                    {-77, "fails with code -77 and no message"},
                    {NNRT_INVALID_INPUT, "forgot to return"},
                    {NNRT_NULL_PTR, "its rule sets no attributes"},
                    {NNRT_INVALID_SHAPE, "output 0 'y' is declared"},
                    {NNRT_INVALID_INPUT, "float32[4] is not what it likes"}};
    nnrt_op op = row_of("test.Lie", lying, copy_kernels, 1);
    graph g;
    nnrt_error e;
    nnrt_session *s = NULL;
    char words[160];
    float y[4];
    (void)state;
    op.outputs = "y:.";
    graph_init(&g);
    tensor(&g, "x", F32, "4");
    tensor(&g, "y", F32, "4");
    node(&g, "n", take(&op), NULL, 0, "0", "1");
    graph_io(&g, "0", "1");
    for (lie = 0; lie < (int)COUNT(expected); lie++) {
        memset(&e, 0, sizeof(e));
        if (nnrt_model_validate(&g.model, NULL, &e) != expected[lie].code)
            fail_msg("lie %d: %s: %s", lie, nnrt_code_name(e.code), e.message);
        says(&e, expected[lie].words);
        nnrt_text(words, sizeof(words), "node 0 'n' (test.Lie): ");
        says(&e, lie == 0 ? "" : words);
        assert_int_equal(e.node, lie == 0 ? 0 : 0);
        assert_int_equal(nnrt_session_create(&s, &g.model, NULL, NULL), expected[lie].code);
        nnrt_session_destroy(s);
    }
    lie = 0;
    memset(&e, 0, sizeof(e));
    kernel_lie = 1;
    assert_int_equal(run4(&g.model, "reference", four, y, &e), NNRT_FAILED);
    says(&e, "node 0 'n' (test.Lie): the sensor is gone");
    kernel_lie = 2;
    memset(&e, 0, sizeof(e));
    assert_int_equal(run4(&g.model, "reference", four, y, &e), -12);
    says(&e, "its kernel failed");
    kernel_lie = 0;
    assert_int_equal(run4(&g.model, "reference", four, y, &e), NNRT_SUCCESS);
    assert_memory_equal(y, four, sizeof(y));
    drop("test.Lie");
}

/* ---- passes ---- */

/* c [4], known, -> clip -> z; y = x + z */
static NNRT_Model *known(NNRT_NodeType type)
{
    static const int32_t dims[1] = {4};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    uint32_t in[2];
    assert_int_equal(nnrt_builder_create(&b, "m", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_constant(b, "c", F32, 1, dims, four, true);
    in[1] = nnrt_builder_op(b, "clip", type, NULL, in, 1);
    in[0] = nnrt_builder_input(b, "x", F32, 1, dims);
    nnrt_builder_output(b, nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return m;
}

static void test_pure(void **state)
{
    static const uint32_t flags[3] = {0, NNRT_OP_PURE, NNRT_OP_PURE | NNRT_OP_EFFECT};
    (void)state;
    counting = true;
    for (uint32_t i = 0; i < 3; i++) {
        nnrt_op op = clip_row();
        NNRT_Model *m;
        float y[4];
        op.flags |= flags[i];
        m = known(take(&op));
        clips = 0;
        assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
        assert_int_equal(m->nodes.count, i == 1 ? 1 : 2);
        assert_int_equal(clips > 0, i == 1); /* an operator that is not pure is not called before a run */
        clips = 0;
        assert_int_equal(run4(m, "reference", four, y, NULL), NNRT_SUCCESS);
        assert_true(y[0] == -4.5f && y[1] == -2 && y[2] == 1 && y[3] == 3.5f);
        assert_int_equal(clips, i == 1 ? 0 : 1);
        nnrt_model_destroy(m);
        drop("test.Clip");
    }
    counting = false;
}

/* A kernel whose input and result have 0 elements is not called if the operator is PURE, with static and with dynamic shapes. */
static void test_nothing(void **state)
{
    static const int32_t shapes[2][2] = {{3, 0}, {-1, 0}};
    (void)state;
    counting = true;
    for (uint32_t i = 0; i < 4; i++) {
        const nnrt_dims dims = {2, {3, 0}};
        const nnrt_dims open = {2, {-1, 0}};
        const nnrt_bound bound = {"x", {2, {3, 0}}};
        nnrt_op op = clip_row();
        nnrt_session_desc desc;
        nnrt_session *s = NULL;
        nnrt_builder *b = NULL;
        NNRT_Model *m = NULL;
        nnrt_error error;
        nnrt_io in = nnrt_io_make(NULL, 0), out = nnrt_io_make(NULL, 0);
        NNRT_NodeType type;
        uint32_t x;
        memset(&desc, 0, sizeof(desc));
        memset(&error, 0, sizeof(error));
        op.flags |= NNRT_OP_EMPTY | (i % 2 == 1 ? NNRT_OP_PURE : 0);
        type = take(&op);
        assert_int_equal(nnrt_builder_create(&b, "m", NULL), NNRT_SUCCESS);
        x = nnrt_builder_input(b, "x", F32, 2, shapes[i / 2]);
        nnrt_builder_output(b, nnrt_builder_op(b, "clip", type, NULL, &x, 1));
        assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
        nnrt_builder_destroy(b);
        desc.device = "reference";
        desc.inputDims = nnrt_dims_list_make(i < 2 ? &dims : &open, 1);
        desc.bounds = nnrt_bound_list_make(&bound, i < 2 ? 0 : 1);
        if (nnrt_session_create(&s, m, &desc, &error) != NNRT_SUCCESS)
            fail_msg("%s", error.message);
        clips = 0;
        in.dims = i < 2 ? NULL : dims.dims;
        assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
        assert_int_equal(clips, i % 2 == 0 ? 1 : 0);
        nnrt_session_destroy(s);
        nnrt_model_destroy(m);
        drop("test.Clip");
    }
    counting = false;
}

/* A node with an unused result is removed, unless it has an EFFECT. Two equal nodes are not merged. A following
   activation is not fused into its attribute, whatever its name. */
static void test_passes(void **state)
{
    static const int32_t dims[1] = {4};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        nnrt_op op = clip_row();
        NNRT_NodeType type;
        nnrt_builder *b = NULL;
        NNRT_Model *m = NULL;
        uint32_t x, in[2];
        float y[4];
        op.flags |= i == 1 ? NNRT_OP_EFFECT : 0;
        type = take(&op);
        assert_int_equal(nnrt_builder_create(&b, "m", NULL), NNRT_SUCCESS);
        x = nnrt_builder_input(b, "x", F32, 1, dims);
        in[0] = nnrt_builder_op(b, "one", type, NULL, &x, 1);
        in[1] = nnrt_builder_op(b, "two", type, NULL, &x, 1);
        (void)nnrt_builder_op(b, "unread", type, NULL, &x, 1);
        in[0] = nnrt_builder_op(b, "relu", NNRT_NODE_TYPE_ACTIVATION, &relu, in, 1);
        nnrt_builder_output(b, nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2));
        assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
        nnrt_builder_destroy(b);
        assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_SUCCESS);
        assert_int_equal(m->nodes.count, i == 1 ? 5 : 4);
        assert_int_equal(run4(m, "reference", four, y, NULL), NNRT_SUCCESS);
        assert_true(y[0] == -1.5f && y[1] == -1 && y[2] == 1 && y[3] == 3);
        nnrt_model_destroy(m);
        drop("test.Clip");
    }
}

/* ---- dynamic and data-dependent shapes ---- */

static int shape_lie;

/* y [n, 2] of x [n]: a computed dimension and a fixed one. */
static NNRT_ReturnCode pairs_rule(nnrt_resolve *c)
{
    int32_t dims[2];
    if (c->in[0].rank != 1)
        return nnrt_resolve_fail(c, NNRT_INVALID_SHAPE, "input 0 is %o, expected one axis", &c->in[0]);
    dims[0] = c->in[0].dims[0];
    dims[1] = 2;
    if (shape_lie == 1) { /* stated as fixed, but varies */
        c->out[0].rank = 2;
        c->out[0].dims[0] = dims[0];
        c->out[0].dims[1] = 2;
        return NNRT_SUCCESS;
    }
    if (shape_lie == 2) /* grows as the input shrinks */
        dims[0] = 10 - dims[0];
    nnrt_resolve_shape(c, 0, 2, dims);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode pairs_f32(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const float *x = (const float *)args[0].data;
    float *y = (float *)args[call->nIn].data;
    (void)attr;
    for (int32_t i = 0; i < args[0].dims[0]; i++)
        y[2 * i] = y[2 * i + 1] = x[i];
    return NNRT_SUCCESS;
}

static const nnrt_kernel_row pairs_kernels[] = {{NNRT_TYPES_F32, NULL, pairs_f32, "pairs_f32"}};

static NNRT_ReturnCode run_open(nnrt_session *s, int32_t n, float *y, size_t room, nnrt_dims *dims)
{
    static const float x[8] = {-1, 2, -3, 4, -5, 6, -7, 8};
    nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, (size_t)n * sizeof(*x)), out = nnrt_io_make(y, room);
    NNRT_ReturnCode code;
    in.dims = &n;
    code = nnrt_run(s, &in, 1, &out, 1);
    *dims = nnrt_session_output(s, 0).shape;
    return code;
}

static void test_open(void **state)
{
    static const int32_t open[1] = {-1};
    nnrt_op pairs = row_of("test.Pairs", pairs_rule, pairs_kernels, 1);
    const NNRT_NodeType clip = take_clip();
    NNRT_NodeType pair;
    nnrt_session_desc desc;
    nnrt_bound bound;
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_session *s = NULL;
    nnrt_error e;
    uint32_t x;
    (void)state;
    pairs.flags = NNRT_OP_EMPTY;
    pair = take(&pairs);
    memset(&desc, 0, sizeof(desc));
    memset(&bound, 0, sizeof(bound));
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, "m", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", F32, 1, open);
    x = nnrt_builder_op(b, "clip", clip, NULL, &x, 1);
    x = nnrt_builder_op(b, "pairs", pair, NULL, &x, 1);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ACTIVATION, &absolute, &x, 1));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    bound.tensor = "x";
    bound.most.rank = 1;
    bound.most.dims[0] = 8;
    desc.device = "reference";
    desc.bounds = nnrt_bound_list_make(&bound, 1);
    assert_int_equal(nnrt_session_create(&s, m, &desc, &e), NNRT_SUCCESS);
    for (int32_t n = 0; n <= 8; n++) {
        float y[16];
        nnrt_dims dims;
        assert_int_equal(run_open(s, n, y, sizeof(y), &dims), NNRT_SUCCESS);
        assert_int_equal(dims.rank, 2);
        assert_int_equal(dims.dims[0], n);
        assert_int_equal(dims.dims[1], 2);
        for (int32_t i = 0; i < 2 * n; i++)
            assert_true(y[i] == (i < 2 ? 1 : 1.5f));
    }
    {
        float y[16];
        nnrt_dims dims;
        assert_int_equal(run_open(s, 3, y, 23, &dims), NNRT_INSUFFICIENT_BUFFER);
        shape_lie = 2; /* since the model was prepared */
        assert_int_equal(run_open(s, 1, y, sizeof(y), &dims), NNRT_OUT_OF_DIMENTION_RANGES);
        assert_non_null(strstr(nnrt_session_error(s), "node 1 'pairs' (test.Pairs): output 0"));
        nnrt_session_destroy(s);
        shape_lie = 1;
        assert_int_equal(nnrt_session_create(&s, m, &desc, &e), NNRT_SUCCESS);
        assert_int_equal(run_open(s, 8, y, sizeof(y), &dims), NNRT_SUCCESS);
        assert_int_equal(run_open(s, 3, y, sizeof(y), &dims), NNRT_INVALID_SHAPE);
        assert_non_null(strstr(nnrt_session_error(s), "test.Pairs"));
        nnrt_session_destroy(s);
        shape_lie = 0;
    }
    nnrt_model_destroy(m);
    drop("test.Pairs");
    drop("test.Clip");
}

/* y = the elements of x above 0; its shape is data-dependent. */
static int tell_lie;

static NNRT_ReturnCode above_rule(nnrt_resolve *c)
{
    nnrt_resolve_shape(c, 0, 1, c->in[0].dims);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode above_f32(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const float *x = (const float *)args[0].data;
    nnrt_view *y = &args[call->nIn];
    int32_t n = 0;
    (void)attr;
    for (int32_t i = 0; i < args[0].dims[0]; i++)
        if (x[i] > 0)
            ((float *)y->data)[n++] = x[i];
    y->dims[0] = tell_lie == 1 ? 9 : tell_lie == 2 ? -1 : n;
    return NNRT_SUCCESS;
}

static void test_data_shapes(void **state)
{
    static const nnrt_kernel_row kernels[] = {{NNRT_TYPES_F32, NULL, above_f32, "above_f32"}};
    static const int32_t dims[1] = {8};
    nnrt_op op = row_of("test.Above", above_rule, kernels, 1);
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    desc.device = "reference";
    for (uint32_t pure = 0; pure < 2; pure++) {
        static const float x[8] = {-1, 2, -3, 4, -5, 6, -7, 8};
        nnrt_builder *b = NULL;
        NNRT_Model *m = NULL;
        nnrt_error e;
        float y[8];
        nnrt_dims got;
        nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, sizeof(x)), out = nnrt_io_make(y, sizeof(y));
        uint32_t t;
        op.flags = NNRT_OP_EMPTY | NNRT_OP_DATA_DEPENDENT | (pure != 0 ? NNRT_OP_PURE : 0);
        (void)take(&op);
        memset(&e, 0, sizeof(e));
        assert_int_equal(nnrt_builder_create(&b, "m", NULL), NNRT_SUCCESS);
        t = pure != 0 ? nnrt_builder_constant(b, "x", F32, 1, dims, x, true) : nnrt_builder_input(b, "x", F32, 1, dims);
        t = nnrt_builder_op(b, "above", nnrt_op_named("test.Above")->type, NULL, &t, 1);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ACTIVATION, &absolute, &t, 1));
        assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
        nnrt_builder_destroy(b);
        assert_int_equal(nnrt_session_create(&s, m, &desc, &e), NNRT_SUCCESS);
        assert_int_equal(nnrt_run(s, &in, pure != 0 ? 0 : 1, &out, 1), NNRT_SUCCESS);
        got = nnrt_session_output(s, 0).shape;
        assert_int_equal(got.dims[0], 4);
        assert_true(y[0] == 2 && y[1] == 4 && y[2] == 6 && y[3] == 8);
        for (tell_lie = 1; tell_lie < 3; tell_lie++) {
            assert_int_equal(nnrt_run(s, &in, pure != 0 ? 0 : 1, &out, 1), NNRT_INVALID_SHAPE);
            assert_non_null(strstr(nnrt_session_error(s), tell_lie == 1 ? "its kernel reports size 9 on axis 0"
                                                                        : "its kernel reports size -1 on axis 0"));
        }
        tell_lie = 0;
        nnrt_session_destroy(s);
        nnrt_model_destroy(m);
        drop("test.Above");
    }
}

/* ---- scratch memory, threads, derived constants, several operands ---- */

/* y = x * table[0] + b (b is optional), computed in the scratch memory of a worker. Second result: -x, optional. */
static NNRT_ReturnCode blend_rule(nnrt_resolve *c)
{
    static const int32_t one[1] = {1};
    float *table = (float *)c->alloc(c->user, sizeof(float));
    if (table == NULL)
        return nnrt_resolve_fail(c, NNRT_OUT_OF_MEMORY, "no memory");
    table[0] = 3;
    c->derived[0] = nnrt_operand_make(F32, 1, one, table);
    c->nDerived = 1;
    c->scratch = sizeof(float);
    for (uint32_t k = 0; k < c->nOut; k++)
        nnrt_resolve_like(c, k, 0);
    return NNRT_SUCCESS;
}

typedef struct blend {
    nnrt_view *args;
    nnrt_call *call;
} blend;

static void blend_one(void *arg, uint32_t i, uint32_t worker)
{
    const blend *b = (const blend *)arg;
    const float *x = (const float *)b->args[0].data, *table = (const float *)b->args[b->call->nIn].data;
    float *own = (float *)(void *)((uint8_t *)b->call->scratch + worker * b->call->scratchBytes);
    nnrt_view *out = &b->args[b->call->nIn + b->call->nDerived];
    *own = x[i] * table[0];
    if (b->args[1].dataType != NNRT_DATA_TYPE_UNKNOWN)
        *own += ((const float *)b->args[1].data)[i];
    ((float *)out[0].data)[i] = *own;
    if (out[1].dataType != NNRT_DATA_TYPE_UNKNOWN)
        ((float *)out[1].data)[i] = -x[i];
}

static NNRT_ReturnCode blend_f32(const void *attr, nnrt_view *args, nnrt_call *call)
{
    blend b;
    size_t n = 0;
    (void)attr;
    b.args = args;
    b.call = call;
    (void)nnrt_dims_count(args[0].dims, args[0].rank, &n);
    if (call->nIn != 2 || call->nDerived != 1 || call->nOut != 2 || call->scratch == NULL)
        return nnrt_call_fail(call, NNRT_FAILED, "called with %u, %u, %u", call->nIn, call->nDerived, call->nOut);
    nnrt_parallel_for(call, (uint32_t)n, blend_one, &b);
    return NNRT_SUCCESS;
}

static void test_operands(void **state)
{
    static const nnrt_kernel_row kernels[] = {{NNRT_TYPES_F32, NULL, blend_f32, "blend_f32"}};
    nnrt_op op = row_of("test.Blend", blend_rule, kernels, 1);
    nnrt_error e;
    float y[4];
    (void)state;
    op.inputs = "x b?=0";
    op.outputs = "y=0 negated?=0";
    (void)take(&op);
    for (uint32_t i = 0; i < 3; i++) {
        graph g;
        graph_init(&g);
        tensor(&g, "x", F32, "4");
        result(&g, "y");
        result(&g, "z");
        node(&g, "n", nnrt_op_named("test.Blend")->type, NULL, 0, i == 1 ? "0 0" : "0", i == 2 ? "1 2" : "1");
        graph_io(&g, "0", i == 2 ? "2" : "1");
        memset(&e, 0, sizeof(e));
        if (run4(&g.model, "reference", four, y, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        for (uint32_t k = 0; k < 4; k++)
            assert_true(y[k] == (i == 2 ? -1 : i == 1 ? 4 : 3) * four[k]);
    }
    {
        graph g;
        graph_init(&g);
        tensor(&g, "x", I32, "4");
        result(&g, "y");
        node(&g, "n", nnrt_op_named("test.Blend")->type, NULL, 0, "0", "1");
        graph_io(&g, "0", "1");
        memset(&e, 0, sizeof(e));
        assert_int_equal(nnrt_model_validate(&g.model, NULL, &e), NNRT_INVALID_DATATYPE);
        says(&e, "node 0 'n' (test.Blend): input 0 (x) 'x' is int32[4], expected one of float32");
        g.in[0][0] = NNRT_NO_TENSOR;
        assert_int_equal(nnrt_model_validate(&g.model, NULL, NULL), NNRT_NULL_PTR);
        g.nodes[0].inputIndex.count = 0;
        memset(&e, 0, sizeof(e));
        assert_int_equal(nnrt_model_validate(&g.model, NULL, &e), NNRT_INVALID_INPUT);
        says(&e, "has 0 inputs, expected 1 and optional ones (x b?=0)");
    }
    drop("test.Blend");
}

/* ---- quantized kernels, image formats, repeated results ---- */

/* y = -x, for floats directly and for 8 bits by the quantization parameters in the views: one, or one for each index of
   the last axis of x. A result without parameters gets the parameters of x. */
static NNRT_ReturnCode negate_rule(nnrt_resolve *c)
{
    nnrt_resolve_like(c, 0, 0);
    if (c->out[0].quantCount == 0) {
        c->out[0].quant = c->in[0].quant;
        c->out[0].quantCount = c->in[0].quantCount;
        c->out[0].quantAxis = c->in[0].quantAxis;
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode negate_f32(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const float *x = (const float *)args[0].data;
    size_t n = 0;
    (void)attr;
    (void)nnrt_dims_count(args[0].dims, args[0].rank, &n);
    for (size_t i = 0; i < n; i++)
        ((float *)args[call->nIn].data)[i] = -x[i];
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode negate_q8(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *x = &args[0], *y = &args[call->nIn];
    const size_t last = (size_t)x->dims[x->rank - 1];
    size_t n = 0;
    (void)attr;
    (void)nnrt_dims_count(x->dims, x->rank, &n);
    for (size_t i = 0; i < n; i++) {
        const NNRT_QuantParam *from = &x->quant[x->quantCount > 1 ? i % last : 0];
        const NNRT_QuantParam *to = &y->quant[y->quantCount > 1 ? i % last : 0];
        const double real = -(((const int8_t *)x->data)[i] - from->zeroPoint) * from->scale, code = real / to->scale;
        const int32_t whole = (int32_t)(code < 0 ? code - 0.5 : code + 0.5) + to->zeroPoint;
        ((int8_t *)y->data)[i] = (int8_t)(whole < -128 ? -128 : whole > 127 ? 127 : whole);
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode run_bytes(const NNRT_Model *m, const void *x, void *y, size_t bytes, nnrt_error *e)
{
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    const nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, bytes), out = nnrt_io_make(y, bytes);
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    memset(e, 0, sizeof(*e));
    desc.device = "reference";
    if ((code = nnrt_session_create(&s, m, &desc, e)) == NNRT_SUCCESS)
        code = nnrt_run(s, &in, 1, &out, 1);
    nnrt_session_destroy(s);
    return code;
}

static void test_quantised(void **state)
{
    static const nnrt_kernel_row kernels[2] = {
        {NNRT_TYPES_F32, NULL, negate_f32, "negate_f32"},
        {NNRT_TYPES_QUANT(NNRT_TYPES_I8), NULL, negate_q8, "negate_q8"}};
    static const NNRT_QuantParam from = {8, 3, 0.5}, to = {8, -5, 0.25};
    static const NNRT_QuantParam each[4] = {{8, 0, 1}, {8, 1, 0.5}, {8, -1, 0.25}, {8, 2, 2}};
    static const int8_t x[4] = {-3, 3, 10, 127};
    /* real: -3, 0, 3.5, 62; with one parameter each: -3, 1, 2.75, 250 */
    static const int8_t declared[4] = {7, -5, -19, -128}, same[4] = {9, 3, -4, -121}, along[4] = {3, -1, -12, -123};
    nnrt_op op = row_of("test.Negate", negate_rule, kernels, 2);
    (void)state;
    (void)take(&op);
    for (uint32_t i = 0; i < 3; i++) { /* parameters declared by the result, inherited from x, and several */
        graph g;
        int8_t y[4] = {0};
        nnrt_error e;
        NNRT_Model *again = NULL;
        file f;
        graph_init(&g);
        tensor(&g, "x", NNRT_DATA_TYPE_INT8, "4");
        tensor(&g, "y", NNRT_DATA_TYPE_INT8, "4");
        node(&g, "n", nnrt_op_named("test.Negate")->type, NULL, 0, "0", "1");
        graph_io(&g, "0", "1");
        g.tensors[0].quantParams.data = i == 2 ? each : &from;
        g.tensors[0].quantParams.count = i == 2 ? 4 : 1;
        g.tensors[1].quantParams.data = &to;
        g.tensors[1].quantParams.count = i == 0;
        g.tensors[0].quantAxis = i == 2;
        if (run_bytes(&g.model, x, y, sizeof(y), &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        assert_memory_equal(y, i == 0 ? declared : i == 1 ? same : along, sizeof(y));
        f = saved(&g.model); /* and from a file */
        assert_int_equal(loaded(&f, false, &again, &e), NNRT_SUCCESS);
        memset(y, 0, sizeof(y));
        assert_int_equal(run_bytes(again, x, y, sizeof(y), &e), NNRT_SUCCESS);
        assert_memory_equal(y, i == 0 ? declared : i == 1 ? same : along, sizeof(y));
        nnrt_model_destroy(again);
        free(f.data);
    }
    for (uint32_t i = 0; i < 3; i++) { /* plain int8, quantized int16, and an operator without a kernel for them */
        graph g;
        int16_t y[4];
        nnrt_error e;
        graph_init(&g);
        tensor(&g, "x", i == 1 ? NNRT_DATA_TYPE_INT16 : NNRT_DATA_TYPE_INT8, "4");
        result(&g, "y");
        if (i == 2) {
            drop("test.Negate");
            op.kernelCount = 1;
            (void)take(&op);
        }
        node(&g, "n", nnrt_op_named("test.Negate")->type, NULL, 0, "0", "1");
        graph_io(&g, "0", "1");
        g.tensors[0].quantParams.data = &from;
        g.tensors[0].quantParams.count = i > 0;
        assert_int_equal(run_bytes(&g.model, y, y, i == 1 ? 8 : 4, &e),
                         i == 2 ? NNRT_UNSUPPORTED_OP : NNRT_INVALID_DATATYPE);
        says(&e, i == 0   ? "node 0 'n' (test.Negate): input 0 (x) 'x' is int8[4], expected one of qint8,float32"
                 : i == 1 ? "is qint16[4], expected one of qint8,float32"
                          : "is qint8[4]: this operator has no quantized kernel, use QUANT_DTYPE_CAST nodes");
    }
    drop("test.Negate");
}

/* y = x * (1 + channel); the kernel sees channels last, for any format of the image. */
static NNRT_ReturnCode tint_f32(const void *attr, nnrt_view *args, nnrt_call *call)
{
    const nnrt_view *x = &args[0], *y = &args[call->nIn];
    (void)attr;
    if (x->rank != 4 || x->dims[3] != 3)
        return nnrt_call_fail(call, NNRT_INVALID_SHAPE, "there are %d channels", x->dims[x->rank - 1]);
    for (int32_t n = 0; n < x->dims[0]; n++)
        for (int32_t h = 0; h < x->dims[1]; h++)
            for (int32_t w = 0; w < x->dims[2]; w++)
                for (int32_t c = 0; c < x->dims[3]; c++)
                    ((float *)y->data)[n * y->strides[0] + h * y->strides[1] + w * y->strides[2] + c * y->strides[3]] =
                        ((const float *)x->data)[n * x->strides[0] + h * x->strides[1] + w * x->strides[2] +
                                                 c * x->strides[3]] * (float)(1 + c);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode like_rule(nnrt_resolve *c)
{
    for (uint32_t k = 0; k < c->nOut; k++)
        nnrt_resolve_like(c, k, 0);
    return NNRT_SUCCESS;
}

static void test_layout(void **state)
{
    static const nnrt_kernel_row kernels[1] = {{NNRT_TYPES_F32, NULL, tint_f32, "tint_f32"}};
    nnrt_op op = row_of("test.Tint", like_rule, kernels, 1);
    float x[12], y[12];
    (void)state;
    for (uint32_t i = 0; i < 12; i++)
        x[i] = (float)i;
    op.flags = NNRT_OP_LAYOUT;
    (void)take(&op);
    for (uint32_t i = 0; i < 5; i++) { /* NCHW, NHWC, none, as NHWC; a result that contradicts; too few axes */
        static const NNRT_Format formats[5] = {NNRT_FORMAT_NCHW, NNRT_FORMAT_NHWC, NNRT_FORMAT_NONE, NNRT_FORMAT_NCHW,
                                               NNRT_FORMAT_NCHW};
        nnrt_session_desc desc;
        nnrt_session *s = NULL;
        nnrt_error e;
        graph g;
        graph_init(&g);
        tensor(&g, "x", F32, i == 4 ? "2,6" : formats[i] == NNRT_FORMAT_NCHW ? "1,3,2,2" : "1,2,2,3");
        result(&g, "y");
        node(&g, "n", nnrt_op_named("test.Tint")->type, NULL, 0, "0", "1");
        graph_io(&g, "0", "1");
        g.tensors[0].format = formats[i];
        if (i == 3)
            g.tensors[1].format = NNRT_FORMAT_NHWC;
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        desc.device = "reference";
        if (i == 3) {
            assert_int_equal(nnrt_session_create(&s, &g.model, &desc, &e), NNRT_INVALID_FORMAT);
            says(&e, "node 0 'n' (test.Tint): output 0 'y' is declared NHWC, but input 0 is NCHW");
            continue;
        }
        if (i == 4) { /* a tensor without the axes of an image: the kernel sees it unchanged */
            assert_int_equal(run_bytes(&g.model, x, y, sizeof(y), &e), NNRT_INVALID_SHAPE);
            continue;
        }
        if (nnrt_session_create(&s, &g.model, &desc, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
        for (uint32_t k = 0; k < 12; k++)
            assert_true(y[k] == x[k] * (float)(1 + (i == 0 ? k / 4 : k % 3)));
        nnrt_session_destroy(s);
    }
    drop("test.Tint");
}

/* y[k] = x * (k + 1), for any number of outputs, also above the fixed limit of operands. An omitted output keeps its
   index. */
static NNRT_ReturnCode fan_f32(const void *attr, nnrt_view *args, nnrt_call *call)
{
    size_t n = 0;
    (void)attr;
    (void)nnrt_dims_count(args[0].dims, args[0].rank, &n);
    for (uint32_t k = 0; k < call->nOut; k++)
        for (size_t i = 0; i < n && args[call->nIn + k].dataType != NNRT_DATA_TYPE_UNKNOWN; i++)
            ((float *)args[call->nIn + k].data)[i] = ((const float *)args[0].data)[i] * (float)(k + 1);
    return NNRT_SUCCESS;
}

static void test_repeated_results(void **state)
{
    static const nnrt_kernel_row kernels[1] = {{NNRT_TYPES_F32, NULL, fan_f32, "fan_f32"}};
    nnrt_op op = row_of("test.Fan", like_rule, kernels, 1);
    nnrt_op_arity arity;
    (void)state;
    op.outputs = "y*?=0";
    (void)take(&op);
    arity = nnrt_op_operands(nnrt_op_named("test.Fan"));
    assert_int_equal(arity.maxOut, UINT32_MAX);
    for (uint32_t count = 1; count <= 20; count++) {
        static const int32_t dims[1] = {4};
        float y[20][4];
        nnrt_io in = nnrt_io_make((void *)(uintptr_t)four, sizeof(four)), out[20];
        uint32_t x, ys[20], shown[20], n = 0;
        nnrt_builder *b = NULL;
        NNRT_Model *m = NULL, *again = NULL;
        nnrt_session *s = NULL;
        nnrt_session_desc desc;
        nnrt_error e;
        file f;
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        assert_int_equal(nnrt_builder_create(&b, "m", NULL), NNRT_SUCCESS);
        x = nnrt_builder_input(b, "x", F32, 1, dims);
        for (uint32_t k = 0; k < count; k++)
            ys[k] = k % 5 == 3 ? NNRT_NO_TENSOR : nnrt_builder_tensor(b, NULL);
        nnrt_builder_node(b, "fan", nnrt_op_named("test.Fan")->type, NULL, &x, 1, ys, count);
        for (uint32_t k = 0; k < count; k++)
            if (ys[k] != NNRT_NO_TENSOR && k % 5 != 1) { /* every fifth one is unused */
                nnrt_builder_output(b, ys[k]);
                shown[n] = k;
                out[n] = nnrt_io_make(y[n], sizeof(y[n]));
                n++;
            }
        if (nnrt_builder_finish(b, &m, &e) != NNRT_SUCCESS)
            fail_msg("%u results: %s", count, e.message);
        nnrt_builder_destroy(b);
        assert_int_equal(nnrt_model_optimize(&m, NULL, &e), NNRT_SUCCESS);
        f = saved(m);
        assert_int_equal(loaded(&f, false, &again, &e), NNRT_SUCCESS);
        desc.device = "reference";
        assert_int_equal(nnrt_session_create(&s, again, &desc, &e), NNRT_SUCCESS);
        memset(y, 0, sizeof(y));
        assert_int_equal(nnrt_run(s, &in, 1, out, n), NNRT_SUCCESS);
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t i = 0; i < 4; i++)
                assert_true(y[k][i] == four[i] * (float)(shown[k] + 1));
        nnrt_session_destroy(s);
        nnrt_model_destroy(again);
        nnrt_model_destroy(m);
        free(f.data);
    }
    drop("test.Fan");
}

/* ---- model caches ---- */

/* A cache stores the prepared parts around such a node, which is in none of them: it is valid for any number of the
   operator, and unusable without the operator, whose name the message has. A device refuses a model with such a node. */
static void test_cache(void **state)
{
    nnrt_fake *npu = registered("fake:name=npu,cache=yes");
    nnrt_op op = clip_row();
    nnrt_cache_desc cd;
    nnrt_session_desc desc;
    NNRT_Model *m;
    nnrt_cache *c = NULL;
    nnrt_session *s = NULL;
    NNRT_PreparedModel *prepared = NULL;
    void *kept = NULL;
    nnrt_error e;
    bool usable;
    file f;
    (void)state;
    memset(&cd, 0, sizeof(cd));
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    m = chain(take_clip(), NULL, NULL, NULL);
    f = saved(m);
    desc.device = "auto:npu";
    for (uint32_t i = 0; i < 3; i++) { /* prepared; restored; restored under another number */
        float y[4];
        nnrt_io in = nnrt_io_make((void *)(uintptr_t)four, sizeof(four)), out = nnrt_io_make(y, sizeof(y));
        if (i == 2) {
            nnrt_model_destroy(m);
            drop("test.Clip");
            op.type = -9;
            assert_int_equal(take(&op), -9);
            assert_int_equal(loaded(&f, false, &m, &e), NNRT_SUCCESS);
        }
        assert_int_equal(nnrt_cache_create(&c, &cd, &e), NNRT_SUCCESS);
        desc.cache = c;
        assert_int_equal(nnrt_cache_ask(c, m, &desc, &usable, &e), NNRT_SUCCESS);
        assert_int_equal(usable, i > 0);
        if (nnrt_session_create(&s, m, &desc, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        assert_int_equal(nnrt_cache_get_state(c)->prepared, i == 0 ? 2 : 0);
        assert_int_equal(nnrt_cache_get_state(c)->restored, i == 0 ? 0 : 2);
        assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
        assert_true(y[0] == 1.5f && y[1] == 1 && y[2] == 0.5f && y[3] == 1.5f);
        nnrt_session_destroy(s);
        if (i == 0) {
            assert_int_equal(nnrt_cache_save_memory(c, NULL, NULL, 0, &cd.bytes, &e), NNRT_SUCCESS);
            assert_int_equal(posix_memalign(&kept, NNRT_ALIGNMENT, cd.bytes), 0);
            assert_int_equal(nnrt_cache_save_memory(c, NULL, kept, cd.bytes, &cd.bytes, &e), NNRT_SUCCESS);
            cd.data = kept;
        }
        nnrt_cache_destroy(c);
    }
    assert_int_equal(nnrt_cache_create(&c, &cd, &e), NNRT_SUCCESS);
    desc.cache = c;
    assert_int_equal(nnrt_cache_prepare(c, nnrt_device_find("npu"), m, NULL, &prepared), NNRT_UNSUPPORTED_OP);
    assert_null(prepared);
    drop("test.Clip");
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_session_create(&s, m, &desc, &e), NNRT_UNSUPPORTED_OP);
    says(&e, "node 1 'clip'");
    assert_null(s);
    nnrt_model_destroy(m);
    memset(&e, 0, sizeof(e));
    assert_int_equal(loaded(&f, false, &m, &e), NNRT_UNSUPPORTED_OP);
    says(&e, "its operator 'test.Clip' is not registered (nnrt_op_register)");
    nnrt_cache_destroy(c);
    free(kept);
    free(f.data);
    unregistered(npu);
}

/* An operator without inputs: a source, called in every run. */
static NNRT_ReturnCode tick_rule(nnrt_resolve *c)
{
    static const int32_t dims[1] = {4};
    c->out[0].dataType = F32;
    nnrt_resolve_shape(c, 0, 1, dims);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode tick(const void *attr, nnrt_view *args, nnrt_call *call)
{
    static float count;
    (void)attr;
    count += 1;
    for (uint32_t i = 0; i < 4; i++)
        ((float *)args[call->nIn].data)[i] = count;
    return NNRT_SUCCESS;
}

static void test_source(void **state)
{
    static const nnrt_kernel_row kernels[] = {{NNRT_TYPES_ALL, NULL, tick, "tick"}};
    nnrt_op op = row_of("test.Tick", tick_rule, kernels, 1);
    graph g;
    float y[4];
    (void)state;
    op.inputs = "";
    op.outputs = "y:.";
    graph_init(&g);
    tensor(&g, "x", F32, "4");
    result(&g, "t");
    result(&g, "y");
    node(&g, "n", take(&op), NULL, 0, "", "1");
    ADD(&g, "sum", "0 1", "2");
    graph_io(&g, "0", "2");
    for (uint32_t i = 1; i < 4; i++) {
        assert_int_equal(run4(&g.model, "reference", four, y, NULL), NNRT_SUCCESS);
        assert_true(y[0] == -3 + (float)i && y[3] == 2 + (float)i);
    }
    drop("test.Tick");
}

/* ---- subgraphs ---- */

/* y = cond ? clip(x) : x + x; then three times y = clip(y + y) */
static void test_subgraphs(void **state)
{
    static const int32_t dims[1] = {4};
    static const int64_t three = 3;
    const NNRT_NodeType type = take_clip();
    NNRT_If branch;
    NNRT_Loop loop;
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    nnrt_error e;
    uint32_t in[3], x, cond, y, t[4];
    (void)state;
    memset(&e, 0, sizeof(e));
    memset(&desc, 0, sizeof(desc));
    desc.device = "reference";
    assert_int_equal(nnrt_builder_create(&b, "m", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", F32, 1, dims);
    cond = nnrt_builder_input(b, "cond", NNRT_DATA_TYPE_BOOL, 0, NULL);
    branch.thenGraph = nnrt_builder_graph(b, "then");
    nnrt_builder_enter(b, branch.thenGraph);
    y = nnrt_builder_op(b, "cut", type, NULL, &x, 1);
    nnrt_builder_graph_io(b, branch.thenGraph, NULL, 0, &y, 1);
    branch.elseGraph = nnrt_builder_graph(b, "else");
    nnrt_builder_enter(b, branch.elseGraph);
    in[0] = in[1] = x;
    y = nnrt_builder_op(b, "double", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    nnrt_builder_graph_io(b, branch.elseGraph, NULL, 0, &y, 1);
    nnrt_builder_enter(b, 0);
    y = nnrt_builder_op(b, "if", NNRT_NODE_TYPE_IF, &branch, &cond, 1);
    loop.body = nnrt_builder_graph(b, "body");
    nnrt_builder_enter(b, loop.body);
    t[0] = nnrt_builder_tensor(b, "trip");
    t[1] = nnrt_builder_tensor(b, "go");
    t[2] = nnrt_builder_tensor(b, "carried");
    in[0] = in[1] = t[2];
    t[3] = nnrt_builder_op(b, "twice", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2);
    t[3] = nnrt_builder_op(b, "cut again", type, NULL, &t[3], 1);
    in[0] = t[1];
    in[1] = t[3];
    nnrt_builder_graph_io(b, loop.body, t, 3, in, 2);
    nnrt_builder_enter(b, 0);
    in[0] = nnrt_builder_constant(b, "trips", NNRT_DATA_TYPE_INT64, 0, NULL, &three, true);
    in[1] = NNRT_NO_TENSOR;
    in[2] = y;
    nnrt_builder_output(b, nnrt_builder_op(b, "loop", NNRT_NODE_TYPE_LOOP, &loop, in, 3));
    if (nnrt_builder_finish(b, &m, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    for (uint32_t k = 0; k < 3; k++) { /* as built, optimized, and loaded from a file */
        file f;
        if (k == 1)
            assert_int_equal(nnrt_model_optimize(&m, NULL, &e), NNRT_SUCCESS);
        f = saved(m);
        if (k == 2) {
            nnrt_model_destroy(m);
            assert_int_equal(loaded(&f, false, &m, &e), NNRT_SUCCESS);
        }
        assert_int_equal(nnrt_session_create(&s, m, &desc, &e), NNRT_SUCCESS);
        assert_int_equal(nnrt_op_unregister("test.Clip"), NNRT_DEVICE_BUSY);
        for (uint32_t yes = 0; yes < 2; yes++) {
            const float values[4] = {-3, 0.125f, 0.0625f, 2};
            uint8_t truth = (uint8_t)yes;
            float out[4];
            nnrt_io io[2], result_io = nnrt_io_make(out, sizeof(out));
            io[0] = nnrt_io_make((void *)(uintptr_t)values, sizeof(values));
            io[1] = nnrt_io_make(&truth, 1);
            assert_int_equal(nnrt_run(s, io, 2, &result_io, 1), NNRT_SUCCESS);
            assert_true(out[0] == -1.5f && out[3] == 1.5f); /* 8 or 16 times, at most 1.5 */
            assert_true(out[1] == (yes ? 1 : 1.5f) && out[2] == (yes ? 0.5f : 1));
        }
        nnrt_session_destroy(s);
        if (k == 2)
            nnrt_model_destroy(m); /* whose memory is the file */
        free(f.data);
    }
    drop("test.Clip");
}

/* ---- devices ---- */

typedef struct seats {
    char device[3][48];
    char reason[3][160];
} seats;

static void sit(void *user, const nnrt_placement *p)
{
    seats *s = (seats *)user;
    if (p->node >= 3)
        return;
    nnrt_text(s->device[p->node], sizeof(s->device[0]), "%s", p->device);
    nnrt_text(s->reason[p->node], sizeof(s->reason[0]), "%s", p->reason);
}

/* auto partitions the chain: clip stays on the reference device, the rest runs on the device. */
static void split_over(const char *list, const char *unique, const NNRT_Model *m, const char *reason)
{
    nnrt_session_desc desc;
    nnrt_partition p;
    nnrt_session *s = NULL;
    nnrt_error e;
    seats at;
    float y[4];
    nnrt_io in = nnrt_io_make((void *)(uintptr_t)four, sizeof(four)), out = nnrt_io_make(y, sizeof(y));
    memset(&desc, 0, sizeof(desc));
    memset(&p, 0, sizeof(p));
    memset(&e, 0, sizeof(e));
    memset(&at, 0, sizeof(at));
    p.placed = sit;
    p.user = &at;
    desc.device = list;
    desc.partition = &p;
    if (nnrt_session_create(&s, m, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
    assert_true(y[0] == 1.5f && y[1] == 1 && y[2] == 0.5f && y[3] == 1.5f);
    nnrt_session_destroy(s);
    assert_string_equal(at.device[0], unique);
    assert_string_equal(at.device[1], "reference_nnrt_v2_0");
    assert_string_equal(at.device[2], unique);
    if (strstr(at.reason[1], reason) == NULL)
        fail_msg("'%s' is not in '%s'", reason, at.reason[1]);
    p.strict = true;
    assert_int_equal(nnrt_session_create(&s, m, &desc, NULL), NNRT_UNSUPPORTED_OP);
}

static void test_auto(void **state)
{
    nnrt_fake *npu = registered("fake:name=npu");
    NNRT_Model *m = chain(take_clip(), NULL, NULL, NULL);
    bool takes[3] = {false, true, false};
    (void)state;
    assert_int_equal(nnrt_device_supported(nnrt_device_find("npu"), m, NULL, takes, 3, NULL, NULL), NNRT_SUCCESS);
    assert_true(takes[0] && !takes[1] && takes[2]);
    assert_int_equal(nnrt_device_supported(nnrt_device_find("reference"), m, NULL, takes, 3, NULL, NULL), NNRT_SUCCESS);
    assert_true(takes[0] && takes[1] && takes[2]);
    assert_int_equal(nnrt_device_supported(nnrt_device_find("auto"), m, NULL, takes, 3, NULL, NULL), NNRT_SUCCESS);
    assert_true(takes[1]);
    split_over("auto:npu", nnrt_device_unique_name(nnrt_device_find("npu")), m, "node 1 'clip' (test.Clip)");
    nnrt_model_destroy(m);
    unregistered(npu);
    drop("test.Clip");
}

/* A process that does not know the operator: the device supports all other nodes. */
static void test_other_process(void **state)
{
    char path[64], text[96];
    nnrt_remote *remote = NULL;
    nnrt_error e;
    NNRT_Model *m;
    pid_t process;
    (void)state;
    memset(&e, 0, sizeof(e));
    nnrt_text(path, sizeof(path), "/tmp/nnrt_custom_%d.sock", (int)getpid());
    process = remote_start(path, "reference");
    assert_true(process > 0);
    m = chain(take_clip(), NULL, NULL, NULL);
    nnrt_text(text, sizeof(text), "remote:name=far,%s", path);
    if (nnrt_remote_register(&remote, text, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", text, e.message);
    {
        nnrt_session *s = NULL;
        nnrt_session_desc own;
        memset(&own, 0, sizeof(own));
        own.device = nnrt_remote_name(remote);
        assert_int_equal(nnrt_session_create(&s, m, &own, &e), NNRT_UNSUPPORTED_OP);
        says(&e, "its operator 'test.Clip' is not registered");
        nnrt_text(text, sizeof(text), "auto:%s", nnrt_remote_name(remote));
        split_over(text, nnrt_device_unique_name(nnrt_device_find(nnrt_remote_name(remote))), m, "is registered");
    }
    assert_int_equal(nnrt_device_unregister(nnrt_remote_name(remote)), NNRT_SUCCESS);
    (void)kill(process, SIGTERM);
    (void)waitpid(process, NULL, 0);
    (void)unlink(path);
    nnrt_model_destroy(m);
    drop("test.Clip");
}

/* ---- without memory ---- */

static NNRT_ReturnCode whole(trial *t, nnrt_error *e)
{
    nnrt_allocator a;
    nnrt_session_desc session;
    nnrt_load_desc load;
    nnrt_save_desc save;
    NNRT_Model *m = NULL, *again = NULL;
    nnrt_session *s = NULL;
    NNRT_TestClip attr = everything();
    void *block = NULL;
    size_t bytes = 0;
    float y[4];
    nnrt_io in = nnrt_io_make((void *)(uintptr_t)four, sizeof(four)), out = nnrt_io_make(y, sizeof(y));
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    a.alloc = trial_alloc;
    a.free = trial_free;
    a.user = t;
    memset(&session, 0, sizeof(session));
    memset(&load, 0, sizeof(load));
    memset(&save, 0, sizeof(save));
    session.device = "reference";
    session.allocator = load.allocator = save.allocator = &a;
    if ((m = chain(nnrt_op_named("test.Clip")->type, &attr, &a, e)) == NULL ||
        (code = nnrt_model_optimize(&m, NULL, e)) != NNRT_SUCCESS ||
        (code = nnrt_model_save_memory(m, &save, NULL, 0, &bytes, e)) != NNRT_SUCCESS)
        goto end;
    assert_int_equal(posix_memalign(&block, NNRT_ALIGNMENT, bytes), 0);
    if ((code = nnrt_model_save_memory(m, &save, block, bytes, &bytes, e)) != NNRT_SUCCESS ||
        (code = nnrt_model_load_memory(&again, block, bytes, &load, e)) != NNRT_SUCCESS ||
        (code = nnrt_session_create(&s, again, &session, e)) != NNRT_SUCCESS)
        goto end;
    code = nnrt_run(s, &in, 1, &out, 1);
    assert_true(y[0] == 0.5f && y[3] == 0.5f);
end:
    nnrt_session_destroy(s);
    nnrt_model_destroy(again);
    nnrt_model_destroy(m);
    free(block);
    return code;
}

static void test_memory(void **state)
{
    trial t;
    nnrt_error e;
    uint32_t calls;
    (void)state;
    (void)take_clip();
    (void)trial_allocator(&t);
    memset(&e, 0, sizeof(e));
    assert_int_equal(whole(&t, &e), NNRT_SUCCESS);
    calls = t.calls;
    assert_true(calls > 10);
    for (uint32_t i = 1; i <= 2 * calls; i++) {
        (void)trial_allocator(&t);
        memset(&e, 0, sizeof(e));
        t.failing = (i + 1) / 2;
        t.forGood = i % 2 == 0;
        assert_int_equal(whole(&t, &e), NNRT_OUT_OF_MEMORY);
        assert_int_equal(t.live, 0);
        drop("test.Clip"); /* nothing holds it */
        (void)take_clip();
    }
    drop("test.Clip");
}

/* ---- threads: they build, save, load, prepare and run at once ---- */

static void *work(void *arg)
{
    int32_t *failures = (int32_t *)arg;
    for (uint32_t i = 0; i < 20; i++) {
        nnrt_error e;
        NNRT_Model *m;
        float y[4] = {0};
        memset(&e, 0, sizeof(e));
        m = chain(nnrt_op_named("test.Clip")->type, NULL, NULL, &e);
        *failures += m == NULL || nnrt_model_optimize(&m, NULL, &e) != NNRT_SUCCESS ||
                     run4(m, i % 2 == 0 ? "reference" : NULL, four, y, &e) != NNRT_SUCCESS || y[0] != 1.5f ||
                     y[2] != 0.5f;
        nnrt_model_destroy(m);
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[2];
    int32_t failures[2] = {0, 0};
    (void)state;
    (void)take_clip();
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &failures[i]), 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(failures[0] + failures[1], 0);
    drop("test.Clip"); /* no prepared model uses it any more */
}

/* ---- ONNX ---- */

static void put_fixed(message *m, uint32_t field, float value)
{
    put_varint(m, (uint64_t)field << 3 | 5);
    put(m, &value, sizeof(value));
}

/* An attribute of a node: i, f, s, ints or floats by its type. */
static void attribute(message *node, const char *name, int type, int64_t i, float f, const char *s)
{
    message a;
    memset(&a, 0, sizeof(a));
    put_text(&a, 1, name);
    if (type == NNRT_ONNX_ATTRIBUTE_INT)
        put_int(&a, 3, i);
    if (type == NNRT_ONNX_ATTRIBUTE_FLOAT)
        put_fixed(&a, 2, f);
    if (type == NNRT_ONNX_ATTRIBUTE_STRING)
        put_bytes(&a, 4, s, (size_t)i);
    for (uint32_t k = 0; k < 2 && type == NNRT_ONNX_ATTRIBUTE_INTS; k++)
        put_int(&a, 8, i + k);
    for (uint32_t k = 0; k < 2 && type == NNRT_ONNX_ATTRIBUTE_FLOATS; k++)
        put_fixed(&a, 7, f + (float)k);
    put_int(&a, 20, type);
    put_bytes(node, 5, a.data, a.size);
}

static message onnx_node(const char *domain, const char *type, const char *in, const char *out)
{
    message n;
    memset(&n, 0, sizeof(n));
    if (in != NULL)
        put_text(&n, 1, in);
    put_text(&n, 2, out);
    put_text(&n, 3, "a node");
    put_text(&n, 4, type);
    if (domain != NULL)
        put_text(&n, 7, domain);
    return n;
}

static void put_value(message *g, uint32_t field, const char *name)
{
    message dim, shape, tensor_type, type, info;
    memset(&dim, 0, sizeof(dim));
    memset(&shape, 0, sizeof(shape));
    memset(&tensor_type, 0, sizeof(tensor_type));
    memset(&type, 0, sizeof(type));
    memset(&info, 0, sizeof(info));
    put_int(&dim, 1, 4);
    put_bytes(&shape, 1, dim.data, dim.size);
    put_int(&tensor_type, 1, 1);
    put_bytes(&tensor_type, 2, shape.data, shape.size);
    put_bytes(&type, 1, tensor_type.data, tensor_type.size);
    put_text(&info, 1, name);
    put_bytes(&info, 2, type.data, type.size);
    put_bytes(g, field, info.data, info.size);
}

/* A model of one node, x [4] to y, optionally with a function Abs(x) of the node's name. */
static NNRT_ReturnCode imported(const message *n, const char *function, bool optimize, NNRT_Model **m, nnrt_error *e)
{
    static uint8_t kept[MESSAGE_BYTES];
    message g, opset, model, f;
    nnrt_onnx_desc desc;
    memset(&g, 0, sizeof(g));
    memset(&opset, 0, sizeof(opset));
    memset(&model, 0, sizeof(model));
    memset(&f, 0, sizeof(f));
    memset(&desc, 0, sizeof(desc));
    memset(e, 0, sizeof(*e));
    put_bytes(&g, 1, n->data, n->size);
    put_text(&g, 2, "g");
    put_value(&g, 11, "x");
    put_value(&g, 12, "y");
    put_int(&opset, 2, 17);
    put_int(&model, 1, 8);
    put_bytes(&model, 7, g.data, g.size);
    put_bytes(&model, 8, opset.data, opset.size);
    if (function != NULL) {
        const message body = onnx_node(NULL, "Abs", "in", "out");
        put_text(&f, 1, function);
        put_text(&f, 4, "in");
        put_text(&f, 5, "out");
        put_bytes(&f, 7, body.data, body.size);
        put_bytes(&f, 9, opset.data, opset.size);
        put_text(&f, 10, "test");
        put_bytes(&model, 25, f.data, f.size);
    }
    memcpy(kept, model.data, model.size);
    desc.no_optimize = !optimize;
    return nnrt_onnx_load_memory(m, kept, model.size, &desc, e);
}

static void test_onnx(void **state)
{
    NNRT_Model *m = NULL;
    message n = onnx_node("test", "Clip", "x", "y");
    const NNRT_TestClip *a;
    nnrt_error e;
    float y[4];
    (void)state;
    attribute(&n, "limit", NNRT_ONNX_ATTRIBUTE_FLOAT, 0, 0.25f, NULL);
    attribute(&n, "mode", NNRT_ONNX_ATTRIBUTE_STRING, 5, 0, "TWICE");
    attribute(&n, "activationType", NNRT_ONNX_ATTRIBUTE_INT, NNRT_ACTIVATION_TYPE_TANH, 0, NULL);
    attribute(&n, "flag", NNRT_ONNX_ATTRIBUTE_INT, 0, 0, NULL);
    attribute(&n, "count", NNRT_ONNX_ATTRIBUTE_INT, 42, 0, NULL);
    attribute(&n, "wide", NNRT_ONNX_ATTRIBUTE_INT, (int64_t)1 << 45, 0, NULL);
    attribute(&n, "fine", NNRT_ONNX_ATTRIBUTE_FLOAT, 0, 0.375f, NULL);
    attribute(&n, "type", NNRT_ONNX_ATTRIBUTE_INT, 7 /* INT64 */, 0, NULL);
    attribute(&n, "type64", NNRT_ONNX_ATTRIBUTE_INT, 10 /* FLOAT16 */, 0, NULL);
    attribute(&n, "label", NNRT_ONNX_ATTRIBUTE_STRING, 3, 0, "abcdef");
    attribute(&n, "axes", NNRT_ONNX_ATTRIBUTE_INTS, -1, 0, NULL);
    attribute(&n, "large", NNRT_ONNX_ATTRIBUTE_INTS, (int64_t)1 << 40, 0, NULL);
    attribute(&n, "weights", NNRT_ONNX_ATTRIBUTE_FLOATS, 0, 1.25f, NULL);
    assert_int_equal(imported(&n, NULL, false, &m, &e), NNRT_UNSUPPORTED_OP);
    says(&e, "operators that are not supported: test.Clip x1 'a node'; nnrt_op_register can add them");
    (void)take_clip();
    for (uint32_t k = 0; k < 2; k++) { /* a registered operator precedes a function of that name */
        if (imported(&n, k == 1 ? "Clip" : NULL, k == 1, &m, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        assert_int_equal(m->nodes.count, 1);
        assert_int_equal(m->nodes.data[0].nodeType, -1);
        assert_string_equal(m->nodes.data[0].name, "a node");
        a = (const NNRT_TestClip *)m->nodes.data[0].nodeAttr.data;
        assert_true(a->limit == 0.25f && a->mode == TEST_MODE_TWICE && a->activationType == NNRT_ACTIVATION_TYPE_TANH);
        assert_true(!a->flag && a->count == 42 && a->wide == (int64_t)1 << 45 && a->fine == 0.375);
        assert_int_equal(a->type, NNRT_DATA_TYPE_INT64);
        assert_int_equal(a->type64, NNRT_DATA_TYPE_FLOAT16);
        assert_string_equal(a->label, "abc");
        assert_true(a->axes.count == 2 && a->axes.data[0] == -1 && a->axes.data[1] == 0);
        assert_true(a->large.count == 2 && a->large.data[1] == ((int64_t)1 << 40) + 1);
        assert_true(a->weights.count == 2 && a->weights.data[0] == 1.25f && a->weights.data[1] == 2.25f);
        assert_int_equal(a->pairs.count, 0);
        assert_int_equal(run4(m, "reference", four, y, &e), NNRT_SUCCESS);
        assert_true(y[0] == -0.5f && y[1] == -0.5f && y[2] == 0.5f && y[3] == 0.5f);
        nnrt_model_destroy(m);
    }
    drop("test.Clip");
    n = onnx_node("test", "Clip", "x", "y");
    assert_int_equal(imported(&n, "Clip", true, &m, &e), NNRT_SUCCESS); /* the function, without it */
    assert_int_equal(run4(m, "reference", four, y, &e), NNRT_SUCCESS);
    assert_true(y[0] == 3 && y[1] == 1 && y[2] == 0.5f && y[3] == 2);
    nnrt_model_destroy(m);
}

static void test_onnx_refusals(void **state)
{
    static const struct {
        const char *name;
        int type;
        int64_t i;
        const char *s, *words;
        NNRT_ReturnCode code;
    } bad[] = {
        {"speed", NNRT_ONNX_ATTRIBUTE_INT, 1, NULL, "the registered operator 'test.Clip' has no attribute 'speed'",
         NNRT_UNSUPPORTED_OP},
        {"limit", NNRT_ONNX_ATTRIBUTE_INT, 1, NULL, "attribute 'limit' has type 2, expected 1", NNRT_INVALID_PARAMETER},
        {"count", NNRT_ONNX_ATTRIBUTE_FLOAT, 1, NULL, "attribute 'count' has type 1, expected 2", NNRT_INVALID_PARAMETER},
        {"mode", NNRT_ONNX_ATTRIBUTE_STRING, 4, "NONE", "attribute 'mode' is 'NONE', which is not the name of an enumerator",
         NNRT_INVALID_PARAMETER},
        {"mode", NNRT_ONNX_ATTRIBUTE_INT, 3, NULL, "attribute 'mode' is 3, which is not the number of an enumerator", NNRT_INVALID_PARAMETER},
        {"flag", NNRT_ONNX_ATTRIBUTE_INT, 2, NULL, "attribute 'flag' is 2, expected 0 or 1", NNRT_INVALID_PARAMETER},
        {"type", NNRT_ONNX_ATTRIBUTE_INT, 16, NULL, "attribute 'type' is element type 16, which is not supported",
         NNRT_UNSUPPORTED_OP},
        {"type", NNRT_ONNX_ATTRIBUTE_INT, (int64_t)1 << 40, NULL, "which is not supported", NNRT_UNSUPPORTED_OP},
        {"label", NNRT_ONNX_ATTRIBUTE_STRING, 3, "a\0b", "a string that contains NUL bytes", NNRT_UNSUPPORTED_OP},
        {"pairs", NNRT_ONNX_ATTRIBUTE_INTS, 1, NULL, "a list of lists", NNRT_UNSUPPORTED_OP},
        {"count", NNRT_ONNX_ATTRIBUTE_INT, (int64_t)1 << 40, NULL, "count is 1099511627776, which lies outside int32",
         NNRT_INVALID_PARAMETER}};
    nnrt_op op = clip_row();
    NNRT_Model *m = NULL;
    nnrt_error e;
    message n;
    (void)state;
    (void)take(&op);
    for (uint32_t i = 0; i < COUNT(bad); i++) {
        n = onnx_node("test", "Clip", "x", "y");
        attribute(&n, bad[i].name, bad[i].type, bad[i].i, 0, bad[i].s);
        if (imported(&n, NULL, true, &m, &e) != bad[i].code)
            fail_msg("%s: %s, %s", bad[i].words, nnrt_code_name(e.code), e.message);
        says(&e, bad[i].words);
        says(&e, "a node");
        assert_null(m);
    }
    n = onnx_node("test", "Clip", NULL, "y");
    assert_int_equal(imported(&n, NULL, true, &m, &e), NNRT_INVALID_INPUT);
    says(&e, "has 0 inputs, expected 1");
    n = onnx_node("test", "Clip.more", "x", "y");
    assert_int_equal(imported(&n, NULL, true, &m, &e), NNRT_UNSUPPORTED_OP);
    drop("test.Clip");
    /* the domain of ONNX: operators that the table lacks may be registered, others cannot be replaced */
    op.name = "NoSuchThing";
    (void)take(&op);
    n = onnx_node(NULL, "NoSuchThing", "x", "y");
    assert_int_equal(imported(&n, NULL, true, &m, &e), NNRT_SUCCESS);
    nnrt_model_destroy(m);
    drop("NoSuchThing");
    op.name = "Abs";
    (void)take(&op);
    n = onnx_node(NULL, "Abs", "x", "y");
    assert_int_equal(imported(&n, NULL, true, &m, &e), NNRT_SUCCESS);
    assert_true(m->nodes.data[0].nodeType > 0);
    nnrt_model_destroy(m);
    drop("Abs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stated_shapes),
        cmocka_unit_test(test_refused_rows),   cmocka_unit_test(test_registry),      cmocka_unit_test(test_description),
        cmocka_unit_test(test_build_and_run),  cmocka_unit_test(test_unknown),       cmocka_unit_test(test_gone_from_builder),
        cmocka_unit_test(test_busy),           cmocka_unit_test(test_file),          cmocka_unit_test(test_broken_files),
        cmocka_unit_test(test_lies),           cmocka_unit_test(test_pure),          cmocka_unit_test(test_passes),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_open),           cmocka_unit_test(test_data_shapes),   cmocka_unit_test(test_operands),
        cmocka_unit_test(test_source),         cmocka_unit_test(test_subgraphs),     cmocka_unit_test(test_auto),
        cmocka_unit_test(test_other_process),  cmocka_unit_test(test_memory),        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_onnx),           cmocka_unit_test(test_onnx_refusals), cmocka_unit_test(test_quantised),
        cmocka_unit_test(test_layout),         cmocka_unit_test(test_repeated_results), cmocka_unit_test(test_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
