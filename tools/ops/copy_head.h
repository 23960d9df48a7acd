/*
copy_head.h - the operands of a kernel, and the comment at the top of a copy (copy.h): license, calling convention, attributes.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_COPY_HEAD_H
#define NNRT_TOOL_COPY_HEAD_H

#include "../io/tensor.h"
#include "copy_output.h"

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

/* `type`, or if it is UNKNOWN the only element type of the kernel; UNKNOWN: it has several. */
static NNRT_DataType cli_copy_only_type(const nnrt_kernel_row *row, NNRT_DataType type)
{
    for (NNRT_DataType t = NNRT_DATA_TYPE_BOOL; t <= NNRT_DATA_TYPE_FLOAT64 && type == NNRT_DATA_TYPE_UNKNOWN; t++)
        type = (row->types & NNRT_TYPES_ANY) == NNRT_TYPES_OF(t) ? t : type;
    return type;
}

/* The element type of a copy for which none is asked: float32, else int32, else the first one that the operator has. */
static NNRT_DataType cli_copy_default_type(const nnrt_op *op)
{
    const uint32_t types = nnrt_op_types(op);
    NNRT_DataType type = (types & NNRT_TYPES_F32) != 0 ? NNRT_DATA_TYPE_FLOAT32 : NNRT_DATA_TYPE_INT32;
    if ((types & NNRT_TYPES_OF(type)) == 0)
        for (type = NNRT_DATA_TYPE_BOOL; type < NNRT_DATA_TYPE_FLOAT64 && (types & NNRT_TYPES_OF(type)) == 0;)
            type++;
    return type;
}

/* The activations of a copy for which none are asked: fused ones RELU and RELU6, which most networks use, of recurrent
   operators their defaults. The others need exp, tanh, erf, log of the library, 200 lines. NULL: all, as for the operator
   ACTIVATION, whose attribute is no fused one. */
static const char *cli_copy_default_activations(const nnrt_op *op)
{
    for (uint32_t i = 0; i < op->attr->count && op->type != NNRT_NODE_TYPE_ACTIVATION; i++)
        if (strcmp(op->attr->members[i].name, "activationType") == 0)
            return "RELU,RELU6";
        else if (strcmp(op->attr->members[i].name, "activations") == 0)
            return "SIGMOID,TANH";
    return NULL;
}

/* "NNRT_DATA_TYPE_FLOAT32" of FLOAT32. */
static const char *cli_copy_enumerator(NNRT_DataType type)
{
#define CLI_COPY_TYPE(name, number, bytes, text) type == number ? "NNRT_DATA_TYPE_" #name:
    return NNRT_DATA_TYPES(CLI_COPY_TYPE) NULL;
}

/* 2: operand i of the kernel has the type of operand 0; 1: it is no floating point; 0: any other. */
static int cli_copy_same_type(const nnrt_op *op, const nnrt_kernel_row *row, bool output, uint32_t i)
{
    const char *list = output ? op->outputs : row->operands != NULL ? row->operands : op->inputs;
    cli_text rest;
    if (!output && i == 0)
        return 2;
    (void)cli_copy_operand(list, i, &rest);
    while (rest.n > 0 && (*rest.at == '?' || *rest.at == '*'))
        rest = cli_text_between(rest.at + 1, rest.at + rest.n);
    rest = cli_copy_type(rest);
    if (rest.n >= 2 && rest.at[0] == ':' && strchr("ibqsw", rest.at[1]) != NULL)
        return 1;
    return rest.n >= 2 && rest.at[0] == '=' && rest.at[1] == '0' ? 2 : 0;
}

/* True if all operands of the kernel are `least` or more of cli_copy_same_type. */
static bool cli_copy_types(const nnrt_op *op, const nnrt_kernel_row *row, int least)
{
    const nnrt_op_arity arity = nnrt_op_operands(op);
    bool same = true;
    for (uint32_t i = 0; i < NNRT_MAX_FIXED_OPERANDS; i++)
        same = same && (i >= arity.maxIn || cli_copy_same_type(op, row, false, i) >= least) &&
               (i >= arity.maxOut || cli_copy_same_type(op, row, true, i) >= least);
    return same;
}

static bool cli_copy_derived(const nnrt_kernel_row *row)
{
    return strchr(cli_copy_what(cli_copy_calls, row->name), 'd') != NULL;
}

/* True if all operands of the kernel have the type of operand 0. */
static bool cli_copy_one_type(const nnrt_op *op, const nnrt_kernel_row *row)
{
    return !cli_copy_derived(row) && cli_copy_types(op, row, 2);
}

/* A number in a pattern: 0 to 9, A for 10. */
static uint32_t cli_copy_operands_of(char c)
{
    return (uint32_t)(c >= 'A' ? c - 'A' + 10 : c - '0');
}

/* The parameters of the kernel that are views of the type of operand 0, one bit each, by the pattern of its row. */
static uint32_t cli_copy_typed(const nnrt_op *op, const nnrt_kernel_row *row)
{
    const char *pattern = cli_copy_what(cli_copy_calls, row->name), *out = strchr(pattern, '_') + 1;
    const bool inputsV = pattern[0] == 'V', outputsV = out[0] == 'V';
    const uint32_t nIn = inputsV ? 0 : cli_copy_operands_of(pattern[0]), nOut = outputsV ? 0 : cli_copy_operands_of(out[0]);
    uint32_t at = 1, typed = 0; /* parameter 0 is the attributes */
    for (uint32_t i = 0; i < nIn; i++, at++)
        typed |= cli_copy_same_type(op, row, false, i) == 2 ? 1u << at : 0;
    at += (inputsV ? 2u : 0u) + (pattern[1] == 'd' ? (uint32_t)(pattern[2] - '0') : 0u);
    for (uint32_t i = 0; i < nOut; i++, at++)
        typed |= cli_copy_same_type(op, row, true, i) == 2 ? 1u << at : 0;
    return typed;
}

/* Prints the row's properties of operand i: optional, repeated, type. plain: in one line with others, without a type that is
   that of input 0. */
static void cli_copy_put_operand(const nnrt_op *op, const nnrt_kernel_row *kernel, bool output, uint32_t i, bool plain)
{
    static const char *const types[] = {"iint32 or int64",
                                        "ffloat16 or float32",
                                        "na number",
                                        "bbool",
                                        "qint8 or quint8",
                                        "sint32",
                                        "wint32 or int64",
                                        ".a type that the model declares"};
    const char *inputs = kernel->operands != NULL ? kernel->operands : op->inputs;
    cli_text rest, name = cli_copy_operand(output ? op->outputs : inputs, i, &rest), unused;
    if (!plain)
        printf("%s %u, ", output ? "output" : "input", (unsigned)i);
    printf("%.*s", (int)name.n, name.at);
    if (rest.n > 0 && (*rest.at == '?' || *rest.at == '*')) {
        fputs(*rest.at == '*' ? ", as many as there are, one behind the other" : plain ? " or NULL" : ", may be NULL", stdout);
        rest = cli_text_between(rest.at + 1, rest.at + rest.n);
    }
    rest = cli_copy_type(rest);
    if (rest.n > 1 && *rest.at == '=' && !plain) {
        name = cli_copy_operand(op->inputs, (uint32_t)(rest.at[1] - '0'), &unused);
        printf(": of the type of %.*s", (int)name.n, name.at);
    }
    for (size_t k = 0; rest.n > 1 && *rest.at == ':' && k < sizeof(types) / sizeof(types[0]) && (i > 0 || output || !plain); k++)
        if (types[k][0] == rest.at[1])
            printf(plain ? " (%s)" : ": %s", types[k] + 1);
    if (!output && i == 0 && !plain) {
        const uint32_t all = kernel->types & NNRT_TYPES_ANY, quant = kernel->types & ~NNRT_TYPES_ANY;
        fputs(all == NNRT_TYPES_ANY ? ": any type" : ": ", stdout);
        cli_put_types(all != NNRT_TYPES_ANY ? all : 0, "");
        fputs(quant == NNRT_TYPES_QUANT(all) && quant != 0 ? "; integers may be quantized"
              : quant != 0 && all != 0                     ? "; quantized: "
                                                           : "",
              stdout);
        cli_put_types(quant != NNRT_TYPES_QUANT(all) ? quant : 0, "");
    }
    if (!plain)
        putchar('\n');
}

/* Prints the call of a kernel: its parameters, by the pattern of its row, `plain` in few lines, which say the type once, that of
   input 0. False: the parameters do not match. */
static bool cli_copy_put_call(const nnrt_op *op, const nnrt_kernel_row *kernel, cli_text code, bool print, const char *plain)
{
    const char *pattern = cli_copy_what(cli_copy_calls, kernel->name), *out = strchr(pattern, '_') + 1;
    const bool inputsV = pattern[0] == 'V', outputsV = out[0] == 'V', call = out[1] == 'c';
    const uint32_t nIn = inputsV ? 1 : cli_copy_operands_of(pattern[0]);
    const uint32_t nDerived = pattern[1] == 'd' ? (uint32_t)(pattern[2] - '0') : 0;
    const uint32_t nOut = outputsV ? 1 : cli_copy_operands_of(out[0]);
    const size_t want = 1u + nIn + inputsV + nDerived + nOut + outputsV + call;
    cli_text names[24];
    size_t at = 1;
    if (cli_copy_parameters(code, names, 24) != want || want > 24)
        return false;
    if (!print)
        return true;
    printf("%s%s(", plain != NULL ? "" : "\n", kernel->name);
    for (size_t i = 0; i < want; i++)
        printf("%s%.*s", i > 0 ? ", " : "", (int)names[i].n, names[i].at);
    puts(")");
    for (uint32_t k = 0; plain != NULL && k < nIn + nOut; k++) {
        fputs(k == 0 ? "    " : k == nIn ? " -> " : ", ", stdout);
        cli_copy_put_operand(op, kernel, k >= nIn, k < nIn ? k : k - nIn, true);
        if (k == 0)
            printf(" (%s)", plain);
    }
    if (plain != NULL) {
        puts(call ? "; call: scratch memory and error code, may be NULL" : "");
        return true;
    }
    if (op->attr->count > 0)
        printf("    %-10.*s the resolved attributes, see below\n", (int)names[0].n, names[0].at);
    for (uint32_t i = 0; i < nIn; i++, at++) {
        printf("    %-10.*s ", (int)names[at].n, names[at].at);
        cli_copy_put_operand(op, kernel, false, i, false);
    }
    if (inputsV)
        printf("    %-10.*s how many\n", (int)names[at].n, names[at].at), at++;
    for (uint32_t i = 0; i < nDerived; i++, at++)
        printf("    %-10.*s derived constant %u, see below\n", (int)names[at].n, names[at].at, (unsigned)i);
    for (uint32_t i = 0; i < nOut; i++, at++) {
        printf("    %-10.*s ", (int)names[at].n, names[at].at);
        cli_copy_put_operand(op, kernel, true, i, false);
    }
    if (outputsV)
        printf("    %-10.*s how many\n", (int)names[at].n, names[at].at), at++;
    if (call)
        printf("    %-10.*s scratch memory, thread pool and error code; may be NULL\n", (int)names[at].n,
               names[at].at);
    return true;
}

/* Prints `before`, the words of a text and `behind`; lines after the first begin with four spaces, none has over 120 columns.
   "Derived:" and "Resolved:" begin a line. */
static void cli_copy_put_words(cli_text before, cli_text text, const char *behind)
{
    size_t column = before.n + 1;
    const char *word = text.at, *const end = text.at + text.n;
    printf("   %.*s%s", (int)before.n, before.at, before.n > 0 ? ":" : "");
    for (const char *at = word; at < end; at++) {
        const size_t n = (size_t)(at + 1 - word);
        if (*at == ' ' || *at == '\n') {
            word = at + 1;
        } else if (at + 1 == end || at[1] == ' ' || at[1] == '\n') {
            const bool full = column + 1 + n > 117 || (column > 1 && (strncmp(word, "Derived:", 8) == 0 || strncmp(word, "Resolved:", 9) == 0));
            printf("%s%.*s", full ? "\n    " : " ", (int)n, word);
            column = full ? 1 + n : column + 1 + n;
        }
    }
    puts(behind);
}

/* Prints resolved attributes and derived constants, from the comments of the functions that the operator's rule
   uses. */
static void cli_copy_put_rule(cli_copy *c, const char *rule, bool derived)
{
    cli_copy_close(c, &rule, 1);
    printf(c->plain ? "%s of nnrt_ops.h checks shapes and resolves attributes, with defaults; attr has the members that the kernel reads.\n"
                    : "%s of nnrt_ops.h checks shapes and attributes and resolves the attributes before the first call.\n", rule);
    for (size_t i = 0; i < c->itemCount && !c->failed; i++) {
        const cli_item *item = &c->items[i];
        const char *resolved = cli_text_find(item->comment, "Resolved:");
        const char *at = cli_text_find(item->comment, "Derived:"), *end = item->comment.at + item->comment.n - 2, *quantized;
        if (!derived && at != NULL && resolved != NULL && resolved < at)
            end = at;
        at = !derived || at == NULL || (resolved != NULL && resolved < at) ? resolved : at;
        if (!item->wanted || item->kind != CLI_ITEM_CODE || at == NULL)
            continue;
        for (int k = 0; k < 2 && c->plain; k++)
            if ((quantized = cli_text_find(cli_text_between(at, end), k == 0 ? "; if quantized" : "Derived: if quant")) != NULL)
                end = quantized;
        if (end > at)
            cli_copy_put_words(cli_text_of(""), cli_text_between(at, end),
                               end < item->comment.at + item->comment.n - 2 && *end == ';' ? "." : "");
    }
}

/* Says of which functions and activations the copy is. */
static void cli_copy_put_differences(const cli_copy *c, const nnrt_op *op, const char *activations)
{
    if (activations != NULL)
        printf("%s%s; others: 'nnrt ops --copy %s --activation NAMES'.\n",
               cli_text_find(cli_text_of(activations), "TANH") != NULL ? "Activations: " : "Fused activations: none, ", activations,
               op->name);
    if (c->math)
        printf("'nnrt ops --copy %s --all' has functions in place of <math.h>: the same bits on every platform, at most " CLI_COPY_ULP
               " ulp.\n", op->name);
    else if (c->plain && cli_copy_products(c))
        puts("Compile it with -ffp-contract=off: a * b + c is rounded twice.");
}

/* Prints the comment at the top of a copy. kernel NULL: all kernels of op; type: the C name of that of a plain copy. */
static void cli_copy_put_head(cli_copy *c, const nnrt_op *op, const char *kernel, const char *asked, const char *type,
                              const char *activations, bool derived)
{
    printf("/* SPDX-License-Identifier: MIT. Copyright (c) 2026 nnrt authors\n\n"
           "%s of nnrt %s, extracted from nnrt_ops.h by 'nnrt ops --copy %s'. C99 and C++17.\n",
           kernel != NULL ? kernel : op->name, nnrt_version(), asked);
    for (uint32_t i = 0; i < op->kernelCount; i++)
        if (kernel == NULL || strcmp(kernel, op->kernels[i].name) == 0)
            (void)cli_copy_put_call(op, &op->kernels[i], cli_copy_function(c, op->kernels[i].name)->code, true, c->plain ? type : NULL);
    if (!c->plain)
        printf("Views are arrays with strides in elements.%s Returns NNRT_SUCCESS, or the code of an error in the data.\n",
               (op->flags & NNRT_OP_LAYOUT) != 0 ? " Images have the axes [N,H,W,C] for any strides." : "");
    cli_copy_put_differences(c, op, activations);
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
    cli_copy_put_differences(c, op, activations);
    if (op->attr->count > 0)
        cli_copy_put_rule(c, cli_copy_what(cli_copy_rules, op->name), false);
    puts("*/");
}

#endif /* NNRT_TOOL_COPY_HEAD_H */
