/*
widen.h - makes a float32 model of a float16 model, before it is quantized.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_WIDEN_H
#define NNRT_TOOL_WIDEN_H

#include "../common/job.h"

static bool cli_has_half(const NNRT_Model *m)
{
    bool half = false;
    for (uint32_t i = 0; i < m->allTensors.count; i++)
        half = half || m->allTensors.data[i].dataType == NNRT_DATA_TYPE_FLOAT16;
    return half;
}

/* Room for the new elements of a constant, which becomes its data. NULL: no memory. */
static void *cli_widen_room(nnrt_memory *memory, NNRT_Tensor *t, size_t bytes)
{
    void *room = bytes <= UINT32_MAX ? nnrt_memory_keep_aligned(memory, bytes) : NULL;
    t->data.addr = room;
    t->data.offset = 0;
    t->data.bufferSize = t->data.dataSize = (uint32_t)bytes;
    t->data.fd = -1;
    return room;
}

/* A float16 tensor becomes float32; a constant is converted. */
static bool cli_widen_tensor(nnrt_memory *memory, NNRT_Tensor *t)
{
    const size_t count = t->data.dataSize / sizeof(uint16_t);
    const uint8_t *half;
    float *wide;
    if (t->dataType != NNRT_DATA_TYPE_FLOAT16)
        return true;
    t->dataType = NNRT_DATA_TYPE_FLOAT32;
    if (count == 0)
        return true;
    half = (const uint8_t *)t->data.addr + t->data.offset;
    if ((wide = (float *)cli_widen_room(memory, t, count * sizeof(*wide))) == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint16_t h;
        memcpy(&h, half + i * sizeof(h), sizeof(h));
        wide[i] = nnrt_half_to_float(h);
    }
    return true;
}

/* Whether every reader of tensor t is a CAST whose type it states. Otherwise its value is a number that must not change. */
static bool cli_states_type(const NNRT_Model *m, uint32_t t)
{
    bool states = true;
    for (uint32_t i = 0; i < m->nodes.count; i++)
        for (uint32_t k = 0; k < m->nodes.data[i].inputIndex.count; k++)
            states = states && (m->nodes.data[i].inputIndex.data[k] != t || (m->nodes.data[i].nodeType == NNRT_NODE_TYPE_CAST && k == 1));
    for (uint32_t k = 0; k < m->outputIndex.count; k++)
        states = states && m->outputIndex.data[k] != t;
    return states;
}

/* A CAST to float16 becomes a cast to float32: the constant that states its type. A constant that is read otherwise, too,
   stays, and the model is refused, as the result of the CAST is declared as float32. */
static bool cli_widen_cast(nnrt_memory *memory, const NNRT_Model *m, const NNRT_Node *node, NNRT_Tensor *tensors)
{
    NNRT_Tensor *type = node->nodeType == NNRT_NODE_TYPE_CAST && node->inputIndex.count > 1 && node->inputIndex.data[1] != NNRT_NO_TENSOR
                            ? &tensors[node->inputIndex.data[1]]
                            : NULL;
    int64_t value = 0;
    if (type == NULL || type->data.addr == NULL || type->data.dataSize > sizeof(value) || !cli_little_endian())
        return true;
    memcpy(&value, (const uint8_t *)type->data.addr + type->data.offset, type->data.dataSize);
    if (value != NNRT_DATA_TYPE_FLOAT16 || !cli_states_type(m, node->inputIndex.data[1]))
        return true;
    value = NNRT_DATA_TYPE_FLOAT32;
    void *room = cli_widen_room(memory, type, type->data.dataSize);
    if (room != NULL)
        memcpy(room, &value, type->data.dataSize);
    return room != NULL;
}

/* The lists and constants of `wide` end with memory: the new model has its own. */
static NNRT_ReturnCode cli_widen_model(NNRT_Model **model, nnrt_memory *memory, nnrt_error *error)
{
    nnrt_mapping *mappings = NULL;
    const NNRT_Model *given = nnrt_model_map(*model, memory, &mappings);
    NNRT_ReturnCode code = NNRT_OUT_OF_MEMORY;
    NNRT_Model wide, *made = NULL;
    NNRT_Tensor *tensors = NULL;
    bool good = given != NULL;
    if (good)
        tensors = (NNRT_Tensor *)nnrt_memory_keep_array(memory, given->allTensors.count, sizeof(*tensors));
    good = tensors != NULL;
    if (good) {
        memcpy(tensors, given->allTensors.data, given->allTensors.count * sizeof(*tensors));
        for (uint32_t i = 0; i < given->allTensors.count; i++)
            good = good && cli_widen_tensor(memory, &tensors[i]);
        for (uint32_t i = 0; i < given->nodes.count; i++)
            good = good && cli_widen_cast(memory, given, &given->nodes.data[i], tensors);
    }
    if (good) {
        wide = *given;
        wide.allTensors = NNRT_TensorList_make(tensors, given->allTensors.count);
        code = nnrt_model_create(&made, &wide, *model, true, NULL, error);
    }
    nnrt_model_unmap(mappings);
    if (code != NNRT_SUCCESS)
        return code;
    nnrt_model_destroy(*model);
    *model = made;
    return nnrt_model_optimize(model, NULL, error); /* removes casts */
}

/* Makes the loaded model float32, its inputs and outputs, too. */
static int cli_job_widen(cli_job *job, const cli_args *args)
{
    nnrt_memory memory;
    nnrt_error error;
    NNRT_ReturnCode code;
    if (!cli_has_half(job->model))
        return CLI_DONE;
    memset(&error, 0, sizeof(error));
    nnrt_memory_allocate(&memory, NULL);
    code = cli_widen_model(&job->model, &memory, &error);
    nnrt_memory_end(&memory);
    if (code != NNRT_SUCCESS)
        return cli_fail("cannot make a float32 model of %s: %s", args->model,
                        error.message[0] != '\0' ? error.message : nnrt_code_name(code));
    for (uint32_t i = 0; i < job->in.count + job->in.states; i++)
        if (job->in.data[i].type == NNRT_DATA_TYPE_FLOAT16)
            job->in.data[i].type = NNRT_DATA_TYPE_FLOAT32;
    cli_note("%s has float16 tensors, which become float32 first, inputs and outputs, too", args->model);
    return CLI_DONE;
}

#endif /* NNRT_TOOL_WIDEN_H */
