/* Attribute descriptions: a test operator has members of every kind, for all code that the descriptions drive:
   defaults, printing, comparison, copies, the .nnrt file, validation, graphs of a model, the generator of the fuzz
   targets. (tests/firmware/test_emit_attributes.sh tests the C code emitted from them.) */
#define _POSIX_C_SOURCE 200809L /* posix_memalign */
#include "every_kind.h"
#define NNRT_IMPLEMENTATION
#define NNRT_PIECE_BYTES 0 /* the sanitizers detect the ends of all blocks */
#include "nnrt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define FUZZ_INCLUDED
#include "../fuzz/fuzz.h"

#define OP NNRT_NODE_TYPE_EVERY_KIND

static const int64_t some_ints[] = {1, -2, INT32_MAX}, some_large[] = {INT64_MIN, INT64_MAX};
static const float some_reals[] = {0.5f, -1e-30f, 1024.0f};

static const nnrt_attr_struct *every(void)
{
    return nnrt_op_find(OP)->attr;
}

/* No member has its default. lists has room for two. */
static NNRT_EveryKind filled(NNRT_Int64List *lists)
{
    NNRT_EveryKind a;
    memset(&a, 0, sizeof(a));
    lists[0] = nnrt_int64_list(some_ints, 2);
    lists[1] = nnrt_int64_list(NULL, 0);
    a.flag = false;
    a.number = INT32_MIN;
    a.large = INT64_MIN;
    a.real = -2.5f;
    a.precise = 1.0 / 3;
    a.padMode = NNRT_PAD_MODE_VALID;
    a.type = NNRT_DATA_TYPE_UINT8;
    a.wideType = NNRT_DATA_TYPE_FLOAT64;
    a.mode = "C\"R\\D";
    a.body = NNRT_NO_GRAPH;
    a.ints = nnrt_int64_list(some_ints, 3);
    a.large2 = nnrt_int64_list(some_large, 2);
    a.lists.data = lists;
    a.lists.count = 2;
    a.reals = nnrt_float_list(some_reals, 3);
    return a;
}

/* Sets member i to another value than in `filled`, number `way`; false: there is no further one. */
static bool change(NNRT_EveryKind *a, NNRT_Int64List *lists, uint32_t i, uint32_t way)
{
    static const int64_t ints[] = {1, -2, 5}, large[] = {INT64_MIN, INT64_MAX - 1}, inner[] = {1, -3};
    static const float reals[] = {0.5f, -1e-30f, 2048.0f};
    switch (i * 4 + way) {
    case 0: a->flag = true; return true;
    case 4: a->number++; return true;
    case 8: a->large = INT64_MAX; return true;
    case 9: a->large++; return true;
    case 12: a->real = -2.4999998f; return true;
    case 16: a->precise = 0.33333333333333337; return true; /* the next one */
    case 17: a->precise = -a->precise; return true;
    case 20: a->padMode = NNRT_PAD_MODE_PAD; return true;
    case 24: a->type = NNRT_DATA_TYPE_INT8; return true;
    case 25: a->type = NNRT_DATA_TYPE_UNKNOWN; return true;
    case 28: a->wideType = NNRT_DATA_TYPE_FLOAT32; return true;
    case 32: a->mode = "C\"R\\E"; return true;
    case 33: a->mode = ""; return true;
    case 34: a->mode = "C\"R\\D "; return true;
    case 36: a->body = 1; return true;
    case 40: a->ints.data = ints; return true;
    case 41: a->ints.count = 2; return true;
    case 42: a->ints = nnrt_int64_list(NULL, 0); return true;
    case 44: a->large2.data = large; return true;
    case 45: a->large2.count = 1; return true;
    case 48: lists[0].data = inner; return true;
    case 49: lists[1] = nnrt_int64_list(some_ints, 1); return true;
    case 50: a->lists.count = 1; return true;
    case 52: a->reals.data = reals; return true;
    case 53: a->reals.count = 2; return true;
    case 54: a->reals = nnrt_float_list(NULL, 0); return true;
    default: return false;
    }
}

static void test_defaults(void **state)
{
    NNRT_EveryKind a;
    (void)state;
    assert_int_equal(every()->count, 14);
    assert_int_equal(every()->bytes, sizeof(a));
    for (uint32_t i = 0; i < every()->count; i++) /* every kind but NONE */
        assert_true(i == 7 || every()->members[i].kind != NNRT_ATTR_KIND_NONE);
    memset(&a, 0xA5, sizeof(a));
    nnrt_attr_defaults(every(), &a);
    assert_true(a.flag && a.number == -7 && a.large == (int64_t)9007199254740993 && a.precise == 0.1);
    assert_true(a.real == 0.1f && (double)a.real != a.precise);
    assert_int_equal(a.padMode, NNRT_PAD_MODE_SAME);
    assert_int_equal(a.type, NNRT_DATA_TYPE_INT32);
    assert_int_equal(a.wideType, NNRT_DATA_TYPE_FLOAT16);
    assert_string_equal(a.mode, "DCR");
    assert_int_equal(a.body, NNRT_NO_GRAPH);
    assert_true(a.ints.count == 0 && a.large2.count == 0 && a.lists.count == 0 && a.reals.count == 0);
    assert_true(a.ints.data == NULL && a.large2.data == NULL && a.lists.data == NULL && a.reals.data == NULL);
}

static void test_print(void **state)
{
    NNRT_Int64List lists[2];
    NNRT_EveryKind a = filled(lists);
    char text[512];
    (void)state;
    (void)nnrt_attr_print(every(), &a, text, sizeof(text));
    assert_string_equal(text, "flag=false number=-2147483648 large=-9223372036854775808 real=-2.5 precise=0.333333333 "
                              "padMode=VALID type=uint8 wideType=float64 mode='C\"R\\D' body=none "
                              "ints=[1,-2,2147483647] large2=[-9223372036854775808,9223372036854775807] "
                              "lists=[[1,-2],[]] reals=[0.5,-1e-30,1024]");
    a.type = NNRT_DATA_TYPE_UNKNOWN;
    a.wideType = 31;
    a.mode = NULL;
    a.body = 3;
    a.reals.count = 0;
    (void)nnrt_attr_print(every(), &a, text, sizeof(text));
    assert_non_null(strstr(text, " type=unknown wideType=31 mode='' body=3 "));
    assert_non_null(strstr(text, " reals=[]"));
    a.wideType = (int64_t)1 << 32 | NNRT_DATA_TYPE_FLOAT32;
    (void)nnrt_attr_print(every(), &a, text, sizeof(text));
    assert_non_null(strstr(text, " wideType=4294967339 "));
}

static void test_equal(void **state)
{
    uint32_t changes = 0;
    (void)state;
    for (uint32_t i = 0; i < every()->count; i++)
        for (uint32_t way = 0; way < 4; way++) {
            NNRT_Int64List lists[2], others[2];
            NNRT_EveryKind a = filled(lists), b = filled(others);
            char mode[16];
            strcpy(mode, a.mode);
            b.mode = mode; /* the same text at another address */
            assert_true(nnrt_attr_equal(every(), &a, &b));
            if (!change(&b, others, i, way))
                continue;
            changes++;
            assert_false(nnrt_attr_equal(every(), &a, &b));
            assert_false(nnrt_attr_equal(every(), &b, &a));
        }
    assert_int_equal(changes, 26);
}

/* Allocates at most `most` blocks of exact size. */
typedef struct few {
    void *blocks[16];
    uint32_t used, most;
} few;

static void *few_alloc(void *user, size_t bytes)
{
    few *f = (few *)user;
    assert_true(f->used < 16);
    return f->used == f->most ? NULL : (f->blocks[f->used++] = malloc(bytes > 0 ? bytes : 1));
}

static void few_free(few *f)
{
    while (f->used > 0)
        free(f->blocks[--f->used]);
}

/* A copy owns all its memory; without memory for a block there is no copy. */
static void test_copy(void **state)
{
    NNRT_Int64List lists[2];
    NNRT_EveryKind want = filled(lists), given;
    int64_t ints[3], large[2], inner[2];
    float reals[3];
    char mode[16];
    NNRT_Int64List outer[2];
    NNRT_EveryKind *copy = NULL;
    few f;
    (void)state;
    given = want;
    given.ints.data = (const int64_t *)memcpy(ints, some_ints, sizeof(ints));
    given.large2.data = (const int64_t *)memcpy(large, some_large, sizeof(large));
    given.reals.data = (const float *)memcpy(reals, some_reals, sizeof(reals));
    given.mode = strcpy(mode, want.mode);
    outer[0] = nnrt_int64_list((const int64_t *)memcpy(inner, some_ints, sizeof(inner)), 2);
    outer[1] = lists[1];
    given.lists.data = outer;
    memset(&f, 0, sizeof(f));
    for (uint32_t blocks = 0; blocks <= 7 && copy == NULL; blocks++) {
        few_free(&f);
        f.most = blocks;
        copy = (NNRT_EveryKind *)nnrti_attr_copy(every(), &given, few_alloc, &f);
        assert_true((copy != NULL) == (blocks == 7)); /* the struct, text, three lists, a list of lists and its entry */
    }
    memset(ints, 0, sizeof(ints));
    memset(large, 0, sizeof(large));
    memset(reals, 0, sizeof(reals));
    memset(mode, 0, sizeof(mode));
    memset(inner, 0, sizeof(inner));
    memset(outer, 0, sizeof(outer));
    assert_true(nnrt_attr_equal(every(), copy, &want));
    few_free(&f);
}

/* A copy has its own lists; if any allocation fails there is no copy. */
static void test_copy_lists(void **state)
{
    int64_t values[] = {1, 2, 3};
    NNRT_Int64List lists[3];
    NNRT_SpaceToBatchND a, *copy = NULL;
    const nnrt_attr_struct *s = nnrt_op_named("SPACE_TO_BATCH_ND")->attr;
    few f;
    (void)state;
    nnrt_attr_defaults(s, &a);
    lists[0] = nnrt_int64_list(values, 2);
    lists[1] = nnrt_int64_list(values, 0); /* an empty list needs no memory */
    lists[2] = nnrt_int64_list(values, 3);
    a.blockShape = nnrt_int64_list(values, 2);
    a.paddings.data = lists;
    a.paddings.count = 3;
    memset(&f, 0, sizeof(f));
    for (uint32_t n = 0; copy == NULL; n++) {
        few_free(&f);
        f.most = n;
        copy = (NNRT_SpaceToBatchND *)nnrti_attr_copy(s, &a, few_alloc, &f);
        assert_true((copy != NULL) == (n == 5)); /* the struct, a list, the list of lists, two of its lists */
    }
    assert_true(nnrt_attr_equal(s, &a, copy));
    values[0] = 9;
    assert_false(nnrt_attr_equal(s, &a, copy));
    assert_int_equal(copy->paddings.data[2].data[0], 1);
    assert_null(copy->paddings.data[1].data);
    few_free(&f);
}

/* ---- resolving ---- */

typedef struct node {
    nnrt_operand in[1], out[1];
    nnrt_resolve r;
    nnrt_error error;
    few memory;
} node;

static NNRT_ReturnCode resolve(node *n, const void *attr, uint32_t bytes)
{
    static const int32_t dims[] = {2};
    memset(n, 0, sizeof(*n));
    n->in[0] = nnrt_operand_make(NNRT_DATA_TYPE_FLOAT32, 1, dims, NULL);
    n->out[0] = nnrt_operand_make(NNRT_DATA_TYPE_UNKNOWN, 0, NULL, NULL);
    n->r.op = nnrt_op_find(OP);
    n->r.nodeName = "n";
    n->r.node = -1;
    n->r.attr = attr;
    n->r.attrBytes = bytes;
    n->r.in = n->in;
    n->r.out = n->out;
    n->r.nIn = n->r.nOut = 1;
    n->r.alloc = few_alloc;
    n->r.user = &n->memory;
    n->memory.most = 16;
    n->r.error = &n->error;
    return nnrt_resolve_node(&n->r);
}

static void refused(const NNRT_EveryKind *a, NNRT_ReturnCode code, const char *words)
{
    node n;
    assert_int_equal(resolve(&n, a, sizeof(*a)), code);
    if (strstr(n.error.message, words) == NULL)
        fail_msg("'%s' lacks '%s'", n.error.message, words);
    few_free(&n.memory);
}

/* Valid values of a member of each kind; messages for invalid ones have its name. */
static void test_resolve(void **state)
{
    static const int64_t beyond[] = {0, (int64_t)INT32_MAX + 1};
    NNRT_Int64List lists[2];
    NNRT_EveryKind a = filled(lists);
    const NNRT_EveryKind good = a;
    node n;
    (void)state;
    assert_int_equal(resolve(&n, &a, sizeof(a)), NNRT_SUCCESS);
    assert_true(nnrt_attr_equal(every(), n.r.resolved, &a));
    assert_ptr_not_equal(((const NNRT_EveryKind *)n.r.resolved)->mode, a.mode);
    assert_ptr_not_equal(((const NNRT_EveryKind *)n.r.resolved)->reals.data, some_reals);
    few_free(&n.memory);
    for (uint32_t way = 0; way < 2; way++) { /* the empty text is the default */
        a.mode = way == 0 ? NULL : "";
        assert_int_equal(resolve(&n, &a, sizeof(a)), NNRT_SUCCESS);
        assert_string_equal(((const NNRT_EveryKind *)n.r.resolved)->mode, "DCR");
        few_free(&n.memory);
    }
    a = good;
    a.type = NNRT_DATA_TYPE_UNKNOWN;
    a.wideType = NNRT_DATA_TYPE_UNKNOWN;
    assert_int_equal(resolve(&n, &a, sizeof(a)), NNRT_SUCCESS);
    few_free(&n.memory);
    a.number = beyond[1];
    refused(&a, NNRT_INVALID_PARAMETER, "(EVERY_KIND): number is 2147483648, which lies outside int32");
    a = good;
    a.padMode = 3;
    refused(&a, NNRT_INVALID_PARAMETER, "padMode is 3, expected an enumerator (PAD=0 ... VALID=2)");
    a = good;
    for (int32_t type = -1; type < 50; type++) {
        const bool there = type == 0 || (type >= 0 && nnrt_type_size(type) > 0);
        a = good;
        a.type = type;
        assert_int_equal(resolve(&n, &a, sizeof(a)), there ? NNRT_SUCCESS : NNRT_INVALID_DATATYPE);
        few_free(&n.memory);
        a = good;
        a.wideType = type;
        assert_int_equal(resolve(&n, &a, sizeof(a)), there ? NNRT_SUCCESS : NNRT_INVALID_DATATYPE);
        few_free(&n.memory);
    }
    a.wideType = (int64_t)1 << 32 | NNRT_DATA_TYPE_FLOAT32;
    refused(&a, NNRT_INVALID_DATATYPE, "wideType is 4294967339, which is no element type");
    a = good;
    a.type = 31;
    refused(&a, NNRT_INVALID_DATATYPE, "type is 31, which is no element type");
    a = good;
    a.body = 0;
    refused(&a, NNRT_INVALID_PARAMETER, "body is 0, the main graph");
    a = good;
    a.ints = nnrt_int64_list(beyond, 2);
    refused(&a, NNRT_INVALID_PARAMETER, "ints is 2147483648, which lies outside int32");
    a.ints.data = NULL;
    refused(&a, NNRT_NULL_PTR, "ints counts 2 entries, but has no data");
    a = good;
    a.large2 = nnrt_int64_list(NULL, 2);
    refused(&a, NNRT_NULL_PTR, "large2 counts 2 entries, but has no data");
    a = good;
    a.reals = nnrt_float_list(NULL, 1);
    refused(&a, NNRT_NULL_PTR, "reals counts 1 entries, but has no data");
    a = good;
    lists[1] = nnrt_int64_list(beyond, 2);
    refused(&a, NNRT_INVALID_PARAMETER, "lists[1][1] lies outside int32");
}

/* ---- models and files ---- */

/* A model of one node with these attributes, or a failure with this code and these words in its message. */
static NNRT_Model *model_of(const void *attr, NNRT_ReturnCode code, const char *words)
{
    static const int32_t dims[] = {2};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_error error;
    uint32_t x;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_builder_create(&b, "one", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 1, dims);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", OP, attr, &x, 1));
    assert_int_equal(nnrt_builder_finish(b, &m, &error), code);
    if (strstr(error.message, words) == NULL)
        fail_msg("'%s' lacks '%s'", error.message, words);
    nnrt_builder_destroy(b);
    return m;
}

typedef struct image {
    uint8_t *data;
    size_t bytes;
} image;

static image save(const NNRT_Model *m)
{
    image f;
    assert_int_equal(nnrt_model_save_memory(m, NULL, NULL, 0, &f.bytes, NULL), NNRT_SUCCESS);
    f.data = (uint8_t *)nnrt_alloc(NULL, f.bytes);
    assert_int_equal(nnrt_model_save_memory(m, NULL, f.data, f.bytes, &f.bytes, NULL), NNRT_SUCCESS);
    return f;
}

static void image_free(image *f)
{
    nnrt_free(NULL, f->data, f->bytes);
}

static const NNRT_EveryKind *attr_of(const NNRT_Model *m)
{
    assert_int_equal(m->nodes.data[0].nodeAttr.size, sizeof(NNRT_EveryKind));
    return (const NNRT_EveryKind *)m->nodes.data[0].nodeAttr.data;
}

/* A file preserves every value, and files of different values differ. */
static void test_file(void **state)
{
    NNRT_Int64List lists[2];
    NNRT_EveryKind a = filled(lists);
    NNRT_Model *m = model_of(&a, NNRT_SUCCESS, ""), *back;
    image base = save(m);
    (void)state;
    nnrt_model_destroy(m);
    assert_int_equal(nnrt_model_load_memory(&back, base.data, base.bytes, NULL, NULL), NNRT_SUCCESS);
    assert_true(nnrt_attr_equal(every(), &a, attr_of(back)));
    nnrt_model_destroy(back);
    for (uint32_t i = 0; i < every()->count; i++)
        for (uint32_t way = 0; way < 4; way++) {
            image f;
            a = filled(lists);
            if (i == 9 || !change(&a, lists, i, way)) /* the model has no second graph */
                continue;
            m = model_of(&a, NNRT_SUCCESS, "");
            assert_true(nnrt_attr_equal(every(), &a, attr_of(m)));
            f = save(m);
            assert_false(f.bytes == base.bytes && memcmp(f.data, base.data, f.bytes) == 0);
            nnrt_model_destroy(m);
            assert_int_equal(nnrt_model_load_memory(&back, f.data, f.bytes, NULL, NULL), NNRT_SUCCESS);
            assert_true(nnrt_attr_equal(every(), &a, attr_of(back)));
            nnrt_model_destroy(back);
            image_free(&f);
        }
    image_free(&base);
}

/* NaN floats keep their bits. */
static void test_file_bits(void **state)
{
    static const uint32_t odd[] = {0x7FC12345u, 0xFF800000u, 0x80000000u, 1u};
    static const uint64_t wide = 0xFFF8000000001234u;
    float reals[4];
    NNRT_Int64List lists[2];
    NNRT_EveryKind a = filled(lists);
    NNRT_Model *m, *back;
    image f;
    (void)state;
    memcpy(reals, odd, sizeof(reals));
    memcpy(&a.precise, &wide, sizeof(wide));
    a.reals = nnrt_float_list(reals, 4);
    m = model_of(&a, NNRT_SUCCESS, "");
    f = save(m);
    assert_int_equal(nnrt_model_load_memory(&back, f.data, f.bytes, NULL, NULL), NNRT_SUCCESS);
    assert_memory_equal(attr_of(back)->reals.data, odd, sizeof(odd));
    assert_memory_equal(&attr_of(back)->precise, &wide, sizeof(wide));
    nnrt_model_destroy(back);
    nnrt_model_destroy(m);
    image_free(&f);
}

static nnrti_file_row row_of(const image *f, uint32_t type)
{
    nnrti_file_row row;
    for (uint32_t i = 0;; i++) {
        memcpy(&row, f->data + NNRT_FILE_HEADER + i * sizeof(row), sizeof(row));
        if (row.type == type)
            return row;
    }
}

/* A file with other 8 bytes of attribute i fails to load with these words. */
static void slot_refused(image *f, uint32_t i, uint64_t slot, const char *words)
{
    nnrti_file_node n;
    nnrt_error error;
    NNRT_Model *m = NULL;
    uint8_t *at, was[8];
    memcpy(&n, f->data + row_of(f, NNRTI_FILE_NODES).offset, sizeof(n));
    at = f->data + row_of(f, NNRTI_FILE_LISTS).offset + n.attr.at * 4 + i * 8;
    memcpy(was, at, sizeof(was));
    memcpy(at, &slot, sizeof(slot));
    memset(&error, 0, sizeof(error));
    assert_int_not_equal(nnrt_model_load_memory(&m, f->data, f->bytes, NULL, &error), NNRT_SUCCESS);
    assert_null(m);
    if (strstr(error.message, words) == NULL)
        fail_msg("attribute %u: '%s' lacks '%s'", (unsigned)i, error.message, words);
    memcpy(at, was, sizeof(was));
}

static void test_bad_files(void **state)
{
    const uint64_t high = (uint64_t)1 << 32;
    NNRT_Int64List lists[2];
    NNRT_EveryKind a = filled(lists);
    NNRT_Model *m = model_of(&a, NNRT_SUCCESS, "");
    image f = save(m), fewer;
    nnrti_file_node n;
    uint64_t text, words = row_of(&f, NNRTI_FILE_LISTS).bytes / 4;
    (void)state;
    nnrt_model_destroy(m);
    memcpy(&n, f.data + row_of(&f, NNRTI_FILE_NODES).offset, sizeof(n));
    memcpy(&text, f.data + row_of(&f, NNRTI_FILE_LISTS).offset + n.attr.at * 4 + 8 * 8, sizeof(text));
    a.reals.count = 0; /* three floats need 16 bytes, because the next list begins at an even word */
    m = model_of(&a, NNRT_SUCCESS, "");
    fewer = save(m);
    nnrt_model_destroy(m);
    assert_int_equal(row_of(&f, NNRTI_FILE_LISTS).bytes - row_of(&fewer, NNRTI_FILE_LISTS).bytes, 16);
    image_free(&fewer);
    slot_refused(&f, 0, 2, "neither 0 nor 1");
    slot_refused(&f, 3, high, "more than 32 bits");
    slot_refused(&f, 5, high, "does not fit");
    slot_refused(&f, 6, high | 34, "does not fit");
    slot_refused(&f, 8, text | high, "a text has more than 32 bits");
    slot_refused(&f, 8, text + 1, "a text is not where it says");
    slot_refused(&f, 8, 0xFFFFFFFFu, "a text is not where it says");
    slot_refused(&f, 9, high, "a subgraph has more than 32 bits");
    slot_refused(&f, 9, 0, "body is subgraph 0, but the model has 1, of which 0 is the main one");
    slot_refused(&f, 9, 1, "body is subgraph 1, but the model has 1");
    slot_refused(&f, 10, 1 | 2 * high, "not inside the lists");
    slot_refused(&f, 11, (words - 2) | 2 * high, "not inside the lists");
    slot_refused(&f, 12, words | high, "not inside the lists");
    slot_refused(&f, 13, words | high, "not inside the lists");
    slot_refused(&f, 13, 0xFFFFFFFF00000000u, "not inside the lists");
    slot_refused(&f, 13, words * high, "its list is also another one's");
    image_free(&f);
}

/* Files with fewer attributes, or none; older versions stored a TYPE with another kind. */
static void test_other_files(void **state)
{
    const nnrt_attr_struct *cast = nnrt_op_named("QUANT_DTYPE_CAST")->attr;
    static const char names[] = "srcT\0\2dstT\0\2"; /* each with its 0 and the kind INT */
    uint32_t hash = 2166136261u;
    NNRT_Int64List lists[2];
    NNRT_EveryKind a = filled(lists), want;
    NNRT_Model *m = model_of(&a, NNRT_SUCCESS, ""), *back;
    image f = save(m);
    uint8_t *at = f.data + row_of(&f, NNRTI_FILE_NODES).offset;
    nnrti_file_node n;
    (void)state;
    nnrt_model_destroy(m);
    for (size_t i = 0; i + 1 < sizeof(names); i++)
        hash = (hash ^ (uint8_t)names[i]) * 16777619u;
    assert_int_equal(nnrti_file_shape(cast, 2), hash);
    memcpy(&n, at, sizeof(n));
    for (uint32_t count = 0; count <= every()->count; count++) {
        nnrt_attr_defaults(every(), &want);
        for (uint32_t i = 0; i < count; i++)
            memcpy((uint8_t *)&want + every()->members[i].offset, (const uint8_t *)&a + every()->members[i].offset,
                   every()->members[i].bytes);
        n.attr.count = count;
        n.shape = nnrti_file_shape(every(), count);
        memcpy(at, &n, sizeof(n));
        assert_int_equal(nnrt_model_load_memory(&back, f.data, f.bytes, NULL, NULL), NNRT_SUCCESS);
        assert_true(nnrt_attr_equal(every(), &want, attr_of(back)));
        nnrt_model_destroy(back);
    }
    image_free(&f);
}

/* Models: builder failures, a copy, the text for Graphviz. */
static void test_models(void **state)
{
    NNRT_Int64List lists[2];
    NNRT_EveryKind a = filled(lists);
    NNRT_Model *m, *copy;
    nnrt_memory memory;
    char *text;
    size_t bytes;
    (void)state;
    a.reals.data = NULL;
    assert_null(model_of(&a, NNRT_NULL_PTR, "a list of its attributes counts entries, but has no data"));
    a.reals.count = 1;
    assert_null(model_of(&a, NNRT_NULL_PTR, "a list of its attributes counts entries, but has no data"));
    a = filled(lists);
    a.large2.data = NULL;
    assert_null(model_of(&a, NNRT_NULL_PTR, "a list of its attributes counts entries, but has no data"));
    a = filled(lists);
    a.body = 0;
    assert_null(model_of(&a, NNRT_INVALID_NODE, "node 0 'y' (EVERY_KIND): body is subgraph 0, but the model has 1"));
    a.body = 1;
    assert_null(model_of(&a, NNRT_INVALID_NODE, "node 0 'y' (EVERY_KIND): body is subgraph 1, but the model has 1"));
    a = filled(lists);
    m = model_of(&a, NNRT_SUCCESS, "");
    nnrt_memory_allocate(&memory, NULL);
    copy = nnrti_model_copy(m, &memory, true);
    assert_non_null(copy);
    assert_ptr_not_equal(attr_of(copy)->mode, attr_of(m)->mode);
    assert_ptr_not_equal(attr_of(copy)->reals.data, attr_of(m)->reals.data);
    bytes = nnrt_model_dot(m, NULL, NULL, 0) + 1;
    text = (char *)malloc(bytes);
    assert_int_equal(nnrt_model_dot(m, NULL, text, bytes), bytes - 1);
    assert_non_null(strstr(text, "\\ntype=uint8\\nwideType=float64\\nmode='C\\\"R\\\\D'\\nbody=none\\n"));
    assert_non_null(strstr(text, "\\nreals=[0.5,-1e-30,1024]\""));
    free(text);
    nnrt_model_destroy(m);
    assert_true(nnrt_attr_equal(every(), attr_of(copy), &a));
    nnrt_memory_end(&memory);
}

/* A node without attributes, with any stated size, has the defaults, also in a copy and in a file. */
static void test_no_attributes(void **state)
{
    NNRT_Int64List lists[2];
    const NNRT_EveryKind a = filled(lists);
    NNRT_EveryKind want;
    NNRT_Model *m = model_of(&a, NNRT_SUCCESS, ""), bare, *copy;
    NNRT_Node only = m->nodes.data[0];
    (void)state;
    nnrt_attr_defaults(every(), &want);
    bare = *m;
    bare.self = NULL;
    bare.nodes.data = &only;
    for (uint32_t way = 0; way < 3; way++) {
        nnrt_memory memory;
        nnrt_error error;
        image f;
        only.nodeAttr.data = way == 0 ? &a : NULL;
        only.nodeAttr.size = way == 1 ? (uint32_t)sizeof(a) : 0;
        memset(&error, 0, sizeof(error));
        if (nnrt_model_validate(&bare, NULL, &error) != NNRT_SUCCESS)
            fail_msg("%s", error.message);
        nnrt_memory_allocate(&memory, NULL);
        copy = nnrti_model_copy(&bare, &memory, true);
        assert_non_null(copy);
        assert_true(nnrt_attr_equal(every(), attr_of(copy), &want));
        nnrt_memory_end(&memory);
        f = save(&bare);
        assert_int_equal(nnrt_model_load_memory(&copy, f.data, f.bytes, NULL, NULL), NNRT_SUCCESS);
        assert_true(nnrt_attr_equal(every(), attr_of(copy), &want));
        nnrt_model_destroy(copy);
        image_free(&f);
    }
    nnrt_model_destroy(m);
}

/* The generator of the fuzz targets sets every member to other values than its default; a file preserves the valid
   ones. */
static void test_fuzz(void **state)
{
    static fuzz_attr a;
    uint32_t other = 0, wrong = 0, right = 0;
    uint64_t x = 1;
    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        uint8_t bytes[200];
        fuzz_bytes f;
        nnrt_builder *b = NULL;
        NNRT_Model *m = NULL, *back;
        NNRT_EveryKind base;
        static const int32_t dims[] = {2};
        uint32_t in;
        for (uint32_t i = 0; i < sizeof(bytes); i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (uint8_t)(x >> 56);
        }
        f = fuzz_bytes_make(bytes, sizeof(bytes));
        (void)fuzz_attr_make(&f, &a, nnrt_op_find(OP));
        nnrt_attr_defaults(every(), &base);
        for (uint32_t i = 0; i < every()->count; i++)
            if (!nnrti_member_equal(&every()->members[i], (const uint8_t *)&base + every()->members[i].offset,
                                    (const uint8_t *)a.block + every()->members[i].offset))
                other |= 1u << i;
        assert_int_equal(nnrt_builder_create(&b, "one", NULL), NNRT_SUCCESS);
        in = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 1, dims);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", OP, a.block, &in, 1));
        if (nnrt_builder_finish(b, &m, NULL) == NNRT_SUCCESS) {
            image file = save(m);
            assert_int_equal(nnrt_model_load_memory(&back, file.data, file.bytes, NULL, NULL), NNRT_SUCCESS);
            assert_true(nnrt_attr_equal(every(), a.block, attr_of(back)));
            nnrt_model_destroy(back);
            image_free(&file);
            nnrt_model_destroy(m);
            right++;
        } else {
            wrong++;
        }
        nnrt_builder_destroy(b);
    }
    assert_int_equal(other, (1u << every()->count) - 1u);
    assert_true(right > 50 && wrong > 20);
}

/* ---- no attributes, and attributes of zeros ---- */

/* Rule and builder without attributes and with a struct of zeros, for each possible outcome; test_ops does the same
   with the rules of all operators and the inputs of their vectors. inputs: f float32, i int32, u uint8, q quantized
   int8; a digit for each dimension; for int32 "=" and the values. outputs: their number; f: declared as float32. none,
   zeros: "" it works, else words of the message, beginning with the member that is missing. */
static const struct ending {
    const char *op, *inputs, *outputs, *none, *zeros;
} endings[] = {
    {"ADAPTIVE_MAX_POOL_2D", "f1442 i2=2,2", "1", "", ""},
    {"BROADCAST_TO", "f13", "1", "shape has 0 entries", "shape has 0 entries"},
    {"BROADCAST_TO", "f13 i2=2,3", "1", "", ""},
    {"CONSTANT_OF_SHAPE", "i0", "1f", "", ""},
    {"CONSTANT_OF_SHAPE", "i0", "1", "dataType is 0", "dataType is 0"},
    {"DECODE_FLOAT", "u22", "1", "input '", "input '"}, /* codes of bfloat16 are uint16 */
    {"EVERY_KIND", "f2", "1", "", "body is 0, the main graph"},
    {"FULL_CONNECTION", "f23 f43 f4", "1", "hasBias is false, but input 2", "hasBias is false, but input 2"},
    {"GROUP_NORM_FUSION", "f22", "1", "input 1 (scale) is missing", ""},
    {"LP_POOL", "f1144", "1", "kernelShape[0] is 0", "kernelShape[0] is 0"},
    {"LSTM", "f322 f142 f141 f18 f121 f121", "3", "", ""},
    {"PAD_FUSION", "f22", "1", "paddings has 0 lists", "paddings has 0 lists"},
    {"PAD_FUSION", "f22 i22=0,1,0,1", "1", "", ""},
    {"QUANT_DTYPE_CAST", "q22", "1f", "", ""},
    {"QUANT_DTYPE_CAST", "q22", "1", "dstT is 0", "dstT is 0"},
    {"RANGE", "f2", "1", "", "delta is 0"},
    {"RESIZE", "f1442", "1", "newHeight is 0", "newHeight is 0"},
    {"RESIZE", "f1442 i2=2,3", "1", "", ""},
    {"RESIZE_ND", "f22", "1", "expected exactly one of inputs 2 (scales) and 3",
     "expected exactly one of inputs 2 (scales) and 3"},
    {"SOFTPLUS", "f22", "1", "", "beta is 0"},
};

static const NNRT_QuantParam one_scale = {8, 0, 0.5};

/* Input k of a case, with its values in ints; false after the last. */
static bool bare_input(const struct ending *c, uint32_t k, nnrt_operand *o, int32_t ints[4])
{
    const char *p = c->inputs;
    int32_t dims[NNRT_MAX_RANK], rank = 0, n = 0;
    char type;
    for (; k > 0 && p != NULL; k--)
        if ((p = strchr(p, ' ')) != NULL)
            p++;
    if (p == NULL)
        return false;
    type = *p++;
    for (; *p >= '0' && *p <= '9'; p++)
        dims[rank++] = *p - '0';
    while (*p == '=' || *p == ',')
        ints[n++] = (int32_t)strtol(p + 1, (char **)(uintptr_t)&p, 10);
    *o = nnrt_operand_make(type == 'f'   ? NNRT_DATA_TYPE_FLOAT32
                           : type == 'i' ? NNRT_DATA_TYPE_INT32
                           : type == 'u' ? NNRT_DATA_TYPE_UINT8
                                         : NNRT_DATA_TYPE_INT8,
                           rank, dims, n > 0 ? ints : NULL);
    o->name = "operand";
    if (type == 'q') {
        o->quant = &one_scale;
        o->quantCount = 1;
    }
    return true;
}

static void bare_expect(const struct ending *c, NNRT_ReturnCode code, const char *message, const char *want)
{
    char words[160];
    nnrt_text(words, sizeof(words), "(%s): %s", c->op, want);
    if (code == NNRT_SUCCESS && *want != '\0')
        fail_msg("%s works, expected '%s'", c->op, want);
    if (code != NNRT_SUCCESS && (*want == '\0' || strstr(message, words) == NULL))
        fail_msg("%s: '%s', expected '%s'", c->op, message, want);
}

/* Resolves the node of a case with `bytes` bytes of attributes in `attr`. */
static void bare_resolve(const struct ending *c, const void *attr, uint32_t bytes, const char *want, void *resolved)
{
    nnrt_operand in[8], out[4];
    int32_t ints[8][4];
    nnrt_error error;
    nnrt_resolve r;
    few memory;
    memset(&r, 0, sizeof(r));
    memset(&error, 0, sizeof(error));
    memset(&memory, 0, sizeof(memory));
    memory.most = 16;
    for (uint32_t i = 0; i < 8; i++)
        in[i] = nnrt_operand_make(NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
    while (bare_input(c, r.nIn, &in[r.nIn], ints[r.nIn]))
        r.nIn++;
    r.nOut = (uint32_t)(c->outputs[0] - '0');
    for (uint32_t i = 0; i < 4; i++)
        out[i] =
            nnrt_operand_make(c->outputs[1] == 'f' ? NNRT_DATA_TYPE_FLOAT32 : NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
    r.op = nnrt_op_named(c->op);
    r.nodeName = "n";
    r.node = -1;
    r.attr = attr;
    r.attrBytes = bytes;
    r.in = in;
    r.out = out;
    r.alloc = few_alloc;
    r.user = &memory;
    r.error = &error;
    bare_expect(c, nnrt_resolve_node(&r), error.message, want);
    if (*want == '\0' && resolved != NULL)
        assert_true(nnrt_attr_equal(r.op->attr, resolved, r.resolved));
    few_free(&memory);
}

static void bare_build(const struct ending *c, const void *attr, const char *want)
{
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_error error;
    nnrt_operand o;
    int32_t ints[4];
    uint32_t in[8], out[4], nIn = 0;
    const uint32_t nOut = (uint32_t)(c->outputs[0] - '0');
    bool fixed = true;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_builder_create(&b, "one", NULL), NNRT_SUCCESS);
    for (; bare_input(c, nIn, &o, ints); nIn++) {
        in[nIn] = o.data != NULL ? nnrt_builder_constant(b, NULL, o.dataType, o.rank, o.dims, o.data, true)
                                 : nnrt_builder_input(b, NULL, o.dataType, o.rank, o.dims);
        fixed = fixed && o.data != NULL;
        if (o.quantCount > 0)
            nnrt_builder_quant(b, in[nIn], o.quant, o.quantCount);
    }
    if (fixed) /* a model needs an input, even if no node reads it */
        (void)nnrt_builder_input(b, "idle", NNRT_DATA_TYPE_FLOAT32, 0, NULL);
    for (uint32_t i = 0; i < nOut; i++) {
        out[i] = nnrt_builder_tensor(b, NULL);
        if (c->outputs[1] == 'f')
            nnrt_builder_declare(b, out[i], NNRT_DATA_TYPE_FLOAT32, NNRT_RANK_UNKNOWN, NULL);
        nnrt_builder_output(b, out[i]);
    }
    nnrt_builder_node(b, "n", nnrt_op_named(c->op)->type, attr, in, nIn, out, nOut);
    bare_expect(c, nnrt_builder_finish(b, &m, &error), error.message, want);
    if (*want == '\0')
        bare_expect(c, nnrt_model_validate(m, NULL, &error), error.message, want);
    nnrt_model_destroy(m);
    nnrt_builder_destroy(b);
}

static void test_bare(void **state)
{
    static const uint64_t zeros[64] = {0};
    (void)state;
    for (uint32_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const struct ending *c = &endings[i];
        const nnrt_op *op = nnrt_op_named(c->op);
        assert_non_null(op);
        assert_true(op->attr->bytes <= sizeof(zeros));
        bare_resolve(c, NULL, 0, c->none, NULL);
        bare_resolve(c, NULL, op->attr->bytes, c->none, NULL);
        bare_resolve(c, zeros, 0, c->none, NULL);
        bare_resolve(c, zeros, op->attr->bytes, c->zeros, NULL);
        bare_build(c, NULL, c->none);
        if (strcmp(c->op, "EVERY_KIND") != 0) /* its graph fails with other words */
            bare_build(c, zeros, c->zeros);
    }
}

/* Resolved values of zeros; no attributes, and lists of zeros, resolve to the same values. */
static void test_bare_values(void **state)
{
    static const int64_t two[] = {2, 2}, ones[] = {1, 1}, zeros[4] = {0};
    static const NNRT_Int64List no_crops[] = {{zeros, 2}, {zeros, 2}};
    struct ending c = {"CONV2D_FUSION", "f1442 f3222 f3", "1", "", ""};
    NNRT_Conv2DFusion conv, conv0;
    NNRT_Conv2dTransposeFusion up;
    NNRT_AvgPoolFusion pool, pool1;
    NNRT_SpaceToBatchND space, spaceResolved;
    NNRT_BatchToSpaceND batch, batchResolved;
    NNRT_ArgMaxFusion arg;
    NNRT_Split split;
    NNRT_QuantDTypeCast cast;
    (void)state;
    memset(&conv0, 0, sizeof(conv0));
    memset(&conv, 0, sizeof(conv));
    conv.kernelSize = nnrt_int64_list(two, 2);
    conv.stride = conv.dilation = nnrt_int64_list(ones, 2);
    conv.padList = nnrt_int64_list(zeros, 4);
    conv.group = 1;
    conv.inChannel = 2;
    conv.outChannel = 3;
    bare_resolve(&c, NULL, 0, "", &conv);
    bare_resolve(&c, &conv0, sizeof(conv0), "", &conv);
    conv0.stride = conv0.dilation = conv0.kernelSize = nnrt_int64_list(zeros, 2);
    bare_resolve(&c, &conv0, sizeof(conv0), "", &conv);
    conv0.stride.count = 1; /* a list of another length does not count as zeros */
    bare_resolve(&c, &conv0, sizeof(conv0), "stride has 1 entries, expected 2", NULL);
    conv0.stride = nnrt_int64_list(some_large, 0);
    conv0.group = -1;
    bare_resolve(&c, &conv0, sizeof(conv0), "group is -1, expected at least 1", NULL);

    memset(&up, 0, sizeof(up));
    up.kernelSize = conv.kernelSize;
    up.stride = up.dilation = conv.stride;
    up.padList = conv.padList;
    up.outputPaddings = nnrt_int64_list(zeros, 2);
    up.group = 1;
    up.inChannel = 2;
    up.outChannel = 3;
    c.op = "CONV2D_TRANSPOSE_FUSION";
    bare_resolve(&c, NULL, 0, "", &up);

    memset(&pool, 0, sizeof(pool));
    pool.kernelSize = nnrt_int64_list(two, 2);
    pool.strides = nnrt_int64_list(zeros, 2);
    pool1 = pool;
    pool1.strides.data = ones;
    pool1.pad = nnrt_int64_list(zeros, 4);
    c.op = "AVGPOOL_FUSION";
    c.inputs = "f1442";
    bare_resolve(&c, &pool, sizeof(pool), "", &pool1);
    pool.strides.count = 0;
    bare_resolve(&c, &pool, sizeof(pool), "", &pool1);
    pool.strides = nnrt_int64_list(some_ints, 2); /* 1, -2 */
    bare_resolve(&c, &pool, sizeof(pool), "strides[1] is -2, expected at least 1", NULL);

    memset(&space, 0, sizeof(space));
    space.blockShape = nnrt_int64_list(two, 2);
    spaceResolved = space;
    spaceResolved.paddings.data = no_crops;
    spaceResolved.paddings.count = 2;
    c.op = "SPACE_TO_BATCH_ND";
    bare_resolve(&c, &space, sizeof(space), "", &spaceResolved);
    memset(&batch, 0, sizeof(batch));
    batch.blockShape = space.blockShape;
    batchResolved = batch;
    batchResolved.crops = spaceResolved.paddings;
    c.op = "BATCH_TO_SPACE_ND";
    c.inputs = "f4222";
    bare_resolve(&c, &batch, sizeof(batch), "", &batchResolved);

    memset(&arg, 0, sizeof(arg));
    arg.topK = 1;
    c.op = "ARGMAX_FUSION";
    c.inputs = "f22";
    bare_resolve(&c, zeros, sizeof(zeros), "", &arg);
    memset(&split, 0, sizeof(split));
    split.outputNum = 2;
    split.sizeSplits = nnrt_int64_list(two, 2);
    c.op = "SPLIT";
    c.inputs = "f42";
    c.outputs = "2";
    bare_resolve(&c, NULL, 0, "", &split);
    cast.srcT = NNRT_DATA_TYPE_INT8;
    cast.dstT = NNRT_DATA_TYPE_FLOAT32;
    c.op = "QUANT_DTYPE_CAST";
    c.inputs = "q22";
    c.outputs = "1f";
    bare_resolve(&c, NULL, 0, "", &cast);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),    cmocka_unit_test(test_print),       cmocka_unit_test(test_equal),
        cmocka_unit_test(test_copy),        cmocka_unit_test(test_copy_lists),  cmocka_unit_test(test_resolve),
        cmocka_unit_test(test_file),        cmocka_unit_test(test_file_bits),   cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_other_files), cmocka_unit_test(test_models),      cmocka_unit_test(test_fuzz),
        cmocka_unit_test(test_bare),        cmocka_unit_test(test_bare_values), cmocka_unit_test(test_no_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
