/* Buffers in a program without mmap: a buffer with only a descriptor fails with a message about the missing feature;
   ordinary memory works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define NNRT_IMPLEMENTATION
#define NNRT_STATIC /* with one operator it compiles in a second */
#define NNRT_SELECT
#define NNRT_KEEP_ABS 1
#define NNRT_POSIX 0
#include "nnrt_hal.h"

static void test_plain_memory(void **state)
{
    NNRT_SharedBuffer b;
    void *block;
    (void)state;
    assert_int_equal(nnrt_buffer_create(100, &b), NNRT_SUCCESS);
    assert_int_equal(b.fd, -1);
    assert_non_null(b.addr);
    assert_int_equal(b.bufferSize, 100);
    assert_int_equal(b.dataSize, 100);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(((const uint8_t *)b.addr)[i], 0);
    assert_int_equal(nnrt_buffer_map(&b, true, &block, NULL), NNRT_SUCCESS);
    assert_ptr_equal(block, b.addr);
    nnrt_buffer_unmap(&b, block);
    ((uint8_t *)b.addr)[99] = 1; /* still there */
    nnrt_buffer_destroy(&b);
}

static void test_descriptor(void **state)
{
    const NNRT_SharedBuffer b = {0, 4, 0, 4, NULL};
    nnrt_error e;
    void *block;
    (void)state;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_buffer_map(&b, false, &block, &e), NNRT_INVALID_BUFFER);
    assert_null(block);
    assert_non_null(strstr(e.message, "NNRT_MMAP is 0"));
    assert_non_null(strstr(e.message, "SharedBuffer.addr"));
}

/* y = |c|, whose data have a descriptor only; y's as well. */
static void test_model(void **state)
{
    static const int32_t dims[1] = {1};
    static const uint32_t in[1] = {0}, out[1] = {1};
    NNRT_Tensor tensors[3];
    NNRT_Node node;
    NNRT_SubGraph graph;
    NNRT_Model m;
    NNRT_PreparedModel *prepared;
    NNRT_ModelConfig config;
    NNRT_IOTensor y;
    nnrt_error e;
    uint8_t byte = 7;
    (void)state;
    memset(tensors, 0, sizeof(tensors));
    memset(&node, 0, sizeof(node));
    memset(&graph, 0, sizeof(graph));
    memset(&m, 0, sizeof(m));
    memset(&config, 0, sizeof(config));
    memset(&e, 0, sizeof(e));
    for (uint32_t i = 0; i < 2; i++) {
        tensors[i].name = i == 0 ? "c" : "y";
        tensors[i].dataType = NNRT_DATA_TYPE_INT8;
        tensors[i].dims = NNRT_Int32List_make(dims, 1);
        tensors[i].format = NNRT_FORMAT_NONE;
        tensors[i].data.fd = -1;
    }
    tensors[0].data.fd = 0;
    tensors[0].data.bufferSize = tensors[0].data.dataSize = 1;
    node.nodeType = NNRT_NODE_TYPE_ABS;
    node.inputIndex = NNRT_Uint32List_make(in, 1);
    node.outputIndex = NNRT_Uint32List_make(out, 1);
    graph.name = "main";
    m.nodes = NNRT_NodeList_make(&node, 1);
    m.allTensors = NNRT_TensorList_make(tensors, 2);
    m.outputIndex = NNRT_Uint32List_make(out, 1);
    m.subGraph = NNRT_SubGraphList_make(&graph, 1);
    config.error = &e;
    assert_int_equal(nnrt_device_prepare(nnrt_device_find("reference"), &m, &config, &prepared), NNRT_INVALID_BUFFER);
    assert_non_null(strstr(e.message, "tensor 0 'c': descriptor 0 cannot be mapped without mmap"));
    tensors[0].data.addr = &byte;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_device_prepare(nnrt_device_find("reference"), &m, &config, &prepared), NNRT_SUCCESS);
    memset(&y, 0, sizeof(y));
    y.dataType = NNRT_DATA_TYPE_INT8;
    y.format = NNRT_FORMAT_NONE;
    y.dimensions = tensors[1].dims;
    y.data.fd = 1;
    y.data.bufferSize = y.data.dataSize = 1;
    assert_int_equal(nnrt_prepared_run(prepared, NULL, 0, NULL, 0, &y, 1, NULL, NULL, NULL), NNRT_INVALID_BUFFER);
    nnrt_device_release(nnrt_device_find("reference"), prepared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_memory),
        cmocka_unit_test(test_descriptor),
        cmocka_unit_test(test_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
