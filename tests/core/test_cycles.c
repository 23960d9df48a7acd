/* Creating and destroying every kind of object many times leaves the process unchanged: memory blocks and their bytes
   (counted by the address sanitizer), descriptors, threads, mappings of shared memory, files. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define NNRT_THREADS 1
#include "compat/nnrt_nnadapter.h"
#include "compat/nnrt_ohnn.h"
#include "devices/nnrt_fake.h"
#include "devices/nnrt_remote.h"

#include "asan.h"
#include "small.h"

/* The thread sanitizer, which counts no memory, needs only a few rounds. */
#if defined(__SANITIZE_THREAD__)
#define ROUNDS 6
#define MANY 3000
#define ALONE 2 /* threads of a process after its threads have ended: the sanitizer has one */
#else
#define ROUNDS 50
#define MANY 100000
#define ALONE 1
#endif
#define EARLY 2 /* rounds before the process is in a steady state */

/* ---- resources of the process ---- */

#ifdef WITH_ASAN
size_t __sanitizer_get_current_allocated_bytes(void);
int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
                                              void (*freed)(const volatile void *));

static int64_t live; /* live blocks of all threads */

static void allocated(const volatile void *block, size_t bytes)
{
    (void)bytes;
    if (block != NULL)
        (void)__atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
}

static void freed(const volatile void *block)
{
    if (block != NULL)
        (void)__atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
}

static void count_blocks(void)
{
    assert_true(__sanitizer_install_malloc_and_free_hooks(allocated, freed) > 0);
}

static int64_t live_blocks(void)
{
    return __atomic_load_n(&live, __ATOMIC_RELAXED);
}

static int64_t live_bytes(void)
{
    return (int64_t)__sanitizer_get_current_allocated_bytes();
}
#else
static void count_blocks(void)
{
}

static int64_t live_blocks(void)
{
    return 0;
}

static int64_t live_bytes(void)
{
    return 0;
}
#endif

/* Number of entries of a folder. */
static int64_t entries(const char *folder)
{
    DIR *d = opendir(folder);
    int64_t count = -2; /* "." and ".." */
    assert_non_null(d);
    while (readdir(d) != NULL)
        count++;
    (void)closedir(d);
    return count;
}

static int64_t mappings(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    int64_t count = 0;
    assert_non_null(f);
    while (fgets(line, sizeof(line), f) != NULL)
        count += strstr(line, "memfd:") != NULL;
    (void)fclose(f);
    return count;
}

static char folder[] = "/tmp/nnrt-cycles-XXXXXX";

enum { BLOCKS, BYTES, DESCRIPTORS, THREADS, MAPPINGS, FILES, DEVICES, KINDS };
static const char *const kinds[KINDS] = {"blocks of memory", "bytes", "descriptors", "threads",
                                         "shared mappings",  "files", "devices"};

static void measure(int64_t *now)
{
    now[BLOCKS] = live_blocks();
    now[BYTES] = live_bytes();
    now[DESCRIPTORS] = entries("/proc/self/fd");
    now[THREADS] = entries("/proc/self/task");
    now[MAPPINGS] = mappings();
    now[FILES] = entries(folder);
    now[DEVICES] = nnrt_device_count();
}

/* Measures when our threads have ended, or after 5 seconds: the system removes a joined thread with a delay. */
static void measure_alone(int64_t *now)
{
    for (uint32_t i = 0; i < 500; i++) {
        measure(now);
        if (now[THREADS] == ALONE)
            return;
        (void)poll(NULL, 0, 10);
    }
}

/* ---- objects of a round ---- */

static char path_room[4][128];

static const char *path_of(uint32_t room, const char *name)
{
    (void)snprintf(path_room[room], sizeof(path_room[room]), "%s/%s", folder, name);
    return path_room[room];
}

/* Removes a file, which must exist. */
static void removed(const char *name)
{
    assert_int_equal(unlink(path_of(3, name)), 0);
}

/* Removes a folder with `count` files, none of them temporary. */
static void removed_folder(const char *name, int64_t count)
{
    char path[512];
    const struct dirent *e;
    const char *at = path_of(2, name);
    DIR *d;
    assert_int_equal(entries(at), count);
    d = opendir(at);
    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        assert_null(strstr(e->d_name, ".tmp"));
        (void)snprintf(path, sizeof(path), "%s/%s", at, e->d_name);
        if (e->d_name[0] != '.')
            assert_int_equal(unlink(path), 0);
    }
    (void)closedir(d);
    assert_int_equal(rmdir(at), 0);
}

static void good(NNRT_ReturnCode code, const nnrt_error *e)
{
    if (code != NNRT_SUCCESS)
        fail_msg("%s", e->message);
}

static NNRT_ReturnCode run_small(nnrt_session *s)
{
    float x[6], y[6] = {0};
    nnrt_io in = nnrt_io_make(x, sizeof(x)), out = nnrt_io_make(y, sizeof(y));
    NNRT_ReturnCode code;
    memcpy(x, xs, sizeof(x));
    code = nnrt_run(s, &in, 1, &out, 1);
    if (code == NNRT_SUCCESS)
        assert_memory_equal(y, ys, sizeof(ys));
    return code;
}

/* A model that was built, optimized, saved and loaded, from memory and from a file. */
static NNRT_Model *model_of_round(void **room)
{
    NNRT_Model *m = make_model(2, addend), *loaded = NULL;
    nnrt_error e;
    size_t bytes = 0;
    memset(&e, 0, sizeof(e));
    good(nnrt_model_optimize(&m, NULL, &e), &e);
    good(nnrt_model_save(m, path_of(0, "small.nnrt"), NULL, &e), &e);
    good(nnrt_model_save_memory(m, NULL, NULL, 0, &bytes, &e), &e);
    assert_int_equal(posix_memalign(room, NNRT_ALIGNMENT, bytes), 0);
    good(nnrt_model_save_memory(m, NULL, *room, bytes, &bytes, &e), &e);
    nnrt_model_destroy(m);
    good(nnrt_model_load(&loaded, path_of(0, "small.nnrt"), NULL, &e), &e);
    nnrt_model_destroy(loaded);
    good(nnrt_model_load_memory(&loaded, *room, bytes, NULL, &e), &e);
    removed("small.nnrt");
    assert_int_equal(nnrt_model_load(&m, path_of(0, "small.nnrt"), NULL, &e), NNRT_INVALID_PATH);
    return loaded;
}

/* Two sessions with a cache in a directory, or in memory: the second one prepares nothing. */
static void caches_of_round(const NNRT_Model *m, bool directory, const nnrt_allocator *allocator)
{
    nnrt_cache_desc how;
    nnrt_session_desc desc;
    void *kept = NULL;
    memset(&how, 0, sizeof(how));
    memset(&desc, 0, sizeof(desc));
    how.allocator = desc.allocator = allocator;
    desc.device = "auto:npu0,far";
    if (directory)
        how.directory = path_of(1, "cache");
    if (directory)
        assert_int_equal(mkdir(how.directory, 0700), 0);
    for (uint32_t i = 0; i < 2; i++) {
        nnrt_session *s = NULL;
        nnrt_error e;
        memset(&e, 0, sizeof(e));
        good(nnrt_cache_create(&desc.cache, &how, &e), &e);
        good(nnrt_session_create(&s, m, &desc, &e), &e);
        assert_int_equal(run_small(s), NNRT_SUCCESS);
        assert_int_equal(nnrt_cache_get_state(desc.cache)->restored, i == 0 ? 0 : 2);
        assert_int_equal(nnrt_cache_get_state(desc.cache)->prepared, i == 0 ? 2 : 0);
        if (i == 0 && !directory) {
            good(nnrt_cache_save_memory(desc.cache, NULL, NULL, 0, &how.bytes, &e), &e);
            assert_int_equal(posix_memalign(&kept, NNRT_ALIGNMENT, how.bytes), 0);
            good(nnrt_cache_save_memory(desc.cache, NULL, kept, how.bytes, &how.bytes, &e), &e);
            how.data = kept;
        }
        nnrt_cache_destroy(desc.cache);
        nnrt_session_destroy(s);
    }
    if (directory)
        removed_folder("cache", 1);
    free(kept);
}

/* Inputs and outputs in blocks of the device and in blocks with a descriptor only; a failing run. */
static void buffers_of_round(const NNRT_Model *m)
{
    nnrt_session_desc desc;
    memset(&desc, 0, sizeof(desc));
    for (uint32_t i = 0; i < 3; i++) {
        static const char *const devices[3] = {"far", "auto:npu0,far", "bad"};
        NNRT_SharedBuffer blocks[2];
        nnrt_session *s = NULL;
        nnrt_io io[2];
        void *own;
        nnrt_error e;
        memset(&e, 0, sizeof(e));
        desc.device = devices[i];
        good(nnrt_session_create(&s, m, &desc, &e), &e);
        if (i == 2) {
            assert_int_equal(run_small(s), NNRT_DEVICE_ERROR);
            nnrt_session_destroy(s);
            continue;
        }
        for (uint32_t k = 0; k < 2; k++) {
            assert_int_equal(nnrt_session_allocate(s, k == 1, 0, &io[k]), NNRT_SUCCESS);
            assert_int_equal(nnrt_buffer_create(sizeof(ys), &blocks[k]), NNRT_SUCCESS);
        }
        memcpy(io[0].data, xs, sizeof(xs));
        assert_int_equal(nnrt_run(s, &io[0], 1, &io[1], 1), NNRT_SUCCESS);
        assert_memory_equal(io[1].data, ys, sizeof(ys));
        assert_int_equal(nnrt_buffer_map(&blocks[0], true, &own, &e), NNRT_SUCCESS);
        memcpy(own, xs, sizeof(xs));
        nnrt_buffer_unmap(&blocks[0], own);
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(nnrt_session_map(s, k == 1, 0, &blocks[k], &io[k]), NNRT_SUCCESS);
        assert_int_equal(nnrt_run(s, &io[0], 1, &io[1], 1), NNRT_SUCCESS);
        assert_memory_equal(io[1].data, ys, sizeof(ys));
        nnrt_session_destroy(s);
        nnrt_buffer_destroy(&blocks[0]);
        nnrt_buffer_destroy(&blocks[1]);
    }
}

/* ---- a queue ---- */

typedef struct door {
    pthread_mutex_t mutex;
    pthread_cond_t change;
    bool begun, open;
    uint32_t done[4];
    NNRT_ReturnCode code[4];
} door;

static door gate;

static NNRT_ReturnCode wait_at(void *context, const char **message)
{
    door *d = (door *)context;
    (void)message;
    pthread_mutex_lock(&d->mutex);
    d->begun = true;
    pthread_cond_broadcast(&d->change);
    while (!d->open)
        pthread_cond_wait(&d->change, &d->mutex);
    pthread_mutex_unlock(&d->mutex);
    return NNRT_SUCCESS;
}

static void hear(void *user, NNRT_ReturnCode code, const char *message)
{
    const uint32_t i = (uint32_t)(uintptr_t)user;
    (void)message;
    pthread_mutex_lock(&gate.mutex);
    gate.done[i]++;
    gate.code[i] = code;
    pthread_mutex_unlock(&gate.mutex);
}

/* While a job occupies the only thread, three runs wait: one is canceled, the others run. */
static void queue_of_round(const NNRT_Model *m)
{
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    nnrt_queue *q = NULL;
    float y[3][6];
    nnrt_io in = nnrt_io_make((void *)(uintptr_t)xs, sizeof(xs)), out[3];
    nnrt_queued how;
    uint64_t ticket[3];
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&how, 0, sizeof(how));
    memset(&gate, 0, sizeof(gate));
    memset(&e, 0, sizeof(e));
    pthread_mutex_init(&gate.mutex, NULL);
    pthread_cond_init(&gate.change, NULL);
    desc.device = "auto:npu0,far";
    good(nnrt_session_create(&s, m, &desc, &e), &e);
    good(nnrt_queue_create(&q, NULL, &e), &e);
    how.done = hear;
    how.user = (void *)(uintptr_t)3;
    assert_int_equal(nnrt_queue_add(q, wait_at, &gate, NULL, &how, NULL), NNRT_SUCCESS);
    pthread_mutex_lock(&gate.mutex);
    while (!gate.begun)
        pthread_cond_wait(&gate.change, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
    for (uint32_t i = 0; i < 3; i++) {
        out[i] = nnrt_io_make(y[i], sizeof(y[i]));
        how.user = (void *)(uintptr_t)i;
        how.timeLimit = i == 1 ? 60000 : 0;
        assert_int_equal(nnrt_run_async(q, s, &in, 1, &out[i], 1, &how, &ticket[i]), NNRT_SUCCESS);
    }
    assert_int_equal(nnrt_queue_cancel(q, ticket[0]), NNRT_SUCCESS);
    assert_int_equal(nnrt_queue_cancel(q, ticket[0]), NNRT_OPERATION_FORBIDDEN);
    pthread_mutex_lock(&gate.mutex);
    gate.open = true;
    pthread_cond_broadcast(&gate.change);
    pthread_mutex_unlock(&gate.mutex);
    nnrt_queue_wait(q);
    nnrt_queue_destroy(q);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(gate.done[i], 1);
        assert_int_equal(gate.code[i], i == 0 ? NNRT_CANCELLED : NNRT_SUCCESS);
        if (i == 1 || i == 2)
            assert_memory_equal(y[i], ys, sizeof(ys));
    }
    nnrt_session_destroy(s);
    pthread_cond_destroy(&gate.change);
    pthread_mutex_destroy(&gate.mutex);
}

/* ---- OH_NN: y = x + x, compiled for a device with a cache, twice ---- */

#define IS(call) assert_int_equal(call, OH_NN_SUCCESS)

static void ran(void *user, OH_NN_ReturnCode code, void **outputs, int32_t count)
{
    door *d = (door *)user;
    (void)outputs;
    (void)count;
    pthread_mutex_lock(&d->mutex);
    d->code[0] = (NNRT_ReturnCode)code;
    d->open = true;
    pthread_cond_broadcast(&d->change);
    pthread_mutex_unlock(&d->mutex);
}

static void ohnn_of_round(void)
{
    const int32_t two[1] = {2}, one[1] = {1};
    const size_t *ids = NULL;
    size_t device = 0;
    uint32_t count = 0, in[2] = {0, 0}, results[1] = {1}, activation[1] = {2};
    const OH_NN_UInt32Array inputs = {in, 1}, both = {in, 2}, outputs = {results, 1}, params = {activation, 1};
    const char *at = path_of(1, "ohnn");
    int8_t none = OH_NN_FUSED_NONE;
    OH_NNModel *m = OH_NNModel_Construct();
    NN_TensorDesc *td[3];
    assert_int_equal(mkdir(at, 0700), 0);
    IS(OH_NNDevice_GetAllDevicesID(&ids, &count));
    for (uint32_t i = 0; i < count; i++) {
        const char *name = NULL;
        IS(OH_NNDevice_GetName(ids[i], &name));
        if (strncmp(name, "npu0", 4) == 0)
            device = ids[i];
    }
    for (uint32_t i = 0; i < 3; i++) {
        td[i] = OH_NNTensorDesc_Create();
        IS(OH_NNTensorDesc_SetDataType(td[i], i < 2 ? OH_NN_FLOAT32 : OH_NN_INT8));
        IS(OH_NNTensorDesc_SetShape(td[i], i < 2 ? two : one, 1));
        IS(OH_NNModel_AddTensorToModel(m, td[i]));
        IS(OH_NNModel_SetTensorType(m, i, i < 2 ? OH_NN_TENSOR : OH_NN_ADD_ACTIVATIONTYPE));
    }
    IS(OH_NNModel_SetTensorData(m, 2, &none, 1));
    IS(OH_NNModel_AddOperation(m, OH_NN_OPS_ADD, &params, &both, &outputs));
    IS(OH_NNModel_SpecifyInputsAndOutputs(m, &inputs, &outputs));
    IS(OH_NNModel_Finish(m));
    for (uint32_t i = 0; i < 2; i++) {
        OH_NNCompilation *c = OH_NNCompilation_Construct(m);
        OH_NNExecutor *e;
        NN_Tensor *x, *y;
        IS(OH_NNCompilation_SetDevice(c, device));
        IS(OH_NNCompilation_SetCache(c, at, 1));
        IS(OH_NNCompilation_Build(c));
        e = OH_NNExecutor_Construct(c);
        assert_non_null(e);
        x = OH_NNTensor_Create(device, td[0]);
        y = OH_NNTensor_Create(device, td[1]);
        ((float *)OH_NNTensor_GetDataBuffer(x))[0] = 1.5f;
        ((float *)OH_NNTensor_GetDataBuffer(x))[1] = -4;
        memset(&gate, 0, sizeof(gate));
        pthread_mutex_init(&gate.mutex, NULL);
        pthread_cond_init(&gate.change, NULL);
        IS(OH_NNExecutor_SetOnRunDone(e, ran));
        IS(OH_NNExecutor_RunSync(e, &x, 1, &y, 1));
        IS(OH_NNExecutor_RunAsync(e, &x, 1, &y, 1, 60000, &gate));
        pthread_mutex_lock(&gate.mutex);
        while (!gate.open)
            pthread_cond_wait(&gate.change, &gate.mutex);
        pthread_mutex_unlock(&gate.mutex);
        IS(gate.code[0]);
        assert_true(((const float *)OH_NNTensor_GetDataBuffer(y))[0] == 3);
        assert_true(((const float *)OH_NNTensor_GetDataBuffer(y))[1] == -8);
        IS(OH_NNTensor_Destroy(&x));
        IS(OH_NNTensor_Destroy(&y));
        OH_NNExecutor_Destroy(&e);
        OH_NNCompilation_Destroy(&c);
        pthread_cond_destroy(&gate.change);
        pthread_mutex_destroy(&gate.mutex);
    }
    for (uint32_t i = 0; i < 3; i++)
        IS(OH_NNTensorDesc_Destroy(&td[i]));
    OH_NNModel_Destroy(&m);
    removed_folder("ohnn", entries(path_of(2, "ohnn")));
}

/* ---- NNAdapter: y = relu(x + addend) - x over two devices, with a cache, twice ---- */

#undef IS
#define IS(call) assert_int_equal(call, NNADAPTER_NO_ERROR)

typedef struct values {
    float data[6];
} values;

static void *access_values(void *memory, NNAdapterOperandType *type, void *device)
{
    (void)device;
    assert_int_equal(type->dimensions.count, 2);
    return ((values *)memory)->data;
}

static NNAdapterOperand *nnadapter_operand(NNAdapterModel *m, int32_t precision, uint32_t rank, const int32_t *dims,
                                           const void *value, uint32_t bytes)
{
    NNAdapterOperandType type;
    NNAdapterOperand *o = NULL;
    memset(&type, 0, sizeof(type));
    type.precision = (NNAdapterOperandPrecisionCode)precision;
    type.dimensions.count = rank;
    for (uint32_t i = 0; i < rank; i++)
        type.dimensions.data[i] = dims[i];
    IS(NNAdapterModel_addOperand(m, &type, &o));
    if (value != NULL)
        IS(NNAdapterModel_setOperandValue(o, (void *)(uintptr_t)value, bytes, true));
    return o;
}

static void nnadapter_of_round(void)
{
    static const int32_t rows[2] = {2, 3}, three[1] = {3}, one[1] = {1};
    static const int32_t none = NNADAPTER_FUSED_NONE;
    static const char *const names[2] = {"npu0", "far"};
    NNAdapterDevice *devices[2];
    NNAdapterContext *context = NULL;
    NNAdapterModel *m = NULL;
    NNAdapterOperand *x, *in[3], *out;
    NNAdapterOperation *operation = NULL;
    const char *at = path_of(1, "nnadapter");
    assert_int_equal(mkdir(at, 0700), 0);
    for (uint32_t i = 0; i < 2; i++)
        IS(NNAdapterDevice_acquire(names[i], &devices[i]));
    IS(NNAdapterContext_create(devices, 2, "BUILTIN_DEVICE_NUM_THREADS=1;", NULL, &context));
    IS(NNAdapterModel_create(&m));
    x = in[0] = nnadapter_operand(m, NNADAPTER_FLOAT32, 2, rows, NULL, 0);
    in[1] = nnadapter_operand(m, NNADAPTER_FLOAT32, 1, three, addend, sizeof(addend));
    in[2] = nnadapter_operand(m, NNADAPTER_INT32, 1, one, &none, sizeof(none));
    out = nnadapter_operand(m, NNADAPTER_FLOAT32, 2, rows, NULL, 0);
    IS(NNAdapterModel_addOperation(m, NNADAPTER_ADD, 3, in, 1, &out, &operation));
    in[0] = out;
    out = nnadapter_operand(m, NNADAPTER_FLOAT32, 2, rows, NULL, 0);
    IS(NNAdapterModel_addOperation(m, NNADAPTER_RELU, 1, in, 1, &out, &operation));
    in[0] = out;
    in[1] = x;
    out = nnadapter_operand(m, NNADAPTER_FLOAT32, 2, rows, NULL, 0);
    IS(NNAdapterModel_addOperation(m, NNADAPTER_SUB, 3, in, 1, &out, &operation));
    IS(NNAdapterModel_identifyInputsAndOutputs(m, 1, &x, 1, &out));
    IS(NNAdapterModel_finish(m));
    for (uint32_t i = 0; i < 2; i++) {
        NNAdapterCompilation *c = NULL;
        NNAdapterExecution *e = NULL;
        values given, got;
        memcpy(given.data, xs, sizeof(xs));
        memset(&got, 0, sizeof(got));
        IS(NNAdapterCompilation_create(i == 0 ? m : NULL, "token", NULL, 0, at, context, &c));
        assert_string_equal(i == 0 ? "" : nnrt_nnadapter_compilation_error(c), "");
        IS(NNAdapterCompilation_finish(c));
        IS(NNAdapterExecution_create(c, &e));
        IS(NNAdapterExecution_setInput(e, 0, &given, access_values));
        IS(NNAdapterExecution_setOutput(e, 0, &got, access_values));
        IS(NNAdapterExecution_compute(e));
        assert_memory_equal(got.data, ys, sizeof(ys));
        NNAdapterExecution_destroy(e);
        NNAdapterCompilation_destroy(c);
    }
    NNAdapterModel_destroy(m);
    NNAdapterContext_destroy(context);
    for (uint32_t i = 0; i < 2; i++)
        NNAdapterDevice_release(devices[i]);
    removed_folder("nnadapter", 1);
}

/* ---- the rounds ---- */

static void *serve(void *arg)
{
    (void)nnrt_remote_serve_run((nnrt_remote_server *)arg, NULL);
    return NULL;
}

static void one_round(void)
{
    static const char *const texts[3] = {"fake:name=npu0,vendor=acme,not=SUB_FUSION,cache=yes",
                                         "fake:name=npu1,cache=yes", "fake:name=bad,fail=RunIn"};
    tracker t;
    const nnrt_allocator counting = allocator_of(&t);
    nnrt_remote_serve_desc desc;
    nnrt_remote_server *server = NULL;
    nnrt_remote *remote = NULL;
    pthread_t thread;
    NNRT_Model *m;
    void *room = NULL;
    char text[160];
    nnrt_error e;
    memset(&t, 0, sizeof(t));
    memset(&e, 0, sizeof(e));
    memset(&desc, 0, sizeof(desc));
    for (uint32_t i = 0; i < 3; i++)
        good(nnrt_fake_register(NULL, texts[i], &e), &e);
    desc.path = path_of(0, "s");
    desc.device = "npu1";
    (void)snprintf(text, sizeof(text), "remote:name=far,%s", desc.path);
    good(nnrt_remote_serve_open(&server, &desc, &e), &e);
    assert_int_equal(pthread_create(&thread, NULL, serve, server), 0);
    good(nnrt_remote_register(&remote, text, &e), &e);
    m = model_of_round(&room);
    caches_of_round(m, false, &counting);
    caches_of_round(m, true, &counting);
    assert_true(t.live == 0 && !t.wrong && t.calls > 0);
    buffers_of_round(m);
    queue_of_round(m);
    nnrt_model_destroy(m);
    free(room);
    ohnn_of_round();
    nnadapter_of_round();
    assert_int_equal(nnrt_device_unregister("far"), NNRT_SUCCESS);
    nnrt_remote_serve_stop(server);
    assert_int_equal(pthread_join(thread, NULL), 0);
    nnrt_remote_serve_close(server);
    assert_int_equal(nnrt_device_unregister("npu0"), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_unregister("npu1"), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_unregister("bad"), NNRT_SUCCESS);
}

static void *nothing(void *arg)
{
    return arg;
}

static void test_everything(void **state)
{
    int64_t early[KINDS], late[KINDS];
    pthread_t threads[8];
    (void)state;
    count_blocks();
    for (uint32_t i = 0; i < 8; i++) /* the system caches stacks of ended threads: fill this cache first */
        assert_int_equal(pthread_create(&threads[i], NULL, nothing, NULL), 0);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (uint32_t i = 0; i < EARLY; i++)
        one_round();
    measure_alone(early);
    assert_int_equal(early[FILES], 0);
    for (uint32_t i = EARLY; i < ROUNDS; i++)
        one_round();
    measure_alone(late);
    for (uint32_t k = 0; k < KINDS; k++)
        if (late[k] != early[k])
            fail_msg("%s: %lld after %d rounds, %lld after %d", kinds[k], (long long)early[k], EARLY,
                     (long long)late[k], ROUNDS);
}

/* ---- 100,000 times ---- */

#define FIRST 1000

/* Cheap operations: a session is created, runs, and is destroyed; creating another one fails; invalid runs fail. Each
   tenth round builds the model again, and an invalid one. */
static void cheap_round(uint32_t i, NNRT_Model **m, const nnrt_allocator *counting)
{
    const nnrt_io in = nnrt_io_make((void *)(uintptr_t)xs, sizeof(xs)), half = nnrt_io_make((void *)(uintptr_t)xs, 12);
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    float y[6] = {0};
    nnrt_io out = nnrt_io_make(y, sizeof(y));
    nnrt_error e;
    if (i % 10 == 0) {
        const int32_t dims[1] = {2}, other[1] = {3};
        nnrt_builder *b = NULL;
        uint32_t two[2];
        nnrt_model_destroy(*m);
        *m = make_model(2, addend);
        assert_int_equal(nnrt_builder_create(&b, "wrong", counting), NNRT_SUCCESS);
        two[0] = nnrt_builder_input(b, "x", F32, 1, dims);
        two[1] = nnrt_builder_input(b, "y", F32, 1, other);
        nnrt_builder_output(b, nnrt_builder_op(b, "sum", NNRT_NODE_TYPE_ADD_FUSION, NULL, two, 2));
        assert_int_equal(nnrt_builder_error(b)->code, NNRT_INVALID_SHAPE);
        nnrt_builder_destroy(b);
    }
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.allocator = counting;
    desc.device = "nobody";
    assert_int_equal(nnrt_session_create(&s, *m, &desc, &e), NNRT_INVALID_PARAMETER);
    assert_null(s);
    desc.device = "reference";
    memset(&e, 0, sizeof(e));
    good(nnrt_session_create(&s, *m, &desc, &e), &e);
    assert_int_equal(nnrt_run(s, &half, 1, &out, 1), NNRT_INVALID_BUFFER_SIZE);
    assert_int_equal(nnrt_run(s, &in, 1, &out, 0), NNRT_INVALID_OUTPUT);
    assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
    assert_memory_equal(y, ys, sizeof(ys));
    nnrt_session_destroy(s);
}

static void test_many(void **state)
{
    int64_t early[KINDS], late[KINDS];
    NNRT_Model *m = NULL;
    tracker t;
    const nnrt_allocator counting = allocator_of(&t);
    (void)state;
    memset(&t, 0, sizeof(t));
    for (uint32_t i = 0; i < MANY; i++) {
        if (i == FIRST)
            measure_alone(early);
        cheap_round(i, &m, &counting);
        assert_true(t.live == 0 && !t.wrong);
    }
    measure_alone(late);
    for (uint32_t k = 0; k < KINDS; k++)
        if (late[k] != early[k])
            fail_msg("%s: %lld after %d rounds, %lld after %d", kinds[k], (long long)early[k], FIRST,
                     (long long)late[k], MANY);
    nnrt_model_destroy(m);
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_everything), cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
