/* Nodes that the builder does not validate: models from files and other programs may be invalid in the same way. */
#ifndef UNCHECKED_H
#define UNCHECKED_H

#include "nnrt.h"

static void unchecked_node(nnrt_builder *b, const char *name, NNRT_NodeType type, const void *attr,
                           const uint32_t *inputs, uint32_t nIn, const uint32_t *outputs, uint32_t nOut)
{
    const nnrt_attr_struct *s = nnrt_op_find(type)->attr;
    NNRT_Node node;
    memset(&node, 0, sizeof(node));
    node.name = nnrti_builder_text(b, name);
    node.nodeType = type;
    node.nodeAttr.data =
        attr != NULL ? nnrti_attr_copy(s, attr, nnrti_builder_alloc, b) : nnrti_builder_attr(b, s, NULL, 0);
    node.nodeAttr.size = s->bytes;
    node.inputIndex = nnrti_builder_list(b, inputs, nIn);
    node.outputIndex = nnrti_builder_list(b, outputs, nOut);
    nnrti_builder_tables(b);
    if (nnrt_builder_error(b)->code != NNRT_SUCCESS)
        return; /* the builder adds nothing after a fault */
    b->nodes = (NNRT_Node *)nnrti_array_room(b, b->nodes, sizeof(node), 1);
    b->nodes[((nnrt_stbds_array_header *)(void *)b->nodes - 1)->length++] = node;
}

static uint32_t unchecked_op(nnrt_builder *b, const char *name, NNRT_NodeType type, const void *attr,
                             const uint32_t *inputs, uint32_t nIn)
{
    uint32_t result = nnrt_builder_tensor(b, name);
    unchecked_node(b, name, type, attr, inputs, nIn, &result, 1);
    return result;
}

#endif
