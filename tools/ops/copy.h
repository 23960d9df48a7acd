/*
copy.h - nnrt ops --copy: extracts one operator's kernels and their dependencies from the text of nnrt_ops.h.
Part of tools/nnrt.c.

The header's top level is split into items: declarations, functions, macros and conditional groups, each with the
comment above it. Macro invocations at the top level (attribute structs, enumerations, one-line kernels) are expanded
like by the preprocessor, and split again, so that a copy has plain declarations. The items reachable through the names
in the kernels are printed in the order of the header. Additions to the header therefore need no change here.
*/
#ifndef NNRT_TOOL_COPY_H
#define NNRT_TOOL_COPY_H

#include "../common/args.h"
#include "../common/headers.h"
#include "copy_example.h"
#include "copy_names.h"
#include "copy_output.h"
#include "fold.h"
#include "show.h"

/* The row function of an elementwise kernel for a type: nnrti_<fn>_row of nnrt_<fn>, or nnrti_<fn>_<type>_row. NULL: it has
   none that is the whole operator, as for types that the engine widens, and for integers whose divisor must be checked. */
static const char *cli_copy_row_function(cli_copy *c, const char *kernel, NNRT_DataType type)
{
    const bool real = type == NNRT_DATA_TYPE_FLOAT32 || type == NNRT_DATA_TYPE_FLOAT64;
    const char *const of = type == NNRT_DATA_TYPE_FLOAT32   ? "_f32"
                           : type == NNRT_DATA_TYPE_FLOAT64 ? "_f64"
                           : type == NNRT_DATA_TYPE_INT32   ? "_i32"
                           : type == NNRT_DATA_TYPE_INT64   ? "_i64"
                           : type == NNRT_DATA_TYPE_UINT64  ? "_u64"
                                                            : NULL;
    const size_t n = strlen(kernel), room = n + 16;
    char *const name = (char *)cli_copy_keep(c, room);
    if (name == NULL || of == NULL || (!real && strchr(cli_copy_what(cli_copy_calls, kernel), 'c') != NULL))
        return NULL;
    snprintf(name, room, "nnrti_%s%s_row", kernel + strlen("nnrt_"), strcmp(kernel + n - 4, of) == 0 ? "" : of);
    return cli_copy_function(c, name) != NULL ? name : NULL;
}

/* Prints op's kernels, or the named one, from the header's text. type: specialized for it, if not UNKNOWN; example: with
   a main() that calls a kernel; show: only what is read, not what compiles. */
static int cli_copy_op(cli_copy *c, const nnrt_op *op, const char *kernel, NNRT_DataType type, const char *activations,
                       bool example, bool show, const char *path)
{
    const char **names = (const char **)cli_copy_keep(c, op->kernelCount * sizeof(*names)), *row = NULL;
    size_t count = 0;
    bool any = kernel == NULL, derived = false, quant = false;
    char asked[120];
    cli_fold fold;
    memset(&fold, 0, sizeof(fold));
    fold.c = c;
    fold.activations = activations;
    for (uint32_t i = 0; i < op->kernelCount && kernel == NULL && type != NNRT_DATA_TYPE_UNKNOWN; i++)
        if ((op->kernels[i].types & NNRT_TYPES_OF(type)) != 0)
            kernel = op->kernels[i].name;
    snprintf(asked, sizeof(asked), type != NNRT_DATA_TYPE_UNKNOWN ? "%s --type %s" : kernel == NULL ? "%s --all" : "%s",
             kernel != NULL && !c->plain ? kernel : op->name, nnrt_type_name(type));
    for (size_t i = 0; i < c->itemCount; i++)
        cli_copy_declares(c, i);
    if (names == NULL || c->failed)
        return CLI_FAILED;
    if (c->nameCount > 0)
        qsort(c->names, c->nameCount, sizeof(*c->names), cli_copy_order);
    for (uint32_t i = 0; i < op->kernelCount; i++) {
        const cli_item *item = cli_copy_function(c, op->kernels[i].name);
        if (kernel != NULL && strcmp(kernel, op->kernels[i].name) != 0)
            continue;
        if (type != NNRT_DATA_TYPE_UNKNOWN && (op->kernels[i].types & NNRT_TYPES_OF(type)) == 0)
            return cli_fail("%s has no kernel for %s", asked, nnrt_type_name(type));
        if (kernel != NULL) {
            const NNRT_DataType only = cli_copy_only_type(&op->kernels[i], type);
            fold.type = cli_copy_enumerator(only);
            fold.element = cli_c_type(only);
            fold.typed = cli_copy_typed(op, &op->kernels[i]);
            fold.all = cli_copy_one_type(op, &op->kernels[i]);
            fold.floats = cli_copy_types(op, &op->kernels[i], 1) &&
                          (only == NNRT_DATA_TYPE_FLOAT32 ||
                           (only == NNRT_DATA_TYPE_FLOAT16 && !cli_copy_derived(&op->kernels[i])));
        }
        names[count++] = op->kernels[i].name;
        quant = quant || (type == NNRT_DATA_TYPE_UNKNOWN && ((op->kernels[i].types & ~NNRT_TYPES_ANY) != 0 ||
                                                            !cli_copy_one_type(op, &op->kernels[i])));
        derived = derived || cli_copy_derived(&op->kernels[i]);
        if (item == NULL)
            return cli_fail("%s has no function %s: it is not nnrt_ops.h, or of another version", path, names[count - 1]);
        if (!cli_copy_put_call(op, &op->kernels[i], item->code, false, NULL))
            return cli_fail("%s is of another version: its %s has other parameters", path, names[count - 1]);
    }
    if (any && type != NNRT_DATA_TYPE_UNKNOWN && (row = cli_copy_row_function(c, kernel, type)) != NULL) {
        names[0] = row;
        fold.type = NULL;
        cli_copy_describe(cli_copy_function(c, row), cli_copy_function(c, kernel));
    }
    c->enumerators = true;
    c->some = c->plain && activations != NULL;
    cli_copy_close(c, names, count);
    cli_fold_copy(&fold);
    cli_copy_close(c, names, count);
    cli_copy_lean_all(c, op, quant);
    cli_copy_close(c, names, count);
    c->enumerators = false;
    if (!c->failed && show)
        cli_show(c, op, derived && row == NULL);
    if (c->failed || show)
        return c->failed ? CLI_FAILED : CLI_DONE;
    cli_copy_put_items(c);
    for (size_t i = 0; i < c->itemCount; i++)
        c->items[i].code = c->items[i].written;
    if (row != NULL)
        cli_copy_put_row_head(c, op, row, type, activations);
    else
        cli_copy_put_head(c, op, kernel, asked, nnrt_type_name(type), activations, derived);
    cli_copy_put_text(c);
    if (derived && !c->plain)
        cli_copy_put_derived(c, cli_copy_what(cli_copy_rules, op->name), type == NNRT_DATA_TYPE_UNKNOWN || quant);
    if (example)
        cli_copy_put_example(c, op, kernel, row, type);
    return c->failed ? CLI_FAILED : CLI_DONE;
}

static int cli_copy_run(const cli_args *args)
{
    const nnrt_op *op = nnrt_op_named(args->copy), *other;
    const char *kernel = NULL;
    char *found = NULL;
    cli_bytes bytes;
    cli_copy c;
    int status;
    for (uint32_t i = 0; op == NULL && (other = nnrt_op_at(i)) != NULL; i++)
        for (uint32_t k = 0; k < other->kernelCount && op == NULL; k++)
            if (strcmp(other->kernels[k].name, args->copy) == 0) {
                op = other;
                kernel = args->copy;
            }
    if (op == NULL) {
        const char *meaning = cli_copy_meaning(args->copy), *more = meaning != NULL ? strchr(meaning, ' ') : NULL;
        char *first = meaning != NULL ? cli_text_copy(meaning, strcspn(meaning, " ")) : NULL;
        op = first != NULL ? nnrt_op_named(first) : NULL;
        free(first);
        if (op == NULL)
            return cli_copy_unknown(args->copy);
        cli_note("%s is %s%s%s", args->copy, op->name, more != NULL ? "; also" : "", more != NULL ? more : "");
    }
    if ((op->flags & NNRT_OP_GRAPHS) != 0)
        return cli_fail("%s has no kernel that could be copied: it runs subgraphs, which requires the plan of a model",
                        op->name);
    if (args->header == NULL && (found = cli_header_path(args->program)) == NULL)
        return CLI_FAILED;
    memset(&c, 0, sizeof(c));
    status = cli_read_file(found != NULL ? found : args->header, &bytes);
    if (status == CLI_DONE) {
        cli_copy_read(&c, cli_text_between((const char *)bytes.data, (const char *)bytes.data + bytes.size));
        const bool some = kernel == NULL && !args->all;
        const NNRT_DataType type = some && args->type == NNRT_DATA_TYPE_UNKNOWN ? cli_copy_default_type(op) : args->type;
        c.plain = some;
        const char *activations =
            some && args->activations == NULL ? cli_copy_default_activations(op) : args->activations;
        status = cli_copy_op(&c, op, kernel, type, activations, args->example, args->show, found != NULL ? found : args->header);
    }
    cli_copy_free(&c, NULL);
    free(bytes.data);
    free(found);
    return status;
}

#endif /* NNRT_TOOL_COPY_H */
