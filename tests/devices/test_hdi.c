/* The driver interface: buffers with descriptors, options of a configuration, offline models. Expected values are computed by
   hand; codes are from HDI's text. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nnrt.h"

#include "devices/nnrt_fake.h"
#include "fakes.h"
#include "kit.h"

/* ---- resources of the process ---- */

static uint32_t descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    uint32_t count = 0;
    assert_non_null(d);
    while (readdir(d) != NULL)
        count++;
    (void)closedir(d);
    return count;
}

/* Mappings of blocks that nnrt_buffer_create made. */
static uint32_t mappings(void)
{
    char line[512];
    uint32_t count = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f) != NULL)
        count += strstr(line, "memfd:nnrt") != NULL ? 1 : 0;
    (void)fclose(f);
    return count;
}

static NNRT_SharedBuffer block_of(uint32_t bytes)
{
    NNRT_SharedBuffer b;
    assert_int_equal(nnrt_buffer_create(bytes, &b), NNRT_SUCCESS);
    return b;
}

/* Part of a block that has a descriptor. */
static NNRT_SharedBuffer part_of(const NNRT_SharedBuffer *b, uint32_t offset, uint32_t bytes)
{
    NNRT_SharedBuffer part = *b;
    part.offset = offset;
    part.dataSize = bytes;
    return part;
}

static void put(const NNRT_SharedBuffer *b, uint32_t offset, const void *data, uint32_t bytes)
{
    void *block;
    assert_int_equal(nnrt_buffer_map(b, true, &block, NULL), NNRT_SUCCESS);
    memcpy((uint8_t *)block + offset, data, bytes);
    nnrt_buffer_unmap(b, block);
}

static void get(const NNRT_SharedBuffer *b, uint32_t offset, void *data, uint32_t bytes)
{
    void *block;
    assert_int_equal(nnrt_buffer_map(b, false, &block, NULL), NNRT_SUCCESS);
    memcpy(data, (const uint8_t *)block + offset, bytes);
    nnrt_buffer_unmap(b, block);
}

/* ---- mapping ---- */

static void test_create(void **state)
{
    const uint32_t before = descriptors(), mapped = mappings();
    NNRT_SharedBuffer b = block_of(10000);
    uint8_t byte = 1;
    struct stat s;
    (void)state;
    assert_true(b.fd >= 0);
    assert_null(b.addr);
    assert_int_equal(b.bufferSize, 10000);
    assert_int_equal(b.offset, 0);
    assert_int_equal(b.dataSize, 10000);
    assert_int_equal(fstat(b.fd, &s), 0);
    assert_int_equal(s.st_size, 10000);
    assert_int_not_equal(ftruncate(b.fd, 100), 0); /* sealed: a mapping of it never ends early */
    for (uint32_t i = 0; i < 10000; i += 9999) {
        get(&b, i, &byte, 1);
        assert_int_equal(byte, 0);
    }
    put(&b, 9999, "!", 1);
    get(&b, 9999, &byte, 1);
    assert_int_equal(byte, '!');
    assert_int_equal(mappings(), mapped);
    nnrt_buffer_destroy(&b);
    assert_int_equal(descriptors(), before);
    assert_int_equal(nnrt_buffer_create(0, &b), NNRT_INVALID_PARAMETER);
    assert_int_equal(nnrt_buffer_create(1, NULL), NNRT_NULL_PTR);
    nnrt_buffer_destroy(NULL);
    assert_int_equal(descriptors(), before);
}

/* Data after any offset, seen by two mappings at once; the buffer and its descriptor are unchanged. */
static void test_map(void **state)
{
    const uint32_t offsets[] = {0, 1, 4095, 4096, 4100, 9996};
    NNRT_SharedBuffer b = block_of(10000);
    (void)state;
    for (uint32_t i = 0; i < COUNT(offsets); i++) {
        NNRT_SharedBuffer part = part_of(&b, offsets[i], 4);
        const NNRT_SharedBuffer same = part;
        const uint32_t mapped = mappings();
        void *one, *two;
        assert_int_equal(nnrt_buffer_map(&part, true, &one, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_buffer_map(&part, false, &two, NULL), NNRT_SUCCESS);
        assert_int_equal(mappings(), mapped + 2);
        memcpy((uint8_t *)one + part.offset, "data", 4);
        assert_memory_equal((uint8_t *)two + part.offset, "data", 4);
        nnrt_buffer_unmap(&part, one);
        nnrt_buffer_unmap(&part, two);
        assert_int_equal(mappings(), mapped);
        assert_memory_equal(&part, &same, sizeof(same));
    }
    nnrt_buffer_destroy(&b);
}

static void test_map_of_addresses(void **state)
{
    uint8_t bytes[8] = {0};
    NNRT_SharedBuffer b = {-1, 8, 2, 6, bytes};
    const uint32_t mapped = mappings();
    void *block = NULL;
    (void)state;
    assert_int_equal(nnrt_buffer_map(&b, true, &block, NULL), NNRT_SUCCESS);
    assert_ptr_equal(block, bytes);
    nnrt_buffer_unmap(&b, block); /* nothing of it is ours */
    {
        NNRT_SharedBuffer page = block_of(4096), same;
        void *own;
        assert_int_equal(nnrt_buffer_map(&page, true, &own, NULL), NNRT_SUCCESS);
        same = page;
        same.fd = -1;
        same.addr = own; /* an address that munmap would accept */
        nnrt_buffer_unmap(&same, own);
        assert_int_equal(mappings(), mapped + 1);
        nnrt_buffer_unmap(&page, own);
        nnrt_buffer_destroy(&page);
    }
    b.fd = 0;                     /* the address exists: the descriptor is not used */
    assert_int_equal(nnrt_buffer_map(&b, true, &block, NULL), NNRT_SUCCESS);
    assert_ptr_equal(block, bytes);
    b.fd = -1;
    b.addr = NULL;
    b.bufferSize = b.offset = b.dataSize = 0; /* no data */
    assert_int_equal(nnrt_buffer_map(&b, true, &block, NULL), NNRT_SUCCESS);
    assert_null(block);
    nnrt_buffer_unmap(&b, NULL);
    nnrt_buffer_unmap(NULL, NULL);
    assert_int_equal(mappings(), mapped);
}

static void refused(const NNRT_SharedBuffer *b, bool write, const char *says)
{
    nnrt_error e;
    void *block = &e;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_buffer_map(b, write, &block, &e), NNRT_INVALID_BUFFER);
    assert_null(block);
    assert_int_equal(e.code, NNRT_INVALID_BUFFER);
    if (strstr(e.message, says) == NULL)
        fail_msg("'%s' does not say '%s'", e.message, says);
}

static void test_map_refuses(void **state)
{
    const uint32_t before = descriptors(), mapped = mappings();
    NNRT_SharedBuffer b = block_of(100), bad;
    void *block;
    int ends[2], file;
    (void)state;
    bad = part_of(&b, 96, 5);
    refused(&bad, false, "offset 96 and dataSize 5 run past the buffer's 100 bytes");
    bad = part_of(&b, 0xFFFFFFFFu, 2); /* their sum does not fit 32 bits */
    refused(&bad, false, "run past");
    bad.bufferSize = 0xFFFFFFFFu;
    refused(&bad, false, "run past");
    bad = part_of(&b, 0, 101);
    bad.bufferSize = 101; /* more than there is */
    refused(&bad, false, "has 100 bytes, the data end at 101");
    bad = part_of(&b, 0xFFFFFF00u, 0xFF);
    bad.bufferSize = 0xFFFFFFFFu;
    refused(&bad, false, "has 100 bytes, the data end at 4294967295");
    bad = part_of(&b, 0, 100);
    bad.fd = -1;
    refused(&bad, false, "no descriptor and no address");
    assert_int_equal(pipe(ends), 0);
    bad.fd = ends[0];
    refused(&bad, false, "none of memory");
    (void)close(ends[0]);
    (void)close(ends[1]);
    refused(&bad, false, "none of memory"); /* closed */
    bad.fd = open("/dev/null", O_RDWR);
    refused(&bad, false, "has 0 bytes");
    (void)close(bad.fd);
    file = open("tests/devices/test_hdi.c", O_RDONLY);
    assert_true(file >= 0);
    bad.fd = file;
    refused(&bad, true, "cannot be mapped for writing");
    assert_int_equal(nnrt_buffer_map(&bad, false, &block, NULL), NNRT_SUCCESS);
    assert_memory_equal(block, "/* The driver interface", 23);
    nnrt_buffer_unmap(&bad, block);
    (void)close(file);
    assert_int_equal(nnrt_buffer_map(NULL, false, &block, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_buffer_map(&b, false, NULL, NULL), NNRT_NULL_PTR);
    nnrt_buffer_destroy(&b);
    assert_int_equal(descriptors(), before);
    assert_int_equal(mappings(), mapped);
}

/* ---- constants ---- */

#define FIRST 4100   /* where the constants begin: in the second page .. */
#define SECOND 12300 /* .. and in the fourth */

/* x [2,3] + c [3] -> a; a + d [3] -> y, c and d in one block, as HDI passes them. */
static void graph_shared(graph *g, const NNRT_SharedBuffer *b)
{
    graph_init(g);
    (void)tensor(g, "x", F32, "2,3");
    (void)constant(g, "c", F32, "3", NULL, 12);
    (void)constant(g, "d", F32, "3", NULL, 12);
    (void)tensor(g, "a", F32, "2,3");
    (void)tensor(g, "y", F32, "2,3");
    ADD(g, "first", "0 1", "3");
    ADD(g, "second", "3 2", "4");
    graph_io(g, "0", "4");
    g->tensors[1].data = part_of(b, FIRST, 12);
    g->tensors[2].data = part_of(b, SECOND, 12);
}

static NNRT_SharedBuffer constants(void)
{
    static const float values[6] = {1, 2, 3, 10, 20, 30};
    NNRT_SharedBuffer b = block_of(SECOND + 12);
    put(&b, FIRST, values, 12);
    put(&b, SECOND, values + 3, 12);
    return b;
}

static float given[6] = {0, 0, 0, 100, 100, 100};
static const float expected[6] = {11, 22, 33, 111, 122, 133};
static const int32_t two_three[2] = {2, 3};

static NNRT_IOTensor io_of(const NNRT_SharedBuffer *b)
{
    NNRT_IOTensor io;
    memset(&io, 0, sizeof(io));
    io.name = "";
    io.dataType = F32;
    io.format = NNRT_FORMAT_NONE;
    io.dimensions.data = two_three;
    io.dimensions.count = 2;
    io.data = *b;
    return io;
}

static NNRT_SharedBuffer at(void *data, uint32_t bytes)
{
    NNRT_SharedBuffer b = {-1, bytes, 0, bytes, data};
    return b;
}

static void runs(NNRT_PreparedModel *m)
{
    float y[6] = {0};
    const NNRT_SharedBuffer in = at(given, sizeof(given)), out = at(y, sizeof(y));
    const NNRT_IOTensor input = io_of(&in), output = io_of(&out);
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    if (nnrt_prepared_run(m, NULL, 0, &input, 1, &output, 1, NULL, NULL, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_memory_equal(y, expected, sizeof(y));
}

/* On every device: one mapping for both constants, which ends with the prepared model. The descriptor may be closed. */
static void test_constants(void **state)
{
    const char *const devices[] = {"reference", "auto", "npu", "split"};
    nnrt_fake *npu = registered("fake:name=npu"), *split = registered("fake:name=split,fail=PrepareModel");
    const uint32_t before = descriptors(), mapped = mappings();
    (void)state;
    for (uint32_t d = 0; d < COUNT(devices); d++) {
        nnrt_device *device = nnrt_device_find(d < 3 ? devices[d] : "auto");
        NNRT_SharedBuffer b = constants();
        NNRT_ModelConfig config;
        NNRT_PreparedModel *m;
        bool takes[2] = {false, false};
        graph g;
        graph_shared(&g, &b);
        memset(&config, 0, sizeof(config));
        config.autoDevices = d < 3 ? "npu" : "split";
        assert_int_equal(nnrt_model_validate(&g.model, NULL, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_device_supported(device, &g.model, NULL, takes, 2, NULL, NULL), NNRT_SUCCESS);
        assert_true(takes[0] && takes[1]);
        assert_int_equal(mappings(), mapped);
        assert_int_equal(nnrt_device_prepare(device, &g.model, &config, &m), NNRT_SUCCESS);
        assert_int_equal(mappings(), mapped + 1);
        nnrt_buffer_destroy(&b);
        runs(m);
        nnrt_device_release(device, m);
        assert_int_equal(mappings(), mapped);
        assert_int_equal(descriptors(), before);
    }
    unregistered(npu);
    unregistered(split);
}

/* A constant of 0 elements with a descriptor: a block of which it takes nothing, or nothing but the descriptor. */
static void test_constants_empty(void **state)
{
    const char *const devices[] = {"reference", "auto"};
    const uint32_t mapped = mappings();
    const NNRT_Concat attr = {0};
    NNRT_SharedBuffer b = block_of(64);
    (void)state;
    for (uint32_t d = 0; d < 2 * COUNT(devices); d++) {
        nnrt_session *s = NULL;
        nnrt_session_desc desc;
        nnrt_error e;
        float x[3] = {1, 2, 3}, y[3] = {0};
        graph g;
        graph_init(&g);
        (void)tensor(&g, "x", F32, "3");
        (void)tensor(&g, "c", F32, "0");
        (void)tensor(&g, "y", F32, "3");
        node(&g, "join", NNRT_NODE_TYPE_CONCAT, &attr, sizeof(attr), "0 1", "2");
        graph_io(&g, "0", "2");
        g.tensors[1].data = b;
        g.tensors[1].data.dataSize = 0;
        if (d % 2 == 1)
            g.tensors[1].data.bufferSize = 0;
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        desc.device = devices[d / 2];
        if (nnrt_session_create(&s, &g.model, &desc, &e) != NNRT_SUCCESS)
            fail_msg("%s: %s", desc.device, e.message);
        assert_int_equal(nnrt_run(s, &(nnrt_io){x, sizeof(x), NULL}, 1, &(nnrt_io){y, sizeof(y), NULL}, 1), NNRT_SUCCESS);
        assert_memory_equal(x, y, sizeof(y));
        nnrt_session_destroy(s);
        g.tensors[1].data.fd = 0; /* of a struct that was zeroed: no constant */
        assert_int_equal(nnrt_session_create(&s, &g.model, &desc, &e), NNRT_INVALID_INPUT);
    }
    nnrt_buffer_destroy(&b);
    assert_int_equal(mappings(), mapped);
}

/* A part of a split has its constants from the mapping of the whole model. */
static void test_constants_split(void **state)
{
    nnrt_fake *npu = registered("fake:name=npu,ops=ADD_FUSION");
    const uint32_t before = descriptors(), mapped = mappings();
    NNRT_SharedBuffer b = constants();
    NNRT_ModelConfig config;
    NNRT_PreparedModel *m;
    nnrt_device *device = nnrt_device_find("auto");
    size_t bytes;
    void *buffer;
    graph g;
    (void)state;
    graph_shared(&g, &b);
    g.model.outputIndex.count = 0;
    (void)tensor(&g, "z", F32, "2,3");
    ACTIVATION(&g, "act", relu, "4", "5");
    graph_io(&g, "0", "5");
    memset(&config, 0, sizeof(config));
    assert_int_equal(nnrt_device_prepare(device, &g.model, &config, &m), NNRT_SUCCESS);
    assert_int_equal(nnrt_fake_get_record(npu).prepared, 1);
    assert_int_equal(nnrt_fake_get_record(npu).nodes, 2);
    runs(m);
    nnrt_device_release(device, m);
    assert_int_equal(nnrt_device_model_memory(device, &g.model, &config, &bytes), NNRT_SUCCESS);
    assert_int_equal(mappings(), mapped);
    for (uint32_t less = 0; less < 2; less++) {
        assert_int_equal(posix_memalign(&buffer, NNRT_ALIGNMENT, bytes), 0);
        config.buffer = buffer;
        config.bufferBytes = bytes - less;
        assert_int_equal(nnrt_device_prepare(device, &g.model, &config, &m),
                         less == 0 ? NNRT_SUCCESS : NNRT_OUT_OF_MEMORY);
        if (less == 0)
            runs(m);
        nnrt_device_release(device, m);
        free(buffer);
    }
    nnrt_buffer_destroy(&b);
    assert_int_equal(mappings(), mapped);
    assert_int_equal(descriptors(), before);
    unregistered(npu);
}

/* The bytes that GetModelMemory returns suffice, with one fewer nothing stays mapped. */
static void test_constants_memory(void **state)
{
    const uint32_t mapped = mappings();
    nnrt_device *device = nnrt_device_find("reference");
    NNRT_SharedBuffer b = constants();
    NNRT_ModelConfig config;
    NNRT_PreparedModel *m;
    size_t bytes;
    graph g;
    (void)state;
    for (uint32_t k = 0; k < 4; k++) {
        void *buffer;
        memset(&config, 0, sizeof(config));
        config.copyConstants = k > 1;
        graph_shared(&g, &b);
        assert_int_equal(nnrt_device_model_memory(device, &g.model, &config, &bytes), NNRT_SUCCESS);
        assert_int_equal(mappings(), mapped);
        assert_int_equal(posix_memalign(&buffer, NNRT_ALIGNMENT, bytes), 0);
        config.buffer = buffer;
        config.bufferBytes = bytes - k % 2;
        assert_int_equal(nnrt_device_prepare(device, &g.model, &config, &m),
                         k % 2 == 0 ? NNRT_SUCCESS : NNRT_OUT_OF_MEMORY);
        if (k % 2 == 0)
            runs(m);
        nnrt_device_release(device, m);
        assert_int_equal(mappings(), mapped);
        free(buffer);
    }
    nnrt_buffer_destroy(&b);
}

/* HDI: the block is given back, and written anew, right after PrepareModel. */
static void test_constants_overwritten(void **state)
{
    static const float others[3] = {7, 7, 7};
    const char *const devices[] = {"reference", "auto", "npu"};
    nnrt_fake *npu = registered("fake:name=npu");
    (void)state;
    for (uint32_t d = 0; d < COUNT(devices); d++) {
        nnrt_device *device = nnrt_device_find(devices[d]);
        NNRT_SharedBuffer b = constants();
        NNRT_ModelConfig config;
        NNRT_PreparedModel *m;
        graph g;
        graph_shared(&g, &b);
        memset(&config, 0, sizeof(config));
        config.copyConstants = true;
        assert_int_equal(nnrt_device_prepare(device, &g.model, &config, &m), NNRT_SUCCESS);
        put(&b, FIRST, others, 12);
        put(&b, SECOND, others, 12);
        nnrt_buffer_destroy(&b);
        runs(m);
        nnrt_device_release(device, m);
    }
    unregistered(npu);
}

static void test_constants_refused(void **state)
{
    struct {
        uint32_t offset, bytes, size;
        const char *says;
    } cases[] = {
        {SECOND + 4, 12, SECOND + 16, "tensor 2 'd': descriptor"},
        {SECOND + 4, 12, SECOND + 12, "tensor 2 'd': offset 12304 and dataSize 12 run past"},
        {SECOND - 2, 12, SECOND + 12, "not aligned to 4 bytes"},
        {FIRST, 8, SECOND + 12, "has 8 bytes of data, its shape needs 12"},
    };
    const uint32_t before = descriptors(), mapped = mappings();
    nnrt_device *device = nnrt_device_find("reference");
    NNRT_SharedBuffer b = constants();
    (void)state;
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        const NNRT_ReturnCode code = i == 3 ? NNRT_INVALID_BUFFER_SIZE : NNRT_INVALID_BUFFER;
        NNRT_ModelConfig config;
        NNRT_PreparedModel *m;
        nnrt_error e;
        bool takes[2];
        graph g;
        graph_shared(&g, &b);
        g.tensors[2].data = part_of(&b, cases[i].offset, cases[i].bytes);
        g.tensors[2].data.bufferSize = cases[i].size;
        memset(&config, 0, sizeof(config));
        memset(&e, 0, sizeof(e));
        config.error = &e;
        assert_int_equal(nnrt_device_prepare(device, &g.model, &config, &m), code);
        assert_null(m);
        assert_int_equal(e.tensor, 2);
        if (strstr(e.message, cases[i].says) == NULL)
            fail_msg("'%s' does not say '%s'", e.message, cases[i].says);
        assert_int_equal(nnrt_device_supported(device, &g.model, NULL, takes, 2, NULL, NULL), code);
        assert_int_equal(nnrt_model_validate(&g.model, NULL, NULL), code);
        assert_int_equal(mappings(), mapped);
    }
    nnrt_buffer_destroy(&b);
    assert_int_equal(descriptors(), before);
}

/* Functions that use a model without preparing it get addresses. */
static void test_constants_unmapped(void **state)
{
    NNRT_SharedBuffer b = constants();
    const uint32_t mapped = mappings();
    nnrt_memory memory;
    nnrt_error e;
    graph g;
    (void)state;
    graph_shared(&g, &b);
    memset(&e, 0, sizeof(e));
    nnrt_memory_allocate(&memory, NULL);
    assert_int_equal(nnrt_model_check(&g.model, &memory, NULL, &e), NNRT_INVALID_BUFFER);
    assert_non_null(strstr(e.message, "tensor 1 'c': its data have a descriptor but no address"));
    nnrt_memory_end(&memory);
    assert_int_equal(mappings(), mapped);
    nnrt_buffer_destroy(&b);
}

/* Every allocation that fails, and none: nothing stays mapped. */
static void test_constants_no_memory(void **state)
{
    const uint32_t mapped = mappings();
    nnrt_device *device = nnrt_device_find("auto");
    nnrt_fake *npu = registered("fake:name=npu,ops=ADD_FUSION");
    NNRT_SharedBuffer b = constants();
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    graph g;
    (void)state;
    graph_shared(&g, &b);
    (void)tensor(&g, "z", F32, "2,3");
    ACTIVATION(&g, "act", relu, "4", "5");
    graph_io(&g, "0", "5");
    for (int64_t fails = 1; code == NNRT_OUT_OF_MEMORY; fails++) {
        tracker t;
        nnrt_allocator a;
        NNRT_ModelConfig config;
        NNRT_PreparedModel *m;
        memset(&t, 0, sizeof(t));
        memset(&config, 0, sizeof(config));
        t.failAt = fails;
        a = allocator_of(&t);
        config.allocator = &a;
        code = nnrt_device_prepare(device, &g.model, &config, &m);
        if (code == NNRT_SUCCESS && t.calls >= fails)
            code = NNRT_OUT_OF_MEMORY; /* auto fell back */
        nnrt_device_release(device, m);
        assert_int_equal(t.live, 0);
        assert_int_equal(mappings(), mapped);
    }
    assert_int_equal(code, NNRT_SUCCESS);
    nnrt_buffer_destroy(&b);
    unregistered(npu);
}

/* ---- inputs and outputs ---- */

static void test_run(void **state)
{
    const char *const devices[] = {"reference", "auto", "npu"};
    nnrt_fake *npu = registered("fake:name=npu");
    const uint32_t before = descriptors(), mapped = mappings();
    (void)state;
    for (uint32_t d = 0; d < COUNT(devices); d++) {
        nnrt_device *device = nnrt_device_find(devices[d]);
        NNRT_SharedBuffer b = constants(), in = block_of(5000), out = block_of(5024);
        const NNRT_SharedBuffer from = part_of(&in, 4976, 24), to = part_of(&out, 5000, 24);
        const NNRT_IOTensor input = io_of(&from), output = io_of(&to);
        NNRT_PreparedModel *m;
        nnrt_dims dims;
        size_t bytes;
        graph g;
        graph_shared(&g, &b);
        put(&in, 4976, given, sizeof(given));
        assert_int_equal(nnrt_device_prepare(device, &g.model, NULL, &m), NNRT_SUCCESS);
        assert_int_equal(m->vtbl->GetWorkspaceSize(m, &bytes), NNRT_SUCCESS);
        for (uint32_t own = 0; own < 2; own++) { /* Run, RunIn */
            float y[6] = {0};
            void *workspace = NULL;
            nnrt_error e;
            memset(&e, 0, sizeof(e));
            assert_int_equal(posix_memalign(&workspace, NNRT_ALIGNMENT, bytes), 0);
            put(&out, 5000, y, sizeof(y));
            if (nnrt_prepared_run(m, own ? workspace : NULL, bytes, &input, 1, &output, 1, &dims, NULL, &e) !=
                NNRT_SUCCESS)
                fail_msg("%s", e.message);
            get(&out, 5000, y, sizeof(y));
            assert_memory_equal(y, expected, sizeof(y));
            assert_int_equal(dims.rank, 2);
            assert_int_equal(mappings(), mapped + 1);
            free(workspace);
        }
        nnrt_device_release(device, m);
        nnrt_buffer_destroy(&b);
        nnrt_buffer_destroy(&in);
        nnrt_buffer_destroy(&out);
        assert_int_equal(descriptors(), before);
        assert_int_equal(mappings(), mapped);
    }
    unregistered(npu);
}

/* Codes of API_HDI's Run, in their order: type, format, shape, then the buffer. */
static void test_run_refuses(void **state)
{
    NNRT_SharedBuffer b = constants(), in = block_of(64), out = block_of(64);
    nnrt_device *device = nnrt_device_find("reference");
    const uint32_t before = descriptors(), mapped = mappings();
    NNRT_PreparedModel *m;
    graph g;
    (void)state;
    graph_shared(&g, &b);
    assert_int_equal(nnrt_device_prepare(device, &g.model, NULL, &m), NNRT_SUCCESS);
    for (uint32_t i = 0; i < 11; i++) {
        NNRT_SharedBuffer from = part_of(&in, 40, 24), to = part_of(&out, 40, 24);
        NNRT_IOTensor input = io_of(&from), output = io_of(&to);
        NNRT_ReturnCode code = NNRT_INVALID_BUFFER;
        const char *says = "";
        nnrt_error e;
        memset(&e, 0, sizeof(e));
        switch (i) {
        case 0: input.data.bufferSize = 63, says = "input 0 'x'"; break;
        case 1: input.data.bufferSize = input.data.offset = 0x7FFFFFFF, says = "input 0 'x'"; break;
        case 2: input.data.offset = 39, says = "not aligned to the 4 bytes"; break;
        case 3: input.data.fd = 9999, says = "input 0 'x': descriptor 9999"; break;
        case 4: output.data.offset = 44, output.data.bufferSize = 68, says = "output 0 'y': descriptor"; break;
        case 5: output.data.fd = -1, says = "output 0 'y' has no address"; break;
        case 6: input.data.dataSize = 20, code = NNRT_INVALID_BUFFER_SIZE; break;
        case 7: output.data.dataSize = 20, code = NNRT_INSUFFICIENT_BUFFER; break;
        case 8: input.data.fd = -1, input.dimensions.count = 1, code = NNRT_INVALID_SHAPE; break;
        case 9: input.data.fd = -1, input.dataType = I32, code = NNRT_INVALID_DATATYPE; break;
        default: /* the output's mapping fails after the input's */
            output.data.bufferSize = 100, output.data.dataSize = 60, says = "has 64 bytes, the data end at 100";
            break;
        }
        assert_int_equal(nnrt_prepared_run(m, NULL, 0, &input, 1, &output, 1, NULL, NULL, &e), code);
        assert_int_equal(mappings(), mapped + 1);
        e.code = NNRT_SUCCESS; /* Run's message goes to RunIn's error only */
        {
            void *workspace = NULL;
            size_t bytes;
            assert_int_equal(m->vtbl->GetWorkspaceSize(m, &bytes), NNRT_SUCCESS);
            assert_int_equal(posix_memalign(&workspace, NNRT_ALIGNMENT, bytes), 0);
            memset(&e, 0, sizeof(e));
            assert_int_equal(nnrt_prepared_run(m, workspace, bytes, &input, 1, &output, 1, NULL, NULL, &e), code);
            if (strstr(e.message, says) == NULL)
                fail_msg("case %u: '%s' does not say '%s'", i, e.message, says);
            free(workspace);
        }
        assert_int_equal(mappings(), mapped + 1);
        assert_int_equal(descriptors(), before);
    }
    nnrt_device_release(device, m);
    nnrt_buffer_destroy(&b);
    nnrt_buffer_destroy(&in);
    nnrt_buffer_destroy(&out);
}

/* ---- AllocateBuffer, ReleaseBuffer ---- */

static void test_allocate(void **state)
{
    const uint32_t before = descriptors();
    nnrt_fake *npu = registered("fake:name=npu"), *bare = registered("fake:name=bare,without=AllocateBuffer+ReleaseBuffer");
    nnrt_device *const devices[] = {nnrt_device_find("npu"), nnrt_device_find("bare"), nnrt_device_find("reference"), NULL};
    NNRT_SharedBuffer b, none = {-1, 8, 0, 8, NULL}, foreign = block_of(8), other;
    (void)state;
    for (uint32_t d = 0; d < COUNT(devices); d++) {
        assert_int_equal(nnrt_device_allocate(devices[d], 100, &b), NNRT_SUCCESS);
        assert_true(b.fd >= 0 && b.bufferSize >= 100);
        assert_int_equal(b.offset, 0);
        assert_int_equal(b.dataSize, 100);
        assert_int_equal(nnrt_fake_get_record(npu).blocks, d == 0);
        put(&b, 0, "written", 7);
        assert_int_equal(nnrt_device_unregister("npu"), d == 0 ? NNRT_DEVICE_BUSY : NNRT_SUCCESS);
        if (d > 0)
            npu = registered("fake:name=npu");
        assert_int_equal(nnrt_device_free(devices[d], &none), NNRT_INVALID_BUFFER);
        assert_int_equal(nnrt_device_free(devices[d], NULL), NNRT_NULL_PTR);
        assert_int_equal(nnrt_device_free(devices[d], &b), NNRT_SUCCESS);
        assert_int_equal(nnrt_device_allocate(devices[d], 0, &b), NNRT_INVALID_PARAMETER);
        assert_int_equal(b.fd, -1);
        assert_int_equal(nnrt_device_allocate(devices[d], 1, NULL), NNRT_NULL_PTR);
        /* both were refused before the device was asked */
        assert_int_equal(nnrt_fake_get_record(npu).calls[NNRT_FAKE_AllocateBuffer], d == 0);
    }
    /* a block of another one; one with another size; only the one that is released goes */
    assert_int_equal(nnrt_device_allocate(devices[0], 100, &b), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_allocate(devices[0], 100, &other), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_free(devices[0], &foreign), NNRT_INVALID_BUFFER);
    b.bufferSize = 99;
    assert_int_equal(nnrt_device_free(devices[0], &b), NNRT_INVALID_BUFFER_SIZE);
    b.bufferSize = 100;
    assert_int_equal(nnrt_device_free(devices[0], &b), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_free(devices[0], &b), NNRT_INVALID_BUFFER); /* once */
    assert_int_equal(nnrt_fake_get_record(npu).blocks, 1);
    put(&other, 99, "!", 1);
    assert_int_equal(nnrt_device_free(devices[0], &other), NNRT_SUCCESS);
    nnrt_buffer_destroy(&foreign);
    unregistered(npu);
    unregistered(bare);
    assert_int_equal(descriptors(), before);
}

static void test_allocate_fails(void **state)
{
    nnrt_fake *npu = registered("fake:name=npu,fail=AllocateBuffer,code=MEMORY_ERROR");
    nnrt_error e;
    NNRT_SharedBuffer b;
    (void)state;
    assert_int_equal(nnrt_device_allocate(nnrt_device_find("npu"), 8, &b), NNRT_MEMORY_ERROR);
    assert_int_equal(b.fd, -1);
    assert_int_equal(b.bufferSize, 0);
    unregistered(npu);
    npu = registered("fake:name=npu,garbage=AllocateBuffer"); /* shorter than asked for */
    assert_int_equal(nnrt_device_allocate(nnrt_device_find("npu"), 8, &b), NNRT_DEVICE_ERROR);
    assert_int_equal(nnrt_fake_get_record(npu).calls[NNRT_FAKE_ReleaseBuffer], 1);
    unregistered(npu);
    npu = registered("fake:name=npu,fail=ReleaseBuffer:1");
    assert_int_equal(nnrt_device_allocate(nnrt_device_find("npu"), 8, &b), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_free(nnrt_device_find("npu"), &b), NNRT_DEVICE_ERROR);
    assert_int_equal(nnrt_device_unregister("npu"), NNRT_DEVICE_BUSY); /* it is not given back yet */
    assert_int_equal(nnrt_device_free(nnrt_device_find("npu"), &b), NNRT_SUCCESS);
    unregistered(npu);
    memset(&e, 0, sizeof(e)); /* both or none */
    assert_int_equal(nnrt_fake_register(NULL, "fake:name=npu,without=AllocateBuffer", &e), NNRT_INVALID_PARAMETER);
    assert_non_null(strstr(e.message, "AllocateBuffer and ReleaseBuffer"));
    assert_int_equal(nnrt_fake_register(NULL, "fake:name=npu,without=ReleaseBuffer", NULL), NNRT_INVALID_PARAMETER);
}

/* ---- sessions ---- */

/* A device that records the arguments of a run, and computes nothing. */
typedef struct watcher {
    NNRT_DeviceVtbl table;
    NNRT_PreparedModelVtbl model;
    NNRT_PreparedModel prepared;
    NNRT_IOTensor in, out;
    uint32_t runs;
    bool unmappable; /* blocks that it allocates */
} watcher;

static watcher watched;

static NNRT_ReturnCode watcher_version(void *self, uint32_t *major, uint32_t *minor)
{
    (void)self;
    *major = 2;
    *minor = 1;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode watcher_name(void *self, const char **name)
{
    (void)self;
    *name = "watcher";
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode watcher_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                       NNRT_PreparedModel **prepared)
{
    (void)self;
    (void)model;
    (void)config;
    *prepared = &watched.prepared;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode watcher_run(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                                   const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    (void)self;
    (void)outputDims;
    assert_int_equal(nIn, 1);
    assert_int_equal(nOut, 1);
    watched.in = inputs[0];
    watched.out = outputs[0];
    watched.runs++;
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode watcher_allocate(void *self, uint32_t length, NNRT_SharedBuffer *buffer)
{
    NNRT_ReturnCode code = nnrt_buffer_create(length, buffer);
    (void)self;
    if (code == NNRT_SUCCESS && watched.unmappable) {
        (void)close(buffer->fd);
        buffer->fd = open("/dev/null", O_RDWR);
    }
    return code;
}

static NNRT_ReturnCode watcher_free(void *self, const NNRT_SharedBuffer *buffer)
{
    (void)self;
    nnrt_buffer_destroy(buffer);
    return NNRT_SUCCESS;
}

/* A device of HDI 2.0, whose tables end where HDI's ends. */
static void watcher_open(void)
{
    memset(&watched, 0, sizeof(watched));
    watched.table.structSize = (uint32_t)offsetof(NNRT_DeviceVtbl, Destroy);
    watched.model.structSize = (uint32_t)offsetof(NNRT_PreparedModelVtbl, Destroy);
    watched.table.version = watched.model.version = NNRT_HDI(2, 0);
    watched.table.GetVersion = watcher_version;
    watched.table.GetDeviceName = watched.table.GetVendorName = watcher_name;
    watched.table.PrepareModel = watcher_prepare;
    watched.table.AllocateBuffer = watcher_allocate;
    watched.table.ReleaseBuffer = watcher_free;
    watched.model.Run = watcher_run;
    watched.prepared.vtbl = &watched.model;
    assert_int_equal(nnrt_device_register(&watched.table, NULL, NULL), NNRT_SUCCESS);
}

static nnrt_session *session_on(const graph *g, const char *device, const nnrt_allocator *a)
{
    nnrt_session_desc desc;
    nnrt_session *s;
    nnrt_error e;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = device;
    desc.allocator = a;
    if (nnrt_session_create(&s, &g->model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    return s;
}

/* The device is given the addresses that the program writes to, and the descriptors; nothing is copied. */
static void test_session_sees_the_same(void **state)
{
    const uint32_t before = descriptors(), mapped = mappings();
    NNRT_SharedBuffer b = constants(), mine;
    nnrt_io in, out;
    nnrt_session *s;
    graph g;
    (void)state;
    watcher_open();
    graph_shared(&g, &b);
    s = session_on(&g, "watcher", NULL);
    assert_int_equal(nnrt_session_allocate(s, false, 0, &in), NNRT_SUCCESS);
    assert_int_equal(nnrt_session_allocate(s, true, 0, &out), NNRT_SUCCESS);
    assert_int_equal(in.bytes, 24);
    assert_int_equal(out.bytes, 24);
    assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
    assert_ptr_equal(watched.in.data.addr, in.data);
    assert_ptr_equal(watched.out.data.addr, out.data);
    assert_true(watched.in.data.fd >= 0 && watched.out.data.fd >= 0 && watched.in.data.fd != watched.out.data.fd);
    assert_int_equal(watched.in.data.dataSize, 24);
    memcpy(in.data, given, 24); /* the descriptor maps the same memory */
    {
        NNRT_SharedBuffer seen = watched.in.data;
        float values[6];
        seen.addr = NULL;
        get(&seen, 0, values, 24);
        assert_memory_equal(values, given, 24);
    }
    /* a block of the caller's, from the middle of it */
    mine = block_of(9000);
    {
        const NNRT_SharedBuffer part = part_of(&mine, 8200, 24);
        nnrt_io own;
        assert_int_equal(nnrt_session_map(s, false, 0, &part, &own), NNRT_SUCCESS);
        assert_int_equal(own.bytes, 24);
        assert_int_equal(nnrt_run(s, &own, 1, &out, 1), NNRT_SUCCESS);
        assert_int_equal(watched.in.data.fd, mine.fd);
        assert_int_equal(watched.in.data.offset, 8200);
        assert_int_equal(watched.in.data.dataSize, 24);
        assert_int_equal(watched.in.data.bufferSize, 9000);
        assert_ptr_equal((uint8_t *)watched.in.data.addr + 8200, own.data);
        assert_int_equal(nnrt_session_map(s, false, 0, NULL, &own), NNRT_SUCCESS);
        assert_null(own.data);
    }
    {
        nnrt_io plain = nnrt_io_make(given, sizeof(given)); /* other memory goes as ever */
        assert_int_equal(nnrt_run(s, &plain, 1, &out, 1), NNRT_SUCCESS);
        assert_ptr_equal(watched.in.data.addr, given);
        assert_int_equal(watched.in.data.fd, -1);
        assert_int_equal(watched.in.data.offset, 0);
    }
    assert_int_equal(watched.runs, 3);
    watched.unmappable = true; /* a block that cannot be mapped is freed */
    assert_int_equal(nnrt_session_allocate(s, false, 0, &in), NNRT_INVALID_BUFFER);
    assert_null(in.data);
    nnrt_session_destroy(s);
    nnrt_buffer_destroy(&mine);
    nnrt_buffer_destroy(&b);
    assert_int_equal(nnrt_device_unregister("watcher"), NNRT_SUCCESS);
    assert_int_equal(descriptors(), before);
    assert_int_equal(mappings(), mapped);
}

/* On devices with and without AllocateBuffer, and a session that shares another one's model. A run allocates nothing. */
static void test_session_allocate(void **state)
{
    const char *const devices[] = {"reference", "auto", "npu", "bare"};
    nnrt_fake *npu = registered("fake:name=npu"), *bare = registered("fake:name=bare,without=AllocateBuffer+ReleaseBuffer");
    const uint32_t before = descriptors(), mapped = mappings();
    NNRT_SharedBuffer b = constants();
    graph g;
    (void)state;
    graph_shared(&g, &b);
    for (uint32_t d = 0; d < COUNT(devices); d++) {
        tracker t;
        const nnrt_allocator a = allocator_of(&t);
        nnrt_session *s, *second;
        nnrt_session_desc desc;
        nnrt_io in, out;
        int64_t calls;
        memset(&t, 0, sizeof(t));
        memset(&desc, 0, sizeof(desc));
        s = session_on(&g, devices[d], &a);
        desc.share = s;
        assert_int_equal(nnrt_session_create(&second, &g.model, &desc, NULL), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_allocate(s, false, 0, &in), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_allocate(s, false, 0, &in), NNRT_SUCCESS); /* anew */
        assert_int_equal(nnrt_session_allocate(second, true, 0, &out), NNRT_SUCCESS);
        assert_int_equal(nnrt_fake_get_record(npu).blocks, d == 2 ? 2 : 0);
        memcpy(in.data, given, sizeof(given));
        calls = t.calls;
        for (uint32_t i = 0; i < 3; i++) {
            memset(out.data, 0, 24);
            assert_int_equal(nnrt_run(i < 2 ? s : second, &in, 1, &out, 1), NNRT_SUCCESS);
            assert_memory_equal(out.data, expected, sizeof(expected));
        }
        assert_int_equal(t.calls, calls);
        nnrt_session_destroy(s);
        nnrt_session_destroy(second);
        assert_int_equal(t.live, 0);
        assert_false(t.wrong);
        assert_int_equal(mappings(), mapped);
    }
    nnrt_buffer_destroy(&b);
    unregistered(npu);
    unregistered(bare);
    assert_int_equal(descriptors(), before);
}

static void says(const nnrt_session *s, const char *text)
{
    if (strstr(nnrt_session_error(s), text) == NULL)
        fail_msg("'%s' does not say '%s'", nnrt_session_error(s), text);
}

static void test_session_allocate_refuses(void **state)
{
    nnrt_fake *npu = registered("fake:name=npu,fail=AllocateBuffer:1,code=OUT_OF_MEMORY");
    NNRT_SharedBuffer b = constants(), small = block_of(20), part;
    tracker t;
    const nnrt_allocator a = allocator_of(&t);
    nnrt_session *s;
    nnrt_io io;
    graph g;
    (void)state;
    memset(&t, 0, sizeof(t));
    graph_shared(&g, &b);
    s = session_on(&g, "npu", &a);
    assert_int_equal(nnrt_session_allocate(NULL, false, 0, &io), NNRT_NULL_PTR);
    assert_int_equal(nnrt_session_map(NULL, false, 0, &small, &io), NNRT_NULL_PTR);
    assert_int_equal(nnrt_session_allocate(s, false, 0, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_session_allocate(s, false, 1, &io), NNRT_INVALID_PARAMETER);
    says(s, "there is no input 1, the model has 1");
    assert_int_equal(nnrt_session_allocate(s, true, 1, &io), NNRT_INVALID_PARAMETER);
    t.failAt = t.calls + 1;
    assert_int_equal(nnrt_session_allocate(s, false, 0, &io), NNRT_OUT_OF_MEMORY); /* its table */
    assert_int_equal(nnrt_session_allocate(s, false, 0, &io), NNRT_OUT_OF_MEMORY); /* the device */
    says(s, "device 'npu_nnrt_v1_0' gives no 24 bytes for input 0: NNRT_OUT_OF_MEMORY (5)");
    assert_null(io.data);
    assert_int_equal(nnrt_session_allocate(s, false, 0, &io), NNRT_SUCCESS);
    assert_string_equal(nnrt_session_error(s), "");
    assert_int_equal(nnrt_session_map(s, false, 0, &small, &io), NNRT_INVALID_BUFFER_SIZE);
    says(s, "input 0 'x' has 20 bytes, expected 24");
    assert_int_equal(nnrt_session_map(s, true, 0, &small, &io), NNRT_INSUFFICIENT_BUFFER);
    part = part_of(&small, 0, 24);
    part.bufferSize = 24;
    assert_int_equal(nnrt_session_map(s, true, 0, &part, &io), NNRT_INVALID_BUFFER);
    says(s, "output 0 'y': descriptor");
    assert_int_equal(nnrt_fake_get_record(npu).blocks, 0);
    nnrt_session_destroy(s);
    assert_int_equal(t.live, 0);
    nnrt_buffer_destroy(&b);
    nnrt_buffer_destroy(&small);
    unregistered(npu);
}

/* ---- requests of a configuration ---- */

/* x + c + d -> y with c and d in the program; the session, or the code that creating it gives. */
static NNRT_ReturnCode ask(const nnrt_session_desc *desc, nnrt_session **s, nnrt_error *e)
{
    static const float c[3] = {1, 2, 3}, d[3] = {10, 20, 30};
    static graph g;
    graph_init(&g);
    (void)tensor(&g, "x", F32, "2,3");
    (void)constant(&g, "c", F32, "3", c, 12);
    (void)constant(&g, "d", F32, "3", d, 12);
    (void)tensor(&g, "a", F32, "2,3");
    (void)tensor(&g, "y", F32, "2,3");
    ADD(&g, "first", "0 1", "3");
    ADD(&g, "second", "3 2", "4");
    graph_io(&g, "0", "4");
    memset(e, 0, sizeof(*e));
    return nnrt_session_create(s, &g.model, desc, e);
}

static const char *const able = "fake:name=npu,float16=yes,modes=yes,priorities=yes";

/* Each wish reaches a device that can, through auto too; of one that cannot it is NOT_SUPPORT, and a value that does not
   exist has its own code on all devices. The reference device takes the performance mode and the priority as hints. */
static void test_wishes(void **state)
{
    static const NNRT_Extension extensions[2] = {{"key", "value", 6}, {"empty", NULL, 0}};
    static const struct {
        bool float16;
        NNRT_PerformanceMode mode;
        NNRT_Priority priority;
        NNRT_ReturnCode bare;
        const char *says;
    } cases[] = {
        {false, NNRT_PERFORMANCE_NONE, NNRT_PRIORITY_NONE, NNRT_SUCCESS, ""},
        {true, NNRT_PERFORMANCE_NONE, NNRT_PRIORITY_NONE, NNRT_NOT_SUPPORT, "has no float32 in float16"},
        {false, NNRT_PERFORMANCE_LOW, NNRT_PRIORITY_NONE, NNRT_NOT_SUPPORT, "has no performance modes"},
        {false, NNRT_PERFORMANCE_EXTREME, NNRT_PRIORITY_NONE, NNRT_NOT_SUPPORT, "has no performance modes"},
        {false, NNRT_PERFORMANCE_NONE, NNRT_PRIORITY_LOW, NNRT_NOT_SUPPORT, "has no priorities"},
        {false, NNRT_PERFORMANCE_NONE, NNRT_PRIORITY_HIGH, NNRT_NOT_SUPPORT, "has no priorities"},
        {false, -1, NNRT_PRIORITY_NONE, NNRT_INVALID_PERFORMANCE_MODE, "performance mode -1"},
        {false, NNRT_PERFORMANCE_EXTREME + 1, NNRT_PRIORITY_NONE, NNRT_INVALID_PERFORMANCE_MODE, "performance mode 5"},
        {false, NNRT_PERFORMANCE_NONE, -1, NNRT_INVALID_PRIORITY, "priority -1"},
        {true, NNRT_PERFORMANCE_NONE, NNRT_PRIORITY_HIGH + 1, NNRT_INVALID_PRIORITY, "priority 4"},
    };
    const char *const devices[] = {"npu", "auto", "reference", "bare", "auto:bare"};
    nnrt_fake *npu = registered(able), *bare = registered("fake:name=bare");
    (void)state;
    for (uint32_t d = 0; d < COUNT(devices); d++)
        for (uint32_t i = 0; i < COUNT(cases); i++) {
            const bool can = strcmp(devices[d], "npu") == 0 || strncmp(devices[d], "auto", 4) == 0;
            const bool hint = strcmp(devices[d], "reference") == 0 && !cases[i].float16;
            const NNRT_ReturnCode code =
                cases[i].bare == NNRT_NOT_SUPPORT && (can || hint) ? NNRT_SUCCESS : cases[i].bare;
            nnrt_session_desc desc;
            nnrt_session *s;
            nnrt_error e;
            memset(&desc, 0, sizeof(desc));
            desc.device = devices[d];
            desc.enableFloat16 = cases[i].float16;
            desc.mode = cases[i].mode;
            desc.priority = cases[i].priority;
            desc.extensions = NNRT_ExtensionList_make(extensions, 2);
            assert_int_equal(ask(&desc, &s, &e), code);
            if (code != NNRT_SUCCESS && strstr(e.message, cases[i].says) == NULL)
                fail_msg("'%s' does not say '%s'", e.message, cases[i].says);
            if (code == NNRT_SUCCESS && d != 2) {
                const nnrt_fake_record r = nnrt_fake_get_record(d < 2 ? npu : bare);
                assert_int_equal(r.enableFloat16, d < 2 && cases[i].float16);
                assert_int_equal(r.mode, d < 2 ? cases[i].mode : 0); /* auto requests only supported settings */
                assert_int_equal(r.priority, d < 2 ? cases[i].priority : 0);
                assert_int_equal(r.extensions, 2);
            }
            nnrt_session_destroy(s);
        }
    unregistered(npu);
    unregistered(bare);
}

/* A list that has no entries, a name that is none, a value that is none. */
static void test_extensions(void **state)
{
    static const NNRT_Extension nameless[1] = {{NULL, "x", 1}}, valueless[2] = {{"a", "x", 1}, {"b", NULL, 1}};
    const NNRT_ExtensionList lists[] = {{NULL, 1}, {nameless, 1}, {valueless, 2}};
    const char *const texts[] = {"counts 1 extensions", "extension 0 '' has no name", "extension 1 'b' has no data"};
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        nnrt_session_desc desc;
        nnrt_session *s;
        nnrt_error e;
        memset(&desc, 0, sizeof(desc));
        desc.extensions = lists[i];
        assert_int_equal(ask(&desc, &s, &e), NNRT_NULL_PTR);
        assert_non_null(strstr(e.message, texts[i]));
    }
}

/* A sharing session has the settings of its owner. */
static void test_wishes_shared(void **state)
{
    static const NNRT_Extension extension = {"a", "b", 1};
    nnrt_fake *npu = registered(able);
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        nnrt_session_desc desc;
        nnrt_session *s, *second;
        nnrt_error e;
        memset(&desc, 0, sizeof(desc));
        desc.device = "npu";
        assert_int_equal(ask(&desc, &s, &e), NNRT_SUCCESS);
        desc.share = s;
        desc.enableFloat16 = i == 1;
        desc.mode = i == 2 ? NNRT_PERFORMANCE_LOW : NNRT_PERFORMANCE_NONE;
        desc.priority = i == 3 ? NNRT_PRIORITY_LOW : NNRT_PRIORITY_NONE;
        desc.extensions = NNRT_ExtensionList_make(&extension, i == 4);
        desc.offlineCount = i == 5;
        desc.offline = &(NNRT_SharedBuffer){-1, 0, 0, 0, NULL};
        assert_int_equal(ask(&desc, &second, &e), i == 0 ? NNRT_SUCCESS : NNRT_INVALID_PARAMETER);
        nnrt_session_destroy(second);
        nnrt_session_destroy(s);
    }
    unregistered(npu);
}

/* float16 has 10 fraction bits, ties round to even; 65520 and more are infinite; below 2^-14 the values are multiples of
   2^-24. */
static void test_float16(void **state)
{
    const float tiny = 1.0f / 16777216.0f; /* 2^-24 */
    float x[6] = {1 + 1.0f / 4096, 2049, 65520, 0, 0, -2051}, y[6];
    const float narrow[6] = {1, 2048, (float)INFINITY, 0, 0, -2052};
    static const float zero[3] = {0};
    nnrt_fake *npu = registered(able);
    (void)state;
    x[3] = tiny / 2;
    x[4] = tiny * 1.5f;
    for (uint32_t half = 0; half < 2; half++) {
        nnrt_session_desc desc;
        nnrt_session *s;
        nnrt_error e;
        graph g;
        graph_init(&g);
        (void)tensor(&g, "x", F32, "2,3");
        (void)constant(&g, "c", F32, "3", zero, 12);
        (void)tensor(&g, "y", F32, "2,3");
        ADD(&g, "sum", "0 1", "2");
        graph_io(&g, "0", "2");
        memset(&desc, 0, sizeof(desc));
        memset(&e, 0, sizeof(e));
        desc.device = "npu";
        desc.enableFloat16 = half == 1;
        assert_int_equal(nnrt_session_create(&s, &g.model, &desc, &e), NNRT_SUCCESS);
        assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
        for (uint32_t i = 0; i < 6; i++) {
            const float wanted = half == 0 ? x[i] : i == 4 ? tiny * 2 : narrow[i];
            assert_memory_equal(&y[i], &wanted, 4);
        }
        nnrt_session_destroy(s);
    }
    unregistered(npu);
}

/* ---- offline models ---- */

static void test_offline(void **state)
{
    nnrt_fake *npu = registered("fake:name=npu"), *without = registered("fake:name=without,without=PrepareOfflineModel");
    const uint32_t mapped = mappings();
    NNRT_SharedBuffer b = block_of(100), part = part_of(&b, 40, 7);
    static const NNRT_Extension extension = {"a", "b", 1};
    float x[6] = {1, -2, 3, -4, 5, -6}, y[6];
    nnrt_session_desc desc;
    nnrt_session *s;
    nnrt_error e;
    size_t bytes;
    graph g;
    (void)state;
    put(&b, 40, "ABS 2,3", 7);
    graph_init(&g); /* inputs and outputs alone */
    (void)tensor(&g, "in", F32, "2,3");
    (void)tensor(&g, "out", F32, "2,3");
    graph_io(&g, "0", "1");
    g.model.subGraph.count = 0;
    memset(&desc, 0, sizeof(desc));
    memset(&e, 0, sizeof(e));
    desc.device = "npu";
    desc.offline = &part;
    desc.offlineCount = 1;
    desc.extensions = NNRT_ExtensionList_make(&extension, 1);
    if (nnrt_session_create(&s, &g.model, &desc, &e) != NNRT_SUCCESS)
        fail_msg("%s", e.message);
    assert_int_equal(nnrt_fake_get_record(npu).calls[NNRT_FAKE_PrepareOfflineModel], 1);
    assert_int_equal(nnrt_fake_get_record(npu).calls[NNRT_FAKE_PrepareModel], 0);
    assert_int_equal(nnrt_fake_get_record(npu).calls[NNRT_FAKE_GetSupportedOperation], 0); /* it is not asked */
    assert_int_equal(nnrt_fake_get_record(npu).calls[NNRT_FAKE_GetSupportedNodes], 0);
    assert_int_equal(nnrt_fake_get_record(npu).extensions, 1);
    put(&b, 40, "NEG 9,9", 7); /* the block is given back: nothing of it is kept */
    assert_string_equal(nnrt_session_input(s, 0).name, "in");
    assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
    for (uint32_t i = 0; i < 6; i++)
        assert_true(y[i] == (float)(i + 1));
    nnrt_session_destroy(s);
    assert_int_equal(mappings(), mapped);
    put(&b, 40, "ABS 2,3", 7);
    assert_int_equal(nnrt_session_bytes(&g.model, &desc, &bytes, NULL), NNRT_NOT_SUPPORT);
    for (uint32_t less = 0; less < 2; less++) { /* in a buffer that is large enough, and one that is not */
        void *buffer;
        assert_int_equal(posix_memalign(&buffer, NNRT_ALIGNMENT, 65536), 0);
        desc.buffer = buffer;
        desc.bufferBytes = less ? 1024 : 65536;
        assert_int_equal(nnrt_session_create(&s, &g.model, &desc, NULL), less ? NNRT_OUT_OF_MEMORY : NNRT_SUCCESS);
        if (s != NULL)
            assert_int_equal(nnrt_run(s, NNRT_IO(x), NNRT_IO(y)), NNRT_SUCCESS);
        nnrt_session_destroy(s);
        free(buffer);
        desc.buffer = NULL;
    }
    put(&b, 40, "ABS 2;3", 7); /* no valid model; a failed allocation; a device that takes none */
    assert_int_equal(nnrt_session_create(&s, &g.model, &desc, NULL), NNRT_INVALID_MODEL);
    part.bufferSize = 46;
    assert_int_equal(nnrt_session_create(&s, &g.model, &desc, NULL), NNRT_INVALID_BUFFER);
    memset(&e, 0, sizeof(e));
    desc.device = "without";
    assert_int_equal(nnrt_session_create(&s, &g.model, &desc, &e), NNRT_NOT_SUPPORT);
    assert_non_null(strstr(e.message, "takes no offline models"));
    desc.device = "reference";
    assert_int_equal(nnrt_session_create(&s, &g.model, &desc, NULL), NNRT_NOT_SUPPORT);
    desc.offline = NULL;
    assert_int_equal(nnrt_session_create(&s, &g.model, &desc, NULL), NNRT_NULL_PTR);
    desc.offlineCount = 0; /* the model alone is none */
    assert_int_equal(nnrt_session_create(&s, &g.model, &desc, NULL), NNRT_INVALID_MODEL);
    nnrt_buffer_destroy(&b);
    unregistered(npu);
    unregistered(without);
}

/* ---- every method of the interface, in tables of its versions ---- */

/* A device that doubles, with all methods of HDI 2.1, and a record of the calls. Its tables have the requested length, and the
   bytes after them are not accessible. */
typedef struct driver {
    NNRT_DeviceVtbl *table;
    NNRT_PreparedModelVtbl *model;
    NNRT_PreparedModel prepared;
    NNRT_ReturnCode code; /* of PrepareModel, PrepareOfflineModel and the runs */
    bool full;            /* RunV1: the output is large enough */
    char called[1024];
} driver;

static driver it;

static NNRT_ReturnCode called(const char *method)
{
    const size_t length = strlen(it.called);
    (void)snprintf(it.called + length, sizeof(it.called) - length, "%s%s", length > 0 ? " " : "", method);
    return NNRT_SUCCESS;
}

static void was_called(const char *methods)
{
    assert_string_equal(it.called, methods);
    it.called[0] = '\0';
}

static NNRT_ReturnCode it_version(void *self, uint32_t *major, uint32_t *minor)
{
    assert_ptr_equal(self, &it);
    *major = 3;
    *minor = 7;
    return called("GetVersion");
}

static NNRT_ReturnCode it_name(void *self, const char **name)
{
    (void)self;
    *name = "it";
    return called("GetDeviceName");
}

static NNRT_ReturnCode it_vendor(void *self, const char **name)
{
    (void)self;
    *name = "acme";
    return called("GetVendorName");
}

static NNRT_ReturnCode it_type(void *self, NNRT_DeviceType *type)
{
    (void)self;
    *type = NNRT_DEVICE_TYPE_GPU;
    return called("GetDeviceType");
}

static NNRT_ReturnCode it_status(void *self, NNRT_DeviceStatus *status)
{
    (void)self;
    *status = NNRT_DEVICE_STATUS_BUSY;
    return called("GetDeviceStatus");
}

static NNRT_ReturnCode it_supported(void *self, const NNRT_Model *model, bool *isSupported, uint32_t count)
{
    (void)self;
    assert_int_equal(count, model->nodes.count);
    for (uint32_t i = 0; i < count; i++)
        isSupported[i] = i == 0;
    return called("GetSupportedOperation");
}

#define IT_SAYS(name, method)                                                                                          \
    static NNRT_ReturnCode name(void *self, bool *isSupported)                                                         \
    {                                                                                                                  \
        (void)self;                                                                                                    \
        *isSupported = true;                                                                                           \
        return called(method);                                                                                         \
    }
IT_SAYS(it_float16, "IsFloat16PrecisionSupported")
IT_SAYS(it_modes, "IsPerformanceModeSupported")
IT_SAYS(it_priorities, "IsPrioritySupported")
IT_SAYS(it_dynamic, "IsDynamicInputSupported")
IT_SAYS(it_cache, "IsModelCacheSupported")

static NNRT_ReturnCode it_prepare(void *self, const NNRT_Model *model, const NNRT_ModelConfig *config,
                                  NNRT_PreparedModel **prepared)
{
    (void)self;
    (void)model;
    (void)config;
    *prepared = &it.prepared;
    (void)called("PrepareModel");
    return it.code;
}

static NNRT_ReturnCode it_from_cache(void *self, const NNRT_SharedBuffer *cache, uint32_t count,
                                     const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    (void)self;
    (void)config;
    assert_int_equal(count, 1);
    assert_memory_equal(cache->addr, "cache", 5);
    *prepared = &it.prepared;
    return called("PrepareModelFromModelCache");
}

static NNRT_ReturnCode it_offline(void *self, const NNRT_SharedBuffer *models, uint32_t count,
                                  const NNRT_ModelConfig *config, NNRT_PreparedModel **prepared)
{
    (void)self;
    (void)models;
    (void)config;
    assert_int_equal(count, 1);
    *prepared = &it.prepared;
    (void)called("PrepareOfflineModel");
    return it.code;
}

static NNRT_ReturnCode it_allocate(void *self, uint32_t length, NNRT_SharedBuffer *buffer)
{
    (void)self;
    (void)called("AllocateBuffer");
    return nnrt_buffer_create(length, buffer);
}

static NNRT_ReturnCode it_free(void *self, const NNRT_SharedBuffer *buffer)
{
    (void)self;
    nnrt_buffer_destroy(buffer);
    return called("ReleaseBuffer");
}

static NNRT_ReturnCode it_export(NNRT_PreparedModel *self, const NNRT_SharedBuffer **buffers, uint32_t *count)
{
    static NNRT_SharedBuffer cache = {-1, 5, 0, 5, NULL};
    static char text[] = "cache";
    (void)self;
    cache.addr = text;
    *buffers = &cache;
    *count = 1;
    return called("ExportModelCache");
}

static void it_doubles(const NNRT_IOTensor *inputs, const NNRT_IOTensor *outputs, nnrt_dims *outputDims)
{
    const float *x = (const float *)inputs[0].data.addr;
    float *y = (float *)outputs[0].data.addr;
    for (uint32_t i = 0; i < 6; i++)
        y[i] = 2 * x[i];
    if (outputDims != NULL) {
        outputDims[0].rank = 2;
        outputDims[0].dims[0] = 2;
        outputDims[0].dims[1] = 3;
    }
}

static NNRT_ReturnCode it_run_v1(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                                 const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims,
                                 bool *isOutputBufferEnough)
{
    (void)self;
    assert_int_equal(nIn, 1);
    assert_int_equal(nOut, 1);
    (void)called("RunV1");
    *isOutputBufferEnough = !it.full;
    if (it.code == NNRT_SUCCESS && !it.full)
        it_doubles(inputs, outputs, outputDims);
    return it.code;
}

static NNRT_ReturnCode it_run(NNRT_PreparedModel *self, const NNRT_IOTensor *inputs, uint32_t nIn,
                              const NNRT_IOTensor *outputs, uint32_t nOut, nnrt_dims *outputDims)
{
    (void)self;
    assert_int_equal(nIn, 1);
    assert_int_equal(nOut, 1);
    (void)called("Run");
    if (it.code == NNRT_SUCCESS)
        it_doubles(inputs, outputs, outputDims);
    return it.code;
}

static NNRT_ReturnCode it_ranges(NNRT_PreparedModel *self, uint32_t index, nnrt_dims *least, nnrt_dims *most)
{
    (void)self;
    assert_int_equal(index, 0);
    memset(least, 0, sizeof(*least));
    least->rank = 2;
    least->dims[0] = 2;
    least->dims[1] = 3;
    *most = *least;
    return called("GetInputDimRanges");
}

/* A table of so many bytes of which `from` has some; the rest is garbage. */
static void *exactly(const void *from, size_t has, size_t bytes)
{
    void *table = malloc(bytes);
    assert_non_null(table);
    memset(table, 0x5A, bytes);
    memcpy(table, from, has < bytes ? has : bytes);
    *(uint32_t *)table = (uint32_t)bytes; /* structSize */
    return table;
}

static void it_opens(uint32_t version, size_t table, size_t model)
{
    NNRT_DeviceVtbl t;
    NNRT_PreparedModelVtbl m;
    memset(&it, 0, sizeof(it));
    memset(&t, 0, sizeof(t));
    memset(&m, 0, sizeof(m));
    t.version = m.version = version;
    t.GetVersion = it_version;
    t.GetDeviceName = it_name;
    t.GetVendorName = it_vendor;
    t.GetDeviceType = it_type;
    t.GetDeviceStatus = it_status;
    t.GetSupportedOperation = it_supported;
    t.IsFloat16PrecisionSupported = it_float16;
    t.IsPerformanceModeSupported = it_modes;
    t.IsPrioritySupported = it_priorities;
    t.IsDynamicInputSupported = it_dynamic;
    t.PrepareModel = it_prepare;
    t.IsModelCacheSupported = it_cache;
    t.PrepareModelFromModelCache = it_from_cache;
    t.AllocateBuffer = it_allocate;
    t.ReleaseBuffer = it_free;
    t.PrepareOfflineModel = it_offline;
    m.ExportModelCache = it_export;
    m.RunV1 = it_run_v1;
    m.GetInputDimRanges = it_ranges;
    m.Run = it_run;
    it.table = (NNRT_DeviceVtbl *)exactly(&t, sizeof(t), table);
    it.model = (NNRT_PreparedModelVtbl *)exactly(&m, sizeof(m), model);
    it.prepared.vtbl = it.model;
    assert_int_equal(nnrt_device_register(it.table, &it, NULL), NNRT_SUCCESS);
}

static void it_closes(void)
{
    assert_int_equal(nnrt_device_unregister("it"), NNRT_SUCCESS);
    free(it.table);
    free(it.model);
}

/* Queries, in the order of a start and of a build (API_HDI, 6); a 1.0 table as it was, a 2.0 table, a longer one. */
static void test_methods(void **state)
{
    static const struct {
        uint32_t version;
        size_t table, model;
        bool two; /* methods of 2.0 are there */
    } sizes[] = {
        {NNRT_HDI(1, 0), offsetof(NNRT_DeviceVtbl, PrepareOfflineModel), offsetof(NNRT_PreparedModelVtbl, GetInputDimRanges),
         false},
        {NNRT_HDI(2, 0), offsetof(NNRT_DeviceVtbl, Destroy), offsetof(NNRT_PreparedModelVtbl, Destroy), true},
        {NNRT_HDI(2, 1), sizeof(NNRT_DeviceVtbl) + 64, sizeof(NNRT_PreparedModelVtbl) + 64, true},
    };
    (void)state;
    for (uint32_t i = 0; i < COUNT(sizes); i++) {
        char text[] = "cache";
        const NNRT_SharedBuffer cache = at(text, 5);
        const NNRT_SharedBuffer *exported;
        nnrt_device *device;
        NNRT_PreparedModel *m = NULL;
        nnrt_session_desc desc;
        nnrt_session *s;
        nnrt_error e;
        nnrt_io in, out;
        bool takes[2];
        float y[6];
        uint32_t count = 0;
        graph g;
        it_opens(sizes[i].version, sizes[i].table, sizes[i].model);
        was_called("GetDeviceName GetVendorName GetVersion GetDeviceStatus");
        device = nnrt_device_find("it_acme_v3_7");
        assert_non_null(device);
        assert_int_equal(nnrt_device_type(device, NULL), NNRT_DEVICE_TYPE_GPU);
        assert_int_equal(nnrt_device_status(device), NNRT_DEVICE_STATUS_BUSY);
        was_called("GetDeviceType GetDeviceStatus");
        for (nnrt_ability a = NNRT_ABILITY_FLOAT16; a <= NNRT_ABILITY_MODEL_CACHE; a++)
            assert_true(nnrt_device_can(device, a, NULL));
        was_called("IsFloat16PrecisionSupported IsPerformanceModeSupported IsPrioritySupported IsDynamicInputSupported "
                   "IsModelCacheSupported");
        graph_init(&g);
        (void)tensor(&g, "x", F32, "2,3");
        (void)tensor(&g, "a", F32, "2,3");
        (void)tensor(&g, "y", F32, "2,3");
        ACTIVATION(&g, "one", relu, "0", "1");
        ACTIVATION(&g, "two", relu, "1", "2");
        graph_io(&g, "0", "2");
        assert_int_equal(nnrt_device_supported(device, &g.model, NULL, takes, 2, NULL, NULL), NNRT_SUCCESS);
        assert_true(takes[0] && !takes[1]);
        was_called("GetSupportedOperation");
        memset(&desc, 0, sizeof(desc));
        desc.device = "it";
        desc.enableFloat16 = true;
        desc.mode = NNRT_PERFORMANCE_HIGH;
        desc.priority = NNRT_PRIORITY_HIGH;
        memset(&e, 0, sizeof(e));
        if (nnrt_session_create(&s, &g.model, &desc, &e) != NNRT_SUCCESS)
            fail_msg("%s", e.message);
        was_called(sizes[i].two ? "IsFloat16PrecisionSupported IsPerformanceModeSupported IsPrioritySupported PrepareModel "
                                  "GetInputDimRanges"
                                : "IsFloat16PrecisionSupported IsPerformanceModeSupported IsPrioritySupported PrepareModel");
        assert_int_equal(nnrt_session_allocate(s, false, 0, &in), NNRT_SUCCESS);
        assert_int_equal(nnrt_session_allocate(s, true, 0, &out), NNRT_SUCCESS);
        was_called("AllocateBuffer AllocateBuffer");
        memcpy(in.data, given, 24);
        ((float *)in.data)[0] = 1;
        assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_SUCCESS);
        was_called(sizes[i].two ? "Run" : "RunV1");
        assert_true(((float *)out.data)[0] == 2 && ((float *)out.data)[5] == 200);
        if (!sizes[i].two) { /* the flag says that an output is too small: nothing is written */
            it.full = true;
            memset(out.data, 0, 24);
            assert_int_equal(nnrt_run(s, &in, 1, &out, 1), NNRT_INSUFFICIENT_BUFFER);
            says(s, "output 0 'y' is too small");
            assert_true(((float *)out.data)[0] == 0);
            was_called("RunV1");
        }
        nnrt_session_destroy(s);
        was_called("ReleaseBuffer ReleaseBuffer");
        /* offline models are methods of 2.0 */
        desc.offline = &cache;
        desc.offlineCount = 1;
        assert_int_equal(nnrt_session_create(&s, &g.model, &desc, NULL), sizes[i].two ? NNRT_SUCCESS : NNRT_NOT_SUPPORT);
        it.full = false;
        if (sizes[i].two) {
            assert_int_equal(nnrt_run(s, NNRT_IO(given), NNRT_IO(y)), NNRT_SUCCESS);
            assert_true(y[5] == 200);
        }
        nnrt_session_destroy(s);
        assert_true((strstr(it.called, "PrepareOfflineModel") != NULL) == sizes[i].two);
        it.called[0] = '\0';
        /* exported data comes back unchanged */
        assert_int_equal(nnrt_device_prepare(device, &g.model, NULL, &m), NNRT_SUCCESS);
        assert_int_equal(m->vtbl->ExportModelCache(m, &exported, &count), NNRT_SUCCESS);
        nnrt_device_release(device, m);
        assert_int_equal(nnrt_device_prepare_cache(device, exported, count, NULL, &m), NNRT_SUCCESS);
        nnrt_device_release(device, m);
        was_called("PrepareModel ExportModelCache PrepareModelFromModelCache");
        it_closes();
    }
}

/* Whatever code a driver returns is the code that the caller gets. */
static void test_codes(void **state)
{
    (void)state;
    for (NNRT_ReturnCode code = -1; code <= NNRT_UNSUPPORTED_OP; code++)
        for (uint32_t two = 0; two < 2 && code != NNRT_SUCCESS; two++) {
            NNRT_PreparedModel *m;
            nnrt_device *device;
            nnrt_error e;
            NNRT_ModelConfig config;
            const NNRT_SharedBuffer in = at(given, sizeof(given));
            float y[6];
            const NNRT_SharedBuffer out = at(y, sizeof(y));
            const NNRT_IOTensor input = io_of(&in), output = io_of(&out);
            char number[16];
            graph g;
            it_opens(two ? NNRT_HDI(2, 0) : NNRT_HDI(1, 0),
                     two ? offsetof(NNRT_DeviceVtbl, Destroy) : offsetof(NNRT_DeviceVtbl, PrepareOfflineModel),
                     two ? offsetof(NNRT_PreparedModelVtbl, Destroy) : offsetof(NNRT_PreparedModelVtbl, GetInputDimRanges));
            device = nnrt_device_find("it");
            graph_init(&g);
            (void)tensor(&g, "x", F32, "2,3");
            (void)tensor(&g, "y", F32, "2,3");
            ACTIVATION(&g, "one", relu, "0", "1");
            graph_io(&g, "0", "1");
            memset(&config, 0, sizeof(config));
            memset(&e, 0, sizeof(e));
            config.error = &e;
            assert_int_equal(nnrt_device_prepare(device, &g.model, &config, &m), NNRT_SUCCESS);
            it.code = code;
            assert_int_equal(nnrt_prepared_run(m, NULL, 0, &input, 1, &output, 1, NULL, NULL, &e), code);
            (void)snprintf(number, sizeof(number), "(%d)", code); /* and its words have it */
            assert_non_null(strstr(e.message, number));
            nnrt_device_release(device, m);
            memset(&e, 0, sizeof(e));
            assert_int_equal(nnrt_device_prepare(device, &g.model, &config, &m), code);
            assert_null(m);
            assert_non_null(strstr(e.message, number));
            assert_int_equal(nnrt_device_prepare_offline(device, &in, 1, &config, &m), two ? code : NNRT_NOT_SUPPORT);
            assert_null(m);
            it_closes();
        }
}

/* ---- all methods are tested ---- */

/* The methods of INnrtDevice and IPreparedModel, and the test that calls each. For OH_NN and NNAdapter: test_ohnn.c,
   test_nnadapter.c. */
static const char *const methods[][2] = {
    {"GetVersion", "test_methods"},
    {"GetDeviceName", "test_methods"},
    {"GetVendorName", "test_methods"},
    {"GetDeviceType", "test_methods"},
    {"GetDeviceStatus", "test_methods"},
    {"GetSupportedOperation", "test_methods"},
    {"IsFloat16PrecisionSupported", "test_methods"},
    {"IsPerformanceModeSupported", "test_methods"},
    {"IsPrioritySupported", "test_methods"},
    {"IsDynamicInputSupported", "test_methods"},
    {"PrepareModel", "test_methods"},
    {"IsModelCacheSupported", "test_methods"},
    {"PrepareModelFromModelCache", "test_methods"},
    {"PrepareOfflineModel", "test_methods"},
    {"AllocateBuffer", "test_methods"},
    {"ReleaseBuffer", "test_methods"},
    {"ExportModelCache", "test_methods"},
    {"GetInputDimRanges", "test_methods"},
    {"RunV1", "test_methods"},
    {"Run", "test_methods"},
};

static char *text_of(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = (char *)malloc(8000000);
    size_t length;
    assert_non_null(f);
    assert_non_null(text);
    length = fread(text, 1, 7999999, f);
    text[length] = '\0';
    (void)fclose(f);
    return text;
}

/* The two tables declare these methods before their own begin, and no others; each is in the calls that its test expects. */
static void all_methods(void **state)
{
    char *header = text_of("nnrt_hal.h"), *tests = text_of("tests/devices/test_hdi.c");
    const char *const tables[2] = {"typedef struct NNRT_DeviceVtbl {", "typedef struct NNRT_PreparedModelVtbl {"};
    uint32_t declared = 0;
    (void)state;
    if (strstr(header, tables[0]) == NULL) { /* all headers are one */
        free(header);
        header = text_of("nnrt.h");
    }
    for (uint32_t t = 0; t < 2; t++) {
        const char *begin = strstr(header, tables[t]), *end;
        assert_non_null(begin);
        end = strstr(begin, "ours from here");
        assert_non_null(end);
        for (const char *slot = begin; (slot = strstr(slot, "(*")) != NULL && slot < end; slot++) {
            bool listed = false;
            declared++;
            for (uint32_t i = 0; i < COUNT(methods); i++)
                listed = listed || (strncmp(slot + 2, methods[i][0], strlen(methods[i][0])) == 0 &&
                                    slot[2 + strlen(methods[i][0])] == ')');
            if (!listed)
                fail_msg("%.40s has no test", slot + 2);
        }
    }
    assert_int_equal(declared, COUNT(methods));
    for (uint32_t i = 0; i < COUNT(methods); i++) {
        char begin[80], *body, *end, *found;
        (void)snprintf(begin, sizeof(begin), "static void %s(void **state)\n{", methods[i][1]);
        body = strstr(tests, begin);
        assert_non_null(body);
        end = strstr(body, "\n}\n");
        assert_non_null(end);
        found = strstr(body, methods[i][0]);
        if (found == NULL || found > end)
            fail_msg("%s does not have %s called", methods[i][1], methods[i][0]);
    }
    free(header);
    free(tests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_map_of_addresses),
        cmocka_unit_test(test_map_refuses),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_constants_empty),
        cmocka_unit_test(test_constants_split),
        cmocka_unit_test(test_constants_memory),
        cmocka_unit_test(test_constants_overwritten),
        cmocka_unit_test(test_constants_refused),
        cmocka_unit_test(test_constants_unmapped),
        cmocka_unit_test(test_constants_no_memory),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_run_refuses),
        cmocka_unit_test(test_allocate),
        cmocka_unit_test(test_allocate_fails),
        cmocka_unit_test(test_session_sees_the_same),
        cmocka_unit_test(test_session_allocate),
        cmocka_unit_test(test_session_allocate_refuses),
        cmocka_unit_test(test_wishes),
        cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_wishes_shared),
        cmocka_unit_test(test_float16),
        cmocka_unit_test(test_offline),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(all_methods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
