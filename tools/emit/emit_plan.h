/*
emit_plan.h - the plan of a model as constant data in C.
Part of tools/nnrt.c.

    >>attributes  attribute structs
    >>plan        views, arguments, steps
*/
#ifndef NNRT_TOOL_EMIT_PLAN_H
#define NNRT_TOOL_EMIT_PLAN_H

#include "emit_placement.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>attributes */

/* *number = the index of a list of integers, which is written unless an equal one was. */
static bool cli_emit_list_number(cli_emit *e, const NNRT_Int64List *list, uint32_t *number)
{
    char suffix[24];
    cli_emit_list *made;
    for (*number = 0; *number < e->nLists; ++*number)
        if (e->lists[*number].count == list->count &&
            memcmp(e->lists[*number].data, list->data, list->count * sizeof(int64_t)) == 0)
            return true;
    made = (cli_emit_list *)cli_alloc((size_t)e->nLists + 1, sizeof(*made));
    if (made == NULL)
        return false;
    if (e->nLists > 0)
        memcpy(made, e->lists, e->nLists * sizeof(*made));
    free(e->lists);
    e->lists = made;
    made[e->nLists].data = (int64_t *)cli_alloc(list->count, sizeof(int64_t));
    if (made[e->nLists].data == NULL)
        return false;
    memcpy(made[e->nLists].data, list->data, list->count * sizeof(int64_t));
    made[e->nLists++].count = list->count;
    snprintf(suffix, sizeof(suffix), "l%u", (unsigned)*number);
    cli_emit_array(e, suffix, NNRT_DATA_TYPE_INT64, list->data, list->count);
    return true;
}

/* One float or double as C text; NaN and infinities as the macros of <math.h>. */
static void cli_emit_float(char *out, size_t size, NNRT_DataType type, const void *at)
{
    const double value = type == NNRT_DATA_TYPE_FLOAT64 ? *(const double *)at : (double)*(const float *)at;
    if (cli_emit_as_bits(type, at, 1))
        snprintf(out, size, "%s", value > 0 ? "INFINITY" : value < 0 ? "-INFINITY" : "NAN");
    else
        cli_emit_element(out, size, type, at);
}

/* Writes a list of floats as NAME_m<step>_<member>. */
static void cli_emit_floats(cli_emit *e, uint32_t step, const char *member, const NNRT_FloatList *list)
{
    char text[48];
    fprintf(e->out, "static const %s_DATA float %s_m%u_%s[%u] = {\n", e->upper, e->name, (unsigned)step, member,
            (unsigned)list->count);
    e->column = 0;
    for (uint32_t k = 0; k < list->count; k++) {
        cli_emit_float(text, sizeof(text), NNRT_DATA_TYPE_FLOAT32, &list->data[k]);
        cli_emit_item(e, text, k + 1 == list->count);
    }
    fputs("};\n", e->out);
}

/* Writes a list of lists; the outer one is NAME_m<step>_<member>. */
static bool cli_emit_lists(cli_emit *e, uint32_t step, const char *member, const NNRT_Int64Lists *lists)
{
    uint32_t number;
    for (uint32_t k = 0; k < lists->count; k++)
        if (lists->data[k].count > 0 && !cli_emit_list_number(e, &lists->data[k], &number))
            return false;
    fprintf(e->out, "static const %s_DATA NNRT_Int64List %s_m%u_%s[%u] = {\n", e->upper, e->name, (unsigned)step,
            member, (unsigned)lists->count);
    for (uint32_t k = 0; k < lists->count; k++) {
        if (lists->data[k].count == 0)
            fputs("    {NULL, 0}", e->out);
        else if (cli_emit_list_number(e, &lists->data[k], &number))
            fprintf(e->out, "    {%s_l%u, %u}", e->name, (unsigned)number, (unsigned)lists->data[k].count);
        fputs(k + 1 < lists->count ? ",\n" : "};\n", e->out);
    }
    return true;
}

/* Writes the lists of an attribute struct. */
static bool cli_emit_attr_lists(cli_emit *e, uint32_t step, const nnrt_attr_struct *s, const void *attr)
{
    uint32_t number;
    for (uint32_t i = 0; i < s->count; i++) {
        const void *at = (const uint8_t *)attr + s->members[i].offset;
        const char *name = s->members[i].name;
        switch (s->members[i].kind) {
        case NNRT_ATTR_KIND_INTS:
        case NNRT_ATTR_KIND_INTS64:
            if (((const NNRT_Int64List *)at)->count > 0 &&
                !cli_emit_list_number(e, (const NNRT_Int64List *)at, &number))
                return false;
            break;
        case NNRT_ATTR_KIND_FLOATS:
            if (((const NNRT_FloatList *)at)->count > 0)
                cli_emit_floats(e, step, name, (const NNRT_FloatList *)at);
            break;
        case NNRT_ATTR_KIND_INTS2:
            if (((const NNRT_Int64Lists *)at)->count > 0 && !cli_emit_lists(e, step, name, (const NNRT_Int64Lists *)at))
                return false;
            break;
        default: break;
        }
    }
    return true;
}

static void cli_emit_member(cli_emit *e, uint32_t step, const nnrt_attr_member *m, const void *at)
{
    uint32_t number = 0;
    char text[48];
    switch (m->kind) {
    case NNRT_ATTR_KIND_BOOL: fputs(*(const bool *)at ? "true" : "false", e->out); break;
    case NNRT_ATTR_KIND_INT:
    case NNRT_ATTR_KIND_INT64:
        cli_emit_element(text, sizeof(text), NNRT_DATA_TYPE_INT64, at);
        fputs(text, e->out);
        break;
    case NNRT_ATTR_KIND_INT32:
        cli_emit_element(text, sizeof(text), NNRT_DATA_TYPE_INT32, at);
        fputs(text, e->out);
        break;
    case NNRT_ATTR_KIND_FLOAT:
    case NNRT_ATTR_KIND_DOUBLE:
        cli_emit_float(text, sizeof(text),
                       m->kind == NNRT_ATTR_KIND_FLOAT ? NNRT_DATA_TYPE_FLOAT32 : NNRT_DATA_TYPE_FLOAT64, at);
        fputs(text, e->out);
        break;
    case NNRT_ATTR_KIND_TYPE:
        fprintf(e->out, "%d", (int)(m->bytes == 8 ? *(const int64_t *)at : *(const int32_t *)at));
        break;
    case NNRT_ATTR_KIND_STRING: cli_emit_text(e->out, *(const char *const *)at); break;
    case NNRT_ATTR_KIND_GRAPH: fprintf(e->out, "%uu", (unsigned)*(const uint32_t *)at); break;
    case NNRT_ATTR_KIND_INTS:
    case NNRT_ATTR_KIND_INTS64:
        if (((const NNRT_Int64List *)at)->count == 0)
            fputs("{NULL, 0}", e->out);
        else if (cli_emit_list_number(e, (const NNRT_Int64List *)at, &number))
            fprintf(e->out, "{%s_l%u, %u}", e->name, (unsigned)number, (unsigned)((const NNRT_Int64List *)at)->count);
        break;
    case NNRT_ATTR_KIND_INTS2:
        if (((const NNRT_Int64Lists *)at)->count == 0)
            fputs("{NULL, 0}", e->out);
        else
            fprintf(e->out, "{%s_m%u_%s, %u}", e->name, (unsigned)step, m->name,
                    (unsigned)((const NNRT_Int64Lists *)at)->count);
        break;
    case NNRT_ATTR_KIND_FLOATS:
        if (((const NNRT_FloatList *)at)->count == 0)
            fputs("{NULL, 0}", e->out);
        else
            fprintf(e->out, "{%s_m%u_%s, %u}", e->name, (unsigned)step, m->name,
                    (unsigned)((const NNRT_FloatList *)at)->count);
        break;
    default: fprintf(e->out, "%d", (int)*(const int32_t *)at); break;
    }
}

/* The name of an enumerator or element type, for the comment after its number. */
static const char *cli_emit_value_name(const nnrt_attr_member *m, const void *at)
{
    if (m->kind == NNRT_ATTR_KIND_TYPE)
        return nnrt_type_name((NNRT_DataType)(m->bytes == 8 ? *(const int64_t *)at : *(const int32_t *)at));
    for (uint32_t k = 0; k < m->valueCount; k++)
        if (m->values[k].value == *(const int32_t *)at)
            return m->values[k].name;
    return NULL;
}

/* The description of a step's attributes; NULL: it has none to write. */
static const nnrt_attr_struct *cli_emit_described(const nnrt_plan_step *s)
{
    const nnrt_attr_struct *d = s->deviceAttr != NULL ? s->deviceAttr : s->op != NULL ? s->op->attr : NULL;
    return d == NULL || s->attr == NULL || d->count == 0 || cli_emit_runs(s) != NULL ? NULL : d;
}

/* The resolved attributes of a step: static const NNRT_Conv2DFusion NAME_a<step> = {...}; */
static bool cli_emit_attr(cli_emit *e, uint32_t step)
{
    const nnrt_plan_step *s = e->steps[step];
    const nnrt_attr_struct *d = cli_emit_described(s);
    const char *name;
    if (d == NULL)
        return true;
    if (!cli_emit_attr_lists(e, step, d, s->attr))
        return false;
    fprintf(e->out, "static const %s_DATA NNRT_%s %s_a%u = {\n", e->upper, d->name, e->name, (unsigned)step);
    for (uint32_t i = 0; i < d->count; i++) {
        fputs("    ", e->out);
        cli_emit_member(e, step, &d->members[i], (const uint8_t *)s->attr + d->members[i].offset);
        name = cli_emit_value_name(&d->members[i], (const uint8_t *)s->attr + d->members[i].offset);
        fprintf(e->out, "%s /* %s%s%s */\n", i + 1 < d->count ? "," : "", d->members[i].name, name != NULL ? " " : "",
                name != NULL ? name : "");
    }
    fputs("};\n", e->out);
    return true;
}

/* Whether a step gets a kernel of its own (cli_emit_specialized): with --small only if no other step has its kernel. */
static bool cli_emit_is_specialized(const cli_emit *e, const nnrt_plan_step *s)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < e->nSteps && e->small; i++)
        same += e->steps[i]->kernel == s->kernel;
    return s->deviceAttr != NULL && same < 2;
}

/* Kernels of a device: for kernel K, the inline function K_inline with the constant attributes of the step, so that the
   compiler specializes it (static NNRT_ReturnCode NAME_k<step>). */
static void cli_emit_specialized(cli_emit *e)
{
    for (uint32_t i = 0; i < e->nSteps; i++)
        if (cli_emit_is_specialized(e, e->steps[i]))
            fprintf(e->out,
                    "static NNRT_ReturnCode %s_k%u(const void *attr, nnrt_view *args, nnrt_call *call)\n{\n"
                    "    (void)attr;\n    return %s_inline(&%s_a%u, args, call);\n}\n",
                    e->name, (unsigned)i, e->steps[i]->kernelName, e->name, (unsigned)i);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>plan */

static void cli_emit_arg(cli_emit *e, uint32_t i)
{
    const nnrt_plan_arg *a = &e->plan->args[i];
    const nnrt_view *v = &a->view;
    static const char *const kinds[] = {"NONE", "CONSTANT", "DERIVED", "ARENA", "INPUT", "OUTPUT", "CARRIED"};
    fputs("    {{", e->out);
    if (cli_emit_is_constant(a))
        fprintf(e->out, "(void *)%s_c%u", e->name, (unsigned)e->constants[i]);
    else
        fputs("NULL", e->out);
    fprintf(e->out, ", %s, %d, {", cli_emit_type_name(v->dataType), (int)v->rank);
    for (int32_t k = 0; k < (v->rank > 0 ? v->rank : 1); k++)
        fprintf(e->out, "%s%d", k > 0 ? ", " : "", v->rank > 0 ? (int)v->dims[k] : 0);
    fputs("}, {", e->out);
    for (int32_t k = 0; k < (v->rank > 0 ? v->rank : 1); k++)
        fprintf(e->out, "%s%.0f", k > 0 ? ", " : "", v->rank > 0 ? (double)v->strides[k] : 0.0);
    if (v->quantCount > 0)
        fprintf(e->out, "}, %s_q%u, %u}", e->name, (unsigned)i, (unsigned)v->quantCount);
    else
        fputs("}, NULL, 0}", e->out);
    fprintf(e->out, ", NNRT_PLACE_%s, ", kinds[a->kind]);
    cli_emit_offset(e, a->kind == NNRT_PLACE_ARENA ? a->offset / NNRT_REGION(1) : 0,
                    a->kind == NNRT_PLACE_ARENA ? a->offset % NNRT_REGION(1) : a->offset);
    fputs(", ", e->out);
    if (a->tensor == NNRT_NO_TENSOR)
        fputs("NNRT_NO_TENSOR", e->out);
    else
        fprintf(e->out, "%u", (unsigned)a->tensor);
    fputs(i + 1 < e->plan->nArgs ? "},\n" : "}};\n", e->out);
}

/* The name of a step's kernel without its prefix nnrt_. */
static const char *cli_emit_kernel(const nnrt_plan_step *s)
{
    return s->kernelName + strlen("nnrt_");
}

/* Writes the function that a step calls: a kernel's wrapper, or for kernels of a device their own or a specialized one. */
static void cli_emit_call_of(cli_emit *e, const nnrt_plan_step *s)
{
    if (cli_emit_is_specialized(e, s))
        fprintf(e->out, "%s_k%u", e->name, (unsigned)cli_emit_number(e, s));
    else
        fprintf(e->out, "%s%s", cli_emit_runs(s) != NULL || s->deviceAttr != NULL ? "nnrt_" : "nnrti_call_",
                cli_emit_kernel(s));
}

/* The inner plans of a step: static const nnrt_plan_graphs NAME_r<step> = {...}; */
static void cli_emit_graphs(cli_emit *e, uint32_t step, const nnrt_plan_graphs *graphs)
{
    uint32_t at[2] = {0, 0};
    for (uint32_t k = 0; k < 2; k++)
        while (e->inner[at[k]] != graphs->plans[k])
            at[k]++;
    if (graphs->nScans > 0)
        fprintf(e->out, "static const %s_DATA size_t %s_s%u[%u] = {", e->upper, e->name, (unsigned)step,
                (unsigned)graphs->nScans);
    for (uint32_t k = 0; k < graphs->nScans; k++)
        fprintf(e->out, "%.0f%s", (double)graphs->scanBytes[k], k + 1 < graphs->nScans ? ", " : "};\n");
    fprintf(e->out, "static const %s_DATA nnrt_plan_graphs %s_r%u = {{&%s_g%u, &%s_g%u}, %u, %u, %u, ", e->upper,
            e->name, (unsigned)step, e->name, (unsigned)at[0], e->name, (unsigned)at[1], (unsigned)graphs->first,
            (unsigned)graphs->nPairs, (unsigned)graphs->nScans);
    if (graphs->nScans > 0)
        fprintf(e->out, "%s_s%u", e->name, (unsigned)step);
    else
        fputs("NULL", e->out);
    fprintf(e->out, ", %d, %u};\n", (int)graphs->scanTrips, (unsigned)graphs->maxTrips);
}

/* The steps of a plan, after their inner plans: static const nnrt_plan_step NAME_<prefix>steps[count] = {...}; */
static void cli_emit_steps(cli_emit *e, const nnrt_plan *p, const char *prefix)
{
    for (uint32_t i = 0; i < p->nSteps; i++)
        if (cli_emit_runs(&p->steps[i]) != NULL)
            cli_emit_graphs(e, cli_emit_number(e, &p->steps[i]), cli_emit_runs(&p->steps[i]));
    fprintf(e->out, "static const %s_DATA nnrt_plan_step %s_%ssteps[%u] = {\n", e->upper, e->name, prefix,
            p->nSteps > 0 ? (unsigned)p->nSteps : 1);
    for (uint32_t i = 0; i < p->nSteps; i++) {
        const nnrt_plan_step *s = &p->steps[i];
        const bool runs = cli_emit_runs(s) != NULL;
        fputs("    {", e->out);
        cli_emit_call_of(e, s);
        fprintf(e->out, ", NNRTI_LABEL(\"%s\"), ", s->kernelName);
        if (runs || cli_emit_described(s) != NULL)
            fprintf(e->out, "&%s_%c%u", e->name, runs ? 'r' : 'a', (unsigned)cli_emit_number(e, s));
        else
            fputs("NULL", e->out);
        fputs(", NULL, NNRTI_LABEL(", e->out);
        cli_emit_text(e->out, s->name);
        fprintf(e->out, "), %d, %u, %u, %u, %u, ", (int)s->node, (unsigned)s->arg, (unsigned)s->nIn,
                (unsigned)s->nDerived, (unsigned)s->nOut);
        cli_emit_offset(e, s->scratch / NNRT_REGION(1), s->scratch % NNRT_REGION(1));
        fprintf(e->out, ", %.0f NNRTI_STEP_REST}%s\n", (double)s->scratchBytes, i + 1 < p->nSteps ? "," : "};");
    }
    if (p->nSteps == 0)
        fputs("    {NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0 NNRTI_STEP_REST}};\n", e->out);
}

/* Writes a comment that names the step of an inner plan. */
static void cli_emit_whose(cli_emit *e, const nnrt_plan *inner)
{
    static const char *const what[2][2] = {{"if cond is true", "if cond is false"},
                                           {"the body", "after the last iteration"}};
    for (uint32_t i = 0; i < e->nSteps; i++) {
        const nnrt_plan_graphs *graphs = cli_emit_runs(e->steps[i]);
        for (uint32_t k = 0; k < 2 && graphs != NULL; k++)
            if (graphs->plans[k] == inner) {
                fputs("/* ", e->out);
                cli_emit_remark(e->out, e->steps[i]->name);
                fprintf(e->out, ": %s */\n", what[e->steps[i]->kernel == nnrt_plan_loop ? 1 : 0][k]);
            }
    }
}

/* Writes the inner plans. */
static void cli_emit_inner(cli_emit *e)
{
    char prefix[24];
    for (uint32_t k = 0; k < e->nInner; k++) {
        const nnrt_plan *p = e->inner[k];
        snprintf(prefix, sizeof(prefix), "g%u_", (unsigned)k);
        cli_emit_whose(e, p);
        cli_emit_steps(e, p, prefix);
        fprintf(e->out,
                "static const %s_DATA nnrt_plan %s_g%u = {\n    %s_g%u_steps, %s_args, NULL, NULL, %u, %u, 0, 0, %u, "
                "0, 0, 0, 0, NULL, NULL NNRTI_PLAN_REST};\n",
                e->upper, e->name, (unsigned)k, e->name, (unsigned)k, e->name, (unsigned)p->nSteps,
                (unsigned)e->plan->nArgs, (unsigned)p->maxArgs);
    }
}

static void cli_emit_io(cli_emit *e, const char *what, const nnrt_plan_io *io, uint32_t count)
{
    fprintf(e->out, "static const %s_DATA nnrt_plan_io %s_%s[%u] = {\n", e->upper, e->name, what,
            count > 0 ? (unsigned)count : 1);
    for (uint32_t i = 0; i < count; i++) {
        fputs("    {NNRTI_LABEL(", e->out);
        cli_emit_text(e->out, io[i].name);
        fprintf(e->out, "), %s, NNRT_FORMAT_%s, {%d, {", cli_emit_type_name(io[i].dataType),
                io[i].format == NNRT_FORMAT_NCHW   ? "NCHW"
                : io[i].format == NNRT_FORMAT_NHWC ? "NHWC"
                                                   : "NONE",
                (int)io[i].shape.rank);
        for (int32_t k = 0; k < (io[i].shape.rank > 0 ? io[i].shape.rank : 1); k++)
            fprintf(e->out, "%s%d", k > 0 ? ", " : "", io[i].shape.rank > 0 ? (int)io[i].shape.dims[k] : 0);
        fprintf(e->out, "}}, %.0f}%s\n", (double)io[i].bytes, i + 1 < count ? "," : "};");
    }
    if (count == 0)
        fputs("    {NULL, 0, 0, {0, {0}}, 0}};\n", e->out);
}

static void cli_emit_plan(cli_emit *e)
{
    const nnrt_plan *p = e->plan;
    fprintf(e->out, "static const %s_DATA nnrt_plan_arg %s_args[%u] = {\n", e->upper, e->name,
            p->nArgs > 0 ? (unsigned)p->nArgs : 1);
    for (uint32_t i = 0; i < p->nArgs; i++)
        cli_emit_arg(e, i);
    if (p->nArgs == 0)
        fputs("    {{NULL, 0, 0, {0}, {0}, NULL, 0}, NNRT_PLACE_NONE, 0, 0}};\n", e->out);
    cli_emit_inner(e);
    cli_emit_steps(e, p, "");
    cli_emit_io(e, "inputs", p->inputs, p->nInputs);
    cli_emit_io(e, "outputs", p->outputs, p->nOutputs);
    fprintf(
        e->out,
        "static const %s_DATA nnrt_plan %s_plan_data = {\n    %s_steps, %s_args, %s_inputs, %s_outputs, %u, %u, %u, "
        "%u, %u, %s_%s_BYTES, %.0f, %.0f, %.0f, NULL, NULL NNRTI_PLAN_REST};\n",
        e->upper, e->name, e->name, e->name, e->name, e->name, (unsigned)p->nSteps, (unsigned)p->nArgs,
        (unsigned)p->nInputs, (unsigned)p->nOutputs, (unsigned)p->maxArgs, e->upper,
        e->nRegions > 0 ? e->regionUpper[0] : "ARENA", (double)p->arenaBound,
        (double)p->constantBytes, (double)p->derivedBytes);
}

#endif /* NNRT_TOOL_EMIT_PLAN_H */
