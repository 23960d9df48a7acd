/*
copy_head.h - the comment at the top of a copy (copy.h): license, calling convention, attributes.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_COPY_HEAD_H
#define NNRT_TOOL_COPY_HEAD_H

#include "../io/tensor.h"
#include "copy_items.h"

#define CLI_COPY_NOTHING(...)
#define CLI_COPY_RULE(name, number, S, whose, rule, ...) {#name, "nnrti_rule_" #rule},
#define CLI_COPY_KERNEL(types, operands, S, fn, args, ...) {"nnrt_" #fn, #args},
#define CLI_COPY_KERNELS(name, number, S, whose, rule, in, out, flags, kernels, ...) kernels
static const cli_copy_pair cli_copy_rules[] = {NNRT_OPS(CLI_COPY_RULE, CLI_COPY_NOTHING){NULL, NULL}};
static const cli_copy_pair cli_copy_calls[] = {NNRT_OPS(CLI_COPY_KERNELS, CLI_COPY_KERNEL){NULL, NULL}};

static const char *cli_copy_what(const cli_copy_pair *pairs, const char *name)
{
    while (pairs->name != NULL && strcmp(pairs->name, name) != 0)
        pairs++;
    return pairs->what;
}

/* The parameter names of a function's definition, at most `most`; returns their number. */
static size_t cli_copy_parameters(cli_text code, cli_text *names, size_t most)
{
    const char *p = code.at, *end = code.at + code.n;
    size_t count = 0;
    int depth = 0;
    cli_token t, last;
    memset(&last, 0, sizeof(last));
    for (t = cli_copy_token(&p, end, true); t.kind != 0 && !cli_text_is(t.text, "{");
         t = cli_copy_token(&p, end, true)) {
        depth += cli_text_is(t.text, "(");
        if (depth == 1 && last.kind == 'a' && (cli_text_is(t.text, ",") || cli_text_is(t.text, ")"))) {
            if (count < most)
                names[count] = last.text;
            count++;
        }
        depth -= cli_text_is(t.text, ")");
        last = t;
    }
    return count;
}

/* Operand i of "x[..] weight=0 bias?[O]=0": its name, and the rest in *rest. */
static cli_text cli_copy_operand(const char *row, uint32_t i, cli_text *rest)
{
    size_t n;
    for (; i > 0 && strchr(row, ' ') != NULL; i--)
        row = strchr(row, ' ') + 1;
    n = strcspn(row, "?*[=: ");
    *rest = cli_text_between(row + n, row + strcspn(row, " "));
    return cli_text_between(row, row + n);
}

/* The rest of an operand without its shape. */
static cli_text cli_copy_type(cli_text rest)
{
    const char *end = rest.n > 0 && *rest.at == '[' ? (const char *)memchr(rest.at, ']', rest.n) : NULL;
    return end != NULL ? cli_text_between(end + 1, rest.at + rest.n) : rest;
}

/* Prints the row's properties of operand i: optional, repeated, type. */
static void cli_copy_put_operand(const nnrt_op *op, const nnrt_kernel_row *kernel, bool output, uint32_t i)
{
    static const char *const types[] = {"iint32 or int64",
                                        "ffloat16 or float32",
                                        "na number",
                                        "bbool",
                                        "qqint8 or quint8",
                                        "sint32",
                                        "wint32 or int64",
                                        ".a type that the model declares"};
    const char *inputs = kernel->operands != NULL ? kernel->operands : op->inputs;
    cli_text rest, name = cli_copy_operand(output ? op->outputs : inputs, i, &rest), unused;
    printf("%s %u, %.*s", output ? "output" : "input", (unsigned)i, (int)name.n, name.at);
    if (rest.n > 0 && (*rest.at == '?' || *rest.at == '*')) {
        fputs(*rest.at == '?' ? ", may be NULL" : ", as many as there are, one behind the other", stdout);
        rest = cli_text_between(rest.at + 1, rest.at + rest.n);
    }
    rest = cli_copy_type(rest);
    if (rest.n > 1 && *rest.at == '=') {
        name = cli_copy_operand(op->inputs, (uint32_t)(rest.at[1] - '0'), &unused);
        printf(": of the type of %.*s", (int)name.n, name.at);
    }
    for (size_t k = 0; rest.n > 1 && *rest.at == ':' && k < sizeof(types) / sizeof(types[0]); k++)
        if (types[k][0] == rest.at[1])
            printf(": %s", types[k] + 1);
    if (!output && i == 0) {
        const uint32_t plain = kernel->types & NNRT_TYPES_ANY, quant = kernel->types & ~NNRT_TYPES_ANY;
        fputs(plain == NNRT_TYPES_ANY ? ": any type" : ": ", stdout);
        cli_put_types(plain != NNRT_TYPES_ANY ? plain : 0, "");
        fputs(quant == NNRT_TYPES_QUANT(plain) && quant != 0 ? "; integers may be quantized"
              : quant != 0 && plain != 0                     ? "; quantized: "
                                                             : "",
              stdout);
        cli_put_types(quant != NNRT_TYPES_QUANT(plain) ? quant : 0, "");
    }
    putchar('\n');
}

/* Prints the call of a kernel: its parameters, by the pattern of its row. False: the parameters do not match. */
static bool cli_copy_put_call(const nnrt_op *op, const nnrt_kernel_row *kernel, cli_text code, bool print)
{
    const char *pattern = cli_copy_what(cli_copy_calls, kernel->name), *out = strchr(pattern, '_') + 1;
    const bool inputsV = pattern[0] == 'V', outputsV = out[0] == 'V', call = out[1] == 'c';
    const uint32_t nIn = inputsV ? 1 : (uint32_t)(pattern[0] - '0');
    const uint32_t nDerived = pattern[1] == 'd' ? (uint32_t)(pattern[2] - '0') : 0;
    const uint32_t nOut = outputsV ? 1 : (uint32_t)(out[0] - '0');
    const size_t want = 1u + nIn + inputsV + nDerived + nOut + outputsV + call;
    cli_text names[24];
    size_t at = 1;
    if (cli_copy_parameters(code, names, 24) != want || want > 24)
        return false;
    if (!print)
        return true;
    printf("\n%s(", kernel->name);
    for (size_t i = 0; i < want; i++)
        printf("%s%.*s", i > 0 ? ", " : "", (int)names[i].n, names[i].at);
    puts(")");
    if (op->attr->count > 0)
        printf("    %-10.*s the resolved attributes, see below\n", (int)names[0].n, names[0].at);
    for (uint32_t i = 0; i < nIn; i++, at++) {
        printf("    %-10.*s ", (int)names[at].n, names[at].at);
        cli_copy_put_operand(op, kernel, false, i);
    }
    if (inputsV)
        printf("    %-10.*s how many\n", (int)names[at].n, names[at].at), at++;
    for (uint32_t i = 0; i < nDerived; i++, at++)
        printf("    %-10.*s derived constant %u, see below\n", (int)names[at].n, names[at].at, (unsigned)i);
    for (uint32_t i = 0; i < nOut; i++, at++) {
        printf("    %-10.*s ", (int)names[at].n, names[at].at);
        cli_copy_put_operand(op, kernel, true, i);
    }
    if (outputsV)
        printf("    %-10.*s how many\n", (int)names[at].n, names[at].at), at++;
    if (call)
        printf("    %-10.*s scratch memory, thread pool and error code; may be NULL\n", (int)names[at].n,
               names[at].at);
    return true;
}

/* Prints resolved attributes and derived constants, from the comments of the functions that the operator's rule
   uses. */
static void cli_copy_put_rule(cli_copy *c, const char *rule, bool derived)
{
    cli_copy_close(c, &rule, 1);
    printf("%s of nnrt_ops.h checks shapes and attributes and resolves the attributes before the first call.\n", rule);
    for (size_t i = 0; i < c->itemCount && !c->failed; i++) {
        const cli_item *item = &c->items[i];
        const char *resolved = cli_text_find(item->comment, "Resolved:");
        const char *at = cli_text_find(item->comment, "Derived:"), *end = item->comment.at + item->comment.n - 2;
        if (!derived && at != NULL && resolved != NULL && resolved < at)
            end = at;
        at = !derived || at == NULL || (resolved != NULL && resolved < at) ? resolved : at;
        if (!item->wanted || item->kind != CLI_ITEM_CODE || at == NULL)
            continue;
        fputs("    ", stdout);
        if (c->plain && (resolved = cli_text_find(cli_text_between(at, end), "; when quantized")) != NULL)
            end = resolved;
        while (end > at && (end[-1] == ' ' || end[-1] == '\n'))
            end--;
        for (; at < end; at++) {
            putchar(*at);
            if (*at == '\n') {
                fputs("    ", stdout);
                while (at + 1 < end && at[1] == ' ')
                    at++;
            }
        }
        putchar('\n');
    }
}

/* Names the difference between <math.h> and the functions whose place it takes. */
static void cli_copy_put_math(const cli_copy *c, const nnrt_op *op)
{
    if (c->math)
        printf("This copy calls <math.h>. The functions of nnrt_ops.h, with the same bits on every platform and errors of at most "
               CLI_COPY_ULP "\nulp, are in 'nnrt ops --copy %s --all'.\n", op->name);
}

/* Prints the comment at the top of a copy. kernel NULL: all kernels of op. */
static void cli_copy_put_head(cli_copy *c, const nnrt_op *op, const char *kernel, const char *asked, const char *activations,
                              bool derived)
{
    printf("/* SPDX-License-Identifier: MIT. Copyright (c) 2026 nnrt authors\n\n"
           "%s of nnrt %s, extracted from nnrt_ops.h by 'nnrt ops --copy %s'. C99 and C++17.\n",
           kernel != NULL ? kernel : op->name, nnrt_version(), asked);
    for (uint32_t i = 0; i < op->kernelCount; i++)
        if (kernel == NULL || strcmp(kernel, op->kernels[i].name) == 0)
            (void)cli_copy_put_call(op, &op->kernels[i], cli_copy_function(c, op->kernels[i].name)->code, true);
    printf("Views are arrays with strides in elements.%s Returns NNRT_SUCCESS, or the code of an error in the data.\n",
           (op->flags & NNRT_OP_LAYOUT) != 0 ? " Images have the axes [N,H,W,C] for any strides." : "");
    if (activations != NULL)
        printf("%s%s. 'nnrt ops --copy %s --activation NAMES' has others.\n",
               cli_text_find(cli_text_of(activations), "TANH") != NULL ? "Activations of this copy: "
                                                                       : "Fused activations of this copy: none, ",
               activations, op->name);
    cli_copy_put_math(c, op);
    cli_copy_put_rule(c, cli_copy_what(cli_copy_rules, op->name), derived);
    printf("*/\n");
}

/* Prints the comment at the top of the copy of a row function. */
static void cli_copy_put_row_head(cli_copy *c, const nnrt_op *op, const char *row, NNRT_DataType type, const char *activations)
{
    cli_text names[8];
    const size_t count = cli_copy_parameters(cli_copy_function(c, row)->code, names, 8);
    printf("/* SPDX-License-Identifier: MIT. Copyright (c) 2026 nnrt authors\n\n"
           "%s of nnrt %s, extracted from nnrt_ops.h by 'nnrt ops --copy %s --type %s'. C99 and C++17.\n\n%s(",
           op->name, nnrt_version(), op->name, nnrt_type_name(type), row);
    for (size_t i = 0; i < count && i < 8; i++)
        printf("%s%.*s", i > 0 ? ", " : "", (int)names[i].n, names[i].at);
    printf("): arrays of n elements. The result may be an operand of its type.\n"
           "'nnrt ops --copy %s --all' has the kernels for all element types, for views that broadcast and have strides.\n",
           op->name);
    if (activations != NULL)
        printf("Fused activations of this copy: none, %s. 'nnrt ops --copy %s --activation NAMES' has others.\n", activations,
               op->name);
    cli_copy_put_math(c, op);
    if (op->attr->count > 0)
        cli_copy_put_rule(c, cli_copy_what(cli_copy_rules, op->name), false);
    puts("*/");
}

#endif /* NNRT_TOOL_COPY_HEAD_H */
