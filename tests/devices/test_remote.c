/* A device in another process, devices/nnrt_remote.h: the device's messages and results pass through the socket,
   tensors do not; a driver that is killed, hangs or sends invalid answers ends a call and nothing else. NNRT_KILLS=N:
   number of killed drivers, default 25. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <cmocka.h>

#include "inside.h"

#include "compat/nnrt_ohnn.h"
#include "formats/nnrt_onnx.h"

#include "fakes.h"
#include "remotes.h"

#define main vectors_main /* a program of its own */
#include "../ops/device_vectors.c"
#undef main

#include "kit.h"

#define DIGITS "examples/digits/digits.onnx"

static char folder[] = "/tmp/nnrt-remote-XXXXXX", socket_path[64];

static int setup(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(socket_path, sizeof(socket_path), "%s/s", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(socket_path);
    return rmdir(folder);
}

/* ---- servers ---- */

/* A server on a thread of this process, where the sanitizers see both ends. */
typedef struct served {
    nnrt_remote_server *server;
    pthread_t thread;
} served;

static void *serve(void *arg)
{
    (void)nnrt_remote_serve_run((nnrt_remote_server *)arg, NULL);
    return NULL;
}

static served served_with(const nnrt_remote_serve_desc *desc)
{
    served s;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_remote_serve_open(&s.server, desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_int_equal(pthread_create(&s.thread, NULL, serve, s.server), 0);
    return s;
}

static nnrt_remote_serve_desc desc_of(const char *device)
{
    nnrt_remote_serve_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.path = socket_path;
    desc.device = device;
    return desc;
}

static served served_device(const char *device)
{
    const nnrt_remote_serve_desc desc = desc_of(device);
    return served_with(&desc);
}

static void served_end(served *s)
{
    struct stat at;
    nnrt_remote_serve_stop(s->server);
    assert_int_equal(pthread_join(s->thread, NULL), 0);
    nnrt_remote_serve_close(s->server);
    assert_int_not_equal(stat(socket_path, &at), 0);
}

static nnrt_remote *connected(const char *options)
{
    nnrt_remote *remote = NULL;
    char text[192];
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    snprintf(text, sizeof(text), "remote:%s%s", options, socket_path);
    if (nnrt_remote_register(&remote, text, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", text, e.message);
    return remote;
}

static void disconnected(nnrt_remote *remote)
{
    assert_int_equal(nnrt_device_unregister(nnrt_remote_name(remote)), NNRT_SUCCESS);
}

/* ---- the digits network ---- */

#define PIXELS 784
#define SCORES 10

static float picture[PIXELS], want[SCORES];
static NNRT_Model *digits;

static int load_digits(void **state)
{
    uint32_t random = 1;
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    nnrt_io in = nnrt_io_make(picture, sizeof(picture)), out = nnrt_io_make(want, sizeof(want));
    (void)state;
    memset(&desc, 0, sizeof(desc));
    desc.device = "reference";
    for (uint32_t k = 0; k < PIXELS; k++) {
        random = random * 1664525u + 1013904223u;
        picture[k] = (float)(random >> 24) / 255.0f;
    }
    if (nnrt_onnx_load(&digits, DIGITS, NULL, NULL) != NNRT_SUCCESS ||
        nnrt_session_create(&s, digits, &desc, NULL) != NNRT_SUCCESS || nnrt_run(s, &in, 1, &out, 1) != NNRT_SUCCESS)
        return -1;
    nnrt_session_destroy(s);
    return 0;
}

static int drop_digits(void **state)
{
    (void)state;
    nnrt_model_destroy(digits);
    return 0;
}

static nnrt_session *session_on(const char *device)
{
    nnrt_session *s = NULL;
    nnrt_session_desc desc;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    if (nnrt_session_create(&s, digits, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    return s;
}

static NNRT_ReturnCode run_digits(nnrt_session *s)
{
    float got[SCORES];
    nnrt_io in = nnrt_io_make(picture, sizeof(picture)), out = nnrt_io_make(got, sizeof(got));
    const NNRT_ReturnCode code = nnrt_run(s, &in, 1, &out, 1);
    if (code == NNRT_SUCCESS)
        assert_memory_equal(got, want, sizeof(got));
    return code;
}

static void test_digits(void **state)
{
    served s = served_device("reference");
    nnrt_remote *r = connected("");
    nnrt_session *session = session_on("remote_reference");
    nnrt_remote_traffic before, after;
    (void)state;
    assert_string_equal(nnrt_session_device(session), "remote_reference_nnrt_v2_0");
    if (run_digits(session) != NNRT_SUCCESS)
        fail_msg("%s", nnrt_session_error(session));
    before = nnrt_remote_get_traffic(r);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(run_digits(session), NNRT_SUCCESS);
    after = nnrt_remote_get_traffic(r);
    assert_int_equal(after.calls, before.calls + 10);
    assert_int_equal(after.descriptors, before.descriptors);
    assert_int_equal(after.connections, 1);
    /* the picture has 3136 bytes, the scores 40 */
    assert_true(after.sent - before.sent < 10 * 256 && after.received - before.received < 10 * 128);
    nnrt_session_destroy(session);
    disconnected(r);
    served_end(&s);
}

/* ---- properties of the device ---- */

/* Reasons of a call of nnrt_device_supported for each node. */
typedef struct said {
    NNRT_ReturnCode code[MAX_NODES];
    char text[MAX_NODES][sizeof(((nnrt_error *)0)->message)];
} said;

static void listen_to(void *user, uint32_t node, const nnrt_error *e)
{
    said *s = (said *)user;
    assert_true(node < MAX_NODES && e->node == (int32_t)node);
    s->code[node] = e->code;
    memcpy(s->text[node], e->message, strlen(e->message) + 1);
}

/* Models that a device takes, or refuses for many reasons. */
static void build_small(graph *g, uint32_t which)
{
    static const float addend[3] = {1, 2, 3};
    graph_init(g);
    tensor(g, "x", F32, which == 1 ? "-1,3" : which == 2 ? "2,4" : "2,3");
    constant(g, "addend", F32, "3", addend, sizeof(addend));
    result(g, "sum");
    result(g, "y");
    ADD(g, "add", "0 1", "2");
    ACTIVATION(g, "relu", relu, "2", "3");
    if (which == 3)
        g->in[1][0] = 3; /* a cycle */
    if (which == 4)
        g->nodes[1].nodeType = NNRT_NODE_TYPE_SOFTMAX; /* attributes of another operator */
    if (which == 5)
        g->in[0][0] = 77;
    graph_io(g, "0", "3");
}

/* The runtime's own words name the device as it is called here. */
static void forget_remote(nnrt_error *e)
{
    char *at = strstr(e->message, "remote_");
    if (at != NULL)
        memmove(at, at + 7, strlen(at + 7) + 1);
}

/* Both devices say the same of all that is asked of a model, and run it alike. */
static void compare_model(nnrt_device *here, nnrt_device *there, const NNRT_Model *m, const NNRT_ModelConfig *config)
{
    NNRT_ModelConfig own[2];
    NNRT_PreparedModel *prepared[2] = {NULL, NULL};
    NNRT_ReturnCode code[2];
    nnrt_error e[2];
    static said reasons[2];
    bool takes[2][MAX_NODES];
    memset(reasons, 0, sizeof(reasons));
    memset(takes, 0, sizeof(takes));
    for (uint32_t i = 0; i < 2; i++) {
        memset(&e[i], 0, sizeof(e[i]));
        own[i] = *config;
        own[i].error = &e[i];
        code[i] =
            nnrt_device_supported(i == 0 ? here : there, m, &own[i], takes[i], m->nodes.count, listen_to, &reasons[i]);
    }
    assert_int_equal(code[0], code[1]);
    assert_string_equal(e[0].message, e[1].message);
    assert_memory_equal(takes[0], takes[1], sizeof(takes[0]));
    assert_memory_equal(&reasons[0], &reasons[1], sizeof(reasons[0]));
    for (uint32_t i = 0; i < 2; i++) {
        memset(&e[i], 0, sizeof(e[i]));
        code[i] = nnrt_device_prepare(i == 0 ? here : there, m, &own[i], &prepared[i]);
    }
    assert_int_equal(code[0], code[1]);
    forget_remote(&e[1]);
    assert_string_equal(e[0].message, e[1].message);
    assert_int_equal(e[0].node, e[1].node);
    assert_int_equal(e[0].tensor, e[1].tensor);
    assert_true((prepared[0] == NULL) == (prepared[1] == NULL));
    for (uint32_t k = 0; k < 2 && prepared[0] != NULL; k++) {
        NNRT_DataType type[2] = {77, 77};
        nnrt_dims dims[2][3];
        memset(dims, 0, sizeof(dims));
        for (uint32_t i = 0; i < 2; i++)
            code[i] = prepared[i]->vtbl->GetIO(prepared[i], k == 1, 0, &type[i], &dims[i][0]);
        assert_int_equal(code[0], code[1]);
        assert_int_equal(type[0], type[1]);
        for (uint32_t i = 0; i < 2; i++)
            code[i] = k == 1 ? prepared[i]->vtbl->GetOutputDimRanges(prepared[i], 0, &dims[i][1], &dims[i][2])
                             : prepared[i]->vtbl->GetInputDimRanges(prepared[i], 0, &dims[i][1], &dims[i][2]);
        assert_int_equal(code[0], code[1]);
        for (uint32_t n = 0; n < 3; n++) {
            assert_int_equal(dims[0][n].rank, dims[1][n].rank);
            for (int32_t a = 0; a < dims[0][n].rank && a < 8; a++)
                assert_int_equal(dims[0][n].dims[a], dims[1][n].dims[a]);
        }
        for (uint32_t i = 0; i < 2; i++)
            code[i] = prepared[i]->vtbl->GetIO(prepared[i], k == 1, 1, &type[i], &dims[i][0]);
        assert_int_equal(code[0], code[1]);
        assert_int_not_equal(code[0], NNRT_SUCCESS);
    }
    if (prepared[0] != NULL) {
        nnrt_prepared_memory memory[2];
        memset(memory, 0, sizeof(memory));
        for (uint32_t i = 0; i < 2; i++)
            code[i] = prepared[i]->vtbl->GetMemory(prepared[i], &memory[i]);
        assert_int_equal(code[0], code[1]);
        assert_int_equal(memory[0].arena, memory[1].arena);
        assert_int_equal(memory[0].bound, memory[1].bound);
        assert_int_equal(memory[0].constants, memory[1].constants);
        assert_int_equal(memory[0].steps, memory[1].steps);
        assert_true(prepared[0]->vtbl->ExportModelCache == NULL && prepared[1]->vtbl->ExportModelCache == NULL);
    }
    nnrt_device_release(here, prepared[0]);
    nnrt_device_release(there, prepared[1]);
}

static void test_methods(void **state)
{
    static const char *const texts[] = {"fake:name=npu0,vendor=acme,type=GPU", "fake:name=npu0,ops=ADD_FUSION",
                                        "fake:name=npu0,not=ADD_FUSION,dynamic=no", "fake:name=npu0,dims=1..3"};
    static graph g;
    (void)state;
    for (uint32_t t = 0; t < COUNT(texts); t++) {
        nnrt_fake *fake = registered(texts[t]);
        nnrt_device *here = nnrt_device_find("npu0"), *there;
        served s = served_device("npu0");
        nnrt_remote *r = connected("");
        there = nnrt_device_find("remote_npu0");
        assert_string_equal(nnrt_device_vendor(there), nnrt_device_vendor(here));
        assert_string_equal(nnrt_device_unique_name(there), t == 0 ? "remote_npu0_acme_v1_0" : "remote_npu0_nnrt_v1_0");
        assert_int_equal(nnrt_device_type(there, NULL), nnrt_device_type(here, NULL));
        assert_int_equal(nnrt_device_status(there), NNRT_DEVICE_STATUS_AVAILABLE);
        for (nnrt_ability a = NNRT_ABILITY_FLOAT16; a <= NNRT_ABILITY_TELL_NODES; a++)
            assert_int_equal(nnrt_device_can(there, a, NULL), nnrt_device_can(here, a, NULL));
        for (uint32_t which = 0; which < 6; which++) {
            const nnrt_dims extents[1] = {{2, {2, 3}}}, open[1] = {{2, {5, 3}}}, wrong[1] = {{2, {2, 77}}};
            const nnrt_bound bound = {"x", {2, {5, 3}}}, nobody = {"nobody", {1, {5}}};
            NNRT_ModelConfig config;
            memset(&config, 0, sizeof(config));
            build_small(&g, which);
            compare_model(here, there, &g.model, &config);
            config.inputDims = nnrt_dims_list_make(extents, 1);
            compare_model(here, there, &g.model, &config);
            config.inputDims = nnrt_dims_list_make(wrong, 1);
            compare_model(here, there, &g.model, &config);
            config.inputDims = nnrt_dims_list_make(open, 0);
            config.bounds = nnrt_bound_list_make(&bound, 1);
            compare_model(here, there, &g.model, &config);
            config.bounds = nnrt_bound_list_make(&nobody, 1);
            compare_model(here, there, &g.model, &config);
        }
        disconnected(r);
        served_end(&s);
        unregistered(fake);
    }
}

static void count_elsewhere(void *user, const nnrt_placement *p)
{
    if (strncmp(p->device, "remote_npu0", 11) != 0)
        ++*(uint32_t *)user;
}

/* An optional slot that the device lacks is absent through the socket, too; auto gives such a device all of the model. */
static void test_absent_slots(void **state)
{
    static const char *const without[] = {"GetMemory",
                                          "GetIO",
                                          "ExportModelCache",
                                          "GetInputDimRanges",
                                          "GetOutputDimRanges",
                                          "GetSupportedOperation+GetSupportedNodes",
                                          "IsModelCacheSupported+PrepareModelFromModelCache",
                                          "PrepareOfflineModel",
                                          "GetModelMemory",
                                          "GetIO+GetMemory+GetInputDimRanges+GetOutputDimRanges+ExportModelCache"};
    static graph g;
    (void)state;
    build_small(&g, 0);
    for (uint32_t i = 0; i < COUNT(without); i++) {
        char text[160];
        nnrt_fake *fake;
        nnrt_device *device[2];
        NNRT_PreparedModel *prepared[2] = {NULL, NULL};
        const NNRT_PreparedModelVtbl *here, *there;
        nnrt_session_desc desc;
        nnrt_session *session = NULL;
        nnrt_partition partition;
        uint32_t elsewhere = 0;
        float x[6] = {1, -2, 3, -4, 5, -6}, y[6];
        static const float relu_of_sum[6] = {2, 0, 6, 0, 7, 0}; /* max(x + {1, 2, 3}, 0) */
        served s;
        nnrt_remote *r;
        snprintf(text, sizeof(text), "fake:name=npu0,cache=yes,without=%s", without[i]);
        fake = registered(text);
        s = served_device("npu0");
        r = connected("");
        device[0] = nnrt_device_find("npu0");
        device[1] = nnrt_device_find("remote_npu0");
        for (nnrt_ability a = NNRT_ABILITY_FLOAT16; a <= NNRT_ABILITY_TELL_NODES; a++)
            if (nnrt_device_can(device[0], a, NULL) != nnrt_device_can(device[1], a, NULL))
                fail_msg("without %s: ability %d differs", without[i], a);
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(nnrt_device_prepare(device[k], &g.model, NULL, &prepared[k]), NNRT_SUCCESS);
        here = prepared[0]->vtbl;
        there = prepared[1]->vtbl;
        if ((here->GetMemory == NULL) != (there->GetMemory == NULL) || (here->GetIO == NULL) != (there->GetIO == NULL) ||
            (here->ExportModelCache == NULL) != (there->ExportModelCache == NULL) ||
            (here->GetInputDimRanges == NULL) != (there->GetInputDimRanges == NULL) ||
            (here->GetOutputDimRanges == NULL) != (there->GetOutputDimRanges == NULL))
            fail_msg("without %s: the prepared model has other slots", without[i]);
        for (uint32_t k = 0; k < 2; k++)
            nnrt_device_release(device[k], prepared[k]);
        memset(&desc, 0, sizeof(desc));
        memset(&partition, 0, sizeof(partition));
        partition.placed = count_elsewhere;
        partition.user = &elsewhere;
        partition.fallback = true; /* a split: auto asks for the memory of a part */
        desc.device = "auto:remote_npu0";
        desc.partition = &partition;
        assert_int_equal(nnrt_session_create(&session, &g.model, &desc, NULL), NNRT_SUCCESS);
        if (elsewhere != 0)
            fail_msg("without %s: %u nodes are on another device", without[i], elsewhere);
        assert_int_equal(nnrt_run(session, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
        assert_memory_equal(y, relu_of_sum, sizeof(y));
        nnrt_session_destroy(session);
        disconnected(r);
        served_end(&s);
        unregistered(fake);
    }
}

/* ---- drivers that end ---- */

static uint32_t descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    uint32_t count = 0;
    assert_non_null(d);
    while (readdir(d) != NULL)
        count++;
    closedir(d);
    return count;
}

/* Kills the process some time from now. */
typedef struct killer {
    pthread_t thread;
    pid_t process;
    uint32_t microseconds;
} killer;

static void *kill_later(void *arg)
{
    const killer *k = (const killer *)arg;
    struct timespec t;
    t.tv_sec = 0;
    t.tv_nsec = (long)k->microseconds * 1000;
    (void)nanosleep(&t, NULL);
    (void)kill(k->process, SIGKILL);
    return NULL;
}

static void test_kills(void **state)
{
    const char *given = getenv("NNRT_KILLS");
    const uint32_t kills = given != NULL ? (uint32_t)strtoul(given, NULL, 10) : 25;
    const char *const device_text = "fake:hang=RunIn:1";
    const uint32_t before = descriptors();
    uint32_t random = 7, runs = 0, lost = 0;
    pid_t process = remote_start(socket_path, device_text);
    nnrt_remote *r;
    nnrt_session *session = NULL;
    (void)state;
    assert_int_not_equal(process, 0);
    r = connected("");
    for (uint32_t i = 0; i < kills; i++) {
        nnrt_session_desc own;
        NNRT_ReturnCode code = NNRT_SUCCESS;
        killer k;
        memset(&own, 0, sizeof(own));
        own.device = "remote_fake";
        random = random * 1664525u + 1013904223u;
        k.process = process;
        k.microseconds = (random >> 8) % 25000;
        assert_int_equal(pthread_create(&k.thread, NULL, kill_later, &k), 0);
        while (code == NNRT_SUCCESS) {
            nnrt_error e;
            memset(&e, 0, sizeof(e));
            if (session == NULL || runs % 5 == 4) {
                nnrt_session_destroy(session);
                code = nnrt_session_create(&session, digits, &own, &e);
                assert_true(code == NNRT_SUCCESS || e.message[0] != '\0');
            }
            if (code == NNRT_SUCCESS) {
                code = run_digits(session);
                runs++;
            }
        }
        lost++;
        assert_int_equal(code, NNRT_SERVICE_ERROR);
        assert_int_equal(pthread_join(k.thread, NULL), 0);
        assert_int_equal(waitpid(process, NULL, 0), process);
        assert_int_equal(nnrt_device_status(nnrt_device_find("remote_fake")), NNRT_DEVICE_STATUS_OFFLINE);
        process = remote_start(socket_path, device_text); /* a socket without a listener is replaced */
        assert_int_not_equal(process, 0);
        if (session != NULL)
            assert_int_equal(run_digits(session), NNRT_SUCCESS);
    }
    assert_int_equal(lost, kills);
    nnrt_session_destroy(session);
    session = session_on("remote_fake");
    assert_int_equal(run_digits(session), NNRT_SUCCESS);
    nnrt_session_destroy(session);
    disconnected(r);
    (void)kill(process, SIGKILL);
    (void)waitpid(process, NULL, 0);
    assert_int_equal(descriptors(), before);
}

/* A driver that ends itself, in the call that its text names. */
static void test_die(void **state)
{
    const char *const device_text = "fake:die=RunIn:2";
    pid_t process = remote_start(socket_path, device_text);
    nnrt_remote *r;
    nnrt_session *session;
    int status = 0;
    (void)state;
    assert_int_not_equal(process, 0);
    r = connected("name=mortal,");
    session = session_on("mortal");
    assert_int_equal(run_digits(session), NNRT_SUCCESS);
    assert_int_equal(run_digits(session), NNRT_SERVICE_ERROR);
    assert_non_null(strstr(nnrt_session_error(session), "closed the connection"));
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_int_equal(run_digits(session), NNRT_SERVICE_ERROR);
    assert_non_null(strstr(nnrt_session_error(session), "no server listens"));
    process = remote_start(socket_path, device_text);
    assert_int_equal(run_digits(session), NNRT_SUCCESS);
    assert_int_equal(nnrt_remote_get_traffic(r).connections, 2);
    nnrt_session_destroy(session);
    disconnected(r);
    (void)kill(process, SIGKILL);
    (void)waitpid(process, NULL, 0);
}

/* A driver that hangs: the call ends in time, the next one has a connection of its own. */
static void test_hang(void **state)
{
    nnrt_fake *fake = registered("fake:hang=RunIn:0");
    served s = served_device("fake");
    nnrt_remote *r = connected("name=slow,time=1000,");
    nnrt_session *session = session_on("slow");
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(run_digits(session), NNRT_TIME_OUT);
        assert_non_null(strstr(nnrt_session_error(session), "has not answered for 1000 milliseconds"));
        assert_int_equal(nnrt_device_status(nnrt_device_find("slow")), NNRT_DEVICE_STATUS_AVAILABLE);
    }
    while (nnrt_fake_get_record(fake).calls[NNRT_FAKE_RunIn] < 3)
        (void)poll(NULL, 0, 1);
    nnrt_session_destroy(session);
    disconnected(r);
    nnrt_fake_wake(fake);
    served_end(&s);
    unregistered(fake);
}

/* ---- memory ---- */

/* Inputs and outputs in buffers of the device are used in place: no copy, and no further data is sent. */
static void test_buffers(void **state)
{
    served s = served_device("reference");
    nnrt_remote *r = connected("");
    nnrt_session *session = session_on("remote_reference");
    nnrt_io in, out;
    NNRT_SharedBuffer b, wrong;
    nnrt_device *d = nnrt_device_find("remote_reference");
    (void)state;
    assert_int_equal(nnrt_session_allocate(session, false, 0, &in), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_allocate(session, true, 0, &out), NNRT_SUCCESS);
    memcpy(in.data, picture, sizeof(picture));
    assert_int_equal(nnrt_run(session, &in, 1, &out, 1), NNRT_SUCCESS);
    assert_memory_equal(out.data, want, sizeof(want));
    assert_null(r->staging);
    assert_int_equal(nnrt_remote_get_traffic(r).descriptors, 3); /* the model, the input, the output */
    assert_int_equal(run_digits(session), NNRT_SUCCESS);         /* elsewhere: with copies */
    assert_non_null(r->staging);
    assert_int_equal(nnrt_run(session, &in, 1, &out, 1), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_allocate(d, 0, &b), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_device_allocate(d, 100, &b), NNRT_SUCCESS);
    assert_true(b.fd >= 0 && b.bufferSize >= 100);
    wrong = b;
    wrong.bufferSize++;
    assert_int_equal(nnrt_device_free(d, &wrong), NNRT_INVALID_BUFFER_SIZE);
    wrong = b;
    wrong.fd = 0;
    assert_int_equal(nnrt_device_free(d, &wrong), NNRT_INVALID_BUFFER);
    assert_int_equal(nnrt_device_free(d, &b), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_free(d, &b), NNRT_INVALID_BUFFER);
    nnrt_session_destroy(session);
    disconnected(r);
    served_end(&s);
}

/* Buffers of a run that are only file descriptors are mapped for it. */
static void test_descriptors(void **state)
{
    served s = served_device("reference");
    nnrt_remote *r = connected("");
    nnrt_device *d = nnrt_device_find("remote_reference");
    NNRT_PreparedModel *prepared = NULL;
    const int32_t shape[4] = {1, 1, 28, 28}, scores[2] = {1, SCORES};
    NNRT_IOTensor in, out;
    void *got;
    (void)state;
    memset(&in, 0, sizeof(in));
    memset(&out, 0, sizeof(out));
    assert_int_equal(nnrt_device_prepare(d, digits, NULL, &prepared), NNRT_SUCCESS);
    assert_int_equal(nnrt_buffer_create(sizeof(picture), &in.data), NNRT_SUCCESS);
    assert_int_equal(nnrt_buffer_create(sizeof(want), &out.data), NNRT_SUCCESS);
    assert_int_equal(lseek(in.data.fd, 0, SEEK_SET), 0);
    assert_int_equal(write(in.data.fd, picture, sizeof(picture)), sizeof(picture));
    in.dataType = out.dataType = F32;
    in.format = digits->allTensors.data[digits->inputIndex.data[0]].format;
    in.dimensions = NNRT_Int32List_make(shape, 4);
    out.dimensions = NNRT_Int32List_make(scores, 2);
    assert_int_equal(nnrt_prepared_run(prepared, NULL, 0, &in, 1, &out, 1, NULL, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_buffer_map(&out.data, false, &got, NULL), NNRT_SUCCESS);
    assert_memory_equal(got, want, sizeof(want));
    nnrt_buffer_unmap(&out.data, got);
    nnrt_buffer_destroy(&in.data);
    nnrt_buffer_destroy(&out.data);
    nnrt_device_release(d, prepared);
    disconnected(r);
    served_end(&s);
}

/* Clients of another user: kernels work on copies. */
static void test_copies(void **state)
{
    served s = served_device("reference");
    nnrt_remote *r = connected("");
    nnrt_session *session = session_on("remote_reference");
    (void)state;
    s.server->clients[0].copies = true; /* between two requests */
    assert_int_equal(run_digits(session), NNRT_SUCCESS);
    assert_int_equal(run_digits(session), NNRT_SUCCESS);
    assert_true(s.server->clients[0].copyBytes >= sizeof(picture) + sizeof(want));
    nnrt_session_destroy(session);
    disconnected(r);
    served_end(&s);
}

/* A session in a buffer of exactly the bytes that it is said to take, and in one with a byte less. */
static void test_exact(void **state)
{
    served s = served_device("reference");
    nnrt_remote *r = connected("");
    nnrt_session *session = NULL;
    nnrt_session_desc desc;
    void *block = NULL;
    size_t bytes;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    desc.device = "remote_reference";
    assert_int_equal(nnrt_session_bytes(digits, &desc, &bytes, NULL), NNRT_SUCCESS);
    assert_int_equal(posix_memalign(&block, NNRT_ALIGNMENT, bytes), 0);
    desc.buffer = block;
    desc.bufferBytes = bytes - 1;
    assert_int_equal(nnrt_session_create(&session, digits, &desc, NULL), NNRT_OUT_OF_MEMORY);
    desc.bufferBytes = bytes;
    assert_int_equal(nnrt_session_create(&session, digits, &desc, NULL), NNRT_SUCCESS);
    assert_int_equal(run_digits(session), NNRT_SUCCESS);
    nnrt_session_destroy(session);
    free(block);
    disconnected(r);
    served_end(&s);
}

/* The model cache of a device goes over as its model does. */
static void test_cache(void **state)
{
    nnrt_fake *fake = registered("fake:cache=yes");
    served s = served_device("fake");
    nnrt_remote *r = connected("");
    nnrt_device *devices[2] = {nnrt_device_find("fake"), nnrt_device_find("remote_fake")};
    NNRT_PreparedModel *prepared[2] = {NULL, NULL}, *again[2], *none = NULL;
    const NNRT_SharedBuffer *buffers[2] = {NULL, NULL}, *twice;
    uint32_t count[2] = {0, 0}, same;
    nnrt_error e[2];
    NNRT_ModelConfig config;
    static char text[] = "ABS 2,3";
    const NNRT_SharedBuffer offline = {-1, 7, 0, 7, text};
    const int32_t extents[2] = {2, 3};
    float x[6] = {1, -2, 3, -4, 5, -6}, y[6] = {0};
    NNRT_IOTensor in, out;
    (void)state;
    memset(&config, 0, sizeof(config));
    memset(&in, 0, sizeof(in));
    memset(&out, 0, sizeof(out));
    assert_true(nnrt_device_can(devices[1], NNRT_ABILITY_MODEL_CACHE, NULL));
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(nnrt_device_prepare(devices[i], digits, NULL, &prepared[i]), NNRT_SUCCESS);
        assert_int_equal(prepared[i]->vtbl->ExportModelCache(prepared[i], &buffers[i], &count[i]), NNRT_SUCCESS);
    }
    assert_int_equal(count[0], count[1]);
    assert_int_equal(prepared[1]->vtbl->ExportModelCache(prepared[1], &twice, &same), NNRT_SUCCESS);
    assert_true(count[1] == 2 && twice == buffers[1] && same == count[1]);
    /* the results of both for the same bytes */
    for (uint32_t i = 0; i < 2; i++) {
        again[i] = NULL;
        assert_int_equal(nnrt_device_prepare_cache(devices[i], buffers[1], count[1], NULL, &again[i]), NNRT_SUCCESS);
        assert_int_equal(again[i]->vtbl->ExportModelCache(again[i], &buffers[i], &count[i]), NNRT_SUCCESS);
    }
    assert_int_equal(count[0], count[1]);
    for (uint32_t k = 0; k < 2; k++) {
        assert_int_equal(buffers[0][k].dataSize, buffers[1][k].dataSize);
        assert_true(buffers[0][k].dataSize > 0);
        assert_memory_equal((const uint8_t *)buffers[0][k].addr + buffers[0][k].offset, buffers[1][k].addr,
                            buffers[0][k].dataSize);
    }
    for (uint32_t i = 0; i < 2; i++) {
        memset(&e[i], 0, sizeof(e[i]));
        config.error = &e[i];
        assert_int_equal(nnrt_device_prepare_cache(devices[i], buffers[1], count[1] - 1, &config, &none),
                         NNRT_INVALID_MODEL_CACHE);
    }
    forget_remote(&e[1]);
    assert_string_equal(e[0].message, e[1].message);
    for (uint32_t i = 0; i < 2; i++) {
        memset(&e[i], 0, sizeof(e[i]));
        config.error = &e[i];
        assert_int_equal(nnrt_device_prepare_offline(devices[i], buffers[1], 1, &config, &none), NNRT_INVALID_MODEL);
    }
    forget_remote(&e[1]);
    assert_string_equal(e[0].message, e[1].message);
    assert_int_equal(nnrt_device_prepare_offline(devices[1], &offline, 1, NULL, &none), NNRT_SUCCESS);
    in.dataType = out.dataType = F32;
    in.dimensions = out.dimensions = NNRT_Int32List_make(extents, 2);
    in.data.fd = out.data.fd = -1;
    in.data.addr = x;
    out.data.addr = y;
    in.data.bufferSize = in.data.dataSize = out.data.bufferSize = out.data.dataSize = sizeof(x);
    assert_int_equal(nnrt_prepared_run(none, NULL, 0, &in, 1, &out, 1, NULL, NULL, NULL), NNRT_SUCCESS);
    assert_true(y[0] == 1 && y[1] == 2 && y[5] == 6);
    nnrt_device_release(devices[1], none);
    for (uint32_t i = 0; i < 2; i++) {
        nnrt_device_release(devices[i], prepared[i]);
        nnrt_device_release(devices[i], again[i]);
    }
    disconnected(r);
    served_end(&s);
    unregistered(fake);
}

/* Mappings of shared memory that this process has. */
static uint32_t mappings(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    uint32_t count = 0;
    assert_non_null(f);
    while (fgets(line, sizeof(line), f) != NULL)
        count += strstr(line, "memfd:nnrt") != NULL;
    fclose(f);
    return count;
}

static void test_cycles(void **state)
{
    const uint32_t before = descriptors(), mapped = mappings();
    served s = served_device("reference");
    (void)state;
    for (uint32_t i = 0; i < 50; i++) {
        nnrt_remote *r = connected("");
        nnrt_session *session = session_on("remote_reference");
        nnrt_io in;
        assert_int_equal(run_digits(session), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_allocate(session, false, 0, &in), NNRT_SUCCESS);
        nnrt_session_destroy(session);
        disconnected(r);
    }
    served_end(&s);
    assert_int_equal(descriptors(), before);
    assert_int_equal(mappings(), mapped);
}

/* ---- several clients ---- */

typedef struct client {
    pthread_t thread;
    char name[8];
    nnrt_session *session;
    float score[SCORES];
    uint32_t wrong;
} client;

static void *use_remote(void *arg)
{
    client *c = (client *)arg;
    nnrt_io in = nnrt_io_make(picture, sizeof(picture)), out = nnrt_io_make(c->score, sizeof(c->score));
    for (uint32_t i = 0; i < 12; i++) {
        nnrt_session_desc desc;
        nnrt_session *own = NULL;
        memset(&desc, 0, sizeof(desc));
        desc.device = c->name;
        c->wrong += nnrt_session_create(&own, digits, &desc, NULL) != NNRT_SUCCESS;
        for (uint32_t k = 0; k < 2; k++) {
            memset(c->score, 0, sizeof(c->score));
            c->wrong += nnrt_run(k == 0 ? own : c->session, &in, 1, &out, 1) != NNRT_SUCCESS;
            c->wrong += memcmp(c->score, want, sizeof(want)) != 0;
        }
        nnrt_session_destroy(own);
    }
    return NULL;
}

/* Three connections, each used by two threads. */
static void test_clients(void **state)
{
    served s = served_device("reference");
    nnrt_remote *r[3];
    client c[6];
    (void)state;
    memset(c, 0, sizeof(c));
    for (uint32_t i = 0; i < 3; i++) {
        char options[16];
        snprintf(options, sizeof(options), "name=r%u,", (unsigned)i);
        r[i] = connected(options);
    }
    for (uint32_t i = 0; i < 6; i++) {
        snprintf(c[i].name, sizeof(c[i].name), "r%u", (unsigned)i % 3);
        c[i].session = session_on(c[i].name);
    }
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&c[i].thread, NULL, use_remote, &c[i]), 0);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(pthread_join(c[i].thread, NULL), 0);
        assert_int_equal(c[i].wrong, 0);
        nnrt_session_destroy(c[i].session);
    }
    for (uint32_t i = 0; i < 3; i++)
        disconnected(r[i]);
    served_end(&s);
}

/* ---- limits, and bytes that are no requests ---- */

static void test_limits(void **state)
{
    nnrt_remote_serve_desc desc = desc_of("reference");
    served s;
    nnrt_remote *r;
    nnrt_session *session, *other = NULL;
    nnrt_session_desc own;
    nnrt_io in, out;
    nnrt_error e;
    (void)state;
    memset(&own, 0, sizeof(own));
    memset(&e, 0, sizeof(e));
    own.device = "remote_reference";
    desc.limits.models = 1;
    desc.limits.buffers = 1;
    s = served_with(&desc);
    r = connected("");
    session = session_on("remote_reference");
    assert_int_equal(nnrt_session_create(&other, digits, &own, &e), NNRT_OUT_OF_MEMORY);
    assert_non_null(strstr(e.message, "at most 1 models"));
    assert_int_equal(nnrt_session_allocate(session, false, 0, &in), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_allocate(session, true, 0, &out), NNRT_SUCCESS);
    assert_int_equal(nnrt_run(session, &in, 1, &out, 1), NNRT_OUT_OF_MEMORY);
    assert_non_null(strstr(nnrt_session_error(session), "at most 1 buffers"));
    nnrt_session_destroy(session);
    session = session_on("remote_reference"); /* there is room again */
    assert_int_equal(run_digits(session), NNRT_SUCCESS);
    nnrt_session_destroy(session);
    disconnected(r);
    served_end(&s);
}

static int raw_connection(void)
{
    struct sockaddr_un a;
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    memset(&a, 0, sizeof(a));
    a.sun_family = AF_UNIX;
    snprintf(a.sun_path, sizeof(a.sun_path), "%s", socket_path);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    return fd;
}

/* Sends a frame, and reads the head of the answer: its code, -1: the connection is closed. */
static int32_t ask_raw(nnrti_remote_channel *l, const nnrti_remote_head *given, int fd)
{
    nnrti_remote_head head = *given, answer;
    const int64_t until = nnrti_remote_now() + 20000;
    int came;
    assert_true(l->out.used <= l->most);
    if (nnrti_remote_send(l, &head, fd, until) != NNRT_SUCCESS ||
        nnrti_remote_receive(l, &answer, &came, until) != NNRT_SUCCESS)
        return -1;
    assert_int_equal(answer.kind, given->kind | NNRTI_REMOTE_ANSWER);
    assert_int_equal(answer.serial, given->serial);
    return answer.code;
}

static void test_hostile(void **state)
{
    nnrt_remote_serve_desc desc = desc_of("reference");
    served s;
    uint8_t junk[64];
    NNRT_SharedBuffer plain;
    (void)state;
    desc.limits.time = 100;
    s = served_with(&desc);
    for (uint32_t i = 0; i < 8; i++) {
        nnrti_remote_channel l;
        nnrti_remote_head head;
        char byte;
        memset(&l, 0, sizeof(l));
        memset(&head, 0, sizeof(head));
        memset(junk, 0x5A, sizeof(junk));
        l.fd = raw_connection();
        assert_true(nnrti_remote_channel_size(&l, 262144));
        head.kind = NNRTI_REMOTE_HELLO;
        head.serial = 1;
        if (i >= 3)
            assert_int_equal(ask_raw(&l, &head, -1), NNRT_SUCCESS);
        l.out.used = 0;
        head.serial = 2;
        switch (i) {
        case 0: /* bytes that are no frame */
            assert_int_equal(write(l.fd, junk, sizeof(junk)), sizeof(junk));
            while (read(l.fd, &byte, 1) == 1)
                continue;
            break;
        case 1: /* a frame that does not end: the time is up */
            assert_int_equal(write(l.fd, "NNRR", 4), 4);
            assert_int_equal(read(l.fd, &byte, 1), 0);
            break;
        case 2: /* another beginning */
            head.kind = NNRTI_REMOTE_STATUS;
            assert_int_equal(ask_raw(&l, &head, -1), NNRT_INVALID_PARAMETER);
            break;
        case 3: /* nothing that there is */
            head.kind = 99;
            assert_int_equal(ask_raw(&l, &head, -1), NNRT_INVALID_PARAMETER);
            break;
        case 4: /* more than there should be */
            head.kind = NNRTI_REMOTE_STATUS;
            nnrti_remote_put_u32(&l.out, 1);
            assert_int_equal(ask_raw(&l, &head, -1), NNRT_INVALID_PARAMETER);
            break;
        case 5: /* memory that is not sealed as it must be; the connection stays, and takes it when it is */
            assert_int_equal(nnrt_buffer_create(64, &plain), NNRT_SUCCESS);
            head.kind = NNRTI_REMOTE_PREPARE;
            nnrti_remote_put_u64(&l.out, 64);
            nnrti_remote_put_u64(&l.out, 0);
            assert_int_equal(ask_raw(&l, &head, plain.fd), NNRT_INVALID_BUFFER);
            l.out.used = 0;
            assert_int_equal(fcntl(plain.fd, 1033, 8), 0);
            nnrti_remote_put_u64(&l.out, 64);
            nnrti_remote_put_u64(&l.out, 0);
            assert_int_equal(ask_raw(&l, &head, plain.fd), NNRT_INVALID_PARAMETER); /* and no configuration */
            nnrt_buffer_destroy(&plain);
            break;
        case 6: { /* memory that could become shorter, a buffer that is longer than its memory */
            int fd = memfd_create("open", 0);
            assert_int_equal(write(fd, junk, sizeof(junk)), sizeof(junk));
            head.kind = NNRTI_REMOTE_MAP;
            nnrti_remote_put_u32(&l.out, 1);
            nnrti_remote_put_u64(&l.out, 64);
            assert_int_equal(ask_raw(&l, &head, fd), NNRT_INVALID_BUFFER);
            close(fd);
            assert_int_equal(nnrt_buffer_create(64, &plain), NNRT_SUCCESS);
            l.out.used = 0;
            nnrti_remote_put_u32(&l.out, 1);
            nnrti_remote_put_u64(&l.out, 65);
            assert_int_equal(ask_raw(&l, &head, plain.fd), NNRT_INVALID_BUFFER);
            l.out.used = 0;
            nnrti_remote_put_u32(&l.out, 1);
            nnrti_remote_put_u64(&l.out, 64);
            assert_int_equal(ask_raw(&l, &head, plain.fd), NNRT_SUCCESS);
            nnrt_buffer_destroy(&plain);
            break;
        }
        default: /* an unknown model */
            head.kind = NNRTI_REMOTE_RELEASE;
            nnrti_remote_put_u32(&l.out, 1);
            assert_int_equal(ask_raw(&l, &head, -1), NNRT_INVALID_PARAMETER);
            break;
        }
        nnrti_remote_channel_end(&l);
    }
    disconnected(connected("")); /* and it still serves */
    served_end(&s);
}

/* ---- layers above a device ---- */

/* auto assigns the nodes to other devices without a server. */
static void test_auto_falls_back(void **state)
{
    served s = served_device("reference");
    nnrt_remote *r = connected("name=mortal,");
    nnrt_session *session = session_on("auto:mortal");
    nnrt_prepared_memory none;
    (void)state;
    memset(&none, 0, sizeof(none));
    assert_int_equal(run_digits(session), NNRT_SUCCESS);
    served_end(&s);
    assert_int_equal(run_digits(session), NNRT_SERVICE_ERROR);
    nnrt_session_destroy(session);
    session = session_on("auto:mortal");
    assert_int_equal(run_digits(session), NNRT_SUCCESS);
    nnrt_session_destroy(session);
    disconnected(r);
}

typedef struct heard {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t runs, deaths;
    OH_NN_ReturnCode code;
} heard;

static void hear_run(void *user, OH_NN_ReturnCode code, void **outputs, int32_t count)
{
    heard *h = (heard *)user;
    (void)outputs;
    (void)count;
    pthread_mutex_lock(&h->mutex);
    h->runs++;
    h->code = code;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->mutex);
}

static void hear_death(void *user)
{
    heard *h = (heard *)user;
    pthread_mutex_lock(&h->mutex);
    h->deaths++;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->mutex);
}

static void wait_for(heard *h, uint32_t count)
{
    pthread_mutex_lock(&h->mutex);
    while (h->runs + h->deaths < count)
        pthread_cond_wait(&h->changed, &h->mutex);
    pthread_mutex_unlock(&h->mutex);
}

/* OH_NN: y = x + x on a driver that ends in its second run. */
static void test_service_died(void **state)
{
    const char *const device_text = "fake:vendor=acme,die=RunIn:2";
    pid_t process = remote_start(socket_path, device_text);
    nnrt_remote *r = connected("name=mortal,");
    heard h;
    const int32_t two[1] = {2};
    const size_t *ids = NULL;
    size_t device = 0;
    uint32_t count = 0, in[2] = {0, 0}, out[1] = {1}, activation[1] = {2}, inputs[1] = {0};
    int8_t none = OH_NN_FUSED_NONE;
    OH_NNModel *m = OH_NNModel_Construct();
    OH_NNCompilation *c;
    OH_NNExecutor *e;
    NN_TensorDesc *td[3];
    NN_Tensor *x, *y;
    OH_NN_UInt32Array a, b, params, io;
    (void)state;
    memset(&h, 0, sizeof(h));
    pthread_mutex_init(&h.mutex, NULL);
    pthread_cond_init(&h.changed, NULL);
    assert_int_not_equal(process, 0);
    assert_int_equal(OH_NNDevice_GetAllDevicesID(&ids, &count), OH_NN_SUCCESS);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = NULL;
        assert_int_equal(OH_NNDevice_GetName(ids[i], &name), OH_NN_SUCCESS);
        if (strncmp(name, "mortal", 6) == 0)
            device = ids[i];
    }
    for (uint32_t i = 0; i < 3; i++) {
        td[i] = OH_NNTensorDesc_Create();
        assert_int_equal(OH_NNTensorDesc_SetDataType(td[i], i < 2 ? OH_NN_FLOAT32 : OH_NN_INT8), OH_NN_SUCCESS);
        assert_int_equal(OH_NNTensorDesc_SetShape(td[i], two, i < 2 ? 1 : 0), i < 2 ? OH_NN_SUCCESS : OH_NN_INVALID_PARAMETER);
        if (i == 2) {
            const int32_t one[1] = {1};
            assert_int_equal(OH_NNTensorDesc_SetShape(td[i], one, 1), OH_NN_SUCCESS);
        }
        assert_int_equal(OH_NNModel_AddTensorToModel(m, td[i]), OH_NN_SUCCESS);
        assert_int_equal(OH_NNModel_SetTensorType(m, i, i < 2 ? OH_NN_TENSOR : OH_NN_ADD_ACTIVATIONTYPE), OH_NN_SUCCESS);
    }
    assert_int_equal(OH_NNModel_SetTensorData(m, 2, &none, 1), OH_NN_SUCCESS);
    a.data = in, a.size = 2;
    b.data = out, b.size = 1;
    params.data = activation, params.size = 1;
    io.data = inputs, io.size = 1;
    assert_int_equal(OH_NNModel_AddOperation(m, OH_NN_OPS_ADD, &params, &a, &b), OH_NN_SUCCESS);
    assert_int_equal(OH_NNModel_SpecifyInputsAndOutputs(m, &io, &b), OH_NN_SUCCESS);
    assert_int_equal(OH_NNModel_Finish(m), OH_NN_SUCCESS);
    c = OH_NNCompilation_Construct(m);
    assert_int_equal(OH_NNCompilation_SetDevice(c, device), OH_NN_SUCCESS);
    assert_int_equal(OH_NNCompilation_Build(c), OH_NN_SUCCESS);
    e = OH_NNExecutor_Construct(c);
    assert_non_null(e);
    x = OH_NNTensor_Create(device, td[0]);
    y = OH_NNTensor_Create(device, td[1]);
    ((float *)OH_NNTensor_GetDataBuffer(x))[0] = 1.5f;
    ((float *)OH_NNTensor_GetDataBuffer(x))[1] = -4;
    assert_int_equal(OH_NNExecutor_SetOnRunDone(e, hear_run), OH_NN_SUCCESS);
    assert_int_equal(OH_NNExecutor_SetOnServiceDied(e, hear_death), OH_NN_SUCCESS);
    assert_int_equal(OH_NNExecutor_RunAsync(e, &x, 1, &y, 1, 60000, &h), OH_NN_SUCCESS);
    wait_for(&h, 1);
    assert_true(h.runs == 1 && h.code == OH_NN_SUCCESS && h.deaths == 0);
    assert_true(((const float *)OH_NNTensor_GetDataBuffer(y))[0] == 3 && ((const float *)OH_NNTensor_GetDataBuffer(y))[1] == -8);
    assert_null(r->staging); /* tensors of OH_NN are in the device's buffers */
    assert_int_equal(OH_NNExecutor_RunAsync(e, &x, 1, &y, 1, 60000, &h), OH_NN_SUCCESS);
    wait_for(&h, 2);
    assert_true(h.runs == 1 && h.deaths == 1);
    assert_int_equal(waitpid(process, NULL, 0), process);
    assert_int_equal(OH_NNExecutor_RunSync(e, &x, 1, &y, 1), OH_NN_UNAVAILABLE_DEVICE);
    process = remote_start(socket_path, device_text);
    assert_int_equal(OH_NNExecutor_RunSync(e, &x, 1, &y, 1), OH_NN_SUCCESS);
    assert_int_equal(OH_NNTensor_Destroy(&x), OH_NN_SUCCESS);
    assert_int_equal(OH_NNTensor_Destroy(&y), OH_NN_SUCCESS);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(OH_NNTensorDesc_Destroy(&td[i]), OH_NN_SUCCESS);
    OH_NNExecutor_Destroy(&e);
    OH_NNCompilation_Destroy(&c);
    OH_NNModel_Destroy(&m);
    disconnected(r);
    (void)kill(process, SIGKILL);
    (void)waitpid(process, NULL, 0);
    pthread_mutex_destroy(&h.mutex);
    pthread_cond_destroy(&h.changed);
}

/* Some operators' vectors, and all of them with `make test DEVICE=remote ONLY=vectors`. */
static void test_vectors(void **state)
{
    static const char *const files[] = {"-", "remote", "add_fusion", "conv2d_fusion", "gather", "non_zero", "quant", "softmax", "split", "topk_fusion"};
    char paths[10][64], *arguments[10];
    int shown, hidden, status;
    (void)state;
    for (uint32_t i = 0; i < 10; i++) {
        snprintf(paths[i], sizeof(paths[i]), i < 2 ? "%s" : "tests/ops/vectors/%s.vec", files[i]);
        arguments[i] = paths[i];
    }
    fflush(stdout);
    shown = dup(1);
    hidden = open("/dev/null", O_WRONLY);
    assert_true(shown >= 0 && hidden >= 0 && dup2(hidden, 1) == 1); /* its counts are not this program's */
    status = vectors_main(10, arguments);
    fflush(stdout);
    assert_int_equal(dup2(shown, 1), 1);
    close(shown);
    close(hidden);
    assert_int_equal(status, 0);
    assert_int_equal(nnrt_device_unregister("remote"), NNRT_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kills, load_digits, drop_digits),
        cmocka_unit_test_setup_teardown(test_die, load_digits, drop_digits),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_service_died),
        cmocka_unit_test_setup_teardown(test_digits, load_digits, drop_digits),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_absent_slots),
        cmocka_unit_test_setup_teardown(test_hang, load_digits, drop_digits),
        cmocka_unit_test_setup_teardown(test_buffers, load_digits, drop_digits),
        cmocka_unit_test_setup_teardown(test_descriptors, load_digits, drop_digits),
        cmocka_unit_test_setup_teardown(test_copies, load_digits, drop_digits),
        cmocka_unit_test_setup_teardown(test_exact, load_digits, drop_digits),
        cmocka_unit_test_setup_teardown(test_cache, load_digits, drop_digits),
        cmocka_unit_test_setup_teardown(test_cycles, load_digits, drop_digits),
        cmocka_unit_test_setup_teardown(test_clients, load_digits, drop_digits),
        cmocka_unit_test_setup_teardown(test_limits, load_digits, drop_digits),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test_setup_teardown(test_auto_falls_back, load_digits, drop_digits),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
