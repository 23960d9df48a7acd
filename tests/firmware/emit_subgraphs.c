/* Models with subgraphs, and the C code emitted from them: two programs, for tests/firmware/test_emit_control.sh and
   test_emit_memory.sh.

   emit_subgraphs FOLDER   writes the models to FOLDER: nested, swap, sums, until, shared, fault; and told and
                           late, which emit-c refuses
   With EMITTED defined    runs the headers emitted from them, compares with results computed here; prints differences,
                           ends with "N faults"
   With SPLIT, too         headers that were emitted with the memory regions fast and slow */
#ifdef SPLIT
#define NNRT_REGIONS
#endif
#define NNRT_IMPLEMENTATION
#include "nnrt.h"

#include <stdio.h>

#ifndef EMITTED

static nnrt_builder *b;
static const char *folder;

static uint32_t floats(const char *name, int32_t count)
{
    return nnrt_builder_input(b, name, NNRT_DATA_TYPE_FLOAT32, 1, &count);
}

static uint32_t scalar(const char *name, NNRT_DataType type)
{
    return nnrt_builder_input(b, name, type, 0, NULL);
}

/* A tensor given to a body, without a declared shape. */
static uint32_t given(const char *name, NNRT_DataType type)
{
    const uint32_t t = nnrt_builder_tensor(b, name);
    if (type != NNRT_DATA_TYPE_UNKNOWN)
        nnrt_builder_declare(b, t, type, 0, NULL);
    return t;
}

static uint32_t number(int64_t value)
{
    return nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT64, 0, NULL, &value, true);
}

static uint32_t op(const char *name, NNRT_NodeType type, uint32_t x, uint32_t y)
{
    uint32_t in[2];
    in[0] = x;
    in[1] = y;
    return nnrt_builder_op(b, name, type, NULL, in, y != NNRT_NO_TENSOR ? 2 : 1);
}

static uint32_t add(const char *name, uint32_t x, uint32_t y)
{
    return op(name, NNRT_NODE_TYPE_ADD_FUSION, x, y);
}

static uint32_t sub(const char *name, uint32_t x, uint32_t y)
{
    return op(name, NNRT_NODE_TYPE_SUB_FUSION, x, y);
}

static uint32_t branch(const char *name)
{
    const uint32_t g = nnrt_builder_graph(b, name);
    nnrt_builder_enter(b, g);
    return g;
}

static void ends(uint32_t graph, uint32_t back, const uint32_t *in, uint32_t nIn, const uint32_t *out, uint32_t nOut)
{
    nnrt_builder_graph_io(b, graph, in, nIn, out, nOut);
    nnrt_builder_enter(b, back);
}

static void if_node(const char *name, uint32_t cond, uint32_t yes, uint32_t no, const uint32_t *out, uint32_t nOut)
{
    NNRT_If attr;
    attr.thenGraph = yes;
    attr.elseGraph = no;
    nnrt_builder_node(b, name, NNRT_NODE_TYPE_IF, &attr, &cond, 1, out, nOut);
}

static void loop_node(const char *name, uint32_t body, const uint32_t *in, uint32_t nIn, const uint32_t *out,
                      uint32_t nOut)
{
    NNRT_Loop attr;
    attr.body = body;
    nnrt_builder_node(b, name, NNRT_NODE_TYPE_LOOP, &attr, in, nIn, out, nOut);
}

static void begin(const char *name)
{
    if (nnrt_builder_create(&b, name, NULL) != NNRT_SUCCESS)
        b = NULL;
}

static int save(const char *name)
{
    char path[512];
    NNRT_Model *m = NULL;
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    (void)snprintf(path, sizeof(path), "%s/%s.nnrt", folder, name);
    if (nnrt_builder_finish(b, &m, &error) != NNRT_SUCCESS || nnrt_model_save(m, path, NULL, &error) != NNRT_SUCCESS) {
        printf("%s: %s\n", name, error.message);
        return 1;
    }
    nnrt_model_destroy(m);
    nnrt_builder_destroy(b);
    return 0;
}

/* z = x + (p ? a after trips times (a, b) = (b, q ? a + b : x - b), from (x, y) : x - y); w = p ? b : y. The result is called r
   in both branches. */
static int nested(void)
{
    uint32_t p, q, trips, x, y, outer[2], yes, no, body, in[4], left[3], then[2], r[2], inner, t, e;
    begin("nested");
    p = scalar("p", NNRT_DATA_TYPE_BOOL);
    q = scalar("q", NNRT_DATA_TYPE_BOOL);
    trips = scalar("trips", NNRT_DATA_TYPE_INT64);
    x = floats("x", 2);
    y = floats("y", 2);
    outer[0] = nnrt_builder_tensor(b, "v");
    outer[1] = nnrt_builder_tensor(b, "w");
    yes = branch("yes");
    body = branch("body");
    in[0] = given("i", NNRT_DATA_TYPE_INT64);
    in[1] = given("go", NNRT_DATA_TYPE_BOOL);
    in[2] = given("a", NNRT_DATA_TYPE_UNKNOWN);
    in[3] = given("b", NNRT_DATA_TYPE_UNKNOWN);
    inner = nnrt_builder_tensor(b, "next");
    t = branch("sum");
    r[0] = add("r", in[2], in[3]);
    ends(t, body, NULL, 0, r, 1);
    e = branch("difference");
    r[0] = sub("r", x, in[3]);
    ends(e, body, NULL, 0, r, 1);
    if_node("inner", q, t, e, &inner, 1);
    left[0] = in[1];
    left[1] = in[3];
    left[2] = inner;
    ends(body, yes, in, 4, left, 3);
    then[0] = nnrt_builder_tensor(b, "r");
    then[1] = nnrt_builder_tensor(b, "s");
    in[0] = trips;
    in[1] = NNRT_NO_TENSOR;
    in[2] = x;
    in[3] = y;
    loop_node("loop", body, in, 4, then, 2);
    ends(yes, 0, NULL, 0, then, 2);
    no = branch("no");
    r[0] = sub("r", x, y);
    r[1] = y;
    ends(no, 0, NULL, 0, r, 2);
    if_node("outer", p, yes, no, outer, 2);
    nnrt_builder_output(b, add("z", outer[0], x));
    nnrt_builder_output(b, outer[1]);
    return save("nested");
}

/* (a, b, k) = (b, a, k), trips times while cond. */
static int swap(void)
{
    uint32_t x, y, body, in[5], left[4], out[3];
    begin("swap");
    in[0] = scalar("trips", NNRT_DATA_TYPE_INT32);
    in[1] = scalar("cond", NNRT_DATA_TYPE_BOOL);
    in[2] = x = floats("x", 3);
    in[3] = y = floats("y", 3);
    in[4] = add("sum", x, y);
    out[0] = nnrt_builder_tensor(b, "a");
    out[1] = nnrt_builder_tensor(b, "b");
    out[2] = nnrt_builder_tensor(b, "k");
    body = branch("body");
    {
        uint32_t i[5];
        i[0] = given("i", NNRT_DATA_TYPE_INT32);
        i[1] = given("go", NNRT_DATA_TYPE_BOOL);
        i[2] = given("a", NNRT_DATA_TYPE_UNKNOWN);
        i[3] = given("b", NNRT_DATA_TYPE_UNKNOWN);
        i[4] = given("k", NNRT_DATA_TYPE_UNKNOWN);
        left[0] = i[1];
        left[1] = i[3];
        left[2] = i[2];
        left[3] = i[4];
        ends(body, 0, i, 5, left, 4);
    }
    loop_node("loop", body, in, 5, out, 3);
    for (int i = 0; i < 3; i++)
        nnrt_builder_output(b, out[i]);
    return save("swap");
}

/* Twice: three times s = s + x, each s and each number of the trip scanned; w is the scan of the last time, all that of the
   s that each time ends with. */
static int sums(void)
{
    static const float zero[6] = {0};
    static const int32_t rows[2] = {3, 2};
    uint32_t x, start, outer, body, in[4], i[4], left[4], out[3], inner[3];
    begin("sums");
    x = floats("x", 2);
    start = nnrt_builder_constant(b, "zero", NNRT_DATA_TYPE_FLOAT32, 2, rows, zero, false);
    out[0] = nnrt_builder_tensor(b, "s");
    out[1] = nnrt_builder_tensor(b, "w");
    out[2] = nnrt_builder_tensor(b, "all");
    outer = branch("outer");
    i[0] = given("n", NNRT_DATA_TYPE_INT64);
    i[1] = given("go", NNRT_DATA_TYPE_BOOL);
    i[2] = given("s", NNRT_DATA_TYPE_UNKNOWN);
    i[3] = given("w", NNRT_DATA_TYPE_UNKNOWN);
    inner[0] = nnrt_builder_tensor(b, "s2");
    inner[1] = nnrt_builder_tensor(b, "each");
    inner[2] = nnrt_builder_tensor(b, "numbers");
    body = branch("inner");
    {
        uint32_t k[3], o[4];
        k[0] = given("n", NNRT_DATA_TYPE_INT64);
        k[1] = given("go", NNRT_DATA_TYPE_BOOL);
        k[2] = given("s", NNRT_DATA_TYPE_UNKNOWN);
        o[0] = k[1];
        o[1] = o[2] = add("s3", k[2], x);
        o[3] = k[0];
        ends(body, outer, k, 3, o, 4);
    }
    in[0] = number(3);
    in[1] = NNRT_NO_TENSOR;
    in[2] = i[2];
    loop_node("inner", body, in, 3, inner, 3);
    left[0] = i[1];
    left[1] = inner[0];
    left[2] = inner[1];
    left[3] = inner[2];
    ends(outer, 0, i, 4, left, 4);
    in[0] = number(2);
    in[2] = x;
    in[3] = start;
    loop_node("outer", outer, in, 4, out, 3);
    for (int k = 0; k < 3; k++)
        nnrt_builder_output(b, out[k]);
    return save("sums");
}

/* v = v + x, (p, q) = (q, !p), while p was true in the trip that ends: cond is a value that is carried. */
static int until(void)
{
    uint32_t x, body, in[5], i[5], left[4], out[3];
    begin("until");
    x = floats("x", 2);
    in[0] = in[1] = NNRT_NO_TENSOR;
    in[2] = x;
    in[3] = scalar("p", NNRT_DATA_TYPE_BOOL);
    in[4] = scalar("q", NNRT_DATA_TYPE_BOOL);
    out[0] = nnrt_builder_tensor(b, "v");
    out[1] = nnrt_builder_tensor(b, "p2");
    out[2] = nnrt_builder_tensor(b, "q2");
    body = branch("body");
    i[0] = given("i", NNRT_DATA_TYPE_INT64);
    i[1] = given("go", NNRT_DATA_TYPE_BOOL);
    i[2] = given("v", NNRT_DATA_TYPE_UNKNOWN);
    i[3] = given("p", NNRT_DATA_TYPE_UNKNOWN);
    i[4] = given("q", NNRT_DATA_TYPE_UNKNOWN);
    left[0] = i[3];
    left[1] = add("more", i[2], x);
    left[2] = i[4];
    left[3] = op("not", NNRT_NODE_TYPE_LOGICAL_NOT, i[3], NNRT_NO_TENSOR);
    ends(body, 0, i, 5, left, 4);
    loop_node("loop", body, in, 5, out, 3);
    for (int k = 0; k < 3; k++)
        nnrt_builder_output(b, out[k]);
    return save("until");
}

/* One body for two loops: v = v + x, twice from y on, and three times from its result. A third one carries nothing and scans x
   + x. */
static int shared(void)
{
    uint32_t x, body, in[3], i[3], left[2], once, twice, scan;
    begin("shared");
    x = floats("x", 2);
    in[2] = floats("y", 2);
    body = branch("body");
    i[0] = given("i", NNRT_DATA_TYPE_INT64);
    i[1] = given("go", NNRT_DATA_TYPE_BOOL);
    i[2] = given("v", NNRT_DATA_TYPE_UNKNOWN);
    left[0] = i[1];
    left[1] = add("v2", i[2], x);
    ends(body, 0, i, 3, left, 2);
    once = nnrt_builder_tensor(b, "once");
    twice = nnrt_builder_tensor(b, "twice");
    in[0] = number(2);
    in[1] = NNRT_NO_TENSOR;
    loop_node("first", body, in, 3, &once, 1);
    in[0] = number(3);
    in[2] = once;
    loop_node("second", body, in, 3, &twice, 1);
    body = branch("scans");
    i[0] = given("i", NNRT_DATA_TYPE_INT64);
    i[1] = left[0] = given("go", NNRT_DATA_TYPE_BOOL);
    left[1] = add("double", x, x);
    ends(body, 0, i, 2, left, 2);
    scan = nnrt_builder_tensor(b, "scan");
    loop_node("third", body, in, 2, &scan, 1);
    nnrt_builder_output(b, twice);
    nnrt_builder_output(b, scan);
    return save("shared");
}

/* p ? x[at] + x[at], in a loop : x[0], where at is an input. */
static int fault(void)
{
    static const int32_t one[1] = {1};
    static const int64_t zero[1] = {0};
    uint32_t p, x, at, yes, no, body, in[3], i[3], left[2], out, sum, first, start;
    begin("fault");
    p = scalar("p", NNRT_DATA_TYPE_BOOL);
    x = floats("x", 8);
    at = nnrt_builder_input(b, "at", NNRT_DATA_TYPE_INT64, 1, one);
    first = nnrt_builder_constant(b, NULL, NNRT_DATA_TYPE_INT64, 1, one, zero, true);
    start = sub("start", op("x0", NNRT_NODE_TYPE_GATHER, x, first), op("x0 again", NNRT_NODE_TYPE_GATHER, x, first));
    out = nnrt_builder_tensor(b, "y");
    yes = branch("yes");
    body = branch("body");
    i[0] = given("i", NNRT_DATA_TYPE_INT64);
    i[1] = given("go", NNRT_DATA_TYPE_BOOL);
    i[2] = given("s", NNRT_DATA_TYPE_UNKNOWN);
    left[0] = i[1];
    left[1] = add("s2", i[2], op("pick", NNRT_NODE_TYPE_GATHER, x, at));
    ends(body, yes, i, 3, left, 2);
    sum = nnrt_builder_tensor(b, "sum");
    in[0] = number(2);
    in[1] = NNRT_NO_TENSOR;
    in[2] = start;
    loop_node("loop", body, in, 3, &sum, 1);
    ends(yes, 0, NULL, 0, &sum, 1);
    no = branch("no");
    sum = op("none", NNRT_NODE_TYPE_GATHER, x, first);
    ends(no, 0, NULL, 0, &sum, 1);
    if_node("if", p, yes, no, &out, 1);
    nnrt_builder_output(b, out);
    return save("fault");
}

/* Branches whose results have unequal shapes; and a view of a dynamic shape that is declared. */
static int refused(bool late)
{
    static const int32_t one[1] = {1}, two[1] = {2};
    uint32_t p, x, yes, no, r, out, in[2];
    begin(late ? "late" : "told");
    p = scalar("p", NNRT_DATA_TYPE_BOOL);
    x = floats("x", 2);
    out = nnrt_builder_tensor(b, "y");
    in[0] = x;
    in[1] = late ? nnrt_builder_input(b, "extents", NNRT_DATA_TYPE_INT64, 1, one) : x;
    yes = branch("yes");
    r = add("r", x, x);
    ends(yes, 0, NULL, 0, &r, 1);
    no = branch("no");
    if (late) {
        r = nnrt_builder_tensor(b, "seen");
        nnrt_builder_declare(b, r, NNRT_DATA_TYPE_FLOAT32, 1, two);
        nnrt_builder_node(b, "view", NNRT_NODE_TYPE_RESHAPE, NULL, in, 2, &r, 1);
    } else {
        r = op("r", NNRT_NODE_TYPE_CONCAT, x, x);
    }
    ends(no, 0, NULL, 0, &r, 1);
    if_node("unequal", p, yes, no, &out, 1);
    nnrt_builder_output(b, out);
    return save(late ? "late" : "told");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return printf("usage: emit_subgraphs FOLDER\n") > 0;
    folder = argv[1];
    return nested() + swap() + sums() + until() + shared() + fault() + refused(false) + refused(true);
}

#else

#include "nested.h"
#include "swap.h"
#include "sums.h"
#include "until.h"
#include "shared.h"
#ifndef SPLIT
#include "fault.h"
#endif

static int faults;

#define EXPECT(condition, ...) ((condition) ? (void)0 : (void)(faults++, printf(__VA_ARGS__)))

/* An arena of exactly the bytes that a model takes, and a guard word after them. */
#define REGION(name, words)                                                                                            \
    static uint64_t name[words + 1];                                                                                   \
    memset(name, 0x5A, sizeof(name))
#define KEPT_IN(name, words) (name[words] == UINT64_C(0x5A5A5A5A5A5A5A5A))
#ifdef SPLIT
#define ARENA(UPPER)                                                                                                   \
    REGION(slow, UPPER##_SLOW_WORDS);                                                                                  \
    REGION(fast, UPPER##_FAST_WORDS)
#define KEPT(UPPER) (KEPT_IN(fast, UPPER##_FAST_WORDS) && KEPT_IN(slow, UPPER##_SLOW_WORDS))
#define arena fast, slow
#else
#define ARENA(UPPER) REGION(arena, UPPER##_ARENA_WORDS)
#define KEPT(UPPER) KEPT_IN(arena, UPPER##_ARENA_WORDS)
#endif

static const uint8_t truth[2] = {0, 1};

static void check_nested(void)
{
    ARENA(NESTED);
    for (int way = 0; way < 4; way++)
        for (int64_t trips = -1; trips < 8; trips++) {
            const float x[2] = {1.5f, -3}, y[2] = {0.25f, 7};
            const uint8_t p = (uint8_t)(way & 1), q = (uint8_t)(way >> 1);
            float z[2], w[2];
            NNRT_ReturnCode code = nested_run_in(arena, &p, &q, &trips, x, y, z, w);
            for (int k = 0; k < 2; k++) {
                float a = x[k], c = y[k];
                for (int64_t i = 0; i < trips && p == 1; i++) {
                    const float next = q == 1 ? a + c : x[k] - c;
                    a = c;
                    c = next;
                }
                a = p == 1 ? a : x[k] - y[k];
                EXPECT(code == NNRT_SUCCESS && z[k] == a + x[k] && w[k] == c && KEPT(NESTED),
                       "nested, way %d, %d trips: code %d, %g and %g\n", way, (int)trips, (int)code, (double)z[k],
                       (double)w[k]);
            }
        }
}

static void check_swap(void)
{
    ARENA(SWAP);
    for (int32_t trips = 0; trips < 10; trips++)
        for (int cond = 0; cond < 2; cond++) {
            const float x[3] = {1, 2, 3}, y[3] = {4, 5, 6};
            float a[3], c[3], k[3];
            const bool turned = cond == 1 && trips % 2 == 1;
            NNRT_ReturnCode code = swap_run_in(arena, &trips, &truth[cond], x, y, a, c, k);
            for (int i = 0; i < 3; i++)
                EXPECT(code == NNRT_SUCCESS && a[i] == (turned ? y : x)[i] && c[i] == (turned ? x : y)[i] &&
                           k[i] == x[i] + y[i] && KEPT(SWAP),
                       "swap, %d trips: code %d, %g and %g, %g\n", (int)trips, (int)code, (double)a[i], (double)c[i],
                       (double)k[i]);
        }
#ifdef __OPTIMIZE__ /* else a million trips take seconds */
    {
        const int32_t trips = NNRT_MAX_TRIPS, more = NNRT_MAX_TRIPS + 1;
        const float x[3] = {1, 2, 3};
        float a[3], c[3], k[3];
        EXPECT(swap_run_in(arena, &trips, &truth[1], x, x, a, c, k) == NNRT_SUCCESS, "swap: the most trips\n");
        EXPECT(swap_run_in(arena, &more, &truth[1], x, x, a, c, k) == NNRT_TIME_OUT, "swap: one trip too many\n");
    }
#endif
}

static void check_sums(void)
{
    ARENA(SUMS);
    const float x[2] = {1, -0.5f};
    float s[2], w[6];
    int64_t all[6];
    NNRT_ReturnCode code = sums_run_in(arena, x, s, w, all);
    for (int k = 0; k < 2; k++)
        EXPECT(code == NNRT_SUCCESS && s[k] == 7 * x[k], "sums: code %d, s[%d] %g\n", (int)code, k, (double)s[k]);
    for (int i = 0; i < 6; i++)
        EXPECT(w[i] == (float)(5 + i / 2) * x[i % 2] && all[i] == i % 3 && KEPT(SUMS),
               "sums: element %d is %g and %d\n", i, (double)w[i], (int)all[i]);
}

static void check_until(void)
{
    ARENA(UNTIL);
    for (int way = 0; way < 4; way++) {
        const float x[2] = {1, 2};
        float v[2], want = 1;
        uint8_t p2, q2;
        int p = way & 1, q = way >> 1;
        NNRT_ReturnCode code = until_run_in(arena, x, &truth[p], &truth[q], v, &p2, &q2);
        for (int goes = 1; goes;) {
            const int was = p;
            want += 1;
            p = q;
            q = !was;
            goes = was;
        }
        EXPECT(code == NNRT_SUCCESS && v[0] == want && v[1] == 2 * want && p2 == p && q2 == q && KEPT(UNTIL),
               "until, way %d: code %d, %g, %d and %d\n", way, (int)code, (double)v[0], (int)p2, (int)q2);
    }
}

static void check_shared(void)
{
    ARENA(SHARED);
    const float x[2] = {1, -2}, y[2] = {10, 20};
    float v[2], scan[6];
    NNRT_ReturnCode code = shared_run_in(arena, x, y, v, scan);
    EXPECT(code == NNRT_SUCCESS && v[0] == 15 && v[1] == 10 && KEPT(SHARED), "shared: code %d, %g and %g\n", (int)code,
           (double)v[0], (double)v[1]);
    for (int k = 0; k < 6; k++)
        EXPECT(scan[k] == 2 * x[k % 2], "shared: element %d of the scan is %g\n", k, (double)scan[k]);
}

#ifndef SPLIT
static void check_fault(void)
{
    static uint64_t room[FAULT_ARENA_WORDS + 1024];
    const size_t roomBytes = sizeof(room) - NNRT_ALIGNMENT;
    static const int32_t eight[1] = {8}, one[1] = {1};
    nnrt_view views[FAULT_VIEWS];
    const float x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    float y[1];
    int64_t at = 8;
    NNRT_IOTensor in[3], out;
    nnrt_error error;
    void *io[4];
    NNRT_ReturnCode code;
    uint8_t *workspace = (uint8_t *)room;
    ARENA(FAULT);
    while ((uintptr_t)workspace % NNRT_ALIGNMENT != 0)
        workspace++;
    memset(&error, 0, sizeof(error));
    memset(in, 0, sizeof(in));
    for (int i = 0; i < 3; i++) {
        in[i].data.fd = -1;
        in[i].dataType = i == 0 ? NNRT_DATA_TYPE_BOOL : i == 1 ? NNRT_DATA_TYPE_FLOAT32 : NNRT_DATA_TYPE_INT64;
        in[i].dimensions = NNRT_Int32List_make(i == 1 ? eight : one, i == 0 ? 0 : 1);
        in[i].data.addr = i == 0 ? (void *)(uintptr_t)&truth[1] : i == 1 ? (void *)(uintptr_t)x : (void *)&at;
        in[i].data.bufferSize = in[i].data.dataSize = i == 0 ? 1 : i == 1 ? sizeof(x) : sizeof(at);
        io[i] = in[i].data.addr;
    }
    out = in[1];
    out.dimensions.count = 0;
    out.data.addr = io[3] = y;
    out.data.bufferSize = out.data.dataSize = sizeof(y);
    EXPECT(nnrt_plan_workspace(fault_plan()) <= roomBytes, "fault: the workspace is too small\n");
    code = nnrt_plan_run(fault_plan(), workspace, roomBytes, in, 3, &out, 1, NULL, &error);
    EXPECT(code == NNRT_INVALID_PARAMETER, "fault: code %d\n", (int)code);
#ifndef NNRT_NO_MESSAGES
    EXPECT(strstr(error.message, "node 3 'pick' (nnrt_gather): index 8") == error.message && error.node == 3,
           "fault: '%s', node %d\n", error.message, (int)error.node);
#endif
    memset(&error, 0, sizeof(error));
    code = nnrt_plan_execute(fault_plan(), views, arena, io, &error);
    EXPECT(code == NNRT_INVALID_PARAMETER && error.node == (int32_t)fault_plan()->nSteps - 1,
           "fault: code %d, step %d\n", (int)code, (int)error.node);
    io[0] = (void *)(uintptr_t)&truth[0]; /* the other branch has none */
    EXPECT(nnrt_plan_execute(fault_plan(), views, arena, io, &error) == NNRT_SUCCESS && y[0] == 0, "fault: else\n");
    io[0] = (void *)(uintptr_t)&truth[1];
    at = 7;
    EXPECT(nnrt_plan_execute(fault_plan(), views, arena, io, NULL) == NNRT_SUCCESS && y[0] == 14, "fault: then\n");
    at = -9;
    EXPECT(nnrt_plan_execute(fault_plan(), views, arena, io, NULL) == NNRT_INVALID_PARAMETER, "fault: -9\n");
    EXPECT(KEPT(FAULT), "fault: behind the arena\n");
}
#endif

int main(void)
{
#ifdef SPLIT
    static uint64_t fast[64], slow[64];
#else
    static uint64_t arena[64];
#endif
    EXPECT(nested_selftest(arena) == NNRT_SUCCESS && swap_selftest(arena) == NNRT_SUCCESS &&
               sums_selftest(arena) == NNRT_SUCCESS && until_selftest(arena) == NNRT_SUCCESS &&
               shared_selftest(arena) == NNRT_SUCCESS,
           "a self-test sees other bits\n");
    check_nested();
    check_swap();
    check_sums();
    check_until();
    check_shared();
#ifndef SPLIT
    EXPECT(fault_selftest(arena) == NNRT_SUCCESS, "the self-test of fault sees other bits\n");
    check_fault();
#endif
    printf("%d faults\n", faults);
    return faults > 0;
}

#endif
