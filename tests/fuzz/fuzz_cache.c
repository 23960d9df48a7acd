/* Fuzz target: the bytes are a model cache. Sessions of a fixed model are created with it, unchanged and with corrected
   checksums and keys, from the model and from the cache alone; the device is devices/nnrt_fake.h. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "devices/nnrt_fake.h"
#include "nnrt.h"

#include "fuzz.h"

#define FUZZ_CACHE_BYTES ((size_t)16 << 20)

/* y = x + [1,2,3] on rows of 3. */
static NNRT_Model *fuzz_cache_model(void)
{
    static const float addend[3] = {1, 2, 3};
    static const int32_t dims[2] = {2, 3};
    NNRT_Model *model = NULL;
    nnrt_builder *b = NULL;
    uint32_t in[2];
    (void)nnrt_builder_create(&b, "fixed", NULL);
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, dims);
    in[1] = nnrt_builder_constant(b, "addend", NNRT_DATA_TYPE_FLOAT32, 1, dims + 1, addend, false);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_ADD_FUSION, NULL, in, 2));
    fuzz_expect(nnrt_builder_finish(b, &model, NULL) == NNRT_SUCCESS, "there is a model", NULL);
    nnrt_builder_destroy(b);
    return model;
}

static uint64_t fuzz_cache_sum(const uint8_t *data, size_t bytes, size_t zeros)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (i >= zeros && i < zeros + 8 ? 0u : data[i])) * UINT64_C(1099511628211);
    return hash;
}

/* Creates a session of a model with a cache, prepared or restored. wanted: it must run, with the expected results. */
static void fuzz_cache_session(const NNRT_Model *model, const uint8_t *data, size_t size, bool wanted)
{
    static const float x[6] = {0, 1, 2, 3, 4, 5}, want[6] = {1, 3, 5, 4, 6, 8};
    fuzz_memory memory;
    nnrt_allocator a = fuzz_allocator(&memory, FUZZ_CACHE_BYTES);
    nnrt_cache_desc desc;
    nnrt_session_desc session;
    nnrt_cache *cache = NULL;
    nnrt_session *s = NULL;
    nnrt_error e;
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    memset(&session, 0, sizeof(session));
    memset(&e, 0, sizeof(e));
    desc.allocator = session.allocator = &a;
    desc.data = data;
    desc.bytes = size;
    fuzz_expect(nnrt_cache_create(&cache, &desc, NULL) == NNRT_SUCCESS, "there is a cache", NULL);
    session.device = "fuzzed";
    session.cache = cache;
    code = nnrt_session_create(&s, model, &session, &e);
    fuzz_expect(code != NNRT_SUCCESS || s != NULL, "a session comes with success", e.message);
    if (wanted) {
        float y[6];
        nnrt_io in = nnrt_io_make((void *)(uintptr_t)x, sizeof(x)), out = nnrt_io_make(y, sizeof(y));
        fuzz_expect(code == NNRT_SUCCESS, "a cache that is none costs nothing", e.message);
        fuzz_expect(nnrt_run(s, &in, 1, &out, 1) == NNRT_SUCCESS && memcmp(y, want, sizeof(y)) == 0,
                    "a session has the results of its model", nnrt_session_error(s));
    }
    nnrt_session_destroy(s);
    nnrt_cache_destroy(cache);
    fuzz_memory_empty(&memory);
}

/* The keys of the fixed model, from a valid cache. */
static void fuzz_cache_keys(const NNRT_Model *model, uint64_t *keys)
{
    nnrt_session_desc session;
    nnrt_cache *cache = NULL;
    nnrt_session *s = NULL;
    NNRT_Model *bare = NULL;
    nnrt_load_desc load;
    nnrt_file_section section;
    uint8_t *data;
    size_t bytes = 0;
    memset(&session, 0, sizeof(session));
    memset(&load, 0, sizeof(load));
    load.cache = true;
    (void)nnrt_cache_create(&cache, NULL, NULL);
    session.device = "fuzzed";
    session.cache = cache;
    fuzz_expect(nnrt_session_create(&s, model, &session, NULL) == NNRT_SUCCESS, "there is a session", NULL);
    (void)nnrt_cache_save_memory(cache, NULL, NULL, 0, &bytes, NULL);
    data = (uint8_t *)fuzz_block(bytes);
    (void)nnrt_cache_save_memory(cache, NULL, data, bytes, &bytes, NULL);
    fuzz_expect(nnrt_model_load_memory(&bare, data, bytes, &load, NULL) == NNRT_SUCCESS, "a cache can be read", NULL);
    for (uint32_t i = 0; nnrt_model_section(bare, i, &section); i++)
        if (section.type == 9)
            memcpy(keys, (const uint8_t *)section.data + 8, 16);
    nnrt_model_destroy(bare);
    nnrt_session_destroy(s);
    nnrt_cache_destroy(cache);
    free(data);
}

/* The checksum of a device section: by words on four lanes, then the lanes and the rest by bytes. */
static uint64_t fuzz_cache_digest(const uint8_t *data, size_t size)
{
    uint64_t lane[4], sum = 0xCBF29CE484222325u, word;
    size_t i = 0;
    for (uint32_t k = 0; k < 4; k++)
        lane[k] = sum ^ k;
    for (; size - i >= 32; i += 32)
        for (uint32_t k = 0; k < 4; k++) {
            memcpy(&word, data + i + 8 * k, 8);
            lane[k] = (lane[k] ^ word) * 0x9E3779B97F4A7C15u;
            lane[k] ^= lane[k] >> 29;
        }
    for (size_t k = 0; k < sizeof(lane); k++)
        sum = (sum ^ ((const uint8_t *)lane)[k]) * 0x100000001B3u;
    for (; i < size; i++)
        sum = (sum ^ data[i]) * 0x100000001B3u;
    return sum;
}

/* Corrects the file's length and checksum; then, if it can be read, the headers of its device sections. false: it
   cannot be read. */
static bool fuzz_cache_mend(uint8_t *data, size_t size, const uint64_t *keys)
{
    nnrt_load_desc load;
    nnrt_file_section s;
    NNRT_Model *bare = NULL;
    uint64_t bytes = size, sum;
    memset(&load, 0, sizeof(load));
    load.cache = true;
    memcpy(data + 16, &bytes, sizeof(bytes));
    memset(data + 40, 0, 4); /* the checksum is computed by bytes */
    sum = fuzz_cache_sum(data, size, 24);
    memcpy(data + 24, &sum, sizeof(sum));
    if (nnrt_model_load_memory(&bare, data, size, &load, NULL) != NNRT_SUCCESS)
        return false;
    for (uint32_t i = 0; nnrt_model_section(bare, i, &s); i++) {
        uint8_t *at = data + s.offset;
        uint64_t rows[4];
        if (s.type != 9 || s.bytes < 96)
            continue;
        memcpy(at + 8, keys, 16);
        memcpy(rows, at + 64, sizeof(rows));
        if (rows[0] <= s.bytes && rows[2] <= s.bytes && rows[1] <= s.bytes - rows[0] && rows[3] <= s.bytes - rows[2] &&
            rows[1] == 24) { /* the device's own header: magic, bytes and checksum of its second block */
            sum = fuzz_cache_sum(at + rows[2], (size_t)rows[3], SIZE_MAX - 8);
            memcpy(at + rows[0], "nnrtfak1", 8);
            memcpy(at + rows[0] + 8, &rows[3], 8);
            memcpy(at + rows[0] + 16, &sum, 8);
        }
        sum = fuzz_cache_digest(at + 8, s.bytes - 8);
        memcpy(at, &sum, sizeof(sum));
    }
    nnrt_model_destroy(bare);
    sum = fuzz_cache_sum(data, size, 24);
    memcpy(data + 24, &sum, sizeof(sum));
    return true;
}

static void fuzz_cache(const uint8_t *data, size_t size)
{
    nnrt_fake *fake = NULL;
    NNRT_Model *model = fuzz_cache_model(), *bare = NULL;
    uint8_t *copy = (uint8_t *)fuzz_block(size);
    nnrt_load_desc load;
    uint64_t keys[2] = {0, 0};
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) { /* it refuses cache files: test_file */
        nnrt_model_destroy(model);
        free(copy);
        return;
    }
    memset(&load, 0, sizeof(load));
    load.cache = true;
    if (size > 0)
        memcpy(copy, data, size);
    fuzz_expect(nnrt_fake_register(&fake, "fake:name=fuzzed,cache=yes", NULL) == NNRT_SUCCESS, "there is a device", NULL);
    fuzz_cache_keys(model, keys);
    fuzz_cache_session(model, copy, size, true);
    if (size >= 64 && fuzz_cache_mend(copy, size, keys)) {
        fuzz_cache_session(model, copy, size, false); /* a file with valid checksums may contain another model */
        if (nnrt_model_load_memory(&bare, copy, size, &load, NULL) == NNRT_SUCCESS)
            fuzz_cache_session(bare, NULL, 0, false);
        nnrt_model_destroy(bare);
    }
    nnrt_model_destroy(model);
    (void)nnrt_device_unregister("fuzzed");
    free(copy);
}

FUZZ_TARGET(fuzz_cache)
