/* auto splits a model over several devices (nnrt_hal.h, >>auto). What is right is what the reference device alone gives:
   parts on devices of devices/nnrt_fake.h must give the same bits. Parts themselves are worked out by hand. */
#define _POSIX_C_SOURCE 200809L /* posix_memalign */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fakes.h"

#include "formats/nnrt_onnx.h"
#include "kit.h"

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* ---- the report ---- */

#define MOST 96

typedef struct report {
    char device[MOST][32]; /* of each node; "" not told */
    char reason[MOST][256];
    uint32_t part[MOST], told, parts;
    char unmatched[256];
} report;

static void listen(void *user, const nnrt_placement *p)
{
    report *r = (report *)user;
    if (p->node == NNRT_NO_TENSOR) {
        snprintf(r->unmatched, sizeof(r->unmatched), "%s", p->reason);
        return;
    }
    assert_true(p->node < MOST);
    assert_true(r->device[p->node][0] == '\0');
    snprintf(r->device[p->node], sizeof(r->device[0]), "%s", p->device[0] != '\0' ? p->device : "none");
    snprintf(r->reason[p->node], sizeof(r->reason[0]), "%s", p->reason);
    r->part[p->node] = p->part;
    r->told++;
    if (p->part != NNRT_NO_TENSOR && p->part >= r->parts)
        r->parts = p->part + 1;
}

/* A session on these devices, whose report is *r. */
static void reported(nnrt_session_desc *desc, nnrt_partition *p, report *r, const char *devices)
{
    memset(desc, 0, sizeof(*desc));
    memset(p, 0, sizeof(*p));
    memset(r, 0, sizeof(*r));
    p->placed = listen;
    p->user = r;
    desc->device = devices;
    desc->partition = p;
}

/* "00R1": the parts of the nodes, R: the reference device, K: known before a run. */
static const char *parts_of(const report *r, uint32_t nodes)
{
    static char text[MOST + 1];
    assert_int_equal(r->told, nodes);
    for (uint32_t i = 0; i < nodes; i++)
        text[i] = strcmp(r->device[i], "none") == 0         ? 'K'
                  : r->part[i] == NNRT_NO_TENSOR            ? 'R'
                  : r->part[i] < 10 ? (char)('0' + (int)r->part[i])
                                    : (char)('a' + (int)r->part[i] - 10);
    text[nodes] = '\0';
    return text;
}

/* ---- runs ---- */

typedef struct result_of {
    float *data[32];
    size_t bytes[32];
    uint32_t count;
} result_of;

static void results_end(result_of *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        free(r->data[i]);
    r->count = 0;
}

/* Runs a session on inputs that depend on their number and `salt` only. */
static NNRT_ReturnCode run_session(nnrt_session *s, uint32_t salt, result_of *r)
{
    nnrt_io in[8], out[32];
    NNRT_ReturnCode code;
    const uint32_t nIn = nnrt_session_inputs(s), nOut = nnrt_session_outputs(s);
    assert_true(nIn <= 8 && nOut <= 32);
    for (uint32_t i = 0; i < nIn; i++) {
        const nnrt_io_info info = nnrt_session_input(s, i);
        float *data = (float *)malloc(info.bytes + 4);
        assert_non_null(data);
        for (size_t k = 0; k < info.bytes / 4; k++)
            data[k] = (float)((int32_t)((k * 2654435761u + i * 97 + salt) >> 7 & 63) - 31) / 8;
        in[i] = nnrt_io_make(data, info.bytes);
    }
    r->count = nOut;
    for (uint32_t i = 0; i < nOut; i++) {
        r->bytes[i] = nnrt_session_output(s, i).bytes;
        r->data[i] = (float *)malloc(r->bytes[i] + 1);
        assert_non_null(r->data[i]);
        memset(r->data[i], 0x5A, r->bytes[i]);
        out[i] = nnrt_io_make(r->data[i], r->bytes[i]);
    }
    code = nnrt_run(s, in, nIn, out, nOut);
    for (uint32_t i = 0; i < nIn; i++)
        free(in[i].data);
    return code;
}

static nnrt_session *opened(const NNRT_Model *m, const nnrt_session_desc *desc)
{
    nnrt_session *s = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_session_create(&s, m, desc, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", desc->device != NULL ? desc->device : "auto", e.message);
    return s;
}

static void expect_same(nnrt_session *s, const result_of *want, uint32_t salt)
{
    result_of got;
    if (run_session(s, salt, &got) != NNRT_SUCCESS)
        fail_msg("%s", nnrt_session_error(s));
    assert_int_equal(got.count, want->count);
    for (uint32_t i = 0; i < got.count; i++) {
        assert_int_equal(got.bytes[i], want->bytes[i]);
        assert_memory_equal(got.data[i], want->data[i], got.bytes[i]);
    }
    results_end(&got);
}

static void reference_run(const NNRT_Model *m, uint32_t salt, result_of *want)
{
    nnrt_session_desc desc;
    nnrt_session *s;
    memset(&desc, 0, sizeof(desc));
    desc.device = "reference";
    s = opened(m, &desc);
    assert_int_equal(run_session(s, salt, want), NNRT_SUCCESS);
    nnrt_session_destroy(s);
}

/* The same results in a buffer of exactly the bytes that are told, refused in one byte less, and where the n-th request of
   memory fails. All sessions report to r; deep: every n, else some. */
static void expect_everywhere(const NNRT_Model *m, const char *device, nnrt_partition *p, const result_of *want,
                              bool deep)
{
    nnrt_session_desc desc;
    nnrt_session *s, *second = NULL;
    report r;
    nnrt_error e;
    size_t bytes = 0;
    guarded buffer;
    tracker t;
    const nnrt_allocator a = allocator_of(&t);
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    desc.partition = p;
    memset(&r, 0, sizeof(r));
    p->user = &r;
    s = opened(m, &desc);
    expect_same(s, want, 7);
    desc.share = s;
    desc.partition = NULL;
    assert_int_equal(nnrt_session_create(&second, m, &desc, NULL), NNRT_SUCCESS);
    expect_same(second, want, 7);
    nnrt_session_destroy(s);
    expect_same(second, want, 7);
    nnrt_session_destroy(second);
    desc.share = NULL;
    desc.partition = p;
    memset(&r, 0, sizeof(r));
    if (nnrt_session_bytes(m, &desc, &bytes, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    buffer = guarded_make(bytes, 0);
    desc.buffer = buffer.data;
    desc.bufferBytes = bytes;
    memset(&r, 0, sizeof(r));
    s = opened(m, &desc);
    expect_same(s, want, 7);
    nnrt_session_destroy(s);
    desc.bufferBytes = bytes - 1;
    memset(&r, 0, sizeof(r));
    assert_int_equal(nnrt_session_create(&s, m, &desc, NULL), NNRT_OUT_OF_MEMORY);
    for (uint32_t i = 0; i < 4; i++) { /* in less: refused, and nothing is written elsewhere */
        desc.bufferBytes = draw((uint32_t)bytes);
        memset(&r, 0, sizeof(r));
        assert_int_equal(nnrt_session_create(&s, m, &desc, NULL), NNRT_OUT_OF_MEMORY);
    }
    guarded_end(&buffer);
    memset(&t, 0, sizeof(t));
    desc.buffer = NULL;
    desc.bufferBytes = 0;
    desc.allocator = &a;
    for (t.failAt = 1;; t.failAt += deep ? 1 : 1 + draw(40)) {
        t.calls = 0;
        memset(&r, 0, sizeof(r));
        code = nnrt_session_create(&s, m, &desc, NULL);
        if (code == NNRT_SUCCESS) { /* a device without memory leaves its part to the next */
            expect_same(s, want, 7);
            nnrt_session_destroy(s);
        } else {
            assert_int_equal(code, NNRT_OUT_OF_MEMORY);
            assert_null(s);
        }
        assert_int_equal(t.live, 0);
        assert_false(t.wrong);
        if (t.calls < t.failAt)
            break;
    }
    p->user = NULL;
}

/* ---- drawn models: what is a part ---- */

/* Nodes "A0>1 B1,0>2": A is ACTIVATION, B ADD_FUSION of two, C SUB_FUSION of two, D is ACTIVATION too, but of the name that
   keep records know; tensor 0 is the input [2,3]; outputs "2 3". */
static NNRT_Model *drawn(const char *nodes, const char *outputs)
{
    static const int32_t dims[2] = {2, 3};
    NNRT_Model *model = NULL;
    nnrt_builder *b = NULL;
    nnrt_error e;
    uint32_t tensors[32], n = 0;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, "drawn", NULL), NNRT_SUCCESS);
    tensors[0] = nnrt_builder_input(b, "t0", F32, 2, dims);
    while (*nodes != '\0') {
        const char kind = *nodes++;
        char *end;
        char name[8];
        uint32_t in[2];
        in[0] = in[1] = tensors[strtoul(nodes, &end, 10)];
        nodes = end;
        if (*nodes == ',') {
            in[1] = tensors[strtoul(nodes + 1, &end, 10)];
            nodes = end;
        }
        assert_true(*nodes == '>');
        snprintf(name, sizeof(name), "t%lu", strtoul(nodes + 1, &end, 10));
        tensors[strtoul(nodes + 1, &end, 10)] =
            kind == 'A'   ? nnrt_builder_op(b, name, NNRT_NODE_TYPE_ACTIVATION, &absolute, in, 1)
            : kind == 'B' ? nnrt_builder_op(b, name, NNRT_NODE_TYPE_ADD_FUSION, &plain_add, in, 2)
                          : nnrt_builder_op(b, name, NNRT_NODE_TYPE_SUB_FUSION, &plain_sub, in, 2);
        nodes = end + strspn(end, " ");
        n++;
    }
    while (*outputs != '\0') {
        char *end;
        nnrt_builder_output(b, tensors[strtoul(outputs, &end, 10)]);
        outputs = end + strspn(end, " ");
    }
    if (nnrt_builder_finish(b, &model, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    assert_int_equal(model->nodes.count, n);
    return model;
}

typedef struct split_case {
    const char *name, *nodes, *outputs, *devices, *parts;
} split_case;

/* a has ACTIVATION, b ADD_FUSION and SUB_FUSION, c all. */
static const split_case cases[] = {
    {"a chain", "A0>1 A1>2 B2,0>3 A3>4", "4", "auto:a,b", "0012"},
    {"one device takes all", "A0>1 A1>2", "2", "auto:a,b", "00"},
    {"the second device takes all", "B0,0>1 C1,0>2", "2", "auto:a,b", "00"},
    {"the rest", "A0>1 B1,0>2 A2>3", "3", "auto:a", "0R1"},
    {"nobody has it", "B0,0>1", "1", "auto:a", "0"},
    /* what a gives goes two ways; b is whole, as nothing leads around */
    {"two ways", "A0>1 A1>2 B1,1>3 A2>4 B4,3>5 A5>6", "6", "auto:a,b", "001012"},
    /* 2 gives 4 something, and would wait for it if both were with 1 */
    {"a diamond on one and one", "B0,0>1 B1,0>2 A1>3 B2,3>4", "4", "auto:a,b", "0012"},
    /* both branches are joined to what follows: nothing leads around */
    {"two branches", "A0>1 A0>2 B1,2>3 B3,1>4", "4", "auto:a,b", "0122"},
    {"siblings are not connected", "A0>1 A0>2 B0,0>3", "1 2 3", "auto:a,b", "012"},
    /* the first device of the list that takes it */
    {"the order counts", "A0>1 B1,0>2", "2", "auto:a,c", "01"},
    {"the order counts, and all fits", "A0>1 B1,0>2", "2", "auto:c,a", "00"},
    /* an output that another part reads is in both places */
    {"an output is read", "A0>1 B1,0>2", "1 2 1", "auto:a,b", "01"},
    /* in the order of the model, part 0 could begin before part 1, on which its second node waits */
    {"a late wait", "A0>1 B0,0>2 B2,1>3 A3>4", "4", "auto:b", "R00R"},
    /* 2 and 4 are one part, which needs 3: it runs first */
    {"a part waits", "B0,0>1 A0>2 B1,2>3", "3", "auto:b", "0R0"},
    {"without a list", "A0>1 B1,0>2", "2", "auto", "00"},
};

static const char *const abc[3] = {"fake:name=a,ops=ACTIVATION", "fake:name=b,ops=ADD_FUSION+SUB_FUSION",
                                   "fake:name=c,ops=ACTIVATION+ADD_FUSION+SUB_FUSION,type=GPU"};

static void test_parts(void **state)
{
    nnrt_fake *fakes[3];
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        fakes[i] = registered(abc[i]);
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        NNRT_Model *m = drawn(cases[i].nodes, cases[i].outputs);
        nnrt_session_desc desc;
        nnrt_partition p;
        report r;
        nnrt_session *s;
        result_of want;
        reference_run(m, 7, &want);
        reported(&desc, &p, &r, cases[i].devices);
        s = opened(m, &desc);
        if (strcmp(parts_of(&r, m->nodes.count), cases[i].parts) != 0)
            fail_msg("%s: parts %s, expected %s", cases[i].name, parts_of(&r, m->nodes.count), cases[i].parts);
        expect_same(s, &want, 7);
        nnrt_session_destroy(s);
        expect_everywhere(m, cases[i].devices, &p, &want, true);
        memset(&p, 0, sizeof(p));
        expect_everywhere(m, cases[i].devices, &p, &want, true);
        results_end(&want);
        nnrt_model_destroy(m);
    }
    for (uint32_t i = 0; i < 3; i++)
        unregistered(fakes[i]);
}

/* ---- random models, random devices ---- */

/* Operators of a model, at most 32. */
static uint32_t operators_of(const NNRT_Model *m, const char **names)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const char *name = nnrt_op_find(m->nodes.data[i].nodeType)->name;
        uint32_t k = 0;
        while (k < count && names[k] != name)
            k++;
        if (k == count && count < 32)
            names[count++] = name;
    }
    return count;
}

/* A device that takes each of the operators with even chances, one of them for sure. */
static nnrt_fake *random_device(const char *name, const char **names, uint32_t count, const char *more)
{
    char text[1024];
    const uint32_t sure = draw(count);
    size_t n = (size_t)snprintf(text, sizeof(text), "fake:name=%s%s,ops=%s", name, more, names[sure]);
    for (uint32_t i = 0; i < count; i++)
        if (i != sure && draw(2) == 0)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "+%s", names[i]);
    return registered(text);
}

/* What the report says can be: producers and consumers of parts have no cycle, and the nodes of a part are connected. */
static void expect_parts(const NNRT_Model *m, const report *r)
{
    bool reach[MOST][MOST];
    uint32_t unit[MOST]; /* of each node: its part, or its own number behind the parts */
    const uint32_t count = m->nodes.count, units = r->parts + count;
    assert_int_equal(r->told, count);
    assert_true(units <= MOST);
    memset(reach, 0, sizeof(reach));
    for (uint32_t i = 0; i < count; i++)
        unit[i] = r->part[i] != NNRT_NO_TENSOR ? r->part[i] : r->parts + i;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++)
            for (uint32_t x = 0; x < m->nodes.data[a].outputIndex.count; x++)
                for (uint32_t y = 0; y < m->nodes.data[b].inputIndex.count; y++)
                    if (m->nodes.data[a].outputIndex.data[x] == m->nodes.data[b].inputIndex.data[y] && unit[a] != unit[b])
                        reach[unit[a]][unit[b]] = true;
    for (uint32_t k = 0; k < units; k++)
        for (uint32_t a = 0; a < units; a++)
            for (uint32_t b = 0; b < units && reach[a][k]; b++)
                reach[a][b] = reach[a][b] || reach[k][b];
    for (uint32_t k = 0; k < units; k++)
        assert_false(reach[k][k]);
}

/* One drawn of up to 24 nodes, most of which read what came last. */
static NNRT_Model *random_model(void)
{
    char nodes[512] = "", outputs[64] = "";
    const uint32_t count = 1 + draw(24), outs = 1 + draw(3);
    size_t n = 0;
    for (uint32_t i = 1; i <= count; i++) {
        const uint32_t from = draw(2) == 0 && i > 4 ? i - 4 : 0;
        n += (size_t)snprintf(nodes + n, sizeof(nodes) - n, "%c%u,%u>%u ", "ABC"[draw(3)], from + draw(i - from),
                              draw(i), i);
    }
    n = 0;
    for (uint32_t i = 0; i < outs; i++)
        n += (size_t)snprintf(outputs + n, sizeof(outputs) - n, "%u ", 1 + draw(count));
    n += (size_t)snprintf(outputs + n, sizeof(outputs) - n, "%u", count);
    return drawn(nodes, outputs);
}

static void split_at_random(const NNRT_Model *m, bool deep, bool everywhere)
{
    static const char *const lists[] = {"auto:a,b", "auto:b,a", "auto:a", "auto:a,b,reference", "auto:b,auto"};
    static const char *const mores[] = {"", ",type=CPU", ",dims=0..100000", ",without=Run+RunV1"};
    const char *names[32];
    const uint32_t count = operators_of(m, names);
    nnrt_fake *a = random_device("a", names, count, mores[draw(4)]), *b = random_device("b", names, count, mores[draw(4)]);
    nnrt_session_desc desc;
    nnrt_partition p;
    report r;
    nnrt_session *s;
    result_of want;
    reference_run(m, 7, &want);
    reported(&desc, &p, &r, lists[draw(5)]);
    desc.copyConstants = draw(2) == 0;
    s = opened(m, &desc);
    expect_parts(m, &r);
    expect_same(s, &want, 7);
    nnrt_session_destroy(s);
    if (everywhere)
        expect_everywhere(m, desc.device, &p, &want, deep);
    results_end(&want);
    unregistered(a);
    unregistered(b);
}

static void test_random_models(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 300; i++) {
        NNRT_Model *m = random_model();
        split_at_random(m, i % 50 == 0, i % 3 == 0);
        nnrt_model_destroy(m);
    }
}

static NNRT_Model *loaded(const char *path)
{
    NNRT_Model *m = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_onnx_load(&m, path, NULL, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", path, e.message);
    return m;
}

static void test_networks(void **state)
{
    static const char *const paths[] = {"examples/digits/digits.onnx", "examples/digits/digits_int8.onnx"};
    (void)state;
    for (uint32_t i = 0; i < COUNT(paths); i++) {
        NNRT_Model *m = loaded(paths[i]);
        for (uint32_t k = 0; k < 40; k++)
            split_at_random(m, false, k % 20 == 0);
        nnrt_model_destroy(m);
    }
}

/* ---- strict, kept nodes ---- */

static NNRT_ReturnCode open_with(const NNRT_Model *m, const char *device, const nnrt_partition *p, nnrt_session **s,
                                 nnrt_error *e)
{
    nnrt_session_desc desc;
    memset(&desc, 0, sizeof(desc));
    memset(e, 0, sizeof(*e));
    desc.device = device;
    desc.partition = p;
    return nnrt_session_create(s, m, &desc, e);
}

static void test_strict(void **state)
{
    static const struct {
        const char *device, *message;
        NNRT_ReturnCode code;
    } rows[] = {
        {"auto:a,b", "", NNRT_SUCCESS},
        {"auto:c", "", NNRT_SUCCESS},
        {"auto:a", "no device takes node 1 't2' (ADD_FUSION): node 1 't2' (ADD_FUSION): device 'a' does not have",
         NNRT_UNSUPPORTED_OP},
        {"auto:b", "no device takes node 0 't1' (ACTIVATION)", NNRT_UNSUPPORTED_OP},
        {"auto:a,reference", "", NNRT_SUCCESS},
        {"auto:a,nobody", "there is no device at the beginning of 'nobody'", NNRT_INVALID_PARAMETER},
        {"auto:", "there is no device", NNRT_INVALID_PARAMETER},
        {"auto:a,,b", "there is no device", NNRT_INVALID_PARAMETER},
        {"auto:a_nnrt_v1_0,b_nnrt_v1_0,a", "", NNRT_SUCCESS},
        {"auto", "", NNRT_SUCCESS},
    };
    NNRT_Model *m = drawn("A0>1 B1,0>2", "2");
    nnrt_fake *fakes[3];
    result_of want;
    (void)state;
    reference_run(m, 7, &want);
    for (uint32_t i = 0; i < 3; i++)
        fakes[i] = registered(abc[i]);
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        nnrt_partition p;
        nnrt_session *s = NULL;
        nnrt_error e;
        memset(&p, 0, sizeof(p));
        p.strict = true;
        if (open_with(m, rows[i].device, &p, &s, &e) != rows[i].code || strstr(e.message, rows[i].message) == NULL)
            fail_msg("%s: %d %s", rows[i].device, e.code, e.message);
        if (s != NULL)
            expect_same(s, &want, 7);
        nnrt_session_destroy(s);
    }
    for (uint32_t i = 0; i < 3; i++)
        unregistered(fakes[i]);
    fakes[0] = registered("fake:name=a,ops=ACTIVATION,fail=PrepareModel");
    fakes[1] = registered(abc[1]);
    {
        nnrt_partition p;
        nnrt_session *s = NULL;
        nnrt_error e;
        memset(&p, 0, sizeof(p));
        p.strict = true;
        assert_int_equal(open_with(m, "auto:a,b", &p, &s, &e), NNRT_DEVICE_ERROR);
        assert_non_null(strstr(e.message, "no device prepares the part of node 0 't1'"));
        assert_non_null(strstr(e.message, "was told to fail"));
        p.strict = false;
        assert_int_equal(open_with(m, "auto:a,b", &p, &s, &e), NNRT_SUCCESS);
        expect_same(s, &want, 7);
        nnrt_session_destroy(s);
    }
    unregistered(fakes[0]);
    unregistered(fakes[1]);
    results_end(&want);
    nnrt_model_destroy(m);
}

/* The grammar: type, type:inputs, type:inputs:outputs, type::outputs; names in any order, a part of them is enough. */
static void test_kept(void **state)
{
    static const struct {
        const char *keep, *parts, *unmatched;
    } rows[] = {
        {NULL, "0000", ""},
        {"", "0000", ""},
        {"\n# ADD_FUSION\n\r\n", "0000", ""},
        {"ADD_FUSION", "0RR1", ""},
        {"ADD_FUSION:t0", "0RR1", ""},
        {"ADD_FUSION:t1", "0R11", ""},
        {"ADD_FUSION:t0,t1", "0R11", ""},
        {"ADD_FUSION:t1,t0\r\n", "0R11", ""},
        {"ADD_FUSION::t3", "00R1", ""},
        {"ADD_FUSION:t2:t3", "00R1", ""},
        {"ADD_FUSION:t0:t3\nACTIVATION::t4", "00RR", ""},
        {"ADD_FUSION:t2:t2", "0000", "no node matches 'ADD_FUSION:t2:t2'"},
        {"ADD_FUSION:t0,t1,t2", "0000", "no node matches"},
        {"ADD_FUSION: t0", "0000", "no node matches"},
        {"ADD", "0000", "no node matches 'ADD'"},
        {"ADD_FUSION \nACTIVATION::t1", "R000", "no node matches 'ADD_FUSION '"},
        {"ADD_FUSION-ACTIVATION", "0000", "no node matches"},
    };
    NNRT_Model *m = drawn("A0>1 B1,0>2 B2,0>3 A3>4", "4");
    nnrt_fake *c = registered(abc[2]);
    result_of want;
    (void)state;
    reference_run(m, 7, &want);
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        nnrt_partition p;
        report r;
        nnrt_session *s = NULL;
        nnrt_error e;
        memset(&p, 0, sizeof(p));
        memset(&r, 0, sizeof(r));
        p.keep = rows[i].keep;
        p.placed = listen;
        p.user = &r;
        p.strict = i % 2 == 0; /* what is kept is no fallback */
        if (open_with(m, "auto:c", &p, &s, &e) != NNRT_SUCCESS)
            fail_msg("%s: %s", rows[i].keep, e.message);
        if (strcmp(parts_of(&r, 4), rows[i].parts) != 0 || strstr(r.unmatched, rows[i].unmatched) == NULL ||
            (rows[i].unmatched[0] == '\0') != (r.unmatched[0] == '\0'))
            fail_msg("%s: %s, %s", rows[i].keep, parts_of(&r, 4), r.unmatched);
        expect_same(s, &want, 7);
        nnrt_session_destroy(s);
    }
    unregistered(c);
    results_end(&want);
    nnrt_model_destroy(m);
}

static void test_report(void **state)
{
    NNRT_Model *m = drawn("A0>1 B1,0>2 C2,0>3", "3");
    nnrt_fake *a = registered(abc[0]), *b = registered("fake:name=b,ops=ADD_FUSION");
    nnrt_partition p;
    report r;
    nnrt_session *s = NULL;
    nnrt_error e;
    (void)state;
    memset(&p, 0, sizeof(p));
    memset(&r, 0, sizeof(r));
    p.placed = listen;
    p.user = &r;
    assert_int_equal(open_with(m, "auto:a,b", &p, &s, &e), NNRT_SUCCESS);
    assert_string_equal(parts_of(&r, 3), "01R");
    assert_int_equal(nnrt_session_get_memory(s).steps, 3);
    assert_string_equal(r.device[0], "a_nnrt_v1_0");
    assert_string_equal(r.reason[0], "");
    assert_string_equal(r.device[1], "b_nnrt_v1_0");
    assert_string_equal(r.reason[1], "node 1 't2' (ADD_FUSION): device 'a' does not have this operator");
    assert_string_equal(r.device[2], "reference_nnrt_v2_0");
    assert_string_equal(r.reason[2], "node 2 't3' (SUB_FUSION): device 'a' does not have this operator");
    nnrt_session_destroy(s);
    unregistered(a);
    unregistered(b);
    nnrt_model_destroy(m);
}

/* ---- devices that fail, lack slots, tell nonsense ---- */

/* Every slot fails or tells nonsense, every time or once: the results are right, or the session or the run is refused. */
static void test_faults(void **state)
{
    static const char *const slots[] = {
#define SLOT(table, slot) #slot,
        NNRT_FAKE_SLOTS(SLOT)
#undef SLOT
    };
    NNRT_Model *m = drawn("A0>1 B1,0>2 A2>3 C3,1>4", "4 2");
    uint32_t right = 0, refused = 0, failed = 0;
    result_of want;
    (void)state;
    reference_run(m, 7, &want);
    for (uint32_t i = 3; i < COUNT(slots); i++) /* without a name, or offline, there is no device */
        for (uint32_t way = 0; way < 6 && strcmp(slots[i], "GetDeviceStatus") != 0; way++) {
            static const char *const ways[6] = {"fail=%s", "fail=%s:1", "fail=%s:2", "fail=%s,code=OUT_OF_MEMORY",
                                                "garbage=%s", "fail=%s,code=NOT_SUPPORT"};
            char option[64], text[128];
            nnrt_fake *a, *b = registered(abc[1]);
            nnrt_session_desc desc;
            nnrt_session *s = NULL;
            nnrt_error e;
            size_t bytes = 0;
            result_of got;
            memset(&got, 0, sizeof(got));
            memset(&desc, 0, sizeof(desc));
            memset(&e, 0, sizeof(e));
            snprintf(option, sizeof(option), ways[way], slots[i]);
            snprintf(text, sizeof(text), "fake:name=a,ops=ACTIVATION,%s", option);
            a = registered(text);
            desc.device = "auto:a,b";
            if (nnrt_session_bytes(m, &desc, &bytes, NULL) != NNRT_SUCCESS)
                assert_int_equal(bytes, 0);
            if (nnrt_session_create(&s, m, &desc, &e) != NNRT_SUCCESS) {
                refused++;
                print_message("%s: %s\n", option, e.message);
            } else if (run_session(s, 7, &got) != NNRT_SUCCESS) {
                failed++;
                assert_non_null(strstr(nnrt_session_error(s), "on device 'a_nnrt_v1_0': device 'a' was told to fail"));
            } else {
                right++;
                assert_memory_equal(got.data[0], want.data[0], want.bytes[0]);
                assert_memory_equal(got.data[1], want.data[1], want.bytes[1]);
            }
            results_end(&got);
            nnrt_session_destroy(s);
            unregistered(a);
            unregistered(b);
        }
    assert_int_equal(refused, 0); /* the reference device is always there */
    assert_int_equal(failed, 5);  /* RunIn: each time, the first, the second time, with three codes */
    assert_true(right > 60);
    results_end(&want);
    nnrt_model_destroy(m);
}

/* A part that its device does not prepare goes to the next one that takes it. */
static void test_next_device(void **state)
{
    static const char *const first[] = {"fake:name=a,ops=ACTIVATION,fail=PrepareModel,code=NOT_SUPPORT",
                                        "fake:name=a,ops=ACTIVATION,fail=PrepareModel:1",
                                        "fake:name=a,ops=ACTIVATION,garbage=PrepareModel",
                                        "fake:name=a,ops=ACTIVATION,garbage=GetIO",
                                        "fake:name=a,ops=ACTIVATION,garbage=GetWorkspaceSize",
                                        "fake:name=a,not=ADD_FUSION+SUB_FUSION,garbage=GetSupportedNodes"};
    NNRT_Model *m = drawn("A0>1 B1,0>2 A2>3 C3,1>4", "4");
    result_of want;
    (void)state;
    reference_run(m, 7, &want);
    for (uint32_t i = 0; i < COUNT(first); i++) {
        nnrt_fake *a = registered(first[i]), *b = registered("fake:name=b,ops=ACTIVATION+ADD_FUSION");
        nnrt_partition p;
        report r;
        nnrt_session *s = NULL;
        nnrt_error e;
        memset(&p, 0, sizeof(p));
        memset(&r, 0, sizeof(r));
        p.placed = listen;
        p.user = &r;
        if (open_with(m, "auto:a,b", &p, &s, &e) != NNRT_SUCCESS)
            fail_msg("%s: %s", first[i], e.message);
        assert_int_equal(r.told, 4);
        assert_string_equal(r.device[0], "b_nnrt_v1_0");
        assert_string_equal(r.reason[0], "a device that takes it did not prepare its part");
        assert_string_equal(r.device[2], i == 1 ? "a_nnrt_v1_0" : "b_nnrt_v1_0");
        assert_string_equal(r.device[3], "reference_nnrt_v2_0");
        expect_same(s, &want, 7);
        nnrt_session_destroy(s);
        unregistered(a);
        unregistered(b);
    }
    results_end(&want);
    nnrt_model_destroy(m);
}

/* RunIn is there if all parts have it; a buffer is shared if all parts tell how much they take. */
static void test_slots(void **state)
{
    static const struct {
        const char *more;
        bool shares, tells;
    } rows[] = {{"", true, true},
                {",without=RunIn", false, true},
                {",without=RunIn+Run", false, true},
                {",without=GetModelMemory", true, false},
                {",without=GetMemory", true, true},
                {",without=GetIO+GetInputDimRanges+GetOutputDimRanges+Run+RunV1", true, true}};
    NNRT_Model *m = drawn("A0>1 B1,0>2 A2>3", "3");
    result_of want;
    (void)state;
    reference_run(m, 7, &want);
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        nnrt_fake *a, *b = registered(abc[1]);
        nnrt_session_desc desc;
        nnrt_session *s, *second = NULL;
        size_t bytes = 0;
        nnrt_error e;
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        snprintf(text, sizeof(text), "fake:name=a,ops=ACTIVATION%s", rows[i].more);
        a = registered(text);
        desc.device = "auto:a,b";
        s = opened(m, &desc);
        expect_same(s, &want, 7);
        desc.share = s;
        assert_int_equal(nnrt_session_create(&second, m, &desc, NULL), rows[i].shares ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
        nnrt_session_destroy(second);
        nnrt_session_destroy(s);
        desc.share = NULL;
        {
            NNRT_ModelConfig config;
            memset(&config, 0, sizeof(config));
            config.autoDevices = "a,b";
            config.error = &e;
            assert_int_equal(nnrt_device_model_memory(nnrt_device_find("auto"), m, &config, &bytes),
                             rows[i].tells ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
        }
        {
            static uint64_t space[8192];
            desc.buffer = (uint8_t *)space + (64 - (uintptr_t)space % 64) % 64;
            desc.bufferBytes = sizeof(space) - 64;
            memset(&e, 0, sizeof(e));
            assert_int_equal(nnrt_session_create(&s, m, &desc, &e), rows[i].tells ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
            if (rows[i].tells)
                expect_same(s, &want, 7);
            else
                assert_non_null(strstr(e.message, "'a_nnrt_v1_0' does not tell how much memory"));
            nnrt_session_destroy(s);
        }
        unregistered(a);
        unregistered(b);
    }
    results_end(&want);
    nnrt_model_destroy(m);
}

/* ---- what is not split ---- */

/* y = cond ? relu(x) : |x| + x: a model with subgraphs is on one device; that is the reference device where none takes all
   of it, and none in strict mode. */
static void test_subgraphs(void **state)
{
    static const int32_t three[1] = {3};
    static const struct {
        const char *device, *has;
    } rows[] = {{"auto:a", "reference_nnrt_v2_0"}, {"auto:a,b", "b_nnrt_v1_0"}, {"auto:b,a", "b_nnrt_v1_0"}};
    NNRT_Model *m = NULL;
    nnrt_builder *b = NULL;
    nnrt_fake *fakes[2];
    NNRT_If branch;
    uint32_t x, cond, in[2], out;
    nnrt_error e;
    (void)state;
    memset(&branch, 0, sizeof(branch));
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, "branches", NULL), NNRT_SUCCESS);
    cond = nnrt_builder_input(b, "cond", NNRT_DATA_TYPE_BOOL, 0, NULL);
    x = nnrt_builder_input(b, "x", F32, 1, three);
    branch.thenGraph = nnrt_builder_graph(b, "then");
    branch.elseGraph = nnrt_builder_graph(b, "else");
    nnrt_builder_enter(b, branch.thenGraph);
    out = nnrt_builder_op(b, "relu", NNRT_NODE_TYPE_ACTIVATION, &relu, &x, 1);
    nnrt_builder_graph_io(b, branch.thenGraph, NULL, 0, &out, 1);
    nnrt_builder_enter(b, branch.elseGraph);
    in[0] = nnrt_builder_op(b, "abs", NNRT_NODE_TYPE_ACTIVATION, &absolute, &x, 1);
    in[1] = x;
    out = nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, &plain_add, in, 2);
    nnrt_builder_graph_io(b, branch.elseGraph, NULL, 0, &out, 1);
    nnrt_builder_enter(b, 0);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_IF, &branch, &cond, 1));
    if (nnrt_builder_finish(b, &m, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    fakes[0] = registered("fake:name=a,not=ADD_FUSION");
    fakes[1] = registered("fake:name=b");
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        nnrt_partition p;
        report r;
        nnrt_session *s = NULL;
        memset(&p, 0, sizeof(p));
        memset(&r, 0, sizeof(r));
        p.placed = listen;
        p.user = &r;
        if (open_with(m, rows[i].device, &p, &s, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        assert_int_equal(r.told, m->nodes.count);
        for (uint32_t k = 0; k < m->nodes.count; k++)
            assert_string_equal(r.device[k], rows[i].has);
        for (uint32_t k = 0; k < 2; k++) {
            bool yes = k == 0;
            float v[3] = {-1, 2, -3}, y[3];
            nnrt_io ins[2], o = nnrt_io_make(y, sizeof(y));
            ins[0] = nnrt_io_make(&yes, sizeof(yes));
            ins[1] = nnrt_io_make(v, sizeof(v));
            assert_int_equal(nnrt_run(s, ins, 2, &o, 1), NNRT_SUCCESS);
            for (uint32_t n = 0; n < 3; n++)
                assert_true(y[n] == (v[n] > 0 ? v[n] * (yes ? 1 : 2) : 0));
        }
        nnrt_session_destroy(s);
        p.strict = true;
        memset(&r, 0, sizeof(r));
        assert_int_equal(open_with(m, rows[i].device, &p, &s, &e), i == 0 ? NNRT_NOT_SUPPORT : NNRT_SUCCESS);
        nnrt_session_destroy(s);
    }
    unregistered(fakes[0]);
    unregistered(fakes[1]);
    nnrt_model_destroy(m);
}

/* y = a(x) + b(c), rows of x open: what works on c has fixed extents and is a part; the rest stays. */
static void test_open_extents(void **state)
{
    static const int32_t dims[2] = {-1, 3}, row[1] = {3};
    NNRT_Model *m = NULL;
    nnrt_builder *b = NULL;
    nnrt_fake *a = registered("fake:name=a,dynamic=no");
    nnrt_session_desc desc;
    nnrt_partition p;
    nnrt_bound most;
    nnrt_session *s = NULL;
    nnrt_error e;
    report r;
    uint32_t in[2], c;
    (void)state;
    memset(&e, 0, sizeof(e));
    memset(&p, 0, sizeof(p));
    memset(&desc, 0, sizeof(desc));
    memset(&most, 0, sizeof(most));
    memset(&r, 0, sizeof(r));
    assert_int_equal(nnrt_builder_create(&b, "open", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", F32, 2, dims);
    c = nnrt_builder_input(b, "c", F32, 1, row);
    in[0] = nnrt_builder_op(b, "positive", NNRT_NODE_TYPE_ACTIVATION, &absolute, in, 1);
    c = nnrt_builder_op(b, "row", NNRT_NODE_TYPE_ACTIVATION, &absolute, &c, 1);
    in[1] = nnrt_builder_op(b, "again", NNRT_NODE_TYPE_ACTIVATION, &relu, &c, 1);
    nnrt_builder_output(b, nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, &plain_add, in, 2));
    assert_int_equal(nnrt_builder_finish(b, &m, &e), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    most.tensor = "x";
    most.most.rank = 2;
    most.most.dims[0] = 4;
    most.most.dims[1] = 3;
    p.placed = listen;
    p.user = &r;
    desc.bounds = nnrt_bound_list_make(&most, 1);
    desc.partition = &p;
    desc.device = "auto:a";
    if (nnrt_session_create(&s, m, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_string_equal(parts_of(&r, 4), "R00R");
    for (int32_t rows = 0; rows <= 4; rows++) {
        float x[12], k[3] = {-1, 2, -3}, y[12];
        int32_t now[2] = {rows, 3};
        nnrt_io ins[2], out = nnrt_io_make(y, sizeof(y));
        for (int32_t i = 0; i < 12; i++)
            x[i] = (float)(i - 5);
        ins[0] = nnrt_io_make(x, (size_t)rows * 12);
        ins[0].dims = now;
        ins[1] = nnrt_io_make(k, sizeof(k));
        if (nnrt_run(s, ins, 2, &out, 1) != NNRT_SUCCESS)
            fail_msg("%s", nnrt_session_error(s));
        assert_int_equal(nnrt_session_output(s, 0).shape.dims[0], rows);
        for (int32_t i = 0; i < rows * 3; i++)
            assert_true(y[i] == (x[i] < 0 ? -x[i] : x[i]) + (float)(i % 3 + 1));
    }
    nnrt_session_destroy(s);
    p.strict = true;
    memset(&r, 0, sizeof(r));
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_session_create(&s, m, &desc, &e), NNRT_NOT_SUPPORT);
    assert_non_null(strstr(e.message, "node 0 'positive' (ACTIVATION): its extents are open"));
    unregistered(a);
    nnrt_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),     cmocka_unit_test(test_random_models), cmocka_unit_test(test_networks),
        cmocka_unit_test(test_strict),    cmocka_unit_test(test_kept),          cmocka_unit_test(test_report),
        cmocka_unit_test(test_faults),    cmocka_unit_test(test_next_device),   cmocka_unit_test(test_slots),
        cmocka_unit_test(test_subgraphs), cmocka_unit_test(test_open_extents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
