/* Corner cases that fit no other suite: text and numbers in messages, attribute descriptions, overflowing sizes,
   missing arguments, files that cannot be written or are invalid, drivers with odd results. Run from the root of the
   tree. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "nnrt.h"

#include "kit.h"

#define contains(text, part)                                                                                           \
    do {                                                                                                               \
        if (strstr(text, part) == NULL)                                                                                \
            fail_msg("'%s' lacks '%s'", text, part);                                                                   \
    } while (0)

/* ---- text ---- */

static const char *text_of(const char *format, double v)
{
    static char text[64];
    (void)nnrt_text(text, sizeof(text), format, v);
    return text;
}

/* Nine significant digits, rounded to nearest; rounding up to a power of ten adds a leading digit. */
static void test_numbers(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {9.9999999996, "10"},
        {0.99999999996, "1"},
        {999999999.96, "1e9"},
        {123456789, "123456789"},
        {1e9, "1e9"},
        {1.25e-5, "0.0000125"},
        {1.25e-6, "1.25e-6"},
        {-3.5e38, "-3.5e38"},
        {100, "100"},
        {0.1, "0.1"},
    };
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(text_of("%f", cases[i].v), cases[i].text);
    assert_string_equal(text_of("%f", (double)NAN), "nan");
    assert_string_equal(text_of("%f", (double)INFINITY), "inf");
    assert_string_equal(text_of("%f", -(double)INFINITY), "-inf");
}

static void test_formats_of_text(void **state)
{
    const int32_t dims[] = {2, -1, 30};
    nnrt_operand o = nnrt_operand_make(F32, 3, dims, NULL);
    char text[256];
    (void)state;
    assert_int_equal(nnrt_text(text, sizeof(text), "%d %u %l %z %c%s|%s|", -5, 6u, INT64_MIN, (size_t)7, 'x', "yz",
                               (const char *)NULL),
                     33);
    assert_string_equal(text, "-5 6 -9223372036854775808 7 xyz||");
    for (size_t size = 0; size < 8; size++) { /* returns the required length, and never writes more than the buffer holds */
        guarded b = guarded_make(size, 3);
        assert_int_equal(nnrt_text((char *)b.data, size, "%s", "abcdef"), 6);
        if (size > 0)
            assert_int_equal(memcmp(b.data, "abcdef", size < 7 ? size - 1 : 7), 0);
        assert_true(size == 0 || b.data[size < 7 ? size - 1 : 6] == '\0');
        guarded_end(&b);
    }
    assert_int_equal(nnrt_text(text, 0, "%s", "abc"), 3);
    (void)nnrt_text(text, sizeof(text), "100%% %q %");
    assert_string_equal(text, "100% q ");
    (void)nnrt_text(text, sizeof(text), "%t %t", NNRT_DATA_TYPE_FLOAT16, 77);
    assert_string_equal(text, "float16 unknown");
    (void)nnrt_text(text, sizeof(text), "%o", &o);
    assert_string_equal(text, "float32[2,-1,30]");
    o.rank = -1;
    (void)nnrt_text(text, sizeof(text), "%o", &o);
    assert_string_equal(text, "float32 of unknown shape");
    o.dataType = NNRT_DATA_TYPE_UNKNOWN;
    (void)nnrt_text(text, sizeof(text), "%o %o", &o, (const nnrt_operand *)NULL);
    assert_string_equal(text, "nothing nothing");
}

/* Every type has a name, a size and a bit in sets; numbers between types have none. */
static void test_type_names(void **state)
{
    uint32_t types = 0;
    (void)state;
    for (NNRT_DataType a = -1; a < 64; a++) {
        char text[64], want[64];
        assert_true((nnrt_type_size(a) == 0) == (strcmp(nnrt_type_name(a), "unknown") == 0));
        if (nnrt_type_size(a) == 0)
            continue;
        types++;
        (void)nnrt_text(text, sizeof(text), "%m", NNRT_TYPES_OF(a));
        assert_string_equal(text, nnrt_type_name(a));
        for (NNRT_DataType b = a + 1; b < 64; b++) {
            if (nnrt_type_size(b) == 0)
                continue;
            (void)nnrt_text(want, sizeof(want), "%s,%s", nnrt_type_name(a), nnrt_type_name(b));
            (void)nnrt_text(text, sizeof(text), "%m", NNRT_TYPES_OF(a) | NNRT_TYPES_OF(b));
            assert_string_equal(text, want);
        }
    }
    assert_int_equal(types, 12);
    assert_string_equal(nnrt_code_name(NNRT_SUCCESS), "NNRT_SUCCESS");
    assert_string_equal(nnrt_code_name(NNRT_INVALID_SHAPE), "NNRT_INVALID_SHAPE");
    assert_string_equal(nnrt_code_name(-17), "a system code");
    assert_string_equal(nnrt_code_name(99999), "an unknown code");
    assert_null(nnrt_op_named(NULL));
    assert_null(nnrt_op_named("NO_SUCH_OPERATOR"));
    assert_ptr_equal(nnrt_op_named("UNSQUEEZE"), nnrt_op_find(NNRT_NODE_TYPE_UNSQUEEZE));
}

static void test_sizes(void **state)
{
    const int32_t dims[] = {2, 3, 0}, huge[] = {INT32_MAX, INT32_MAX, INT32_MAX}, wide[] = {1, 1, 1, 1, 1, 1, 1, 1, 7};
    size_t count = 9;
    (void)state;
    assert_true(nnrt_dims_count(dims, 2, &count) && count == 6);
    assert_true(nnrt_dims_count(dims, 3, &count) && count == 0);
    assert_true(nnrt_dims_count(NULL, 0, &count) && count == 1);
    assert_false(nnrt_dims_count(dims, -1, &count));
    assert_false(nnrt_dims_count(wide, 9, &count));
    assert_false(nnrt_dims_count(huge, 3, &count));
    assert_false(nnrt_dims_bytes(dims, -2, F32, &count));
    assert_true(nnrt_dims_bytes(dims, 2, NNRT_DATA_TYPE_FLOAT64, &count) && count == 48);
    assert_false(nnrt_add_size(SIZE_MAX, 1, &count));
    assert_false(nnrt_mul_size(SIZE_MAX / 2, 3, &count));
    assert_null(nnrt_alloc(NULL, SIZE_MAX));
#ifndef __SANITIZE_ADDRESS__ /* which ends the program at such a request */
    assert_null(nnrt_alloc(NULL, SIZE_MAX / 2));
#endif
}

/* ---- attributes through their description ---- */

static void test_print(void **state)
{
    static const int64_t three[] = {3, -4}, one[] = {7};
    const nnrt_attr_struct *s = nnrt_op_named("CONV2D_FUSION")->attr;
    NNRT_Conv2DFusion conv;
    NNRT_PadFusion pad;
    NNRT_Int64List lists[2];
    NNRT_TopKFusion topk;
    char text[512];
    size_t length;
    (void)state;
    nnrt_attr_defaults(s, &conv);
    conv.kernelSize = nnrt_int64_list(three, 2);
    conv.padMode = NNRT_PAD_MODE_SAME;
    conv.activationType = 777; /* an enumerator that does not exist is printed as its number */
    length = nnrt_attr_print(s, &conv, text, sizeof(text));
    assert_string_equal(text, "kernelSize=[3,-4] stride=[] dilation=[] padMode=SAME padList=[] group=1 inChannel=0 "
                              "outChannel=0 activationType=777");
    assert_int_equal(length, strlen(text));
    assert_int_equal(nnrt_attr_print(s, &conv, text, 5), length);
    assert_string_equal(text, "kern");
    assert_int_equal(nnrt_attr_print(s, &conv, NULL, 0), length);

    s = nnrt_op_named("PAD_FUSION")->attr;
    nnrt_attr_defaults(s, &pad);
    lists[0] = nnrt_int64_list(three, 2);
    lists[1] = nnrt_int64_list(one, 1);
    pad.paddings.data = lists;
    pad.paddings.count = 2;
    pad.constantValue = -0.5f;
    (void)nnrt_attr_print(s, &pad, text, sizeof(text));
    assert_string_equal(text, "paddings=[[3,-4],[7]] paddingMode=CONSTANT constantValue=-0.5");

    s = nnrt_op_named("TOPK_FUSION")->attr;
    nnrt_attr_defaults(s, &topk);
    (void)nnrt_attr_print(s, &topk, text, sizeof(text));
    assert_string_equal(text, "sorted=true axis=-1");
    topk.sorted = false;
    (void)nnrt_attr_print(s, &topk, text, sizeof(text));
    assert_string_equal(text, "sorted=false axis=-1");
    assert_int_equal(nnrt_attr_print(nnrt_op_named("SQRT")->attr, &topk, text, sizeof(text)), 0); /* has no members */
    assert_string_equal(text, "");
}

/* For every operator: a struct equals itself and its copy, but not with a value, a length or an entry changed. */
static void test_equal(void **state)
{
    static const int64_t a[] = {1, 2}, b[] = {1, 3};
    static const float r[] = {1, 2}, s[] = {1, 3};
    static const char text[] = "text", sameText[] = "text";
    const nnrt_op *op;
    (void)state;
    for (uint32_t i = 0; (op = nnrt_op_at(i)) != NULL; i++)
        for (uint32_t k = 0; k < op->attr->count; k++) {
            const nnrt_attr_member *m = &op->attr->members[k];
            uint64_t x[32], y[32];
            uint8_t *at = (uint8_t *)y + m->offset;
            assert_true(op->attr->bytes <= sizeof(x));
            nnrt_attr_defaults(op->attr, x);
            nnrt_attr_defaults(op->attr, y);
            assert_true(nnrt_attr_equal(op->attr, x, y));
            if (m->kind == NNRT_ATTR_KIND_INTS) {
                NNRT_Int64List *p = (NNRT_Int64List *)(void *)((uint8_t *)x + m->offset);
                NNRT_Int64List *q = (NNRT_Int64List *)(void *)at;
                *p = nnrt_int64_list(a, 2);
                assert_false(nnrt_attr_equal(op->attr, x, y)); /* another length */
                *q = nnrt_int64_list(b, 2);
                assert_false(nnrt_attr_equal(op->attr, x, y)); /* another entry */
                *q = nnrt_int64_list(a, 2);
            } else if (m->kind == NNRT_ATTR_KIND_FLOATS) {
                NNRT_FloatList *p = (NNRT_FloatList *)(void *)((uint8_t *)x + m->offset);
                NNRT_FloatList *q = (NNRT_FloatList *)(void *)at;
                *p = nnrt_float_list(r, 2);
                assert_false(nnrt_attr_equal(op->attr, x, y));
                *q = nnrt_float_list(s, 2);
                assert_false(nnrt_attr_equal(op->attr, x, y));
                *q = nnrt_float_list(r, 2);
            } else if (m->kind == NNRT_ATTR_KIND_INTS2) {
                NNRT_Int64List p[2], q[2];
                NNRT_Int64Lists *u = (NNRT_Int64Lists *)(void *)((uint8_t *)x + m->offset);
                NNRT_Int64Lists *t = (NNRT_Int64Lists *)(void *)at;
                p[0] = p[1] = q[0] = nnrt_int64_list(a, 2);
                q[1] = nnrt_int64_list(b, 2);
                u->data = p;
                u->count = 2;
                assert_false(nnrt_attr_equal(op->attr, x, y));
                t->data = q;
                t->count = 2;
                assert_false(nnrt_attr_equal(op->attr, x, y));
                q[1] = nnrt_int64_list(a, 2);
                assert_true(nnrt_attr_equal(op->attr, x, y));
                continue;
            } else if (m->kind == NNRT_ATTR_KIND_STRING) {
                *(const char **)(void *)((uint8_t *)x + m->offset) = text;
                assert_false(nnrt_attr_equal(op->attr, x, y));
                *(const char **)(void *)at = "texts";
                assert_false(nnrt_attr_equal(op->attr, x, y));
                *(const char **)(void *)at = sameText;
            } else {
                at[0] ^= 1u;
                assert_false(nnrt_attr_equal(op->attr, x, y));
                at[0] ^= 1u;
            }
            assert_true(nnrt_attr_equal(op->attr, x, y));
        }
}

typedef struct few {
    uint32_t left;
    uint8_t *next, *end;
} few;

static void *few_alloc(void *user, size_t bytes)
{
    few *f = (few *)user;
    uint8_t *block = f->next;
    if (f->left == 0 || (size_t)(f->end - f->next) < bytes + 16)
        return NULL;
    f->left--;
    f->next += (bytes + 15) / 16 * 16;
    return block;
}

/* ---- rules ---- */

/* One node for nnrt_resolve_node. */
typedef struct trial {
    nnrt_operand in[10], out[8];
    nnrt_resolve r;
    nnrt_error error;
    uint64_t room[512];
    few memory;
} trial;

static void trial_begin(trial *t, const char *op, const void *attr, uint32_t bytes)
{
    memset(t, 0, sizeof(*t));
    for (uint32_t i = 0; i < 8; i++) {
        t->in[i] = nnrt_operand_make(NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
        t->out[i] = t->in[i];
        t->in[i].name = t->out[i].name = "";
    }
    t->r.op = nnrt_op_named(op);
    t->r.nodeName = "n";
    t->r.attr = attr;
    t->r.attrBytes = bytes;
    t->r.in = t->in;
    t->r.out = t->out;
    t->r.nOut = 1;
    t->r.alloc = few_alloc;
    t->r.user = &t->memory;
    t->r.error = &t->error;
}

static nnrt_operand *operand(trial *t, NNRT_DataType type, int32_t rank, int32_t d0, int32_t d1, int32_t d2, int32_t d3)
{
    const int32_t dims[] = {d0, d1, d2, d3, 1, 1, 1, 1};
    nnrt_operand *o = &t->in[t->r.nIn++];
    *o = nnrt_operand_make(type, rank, dims, NULL);
    o->name = "operand";
    return o;
}

static NNRT_ReturnCode resolve(trial *t)
{
    memset(&t->error, 0, sizeof(t->error));
    t->memory.left = 100;
    t->memory.next = (uint8_t *)t->room;
    t->memory.end = t->memory.next + sizeof(t->room);
    return nnrt_resolve_node(&t->r);
}

#define refused(t, want, part)                                                                                         \
    do {                                                                                                               \
        assert_int_equal(resolve(t), want);                                                                            \
        assert_int_equal((t)->error.code, want);                                                                       \
        contains((t)->error.message, part);                                                                            \
    } while (0)

/* More axes than a tensor can have. */
static void test_tile_of_nine(void **state)
{
    static const int64_t axes[9] = {0, 1, 2, 3, 4, 5, 6, 7, 7};
    static const int32_t ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    NNRT_TileFusion a;
    trial t;
    (void)state;
    nnrt_attr_defaults(nnrt_op_named("TILE_FUSION")->attr, &a);
    a.dims = nnrt_int64_list(axes, 9);
    trial_begin(&t, "TILE_FUSION", &a, sizeof(a));
    (void)operand(&t, F32, 8, 1, 1, 1, 1);
    operand(&t, I32, 1, 9, 0, 0, 0)->data = ones;
    refused(&t, NNRT_INVALID_PARAMETER, "dims");
}

/* BROADCAST_TO: the resolved shape replaces -1 by the dimension of x. */
static void test_resolved_shape(void **state)
{
    static const int64_t shape[] = {-1, 3, -1};
    NNRT_BroadcastTo a;
    const NNRT_BroadcastTo *resolved;
    trial t;
    (void)state;
    nnrt_attr_defaults(nnrt_op_named("BROADCAST_TO")->attr, &a);
    a.shape = nnrt_int64_list(shape, 3);
    trial_begin(&t, "BROADCAST_TO", &a, sizeof(a));
    (void)operand(&t, F32, 3, 2, 1, 4, 1);
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    resolved = (const NNRT_BroadcastTo *)t.r.resolved;
    assert_int_equal(resolved->shape.count, 3);
    assert_int_equal(resolved->shape.data[0], 2);
    assert_int_equal(resolved->shape.data[1], 3);
    assert_int_equal(resolved->shape.data[2], 4);
}

/* Names that do not fit into a message are shortened; NULL is empty, and invalid UTF-8 is omitted. */
static void test_long_names(void **state)
{
    static char name[301], bytes[51];
    static const NNRT_QuantParam quant = {8, 0, 0.5};
    trial t;
    (void)state;
    memset(name, 'a', sizeof(name) - 1);
    memset(bytes, 0x80, sizeof(bytes) - 1);
    trial_begin(&t, "ADD_FUSION", &plain_add, sizeof(plain_add));
    operand(&t, F32, 4, 1, 1, 1, 1)->name = name;
    operand(&t, F32, 4, 1, 1, 1, 1)->name = NULL;
    t.in[0].format = NNRT_FORMAT_NCHW;
    t.in[1].format = NNRT_FORMAT_NHWC;
    refused(&t, NNRT_INVALID_FORMAT, "node 0 'n' (ADD_FUSION): input 'aaaaaaaaaaaaaaaaaaaaaaaa...aaaaaaaaaaaa' is NCHW, but "
                                     "input '' is NHWC: transpose one of them");
    t.r.nodeName = NULL;
    refused(&t, NNRT_INVALID_FORMAT, "node 0 '' (ADD_FUSION): input 'aaaaaaaaaaaaaaaaaaaaaaaa...aaaaaaaaaaaa' is NCHW");
    t.in[1].name = bytes;
    refused(&t, NNRT_INVALID_FORMAT, "is NCHW, but input '...' is NHWC");
    t.in[1].dataType = NNRT_DATA_TYPE_UNKNOWN;
    assert_int_equal(nnrt_operand_types(&t.in[1]), 0);

    trial_begin(&t, "ADD_FUSION", &plain_add, sizeof(plain_add));
    for (uint32_t i = 0; i < 2; i++) {
        nnrt_operand *o = operand(&t, NNRT_DATA_TYPE_INT8, 1, 2, 0, 0, 0);
        o->quant = &quant;
        o->quantCount = 1;
    }
    t.out[0] = t.in[0];
    t.out[0].rank = -1;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    t.out[0] = t.in[0];
    t.out[0].rank = -1;
    t.out[0].quantCount = 0; /* with quantized inputs */
    assert_int_not_equal(resolve(&t), NNRT_SUCCESS);
}

/* Arguments that a model cannot pass to a rule, because it is checked before, but a caller of nnrt_resolve_node can. */
static void test_resolve_checks(void **state)
{
    NNRT_PadFusion pad;
    NNRT_SpaceToBatchND blocks;
    NNRT_Int64List lists[2];
    const int64_t two[] = {2, 2}, wide[] = {1, (int64_t)1 << 40}, low[] = {INT64_MIN, 0};
    trial t;
    (void)state;
    trial_begin(&t, "ADD_FUSION", &plain_add, sizeof(plain_add));
    (void)operand(&t, F32, 9, 1, 1, 1, 1);
    (void)operand(&t, F32, 1, 1, 0, 0, 0);
    refused(&t, NNRT_INVALID_SHAPE, "node 0 'n' (ADD_FUSION): input 0 'operand' has rank 9, expected 0 to 8");
    t.in[0].rank = -1;
    refused(&t, NNRT_INVALID_SHAPE, "has rank -1");
    t.in[0] = t.in[1];
    t.in[0].dims[0] = -1;
    refused(&t, NNRT_INVALID_SHAPE, "the size of axis 0 is unknown");
    t.in[0].dims[0] = 1;
    t.in[0].format = NNRT_FORMAT_NHWC + 1;
    refused(&t, NNRT_INVALID_FORMAT, "input 0 'operand' has format 2");
    t.in[0].format = NNRT_FORMAT_NONE - 1;
    refused(&t, NNRT_INVALID_FORMAT, "has format -2");
    t.in[0].format = NNRT_FORMAT_NONE;
    t.r.nOut = 2;
    refused(&t, NNRT_INVALID_OUTPUT, "has 2 outputs, expected 1 (z[..^]=0)");
    t.r.nOut = 1;
    t.r.node = -1;
    t.r.nIn = 1;
    refused(&t, NNRT_INVALID_INPUT, "node 'n' (ADD_FUSION): has 1 inputs");
    t.r.nodeName = NULL;
    refused(&t, NNRT_INVALID_INPUT, "node '' (ADD_FUSION): has 1 inputs");
    t.r.error = NULL; /* no error struct */
    assert_int_equal(resolve(&t), NNRT_INVALID_INPUT);
    t.r.error = &t.error;
    refused(&t, NNRT_INVALID_INPUT, "has 1 inputs");
    (void)nnrt_error_set(&t.error, NNRT_FAILED, "ignored: there is a message already");
    contains(t.error.message, "has 1 inputs");
    t.r.nIn = 2;
    t.r.attr = NULL; /* all defaults, for any number of bytes */
    assert_int_equal(nnrt_resolve_node(&t.r), NNRT_SUCCESS);

    trial_begin(&t, "TOPK_FUSION", NULL, 0);
    t.r.nOut = 3;
    (void)operand(&t, F32, 1, 4, 0, 0, 0);
    (void)operand(&t, I32, 0, 0, 0, 0, 0);
    refused(&t, NNRT_INVALID_OUTPUT, "has 3 outputs, expected 1 and optional ones");

    nnrt_attr_defaults(nnrt_op_named("PAD_FUSION")->attr, &pad);
    trial_begin(&t, "PAD_FUSION", &pad, sizeof(pad));
    (void)operand(&t, F32, 1, 4, 0, 0, 0);
    pad.paddings.count = 1;
    refused(&t, NNRT_NULL_PTR, "paddings counts 1 lists, but has no data");
    pad.paddings.data = lists;
    lists[0] = nnrt_int64_list(NULL, 2);
    refused(&t, NNRT_INVALID_PARAMETER, "paddings[0][0] lies outside int32");
    lists[0] = nnrt_int64_list(wide, 2);
    refused(&t, NNRT_INVALID_PARAMETER, "paddings[0][1] lies outside int32");
    lists[0] = nnrt_int64_list(low, 2);
    refused(&t, NNRT_INVALID_PARAMETER, "paddings[0][0] lies outside int32");
    lists[0] = nnrt_int64_list(two, 1);
    refused(&t, NNRT_INVALID_PARAMETER, "paddings[0] has 1 entries, expected 2");

    nnrt_attr_defaults(nnrt_op_named("SPACE_TO_BATCH_ND")->attr, &blocks);
    trial_begin(&t, "SPACE_TO_BATCH_ND", &blocks, sizeof(blocks));
    (void)operand(&t, F32, 4, 1, 2, 2, 1);
    blocks.blockShape = nnrt_int64_list(two, 2);
    blocks.paddings.data = lists;
    blocks.paddings.count = 1;
    refused(&t, NNRT_INVALID_PARAMETER, "paddings has 1 lists, expected 2");
    t.in[0].format = NNRT_FORMAT_NCHW; /* the result must be in the order of input 0 */
    t.in[0].dims[1] = 1;
    t.in[0].dims[3] = 2;
    lists[0] = lists[1] = nnrt_int64_list(low + 1, 1);
    t.out[0].format = NNRT_FORMAT_NHWC;
    blocks.paddings.data = lists;
    blocks.paddings.count = 2;
    refused(&t, NNRT_INVALID_PARAMETER, "paddings[0] has 1 entries");
    lists[0] = lists[1] = nnrt_int64_list((const int64_t[]){0, 0}, 2);
    refused(&t, NNRT_INVALID_FORMAT, "is declared NHWC, but input 0 is NCHW");
    t.in[0].format = NNRT_FORMAT_NHWC;
    t.in[0].dims[1] = 2;
    t.in[0].dims[3] = 1;
    t.out[0].format = NNRT_FORMAT_NCHW;
    refused(&t, NNRT_INVALID_FORMAT, "is declared NCHW, but input 0 is NHWC");
    t.out[0].format = NNRT_FORMAT_NONE;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    assert_int_equal(t.out[0].dims[0], 4);
}

/* Fails with these words; if an operand exceeds a 32-bit address space, with the message for that. */
static void too_large(trial *t, const char *words)
{
    bool fits = true;
    size_t bytes;
    for (uint32_t i = 0; i < t->r.nIn; i++)
        fits = fits && nnrt_dims_bytes(t->in[i].dims, t->in[i].rank, t->in[i].dataType, &bytes);
    refused(t, NNRT_OUT_OF_MEMORY, fits ? words : "its size does not fit");
}

/* Results that exceed a dimension or memory fail before a multiplication overflows. */
static void test_too_large(void **state)
{
    static const int64_t big[] = {INT32_MAX, INT32_MAX}, one[] = {1, 1}, none[] = {0, 0}, most[] = {0, INT32_MAX};
    static const int32_t times[] = {INT32_MAX};
    const NNRT_Int64List zeros[2] = {{none, 2}, {none, 2}}, edges[2] = {{most, 2}, {none, 2}};
    NNRT_SpaceToBatchND blocks;
    NNRT_BatchToSpaceND spaces;
    NNRT_FullConnection full;
    NNRT_LayerNormFusion norm;
    NNRT_AvgPoolFusion pool;
    NNRT_PadFusion pad;
    NNRT_Concat concat;
    NNRT_TileFusion tile;
    trial t;
    (void)state;
    nnrt_attr_defaults(nnrt_op_named("SPACE_TO_BATCH_ND")->attr, &blocks);
    trial_begin(&t, "SPACE_TO_BATCH_ND", &blocks, sizeof(blocks));
    (void)operand(&t, NNRT_DATA_TYPE_INT8, 4, 2, 0, 0, 1);
    blocks.blockShape = nnrt_int64_list(big, 2);
    blocks.paddings.data = zeros;
    blocks.paddings.count = 2;
    too_large(&t, "makes too large a batch");
    blocks.blockShape = nnrt_int64_list((const int64_t[]){INT32_MAX, 1}, 2);
    too_large(&t, "4294967294 images");
    t.in[0].dims[0] = 0; /* an empty batch has no block that could be too large */
    blocks.blockShape = nnrt_int64_list(big, 2);
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    t.in[0].dims[0] = 1;
    t.in[0].dims[1] = 1;
    blocks.blockShape = nnrt_int64_list(one, 2);
    blocks.paddings.data = edges;
    too_large(&t, "1 images of 2147483648 x 0");

    nnrt_attr_defaults(nnrt_op_named("BATCH_TO_SPACE_ND")->attr, &spaces);
    trial_begin(&t, "BATCH_TO_SPACE_ND", &spaces, sizeof(spaces));
    (void)operand(&t, NNRT_DATA_TYPE_INT8, 4, 0, 1, 3, 0);
    spaces.blockShape = nnrt_int64_list((const int64_t[]){1, INT32_MAX}, 2);
    spaces.crops.data = zeros;
    spaces.crops.count = 2;
    too_large(&t, "0 images of 1 x 6442450941");

    nnrt_attr_defaults(nnrt_op_named("CONCAT")->attr, &concat);
    trial_begin(&t, "CONCAT", &concat, sizeof(concat));
    (void)operand(&t, NNRT_DATA_TYPE_INT8, 1, INT32_MAX, 0, 0, 0);
    (void)operand(&t, NNRT_DATA_TYPE_INT8, 1, 1, 0, 0, 0);
    too_large(&t, "would have size 2147483648");

    nnrt_attr_defaults(nnrt_op_named("FULL_CONNECTION")->attr, &full);
    trial_begin(&t, "FULL_CONNECTION", &full, sizeof(full));
    (void)operand(&t, F32, 2, INT32_MAX, 3, 0, 0);
    (void)operand(&t, F32, 2, 5, 1, 0, 0);
    too_large(&t, "would have 6442450941 rows");
    t.in[0].dims[0] = 4;
    full.hasBias = true;
    refused(&t, NNRT_INVALID_PARAMETER, "hasBias is true, but input 2 (bias) is missing");
    full.hasBias = false;
    (void)operand(&t, F32, 1, 5, 0, 0, 0);
    refused(&t, NNRT_INVALID_PARAMETER, "hasBias is false, but input 2 (bias) is present");

    nnrt_attr_defaults(nnrt_op_named("LAYER_NORM_FUSION")->attr, &norm);
    norm.elementwiseAffine = false;
    trial_begin(&t, "LAYER_NORM_FUSION", &norm, sizeof(norm));
    (void)operand(&t, F32, 3, 65536, 65536, 2, 0);
    norm.beginNormAxis = 2;
    too_large(&t, "its size does not fit"); /* 2^32 rows */
    norm.beginNormAxis = 0;
    too_large(&t, "its size does not fit"); /* 2^33 columns */
    norm.beginNormAxis = 1;
    norm.elementwiseAffine = true;
    norm.beginParamsAxis = 1;
    t.in[0].dims[1] = 4;
    (void)operand(&t, F32, 2, 4, 2, 0, 0);
    refused(&t, NNRT_NULL_PTR, "input 2 (beta) is missing");

    nnrt_attr_defaults(nnrt_op_named("AVGPOOL_FUSION")->attr, &pool);
    pool.kernelSize = nnrt_int64_list((const int64_t[]){3, 1}, 2);
    pool.pad = nnrt_int64_list((const int64_t[]){2, 2, 0, 0}, 4);
    pool.padMode = NNRT_PAD_MODE_PAD;
    trial_begin(&t, "AVGPOOL_FUSION", &pool, sizeof(pool));
    (void)operand(&t, F32, 4, 1, INT32_MAX, 1, 1);
    too_large(&t, "would be 2147483649 x 1: too large"); /* 2^31-1 + 4 - 3 + 1 */

    nnrt_attr_defaults(nnrt_op_named("PAD_FUSION")->attr, &pad);
    trial_begin(&t, "PAD_FUSION", &pad, sizeof(pad));
    (void)operand(&t, NNRT_DATA_TYPE_INT8, 1, 2, 0, 0, 0);
    pad.paddings.data = edges;
    pad.paddings.count = 1;
    too_large(&t, "padded by 0 and 2147483647: too large");
    pad.paddings.data = (const NNRT_Int64List[]){{big, 2}};
    too_large(&t, "padded by 2147483647 and 2147483647: too large");

    nnrt_attr_defaults(nnrt_op_named("TILE_FUSION")->attr, &tile);
    trial_begin(&t, "TILE_FUSION", &tile, sizeof(tile));
    (void)operand(&t, NNRT_DATA_TYPE_INT8, 1, 2, 0, 0, 0);
    operand(&t, I32, 1, 1, 0, 0, 0)->data = times;
    too_large(&t, "repeated 2147483647 times: too large");
}

/* In an empty tensor every index has the first address: a kernel that sums no columns computes no address outside of
   memory. */
static void test_view_of_nothing(void **state)
{
    static const int32_t dims[4] = {2, 0, 1 << 20, 3};
    nnrt_operand o = nnrt_operand_make(F32, 4, dims, NULL);
    nnrt_view view;
    (void)state;
    o.format = NNRT_FORMAT_NCHW;
    nnrt_operand_view(nnrt_op_named("MAX_POOL_FUSION"), &o, 0, &view);
    assert_int_equal(view.rank, 4);
    for (int32_t i = 0; i < 4; i++)
        assert_int_equal(view.strides[i], 0);
    assert_int_equal(view.dims[3], 0);
    o.dims[1] = 5;
    nnrt_operand_view(NULL, &o, 0, &view);
    assert_int_equal(view.strides[0], 5 * 3 << 20);
    assert_int_equal(view.strides[1], 3 << 20);
    assert_int_equal(view.strides[3], 1);
}

/* A model struct at the end of its block: reading after it is an error. */
static NNRT_Model *at_the_end(const NNRT_Model *model)
{
    NNRT_Model *m = (NNRT_Model *)malloc(sizeof(*m)); /* the address sanitizer detects reads after it */
    assert_non_null(m);
    *m = *model;
    return m;
}

/* Models of the caller have no metadata and are not replaced or freed; a copy of the struct of a model of the library
   is also a model of the caller. */
static void test_models_by_hand(void **state)
{
    static const NNRT_Model none;
    nnrt_builder *b = NULL;
    NNRT_Model *made = NULL, *own[2];
    nnrt_error e;
    (void)state;
    assert_int_equal(nnrt_builder_create(&b, NULL, NULL), NNRT_SUCCESS);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SQRT, NULL,
                                           (uint32_t[]){nnrt_builder_input(b, "x", F32, 0, NULL)}, 1));
    assert_int_equal(nnrt_builder_finish(b, &made, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_ptr_equal(made->self, made);
    own[0] = at_the_end(&none);
    own[1] = at_the_end(made);
    for (uint32_t i = 0; i < 2; i++) {
        NNRT_Model *m = own[i];
        nnrt_file_section section;
        memset(&e, 0, sizeof(e));
        assert_null(nnrt_model_metadata(m, "labels"));
        assert_null(nnrt_model_metadata_at(m, 0).key);
        assert_false(nnrt_model_section(m, 0, &section));
        assert_int_equal(nnrt_model_optimize(&m, NULL, &e), NNRT_NULL_PTR);
        contains(e.message, "takes only a model that a builder or loader made");
        assert_int_equal(nnrt_model_attach(m, own, 1), NNRT_NULL_PTR);
        nnrt_model_destroy(m);
        free(own[i]);
    }
    assert_int_equal(nnrt_model_optimize(&made, NULL, NULL), NNRT_SUCCESS);
    nnrt_model_destroy(made);
    assert_null(nnrt_model_metadata(NULL, "labels"));
    assert_null(nnrt_model_metadata(NULL, NULL));
    assert_false(nnrt_model_section(NULL, 0, NULL));
}

/* Types and values that an operator refuses. */
static void test_refused_types(void **state)
{
    static const int32_t numbers[] = {29, 45, 31, NNRT_DATA_TYPE_FLOAT64};
    NNRT_ReduceFusion reduce;
    NNRT_Activation tanh_;
    NNRT_AddFusion add;
    trial t;
    (void)state;
    trial_begin(&t, "ARGMAX_FUSION", "", 0);
    (void)operand(&t, F32, 1, 4, 0, 0, 0);
    t.r.attr = &reduce; /* any block: no byte of it is read */
    t.r.attrBytes = 1;
    t.out[0].dataType = F32;
    t.out[0].name = "places";
    refused(&t, NNRT_INVALID_DATATYPE, "output 0 'places' is declared float32, expected int32 or int64");
    trial_begin(&t, "TOPK_FUSION", &reduce, 1);
    (void)operand(&t, F32, 1, 4, 0, 0, 0);
    (void)operand(&t, I32, 0, 0, 0, 0, 0);
    t.r.nOut = 2;
    t.out[1].dataType = NNRT_DATA_TYPE_UINT8;
    memset(&reduce, 0, sizeof(reduce));
    refused(&t, NNRT_INVALID_DATATYPE, "output 1 '' is declared uint8, expected int32 or int64");
    trial_begin(&t, "MAX_POOL_FUSION", &reduce, 1);
    (void)operand(&t, F32, 4, 1, 1, 1, 1);
    t.r.nOut = 2;
    t.out[1].dataType = NNRT_DATA_TYPE_BOOL;
    refused(&t, NNRT_INVALID_DATATYPE, "output 1 '' is declared bool, expected int32 or int64");

    memset(&tanh_, 0, sizeof(tanh_));
    tanh_.activationType = NNRT_ACTIVATION_TYPE_TANH;
    trial_begin(&t, "ACTIVATION", &tanh_, sizeof(tanh_));
    (void)operand(&t, I32, 1, 4, 0, 0, 0);
    refused(&t, NNRT_INVALID_DATATYPE, "int32 supports only RELU (1)");
    add.activationType = NNRT_ACTIVATION_TYPE_TANH;
    trial_begin(&t, "ADD_FUSION", &add, sizeof(add));
    (void)operand(&t, NNRT_DATA_TYPE_INT8, 1, 4, 0, 0, 0);
    (void)operand(&t, NNRT_DATA_TYPE_INT8, 1, 4, 0, 0, 0);
    refused(&t, NNRT_INVALID_PARAMETER, "is not defined for int8");
    add.activationType = NNRT_ACTIVATION_TYPE_LINEAR;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);

    for (uint32_t i = 0; i < COUNT(numbers); i++) { /* CAST to a number */
        trial_begin(&t, "CAST", NULL, 0);
        (void)operand(&t, F32, 1, 4, 0, 0, 0);
        operand(&t, I32, 1, 1, 0, 0, 0)->data = &numbers[i];
        if (numbers[i] != NNRT_DATA_TYPE_FLOAT64) {
            refused(&t, NNRT_INVALID_PARAMETER, "which is not the number of an element type");
            continue;
        }
        t.out[0].dataType = F32;
        refused(&t, NNRT_INVALID_DATATYPE, "declared float32, but input 1 (type) says float64");
        t.out[0].dataType = NNRT_DATA_TYPE_FLOAT64;
        assert_int_equal(resolve(&t), NNRT_SUCCESS);
    }

    nnrt_attr_defaults(nnrt_op_named("REDUCE_FUSION")->attr, &reduce);
    trial_begin(&t, "REDUCE_FUSION", &reduce, sizeof(reduce));
    (void)operand(&t, NNRT_DATA_TYPE_BOOL, 1, 4, 0, 0, 0);
    reduce.mode = NNRT_REDUCE_MODE_SUM;
    refused(&t, NNRT_INVALID_DATATYPE, "is bool, but mode");
    reduce.mode = NNRT_REDUCE_MODE_MIN;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
}

static void test_refused_shapes(void **state)
{
    static const int32_t minus[] = {-1}, depth[] = {3}, pads[6], begin[33];
    NNRT_ScaleFusion scale;
    NNRT_MatMulFusion matmul;
    NNRT_PadFusion pad;
    NNRT_OneHot hot;
    NNRT_StridedSlice slice;
    trial t;
    (void)state;
    trial_begin(&t, "RESHAPE", NULL, 0);
    (void)operand(&t, NNRT_DATA_TYPE_INT8, 2, 65536, 65536, 0, 0);
    operand(&t, I32, 1, 1, 0, 0, 0)->data = minus;
    if (sizeof(size_t) < 8) /* no tensor has so many elements */
        refused(&t, NNRT_OUT_OF_MEMORY, "its size does not fit");
    else
        refused(&t, NNRT_INVALID_SHAPE, "4294967296 elements, which do not fill");

    nnrt_attr_defaults(nnrt_op_named("ONE_HOT")->attr, &hot);
    trial_begin(&t, "ONE_HOT", &hot, sizeof(hot));
    (void)operand(&t, I32, 8, 1, 1, 1, 1);
    operand(&t, I32, 0, 0, 0, 0, 0)->data = depth;
    (void)operand(&t, F32, 1, 1, 0, 0, 0);
    (void)operand(&t, F32, 0, 0, 0, 0, 0);
    refused(&t, NNRT_INVALID_SHAPE, "would have 9 axes");
    t.in[2].dims[0] = 2; /* shapes of inputs are compared before the rule runs */
    refused(&t, NNRT_INVALID_SHAPE, "input 2 (onValue) 'operand' is float32[2], expected one element");

    nnrt_attr_defaults(nnrt_op_named("PAD_FUSION")->attr, &pad);
    trial_begin(&t, "PAD_FUSION", &pad, sizeof(pad));
    (void)operand(&t, F32, 2, 3, 3, 0, 0);
    operand(&t, I32, 2, 2, 3, 0, 0)->data = pads;
    refused(&t, NNRT_INVALID_SHAPE, "is int32[2,3], expected [2,2] or [4]");
    t.in[1].dims[0] = 3;
    refused(&t, NNRT_INVALID_SHAPE, "is int32[3,3], expected [2,2] or [4]");
    t.in[1].rank = 3;
    refused(&t, NNRT_INVALID_SHAPE, "expected [2,2] or [4]");
    t.in[1].rank = 1;
    t.in[1].dims[0] = 4;
    (void)operand(&t, F32, 1, 2, 0, 0, 0);
    refused(&t, NNRT_INVALID_SHAPE, "input 2 (value) 'operand' is float32[2], expected one element");

    nnrt_attr_defaults(nnrt_op_named("SCALE_FUSION")->attr, &scale);
    trial_begin(&t, "SCALE_FUSION", &scale, sizeof(scale));
    (void)operand(&t, F32, 2, 3, 4, 0, 0);
    (void)operand(&t, F32, 2, 3, 4, 0, 0);
    (void)operand(&t, F32, 1, 4, 0, 0, 0);
    refused(&t, NNRT_INVALID_SHAPE, "bias 'operand' is float32[4], expected the shape of scale");

    nnrt_attr_defaults(nnrt_op_named("MATMUL_FUSION")->attr, &matmul);
    matmul.transposeA = matmul.transposeB = true;
    trial_begin(&t, "MATMUL_FUSION", &matmul, sizeof(matmul));
    (void)operand(&t, F32, 2, 3, 4, 0, 0);
    (void)operand(&t, F32, 2, 5, 6, 0, 0);
    refused(&t, NNRT_INVALID_SHAPE,
            "float32[3,4] transposed and 'operand' float32[5,6] transposed: 3 columns must equal 6 rows");

    nnrt_attr_defaults(nnrt_op_named("STRIDED_SLICE")->attr, &slice);
    trial_begin(&t, "STRIDED_SLICE", &slice, sizeof(slice));
    (void)operand(&t, F32, 1, 3, 0, 0, 0);
    for (uint32_t i = 0; i < 2; i++)
        operand(&t, I32, 1, 33, 0, 0, 0)->data = begin;
    operand(&t, I32, 1, 33, 0, 0, 0)->data = (const int32_t[33]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                                                 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    refused(&t, NNRT_INVALID_PARAMETER, "begin has 33 entries, at most 32 have mask bits");
    slice.newAxisMask = 0xFFFF; /* 16 new axes and the present one: too many, counted without being stored */
    t.in[1].dims[0] = t.in[2].dims[0] = t.in[3].dims[0] = 17;
    refused(&t, NNRT_INVALID_SHAPE, "axes");
}

static void test_refused_sizes(void **state)
{
    static const int32_t size[] = {2, 2};
    static const float f32s[] = {1, 2, 2, 1}, batch[] = {2, 1, 1, 1};
    static const uint16_t f16s[] = {0x3C00, 0x4000, 0x3800, 0x3C00}; /* 1, 2, 0.5, 1 */
    NNRT_Resize a;
    trial t;
    (void)state;
    nnrt_attr_defaults(nnrt_op_named("RESIZE")->attr, &a);
    a.method = NNRT_RESIZE_METHOD_NEAREST;
    trial_begin(&t, "RESIZE", &a, sizeof(a));
    (void)operand(&t, F32, 4, 1, 3, 4, 1);
    operand(&t, F32, 1, 4, 0, 0, 0)->data = f32s;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    assert_int_equal(t.out[0].dims[1], 6);
    t.in[1] = nnrt_operand_make(NNRT_DATA_TYPE_FLOAT16, 1, (const int32_t[]){4}, f16s);
    t.in[1].name = "scales";
    t.in[0].dataType = F32;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    assert_int_equal(t.out[0].dims[1], 6);
    assert_int_equal(t.out[0].dims[2], 2);
    t.in[1] = nnrt_operand_make(F32, 1, (const int32_t[]){4}, batch);
    refused(&t, NNRT_INVALID_PARAMETER, "scales[0] is 2, but only height and width");
    t.in[1].dims[0] = 3;
    refused(&t, NNRT_INVALID_SHAPE, "expected [4]");
    t.in[1] = nnrt_operand_make(I32, 1, (const int32_t[]){3}, size);
    refused(&t, NNRT_INVALID_SHAPE, "expected [2]");
    t.in[1] = nnrt_operand_make(I32, 1, (const int32_t[]){2}, NULL);
    refused(&t, NNRT_UNSUPPORTED_OP, "must be a constant");
    t.in[1].data = size;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    a.preserveAspectRatio = true;
    t.in[1] = nnrt_operand_make(I32, 1, (const int32_t[]){2}, size); /* the rule has stored its steps there */
    refused(&t, NNRT_INVALID_PARAMETER, "preserveAspectRatio is true");
}

/* Invalid quantization parameters: number, scale, bits; more than one for PAD_FUSION, whose border is the zero point.
   */
static void test_refused_quant(void **state)
{
    NNRT_QuantParam q[3];
    NNRT_QuantDTypeCast a;
    NNRT_PadFusion pad;
    const int64_t none[] = {1, 0};
    const NNRT_Int64List lists[1] = {{none, 2}};
    trial t;
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        q[i].numBits = 8;
        q[i].zeroPoint = 3;
        q[i].scale = 0.5;
    }
    a.srcT = NNRT_DATA_TYPE_INT8;
    a.dstT = F32;
    trial_begin(&t, "QUANT_DTYPE_CAST", &a, sizeof(a));
    (void)operand(&t, NNRT_DATA_TYPE_INT8, 2, 2, 2, 0, 0);
    t.in[0].quantCount = 1;
    refused(&t, NNRT_INVALID_PARAMETER, "has no QuantParam");
    t.in[0].quant = q;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    t.in[0].quantCount = 3;
    refused(&t, NNRT_INVALID_PARAMETER, "has 3 QuantParams, expected 1 or 2");
    t.in[0].quantCount = 2;
    q[1].numBits = 9;
    refused(&t, NNRT_INVALID_PARAMETER, "has numBits 9, expected 1 to 8");
    q[1].numBits = 0;
    refused(&t, NNRT_INVALID_PARAMETER, "has numBits 0, expected 1 to 8");
    q[1].numBits = 8;
    q[1].scale = (double)INFINITY;
    refused(&t, NNRT_INVALID_PARAMETER, "has scale inf");
    q[1].scale = 0;
    refused(&t, NNRT_INVALID_PARAMETER, "has scale 0 and zeroPoint 3");
    q[1].scale = 1;
    t.out[0].dataType = NNRT_DATA_TYPE_FLOAT16;
    refused(&t, NNRT_INVALID_DATATYPE, "but output '' is declared float16");
    t.out[0].dataType = F32;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    a.dstT = NNRT_DATA_TYPE_INT64;
    t.out[0].dataType = NNRT_DATA_TYPE_UNKNOWN;
    refused(&t, NNRT_INVALID_DATATYPE, "but int8 cannot be cast to it");
    a.srcT = NNRT_DATA_TYPE_INT32;
    t.in[0].dataType = NNRT_DATA_TYPE_INT32;
    a.dstT = NNRT_DATA_TYPE_FLOAT64;
    refused(&t, NNRT_INVALID_DATATYPE, "but int32 cannot be cast to it");

    nnrt_attr_defaults(nnrt_op_named("PAD_FUSION")->attr, &pad);
    pad.paddings.data = lists;
    pad.paddings.count = 1;
    trial_begin(&t, "PAD_FUSION", &pad, sizeof(pad));
    (void)operand(&t, NNRT_DATA_TYPE_INT8, 1, 2, 0, 0, 0);
    t.in[0].quant = q;
    t.in[0].quantCount = 2;
    t.out[0].quant = q;
    t.out[0].quantCount = 2;
    refused(&t, NNRT_UNSUPPORTED_OP, "has 2 quantization parameters, expected at most 1");
    t.in[0].quantCount = t.out[0].quantCount = 1;
    pad.constantValue = NAN; /* is the zero point */
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    assert_int_equal(*(const int8_t *)t.r.derived[0].data, 3);
    pad.constantValue = 2; /* 2 / 0.5 + 3 */
    t.in[2].dataType = NNRT_DATA_TYPE_UNKNOWN;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    assert_int_equal(*(const int8_t *)t.r.derived[0].data, 7);
    q[0].scale = 0;
    t.in[2].dataType = NNRT_DATA_TYPE_UNKNOWN;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    assert_int_equal(*(const int8_t *)t.r.derived[0].data, 3);
    q[0].scale = 0.5;
    t.in[2] = nnrt_operand_make(NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
    t.out[0].quant = q + 1; /* it requantizes */
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
}

/* Several parameters belong to the axis that the attribute or the tensors state. */
static void test_quant_axis(void **state)
{
    static const NNRT_QuantParam q[2] = {{8, 3, 0.5}, {8, 3, 1}};
    NNRT_QuantDTypeCast a = {NNRT_DATA_TYPE_INT8, F32};
    NNRT_QuantDTypeCastV2 v2 = {NNRT_DATA_TYPE_INT8, F32, -1};
    trial t;
    (void)state;
    trial_begin(&t, "QUANT_DTYPE_CAST", &a, sizeof(a));
    (void)operand(&t, NNRT_DATA_TYPE_INT8, 2, 3, 2, 0, 0);
    t.in[0].quant = q;
    t.in[0].quantCount = 2;
    refused(&t, NNRT_INVALID_PARAMETER, "has 2 QuantParams, expected 1 or 3, the size of axis 0");
    t.in[0].quantAxis = 2;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    t.in[0].quantAxis = 3;
    refused(&t, NNRT_INVALID_PARAMETER, "along axis 2 (quantAxis 3), expected axis 0");
    trial_begin(&t, "QUANT_DTYPE_CAST_V2", &v2, sizeof(v2));
    (void)operand(&t, NNRT_DATA_TYPE_INT8, 2, 2, 2, 0, 0);
    t.in[0].quant = q;
    t.in[0].quantCount = 2;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    t.in[0].quantAxis = 2;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    t.in[0].quantAxis = 1;
    refused(&t, NNRT_INVALID_PARAMETER, "along axis 0 (quantAxis 1), expected axis 1");
    v2.dstT = NNRT_DATA_TYPE_INT8; /* both have parameters; y states their axis */
    t.in[0].quantAxis = 0;
    t.out[0].dataType = NNRT_DATA_TYPE_INT8;
    t.out[0].quant = q;
    t.out[0].quantCount = 2;
    assert_int_equal(resolve(&t), NNRT_SUCCESS);
    assert_int_equal(t.out[0].quantAxis, 2);
    t.out[0].quantAxis = 1;
    refused(&t, NNRT_INVALID_PARAMETER, "along axis 0 (quantAxis 1), expected axis 1");
}

/* Operators that only move elements do not requantize 16-bit elements. */
static void test_refused_requantising(void **state)
{
    static const int32_t axis = 0, times = 2;
    static const NNRT_QuantParam q[2] = {{16, 3, 0.5}, {16, 4, 0.5}};
    NNRT_Stack stack;
    NNRT_TileFusion tile;
    NNRT_Split split;
    trial t;
    (void)state;
    for (uint32_t k = 0; k < 6; k++) {
        const char *const ops[] = {"STACK", "STACK", "GATHER", "TILE_FUSION", "SPLIT", "SPLIT"};
        const nnrt_op *op = nnrt_op_named(ops[k]);
        const uint32_t second = k == 1 || k == 5 ? 1 : 0; /* the operand that is not like input or output 0 */
        void *attr = k < 2 ? (void *)&stack : k == 2 ? NULL : k == 3 ? (void *)&tile : (void *)&split;
        if (attr != NULL)
            nnrt_attr_defaults(op->attr, attr);
        split.outputNum = 2;
        trial_begin(&t, ops[k], attr, attr != NULL ? op->attr->bytes : 0);
        operand(&t, NNRT_DATA_TYPE_INT16, 1, 2, 0, 0, 0)->quant = q;
        t.in[0].quantCount = 1;
        if (k < 2) {
            operand(&t, NNRT_DATA_TYPE_INT16, 1, 2, 0, 0, 0)->quant = q + second;
            t.in[1].quantCount = 1;
        } else if (k < 4) {
            operand(&t, I32, 1, 1, 0, 0, 0)->data = k == 3 ? &times : &axis;
        }
        t.r.nOut = k < 4 ? 1 : 2;
        for (uint32_t i = 0; i < t.r.nOut; i++) {
            t.out[i].quant = q;
            t.out[i].quantCount = 1;
        }
        if (k != 1)
            t.out[second].quant = q + 1;
        refused(&t, NNRT_UNSUPPORTED_OP, "different quantization parameters");
        t.out[second].quant = q; /* equal: valid */
        t.in[k == 1 ? 1 : 0].quant = q;
        for (uint32_t i = 0; i < t.r.nOut; i++)
            t.out[i].rank = -1;
        assert_int_equal(resolve(&t), NNRT_SUCCESS);
    }
}

/* ---- kernels ---- */

static nnrt_view row_of(float *data, int32_t n, int32_t step)
{
    nnrt_view v;
    memset(&v, 0, sizeof(v));
    v.data = data;
    v.dataType = F32;
    v.rank = 1;
    v.dims[0] = step == 0 ? 1 : n;
    v.strides[0] = step == 0 ? 1 : step;
    return v;
}

/* float32 arithmetic has special loops for frequent strides: every combination of dense, repeated and strided rows
   computes the same as C, and writes nothing between the elements. */
static void test_rows(void **state)
{
    enum { N = 5 };
    (void)state;
    for (int32_t at = 0; at < 2 * 3 * 3; at++) {
        const int32_t sz = 1 + at % 2, sx = at / 2 % 3, sy = at / 6;
        float x[2 * N], y[2 * N], z[2 * N];
        nnrt_view vx = row_of(x, N, sx), vy = row_of(y, N, sy), vz = row_of(z, N, sz);
        if (sx == 0 && sy == 0)
            continue;
        for (int32_t i = 0; i < 2 * N; i++) {
            x[i] = (float)(i + 1) * 1.25f;
            y[i] = (float)(3 - i) * 0.5f + 0.25f;
        }
        for (uint32_t op = 0; op < 4; op++) {
            static const NNRT_MulFusion mul = {0};
            static const NNRT_DivFusion div_ = {0};
            for (int32_t i = 0; i < 2 * N; i++)
                z[i] = -77;
            assert_int_equal(op == 0   ? nnrt_add_fusion_f32(&plain_add, &vx, &vy, &vz)
                             : op == 1 ? nnrt_sub_fusion_f32(&plain_sub, &vx, &vy, &vz)
                             : op == 2 ? nnrt_mul_fusion_f32(&mul, &vx, &vy, &vz)
                                       : nnrt_div_fusion_f32(&div_, &vx, &vy, &vz),
                             NNRT_SUCCESS);
            for (int32_t i = 0; i < N; i++) {
                const float a = x[i * sx], b = y[i * sy];
                const float want = op == 0 ? a + b : op == 1 ? a - b : op == 2 ? a * b : a / b;
                assert_true(z[i * sz] == want);
                assert_true(sz == 1 || z[i * sz + 1] == -77);
            }
        }
    }
}

/* ---- models ---- */

static nnrt_builder *begin(void)
{
    nnrt_builder *b = NULL;
    assert_int_equal(nnrt_builder_create(&b, "corners", NULL), NNRT_SUCCESS);
    return b;
}

/* nnrt_builder_finish fails with this code and text; destroys the builder. */
static void unfinished(nnrt_builder *b, NNRT_ReturnCode want, const char *part)
{
    NNRT_Model *m = (NNRT_Model *)(uintptr_t)64;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_builder_finish(b, &m, &error), want);
    contains(error.message, part);
    assert_null(m);
    nnrt_builder_destroy(b);
}

static void test_builder_arguments(void **state)
{
    const int32_t dims[] = {2, 3}, huge[] = {INT32_MAX, INT32_MAX, INT32_MAX};
    const uint32_t none = NNRT_NO_TENSOR;
    const float data[6] = {0};
    struct {
        NNRT_Model model;
        uint64_t other[16]; /* where a model of the library has more members */
    } foreign;
    NNRT_PadFusion pad;
    NNRT_Model *m = NULL;
    nnrt_builder *b = begin();
    nnrt_error error;
    (void)state;
    (void)nnrt_builder_input(b, "x", F32, -1, dims);
    unfinished(b, NNRT_INVALID_SHAPE, "tensor 'x' has -1 axes");
    b = begin();
    assert_int_equal(nnrt_builder_constant(b, "c", 99, 2, dims, data, true), NNRT_NO_TENSOR);
    unfinished(b, NNRT_INVALID_DATATYPE, "tensor 'c': data type 99");
    b = begin();
    assert_int_equal(nnrt_builder_constant(b, "c", F32, 3, huge, data, false), NNRT_NO_TENSOR);
    unfinished(b, NNRT_INVALID_BUFFER_SIZE, "constant 'c' is too large");
    b = begin();
    nnrt_builder_declare(b, nnrt_builder_tensor(b, "t"), 99, 2, dims);
    unfinished(b, NNRT_INVALID_DATATYPE, "tensor 't': data type 99");
    b = begin();
    memset(&pad, 0, sizeof(pad));
    pad.paddings.count = 1;
    nnrt_builder_node(b, "n", NNRT_NODE_TYPE_PAD_FUSION, &pad, &none, 1, &none, 1);
    unfinished(b, NNRT_NULL_PTR, "node 0 'n' (PAD_FUSION): a list of its attributes counts entries");

    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_builder_finish(NULL, &m, &error), NNRT_NULL_PTR);
    assert_string_equal(error.message, "nnrt_builder_finish: builder is NULL");
    memset(&error, 0, sizeof(error));
    b = begin();
    assert_int_equal(nnrt_builder_finish(b, NULL, &error), NNRT_NULL_PTR);
    assert_string_equal(error.message, "nnrt_builder_finish: model is NULL");
    assert_int_equal(nnrt_builder_finish(b, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_INVALID_TENSOR); /* empty; without an error struct */
    nnrt_builder_destroy(b);
    b = begin();
    error.code = NNRT_CANCELLED; /* an earlier fault is cleared */
    assert_int_equal(nnrt_builder_finish(b, &m, &error), NNRT_INVALID_TENSOR);
    assert_int_equal(error.code, NNRT_INVALID_TENSOR);
    nnrt_builder_destroy(b);

    memset(&foreign, 0, sizeof(foreign));
    m = &foreign.model;
    assert_int_equal(nnrt_model_attach(m, foreign.other, 8), NNRT_NULL_PTR);
    assert_int_equal(nnrt_model_optimize(&m, NULL, NULL), NNRT_NULL_PTR);
    nnrt_model_destroy(m);
    assert_null(nnrt_model_metadata(m, "key"));
    assert_null(nnrt_model_metadata(m, NULL));
    assert_int_equal(nnrt_model_tensor(NULL, "x"), NNRT_NO_TENSOR);
    assert_int_equal(nnrt_model_tensor(m, NULL), NNRT_NO_TENSOR);
    assert_int_equal(nnrt_model_tensor(m, ""), NNRT_NO_TENSOR);
}

/* SQRT of the input `name`; a test may then change shape, operator and attributes. */
static void small(graph *g, const char *name)
{
    graph_init(g);
    (void)tensor(g, name, F32, "2,3");
    (void)result(g, "y");
    (void)PLAIN(g, "root", SQRT, "0", "1");
    graph_io(g, "0", "1");
}

/* Missing arguments are reported, and nothing is read or written. */
static void test_missing_arguments(void **state)
{
    static uint64_t room[2048];
    const nnrt_op *op = nnrt_op_named("SOFTMAX");
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_plan *plan = NULL;
    nnrt_view views[2];
    float x[6] = {4, 9, 16, 25, 36, 49}, y[6] = {0};
    void *const io[2] = {x, y};
    uint32_t step = 77;
    uint64_t attr[16] = {0};
    char text[8] = "as it";
    graph g;
    (void)state;
    small(&g, "x");
    memset(&config, 0, sizeof(config));
    nnrt_memory_buffer(&memory, (uint8_t *)room + (64 - (uintptr_t)room % 64) % 64, sizeof(room) - 64);
    assert_int_equal(nnrt_plan_build(&g.model, &config, &memory, &plan), NNRT_SUCCESS);
    assert_int_equal(nnrt_plan_execute(NULL, views, NULL, io, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_plan_execute(plan, NULL, NULL, io, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_plan_execute(plan, views, NULL, NULL, NULL), NNRT_NULL_PTR);
    plan->arenaBytes = 64;
    assert_int_equal(nnrt_plan_execute(plan, views, NULL, io, NULL), NNRT_NULL_PTR);
    plan->arenaBytes = 0; /* unchanged: the only result is an output */
    assert_true(y[0] == 0 && step == 77);
    assert_int_equal(nnrt_plan_execute(plan, views, NULL, io, NULL), NNRT_SUCCESS);
    assert_true(y[0] == 2 && y[5] == 7);
    assert_int_equal(nnrt_attr_print(NULL, attr, text, sizeof(text)), 0);
    assert_string_equal(text, "");
    assert_int_equal(nnrt_attr_print(op->attr, NULL, text, sizeof(text)), 0);
    assert_true(nnrt_attr_print(op->attr, attr, NULL, 100) > 0);
}

/* nnrt_plan_execute refuses a plan with dynamic shapes, whose views have the upper bounds, and writes nothing. */
static void test_execute_refuses_dynamic_shapes(void **state)
{
    static uint64_t room[4096];
    const nnrt_bound bound = {"x", {2, {2, 3}}};
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_error error;
    nnrt_plan *plan = NULL;
    nnrt_view views[8];
    float x[6] = {4, 9, 16, 25, 36, 49}, y[6] = {0};
    uint64_t arena[8];
    void *const io[2] = {x, y};
    uint32_t sums[4];
    graph g;
    (void)state;
    graph_init(&g);
    (void)tensor(&g, "x", F32, "-1,3");
    (void)result(&g, "y");
    (void)PLAIN(&g, "root", SQRT, "0", "1");
    graph_io(&g, "0", "1");
    memset(&config, 0, sizeof(config));
    memset(&error, 0, sizeof(error));
    config.bounds = nnrt_bound_list_make(&bound, 1);
    config.error = &error;
    nnrt_memory_buffer(&memory, (uint8_t *)room + (64 - (uintptr_t)room % 64) % 64, sizeof(room) - 64);
    assert_int_equal(nnrt_plan_build(&g.model, &config, &memory, &plan), NNRT_SUCCESS);
    assert_int_equal(nnrt_plan_execute(plan, views, arena, io, &error), NNRT_NOT_SUPPORT);
    assert_non_null(strstr(error.message, "dynamic shapes"));
    assert_int_equal(nnrt_plan_sums(plan, views, arena, io, sums), NNRT_NOT_SUPPORT);
    assert_true(y[0] == 0 && y[5] == 0);
}

/* FNV-1a of the bytes of int32 numbers, the lowest byte first. */
static uint32_t sum_of(const int32_t *numbers, uint32_t count)
{
    uint32_t sum = 2166136261u;
    for (uint32_t i = 0; i < 4 * count; i++)
        sum = (sum ^ ((uint32_t)numbers[i / 4] >> 8 * (i % 4) & 255)) * 16777619u;
    return sum;
}

/* nnrt_plan_sums has a checksum of each step's result, in the arena or of an output, up to the step whose kernel fails. */
static void test_sums_of_steps(void **state)
{
    static uint64_t room[2048], arena[64];
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_plan *plan = NULL;
    nnrt_view views[3];
    int32_t x[3] = {7, -9, 100}, z[3] = {2, 3, 5}, y[3] = {0};
    const int32_t quotients[3] = {3, -3, 20}, negative[3] = {-3, 3, -20};
    void *const io[3] = {x, z, y};
    uint32_t sums[2] = {0, 0};
    graph g;
    (void)state;
    graph_init(&g);
    (void)tensor(&g, "x", I32, "3");
    (void)tensor(&g, "z", I32, "3");
    (void)result(&g, "q");
    (void)result(&g, "y");
    (void)PLAIN(&g, "div", DIV_FUSION, "0 1", "2");
    (void)PLAIN(&g, "neg", NEG, "2", "3");
    graph_io(&g, "0 1", "3");
    memset(&config, 0, sizeof(config));
    nnrt_memory_buffer(&memory, (uint8_t *)room + (64 - (uintptr_t)room % 64) % 64, sizeof(room) - 64);
    assert_int_equal(nnrt_plan_build(&g.model, &config, &memory, &plan), NNRT_SUCCESS);
    assert_int_equal(plan->nSteps, 2);
    assert_true(plan->maxArgs <= 3 && plan->arenaBytes <= sizeof(arena));
    assert_int_equal(nnrt_plan_sums(NULL, views, arena, io, sums), NNRT_NULL_PTR);
    assert_int_equal(nnrt_plan_sums(plan, NULL, arena, io, sums), NNRT_NULL_PTR);
    assert_int_equal(nnrt_plan_sums(plan, views, arena, io, NULL), NNRT_NULL_PTR);
    assert_true(sums[0] == 0 && sums[1] == 0 && y[0] == 0);
    assert_int_equal(nnrt_plan_sums(plan, views, arena, io, sums), NNRT_SUCCESS);
    assert_memory_equal(y, negative, sizeof(negative));
    assert_true(sums[0] == sum_of(quotients, 3));
    assert_true(sums[1] == sum_of(negative, 3));
    z[1] = 0;
    assert_int_equal(nnrt_plan_sums(plan, views, arena, io, sums), NNRT_INVALID_PARAMETER);
    assert_true(sums[0] == NNRT_SUM && sums[1] == sum_of(negative, 3));
    assert_memory_equal(y, negative, sizeof(negative));
}

/* Characters that a label may not have; nodes whose attributes are short, or that leave operands out. */
static void test_dot(void **state)
{
    static const float data[6] = {0};
    static graph g;
    NNRT_MaxPoolFusion pool;
    char text[4096];
    (void)state;
    small(&g, "tab\there");
    (void)nnrt_model_dot(&g.model, NULL, text, sizeof(text));
    contains(text, "label=\"tab here\\nfloat32[2,3]\"");
    graph_init(&g);
    nnrt_attr_defaults(nnrt_op_named("MAX_POOL_FUSION")->attr, &pool);
    pool.global = true;
    (void)tensor(&g, "x", F32, "1,2,3,1");
    (void)result(&g, "y");
    (void)constant(&g, "unused", F32, "2,3", data, sizeof(data));
    (void)node(&g, NULL, NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, sizeof(pool.kernelSize), "0 -", "1 -");
    graph_io(&g, "0", "1");
    (void)nnrt_model_dot(&g.model, NULL, text, sizeof(text));
    contains(text,
             "n0 [shape=box style=rounded label=\"MAX_POOL_FUSION\\nkernelSize=[]\"];"); /* the rest is missing */
    contains(text, "t0 -> n0;");
    contains(text, "n0 -> o0");
    g.nodes[0].nodeAttr.data = NULL;
    (void)nnrt_model_dot(&g.model, NULL, text, sizeof(text));
    contains(text, "label=\"MAX_POOL_FUSION\"];");
}

/* ---- drivers ---- */

/* A driver whose answers a test chooses; calls are counted by slot. */
enum { STATUS, SUPPORTED, PREPARE, EXPORT, RANGES, RUN, DESTROY, WORKSPACE, RUN_IN, IO, MEMORY, RUN_V1, SLOTS };
static struct {
    NNRT_PreparedModel base;
    NNRT_DeviceVtbl table;
    NNRT_PreparedModelVtbl modelTable;
    NNRT_ReturnCode codes[SLOTS];
    uint32_t calls[SLOTS];
    size_t tables, workspace;
    nnrt_dims shape;
    bool enough;
} odd;

static NNRT_ReturnCode odd_answer(uint32_t slot)
{
    odd.calls[slot]++;
    return odd.codes[slot];
}

static NNRT_ReturnCode odd_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 2;
    *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode odd_name(void *self, const char **name)
{
    (void)self;
    *name = "odd";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode odd_status(void *self, NNRT_DeviceStatus *status)
{
    (void)self;
    *status = NNRT_DEVICE_STATUS_AVAILABLE;
    return odd_answer(STATUS);
}

static NNRT_ReturnCode odd_supported(void *self, const NNRT_Model *model, bool *isSupported, uint32_t count)
{
    (void)self;
    (void)model;
    for (uint32_t i = 0; i < count; i++)
        isSupported[i] = true;
    return odd_answer(SUPPORTED);
}

static NNRT_ReturnCode odd_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                   NNRT_PreparedModel **prepared)
{
    (void)self;
    (void)model;
    (void)config;
    odd.base.vtbl = &odd.modelTable;
    *prepared = &odd.base;
    return odd_answer(PREPARE);
}

static NNRT_ReturnCode odd_export(NNRT_PreparedModel *m, const NNRT_SharedBuffer **buffers, uint32_t *count)
{
    (void)m;
    *buffers = NULL;
    *count = 7;
    return odd_answer(EXPORT);
}

static NNRT_ReturnCode odd_ranges(NNRT_PreparedModel *m, uint32_t index, nnrt_dims *least, nnrt_dims *most)
{
    (void)m;
    (void)index;
    *least = *most = odd.shape;
    return odd_answer(RANGES);
}

static NNRT_ReturnCode odd_run(NNRT_PreparedModel *m, const NNRT_IOTensor *inputs, uint32_t nIn,
                               const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    (void)m;
    (void)inputs;
    (void)nIn;
    (void)outputs;
    (void)nOut;
    (void)outputDims;
    return odd_answer(RUN);
}

static NNRT_ReturnCode odd_run_v1(NNRT_PreparedModel *m, const NNRT_IOTensor *inputs, uint32_t nIn,
                                  const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims, bool *enough)
{
    (void)m;
    (void)inputs;
    (void)nIn;
    (void)outputs;
    (void)outputDims;
    for (uint32_t i = 0; i < nOut; i++)
        enough[i] = odd.enough;
    return odd_answer(RUN_V1);
}

static void odd_destroy(NNRT_PreparedModel *m)
{
    (void)m;
    (void)odd_answer(DESTROY);
}

static NNRT_ReturnCode odd_workspace(NNRT_PreparedModel *m, size_t *bytes)
{
    (void)m;
    *bytes = odd.workspace;
    return odd_answer(WORKSPACE);
}

static NNRT_ReturnCode odd_run_in(NNRT_PreparedModel *m, void *workspace, size_t bytes, const NNRT_IOTensor *inputs,
                                  uint32_t nIn, const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                                  nnrt_error *error)
{
    (void)m;
    assert_true(workspace != NULL && (uintptr_t)workspace % NNRT_ALIGNMENT == 0); /* also of 0 bytes */
    assert_true(bytes >= odd.workspace);
    (void)inputs;
    (void)nIn;
    (void)outputs;
    (void)nOut;
    (void)outputDims;
    (void)error;
    return odd_answer(RUN_IN);
}

static NNRT_ReturnCode odd_io(NNRT_PreparedModel *m, bool output, uint32_t index, NNRT_DataType *type, nnrt_dims *shape)
{
    (void)m;
    (void)output;
    (void)index;
    *type = F32;
    *shape = odd.shape;
    return odd_answer(IO);
}

static NNRT_ReturnCode odd_memory(NNRT_PreparedModel *m, nnrt_prepared_memory *memory)
{
    (void)m;
    memory->tables = odd.tables;
    memory->arena = 12345;
    return odd_answer(MEMORY);
}

/* All slots, with valid answers: x and y are [2,3]. Registers the driver on request. */
static void odd_begin(bool registered)
{
    memset(&odd, 0, sizeof(odd));
    odd.table.structSize = sizeof(odd.table);
    odd.table.version = NNRT_HDI(2, 0);
    odd.table.GetVersion = odd_version;
    odd.table.GetDeviceName = odd_name;
    odd.table.GetVendorName = odd_name;
    odd.table.GetDeviceStatus = odd_status;
    odd.table.GetSupportedOperation = odd_supported;
    odd.table.PrepareModel = odd_prepare;
    odd.modelTable.structSize = sizeof(odd.modelTable);
    odd.modelTable.version = NNRT_HDI(2, 0);
    odd.modelTable.ExportModelCache = odd_export;
    odd.modelTable.RunV1 = odd_run_v1;
    odd.modelTable.GetInputDimRanges = odd_ranges;
    odd.modelTable.Run = odd_run;
    odd.modelTable.Destroy = odd_destroy;
    odd.modelTable.GetWorkspaceSize = odd_workspace;
    odd.modelTable.RunIn = odd_run_in;
    odd.modelTable.GetIO = odd_io;
    odd.modelTable.GetMemory = odd_memory;
    odd.shape.rank = 2;
    odd.shape.dims[0] = 2;
    odd.shape.dims[1] = 3;
    odd.workspace = 128;
    if (registered)
        assert_int_equal(nnrt_device_register(&odd.table, NULL, NULL), NNRT_SUCCESS);
}

static NNRT_ReturnCode odd_session(nnrt_session **session, const NNRT_Model *m, const char *part)
{
    nnrt_session_desc desc;
    NNRT_ReturnCode code;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.device = "odd";
    code = nnrt_session_create(session, m, &desc, &error);
    assert_true((code == NNRT_SUCCESS) == (*session != NULL));
    contains(error.message, part);
    return code;
}

/* A wrong answer of a driver fails with a code; properties that it does not report come from the model. */
static void test_driver_answers(void **state)
{
    static const int32_t nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    static graph g;
    nnrt_session *s = NULL, *other = NULL;
    nnrt_session_desc desc;
    float x[6] = {0}, y[6];
    size_t bytes;
    (void)state;
    small(&g, "x");
    odd_begin(true);
    assert_int_equal(odd_session(&s, &g.model, ""), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_get_memory(s).arena, 12345);
    assert_int_equal(nnrt_session_output(s, 0).bytes, 24);
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_int_equal(odd.calls[RUN_IN], 1);
    assert_int_equal(nnrt_run(s, NULL, 1, NULL, 1), NNRT_NULL_PTR);
    assert_string_equal(nnrt_session_error(s), "the list of inputs is NULL");
    assert_int_equal(nnrt_run(s, &(nnrt_io){NULL, 24, NULL}, 1, NNRT_IO(y)), NNRT_NULL_PTR);
    assert_string_equal(nnrt_session_error(s), "input 0 'x' is NULL");
    nnrt_session_destroy(s);

    odd.workspace = 0; /* none is needed: still RunIn, which threads may share, and without Run as well */
    assert_int_equal(odd_session(&s, &g.model, ""), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    memset(&desc, 0, sizeof(desc));
    desc.share = s;
    assert_int_equal(nnrt_session_create(&other, &g.model, &desc, NULL), NNRT_SUCCESS);
    odd.modelTable.Run = NULL;
    assert_int_equal(nnrt_run(other, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_int_equal(odd.calls[RUN_IN], 3);
    assert_int_equal(odd.calls[RUN], 0);
    odd.modelTable.Run = odd_run;
    odd.calls[RUN_IN] = 1;
    nnrt_session_destroy(other);
    nnrt_session_destroy(s);
    odd.workspace = 128;

    odd.codes[MEMORY] = odd.codes[WORKSPACE] = NNRT_FAILED; /* no figures, no workspace: it runs in its own */
    assert_int_equal(odd_session(&s, &g.model, ""), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_get_memory(s).arena, 0);
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_int_equal(odd.calls[RUN_IN], 1);
    assert_int_equal(odd.calls[RUN], 1);
    nnrt_session_destroy(s);
    odd.codes[MEMORY] = odd.codes[WORKSPACE] = NNRT_SUCCESS;

    odd.codes[IO] = NNRT_DEVICE_ERROR;
    assert_int_equal(odd_session(&s, &g.model, "input 0 'x': neither the device nor"), NNRT_DEVICE_ERROR);
    odd.codes[IO] = NNRT_SUCCESS;
    odd.shape.rank = 9;
    assert_int_equal(odd_session(&s, &g.model, "input 0 'x': neither the device nor"), NNRT_INVALID_SHAPE);
    odd.shape.rank = -2;
    assert_int_equal(odd_session(&s, &g.model, "neither the device nor"), NNRT_INVALID_SHAPE);
    odd.shape.rank = 2;
    odd.codes[IO] = NNRT_NOT_SUPPORT; /* the model declares x, and y follows */
    assert_int_equal(odd_session(&s, &g.model, ""), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_output(s, 0).bytes, 24);
    nnrt_session_destroy(s);
    g.tensors[0].dims.data = nine; /* the driver does not check the model: nine axes, and a missing dims array */
    g.tensors[0].dims.count = 9;
    assert_int_equal(odd_session(&s, &g.model, "tensor 0 'x': has 9 axes"), NNRT_INVALID_SHAPE);
    g.tensors[0].dims.data = NULL;
    assert_int_equal(odd_session(&s, &g.model, "tensor 0 'x': has 9 axes"), NNRT_INVALID_SHAPE);
    g.tensors[0].dims.count = 1;
    assert_int_equal(odd_session(&s, &g.model, "tensor 0 'x': has 1 axes"), NNRT_INVALID_SHAPE);
    small(&g, "x");
    g.dims[1][0] = 6; /* the shape of y is known, but not its type: it is inferred, and with it another shape */
    g.tensors[1].dims.count = 1;
    odd.modelTable.GetIO = NULL;
    assert_int_equal(odd_session(&s, &g.model, "output 0 'y' is declared"), NNRT_INVALID_SHAPE);
    g.tensors[1].dataType = F32;
    g.dims[0][0] = 0; /* the driver supports 2 rows only: no run could succeed */
    assert_int_equal(
        odd_session(&s, &g.model, "input 0 'x': axis 0 has size 0, but device 'odd_odd_v2_0' takes 2 to 2"),
        NNRT_DEVICE_ERROR);
    odd.shape.dims[0] = 0;                  /* an empty input needs no address */
    odd.modelTable.GetWorkspaceSize = NULL; /* nor a workspace: Run instead of RunIn */
    assert_int_equal(odd_session(&s, &g.model, ""), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_input(s, 0).bytes, 0);
    odd.calls[RUN] = 0;
    assert_int_equal(nnrt_run(s, &(nnrt_io){NULL, 0, NULL}, 1, NNRT_IO(y)), NNRT_SUCCESS);
    assert_int_equal(odd.calls[RUN], 1);
    nnrt_session_destroy(s);
    odd.modelTable.GetWorkspaceSize = odd_workspace;
    odd.modelTable.GetIO = odd_io;
    odd.shape.dims[0] = 2;
    small(&g, "x");
    odd.codes[IO] = NNRT_SUCCESS;

    memset(&desc, 0, sizeof(desc));
    desc.device = "odd";
    for (uint32_t i = 0; i < 4; i++) { /* sizes whose sum fits no size_t */
        odd.tables = i == 0 ? SIZE_MAX : i == 1 ? 0 : i == 2 ? SIZE_MAX - 4095 : SIZE_MAX - 127;
        odd.workspace = i == 0 ? 0 : i == 1 ? SIZE_MAX - 1 : i == 2 ? 8192 : 0;
        assert_int_equal(nnrt_session_bytes(&g.model, &desc, &bytes, NULL), NNRT_OUT_OF_MEMORY);
        if (i < 3)
            assert_int_equal(odd_session(&s, &g.model, "not enough memory"), NNRT_OUT_OF_MEMORY);
    }
    odd.tables = 100;
    odd.workspace = 1;
    assert_int_equal(nnrt_session_bytes(&g.model, &desc, &bytes, NULL), NNRT_SUCCESS);
    assert_int_equal(odd.calls[PREPARE], odd.calls[DESTROY]);
    assert_int_equal(nnrt_device_unregister("odd"), NNRT_SUCCESS);
}

/* A table of a prepared model that ends before any of its slots: slots after the end are never called, directly or
   through auto, and functions that do not need them work. */
static void test_short_model_tables(void **state)
{
    static const struct {
        size_t offset;
        uint32_t slot;
    } order[] = {
        {offsetof(NNRT_PreparedModelVtbl, ExportModelCache), EXPORT},
        {offsetof(NNRT_PreparedModelVtbl, RunV1), RUN_V1},
        {offsetof(NNRT_PreparedModelVtbl, GetInputDimRanges), RANGES},
        {offsetof(NNRT_PreparedModelVtbl, Run), RUN},
        {offsetof(NNRT_PreparedModelVtbl, Destroy), DESTROY},
        {offsetof(NNRT_PreparedModelVtbl, GetWorkspaceSize), WORKSPACE},
        {offsetof(NNRT_PreparedModelVtbl, RunIn), RUN_IN},
        {offsetof(NNRT_PreparedModelVtbl, GetIO), IO},
        {offsetof(NNRT_PreparedModelVtbl, GetMemory), MEMORY},
    };
    static graph g;
    (void)state;
    small(&g, "x");
    g.tensors[1].dataType = F32; /* the model declares all, too */
    g.dims[1][0] = 2;
    g.dims[1][1] = 3;
    g.tensors[1].dims.count = 2;
    for (uint32_t cut = 0; cut <= COUNT(order); cut++)
        for (uint32_t byAuto = 0; byAuto < 2; byAuto++) {
            const NNRT_SharedBuffer *buffers;
            nnrt_prepared_memory memory;
            nnrt_session *s = NULL, *other = NULL;
            nnrt_session_desc desc;
            NNRT_PreparedModel *p = NULL;
            nnrt_dims least, most;
            NNRT_DataType type;
            size_t bytes;
            uint32_t count;
            float x[6] = {0}, y[6];
            nnrt_device *d;
            const char *name = byAuto ? "auto" : "odd";
            odd_begin(true);
            odd.enough = true;
            odd.modelTable.structSize = cut < COUNT(order) ? (uint32_t)order[cut].offset : sizeof(odd.modelTable);
            d = nnrt_device_find(name);
            memset(&desc, 0, sizeof(desc));
            desc.device = name;
            if (cut < 2) { /* cannot run: auto uses the next device */
                assert_int_equal(nnrt_session_create(&s, &g.model, &desc, NULL),
                                 byAuto ? NNRT_SUCCESS : NNRT_DEVICE_ERROR);
                nnrt_session_destroy(s);
                assert_int_equal(odd.calls[DESTROY], 0);
            } else {
                assert_int_equal(nnrt_session_create(&s, &g.model, &desc, NULL), NNRT_SUCCESS);
                assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
                assert_int_equal(odd.calls[RUN_IN] + odd.calls[RUN] + odd.calls[RUN_V1], 1);
                desc.share = s;
                assert_int_equal(nnrt_session_create(&other, &g.model, &desc, NULL),
                                 cut > 6 ? NNRT_SUCCESS : NNRT_NOT_SUPPORT); /* without RunIn: auto has none either */
                nnrt_session_destroy(other);
                nnrt_session_destroy(s);
                assert_int_equal(nnrt_device_prepare(d, &g.model, NULL, &p), NNRT_SUCCESS);
                if (byAuto) {
                    assert_int_equal(p->vtbl->ExportModelCache(p, &buffers, &count), NNRT_SUCCESS);
                    assert_int_equal(p->vtbl->GetInputDimRanges(p, 0, &least, &most),
                                     cut > 2 ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
                    assert_int_equal(p->vtbl->GetWorkspaceSize(p, &bytes), NNRT_SUCCESS);
                    assert_int_equal(bytes, cut > 5 ? 128 : 0);
                    assert_int_equal(p->vtbl->GetIO(p, false, 0, &type, &least),
                                     cut > 7 ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
                    assert_int_equal(p->vtbl->GetMemory(p, &memory), NNRT_SUCCESS);
                    assert_int_equal(memory.arena, cut > 8 ? 12345 : 0);
                    odd.codes[MEMORY] = NNRT_FAILED;
                    assert_int_equal(p->vtbl->GetMemory(p, &memory), cut > 8 ? NNRT_FAILED : NNRT_SUCCESS);
                }
                nnrt_device_release(d, p);
            }
            for (uint32_t k = cut; k < COUNT(order); k++)
                assert_int_equal(odd.calls[order[k].slot], 0);
            assert_int_equal(nnrt_device_unregister("odd"), NNRT_SUCCESS);
        }
}

/* The same for the table of a device. */
static void test_short_device_tables(void **state)
{
    static graph g;
    (void)state;
    small(&g, "x");
    for (uint32_t size = 0; size <= sizeof(NNRT_DeviceVtbl); size += 4) {
        bool isSupported[1] = {false};
        NNRT_PreparedModel *p = NULL;
        nnrt_error error;
        nnrt_device *d;
        size_t bytes;
        odd_begin(false);
        odd.table.structSize = size;
        memset(&error, 0, sizeof(error));
        if (size < offsetof(NNRT_DeviceVtbl, PrepareModel) + sizeof(void *)) {
            assert_int_not_equal(nnrt_device_register(&odd.table, NULL, &error), NNRT_SUCCESS);
            assert_true(strlen(error.message) > 10);
            assert_int_equal(odd.calls[STATUS], 0);
            continue;
        }
        assert_int_equal(nnrt_device_register(&odd.table, NULL, &error), NNRT_SUCCESS);
        d = nnrt_device_find("odd");
        assert_int_equal(nnrt_device_supported(d, &g.model, NULL, isSupported, 1, NULL, NULL), NNRT_SUCCESS);
        assert_true(isSupported[0]);
        assert_int_equal(nnrt_device_model_memory(d, &g.model, NULL, &bytes), NNRT_NOT_SUPPORT);
        assert_int_equal(nnrt_device_prepare(d, &g.model, NULL, &p), NNRT_SUCCESS);
        assert_int_equal(nnrt_device_unregister("odd"), NNRT_DEVICE_BUSY);
        nnrt_device_release(d, p);
        assert_int_equal(nnrt_device_unregister("odd"), NNRT_SUCCESS);
    }
    odd_begin(true);
    assert_int_equal(nnrt_device_supported(NULL, &g.model, NULL, NULL, 1, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_supported(nnrt_device_find("odd"), NULL, NULL, NULL, 1, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_supported(nnrt_device_find("odd"), &g.model, NULL, NULL, 1, NULL, NULL),
                     NNRT_NULL_PTR);
    assert_int_equal(nnrt_device_unregister("odd"), NNRT_SUCCESS);
}

/* HDI 1.0's flag: a name is not needed for the message. */
static void test_run_v1(void **state)
{
    NNRT_IOTensor out;
    nnrt_error error;
    (void)state;
    odd_begin(false);
    odd.base.vtbl = &odd.modelTable;
    odd.modelTable.Run = NULL;
    odd.modelTable.RunIn = NULL;
    memset(&out, 0, sizeof(out));
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_prepared_run(&odd.base, NULL, 0, NULL, 0, &out, 1, NULL, NULL, &error),
                     NNRT_INSUFFICIENT_BUFFER);
    assert_string_equal(error.message, "output 0 '' is too small for the result");
    odd.enough = true;
    assert_int_equal(nnrt_prepared_run(&odd.base, NULL, 0, NULL, 0, &out, 1, NULL, NULL, NULL), NNRT_SUCCESS);
    odd.modelTable.RunV1 = NULL;
    assert_int_equal(nnrt_prepared_run(&odd.base, NULL, 0, NULL, 0, &out, 1, NULL, NULL, NULL), NNRT_NOT_SUPPORT);
}

/* auto queries a driver for every node, which needs memory; without memory the model runs on the reference device. */
static void test_auto_without_memory(void **state)
{
    static graph g;
    static uint64_t block[(1 << 16) / 8 + 8];
    uint8_t *buffer = (uint8_t *)block;
    uint32_t refused_ = 0, met = 0;
    (void)state;
    buffer += (NNRT_ALIGNMENT - (uintptr_t)buffer % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
    small(&g, "x");
    odd_begin(true);
    for (size_t bytes = 0; bytes <= 1 << 16; bytes += NNRT_ALIGNMENT) {
        nnrt_session *s = NULL;
        nnrt_session_desc desc;
        memset(&desc, 0, sizeof(desc));
        desc.buffer = buffer;
        desc.bufferBytes = bytes;
        if (nnrt_session_create(&s, &g.model, &desc, NULL) == NNRT_SUCCESS)
            met++;
        else
            refused_++;
        nnrt_session_destroy(s);
    }
    assert_true(refused_ > 4 && met > 900);
    for (int64_t n = 1;; n++) {
        static tracker t;
        nnrt_allocator a;
        nnrt_session *s = NULL;
        nnrt_session_desc desc;
        NNRT_ReturnCode code;
        memset(&t, 0, sizeof(t));
        memset(&desc, 0, sizeof(desc));
        t.failAt = n;
        a = allocator_of(&t);
        desc.allocator = &a;
        code = nnrt_session_create(&s, &g.model, &desc, NULL);
        nnrt_session_destroy(s);
        assert_int_equal(t.live, 0);
        assert_false(t.wrong);
        if (t.calls < n) {
            assert_int_equal(code, NNRT_SUCCESS);
            break;
        }
        assert_true(code == NNRT_OUT_OF_MEMORY || code == NNRT_SUCCESS);
    }
    assert_int_equal(nnrt_device_unregister("odd"), NNRT_SUCCESS);
}

/* The slots of prepared models of the reference device, with arguments that nnrt itself never passes. */
static void test_reference_arguments(void **state)
{
    static graph g;
    nnrt_device *d = nnrt_device_find("reference");
    NNRT_PreparedModel *p = NULL;
    nnrt_prepared_memory memory;
    nnrt_dims shapes[2];
    NNRT_DataType type;
    nnrt_error error;
    uint64_t workspace[256];
    NNRT_IOTensor io[2];
    (void)state;
    small(&g, "x");
    assert_int_equal(nnrt_device_prepare(d, &g.model, NULL, &p), NNRT_SUCCESS);
    p->vtbl->Destroy(NULL);
    assert_int_equal(p->vtbl->GetIO(NULL, false, 0, &type, &shapes[0]), NNRT_NULL_PTR);
    assert_int_equal(p->vtbl->GetIO(p, false, 0, NULL, &shapes[0]), NNRT_NULL_PTR);
    assert_int_equal(p->vtbl->GetIO(p, false, 0, &type, NULL), NNRT_NULL_PTR);
    assert_int_equal(p->vtbl->GetIO(p, true, 1, &type, &shapes[0]), NNRT_INVALID_PARAMETER);
    assert_int_equal(p->vtbl->GetMemory(NULL, &memory), NNRT_NULL_PTR);
    assert_int_equal(p->vtbl->GetMemory(p, NULL), NNRT_NULL_PTR);
    memset(io, 0, sizeof(io));
    memset(shapes, 0x55, sizeof(shapes)); /* more outputs than the model has: only its own gets a shape */
    assert_int_equal(p->vtbl->Run(p, io, 1, io, 2, shapes), NNRT_INVALID_OUTPUT);
    assert_int_equal(shapes[0].rank, 2);
    assert_int_equal(shapes[1].rank, 0x55555555);
    assert_int_equal(p->vtbl->Run(p, NULL, 1, io, 1, NULL), NNRT_NULL_PTR);
    assert_int_equal(p->vtbl->Run(p, io, 1, NULL, 1, NULL), NNRT_NULL_PTR);
    memset(&error, 0, sizeof(error));
    assert_int_equal(p->vtbl->RunIn(p, NULL, sizeof(workspace), io, 1, io, 1, NULL, &error), NNRT_OUT_OF_MEMORY);
    contains(error.message, "the workspace has 2048 bytes");
    nnrt_device_release(d, p);

    g.main.nodeIndices.count = 1; /* lists with a count, but without entries */
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_model_validate(&g.model, NULL, &error), NNRT_INVALID_MODEL);
    contains(error.message, "entry 0 of nodeIndices");
    g.main.nodeIndices.count = 0;
    g.main.inputIndices.count = 1;
    assert_int_equal(nnrt_model_validate(&g.model, NULL, NULL), NNRT_INVALID_MODEL);
    g.main.inputIndices.count = 0;
    g.main.outputIndices.count = 1;
    assert_int_equal(nnrt_model_validate(&g.model, NULL, NULL), NNRT_INVALID_MODEL);
}

/* An allocator without free never frees. */
static void *forever_alloc(void *user, size_t bytes, size_t alignment)
{
    static uint64_t block[8192];
    uintptr_t at = ((uintptr_t)block + *(size_t *)user + alignment - 1) & ~(uintptr_t)(alignment - 1);
    *(size_t *)user = at + bytes - (uintptr_t)block;
    return *(size_t *)user <= sizeof(block) ? (void *)at : NULL;
}

static void test_allocator_without_free(void **state)
{
    static graph g;
    size_t used = 0;
    nnrt_allocator a;
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    const float x[6] = {0, 1, 4, 9, 16, 25};
    float y[6];
    (void)state;
    small(&g, "x");
    a.alloc = forever_alloc;
    a.free = NULL;
    a.user = &used;
    memset(&desc, 0, sizeof(desc));
    desc.allocator = &a;
    assert_int_equal(nnrt_session_create(&s, &g.model, &desc, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    for (int32_t i = 0; i < 6; i++)
        assert_true(y[i] == (float)i);
    nnrt_session_destroy(s);
    assert_true(used > 0);
}

/* ---- files ---- */

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[2][128];
    static uint32_t turn;
    turn = 1 - turn;
    (void)nnrt_text(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
    return path[turn];
}

/* Saving checks the model first: a hand-made one may have short or invalid attributes. Short attributes are saved
   short, and are loaded with defaults. */
static void test_save_by_hand(void **state)
{
    static const int64_t one[] = {1, 1};
    static graph g;
    NNRT_SpaceToBatchND blocks;
    NNRT_MaxPoolFusion pool, *back;
    nnrt_metadata pairs[1];
    nnrt_save_desc desc;
    nnrt_error error;
    NNRT_Model *m = NULL;
    NNRT_Int64List lists[2];
    void *data;
    size_t bytes;
    (void)state;
    graph_init(&g);
    nnrt_attr_defaults(nnrt_op_named("MAX_POOL_FUSION")->attr, &pool);
    pool.kernelSize = nnrt_int64_list(one, 2);
    pool.strides = nnrt_int64_list(one, 2);
    pool.padMode = NNRT_PAD_MODE_SAME;
    (void)tensor(&g, "x", F32, "1,2,3,1");
    (void)result(&g, "y");
    (void)node(&g, "pool", NNRT_NODE_TYPE_MAX_POOL_FUSION, &pool, sizeof(pool.kernelSize), "0", "1");
    graph_io(&g, "0", "1");
    assert_int_equal(nnrt_model_save_memory(&g.model, NULL, NULL, 0, &bytes, NULL), NNRT_SUCCESS);
    data = nnrt_alloc(NULL, bytes);
    assert_int_equal(nnrt_model_save_memory(&g.model, NULL, data, bytes, &bytes, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_model_load_memory(&m, data, bytes, NULL, NULL), NNRT_SUCCESS);
    back = (NNRT_MaxPoolFusion *)(uintptr_t)m->nodes.data[0].nodeAttr.data;
    assert_int_equal(back->kernelSize.count, 2);
    assert_int_equal(back->strides.count, 0);
    assert_int_equal(m->nodes.data[0].nodeAttr.size, sizeof(pool));
    nnrt_model_destroy(m);
    nnrt_free(NULL, data, bytes);
    assert_false(nnrt_file_is(NULL, 1000));

    memset(&error, 0, sizeof(error));
    pool.strides.data = NULL;
    g.nodes[0].nodeAttr.size = sizeof(pool);
    assert_int_equal(nnrt_model_save_memory(&g.model, NULL, NULL, 0, &bytes, &error), NNRT_NULL_PTR);
    assert_string_equal(error.message, "node 0 'pool': a list of its attributes has no data");
    nnrt_attr_defaults(nnrt_op_named("SPACE_TO_BATCH_ND")->attr, &blocks); /* the same for lists of lists */
    blocks.paddings.count = 2;
    g.nodes[0].nodeType = NNRT_NODE_TYPE_SPACE_TO_BATCH_ND;
    g.nodes[0].nodeAttr.data = &blocks;
    g.nodes[0].nodeAttr.size = sizeof(blocks);
    assert_int_equal(nnrt_model_save_memory(&g.model, NULL, NULL, 0, &bytes, NULL), NNRT_NULL_PTR);
    blocks.paddings.data = lists;
    lists[0] = lists[1] = nnrt_int64_list(NULL, 1);
    assert_int_equal(nnrt_model_save_memory(&g.model, NULL, NULL, 0, &bytes, NULL), NNRT_NULL_PTR);
    lists[0] = lists[1] = nnrt_int64_list(NULL, 0);
    assert_int_equal(nnrt_model_save_memory(&g.model, NULL, NULL, 0, &bytes, NULL), NNRT_SUCCESS);

    memset(&desc, 0, sizeof(desc));
    desc.metadataCount = 1;
    assert_int_equal(nnrt_model_save_memory(&g.model, &desc, NULL, 0, &bytes, NULL), NNRT_NULL_PTR);
    desc.metadata = pairs;
    pairs[0].key = NULL;
    pairs[0].value = "v";
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_model_save_memory(&g.model, &desc, NULL, 0, &bytes, &error), NNRT_INVALID_PARAMETER);
    assert_string_equal(error.message, "metadata 0 has no key");
    pairs[0].key = "";
    assert_int_equal(nnrt_model_save_memory(&g.model, &desc, NULL, 0, &bytes, NULL), NNRT_INVALID_PARAMETER);
    pairs[0].key = "k";
    pairs[0].value = NULL;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_model_save_memory(&g.model, &desc, NULL, 0, &bytes, &error), NNRT_INVALID_PARAMETER);
    assert_string_equal(error.message, "metadata 0 has no value");
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* A full disk, a name of a folder, no memory for the name: the old file is unchanged, and no other file is left. */
static void test_save_fails(void **state)
{
    static graph g;
    static float data[1 << 15];
    static tracker t;
    nnrt_allocator a = allocator_of(&t);
    struct rlimit was, few_;
    void (*handler)(int);
    nnrt_save_desc desc;
    nnrt_error error;
    struct stat before, after;
    (void)state;
    memset(&error, 0, sizeof(error));
    memset(&desc, 0, sizeof(desc));
    small(&g, "x");
    assert_int_equal(nnrt_model_save(&g.model, in_folder("full.nnrt"), NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(stat(in_folder("full.nnrt"), &before), 0);
    (void)constant(&g, "c", F32, "32768", data, sizeof(data));
    handler = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    few_ = was;
    few_.rlim_cur = 65536;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few_), 0);
    assert_int_equal(nnrt_model_save(&g.model, in_folder("full.nnrt"), NULL, &error), NNRT_FAILED);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    (void)signal(SIGXFSZ, handler);
    contains(error.message, "full.nnrt");
    assert_int_equal(stat(in_folder("full.nnrt"), &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    assert_false(is_there(in_folder("full.nnrt.0.tmp")));

    assert_int_equal(mkdir(in_folder("full"), 0700), 0);
    assert_int_equal(nnrt_model_save(&g.model, in_folder("full"), NULL, NULL), NNRT_INVALID_PATH);
    assert_false(is_there(in_folder("full.0.tmp")));
    assert_int_equal(rmdir(in_folder("full")), 0);

    for (t.failAt = 1;; t.failAt++) {
        NNRT_ReturnCode code;
        t.calls = 0;
        desc.allocator = &a;
        code = nnrt_model_save(&g.model, in_folder("full.nnrt"), &desc, NULL);
        assert_int_equal(t.live, 0);
        if (t.calls < t.failAt) {
            assert_int_equal(code, NNRT_SUCCESS);
            break;
        }
        assert_int_equal(code, NNRT_OUT_OF_MEMORY);
        assert_false(is_there(in_folder("full.nnrt.0.tmp")));
    }
    assert_int_equal(remove(in_folder("full.nnrt")), 0);
}

/* Missing or invalid files: too short for a header, a header with a length below its own, a folder, a pipe that ends
   early; and no memory to read them. */
static void test_load_fails(void **state)
{
    static graph g;
    static tracker t;
    nnrt_allocator a = allocator_of(&t);
    nnrt_load_desc desc;
    nnrt_error error;
    NNRT_Model *m = NULL;
    uint64_t *file;
    size_t bytes;
    char path[64];
    int ends[2];
    FILE *f;
    (void)state;
    small(&g, "x");
    memset(&desc, 0, sizeof(desc));
    desc.noMap = true;
    assert_int_equal(nnrt_model_save_memory(&g.model, NULL, NULL, 0, &bytes, NULL), NNRT_SUCCESS);
    file = (uint64_t *)nnrt_alloc(NULL, bytes);
    assert_int_equal(nnrt_model_save_memory(&g.model, NULL, file, bytes, &bytes, NULL), NNRT_SUCCESS);
    for (uint32_t kind = 0; kind < 4; kind++) {
        const uint64_t right = file[2]; /* bytes of the file, at 16 */
        const size_t length = kind == 0 ? 8 : bytes;
        if (kind == 1)
            file[2] = 8;
        if (kind == 2)
            file[2] = UINT64_MAX;
        f = fopen(in_folder("odd.nnrt"), "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(file, 1, length, f), length);
        assert_int_equal(fclose(f), 0);
        file[2] = right;
        memset(&error, 0, sizeof(error));
        assert_int_equal(nnrt_model_load(&m, in_folder("odd.nnrt"), &desc, &error),
                         kind < 3 ? NNRT_INVALID_FILE : NNRT_SUCCESS);
        if (kind < 3)
            contains(error.message, "odd.nnrt is no .nnrt file");
    }
    nnrt_model_destroy(m);
    desc.allocator = &a;
    for (t.failAt = 1;; t.failAt++) {
        NNRT_ReturnCode code;
        t.calls = 0;
        code = nnrt_model_load(&m, in_folder("odd.nnrt"), &desc, NULL);
        nnrt_model_destroy(m);
        assert_int_equal(t.live, 0);
        if (t.calls < t.failAt) {
            assert_int_equal(code, NNRT_SUCCESS);
            break;
        }
        assert_int_equal(code, NNRT_OUT_OF_MEMORY);
    }
    desc.allocator = NULL;
    assert_int_equal(remove(in_folder("odd.nnrt")), 0);

    assert_int_equal(nnrt_model_load(&m, folder, &desc, NULL), NNRT_INVALID_FILE);
    desc.noMap = false;
    assert_int_equal(nnrt_model_load(&m, folder, &desc, NULL), NNRT_INVALID_FILE);
    assert_int_equal(pipe(ends), 0); /* cannot be mapped, and has no length */
    assert_int_equal(write(ends[1], file, 200), 200);
    assert_int_equal(close(ends[1]), 0);
    (void)nnrt_text(path, sizeof(path), "/dev/fd/%d", (int32_t)ends[0]);
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_model_load(&m, path, &desc, &error), NNRT_INVALID_FILE);
    contains(error.message, "cannot read all of /dev/fd/");
    assert_int_equal(close(ends[0]), 0);
    nnrt_free(NULL, file, bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_formats_of_text),
        cmocka_unit_test(test_type_names),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_resolved_shape),
        cmocka_unit_test(test_tile_of_nine),
        cmocka_unit_test(test_resolve_checks),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_view_of_nothing),
        cmocka_unit_test(test_models_by_hand),
        cmocka_unit_test(test_missing_arguments),
        cmocka_unit_test(test_execute_refuses_dynamic_shapes),
        cmocka_unit_test(test_sums_of_steps),
        cmocka_unit_test(test_refused_types),
        cmocka_unit_test(test_refused_shapes),
        cmocka_unit_test(test_refused_sizes),
        cmocka_unit_test(test_refused_quant),
        cmocka_unit_test(test_quant_axis),
        cmocka_unit_test(test_refused_requantising),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_builder_arguments),
        cmocka_unit_test(test_dot),
        cmocka_unit_test(test_driver_answers),
        cmocka_unit_test(test_short_model_tables),
        cmocka_unit_test(test_short_device_tables),
        cmocka_unit_test(test_run_v1),
        cmocka_unit_test(test_auto_without_memory),
        cmocka_unit_test(test_reference_arguments),
        cmocka_unit_test(test_allocator_without_free),
        cmocka_unit_test(test_save_by_hand),
        cmocka_unit_test(test_save_fails),
        cmocka_unit_test(test_load_fails),
    };
    int failed;
    (void)nnrt_text(folder, sizeof(folder), "build/corners_XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)rmdir(folder);
    return failed;
}
