/* Pieces of nnrt_memory: counted bulk data share one block of the allocator, temporary blocks share a first one; all blocks
   are freed; loading a file keeps within NNRT_FILE_FACTOR. The other suites allocate each block alone, so that sanitizers
   see its ends (NNRT_PIECE_BYTES 0). */
#define _XOPEN_SOURCE 700 /* posix_memalign */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Counts bytes and calls; the call with number `last` fails. */
typedef struct supply {
    size_t live, total, peak;
    int calls, last;
} supply;

static void *source_alloc(void *user, size_t bytes, size_t alignment)
{
    supply *const s = (supply *)user;
    void *block = NULL;
    if (s->calls++ == s->last || posix_memalign(&block, alignment, bytes) != 0)
        return NULL;
    s->live += bytes;
    s->total += bytes;
    s->peak = s->live > s->peak ? s->live : s->peak;
    memset(block, 0xA5, bytes < 4096 ? bytes : 4096);
    return block;
}

static void source_free(void *user, void *block, size_t bytes)
{
    ((supply *)user)->live -= bytes;
    free(block);
}

/* Bytes and calls of nnrt's malloc. */
static struct {
    size_t live, total, peak;
    int calls;
} from_malloc;

static void *heap_alloc(size_t bytes)
{
    size_t *const block = (size_t *)malloc(bytes + 16);
    if (block == NULL)
        return NULL;
    from_malloc.calls++;
    from_malloc.live += bytes;
    from_malloc.total += bytes;
    from_malloc.peak = from_malloc.live > from_malloc.peak ? from_malloc.live : from_malloc.peak;
    *block = bytes;
    memset((uint8_t *)block + 16, 0xA5, bytes < 4096 ? bytes : 4096);
    return (uint8_t *)block + 16;
}

static void heap_free(void *block)
{
    if (block == NULL)
        return;
    block = (uint8_t *)block - 16;
    from_malloc.live -= *(size_t *)block;
    free(block);
}

#define malloc heap_alloc
#define free heap_free
#define NNRT_IMPLEMENTATION
#define NNRT_STATIC /* with one operator it compiles in a second */
#define NNRT_SELECT
#define NNRT_KEEP_ABS 1
#include "nnrt_hal.h"

static nnrt_allocator allocator_of(supply *s)
{
    nnrt_allocator a;
    memset(s, 0, sizeof(*s));
    s->last = -1;
    a.alloc = source_alloc;
    a.free = source_free;
    a.user = s;
    return a;
}
#undef malloc
#undef free

enum { BLOCKS = 60, BLOCK = 1000000 };

/* Blocks of bulk data between small kept ones: aligned, none overlaps another. counts: blocks are counted only. */
static void fill(nnrt_memory *m, bool counts)
{
    static void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        assert_true(nnrti_memory_reserve(m, BLOCK, &blocks[i]));
        assert_int_equal(blocks[i] == NULL, counts);
        assert_int_equal((uintptr_t)blocks[i] % NNRT_ALIGNMENT, 0);
        if (!counts)
            memset(blocks[i], i, BLOCK);
        for (int k = 0; k < 10; k++) {
            const uint8_t *const small = (const uint8_t *)nnrt_memory_keep(m, 100);
            assert_non_null(small);
            for (int j = 0; j < 100; j++)
                assert_int_equal(small[j], 0);
        }
    }
    for (int i = 0; i < BLOCKS && !counts; i++)
        for (int k = 0; k < BLOCK; k += BLOCK / 3)
            assert_int_equal(((const uint8_t *)blocks[i])[k], i);
}

/* Counted bulk data are in one block of exactly their size, small blocks in few others; without a count, and where the block
   fails, each is allocated alone. */
static void test_bulk(void **state)
{
    supply s;
    const nnrt_allocator a = allocator_of(&s);
    nnrt_memory count, m;
    (void)state;
    memset(&from_malloc, 0, sizeof(from_malloc));
    nnrt_memory_count(&count, NULL);
    fill(&count, true);
    nnrt_memory_end(&count);
    assert_int_equal(from_malloc.live, 0);
    assert_true(count.bulkBytes >= (size_t)BLOCKS * BLOCK && count.bulkBytes < (size_t)BLOCKS * (BLOCK + NNRT_ALIGNMENT));
    for (int fail = 0; fail < 3; fail++) {
        s.calls = 0;
        s.last = fail == 1 ? 0 : -1;
        nnrt_memory_allocate(&m, &a);
        if (fail < 2)
            nnrti_memory_expect(&m, NNRTI_PIECE_HEADER + count.bulkBytes, 2);
        assert_int_equal(s.live, fail == 0 ? NNRTI_PIECE_HEADER + count.bulkBytes : 0);
        fill(&m, false);
        assert_int_equal(m.front, count.frontPeak);
        assert_true(fail == 0 ? s.calls < BLOCKS / 2 : s.calls >= BLOCKS);
        assert_true(s.live >= m.front && s.live < m.front + m.front / 100);
        nnrt_memory_end(&m);
        assert_int_equal(s.live, 0);
    }
}

/* A large block has a piece of its own; the shared one takes further small blocks. */
static void test_left_room(void **state)
{
    const uint8_t *first, *second;
    supply s;
    const nnrt_allocator a = allocator_of(&s);
    nnrt_memory m;
    (void)state;
    nnrt_memory_allocate(&m, &a);
    first = (const uint8_t *)nnrt_memory_keep(&m, 256);
    assert_non_null(nnrt_memory_keep(&m, NNRT_PIECE_BYTES));
    assert_int_equal(s.calls, 2);
    second = (const uint8_t *)nnrt_memory_keep(&m, 256);
    assert_int_equal(s.calls, 2);
    assert_ptr_equal(second, first + 256);
    nnrt_memory_end(&m);
    assert_int_equal(s.live, 0);
}

/* Temporary blocks are in the block of the expected size; without memory for it they are allocated one by one. Counts and
   buffers do not depend on it. */
static void test_expected(void **state)
{
    static uint64_t buffer[1024];
    supply s;
    const nnrt_allocator a = allocator_of(&s);
    nnrt_memory m;
    (void)state;
    for (int fail = 0; fail < 2; fail++) {
        s.calls = 0;
        s.last = fail ? 0 : -1;
        nnrt_memory_allocate(&m, &a);
        nnrti_memory_expect(&m, 65536, 1);
        assert_int_equal(s.calls, 1);
        assert_false(m.full);
        for (int k = 0; k < 20; k++) {
            const uint8_t *const block = (const uint8_t *)nnrt_memory_temp(&m, 3000);
            assert_non_null(block);
            for (int j = 0; j < 3000; j++)
                assert_int_equal(block[j], 0);
        }
        assert_int_equal(s.calls, fail ? 21 : 1);
        nnrt_memory_drop_temp(&m);
        assert_int_equal(s.live, 0);
        nnrt_memory_end(&m);
    }
    nnrt_memory_count(&m, &a);
    nnrti_memory_expect(&m, 65536, 0);
    assert_non_null(nnrt_memory_keep(&m, 1000));
    assert_int_equal(m.peak, 1008);
    nnrt_memory_end(&m);
    assert_int_equal(s.live, 0);
    s.calls = 0;
    nnrt_memory_buffer(&m, buffer, sizeof(buffer));
    nnrti_memory_expect(&m, 65536, 1);
    assert_non_null(nnrt_memory_temp(&m, sizeof(buffer) / 2));
    assert_int_equal(s.calls, 0);
}

/* Loading a small file, good or damaged, takes the memory that NNRT_FILE_FACTOR promises. */
static void test_small_file(void **state)
{
    static uint8_t image[4096 + NNRT_ALIGNMENT];
    uint32_t indices[] = {0, 1};
    int32_t extent = 4;
    NNRT_Tensor tensors[2];
    NNRT_Node node;
    NNRT_SubGraph graph;
    NNRT_Model m;
    uint8_t *const file = image + (NNRT_ALIGNMENT - (uintptr_t)image % NNRT_ALIGNMENT);
    size_t bytes, limit;
    (void)state;
    memset(tensors, 0, sizeof(tensors));
    memset(&node, 0, sizeof(node));
    memset(&graph, 0, sizeof(graph));
    memset(&m, 0, sizeof(m));
    for (int i = 0; i < 2; i++) {
        tensors[i].name = i == 0 ? "x" : "y";
        tensors[i].dataType = NNRT_DATA_TYPE_FLOAT32;
        tensors[i].dims.data = &extent;
        tensors[i].dims.count = 1;
        tensors[i].data.fd = -1;
    }
    node.name = "abs";
    node.nodeType = NNRT_NODE_TYPE_ABS;
    node.inputIndex.data = indices;
    node.outputIndex.data = indices + 1;
    node.inputIndex.count = node.outputIndex.count = 1;
    m.inputIndex = node.inputIndex;
    m.outputIndex = node.outputIndex;
    m.allTensors.data = tensors;
    m.allTensors.count = 2;
    m.nodes.data = &node;
    m.nodes.count = 1;
    graph.inputIndices = graph.nodeIndices = node.inputIndex;
    graph.outputIndices = node.outputIndex;
    m.subGraph.data = &graph;
    m.subGraph.count = 1;
    assert_int_equal(nnrt_model_save_memory(&m, NULL, file, 4096, &bytes, NULL), NNRT_SUCCESS);
    limit = NNRT_FILE_FACTOR * bytes + 4096;
    assert_true(limit < 65536);
    for (size_t at = 64; at <= bytes; at += 4) {
        const uint8_t was = file[at % bytes];
        supply s;
        nnrt_load_desc desc;
        NNRT_Model *own = NULL, *mallocs = NULL;
        NNRT_ReturnCode code;
        const nnrt_allocator a = allocator_of(&s);
        memset(&desc, 0, sizeof(desc));
        memset(&from_malloc, 0, sizeof(from_malloc));
        desc.allocator = &a;
        file[at % bytes] = at == bytes ? was : 0xFF;
        code = nnrt_model_load_memory(&own, file, bytes, &desc, NULL);
        assert_int_equal(nnrt_model_load_memory(&mallocs, file, bytes, NULL, NULL), code);
        assert_true(at < bytes || code == NNRT_SUCCESS);
        assert_true(s.peak <= limit);
        assert_true(from_malloc.peak <= limit + 65536 - 4096);
        nnrt_model_destroy(own);
        nnrt_model_destroy(mallocs);
        assert_true(s.live == 0 && from_malloc.live == 0);
        file[at % bytes] = was;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bulk), cmocka_unit_test(test_left_room),
                                       cmocka_unit_test(test_expected), cmocka_unit_test(test_small_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
