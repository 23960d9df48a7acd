/*
copy_example.h - a main() that calls a copied kernel (copy.h).
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_COPY_EXAMPLE_H
#define NNRT_TOOL_COPY_EXAMPLE_H

#include "copy_head.h"

#define CLI_COPY_STRUCT(types, operands, S, fn, args, ...) {"nnrt_" #fn, #S},
static const cli_copy_pair cli_copy_structs[] = {NNRT_OPS(CLI_COPY_KERNELS, CLI_COPY_STRUCT){NULL, NULL}};

#define CLI_COPY_OPERANDS 5    /* most inputs of an example */
#define CLI_COPY_TRIES 200000u /* number of shapes tried for one */

/* An example of a call: operands that the rule accepts with default attributes. */
typedef struct cli_copy_example {
    nnrt_resolve r;
    nnrt_operand in[CLI_COPY_OPERANDS + 4], out[CLI_COPY_OPERANDS + 4];
    const char *kernel;
} cli_copy_example;

static void *cli_copy_example_room(void *user, size_t bytes)
{
    return cli_copy_keep((cli_copy *)user, bytes);
}

/* The type of input i of an example whose input 0 has type first. */
static NNRT_DataType cli_copy_example_type(const nnrt_op *op, const nnrt_kernel_row *row, uint32_t i, NNRT_DataType first)
{
    cli_text rest;
    (void)cli_copy_operand(row->operands != NULL ? row->operands : op->inputs, i, &rest);
    while (rest.n > 0 && (*rest.at == '?' || *rest.at == '*'))
        rest = cli_text_between(rest.at + 1, rest.at + rest.n);
    rest = cli_copy_type(rest);
    if (i == 0)
        return first;
    if (rest.n > 1 && *rest.at == '=')
        return cli_copy_example_type(op, row, (uint32_t)(rest.at[1] - '0'), first);
    switch (rest.n > 1 ? rest.at[1] : '.') {
    case 'i': return NNRT_DATA_TYPE_INT64;
    case 'b': return NNRT_DATA_TYPE_BOOL;
    case 's': return NNRT_DATA_TYPE_INT32;
    case 'w': return NNRT_DATA_TYPE_INT64;
    case '8': return NNRT_DATA_TYPE_INT8;
    default: return NNRT_DATA_TYPE_FLOAT32;
    }
}

/* Element k of an example's input: small numbers, integers starting at `from`. */
static double cli_copy_example_value(NNRT_DataType type, uint32_t from, size_t k)
{
    return cli_is_float(type) ? (double)(k % 7) * 0.25 - 0.5 : type == NNRT_DATA_TYPE_BOOL ? 1 : (double)from;
}

/* Attributes for operators whose default attributes match no shape: lists have count entries. */
static const void *cli_copy_example_attributes(cli_copy *c, const nnrt_op *op, uint32_t count)
{
    static const char *const names[] = {"kernelSize", "blockSize",    "blockShape", "beginNormAxis", "beginParamsAxis", "newHeight",
                                        "newWidth",   "outputHeight", "outputWidth", "groupNum",     "numGroups",       "pooledHeight",
                                        "pooledWidth", "depth",       "numHeads",   "hiddenSize"};
    static const int64_t list[] = {2, 2, 2};
    uint8_t *attr = (uint8_t *)cli_copy_keep(c, op->attr->bytes);
    if (attr == NULL)
        return NULL;
    nnrt_attr_defaults(op->attr, attr);
    for (uint32_t i = 0; i < op->attr->count; i++)
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            const nnrt_attr_member *m = &op->attr->members[i];
            if (strcmp(m->name, names[k]) != 0)
                continue;
            if (m->kind == NNRT_ATTR_KIND_INTS || m->kind == NNRT_ATTR_KIND_INTS64) {
                ((NNRT_Int64List *)(void *)(attr + m->offset))->data = list;
                ((NNRT_Int64List *)(void *)(attr + m->offset))->count = count;
            } else if (m->kind == NNRT_ATTR_KIND_INT || m->kind == NNRT_ATTR_KIND_INT64) {
                *(int64_t *)(void *)(attr + m->offset) = strstr(m->name, "Axis") != NULL ? 1 : 2;
            }
        }
    return attr;
}

/* Resolves the node with these shapes; false: the rule fails, or selects the row of another kernel. */
static bool cli_copy_example_try(cli_copy *c, cli_copy_example *e, const nnrt_op *op, const nnrt_kernel_row *row,
                                 const uint32_t *at, NNRT_DataType first, uint32_t variant)
{
    const uint32_t from = variant % 3, lists = variant / 3 % 3;
    static const int32_t shapes[][6] = {{2, 2, 3}, {4, 2, 3, 3, 2}, {1, 4}, {0}, {2, 4, 3}, {4, 1, 4, 4, 2}, {1, 2}, {1, 1},
                                        {2, 3, 4}, {3, 2, 3, 4}, {5, 1, 2, 3, 3, 3}, {5, 2, 2, 2, 2, 2}, {1, 3}};
    const nnrt_op_arity arity = nnrt_op_operands(op);
    memset(e, 0, sizeof(*e));
    for (uint32_t i = 0; i < CLI_COPY_OPERANDS + 4; i++) {
        e->in[i] = nnrt_operand_make(NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
        e->out[i] = nnrt_operand_make(NNRT_DATA_TYPE_UNKNOWN, -1, NULL, NULL);
        e->in[i].name = e->out[i].name = "";
    }
    for (uint32_t i = 0; i < arity.minIn; i++) {
        const int32_t *shape = shapes[at[i] % (sizeof(shapes) / sizeof(shapes[0]))];
        cli_tensor value;
        nnrt_dims dims;
        memset(&value, 0, sizeof(value));
        dims.rank = shape[0];
        for (int32_t k = 0; k < shape[0]; k++)
            dims.dims[k] = shape[k + 1];
        value.type = cli_copy_example_type(op, row, i, first);
        (void)nnrt_dims_count(dims.dims, dims.rank, &value.count);
        if ((value.data = cli_copy_keep(c, value.count * nnrt_type_size(value.type))) == NULL)
            return false;
        for (size_t k = 0; k < value.count; k++)
            cli_set_element(&value, k, cli_copy_example_value(value.type, from, k));
        e->in[i] = nnrt_operand_make(value.type, dims.rank, dims.dims, value.data);
        e->in[i].name = "";
    }
    if (variant >= 9)
        e->out[0].dataType = variant < 18 ? NNRT_DATA_TYPE_FLOAT32 : NNRT_DATA_TYPE_INT32;
    e->r.op = op;
    e->r.nodeName = "";
    e->r.in = e->in;
    e->r.out = e->out;
    e->r.nIn = arity.minIn;
    e->r.nOut = arity.minOut;
    e->r.alloc = cli_copy_example_room;
    e->r.user = c;
    if (lists > 0) {
        e->r.attr = cli_copy_example_attributes(c, op, lists + 1);
        e->r.attrBytes = op->attr->bytes;
    }
    return nnrt_resolve_node(&e->r) == NNRT_SUCCESS && e->r.kernel == row->call;
}

/* True if the kernel accepts the values. */
static bool cli_copy_example_runs(cli_copy *c, const cli_copy_example *e)
{
    nnrt_view args[2 * (CLI_COPY_OPERANDS + 4) + NNRT_MAX_DERIVED];
    nnrt_call call;
    uint32_t n = 0;
    memset(args, 0, sizeof(args));
    memset(&call, 0, sizeof(call));
    call.nIn = e->r.kernelIn;
    call.nDerived = e->r.nDerived;
    call.nOut = e->r.kernelOut;
    call.scratch = e->r.scratch > 0 ? cli_copy_keep(c, e->r.scratch) : NULL;
    call.scratchBytes = e->r.scratch;
    if (call.nIn > CLI_COPY_OPERANDS + 4 || call.nOut > CLI_COPY_OPERANDS + 4)
        return false;
    for (uint32_t i = 0; i < call.nIn + call.nDerived; i++, n++) {
        const nnrt_operand *o = i < call.nIn ? &e->in[i] : &e->r.derived[i - call.nIn];
        nnrt_operand_view(i < call.nIn ? e->r.op : NULL, o, (int32_t)i, &args[n]);
        args[n].data = (void *)(uintptr_t)o->data;
    }
    for (uint32_t i = 0; i < call.nOut; i++, n++) {
        size_t bytes = 0;
        nnrt_operand_view(e->r.op, &e->out[i], -1, &args[n]);
        if (args[n].dataType == NNRT_DATA_TYPE_UNKNOWN)
            continue;
        if (!nnrt_dims_bytes(args[n].dims, args[n].rank, args[n].dataType, &bytes) || bytes == 0 || bytes > 4096 ||
            (args[n].data = cli_copy_keep(c, bytes)) == NULL)
            return false;
    }
    return e->r.kernel(e->r.resolved, args, &call) == NNRT_SUCCESS;
}

/* Searches some shapes for an example of the kernel, for input 0 of `type` if that is known. */
static bool cli_copy_example_find(cli_copy *c, cli_copy_example *e, const nnrt_op *op, const nnrt_kernel_row *row,
                                  NNRT_DataType type)
{
    static const NNRT_DataType types[] = {NNRT_DATA_TYPE_FLOAT32, NNRT_DATA_TYPE_INT32, NNRT_DATA_TYPE_INT64,
                                          NNRT_DATA_TYPE_BOOL, NNRT_DATA_TYPE_INT8, NNRT_DATA_TYPE_UINT8};
    const nnrt_op_arity arity = nnrt_op_operands(op);
    const cli_block *const before = c->blocks;
    const size_t bytes = c->bytes;
    const uint32_t variants = arity.minIn > 3 ? 1 : 27; /* variants of values, attributes and result types */
    NNRT_DataType first = NNRT_DATA_TYPE_UNKNOWN;
    for (size_t i = sizeof(types) / sizeof(types[0]); i-- > 0;)
        first = (row->types & NNRT_TYPES_OF(types[i])) != 0 ? types[i] : first;
    first = type != NNRT_DATA_TYPE_UNKNOWN ? type : first;
    if (first == NNRT_DATA_TYPE_UNKNOWN || arity.minIn == 0 || arity.minIn > CLI_COPY_OPERANDS || arity.minOut > 4)
        return false;
    for (uint32_t n = 0, most = variants; n < CLI_COPY_TRIES; n++) {
        uint32_t at[CLI_COPY_OPERANDS], left = n / variants;
        for (uint32_t i = 0; i < arity.minIn; i++, left /= 13)
            at[i] = left % 13;
        if (n == 0)
            for (uint32_t i = 0; i < arity.minIn; i++)
                most = most < CLI_COPY_TRIES ? most * 13 : most;
        if (n == most)
            break;
        if (cli_copy_example_try(c, e, op, row, at, first, n % variants) && cli_copy_example_runs(c, e))
            return true;
        cli_copy_free(c, before);
        c->bytes = bytes;
    }
    return false;
}

/* A literal of float or double. */
static void cli_copy_example_real(double v, bool single)
{
    char text[40];
    snprintf(text, sizeof(text), single ? "%.9g" : "%.17g", v);
    if (isnan(v) || isinf(v))
        fputs(isnan(v) ? "NAN" : v < 0 ? "-INFINITY" : "INFINITY", stdout);
    else
        printf("%s%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "", single ? "f" : "");
}

/* "static float NAME[] = {..};": the elements of an operand, or an uninitialized array if data is NULL. */
static void cli_copy_example_array(const char *name, uint32_t i, const nnrt_operand *o)
{
    static const struct {
        NNRT_DataType type;
        const char *name;
    } types[] = {{NNRT_DATA_TYPE_BOOL, "unsigned char"}, {NNRT_DATA_TYPE_INT8, "int8_t"},   {NNRT_DATA_TYPE_UINT8, "uint8_t"},
                 {NNRT_DATA_TYPE_INT16, "int16_t"},      {NNRT_DATA_TYPE_UINT16, "uint16_t"}, {NNRT_DATA_TYPE_INT32, "int32_t"},
                 {NNRT_DATA_TYPE_UINT32, "uint32_t"},    {NNRT_DATA_TYPE_INT64, "int64_t"}, {NNRT_DATA_TYPE_UINT64, "uint64_t"},
                 {NNRT_DATA_TYPE_FLOAT16, "uint16_t"},   {NNRT_DATA_TYPE_FLOAT32, "float"}, {NNRT_DATA_TYPE_FLOAT64, "double"}};
    cli_tensor t;
    memset(&t, 0, sizeof(t));
    t.type = o->dataType;
    t.data = (void *)(uintptr_t)o->data;
    (void)nnrt_dims_count(o->dims, o->rank, &t.count);
    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++)
        if (types[k].type == o->dataType)
            printf("    static %s %s%u[%u]", types[k].name, name, (unsigned)i, (unsigned)(t.count > 0 ? t.count : 1));
    for (size_t k = 0; k < t.count && o->data != NULL; k++) {
        const double v = cli_element(&t, k);
        printf("%s%s", k == 0 ? " = {" : ",", k % 12 == 11 ? "\n        " : k > 0 ? " " : "");
        if (cli_is_float(t.type) && t.type != NNRT_DATA_TYPE_FLOAT16)
            cli_copy_example_real(v, t.type == NNRT_DATA_TYPE_FLOAT32);
        else if (t.type == NNRT_DATA_TYPE_FLOAT16)
            printf("%u", (unsigned)cli_double_to_half(v));
        else
            cli_put_element(&t, k, 9, false);
    }
    puts(o->data != NULL && t.count > 0 ? "};" : ";");
}

/* "static const T NAME[] = {..};" and the assignments of a member that is a list. */
static void cli_copy_example_list(const nnrt_attr_member *m, const void *at)
{
    const NNRT_Int64List *list = (const NNRT_Int64List *)at;
    const bool floats = m->kind == NNRT_ATTR_KIND_FLOATS;
    if (list->count == 0)
        return;
    printf("    static const %s %s[] = {", floats ? "float" : "int64_t", m->name);
    for (uint32_t k = 0; k < list->count; k++) {
        fputs(k > 0 ? ", " : "", stdout);
        if (floats)
            cli_copy_example_real((double)((const NNRT_FloatList *)at)->data[k], true);
        else
            printf("%lld", (long long)list->data[k]);
    }
    printf("};\n    attr.%s.data = %s;\n    attr.%s.count = %u;\n", m->name, m->name, m->name, (unsigned)list->count);
}

/* The same for a list of lists. */
static void cli_copy_example_lists(const nnrt_attr_member *m, const NNRT_Int64Lists *lists)
{
    if (lists->count == 0)
        return;
    for (uint32_t k = 0; k < lists->count; k++) {
        printf("    static const int64_t %s_%u[] = {", m->name, (unsigned)k);
        for (uint32_t n = 0; n < lists->data[k].count; n++)
            printf("%s%lld", n > 0 ? ", " : "", (long long)lists->data[k].data[n]);
        puts(lists->data[k].count > 0 ? "};" : "0};");
    }
    printf("    static const NNRT_Int64List %s[] = {", m->name);
    for (uint32_t k = 0; k < lists->count; k++)
        printf("%s{%s_%u, %u}", k > 0 ? ", " : "", m->name, (unsigned)k, (unsigned)lists->data[k].count);
    printf("};\n    attr.%s.data = %s;\n    attr.%s.count = %u;\n", m->name, m->name, m->name, (unsigned)lists->count);
}

/* The nonzero members of the resolved attributes that the copy has. */
static void cli_copy_example_attr(const cli_copy *c, const nnrt_attr_struct *s, const void *attr)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const nnrt_attr_member *m = &s->members[i];
        const uint8_t *at = (const uint8_t *)attr + m->offset;
        double real = 0;
        if (cli_text_listed(c->attrSpare, ' ', cli_text_of(m->name)))
            continue;
        switch (m->kind) {
        case NNRT_ATTR_KIND_BOOL:
            if (*(const bool *)at)
                printf("    attr.%s = true;\n", m->name);
            break;
        case NNRT_ATTR_KIND_INT:
        case NNRT_ATTR_KIND_INT64:
            if (*(const int64_t *)at == INT64_MIN)
                printf("    attr.%s = INT64_MIN;\n", m->name);
            else if (*(const int64_t *)at != 0)
                printf("    attr.%s = %lld;\n", m->name, (long long)*(const int64_t *)at);
            break;
        case NNRT_ATTR_KIND_TYPE:
            if (m->bytes == sizeof(int64_t) || *(const int32_t *)at != 0)
                printf("    attr.%s = %d;\n", m->name,
                       (int)(m->bytes == sizeof(int64_t) ? *(const int64_t *)at : *(const int32_t *)at));
            break;
        case NNRT_ATTR_KIND_ENUM:
            if (*(const int32_t *)at != 0)
                printf("    attr.%s = %d;\n", m->name, (int)*(const int32_t *)at);
            break;
        case NNRT_ATTR_KIND_STRING: printf("    attr.%s = \"%s\";\n", m->name, *(const char *const *)at); break;
        case NNRT_ATTR_KIND_FLOAT:
        case NNRT_ATTR_KIND_DOUBLE:
            real = m->kind == NNRT_ATTR_KIND_FLOAT ? (double)*(const float *)at : *(const double *)at;
            if (real == 0)
                break;
            printf("    attr.%s = ", m->name);
            cli_copy_example_real(real, m->kind == NNRT_ATTR_KIND_FLOAT);
            puts(";");
            break;
        case NNRT_ATTR_KIND_INTS:
        case NNRT_ATTR_KIND_INTS64:
        case NNRT_ATTR_KIND_FLOATS: cli_copy_example_list(m, at); break;
        case NNRT_ATTR_KIND_INTS2: cli_copy_example_lists(m, (const NNRT_Int64Lists *)(const void *)at); break;
        default: break;
        }
    }
}

/* Arguments "&x[first]" of count views; NULL for absent ones. */
static void cli_copy_example_args(const char *name, const nnrt_operand *o, uint32_t n, char count)
{
    for (uint32_t i = 0; i < cli_copy_operands_of(count); i++)
        if (i < n && o[i].dataType != NNRT_DATA_TYPE_UNKNOWN)
            printf(", &%s[%u]", name, (unsigned)i);
        else
            fputs(", NULL", stdout);
}

/* The assignments of one of the arrays of views, `set`, to its arrays, whose names begin with `array`. op NULL: constants
   have their own order of axes. */
static void cli_copy_example_views(const cli_copy *c, const nnrt_op *op, const char *set, const char *array, const nnrt_operand *operands,
                                   uint32_t count, bool outputs)
{
    if (count > 0)
        printf("    memset(%s, 0, sizeof(%s));\n", set, set);
    for (uint32_t i = 0; i < count; i++) {
        nnrt_view v;
        if (operands[i].dataType == NNRT_DATA_TYPE_UNKNOWN)
            continue;
        nnrt_operand_view(op, &operands[i], outputs ? -1 : (int32_t)i, &v);
        printf("    %s[%u].data = %s%u;\n    %s[%u].rank = %d;\n", set, (unsigned)i, array, (unsigned)i, set, (unsigned)i, (int)v.rank);
        if (!cli_text_listed(c->viewSpare, ' ', cli_text_of("dataType")))
            printf("    %s[%u].dataType = %d; /* %s */\n", set, (unsigned)i, (int)v.dataType, nnrt_type_name(v.dataType));
        for (int32_t a = 0; a < v.rank; a++)
            printf("    %s[%u].dims[%d] = %d, %s[%u].strides[%d] = %lld;\n", set, (unsigned)i, (int)a, (int)v.dims[a],
                   set, (unsigned)i, (int)a, (long long)v.strides[a]);
    }
}

/* Broadcasts the values of an input to the shape of the result, as the caller of a row function does. */
static void cli_copy_example_broadcast(cli_copy *c, nnrt_operand *o, const nnrt_operand *result)
{
    cli_tensor from, to;
    memset(&from, 0, sizeof(from));
    memset(&to, 0, sizeof(to));
    from.type = to.type = o->dataType;
    from.data = (void *)(uintptr_t)o->data;
    (void)nnrt_dims_count(o->dims, o->rank, &from.count);
    (void)nnrt_dims_count(result->dims, result->rank, &to.count);
    if ((to.data = cli_copy_keep(c, to.count * nnrt_type_size(to.type))) == NULL)
        return;
    for (size_t k = 0; k < to.count; k++) {
        size_t left = k, at = 0, step = 1;
        for (int32_t i = 1; i <= o->rank; i++) {
            const size_t L = (size_t)o->dims[o->rank - i], size = (size_t)result->dims[result->rank - i];
            at += left % size % L * step;
            left /= size;
            step *= L;
        }
        cli_set_element(&to, k, cli_element(&from, at));
    }
    *o = nnrt_operand_make(o->dataType, result->rank, result->dims, to.data);
}

/* Prints the call of a row function. */
static void cli_copy_example_row(const cli_copy_example *e, const char *row)
{
    size_t count = 0;
    (void)nnrt_dims_count(e->out[0].dims, e->out[0].rank, &count);
    printf("    %s(&attr", row);
    for (uint32_t i = 0; i < e->r.nIn; i++)
        printf(", input%u", (unsigned)i);
    printf(", output0, %u);\n", (unsigned)count);
}

/* Prints the call of a kernel with views, and its code. */
static void cli_copy_example_call(const cli_copy *c, const cli_copy_example *e, const char *pattern,
                                  const nnrt_operand *const operands[3], const uint32_t counts[3])
{
    const char *const outputs = strchr(pattern, '_') + 1;
    if (outputs[1] == 'c' && !c->unread) {
        if (e->r.scratch > 0)
            printf("    static double scratch[%u];\n", (unsigned)(e->r.scratch / sizeof(double) + 1));
        printf("    nnrt_call call;\n    memset(&call, 0, sizeof(call));\n%s%s",
               e->r.scratch > 0 ? "    call.scratch = scratch;\n" : "",
               e->r.scratch > 0 ? "    call.scratchBytes = sizeof(scratch);\n" : "");
    }
    printf("    code = %s(&attr", e->kernel);
    if (pattern[0] == 'V')
        printf(", x, %u", (unsigned)counts[0]);
    else
        cli_copy_example_args("x", operands[0], counts[0], pattern[0]);
    if (pattern[1] == 'd')
        cli_copy_example_args("derived", operands[1], counts[1], pattern[2]);
    if (outputs[0] == 'V')
        printf(", y, %u", (unsigned)counts[2]);
    else
        cli_copy_example_args("y", operands[2], counts[2], outputs[0]);
    printf("%s);\n    printf(\"%%d\\n\", (int)code);\n", outputs[1] != 'c' ? "" : c->unread ? ", NULL" : ", &call");
}

/* Prints a main() after the kernels that calls one of them, or the row function `row`, if that is not NULL; compiled with
   NNRT_EXAMPLE. An operator whose rule accepts none of the tried shapes and attributes has no example. */
static void cli_copy_put_example(cli_copy *c, const nnrt_op *op, const char *kernel, const char *row, NNRT_DataType type)
{
    static cli_copy_example e;
    static const char *const sets[3] = {"x", "derived", "y"}, *const arrays[3] = {"input", "constant", "output"};
    const char *pattern;
    const nnrt_operand *operands[3];
    uint32_t counts[3];
    e.kernel = NULL;
    for (uint32_t i = 0; i < op->kernelCount && e.kernel == NULL; i++)
        if ((kernel == NULL || strcmp(kernel, op->kernels[i].name) == 0) &&
            cli_copy_example_find(c, &e, op, &op->kernels[i], type))
            e.kernel = op->kernels[i].name;
    if (e.kernel == NULL || c->failed)
        return;
    pattern = cli_copy_what(cli_copy_calls, e.kernel);
    operands[0] = e.in;
    operands[1] = e.r.derived;
    operands[2] = e.out;
    counts[0] = e.r.kernelIn > e.r.nIn ? e.r.kernelIn : e.r.nIn;
    counts[1] = e.r.nDerived;
    counts[2] = e.r.nOut;
    printf("\n#ifdef NNRT_EXAMPLE /* cc -std=c99 -DNNRT_EXAMPLE %s.c -lm && ./a.out */\n#include <math.h>\n"
           "#include <stdio.h>\n#include <string.h>\n\nint main(void)\n{\n    NNRT_%s attr;\n%s",
           kernel != NULL ? kernel : op->name, cli_copy_what(cli_copy_structs, e.kernel),
           row == NULL ? "    NNRT_ReturnCode code;\n" : "");
    for (uint32_t i = 0; i < counts[0] && row != NULL; i++)
        cli_copy_example_broadcast(c, &e.in[i], &e.out[0]);
    for (int k = 0; k < 3; k++) {
        if (counts[k] > 0 && row == NULL)
            printf("    nnrt_view %s[%u];\n", sets[k], (unsigned)counts[k]);
        for (uint32_t i = 0; i < counts[k]; i++)
            if (operands[k][i].dataType != NNRT_DATA_TYPE_UNKNOWN)
                cli_copy_example_array(arrays[k], i, &operands[k][i]);
    }
    puts("    memset(&attr, 0, sizeof(attr));");
    if (strcmp(op->attr->name, cli_copy_what(cli_copy_structs, e.kernel)) == 0)
        cli_copy_example_attr(c, op->attr, e.r.resolved);
    for (int k = 0; k < 3 && row == NULL; k++)
        cli_copy_example_views(c, k == 1 ? NULL : op, sets[k], arrays[k], operands[k], counts[k], k == 2);
    if (row != NULL)
        cli_copy_example_row(&e, row);
    else
        cli_copy_example_call(c, &e, pattern, operands, counts);
    for (uint32_t i = 0; i < counts[2]; i++)
        if (e.out[i].dataType != NNRT_DATA_TYPE_UNKNOWN)
            printf("    for (size_t i = 0; i < sizeof(output%u) / sizeof(output%u[0]); i++)\n"
                   "        printf(\"%%g\\n\", (double)output%u[i]);\n",
                   (unsigned)i, (unsigned)i, (unsigned)i);
    printf("    return %s;\n}\n#endif\n", row == NULL ? "(int)code" : "0");
}

#endif /* NNRT_TOOL_COPY_EXAMPLE_H */
