/* auto partitions a model over several devices (devices/nnrt_auto.h). Expected results come from the reference device
   alone: partitions on devices of devices/nnrt_fake.h must be bit-identical. Expected partitions are derived by hand. */
#define _POSIX_C_SOURCE 200809L /* posix_memalign */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "fakes.h"

#include "devices/nnrt_cpu.h"
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
    char device[MOST][32]; /* of each node; "" not reported */
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

static const nnrt_parallel *threads; /* of the sessions in expect_everywhere and split_at_random */

/* Sessions have the same results, also a shared one, one in a buffer of exactly the reported bytes, and with the n-th
   allocation failing. One byte less is out of memory. All sessions report to r; deep: every n, else some. */
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
    desc.parallel = threads;
    memset(&r, 0, sizeof(r));
    p->user = &r;
    s = opened(m, &desc);
    expect_same(s, want, 7);
    desc.share = s;
    desc.partition = NULL;
    desc.parallel = NULL;
    assert_int_equal(nnrt_session_create(&second, m, &desc, NULL), NNRT_SUCCESS);
    expect_same(second, want, 7);
    nnrt_session_destroy(s);
    expect_same(second, want, 7);
    nnrt_session_destroy(second);
    desc.share = NULL;
    desc.partition = p;
    desc.parallel = threads;
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
    for (uint32_t i = 0; i < 4; i++) { /* a smaller buffer: out of memory, and nothing is written outside of it */
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
        if (code == NNRT_SUCCESS) { /* the part of a device without memory moves to the next device */
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

/* ---- models from text: parts ---- */

/* Rows of the input of the models of `drawn`; -1: dynamic. */
static int32_t drawn_rows = 2;

/* Nodes "A0>1 B1,0>2": A is ACTIVATION, B ADD_FUSION of two, C SUB_FUSION of two, D is ACTIVATION too, but of the name that
   keep records know; tensor 0 is the input [drawn_rows,3]; outputs "2 3". */
static NNRT_Model *drawn(const char *nodes, const char *outputs)
{
    const int32_t dims[2] = {drawn_rows, 3};
    NNRT_Model *model = NULL;
    nnrt_builder *b = NULL;
    nnrt_error e;
    static uint32_t all[8]; /* duplicate outputs: valid in a model, refused by the builder */
    uint32_t tensors[32], n = 0, count = 0;
    bool twice = false;
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
        uint32_t k = 0;
        all[count] = tensors[strtoul(outputs, &end, 10)];
        while (all[k] != all[count])
            k++;
        if (k == count)
            nnrt_builder_output(b, all[count]);
        twice = twice || k < count;
        count++;
        outputs = end + strspn(end, " ");
    }
    if (nnrt_builder_finish(b, &model, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    if (twice) {
        model->outputIndex = NNRT_Uint32List_make(all, count);
        ((NNRT_SubGraph *)(uintptr_t)model->subGraph.data)->outputIndices = model->outputIndex;
    }
    assert_int_equal(model->nodes.count, n);
    return model;
}

typedef struct split_case {
    const char *name, *nodes, *outputs, *devices, *parts;
} split_case;

/* Device a supports ACTIVATION, b ADD_FUSION and SUB_FUSION, c all. */
static const split_case cases[] = {
    {"a chain", "A0>1 A1>2 B2,0>3 A3>4", "4", "auto:a,b", "0012"},
    {"one device takes all", "A0>1 A1>2", "2", "auto:a,b", "00"},
    {"the second device takes all", "B0,0>1 C1,0>2", "2", "auto:a,b", "00"},
    {"the rest", "A0>1 B1,0>2 A2>3", "3", "auto:a", "0R1"},
    {"nobody has it", "B0,0>1", "1", "auto:a", "0"},
    /* two consumers of a result of a; b has one part, as no path leads out of it and back */
    {"two ways", "A0>1 A1>2 B1,1>3 A2>4 B4,3>5 A5>6", "6", "auto:a,b", "001012"},
    /* 4 reads 2, but in the part of 1 and 2 the part would need 3, which needs 1 */
    {"a diamond on one and one", "B0,0>1 B1,0>2 A1>3 B2,3>4", "4", "auto:a,b", "0012"},
    /* the branches join in one part of the next nodes: no path leads out of it and back */
    {"two branches", "A0>1 A0>2 B1,2>3 B3,1>4", "4", "auto:a,b", "0122"},
    {"siblings are not connected", "A0>1 A0>2 B0,0>3", "1 2 3", "auto:a,b", "012"},
    /* the first device of the list that supports it */
    {"the order counts", "A0>1 B1,0>2", "2", "auto:a,c", "01"},
    {"the order counts, and all fits", "A0>1 B1,0>2", "2", "auto:c,a", "00"},
    /* an output that another part reads is stored in both places */
    {"an output is read", "A0>1 B1,0>2", "1 2 1", "auto:a,b", "01"},
    /* in the order of the model part 0 would start before part 1, whose result its second node needs */
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

/* ---- no copies between parts ---- */

/* Addresses of the first input and the output in the kernels of a device. */
typedef struct sight {
    const void *in, *out;
    nnrt_kernel kernel; /* the original kernel */
    NNRT_NodeType takes;
    uint32_t calls, tasks;
    NNRT_ReturnCode code; /* of their failure */
    int stream, answers;  /* the answer of the application to event 256; number of answers */
} sight;

static sight sights[2];

static void sight_task(void *arg, uint32_t i, uint32_t worker)
{
    (void)i, (void)worker;
    (void)__atomic_add_fetch((uint32_t *)arg, 1, __ATOMIC_SEQ_CST);
}

/* Kernels of the two devices that run now; how often two ran at once; milliseconds that each waits for another. */
static uint32_t working, together, patience;

static NNRT_ReturnCode see(sight *s, const void *attr, nnrt_view *args, nnrt_call *call)
{
    s->in = args[0].data;
    s->out = args[call->nIn + call->nDerived].data;
    s->calls++;
    nnrt_parallel_for(call, 4, sight_task, &s->tasks);
    if (__atomic_add_fetch(&working, 1, __ATOMIC_SEQ_CST) == 2)
        (void)__atomic_add_fetch(&together, 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < patience && __atomic_load_n(&together, __ATOMIC_SEQ_CST) == 0; i++) {
        const struct timespec t = {0, 1000000};
        (void)nanosleep(&t, NULL);
    }
    (void)__atomic_sub_fetch(&working, 1, __ATOMIC_SEQ_CST);
    return s->code != NNRT_SUCCESS ? nnrt_call_fail(call, s->code, "%s is broken", s == sights ? "first" : "second")
                                   : s->kernel(attr, args, call);
}

static NNRT_ReturnCode see_first(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return see(&sights[0], attr, args, call);
}

static NNRT_ReturnCode see_second(const void *attr, nnrt_view *args, nnrt_call *call)
{
    return see(&sights[1], attr, args, call);
}

static NNRT_ReturnCode sight_edit(void *user, nnrt_draft *draft)
{
    sight *s = (sight *)user;
    for (uint32_t i = 0; i < draft->nSteps; i++) {
        s->kernel = draft->steps[i].kernel;
        draft->steps[i].kernel = s == &sights[0] ? see_first : see_second;
    }
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode sight_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                     NNRT_PreparedModel **prepared)
{
    sight *s = (sight *)self;
    NNRT_ModelConfig own;
    nnrt_config_read(&own, config);
    if (own.ask != NULL && own.ask(256, &s->stream) == 0)
        s->answers++;
    return nnrt_plan_prepare(model, config, sight_edit, self, NULL, prepared);
}

static NNRT_ReturnCode sight_memory(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config, size_t *bytes)
{
    return nnrt_plan_memory(model, config, sight_edit, self, bytes);
}

static NNRT_ReturnCode sight_supported(void *self, const NNRT_Model *model, bool *isSupported, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        isSupported[i] = model->nodes.data[i].nodeType == ((const sight *)self)->takes;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode sight_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode sight_name(void *self, const char **name)
{
    *name = self == &sights[0] ? "first" : "second";
    return NNRT_SUCCESS;
}

/* The two devices: `first` supports ACTIVATION, `second` another operator. */
static void sights_begin(NNRT_NodeType second)
{
    static NNRT_DeviceVtbl table; /* the devices keep its address */
    memset(&table, 0, sizeof(table));
    memset(sights, 0, sizeof(sights));
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.GetVersion = sight_version;
    table.GetDeviceName = table.GetVendorName = sight_name;
    table.GetSupportedOperation = sight_supported;
    table.PrepareModel = sight_prepare;
    table.GetModelMemory = sight_memory;
    sights[0].takes = NNRT_NODE_TYPE_ACTIVATION;
    sights[1].takes = second;
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(nnrt_device_register(&table, &sights[i], NULL), NNRT_SUCCESS);
}

static void sights_end(void)
{
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(nnrt_device_unregister(i == 0 ? "first" : "second"), NNRT_SUCCESS);
}

/* Two devices in the memory of the program: each reads the result of the other in place; inputs and outputs are the
   arrays of the caller. */
static void test_borders(void **state)
{
    NNRT_Model *m = drawn("A0>1 C1,0>2 A2>3", "3"); /* |(|x| - x)| */
    float x[6] = {1, -2, 3, -4, 5, -6}, y[6];
    const float wanted[6] = {0, 4, 0, 8, 0, 12};
    nnrt_session_desc desc;
    nnrt_session *s;
    const void *border;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    sights_begin(NNRT_NODE_TYPE_SUB_FUSION);
    desc.device = "auto:first,second";
    s = opened(m, &desc);
    assert_int_equal(nnrt_session_get_memory(s).steps, 3); /* and no copy */
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_memory_equal(y, wanted, sizeof(y));
    assert_true(sights[0].calls == 2 && sights[1].calls == 1);
    assert_ptr_equal(sights[0].out, y);
    assert_ptr_equal(sights[0].in, sights[1].out);
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);
    m = drawn("A0>1 C1,0>2", "2");
    s = opened(m, &desc);
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    assert_ptr_equal(sights[0].in, x);
    assert_ptr_equal(sights[1].in, sights[0].out);
    assert_ptr_equal(sights[1].out, y);
    border = sights[1].in;
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS); /* and the same address in another run */
    assert_ptr_equal(sights[1].in, border);
    nnrt_session_destroy(s);
    nnrt_model_destroy(m);
    sights_end();
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

/* A device that supports each of the operators with probability 1/2, and one of them certainly. */
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

/* The reported partition is valid: the graph of the parts has no cycle, and the nodes of a part are connected. */
static void expect_parts(const NNRT_Model *m, const report *r)
{
    bool reach[MOST][MOST];
    uint32_t unit[MOST]; /* of each node: its part, or a number of its own after the parts */
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

/* A random model of up to 24 nodes, most of which read recent results. */
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
    desc.parallel = threads;
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

/* ---- events that the application answers ---- */

static int give_stream(int event, void *data)
{
    static int next;
    if (event != 256)
        return -1;
    *(int *)data = ++next;
    return 0;
}

/* The application answers a device with the whole model, and each device with a part. */
static void test_ask(void **state)
{
    static const char *const names[3] = {"first", "auto:first", "auto:first,second"};
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        NNRT_Model *m = drawn(i % 3 == 2 ? "A0>1 C1,0>2" : "A0>1", i % 3 == 2 ? "2" : "1");
        nnrt_session_desc desc;
        sights_begin(NNRT_NODE_TYPE_SUB_FUSION);
        memset(&desc, 0, sizeof(desc));
        desc.device = names[i % 3];
        desc.ask = i < 3 ? give_stream : NULL;
        nnrt_session_destroy(opened(m, &desc));
        assert_int_equal(sights[0].answers, i < 3);
        assert_int_equal(sights[1].answers, i == 2);
        assert_true(i != 2 || (sights[0].stream != sights[1].stream && sights[1].stream != 0));
        sights_end();
        nnrt_model_destroy(m);
    }
}

/* ---- concurrent parts ---- */

/* Two threads for one call at a time. A nested call could wait forever in a pool with few threads. */
typedef struct crew {
    uint32_t next, count, calls, inside, nested;
    void (*task)(void *arg, uint32_t i, uint32_t worker);
    void *arg;
} crew;

static crew crew_of_two;

static void *crew_work(void *user)
{
    crew *c = &crew_of_two;
    const uint32_t worker = user != NULL;
    for (uint32_t i = __atomic_fetch_add(&c->next, 1, __ATOMIC_SEQ_CST); i < c->count;
         i = __atomic_fetch_add(&c->next, 1, __ATOMIC_SEQ_CST))
        c->task(c->arg, i, worker);
    return NULL;
}

static void crew_run(void *user, uint32_t count, void (*task)(void *arg, uint32_t i, uint32_t worker), void *arg)
{
    crew *c = (crew *)user;
    pthread_t second;
    if (__atomic_add_fetch(&c->inside, 1, __ATOMIC_SEQ_CST) > 1) {
        c->nested++;
        for (uint32_t i = 0; i < count; i++)
            task(arg, i, 0);
        (void)__atomic_sub_fetch(&c->inside, 1, __ATOMIC_SEQ_CST);
        return;
    }
    c->calls++;
    c->next = 0;
    c->count = count;
    c->task = task;
    c->arg = arg;
    if (pthread_create(&second, NULL, crew_work, c) == 0) {
        (void)crew_work(NULL);
        (void)pthread_join(second, NULL);
    }
    (void)__atomic_sub_fetch(&c->inside, 1, __ATOMIC_SEQ_CST);
}

static const nnrt_parallel two_threads = {crew_run, &crew_of_two, 2}, one_thread = {crew_run, &crew_of_two, 1};

static void profile_step(void *user, const nnrt_profile_step *step)
{
    (void)user, (void)step;
}

static uint64_t profile_clock(void *user)
{
    (void)user;
    return 0;
}

/* Two independent parts run concurrently if threads exist, and in sequence without threads, with one, or with a profile
   of steps: results are bit-identical. Kernels in concurrent parts have no threads. */
static void test_at_once(void **state)
{
    static const char nodes[] = "A0>1 B0,0>2 C1,2>3 A3>4 B3,3>5 C4,5>6"; /* C: the reference device */
    NNRT_Model *m = drawn(nodes, "6 2");
    const nnrt_profile profile = {profile_step, profile_clock, NULL};
    nnrt_session_desc desc;
    nnrt_session *s;
    result_of want;
    size_t arena = 0;
    (void)state;
    reference_run(m, 7, &want);
    sights_begin(NNRT_NODE_TYPE_ADD_FUSION);
    for (uint32_t i = 0; i < 4; i++) {
        const bool at_once = i == 1;
        memset(&desc, 0, sizeof(desc));
        memset(&crew_of_two, 0, sizeof(crew_of_two));
        desc.device = "auto:first,second";
        desc.parallel = i == 0 ? NULL : i == 2 ? &one_thread : &two_threads;
        desc.profile = i == 3 ? &profile : NULL;
        together = sights[0].tasks = sights[1].tasks = 0;
        patience = at_once ? 20000 : 20; /* milliseconds */
        s = opened(m, &desc);
        assert_int_equal(nnrt_session_get_memory(s).steps, 6);
        if (i == 0)
            arena = nnrt_session_get_memory(s).arena;
        if (i == 2)
            assert_int_equal(nnrt_session_get_memory(s).arena, arena);
        expect_same(s, &want, 7);
        assert_int_equal(together > 0, at_once);
        assert_true(sights[0].tasks == 8 && sights[1].tasks == 8); /* two calls of each */
        assert_int_equal(crew_of_two.nested, 0);
        assert_int_equal(crew_of_two.calls, i == 1 ? 2 : i == 3 ? 4 : 0); /* the two steps; or the kernels of each part */
        nnrt_session_destroy(s);
    }
    patience = 0;
    { /* if two parts fail, the first one counts; its message has both positions */
        const NNRT_ReturnCode codes[2] = {NNRT_TIME_OUT, NNRT_DEVICE_BUSY};
        desc.profile = NULL;
        for (uint32_t i = 0; i < 3; i++) {
            result_of got;
            s = opened(m, &desc);
            for (uint32_t k = 0; k < 2; k++)
                sights[k].code = i == k || i == 2 ? codes[k] : NNRT_SUCCESS;
            assert_int_equal(run_session(s, 7, &got), i == 1 ? NNRT_DEVICE_BUSY : NNRT_TIME_OUT);
            if (strstr(nnrt_session_error(s), i == 1 ? "node 1 't2': part 1, on device 'second_second_v0_0'"
                                                     : "node 0 't1': part 0, on device 'first_first_v0_0'") == NULL ||
                strstr(nnrt_session_error(s), i == 1 ? "second is broken" : "first is broken") == NULL)
                fail_msg("%s", nnrt_session_error(s));
            results_end(&got);
            sights[0].code = sights[1].code = NNRT_SUCCESS;
            expect_same(s, &want, 7);
            nnrt_session_destroy(s);
        }
    }
    { /* the number of bytes is exact; every allocation may fail */
        nnrt_partition p;
        memset(&p, 0, sizeof(p));
        threads = &two_threads;
        expect_everywhere(m, "auto:first,second", &p, &want, true);
        p.fallback = true;
        expect_everywhere(m, "auto:first,second", &p, &want, false);
        threads = NULL;
    }
    desc.parallel = &two_threads; /* a shared session uses the threads of the session that prepared */
    s = opened(m, &desc);
    desc.share = s;
    {
        nnrt_session *second = NULL;
        assert_int_equal(nnrt_session_create(&second, m, &desc, NULL), NNRT_INVALID_PARAMETER);
    }
    nnrt_session_destroy(s);
    results_end(&want);
    nnrt_model_destroy(m);
    sights_end();
}

/* Dependent parts do not run concurrently, nor parts on one device, nor parts with dynamic shapes. */
static void test_not_at_once(void **state)
{
    static const struct {
        const char *nodes, *outputs;
        int32_t rows;
        uint32_t calls; /* of the thread pool, in a run */
    } models[] = {
        {"A0>1 B1,1>2", "2", 2, 0},                   /* a chain */
        {"A0>1 B0,0>2", "1 2", 2, 1},
        {"A0>1 C0,1>2 B0,0>3", "2 3", 2, 1},          /* the second part is later in the model, and moves up */
        {"A0>1 C0,1>2 B2,2>3", "3", 2, 0},            /* that part is dependent */
        {"A0>1 A0>2 C1,2>3", "3", 2, 0},              /* one device */
        {"A0>1 A0>2 B0,0>3 C1,2>4 C4,3>5", "5", 2, 1}, /* one of two on a device, and the part of the other device */
        {"A0>1 B0,0>2", "1 2", -1, 0},                /* dynamic */
    };
    nnrt_fake *fakes[2] = {registered("fake:name=a,ops=ACTIVATION"), registered("fake:name=b,ops=ADD_FUSION")};
    (void)state;
    for (uint32_t i = 0; i < COUNT(models); i++) {
        const nnrt_dims two = {2, {2, 3}};
        nnrt_bound bound;
        nnrt_session_desc desc;
        nnrt_session *s, *plain;
        result_of want, got;
        NNRT_Model *m;
        drawn_rows = models[i].rows;
        m = drawn(models[i].nodes, models[i].outputs);
        drawn_rows = 2;
        memset(&desc, 0, sizeof(desc));
        memset(&crew_of_two, 0, sizeof(crew_of_two));
        bound.tensor = "t0";
        bound.most = two;
        desc.bounds.data = &bound;
        desc.bounds.count = models[i].rows < 0;
        desc.device = "reference";
        plain = opened(m, &desc);
        desc.device = "auto:a,b";
        desc.parallel = &two_threads;
        s = opened(m, &desc);
        assert_int_equal(run_session(plain, 7, &want), NNRT_SUCCESS);
        assert_int_equal(run_session(s, 7, &got), NNRT_SUCCESS);
        for (uint32_t k = 0; k < want.count; k++)
            assert_memory_equal(got.data[k], want.data[k], want.bytes[k]);
        if (crew_of_two.calls != models[i].calls)
            fail_msg("%s: %u steps at once", models[i].nodes, crew_of_two.calls);
        assert_int_equal(crew_of_two.nested, 0);
        results_end(&want);
        results_end(&got);
        nnrt_session_destroy(s);
        nnrt_session_destroy(plain);
        nnrt_model_destroy(m);
    }
    unregistered(fakes[0]);
    unregistered(fakes[1]);
    threads = &two_threads; /* and random models */
    for (uint32_t i = 0; i < 200; i++) {
        NNRT_Model *m = random_model();
        split_at_random(m, false, i % 8 == 0);
        nnrt_model_destroy(m);
    }
    threads = NULL;
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

/* The grammar: type, type:inputs, type:inputs:outputs, type::outputs; names in any order; a subset of the names
   suffices. */
static void test_kept(void **state)
{
    static const struct {
        const char *keep, *parts, *unmatched;
    } rows[] = {
        {NULL, "0000", ""},
        {"", "0000", ""},
        {"\n# ADD_FUSION\n\r\n", "0000", ""},
        {"ADD_FUSION", "0RR1", ""},
        {"ADD_FUSION\nACTIVATION", "0000", ""}, /* all on one device, the reference device */
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
        p.strict = i % 2 == 0; /* a kept node is not a fallback */
        if (open_with(m, "auto:c", &p, &s, &e) != NNRT_SUCCESS)
            fail_msg("%s: %s", rows[i].keep, e.message);
        if (strcmp(parts_of(&r, 4), rows[i].parts) != 0 || strstr(r.unmatched, rows[i].unmatched) == NULL ||
            (rows[i].unmatched[0] == '\0') != (r.unmatched[0] == '\0'))
            fail_msg("%s: %s, %s", rows[i].keep, parts_of(&r, 4), r.unmatched);
        for (uint32_t n = 0; n < 4; n++)
            assert_string_equal(r.reason[n], r.device[n][0] == 'r' ? "the partition text keeps it on the reference device"
                                                                   : "");
        expect_same(s, &want, 7);
        nnrt_session_destroy(s);
    }
    unregistered(c);
    results_end(&want);
    nnrt_model_destroy(m);
}

/* Parts with fewer nodes than the minimum stay on the reference device; a whole model on one device has no minimum. */
static void test_smallest(void **state)
{
    static const struct {
        const char *nodes, *output;
        uint32_t smallest;
        const char *parts;
    } rows[] = {
        {"A0>1 B1,0>2 A2>3 A3>4", "4", 0, "0R11"}, {"A0>1 B1,0>2 A2>3 A3>4", "4", 1, "0R11"},
        {"A0>1 B1,0>2 A2>3 A3>4", "4", 2, "RR00"}, {"A0>1 B1,0>2 A2>3 A3>4", "4", 3, "RRRR"},
        {"A0>1 A1>2", "2", 3, "00"},
    };
    nnrt_fake *a = registered(abc[0]);
    (void)state;
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        NNRT_Model *m = drawn(rows[i].nodes, rows[i].output);
        for (int fallback = 0; fallback < 2; fallback++) {
            nnrt_session_desc desc;
            nnrt_partition p;
            report r;
            nnrt_session *s;
            result_of want;
            reference_run(m, 7, &want);
            reported(&desc, &p, &r, "auto:a");
            p.smallest = rows[i].smallest;
            p.fallback = fallback != 0;
            s = opened(m, &desc);
            /* if no device gets a part, the reference device runs the whole model */
            if (strcmp(parts_of(&r, m->nodes.count), i == 3 ? "0000" : rows[i].parts) != 0)
                fail_msg("row %u: parts %s", i, parts_of(&r, m->nodes.count));
            if (rows[i].smallest == 2)
                assert_string_equal(r.reason[0], "its part has fewer nodes than are wanted");
            expect_same(s, &want, 7);
            nnrt_session_destroy(s);
            results_end(&want);
        }
        nnrt_model_destroy(m);
    }
    { /* strict: an error */
        NNRT_Model *m = drawn(rows[0].nodes, rows[0].output);
        nnrt_fake *b = registered(abc[1]);
        nnrt_partition p;
        nnrt_session *s = NULL;
        nnrt_error e;
        memset(&p, 0, sizeof(p));
        p.strict = true;
        assert_int_equal(open_with(m, "auto:a,b", &p, &s, &e), NNRT_SUCCESS);
        nnrt_session_destroy(s);
        p.smallest = 2;
        assert_int_equal(open_with(m, "auto:a,b", &p, &s, &e), NNRT_NOT_SUPPORT);
        assert_non_null(strstr(e.message, "strict: node 0 '"));
        assert_non_null(strstr(e.message, "its part has fewer nodes than are wanted"));
        nnrt_model_destroy(m);
        unregistered(b);
    }
    unregistered(a);
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

/* ---- devices that fail, lack slots, return nonsense ---- */

/* Every slot fails or returns nonsense, every time or once: the results are right, or session or run is refused. */
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
    for (uint32_t i = 3; i < COUNT(slots); i++) /* a device without a name, or offline, is not used */
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
    assert_int_equal(refused, 0); /* the reference device always exists */
    assert_int_equal(failed, 5);  /* RunIn: each time, the first, the second time, with three codes */
    assert_true(right > 60);
    results_end(&want);
    nnrt_model_destroy(m);
}

/* If its device does not prepare a part, it moves to the next device that supports it. */
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
        assert_non_null(strstr(r.reason[0], "a device that takes it did not prepare its part: "));
        assert_non_null(strstr(r.reason[0], i < 2 ? ": device 'a' was told to fail" : "device 'a"));
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

/* If partitioning yields no part, the reference device runs the whole model; the report has the reasons. */
static void test_no_part(void **state)
{
    static const struct {
        const char *device;
        uint32_t smallest;
        const char *reason; /* of nodes 0 and 2, which the device supports */
    } rows[] = {{"fake:name=a,ops=ACTIVATION,fail=PrepareModel,code=TIME_OUT", 0,
                 "a device that takes it did not prepare its part: device 'a' was told to fail"},
                {"fake:name=a,ops=ACTIVATION,fail=GetMemory,code=TIME_OUT", 0,
                 "a device that takes it did not prepare its part: device 'a_nnrt_v1_0' has prepared its part, but does "
                 "not tell its memory: NNRT_TIME_OUT (17)"},
                {"fake:name=a,ops=ACTIVATION", 2, "its part has fewer nodes than are wanted"}};
    NNRT_Model *m = drawn("A0>1 B1,0>2 A2>3", "3");
    (void)state;
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        nnrt_fake *a = registered(rows[i].device);
        nnrt_session_desc desc;
        nnrt_partition p;
        report r;
        reported(&desc, &p, &r, "auto:a");
        p.smallest = rows[i].smallest;
        nnrt_session_destroy(opened(m, &desc));
        assert_int_equal(r.told, 3);
        for (uint32_t n = 0; n < 3; n++) {
            assert_string_equal(r.device[n], "reference_nnrt_v2_0");
            assert_string_equal(r.reason[n],
                                n != 1 ? rows[i].reason
                                       : "node 1 't2' (ADD_FUSION): device 'a' does not have this operator");
        }
        unregistered(a);
    }
    nnrt_model_destroy(m);
}

/* ---- runs that fail ---- */

/* The codes of the specification for faults of the arguments of a run, or for a canceled run. */
static bool speaks_of_caller(NNRT_ReturnCode code)
{
    static const NNRT_ReturnCode codes[] = {
        NNRT_NULL_PTR,         NNRT_INVALID_PARAMETER,     NNRT_INVALID_FILE,
        NNRT_INVALID_PATH,     NNRT_INSUFFICIENT_BUFFER,   NNRT_NO_CHANGE,
        NNRT_CANCELLED,        NNRT_INVALID_TENSOR,        NNRT_INVALID_NODE,
        NNRT_INVALID_INPUT,    NNRT_INVALID_OUTPUT,        NNRT_INVALID_DATATYPE,
        NNRT_INVALID_FORMAT,   NNRT_INVALID_TENSOR_NAME,   NNRT_INVALID_SHAPE,
        NNRT_INVALID_BUFFER,   NNRT_INVALID_BUFFER_SIZE,   NNRT_OUT_OF_DIMENTION_RANGES,
        NNRT_INVALID_PRIORITY, NNRT_INVALID_PERFORMANCE_MODE, NNRT_INVALID_MODEL,
        NNRT_INVALID_MODEL_CACHE};
    for (uint32_t i = 0; i < COUNT(codes); i++)
        if (codes[i] == code)
            return true;
    return false;
}

/* If a device fails, the next one computes its part, if the code is a device fault; else the run returns the code. */
static void test_fallback_codes(void **state)
{
    NNRT_Model *m = drawn("A0>1 C1,0>2", "2");
    nnrt_fake *b = registered("fake:name=b,ops=ACTIVATION");
    result_of want;
    (void)state;
    reference_run(m, 7, &want);
    for (NNRT_ReturnCode code = NNRT_FAILED; code <= NNRT_UNSUPPORTED_OP; code++) {
        const uint32_t before = nnrt_fake_get_record(b).calls[NNRT_FAKE_RunIn];
        char text[128];
        nnrt_fake *a;
        nnrt_partition p;
        nnrt_session *s = NULL;
        nnrt_error e;
        result_of got;
        memset(&p, 0, sizeof(p));
        snprintf(text, sizeof(text), "fake:name=a,ops=ACTIVATION,fail=RunIn,code=%s", nnrt_code_name(code) + 5);
        a = registered(text);
        assert_int_equal(open_with(m, "auto:a,b", &p, &s, &e), NNRT_SUCCESS);
        assert_int_equal(run_session(s, 7, &got), code);
        results_end(&got);
        nnrt_session_destroy(s);
        p.fallback = true;
        assert_int_equal(open_with(m, "auto:a,b", &p, &s, &e), NNRT_SUCCESS);
        if (speaks_of_caller(code)) {
            assert_int_equal(run_session(s, 7, &got), code);
            assert_non_null(strstr(nnrt_session_error(s), "part 0, on device 'a_nnrt_v1_0': device 'a' was told to fail"));
            results_end(&got);
        } else {
            expect_same(s, &want, 7);
            expect_same(s, &want, 7);
        }
        assert_int_equal(nnrt_fake_get_record(b).calls[NNRT_FAKE_RunIn] - before, speaks_of_caller(code) ? 0 : 2);
        assert_int_equal(nnrt_fake_get_record(a).calls[NNRT_FAKE_RunIn], speaks_of_caller(code) ? 2 : 3);
        nnrt_session_destroy(s);
        unregistered(a);
    }
    unregistered(b);
    results_end(&want);
    nnrt_model_destroy(m);
}

/* The fallback of a part: the first device after the failing one that supports and prepares all of it, finally the
   reference device. Runs allocate nothing; preparation includes the memory of fallbacks. */
static void test_fallback(void **state)
{
    static const struct {
        const char *a, *b, *c;
        uint32_t runs[3]; /* calls of the devices, in two runs of two parts of a */
        const char *parts;
    } rows[] = {
        {"ops=ACTIVATION,fail=RunIn", "ops=ACTIVATION", "ops=ACTIVATION", {4, 4, 0}, "0R1"},
        {"ops=ACTIVATION,fail=RunIn:2", "ops=ACTIVATION", "ops=ACTIVATION", {4, 1, 0}, "0R1"},
        {"ops=ACTIVATION,fail=RunIn", "ops=ADD_FUSION", "ops=ACTIVATION", {4, 2, 4}, "012"},
        {"ops=ACTIVATION,fail=RunIn", "ops=ACTIVATION,fail=RunIn", "ops=ACTIVATION", {4, 4, 4}, "0R1"},
        {"ops=ACTIVATION,fail=RunIn", "ops=ACTIVATION,fail=PrepareModel", "ops=ACTIVATION", {4, 0, 4}, "0R1"},
        {"ops=ACTIVATION,fail=RunIn", "ops=ACTIVATION,fail=RunIn", "ops=ACTIVATION,fail=RunIn", {4, 4, 4}, "0R1"},
        {"ops=ACTIVATION,fail=RunIn", "ops=ADD_FUSION", "ops=ADD_FUSION", {4, 2, 0}, "012"},
        /* all on one device: one part */
        {"fail=RunIn", "", "", {2, 2, 0}, "000"},
        {"fail=RunIn", "ops=ACTIVATION", "", {2, 0, 2}, "000"},
        {"fail=RunIn", "ops=ACTIVATION", "ops=ACTIVATION", {2, 0, 0}, "000"},
        {"", "", "", {2, 0, 0}, "000"},
    };
    NNRT_Model *m = drawn("A0>1 B1,0>2 A2>3", "3 1");
    result_of want;
    (void)state;
    reference_run(m, 7, &want);
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        const char *options[3];
        nnrt_fake *fakes[3];
        nnrt_session_desc desc;
        nnrt_partition p;
        report r;
        nnrt_session *s;
        tracker t;
        const nnrt_allocator allocator = allocator_of(&t);
        uint32_t calls;
        options[0] = rows[i].a;
        options[1] = rows[i].b;
        options[2] = rows[i].c;
        for (uint32_t k = 0; k < 3; k++) {
            char text[128];
            snprintf(text, sizeof(text), "fake:name=%c%s%s", "abc"[k], options[k][0] != '\0' ? "," : "", options[k]);
            fakes[k] = registered(text);
        }
        reported(&desc, &p, &r, "auto:a,b,c");
        p.fallback = true;
        memset(&t, 0, sizeof(t));
        desc.allocator = &allocator;
        s = opened(m, &desc);
        assert_string_equal(parts_of(&r, 3), rows[i].parts);
        assert_string_equal(r.device[0], "a_nnrt_v1_0");
        calls = (uint32_t)t.calls;
        expect_same(s, &want, 7);
        expect_same(s, &want, 7);
        assert_int_equal(t.calls, calls);
        for (uint32_t k = 0; k < 3; k++)
            if (nnrt_fake_get_record(fakes[k]).calls[NNRT_FAKE_RunIn] != rows[i].runs[k])
                fail_msg("row %u: %u runs of %c", i, nnrt_fake_get_record(fakes[k]).calls[NNRT_FAKE_RunIn], "abc"[k]);
        nnrt_session_destroy(s);
        assert_int_equal(t.live, 0);
        memset(&r, 0, sizeof(r));
        expect_everywhere(m, "auto:a,b,c", &p, &want, true);
        p.user = &r;
        p.strict = true;
        {
            nnrt_error e;
            assert_int_equal(open_with(m, "auto:a,b,c", &p, &s, &e), NNRT_INVALID_PARAMETER);
            assert_non_null(strstr(e.message, "strict and fallback are both set"));
        }
        for (uint32_t k = 0; k < 3; k++)
            unregistered(fakes[k]);
    }
    results_end(&want);
    nnrt_model_destroy(m);
}

/* A session of the model has the expected results; a second one can share its prepared model if `shares`, else it
   fails. */
static void expect_shares(const NNRT_Model *m, const char *device, const result_of *want, bool shares)
{
    nnrt_session_desc desc;
    nnrt_session *s, *second = NULL;
    memset(&desc, 0, sizeof(desc));
    desc.device = device;
    s = opened(m, &desc);
    expect_same(s, want, 7);
    desc.share = s;
    assert_int_equal(nnrt_session_create(&second, m, &desc, NULL), shares ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
    nnrt_session_destroy(second);
    nnrt_session_destroy(s);
}

/* RunIn exists if all parts have it; a buffer is shared if all parts report their memory. */
static void test_slots(void **state)
{
    static const struct {
        const char *more;
        bool shares, reports;
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
        nnrt_session *s;
        size_t bytes = 0;
        nnrt_error e;
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        snprintf(text, sizeof(text), "fake:name=a,ops=ACTIVATION%s", rows[i].more);
        a = registered(text);
        desc.device = "auto:a,b";
        expect_shares(m, desc.device, &want, rows[i].shares);
        unregistered(a);
        snprintf(text, sizeof(text), "fake:name=a%s", rows[i].more); /* the whole model on one device */
        a = registered(text);
        expect_shares(m, desc.device, &want, rows[i].shares);
        unregistered(a);
        snprintf(text, sizeof(text), "fake:name=a,ops=ACTIVATION%s", rows[i].more);
        a = registered(text);
        {
            NNRT_ModelConfig config;
            memset(&config, 0, sizeof(config));
            config.autoDevices = "a,b";
            config.error = &e;
            assert_int_equal(nnrt_device_model_memory(nnrt_device_find("auto"), m, &config, &bytes),
                             rows[i].reports ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
        }
        {
            static uint64_t space[8192];
            desc.buffer = (uint8_t *)space + (64 - (uintptr_t)space % 64) % 64;
            desc.bufferBytes = sizeof(space) - 64;
            memset(&e, 0, sizeof(e));
            assert_int_equal(nnrt_session_create(&s, m, &desc, &e), rows[i].reports ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
            if (rows[i].reports)
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

/* ---- subgraphs ---- */

/* y = cond ? relu(x - w) : |x - w| + x - w, and y - w: IF with a node on each side. */
static NNRT_Model *branching(void)
{
    static const int32_t three[1] = {3};
    NNRT_Model *m = NULL;
    nnrt_builder *b = NULL;
    NNRT_If branch;
    uint32_t x, w, cond, in[2], out;
    nnrt_error e;
    memset(&branch, 0, sizeof(branch));
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, "branches", NULL), NNRT_SUCCESS);
    cond = nnrt_builder_input(b, "cond", NNRT_DATA_TYPE_BOOL, 0, NULL);
    x = nnrt_builder_input(b, "x", F32, 1, three);
    w = nnrt_builder_input(b, "w", F32, 1, three);
    in[0] = x;
    in[1] = w;
    x = nnrt_builder_op(b, "before", NNRT_NODE_TYPE_SUB_FUSION, &plain_sub, in, 2);
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
    out = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_IF, &branch, &cond, 1);
    in[0] = out;
    in[1] = w;
    nnrt_builder_output(b, nnrt_builder_op(b, "after", NNRT_NODE_TYPE_SUB_FUSION, &plain_sub, in, 2));
    nnrt_builder_output(b, out);
    if (nnrt_builder_finish(b, &m, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    nnrt_builder_destroy(b);
    return m;
}

/* IF and its subgraphs are on one device, or on the reference device; parts are formed around it. */
static void test_subgraphs(void **state)
{
    static const struct {
        const char *device, *parts; /* of before, y, after, relu, abs, sum */
        const char *why;            /* of y */
        NNRT_ReturnCode strict;
    } rows[] = {
        /* a lacks operators of the else-graph, c lacks IF, d lacks the operators outside of IF */
        {"auto:a", "0R1RRR", "the preferred device does not take all of the IF or LOOP around it", NNRT_UNSUPPORTED_OP},
        {"auto:c", "0R1RRR", "'y' (IF): device 'c' does not have this operator", NNRT_UNSUPPORTED_OP},
        {"auto:d", "R0R000", "", NNRT_UNSUPPORTED_OP},
        {"auto:a,c", "0R1RRR", "the preferred device does not take all of the IF or LOOP around it", NNRT_NOT_SUPPORT},
        {"auto:a,d", "012111", "the preferred device does not take all of the IF or LOOP around it", NNRT_SUCCESS},
        {"auto:d,a", "012111", "", NNRT_SUCCESS},
        {"auto:a,b", "012111", "the preferred device does not take all of the IF or LOOP around it", NNRT_SUCCESS},
        {"auto:b,a", "000000", "", NNRT_SUCCESS},
    };
    static const char *const order[6] = {"before", "y", "after", "relu", "abs", "sum"};
    NNRT_Model *m = branching();
    nnrt_fake *fakes[4];
    (void)state;
    fakes[0] = registered("fake:name=a,not=ADD_FUSION");
    fakes[1] = registered("fake:name=b");
    fakes[2] = registered("fake:name=c,not=IF");
    fakes[3] = registered("fake:name=d,not=SUB_FUSION");
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        nnrt_partition p;
        report r;
        nnrt_session *s = NULL;
        nnrt_error e;
        char parts[7] = "";
        uint32_t if_node = 0;
        memset(&p, 0, sizeof(p));
        memset(&r, 0, sizeof(r));
        p.placed = listen;
        p.user = &r;
        if (open_with(m, rows[i].device, &p, &s, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        (void)parts_of(&r, m->nodes.count);
        assert_int_equal(m->nodes.count, 6);
        for (uint32_t k = 0; k < 6; k++)
            for (uint32_t n = 0; n < 6; n++)
                if (strcmp(m->nodes.data[n].name, order[k]) == 0)
                    parts[k] = parts_of(&r, 6)[n];
        for (uint32_t n = 0; n < 6; n++)
            if_node = m->nodes.data[n].nodeType == NNRT_NODE_TYPE_IF ? n : if_node;
        if (strcmp(parts, rows[i].parts) != 0 || strstr(r.reason[if_node], rows[i].why) == NULL ||
            (rows[i].why[0] == '\0') != (r.reason[if_node][0] == '\0'))
            fail_msg("%s: %s, expected %s; %s", rows[i].device, parts, rows[i].parts, r.reason[if_node]);
        for (uint32_t k = 0; k < 2; k++) {
            bool yes = k == 0;
            float v[3] = {-1, 5, -3}, w[3] = {1, 2, -4}, y[3], z[3];
            nnrt_io ins[3], outs[2];
            ins[0] = nnrt_io_make(&yes, sizeof(yes));
            ins[1] = nnrt_io_make(v, sizeof(v));
            ins[2] = nnrt_io_make(w, sizeof(w));
            outs[0] = nnrt_io_make(z, sizeof(z));
            outs[1] = nnrt_io_make(y, sizeof(y));
            if (nnrt_run(s, ins, 3, outs, 2) != NNRT_SUCCESS)
                fail_msg("%s", nnrt_session_error(s));
            for (uint32_t n = 0; n < 3; n++) {
                const float x = v[n] - w[n], want = x > 0 ? (yes ? x : 2 * x) : 0;
                assert_true(y[n] == want && z[n] == want - w[n]);
            }
        }
        nnrt_session_destroy(s);
        p.strict = true;
        memset(&r, 0, sizeof(r));
        assert_int_equal(open_with(m, rows[i].device, &p, &s, &e), rows[i].strict);
        nnrt_session_destroy(s);
    }
    for (uint32_t i = 0; i < 4; i++)
        unregistered(fakes[i]);
    nnrt_model_destroy(m);
}

/* ---- dynamic shapes ---- */

/* y = a(x) + b(c), with dynamic rows of x. */
static NNRT_Model *open_rows(void)
{
    static const int32_t dims[2] = {-1, 3}, row[1] = {3};
    NNRT_Model *m = NULL;
    nnrt_builder *b = NULL;
    uint32_t in[2], c;
    assert_int_equal(nnrt_builder_create(&b, "open", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", F32, 2, dims);
    c = nnrt_builder_input(b, "c", F32, 1, row);
    in[0] = nnrt_builder_op(b, "positive", NNRT_NODE_TYPE_ACTIVATION, &absolute, in, 1);
    c = nnrt_builder_op(b, "row", NNRT_NODE_TYPE_ACTIVATION, &absolute, &c, 1);
    in[1] = nnrt_builder_op(b, "again", NNRT_NODE_TYPE_ACTIVATION, &relu, &c, 1);
    nnrt_builder_output(b, nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, &plain_add, in, 2));
    assert_int_equal(nnrt_builder_finish(b, &m, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return m;
}

/* At most so many rows. */
static nnrt_bound rows_bound(const char *tensor, int32_t rows)
{
    nnrt_bound most;
    memset(&most, 0, sizeof(most));
    most.tensor = tensor;
    most.most.rank = 2;
    most.most.dims[0] = rows;
    most.most.dims[1] = 3;
    return most;
}

/* Devices with dynamic input get dynamic nodes, within their ranges. The shapes that they report are checked. */
static void test_open_extents(void **state)
{
    static const struct {
        const char *a, *b, *parts; /* of positive, row, again, sum */
        NNRT_ReturnCode strict, run;
    } rows[] = {
        {"dynamic=no", "ops=SOFTMAX", "R00R", NNRT_NOT_SUPPORT, NNRT_SUCCESS},
        {"dynamic=no,not=ADD_FUSION", "dynamic=no", "R00R", NNRT_NOT_SUPPORT, NNRT_SUCCESS},
        {"dynamic=no", "", "0110", NNRT_SUCCESS, NNRT_SUCCESS},
        {"not=ADD_FUSION", "", "0112", NNRT_SUCCESS, NNRT_SUCCESS},
        {"not=ADD_FUSION", "ops=ADD_FUSION,dynamic=no", "011R", NNRT_NOT_SUPPORT, NNRT_SUCCESS},
        {"ops=ADD_FUSION", "ops=ACTIVATION", "0112", NNRT_SUCCESS, NNRT_SUCCESS},
        {"ops=ACTIVATION,dims=2..64", "ops=ADD_FUSION", "R001", NNRT_DEVICE_ERROR, NNRT_SUCCESS},
        {"ops=ACTIVATION,dims=1..4", "ops=ADD_FUSION", "0112", NNRT_SUCCESS, NNRT_OUT_OF_DIMENTION_RANGES},
        {"ops=ACTIVATION,garbage=GetInputDimRanges", "ops=ADD_FUSION", "RRR1", NNRT_DEVICE_ERROR, NNRT_SUCCESS},
        {"ops=ACTIVATION,garbage=RunIn", "ops=ADD_FUSION", "0112", NNRT_SUCCESS, NNRT_DEVICE_ERROR},
        {"ops=ACTIVATION,fail=RunIn", "ops=ADD_FUSION", "0112", NNRT_SUCCESS, NNRT_DEVICE_ERROR},
    };
    NNRT_Model *m = open_rows();
    const nnrt_bound most = rows_bound("x", 4);
    (void)state;
    for (uint32_t i = 0; i < 2 * COUNT(rows); i++) {
        const char *const options[2] = {rows[i / 2].a, rows[i / 2].b};
        const bool fallback = i % 2 != 0;
        nnrt_fake *fakes[2];
        nnrt_session_desc desc;
        nnrt_partition p;
        nnrt_session *s = NULL;
        nnrt_error e;
        report r;
        for (uint32_t k = 0; k < 2; k++) {
            char text[128];
            snprintf(text, sizeof(text), "fake:name=%c%s%s", "ab"[k], options[k][0] != '\0' ? "," : "", options[k]);
            fakes[k] = registered(text);
        }
        reported(&desc, &p, &r, "auto:a,b");
        desc.bounds = nnrt_bound_list_make(&most, 1);
        p.fallback = fallback;
        s = opened(m, &desc);
        if (strspn(parts_of(&r, 4), "R") != strspn(rows[i / 2].parts, "R"))
            fail_msg("row %u: %s, expected %s", i / 2, parts_of(&r, 4), rows[i / 2].parts);
        for (uint32_t k = 0; k < 4; k++)
            if ((parts_of(&r, 4)[k] == 'R') != (rows[i / 2].parts[k] == 'R'))
                fail_msg("row %u: %s, expected %s", i / 2, parts_of(&r, 4), rows[i / 2].parts);
        for (int32_t n = 0; n <= 4; n++) {
            const bool again = fallback && rows[i / 2].run == NNRT_DEVICE_ERROR;
            const bool refuses = rows[i / 2].run == NNRT_OUT_OF_DIMENTION_RANGES ? n == 0 : !again;
            float x[12], k[3] = {-1, 2, -3}, y[13];
            int32_t now[2] = {n, 3};
            nnrt_io ins[2], out = nnrt_io_make(y, (size_t)n * 12);
            NNRT_ReturnCode code;
            for (int32_t a = 0; a < 12; a++)
                x[a] = (float)(a - 5);
            y[12] = y[n * 3] = 77;
            ins[0] = nnrt_io_make(x, (size_t)n * 12);
            ins[0].dims = now;
            ins[1] = nnrt_io_make(k, sizeof(k));
            code = nnrt_run(s, ins, 2, &out, 1);
            if (rows[i / 2].run != NNRT_SUCCESS && refuses) {
                assert_int_equal(code, rows[i / 2].run);
                continue;
            }
            if (code != NNRT_SUCCESS)
                fail_msg("row %u, %d rows: %s", i / 2, n, nnrt_session_error(s));
            assert_int_equal(nnrt_session_output(s, 0).shape.dims[0], n);
            for (int32_t a = 0; a < n * 3; a++)
                assert_true(y[a] == (x[a] < 0 ? -x[a] : x[a]) + (float)(a % 3 + 1));
            assert_true(y[n * 3] == 77);
            if (n > 0) { /* too small */
                out.bytes = (size_t)n * 12 - 1;
                assert_int_equal(nnrt_run(s, ins, 2, &out, 1), NNRT_INSUFFICIENT_BUFFER);
                assert_int_equal(nnrt_session_output(s, 0).shape.dims[0], n);
            }
        }
        nnrt_session_destroy(s);
        p.fallback = false;
        p.strict = true;
        memset(&r, 0, sizeof(r));
        memset(&e, 0, sizeof(e));
        if (nnrt_session_create(&s, m, &desc, &e) != rows[i / 2].strict)
            fail_msg("row %u: %s", i / 2, e.message);
        if (rows[i / 2].strict == NNRT_NOT_SUPPORT)
            assert_non_null(strstr(e.message, "it has dynamic shapes"));
        nnrt_session_destroy(s);
        for (uint32_t k = 0; k < 2; k++)
            unregistered(fakes[k]);
    }
    nnrt_model_destroy(m);
}

/* Runs with that many rows. */
static NNRT_ReturnCode run_rows(nnrt_session *s, int32_t rows, result_of *r)
{
    float x[64];
    int32_t now[2] = {rows, 3};
    nnrt_io in = nnrt_io_make(x, (size_t)rows * 12), out[32];
    for (uint32_t k = 0; k < COUNT(x); k++)
        x[k] = (float)((int32_t)((k * 2654435761u + (uint32_t)rows) >> 7 & 63) - 31) / 8;
    in.dims = now;
    r->count = nnrt_session_outputs(s);
    for (uint32_t i = 0; i < r->count; i++) {
        r->bytes[i] = (size_t)rows * 12;
        r->data[i] = (float *)malloc(r->bytes[i] + 1);
        assert_non_null(r->data[i]);
        out[i] = nnrt_io_make(r->data[i], r->bytes[i]);
    }
    return nnrt_run(s, &in, 1, out, r->count);
}

static void expect_rows(nnrt_session *s, nnrt_session *reference, int32_t most)
{
    for (int32_t rows = most; rows >= 0; rows--) {
        result_of got, want;
        assert_int_equal(run_rows(reference, rows, &want), NNRT_SUCCESS);
        if (run_rows(s, rows, &got) != NNRT_SUCCESS)
            fail_msg("%d rows: %s", rows, nnrt_session_error(s));
        for (uint32_t i = 0; i < got.count; i++) {
            assert_int_equal(nnrt_session_output(s, i).shape.dims[0], rows);
            assert_memory_equal(got.data[i], want.data[i], got.bytes[i]);
        }
        results_end(&got);
        results_end(&want);
    }
}

/* Two sessions, the second one from the exported cache of the first: it prepares no part of the cache. Returns the
   number of restored parts. */
static uint32_t through_cache(const NNRT_Model *m, const nnrt_session_desc *desc, nnrt_session *reference)
{
    nnrt_session_desc own = *desc;
    nnrt_cache_desc cached;
    nnrt_cache_state state;
    nnrt_session *s;
    size_t bytes = 0;
    guarded file;
    memset(&cached, 0, sizeof(cached));
    assert_int_equal(nnrt_cache_create(&own.cache, &cached, NULL), NNRT_SUCCESS);
    s = opened(m, &own);
    expect_rows(s, reference, 4);
    nnrt_session_destroy(s);
    if (nnrt_cache_save_memory(own.cache, NULL, NULL, 0, &bytes, NULL) != NNRT_SUCCESS) { /* no device has a cache */
        assert_int_equal(nnrt_cache_get_state(own.cache)->kept, 0);
        nnrt_cache_destroy(own.cache);
        return 0;
    }
    file = guarded_make(bytes, 0);
    assert_int_equal(nnrt_cache_save_memory(own.cache, NULL, file.data, bytes, &bytes, NULL), NNRT_SUCCESS);
    nnrt_cache_destroy(own.cache);
    cached.data = file.data;
    cached.bytes = bytes;
    assert_int_equal(nnrt_cache_create(&own.cache, &cached, NULL), NNRT_SUCCESS);
    s = opened(m, &own);
    expect_rows(s, reference, 4);
    nnrt_session_destroy(s);
    state = *nnrt_cache_get_state(own.cache);
    assert_int_equal(state.prepared, 0);
    nnrt_cache_destroy(own.cache);
    guarded_end(&file);
    return state.restored;
}

/* Random models with dynamic rows, on random devices, two of which support dynamic input: bit-identical to the
   reference device for all rows, in the reported bytes and not in one less. */
static void test_open_models(void **state)
{
    static const char *const lists[] = {"auto:a,b", "auto:b,a", "auto:a", "auto:b,reference"};
    static const char *const mores[] = {",cache=yes", ",dynamic=no,cache=yes", "", ",without=Run+RunV1"};
    uint32_t parts = 0, restored = 0;
    (void)state;
    drawn_rows = -1;
    for (uint32_t i = 0; i < 200; i++) {
        NNRT_Model *m = random_model();
        const char *names[32];
        const uint32_t count = operators_of(m, names);
        nnrt_fake *a = random_device("a", names, count, mores[draw(4)]);
        nnrt_fake *b = random_device("b", names, count, mores[draw(4)]);
        const nnrt_bound most = rows_bound("t0", 4);
        nnrt_session_desc desc;
        nnrt_partition p;
        report r;
        nnrt_session *s, *reference;
        size_t bytes = 0;
        guarded buffer;
        reported(&desc, &p, &r, "reference");
        desc.partition = NULL;
        desc.bounds = nnrt_bound_list_make(&most, 1);
        reference = opened(m, &desc);
        desc.device = lists[draw(4)];
        desc.partition = &p;
        p.fallback = i % 4 == 0;
        s = opened(m, &desc);
        expect_parts(m, &r);
        parts += r.parts;
        expect_rows(s, reference, 4);
        nnrt_session_destroy(s);
        p.placed = NULL;
        restored += through_cache(m, &desc, reference);
        assert_int_equal(nnrt_session_bytes(m, &desc, &bytes, NULL), NNRT_SUCCESS);
        buffer = guarded_make(bytes, 0);
        desc.buffer = buffer.data;
        desc.bufferBytes = bytes;
        s = opened(m, &desc);
        expect_rows(s, reference, 4);
        nnrt_session_destroy(s);
        desc.bufferBytes = bytes - 1;
        assert_int_equal(nnrt_session_create(&s, m, &desc, NULL), NNRT_OUT_OF_MEMORY);
        guarded_end(&buffer);
        nnrt_session_destroy(reference);
        unregistered(a);
        unregistered(b);
        nnrt_model_destroy(m);
    }
    drawn_rows = 2;
    assert_true(parts > 300 && restored > 100);
}

/* A device that computes as the reference device, and reports wrong shapes of its results. */
typedef struct liar {
    NNRT_PreparedModel base;
    NNRT_PreparedModel *inner;
} liar;

static int32_t lie; /* added to the first dimension */

static NNRT_ReturnCode liar_workspace(NNRT_PreparedModel *self, size_t *bytes)
{
    NNRT_PreparedModel *inner = ((liar *)(void *)self)->inner;
    return inner->vtbl->GetWorkspaceSize(inner, bytes);
}

static NNRT_ReturnCode liar_run(NNRT_PreparedModel *self, void *workspace, size_t bytes, const NNRT_IOTensor *inputs,
                                uint32_t nIn, const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                                nnrt_error *error)
{
    NNRT_PreparedModel *inner = ((liar *)(void *)self)->inner;
    const NNRT_ReturnCode code =
        inner->vtbl->RunIn(inner, workspace, bytes, inputs, nIn, outputs, nOut, outputDims, error);
    for (uint32_t i = 0; outputDims != NULL && i < nOut; i++)
        outputDims[i].dims[0] += lie;
    return code;
}

static void liar_destroy(NNRT_PreparedModel *self)
{
    liar *l = (liar *)(void *)self;
    l->inner->vtbl->Destroy(l->inner);
    free(l);
}

static NNRT_ReturnCode liar_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                    NNRT_PreparedModel **prepared)
{
    static NNRT_PreparedModelVtbl table;
    liar *l = (liar *)calloc(1, sizeof(*l));
    NNRT_ReturnCode code;
    (void)self;
    assert_non_null(l);
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.RunIn = liar_run;
    table.GetWorkspaceSize = liar_workspace;
    table.Destroy = liar_destroy;
    l->base.vtbl = &table;
    code = nnrt_plan_prepare(model, config, NULL, NULL, NULL, &l->inner);
    if (code != NNRT_SUCCESS)
        free(l);
    *prepared = code == NNRT_SUCCESS ? &l->base : NULL;
    return code;
}

static NNRT_ReturnCode liar_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 1;
    *minor = 0;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode liar_name(void *self, const char **name)
{
    (void)self;
    *name = "liar";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode liar_dynamic(void *self, bool *isSupported)
{
    (void)self;
    *isSupported = true;
    return NNRT_SUCCESS;
}

/* Reported dimensions that exceed their bound, are negative, or differ from an equal dimension of the input: the run
   fails, or the next device computes the part. */
static void test_liar(void **state)
{
    static NNRT_DeviceVtbl table;
    NNRT_Model *m;
    const nnrt_bound most = rows_bound("t0", 4);
    (void)state;
    table.structSize = sizeof(table);
    table.version = NNRT_HDI(2, 0);
    table.GetVersion = liar_version;
    table.GetDeviceName = table.GetVendorName = liar_name;
    table.IsDynamicInputSupported = liar_dynamic;
    table.PrepareModel = liar_prepare;
    assert_int_equal(nnrt_device_register(&table, NULL, NULL), NNRT_SUCCESS);
    drawn_rows = -1;
    m = drawn("A0>1 B1,0>2", "2 1");
    for (uint32_t fallback = 0; fallback < 2; fallback++) {
        nnrt_session_desc desc;
        nnrt_partition p;
        nnrt_session *s, *reference;
        report r;
        reported(&desc, &p, &r, "reference");
        desc.bounds = nnrt_bound_list_make(&most, 1);
        desc.partition = NULL;
        reference = opened(m, &desc);
        p.keep = "ADD_FUSION"; /* so that a part exists */
        p.fallback = fallback == 1;
        desc.device = "auto:liar";
        desc.partition = &p;
        s = opened(m, &desc);
        assert_string_equal(parts_of(&r, 2), "0R");
        for (lie = -4; lie <= 4; lie++) {
            result_of got;
            NNRT_ReturnCode code;
            if (fallback == 1 || lie == 0) {
                expect_rows(s, reference, 4);
                continue;
            }
            for (int32_t rows = 1; rows <= 4; rows++) {
                code = run_rows(s, rows, &got);
                assert_int_equal(code, NNRT_DEVICE_ERROR);
                assert_non_null(strstr(nnrt_session_error(s), "it reports invalid dimensions of output 0 't1'"));
                results_end(&got);
            }
        }
        nnrt_session_destroy(s);
        nnrt_session_destroy(reference);
    }
    nnrt_model_destroy(m);
    drawn_rows = 2;
    assert_int_equal(nnrt_device_unregister("liar"), NNRT_SUCCESS);
}

/* ---- costs ---- */

/* Costs of the nodes on each device, one digit per node; "-": unknown. */
typedef struct costs {
    const char *a, *b, *reference;
} costs;

static const costs *costs_now;

static uint64_t cost_of(void *user, uint32_t node, const char *device)
{
    const char *text = device[0] == 'a'   ? costs_now->a
                       : device[0] == 'b' ? costs_now->b
                                          : costs_now->reference;
    assert_non_null(user);
    assert_true(node < strlen(text));
    return text[node] == '-' ? UINT64_MAX : (uint64_t)(text[node] - '0');
}

static void test_costs(void **state)
{
    static const struct {
        costs costs;
        const char *parts, *devices; /* of the nodes */
    } rows[] = {
        {{"1111", "2222", "3333"}, "0000", "aaaa"}, {{"2222", "1111", "3333"}, "0000", "bbbb"},
        {{"2222", "2222", "1111"}, "0000", "rrrr"}, {{"1111", "1111", "1111"}, "0000", "aaaa"},
        {{"9999", "1119", "8888"}, "000R", "bbbr"}, {{"1919", "9191", "9999"}, "0123", "abab"},
        {{"--11", "1111", "2222"}, "0011", "bbaa"}, {{"----", "----", "9999"}, "0000", "rrrr"},
        {{"----", "----", "----"}, "0000", "rrrr"}, {{"3-00", "3-11", "0000"}, "RR00", "rraa"},
    };
    NNRT_Model *m = drawn("A0>1 B1,0>2 A2>3 B3,3>4", "4");
    nnrt_fake *a = registered("fake:name=a"), *b = registered("fake:name=b");
    result_of want;
    (void)state;
    reference_run(m, 7, &want);
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        nnrt_session_desc desc;
        nnrt_partition p;
        report r;
        nnrt_session *s = NULL;
        reported(&desc, &p, &r, "auto:a,b");
        p.cost = cost_of;
        costs_now = &rows[i].costs;
        s = opened(m, &desc);
        if (strcmp(parts_of(&r, 4), rows[i].parts) != 0)
            fail_msg("row %u: %s, expected %s", i, parts_of(&r, 4), rows[i].parts);
        for (uint32_t n = 0; n < 4; n++) {
            assert_int_equal(r.device[n][0], rows[i].devices[n]);
            assert_string_equal(r.reason[n], rows[i].devices[n] == 'a' ? ""
                                                                       : "the device costs less than the preferred one");
        }
        expect_same(s, &want, 7);
        nnrt_session_destroy(s);
        expect_everywhere(m, "auto:a,b", &p, &want, false);
    }
    results_end(&want);
    unregistered(a);
    unregistered(b);
    nnrt_model_destroy(m);
}

/* ---- one rule for GetSupportedOperation and PrepareModel ---- */

/* A device supports the nodes that it prepares, and no others: node 1 of each row is prepared by all of these devices
   or by none of them. The device "mute" has no GetSupportedOperation: its PrepareModel decides, and `auto` tries to
   prepare. */
static void test_one_rule(void **state)
{
    static const struct {
        NNRT_NodeType op;
        NNRT_DataType type;
        bool supported; /* by the table of operators: these have float32 and float16, NEG has int32 too */
    } rows[] = {
        {NNRT_NODE_TYPE_COS, F32, true},
        {NNRT_NODE_TYPE_COS, I32, false},
        {NNRT_NODE_TYPE_COS, NNRT_DATA_TYPE_INT8, false},
        {NNRT_NODE_TYPE_LOG, NNRT_DATA_TYPE_INT8, false},
        {NNRT_NODE_TYPE_RSQRT, NNRT_DATA_TYPE_INT8, false},
        {NNRT_NODE_TYPE_SQRT, NNRT_DATA_TYPE_BOOL, false},
        {NNRT_NODE_TYPE_SQRT, NNRT_DATA_TYPE_FLOAT16, true},
        {NNRT_NODE_TYPE_NEG, I32, true},
    };
    static const char *const devices[] = {"reference", "cpu", "auto"};
    (void)state;
    for (uint32_t mute = 0; mute < 2; mute++) {
        nnrt_fake *fake =
            mute != 0 ? registered("fake:name=mute,without=GetSupportedOperation+GetSupportedNodes") : NULL;
        assert_int_equal(nnrt_cpu_register(NULL, NULL), NNRT_SUCCESS);
        for (uint32_t i = 0; i < COUNT(rows); i++)
            for (uint32_t k = 0; k < COUNT(devices); k++) {
                static graph g;
                nnrt_device *d = nnrt_device_find(devices[k]);
                NNRT_PreparedModel *prepared = NULL;
                bool takes[2] = {false, false};
                NNRT_ReturnCode code;
                graph_init(&g);
                tensor(&g, "x", F32, "2,3");
                tensor(&g, "z", rows[i].type, "2,3");
                result(&g, "positive");
                result(&g, "y");
                ACTIVATION(&g, "relu", relu, "0", "2");
                node(&g, "asked", rows[i].op, NULL, 0, "1", "3");
                graph_io(&g, "0 1", "2 3");
                assert_int_equal(nnrt_device_supported(d, &g.model, NULL, takes, 2, NULL, NULL), NNRT_SUCCESS);
                code = nnrt_device_prepare(d, &g.model, NULL, &prepared);
                nnrt_device_release(d, prepared);
                if (!takes[0] || takes[1] != rows[i].supported || (code == NNRT_SUCCESS) != rows[i].supported)
                    fail_msg("row %u on '%s'%s: supported %d %d, prepared: %s", i, devices[k],
                             mute != 0 ? " over a mute device" : "", takes[0], takes[1], nnrt_code_name(code));
            }
        assert_int_equal(nnrt_device_unregister("cpu"), NNRT_SUCCESS);
        if (fake != NULL)
            unregistered(fake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),     cmocka_unit_test(test_random_models), cmocka_unit_test(test_networks),
        cmocka_unit_test(test_strict),    cmocka_unit_test(test_kept),          cmocka_unit_test(test_report),
        cmocka_unit_test(test_faults),    cmocka_unit_test(test_next_device),   cmocka_unit_test(test_slots),
        cmocka_unit_test(test_subgraphs), cmocka_unit_test(test_open_extents),  cmocka_unit_test(test_fallback_codes),
        cmocka_unit_test(test_fallback),  cmocka_unit_test(test_open_models),   cmocka_unit_test(test_smallest),
        cmocka_unit_test(test_costs),     cmocka_unit_test(test_liar),          cmocka_unit_test(test_borders),
        cmocka_unit_test(test_at_once),   cmocka_unit_test(test_not_at_once),   cmocka_unit_test(test_ask),
        cmocka_unit_test(test_one_rule),  cmocka_unit_test(test_no_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
