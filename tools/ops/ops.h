/*
ops.h - the command ops: the operators of nnrt, ONNX and TensorFlow Lite, or one of them as C.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_OPS_H
#define NNRT_TOOL_OPS_H

#include "../../formats/nnrt_onnx.h"
#include "../../formats/nnrt_tflite.h"
#include "copy.h"

/* Prints the support of one ONNX operator. */
static void cli_ops_onnx_row(const nnrt_onnx_about *a, const cli_args *args, bool first)
{
    const bool alone = *a->becomes != '\0', several = *a->with != '\0';
    if (args->json) {
        printf("%s{\"name\":\"%s\",\"sets\":[%d,%d],\"becomes\":", first ? "" : ",", a->name, (int)a->least,
               (int)a->most);
        cli_json_text(a->becomes);
        fputs(",\"with\":", stdout);
        cli_json_text(a->with);
        fputs(",\"why\":", stdout);
        cli_json_text(a->why);
        putchar('}');
    } else if (args->tsv) {
        printf("%s\t%d\t%d\t%s\t%s\t%s\n", a->name, (int)a->least, (int)a->most, a->becomes, a->with, a->why);
    } else if (a->most == 0) {
        printf("%-34s  unsupported: %s\n", a->name, a->why);
    } else {
        printf("%-26s %2d-%2d   %s%s%s%s", a->name, (int)a->least, (int)a->most, a->becomes,
               several && alone ? ", with "
               : several        ? "made of "
                                : "",
               a->with, *a->why != '\0' && alone ? ": " : "");
        printf(!alone && several ? ": %s\n" : "%s\n", a->why);
    }
}

static int cli_ops_onnx(const cli_args *args)
{
    nnrt_onnx_about about;
    fputs(args->json ? "{\"operators\":[" : "", stdout);
    for (uint32_t i = 0; nnrt_onnx_operator(i, &about); i++)
        cli_ops_onnx_row(&about, args, i == 0);
    fputs(args->json ? "]}\n" : "", stdout);
    return CLI_DONE;
}

/* Prints the support of the operators of TensorFlow Lite. */
static int cli_ops_tflite(const cli_args *args)
{
    nnrt_tflite_about a;
    fputs(args->json ? "{\"operators\":[" : "", stdout);
    for (uint32_t i = 0; nnrt_tflite_operator(i, &a); i++)
        if (args->json)
            printf("%s{\"name\":\"%s\",\"number\":%d,\"versions\":%d,\"types\":\"%s\",\"becomes\":\"%s\"}",
                   i > 0 ? "," : "", a.name, (int)a.code, (int)a.versions, a.types, a.becomes);
        else if (args->tsv)
            printf("%s\t%d\t%d\t%s\t%s\n", a.name, (int)a.code, (int)a.versions, a.types, a.becomes);
        else if (a.versions == 0)
            printf("%-28s %3d  unsupported\n", a.name, (int)a.code);
        else
            printf("%-28s %3d  1-%-2d  %-5s  %s\n", a.name, (int)a.code, (int)a.versions, a.types, a.becomes);
    fputs(args->json ? "]}\n" : "", stdout);
    return CLI_DONE;
}

/* The end of an operator's row of JSON. */
static void cli_ops_kernels(const nnrt_op *op)
{
    fputs("],\"kernels\":[", stdout);
    for (uint32_t i = 0; i < op->kernelCount; i++)
        printf("%s\"%s\"", i > 0 ? "," : "", op->kernels[i].name);
    printf("],\"inputs\":\"%s\",\"outputs\":\"%s\",\"since\":%u}", op->inputs, op->outputs, (unsigned)op->since);
}

static int cli_ops(const cli_args *args)
{
    const nnrt_op *op;
    if ((args->onnx || args->tflite) && (args->copy != NULL || args->header != NULL || (args->onnx && args->tflite)))
        return cli_usage("ops: %s lists operators of %s and cannot be combined with %s",
                         args->onnx ? "--onnx" : "--tflite", args->onnx ? "ONNX" : "TensorFlow Lite",
                         args->copy != NULL     ? "--copy"
                         : args->header != NULL ? "--header"
                                                : "--tflite");
    if (args->onnx || args->tflite)
        return args->onnx ? cli_ops_onnx(args) : cli_ops_tflite(args);
    if (args->copy == NULL && args->header != NULL)
        return cli_usage("ops: --header requires --copy NAME");
    if (args->copy == NULL && (args->type != NNRT_DATA_TYPE_UNKNOWN || args->example || args->all || args->activations != NULL))
        return cli_usage("ops: %s requires --copy NAME",
                         args->example ? "--example" : args->all ? "--all" : args->activations != NULL ? "--activation" : "--type");
    if (args->all && args->type != NNRT_DATA_TYPE_UNKNOWN)
        return cli_usage("ops: --all prints the kernels for all element types and cannot be combined with --type");
    if (args->copy != NULL && (args->json || args->tsv))
        return cli_usage("ops: --copy prints C and cannot be combined with %s", args->json ? "--json" : "--tsv");
    if (args->show && args->example)
        return cli_usage("ops: --show prints a kernel to read it and cannot be combined with --example");
    if (args->copy != NULL)
        return cli_copy_run(args);
    if (args->json)
        fputs("{\"operators\":[", stdout);
    for (uint32_t i = 0; (op = nnrt_op_at(i)) != NULL; i++) {
        if (args->json)
            printf("%s{\"name\":\"%s\",\"number\":%d,\"types\":[", i > 0 ? "," : "", op->name, (int)op->type);
        else
            printf(args->tsv ? "%s\t%d\t" : "%-24s %3d  ", op->name, (int)op->type);
        cli_put_types(nnrt_op_types(op), args->json ? "\"" : "");
        if (args->json)
            cli_ops_kernels(op);
        else if (args->tsv)
            printf("\t%u\n", (unsigned)op->since);
        else
            printf(op->since > 0 ? "  HDI %u.%u\n" : "\n", (unsigned)op->since / 10, (unsigned)op->since % 10);
    }
    if (args->json)
        fputs("]}\n", stdout);
    return CLI_DONE;
}

#endif /* NNRT_TOOL_OPS_H */
