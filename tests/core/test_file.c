/* The .nnrt file: a saved model loads unchanged, and nothing in a file is trusted. */
#define _POSIX_C_SOURCE 200809L /* posix_memalign, mkdtemp */
#include "inside.h"

#include "nnrt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "tree.h"
#include "trial.h"
#include "unchecked.h"

/* A file in an aligned block, of which each byte may be changed. */
typedef struct image {
    uint8_t *data;
    size_t bytes;
} image;

static image image_make(const NNRT_Model *m, const nnrt_save_desc *desc)
{
    nnrt_error error;
    image f;
    size_t again;
    memset(&error, 0, sizeof(error));
    if (nnrt_model_save_memory(m, desc, NULL, 0, &f.bytes, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    f.data = (uint8_t *)nnrt_alloc(NULL, f.bytes);
    assert_non_null(f.data);
    memset(f.data, 0xEE, f.bytes);
    assert_int_equal(nnrt_model_save_memory(m, desc, f.data, f.bytes - 1, &again, NULL), NNRT_INSUFFICIENT_BUFFER);
    assert_int_equal(nnrt_model_save_memory(m, desc, f.data, f.bytes, &again, &error), NNRT_SUCCESS);
    assert_int_equal(again, f.bytes);
    return f;
}

static void image_free(image *f)
{
    nnrt_free(NULL, f->data, f->bytes);
}

static NNRT_Model *load(const image *f)
{
    NNRT_Model *m = NULL;
    nnrt_load_desc desc;
    nnrt_error error;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.checksum = true;
    if (nnrt_model_load_memory(&m, f->data, f->bytes, &desc, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    return m;
}

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int64_t random_ints[64];

static NNRT_Int64List random_list(uint64_t *state)
{
    uint32_t count = (uint32_t)(random_next(state) % 5);
    uint32_t at = (uint32_t)(random_next(state) % 60);
    return nnrt_int64_list(random_ints + at, count);
}

/* Any values into an attribute struct, as its description says. lists: room for the lists of a list. */
static void random_attr(const nnrt_attr_struct *s, uint8_t *attr, NNRT_Int64List *lists, uint64_t *state)
{
    nnrt_attr_defaults(s, attr);
    for (uint32_t i = 0; i < s->count; i++) {
        uint8_t *at = attr + s->members[i].offset;
        uint64_t bits = random_next(state);
        uint32_t half = (uint32_t)(bits >> 32);
        bool flag = (bits & 1u) != 0;
        NNRT_Int64List list = random_list(state);
        NNRT_Int64Lists outer;
        switch (s->members[i].kind) {
        case NNRT_ATTR_KIND_BOOL: memcpy(at, &flag, sizeof(flag)); break;
        case NNRT_ATTR_KIND_TYPE:
        case NNRT_ATTR_KIND_INT64:
        case NNRT_ATTR_KIND_INT: memcpy(at, &bits, s->members[i].bytes); break;
        case NNRT_ATTR_KIND_FLOAT:
        case NNRT_ATTR_KIND_ENUM: memcpy(at, &half, sizeof(half)); break;
        case NNRT_ATTR_KIND_INTS: memcpy(at, &list, sizeof(list)); break;
        case NNRT_ATTR_KIND_INTS2:
            memset(&outer, 0, sizeof(outer));
            outer.count = (uint32_t)(bits % 4);
            outer.data = lists;
            for (uint32_t k = 0; k < outer.count; k++)
                lists[k] = random_list(state);
            memcpy(at, &outer, sizeof(outer));
            break;
        default: break;
        }
    }
}

/* A model with `rounds` nodes of every operator there is, or of every `step`-th from the one of number `first` on, which
   nothing but the attributes makes sense of: each node takes the input and gives a result of its own. */
static NNRT_Model *some_operators(uint32_t rounds, uint64_t seed, uint32_t first, uint32_t step)
{
    static const int32_t open[] = {-1, 3};
    static const NNRT_QuantParam quant[] = {{8, -3, 0.25}, {4, 7, 1e-9}};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_error error;
    uint32_t x, last = 0;
    uint64_t attr[64];
    NNRT_Int64List lists[4];
    for (uint32_t i = 0; i < 64; i++)
        random_ints[i] = (int64_t)random_next(&seed);
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_builder_create(&b, "every operator", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, open);
    nnrt_builder_quant(b, x, quant, 2);
    nnrt_builder_format(b, x, NNRT_FORMAT_NCHW);
    for (uint32_t i = 0; i < rounds; i++)
        for (uint32_t k = first; nnrt_op_at(k) != NULL; k += step) {
            const uint32_t in[] = {NNRT_NO_TENSOR, x};
            char name[32];
            assert_true(nnrt_op_at(k)->attr->bytes <= sizeof(attr));
            random_attr(nnrt_op_at(k)->attr, (uint8_t *)attr, lists, &seed);
            (void)nnrt_text(name, sizeof(name), "%s %u", nnrt_op_at(k)->name, i);
            last = unchecked_op(b, name, nnrt_op_at(k)->type, i > 0 ? attr : NULL, in, 1 + (k & 1u));
            if (k % 3 == 0)
                nnrt_builder_quant(b, last, quant + 1, 1);
        }
    nnrt_builder_output(b, last);
    nnrt_builder_output(b, x);
    if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(b);
    return m;
}

static NNRT_Model *every_operator(uint32_t rounds, uint64_t seed)
{
    return some_operators(rounds, seed, 0, 1);
}

static void same_list(const NNRT_Uint32List *a, const NNRT_Uint32List *b)
{
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++)
        assert_int_equal(a->data[i], b->data[i]);
}

static void same_tensor(const NNRT_Tensor *a, const NNRT_Tensor *b)
{
    assert_string_equal(nnrti_text_of(a->name), b->name);
    assert_int_equal(a->dataType, b->dataType);
    assert_int_equal(a->format, b->format);
    assert_int_equal(a->dims.count, b->dims.count);
    for (uint32_t k = 0; k < a->dims.count; k++)
        assert_int_equal(a->dims.data[k], b->dims.data[k]);
    assert_int_equal(a->quantParams.count, b->quantParams.count);
    for (uint32_t k = 0; k < a->quantParams.count; k++)
        assert_memory_equal(&a->quantParams.data[k], &b->quantParams.data[k], sizeof(NNRT_QuantParam));
    assert_int_equal(a->quantAxis, b->quantAxis);
    same_list(&a->symbols, &b->symbols);
    assert_int_equal(nnrti_is_constant(a), nnrti_is_constant(b));
    assert_int_equal(a->data.dataSize, b->data.dataSize);
    if (a->data.dataSize > 0)
        assert_memory_equal(nnrti_buffer_data(&a->data), nnrti_buffer_data(&b->data), a->data.dataSize);
}

/* Everything but addresses is the same. */
static void same_model(const NNRT_Model *a, const NNRT_Model *b)
{
    assert_string_equal(nnrti_text_of(a->name), b->name);
    same_list(&a->inputIndex, &b->inputIndex);
    same_list(&a->outputIndex, &b->outputIndex);
    assert_int_equal(a->allTensors.count, b->allTensors.count);
    for (uint32_t i = 0; i < a->allTensors.count; i++)
        same_tensor(&a->allTensors.data[i], &b->allTensors.data[i]);
    assert_int_equal(a->nodes.count, b->nodes.count);
    for (uint32_t i = 0; i < a->nodes.count; i++) {
        const NNRT_Node *p = &a->nodes.data[i], *q = &b->nodes.data[i];
        assert_string_equal(nnrti_text_of(p->name), q->name);
        assert_int_equal(p->nodeType, q->nodeType);
        assert_int_equal(p->quantType, q->quantType);
        same_list(&p->inputIndex, &q->inputIndex);
        same_list(&p->outputIndex, &q->outputIndex);
        assert_int_equal(q->nodeAttr.size, nnrt_op_find(q->nodeType)->attr->bytes);
        assert_true(nnrt_attr_equal(nnrt_op_find(p->nodeType)->attr, p->nodeAttr.data, q->nodeAttr.data));
    }
    assert_int_equal(a->subGraph.count, b->subGraph.count);
    for (uint32_t i = 0; i < a->subGraph.count; i++) {
        assert_string_equal(nnrti_text_of(a->subGraph.data[i].name), b->subGraph.data[i].name);
        same_list(&a->subGraph.data[i].inputIndices, &b->subGraph.data[i].inputIndices);
        same_list(&a->subGraph.data[i].outputIndices, &b->subGraph.data[i].outputIndices);
        same_list(&a->subGraph.data[i].nodeIndices, &b->subGraph.data[i].nodeIndices);
    }
}

static const float weights[] = {1, 2, 3, -1, 0, 1}, biases[] = {0.5f, -0.5f};
static const nnrt_metadata labels[] = {{"labels", "cat\ndog"}, {"mean", "127.5"}};

/* y = relu(x * w^T + b), then permuted: x [1,3], w [2,3], b [2], y [2,1]. */
static NNRT_Model *small_model(void)
{
    static const int32_t dimsX[] = {1, 3}, dimsW[] = {2, 3}, dimsB[] = {2}, swap[] = {1, 0};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    NNRT_FullConnection attr;
    NNRT_Activation act;
    nnrt_error error;
    uint32_t in[3], last[2];
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_builder_create(&b, "small", NULL), NNRT_SUCCESS);
    nnrt_attr_defaults(nnrt_op_named("FULL_CONNECTION")->attr, &attr);
    nnrt_attr_defaults(nnrt_op_named("ACTIVATION")->attr, &act);
    attr.hasBias = true;
    act.activationType = NNRT_ACTIVATION_TYPE_RELU;
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dimsX);
    in[1] = nnrt_builder_constant(b, "w", NNRT_DATA_TYPE_FLOAT32, 2, dimsW, weights, false);
    in[2] = nnrt_builder_constant(b, "b", NNRT_DATA_TYPE_FLOAT32, 1, dimsB, biases, false);
    last[0] = nnrt_builder_op(b, "fc", NNRT_NODE_TYPE_FULL_CONNECTION, &attr, in, 3);
    last[0] = nnrt_builder_op(b, "relu", NNRT_NODE_TYPE_ACTIVATION, &act, last, 1);
    last[1] = nnrt_builder_constant(b, "swap", NNRT_DATA_TYPE_INT32, 1, dimsB, swap, true);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_TRANSPOSE, NULL, last, 2));
    if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(b);
    return m;
}

static image small_image(void)
{
    NNRT_Model *m = small_model();
    nnrt_save_desc desc;
    image f;
    memset(&desc, 0, sizeof(desc));
    desc.metadata = labels;
    desc.metadataCount = 2;
    f = image_make(m, &desc);
    nnrt_model_destroy(m);
    return f;
}

/* x = [1, -2, 4] gives relu([1 - 4 + 12 + 0.5, -1 + 4 - 0.5]) = [9.5, 2.5]. */
static void small_runs(const NNRT_Model *m)
{
    float x[] = {1, -2, 4}, y[2] = {0, 0};
    nnrt_session *s = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (nnrt_session_create(&s, m, NULL, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_true(y[0] == 9.5f && y[1] == 2.5f);
    nnrt_session_destroy(s);
}

static void test_attributes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        NNRT_Model *m = every_operator(3, seed), *back;
        image f = image_make(m, NULL), again;
        back = load(&f);
        same_model(m, back);
        again = image_make(back, NULL);
        assert_int_equal(again.bytes, f.bytes);
        assert_memory_equal(again.data, f.data, f.bytes);
        nnrt_model_destroy(back);
        nnrt_model_destroy(m);
        image_free(&again);
        image_free(&f);
    }
}

/* Changes the value at `at`; lists: memory for a changed list or list of lists. */
static void change_member(const nnrt_attr_member *m, uint8_t *at, NNRT_Int64List *lists, uint32_t way)
{
    static const int64_t one[] = {1, 2, 3}, other[] = {1, 2, 4};
    static const float real[] = {1, 2, 3}, otherReal[] = {1, 2, 4};
    static const char *const texts[] = {"CRD", "DCR", "a longer text"};
    uint32_t bits;
    uint64_t wide;
    bool flag;
    NNRT_FloatList reals = nnrt_float_list(way == 1 ? otherReal : real, way == 2 ? 2 : 3);
    NNRT_Int64List list = nnrt_int64_list(one, 3);
    NNRT_Int64Lists outer;
    switch (m->kind) {
    case NNRT_ATTR_KIND_BOOL:
        memcpy(&flag, at, sizeof(flag));
        flag = !flag;
        memcpy(at, &flag, sizeof(flag));
        break;
    case NNRT_ATTR_KIND_TYPE:
    case NNRT_ATTR_KIND_INT64:
    case NNRT_ATTR_KIND_INT:
        if (m->bytes == sizeof(bits)) { /* NNRT_DataType */
            memcpy(&bits, at, sizeof(bits));
            bits ^= way == 0 ? 1u : 1u << 22;
            memcpy(at, &bits, sizeof(bits));
            break;
        }
        assert_int_equal(m->bytes, sizeof(wide));
        memcpy(&wide, at, sizeof(wide));
        wide ^= way == 0 ? 1u : (uint64_t)1 << 63;
        memcpy(at, &wide, sizeof(wide));
        break;
    case NNRT_ATTR_KIND_FLOATS: memcpy(at, &reals, sizeof(reals)); break;
    case NNRT_ATTR_KIND_FLOAT:
    case NNRT_ATTR_KIND_ENUM:
        memcpy(&bits, at, sizeof(bits));
        bits ^= way == 0 ? 1u : 1u << 22;
        memcpy(at, &bits, sizeof(bits));
        break;
    case NNRT_ATTR_KIND_INTS:
    case NNRT_ATTR_KIND_INTS2:
        if (way != 0) { /* another entry, where the base has one, or an entry less */
            list.data = way == 1 ? other : one;
            list.count = way == 1 ? 3 : 2;
        }
        lists[0] = nnrt_int64_list(one, 1);
        lists[1] = list;
        memset(&outer, 0, sizeof(outer));
        outer.data = lists;
        outer.count = 2;
        if (m->kind == NNRT_ATTR_KIND_INTS)
            memcpy(at, &list, sizeof(list));
        else
            memcpy(at, &outer, sizeof(outer));
        break;
    case NNRT_ATTR_KIND_STRING: memcpy(at, &texts[way], sizeof(texts[way])); break;
    default: fail_msg("a kind of member that no test knows"); break;
    }
}

/* A model of one node with these attributes. */
static NNRT_Model *one_node(const nnrt_op *op, const void *attr)
{
    static const int32_t dims[] = {2, 3};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_error error;
    uint32_t x;
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_builder_create(&b, "one", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims);
    nnrt_builder_output(b, unchecked_op(b, "y", op->type, attr, &x, 1));
    if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    nnrt_builder_destroy(b);
    return m;
}

/* The struct comes back from a file as it went in. Returns the file. */
static image attr_through_file(const nnrt_op *op, const void *attr)
{
    NNRT_Model *m = one_node(op, attr), *back;
    image f = image_make(m, NULL);
    back = load(&f);
    assert_true(nnrt_attr_equal(op->attr, attr, back->nodes.data[0].nodeAttr.data));
    nnrt_model_destroy(back);
    nnrt_model_destroy(m);
    return f;
}

/* Every member of every operator, changed alone: the comparison, the file and the loaded model show it, so that none of the
   three omits a member. */
static void test_changed_members(void **state)
{
    uint32_t members = 0;
    (void)state;
    for (uint32_t k = 0; nnrt_op_at(k) != NULL; k++) {
        const nnrt_op *op = nnrt_op_at(k);
        const nnrt_attr_struct *s = op->attr;
        uint64_t base[64], changed[64];
        NNRT_Int64List baseLists[2], lists[2];
        assert_true(s->bytes <= sizeof(base));
        if ((op->flags & NNRT_OP_GRAPHS) != 0) /* test_subgraphs has models of these */
            continue;
        for (uint32_t i = 0; i < s->count; i++, members++)
            for (uint32_t way = 1; way < 3; way++) {
                const uint32_t at = s->members[i].offset;
                image f, g;
                nnrt_attr_defaults(s, base);
                change_member(&s->members[i], (uint8_t *)base + at, baseLists, 0);
                memcpy(changed, base, sizeof(base));
                change_member(&s->members[i], (uint8_t *)changed + at, lists, way);
                assert_false(nnrt_attr_equal(s, base, changed));
                f = attr_through_file(op, base);
                g = attr_through_file(op, changed);
                assert_true(f.bytes != g.bytes || memcmp(f.data, g.data, f.bytes) != 0);
                image_free(&g);
                image_free(&f);
            }
    }
    print_message("%u members, each changed by itself\n", members);
    assert_true(members > 100);
}

static void test_outputs(void **state)
{
    NNRT_Model *m = small_model(), *back;
    image f = small_image();
    (void)state;
    small_runs(m);
    back = load(&f);
    same_model(m, back);
    small_runs(back);
    assert_int_equal(nnrt_model_optimize(&back, NULL, NULL), NNRT_SUCCESS);
    small_runs(back);
    assert_string_equal(nnrt_model_metadata(back, "mean"), "127.5");
    nnrt_model_destroy(back);
    nnrt_model_destroy(m);
    image_free(&f);
}

/* Row i of the section table. */
static nnrti_file_row row_get(const image *f, uint32_t i)
{
    nnrti_file_row row;
    memcpy(&row, f->data + 64 + i * 40, sizeof(row));
    return row;
}

/* The first bytes are as described in nnrt.h, computed by hand; the checksum follows from all of them. */
static void test_layout(void **state)
{
    static const uint8_t head[] = {0x89, 'N', 'N', 'R', 'T', '\r', '\n', 0x1A, 1, 0, 0, 0, 64, 0, 0, 0};
    static const uint8_t dims[] = {2, 0, 0, 0, 3, 0, 0, 0};
    image f = small_image();
    const uint8_t *at, *lists;
    uint64_t hash = 0xCBF29CE484222325u, stands = 0;
    (void)state;
    assert_true(nnrt_file_is(f.data, f.bytes));
    assert_false(nnrt_file_is(f.data, NNRT_FILE_HEADER - 1));
    assert_memory_equal(f.data, head, sizeof(head));
    assert_int_equal(f.bytes % 64, 0);
    assert_int_equal(f.data[16] + 256 * f.data[17], f.bytes);
    assert_int_equal(f.data[32], 8);
    assert_int_equal(f.data[36], 40);
    assert_int_equal(f.data[64], 1);                              /* strings */
    assert_int_equal(f.data[64 + 8] + 256 * f.data[64 + 9], 384); /* 64 + 8 * 40, a multiple of 64 */
    /* tensor 1, 'w': float32 (43), constant, 2 axes; its shape and data */
    at = f.data + row_get(&f, 3).offset + 56;
    lists = f.data + row_get(&f, 5).offset;
    assert_true(at[4] == 43 && at[12] == 1 && at[20] == 2 && at[40] == 24);
    assert_memory_equal(lists + at[16] * 4, dims, sizeof(dims));
    assert_memory_equal(f.data + row_get(&f, 7).offset + at[32], weights, sizeof(weights));
    for (size_t i = 0; i < f.bytes; i++)
        hash = (hash ^ (i >= 24 && i < 32 ? 0u : f.data[i])) * 1099511628211u;
    for (size_t i = 0; i < 8; i++)
        stands |= (uint64_t)f.data[24 + i] << (8 * i);
    assert_true(hash == stands);
    image_free(&f);
}

static bool inside(const image *f, const void *at, size_t bytes)
{
    return (const uint8_t *)at >= f->data && bytes <= f->bytes && (const uint8_t *)at <= f->data + f->bytes - bytes;
}

static void test_in_place(void **state)
{
    image f = small_image();
    NNRT_Model *m = load(&f);
    nnrt_file_section section;
    size_t at = 0;
    uint32_t count = 0;
    (void)state;
    assert_true(inside(&f, m->name, 6) && inside(&f, m->inputIndex.data, 4));
    for (uint32_t i = 0; i < m->allTensors.count; i++) {
        const NNRT_Tensor *t = &m->allTensors.data[i];
        assert_true(inside(&f, t->name, strlen(t->name) + 1));
        assert_true(t->dims.count == 0 || inside(&f, t->dims.data, t->dims.count * 4));
        if (!nnrti_is_constant(t))
            continue;
        assert_true(inside(&f, nnrti_buffer_data(&t->data), t->data.dataSize));
        assert_int_equal((uintptr_t)nnrti_buffer_data(&t->data) % 64, 0);
        count++;
    }
    assert_int_equal(count, 3);
    for (count = 0; nnrt_model_section(m, count, &section); count++) {
        assert_true(section.data == f.data + section.offset && section.offset >= at && section.offset % 64 == 0);
        assert_int_equal(section.type, count + 1);
        assert_string_equal(section.name, "");
        at = section.offset + section.bytes;
    }
    assert_int_equal(count, 8);
    assert_string_equal(section.kind != NULL ? section.kind : "", "");
    assert_true(nnrt_model_section(m, 7, &section));
    assert_string_equal(section.kind, "weights");
    assert_int_equal(section.bytes, 64 + 64 + 8);
    nnrt_model_destroy(m);
    image_free(&f);
}

static void test_metadata(void **state)
{
    image f = small_image();
    NNRT_Model *m = load(&f), *plain = small_model();
    nnrt_metadata wrong[2] = {{"k", "v"}, {"k", "w"}};
    nnrt_save_desc desc;
    size_t bytes;
    (void)state;
    assert_string_equal(nnrt_model_metadata(m, "labels"), "cat\ndog");
    assert_string_equal(nnrt_model_metadata(m, "mean"), "127.5");
    assert_null(nnrt_model_metadata(m, "std"));
    assert_null(nnrt_model_metadata(m, NULL));
    assert_string_equal(nnrt_model_metadata_at(m, 1).key, "mean");
    assert_null(nnrt_model_metadata_at(m, 2).key);
    assert_null(nnrt_model_metadata(plain, "labels"));
    memset(&desc, 0, sizeof(desc));
    desc.metadata = wrong;
    desc.metadataCount = 2;
    assert_int_equal(nnrt_model_save_memory(plain, &desc, NULL, 0, &bytes, NULL), NNRT_INVALID_PARAMETER);
    wrong[1].key = "";
    assert_int_equal(nnrt_model_save_memory(plain, &desc, NULL, 0, &bytes, NULL), NNRT_INVALID_PARAMETER);
    wrong[1].key = "l";
    wrong[1].value = NULL;
    assert_int_equal(nnrt_model_save_memory(plain, &desc, NULL, 0, &bytes, NULL), NNRT_INVALID_PARAMETER);
    wrong[1].value = "";
    assert_int_equal(nnrt_model_save_memory(plain, &desc, NULL, 0, &bytes, NULL), NNRT_SUCCESS);
    desc.metadata = NULL;
    assert_int_equal(nnrt_model_save_memory(plain, &desc, NULL, 0, &bytes, NULL), NNRT_NULL_PTR);
    nnrt_model_destroy(plain);
    nnrt_model_destroy(m);
    image_free(&f);
}

/* Keys are unique in a file, too, though another program wrote it. */
static void test_metadata_twice(void **state)
{
    static const nnrt_metadata two[2] = {{"key-a", "v"}, {"key-b", "w"}};
    static const char *const faults[] = {"metadata 1: its key is also another one's", "metadata 1: has no key"};
    static uint8_t block[8192];
    uint8_t *data = block + (NNRT_ALIGNMENT - (uintptr_t)block % NNRT_ALIGNMENT) % NNRT_ALIGNMENT;
    NNRT_Model *m = small_model(), *loaded = NULL;
    nnrt_save_desc desc;
    nnrt_error error;
    size_t bytes = 0, at = 0;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    desc.metadata = two;
    desc.metadataCount = 2;
    assert_int_equal(nnrt_model_save_memory(m, &desc, data, sizeof(block) - NNRT_ALIGNMENT, &bytes, NULL), NNRT_SUCCESS);
    while (memcmp(data + at, "key-b", 5) != 0)
        at++;
    for (uint32_t k = 0; k < 2; k++) {
        data[at + 4] = 'a';
        data[at] = k == 0 ? 'k' : '\0';
        memset(&error, 0, sizeof(error));
        assert_int_equal(nnrt_model_load_memory(&loaded, data, bytes, NULL, &error), NNRT_INVALID_FILE);
        if (strstr(error.message, faults[k]) == NULL)
            fail_msg("%s", error.message);
    }
    data[at] = 'k';
    data[at + 4] = 'c';
    assert_int_equal(nnrt_model_load_memory(&loaded, data, bytes, NULL, NULL), NNRT_SUCCESS);
    nnrt_model_destroy(loaded);
    nnrt_model_destroy(m);
}

/* Runs a model that a broken file gave, with 256 KiB of memory and on zeros. The answer may be any code. */
static void try_to_run(const NNRT_Model *m)
{
    nnrt_io io[2][4];
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    nnrt_allocator a;
    uint32_t n[2];
    trial t;
    a = trial_allocator(&t);
    t.limit = 262144;
    memset(&desc, 0, sizeof(desc));
    desc.allocator = &a;
    if (nnrt_session_create(&s, m, &desc, NULL) == NNRT_SUCCESS) {
        n[0] = nnrt_session_inputs(s);
        n[1] = nnrt_session_outputs(s);
        assert_true(n[0] <= 4 && n[1] <= 4);
        for (uint32_t k = 0; k < 2; k++)
            for (uint32_t i = 0; i < n[k]; i++) {
                const size_t bytes = (k == 0 ? nnrt_session_input(s, i) : nnrt_session_output(s, i)).bytes;
                io[k][i] = nnrt_io_make(bytes < 1048576 ? calloc(1, bytes + 1) : NULL, bytes);
            }
        (void)nnrt_run(s, io[0], n[0], io[1], n[1]);
        for (uint32_t k = 0; k < 2; k++)
            for (uint32_t i = 0; i < n[k]; i++)
                free(io[k][i].data);
    }
    nnrt_session_destroy(s);
    assert_int_equal(t.live, 0);
}

/* Loads any bytes. Memory stays within the limits in the header. Returns true for a valid model. */
static bool survives(const uint8_t *data, size_t bytes, size_t justified, bool run)
{
    NNRT_Model *m = NULL;
    nnrt_load_desc desc;
    nnrt_error error;
    nnrt_allocator a;
    NNRT_ReturnCode code;
    trial t;
    a = trial_allocator(&t);
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.allocator = &a;
    code = nnrt_model_load_memory(&m, data, bytes, &desc, &error);
    assert_int_equal(code == NNRT_SUCCESS, m != NULL);
    assert_int_equal(error.code, code);
    assert_true(code == NNRT_SUCCESS || error.message[0] != '\0');
    assert_true(t.most <= NNRT_FILE_FACTOR * justified + 4096);
    if (m != NULL) {
        if (run)
            try_to_run(m);
        nnrt_model_destroy(m);
    }
    assert_int_equal(t.live, 0);
    return code == NNRT_SUCCESS;
}

static void test_truncated(void **state)
{
    image f = small_image();
    (void)state;
    for (size_t n = 0; n < f.bytes; n++) {
        /* posix_memalign's block has n bytes and no more: the sanitizer detects reads after them */
        void *block = NULL;
        assert_int_equal(posix_memalign(&block, 64, n > 0 ? n : 1), 0);
        memcpy(block, f.data, n);
        assert_false(survives((const uint8_t *)block, n, f.bytes, false));
        free(block);
    }
    assert_true(survives(f.data, f.bytes, f.bytes, true));
    image_free(&f);
}

/* Each byte before the weights takes these values; each byte of the weights changes once. */
static void test_changed_bytes(void **state)
{
    static const uint8_t values[] = {0, 1, 0x7F, 0x80, 0xFF};
    image f = small_image();
    NNRT_Model *m = load(&f);
    nnrt_file_section w;
    uint32_t models = 0, trials = 0;
    nnrt_load_desc desc;
    (void)state;
    assert_true(nnrt_model_section(m, 7, &w));
    nnrt_model_destroy(m);
    memset(&desc, 0, sizeof(desc));
    desc.checksum = true;
    for (size_t i = 0; i < w.offset; i++)
        for (size_t k = 0; k < sizeof(values); k++) {
            uint8_t was = f.data[i];
            f.data[i] = values[k];
            models += survives(f.data, f.bytes, w.offset, true);
            trials++;
            if (was != values[k])
                assert_int_not_equal(nnrt_model_load_memory(&m, f.data, f.bytes, &desc, NULL), NNRT_SUCCESS);
            f.data[i] = was;
        }
    for (size_t i = w.offset; i < f.bytes; i++) {
        f.data[i] ^= 0x55;
        assert_true(survives(f.data, f.bytes, w.offset, true));
        assert_int_equal(nnrt_model_load_memory(&m, f.data, f.bytes, &desc, NULL), NNRT_INVALID_FILE);
        f.data[i] ^= 0x55;
    }
    print_message("%u files with one structural byte changed, %u of them are still models\n", trials, models);
    image_free(&f);
}

/* Files with attributes of every operator: each byte takes one value, and random bytes take random values. Several files,
   as each trial reads all of its file. */
#define ATTRIBUTE_FILES 14

static void test_changed_attributes(void **state)
{
    static const uint8_t values[] = {0, 1, 0x7F, 0x80, 0xFF};
    uint64_t seed = 9;
    (void)state;
    for (uint32_t n = 0; n < ATTRIBUTE_FILES; n++) {
        NNRT_Model *m = some_operators(2, 5 + n, n, ATTRIBUTE_FILES);
        image f = image_make(m, NULL);
        nnrt_model_destroy(m);
        for (size_t i = 0; i < f.bytes; i++) {
            uint8_t was = f.data[i];
            f.data[i] = values[(i + n) % sizeof(values)];
            (void)survives(f.data, f.bytes, f.bytes, false);
            f.data[i] = was;
        }
        for (uint32_t i = 0; i < 3000 / ATTRIBUTE_FILES; i++) {
            uint8_t was[4];
            size_t at[4];
            for (uint32_t k = 0; k < 4; k++) {
                at[k] = (size_t)(random_next(&seed) % f.bytes);
                was[k] = f.data[at[k]];
                f.data[at[k]] = (uint8_t)random_next(&seed);
            }
            (void)survives(f.data, f.bytes, f.bytes, false);
            for (uint32_t k = 4; k-- > 0;)
                f.data[at[k]] = was[k];
        }
        image_free(&f);
    }
}

static uint64_t checksum_of(const image *f)
{
    nnrti_file_header h;
    memcpy(&h, f->data, sizeof(h));
    return nnrti_file_checksum(f->data, &h);
}

/* Puts a row in, makes the checksum right, and wants a refusal that contains text. */
static void row_refused(image *f, uint32_t i, const nnrti_file_row *row, const char *text)
{
    nnrti_file_row was = row_get(f, i);
    NNRT_Model *m = NULL;
    nnrt_load_desc desc;
    nnrt_error error;
    uint64_t sum;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.checksum = true;
    memcpy(f->data + 64 + i * 40, row, sizeof(*row));
    sum = checksum_of(f);
    memcpy(f->data + 24, &sum, sizeof(sum));
    assert_int_equal(nnrt_model_load_memory(&m, f->data, f->bytes, &desc, &error), NNRT_INVALID_FILE);
    if (strstr(error.message, text) == NULL)
        fail_msg("the message is '%s', expected '%s' in it", error.message, text);
    memcpy(f->data + 64 + i * 40, &was, sizeof(was));
}

static void test_sections(void **state)
{
    image f = small_image();
    nnrti_file_row row;
    (void)state;
    row = row_get(&f, 3), row.offset = row_get(&f, 2).offset;
    row_refused(&f, 3, &row, "not behind the one before it");
    row = row_get(&f, 3), row.offset += 32;
    row_refused(&f, 3, &row, "not aligned");
    row = row_get(&f, 3), row.alignment = 96;
    row_refused(&f, 3, &row, "not aligned");
    row = row_get(&f, 3), row.alignment = 0;
    row_refused(&f, 3, &row, "not aligned");
    row = row_get(&f, 7), row.offset = (uint64_t)0 - 64;
    row_refused(&f, 7, &row, "inside the file");
    row = row_get(&f, 7), row.bytes = f.bytes;
    row_refused(&f, 7, &row, "inside the file");
    row = row_get(&f, 7), row.bytes = UINT64_MAX;
    row_refused(&f, 7, &row, "inside the file");
    row = row_get(&f, 3), row.record = 0;
    row_refused(&f, 3, &row, "whole records");
    row = row_get(&f, 3), row.record = 28;
    row_refused(&f, 3, &row, "wrong size");
    row = row_get(&f, 3), row.type = 3;
    row_refused(&f, 3, &row, "twice");
    row = row_get(&f, 6), row.type = 1000, row.flags = 1;
    row_refused(&f, 6, &row, "not known here");
    row = row_get(&f, 0), row.bytes--;
    row_refused(&f, 0, &row, "begin and end in 0");
    row = row_get(&f, 7), row.bytes = 64;
    row_refused(&f, 7, &row, "not inside the weights");
    row = row_get(&f, 0), row.name = 3;
    row_refused(&f, 0, &row, "a text is not where it says");
    row = row_get(&f, 1), row.type = 77;
    row_refused(&f, 1, &row, "must have one record");
    image_free(&f);
}

/* Places one u32 of record `record` of the section in row i, makes the checksum right, and wants a refusal that contains
   text. */
static void field_refused(image *f, uint32_t i, uint32_t record, size_t offset, uint32_t value, const char *text)
{
    uint8_t *at = f->data + row_get(f, i).offset + record * (size_t)row_get(f, i).record + offset;
    NNRT_Model *m = NULL;
    nnrt_load_desc desc;
    nnrt_error error;
    uint64_t sum;
    uint32_t was;
    memset(&desc, 0, sizeof(desc));
    memset(&error, 0, sizeof(error));
    desc.checksum = true;
    memcpy(&was, at, sizeof(was));
    memcpy(at, &value, sizeof(value));
    sum = checksum_of(f);
    memcpy(f->data + 24, &sum, sizeof(sum));
    assert_int_not_equal(nnrt_model_load_memory(&m, f->data, f->bytes, &desc, &error), NNRT_SUCCESS);
    assert_null(m);
    if (strstr(error.message, text) == NULL)
        fail_msg("the message is '%s', expected '%s' in it", error.message, text);
    memcpy(at, &was, sizeof(was));
}

/* The format's hashes follow its description: published values of FNV-1a, and the shape of FULL_CONNECTION's attributes as a
   script computes it from their names and kinds. */
static void test_hashes(void **state)
{
    const nnrt_attr_struct *attr = nnrt_op_find(NNRT_NODE_TYPE_FULL_CONNECTION)->attr;
    (void)state;
    assert_true(nnrti_fnv64(NNRTI_FNV64, (const uint8_t *)"", 0) == 0xCBF29CE484222325u);
    assert_true(nnrti_fnv64(NNRTI_FNV64, (const uint8_t *)"a", 1) == 0xAF63DC4C8601EC8Cu);
    assert_true(nnrti_fnv64(NNRTI_FNV64, (const uint8_t *)"foobar", 6) == 0x85944171F73967E8u);
    assert_int_equal(nnrti_file_shape(attr, 0), 2166136261u);
    assert_int_equal(nnrti_file_shape(attr, 1), 0xDACAECCDu);
    assert_int_equal(nnrti_file_shape(attr, 4), 0xC956FB01u);
}

static void test_records(void **state)
{
    image f = small_image();
    nnrti_file_tensor t[3];
    nnrti_file_node n;
    uint32_t own;
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        memcpy(&t[i], f.data + row_get(&f, 3).offset + i * sizeof(t[0]), sizeof(t[0]));
    memcpy(&n, f.data + row_get(&f, 4).offset, sizeof(n));
    field_refused(&f, 1, 0, 0, 2, "a text is not where it says");
    field_refused(&f, 1, 0, 0, 0xFFFFFFFFu, "a text is not where it says");
    field_refused(&f, 4, 0, 0, 1, "its text is also another one's");
    field_refused(&f, 1, 0, 8, 0xFFFFFFF0u, "not inside the lists");
    field_refused(&f, 1, 0, 12, 0xFFFFFFFFu, "not inside the lists");
    field_refused(&f, 3, 1, 4, 99, "dataType 99 does not exist");
    field_refused(&f, 3, 1, 8, 99, "format 99 does not exist");
    field_refused(&f, 3, 1, 12, 0, "which no node writes");
    field_refused(&f, 3, 0, 0, t[1].name, "both named 'w'");
    field_refused(&f, 3, 1, 20, 9, "also another one's");
    field_refused(&f, 3, 1, 40, 20, "has 20 bytes of data, its shape needs 24");
    field_refused(&f, 3, 1, 32, 2, "not aligned to 4 bytes");
    field_refused(&f, 3, 1, 36, 1, "not inside the weights");
    field_refused(&f, 3, 1, 40, 0xFFFFFFFFu, "not inside the weights");
    field_refused(&f, 4, 0, 4, 9999, "no operator with number 9999");
    field_refused(&f, 4, 0, 4, NNRT_NODE_TYPE_ACTIVATION, "not those of its operator");
    field_refused(&f, 4, 0, 12, n.shape + 1, "not those of its operator");
    field_refused(&f, 4, 0, 16, n.attr.at + 1, "not inside the lists");
    field_refused(&f, 4, 0, 20, 200, "does not know");
    field_refused(&f, 4, 0, 20, n.attr.count - 1, "not those of its operator");
    field_refused(&f, 5, 0, 0, 1000, "");
    field_refused(&f, 5, t[1].dims.at, 0, 0x7FFFFFFF,
                  sizeof(size_t) > 4 ? "has 24 bytes of data, its shape needs" : "tensor 1 'w'");
    field_refused(&f, 5, t[1].dims.at, 0, 0x80000000u, "size -2147483648 of axis 0, expected -1 or more");
    field_refused(&f, 5, t[0].dims.at, 0, (uint32_t)-2, "tensor 0 'x': size -2 of axis 0, expected -1 or more");
    /* the second node reads its own result */
    memcpy(&n, f.data + row_get(&f, 4).offset + row_get(&f, 4).record, sizeof(n));
    memcpy(&own, f.data + row_get(&f, 5).offset + n.outputs.at * 4, sizeof(own));
    field_refused(&f, 5, n.inputs.at, 0, own, "needs its own result: a cycle through tensor");
    for (uint32_t i = 0; i < 2; i++) { /* FULL_CONNECTION, ACTIVATION: numbers that their attributes cannot have */
        const nnrt_attr_struct *attr;
        memcpy(&n, f.data + row_get(&f, 4).offset + i * (size_t)row_get(&f, 4).record, sizeof(n));
        attr = nnrt_op_find(n.nodeType)->attr;
        for (uint32_t k = 0; k < attr->count; k++) {
            if (attr->members[k].kind == NNRT_ATTR_KIND_BOOL)
                field_refused(&f, 5, n.attr.at + 2 * k, 0, 2, "neither 0 nor 1");
            if (attr->members[k].kind == NNRT_ATTR_KIND_ENUM)
                field_refused(&f, 5, n.attr.at + 2 * k + 1, 0, 1, "does not fit");
            if (attr->members[k].kind == NNRT_ATTR_KIND_FLOAT)
                field_refused(&f, 5, n.attr.at + 2 * k + 1, 0, 1, "more than 32 bits");
        }
    }
    field_refused(&f, 6, 0, 4, 5, "metadata 0");
    image_free(&f);
}

/* This version reads files of others: unknown sections and record tails, fewer attributes. */
static void test_other_versions(void **state)
{
    image f = small_image();
    nnrti_file_row row = row_get(&f, 6);
    NNRT_Model *m = NULL;
    nnrti_file_node n;
    uint8_t *at = f.data + row_get(&f, 4).offset;
    const nnrt_attr_struct *s = nnrt_op_named("FULL_CONNECTION")->attr;
    (void)state;
    row.type = 1000;
    memcpy(f.data + 64 + 6 * 40, &row, sizeof(row));
    assert_int_equal(nnrt_model_load_memory(&m, f.data, f.bytes, NULL, NULL), NNRT_SUCCESS);
    assert_null(nnrt_model_metadata(m, "mean"));
    small_runs(m);
    nnrt_model_destroy(m);
    row.type = NNRTI_FILE_DEVICE;
    memcpy(f.data + 64 + 6 * 40, &row, sizeof(row));
    assert_int_equal(nnrt_model_load_memory(&m, f.data, f.bytes, NULL, NULL), NNRT_SUCCESS);
    nnrt_model_destroy(m);
    /* one attribute is known to the file: hasBias is then false, its default, and three inputs are one too many */
    memcpy(&n, at, sizeof(n));
    assert_true(n.attr.count == s->count && s->count >= 2);
    for (uint32_t count = 0; count < s->count; count++) {
        const NNRT_FullConnection *attr;
        n.attr.count = count;
        n.shape = nnrti_file_shape(s, count);
        memcpy(at, &n, sizeof(n));
        assert_int_equal(nnrt_model_load_memory(&m, f.data, f.bytes, NULL, NULL), NNRT_SUCCESS);
        attr = (const NNRT_FullConnection *)m->nodes.data[0].nodeAttr.data;
        if (count == 0)
            assert_false(attr->hasBias);
        nnrt_model_destroy(m);
    }
    for (uint32_t version = 0; version < 4; version++) {
        f.data[8] = (uint8_t)version;
        assert_int_equal(nnrt_model_load_memory(&m, f.data, f.bytes, NULL, NULL),
                         version == 1 || version == 2 ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
        nnrt_model_destroy(m);
    }
    image_free(&f);
}

/* Records of tensors as 0.1.0 wrote them, without the last members, and with a tail that this version does not know. */
static void check_records(uint32_t record)
{
    image f = small_image(), g;
    nnrti_file_row row, last;
    NNRT_Model *m = NULL;
    uint64_t bytes;
    /* the tensors move to the end, with that many bytes each; later rows move up */
    row = row_get(&f, 3);
    assert_int_equal(row.record, 56);
    assert_int_equal(row.bytes, 56 * 7);
    bytes = f.bytes + 448;
    g.data = (uint8_t *)nnrt_alloc(NULL, (size_t)bytes);
    g.bytes = (size_t)bytes;
    memset(g.data, 0xAB, g.bytes);
    memcpy(g.data, f.data, f.bytes);
    memcpy(g.data + 16, &bytes, sizeof(bytes));
    for (uint32_t i = 3; i < 7; i++) {
        last = row_get(&f, i + 1);
        memcpy(g.data + 64 + i * 40, &last, sizeof(last));
    }
    for (size_t i = 0; i < 7; i++)
        memcpy(g.data + f.bytes + i * record, f.data + row.offset + i * 56, record < 56 ? record : 56);
    row.offset = f.bytes;
    row.record = record;
    row.bytes = record * 7;
    memcpy(g.data + 64 + 7 * 40, &row, sizeof(row));
    if (record < 48) {
        assert_int_equal(nnrt_model_load_memory(&m, g.data, g.bytes, NULL, NULL), NNRT_INVALID_FILE);
    } else {
        assert_int_equal(nnrt_model_load_memory(&m, g.data, g.bytes, NULL, NULL), NNRT_SUCCESS);
        small_runs(m);
        for (uint32_t i = 0; i < m->allTensors.count; i++) {
            assert_int_equal(m->allTensors.data[i].quantAxis, 0);
            assert_int_equal(m->allTensors.data[i].symbols.count, 0);
        }
        nnrt_model_destroy(m);
    }
    image_free(&g);
    image_free(&f);
}

static void test_other_records(void **state)
{
    (void)state;
    check_records(40);
    check_records(48);
    check_records(56);
    check_records(64);
}

/* quantAxis and symbols of tensors are restored. A file with an axis has version 2: a reader of version 1 only would use
   another axis; without one it stays at version 1, symbols or not. */
static void test_axes_and_symbols(void **state)
{
    static const int32_t dims[3] = {-1, 4, -1};
    static const uint32_t symbols[3] = {5, 0, 0xFFFFFFFFu};
    (void)state;
    for (int32_t axis = 0; axis < 4; axis++) {
        nnrt_builder *b = NULL;
        NNRT_Model *m = NULL, *loaded = NULL;
        uint32_t x;
        image f;
        nnrti_file_tensor record;
        assert_int_equal(nnrt_builder_create(&b, "axes", NULL), NNRT_SUCCESS);
        x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 3, dims);
        nnrt_builder_symbols(b, x, symbols, 3);
        nnrt_builder_quant_axis(b, x, axis);
        nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_SQRT, NULL, &x, 1));
        assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
        nnrt_builder_destroy(b);
        f = image_make(m, NULL);
        assert_int_equal(f.data[8], axis > 0 ? 2 : 1);
        assert_int_equal(nnrt_model_load_memory(&loaded, f.data, f.bytes, NULL, NULL), NNRT_SUCCESS);
        same_model(m, loaded);
        assert_int_equal(loaded->allTensors.data[x].quantAxis, axis);
        assert_int_equal(loaded->allTensors.data[x].symbols.count, 3);
        assert_memory_equal(loaded->allTensors.data[x].symbols.data, symbols, sizeof(symbols));
        nnrt_model_destroy(loaded);
        memcpy(&record, f.data + row_get(&f, 3).offset + x * 56, sizeof(record));
        record.quantAxis = 4; /* of three axes */
        memcpy(f.data + row_get(&f, 3).offset + x * 56, &record, sizeof(record));
        assert_int_equal(nnrt_model_load_memory(&loaded, f.data, f.bytes, NULL, NULL), NNRT_INVALID_PARAMETER);
        record.quantAxis = 0;
        record.symbols.at = 0x10000;
        memcpy(f.data + row_get(&f, 3).offset + x * 56, &record, sizeof(record));
        assert_int_equal(nnrt_model_load_memory(&loaded, f.data, f.bytes, NULL, NULL), NNRT_INVALID_FILE);
        image_free(&f);
        nnrt_model_destroy(m);
    }
}

/* f with two more sections: one of an application's own type, and one prepared by a device named "dev0". Everything moves back
   by 128 bytes, for their rows, and the strings go to the end, with two more names. */
static image image_with_sections(const image *f, const char *own, const char *prepared)
{
    static const char names[] = "mine\0dev0";
    const uint32_t count = 10;
    nnrti_file_row rows[10], strings = row_get(f, 0);
    size_t at = f->bytes + 128;
    uint64_t sum;
    image g;
    memset(rows, 0, sizeof(rows));
    g.bytes = at + 3 * 4096;
    g.data = (uint8_t *)nnrt_alloc(NULL, g.bytes);
    memset(g.data, 0, g.bytes);
    memcpy(g.data, f->data, 64);
    memcpy(g.data + 64 + 128, f->data + 64, f->bytes - 64);
    for (uint32_t i = 0; i < 7; i++) {
        rows[i] = row_get(f, i + 1);
        rows[i].offset += 128;
    }
    for (uint32_t i = 7; i < count; i++, at += 4096) {
        const char *text = i == 7 ? own : prepared;
        rows[i].type = i == 7 ? 0x10000 : i == 8 ? NNRTI_FILE_DEVICE : NNRTI_FILE_STRINGS;
        rows[i].offset = at;
        rows[i].bytes = i < 9 ? strlen(text) : strings.bytes + sizeof(names);
        rows[i].alignment = i == 7 ? 256 : 64;
        rows[i].offset += (rows[i].alignment - at % rows[i].alignment) % rows[i].alignment;
        rows[i].record = 1;
        rows[i].name = i < 9 ? (uint32_t)strings.bytes + (i == 8 ? 5 : 0) : 0;
        if (i < 9)
            memcpy(g.data + rows[i].offset, text, strlen(text));
    }
    memcpy(g.data + rows[9].offset, f->data + strings.offset, (size_t)strings.bytes);
    memcpy(g.data + rows[9].offset + strings.bytes, names, sizeof(names));
    memcpy(g.data + 64, rows, sizeof(rows));
    memcpy(g.data + 16, &g.bytes, sizeof(g.bytes));
    memcpy(g.data + 32, &count, sizeof(count));
    sum = checksum_of(&g);
    memcpy(g.data + 24, &sum, sizeof(sum));
    return g;
}

/* Sections in addition to the portable model can be found, do not affect it, and are dropped when it is saved again. */
static void test_more_sections(void **state)
{
    image f = small_image(), g = image_with_sections(&f, "anything", "prepared"), again;
    nnrt_file_section own, device;
    nnrt_save_desc desc;
    NNRT_Model *m = load(&g);
    (void)state;
    small_runs(m);
    assert_string_equal(nnrt_model_metadata(m, "mean"), "127.5");
    assert_true(nnrt_model_section(m, 7, &own) && nnrt_model_section(m, 8, &device));
    assert_true(own.type == 0x10000 && own.alignment == 256 && own.bytes == 8 && device.bytes == 8);
    assert_string_equal(own.kind, "unknown");
    assert_string_equal(own.name, "mine");
    assert_memory_equal(own.data, "anything", 8);
    assert_string_equal(device.kind, "device");
    assert_string_equal(device.name, "dev0");
    assert_memory_equal(device.data, "prepared", 8);
    memset(&desc, 0, sizeof(desc));
    desc.metadata = labels;
    desc.metadataCount = 2;
    again = image_make(m, &desc);
    assert_int_equal(again.bytes, f.bytes);
    assert_memory_equal(again.data, f.data, f.bytes);
    nnrt_model_destroy(m);
    image_free(&again);
    image_free(&g);
    image_free(&f);
}

/* x is 2x or |x|, as cond says, and then, in each of two loops, trips times x more. */
static void nested_model(tree *t, uint32_t yes, uint32_t no, uint32_t one, uint32_t two)
{
    branches(t);
    t->g.inputs[2] = tensor(&t->g, "trips", I64, "");
    for (uint32_t k = 0; k < 2; k++) { /* tensors 6 to 9, of the first body, and 11 to 14 */
        (void)tensor(&t->g, "i", I64, "");
        (void)tensor(&t->g, "go", BOOL, "");
        (void)result(&t->g, "v");
        (void)result(&t->g, "v2");
        (void)result(&t->g, k == 0 ? "a" : "b"); /* 10 and 15 */
    }
    t->ifs[1].thenGraph = yes;
    t->ifs[1].elseGraph = no;
    (void)loop_node(t, "first", one, "5 - 2", "10");
    (void)loop_node(t, "second", two, "5 - 10", "15");
    (void)ADD(&t->g, "more", "8 1", "9");
    (void)ADD(&t->g, "more too", "13 1", "14");
    graph_of(t, 0, "0 1 5", "15", "0 3 4");
    graph_of(t, 3, "6 7 8", "7 9", "5");
    graph_of(t, 4, "11 12 13", "12 14", "6");
    t->graphs[3].name = "a body";
    graph_io(&t->g, "0 1 5", "15");
}

static void nested_runs(const NNRT_Model *m, bool cond, bool twice, int64_t trips)
{
    static const float x[3] = {1, -2, 3};
    float y[3] = {0, 0, 0};
    nnrt_io in[3] = {{NULL, 1, NULL}, {NULL, sizeof(x), NULL}, {NULL, sizeof(trips), NULL}};
    nnrt_session *s = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    in[0].data = &cond;
    in[1].data = (void *)(uintptr_t)x;
    in[2].data = &trips;
    if (nnrt_session_create(&s, m, NULL, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    assert_int_equal(nnrt_run(s, in, 3, NNRT_IO(y)), NNRT_SUCCESS);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(y[i] == (twice ? 2 * x[i] : x[i] < 0 ? -x[i] : x[i]) + 2 * (float)trips * x[i]);
    nnrt_session_destroy(s);
}

/* Subgraphs whose tensors have equal names are restored from a file, and the references of nodes to them. */
static void test_subgraphs(void **state)
{
    static const uint32_t ways[3][4] = {{1, 2, 3, 4}, {2, 1, 3, 4}, {1, 2, 4, 3}}; /* bodies, in either order */
    static tree t;
    NNRT_Model *back;
    image f[3], again;
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        nested_model(&t, ways[i][0], ways[i][1], ways[i][2], ways[i][3]);
        f[i] = image_make(&t.g.model, NULL);
        back = load(&f[i]);
        same_model(&t.g.model, back);
        assert_string_equal(back->subGraph.data[3].name, "a body");
        again = image_make(back, NULL);
        assert_int_equal(again.bytes, f[i].bytes);
        assert_memory_equal(again.data, f[i].data, again.bytes);
        image_free(&again);
        for (int64_t trips = 0; trips < 3; trips++) {
            nested_runs(back, true, i != 1, trips);
            nested_runs(back, false, i == 1, trips);
        }
        nnrt_model_destroy(back);
        assert_true(i == 0 || f[i].bytes != f[0].bytes || memcmp(f[i].data, f[0].data, f[0].bytes) != 0);
    }
    for (uint32_t i = 0; i < 3; i++)
        image_free(&f[i]);
}

/* A file with invalid subgraphs is refused when it is loaded. */
static void test_wrong_subgraphs(void **state)
{
    static tree t;
    NNRT_Model *back = NULL;
    nnrt_error error;
    nnrti_writer w;
    image f;
    uint8_t *at;
    size_t bytes;
    (void)state;
    memset(&w, 0, sizeof(w));
    memset(&error, 0, sizeof(error));
    nested_model(&t, 1, 2, 3, 4);
    t.loops[4].body = 3;
    assert_int_equal(nnrt_model_save_memory(&t.g.model, NULL, NULL, 0, &bytes, &error), NNRT_INVALID_MODEL);
    assert_non_null(strstr(error.message, "subgraph 3 is run by node 3 'first' and by node 4 'second'"));
    w.model = &t.g.model;
    assert_true(nnrti_writer_lay(&w));
    f.bytes = (size_t)w.header.bytes;
    f.data = at = (uint8_t *)nnrt_alloc(NULL, f.bytes);
    nnrti_writer_all(&w, nnrti_save_copy, &at);
    memset(&error, 0, sizeof(error));
    assert_int_equal(nnrt_model_load_memory(&back, f.data, f.bytes, NULL, &error), NNRT_INVALID_MODEL);
    assert_non_null(strstr(error.message, "subgraph 3 is run by node 3 'first' and by node 4 'second'"));
    assert_null(back);
    image_free(&f);
}

/* Allocation n fails, for every n: the code says so, nothing stays taken, and the next try works. */
static void test_no_memory(void **state)
{
    NNRT_Model *source = every_operator(2, 3), *m = NULL;
    image f = image_make(source, NULL);
    nnrt_load_desc in;
    nnrt_save_desc out;
    nnrt_allocator a;
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    uint32_t n;
    size_t bytes;
    trial t;
    (void)state;
    a = trial_allocator(&t);
    memset(&in, 0, sizeof(in));
    memset(&out, 0, sizeof(out));
    in.allocator = out.allocator = &a;
    for (n = 1; code != NNRT_SUCCESS; n++) {
        a = trial_allocator(&t);
        t.failing = n;
        code = nnrt_model_load_memory(&m, f.data, f.bytes, &in, NULL);
        assert_true(code == NNRT_OUT_OF_MEMORY || (code == NNRT_SUCCESS && t.calls < n));
        if (code == NNRT_SUCCESS)
            assert_int_equal(t.live, 1);
        nnrt_model_destroy(m);
        assert_int_equal(t.live, 0);
    }
    assert_true(n > 100);
    code = NNRT_OUT_OF_MEMORY;
    for (n = 1; code != NNRT_SUCCESS; n++) {
        a = trial_allocator(&t);
        t.failing = n;
        code = nnrt_model_save_memory(source, &out, NULL, 0, &bytes, NULL);
        assert_true(code == NNRT_OUT_OF_MEMORY || (code == NNRT_SUCCESS && t.calls < n));
        assert_int_equal(t.live, 0);
    }
    nnrt_model_destroy(source);
    image_free(&f);
}

/* Nodes without attributes are the shortest records with the largest tables in memory. */
static void test_factor(void **state)
{
    NNRT_Model *m = every_operator(20, 1), *back = NULL;
    uint64_t defaults[64];
    nnrt_load_desc desc;
    nnrt_allocator a;
    image f;
    trial t;
    (void)state;
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        NNRT_Node *n = (NNRT_Node *)(uintptr_t)&m->nodes.data[i];
        n->nodeAttr.data = NULL;
        n->nodeAttr.size = 0;
    }
    f = image_make(m, NULL);
    a = trial_allocator(&t);
    memset(&desc, 0, sizeof(desc));
    desc.allocator = &a;
    assert_int_equal(nnrt_model_load_memory(&back, f.data, f.bytes, &desc, NULL), NNRT_SUCCESS);
    print_message("%u bytes of file take %u bytes while it is loaded, %u after that\n", (unsigned)f.bytes,
                  (unsigned)t.most, (unsigned)t.bytes);
    assert_true(t.most <= NNRT_FILE_FACTOR * f.bytes);
    for (uint32_t i = 0; i < back->nodes.count; i++) {
        const nnrt_attr_struct *s = nnrt_op_find(back->nodes.data[i].nodeType)->attr;
        nnrt_attr_defaults(s, defaults);
        assert_true(nnrt_attr_equal(s, defaults, back->nodes.data[i].nodeAttr.data));
    }
    nnrt_model_destroy(back);
    nnrt_model_destroy(m);
    image_free(&f);
}

static void test_arguments(void **state)
{
    image f = small_image();
    NNRT_Model *m = NULL;
    nnrt_file_section section;
    nnrt_error error;
    size_t bytes;
    (void)state;
    assert_int_equal(nnrt_model_load_memory(NULL, f.data, f.bytes, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_model_load_memory(&m, NULL, f.bytes, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_model_load_memory(&m, f.data + 16, f.bytes - 16, NULL, NULL), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_model_load(&m, NULL, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_model_load(NULL, "x", NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_model_load(&m, "no/such/file.nnrt", NULL, NULL), NNRT_INVALID_PATH);
    assert_int_equal(nnrt_model_save(NULL, "x", NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_model_save_memory(NULL, NULL, NULL, 0, &bytes, NULL), NNRT_NULL_PTR);
    memset(&error, 0, sizeof(error));
    m = load(&f);
    assert_int_equal(nnrt_model_save_memory(m, NULL, NULL, 0, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_model_save(m, NULL, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_model_save(m, "no/such/file.nnrt", NULL, &error), NNRT_INVALID_PATH);
    assert_non_null(strstr(error.message, "no/such/file.nnrt"));
    nnrt_model_destroy(m);
    assert_false(nnrt_model_section(NULL, 0, &section));
    m = small_model();
    assert_false(nnrt_model_section(m, 0, &section));
    nnrt_model_destroy(m);
    image_free(&f);
}

/* Each kind of file is known by its first bytes, whatever follows them; with one byte fewer, or with the last byte changed, it
   is not that kind. */
static void test_guess(void **state)
{
    static const struct {
        size_t bytes;
        const char *first, *kind;
    } kinds[] = {{8, "\x89NNRT\r\n\x1A", "a .nnrt file"},
                 {4, "\x89PNG", "a PNG image"},
                 {3, "\xFF\xD8\xFF", "a JPEG image"},
                 {8, "\x89HDF\r\n\x1A\n", "an HDF5 file"},
                 {8, "\x1C\0\0\0TFL3", "a TensorFlow Lite model"},
                 {4, "GGUF", "a GGUF file"},
                 {6, "\x93NUMPY", "an array of NumPy"},
                 {2, "\x1F\x8B", "compressed by gzip"},
                 {10, "\x40\0\0\0\0\0\0\0{\"", "a SafeTensors file"},
                 {8, "version ", "a pointer of Git LFS"},
                 {2, "\x80\x02", "a Python pickle, perhaps of PyTorch"},
                 {2, "\x80\x04", "a Python pickle: "},
                 {4, "\x7F" "ELF", "an ELF "},
                 {4, "\xCF\xFA\xED\xFE", "a Mach-O "},
                 {4, "MZ\x90\0", "a Windows "},
                 {4, "%PDF", "a PDF document"},
                 {4, "GIF8", "a GIF image"},
                 {4, "RIFF", "a RIFF file"},
                 {3, "BZh", "compressed by bzip2"},
                 {6, "\xFD" "7zXZ\0", "compressed by xz"},
                 {4, "\x28\xB5\x2F\xFD", "compressed by Zstandard"},
                 {4, "PK\x03\x04", "a zip archive"},
                 {3, "\x08\x07\x12", "an ONNX model"},
                 {1, "<", "a page of HTML or XML"},
                 {1, "{", "a text of JSON"}};
    static const char torch[] = "PK\x03\x04--------------------------archive/data.pkl";
    char text[300];
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const size_t n = kinds[i].bytes;
        const char *kind;
        for (int fill = 0; fill < 256; fill += 85) {
            uint8_t file[64];
            memset(file, fill, sizeof(file));
            memcpy(file, kinds[i].first, n);
            kind = nnrt_file_guess(file, sizeof(file));
            if (kind == NULL || strncmp(kind, kinds[i].kind, strlen(kinds[i].kind)) != 0)
                fail_msg("'%s' looks like %s", kinds[i].kind, kind != NULL ? kind : "nothing");
            file[n - 1] ^= 0x15;
            kind = nnrt_file_guess(file, sizeof(file));
            assert_true(kind == NULL || strncmp(kind, kinds[i].kind, strlen(kinds[i].kind)) != 0);
        }
        kind = nnrt_file_guess(kinds[i].first, n - 1);
        assert_true(kind == NULL || strncmp(kind, kinds[i].kind, strlen(kinds[i].kind)) != 0);
    }
    assert_string_equal(nnrt_file_guess("", 0), "an empty file");
    assert_null(nnrt_file_guess(NULL, 4));
    assert_string_equal(nnrt_file_guess(torch, sizeof(torch) - 1),
                        "a PyTorch file: export the model as ONNX (torch.onnx.export)");
    assert_string_equal(nnrt_file_guess(torch, sizeof(torch) - 2), "a zip archive");
    memset(text, 'a', sizeof(text));
    memcpy(text, "~\t\r\n", 4);
    assert_string_equal(nnrt_file_guess(text, 40), "a text");
    text[256] = '\x7F'; /* behind the bytes that are looked at */
    assert_string_equal(nnrt_file_guess(text, sizeof(text)), "a text");
    text[255] = '\x7F';
    assert_null(nnrt_file_guess(text, sizeof(text)));
    text[255] = '\x1F';
    assert_null(nnrt_file_guess(text, sizeof(text)));
    text[255] = ' ';
    assert_string_equal(nnrt_file_guess(text, 256), "a text");
}

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[128];
    (void)nnrt_text(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void count_progress(void *user, uint64_t done, uint64_t total)
{
    uint64_t *last = (uint64_t *)user;
    assert_true(done >= last[0] && done <= total);
    last[0] = done;
    last[1]++;
}

/* Number of this process's mappings of a file with that name; 0 if the system does not report it. */
static int mappings_of(const char *name)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    int n = 0;
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        n += strstr(line, name) != NULL ? 1 : 0;
    if (maps != NULL)
        (void)fclose(maps);
    return n;
}

static void test_files(void **state)
{
    NNRT_Model *m = small_model(), *back = NULL;
    image f = image_make(m, NULL);
    char *copy = (char *)malloc(f.bytes + 1);
    nnrt_load_desc in;
    nnrt_save_desc out;
    uint64_t progress[2] = {0, 0};
    nnrt_error error;
    FILE *file;
    (void)state;
    memset(&in, 0, sizeof(in));
    memset(&out, 0, sizeof(out));
    memset(&error, 0, sizeof(error));
    in.checksum = true;
    out.progress = count_progress;
    out.user = progress;
    if (nnrt_model_save(m, in_folder("small.nnrt"), &out, &error) != NNRT_SUCCESS)
        fail_msg("%s", error.message);
    assert_int_equal(progress[1], 3);
    assert_null(fopen(in_folder("small.nnrt.0.tmp"), "rb"));
    file = fopen(in_folder("small.nnrt"), "rb");
    assert_non_null(file);
    assert_int_equal(fread(copy, 1, f.bytes + 1, file), f.bytes);
    assert_memory_equal(copy, f.data, f.bytes);
    assert_int_equal(fclose(file), 0);
    for (int k = 0; k < 2; k++) {
        in.noMap = k == 1;
        if (nnrt_model_load(&back, in_folder("small.nnrt"), &in, &error) != NNRT_SUCCESS)
            fail_msg("%s", error.message);
        same_model(m, back);
        /* saving over the file that is mapped */
        assert_int_equal(nnrt_model_save(back, in_folder("small.nnrt"), NULL, NULL), NNRT_SUCCESS);
        small_runs(back);
        assert_int_equal(nnrt_model_optimize(&back, NULL, NULL), NNRT_SUCCESS);
        small_runs(back);
        nnrt_model_destroy(back);
        assert_int_equal(mappings_of("small.nnrt"), 0);
    }
    for (int k = 0; k < 6; k++) { /* cut short, empty, and a header that promises more than there can be */
        const uint64_t much = (uint64_t)1 << 62;
        file = fopen(in_folder("broken.nnrt"), "wb");
        assert_non_null(file);
        if (k / 2 == 0)
            assert_int_equal(fwrite(f.data, 1, f.bytes - 1, file), f.bytes - 1);
        if (k / 2 == 2) {
            assert_int_equal(fwrite(f.data, 1, f.bytes, file), f.bytes);
            assert_int_equal(fseek(file, 16, SEEK_SET), 0);
            assert_int_equal(fwrite(&much, 1, 8, file), 8);
        }
        assert_int_equal(fclose(file), 0);
        in.noMap = k % 2 == 1;
        assert_int_equal(nnrt_model_load(&back, in_folder("broken.nnrt"), &in, NULL), NNRT_INVALID_FILE);
        assert_null(back);
    }
    assert_int_not_equal(nnrt_model_load(&back, folder, NULL, NULL), NNRT_SUCCESS);
    (void)remove(in_folder("broken.nnrt"));
    (void)remove(in_folder("small.nnrt"));
    free(copy);
    nnrt_model_destroy(m);
    image_free(&f);
}

/* The whole of a file, which must be the image. */
static void file_is(const char *path, const image *f)
{
    char *copy = (char *)malloc(f->bytes + 1);
    FILE *file = fopen(path, "rb");
    assert_true(copy != NULL && file != NULL);
    assert_int_equal(fread(copy, 1, f->bytes + 1, file), f->bytes);
    assert_memory_equal(copy, f->data, f->bytes);
    assert_int_equal(fclose(file), 0);
    free(copy);
}

/* Saves the model to the same path while the caller does. */
static void save_meanwhile(void *user, uint64_t done, uint64_t total)
{
    if (done < total)
        assert_int_equal(nnrt_model_save((const NNRT_Model *)user, in_folder("two.nnrt"), NULL, NULL), NNRT_SUCCESS);
}

/* Two saves at once, each to a temporary file of its own: the last one to end remains, complete, and nothing else. A leftover
   temporary file of a program that ended is unchanged. */
static void test_save_at_once(void **state)
{
    NNRT_Model *m = small_model();
    image f = image_make(m, NULL);
    nnrt_save_desc desc;
    FILE *other;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    desc.progress = save_meanwhile;
    desc.user = m;
    other = fopen(in_folder("two.nnrt.1.tmp"), "wb");
    assert_non_null(other);
    assert_int_equal(fputs("mine", other) >= 0 && fclose(other) == 0, 1);
    assert_int_equal(nnrt_model_save(m, in_folder("two.nnrt"), &desc, NULL), NNRT_SUCCESS);
    file_is(in_folder("two.nnrt"), &f);
    assert_null(fopen(in_folder("two.nnrt.0.tmp"), "rb"));
    assert_null(fopen(in_folder("two.nnrt.2.tmp"), "rb"));
    other = fopen(in_folder("two.nnrt.1.tmp"), "rb");
    assert_non_null(other);
    assert_int_equal(fgetc(other), 'm');
    assert_int_equal(fclose(other), 0);
    (void)remove(in_folder("two.nnrt.1.tmp"));
    (void)remove(in_folder("two.nnrt"));
    nnrt_model_destroy(m);
    image_free(&f);
}

/* Only regular files are replaced: not a pipe or a link to a device. */
static void test_save_onto_no_file(void **state)
{
    static const char *const names[] = {"pipe", "link"};
    NNRT_Model *m = small_model();
    nnrt_error error;
    struct stat s;
    char device[128];
    bool pipes;
    (void)state;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(lstat(in_folder("pipe"), &s), 0);
    pipes = S_ISFIFO(s.st_mode); /* Emscripten makes a regular file */
    (void)nnrt_text(device, sizeof(device), "%s", in_folder("link"));
    assert_int_equal(symlink("/dev/null", device), 0);
    for (int i = pipes ? 0 : 1; i < 2; i++) {
        memset(&error, 0, sizeof(error));
        assert_int_equal(nnrt_model_save(m, in_folder(names[i]), NULL, &error), NNRT_INVALID_PATH);
        assert_non_null(strstr(error.message, "is no regular file and is not replaced"));
    }
    assert_int_equal(lstat(in_folder("pipe"), &s), 0);
    assert_true(S_ISFIFO(s.st_mode) == pipes);
    assert_int_equal(lstat(in_folder("link"), &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_int_equal(remove(in_folder("pipe")), 0);
    assert_int_equal(remove(in_folder("link")), 0);
    nnrt_model_destroy(m);
}

/* 200 MB of weights: loading takes memory for the tables only, and no time for the weights. */
static void test_large(void **state)
{
    enum { LAYERS = 50 };
    static const int32_t dimsX[] = {1, 1024}, dimsW[] = {1024, 1024};
    const size_t size = (size_t)1024 * 1024 * 4;
    float *w = (float *)calloc(1, size);
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_load_desc desc;
    nnrt_allocator a;
    uint32_t in[2];
    clock_t start;
    trial t;
    (void)state;
    assert_non_null(w);
    assert_int_equal(nnrt_builder_create(&b, "large", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dimsX);
    for (uint32_t i = 0; i < LAYERS; i++) {
        in[1] = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_FLOAT32, 2, dimsW, w, false);
        in[0] = nnrt_builder_op(b, NULL, NNRT_NODE_TYPE_FULL_CONNECTION, NULL, in, 2);
    }
    nnrt_builder_output(b, in[0]);
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_model_save(m, in_folder("large.nnrt"), NULL, NULL), NNRT_SUCCESS);
    nnrt_model_destroy(m);
    free(w);
    a = trial_allocator(&t);
    memset(&desc, 0, sizeof(desc));
    desc.allocator = &a;
    start = clock();
    assert_int_equal(nnrt_model_load(&m, in_folder("large.nnrt"), &desc, NULL), NNRT_SUCCESS);
    print_message("%u MB load in %.3f ms of processor time; at most %u bytes are taken, %u stay\n",
                  (unsigned)(LAYERS * size / 1000000), (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC,
                  (unsigned)t.most, (unsigned)t.bytes);
    assert_int_equal(t.live, 1);
    /* 101 tensors, 50 nodes with their attributes */
    assert_true(t.bytes <=
                101 * sizeof(NNRT_Tensor) + 50 * (sizeof(NNRT_Node) + sizeof(NNRT_FullConnection) + 16) + 2048);
    assert_true(t.most < 65536);
    nnrt_model_destroy(m);
    assert_int_equal(t.live, 0);
    (void)remove(in_folder("large.nnrt"));
}

/* Messages on a big-endian machine instead: for writing, for reading from memory (a valid header here), for a file. */
static void test_big_endian(void **state)
{
    static const char says[] = "a big-endian machine cannot";
    static uint64_t data[16];
    nnrt_error errors[4];
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL, *loaded = NULL;
    const int32_t dims[1] = {4};
    uint32_t x[1];
    size_t bytes = 0;
    FILE *file;
    (void)state;
    memset(errors, 0, sizeof(errors));
    assert_int_equal(nnrt_builder_create(&b, "plain", NULL), NNRT_SUCCESS);
    x[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 1, dims);
    nnrt_builder_output(b, nnrt_builder_op(b, "root", NNRT_NODE_TYPE_SQRT, NULL, x, 1));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_model_save_memory(m, NULL, NULL, 0, &bytes, &errors[0]), NNRT_NOT_SUPPORT);
    assert_int_equal(nnrt_model_save(m, in_folder("big.nnrt"), NULL, &errors[1]), NNRT_NOT_SUPPORT);
    nnrt_model_destroy(m);
    assert_null(fopen(in_folder("big.nnrt"), "rb"));
    memcpy(data, "NNRT", 4);
    assert_int_equal(nnrt_model_load_memory(&loaded, data, sizeof(data), NULL, &errors[2]), NNRT_NOT_SUPPORT);
    file = fopen(in_folder("big.nnrt"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, sizeof(data), file), sizeof(data));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(nnrt_model_load(&loaded, in_folder("big.nnrt"), NULL, &errors[3]), NNRT_NOT_SUPPORT);
    assert_null(loaded);
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        assert_non_null(strstr(errors[i].message, says));
    (void)remove(in_folder("big.nnrt"));
}

/* Resident KiB of a mapped file, -1 if unknown. */
static long file_resident(const char *path)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    const char *name = strrchr(path, '/');
    char line[4096];
    long sum = -1, part;
    bool mine = false;
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        const size_t n = strcspn(line, "\n"), k = strlen(name), hex = strspn(line, "0123456789abcdef");
        if (hex > 0 && line[hex] == '-')
            mine = n > k && memcmp(line + n - k, name, k) == 0;
        else if (mine && sscanf(line, "Rss: %ld", &part) == 1)
            sum = (sum < 0 ? 0 : sum) + part;
    }
    if (f != NULL)
        (void)fclose(f);
    return sum;
}

/* A table of 8 MB: loading and a run that gathers one row make only the pages that they touch resident, and the library
   allocates no more than tables and a workspace. tests/bench/bench_load.c does the same with 200 MB. */
static void test_resident(void **state)
{
    enum { ROWS = 2048, WIDTH = 1024, FOLIO = 2048 }; /* FOLIO: KiB that Linux may map at once */
    static const int32_t dims[] = {ROWS, WIDTH}, one[] = {1}, axis[] = {0}, row[] = {1500};
    static float y[WIDTH];
    float *table = (float *)malloc(sizeof(float) * ROWS * WIDTH);
    nnrt_io in = {(void *)(uintptr_t)row, sizeof(row), NULL}, out = {y, sizeof(y), NULL};
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    nnrt_load_desc how;
    nnrt_allocator a;
    uint32_t operands[3];
    long loaded, ran;
    trial t;
    (void)state;
    assert_non_null(table);
    for (uint32_t i = 0; i < ROWS * WIDTH; i++)
        table[i] = (float)i;
    assert_int_equal(nnrt_builder_create(&b, "table", NULL), NNRT_SUCCESS);
    operands[0] = nnrt_builder_constant(b, "table", NNRT_DATA_TYPE_FLOAT32, 2, dims, table, false);
    operands[1] = nnrt_builder_input(b, "row", NNRT_DATA_TYPE_INT32, 1, one);
    operands[2] = nnrt_builder_constant(b, "axis", NNRT_DATA_TYPE_INT32, 0, NULL, axis, true);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_GATHER, NULL, operands, 3));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    assert_int_equal(nnrt_model_save(m, in_folder("table.nnrt"), NULL, NULL), NNRT_SUCCESS);
    nnrt_model_destroy(m);
    a = trial_allocator(&t);
    memset(&how, 0, sizeof(how));
    memset(&desc, 0, sizeof(desc));
    how.allocator = desc.allocator = &a;
    assert_int_equal(nnrt_model_load(&m, in_folder("table.nnrt"), &how, NULL), NNRT_SUCCESS);
    loaded = file_resident(in_folder("table.nnrt"));
    assert_true(t.bytes <= 4 * sizeof(NNRT_Tensor) + sizeof(NNRT_Node) + sizeof(NNRT_Gather) + 2048);
    assert_true(loaded <= FOLIO);
    assert_int_equal(nnrt_session_create(&s, m, &desc, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
    ran = file_resident(in_folder("table.nnrt"));
    assert_memory_equal(y, table + (size_t)row[0] * WIDTH, sizeof(y));
    assert_true(t.most < 65536);
    assert_true(ran <= loaded + 2 * FOLIO);
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);
    /* the checksum reads all of it, so that the measure would show it */
    how.checksum = true;
    assert_int_equal(nnrt_model_load(&m, in_folder("table.nnrt"), &how, NULL), NNRT_SUCCESS);
    print_message("of 8192 KiB %ld are in memory after loading, %ld after a run, %ld with the checksum\n", loaded, ran,
                  file_resident(in_folder("table.nnrt")));
    assert_true(loaded < 0 || file_resident(in_folder("table.nnrt")) >= ROWS * WIDTH / 256);
    nnrt_model_destroy(m);
    assert_int_equal(t.live, 0);
    (void)remove(in_folder("table.nnrt"));
    free(table);
}

int main(void)
{
    const struct CMUnitTest refusal[] = {cmocka_unit_test(test_big_endian)};
    const uint16_t one = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_changed_members),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_metadata_twice),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_changed_attributes),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_other_versions),
        cmocka_unit_test(test_other_records),
        cmocka_unit_test(test_axes_and_symbols),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_factor),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_guess),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_save_at_once),
        cmocka_unit_test(test_save_onto_no_file),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_more_sections),
        cmocka_unit_test(test_subgraphs),
        cmocka_unit_test(test_wrong_subgraphs),
        cmocka_unit_test(test_resident),
    };
    int failed;
    (void)nnrt_text(folder, sizeof(folder), "build/file_XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    failed = *(const uint8_t *)&one == 1 ? cmocka_run_group_tests(tests, NULL, NULL)
                                         : cmocka_run_group_tests(refusal, NULL, NULL);
    (void)remove(folder);
    return failed;
}
