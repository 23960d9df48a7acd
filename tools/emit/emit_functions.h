/*
emit_functions.h - the functions of a model written as C, and the text around them.
Part of tools/nnrt.c.

    >>functions  functions for the program, and the self-test
    >>file       the text around them
    >>exports    functions of a WebAssembly module (emit_wasm.h)
*/
#ifndef NNRT_TOOL_EMIT_FUNCTIONS_H
#define NNRT_TOOL_EMIT_FUNCTIONS_H

#include "emit_plan.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>functions */

static const nnrt_plan_io *cli_emit_io_at(const cli_emit *e, uint32_t i)
{
    return i < e->plan->nInputs ? &e->plan->inputs[i] : &e->plan->outputs[i - e->plan->nInputs];
}

/* Number of elements of an input or output; at least 1, since C has no empty arrays. */
static double cli_emit_elements(const nnrt_plan_io *t)
{
    const size_t count = t->bytes / nnrt_type_size(t->dataType);
    return count > 0 ? (double)count : 1.0;
}

/* void *arena, or a pointer for each region, and one for the state. form: "void *%s", or "%s" in a call. */
static void cli_emit_memories(const cli_emit *e, const char *form)
{
    for (uint32_t r = 0; r < (e->nRegions > 0 ? e->nRegions : 1); r++) {
        fputs(r > 0 ? ", " : "", e->out);
        fprintf(e->out, "%s%s", form, e->nRegions > 0 ? e->regionNames[r] : "arena");
    }
}

/* const float image[784], float scores[10]; declare false: their names, in a call. comma: they follow others. */
static void cli_emit_parameters(const cli_emit *e, bool declare, bool comma)
{
    for (uint32_t i = 0; i < e->plan->nInputs + e->plan->nOutputs; i++) {
        const nnrt_plan_io *t = cli_emit_io_at(e, i);
        if (cli_emit_state_at(e, i) != NULL)
            continue;
        fputs(comma ? ", " : "", e->out);
        comma = true;
        if (declare)
            fprintf(e->out, "%s%s %s[%.0f]", i < e->plan->nInputs ? "const " : "", cli_c_type(t->dataType),
                    e->io[i], cli_emit_elements(t));
        else
            fputs(e->io[i], e->out);
    }
    if (declare && !comma)
        fputs("void", e->out);
}

static void cli_emit_signature(const cli_emit *e, const char *name, bool arena, const char *end)
{
    fprintf(e->out, "NNRT_API NNRT_ReturnCode %s_%s(", e->name, name);
    if (arena)
        cli_emit_memories(e, "void *");
    if (e->nStates > 0)
        fputs(arena ? ", void *state" : "void *state", e->out);
    cli_emit_parameters(e, true, arena || e->nStates > 0);
    fprintf(e->out, ")%s\n", end);
}

/* Writes the statements that store the addresses of the other regions in the first one. */
static void cli_emit_addresses(const cli_emit *e)
{
    for (uint32_t r = 1; r < e->nRegions; r++)
        if (r < e->plan->nRegions)
            fprintf(e->out, "    ((void **)%s)[%u] = %s;\n", e->regionNames[0], (unsigned)(r - 1), e->regionNames[r]);
        else
            fprintf(e->out, "    (void)%s;\n", e->regionNames[r]);
}

/* Writes the statement that runs the plan with the addresses in io. before: the text before the call. */
static void cli_emit_execute(const cli_emit *e, const char *before)
{
    cli_emit_addresses(e);
    fprintf(e->out, "    %snnrt_plan_execute(&%s_plan_data, views, %s, io, NULL);\n", before, e->name,
            e->nRegions > 0 ? e->regionNames[0] : "arena");
}

static void cli_emit_run_in(cli_emit *e)
{
    const nnrt_plan *p = e->plan;
    cli_emit_signature(e, "run_in", true, "\n{");
    fprintf(e->out, "    nnrt_view views[%s_VIEWS];\n    void *io[%u];\n", e->upper,
            (unsigned)(p->nInputs + p->nOutputs));
    if (e->turnBytes > 0)
        fputs("    uint8_t *const turn = (uint8_t *)state;\n    NNRT_ReturnCode code;\n", e->out);
    for (uint32_t i = 0; i < p->nInputs + p->nOutputs; i++)
        if (cli_emit_state_at(e, i) != NULL)
            cli_emit_state_io(e, i);
        else
            fprintf(e->out, "    io[%u] = %s%s;\n", (unsigned)i, i < p->nInputs ? "(void *)(uintptr_t)" : "", e->io[i]);
    if (e->turnBytes > 0) {
        cli_emit_execute(e, "code = ");
        fputs("    if (code == NNRT_SUCCESS)\n        *turn ^= 1;\n    return code;\n}\n\n", e->out);
    } else {
        cli_emit_execute(e, "return ");
        fputs("}\n\n", e->out);
    }
}

static void cli_emit_functions(cli_emit *e)
{
    fputs("\n", e->out);
    if (e->plan->nRegions < 2)
        fprintf(e->out, "NNRT_API const nnrt_plan *%s_plan(void)\n{\n    return &%s_plan_data;\n}\n\n", e->name,
                e->name);
    cli_emit_state_functions(e);
    cli_emit_run_in(e);
    cli_emit_signature(e, "run", false, "\n{");
    for (uint32_t r = 0; r < (e->nRegions > 0 ? e->nRegions : 1); r++)
        fprintf(e->out, "    static uint64_t %s[%s_%s_WORDS];\n", e->nRegions > 0 ? e->regionNames[r] : "arena",
                e->upper, e->nRegions > 0 ? e->regionUpper[r] : "ARENA");
    fprintf(e->out, "    return %s_run_in(", e->name);
    cli_emit_memories(e, "");
    fputs(e->nStates > 0 ? ", state" : "", e->out);
    cli_emit_parameters(e, false, true);
    fputs(");\n}\n", e->out);
}

/* Runs the plan to compute the checksums of its steps. */
static bool cli_emit_sums(cli_emit *e, nnrt_memory *memory)
{
    const nnrt_plan *p = e->plan;
    const size_t count = (size_t)p->nInputs + p->nOutputs;
    nnrt_view *views = (nnrt_view *)nnrt_memory_keep(memory, (p->maxArgs > 0 ? p->maxArgs : 1) * sizeof(*views));
    void **io = (void **)nnrt_memory_keep(memory, count * sizeof(*io)), *arena;
    arena = nnrt_memory_keep_aligned(memory, p->arenaBytes > 0 ? p->arenaBytes : 1);
    e->sums = (uint32_t *)nnrt_memory_keep(memory, (p->nSteps > 0 ? p->nSteps : 1) * sizeof(*e->sums));
    for (size_t i = 0; io != NULL && i < count; i++)
        io[i] = e->job->io[i].data;
    if (views != NULL && io != NULL && arena != NULL && e->sums != NULL &&
        nnrt_plan_sums(p, views, arena, io, e->sums) == NNRT_SUCCESS)
        return true;
    (void)cli_fail("cannot compute the checksums of --golden: %s",
                   memory->full ? "not enough memory" : "the run failed");
    return false;
}

/* Writes the names of the steps and their checksums. */
static void cli_emit_golden(cli_emit *e)
{
    const nnrt_plan *p = e->plan;
    const unsigned count = p->nSteps > 0 ? (unsigned)p->nSteps : 1;
    char text[512];
    fprintf(e->out,
            "\n/* The steps of the plan, and checksums of their results (nnrt_plan_sums). */\n"
            "static const char *const %s_nodes[%u] = {\n",
            e->name, count);
    for (uint32_t i = 0; i < p->nSteps; i++) {
        const nnrt_plan_step *s = &p->steps[i];
        const char *op = s->op != NULL ? s->op->name : s->kernelName;
        if (s->node >= 0)
            snprintf(text, sizeof(text), "node %d '%s' (%s)", (int)s->node, s->name, op);
        else
            snprintf(text, sizeof(text), "copy of '%s'", s->name);
        fputs("    ", e->out);
        cli_emit_text(e->out, text);
        fputs(i + 1 < count ? ",\n" : "};\n", e->out);
    }
    if (p->nSteps == 0)
        fputs("    NULL};\n", e->out);
    fprintf(e->out, "static const %s_DATA uint32_t %s_sums[%u] = {\n", e->upper, e->name, count);
    e->column = 0;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(text, sizeof(text), "0x%08xu", (unsigned)(p->nSteps > 0 ? e->sums[i] : 0));
        cli_emit_item(e, text, i + 1 == count);
    }
    fputs("};\n", e->out);
}

/* io = the inputs of the self-test, and the arrays of its results. */
static void cli_emit_test_io(cli_emit *e)
{
    const nnrt_plan *p = e->plan;
    for (uint32_t i = 0; i < p->nInputs; i++)
        fprintf(e->out, "    io[%u] = (void *)(uintptr_t)%s_x%u;\n", (unsigned)i, e->name, (unsigned)i);
    for (uint32_t i = 0; i < p->nOutputs; i++)
        fprintf(e->out, "    io[%u] = y%u;\n", (unsigned)(p->nInputs + i), (unsigned)i);
}

/* Writes the self-test that checks every step, and the plain self-test that calls it. */
static void cli_emit_selftest_node(cli_emit *e)
{
    const nnrt_plan *p = e->plan;
    cli_emit_golden(e);
    fprintf(e->out, "\nNNRT_API NNRT_ReturnCode %s_selftest_node(", e->name);
    cli_emit_memories(e, "void *");
    fputs(", const char **node)\n{\n", e->out);
    for (uint32_t i = 0; i < p->nOutputs; i++)
        fprintf(e->out, "    static %s y%u[%.0f];\n", cli_c_type(p->outputs[i].dataType), (unsigned)i,
                cli_emit_elements(&p->outputs[i]));
    fprintf(e->out,
            "    static uint32_t sums[%u];\n    nnrt_view views[%s_VIEWS];\n    void *io[%u];\n"
            "    NNRT_ReturnCode code;\n",
            p->nSteps > 0 ? (unsigned)p->nSteps : 1, e->upper, (unsigned)(p->nInputs + p->nOutputs));
    cli_emit_test_io(e);
    cli_emit_addresses(e);
    fprintf(e->out,
            "    memset(sums, 0, sizeof(sums));\n"
            "    code = nnrt_plan_sums(&%s_plan_data, views, %s, io, sums);\n"
            "    for (uint32_t i = 0; i < %s_plan_data.nSteps; i++)\n"
            "        if (sums[i] != %s_sums[i]) {\n"
            "            *node = %s_nodes[i];\n"
            "            return code != NNRT_SUCCESS ? code : NNRT_FAILED;\n"
            "        }\n",
            e->name, e->nRegions > 0 ? e->regionNames[0] : "arena", e->name, e->name, e->name);
    for (uint32_t i = 0; i < p->nOutputs; i++)
        fprintf(e->out,
                "    *node = \"output %u\";\n    if (!nnrti_bytes_equal(y%u, %s_y%u, %.0f))\n        return "
                "NNRT_FAILED;\n",
                (unsigned)i, (unsigned)i, e->name, (unsigned)i, (double)p->outputs[i].bytes);
    fprintf(e->out, "    *node = NULL;\n    return code;\n}\n\nNNRT_API NNRT_ReturnCode %s_selftest(", e->name);
    cli_emit_memories(e, "void *");
    fprintf(e->out, ")\n{\n    const char *node;\n    return %s_selftest_node(", e->name);
    cli_emit_memories(e, "");
    fputs(", &node);\n}\n", e->out);
}

/* Writes the call of NAME_run_in with the arrays of the self-test. */
static void cli_emit_test_call(cli_emit *e)
{
    fprintf(e->out, "    const NNRT_ReturnCode code = %s_run_in(", e->name);
    cli_emit_memories(e, "");
    for (uint32_t i = 0; i < e->plan->nInputs + e->plan->nOutputs; i++)
        if (i < e->plan->nInputs)
            fprintf(e->out, ", (const %s *)(const void *)%s_x%u", cli_c_type(e->plan->inputs[i].dataType), e->name,
                    (unsigned)i);
        else
            fprintf(e->out, ", y%u", (unsigned)(i - e->plan->nInputs));
    fputs(");\n", e->out);
}

/* Writes the same where some inputs and outputs are no parameters, but states: the plan runs without the state. */
static void cli_emit_test_execute(cli_emit *e)
{
    const nnrt_plan *p = e->plan;
    fprintf(e->out, "    nnrt_view views[%s_VIEWS];\n    void *io[%u];\n    NNRT_ReturnCode code;\n", e->upper,
            (unsigned)(p->nInputs + p->nOutputs));
    cli_emit_test_io(e);
    cli_emit_execute(e, "code = ");
}

static void cli_emit_selftest(cli_emit *e)
{
    const nnrt_plan *p = e->plan;
    char suffix[24];
    for (uint32_t i = 0; i < p->nInputs + p->nOutputs; i++) {
        const bool output = i >= p->nInputs;
        const nnrt_plan_io *t = cli_emit_io_at(e, i);
        fprintf(e->out, "\n/* %s of the self-test: ", output ? "expected result" : "input");
        cli_emit_remark(e->out, t->name);
        fputs(" */\n", e->out);
        snprintf(suffix, sizeof(suffix), "%s%u", output ? "y" : "x", (unsigned)(output ? i - p->nInputs : i));
        cli_emit_array(e, suffix, t->dataType, e->job->io[i].data, t->bytes / nnrt_type_size(t->dataType));
    }
    if (e->sums != NULL) {
        cli_emit_selftest_node(e);
        return;
    }
    fprintf(e->out, "\nNNRT_API NNRT_ReturnCode %s_selftest(", e->name);
    cli_emit_memories(e, "void *");
    fputs(")\n{\n", e->out);
    for (uint32_t i = 0; i < p->nOutputs; i++)
        fprintf(e->out, "    static %s y%u[%.0f];\n", cli_c_type(p->outputs[i].dataType), (unsigned)i,
                cli_emit_elements(&p->outputs[i]));
    if (e->nStates > 0)
        cli_emit_test_execute(e);
    else
        cli_emit_test_call(e);
    fputs("    if (code != NNRT_SUCCESS)\n        return code;\n", e->out);
    for (uint32_t i = 0; i < p->nOutputs; i++)
        fprintf(e->out, "    if (!nnrti_bytes_equal(y%u, %s_y%u, %.0f))\n        return NNRT_FAILED;\n", (unsigned)i,
                e->name, (unsigned)i, (double)p->outputs[i].bytes);
    fputs("    return NNRT_SUCCESS;\n}\n", e->out);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>file */

static int32_t cli_emit_rank(const nnrt_plan *p)
{
    int32_t most = 4;
    for (uint32_t i = 0; i < p->nArgs; i++)
        most = p->args[i].view.rank > most ? p->args[i].view.rank : most;
    for (uint32_t i = 0; i < p->nInputs + p->nOutputs; i++) {
        const int32_t rank = i < p->nInputs ? p->inputs[i].shape.rank : p->outputs[i - p->nInputs].shape.rank;
        most = rank > most ? rank : most;
    }
    return most;
}

/* Writes the comment at the top: purpose, usage, sizes. */
static void cli_emit_top(const cli_emit *e)
{
    const nnrt_plan *p = e->plan;
    char shape[CLI_SHAPE_BYTES];
    fprintf(e->out, "/* The model %s as constant data for nnrt %s. Written by nnrt emit-c; not to be edited.\n\n",
            e->name, nnrt_version());
    fprintf(
        e->out,
        "   Include it after nnrt_plan.h or nnrt.h in the files that run the model; data and functions are compiled in\n"
        "   the one that defines NNRT_IMPLEMENTATION. Link with -ffunction-sections -fdata-sections -Wl,--gc-sections, or\n"
        "   put everything in one file with NNRT_STATIC: then only the kernels named below are in the program.\n\n");
    for (uint32_t i = 0; i < p->nInputs + p->nOutputs; i++) {
        const nnrt_plan_io *t = cli_emit_io_at(e, i);
        fprintf(e->out, "   %s  ", i < p->nInputs ? "input  " : "output ");
        cli_emit_remark(e->out, t->name);
        fprintf(e->out, "  %s%s\n", cli_shape_text(shape, sizeof(shape), t->dataType, &t->shape),
                t->format == NNRT_FORMAT_NCHW   ? "  NCHW"
                : t->format == NNRT_FORMAT_NHWC ? "  NHWC"
                                                : "");
    }
    if (e->nRegions == 0)
        fprintf(e->out, "   arena    %.0f bytes, lower bound %.0f\n", (double)p->arenaBytes, (double)p->arenaBound);
    cli_emit_placement_text(e);
    fprintf(e->out, "   weights  %.0f bytes\n   kernels ", (double)(p->constantBytes + p->derivedBytes));
    for (uint32_t i = 0; i < e->nSteps; i++) {
        bool seen = false;
        for (uint32_t k = 0; k < i; k++)
            seen = seen || e->steps[k]->kernel == e->steps[i]->kernel;
        if (!seen)
            fprintf(e->out, " %s", cli_emit_kernel(e->steps[i]));
    }
    fputs(" */\n", e->out);
}

/* Writes scale and zero point of every quantized input and output as macros. */
static void cli_emit_params(const cli_emit *e)
{
    const NNRT_Model *m = e->job->model;
    bool any = false;
    for (uint32_t i = 0; i < e->plan->nInputs + e->plan->nOutputs; i++) {
        const bool output = i >= e->plan->nInputs;
        const uint32_t tensor = output ? m->outputIndex.data[i - e->plan->nInputs] : m->inputIndex.data[i];
        const NNRT_Tensor *t = &m->allTensors.data[tensor];
        char upper[CLI_IDENTIFIER_BYTES], scale[32];
        if (t->quantParams.count != 1)
            continue;
        if (!any)
            fputs("/* Quantized inputs and outputs store integers q: real = scale * (q - zero_point). */\n", e->out);
        any = true;
        cli_emit_upper(upper, e->io[i]);
        cli_emit_real(scale, sizeof(scale), 9, (double)(float)t->quantParams.data->scale);
        fprintf(e->out, "#define %s_%s_SCALE %sf\n#define %s_%s_ZERO_POINT %d\n", e->upper, upper, scale, e->upper,
                upper, (int)t->quantParams.data->zeroPoint);
    }
    fputs(any ? "\n" : "", e->out);
}

static void cli_emit_declarations(const cli_emit *e)
{
    const nnrt_plan *p = e->plan;
    fprintf(e->out,
            "#ifndef %s_MODEL_H\n#define %s_MODEL_H\n\n#ifndef NNRT_PLAN_H\n#error \"include nnrt_plan.h or nnrt.h "
            "before this file\"\n#endif\n#if NNRT_MAX_RANK < %d\n#error \"this model requires an NNRT_MAX_RANK of "
            "%d\"\n#endif\n\n",
            e->upper, e->upper, (int)cli_emit_rank(p), (int)cli_emit_rank(p));
    cli_emit_sizes(e);
    for (uint32_t i = 0; i < e->nSteps; i++)
        if (strncmp(e->steps[i]->kernelName, "nnrt_mcu_", 9) == 0) {
            fputs("#ifndef NNRT_MCU_H\n#error \"include devices/nnrt_mcu.h before this file\"\n#endif\n\n", e->out);
            break;
        }
    cli_emit_params(e);
    fputs("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n", e->out);
    cli_emit_state_declarations(e);
    if (e->nRegions == 0)
        fprintf(e->out,
                "/* Runs the model in an arena of %s_ARENA_BYTES, aligned to 8; nothing is allocated. Threads may run "
                "it concurrently,\n   each in its own arena. ",
                e->upper);
    else
        fprintf(e->out,
                "/* Runs the model in memory regions of %s_%s_BYTES, .., aligned to 8; nothing is allocated. Threads "
                "may run it\n   concurrently, each in its own regions. ",
                e->upper, e->regionUpper[0]);
    fputs(e->nStates > 0 ? "No output may overlap an input. */\n"
                         : "No output may overlap an input: a recurrent state needs two buffers, which the\n   "
                           "caller swaps after each run. */\n",
          e->out);
    cli_emit_signature(e, "run_in", true, ";");
    fprintf(e->out, "/* The same in a static arena: one thread at a time. */\n");
    cli_emit_signature(e, "run", false, ";");
    if (p->nRegions < 2)
        fprintf(e->out,
                "/* The plan, for nnrt_plan_run, which checks its arguments, and nnrt_plan_execute. */\nNNRT_API const "
                "nnrt_plan *%s_plan(void);\n",
                e->name);
    fprintf(e->out,
            "/* NNRT_SUCCESS if the results for one input equal, bit for bit, those of the machine that wrote this "
            "file. */\nNNRT_API NNRT_ReturnCode %s_selftest(",
            e->name);
    cli_emit_memories(e, "void *");
    fputs(");\n", e->out);
    if (e->sums != NULL) {
        fprintf(e->out,
                "/* The same; *node = the first node whose results have another checksum, or whose kernel fails, or the "
                "output that\n   differs; NULL: none. Steps inside IF and LOOP have no checksum; errors in them show "
                "in later "
                "steps. */\n"
                "NNRT_API NNRT_ReturnCode %s_selftest_node(",
                e->name);
        cli_emit_memories(e, "void *");
        fputs(", const char **node);\n", e->out);
    }
    fprintf(e->out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* %s_MODEL_H */\n", e->upper);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>exports */

/* nnrt emit-wasm: the functions of a WebAssembly module. */

/* Writes the lines before the model. */
static void cli_wasm_begin(const cli_emit *e)
{
    fprintf(e->out,
            "#define NNRT_FIRMWARE\n#define NNRT_STATIC\n#define NNRT_IMPLEMENTATION\n#define NNRT_MAX_RANK %d\n"
            "#include \"nnrt.h\"\n#include \"devices/nnrt_mcu.h\"\n",
            (int)cli_emit_rank(e->plan));
}

/* Writes a function that returns an item of `values`, one for each input, or output, that is no state. */
static void cli_wasm_table(const cli_emit *e, const char *name, const char *type, bool output, bool sizes)
{
    const uint32_t from = output ? e->plan->nInputs : 0, to = output ? from + e->plan->nOutputs : e->plan->nInputs;
    uint32_t count = 0;
    fprintf(e->out, "NNRT_EXPORT(%s) %s nnrt_wasm_%s(uint32_t i)\n{\n    switch (i) {\n", name, type, name);
    for (uint32_t i = from; i < to; i++)
        if (cli_emit_state_at(e, i) == NULL && sizes)
            fprintf(e->out, "    case %u: return sizeof(nnrt_io%u);\n", (unsigned)count++, (unsigned)i);
        else if (cli_emit_state_at(e, i) == NULL)
            fprintf(e->out, "    case %u: return nnrt_io%u;\n", (unsigned)count++, (unsigned)i);
    fputs("    default: return 0;\n    }\n}\n", e->out);
}

/* Writes the buffers and the exported functions after the model. */
static void cli_wasm_end(const cli_emit *e)
{
    const uint32_t count = e->plan->nInputs + e->plan->nOutputs;
    const char *separator = e->nStates > 0 ? ", " : "";
    fputs("\n#define NNRT_EXPORT(name) __attribute__((export_name(#name)))\n", e->out);
    for (uint32_t i = 0; i < count; i++)
        if (cli_emit_state_at(e, i) == NULL)
            fprintf(e->out, "static %s nnrt_io%u[%.0f] __attribute__((aligned(16)));\n",
                    cli_c_type(cli_emit_io_at(e, i)->dataType), (unsigned)i, cli_emit_elements(cli_emit_io_at(e, i)));
    cli_wasm_table(e, "input", "const void *", false, false);
    cli_wasm_table(e, "input_bytes", "uint32_t", false, true);
    cli_wasm_table(e, "output", "const void *", true, false);
    cli_wasm_table(e, "output_bytes", "uint32_t", true, true);
    if (e->nStates > 0)
        fprintf(e->out,
                "static uint64_t nnrt_state[(%s_STATE_BYTES + 7) / 8];\n"
                "NNRT_EXPORT(reset) void nnrt_wasm_reset(void)\n{\n    %s_state_reset(nnrt_state);\n}\n",
                e->upper, e->name);
    fprintf(e->out, "NNRT_EXPORT(run) int32_t nnrt_wasm_run(void)\n{\n");
    if (e->nStates > 0)
        fprintf(e->out,
                "    static bool ready;\n    if (!ready)\n        %s_state_reset(nnrt_state);\n    ready = true;\n",
                e->name);
    fprintf(e->out, "    return (int32_t)%s_run(%s", e->name, e->nStates > 0 ? "nnrt_state" : "");
    for (uint32_t i = 0; i < count; i++)
        if (cli_emit_state_at(e, i) == NULL) {
            fprintf(e->out, "%snnrt_io%u", separator, (unsigned)i);
            separator = ", ";
        }
    fputs(");\n}\n", e->out);
}

#endif /* NNRT_TOOL_EMIT_FUNCTIONS_H */
