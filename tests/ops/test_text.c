/* Texts for people, and attribute descriptions: messages, printed attributes, comparison. */
#include "nnrt_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEXT 512

/* Each member of each operator's struct makes two structs differ, and nothing else does: lists are compared by their elements,
   not by address. */
static void test_attr_equal(void **state)
{
    static const int64_t ones[2] = {1, 2}, same[2] = {1, 2}, other[2] = {1, 3};
    static const float reals[2] = {1, 2}, sameReals[2] = {1, 2}, otherReals[2] = {1, 3};
    static const char text[] = "text", sameText[] = "text";
    (void)state;
    for (uint32_t i = 0; nnrt_op_at(i) != NULL; i++) {
        const nnrt_attr_struct *s = nnrt_op_at(i)->attr;
        uint8_t *a = (uint8_t *)calloc(1, s->bytes), *b = (uint8_t *)calloc(1, s->bytes);
        assert_true(a != NULL && b != NULL);
        for (uint32_t k = 0; k < s->count; k++) {
            const nnrt_attr_member *m = &s->members[k];
            NNRT_Int64List x = nnrt_int64_list(ones, 2), y = nnrt_int64_list(same, 2);
            NNRT_Int64Lists xs, ys;
            nnrt_attr_defaults(s, a);
            nnrt_attr_defaults(s, b);
            assert_true(nnrt_attr_equal(s, a, b));
            if (m->kind == NNRT_ATTR_KIND_INTS) {
                memcpy(a + m->offset, &x, sizeof(x));
                assert_false(nnrt_attr_equal(s, a, b));
                memcpy(b + m->offset, &y, sizeof(y));
                assert_true(nnrt_attr_equal(s, a, b));
                y.data = other;
                memcpy(b + m->offset, &y, sizeof(y));
            } else if (m->kind == NNRT_ATTR_KIND_FLOATS) {
                NNRT_FloatList p = nnrt_float_list(reals, 2), q = nnrt_float_list(sameReals, 2);
                memcpy(a + m->offset, &p, sizeof(p));
                assert_false(nnrt_attr_equal(s, a, b));
                memcpy(b + m->offset, &q, sizeof(q));
                assert_true(nnrt_attr_equal(s, a, b));
                q.data = otherReals;
                memcpy(b + m->offset, &q, sizeof(q));
            } else if (m->kind == NNRT_ATTR_KIND_STRING) {
                const char *p = text, *q = sameText;
                memcpy(a + m->offset, &p, sizeof(p));
                assert_false(nnrt_attr_equal(s, a, b));
                memcpy(b + m->offset, &q, sizeof(q));
                assert_true(nnrt_attr_equal(s, a, b));
                q = "texts";
                memcpy(b + m->offset, &q, sizeof(q));
            } else if (m->kind == NNRT_ATTR_KIND_INTS2) {
                xs.data = &x;
                ys.data = &y;
                xs.count = ys.count = 1;
                memcpy(a + m->offset, &xs, sizeof(xs));
                assert_false(nnrt_attr_equal(s, a, b));
                assert_false(nnrt_attr_equal(s, b, a));
                memcpy(b + m->offset, &ys, sizeof(ys));
                assert_true(nnrt_attr_equal(s, a, b));
                y.data = other;
            } else {
                a[m->offset] = (uint8_t)(a[m->offset] ^ 1u);
            }
            assert_false(nnrt_attr_equal(s, a, b));
            assert_false(nnrt_attr_equal(s, b, a));
        }
        free(a);
        free(b);
    }
}

/* Enumerators by name, or by number without a name. */
static void test_attr_print(void **state)
{
    const nnrt_attr_struct *s = nnrt_op_named("ACTIVATION")->attr;
    NNRT_Activation a;
    char text[TEXT];
    size_t length;
    (void)state;
    nnrt_attr_defaults(s, &a);
    a.activationType = NNRT_ACTIVATION_TYPE_RELU6;
    a.alpha = 0.5f;
    a.minVal = -1.0f;
    a.maxVal = 1.0f;
    a.approximate = true;
    length = nnrt_attr_print(s, &a, text, sizeof(text));
    assert_string_equal(text, "activationType=RELU6 alpha=0.5 minVal=-1 maxVal=1 approximate=true");
    assert_int_equal(length, strlen(text));
    a.activationType = 99;
    (void)nnrt_attr_print(s, &a, text, sizeof(text));
    assert_memory_equal(text, "activationType=99 alpha", 23);
    a.activationType = -7;
    assert_int_equal(nnrt_attr_print(s, &a, text, 6), length - 3); /* RELU6 was five long */
    assert_string_equal(text, "activ");
}

static void test_operands(void **state)
{
    static const int32_t dims[2] = {2, 3};
    nnrt_operand known = nnrt_operand_make(NNRT_DATA_TYPE_FLOAT32, 2, dims, NULL);
    nnrt_operand unknown = nnrt_operand_make(NNRT_DATA_TYPE_INT8, -1, NULL, NULL);
    nnrt_operand none = nnrt_operand_make(NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
    char text[TEXT];
    (void)state;
    assert_int_equal(nnrt_text(text, sizeof(text), "%o, %o, %o, %o", &known, &unknown, &none, NULL), 53);
    assert_string_equal(text, "float32[2,3], int8 of unknown shape, nothing, nothing");
}

/* How many operands an operator takes, in words. */
static void expect_arity(const char *name, const char *message)
{
    nnrt_operand in[NNRT_MAX_FIXED_OPERANDS], out[NNRT_MAX_FIXED_OPERANDS];
    uint8_t attr[256];
    nnrt_resolve r;
    nnrt_error e;
    memset(&r, 0, sizeof(r));
    memset(&e, 0, sizeof(e));
    memset(attr, 0, sizeof(attr));
    for (uint32_t i = 0; i < NNRT_MAX_FIXED_OPERANDS; i++)
        in[i] = out[i] = nnrt_operand_make(NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
    r.op = nnrt_op_named(name);
    r.nodeName = "n";
    r.node = 3;
    r.attr = attr;
    r.attrBytes = r.op->attr->bytes;
    r.in = in;
    r.out = out;
    r.nOut = 1;
    r.error = &e;
    assert_int_equal(nnrt_resolve_node(&r), NNRT_INVALID_INPUT);
    if (strstr(e.message, message) == NULL)
        fail_msg("%s", e.message);
}

static void test_arity(void **state)
{
    (void)state;
    expect_arity("ADD_FUSION", "has 0 inputs, expected 2 (");
    expect_arity("CONV2D_FUSION", "has 0 inputs, expected 2 and optional ones (");
    expect_arity("CONCAT", "has 0 inputs, expected 1 or more (");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attr_equal),
        cmocka_unit_test(test_attr_print),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_arity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
