/* Model caches: only a valid cache of the same model and device is used: damaged, foreign and outdated caches are
   detected and replaced, with bit-identical results. Expected values are computed by hand: y = relu(x + [1,2,3]) - x. */
#define _XOPEN_SOURCE 700 /* posix_memalign, mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fakes.h"

#include "formats/nnrt_onnx.h"
#include "nnrt.h"

#include "small.h"

#define BUSY "fake:name=npu,cache=yes"

static const float other_addend[3] = {1, 2, 4};

static void run(nnrt_session *s)
{
    float y[6];
    nnrt_io in = nnrt_io_make((void *)(uintptr_t)xs, sizeof(xs)), out = nnrt_io_make(y, sizeof(y));
    memset(y, 0, sizeof(y));
    assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
    assert_memory_equal(y, ys, sizeof(y));
}

static nnrt_cache *cache_of(const char *directory, const char *token, const void *data, size_t bytes)
{
    nnrt_cache_desc desc;
    nnrt_cache *c = NULL;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.directory = directory;
    desc.token = token;
    desc.data = data;
    desc.bytes = bytes;
    if (nnrt_cache_create(&c, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    return c;
}

/* Creates and runs a session of m on a device with a cache. Returns the state of the cache. */
static nnrt_cache_state through(nnrt_cache *c, const NNRT_Model *m, const char *device)
{
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    desc.cache = c;
    if (nnrt_session_create(&s, m, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    run(s);
    nnrt_session_destroy(s);
    return *nnrt_cache_get_state(c);
}

/* The saved content of c; the caller frees it. */
static uint8_t *saved(const nnrt_cache *c, size_t *bytes)
{
    uint8_t *data;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_cache_save_memory(c, NULL, NULL, 0, bytes, &e), NNRT_SUCCESS);
    data = (uint8_t *)malloc(*bytes);
    assert_non_null(data);
    assert_int_equal(nnrt_cache_save_memory(c, NULL, data, *bytes - 1, bytes, &e), NNRT_INSUFFICIENT_BUFFER);
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_cache_save_memory(c, NULL, data, *bytes, bytes, &e), NNRT_SUCCESS);
    return data;
}

static uint32_t compiled(const nnrt_fake *f)
{
    return nnrt_fake_get_record(f).calls[NNRT_FAKE_PrepareModel];
}

static uint32_t restored(const nnrt_fake *f)
{
    return nnrt_fake_get_record(f).calls[NNRT_FAKE_PrepareModelFromModelCache];
}

/* ---- folders ---- */

static char *make_folder(char *path)
{
    strcpy(path, "build/cache-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

/* Removes a folder with its files; returns their number. */
static uint32_t end_folder(const char *path)
{
    char name[600];
    uint32_t count = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d))
        if (e->d_name[0] != '.') {
            snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
            assert_int_equal(remove(name), 0);
            count++;
        }
    closedir(d);
    assert_int_equal(rmdir(path), 0);
    return count;
}

/* ---- the use of a cache ---- */

static void test_memory(void **state)
{
    nnrt_fake *npu = registered(BUSY);
    NNRT_Model *m = make_model(2, addend);
    nnrt_cache *c = cache_of(NULL, NULL, NULL, 0), *again;
    nnrt_cache_state s;
    uint8_t *data, *other;
    size_t bytes, more;
    (void)state;
    s = through(c, m, "npu");
    assert_int_equal(s.restored, 0);
    assert_int_equal(s.prepared, 1);
    assert_int_equal(s.kept, 1);
    assert_int_equal(s.saved, NNRT_SUCCESS);
    assert_int_equal(s.fault.code, NNRT_SUCCESS);
    data = saved(c, &bytes);
    nnrt_cache_destroy(c);
    for (size_t skew = 0; skew < 2; skew++) { /* aligned by malloc, and misaligned */
        uint8_t *moved = (uint8_t *)malloc(bytes + 1);
        assert_non_null(moved);
        memcpy(moved + skew, data, bytes);
        again = cache_of(NULL, NULL, moved + skew, bytes);
        s = through(again, m, "npu");
        assert_int_equal(s.restored, 1);
        assert_int_equal(s.prepared, 0);
        assert_int_equal(s.kept, 1);
        assert_int_equal(compiled(npu), 1);
        assert_int_equal(restored(npu), skew + 1);
        other = saved(again, &more); /* a restored cache is saved with the same bytes */
        assert_int_equal(more, bytes);
        assert_memory_equal(other, data, bytes);
        free(other);
        nnrt_cache_destroy(again);
        free(moved);
    }
    free(data);
    nnrt_model_destroy(m);
    unregistered(npu);
}

static void test_directory(void **state)
{
    char folder[32], path[64];
    nnrt_fake *npu = registered(BUSY);
    NNRT_Model *m = make_model(2, addend), *n = make_model(2, other_addend);
    nnrt_cache *c;
    nnrt_cache_state s;
    struct stat st;
    (void)state;
    make_folder(folder);
    for (uint32_t k = 0; k < 3; k++) { /* the third session has the cache of the second */
        if (k < 2)
            c = cache_of(folder, "net", NULL, 0);
        s = through(c, m, "npu");
        assert_int_equal(s.restored, k > 0);
        assert_int_equal(s.prepared, k == 0);
        assert_int_equal(s.saved, NNRT_SUCCESS);
        assert_int_equal(compiled(npu), 1);
        if (k == 0)
            nnrt_cache_destroy(c);
    }
    snprintf(path, sizeof(path), "%s/net.nnrt", folder);
    assert_int_equal(stat(path, &st), 0);
    /* another model under the same token: detected, prepared, and now in the file */
    {
        nnrt_session_desc desc;
        nnrt_session *session = NULL;
        memset(&desc, 0, sizeof(desc));
        desc.device = "npu";
        desc.cache = c;
        assert_int_equal(nnrt_session_create(&session, n, &desc, NULL), NNRT_SUCCESS);
        nnrt_session_destroy(session);
    }
    s = *nnrt_cache_get_state(c);
    assert_int_equal(s.restored, 0);
    assert_int_equal(s.prepared, 1);
    assert_int_equal(s.fault.code, NNRT_INVALID_MODEL_CACHE);
    assert_non_null(strstr(s.fault.message, "another model"));
    s = through(c, m, "npu");
    assert_int_equal(s.prepared, 1);
    nnrt_cache_destroy(c);
    assert_int_equal(end_folder(folder), 1);
    /* without a token each model has a file */
    make_folder(folder);
    c = cache_of(folder, NULL, NULL, 0);
    assert_int_equal(through(c, m, "npu").prepared, 1);
    assert_int_equal(through(c, m, "npu").restored, 1);
    assert_int_equal(through(c, m, "auto:npu").prepared, 1);
    assert_int_equal(through(c, m, "auto:npu").restored, 1);
    nnrt_cache_destroy(c);
    assert_int_equal(end_folder(folder), 2);
    /* the folder does not exist: the session runs, and `saved` reports it */
    c = cache_of(folder, "net", NULL, 0);
    s = through(c, m, "npu");
    assert_int_equal(s.prepared, 1);
    assert_int_equal(s.saved, NNRT_INVALID_PATH);
    assert_int_equal(s.fault.code, NNRT_INVALID_PATH);
    assert_non_null(strstr(s.fault.message, strerror(ENOENT)));
    nnrt_cache_destroy(c);
    nnrt_model_destroy(m);
    nnrt_model_destroy(n);
    unregistered(npu);
}

/* A cache alone is enough for a session. */
static void test_bare(void **state)
{
    nnrt_fake *npu = registered(BUSY);
    NNRT_Model *m = make_model(2, addend), *bare = NULL;
    nnrt_cache *c = cache_of(NULL, NULL, NULL, 0);
    nnrt_load_desc load;
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    nnrt_error e;
    uint8_t *data;
    void *aligned = NULL;
    size_t bytes;
    (void)state;
    memset(&load, 0, sizeof(load));
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    (void)through(c, m, NULL); /* auto assigns the whole model to the fake device */
    data = saved(c, &bytes);
    nnrt_cache_destroy(c);
    nnrt_model_destroy(m);
    assert_int_equal(posix_memalign(&aligned, NNRT_ALIGNMENT, bytes), 0);
    memcpy(aligned, data, bytes);
    assert_int_equal(nnrt_model_load_memory(&bare, aligned, bytes, &load, &e), NNRT_INVALID_MODEL);
    assert_non_null(strstr(e.message, "it is a cache"));
    assert_null(bare);
    load.cache = true;
    memset(&e, 0, sizeof(e));
    if (nnrt_model_load_memory(&bare, aligned, bytes, &load, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_int_equal(bare->inputIndex.count, 1);
    assert_string_equal(bare->allTensors.data[bare->outputIndex.data[0]].name, "y");
    if (nnrt_session_create(&s, bare, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_string_equal(nnrt_session_device(s), "npu_nnrt_v1_0");
    run(s);
    nnrt_session_destroy(s);
    assert_int_equal(compiled(npu), 1);
    assert_int_equal(restored(npu), 1);
    desc.device = "reference";
    assert_int_equal(nnrt_session_create(&s, bare, &desc, &e), NNRT_INVALID_MODEL_CACHE);
    desc.device = NULL;
    desc.maxTrips = 5;
    assert_int_equal(nnrt_session_create(&s, bare, &desc, &e), NNRT_INVALID_MODEL_CACHE);
    desc.maxTrips = 0;
    unregistered(npu);
    assert_int_equal(nnrt_session_create(&s, bare, &desc, &e), NNRT_INVALID_MODEL_CACHE);
    nnrt_model_destroy(bare);
    free(aligned);
    free(data);
}

/* ---- invalid caches ---- */

/* A truncated cache, or one with a flipped bit, is invalid: the model is prepared, with bit-identical results. */
static void test_damage(void **state)
{
    nnrt_fake *npu = registered(BUSY);
    NNRT_Model *m = make_model(2, addend);
    nnrt_cache *c = cache_of(NULL, NULL, NULL, 0);
    uint8_t *data, *bad;
    size_t bytes;
    uint32_t before;
    (void)state;
    (void)through(c, m, "npu");
    data = saved(c, &bytes);
    nnrt_cache_destroy(c);
    before = restored(npu);
    for (size_t i = 0; i < 2 * bytes; i++) {
        nnrt_cache_state s;
        const bool cut = i >= bytes;
        const size_t length = cut ? i - bytes : bytes;
        assert_int_equal(posix_memalign((void **)&bad, NNRT_ALIGNMENT, length > 0 ? length : 1), 0);
        memcpy(bad, data, length);
        if (!cut)
            bad[i] = (uint8_t)(bad[i] ^ (1u << i % 8));
        c = cache_of(NULL, NULL, bad, length);
        s = through(c, m, "npu");
        assert_int_equal(s.restored, 0);
        assert_int_equal(s.prepared, 1);
        assert_int_not_equal(s.fault.code, NNRT_SUCCESS);
        nnrt_cache_destroy(c);
        free(bad);
    }
    assert_int_equal(restored(npu), before); /* the device has seen none of them */
    free(data);
    nnrt_model_destroy(m);
    unregistered(npu);
}


/* ---- models, options and devices of a cache ---- */

/* For each pair: a cache created with one desc is invalid for another desc. */
static void test_options(void **state)
{
    enum { OPTIONS = 11 };
    static const nnrt_dims two = {2, {2, 3}}, four = {2, {4, 3}}, open_rows = {2, {-1, 3}};
    static const nnrt_bound most = {"x", {2, {2, 3}}}, more = {"x", {2, {4, 3}}};
    static const NNRT_Extension told[] = {{"speed", "fast", 4}, {"speed", "slow", 4}, {"speed", "slower", 6}, {"other", "fast", 4}};
    nnrt_fake *npu = registered(BUSY);
    NNRT_Model *fixed = make_model(2, addend), *open = make_model(-1, addend), *other = make_model(2, other_addend);
    nnrt_session_desc descs[OPTIONS];
    const NNRT_Model *models[OPTIONS] = {fixed, other, fixed, open, open, open, open, fixed, fixed, fixed, fixed};
    uint8_t *data[OPTIONS];
    size_t bytes[OPTIONS];
    (void)state;
    memset(descs, 0, sizeof(descs));
    descs[2].maxTrips = 7;
    descs[3].inputDims = nnrt_dims_list_make(&two, 1);
    descs[4].inputDims = nnrt_dims_list_make(&four, 1);
    descs[5].inputDims = descs[6].inputDims = nnrt_dims_list_make(&open_rows, 1);
    descs[5].bounds = nnrt_bound_list_make(&most, 1);
    descs[6].bounds = nnrt_bound_list_make(&more, 1);
    for (uint32_t i = 0; i < 4; i++)
        descs[7 + i].extensions = NNRT_ExtensionList_make((NNRT_Extension *)(uintptr_t)&told[i], 1);
    for (uint32_t i = 0; i < OPTIONS; i++)
        for (uint32_t k = 0; k < OPTIONS + 1; k++) { /* first it creates its own cache */
            const uint32_t from = k - 1;
            nnrt_cache *c = k == 0 ? cache_of(NULL, NULL, NULL, 0) : NULL;
            nnrt_session *s = NULL;
            nnrt_error e;
            memset(&e, 0, sizeof(e));
            if (k > 0 && from > i)
                continue;
            if (k > 0)
                c = cache_of(NULL, NULL, data[from], bytes[from]);
            descs[i].device = "npu";
            descs[i].cache = c;
            if (nnrt_session_create(&s, models[i], &descs[i], &e) != NNRT_SUCCESS)
                fail_msg("%u: %s", (unsigned)i, e.message);
            nnrt_session_destroy(s);
            assert_int_equal(nnrt_cache_get_state(c)->restored, k > 0 && from == i);
            assert_int_equal(nnrt_cache_get_state(c)->fault.code,
                             k > 0 && from != i ? NNRT_INVALID_MODEL_CACHE : NNRT_SUCCESS);
            if (k == 0)
                data[i] = saved(c, &bytes[i]);
            nnrt_cache_destroy(c);
        }
    /* input shapes equal to the shapes of the model make no difference, nor do options of the run */
    {
        nnrt_cache *c = cache_of(NULL, NULL, data[0], bytes[0]);
        nnrt_session *s = NULL;
        nnrt_session_desc desc;
        memset(&desc, 0, sizeof(desc));
        desc.device = "npu";
        desc.cache = c;
        desc.inputDims = nnrt_dims_list_make(&two, 1);
        desc.threads = 3;
        desc.copyConstants = true;
        desc.maxTrips = NNRT_MAX_TRIPS;
        assert_int_equal(nnrt_session_create(&s, fixed, &desc, NULL), NNRT_SUCCESS);
        run(s);
        nnrt_session_destroy(s);
        assert_int_equal(nnrt_cache_get_state(c)->restored, 1);
        nnrt_cache_destroy(c);
    }
    for (uint32_t i = 0; i < OPTIONS; i++)
        free(data[i]);
    nnrt_model_destroy(fixed);
    nnrt_model_destroy(open);
    nnrt_model_destroy(other);
    unregistered(npu);
}

/* Devices of other names, vendors, versions or types. */
static void test_devices(void **state)
{
    static const char *const texts[] = {"fake:name=npv,cache=yes", "fake:name=npu,vendor=acme,cache=yes",
                                        "fake:name=npu,type=GPU,cache=yes"};
    NNRT_Model *m = make_model(2, addend);
    nnrt_fake *npu = registered(BUSY);
    nnrt_cache *c = cache_of(NULL, NULL, NULL, 0);
    uint8_t *data;
    size_t bytes;
    (void)state;
    (void)through(c, m, "npu");
    data = saved(c, &bytes);
    nnrt_cache_destroy(c);
    unregistered(npu);
    for (uint32_t i = 0; i < COUNT(texts); i++) {
        nnrt_fake *other = registered(texts[i]);
        c = cache_of(NULL, NULL, data, bytes);
        assert_int_equal(through(c, m, nnrt_fake_name(other)).restored, 0);
        assert_int_equal(restored(other), 0);
        nnrt_cache_destroy(c);
        unregistered(other);
    }
    free(data);
    nnrt_model_destroy(m);
}

/* A faulty cache of a device only costs a preparation. */
static void test_faults(void **state)
{
    static const struct {
        const char *text;
        uint32_t kept;
        NNRT_ReturnCode fault; /* of the second session */
    } faults[] = {
        {"fake:name=npu,cache=garbage", 1, NNRT_INVALID_MODEL_CACHE},
        {"fake:name=npu,cache=count", 0, NNRT_SUCCESS},
        {"fake:name=npu,cache=refuse", 1, NNRT_INVALID_MODEL_CACHE},
        {"fake:name=npu,cache=yes,garbage=ExportModelCache", 0, NNRT_SUCCESS},
        {"fake:name=npu,cache=yes,garbage=PrepareModelFromModelCache", 1, NNRT_DEVICE_ERROR},
        {"fake:name=npu,cache=yes,fail=ExportModelCache", 0, NNRT_SUCCESS},
        {"fake:name=npu,cache=yes,fail=PrepareModelFromModelCache,code=TIME_OUT", 1, NNRT_TIME_OUT},
        {"fake:name=npu,cache=yes,fail=IsModelCacheSupported", 0, NNRT_SUCCESS},
        {"fake:name=npu,cache=yes,without=ExportModelCache", 0, NNRT_SUCCESS},
        {"fake:name=npu,cache=yes,without=PrepareModelFromModelCache", 0, NNRT_SUCCESS},
        {"fake:name=npu,cache=yes,without=IsModelCacheSupported", 0, NNRT_SUCCESS},
        {"fake:name=npu", 0, NNRT_SUCCESS},
    };
    NNRT_Model *m = make_model(2, addend);
    (void)state;
    for (uint32_t i = 0; i < COUNT(faults); i++) {
        nnrt_fake *npu = registered(faults[i].text);
        nnrt_cache *c = cache_of(NULL, NULL, NULL, 0), *again;
        nnrt_cache_state s = through(c, m, "npu");
        uint8_t *data = NULL;
        size_t bytes = 0;
        assert_int_equal(s.kept, faults[i].kept);
        assert_int_equal(s.restored, 0);
        if (s.kept > 0)
            data = saved(c, &bytes);
        else
            assert_int_equal(nnrt_cache_save_memory(c, NULL, NULL, 0, &bytes, NULL), NNRT_OPERATION_FORBIDDEN);
        again = cache_of(NULL, NULL, data, bytes);
        s = through(again, m, "npu");
        assert_int_equal(s.restored, 0);
        assert_int_equal(s.fault.code, faults[i].fault);
        assert_int_equal(compiled(npu), 2);
        nnrt_cache_destroy(again);
        nnrt_cache_destroy(c);
        free(data);
        unregistered(npu);
    }
    nnrt_model_destroy(m);
}

/* Invalid requests. */
static void test_refusals(void **state)
{
    static const char *const tokens[] = {"", "a/b", "..", ".a", "a b", "a\n", "\xC3\xA9", "a\\b"};
    nnrt_fake *npu = registered(BUSY);
    NNRT_Model *m = make_model(2, addend);
    nnrt_cache_desc desc;
    nnrt_session_desc session;
    nnrt_session *s = NULL, *t = NULL;
    nnrt_cache *c = NULL;
    nnrt_error e;
    size_t bytes = 1;
    void *buffer = NULL;
    (void)state;
    memset(&desc, 0, sizeof(desc));
    memset(&session, 0, sizeof(session));
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_cache_create(NULL, &desc, &e), NNRT_NULL_PTR);
    desc.bytes = 1;
    assert_int_equal(nnrt_cache_create(&c, &desc, NULL), NNRT_NULL_PTR);
    desc.bytes = 0;
    desc.token = "net";
    assert_int_equal(nnrt_cache_create(&c, &desc, NULL), NNRT_INVALID_PARAMETER); /* a token without a directory */
    desc.directory = "build";
    for (uint32_t i = 0; i < COUNT(tokens); i++) {
        desc.token = tokens[i];
        assert_int_equal(nnrt_cache_create(&c, &desc, NULL), NNRT_INVALID_PARAMETER);
        assert_null(c);
    }
    desc.token = "Az09._-";
    assert_int_equal(nnrt_cache_create(&c, &desc, NULL), NNRT_SUCCESS);
    nnrt_cache_destroy(c);
    nnrt_cache_destroy(NULL);
    assert_null(nnrt_cache_get_state(NULL));
    assert_int_equal(nnrt_cache_create(&c, NULL, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_cache_save_memory(NULL, NULL, NULL, 0, &bytes, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_cache_save_memory(c, NULL, NULL, 0, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_cache_save_memory(c, NULL, NULL, 0, &bytes, NULL), NNRT_OPERATION_FORBIDDEN);
    assert_int_equal(bytes, 0);
    /* a buffer of the caller, and sharing */
    session.device = "npu";
    assert_int_equal(nnrt_session_bytes(m, &session, &bytes, NULL), NNRT_SUCCESS);
    assert_int_equal(posix_memalign(&buffer, NNRT_ALIGNMENT, bytes), 0);
    session.cache = c;
    assert_int_equal(nnrt_session_bytes(m, &session, &bytes, NULL), NNRT_NOT_SUPPORT);
    assert_int_equal(nnrt_session_create(&s, m, &session, NULL), NNRT_SUCCESS);
    session.share = s;
    assert_int_equal(nnrt_session_create(&t, m, &session, NULL), NNRT_INVALID_PARAMETER);
    session.share = NULL;
    session.buffer = buffer;
    session.bufferBytes = bytes;
    assert_int_equal(nnrt_session_create(&t, m, &session, NULL), NNRT_INVALID_PARAMETER);
    session.cache = NULL;
    nnrt_session_destroy(s);
    nnrt_cache_destroy(c);
    free(buffer);
    nnrt_model_destroy(m);
    unregistered(npu);
}

/* Each of two devices has its part in the cache. */
static void test_parts(void **state)
{
    nnrt_fake *a = registered("fake:name=npu0,ops=ADD_FUSION+SUB_FUSION,cache=yes");
    nnrt_fake *b = registered("fake:name=npu1,ops=ACTIVATION,cache=yes");
    NNRT_Model *m = make_model(2, addend), *bare = NULL;
    nnrt_cache *c = cache_of(NULL, NULL, NULL, 0), *again;
    nnrt_cache_state s = through(c, m, "auto:npu0,npu1");
    nnrt_load_desc load;
    nnrt_session *session = NULL;
    nnrt_error e;
    void *aligned = NULL;
    uint8_t *data;
    size_t bytes;
    (void)state;
    assert_int_equal(s.prepared, 3); /* parts: the sum, the activation, the difference */
    assert_int_equal(s.kept, 3);
    data = saved(c, &bytes);
    nnrt_cache_destroy(c);
    again = cache_of(NULL, NULL, data, bytes);
    s = through(again, m, "auto:npu0,npu1");
    assert_int_equal(s.restored, 3);
    assert_int_equal(s.prepared, 0);
    assert_int_equal(s.fault.code, NNRT_SUCCESS);
    assert_int_equal(compiled(a), 2);
    assert_int_equal(compiled(b), 1);
    nnrt_cache_destroy(again);
    /* parts are unusable without the model */
    memset(&load, 0, sizeof(load));
    memset(&e, 0, sizeof(e));
    load.cache = true;
    assert_int_equal(posix_memalign(&aligned, NNRT_ALIGNMENT, bytes), 0);
    memcpy(aligned, data, bytes);
    assert_int_equal(nnrt_model_load_memory(&bare, aligned, bytes, &load, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_create(&session, bare, NULL, &e), NNRT_INVALID_MODEL_CACHE);
    assert_non_null(strstr(e.message, "no whole model"));
    nnrt_model_destroy(bare);
    free(aligned);
    free(data);
    unregistered(b);
    /* a device that does not export its part */
    b = registered("fake:name=npu1,ops=ACTIVATION");
    c = cache_of(NULL, NULL, NULL, 0);
    s = through(c, m, "auto:npu0,npu1");
    assert_int_equal(s.prepared, 2);
    assert_int_equal(s.kept, 2);
    nnrt_cache_destroy(c);
    nnrt_model_destroy(m);
    unregistered(a);
    unregistered(b);
}

/* Whether a session would restore everything and prepare nothing. */
static bool ask(nnrt_cache *c, const NNRT_Model *m, const char *device, NNRT_PerformanceMode mode)
{
    nnrt_session_desc desc;
    nnrt_error e;
    bool usable = true;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    desc.mode = mode;
    desc.cache = c; /* left out */
    if (nnrt_cache_ask(c, m, &desc, &usable, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_int_equal(nnrt_cache_get_state(c)->restored, 0);
    assert_int_equal(nnrt_cache_get_state(c)->kept, 0);
    return usable;
}

/* A query reports whether a usable cache exists; it compiles and writes nothing. */
static void test_ask(void **state)
{
    nnrt_fake *a = registered("fake:name=npu0,ops=ADD_FUSION+SUB_FUSION,cache=yes,modes=yes");
    nnrt_fake *b = registered("fake:name=npu1,ops=ACTIVATION,cache=yes,modes=yes"), *all = registered(BUSY);
    NNRT_Model *m = make_model(2, addend), *n = make_model(2, other_addend), *bare = NULL;
    char folder[32], path[64];
    nnrt_session_desc desc;
    nnrt_load_desc load;
    nnrt_cache *c;
    uint8_t *data;
    void *aligned = NULL;
    size_t bytes;
    bool usable = true;
    uint32_t before;
    (void)state;
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/net.nnrt", folder);
    c = cache_of(folder, "net", NULL, 0);
    assert_false(ask(c, m, "npu", 0)); /* no file */
    assert_int_equal(nnrt_cache_get_state(c)->fault.code, NNRT_SUCCESS);
    assert_int_equal(compiled(all), 0);
    assert_int_not_equal(access(path, F_OK), 0);
    (void)through(c, m, "npu");
    before = compiled(all);
    assert_true(ask(c, m, "npu", 0));
    assert_true(ask(c, m, "npu", 0));
    assert_false(ask(c, n, "npu", 0)); /* of another model */
    assert_int_equal(nnrt_cache_get_state(c)->fault.code, NNRT_INVALID_MODEL_CACHE);
    assert_non_null(strstr(nnrt_cache_get_state(c)->fault.message, "another model"));
    assert_true(ask(c, m, "npu", 0)); /* the file is unchanged */
    assert_false(ask(c, m, "reference", 0)); /* has no cache */
    assert_int_equal(compiled(all), before);
    assert_int_equal(through(c, m, "npu").restored, 1);
    data = saved(c, &bytes);
    data[bytes - 1] ^= 1; /* damaged */
    assert_int_equal(nnrt_file_write(path, data, bytes, NULL), NNRT_SUCCESS);
    assert_false(ask(c, m, "npu", 0));
    assert_int_not_equal(nnrt_cache_get_state(c)->fault.code, NNRT_SUCCESS);
    data[bytes - 1] ^= 1;
    nnrt_cache_destroy(c);
    /* a cache alone, in memory */
    memset(&load, 0, sizeof(load));
    load.cache = true;
    assert_int_equal(posix_memalign(&aligned, NNRT_ALIGNMENT, bytes), 0);
    memcpy(aligned, data, bytes);
    assert_int_equal(nnrt_model_load_memory(&bare, aligned, bytes, &load, NULL), NNRT_SUCCESS);
    c = cache_of(NULL, NULL, NULL, 0);
    assert_true(ask(c, bare, "npu", 0));
    assert_false(ask(c, bare, "npu0", 0));
    nnrt_cache_destroy(c);
    nnrt_model_destroy(bare);
    free(aligned);
    free(data);
    unregistered(all);
    /* each part of a split model counts */
    c = cache_of(folder, "net", NULL, 0);
    (void)through(c, m, "auto:npu0,npu1");
    before = compiled(a) + compiled(b);
    assert_true(ask(c, m, "auto:npu0,npu1", 0));
    assert_false(ask(c, m, "auto:npu0,npu1", NNRT_PERFORMANCE_HIGH));
    assert_true(ask(c, m, "auto:npu0", 0)); /* the rest is the reference device's, which has no cache */
    assert_int_equal(compiled(a) + compiled(b), before);
    unregistered(b);
    b = registered("fake:name=npu1,vendor=acme,ops=ACTIVATION,cache=yes"); /* another device has that name */
    assert_false(ask(c, m, "auto:npu0,npu1", 0));
    assert_int_equal(compiled(b), 0);
    /* invalid queries */
    memset(&desc, 0, sizeof(desc));
    assert_int_equal(nnrt_cache_ask(NULL, m, NULL, &usable, NULL), NNRT_NULL_PTR);
    assert_false(usable);
    assert_int_equal(nnrt_cache_ask(c, m, NULL, NULL, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_cache_ask(c, NULL, NULL, &usable, NULL), NNRT_NULL_PTR);
    desc.buffer = folder;
    assert_int_equal(nnrt_cache_ask(c, m, &desc, &usable, NULL), NNRT_INVALID_PARAMETER);
    desc.buffer = NULL;
    desc.device = "nobody";
    assert_int_equal(nnrt_cache_ask(c, m, &desc, &usable, NULL), NNRT_INVALID_PARAMETER);
    nnrt_cache_destroy(c);
    nnrt_model_destroy(m);
    nnrt_model_destroy(n);
    unregistered(a);
    unregistered(b);
    assert_int_equal(end_folder(folder), 1);
}

/* A .nnrt file with the prepared form of the device next to the model. */
static void test_sections(void **state)
{
    nnrt_fake *npu = registered(BUSY);
    NNRT_Model *m = make_model(2, addend), *loaded = NULL;
    nnrt_cache *c = cache_of(NULL, NULL, NULL, 0);
    nnrt_save_desc save;
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    nnrt_file_section section;
    nnrt_error e;
    size_t bytes, plain;
    uint32_t devices = 0, at = 0;
    void *file = NULL;
    (void)state;
    memset(&save, 0, sizeof(save));
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    (void)through(c, m, "npu");
    assert_int_equal(nnrt_model_save_memory(m, &save, NULL, 0, &plain, &e), NNRT_SUCCESS);
    save.cache = c;
    assert_int_equal(nnrt_model_save_memory(m, &save, NULL, 0, &bytes, &e), NNRT_SUCCESS);
    assert_true(bytes > plain);
    assert_int_equal(posix_memalign(&file, NNRT_ALIGNMENT, bytes), 0);
    assert_int_equal(nnrt_model_save_memory(m, &save, file, bytes, &bytes, &e), NNRT_SUCCESS);
    nnrt_cache_destroy(c);
    nnrt_model_destroy(m);
    {
        nnrt_load_desc load;
        memset(&load, 0, sizeof(load));
        load.checksum = true;
        assert_int_equal(nnrt_model_load_memory(&loaded, file, bytes, &load, &e), NNRT_SUCCESS);
    }
    for (uint32_t i = 0; nnrt_model_section(loaded, i, &section); i++)
        if (section.type == 9) {
            assert_string_equal(section.name, "npu_nnrt_v1_0");
            assert_int_equal(section.offset % 64, 0);
            at = (uint32_t)section.offset;
            devices++;
        }
    assert_int_equal(devices, 1);
    for (uint32_t k = 0; k < 3; k++) { /* on the device, on auto, on another one */
        static const char *const names[3] = {"npu", NULL, "reference"};
        desc.device = names[k];
        assert_int_equal(nnrt_session_create(&s, loaded, &desc, &e), NNRT_SUCCESS);
        run(s);
        nnrt_session_destroy(s);
        assert_int_equal(compiled(npu), 1);
        assert_int_equal(restored(npu), k < 1 ? 1 : 2);
    }
    /* its model, saved without a cache, has no device section */
    assert_int_equal(nnrt_model_save_memory(loaded, NULL, NULL, 0, &bytes, &e), NNRT_SUCCESS);
    assert_int_equal(bytes, plain);
    /* a damaged section is ignored: the portable model is still valid */
    ((uint8_t *)file)[at + 200] ^= 1;
    desc.device = "npu";
    assert_int_equal(nnrt_session_create(&s, loaded, &desc, &e), NNRT_SUCCESS);
    run(s);
    nnrt_session_destroy(s);
    assert_int_equal(compiled(npu), 2);
    assert_int_equal(restored(npu), 2);
    ((uint8_t *)file)[at + 200] ^= 1;
    /* the section of another model is also ignored: a weight is changed in the file */
    for (uint32_t i = 0; nnrt_model_section(loaded, i, &section); i++)
        if (section.type == 8)
            ((uint8_t *)file)[section.offset + 3] ^= 1;
    desc.device = "npu";
    assert_int_equal(nnrt_session_create(&s, loaded, &desc, &e), NNRT_SUCCESS);
    nnrt_session_destroy(s);
    assert_int_equal(compiled(npu), 3);
    assert_int_equal(restored(npu), 2);
    nnrt_model_destroy(loaded);
    free(file);
    unregistered(npu);
}

/* A form restored from the file of the model stays in the cache after the model and its bytes are freed. */
static void test_outlives(void **state)
{
    nnrt_fake *npu = registered(BUSY);
    NNRT_Model *m = make_model(2, addend), *loaded = NULL;
    nnrt_cache *first = cache_of(NULL, NULL, NULL, 0), *second = cache_of(NULL, NULL, NULL, 0), *third;
    nnrt_save_desc save;
    nnrt_error e;
    size_t bytes, size;
    void *file = NULL;
    uint8_t *data;
    (void)state;
    memset(&save, 0, sizeof(save));
    memset(&e, 0, sizeof(e));
    (void)through(first, m, "npu");
    save.cache = first;
    assert_int_equal(nnrt_model_save_memory(m, &save, NULL, 0, &bytes, &e), NNRT_SUCCESS);
    assert_int_equal(posix_memalign(&file, NNRT_ALIGNMENT, bytes), 0);
    assert_int_equal(nnrt_model_save_memory(m, &save, file, bytes, &bytes, &e), NNRT_SUCCESS);
    assert_int_equal(nnrt_model_load_memory(&loaded, file, bytes, NULL, &e), NNRT_SUCCESS);
    assert_int_equal(through(second, loaded, "npu").restored, 1);
    nnrt_model_destroy(loaded);
    free(file);
    data = saved(second, &size);
    third = cache_of(NULL, NULL, data, size);
    assert_int_equal(through(third, m, "npu").restored, 1);
    assert_int_equal(compiled(npu), 1);
    assert_int_equal(restored(npu), 2);
    nnrt_cache_destroy(third);
    nnrt_cache_destroy(second);
    nnrt_cache_destroy(first);
    nnrt_model_destroy(m);
    free(data);
    unregistered(npu);
}

/* ---- networks ---- */

/* The bits of all outputs for one input, in order. */
static uint8_t *bits_of(const NNRT_Model *m, const nnrt_session_desc *desc, size_t *bytes)
{
    nnrt_io in, out[4];
    nnrt_session *s = NULL;
    nnrt_error e;
    uint8_t *all = NULL;
    memset(&e, 0, sizeof(e));
    if (nnrt_session_create(&s, m, desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_int_equal(nnrt_session_inputs(s), 1);
    in = nnrt_io_make(NULL, nnrt_session_input(s, 0).bytes);
    in.data = malloc(in.bytes);
    for (size_t i = 0; i < in.bytes / sizeof(float); i++)
        ((float *)in.data)[i] = (float)(i * 2654435761u % 256) / 256;
    *bytes = 0;
    for (uint32_t i = 0; i < nnrt_session_outputs(s); i++)
        *bytes += nnrt_session_output(s, i).bytes;
    all = (uint8_t *)calloc(1, *bytes);
    *bytes = 0;
    for (uint32_t i = 0; i < nnrt_session_outputs(s); i++) {
        out[i] = nnrt_io_make(all + *bytes, nnrt_session_output(s, i).bytes);
        *bytes += out[i].bytes;
    }
    assert_int_equal(nnrt_run(s, &in, 1, out, nnrt_session_outputs(s)), NNRT_SUCCESS);
    nnrt_session_destroy(s);
    free(in.data);
    return all;
}

/* The digits networks: on reference, on one device and on two that share it, prepared and restored. */
static void test_digits(void **state)
{
    static const char *const files[2] = {"examples/digits/digits.onnx", "examples/digits/digits_int8.onnx"};
    static const char *const devices[2] = {"npu", "auto:npu0,npu1"};
    nnrt_fake *npu = registered(BUSY);
    nnrt_fake *first = registered("fake:name=npu0,ops=CONV2D_FUSION+SOFTMAX,cache=yes");
    nnrt_fake *second = registered("fake:name=npu1,not=CONV2D_FUSION,cache=yes");
    char folder[32];
    (void)state;
    make_folder(folder);
    for (uint32_t f = 0; f < 2; f++) {
        NNRT_Model *m = NULL;
        nnrt_session_desc desc;
        uint8_t *want, *got;
        size_t bytes, more;
        assert_int_equal(nnrt_onnx_load(&m, files[f], NULL, NULL), NNRT_SUCCESS);
        memset(&desc, 0, sizeof(desc));
        desc.device = "reference";
        want = bits_of(m, &desc, &bytes);
        for (uint32_t d = 0; d < 2; d++)
            for (uint32_t k = 0; k < 2; k++) {
                nnrt_cache_state s;
                desc.device = devices[d];
                desc.cache = cache_of(folder, NULL, NULL, 0);
                got = bits_of(m, &desc, &more);
                assert_int_equal(more, bytes);
                assert_memory_equal(got, want, bytes);
                s = *nnrt_cache_get_state(desc.cache);
                assert_int_equal(s.saved, NNRT_SUCCESS);
                assert_int_equal(k == 0 ? s.restored : s.prepared, 0);
                assert_true(s.kept >= (d == 0 ? 1u : 3u));
                assert_int_equal(k == 0 ? s.prepared : s.restored, s.kept);
                nnrt_cache_destroy(desc.cache);
                free(got);
            }
        free(want);
        nnrt_model_destroy(m);
    }
    assert_int_equal(end_folder(folder), 4);
    unregistered(npu);
    unregistered(first);
    unregistered(second);
}

/* nnrt_cache_prepare without a session, and invalid calls. */
static void test_prepare(void **state)
{
    nnrt_fake *npu = registered(BUSY);
    nnrt_device *device = nnrt_device_find("npu");
    NNRT_Model *m = make_model(2, addend);
    nnrt_cache *c = cache_of(NULL, NULL, NULL, 0);
    NNRT_PreparedModel *prepared = NULL;
    NNRT_ModelConfig config;
    char folder[32], path[64];
    (void)state;
    memset(&config, 0, sizeof(config));
    assert_int_equal(nnrt_cache_prepare(c, NULL, m, NULL, &prepared), NNRT_NULL_PTR);
    assert_int_equal(nnrt_cache_prepare(c, device, NULL, NULL, &prepared), NNRT_NULL_PTR);
    assert_int_equal(nnrt_cache_prepare(c, device, m, NULL, NULL), NNRT_NULL_PTR);
    config.buffer = folder;
    assert_int_equal(nnrt_cache_prepare(c, device, m, &config, &prepared), NNRT_NOT_SUPPORT);
    assert_int_equal(nnrt_cache_prepare(c, device, m, NULL, &prepared), NNRT_SUCCESS);
    assert_int_equal(nnrt_cache_get_state(c)->prepared, 1);
    nnrt_device_release(device, prepared);
    assert_int_equal(nnrt_cache_prepare(NULL, device, m, NULL, &prepared), NNRT_SUCCESS);
    nnrt_device_release(device, prepared);
    assert_int_equal(compiled(npu), 2);
    nnrt_cache_destroy(c);
    nnrt_model_destroy(m);
    unregistered(npu);
    /* nnrt_file_write for other files */
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/some.bytes", folder);
    assert_int_equal(nnrt_file_write(path, "12345", 5, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_file_write(path, "678", 3, NULL), NNRT_SUCCESS);
    {
        char text[8] = "";
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        assert_int_equal(fread(text, 1, sizeof(text), f), 3);
        assert_string_equal(text, "678");
        (void)fclose(f);
    }
    assert_int_equal(nnrt_file_write(path, NULL, 0, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_file_write(path, NULL, 1, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_file_write(NULL, "1", 1, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_file_write(folder, "1", 1, NULL), NNRT_INVALID_PATH);
    assert_int_equal(nnrt_file_write("build/nowhere/some.bytes", "1", 1, NULL), NNRT_INVALID_PATH);
    assert_int_equal(nnrt_file_write("/dev/full", "1", 1, NULL), NNRT_INVALID_PATH); /* not a regular file */
    assert_int_equal(end_folder(folder), 1);
}

/* ---- memory, processes ---- */

/* Every allocation fails once: a session is created, with bit-identical results, or the code is out of memory. */
static void test_memory_short(void **state)
{
    char folder[32], path[64];
    nnrt_fake *npu = registered(BUSY);
    NNRT_Model *m = make_model(2, addend);
    nnrt_cache *first;
    uint32_t good = 0, whole = 0, bad = 0;
    uint8_t *data;
    size_t bytes;
    (void)state;
    make_folder(folder);
    snprintf(path, sizeof(path), "%s/net.nnrt", folder);
    first = cache_of(folder, "net", NULL, 0);
    (void)through(first, m, "npu");
    data = saved(first, &bytes);
    nnrt_cache_destroy(first);
    for (uint32_t way = 0; way < 3; way++) { /* from the file, from misaligned memory, from nothing */
        for (int64_t k = 1;; k++) {
            tracker t;
            nnrt_allocator a = allocator_of(&t);
            nnrt_cache_desc cd;
            nnrt_session_desc desc;
            nnrt_cache *c = NULL;
            nnrt_session *s = NULL;
            NNRT_ReturnCode code;
            bool done;
            memset(&t, 0, sizeof(t));
            memset(&cd, 0, sizeof(cd));
            memset(&desc, 0, sizeof(desc));
            t.failAt = k;
            cd.allocator = desc.allocator = &a;
            cd.directory = way == 1 ? NULL : folder;
            cd.token = way == 1 ? NULL : "net";
            cd.data = way == 1 ? data : NULL;
            cd.bytes = way == 1 ? bytes : 0;
            if (way == 2)
                (void)remove(path);
            code = nnrt_cache_create(&c, &cd, NULL);
            desc.device = "npu";
            desc.cache = c;
            if (code == NNRT_SUCCESS)
                code = nnrt_session_create(&s, m, &desc, NULL);
            if (code == NNRT_SUCCESS) {
                const nnrt_cache_state *st = nnrt_cache_get_state(c);
                run(s);
                good++;
                whole += st->restored;
            } else {
                assert_int_equal(code, NNRT_OUT_OF_MEMORY);
                bad++;
            }
            done = t.calls < k;
            nnrt_session_destroy(s);
            nnrt_cache_destroy(c);
            assert_int_equal(t.live, 0);
            assert_false(t.wrong);
            if (done)
                break;
        }
    }
    assert_true(good > 20 && whole > 5 && bad > 5);
    free(data);
    nnrt_model_destroy(m);
    unregistered(npu);
    (void)end_folder(folder);
}

/* Processes write and read one file concurrently: each runs, and the final file is complete. */
static void test_processes(void **state)
{
    char folder[32];
    nnrt_fake *npu = registered(BUSY);
    NNRT_Model *models[2];
    nnrt_cache *c;
    pid_t children[4];
    nnrt_cache_state s;
    (void)state;
    models[0] = make_model(2, addend);
    models[1] = make_model(2, other_addend);
    make_folder(folder);
    fflush(NULL);
    for (uint32_t p = 0; p < 4; p++) {
        children[p] = fork();
        assert_true(children[p] >= 0);
        if (children[p] != 0)
            continue;
        for (uint32_t i = 0; i < 50; i++) { /* two processes use one model, two the other */
            nnrt_session_desc desc;
            nnrt_session *session = NULL;
            nnrt_cache_desc cd;
            const nnrt_cache_state *st;
            memset(&desc, 0, sizeof(desc));
            memset(&cd, 0, sizeof(cd));
            cd.directory = folder;
            cd.token = "net";
            if (nnrt_cache_create(&c, &cd, NULL) != NNRT_SUCCESS)
                _exit(1);
            desc.device = "npu";
            desc.cache = c;
            if (nnrt_session_create(&session, models[p % 2], &desc, NULL) != NNRT_SUCCESS)
                _exit(2);
            st = nnrt_cache_get_state(c);
            if (st->saved != NNRT_SUCCESS)
                _exit(3);
            if (st->fault.code != NNRT_SUCCESS && strstr(st->fault.message, "another model") == NULL)
                _exit(4); /* half a file */
            nnrt_session_destroy(session);
            nnrt_cache_destroy(c);
        }
        _exit(0);
    }
    for (uint32_t p = 0; p < 4; p++) {
        int status = -1;
        assert_int_equal(waitpid(children[p], &status, 0), children[p]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    c = cache_of(folder, "net", NULL, 0);
    (void)through(c, models[0], "npu");
    s = through(c, models[0], "npu");
    assert_int_equal(s.restored, 1);
    nnrt_cache_destroy(c);
    assert_int_equal(end_folder(folder), 1); /* and no temporary file */
    nnrt_model_destroy(models[0]);
    nnrt_model_destroy(models[1]);
    unregistered(npu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_directory), cmocka_unit_test(test_bare),
        cmocka_unit_test(test_damage),       cmocka_unit_test(test_options),   cmocka_unit_test(test_devices),
        cmocka_unit_test(test_faults),       cmocka_unit_test(test_refusals),  cmocka_unit_test(test_parts),
        cmocka_unit_test(test_sections), cmocka_unit_test(test_outlives),     cmocka_unit_test(test_digits),    cmocka_unit_test(test_prepare),
        cmocka_unit_test(test_memory_short), cmocka_unit_test(test_processes), cmocka_unit_test(test_ask),
    };
    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
