/*
load.h - import of ONNX and .tflite files with the shapes and values of the command line.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_LOAD_H
#define NNRT_TOOL_LOAD_H

#include "inputs.h"

/* True for a value that may be a parameter (axes, sizes, limits) rather than data: small, and not random. */
static bool cli_may_be_constant(const cli_input *input)
{
    return input->given && input->value.shape.rank <= 1 && input->value.count <= 64;
}

/* Imports an ONNX file for the shapes of `in`, with the values of --fix as constants of the model; constants: and small values of
   --input. */
static NNRT_ReturnCode cli_import_onnx(cli_inputs *in, const cli_args *args, bool constants, NNRT_Model **model, nnrt_error *error)
{
    nnrt_onnx_input *given =
        (nnrt_onnx_input *)cli_alloc((size_t)in->count + in->fixedCount + in->sequenceCount, sizeof(*given));
    nnrt_onnx_desc desc;
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    memset(error, 0, sizeof(*error));
    if (given == NULL)
        return NNRT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < in->count; i++) {
        cli_input *input = &in->data[i];
        input->constant = constants && cli_may_be_constant(input);
        if (in->shapes[i].rank < 0 || input->kind != NULL)
            continue;
        given[desc.inputCount].name = input->name;
        given[desc.inputCount].shape =
            cli_inputs_most(in, i) != NULL && !input->constant ? input->declared : in->shapes[i];
        given[desc.inputCount++].data = input->constant ? input->value.data : NULL;
    }
    for (uint32_t i = 0; i < in->fixedCount; i++, desc.inputCount++) {
        given[desc.inputCount].name = in->fixed[i].name;
        given[desc.inputCount].shape = in->fixed[i].value.shape;
        given[desc.inputCount].data = in->fixed[i].value.data;
    }
    for (uint32_t i = 0; i < in->sequenceCount; i++, desc.inputCount++) {
        given[desc.inputCount].name = in->sequences[i].name;
        given[desc.inputCount].shape = in->sequences[i].declared;
    }
    desc.inputs = given;
    desc.final = true;
    desc.no_optimize = args->noOptimize;
    desc.no_quantize = args->noQuantize;
    desc.floatActivations = args->floatActivations;
    desc.outputs = in->cut;
    desc.outputCount = in->cutCount;
    desc.budget = args->image.budget;
    desc.log = &args->log;
    desc.path = strcmp(args->model, "-") != 0 ? args->model : NULL;
    code = cli_stream.block != NULL
               ? nnrt_onnx_load_memory(model, cli_stream.bytes.data, cli_stream.bytes.size, &desc, error)
               : nnrt_onnx_load(model, args->model, &desc, error);
    free(given);
    if (code == NNRT_SUCCESS && nnrt_model_deferred(*model) != NULL) { /* commands import with all that is known */
        code = nnrt_error_set(error, NNRT_UNSUPPORTED_OP, "%s", nnrt_model_deferred(*model));
        nnrt_model_destroy(*model);
        *model = NULL;
    }
    return code;
}

/* Imports a .tflite file for the shapes of `in`. */
static NNRT_ReturnCode cli_import_tflite(const cli_inputs *in, const cli_args *args, NNRT_Model **model, nnrt_error *error)
{
    nnrt_tflite_input *given = (nnrt_tflite_input *)cli_alloc(in->count, sizeof(*given));
    nnrt_tflite_desc desc;
    NNRT_ReturnCode code;
    memset(&desc, 0, sizeof(desc));
    memset(error, 0, sizeof(*error));
    if (given == NULL)
        return NNRT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < in->count; i++) {
        const bool bounded = cli_inputs_most(in, i) != NULL;
        if (cli_is_state(in, in->data[i].name) || (!bounded && cli_open(&in->shapes[i])))
            continue; /* the shape of the file, as converted files run without a stated shape */
        given[desc.inputCount].name = in->data[i].name;
        given[desc.inputCount++].shape = bounded ? in->data[i].declared : in->shapes[i];
    }
    desc.inputs = given;
    desc.no_optimize = args->noOptimize;
    desc.outputs = in->cut;
    desc.outputCount = in->cutCount;
    desc.signature = args->signature;
    desc.budget = args->image.budget;
    desc.log = &args->log;
    desc.float16 = in->float16;
    code = cli_load_tflite(model, args->model, &desc, error);
    free(given);
    return code;
}

#endif /* NNRT_TOOL_LOAD_H */
