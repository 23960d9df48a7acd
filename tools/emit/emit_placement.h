/*
emit_placement.h - where the data of a model written as C is: memory regions, states, sections of constants.
Part of tools/nnrt.c.

    >>steps      steps of the plan and of its inner plans
    >>placement  memory regions, sections of constants, states
    >>constants  weights and derived constants
*/
#ifndef NNRT_TOOL_EMIT_PLACEMENT_H
#define NNRT_TOOL_EMIT_PLACEMENT_H

#include "emit_values.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>steps */

/* The inner plans of a step; NULL: none. */
static const nnrt_plan_graphs *cli_emit_runs(const nnrt_plan_step *s)
{
    return s->kernel == nnrt_plan_if || s->kernel == nnrt_plan_loop ? (const nnrt_plan_graphs *)s->attr : NULL;
}

/* Collects the inner plans of p in e->inner, if it is allocated, and counts them and their steps. */
static void cli_emit_find_inner(cli_emit *e, const nnrt_plan *p)
{
    e->nSteps += p->nSteps;
    for (uint32_t i = 0; i < p->nSteps; i++) {
        const nnrt_plan_graphs *graphs = cli_emit_runs(&p->steps[i]);
        for (uint32_t k = 0; k < 2 && graphs != NULL; k++) {
            cli_emit_find_inner(e, graphs->plans[k]);
            if (e->inner != NULL)
                e->inner[e->nInner] = graphs->plans[k];
            e->nInner++;
        }
    }
}

/* Collects all plans and all steps. */
static bool cli_emit_find_steps(cli_emit *e)
{
    cli_emit_find_inner(e, e->plan);
    e->inner = (const nnrt_plan **)cli_alloc(e->nInner, sizeof(*e->inner));
    e->steps = (const nnrt_plan_step **)cli_alloc(e->nSteps, sizeof(*e->steps));
    if (e->inner == NULL || e->steps == NULL)
        return false;
    e->nInner = e->nSteps = 0;
    cli_emit_find_inner(e, e->plan);
    e->nSteps = 0;
    for (uint32_t k = 0; k <= e->nInner; k++) {
        const nnrt_plan *p = k == 0 ? e->plan : e->inner[k - 1];
        for (uint32_t i = 0; i < p->nSteps; i++)
            e->steps[e->nSteps++] = &p->steps[i];
    }
    return true;
}

/* The index of a step, which numbers its attributes. */
static uint32_t cli_emit_number(const cli_emit *e, const nnrt_plan_step *step)
{
    uint32_t number = 0;
    while (e->steps[number] != step)
        number++;
    return number;
}

static size_t cli_emit_count(const nnrt_view *v)
{
    size_t count = 1;
    for (int32_t i = 0; i < v->rank; i++)
        count *= (size_t)v->dims[i];
    return count;
}

static const char *cli_emit_tensor(const cli_emit *e, uint32_t tensor)
{
    const char *name = e->job->model->allTensors.data[tensor].name;
    return name != NULL ? name : "";
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>placement */

/* Copies text before '=' to a name, which must be a C identifier; *value = the text after '='. */
static bool cli_emit_named(const char *text, char *name, const char **value)
{
    const size_t n = strcspn(text, "=");
    char given[CLI_IDENTIFIER_BYTES] = "";
    if (n == 0 || n >= CLI_IDENTIFIER_BYTES || text[n] != '=')
        return false;
    memcpy(given, text, n);
    cli_emit_identifier(name, given, "");
    *value = text + n + 1;
    return strcmp(name, given) == 0;
}

static void cli_emit_to_upper(char *out, const char *text)
{
    for (; *text != '\0'; text++)
        *out++ = *text >= 'a' && *text <= 'z' ? (char)(*text - 32) : *text;
    *out = '\0';
}

/* Reads the options --region. A region is below 256 MiB, so that its offsets fit on machines of 32 bits. */
static int cli_emit_read_regions(cli_emit *e, const cli_args *args)
{
    for (uint32_t i = 0; i < args->regionCount; i++) {
        uint32_t bytes;
        const char *value;
        if (i == NNRT_MAX_REGIONS)
            return cli_usage("emit-c: --region %s: there are at most %d regions", args->regions[i], NNRT_MAX_REGIONS);
        if (!cli_emit_named(args->regions[i], e->regionNames[i], &value) || strcmp(e->regionNames[i], "state") == 0 ||
            !cli_take_whole(value, 1, 0xFFFFFFF, &bytes))
            return cli_usage("emit-c: --region %s: expected NAME=BYTES, a C identifier and at most 268435455",
                             args->regions[i]);
        cli_emit_to_upper(e->regionUpper[i], e->regionNames[i]);
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(e->regionUpper[k], e->regionUpper[i]) == 0)
                return cli_usage("emit-c: --region %s: there is a region '%s'", args->regions[i], e->regionNames[k]);
        e->regions[i].name = e->regionNames[i];
        e->regions[i].bytes = bytes;
        e->nRegions = i + 1;
    }
    return CLI_DONE;
}

/* Writes an offset in the arena, or in a region other than the first. */
static void cli_emit_offset(cli_emit *e, size_t region, size_t offset)
{
    if (region > 0)
        fprintf(e->out, "NNRT_REGION(%u) + ", (unsigned)region);
    fprintf(e->out, "%.0f", (double)offset);
}

/* Whether text has the form of the pattern: '*' is any text, '?' any character. */
static bool cli_emit_matches(const char *pattern, const char *text)
{
    const char *star = NULL, *from = text; /* the last '*', and the first character behind its text */
    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            from = text;
        } else if (*pattern == *text || *pattern == '?') {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* Whether a constant, of argument i, belongs to a section: by its name, by the name of a node that reads it, or by its
   bytes. */
static bool cli_emit_in_section(const cli_emit *e, const cli_emit_section *section, uint32_t i)
{
    const nnrt_plan_arg *args = e->plan->args;
    uint32_t bytes;
    if (*section->pattern == '>' && cli_take_whole(section->pattern + 1, 0, UINT32_MAX - 1, &bytes))
        return cli_emit_count(&args[i].view) * nnrt_type_size(args[i].view.dataType) > bytes;
    if (args[i].tensor != NNRT_NO_TENSOR && cli_emit_matches(section->pattern, cli_emit_tensor(e, args[i].tensor)))
        return true;
    for (uint32_t s = 0; s < e->nSteps; s++)
        for (uint32_t k = 0; k < e->steps[s]->nIn + e->steps[s]->nDerived; k++)
            if (e->constants[e->steps[s]->arg + k] == i && cli_emit_matches(section->pattern, e->steps[s]->name))
                return true;
    return false;
}

/* The section of a constant; NULL: none. */
static const cli_emit_section *cli_emit_section_of(const cli_emit *e, uint32_t i)
{
    for (uint32_t k = 0; k < e->nSections; k++)
        if (cli_emit_in_section(e, &e->sections[k], i))
            return &e->sections[k];
    return NULL;
}

/* Reads the options --section, and counts the bytes of each. */
static int cli_emit_read_sections(cli_emit *e, const cli_args *args)
{
    for (uint32_t i = 0; i < args->sectionCount; i++) {
        if (!cli_emit_named(args->sections[i], e->sections[i].name, &e->sections[i].pattern) ||
            *e->sections[i].pattern == '\0')
            return cli_usage("emit-c: --section %s: expected NAME=PATTERN, a C identifier and a name with * and ?, or "
                             "NAME=>BYTES",
                             args->sections[i]);
        e->nSections = i + 1;
    }
    for (uint32_t i = 0; i < e->plan->nArgs; i++) {
        const cli_emit_section *section = e->constants[i] == i ? cli_emit_section_of(e, i) : NULL;
        const nnrt_view *v = &e->plan->args[i].view;
        if (section != NULL)
            e->sections[section - e->sections].bytes += cli_emit_count(v) * nnrt_type_size(v->dataType);
    }
    for (uint32_t i = 0; i < e->nSections; i++)
        if (e->sections[i].bytes == 0)
            return cli_fail("--section %s: it fits no constant; comments in a file without it name node and tensor of "
                            "each",
                            args->sections[i]);
    return CLI_DONE;
}

/* The macros of the sections, which a program may define. A section may have several patterns. */
static void cli_emit_section_macros(cli_emit *e)
{
    for (uint32_t i = 0; i < e->nSections; i++)
        fprintf(e->out, "#ifndef %s_DATA_%s\n#define %s_DATA_%s %s_DATA\n#endif\n", e->upper, e->sections[i].name,
                e->upper, e->sections[i].name, e->upper);
}

/* Whether the states have one input or output, a number in io; NULL: no. */
static const cli_emit_state *cli_emit_state_at(const cli_emit *e, uint32_t i)
{
    for (uint32_t k = 0; k < e->nStates; k++)
        if (e->states[k].in == i || e->states[k].out == i)
            return &e->states[k];
    return NULL;
}

/* Whether a step may write its first result, output `out`, over all its operands that are input `in`: as the planner
   decides for results in place. A kernel that a device has added makes no such promise. */
static bool cli_emit_elementwise(const cli_emit *e, const nnrt_plan_step *s, uint32_t in, uint32_t out)
{
    const nnrt_plan_arg *args = &e->plan->args[s->arg], *y = &args[s->nIn + s->nDerived];
    bool good = s->op != NULL && s->nOut > 0 &&
                ((s->op->flags & NNRT_OP_INPLACE) != 0 ||
                 (s->op->type == NNRT_NODE_TYPE_TENSOR_SCATTER && args[0].kind == NNRT_PLACE_INPUT && args[0].offset == in)) &&
                y->kind == NNRT_PLACE_OUTPUT && y->offset == out, own = false;
    for (uint32_t k = 0; good && k < s->op->kernelCount; k++)
        own = own || s->op->kernels[k].call == s->kernel;
    for (uint32_t k = 0; good && k < s->nIn + s->nDerived + s->nOut; k++) {
        const nnrt_view *x = &args[k].view;
        if (args[k].kind == NNRT_PLACE_OUTPUT && args[k].offset == out)
            good = &args[k] == y;
        if (args[k].kind != NNRT_PLACE_INPUT || args[k].offset != in)
            continue;
        good = x->rank == y->view.rank && nnrt_type_size(x->dataType) == nnrt_type_size(y->view.dataType);
        for (int32_t i = 0; good && i < x->rank; i++)
            good = x->dims[i] == y->view.dims[i] && x->strides[i] == y->view.strides[i];
    }
    return good && own;
}

/* Whether output `out`, a number in io, may be computed in the buffer of input `in`: no step writes it before the last
   one that reads the input, and that one does not, or works in place. */
static bool cli_emit_in_place(const cli_emit *e, uint32_t in, uint32_t out)
{
    const nnrt_plan *p = e->plan;
    uint32_t last = 0, first = p->nSteps; /* 1 + the last step that reads; the first that writes */
    for (uint32_t s = 0; s < p->nSteps; s++)
        for (uint32_t k = 0; k < p->steps[s].nIn + p->steps[s].nDerived + p->steps[s].nOut; k++) {
            const nnrt_plan_arg *a = &p->args[p->steps[s].arg + k];
            if (a->kind == NNRT_PLACE_INPUT && a->offset == in)
                last = s + 1;
            if (a->kind == NNRT_PLACE_OUTPUT && a->offset == out && first == p->nSteps)
                first = s;
        }
    return last <= first || (last == first + 1 && cli_emit_elementwise(e, &p->steps[first], in, out));
}

/* Finds an input or output by the name of length n; *index = its number. */
static bool cli_emit_find_io(const nnrt_plan_io *io, uint32_t count, const char *name, size_t n, uint32_t *index)
{
    for (*index = 0; *index < count; ++*index)
        if (io[*index].name != NULL && strlen(io[*index].name) == n && memcmp(io[*index].name, name, n) == 0)
            return true;
    return false;
}

static bool cli_emit_same_quant(const NNRT_QuantParamList *x, const NNRT_QuantParamList *y)
{
    bool same = x->count == y->count;
    for (uint32_t i = 0; same && i < x->count; i++)
        same = x->data[i].zeroPoint == y->data[i].zeroPoint && x->data[i].numBits == y->data[i].numBits &&
               memcmp(&x->data[i].scale, &y->data[i].scale, sizeof(x->data[i].scale)) == 0;
    return same;
}

/* Rule: input and output of a state have one type, shape and quantization, and are in no other state. */
static int cli_emit_check_state(cli_emit *e, const char *text, cli_emit_state *state)
{
    const NNRT_Model *m = e->job->model;
    const nnrt_plan_io *x = &e->plan->inputs[state->in], *y = &e->plan->outputs[state->out];
    const NNRT_Tensor *from = &m->allTensors.data[m->inputIndex.data[state->in]];
    const NNRT_Tensor *to = &m->allTensors.data[m->outputIndex.data[state->out]];
    char one[CLI_SHAPE_BYTES], other[CLI_SHAPE_BYTES];
    bool same = x->shape.rank == y->shape.rank && x->dataType == y->dataType;
    for (int32_t k = 0; same && k < x->shape.rank; k++)
        same = x->shape.dims[k] == y->shape.dims[k];
    if (!same)
        return cli_fail("--state %s: the input is %s, the output %s; a state has one type and shape", text,
                        cli_shape_text(one, sizeof(one), x->dataType, &x->shape),
                        cli_shape_text(other, sizeof(other), y->dataType, &y->shape));
    if (!cli_emit_same_quant(&from->quantParams, &to->quantParams))
        return cli_fail("--state %s: input and output have other quantization parameters", text);
    for (uint32_t k = 0; k < e->nStates; k++)
        if (e->states[k].in == state->in || e->states[k].out == e->plan->nInputs + state->out)
            return cli_fail("--state %s: the %s is in another state", text,
                            e->states[k].in == state->in ? "input" : "output");
    state->zero = from->quantParams.count > 0 ? (int)(from->quantParams.data[0].zeroPoint & 255) : 0;
    return CLI_DONE;
}

/* Reads a state, "IN=OUT". */
static int cli_emit_read_state(cli_emit *e, const char *text)
{
    const nnrt_plan *p = e->plan;
    const char *value = strchr(text, '=');
    cli_emit_state *state = &e->states[e->nStates];
    bool found = false;
    int status;
    if (e->nStates == CLI_MOST_INPUTS)
        return cli_fail("--state %s: there are more than %d states", text, CLI_MOST_INPUTS);
    for (; value != NULL; value = strchr(value + 1, '=')) { /* a name may contain '=' */
        found = cli_emit_find_io(p->inputs, p->nInputs, text, (size_t)(value - text), &state->in);
        if (found)
            break;
    }
    if (!found)
        return cli_usage("emit-c: --state %s: expected IN=OUT, and IN an input of the model", text);
    if (!cli_emit_find_io(p->outputs, p->nOutputs, value + 1, strlen(value + 1), &state->out))
        return cli_usage("emit-c: --state %s: the model has no output '%s'", text, value + 1);
    if ((status = cli_emit_check_state(e, text, state)) != CLI_DONE)
        return status;
    state->out += p->nInputs;
    state->inPlace = cli_emit_in_place(e, state->in, state->out);
    e->nStates++;
    if (!state->inPlace) {
        state->offset = e->turnBytes;
        e->turnBytes += (p->inputs[state->in].bytes + 7) / 8 * 8;
    }
    return CLI_DONE;
}

/* Reads the states of the metadata. */
static int cli_emit_read_metadata(cli_emit *e)
{
    const char *line = nnrt_model_metadata(e->job->model, "states");
    int status = CLI_DONE;
    for (size_t n; status == CLI_DONE && line != NULL && *line != '\0'; line += n + (line[n] != '\0' ? 1 : 0)) {
        char *text = cli_text_copy(line, n = strcspn(line, "\n"));
        status = text != NULL ? cli_emit_read_state(e, text) : CLI_FAILED;
        free(text);
    }
    return status;
}

/* Reads the states of the model and the options --state, and gives each a place: the byte that states which buffers are
   current, then the first buffers of all states that have two, the second ones, and the buffers of the others. */
static int cli_emit_read_states(cli_emit *e, const cli_args *args)
{
    const nnrt_plan *p = e->plan;
    int status = cli_emit_read_metadata(e);
    for (uint32_t i = 0; status == CLI_DONE && i < args->stateCount; i++)
        status = cli_emit_read_state(e, args->states[i]);
    if (status != CLI_DONE)
        return status;
    e->stateBytes = e->turnBytes > 0 ? 8 + 2 * e->turnBytes : 0;
    for (uint32_t i = 0; i < e->nStates; i++)
        if (e->states[i].inPlace) {
            e->states[i].offset = e->stateBytes;
            e->stateBytes += (p->inputs[e->states[i].in].bytes + 7) / 8 * 8;
        }
    return CLI_DONE;
}

/* Reads the options that need the plan. */
static int cli_emit_read_placement(cli_emit *e, const cli_args *args)
{
    const int status = cli_emit_read_sections(e, args);
    return status != CLI_DONE ? status : cli_emit_read_states(e, args);
}

/* The address of a state in NAME_run_in: of its current value for the input, of its next one for the output. */
static void cli_emit_state_io(cli_emit *e, uint32_t i)
{
    const cli_emit_state *state = cli_emit_state_at(e, i);
    if (state->inPlace)
        fprintf(e->out, "    io[%u] = (uint8_t *)state + %.0f;\n", (unsigned)i, (double)state->offset);
    else
        fprintf(e->out, "    io[%u] = turn + (*turn %s 0 ? %.0f : %.0f);\n", (unsigned)i, i == state->in ? "==" : "!=",
                (double)(8 + state->offset), (double)(8 + e->turnBytes + state->offset));
}

/* Writes NAME_state_reset, and for each state NAME_state_of_IN. */
static void cli_emit_state_functions(cli_emit *e)
{
    if (e->nStates == 0)
        return;
    fprintf(e->out, "NNRT_API void %s_state_reset(void *state)\n{\n    memset(state, 0, %s_STATE_BYTES);\n", e->name,
            e->upper);
    for (uint32_t i = 0; i < e->nStates; i++)
        for (int k = 0; e->states[i].zero != 0 && k < (e->states[i].inPlace ? 1 : 2); k++)
            fprintf(e->out, "    memset((uint8_t *)state + %.0f, %d, %.0f);\n",
                    (double)(e->states[i].offset + (e->states[i].inPlace ? 0 : 8 + (size_t)k * e->turnBytes)),
                    e->states[i].zero, (double)e->plan->inputs[e->states[i].in].bytes);
    fputs("}\n\n", e->out);
    for (uint32_t i = 0; i < e->nStates; i++) {
        const char *type = cli_c_type(e->plan->inputs[e->states[i].in].dataType);
        fprintf(e->out, "NNRT_API %s *%s_state_of_%s(void *state)\n{\n    return (%s *)(void *)((uint8_t *)state + ",
                type, e->name, e->io[e->states[i].in], type);
        if (e->states[i].inPlace)
            fprintf(e->out, "%.0f", (double)e->states[i].offset);
        else
            fprintf(e->out, "(*(const uint8_t *)state == 0 ? %.0f : %.0f)", (double)(8 + e->states[i].offset),
                    (double)(8 + e->turnBytes + e->states[i].offset));
        fputs(");\n}\n\n", e->out);
    }
}

/* Writes the sizes of the arena or of the regions, and of the state, as macros. */
static void cli_emit_sizes(const cli_emit *e)
{
    const nnrt_plan *p = e->plan;
    for (uint32_t r = 0; r < (e->nRegions > 0 ? e->nRegions : 1); r++) {
        const size_t bytes = e->nRegions == 0 ? p->arenaBytes : p->regionBytes[r];
        const char *name = e->nRegions == 0 ? "ARENA" : e->regionUpper[r];
        fprintf(e->out, "#define %s_%s_BYTES %.0f\n#define %s_%s_WORDS %.0f /* of 8 bytes */\n", e->upper, name,
                (double)bytes, e->upper, name, (double)(bytes > 0 ? (bytes + 7) / 8 : 1));
    }
    if (e->nStates > 0)
        fprintf(e->out, "#define %s_STATE_BYTES %.0f\n#define %s_STATE_WORDS %.0f /* of 8 bytes */\n", e->upper,
                (double)e->stateBytes, e->upper, (double)(e->stateBytes > 0 ? e->stateBytes / 8 : 1));
    fprintf(e->out, "#define %s_VIEWS %u /* for nnrt_plan_execute */\n\n", e->upper,
            p->maxArgs > 0 ? (unsigned)p->maxArgs : 1);
}

/* Writes the bytes of each region and section, and the states, for the comment at the top. */
static void cli_emit_placement_text(const cli_emit *e)
{
    for (uint32_t r = 0; r < e->nRegions; r++)
        fprintf(e->out, "   region   %s: %.0f of %.0f bytes\n", e->regionNames[r], (double)e->plan->regionBytes[r],
                (double)e->regions[r].bytes);
    for (uint32_t i = 0; i < e->nSections; i++)
        fprintf(e->out, "   section  %s: %.0f bytes\n", e->sections[i].name, (double)e->sections[i].bytes);
    for (uint32_t i = 0; i < e->nStates; i++) {
        fputs("   state    ", e->out);
        cli_emit_remark(e->out, e->plan->inputs[e->states[i].in].name);
        fputs(" = ", e->out);
        cli_emit_remark(e->out, e->plan->outputs[e->states[i].out - e->plan->nInputs].name);
        fputs(e->states[i].inPlace ? ", in place\n" : ", two buffers\n", e->out);
    }
}

/* Declares the functions of the state. */
static void cli_emit_state_declarations(const cli_emit *e)
{
    if (e->nStates == 0)
        return;
    fprintf(e->out,
            "/* The state: %s_STATE_BYTES, aligned to 8, that stay between runs and are in no arena. Zeroes it, once "
            "before the first\n   run; quantized ones get their zero point. */\n"
            "NNRT_API void %s_state_reset(void *state);\n"
            "/* The current value of an input that is a state, until the next run: to read it, or to replace it. */\n",
            e->upper, e->name);
    for (uint32_t i = 0; i < e->nStates; i++)
        fprintf(e->out, "NNRT_API %s *%s_state_of_%s(void *state);\n",
                cli_c_type(e->plan->inputs[e->states[i].in].dataType), e->name, e->io[e->states[i].in]);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>constants */

static bool cli_emit_is_constant(const nnrt_plan_arg *a)
{
    return a->kind == NNRT_PLACE_CONSTANT || a->kind == NNRT_PLACE_DERIVED;
}

/* Finds for every constant argument the first one with the same data. */
static bool cli_emit_find_constants(cli_emit *e)
{
    e->constants = (uint32_t *)cli_alloc(e->plan->nArgs, sizeof(*e->constants));
    for (uint32_t i = 0; e->constants != NULL && i < e->plan->nArgs; i++) {
        const nnrt_plan_arg *a = &e->plan->args[i];
        e->constants[i] = cli_emit_is_constant(a) ? i : NNRT_NO_TENSOR;
        for (uint32_t k = 0; k < i && e->constants[i] == i; k++) {
            const nnrt_plan_arg *b = &e->plan->args[k];
            if (e->constants[k] == k && a->view.data == b->view.data && a->view.dataType == b->view.dataType &&
                cli_emit_count(&a->view) == cli_emit_count(&b->view))
                e->constants[i] = k;
        }
        if (e->constants[i] == i)
            e->total += cli_emit_count(&a->view) * nnrt_type_size(a->view.dataType);
    }
    return e->constants != NULL;
}

/* Writes every constant, with a comment that has the name of its first reading step and its own name, if any. */
static void cli_emit_constants(cli_emit *e)
{
    char suffix[24];
    for (uint32_t s = 0; s < e->nSteps; s++) {
        const nnrt_plan_step *step = e->steps[s];
        for (uint32_t k = 0; k < step->nIn + step->nDerived; k++) {
            const uint32_t i = step->arg + k, tensor = e->plan->args[i].tensor;
            const nnrt_view *v = &e->plan->args[i].view;
            if (e->constants[i] != i)
                continue;
            fputs("\n/* ", e->out);
            cli_emit_remark(e->out, step->name);
            if (k < step->nIn)
                fprintf(e->out, ", input %u", (unsigned)k);
            else
                fprintf(e->out, ", derived constant %u", (unsigned)(k - step->nIn));
            if (tensor != NNRT_NO_TENSOR && *cli_emit_tensor(e, tensor) != '\0') {
                fputs(": ", e->out);
                cli_emit_remark(e->out, cli_emit_tensor(e, tensor));
            }
            fputs(" */\n", e->out);
            snprintf(suffix, sizeof(suffix), "c%u", (unsigned)i);
            e->section = cli_emit_section_of(e, i);
            cli_emit_array(e, suffix, v->dataType, v->data, cli_emit_count(v));
            e->section = NULL;
        }
    }
}

/* Writes the quantization parameters of argument i, if any. */
static void cli_emit_quant(cli_emit *e, uint32_t i)
{
    const nnrt_view *v = &e->plan->args[i].view;
    char scale[32];
    if (v->quantCount == 0)
        return;
    fprintf(e->out, "static const %s_DATA NNRT_QuantParam %s_q%u[%u] = {\n", e->upper, e->name, (unsigned)i,
            (unsigned)v->quantCount);
    for (uint32_t k = 0; k < v->quantCount; k++) {
        cli_emit_real(scale, sizeof(scale), 17, v->quant[k].scale);
        fprintf(e->out, "    {%d, %d, %s}%s\n", (int)v->quant[k].numBits, (int)v->quant[k].zeroPoint, scale,
                k + 1 < v->quantCount ? "," : "};");
    }
}

#endif /* NNRT_TOOL_EMIT_PLACEMENT_H */
